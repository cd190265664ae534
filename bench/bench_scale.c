/* bench_scale.c - an epoch of training on 1 to 256 devices: by parallelism, store and links, with what bounds it; and what
   the same arithmetic says beside what papers measured. Nothing is timed: scale_inputs.csv has the inputs, scale_model.c the
   model, docs/SCALE.md says it in words. With --data the graph of the run is one more, its batches counted. */
#include <math.h>
#include <string.h>

#include "bench/scale_count.h"
#include "bench/scale_inputs.h"
#include "ggnn_plan.h"

enum { COUNTS = 9, DEVICES = 8, CHECKED = 4096, SHARES = 6 };
static const int32_t count[COUNTS] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
static const double share[SHARES] = {0, .05, .1, .25, .5, 1};

/* ==== beside published figures ==================================================================================== */

static bool gnn_named(scale_gnn* gnn, const char* name)
{
    for (int32_t i = 0; i < SCALE_GNNS; i++)
        if (strcmp(name, scale_gnn_name[i]) == 0 || !name[0]) {
            *gnn = (scale_gnn)i;
            return true;
        }
    return false;
}

typedef struct { /* loading and computing one after the other, and at once; the latter is no number where nothing is loaded */
    double apart, overlapped;
} prediction;

static bool predict_epoch(prediction* x, const scale_inputs* in, const scale_check* k)
{
    scale_case c = {scale_graph_named(in, k->graph), scale_machine_named(in, k->machine), &in->split,
                    SCALE_DATA, SCALE_PARTS, (int32_t)k->inputs[0], SCALE_SAGE};
    if (!c.graph || !c.machine || c.devices < 1 || !gnn_named(&c.gnn, k->gnn)) return false;
    const scale_epoch e = scale_epoch_of(&c);
    *x = (prediction){e.total, scale_overlapped(&e)};
    return true;
}

/* XGNN's store on a DGX-1V: which part is read over which link says the placement. */
static bool predict_extraction(double* seconds, const scale_inputs* in, const scale_check* k)
{
    const scale_machine* m = scale_machine_named(in, k->machine);
    ggnn_topology links;
    ggnn_placement place;
    if (!m || ggnn_topology_named(&links, "dgx-1v", (int32_t)m->devices) != GGNN_OK ||
        ggnn_place_parts(&place, &links, GGNN_PLACE_BEST, 0, NULL) != GGNN_OK)
        return false;
    *seconds = scale_extraction(m, k->inputs[0], k->inputs[1], k->inputs[2], place.bandwidth, links.devices);
    return true;
}

static bool predict_factored(prediction* x, const scale_machine* m, const double v[SCALE_VALUES])
{
    const scale_stages s = {v[0], v[1], v[2], v[3], (int32_t)v[4], (int32_t)v[5]};
    if (!m || s.samplers < 1 || s.samplers >= s.devices) return false;
    *x = (prediction){scale_factored(m, &s, false), scale_factored(m, &s, true)};
    return true;
}

static double cache_speedup(const double v[SCALE_VALUES], bool overlap)
{
    return scale_cache_speedup(scale_load(v[0], v[1], overlap), v[2], v[3], (int32_t)v[4], overlap);
}

static double dual_speedup(const scale_graph* g, const scale_machine* m, const double v[SCALE_VALUES], bool overlap)
{
    return scale_dual_speedup(g, m, v[0], v[1], v[2] * 1e9, v[3], overlap);
}

static bool predict(prediction* x, const scale_inputs* in, const scale_check* k)
{
    const scale_graph* g = scale_graph_named(in, k->graph);
    const scale_machine* m = scale_machine_named(in, k->machine);
    const double* v = k->inputs;
    *x = (prediction){NAN, NAN};
    if (strcmp(k->how, "epoch") == 0) return predict_epoch(x, in, k);
    if (strcmp(k->how, "extraction") == 0) return predict_extraction(&x->apart, in, k);
    if (strcmp(k->how, "factored") == 0) return predict_factored(x, m, v);
    if (strcmp(k->how, "cache") == 0) *x = (prediction){cache_speedup(v, false), cache_speedup(v, true)};
    else if (strcmp(k->how, "machines") == 0 && g && m)
        x->apart = scale_machines_speedup(g, m, v[0], (int32_t)v[1], (int32_t)v[2]);
    else if (strcmp(k->how, "hits") == 0 && m) x->apart = scale_cached(m, v[0], v[1], v[2]);
    else if (strcmp(k->how, "dual") == 0 && g && m)
        *x = (prediction){dual_speedup(g, m, v, false), dual_speedup(g, m, v, true)};
    else if (strcmp(k->how, "redundancy") == 0 && g) x->apart = scale_redundancy(g, v[0], (int32_t)v[1]);
    else return false;
    return true;
}

