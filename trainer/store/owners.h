/* owners.h - which device has which node: in --parallel split each node has one owner, which computes its rows (split.h); by --owners
   partition rows that are sent lie with their owners, too. What else lies in whose memory is another question (tiers.h). */
#ifndef TRAINER_OWNERS_H
#define TRAINER_OWNERS_H
#include "datasets/dataset.h"
#include "datasets/divide.h"
#include "trainer/store/division.h"

typedef struct { /* all zeros: there are none */
    ggnn_layout at;     /* all nodes over at.parts parts, no cache */
    const char* method; /* of divide_name, or the file's name */
    int64_t  most;      /* nodes of the largest part */
    uint32_t crc;       /* of each node's owner: ranks on several machines compare it */
    ggnn_node* rank;    /* what `at` points to */
    int64_t* bound;
} node_owners;

/* Divides the nodes of a plain graph as how says; or, where file is given, as ggnn-data partition wrote there for `of`.
   By pagraph, which divides training nodes, the others go where divide_rest takes them. False: as divide_nodes and
   partition_read. owners_close is due all the same. */
bool owners_open(node_owners* o, const ggnn_graph* g, const divide_how* how, const char* file, dataset* of, error* why);

/* The same from whose training nodes are whose: the others go where divide_rest takes them. */
bool owners_around(node_owners* o, const ggnn_graph* g, const division* d, dataset* of, error* why);
void owners_close(node_owners* o); /* all zeros is fine */
#endif
