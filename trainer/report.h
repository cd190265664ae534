/* report.h - what ggnn-train says: a progress bar on a terminal, a line an epoch elsewhere, the result, the profile,
   and the log of --log.

   THE LOG has one JSON object a line, written as soon as it is known and at once, so that a killed run's log is good to
   its last line or ends in a part of one. A resumed run goes on at the end of the file: such a part of a record is cut
   off first, another last line without its end is ended. Where a run was killed after its last checkpoint, the resumed
   one writes the epochs after "resumed_epoch" again; the later ones count. Two runs of the same options and data write the same log but for "seconds",
   "peak_memory_bytes", "run", "slices" and the "samplers" that times choose; on another backend also but for "device_memory_bytes" and rounding. A number that is
   not defined (no validation nodes, no second class) is null.

     {"event":"start", "version":"0.3.0",
      "options":{...},            every option that has a part in the result, by its name
      "data":{"file", "nodes", "edges", "features", "classes", "outputs", "train", "val", "test", "graph_crc"},
      "parameters":N,             weights to be trained
      "batches":N,                mini-batches an epoch
      "run":{"devices", "threads", "backend", "device", "precision", "gemm", "compiler", "unique", "openmp", "blas", "node_bits", "resumed_epoch", "resumed_step"}}
                                  unique: {"direct":N, "hash":N}: bytes that the ids of mini-batches take of rank 0's device (--unique)
     {"event":"partition", "parts":P, "hops":L, "closure_limit":N, "closures_cut":N, "trained":[..], "held":[..],
      "balance":X, "replication":X, "crc":N}
                                  with --partition pagraph, an element a rank: its training nodes, and all nodes within L
                                  hops of them; closures_cut: training nodes whose own were cut at closure_limit, in the
                                  choice of their rank; balance: most training nodes over the mean; replication: at how
                                  many ranks a node is held on average, of those held anywhere
     {"event":"owners", "parts":P, "method":"mincut", "most":N, "nodes":[..], "crc":N}
                                  with --parallel split: how many nodes each rank owns; most: of the largest
     {"event":"epoch", "epoch":1.., "step":N, "learning_rate":X, "loss":X, "val_loss":X, "val_accuracy":X,
      "val_macro_f1":X, "val_roc_auc":X, "best":true, "seconds":X}
                                  step: mini-batches so far; learning_rate: of the last; loss: mean over the epoch's
                                  seeds, dropout included; val_...: null in epochs without evaluation; real targets have
                                  val_agreement for val_accuracy: the share of nodes whose prediction and target lie on one
                                  side of 1/2, of which macro_f1 and roc_auc are, too; best: the
                                  least val_loss so far; seconds: of this epoch, evaluation included
     {"event":"trace", "step":N, "name":"h0", ...}
                                  with --trace-step, a record an array of that step, in the order of computation. L layers:
                                  "hop0" ..           "layer", "targets", "sources", "edges", "id":[..] (sources, the targets
                                                      first), "indptr":[..], "indices":[..], importance: "weight":[..] (visits)
                                  "h0" .. "hL"        h0: features; h1: output of layer 0, input of layer 1; hL: logits
                                  "z0" .., "a0" ..    sources as a layer transforms them; rows that it gathers for its targets
                                  "el0", "er0", ..    GAT's scores of sources and of targets, a column a head
                                  "alpha0" ..         GAT: "rows", "heads", "values":[[[..]..]..], by target, head and entry: the
                                                      target itself, then its list; after attention dropout
                                  "loss"              "epoch", "batch", "loss", "known", "seeds":[[node,label,loss],..]
                                  "dhL" .. "dh1"      gradients of the loss by these rows, dropout and activation included
                                  "del0", "der0",     GAT: the same by scores and by transformed sources, of each layer after
                                  "dz0", ..           the "dh" of its output
                                  "w0", "dw0", ..     each parameter before the update, and its gradient
                                  "change of w0", ..  what the update adds to it
                                  Matrices have "rows", "cols", "id":[..] (the rows' nodes, but of parameters), "values":[[..]..].
                                  Arrays end after 2,560 values, or 1,536 rows or ids
     {"event":"tiers", "notes":[..], "counted":"device", "rows":{"cache":[..],"own":[..],"peer":[..],"host":[..]}, "row_bytes":{...},
      "lists":{...}, "list_bytes":{...}, "edge_rows":{...}, "edge_row_bytes":{...}}
                                  where options of tiers are used, and of --pipeline factored over parts, before the first
                                  epoch: an element a rank. What lies where (tiers_count.placed in trainer/store/tiers.h);
                                  edge_...: rows of edges, where tiers or parts have some.
                                  counted: where rank 0 counted the reads of --cache presc, dual, optimal: "device", "host",
                                  or null. Where memory follows the role also "samplers":N, the last ranks; with
                                  --samplers 0 once more after the first epoch, with "seconds":X that it took.
                                  With --slopes measure also
                                  "slopes":{"lists":{"hits":[..],"ms":[..],"line":N,"error":X,"explained":X,"clear":true},
                                  "rows":{...}}: hit ratios and milliseconds an epoch, measured on device 0, and their
                                  line (slopes_fit in trainer/store/slopes.h)
     {"event":"ranks", "rows":{"cache":[..],"own":[..],"peer":[..],"host":[..]}, "bytes":{...}, "lists":{...},
      "list_bytes":{...}, "edge_rows":{...}, "edge_row_bytes":{...}, "evaluation_rows":{...}, "rows_from":[[..],..], "sent_bytes":[..],
      "slices":{"sampled":[..],"trained":[..],"marked":[..]},
      "split":{"targets":[..],"edges":[..],"loaded":[..],"own":[..],"peer":[..],"bytes":[..]},
      "seconds":{"training":[..],"sample":[..],"mark":[..],"copy":[..],"extract":[..],"train":[..],"batch":[..],"evaluation":[..],
                 "comm":[..],"waited":[..]}}
                                  before the next record: an element a rank, in this run. rows, bytes: of features that
                                  training read, by where they lay; lists: of neighbours, list_bytes: 16 each and an
                                  id an edge sampled, but for walks; evaluation_rows: the rest;
                                  rows_from: training's from parts, by the device that had them. All zeros where all is
                                  the device's own, and no option of tiers is used.
                                  sent_bytes: all that goes to other ranks by messages (gradients, losses, rows by
                                  exchange, with --parallel split ids and rows of layers). slices: with
                                  --pipeline factored alone, who made and who used them, which times decide; marked: rows
                                  read where their sampler's marks say, without a look-up. split: with
                                  --parallel split alone: targets of all layers computed, their edges, rows of features
                                  loaded; rows of layers (with GAT's scores) read from own and from other ranks, forward and
                                  backward, and bytes sent for them. training: of
                                  this run, of which evaluation. The stages of batches that were trained on: sample; mark: each
                                  row's place is looked up, by who samples for others as well, and counted, where
                                  tiers or parts are read; copy:
                                  into the queue and out of it; extract: rows, by exchange with the waiting for other
                                  ranks. Each by the clock of the device that did it, on a CPU added over its threads.
                                  train: forward, backward, update, from begin to end; over training without
                                  evaluation: a device's utilisation. batch: until a batch was there, all of its stages where
                                  nothing overlaps. comm: in calls of all ranks; waited: until all had come, and for the
                                  queue
     {"event":"explain", "lists":{"predicted":{"cache","own","peer","host","reads"}, "counted":{...}}, "rows":{...},
      "settings":{"--store parts":{"possible", "row_bytes", "list_bytes", "row_reads":{"own","peer","host"}, "list_reads":{...},
      "modelled_sample", "modelled_extract"}, ...},
      "choice":"--store parts", "seconds":{"sample", "mark", "copy", "extract", "train", "waiting"}}
                                  --explain: shares of device 0's reads, %, and how many an epoch has; of each setting bytes of a device, shares of
                                  all devices' reads, %, and seconds of an epoch, of dual also "slopes"; seconds: measured, of an epoch of device 0 (trainer/explain.h)
     {"event":"interrupted", "epoch":N, "step":N, "saved":"F" or null}
     {"event":"final", "epochs":N, "steps":N, "best_epoch":N, "val_loss":X, "test_loss":X, "test_accuracy":X,
      "test_macro_f1":X, "test_roc_auc":X, "seconds":X, "peak_memory_bytes":N, "device_memory_bytes":N}
                                  test_...: with the weights of best_epoch, test_agreement as val_agreement; seconds: since the start of this run;
                                  peak_memory_bytes: VmHWM, mapped file included; device_memory_bytes: most that
                                  data, batches and network took of a device at once, 0 on the CPU */
