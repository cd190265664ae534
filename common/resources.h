/* resources.h - what the machine has to spare. */
#ifndef COMMON_RESOURCES_H
#define COMMON_RESOURCES_H
#include <stdint.h>

/* Bytes of memory that this process may take without pushing anything out but file pages: what the system has
   available, no more than its control groups (versions 1 and 2) and its limits (ulimit -v, -d) leave. root: in front
   of /proc and /sys, "" but in tests. */
int64_t resources_memory(const char* root);

/* asked, or where that is 0 three quarters of resources_memory: the rest is for the pages of the files. */
int64_t resources_memory_or(int64_t asked);

/* Free bytes of the disk that path's folder is on; -1: not known. */
int64_t resources_disk(const char* path);

/* "1.62 GB", "512 B", into text, which is returned. */
const char* resources_bytes(char text[24], int64_t bytes);

/* Bytes of the first processor's caches by level, 1 to 3, by Linux: index0 .. hold level, kind and size ("32K"). 0: it does
   not say; of level 2 then 1 MiB. */
void resources_caches(int64_t cache[4]);
#endif
