/* net.h - the network of ggnn-train on one device: parameters, forward, loss, backward, optimiser.

   The room net/: from a mini-batch to a loss, gradients and the next weights. It does not know where a batch comes from.

   A step of training has three parts:
       net_compute(n, batch, step);      forward, loss and backward over this device's slice of the batch
       ...                               several devices add up what net_partial_of gives, in rank order
       net_update(n, learning_rate);     the optimiser, the same on each
   of which the first is
       net_forward(n, batch, step, true);
       net_loss(n);
       net_backward(n);
   The loss is divided by the labelled rows of the global batch, which the batch knows before any part is computed, so
   that slices' gradients only have to be added.

   Everything is allocated by net_create; a step allocates nothing and cannot fail. All results are the same bits for
   any number of threads. Layer l of L runs on the batch's hop L - 1 - l; models are in models.c, over layers.h. Weights
   of edges choose what is sampled. The importance aggregator alone multiplies by a block's weights: the visits of walks,
   which its batches must have (GGNN_WALK, GGNN_KEEP_WEIGHTS). */
#ifndef TRAINER_NET_H
#define TRAINER_NET_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "trainer/batch/batch.h"
#include "trainer/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { NET_LAYERS_MAX = GGNN_HOPS_MAX, NET_PARAMS_MAX = 10 * NET_LAYERS_MAX };

/* Choices for option tables, in the order of the enumerators. */
#define NET_MODELS "gcn|sage|gat|mlp"
#define NET_AGGREGATORS "mean|gcn|pool|importance"
#define NET_OPTIMIZERS "adam|adamw"
typedef enum { NET_GCN, NET_SAGE, NET_GAT, NET_MLP } net_model;
typedef enum { NET_MEAN, NET_SAGE_GCN, NET_POOL, NET_IMPORTANCE } net_aggregator; /* of GraphSAGE */
typedef enum { NET_ADAM, NET_ADAMW } net_optimizer;

/* What code asks about a model, rather than which one it is; combined with |. Each has a row in models.c. */
typedef enum {
    NET_ALONE = 1,      /* looks at no neighbour: its batches sample none */
    NET_HEADS = 2,      /* has heads, with scores beside its transformed rows; each of the last layer's is `outputs` wide */
    NET_VISITS = 4,     /* multiplies by the visits of walks: the weights of its blocks */
    NET_BY_DEGREE = 8,  /* divides by degrees (net.inv_sqrt), which is an unbiased estimate under uniform sampling alone */
    NET_MULTIPLIES = 16, /* a first layer only multiplies its features by weights */
    NET_LINEAR = 32,    /* as NET_MULTIPLIES, where it sums fewer columns after the product */
    NET_SUMMED = 64,    /* what a first layer sums of its features is the same in each step: preprocess.h can sum it before */
    NET_EDGES = 128     /* reads rows of edges, where there are some */
} net_trait;

/* Has the model, with this aggregator where it takes one, one of these traits? */
bool net_has(net_model model, net_aggregator aggregator, int traits);

typedef struct {
    device* device;
    net_model model;
    net_aggregator aggregator;
    int32_t layers;           /* 1 .. NET_LAYERS_MAX */
    int32_t hidden;           /* total width of a hidden layer; heads must divide it */
    int32_t outputs;          /* classes; 1: binary with logits */
    int32_t heads, out_heads; /* GAT: of hidden layers; of the last layer, which averages them */
    bool residual, norm;      /* + the layer's input; layer norm: hidden layers only */
    float dropout;            /* [0, 1) on the input of every layer but the first */
    float input_dropout;      /* on the features; forbids reading them straight from the store */
    float attention_dropout;  /* GAT, on the coefficients */
    net_optimizer optimizer;
    float weight_decay; /* adam: added to the gradient; adamw: decoupled */
    bool blas;          /* GEMM by CBLAS: gemm_blas_available() */
    bool full_batch;    /* every step on the whole graph: net_whole */
    bool dense;         /* multiply features with their zeros too, where they could be left out */
    bool extracted;     /* batches come with their rows */
    bool split;         /* batches may have a shuffle */
    bool in_parts;      /* with split: ranks sum their own rows for GraphSAGE's mean: other order, other rounding */
    bool preprocessed;  /* features are what layer 0 of GCN or GraphSAGE's mean sums over all neighbours (preprocess.h):
                           that layer only multiplies. No residual, no input dropout */
    uint64_t seed;      /* of initial weights and dropout */
    const ggnn_graph* degrees; /* the host's: whose degrees are the nodes' where not all lists are there; NULL: the graph's */
} net_config;

