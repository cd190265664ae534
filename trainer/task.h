/* task.h - what there is to learn: a data set opened for training, its nodes by split, its labels, the loss. Or what there is to
   predict: a data set, and the nodes that are asked for. */
#ifndef TRAINER_TASK_H
#define TRAINER_TASK_H
#include "datasets/dataset.h"
#include "trainer/options/config.h"
#include "trainer/net/net.h"
#include "trainer/store/division.h"
#include "trainer/store/owners.h"

enum { TASK_ASKED = SPLIT_TRAIN }; /* of a prediction: the nodes that a worker's pass is over, in place of those that train */

typedef struct {
    dataset set;
    ggnn_graph graph;
    ggnn_store features; /* --preprocess: the preprocessed ones */
    ggnn_store edges;   /* --edge-features: rows by position; else no rows */
    net_labels labels;  /* of all nodes */
    net_labels trained; /* what the loss of training sees: in full batch, others than training nodes have no label */
    int32_t classes;    /* 2 for real targets: below 1/2 and not */
    int32_t outputs;    /* 1: binary with logits */
    ggnn_node* ids[4];  /* nodes of SPLIT_TRAIN, _VAL, _TEST, in ascending order */
    int64_t count[4];   /* nodes in `ids` */
    int64_t labelled[4]; /* nodes in `ids` that have a label */
    void* masked;       /* of `trained` */
    division division;  /* of the training nodes, among ranks */
    char* path;         /* of the file; NULL: the options' own */
    ggnn_node* row;     /* (N) of a part of a graph: the rows by node (part_check) */
    const void* base[3]; /* where its `features` lie */
    int64_t* lengths;   /* (N + 1) what its `degrees` point to */
    ggnn_graph degrees; /* of GCN: a graph whose lists are as long as in the whole graph; all zeros: `graph` has them */
    node_owners owners;     /* of all nodes, in --parallel split and by --owners partition; all zeros: none */
} task;

/* Opens c->data and checks that it can be trained on: at least one training node has a label; with --verify, that what
   training reads has the checksums of the file's table. On failure false; task_close is harmless then. O(N). */
bool task_open(task* t, const config* c, error* why);
void task_close(task* t);

/* The same of rank number `rank`, where c->data names a part of a graph for each: its number stands for {r}. A file that has a part is
   checked, and what it cannot do with these options is an error that names the node, or the option. O(N + rows + edges). */
bool task_open_part(task* t, const config* c, int32_t rank, error* why);

/* Opens c->data for a prediction by a network of so many outputs: neither labels nor splits are needed, and none are in the task; it
   has a whole graph. What classes there are must be among the outputs. Its nodes are then ids, which rise, and become the task's. */
bool task_open_asked(task* t, const config* c, int32_t outputs, error* why);
void task_ask(task* t, ggnn_node* ids, int64_t count);

/* May a rank of this number train on it? Any on a whole graph. */
bool task_is_of(const task* t, int32_t rank, error* why);

/* Divides nodes among so many ranks: with --parallel split all of them, with --partition pagraph those of training. Of a part
   its file says whose they are. */
bool task_divide(task* t, const config* c, int32_t ranks, error* why);

/* Does each device store what its training nodes reach, and nothing else? With --partition pagraph --store replica. */
bool task_keeps_closures(const task* t, const config* c);

/* Is what lies where planned? Where an option of tiers says so, or for closures. */
bool task_plans_tiers(const task* t, const config* c);

/* What tiers are planned for. */
tier_data task_tiers(const task* t);

/* The class of node v for the metrics; it must be labelled. */
int32_t task_class(const task* t, int64_t v);

/* Names the first feature that is not finite, if there is one: for when a loss was not. O(N F). */
bool task_blame_features(const task* t, error* why);
#endif
