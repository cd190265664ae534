#include "trainer/explain_model.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/hotness.h"

const char* const explain_name[EXPLAIN_SETTINGS] = {"all on each device", "all, in parts over the devices", "lists first, then rows",
                                                    "rows first, then lists", "a cache of rows and lists each", "parts within cliques", "a cache beside parts"};
const char* const explain_options[EXPLAIN_SETTINGS] = {"--store replica", "--store parts", "--store-graph 1 --store-features 1 --prefer graph",
                                                       "--store-graph 1 --store-features 1 --prefer features",
                                                       "--cache dual --cache-bytes auto", "--store-graph 1 --store-features 1 --placement clique",
                                                       "--store-graph 1 --store-features 1 --cache presc"};
const double explain_ratio[EXPLAIN_RATIOS] = {.01, .02, .05, .1, .15, .2, .3, .5};

enum { ROWS, LISTS, LIST_BYTES, COUNTS };
typedef struct {
    const explain_case* c;
    const int64_t* count[COUNTS]; /* (N) reads of rows, reads of lists, and bytes of lists that are read */
    int64_t* list_bytes;          /* (N) bytes of lists that are read */
    int64_t* bytes;               /* (N) bytes of lists as they lie */
    ggnn_node *rank, *owned;      /* (N) by degree, of parts; by owner */
    ggnn_node* hot[TIERS_KINDS];  /* (N) by reads before training */
    ggnn_placement cliques;       /* with links */
    double cache_ratio;           /* of EXPLAIN_BESIDE, as it is looked at */
    int64_t slopes[2];            /* of --cache dual */
} model;

/* The options of a setting, in place of the run's own. The reserve is no part of `memory`. */
static tier_options options_of(const model* m, explain_setting s)
{
    const explain_case* c = m->c;
    const bool dual = s == EXPLAIN_DUAL, beside = s == EXPLAIN_BESIDE;
    tier_options o = config_tiers(c->config);
    o.store_graph = o.store_features = dual ? 0 : 1;
    o.features_first = s == EXPLAIN_FEATURES_FIRST;
    o.cache = dual ? HOTNESS_DUAL + 1 : beside ? HOTNESS_PRESC + 1 : CACHE_NONE;
    o.cache_ratio = m->cache_ratio;
    o.cache_auto = dual;
    o.cache_bytes = -1;
    o.reserve_bytes = 0;
    o.ranking = NULL;
    memcpy(o.slopes, m->slopes, sizeof o.slopes);
    return o;
}

/* Without tiers a run has all, or the parts of owners. */
static bool has_tiers(const explain_case* c, explain_setting s)
{
    return s > EXPLAIN_PARTS || c->config->device_memory || (s == EXPLAIN_PARTS && c->placement);
}

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
static int64_t list_read_bytes(const explain_case* c, int64_t v)
{
    const int64_t edges = ggnn_list_bytes(&c->sizes, v) - c->sizes.list, sectors = 32 * (int64_t)c->fanout;
    return c->sizes.list + (edges < sectors ? edges : sectors);
}

typedef struct { /* where one kind lies */
    const ggnn_layout* at;
    const ggnn_placement* placed; /* NULL: a device has one part, and reads the others */
} lying;

/* The device that i reads part p from. */
static int32_t source_of(const lying* of, int32_t i, int32_t p) { return of->placed && of->at->parts > 1 ? of->placed->source[i][p] : p; }

/* The share of the devices that read part p of several from themselves. */
static double own_share(const lying* of, int32_t p)
{
    int32_t own = 0;
    for (int32_t i = 0; i < of->at->parts; i++) own += source_of(of, i, p) == i;
    return (double)own / of->at->parts;
}

/* Of an epoch, by where it is read from. */
static explain_tiers by_tier(const model* m, const lying* of, int count)
{
    const ggnn_layout* at = of->at;
    const explain_case* c = m->c;
    const double epoch = 1 / (double)c->epochs;
    int64_t slot[COMM_RANKS_MAX + 2];
    tiers_by_slot(slot, at, m->count[count], c->nodes);
    explain_tiers sum = {epoch * (double)slot[at->parts + 1], 0, epoch * (double)slot[at->parts]};
    for (int32_t p = 0; p < at->parts; p++) {
        const double own = own_share(of, p);
        sum.own += epoch * (double)slot[p] * own;
        sum.peer += epoch * (double)slot[p] * (1 - own);
    }
    return sum;
}

/* Device i's time, where all read alike. */
static double seconds_on_links(const model* m, const lying* of, const int64_t* slot, int32_t i)
{
    const explain_case* c = m->c;
    const int32_t parts = of->at->parts;
    double from[GGNN_DEVICES_MAX] = {0}, slowest = 0;
    for (int32_t p = 0; p < parts; p++) from[source_of(of, i, p)] += (double)slot[p];
    for (int32_t j = 0; j < parts; j++) {
        const double link = j == i ? 0 : from[j] / (1e9 * c->links->bandwidth[i][j]);
        if (from[j] > 0 && link > slowest) slowest = link;
    }
    return (from[i] + (double)slot[parts + 1]) / c->bandwidth.own + slowest + (double)slot[parts] / c->bandwidth.host;
}

