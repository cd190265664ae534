/* Graphs as NumPy arrays: the npz files of the heterophilous benchmark (Platonov et al. 2023), and folders of .npy. */
#include <string.h>

#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

#define FEATURES "node_features|features|feat|x"
#define EDGE_FEATURES "edge_features|edge_attr|edge_feat"
#define LABELS "node_labels|labels|label|y"

/* Nodes are counted by whatever has a row for each: features, labels, indptr; bare edges need --nodes, or are
   compacted. */
static bool count_nodes(builder* b, const array_set* set, int64_t* num_nodes, error* why)
{
    array a;
    *num_nodes = b->how->num_nodes ? b->how->num_nodes : -1;
    if (!array_open(&a, set, FEATURES "|" LABELS, false, why)) return false;
    if (a.in) *num_nodes = a.h.shape[0];
    bool ok = !a.in || (a.h.num_dims > 0 && a.h.count > 0) || array_wrong_shape(&a, "(nodes, ...)", why);
    array_close(&a);
    return ok;
}

static bool read_graph_arrays(builder* b, const array_set* set, bool both, error* why)
{
    static const char* const csc[3] = {"indptr", "indices", "weight"};
    int64_t num_nodes;
    if (!count_nodes(b, set, &num_nodes, why)) return false;
    if (builder_wants_edge_features(b) && !array_open(&b->edge_rows, set, EDGE_FEATURES, false, why)) return false;
    if (arrays_have(set, "edges")) return read_edge_array(b, set, "edges", num_nodes, both, why);
    if (arrays_have(set, "edge_index")) return read_edge_array(b, set, "edge_index", num_nodes, both, why);
    sparse_rows m;
    bool ok = sparse_open(&m, set, csc, num_nodes, false, why);
    int64_t count = ok ? m.indices.h.count : 0;
    builder_edges about = {m.rows, count, count, m.data.in != NULL, both, false, 0, 0};
    ok = ok && read_sparse_edges(b, &m, false, &about, why);
    sparse_close(&m);
    return ok;
}

/* What a .ggnn file's nodes were called where it came from, as ggnn-data export keeps it. */
static bool read_external_ids(builder* b, const array_set* set, error* why)
{
    array a;
    if (!array_open(&a, set, "external_id", false, why)) return false;
    if (!a.in || b->renamed) {
        array_close(&a);
        return true;
    }
    bool ok = a.h.num_dims == 1 && a.h.count == b->num_nodes ? true : array_wrong_shape(&a, "(nodes)", why);
    int64_t* id = ok ? builder_begin_ids(b, why) : NULL;
    ok = id && array_ints(&a, id, b->num_nodes, why) && array_end(&a, why);
    array_close(&a);
    return ok;
}

static bool read_array_set(builder* b, const array_set* set, bool both, error* why)
{
    array features = {0}, labels = {0};
    bool ok = check_labels(set, LABELS, why) && read_graph_arrays(b, set, both, why) && read_external_ids(b, set, why) &&
              (!builder_wants_features(b) || array_open(&features, set, FEATURES, false, why)) &&
              (!features.in || read_dense_features(b, &features, why)) &&
              array_open(&labels, set, LABELS, false, why) && (!labels.in || read_dense_labels(b, &labels, why)) &&
              read_splits(b, set, why);
    array_close(&features);
    array_close(&labels);
    return ok;
}

static bool read_from(builder* b, const char* in, bool both, error* why)
{
    array_set set;
    if (!arrays_open(&set, in, why)) return false;
    bool ok = read_array_set(b, &set, both, why);
    arrays_close(&set);
    return ok;
}

bool read_npz(builder* b, const char* in, error* why) { return read_from(b, in, true, why); }
bool read_npy(builder* b, const char* in, error* why) { return read_from(b, in, false, why); }
