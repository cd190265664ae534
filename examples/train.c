// train.c - a GNN trained on sampled mini-batches, in one file: GCN, GraphSAGE or GAT. Read it from the top.
//   make && build/ggnn-data generate planted planted.ggnn     (a graph; docs/DATA.md: one of your own)
//   cc -O3 -ffp-contract=off -I. examples/train.c -lm -o train && ./train planted.ggnn sage
//
// It needs ggnn.h, datasets/ggnn_file.h and the C library. ggnn-train is the same with everything that graphs
// larger than a machine need, and prints the same losses:
//   build/ggnn-train --data planted.ggnn --model sage --layers 2 --hidden 64 --fanout 10,5 --eval sampled
// (and --loss ce on a graph of two classes, for which ggnn-train has one logit, this program two).
// They are equal to the last bit where both programs round a multiply-add alike. ggnn-train rounds it once on
// a CPU with AVX2, else twice: product and sum. This program rounds it once where it is compiled with -mfma.
//
// A block is one hop of a mini-batch: edges from S sources to D targets. The targets are the first D sources.
// The comment beside an array is its shape, row after row. dX is the gradient of the loss with respect to X.
#define _GNU_SOURCE 1 // for ggnn_file.h
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#define GGNN_FILE_IMPLEMENTATION
#include "datasets/ggnn_file.h"
#include <stdio.h>
#include <stdlib.h>

// Change these and compile again.
enum { LAYERS = 2, HIDDEN = 64, HEADS = 4, BATCH = 1024, SEED = 1 };
static const int32_t fanout[LAYERS] = {10, 5}; // neighbours sampled per node, from the seeds outward; -1: all
static const float   dropout = .5f;            // the share of hidden layers' outputs that is set to 0
static const float   rate = 3e-3f;             // of learning
typedef char         heads_divide_hidden[HIDDEN % HEADS == 0 ? 1 : -1];

enum { GCN, SAGE, GAT, MODELS };
enum { UNUSED, TRAIN, VALIDATE, TEST, PARTS }; // of the nodes, by the file's split
enum { SEGMENT = 256 };    // a long sum is cut into parts of so many terms
#define LOG2_E 1.44269504f // e^x = 2^(x log2 e)

typedef struct { // a layer, and what forward leaves for backward
    int32_t           number, in, out, heads;
    const ggnn_block *block, *back;        // of this mini-batch, and its transpose: the way of gradients
    int64_t           D, S;                // targets and sources of the block
    float *           w, *dw;              // (in, out)  GraphSAGE: (2 in, out), W_self above W_neigh
    float *           b, *db;              // (out)
    float *           x, *dx;              // (S, in)  h and dh of the layer before; layer 0: features
    float *           a, *da;              // (D, in)  GCN: A x; (D, 2 in)  GraphSAGE: [x_v | mean of x_u]
    float *           src, *dst, *self;    // (S), (D), (D)  factors of an edge: source's, target's; of itself
    float *           z, *dz;              // (S, out)  GAT: x W
    ggnn_gat_layer    gat;                 // attention over z: a_l, a_r and other arrays, of shapes in ggnn.h
    float *           h, *dh;              // (D, out)  output; of the last layer: logits
} layer;

static int            model, training;
static layer          net[LAYERS];
static const char*    path;                 // of the data:
static ggnn_graph     graph;                // in-neighbours of each node
static ggnn_store     features;             // (nodes, features.width)
static const int32_t* label;                // (nodes)  in [0, classes); -1: unknown
static ggnn_node*     ids[PARTS];           // (num_ids[part])  nodes of each part, ascending
static int32_t        classes;
static float*         inv_sqrt;             // (nodes)  GCN: 1 / sqrt(degree + 1)
static ggnn_batch     batch;
static float *        value, *grad, *m, *v; // (num_params)  all parameters, gradients, Adam's moments
static int64_t        num_params, num_ids[PARTS];
static uint32_t       step;                 // mini-batches so far: a part of every random number's key

#define FAIL(...) (fprintf(stderr, "train: " __VA_ARGS__), fputc('\n', stderr), exit(1))

