/* bench_split.c - split parallelism beside data parallel: what each computes, loads and sends for the same mini-batches,
   by number of parts and by partition. Edges, rows and bytes are counted from sampled batches, so that these figures are the
   same on every machine. The last table has times: of sampling a batch and of splitting it, each by one thread. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/with.h"
#include "common/progress.h"
#include "datasets/divide.h"
#include "datasets/hotness.h"
#include "trainer/batch/loader.h"
#include "trainer/split/split.h"

enum { SIZES = 3, WAYS = 7, OWN = WAYS, ROWS, SEED = 1, BEFORE = 10, HIDDEN = 256, MOST = 8, CACHES = 3 };
static const uint8_t cached[CACHES] = {0, 10, 25}; /* % of all rows, on each device */
static const int32_t num_parts[SIZES] = {2, 4, 8};
static const struct {
    const char* name;
    divide_method by;
    divide_balance balance;
} way[WAYS] = {{"mod", DIVIDE_MOD, DIVIDE_VERTICES},         {"hash", DIVIDE_HASH, DIVIDE_VERTICES},
               {"range", DIVIDE_RANGE, DIVIDE_VERTICES},     {"pagraph", DIVIDE_PAGRAPH, DIVIDE_VERTICES},
               {"mincut", DIVIDE_MINCUT, DIVIDE_VERTICES},   {"metis", DIVIDE_METIS, DIVIDE_VERTICES},
               {"metis, edges", DIVIDE_METIS, DIVIDE_EDGES}};
/* Behind these, OWN: the partition of --with, for the P that it has. */

typedef struct { /* of all batches, by number of parts: slices of a batch, each sampled by itself */
    int64_t edges, rows;
    int64_t own_host[CACHES];                       /* rows that a device's own cache leaves to the host */
    int64_t shared_host[CACHES], shared_peer[CACHES]; /* of caches that hold other rows each: from the host, from the others */
    double seconds;                                 /* of sampling */
} sliced;

typedef struct { /* of all batches, by number of parts and partition */
    bool there;
    int32_t* owner;  /* (N) */
    ggnn_node* rank; /* (N) */
    int64_t bound[GGNN_PARTS_MAX + 1];
    split_part part[MOST];
    int64_t edges, local_edges, rows, sent[GGNN_HOPS_MAX]; /* sent[h]: rows that hop h's sources get from other parts */
    int64_t read_local;                                    /* of data parallel's rows, in a store over these parts */
    int64_t limit[CACHES][MOST], host[CACHES]; /* ranks below are in the part's cache; rows that caches leave to the host */
    double skew_edges, skew_rows;                          /* sums over batches */
    double seconds;                                        /* of splitting */
} divided;

typedef struct {
    const bench_graph* data;
    ggnn_sampling how;
    int64_t batch, batches, edges, rows; /* of the batches as one device samples them */
    double seconds;
    ggnn_batch whole, slice;
    ggnn_node *seeds, *queue;
    int64_t* weight; /* (N) edges that an epoch before training computes at a node */
    ggnn_node *hot, *order; /* (N) ranks of rows by what an epoch before training reads, and the nodes by rank */
    sliced by_slice[SIZES];
    divided by_owner[SIZES][ROWS];
    int32_t *own, own_parts; /* (N) owners of --with, or NULL; and what their row is called */
    char own_name[WITH_NAME];
} splits;

/* ---- set-up ------------------------------------------------------------------------------------------------------- */

static void close_parts(void* context)
{
    divided* d = context;
    for (int32_t p = 0; p < MOST; p++) split_part_close(&d->part[p]);
}

/* A part's cache has the hottest of its own rows. */
static void limit_caches(const splits* s, divided* d, int32_t parts)
{
    const int64_t n = s->data->graph.num_nodes;
    for (int c = 0; c < CACHES; c++) {
        int64_t left[MOST];
        for (int32_t p = 0; p < parts; p++) left[p] = ggnn_fill_ratio(cached[c] / 100., n), d->limit[c][p] = left[p] ? n : 0;
        for (int64_t r = 0; r < n; r++) {
            const int32_t p = d->owner[s->order[r]];
            if (left[p] && --left[p] == 0) d->limit[c][p] = r + 1;
        }
    }
}

