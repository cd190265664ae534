/* device_reads.h - what batches read, counted on a device before training: the counts that hotness_look makes on the host's threads, to the
   bit. Set-up only. */
#ifndef TRAINER_DEVICE_READS_H
#define TRAINER_DEVICE_READS_H
#include "trainer/batch/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    ggnn_graph    graph;  /* as the device reads it */
    loader_pass   pass;   /* of the first epoch, with ids of the device's; sampled at rng.step + i, i through all epochs */
    ggnn_sampling how;
    int64_t       batch, epochs;
    int32_t       rank, ranks; /* this one counts its slice of each batch */
    bool          whole;       /* of `ranks` batches this one counts one, in turn, and all of it */
    int64_t       total;       /* bytes of the device that may be taken in all; INT64_MAX: there is no limit */
} device_reads;

/* Adds the reads of rows and of lists to rows and lists (N each, the host's). False: they are as they were, and why says what the
   device could not. What it took of it is given back, and is no part of its peak. */
bool device_reads_count(int64_t* rows, int64_t* lists, device* d, const device_reads* of, error* why);

#ifdef __cplusplus
}
#endif
#endif
