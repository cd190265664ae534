// ggnn_frontier.h - v0.3.0 - hops that sample new nodes alone, over edge types and times, for ggnn.h, in C99
//
// A hop of ggnn_sample samples all nodes of a batch, and makes a block for a layer, as DGL does. PyG's hop
// samples what the hop before found, the frontier: a batch is one graph, whose edges all layers share. This
// header has PyG's meaning to the letter (pyg-lib's neighbor_kernel.cpp): over several types of nodes and of
// edges, which are relations here, with a subgraph for each seed, of what is not later than the seed.
//
// In ONE C or C++ file, with ggnn.h beside it and its implementation in the program:
//     #define GGNN_FRONTIER_IMPLEMENTATION
//     #include "ggnn_frontier.h"
// In all others just include it. Two hops over graph g, of one type of nodes and edges:
//     ggnn_relation relation = {0, 0, g, NULL};                          // from type 0 to type 0
//     ggnn_found    found = {id, NULL, id, NULL, max_nodes, 0, 0, 0, 0}; // arrays of the caller
//     ggnn_taken    taken = {src, dst, position, max_edges, 0, 0};
//     ggnn_frontier f = {1, 1, &g.num_nodes, &relation, NULL, GGNN_FISHER_YATES, 0, 0, &found, &taken};
//     f.workspace = malloc(ggnn_sample_workspace_bytes(f.method, 15)); // the greatest fanout
//     ggnn_frontier_table(&f, 0, malloc(ggnn_frontier_table_bytes(&f, 0)));
//     ggnn_frontier_begin(&f);
//     ggnn_frontier_seeds(&f, 0, seeds, NULL, num_seeds);
//     for (int h = 0; h < 2; h++) ggnn_frontier_hop(&f, &rng, &fanout[h]);
//     // edge e of taken.count is found.id[src[e]] -> found.id[dst[e]], at position[e] of g's edges
//
// It allocates nothing and works on the calling thread; threads that sample at once have a frontier each. The
// same input gives the same bits. Draws are keyed by (seed, step, purpose, hop, subgraph, node) and the
// relation; those of relation 0 are ggnn_sample's of a node that both find at the same hop. A local id is a
// node's place in the order in which nodes of its type were found; a subgraph is the number of its seed.
//
// LICENSE: MIT, at the end of ggnn.h.

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#ifndef GGNN_FRONTIER_H
#define GGNN_FRONTIER_H
#include "ggnn.h"
#if GGNN_VERSION_NUMBER != 300
#error "ggnn_frontier.h 0.3.0 goes with ggnn.h 0.3.0"
#endif

