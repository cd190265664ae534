#include "trainer/store/division.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/divide.h"
#include "datasets/plan_file.h"

static bool graph_fails(const ggnn_fault* fault, error* why)
{
    return error_set(why, "--partition pagraph: node %lld: %s (ggnn-data verify checks the whole file)",
                     (long long)fault->node, fault->what);
}

/* Larger parts first, so that a pass over all of them needs no table. */
static void order_parts(division* d, int64_t num_nodes)
{
    int32_t place[GGNN_PARTS_MAX];
    divide_larger_first(d->owner, place, num_nodes, d->parts);
    for (int64_t v = 0; v < num_nodes; v++)
        if (d->owner[v] >= 0) d->trained[d->owner[v]]++;
}

static void list_ids(division* d, const ggnn_node* ids)
{
    int64_t next[GGNN_PARTS_MAX] = {0};
    for (int32_t p = 1; p < d->parts; p++) next[p] = next[p - 1] + d->trained[p - 1];
    for (int64_t i = 0; i < d->num_ids; i++) d->ids[next[d->owner[ids[i]]]++] = ids[i];
}

static const char* file_of(const division_how* how) { return how->file ? how->file : how->of->file.path; }

/* Each training node has a part, no other node has one, and sizes differ by one at most. */
static bool check_file(division* d, const division_how* how, error* why)
{
    int64_t size[GGNN_PARTS_MAX] = {0}, next = 0;
    int32_t most = 0, least = 0;
    for (int64_t v = 0; v < how->of->num_nodes; v++) {
        if (next == d->num_ids || how->ids[next] != v) {
            d->owner[v] = -1;
            continue;
        }
        next++;
        if (d->owner[v] < 0)
            return error_set(why, "%s: training node %lld has no part: it was made for other training nodes (ggnn-data partition "
                                  "--split)", file_of(how), (long long)v);
        size[d->owner[v]]++;
    }
    for (int32_t p = 1; p < d->parts; p++) {
        if (size[p] > size[most]) most = p;
        if (size[p] < size[least]) least = p;
    }
    if (size[most] - size[least] <= 1) return true;
    return error_set(why, "%s: part %d has %lld training nodes, part %d has %lld: devices train on as many each, as ggnn-data "
                          "partition --method pagraph makes them", file_of(how), (int)most, (long long)size[most], (int)least,
                     (long long)size[least]);
}

static bool divide(division* d, const ggnn_graph* g, const division_how* from, error* why)
{
    const ggnn_pagraph how = {from->ids, d->num_ids, d->parts, d->hops, d->limit};
    ggnn_fault fault;
    if (from->file) return partition_read(d->owner, from->file, from->of, d->parts, why) && check_file(d, from, why);
    void* work = memory_new(ggnn_partition_pagraph_workspace_bytes(g->num_nodes), "partitioning", why);
    if (!work) return false;
    const bool good = ggnn_partition_pagraph(d->owner, &d->cut, g, &how, work, &fault) == GGNN_OK;
    memory_free(work);
    return good || graph_fails(&fault, why);
}

int64_t division_closure(const division* d, const ggnn_graph* g, int32_t part, ggnn_node* list, int64_t* inner, error* why)
{
    int64_t bound[GGNN_HOPS_MAX + 2];
    ggnn_fault fault;
    void* seen = memory_new((size_t)g->num_nodes, "nodes of a closure", why);
    if (!seen) return -1;
    const bool good = ggnn_partition_closure(list, bound, g, d->owner, part, d->ids, d->num_ids, d->hops, seen, &fault) == GGNN_OK;
    memory_free(seen);
    *inner = good ? bound[d->hops] : 0;
    if (good) return bound[d->hops + 1];
    graph_fails(&fault, why);
    return -1;
}

static bool measure(division* d, const ggnn_graph* g, error* why)
{
    const size_t nodes = (size_t)g->num_nodes;
    ggnn_node* list = memory_new(memory_product(nodes, sizeof *list, 1), "nodes of a closure", why);
    uint8_t* anywhere = list ? memory_new(nodes, "nodes of all closures", why) : NULL;
    bool good = anywhere != NULL;
    for (int32_t p = 0; good && p < d->parts; p++) {
        int64_t inner;
        d->held[p] = division_closure(d, g, p, list, &inner, why);
        good = d->held[p] >= 0;
        for (int64_t i = 0; i < d->held[p]; i++) anywhere[list[i]] = 1;
    }
    for (int64_t v = 0; good && v < g->num_nodes; v++) d->touched += anywhere[v];
    memory_free(anywhere);
    memory_free(list);
    return good;
}

/* Room for num_nodes owners. */
static bool begin(division* d, int64_t num_nodes, const division_how* how, error* why)
{
    const int32_t parts = how->parts;
    const int64_t num_ids = how->num_ids;
    *d = (division){.parts = parts, .hops = how->hops, .num_ids = num_ids, .limit = how->file ? 0 : how->limit};
    if (parts > GGNN_PARTS_MAX)
        return error_set(why, "--partition pagraph: %d parts at most, here are %d devices", GGNN_PARTS_MAX, (int)parts);
    if (parts > num_ids)
        return error_set(why, "--partition pagraph: %lld training nodes are fewer than %d devices", (long long)num_ids, (int)parts);
    d->owner = memory_new(memory_product((size_t)num_nodes, sizeof *d->owner, 1), "owners of training nodes", why);
    d->ids = d->owner ? memory_new((size_t)num_ids * sizeof *d->ids, "training nodes by owner", why) : NULL;
    return d->ids != NULL;
}

/* What follows from the owners. */
static void finish(division* d, int64_t num_nodes, const division_how* how)
{
    order_parts(d, num_nodes);
    list_ids(d, how->ids);
    d->crc = ggnn_file_crc32c(0, d->owner, num_nodes * (int64_t)sizeof *d->owner);
}

bool division_open(division* d, const ggnn_graph* g, const division_how* how, error* why)
{
    if (!begin(d, g->num_nodes, how, why) || !divide(d, g, how, why)) return false;
    finish(d, g->num_nodes, how);
    return measure(d, g, why);
}

bool division_open_part(division* d, const division_how* how, error* why)
{
    const int64_t n = how->of->num_nodes;
    const dataset_part* p = &how->of->part;
    *d = (division){0};
    if (p->parts != how->parts)
        return error_set(why, "%s: it is one of %d parts, here are %d devices: give it --devices %d, or extract %d parts (ggnn-data partition)",
                         how->of->file.path, (int)p->parts, (int)how->parts, (int)p->parts, (int)how->parts);
    if (!begin(d, n, how, why)) return false;
    memcpy(d->owner, p->owner, (size_t)n * sizeof *d->owner);
    if (!check_file(d, how, why)) return false;
    finish(d, n, how);
    d->limit = 0;
    d->hops = p->hops; /* of what it has, where fewer are sampled, too */
    for (int32_t i = 0; i < d->parts; i++) d->held[i] = p->held[i];
    d->touched = p->held[d->parts];
    return true;
}

void division_close(division* d)
{
    memory_free(d->ids);
    memory_free(d->owner);
    *d = (division){0};
}

double division_balance(const division* d)
{
    return d->num_ids ? (double)(d->trained[0] * d->parts) / (double)d->num_ids : 1;
}

double division_replication(const division* d)
{
    int64_t held = 0;
    for (int32_t p = 0; p < d->parts; p++) held += d->held[p];
    return d->touched ? (double)held / (double)d->touched : 0;
}
