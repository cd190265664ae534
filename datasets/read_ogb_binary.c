/* A node-property graph as the Open Graph Benchmark distributes large ones (ogbn-papers100M; Hu et al. 2020), in NumPy's archives:
     raw/data.npz         edge_index (2, E); num_nodes_list, num_edges_list (1); node_feat (N, F), edge_feat (E, F) where there are
                          any. Other arrays of nodes and edges, node_year among them, are not read
     raw/node-label.npz   node_label (N, 1): nan is unknown
     split/NAME/          train, valid, test: ogb_csv.h
   Both archives may lie in the folder itself as well. They are read as streams, of any length. */
#include <stdio.h>
#include <string.h>

#include "common/printable.h"
#include "datasets/graph_arrays.h"
#include "datasets/ogb_csv.h"
#include "datasets/readers.h"

/* The path of NAME.npz in IN/raw, else in IN. */
static bool find_archive(char path[SOURCE_PATH], const char* in, const char* name, error* why)
{
    char in_raw[32];
    error ignored = {""};
    snprintf(in_raw, sizeof in_raw, "raw/%s", name);
    return find_file(path, in, in_raw, &ignored) || find_file(path, in, name, why);
}

/* Every array is one that is read, or one of nodes or of edges, which is said and left. */
static bool check_arrays(const builder* b, const array_set* set, error* why)
{
    static const char* const known[] = {"edge_index.npy", "num_nodes_list.npy", "num_edges_list.npy", "node_feat.npy", "edge_feat.npy"};
    for (int64_t i = 0; i < set->zip.num_members; i++) {
        const char* name = set->zip.member[i].name;
        char shown[256];
        bool is_read = false;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) is_read = is_read || strcmp(name, known[k]) == 0;
        if (is_read) continue;
        printable(shown, sizeof shown, name);
        if (strncmp(name, "node_", 5) != 0 && strncmp(name, "edge_", 5) != 0)
            return error_set(why, "%s: member %s: no array of OGB's, whose names begin with node_ or edge_", set->path, shown);
        if (b->how->report) fprintf(b->how->report, "left out   %s\n", shown);
    }
    return true;
}

static bool read_size(const array_set* set, const char* name, int64_t* size, error* why)
{
    array a;
    if (!array_open(&a, set, name, true, why)) return false;
    bool ok = a.h.count == 1 || error_set(why, "%s: sizes of %lld graphs; one is read", source_name(a.in), (long long)a.h.count);
    ok = ok && array_ints(&a, size, 1, why) && array_end(&a, why);
    if (ok && *size < 0) ok = error_set(why, "%s: a negative size: %lld", source_name(a.in), (long long)*size);
    array_close(&a);
    return ok;
}

static bool check_edges(const array_set* set, int64_t num_edges, error* why)
{
    array a;
    char expected[64];
    if (!array_open(&a, set, "edge_index", true, why)) return false;
    snprintf(expected, sizeof expected, "(2, %lld), as num_edges_list says,", (long long)num_edges);
    bool ok = a.h.count / 2 == num_edges || array_wrong_shape(&a, expected, why);
    array_close(&a);
    return ok;
}

static bool read_graph(builder* b, const array_set* set, error* why)
{
    int64_t num_nodes, num_edges;
    return check_arrays(b, set, why) && read_size(set, "num_nodes_list", &num_nodes, why) &&
           read_size(set, "num_edges_list", &num_edges, why) && check_edges(set, num_edges, why) &&
           (!builder_wants_edge_features(b) || array_open(&b->edge_rows, set, "edge_feat", false, why)) &&
           read_edge_array(b, set, "edge_index", num_nodes, false, why);
}

typedef struct { /* labels NULL: there are none */
    const char* in;
    const array_set *data, *labels;
} ogb_folder;

static bool read_features(builder* b, const void* from, error* why)
{
    const ogb_folder* f = from;
    return read_named(b, f->data, "node_feat", false, read_dense_features, why);
}

static bool read_labels(builder* b, const void* from, error* why)
{
    const ogb_folder* f = from;
    return !f->labels || read_named(b, f->labels, "node_label", true, read_dense_labels, why);
}

static bool read_split(builder* b, const void* from, error* why) { return ogb_read_split(b, ((const ogb_folder*)from)->in, why); }

static bool read_archives(builder* b, const char* in, const array_set* labels, error* why)
{
    char path[SOURCE_PATH];
    array_set set;
    if (labels && !check_labels(b, labels, "node_label", why)) return false;
    if (!find_archive(path, in, "data.npz", why) || !arrays_open(&set, path, why)) return false;
    bool ok = read_graph(b, &set, why) &&
              read_nodes(b, read_features, read_labels, read_split, &(ogb_folder){in, &set, labels}, why);
    arrays_close(&set);
    return ok;
}

bool read_ogb_binary(builder* b, const char* in, error* why)
{
    char path[SOURCE_PATH];
    array_set labels;
    error ignored = {""};
    if (!ogb_check_split(b, in, why)) return false;
    if (!find_archive(path, in, "node-label.npz", &ignored)) return read_archives(b, in, NULL, why);
    if (!arrays_open(&labels, path, why)) return false;
    bool ok = read_archives(b, in, &labels, why);
    arrays_close(&labels);
    return ok;
}
