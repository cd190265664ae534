/* ggnn-data convert: the same graph from every format, and what damaged files, full memory and kill -9 do to it. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "datasets/commands.h"
#include "datasets/compact.h"
#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "tests/graph_files.h"

#ifdef HAVE_ZLIB
enum { DEFLATE = 1 };
#else
enum { DEFLATE = 0 };
#endif

/* ---- what is expected ----------------------------------------------------------------------------------------- */

typedef struct {
    int64_t count, src[3 * MODEL_EDGES_MAX], dst[3 * MODEL_EDGES_MAX];
} edge_list;

static bool edge_before(const edge_list* l, int64_t a, int64_t b)
{
    return l->dst[a] < l->dst[b] || (l->dst[a] == l->dst[b] && l->src[a] < l->src[b]);
}

static void add_edge(edge_list* l, int64_t src, int64_t dst, bool once)
{
    for (int64_t i = 0; i < l->count && once; i++)
        if (l->src[i] == src && l->dst[i] == dst) return;
    l->src[l->count] = src;
    l->dst[l->count++] = dst;
    for (int64_t i = l->count - 1; i > 0 && edge_before(l, i, i - 1); i--) {
        int64_t s = l->src[i], d = l->dst[i];
        l->src[i] = l->src[i - 1];
        l->dst[i] = l->dst[i - 1];
        l->src[i - 1] = s;
        l->dst[i - 1] = d;
    }
}

/* The rules, by insertion: the plain twin of builder_end_edges. */
static void expect(edge_list* l, const model* m, const convert_options* how)
{
    l->count = 0;
    for (int64_t e = 0; e < m->num_edges; e++) {
        bool loop = m->src[e] == m->dst[e];
        if (loop && how->loops == LOOPS_DROP) continue;
        add_edge(l, m->src[e], m->dst[e], !how->keep_duplicates);
        if (how->direction == DIRECTION_BOTH && !loop) add_edge(l, m->dst[e], m->src[e], !how->keep_duplicates);
    }
    for (int64_t v = 0; v < MODEL_NODES && how->loops == LOOPS_ADD; v++) add_edge(l, v, v, true);
}

static bool graph_is(const dataset* d, const edge_list* l)
{
    if (d->num_nodes != MODEL_NODES || d->num_edges != l->count || d->csc.indptr[0] != 0) return false;
    for (int64_t v = 0, i = 0; v < MODEL_NODES; v++) {
        for (; i < l->count && l->dst[i] == v; i++)
            if (d->csc.indices[i] != l->src[i]) return false;
        if (d->csc.indptr[v + 1] != i) return false;
    }
    return true;
}

static bool rows_are(const dataset* d, const model* m)
{
    return d->feat.rows && memcmp(d->feat.rows, m->feat, sizeof m->feat) == 0;
}

static bool labels_are(const dataset* d, const model* m)
{
    for (int v = 0; v < MODEL_NODES && d->label; v++)
        if (d->label[v] != m->label[v]) return false;
    return d->label != NULL;
}

static bool splits_are(const dataset* d, const model* m, int splits)
{
    return d->split && d->num_splits == splits && memcmp(d->split, m->split, (size_t)splits * MODEL_NODES) == 0;
}

/* Converts folder/name and opens the result; false, with the message printed, on failure. */
static bool converted(dataset* d, const char* name, const convert_options* how)
{
    char in[600], out[600];
    error why = {""};
    bool ok = convert(folder_path(in, name), folder_path(out, "out.ggnn"), how, &why) && dataset_open(d, out, &why) &&
              ggnn_file_verify(&d->file);
    if (!ok) printf("    %s: %s\n", name, why.text);
    return CHECK(ok);
}

/* The message of a conversion that must fail, and leave nothing. */
static const char* refused(const char* name, const convert_options* how)
{
    static error why;
    char in[600], out[600];
    why.text[0] = 0;
    remove(folder_path(out, "none.ggnn"));
    CHECK(!convert(folder_path(in, name), out, how, &why));
    CHECK(why.text[0] && access(out, F_OK) != 0 && temporaries() == 0);
    return why.text;
}

static void check_reported(const char* name, const char* words, bool wanted)
{
    char text[4096];
    dataset d;
    convert_options how = {.report = tmpfile()};
    if (converted(&d, name, &how)) {
        rewind(how.report);
        text[fread(text, 1, sizeof text - 1, how.report)] = 0;
        if (!CHECK((strstr(text, words) != NULL) == wanted)) printf("    %s says: %s\n", name, text);
        dataset_close(&d);
    }
    fclose(how.report);
}

/* ---- good files ----------------------------------------------------------------------------------------------- */

TEST(the_same_graph_comes_from_every_format)
{
    static model m;
    static edge_list l;
    test_seed(1);
    for (int round = 0; round < 16; round++) {
        bool gzip = round & 1, deflated = (round & 1) && DEFLATE, fortran = round & 2;
        convert_options how = {.direction = round & 4 ? DIRECTION_BOTH : DIRECTION_AS_IS,
                               .keep_duplicates = round & 8,
                               .loops = (convert_loops)(LOOPS_KEEP + round % 3),
                               .num_nodes = MODEL_NODES};
        static const char* const files[] = {"pairs.npz", "index.npz", "csc.npz",    "sparse.npz", "dense.npz",
                                            "ogb",       "npy-pairs", "npy-index",  "npy-csc",    "list.csv",
                                            "list.tsv",  "snap.txt",  "out.konect", "matrix.mtx",
                                            "csr.npz",   "sp-csc.npz", "coo.npz",   "coords.npz"};
        enum { NUM_FILES = sizeof files / sizeof files[0], FIRST_BARE = 9, FIRST_WITHOUT_SPLITS = 3 };
        dataset d;
        model_make(&m, 200 + 10 * round);
        model_npz(&m, files[0], EDGES_PAIRS, fortran, deflated);
        model_npz(&m, files[1], EDGES_INDEX, fortran, deflated);
        model_npz(&m, files[2], EDGES_CSC, fortran, deflated);
        model_shchur(&m, files[3], true, deflated);
        model_shchur(&m, files[4], false, deflated);
        model_ogb(&m, files[5], gzip);
        model_npy(&m, files[6], EDGES_PAIRS, fortran);
        model_npy(&m, files[7], EDGES_INDEX, fortran);
        model_npy(&m, files[8], EDGES_CSC, fortran);
        model_list(&m, files[9], "source,target\n", ",", 0, false, false);
        model_list(&m, files[10], "", "\t", 0, true, false);
        model_list(&m, files[11], "# Directed graph\n# FromNodeId\tToNodeId\n", " ", 0, false, false);
        model_list(&m, files[12], "% asym unweighted\n% 200 40 40\n", " ", 1, false, false);
        model_mtx(&m, files[13], false);
        model_scipy(&m, files[14], "csr", deflated);
        model_scipy(&m, files[15], "csc", deflated);
        model_scipy(&m, files[16], "coo", deflated);
        model_scipy(&m, files[17], "coords", deflated);
        expect(&l, &m, &how);
        for (int k = 0; k < NUM_FILES; k++) {
            if (!converted(&d, files[k], &how)) continue;
            if (!CHECK(graph_is(&d, &l))) printf("    round %d, %s\n", round, files[k]);
            CHECK(k >= FIRST_BARE ? !d.feat.rows && !d.label : rows_are(&d, &m) && labels_are(&d, &m));
            if (k < FIRST_WITHOUT_SPLITS || (k > 5 && k < FIRST_BARE)) CHECK(splits_are(&d, &m, MODEL_SPLITS));
            if (k == 5) CHECK(splits_are(&d, &m, 1));
            CHECK_EQ(d.csc.weight != NULL, k == 10 || k >= 13);
            dataset_close(&d);
        }
        for (int k = 6; k < 9; k++) { /* arrays that the next round does not write must not stay */
            char path[600];
            remove_tree(folder_path(path, files[k]));
        }
        remove_tree(folder_path((char[600]){0}, "ogb"));
    }
}

TEST(the_same_graph_gives_the_same_file)
{
    static model m;
    char path[600];
    size_t size[2];
    char* content[2];
    static const char* const files[] = {"a.npz", "b"};
    test_seed(2);
    model_make(&m, 150);
    model_npz(&m, files[0], EDGES_PAIRS, false, DEFLATE);
    for (int64_t e = 0; e < m.num_edges / 2; e++) { /* the other order of edges */
        int64_t other = m.num_edges - 1 - e, s = m.src[e], t = m.dst[e];
        m.src[e] = m.src[other];
        m.dst[e] = m.dst[other];
        m.src[other] = s;
        m.dst[other] = t;
    }
    model_npy(&m, files[1], EDGES_INDEX, true);
    for (int k = 0; k < 2; k++) {
        dataset d;
        convert_options how = {.direction = DIRECTION_BOTH};
        if (!converted(&d, files[k], &how)) return;
        size[k] = (size_t)d.file.bytes;
        content[k] = malloc(size[k]);
        memcpy(content[k], d.file.base, size[k]);
        dataset_close(&d);
    }
    CHECK(size[0] == size[1] && memcmp(content[0], content[1], size[0]) == 0);
    free(content[0]);
    free(content[1]);
    remove_tree(folder_path(path, files[1]));
}

/* What ggnn-data export writes comes back as the same file: folders of arrays with all they hold, lists as graphs. */
TEST(exported_graphs_come_back)
{
    static model m;
    char first[600], arrays[600], list[600];
    dataset d, back;
    convert_options how = {.loops = LOOPS_KEEP};
    test_seed(14);
    model_make(&m, 200);
    model_list(&m, "sparse.csv", "", ",", 1000, true, false);
    how.random_features = 3;
    how.classes = 4;
    how.split = true;
    how.share[0] = how.share[1] = how.share[2] = .3;
    if (!converted(&d, "sparse.csv", &how)) return;
    rename(folder_path(list, "out.ggnn"), folder_path(first, "first.ggnn"));
    CHECK_EQ(export_main(3, (char*[]){"export", first, folder_path(arrays, "arrays"), NULL}), EXIT_GOOD);
    CHECK_EQ(export_main(5, (char*[]){"export", first, folder_path(list, "list.mtx"), "--format", "mtx", NULL}),
             EXIT_GOOD);
    if (converted(&back, "arrays", &(convert_options){.loops = LOOPS_KEEP})) {
        CHECK(d.file.bytes == back.file.bytes && memcmp(d.file.base, back.file.base, (size_t)d.file.bytes) == 0);
        dataset_close(&back);
    }
    if (converted(&back, "list.mtx", &(convert_options){.loops = LOOPS_KEEP})) {
        CHECK_EQ(ggnn_file_graph_crc(&back.file), ggnn_file_graph_crc(&d.file));
        CHECK(memcmp(back.csc.weight, d.csc.weight, (size_t)d.num_edges * sizeof(float)) == 0);
        dataset_close(&back);
    }
    dataset_close(&d);
}

