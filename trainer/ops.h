/* ops.h - what a network is made of: matrices, the operations that the CPU and CUDA backends differ in, layers,
   models, and the net that holds them together. The rest of the trainer sees net.h only.

   Shapes in comments: D targets and S sources of a layer's block (D <= S, targets first), in and out the layer's
   widths, K heads. Names: dx is the gradient of x, as wide and long. */
#ifndef TRAINER_OPS_H
#define TRAINER_OPS_H
#include <stddef.h>

#include "trainer/device.h"
#include "trainer/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- matrices ------------------------------------------------------------------------------------------------- */

typedef struct sparse_features sparse_features; /* the backend's */

/* A row-major matrix: v, or else rows of a store by global id, or entries only. Values only: copying it copies no
   element. */
typedef struct {
    float*            v;
    int64_t           ld;   /* elements from row to row, >= cols */
    int32_t           cols;
    ggnn_count        rows; /* n NULL: max of them */
    const ggnn_store* store;
    const ggnn_node*  id;   /* row i is row id[i] of the store */
    const sparse_features* sparse; /* v holds its entries alone: gemm's first factor and nothing else, beta = 0 */
} mat;

/* On the CPU: elsewhere the number of rows is the device's, rows.max bounds it, and no row below that is NaN. */
static inline int64_t mat_rows(mat a) { return a.rows.n ? *a.rows.n : a.rows.max; }
static inline mat mat_head(mat a, ggnn_count rows) /* the first rows: a[: rows, :] */
{
    a.rows = rows;
    return a;
}
static inline mat mat_part(mat a, int64_t first, ggnn_count rows) /* a[first : first + rows, :] */
{
    a.v += first * a.ld;
    a.rows = rows;
    return a;
}
static inline mat mat_columns(mat a, int32_t first, int32_t cols) /* a[:, first : first + cols] */
{
    a.v += first;
    a.cols = cols;
    return a;
}

typedef struct { /* a parameter and its gradient, of one shape; v NULL: the layer has none */
    mat v, d;
} param;

/* ---- what follows a layer's linear part ----------------------------------------------------------------------- */

/* h = dropout(activation(norm(h + bias))), in one pass and in place. The residual is added before. */
typedef enum { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_ELU } activation;
typedef struct {
    param      bias, gamma, beta;      /* (1, cols) each; gamma and beta: layer norm */
    mat        normed;                 /* (D, cols) saved for backward: (h + bias - mean) / deviation; */
    float*     inv_deviation;          /* (D)       and 1 / deviation */
    activation act;
    uint32_t   threshold;              /* of dropout; 0: none. Its field is keyed by the row's node, the column */
    int32_t    layer;                  /* and the layer that reads h */
} epilogue;

typedef struct { /* GAT's, K heads */
    int32_t        heads;
    float          *el, *er, *lse;   /* (S, K), (D, K), (D, K) scores and softmax statistics, saved for backward */
    float          *del, *der;       /* (S, K), (D, K) */
    ggnn_attention how;
    void*          workspace;        /* of attend_back */
} attention;

/* ---- mini-batches --------------------------------------------------------------------------------------------- */

/* What makes one batch at a time: seeds [from, from + seeds) of a pass, whose ids are on the device. */
typedef struct sampler {
    ggnn_batch  batch;        /* to be handed out; on a device `shape` with lower bounds, the loader's to set */
    ggnn_batch  shape;        /* as it was laid out */
    ggnn_status status;       /* of the last batch, */
    int64_t     edges, bytes; /* what it read, */
    batch_sizes sizes;        /* and on a device how large it became */
} sampler;

/* ---- operations: all that the backends differ in -------------------------------------------------------------- */

/* Those of a net return nothing: what fails is left in net->device->failed. Outputs come first and are overwritten,
   but for gemm's where beta = 1 and those of `add`. On the CPU each measures its time and bytes into net->profile. */
