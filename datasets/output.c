#include "datasets/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/same_file.h"
#include "common/unfinished.h"
#include "datasets/ggnn_file.h"
#include "datasets/npy.h"

bool output_fail(output* o, const char* what)
{
    return error_set(o->why, "%s: %s: %s", o->file, what, strerror(errno));
}

static bool is_empty(const char* folder)
{
    bool empty = true;
    DIR* list = opendir(folder);
    for (struct dirent* entry; list && (entry = readdir(list));)
        empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
    if (list) closedir(list);
    return empty;
}

/* A folder's target: one that is there must be empty; one that is not may be named with a slash at its end. */
static bool find_folder(output* o)
{
    struct stat status;
    if (realpath(o->path, o->target)) {
        if (stat(o->target, &status) != 0 || !S_ISDIR(status.st_mode))
            return error_set(o->why, "%s: cannot put the output there: it is no folder", o->path);
        if (same_file(o->target, ".")) /* whoever stands in it would stay in the old one */
            return error_set(o->why, "%s: cannot put the output there: it is the current folder", o->path);
        return is_empty(o->target) ||
               error_set(o->why, "%s: cannot put the output there: a folder that is not empty", o->path);
    }
    if (errno != ENOENT || !o->path[0]) return output_fail(o, "cannot create");
    snprintf(o->target, sizeof o->target, "%s", o->path);
    for (size_t end = strlen(o->target); end > 1 && o->target[end - 1] == '/'; end--) o->target[end - 1] = 0;
    if (lstat(o->target, &status) == 0)
        return error_set(o->why, "%s: cannot put the output there: it links to nothing", o->path);
    return true;
}

/* Opens what is not to be replaced: a pipe, a device of characters, /dev/stdout. What standard output has open already
   is written on where standard output stands. reason: why no file can be put there. */
static bool open_stream(output* o, const char* reason)
{
    struct stat status, standard;
    if (stat(o->path, &status) != 0 || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
        return error_set(o->why, "%s", reason);
    bool same = fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == status.st_dev &&
                standard.st_ino == status.st_ino;
    o->kind = OUTPUT_STREAM;
    o->fd = same ? dup(STDOUT_FILENO) : open(o->path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    if (o->fd < 0 && S_ISREG(status.st_mode)) return error_set(o->why, "%s", reason);
    return o->fd >= 0 || output_fail(o, "cannot open");
}

/* One that a killed program left stays: of a folder nobody knows whose its files are. */
static bool make_folder(output* o)
{
    bool made = false;
    errno = strlen(o->target) > sizeof o->target - 64 ? ENAMETOOLONG : EEXIST;
    for (int number = 0; number < 1000 && !made && errno == EEXIST; number++) {
        ggnn_file_temporary(o->temporary, o->target, number);
        made = mkdir(o->temporary, 0777) == 0;
    }
    return made;
}

/* Makes a new file or folder beside the target. */
static bool make_temporary(output* o)
{
    unfinished_expect();
    const bool made = o->kind == OUTPUT_FOLDER ? make_folder(o) : (o->fd = ggnn_file_begin(o->temporary, o->target)) >= 0;
    const int failure = errno;
    unfinished_add(made ? o->temporary : NULL);
    errno = failure;
    return made || output_fail(o, "cannot create");
}

bool output_open(output* o, const char* path, output_kind kind, error* why)
{
    char reason[640];
    memset(o, 0, sizeof *o);
    o->path = path;
    o->kind = kind == OUTPUT_FOLDER ? OUTPUT_FOLDER : OUTPUT_FILE;
    o->fd = -1;
    o->why = why;
    snprintf(o->file, sizeof o->file, "%s", path);
    if (kind == OUTPUT_FOLDER) return find_folder(o) && make_temporary(o);
    if (ggnn_file_target(o->target, path, reason)) return make_temporary(o);
    return kind == OUTPUT_STREAM ? open_stream(o, reason) : error_set(why, "%s", reason);
}

bool output_begin(output* o, const char* name, int64_t rows)
{
    if (name) {
        char made[4400];
        snprintf(made, sizeof made, "%s/%s", o->temporary, name);
        snprintf(o->file, sizeof o->file, "%s/%s", o->path, name);
        o->written[o->num_written++] = name;
        unfinished_add(made);
        o->stream = fopen(made, "wb");
    } else {
        const int fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
        o->stream = fd < 0 ? NULL : fdopen(fd, "wb");
        if (!o->stream && fd >= 0) close(fd);
    }
    if (!o->stream) return output_fail(o, "cannot create");
    progress_begin(&o->bar, name ? name : o->path, "rows", rows);
    return true;
}

bool output_end(output* o)
{
    bool good = fflush(o->stream) == 0 && !ferror(o->stream);
    if (good && o->kind != OUTPUT_STREAM) good = fsync(fileno(o->stream)) == 0;
    if (!good) output_fail(o, "cannot write");
    if (fclose(o->stream) != 0 && good) good = output_fail(o, "cannot write");
    o->stream = NULL;
    progress_end(&o->bar, o->bar.total, false);
    return good;
}

/* A folder's own entries are on the disk, too, before it has its name. */
static bool sync_folder(output* o)
{
    char inside[sizeof o->temporary + 2];
    if (o->kind != OUTPUT_FOLDER) return true;
    snprintf(inside, sizeof inside, "%s/.", o->temporary);
    return ggnn_file_sync_directory(inside) || output_fail(o, "cannot write");
}

/* rename replaces a file, and a folder that is empty. */
static bool put_in_place(output* o)
{
    if (!sync_folder(o)) return false;
    if (rename(o->temporary, o->target) == 0) return true;
    return error_set(o->why, "%s: cannot put the output there: %s", o->path,
                     errno == ENOTEMPTY || errno == EEXIST ? "a folder that is not empty" : strerror(errno));
}

bool output_finish(output* o, bool good)
{
    if (o->stream) fclose(o->stream);
    if (o->kind == OUTPUT_STREAM) {
        if (o->fd >= 0) close(o->fd);
        return good;
    }
    const bool put = good && put_in_place(o);
    if (o->fd >= 0) close(o->fd); /* and its lock */
    for (int i = 0; i < o->num_written && !put; i++) {
        snprintf(o->file, sizeof o->file, "%s/%s", o->temporary, o->written[i]);
        unlink(o->file);
    }
    if (!put && (o->kind == OUTPUT_FOLDER ? rmdir(o->temporary) : unlink(o->temporary)) != 0)
        error_set(o->why, "%s: cannot be removed: %s", o->temporary, strerror(errno));
    unfinished_clear();
    return put && (ggnn_file_sync_directory(o->target) || error_set(o->why, "%s: cannot sync its directory: %s", o->path, strerror(errno)));
}

/* ==== text and .npy ============================================================================================= */

void output_float(FILE* out, float value)
{
    char text[40];
    int digits = 5;
    do snprintf(text, sizeof text, "%.*g", digits, (double)value);
    while (digits++ < 9 && strtof(text, NULL) != value);
    fputs(text, out);
}

bool output_npy(output* o, const char* name, const char* type, int32_t num_dims, int64_t rows, int64_t columns)
{
    char header[NPY_WRITTEN_MAX];
    const int64_t shape[2] = {rows, columns};
    const size_t bytes = npy_write_header(header, type, num_dims, shape);
    if (!output_begin(o, name, rows)) return false;
    fwrite(header, 1, bytes, o->stream);
    return true;
}
