/* bench_store.c - XGNN's factor analysis: where P devices read rows and lists of neighbours from, as one piece of its store
   after the other is added. Nothing is timed and nothing is moved: what an epoch of training samples is counted, node by
   node; what each setting stores is what ggnn_fill_parts says, and tiers_plan_reads where it is read from, as of
   ggnn-train. So the figures are the same on every machine.

       base               each device has all lists, or the hottest that fit, and a cache of the hottest rows
       + topology store   lists in parts over cliques of linked devices; the cache has what that frees
       + feature store    rows in parts too
       + set sampler      ids of lists are read once positions are final, not whenever a reservoir accepts one
       + placement        parts by ggnn_place_parts in place of cliques
       CliqueOpt          cliques again, but each device has the hottest rows in a cache, and parts have those behind: of nine shares
                          of rows, none among them, the one with the least time */
#include <string.h>

#include "bench/bench.h"
#include "bench/with.h"
#include "common/options.h"
#include "datasets/hotness.h"
#include "datasets/topology.h"
#include "trainer/batch/loader.h"
#include "trainer/store/tiers.h"

enum { SEED = 1, DEVICES = 8, SECTOR = 32, LANES = 32 };
static const double host_gb = 12; /* GB/s of the host's link, as of ggnn-train --links */

typedef enum { BASE, TOPOLOGY, FEATURES, SET, PLACED, OPT, SETTINGS } setting_name;
static const char* const name_of[SETTINGS] = {"base", "+ topology store", "+ feature store", "+ set sampler", "+ placement", "CliqueOpt"};

enum { SHARES = 9 };
static const double share_of[SHARES] = {0, .01, .02, .05, .1, .15, .2, .3, .5};

/* Who reads the ids of a list. The positions of the set's are final before the first id is read, so that a warp's lanes ask
   together, a request for each sector. A reservoir reads an id whenever it accepts one: GNNLab's has a thread a list, each of
   its reads is a request; of one with a warp a list, 32 lanes look at 32 ids after the other and ask together. */
typedef enum { RESERVOIR_THREAD, RESERVOIR_WARP, SET_WARP, SAMPLERS } sampler_name;
static const char* const sampler_of[SAMPLERS] = {"reservoir, a thread a list", "reservoir, a warp a list", "set, a warp a list"};

typedef struct {
    tiers_plan plan;
    int64_t kept[TIERS_KINDS], bytes[TIERS_KINDS]; /* by devices together, or in each cache; of a device's memory */
    tiers_reads read[TIERS_KINDS], sectors[SAMPLERS]; /* by all devices */
    double seconds[TIERS_KINDS], both; /* of the slowest device */
} setting;

typedef struct {
    const bench_graph* data;
    int32_t devices;
    ggnn_topology links;
    ggnn_placement cliques, best;
    int64_t memory, batch, batches; /* of a device; seeds of all devices, of which an epoch has so many */
    ggnn_sizes sizes;
    ggnn_sampling how;
    int64_t *read[TIERS_KINDS], *sectors[SAMPLERS]; /* (N) by one device */
    ggnn_node *rank[TIERS_KINDS], *order, *taken;   /* (N), (N) of lists, (SETTINGS N) ranks of lists as they were filled */
    setting setting[SETTINGS], opt[SHARES];
    ggnn_node* behind; /* (SHARES, 2, N) ranks of rows and of lists */
    double share;      /* of OPT */
} store;

/* ==== opening =================================================================================================== */

/* devices 0: as the options or the topology say. */
static bool place(bench* b, store* s, int32_t wanted)
{
    const char* from = b->o.topology ? b->o.topology : "dgx-1v";
    const bool named = options_choice(TOPOLOGY_NAMES, from) >= 0;
    ggnn_fault fault;
    const int32_t devices = wanted ? wanted : b->o.devices ? (int32_t)b->o.devices : named ? DEVICES : 0;
    if (!topology_read(&s->links, from, devices, &b->why)) return false;
    s->devices = s->links.devices;
    if (ggnn_place_parts(&s->cliques, &s->links, GGNN_PLACE_CLIQUE, 0, &fault) != GGNN_OK ||
        ggnn_place_parts(&s->best, &s->links, GGNN_PLACE_BEST, 0, &fault) != GGNN_OK)
        return error_set(&b->why, "--topology %s: %s", from, fault.what);
    return true;
}

static int64_t up(int64_t n, int64_t parts) { return (n + parts - 1) / parts; }

