/* graph_files.h - one graph, written in every format that convert reads. */
#ifndef GRAPH_FILES_H
#define GRAPH_FILES_H
#include <math.h>

#include "ggnn.h"
#include "tests/archive.h"
#include "tests/folder.h"
#include "tests/test.h"

enum { MODEL_NODES = 40, MODEL_WIDTH = 5, MODEL_EDGE_WIDTH = 3, MODEL_SPLITS = 3, MODEL_EDGES_MAX = 400 };

typedef struct {
    int64_t num_edges;
    int64_t src[MODEL_EDGES_MAX], dst[MODEL_EDGES_MAX];
    float weight[MODEL_EDGES_MAX];
    float edge_feat[MODEL_EDGES_MAX][MODEL_EDGE_WIDTH]; /* all differ, and are halves, too */
    float feat[MODEL_NODES][MODEL_WIDTH];
    int64_t label[MODEL_NODES];               /* -1: unknown */
    uint8_t split[MODEL_SPLITS][MODEL_NODES]; /* 0 where there is no label */
} model;

/* Duplicates, self-loops, an isolated node (17), a hub (3); weights of duplicates differ. */
static inline void model_make(model* m, int64_t num_edges)
{
    memset(m, 0, sizeof *m);
    m->num_edges = num_edges;
    for (int64_t e = 0; e < num_edges; e++) {
        do m->src[e] = test_below(MODEL_NODES);
        while (m->src[e] == 17);
        do m->dst[e] = e % 5 ? test_below(MODEL_NODES) : 3;
        while (m->dst[e] == 17);
        if (e % 10 == 7) m->dst[e] = m->src[e];
        if (e % 10 == 9) {
            m->src[e] = m->src[e - 3];
            m->dst[e] = m->dst[e - 3];
        }
        m->weight[e] = (float)test_below(1000) / 8;
        for (int j = 0; j < MODEL_EDGE_WIDTH; j++) m->edge_feat[e][j] = (float)(e * MODEL_EDGE_WIDTH + j) - 500;
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        m->label[v] = v % 9 == 4 ? -1 : test_below(6);
        for (int j = 0; j < MODEL_WIDTH; j++) m->feat[v][j] = test_below(3) ? (float)test_below(64) / 16 - 2 : 0;
        for (int s = 0; s < MODEL_SPLITS; s++) m->split[s][v] = m->label[v] < 0 ? 0 : (uint8_t)test_below(4);
    }
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static inline void put_string(bytes* b, const char* string) { put(b, string, strlen(string)); }

static inline void put_edge_columns(bytes* b, const model* m, const char* separator, int64_t base, bool weights, bool features)
{
    for (int64_t e = 0; e < m->num_edges; e++) {
        char line[256];
        int n = snprintf(line, sizeof line, "%lld%s%lld", (long long)(m->src[e] + base), separator,
                         (long long)(m->dst[e] + base));
        if (weights) n += snprintf(line + n, sizeof line - (size_t)n, "%s%.9g", separator, (double)m->weight[e]);
        for (int j = 0; j < MODEL_EDGE_WIDTH && features; j++)
            n += snprintf(line + n, sizeof line - (size_t)n, "%s%.9g", separator, (double)m->edge_feat[e][j]);
        put(b, line, (size_t)n);
        put_string(b, "\n");
    }
}

static inline void put_edge_lines(bytes* b, const model* m, const char* separator, int64_t base, bool weights)
{
    put_edge_columns(b, m, separator, base, weights, false);
}

static inline void save(bytes b, const char* name, bool gzip)
{
    char path[600], file[300];
    bytes packed = {0};
#ifndef HAVE_ZLIB
    gzip = false;
#endif
    snprintf(file, sizeof file, "%s%s", name, gzip ? ".gz" : "");
    if (gzip) packed = gzip_bytes(b.data, b.size);
    write_file(folder_path(path, file), gzip ? packed.data : b.data, gzip ? packed.size : b.size);
    drop(&packed);
    drop(&b);
}

static inline void model_mtx(const model* m, const char* name, bool gzip)
{
    bytes b = {0};
    char sizes[64];
    put_string(&b, "%%MatrixMarket matrix coordinate real general\n% a comment\n");
    snprintf(sizes, sizeof sizes, "%d %d %lld\n", MODEL_NODES, MODEL_NODES, (long long)m->num_edges);
    put_string(&b, sizes);
    put_edge_lines(&b, m, " ", 1, true);
    save(b, name, gzip);
}

static inline void model_list(const model* m, const char* name, const char* head, const char* separator, int64_t base,
                              bool weights, bool gzip)
{
    bytes b = {0};
    put_string(&b, head);
    put_edge_lines(&b, m, separator, base, weights);
    save(b, name, gzip);
}

/* ---- OGB ------------------------------------------------------------------------------------------------------ */

static inline void make_folder(const char* name)
{
    char path[600];
    mkdir(folder_path(path, name), 0777);
}

static inline void save_numbers(const char* folder_name, const char* name, const int64_t* numbers, int64_t count,
                                bool gzip)
{
    bytes b = {0};
    char line[32], file[200];
    for (int64_t i = 0; i < count; i++) {
        snprintf(line, sizeof line, "%lld\n", (long long)numbers[i]);
        put_string(&b, line);
    }
    snprintf(file, sizeof file, "%s/%s.csv", folder_name, name);
    save(b, file, gzip);
}

/* Split 0 alone: the format has no more. */
static inline void model_ogb_split(const model* m, const char* name, bool gzip)
{
    static const char* const part[] = {"", "train", "valid", "test"};
    char folder_name[128];
    snprintf(folder_name, sizeof folder_name, "%s/split", name);
    make_folder(folder_name);
    snprintf(folder_name, sizeof folder_name, "%s/split/time", name);
    make_folder(folder_name);
    for (int k = 1; k <= 3; k++) {
        int64_t id[MODEL_NODES], n = 0;
        for (int v = 0; v < MODEL_NODES; v++)
            if (m->split[0][v] == k) id[n++] = v;
        save_numbers(folder_name, part[k], id, n, gzip);
    }
}

static inline void model_ogb(const model* m, const char* name, bool gzip)
{
    char folder_name[128], file[200];
    bytes b = {0};
    int64_t nodes = MODEL_NODES;
    make_folder(name);
    snprintf(folder_name, sizeof folder_name, "%s/raw", name);
    make_folder(folder_name);
    save_numbers(folder_name, "num-node-list", &nodes, 1, gzip);
    save_numbers(folder_name, "num-edge-list", &m->num_edges, 1, gzip);
    save_numbers(folder_name, "node-label", m->label, MODEL_NODES, gzip);
    put_edge_lines(&b, m, ",", 0, false);
    snprintf(file, sizeof file, "%s/edge.csv", folder_name);
    save(b, file, gzip);
    b = (bytes){0};
    for (int v = 0; v < MODEL_NODES; v++)
        for (int j = 0; j < MODEL_WIDTH; j++) {
            char text[32];
            snprintf(text, sizeof text, "%.9g%s", (double)m->feat[v][j], j < MODEL_WIDTH - 1 ? "," : "\n");
            put_string(&b, text);
        }
    snprintf(file, sizeof file, "%s/node-feat.csv", folder_name);
    save(b, file, gzip);
    model_ogb_split(m, name, gzip);
}

/* A folder's rows of edges. */
static inline void model_ogb_rows(const model* m, const char* name, bool gzip)
{
    bytes b = {0};
    char line[128], file[200];
    for (int64_t e = 0; e < m->num_edges; e++) {
        const float* row = m->edge_feat[e];
        snprintf(line, sizeof line, "%.9g,%.9g,%.9g\n", (double)row[0], (double)row[1], (double)row[2]);
        put_string(&b, line);
    }
    snprintf(file, sizeof file, "%s/raw/edge-feat.csv", name);
    save(b, file, gzip);
}

/* ---- arrays --------------------------------------------------------------------------------------------------- */

typedef struct { /* where arrays go: an archive, or a folder */
    zip_maker* zip;
    const char* folder_name;
} array_sink;

static inline void put_npy(array_sink* to, const char* name, bytes npy)
{
    char file[200];
    if (to->zip) {
        snprintf(file, sizeof file, "%s.npy", name);
        zip_add_npy(to->zip, file, npy);
    } else {
        snprintf(file, sizeof file, "%s/%s.npy", to->folder_name, name);
        save(npy, file, false);
    }
}

static inline void put_vector(array_sink* to, const char* name, const char* type, int64_t count, const void* data,
                              size_t element)
{
    char shape[32];
    snprintf(shape, sizeof shape, "%lld,", (long long)count);
    put_npy(to, name, npy_of(type, shape, false, data, (size_t)count * element));
}

/* A matrix given by rows of 8-, 4- or 1-byte elements, written by rows or by columns. */
static inline void put_matrix(array_sink* to, const char* name, const char* type, int64_t rows, int64_t columns,
                              const void* data, size_t element, bool fortran)
{
    char shape[64];
    bytes b = {0};
    snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        int64_t r = fortran ? i % rows : i / columns, c = fortran ? i / rows : i % columns;
        put(&b, (const char*)data + (size_t)(r * columns + c) * element, element);
    }
    put_npy(to, name, npy_of(type, shape, fortran, b.data, b.size));
    drop(&b);
}