TEST(the_first_weight_of_duplicates_stays)
{
    char path[600];
    dataset d;
    convert_options how = {.num_nodes = 4};
    static const char lines[] = "src,dst,weight\n1,0,5\n2,0,.5\n1,0,7\n3,3,1e2\n1,0,6\n";
    write_file(folder_path(path, "w.csv"), lines, sizeof lines - 1);
    if (!converted(&d, "w.csv", &how)) return;
    CHECK_EQ(d.num_edges, 3);
    CHECK(d.csc.weight && d.csc.weight[0] == 5 && d.csc.weight[1] == 0.5f && d.csc.weight[2] == 100);
    dataset_close(&d);
    how.keep_duplicates = true;
    if (!converted(&d, "w.csv", &how)) return;
    CHECK_EQ(d.num_edges, 5);
    CHECK(d.csc.weight[0] == 5 && d.csc.weight[1] == 7 && d.csc.weight[2] == 6);
    dataset_close(&d);
    how.drop_weights = true;
    if (!converted(&d, "w.csv", &how)) return;
    CHECK(!d.csc.weight);
    dataset_close(&d);
}

typedef struct { /* of an archive: text, and arrays of 64-bit integers or floats, count < 0: not there */
    const char *format, *type; /* NULL: none; its element type */
    int64_t shape[3], shapes;
    int64_t first[8], firsts, second[8], seconds;
    double data[8];
    int64_t datas;
} sparse_file;

/* A matrix of SciPy's: indptr and indices (csr, csc, bsr), or row and col. */
static void put_sparse(const char* name, const sparse_file* f)
{
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    const bool lists = !f->format || f->format[1] == 's';
    if (f->firsts >= 0) put_vector(&to, lists ? "indptr" : "row", "<i8", f->firsts, f->first, 8);
    if (f->seconds >= 0) put_vector(&to, lists ? "indices" : "col", "<i8", f->seconds, f->second, 8);
    if (f->datas >= 0) put_vector(&to, "data", "<f8", f->datas, f->data, 8);
    if (f->shapes >= 0) put_vector(&to, "shape", "<i8", f->shapes, f->shape, 8);
    if (f->format) {
        uint8_t letters[64] = {0};
        const size_t count = strlen(f->format), wide = f->type[1] == 'U' ? 4 : 1;
        for (size_t i = 0; i < count; i++) letters[i * wide + (f->type[0] == '>' ? wide - 1 : 0)] = (uint8_t)f->format[i];
        put_npy(&to, "format", npy_of(f->type, "", false, letters, count * wide));
    }
    save(zip_end(&z), name, false);
}

/* [[0 2 0]   edges 0 -> 1, 1 -> 0, 1 -> 2: in-neighbours of 0: 1; of 1: 0; of 2: 1
    [3 0 5]
    [0 0 0]] */
static const sparse_file matrix[] = {
    {"csr", "|S3", {3, 3}, 2, {0, 1, 3, 3}, 4, {1, 0, 2}, 3, {2, 3, 5}, 3},
    {"csc", "<U3", {3, 3}, 2, {0, 1, 2, 3}, 4, {1, 0, 1}, 3, {3, 2, 5}, 3},
    {"coo", ">U3", {3, 3}, 2, {1, 0, 1}, 3, {2, 1, 0}, 3, {5, 2, 3}, 3}};

