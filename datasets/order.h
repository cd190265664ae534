/* order.h - orders of the nodes that make sums over all neighbours fast: rows that are read together, or often, lie near. */
#ifndef DATASETS_ORDER_H
#define DATASETS_ORDER_H
#include "common/error.h"
#include "ggnn.h"

/* Choices for option tables, behind one that stands for none of them, in the order of the enumerators. */
#define ORDER_METHODS "degree|grouped|community"
#define ORDER_ABOUT \
    "  degree     falling out-degree: the order of rank --by degree\n" \
    "  grouped    groups of falling out-degree, powers of two of the average (DBG, Faldu et al. 2019); by community within\n" \
    "  community  by community: label propagation (Raghavan et al. 2007), at most 8,192 nodes in one\n"
typedef enum { ORDER_NONE, ORDER_DEGREE, ORDER_GROUPED, ORDER_COMMUNITY, ORDER_NUM_METHODS } order_method;
extern const char* const order_name[ORDER_NUM_METHODS];

/* rank (N): the number of each node, a permutation. Equal nodes keep their order. The same for any number of threads. g is
   plain. False: a list is broken (path names the file), or no memory. degree O(N log N + E), else O(N log N + 3 E). */
bool order_nodes(ggnn_node* rank, order_method by, const ggnn_graph* g, const char* path, error* why);
#endif
