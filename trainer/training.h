/* training.h - one rank's training: epochs, evaluations, best weights, checkpoints.

   All ranks run the same code and decide alike, as losses, scores and weights are the same bits on all. What may differ
   from rank to rank, *comm->stop and errors, is agreed on at each of the calls that all make (comm.h). Rank 0 alone
   reports and saves. */
#ifndef TRAINER_TRAINING_H
#define TRAINER_TRAINING_H
#include "trainer/checkpoint.h"
#include "trainer/report.h"
#include "trainer/trace.h"
#include "trainer/worker.h"

typedef struct {
    const config* config;
    const task* task;
    comm* comm;
    report* report; /* NULL but on rank 0 */
    worker worker;
    trace trace;    /* --trace-step */
    float* best;    /* weights of the least validation loss */
    train_state at;
    int64_t steps;  /* of this run */
    rank_cost* all; /* what each rank did, in the end */
} training;

/* d becomes the training's. f: of --pipeline factored, else NULL. resumed: the checkpoint to go on from, NULL: none. r: rank
   0's. All ranks call it. On failure false; training_close is due all the same. */
bool training_open(training* t, const config* c, const task* data, device* d, comm* with, factored* f, ggnn_file* resumed,
                   report* r, error* why);
void training_close(training* t); /* all zeros is fine */

/* Trains to the end, and scores the test nodes. False on an error, and with none set when it was stopped: then, and in
   the end, it is saved. */
bool training_run(training* t, error* why);
#endif
