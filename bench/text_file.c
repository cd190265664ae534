#include "bench/text_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "datasets/ggnn_file.h"

bool text_file_begin(text_file* f, const char* path, error* why)
{
    char reason[640];
    f->path = path;
    if (!ggnn_file_target(f->target, path, reason)) return error_set(why, "%s", reason);
    const int fd = ggnn_file_begin(f->temporary, f->target);
    if (fd < 0) return error_set(why, "%s: %s", path, strerror(errno));
    f->out = fdopen(fd, "w");
    if (f->out) return true;
    close(fd);
    unlink(f->temporary);
    return error_set(why, "%s: %s", path, strerror(errno));
}

bool text_file_end(text_file* f, error* why)
{
    const bool put = fflush(f->out) == 0 && !ferror(f->out) && fsync(fileno(f->out)) == 0 &&
                     rename(f->temporary, f->target) == 0;
    const bool good = put && ggnn_file_sync_directory(f->target);
    if (!good) error_set(why, "%s: cannot be written: %s", f->path, strerror(errno));
    if (!put) unlink(f->temporary);
    fclose(f->out); /* with its lock */
    return good;
}

void text_file_drop(text_file* f)
{
    fclose(f->out);
    unlink(f->temporary);
}