#ifdef __cplusplus
extern "C" { // as ggnn.h's functions
#endif

typedef struct ggnn_relation {
    int32_t        src, dst; // types of its nodes
    ggnn_graph     lists;    // list v: the sources, of type src, of the edges into node v of type dst.
                             // num_nodes is dst's; sources are checked as they are taken
    const int64_t* time;     // (num_edges) by position, rising in each list; NULL: edges have no time
} ggnn_relation;

typedef struct ggnn_found { // nodes of one type, in the order in which they were found
    ggnn_node* id;          // (max)
    int32_t*   subgraph;    // (max) of each; NULL where subgraphs are not disjoint
    ggnn_node* key;         // (max) subgraph * num_nodes + id, which numbers it and keys its draws; there: id
    ggnn_unique* table;     // by ggnn_frontier_table
    int64_t    max, count, begin, end; // room, < 2^31; found so far; the frontier (0 each hop: all, as DGL)
    int64_t    need;        // the most that the last hop could have made of count
} ggnn_found;

typedef struct ggnn_taken { // edges of one relation: hop after hop, target after target, then as drawn
    ggnn_node *src, *dst;   // (max) local, of the relation's types; dst never falls
    int64_t*   position;    // (max) in the edge order of the relation's lists
    int64_t    max, count, need; // as found's
} ggnn_taken;

typedef struct ggnn_frontier { // zero-initialise, then fill in all up to `num_seeds`
    int32_t              num_types, num_relations;
    const int64_t*       num_nodes; // (num_types)
    const ggnn_relation* relation;  // (num_relations): a hop samples them in this order
    const int64_t* const* node_time; // (num_types) arrays (num_nodes), or NULL: no time. A list rises by its
                                     // sources' times. NULL: no node has a time
    ggnn_method method;    // any that takes edges of a list
    int32_t     disjoint;  // 1: a subgraph for each seed. Where anything has a time it must be 1
    int32_t     latest;    // 1: of a list with times its last edges, none drawn; 0: any of those in time
    ggnn_found* found;     // (num_types)
    ggnn_taken* taken;     // (num_relations)
    int64_t*    seed_time; // (seeds) where anything has a time: no later edge or source is taken; else NULL
    void*       workspace; // ggnn_sample_workspace_bytes of the greatest fanout
    int64_t     num_seeds; // to be read, as what follows
    int32_t     num_hops, failed_at; // sampled so far; the relation of the fault, -1: none
    ggnn_fault  fault;
} ggnn_frontier;

// A type's table, for found[type].max nodes, in memory aligned as malloc's. It holds the nodes found: who
// enlarges arrays amid a batch lays it out again. O(bytes). 0 bytes: type or max is out of range.
GGNN_API size_t      ggnn_frontier_table_bytes(const ggnn_frontier* f, int32_t type);
GGNN_API ggnn_status ggnn_frontier_table(ggnn_frontier* f, int32_t type, void* memory);

// Starts a batch: nothing is found or taken. f->fault says what GGNN_ERROR_ARGUMENT is.
GGNN_API ggnn_status ggnn_frontier_begin(ggnn_frontier* f);

// Adds n seeds of a type, each with a subgraph: once for each type that has seeds. time (n): the latest time
// that each may see; NULL: its own, by node_time. GGNN_ERROR_ARGUMENT: equal seeds that are not disjoint, a
// seed without time, or subgraphs times nodes do not fit 31 bits (48 with GGNN_NODE64).
GGNN_API ggnn_status ggnn_frontier_seeds(ggnn_frontier* f, int32_t type, const ggnn_node* seed,
                                         const int64_t* time, int64_t n);

// One hop: of each relation, in turn, the lists of its targets in the frontier, by fanout (num_relations; -1:
// all). What is new is the next frontier. O(frontier + edges taken); with times and O(log degree) a list; by
// methods that scan O(degree). GGNN_ERROR_CAPACITY: it may not fit; nothing has changed; found[t].need and
// taken[r].need are enough. After another error nothing is found; f->fault and f->failed_at say where it was.
GGNN_API ggnn_status ggnn_frontier_hop(ggnn_frontier* f, const ggnn_rng* rng, const int32_t* fanout);

// PyG's bidirectional subgraph, each edge in both directions and once, is a graph of local ids: ggnn_graph_
// from_coo(&a, src, dst, ..), sort(&a), transpose(&b, &a), simplify(&both, &a, &b, GGNN_DROP_DUPLICATES).

#ifdef __cplusplus
} // extern "C"
#endif

#if defined(GGNN_NODE64) && !defined(GGNN_STATIC) // as in ggnn.h: a mixture of widths does not link
GGNNI_WIDE(ggnn_frontier_table_bytes) GGNNI_WIDE(ggnn_frontier_table) GGNNI_WIDE(ggnn_frontier_begin)
GGNNI_WIDE(ggnn_frontier_seeds) GGNNI_WIDE(ggnn_frontier_hop)
#endif

#endif // GGNN_FRONTIER_H

#ifdef GGNN_FRONTIER_IMPLEMENTATION
#ifndef GGNN_FRONTIER_IMPLEMENTED
#define GGNN_FRONTIER_IMPLEMENTED
enum { GGNNI_FRONTIER_TILE = 64, GGNNI_FRONTIER_CHUNK = 512 }; // targets drawn, edges numbered at a time