static void* bytes_new(size_t bytes) // zeroed
{
    void* p = calloc(bytes + 1, 1);
    if (!p) FAIL("out of memory: %zu bytes", bytes);
    return p;
}
static float* floats_new(int64_t rows, int64_t cols) { return (float*)bytes_new((size_t)(rows * cols) * 4); }

// ==== dense algebra ========================================================================================
#ifdef __FMA__
#define MULTIPLY_ADD(a, b, sum) fmaf(a, b, sum) // rounded once
#else
#define MULTIPLY_ADD(a, b, sum) ((sum) + (a) * (b))
#endif

// c (M, N) = a (M, K) b (K, N). a[i,k] lies at a[i * a_i + k * a_k], so that a transpose swaps two steps. A
// sum over k is cut into segments. trainer/cpu/gemm.c computes the same, faster.
static void gemm(float* c, int64_t M, int64_t N, int64_t K, const float* a, int64_t a_i, int64_t a_k,
                 const float* b, int64_t b_k, int64_t b_j)
{
    float* part = floats_new(1, N);
    memset(c, 0, (size_t)(M * N) * sizeof(float));
    for (int64_t i = 0; i < M; i++)
        for (int64_t first = 0; first < K; first += SEGMENT) {
            memset(part, 0, (size_t)N * sizeof(float));
            for (int64_t k = first; k < K && k < first + SEGMENT; k++)
                for (int64_t j = 0; j < N; j++)
                    part[j] = MULTIPLY_ADD(a[i * a_i + k * a_k], b[k * b_k + j * b_j], part[j]);
            for (int64_t j = 0; j < N; j++) c[i * N + j] += part[j];
        }
    free(part);
}
// out (rows, y->out) = x (rows, I) w (I, y->out)
static void linear(const layer* y, float* out, const float* x, int64_t rows, int64_t I)
{
    gemm(out, rows, y->out, I, x, I, 1, y->w, y->out, 1);
}
// dw = x' dout, dx = dout w'. Layer 0 has no dx: features are not learnt.
static void linear_back(const layer* y, float* dx, const float* dout, const float* x, int64_t rows, int64_t I)
{
    gemm(y->dw, I, y->out, rows, x, 1, I, dout, y->out, 1);
    if (y->number > 0) gemm(dx, rows, I, y->out, dout, y->out, 1, y->w, 1, y->out);
}

// ==== the linear part of a layer ===========================================================================
// GCN, Kipf & Welling 2017: h = A x W, where A[v,u] = 1 / sqrt(d_u d_v) for v's neighbours u and v itself.
// A is made of factors of the source, of the target and of the node itself. ggnn_scale_gcn enlarges those of
// targets, so that a sample's sum is on average that over all neighbours.
static void gcn_forward(layer* y)
{
    const ggnn_scale A = {y->src, y->dst, y->self};
    ggnn_scale_gcn(y->src, y->dst, y->self, y->block, inv_sqrt, &graph);
    ggnn_spmm(y->a, y->in, NULL, GGNN_SUM, y->block, &A, NULL, 1, y->x, y->in, y->in); // a = A x
    linear(y, y->h, y->a, y->D, y->in);                                                // h = a W
}
static void gcn_backward(layer* y)
{
    const ggnn_scale At = {y->dst, y->src, y->self};
    linear_back(y, y->da, y->dh, y->a, y->D, y->in); // dW = a' dh, da = dh W'
    if (y->number == 0) return;
    ggnn_spmm(y->dx, y->in, NULL, GGNN_SUM, y->back, &At, NULL, 1, y->da, y->in, y->in); // dx = A' da
}