typedef enum { EDGES_PAIRS, EDGES_INDEX, EDGES_CSC } edge_layout;

static inline void put_edge_arrays(array_sink* to, const model* m, edge_layout layout, bool fortran)
{
    int64_t both[2 * MODEL_EDGES_MAX], indptr[MODEL_NODES + 1] = {0}, indices[MODEL_EDGES_MAX], n = m->num_edges,
                                                            e = 0;
    for (int64_t i = 0; i < n; i++) {
        both[layout == EDGES_PAIRS ? 2 * i : i] = m->src[i];
        both[layout == EDGES_PAIRS ? 2 * i + 1 : n + i] = m->dst[i];
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        for (int64_t i = 0; i < n; i++)
            if (m->dst[i] == v) indices[e++] = m->src[i];
        indptr[v + 1] = e;
    }
    if (layout == EDGES_PAIRS) put_matrix(to, "edges", "<i8", n, 2, both, 8, fortran);
    if (layout == EDGES_INDEX) put_matrix(to, "edge_index", "<i8", 2, n, both, 8, fortran);
    if (layout != EDGES_CSC) return;
    put_vector(to, "indptr", "<i8", MODEL_NODES + 1, indptr, 8);
    put_vector(to, "indices", "<i8", n, indices, 8);
}

/* The rows of edges in the order in which a layout has these; by source: as rows of an adjacency matrix list them. */
typedef enum { ORDER_LIST, ORDER_BY_TARGET, ORDER_BY_SOURCE } edge_order;