// A batch that begins, or that failed at a node and a relation: nothing is found.
static ggnn_status ggnni_stop(ggnn_frontier* f, ggnn_status status, const char* what, int64_t node, int32_t r)
{
    for (int32_t t = 0; t < f->num_types; t++) f->found[t].count = f->found[t].begin = f->found[t].end = 0;
    for (int32_t i = 0; i < f->num_relations; i++) f->taken[i].count = 0;
    ggnni_fault(&f->fault, status, status && !what ? ggnn_status_string(status) : what, node, -1);
    f->fault.hop = f->num_hops;
    f->failed_at = r;
    f->num_seeds = f->num_hops = 0;
    return status;
}

// Numbers n keys that are in range; new ones go to the end of found, which has room for them.
static void ggnni_frontier_number(ggnn_found* found, int32_t* local, const ggnn_node* key, int64_t n)
{
    int64_t bad;
    (void)ggnn_unique_append(found->table, found->key, local, key, n, &bad);
    found->count = found->table->count;
}

GGNN_API size_t ggnn_frontier_table_bytes(const ggnn_frontier* f, int32_t type)
{
    if (!f || type < 0 || type >= f->num_types) return 0;
    const int64_t n = f->disjoint ? GGNN_NODE_MAX : f->num_nodes[type], max = f->found[type].max;
    if (f->num_nodes[type] < 0 || max < 0 || max > INT32_MAX) return 0;
    return ggnn_unique_bytes(ggnn_unique_choose(n), n, max);
}

GGNN_API ggnn_status ggnn_frontier_table(ggnn_frontier* f, int32_t type, void* memory)
{
    if (!ggnn_frontier_table_bytes(f, type) || !memory) return GGNN_ERROR_ARGUMENT;
    ggnn_found*   found = &f->found[type];
    const int64_t n = f->disjoint ? GGNN_NODE_MAX : f->num_nodes[type], count = found->count;
    found->table = ggnn_unique_init(memory, ggnn_unique_choose(n), n, found->max);
    for (int64_t i = 0; i < count; i++) { // each is new: it goes to where it is
        const ggnn_node key = found->key[i];
        ggnni_frontier_number(found, NULL, &key, 1);
    }
    return GGNN_OK;
}

static const char* ggnni_frontier_fault(const ggnn_frontier* f)
{
    int timed = 0;
    if (!ggnni_samples_lists(f->method)) return "the method takes no edges of a list";
    for (int32_t t = 0; t < f->num_types; t++) {
        if (!ggnn_frontier_table_bytes(f, t) || !f->found[t].table) return "a size of a type is out of range";
        timed |= f->node_time && f->node_time[t];
    }
    for (int32_t r = 0; r < f->num_relations; r++) {
        const ggnn_relation* by = &f->relation[r];
        if ((uint32_t)by->src >= (uint32_t)f->num_types || (uint32_t)by->dst >= (uint32_t)f->num_types)
            return "a relation's type is out of range";
        if (by->lists.num_nodes != f->num_nodes[by->dst]) return "a relation has another number of lists";
        if (f->taken[r].max && !f->taken[r].position) return "a relation has no memory";
        timed |= by->time != NULL;
    }
    if (timed != (f->seed_time != NULL)) return "seed_time goes with times";
    if (timed && !f->disjoint) return "times need disjoint subgraphs";
    if (timed && ggnn_method_has(f->method, GGNN_METHOD_WEIGHS)) return "weights do not go with times";
    return NULL;
}

GGNN_API ggnn_status ggnn_frontier_begin(ggnn_frontier* f)
{
    if (!f || f->num_types < 1 || !f->num_nodes || !f->found) return GGNN_ERROR_ARGUMENT;
    if (f->num_relations && (f->num_relations < 0 || !f->relation || !f->taken)) return GGNN_ERROR_ARGUMENT;
    const char* what = ggnni_frontier_fault(f);
    for (int32_t t = 0; !what && t < f->num_types; t++) ggnn_unique_begin(f->found[t].table);
    return ggnni_stop(f, what ? GGNN_ERROR_ARGUMENT : GGNN_OK, what, -1, -1);
}

