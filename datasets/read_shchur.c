/* The sparse npz of Shchur et al. 2018. */
#include <stdio.h>

#include "common/memory.h"
#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

static bool read_shchur_graph(builder* b, const array_set* set, error* why)
{
    static const char* const names[3] = {"adj_indptr", "adj_indices", "adj_data"};
    int64_t nodes;
    sparse_rows m;
    if (!read_square(&nodes, set, "adj_shape", why)) return false;
    bool ok = sparse_open(&m, set, names, nodes, false, why);
    array_close(&m.data); /* ones */
    int64_t count = ok ? m.indices.h.count : 0;
    builder_edges about = {nodes, count, count, false, true, true, 0, 0};
    ok = ok && read_sparse_edges(b, &m, true, &about, why);
    sparse_close(&m);
    return ok;
}

static bool read_shchur_features(builder* b, const void* set, error* why)
{
    static const char* const names[3] = {"attr_indptr", "attr_indices", "attr_data"};
    array dense;
    int64_t shape[2];
    sparse_rows m;
    if (!array_open(&dense, set, "attr_matrix", false, why)) return false;
    if (dense.in || !arrays_have(set, "attr_indptr")) {
        bool ok = !dense.in || read_dense_features(b, &dense, why);
        array_close(&dense);
        return ok;
    }
    if (!read_shape(shape, set, "attr_shape", why)) return false;
    if (shape[0] != b->num_nodes)
        return error_set(why, "%s: attributes of %lld nodes, a graph of %lld", b->in, (long long)shape[0],
                         (long long)b->num_nodes);
    bool ok = sparse_open(&m, set, names, shape[0], true, why) && read_sparse_features(b, &m, shape[1], why);
    sparse_close(&m);
    return ok;
}

/* One-hot rows: the label is the column of the row's one element; an empty row is unknown. */
static bool read_sparse_labels(builder* b, sparse_rows* m, double* value, error* why)
{
    char place[80];
    b->place = source_name(m->indices.in);
    for (int64_t v = 0; v < m->rows; v++) {
        int64_t column, count = sparse_next(m, why);
        value[v] = -1;
        if (count < 0) return false;
        if (count > 1) {
            snprintf(place, sizeof place, "node %lld has %lld labels", (long long)v, (long long)count);
            return builder_multi_label(b->place, place, why);
        }
        if (count == 1 && !array_ints(&m->indices, &column, 1, why)) return false;
        if (count == 1) value[v] = (double)column;
    }
    array_close(&m->data); /* not looked at */
    return sparse_end(m, why) && builder_add_labels(b, value, why);
}

static bool read_shchur_labels(builder* b, const void* set, error* why)
{
    static const char* const names[3] = {"labels_indptr", "labels_indices", "labels_data"};
    array dense;
    sparse_rows m;
    if (!array_open(&dense, set, "labels", false, why)) return false;
    if (dense.in || !arrays_have(set, "labels_indptr")) {
        bool ok = !dense.in || read_dense_labels(b, &dense, why);
        array_close(&dense);
        return ok;
    }
    double* value = memory_new(memory_product((size_t)b->num_nodes, sizeof *value, 1), "labels", why);
    bool ok = value && sparse_open(&m, set, names, b->num_nodes, false, why) && read_sparse_labels(b, &m, value, why);
    if (value) sparse_close(&m);
    memory_free(value);
    return ok;
}

bool read_shchur(builder* b, const char* in, error* why)
{
    array_set set;
    if (!arrays_open(&set, in, why)) return false;
    bool ok = read_shchur_graph(b, &set, why) && read_nodes(b, read_shchur_features, read_shchur_labels, NULL, &set, why);
    arrays_close(&set);
    return ok;
}
