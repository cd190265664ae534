/* layers.h - what a network is made of: layers, models, the operations on them that the CPU and CUDA backends differ in,
   and the net that holds them together. Only this room, the backends and a trace see it; all others see net.h.

   Shapes in comments: D targets and S sources of a layer's block (D <= S, targets first), in and out the layer's
   widths, K heads. Names: dx is the gradient of x, as wide and long. */
#ifndef TRAINER_LAYERS_H
#define TRAINER_LAYERS_H
#include <stddef.h>

#include "trainer/device/mat.h"
#include "trainer/device/ops.h"
#include "trainer/net/net.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { /* a parameter and its gradient, of one shape; v NULL: the layer has none */
    mat v, d;
} param;

/* ---- what follows a layer's linear part ----------------------------------------------------------------------- */

/* h = dropout(activation(norm(x + bias))), in one pass; x may be h. The residual is added before. */
typedef enum { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_ELU } activation;
typedef struct {
    param      bias, gamma, beta;      /* (1, cols) each; gamma and beta: layer norm */
    mat        normed;                 /* (D, cols) saved for backward: (x + bias - mean) / deviation */
    float*     inv_deviation;          /* (D) saved for backward: 1 / deviation */
    activation act;
    uint32_t   threshold;              /* of dropout; 0: none. Its field is keyed by node, column, layer */
    int32_t    layer;                  /* the layer that reads h */
    const ggnn_node* id;               /* (D) the rows' nodes */
} epilogue;

typedef struct { /* GAT's, K heads */
    int32_t        heads;
    float          *el, *er, *lse;   /* (S, K), (D, K), (D, K) scores and softmax statistics, saved for backward */
    float          *del, *der;       /* (S, K), (D, K) */
    float          *delta, *dlogit, *coef; /* (D, K), (D + E, K) twice: scratch of attend_back */
    mat            edge;             /* with rows of edges: (columns of theirs, K) what takes a row to its terms, in backward its gradient */
    float          *term, *dterm;    /* (E, K) addends of scores, and their gradients */
    float*         own_term;         /* (D, K) the targets' own */
    ggnn_attention how;
} attention;

/* ---- layers and models ---------------------------------------------------------------------------------------- */

typedef struct layer layer;
typedef struct model model;
typedef struct { /* most targets, sources and edges of a layer's block */
    int64_t dst, src, edges;
} extent;

struct layer {
    /* what it is, and the most that its block may have in training, and in training and evaluation together */
    const model* model;
    int32_t  index, in, out;
    bool     last;
    extent   train;
    int64_t  most_dst;

    /* parameters: (in, out), of SAGE [W_self; W_neigh] (2 in, out); the residual's (in, out); SAGE pool's (in, in);
       GAT's (K, out of a head), and of rows of edges (columns of theirs, as w's), (K, out of a head) */
    param    w, w_res, w_pool, a_l, a_r, w_e, a_e;

    /* this step's block, the nodes of its rows (S), and in backward its transpose, where the model wants it */
    const ggnn_block* block;
    const ggnn_node*  id;
    const ggnn_block* transpose;

    /* rows of this step: the input (S, in), in evaluation a store; the output (D, out); the gradient of the input, v NULL in
       layer 0, where no one wants it */
    mat      x, h, dx;

    /* what `finish` makes h of: h itself, or a matrix that forward leaves for backward. Where factor.v is not NULL, forward
       has left out = factor w to multiply_finish */
    mat      linear, factor;

    /* dh has been through activation and dropout already */
    bool     through;

    /* what all models have behind them; memory (D, in) for the rows of x that are added to the targets, and these rows */
    epilogue finish;
    mat      residual, targets;

    /* the model's matrices: over targets, over sources, and their gradients */
    mat      a, z, da, dz;

    /* GCN sums A (x W) rather than (A x) W */
    bool     transform_first;

    /* linear aggregations: factors (S), (D), (D), as the aggregation takes them, and as its transpose does */
    float    *src, *dst, *self;
    ggnn_scale scale, back;

    /* SAGE pool: what follows w_pool; (D, in) which neighbour was the largest */
    epilogue pooled;
    int32_t* arg;

    /* GAT */
    attention att;

    /* --parallel split: what `transform` makes, which is z and att.el, or the part of them that this rank has; and memory
       for x, or with a transform for these */
    mat      z_here, pulled;
    float    *el_here, *pulled_el;
    bool     scored; /* transform makes el beside z; else forward does, which has all of z then */
};

