#include "bench/scale_model.h"

#include <math.h>
#include <string.h>

const char* const scale_parallelism_name[SCALE_PARALLELISMS] = {"data", "split"};
const char* const scale_store_name[SCALE_STORES] = {"replica", "parts", "host + cache", "shards", "shards, local"};
const char* const scale_gnn_name[SCALE_GNNS] = {"sage", "gcn", "gat"};
const char* const scale_resource_name[SCALE_RESOURCES] = {"sample", "memory", "matmul", "peer", "host", "net", "fixed"};

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

/* ==== a batch ===================================================================================================== */

/* y at x by the power law through two points; x0 < x1. */
static double power_law(double x, double x0, double y0, double x1, double y1)
{
    if (y0 <= 0 || y1 <= 0) return 0;
    return y0 * pow(x / x0, log(y1 / y0) / log(x1 / x0));
}

scale_point scale_batch(const scale_graph* g, double seeds)
{
    scale_point b;
    const double x = most(seeds / g->nodes * 1e6, g->point[0].seeds);
    int32_t i = 1;
    while (i + 1 < g->points && x > g->point[i].seeds) i++;
    const scale_point *p = &g->point[i - 1], *q = &g->point[g->points > 1 ? i : 0];
    b.seeds = seeds;
    double targets = seeds;
    for (int32_t h = 0; h < SCALE_HOPS; h++) {
        const bool law = g->points > 1;
        const double nodes = law ? power_law(x, p->seeds, p->nodes[h], q->seeds, q->nodes[h]) : p->nodes[h];
        const double edges = law ? power_law(x, p->seeds, p->edges[h], q->seeds, q->edges[h]) : p->edges[h];
        b.nodes[h] = least(seeds * nodes, g->nodes);
        b.edges[h] = h && targets >= g->nodes ? least(seeds * edges, g->edges) : seeds * edges;
        targets = b.nodes[h];
    }
    return b;
}

double scale_hits_of(const scale_graph* g, double cached)
{
    scale_hits before = {0, 0};
    for (int32_t i = 0; i <= g->hit_points; i++) {
        const scale_hits next = i < g->hit_points ? g->hit[i] : (scale_hits){1, 1};
        if (cached <= next.cached)
            return before.hits + (next.hits - before.hits) * (cached - before.cached) / (next.cached - before.cached);
        before = next;
    }
    return 1;
}

double scale_graph_bytes(const scale_graph* g) { return 8 * g->nodes + 4 * g->edges; }
double scale_feature_bytes(const scale_graph* g) { return g->nodes * g->features * g->bytes; }

/* Layer 0 runs on the last hop. Columns of its input, and of what it multiplies them to. */
static double columns_in(const scale_graph* g, int32_t layer) { return layer ? g->hidden : g->features; }
static double columns_out(const scale_graph* g, scale_gnn gnn, int32_t layer)
{
    if (layer < SCALE_HOPS - 1) return g->hidden;
    return gnn == SCALE_GAT ? SCALE_HEADS * g->classes : g->classes;
}

/* GraphSAGE has two matrices a layer, of x_v and of the mean; GAT has one, and two vectors, of sources' and targets' scores. */
double scale_gradient_bytes(const scale_graph* g, scale_gnn gnn)
{
    double numbers = 0;
    for (int32_t layer = 0; layer < SCALE_HOPS; layer++) {
        const double in = columns_in(g, layer), out = columns_out(g, gnn, layer);
        numbers += (gnn == SCALE_SAGE ? 2 : 1) * in * out + (gnn == SCALE_GAT ? 2 : 0) * out;
    }
    return 4 * numbers;
}

/* ==== links ======================================================================================================= */

static double on_machine(const scale_machine* m, int32_t devices) { return least(devices, m->devices); }
static double machines_of(const scale_machine* m, int32_t devices) { return ceil(devices / m->devices); }

/* GB/s that a device has, while all do the same. */
static double peer_rate(const scale_machine* m, double together)
{
    return m->reach * least(m->peer, m->peer_each * (together - 1));
}
static double net_rate(const scale_machine* m, double together) { return m->net / together; }
static double host_rate(const scale_machine* m, double together)
{
    return least(least(m->host, m->host * m->uplinks / together), m->host_all / together);
}

static double seconds_of(double bytes, double rate) { return bytes > 0 ? bytes * 1e-9 / rate : 0; }

