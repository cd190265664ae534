/* statistics.h - what a graph is like: degrees, components, self-loops, duplicates, homophily. */
#ifndef DATASETS_STATISTICS_H
#define DATASETS_STATISTICS_H
#include "datasets/dataset.h"

enum { DEGREE_BINS = 65 };

typedef struct {
    int64_t least, most, zero; /* zero: nodes of degree 0 */
    int64_t median, p90, p99;  /* the least degree that at least that share of the nodes does not exceed */
    double mean;
    int64_t bin[DEGREE_BINS]; /* nodes of degree 0, 1, 2..3, 4..7, ... */
    int32_t num_bins;         /* up to the last that is not empty */
} degree_statistics;

typedef struct {
    int64_t num_nodes, num_edges;
    degree_statistics in, out;
    int64_t isolated;   /* nodes without any edge but self-loops */
    int64_t self_loops; /* edges */
    int64_t duplicates; /* edges whose source is earlier in the same list */
    int64_t one_way;    /* edges u -> v without a v -> u of their own, duplicates counted; 0: undirected */
    bool sorted;        /* every list is in ascending order */
    int64_t components; /* weakly connected; isolated nodes count */
    int64_t largest_component;
    int64_t labelled;       /* nodes with a known class */
    int64_t labelled_edges; /* edges between two of them, self-loops left out; the next three are over these */
    double edge_homophily;  /* share that joins nodes of one class */
    double node_homophily;  /* mean over nodes with such an in-edge of their own share. Pei et al. 2020 */
    double
        adjusted_homophily; /* edge homophily less what the classes' degrees give by chance. Platonov et al. 2023 */
    int64_t* class_size;    /* (num_classes) */
} graph_statistics;

/* Counts everything in O(E log degree), with about 24 bytes a node. The graph and the labels are checked first. */
bool statistics_compute(graph_statistics* s, dataset* d, error* why);
void statistics_free(graph_statistics* s);
#endif
