/* sparse.c - features without their zeros: of bags of words all but one entry in a hundred. Their products are
   those of ggnn.h, a row of X as a target's list of columns, its values as weights:
       X W   = ggnn_spmm over X's entries,     a row of W for each,
       X' dz = ggnn_spmm over their transpose, a row of dz for each. */
#include "common/memory.h"
#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

enum { ROWS = 256, DENSEST = 10 /* one entry in so many; with more the product of all is as quick */ };

struct sparse_features {
    ggnn_block entries, transpose;
    int64_t counts[3];
    float *value, *dropped;     /* (entries): of the file, and of this step */
    void *memory, *transposed;
};

/* Counts entries, in the order of rows, and puts them into x once it has memory; stops beyond `most`. rows: ROWS of
   them to work on. */
static int64_t find_entries(const net* n, sparse_features* x, float* rows, int64_t most)
{
    const ggnn_store* from = n->data.features;
    int64_t found = 0, nodes = x->counts[0];
    for (int64_t first = 0; first < nodes; first += ROWS) {
        int64_t count = nodes - first < ROWS ? nodes - first : ROWS;
        ggnn_gather(rows, from->width, GGNN_F32, from, n->whole.batch.blocks.id + first, count);
        for (int64_t i = 0; i < count; i++) {
            for (int32_t j = 0; j < from->width; j++) {
                float value = rows[i * from->width + j];
                if (value == 0) continue;
                if (found == most) return most + 1;
                if (x->memory) {
                    x->entries.indices[found] = j;
                    x->value[found] = value;
                }
                found++;
            }
            if (x->memory) x->entries.indptr[first + i + 1] = found;
        }
    }
    return found;
}

static bool place_entries(const net* n, sparse_features* x, float* rows, error* why)
{
    int64_t nodes = x->counts[0], width = x->counts[1], found = x->counts[2];
    size_t  indptr = ((size_t)nodes + 1) * sizeof(int64_t), column = (size_t)found * sizeof(float);
    x->memory = memory_new(indptr + 3 * column, "features without their zeros", why);
    if (!x->memory) return false;
    x->transposed = memory_new(ggnn_block_transpose_bytes(nodes, width, found), "their transpose", why);
    if (!x->transposed) return false;
    x->entries.num_dst = (ggnn_count){&x->counts[0], nodes};
    x->entries.num_src = (ggnn_count){&x->counts[1], width};
    x->entries.num_edges = (ggnn_count){&x->counts[2], found};
    x->entries.indptr = x->memory;
    x->entries.indices = (int32_t*)(x->entries.indptr + nodes + 1);
    x->value = (float*)(x->entries.indices + found);
    x->dropped = x->value + found;
    find_entries(n, x, rows, found);
    ggnn_block_transpose_init(&x->transpose, nodes, width, found, x->transposed);
    ggnn_block_transpose(&x->transpose, &x->entries);
    return true;
}

bool cpu_sparse_open(net* n, error* why)
{
    int64_t nodes = n->data.graph->num_nodes, width = n->data.features->width, most = nodes * width / DENSEST;
    if (most > INT32_MAX - 1) most = INT32_MAX - 1; /* edges of a block */
    sparse_features* x = memory_new(sizeof *x, "features without their zeros", why);
    float* rows = x ? memory_new(memory_product(ROWS, (size_t)width, sizeof *rows), "feature rows", why) : NULL;
    if (!rows) {
        memory_free(x);
        return false;
    }
    x->counts[0] = nodes;
    x->counts[1] = width;
    x->counts[2] = find_entries(n, x, rows, most);
    n->whole.sparse = x;
    bool few = x->counts[2] <= most, good = !few || place_entries(n, x, rows, why);
    memory_free(rows);
    if (!few || !good) cpu_sparse_close(n);
    return good;
}

void cpu_sparse_close(net* n)
{
    memory_free(n->whole.sparse->memory);
    memory_free(n->whole.sparse->transposed);
    memory_free(n->whole.sparse);
    n->whole.sparse = NULL;
}

typedef struct {
    const sparse_features* x;
    const ggnn_node* id;
    ggnn_rng rng;
    uint32_t threshold;
} drop_job;

/* As `drop` does where all entries are there. */
static void drop_entries(void* context, int64_t begin, int64_t end)
{
    const drop_job* job = context;
    const sparse_features* x = job->x;
    float scale = ggnn_dropout_scale(job->threshold);
    for (int64_t i = begin; i < end; i++) {
        ggnn_words words = {{0}};
        int32_t block = -1;
        for (int64_t e = x->entries.indptr[i]; e < x->entries.indptr[i + 1]; e++) {
            int32_t j = x->entries.indices[e];
            if (j / 8 != block) words = ggnn_random(&job->rng, 0, job->id[i], (uint32_t)j / 8);
            block = j / 8;
            x->dropped[e] = ggnn_dropout_field(words, j % 8) < job->threshold ? 0 : x->value[e] * scale;
        }
    }
}

mat cpu_sparse(net* n, uint32_t threshold)
{
    sparse_features* x = n->whole.sparse;
    mat all = {.v = x->value, .cols = (int32_t)x->counts[1], .rows = x->entries.num_dst, .sparse = x};
    if (!threshold) return all;
    double   start = cpu_start();
    drop_job job = {x, n->whole.batch.blocks.id, {n->config.seed, n->step, GGNN_PURPOSE_DROPOUT}, threshold};
    parallel_for(x->counts[0], 64, drop_entries, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, 12 * x->counts[2]);
    all.v = x->dropped;
    return all;
}

void cpu_sparse_gemm(net* n, mat c, mat x, bool transposed, mat b)
{
    double start = cpu_start();
    const ggnn_block* by = transposed ? &x.sparse->transpose : &x.sparse->entries;
    ggnn_spmm(c.v, c.ld, NULL, GGNN_SUM, by, NULL, x.v, 1, b.v, b.ld, c.cols);
    int64_t entries = x.sparse->counts[2], element = (int64_t)sizeof(float);
    n->profile.flops[n->backward] += 2 * entries * c.cols;
    cpu_stop(n, NET_GEMM, start, (entries * (c.cols + 2) + mat_rows(c) * c.cols) * element);
}
