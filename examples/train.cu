// train.cu - examples/train.c on a GPU, function by function. Read that first: what differs is said here.
//   make && build/ggnn-data generate planted planted.ggnn
//   nvcc -std=c++17 -O2 -arch=native -I. examples/train.cu -o train && ./train planted.ggnn sage
// Without a GPU: make emulated && build/train-emulated planted.ggnn sage
//
// It needs ggnn.h, ggnn_cuda.cuh, datasets/ggnn_file.h and the CUDA Toolkit. Its losses are within 1e-5 of those of
// train.c: exponentials and products are rounded otherwise.
//
// All arrays are in managed memory, which host and device address alike. A call of the library puts kernels on the
// default stream and returns. So the host calls `wait` before it reads what kernels write, or writes what they read.
// ggnn-train --backend cuda never waits for a size, captures a step as a graph, and multiplies by cuBLAS.
//
// A block is one hop of a mini-batch: edges from S sources to D targets. The targets are the first D sources.
// The comment beside an array is its shape, row after row. dX is the gradient of the loss with respect to X.
#define GGNN_CUDA_IMPLEMENTATION
#define GGNN_IMPLEMENTATION
#define GGNN_FILE_IMPLEMENTATION
#include "datasets/ggnn_file.h"
#include "ggnn_cuda.cuh"
#include <stdio.h>

// Change these and compile again.
enum { LAYERS = 2, HIDDEN = 64, HEADS = 4, BATCH = 1024, SEED = 1 };
static const int32_t fanout[LAYERS] = {10, 5}; // neighbours sampled per node, from the seeds outward; -1: all
constexpr float      dropout = .5f;            // the share of hidden layers' outputs that is set to 0
constexpr float      rate = 3e-3f;             // of learning
static_assert(HIDDEN % HEADS == 0, "HEADS divides HIDDEN");

enum { GCN, SAGE, GAT, MODELS };
enum { UNUSED, TRAIN, VALIDATE, TEST, PARTS }; // of the nodes, by the file's split
enum { SEGMENT = 256, THREADS = 256 }; // a long sum is cut into parts of so many terms; threads of a thread block

struct layer { // and what forward leaves for backward
    int32_t           number, in, out, heads;
    const ggnn_block* block;               // of this mini-batch,
    ggnn_block        back;                // its transpose: the way of gradients
    void*             back_workspace;
    int64_t           D, S;                // targets and sources of the block
    float *           w, *dw;              // (in, out)  GraphSAGE: (2 in, out), W_self above W_neigh
    float *           b, *db;              // (out)
    float *           x, *dx;              // (S, in)  h and dh of the layer before; layer 0: features
    float *           a, *da;              // (D, in)  GCN: A x; (D, 2 in)  GraphSAGE: [x_v | mean of x_u]
    float *           src, *dst, *self;    // (S), (D), (D)  factors of an edge: source's, target's; of itself
    float *           z, *dz;              // (S, out)  GAT: x W
    ggnn_gat_layer    gat;                 // attention over z: a_l, a_r and other arrays, of shapes in ggnn.h
    float *           h, *dh;              // (D, out)  output; of the last layer: logits
};

static int            model, training;
static layer          net[LAYERS];
static const char*    path;                 // of the data:
static ggnn_graph     graph;                // in-neighbours of each node
static ggnn_store     features;             // (nodes, features.width)
static const int32_t* label;                // (nodes)  in [0, classes); -1: unknown
static ggnn_node*     ids[PARTS];           // (num_ids[part])  nodes of each part, ascending
static int32_t        classes;
static float*         inv_sqrt;             // (nodes)  GCN: 1 / sqrt(degree + 1)
static ggnn_cuda_batch batch;               // ids and blocks, made on the device
static ggnn_node*     seeds;                // (BATCH)
static double*        seed_loss;            // (BATCH)
static int32_t*       seed_right;           // (BATCH)
static ggnn_rng*      rng;                  // the keys of the samples
static float*         one;                  // 1
static float *        value, *grad, *m, *v; // (num_params)  all parameters, gradients, Adam's moments
static int64_t        num_params, num_ids[PARTS];
static uint32_t       step;                 // mini-batches so far: a part of every random number's key

#define FAIL(...) (fprintf(stderr, "train: " __VA_ARGS__), fputc('\n', stderr), exit(1))

static void check(cudaError_t error)
{
    if (error != cudaSuccess) FAIL("%s", cudaGetErrorString(error));
}
static void wait() { check(cudaDeviceSynchronize()); } // until all kernels have run

