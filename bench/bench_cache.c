/* bench_cache.c - hit rates: what a cache of the hottest rows takes of all rows that training reads, by policy, size,
   fanout and sampling. Nothing is timed: reads are counted from sampled ids, so that the figures are the same on every
   machine. */
#include <string.h>

#include "bench/bench.h"
#include "datasets/hotness.h"

enum { SHARES = 5, SETTINGS = 3, SEED = 1, BEFORE = 1, MEASURED = 3 }; /* epochs: PreSC#1, over three of training's */
static const double share[SHARES] = {.01, .05, .1, .2, .5};

typedef struct {
    const bench_graph* data;
    ggnn_graph graph;                                   /* with weights */
    int64_t *out, *in;                                  /* (N) degrees */
    int64_t *before, *before_lists, *read, *read_lists; /* (N) reads before training, and in training */
    int64_t* first;                                     /* (N) reads of rows in the first epoch of training */
    ggnn_node* fixed[HOTNESS_NUM_POLICIES];             /* (N) ranks that do not depend on the setting, or NULL */
    ggnn_node *rank, *list_rank, *work;                 /* (N), (N), (2 N) */
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
    return true;
}

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

static bool put_policy(bench* b, caches* c, const bench_table* t, hotness_policy by, ggnn_method method)
{
    const int64_t n = c->graph.num_nodes;
    const ggnn_node* rank = c->fixed[by] ? c->fixed[by] : c->rank;
    double hit[SHARES];
    if (by == HOTNESS_DUAL) return put_dual(b, c, t, method);
    if (!c->fixed[by])
        hotness_rank(c->rank, c->work, by, by == HOTNESS_OPTIMAL ? c->read : c->before, NULL, c->graph.whole.indptr, SEED, n);
    for (int i = 0; i < SHARES; i++) hit[i] = hotness_hits(c->read, rank, ggnn_fill_ratio(share[i], n), n);
    return bench_figures(b, t, hotness_name[by], hit);
}

typedef struct {
    char   name[80]; /* "uniform 15,10,5" */
    double common;   /* rows of two epochs, per cent */
} setting;

static bool put_setting(bench* b, caches* c, const ggnn_sampling* how, setting* s)
{
    static const double none[SHARES] = {0};
    bench_table t = {.label = "counted", .unit = "% of rows read", .columns = SHARES};
    int used = snprintf(t.what, sizeof t.what, "%s ", how->method == GGNN_WEIGHTED ? "weighted" : "uniform");
    for (int32_t h = 0; h < how->num_hops; h++)
        used += snprintf(t.what + used, sizeof t.what - (size_t)used, h ? ",%d" : "%d", (int)how->fanout[h]);
    memcpy(s->name, t.what, sizeof s->name);
    for (int i = 0; i < SHARES; i++) snprintf(t.column[i], sizeof t.column[i], "%g %%", 100 * share[i]);
    if (!count_setting(b, c, how, &s->common) || !bench_figures(b, &t, "none", none)) return false;
    for (hotness_policy by = 0; by < HOTNESS_NUM_POLICIES; by++)
        if (!put_policy(b, c, &t, by, how->method)) return false;
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
    static const struct {
        int32_t hops, fanout[3];
    } usual[SETTINGS] = {{3, {15, 10, 5}}, {2, {25, 10}}, {2, {5, 5}}},
      small[SETTINGS] = {{3, {5, 4, 3}}, {2, {4, 3}}, {1, {2}}};
    caches c;
    setting all[2 * SETTINGS];
    if (!open_caches(b, &c)) return false;
    const bool own = b->o.fanout.count > 0;
    const int settings = own ? 1 : SETTINGS;
    for (int weighted = 0; weighted < 2; weighted++)
        for (int i = 0; i < settings; i++) {
            const int32_t* fanout = own ? c.data->fanout : b->o.quick ? small[i].fanout : usual[i].fanout;
            const ggnn_sampling how = ggnn_sampling_plain(weighted ? GGNN_WEIGHTED : GGNN_FISHER_YATES, fanout,
                                                          own ? c.data->num_hops : b->o.quick ? small[i].hops : usual[i].hops);
            if (!put_setting(b, &c, &how, &all[weighted * settings + i])) return false;
        }
    for (int i = 0; i < 2 * settings; i++)
        if (!put_common(b, &all[i])) return false;
    return true;
}