scale_reduction scale_reduce(const scale_machine* m, double bytes, int32_t devices)
{
    scale_reduction r = {0, 0, 0};
    const double together = on_machine(m, devices), machines = machines_of(m, devices);
    if (together > 1) {
        r.peer = seconds_of(2 * bytes * (1 - 1 / together), peer_rate(m, together));
        r.fixed = 2 * ceil(log2(together)) * m->peer_latency;
    }
    if (machines > 1) { /* a device takes its share of the sum around the ring */
        r.net = seconds_of(2 * bytes * (1 - 1 / machines), m->net);
        r.fixed += 2 * ceil(log2(machines)) * m->net_latency;
    }
    return r;
}

/* ==== where rows are read ========================================================================================= */

/* What `devices` devices keep together. Lists take their place first, on each. */
static double cached_share(const scale_case* c, double devices)
{
    const double left = c->machine->room * 1e9 - scale_graph_bytes(c->graph);
    return left > 0 ? least(1, left * devices / scale_feature_bytes(c->graph)) : 0;
}

static scale_reads reads_of_parts(const scale_case* c, double together, double all)
{
    const double hits = scale_hits_of(c->graph, cached_share(c, together));
    const bool fits = hits >= 1 || all <= c->machine->host_memory * 1e9;
    const scale_reads r = {fits, hits / together, hits * (1 - 1 / together), 1 - hits, 0};
    return r;
}

/* The share of a batch's sources that others own, who are `parts` in all; known for four. */
static double remote_share(const scale_split* s, double parts) { return least(1, s->remote * (1 - 1 / parts) / .75); }

static scale_reads reads_of_caches(const scale_case* c, double machines, double all)
{
    const double hits = scale_hits_of(c->graph, cached_share(c, 1));
    const double share = c->store == SCALE_CACHE ? 1 : machines;
    const double others = c->store == SCALE_LOCAL ? remote_share(c->split, machines) : 1 - 1 / machines;
    const double away = c->store == SCALE_CACHE ? 0 : others;
    const bool fits = hits >= 1 || all / share <= c->machine->host_memory * 1e9;
    const scale_reads r = {fits, hits, 0, (1 - hits) * (1 - away), (1 - hits) * away};
    return r;
}

/* Of a split: an owner reads what it owns, from its own memory, else from its machine's host. */
static scale_reads reads_of_owners(const scale_case* c, double machines, double all)
{
    const double hits = scale_hits_of(c->graph, cached_share(c, c->devices));
    const scale_reads r = {hits >= 1 || all / machines <= c->machine->host_memory * 1e9, hits, 0, 1 - hits, 0};
    return r;
}

bool scale_applies(const scale_case* c)
{
    const bool split = c->parallelism == SCALE_SPLIT;
    if (c->devices == 1) return !split && (c->store == SCALE_REPLICA || c->store == SCALE_CACHE);
    if (c->store == SCALE_SHARDS || c->store == SCALE_LOCAL) return !split && c->devices > c->machine->devices;
    return c->store != SCALE_CACHE || !split;
}

scale_reads scale_reads_of(const scale_case* c)
{
    const double machines = machines_of(c->machine, c->devices), room = c->machine->room * 1e9;
    const double all = scale_graph_bytes(c->graph) + scale_feature_bytes(c->graph);
    const scale_reads whole = {all <= room, 1, 0, 0, 0}, not = {false, 1, 0, 0, 0};
    if (!scale_applies(c) || scale_graph_bytes(c->graph) > room) return not; /* lists lie on each device, whatever the store */
    if (c->store == SCALE_REPLICA) return whole;
    if (c->parallelism == SCALE_SPLIT) return reads_of_owners(c, machines, all);
    if (c->store == SCALE_PARTS) return reads_of_parts(c, on_machine(c->machine, c->devices), all);
    return reads_of_caches(c, machines, all);
}

/* ==== a step ====================================================================================================== */

typedef struct { /* what one device does */
    scale_point batch; /* its share of the work */
    double seeds;
    double sent[SCALE_HOPS]; /* rows of hop h's sources that come from other devices */
} work;

/* Data parallel samples its own seeds. A split computes a batch of all seeds once, the fullest part more than the mean. What it
   needs of others is at most what as large a batch of its own would need of them. */