// GraphSAGE, Hamilton et al. 2017: h = x_v W_self + (mean of the neighbours' x_u) W_neigh = [x_v | mean] W.
// Their algorithm 1 then divides each h by its length: that is left out.
static void sage_forward(layer* y)
{
    const int32_t I = y->in;
    ggnn_spmm(y->a + I, 2 * I, NULL, GGNN_MEAN, y->block, NULL, NULL, 1, y->x, I, I);
    for (int64_t i = 0; i < y->D; i++) memcpy(y->a + i * 2 * I, y->x + i * I, (size_t)I * sizeof(float));
    linear(y, y->h, y->a, y->D, 2 * I);
}
static void sage_backward(layer* y)
{
    const int32_t    I = y->in;
    const ggnn_scale transposed = {y->dst, NULL, NULL}; // each neighbour gets 1 / |N(v)| of v's gradient
    linear_back(y, y->da, y->dh, y->a, y->D, 2 * I);
    if (y->number == 0) return;
    ggnn_scale_mean(y->dst, y->block, 0);
    ggnn_spmm(y->dx, I, NULL, GGNN_SUM, y->back, &transposed, NULL, 1, y->da + I, 2 * I, I);
    for (int64_t i = 0; i < y->D; i++)
        for (int32_t j = 0; j < I; j++) y->dx[i * I + j] += y->da[i * 2 * I + j];
}

// GAT, Velickovic et al. 2018: z = x W. In each head h_v is the sum of alpha_u z_u over v's neighbours u and
// v itself, where alpha is the softmax of LeakyReLU(a_l . z_u + a_r . z_v).
static void gat_forward(layer* y)
{
    linear(y, y->z, y->x, y->S, y->in);
    y->gat.block = y->block;
    ggnn_gat(&y->gat);
    memcpy(y->h, y->gat.out, (size_t)(y->D * y->out) * sizeof(float)); // backward reads it without the bias
}
static void gat_backward(layer* y)
{
    ggnn_gat_back(y->dz, y->out, y->back, &y->gat, y->dh, y->out); // dz, and the gradients of a_l and a_r
    linear_back(y, y->dx, y->dz, y->x, y->S, y->in);
}

// ==== the rest of a layer: h = dropout(activation(h + b)); of the last one: h + b ==========================
// x / (1 - dropout), or 0, by random bits keyed by step, layer, node and column: backward draws them again.
static void drop(float* x, const layer* y, ggnn_node node)
{
    const ggnn_rng rng = {SEED, step, GGNN_PURPOSE_DROPOUT};
    const uint32_t threshold = ggnn_dropout_threshold(dropout);
    for (int32_t j = 0; j < y->out; j++) {
        const ggnn_words words = ggnn_random(&rng, y->number + 1, node, (uint32_t)j / 8);
        x[j] = ggnn_dropout_field(words, j) < threshold ? 0 : x[j] * ggnn_dropout_scale(threshold);
    }
}
static void finish_forward(layer* y)
{
    for (int64_t i = 0; i < y->D; i++) {
        float* h = y->h + i * y->out;
        for (int32_t j = 0; j < y->out; j++) {
            h[j] += y->b[j];
            if (h[j] < 0 && y->number < LAYERS - 1) // GAT: ELU, e^x - 1; others: ReLU
                h[j] = model == GAT ? ggnn_exp2(h[j] * LOG2_E) - 1 : 0;
        }
        if (training && y->number < LAYERS - 1) drop(h, y, y->block->id[i]);
    }
}
static void finish_backward(layer* y)
{
    const float one = 1, scale = ggnn_dropout_scale(ggnn_dropout_threshold(dropout));
    // drop() multiplied the h that it kept by scale: so h / scale is ReLU or ELU. It set the others to 0.
    for (int64_t i = 0; i < y->D && y->number < LAYERS - 1; i++) {
        float *h = y->h + i * y->out, *dh = y->dh + i * y->out;
        for (int32_t j = 0; j < y->out; j++)
            if (model != GAT) dh[j] = h[j] > 0 ? dh[j] * scale : 0; // h is 0 where it was dropped, too
            else if (h[j] < 0) dh[j] *= h[j] * (1 / scale) + 1;     // ELU's derivative, e^x, is ELU + 1
        if (model == GAT) drop(dh, y, y->block->id[i]);             // scales dh where h was kept, else 0
    }
    // db = ones' dh, the sum of dh over rows. Steps of 0: each element of `ones` is the number one.
    gemm(y->db, 1, y->out, y->D, &one, 0, 0, y->dh, y->out, 1);
}

