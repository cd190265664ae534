/* balance.h - how evenly ggnn.h divides a block's edges among threads: counted by its own cuts, nothing is computed. */
#ifndef BENCH_BALANCE_H
#define BENCH_BALANCE_H
#include <stdint.h>

enum { BALANCE_THREADS_MAX = 256 };

/* Of ggnn_spmm, ggnn_sddmm, ggnn_spmm_edges, ggnn_gat, its backward over a transpose, ggnn_edge_softmax, its backward. */
typedef enum {
    BALANCE_SUM,
    BALANCE_MAX,
    BALANCE_DOT,
    BALANCE_MESSAGES,
    BALANCE_GAT,
    BALANCE_GAT_BACK,
    BALANCE_SOFTMAX,
    BALANCE_SOFTMAX_BACK
} balance_of;

/* What the busiest of `threads` threads does, beside the mean: 1 is even. Work is edges and lists; each thread takes the
   pieces of its part, then those of others', and all wait where the operation lets them. indptr (targets + 1), indices below
   sources. 0: no memory. */
double balance_counted(balance_of op, const int64_t* indptr, const int32_t* indices, int64_t targets, int64_t sources, int32_t width,
                       int32_t threads);
#endif
