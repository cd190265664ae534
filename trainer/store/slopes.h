/* slopes.h - --slopes measure: what it saves on this device to have lists, and rows, cached (DUCATI). Batches are sampled
   and their rows extracted with caches of more and more RANDOM nodes, against the host tier. Hit ratios are counted, times
   measured; a slope is that of the line of least squares (ggnn_fill_slope): nanoseconds an epoch that a hit ratio of 1
   saves. One that cannot be told from noise counts as 0: its kind then has no part in the cache, and where both are 0
   frequency per byte decides, as without --slopes. On a CPU, whose tiers are all its own memory, times are mostly noise. */
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

typedef struct {
    int64_t line;     /* nanoseconds that a hit ratio of 1 saves; below 0: more hits take longer */
    double error;     /* its standard error: sqrt(sum of squared residuals / (n - 2) / sum of (hit - mean)^2). NAN: there is no line */
    double explained; /* share of the times' spread (sum of squares about their mean) that the line explains. NAN: no line, no spread */
    bool clear;       /* the line is above twice its standard error; else it cannot be told from noise */
} slopes_fit;

typedef struct { /* of lists, and of rows, by size of cache */
    double hit[TIERS_KINDS][SLOPES_SIZES];
    double ms[TIERS_KINDS][SLOPES_SIZES]; /* of an epoch: the least of several times */
    int64_t bytes[SLOPES_SIZES];          /* of the caches */
    slopes_fit fit[TIERS_KINDS];
} slopes_times;

/* Of n <= SLOPES_SIZES times. There is no line through fewer than three, nor through equal hit ratios. */
slopes_fit slopes_line(const double* hit, const double* ms, int64_t n);

/* What --cache dual shares by: the line where it is clear, else 0. */
static inline int64_t slopes_of(const slopes_times* s, tiers_kind kind) { return s->fit[kind].clear ? s->fit[kind].line : 0; }

/* Milliseconds of an epoch of `all` batches, of which each turn took some: by the fastest turn but the first. */
double slopes_epoch(const double seconds[SLOPES_TURNS], int64_t batches, int64_t all);

/* Alone: no other rank has a part in it. All that it takes of the device it gives back. False on failure. */
bool slopes_measure(slopes_times* s, device* d, const slopes_plan* plan, error* why);
#endif
