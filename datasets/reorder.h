/* reorder.h - the same graph with its nodes called by other numbers. */
#ifndef DATASETS_REORDER_H
#define DATASETS_REORDER_H
#include "datasets/dataset.h"

/* Writes d's graph to out with node v called rank[v], a permutation of [0, N): lists, sorted by id, weights, and the rows of
   nodes and edges. external_id keeps what each node was called, old_id what number it had before. d's sections were checked
   (dataset_check_sections). Whole or not at all. */
bool reorder_write(const char* out, const dataset* d, const ggnn_node* rank, error* why);
#endif
