/* worker.h - one logical device at work: its view of the data (tiers), its batches (loader), its network (net), and its
   evaluation. ggnn-train, ggnn-bench and the tests hold P of them. On a CPU a worker is a thread, whose device has its
   share of the cores (device_open_cpu). The thread that opens a worker is the one that runs it.

       worker_open(&w, &config, &task, device, comm, why);
       worker_begin(&w, epoch, 0);
       for (int64_t i = 0; i < w.batches; i++) {
           worker_compute(&w, step, why);   // a batch from the ring: its slice of it forward, loss, backward
           worker_reduce(&w, why);          // gradients and loss of all workers are added in rank order
           worker_update(&w, rate);         // the optimiser
       }

   With --pipeline factored (worker_share) some workers sample for a while. factored.h has the two calls that their
   epochs begin with; worker_compute takes all slices of a batch that this worker gets.

   The way of a batch: loader.h (the ring: seeds, sample, rows) -> net.h (forward, loss, backward). */
#ifndef TRAINER_WORKER_H
#define TRAINER_WORKER_H
#include "trainer/evaluate.h"
#include "trainer/factored/factored.h"
#include "trainer/net/net.h"
#include "trainer/split/split_loader.h"
#include "trainer/store/slopes.h"
#include "trainer/store/tier_plan.h"
#include "trainer/store/tiers.h"

typedef struct {
    device*     device;
    comm*       comm;
    tier_plan   planned; /* what lies in which of the */
    tiers       tiers;
    loader*     loader;     /* NULL in full batch. In --parallel split it samples whole batches, and for evaluation */
    split_loader* split;    /* NULL: --parallel data */
    net*        net;
    evaluation* evaluation; /* NULL: --eval-every 0 */
    loader_pass pass;       /* over the training nodes; */
    const ggnn_node* host_ids; /* as the host has them */
    int64_t     batches;    /* of a pass */
    factored_rank part;     /* in --pipeline factored; all zeros: another */
    void*       room;       /* for the reduction */
} worker;

/* d becomes the worker's, and is closed with it. Every --batch is cut into slices, of which this worker computes that of
   its rank in `with`. All ranks call this. On failure false; worker_close is due all the same. */
bool worker_open(worker* w, const config* c, const task* t, device* d, comm* with, error* why);
void worker_close(worker* w); /* all zeros is fine */

/* What --slopes measure measures on w's device: slices of training's own batches, beside what training takes of it at most. */
slopes_plan worker_slopes_plan(const worker* w, const config* c, const task* t, const tiers_source* from, int64_t peak);

/* Before the first epoch: from now on it samples or trains as f says. f is that of all workers, which stay where they are,
   and were opened with --pipeline factored. All ranks call it. */
bool worker_share(worker* w, factored* f, error* why);

/* The pass of an epoch (from 0) begins, at its batch number `first`. Its batch i is step epoch * batches + i. */
void worker_begin(worker* w, int64_t epoch, int64_t first);

/* Gradients of this worker's slice of the next batch, for the given step. False on an error. */
bool worker_compute(worker* w, int64_t step, error* why);

/* The gradients and the losses of all workers' slices become their sums. False once a worker has failed. Says by
   comm->stopped whether all are to stop. */
bool worker_reduce(worker* w, error* why);

/* One step of the optimiser. */
void worker_update(worker* w, float rate);

/* The losses so far (net_losses_of). False where something failed on the device. */
bool worker_losses(worker* w, bool wait, net_losses* losses, error* why);
#endif