static void size_up(store* s)
{
    const ggnn_graph* g = &s->data->graph;
    const ggnn_sampling plain = {.method = GGNN_REJECTION, .num_hops = s->data->num_hops, .keep = GGNN_KEEP_POSITIONS};
    s->how = plain;
    memcpy(s->how.fanout, s->data->fanout, sizeof s->how.fanout);
    s->sizes = ggnn_sizes_of(g, &s->data->features);
    s->batch = s->data->batch * s->devices < s->data->num_train ? s->data->batch * s->devices : s->data->num_train;
    s->batches = s->batch ? up(s->data->num_train, s->batch) : 0;
}

static bool open_store(bench* b, store* s, int32_t devices)
{
    memset(s, 0, sizeof *s);
    s->data = bench_graph_of(b);
    if (!s->data || !place(b, s, devices)) return false;
    size_up(s);
    const size_t n = (size_t)s->data->graph.num_nodes;
    int64_t** const count[] = {&s->read[0], &s->read[1], &s->sectors[0], &s->sectors[1], &s->sectors[2]};
    for (int i = 0; i < 5; i++)
        if (!(*count[i] = bench_new(b, n * sizeof **count[i], "counts"))) return false;
    ggnn_node** const rank[] = {&s->rank[0], &s->rank[1], &s->order, &s->taken, &s->behind};
    const size_t many[] = {1, 1, 1, OPT, 2 * SHARES};
    for (int i = 0; i < 5; i++)
        if (!(*rank[i] = bench_new(b, many[i] * n * sizeof **rank[i], "ranks"))) return false;
    return true;
}

/* ==== counting ================================================================================================== */

/* Requests for the ids at n <= LANES positions: distinct sectors. */
static int64_t requests(const int64_t* position, int64_t n)
{
    int64_t sector[LANES], distinct = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = position[i] * (int64_t)sizeof(ggnn_node) / SECTOR;
        int64_t k = 0;
        while (k < distinct && sector[k] != at) k++;
        if (k == distinct) sector[distinct++] = at;
    }
    return distinct;
}

/* A reservoir reads the first m ids, then those that it accepts. */
static void count_reservoir(store* s, const ggnn_rng* rng, int32_t hop, ggnn_node v, int64_t m)
{
    const int64_t first = s->sizes.indptr[v], degree = s->sizes.indptr[v + 1] - first;
    int64_t lane[LANES], waiting = 0;
    for (int64_t i = 0; i < degree; i++) {
        const int64_t j = i < m ? i : i - m; /* the loops over the first m and over the others each start at lane 0 */
        if (j % LANES == 0 && waiting) {
            s->sectors[RESERVOIR_WARP][v] += requests(lane, waiting);
            waiting = 0;
        }
        if (i >= m && ggnn_draw_below(rng, hop, v, j, i + 1) >= m) continue;
        s->sectors[RESERVOIR_THREAD][v]++;
        lane[waiting++] = first + i;
    }
    s->sectors[RESERVOIR_WARP][v] += requests(lane, waiting);
}

static void count_sectors(store* s, const ggnn_batch* b, const ggnn_rng* rng)
{
    for (int32_t h = 0; h < b->num_hops; h++) {
        const ggnn_block* hop = &b->hop[h];
        for (int64_t i = 0; i < *hop->num_dst.n; i++) {
            const int64_t end = hop->indptr[i + 1], m = end - hop->indptr[i];
            const ggnn_node v = hop->id[i];
            for (int64_t e = hop->indptr[i]; e < end; e += LANES)
                s->sectors[SET_WARP][v] += requests(hop->position + e, end - e < LANES ? end - e : LANES);
            count_reservoir(s, rng, h, v, m);
        }
    }
}

typedef struct { /* an epoch of device `me` */
    store* s;
    loader_pass pass;
    int32_t me;
    bool sectors;
} epoch;

static ggnn_status sample(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i)
{
    const epoch* e = context;
    return loader_sample_slice(b, seeds, &e->s->data->graph, &e->pass, e->s->batch, i, e->me, e->s->devices);
}

static ggnn_status add_reads(void* context, ggnn_batch* b, int64_t i)
{
    const epoch* e = context;
    ggnn_rng rng = e->pass.rng;
    rng.step += (uint32_t)i;
    if (e->sectors) count_sectors(e->s, b, &rng);
    return ggnn_count_batch(e->s->read[TIERS_FEATURES], e->s->read[TIERS_GRAPH], b);
}