static work work_of(const scale_case* c, double seeds)
{
    work w = {scale_batch(c->graph, seeds), seeds, {0, 0, 0}};
    if (c->parallelism == SCALE_DATA || c->devices == 1) return w;
    const scale_point alone = w.batch, all = scale_batch(c->graph, seeds * c->devices);
    const double fullest = (1 + c->split->skew / 2) / c->devices;
    w.seeds = seeds * (1 + c->split->skew / 2);
    for (int32_t h = 0; h < SCALE_HOPS; h++) {
        w.batch.edges[h] = all.edges[h] * fullest;
        w.batch.nodes[h] = all.nodes[h] * fullest;
        w.sent[h] = alone.nodes[h] * remote_share(c->split, c->devices);
    }
    return w;
}

/* A draw and an edge's id; the id's place in the table, written and read; a node's offsets: pieces of 64 bytes. */
static void add_sampling(scale_epoch* e, const scale_case* c, const work* w)
{
    double pieces = 0, targets = w->seeds;
    for (int32_t h = 0; h < SCALE_HOPS; h++) {
        pieces += targets + 3 * w->batch.edges[h];
        targets = w->batch.nodes[h];
    }
    e->seconds[SCALE_SAMPLE] += seconds_of(64 * pieces, c->machine->random);
}

static void add_rows(scale_epoch* e, const scale_case* c, const scale_reads* r, const work* w)
{
    const scale_machine* m = c->machine;
    const double together = on_machine(m, c->devices);
    const double bytes = w->batch.nodes[SCALE_HOPS - 1] * c->graph->features * c->graph->bytes;
    e->own_bytes = bytes * r->own;
    const double peer = seconds_of(bytes * r->peer, peer_rate(m, together));
    const double host = seconds_of(bytes * r->host, host_rate(m, together));
    const double net = seconds_of(bytes * r->net, net_rate(m, together));
    e->seconds[SCALE_MEMORY] += seconds_of(e->own_bytes, m->stream);
    e->seconds[SCALE_PEER] += peer;
    e->seconds[SCALE_HOST] += host;
    e->seconds[SCALE_NETWORK] += net;
    e->loading += peer + host + net;
}

typedef struct { /* of a layer: counts and columns; and what they take */
    double sources, targets, edges, in, out;
    bool first;
    double flops, bytes;
} layer;

/* GraphSAGE: out = W [x_v, mean of x_u]; GCN: out = W (sum of x_u and x_v). Products: forward, the weights' gradient, and,
   but for layer 0, the input's. Bytes: rows of sources in, sums out and in, outputs three times, and as much back. */
static void count_sums(layer* y, bool own)
{
    const double rows = y->edges + (own ? y->targets : 0);
    y->flops = (y->first ? 2 : 3) * 2 * y->targets * (own ? 1 : 2) * y->in * y->out;
    y->bytes = 4 * (rows * y->in + 2 * y->targets * y->in + 3 * y->targets * y->out) * (y->first ? 1 : 2);
    if (y->first) y->bytes += 4 * 3 * y->targets * y->out;
}

/* GAT: z = W x of all sources; out = softmax over x_u and x_v of scores, times z. Forward: x in, z out and in for scores; a
   row of z and two scores an edge; outputs four times, with heads' means. Back: a row of z and one of outputs' gradients an
   edge, with scores and theirs; outputs three times; z's gradient out, then with z in and out for scores, and in for each
   product; x in, and its gradient out. */
static void count_attention(layer* y)
{
    const double edges = y->edges + y->targets;
    y->flops = (y->first ? 2 : 3) * 2 * y->sources * y->in * y->out;
    y->bytes = 4 * (y->sources * (y->in + 2 * y->out) + edges * (y->out + 2 * SCALE_HEADS) + 4 * y->targets * y->out);
    y->bytes += 4 * (edges * (2 * y->out + 4 * SCALE_HEADS) + 3 * y->targets * y->out);
    y->bytes += 4 * y->sources * ((y->first ? 1 : 2) * y->in + (y->first ? 5 : 6) * y->out);
}