static bool put_checks(bench* b, const scale_inputs* in)
{
    const bench_table t = {.label = "modelled", .what = "beside published figures", .unit = "s or times, and %", .columns = 4,
                           .column = {"predicted", "overlapped", "published", "off by, %"}};
    for (int32_t i = 0; i < in->checks; i++) {
        const scale_check* k = &in->check[i];
        prediction x;
        if (!predict(&x, in, k))
            return error_set(&b->why,
                             "%s: check %s: how is epoch (with a graph, a machine and a gnn: sage, gcn or gat), machines or dual "
                             "(with a graph and a machine), redundancy (with a graph), extraction, hits or factored (with a "
                             "machine; of factored 1 to devices - 1 sample) or cache",
                             b->o.inputs ? b->o.inputs : "bench/scale_inputs.csv", k->name);
        const double off = scale_error(x.apart, k->published), value[] = {x.apart, x.overlapped, k->published, 100 * off};
        const char* const note[] = {"", "", "", scale_red(off) ? "red" : ""};
        if (!bench_figures_noted(b, &t, k->name, value, note)) return false;
    }
    return true;
}

/* ==== a graph on a machine ======================================================================================== */

static const char* row_name(char name[32], const scale_case* c)
{
    snprintf(name, 32, "%s, %s", scale_parallelism_name[c->parallelism], scale_store_name[c->store]);
    return name;
}

/* An epoch by number of devices. */
static bool put_row(bench* b, const bench_table* t, scale_case c)
{
    double seconds[COUNTS];
    const char* bound[COUNTS];
    char name[32];
    bool any = false;
    for (int32_t i = 0; i < COUNTS; i++) {
        c.devices = count[i];
        const scale_epoch e = scale_epoch_of(&c);
        seconds[i] = e.possible ? e.total : NAN;
        bound[i] = e.possible ? scale_resource_name[scale_bound(&e)] : "";
        any = any || e.possible;
    }
    return !any || bench_figures_noted(b, t, row_name(name, &c), seconds, bound);
}

static bool put_resources(bench* b, const bench_table* t, const scale_case* c)
{
    double seconds[SCALE_RESOURCES + 1];
    char name[32];
    const scale_epoch e = scale_epoch_of(c);
    memcpy(seconds, e.seconds, sizeof e.seconds);
    seconds[SCALE_RESOURCES] = e.total;
    return !e.possible || bench_figures(b, t, row_name(name, c), seconds);
}

/* All parallelisms and stores: by number of devices, or, where `devices` are given, by what takes the time. */
static bool put_table(bench* b, const scale_inputs* in, const scale_graph* g, const scale_machine* m, int32_t devices)
{
    bench_table t = {.label = "modelled", .unit = "s an epoch", .columns = devices ? SCALE_RESOURCES + 1 : COUNTS};
    scale_case c = {g, m, &in->split, SCALE_DATA, SCALE_REPLICA, devices, SCALE_SAGE};
    if (devices) snprintf(t.what, sizeof t.what, "%s, %s, %d devices", g->name, m->name, (int)devices);
    else snprintf(t.what, sizeof t.what, "%s, %s, by devices", g->name, m->name);
    for (int32_t i = 0; i < t.columns; i++) {
        if (!devices) snprintf(t.column[i], sizeof t.column[i], "%d", (int)count[i]);
        else snprintf(t.column[i], sizeof t.column[i], "%s", i < SCALE_RESOURCES ? scale_resource_name[i] : "all");
    }
    for (int32_t p = 0; p < SCALE_PARALLELISMS; p++)
        for (int32_t s = 0; s < SCALE_STORES; s++) {
            c.parallelism = (scale_parallelism)p;
            c.store = (scale_store)s;
            if (!(devices ? put_resources(b, &t, &c) : put_row(b, &t, c))) return false;
        }
    return true;
}

/* An epoch by the share of rows that a device has room for, beside all lists: what its memory has room for at all. */
static bool put_shares(bench* b, const scale_inputs* in, const scale_graph* g, const scale_machine* m, int32_t devices)
{
    static const struct {
        scale_parallelism parallelism;
        scale_store store;
    } of[] = {{SCALE_DATA, SCALE_CACHE}, {SCALE_DATA, SCALE_PARTS}, {SCALE_SPLIT, SCALE_PARTS}};
    bench_table t = {.label = "modelled", .unit = "s an epoch", .columns = SHARES};
    snprintf(t.what, sizeof t.what, "%s, %s, by cache", g->name, m->name);
    for (int32_t k = 0; k < SHARES; k++) snprintf(t.column[k], sizeof t.column[k], "%g %%", 100 * share[k]);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        double seconds[SHARES];
        const char* bound[SHARES];
        char name[32];
        bool any = false;
        scale_machine with = *m;
        const scale_case c = {g, &with, &in->split, of[i].parallelism, of[i].store, devices, SCALE_SAGE};
        for (int32_t k = 0; k < SHARES; k++) {
            with.room = 1e-9 * (scale_graph_bytes(g) + share[k] * scale_feature_bytes(g));
            const scale_epoch e = scale_epoch_of(&c);
            const bool possible = e.possible && with.room <= m->room;
            seconds[k] = possible ? e.total : NAN;
            bound[k] = possible ? scale_resource_name[scale_bound(&e)] : "";
            any = any || possible;
        }
        if (any && !bench_figures_noted(b, &t, row_name(name, &c), seconds, bound)) return false;
    }
    return true;
}