typedef struct ops {
    void (*close)(device*);

    /* memory: device.h */
    void* (*take)(device*, size_t bytes, const char* what, error* why);
    void (*give_back)(device*, void* memory);
    void (*upload)(device*, void* to, const void* from, size_t bytes);
    void (*download)(device*, void* to, const void* from, size_t bytes);

    /* mini-batches, one at a time: the loader's slots */
    sampler* (*sampler_open)(device*, const ggnn_graph*, const ggnn_sampling*, int64_t batch, const batch_sizes* room,
                             const sampler* beside, error* why); /* closed after this one, or NULL */
    void (*sampler_close)(sampler*);                                        /* NULL is fine */
    void (*sample)(sampler*, const loader_pass*, const ggnn_node* ids, int64_t from, int64_t seeds, ggnn_rng rng);
                                                        /* after all steps that were asked for until now */
    ggnn_status (*sampler_wait)(sampler*);              /* on a device: for the last sample, whose sizes it sets */

    /* a net's set-up */
    void (*plan)(net*);                                 /* takes transpose and workspaces, after the layers' plans */
    void (*forget)(net*);                               /* what it keeps of steps, whose memory goes */
    size_t (*attend_workspace_bytes)(int64_t dst, int64_t edges, int32_t heads);
    ggnn_status (*whole)(net*, ggnn_block* b, int64_t counts[3], int32_t* copy);    /* ggnn_block_whole */
    void (*gcn_norm)(net*, float* inv_sqrt);
    void (*range)(device*, ggnn_node* out, int64_t first, int64_t n);               /* out[i] = first + i */

    /* a step: what is new in it goes to the device by `begin` alone, from n->step and n->optimiser, so that all else
       may be done again as it was captured */
    void (*begin)(net*);
    void (*step)(net*, const ggnn_batch* batch, const net_labels* labels);          /* net_run */
    void (*set_losses)(net*, const net_losses* losses);
    net_losses (*losses)(net*, bool wait);                                          /* net_losses_of */

    void (*gemm)(net*, mat c, mat a, bool at, mat b, bool bt, float beta);  /* c = beta c + op(a) op(b) */
    void (*rows)(net*, mat out, mat x);                                     /* out = x, from a store or not */
    void (*drop)(net*, mat x, uint32_t threshold, int32_t l);               /* dropout in place */
    void (*add)(net*, mat out, mat a);                                      /* out[: rows of a, :] += a */
    void (*finish)(net*, mat h, const epilogue* e);
    void (*finish_back)(net*, mat dh, mat h, const epilogue* e);            /* dh in place; and of e's parameters */
    void (*transpose)(net*, ggnn_block* t, const ggnn_block* b);
    void (*index_by_id)(net*, int32_t* indices, const ggnn_block* b, int32_t first);   /* first + b->neighbor */
    void (*scale_mean)(net*, float* inv, const ggnn_block* b, bool with_self);         /* ggnn_scale_mean */
    void (*scale_gcn)(net*, float* src, float* dst, float* self, const ggnn_block* b); /* ggnn_scale_gcn */
    void (*aggregate)(net*, mat out, int32_t* arg, ggnn_reduce how, const ggnn_block* b, const ggnn_scale* s, mat x);
    void (*aggregate_arg_back)(net*, mat dx, const ggnn_block* t, const ggnn_block* b, mat dout, const int32_t* arg);
    void (*scores)(net*, float* e, mat z, mat a);                           /* e[u,k] = z[u, head k] . a[k,:] */
    void (*scores_back)(net*, mat dz, mat da, const float* de, mat z, mat a); /* adds to dz */
    void (*attend)(net*, mat out, const ggnn_block* b, mat z, const attention* a);
    void (*attend_back)(net*, mat dz, const ggnn_block* t, const ggnn_block* b, mat z, mat out, mat dout,
                        const attention* a);
    void (*mean_heads)(net*, mat out, mat a, int32_t heads);                /* (D, C) of (D, K C) */
    void (*mean_heads_back)(net*, mat da, mat dout, int32_t heads);
    void (*loss)(net*, mat dlogits, mat logits, const net_labels* labels);  /* and adds to the losses */
    void (*update)(net*);                                                   /* by n->optimiser, or the device's of it */

    /* a whole graph's features without their zeros; NULL: the backend has none of this */
    bool (*sparse_open)(net*, error* why);                  /* into n->sparse; leaves NULL where zeros are few */
    void (*sparse_close)(net*);
    mat  (*sparse)(net*, uint32_t threshold);               /* with the dropout of `drop` */
} ops;
extern const ops ops_cpu;

/* ---- layers and models ---------------------------------------------------------------------------------------- */

typedef struct { /* most targets, sources and edges of a layer's block */
    int64_t dst, src, edges;
} extent;

typedef struct layer {
    int32_t  index, in, out;
    bool     last;
    extent   train;               /* in training; */
    int64_t  most_dst;            /* in training and evaluation */
    param    w, w_res;            /* (in, out), SAGE: [W_self; W_neigh] (2 in, out); residual's (in, out) */
    param    w_pool, a_l, a_r;    /* SAGE pool's (in, in); GAT's (K, out of a head) */
    epilogue pooled, finish;      /* what follows w_pool; what follows the layer */
    bool     transform_first;     /* GCN: A (x W) rather than (A x) W */
    attention att;                /* GAT */
    const ggnn_block* block;      /* of this step; */
    const ggnn_block* transpose;  /* in backward, where the model wants it */
    mat      x, h;                /* input (S, in) and output (D, out) of this step; in evaluation x is a store */
    mat      dx;                  /* (S, in); v NULL in layer 0, where no one wants it */
    mat      residual, targets;   /* (D, in) memory for, and the rows of x that are added to the targets */
    mat      a, z, da, dz;        /* the model's matrices: over targets, over sources, gradients */
    float    *src, *dst, *self;   /* factors of a linear aggregation */
    int32_t* arg;                 /* (D, in) SAGE pool: which neighbour was the largest */
} layer;

