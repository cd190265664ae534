/* SciPy's sparse matrices, as scipy.sparse.save_npz writes them. */
#include <stdio.h>
#include <string.h>

#include "common/printable.h"
#include "datasets/graph_arrays.h"
#include "datasets/readers.h"

/* Rows (csr) or columns (csc) of A: [i, j] is the edge i -> j. */
static bool read_compressed(builder* b, const array_set* set, int64_t nodes, bool rows, bool weighted, error* why)
{
    static const char* const names[3] = {"indptr", "indices", "data"};
    sparse_rows m;
    bool ok = sparse_open(&m, set, names, nodes, true, why);
    if (!weighted) array_close(&m.data);
    int64_t count = ok ? m.indices.h.count : 0;
    builder_edges about = {nodes, count, count, weighted, false, false, 0, 0};
    ok = ok && read_sparse_edges(b, &m, rows, &about, why);
    sparse_close(&m);
    return ok;
}

/* row (E) and col (E), or coords (2, E), as SciPy may write in time. */
static bool open_coordinates(array* row, array* col, array* data, const array_set* set, error* why)
{
    bool one = !arrays_have(set, "row") && arrays_have(set, "coords");
    memset(row, 0, sizeof *row);
    memset(col, 0, sizeof *col);
    if (!array_open(data, set, "data", true, why)) return false;
    if (data->h.num_dims != 1) return array_wrong_shape(data, "(elements)", why);
    if (!array_open(row, set, one ? "coords" : "row", true, why)) return false;
    if (one && (row->h.num_dims != 2 || row->h.shape[0] != 2 || row->h.shape[1] != data->h.count || row->h.fortran))
        return array_wrong_shape(row, "(2, as many as data), by rows,", why);
    if (one) return open_targets(col, set, "coords", data->h.count, why);
    if (!array_open(col, set, "col", true, why)) return false;
    for (array* a = row; a; a = a == row ? col : NULL)
        if (a->h.num_dims != 1 || a->h.count != data->h.count) return array_wrong_shape(a, "as many as data", why);
    return true;
}

static bool read_coordinates(builder* b, const array_set* set, int64_t nodes, bool weighted, error* why)
{
    array row, col, data;
    bool ok = open_coordinates(&row, &col, &data, set, why);
    const int64_t count = ok ? data.h.count : 0;
    builder_edges about = {nodes, count, count, weighted, false, false, 0, 0};
    ok = ok && builder_begin_edges(b, &about, why);
    progress_begin(&b->bar, "reading edges", "edges", count);
    ok = ok && read_columns(b, &row, &col, weighted ? &data : NULL, count, why) && (!weighted || array_end(&data, why)) &&
         (row.h.num_dims == 2 ? array_end_both(&row, &col, why) : array_end(&col, why) && array_end(&row, why));
    progress_end(&b->bar, count, false);
    array_close(&row);
    array_close(&col);
    array_close(&data);
    return ok && builder_end_edges(b, why);
}

static bool read_matrix(builder* b, const array_set* set, bool weighted, error* why)
{
    char format[NPY_TEXT + 1];
    int64_t nodes;
    if (!arrays_text(set, "format", format, why) || !read_square(&nodes, set, "shape", why)) return false;
    if (strcmp(format, "coo") == 0) return read_coordinates(b, set, nodes, weighted, why);
    if (strcmp(format, "csr") == 0 || strcmp(format, "csc") == 0)
        return read_compressed(b, set, nodes, format[2] == 'r', weighted, why);
    return error_set(why, "%s: a sparse matrix of format '%s'; csr, csc and coo are read", set->path, format);
}

bool read_scipy_graph(builder* b, const char* path, bool weighted, error* why)
{
    array_set set;
    char shown[4096];
    if (!arrays_open(&set, path, why)) return false;
    bool ok = read_matrix(b, &set, weighted, why);
    if (ok && !weighted && b->how->report)
        fprintf(b->how->report, "weights    none: the data of %s are not taken for them\n", printable(shown, sizeof shown, path));
    arrays_close(&set);
    return ok;
}

bool read_scipy(builder* b, const char* in, error* why) { return read_scipy_graph(b, in, true, why); }
