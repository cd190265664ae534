/* input.h - opens a file that a user named, to be read. */
#ifndef COMMON_INPUT_H
#define COMMON_INPUT_H
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

/* A descriptor, and how many bytes there are. -1 on failure. What is no file is refused at once: a pipe would wait for its
   writer, a device may never end. */
int input_open(const char* path, int64_t* bytes, error* why);

/* The same as a stream; NULL on failure. */
FILE* input_stream(const char* path, int64_t* bytes, error* why);
#endif
