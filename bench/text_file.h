/* text_file.h - a text file that takes its name when it is whole: what the name held before stays until then. */
#ifndef BENCH_TEXT_FILE_H
#define BENCH_TEXT_FILE_H
#include <stdbool.h>
#include <stdio.h>

#include "common/error.h"

typedef struct {
    const char* path;
    char target[4096], temporary[4096];
    FILE* out;
} text_file;

bool text_file_begin(text_file* f, const char* path, error* why); /* a pipe is refused: it would wait */
bool text_file_end(text_file* f, error* why);
void text_file_drop(text_file* f); /* in place of the end: nothing was written */
#endif
