/* parallel.h - the tools' parallel loop: OpenMP where the compiler has it on, else a plain loop. */
#ifndef COMMON_PARALLEL_H
#define COMMON_PARALLEL_H
#include <stdint.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* Runs body(context, i) for i in [0, n), in any order, and waits. Results must not depend on the order, so that they
   do not depend on the number of threads. */
static inline void parallel_each(int64_t n, void (*body)(void* context, int64_t i), void* context)
{
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1) if (n > 1)
#endif
    for (int64_t i = 0; i < n; i++) body(context, i);
}

/* For bodies that need memory of their own: threads that parallel_each uses at most, and the caller's number. */
static inline int parallel_lanes(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

static inline int parallel_lane(void)
{
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

/* Into how many pieces n things are cut, `each` of them or more in one: few things are not worth a second thread. */
static inline int64_t parallel_pieces(int64_t n, int64_t each)
{
    int64_t pieces = n / each;
    return pieces < 1 ? 1 : pieces < 256 ? pieces : 256;
}

/* Where piece i of pieces begins when n things are cut into almost equal ones; i = pieces gives n. */
static inline int64_t parallel_begin(int64_t n, int64_t i, int64_t pieces)
{
    return n / pieces * i + (n % pieces < i ? n % pieces : i);
}
#endif
