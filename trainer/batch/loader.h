/* loader.h - mini-batches of a pass over nodes, in a ring of slots. What the batches are depends on the pass alone:
   not on the ring, nor on where and when they are prepared.

       loader_begin(l, &pass, 0);
       while ((b = batch_take(l, why))) {   // the next one, prepared: it is the caller's
           net_compute(n, b, ...);
           batch_give(l, b);                // and now the ring's again
       }

   THE RING. A slot holds one batch: its blocks, their id lists and, where the plan says so, its extracted rows. It is
   free, ordered (being prepared, or ready), or taken. Whoever takes a batch owns its slot until it is given back, and
   may take others meanwhile; a queue may own them. Batches come out in the order of the pass.

   STAGES. A batch is sampled, then its rows are extracted where the plan says so: each row once, as a batch's ids are
   distinct. Where reads are counted (features.traffic), its rows are marked before: each one's place is looked up, and
   counted. All is over when batch_take returns it, which waits once. loader_cost_of has the time of each.

   WHEN batches are prepared is all that runs differ in: batch_take orders as many as there are free slots, once `group`
   of them are free or the next batch has not been ordered. (--pipeline)
       CPU, serial (usual)     T slots, T at a time: one a thread, all prepared while batch_take waits
       CPU, overlap            2 T slots, T at a time: one each of T threads of the ring's own, while the others train
       CUDA, overlap (usual)   2 slots, one at a time: on a stream of its own, while the other one trains
       where rows are extracted, but of --pipeline factored, 3: one is sampled, one extracted, and one trains
       CUDA, serial            1 slot: prepared when it is asked for
   Each slot has a buffer of rows of its own: the next batch's extraction is given to the device before the step that
   trains on this one. One thread at a time calls a loader.

   WHOSE BATCHES. Usually a loader makes its own slice of every batch. Where its pass has a source, that says which slice
   comes next: so several loaders share a pass, and one packs what another trains on (factored.h). A packed batch is in
   memory of the host's. It is unpacked into a slot, and its rows are extracted there, so that its taker sees no
   difference. Who packs a batch may mark its rows (ggnn_mark): then its taker looks none up.

   ROOM. On a CPU a slot has room for the worst case. On a device that is `tight` it has room for what batches usually
   need (bucket.h): a batch that needs more is sampled again, the same, with more room, and each is handed out with
   bounds to match. */
#ifndef TRAINER_LOADER_H
#define TRAINER_LOADER_H
#include "trainer/batch/batch.h"
#include "trainer/batch/bucket.h"
#include "trainer/ranks/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct loader loader;

typedef struct {
    ggnn_graph    graph;    /* these four lie on the loader's device and outlive the loader */
    ggnn_store    features; /* read where rows are extracted */
    int64_t*      edges_read; /* (graph.at.parts + 2) edges sampled are added up by the slot of their list, not those of
                                 walks; NULL: not */
    net_labels    labels;   /* of which the labelled seeds are counted; {NULL, NULL}: none */
    ggnn_sampling how;
    int64_t       batch;    /* seeds of a global batch */
    int32_t       rank, ranks; /* the loader makes slice `rank` of each batch cut into `ranks`; 0 of 0: the whole */
    int32_t       slices;   /* an order of a source names one of at least so many; 0: of `ranks` */
    bool          extract;  /* batches come with their rows; how.last_hop_global must be false */
    exchange*     exchange; /* brings rows: all ranks then take the same batches. NULL: `features` has them */
    ggnn_layout   marks;    /* of the rows as those who take packed batches have them: who packs marks them; no parts: not */
    bool          reads_marks; /* rows of a packed batch are read by its marks, else by id */
    bool          overlap;  /* prepares batches while others train; CUDA always does, a `serial` device never */
} loader_plan;

/* room: of batches on a tight device; NULL: not known. Allocates all there will be, but for what grows there. NULL on
   failure. */
loader* loader_create(device* d, const loader_plan* plan, const batch_sizes* room, error* why);
void loader_free(loader* l); /* all batches given back; NULL is fine */

/* A batch as it is laid out now, for its bounds. */
const ggnn_batch* loader_shape(const loader* l);

typedef struct { /* a slice, sampled and packed (ggnn_batch_pack) */
    void*       memory; /* of the host, by device_new_host */
    size_t      bytes;  /* of ggnn_batch_pack */
    int64_t*    marks;  /* (sources of the last hop) behind them; NULL: not marked */
    int64_t     known;  /* mini_batch.known */
    batch_sizes sizes;
} packed_batch;

typedef struct {
    int64_t batch;         /* of the pass */
    int32_t slice, slices; /* slice `slice` of the batch cut into `slices` */
    const packed_batch* packed; /* the slice, kept until the batch is given back; NULL: to be sampled */
    bool    bare;               /* to be sampled without its rows, as it will be packed */
} loader_order;

typedef struct { /* the next order of a loader; false: there is none now. Never waits */
    bool (*next)(void* context, loader_order* order);
    void* context;
} loader_source;

typedef struct { /* a source of whole batches of a pass: each `step` after the one before */
    int64_t next, step, batches;
    bool around; /* after the last one it begins again; else it ends */
} loader_turns;
bool loader_next_whole(void* turns, loader_order* order);

