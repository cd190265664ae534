/* convert.h - graphs in other people's formats become .ggnn files. */
#ifndef DATASETS_CONVERT_H
#define DATASETS_CONVERT_H
#include <stdbool.h>

#include "common/error.h"
#include "datasets/convert_options.h"

/* Reads the graph at in (a file or a folder) and writes out, whole or not at all. Edges that do not fit
   how->memory go to a scratch file beside out, which has no name. */
bool convert(const char* in, const char* out, const convert_options* how, error* why);

/* ggnn-data convert IN OUT [options]: argv[0] is "convert". Returns the tool's exit code. */
int convert_main(int argc, char** argv);

/* What a path holds, by names inside and first bytes. */
bool convert_detect(convert_format* format, const char* in, error* why);
#endif
