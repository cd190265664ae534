/* run_file.h - a file that ggnn-bench --json wrote, in memory, for read_json.h. */
#ifndef BENCH_RUN_FILE_H
#define BENCH_RUN_FILE_H
#include <stdbool.h>

#include "common/error.h"

typedef struct {
    char* text;
    const char* root; /* its object */
} run_file;

bool run_file_read(run_file* f, const char* path, error* why); /* to be closed after false, too; f zeroed at first */
void run_file_close(run_file* f);
#endif