typedef struct {
    const ggnn_node* ids; /* (num_ids) distinct, the device's; NULL: all nodes in order */
    int64_t num_ids;
    int32_t parts;  /* ids of as many ranks, one after the other; larger parts first, sizes differ by one at most. Then
                       seeds are dealt to the ranks in turn: rank r has all whose number is r modulo parts, of its ids.
                       0: ids are anyone's */
    bool shuffled;  /* seed i of the pass is id ggnn_shuffle(rng.seed, epoch, i, num_ids); of parts within each */
    uint32_t epoch;
    ggnn_rng rng;   /* of batch 0 */
    bool keyed;     /* batch i is sampled at rng.step + i; else all at rng.step, so that a node's sample depends on
                       nothing but the node */
    const loader_source* source; /* of orders; NULL: every batch, the loader's own slice */
} loader_pass;

int64_t loader_batches(const loader* l, const loader_pass* pass); /* the last one may be short */
int64_t loader_batch(const loader* l);                            /* seeds of a global batch, at most */

/* Starts a pass at its batch number `first`: what was ordered of the pass before is dropped, and none is taken.
   pass->ids must stay until it ends. */
void loader_begin(loader* l, const loader_pass* pass, int64_t first);

/* Seed i of a pass. */
GGNN_HD ggnn_node loader_seed(const loader_pass* pass, int64_t i)
{
    int64_t before = 0, n = pass->num_ids;
    if (pass->parts > 1) {
        const int64_t part = i % pass->parts, least = n / pass->parts, larger = n % pass->parts;
        before = part * least + (part < larger ? part : larger);
        n = least + (part < larger);
        i /= pass->parts;
    }
    int64_t at = before + (pass->shuffled ? ggnn_shuffle(pass->rng.seed, pass->epoch, i, n) : i);
    return pass->ids ? pass->ids[at] : (ggnn_node)at;
}

typedef struct { /* `seeds` seeds of a pass, each `step` after the one before; [global_from, + global_seeds) are those of
                    the global batch */
    int64_t from, step, seeds, global_from, global_seeds;
    ggnn_rng rng;
} loader_slice;

/* Seed k of a slice. */
GGNN_HD ggnn_node loader_slice_seed(const loader_pass* pass, const loader_slice* s, int64_t k)
{
    return loader_seed(pass, s->from + k * s->step);
}

/* Slice `rank` of batch i of a pass, of batches of `batch` seeds cut into `ranks`. Slices are of one length but for the
   last ones, which may be empty; of a pass over parts, of which there are `ranks`, they differ by one seed at most. */
loader_slice loader_slice_of(const loader_pass* pass, int64_t batch, int64_t i, int32_t rank, int32_t ranks);

/* The same sample without a loader, for counts before a run: that slice of batch i, counted through all epochs from the
   pass's on, which is sampled at rng.step + i. On the host. seeds: workspace, a slice's. b->fault names the node of an error. */
ggnn_status loader_sample_slice(ggnn_batch* b, ggnn_node* seeds, const ggnn_graph* g, const loader_pass* pass, int64_t batch,
                                int64_t i, int32_t rank, int32_t ranks);

/* On a tight device: samples the first batches of the pass, takes their sizes as the usual ones, and lays the slots out
   anew with some room above. Elsewhere nothing. Not in the middle of a pass. False on failure. */
bool loader_measure(loader* l, const loader_pass* pass, error* why);

/* The next batch, which stays as it is until it is given back. Its rows come by an exchange only now. Where a batch
   outgrows its room, larger slots replace all there are; one that is taken keeps its memory until it is given back. NULL
   at the end of the pass, where a source has no order now, and on an error, which sets why and on a CPU names the node. */
const mini_batch* batch_take(loader* l, error* why);

/* What a batch was ordered as, until it is given back. */
loader_order batch_order(const mini_batch* b);

/* Adds what a batch that is taken reads to rows and lists (N each, memory of the device), as ggnn_count_batch does. Its last hop is
   not global. */
void batch_count(loader* l, const mini_batch* b, int64_t* rows, int64_t* lists);

/* Of one that was sampled here, and is taken: the bytes that it takes packed; packs it into so many at to->memory. */
size_t batch_packed_bytes(loader* l, const mini_batch* b);
void   batch_pack(loader* l, const mini_batch* b, packed_batch* to);

/* After all work that reads it has been given to the device. */
void batch_give(loader* l, const mini_batch* b);

typedef struct { /* since loader_create */
    double seconds; /* that batch_take took */
    int64_t marked;     /* rows read by marks */
    double sample, mark, copy, extract; /* that the stages of the batches taken took, each by the clock of the thread or of
                                           the device that did it: of T threads at once T times what passed. copy: packing,
                                           unpacking */
    int64_t bytes;  /* of ids, offsets and indices, each read and written once */
    int64_t edges;
    int64_t grown;  /* how often batches were given more room */
} loader_cost;
loader_cost loader_cost_of(const loader* l);

/* The bytes of a hop that is sampled: an edge's id is read and written, a target's offset read twice and written. */
GGNN_HD int64_t loader_hop_bytes(int64_t targets, int64_t edges)
{
    return edges * (int64_t)(2 * sizeof(ggnn_node)) + targets * (int64_t)(3 * sizeof(int64_t));
}

#ifdef __cplusplus
}
#endif
#endif