static void add_layers(scale_epoch* e, const scale_case* c, const work* w)
{
    double flops = 0, bytes = 0;
    for (int32_t i = 0; i < SCALE_HOPS; i++) {
        const int32_t h = SCALE_HOPS - 1 - i;
        layer y = {.sources = w->batch.nodes[h], .targets = h ? w->batch.nodes[h - 1] : w->seeds, .edges = w->batch.edges[h],
                   .in = columns_in(c->graph, i), .out = columns_out(c->graph, c->gnn, i), .first = i == 0};
        if (c->gnn == SCALE_GAT) count_attention(&y);
        else count_sums(&y, c->gnn == SCALE_GCN);
        flops += y.flops;
        bytes += y.bytes;
    }
    e->seconds[SCALE_DENSE] += seconds_of(flops, c->machine->dense);
    e->seconds[SCALE_MEMORY] += seconds_of(bytes, c->machine->stream);
}

/* Ids and rows of sources that others own: input rows one way, hidden rows and their gradients; of GAT z and its gradient. A
   message a hop each way. */
static void add_exchange(scale_epoch* e, const scale_case* c, const work* w)
{
    const scale_machine* m = c->machine;
    const double together = on_machine(m, c->devices), devices = c->devices;
    const double outside = devices > together ? (devices - together) / (devices - 1) : 0;
    double bytes = 0;
    if (c->parallelism == SCALE_DATA || c->devices == 1) return;
    for (int32_t h = 0; h < SCALE_HOPS; h++) {
        const bool input = h == SCALE_HOPS - 1, gat = c->gnn == SCALE_GAT;
        const double columns = gat ? columns_out(c->graph, c->gnn, SCALE_HOPS - 1 - h) : c->graph->hidden;
        bytes += w->sent[h] * (4 + (input && !gat ? c->graph->features * c->graph->bytes : 2 * 4 * columns));
    }
    e->seconds[SCALE_PEER] += seconds_of(bytes * (1 - outside), peer_rate(m, together));
    e->seconds[SCALE_NETWORK] += seconds_of(bytes * outside, net_rate(m, together));
    e->seconds[SCALE_FIXED] += 3 * SCALE_HOPS * (outside > 0 ? m->net_latency : m->peer_latency);
}

static void add_gradients(scale_epoch* e, const scale_case* c)
{
    const scale_reduction r = scale_reduce(c->machine, scale_gradient_bytes(c->graph, c->gnn), c->devices);
    e->seconds[SCALE_PEER] += r.peer;
    e->seconds[SCALE_NETWORK] += r.net;
    e->seconds[SCALE_FIXED] += r.fixed + c->machine->step;
}

/* Seeds of a device: fewer where a batch of all would be more than there are. */
static double seeds_of(const scale_graph* g, int32_t devices) { return least(g->batch, g->train / devices); }

scale_epoch scale_epoch_of(const scale_case* c)
{
    scale_epoch e = {.possible = false};
    const scale_reads reads = scale_reads_of(c);
    const double seeds = seeds_of(c->graph, c->devices);
    const work w = work_of(c, seeds);
    e.possible = reads.possible;
    e.steps = c->graph->train / (seeds * c->devices);
    add_sampling(&e, c, &w);
    add_rows(&e, c, &reads, &w);
    add_layers(&e, c, &w);
    add_exchange(&e, c, &w);
    add_gradients(&e, c);
    for (int32_t r = 0; r < SCALE_RESOURCES; r++) {
        e.seconds[r] *= e.steps;
        e.total += e.seconds[r];
    }
    e.loading *= e.steps;
    e.own_bytes *= e.steps;
    return e;
}

/* Both at once, or one after the other. */
static double both(double loading, double computing, bool overlap)
{
    return overlap ? most(loading, computing) : loading + computing;
}

double scale_overlapped(const scale_epoch* e) { return both(e->loading, e->total - e->loading, true); }

scale_resource scale_bound(const scale_epoch* e)
{
    int32_t bound = 0;
    for (int32_t r = 1; r < SCALE_RESOURCES; r++)
        if (e->seconds[r] > e->seconds[bound]) bound = r;
    return (scale_resource)bound;
}

/* ==== beside published figures ==================================================================================== */

static double reduction_seconds(const scale_machine* m, const scale_graph* g, double machines)
{
    const scale_reduction r = scale_reduce(m, scale_gradient_bytes(g, SCALE_SAGE), (int32_t)(machines * m->devices));
    return r.peer + r.net + r.fixed;
}