static inline void put_edge_features(array_sink* to, const model* m, const char* name, edge_order order, bool fortran)
{
    float row[MODEL_EDGES_MAX][MODEL_EDGE_WIDTH];
    int64_t n = 0;
    for (int v = 0; v < MODEL_NODES; v++)
        for (int64_t e = 0; e < m->num_edges; e++) {
            if (order == ORDER_LIST ? v > 0 : (order == ORDER_BY_TARGET ? m->dst[e] : m->src[e]) != v) continue;
            memcpy(row[n++], m->edge_feat[e], sizeof row[0]);
        }
    put_matrix(to, name, "<f4", n, MODEL_EDGE_WIDTH, row, 4, fortran);
}

static inline void put_model(array_sink* to, const model* m, edge_layout layout, bool fortran)
{
    static const char* const part[] = {"", "train_masks", "val_masks", "test_masks"};
    put_matrix(to, "node_features", "<f4", MODEL_NODES, MODEL_WIDTH, m->feat, 4, fortran);
    put_vector(to, "node_labels", "<i8", MODEL_NODES, m->label, 8);
    put_edge_arrays(to, m, layout, fortran);
    for (uint8_t k = 1; k <= 3; k++) {
        uint8_t mask[MODEL_SPLITS][MODEL_NODES];
        for (int s = 0; s < MODEL_SPLITS; s++)
            for (int v = 0; v < MODEL_NODES; v++) mask[s][v] = m->split[s][v] == k;
        put_matrix(to, part[k], "|b1", MODEL_SPLITS, MODEL_NODES, mask, 1, fortran);
    }
}

