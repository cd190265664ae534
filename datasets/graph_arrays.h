/* graph_arrays.h - arrays become the parts of a graph: edges, sparse rows, features, labels, splits. The readers of formats that
   have arrays share it. Each function hands what it reads to the builder, in a stream; a wrong shape or value is an error that
   names the array. The caller closes the arrays that it opened. */
#ifndef DATASETS_GRAPH_ARRAYS_H
#define DATASETS_GRAPH_ARRAYS_H
#include "datasets/arrays.h"
#include "datasets/builder.h"

/* ---- edges: from builder_begin_edges to builder_end_edges, where not said otherwise ---------------------------- */

/* name: "edges" or "edge_index", (E, 2) or (2, E) by their shape; (2, 2) is what the name says, (E, 2) of edges. num_nodes, both: as builder_edges has them. */
bool read_edge_array(builder* b, const array_set* set, const char* name, int64_t num_nodes, bool both, error* why);

/* Between begin and end: sources from one array, targets from another; data NULL: no weights. */
bool read_columns(builder* b, array* from, array* to, array* data, int64_t count, error* why);

/* An array of `count` sources, then as many targets, opened once more at its targets, so that both halves stream side by
   side, to array_end_both. */
bool open_targets(array* a, const array_set* set, const char* name, int64_t count, error* why);

/* ---- a sparse matrix by rows ---------------------------------------------------------------------------------- */

typedef struct {                 /* read from its first row to its last */
    array indptr, indices, data; /* data.in NULL: ones */
    int64_t rows, row, end;      /* end: of the row so far, an offset into indices */
} sparse_rows;

/* names: of indptr, indices and data, which may be missing unless has_data. rows < 0: as many as indptr says. sparse_close
   is due after a failure, too. */
bool sparse_open(sparse_rows* m, const array_set* set, const char* const names[3], int64_t rows, bool has_data, error* why);
void sparse_close(sparse_rows* m);

/* The number of elements in the next row; -1 on failure. The caller reads them from indices and data. */
int64_t sparse_next(sparse_rows* m, error* why);
bool sparse_end(sparse_rows* m, error* why); /* all has been read */

/* Row v has the edges out of v (CSR) or into it (CSC). */
bool read_sparse_edges(builder* b, sparse_rows* m, bool outgoing, const builder_edges* about, error* why);

/* The file of a sparse matrix A of SciPy's: A[i, j] is the edge i -> j. weighted: data are the edges' weights; else they are not
   looked at, and that is said. */
bool read_scipy_graph(builder* b, const char* path, bool weighted, error* why);

/* Two sizes; and the number of nodes of an adjacency matrix, which is square. */
bool read_shape(int64_t shape[2], const array_set* set, const char* name, error* why);
bool read_square(int64_t* nodes, const array_set* set, const char* name, error* why);

/* ---- features, labels, splits --------------------------------------------------------------------------------- */

bool read_dense_features(builder* b, array* a, error* why); /* (nodes, width), or (nodes) */

/* A dense row at a time; elements that are there twice add up, as in SciPy. */
bool read_sparse_features(builder* b, sparse_rows* m, int64_t width, error* why);

/* (nodes), or (nodes, 1). Of more columns they are refused as multi-label; check_labels does that before any edge is read, where
   the array of these names is there and no --labels stand in its place. */
bool read_dense_labels(builder* b, array* a, error* why);
bool check_labels(const builder* b, const array_set* set, const char* names, error* why);

/* Features, labels and splits of the nodes, in this order, after builder_end_edges: of each the file beside IN where the user gives
   one (--features, --labels, --split FILE.npy), else the format's own by the reader's function, which gets `from`; NULL: the format
   has none. A function names its file by b->place while it reads. What is there already, or not wanted (--no-features, --split A:B:C), is not read: a second call does no harm. */
typedef bool array_reader(builder* b, array* a, error* why);
typedef bool node_reader(builder* b, const void* from, error* why);
bool read_nodes(builder* b, node_reader* features, node_reader* labels, node_reader* splits, const void* from, error* why);

/* Opens the first of the names that the set has, reads and closes it. None: nothing is read, which is an error where it is needed. */
bool read_named(builder* b, const array_set* set, const char* names, bool needed, array_reader* read, error* why);

/* Arrays named split, or train, val and test (mask, masks): masks are bools, bytes and floats, wider integers are ids. None:
   no splits. split: (nodes) or (splits, nodes), 0 none, 1 train, 2 val, 3 test. */
bool read_splits(builder* b, const array_set* set, error* why);

/* (nodes) or (splits, nodes), by rows, as the .ggnn file has it: 0 none, 1 train, 2 val, 3 test. */
bool read_split_array(builder* b, array* a, error* why);

/* ---- folders that hold files of several kinds ------------------------------------------------------------------ */

/* The path of a file in folder, into path; where it is not there, an error that names it. */
bool refuse_pickle(const char* path, const char* instead, error* why); /* instead: what to do, from its full stop on; "": nothing */
bool find_file(char path[SOURCE_PATH], const char* folder, const char* name, error* why);
#endif