/* One order for all caches. */
static bool rank_rows(bench* b, splits* s)
{
    const bench_graph* g = s->data;
    const size_t n = (size_t)g->graph.num_nodes;
    const ggnn_epochs before = hotness_epochs(HOTNESS_PRESC, g->train, g->num_train, s->batch, SEED);
    int64_t* reads = bench_new(b, n * sizeof *reads, "reads by node");
    s->hot = bench_new(b, n * sizeof *s->hot, "ranks");
    s->order = bench_new(b, n * sizeof *s->order, "ranks");
    if (!reads || !s->hot || !s->order || !hotness_count(reads, NULL, &g->graph, &s->how, &before, 1, g->path, &b->why)) return false;
    hotness_rank(s->hot, s->order, HOTNESS_PRESC, reads, NULL, g->graph.whole.indptr, SEED, g->graph.num_nodes);
    return true;
}

/* With owners. */
static bool open_parts(bench* b, splits* s, divided* d, int32_t parts)
{
    const bench_graph* g = s->data;
    const int64_t n = g->graph.num_nodes;
    ggnn_layout at;
    d->rank = bench_new(b, (size_t)n * sizeof *d->rank, "ranks");
    if (!d->rank) return false;
    if (ggnn_layout_owners(&at, d->rank, d->bound, GGNN_OWNER_MAP, d->owner, n, parts, NULL) != GGNN_OK)
        return error_set(&b->why, "%s: a node's owner is outside [0, %d]", g->path, parts);
    if (!bench_defer(b, close_parts, d)) return false;
    for (int32_t p = 0; p < parts; p++)
        if (!split_part_open(&d->part[p], &g->graph, &s->how, &at, p, s->batch, g->path, &b->why)) return false;
    limit_caches(s, d, parts);
    return d->there = true;
}

/* A user's own has figures for the number of parts that it has. */
static bool read_own(bench* b, splits* s)
{
    char text[200];
    bool there = false;
    if (!with_partition(b, &s->own, &s->own_parts)) return false;
    if (!s->own) return true;
    for (int32_t i = 0; i < SIZES; i++) there = there || num_parts[i] == s->own_parts;
    if (!there)
        return error_set(&b->why, "--with %s: it has %d part%s; split counts 2, 4 and 8", b->o.with, (int)s->own_parts,
                         s->own_parts == 1 ? "" : "s");
    snprintf(text, sizeof text, "%s has %d parts: no figure of it where P is another number", with_name(s->own_name, &b->o),
             (int)s->own_parts);
    bench_say(b, text);
    return true;
}

static bool open_own(bench* b, splits* s, divided* d, int32_t parts)
{
    if (!s->own || s->own_parts != parts) return true;
    d->owner = s->own;
    divide_rest(d->owner, s->queue, &s->data->graph, parts); /* PaGraph's has owners of training nodes alone */
    return open_parts(b, s, d, parts);
}

static bool open_divided(bench* b, splits* s, divided* d, int32_t w, int32_t parts)
{
    const bench_graph* g = s->data;
    const int64_t n = g->graph.num_nodes;
    const divide_method by = way[w].by;
    const divide_how how = {by, parts, 10, 5, 2, 1000, g->num_train, g->train,
                            way[w].balance == DIVIDE_EDGES ? s->weight : NULL, g->path};
    int64_t closures_cut;
#ifndef HAVE_METIS
    if (by == DIVIDE_METIS) return true;
#endif
    d->owner = bench_new(b, (size_t)n * sizeof *d->owner, "owners");
    if (!d->owner || !divide_nodes(d->owner, &closures_cut, &g->graph, &how, &b->why)) return false;
    if (by == DIVIDE_PAGRAPH) divide_rest(d->owner, s->queue, &g->graph, parts);
    return open_parts(b, s, d, parts);
}

static const char* name_of(const splits* s, int32_t w) { return w == OWN ? s->own_name : way[w].name; }