GGNN_API ggnn_status ggnn_frontier_seeds(ggnn_frontier* f, int32_t type, const ggnn_node* seed,
                                         const int64_t* time, int64_t n)
{
    if (!f || type < 0 || type >= f->num_types || n < 0 || (n && !seed)) return GGNN_ERROR_ARGUMENT;
    ggnn_found*    found = &f->found[type];
    const int64_t  N = f->num_nodes[type], keys = GGNN_NODE_MAX == INT32_MAX ? INT32_MAX : INT64_C(1) << 48;
    const int64_t* own = f->node_time ? f->node_time[type] : NULL;
    const char*    what = f->seed_time && !time && !own ? "a seed has no time" : NULL;
    int64_t        i = 0;
    if (n > found->max - found->count) return ggnni_stop(f, GGNN_ERROR_CAPACITY, NULL, -1, -1);
    for (int32_t t = 0; f->disjoint && t < f->num_types; t++)
        if (f->num_nodes[t] && f->num_seeds + n > keys / f->num_nodes[t])
            what = "subgraphs times nodes do not fit 31 bits (48 with GGNN_NODE64)";
    for (; i < n && !what; i++, f->num_seeds++) {
        if (seed[i] < 0 || seed[i] >= N) return ggnni_stop(f, GGNN_ERROR_ID, NULL, seed[i], -1);
        const ggnn_node key = (ggnn_node)(f->disjoint ? f->num_seeds * N + seed[i] : seed[i]);
        if (f->seed_time) f->seed_time[f->num_seeds] = time ? time[i] : own[seed[i]];
        ggnni_frontier_number(found, NULL, &key, 1);
        if (f->disjoint) found->id[found->end] = seed[i], found->subgraph[found->end] = (int32_t)f->num_seeds;
        if (found->count == found->end++) what = "a seed is given twice";
    }
    return what ? ggnni_stop(f, GGNN_ERROR_ARGUMENT, what, i ? seed[i - 1] : -1, -1) : GGNN_OK;
}

// ---- one hop: relation by relation, a tile of targets after the other ----------------

typedef struct {
    ggnn_frontier*       f;
    const ggnn_relation* by;
    ggnn_found *         src, *dst;
    ggnn_taken*          taken;
    ggnn_rng             rng; // relations draw apart
    int64_t              fanout;
    int32_t              r; // the relation's number
} ggnni_frontier_job;

typedef struct {
    int64_t   first, n; // targets, local
    int64_t   edge;     // of the first one
    ggnn_list list[GGNNI_FRONTIER_TILE];
    int64_t   key[GGNNI_FRONTIER_TILE], bound[GGNNI_FRONTIER_TILE + 1];
} ggnni_frontier_tile;

// What the next hop may find and take at most, in `need`: whether there is room for it.
static ggnn_status ggnni_frontier_need(ggnn_frontier* f, const int32_t* fanout)
{
    const int   repeats = ggnn_method_has(f->method, GGNN_METHOD_REPEATS);
    ggnn_status status = GGNN_OK;
    for (int32_t t = 0; t < f->num_types; t++) f->found[t].need = f->found[t].count;
    for (int32_t r = 0; r < f->num_relations; r++) {
        const ggnn_relation* by = &f->relation[r];
        const ggnn_found*    dst = &f->found[by->dst];
        f->taken[r].need = f->taken[r].count;
        for (int64_t i = dst->begin; i < dst->end; i++) {
            const int64_t n = ggnn_neighbors(&by->lists, dst->id[i]).degree, m = fanout[r];
            if (n < 0 || n > by->lists.num_edges)
                return ggnni_stop(f, GGNN_ERROR_ID, NULL, dst->id[i], r);
            if (n) f->taken[r].need += m >= 0 && (m < n || repeats) ? m : n;
        }
        f->found[by->src].need += f->taken[r].need - f->taken[r].count;
        if (f->taken[r].need > f->taken[r].max) status = GGNN_ERROR_CAPACITY;
    }
    for (int32_t t = 0; t < f->num_types; t++) {
        if (!f->disjoint && f->found[t].need > f->num_nodes[t]) f->found[t].need = f->num_nodes[t];
        if (f->found[t].need > f->found[t].max) status = GGNN_ERROR_CAPACITY;
    }
    return status;
}

