#include "trainer/store/slopes.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

enum { BATCHES = 8 };

typedef struct {
    device* device;
    const slopes_plan* plan;
    tiers* tiers;
    loader* loader;
    int64_t batches;     /* batches taken in a turn */
    int64_t of;          /* batches of an epoch */
} bench;

static bool open_bench(bench* b, const tiers_plan* placed, error* why)
{
    const slopes_plan* p = b->plan;
    tiers_source from = *p->from;
    from.over = NULL;
    from.plan = placed;
    from.labels = (net_labels){NULL, NULL};
    for (int i = 0; i < TIERS_LISTS; i++)
        if (i != p->list) from.ids[i] = NULL;
    if (!tiers_open(&b->tiers, b->device, &from, why)) return false;
    const tiers_view* view = tiers_view_of(b->tiers);
    const loader_plan plan = {.graph = view->graph, .features = view->features, .how = p->how, .batch = p->batch,
                              .rank = p->rank, .ranks = p->ranks, .extract = true};
    loader_pass pass = p->pass;
    pass.ids = view->ids[p->list];
    b->loader = loader_create(b->device, &plan, NULL, why);
    if (!b->loader || !loader_measure(b->loader, &pass, why)) return false;
    b->of = loader_batches(b->loader, &pass);
    b->batches = b->of < BATCHES ? b->of : BATCHES;
    return true;
}

static void close_bench(bench* b)
{
    device_settle(b->device);
    loader_free(b->loader);
    tiers_close(b->tiers);
    b->loader = NULL;
    b->tiers = NULL;
}

double slopes_epoch(const double seconds[SLOPES_TURNS], int64_t batches, int64_t all)
{
    double least = seconds[1];
    for (int turn = 2; turn < SLOPES_TURNS; turn++)
        if (seconds[turn] < least) least = seconds[turn];
    return 1e3 * least * (double)all / (double)batches;
}

/* Of either sign. */
static int64_t line_of(const double* hit, const double* ms, int64_t n)
{
    double negated[SLOPES_SIZES];
    const int64_t falls = ggnn_fill_slope(hit, ms, n);
    for (int64_t i = 0; i < n; i++) negated[i] = -ms[i];
    return falls ? falls : -ggnn_fill_slope(hit, negated, n);
}

slopes_fit slopes_line(const double* hit, const double* ms, int64_t n)
{
    slopes_fit fit = {0, NAN, NAN, false};
    double x = 0, y = 0, xx = 0, yy = 0, residuals = 0;
    bool differ = false;
    for (int64_t i = 0; i < n; i++) {
        differ |= hit[i] < hit[0] || hit[i] > hit[0];
        x += hit[i] / (double)n;
        y += ms[i] / (double)n;
    }
    if (n < 3 || !differ) return fit;
    fit.line = line_of(hit, ms, n);
    for (int64_t i = 0; i < n; i++) {
        const double off = ms[i] - y + 1e-6 * (double)fit.line * (hit[i] - x);
        xx += (hit[i] - x) * (hit[i] - x);
        yy += (ms[i] - y) * (ms[i] - y);
        residuals += off * off;
    }
    fit.error = 1e6 * sqrt(residuals / (double)(n - 2) / xx);
    if (yy > 0) fit.explained = residuals < yy ? 1 - residuals / yy : 0;
    fit.clear = (double)fit.line > 2 * fit.error;
    return fit;
}

/* The same batches in each turn: seconds of sampling, of extraction. */
static bool take_turn(bench* b, int turn, double seconds[TIERS_KINDS][SLOPES_TURNS], error* why)
{
    loader_pass pass = b->plan->pass;
    const loader_cost before = loader_cost_of(b->loader);
    pass.ids = tiers_view_of(b->tiers)->ids[b->plan->list];
    loader_begin(b->loader, &pass, 0);
    for (int64_t i = 0; i < b->batches; i++) {
        const mini_batch* taken = batch_take(b->loader, why);
        if (!taken) return false;
        batch_give(b->loader, taken);
    }
    const loader_cost now = loader_cost_of(b->loader);
    seconds[TIERS_GRAPH][turn] = now.sample - before.sample;
    seconds[TIERS_FEATURES][turn] = now.extract - before.extract;
    return true;
}

static double hit_ratio(tiers_reads r)
{
    const int64_t all = r.cache + r.own + r.peer + r.host;
    return all ? (double)r.cache / (double)all : 0;
}

/* The first `cached` nodes of a random order have their lists and rows in the cache. */
static bool measure_size(slopes_times* s, int size, bench* b, const ggnn_node* rank, int64_t cached, error* why)
{
    const tiers_share share = {NULL, 0, rank, cached};
    const tiers_plan placed = {.share = {share, share}};
    bool good = open_bench(b, &placed, why);
    double seconds[TIERS_KINDS][SLOPES_TURNS];
    for (int turn = 0; good && turn < SLOPES_TURNS; turn++) good = take_turn(b, turn, seconds, why);
    for (int kind = 0; good && kind < TIERS_KINDS; kind++) {
        s->ms[kind][size] = slopes_epoch(seconds[kind], b->batches, b->of);
        const tiers_count count = tiers_counted(b->tiers, (tiers_kind)kind);
        s->hit[kind][size] = hit_ratio(count.read);
        s->bytes[size] += count.placed_bytes.cache;
    }
    close_bench(b);
    return good;
}

/* How many nodes of an order have their lists and rows in so many bytes. */
static int64_t nodes_within(const tiers_source* from, const ggnn_node* order, int64_t bytes)
{
    const ggnn_sizes sizes = ggnn_sizes_of(&from->graph, &from->features);
    int64_t n = 0;
    for (; n < from->graph.num_nodes; n++) {
        bytes -= sizes.row + ggnn_list_bytes(&sizes, order[n]);
        if (bytes < 0) break;
    }
    return n;
}

bool slopes_measure(slopes_times* s, device* d, const slopes_plan* plan, error* why)
{
    const int64_t nodes = plan->from->graph.num_nodes;
    slopes_plan presample = *plan;
    bench b = {.device = d, .plan = &presample};
    presample.pass.rng.purpose = GGNN_PURPOSE_PRESAMPLE;
    ggnn_node* rank = memory_new(memory_product((size_t)nodes, 2 * sizeof *rank, 1), "ranks of nodes", why);
    memset(s, 0, sizeof *s);
    if (!rank) return false;
    ggnn_rank_random(rank, rank + nodes, plan->pass.rng.seed, nodes);
    const int64_t most = nodes_within(plan->from, rank + nodes, plan->room);
    bool good = true;
    for (int i = 0; good && i < SLOPES_SIZES; i++) {
        const int64_t cached = i ? most * i / (SLOPES_SIZES - 1) : most > 0; /* a node at least: asking the cache costs too */
        good = measure_size(s, i, &b, rank, cached, why);
    }
    for (int kind = 0; good && kind < TIERS_KINDS; kind++)
        s->fit[kind] = slopes_line(s->hit[kind], s->ms[kind], SLOPES_SIZES);
    memory_free(rank);
    return good;
}
