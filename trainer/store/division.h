/* division.h - whose training nodes are whose: --partition pagraph. Each rank has training nodes of its own, a part; its
   closure is what batches of them can reach: L hops of full lists around them, where L is the number of hops sampled.

   PARTS are those of ggnn_partition_pagraph (ggnn_plan.h, [5]), or of a file: sizes differ by one at most. Larger ones come
   first, so that a pass over all of them (loader_pass.parts) needs no table. The same on every machine. */
#ifndef TRAINER_DIVISION_H
#define TRAINER_DIVISION_H
#include "datasets/dataset.h"
#include "ggnn_plan.h"

typedef struct { /* all zeros: there is none */
    int32_t    parts, hops;
    int64_t    num_ids;     /* training nodes */
    ggnn_node* ids;         /* (num_ids) by part, ascending within one */
    int32_t*   owner;       /* (N) -1: no training node */
    int64_t    trained[GGNN_PARTS_MAX]; /* training nodes of a part */
    int64_t    held[GGNN_PARTS_MAX];    /* all nodes of a part's closure */
    int64_t    touched;     /* nodes in any closure */
    int64_t    limit, cut;  /* training nodes whose own closure was cut at `limit` nodes, in the choice of their part; of a
                               file 0 */
    uint32_t   crc;         /* of owner */
} division;

typedef struct {
    const ggnn_node* ids;   /* (num_ids) training nodes, ascending */
    int64_t num_ids;
    int32_t parts, hops;    /* as many parts as ranks; hops sampled */
    int64_t limit;          /* nodes at which a closure is cut, in the choice of parts */
    const char* file;       /* of ggnn-data partition, which has the parts; NULL: they are chosen */
    const dataset* of;      /* the data set that `file` has to belong to */
} division_how;

/* O(edges of all closures). False: more parts than nodes, or than GGNN_PARTS_MAX; a file of other nodes, of other parts, or
   whose sizes differ by more than one; a broken list; no memory. division_close is due all the same. */
bool division_open(division* d, const ggnn_graph* g, const division_how* how, error* why);
void division_close(division* d); /* all zeros is fine */

/* The same of a data set that is one of the parts: it says whose training nodes are whose, and how many nodes each part has. False:
   other training nodes, or another number of parts. */
bool division_open_part(division* d, const division_how* how, error* why);

/* The closure of a part. list (N): its nodes, of which the first `*inner` are those whose lists batches read. Returns how
   many there are; -1 on failure. */
int64_t division_closure(const division* d, const ggnn_graph* g, int32_t part, ggnn_node* list, int64_t* inner, error* why);

double division_balance(const division* d);     /* the largest part's training nodes over the mean */
double division_replication(const division* d); /* in how many closures a node is on average, of those in any */
#endif