/* What is read and never written; must outlive the net. What it points to lies on the net's device. labels may be
   {NULL, NULL} where nothing is trained. With edges all batches have positions (GGNN_KEEP_POSITIONS) and local indices, but for
   GAT's in evaluation, which find transformed rows by id. */
typedef struct {
    const ggnn_graph* graph;
    const ggnn_store* features;
    net_labels        labels;
    const ggnn_store* edges; /* rows of edges, by position: GraphSAGE's mean is then that of [x_u | edge], GAT's scores have terms of
                                them. NULL: not read */
} net_data;

/* What evaluation asks of a net: room for one-hop blocks as large as `blocks`, and where its transformed rows of nodes
   begin behind this net's scratch (net_transformed_rows: nodes - scratch; 0: behind a chunk's targets). */
typedef struct {
    const ggnn_batch* blocks;
    int64_t           nodes;
} net_chunk;

typedef struct net net;

/* Rows in a caller's hands: v[i * ld + j], i < rows, j < cols. v is memory of the net's device. */
typedef struct {
    const float* v;
    int64_t      ld, rows;
    int32_t      cols;
} net_rows;

/* True: config allows sampling.last_hop_global, as its input layer reads features straight from the store (GCN, SAGE
   but pool, MLP, without input dropout; not for full batch). The batches may still come with local indices. */
bool net_reads_store(const net_config* config);

/* True: all that config's net does with its features is to multiply them by weights: GCN (and GraphSAGE's gcn) from
   wide to narrow, GAT, MLP, each on the whole graph and without residual. Where under a tenth of them is not 0, only
   those are then multiplied, on the CPU: the same sums but for their rounding. */
bool net_only_multiplies(const net_config* config, int32_t features);

/* Room for batches as large as `like` may become (laid out by ggnn_batch_init; NULL with full_batch) and for
   evaluation by `chunk` (NULL: there is none). config and chunk are copied and stay as they are. Bounds cost address space only: what a
   batch does not fill is not touched. Weights: Glorot-uniform, keyed by seed; biases 0; norm 1, 0. On failure
   NULL. */
net* net_create(const net_config* config, const net_data* data, const ggnn_batch* like, const net_chunk* chunk,
                error* why);
void net_free(net* n); /* NULL is fine */

/* Room for batches as large as `like` may become: takes more where that is beyond what there is, which is only where a
   loader lays batches out anew on a device. Not between net_forward and net_backward. False on failure: n can then
   only be freed. */
bool net_fit(net* n, const ggnn_batch* like, error* why);

/* With full_batch: the whole graph as a batch, id[i] = i, seeds: all nodes. */
const mini_batch* net_whole(const net* n);

/* Logits of the batch's distinct seeds: row i belongs to node blocks.id[i]. step keys dropout, which training turns
   on. The batch must have one hop a layer (MLP: of fanout 0, as it reads no neighbours), and stay as it is until
   net_backward has run; the rows are valid until the next net_forward. Waits for the number of rows. */
net_rows net_forward(net* n, const mini_batch* b, uint32_t step, bool training);

/* After net_forward: what layer l gave for the same nodes, which are the first targets of every layer. */
net_rows net_output(const net* n, int32_t l);

/* After net_forward: the cross-entropy of the labelled seeds, or the binary cross-entropy with logits where outputs is
   1, over batch->known; and its gradient for net_backward. 0 where known is 0. Waits. */
double net_loss(net* n);

/* After net_loss: the gradient of every parameter, overwritten. */
void net_backward(net* n);

/* The three at once, and the same bits. On a device no one waits for anything: the work is put there, the first time
   operation by operation, from the second step over the same batch memory and bounds on as one captured graph. */
void net_compute(net* n, const mini_batch* b, uint32_t step);

/* What a device's slice of a batch leaves, in its memory: what has to be added to those of the other slices, in rank
   order, between net_compute and net_update. */
typedef struct {
    double  loss;  /* summed over this slice's labelled seeds */
    int64_t known; /* of the global batch: not to be added */
} net_sums;
typedef struct {
    int64_t   count;
    float*    grad; /* (count) net_state's */
    net_sums* sums; /* (1) */
} net_partial;
net_partial net_partial_of(net* n);

/* Of a step whose slices others computed as well: the gradient has become the sum, and these are its sums. */
void net_take_sums(net* n, uint32_t step, const net_sums* sums);

/* One step of the optimiser on all parameters; the step's loss joins the losses. Captured as net_compute. */
void net_update(net* n, float learning_rate);

