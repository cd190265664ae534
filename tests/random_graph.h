/* random_graph.h - graphs for tests: in-degrees of every kind (none, few, many, one hub), self-loops, duplicates. */
#ifndef RANDOM_GRAPH_H
#define RANDOM_GRAPH_H
#include "ggnn.h"
#include "tests/test.h"

typedef struct {
    int64_t    num_nodes, num_edges;
    int64_t*   indptr;
    ggnn_node* indices;
    float*     weight;
    ggnn_graph graph;
} random_graph;

/* Node 0 has degree hub, node 1 none, the others 0 .. 2 * degree. A fifth of the weights are 0. */
static inline random_graph* random_graph_new(int64_t num_nodes, int64_t degree, int64_t hub)
{
    random_graph* g = (random_graph*)malloc(sizeof *g);
    g->num_nodes = num_nodes;
    g->indptr = (int64_t*)malloc((size_t)(num_nodes + 1) * sizeof *g->indptr);
    g->indptr[0] = 0;
    for (int64_t v = 0; v < num_nodes; v++) g->indptr[v + 1] = g->indptr[v] + (v == 0 ? hub : v == 1 ? 0 : test_below(2 * degree + 1));
    g->num_edges = g->indptr[num_nodes];
    g->indices = (ggnn_node*)malloc((size_t)(g->num_edges + 1) * sizeof *g->indices);
    g->weight = (float*)malloc((size_t)(g->num_edges + 1) * sizeof *g->weight);
    for (int64_t e = 0; e < g->num_edges; e++) {
        g->indices[e] = (ggnn_node)test_below(num_nodes);
        g->weight[e] = test_below(5) ? (float)(1 + test_below(8)) : 0.0f;
    }
    g->graph = ggnn_graph_plain(g->indptr, g->indices, g->weight, num_nodes, g->num_edges);
    return g;
}

static inline void random_graph_free(random_graph* g)
{
    free(g->indptr);
    free(g->indices);
    free(g->weight);
    free(g);
}
#endif
