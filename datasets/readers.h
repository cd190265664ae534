/* readers.h - one function a format: reads the graph at in and hands it to the builder. */
#ifndef DATASETS_READERS_H
#define DATASETS_READERS_H
#include "datasets/graph_arrays.h"

bool read_npz(builder* b, const char* in, error* why);    /* heterophilous graphs: arrays in a zip, undirected */
bool read_npy(builder* b, const char* in, error* why);    /* a folder of arrays, directed */
bool read_shchur(builder* b, const char* in, error* why); /* sparse adjacency and attributes in a zip */
bool read_scipy(builder* b, const char* in, error* why);  /* a sparse matrix A in a zip: A[i, j] is the edge i -> j */
bool read_ogb(builder* b, const char* in, error* why);    /* a folder of OGB's csv files */
bool read_ogb_binary(builder* b, const char* in, error* why); /* a folder of OGB's npz */
bool read_graphsaint(builder* b, const char* in, error* why); /* a folder of GraphSAINT's, both directions in it */
bool read_reddit(builder* b, const char* in, error* why);     /* a folder of DGL's Reddit, both directions in it */
bool read_edges(builder* b, const char* in, error* why);  /* src, dst[, weight] */
bool read_snap(builder* b, const char* in, error* why);
bool read_konect(builder* b, const char* in, error* why);
bool read_mtx(builder* b, const char* in, error* why);
bool read_igb(builder* b, const char* in, error* why);     /* IGB's folder: papers that cite papers */
/* How many of IGB's nodes, the first ones, have one of its 19 labels: all, but of its full graph. */
int64_t igb_labelled(int64_t nodes);
bool read_mag240m(builder* b, const char* in, error* why); /* MAG240M's folder: papers that cite papers */
bool read_raw(builder* b, const char* in, error* why);     /* arrays without headers, which convert_options.raw names, in the folder in */

/* The graph that a set of arrays is, by the names of npz and npy. both: as builder_edges has it. splits: what reads them, from the
   set; NULL: read_splits. */
bool read_array_set(builder* b, const array_set* set, bool both, node_reader* splits, error* why);
#endif