typedef struct { /* of the steps since net_start_losses, added up in their order where the net runs */
    double  sum;      /* known * mean loss, over all steps */
    int64_t rows;     /* known, over all steps */
    double  last;     /* the last step's mean loss */
    int64_t known;    /* labelled seeds of the last step */
    int64_t bad;      /* the first step whose loss was not finite; -1: none */
    double  bad_loss; /* mean loss of step `bad` */
} net_losses;
void net_start_losses(net* n, double sum, int64_t rows);

/* wait: of all steps so far. Else what has come back from the device by now, some steps old, and the next answer is
   asked for: no one waits. */
net_losses net_losses_of(net* n, bool wait);

/* ---- evaluation: one layer at a time over all nodes, without dropout ------------------------------------------ */
/* A layer reads its input x by global id: the features for layer 0, else the rows of the layer before. GAT and SAGE
   pool first transform every row of x, once; for the other models there are no transformed rows (NULL). Several
   devices may share them: each transforms some nodes' rows and has scratch rows of its own. Both calls overwrite what
   net_forward saved: they have no place between it and net_backward. */
typedef struct {
    float*  z;       /* (nodes + N, net_transformed at most) transformed rows */
    float*  el;      /* (nodes + N, heads) GAT's scores of the transformed rows; NULL for SAGE pool */
    int64_t scratch; /* this net's net_layer may use rows [scratch, scratch + chunk->blocks->hop[0].num_dst.max) */
    int64_t nodes;   /* node v's row is nodes + v */
} net_transformed_rows;

int32_t net_transformed(const net_config* config, int32_t features); /* columns of the widest z; 0: there is none */
int32_t net_width(const net* n, int32_t l);                          /* columns of layer l's output */
int32_t net_transformed_width(const net* n, int32_t l);              /* columns of layer l's z */
int32_t net_heads(const net* n, int32_t l);                          /* columns of layer l's scores */

/* Fills the rows of nodes [first, first + rows), of at most as many as a chunk has targets. */
void net_transform(net* n, int32_t l, const net_transformed_rows* all, int64_t first, int64_t rows, const ggnn_store* x);

/* Layer l of the targets of one block (usually all neighbours): a global hop, hop 0 of a batch within chunk->blocks. out
   (num_dst, net_width) is overwritten. Where there are transformed rows, no other nodes' x is read: out may then lie
   over the targets' own rows of it. */
void net_layer(net* n, int32_t l, float* out, int64_t ld_out, const ggnn_block* block, const ggnn_store* x,
               const net_transformed_rows* all);

/* Loss of one row of logits (outputs of them) for node v, as in net_loss, in double; false: v has no label. labels are
   the host's here. */
bool net_row_loss(double* loss, const float* logits, int32_t outputs, const net_labels* labels, int64_t v);

/* ---- parameters: for checkpoints, best weights and tests ------------------------------------------------------ */

typedef struct { /* all parameters in one array each, in the order of net_param_at; memory of the net's device */
    int64_t  count;
    float   *value, *grad;
    float   *m, *v;   /* Adam's moments */
    int64_t* updates; /* the host's: net_update calls so far, Adam's t */
} net_state;
net_state net_state_of(net* n);

typedef struct {
    char    name[16];   /* "w_self0", as in tests/vectors/make_model_vectors.py */
    int32_t rows, cols; /* row-major, no padding; a vector has one row */
    int64_t offset;     /* into the arrays of net_state */
} net_param;
int32_t   net_num_params(const net* n);
net_param net_param_at(const net* n, int32_t i);

/* ---- profile -------------------------------------------------------------------------------------------------- */

#define NET_STAGES "gather|aggregate|gemm|elementwise|loss|optimizer|shuffle"
typedef enum {
    NET_GATHER,
    NET_AGGREGATE,
    NET_GEMM,
    NET_ELEMENTWISE,
    NET_LOSS,
    NET_OPTIMIZER,
    NET_SHUFFLE,
    NET_NUM_STAGES
} net_stage;

/* gather: whatever reads rows of a store, so the input layer's aggregation where that is fused with it. shuffle: rows of
   layers from rank to rank, with the waiting for them. */
typedef struct { /* since net_create, summed; [0] forward and evaluation, [1] backward and update */
    double  seconds[2][NET_NUM_STAGES];
    int64_t bytes[2][NET_NUM_STAGES]; /* read and written at least once, by the inputs' and outputs' sizes */
    int64_t flops[2];                 /* of GEMM */
    double  train;                    /* seconds of net_compute and net_update by the device's clock, however profiled; of
                                         the steps whose losses have been read */
} net_profile;
const net_profile* net_profile_of(const net* n);
void net_add_profile(net* n, const net_profile* before); /* of another net, in whose place this one is */

/* Where the net runs, for the memory that a caller hands to it. */
device* net_device(const net* n);

#ifdef __cplusplus
}
#endif
#endif
