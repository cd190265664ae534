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
    char path[SOURCE_PATH];
    error ignored = {""};
    if (!find_file(path, in, "reddit_graph.npz", &ignored) && !find_file(path, in, "reddit_self_loop_graph.npz", &ignored))
        return error_set(why, "%s: neither reddit_graph.npz nor reddit_self_loop_graph.npz is there", in);
    return read_scipy_graph(b, path, false, why);
}

static bool read_feature(builder* b, const void* set, error* why) { return read_named(b, set, "feature", true, read_dense_features, why); }
static bool read_label(builder* b, const void* set, error* why) { return read_named(b, set, "label", true, read_dense_labels, why); }
static bool read_types(builder* b, const void* set, error* why) { return read_named(b, set, "node_types", true, read_split_array, why); }

bool read_reddit(builder* b, const char* in, error* why)
{
    char path[SOURCE_PATH];
    array_set set;
    if (!find_file(path, in, "reddit_data.npz", why) || !arrays_open(&set, path, why)) return false;
    bool ok = check_labels(b, &set, "label", why) && read_graph(b, in, why) &&
              read_nodes(b, read_feature, read_label, read_types, &set, why);
    arrays_close(&set);
    return ok;
}
