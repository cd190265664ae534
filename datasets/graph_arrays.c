#include "datasets/graph_arrays.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/resources.h"

enum { CHUNK = 4096, COLUMN_CHUNK = 512 };

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* An array that should have something of each node, and has not. */
static bool wrong_rows(int64_t count, const char* of, const array* a, const char* expected, error* why)
{
    error shape = {""};
    array_wrong_shape(a, expected, &shape);
    return error_set(why, "%s: %lld %s", shape.text, (long long)count, of);
}

/* ---- edges ---------------------------------------------------------------------------------------------------- */

/* Sources and targets in turn: (E, 2) by rows, (2, E) by columns. */
static bool read_pairs(builder* b, array* a, int64_t count, error* why)
{
    int64_t pair[2 * CHUNK], src[CHUNK], dst[CHUNK];
    for (int64_t done = 0, some; done < count; done += some) {
        some = smaller(CHUNK, count - done);
        if (!array_ints(a, pair, 2 * some, why)) return false;
        for (int64_t i = 0; i < some; i++) {
            src[i] = pair[2 * i];
            dst[i] = pair[2 * i + 1];
        }
        if (!builder_add_edges(b, src, dst, NULL, some, why)) return false;
        progress_update(&b->bar, done + some);
    }
    return true;
}

bool read_columns(builder* b, array* from, array* to, array* data, int64_t count, error* why)
{
    int64_t src[CHUNK], dst[CHUNK];
    float weight[CHUNK];
    for (int64_t done = 0, some; done < count; done += some) {
        some = smaller(CHUNK, count - done);
        if (!array_ints(from, src, some, why) || !array_ints(to, dst, some, why) ||
            (data && !array_floats(data, weight, some, why)) ||
            !builder_add_edges(b, src, dst, data ? weight : NULL, some, why))
            return false;
        progress_update(&b->bar, done + some);
    }
    return true;
}

bool open_targets(array* a, const array_set* set, const char* name, int64_t count, error* why)
{
    return array_open(a, set, name, true, why) && array_skip(a, count, why);
}

/* All sources, then all targets: (2, E) by rows, (E, 2) by columns. */
static bool read_planes(builder* b, const array_set* set, const char* name, array* a, int64_t count, error* why)
{
    array second;
    bool ok = open_targets(&second, set, name, count, why) && read_columns(b, a, &second, NULL, count, why) &&
              array_end_both(a, &second, why);
    array_close(&second);
    return ok;
}

bool read_edge_array(builder* b, const array_set* set, const char* name, int64_t num_nodes, bool both, error* why)
{
    array a;
    if (!array_open(&a, set, name, true, why)) return false;
    bool index = strcmp(name, "edge_index") == 0, ok = a.h.num_dims == 2 && (a.h.shape[0] == 2 || a.h.shape[1] == 2);
    if (!ok) array_wrong_shape(&a, "(2, E) or (E, 2)", why);
    if (ok && a.h.shape[0] != a.h.shape[1]) index = a.h.shape[0] == 2;
    int64_t count = a.h.count / 2;
    builder_edges about = {.num_nodes = num_nodes, .expected = count, .most = count, .both = both};
    ok = ok && builder_begin_edges(b, &about, why);
    progress_begin(&b->bar, "reading edges", "edges", count);
    if (ok && index == a.h.fortran)
        ok = read_pairs(b, &a, count, why) && array_end(&a, why);
    else if (ok)
        ok = read_planes(b, set, name, &a, count, why);
    progress_end(&b->bar, count, false);
    array_close(&a);
    return ok && builder_end_edges(b, why);
}

/* ---- a sparse matrix by rows ---------------------------------------------------------------------------------- */

bool sparse_open(sparse_rows* m, const array_set* set, const char* const names[3], int64_t rows, bool has_data, error* why)
{
    memset(m, 0, sizeof *m);
    if (!array_open(&m->indptr, set, names[0], true, why) || !array_open(&m->indices, set, names[1], true, why) ||
        !array_open(&m->data, set, names[2], has_data, why))
        return false;
    m->rows = rows < 0 ? m->indptr.h.count - 1 : rows;
    if (m->indptr.h.num_dims != 1 || m->indptr.h.count != m->rows + 1)
        return wrong_rows(m->rows, "rows", &m->indptr, "(rows + 1)", why);
    if (m->indices.h.num_dims != 1) return array_wrong_shape(&m->indices, "(elements)", why);
    if (m->data.in && (m->data.h.num_dims != 1 || m->data.h.count != m->indices.h.count))
        return array_wrong_shape(&m->data, "as many as indices", why);
    if (!array_ints(&m->indptr, &m->end, 1, why)) return false;
    return m->end == 0 || error_set(why, "%s: begins with %lld, not 0", source_name(m->indptr.in), (long long)m->end);
}

