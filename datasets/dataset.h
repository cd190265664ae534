/* dataset.h - a .ggnn file as a trainer wants it: a graph with features, labels and splits, mapped and used in place.

   Sections (all but the first two optional; others are skipped):
     indptr       (N + 1)   i64         CSC: in-edges of v are [indptr[v], indptr[v+1])
     indices      (E)       i32 | i64   their sources; i64 where N needs it (make NODE64=1)
     weight       (E)       f32
     feat         (N, F)    f32 | f16   F from 1: a graph without features has no such section
     edge_feat    (E, Fe)   f32 | f16   by CSC position, Fe from 1
     label        (N)       i32 | f32   classes from 0, -1 unknown; or real targets, NaN unknown
     split        (S, N)    u8          S ways to split, up to 1,000: 0 none, 1 train, 2 val, 3 test
     external_id  (N)       i64         what the source of the data called each node
     old_id       (N)       i64         of a reordered graph: what number each node had before, a permutation (reorder.h)
     external_name (B), external_at (N + 1)   u8, i64: the same by names: all bytes, and where each node's begin
     pre_feat, pre_of                   the first layer's sums over all neighbours: preprocess.h
     graph_crc    (1)       i64         in files beside a graph: its identity, ggnn_file_graph_crc
     features_only (1)      f64         generated graphs: test accuracy of the best rule that sees features alone
     part_of, part_id, part_degree, part_held, owner     of a part, whose feat has fewer rows: part.h */
#ifndef DATASETS_DATASET_H
#define DATASETS_DATASET_H
#include <stdio.h>

#include "common/error.h"
#include "datasets/ggnn_file.h"
#include "ggnn.h"

#ifdef GGNN_NODE64
#define DATASET_NODE GGNN_FILE_I64
#else
#define DATASET_NODE GGNN_FILE_I32
#endif

enum { SPLIT_NONE = 0, SPLIT_TRAIN = 1, SPLIT_VAL = 2, SPLIT_TEST = 3 };
enum { DATASET_MAX_CLASSES = 1 << 20, DATASET_MAX_WIDTH = 1 << 24, DATASET_MAX_SPLITS = 1000 };

typedef struct {      /* rows of fixed width */
    const void* rows; /* NULL: the file has none */
    ggnn_type type;
    int32_t width;
} dataset_rows;

typedef struct {               /* what a file that has one part of a graph says of it (part.h) */
    int32_t number, parts;     /* parts 0: the file has a whole graph */
    int32_t hops;              /* around its training nodes */
    int64_t graph_crc, feat_crc, weight_crc, edge_feat_crc; /* the whole graph's: its identity, and of sections; -1: it has none */
    int64_t num_rows;          /* nodes whose rows it has */
    const ggnn_node* id;       /* (num_rows) them, ascending: row i of feat is node id[i]'s */
    const int64_t* degree;     /* (num_rows) their lists' lengths in the whole graph */
    const int64_t* held;       /* (parts + 1) nodes that each part has; last, that any has */
    const int32_t* owner;      /* (N) whose part each training node is; -1: no training node */
} dataset_part;

typedef struct {
    ggnn_file file;
    int64_t num_nodes, num_edges;
    dataset_part part;
    ggnn_csc csc;               /* indptr (num_nodes + 1), indices (num_edges), weight (num_edges) or NULL */
    dataset_rows feat;          /* (num_nodes, width); of a part (num_rows, width) */
    dataset_rows edge_feat;     /* (num_edges, width) */
    const int32_t* label;       /* (num_nodes) classes, -1 unknown; or NULL */
    const float* target;        /* (num_nodes) real labels, NaN unknown; or NULL */
    int32_t num_classes;        /* largest label + 1; 0 without labels. Filled by dataset_count */
    int32_t num_splits;         /* S */
    const uint8_t* split;       /* (num_splits, num_nodes) SPLIT_..., or NULL */
    const int64_t* external_id; /* (num_nodes) or NULL */
    const int64_t* old_id;      /* (num_nodes) or NULL, dataset_nodes_by_old_id */
    const char* name;           /* bytes of the nodes' names or NULL: node v's are [name_at[v], name_at[v + 1]) */
    const int64_t* name_at;     /* (num_nodes + 1), dataset_check_names */
    int64_t name_bytes;
} dataset;

/* Opens path and checks that the sections' types and shapes agree, with no look at the arrays: O(1). A file of the
   other id width is an error that names the build to use. dataset_close is harmless after a failure
   and after itself. */
bool dataset_open(dataset* d, const char* path, error* why);
void dataset_close(dataset* d);

/* The same of a file that may have a part of a graph alone, which dataset_open refuses. */
bool dataset_open_any(dataset* d, const char* path, error* why);

/* The identity of the graph, and the checksum that its file's table has of a section, -1 where there is none: of a part those
   of the whole graph, so that what belongs to the one belongs to the other. */
int64_t dataset_graph_crc(const dataset* d);
int64_t dataset_section_crc(const dataset* d, const char* section);

/* Rows of `feat`: N, or those of a part. */
int64_t dataset_num_rows(const dataset* d);

/* Graph and features as ggnn.h takes them: plain memory, which is the mapped file. They point into d. */
ggnn_graph dataset_graph(const dataset* d);
ggnn_store dataset_features(const dataset* d);
ggnn_store dataset_edge_features(const dataset* d);

/* The message of what ggnn.h or ggnn_plan.h finds wrong with a graph: file, node, reason. False. */
bool dataset_graph_fails(const char* path, const ggnn_fault* fault, error* why);

/* Checks all that a graph promises: lists in order, ids of nodes, weights finite and not negative. O(N + E). */
bool dataset_check_graph(const dataset* d, error* why);

/* Can those bytes be a name? It has one or more (of none, or fewer, nothing is read), is no comment ('#' and '%' begin one), and has no blank, comma, quote or control
   character, so that a list of edges can have it. */
bool dataset_is_name(const char* name, int64_t length);

/* Checks where names begin, and that they are names; not that they differ. Good without names, too. O(B). */
bool dataset_check_names(const dataset* d, error* why);

/* node (N): the node whose old number was i; i where the graph was not reordered. Numbers that are no permutation are an
   error. O(N). */
bool dataset_nodes_by_old_id(const dataset* d, ggnn_node* node, error* why);

/* The number by which users know node v. */
static inline int64_t dataset_old_id(const dataset* d, int64_t v) { return d->old_id ? d->old_id[v] : v; }

/* Prints what node v is called, of names that were checked: no byte is a comma, a quote or the end of a line. */
void dataset_put_name(const dataset* d, int64_t v, FILE* out);

/* The checksums of all that a graph and its nodes have, or of the graph alone, for who copies them: a damaged section would
   get a good checksum, or none; and dataset_check_names. Reads them whole. */
bool dataset_check_sections(dataset* d, bool graph_alone, error* why);

/* Reads the labels: fills num_classes, refuses values that are no class. O(N). */
bool dataset_count(dataset* d, error* why);

/* The mask of split number s, (num_nodes), and how many nodes are train, val, test: count[SPLIT_TRAIN] ...; what is
   not in any is in count[0]. An unknown value is an error that names the node. O(N). */
const uint8_t* dataset_split(const dataset* d, int32_t s, int64_t count[4], error* why);

/* The ids of one part of a split in ascending order: ids has count[part] entries. Returns how many it wrote. */
int64_t dataset_split_ids(const dataset* d, int32_t s, int part, ggnn_node* ids);
#endif