// ==== a step: sample, forward, loss, backward, update ======================================================
// Layer 0 reads the features of the last hop's sources; the last layer's targets are the seeds. All sources
// of a hop are the targets of the next hop. So row i of layer l - 1's output is source i of layer l.
static void forward(const ggnn_node* seeds, int64_t count)
{
    const ggnn_rng rng = {SEED, training ? step : 0, training ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_EVALUATE};
    if (ggnn_sample(&batch, &graph, &rng, seeds, count))
        FAIL("%s: node %lld: %s", path, (long long)batch.fault.node, batch.fault.what);
    ggnn_gather(net[0].x, net[0].in, GGNN_F32, &features, batch.id, *batch.hop[LAYERS - 1].num_src.n);
    for (int l = 0; l < LAYERS; l++) {
        layer* y = &net[l];
        y->block = &batch.hop[LAYERS - 1 - l], y->back = &batch.back[LAYERS - 1 - l];
        y->D = *y->block->num_dst.n, y->S = *y->block->num_src.n;
        if (model == GCN) gcn_forward(y);
        if (model == SAGE) sage_forward(y);
        if (model == GAT) gat_forward(y);
        finish_forward(y);
    }
}

// The sum of -log softmax(logits)[label] over the `known` labelled seeds. dlogits = the gradient of its mean.
static double loss_of(int64_t known, int64_t* right)
{
    const layer* last = &net[LAYERS - 1];
    double       total = 0;
    memset(last->dh, 0, (size_t)(last->D * classes) * sizeof(float));
    for (int64_t i = 0; i < last->D; i++) {
        const float*  x = last->h + i * classes;
        float *       d = last->dh + i * classes, sum = 0;
        const int32_t c = label[batch.id[i]];
        int32_t       most = 0;
        if (c < 0) continue;
        for (int32_t j = 1; j < classes; j++) most = x[j] > x[most] ? j : most;
        for (int32_t j = 0; j < classes; j++) sum += d[j] = ggnn_exp2((x[j] - x[most]) * LOG2_E);
        for (int32_t j = 0; j < classes; j++) d[j] = (d[j] / sum - (float)(j == c)) * (1 / (float)known);
        total += log((double)sum) - ((double)x[c] - (double)x[most]);
        *right += most == c;
    }
    return total;
}

static void backward(void)
{
    for (int l = LAYERS - 1; l >= 0; l--) {
        layer* y = &net[l];
        finish_backward(y);
        if (model == GCN) gcn_backward(y);
        if (model == SAGE) sage_backward(y);
        if (model == GAT) gat_backward(y);
    }
}

static void update(void) // Adam, Kingma & Ba 2015, algorithm 1
{
    double b1 = 1, b2 = 1, p1 = .9, p2 = .999; // .9^step and .999^step by squaring
    for (uint32_t t = step; t; t >>= 1, p1 *= p1, p2 *= p2)
        if (t & 1) b1 *= p1, b2 *= p2;
    const float c1 = (float)(1 / (1 - b1)), c2 = (float)(1 / (1 - b2));
    for (int64_t i = 0; i < num_params; i++) {
        m[i] = .9f * m[i] + .1f * grad[i];
        v[i] = .999f * v[i] + .001f * grad[i] * grad[i];
        value[i] -= rate * (m[i] * c1) / (sqrtf(v[i] * c2) + 1e-8f);
    }
}

// An epoch over the nodes to train on, or a look at those to validate on: the mean loss, and in *accuracy the
// share of nodes whose largest logit is that of their label.
static double pass(int part, uint32_t epoch, double* accuracy)
{
    static ggnn_node seeds[BATCH];
    const int64_t    n = num_ids[part];
    int64_t          rows = 0, right = 0;
    double           sum = 0;
    training = part == TRAIN;
    for (int64_t first = 0; first < n; first += BATCH) {
        int64_t count = 0, known = 0;
        for (; count < BATCH && first + count < n; count++) { // no array is shuffled: the order is a function
            seeds[count] = ids[part][training ? ggnn_shuffle(SEED, epoch, first + count, n) : first + count];
            known += label[seeds[count]] >= 0;
        }
        forward(seeds, count);
        const double loss = known ? loss_of(known, &right) / (double)known : 0;
        if (!(loss - loss == 0)) FAIL("epoch %u, step %u: the loss is %g", epoch + 1, step + 1, loss);
        sum += loss * (double)known, rows += known;
        if (training) backward(), step++, update();
    }
    *accuracy = rows ? (double)right / (double)rows : 0;
    return rows ? sum / (double)rows : 0;
}

