/* DGL's Reddit (Hamilton et al. 2017), a folder of
     reddit_data.npz    feature (nodes, width), label (nodes), node_types (nodes): 1 train, 2 val, 3 test
     reddit_graph.npz   SciPy's matrix, both directions in it; DGL does not read its data: no weights. Or
                        reddit_self_loop_graph.npz, to which a self-loop of each node was added
   Nodes keep their ids of the files; DGL renumbers them when it loads them. */
#include <stdio.h>

#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

static bool read_graph(builder* b, const char* in, error* why)
{
    char path[GRAPH_PATH];
    error ignored = {""};
    if (!find_file(path, in, "reddit_graph.npz", &ignored) && !find_file(path, in, "reddit_self_loop_graph.npz", &ignored))
        return error_set(why, "%s: neither reddit_graph.npz nor reddit_self_loop_graph.npz is there", in);
    return read_scipy_graph(b, path, false, why);
}

/* What follows the edges: each array is needed, but for a split where another is asked for. */
static bool read_nodes(builder* b, const array_set* set, error* why)
{
    array feature = {0}, label = {0}, types = {0};
    bool ok = read_features_beside(b, why) &&
              (!builder_wants_features(b) || (array_open(&feature, set, "feature", true, why) && read_dense_features(b, &feature, why))) &&
              read_labels_beside(b, why) &&
              (builder_has_labels(b) || (array_open(&label, set, "label", true, why) && read_dense_labels(b, &label, why))) &&
              read_splits_beside(b, why) &&
              (b->how->split || b->split || (array_open(&types, set, "node_types", true, why) && read_split_array(b, &types, why)));
    array_close(&feature);
    array_close(&label);
    array_close(&types);
    return ok;
}

bool read_reddit(builder* b, const char* in, error* why)
{
    char path[GRAPH_PATH];
    array_set set;
    if (!find_file(path, in, "reddit_data.npz", why) || !arrays_open(&set, path, why)) return false;
    bool ok = (b->how->labels || check_labels(&set, "label", why)) && read_graph(b, in, why) && read_nodes(b, &set, why);
    arrays_close(&set);
    return ok;
}