/* A step of a device is as long, but for the sum of gradients; there are fewer, and the last is whole. */
double scale_machines_speedup(const scale_graph* g, const scale_machine* m, double seconds, int32_t before, int32_t after)
{
    const double steps = ceil(g->train / (g->batch * m->devices * before));
    const double fewer = ceil(g->train / (g->batch * m->devices * after));
    const double step = seconds / steps - reduction_seconds(m, g, before) + reduction_seconds(m, g, after);
    return seconds / (fewer * step);
}

/* Seconds in which each of `together` devices reads a GB, what its cache has not from the host. */
static double reading(const scale_machine* m, double hits, double together)
{
    return (1 - hits) / host_rate(m, together) + hits / m->stream;
}

double scale_extraction(const scale_machine* m, double seconds, double hits_before, double hits_after, double parts,
                        int32_t devices)
{
    const double bytes = seconds / reading(m, hits_before, m->devices);
    const double own = hits_after / devices;
    return bytes * ((1 - hits_after) / host_rate(m, m->devices) + own / (parts * m->reach) + own / m->stream);
}

double scale_cached(const scale_machine* m, double seconds, double hits_before, double hits_after)
{
    return seconds * reading(m, hits_after, 1) / reading(m, hits_before, 1);
}

double scale_factored(const scale_machine* m, const scale_stages* s, bool overlap)
{
    const int32_t trainers = s->devices - s->samplers;
    const double extraction = s->extraction * reading(m, s->hits, trainers) / reading(m, s->hits, 1);
    return most(s->sampling / s->samplers, both(extraction, s->training, overlap) / trainers);
}

/* Of the host: offsets of 8 bytes, in a sector of 32; ids of 8 bytes, each in a sector, but no list more than once. */
static double list_bytes(const scale_graph* g, const work* w)
{
    double bytes = 0, targets = w->seeds;
    for (int32_t h = 0; h < SCALE_HOPS; h++) {
        bytes += 32 * targets + least(32 * w->batch.edges[h], 8 * targets * g->edges / g->nodes);
        targets = w->batch.nodes[h];
    }
    return bytes;
}

double scale_cached_step(const scale_graph* g, const scale_machine* m, double row_hits, double list_hits, bool overlap)
{
    const scale_case c = {.graph = g, .machine = m, .parallelism = SCALE_DATA, .store = SCALE_CACHE, .devices = 1};
    const scale_reads reads = {true, row_hits, 0, 1 - row_hits, 0};
    const work w = work_of(&c, g->batch);
    scale_epoch e = {.possible = true};
    add_sampling(&e, &c, &w);
    add_rows(&e, &c, &reads, &w);
    add_layers(&e, &c, &w);
    add_gradients(&e, &c);
    for (int32_t r = 0; r < SCALE_RESOURCES; r++) e.total += e.seconds[r];
    const double lists = (1 - list_hits) * seconds_of(list_bytes(g, &w), host_rate(m, 1));
    return both(e.loading + lists, e.total - e.loading, overlap);
}

double scale_dual_speedup(const scale_graph* g, const scale_machine* m, double share, double memory, double bytes,
                          double list_hits, bool overlap)
{
    const double rows = memory - bytes / scale_feature_bytes(g);
    const double one = scale_cached_step(g, m, scale_hits_of(g, share), 0, overlap);
    return one / scale_cached_step(g, m, scale_hits_of(g, rows), list_hits, overlap);
}

double scale_load(double faster, double less, bool overlap)
{
    const double beside = faster - 1; /* (1 + load) / 1, where what is left of loading hides behind computing */
    if (overlap) return beside * (1 - less) <= 1 ? beside : 1 / (faster * (1 - less) - 1);
    return beside / (1 - faster * (1 - less));
}

double scale_cache_speedup(double load, double hits_one, double hits_each, int32_t devices, bool overlap)
{
    return devices * both(load * (1 - hits_one), 1, overlap) / both(load * (1 - hits_each), 1, overlap);
}

static double edges_of(const scale_point* b) { return b->edges[0] + b->edges[1] + b->edges[2]; }

double scale_redundancy(const scale_graph* g, double seeds, int32_t devices)
{
    const scale_point one = scale_batch(g, seeds), all = scale_batch(g, seeds * devices);
    return devices * edges_of(&one) / edges_of(&all);
}

double scale_error(double predicted, double published) { return (predicted - published) / published; }
bool scale_red(double error) { return !(fabs(error) <= .25); }
