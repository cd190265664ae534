/* A node-property graph as the Open Graph Benchmark distributes large ones (ogbn-papers100M; Hu et al. 2020), in NumPy's archives:
     raw/data.npz         edge_index (2, E); num_nodes_list, num_edges_list (1); node_feat (N, F), edge_feat (E, F) where there are
                          any. Other arrays of nodes and edges, node_year among them, are not read
     raw/node-label.npz   node_label (N, 1): nan is unknown
     split/NAME/          train, valid, test: ogb_csv.h
   Both archives may lie in the folder itself as well. They are read as streams, of any length. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "datasets/graph_arrays.h"
#include "datasets/ogb_csv.h"
#include "datasets/readers.h"

enum { PATH_BYTES = 4096 };

/* The path of NAME.npz in IN/raw, else in IN. */
static bool find_archive(char path[PATH_BYTES], const char* in, const char* name, error* why)
{
    int length = snprintf(path, PATH_BYTES, "%s/raw/%s.npz", in, name);
    if (length < 0 || length >= PATH_BYTES) return error_set(why, "%s: path is too long", in);
    if (access(path, F_OK) != 0) snprintf(path, PATH_BYTES, "%s/%s.npz", in, name);
    return true;
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

static bool read_edges_and_features(builder* b, const array_set* set, error* why)
{
    int64_t num_nodes, num_edges;
    array features = {0};
    bool ok = check_arrays(b, set, why) && read_size(set, "num_nodes_list", &num_nodes, why) &&
              read_size(set, "num_edges_list", &num_edges, why) && check_edges(set, num_edges, why) &&
              (!builder_wants_edge_features(b) || array_open(&b->edge_rows, set, "edge_feat", false, why)) &&
              read_edge_array(b, set, "edge_index", num_nodes, false, why) &&
              (!builder_wants_features(b) || array_open(&features, set, "node_feat", false, why)) &&
              (!features.in || read_dense_features(b, &features, why));
    array_close(&features);
    return ok;
}

/* node-label.npz, and whether it is there. */
static bool open_labels(array_set* set, bool* there, const char* in, error* why)
{
    char path[PATH_BYTES];
    *there = false;
    if (!find_archive(path, in, "node-label", why)) return false;
    if (access(path, F_OK) != 0) return true;
    return *there = arrays_open(set, path, why);
}

/* Several labels a node are refused before any edge is read. */
static bool check_classes(const char* in, error* why)
{
    array_set set;
    bool there;
    if (!open_labels(&set, &there, in, why)) return false;
    const bool ok = !there || check_labels(&set, "node_label", why);
    if (there) arrays_close(&set);
    return ok;
}

static bool read_labels(builder* b, const char* in, error* why)
{
    array_set set;
    array a = {0};
    bool there;
    if (!open_labels(&set, &there, in, why)) return false;
    if (!there) return true;
    const bool ok = array_open(&a, &set, "node_label", true, why) && read_dense_labels(b, &a, why);
    array_close(&a);
    arrays_close(&set);
    return ok;
}

bool read_ogb_binary(builder* b, const char* in, error* why)
{
    char path[PATH_BYTES];
    array_set set;
    if (!check_classes(in, why) || !find_archive(path, in, "data", why) || !arrays_open(&set, path, why)) return false;
    bool ok = read_edges_and_features(b, &set, why);
    arrays_close(&set);
    return ok && read_labels(b, in, why) && ogb_read_split(b, in, why);
}