/* Of an epoch that a device reads one kind, of so many bytes a count. */
static double read_seconds(const model* m, const lying* of, int count, double each)
{
    const explain_case* c = m->c;
    int64_t slot[COMM_RANKS_MAX + 2];
    double slowest = 0;
    if (!c->links || of->at->parts == 1) return each * seconds_of(by_tier(m, of, count), c->bandwidth) / c->devices;
    tiers_by_slot(slot, of->at, m->count[count], c->nodes);
    for (int32_t i = 0; i < of->at->parts; i++) {
        const double seconds = seconds_on_links(m, of, slot, i);
        slowest = seconds > slowest ? seconds : slowest;
    }
    return each * slowest / (double)c->epochs / c->devices;
}

/* Reads and times of what lies so. */
static void evaluate(const model* m, explain_outcome* out, const lying* rows, const lying* lists)
{
    const explain_case* c = m->c;
    out->possible = true;
    out->row_reads = by_tier(m, rows, ROWS);
    out->list_reads = by_tier(m, lists, LISTS);
    out->sample = read_seconds(m, lists, LIST_BYTES, 1);
    out->extract = read_seconds(m, rows, ROWS, (double)c->sizes.row);
    out->seconds = out->sample + out->extract;
}

/* What lies on the fullest device, its cache included, of numbers that nodes have; NULL: ones. */
static int64_t fullest_device(const model* m, const lying* of, const int64_t* number)
{
    const ggnn_layout* at = of->at;
    const ggnn_placement* placed = at->parts > 1 ? of->placed : NULL;
    int64_t slot[COMM_RANKS_MAX + 2], most = 0;
    ggnn_layout stored = *at;
    tiers_by_slot(slot, at, number, m->c->nodes);
    const int64_t cached = slot[at->parts + 1];
    stored.cached = 0; /* what both have takes memory in both */
    tiers_by_slot(slot, &stored, number, m->c->nodes);
    for (int32_t i = 0; i < at->parts; i++) {
        int64_t sum = 0;
        for (int32_t p = 0; p < at->parts; p++)
            if (placed ? placed->stores[i] >> p & 1 : p == i) sum += slot[p];
        most = sum > most ? sum : most;
    }
    return most + cached;
}

/* Parts by owner, as tiers_open lays them out where there is no plan. */
static bool keep_owned(const model* m, explain_outcome* out, int32_t parts, error* why)
{
    const explain_case* c = m->c;
    const bool ranked = parts > 1 && c->config->owners == GGNN_OWNER_HASH;
    const int64_t room = ggnn_fill_auto(c->memory, tier_plan_rank_bytes(c->nodes, ranked), 0);
    int64_t bound[COMM_RANKS_MAX + 1];
    ggnn_layout at;
    ggnn_fault fault;
    if (ggnn_layout_owners(&at, m->owned, bound, (ggnn_owner)c->config->owners, NULL, c->nodes, parts, &fault) != GGNN_OK)
        return error_set(why, "parts: %s", fault.what);
    const lying of = {&at, c->placement};
    const int64_t rows = fullest_device(m, &of, NULL) * c->sizes.row, lists = fullest_device(m, &of, m->bytes);
    if (rows > room || lists > room - rows) return true;
    out->rows = out->lists = c->nodes;
    out->row_bytes = rows;
    out->list_bytes = lists;
    evaluate(m, out, &of, &of);
    return true;
}

/* What the planner of runs makes of the setting's options. Of the first two settings all, or they are not possible. */
static bool keep_planned(const model* m, explain_outcome* out, explain_setting s, error* why)
{
    const explain_case* c = m->c;
    const tier_options options = options_of(m, s);
    const bool beside = s == EXPLAIN_BESIDE;
    const tier_known known = {.nodes = c->nodes, .sizes = c->sizes, .parts = s == EXPLAIN_ALL ? 1 : c->devices,
                              .placement = s == EXPLAIN_ALL ? NULL : s == EXPLAIN_CLIQUES ? &m->cliques : c->placement, .total = c->memory,
                              .peaks = c->peaks, .rank = {beside ? m->hot[0] : m->rank, beside ? m->hot[1] : m->rank}, .cached = m->hot[TIERS_FEATURES],
                              .count = {[TIERS_GRAPH] = c->hot_lists, [TIERS_FEATURES] = c->hot_rows}};
    tier_plan p;
    const bool good = tier_plan_suppose(&p, &options, &known, why);
    const tiers_share *lists = &p.plan.share[TIERS_GRAPH], *rows = &p.plan.share[TIERS_FEATURES];
    if (good && (s > EXPLAIN_PARTS || (lists->stored == c->nodes && rows->stored == c->nodes))) {
        const ggnn_layout rows_at = tiers_layout(rows, known.parts), lists_at = tiers_layout(lists, known.parts);
        const lying row = {&rows_at, known.placement}, list = {&lists_at, known.placement};
        out->rows = rows->stored + rows->cached;
        out->lists = lists->stored + lists->cached;
        out->row_bytes = fullest_device(m, &row, NULL) * c->sizes.row;
        out->list_bytes = fullest_device(m, &list, m->bytes);
        if (!beside || rows->cached * c->sizes.row <= c->memory - tier_plan_rankings(&p)) evaluate(m, out, &row, &list);
    }
    tier_plan_close(&p);
    return good;
}