// Cuts each list of a tile to what is not later than its seed. All binary searches go on in turn, to wait for
// memory together. Returns -1, or the target of which a source is out of range.
static int64_t ggnni_frontier_cut(const ggnni_frontier_job* job, ggnni_frontier_tile* tile)
{
    const ggnn_frontier* f = job->f;
    const int64_t *      of_edge = job->by->time, *of_node = f->node_time ? f->node_time[job->by->src] : NULL;
    const int32_t*       subgraph = job->dst->subgraph + tile->first;
    int64_t              low[GGNNI_FRONTIER_TILE] = {0}, middle[GGNNI_FRONTIER_TILE];
    for (int more = of_edge || of_node; more;) { // a list's degree is the upper end
        more = 0;
        for (int64_t i = 0; i < tile->n; i++) {
            middle[i] = (low[i] + tile->list[i].degree) / 2;
            if (of_edge) GGNNI_PREFETCH(&of_edge[tile->list[i].position + middle[i]]);
            else GGNNI_PREFETCH(&tile->list[i].id[middle[i]]);
        }
        for (int64_t i = 0; i < tile->n && !of_edge; i++) {
            if (low[i] == tile->list[i].degree) continue;
            const ggnn_node u = tile->list[i].id[middle[i]];
            if (u < 0 || u >= f->num_nodes[job->by->src]) return tile->first + i;
            GGNNI_PREFETCH(&of_node[u]);
        }
        for (int64_t i = 0; i < tile->n; i++) {
            ggnn_list* list = &tile->list[i];
            if (low[i] == list->degree) continue;
            more = 1;
            const int64_t time = of_edge ? of_edge[list->position + middle[i]] : of_node[list->id[middle[i]]];
            if (time <= f->seed_time[subgraph[i]]) low[i] = middle[i] + 1;
            else list->degree = middle[i];
        }
    }
    for (int64_t i = 0; i < tile->n && (of_edge || of_node) && f->latest && job->fanout >= 0; i++) {
        const int64_t early = tile->list[i].degree > job->fanout ? tile->list[i].degree - job->fanout : 0;
        tile->list[i].id += early;
        tile->list[i].position += early;
        tile->list[i].degree -= early;
    }
    return -1;
}

// Stage 1: where the edges of a tile will lie, taken->position gets their offsets, and ids are prefetched.
static ggnn_status ggnni_frontier_draw(const ggnni_frontier_job* job, ggnni_frontier_tile* tile)
{
    ggnn_frontier*   f = job->f;
    const ggnn_node* target = job->dst->id + tile->first;
    int64_t *        offset = job->taken->position + tile->edge, bad;
    for (int64_t i = 0; i < tile->n; i++) {
        tile->list[i] = ggnn_neighbors(&job->by->lists, target[i]);
        tile->key[i] = job->dst->key[tile->first + i];
    }
    if (f->seed_time && (bad = ggnni_frontier_cut(job, tile)) >= 0)
        return ggnni_stop(f, GGNN_ERROR_ID, NULL, job->dst->id[bad], job->r);
    ggnn_status status = ggnn_sample_lists(offset, tile->bound, tile->list, tile->key, tile->n, f->method,
                                           job->fanout, &job->rng, f->num_hops, f->workspace);
    for (int64_t i = 0; i < tile->n; i++) {
        if (tile->bound[i + 1] < 0) return ggnni_stop(f, status, NULL, target[i], job->r);
        for (int64_t e = tile->bound[i]; e < tile->bound[i + 1]; e++)
            GGNNI_PREFETCH(&tile->list[i].id[offset[e]]);
    }
    return GGNN_OK;
}