static inline bytes model_npz_bytes(const model* m, edge_layout layout, bool fortran, bool deflated)
{
    zip_maker z = {.deflated = deflated};
    array_sink to = {&z, NULL};
    put_model(&to, m, layout, fortran);
    return zip_end(&z);
}

static inline void model_npz(const model* m, const char* name, edge_layout layout, bool fortran, bool deflated)
{
    save(model_npz_bytes(m, layout, fortran, deflated), name, false);
}

static inline void model_npy(const model* m, const char* name, edge_layout layout, bool fortran)
{
    array_sink to = {NULL, name};
    make_folder(name);
    put_model(&to, m, layout, fortran);
}

/* Rows of the adjacency matrix hold targets; features sparse or dense; labels plain or one-hot. */
static inline bytes model_shchur_bytes(const model* m, bool sparse, bool deflated)
{
    zip_maker z = {.deflated = deflated};
    array_sink to = {&z, NULL};
    int64_t shape[2] = {MODEL_NODES, MODEL_NODES}, e = 0;
    int32_t indptr[MODEL_NODES + 1] = {0}, indices[MODEL_EDGES_MAX], n = 0;
    float ones[MODEL_EDGES_MAX], value[MODEL_NODES * MODEL_WIDTH];
    for (int32_t v = 0; v < MODEL_NODES; v++) {
        for (int64_t i = 0; i < m->num_edges; i++)
            if (m->src[i] == v) indices[e++] = (int32_t)m->dst[i];
        indptr[v + 1] = (int32_t)e;
    }
    for (int64_t i = 0; i < e; i++) ones[i] = 1;
    put_vector(&to, "adj_data", "<f4", e, ones, 4);
    put_vector(&to, "adj_indices", "<i4", e, indices, 4);
    put_vector(&to, "adj_indptr", "<i4", MODEL_NODES + 1, indptr, 4);
    put_vector(&to, "adj_shape", "<i8", 2, shape, 8);
    if (!sparse) {
        put_matrix(&to, "attr_matrix", "<f4", MODEL_NODES, MODEL_WIDTH, m->feat, 4, false);
        put_vector(&to, "labels", "<i8", MODEL_NODES, m->label, 8);
        return zip_end(&z);
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        for (int j = MODEL_WIDTH; j-- > 0;) {
            if (m->feat[v][j] == 0) continue;
            value[n] = m->feat[v][j];
            indices[n++] = j;
        }
        indptr[v + 1] = n;
    }
    shape[1] = MODEL_WIDTH;
    put_vector(&to, "attr_data", "<f4", n, value, 4);
    put_vector(&to, "attr_indices", "<i4", n, indices, 4);
    put_vector(&to, "attr_indptr", "<i4", MODEL_NODES + 1, indptr, 4);
    put_vector(&to, "attr_shape", "<i8", 2, shape, 8);
    n = 0;
    for (int v = 0; v < MODEL_NODES; v++) {
        if (m->label[v] >= 0) indices[n++] = (int32_t)m->label[v];
        indptr[v + 1] = n;
    }
    put_vector(&to, "labels_data", "<f4", n, ones, 4);
    put_vector(&to, "labels_indices", "<i4", n, indices, 4);
    put_vector(&to, "labels_indptr", "<i4", MODEL_NODES + 1, indptr, 4);
    put_vector(&to, "labels_shape", "<i8", 2, shape, 8);
    return zip_end(&z);
}

static inline void model_shchur(const model* m, const char* name, bool sparse, bool deflated)
{
    save(model_shchur_bytes(m, sparse, deflated), name, false);
}

