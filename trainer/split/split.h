/* split.h - one mini-batch over P parts, in which nothing is computed or loaded twice: Polisetty et al. 2023, GSplit.

   The room split/: a batch's parts, on lists alone (here) and on devices (split_loader.h). It knows no layer.

   Each node has one owner, a part. The whole mini-batch has the targets of hop 0, which are its seeds, those of hop 1,
   and so on; after the last hop come the nodes of the input layer. A part's list h is those of them that it owns: list
   0 its seeds, list num_hops its input rows. So every (hop, node) is in one list, and one part loads an input row.

   In hop h a part computes its list h. The sources that this needs have owners of their own. Owner q has them in its
   list h + 1: it computes them there, or loads them after the last hop. Then their rows go from q to the part p. With
   the split_hop h of p and of q:

       row q.send[q.to[p] + i] of q's list h + 1 becomes row p.receive[p.from[q] + i] of p's sources

   for each i below q.to[p + 1] - q.to[p], which is p.from[q + 1] - p.from[q]. The own rows go the same way, p = q.
   Backward is the adjoint: the owner adds up what comes back.

   Two forms give the same lists, and the same edges of each target in the same order, as a sample depends on (seed;
   step, hop, node, draw) alone. The order within a list may differ.
     single       one mini-batch is sampled, then split by owner of the target for all parts at once: split_single. Each part's
                  slice goes to it: split_slice_pack, split_slice_take
     cooperative  each part samples its own list, and tells the owners which sources it needs. They drop repeated ones:
                  split_begin, then for each hop split_sample, an all-to-all of ids, split_merge
   With P = 1 either is the mini-batch itself. */
#ifndef TRAINER_SPLIT_H
#define TRAINER_SPLIT_H
#include "common/error.h"
#include "ggnn_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { /* hop h of a part: what it needs from whom, and who needs what of it */
    const ggnn_block* block; /* targets: list h; sources: what they need, targets first. Its ids are global */
    int32_t* receive;        /* (num_src) the sources by owner, those of part q at [from[q], from[q + 1]) */
    int32_t* place;          /* (num_src) source i is entry place[i] of `receive` */
    int32_t* send;           /* rows of list h + 1, those that part p needs at [to[p], to[p + 1]) */
    int64_t from[GGNN_PARTS_MAX + 3], to[GGNN_PARTS_MAX + 1]; /* from has the bounds of ggnn_split */
} split_hop;

typedef struct { /* the share of a mini-batch that part `self` has. Each part has one, kept from batch to batch */
    int32_t self, num_hops;
    ggnn_layout at; /* who owns what: at.parts parts */
    int64_t count[GGNN_HOPS_MAX + 1];
    ggnn_node* list[GGNN_HOPS_MAX + 1]; /* (count[h]) global ids */
    split_hop hop[GGNN_HOPS_MAX];
    ggnn_node* ask; /* after split_sample: the sources' ids by owner, [from[q], from[q + 1]) for part q */
    /* the rest is split.c's own */
    int64_t most[GGNN_HOPS_MAX + 1]; /* room of each list */
    uint8_t* owner;                  /* split_single, of its first part, by place in the batch: who owns an id, */
    int32_t *row, *last, base;       /* its row in the owner's lists, and as take_edges says */
    const char* path;
    ggnn_batch sampled[GGNN_HOPS_MAX];
    ggnn_unique* seen;
    int32_t* order;
    void* memory[5 * GGNN_HOPS_MAX + 8];
    int32_t num_memory;
} split_part;

/* Takes memory for any batch of at most max_seeds seeds, as ggnn_batch_plan bounds it; most of it is never touched. at
   has all nodes in its parts, and no cache; what it points to must outlive s. An error: that is not so, there are more than
   GGNN_PARTS_MAX parts, the sampling makes no sense for g, its last hop keeps global ids, or there is no memory. path, the
   graph's file, begins the messages. split_part_close is harmless after a failure. */
bool split_part_open(split_part* s, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_layout* at, int32_t self,
                     int64_t max_seeds, const char* path, error* why);
void split_part_close(split_part* s);

/* List 0: of the distinct seeds those that the part owns, in order. All parts get all seeds. */
bool split_begin(split_part* s, const ggnn_node* seeds, int64_t num_seeds, error* why);

/* Hop h: samples list h. Afterwards block, receive, from and ask are set. Fails as ggnn_sample does. */
bool split_sample(split_part* s, int32_t h, const ggnn_graph* g, const ggnn_rng* rng, error* why);

/* The same where a device has sampled list h: what of its block the host needs. id (num_src): its sources, targets first. */
bool split_sampled(split_part* s, int32_t h, const ggnn_node* id, int64_t num_src, int64_t num_edges, error* why);

/* The other half of hop h: list h + 1 from what the parts ask of this one, and send, to. ids[p] (n[p]): what part p asks,
   its own included. The list has the own sources first, then those of the other parts in order of parts. */
bool split_merge(split_part* s, int32_t h, const ggnn_node* const* ids, const int64_t* n, error* why);

/* In place of all that: the lists and hops of all parts, part[p].self = p, of a batch that was sampled whole, by their sampling and
   within their max_seeds. Lists keep the batch's order. Each id's owner is looked up once. Serial. O(edges + parts) */
bool split_single(split_part* part, const ggnn_batch* whole, error* why);

/* A part of a batch in one piece of memory, aligned to 8 bytes, for another process's part of the same number, which was opened with
   the same arguments: its bytes; into the piece; out of it. An error: it is none. */
size_t split_slice_bytes(split_part* s);
void   split_slice_pack(void* memory, split_part* s);
bool   split_slice_take(split_part* s, void* memory, size_t bytes, error* why);

#ifdef __cplusplus
}
#endif
#endif