// Stage 2: offsets become positions, and sources are numbered.
static ggnn_status ggnni_frontier_take(const ggnni_frontier_job* job, const ggnni_frontier_tile* tile)
{
    ggnn_frontier*    f = job->f;
    ggnn_found*       src = job->src;
    const ggnn_taken* taken = job->taken;
    const int64_t     N = f->num_nodes[job->by->src], end = tile->edge + tile->bound[tile->n];
    ggnn_node         key[GGNNI_FRONTIER_CHUNK];
    int32_t           local[GGNNI_FRONTIER_CHUNK];
    for (int64_t e = tile->edge, i = 0, chunk = 0; e < end; e++) {
        while (e - tile->edge >= tile->bound[i + 1]) i++;
        const int64_t   offset = taken->position[e], target = tile->first + i;
        const ggnn_node id = tile->list[i].id[offset];
        if (id < 0 || id >= N) return ggnni_stop(f, GGNN_ERROR_ID, NULL, job->dst->id[target], job->r);
        key[chunk++] = (ggnn_node)(f->disjoint ? job->dst->subgraph[target] * N + id : id);
        taken->position[e] = tile->list[i].position + offset;
        taken->dst[e] = (ggnn_node)target;
        if (chunk < GGNNI_FRONTIER_CHUNK && e + 1 < end) continue;
        int64_t fresh = src->count; // new ones are numbered as they come
        ggnni_frontier_number(src, local, key, chunk);
        for (int64_t k = 0, at = e + 1 - chunk; k < chunk; k++, at++) {
            taken->src[at] = local[k];
            if (!f->disjoint || local[k] < fresh) continue;
            src->subgraph[fresh] = job->dst->subgraph[taken->dst[at]];
            src->id[fresh] = (ggnn_node)(key[k] - src->subgraph[fresh] * N);
            fresh++;
        }
        chunk = 0;
    }
    job->taken->count = end;
    return GGNN_OK;
}

static ggnn_status ggnni_frontier_sample(const ggnni_frontier_job* job)
{
    ggnni_frontier_tile tile;
    ggnn_status         status = GGNN_OK;
    const int64_t       width = GGNNI_FRONTIER_TILE;
    const int64_t       end = job->taken->need > job->taken->count ? job->dst->end : 0; // 0: nothing to take
    for (tile.first = job->dst->begin; tile.first < end && status == GGNN_OK; tile.first += tile.n) {
        tile.n = end - tile.first < width ? end - tile.first : width;
        tile.edge = job->taken->count;
        status = ggnni_frontier_draw(job, &tile);
        if (status == GGNN_OK) status = ggnni_frontier_take(job, &tile);
    }
    return status;
}

GGNN_API ggnn_status ggnn_frontier_hop(ggnn_frontier* f, const ggnn_rng* rng, const int32_t* fanout)
{
    if (!f || !rng || !f->workspace || !fanout || f->num_hops >= GGNN_HOP_NUMBERS) return GGNN_ERROR_ARGUMENT;
    ggnn_status status = ggnni_frontier_need(f, fanout);
    for (int32_t r = 0; r < f->num_relations && status == GGNN_OK; r++) {
        const ggnn_relation* by = &f->relation[r];
        ggnn_found *       src = &f->found[by->src], *dst = &f->found[by->dst];
        ggnni_frontier_job job = {f, by, src, dst, &f->taken[r], *rng, fanout[r], r};
        if (r) job.rng.seed = ggnn_mix(rng->seed + (uint64_t)r * UINT64_C(0x9E3779B97F4A7C15));
        status = ggnni_frontier_sample(&job);
    }
    for (int32_t t = 0; t < f->num_types && status == GGNN_OK; t++) {
        f->found[t].begin = f->found[t].end;
        f->found[t].end = f->found[t].count;
    }
    if (status == GGNN_OK) f->num_hops++;
    return status;
}

#endif // GGNN_FRONTIER_IMPLEMENTED
#endif // GGNN_FRONTIER_IMPLEMENTATION

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
