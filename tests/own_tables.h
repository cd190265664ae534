/* own_tables.h - for tests: a device's tables of operations as copies, in which a test puts functions of its own.
       own_tables_of(&t, d);  t.memory.room = mine;  d->ops = &t.ops; */
#ifndef OWN_TABLES_H
#define OWN_TABLES_H
#include "trainer/batch/ring.h"
#include "trainer/device/ops.h"

typedef struct {
    memory_ops memory;
    batch_ops  batches;
    struct ops ops;
} own_tables;

static inline void own_tables_of(own_tables* t, const device* d)
{
    t->memory = *d->ops->memory;
    t->batches = *d->ops->batches;
    t->ops = *d->ops;
    t->ops.memory = &t->memory;
    t->ops.batches = &t->batches;
}
#endif