// ==== setting up ===========================================================================================
// The next rows x cols parameters, in `value` and `grad`: zeros, or uniform by Glorot & Bengio 2010.
static float* parameter(float** d, int32_t l, int32_t rows, int32_t cols, int random)
{
    static int32_t arrays;
    const ggnn_rng rng = {SEED, 0, GGNN_PURPOSE_WEIGHTS};
    const float    limit = (float)sqrt(6. / (rows + cols));
    float*         p = value + num_params;
    for (int64_t i = 0; random && i < (int64_t)rows * cols; i++)
        p[i] = (2 * ggnn_uniform(ggnn_random(&rng, l, arrays, (uint32_t)(i / 4)).word[i % 4]) - 1) * limit;
    *d = grad + num_params;
    num_params += (int64_t)rows * cols, arrays++;
    return p;
}

// Arrays have room for the largest block that a batch may have. What is never touched takes no memory.
static void build_layer(layer* y, int32_t l, int32_t in, int32_t out, int32_t heads)
{
    const ggnn_block* most = &batch.hop[LAYERS - 1 - l];
    const int64_t     D = most->num_dst.max, S = most->num_src.max, E = most->num_edges.max;
    ggnn_gat_layer*   g = &y->gat;
    float*            dw_neigh;
    y->number = l, y->in = in, y->out = out, y->heads = heads;
    y->w = parameter(&y->dw, l, in, out, 1);
    if (model == SAGE) parameter(&dw_neigh, l, in, out, 1); // W_neigh, after W_self
    if (model == GAT) g->att_l = parameter(&g->datt_l, l, heads, out / heads, 1);
    if (model == GAT) g->att_r = parameter(&g->datt_r, l, heads, out / heads, 1);
    y->b = parameter(&y->db, l, 1, out, 0);
    y->x = l ? y[-1].h : floats_new(S, in), y->dx = l ? y[-1].dh : NULL;
    y->a = floats_new(D, 2 * in), y->da = floats_new(D, 2 * in);
    y->src = floats_new(S, 1), y->dst = floats_new(D, 1), y->self = floats_new(D, 1);
    y->h = floats_new(D, out), y->dh = floats_new(D, out);
    y->z = floats_new(S, out), y->dz = floats_new(S, out);
    g->z = y->z, g->out = floats_new(D, out), g->ld_z = g->ld_out = g->width = out, g->heads = heads;
    g->el = floats_new(S, heads), g->del = floats_new(S, heads), g->er = floats_new(D, heads);
    g->der = floats_new(D, heads), g->lse = floats_new(D, heads), g->delta = floats_new(D, heads);
    g->dlogit = floats_new(D + E, heads), g->how.slope = .2f; // of LeakyReLU
}