/* Adds an epoch of device `me` to read; training's to sectors too. */
static bool count_epoch(bench* b, store* s, hotness_policy by, int32_t me)
{
    const ggnn_epochs of = hotness_epochs(by, s->data->train, s->data->num_train, s->batch, SEED);
    epoch e = {s, {.ids = of.ids, .num_ids = of.num_ids, .shuffled = true, .epoch = of.first_epoch, .rng = of.rng}, me, by == HOTNESS_OPTIMAL};
    const hotness_batches all = {.graph = &s->data->graph, .how = &s->how, .seeds = up(s->batch, s->devices), .batches = s->batches,
                                 .sample = sample, .look = add_reads, .context = &e};
    hotness_failure failed;
    if (hotness_look(&all, &failed, &b->why)) return true;
    if (failed.status == GGNN_OK) return false;
    return error_set(&b->why, "%s: node %lld: %s", s->data->path, (long long)failed.node, ggnn_status_string(failed.status));
}

static void forget_counts(store* s)
{
    const size_t bytes = (size_t)s->data->graph.num_nodes * sizeof(int64_t);
    for (int i = 0; i < TIERS_KINDS; i++) memset(s->read[i], 0, bytes);
    for (int i = 0; i < SAMPLERS; i++) memset(s->sectors[i], 0, bytes);
}

/* One order for all devices: of --with, or by what all read in an epoch before training. */
static bool rank_nodes(bench* b, store* s)
{
    const int64_t n = s->data->graph.num_nodes;
    ggnn_node* own[TIERS_KINDS];
    if (!with_ranking(b, &own[TIERS_FEATURES], &own[TIERS_GRAPH])) return false;
    for (int kind = 0; own[TIERS_GRAPH] && kind < TIERS_KINDS; kind++)
        memcpy(s->rank[kind], own[kind], (size_t)n * sizeof *own[kind]);
    for (int64_t v = 0; own[TIERS_GRAPH] && v < n; v++) s->order[own[TIERS_GRAPH][v]] = (ggnn_node)v;
    if (own[TIERS_GRAPH]) return true;
    for (int32_t me = 0; me < s->devices; me++)
        if (!count_epoch(b, s, HOTNESS_PRESC, me)) return false;
    for (int kind = TIERS_KINDS - 1; kind >= 0; kind--) /* lists last: their order is needed */
        hotness_rank(s->rank[kind], s->order, HOTNESS_PRESC, s->read[kind], NULL, s->sizes.indptr, SEED, n);
    return true;
}

/* ==== settings ================================================================================================== */

/* What devices of so many bytes store of all lists, and of all rows in this order, or none (NULL): lists first. With `place` each other's parts, else
   each by itself. */
static ggnn_parts_fill stored(const store* s, const ggnn_placement* place, int64_t bytes, const ggnn_node* rows, ggnn_node* taken)
{
    const int64_t nodes = s->data->graph.num_nodes;
    int64_t left[GGNN_DEVICES_MAX];
    const ggnn_parts from = {&s->sizes, s->rank[TIERS_GRAPH], s->order, rows, nodes, rows ? nodes : 0, bytes,
                             place ? s->devices : 1, place ? place->most : 1, 0};
    return ggnn_fill_parts(taken, left, &from, nodes);
}

/* What is not stored in parts is a cache of each device: of lists that a device has by itself; of rows, in what lists leave. */
static void fill(store* s, setting_name name, const ggnn_placement* place, bool store_rows)
{
    const int64_t nodes = s->data->graph.num_nodes;
    setting* t = &s->setting[name];
    const ggnn_parts_fill f = stored(s, place, s->memory, store_rows ? s->rank[TIERS_FEATURES] : NULL, s->taken + name * nodes);
    const int64_t cached = store_rows ? 0 : ggnn_fill_rows(s->memory - f.list_bytes, s->sizes.row, nodes);
    tiers_share *graph = &t->plan.share[TIERS_GRAPH], *features = &t->plan.share[TIERS_FEATURES];
    t->plan.placement = place;
    *graph = place ? (tiers_share){f.list_rank, f.lists, NULL, 0} : (tiers_share){NULL, 0, f.list_rank, f.lists};
    *features = store_rows ? (tiers_share){f.row_rank, f.rows, NULL, 0} : (tiers_share){NULL, 0, s->rank[TIERS_FEATURES], cached};
    t->kept[TIERS_GRAPH] = f.lists;
    t->kept[TIERS_FEATURES] = f.rows + cached;
    t->bytes[TIERS_GRAPH] = f.list_bytes;
    t->bytes[TIERS_FEATURES] = f.row_bytes + cached * s->sizes.row;
}

