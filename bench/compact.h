/* compact.h - ggnn-bench compact A.json ... --csv FILE: the runs of files of --json or --csv as lines, in one file. */
#ifndef BENCH_COMPACT_H
#define BENCH_COMPACT_H
#include "bench/bench.h"

bool compact_write(bench* b, const char* const* path, int paths);
#endif
