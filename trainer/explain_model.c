#include "trainer/explain_model.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/hotness.h"

const char* const explain_name[EXPLAIN_SETTINGS] = {"all on each device", "all, in parts over the devices", "lists first, then rows",
                                                    "rows first, then lists", "a cache of rows and lists each"};
const char* const explain_options[EXPLAIN_SETTINGS] = {"--store replica", "--store parts", "--store-graph 1 --store-features 1 --prefer graph",
                                                       "--store-graph 1 --store-features 1 --prefer features",
                                                       "--cache dual --cache-bytes auto"};

typedef struct {
    const explain_case* c;
    int64_t graph_bytes, feature_bytes;
    ggnn_node *rank, *order; /* (N) by degree */
    ggnn_node *row_taken, *list_taken, *work; /* (N), (N), (2 N) */
} model;

static double seconds_of(explain_tiers bytes, explain_tiers bandwidth)
{
    double seconds = 0;
    if (bytes.own > 0) seconds += bytes.own / bandwidth.own;
    if (bytes.peer > 0) seconds += bytes.peer / bandwidth.peer;
    if (bytes.host > 0) seconds += bytes.host / bandwidth.host;
    return seconds;
}

/* Bytes that a sample reads of a list: its entry, and the edges looked at, each in a sector of 32 bytes of its own, or
   the whole list where that is less. */
static double list_read_bytes(const model* m, int64_t v)
{
    const ggnn_sizes* of = &m->c->sizes;
    const double edges = (double)(ggnn_list_bytes(of, v) - of->list), sectors = 32 * m->c->fanout;
    return (double)of->list + (edges < sectors ? edges : sectors);
}

/* Of what is kept, `own` is the share that a device reads from itself: the others' parts are peers'. */
static void add_reads(explain_tiers* to, double reads, bool kept, double own)
{
    if (!kept) to->host += reads;
    else {
        to->own += reads * own;
        to->peer += reads * (1 - own);
    }
}

/* Reads by tier and times, where rows and lists below so many ranks are kept. A rank NULL: v itself. */
static void evaluate(const model* m, explain_outcome* out, const ggnn_node* row_rank, const ggnn_node* list_rank, bool in_parts)
{
    const explain_case* c = m->c;
    explain_tiers bytes[2] = {{0, 0, 0}, {0, 0, 0}};
    out->possible = true;
    const double epoch = 1 / (double)c->epochs, own = in_parts ? (double)c->copies / c->devices : 1;
    for (int64_t v = 0; v < c->nodes; v++) {
        const double rows = epoch * (double)c->rows[v], lists = epoch * (double)c->lists[v];
        const bool row = (row_rank ? row_rank[v] : v) < out->rows, list = (list_rank ? list_rank[v] : v) < out->lists;
        add_reads(&out->row_reads, rows, row, own);
        add_reads(&out->list_reads, lists, list, own);
        add_reads(&bytes[0], lists * list_read_bytes(m, v), list, own);
        add_reads(&bytes[1], rows * (double)c->sizes.row, row, own);
    }
    out->sample = seconds_of(bytes[0], c->bandwidth) / c->devices;
    out->extract = seconds_of(bytes[1], c->bandwidth) / c->devices;
    out->seconds = out->sample + out->extract;
}

static void keep_all(const model* m, explain_outcome* out, bool in_parts)
{
    const int64_t share = in_parts ? m->c->devices : 1, copies = in_parts ? m->c->copies : 1;
    const int64_t rows = m->feature_bytes / share * copies, lists = m->graph_bytes / share * copies;
    if (rows > m->c->memory || lists > m->c->memory - rows || (in_parts && m->c->devices < 2)) return;
    out->rows = out->lists = m->c->nodes;
    out->row_bytes = rows;
    out->list_bytes = lists;
    evaluate(m, out, NULL, NULL, in_parts);
}

/* What a device has beside its rankings. */
static int64_t room_beside(const explain_case* c, int64_t rankings) { return ggnn_fill_auto(c->memory, tier_plan_rank_bytes(c->nodes, rankings), 0); }