/* OGB's binary form: raw/data.npz as a member of its own, or of zip64, and raw/node-label.npz with nan for -1. rows: of edges, too. */
static inline bytes model_ogb_arrays(const model* m, bool deflated, bool zip64, bool rows)
{
    zip_maker z = {.deflated = deflated, .zip64 = zip64};
    array_sink to = {&z, NULL};
    const int64_t nodes = MODEL_NODES;
    int64_t year[MODEL_NODES] = {0};
    put_vector(&to, "num_nodes_list", "<i8", 1, &nodes, 8);
    put_edge_arrays(&to, m, EDGES_INDEX, false);
    put_vector(&to, "num_edges_list", "<i8", 1, &m->num_edges, 8);
    put_matrix(&to, "node_feat", "<f4", MODEL_NODES, MODEL_WIDTH, m->feat, 4, false);
    put_matrix(&to, "node_year", "<i8", MODEL_NODES, 1, year, 8, false);
    if (rows) put_edge_features(&to, m, "edge_feat", ORDER_LIST, false);
    return zip_end(&z);
}

static inline bytes model_ogb_labels(const model* m, bool deflated)
{
    zip_maker z = {.deflated = deflated};
    float label[MODEL_NODES];
    for (int v = 0; v < MODEL_NODES; v++) label[v] = m->label[v] < 0 ? NAN : (float)m->label[v];
    put_matrix(&(array_sink){&z, NULL}, "node_label", "<f4", MODEL_NODES, 1, label, 4, false);
    return zip_end(&z);
}

static inline void model_ogb_binary(const model* m, const char* name, bool deflated, bool rows)
{
    char file[200];
    make_folder(name);
    snprintf(file, sizeof file, "%s/raw", name);
    make_folder(file);
    snprintf(file, sizeof file, "%s/raw/data.npz", name);
    save(model_ogb_arrays(m, deflated, !deflated, rows), file, false);
    snprintf(file, sizeof file, "%s/raw/node-label.npz", name);
    save(model_ogb_labels(m, deflated), file, false);
    model_ogb_split(m, name, deflated);
}

/* SciPy's save_npz of the adjacency matrix: [src, dst] holds the weight. csr and csc with 32-bit indices; coo as row and
   col; "coords": coo in one array. */
static inline bytes model_scipy_bytes(const model* m, const char* format, bool deflated)
{
    zip_maker z = {.deflated = deflated};
    array_sink to = {&z, NULL};
    int64_t shape[2] = {MODEL_NODES, MODEL_NODES}, both[2 * MODEL_EDGES_MAX], n = m->num_edges, e = 0;
    const bool rows = strcmp(format, "csr") == 0, columns = strcmp(format, "csc") == 0, one = strcmp(format, "coords") == 0;
    int32_t indptr[MODEL_NODES + 1] = {0}, indices[MODEL_EDGES_MAX];
    float data[MODEL_EDGES_MAX];
    for (int32_t v = 0; v < MODEL_NODES && (rows || columns); v++) {
        for (int64_t i = 0; i < n; i++) {
            if ((rows ? m->src[i] : m->dst[i]) != v) continue;
            data[e] = m->weight[i];
            indices[e++] = (int32_t)(rows ? m->dst[i] : m->src[i]);
        }
        indptr[v + 1] = (int32_t)e;
    }
    if (rows || columns) {
        put_vector(&to, "indices", "<i4", n, indices, 4);
        put_vector(&to, "indptr", "<i4", MODEL_NODES + 1, indptr, 4);
    } else if (one) {
        memcpy(both, m->src, (size_t)n * 8);
        memcpy(both + n, m->dst, (size_t)n * 8);
        put_matrix(&to, "coords", "<i8", 2, n, both, 8, false);
    } else {
        put_vector(&to, "row", "<i8", n, m->src, 8);
        put_vector(&to, "col", "<i8", n, m->dst, 8);
    }
    put_npy(&to, "format", npy_of("|S3", "", false, one ? "coo" : format, 3));
    put_vector(&to, "shape", "<i8", 2, shape, 8);
    put_vector(&to, "data", "<f4", n, rows || columns ? data : m->weight, 4);
    put_npy(&to, "_is_array", npy_of("|b1", "", false, "\1", 1));
    return zip_end(&z);
}

