/* writer.h - a file that is written whole or not at all, even by a program that a signal ends: what a signal finds unfinished
   goes with the program (unfinished.h). The tools create their files by these functions, not by ggnn_file.h's, which sets no
   handler, as a library must not. */
#ifndef DATASETS_WRITER_H
#define DATASETS_WRITER_H
#include "common/error.h"
#include "datasets/ggnn_file.h"

/* ggnn_file_create. A signal that comes meanwhile waits until the temporary file can be removed. w->error says why not. */
bool writer_begin(ggnn_file_writer* w, const char* path);

/* Removes what was not committed; all files of the program are finished then. */
void writer_end(ggnn_file_writer* w);

/* ggnn_file_scratch_open, in the same way: the file loses its name at once. */
bool writer_scratch(ggnn_file_scratch* s, const char* beside, int64_t bytes);

/* The same for a file that is written piece by piece: its descriptor, -1 on failure. */
int writer_scratch_file(const char* beside, error* why);

/* Writes bytes at `at`, all of them. Returns an errno, 0 on success. */
int writer_put(int fd, const void* from, int64_t bytes, int64_t at);
#endif
