#include "trainer/explain_model.h"

#include <string.h>

#include "common/memory.h"

const char* const explain_name[EXPLAIN_SETTINGS] = {"all on each device", "all, in parts over the devices", "lists first, then rows",
                                                    "rows first, then lists", "a cache of rows and lists each"};
const char* const explain_options[EXPLAIN_SETTINGS] = {"--store replica", "--store parts", "--store-graph 1 --store-features 1 --prefer graph",
                                                       "--store-graph 1 --store-features 1 --prefer features",
                                                       "--cache dual --cache-bytes auto"};

typedef struct {
    const explain_case* c;
    ggnn_sizes sizes;
    int64_t graph_bytes, feature_bytes;
    ggnn_node *row_rank, *list_rank; /* (N) by the counts, */
    ggnn_node *list_order;           /* (N) and the lists in that order */
    ggnn_node *row_taken, *list_taken, *work; /* (N), (N), (2 N) */
    int64_t* left; /* (devices) */
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
    const double edges = (double)(m->c->indptr[v + 1] - m->c->indptr[v]) * (double)m->c->edge;
    const double sectors = 32 * m->c->fanout;
    return (double)m->c->list + (edges < sectors ? edges : sectors);
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

/* Reads by tier and times, where rows and lists below so many ranks are kept. */
static void evaluate(const model* m, explain_outcome* out, const ggnn_node* row_rank, const ggnn_node* list_rank, bool in_parts)
{
    const explain_case* c = m->c;
    explain_tiers bytes[2] = {{0, 0, 0}, {0, 0, 0}};
    out->possible = true;
    const double epoch = 1 / (double)c->epochs, own = in_parts ? (double)c->copies / c->devices : 1;
    for (int64_t v = 0; v < c->nodes; v++) {
        const double rows = epoch * (double)c->rows[v], lists = epoch * (double)c->lists[v];
        const bool row = row_rank[v] < out->rows, list = list_rank[v] < out->lists;
        add_reads(&out->row_reads, rows, row, own);
        add_reads(&out->list_reads, lists, list, own);
        add_reads(&bytes[0], lists * list_read_bytes(m, v), list, own);
        add_reads(&bytes[1], rows * (double)c->row, row, own);
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
    evaluate(m, out, m->row_rank, m->list_rank, in_parts);
}

/* The bytes that P devices have between them, to one kind first. */
static void keep_first(const model* m, explain_outcome* out, bool features)
{
    const explain_case* c = m->c;
    const ggnn_share share = ggnn_fill_parts(c->memory, c->devices, c->copies, m->graph_bytes, m->feature_bytes, features);
    for (int32_t p = 0; p < c->devices; p++) m->left[p] = share.topology / c->devices;
    out->rows = ggnn_fill_rows(share.features, c->row, c->nodes);
    out->lists = ggnn_fill_lists(m->list_taken, m->left, c->devices, m->list_order, &m->sizes, c->nodes);
    if (share.topology == m->graph_bytes) out->lists = c->nodes; /* parts of unlike lists need not come out even */
    out->row_bytes = out->rows * c->row / c->devices * c->copies;
    out->list_bytes = share.topology / c->devices * c->copies;
    evaluate(m, out, m->row_rank, m->list_taken, true);
}

/* What all rows, and all lists, being kept would save, decides. */
static void keep_densest(const model* m, explain_outcome* out)
{
    const explain_case* c = m->c;
    double list_bytes = 0, row_bytes = 0;
    for (int64_t v = 0; v < c->nodes; v++) {
        list_bytes += (double)c->hot_lists[v] * list_read_bytes(m, v);
        row_bytes += (double)c->hot_rows[v] * (double)c->row;
    }
    const double saved = 1e9 * (1 / c->bandwidth.host - 1 / c->bandwidth.own); /* nanoseconds a byte */
    const double rows = row_bytes * saved, lists = list_bytes * saved;
    out->slopes[0] = lists > 1 ? (int64_t)lists : 1;
    out->slopes[1] = rows > 1 ? (int64_t)rows : 1;
    const ggnn_dual from = {c->hot_rows, c->hot_lists, out->slopes[1], out->slopes[0], &m->sizes, c->memory};
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
    model m = {.c = c, .sizes = {c->row, c->indptr, c->edge, c->list}, .feature_bytes = c->nodes * c->row};
    ggnn_node* memory = memory_new(memory_product(n, 7 * sizeof *memory, 1), "ranks of nodes", why);
    m.left = memory ? memory_new((size_t)c->devices * sizeof *m.left, "room of devices", why) : NULL;
    if (!m.left) {
        memory_free(memory);
        return false;
    }
    m.row_rank = memory;
    m.list_rank = memory + n;
    m.list_order = memory + 2 * n;
    m.row_taken = memory + 3 * n;
    m.list_taken = memory + 4 * n;
    m.work = memory + 5 * n;
    m.graph_bytes = (c->indptr[n] - c->indptr[0]) * c->edge + c->nodes * c->list;
    const ggnn_hotness rows = {c->hot_rows, NULL, c->indptr}, lists = {c->hot_lists, NULL, c->indptr};
    ggnn_rank(m.row_rank, m.work, &rows, c->nodes);
    ggnn_rank(m.list_rank, m.list_order, &lists, c->nodes);
    memset(out, 0, EXPLAIN_SETTINGS * sizeof *out);
    keep_all(&m, &out[EXPLAIN_ALL], false);
    keep_all(&m, &out[EXPLAIN_PARTS], true);
    keep_first(&m, &out[EXPLAIN_GRAPH_FIRST], false);
    keep_first(&m, &out[EXPLAIN_FEATURES_FIRST], true);
    keep_densest(&m, &out[EXPLAIN_DUAL]);
    memory_free(m.left);
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
