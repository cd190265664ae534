/* partial.h - --split-partial: a mean over neighbours that several ranks own, from what each adds up of its own rows.

   In hop h a reader p has targets whose edges lead to nodes of owner q. For each such pair (target, q) q adds up its rows
   of these edges, divided by the target's degree, and sends one row; p adds the rows of all owners, rank 0's first. So a
   target costs a row an owner, however many of its neighbours that has; to pull costs a row a neighbour. The sums are
   added in another order, so that means differ by rounding. In backward the target's gradient goes to each of its owners. */
#ifndef TRAINER_PARTIAL_H
#define TRAINER_PARTIAL_H
#include "trainer/ranks/comm.h"
#include "trainer/split/split.h"

typedef struct { /* of one hop, memory of the host */
    int64_t read;           /* pairs of this rank's targets */
    int64_t owned;          /* pairs of all ranks' targets that this rank sums for */
    int32_t* target;        /* (read) by owner, ascending within one; those of q are its piece from[q] */
    int64_t* indptr;        /* (owned + 1) by reader; those of p are its piece to[p] */
    int32_t* row;           /* (indptr[owned]) rows of this rank's list h + 1 */
    float*   inv;           /* (owned) 1 / the target's degree */
    comm_piece *to, *from;  /* (ranks) */
    int64_t* bound;         /* (ranks + 1) of `from` */
    device_growing room[8]; /* partial.c's own */
} partial_hop;

/* All ranks. After split_merge of hop h. O(edges) */
bool partial_make(partial_hop* to, const split_part* part, int32_t h, comm* c, error* why);
void partial_close(partial_hop* p); /* all zeros is fine */
#endif
