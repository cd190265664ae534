#include "datasets/divide.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/dataset.h"
#include "datasets/metis.h"

const char* const divide_name[DIVIDE_NUM_METHODS] = {"mincut", "hash", "mod", "range", "pagraph", "metis"};

/* Both directions of every edge, as mincut sees only lists. Returns the lists' memory, to be freed, or NULL. */
static void* symmetrised(const ggnn_graph* g, const char* path, ggnn_lists* both, error* why)
{
    const int64_t n = g->num_nodes, e = g->num_edges;
    const size_t row = (size_t)(n + 1) * sizeof(int64_t), ids = (size_t)e * sizeof(ggnn_node);
    char* memory = memory_new(2 * row + 2 * ids, "edges in both directions", why);
    ggnn_fault fault;
    if (!memory) return NULL;
    int64_t* indptr = (int64_t*)memory;
    ggnn_node* indices = (ggnn_node*)(memory + 2 * row);
    ggnn_lists in = {n, e, (int64_t*)g->whole.indptr, (ggnn_node*)g->whole.indices, NULL, NULL};
    ggnn_lists reverse = {n, e, indptr, indices, NULL, NULL}, sorted = {n, e, indptr + n + 1, indices + e, NULL, NULL};
    if (ggnn_graph_transpose(&reverse, &in, &fault) != GGNN_OK) {
        ggnn_graph_validate(g, &fault); /* which names the node */
        dataset_graph_fails(path, &fault, why);
        memory_free(memory);
        return NULL;
    }
    ggnn_graph_transpose(&sorted, &reverse, &fault); /* the graph's own lists, sorted; its rows go over the merged ones' */
    char* merged = memory_new(row + 2 * ids, "edges in both directions", why);
    if (merged) {
        *both = (ggnn_lists){n, 2 * e, (int64_t*)merged, (ggnn_node*)(merged + row), NULL, NULL};
        ggnn_graph_simplify(both, &sorted, &reverse, GGNN_DROP_DUPLICATES | GGNN_DROP_SELF_LOOPS);
    }
    memory_free(memory);
    return merged;
}

static bool by_edges(int32_t* owner, const ggnn_graph* g, const divide_how* how, error* why)
{
    ggnn_lists both;
    ggnn_fault fault;
    void* memory = symmetrised(g, how->path, &both, why);
    if (!memory) return false;
    const ggnn_graph symmetric = ggnn_graph_from_lists(&both);
    bool good;
    if (how->by == DIVIDE_METIS) good = metis_divide(owner, &both, how->weight, how->parts, how->path, why);
    else {
        ggnn_node* order = memory_new((size_t)g->num_nodes * sizeof *order, "an order of nodes", why);
        good = order && (ggnn_partition_mincut(owner, &symmetric, how->parts, how->passes, how->slack, order, &fault) ==
                             GGNN_OK || dataset_graph_fails(how->path, &fault, why));
        memory_free(order);
    }
    memory_free(memory);
    return good;
}

static bool by_pagraph(int32_t* owner, int64_t* closures_cut, const ggnn_graph* g, const divide_how* how, error* why)
{
    const ggnn_pagraph eq1 = {how->train, how->num_train, how->parts, how->hops, how->closure_limit};
    ggnn_fault fault;
    if (how->num_train == 0) return error_set(why, "%s: it has no training nodes, which pagraph divides", how->path);
    void* work = memory_new(ggnn_partition_pagraph_workspace_bytes(g->num_nodes), "partitioning", why);
    const bool good = work && (ggnn_partition_pagraph(owner, closures_cut, g, &eq1, work, &fault) == GGNN_OK ||
                               dataset_graph_fails(how->path, &fault, why));
    memory_free(work);
    return good;
}

bool divide_nodes(int32_t* owner, int64_t* closures_cut, const ggnn_graph* g, const divide_how* how, error* why)
{
    static const ggnn_owner by_id[] = {GGNN_OWNER_MAP, GGNN_OWNER_HASH, GGNN_OWNER_MODULO, GGNN_OWNER_RANGE};
    *closures_cut = 0;
    if (how->by == DIVIDE_MINCUT || how->by == DIVIDE_METIS) return by_edges(owner, g, how, why);
    if (how->by == DIVIDE_PAGRAPH) return by_pagraph(owner, closures_cut, g, how, why);
    ggnn_partition_ids(owner, by_id[how->by], how->parts, g->num_nodes);
    return true;
}

void divide_rest(int32_t* owner, ggnn_node* queue, const ggnn_graph* g, int32_t parts)
{
    int64_t end = 0;
    for (int64_t v = 0; v < g->num_nodes; v++)
        if (owner[v] >= 0) queue[end++] = (ggnn_node)v;
    for (int64_t i = 0; i < end; i++) {
        const ggnn_list list = ggnn_neighbors(g, queue[i]);
        for (int64_t j = 0; j < list.degree; j++)
            if (owner[list.id[j]] < 0) {
                owner[list.id[j]] = owner[queue[i]];
                queue[end++] = list.id[j];
            }
    }
    for (int64_t v = 0; v < g->num_nodes; v++)
        if (owner[v] < 0) owner[v] = (int32_t)(v % parts);
}

void divide_larger_first(int32_t* owner, int32_t* place, int64_t num_nodes, int32_t parts)
{
    int64_t size[GGNN_PARTS_MAX] = {0}, most = 0;
    int32_t next = 0;
    for (int64_t v = 0; v < num_nodes; v++)
        if (owner[v] >= 0) size[owner[v]]++;
    for (int32_t p = 0; p < parts; p++) most = size[p] > most ? size[p] : most;
    for (int large = 1; large >= 0; large--)
        for (int32_t p = 0; p < parts; p++)
            if ((size[p] == most) == large) place[p] = next++;
    for (int64_t v = 0; v < num_nodes; v++)
        if (owner[v] >= 0) owner[v] = place[owner[v]];
}
