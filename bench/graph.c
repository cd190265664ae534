/* graph.c - the graph of a run: --data, or R-MAT made on first use beside the program; and blocks of any
   size. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bench/harness.h"
#include "bench/scale_model.h"
#include "common/memory.h"
#include "datasets/dataset.h"
#include "datasets/generate.h"

struct bench_data {
    dataset set;
    bench_graph graph;
    ggnn_node* train;
    char path[4200];
};

/* Its folder is the program's, so that `make clean` removes it. */
static bool make_usual(bench* b, char path[4200])
{
    generate_options how = {KIND_RMAT, 1, 1 << 20, (int64_t)1 << 25, 128, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY};
    generate_report report;
    char program[4096];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0) return error_set(&b->why, "this program's own path: %s", strerror(errno));
    program[length] = 0;
    *(strrchr(program, '/') + 1) = 0;
    if (b->o.quick) {
        how.nodes = 1 << 14;
        how.edges = 1 << 18;
    }
    snprintf(path, 4200, "%sbench-rmat-%lld-%lld-%lld-%d.ggnn", program, (long long)how.nodes,
             (long long)how.edges, (long long)how.features, 8 * (int)sizeof(ggnn_node));
    if (access(path, R_OK) == 0) return true;
    progress_end(&b->state->bar, 0, false);
    fprintf(stderr, "ggnn-bench: making %s on first use\n", path);
    return generate_complete(&how, &b->why) && generate(path, &how, &report, &b->why);
}

static bool open_graph(bench* b, struct bench_data* d)
{
    int64_t count[4] = {0, 0, 0, 0};
    if (b->o.data) snprintf(d->path, sizeof d->path, "%s", b->o.data);
    else if (!make_usual(b, d->path)) return false;
    if (!dataset_open(&d->set, d->path, &b->why)) return false;
    if (b->o.data && !dataset_check_graph(&d->set, &b->why)) return false;
    if (!d->set.feat.rows) return error_set(&b->why, "%s: has no features", d->path);
    if (!d->set.split || !dataset_split(&d->set, 0, count, &b->why) || count[SPLIT_TRAIN] == 0)
        return error_set(&b->why, "%s: has no training nodes", d->path);
    d->train = memory_new((size_t)count[SPLIT_TRAIN] * sizeof *d->train, "training nodes", &b->why);
    if (!d->train) return false;
    dataset_split_ids(&d->set, 0, SPLIT_TRAIN, d->train);
    d->graph.path = d->path;
    d->graph.graph = dataset_graph(&d->set);
    d->graph.features = dataset_features(&d->set);
    d->graph.train = d->train;
    d->graph.num_train = count[SPLIT_TRAIN];
    return true;
}

bool bench_takes_batches(const bench_options* o, const bench_entry* e, error* why)
{
    const bool scale = strcmp(e->name, "scale") == 0;
    const char* given = o->fanout.count ? "--fanout" : "--batch";
    if (!o->fanout.count && !o->batch) return true;
    if (!e->asked) return error_set(why, "%s: %s counts no batches; cache, store, split and scale do", given, e->name);
    if (scale && !o->data) return error_set(why, "%s: scale counts batches of --data FILE, which is not given", given);
    if (o->fanout.count > GGNN_HOPS_MAX)
        return error_set(why, "--fanout: %d hops, at most %d", (int)o->fanout.count, GGNN_HOPS_MAX);
    if (scale && o->fanout.count && o->fanout.count != SCALE_HOPS)
        return error_set(why, "--fanout: %d hops, scale's batches have %d", (int)o->fanout.count, SCALE_HOPS);
    return true;
}

static bool set_sizes(bench* b, bench_graph* g)
{
    static const int32_t usual[] = {15, 10, 5}, small[] = {5, 4, 3};
    const option_list* own = &b->o.fanout;
    g->num_hops = own->count ? own->count : 3;
    for (int32_t h = 0; h < g->num_hops; h++) g->fanout[h] = own->count ? (int32_t)own->value[h] : b->o.quick ? small[h] : usual[h];
    if (b->o.batch > g->num_train)
        return error_set(&b->why, "--batch %lld: %s has %lld training nodes", (long long)b->o.batch, g->path, (long long)g->num_train);
    g->batch = b->o.batch ? b->o.batch : b->o.quick ? 128 : 1024;
    g->hidden = b->o.quick ? 32 : 256;
    if (g->batch > g->num_train) g->batch = g->num_train;
    return true;
}

static void close_graph(struct bench_data* d)
{
    dataset_close(&d->set);
    memory_free(d->train);
    memory_free(d);
}

const bench_graph* bench_graph_of(bench* b)
{
    struct bench_state* s = b->state;
    if (!s->data) {
        s->data = memory_new(sizeof *s->data, "the graph", &b->why);
        s->close_data = close_graph;
        if (!s->data || !open_graph(b, s->data) || !set_sizes(b, &s->data->graph)) return NULL;
        s->graph = &s->data->graph;
    }
    return b->why.text[0] ? NULL : s->graph;
}

const dataset* bench_dataset_of(bench* b) { return bench_graph_of(b) ? &b->state->data->set : NULL; }

/* ==== made data ========================================================================================= */

enum { PIECE = 1 << 16 };
typedef struct {
    float* x;
    int32_t* index;
    int64_t n, below;
    uint64_t seed;
} filling;

static void fill_piece(void* context, int64_t piece)
{
    const filling* f = context;
    uint64_t state = f->seed + (uint64_t)piece * PIECE * 0x9E3779B97F4A7C15u;
    int64_t end = (piece + 1) * PIECE < f->n ? (piece + 1) * PIECE : f->n;
    for (int64_t i = piece * PIECE; i < end; i++) {
        uint64_t r = bench_random(&state);
        if (f->x) f->x[i] = (float)(r >> 40) * (1.0f / 8388608.0f) - 1.0f;
        else f->index[i] = (int32_t)(r % (uint64_t)f->below);
    }
}

void bench_fill(float* x, int64_t n, uint64_t seed)
{
    filling f = {x, NULL, n, 0, seed};
    ggnn_parallel_for((n + PIECE - 1) / PIECE, fill_piece, &f);
}

bool bench_block(bench* b, ggnn_block* block, int64_t rows, int64_t degree, int64_t sources)
{
    int64_t edges = rows * degree, *counts = bench_new(b, 3 * sizeof *counts, "sizes of a block");
    if (rows > INT32_MAX || sources > INT32_MAX || edges > INT32_MAX)
        return error_set(&b->why, "%s: %lld rows of degree %lld: a block has less than 2^31 rows and edges",
                         b->entry, (long long)rows, (long long)degree);
    memset(block, 0, sizeof *block);
    block->indptr = bench_new(b, ((size_t)rows + 1) * sizeof *block->indptr, "offsets of a block");
    block->indices = bench_new(b, (size_t)edges * sizeof *block->indices, "edges of a block");
    if (!counts || !block->indptr || !block->indices) return false;
    filling f = {NULL, block->indices, edges, sources, 7};
    for (int64_t v = 0; v <= rows; v++) block->indptr[v] = v * degree;
    ggnn_parallel_for((edges + PIECE - 1) / PIECE, fill_piece, &f);
    counts[0] = rows;
    counts[1] = sources;
    counts[2] = edges;
    block->num_dst = (ggnn_count){counts, rows};
    block->num_src = (ggnn_count){counts + 1, sources};
    block->num_edges = (ggnn_count){counts + 2, edges};
    return true;
}