static bool open_batch(bench* b, splits* s, ggnn_batch* batch)
{
    if (ggnn_batch_plan(batch, &s->data->graph, &s->how, s->batch, NULL) != GGNN_OK)
        return error_set(&b->why, "%s: %s", s->data->path, batch->fault.what);
    void* memory = bench_new(b, batch->bytes, "a mini-batch");
    return memory && ggnn_batch_init(batch, memory) == GGNN_OK;
}

static bool open_splits(bench* b, splits* s)
{
    s->data = bench_graph_of(b);
    if (!s->data || !read_own(b, s)) return false;
    s->how = ggnn_sampling_plain(GGNN_FISHER_YATES, s->data->fanout, s->data->num_hops);
    s->batch = b->o.batch ? b->o.batch : b->o.quick ? 512 : 4096;
    if (s->batch > s->data->num_train) s->batch = s->data->num_train;
    s->seeds = bench_new(b, (size_t)s->batch * sizeof *s->seeds, "seeds");
    s->queue = bench_new(b, (size_t)s->data->graph.num_nodes * sizeof *s->queue, "nodes");
    s->weight = bench_new(b, (size_t)s->data->graph.num_nodes * sizeof *s->weight, "edges by node");
    if (!s->seeds || !s->queue || !s->weight || !open_batch(b, s, &s->whole) || !open_batch(b, s, &s->slice)) return false;
    if (!hotness_weigh(s->weight, &s->data->graph, &s->how, s->data->train, s->data->num_train, s->batch, SEED, BEFORE, s->data->path, &b->why))
        return false;
    if (!rank_rows(b, s)) return false;
    for (int32_t i = 0; i < SIZES; i++) {
        for (int32_t w = 0; w < WAYS; w++)
            if (!open_divided(b, s, &s->by_owner[i][w], w, num_parts[i])) return false;
        if (!open_own(b, s, &s->by_owner[i][OWN], num_parts[i])) return false;
    }
    return true;
}

/* ---- counting ------------------------------------------------------------------------------------------------------ */

static int64_t edges_of(const ggnn_batch* b)
{
    int64_t edges = 0;
    for (int32_t h = 0; h < b->num_hops; h++) edges += *b->hop[h].num_edges.n;
    return edges;
}

static bool sample(bench* b, splits* s, ggnn_batch* into, double* seconds, const ggnn_rng* rng, const ggnn_node* seeds, int64_t n)
{
    const double start = progress_seconds();
    const ggnn_status status = ggnn_sample(into, &s->data->graph, rng, seeds, n);
    *seconds += progress_seconds() - start;
    if (status == GGNN_OK) return true;
    return error_set(&b->why, "%s: node %lld: %s", s->data->path, (long long)into->fault.node, ggnn_status_string(status));
}

/* What device p of data parallel reads from where: with a cache of the hottest rows (PaGraph), or of its share of them (Quiver). */
static void count_cached(splits* s, int32_t size, int32_t p)
{
    sliced* d = &s->by_slice[size];
    const int32_t parts = num_parts[size];
    const int64_t rows = *s->slice.hop[s->how.num_hops - 1].num_src.n;
    for (int c = 0; c < CACHES; c++) {
        const int64_t own = ggnn_fill_ratio(cached[c] / 100., s->data->graph.num_nodes);
        for (int64_t i = 0; i < rows; i++) {
            const int64_t r = s->hot[s->slice.id[i]];
            d->own_host[c] += r >= own;
            d->shared_host[c] += r >= own * parts;
            d->shared_peer[c] += r < own * parts && r % parts != p;
        }
    }
}

/* Data parallel: device p samples slice p of the batch, as the trainer cuts it, and loads all its input rows, by itself. */
static bool count_slices(bench* b, splits* s, int32_t size, const ggnn_rng* rng, int64_t n)
{
    const int32_t parts = num_parts[size];
    const loader_pass batch = {.num_ids = n};
    for (int32_t p = 0; p < parts; p++) {
        const loader_slice slice = loader_slice_of(&batch, n, 0, p, parts);
        if (!sample(b, s, &s->slice, &s->by_slice[size].seconds, rng, s->seeds + slice.from, slice.seeds)) return false;
        const int64_t rows = *s->slice.hop[s->how.num_hops - 1].num_src.n;
        s->by_slice[size].edges += edges_of(&s->slice);
        s->by_slice[size].rows += rows;
        count_cached(s, size, p);
        for (int32_t w = 0; w < ROWS; w++) {
            divided* d = &s->by_owner[size][w];
            for (int64_t i = 0; d->there && i < rows; i++) d->read_local += d->owner[s->slice.id[i]] == p;
        }
    }
    return true;
}