/* Cliques, with a cache of so many rows on each device, and parts of those behind. */
static void fill_opt(store* s, int share)
{
    const int64_t nodes = s->data->graph.num_nodes, most = ggnn_fill_rows(s->memory, s->sizes.row, nodes);
    const int64_t wanted = ggnn_fill_ratio(share_of[share], nodes), cached = wanted < most ? wanted : most;
    const ggnn_node* hot = s->rank[TIERS_FEATURES];
    ggnn_node *behind = s->behind + 2 * share * nodes, *taken = behind + nodes;
    setting* t = &s->opt[share];
    for (int64_t v = 0; v < nodes; v++) behind[v] = (ggnn_node)(hot[v] < cached ? hot[v] + nodes - cached : hot[v] - cached);
    const ggnn_parts_fill f = stored(s, &s->cliques, s->memory - cached * s->sizes.row, behind, taken);
    const int64_t twice = cached + f.rows > nodes ? cached + f.rows - nodes : 0; /* of what is cached, the parts' last */
    t->plan.placement = &s->cliques;
    t->plan.share[TIERS_GRAPH] = (tiers_share){f.list_rank, f.lists, NULL, 0};
    t->plan.share[TIERS_FEATURES] = (tiers_share){f.row_rank, f.rows, hot, cached};
    t->kept[TIERS_GRAPH] = f.lists;
    t->kept[TIERS_FEATURES] = cached + f.rows - twice;
    t->bytes[TIERS_GRAPH] = f.list_bytes;
    t->bytes[TIERS_FEATURES] = f.row_bytes + cached * s->sizes.row;
}

static void choose_opt(store* s)
{
    int best = 0;
    for (int i = 1; i < SHARES; i++)
        if (s->opt[i].both < s->opt[best].both) best = i;
    s->setting[OPT] = s->opt[best];
    s->share = share_of[best];
}

/* memory: what is given, or what a device stores where the placement holds all. */
static void fill_all(bench* b, store* s)
{
    const ggnn_parts_fill all = stored(s, &s->best, INT64_MAX, s->rank[TIERS_FEATURES], NULL);
    if (s->memory < 0) s->memory = b->o.memory >= 0 ? b->o.memory : all.list_bytes + all.row_bytes;
    fill(s, BASE, NULL, false);
    fill(s, TOPOLOGY, &s->cliques, false);
    fill(s, FEATURES, &s->cliques, true);
    s->setting[SET] = s->setting[FEATURES];
    fill(s, PLACED, &s->best, true);
    for (int i = 0; i < SHARES; i++) fill_opt(s, i);
}

/* Own memory, the slowest link, and the host's, one after the other. */
static double seconds_of(const store* s, int32_t me, const tiers_reads* read, const int64_t* from, int64_t bytes)
{
    const double each = (double)bytes * 1e-9;
    double slowest = 0;
    for (int32_t j = 0; j < s->devices; j++) {
        if (j == me || !from[j]) continue;
        const double link = each * (double)from[j] / s->links.bandwidth[me][j];
        if (link > slowest) slowest = link;
    }
    return each * (double)(read->cache + read->own) / s->links.bandwidth[me][me] + slowest + each * (double)read->host / host_gb;
}

static void add(tiers_reads* to, tiers_reads more)
{
    to->own += more.own + more.cache;
    to->peer += more.peer;
    to->host += more.host;
}

static sampler_name sampler_in(int name) { return name < SET ? RESERVOIR_WARP : SET_WARP; }

