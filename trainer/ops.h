/* ops.h - what a network is made of: matrices, the operations that the CPU and CUDA backends differ in, layers, and
   the net that holds them together. net.h is what the rest of the trainer sees.

   Shapes in comments: D targets and S sources of a layer's block, D <= S, targets first; in, out its widths. */
#ifndef TRAINER_OPS_H
#define TRAINER_OPS_H
#include "trainer/net.h"

/* A matrix of rows x cols: v, or else rows of a store by global id. rows.n NULL: rows.max of them. */
typedef struct {
    float*            v;
    int64_t           ld;
    int32_t           cols;
    ggnn_count        rows;
    const ggnn_store* store;
    const ggnn_node*  id; /* of the rows of the store */
} mat;

static inline int64_t mat_rows(mat a) { return a.rows.n ? *a.rows.n : a.rows.max; }
static inline mat mat_columns(mat a, int32_t first, int32_t cols) /* a[:, first : first + cols] */
{
    a.v += first;
    a.cols = cols;
    return a;
}
static inline mat mat_head(mat a, ggnn_count rows) /* the first rows: targets of sources */
{
    a.rows = rows;
    return a;
}

/* What stands between a layer's linear part and the next layer's input, in this order, fused into one pass:
   + bias, + residual, layer norm, activation, dropout. */
typedef enum { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_ELU } activation;
typedef struct {
    const float *bias, *gamma, *beta; /* (cols) or NULL; gamma: layer norm */
    float *normed, *inv_std;          /* (D, cols), (D): the norm's, saved for backward */
    activation act;
    uint32_t threshold;               /* of dropout: 0 none */
    int32_t layer;                    /* whose input it is: keys dropout */
} epilogue;

/* All that the CPU and CUDA backends differ in. out is overwritten unless beta is 1. */
typedef struct {
    void (*gemm)(net*, mat c, mat a, bool at, mat b, bool bt, float beta);       /* c = beta c + op(a) op(b) */
    void (*rows)(net*, mat out, mat x);                                          /* out = x, gathered or copied */
    void (*aggregate)(net*, mat out, int32_t* arg, ggnn_reduce, const ggnn_block*, const ggnn_scale*, mat x);
    void (*aggregate_arg_back)(net*, mat dx, const ggnn_block* t, const ggnn_block*, mat dout, const int32_t* arg);
    void (*add_rows)(net*, mat out, mat a);                                      /* the first rows of out += a */
    void (*finish)(net*, mat h, const epilogue*);                                /* in place */
    void (*finish_back)(net*, mat dh, mat h, const epilogue*, float* dbias, float* dgamma, float* dbeta);
    void (*drop)(net*, mat x, uint32_t threshold, int32_t layer);                /* in place: the features */
    void (*loss)(net*, mat dlogits, mat logits, const net_labels*);              /* to net.loss, net.known */
    void (*update)(net*, float learning_rate);
} ops;
#endif
