/* comm.c - what does not depend on the engine: words, failures, costs, and the calls that are made of an exchange. */
#include "trainer/ranks/comm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "trainer/device/pieces.h"
#include "trainer/device/ops.h"
#include "trainer/ranks/comm_engine.h"

void comm_open_alone(comm* c, const volatile sig_atomic_t* stop)
{
    memset(c, 0, sizeof *c);
    c->ranks = c->locals = c->machines = 1;
    c->one_process = true;
    c->name = "rank 0";
    c->stop = stop;
}

bool comm_branch(comm* to, comm* c, error* why)
{
    memset(to, 0, sizeof *to);
    if (!comm_barrier(c, why)) return false; /* of a rank that failed before, all hear */
    if (c->engine) return c->engine->branch(to, c, why);
    comm_open_alone(to, c->stop);
    return true;
}

void comm_close_branch(comm* branch)
{
    if (branch->engine) branch->engine->close_branch(branch);
    memset(branch, 0, sizeof *branch);
}

/* ==== words ===================================================================================================== */

/* The words of all ranks, NULL after a failure. Those of one that is alone are its own. */
static const comm_word* meet(comm* c, comm_word* mine, const comm_transfer* t, const error* failed, error* why)
{
    double start = progress_seconds();
    mine->state = failed ? COMM_FAILED : __atomic_load_n(c->stop, __ATOMIC_RELAXED) ? COMM_STOPPED : COMM_FINE;
    const comm_word* word = c->engine ? c->engine->meet(c, mine, t, failed, why) : mine;
    c->cost.calls++;
    c->cost.waited += progress_seconds() - start;
    if (!word) return NULL;
    for (int32_t r = 0; r < c->ranks; r++)
        if (word[r].state == COMM_FAILED) {
            if (c->engine) c->engine->reason(c, r, &c->failed);
            else c->failed = *failed;
            error_set(why, "%s", c->failed.text);
            return NULL;
        }
    for (int32_t r = 0; r < c->ranks; r++) c->stopped = c->stopped || word[r].state == COMM_STOPPED;
    return word;
}

void comm_fail(comm* c, const error* why)
{
    error named = {""}, seen = {""};
    comm_word mine = {0};
    if (c->failed.text[0]) return;
    if (why->text[0]) error_set(&named, "%s: %s", c->name, why->text);
    else error_set(&named, "%s ended without a message", c->name);
    meet(c, &mine, NULL, &named, &seen);
    if (!c->failed.text[0]) c->failed = named;
}

/* A rank that hears an alarm meets the one that raised it, which is in comm_fail. */
bool comm_broken(comm* c, const error* mine, error* why)
{
    comm_word word = {0};
    if (!mine->text[0]) {
        meet(c, &word, NULL, NULL, why);
        return false;
    }
    c->engine->raise_alarm(c);
    return error_set(why, "%s", mine->text);
}

static bool move(comm* c, const comm_transfer* t, bool by_nccl, error* why)
{
    error mine = {""};
    if (!by_nccl) return c->engine->move(c, t, why);
    return comm_nccl_here->move(c, t, &mine) || comm_broken(c, &mine, why);
}

/* One call: words, where *value becomes the sum of all, then pieces. NULL: none of it. */
static bool call(comm* c, const comm_transfer* t, double* value, error* why)
{
    if (c->failed.text[0]) return error_set(why, "%s", c->failed.text);
    double start = progress_seconds();
    comm_word mine = {.moves = t != NULL, .value = value ? *value : 0};
    const bool by_nccl = t && t->device && c->nccl;
    if (t && t->device) device_settle(t->device);
    const comm_word* word = meet(c, &mine, by_nccl ? NULL : t, NULL, why);
    bool good = word != NULL;
    for (int32_t r = 0; good && r < c->ranks; r++)
        if (word[r].moves != (t != NULL)) good = error_set(why, "rank %d and rank %d make different calls", (int)c->rank, (int)r);
    if (good && value) {
        *value = word[0].value;
        for (int32_t r = 1; r < c->ranks; r++) *value += word[r].value;
    }
    for (int32_t r = 0; good && t && r < c->ranks; r++)
        if (r != c->rank) c->cost.bytes += (int64_t)comm_bytes(t, t->from_piece[r]);
    if (good && t && c->engine) good = move(c, t, by_nccl, why);
    if (good && t && t->device && t->device->failed.text[0]) good = error_set(why, "%s", t->device->failed.text);
    c->cost.seconds += progress_seconds() - start;
    return good;
}