static inline void model_scipy(const model* m, const char* name, const char* format, bool deflated)
{
    save(model_scipy_bytes(m, format, deflated), name, false);
}

/* ---- GraphSAINT, and DGL's Reddit: split 0 alone; the weights of edges are in the matrix, and are not to be read -- */

/* {"id": class, ...} of the nodes that have one, in no order of ids. */
static inline void put_class_map(bytes* b, const model* m)
{
    const char* before = "{";
    for (int i = 0; i < MODEL_NODES; i++) {
        const int v = i * 7 % MODEL_NODES; /* 7 does not divide 40 */
        char text[60];
        if (m->label[v] < 0) continue;
        snprintf(text, sizeof text, "%s\"%d\": %d", before, v, (int)m->label[v]);
        put_string(b, text);
        before = ", ";
    }
    put_string(b, *before == '{' ? "{}" : "}");
}

/* {"te": [...], "tr": [...], "va": [...]} */
static inline void put_roles(bytes* b, const model* m)
{
    static const int part[] = {3, 1, 2};
    static const char* const head[] = {"{\"te\": [", "], \"tr\": [", "], \"va\": ["};
    for (int k = 0; k < 3; k++) {
        const char* before = "";
        put_string(b, head[k]);
        for (int v = MODEL_NODES; v-- > 0;) {
            char text[40];
            if (m->split[0][v] != part[k]) continue;
            snprintf(text, sizeof text, "%s%d", before, v);
            put_string(b, text);
            before = ", ";
        }
    }
    put_string(b, "]}");
}

static inline void save_in(bytes b, const char* folder_name, const char* name)
{
    char file[200];
    snprintf(file, sizeof file, "%s/%s", folder_name, name);
    save(b, file, false);
}

/* wide: features of 8 bytes. */
static inline void model_graphsaint(const model* m, const char* name, bool wide, bool deflated)
{
    double feat[MODEL_NODES][MODEL_WIDTH];
    bytes text = {0};
    array_sink to = {NULL, name};
    make_folder(name);
    for (int i = 0; i < MODEL_NODES * MODEL_WIDTH; i++) feat[i / MODEL_WIDTH][i % MODEL_WIDTH] = (double)m->feat[i / MODEL_WIDTH][i % MODEL_WIDTH];
    put_matrix(&to, "feats", wide ? "<f8" : "<f4", MODEL_NODES, MODEL_WIDTH, wide ? (void*)feat : (void*)(uintptr_t)m->feat, wide ? 8 : 4, false);
    save_in(model_scipy_bytes(m, "csr", deflated), name, "adj_full.npz");
    put_string(&text, "not to be read");
    save_in(text, name, "adj_train.npz");
    text = (bytes){0};
    put_class_map(&text, m);
    save_in(text, name, "class_map.json");
    text = (bytes){0};
    put_roles(&text, m);
    save_in(text, name, "role.json");
}

static inline void model_reddit(const model* m, const char* name, bool self_loop, bool deflated)
{
    zip_maker z = {.deflated = deflated};
    array_sink to = {&z, NULL};
    make_folder(name);
    put_matrix(&to, "feature", "<f4", MODEL_NODES, MODEL_WIDTH, m->feat, 4, false);
    put_vector(&to, "label", "<i8", MODEL_NODES, m->label, 8);
    put_vector(&to, "node_types", "|u1", MODEL_NODES, m->split[0], 1);
    save_in(zip_end(&z), name, "reddit_data.npz");
    save_in(model_scipy_bytes(m, "coo", deflated), name, self_loop ? "reddit_self_loop_graph.npz" : "reddit_graph.npz");
}

/* ---- arrays without headers, and papers that cite papers -------------------------------------------------------- */

static inline void save_raw(const char* folder_name, const char* name, const void* data, size_t size)
{
    bytes b = {0};
    char file[200];
    put(&b, data, size);
    snprintf(file, sizeof file, "%s/%s", folder_name, name);
    save(b, file, false);
}

