/* shuffle.h - rows from the ranks that have them to the ranks that read them, in --parallel split (split.h).

   In hop h of a batch every rank has the rows of some nodes, its list h + 1, and reads those of its block's sources, which
   lie in all ranks' lists. Forward they are pulled. Peers, whose devices read each other's memory, gather the rows from
   where they lie. Else each rank packs what the others want of its list, one message goes from rank to rank, and the
   receiver puts the rows where its block has them. Backward their gradients are pushed, the other way, always packed; the
   rank that has a row adds up what comes back for it, rank 0's first, so that two runs give the same bits. */
#ifndef TRAINER_SHUFFLE_H
#define TRAINER_SHUFFLE_H
#include "trainer/device/mat.h"
#include "trainer/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { /* --split-partial, of one hop (partial.h). All but the pieces and bounds is memory of the device */
    ggnn_block     block;  /* (owned) targets of other ranks and this one, over this rank's rows. indptr NULL: no such sums */
    const float*   inv;    /* (owned) 1 / the targets' degrees */
    const int32_t* target; /* the targets that rank q sends sums for: its piece from[q] */
    comm_piece *to, *from; /* (ranks) */
    int64_t*       bound;  /* (ranks + 1) of `from` */
    int64_t        targets; /* of this rank's block */
} shuffle_sums;

typedef struct { /* of one hop. send, receive, place and id are memory of the device */
    int64_t rows;            /* of this rank's list h + 1 */
    const ggnn_node* id;     /* (rows) the nodes of this rank's rows */
    const int32_t* send;     /* the rows that rank p wants: its piece to[p] */
    const int32_t* receive;  /* the sources that rank q has: its piece from[q] */
    const int32_t* place;    /* (sources) where each source is in `receive` */
    comm_piece *to, *from;   /* (ranks) */
    int64_t* bound;          /* (ranks + 1) of `to` */
    /* of peers, memory of the device. Rows of all ranks have numbers, those of rank q are [first[q], first[q + 1]): */
    const int64_t* first;    /* (ranks + 1) */
    const ggnn_node* row;    /* (sources) the number of each source's row */
    int64_t all;             /* rows of all ranks */
    shuffle_sums sums;
} shuffle_hop;

typedef struct { /* of this rank, since shuffle_open. Rows of layers; those of GAT's scores too */
    int64_t own, peer;       /* rows that it read, by who has them; in backward rows that came back */
    int64_t bytes;           /* of rows that other ranks read of it, or were sent */
} shuffle_cost;

typedef struct { /* what ranks tell each other */
    const void* rows;
    bool reaches; /* all others' memory */
} shuffle_seat;

typedef struct shuffle {
    device* device;
    comm*   comm;
    bool    peers;
    shuffle_seat* seat;      /* (ranks) of peers: where their rows are */
    void*   base;            /* (ranks + 2) of peers: `rows` of their seats, in memory of the device */
    shuffle_hop hop[GGNN_HOPS_MAX];
    shuffle_cost cost;
    error   failed;          /* the calls below return nothing: the first thing that went wrong; then they do nothing */
    device_growing packed, got;
} shuffle;

/* All ranks, before the first row is moved. They are peers if `pointers` is true, which is the same on all ranks, all are
   threads of one process, every device reads the memory of the others, and NCCL carries nothing. shuffle_close is due all
   the same. */
bool shuffle_open(shuffle* s, device* d, comm* over, bool pointers, error* why);
void shuffle_close(shuffle* s); /* all zeros is fine */

/* All ranks. out (sources of hop h, cols) = the rows of the sources; rows (hop[h].rows, cols): those that this rank has. Both ld
   are the same on all ranks. Padding of out may become 0. */
void shuffle_pull(shuffle* s, int32_t h, mat out, mat rows);

/* All ranks. sum (hop[h].rows, cols) = for each row that this rank has, the sum over all ranks of theirs of d (sources of
   hop h, cols). */
void shuffle_push(shuffle* s, int32_t h, mat sum, mat d);

/* All ranks. out (targets of hop h, cols) = the sum of what all ranks have for each target; part (owned, cols, without
   padding): this rank's. */
void shuffle_add(shuffle* s, int32_t h, mat out, mat part);

/* All ranks, the other way: for each of `owned` the row of d (targets of hop h, cols), in memory that the next call uses. */
mat shuffle_spread(shuffle* s, int32_t h, mat d);

#ifdef __cplusplus
}
#endif
#endif
