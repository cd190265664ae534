/* factored.h - samplers and trainers on devices of their own, joined by a bounded queue: the factored design of GNNLab
   (Yang et al., EuroSys 2022), with synchronous updates. (--pipeline factored)

   A batch is cut into P slices, P = devices - 1. Slice p of batch i of a pass is number i P + p.
   - A SAMPLER claims the next number, samples it, packs it, and puts it into the queue (queue.h).
   - A TRAINER takes numbers in their order until all of its batch have been taken: it unpacks, extracts, computes, and
     leaves the gradient as piece p. When all trainers have come to the end of the batch, each adds up the pieces in the
     order of slices, and updates its own net. Where batches are prepared beside training, a trainer takes one number of
     the next batch ahead, once its own batch has all been taken.
   - A SWITCH: when all of a pass is claimed, a sampler has nothing left to sample. It gets parameters and moments from
     rank 0, which always trains, and trains along from the next batch on.
   So times decide who samples, and who computes what, but never what is computed: the bits are those of P devices that
   each compute a slice of every batch (--devices P), and with two devices those of one.

   HOW MANY SAMPLE: N t_s / (t_s + t_t) rounded up, of N devices, at least 1 and at most N - 1, where t_s is what it has
   taken to sample a slice and t_t to train on one; in the first pass half of them. Or --samplers. The last ones do.

   MEMORY FOLLOWS THE ROLE (space sharing): parts of lists lie with the samplers, parts of rows and caches of them with the
   trainers, who read no list in training. A sampler that trains along reads rows of other devices, and of the host.
   A sampler marks the rows to extract, as the trainers have them (ggnn_mark): a trainer looks none up.

   FAILURE. Who fails calls factored_fail, then comm_fail. The others stop waiting, and fail in their next call of comm.h.
   *comm->stop is looked at after each batch: all leave the pass after the same one. */
#ifndef TRAINER_FACTORED_H
#define TRAINER_FACTORED_H
#include "trainer/net/net.h"
#include "trainer/ranks/comm.h"
#include "trainer/batch/queue.h"

typedef struct factored factored;

/* For `ranks` >= 2 threads of this process. samplers: so many; 0: by times, until factored_fix. NULL on failure. */
factored* factored_create(int32_t ranks, int32_t samplers, error* why);
void      factored_free(factored* f); /* NULL is fine */

/* P, and how many of N devices sample, by the formula above. */
int32_t factored_slices(int32_t ranks);
int32_t factored_samplers(int32_t ranks, double sample_seconds, double train_seconds);

/* From now on so many sample as the times say so far: how many. Between two passes; all ranks call it. */
bool factored_fix(factored* f, comm* c, int32_t* samplers, error* why);

/* From now on no rank waits in a call below: each returns false. */
void factored_fail(factored* f);

queue_counts factored_counts(factored* f);

typedef struct { /* a rank's part in it; stays where it is */
    factored* of;
    comm*   comm;
    device* device;
    net*    net;
    loader* loader;
    loader_source source;
    bool    samples; /* now */
    bool    alone;   /* the only trainer of this batch, which is one slice: its gradient is the sum */
    int64_t batch;   /* the batch that it trains on */
    uint32_t step;
    int64_t next;    /* number of the slice to be ordered next; -1: none yet */
    int64_t ahead;   /* number of a slice of the next batch, ordered already; -1: none */
    int32_t ordered; /* slices that a sampler has ordered and not packed yet */
    void*   room;    /* pieces, on a device that does not read the host's */
    /* in this run: */
    int64_t sampled, trained; /* slices */
    double  waited;           /* seconds for slices, for room in the queue and for other trainers */
    /* in this pass: */
    int64_t made, used;       /* slices */
    double  making, taking;    /* seconds */
    double  train, extract;   /* the device's seconds of training, of extracting before the pass */
} factored_rank;

/* l has a plan of factored_slices. All ranks call it. On failure false; factored_close is due all the same: before the
   device is closed, when no thread uses the queue. */
bool factored_open(factored_rank* r, factored* f, comm* c, net* n, loader* l, error* why);
void factored_close(factored_rank* r); /* all zeros is fine */

/* A pass of `batches` begins, at its batch number `first`; ends. All ranks call them. */
bool factored_begin(factored_rank* r, const loader_pass* pass, int64_t first, int64_t batches, error* why);
void factored_end(factored_rank* r);

/* A sampler samples until all of the pass is, and has become a trainer: *batch is the first one that it trains on, or
   behind the last one where all stop. A trainer returns at once. */
bool factored_sample(factored_rank* r, int64_t* batch, error* why);

/* For trainers, a batch. Its slices that this one gets; the sum of the gradients; and after net_update. comm->stopped as
   after a call of comm.h. */
bool factored_compute(factored_rank* r, uint32_t step, error* why);
bool factored_reduce(factored_rank* r, error* why);
void factored_updated(factored_rank* r);
#endif
