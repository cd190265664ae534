/* parallel.h - what the tools' loops over pieces need beside ggnn_parallel_for, which runs them. */
#ifndef COMMON_PARALLEL_H
#define COMMON_PARALLEL_H
#include <stdint.h>

#include "ggnn.h"
#ifdef _OPENMP
#include <omp.h>
#endif

/* For bodies that need memory of their own: threads that ggnn_parallel_for uses at most, and the caller's number. */
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
