/* checkpoint_file.h - a checkpoint as a file: what it says by itself, without the data that it was trained on.

   The room saved/: from a checkpoint to weights for other programs, and to words for people. It runs no network.

   Sections, count = number of parameters:
     options     u8 (bytes)          the options that shape the training, as command line words, a line each
     params      u8 (bytes)          name, rows, columns of each parameter, a line each, in the order of the arrays
     version     u8 (bytes)          of the ggnn that wrote it; before 0.3 there was none
     graph_crc   i64 (1)             the graph it was trained on
     data_crc    i64 (6)             CHECKPOINT_DATA below: the checksums of the data's other sections
     division    i64 (2)             devices, and the checksum of whose training node each node is: only with --shuffle
                                     local, where batches depend on them
     counters    i64 (8)             CHECKPOINT_COUNTERS below, in that order
     sums        f64 (2)             loss_sum, best_loss
     value, moment1, moment2, best   f32 (count) parameters, Adam's moments, parameters of the best epoch */
#ifndef TRAINER_CHECKPOINT_FILE_H
#define TRAINER_CHECKPOINT_FILE_H
#include "common/error.h"
#include "datasets/ggnn_file.h"
#include "trainer/net/net.h"

/* Sections of the data that training reads beside the graph, in the order of data_crc; -1: the data has none, or it is
   not read. Later ones come last. X(section) */
#define CHECKPOINT_DATA(X) X(feat) X(label) X(split) X(weight) X(pre_feat) X(edge_feat)

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

#define CHECKPOINT_X(name) +1
enum { CHECKPOINT_NUM_COUNTERS = 0 CHECKPOINT_COUNTERS(CHECKPOINT_X), CHECKPOINT_NUM_DATA = 0 CHECKPOINT_DATA(CHECKPOINT_X) };
#undef CHECKPOINT_X

extern const char* const checkpoint_data[CHECKPOINT_NUM_DATA]; /* names of CHECKPOINT_DATA */

typedef struct {
#define CHECKPOINT_X(name) int64_t name;
    CHECKPOINT_COUNTERS(CHECKPOINT_X)
#undef CHECKPOINT_X
    double loss_sum;  /* of the epoch so far: sum over nodes */
    double best_loss; /* least validation loss */
} train_state;

/* Opens path, checks every byte of it, and finds its options for config_inherit: length bytes, in f. NULL on failure.
   ggnn_file_close(f) after all, or after a failure. */
const char* checkpoint_open(ggnn_file* f, const char* path, size_t* length, error* why);

/* The array of a section that must be there with `count` elements; count < 0: any number. */
const void* checkpoint_need(ggnn_file* f, const char* name, ggnn_file_type type, int64_t count, error* why);

/* The checksums of the first *known of CHECKPOINT_DATA: version 0.1 knew none (NULL, and no error), early 0.2 fewer. */
const int64_t* checkpoint_data_crcs(ggnn_file* f, int64_t* known, error* why);

/* Has it a checksum of that section of the data? */
bool checkpoint_knows(const ggnn_file* f, const char* section);

/* Counters and sums, as they stand there. */
bool checkpoint_state(ggnn_file* f, train_state* at, error* why);

/* Its parameters, *count of them, and how many floats they have in all: as many as `value` and `best`. An error names the line. */
bool checkpoint_params(ggnn_file* f, net_param param[NET_PARAMS_MAX], int32_t* count, int64_t* floats, error* why);
#endif
