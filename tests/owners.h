/* owners.h - for tests: a graph and its rows cut up over P parts by every kind of owner. Who owns what is worked out here
   without ggnn_locate, so that what is read where can be predicted. */
#ifndef OWNERS_H
#define OWNERS_H
#include "random_graph.h"

enum { OWNED_PARTS = 8 };
typedef enum { BY_RANGE, BY_UNEQUAL_RANGE, BY_MODULO, BY_HASH, BY_MAP, BY_MAP_AND_HOST, OWNED_KINDS } owned_kind;

typedef struct {
    const random_graph* g;
    const float*        table;  /* (num_nodes, width) */
    int32_t             width, parts;
    int32_t*            owner;  /* (num_nodes) predicted; parts: the host tier */
    int64_t             rows[OWNED_PARTS];
    ggnn_layout         at;
    ggnn_node*          rank;
    int64_t             bound[OWNED_PARTS + 1];
    ggnn_csc            part[OWNED_PARTS + 2];
    const void*         base[OWNED_PARTS + 2]; /* parts without rows have none */
} owned;

static inline void* owned_new(int64_t bytes)
{
    void* p = malloc((size_t)(bytes > 0 ? bytes : 1));
    if (!p) abort();
    return p;
}

/* splitmix64's first number of seed v, of which the highest part is taken. */
static inline int32_t owned_by_hash(int64_t v, int32_t parts)
{
    uint64_t kept = test_state, z;
    double   share;
    test_state = (uint64_t)v;
    z = test_random();
    test_state = kept;
    share = (double)(z >> 12) / 4503599627370496.0; /* 52 bits: enough for some thousands of nodes */
    return (int32_t)(share * parts);
}

static inline int32_t owned_predict(owned_kind kind, int64_t v, int64_t n, int32_t parts, const int64_t* bound)
{
    int64_t end = 0;
    switch (kind) {
    case BY_MODULO: return (int32_t)(v % parts);
    case BY_HASH: return owned_by_hash(v, parts);
    case BY_MAP: return (int32_t)test_below((parts + 1) / 2) * 2; /* parts of odd number are empty */
    case BY_MAP_AND_HOST: return (int32_t)test_below(parts + 1);
    default: break;
    }
    for (int32_t p = 0; p < parts; p++) {
        end = kind == BY_UNEQUAL_RANGE ? bound[p + 1] : end + n / parts + (p < n % parts ? 1 : 0);
        if (v < end) return p;
    }
    return parts;
}

static inline void owned_cut(owned* o, int32_t p)
{
    int64_t      n = ggnn_layout_nodes(NULL, &o->at, o->g->num_nodes, p);
    ggnn_node*   id = (ggnn_node*)owned_new(n * (int64_t)sizeof *id);
    int64_t*     indptr = (int64_t*)owned_new((n + 1) * 8);
    int64_t*     first = (int64_t*)owned_new(n * 8);
    float*       rows = n ? (float*)owned_new(n * o->width * 4) : NULL;
    ggnn_store   whole = ggnn_store_plain(o->table, o->g->num_nodes, o->width, GGNN_F32);
    ggnn_node*   indices;
    float*       weight;
    ggnn_csc     csc = {NULL, NULL, NULL, NULL, 0};
    CHECK_EQ(ggnn_layout_nodes(id, &o->at, o->g->num_nodes, p), n);
    CHECK_EQ(ggnn_graph_lists(indptr, NULL, NULL, NULL, &o->g->graph, id, n, NULL), GGNN_OK);
    indices = (ggnn_node*)owned_new(indptr[n] * (int64_t)sizeof *indices);
    weight = (float*)owned_new(indptr[n] * 4);
    CHECK_EQ(ggnn_graph_lists(indptr, first, indices, weight, &o->g->graph, id, n, NULL), GGNN_OK);
    ggnn_gather(rows, o->width, GGNN_F32, &whole, id, n);
    csc.indptr = indptr;
    csc.first = first;
    csc.indices = indices;
    csc.weight = weight;
    csc.num_edges = indptr[n];
    o->part[p] = csc;
    o->base[p] = rows;
    o->rows[p] = n;
    free(id);
}

/* The parts' rows and lists; the host tier is the whole. An unequal range has an empty part where there are three. */
static inline owned* owned_by(owned_kind kind, int32_t parts, const random_graph* g, const float* table, int32_t width)
{
    owned*     o = (owned*)owned_new(sizeof *o);
    int64_t    n = g->num_nodes;
    ggnn_fault fault;
    memset(o, 0, sizeof *o);
    o->g = g;
    o->table = table;
    o->width = width;
    o->parts = parts;
    o->owner = (int32_t*)owned_new(n * 4);
    o->rank = (ggnn_node*)owned_new(n * (int64_t)sizeof *o->rank);
    for (int32_t p = 1; p < parts; p++) o->bound[p] = p == 2 ? o->bound[1] : o->bound[p - 1] + test_below(n - o->bound[p - 1] + 1);
    o->bound[parts] = n;
    for (int64_t v = 0; v < n; v++) o->owner[v] = owned_predict(kind, v, n, parts, o->bound);
    if (kind == BY_UNEQUAL_RANGE) {
        o->at.bound = o->bound;
        o->at.stored = n;
        o->at.parts = parts;
    } else {
        ggnn_owner how = kind == BY_RANGE ? GGNN_OWNER_RANGE : kind == BY_MODULO ? GGNN_OWNER_MODULO : kind == BY_HASH ? GGNN_OWNER_HASH : GGNN_OWNER_MAP;
        CHECK_EQ(ggnn_layout_owners(&o->at, o->rank, o->bound, how, o->owner, n, parts, &fault), GGNN_OK);
        CHECK(fault.what == NULL);
    }
    for (int32_t p = 0; p < parts; p++) owned_cut(o, p);
    o->part[parts] = g->graph.whole;
    o->base[parts] = table;
    return o;
}

static inline void owned_free(owned* o)
{
    for (int32_t p = 0; p < o->parts; p++) {
        free((void*)(uintptr_t)o->part[p].indptr);
        free((void*)(uintptr_t)o->part[p].first);
        free((void*)(uintptr_t)o->part[p].indices);
        free((void*)(uintptr_t)o->part[p].weight);
        free((void*)(uintptr_t)o->base[p]);
    }
    free(o->owner);
    free(o->rank);
    free(o);
}

/* Adds n reads of nodes id to what is expected of each slot. */
static inline void owned_count(const owned* o, int64_t* expected, const ggnn_node* id, int64_t n)
{
    for (int64_t i = 0; i < n; i++) expected[o->owner[id[i]]]++;
}
#endif