/* With a transform, y->z_here[first + i, :] is made of x[i, :] for every source before any edge is looked at; forward then
   reads y->z and the targets' rows of y->x alone, and backward wants the transpose in layer 0 too. Where ranks share a
   batch, x, dx and z_here are of the rows that this rank has, targets first; z and dz are of all sources. So backward
   gives dz to net_push before it uses it with x. */
struct model {
    activation act;
    void (*plan)(net*, layer*);                             /* parameters and memory */
    void (*transform)(net*, layer*, mat x, int64_t first);  /* or NULL */
    void (*forward)(net*, layer*, mat out);                 /* out (D, out) of y->x over y->block, without bias; or sets linear or factor */
    void (*backward)(net*, layer*, mat dx, mat dout);       /* gradients of weights; dx (S, in) unless dx.v is NULL */
    int traits;                                             /* of net_trait */
};
const model* model_of(const net_config* config, int32_t l); /* of layer l */

/* ---- operations ----------------------------------------------------------------------------------------------- */

/* Outputs come first and are overwritten, but for gemm's where beta = 1 and those of `add`. On a CPU each measures its
   time and bytes into net->profile.

   A factor of a weight gradient has a zero tail on CUDA: sizes stay on the device, so that gemm with a transposed first
   factor sums over the rows that there may be (rows.max), not over those that there are. Rows above the count hold
   whatever was there, which is finite, as all memory begins with zeros; in one of the two factors they must be zeros.
   The gradients that come out of loss, finish_back, mean_heads_back and attend_back (dz, and y->dterm) are so.

   Set-up:
     plan        takes transpose and workspaces, after the layers' plans
     forget      what it keeps of steps, whose memory goes
     whole       ggnn_block_whole
     gcn_norm    ggnn_gcn_norm
     count_known labelled ones among all nodes
     sparse_*    a whole graph's features without their zeros: open fills n->whole.sparse, or leaves it NULL where zeros are
                 few or the backend has none of this; `sparse` gives them with the dropout of `drop`
   A step: what is new in it goes to the device by `begin`, from n->step, so that `compute` may be done again as it was
   captured.
     compute     net_run: forward, loss, backward
     update      by n->optimiser; and adds n->sums to the losses
     set_losses, losses: net_start_losses, net_losses_of
   Matrices and graph:
     gemm        c = beta c + op(a) op(b)
     read_rows   out = x, from a store or not
     read_edges  out (E, cols) = the rows of b's edges, by position
     drop        dropout in place, of rows of nodes `id`, which layer l reads
     add         out[: rows of a, :] += a
     clear       out = 0
     finish      h = dropout(activation(norm(x + bias))); x may be h
     multiply_finish  h = dropout(activation(norm(a w + bias))); a w itself is not kept
     finish_back dh in place, and the gradients of e's parameters; h.v NULL: aggregate_back has taken dh through. dh of the
                 last layer is the loss's
     own_and_mean     out (D, 2 in) = [x_v | mean of x over the block], of sources x, whose first are the targets; where x is a
                 matrix inv (D), unless NULL, = the factors of scale_mean
     aggregate_back   dx = the sum of d over the transpose, with these factors; += own, of the first rows. Then, where it says
                 so, through activation and dropout of the layer before, whose outputs x were; NULL: none is asked for
     index_by_id indices = first + b->neighbor
     mean_edges  out (D, cols) = the mean of the rows of each list's edges; 0 where it is empty
     scale_*     ggnn_scale_mean, ggnn_scale_weights, ggnn_scale_gcn
     scores      e[u,k] = z[u, head k] . a[k,:];  scores_back adds to dz
     mean_heads  (D, C) of (D, K C)
     loss        dlogits, and n->sums */
