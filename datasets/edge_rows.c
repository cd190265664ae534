#include "datasets/edge_rows.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "datasets/writer.h"

enum { BUFFER_BYTES = 256 << 10, EACH = 1 << 14 }; /* EACH: items that a thread places at once */

bool edge_rows_open(edge_rows* r, const char* path, int64_t item, error* why)
{
    *r = (edge_rows){.path = path, .item = item, .fd = writer_scratch_file(path, why)};
    if (r->fd >= 0) r->buffer = memory_new(BUFFER_BYTES, "rows of edges", why);
    if (!r->buffer) edge_rows_close(r);
    return r->item > 0;
}

void edge_rows_close(edge_rows* r)
{
    if (r->item > 0 && r->fd >= 0) close(r->fd);
    memory_free(r->buffer);
    memset(r, 0, sizeof *r);
}

/* At the end of what was written before: behind it lies what is held. */
static bool put(const edge_rows* r, const void* from, int64_t bytes, error* why)
{
    int failure = writer_put(r->fd, from, bytes, r->count * r->item - r->held);
    return !failure || error_set(why, "%s: cannot write scratch beside it, rows of %lld edges so far: %s", r->path,
                                 (long long)r->count, strerror(failure));
}

static bool empty_buffer(edge_rows* r, error* why)
{
    bool good = put(r, r->buffer, r->held, why);
    r->held = 0;
    return good;
}

bool edge_rows_add(edge_rows* r, const void* items, int64_t count, error* why)
{
    int64_t bytes = count * r->item;
    if (r->held + bytes > BUFFER_BYTES && !empty_buffer(r, why)) return false;
    if (bytes > BUFFER_BYTES) {
        if (!put(r, items, bytes, why)) return false;
    } else {
        if (bytes) memcpy(r->buffer + r->held, items, (size_t)bytes);
        r->held += bytes;
    }
    r->count += count;
    return true;
}

typedef struct {
    const char* from; /* (count) items */
    char* out;        /* (num_out) */
    const int64_t* number;
    int64_t item, num_out, pieces, first, end; /* items of this pass */
} place_job;

static void place_piece(void* context, int64_t piece)
{
    const place_job* job = context;
    int64_t end = parallel_begin(job->num_out, piece + 1, job->pieces);
    for (int64_t i = parallel_begin(job->num_out, piece, job->pieces); i < end; i++) {
        int64_t n = job->number[i];
        if (n >= job->first && n < job->end)
            memcpy(job->out + i * job->item, job->from + n * job->item, (size_t)job->item);
    }
}

bool edge_rows_place(edge_rows* r, void* out, const int64_t* number, int64_t num_out, int64_t memory, error* why)
{
    int64_t bytes = r->count * r->item, step = memory / 2 / r->item;
    place_job job = {.out = out, .number = number, .item = r->item, .num_out = num_out, .pieces = parallel_pieces(num_out, EACH)};
    progress bar;
    if (!empty_buffer(r, why)) return false;
    if (bytes == 0) return true;
    void* mapped = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, r->fd, 0);
    if (mapped == MAP_FAILED)
        return error_set(why, "%s: cannot map scratch, %lld bytes: %s", r->path, (long long)bytes, strerror(errno));
    job.from = mapped;
    progress_begin(&bar, "placing rows", "edges", r->count);
    for (; job.first < r->count; job.first = job.end) {
        job.end = step < r->count - job.first ? job.first + (step > 0 ? step : 1) : r->count;
        ggnn_parallel_for(job.pieces, place_piece, &job);
        progress_update(&bar, job.end);
    }
    progress_end(&bar, r->count, false);
    munmap(mapped, (size_t)bytes);
    return true;
}