/* With a transform, y->z[first + i, :] is made of x[i, :] for every source before any edge is looked at; forward then
   reads y->z and the targets' rows of y->x alone, and backward wants the transpose in layer 0 too. */
typedef struct model {
    activation act;
    void (*plan)(net*, layer*);                             /* parameters and memory */
    void (*transform)(net*, layer*, mat x, int64_t first);  /* or NULL */
    void (*forward)(net*, layer*, mat out);                 /* out (D, out) of y->x over y->block, without bias */
    void (*backward)(net*, layer*, mat dx, mat dout);       /* gradients of weights; dx (S, in) unless dx.v is NULL */
} model;
const model* model_of(const net_config* config);

/* ---- the net -------------------------------------------------------------------------------------------------- */

typedef struct { /* factors of the optimiser's update */
    float rate, l2, keep; /* weight decay: added to the gradient; or what is left of a parameter */
    float inv_correction1, inv_correction2;
} adam;

enum { NET_PARAMS_MAX = 10 * NET_LAYERS_MAX, NET_SEGMENT = 256 };
struct net {
    net_config   config;
    net_data     data;
    device*      device;
    const struct ops*   ops;     /* the device's */
    const struct model* model;
    struct layer layer[NET_LAYERS_MAX];

    net_param param[NET_PARAMS_MAX];
    int32_t   num_params;
    int64_t   updates;
    net_state state;

    char*  memory; /* all matrices, laid out once; NULL while they are only counted */
    size_t used;
    float* inv_sqrt;       /* (N) GCN's 1 / sqrt(d), by global id */
    mat    gathered;       /* (S, in) the input's rows, where they are not read straight from the store */
    int64_t gathered_rows;
    extent chunk;          /* most of a block in evaluation, 0 without; of transformed rows src = dst + N */
    int64_t* chunk_src;    /* (1) chunk.src, on the device */
    const void** nodes;    /* (3) base of a store of all nodes' transformed rows */
    ggnn_node* range;      /* (chunk.dst) nodes whose rows evaluation transforms */
    int32_t* indices;      /* (chunk.edges) of its blocks */
    float* el;             /* (chunk.src, K) GAT's scores in it */
    mat    dlogits;        /* (seeds, outputs) */
    double* row_loss;      /* (seeds) */
    void*  steps;          /* the backend's: captured ones */
    void*  workspace;      /* of the backend: the CPU's gemm, ... */
    void*  transpose_workspace;
    float* initial;        /* parameters' first values, while they are set up: the host's */
    mat    column_sums;    /* (3 * rows / NET_SEGMENT, cols) of finish_back */
    int32_t widest;        /* columns of any matrix */
    int64_t most_rows;     /* of a matrix over targets or sources */
    extent most_transposed; /* block */

    ggnn_batch whole;      /* full batch: the graph */
    void*      whole_memory;
    int64_t*   whole_counts; /* (3) */
    float*     view;       /* features as a matrix: where the store's rows begin */
    sparse_features* sparse; /* features without their zeros, or NULL */
    ggnn_block transpose;  /* of the layer whose backward runs; */
    bool       transposed; /* of the whole graph, made once */

    const ggnn_node* id;   /* of this step: global ids of rows, */
    bool     training;
    uint32_t step;
    adam     optimiser;
    net_losses losses;     /* on the CPU; elsewhere the device's */
    int      backward;     /* which half of the profile the ops add to */
    net_profile profile;
};

/* optimiser.c: of the next update, which is counted. */
adam net_next_adam(net* n, float learning_rate);

/* net.c: a step's work but for `begin`: forward, loss, backward, update. */
void net_run(net* n, const ggnn_batch* batch, const net_labels* labels);

/* What `loss` leaves of a step. */
GGNN_HD void losses_add(net_losses* all, uint32_t step, double loss, int64_t known)
{
    all->sum += loss * (double)known;
    all->rows += known;
    all->last = loss;
    all->known = known;
    if (all->bad >= 0 || loss - loss == 0) return;
    all->bad = step;
    all->bad_loss = loss;
}

/* arena.c, for plans: columns up to where the next row begins; a zeroed array; a matrix whose rows begin at multiples
   of 64 bytes; a parameter, named with the layer's index, (rows, cols), `fill` everywhere or Glorot-uniform where
   that is GLOROT. */
#define GLOROT (-1.0f)
int64_t mat_padded(int32_t cols);
void* net_take(net* n, size_t count, size_t size);
mat   net_matrix(net* n, int64_t rows, int32_t cols);
param net_parameter(net* n, const layer* y, const char* name, int32_t rows, int32_t cols, float fill);

#ifdef __cplusplus
}
#endif
#endif
