/* run_file.h - a file that ggnn-bench wrote by --json or --csv, in memory, for read_json.h. */
#ifndef BENCH_RUN_FILE_H
#define BENCH_RUN_FILE_H
#include <stdbool.h>

#include "common/error.h"

typedef struct {
    char *text, *json; /* json: of lines */
    const char* root;  /* its object; json_next of that: the next run's, where a file of lines has several */
} run_file;

bool run_file_read(run_file* f, const char* path, error* why); /* to be closed after false, too; f zeroed at first */
bool run_file_named(const char* path); /* by its name a file of --json, or of --csv if it begins as one */
void run_file_close(run_file* f);
#endif
