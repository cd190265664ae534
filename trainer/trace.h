/* trace.h - ggnn-train --trace-step: one step of training as numbers, in the order in which they are computed. Standard output
   gets tables for a person; --log gets the same arrays in full precision (report.h has the schema).

   A trace reads the net's memory between its operations (net_watch in layers.h) and writes none, so a run with a trace has the
   bits of one without. The net is a CPU's and has whole batches, with local indices in all hops.
   Names: h0 are the features, h1 the output of layer 0 and the input of layer 1, and so on; a parameter ends in its layer's
   number; d before a name is the gradient of the loss. */
#ifndef TRAINER_TRACE_H
#define TRAINER_TRACE_H
#include "trainer/net/layers.h"
#include "trainer/report.h"

typedef struct {
    report* report;
    net* net;
    int64_t step;             /* from 1, as the log's "step" counts */
    int64_t epoch, batch, batches; /* of that step: from 1, and mini-batches of an epoch */
    float* row;               /* (features) one that lies in no matrix */
    float* before;            /* parameters before the update, then what it adds to them */
    net_watch watch;
} trace;

/* Of config's --trace-step; all zeros, and nothing is printed, where there is none. The net has `batches` an epoch. False where
   the training has no such step, or without memory. */
bool trace_open(trace* t, const config* c, report* r, net* n, int64_t batches, error* why);
void trace_close(trace* t); /* all zeros is fine */

/* Around a step: before anything of it; between gradients and update; after the update. Each looks whether it is that step. */
void trace_begin(trace* t, const train_state* at);
void trace_gradients(trace* t);
void trace_end(trace* t, float rate);
#endif
