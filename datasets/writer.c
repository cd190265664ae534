#include "datasets/writer.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/unfinished.h"

bool writer_begin(ggnn_file_writer* w, const char* path)
{
    unfinished_expect();
    const bool good = ggnn_file_create(w, path);
    unfinished_add(good ? w->temporary : NULL);
    return good;
}

void writer_end(ggnn_file_writer* w)
{
    ggnn_file_abort(w);
    unfinished_clear();
}

bool writer_scratch(ggnn_file_scratch* s, const char* beside, int64_t bytes)
{
    unfinished_expect();
    const bool good = ggnn_file_scratch_open(s, beside, bytes);
    unfinished_add(NULL);
    return good;
}

int writer_scratch_file(const char* beside, error* why)
{
    ggnn_file_scratch scratch;
    if (!writer_scratch(&scratch, beside, 0)) {
        error_set(why, "%s", scratch.error);
        return -1;
    }
    const int fd = dup(scratch.fd);
    if (fd < 0) error_set(why, "%s: scratch: %s", beside, strerror(errno));
    ggnn_file_scratch_close(&scratch);
    return fd;
}

int writer_put(int fd, const void* from, int64_t bytes, int64_t at)
{
    for (const char* p = from; bytes > 0;) {
        const ssize_t wrote = pwrite(fd, p, (size_t)bytes, (off_t)at);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return wrote < 0 ? errno : EIO;
        p += wrote;
        at += wrote;
        bytes -= wrote;
    }
    return 0;
}
