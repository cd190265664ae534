/* slopes.h - --slopes measure: what it saves on this device to have lists, and rows, cached (DUCATI). Batches are sampled
   and their rows extracted with caches of more and more RANDOM nodes, against the host tier. Hit ratios are counted, times
   measured; a slope is that of the line of least squares (ggnn_fill_slope): nanoseconds an epoch that a hit ratio of 1
   saves, 0 where more hits save nothing. On a CPU, whose tiers are all its own memory, that is mostly noise. */
#ifndef TRAINER_SLOPES_H
#define TRAINER_SLOPES_H
#include "trainer/batch/loader.h"
#include "trainer/store/tiers.h"

enum {
    SLOPES_SIZES = 5, /* of caches: one node, and so on to as many as there is room for */
    SLOPES_TURNS = 5  /* of the same batches; the first one warms up */
};

typedef struct {
    const tiers_source* from;
    ggnn_sampling how;
    loader_pass pass;    /* whose first batches are taken, with presampling's draws; its ids are those of from->ids[list] */
    int32_t list;
    int64_t batch;       /* seeds of a global batch */
    int32_t rank, ranks; /* slice `rank` of a global batch cut into `ranks` is taken */
    int64_t room;        /* bytes that lists and rows may take of the device together */
} slopes_plan;

typedef struct { /* of lists, and of rows, by size of cache */
    double hit[TIERS_KINDS][SLOPES_SIZES];
    double ms[TIERS_KINDS][SLOPES_SIZES]; /* of an epoch: the least of several times */
    int64_t bytes[SLOPES_SIZES];          /* of the caches */
    int64_t slope[TIERS_KINDS];
} slopes;

/* Milliseconds of an epoch of `all` batches, of which each turn took some: by the fastest turn but the first. */
double slopes_epoch(const double seconds[SLOPES_TURNS], int64_t batches, int64_t all);

/* Alone: no other rank has a part in it. All that it takes of the device it gives back. False on failure. */
bool slopes_measure(slopes* s, device* d, const slopes_plan* plan, error* why);
#endif