#define MATH_OPS(OP)                                                                                             \
    OP(void, plan, (net * n))                                                                                    \
    OP(void, forget, (net * n))                                                                                  \
    OP(ggnn_status, whole, (net * n, ggnn_block * b, int64_t counts[3], int32_t* copy))                          \
    OP(void, gcn_norm, (net * n, float* inv_sqrt))                                                               \
    OP(int64_t, count_known, (net * n))                                                                          \
    OP(bool, sparse_open, (net * n, error* why))                                                                 \
    OP(void, sparse_close, (net * n))                                                                            \
    OP(mat, sparse, (net * n, uint32_t threshold))                                                               \
    OP(void, begin, (net * n))                                                                                   \
    OP(void, compute, (net * n, const mini_batch* b))                                                            \
    OP(void, update, (net * n))                                                                                  \
    OP(void, set_losses, (net * n, const net_losses* losses))                                                    \
    OP(net_losses, losses, (net * n, bool wait))                                                                 \
    OP(void, gemm, (net * n, mat c, mat a, bool at, mat b, bool bt, float beta))                                 \
    OP(void, read_rows, (net * n, mat out, mat x))                                                               \
    OP(void, read_edges, (net * n, mat out, const ggnn_store* from, const ggnn_block* b))                        \
    OP(void, drop, (net * n, mat x, const ggnn_node* id, uint32_t threshold, int32_t l))                         \
    OP(void, add, (net * n, mat out, mat a))                                                                     \
    OP(void, clear, (net * n, mat out))                                                                          \
    OP(void, finish, (net * n, mat h, mat x, const epilogue* e))                                                 \
    OP(void, multiply_finish, (net * n, mat h, mat a, mat w, const epilogue* e))                                 \
    OP(void, finish_back, (net * n, mat dh, mat h, const epilogue* e))                                           \
    OP(void, transpose, (net * n, ggnn_block * t, const ggnn_block* b))                                          \
    OP(void, index_by_id, (net * n, int32_t* indices, const ggnn_block* b, int32_t first))                       \
    OP(void, scale_mean, (net * n, float* inv, const ggnn_block* b, bool with_self))                             \
    OP(void, scale_weights, (net * n, float* inv, const ggnn_block* b, const float* weight))                     \
    OP(void, scale_gcn, (net * n, float* src, float* dst, float* self, const ggnn_block* b))                     \
    OP(void, aggregate,                                                                                          \
       (net * n, mat out, int32_t* arg, ggnn_reduce how, const ggnn_block* b, const ggnn_scale* s,               \
        const float* weight, mat x))                                                                             \
    OP(void, own_and_mean, (net * n, mat out, float* inv, const ggnn_block* b, mat x))                           \
    OP(bool, aggregate_back,                                                                                     \
       (net * n, mat dx, const ggnn_block* t, const ggnn_scale* s, const float* weight, mat d, mat own,          \
        const layer* before))                                                                                    \
    OP(void, mean_edges, (net * n, mat out, const ggnn_block* b, mat edge))                                      \
    OP(void, aggregate_arg_back,                                                                                 \
       (net * n, mat dx, const ggnn_block* t, const ggnn_block* b, mat dout, const int32_t* arg))                \
    OP(void, scores, (net * n, float* e, mat z, mat a))                                                          \
    OP(void, scores_back, (net * n, mat dz, mat da, const float* de, mat z, mat a))                              \
    OP(void, attend, (net * n, const ggnn_gat_layer* y))                                                         \
    OP(void, attend_back,                                                                                        \
       (net * n, mat dz, const ggnn_block* t, const ggnn_gat_layer* y, mat dout))                                \
    OP(void, mean_heads, (net * n, mat out, mat a, int32_t heads))                                               \
    OP(void, mean_heads_back, (net * n, mat da, mat dout, int32_t heads))                                        \
    OP(void, loss, (net * n, mat dlogits, mat logits, const mini_batch* b))
struct math_ops {
    MATH_OPS(OPS_SLOT)
};

/* ---- the net -------------------------------------------------------------------------------------------------- */

typedef struct { /* factors of the optimiser's update */
    float rate, l2, keep; /* weight decay: added to the gradient; or what is left of a parameter */
    float inv_correction1, inv_correction2;
} adam;

/* Called within net_compute on a CPU. forward: after each layer. backward: before each layer's; dout (D, out) is the gradient of
   y->h, and the loss is there. after_backward: after it; GAT's y->dz and y->att.del, der are there. They look, and change
   nothing. */
typedef struct {
    void (*forward)(void* context, net* n, const layer* y);
    void (*backward)(void* context, net* n, const layer* y, mat dout);
    void (*after_backward)(void* context, net* n, const layer* y);
    void* context;
} net_watch;

enum { NET_SEGMENT = 256 };
struct net {
    /* what it is made of */
    net_config   config;
    net_data     data;
    device*      device;
    const math_ops* ops;
    struct layer layer[NET_LAYERS_MAX];

    /* parameters; their first values, the host's, while they are set up */
    net_param param[NET_PARAMS_MAX];
    int32_t   num_params;
    int64_t   updates;
    net_state state;
    float*    initial;

    /* all matrices, laid out once; NULL while they are only counted */
    char*  memory;
    size_t used;