void sparse_close(sparse_rows* m)
{
    array_close(&m->indptr);
    array_close(&m->indices);
    array_close(&m->data);
}

int64_t sparse_next(sparse_rows* m, error* why)
{
    int64_t begin = m->end;
    if (!array_ints(&m->indptr, &m->end, 1, why)) return -1;
    m->row++;
    if (m->end >= begin && m->end <= m->indices.h.count) return m->end - begin;
    error_set(why, "%s: row %lld is [%lld, %lld) of %lld elements", source_name(m->indptr.in),
              (long long)(m->row - 1), (long long)begin, (long long)m->end, (long long)m->indices.h.count);
    return -1;
}

bool sparse_end(sparse_rows* m, error* why)
{
    if (m->end != m->indices.h.count)
        return error_set(why, "%s: ends with %lld, there are %lld indices", source_name(m->indptr.in),
                         (long long)m->end, (long long)m->indices.h.count);
    return array_end(&m->indptr, why) && array_end(&m->indices, why) && (!m->data.in || array_end(&m->data, why));
}

bool read_shape(int64_t shape[2], const array_set* set, const char* name, error* why)
{
    array a;
    if (!array_open(&a, set, name, true, why)) return false;
    bool ok = a.h.count == 2 ? array_ints(&a, shape, 2, why) : array_wrong_shape(&a, "(2)", why);
    if (ok && (shape[0] < 0 || shape[1] < 0)) ok = error_set(why, "%s: negative", source_name(a.in));
    array_close(&a);
    return ok;
}

bool read_square(int64_t* nodes, const array_set* set, const char* name, error* why)
{
    int64_t shape[2];
    if (!read_shape(shape, set, name, why)) return false;
    *nodes = shape[0];
    return shape[0] == shape[1] || error_set(why, "%s: the adjacency matrix is %lld by %lld", set->path, (long long)shape[0], (long long)shape[1]);
}

/* The edges of one row: into it (CSC) or out of it (CSR). */
static bool read_sparse_row(builder* b, sparse_rows* m, int64_t count, bool outgoing, error* why)
{
    int64_t row[CHUNK], other[CHUNK];
    float weight[CHUNK];
    for (int64_t done = 0, some; done < count; done += some) {
        some = smaller(CHUNK, count - done);
        for (int64_t i = 0; i < some; i++) row[i] = m->row - 1;
        if (!array_ints(&m->indices, other, some, why) || (m->data.in && !array_floats(&m->data, weight, some, why)))
            return false;
        if (!builder_add_edges(b, outgoing ? row : other, outgoing ? other : row, m->data.in ? weight : NULL, some,
                               why))
            return false;
    }
    return true;
}

bool read_sparse_edges(builder* b, sparse_rows* m, bool outgoing, const builder_edges* about, error* why)
{
    bool ok = builder_begin_edges(b, about, why);
    progress_begin(&b->bar, "reading edges", "edges", m->indices.h.count);
    for (int64_t v = 0, count; v < m->rows && ok; v++) {
        count = sparse_next(m, why);
        ok = count >= 0 && read_sparse_row(b, m, count, outgoing, why);
        progress_update(&b->bar, m->end);
    }
    progress_end(&b->bar, m->end, false);
    return ok && sparse_end(m, why) && builder_end_edges(b, why);
}

/* ---- features ------------------------------------------------------------------------------------------------- */

static bool add_features(void* context, const float* rows, int64_t count, error* why)
{
    return builder_add_features(context, rows, count, why);
}

bool read_dense_features(builder* b, array* a, error* why)
{
    if (a->h.num_dims < 1 || a->h.num_dims > 2 || a->h.shape[0] != b->num_nodes)
        return wrong_rows(b->num_nodes, "nodes", a, "(nodes, width)", why);
    b->halves = array_halves(a);
    b->place = source_name(a->in);
    if (!builder_begin_features(b, array_width(a), why)) return false;
    progress_begin(&b->bar, "reading features", "values", a->h.count);
    bool ok = array_rows(a, resources_memory_or(b->how->memory), &b->bar, add_features, b, why);
    progress_end(&b->bar, a->h.count, false);
    return ok && builder_end_features(b, why);
}

