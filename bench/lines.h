/* lines.h - a run as lines: what ggnn-bench --csv writes and bench/results keeps. All of --json but samples and rates, in
   tables of comma-separated values with a line of names above, a line an entry; bench/README.md describes the form. */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H
#include <stdio.h>

#include "common/error.h"

/* Writes a run, an object as ggnn-bench --json has it. name: which of a file's runs; NULL: the only one. before: the run above
   in the file, whose heads are not said again; NULL: none. */
void lines_write(FILE* out, const char* run, const char* name, const char* before);

bool lines_begin(const char* text); /* whether a text begins as such a file does */

/* The runs of a file as JSON: an array of objects as --json has them, without samples; what a line says has its number as
   "line". Cuts `text` to pieces. The caller frees by free(); NULL: why names file, line and value. */
char* lines_read(const char* path, char* text, error* why);
#endif