/* index.i64 (2, E), pairs.i32 (E, 2), ptr.i64 and idx.i32 by targets, out.u32 and to.u16 by sources, feat.f32, label.i8, split.u8
   (S, N). */
static inline void model_raw(const model* m, const char* name)
{
    int64_t index[2 * MODEL_EDGES_MAX], ptr[MODEL_NODES + 1] = {0}, n = m->num_edges, in = 0, of = 0;
    int32_t pairs[2 * MODEL_EDGES_MAX], idx[MODEL_EDGES_MAX];
    uint32_t out[MODEL_NODES + 1] = {0};
    uint16_t to[MODEL_EDGES_MAX];
    int8_t label[MODEL_NODES];
    for (int64_t e = 0; e < n; e++) {
        index[e] = pairs[2 * e] = (int32_t)m->src[e];
        index[n + e] = pairs[2 * e + 1] = (int32_t)m->dst[e];
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        for (int64_t e = 0; e < n; e++) {
            if (m->dst[e] == v) idx[in++] = (int32_t)m->src[e];
            if (m->src[e] == v) to[of++] = (uint16_t)m->dst[e];
        }
        ptr[v + 1] = in;
        out[v + 1] = (uint32_t)of;
        label[v] = (int8_t)m->label[v];
    }
    make_folder(name);
    save_raw(name, "index.i64", index, (size_t)n * 16);
    save_raw(name, "pairs.i32", pairs, (size_t)n * 8);
    save_raw(name, "ptr.i64", ptr, sizeof ptr);
    save_raw(name, "idx.i32", idx, (size_t)n * 4);
    save_raw(name, "out.u32", out, sizeof out);
    save_raw(name, "to.u16", to, (size_t)n * 2);
    save_raw(name, "feat.f32", m->feat, sizeof m->feat);
    save_raw(name, "label.i8", label, sizeof label);
    save_raw(name, "split.u8", m->split, sizeof m->split);
}

/* IGB's folder, whose labels are floats; or MAG240M's, whose rows are halves, with years by split 0: 2018, 2019, 2020, and 2018
   where a node is in no part. */
static inline void model_papers(const model* m, const char* name, bool mag)
{
    static const int64_t years[] = {2018, 2017, 2019, 2021};
    char paper[128], cites[160];
    int64_t edges[2 * MODEL_EDGES_MAX], n = m->num_edges, year[MODEL_NODES];
    float label[MODEL_NODES], other[MODEL_NODES];
    uint16_t half[MODEL_NODES * MODEL_WIDTH];
    snprintf(paper, sizeof paper, "%s/processed", name);
    make_folder(name);
    make_folder(paper);
    snprintf(cites, sizeof cites, "%s/%s", paper, mag ? "paper___cites___paper" : "paper__cites__paper");
    strcat(paper, "/paper");
    make_folder(paper);
    make_folder(cites);
    for (int64_t e = 0; e < n; e++) {
        edges[mag ? e : 2 * e] = m->src[e];
        edges[mag ? n + e : 2 * e + 1] = m->dst[e];
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        label[v] = m->label[v] < 0 ? NAN : (float)m->label[v];
        other[v] = (float)(v % 7);
        year[v] = years[m->split[0][v]];
    }
    for (int i = 0; i < MODEL_NODES * MODEL_WIDTH; i++) half[i] = ggnn_float_to_half((&m->feat[0][0])[i]);
    put_matrix(&(array_sink){NULL, cites}, "edge_index", "<i8", mag ? 2 : n, mag ? n : 2, edges, 8, false);
    array_sink to = {NULL, paper};
    put_npy(&to, "node_feat", npy_of(mag ? "<f2" : "<f4", "40, 5", false, mag ? (const void*)half : m->feat, mag ? sizeof half : sizeof m->feat));
    put_vector(&to, mag ? "node_label" : "node_label_19", "<f4", MODEL_NODES, label, 4);
    if (mag) put_vector(&to, "node_year", "<i8", MODEL_NODES, year, 8);
    else put_vector(&to, "node_label_2K", "<f4", MODEL_NODES, other, 4);
}
#endif
