#include "common/same_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* as many as Linux follows */

/* The name that writing to path would give a new file: links followed, its folder's own name before it. False where
   there could be none. */
static bool new_name(const char* path, char name[PATH_MAX])
{
    char at[PATH_MAX], folder[PATH_MAX], target[PATH_MAX];
    if ((size_t)snprintf(at, sizeof at, "%s", path) >= sizeof at) return false;
    for (int links = 0; links <= LINKS_MAX; links++) {
        char* slash = strrchr(at, '/');
        const char* last = slash ? slash + 1 : at;
        if (slash) *slash = 0;
        if (!realpath(!slash ? "." : slash == at ? "/" : at, folder)) return false;
        if (strcmp(folder, "/") == 0) folder[0] = 0;
        if (snprintf(name, PATH_MAX, "%s/%s", folder, last) >= PATH_MAX) return false;
        ssize_t length = readlink(name, target, sizeof target - 1);
        if (length < 0) return true;
        target[length] = 0;
        bool absolute = target[0] == '/';
        int needed = snprintf(at, sizeof at, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", target);
        if (needed >= (int)sizeof at) return false;
    }
    return false;
}

bool same_file(const char* a, const char* b)
{
    struct stat x, y;
    char x_name[PATH_MAX], y_name[PATH_MAX];
    if (!a || !b) return false;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a && has_b) return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    return !has_a && !has_b && new_name(a, x_name) && new_name(b, y_name) && strcmp(x_name, y_name) == 0;
}

bool same_file_as_none(const char* option, const char* path, const file_read* read, int count, error* why)
{
    for (int i = 0; i < count; i++)
        if (same_file(path, read[i].path)) return error_set(why, "%s %s: that is %s", option, path, read[i].what);
    return true;
}