#ifndef TRAINER_REPORT_H
#define TRAINER_REPORT_H
#include <stdio.h>

#include "common/progress.h"
#include "trainer/checkpoint.h"
#include "trainer/log.h"
#include "trainer/worker.h"

typedef struct {
    log_file log;
    error failed;  /* of standard output */
    bool terminal; /* standard error is one: the bar is drawn */
    progress bar;
    double start, epoch_start;
    int64_t epochs, batches;
    double val_loss; /* the last one */
    bool real;       /* targets are, as of report_start */
    const device* device;
} report;

/* No log yet, but time runs. report_close is harmless from here on, and after itself. */
void report_begin(report* r, const config* c);

/* Opens the log: anew, or at its end with --resume. To be called when all that is read has been opened and checked, as
   it empties an old log. */
bool report_open(report* r, const config* c, error* why);

/* False where something of the log or of standard output could not be written. */
bool report_close(report* r, error* why);

/* with: the ranks; threads: of all of this process. */
void report_start(report* r, const config* c, const task* t, net* n, const comm* with, int threads, int64_t batches,
                  const train_state* at);
void report_make_room(const report* r); /* takes the bar away, before something else is printed */
void report_step(report* r, const train_state* at, double loss);
void report_epoch_begin(report* r);
void report_epoch(report* r, const train_state* at, float rate, const score* val, bool best); /* val NULL: none */
void report_interrupted(report* r, const config* c, const train_state* at);
void report_final(report* r, const task* t, const train_state* at, const score* test);        /* test NULL: none */

/* What this build can do, into an object of the caller's: "openmp", "blas", "node_bits". */
void report_put_build(json* j);

/* Of all ranks: to the log; as a table beside the profile. */
void report_tiers(report* r, const rank_cost* all, int32_t ranks, const tier_plan* plan, int32_t samplers, double seconds);
void report_ranks(report* r, const rank_cost* all, int32_t ranks);
void report_print_ranks(const report* r, const rank_cost* all, int32_t ranks);

/* How much of the time that it trains each device computes: of its seconds without evaluation, those in which a step ran forward,
   backward or updated. */
void report_print_busy(const report* r, const rank_cost* all, int32_t ranks);

/* Where the time went. */
void report_profile(const report* r, int64_t steps, const worker_costs* of);
#endif
