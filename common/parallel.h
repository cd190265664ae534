/* parallel.h - the tools' parallel loop: OpenMP where the compiler has it on, else a plain loop. */
#ifndef COMMON_PARALLEL_H
#define COMMON_PARALLEL_H
#include <stdint.h>

/* Runs body(context, i) for i in [0, n), in any order, and waits. Results must not depend on the order, so that they
   do not depend on the number of threads. */
static inline void parallel_each(int64_t n, void (*body)(void* context, int64_t i), void* context)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
    for (int64_t i = 0; i < n; i++) body(context, i);
}

/* Where piece i of pieces begins when n things are cut into almost equal ones; i = pieces gives n. */
static inline int64_t parallel_begin(int64_t n, int64_t i, int64_t pieces)
{
    return n / pieces * i + (n % pieces < i ? n % pieces : i);
}
#endif