/* Parts that want everything, one kind first. One ranking, by degree, serves both. */
static void keep_first(const model* m, explain_outcome* out, bool features)
{
    const explain_case* c = m->c;
    const tier_parts from = {c->nodes, c->devices, &c->sizes, {m->rank, m->rank}, m->order, {c->nodes, c->nodes}, features};
    tiers_share share[TIERS_KINDS];
    int64_t bytes[TIERS_KINDS];
    tier_plan_parts(share, bytes, m->list_taken, &from, room_beside(c, 1) / c->copies);
    out->rows = share[TIERS_FEATURES].stored;
    out->lists = share[TIERS_GRAPH].stored;
    out->row_bytes = bytes[TIERS_FEATURES] * c->copies;
    out->list_bytes = bytes[TIERS_GRAPH] * c->copies;
    evaluate(m, out, share[TIERS_FEATURES].rank, share[TIERS_GRAPH].rank, true);
}

/* What all rows, and all lists, being kept would save, decides. Each kind has a ranking. */
static void keep_densest(const model* m, explain_outcome* out)
{
    const explain_case* c = m->c;
    double list_bytes = 0, row_bytes = 0;
    for (int64_t v = 0; v < c->nodes; v++) {
        list_bytes += (double)c->hot_lists[v] * list_read_bytes(m, v);
        row_bytes += (double)c->hot_rows[v] * (double)c->sizes.row;
    }
    const double saved = 1e9 * (1 / c->bandwidth.host - 1 / c->bandwidth.own); /* nanoseconds a byte */
    const double rows = row_bytes * saved, lists = list_bytes * saved;
    out->slopes[0] = lists > 1 ? (int64_t)lists : 1;
    out->slopes[1] = rows > 1 ? (int64_t)rows : 1;
    const ggnn_dual from = {c->hot_rows, c->hot_lists, out->slopes[1], out->slopes[0], &c->sizes, room_beside(c, 2)};
    const ggnn_dual_fill fill = ggnn_fill_dual(m->row_taken, m->list_taken, &from, c->nodes, m->work);
    out->rows = fill.rows;
    out->lists = fill.lists;
    out->row_bytes = fill.row_bytes;
    out->list_bytes = fill.list_bytes;
    evaluate(m, out, m->row_taken, m->list_taken, false);
}

bool explain_outcomes(explain_outcome out[EXPLAIN_SETTINGS], const explain_case* c, error* why)
{
    const size_t n = (size_t)c->nodes;
    model m = {.c = c, .feature_bytes = c->nodes * c->sizes.row};
    ggnn_node* memory = memory_new(memory_product(n, 6 * sizeof *memory, 1), "ranks of nodes", why);
    if (!memory) return false;
    m.rank = memory;
    m.order = memory + n;
    m.row_taken = memory + 2 * n;
    m.list_taken = memory + 3 * n;
    m.work = memory + 4 * n;
    m.graph_bytes = (c->sizes.indptr[n] - c->sizes.indptr[0]) * c->sizes.edge + c->nodes * c->sizes.list;
    hotness_rank(m.rank, m.order, HOTNESS_DEGREE, c->degrees, NULL, NULL, 0, c->nodes);
    memset(out, 0, EXPLAIN_SETTINGS * sizeof *out);
    keep_all(&m, &out[EXPLAIN_ALL], false);
    keep_all(&m, &out[EXPLAIN_PARTS], true);
    keep_first(&m, &out[EXPLAIN_GRAPH_FIRST], false);
    keep_first(&m, &out[EXPLAIN_FEATURES_FIRST], true);
    keep_densest(&m, &out[EXPLAIN_DUAL]);
    memory_free(memory);
    return true;
}

explain_setting explain_choice(const explain_outcome out[EXPLAIN_SETTINGS])
{
    double least = -1;
    int choice = 0;
    for (int s = 0; s < EXPLAIN_SETTINGS; s++)
        if (out[s].possible && (least < 0 || out[s].seconds < least)) least = out[s].seconds;
    while (!out[choice].possible || out[choice].seconds > 1.01 * least) choice++;
    return (explain_setting)choice;
}
