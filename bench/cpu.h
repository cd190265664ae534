/* cpu.h - the CPU backend's entries, one file a group. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H
#include "bench/bench.h"

bool bench_roofs(bench* b); /* roof.c */
extern const bench_roof_kind cpu_roofs[];
#endif