static const void* section(ggnn_file* f, const char* name, ggnn_file_type type, int32_t dims, int64_t nodes)
{
    const ggnn_file_section* s = ggnn_file_need(f, name, type, dims);
    if (!s) FAIL("%s", f->error);
    const int64_t has = s->dim[type == GGNN_FILE_U8]; // split is (splits, nodes)
    if (nodes >= 0 && has != nodes)
        FAIL("%s: %s is of %lld nodes, the graph of %lld", path, name, (long long)has, (long long)nodes);
    return ggnn_file_data(f, s);
}
static void open_data(void) // the file is mapped, and its arrays are used in place
{
    static ggnn_file     f;
    ggnn_fault           at;
    const ggnn_file_type node = sizeof(ggnn_node) == 8 ? GGNN_FILE_I64 : GGNN_FILE_I32;
    if (!ggnn_file_open(&f, path)) FAIL("%s", f.error);
    const int64_t*   indptr = (const int64_t*)section(&f, "indptr", GGNN_FILE_I64, 1, -1);
    const ggnn_node* indices = (const ggnn_node*)section(&f, "indices", node, 1, -1);
    const int64_t    N = ggnn_file_find(&f, "indptr")->dim[0] - 1, E = ggnn_file_find(&f, "indices")->dim[0];
    const void*      rows = section(&f, "feat", GGNN_FILE_F32, 2, N);
    graph = ggnn_graph_plain(indptr, indices, NULL, N, E);
    features = ggnn_store_plain(rows, N, (int32_t)ggnn_file_find(&f, "feat")->dim[1], GGNN_F32);
    label = (const int32_t*)section(&f, "label", GGNN_FILE_I32, 1, N);
    const uint8_t* split = (const uint8_t*)section(&f, "split", GGNN_FILE_U8, 2, N);
    if (ggnn_graph_validate(&graph, &at)) FAIL("%s: node %lld: %s", path, (long long)at.node, at.what);
    for (int part = 0; part < PARTS; part++) ids[part] = (ggnn_node*)bytes_new((size_t)N * sizeof(ggnn_node));
    for (int64_t i = 0; i < N; i++) {
        if (label[i] < -1 || label[i] > 1 << 20 || split[i] >= PARTS)
            FAIL("%s: node %lld: label %d, split %d", path, (long long)i, (int)label[i], split[i]);
        if (label[i] >= classes) classes = label[i] + 1;
        ids[split[i]][num_ids[split[i]]++] = (ggnn_node)i;
    }
    inv_sqrt = floats_new(N, 1);
    ggnn_gcn_norm(inv_sqrt, &graph);
}

int main(int argc, char** argv)
{
    static const char        usage[] = "usage: train F.ggnn gcn|sage|gat [EPOCHS]\n";
    static const char* const name[MODELS] = {"gcn", "sage", "gat"};
    if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
    if (argc < 3 || argc > 4) return fputs(usage, stderr), 2;
    char*      end = NULL;
    const long epochs = argc > 3 ? strtol(argv[3], &end, 10) : 10;
    while (model < MODELS && strcmp(argv[2], name[model])) model++;
    if (model == MODELS) FAIL("model '%s': gcn, sage or gat", argv[2]);
    if ((end && (*end || end == argv[3])) || epochs < 0 || epochs > 1000000)
        FAIL("epochs '%s': a whole number up to 1000000", argv[3]);
    path = argv[1];
    open_data();
    if (!num_ids[TRAIN] || !classes) FAIL("%s: there are no training nodes, or no labels", path);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, LAYERS);
    how.keep = GGNN_KEEP_TRANSPOSES;
    if (ggnn_batch_new(&batch, &graph, &how, BATCH)) FAIL("batch: %s", batch.fault.what);
    // A layer has at most (2 in + 3) out parameters: W_self and W_neigh, or W, a_l and a_r; and b.
    const int64_t room = 2 * (features.width + LAYERS * (HIDDEN + 2)) * (int64_t)(HIDDEN + classes);
    value = floats_new(4, room), grad = value + room, m = grad + room, v = m + room;
    for (int32_t l = 0; l < LAYERS; l++) {
        const int32_t in = l ? HIDDEN : features.width, last = l == LAYERS - 1;
        build_layer(&net[l], l, in, last ? classes : HIDDEN, last ? 1 : HEADS);
    }
    printf("%s: %lld nodes, %lld edges, %lld parameters\n", path, (long long)graph.num_nodes,
           (long long)graph.num_edges, (long long)num_params);
    for (uint32_t epoch = 0; epoch < (uint32_t)epochs; epoch++) {
        double       accuracy;
        const double loss = pass(TRAIN, epoch, &accuracy);
        pass(VALIDATE, epoch, &accuracy);
        printf("epoch %u  loss %.17g  validation accuracy %.17g\n", epoch + 1, loss, accuracy);
    }
    return 0;
}