bool read_sparse_features(builder* b, sparse_rows* m, int64_t width, error* why)
{
    b->place = source_name((m->data.in ? &m->data : &m->indices)->in);
    if (!builder_begin_features(b, width, why)) return false;
    float* row = memory_new(memory_product((size_t)width, sizeof *row, 1), "a row of features", why);
    bool ok = row != NULL;
    progress_begin(&b->bar, "reading features", "values", m->indices.h.count);
    for (int64_t v = 0; v < m->rows && ok; v++) {
        int64_t count = sparse_next(m, why);
        ok = count >= 0;
        memset(row, 0, (size_t)width * sizeof *row);
        for (int64_t i = 0; i < count && ok; i++) {
            int64_t column;
            float value = 1;
            ok = array_ints(&m->indices, &column, 1, why) && (!m->data.in || array_floats(&m->data, &value, 1, why));
            if (ok && (column < 0 || column >= width))
                ok = error_set(why, "%s: row %lld: column %lld is outside [0, %lld)", source_name(m->indices.in),
                               (long long)v, (long long)column, (long long)width);
            if (ok) row[column] += value;
        }
        ok = ok && builder_add_features(b, row, 1, why);
        progress_update(&b->bar, m->end);
    }
    progress_end(&b->bar, m->end, false);
    memory_free(row);
    return ok && sparse_end(m, why) && builder_end_features(b, why);
}

/* ---- labels --------------------------------------------------------------------------------------------------- */

bool check_labels(const builder* b, const array_set* set, const char* names, error* why)
{
    array a;
    if (!builder_wants_labels(b)) return true;
    if (!array_open(&a, set, names, false, why)) return false;
    bool ok = !a.in || builder_one_label(&a, why);
    array_close(&a);
    return ok;
}

bool read_dense_labels(builder* b, array* a, error* why)
{
    bool one = a->h.num_dims == 1 || (a->h.num_dims == 2 && a->h.shape[1] == 1);
    if (!builder_one_label(a, why)) return false;
    if (!one || a->h.shape[0] != b->num_nodes) return wrong_rows(b->num_nodes, "nodes", a, "(nodes), one label a node,", why);
    double* value = memory_new(memory_product((size_t)b->num_nodes, sizeof *value, 1), "labels", why);
    bool ok = value != NULL;
    for (int64_t done = 0, some; done < b->num_nodes && ok; done += some) {
        int64_t whole[COLUMN_CHUNK];
        float real[COLUMN_CHUNK];
        some = smaller(COLUMN_CHUNK, b->num_nodes - done);
        ok = a->h.kind == 'f' ? array_floats(a, real, some, why) : array_ints(a, whole, some, why);
        for (int64_t i = 0; i < some && ok; i++)
            value[done + i] = a->h.kind == 'f' ? (double)real[i] : (double)whole[i];
    }
    b->place = source_name(a->in);
    ok = ok && array_end(a, why) && builder_add_labels(b, value, why);
    memory_free(value);
    return ok;
}

/* ---- splits --------------------------------------------------------------------------------------------------- */

/* The masks of one part: (N) or (splits, N), of numbers that are zero or not. */
static bool read_masks(builder* b, array* a, int part, error* why)
{
    int64_t value[COLUMN_CHUNK], splits = b->num_splits, nodes = b->num_nodes;
    if (a->h.count != splits * nodes || a->h.shape[a->h.num_dims - 1] != nodes)
        return array_wrong_shape(a, "(splits, nodes)", why);
    for (int64_t done = 0, some; done < a->h.count; done += some) {
        some = smaller(COLUMN_CHUNK, a->h.count - done);
        if (!array_ints(a, value, some, why)) return false;
        for (int64_t i = 0; i < some; i++) {
            int64_t e = done + i, split = a->h.fortran ? e % splits : e / nodes,
                    node = a->h.fortran ? e / splits : e % nodes;
            if (value[i] && !builder_mark(b, split, node, part, why)) return false;
        }
    }
    return true;
}

static bool read_ids(builder* b, array* a, int part, error* why)
{
    for (int64_t i = 0; i < a->h.count; i++) {
        int64_t node;
        if (!array_ints(a, &node, 1, why)) return false;
        if (node >= 0 && node < b->num_nodes && b->split[node] == part)
            return error_set(why, "%s: element %lld: node %lld is listed twice (a mask of wide integers? "
                             "bools, bytes and floats are masks)",
                             source_name(a->in), (long long)i, (long long)node);
        if (!builder_mark(b, 0, node, part, why)) return false;
    }
    return true;
}

/* Bools, bytes and floats are masks; a list of wider integers is a list of node ids. */
static bool is_mask(const array* a) { return a->h.size == 1 || a->h.kind == 'f' || a->h.num_dims == 2; }

