/* divide.h - which part has each node of a graph: the methods of ggnn-data partition, by name. */
#ifndef DATASETS_DIVIDE_H
#define DATASETS_DIVIDE_H
#include "common/error.h"
#include "ggnn_plan.h"

/* Choices for option tables, in the order of the enumerators. */
#define DIVIDE_METHODS "mincut|hash|mod|range|pagraph|metis"
typedef enum {
    DIVIDE_MINCUT,  /* ggnn_partition_mincut */
    DIVIDE_HASH,    /* by id, as the next two */
    DIVIDE_MOD,
    DIVIDE_RANGE,
    DIVIDE_PAGRAPH, /* the training nodes alone */
    DIVIDE_METIS,   /* metis.h */
    DIVIDE_NUM_METHODS
} divide_method;
extern const char* const divide_name[DIVIDE_NUM_METHODS];

/* What METIS gives the parts equally much of: nodes, or the edges that batches sampled before training compute at them, as
   GSplit's weights do (hotness_weigh). */
#define DIVIDE_BALANCES "vertices|edges"
typedef enum { DIVIDE_VERTICES, DIVIDE_EDGES } divide_balance;

typedef struct {
    divide_method by;
    int32_t parts;
    int32_t passes, slack; /* mincut */
    int32_t hops;          /* pagraph */
    int64_t closure_limit, num_train;
    const ggnn_node* train;
    const int64_t* weight; /* metis: (N) what a node weighs; NULL: all weigh the same */
    const char* path;      /* of the graph, for messages */
} divide_how;

/* owner (N): the part of each node of a plain graph; by pagraph -1: no training node. closures_cut: as
   ggnn_partition_pagraph counts them, else 0. mincut and METIS see both directions of every edge. False: a list is
   broken, pagraph has no training nodes, METIS is not there, or there is no memory. */
bool divide_nodes(int32_t* owner, int64_t* closures_cut, const ggnn_graph* g, const divide_how* how, error* why);

/* Gives nodes without an owner one, where each node needs one: breadth first from those that have one, in order of ids, a
   node goes to the part that reaches it first, over in-edges; what none reaches to v mod parts. queue (N): workspace. Lists
   must be valid. O(N + E). */
void divide_rest(int32_t* owner, ggnn_node* queue, const ggnn_graph* g, int32_t parts);

/* Parts of training nodes in another order: larger ones first, of equal ones as they were; place (parts): where each has come. owner
   (N): -1 stays. Sizes differ by one at most. */
void divide_larger_first(int32_t* owner, int32_t* place, int64_t num_nodes, int32_t parts);
#endif