static double skew(const int64_t* x, int32_t n) /* (max - min) / mean */
{
    int64_t least = x[0], most = x[0], sum = 0;
    for (int32_t i = 0; i < n; i++) {
        if (x[i] < least) least = x[i];
        if (x[i] > most) most = x[i];
        sum += x[i];
    }
    return sum ? (double)(most - least) * n / (double)sum : 0;
}

static void count_parts(divided* d, const ggnn_node* hot, int32_t parts, int32_t hops)
{
    int64_t edges[MOST] = {0}, rows[MOST];
    for (int32_t p = 0; p < parts; p++) {
        const split_part* s = &d->part[p];
        rows[p] = s->count[hops];
        d->rows += rows[p];
        for (int c = 0; c < CACHES; c++)
            for (int64_t i = 0; i < rows[p]; i++) d->host[c] += hot[s->list[hops][i]] >= d->limit[c][p];
        for (int32_t h = 0; h < hops; h++) {
            const split_hop* hop = &s->hop[h];
            const int64_t e = *hop->block->num_edges.n;
            for (int64_t i = 0; i < e; i++) d->local_edges += d->owner[hop->block->id[hop->block->indices[i]]] == p;
            edges[p] += e;
            d->sent[h] += hop->from[parts] - (hop->from[p + 1] - hop->from[p]);
        }
        d->edges += edges[p];
    }
    d->skew_edges += skew(edges, parts);
    d->skew_rows += skew(rows, parts);
}

static bool count_epoch(bench* b, splits* s)
{
    const int64_t n = s->data->num_train;
    for (int64_t first = 0; first < n; first += s->batch, s->batches++) {
        const ggnn_rng rng = {SEED, (uint32_t)s->batches, GGNN_PURPOSE_SAMPLE};
        const int64_t seeds = n - first < s->batch ? n - first : s->batch;
        for (int64_t i = 0; i < seeds; i++) s->seeds[i] = s->data->train[ggnn_shuffle(SEED, 0, first + i, n)];
        if (!sample(b, s, &s->whole, &s->seconds, &rng, s->seeds, seeds)) return false;
        s->edges += edges_of(&s->whole);
        s->rows += *s->whole.hop[s->how.num_hops - 1].num_src.n;
        for (int32_t i = 0; i < SIZES; i++) {
            if (!count_slices(b, s, i, &rng, seeds)) return false;
            for (int32_t w = 0; w < ROWS; w++) {
                divided* d = &s->by_owner[i][w];
                if (!d->there) continue;
                const double start = progress_seconds();
                if (!split_single(d->part, &s->whole, &b->why)) return false;
                d->seconds += progress_seconds() - start;
                count_parts(d, s->hot, num_parts[i], s->how.num_hops);
            }
        }
    }
    return true;
}

/* ---- tables ---------------------------------------------------------------------------------------------------------- */

static bench_table table_of(const char* what, const char* unit)
{
    bench_table t = {.label = "counted", .unit = unit, .columns = SIZES};
    snprintf(t.what, sizeof t.what, "%s", what);
    for (int32_t i = 0; i < SIZES; i++) snprintf(t.column[i], sizeof t.column[i], "P = %d", (int)num_parts[i]);
    return t;
}

static double more(int64_t have, int64_t need) { return need ? 100 * ((double)have / (double)need - 1) : 0; }
static double share(int64_t part, int64_t all) { return all ? (double)part / (double)all : 0; }

