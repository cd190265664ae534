/* ring.h - what a loader's ring and its slots are, and how a backend fills them. loader.h says when, and with what; only
   the loader and the backends see this. */
#ifndef TRAINER_RING_H
#define TRAINER_RING_H
#include "trainer/batch/loader.h"
#include "trainer/device/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slot {
    mini_batch   batch;     /* to be handed out: `shape`, on a tight device with lower bounds */
    ggnn_batch   shape;     /* as it was laid out */
    loader_order order;
    loader_slice slice;     /* what it was ordered to hold */
    int64_t      number;    /* of its order */
    enum { SLOT_FREE, SLOT_ORDERED, SLOT_TAKEN } state;
    bool         replaced;  /* by a larger one: closed when it is given back */
    /* set by `wait`: */
    ggnn_status  status;    /* GGNN_ERROR_CAPACITY: it needs more room, on a tight device */
    int64_t      edges, bytes; /* read */
    int64_t      rows_marked; /* read by marks */
    double       sampling, copying, marking, extracting; /* seconds */
    batch_sizes  sizes;        /* of a tight device */
} slot;

typedef struct ring {
    device*     device;
    loader_plan plan;
    int64_t     seeds;  /* of a slice, at most */
    batch_sizes room;   /* on a tight device */
    loader_pass pass;   /* under way */
    int32_t     slots, group;
    slot**      slot;
    void*       own;    /* the backend's, for all slots */
} ring;

/* Batches.
     ring_size   sets r->slots and r->group
     ring_open   what slots share; then slot_open makes r->slot[i]. ring_close ends all preparing, then each slot is
                 closed, but one that is taken may be only when it is given back
     prepare     orders `count` slots: seeds of slot->slice, sample, rows; or what slot->order says. After all steps
                 that were asked for until now. May return before it is done
     wait        for one of them: sets what slot says
     count       batch_count
     packed_bytes, pack   of ggnn_batch_pack; fills `to`, whose memory has so many
     rows, mark  sources of the last hop; where each one's row is by plan.marks */
#define BATCH_OPS(OP)                                                                          \
    OP(void, ring_size, (ring * r))                                                            \
    OP(bool, ring_open, (ring * r, error* why))                                                \
    OP(void, ring_close, (ring * r))                                                           \
    OP(slot*, slot_open, (ring * r, error* why))                                               \
    OP(void, slot_close, (ring * r, slot * s))                                                 \
    OP(void, prepare, (ring * r, slot* const* slots, int32_t count))                           \
    OP(void, wait, (ring * r, slot * s))                                                       \
    OP(void, count, (ring * r, const slot* s, int64_t* rows, int64_t* lists))                  \
    OP(size_t, packed_bytes, (ring * r, const slot* s))                                        \
    OP(void, pack, (ring * r, slot * s, packed_batch * to))                                    \
    OP(int64_t, rows, (ring * r, const slot* s))                                               \
    OP(void, mark, (ring * r, slot * s, int64_t * mark))
struct batch_ops {
    BATCH_OPS(OPS_SLOT)
};

#ifdef __cplusplus
}
#endif
#endif
