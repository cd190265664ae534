/* balance.h - how evenly ggnn_spmm divides a block's lists among threads: counted by its own cuts, nothing is computed. */
#ifndef BENCH_BALANCE_H
#define BENCH_BALANCE_H
#include <stdint.h>

enum { BALANCE_THREADS_MAX = 256 };

/* What the busiest of `threads` threads does, beside the mean: 1 is even. Work is edges and lists; each thread takes the next
   piece when it is free, and all wait where ggnn_spmm lets them. indptr (targets + 1), indices below sources. 0: no memory. */
double balance_of_spmm(const int64_t* indptr, const int32_t* indices, int64_t targets, int64_t sources, int32_t width, int32_t threads);
#endif
