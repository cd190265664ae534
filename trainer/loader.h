/* loader.h - mini-batches of a pass over nodes, several prepared at once. Which batches there are, and what is in them,
   does not depend on how many, nor on where.

   On the CPU: a batch, a ggnn_unique and a view of the graph a thread, with room for the worst case, which costs
   address space only. On a device: two batches, of which one is sampled while the other trains; the host waits for
   sampling alone, a step ahead, reads how large the batch became, and hands it out with bounds to match. There is
   room for what batches usually need (bucket.h); one that needs more is sampled again, the same, with more room. */
#ifndef TRAINER_LOADER_H
#define TRAINER_LOADER_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "ggnn.h"
#include "trainer/bucket.h"
#include "trainer/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loader loader;

/* The graph lies on the device, and so will the batches; NULL: the CPU. slots: batches prepared at once there. room: of
   batches on another device; NULL: not known. Allocates all there will be, but for what grows on a device. NULL on
   failure. */
loader* loader_create(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch, int32_t slots,
                      const batch_sizes* room, error* why);
void loader_free(loader* l); /* NULL is fine */

/* A batch as it is laid out now, for its bounds. */
const ggnn_batch* loader_shape(const loader* l);

typedef struct {
    const ggnn_node* ids; /* (num_ids) the host's; NULL: all nodes in order */
    int64_t num_ids;
    bool shuffled;  /* seed i of the pass is id ggnn_shuffle(rng.seed, epoch, i, num_ids) */
    uint32_t epoch;
    ggnn_rng rng;   /* of batch 0 */
    bool keyed;     /* batch i is sampled at rng.step + i; else all at rng.step, so that a node's sample depends on
                       nothing but the node */
} loader_pass;

int64_t loader_batches(const loader* l, const loader_pass* pass); /* the last one may be short */

/* Starts a pass at its batch number `first`. pass->ids must stay until it ends. */
void loader_begin(loader* l, const loader_pass* pass, int64_t first);

/* Seed i of a pass; ids: pass->ids, or a copy. */
GGNN_HD ggnn_node loader_seed(const loader_pass* pass, const ggnn_node* ids, int64_t i)
{
    int64_t at = pass->shuffled ? ggnn_shuffle(pass->rng.seed, pass->epoch, i, pass->num_ids) : i;
    return ids ? ids[at] : (ggnn_node)at;
}

/* On a device: samples the first batches of the pass, takes their sizes as the usual ones, and lays the batches out
   anew with some room above. On the CPU it does nothing. Not in the middle of a pass. False on failure. */
bool loader_measure(loader* l, const loader_pass* pass, error* why);

/* The next batch; it stays as it is until the next call of loader_begin or loader_next, which may also move the
   batches to where there is more room. NULL at the end of the pass, and on an error, which sets why and on the CPU
   names the node. */
const ggnn_batch* loader_next(loader* l, error* why);

typedef struct { /* since loader_create */
    double seconds;
    int64_t bytes; /* of ids, offsets and indices, each read and written once */
    int64_t edges;
    int64_t grown; /* how often batches were given more room */
} loader_cost;
loader_cost loader_cost_of(const loader* l);

#ifdef __cplusplus
}
#endif
#endif
