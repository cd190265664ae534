/* tier_wants.h - what the tiers are planned for: the options that say what lies where, and the data. */
#ifndef TRAINER_TIER_WANTS_H
#define TRAINER_TIER_WANTS_H
#include "datasets/dataset.h"
#include "trainer/store/division.h"

enum { CACHE_NONE }; /* of --cache; else 1 + a hotness_policy */

typedef struct { /* options of ggnn-train, by their names */
    int     cache;         /* CACHE_NONE, or 1 + a hotness_policy */
    bool    cache_auto;    /* --cache-bytes auto */
    int64_t cache_bytes;   /* --cache-bytes as a number; -1: cache_ratio or auto */
    double  cache_ratio;
    double  store_graph, store_features; /* shares of lists and of rows that parts store */
    double  store_edges, cache_edges;    /* shares of rows of edges that parts store, and each cache */
    bool    features_first;              /* rows before lists (--prefer features) */
    int     placement;                   /* a ggnn_place_rule */
    const char *ranking, *topology;      /* files; NULL: none */
    int64_t device_memory, reserve_bytes;
    int64_t slopes[2];                   /* nanoseconds an epoch that all lists, and all rows, being cached would save */
    int64_t batch, presample_epochs;     /* seeds of a batch; epochs whose reads are counted */
    uint64_t seed;
    bool    split;         /* --parallel split: a rank reads the rows and the lists that it owns */
    bool    whole_batches; /* with split: a rank reads all lists, as ranks sample whole batches in turn */
    bool    pooled;        /* --pipeline factored: any rank may get any slice of a batch */
    int32_t samplers;      /* with it: so many ranks, the last ones, sample, and the others train; 0: each does both */
    bool    local;         /* --shuffle local: a rank's batches are of its own training nodes */
    bool    closure;       /* with local, where each rank has a part of its own: it stores the lists and rows alone that these reach */
} tier_options;

typedef struct { /* what it points to outlives the plan */
    const dataset* set;
    ggnn_graph     graph;
    ggnn_store     features;
    ggnn_store     edges;   /* rows of edges; rows NULL: none are read */
    const ggnn_node* train; /* (num_train) training nodes */
    int64_t          num_train;
    const division*  divided;   /* of the training nodes among ranks */
    ggnn_layout      owners;    /* of all nodes, in --parallel split */
    const ggnn_placement* placement; /* of parts, where no --topology says it; NULL: each device has its own */
} tier_data;
#endif
