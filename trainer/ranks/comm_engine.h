/* comm_engine.h - what comm.c wants of an engine: it brings the words of all ranks together, and moves pieces. All else
   is made of these two. And what it wants of NCCL: to move pieces from device to device. */
#ifndef TRAINER_COMM_ENGINE_H
#define TRAINER_COMM_ENGINE_H
#include "trainer/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { COMM_FINE, COMM_STOPPED, COMM_FAILED } comm_state;

typedef struct { /* a rank says it at each call */
    int32_t state;
    int32_t moves; /* does this call move pieces? Then it does on all ranks */
    double  value; /* of comm_reduce */
} comm_word;

typedef struct { /* an exchange */
    device* device; /* NULL: memory of the host */
    char* to;
    const char* from;
    const comm_piece *to_piece, *from_piece;
    size_t unit;
    bool gathers; /* each rank has one piece for all, the same bytes on all ranks, in place and in their order */
} comm_transfer;

typedef struct comm_engine {
    bool through_host; /* rows of devices pass through memory of the host */

    /* Returns the words of all ranks (ranks), to be read until the next call; NULL: it could not. t: what this rank will
       move in this call, all there; NULL: nothing. failed: why this rank has failed, NULL: it has not. */
    const comm_word* (*meet)(comm* c, const comm_word* mine, const comm_transfer* t, const error* failed, error* why);

    /* Why that rank failed, as its word of this call said. All ranks call it. */
    void (*reason)(comm* c, int32_t rank, error* failed);

    /* The pieces of the other ranks arrive; returns when `from` may change. */
    bool (*move)(comm* c, const comm_transfer* t, error* why);

    /* comm_share and comm_unshare, of s with room for all parts: s->bytes[local] is set. */
    bool (*share)(comm* c, comm_shared* s, const char* what, error* why);
    void (*give_back)(comm* c, comm_shared* s);

    /* comm_branch, of `to`, all zeros, and comm_close_branch. */
    bool (*branch)(comm* to, comm* c, error* why);
    void (*close_branch)(comm* branch);

    /* Where NCCL moves pieces, a rank that fails says no word to those that wait for its rows. It raises the alarm, and its
       comm_fail follows; the others ask whether any rank has, and meet once to hear its reason. */
    void (*raise_alarm)(comm* c);
    bool (*alarmed)(comm* c);
} comm_engine;

enum { COMM_NCCL_ID = 128 };
typedef struct { /* of a rank, before all join */
    int32_t version;       /* of NCCL; 0: none here */
    int32_t machine;
    char device[32];       /* which of its machine, by the bus; empty: no CUDA device */
    char id[COMM_NCCL_ID]; /* rank 0's: what all join */
} comm_nccl_member;

/* NCCL's own calls (trainer/cuda/comm_nccl.cu). None waits for another rank without asking for an alarm: then it returns
   false with an empty `why`. */
typedef struct comm_nccl {
    int32_t (*version)(void);
    const char* (*name)(void);
    bool (*describe)(const comm* c, const device* d, comm_nccl_member* m, error* why); /* fills device, on rank 0 id */
    bool (*join)(comm* c, const char id[COMM_NCCL_ID], error* why);                     /* sets c->nccl */
    bool (*move)(comm* c, const comm_transfer* t, error* why);
    void (*leave)(comm* c); /* in good order unless c->failed says why not */
} comm_nccl;
extern const comm_nccl* const comm_nccl_here; /* NULL: this program has none */

/* What moved otherwise than by words came to nothing. `mine`: why, here; empty: another rank raised the alarm. False, with
   the reason. */
bool comm_broken(comm* c, const error* mine, error* why);

/* Where piece p of an array begins, and its bytes. */
static inline size_t comm_offset(const comm_transfer* t, comm_piece p) { return (size_t)p.first * t->unit; }
static inline size_t comm_bytes(const comm_transfer* t, comm_piece p) { return (size_t)p.count * t->unit; }

#ifdef __cplusplus
}
#endif
#endif
