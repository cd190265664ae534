/* explain_model.h - how long an epoch would read with graph and features in other places: the arithmetic behind
   ggnn-train --explain. What a setting stores is what the trainer stores with its options, as its own planner says (tier_plan.h),
   beside the rankings that it keeps on the device; or, where no option asks for tiers, what each device or each owner of nodes
   has. Reads are counted from sampled ids, sizes are the graph's; times are modelled from them over the
   bandwidths of stated links: own memory, peers and the host one after the other. With `links` a device reads from all peers at once, so that
   the slowest of its links counts, and the slowest device; each reads as much as the others. Nothing here looks at a machine, so that the same input gives the same answer anywhere. */
#ifndef TRAINER_EXPLAIN_MODEL_H
#define TRAINER_EXPLAIN_MODEL_H
#include "common/error.h"
#include "trainer/options/config.h"
#include "trainer/store/tier_plan.h"

typedef struct { /* by where it lies: this device, another one, the host */
    double own, peer, host;
} explain_tiers;

typedef struct { /* a graph, how it is read, and on what */
    const config* config;                  /* of the run: what a setting does not say */
    int64_t nodes;
    ggnn_sizes sizes;                      /* of rows and lists */
    const int64_t* degrees;                /* (nodes) out-degrees: they rank parts without --cache */
    int64_t *hot_rows, *hot_lists;         /* (nodes) counts, [0, 2^32), that rank a cache. Not written */
    const int64_t *rows, *lists;           /* (nodes) reads by all devices, not those in hot_* */
    int64_t epochs;                        /* epochs of `rows` and `lists` */
    double fanout;                         /* edges of a list that a sample looks at, alike in all hops */
    int64_t memory;                        /* bytes of a device for graph, features and rankings; INT64_MAX: no limit */
    bool    peaks;                         /* a device has memory of its own */
    int32_t devices;                       /* P */
    const ggnn_placement* placement;       /* of P parts by links; NULL: a device has one, and reads all others */
    const ggnn_topology* links;            /* GB/s of each link of the P devices; NULL: all are bandwidth.peer */
    explain_tiers bandwidth;               /* bytes a second, as a device reads */
} explain_case;

/* From the simplest on. */
typedef enum {
    EXPLAIN_ALL,            /* each device has all */
    EXPLAIN_PARTS,          /* the devices together have all: XGNN's store */
    EXPLAIN_GRAPH_FIRST,    /* the devices together have the hottest lists, then rows; the rest is the host's */
    EXPLAIN_FEATURES_FIRST, /* rows, then lists */
    EXPLAIN_DUAL,           /* each device has a cache of the rows and lists that save most time a byte (DUCATI) */
    EXPLAIN_CLIQUES,        /* lists, then rows, once in each clique of linked devices; with `links` */
    EXPLAIN_BESIDE,         /* each device has a cache of the hottest rows; behind it parts have lists, then rows (XGNN's CliqueOpt) */
    EXPLAIN_SETTINGS
} explain_setting;
extern const char* const explain_name[EXPLAIN_SETTINGS]; /* names of settings in a table */
extern const char* const explain_options[EXPLAIN_SETTINGS]; /* options of ggnn-train for a setting */

typedef struct { /* what a setting comes to */
    bool possible;                 /* false: it does not fit, or has no sense with one device */
    int64_t rows, lists;           /* kept by the devices together, or in each cache */
    int64_t row_bytes, list_bytes; /* of a device */
    explain_tiers row_reads, list_reads; /* of an epoch, all devices */
    double sample, extract;        /* seconds of an epoch that a device reads lists; rows */
    double seconds;                /* sample + extract: no setting changes how long computing takes */
    double cache_ratio;            /* BESIDE: of explain_ratio the one with which `seconds` are least */
    int64_t slopes[2];             /* DUAL: nanoseconds saved if all lists, and all rows, were cached: --slopes */
} explain_outcome;

/* Shares of the rows that a cache beside parts may have. */
enum { EXPLAIN_RATIOS = 8 };
extern const double explain_ratio[EXPLAIN_RATIOS];

/* All settings of a case. False: no memory. O(nodes log nodes). */
bool explain_outcomes(explain_outcome out[EXPLAIN_SETTINGS], const explain_case* c, error* why);

/* The simplest setting that takes at most 1 % more than the fastest. */
explain_setting explain_choice(const explain_outcome out[EXPLAIN_SETTINGS]);
#endif
