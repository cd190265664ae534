/* predict.h - ggnn-train predict: what a trained network says of nodes, written to a file. The data, the worker, the network and the
   evaluation are those of training; new is whose rows are asked for, and where they go.

   Rows are written as evaluation gives them, to their places in a .npy; for .csv to an unlinked file beside it, from which they
   become text in the end. So no rank has more of them in memory than a chunk, or mini-batch, of each rank. The file gets its name
   when it is complete. */
#ifndef TRAINER_PREDICT_H
#define TRAINER_PREDICT_H
#include "datasets/output.h"
#include "trainer/checkpoint.h"
#include "trainer/worker.h"

typedef struct {
    ggnn_node id;
    int64_t row;
} predict_place;

typedef struct { /* the nodes asked for */
    const ggnn_node* id;  /* (rows) row i is node id[i]'s: in any order, some more than once */
    ggnn_node* own;       /* `id` until it is the task's, for ever where ids do not rise */
    int64_t rows;
    predict_place* place; /* (rows) by id, then by row; NULL: ids rise, and are the task's */
} predict_nodes;

/* The data, for the network of checkpoint `from`, and the nodes asked for. An error: --data is not as wide, or has more classes; ids
   that are no nodes. The two are closed after a failure, too: nodes, then task_close. */
bool predict_open(task* t, predict_nodes* asked, const config* c, ggnn_file* from, error* why);
void predict_close(predict_nodes* asked);

typedef struct { /* one rank's; all zeros: nothing */
    const config* config;
    const task* task;
    const predict_nodes* asked;
    comm* comm;
    worker worker;
    train_state at;   /* of the checkpoint */
    int32_t width;    /* numbers of a row of the output */
    /* rank 0's: */
    bool opened;      /* `out` is not finished */
    output out;
    int rows;         /* the file that rows are put into; -1: none */
    int64_t head;     /* bytes before the first */
    int64_t next;     /* in asked->place */
    progress bar;
} prediction;

/* d becomes the prediction's. All ranks call it. On failure false; prediction_close is due all the same. */
bool prediction_open(prediction* p, const config* c, const task* t, const predict_nodes* asked, device* d, comm* with, ggnn_file* from,
                     error* why);
void prediction_close(prediction* p);

/* Writes it all; rank 0 says what. False on an error, and with none set when it was stopped: then what was there stays. */
bool prediction_run(prediction* p, error* why);
#endif
