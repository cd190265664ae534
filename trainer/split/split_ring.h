/* split_ring.h - the mini-batches of --parallel split in a ring, as loader.h has those of other devices: made by who asks for
   them or, with --pipeline overlap, ahead, beside training.

   AHEAD. A thread of the rank's own makes batch k + 1, all of split_loader.h: it samples, splits, meets the other ranks' threads
   and loads rows, while the rank trains on batch k. There are two slots, so that it is one batch ahead and no more. It has a
   line of its own to the other ranks (comm_branch) and a device of its own, which on a GPU is the same one with streams of its
   own. What is made does not depend on when: the bits are those of --pipeline serial.

   FAILURE. A thread that fails tells the others' threads. Its rank's split_ring_take returns its error; the others' hear it from
   that rank, as they hear of any failure. A rank that fails otherwise calls split_ring_fail: then its thread fails too, so that
   no other rank's thread waits for it. */
#ifndef TRAINER_SPLIT_RING_H
#define TRAINER_SPLIT_RING_H
#include "trainer/split/split_loader.h"

typedef struct split_ring split_ring;

/* ahead: all ranks alike, without an exchange. plan->whole is then one for other uses, of whole_plan another one is made; plan->line
   is set here. All ranks call it. On failure false; split_ring_rest and split_ring_free are due all the same. */
bool split_ring_open(split_ring** r, device* d, const split_plan* plan, const loader_plan* whole_plan, bool ahead, error* why);
void split_ring_free(split_ring* r); /* NULL is fine */

/* Bounds of all batches so far (split_loader_shape). */
const ggnn_batch* split_ring_shape(const split_ring* r);

/* A pass, from its batch number `first` on, as split_loader_begin takes it. All ranks call it. */
bool split_ring_begin(split_ring* r, const loader_pass* pass, const ggnn_node* device_ids, int64_t first, error* why);

/* All ranks. The next batch, which stays as it is until the next call. NULL on an error; why is empty before. */
const mini_batch* split_ring_take(split_ring* r, error* why);

/* No batch of this pass is asked for any more: waits until none is being made. All ranks call it, behind the same batch. */
void split_ring_end(split_ring* r);

/* This rank has failed, and says so to plan->over. NULL is fine. */
void split_ring_fail(split_ring* r);

/* Nothing of it works any more. All ranks, each in a thread of its own, once either all have come to the end or plan->over has
   failed. NULL is fine. */
void split_ring_rest(split_ring* r);

/* Since split_ring_open. Seconds of stages are those of the thread that makes batches, `seconds` those that take took. */
split_cost split_ring_cost(const split_ring* r);
int64_t    split_ring_sent(const split_ring* r);  /* bytes, by the line of its own */
int64_t    split_ring_bytes(const split_ring* r); /* of the device, taken at most beside those that `d` counts */
#endif
