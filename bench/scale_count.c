#include "bench/scale_count.h"

#include <string.h>

#include "bench/cpu.h"
#include "datasets/hotness.h"
#include "trainer/batch/loader.h"

enum { SEED = 1, SIZES = 8, FIRST = 4, ENOUGH = 16384, BATCHES = 32, SHARES = 5 };

static ggnn_sampling sampling_of(const int32_t fanout[SCALE_HOPS])
{
    return ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, SCALE_HOPS);
}

/* Batch i of so many seeds of a shuffled epoch, or the slice of it from `begin` on. */
static bool sample(bench* b, cpu_batch* s, const bench_graph* g, ggnn_node* seeds, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++) seeds[i] = g->train[ggnn_shuffle(SEED, 0, (first + i) % g->num_train, g->num_train)];
    s->num_seeds = n;
    cpu_batch_sample(s);
    if (s->status == GGNN_OK) return true;
    return error_set(&b->why, "%s: node %lld: %s", g->path, (long long)s->batch.fault.node, ggnn_status_string(s->status));
}

static bool open_sampled(bench* b, cpu_batch* s, const bench_graph* g, const int32_t fanout[SCALE_HOPS], int64_t n,
                         ggnn_node** seeds)
{
    const ggnn_sampling how = sampling_of(fanout);
    *seeds = bench_new(b, (size_t)n * sizeof **seeds, "seeds");
    return *seeds && cpu_batch_open(b, s, &g->graph, &how, *seeds, n, ggnn_unique_choose(g->graph.num_nodes));
}

static int64_t batches_of(int64_t seeds, int64_t train)
{
    const int64_t enough = (ENOUGH + seeds - 1) / seeds, all = train / seeds;
    const int64_t n = enough < BATCHES ? enough : BATCHES;
    return n < all ? n : all;
}

/* A seed's share of the mean batch. */
static bool count_point(bench* b, scale_point* p, const bench_graph* g, const int32_t fanout[SCALE_HOPS], int64_t seeds)
{
    const int64_t batches = batches_of(seeds, g->num_train);
    cpu_batch s;
    ggnn_node* list;
    memset(p, 0, sizeof *p);
    if (!open_sampled(b, &s, g, fanout, seeds, &list)) return false;
    for (int64_t i = 0; i < batches; i++) {
        if (!sample(b, &s, g, list, i * seeds, seeds)) return false;
        s.rng.step++;
        for (int32_t h = 0; h < SCALE_HOPS; h++) {
            p->edges[h] += (double)*s.batch.hop[h].num_edges.n / (double)(batches * seeds);
            p->nodes[h] += (double)*s.batch.hop[h].num_src.n / (double)(batches * seeds);
        }
    }
    p->seeds = 1e6 * (double)seeds / (double)g->graph.num_nodes;
    return true;
}

/* Ascending: of the table, as far as there are training nodes, and `own`, which is 0 or at most as many. */
static int32_t sizes_of(int64_t size[SIZES + 1], int64_t own, int64_t train)
{
    int32_t n = 0;
    int64_t seeds = FIRST;
    for (int32_t i = 0; i < SIZES && seeds <= train; i++, seeds *= 4) {
        if (own > (n ? size[n - 1] : 0) && own < seeds) size[n++] = own;
        size[n++] = seeds;
    }
    if (own > size[n - 1]) size[n++] = own;
    return n;
}

bool scale_count(bench* b, scale_graph* g, const int32_t fanout[SCALE_HOPS])
{
    const bench_graph* data = bench_graph_of(b);
    if (!data) return false;
    if (data->num_train < FIRST) return error_set(&b->why, "%s: fewer than %d training nodes", data->path, FIRST);
    g->nodes = (double)data->graph.num_nodes;
    g->edges = (double)data->graph.num_edges;
    g->features = (double)data->features.width;
    g->bytes = (double)ggnn_type_bytes(data->features.type);
    g->train = (double)data->num_train;
    g->batch = (double)data->batch;
    g->hidden = g->classes = (double)data->hidden; /* classes are not known here: as wide as the other layers */
    int64_t size[SIZES + 1];
    const int32_t sizes = sizes_of(size, b->o.batch, data->num_train);
    for (g->points = 0; g->points < sizes; g->points++) {
        const int32_t mark = bench_mark(b);
        if (!count_point(b, &g->point[g->points], data, fanout, size[g->points])) return false;
        bench_release(b, mark);
    }
    return true;
}

bool scale_count_slices(bench* b, const int32_t fanout[SCALE_HOPS], int64_t seeds, int32_t slices, double rows[2])
{
    const bench_graph* g = bench_graph_of(b);
    const int64_t batches = g ? batches_of(seeds, g->num_train) : 0;
    cpu_batch s;
    ggnn_node* list;
    const int32_t mark = bench_mark(b);
    const loader_pass batch = {.num_ids = seeds};
    rows[0] = rows[1] = 0;
    if (!g || !open_sampled(b, &s, g, fanout, seeds, &list)) return false;
    for (int64_t i = 0; i < batches; i++, s.rng.step++)
        for (int32_t p = -1; p < slices; p++) { /* -1: the whole batch */
            const loader_slice slice = loader_slice_of(&batch, seeds, 0, p < 0 ? 0 : p, p < 0 ? 1 : slices);
            if (!sample(b, &s, g, list, i * seeds + slice.from, slice.seeds)) return false;
            rows[p >= 0] += (double)*s.batch.hop[SCALE_HOPS - 1].num_src.n / (double)batches;
        }
    bench_release(b, mark);
    return true;
}

bool scale_count_hits(bench* b, scale_graph* g, const int32_t fanout[SCALE_HOPS])
{
    static const double share[SHARES] = {.01, .05, .1, .2, .5};
    const bench_graph* data = bench_graph_of(b);
    const ggnn_sampling how = sampling_of(fanout);
    const int32_t mark = bench_mark(b);
    if (!data) return false;
    const int64_t n = data->graph.num_nodes;
    int64_t* counts = bench_new(b, 2 * (size_t)n * sizeof *counts, "counts"); /* before training, and in it */
    ggnn_node* ranks = bench_new(b, 2 * (size_t)n * sizeof *ranks, "ranks");  /* and an order */
    const ggnn_epochs first = hotness_epochs(HOTNESS_PRESC, data->train, data->num_train, data->batch, SEED);
    const ggnn_epochs training = hotness_epochs(HOTNESS_OPTIMAL, data->train, data->num_train, data->batch, SEED);
    if (!counts || !ranks || !hotness_count(counts, NULL, &data->graph, &how, &first, 1, data->path, &b->why) ||
        !hotness_count(counts + n, NULL, &data->graph, &how, &training, 1, data->path, &b->why))
        return false;
    hotness_rank(ranks, ranks + n, HOTNESS_PRESC, counts, NULL, data->graph.whole.indptr, SEED, n);
    for (g->hit_points = 0; g->hit_points < SHARES; g->hit_points++)
        g->hit[g->hit_points] = (scale_hits){
            share[g->hit_points], hotness_hits(counts + n, ranks, ggnn_fill_ratio(share[g->hit_points], n), n) / 100};
    bench_release(b, mark);
    return true;
}