/* What device `me` read, to a setting with this sampler. */
static void add_reads_of(store* s, setting* t, sampler_name sampler, int32_t me)
{
    const int64_t n = s->data->graph.num_nodes;
    int64_t from[1 + SAMPLERS][GGNN_DEVICES_MAX] = {{0}};
    double rows, lists = 0;
    const tiers_reads read = tiers_plan_reads(&t->plan, TIERS_FEATURES, s->read[TIERS_FEATURES], n, me, s->devices, from[0]);
    rows = seconds_of(s, me, &read, from[0], s->sizes.row);
    add(&t->read[TIERS_FEATURES], read);
    add(&t->read[TIERS_GRAPH], tiers_plan_reads(&t->plan, TIERS_GRAPH, s->read[TIERS_GRAPH], n, me, s->devices, NULL));
    for (int k = 0; k < SAMPLERS; k++) {
        const tiers_reads ids = tiers_plan_reads(&t->plan, TIERS_GRAPH, s->sectors[k], n, me, s->devices, from[1 + k]);
        if (k == (int)sampler) lists = seconds_of(s, me, &ids, from[1 + k], SECTOR);
        add(&t->sectors[k], ids);
    }
    if (rows > t->seconds[TIERS_FEATURES]) t->seconds[TIERS_FEATURES] = rows;
    if (lists > t->seconds[TIERS_GRAPH]) t->seconds[TIERS_GRAPH] = lists;
    if (rows + lists > t->both) t->both = rows + lists;
}

static void add_device(store* s, int32_t me)
{
    for (int i = 0; i < OPT; i++) add_reads_of(s, &s->setting[i], sampler_in(i), me);
    for (int i = 0; i < SHARES; i++) add_reads_of(s, &s->opt[i], SET_WARP, me);
}

/* ==== tables ==================================================================================================== */

static bool put_reads(bench* b, const char* what, const char* unit, const char* row, tiers_reads r, int64_t each)
{
    bench_table t = {.label = "counted", .unit = unit, .columns = 4, .column = {"own", "peer", "host", "all"}};
    const double x = (double)each;
    const double value[] = {x * (double)r.own, x * (double)r.peer, x * (double)r.host, x * (double)(r.own + r.peer + r.host)};
    snprintf(t.what, sizeof t.what, "%s", what);
    return bench_figures(b, &t, row, value);
}

/* Of rows or of lists: where all settings read as many. */
static bool put_kind(bench* b, store* s, tiers_kind kind)
{
    const char* const what[] = {"lists", "rows"}, *const bytes[] = {"list bytes", "row bytes"};
    int64_t all[2];
    for (int i = 0; i < SETTINGS; i++) {
        const tiers_reads* r = &s->setting[i].read[kind];
        all[i > 0] = r->own + r->peer + r->host;
        if ((i && !bench_equal(b, what[kind], &all[1], &all[0], sizeof *all)) ||
            !put_reads(b, what[kind], "reads an epoch", name_of[i], *r, 1)) return false;
    }
    for (int i = 0; i < SETTINGS; i++) {
        const setting* t = &s->setting[i];
        const bool rows = kind == TIERS_FEATURES;
        if (!put_reads(b, bytes[kind], "bytes an epoch", name_of[i], rows ? t->read[kind] : t->sectors[sampler_in(i)],
                       rows ? s->sizes.row : SECTOR)) return false;
    }
    return true;
}

/* What devices hold, and of CliqueOpt the share that it took. */
static bool put_kept(bench* b, const store* s)
{
    const double n = (double)s->data->graph.num_nodes, share_cached = 100 * s->share;
    bench_table cached = {.label = "counted", .what = "share", .unit = "% of rows", .columns = 1, .column = {"cached"}};
    bench_table kept = {.label = "counted", .what = "kept", .unit = "% of all", .columns = 2, .column = {"lists", "rows"}};
    bench_table memory = {.label = "counted", .what = "memory", .unit = "bytes of a device", .columns = 3,
                          .column = {"lists", "rows", "room"}};
    if (!bench_figures(b, &cached, name_of[OPT], &share_cached)) return false;
    for (int i = 0; i < SETTINGS; i++) {
        const int64_t* k = s->setting[i].kept;
        const double share[] = {100 * (double)k[TIERS_GRAPH] / n, 100 * (double)k[TIERS_FEATURES] / n};
        if (!bench_figures(b, &kept, name_of[i], share)) return false;
    }
    for (int i = 0; i < SETTINGS; i++) {
        const int64_t* bytes = s->setting[i].bytes;
        const double value[] = {(double)bytes[TIERS_GRAPH], (double)bytes[TIERS_FEATURES], (double)s->memory};
        if (!bench_figures(b, &memory, name_of[i], value)) return false;
    }
    return true;
}

