/* naive.h - each operation as its formula says it: the loops that ggnn's are measured against and whose
   answers must be the same. Compiled with -O3, as a user would; parallel over rows where that takes no
   thought. */
#ifndef BENCH_NAIVE_H
#define BENCH_NAIVE_H
#include "ggnn.h"

/* Fisher-Yates of one hop, a node and a draw at a time: the neighbours of targets as global ids, in drawn
   order. indptr (n + 1). Returns the edges. fanout <= 64. */
int64_t naive_hop(int64_t* indptr, ggnn_node* neighbor, const ggnn_graph* g, const ggnn_rng* rng, int32_t hop,
                  int64_t fanout, const ggnn_node* target, int64_t n);

/* First-occurrence numbering by a hash table of (mask + 1) {id + 1, number} pairs, zeroed by the caller. list
   has count entries and is continued; returns the new count. */
typedef struct {
    int64_t key, value;
} naive_slot;
int64_t naive_append(naive_slot* table, uint64_t mask, ggnn_node* list, int64_t count, int32_t* local,
                     const ggnn_node* id, int64_t n);

/* A store of floats alone. */
void naive_gather(float* out, const ggnn_store* from, const ggnn_node* id, int64_t n);

/* out[v,:] = sum (mean) over e = (u, v) of weight[e, head] * inp[u,:]; weight NULL: ones. */
void naive_spmm(float* out, const ggnn_block* b, const float* weight, int32_t heads, const float* inp,
                int32_t width, int mean);
void naive_sddmm(float* out, const ggnn_block* b, const float* src, const float* dst, int32_t heads,
                 int32_t width);
void naive_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads);

/* Graph attention in three passes over (edges + targets, heads) arrays: scores, softmax, weighted sum. Entry
   0 of a target's edges is the target itself. alpha (num_edges + num_dst, heads) is scratch and result. */
void naive_gat(float* out, float* alpha, const ggnn_block* b, const float* z, const float* el,
               const float* er, int32_t heads, int32_t width, float slope);
/* Its backward by scatter, serial: dz, del, der are zeroed first. */
void naive_gat_back(float* dz, float* del, float* der, const float* alpha, const ggnn_block* b,
                    const float* z, const float* el, const float* er, const float* dout, int32_t heads,
                    int32_t width, float slope);

/* C = A B, or A^T B: (m, n) of k products, by rows of B. */
void naive_gemm(float* c, const float* a, int at, const float* b, int64_t m, int64_t n, int64_t k);
#endif
