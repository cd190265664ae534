/* generate.h - synthetic graphs with features, labels and splits. The same options give the same file, byte for byte,
   for any number of threads and on any machine: every random number is a keyed draw, and floats are made by single
   roundings. */
#ifndef DATASETS_GENERATE_H
#define DATASETS_GENERATE_H
#include <stdio.h>

#include "datasets/dataset.h"
#include "datasets/edge_lists.h"

#define GENERATE_KINDS "planted|citation|rmat|grid|star|path|karate"
typedef enum {
    KIND_PLANTED,  /* equal communities; an edge stays within its source's with chance `homophily` */
    KIND_CITATION, /* papers in time order cite earlier ones of their topic; one field of 16 has labels: training is
                      local */
    KIND_RMAT,     /* Chakrabarti et al. 2004, .57 .19 .19 .05, ids shuffled */
    KIND_GRID,     /* 4 neighbours, ceil(sqrt(nodes)) a row */
    KIND_STAR,     /* node 0 and the others */
    KIND_PATH,     /* 0 - 1 - 2 ... */
    KIND_KARATE    /* Zachary 1977 */
} generate_kind;

#define GENERATE_TRAIN_BY "uniform|proportional"
typedef enum {
    TRAIN_EVENLY,
    TRAIN_PROPORTIONAL /* DUCATI: in proportion to in-degree, one after another; a node without in-neighbours never trains */
} generate_train_by;

typedef struct {
    generate_kind kind;
    uint64_t seed;
    int64_t nodes, edges, features, classes; /* -1: the kind's default. edges: directed ones in the file */
    double homophily;                        /* planted */
    double separation; /* of a class mean from the origin, in units of the noise; -1: the kind's default */
    int64_t memory;    /* bytes to work in; 0: what the machine has available. More edges go to the disk */
    FILE* report;      /* where it will take many bytes that is said there first; NULL: nowhere */
    bool directed;     /* edges as they are drawn, one way: of citation a paper receives from those that it cites. Kinds
                          whose edges are drawn alone */
    double train;      /* share of the labelled nodes that train; 0: the kind's own */
    int64_t edge_features; /* columns of the edges' rows; 0: none */
    generate_train_by train_by; /* TRAIN_PROPORTIONAL: not of citation and karate, which say who trains */
} generate_options;

typedef struct {
    int64_t num_nodes, num_edges, num_features, num_edge_features, num_classes, count[4]; /* count: nodes by SPLIT_... */
    double features_only; /* test accuracy of the best rule that sees a node's own features and nothing else; NaN:
                             none */
    int64_t judged;       /* test nodes that features_only was computed over */
} generate_report;

/* Fills in the kind's defaults and checks that they go together. */
bool generate_complete(generate_options* how, error* why);

/* Writes the graph to out, whole or not at all. Edges that do not fit how->memory are sorted in a scratch file beside
   out, which has no name. how is complete. */
bool generate(const char* out, const generate_options* how, generate_report* report, error* why);

/* ---- within the generators ------------------------------------------------------------------------------------ */

enum { /* the streams of GGNN_PURPOSE_GENERATE: the `hop` of a draw. New ones at the end, or old seeds give other
          graphs */
       STREAM_EDGES,
       STREAM_FEATURES,
       STREAM_MEANS,
       STREAM_GROUPS,
       STREAM_KEYS,
       STREAM_EDGE_FEATURES, /* `node` of the draw: the edge's position */
       STREAM_EDGE_MEANS,
       STREAM_TRAIN /* of TRAIN_PROPORTIONAL: draw v of node 0 is node v's */
};

typedef struct { /* what a kind's edges are drawn from, and the group that each node belongs to */
    const generate_options* how;
    ggnn_rng rng;
    int64_t num_groups;
    int32_t* group; /* (nodes) communities, topics, or random where the kind has none: a group, a mean of features */
    ggnn_node*
        order; /* (nodes) planted, rmat: the node at each position. A position's community is position % classes */
    int64_t* first; /* (num_groups + 1) citation: papers by topic in time order are member[first[t] .. first[t+1]) */
    ggnn_node* member; /* (nodes) */
    int64_t width;     /* grid: nodes in a row */
    int32_t levels;    /* rmat: 2^levels positions */
} generate_shape;

int64_t generate_shape_bytes(const generate_options* how); /* of memory */
bool generate_shape_open(generate_shape* s, const generate_options* how, error* why);
void generate_shape_close(generate_shape* s);

/* Candidate edge number i. Those of grid, star, path, karate are distinct, and their number is known. */
void generate_draw(const generate_shape* s, int64_t i, int64_t* u, int64_t* v);

/* Those from first on, the same ones, faster: u, v (count). */
void generate_draw_many(const generate_shape* s, int64_t first, int64_t count, int64_t* u, int64_t* v);
int64_t generate_fixed_edges(generate_kind kind, int64_t nodes); /* directed; -1: the kind's edges are drawn */

/* Draws candidates 0, 1, 2 ... and takes the first how->edges / 2 that join two nodes not joined before. Writes both
   directions as sorted lists. l is open, for undirected edges, without self-loops. The first how->edges / 2 candidates
   go to l as they are; what is missing then, as some were drawn twice, comes from rounds of further candidates, which
   are sorted within bytes of memory and compared with the edges. Directed: how->edges of them, v -> u, which may join
   nodes in both directions. */
bool generate_edges(edge_lists* l, const generate_shape* s, int64_t bytes, error* why);

/* Two independent standard normal numbers from one half of a Philox block; false: rejected, take the next half. */
bool generate_normals(double normal[2], uint32_t word0, uint32_t word1);

/* Fills (n) floats with mean[i] + a normal number of stream (hop, node); mean NULL: zeros. */
void generate_row(float* row, int64_t n, const float* mean, const ggnn_rng* rng, int32_t hop, int64_t node);

/* The nearest mean's number: the best guess of a node's group from its features alone, as groups are equally likely
   and the noise is alike in all directions. Ties go to the lower number. */
int64_t generate_nearest(const float* row, const float* mean, int64_t num_means, int64_t n);

extern const uint8_t generate_karate[78][2];
int32_t generate_karate_faction(int64_t node);
#endif
