/* same_file.h - do two names mean one file, so that writing one would destroy the other? */
#ifndef COMMON_SAME_FILE_H
#define COMMON_SAME_FILE_H
#include <stdbool.h>

#include "common/error.h"

/* Links of both kinds are seen through. Names of files that do not exist yet are the same where their folders are and
   the names in these: "new" and "./new", or a link that points to "new". False where either is NULL. */
bool same_file(const char* a, const char* b);

/* Is the file that `option` has written none of these, which are read? False, with why, where it is. */
typedef struct {
    const char *path, *what; /* NULL: not given; "the data" */
} file_read;
bool same_file_as_none(const char* option, const char* path, const file_read* read, int count, error* why);
#endif