static bool put_graph(bench* b, const scale_inputs* in, const scale_graph* g)
{
    for (int32_t i = 0; i < in->machines; i++) {
        const scale_machine* m = &in->machine[i];
        const int32_t devices = b->o.devices ? (int32_t)b->o.devices : DEVICES;
        if (m->tables <= 0) continue;
        if (!put_table(b, in, g, m, 0) || !put_table(b, in, g, m, devices) || !put_shares(b, in, g, m, devices)) return false;
    }
    return true;
}

/* ==== the graph of the run ======================================================================================== */

static bool put_points(bench* b, const scale_graph* g)
{
    const bench_table t = {.label = "counted", .what = "a seed's share of a batch", .unit = "edges, distinct sources by hop",
                           .columns = 2 * SCALE_HOPS,
                           .column = {"edges 0", "edges 1", "edges 2", "nodes 0", "nodes 1", "nodes 2"}};
    for (int32_t i = 0; i < g->points; i++) {
        const scale_point* p = &g->point[i];
        const double value[] = {p->edges[0], p->edges[1], p->edges[2], p->nodes[0], p->nodes[1], p->nodes[2]};
        char row[32];
        snprintf(row, sizeof row, "%.6g seeds a million", p->seeds);
        if (!bench_figures(b, &t, row, value)) return false;
    }
    return true;
}

/* What data parallel loads beyond the batch: counted, beside the power law between the counted sizes. */
static bool put_slices(bench* b, const scale_graph* g, const int32_t fanout[SCALE_HOPS])
{
    bench_table t = {.what = "extra input rows", .unit = "% of a batch's rows", .columns = 3,
                     .column = {"P = 2", "P = 4", "P = 8"}};
    const double seeds = g->train < CHECKED ? g->train : CHECKED;
    double counted[3], modelled[3];
    for (int32_t i = 0; i < 3; i++) {
        double rows[2];
        const int32_t parts = 2 << i;
        if (!scale_count_slices(b, fanout, (int64_t)seeds, parts, rows)) return false;
        counted[i] = 100 * (rows[1] / rows[0] - 1);
        const scale_point slice = scale_batch(g, seeds / parts), whole = scale_batch(g, seeds);
        modelled[i] = 100 * (parts * slice.nodes[SCALE_HOPS - 1] / whole.nodes[SCALE_HOPS - 1] - 1);
    }
    t.label = "counted";
    if (!bench_figures(b, &t, "counted", counted)) return false;
    t.label = "modelled";
    return bench_figures(b, &t, "modelled", modelled);
}

static bool put_hits(bench* b, const scale_graph* g)
{
    bench_table t = {.label = "counted", .what = "what a cache takes (presc)", .unit = "% of rows read",
                     .columns = g->hit_points};
    double hits[SCALE_POINTS];
    for (int32_t i = 0; i < g->hit_points; i++) {
        snprintf(t.column[i], sizeof t.column[i], "%g %%", 100 * g->hit[i].cached);
        hits[i] = 100 * g->hit[i].hits;
    }
    return bench_figures(b, &t, "hits", hits);
}

static bool put_own(bench* b, const scale_inputs* in)
{
    scale_graph* g = bench_new(b, sizeof *g, "points of the graph");
    const bench_graph* data = bench_graph_of(b);
    if (!g || !data || !scale_count(b, g, data->fanout) || !scale_count_hits(b, g, data->fanout)) return false;
    snprintf(g->name, sizeof g->name, "your graph");
    return put_points(b, g) && put_slices(b, g, data->fanout) && put_hits(b, g) && put_graph(b, in, g);
}

bool bench_scale(bench* b)
{
    scale_inputs* in = bench_new(b, sizeof *in, "inputs");
    if (!in || !scale_inputs_read(in, b->o.inputs, &b->why)) return false;
    if (!put_checks(b, in)) return false;
    for (int32_t i = 0; i < in->graphs; i++)
        if (in->graph[i].tables > 0 && !put_graph(b, in, &in->graph[i])) return false;
    return !b->o.data || put_own(b, in);
}