/* This rank's own piece, which no engine moves. */
static void keep(const comm* c, const comm_transfer* t)
{
    char* to = t->to + comm_offset(t, t->to_piece[c->rank]);
    const char* from = t->from + comm_offset(t, t->from_piece[c->rank]);
    size_t bytes = comm_bytes(t, t->from_piece[c->rank]);
    if (to == from || bytes == 0) return;
    if (t->device) device_fetch(t->device, to, from, bytes);
    else memcpy(to, from, bytes);
}

/* ==== calls ===================================================================================================== */

bool comm_barrier(comm* c, error* why) { return call(c, NULL, NULL, why); }

static bool exchange_pieces(comm* c, const comm_transfer* t, double* value, error* why)
{
    if (!c->failed.text[0]) keep(c, t);
    return call(c, t, value, why);
}

bool comm_exchange(comm* c, device* d, void* to, const comm_piece* to_piece, const void* from, const comm_piece* from_piece,
                   size_t unit, error* why)
{
    return exchange_pieces(c, &(comm_transfer){d, to, from, to_piece, from_piece, unit, false}, NULL, why);
}

int64_t comm_pieces(comm_piece* piece, const int64_t* count, int32_t ranks)
{
    int64_t sum = 0;
    for (int32_t r = 0; r < ranks; r++) {
        piece[r] = (comm_piece){sum, count[r]};
        sum += count[r];
    }
    return sum;
}

void comm_pieces_between(comm_piece* piece, const int64_t* bound, int32_t ranks)
{
    for (int32_t r = 0; r < ranks; r++) piece[r] = (comm_piece){bound[r], bound[r + 1] - bound[r]};
}

/* An exchange within one array: every rank gets this one's piece, where it is in `all`. */
bool comm_all_gather(comm* c, device* d, void* all, const int64_t* bound, size_t unit, error* why)
{
    comm_piece to[COMM_RANKS_MAX], from[COMM_RANKS_MAX];
    bool equal = true;
    comm_pieces_between(to, bound, c->ranks);
    for (int32_t r = 0; r < c->ranks; r++) equal = equal && to[r].count == to[0].count;
    for (int32_t r = 0; r < c->ranks; r++) from[r] = to[c->rank];
    return exchange_pieces(c, &(comm_transfer){d, all, all, to, from, unit, equal}, NULL, why);
}

bool comm_gather_each(comm* c, void* all, size_t unit, error* why)
{
    int64_t bound[COMM_RANKS_MAX + 1];
    for (int32_t r = 0; r <= c->ranks; r++) bound[r] = r;
    return comm_all_gather(c, NULL, all, bound, unit, why);
}

size_t comm_reduce_bytes(const comm* c, int64_t n)
{
    if (c->ranks == 1) return 0;
    return memory_product((size_t)((n + c->ranks - 1) / c->ranks), (size_t)c->ranks, sizeof(float));
}

static bool add_slices(comm* c, device* d, float* v, const int64_t* bound, double* value, float* room, error* why)
{
    comm_piece to[COMM_RANKS_MAX], from[COMM_RANKS_MAX];
    const int64_t mine = bound[c->rank + 1] - bound[c->rank];
    comm_pieces_between(from, bound, c->ranks);
    for (int32_t r = 0; r < c->ranks; r++) to[r] = (comm_piece){r * mine, mine};
    if (!exchange_pieces(c, &(comm_transfer){d, (char*)room, (const char*)v, to, from, sizeof *v, false}, value, why)) return false;
    if (d) d->ops->rows->sum_pieces(d, v + bound[c->rank], room, c->ranks, mine);
    else pieces_sum(v + bound[c->rank], room, c->ranks, mine, 0, mine);
    return true;
}