template <class T> static T* array(int64_t n) // managed memory
{
    void* p = nullptr;
    check(cudaMallocManaged(&p, (size_t)n * sizeof(T) + 1));
    return (T*)p;
}
template <class T> static T* copy_of(const T* from, int64_t n)
{
    T* p = array<T>(n);
    memcpy(p, from, (size_t)n * sizeof(T));
    return p;
}

// kernel<<<blocks, THREADS>>>(n, args...), a thread for each i in [0, n), in words that every C++ compiler knows.
template <class... P, class... A> static void each(int64_t n, void (*kernel)(int64_t, P...), A... args)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)((n + THREADS - 1) / THREADS));
    config.blockDim = dim3(THREADS);
    if (n > 0) check(cudaLaunchKernelEx(&config, kernel, n, (P)args...));
}
__device__ static int64_t thread_number() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }

// ==== dense algebra ========================================================================================
// c (M, N) = a (M, K) b (K, N). a[i,k] lies at a[i * a_i + k * a_k], so that a transpose swaps two steps. Each
// thread makes one element of c, which is the plainest way. cuBLAS is many times as fast.
static __global__ void gemm_kernel(int64_t n, float* c, int64_t N, int64_t K, const float* a, int64_t a_i, int64_t a_k,
                                   const float* b, int64_t b_k, int64_t b_j)
{
    const int64_t at = thread_number(), i = at / N, j = at % N;
    float         sum = 0;
    if (at >= n) return;
    for (int64_t first = 0; first < K; first += SEGMENT) {
        float part = 0;
        for (int64_t k = first; k < K && k < first + SEGMENT; k++)
            part = __fmaf_rn(a[i * a_i + k * a_k], b[k * b_k + j * b_j], part);
        sum += part;
    }
    c[at] = sum;
}
static void gemm(float* c, int64_t M, int64_t N, int64_t K, const float* a, int64_t a_i, int64_t a_k, const float* b,
                 int64_t b_k, int64_t b_j)
{
    each(M * N, gemm_kernel, c, N, K, a, a_i, a_k, b, b_k, b_j);
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
// x (.., cols) += the first columns of y (.., ld_y)
static __global__ void add_kernel(int64_t n, float* x, const float* y, int32_t cols, int64_t ld_y)
{
    const int64_t i = thread_number();
    if (i < n) x[i] += y[i / cols * ld_y + i % cols];
}

static void gcn_forward(layer* y) // h = A x W
{
    const ggnn_scale A = {y->src, y->dst, y->self};
    check(ggnn_cuda_scale_gcn(y->src, y->dst, y->self, y->block, inv_sqrt, &graph, nullptr));
    check(ggnn_cuda_spmm(y->a, y->in, nullptr, GGNN_SUM, y->block, &A, nullptr, 1, y->x, y->in, y->in, nullptr));
    linear(y, y->h, y->a, y->D, y->in); // h = a W, a = A x
}
static void gcn_backward(layer* y)
{
    const ggnn_scale At = {y->dst, y->src, y->self};
    linear_back(y, y->da, y->dh, y->a, y->D, y->in); // dW = a' dh, da = dh W', dx = A' da
    if (y->number == 0) return;
    check(ggnn_cuda_spmm(y->dx, y->in, nullptr, GGNN_SUM, &y->back, &At, nullptr, 1, y->da, y->in, y->in, nullptr));
}

static void sage_forward(layer* y) // h = [x_v | mean of x_u] W
{
    const int32_t I = y->in;
    const size_t  row = (size_t)I * sizeof(float), rows = (size_t)y->D;
    check(ggnn_cuda_spmm(y->a + I, 2 * I, nullptr, GGNN_MEAN, y->block, nullptr, nullptr, 1, y->x, I, I, nullptr));
    check(cudaMemcpy2DAsync(y->a, 2 * row, y->x, row, row, rows, cudaMemcpyDeviceToDevice, nullptr));
    linear(y, y->h, y->a, y->D, 2 * I);
}
static void sage_backward(layer* y)
{
    const int32_t    I = y->in;
    const ggnn_scale transposed = {y->dst, nullptr, nullptr};
    linear_back(y, y->da, y->dh, y->a, y->D, 2 * I);
    if (y->number == 0) return;
    check(ggnn_cuda_scale_mean(y->dst, y->block, 0, nullptr));
    check(ggnn_cuda_spmm(y->dx, I, nullptr, GGNN_SUM, &y->back, &transposed, nullptr, 1, y->da + I, 2 * I, I, nullptr));
    each(y->D * I, add_kernel, y->dx, y->da, I, 2 * I);
}

static void gat_forward(layer* y) // z = x W, h = attention over z
{
    linear(y, y->z, y->x, y->S, y->in);
    y->gat.block = y->block;
    check(ggnn_cuda_gat(&y->gat, nullptr, nullptr));
    check(cudaMemcpyAsync(y->h, y->gat.out, (size_t)(y->D * y->out) * sizeof(float), cudaMemcpyDeviceToDevice));
}
static void gat_backward(layer* y)
{
    check(ggnn_cuda_gat_back(y->dz, y->out, &y->back, &y->gat, y->dh, y->out, nullptr, nullptr));
    linear_back(y, y->dx, y->dz, y->x, y->S, y->in);
}

// ==== the rest of a layer: h = dropout(activation(h + b)); of the last one: h + b ==========================
// x / (1 - dropout), or 0; t: the step, l: the layer, j: the column
__device__ static float drop(float x, uint32_t t, int32_t l, ggnn_node node, int32_t j)
{
    const ggnn_rng   key = {SEED, t, GGNN_PURPOSE_DROPOUT};
    const ggnn_words words = ggnn_random(&key, l + 1, node, (uint32_t)j / 8);
    const uint32_t   threshold = ggnn_dropout_threshold(dropout);
    return ggnn_dropout_field(words, j) < threshold ? 0 : x * ggnn_dropout_scale(threshold);
}
static __global__ void finish_kernel(int64_t n, float* h, const float* b, int32_t cols, int32_t l, bool elu, bool drops,
                                     uint32_t t, const ggnn_node* id)
{
    const int64_t i = thread_number();
    if (i >= n) return;
    const int32_t j = (int32_t)(i % cols);
    float         x = h[i] + b[j];
    if (x < 0 && l < LAYERS - 1) x = elu ? expf(x) - 1 : 0;
    h[i] = drops && l < LAYERS - 1 ? drop(x, t, l, id[i / cols], j) : x;
}
static void finish_forward(layer* y)
{
    each(y->D * y->out, finish_kernel, y->h, y->b, y->out, y->number, model == GAT, training, step, y->block->id);
}
static __global__ void finish_back_kernel(int64_t n, float* dh, const float* h, int32_t cols, int32_t l, bool elu,
                                          uint32_t t, const ggnn_node* id)
{
    const int64_t i = thread_number();
    const float   scale = ggnn_dropout_scale(ggnn_dropout_threshold(dropout));
    if (i >= n) return;
    if (!elu) dh[i] = h[i] > 0 ? dh[i] * scale : 0;
    else dh[i] = drop(h[i] < 0 ? dh[i] * (h[i] / scale + 1) : dh[i], t, l, id[i / cols], (int32_t)(i % cols));
}
static void finish_backward(layer* y)
{
    if (y->number < LAYERS - 1)
        each(y->D * y->out, finish_back_kernel, y->dh, y->h, y->out, y->number, model == GAT, step, y->block->id);
    gemm(y->db, 1, y->out, y->D, one, 0, 0, y->dh, y->out, 1); // db = the sum of dh over rows: ones' dh
}

// ==== a step: sample, forward, loss, backward, update ======================================================
static void forward(int64_t count)
{
    rng->seed = SEED, rng->step = training ? step : 0;
    rng->purpose = training ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_EVALUATE;
    check(ggnn_cuda_sample(&batch, &graph, rng, seeds, {nullptr, count}, nullptr));
    check(ggnn_cuda_gather(net[0].x, net[0].in, GGNN_F32, &features, batch.id, batch.hop[LAYERS - 1].num_src, nullptr));
    wait();
    if (*batch.status) FAIL("%s: %s", path, ggnn_status_string((ggnn_status)*batch.status));
    for (int l = 0; l < LAYERS; l++) {
        layer* y = &net[l];
        y->block = &batch.hop[LAYERS - 1 - l];
        y->D = *y->block->num_dst.n, y->S = *y->block->num_src.n; // the kernels that wrote them have run
        if (model == GCN) gcn_forward(y);
        if (model == SAGE) sage_forward(y);
        if (model == GAT) gat_forward(y);
        finish_forward(y);
    }
    wait();
}

// A thread for each seed. d = the gradient of the mean over the `known` labelled seeds.
static __global__ void loss_kernel(int64_t n, double* loss, int32_t* right, float* dlogits, const float* logits,
                                   int32_t C, const int32_t* labels, const ggnn_node* id, int64_t known)
{
    const int64_t i = thread_number();
    if (i >= n) return;
    const float*  x = logits + i * C;
    float *       d = dlogits + i * C, sum = 0;
    const int32_t c = labels[id[i]];
    int32_t       most = 0;
    loss[i] = right[i] = 0;
    for (int32_t j = 0; j < C; j++) d[j] = 0;
    if (c < 0) return;
    for (int32_t j = 1; j < C; j++) most = x[j] > x[most] ? j : most;
    for (int32_t j = 0; j < C; j++) sum += d[j] = expf(x[j] - x[most]);
    for (int32_t j = 0; j < C; j++) d[j] = (d[j] / sum - (j == c ? 1.0f : 0.0f)) / (float)known;
    loss[i] = log((double)sum) - ((double)x[c] - (double)x[most]);
    right[i] = most == c;
}
static double loss_of(int64_t known, int64_t* right)
{
    const layer* last = &net[LAYERS - 1];
    double       total = 0;
    each(last->D, loss_kernel, seed_loss, seed_right, last->dh, last->h, classes, label, batch.id, known);
    wait();
    for (int64_t i = 0; i < last->D; i++) total += seed_loss[i], *right += seed_right[i];
    return total;
}

static void backward()
{
    for (int l = LAYERS - 1; l >= 0; l--) {
        layer* y = &net[l];
        finish_backward(y);
        check(ggnn_cuda_block_transpose(&y->back, y->block, y->back_workspace, nullptr));
        if (model == GCN) gcn_backward(y);
        if (model == SAGE) sage_backward(y);
        if (model == GAT) gat_backward(y);
    }
}

static __global__ void update_kernel(int64_t n, float* x, float* m1, float* m2, const float* g, float c1, float c2)
{
    const int64_t i = thread_number();
    if (i >= n) return;
    m1[i] = .9f * m1[i] + .1f * g[i];
    m2[i] = .999f * m2[i] + .001f * g[i] * g[i];
    x[i] -= rate * (m1[i] * c1) / (sqrtf(m2[i] * c2) + 1e-8f);
}
static void update() // Adam, Kingma & Ba 2015, algorithm 1
{
    const float c1 = (float)(1 / (1 - pow(.9, step))), c2 = (float)(1 / (1 - pow(.999, step)));
    each(num_params, update_kernel, value, m, v, grad, c1, c2);
}

// An epoch over the nodes to train on, or a look at those to validate on: the mean loss, and in *accuracy the
// share of nodes whose largest logit is that of their label.
static double pass(int part, uint32_t epoch, double* accuracy)
{
    const int64_t n = num_ids[part];
    int64_t       rows = 0, right = 0;
    double        sum = 0;
    training = part == TRAIN;
    for (int64_t first = 0; first < n; first += BATCH) {
        int64_t count = 0, known = 0;
        for (; count < BATCH && first + count < n; count++) { // no array is shuffled: the order is a function
            seeds[count] = ids[part][training ? ggnn_shuffle(SEED, epoch, first + count, n) : first + count];
            known += label[seeds[count]] >= 0;
        }
        forward(count);
        const double loss = known ? loss_of(known, &right) / (double)known : 0;
        if (!(loss - loss == 0)) FAIL("epoch %u, step %u: the loss is %g", epoch + 1, step + 1, loss);
        sum += loss * (double)known, rows += known;
        if (training) backward(), step++, update();
        wait(); // before the host writes the next seeds
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

// Arrays have room for the largest block that a batch may have.
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
    y->x = l ? y[-1].h : array<float>(S * in), y->dx = l ? y[-1].dh : nullptr;
    y->a = array<float>(D * 2 * in), y->da = array<float>(D * 2 * in);
    y->src = array<float>(S), y->dst = array<float>(D), y->self = array<float>(D);
    y->h = array<float>(D * out), y->dh = array<float>(D * out);
    y->z = array<float>(S * out), y->dz = array<float>(S * out);
    g->z = y->z, g->out = array<float>(D * out), g->ld_z = g->ld_out = g->width = out, g->heads = heads;
    g->el = array<float>(S * heads), g->del = array<float>(S * heads), g->er = array<float>(D * heads);
    g->der = array<float>(D * heads), g->lse = array<float>(D * heads), g->delta = array<float>(D * heads);
    g->dlogit = array<float>((D + E) * heads), g->coef = array<float>((D + E) * heads);
    g->partial = array<float>(2 * (S / 256 + 1) * out);
    g->how.slope = .2f; // of LeakyReLU
    y->back_workspace = array<char>((int64_t)ggnn_cuda_block_transpose_workspace_bytes(S));
    ggnn_cuda_block_transpose_init(&y->back, D, S, E,
                                   array<char>((int64_t)ggnn_cuda_block_transpose_bytes(D, S, E)));
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
static void open_data() // the file is mapped, and its arrays are copied
{
    static ggnn_file     f;
    ggnn_fault           at;
    const ggnn_file_type node = sizeof(ggnn_node) == 8 ? GGNN_FILE_I64 : GGNN_FILE_I32;
    if (!ggnn_file_open(&f, path)) FAIL("%s", f.error);
    const int64_t*   indptr = (const int64_t*)section(&f, "indptr", GGNN_FILE_I64, 1, -1);
    const ggnn_node* indices = (const ggnn_node*)section(&f, "indices", node, 1, -1);
    const int64_t    N = ggnn_file_find(&f, "indptr")->dim[0] - 1, E = ggnn_file_find(&f, "indices")->dim[0];
    const float*     rows = (const float*)section(&f, "feat", GGNN_FILE_F32, 2, N);
    const int32_t    width = (int32_t)ggnn_file_find(&f, "feat")->dim[1];
    graph = ggnn_graph_plain(indptr, indices, nullptr, N, E);
    label = (const int32_t*)section(&f, "label", GGNN_FILE_I32, 1, N);
    const uint8_t* split = (const uint8_t*)section(&f, "split", GGNN_FILE_U8, 2, N);
    if (ggnn_graph_validate(&graph, &at)) FAIL("%s: node %lld: %s", path, (long long)at.node, at.what);
    for (int part = 0; part < PARTS; part++) ids[part] = array<ggnn_node>(N);
    for (int64_t i = 0; i < N; i++) {
        if (label[i] < -1 || label[i] > 1 << 20 || split[i] >= PARTS)
            FAIL("%s: node %lld: label %d, split %d", path, (long long)i, (int)label[i], split[i]);
        if (label[i] >= classes) classes = label[i] + 1;
        ids[split[i]][num_ids[split[i]]++] = (ggnn_node)i;
    }
    graph = ggnn_graph_plain(copy_of(indptr, N + 1), copy_of(indices, E), nullptr, N, E);
    features = ggnn_store_plain(copy_of(rows, N * width), N, width, GGNN_F32);
    label = copy_of(label, N);
    inv_sqrt = array<float>(N);
    check(ggnn_cuda_gcn_norm(inv_sqrt, &graph, nullptr));
}

int main(int argc, char** argv)
{
    static const char        usage[] = "usage: train F.ggnn gcn|sage|gat [EPOCHS]\n";
    static const char* const name[MODELS] = {"gcn", "sage", "gat"};
    if (argc == 2 && !strcmp(argv[1], "--help")) return fputs(usage, stdout) < 0;
    if (argc < 3 || argc > 4) return fputs(usage, stderr), 2;
    char*      end = nullptr;
    const long epochs = argc > 3 ? strtol(argv[3], &end, 10) : 10;
    while (model < MODELS && strcmp(argv[2], name[model])) model++;
    if (model == MODELS) FAIL("model '%s': gcn, sage or gat", argv[2]);
    if ((end && (*end || end == argv[3])) || epochs < 0 || epochs > 1000000)
        FAIL("epochs '%s': a whole number up to 1000000", argv[3]);
    path = argv[1];
    open_data();
    if (!num_ids[TRAIN] || !classes) FAIL("%s: there are no training nodes, or no labels", path);
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, LAYERS);
    if (ggnn_cuda_batch_plan(&batch, &graph, &how, BATCH, nullptr)) FAIL("batch: %s", batch.fault.what);
    check(ggnn_cuda_batch_init(&batch, array<char>((int64_t)batch.bytes), nullptr));
    seeds = array<ggnn_node>(BATCH), seed_loss = array<double>(BATCH), seed_right = array<int32_t>(BATCH);
    rng = array<ggnn_rng>(1), one = array<float>(1), *one = 1;
    const int64_t room = 2 * (features.width + LAYERS * (HIDDEN + 2)) * (int64_t)(HIDDEN + classes); // as train.c
    value = array<float>(4 * room), grad = value + room, m = grad + room, v = m + room;
    memset(value, 0, (size_t)(4 * room) * sizeof(float));
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
