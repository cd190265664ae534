/* bench_cache.c - hit rates: what a cache of the hottest rows takes of all rows that training reads, by policy, size,
   fanout and sampling, and what is left to be moved, by width. Nothing is timed: reads are counted from sampled ids, so that the figures are the same on every
   machine. */
#include <string.h>

#include "bench/bench.h"
#include "bench/with.h"
#include "datasets/hotness.h"

enum { SHARES = 5, WIDTHS = 4, SAMPLINGS = 3, SETTINGS = 3, SEED = 1 };
enum { OWN = HOTNESS_NUM_POLICIES, POLICIES }; /* OWN: the ranking of --with, where there is one */
enum { BEFORE = 1, MEASURED = 3 }; /* epochs: PreSC#1, over three of training's */
static const double share[SHARES] = {.01, .05, .1, .2, .5}, memory_share = .1; /* memory, of all rows as wide as the data's */
static const int64_t width_times[WIDTHS] = {1, 2, 4, 8};

typedef struct { int32_t hops, fanout[3]; } fanouts;
static const struct {
    ggnn_method method;
    const char* name;
    int32_t settings;
    fanouts usual[SETTINGS], small[SETTINGS];
} sampling[SAMPLINGS] = {
    {GGNN_FISHER_YATES, "uniform", 3, {{3, {15, 10, 5}}, {2, {25, 10}}, {2, {5, 5}}}, {{3, {5, 4, 3}}, {2, {4, 3}}, {1, {2}}}},
    {GGNN_WEIGHTED, "weighted", 3, {{3, {15, 10, 5}}, {2, {25, 10}}, {2, {5, 5}}}, {{3, {5, 4, 3}}, {2, {4, 3}}, {1, {2}}}},
    {GGNN_WALK, "walk", 1, {{3, {5, 5, 5}}}, {{2, {4, 3}}}}, /* GNNLab's PinSAGE: the 5 most visited of 4 walks of 3 steps */
};

typedef struct {
    const bench_graph* data;
    ggnn_graph graph;                                   /* with weights */
    int64_t *out, *in;                                  /* (N) degrees */
    int64_t *before, *before_lists, *read, *read_lists; /* (N) reads before training, and in training */
    int64_t* first;                                     /* (N) reads of rows in the first epoch of training */
    ggnn_node* fixed[POLICIES];                         /* (N) ranks that do not depend on the setting, or NULL */
    ggnn_node *rank, *list_rank, *work;                 /* (N), (N), (2 N) */
    char own[WITH_NAME];
} caches;

/* Weights for a graph that has none: an edge weighs 1, 2, 4 .. 128 by its source, as if some nodes were newer. */
static bool make_weights(bench* b, caches* c)
{
    const int64_t edges = c->graph.num_edges;
    const ggnn_rng rng = {SEED, 0, GGNN_PURPOSE_GENERATE};
    float* weight = bench_new(b, (size_t)edges * sizeof *weight, "weights");
    for (int64_t e = 0; weight && e < edges; e++) {
        const ggnn_node u = c->graph.whole.indices[e];
        weight[e] = (float)(1 << (ggnn_random(&rng, 255, u, 0).word[0] & 7));
    }
    c->graph.whole.weight = weight;
    return weight != NULL;
}

static bool open_caches(bench* b, caches* c)
{
    ggnn_fault fault;
    memset(c, 0, sizeof *c);
    c->data = bench_graph_of(b);
    if (!c->data) return false;
    c->graph = c->data->graph;
    const size_t n = (size_t)c->graph.num_nodes;
    int64_t** const count[] = {&c->out, &c->in, &c->before, &c->before_lists, &c->read, &c->read_lists, &c->first};
    ggnn_node** const rank[] = {&c->rank, &c->list_rank, &c->fixed[HOTNESS_DEGREE], &c->fixed[HOTNESS_ALIGRAPH],
                                &c->fixed[HOTNESS_RANDOM]};
    for (int i = 0; i < 7; i++)
        if (!(*count[i] = bench_new(b, n * sizeof **count[i], "counts"))) return false;
    for (int i = 0; i < 5; i++)
        if (!(*rank[i] = bench_new(b, n * sizeof **rank[i], "ranks"))) return false;
    c->work = bench_new(b, 2 * n * sizeof *c->work, "orders");
    if (!c->work || (!c->graph.whole.weight && !make_weights(b, c))) return false;
    if (ggnn_count_degrees(c->out, c->in, &c->graph, &fault) != GGNN_OK)
        return error_set(&b->why, "%s: node %lld: %s", c->data->path, (long long)fault.node, fault.what);
    for (hotness_policy by = 0; by < HOTNESS_NUM_POLICIES; by++)
        if (c->fixed[by])
            hotness_rank(c->fixed[by], c->work, by, by == HOTNESS_ALIGRAPH ? c->in : c->out, c->out, NULL, SEED,
                         c->graph.num_nodes);
    if (!with_ranking(b, &c->fixed[OWN], NULL)) return false;
    if (c->fixed[OWN]) with_name(c->own, &b->o);
    return true;
}

