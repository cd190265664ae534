/* Graphs as NumPy arrays: the npz files of the heterophilous benchmark (Platonov et al. 2023), and folders of .npy. */
#include <string.h>

#include "common/memory.h"
#include "datasets/dataset.h"
#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

#define FEATURES "node_features|features|feat|x"
#define EDGE_FEATURES "edge_features|edge_attr|edge_feat"
#define LABELS "node_labels|labels|label|y"

/* Nodes are counted by whatever has a row for each: files beside IN, features, labels, indptr; bare edges need --nodes, or
   are compacted. */
static bool count_nodes(builder* b, const array_set* set, int64_t* num_nodes, error* why)
{
    array a;
    *num_nodes = b->asked_nodes;
    if (b->rows_beside) return true;
    if (!array_open(&a, set, builder_wants_features(b) ? FEATURES "|" LABELS : LABELS "|" FEATURES, false, why)) return false;
    if (a.in) *num_nodes = a.h.shape[0];
    bool ok = !a.in || (a.h.num_dims > 0 && a.h.count > 0) || array_wrong_shape(&a, "(nodes, ...)", why);
    array_close(&a);
    return ok;
}

static bool read_graph_arrays(builder* b, const array_set* set, bool both, error* why)
{
    static const char* const csc[3] = {"indptr", "indices", "weight"}, *const csr[3] = {"row_ptr", "col_idx", "weight"};
    const bool outgoing = !arrays_have(set, "indptr") && arrays_have(set, "row_ptr");
    int64_t num_nodes;
    if (!count_nodes(b, set, &num_nodes, why)) return false;
    if (builder_wants_edge_features(b) && !array_open(&b->edge_rows, set, EDGE_FEATURES, false, why)) return false;
    if (arrays_have(set, "edges")) return read_edge_array(b, set, "edges", num_nodes, both, why);
    if (arrays_have(set, "edge_index")) return read_edge_array(b, set, "edge_index", num_nodes, both, why);
    sparse_rows m;
    bool ok = sparse_open(&m, set, outgoing ? csr : csc, num_nodes, false, why);
    int64_t count = ok ? m.indices.h.count : 0;
    builder_edges about = {m.rows, count, count, m.data.in != NULL, both, false, 0, 0};
    ok = ok && read_sparse_edges(b, &m, outgoing, &about, why);
    sparse_close(&m);
    return ok;
}

/* What a .ggnn file's nodes were called where it came from, as ggnn-data export keeps it. */
static bool read_names(builder* b, const array_set* set, error* why)
{
    array bytes = {0}, at = {0};
    char* name = NULL;
    int64_t* begins = NULL;
    bool ok = array_open(&bytes, set, "external_name", true, why) && array_open(&at, set, "external_at", true, why);
    if (ok && (bytes.h.num_dims != 1 || bytes.h.kind != 'u' || bytes.h.size != 1)) ok = array_wrong_shape(&bytes, "(bytes) of type u1", why);
    if (ok && (at.h.num_dims != 1 || at.h.count != b->num_nodes + 1)) ok = array_wrong_shape(&at, "(nodes + 1)", why);
    ok = ok && (name = memory_new((size_t)bytes.h.count, "names", why)) &&
         (begins = memory_new(memory_product((size_t)at.h.count, sizeof *begins, 1), "where names begin", why)) &&
         source_read_all(bytes.in, name, bytes.h.count, "the array", why) && array_end(&bytes, why) &&
         array_ints(&at, begins, at.h.count, why) && array_end(&at, why);
    const dataset of = {.file = {.path = b->in}, .num_nodes = b->num_nodes, .name = name, .name_at = begins, .name_bytes = bytes.h.count};
    ok = ok && dataset_check_names(&of, why) && builder_add_names(b, name, begins, why);
    memory_free(name);
    memory_free(begins);
    array_close(&bytes);
    array_close(&at);
    return ok;
}

static bool read_external_ids(builder* b, const array_set* set, error* why)
{
    array a;
    if (!b->renamed && arrays_have(set, "external_name")) return read_names(b, set, why);
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

static bool read_features(builder* b, const void* set, error* why) { return read_named(b, set, FEATURES, false, read_dense_features, why); }
static bool read_labels(builder* b, const void* set, error* why) { return read_named(b, set, LABELS, false, read_dense_labels, why); }
static bool read_own_splits(builder* b, const void* set, error* why) { return read_splits(b, set, why); }

bool read_array_set(builder* b, const array_set* set, bool both, node_reader* splits, error* why)
{
    return check_labels(b, set, LABELS, why) && read_graph_arrays(b, set, both, why) &&
           read_external_ids(b, set, why) &&
           read_nodes(b, read_features, read_labels, splits ? splits : read_own_splits, set, why);
}

static bool read_from(builder* b, const char* in, bool both, error* why)
{
    array_set set;
    if (!arrays_open(&set, in, why)) return false;
    bool ok = read_array_set(b, &set, both, NULL, why);
    arrays_close(&set);
    return ok;
}

bool read_npz(builder* b, const char* in, error* why) { return read_from(b, in, true, why); }
bool read_npy(builder* b, const char* in, error* why) { return read_from(b, in, false, why); }
