/* edge_lists.h - edges in any order become the sorted in-neighbour lists of a .ggnn file: sections indptr, indices,
   weight, edge_feat. What convert and generate build graphs with.

   Edges are sorted in memory, or in runs on the disk where they do not fit (edge_sort.h), and read twice: to count and
   to write. Every array is written once, from its beginning to its end; rows of edges, which are kept on the disk until
   their places are known, in passes (edge_rows.h). The file does not depend on memory or threads. */
#ifndef DATASETS_EDGE_LISTS_H
#define DATASETS_EDGE_LISTS_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "datasets/compact.h"
#include "datasets/edge_rows.h"
#include "datasets/edge_sort.h"
#include "datasets/ggnn_file.h"
#include "ggnn.h"

typedef struct {
    const char* in;     /* begins messages: the file that says how many nodes and edges there are */
    int64_t num_nodes;  /* ids are below; -1: known after the edges only, ids are compacted */
    int64_t expected;   /* edges as they are read, without reverses: a guess; 0: no idea */
    int64_t most;       /* edges at most; 0: not known. At most twice expected: it is no guess */
    bool distinct;      /* none of the expected edges is there twice, or as another's reverse */
    int64_t more_bytes; /* of the file, beside the lists */
    int64_t memory;     /* bytes to work in; 0: what the machine has available, resources.h */
    int64_t held_bytes; /* bytes of `memory` that the caller takes */
    bool weighted, both, drop_loops, add_loops, keep_duplicates;
    int64_t width; /* of the edges' rows; 0: they have none. Not with add_loops, as such a loop has no row */
    bool half;     /* rows are halves, not floats */
} edge_lists_options;

typedef struct { /* in the edges as read, reverses left out */
    int64_t loops, loop_nodes, duplicates;
} edge_counts;

typedef struct {
    edge_lists_options how;
    ggnn_file_writer* out;
    edge_sorter sorter;
    bool renamed;    /* ids were compacted, and differ from those that were read */
    compact_map map; /* where ids were compacted */
    edge_counts found;
    int64_t num_read; /* edges, without reverses */
    edge_rows rows;   /* of those, and their weights where they have rows: open where they are wanted */
    edge_rows weights;
    ggnn_file_scratch number; /* (num_edges) of the edge at each position */
    ggnn_lists lists; /* in the output */
    int64_t takes;    /* bytes of memory, scratch and file together */
    char plan[320];   /* "1.2 GB of memory (--memory 20 GB), ...": what it takes, for the user */
} edge_lists;

/* Fails before any work where a node's share of memory is more than there is, or the disk has no room for scratch and
   file. */
bool edge_lists_open(edge_lists* l, const edge_lists_options* how, ggnn_file_writer* out, error* why);
void edge_lists_close(edge_lists* l); /* harmless after a failure and after itself. The sections are the writer's */

/* Edges src[i] -> dst[i], weight NULL unless weighted; checked by the caller: ids in [0, num_nodes), or not negative
   where they are compacted. At most EDGE_LISTS_BATCH. */
enum { EDGE_LISTS_BATCH = EDGE_SORT_BATCH / 2 };
bool edge_lists_add(edge_lists* l, const int64_t* src, const int64_t* dst, const float* weight, int64_t count,
                    error* why);

/* The rows of the next count edges, floats or halves: as many as edges in all, before edge_lists_write. An edge's reverse
   has its row; of duplicates the first one's row stays, as its weight does. */
bool edge_lists_add_rows(edge_lists* l, const void* rows, int64_t count, error* why);

/* Numbers the nodes, reserves indptr, and counts: found, lists.num_nodes, lists.num_edges. Edges may be added after it,
   but for compacted ids; then it is called again. */
bool edge_lists_count(edge_lists* l, error* why);

/* Writes indices, weight and edge_feat, after edge_lists_count. */
bool edge_lists_write(edge_lists* l, error* why);
#endif