/* What is computed or loaded more often than once. A split's is counted in the same way: it has to be 0. */
static bool put_redundancy(bench* b, const splits* s)
{
    const bench_table edges = table_of("redundant edges", "% of a batch's edges"),
                      rows = table_of("extra input rows", "% of a batch's rows");
    double data_edges[SIZES], data_rows[SIZES], split_edges[SIZES], split_rows_[SIZES];
    for (int32_t i = 0; i < SIZES; i++) {
        data_edges[i] = more(s->by_slice[i].edges, s->edges);
        data_rows[i] = more(s->by_slice[i].rows, s->rows);
        split_edges[i] = split_rows_[i] = 0;
        for (int32_t w = 0; w < ROWS; w++) {
            const divided* d = &s->by_owner[i][w];
            if (!d->there) continue;
            if (!bench_equal(b, "edges of a split", &d->edges, &s->edges, sizeof s->edges) ||
                !bench_equal(b, "input rows of a split", &d->rows, &s->rows, sizeof s->rows))
                return false;
            split_edges[i] = more(d->edges, s->edges);
            split_rows_[i] = more(d->rows, s->rows);
        }
    }
    return bench_figures(b, &edges, "data parallel", data_edges) && bench_figures(b, &edges, "split", split_edges) &&
           bench_figures(b, &rows, "data parallel", data_rows) && bench_figures(b, &rows, "split", split_rows_);
}

static double local_edges(const splits* s, int32_t i, const divided* d)
{
    (void)s;
    (void)i;
    return 100 * share(d->local_edges, d->edges);
}
static double edge_skew(const splits* s, int32_t i, const divided* d) { (void)i; return d->skew_edges / (double)s->batches; }
static double row_skew(const splits* s, int32_t i, const divided* d) { (void)i; return d->skew_rows / (double)s->batches; }
static double remote(const splits* s, int32_t i, const divided* d)
{
    return share(s->by_slice[i].rows - d->read_local, d->read_local);
}

static bool put_partitions(bench* b, const splits* s, const char* what, const char* unit,
                           double (*figure)(const splits* s, int32_t i, const divided* d))
{
    const bench_table t = table_of(what, unit);
    for (int32_t w = 0; w < ROWS; w++) {
        double x[SIZES];
        bool there = false;
        for (int32_t i = 0; i < SIZES; i++) {
            const divided* d = &s->by_owner[i][w];
            x[i] = d->there ? figure(s, i, d) : NAN;
            there = there || d->there;
        }
        if (there && !bench_figures(b, &t, name_of(s, w), x)) return false;
    }
    return true;
}

/* By link and stage, MB a batch. Features come from the host once a device that loads them. Between devices: ids, in the cooperative
   form, and rows of the input layer and of hidden layers, whose gradients come back. */
enum { LOAD, IDS, INPUT, FORWARD, BACKWARD, STAGES };

static double row_mb(const splits* s)
{
    return 1e-6 / (double)s->batches * (double)s->data->features.width * (double)ggnn_type_bytes(s->data->features.type);
}

static void bytes_of(const splits* s, const divided* d, double stage[STAGES])
{
    const int32_t last = s->how.num_hops - 1;
    int64_t hidden = 0;
    for (int32_t h = 0; h < last; h++) hidden += d->sent[h];
    stage[LOAD] = row_mb(s) * (double)d->rows;
    stage[IDS] = 1e-6 / (double)s->batches * (double)sizeof(ggnn_node) * (double)(d->sent[last] + hidden);
    stage[INPUT] = row_mb(s) * (double)d->sent[last];
    stage[FORWARD] = stage[BACKWARD] = 1e-6 / (double)s->batches * (double)hidden * HIDDEN * sizeof(float);
}

static bool put_bytes(bench* b, const splits* s, int32_t i)
{
    static const char* const stage[STAGES] = {"host: features", "peer: ids", "peer: features", "peer: hidden", "peer: gradients"};
    bench_table t = {.label = "counted", .unit = "MB a batch", .columns = STAGES};
    snprintf(t.what, sizeof t.what, "P = %d, %d hidden", (int)num_parts[i], HIDDEN);
    for (int32_t k = 0; k < STAGES; k++) snprintf(t.column[k], sizeof t.column[k], "%s", stage[k]);
    const double data[STAGES] = {row_mb(s) * (double)s->by_slice[i].rows, 0, 0, 0, 0};
    if (!bench_figures(b, &t, "data parallel", data)) return false;
    for (int32_t w = 0; w < ROWS; w++) {
        double x[STAGES];
        bytes_of(s, &s->by_owner[i][w], x);
        if (s->by_owner[i][w].there && !bench_figures(b, &t, name_of(s, w), x)) return false;
    }
    return true;
}

