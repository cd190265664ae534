#include "datasets/order.h"

#include "common/memory.h"
#include "datasets/dataset.h"
#include "ggnn_plan.h"

const char* const order_name[ORDER_NUM_METHODS] = {"none", "degree", "grouped", "community"};

enum {
    PASSES = 2,     /* of label propagation: later ones move a node in a thousand */
    LARGEST = 8192, /* nodes of a community: its rows of 64 floats are 2 MiB, a core's own cache */
    GROUPS = 8      /* of out-degrees, from 32 times the average down to half of it */
};

/* ---- communities ----------------------------------------------------------------------------------------------- */

typedef struct { /* (N) each */
    ggnn_node *label, *size; /* size: nodes that have the label */
    ggnn_node *votes, *voted; /* neighbours that have it; labels with votes */
} communities;

/* The commonest label among v's neighbours that has room, if commoner than v's own; of equal ones the first in its list. */
static ggnn_node winner(const communities* c, ggnn_list list, ggnn_node own)
{
    ggnn_node best = own;
    int64_t count = 0;
    for (int64_t i = 0; i < list.degree; i++) {
        const ggnn_node l = c->label[list.id[i]];
        if (c->votes[l]++ == 0) c->voted[count++] = l;
    }
    for (int64_t i = 0; i < count; i++)
        if (c->size[c->voted[i]] < LARGEST && c->votes[c->voted[i]] > c->votes[best]) best = c->voted[i];
    for (int64_t i = 0; i < count; i++) c->votes[c->voted[i]] = 0;
    return best;
}

static void propagate(communities* c, const ggnn_graph* g)
{
    for (int64_t v = 0; v < g->num_nodes; v++) {
        c->label[v] = (ggnn_node)v;
        c->size[v] = 1;
    }
    for (int pass = 0; pass < PASSES; pass++)
        for (int64_t v = 0; v < g->num_nodes; v++) {
            const ggnn_node own = c->label[v], to = winner(c, ggnn_neighbors(g, (ggnn_node)v), own);
            c->size[own]--;
            c->size[to]++;
            c->label[v] = to;
        }
}

/* key[v] = - v's community, a node of it. */
static bool by_community(int64_t* key, const ggnn_graph* g, error* why)
{
    const size_t n = (size_t)g->num_nodes;
    ggnn_node* memory = memory_new(memory_product(n, 4, sizeof *memory), "communities of nodes", why);
    communities c = {memory, memory + n, memory + 2 * n, memory + 3 * n};
    if (!memory) return false;
    propagate(&c, g);
    for (size_t v = 0; v < n; v++) key[v] = -(int64_t)c.label[v];
    memory_free(memory);
    return true;
}

/* ---- orders ---------------------------------------------------------------------------------------------------- */

/* 0: the most. */
static int64_t group_of(int64_t degree, double average)
{
    double least = 32 * average;
    int64_t group = 0;
    for (; group < GROUPS - 1 && (double)degree < least; group++) least /= 2;
    return group;
}

/* key (N): the higher, the earlier. */
static bool find_keys(int64_t* key, order_method by, const ggnn_graph* g, const char* path, error* why)
{
    const int64_t n = g->num_nodes;
    ggnn_fault fault;
    int64_t* degree = memory_new((size_t)n * sizeof *degree, "out-degrees", why);
    bool good = degree != NULL;
    if (good && ggnn_count_degrees(degree, NULL, g, &fault) != GGNN_OK) good = dataset_graph_fails(path, &fault, why);
    good = good && (by == ORDER_DEGREE || by_community(key, g, why));
    for (int64_t v = 0; good && v < n; v++) {
        if (by == ORDER_DEGREE) key[v] = degree[v];
        if (by == ORDER_GROUPED) key[v] -= n * group_of(degree[v], (double)g->num_edges / (double)n);
    }
    memory_free(degree);
    return good;
}

bool order_nodes(ggnn_node* rank, order_method by, const ggnn_graph* g, const char* path, error* why)
{
    const size_t n = (size_t)g->num_nodes;
    int64_t* key = memory_new(n * sizeof *key, "keys of nodes", why);
    ggnn_node* order = key ? memory_new(n * sizeof *order, "an order of nodes", why) : NULL;
    const bool good = order && find_keys(key, by, g, path, why);
    const ggnn_hotness keys = {key, NULL, NULL};
    if (good) ggnn_rank(rank, order, &keys, g->num_nodes);
    memory_free(key);
    memory_free(order);
    return good;
}