bool comm_reduce(comm* c, device* d, float* v, int64_t n, double* value, void* room, error* why)
{
    int64_t bound[COMM_RANKS_MAX + 1];
    double sum = 0;
    if (c->ranks == 1) return call(c, NULL, NULL, why);
    for (int32_t r = 0; r <= c->ranks; r++) bound[r] = parallel_begin(n, r, c->ranks);
    if (value) sum = *(const double*)(d ? device_read(d, &sum, value, sizeof sum) : value);
    if (!add_slices(c, d, v, bound, &sum, room, why)) return false;
    if (value && d) device_upload(d, value, &sum, sizeof sum);
    else if (value) *value = sum;
    return comm_all_gather(c, d, v, bound, sizeof *v, why);
}

/* ==== shared memory ============================================================================================= */

bool comm_share(comm* c, comm_shared* s, size_t bytes, const char* what, error* why)
{
    const size_t locals = (size_t)c->locals;
    memset(s, 0, sizeof *s);
    if (c->failed.text[0]) return error_set(why, "%s", c->failed.text);
    s->part = memory_new(locals * sizeof *s->part, what, why);
    s->bytes = s->part ? memory_new(locals * sizeof *s->bytes, what, why) : NULL;
    bool good = s->bytes != NULL;
    if (good) s->bytes[c->local] = bytes;
    if (good && c->engine) good = c->engine->share(c, s, what, why);
    if (good && !c->engine) good = (s->part[0] = memory_new(bytes, what, why)) != NULL;
    if (!good) comm_unshare(c, s);
    return good;
}

void comm_unshare(comm* c, comm_shared* s)
{
    if (c->engine && s->own) c->engine->give_back(c, s);
    if (!c->engine && s->part) memory_free(s->part[0]);
    memory_free(s->part);
    memory_free(s->bytes);
    memset(s, 0, sizeof *s);
}

void* comm_map_file(int64_t process, int64_t file, size_t bytes, const char* what, error* why)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)process, (long long)file);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    void* memory = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error_set(why, "another rank's file of %s, %s: %s", what, path, strerror(errno));
    if (fd >= 0) close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ==== the same everywhere ======================================================================================= */

typedef struct {
    char name[128], text[COMM_TEXT];
} statement;

/* To the end of the line, where what follows is told alone. */
static char* past_told(char* at) { return *at == '\t' ? at + strcspn(at, "\n") : at; }

/* The first line in which two texts differ: *a and *b are moved to it. */
static bool differing_line(char** a, char** b)
{
    for (char *p = past_told(*a), *q = past_told(*b); *p == *q; p = past_told(p + 1), q = past_told(q + 1)) {
        if (!*p) return false;
        if (*p == '\n') *a = p + 1, *b = q + 1;
    }
    return true;
}

static const char* joined(char* line)
{
    char* at = line + strcspn(line, "\t\n");
    if (*at == '\t') *at = ' ';
    return line;
}

static bool compare(comm* c, statement* said)
{
    for (int32_t r = 1; r < c->ranks; r++) {
        char *a = said[0].text, *b = said[r].text;
        if (!differing_line(&a, &b)) continue;
        return error_set(&c->failed, "%s: %.*s; %s: %.*s", said[r].name, (int)strcspn(b, "\n"), joined(b), said[0].name,
                         (int)strcspn(a, "\n"), joined(a));
    }
    return true;
}

bool comm_same(comm* c, const char* text, error* why)
{
    statement* said = memory_new((size_t)c->ranks * sizeof *said, "comparing ranks", why);
    if (!said) return false;
    strncat(said[c->rank].name, c->name, sizeof said->name - 1);
    strncat(said[c->rank].text, text, sizeof said->text - 1);
    bool good = comm_gather_each(c, said, sizeof *said, why);
    if (good && !compare(c, said)) good = error_set(why, "%s", c->failed.text);
    memory_free(said);
    return good;
}
