/* evaluate.h - the loss and the metrics of a trained network over a part of the split; or, of a prediction, its rows.

   Full: layer by layer over all nodes with all their neighbours, each layer a chunk of targets at a time, with the
   rows of the layer before as input. Two matrices of N rows at most, 8 N hidden bytes: the outputs of two layers, or
   with GAT and SAGE pool one layer's and what the next transforms it to (wider than hidden where GAT's last layer or
   SAGE pool's features are). Past --eval-memory they live in an unlinked file; those of a GPU in pinned memory of the
   host. Beside them there is room for a chunk of the largest lists, and GAT's scores (N, heads); on a device the chunk
   has fewer targets where its lists would take more than a quarter of --eval-memory. Sampled: mini-batches as
   in training, by draws of their own that are the same at every evaluation. Full batch: one forward pass over the
   graph.

   Several ranks share the work: each computes its slice of every chunk or mini-batch. On a CPU the rows between layers
   lie in memory that the ranks of a machine share. GPUs have them all each: a row goes to P - 1 GPUs once, and is then
   read in a GPU's own memory, once for each edge that leads to it. Over parts (P - 1) / P of the edges would be read
   over links: more bytes on any graph with more than P edges a node. What each rank found of its nodes goes to all,
   which add it up in the nodes' order: all have the score that one rank alone would have. Rows that are written go to
   rank 0, a chunk or mini-batch at a time. */
#ifndef TRAINER_EVALUATE_H
#define TRAINER_EVALUATE_H
#include "common/progress.h"
#include "trainer/batch/loader.h"
#include "trainer/net/metrics.h"
#include "trainer/net/net.h"
#include "trainer/store/layer_rows.h"
#include "trainer/store/tiers.h"
#include "trainer/task.h"

typedef struct {
    int64_t known;  /* labelled nodes among those asked for */
    int64_t broken; /* the first labelled node with a logit that is not finite: then no score; -1: none */
    double loss;    /* mean over labelled nodes; NaN where there are none */
    metrics_values metrics;
} score;

typedef struct { /* where the rows of a prediction go */
    /* Rank 0: rows [first, first + rows.rows) of the nodes asked for, in order, in memory of the host that is valid during the
       call. False on an error. */
    bool (*put)(void* context, int64_t first, net_rows rows, error* why);
    void* context;
    progress* bar; /* rank 0's: rows of all layers; NULL: none */
} evaluation_sink;

typedef struct evaluation evaluation;

/* view: of the data, where the net runs. network: of the net that it will be asked to run. training: the loader of
   training's batches, used where evaluation is sampled; NULL in full batch. It is asked for a pass of its own: not to
   be used in the middle of another. with: the ranks, all of which call this
   and evaluation_run. Evaluations give up between chunks once one is to stop: with->stopped. NULL on failure. */
evaluation* evaluation_create(const config* c, const task* t, const tiers_view* view, const net_config* network,
                              loader* training, comm* with, error* why);
void evaluation_free(evaluation* e); /* NULL is fine */

/* Bytes of a device that the rows between layers take in each rank; 0 where there are none or they lie in the host's
   memory. */
int64_t evaluation_bytes(const config* c, const task* t, const net_config* network);

/* What it asks of its net, for net_create; NULL: nothing. */
const net_chunk* evaluation_chunk(const evaluation* e);

/* Scores the nodes of SPLIT_VAL or SPLIT_TEST. False on an error, and with none set when it gave up. */
bool evaluation_run(evaluation* e, net* n, int part, score* result, error* why);

/* Of c->predicts: the rows of TASK_ASKED that layer c->layer gives them, to `to`. All ranks call it. False as above. */
bool evaluation_write(evaluation* e, net* n, const evaluation_sink* to, error* why);
#endif