static const char* name_of(const caches* c, int by) { return by == OWN ? c->own : hotness_name[by]; }
static int policies(const caches* c) { return c->fixed[OWN] ? POLICIES : OWN; }

/* Of the rows that one of two epochs reads, the per cent that both read. */
static double common_rows(const caches* c)
{
    int64_t both = 0, any = 0;
    for (int64_t v = 0; v < c->graph.num_nodes; v++) {
        const bool first = c->first[v] > 0, second = c->read[v] > c->first[v];
        both += first && second;
        any += first || second;
    }
    return any ? 100 * (double)both / (double)any : 0;
}

/* Epoch by epoch, of which the first two are compared. */
static bool count_training(bench* b, caches* c, const ggnn_sampling* how, double* common)
{
    const bench_graph* g = c->data;
    ggnn_epochs next = hotness_epochs(HOTNESS_OPTIMAL, g->train, g->num_train, g->batch, SEED);
    for (int epoch = 0; epoch < MEASURED; epoch++) {
        if (!hotness_count(c->read, c->read_lists, &c->graph, how, &next, 1, g->path, &b->why)) return false;
        if (epoch == 0) memcpy(c->first, c->read, (size_t)c->graph.num_nodes * sizeof *c->first);
        if (epoch == 1) *common = common_rows(c);
        next.first_epoch++;
        next.rng.step += (uint32_t)ggnn_epoch_batches(&next);
    }
    return true;
}

/* What the epochs before training read, and training's own. */
static bool count_setting(bench* b, caches* c, const ggnn_sampling* how, double* common)
{
    const bench_graph* g = c->data;
    const size_t bytes = (size_t)c->graph.num_nodes * sizeof(int64_t);
    const ggnn_epochs presample = hotness_epochs(HOTNESS_PRESC, g->train, g->num_train, g->batch, SEED);
    memset(c->before, 0, bytes);
    memset(c->before_lists, 0, bytes);
    memset(c->read, 0, bytes);
    memset(c->read_lists, 0, bytes);
    return hotness_count(c->before, c->before_lists, &c->graph, how, &presample, BEFORE, g->path, &b->why) &&
           count_training(b, c, how, common);
}

/* Rows and lists in a budget of a share of all rows' bytes, by frequency a byte. */
static bool put_dual(bench* b, caches* c, const bench_table* t, ggnn_method method)
{
    const int64_t n = c->graph.num_nodes;
    const ggnn_sizes sizes = ggnn_sizes_of(method == GGNN_WEIGHTED ? &c->graph : &c->data->graph, &c->data->features);
    double rows[SHARES], lists[SHARES];
    for (int i = 0; i < SHARES; i++) {
        const ggnn_dual dual = {c->before, c->before_lists, 0, 0, &sizes, ggnn_fill_ratio(share[i], n) * sizes.row};
        const ggnn_dual_fill fill = ggnn_fill_dual(c->rank, c->list_rank, &dual, n, c->work);
        rows[i] = hotness_hits(c->read, c->rank, fill.rows, n);
        lists[i] = hotness_hits(c->read_lists, c->list_rank, fill.lists, n);
    }
    return bench_figures(b, t, "dual", rows) && bench_figures(b, t, "dual: of lists", lists);
}

/* The rank of a policy other than dual, for the setting that was counted. */
static const ggnn_node* rank_by(caches* c, int by)
{
    if (c->fixed[by]) return c->fixed[by];
    hotness_rank(c->rank, c->work, (hotness_policy)by, by == HOTNESS_OPTIMAL ? c->read : c->before, NULL,
                 c->graph.whole.indptr, SEED, c->graph.num_nodes);
    return c->rank;
}

