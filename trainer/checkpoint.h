/* checkpoint.h - where a training stands, in a .ggnn container, from which it goes on bit for bit.

   Sections, count = number of parameters:
     options     u8 (bytes)          the options that shape the training, as command line words, a line each
     params      u8 (bytes)          name, rows, columns of each parameter, a line each, in the order of the arrays
     graph_crc   i64 (1)             the graph it was trained on
     counters    i64 (8)             CHECKPOINT_COUNTERS below, in that order
     sums        f64 (2)             loss_sum, best_loss
     value, moment1, moment2, best   f32 (count) parameters, Adam's moments, parameters of the best epoch */
#ifndef TRAINER_CHECKPOINT_H
#define TRAINER_CHECKPOINT_H
#include "trainer/config.h"
#include "trainer/task.h"

/* X(name) */
#define CHECKPOINT_COUNTERS(X)                                                                                       \
    X(epoch)      /* epochs done, with their evaluation */                                                           \
    X(batch)      /* mini-batches done of the next one */                                                            \
    X(step)       /* mini-batches done in all */                                                                     \
    X(loss_rows)  /* nodes that loss_sum is over */                                                                  \
    X(has_best)   /* whether there was an evaluation yet */                                                          \
    X(best_epoch) /* of the least validation loss, from 1 */                                                         \
    X(stale)      /* evaluations since then */                                                                       \
    X(updates)    /* of the optimiser; the net's own, filled by checkpoint_save */

typedef struct {
#define CHECKPOINT_X(name) int64_t name;
    CHECKPOINT_COUNTERS(CHECKPOINT_X)
#undef CHECKPOINT_X
    double loss_sum;  /* of the epoch so far: sum over nodes */
    double best_loss; /* least validation loss */
} train_state;

/* Could it be written there? To be asked before the work that would be lost. */
bool checkpoint_possible(const char* path, error* why);

/* Writes path anew: completely, or not at all and the old one stays. */
bool checkpoint_save(const char* path, const config* c, const task* t, net* n, train_state* at, const float* best,
                     error* why);

/* Opens path, checks every byte of it, and finds its options for config_inherit: length bytes, in f. NULL on failure.
   ggnn_file_close(f) after all, or after a failure. */
const char* checkpoint_open(ggnn_file* f, const char* path, size_t* length, error* why);

/* Puts net, state and best weights where the checkpoint has them. Errors: another graph, another network, another
   number of mini-batches an epoch. */
bool checkpoint_restore(ggnn_file* f, const task* t, int64_t batches, net* n, train_state* at, float* best,
                        error* why);
#endif
