/* writer.h - a file that is written whole or not at all, even by a program that a signal ends: what a signal finds unfinished
   goes with the program (unfinished.h). The tools create their files by these functions, not by ggnn_file.h's, which sets no
   handler, as a library must not. */
#ifndef DATASETS_WRITER_H
#define DATASETS_WRITER_H
#include "datasets/ggnn_file.h"

/* ggnn_file_create. A signal that comes meanwhile waits until the temporary file can be removed. w->error says why not. */
bool writer_begin(ggnn_file_writer* w, const char* path);

/* Removes what was not committed; all files of the program are finished then. */
void writer_end(ggnn_file_writer* w);

/* ggnn_file_scratch_open, in the same way: the file loses its name at once. */
bool writer_scratch(ggnn_file_scratch* s, const char* beside, int64_t bytes);
#endif