    /* the most that plans of the backend have to take: columns of any matrix, rows over targets or sources, edges of a
       block, a block that is transposed */
    int32_t widest;
    int64_t most_rows, most_edges;
    extent  most_transposed;

    /* the input: its rows (S, in), where they are not read straight from the store; (N) GCN's 1 / sqrt(d), by global id */
    mat     gathered;
    int64_t gathered_rows;
    mat     edge_rows; /* (E, width) of the layer whose turn it is, forward or backward; no edge's row has a gradient */
    float*  inv_sqrt;

    /* the loss: (seeds, outputs); (seeds); (1) what it leaves for the reduction and the update; of all steps on a CPU,
       elsewhere they are the device's */
    mat        dlogits;
    double*    row_loss;
    net_sums*  sums;
    net_losses losses;

    /* backward: the transpose of the layer whose turn it is; (3 * rows / NET_SEGMENT, cols) of finish_back; with --parallel
       split gradients of this rank's rows */
    ggnn_block transpose;
    mat        column_sums, pushed;

    /* the backend's: captured steps, the CPU's gemm and the like */
    void* steps;
    void* workspace;
    void* transpose_workspace;

    /* full batch: the graph as a batch, transposed once; features as a matrix from where the store's rows begin, and
       without their zeros, or NULL */
    struct {
        mini_batch batch;
        void*      memory;
        int64_t*   counts; /* (3) */
        bool       transposed;
        float*     view;
        sparse_features* sparse;
    } whole;

    /* evaluation: the most of a block, all 0 without, where transformed rows make src nodes + N; net_chunk.nodes; (1)
       most.src, on the device; (most.dst) nodes whose rows are transformed; (most.edges) of its blocks */
    struct {
        extent     most;
        int64_t    nodes;
        int64_t*   src;
        ggnn_node* range;
        int32_t*   indices;
    } chunk;

    /* this step: who looks on, or NULL; its batch; how it updates */
    const net_watch*  watch;
    const mini_batch* batch;
    bool     training;
    uint32_t step;
    adam     optimiser;

    /* costs, and which half of them operations add to */
    net_profile profile;
    int         backward;
};

/* optimiser.c: of the next update, which is counted. */
adam net_next_adam(net* n, float learning_rate);

/* loss.c: the loss of a labelled row, and d (outputs), its gradient, unless NULL. labels are the host's. */
double net_row_gradient(float* d, const float* x, int32_t outputs, const net_labels* labels, int64_t v);

/* net.c: forward, loss, backward, without `begin`. */
void net_run(net* n, const mini_batch* b);

/* parts.c: whether a mean is added up from what ranks sum of their own rows. Then y->x and dx are of the rows that this rank
   has. out (D, in): the mean of x; dx of dout, the mean's transpose. */
bool net_sums_in_parts(const net* n, const layer* y);
void net_mean_in_parts(net* n, const layer* y, mat out);
void net_mean_in_parts_back(net* n, mat dx, const layer* y, mat dout);

/* parts.c: gradients of all sources of y's block become those of the rows that this rank has, added up over the ranks. On one
   device they are the same rows. */
mat net_push(net* n, const layer* y, mat d);

/* parts.c: x becomes what layer y reads, its rows or what it transforms them to: of all sources, pulled from the ranks that
   have them, or where net_reads_own of this rank's alone. */
void net_take_input(net* n, layer* y, mat x);
bool net_reads_own(const net* n, const layer* y);

/* What becomes of a step's sums, once they are those of all devices. */
GGNN_HD void losses_add(net_losses* all, uint32_t step, const net_sums* sums)
{
    const int64_t known = sums->known;
    const double  loss = known ? sums->loss / (double)known : 0;
    all->sum += loss * (double)known;
    all->rows += known;
    all->last = loss;
    all->known = known;
    if (all->bad >= 0 || loss - loss == 0) return;
    all->bad = step;
    all->bad_loss = loss;
}

/* arena.c, for plans: a zeroed array; a matrix whose rows begin at multiples of 64 bytes; a parameter, named with the layer's
   index, (rows, cols), `fill` everywhere or Glorot-uniform where that is GLOROT. */
#define GLOROT (-1.0f)
void* net_take(net* n, size_t count, size_t size);
mat   net_matrix(net* n, int64_t rows, int32_t cols);
param net_parameter(net* n, const layer* y, const char* name, int32_t rows, int32_t cols, float fill);

#ifdef __cplusplus
}
#endif
#endif
