/* convert_options.h - how a graph in another format becomes a .ggnn file: what convert.h is asked for, and builder.h does. */
#ifndef DATASETS_CONVERT_OPTIONS_H
#define DATASETS_CONVERT_OPTIONS_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "datasets/order.h"

#define CONVERT_FORMATS "auto|npz|shchur|scipy|ogb|edges|npy|snap|konect|mtx|ogb-binary|reddit|graphsaint|igb|mag240m|raw"
typedef enum {
    FORMAT_AUTO,
    FORMAT_NPZ,
    FORMAT_SHCHUR,
    FORMAT_SCIPY,
    FORMAT_OGB,
    FORMAT_EDGES,
    FORMAT_NPY,
    FORMAT_SNAP,
    FORMAT_KONECT,
    FORMAT_MTX,
    FORMAT_OGB_BINARY,
    FORMAT_REDDIT,
    FORMAT_GRAPHSAINT,
    FORMAT_IGB,
    FORMAT_MAG240M,
    FORMAT_RAW
} convert_format;

typedef enum { LOOPS_AUTO, LOOPS_KEEP, LOOPS_DROP, LOOPS_ADD } convert_loops;
typedef enum { DIRECTION_AUTO, DIRECTION_AS_IS, DIRECTION_BOTH } convert_direction;
typedef enum { TRAIN_UNIFORM, TRAIN_DEGREE } convert_train;

/* What the columns behind source and target are, in lists of edges. AUTO: what is usual for the format. */
#define CONVERT_COLUMNS "auto|none|weight|features|weight-features"
typedef enum { COLUMNS_AUTO, COLUMNS_NONE, COLUMNS_WEIGHT, COLUMNS_FEATURES, COLUMNS_WEIGHT_FEATURES } convert_columns;

/* What stands for a node in lists of edges (edges, snap): numbers, or names, which are numbered as they come. Whether line 1 names
   columns must be said of names; AUTO, of numbers: it does where it is no number. */
typedef enum { IDS_NUMBERS, IDS_NAMES } convert_ids;
typedef enum { HEADER_AUTO, HEADER_YES, HEADER_NO } convert_header;

typedef struct { /* zeros: every default */
    convert_format format;
    convert_direction direction; /* BOTH: each edge gets its reverse; AUTO: what is usual for the format */
    convert_loops loops;
    bool keep_duplicates, drop_weights, row_normalise, half;
    bool wide; /* floats also where the input has halves, which stay halves else */
    convert_columns columns;
    convert_ids ids;
    convert_header header;
    const char* edge_features; /* a .npy with a row of each edge, in the order in which edges are read; NULL: the format's own */
    bool drop_edge_features;
    bool no_features; /* those of nodes are not read */
    const char *features, *labels, *split_file; /* .npy files beside any format, in place of its own; NULL: none. Row v is node v's */
    const char* raw; /* FORMAT_RAW's arrays, "indptr=FILE:i64 feat=FILE:f16:128": read_raw.c; NULL: none */
    int64_t num_nodes; /* of a bare edge list: ids are 0 .. num_nodes - 1; 0: compact the ids that occur */
    int64_t random_features, classes; /* width and number of classes to make up for a bare graph; 0: none */
    bool split;                       /* make one: shares of the nodes with a label */
    double share[3];                  /* train, val, test; their sum is at most 1 */
    convert_train train;
    uint64_t seed;  /* of random features, labels, splits */
    int64_t memory; /* bytes to work in; 0: what the machine has available. More edges go to the disk */
    order_method reorder; /* nodes are numbered anew, as `ggnn-data reorder --by` does */
    FILE* report;   /* what was found and changed; NULL: nowhere */
} convert_options;
#endif
