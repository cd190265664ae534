/* comm_engine.h - what comm.c wants of an engine: it brings the words of all ranks together, and moves pieces. All else
   is made of these two. */
#ifndef TRAINER_COMM_ENGINE_H
#define TRAINER_COMM_ENGINE_H
#include "trainer/comm.h"

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
} comm_transfer;

typedef struct comm_engine {
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
} comm_engine;

/* Where piece p of an array begins, and its bytes. */
static inline size_t comm_offset(const comm_transfer* t, comm_piece p) { return (size_t)p.first * t->unit; }
static inline size_t comm_bytes(const comm_transfer* t, comm_piece p) { return (size_t)p.count * t->unit; }
#endif
