/* ops.c - the CPU backend: its tables, memory, and the function of ggnn.h or gemm.h behind each operation, with its
   time and its bytes. */
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/memory.h"
#include "trainer/cpu/cpu.h"
#include "trainer/cpu/gemm.h"
#include "trainer/cpu/parallel.h"

#define CPU_ENTRY(result, name, parameters) .name = cpu_##name,
static const memory_ops on_memory = {MEMORY_OPS(CPU_ENTRY)};
static const row_ops    on_rows = {ROW_OPS(CPU_ENTRY)};
static const batch_ops  on_batches = {BATCH_OPS(CPU_ENTRY)};
static const math_ops   on_layers = {MATH_OPS(CPU_ENTRY)};
static const struct ops ops_cpu = {&on_memory, &on_rows, &on_batches, &on_layers};

/* ==== the device, memory ======================================================================================== */

bool device_cpu_has_blas(void) { return gemm_blas_available(); }

int32_t device_cpu_threads(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

device* device_open_cpu(int32_t threads, error* why)
{
    device* d = memory_new(sizeof *d, "a device", why);
    if (!d) return NULL;
    d->ops = &ops_cpu;
    d->backend = "cpu";
    d->gemm[0] = gemm_level_name(gemm_used());
    d->gemm[1] = gemm_blas_available() ? "blas" : NULL;
    d->host_memory = true;
    d->most_parts = INT32_MAX;
    d->threads = 1;
#ifdef _OPENMP
    d->threads = threads > 0 ? threads : device_cpu_threads();
#else
    (void)threads;
#endif
    return d;
}

device* cpu_twin(device* d, error* why) { return device_open_cpu(d->threads, why); }
void    cpu_close(device* d) { memory_free(d); }

/* OpenMP keeps the number of threads for each thread that opens teams. */
void cpu_enter(device* d)
{
#ifdef _OPENMP
    omp_set_num_threads(d->threads);
#else
    (void)d;
#endif
}

void* cpu_take(device* d, size_t bytes, const char* what, error* why)
{
    (void)d;
    return memory_new(bytes, what, why);
}

void cpu_give_back(device* d, void* memory)
{
    (void)d;
    memory_free(memory);
}

void cpu_upload(device* d, void* to, const void* from, size_t bytes)
{
    (void)d;
    memcpy(to, from, bytes);
}

void cpu_download(device* d, void* to, const void* from, size_t bytes)
{
    (void)d;
    memcpy(to, from, bytes);
}

const void* cpu_read(device* d, void* to, const void* from, size_t bytes)
{
    (void)d, (void)to, (void)bytes;
    return from;
}

const void* cpu_pin(device* d, const void* host, size_t bytes, const char* what, bool* copied, error* why)
{
    (void)d, (void)bytes, (void)what, (void)copied, (void)why;
    return host;
}

void cpu_unpin(device* d, const void* host) { (void)d, (void)host; }

void* cpu_take_host(device* d, size_t bytes, const char* what, error* why) { return cpu_take(d, bytes, what, why); }
void cpu_give_back_host(device* d, void* memory) { cpu_give_back(d, memory); }

void cpu_fetch(device* d, void* to, const void* from, size_t bytes)
{
    (void)d;
    memcpy(to, from, bytes);
}

int64_t cpu_room(device* d)
{
    (void)d;
    return INT64_MAX;
}

/* Processes share a CPU's memory by comm_share. */
bool cpu_lend(device* d, void* memory, char handle[DEVICE_HANDLE], error* why)
{
    (void)d, (void)memory, (void)handle;
    return error_set(why, "memory of a CPU is not lent");
}

void* cpu_borrow(device* d, const char handle[DEVICE_HANDLE], error* why)
{
    (void)d, (void)handle;
    error_set(why, "memory of a CPU is not lent");
    return NULL;
}

void cpu_give_borrowed(device* d, void* memory) { (void)d, (void)memory; }

double cpu_link(device* d, const char bus[DEVICE_BUS])
{
    (void)d, (void)bus;
    return 1;
}

bool cpu_reach(device* d, const void* memory, error* why)
{
    (void)d, (void)memory, (void)why;
    return true;
}

void cpu_settle(device* d) { (void)d; }

/* ==== set-up ==================================================================================================== */

void cpu_plan(net* n)
{
    extent t = n->most_transposed;
    int64_t rows = n->most_rows, edges = n->edge_rows.rows.max, inner = rows > n->widest ? rows : n->widest;
    if (edges > inner) inner = edges; /* GAT's product over rows of edges */
    void* memory = net_take(n, ggnn_block_transpose_bytes(t.dst, t.src, t.edges), 1);
    if (memory) ggnn_block_transpose_init(&n->transpose, t.dst, t.src, t.edges, memory);
    n->workspace = net_take(n, gemm_workspace_bytes(rows, n->widest, inner), 1);
}

void cpu_forget(net* n) { (void)n; }

ggnn_status cpu_whole(net* n, ggnn_block* b, int64_t counts[3], int32_t* copy)
{
    return ggnn_block_whole(b, n->data.graph, counts, copy);
}

void cpu_gcn_norm(net* n, float* inv_sqrt) { ggnn_gcn_norm(inv_sqrt, n->data.graph); }

void cpu_range(device* d, ggnn_node* out, int64_t first, int64_t n)
{
    (void)d;
    for (int64_t i = 0; i < n; i++) out[i] = (ggnn_node)(first + i);
}

size_t cpu_split_bytes(int64_t n, int32_t parts)
{
    (void)n, (void)parts;
    return 0;
}

void cpu_split(device* d, int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at, const ggnn_node* id,
               int64_t n, void* workspace)
{
    (void)d, (void)workspace;
    ggnn_split(gather, scatter, bound, at, id, n);
}

void cpu_permute(device* d, void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type, int32_t width,
                 const int32_t* index, int64_t n)
{
    (void)d;
    ggnn_permute(out, ld_out, inp, ld_inp, type, width, index, n);
}

void cpu_gather(device* d, void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from, const ggnn_node* id, int64_t n)
{
    (void)d;
    ggnn_gather(out, ld_out, as, from, id, n);
}

void cpu_number(device* d, ggnn_node* place, const ggnn_node* id, int64_t n)
{
    (void)d;
    for (int64_t i = 0; i < n; i++) place[id[i]] = (ggnn_node)i;
}

typedef struct {
    float* out;
    int64_t ld_out;
    int32_t width;
    const float* inp;
    const int32_t* index;
} sum_job;

static void zero_part(void* context, int64_t begin, int64_t end)
{
    const sum_job* job = context;
    for (int64_t i = begin; i < end; i++) memset(job->out + i * job->ld_out, 0, (size_t)job->width * sizeof *job->out);
}

static void sum_part(void* context, int64_t begin, int64_t end)
{
    const sum_job* job = context;
    for (int64_t i = begin; i < end; i++) {
        float* out = job->out + job->index[i] * job->ld_out;
        const float* inp = job->inp + i * job->width;
        for (int32_t j = 0; j < job->width; j++) out[j] += inp[j];
    }
}

void cpu_sum_rows(device* d, float* out, int64_t ld_out, int64_t rows, int32_t width, const float* inp,
                  const int32_t* index, const int64_t* bound, int32_t parts)
{
    enum { PIECE = 1 << 8 };
    (void)d;
    sum_job job = {out, ld_out, width, inp, index};
    parallel_for(rows, PIECE, zero_part, &job);
    for (int32_t p = 0; p < parts; p++) {
        sum_job part = job;
        part.inp += bound[p] * width;
        part.index += bound[p];
        parallel_for(bound[p + 1] - bound[p], PIECE, sum_part, &part);
    }
}

int64_t cpu_count_known(net* n)
{
    int64_t known = 0;
    for (int64_t v = 0; v < n->data.graph->num_nodes; v++) known += label_known(&n->data.labels, (ggnn_node)v);
    return known;
}

void cpu_begin(net* n) { (void)n; }
void cpu_compute(net* n, const mini_batch* b)
{
    const double start = cpu_start();
    net_run(n, b);
    n->profile.train += cpu_start() - start;
}

void cpu_set_losses(net* n, const net_losses* losses) { n->losses = *losses; }

net_losses cpu_losses(net* n, bool wait)
{
    (void)wait;
    return n->losses;
}

/* ==== operations ================================================================================================ */

static int64_t bytes_of(mat a) { return mat_rows(a) * a.cols * (int64_t)sizeof(float); }
static int64_t edges_of(const ggnn_block* b) { return *b->num_edges.n; }

void cpu_gemm(net* n, mat c, mat a, bool at, mat b, bool bt, float beta)
{
    if (a.sparse) {
        cpu_sparse_gemm(n, c, a, at, b);
        return;
    }
    double  start = cpu_start();
    int64_t rows = mat_rows(c), inner = at ? mat_rows(a) : a.cols;
    (n->config.blas ? gemm_blas : gemm)(c.v, c.ld, a.v, a.ld, at, b.v, b.ld, bt, rows, c.cols, inner, beta,
                                        n->workspace);
    n->profile.flops[n->backward] += 2 * rows * c.cols * inner;
    cpu_stop(n, NET_GEMM, start, bytes_of(a) + bytes_of(b) + bytes_of(c));
}

void cpu_read_rows(net* n, mat out, mat x)
{
    double  start = cpu_start();
    int64_t width = x.store ? ggnn_type_bytes(x.store->type) : (int64_t)sizeof(float);
    if (x.v) cpu_copy(out, x);
    else ggnn_gather(out.v, out.ld, GGNN_F32, x.store, x.id, mat_rows(out));
    cpu_stop(n, x.v ? NET_ELEMENTWISE : NET_GATHER, start, bytes_of(out) + mat_rows(out) * out.cols * width);
}

void cpu_read_edges(net* n, mat out, const ggnn_store* from, const ggnn_block* b)
{
    double start = cpu_start();
    ggnn_gather_edges(out.v, out.ld, GGNN_F32, from, b->position, edges_of(b));
    cpu_stop(n, NET_GATHER, start, bytes_of(out) + edges_of(b) * out.cols * ggnn_type_bytes(from->type));
}

void cpu_transpose(net* n, ggnn_block* t, const ggnn_block* b)
{
    double start = cpu_start();
    ggnn_block_transpose(t, b);
    cpu_stop(n, NET_AGGREGATE, start, 16 * edges_of(b)); /* two index arrays of each, read and written */
}

typedef struct {
    int32_t* indices;
    const ggnn_node* id;
    int32_t first;
} index_job;

static void index_part(void* context, int64_t begin, int64_t end)
{
    const index_job* job = context;
    for (int64_t e = begin; e < end; e++) job->indices[e] = job->first + (int32_t)job->id[e];
}

void cpu_index_by_id(net* n, int32_t* indices, const ggnn_block* b, int32_t first)
{
    double start = cpu_start();
    index_job job = {indices, b->neighbor, first};
    parallel_for(edges_of(b), 1 << 14, index_part, &job);
    cpu_stop(n, NET_AGGREGATE, start, edges_of(b) * (int64_t)(sizeof *indices + sizeof(ggnn_node)));
}

void cpu_scale_mean(net* n, float* inv, const ggnn_block* b, bool with_self)
{
    double start = cpu_start();
    ggnn_scale_mean(inv, b, with_self);
    cpu_stop(n, NET_AGGREGATE, start, 12 * *b->num_dst.n);
}

void cpu_scale_weights(net* n, float* inv, const ggnn_block* b, const float* weight)
{
    double start = cpu_start();
    ggnn_scale_weights(inv, b, weight);
    cpu_stop(n, NET_AGGREGATE, start, 4 * edges_of(b) + 12 * *b->num_dst.n);
}

void cpu_scale_gcn(net* n, float* src, float* dst, float* self, const ggnn_block* b)
{
    double start = cpu_start();
    ggnn_scale_gcn(src, dst, self, b, n->inv_sqrt, n->data.graph);
    cpu_stop(n, NET_AGGREGATE, start, (src ? 8 * *b->num_src.n : 0) + 20 * *b->num_dst.n);
}

/* Each edge reads a row and an index. */
static int64_t aggregate_bytes(const ggnn_block* b, mat out, int64_t element)
{
    return edges_of(b) * (out.cols * element + (int64_t)sizeof(int32_t)) + bytes_of(out);
}

void cpu_aggregate(net* n, mat out, int32_t* arg, ggnn_reduce how, const ggnn_block* b, const ggnn_scale* s,
                   const float* weight, mat x)
{
    double  start = cpu_start();
    int64_t element = x.v ? (int64_t)sizeof(float) : ggnn_type_bytes(x.store->type);
    if (x.v) ggnn_spmm(out.v, out.ld, arg, how, b, s, weight, 1, x.v, x.ld, x.cols);
    else ggnn_aggregate(out.v, out.ld, how, b, s, weight, 1, x.store);
    cpu_stop(n, x.v ? NET_AGGREGATE : NET_GATHER, start, aggregate_bytes(b, out, element));
}

void cpu_own_and_mean(net* n, mat out, float* inv, const ggnn_block* b, mat x)
{
    cpu_read_rows(n, mat_columns(out, 0, x.cols), mat_head(x, b->num_dst));
    cpu_aggregate(n, mat_columns(out, x.cols, x.cols), NULL, GGNN_MEAN, b, NULL, NULL, x);
    if (inv) cpu_scale_mean(n, inv, b, false);
}

bool cpu_aggregate_back(net* n, mat dx, const ggnn_block* t, const ggnn_scale* s, const float* weight, mat d, mat own,
                        const layer* before)
{
    (void)before; /* finish_back goes through activation, dropout and sums in one */
    cpu_aggregate(n, dx, NULL, GGNN_SUM, t, s, weight, d);
    if (own.v) cpu_add(n, dx, own);
    return false;
}

void cpu_mean_edges(net* n, mat out, const ggnn_block* b, mat edge)
{
    double start = cpu_start();
    ggnn_spmm_edges(out.v, out.ld, NULL, GGNN_MEAN, GGNN_EDGE_COPY, b, NULL, NULL, 1, NULL, 0, edge.v, edge.ld, out.cols);
    cpu_stop(n, NET_AGGREGATE, start, bytes_of(edge) + bytes_of(out));
}

void cpu_aggregate_arg_back(net* n, mat dx, const ggnn_block* t, const ggnn_block* b, mat dout,
                            const int32_t* arg)
{
    double start = cpu_start();
    ggnn_spmm_back_arg(dx.v, dx.ld, t, b, NULL, 1, dout.v, dout.ld, arg, dout.cols);
    cpu_stop(n, NET_AGGREGATE, start, aggregate_bytes(b, dx, (int64_t)sizeof(float)));
}

void cpu_scores(net* n, float* e, mat z, mat a)
{
    double start = cpu_start();
    ggnn_scores(e, z.v, z.ld, a.v, mat_rows(z), (int32_t)mat_rows(a), z.cols);
    cpu_stop(n, NET_AGGREGATE, start, bytes_of(z));
}

void cpu_scores_back(net* n, mat dz, mat da, const float* de, mat z, mat a)
{
    double start = cpu_start();
    ggnn_scores_back(dz.v, dz.ld, da.v, de, z.v, z.ld, a.v, mat_rows(z), (int32_t)mat_rows(a), z.cols);
    cpu_stop(n, NET_AGGREGATE, start, 3 * bytes_of(z));
}

static int64_t term_bytes(const ggnn_gat_layer* y) { return y->term ? edges_of(y->block) * y->heads * (int64_t)sizeof(float) : 0; }

void cpu_attend(net* n, const ggnn_gat_layer* y)
{
    double start = cpu_start();
    mat out = {.cols = y->width, .rows = y->block->num_dst};
    const mat sources = {.cols = y->width, .rows = y->block->num_src};
    ggnn_gat(y);
    cpu_stop(n, NET_AGGREGATE, start, (y->att_l ? bytes_of(sources) : 0) + (y->att_r ? bytes_of(out) : 0) +
                                          aggregate_bytes(y->block, out, (int64_t)sizeof(float)) + term_bytes(y));
}

void cpu_attend_back(net* n, mat dz, const ggnn_block* t, const ggnn_gat_layer* y, mat dout)
{
    double start = cpu_start();
    ggnn_gat_back(dz.v, dz.ld, t, y, dout.v, dout.ld);
    int64_t scores = (y->att_l ? bytes_of(dz) : 0) + (y->att_r ? 3 * bytes_of(dout) : 0); /* el's reach dz as it is made */
    cpu_stop(n, NET_AGGREGATE, start,
             2 * (aggregate_bytes(y->block, dz, (int64_t)sizeof(float)) + term_bytes(y)) + scores);
}