/* The share of a cache beside parts by the time that its reads take on the links: what it has costs no link, and leaves the parts less. */
static bool keep_beside(model* m, explain_outcome* out, error* why)
{
    const explain_case* c = m->c;
    const int64_t* hot[TIERS_KINDS] = {[TIERS_GRAPH] = c->hot_lists, [TIERS_FEATURES] = c->hot_rows};
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        hotness_rank(m->hot[kind], m->owned, HOTNESS_PRESC, hot[kind], NULL, c->sizes.indptr, 0, c->nodes);
    for (int i = 0; i < EXPLAIN_RATIOS; i++) {
        explain_outcome with = {.cache_ratio = explain_ratio[i]};
        m->cache_ratio = explain_ratio[i];
        if (!keep_planned(m, &with, EXPLAIN_BESIDE, why)) return false;
        if (with.possible && (!out->possible || with.seconds < (1 - 1e-9) * out->seconds)) *out = with; /* not for a rounding */
    }
    return true;
}

/* What all lists, and all rows, being kept would save: nanoseconds. */
static void find_slopes(model* m)
{
    const explain_case* c = m->c;
    const double saved = 1e9 * (1 / c->bandwidth.host - 1 / c->bandwidth.own); /* a byte */
    double list_bytes = 0, row_bytes = 0;
    for (int64_t v = 0; v < c->nodes; v++) {
        list_bytes += (double)c->hot_lists[v] * (double)list_read_bytes(c, v);
        row_bytes += (double)c->hot_rows[v] * (double)c->sizes.row;
    }
    const double lists = list_bytes * saved, rows = row_bytes * saved;
    m->slopes[0] = lists > 1 ? (int64_t)lists : 1;
    m->slopes[1] = rows > 1 ? (int64_t)rows : 1;
}

static bool outcomes(model* m, explain_outcome out[EXPLAIN_SETTINGS], error* why)
{
    const explain_case* c = m->c;
    ggnn_fault fault;
    hotness_rank(m->rank, m->owned, HOTNESS_DEGREE, c->degrees, NULL, NULL, 0, c->nodes);
    for (int64_t v = 0; v < c->nodes; v++) {
        m->list_bytes[v] = c->lists[v] * list_read_bytes(c, v);
        m->bytes[v] = ggnn_list_bytes(&c->sizes, v);
    }
    m->count[ROWS] = c->rows;
    m->count[LISTS] = c->lists;
    m->count[LIST_BYTES] = m->list_bytes;
    find_slopes(m);
    if (c->links && ggnn_place_parts(&m->cliques, c->links, GGNN_PLACE_CLIQUE, 0, &fault) != GGNN_OK)
        return error_set(why, "cliques of devices: %s", fault.what);
    for (int s = 0; s < EXPLAIN_BESIDE; s++) {
        const int32_t parts = s == EXPLAIN_ALL ? 1 : c->devices;
        if (s == EXPLAIN_PARTS && parts == 1) continue;
        if (s == EXPLAIN_CLIQUES && (parts == 1 || !c->links)) continue;
        if (has_tiers(c, (explain_setting)s) ? !keep_planned(m, &out[s], (explain_setting)s, why) : !keep_owned(m, &out[s], parts, why)) return false;
    }
    memcpy(out[EXPLAIN_DUAL].slopes, m->slopes, sizeof m->slopes);
    return c->devices == 1 || keep_beside(m, &out[EXPLAIN_BESIDE], why);
}

bool explain_outcomes(explain_outcome out[EXPLAIN_SETTINGS], const explain_case* c, error* why)
{
    const size_t n = (size_t)c->nodes;
    model m = {.c = c};
    memset(out, 0, EXPLAIN_SETTINGS * sizeof *out);
    m.rank = memory_new(memory_product(n, 4 * sizeof *m.rank, 1), "ranks of nodes", why);
    m.bytes = m.rank ? memory_new(memory_product(n, 2 * sizeof *m.bytes, 1), "bytes of lists", why) : NULL;
    m.owned = m.bytes ? m.rank + n : NULL;
    for (int kind = 0; m.bytes && kind < TIERS_KINDS; kind++) m.hot[kind] = m.rank + (size_t)(2 + kind) * n;
    m.list_bytes = m.bytes ? m.bytes + n : NULL;
    const bool good = m.bytes && outcomes(&m, out, why);
    memory_free(m.rank);
    memory_free(m.bytes);
    return good;
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