static bool put_policy(bench* b, caches* c, const bench_table* t, int by)
{
    const ggnn_node* rank = rank_by(c, by);
    double hit[SHARES];
    for (int i = 0; i < SHARES; i++) hit[i] = hotness_hits(c->read, rank, ggnn_fill_ratio(share[i], c->graph.num_nodes), c->graph.num_nodes);
    return bench_figures(b, t, name_of(c, by), hit);
}

/* What a cache of the same memory leaves to be moved, in megabytes an epoch, where rows are wider (GNNLab): fewer of them fit. */
static bool put_widths(bench* b, caches* c, const char* name)
{
    const int64_t n = c->graph.num_nodes, row = c->data->features.pitch, memory = ggnn_fill_ratio(memory_share, n) * row;
    bench_table t = {.label = "counted", .unit = "MB an epoch that a cache leaves", .columns = WIDTHS};
    snprintf(t.what, sizeof t.what, "%.69s, by width", name);
    for (int i = 0; i < WIDTHS; i++)
        snprintf(t.column[i], sizeof t.column[i], "F %lld", (long long)(width_times[i] * c->data->features.width));
    for (int by = -1; by < policies(c); by++) { /* -1: no cache */
        double left[WIDTHS];
        if (by == HOTNESS_DUAL) continue; /* its memory is for lists, too */
        const ggnn_node* rank = rank_by(c, by < 0 ? HOTNESS_DEGREE : by);
        for (int i = 0; i < WIDTHS; i++) {
            const int64_t wide = width_times[i] * row, cached = by < 0 ? 0 : memory / wide;
            const int64_t misses = ggnn_count_hits(c->read, rank, n, n) - ggnn_count_hits(c->read, rank, cached, n);
            left[i] = (double)misses / MEASURED * (double)wide * 1e-6;
        }
        if (!bench_figures(b, &t, by < 0 ? "none" : name_of(c, by), left)) return false;
    }
    return true;
}

typedef struct {
    char   name[80]; /* "uniform 15,10,5" */
    double common;   /* rows of two epochs, per cent */
} setting;

static bool put_setting(bench* b, caches* c, const char* kind, const ggnn_sampling* how, setting* s)
{
    static const double none[SHARES] = {0};
    bench_table t = {.label = "counted", .unit = "% of rows read", .columns = SHARES};
    int used = snprintf(s->name, sizeof s->name, "%s ", kind);
    for (int32_t h = 0; h < how->num_hops; h++)
        used += snprintf(s->name + used, sizeof s->name - (size_t)used, h ? ",%d" : "%d", (int)how->fanout[h]);
    memcpy(t.what, s->name, sizeof s->name);
    for (int i = 0; i < SHARES; i++) snprintf(t.column[i], sizeof t.column[i], "%g %%", 100 * share[i]);
    if (!count_setting(b, c, how, &s->common) || !bench_figures(b, &t, "none", none)) return false;
    for (int by = 0; by < policies(c); by++) {
        const bool of_lists = by == HOTNESS_DUAL; /* a walk reads other lists than those of targets, which are counted */
        if (of_lists && ggnn_method_has(how->method, GGNN_METHOD_WALKS)) continue;
        if (of_lists ? !put_dual(b, c, &t, how->method) : !put_policy(b, c, &t, by)) return false;
    }
    return true;
}

/* How much of what an epoch reads another reads: what makes one epoch foresee the next. */
static bool put_common(bench* b, const setting* s)
{
    const bench_table t = {.label = "counted", .what = "rows of two epochs", .unit = "% of those that one of them reads", .columns = 1,
                           .column = {"both"}};
    return bench_figures(b, &t, s->name, &s->common);
}

bool bench_cache(bench* b)
{
    caches c;
    setting all[SAMPLINGS * SETTINGS];
    int settings = 0;
    if (!open_caches(b, &c)) return false;
    const bool own = b->o.fanout.count > 0;
    for (int k = 0; k < SAMPLINGS; k++)
        for (int i = 0; i < (own ? 1 : sampling[k].settings); i++) {
            const fanouts* of = b->o.quick ? &sampling[k].small[i] : &sampling[k].usual[i];
            const ggnn_sampling how = ggnn_sampling_plain(sampling[k].method, own ? c.data->fanout : of->fanout,
                                                          own ? c.data->num_hops : of->hops);
            setting* s = &all[settings++];
            if (!put_setting(b, &c, sampling[k].name, &how, s) || (i == 0 && !put_widths(b, &c, s->name))) return false;
        }
    for (int i = 0; i < settings; i++)
        if (!put_common(b, &all[i])) return false;
    return true;
}