TEST(an_entry_of_scipys_matrix_is_an_edge_from_its_row_to_its_column)
{
    static const ggnn_node source[] = {1, 0, 1}, both[] = {1, 0, 2, 1};
    static const int64_t indptr[] = {0, 1, 2, 3}, indptr_both[] = {0, 1, 3, 4};
    for (int k = 0; k < 3; k++) {
        dataset d;
        convert_format format;
        error why = {""};
        char path[600];
        put_sparse("adj_full.npz", &matrix[k]);
        CHECK(convert_detect(&format, folder_path(path, "adj_full.npz"), &why) && format == FORMAT_SCIPY);
        if (!converted(&d, "adj_full.npz", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_nodes == 3 && d.num_edges == 3 && memcmp(d.csc.indptr, indptr, sizeof indptr) == 0);
        CHECK(memcmp(d.csc.indices, source, sizeof source) == 0);
        CHECK(d.csc.weight && d.csc.weight[0] == 3 && d.csc.weight[1] == 2 && d.csc.weight[2] == 5);
        dataset_close(&d);
        if (!converted(&d, "adj_full.npz", &(convert_options){.direction = DIRECTION_BOTH, .drop_weights = true})) return;
        CHECK(d.num_edges == 4 && !d.csc.weight && memcmp(d.csc.indptr, indptr_both, sizeof indptr_both) == 0);
        CHECK(memcmp(d.csc.indices, both, sizeof both) == 0);
        dataset_close(&d);
    }
}

/* Without `format` or `shape` the lists are of in-neighbours, and each edge is listed once. */
TEST(an_npz_of_lists_without_format_is_read_as_in_neighbours)
{
    for (int k = 0; k < 2; k++) {
        sparse_file f = matrix[0];
        dataset d;
        if (k) f.shapes = -1;
        else f.format = NULL;
        put_sparse("lists.npz", &f);
        if (!converted(&d, "lists.npz", &(convert_options){.direction = DIRECTION_AS_IS})) return;
        CHECK(d.num_nodes == 3 && d.csc.indptr[1] == 1 && d.csc.indptr[2] == 3 && d.csc.indices[0] == 1 && !d.csc.weight);
        dataset_close(&d);
        if (!converted(&d, "lists.npz", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK_EQ(d.num_edges, 4);
        dataset_close(&d);
    }
}

TEST(matrices_that_are_no_graph_are_refused)
{
    static const struct {
        sparse_file file;
        const char* message;
    } bad[] = {
        {{"csr", "|S3", {3, 4}, 2, {0, 1, 3, 3}, 4, {1, 0, 3}, 3, {2, 3, 5}, 3}, "the adjacency matrix is 3 by 4"},
        {{"csr", "|S3", {3}, 1, {0, 1, 3, 3}, 4, {1, 0, 2}, 3, {2, 3, 5}, 3}, "shape.npy: shape (1); (2) is expected"},
        {{"coo", "|S3", {3, 3, 3}, 3, {0, 1}, 2, {1, 0}, 2, {2, 3}, 2}, "shape.npy: shape (3); (2) is expected"},
        {{"bsr", "|S3", {3, 3}, 2, {0, 1, 1, 1}, 4, {1}, 1, {2}, 1}, "a sparse matrix of format 'bsr'; csr, csc and coo are read"},
        {{"dia", "|S3", {3, 3}, 2, {0}, 1, {1}, 1, {2}, 1}, "a sparse matrix of format 'dia'"},
        {{"cs\xe9", "|S3", {3, 3}, 2, {0, 0, 0, 0}, 4, {1}, 0, {2}, 0}, "a sparse matrix of format 'cs?'"},
        {{"csr", "|u3", {3, 3}, 2, {0, 0, 0, 0}, 4, {1}, 0, {2}, 0}, "format.npy: elements of type '|u3'; a text"},
        {{"csrcsrcsr", "|S9", {3, 3}, 2, {0, 0, 0, 0}, 4, {1}, 0, {2}, 0}, "format.npy: elements of type '|S9'; a text of up to 8"},
        {{"csr", "|S3", {3, 3}, 2, {0, 1, 3}, 3, {1, 0, 2}, 3, {2, 3, 5}, 3}, "indptr.npy: shape (3)"},
        {{"csr", "|S3", {3, 3}, 2, {0, 1, 3, 3}, 4, {1, 0, 3}, 3, {2, 3, 5}, 3}, "edge 2: node id 3 is outside [0, 3)"},
        {{"csc", "|S3", {3, 3}, 2, {0, 1, 3, 3}, 4, {1, 0, 2}, 3, {2, -3, 5}, 3}, "edge 1: weight -3 is negative"},
        {{"csr", "|S3", {3, 3}, 2, {0, 1, 3, 3}, 4, {1, 0, 2}, 3, {2, 3}, 2}, "data.npy: shape (2); as many as indices"},
        {{"csr", "|S3", {3, 3}, 2, {0, 1, 3, 3}, 4, {1, 0, 2}, 3, {2}, -1}, "no array data.npy"},
        {{"coo", "|S3", {3, 3}, 2, {0, 1}, 2, {1}, 1, {2, 3}, 2}, "col.npy: shape (1); as many as data"},
        {{"coo", "|S3", {3, 3}, 2, {0, 1, 2}, 3, {1, 0}, 2, {2, 3}, 2}, "row.npy: shape (3); as many as data"},
        {{"coo", "|S3", {3, 3}, 2, {0, 1}, -1, {1, 0}, 2, {2, 3}, 2}, "no array row.npy"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        put_sparse("bad.npz", &bad[k].file);
        const char* message = refused("bad.npz", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, bad[k].message))) printf("    %zu: %s\n", k, message);
    }
}

TEST(symmetric_formats_store_one_triangle)
{
    char path[600];
    dataset d;
    convert_options how = {.format = FORMAT_AUTO};
    static const char mtx[] = "%%MatrixMarket matrix coordinate pattern symmetric\n%\n3 3 3\n2 1\n3 1\n3 3\n";
    static const char konect[] = "% sym unweighted\n2 1\n3 1\n3 3\n";
    write_file(folder_path(path, "s.mtx"), mtx, sizeof mtx - 1);
    write_file(folder_path(path, "out.s"), konect, sizeof konect - 1);
    for (int k = 0; k < 2; k++) {
        static const ggnn_node ids[] = {1, 2, 0, 0, 2};
        if (!converted(&d, k ? "out.s" : "s.mtx", &how)) return;
        CHECK_EQ(d.num_nodes, 3);
        CHECK(d.num_edges == 5 && memcmp(d.csc.indices, ids, sizeof ids) == 0);
        CHECK(!d.external_id && !d.csc.weight);
        dataset_close(&d);
    }
}

/* ---- ids ------------------------------------------------------------------------------------------------------ */

TEST(sparse_ids_are_compacted_in_ascending_order)
{
    static const int64_t far[] = {0, 1000, 1000000, (int64_t)1 << 40, INT64_MAX - 40};
    test_seed(3);
    for (int k = 0; k < 5; k++) {
        static model m;
        static edge_list l;
        dataset d;
        bytes b = {0};
        convert_options how = {.format = FORMAT_AUTO};
        model_make(&m, 200);
        m.src[0] = 17; /* every node occurs */
        for (int v = 0; v < MODEL_NODES; v++) m.dst[v + 1] = v;
        for (int64_t e = 0; e < m.num_edges; e++) {
            char line[80];
            int64_t gap = k ? far[k] / MODEL_NODES : 1;
            snprintf(line, sizeof line, "%lld %lld\n", (long long)(m.src[e] * gap + (k ? 7 : 0)),
                     (long long)(m.dst[e] * gap + (k ? 7 : 0)));
            put_string(&b, line);
        }
        save(b, "far.txt", false);
        expect(&l, &m, &how);
        if (!converted(&d, "far.txt", &how)) return;
        CHECK(graph_is(&d, &l));
        CHECK_EQ(d.external_id != NULL, k > 0);
        for (int v = 0; v < MODEL_NODES && d.external_id; v++)
            CHECK_EQ(d.external_id[v], v * (far[k] / MODEL_NODES) + 7);
        dataset_close(&d);
    }
}

TEST(compaction_by_bits_equals_compaction_by_sorting)
{
    enum { COUNT = 20000 };
    static int64_t a[COUNT], b[COUNT], ids[2][2 * COUNT];
    char path[600];
    test_seed(4);
    for (int64_t range = 1; range <= 64 * COUNT; range *= 40) {
        compact_map map[2];
        edge_sorter edges;
        error why = {""};
        if (!CHECK(edge_sorter_open(&edges, &(edge_sorter_options){.path = folder_path(path, "map")}, &why))) return;
        for (int i = 0; i < COUNT; i++) {
            a[i] = test_below(range);
            b[i] = test_below(range);
            CHECK_EQ(edge_sorter_begin(&edges, 1, a[i] > b[i] ? a[i] : b[i], &why), i);
            edge_sorter_put(&edges, i, &(sorted_edge){.dst = a[i], .src = b[i]});
            edge_sorter_end(&edges, 1);
        }
        CHECK(edge_sorter_finish(&edges, &why));
        for (int k = 0; k < 2; k++) {
            CHECK(compact_make(&map[k], &edges, k, 1 << 20, &why));
            compact_ids(&map[k], ids[k]);
        }
        CHECK(map[0].by_bits && !map[1].by_bits);
        CHECK_EQ(map[0].num_ids, map[1].num_ids);
        CHECK(memcmp(ids[0], ids[1], (size_t)map[0].num_ids * sizeof ids[0][0]) == 0);
        for (int i = 0; i < COUNT; i++) {
            CHECK_EQ(compact_rank(&map[0], a[i]), compact_rank(&map[1], a[i]));
            CHECK_EQ(ids[0][compact_rank(&map[0], b[i])], b[i]);
        }
        for (int64_t i = 1; i < map[0].num_ids; i++) CHECK(ids[0][i - 1] < ids[0][i]);
        compact_close(&map[0]);
        compact_close(&map[1]);
        edge_sorter_close(&edges);
    }
}

/* 2^31 is the least id that does not fit two to a word. */
TEST(an_id_of_two_to_the_31_keeps_its_list)
{
    static const char lines[] = "0 2147483648\n2147483648 1\n2147483648 2147483648\n";
    static const int64_t indptr[] = {0, 0, 1, 3}, ids[] = {0, 1, (int64_t)1 << 31};
    static const ggnn_node indices[] = {2, 0, 2};
    char path[600];
    dataset d;
    write_file(folder_path(path, "wide.txt"), lines, sizeof lines - 1);
    if (!converted(&d, "wide.txt", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.num_nodes == 3 && d.num_edges == 3 && memcmp(d.csc.indptr, indptr, sizeof indptr) == 0);
    CHECK(memcmp(d.csc.indices, indices, sizeof indices) == 0 && memcmp(d.external_id, ids, sizeof ids) == 0);
    dataset_close(&d);
}

/* 16 bytes for 64 ids, or the sorted ids; and the least of them where whole words of bits lie before it. */
TEST(a_table_of_bits_is_no_larger_than_memory)
{
    enum { COUNT = 1000, FIRST = 500 };
    char path[600];
    edge_sorter edges;
    error why = {""};
    if (!CHECK(edge_sorter_open(&edges, &(edge_sorter_options){.path = folder_path(path, "map")}, &why))) return;
    for (int64_t i = 0; i < COUNT; i++) {
        CHECK_EQ(edge_sorter_begin(&edges, 1, FIRST + 60 * i, &why), i);
        edge_sorter_put(&edges, i, &(sorted_edge){.dst = FIRST + 60 * i, .src = FIRST});
        edge_sorter_end(&edges, 1);
    }
    CHECK(edge_sorter_finish(&edges, &why));
    for (int k = 0; k < 2; k++) {
        compact_map map;
        CHECK(compact_make(&map, &edges, false, k ? 1 << 20 : 1 << 12, &why));
        CHECK_EQ(map.by_bits, k);
        CHECK(map.num_ids == COUNT && map.least == FIRST && map.largest == FIRST + 60 * (COUNT - 1));
        compact_close(&map);
    }
    edge_sorter_close(&edges);
}

/* ---- values --------------------------------------------------------------------------------------------------- */

TEST(features_are_normalised_and_halved)
{
    static model m;
    dataset d;
    test_seed(5);
    model_make(&m, 50);
    model_npz(&m, "f.npz", EDGES_PAIRS, false, false);
    convert_options how = {.row_normalise = true};
    if (!converted(&d, "f.npz", &how)) return;
    for (int v = 0; v < MODEL_NODES; v++) {
        double sum = 0;
        for (int j = 0; j < MODEL_WIDTH; j++) sum += fabs((double)m.feat[v][j]);
        for (int j = 0; j < MODEL_WIDTH; j++)
            CHECK(((const float*)d.feat.rows)[v * MODEL_WIDTH + j] ==
                  (sum > 0 ? (float)((double)m.feat[v][j] / sum) : 0));
    }
    dataset_close(&d);
    how = (convert_options){.half = true};
    if (!converted(&d, "f.npz", &how)) return;
    CHECK_EQ(d.feat.type, GGNN_F16);
    for (int i = 0; i < MODEL_NODES * MODEL_WIDTH; i++)
        CHECK(ggnn_half_to_float(((const uint16_t*)d.feat.rows)[i]) == (&m.feat[0][0])[i]);
    dataset_close(&d);
    m.feat[3][2] = 70000;
    model_npz(&m, "f.npz", EDGES_PAIRS, false, false);
    CHECK(strstr(refused("f.npz", &how), "row 3, column 2: 70000 is beyond fp16"));
    m.feat[3][2] = NAN;
    model_npz(&m, "f.npz", EDGES_PAIRS, false, false);
    CHECK(strstr(refused("f.npz", &(convert_options){.loops = LOOPS_KEEP}), "row 3, column 2: nan"));
}

TEST(rows_are_normalised_before_they_are_halved)
{
    static model m;
    dataset d;
    test_seed(15);
    model_make(&m, 50);
    model_npz(&m, "f.npz", EDGES_PAIRS, false, false);
    if (!converted(&d, "f.npz", &(convert_options){.row_normalise = true, .half = true})) return;
    for (int v = 0; v < MODEL_NODES; v++) {
        double sum = 0;
        for (int j = 0; j < MODEL_WIDTH; j++) sum += fabs((double)m.feat[v][j]);
        for (int j = 0; j < MODEL_WIDTH; j++)
            CHECK_EQ(((const uint16_t*)d.feat.rows)[v * MODEL_WIDTH + j],
                     ggnn_float_to_half(sum > 0 ? (float)((double)m.feat[v][j] / sum) : 0));
    }
    dataset_close(&d);
}

/* Readers take 4,096 edges, 512 labels or marks, 65,536 features and 32 KiB at a time. All edges go to node 1, as pairs,
   as planes and as a row of a matrix. */
TEST(arrays_of_more_than_a_chunk_are_read_to_their_end)
{
    enum { N = 20000, E = N - 1, WIDTH = 5 };
    static int64_t pairs[E][2], planes[2][E], label[N], indptr[N + 1], shape[2] = {N, N};
    static int32_t feat[N][WIDTH];
    static float real[N][WIDTH];
    static uint8_t mask[2][N];
    static float ones[E];
    static const char* const files[] = {"pairs.npz", "planes.npz", "column.npz"};
    for (int64_t v = 0; v < N; v++) {
        label[v] = v * 7 % 100;
        for (int j = 0; j < WIDTH; j++) real[v][j] = (float)(feat[v][j] = (int32_t)(v * WIDTH + j));
        for (int k = 0; k < 2; k++) mask[k][v] = (v + k) % 3 == 0;
        indptr[v + 1] = v ? E : 0;
        if (v == N - 1) break;
        pairs[v][0] = planes[0][v] = v + 1;
        pairs[v][1] = planes[1][v] = 1;
        ones[v] = (float)v;
    }
    for (int k = 0; k < 3; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        if (k == 0) put_matrix(&to, "edges", "<i8", E, 2, pairs, 8, false);
        if (k == 1) put_matrix(&to, "edge_index", "<i8", 2, E, planes, 8, false);
        if (k == 2) {
            put_vector(&to, "indptr", "<i8", N + 1, indptr, 8);
            put_vector(&to, "indices", "<i8", E, planes[0], 8);
            put_vector(&to, "data", "<f4", E, ones, 4);
            put_vector(&to, "shape", "<i8", 2, shape, 8);
            put_npy(&to, "format", npy_of("|S3", "", false, "csc", 3));
        } else {
            put_matrix(&to, "node_features", k ? "<f4" : "<i4", N, WIDTH, k ? (const void*)real : feat, 4, false);
            put_vector(&to, "node_labels", "<i8", N, label, 8);
            put_matrix(&to, "train_masks", "|b1", 2, N, mask, 1, false);
        }
        save(zip_end(&z), files[k], false);
        if (!converted(&d, files[k], &(convert_options){.direction = DIRECTION_AS_IS})) return;
        CHECK(d.num_nodes == N && d.num_edges == E && d.csc.indptr[1] == 0 && d.csc.indptr[2] == E);
        for (int64_t e = 0; e < E; e++) CHECK(d.csc.indices[e] == e + 1 && (k < 2 || d.csc.weight[e] == (float)e));
        for (int64_t v = 0; v < N && k < 2; v++) {
            CHECK(d.label[v] == label[v] && d.split[v] == mask[0][v] && d.split[N + v] == mask[1][v]);
            for (int j = 0; j < WIDTH; j++) CHECK(((const float*)d.feat.rows)[v * WIDTH + j] == (float)feat[v][j]);
        }
        dataset_close(&d);
    }
}

/* Rows are read some at a time where 65,536 values hold them, else one at a time. */
TEST(rows_wider_than_what_is_read_at_a_time_are_read)
{
    enum { N = 3, WIDTH = 65537 };
    static const int64_t edges[] = {0, 1, 1, 2};
    static float features[N][WIDTH];
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    for (int v = 0; v < N; v++)
        for (int j = 0; j < WIDTH; j++) features[v][j] = (float)(v * WIDTH + j);
    put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
    put_matrix(&to, "node_features", "<f4", N, WIDTH, features, 4, false);
    save(zip_end(&z), "wide.npz", false);
    alarm(10); /* rows of which none is read are read for ever */
    const bool ok = converted(&d, "wide.npz", &(convert_options){.format = FORMAT_AUTO});
    alarm(0);
    if (!ok) return;
    CHECK(d.feat.width == WIDTH && memcmp(d.feat.rows, features, sizeof features) == 0);
    dataset_close(&d);
}

/* As SciPy does. */
TEST(elements_of_sparse_features_that_are_there_twice_add_up)
{
    static const int64_t indptr[] = {0, 1, 2}, indices[] = {1, 0}, shape[] = {2, 2}, attr_indptr[] = {0, 3, 4}, attr[] = {1, 0, 1, 0};
    static const float ones[] = {1, 1}, data[] = {2, 3, 4, 5}, expected[] = {3, 6, 5, 0};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    put_vector(&to, "adj_data", "<f4", 2, ones, 4);
    put_vector(&to, "adj_indices", "<i8", 2, indices, 8);
    put_vector(&to, "adj_indptr", "<i8", 3, indptr, 8);
    put_vector(&to, "adj_shape", "<i8", 2, shape, 8);
    put_vector(&to, "attr_data", "<f4", 4, data, 4);
    put_vector(&to, "attr_indices", "<i8", 4, attr, 8);
    put_vector(&to, "attr_indptr", "<i8", 3, attr_indptr, 8);
    put_vector(&to, "attr_shape", "<i8", 2, shape, 8);
    save(zip_end(&z), "twice.npz", false);
    if (!converted(&d, "twice.npz", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.feat.width == 2 && memcmp(d.feat.rows, expected, sizeof expected) == 0);
    dataset_close(&d);
}

TEST(an_array_of_splits_keeps_every_row)
{
    static const int64_t edges[] = {0, 1, 1, 2};
    static const uint8_t split[2][3] = {{1, 2, 0}, {3, 1, 2}};
    static const float features[] = {1, 2, 3};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
    put_matrix(&to, "node_features", "<f4", 3, 1, features, 4, false);
    put_matrix(&to, "split", "|u1", 2, 3, split, 1, false);
    save(zip_end(&z), "splits.npz", false);
    if (!converted(&d, "splits.npz", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.num_splits == 2 && memcmp(d.split, split, sizeof split) == 0);
    dataset_close(&d);
}

/* The nodes of every part, those left out, and those that have no label. */
TEST(a_report_counts_the_nodes_of_every_split)
{
    static const int64_t edges[] = {0, 1, 1, 2}, label[] = {0, -1, 1};
    static const uint8_t split[2][3] = {{1, 2, 0}, {3, 0, 2}};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
    zip_add_npy(&z, "label.npy", npy_of("<i8", "3,", false, label, sizeof label));
    put_matrix(&to, "split", "|u1", 2, 3, split, 1, false);
    save(zip_end(&z), "reported.npz", false);
    check_reported("reported.npz", "split 0    train 1, val 0, test 0, none 2 (1 taken out: no label)\n", true);
    check_reported("reported.npz", "split 1    train 0, val 1, test 1, none 1\n", true);
}

TEST(arrays_are_found_by_each_of_their_names)
{
    static const char* const names[5][4] = {{"node_features", "features", "feat", "x"},
                                            {"node_labels", "labels", "label", "y"},
                                            {"train_masks", "train_mask", "train", "train"},
                                            {"val_masks", "val_mask", "valid", "val"},
                                            {"test_masks", "test_mask", "test", "test"}};
    static const int64_t edges[] = {0, 1, 1, 2}, label[] = {1, 0, 1};
    static const float feature[] = {1, 2, 3};
    static const uint8_t mask[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (int k = 0; k < 4; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
        put_matrix(&to, names[0][k], "<f4", 3, 1, feature, 4, false);
        put_npy(&to, names[1][k], npy_of("<i8", "3,", false, label, sizeof label));
        for (int part = 0; part < 3; part++)
            put_npy(&to, names[2 + part][k], npy_of("|b1", "3,", false, mask[part], sizeof mask[part]));
        save(zip_end(&z), "names.npz", false);
        if (!converted(&d, "names.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK(d.feat.rows && memcmp(d.feat.rows, feature, sizeof feature) == 0);
        CHECK(d.label && d.label[0] == 1 && d.label[1] == 0 && d.label[2] == 1);
        CHECK(d.split && d.split[0] == SPLIT_VAL && d.split[1] == SPLIT_TEST && d.split[2] == SPLIT_TRAIN);
        dataset_close(&d);
    }
}

/* Weights are read where line 1 says so and the lines have them; "unweighted" is not "weighted". */
TEST(konects_weights_are_those_that_its_first_line_names)
{
    static const struct {
        const char* text;
        bool weighted;
    } file[] = {{"% asym unweighted\n1 2 1\n2 3 1\n", false},
                {"% asym posweighted\n1 2\n2 3\n", false},
                {"% asym posweighted\n1 2 4\n2 3 5\n", true}};
    for (int k = 0; k < 3; k++) {
        char path[600];
        dataset d;
        write_file(folder_path(path, "out.weights"), file[k].text, strlen(file[k].text));
        if (!converted(&d, "out.weights", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_edges == 2 && (d.csc.weight != NULL) == file[k].weighted);
        CHECK(!d.csc.weight || (d.csc.weight[0] == 4 && d.csc.weight[1] == 5));
        dataset_close(&d);
    }
}

TEST(nodes_without_label_are_in_no_split)
{
    static model m;
    dataset d;
    test_seed(6);
    model_make(&m, 50);
    m.split[1][4] = SPLIT_TEST; /* node 4 has no label */
    model_npz(&m, "u.npz", EDGES_PAIRS, false, false);
    if (!converted(&d, "u.npz", &(convert_options){.loops = LOOPS_KEEP})) return;
    CHECK_EQ(d.split[MODEL_NODES + 4], SPLIT_NONE);
    m.split[1][4] = SPLIT_NONE;
    CHECK(splits_are(&d, &m, MODEL_SPLITS));
    dataset_close(&d);
}

TEST(bare_graphs_get_random_features_labels_and_splits)
{
    static model m;
    dataset d[2];
    int64_t count[4];
    error why = {""};
    test_seed(7);
    model_make(&m, 300);
    model_list(&m, "bare.csv", "", ",", 0, false, false);
    convert_options how = {.num_nodes = MODEL_NODES,
                           .random_features = 9,
                           .classes = 4,
                           .split = true,
                           .share = {.25, .25, .4},
                           .seed = 3};
    if (!converted(&d[0], "bare.csv", &how)) return;
    char copy[600], out[600];
    rename(folder_path(out, "out.ggnn"), folder_path(copy, "first.ggnn"));
    CHECK_EQ(d[0].feat.width, 9);
    for (int i = 0; i < 9 * MODEL_NODES; i++) CHECK(fabsf(((const float*)d[0].feat.rows)[i]) <= 1);
    CHECK(dataset_count(&d[0], &why) && d[0].num_classes == 4);
    CHECK(dataset_split(&d[0], 0, count, &why));
    CHECK(count[1] == 10 && count[2] == 10 && count[3] == 16 && count[0] == 4);
    if (!converted(&d[1], "bare.csv", &how)) return; /* the same seed, the same file */
    CHECK(d[0].file.bytes == d[1].file.bytes && memcmp(d[0].file.base, d[1].file.base, (size_t)d[0].file.bytes) == 0);
    dataset_close(&d[1]);
    how.train = TRAIN_DEGREE;
    how.seed = 4;
    if (!converted(&d[1], "bare.csv", &how)) return;
    CHECK(memcmp(d[0].label, d[1].label, sizeof(int32_t) * MODEL_NODES) != 0);
    CHECK(dataset_split(&d[1], 0, count, &why) && count[1] == 10 && count[2] == 10 && count[3] == 16);
    int64_t least = INT64_MAX; /* in-degree of a training node */
    for (int v = 0; v < MODEL_NODES; v++) {
        int64_t degree = d[1].csc.indptr[v + 1] - d[1].csc.indptr[v];
        if (d[1].split[v] == SPLIT_TRAIN && degree < least) least = degree;
    }
    for (int v = 0; v < MODEL_NODES; v++)
        if (d[1].split[v] != SPLIT_TRAIN) CHECK(d[1].csc.indptr[v + 1] - d[1].csc.indptr[v] <= least);
    dataset_close(&d[0]);
    dataset_close(&d[1]);
}

/* Node 0, whose in-degree is the highest, has no label. By this seed the shuffle of the others ends even where too few
   train. */
TEST(the_nodes_of_highest_degree_that_train_are_of_those_with_a_label)
{
    static const int64_t edges[] = {1, 2, 3, 4, 5, 0, 2, 3, 0, 2, 0, 0, 0, 0, 0, 1, 1, 1, 2, 3}; /* sources, targets */
    static const int64_t label[] = {-1, 0, 1, 0, 1, 0};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    put_matrix(&to, "edge_index", "<i8", 2, 10, edges, 8, false);
    zip_add_npy(&z, "label.npy", npy_of("<i8", "6,", false, label, sizeof label));
    save(zip_end(&z), "degrees.npz", false);
    const convert_options how = {.split = true, .share = {.4, .4, .2}, .train = TRAIN_DEGREE, .direction = DIRECTION_AS_IS, .seed = 11};
    if (!converted(&d, "degrees.npz", &how)) return;
    for (int v = 0; v < 6; v++) CHECK_EQ(d.split[v] == SPLIT_TRAIN, v == 1 || v == 2);
    CHECK_EQ(d.split[0], SPLIT_NONE);
    dataset_close(&d);
}

/* The formulas of builder.c, by node: streams 0 and 1 of the seed; two shuffles, whose epochs differ. */
TEST(what_is_made_up_is_keyed_by_seed_node_and_column)
{
    enum { IN_TRAIN = 11, IN_VAL = 10, IN_TEST = 16 }; /* 10.8, 9.6 and 16 of 40 */
    static model m;
    dataset d;
    ggnn_rng rng = {77, 0, GGNN_PURPOSE_GENERATE};
    convert_options how = {.num_nodes = MODEL_NODES, .random_features = 9, .classes = 4, .split = true,
                           .share = {.27, .24, .4}, .seed = rng.seed};
    test_seed(16);
    model_make(&m, 300);
    model_list(&m, "bare.csv", "", ",", 0, false, false);
    if (!converted(&d, "bare.csv", &how)) return;
    for (int64_t v = 0, rest = 0; v < MODEL_NODES; v++) {
        for (uint32_t j = 0; j < 9; j++)
            CHECK(((const float*)d.feat.rows)[v * 9 + j] == 2 * ggnn_uniform(ggnn_random(&rng, 0, v, j / 4).word[j % 4]) - 1);
        CHECK_EQ(d.label[v], ggnn_draw_below(&rng, 1, v, 0, 4));
        int part = SPLIT_TRAIN;
        if (ggnn_shuffle(rng.seed, (1u << 30) - 1, v, MODEL_NODES) >= IN_TRAIN) {
            const int64_t place = ggnn_shuffle(rng.seed, (1u << 30) - 2, rest++, MODEL_NODES - IN_TRAIN);
            part = place < IN_VAL ? SPLIT_VAL : place < IN_VAL + IN_TEST ? SPLIT_TEST : SPLIT_NONE;
        }
        CHECK_EQ(d.split[v], part);
    }
    dataset_close(&d);
}

TEST(words_of_a_banner_may_have_capitals)
{
    static const char lines[] = "%%MatrixMarket MATRIX Coordinate Pattern GENERAL\n3 3 2\n1 2\n3 2\n";
    char path[600];
    dataset d;
    write_file(folder_path(path, "capitals.mtx"), lines, strlen(lines));
    if (!converted(&d, "capitals.mtx", &(convert_options){.loops = LOOPS_KEEP})) return;
    CHECK(d.num_nodes == 3 && d.num_edges == 2);
    dataset_close(&d);
}

TEST(a_first_line_of_column_names_is_skipped)
{
    static const char* const header[] = {"src,dst", "source\ttarget", "From To", "\"Source\",\"Target\"", "id_1,id_2", "FromNodeId\tToNodeId", "u v", "row,col"};
    for (size_t k = 0; k < sizeof header / sizeof header[0]; k++) {
        char path[600], lines[128];
        dataset d;
        snprintf(lines, sizeof lines, "%s\n0,1\n2,1\n", header[k]);
        write_file(folder_path(path, "named.csv"), lines, strlen(lines));
        if (!converted(&d, "named.csv", &(convert_options){.loops = LOOPS_KEEP})) continue;
        CHECK(d.num_nodes == 3 && d.num_edges == 2);
        dataset_close(&d);
    }
}

/* What a conversion says of its work. */
TEST(columns_that_are_not_read_are_said)
{
    static const char third[] = "# FromNodeId ToNodeId\n1 2\n2 3 1\n", second[] = "# FromNodeId ToNodeId\n1 2\n2 3\n";
    static const char fourth[] = "% asym posweighted\n1 2 4 100\n2 3 5 101\n", words[] = "columns    those after the ";
    char path[600];
    write_file(folder_path(path, "third.txt"), third, sizeof third - 1);
    check_reported("third.txt", "columns    those after the second are not read\n", true);
    write_file(folder_path(path, "second.txt"), second, sizeof second - 1);
    check_reported("second.txt", words, false);
    write_file(folder_path(path, "out.fourth"), fourth, sizeof fourth - 1);
    check_reported("out.fourth", "columns    those after the third are not read\n", true);
}

/* A folder of OGB without features: node v + 1 -> 1 for all v, labels 0 and 1 in turn. */
enum { LONG_EDGES = 9000, LONG_NODES = LONG_EDGES + 1 };
static void make_long_ogb(void)
{
    static int64_t label[LONG_NODES];
    const int64_t nodes = LONG_NODES, edges = LONG_EDGES;
    bytes b = {0};
    make_folder("long");
    make_folder("long/raw");
    save_numbers("long/raw", "num-node-list", &nodes, 1, false);
    save_numbers("long/raw", "num-edge-list", &edges, 1, false);
    for (int64_t v = 0; v < LONG_NODES; v++) label[v] = v % 2;
    save_numbers("long/raw", "node-label", label, LONG_NODES, false);
    for (int64_t e = 0; e < LONG_EDGES; e++) {
        char line[32];
        snprintf(line, sizeof line, "%lld,1\n", (long long)e + 1);
        put_string(&b, line);
    }
    save(b, "long/raw/edge.csv", false);
}

/* 4,096 lines are taken at a time. */
TEST(all_edges_of_an_ogb_folder_are_read)
{
    dataset d;
    make_long_ogb();
    if (converted(&d, "long", &(convert_options){.loops = LOOPS_KEEP})) {
        CHECK(d.num_nodes == LONG_NODES && d.num_edges == LONG_EDGES && d.csc.indptr[1] == 0 && d.csc.indptr[2] == LONG_EDGES);
        for (int64_t e = 0; e < LONG_EDGES; e++) CHECK_EQ(d.csc.indices[e], e + 1);
        dataset_close(&d);
    }
    remove_tree(folder_path((char[600]){0}, "long"));
}

/* The first row says how many there are: room for it grows at 256 and at 512. */
TEST(all_columns_of_wide_features_of_an_ogb_folder_are_read)
{
    enum { ROWS = 3, COLUMNS = 600 };
    static const int64_t rows = ROWS, edges = 1;
    dataset d;
    bytes b = {0};
    make_folder("wide");
    make_folder("wide/raw");
    save_numbers("wide/raw", "num-node-list", &rows, 1, false);
    save_numbers("wide/raw", "num-edge-list", &edges, 1, false);
    put_string(&b, "0,1\n");
    save(b, "wide/raw/edge.csv", false);
    b = (bytes){0};
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d%s", i + 1, (i + 1) % COLUMNS ? "," : "\n");
        put_string(&b, number);
    }
    save(b, "wide/raw/node-feat.csv", false);
    if (converted(&d, "wide", &(convert_options){.loops = LOOPS_KEEP})) {
        if (CHECK_EQ(d.feat.width, COLUMNS) && CHECK_EQ(d.num_nodes, ROWS))
            for (int i = 0; i < ROWS * COLUMNS; i++)
                if (!CHECK_EQ((int)((const float*)d.feat.rows)[i], i + 1)) break;
        dataset_close(&d);
    }
    remove_tree(folder_path((char[600]){0}, "wide"));
}

/* Whatever order the folders of split/ were made in, and are listed in. */
TEST(of_several_splits_of_an_ogb_folder_the_first_by_name_is_read)
{
    static const char* const name[] = {"random", "hash", "time"};
    dataset d;
    make_long_ogb();
    make_folder("long/split");
    for (int64_t k = 0; k < 3; k++) {
        char split[64];
        snprintf(split, sizeof split, "long/split/%s", name[k]);
        make_folder(split);
        for (int64_t part = 0; part < 3; part++)
            save_numbers(split, (const char*[]){"train", "valid", "test"}[part], &(int64_t){3 * k + part}, 1, false);
    }
    if (converted(&d, "long", &(convert_options){.loops = LOOPS_KEEP})) {
        for (int64_t v = 0; v < LONG_NODES; v++) CHECK_EQ(d.split[v], v < 3 || v > 5 ? SPLIT_NONE : v - 2);
        dataset_close(&d);
    }
    check_reported("long", "splits     from split/hash\n", true);
    remove_tree(folder_path((char[600]){0}, "long"));
}

/* ---- bad files ------------------------------------------------------------------------------------------------ */

TEST(bad_text_is_named_by_line_and_byte)
{
    static const struct {
        const char *name, *content, *message;
    } bad[] = {
        {"x.csv", "0,1\n2,x\n", "x.csv: line 2, byte 3: no number: \"x\""},
        {"x.csv", "0,1\n2,-3\n", "line 2, byte 3: a negative id: \"-3\""},
        {"x.csv", "0,1\n2,1.5\n", "line 2, byte 3: no integer"},
        {"x.csv", "0,1\n2,9223372036854775808\n", "does not fit 64 bits"},
        {"x.csv", "0,1\n2\n", "line 2, byte 2: the line ends"},
        {"x.csv", "0,1\n1,2,3\n", "line 2, byte 5: more columns"},
        {"x.csv", "0,1,2,3\n", "not more"},
        {"x.csv", "0\n", "source and target"},
        {"x.csv", "alice,bob\n0,1\n", "x.csv: line 1, byte 1: neither a number nor a column's name such as src, dst, weight: \"alice\""},
        {"x.csv", "src,bob\n0,1\n", "x.csv: line 1, byte 5: neither a number nor a column's name such as src, dst, weight: \"bob\""},
        {"x.csv", "\"1\",\"2\"\n0,1\n", "x.csv: line 1, byte 1: neither a number nor"},
        {"x.csv", "src,1\n0,1\n", "x.csv: line 1, byte 5: neither a number nor"},
        {"x.csv", "nan,1\n0,1\n", "x.csv: line 1, byte 1: neither a number nor"},
        {"x.csv", "0,1,nan\n", "a weight is >= 0"},
        {"x.csv", "0,1,-1\n", "a weight is >= 0"},
        {"x.csv", "0,1,1e39\n", "a weight is >= 0"},
        {"x.csv", "src,dst\n", "holds no edge"},
        {"x.csv", "", "is empty"},
        {"x.csv", "\n\n", "holds no edge"},
        {"x.csv", "0,1\nsrc,dst\n", "line 2, byte 1: no number"},
        {"out.x", "% bip unweighted\n1 1\n", "bipartite"},
        {"out.x", "1 2\n", "line 1 is"},
        {"out.x", "% sym weighted\n0 1 1\n", "ids begin at 1"},
        {"x.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "coordinate pattern|real|integer"},
        {"x.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 0 0\n",
         "coordinate pattern|real|integer"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1 5\n1 1\n",
         "line 2, byte 7: rows, columns and entries are expected, not more: \"5\""},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 1\n1 1\n", "2 by 3 is no graph"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 1\n", "1 entries, its header says 2"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n",
         "line 3, byte 3: id is outside [1, 2]"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n0 1\n", "ids begin at 1"},
        {"x.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1\n", "the line ends"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n", "holds no edge"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char path[600];
        write_file(folder_path(path, bad[k].name), bad[k].content, strlen(bad[k].content));
        const char* message = refused(bad[k].name, &(convert_options){.loops = LOOPS_KEEP});
        if (!CHECK(strstr(message, bad[k].message))) printf("    %zu: %s\n", k, message);
    }
    CHECK(strstr(refused("absent.csv", &(convert_options){.loops = LOOPS_KEEP}), "absent.csv: No such file"));
}

TEST(formats_of_later_work_are_named)
{
    char path[600];
    make_folder("reddit");
    write_file(folder_path(path, "reddit/reddit_data.npz"), "", 0);
    CHECK(strstr(refused("reddit", &(convert_options){.loops = LOOPS_KEEP}),
                 "DGL's Reddit: this format is known, but not supported yet"));
    CHECK(strstr(refused("reddit", &(convert_options){.format = FORMAT_OGB_BINARY}), "OGB binary"));
    make_folder("nothing");
    CHECK(strstr(refused("nothing", &(convert_options){.loops = LOOPS_KEEP}), "a folder of no known format"));
}

/* One array of an archive replaced by another; the graph is small and otherwise good. */
static void make_array(const char* name, const char* type, const char* shape, const void* data, size_t size)
{
    static const int64_t edges[] = {0, 1, 1, 2}, labels[] = {0, 1, 0};
    static const float features[] = {1, 2, 3};
    static const uint8_t mask[] = {1, 0, 0};
    zip_maker z = {0};
    const struct {
        const char *name, *type, *shape;
        const void* data;
        size_t size;
    } good[] = {{"edges.npy", "<i8", "2, 2", edges, sizeof edges},
                {"node_features.npy", "<f4", "3, 1", features, sizeof features},
                {"node_labels.npy", "<i8", "3,", labels, sizeof labels},
                {"train_masks.npy", "|b1", "3,", mask, sizeof mask},
                {"val_masks.npy", "|b1", "3,", "\0\1\0", 3}};
    for (int k = 0; k < 5; k++) {
        if (!strcmp(name, good[k].name))
            zip_add_npy(&z, name, npy_of(type, shape, false, data, size));
        else
            zip_add_npy(&z, good[k].name, npy_of(good[k].type, good[k].shape, false, good[k].data, good[k].size));
    }
    save(zip_end(&z), "bad.npz", false);
}

static const char* refused_array(const char* name, const char* type, const char* shape, const void* data, size_t size)
{
    make_array(name, type, shape, data, size);
    return refused("bad.npz", &(convert_options){.loops = LOOPS_KEEP});
}

TEST(labels_that_are_infinite_as_floats_are_refused_wherever_they_stand)
{
    static const double late[] = {.5, -INFINITY, 0}, wide[] = {0, .5, 1e300};
    CHECK(strstr(refused_array("node_labels.npy", "<f8", "3,", late, 24), "member node_labels.npy: element 1: -inf"));
    CHECK(strstr(refused_array("node_labels.npy", "<f8", "3,", wide, 24), "member node_labels.npy: element 2: inf"));
}

TEST(a_mask_of_floats_holds_no_nan)
{
    static const double one[] = {0, NAN, 1}, two[] = {1, 0, 0, 0, 0, NAN}, half[] = {0, .5, 0};
    CHECK(strstr(refused_array("train_masks.npy", "<f8", "3,", one, 24), "member train_masks.npy: element 1: nan"));
    CHECK(strstr(refused_array("train_masks.npy", "<f8", "2, 3", two, 48), "member train_masks.npy: element 5: nan"));
    CHECK(strstr(refused_array("train_masks.npy", "<f8", "3,", half, 24), "element 1: 0.5"));
}

TEST(a_mask_of_wide_integers_is_not_taken_for_ids)
{
    static const int64_t mask[] = {0, 0, 1};
    CHECK(strstr(refused_array("train_masks.npy", "<i8", "3,", mask, 24),
                 "member train_masks.npy: element 1: node 0 is listed twice (a mask of wide integers?"));
}

TEST(a_mask_of_floats_marks_what_is_not_zero)
{
    static const float mask[] = {0, 0, 1};
    dataset d;
    make_array("train_masks.npy", "<f4", "3,", mask, sizeof mask);
    if (!converted(&d, "bad.npz", &(convert_options){.loops = LOOPS_KEEP})) return;
    CHECK(d.split[0] == SPLIT_NONE && d.split[1] == SPLIT_VAL && d.split[2] == SPLIT_TRAIN);
    dataset_close(&d);
}

TEST(bad_arrays_are_named)
{
    static const int64_t wide[] = {0, 3, 1, 2}, negative[] = {0, -1, 1, 2}, labels[] = {0, -2, 0},
                         large[] = {0, (int64_t)1 << 40, 0};
    static const double real[] = {0, 1, 1.5, 2}, endless[] = {0, INFINITY, 0};
    CHECK(strstr(refused_array("edges.npy", "<i8", "2, 2", wide, 32), "edge 0: node id 3 is outside [0, 3)"));
    CHECK(strstr(refused_array("edges.npy", "<i8", "2, 2", negative, 32), "edge 0: node id -1"));
    CHECK(strstr(refused_array("edges.npy", "<i8", "4,", wide, 32), "member edges.npy: shape (4); (E, 2)"));
    CHECK(strstr(refused_array("edges.npy", "<f8", "2, 2", real, 32), "element 2: 1.5 is no"));
    CHECK(strstr(refused_array("node_features.npy", "<f4", "0, 3", real, 0), "shape (0, 3)"));
    CHECK(strstr(refused_array("node_features.npy", "<f4", "3, 1, 1", real, 12), "shape (3, 1, 1)"));
    CHECK(strstr(refused_array("node_labels.npy", "<i8", "2,", labels, 16), "shape (2)"));
    CHECK(strstr(refused_array("node_labels.npy", "<i8", "3,", labels, 24), "label -2 of node 1"));
    CHECK(strstr(refused_array("node_labels.npy", "<i8", "3,", large, 24), "label 1099511627776 of node 1"));
    CHECK(strstr(refused_array("node_labels.npy", "<f8", "3,", endless, 24), "member node_labels.npy: element 1: inf"));
    CHECK(strstr(refused_array("train_masks.npy", "|b1", "2,", "\1\1", 2), "shape (2)"));
    CHECK(strstr(refused_array("train_masks.npy", "|b1", "3,", "\0\1\1", 3), "node 1 is in train and in val"));
    CHECK(strstr(refused_array("train_masks.npy", "<i8", "4,", wide, 32), "node 3 is outside [0, 3)"));
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

typedef struct {
    dataset d;
    char path[600];
} reference;

static bool same_graph(const dataset* a, const dataset* b)
{
    size_t nodes = (size_t)a->num_nodes;
    if (a->num_nodes != b->num_nodes || a->num_edges != b->num_edges || a->file.num_sections != b->file.num_sections)
        return false;
    if (memcmp(a->csc.indptr, b->csc.indptr, (nodes + 1) * 8) ||
        memcmp(a->csc.indices, b->csc.indices, (size_t)a->num_edges * sizeof(ggnn_node)))
        return false;
    return !a->label || (memcmp(a->feat.rows, b->feat.rows, nodes * (size_t)a->feat.width * 4) == 0 &&
                         memcmp(a->label, b->label, nodes * 4) == 0);
}

/* Converts damaged bytes: 1 fails with a message that names the file, 0 gives the good result, -1 gives another. */
static int damage(const bytes* file, const char* name, const reference* good)
{
    char in[600], out[600];
    error why = {""};
    dataset d;
    remove(folder_path(out, "damaged.ggnn"));
    write_file(folder_path(in, name), file->data, file->size);
    if (!convert(in, out, &(convert_options){.num_nodes = MODEL_NODES}, &why))
        return strstr(why.text, name) && access(out, F_OK) != 0 ? 1 : -1;
    if (!dataset_open(&d, out, &why)) return -1;
    bool same = same_graph(&good->d, &d);
    dataset_close(&d);
    return same ? 0 : -1;
}

static bool make_reference(reference* good, const bytes* file, const char* name)
{
    char in[600];
    error why = {""};
    write_file(folder_path(in, name), file->data, file->size);
    snprintf(good->path, sizeof good->path, "%s/reference.ggnn", folder);
    return CHECK(convert(in, good->path, &(convert_options){.num_nodes = MODEL_NODES}, &why) &&
                 dataset_open(&good->d, good->path, &why));
}

static void check_damage(bytes file, const char* name)
{
    reference good;
    if (!make_reference(&good, &file, name)) return;
    for (size_t cut = 0; cut < file.size; cut += cut < 100 || cut + 700 > file.size ? 1 : 13) {
        bytes shorter = {file.data, cut, cut};
        if (!CHECK_EQ(damage(&shorter, name, &good), 1)) printf("    %s cut to %zu of %zu\n", name, cut, file.size);
    }
    for (size_t at = (size_t)test_below(3);
         at<file.size; at += at + 1000> file.size ? 1 : 3) { /* all of a directory */
        uint8_t bit = (uint8_t)(1 << test_below(8));
        file.data[at] ^= bit;
        if (!CHECK(damage(&file, name, &good) >= 0)) printf("    %s: bit %d of byte %zu\n", name, bit, at);
        file.data[at] ^= bit;
    }
    dataset_close(&good.d);
    drop(&file);
}

TEST(damaged_archives_are_refused_or_harmless)
{
    static model m;
    test_seed(8);
    model_make(&m, 60);
    for (int k = 0; k <= DEFLATE; k++) {
        check_damage(model_npz_bytes(&m, EDGES_PAIRS, false, k), "damaged.npz");
        check_damage(model_shchur_bytes(&m, true, k), "damaged.npz");
        check_damage(model_scipy_bytes(&m, k ? "coo" : "csr", k), "damaged.npz");
    }
}

/* Text has no checksum: whatever comes, it is a graph or a message, never a crash. gzip has one. */
TEST(damaged_text_gives_a_graph_or_a_message)
{
    static model m;
    char in[600], out[600];
    test_seed(9);
    model_make(&m, 40);
    model_mtx(&m, "damaged.mtx", false);
    model_list(&m, "out.damaged", "% sym weighted\n", " ", 1, true, false);
    model_list(&m, "damaged.csv", "src,dst,weight\n", ",", 0, true, false);
    static const char* const names[] = {"damaged.mtx", "out.damaged", "damaged.csv"};
    for (int k = 0; k < 3; k++) {
        bytes file = {malloc(8192), 0, 8192};
        FILE* stream = fopen(folder_path(in, names[k]), "rb");
        file.size = fread(file.data, 1, file.room, stream);
        fclose(stream);
        for (int i = 0; i < 600; i++) {
            error why = {""};
            dataset d;
            bytes bad = {malloc(file.size), i < 300 ? (size_t)test_below((int64_t)file.size) : file.size, 0};
            memcpy(bad.data, file.data, bad.size);
            if (i >= 300) bad.data[test_below((int64_t)bad.size)] ^= (uint8_t)(1 << test_below(8));
            write_file(in, bad.data, bad.size);
            bool ok = convert(in, folder_path(out, "damaged.ggnn"),
                              &(convert_options){.num_nodes = k == 2 ? MODEL_NODES : 0}, &why);
            if (ok && CHECK(dataset_open(&d, out, &why))) {
                CHECK_EQ(ggnn_graph_validate(&(ggnn_graph){.at = {.stored = d.num_nodes, .parts = 1},
                                                           .whole = d.csc,
                                                           .num_nodes = d.num_nodes,
                                                           .num_edges = d.num_edges},
                                             &(ggnn_fault){0}),
                         GGNN_OK);
                dataset_close(&d);
            } else
                CHECK(strstr(why.text, names[k]));
            free(bad.data);
        }
        drop(&file);
    }
#ifdef HAVE_ZLIB
    model_mtx(&m, "whole.mtx", false);
    char path[600];
    bytes whole = {malloc(8192), 0, 8192};
    FILE* stream = fopen(folder_path(path, "whole.mtx"), "rb");
    whole.size = fread(whole.data, 1, whole.room, stream);
    fclose(stream);
    check_damage(gzip_bytes(whole.data, whole.size), "damaged.mtx.gz");
    drop(&whole);
#endif
}

static void cut_after_lines(const char* path, int lines)
{
    FILE* in = fopen(path, "rb");
    for (int c; lines > 0 && (c = getc(in)) != EOF;) lines -= c == '\n';
    CHECK(truncate(path, ftell(in)) == 0);
    fclose(in);
}

TEST(ogb_folders_with_a_file_cut_or_missing_are_refused)
{
    static const struct {
        const char *file, *cut, *missing;
    } files[] = {{"raw/edge.csv", "5 edges, num-edge-list says 60", "no known format"},
                 {"raw/node-feat.csv", "node-feat.csv: 5 rows for 40 nodes", NULL},
                 {"raw/node-label.csv", "labels for 40", NULL},
                 {"raw/num-node-list.csv", "num-node-list.csv: is empty", "num-node-list.csv"},
                 {"raw/num-edge-list.csv", "num-edge-list.csv: is empty", "num-edge-list.csv"},
                 {"split/time/valid.csv", NULL, "valid.csv"}};
    static model m;
    test_seed(10);
    model_make(&m, 60);
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[600], name[100];
        model_ogb(&m, "cut", false);
        snprintf(name, sizeof name, "cut/%s", files[k].file);
        folder_path(path, name);
        if (files[k].cut) {
            cut_after_lines(path, k < 3 ? 5 : 0);
            const char* message = refused("cut", &(convert_options){.loops = LOOPS_KEEP});
            if (!CHECK(strstr(message, files[k].cut))) printf("    %s\n", message);
        }
        remove(path);
        if (files[k].missing) {
            const char* message = refused("cut", &(convert_options){.loops = LOOPS_KEEP});
            if (!CHECK(strstr(message, files[k].missing))) printf("    %s\n", message);
        }
        remove_tree(folder_path(path, "cut"));
    }
}

TEST(the_first_label_of_an_ogb_folder_that_is_no_class_is_named_by_its_line)
{
    static model m;
    const char* message;
    test_seed(16);
    model_make(&m, 60);
    m.label[7] = m.label[20] = -5;
    model_ogb(&m, "labels", false);
    message = refused("labels", &(convert_options){.loops = LOOPS_KEEP});
    if (!CHECK(strstr(message, "node-label.csv: line 8: label -5 of node 7 is no class"))) printf("    %s\n", message);
    remove_tree(folder_path((char[600]){0}, "labels"));
}

/* ---- resources ------------------------------------------------------------------------------------------------ */

static void check_allocations(const char* name)
{
    char in[600], out[600];
    long n = 1;
    folder_path(in, name);
    folder_path(out, "alloc.ggnn");
    remove(out);
    for (;; n++) {
        char number[24];
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + n);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        bool ok = convert(in, out, &(convert_options){.num_nodes = MODEL_NODES}, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (ok) break;
        if (!CHECK(strstr(why.text, "out of memory")) || !CHECK(access(out, F_OK) != 0))
            printf("    %s, allocation %ld: %s\n", name, n, why.text);
    }
    CHECK_EQ(temporaries(), 0);
    CHECK(n > 3); /* it was told to fail, and did */
}

TEST(every_allocation_may_fail)
{
    static model m;
    char path[600];
    test_seed(11);
    model_make(&m, 60);
    model_npz(&m, "alloc.npz", EDGES_PAIRS, true, DEFLATE);
    model_shchur(&m, "alloc-shchur.npz", true, DEFLATE);
    model_scipy(&m, "alloc-scipy.npz", "csc", DEFLATE);
    model_scipy(&m, "alloc-coo.npz", "coo", DEFLATE);
    model_ogb(&m, "alloc-ogb", true);
    model_list(&m, "alloc.csv", "", ",", 0, true, false);
    model_mtx(&m, "alloc.mtx", true);
    check_allocations("alloc.npz");
    check_allocations("alloc-shchur.npz");
    check_allocations("alloc-scipy.npz");
    check_allocations("alloc-coo.npz");
    check_allocations("alloc-ogb");
    check_allocations("alloc.csv");
    check_allocations(DEFLATE ? "alloc.mtx.gz" : "alloc.mtx");
    remove_tree(folder_path(path, "alloc-ogb"));
}

/* Children are this program again (a forked OpenMP program must not use its threads): see main. */
static pid_t start(char* const* argv, int error_output)
{
    fflush(stdout);
    pid_t child = fork();
    if (child != 0) return child;
    int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(error_output < 0 ? nowhere : error_output, 2);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static int exit_code(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* ggnn-data convert; what it says on standard error into said. */
static int run_command(char* const* argv, char said[1024])
{
    int pipes[2];
    size_t used = 0;
    if (pipe(pipes) != 0) return -1;
    pid_t child = start(argv, pipes[1]);
    close(pipes[1]);
    for (ssize_t got; used < 1023 && (got = read(pipes[0], said + used, 1023 - used)) > 0;) used += (size_t)got;
    said[used] = 0;
    close(pipes[0]);
    return exit_code(child);
}

TEST(the_command_exits_0_1_or_2)
{
    char path[600], out[600], said[1024];
    write_file(folder_path(path, "c.csv"), "0,1\n1,2\n", 8);
    folder_path(out, "c.ggnn");
    CHECK_EQ(run_command((char*[]){"convert", path, out, NULL}, said), 0);
    CHECK_STR(said, "");
    CHECK_EQ(run_command((char*[]){"convert", path, out, "--split", "50:60:0", NULL}, said), 2);
    CHECK(strstr(said, "adds up to 110"));
    CHECK_EQ(run_command((char*[]){"convert", path, out, "--train", "degre", NULL}, said), 2);
    CHECK_EQ(run_command((char*[]){"convert", path, out, "--undirected", "--directed", NULL}, said), 2);
    CHECK_EQ(run_command((char*[]){"convert", path, NULL}, said), 2);
    CHECK_EQ(run_command((char*[]){"convert", path, out, "--from", "mtx", NULL}, said), 1);
    CHECK(strstr(said, "ggnn-data: ") == said && strstr(said, "c.csv"));
    CHECK_EQ(run_command((char*[]){"convert", path, out, "--train", "degree:.5", "--split", "10:10:40", "--classes",
                                   "2", NULL},
                         said),
             0);
    setenv("GGNN_TEST_FAIL_ALLOCATION", "2", 1);
    CHECK_EQ(run_command((char*[]){"convert", path, out, NULL}, said), 1);
    CHECK(strstr(said, "out of memory"));
    unsetenv("GGNN_TEST_FAIL_ALLOCATION");
}

static void write_random_edges(const char* path, int64_t edges, int64_t nodes)
{
    FILE* out = fopen(path, "wb");
    char* chunk = malloc(1 << 20);
    size_t used = 0;
    for (int64_t e = 0; e < edges; e++) {
        int64_t id[2] = {test_below(nodes), test_below(nodes)};
        for (int k = 0; k < 2; k++) {
            char digits[24];
            int n = 0;
            do digits[n++] = (char)('0' + id[k] % 10);
            while (id[k] /= 10);
            while (n) chunk[used++] = digits[--n];
            chunk[used++] = k ? '\n' : ' ';
        }
        if (used < (1 << 20) - 64 && e < edges - 1) continue;
        CHECK_EQ(fwrite(chunk, 1, used, out), used);
        used = 0;
    }
    free(chunk);
    fclose(out);
}

/* Whatever moment the process dies at, out is a whole file: the old one or the new one. */
TEST(kill_during_convert_leaves_a_whole_file)
{
    char path[600], out[600];
    int killed = 0;
    test_seed(12);
    write_random_edges(folder_path(path, "kill.csv"), 30000, 5000);
    for (int i = 0; i < 25; i++) {
        dataset d;
        error why = {""};
        folder_path(out, "kill.ggnn");
        if (i == 0) CHECK(convert(path, out, &(convert_options){.loops = LOOPS_KEEP}, &why));
        pid_t child = start((char*[]){"forever", path, out, NULL}, -1);
        usleep((useconds_t)(2000 + test_below(60000)));
        kill(child, SIGKILL);
        int status;
        waitpid(child, &status, 0);
        killed += WIFSIGNALED(status);
        if (CHECK(dataset_open(&d, out, &why))) CHECK(ggnn_file_verify(&d.file));
        dataset_close(&d);
    }
    CHECK_EQ(killed, 25);
    error why = {""};
    CHECK(convert(path, out, &(convert_options){.loops = LOOPS_KEEP}, &why)); /* sweeps up what was left behind */
    CHECK_EQ(temporaries(), 0);
}

/* The kernel refuses anonymous memory beyond a limit (RLIMIT_DATA counts private writable mappings, not files). */
static void limit_memory(int64_t megabytes)
{
    long kilobytes = 0;
    char line[128];
    FILE* status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmData: %ld", &kilobytes) == 1) break;
    if (status) fclose(status);
    rlim_t limit = (rlim_t)(kilobytes * 1024 + megabytes * (1 << 20));
    setrlimit(RLIMIT_DATA, &(struct rlimit){limit, limit});
}

TEST(anonymous_memory_stays_below_one_and_a_half_outputs_and_64_MiB)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer's own memory breaks the limit");
#else
    char path[600], out[600], said[1024];
    dataset d;
    error why = {""};
    test_seed(13);
    snprintf(path, sizeof path, "%s/ggnn-test-large-%ld.txt", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp",
             (long)getpid());
    snprintf(out, sizeof out, "%.500s.ggnn", path);
    write_random_edges(path, 5000000, 400000);
    CHECK_EQ(run_command((char*[]){"within", path, out, "64", NULL}, said), 0);
    if (CHECK(dataset_open(&d, out, &why)))
        CHECK(d.file.bytes > 40 << 20 && d.num_edges > 9990000 && d.num_nodes == 400000);
    dataset_close(&d);
    CHECK_EQ(run_command((char*[]){"within", path, out, "0", NULL}, said), 1); /* the limit works */
    CHECK(strstr(said, "out of memory"));
    remove(path);
    remove(out);
#endif
}

/* ---- real data ------------------------------------------------------------------------------------------------ */

#ifdef HAVE_ZLIB
/* A file of ../shared/data, seen from the project's root or from a worktree. */
static bool find_real(char path[600], const char* name)
{
    static const char* const places[] = {"../shared/data", "../../shared/data"};
    for (int k = 0; k < 2; k++) {
        snprintf(path, 600, "%s/%s", places[k], name);
        if (access(path, R_OK) == 0) return true;
    }
    return false;
}
#endif

TEST(cora_citeseer_and_minesweeper_have_the_known_counts)
{
#ifndef HAVE_ZLIB
    SKIP("no zlib");
#else
    static const struct {
        const char* name;
        int64_t nodes, edges, width, classes, isolated, unknown, splits, train, val, test;
    } known[] = {{"cora.npz", 2708, 10556, 1433, 7, 0, 0, 1, 140, 500, 1000},
                 {"citeseer.npz", 3327, 9104, 3703, 6, 48, 15, 1, 120, 500, 1000},
                 {"minesweeper.npz", 10000, 78804, 7, 2, 0, 0, 10, 5000, 2500, 2500}};
    for (int k = 0; k < 3; k++) {
        char path[600], out[600];
        dataset d;
        error why = {""};
        int64_t count[4], isolated = 0, unknown = 0, loops = 0;
        if (!find_real(path, known[k].name)) SKIP("../shared/data is not there");
        if (!CHECK(convert(path, folder_path(out, "real.ggnn"), &(convert_options){.loops = LOOPS_KEEP}, &why) &&
                   dataset_open(&d, out, &why)))
            continue;
        for (int64_t v = 0; v < d.num_nodes; v++) {
            isolated += d.csc.indptr[v] == d.csc.indptr[v + 1];
            unknown += d.label[v] < 0;
            for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++) loops += d.csc.indices[e] == v;
        }
        CHECK(dataset_count(&d, &why) && dataset_split(&d, d.num_splits - 1, count, &why));
        CHECK_EQ(d.num_nodes, known[k].nodes);
        CHECK_EQ(d.num_edges, known[k].edges);
        CHECK_EQ(d.feat.width, known[k].width);
        CHECK_EQ(d.num_classes, known[k].classes);
        CHECK_EQ(isolated, known[k].isolated);
        CHECK_EQ(unknown, known[k].unknown);
        CHECK_EQ(loops, 0);
        CHECK_EQ(d.num_splits, known[k].splits);
        CHECK(count[1] == known[k].train && count[2] == known[k].val && count[3] == known[k].test);
        dataset_close(&d);
    }
#endif
}

/* As a child: the command, or a conversion without end, or one within so many megabytes. */
static int child_main(int argc, char** argv)
{
    error why = {""};
    if (!strcmp(argv[0], "convert")) return convert_main(argc, argv);
    while (!strcmp(argv[0], "forever")) convert(argv[1], argv[2], &(convert_options){.loops = LOOPS_ADD}, &why);
    limit_memory(atol(argv[3]));
    int code = convert_main(4, (char*[]){"convert", argv[1], argv[2], "--undirected", NULL});
    fflush(NULL);
    _exit(code); /* the end of libomp hangs where no memory is left */
}

int main(int argc, char** argv)
{
    if (!strcmp(argv[0], "convert") || !strcmp(argv[0], "forever") || !strcmp(argv[0], "within"))
        return child_main(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(the_same_graph_comes_from_every_format);
    RUN(the_same_graph_gives_the_same_file);
    RUN(exported_graphs_come_back);
    RUN(the_first_weight_of_duplicates_stays);
    RUN(an_entry_of_scipys_matrix_is_an_edge_from_its_row_to_its_column);
    RUN(an_npz_of_lists_without_format_is_read_as_in_neighbours);
    RUN(matrices_that_are_no_graph_are_refused);
    RUN(symmetric_formats_store_one_triangle);
    RUN(sparse_ids_are_compacted_in_ascending_order);
    RUN(compaction_by_bits_equals_compaction_by_sorting);
    RUN(an_id_of_two_to_the_31_keeps_its_list);
    RUN(a_table_of_bits_is_no_larger_than_memory);
    RUN(features_are_normalised_and_halved);
    RUN(rows_are_normalised_before_they_are_halved);
    RUN(arrays_of_more_than_a_chunk_are_read_to_their_end);
    RUN(rows_wider_than_what_is_read_at_a_time_are_read);
    RUN(elements_of_sparse_features_that_are_there_twice_add_up);
    RUN(an_array_of_splits_keeps_every_row);
    RUN(a_report_counts_the_nodes_of_every_split);
    RUN(arrays_are_found_by_each_of_their_names);
    RUN(konects_weights_are_those_that_its_first_line_names);
    RUN(nodes_without_label_are_in_no_split);
    RUN(bare_graphs_get_random_features_labels_and_splits);
    RUN(the_nodes_of_highest_degree_that_train_are_of_those_with_a_label);
    RUN(what_is_made_up_is_keyed_by_seed_node_and_column);
    RUN(words_of_a_banner_may_have_capitals);
    RUN(a_first_line_of_column_names_is_skipped);
    RUN(columns_that_are_not_read_are_said);
    RUN(all_edges_of_an_ogb_folder_are_read);
    RUN(all_columns_of_wide_features_of_an_ogb_folder_are_read);
    RUN(of_several_splits_of_an_ogb_folder_the_first_by_name_is_read);
    RUN(bad_text_is_named_by_line_and_byte);
    RUN(formats_of_later_work_are_named);
    RUN(labels_that_are_infinite_as_floats_are_refused_wherever_they_stand);
    RUN(a_mask_of_floats_holds_no_nan);
    RUN(a_mask_of_wide_integers_is_not_taken_for_ids);
    RUN(a_mask_of_floats_marks_what_is_not_zero);
    RUN(bad_arrays_are_named);
    RUN_SLOW(damaged_archives_are_refused_or_harmless);
    RUN(damaged_text_gives_a_graph_or_a_message);
    RUN(ogb_folders_with_a_file_cut_or_missing_are_refused);
    RUN(the_first_label_of_an_ogb_folder_that_is_no_class_is_named_by_its_line);
    RUN(every_allocation_may_fail);
    RUN(the_command_exits_0_1_or_2);
    RUN(kill_during_convert_leaves_a_whole_file);
    RUN_SLOW(anonymous_memory_stays_below_one_and_a_half_outputs_and_64_MiB);
    RUN(cora_citeseer_and_minesweeper_have_the_known_counts);
    folder_remove();
    return test_finish();
}
