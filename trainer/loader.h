/* loader.h - mini-batches of a pass over nodes, several prepared at once: a batch, a ggnn_unique and a view of the
   graph a thread. Which batches there are, and what is in them, does not depend on how many are prepared at once. */
#ifndef TRAINER_LOADER_H
#define TRAINER_LOADER_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "ggnn.h"
#include "trainer/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loader loader;

/* The graph lies on the device, and so will the batches; NULL: the CPU. slots: batches prepared at once there;
   elsewhere it is one at a time. Allocates all there will be. NULL on failure. */
loader* loader_create(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch, int32_t slots, error* why);
void loader_free(loader* l); /* NULL is fine */

/* A batch as it was laid out, for its bounds. */
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

/* The next batch; it stays as it is until the next call of loader_begin or loader_next. NULL at the end of the
   pass, and on an error, which sets why and names the node. Elsewhere than on the CPU errors show at the end of the
   pass alone, and without the node: what cannot be followed was left out until then. */
const ggnn_batch* loader_next(loader* l, error* why);

typedef struct { /* since loader_create */
    double seconds;
    int64_t bytes; /* of ids, offsets and indices, each read and written once */
    int64_t edges;
} loader_cost;
loader_cost loader_cost_of(const loader* l);

#ifdef __cplusplus
}
#endif
#endif
