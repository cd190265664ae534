/* same_file.h - do two names mean one file, so that writing one would destroy the other? */
#ifndef COMMON_SAME_FILE_H
#define COMMON_SAME_FILE_H
#include <stdbool.h>

/* Links of both kinds are seen through. False where either is NULL or does not exist. */
bool same_file(const char* a, const char* b);
#endif
