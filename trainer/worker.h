/* worker.h - one logical device at work: its view of the data (tiers), its batches (loader), its network (net), and its
   evaluation. ggnn-train, ggnn-bench and the tests hold P of them. On a CPU a worker is a thread, whose device has its
   share of the cores (device_open_cpu). The thread that opens a worker is the one that runs it.

       worker_open(&w, &config, &task, device, comm, why);
       int64_t first = 0;
       worker_begin(&w, epoch, &first, why);
       for (int64_t i = first; i < worker_batches(&w); i++) {
           worker_compute(&w, step, why);   // a batch from the ring: its slice of it forward, loss, backward
           worker_reduce(&w, why);          // gradients and loss of all workers are added in rank order
           worker_update(&w, rate);         // the optimiser
       }
       worker_end(&w);

   With --pipeline factored (worker_share) a worker may sample for others first; worker_compute then takes all slices of a
   batch that this worker gets. With --parallel split it takes this worker's part of the batch. Neither is seen from outside.

   The way of a batch: loader.h (the ring: seeds, sample, rows) -> net.h (forward, loss, backward). */
#ifndef TRAINER_WORKER_H
#define TRAINER_WORKER_H
#include "trainer/evaluate.h"
#include "trainer/factored/factored.h"
#include "trainer/net/net.h"
#include "trainer/split/split_ring.h"
#include "trainer/store/links.h"
#include "trainer/store/slopes.h"
#include "trainer/store/tier_plan.h"
#include "trainer/store/tiers.h"

typedef struct { /* a share of what the stages count */
    double seconds;                      /* sampling included */
    tiers_reads rows, lists, list_bytes, edge_rows; /* read */
    int64_t from[GGNN_DEVICES_MAX];      /* rows of parts read, by device */
    net_profile net;                     /* of the net's forward profile */
    loader_cost loader;                  /* of the training loader's cost */
} counted_cost;

typedef struct { /* of --parallel split: what this rank computed and loaded, and rows of layers that it read */
    int64_t targets, edges, loaded, own, peer, bytes; /* own, peer: by who has them; bytes: sent for them */
} rank_parts;

typedef struct { /* what a rank did, in this run */
    tiers_count rows, lists, edge_rows; /* read by training */
    tiers_reads evaluated;   /* rows that evaluation read */
    int64_t from[GGNN_DEVICES_MAX]; /* rows of parts, by device */
    int64_t sent;             /* bytes, to other ranks */
    int64_t sampled, trained; /* slices, with --pipeline factored */
    int64_t marked;           /* rows that it read where a sampler's mark says */
    bool split;               /* --parallel split; false: `parts` is zeros */
    rank_parts parts;
    double seconds, sample, mark, copy, extract, train, batch, evaluation, comm, waited;
} rank_cost;

typedef struct {
    rank_cost   rank;
    loader_cost batches; /* of training, without those of evaluation */
    const counted_cost* evaluation;
    const net_profile*     net; /* of training and evaluation */
} worker_costs;

typedef struct {
    device*     device;
    comm*       comm;
    tier_plan   planned; /* what lies in which tier */
    links_found links;   /* of devices whose parts no --topology places */
    tiers*      tiers;
    loader*     loader;     /* NULL in full batch. In --parallel split it samples whole batches, and for evaluation */
    split_ring* split;      /* NULL: --parallel data */
    net*        net;
    evaluation* evaluation; /* NULL: --eval-every 0 */
    loader_pass pass;       /* over the training nodes */
    const ggnn_node* host_ids; /* the training nodes as the host has them */
    int64_t     batches;    /* of a pass */
    factored_rank role;     /* in --pipeline factored; all zeros: another */
    int32_t     samplers;   /* there, by whose memory is laid out; 0: each device does both, until worker_take_roles */
    bool        fixed;      /* worker_take_roles has decided */
    void*       scratch;    /* of the reduction */
    counted_cost apart;  /* costs of evaluations, apart from training's */
    counted_cost past;   /* rows, lists and loader's cost of the stages before worker_take_roles opened others */
    int64_t     peak;       /* bytes of the device that a batch takes beside the tiers, where the plan asks for it */
    double      start;      /* when the counting of costs began */
    comm_cost   before;     /* costs of `comm` before the counting began */
} worker;

/* d becomes the worker's, and is closed with it. Every --batch is cut into slices, of which this worker computes that of
   its rank in `with`. All ranks call this. On failure false; worker_close is due all the same. */
bool worker_open(worker* w, const config* c, const task* t, device* d, comm* with, error* why);
void worker_settle(worker* w); /* until its device is at rest: others may then close what it reads */
void worker_close(worker* w);  /* all zeros is fine, for both */

/* What --slopes measure measures on w's device: slices of training's own batches, beside what training takes of it at most. */
slopes_plan worker_slopes_plan(const worker* w, const config* c, const task* t, const tiers_source* from, int64_t peak);

/* Before the first epoch: from now on it samples or trains as f says. f is that of all workers, which stay where they are,
   and were opened with --pipeline factored. All ranks call it. */
bool worker_share(worker* w, factored* f, error* why);

/* Of --samplers 0, between two epochs, once: the samplers of all later ones, by the times so far. Where parts or caches are on
   devices, *laid_out: these are laid out once more, by role; net and costs stay. All ranks call it. */
bool worker_take_roles(worker* w, const config* c, const task* t, bool* laid_out, error* why);
int32_t worker_samplers(const worker* w); /* by whose number memory is laid out; 0: not by role */
bool worker_places(const worker* w, const config* c, const task* t); /* is there something to say of what lies where? */

/* The pass of an epoch (from 0) begins, at its batch number *first. Its batch i is step epoch * batches + i. A worker that
   samples for others is back when it trains: *first becomes the batch that it trains on, or the one behind the last. */
bool worker_begin(worker* w, int64_t epoch, int64_t* first, error* why);
void worker_end(worker* w); /* all losses of the epoch have been read */
int64_t worker_batches(const worker* w); /* of a pass */

/* Does every worker take part in every step? No one may then be waited for between two steps. */
bool worker_steps_with_all(const worker* w);

/* No step comes any more, though others may wait for one: they return false. */
void worker_fail(worker* w);

/* Gradients of this worker's slice of the next batch, for the given step. False on an error. */
bool worker_compute(worker* w, int64_t step, error* why);

/* The gradients and the losses of all workers' slices become their sums. False once a worker has failed. Says by
   comm->stopped whether all are to stop. */
bool worker_reduce(worker* w, error* why);

/* One step of the optimiser. */
void worker_update(worker* w, float rate);

/* The score of SPLIT_VAL or SPLIT_TEST (evaluation_run), whose costs are counted apart. Not with --eval-every 0. */
bool worker_evaluates(const worker* w);
bool worker_evaluate(worker* w, int part, score* result, error* why);

/* Of a prediction: evaluation_write. */
bool worker_write(worker* w, const evaluation_sink* to, error* why);

net* worker_net(const worker* w);

/* The plan of what lies where (report_tiers), and the tiers that it says. */
const tier_plan* worker_plan(const worker* w);
const tiers* worker_tiers(const worker* w);

/* What it did since worker_start_costs, which all ranks call before the first epoch. */
void worker_start_costs(worker* w);
worker_costs worker_costs_of(const worker* w);

/* The losses so far (net_losses_of). False where something failed on the device. */
bool worker_losses(worker* w, bool wait, net_losses* losses, error* why);
#endif