/* GSplit's Table 1: data parallel with caches as PaGraph's and as Quiver's, and a split by partition. */
static bool put_caches(bench* b, const splits* s, int32_t i)
{
    const sliced* d = &s->by_slice[i];
    bench_table t = {.label = "counted", .unit = "MB a batch", .columns = 2 * CACHES};
    double own[2 * CACHES] = {0}, shared[2 * CACHES], x[2 * CACHES];
    snprintf(t.what, sizeof t.what, "P = %d, caches, %d hidden", (int)num_parts[i], HIDDEN);
    for (int c = 0; c < CACHES; c++) {
        snprintf(t.column[c], sizeof t.column[c], "host, %u %%", cached[c]);
        snprintf(t.column[CACHES + c], sizeof t.column[c], "peer, %u %%", cached[c]);
        own[c] = row_mb(s) * (double)d->own_host[c];
        shared[c] = row_mb(s) * (double)d->shared_host[c];
        shared[CACHES + c] = row_mb(s) * (double)d->shared_peer[c];
    }
    if (!bench_figures(b, &t, "own caches", own) || !bench_figures(b, &t, "shared caches", shared)) return false;
    for (int32_t w = 0; w < ROWS; w++) {
        const divided* of = &s->by_owner[i][w];
        double stage[STAGES];
        bytes_of(s, of, stage);
        for (int c = 0; c < CACHES; c++) {
            x[c] = row_mb(s) * (double)of->host[c];
            x[CACHES + c] = stage[IDS] + stage[INPUT] + stage[FORWARD] + stage[BACKWARD];
        }
        if (of->there && !bench_figures(b, &t, name_of(s, w), x)) return false;
    }
    return true;
}

/* GSplit's Table 4: P slices sampled apart; the batch sampled whole, and then split. */
static bool put_times(bench* b, const splits* s, int32_t i)
{
    enum { SLICES, WHOLE, SPLIT, RATIO, TIMES };
    static const char* const time[TIMES] = {"slices: sample", "whole: sample", "split", "split / whole"};
    const double ms = 1e3 / (double)s->batches;
    bench_table t = {.label = "measured", .unit = "ms a batch, one thread", .columns = TIMES};
    snprintf(t.what, sizeof t.what, "P = %d, sampling and splitting", (int)num_parts[i]);
    for (int32_t k = 0; k < TIMES; k++) snprintf(t.column[k], sizeof t.column[k], "%s", time[k]);
    for (int32_t w = 0; w < ROWS; w++) {
        const divided* d = &s->by_owner[i][w];
        const double x[TIMES] = {ms * s->by_slice[i].seconds, ms * s->seconds, ms * d->seconds, d->seconds / s->seconds};
        if (d->there && !bench_figures(b, &t, name_of(s, w), x)) return false;
    }
    return true;
}

bool bench_split(bench* b)
{
    splits* s = bench_new(b, sizeof *s, "counts");
    if (!s || !open_splits(b, s) || !count_epoch(b, s)) return false;
    bool good = put_redundancy(b, s) && put_partitions(b, s, "local edges", "% of edges", local_edges) &&
                put_partitions(b, s, "skew of edges", "(max - min) / mean", edge_skew) &&
                put_partitions(b, s, "skew of input rows", "(max - min) / mean", row_skew) &&
                put_partitions(b, s, "data parallel's reads of a store over the parts", "remote ones to a local one", remote);
    for (int32_t i = 0; i < SIZES && good; i++) good = put_bytes(b, s, i);
    for (int32_t i = 0; i < SIZES && good; i++) good = put_caches(b, s, i);
    for (int32_t i = 0; i < SIZES && good; i++) good = put_times(b, s, i);
    return good;
}
