/* builder.h - what all converters write through: edges in any order become sorted in-neighbour lists (CSC), rows and
   labels go straight to their place in the output. A reader calls, in this order,
     builder_begin_edges, builder_add_edges ..., builder_end_edges            always
     builder_add_edge_features, between them                                  where the format has rows of edges, none is asked
                                                                              for and they are no array, which the builder reads
     builder_begin_ids, then fills the array; or builder_add_names            where it has external ids, or names
     builder_begin_features, builder_add_features ..., builder_end_features   where the format has features
     builder_add_labels                                                       where it has labels
     builder_begin_splits, then fills the array                               where it has splits
     builder_finish, which adds what was asked for at random and commits.
   So the sections of every file come in the same order, and the same graph gives the same file from any format,
   whatever memory there is and on any number of threads. Lists are built by edge_lists.h: edges are sorted in memory,
   or in a scratch file without a name where they do not fit convert_options.memory. Readers hand over what a file
   claims of its sizes before they act on it: what would not fit is refused in builder_begin_edges. */
#ifndef DATASETS_BUILDER_H
#define DATASETS_BUILDER_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/progress.h"
#include "datasets/arrays.h"
#include "datasets/convert_options.h"
#include "datasets/edge_lists.h"
#include "datasets/ggnn_file.h"
#include "ggnn.h"

typedef struct {
    const convert_options* how;
    const char* in;    /* begins messages on values that have no better place */
    const char* place; /* the file or array of features, labels or splits: begins messages on them, where their reader sets it; NULL: in */
    const char* path; /* the output, beside which scratch lies */
    ggnn_file_writer out;
    progress bar;

    edge_lists lists;
    int64_t asked_nodes;          /* by the rows of files beside IN, else by --nodes; -1: not */
    bool rows_beside;             /* files beside IN say it */
    bool renamed;                 /* external_id is written */
    int64_t first;                /* name of id 0 */
    int64_t num_nodes, num_edges; /* num_nodes: -1 while ids are compacted; num_edges: as read, then of the output */
    const int64_t* indptr;        /* of the output */
    array edge_rows;              /* a row of each edge, read by builder_end_edges; in NULL: none, or they are added */

    bool halves;             /* the input has rows of nodes as halves: set before builder_begin_features */
    bool half;               /* rows are written as halves */
    void* rows;              /* (num_nodes, width) floats or halves */
    int64_t width, num_rows; /* rows so far */
    float* row;              /* one, changed on its way */
    int32_t* label;          /* (num_nodes) or NULL: none, or real targets */
    float* target;
    uint8_t* split; /* (num_splits, num_nodes) or NULL */
    int64_t num_splits;
} builder;

/* Fails, too, where files beside IN (--features, --labels, --split) contradict one another or --nodes. */
bool builder_open(builder* b, const char* in, const char* path, const convert_options* how, error* why);
void builder_close(builder* b); /* without builder_finish the output stays as it was */

/* num_nodes: ids are below it; -1: known after the edges only, ids are compacted. expected, most: edges, as
   edge_lists_options has them. both and drop_loops: what is usual for the format, where the user did not say. Says what
   it will take, and fails where there is less than that: see edge_lists_open. */
typedef struct {
    int64_t num_nodes, expected, most;
    bool weighted, both, drop_loops;
    int64_t first; /* what the file calls id 0, where ids are compacted and keep their names */
    int64_t width; /* of the rows that builder_add_edge_features gets; 0: none. Not beside edge_rows */
} builder_edges;
bool builder_begin_edges(builder* b, const builder_edges* about, error* why);

/* Edges src[i] -> dst[i], at most EDGE_LISTS_BATCH, weight NULL unless weighted. The first edge that is out of range
   fails, named "edge E" by its number; a reader that knows a line checks before. */
bool builder_add_edges(builder* b, const int64_t* src, const int64_t* dst, const float* weight, int64_t count,
                       error* why);

/* Rows of edges come in the order of the edges, one for each. Is it the format's that are wanted? Those that are not wanted
   are not read. A reader that finds an array of them opens it as edge_rows, before builder_begin_edges. */
bool builder_wants_edge_features(const builder* b);
bool builder_wants_features(const builder* b); /* of nodes: not with --no-features, nor beside --features */
bool builder_wants_labels(const builder* b);   /* not beside --labels */
bool builder_wants_splits(const builder* b);   /* not where --split asks for another */
bool builder_add_edge_features(builder* b, const float* rows, int64_t count, error* why);
bool builder_end_edges(builder* b, error* why);

/* Returns (num_nodes) to fill with what the source of the data called each node, unless compaction did (renamed). */
int64_t* builder_begin_ids(builder* b, error* why);

/* The names of all nodes as dataset.h has them: node v's bytes are [at[v], at[v + 1]). */
bool builder_add_names(builder* b, const char* bytes, const int64_t* at, error* why);

/* Rows come in order, num_nodes of them; every value finite. */
bool builder_begin_features(builder* b, int64_t width, error* why);
bool builder_add_features(builder* b, const float* rows, int64_t count, error* why);
bool builder_end_features(builder* b, error* why);

/* (num_nodes) NaN or -1: unknown. All whole: classes; else real targets; none is beyond a 32-bit float. place may be that of the first
   value that can be no class. A reader whose labels come in another order refuses such a value itself. */
#define BUILDER_LABEL "a label is finite, or nan where unknown"
bool builder_add_labels(builder* b, const double* value, error* why);
static inline bool builder_has_labels(const builder* b) { return b->label || b->target; }
bool builder_no_label(double value); /* infinite as a 32-bit float */
bool builder_no_class(double value); /* whole, and neither -1 (unknown) nor a class */
bool builder_refuse_class(const char* where, int64_t node, double label, error* why);

/* Has an array one label a node? Of more they are refused as multi-label. */
bool builder_one_label(const array* a, error* why);

/* Sets "FILE: PLACE: " and the one sentence that refuses several labels a node, whatever the format. Returns false. */
bool builder_multi_label(const char* file, const char* place, error* why);

/* Returns (num_splits, num_nodes) zeros to fill with SPLIT_...; NULL on failure. There are 1 to DATASET_MAX_SPLITS. */
uint8_t* builder_begin_splits(builder* b, int64_t num_splits, error* why);

/* Marks node in a split (part: 1 train, 2 val, 3 test); a node in two parts is an error. */
bool builder_mark(builder* b, int64_t split, int64_t node, int part, error* why);

bool builder_finish(builder* b, error* why);
#endif