static bool read_parts(builder* b, array part[3], error* why)
{
    int64_t splits = 1;
    for (int k = 0; k < 3; k++)
        if (part[k].in && is_mask(&part[k]) && part[k].h.num_dims == 2) splits = part[k].h.shape[0], b->place = source_name(part[k].in);
    if (!builder_begin_splits(b, splits, why)) return false;
    for (int k = 0; k < 3; k++) {
        array* a = &part[k];
        if (!a->in) continue;
        b->place = source_name(a->in);
        if (a->h.num_dims < 1 || a->h.num_dims > 2) return array_wrong_shape(a, "a mask or a list of ids", why);
        if (!(is_mask(a) ? read_masks(b, a, k + 1, why) : read_ids(b, a, k + 1, why)) || !array_end(a, why))
            return false;
    }
    return true;
}

bool read_split_array(builder* b, array* a, error* why)
{
    const int dims = a->h.num_dims;
    if (dims < 1 || dims > 2 || a->h.shape[dims - 1] != b->num_nodes || a->h.fortran)
        return wrong_rows(b->num_nodes, "nodes", a, "(nodes) or (splits, nodes), by rows,", why);
    b->place = source_name(a->in);
    if (!builder_begin_splits(b, dims == 2 ? a->h.shape[0] : 1, why)) return false;
    for (int64_t i = 0; i < a->h.count; i++) {
        int64_t part;
        if (!array_ints(a, &part, 1, why)) return false;
        if (part < 0 || part > 3)
            return error_set(why, "%s: element %lld is %lld, not 0 to 3", source_name(a->in), (long long)i,
                             (long long)part);
        if (part && !builder_mark(b, i / b->num_nodes, i % b->num_nodes, (int)part, why)) return false;
    }
    return array_end(a, why);
}

bool read_splits(builder* b, const array_set* set, error* why)
{
    array whole = {0}, part[3];
    memset(part, 0, sizeof part);
    bool ok = array_open(&whole, set, "split", false, why) &&
              array_open(&part[0], set, "train_masks|train_mask|train", false, why) &&
              array_open(&part[1], set, "val_masks|val_mask|valid|val", false, why) &&
              array_open(&part[2], set, "test_masks|test_mask|test", false, why);
    if (ok && whole.in)
        ok = read_split_array(b, &whole, why);
    else if (ok && (part[0].in || part[1].in || part[2].in))
        ok = read_parts(b, part, why);
    array_close(&whole);
    for (int k = 0; k < 3; k++) array_close(&part[k]);
    return ok;
}

/* ---- folders that hold files of several kinds ------------------------------------------------------------------ */

bool refuse_pickle(const char* path, const char* instead, error* why)
{
    return error_set(why, "%s: is a pickle, and reading one may run code: it is not read%s", path, instead);
}

bool find_file(char path[SOURCE_PATH], const char* folder, const char* name, error* why)
{
    if (!path_in(path, folder, name, why)) return false;
    return access(path, F_OK) == 0 || error_set(why, "%s: no file %s in it", folder, name);
}

/* ---- features, labels and splits: beside IN, or the format's own ------------------------------------------------ */

bool read_named(builder* b, const array_set* set, const char* names, bool needed, array_reader* read, error* why)
{
    array a;
    bool ok = array_open(&a, set, names, needed, why) && (!a.in || read(b, &a, why));
    array_close(&a);
    return ok;
}

typedef struct { /* of the nodes: a file beside IN, NULL: none, and how such an array is read; what the format has */
    const char* beside;
    array_reader* read;
    node_reader* own;
} node_part;

static bool read_beside(builder* b, const node_part* part, error* why)
{
    array a;
    bool ok = array_open_file(&a, part->beside, why) && part->read(b, &a, why);
    array_close(&a);
    return ok;
}

static bool read_part(builder* b, const node_part* part, const void* from, error* why)
{
    bool ok = part->beside ? read_beside(b, part, why) : !part->own || part->own(b, from, why);
    b->place = NULL; /* it is closed */
    return ok;
}

bool read_nodes(builder* b, node_reader* features, node_reader* labels, node_reader* splits, const void* from, error* why)
{
    const convert_options* how = b->how;
    const node_part part[3] = {{how->features, read_dense_features, features},
                               {how->labels, read_dense_labels, labels},
                               {how->split_file, read_split_array, splits}};
    return (b->rows || how->no_features || read_part(b, &part[0], from, why)) &&
           (builder_has_labels(b) || read_part(b, &part[1], from, why)) &&
           (b->split || how->split || read_part(b, &part[2], from, why));
}