static bool put_all(bench* b, store* s)
{
    bench_table time = {.label = "modelled", .what = "time", .unit = "s an epoch, slowest device", .columns = 3,
                        .column = {"lists", "rows", "both"}};
    if (!put_kept(b, s) || !put_kind(b, s, TIERS_FEATURES) || !put_kind(b, s, TIERS_GRAPH)) return false;
    for (int k = 0; k < SAMPLERS; k++)
        if (!put_reads(b, "samplers", "requests of 32 bytes an epoch", sampler_of[k], s->setting[SET].sectors[k], 1)) return false;
    for (int i = 0; i < SETTINGS; i++) {
        const setting* t = &s->setting[i];
        const double value[] = {t->seconds[TIERS_GRAPH], t->seconds[TIERS_FEATURES], t->both};
        if (!bench_figures(b, &time, name_of[i], value)) return false;
    }
    return true;
}

/* memory: of a device; -1: as the options say. NULL: b->why. */
static store* count_store(bench* b, int32_t devices, int64_t memory)
{
    store* s = bench_new(b, sizeof *s, "settings of a store");
    if (!s || !open_store(b, s, devices) || !rank_nodes(b, s)) return NULL;
    s->memory = memory;
    fill_all(b, s);
    for (int32_t me = 0; me < s->devices; me++) {
        forget_counts(s);
        if (!count_epoch(b, s, HOTNESS_OPTIMAL, me)) return NULL;
        add_device(s, me);
    }
    choose_opt(s);
    return s;
}

/* XGNN's figures 11 and 12: devices of one size, by their number. */
enum { SWEEP = 4 };
static bool put_sweep(bench* b, store* const* of)
{
    bench_table memory = {.label = "counted", .what = "memory by devices", .unit = "bytes of a device", .columns = 3, .column = {"lists", "rows", "room"}};
    bench_table kept = {.label = "counted", .what = "kept by devices", .unit = "% of all", .columns = 2, .column = {"lists", "rows"}};
    bench_table time = {.label = "modelled", .what = "time by devices", .unit = "s an epoch, slowest device", .columns = 4,
                        .column = {"base", "cliques", "placement", "CliqueOpt"}};
    char row[SWEEP][16];
    for (int i = 0; i < SWEEP; i++) snprintf(row[i], sizeof row[i], "%d device%s", (int)of[i]->devices, of[i]->devices > 1 ? "s" : "");
    for (int i = 0; i < SWEEP; i++) {
        const int64_t* bytes = of[i]->setting[PLACED].bytes;
        const double value[] = {(double)bytes[TIERS_GRAPH], (double)bytes[TIERS_FEATURES], (double)of[i]->memory};
        if (!bench_figures(b, &memory, row[i], value)) return false;
    }
    for (int i = 0; i < SWEEP; i++) {
        const double n = (double)of[i]->data->graph.num_nodes;
        const int64_t* k = of[i]->setting[PLACED].kept;
        const double share[] = {100 * (double)k[TIERS_GRAPH] / n, 100 * (double)k[TIERS_FEATURES] / n};
        if (!bench_figures(b, &kept, row[i], share)) return false;
    }
    for (int i = 0; i < SWEEP; i++)
        if (!put_reads(b, "rows by devices", "reads an epoch", row[i], of[i]->setting[PLACED].read[TIERS_FEATURES], 1)) return false;
    for (int i = 0; i < SWEEP; i++) {
        const setting* t = of[i]->setting;
        const double value[] = {t[BASE].both, t[SET].both, t[PLACED].both, t[OPT].both};
        if (!bench_figures(b, &time, row[i], value)) return false;
    }
    return true;
}

/* A device has what one of eight stores where their placement holds all, or --device-memory. */
static bool sweep(bench* b)
{
    store* of[SWEEP];
    const char* from = b->o.topology ? b->o.topology : "dgx-1v";
    if (b->o.devices || options_choice(TOPOLOGY_NAMES, from) < 0)
        return error_set(&b->why, "--sweep: of 1, 2, 4 and 8 devices, so without --devices, and of a --topology by name, not %s", from);
    for (int i = SWEEP - 1; i >= 0; i--)
        if (!(of[i] = count_store(b, 1 << i, i == SWEEP - 1 ? -1 : of[SWEEP - 1]->memory))) return false;
    return put_sweep(b, of);
}

bool bench_store(bench* b)
{
    char name[WITH_NAME], text[200];
    if (b->o.with) {
        snprintf(text, sizeof text, "nodes are ranked by %s", with_name(name, &b->o));
        bench_say(b, text);
    }
    if (b->o.sweep) return sweep(b);
    store* s = count_store(b, 0, -1);
    return s && put_all(b, s);
}
