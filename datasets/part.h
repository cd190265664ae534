/* part.h - one part of a graph in a file of its own, on which a machine trains without the others' data (PaGraph's self-reliant
   partition). A part has its training nodes and what they reach: `hops` hops of full lists.

   Ids are those of the whole graph, as they key the samples: so N is its N. The file is a graph's (dataset.h) in which
     indptr, indices, weight, edge_feat   have the lists that carry a message to a training node of the part; all others are empty
     feat        (H, F)   has a row of each node that the part has, in the order of part_id
     label, split         are whole, as devices have to agree on classes, and on how many seeds of a batch have a label
   and the sections
     part_of     (7)          i64        the whole graph's identity, the CRCs of its sections feat and weight, -1 where it has
                                         none; the number of the part, from 0; how many parts; hops; the CRC of edge_feat
     part_id     (H)          i32 | i64  the nodes that it has, ascending
     part_degree (H)          i64        the lengths of their lists in the whole graph, which GCN's factors are made of
     part_held   (parts + 1)  i64        nodes that each part has; last, nodes that any part has
     owner       (N)          i32        whose part each training node is, larger parts first; -1: no training node
   External ids and preprocessed features are left out. */
#ifndef DATASETS_PART_H
#define DATASETS_PART_H
#include "datasets/dataset.h"

typedef struct {
    const dataset* of;     /* the whole graph */
    const int32_t* owner;  /* (N) */
    int32_t number, parts, hops;
    const ggnn_node* list; /* (held) the part's closure by hop, as ggnn_partition_closure gives it */
    int64_t inner, held;   /* the first `inner` nodes of it have a list that is read */
    const int64_t* all;    /* (parts + 1) part_held */
} part_plan;

/* Writes path, whole or not at all. *bytes: of the file. O(N + rows and lists of the part). */
bool part_write(const char* path, const part_plan* p, int64_t* bytes, error* why);

/* rank (N): the row of each node that a part has, part.num_rows of all others. False, naming the node, where the sections
   contradict each other: ids that do not ascend, lists that are neither whole nor empty, edges from nodes without a row,
   owners that are no parts, training nodes of the part whose closure is not there. O(N + rows + edges). */
bool part_check(const dataset* d, ggnn_node* rank, error* why);

/* Does the part have all that `hops` hops of full lists reach from these nodes? what: "training" nodes. Else an error that
   names the first node that is not there. rank: of part_check. */
bool part_reaches(const dataset* d, const ggnn_node* rank, const ggnn_node* ids, int64_t num_ids, int32_t hops,
                  const char* what, error* why);

/* The rows by node: base (3) and rank must outlive the store. Those of nodes that a part does not have have no address. */
ggnn_store part_features(const dataset* d, const ggnn_node* rank, const void* base[3]);

/* indptr (N + 1): of a graph whose lists are as long as in the whole one, where the part has the node; others are empty. */
void part_degrees(int64_t* indptr, const dataset* d, const ggnn_node* rank);
#endif
