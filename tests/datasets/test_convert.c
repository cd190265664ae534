/* ggnn-data convert: the same graph from every format, and what damaged files, full memory and kill -9 do to it. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/resources.h"
#include "datasets/commands.h"
#include "datasets/compact.h"
#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "tests/convert_tool.h"

#ifdef HAVE_ZLIB
enum { DEFLATE = 1 };
#else
enum { DEFLATE = 0 };
#endif

/* ---- what is expected ----------------------------------------------------------------------------------------- */

typedef struct {
    int64_t count, src[3 * MODEL_EDGES_MAX], dst[3 * MODEL_EDGES_MAX];
    float weight[3 * MODEL_EDGES_MAX];
} edge_list;

static bool edge_before(const edge_list* l, int64_t a, int64_t b)
{
    return l->dst[a] < l->dst[b] || (l->dst[a] == l->dst[b] && l->src[a] < l->src[b]);
}

static void add_edge(edge_list* l, int64_t src, int64_t dst, float weight, bool once)
{
    for (int64_t i = 0; i < l->count && once; i++)
        if (l->src[i] == src && l->dst[i] == dst) return;
    l->src[l->count] = src;
    l->dst[l->count] = dst;
    l->weight[l->count++] = weight;
    for (int64_t i = l->count - 1; i > 0 && edge_before(l, i, i - 1); i--) {
        int64_t s = l->src[i], d = l->dst[i];
        float w = l->weight[i];
        l->src[i] = l->src[i - 1];
        l->dst[i] = l->dst[i - 1];
        l->weight[i] = l->weight[i - 1];
        l->src[i - 1] = s;
        l->dst[i - 1] = d;
        l->weight[i - 1] = w;
    }
}

/* The rules, by insertion: the plain twin of builder_end_edges. Reverses come after the edges themselves. */
static void expect(edge_list* l, const model* m, const convert_options* how)
{
    l->count = 0;
    for (int reverse = 0; reverse < 1 + (how->direction == DIRECTION_BOTH); reverse++)
        for (int64_t e = 0; e < m->num_edges; e++) {
            const int64_t src = reverse ? m->dst[e] : m->src[e], dst = reverse ? m->src[e] : m->dst[e];
            if (src == dst && (reverse || how->loops == LOOPS_DROP)) continue;
            add_edge(l, src, dst, m->weight[e], !how->keep_duplicates);
        }
    for (int64_t v = 0; v < MODEL_NODES && how->loops == LOOPS_ADD; v++) add_edge(l, v, v, 1, true);
}

static bool graph_is(const dataset* d, const edge_list* l)
{
    if (d->num_nodes != MODEL_NODES || d->num_edges != l->count || d->csc.indptr[0] != 0) return false;
    for (int64_t v = 0, i = 0; v < MODEL_NODES; v++) {
        for (; i < l->count && l->dst[i] == v; i++)
            if (d->csc.indices[i] != l->src[i] || (d->csc.weight && d->csc.weight[i] != l->weight[i])) return false;
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
                                            "csr.npz",   "sp-csc.npz", "coo.npz",   "coords.npz", "ogb-binary"};
        enum { NUM_FILES = sizeof files / sizeof files[0], FIRST_BARE = 9, FIRST_WITHOUT_SPLITS = 3, BINARY = 18 };
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
        model_ogb_binary(&m, files[BINARY], deflated, false);
        expect(&l, &m, &how);
        for (int k = 0; k < NUM_FILES; k++) {
            if (!converted(&d, files[k], &how)) continue;
            if (!CHECK(graph_is(&d, &l))) printf("    round %d, %s\n", round, files[k]);
            CHECK(k >= FIRST_BARE && k != BINARY ? !d.feat.rows && !d.label : rows_are(&d, &m) && labels_are(&d, &m));
            if (k < FIRST_WITHOUT_SPLITS || (k > 5 && k < FIRST_BARE)) CHECK(splits_are(&d, &m, MODEL_SPLITS));
            if (k == 5 || k == BINARY) CHECK(splits_are(&d, &m, 1));
            CHECK_EQ(d.csc.weight != NULL, k == 10 || (k >= 13 && k != BINARY));
            dataset_close(&d);
        }
        for (int k = 6; k < 9; k++) { /* arrays that the next round does not write must not stay */
            char path[600];
            remove_tree(folder_path(path, files[k]));
        }
        remove_tree(folder_path((char[600]){0}, "ogb"));
        model_graphsaint(&m, "saint", gzip, deflated);
        model_reddit(&m, "dgl", fortran, deflated);
        for (int k = 0; k < 2; k++) { /* bare of weights, and one split */
            const char* name = k ? "dgl" : "saint";
            if (converted(&d, name, &how)) {
                if (!CHECK(graph_is(&d, &l) && rows_are(&d, &m) && labels_are(&d, &m) && splits_are(&d, &m, 1) && !d.csc.weight))
                    printf("    round %d, %s\n", round, name);
                dataset_close(&d);
            }
            remove_tree(folder_path((char[600]){0}, name));
        }
        remove_tree(folder_path((char[600]){0}, "ogb-binary"));
    }
}

/* What the help calls usual: which formats are undirected, which drop self-loops, which have weights. */
TEST(each_format_has_its_own_usual_edges)
{
    static model m;
    static edge_list l;
    static const struct {
        const char* name;
        convert_direction direction;
        convert_loops loops;
        bool weighted;
        const char* as;
    } usual[] = {{"u-pairs.npz", DIRECTION_BOTH, LOOPS_KEEP, false, "npz (npz with node_features, node_labels, edges)"},
                 {"u-csc.npz", DIRECTION_BOTH, LOOPS_KEEP, false, "npz (npz with node_features, node_labels, edges)"},
                 {"u-shchur.npz", DIRECTION_BOTH, LOOPS_DROP, false, "shchur (npz with a sparse adjacency matrix)"},
                 {"u-csr.npz", DIRECTION_AS_IS, LOOPS_KEEP, true, "scipy (npz with SciPy's sparse matrix)"},
                 {"u-coo.npz", DIRECTION_AS_IS, LOOPS_KEEP, true, "scipy (npz with SciPy's sparse matrix)"},
                 {"u-ogb", DIRECTION_AS_IS, LOOPS_KEEP, false, "ogb (OGB csv folder)"},
                 {"u-saint", DIRECTION_AS_IS, LOOPS_KEEP, false, "graphsaint (GraphSAINT folder)"},
                 {"u-dgl", DIRECTION_AS_IS, LOOPS_KEEP, false, "reddit (DGL's Reddit)"},
                 {"u-binary", DIRECTION_AS_IS, LOOPS_KEEP, false, "ogb-binary (OGB binary folder)"},
                 {"u-npy", DIRECTION_AS_IS, LOOPS_KEEP, false, "npy (folder of .npy)"},
                 {"u.csv", DIRECTION_AS_IS, LOOPS_KEEP, true, "edges (list of edges)"},
                 {"u-bare.csv", DIRECTION_AS_IS, LOOPS_KEEP, false, "edges (list of edges)"},
                 {"u-snap", DIRECTION_AS_IS, LOOPS_KEEP, false, "snap (SNAP list of edges)"},
                 {"u-asym", DIRECTION_AS_IS, LOOPS_KEEP, true, "konect (KONECT list of edges)"},
                 {"u-sym", DIRECTION_BOTH, LOOPS_KEEP, true, "konect (KONECT list of edges)"},
                 {"u-sym-bare", DIRECTION_BOTH, LOOPS_KEEP, false, "konect (KONECT list of edges)"},
                 {"u-general", DIRECTION_AS_IS, LOOPS_KEEP, true, "mtx (Matrix Market)"},
                 {"u-integer", DIRECTION_BOTH, LOOPS_KEEP, true, "mtx (Matrix Market)"}};
    char head[100];
    test_seed(17);
    model_make(&m, 300);
    for (int64_t e = 0; e < m.num_edges; e++) m.weight[e] = (float)(1 + test_below(1000)); /* one field has integers */
    model_npz(&m, "u-pairs.npz", EDGES_PAIRS, false, false);
    model_npz(&m, "u-csc.npz", EDGES_CSC, false, false);
    model_shchur(&m, "u-shchur.npz", true, false);
    model_scipy(&m, "u-csr.npz", "csr", false);
    model_scipy(&m, "u-coo.npz", "coo", false);
    model_ogb(&m, "u-ogb", false);
    model_graphsaint(&m, "u-saint", false, false);
    model_reddit(&m, "u-dgl", false, false);
    model_ogb_binary(&m, "u-binary", false, false);
    model_npy(&m, "u-npy", EDGES_INDEX, false);
    model_list(&m, "u.csv", "src,dst,weight\n", ",", 0, true, false);
    model_list(&m, "u-bare.csv", "", ",", 0, false, false);
    model_list(&m, "u-snap", "# Undirected\n", "\t", 0, true, false);
    model_list(&m, "u-asym", "% asym weighted\n% a comment\n", " ", 1, true, false);
    model_list(&m, "u-sym", "% sym signedweighted\n", "\t", 1, true, false);
    model_list(&m, "u-sym-bare", "% sym positive\n", " ", 1, true, false);
    model_mtx(&m, "u-general", false);
    snprintf(head, sizeof head, "%%%%MatrixMarket matrix coordinate integer symmetric\n%d %d 300\n", MODEL_NODES, MODEL_NODES);
    model_list(&m, "u-integer", head, " ", 1, true, false);
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        dataset d;
        const convert_options how = {.direction = usual[k].direction, .loops = usual[k].loops};
        if (!converted(&d, usual[k].name, &(convert_options){.num_nodes = MODEL_NODES})) continue;
        expect(&l, &m, &how);
        if (!CHECK(graph_is(&d, &l)) || !CHECK_EQ(d.csc.weight != NULL, usual[k].weighted)) printf("    %s\n", usual[k].name);
        dataset_close(&d);
        snprintf(head, sizeof head, "/%s as %s\n%stakes      ", usual[k].name, usual[k].as, strcmp(usual[k].name, "u-binary") ? "" : "left out   node_year.npy\n");
        check_reported(usual[k].name, head, true);
    }
    remove_tree(folder_path((char[600]){0}, "u-ogb"));
    remove_tree(folder_path((char[600]){0}, "u-saint"));
    remove_tree(folder_path((char[600]){0}, "u-dgl"));
    remove_tree(folder_path((char[600]){0}, "u-npy"));
    remove_tree(folder_path((char[600]){0}, "u-binary"));
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

/* Weights, three splits, real labels, halves, names: all that arrays can hold, in files of one size. */
TEST(arrays_that_are_exported_and_read_again_give_the_same_file)
{
    static model m;
    static const convert_options how = {.half = true, .loops = LOOPS_KEEP, .memory = 64 << 20};
    static const char* const names[] = {"all.ggnn", "all", "again.ggnn", "without.ggnn", "without"};
    char path[5][600];
    test_seed(21);
    model_make(&m, 200);
    for (int round = 0; round < 2; round++) { /* with all, and the bare graph */
        dataset first, again;
        error why = {""};
        for (int k = 0; k < 5; k++) folder_path(path[k], names[k]);
        array_sink to = {NULL, "given"};
        make_folder("given");
        put_edge_arrays(&to, &m, EDGES_CSC, false);
        if (round == 0) {
            float weight[MODEL_EDGES_MAX], target[MODEL_NODES];
            int64_t id[MODEL_NODES];
            for (int64_t e = 0; e < m.num_edges; e++) weight[e] = (float)test_below(1000) / 7;
            for (int v = 0; v < MODEL_NODES; v++) {
                target[v] = v % 7 == 5 ? NAN : (float)test_below(1000) / 3 - 100;
                id[v] = (v * 29 % 41 - 10) * ((int64_t)1 << 40);
            }
            put_model(&to, &m, EDGES_CSC, true);
            put_vector(&to, "weight", "<f4", m.num_edges, weight, 4);
            put_edge_features(&to, &m, "edge_attr", ORDER_BY_TARGET, false);
            put_vector(&to, "node_labels", "<f4", MODEL_NODES, target, 4);
            put_vector(&to, "external_id", "<i8", MODEL_NODES, id, 8);
        }
        const char *file = path[round ? 3 : 0], *arrays = path[round ? 4 : 1];
        char given[600];
        CHECK(convert(folder_path(given, "given"), file, &how, &why));
        CHECK_EQ(export_main(3, (char*[]){"export", (char*)(uintptr_t)file, (char*)(uintptr_t)arrays, NULL}), EXIT_GOOD);
        CHECK(convert(arrays, path[2], &how, &why));
        if (!CHECK(dataset_open(&first, file, &why) && dataset_open(&again, path[2], &why))) return;
        CHECK(first.file.bytes == again.file.bytes && memcmp(first.file.base, again.file.base, (size_t)first.file.bytes) == 0);
        CHECK(round || (again.csc.weight && again.target && again.num_splits == MODEL_SPLITS && again.external_id && again.feat.type == GGNN_F16 &&
                        again.edge_feat.type == GGNN_F16 && again.edge_feat.width == MODEL_EDGE_WIDTH));
        CHECK(!round || (!again.csc.weight && !again.target && !again.label && !again.split && !again.external_id && !again.feat.rows && !again.edge_feat.rows));
        dataset_close(&first);
        dataset_close(&again);
        remove_tree(given);
    }
}

/* Text has as many digits as tell a float from its neighbours. */
TEST(weights_of_all_sizes_are_exported_as_text_and_come_back)
{
    enum { EDGES = 3000 };
    static float weight[EDGES];
    static int64_t pair[EDGES], indptr[EDGES + 1];
    static const char* const out[] = {"text.mtx", "text"};
    char path[2][600];
    error why = {""};
    dataset d, back;
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    test_seed(22);
    for (int e = 0; e < EDGES; e++) {
        uint32_t bits = (uint32_t)test_below(0x7F800000);
        memcpy(&weight[e], &bits, 4);
        if (e < 5) weight[e] = (const float[]){0, 1e-45f, 3.40282347e38f, 1.17549435e-38f, -0.f}[e];
        pair[e] = test_below(EDGES);
        indptr[e + 1] = e + 1;
    }
    put_vector(&to, "indptr", "<i8", EDGES + 1, indptr, 8);
    put_vector(&to, "indices", "<i8", EDGES, pair, 8);
    put_vector(&to, "weight", "<f4", EDGES, weight, 4);
    put_matrix(&to, "feat", "<f4", EDGES, 1, weight, 4, false);
    save(zip_end(&z), "text.npz", false);
    if (!converted(&d, "text.npz", &(convert_options){.direction = DIRECTION_AS_IS})) return;
    dataset_close(&d);
    rename(folder_path(path[0], "out.ggnn"), folder_path(path[1], "text.ggnn"));
    if (!CHECK(dataset_open(&d, path[1], &why))) return;
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(export_main(5, (char*[]){"export", path[1], folder_path(path[0], out[k]), "--format", k ? "csv" : "mtx", NULL}), EXIT_GOOD);
        if (!converted(&back, k ? "text/edges.csv" : "text.mtx", &(convert_options){.num_nodes = EDGES})) continue;
        CHECK_EQ(ggnn_file_graph_crc(&back.file), ggnn_file_graph_crc(&d.file));
        CHECK(back.csc.weight && memcmp(back.csc.weight, weight, sizeof weight) == 0);
        dataset_close(&back);
    }
    FILE* in = fopen(folder_path(path[0], "text/features.csv"), "rb");
    for (int v = 0; CHECK(in) && v < EDGES; v++) {
        char line[64];
        if (!CHECK(fgets(line, sizeof line, in) && strtof(line, NULL) == weight[v])) break;
    }
    if (in) fclose(in);
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
        {{"csr", "|S3", {0, 0}, 2, {0}, 1, {0}, 0, {0}, 0}, "bad.npz: no nodes"},
        {{"coo", "|S3", {0, 0}, 2, {0}, 0, {0}, 0, {0}, 0}, "bad.npz: no nodes"},
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

/* KONECT's ids are from 1, and keep their names. */
TEST(compacted_ids_are_called_what_the_file_calls_them)
{
    static const struct {
        const char *name, *lines, *said;
        int64_t id[3];
    } of[] = {{"out.gaps", "% asym unweighted\n9 5\n5 1\n", "ids        3 occur, from 1 to 9: compacted in ascending order, kept as external_id\n", {1, 5, 9}},
              {"gaps", "9 5\n5 1\n", "ids        3 occur, from 1 to 9: ", {1, 5, 9}},
              {"gaps.snap", "# of SNAP\n8 4\n4 0\n", "ids        3 occur, from 0 to 8: ", {0, 4, 8}}};
    for (int k = 0; k < 3; k++) {
        char path[600];
        dataset d;
        write_file(folder_path(path, of[k].name), of[k].lines, strlen(of[k].lines));
        if (!converted(&d, of[k].name, &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_nodes == 3 && d.external_id && memcmp(d.external_id, of[k].id, sizeof of[k].id) == 0);
        dataset_close(&d);
        check_reported(of[k].name, of[k].said, true);
    }
    static const char dense[] = "% asym unweighted\n1 2\n3 2\n";
    char path[600];
    dataset d;
    write_file(folder_path(path, "out.dense"), dense, sizeof dense - 1);
    if (!converted(&d, "out.dense", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.num_nodes == 3 && !d.external_id);
    dataset_close(&d);
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
    for (int k = 0; k < 2; k++) { /* 16 bytes for each 64 ids */
        compact_map map;
        CHECK(compact_make(&map, &edges, false, (FIRST + 60 * (COUNT - 1)) / 64 * 16 + 16 - k, &why));
        CHECK_EQ(map.by_bits, !k);
        CHECK_EQ(map.num_ids, COUNT);
        compact_close(&map);
    }
    edge_sorter_close(&edges);
}

/* A table of bits has a word for each edge at most: ids that are further apart are sorted. */
TEST(a_table_of_bits_is_no_larger_than_the_edges)
{
    for (int64_t more = 0; more < 2; more++) {
        const int64_t far = 64 * 4 - 1 + more;
        char path[600];
        edge_sorter edges;
        compact_map map;
        int64_t id[2] = {0};
        error why = {""};
        if (!CHECK(edge_sorter_open(&edges, &(edge_sorter_options){.path = folder_path(path, "map")}, &why))) return;
        for (int64_t i = 0; i < 3; i++) {
            edge_sorter_put(&edges, edge_sorter_begin(&edges, 1, far, &why), &(sorted_edge){.dst = 1, .src = far});
            edge_sorter_end(&edges, 1);
        }
        CHECK(edge_sorter_finish(&edges, &why) && compact_make(&map, &edges, false, 1 << 20, &why));
        CHECK(map.by_bits == !more && map.num_ids == 2 && map.least == 1 && map.largest == far);
        compact_ids(&map, id);
        CHECK(id[0] == 1 && id[1] == far && compact_rank(&map, 1) == 0 && compact_rank(&map, far) == 1);
        compact_close(&map);
        edge_sorter_close(&edges);
    }
}

/* ---- values --------------------------------------------------------------------------------------------------- */

TEST(features_are_normalised_and_halved)
{
    static model m, odd;
    dataset d;
    test_seed(5);
    model_make(&m, 50);
    odd = m;
    for (int i = 0; i < MODEL_NODES * MODEL_WIDTH; i++) (&odd.feat[0][0])[i] *= 1.1f; /* whose sums are no floats */
    convert_options how = {.row_normalise = true};
    for (const model* k = &odd; k; k = k == &odd ? &m : NULL) { /* m's file is the one that stays */
        int fine = 0;
        model_npz(k, "f.npz", EDGES_PAIRS, false, false);
        if (!converted(&d, "f.npz", &how)) return;
        for (int v = 0; v < MODEL_NODES; v++) {
            double sum = 0;
            for (int j = 0; j < MODEL_WIDTH; j++) sum += fabs((double)k->feat[v][j]);
            for (int j = 0; j < MODEL_WIDTH; j++)
                CHECK(((const float*)d.feat.rows)[v * MODEL_WIDTH + j] ==
                      (sum > 0 ? (float)((double)k->feat[v][j] / sum) : 0));
            fine += sum != (double)(float)sum;
        }
        CHECK((fine > 0) == (k == &odd));
        dataset_close(&d);
    }
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

/* Word for word: what was read, what it takes, what was found and changed, what came of it. */
TEST(a_report_says_it_all)
{
    static const char weighted[] = "5,5,1\n5,9,2\n5,9,3\n9,5,1\n70,5,4\n";
    static const char symmetric[] = "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 2\n2 1\n3 3\n";
    static const struct {
        const char *name, *text, *as;
        convert_options how;
        int64_t expected, nodes; /* edges and nodes as they are known before */
        bool both, weights;
        const char* said;
    } of[] = {{"one", "0 1\n", "edges (list of edges)", {.loops = LOOPS_AUTO}, 1, 0, false, false,
               "found      1 edge on 2 nodes, 0 duplicates, 0 self-loops\n"
               "changed    0 reverse edges added (directed as is), 0 duplicates dropped, 0 self-loops kept\n"
               "graph      2 nodes, 1 directed edges, 0 isolated nodes\n"
               "in-degree  mean 0.50, largest 1; nodes by degree: 0: 1, 1: 1\n"},
              {"one", "0 1\n", "edges (list of edges)", {.num_nodes = 3, .direction = DIRECTION_BOTH}, 1, 3, true, false,
               "found      1 edge on 3 nodes, 0 duplicates, 0 self-loops\n"
               "changed    1 reverse edge added (undirected), 0 duplicates dropped, 0 self-loops kept\n"
               "graph      3 nodes, 2 directed edges, 1 isolated node\n"
               "in-degree  mean 0.67, largest 1; nodes by degree: 0: 1, 1: 2\n"},
              {"w.csv", weighted, "edges (list of edges)", {.loops = LOOPS_AUTO}, 3, 0, false, true,
               "found      5 edges on 3 nodes, 1 duplicate, 1 self-loop, weights\n"
               "changed    0 reverse edges added (directed as is), 1 duplicate dropped, 1 self-loop kept\n"
               "graph      3 nodes, 4 directed edges, 0 isolated nodes\n"
               "in-degree  mean 1.33, largest 3; nodes by degree: 0: 1, 1: 1, 2-3: 1\n"
               "ids        3 occur, from 5 to 70: compacted in ascending order, kept as external_id\n"},
              {"w.csv", weighted, "edges (list of edges)", {.direction = DIRECTION_BOTH, .loops = LOOPS_ADD}, 3, 0, true, true,
               "found      5 edges on 3 nodes, 1 duplicate, 1 self-loop, weights\n"
               "changed    1 reverse edge added (undirected), 1 duplicate dropped, 2 self-loops added\n"
               "graph      3 nodes, 7 directed edges, 0 isolated nodes\n"
               "in-degree  mean 2.33, largest 3; nodes by degree: 0: 0, 1: 0, 2-3: 3\n"
               "ids        3 occur, from 5 to 70: compacted in ascending order, kept as external_id\n"},
              {"w.csv", weighted, "edges (list of edges)", {.drop_weights = true, .keep_duplicates = true, .loops = LOOPS_DROP}, 3, 0, false, false,
               "found      5 edges on 3 nodes, 1 duplicate, 1 self-loop\n"
               "changed    0 reverse edges added (directed as is), 0 duplicates dropped, 1 self-loop dropped\n"
               "graph      3 nodes, 4 directed edges, 0 isolated nodes\n"
               "in-degree  mean 1.33, largest 2; nodes by degree: 0: 1, 1: 0, 2-3: 2\n"
               "ids        3 occur, from 5 to 70: compacted in ascending order, kept as external_id\n"},
              {"s.mtx", symmetric, "mtx (Matrix Market)", {.random_features = 2, .half = true, .classes = 1, .split = true, .share = {.75, 0, .25}},
               2, 4, true, false,
               "found      2 edges on 4 nodes, 0 duplicates, 1 self-loop\n"
               "changed    1 reverse edge added (undirected), 0 duplicates dropped, 1 self-loop kept\n"
               "graph      4 nodes, 3 directed edges, 2 isolated nodes\n"
               "in-degree  mean 0.75, largest 1; nodes by degree: 0: 1, 1: 3\n"
               "features   2 wide, fp16\n"
               "labels     1 classes, at random\n"
               "split 0    train 3, val 0, test 1, none 0\n"},
              {"bare.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", "mtx (Matrix Market)", {.loops = LOOPS_AUTO}, 0, 3, false, false,
               "found      0 edges on 3 nodes, 0 duplicates, 0 self-loops\n"
               "changed    0 reverse edges added (directed as is), 0 duplicates dropped, 0 self-loops kept\n"
               "graph      3 nodes, 0 directed edges, 3 isolated nodes\n"
               "in-degree  mean 0.00, largest 0; nodes by degree: 0: 3\n"},
              {"hub.txt", "# 9 to one\n1 0\n2 0\n3 0\n4 0\n5 0\n6 0\n7 0\n8 0\n9 0\n", "snap (SNAP list of edges)", {.random_features = 70, .row_normalise = true}, 4, 0, false, false,
               "found      9 edges on 10 nodes, 0 duplicates, 0 self-loops\n"
               "changed    0 reverse edges added (directed as is), 0 duplicates dropped, 0 self-loops kept\n"
               "graph      10 nodes, 9 directed edges, 0 isolated nodes\n"
               "in-degree  mean 0.90, largest 9; nodes by degree: 0: 9, 1: 0, 2-3: 0, 4-7: 0, 8-15: 1\n"
               "features   70 wide, fp32, rows normalised\n"},
              {"out.k", "% sym posweighted\n1 2 .5 3\n1 2 1 4\n", "konect (KONECT list of edges)", {.loops = LOOPS_AUTO}, 3, 0, true, true,
               "columns    those after the third are not read\n"
               "found      2 edges on 2 nodes, 1 duplicate, 0 self-loops, weights\n"
               "changed    1 reverse edge added (undirected), 1 duplicate dropped, 0 self-loops kept\n"
               "graph      2 nodes, 2 directed edges, 0 isolated nodes\n"
               "in-degree  mean 1.00, largest 1; nodes by degree: 0: 0, 1: 2\n"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int packed = 0; packed <= DEFLATE; packed++) {
            char path[600], name[40], out[600], text[4096], expected[4096], memory[24], file[24];
            convert_options how = of[k].how;
            error why = {""};
            bytes b = {0};
            snprintf(name, sizeof name, "%s%s", of[k].name, packed ? ".gz" : "");
            put_string(&b, of[k].text);
            bytes zipped = packed ? gzip_bytes(b.data, b.size) : b;
            /* a line takes about 12 bytes, of which gzip leaves about 4 */
            const int64_t edges = (of[k].as[0] == 'm' ? of[k].expected : (int64_t)(zipped.size / (packed ? 4 : 12)) + 1) << of[k].both;
            const int64_t nodes = of[k].nodes, edge = (int64_t)sizeof(ggnn_node) + (of[k].weights ? 4 : 0);
            CHECK(packed || edges == of[k].expected << of[k].both);
            write_file(folder_path(path, name), zipped.data, zipped.size);
            how.memory = 64 << 20;
            how.report = tmpfile();
            CHECK(convert(path, folder_path(out, "said.ggnn"), &how, &why));
            rewind(how.report);
            text[fread(text, 1, sizeof text - 1, how.report)] = 0;
            fclose(how.report);
            snprintf(expected, sizeof expected,
                     "reading    %s as %s\ntakes      about %s of memory (--memory 67.1 MB), none of scratch on the disk, %s of file\n%s", path, of[k].as,
                     resources_bytes(memory, edges * (of[k].weights ? 16 : 8) + (nodes ? nodes * 8 + nodes / 8 + 16 : 0)),
                     resources_bytes(file, edges * edge + nodes * 8), of[k].said);
            CHECK_STR(text, expected);
            if (packed) drop(&zipped);
            drop(&b);
        }
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
    for (int many = 0; many <= 5; many++) { /* none, and those without in-edges, too; the others validate */
        const convert_options some = {.split = true, .share = {many / 5., (5 - many) / 5., 0}, .train = TRAIN_DEGREE, .direction = DIRECTION_AS_IS};
        alarm(10); /* of fewer nodes than are left a shuffle finds no end */
        const bool ok = converted(&d, "degrees.npz", &some);
        alarm(0);
        if (!ok) return;
        for (int v = 0; v < 6; v++) CHECK_EQ(d.split[v], v == 0 ? SPLIT_NONE : v <= many ? SPLIT_TRAIN : SPLIT_VAL);
        dataset_close(&d);
    }
    for (int uniform = 0; uniform < 2; uniform++) { /* 2.5, 1.5 and 1 of five: halves are rounded up, and who comes last gets what is left */
        const convert_options halves = {.split = true, .share = {.5, .3, .2}, .train = uniform ? TRAIN_UNIFORM : TRAIN_DEGREE, .direction = DIRECTION_AS_IS};
        int64_t count[4] = {0};
        if (!converted(&d, "degrees.npz", &halves)) return;
        for (int v = 0; v < 6; v++) count[d.split[v]]++;
        CHECK(count[SPLIT_NONE] == 1 && count[SPLIT_TRAIN] == 3 && count[SPLIT_VAL] == 2 && count[SPLIT_TEST] == 0);
        dataset_close(&d);
    }
}

/* Parts of unlike numbers of splits: the last one's is taken, and the other is named. */
TEST(parts_of_other_numbers_of_splits_are_refused)
{
    static const int64_t edges[] = {0, 1, 1, 2};
    static const float features[] = {1, 2, 3};
    static const uint8_t none[9] = {0};
    static const char* const name[] = {"train_mask", "val_mask", "test_mask"};
    for (int first = 0; first < 2; first++)
        for (int other = first + 1; other < 3; other++)
            for (int more = 0; more < 2; more++) {
                zip_maker z = {0};
                array_sink to = {&z, NULL};
                char words[100];
                put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
                put_vector(&to, "x", "<f4", 3, features, 4);
                put_matrix(&to, name[first], "|b1", 2 + more, 3, none, 1, false);
                put_matrix(&to, name[other], "|b1", 3 - more, 3, none, 1, false);
                save(zip_end(&z), "unlike.npz", false);
                snprintf(words, sizeof words, "member %s.npy: shape (%d, 3); (splits, nodes) is expected", name[first], 2 + more);
                CHECK(strstr(refused("unlike.npz", &(convert_options){.format = FORMAT_AUTO}), words));
            }
}

/* One part by node where the others are by split, or without any order: as many elements, and other nodes. */
TEST(masks_of_the_right_size_and_another_shape_are_refused)
{
    static const int64_t edges[] = {0, 1, 1, 2};
    static const float features[] = {1, 2, 3};
    static const uint8_t mask[6] = {1, 1};
    static const char *const name[] = {"train_mask", "val_mask", "test_mask"}, *const shape[] = {"3, 2", "6,"}, *const shown[] = {"3, 2", "6"};
    for (int first = 0; first < 2; first++)
        for (int k = 0; k < 4; k++) {
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            char words[100], file[32];
            put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
            put_vector(&to, "x", "<f4", 3, features, 4);
            snprintf(file, sizeof file, "%s.npy", name[first]);
            zip_add_npy(&z, file, npy_of("|b1", shape[k / 2], k % 2, mask, 6));
            put_matrix(&to, name[2], "|b1", 2, 3, (const uint8_t[6]){0}, 1, false);
            save(zip_end(&z), "turned.npz", false);
            snprintf(words, sizeof words, "member %s: shape (%s); (splits, nodes) is expected", file, shown[k / 2]);
            CHECK(strstr(refused("turned.npz", &(convert_options){.format = FORMAT_AUTO}), words));
        }
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

/* The first row says how many there are: room for it grows at 256, at 512 and at 1,024. */
TEST(all_columns_of_wide_features_of_an_ogb_folder_are_read)
{
    enum { ROWS = 3, COLUMNS = 1100 };
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
    char was[600], is[600];
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
    save_numbers("long/split", "about", &(int64_t){0}, 1, false); /* a file is no split, and a link to a folder is one */
    CHECK(rename(folder_path(was, "long/split/hash"), folder_path(is, "long/elsewhere")) == 0 && symlink("../elsewhere", was) == 0);
    if (converted(&d, "long", &(convert_options){.loops = LOOPS_KEEP})) {
        for (int64_t v = 0; v < LONG_NODES; v++) CHECK_EQ(d.split[v], v < 3 || v > 5 ? SPLIT_NONE : v - 2);
        dataset_close(&d);
    }
    check_reported("long", "splits     from split/hash\n", true);
    remove_tree(folder_path((char[600]){0}, "long"));
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

/* The bytes of whole numbers as elements of a NumPy type, ">i4". */
static bytes elements_of(const char* type, const int64_t* value, int64_t count)
{
    bytes b = {0};
    const int size = type[2] - '0';
    for (int64_t i = 0; i < count; i++) {
        const float real = (float)value[i];
        const double wide = (double)value[i];
        uint64_t bits = (uint64_t)value[i];
        uint32_t low;
        memcpy(&low, &real, 4);
        if (type[1] == 'f') bits = size == 2 ? ggnn_float_to_half(real) : low;
        if (type[1] == 'f' && size == 8) memcpy(&bits, &wide, 8);
        for (int k = 0; k < size; k++) put_number(&b, bits >> 8 * (type[0] == '>' ? size - 1 - k : k) & 255, 1);
    }
    return b;
}

static void put_elements(array_sink* to, const char* name, const char* type, int64_t rows, int64_t columns, const int64_t* value, bool fortran)
{
    int64_t turned[2 * MODEL_EDGES_MAX];
    char shape[40];
    snprintf(shape, sizeof shape, columns < 0 ? "%d," : "%d, %d", (int)rows, (int)columns);
    if (columns < 0) columns = 1;
    for (int64_t i = 0; i < rows * columns; i++) turned[i] = fortran ? value[i % rows * columns + i / rows] : value[i];
    bytes data = elements_of(type, turned, rows * columns);
    put_npy(to, name, npy_of(type, shape, fortran, data.data, data.size));
    drop(&data);
}

/* Edges, features, labels, masks or ids of a split, names and offsets, each of each type that can hold it, in both orders. */
TEST(every_array_may_be_of_any_type)
{
    static const char* const type[] = {"|i1", "|u1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", ">u4", "<i8",
                                       ">i8", "<u8", ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "=i4", "=f8"};
    static model m;
    static edge_list l;
    int64_t edges[2 * MODEL_EDGES_MAX], feat[MODEL_NODES * MODEL_WIDTH], label[MODEL_NODES], names[MODEL_NODES], indptr[MODEL_NODES + 1] = {0},
        sources[MODEL_EDGES_MAX], weight[MODEL_EDGES_MAX], count = 0;
    test_seed(19);
    model_make(&m, 100);
    for (int64_t e = 0; e < m.num_edges; e++) {
        edges[2 * e] = m.src[e];
        edges[2 * e + 1] = m.dst[e];
        m.weight[e] = (float)test_below(100);
    }
    for (int v = 0; v < MODEL_NODES; v++) {
        for (int64_t e = 0; e < m.num_edges; e++) {
            if (m.dst[e] != v) continue;
            weight[count] = (int64_t)m.weight[e];
            sources[count++] = m.src[e];
        }
        indptr[v + 1] = count;
        label[v] = m.label[v] = m.label[v] < 0 ? 0 : m.label[v];
        names[v] = v * 37 % 101;
        for (int j = 0; j < MODEL_WIDTH; j++) m.feat[v][j] = (float)(feat[v * MODEL_WIDTH + j] = test_below(100));
        for (int s = 0; s < MODEL_SPLITS; s++) m.split[s][v] = (uint8_t)test_below(4);
    }
    expect(&l, &m, &(convert_options){.direction = DIRECTION_AS_IS});
    for (size_t k = 0; k < 2 * sizeof type / sizeof *type; k++)
        for (int lists = 0; lists < 2; lists++) {
            const char* t = type[k / 2];
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            dataset d;
            if (lists) {
                put_elements(&to, "indptr", t, MODEL_NODES + 1, -1, indptr, false);
                put_elements(&to, "indices", t, count, -1, sources, false);
                put_elements(&to, "weight", t, count, -1, weight, false);
            } else
                put_elements(&to, "edges", t, m.num_edges, 2, edges, k % 2);
            put_elements(&to, "features", t, MODEL_NODES, MODEL_WIDTH, feat, k % 2);
            put_elements(&to, "labels", t, MODEL_NODES, k % 2 ? 1 : -1, label, false);
            put_elements(&to, "external_id", t, MODEL_NODES, -1, names, false);
            for (int part = 1; part <= 3; part++) {
                int64_t mask[MODEL_SPLITS * MODEL_NODES];
                for (int i = 0; i < MODEL_SPLITS * MODEL_NODES; i++) mask[i] = m.split[i / MODEL_NODES][i % MODEL_NODES] == part;
                put_elements(&to, (const char*[]){"", "train_mask", "val_mask", "test_mask"}[part], t, MODEL_SPLITS, MODEL_NODES, mask, k % 2);
            }
            save(zip_end(&z), "typed.npz", false);
            if (!converted(&d, "typed.npz", &(convert_options){.direction = DIRECTION_AS_IS, .wide = true})) continue;
            bool good = graph_is(&d, &l) && (d.csc.weight != NULL) == lists && rows_are(&d, &m) && labels_are(&d, &m) &&
                        splits_are(&d, &m, MODEL_SPLITS) && d.external_id;
            for (int v = 0; v < MODEL_NODES && good; v++) good = d.external_id[v] == names[v];
            if (!CHECK(good)) printf("    %s, by %s, %s\n", t, k % 2 ? "columns" : "rows", lists ? "lists" : "edges");
            dataset_close(&d);
        }
}

/* One mask of bools, bytes or floats, or a list of ids of wider integers; of one part alone, or of each. */
TEST(a_split_is_of_masks_or_of_ids_by_their_type)
{
    static const char* const type[] = {"|i1", "|u1", "<f2", ">f4", "<f8", "<i2", ">u2", "<i4", "<u4", ">i8", "<u8"};
    enum { FIRST_OF_IDS = 5 };
    static const char* const name[] = {"train", "val", "test"};
    static const int64_t edges[] = {0, 1, 1, 2, 3, 4};
    static const float feature[] = {1, 2, 3, 4, 5};
    static const int64_t in[3][2] = {{4, 0}, {2, -1}, {1, 3}};
    for (size_t k = 0; k < sizeof type / sizeof *type; k++)
        for (int parts = 1; parts < 8; parts++) {
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            uint8_t expected[5] = {0};
            dataset d;
            put_matrix(&to, "edges", "<i8", 3, 2, edges, 8, false);
            put_vector(&to, "x", "<f4", 5, feature, 4);
            for (int part = 0; part < 3; part++) {
                int64_t mask[5] = {0};
                const int64_t count = in[part][1] < 0 ? 1 : 2;
                if (!(parts >> part & 1)) continue;
                for (int64_t i = 0; i < count; i++) {
                    mask[in[part][i]] = 1;
                    expected[in[part][i]] = (uint8_t)(part + 1);
                }
                if (k < FIRST_OF_IDS) put_elements(&to, name[part], type[k], 5, -1, mask, false);
                else put_elements(&to, name[part], type[k], count, -1, in[part], false);
            }
            save(zip_end(&z), "parts.npz", false);
            if (!converted(&d, "parts.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
            if (!CHECK(d.num_splits == 1 && memcmp(d.split, expected, 5) == 0)) printf("    %s, parts %d\n", type[k], parts);
            CHECK(d.feat.width == 1 && memcmp(d.feat.rows, feature, sizeof feature) == 0);
            dataset_close(&d);
        }
}

TEST(a_sparse_adjacency_matrix_may_stand_alone)
{
    static const int64_t indptr[] = {0, 1, 2, 2}, indices[] = {1, 2}, shape[] = {3, 3};
    dataset d;
    for (int with = 0; with < 3; with++) { /* with nothing, labels, attributes */
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        put_vector(&to, "adj_indptr", "<i8", 4, indptr, 8);
        put_vector(&to, "adj_indices", "<i8", 2, indices, 8);
        put_vector(&to, "adj_shape", "<i8", 2, shape, 8);
        if (with == 1) put_vector(&to, "labels", "<i8", 3, (const int64_t[]){2, 0, 1}, 8);
        if (with == 2) put_matrix(&to, "attr_matrix", "<f4", 3, 1, (const float[]){2, 0, 1}, 4, false);
        save(zip_end(&z), "alone.npz", false);
        if (!converted(&d, "alone.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK(d.num_nodes == 3 && d.num_edges == 4 && !d.split && !d.csc.weight && !d.external_id);
        CHECK(with == 1 ? d.label && d.label[0] == 2 && d.label[1] == 0 && d.label[2] == 1 : !d.label);
        CHECK(with == 2 ? d.feat.width == 1 && ((const float*)d.feat.rows)[0] == 2 && ((const float*)d.feat.rows)[2] == 1 : !d.feat.rows);
        dataset_close(&d);
    }
}

/* Of arrays that say one thing the first counts, in this order. */
TEST(arrays_that_say_one_thing_have_an_order)
{
    static const char* const edges[] = {"edges", "edge_index", "indptr"};
    static const char* const features[] = {"node_features", "features", "feat", "x"};
    static const char* const labels[] = {"node_labels", "labels", "label", "y"};
    static const char* const parts[] = {"split", "train_masks", "train_mask", "train"};
    static const char* const val[] = {NULL, "val_mask", "valid", "val"};
    static const char* const test[] = {NULL, "test_masks", "test_mask", "test"};
    for (int first = 0; first < 4; first++) { /* those before it are not there */
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        for (int64_t k = 3; k >= first; k--) { /* k is in what each holds */
            const int64_t pair[2] = {k, 3}, indptr[] = {0, 0, 0, 0, 1}, label[4] = {k, k, k, k};
            const float feature[4] = {(float)k, 0, 0, 0};
            uint8_t part[4] = {0};
            part[k] = 1;
            if (k < 2) put_matrix(&to, edges[k], "<i8", k ? 2 : 1, k ? 1 : 2, pair, 8, false);
            if (k == 2) put_vector(&to, "indptr", "<i8", 5, indptr, 8);
            if (k == 2) put_vector(&to, "indices", "<i8", 1, pair, 8);
            if (k == 3 && first == 3) put_matrix(&to, edges[0], "<i8", 1, 2, (const int64_t[]){3, 3}, 8, false);
            put_vector(&to, features[k], "<f4", 4, feature, 4);
            put_vector(&to, labels[k], "<i8", 4, label, 8);
            put_matrix(&to, parts[k], "|u1", 1, 4, part, 1, false);
            if (k > 0) put_matrix(&to, val[k], "|u1", 1, 4, (const uint8_t[4]){k == 3, k == 4, k == 1, k == 2}, 1, false); /* the next node's */
            if (k > 0) put_matrix(&to, test[k], "|u1", 1, 4, (const uint8_t[4]){k == 2, k == 3, k == 4, k == 1}, 1, false);
        }
        save(zip_end(&z), "order.npz", false);
        if (!converted(&d, "order.npz", &(convert_options){.direction = DIRECTION_AS_IS})) continue;
        CHECK(d.num_nodes == 4 && d.num_edges == 1 && d.csc.indices[0] == first && d.csc.indptr[3] == 0);
        CHECK(((const float*)d.feat.rows)[0] == (float)first && d.label[3] == first && d.num_splits == 1);
        for (int v = 0; v < 4; v++) CHECK_EQ(d.split[v], v == first ? SPLIT_TRAIN : first && (v + 3) % 4 == first ? SPLIT_VAL : first && (v + 2) % 4 == first ? SPLIT_TEST : SPLIT_NONE);
        dataset_close(&d);
    }
}

/* Masks of several splits, of some of the parts. */
TEST(every_part_may_say_how_many_splits_there_are)
{
    static const int64_t edges[] = {0, 1, 1, 2};
    static const float feature[] = {1, 2, 3};
    static const uint8_t mask[3][4][3] = {{{1, 0, 0}, {0, 0, 0}, {0, 1, 0}, {0, 0, 0}},
                                          {{0, 1, 0}, {1, 1, 0}, {0, 0, 0}, {0, 0, 0}},
                                          {{0, 0, 1}, {0, 0, 1}, {1, 0, 0}, {1, 1, 1}}};
    for (int parts = 1; parts < 8; parts++)
        for (int fortran = 0; fortran < 2; fortran++) {
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            uint8_t expected[4][3] = {{0}};
            dataset d;
            put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
            put_vector(&to, "x", "<f4", 3, feature, 4);
            for (int part = 0; part < 3; part++) {
                if (!(parts >> part & 1)) continue;
                put_matrix(&to, (const char*[]){"train_mask", "val_mask", "test_mask"}[part], "|b1", 4, 3, mask[part], 1, fortran);
                for (int i = 0; i < 12; i++)
                    if (mask[part][i / 3][i % 3]) expected[i / 3][i % 3] = (uint8_t)(part + 1);
            }
            save(zip_end(&z), "many.npz", false);
            if (!converted(&d, "many.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
            if (!CHECK(d.num_splits == 4 && memcmp(d.split, expected, sizeof expected) == 0)) printf("    parts %d\n", parts);
            dataset_close(&d);
        }
}

/* Whole numbers are classes, of floats too; -1 and nan are unknown. One that is not whole makes all of them real, and -1 a number. */
TEST(labels_are_classes_or_real)
{
    static const struct {
        double value[4];
        bool real;
        double label[4];
        const char* said;
    } of[] = {{{0, 2, -1, 1}, false, {0, 2, -1, 1}, "labels     3 classes, 1 node without\n"},
              {{NAN, 2, -1, 1048575}, false, {-1, 2, -1, 1048575}, "labels     1048576 classes, 2 nodes without\n"},
              {{-1, -1, NAN, -1}, false, {-1, -1, -1, -1}, "labels     0 classes, 4 nodes without\n"},
              {{0, 2, 1, 1}, false, {0, 2, 1, 1}, "labels     3 classes, 0 nodes without\n"},
              {{.5, -1, NAN, 7}, true, {.5, -1, NAN, 7}, "labels     real, 1 node without\n"},
              {{1e9, -7, 3.25, -1}, true, {1e9, -7, 3.25, -1}, "labels     real, 0 nodes without\n"}};
    static const int64_t edges[] = {0, 1, 1, 2, 2, 3};
    static const uint8_t mask[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        put_matrix(&to, "edges", "<i8", 3, 2, edges, 8, false);
        put_vector(&to, "y", "<f8", 4, of[k].value, 8);
        for (int part = 0; part < 3; part++) put_vector(&to, (const char*[]){"train", "val", "test"}[part], "|b1", 4, mask[part], 1);
        save(zip_end(&z), "labels.npz", false);
        if (!converted(&d, "labels.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK_EQ(d.target != NULL, of[k].real);
        for (int v = 0; v < 4; v++) {
            const double label = of[k].label[v];
            const bool known = of[k].real ? !isnan(label) : label >= 0;
            CHECK(of[k].real ? d.target[v] == (float)label || (isnan(d.target[v]) && isnan(label)) : d.label[v] == (int32_t)label);
            CHECK_EQ(d.split[v], !known ? 0 : v < 2 ? v + 1 : 3);
        }
        dataset_close(&d);
        check_reported("labels.npz", of[k].said, true);
    }
}

/* In place of the format's own. */
TEST(a_split_that_is_asked_for_takes_the_place_of_the_formats)
{
    static model m;
    static const char* const files[] = {"own.npz", "own-npy", "own-ogb"};
    test_seed(20);
    model_make(&m, 60);
    model_npz(&m, files[0], EDGES_PAIRS, false, false);
    model_npy(&m, files[1], EDGES_CSC, false);
    model_ogb(&m, files[2], false);
    for (int k = 0; k < 3; k++) {
        dataset d;
        int64_t count[4], labelled = 0;
        error why = {""};
        if (!converted(&d, files[k], &(convert_options){.split = true, .share = {.5, .25, .25}})) continue;
        for (int v = 0; v < MODEL_NODES; v++) labelled += d.label[v] >= 0;
        CHECK(d.num_splits == 1 && dataset_split(&d, 0, count, &why));
        CHECK_EQ(count[SPLIT_TRAIN], (labelled + 1) / 2);
        CHECK_EQ(count[SPLIT_NONE] + count[SPLIT_TRAIN] + count[SPLIT_VAL] + count[SPLIT_TEST], MODEL_NODES);
        dataset_close(&d);
    }
    remove_tree(folder_path((char[600]){0}, files[1]));
    remove_tree(folder_path((char[600]){0}, files[2]));
}

/* Names of nodes that an array gives stay; ids that had to be compacted are names themselves. */
TEST(compacted_ids_are_names_before_those_of_an_array)
{
    static const int64_t dense[] = {1, 0, 0, 2}, sparse[] = {5, 0, 0, 9}, names[] = {30, 10, 20}, ids[] = {0, 5, 9};
    for (int k = 0; k < 2; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        dataset d;
        put_matrix(&to, "edges", "<i8", 2, 2, k ? sparse : dense, 8, false);
        put_vector(&to, "external_id", "<i8", 3, names, 8);
        save(zip_end(&z), "names.npz", false);
        if (!converted(&d, "names.npz", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK(d.num_nodes == 3 && d.external_id && memcmp(d.external_id, k ? ids : names, sizeof ids) == 0);
        dataset_close(&d);
    }
}

/* Arrays of edges alone, of which somebody says how many nodes they are between. */
TEST(bare_arrays_of_edges_have_the_nodes_that_are_asked_for)
{
    static const int64_t edges[] = {5, 0, 0, 9};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
    save(zip_end(&z), "bare.npz", false);
    if (!converted(&d, "bare.npz", &(convert_options){.num_nodes = 10})) return;
    CHECK(d.num_nodes == 10 && d.num_edges == 4 && !d.external_id && d.csc.indptr[10] == 4 && d.csc.indptr[9] == 3);
    dataset_close(&d);
    CHECK(strstr(refused("bare.npz", &(convert_options){.num_nodes = 6}), "bare.npz: edge 1: node id 9 is outside [0, 6)"));
    CHECK(strstr(refused("bare.npz", &(convert_options){.num_nodes = 9}), "bare.npz: edge 1: node id 9 is outside [0, 9)"));
}

/* Lists of every look. What a weight is, is looked at only where it is kept. */
TEST(lists_may_be_written_in_many_ways)
{
    static const struct {
        const char *name, *text;
        bool drop_weights;
        int64_t nodes, edges, indptr[4];
        ggnn_node indices[4];
        float weight[4]; /* < 0: none */
    } of[] = {{"three", "0,1", false, 2, 1, {0, 0, 1}, {0}, {-1}},
              {"four", "0,1\n", false, 2, 1, {0, 0, 1}, {0}, {-1}},
              {"crlf", "src,dst\r\n\r\n0,1\r\n# c\r\n2,0\r\n", false, 3, 2, {0, 1, 2, 2}, {2, 0}, {-1}},
              {"tabs", "\t0\t1\t\n \n1 \t 2", false, 3, 2, {0, 0, 1, 2}, {0, 1}, {-1}},
              {"mark", "\357\273\277source,target,weight\n0,1,2\n2,1,.5", false, 3, 2, {0, 0, 2, 2}, {0, 2}, {2, .5f}},
              {"percent", "% a comment of a plain list\n", false, 0, 0, {0}, {0}, {-1}},
              {"comments", "0,1\n% c\n# d\n#\n%\n1,2\n#", false, 3, 2, {0, 0, 1, 2}, {0, 1}, {-1}},
              {"capitals", "0 1 1E1\n1 2 +2.5\n2 0 25E-1", false, 3, 3, {0, 1, 2, 3}, {2, 0, 1}, {2.5f, 10, 2.5f}},
              {"words", "0,1,heavy\n1,2,\"light\"\n", true, 3, 2, {0, 0, 1, 2}, {0, 1}, {-1}},
              {"far", "0,1,-1e99\n1,2,nan\n", true, 3, 2, {0, 0, 1, 2}, {0, 1}, {-1}},
              {"konect", "% sym weighted\n1 2 3\n3 2 4\n", false, 3, 4, {0, 1, 3, 4}, {1, 0, 2, 1}, {3, 3, 4, 4}},
              {"snap", "# FromNodeId\tToNodeId\n0\t1\t-7\tx\n1\t2\n", false, 3, 2, {0, 0, 1, 2}, {0, 1}, {-1}},
              {"one.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 1\n", false, 1, 1, {0, 1}, {0}, {-1}},
              {"none.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", false, 3, 0, {0, 0, 0, 0}, {0}, {-1}},
              {"integer", "%%MatrixMarket matrix coordinate integer general\n%c\n\n3 3 2\n1 2 7\n\n2 3 0\n", false, 3, 2, {0, 0, 1, 2}, {0, 1}, {7, 0}},
              {"real", "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 .5\n2 2 3", false, 3, 3, {0, 1, 3, 3}, {1, 0, 1}, {.5f, .5f, 3}}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char path[600];
        dataset d;
        write_file(folder_path(path, of[k].name), of[k].text, strlen(of[k].text));
        if (of[k].nodes == 0) continue;
        if (!converted(&d, of[k].name, &(convert_options){.drop_weights = of[k].drop_weights})) continue;
        const bool good = d.num_nodes == of[k].nodes && d.num_edges == of[k].edges && !d.external_id &&
                          memcmp(d.csc.indptr, of[k].indptr, (size_t)(of[k].nodes + 1) * 8) == 0 &&
                          memcmp(d.csc.indices, of[k].indices, (size_t)of[k].edges * sizeof(ggnn_node)) == 0;
        if (!CHECK(good)) printf("    %s\n", of[k].name);
        if (of[k].edges == 0) CHECK(!d.csc.weight);
        else CHECK(of[k].weight[0] < 0 ? !d.csc.weight : d.csc.weight && memcmp(d.csc.weight, of[k].weight, (size_t)of[k].edges * 4) == 0);
        dataset_close(&d);
    }
}

/* As the help has them, and a few more; a line in which one is something else is no header. */
TEST(columns_are_known_by_each_of_their_names)
{
    static const char* const name[] = {"src", "source", "sourceid", "source_id", "srcid", "from", "fromid", "fromnode", "FromNodeId", "head", "start", "row",
                                       "u", "i", "dst", "dest", "destination", "target", "targetid", "dstid", "tgt", "to", "toid", "tonode", "ToNodeId", "tail",
                                       "end", "col", "column", "v", "j", "node", "node-id", "vertex", "id", "ID_2", "numeric_id", "weight", "weights", "w", "Value",
                                       "'src'", "\"Weight\"", "0x"};
    enum { KNOWN = sizeof name / sizeof *name - 1 };
    for (int k = 0; k <= KNOWN; k++)
        for (int column = 0; column < 3; column++) {
            const char* of[3] = {"src", "dst", "weight"};
            char path[600], lines[128];
            dataset d;
            of[column] = name[k];
            snprintf(lines, sizeof lines, "%s,%s,%s\n0,1,3\n2,1,4\n", of[0], of[1], of[2]);
            write_file(folder_path(path, "columns"), lines, strlen(lines));
            if (k == KNOWN) {
                CHECK(strstr(refused("columns", &(convert_options){.format = FORMAT_AUTO}), "no"));
                continue;
            }
            if (!converted(&d, "columns", &(convert_options){.format = FORMAT_AUTO})) continue;
            CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.csc.weight && d.csc.weight[1] == 4);
            dataset_close(&d);
        }
}

/* What each kind of file is taken for, by its first line, its first bytes, its name, or the names inside. */
TEST(what_a_path_holds_is_detected)
{
    static const struct {
        const char *name, *text;
        convert_format format;
    } of[] = {{"d/a", "0 1\n", FORMAT_EDGES},
              {"d/b", "% sym\n", FORMAT_KONECT},
              {"d/out.b", "1 2\n", FORMAT_KONECT},
              {"d/about.b", "1 2\n", FORMAT_EDGES},
              {"d/c", "# x\n", FORMAT_SNAP},
              {"d/d", "%%MatrixMarket matrix\n", FORMAT_MTX},
              {"d/out.d", "%%MatrixMarket matrix\n", FORMAT_MTX},
              {"d/e", "%%Matrix\n", FORMAT_KONECT},
              {"d/f", " # x\n", FORMAT_EDGES},
              {"d/g", "\357\273\277# x\n", FORMAT_SNAP},
              {"d/h", "7", FORMAT_EDGES},
              {"f1/raw/edge.csv", "", FORMAT_OGB},
              {"f2/raw/edge.csv.gz", "", FORMAT_OGB},
              {"f3/raw/data.npz", "", FORMAT_OGB_BINARY},
              {"f9/data.npz", "", FORMAT_OGB_BINARY},
              {"f4/reddit_data.npz", "", FORMAT_REDDIT},
              {"f5/adj_full.npz", "", FORMAT_GRAPHSAINT},
              {"f6/indptr.npy", "", FORMAT_NPY},
              {"f7/edge_index.npy", "", FORMAT_NPY},
              {"f8/edges.npy", "", FORMAT_NPY}};
    make_folder("d");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char path[600], name[40], inner[50];
        convert_format format = FORMAT_AUTO;
        error why = {""};
        const bool raw = strstr(of[k].name, "/raw/") != NULL, folders = of[k].name[0] == 'f';
        snprintf(name, sizeof name, folders ? "%.2s" : "%s", of[k].name);
        if (folders) make_folder(name);
        snprintf(inner, sizeof inner, "%s/raw", name);
        if (raw) make_folder(inner);
        write_file(folder_path(path, of[k].name), of[k].text, strlen(of[k].text));
        CHECK(convert_detect(&format, folder_path(path, name), &why));
        if (!CHECK_EQ(format, of[k].format)) printf("    %s\n", of[k].name);
        if (folders) remove_tree(folder_path(path, name));
    }
    remove_tree(folder_path((char[600]){0}, "d"));
}

/* Of what stands for several formats: each file that comes counts before those that are there. */
TEST(of_several_formats_in_one_place_one_is_meant)
{
    static const struct {
        const char *file, *array;
        convert_format format, archive;
    } of[] = {{"m/data.npz", "edges", FORMAT_OGB_BINARY, FORMAT_NPZ},
              {"m/edges.npy", "edge_index", FORMAT_NPY, FORMAT_NPZ},
              {"m/indptr.npy", "indptr", FORMAT_NPY, FORMAT_NPZ},
              {"m/adj_full.npz", "format", FORMAT_GRAPHSAINT, FORMAT_NPZ},
              {"m/reddit_data.npz", "adj_indptr", FORMAT_REDDIT, FORMAT_SHCHUR},
              {"m/raw/data.npz", "shape", FORMAT_OGB_BINARY, FORMAT_SCIPY},
              {"m/raw/edge.csv", "indices", FORMAT_OGB, FORMAT_SCIPY}};
    make_folder("m");
    make_folder("m/raw");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        convert_format format = FORMAT_AUTO;
        zip_maker z = {0};
        error why = {""};
        char path[600];
        write_file(folder_path(path, of[k].file), "", 0);
        CHECK(convert_detect(&format, folder_path(path, "m"), &why));
        CHECK_EQ(format, of[k].format);
        for (size_t i = 0; i <= k; i++) put_vector(&(array_sink){&z, NULL}, of[i].array, "|u1", 1, "", 1);
        save(zip_end(&z), "m.npz", false);
        CHECK(convert_detect(&format, folder_path(path, "m.npz"), &why));
        CHECK_EQ(format, of[k].archive);
    }
    remove_tree(folder_path((char[600]){0}, "m"));
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
        {"x.csv", "alice,bob\n0,1\n", "x.csv: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"alice\""},
        {"x.csv", "src,bob\n0,1\n", "x.csv: line 1, byte 5: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"bob\""},
        {"x.csv", "\"1\",\"2\"\n0,1\n", "x.csv: line 1, byte 1: neither a number nor"},
        {"x.csv", "src,1\n0,1\n", "x.csv: line 1, byte 5: neither a number nor"},
        {"x.csv", "nan,1\n0,1\n", "x.csv: line 1, byte 1: neither a number nor"},
        {"x.csv", "0,1,nan\n", "a weight is >= 0"},
        {"x.csv", "0,1,-1\n", "a weight is >= 0"},
        {"x.csv", "0,1,1e39\n", "a weight is >= 0"},
        {"x.csv", "src,dst\n", "holds no edge"},
        {"x.csv", "", "is empty"},
        {"x.csv", "\n\n", "holds no edge"},
        {"x.csv", "\357\273\277", "x.csv: holds no edge"},
        {"x", "\211GGN", "x: is a .ggnn file already"},
        {"x", "\211GGX", "x: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"?GGX\""},
        {"x", "\211GG", "x: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"?GG\""},
        {"x", "PK\5\6", "x: no zip archive: 4 bytes"},
        {"x", "PKXX", "x: no zip archive: 4 bytes"},
        {"x", "PQ\3\4", "x: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"PQ??\""},
        {"x", "PK\3", "x: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"PK?\""},
        {"x", "\037\213", "x: compressed"},
        {"x", "\037", "x: line 1, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"?\""},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n281474976710656 281474976710656 0\n",
         sizeof(ggnn_node) == 4 ? "281474976710656 nodes need 64-bit ids" : "281474976710656 nodes need more than 48-bit ids"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n281474976710655 281474976710655 0\n",
         sizeof(ggnn_node) == 4 ? "281474976710655 nodes need 64-bit ids" : "281474976710655 nodes need 2.29 PB of memory"},
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
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n", "holds no edge"},
        {"x.csv", "-1,2\n0,1\n", "line 1, byte 1: a negative id: \"-1\""},
        {"x.snap", "# s\n0 1\n% c\n", "line 3, byte 1: no number: \"% c\""},
        {"x.snap", "# s\n% c\n0 1\n", "line 2, byte 1: neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; --ids names: ids are text): \"% c\""},
        {"out.x", "% asym positive\n1 2\n# c\n", "line 3, byte 1: no number: \"# c\""},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n# c\n2 2 0\n", "line 2, byte 1: no number: \"# c\""},
        {"out.x", "% asym weighted\n1 2 3\n2 1\n", "line 3, byte 4: the line ends"},
        {"x.csv", "+1,-2\n", "line 1, byte 4: a negative id: \"-2\""},
        {"x.csv", "0,1\n,3\n", "line 2, byte 1: an empty field: \"\""},
        {"x.csv", "0,1\n2,\n", "line 2, byte 3: the line ends, a number is expected: \"\""},
        {"x.csv", "0,1,\n", "line 1, byte 5: the line ends, a number is expected: \"\""},
        {"x.csv", "0,1,2\n3,4\n", "line 2, byte 4: the line ends"},
        {"x.csv", "0,1,2\n3,4,5,6\n", "line 2, byte 7: more columns than in the first line: \"6\""},
        {"x.csv", "src,dst\n0,1,2,3\n", "line 2, byte 1: source, target and a weight are expected, not more"},
        {"x.csv", "src,dst\n7\n", "line 2, byte 1: source and target are expected: \"7\""},
        {"x.csv", "src,dst\n# 0,1\n\n", "x.csv: holds no edge"},
        {"x.csv", "src,abcdefghijabcdefghijabcdefghijabcdefghijabcdefghij\n", "ids are text): \"abcdefghijabcdefghijabcdefghijabcdefghij\""},
        {"x.csv", "src,srcsrcsrcsrcsrcsrcsrcsrcsrcsrcsrcsrc\n", "line 1, byte 5: neither a number nor"},
        {"x.csv", "1,2,0x10\n", "line 1, byte 5: no number: \"0x10\""},
        {"x.csv", "# c\n1,2\n3;4\n", "line 3, byte 1: no number: \"3;4\""},
        {"out.x", "% directed unweighted\n1 1\n", "line 1 is \"% directed unweighted\"; KONECT's is \"% sym|asym WEIGHTS\""},
        {"out.x", "1 2\n", "line 1 is no comment; KONECT's is"},
        {"out.x", "% asym positive\n1 2 3\n5 0\n", "line 3, byte 3: ids begin at 1: \"0\""},
        {"x.mtx", "%%MatrixMarket vector coordinate real general\n2 2 0\n", "line 1 is \"%%MatrixMarket vector coordinate real general\"; \"%%"},
        {"x.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n", "general|symmetric\" is read"},
        {"x.mtx", "%%MatrixMarket matrix coordinate real hermitian\n2 2 0\n", "general|symmetric\" is read"},
        {"x.mtx", "%%MatrixMarket matrix coordinate\n2 2 0\n", "general|symmetric\" is read"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1\n2 2\n", "2 entries, its header says 1 (truncated?)"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n", "0 entries, its header says 1"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", "0 nodes, 0 entries"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 -1\n", "2 nodes, -1 entries"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2\n", "line 2, byte 4: the line ends"},
        {"x.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1\n", "line 3, byte 5: more columns than in the first line: \"1\""},
        {"x.mtx", "%%MatrixMarket matrix coordinate integer general\n2 2 1\n2 2 -1\n", "line 3, byte 5: a weight is >= 0 and finite (--drop-weights ignores them): \"-1\""}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char path[600];
        write_file(folder_path(path, bad[k].name), bad[k].content, strlen(bad[k].content));
        const char* message = refused(bad[k].name, &(convert_options){.loops = LOOPS_KEEP});
        if (!CHECK(strstr(message, bad[k].message))) printf("    %zu: %s\n", k, message);
    }
    CHECK(strstr(refused("absent.csv", &(convert_options){.loops = LOOPS_KEEP}), "absent.csv: No such file"));
}

/* --nodes of a list: the last id there may be, and the next one, as source and as target. */
TEST(ids_of_a_list_end_where_the_nodes_that_are_asked_for_do)
{
    static const struct {
        const char *name, *head;
        int base;
    } of[] = {{"x.csv", "", 0}, {"x.snap", "# s\n", 0}, {"out.x", "% asym unweighted\n", 1}};
    for (int k = 0; k < 3; k++)
        for (int beyond = 0; beyond < 3; beyond++) {
            const convert_options how = {.num_nodes = 5};
            char path[600], text[100], words[100];
            dataset d;
            int length = snprintf(text, sizeof text, "%s%d %d\n%d %d\n", of[k].head, of[k].base, 4 + of[k].base, 4 + of[k].base + (beyond == 1), of[k].base + 5 * (beyond == 2));
            write_file(folder_path(path, of[k].name), text, (size_t)length);
            snprintf(words, sizeof words, "%s: line %d, byte %d: id is outside [%d, %d]: \"%d", of[k].name, k ? 3 : 2, beyond == 1 ? 1 : 3, of[k].base, 4 + of[k].base, 5 + of[k].base);
            if (beyond) {
                if (!CHECK(strstr(refused(of[k].name, &how), words))) printf("    not %s\n", words);
                continue;
            }
            if (!converted(&d, of[k].name, &how)) continue;
            CHECK(d.num_nodes == 5 && d.num_edges == 2 && !d.external_id && d.csc.indices[0] == 4 && d.csc.indices[1] == 0 && d.csc.indptr[4] == 1);
            dataset_close(&d);
        }
}

/* Masks of each part, and a split array: 1,000 splits are kept, 1,001 and none are refused, as nothing could read them. */
TEST(a_thousand_splits_are_the_most)
{
    enum { NODES = 3, MOST = 1000 };
    static const int64_t edges[] = {0, 1, 1, 2};
    static const float features[] = {1, 2, 3};
    static const char* const name[] = {"split", "train_mask", "val_mask", "test_mask"};
    static uint8_t marks[(MOST + 1) * NODES];
    marks[MOST * NODES - 1] = 1;
    for (int k = 0; k < 4; k++)
        for (int splits = 0; splits <= MOST + 1; splits += splits ? 1 : MOST) {
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            char words[80];
            dataset d;
            put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
            put_vector(&to, "x", "<f4", NODES, features, 4);
            put_matrix(&to, name[k], k ? "|b1" : "|u1", splits, NODES, marks, 1, false);
            save(zip_end(&z), "most.npz", false);
            snprintf(words, sizeof words, "most.npz: member %s.npy: %d splits; 1 to 1000 are stored", name[k], splits);
            if (splits != MOST) CHECK(strstr(refused("most.npz", &(convert_options){.format = FORMAT_AUTO}), words));
            else if (converted(&d, "most.npz", &(convert_options){.format = FORMAT_AUTO})) {
                CHECK(d.num_splits == MOST && d.split[MOST * NODES - 1] == (k ? k : 1) && d.split[MOST * NODES - 2] == 0);
                dataset_close(&d);
            }
        }
}

/* A split array and coords are read by rows, as all of one row comes before the next. */
TEST(arrays_that_are_read_by_rows_alone_are_refused_by_columns)
{
    static const int64_t edges[] = {0, 1, 1, 2}, shape[] = {3, 3};
    static const float ones[] = {1, 2, 3};
    static const uint8_t split[2][3] = {{1, 2, 3}, {0, 1, 2}};
    for (int coords = 0; coords < 2; coords++)
        for (int fortran = 0; fortran < 2; fortran++) {
            zip_maker z = {0};
            array_sink to = {&z, NULL};
            dataset d;
            put_matrix(&to, coords ? "coords" : "edge_index", "<i8", 2, 2, edges, 8, fortran);
            if (coords) {
                put_vector(&to, "data", "<f4", 2, ones, 4);
                put_vector(&to, "shape", "<i8", 2, shape, 8);
                put_npy(&to, "format", npy_of("|S3", "", false, "coo", 3));
            } else {
                put_vector(&to, "x", "<f4", 3, ones, 4);
                put_matrix(&to, "split", "|u1", 2, 3, split, 1, fortran);
            }
            save(zip_end(&z), "turned.npz", false);
            const char* words = coords ? "member coords.npy: shape (2, 2); (2, as many as data), by rows, is expected" : "member split.npy: shape (2, 3); (nodes) or (splits, nodes), by rows, is expected";
            if (fortran) CHECK(strstr(refused("turned.npz", &(convert_options){.format = FORMAT_AUTO}), words));
            else if (converted(&d, "turned.npz", &(convert_options){.format = FORMAT_AUTO})) {
                CHECK(d.num_nodes == 3 && d.num_splits == (coords ? 0 : 2) && (coords || memcmp(d.split, split, sizeof split) == 0));
                dataset_close(&d);
            }
        }
}

/* 2^24 columns are the most; the message of the first column beyond shows that so many are taken. */
TEST(features_of_two_to_the_24_columns_are_begun)
{
    enum { MOST = 1 << 24 };
    static const int64_t indptr[] = {0, 0}, column = MOST, one[] = {1, 1}, two[] = {0, 1};
    static const float weight = 1;
    for (int64_t more = 0; more < 2; more++) {
        const int64_t wide[] = {1, MOST + more};
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        put_vector(&to, "adj_indptr", "<i8", 2, indptr, 8);
        put_vector(&to, "adj_indices", "<i8", 0, indptr, 8);
        put_vector(&to, "adj_shape", "<i8", 2, one, 8);
        put_vector(&to, "attr_indptr", "<i8", 2, two, 8);
        put_vector(&to, "attr_indices", "<i8", 1, &column, 8);
        put_vector(&to, "attr_data", "<f4", 1, &weight, 4);
        put_vector(&to, "attr_shape", "<i8", 2, wide, 8);
        save(zip_end(&z), "widest.npz", false);
        const char* message = refused("widest.npz", &(convert_options){.format = FORMAT_AUTO});
        CHECK(strstr(message, more ? "features of width 16777217; 1 to 16777216 are stored" : "row 0: column 16777216 is outside [0, 16777216)"));
    }
}

TEST(a_folder_of_no_known_format_is_refused)
{
    make_folder("nothing");
    CHECK(strstr(refused("nothing", &(convert_options){.format = FORMAT_OGB_BINARY}), "data.npz"));
    CHECK(strstr(refused("nothing", &(convert_options){.loops = LOOPS_KEEP}), "nothing: a folder of no known format: none of the files is in it by which ogb, ogb-binary, reddit, graphsaint, igb, mag240m, npy are known (ggnn-data convert --help"));
}

/* A file of a folder of GraphSAINT's, 3 nodes in a row, replaced by a text; NULL: it is not there. */
static void make_saint(const char* file, const char* text)
{
    static const int64_t indptr[] = {0, 1, 3, 4}, indices[] = {1, 0, 2, 1}, shape[] = {3, 3}, data[] = {7, -1, 0, 9};
    static const float feats[] = {1, 2, 3};
    static const char* const good[][2] = {{"class_map.json", "{\"0\": 1, \"2\": 0, \"1\": 1}\n"}, {"role.json", "{\"tr\": [2], \"va\": [0], \"te\": []}"}};
    zip_maker z = {0};
    array_sink zip = {&z, NULL}, to = {NULL, "s3"};
    remove_tree(folder_path((char[600]){0}, "s3"));
    make_folder("s3");
    put_vector(&zip, "indptr", "<i8", 4, indptr, 8);
    put_vector(&zip, "indices", "<i8", 4, indices, 8);
    put_vector(&zip, "data", "<i8", 4, data, 8);
    put_vector(&zip, "shape", "<i8", 2, shape, 8);
    put_npy(&zip, "format", npy_of("|S3", "", false, "csr", 3));
    save_in(zip_end(&z), "s3", "adj_full.npz");
    put_vector(&to, "feats", "<f4", 3, feats, 4);
    for (int k = 0; k < 2; k++) {
        bytes b = {0};
        put_string(&b, strcmp(file, good[k][0]) == 0 && text ? text : good[k][1]);
        save_in(b, "s3", good[k][0]);
    }
    char path[600], name[60];
    snprintf(name, sizeof name, "s3/%s", file);
    if (!text) CHECK_EQ(remove(folder_path(path, name)), 0);
}

/* The classes 1, 1, 0 of the nodes 0, 1, 2, and a part of each. */
TEST(files_of_json_are_read_by_what_they_say)
{
    static const struct {
        const char *file, *text;
        int32_t label[3];
        uint8_t split[3];
    } of[] = {{"class_map.json", "{\"0\": 1, \"2\": 0, \"1\": 1}", {1, 1, 0}, {2, 0, 1}},
              {"class_map.json", "\xEF\xBB\xBF \r\n{\t\"1\":\n\n5 ,\"\\u0032\" :0}\n\n", {-1, 5, 0}, {0, 0, 1}},
              {"class_map.json", "{\"2\": -0, \"0\": -1}", {-1, -1, 0}, {0, 0, 1}},
              {"class_map.json", "{}", {-1, -1, -1}, {0, 0, 0}},
              {"class_map.json", "{\"1\": 1048575, \"0\":0,\"2\":0}", {0, 1048575, 0}, {2, 0, 1}},
              {"role.json", "{\"te\":[1,\n0],\"v\\u0061\":[ ],\"tr\":[2]}", {1, 1, 0}, {3, 3, 1}},
              {"role.json", " {\"va\" : [ ] , \"te\" : [ 0 ] , \"tr\" : [ ] } ", {1, 1, 0}, {3, 0, 0}}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        dataset d;
        make_saint(of[k].file, of[k].text);
        if (!converted(&d, "s3", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK(d.num_nodes == 3 && d.num_edges == 4 && !d.csc.weight && d.num_splits == 1);
        if (!CHECK(memcmp(d.label, of[k].label, sizeof of[k].label) == 0 && memcmp(d.split, of[k].split, 3) == 0)) printf("    %s\n", of[k].text);
        dataset_close(&d);
    }
    make_saint("", "");
    check_reported("s3", "\nweights    none: the data of ", true);
    check_reported("s3", "left out ", false);
    save_in((bytes){0}, "s3", "adj_train.npz");
    check_reported("s3", "\nleft out   adj_train.npz, the edges among training nodes: adj_full.npz has them\n", true);
}

TEST(bad_files_of_json_are_named_by_line_byte_and_value)
{
    static const struct {
        const char *file, *text, *message;
    } bad[] = {
        {"class_map.json", "{\"0\": 1,\n \"1\": [0, 1]}", "s3/class_map.json: line 2, byte 7, key \"1\": multi-label (several labels a node): one class per node is stored"},
        {"class_map.json", "{\"0\": [1, 0]}", "class_map.json: line 1, byte 7, key \"0\": multi-label"},
        {"class_map.json", "{\"0\": 1, \"3\": 0}", "class_map.json: line 1, byte 10: no node of adj_full.npz: \"\"3\": 0}\""},
        {"class_map.json", "{\"0\": 1, \"-1\": 0}", "byte 10: no node of adj_full.npz: \"\"-1\": 0}\""},
        {"class_map.json", "{\"0\": 1, \"01\": 0}", "no node of adj_full.npz: \"\"01\": 0}\""},
        {"class_map.json", "{\"0\": 1, \"1 \": 0}", "no node of adj_full.npz: \"\"1 \": 0}\""},
        {"class_map.json", "{\"0\": 1, \"\": 0}", "no node of adj_full.npz"},
        {"class_map.json", "{\"0\": 1, \"99999999999999999999\": 0}", "no node of adj_full.npz"},
        {"class_map.json", "{\"0\": 1,\n\"0\": 1}", "line 2, byte 1: a node that is there twice: \"\"0\": 1}\""},
        {"class_map.json", "{\"0\": 1, \"\\u0030\": 1}", "byte 10: a node that is there twice"},
        {"class_map.json", "{\"0\": 1, \"1\": 1048576}", "class_map.json: line 1, byte 15: label 1048576 of node 1 is no class: -1 (unknown) or 0 to 1048575"},
        {"class_map.json", "{\"2\": -2, \"1\": -3}", "class_map.json: line 1, byte 7: label -2 of node 2 is no class"},
        {"class_map.json", "{\"0\": 1.5}", "byte 7: no whole number: \"1.5}\""},
        {"class_map.json", "{\"0\": \"1\"}", "byte 7: a whole number is expected: \"\"1\"}\""},
        {"class_map.json", "{\"0\": null}", "a whole number is expected: \"null}\""},
        {"class_map.json", "{\"0\": {}}", "a whole number is expected: \"{}}\""},
        {"class_map.json", "[1, 2]", "byte 1: an object {...} is expected: \"[1\""},
        {"class_map.json", "", "s3/class_map.json: line 1, byte 1: the JSON text ends too early"},
        {"class_map.json", "{\"0\": 1", "byte 8: the JSON text ends too early: \"\""},
        {"class_map.json", "{\"0\": 1} {", "byte 10: more behind the end of the JSON text: \"{\""},
        {"class_map.json", NULL, "s3: no file class_map.json in it"},
        {"role.json", "{\"tr\": [0], \"va\": [1], \"te\": [3]}", "s3/role.json: line 1, byte 31: no node of adj_full.npz: \"3]}\""},
        {"role.json", "{\"tr\": [-1], \"va\": [1], \"te\": [2]}", "no node of adj_full.npz: \"-1]\""},
        {"role.json", "{\"tr\": [0, 0], \"va\": [1], \"te\": [2]}", "byte 12: a node that is there twice: \"0]\""},
        {"role.json", "{\"tr\": [0], \"va\": [1], \"te\": [0]}", "byte 31: a node that is there twice: \"0]}\""},
        {"role.json", "{\"tr\": [0], \"va\": [1]}", "s3/role.json: \"te\" is missing"},
        {"role.json", "{\"tr\": [0], \"va\": [1], \"tr\": [2]}", "byte 24: a part that is there twice: \"\"tr\": [2]}\""},
        {"role.json", "{\"tr\": [0], \"val\": [1], \"te\": [2]}", "byte 13: none of tr, va, te: \"\"val\": [1]\""},
        {"role.json", "{\"tr\": [0], \"va\": 1, \"te\": [2]}", "byte 19: an array [...] is expected: \"1\""},
        {"role.json", "{\"tr\": [[0]], \"va\": [1], \"te\": [2]}", "byte 9: a whole number is expected: \"[0]]\""},
        {"role.json", "{\"tr\": [0,], \"va\": [1], \"te\": [2]}", "byte 11: a whole number is expected: \"]\""},
        {"role.json", "{\"tr\": [], \"va\": [], \"te\": []}]", "more behind the end"},
        {"role.json", NULL, "s3: no file role.json in it"},
        {"feats.npy", NULL, "s3: no file feats.npy in it"}};
    dataset d;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        make_saint(bad[k].file, bad[k].text);
        const char* message = refused("s3", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, bad[k].message))) printf("    %s\n    %s\n", bad[k].text ? bad[k].text : "", message);
    }
    make_saint("role.json", NULL); /* not looked at where another split is asked for */
    if (converted(&d, "s3", &(convert_options){.split = true, .share = {1, 0, 0}})) {
        CHECK(d.split[0] == 1 && d.split[2] == 1);
        dataset_close(&d);
    }
    make_saint("adj_full.npz", NULL);
    CHECK(strstr(refused("s3", &(convert_options){.format = FORMAT_GRAPHSAINT}), "s3: no file adj_full.npz in it"));
    remove_tree(folder_path((char[600]){0}, "s3"));
}

/* Of GraphSAINT's labels the first says it, of arrays the shape: neither waits for the edges, which are damaged here. */
TEST(several_labels_a_node_are_refused_before_any_edge_is_read)
{
    static const char words[] = ": multi-label (several labels a node): one class per node is stored";
    static const int64_t labels[] = {0, 1, 1, 0, 1, 1};
    make_saint("class_map.json", "{\"2\": [1, 0], \"0\"");
    save_in((bytes){0}, "s3", "adj_full.npz");
    const char* message = refused("s3", &(convert_options){.format = FORMAT_AUTO});
    if (!CHECK(strstr(message, "class_map.json: line 1, byte 7, key \"2\"") && strstr(message, words))) printf("    %s\n", message);
    for (int reddit = 0; reddit < 2; reddit++) {
        zip_maker z = {0};
        put_matrix(&(array_sink){&z, NULL}, reddit ? "label" : "labels", "<i8", 3, 2, labels, 8, false);
        put_vector(&(array_sink){&z, NULL}, "edges", "|u1", 2, "\0\1", 1);
        make_folder("r");
        save_in(zip_end(&z), "r", "reddit_data.npz");
        message = refused(reddit ? "r" : "r/reddit_data.npz", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, reddit ? "label.npy: shape (3, 2)" : "labels.npy: shape (3, 2)") && strstr(message, words))) printf("    %s\n", message);
    }
    remove_tree(folder_path((char[600]){0}, "s3"));
    remove_tree(folder_path((char[600]){0}, "r"));
}

TEST(bad_folders_of_reddit_are_named)
{
    static model m;
    char path[600];
    dataset d;
    test_seed(24);
    model_make(&m, 60);
    model_reddit(&m, "r", true, false);
    for (int k = 0; k < 4; k++) {
        static const char* const message[] = {"member node_types.npy: element 5 is 4, not 0 to 3", "no array feature.npy; it holds: label, node_types",
                                              "no array label.npy; it holds: feature, node_types", "no array node_types.npy; it holds: feature, label"};
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        m.split[0][5] = 4;
        if (k != 1) put_matrix(&to, "feature", "<f4", MODEL_NODES, MODEL_WIDTH, m.feat, 4, false);
        if (k != 2) put_vector(&to, "label", "<i8", MODEL_NODES, m.label, 8);
        if (k != 3) put_vector(&to, "node_types", "|u1", MODEL_NODES, m.split[0], 1);
        save_in(zip_end(&z), "r", "reddit_data.npz");
        const char* said = refused("r", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(said, message[k]))) printf("    %s\n", said);
    }
    if (converted(&d, "r", &(convert_options){.split = true, .share = {1, 0, 0}})) dataset_close(&d); /* no node_types are needed */
    m.split[0][5] = 3;
    m.num_edges -= 10;
    model_reddit(&m, "r", false, false); /* the graph without the self-loops that were added comes first */
    check_reported("r", "/r/reddit_graph.npz are not taken", true);
    check_reported("r", "found      50 edges", true);
    remove(folder_path(path, "r/reddit_self_loop_graph.npz"));
    remove(folder_path(path, "r/reddit_graph.npz"));
    CHECK(strstr(refused("r", &(convert_options){.format = FORMAT_AUTO}), "r: neither reddit_graph.npz nor reddit_self_loop_graph.npz is there"));
    remove_tree(folder_path(path, "r"));
}

/* A pickle that makes the file `ran` where anybody loads it (tests/datasets/test_graphsaint.py proves that it does). */
static bytes harmful_pickle(void)
{
    char path[600], command[620];
    bytes b = {0};
    const int length = snprintf(command, sizeof command, "touch %s", folder_path(path, "ran"));
    put(&b, "\x80\x02" "cos\nsystem\nX", 14);
    put_number(&b, (uint64_t)length, 4);
    put(&b, command, (size_t)length);
    put(&b, "\x85R.", 3);
    return b;
}

static void put_harm(array_sink* to, const char* name)
{
    bytes b = harmful_pickle();
    put_npy(to, name, npy_of("|O", "40,", false, b.data, b.size));
    drop(&b);
}

static void check_refused_harm(const char* name, const char* words)
{
    char path[600];
    const char* message = refused(name, &(convert_options){.format = FORMAT_AUTO});
    if (!CHECK(strstr(message, words) && access(folder_path(path, "ran"), F_OK) != 0)) printf("    %s\n", message);
}

/* Arrays of objects in each format that has arrays: no pickle in them is read. */
TEST(arrays_of_objects_are_refused_and_run_nothing)
{
    static const struct {
        const char* words;
        const char* array[3];
    } of[] = {{"member node_labels.npy: elements of type '|O' (pickled Python objects)", {"node_labels", "edges"}},
              {"member edges.npy: elements of type '|O'", {"edges"}},
              {"member edge_attr.npy: elements of type '|O'", {"edge_attr", "edge_index"}},
              {"member indptr.npy: elements of type '|O'", {"indptr", "indices"}},
              {"member adj_shape.npy: elements of type '|O'", {"adj_shape", "adj_indptr"}},
              {"member format.npy: elements of type '|O'", {"format", "shape"}}};
    static model m;
    char path[600];
    test_seed(25);
    model_make(&m, 60);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        for (int i = 0; of[k].array[i]; i++) put_harm(&to, of[k].array[i]);
        save(zip_end(&z), "objects.npz", false);
        check_refused_harm("objects.npz", of[k].words);
    }
    model_npy(&m, "o-npy", EDGES_INDEX, false);
    put_harm(&(array_sink){NULL, "o-npy"}, "train_masks");
    check_refused_harm("o-npy", "o-npy/train_masks.npy: elements of type '|O' (pickled Python objects)");
    model_graphsaint(&m, "o-saint", false, false);
    put_harm(&(array_sink){NULL, "o-saint"}, "feats");
    check_refused_harm("o-saint", "o-saint/feats.npy: elements of type '|O'");
    model_reddit(&m, "o-dgl", false, false);
    zip_maker z = {0};
    put_harm(&(array_sink){&z, NULL}, "label");
    save_in(zip_end(&z), "o-dgl", "reddit_data.npz");
    check_refused_harm("o-dgl", "o-dgl/reddit_data.npz: member label.npy: elements of type '|O'");
    for (int k = 0; k < 3; k++) remove_tree(folder_path(path, (const char*[]){"o-npy", "o-saint", "o-dgl"}[k]));
}

/* A pickle that is to be converted is refused by name; beside what is asked for it is no matter. */
TEST(pickles_are_refused_by_name_and_run_nothing)
{
    static const char *const beside[] = {"split_dict.pt", "split_dict.pkl", "meta.pt"}, *const folders[] = {"p-saint", "p-dgl", "p-npy", "p-ogb"};
    static model m;
    char path[600];
    dataset d;
    test_seed(26);
    model_make(&m, 60);
    save(harmful_pickle(), "split_dict.pkl", false);
    check_refused_harm("split_dict.pkl", "split_dict.pkl: is a pickle, and reading one may run code: it is not read");
    zip_maker z = {0};
    bytes b = harmful_pickle();
    zip_add_npy(&z, "archive/data.pkl", b);
    save(zip_end(&z), "split_dict.pt", false);
    check_refused_harm("split_dict.pt", "split_dict.pt: is a pickle, and reading one may run code: it is not read");
    model_graphsaint(&m, folders[0], false, false);
    model_reddit(&m, folders[1], false, false);
    model_npy(&m, folders[2], EDGES_INDEX, false);
    model_ogb(&m, folders[3], false);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 3; i++) save_in(harmful_pickle(), folders[k], beside[i]);
        if (converted(&d, folders[k], &(convert_options){.format = FORMAT_AUTO})) dataset_close(&d);
    }
    save_in(harmful_pickle(), "p-ogb", "split/time/split_dict.pt");
    if (converted(&d, "p-ogb", &(convert_options){.format = FORMAT_AUTO})) dataset_close(&d); /* lists of ids are there, too */
    CHECK(access(folder_path(path, "ran"), F_OK) != 0);
    for (int k = 0; k < 4; k++) remove_tree(folder_path(path, folders[k]));
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
    CHECK(strstr(refused_array("edges.npy", "<i8", "4,", wide, 32), "member edges.npy: shape (4); (2, E) or (E, 2)"));
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

/* An archive of arrays, or a folder of files, of which one is another. */
typedef struct {
    const char *name, *type, *shape; /* type NULL: it is left out */
    const void* data;
    size_t size;
} one_array;

static void save_arrays(const char* file, const one_array* good, int count, const one_array* other)
{
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    bool there = false;
    for (int k = 0; k <= count; k++) {
        if (k == count && there) break; /* it is another array of that name, or one more */
        const one_array* a = k == count || !strcmp(good[k].name, other->name) ? other : &good[k];
        there = there || a == other;
        if (a->type) put_npy(&to, a->name, npy_of(a->type, a->shape, false, a->data, a->size));
    }
    save(zip_end(&z), file, false);
}

static void check_refused_arrays(const one_array* good, int count, const one_array* other, const char* words)
{
    save_arrays("bad.npz", good, count, other);
    const char* message = refused("bad.npz", &(convert_options){.format = FORMAT_AUTO});
    if (!CHECK(strstr(message, words))) printf("    %s: %s\n", other->name, message);
}

#define INTS(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__})
#define REALS(...) (const float[]){__VA_ARGS__}, sizeof((const float[]){__VA_ARGS__})

TEST(bad_arrays_of_sparse_graphs_are_named)
{
    const one_array good[] = {{"adj_indptr", "<i8", "4,", INTS(0, 1, 2, 2)},    {"adj_indices", "<i8", "2,", INTS(1, 0)},
                                     {"adj_data", "<f4", "2,", REALS(1, 1)},           {"adj_shape", "<i8", "2,", INTS(3, 3)},
                                     {"attr_indptr", "<i8", "4,", INTS(0, 1, 2, 3)},   {"attr_indices", "<i8", "3,", INTS(1, 0, 1)},
                                     {"attr_data", "<f4", "3,", REALS(2, 3, 4)},       {"attr_shape", "<i8", "2,", INTS(3, 2)},
                                     {"labels_indptr", "<i8", "4,", INTS(0, 1, 1, 2)}, {"labels_indices", "<i8", "2,", INTS(4, 0)},
                                     {"labels_data", "<f4", "2,", REALS(1, 1)}};
    const struct {
        one_array other;
        const char* words;
    } bad[] = {{{"adj_indptr", "<i8", "4,", INTS(1, 1, 2, 2)}, "member adj_indptr.npy: begins with 1, not 0"},
               {{"adj_indptr", "<i8", "4,", INTS(0, 1, 1, 1)}, "member adj_indptr.npy: ends with 1, there are 2 indices"},
               {{"adj_indptr", "<i8", "4,", INTS(0, 2, 1, 2)}, "member adj_indptr.npy: row 1 is [2, 1) of 2 elements"},
               {{"adj_indptr", "<i8", "4,", INTS(0, 1, 2, 3)}, "member adj_indptr.npy: row 2 is [2, 3) of 2 elements"},
               {{"adj_indptr", "<i8", "4,", INTS(0, -1, 2, 2)}, "member adj_indptr.npy: row 0 is [0, -1) of 2 elements"},
               {{"adj_indptr", "<i8", "3,", INTS(0, 1, 2)}, "member adj_indptr.npy: shape (3); (rows + 1) is expected"},
               {{"adj_indptr", "<i8", "2, 2", INTS(0, 1, 2, 2)}, "member adj_indptr.npy: shape (2, 2); (rows + 1) is expected"},
               {{"adj_indices", "<i8", "2, 1", INTS(1, 0)}, "member adj_indices.npy: shape (2, 1); (elements) is expected"},
               {{"adj_indices", "<i8", "2,", INTS(1, 3)}, "edge 1: node id 3 is outside [0, 3)"},
               {{"adj_indices", "<i8", "2,", INTS(-1, 0)}, "edge 0: node id -1 is outside [0, 3)"},
               {{"adj_indices", NULL, "", INTS(0)}, "no array adj_indices.npy; it holds: adj_indptr, adj_data, adj_shape, attr_indptr"},
               {{"adj_data", "<f4", "3,", REALS(1, 1, 1)}, "member adj_data.npy: shape (3); as many as indices is expected"},
               {{"adj_data", "<f4", "1, 2", REALS(1, 1)}, "member adj_data.npy: shape (1, 2); as many as indices is expected"},
               {{"adj_shape", "<i8", "2,", INTS(3, 4)}, "the adjacency matrix is 3 by 4"},
               {{"adj_shape", "<i8", "2,", INTS(-3, -3)}, "member adj_shape.npy: negative"},
               {{"adj_shape", "<i8", "1,", INTS(3)}, "member adj_shape.npy: shape (1); (2) is expected"},
               {{"adj_shape", NULL, "", INTS(0)}, "no array adj_shape.npy; it holds: adj_indptr, adj_indices, adj_data, attr_indptr"},
               {{"attr_shape", NULL, "", INTS(0)}, "no array attr_shape.npy; it holds: adj_indptr"},
               {{"attr_indices", NULL, "", INTS(0)}, "no array attr_indices.npy; it holds: adj_indptr"},
               {{"labels_indices", NULL, "", INTS(0)}, "no array labels_indices.npy; it holds: adj_indptr"},
               {{"attr_shape", "<i8", "2,", INTS(4, 2)}, "attributes of 4 nodes, a graph of 3"},
               {{"attr_shape", "<i8", "2,", INTS(2, 2)}, "attributes of 2 nodes, a graph of 3"},
               {{"attr_shape", "<i8", "2,", INTS(3, -2)}, "member attr_shape.npy: negative"},
               {{"attr_shape", "<i8", "2,", INTS(3, 0)}, "features of width 0; 1 to 16777216 are stored"},
               {{"attr_shape", "<i8", "2,", INTS(3, 16777217)}, "features of width 16777217; 1 to 16777216 are stored"},
               {{"attr_indices", "<i8", "3,", INTS(1, 2, 1)}, "member attr_indices.npy: row 1: column 2 is outside [0, 2)"},
               {{"attr_indices", "<i8", "3,", INTS(1, 0, -1)}, "member attr_indices.npy: row 2: column -1 is outside [0, 2)"},
               {{"attr_data", NULL, "", INTS(0)}, "no array attr_data.npy"},
               {{"attr_data", "<f4", "3,", REALS(2, 3, INFINITY)}, "member attr_data.npy: features: row 2, column 1: inf is no number to learn from"},
               {{"labels_indptr", "<i8", "4,", INTS(0, 0, 2, 2)}, "bad.npz: member labels_indices.npy: node 1 has 2 labels: multi-label (several labels a node): one class"},
               {{"labels_indptr", "<i8", "4,", INTS(0, 0, 0, 1)}, "member labels_indptr.npy: ends with 1, there are 2 indices"},
               {{"labels_indptr", "<i8", "3,", INTS(0, 1, 2)}, "member labels_indptr.npy: shape (3); (rows + 1) is expected"},
               {{"labels_indices", "<i8", "2,", INTS(0, 1048576)}, "member labels_indices.npy: label 1048576 of node 2 is no class: -1 (unknown) or 0 to 1048575"}};
    enum { GOOD = sizeof good / sizeof *good };
    static const float features[] = {0, 2, 3, 0, 0, 4};
    dataset d;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) check_refused_arrays(good, GOOD, &bad[k].other, bad[k].words);
    save_arrays("bad.npz", good, GOOD, &good[0]); /* the others say what is wrong with it */
    if (!converted(&d, "bad.npz", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.feat.width == 2 && memcmp(d.feat.rows, features, sizeof features) == 0);
    CHECK(d.label[0] == 4 && d.label[1] == -1 && d.label[2] == 0);
    dataset_close(&d);
}

TEST(bad_coordinates_of_a_sparse_matrix_are_named)
{
    const one_array columns[] = {{"row", "<i8", "2,", INTS(0, 1)}, {"col", "<i8", "2,", INTS(1, 2)}, {"data", "<f4", "2,", REALS(5, 6)},
                                 {"format", "|S3", "", "coo", 3}, {"shape", "<i8", "2,", INTS(3, 3)}};
    const one_array one[] = {{"coords", "<i8", "2, 2", INTS(0, 1, 1, 2)}, {"data", "<f4", "2,", REALS(5, 6)}, {"format", "|S3", "", "coo", 3},
                             {"shape", "<i8", "2,", INTS(3, 3)}};
    const struct {
        bool one;
        one_array other;
        const char* words;
    } bad[] = {{0, {"row", "<i8", "2, 1", INTS(0, 1)}, "member row.npy: shape (2, 1); as many as data is expected"},
               {0, {"col", "<i8", "1, 2", INTS(0, 1)}, "member col.npy: shape (1, 2); as many as data is expected"},
               {0, {"col", "<i8", "2,", INTS(1, 3)}, "edge 1: node id 3 is outside [0, 3)"},
               {0, {"row", "<i8", "2,", INTS(-1, 1)}, "edge 0: node id -1 is outside [0, 3)"},
               {0, {"col", NULL, "", INTS(0)}, "no array col.npy; it holds: row, data, format, shape"},
               {0, {"data", "<f4", "1, 2", REALS(5, 6)}, "member data.npy: shape (1, 2); (elements) is expected"},
               {0, {"data", NULL, "", INTS(0)}, "no array data.npy; it holds: row, col, format, shape"},
               {0, {"data", "<f4", "2,", REALS(5, -1)}, "edge 1: weight -1 is negative or not finite"},
               {0, {"format", "|S3", "2,", "coocoo", 6}, "member format.npy: 2 texts; one is expected"},
               {1, {"coords", "<i8", "2, 3", INTS(0, 1, 1, 2, 0, 0)}, "member coords.npy: shape (2, 3); (2, as many as data), by rows, is expected"},
               {1, {"coords", "<i8", "1, 2", INTS(0, 1)}, "member coords.npy: shape (1, 2); (2, as many"},
               {1, {"coords", "<i8", "4,", INTS(0, 1, 1, 2)}, "member coords.npy: shape (4); (2, as many"},
               {1, {"coords", "<i8", "2, 2", INTS(0, 1, 1, 4)}, "edge 1: node id 4 is outside [0, 3)"},
               {1, {"coords", NULL, "", INTS(0)}, "no array row.npy; it holds: data, format, shape"}};
    dataset d;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) check_refused_arrays(bad[k].one ? one : columns, bad[k].one ? 4 : 5, &bad[k].other, bad[k].words);
    for (int k = 0; k < 3; k++) { /* row and col count before coords */
        const one_array other = {"coords", "<i8", "2, 2", INTS(2, 2, 2, 2)};
        save_arrays("bad.npz", k == 1 ? one : columns, k == 1 ? 4 : 5, k == 2 ? &other : k ? one : columns);
        if (!converted(&d, "bad.npz", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.csc.indptr[1] == 0 && d.csc.indices[0] == 0 && d.csc.indices[1] == 1);
        CHECK(d.csc.weight && d.csc.weight[0] == 5 && d.csc.weight[1] == 6);
        dataset_close(&d);
    }
}

/* Features and labels are made up where there are none: classes or real ones. */
TEST(what_is_there_is_not_made_up)
{
    static const int64_t edges[] = {0, 1, 1, 2}, label[] = {0, 1, 0};
    static const float real[] = {.5f, 1, 2};
    for (int k = 0; k < 4; k++) { /* bare, features, labels, real labels */
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
        if (k == 1) put_vector(&to, "x", "<f4", 3, real, 4);
        if (k == 2) put_vector(&to, "y", "<i8", 3, label, 8);
        if (k == 3) put_vector(&to, "y", "<f4", 3, real, 4);
        save(zip_end(&z), "some.npz", false);
        for (int asked = 1; asked < 4; asked++) {
            const convert_options how = {.random_features = asked & 1 ? 2 : 0, .classes = asked & 2 ? 2 : 0};
            const char* words = k == 1 && (asked & 1) ? "some.npz: it has features; --random-features is for graphs without"
                                : k > 1 && (asked & 2) ? "some.npz: it has labels; --classes is for graphs without"
                                                       : NULL;
            dataset d;
            if (words) CHECK(strstr(refused("some.npz", &how), words));
            if (words || !converted(&d, "some.npz", &how)) continue;
            CHECK_EQ(d.feat.width, asked & 1 ? 2 : k == 1);
            CHECK((d.label != NULL) == ((asked & 2) || k == 2) && (d.target != NULL) == (k == 3));
            dataset_close(&d);
        }
    }
}

/* 65,519 is rounded to 65,504, the largest there is; 65,520 is rounded to infinity. */
TEST(halves_are_finite)
{
    static const int64_t edges[] = {0, 1, 1, 2};
    static const float value[] = {65504, -65504, 65519.996f, -65519.996f, 65520, -65520, 3e38f, -3e38f};
    for (int k = 0; k < 8; k++) {
        const float features[3][2] = {{1, 2}, {-1, value[k]}, {3, 4}};
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        char words[100];
        dataset d;
        put_matrix(&to, "edges", "<i8", 2, 2, edges, 8, false);
        put_matrix(&to, "x", "<f4", 3, 2, features, 4, false);
        save(zip_end(&z), "half.npz", false);
        snprintf(words, sizeof words, "half.npz: member x.npy: features: row 1, column 1: %g is beyond fp16 (65,504)", (double)value[k]);
        if (k > 3) CHECK(strstr(refused("half.npz", &(convert_options){.half = true}), words));
        else if (converted(&d, "half.npz", &(convert_options){.half = true})) {
            CHECK_EQ(((const uint16_t*)d.feat.rows)[3], k % 2 ? 0xFBFF : 0x7BFF);
            dataset_close(&d);
        }
    }
}

TEST(bad_arrays_of_edges_lists_and_splits_are_named)
{
    const one_array edges[] = {{"edge_index", "<i8", "2, 2", INTS(0, 1, 1, 2)}, {"feat", "<f4", "3, 1", REALS(1, 2, 3)},
                                      {"label", "<i8", "3,", INTS(0, 1, 0)}, {"train", "<i8", "1,", INTS(0)}, {"val", "<i8", "1,", INTS(1)}};
    const one_array lists[] = {{"indptr", "<i8", "4,", INTS(0, 1, 2, 2)}, {"indices", "<i8", "2,", INTS(1, 0)},
                                      {"weight", "<f4", "2,", REALS(1, 2)}, {"external_id", "<i8", "3,", INTS(7, 8, 9)},
                                      {"split", "|u1", "2, 3", "\1\2\3\0\1\2", 6}};
    const struct {
        bool list;
        one_array other;
        const char* words;
    } bad[] = {{0, {"edge_index", "<i8", "1, 4", INTS(0, 1, 1, 2)}, "member edge_index.npy: shape (1, 4); (2, E) or (E, 2) is expected"},
               {0, {"edge_index", "<i8", "4,", INTS(0, 1, 1, 2)}, "member edge_index.npy: shape (4); (2, E) or (E, 2) is expected"},
               {0, {"edge_index", "<i8", "2, 2", INTS(0, 1, 1, 3)}, "edge 1: node id 3 is outside [0, 3)"},
               {0, {"edge_index", NULL, "", INTS(0)}, "neither edges, edge_index, indptr, row_ptr, adj_indptr nor format and shape are among feat, label, train, val"},
               {0, {"feat", "<f4", "", REALS(1)}, "member feat.npy: shape (); (nodes, ...) is expected"},
               {0, {"feat", "<f4", "3, 0", "", 0}, "member feat.npy: shape (3, 0); (nodes, ...) is expected"},
               {0, {"feat", "<f4", "3, 1", REALS(1, NAN, 3)}, "features: row 1, column 0: nan is no number to learn from"},
               {0, {"label", "<i8", "3, 2", INTS(0, 1, 0, 1, 0, 1)}, "member label.npy: shape (3, 2): multi-label (several labels a node): one class per node is stored"},
               {0, {"label", "<i8", "4,", INTS(0, 1, 0, 1)}, "member label.npy: shape (4); (nodes), one label a node, is expected"},
               {0, {"label", "<i8", "1, 3", INTS(0, 1, 0)}, "member label.npy: shape (1, 3); (nodes), one label"},
               {0, {"label", "<i8", "3,", INTS(0, 1048576, 0)}, "label 1048576 of node 1 is no class: -1 (unknown) or 0 to 1048575"},
               {0, {"label", "<f8", "3,", (const double[]){0, -2, 1}, 24}, "label -2 of node 1 is no class"},
               {0, {"train", "<i8", "2,", INTS(0, 1)}, "split 0: node 1 is in train and in val"},
               {0, {"train", "<i8", "2,", INTS(0, 0)}, "member train.npy: element 1: node 0 is listed twice"},
               {0, {"train", "<i8", "2,", INTS(0, 3)}, "split 0, train: node 3 is outside [0, 3)"},
               {0, {"val", "<i8", "1,", INTS(-1)}, "split 0, val: node -1 is outside [0, 3)"},
               {0, {"val", "<i8", "1, 2, 1", INTS(1, 1)}, "member val.npy: shape (1, 2, 1); a mask or a list of ids is expected"},
               {0, {"val", "<i8", "", INTS(1)}, "member val.npy: shape (); a mask or a list of ids is expected"},
               {0, {"val", "|b1", "2, 2", "\0\0\0\0", 4}, "member val.npy: shape (2, 2); (splits, nodes) is expected"},
               {0, {"val", "|b1", "0, 3", "", 0}, "0 splits; 1 to 1000 are stored"},
               {1, {"indptr", "<i8", "4,", INTS(2, 2, 2, 2)}, "member indptr.npy: begins with 2, not 0"},
               {1, {"indptr", "<i8", "5,", INTS(0, 1, 2, 2, 2)}, "member external_id.npy: shape (3); (nodes) is expected"},
               {1, {"weight", "<f4", "3,", REALS(1, 2, 3)}, "member weight.npy: shape (3); as many as indices is expected"},
               {1, {"weight", "<f4", "2,", REALS(1, -2)}, "edge 1: weight -2 is negative or not finite (--drop-weights ignores them)"},
               {1, {"weight", "<f4", "2,", REALS(INFINITY, 2)}, "edge 0: weight inf is negative or not finite"},
               {1, {"external_id", "<i8", "1, 3", INTS(7, 8, 9)}, "member external_id.npy: shape (1, 3); (nodes) is expected"},
               {1, {"split", "|u1", "2, 3", "\1\2\3\0\1\4", 6}, "member split.npy: element 5 is 4, not 0 to 3"},
               {1, {"split", "|i1", "2, 3", "\1\2\3\0\1\377", 6}, "member split.npy: element 5 is -1, not 0 to 3"},
               {1, {"split", "|u1", "3, 2", "\1\2\3\0\1\2", 6}, "member split.npy: shape (3, 2); (nodes) or (splits, nodes), by rows, is expected: 3 nodes"},
               {1, {"split", "|u1", "2,", "\1\2", 2}, "member split.npy: shape (2); (nodes) or (splits, nodes), by rows, is expected: 3 nodes"}};
    dataset d;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) check_refused_arrays(bad[k].list ? lists : edges, 5, &bad[k].other, bad[k].words);
    for (int k = 0; k < 2; k++) {
        save_arrays("bad.npz", k ? lists : edges, 5, k ? lists : edges);
        if (!converted(&d, "bad.npz", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_nodes == 3 && d.num_edges == (k ? 2 : 4) && (d.label != NULL) == !k && (d.external_id != NULL) == k);
        dataset_close(&d);
    }
    check_refused_arrays(edges, 1, &(one_array){"edge_index", "<i8", "2, 0", "", 0}, "bad.npz: no edges");
    check_refused_arrays(edges, 1, &(one_array){"edge_index", "<i8", "2, 2", INTS(0, 1, 1, -2)}, "bad.npz: edge 1: node id -2 is negative");
    check_refused_arrays(edges, 1, &(one_array){"edge_index", "<i8", "2, 2", INTS(-1, 1, 1, 2)}, "bad.npz: edge 0: node id -1 is negative");
    save_arrays("bad.npz", lists, 5, &(one_array){"weight", "<f4", "2,", REALS(NAN, -2)});
    if (!converted(&d, "bad.npz", &(convert_options){.drop_weights = true})) return;
    CHECK(!d.csc.weight && d.num_edges == 2);
    dataset_close(&d);
}

#ifdef HAVE_ZLIB
/* A gzipped array does not say how long it is: it is read to its end, and one element more or less is an error of that array. */
TEST(arrays_in_a_folder_may_be_gzipped_and_are_read_to_their_end)
{
    static const int64_t indptr[] = {0, 1, 2, 2}, two[] = {1, 0}, pairs[] = {0, 1, 1, 2}, ids[] = {7, 8, 9}, label[] = {0, 1, 0}, square[] = {3, 3}, wide[] = {3, 1},
                         attr[] = {0, 0, 0}, rows[] = {0, 1, 2, 3};
    static const float ones[] = {1, 1, 1};
    static const struct {
        convert_format format;
        const char* except; /* an array whose second plane alone is looked at, up to its end */
        struct {
            const char *name, *type, *shape;
            bool fortran;
            const void* data;
            size_t size, element;
        } array[8];
    } of[] = {{FORMAT_NPY, NULL, {{"edges", "<i8", "2, 2", false, pairs, 32, 8}, {"feat", "<f4", "3, 1", false, ones, 12, 4}, {"label", "<i8", "3,", false, label, 24, 8},
                            {"train", "|b1", "3,", false, "\1\0\0", 3, 1}, {"val", "<i8", "1,", false, two, 8, 8}, {"test", "|b1", "1, 3", true, "\0\0\1", 3, 1}}},
              {FORMAT_NPY, NULL, {{"edge_index", "<i8", "2, 2", false, pairs, 32, 8}, {"feat", "<f4", "3, 2", true, pairs, 24, 4}, {"label", "<f4", "3, 1", true, ones, 12, 4},
                            {"split", "|u1", "1, 3", false, "\1\2\3", 3, 1}}},
              {FORMAT_NPY, NULL, {{"indptr", "<i8", "4,", false, indptr, 32, 8}, {"indices", "<i8", "2,", false, two, 16, 8}, {"weight", "<f4", "2,", false, ones, 8, 4},
                            {"external_id", "<i8", "3,", false, ids, 24, 8}}},
              {FORMAT_SHCHUR, "shape", {{"adj_indptr", "<i8", "4,", false, indptr, 32, 8}, {"adj_indices", "<i8", "2,", false, two, 16, 8},
                               {"attr_indptr", "<i8", "4,", false, rows, 32, 8}, {"attr_indices", "<i8", "3,", false, attr, 24, 8}, {"attr_data", "<f4", "3,", false, ones, 12, 4},
                               {"adj_shape", "<i8", "2,", false, square, 16, 8}, {"attr_shape", "<i8", "2,", false, wide, 16, 8}}},
              {FORMAT_SCIPY, "shape", {{"indptr", "<i8", "4,", false, indptr, 32, 8}, {"indices", "<i8", "2,", false, two, 16, 8}, {"data", "<f4", "2,", false, ones, 8, 4},
                               {"format", "|S3", "", false, "csr", 3, 1}, {"shape", "<i8", "2,", false, square, 16, 8}}},
              {FORMAT_SCIPY, "shape", {{"row", "<i8", "2,", false, two, 16, 8}, {"col", "<i8", "2,", false, two, 16, 8}, {"data", "<f4", "2,", false, ones, 8, 4},
                               {"format", "|S3", "", false, "coo", 3, 1}, {"shape", "<i8", "2,", false, square, 16, 8}}}};
    static const uint8_t zeros[64];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int wrong = -1; wrong < 16; wrong++) { /* none; each array too long, then too short */
            char file[100], path[600], words[200];
            const int which = wrong < 0 ? -1 : wrong % 8;
            const convert_options how = {.format = of[k].format};
            if (which >= 0 && (!of[k].array[which].name || (of[k].except && strstr(of[k].array[which].name, of[k].except)))) continue;
            make_folder("zipped");
            for (int a = 0; a < 8 && of[k].array[a].name; a++) {
                size_t size = of[k].array[a].size;
                bytes b = npy_of(of[k].array[a].type, of[k].array[a].shape, of[k].array[a].fortran, of[k].array[a].data, size);
                if (a == which && wrong >= 8) b.size -= of[k].array[a].element;
                if (a == which && wrong < 8) put(&b, zeros, of[k].array[a].element);
                bytes packed = gzip_bytes(b.data, b.size);
                snprintf(file, sizeof file, "zipped/%s.npy", of[k].array[a].name);
                write_file(folder_path(path, file), packed.data, packed.size);
                drop(&b);
                drop(&packed);
            }
            if (wrong < 0) {
                dataset d;
                if (converted(&d, "zipped", &how)) dataset_close(&d);
            } else {
                snprintf(words, sizeof words, "zipped/%s.npy: %s", of[k].array[which].name, wrong < 8 ? "more bytes after the " : "ends inside the ");
                const char* message = refused("zipped", &how);
                if (!CHECK(strstr(message, words))) printf("    %s\n", message);
            }
            remove_tree(folder_path(path, "zipped"));
        }
}
#endif

/* Of an archive that holds nothing known the names of arrays are told, as many as a line has room for. */
TEST(what_an_unknown_archive_holds_is_told)
{
    for (int count = 0; count < 90; count += count < 3 ? 1 : 29) {
        char words[2000];
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        size_t used = (size_t)snprintf(words, sizeof words, "format and shape are among ");
        const size_t before = used;
        zip_add(&z, "readme.txt", "none", 4);
        zip_add(&z, ".npy", "none", 4);
        for (int k = 0; k < count; k++) {
            char name[20];
            snprintf(name, sizeof name, "%c_array%d", 'a' + k % 26, k);
            if (k == 0) name[1] = 0; /* a name of one letter */
            put_vector(&to, name, "|u1", 1, "", 1);
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%s", k ? ", " : "", name);
        }
        zip_add(&z, "last.txt", "none", 4);
        zip_add(&z, ".npy", "none", 4);
        save(zip_end(&z), "unknown.npz", false);
        if (used > before + 255) words[used = before + 255] = 0;
        const char* message = refused("unknown.npz", &(convert_options){.format = FORMAT_AUTO});
        const size_t length = strlen(message);
        if (!CHECK(length > used && strcmp(message + length - used, words) == 0)) printf("    %s\n", message);
    }
}

TEST(what_a_folder_without_an_array_holds_is_told)
{
    array_sink to = {NULL, "lacking"};
    char path[600];
    make_folder("lacking");
    write_file(folder_path(path, "lacking/readme.txt"), "none", 4);
    put_vector(&to, "indptr", "<i8", 2, (const int64_t[]){0, 0}, 8);
    CHECK(strstr(refused("lacking", &(convert_options){.format = FORMAT_AUTO}), "/lacking: no array indices.npy; it holds: indptr"));
    remove_tree(folder_path(path, "lacking"));
}

/* 4,096 edges are handed over at a time. */
TEST(an_edge_that_is_out_of_range_is_named_by_its_number_in_the_file)
{
    enum { EDGES = 9000 };
    static int64_t pair[EDGES][2];
    static const float features[3] = {1, 2, 3};
    static const int64_t place[] = {0, 4095, 4096, 8999};
    for (int k = 0; k < 4; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        char words[80];
        pair[place[k]][k % 2] = 3;
        put_matrix(&to, "edges", "<i8", EDGES, 2, pair, 8, k / 2);
        put_vector(&to, "x", "<f4", 3, features, 4);
        pair[place[k]][k % 2] = 0;
        save(zip_end(&z), "far.npz", false);
        snprintf(words, sizeof words, "far.npz: edge %lld: node id 3 is outside [0, 3)", (long long)place[k]);
        CHECK(strstr(refused("far.npz", &(convert_options){.format = FORMAT_AUTO}), words));
    }
}

typedef struct {
    const char *name, *text; /* text NULL: it is left out */
} one_file;

static const one_file good_ogb[] = {{"raw/num-node-list", "3\n"}, {"raw/num-edge-list", "2\n"},   {"raw/edge", "0,1\n1,2\n"},
                                    {"raw/node-feat", "1,2\n3,4\n5,6\n"}, {"raw/node-label", "0\n1\n0\n"}, {"split/s/train", "0\n"},
                                    {"split/s/valid", "1\n"},     {"split/s/test", "2\n"}};

static void save_ogb(const one_file* other)
{
    static const char* const folders[] = {"o", "o/raw", "o/split", "o/split/s"};
    remove_tree(folder_path((char[600]){0}, "o"));
    for (int k = 0; k < 4; k++) make_folder(folders[k]);
    for (size_t k = 0; k < sizeof good_ogb / sizeof *good_ogb; k++) {
        char path[600], name[100];
        const char* text = strcmp(good_ogb[k].name, other->name) ? good_ogb[k].text : other->text;
        snprintf(name, sizeof name, "o/%s.csv", good_ogb[k].name);
        if (text) write_file(folder_path(path, name), text, strlen(text));
    }
}

TEST(bad_files_of_an_ogb_folder_are_named_by_line_and_byte)
{
    static const struct {
        one_file other;
        const char* words;
    } bad[] = {{{"raw/num-node-list", "3\n4\n"}, "o/raw/num-node-list.csv: holds several graphs; one is read"},
               {{"raw/num-node-list", "3,4\n"}, "num-node-list.csv: line 1, byte 3: more columns than expected: \"4\""},
               {{"raw/num-node-list", "-3\n"}, "num-node-list.csv: line 1, byte 1: a negative size: \"-3\""},
               {{"raw/num-node-list", "0\n"}, "edge.csv: line 1, byte 1: no node of num-node-list: \"0\""},
               {{"raw/num-node-list", "three\n"}, "num-node-list.csv: line 1, byte 1: no number: \"three\""},
               {{"raw/num-node-list", "2147483648\n"}, sizeof(ggnn_node) == 4 ? "o: 2147483648 nodes need 64-bit ids: `make NODE64=1` builds build64/ggnn-data" : "o: 2147483648 nodes need 17.4 GB of memory"},
               {{"raw/num-edge-list", "2\n2\n"}, "num-edge-list.csv: holds several graphs; one is read"},
               {{"raw/num-edge-list", "-1\n"}, "num-edge-list.csv: line 1, byte 1: a negative size: \"-1\""},
               {{"raw/num-edge-list", "3\n"}, "edge.csv: 2 edges, num-edge-list says 3 (truncated?)"},
               {{"raw/num-edge-list", "1\n"}, "edge.csv: 2 edges, num-edge-list says 1 (truncated?)"},
               {{"raw/edge", "0,1\n1,3\n"}, "edge.csv: line 2, byte 3: no node of num-node-list: \"3\""},
               {{"raw/edge", "0,1\n-1,2\n"}, "edge.csv: line 2, byte 1: no node of num-node-list: \"-1\""},
               {{"raw/edge", "0,1\n1,2,5\n"}, "edge.csv: line 2, byte 5: more columns than expected: \"5\""},
               {{"raw/edge", "0,1\n1\n"}, "edge.csv: line 2, byte 2: the line ends, a number is expected"},
               {{"raw/edge", "# src,dst\n0,1\n"}, "edge.csv: line 1, byte 1: no number: \"# src\""},
               {{"raw/node-feat", "1,2\n3,4\n5,6\n7,8\n"}, "o/raw/node-feat.csv: more than 3 rows of features, one a node"},
               {{"raw/node-feat", "1,2\n3,4\n"}, "node-feat.csv: 2 rows for 3 nodes (truncated?)"},
               {{"raw/node-feat", "1,2\n3\n5,6\n"}, "node-feat.csv: line 2, byte 2: the line ends"},
               {{"raw/node-feat", "1,2\n3,4,5\n5,6\n"}, "node-feat.csv: line 2, byte 5: more columns than expected: \"5\""},
               {{"raw/node-feat", "1,2\n3,inf\n5,6\n"}, "node-feat.csv: line 2, byte 3: a feature is a finite number: \"inf\""},
               {{"raw/node-feat", "1,nan\n3,4\n5,6\n"}, "node-feat.csv: line 1, byte 3: a feature is a finite number: \"nan\""},
               {{"raw/node-feat", "-inf,2\n3,4\n5,6\n"}, "node-feat.csv: line 1, byte 1: a feature is a finite number: \"-inf\""},
               {{"raw/node-feat", "1,1e39\n3,4\n5,6\n"}, "node-feat.csv: line 1, byte 3: a feature is a finite number: \"1e39\""},
               {{"raw/node-feat", "1,2\nnan,4\n5,6\n"}, "node-feat.csv: line 2, byte 1: a feature is a finite number: \"nan\""},
               {{"raw/node-feat", "1,2\n3,4\n1e39,6\n"}, "node-feat.csv: line 3, byte 1: a feature is a finite number: \"1e39\""},
               {{"raw/node-feat", "1,x\n"}, "node-feat.csv: line 1, byte 3: no number: \"x\""},
               {{"raw/node-feat", ""}, "node-feat.csv: is empty"},
               {{"raw/node-label", "0\n1\n0\n1\n"}, "node-label.csv: line 4, byte 1: more labels than nodes: \"1\""},
               {{"raw/node-label", "0\n1\n"}, "node-label.csv: 2 labels for 3 nodes (truncated?)"},
               {{"raw/node-label", "0\n1,1\n0\n"}, "node-label.csv: line 2, byte 1: multi-label (several labels a node): one class per node is stored"},
               {{"raw/node-label", "0\n1\nx\n"}, "node-label.csv: line 3, byte 1: no number: \"x\""},
               {{"raw/node-label", "0\n1\n1048576\n"}, "node-label.csv: line 3: label 1048576 of node 2 is no class: -1 (unknown) or 0 to 1048575"},
               {{"split/s/train", "0\n3\n"}, "split/s/train.csv: line 2, byte 1: a node outside [0, 3): \"3\""},
               {{"split/s/valid", "-1\n"}, "split/s/valid.csv: line 1, byte 1: a node outside [0, 3): \"-1\""},
               {{"split/s/test", "2,1\n"}, "split/s/test.csv: line 1, byte 3: more columns than expected: \"1\""},
               {{"split/s/valid", "1\n0\n"}, "o/split/s/valid.csv: split 0: node 0 is in train and in val"},
               {{"split/s/test", NULL}, "o: neither split/s/test.csv.gz nor split/s/test.csv is there"},
               {{"raw/num-edge-list", NULL}, "o: neither raw/num-edge-list.csv.gz nor raw/num-edge-list.csv is there"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        save_ogb(&bad[k].other);
        const char* message = refused("o", &(convert_options){.memory = 64 << 20});
        if (!CHECK(strstr(message, bad[k].words))) printf("    %zu: %s\n", k, message);
    }
    remove_tree(folder_path((char[600]){0}, "o"));
}

#ifdef HAVE_ZLIB
/* Cut, a gzipped file of text is named by what is wrong with it, and nothing is made of what could be read. */
TEST(gzipped_text_that_is_cut_is_refused_wherever_it_is_read)
{
    static const char* const lists[] = {"0,1\n1,2\n", "src,dst,weight\n0,1,2\n1,2,3\n", "# SNAP\n0 1\n", "% sym unweighted\n1 2\n",
                                        "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n"};
    for (size_t k = 0; k < sizeof good_ogb / sizeof *good_ogb + sizeof lists / sizeof *lists; k++) {
        const bool ogb = k < sizeof good_ogb / sizeof *good_ogb;
        const char* text = ogb ? good_ogb[k].text : lists[k - sizeof good_ogb / sizeof *good_ogb];
        bytes packed = gzip_bytes(text, strlen(text));
        for (size_t cut = packed.size - 12; cut < packed.size; cut += 11) { /* within the text; within the trailer, where all can be read */
            char name[100] = "cut.gz", path[600], words[200];
            if (ogb) {
                save_ogb(&(one_file){good_ogb[k].name, NULL}); /* and none behind it that is not needed */
                if (k < 5) remove_tree(folder_path(path, "o/split"));
                if (k < 4) remove(folder_path(path, "o/raw/node-label.csv"));
                if (k < 3) remove(folder_path(path, "o/raw/node-feat.csv"));
                snprintf(name, sizeof name, "o/%s.csv.gz", good_ogb[k].name);
            }
            write_file(folder_path(path, name), packed.data, cut);
            snprintf(words, sizeof words, "/%s: compressed data stop at byte %d, in the middle of a stream (truncated?)", name, (int)cut);
            const char* message = refused(ogb ? "o" : name, &(convert_options){.format = FORMAT_AUTO});
            if (!CHECK(strstr(message, words))) printf("    %s\n", message);
        }
        drop(&packed);
    }
    remove_tree(folder_path((char[600]){0}, "o"));
}
#endif

/* Blank lines, blanks, no newline at the end, the line ends of Windows, reals of any spelling; without what may be left out; hidden
   folders beside the split. */
TEST(an_ogb_folder_may_be_written_as_text_may)
{
    static const one_file other[] = {{"raw/edge", "\n 0 , 1 \r\n\r\n1\t2"}, {"raw/node-feat", "1.0,+2\r\n3E0,.4e1\n5,6."}, {"raw/node-label", "nan\r\n1\n-1"},
                                     {"split/s/train", "0"}, {"split/s/valid", ""}, {"raw/node-feat", NULL}, {"raw/node-label", NULL}, {"none", NULL},
                                     {"split/s/test", "2\n2\n"}};
    for (size_t k = 0; k < sizeof other / sizeof *other; k++) {
        static const float features[] = {1, 2, 3, 4, 5, 6};
        static const ggnn_node indices[] = {0, 1};
        dataset d;
        save_ogb(&other[k]);
        make_folder("o/split/.hidden");
        if (!converted(&d, "o", &(convert_options){.format = FORMAT_AUTO})) continue;
        CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.csc.indptr[1] == 0 && memcmp(d.csc.indices, indices, sizeof indices) == 0);
        CHECK(k == 5 ? !d.feat.rows : d.feat.width == 2 && memcmp(d.feat.rows, features, sizeof features) == 0);
        CHECK(k == 6 ? !d.label : d.label[0] == (k == 2 ? -1 : 0) && d.label[1] == 1 && d.label[2] == (k == 2 ? -1 : 0));
        CHECK(d.split[0] == (k == 2 ? 0 : 1) && d.split[1] == (k == 4 ? 0 : 2) && d.split[2] == (k == 2 ? 0 : 3));
        dataset_close(&d);
    }
    save_ogb(&(one_file){"raw/edge", "x\n"}); /* of both the gzipped one is read */
    bytes b = {0};
    put_string(&b, "2,0\n2,1\n");
    if (DEFLATE) save(b, "o/raw/edge.csv", true);
    else drop(&b);
    dataset d;
    if (DEFLATE && converted(&d, "o", &(convert_options){.format = FORMAT_AUTO})) {
        CHECK(d.csc.indptr[1] == 1 && d.csc.indptr[2] == 2 && d.csc.indices[0] == 2 && d.csc.indices[1] == 2);
        dataset_close(&d);
    }
    remove_tree(folder_path((char[600]){0}, "o"));
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

/* What holds the file NAME: the first folder of its path, or itself. */
static char* input_of(char path[600], const char* name)
{
    char first[100];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(name, "/"), name);
    return folder_path(path, first);
}

/* Converts damaged bytes: 1 fails with a message that names the file, 0 gives the good result, -1 gives another. */
static int damage(const bytes* file, const char* name, const reference* good)
{
    char in[600], out[600];
    error why = {""};
    dataset d;
    remove(folder_path(out, "damaged.ggnn"));
    write_file(folder_path(in, name), file->data, file->size);
    if (!convert(input_of(in, name), out, &(convert_options){.num_nodes = MODEL_NODES}, &why))
        return strstr(why.text, in) && access(out, F_OK) != 0 ? 1 : -1;
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
    const bool ok = CHECK(convert(input_of(in, name), good->path, &(convert_options){.num_nodes = MODEL_NODES}, &why) &&
                          dataset_open(&good->d, good->path, &why));
    if (!ok) printf("    %s\n", why.text);
    return ok;
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
        model_ogb_binary(&m, "damaged", k, false);
        check_damage(model_ogb_arrays(&m, k, !k, true), "damaged/raw/data.npz");
        model_ogb_binary(&m, "damaged", k, false);
        check_damage(model_ogb_labels(&m, k), "damaged/raw/node-label.npz");
        remove_tree(folder_path((char[600]){0}, "damaged"));
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
        bytes file = {0};
        put_file_bytes(&file, folder_path(in, names[k]));
        for (int i = 0; i < DAMAGED; i++) {
            error why = {""};
            dataset d;
            write_damaged(in, &file, i, 1);
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
        }
        drop(&file);
    }
#ifdef HAVE_ZLIB
    model_mtx(&m, "whole.mtx", false);
    char path[600];
    bytes whole = {0};
    put_file_bytes(&whole, folder_path(path, "whole.mtx"));
    check_damage(gzip_bytes(whole.data, whole.size), "damaged.mtx.gz");
    drop(&whole);
#endif
}

/* JSON that is cut anywhere is refused; of one changed bit comes a good graph, or a message that names the folder. */
TEST(damaged_json_is_refused_or_gives_a_graph)
{
    static const char* const names[] = {"class_map.json", "role.json"};
    static model m;
    test_seed(27);
    model_make(&m, 60);
    for (int k = 0; k < 2; k++) {
        char path[600], in[600], out[600], name[60];
        bytes whole = {0};
        model_graphsaint(&m, "damaged", false, false);
        (k ? put_roles : put_class_map)(&whole, &m);
        snprintf(name, sizeof name, "damaged/%s", names[k]);
        folder_path(path, name);
        for (size_t cut = 0; cut < whole.size; cut += cut + 20 > whole.size ? 1 : 2) {
            write_file(path, whole.data, cut);
            const char* message = refused("damaged", &(convert_options){.format = FORMAT_AUTO});
            if (!CHECK(strstr(message, names[k]))) printf("    %s cut to %zu of %zu: %s\n", names[k], cut, whole.size, message);
        }
        for (size_t at = (size_t)test_below(3); at < whole.size; at += 3) {
            dataset d;
            error why = {""};
            const uint8_t bit = (uint8_t)(1 << test_below(8));
            whole.data[at] ^= bit;
            write_file(path, whole.data, whole.size);
            whole.data[at] ^= bit;
            if (!convert(folder_path(in, "damaged"), folder_path(out, "damaged.ggnn"), &(convert_options){.format = FORMAT_AUTO}, &why))
                CHECK(strstr(why.text, names[k]));
            else if (CHECK(dataset_open(&d, out, &why))) {
                CHECK(ggnn_file_verify(&d.file));
                dataset_close(&d);
            }
        }
        drop(&whole);
        remove_tree(folder_path(path, "damaged"));
    }
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

/* ---- the command line ----------------------------------------------------------------------------------------- */

/* convert IN OUT and these options, in this process; what it says on both outputs into said. Returns its exit code. */
static int convert_by(const char* options, const char* in, const char* out, char said[8192])
{
    char words[500], *argument[24] = {"convert", (char*)(uintptr_t)in, (char*)(uintptr_t)out};
    int count = 3, kept[2];
    FILE* to = tmpfile();
    snprintf(words, sizeof words, "%s", options);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argument[count++] = word;
    fflush(stdout);
    for (int k = 0; k < 2; k++) {
        kept[k] = dup(k + 1);
        dup2(fileno(to), k + 1);
    }
    const int code = convert_main(count, argument);
    fflush(stdout);
    for (int k = 0; k < 2; k++) {
        dup2(kept[k], k + 1);
        close(kept[k]);
    }
    rewind(to);
    said[fread(said, 1, 8191, to)] = 0;
    fclose(to);
    return code;
}

/* The same file and the same words, for a graph with all that can be there, and for a bare list. */
TEST(each_option_of_the_command_is_a_field_of_converts_options)
{
    static model m;
    static const struct {
        const char* options;
        convert_options how;
    } of[] = {{"", {.seed = 1}},
              {"--undirected", {.direction = DIRECTION_BOTH}},
              {"--directed", {.direction = DIRECTION_AS_IS}},
              {"--keep-duplicates", {.keep_duplicates = true}},
              {"--self-loops add", {.loops = LOOPS_ADD}},
              {"--self-loops drop", {.loops = LOOPS_DROP}},
              {"--self-loops keep", {.loops = LOOPS_KEEP}},
              {"--self-loops auto", {.loops = LOOPS_AUTO}},
              {"--drop-weights", {.drop_weights = true}},
              {"--drop-edge-features", {.drop_edge_features = true}},
              {"--no-features", {.no_features = true}},
              {"--edge-columns none", {.columns = COLUMNS_NONE}},
              {"--edge-columns features", {.columns = COLUMNS_FEATURES}},
              {"--edge-columns weight-features", {.columns = COLUMNS_WEIGHT_FEATURES}},
              {"--edge-columns auto", {.columns = COLUMNS_AUTO}},
              {"--edge-features /nonexistent.npy", {.edge_features = "/nonexistent.npy"}},
              {"--nodes 77", {.num_nodes = 77}},
              {"--row-normalise", {.row_normalise = true}},
              {"--fp16", {.half = true}},
              {"--fp16 --row-normalise", {.half = true, .row_normalise = true}},
              {"--random-features 3", {.random_features = 3, .seed = 1}},
              {"--random-features 3 --seed 9", {.random_features = 3, .seed = 9}},
              {"--classes 4", {.classes = 4, .split = true, .share = {.65, .1, .25}, .seed = 1}},
              {"--classes 4 --split 0:0:0", {.classes = 4, .split = true, .seed = 1}},
              {"--split 20:30:40", {.split = true, .share = {.2, .3, .4}, .seed = 1}},
              {"--split 20:30:40 --seed 9000000000", {.split = true, .share = {.2, .3, .4}, .seed = 9000000000}},
              {"--split 100:0:0", {.split = true, .share = {1, 0, 0}, .seed = 1}},
              {"--split 33.3:33.3:33.4", {.split = true, .share = {33.3 / 100, 33.3 / 100, 33.4 / 100}, .seed = 1}},
              {"--train uniform", {.split = true, .share = {.65, .1, .25}, .seed = 1}},
              {"--train degree", {.split = true, .share = {.65, .1, .25}, .train = TRAIN_DEGREE, .seed = 1}},
              {"--train degree:.2", {.split = true, .share = {.2, .1, .25}, .train = TRAIN_DEGREE, .seed = 1}},
              {"--train uniform:.05 --split 10:10:40", {.split = true, .share = {.05, .1, .4}, .seed = 1}},
              {"--train uniform:1 --split 30:0:0", {.split = true, .share = {1, 0, 0}, .seed = 1}},
              {"--train degree:.7 --split 0:10:20", {.split = true, .share = {.7, .1, .2}, .train = TRAIN_DEGREE, .seed = 1}},
              {"--nodes 0", {.num_nodes = 0}},
              {"--from npz", {.format = FORMAT_NPZ}},
              {"--from edges", {.format = FORMAT_EDGES}},
              {"--from snap", {.format = FORMAT_SNAP}},
              {"--memory 1M", {.memory = 1 << 20}}};
    static const char* const as_usual[] = {"", "--self-loops keep", "--self-loops auto", "--nodes 0", "--edge-columns auto"};
    static const char* const files[] = {"full.npz", "bare.csv"};
    char in[600], out[600], told[600], said[8192], options[200], text[8192], usual[2][8192];
    test_seed(18);
    model_make(&m, 200);
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    put_model(&to, &m, EDGES_PAIRS, false);
    put_edge_features(&to, &m, "edge_attr", ORDER_LIST, false);
    save(zip_end(&z), files[0], false);
    model_list(&m, files[1], "", ",", 0, true, false);
    folder_path(told, "told.ggnn");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        int alike = 0;
        for (int k = 0; k < 2; k++) {
            convert_options how = of[i].how;
            error why = {""};
            if (!how.memory) how.memory = 64 << 20;
            how.report = tmpfile();
            folder_path(in, files[k]);
            folder_path(out, i ? "o.ggnn" : k ? "usual1.ggnn" : "usual0.ggnn");
            remove(out);
            remove(told);
            const bool good = convert(in, told, &how, &why);
            rewind(how.report);
            size_t length = fread(text, 1, sizeof text - 1, how.report);
            fclose(how.report);
            snprintf(text + length, sizeof text - length, "%s%s%s", good ? "" : "ggnn-data: ", why.text, good ? "" : "\n");
            snprintf(options, sizeof options, "%s %s", of[i].options, of[i].how.memory ? "" : "--memory 64M");
            CHECK_EQ(convert_by(options, in, out, said), good ? 0 : 1);
            CHECK_STR(said, text);
            if (good) CHECK(same_files(out, told));
            if (i == 0) snprintf(usual[k], sizeof usual[k], "%s", said);
            char first[600];
            alike += strcmp(said, usual[k]) == 0 && same_files(out, folder_path(first, k ? "usual1.ggnn" : "usual0.ggnn"));
        }
        bool is_usual = false;
        for (int k = 0; k < 5; k++) is_usual = is_usual || strcmp(of[i].options, as_usual[k]) == 0;
        if (!CHECK_EQ(alike == 2, is_usual)) printf("    %s\n", of[i].options);
    }
}

TEST(options_that_cannot_be_are_refused_by_name)
{
    static const struct {
        const char *options, *words;
    } bad[] = {{"--split 65:10", "--split 65:10: three percentages are expected, train:val:test, 65:10:25"},
               {"--split 65:10:25x", "--split 65:10:25x: three percentages"},
               {"--split 65:10:25:0", "--split 65:10:25:0: three percentages"},
               {"--split 65,10,25", "--split 65,10,25: three percentages"},
               {"--split -1:50:50", "--split -1:50:50: percentages are 0 to 100"},
               {"--split 0:101:0", "--split 0:101:0: percentages are 0 to 100"},
               {"--split 0:0:nan", "--split 0:0:nan: percentages are 0 to 100"},
               {"--split 50:50:1", "--split 50:50:1: adds up to 101 %"},
               {"--split 50:50:.01", "--split 50:50:.01: adds up to 100.01 %"},
               {"--train uniform:.651", "--train uniform:.651: with --split's val and test that is more than all nodes"},
               {"--train degre", "--train degre: uniform or degree is expected, degree:.01 for one node in a hundred"},
               {"--train degrees", "--train degrees: uniform or degree"},
               {"--train uniforms:.1", "--train uniforms:.1: uniform or degree"},
               {"--train uniform:", "--train '': not a finite number"},
               {"--train degree:1.5", "--train 1.5: must be between 0 and 1"},
               {"--train degree:-.1", "--train -.1: must be between 0 and 1"},
               {"--train degree:.6 --split 10:20:30", "--train degree:.6: with --split's val and test that is more than all nodes"},
               {"--train uniform:.7", "--train uniform:.7: with --split's val and test that is more than all nodes"},
               {"--undirected --directed", "--undirected and --directed exclude each other"},
               {"--self-loops none", "--self-loops none: not one of auto|keep|drop|add"},
               {"--from csv", "--from csv: not one of auto|npz|shchur|scipy|ogb|edges|npy|snap|konect|mtx|ogb-binary|reddit|graphsaint"},
               {"--nodes -1", "--nodes -1: must be"},
               {"--seed -1", "--seed -1: must be"},
               {"--classes 1048577", "--classes 1048577: must be"},
               {"--random-features 16777217", "--random-features 16777217: must be"},
               {"--memory 1023K", "--memory 1023K: must be"}};
    char in[600], out[600], said[8192];
    write_file(folder_path(in, "o.csv"), "0,1\n", 4);
    remove(folder_path(out, "refused.ggnn"));
    CHECK_EQ(convert_by("", in, "/nonexistent/new", said), 1);
    CHECK(strstr(said, "\nggnn-data: /nonexistent/new: cannot create"));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK_EQ(convert_by(bad[k].options, in, out, said), 2);
        if (!CHECK(strncmp(said, "ggnn-data: convert: ", 20) == 0 && strstr(said, bad[k].words))) printf("    %s\n", said);
        CHECK(access(out, F_OK) != 0);
    }
}

/* ---- OGB's binary form ---------------------------------------------------------------------------------------- */

typedef struct { /* one array of such a folder in place of the good one; type NULL: left out */
    const char *archive, *name, *type, *shape;
    const void* data;
    size_t size;
} binary_array;

static const binary_array good_binary[] = {
    {"data", "num_nodes_list", "<i8", "1,", (const int64_t[]){3}, 8},
    {"data", "num_edges_list", "<i8", "1,", (const int64_t[]){2}, 8},
    {"data", "edge_index", "<i8", "2, 2", (const int64_t[]){0, 1, 1, 2}, 32},
    {"data", "node_feat", "<f4", "3, 2", (const float[]){1, 2, 3, 4, 5, 6}, 24},
    {"node-label", "node_label", "<f4", "3, 1", (const float[]){0, 1, 2}, 12}};

/* In folder, at: "b/raw" or "b"; split/s as in good_ogb. */
static void save_binary(const binary_array* other, const char* at)
{
    static const char* const folders[] = {"b", "b/raw", "b/split", "b/split/s"};
    static const char* const archives[] = {"data", "node-label"};
    remove_tree(folder_path((char[600]){0}, "b"));
    for (int k = 0; k < 4; k++) make_folder(folders[k]);
    for (int k = 0; k < 2; k++) {
        zip_maker z = {0};
        array_sink to = {&z, NULL};
        char name[100];
        bool known = false;
        for (size_t i = 0; i < sizeof good_binary / sizeof *good_binary; i++) {
            const bool is_other = strcmp(good_binary[i].name, other->name) == 0;
            const binary_array* a = is_other ? other : &good_binary[i];
            known = known || is_other;
            if (a->type && strcmp(a->archive, archives[k]) == 0) put_npy(&to, a->name, npy_of(a->type, a->shape, false, a->data, a->size));
        }
        if (!known && strcmp(other->archive, archives[k]) == 0) put_npy(&to, other->name, npy_of(other->type, other->shape, false, other->data, other->size));
        snprintf(name, sizeof name, "%s/%s.npz", at, archives[k]);
        if (z.members) save(zip_end(&z), name, false);
    }
    for (int k = 0; k < 3; k++) {
        char path[600];
        write_file(folder_path(path, (const char*[]){"b/split/s/train.csv", "b/split/s/valid.csv", "b/split/s/test.csv"}[k]), (const char*[]){"0\n", "1\n", "2\n"}[k], 2);
    }
}

/* Rows of either type, both of which have these values. */
static bool features_are(const dataset* d, const float* value, int count)
{
    const bool half = d->feat.type == GGNN_F16;
    for (int i = 0; i < count; i++)
        if ((half ? ggnn_half_to_float(((const uint16_t*)d->feat.rows)[i]) : ((const float*)d->feat.rows)[i]) != value[i]) return false;
    return true;
}

TEST(an_ogb_binary_folder_may_be_written_as_numpy_may)
{
    const struct {
        binary_array other;
        int label[3];
        bool no_features;
    } of[] = {{{"data", "num_nodes_list", "<i8", "", (const int64_t[]){3}, 8}, {0, 1, 2}, false},
              {{"data", "node_year", "<i8", "3, 1", (const int64_t[]){1990, 1991, 1992}, 24}, {0, 1, 2}, false},
              {{"data", "edge_index", "<i4", "2, 2", (const int32_t[]){0, 1, 1, 2}, 16}, {0, 1, 2}, false},
              {{"data", "node_feat", "<f8", "3, 2", (const double[]){1, 2, 3, 4, 5, 6}, 48}, {0, 1, 2}, false},
              {{"data", "node_feat", "<f2", "3, 2", (const uint16_t[]){0x3C00, 0x4000, 0x4200, 0x4400, 0x4500, 0x4600}, 12}, {0, 1, 2}, false},
              {{"data", "node_feat", "<i8", "3, 2", (const int64_t[]){1, 2, 3, 4, 5, 6}, 48}, {0, 1, 2}, false},
              {{"data", "node_feat", NULL, NULL, NULL, 0}, {0, 1, 2}, true},
              {{"node-label", "node_label", "<f4", "3, 1", (const float[]){NAN, 1, -1}, 12}, {-1, 1, -1}, false},
              {{"node-label", "node_label", "<f8", "3, 1", (const double[]){171, NAN, 5}, 24}, {171, -1, 5}, false},
              {{"node-label", "node_label", "<i8", "3,", (const int64_t[]){4, -1, 0}, 24}, {4, -1, 0}, false}};
    static const float features[] = {1, 2, 3, 4, 5, 6};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (int raw = 0; raw < 2; raw++) {
            dataset d;
            save_binary(&of[k].other, raw ? "b/raw" : "b");
            if (!converted(&d, "b", &(convert_options){.format = FORMAT_AUTO})) continue;
            CHECK(d.num_nodes == 3 && d.num_edges == 2 && d.csc.indptr[1] == 0 && d.csc.indices[0] == 0 && d.csc.indices[1] == 1);
            if (of[k].no_features) CHECK(!d.feat.rows);
            else CHECK(d.feat.width == 2 && features_are(&d, features, 6));
            for (int v = 0; v < 3; v++) {
                CHECK_EQ(d.label[v], of[k].label[v]);
                CHECK_EQ(d.split[v], of[k].label[v] < 0 ? 0 : v + 1);
            }
            dataset_close(&d);
            if (k == 1) check_reported("b", "left out   node_year.npy\n", true);
        }
    save_binary(&(binary_array){"node-label", "node_label", NULL, NULL, NULL, 0}, "b/raw"); /* without labels, and a node listed twice */
    char path[600];
    write_file(folder_path(path, "b/split/s/train.csv"), "0\n0\n", 4);
    dataset d;
    if (converted(&d, "b", &(convert_options){.format = FORMAT_AUTO})) {
        CHECK(!d.label && d.split[0] == SPLIT_TRAIN && d.split[2] == SPLIT_TEST);
        dataset_close(&d);
    }
    remove_tree(folder_path(path, "b"));
}

TEST(rows_of_edges_of_an_ogb_binary_folder_are_read)
{
    static model m;
    dataset d;
    test_seed(24);
    model_make(&m, 200);
    for (int deflated = 0; deflated <= DEFLATE; deflated++) {
        model_ogb_binary(&m, "binary", deflated, true);
        if (converted(&d, "binary", &(convert_options){.keep_duplicates = true})) {
            CHECK_EQ(d.edge_feat.width, MODEL_EDGE_WIDTH);
            for (int64_t v = 0, at = 0; v < MODEL_NODES; v++) /* sorted by source, as they came */
                for (int64_t u = 0; u < MODEL_NODES; u++)
                    for (int64_t e = 0; e < m.num_edges; e++)
                        if (m.dst[e] == v && m.src[e] == u) CHECK(memcmp((const float*)d.edge_feat.rows + MODEL_EDGE_WIDTH * at++, m.edge_feat[e], sizeof m.edge_feat[e]) == 0);
            dataset_close(&d);
        }
        if (converted(&d, "binary", &(convert_options){.drop_edge_features = true})) {
            CHECK(!d.edge_feat.rows && rows_are(&d, &m));
            dataset_close(&d);
        }
        remove_tree(folder_path((char[600]){0}, "binary"));
    }
}

TEST(bad_files_of_an_ogb_binary_folder_are_named)
{
    static const int64_t three[] = {0, 1, 2, 1, 2, 0};
    const struct {
        binary_array other;
        const char* words;
    } bad[] = {
        {{"data", "num_nodes_list", "<i8", "2,", three, 16}, "b/raw/data.npz: member num_nodes_list.npy: sizes of 2 graphs; one is read"},
        {{"data", "num_nodes_list", "<i8", "0,", three, 0}, "num_nodes_list.npy: sizes of 0 graphs; one is read"},
        {{"data", "num_edges_list", "<i8", "3,", three, 24}, "num_edges_list.npy: sizes of 3 graphs; one is read"},
        {{"data", "num_nodes_list", "<i8", "1,", (const int64_t[]){-3}, 8}, "num_nodes_list.npy: a negative size: -3"},
        {{"data", "num_nodes_list", "<f4", "1,", (const float[]){2.5f}, 4}, "num_nodes_list.npy: element 0: 2.5 is no 64-bit integer"},
        {{"data", "num_nodes_list", "<i8", "1,", (const int64_t[]){0}, 8}, "b: edge 0: node id 0 is outside [0, 0)"},
        {{"data", "num_nodes_list", "<i8", "1,", (const int64_t[]){2}, 8}, "b: edge 1: node id 2 is outside [0, 2)"},
        {{"data", "num_nodes_list", "<i8", "1,", (const int64_t[]){4}, 8}, "node_feat.npy: shape (3, 2); (nodes, width) is expected"},
        {{"data", "num_nodes_list", NULL, NULL, NULL, 0}, "b/raw/data.npz: no array num_nodes_list"},
        {{"data", "num_edges_list", NULL, NULL, NULL, 0}, "b/raw/data.npz: no array num_edges_list"},
        {{"data", "edge_index", NULL, NULL, NULL, 0}, "b/raw/data.npz: no array edge_index"},
        {{"data", "num_edges_list", "<i8", "1,", three + 1, 8}, "edge_index.npy: shape (2, 2); (2, 1), as num_edges_list says, is expected"},
        {{"data", "edge_index", "<i8", "2, 3", three, 48}, "edge_index.npy: shape (2, 3); (2, 2), as num_edges_list says, is expected"},
        {{"data", "edge_index", "<i8", "4, 1", three, 32}, "edge_index.npy: shape (4, 1); (2, E) or (E, 2) is expected"},
        {{"data", "edge_index", "<i8", "4,", three, 32}, "edge_index.npy: shape (4); (2, E) or (E, 2) is expected"},
        {{"data", "edge_index", "<i8", "2, 2", (const int64_t[]){0, 1, 1, 3}, 32}, "b: edge 1: node id 3 is outside [0, 3)"},
        {{"data", "edge_index", "<i8", "2, 2", (const int64_t[]){0, -1, 1, 2}, 32}, "b: edge 1: node id -1 is outside [0, 3)"},
        {{"data", "edge_index", "|O", "2, 2", three, 32}, "edge_index.npy: elements of type '|O' (pickled Python objects)"},
        {{"data", "node_feat", "<f4", "2, 2", three, 16}, "node_feat.npy: shape (2, 2); (nodes, width) is expected"},
        {{"data", "node_feat", "<f4", "3, 1", (const float[]){1, NAN, 2}, 12}, "b/raw/data.npz: member node_feat.npy: features: row 1, column 0: nan is no number"},
        {{"data", "edge_feat", "<f4", "3, 1", (const float[]){1, 2, 3}, 12}, "edge_feat.npy: 3 rows of features for 2 edges"},
        {{"data", "extra", "<f4", "3, 1", three, 12}, "b/raw/data.npz: member extra.npy: no array of OGB's, whose names begin with node_ or edge_"},
        {{"data", "nod", "<f4", "3, 1", three, 12}, "member nod.npy: no array of OGB's"},
        {{"node-label", "node_label", "<f4", "2, 1", (const float[]){1, 2}, 8}, "b/raw/node-label.npz: member node_label.npy: shape (2, 1); (nodes), one label a node, is expected"},
        {{"node-label", "node_label", "<f4", "3, 2", three, 24}, "node_label.npy: shape (3, 2): multi-label (several labels a node)"},
        {{"node-label", "node_label", "<f4", "3, 1", (const float[]){1, INFINITY, 2}, 12}, "node_label.npy: element 1: inf as a 32-bit float"},
        {{"node-label", "node_label", "<i8", "3, 1", (const int64_t[]){0, -2, 0}, 24}, "b/raw/node-label.npz: member node_label.npy: label -2 of node 1 is no class"}};
    char path[600];
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        save_binary(&bad[k].other, "b/raw");
        const char* message = refused("b", &(convert_options){.memory = 64 << 20});
        if (!CHECK(strstr(message, bad[k].words))) printf("    %zu: %s\n", k, message);
    }
    zip_maker z = {0};
    put_vector(&(array_sink){&z, NULL}, "paper", "<i8", 3, three, 8); /* of a graph of several types */
    save_binary(&good_binary[0], "b/raw");
    save(zip_end(&z), "b/raw/node-label.npz", false);
    CHECK(strstr(refused("b", &(convert_options){.format = FORMAT_AUTO}), "b/raw/node-label.npz: no array node_label"));
    static const struct {
        const char *file, *text, *words;
    } split[] = {{"b/split/s/train.csv", "0\n3\n", "b/split/s/train.csv: line 2, byte 1: a node outside [0, 3): \"3\""},
                 {"b/split/s/test.csv", "0\n", "b/split/s/test.csv: split 0: node 0 is in train and in test"},
                 {"b/split/s/valid.csv", "1,1\n", "valid.csv: line 1, byte 3: more columns than expected"},
                 {"b/split/s/valid.csv", NULL, "b: neither split/s/valid.csv.gz nor split/s/valid.csv is there"}};
    for (int k = 0; k < 4; k++) {
        save_binary(&good_binary[0], "b/raw");
        remove(folder_path(path, split[k].file));
        if (split[k].text) write_file(path, split[k].text, strlen(split[k].text));
        const char* message = refused("b", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, split[k].words))) printf("    %s\n", message);
    }
    remove_tree(folder_path(path, "b"));
}

/* A pickle in the oldest protocol: os.system("touch FOLDER/ran"). */
static bytes harm(void)
{
    char path[600], words[700];
    bytes b = {0};
    snprintf(words, sizeof words, "cos\nsystem\n(S'touch %s'\ntR.", folder_path(path, "ran"));
    put_string(&b, words);
    return b;
}

static bool nothing_ran(void) { return access(folder_path((char[600]){0}, "ran"), F_OK) != 0; }

TEST(a_split_that_is_a_pickle_is_refused_and_not_read)
{
    static model m;
    test_seed(25);
    model_make(&m, 60);
    for (int binary = 0; binary < 2; binary++) {
        static const char* const part[] = {"p/split/time/train.csv", "p/split/time/valid.csv", "p/split/time/test.csv"};
        dataset d;
        char path[600];
        if (binary) model_ogb_binary(&m, "p", false, false);
        else model_ogb(&m, "p", false);
        save(harm(), "p/split/time/split_dict.pt", false);
        if (converted(&d, "p", &(convert_options){.format = FORMAT_AUTO})) { /* beside the lists it is nothing */
            CHECK(splits_are(&d, &m, 1));
            dataset_close(&d);
        }
        for (int k = 0; k < 3; k++) remove(folder_path(path, part[k]));
        const char* message = refused("p", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, "p/split/time/split_dict.pt: is a pickle, and reading one may run code: it is not read. Put train.csv, valid.csv and test.csv beside it")))
            printf("    %s\n", message);
        save(harm(), binary ? "p/raw/data.npz" : "p/raw/edge.csv", false); /* no edge has been read by then */
        CHECK(strstr(refused("p", &(convert_options){.format = binary ? FORMAT_OGB_BINARY : FORMAT_OGB}), "split_dict.pt: is a pickle"));
        if (binary) model_ogb_binary(&m, "p", false, false);
        else model_ogb(&m, "p", false);
        for (int k = 0; k < 3; k++) remove(folder_path(path, part[k]));
        if (converted(&d, "p", &(convert_options){.split = true, .share = {.5, .25, .25}})) {
            CHECK_EQ(d.num_splits, 1);
            dataset_close(&d);
        }
        CHECK(nothing_ran());
        remove_tree(folder_path(path, "p"));
    }
}

/* Arrays of objects are pickles; so is a file that is called an array. */
TEST(arrays_of_objects_are_refused_and_not_read)
{
    static const char* const of[] = {"edge_index", "num_nodes_list", "node_feat", "edge_feat", "node_label"};
    for (int k = 0; k < 5; k++) {
        bytes pickle = harm();
        save_binary(&(binary_array){k == 4 ? "node-label" : "data", of[k], "|O", "1,", pickle.data, pickle.size}, "b/raw");
        drop(&pickle);
        const char* message = refused("b", &(convert_options){.format = FORMAT_AUTO});
        if (!CHECK(strstr(message, of[k]) && strstr(message, "elements of type '|O' (pickled Python objects)"))) printf("    %s\n", message);
        CHECK(nothing_ran());
    }
    remove_tree(folder_path((char[600]){0}, "b"));
    make_folder("objects");
    save(harm(), "objects/edge_index.npy", false);
    CHECK(strstr(refused("objects", &(convert_options){.format = FORMAT_AUTO}), "no .npy array"));
    CHECK(nothing_ran());
    remove_tree(folder_path((char[600]){0}, "objects"));
}

/* Sources that changed, where the stream of targets begins behind them: of a stored member both streams' checksums count together. */
TEST(sources_that_changed_in_a_stored_archive_are_found_by_its_checksum)
{
    enum { EDGES = 20000, NODES = 5000 };
    static int64_t both[2 * EDGES], shape[2] = {NODES, NODES}, sizes[2] = {NODES, EDGES};
    static float ones[EDGES];
    test_seed(26);
    for (int64_t e = 0; e < 2 * EDGES; e++) both[e] = test_below(NODES);
    for (int64_t e = 0; e < EDGES; e++) ones[e] = 1;
    for (int kind = 0; kind < 3; kind++) /* npz, coordinates of SciPy's, OGB's */
        for (int deflated = 0; deflated <= DEFLATE; deflated++) {
            zip_maker z = {.deflated = deflated};
            array_sink to = {&z, NULL};
            const char *file = kind == 2 ? "sum/raw/data.npz" : "sum/sum.npz", *name = kind == 2 ? "sum" : file;
            dataset d;
            put_matrix(&to, kind == 1 ? "coords" : "edge_index", "<i8", 2, EDGES, both, 8, false);
            if (kind == 0) put_vector(&to, "x", "<f4", NODES, ones, 4);
            if (kind == 1) put_npy(&to, "format", npy_of("|S3", "", false, "coo", 3));
            if (kind == 1) put_vector(&to, "shape", "<i8", 2, shape, 8);
            if (kind == 1) put_vector(&to, "data", "<f4", EDGES, ones, 4);
            if (kind == 2) put_vector(&to, "num_nodes_list", "<i8", 1, sizes, 8);
            if (kind == 2) put_vector(&to, "num_edges_list", "<i8", 1, sizes + 1, 8);
            bytes all = zip_end(&z);
            make_folder("sum");
            make_folder("sum/raw");
            write_file(folder_path((char[600]){0}, file), all.data, all.size);
            if (converted(&d, name, &(convert_options){.direction = DIRECTION_AS_IS, .keep_duplicates = true})) {
                CHECK_EQ(d.num_edges, EDGES);
                dataset_close(&d);
            }
            for (int i = 0; i < 6 && !deflated; i++) { /* the first, the last, of sources, of targets; the lowest bit stays in range */
                static const int64_t at[] = {0, EDGES - 1, EDGES, 2 * EDGES - 1, 5000, 30000};
                char path[600];
                const size_t begin = 30 + strlen(kind == 1 ? "coords.npy" : "edge_index.npy") + 128 + 8 * (size_t)at[i];
                CHECK(memcmp(all.data + begin, &both[at[i]], 8) == 0);
                all.data[begin] ^= 1;
                write_file(folder_path(path, file), all.data, all.size);
                all.data[begin] ^= 1;
                const char* message = refused(name, &(convert_options){.format = FORMAT_AUTO});
                if (!CHECK(strstr(message, "CRC-32 is"))) printf("    %d, element %lld: %s\n", kind, (long long)at[i], message);
            }
            drop(&all);
            remove_tree(folder_path((char[600]){0}, "sum"));
        }
}

/* Features are not read: what is wrong with them is not found. Labels and splits are. */
TEST(without_features_the_rest_is_read)
{
    static model m;
    static const char* const files[] = {"f.npz", "f-npy", "f-sparse.npz", "f-dense.npz", "f-ogb", "f-binary", "f-saint", "f-dgl"};
    const convert_options how = {.direction = DIRECTION_AS_IS, .no_features = true};
    convert_options more = how;
    more.random_features = 3;
    test_seed(27);
    model_make(&m, 100);
    for (int bad = 0; bad < 2; bad++) {
        if (bad) m.feat[MODEL_NODES - 1][0] = NAN;
        model_npz(&m, files[0], EDGES_INDEX, false, DEFLATE);
        model_npy(&m, files[1], EDGES_CSC, false);
        model_shchur(&m, files[2], true, false);
        model_shchur(&m, files[3], false, false);
        model_ogb(&m, files[4], false);
        model_ogb_binary(&m, files[5], false, false);
        model_graphsaint(&m, files[6], false, false);
        model_reddit(&m, files[7], false, false);
        for (int k = 0; k < 8; k++) {
            dataset d;
            if (bad) CHECK(strstr(refused(files[k], &(convert_options){.format = FORMAT_AUTO}), k == 4 ? "a feature is a finite number" : "is no number to learn from"));
            if (!converted(&d, files[k], &how)) continue;
            CHECK(d.num_nodes == MODEL_NODES && !d.feat.rows && labels_are(&d, &m) && (d.num_splits == 0 || splits_are(&d, &m, d.num_splits)));
            CHECK_EQ(d.num_splits, k < 2 ? MODEL_SPLITS : k > 3);
            dataset_close(&d);
            if (!converted(&d, files[k], &more)) continue;
            CHECK(d.feat.width == 3 && labels_are(&d, &m));
            dataset_close(&d);
        }
    }
    char text[4096], in[600], out[600];
    error why = {""};
    for (int made = 0; made < 2; made++) { /* none are left out where some are made up */
        convert_options said = made ? more : how;
        said.report = tmpfile();
        CHECK(convert(folder_path(in, files[0]), folder_path(out, "out.ggnn"), &said, &why));
        rewind(said.report);
        text[fread(text, 1, sizeof text - 1, said.report)] = 0;
        CHECK((strstr(text, "features   left out\n") != NULL) == !made && (strstr(text, "features   3 wide") != NULL) == made);
        fclose(said.report);
    }
    for (int k = 1; k < 6; k++) remove_tree(folder_path(in, files[k]));
}

/* Of a name that says so, the default is a mistake more often than not. */
TEST(a_directed_file_that_is_made_undirected_gets_a_hint)
{
    static model m;
    static const struct {
        const char *name, *options;
        bool hint;
    } of[] = {{"squirrel_directed.npz", "", true},         {"squirrel_directed.npz", "--undirected", false},
              {"squirrel_directed.npz", "--directed", false}, {"squirrel_undirected.npz", "", false},
              {"squirrel_directed_filtered.npz", "", false},  {"_directed.npz", "", true},
              {"directed.npz", "", false},                    {"list_directed.csv", "", false}};
    char in[600], out[600], said[8192];
    test_seed(28);
    model_make(&m, 60);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        folder_path(in, of[k].name);
        if (strstr(in, ".csv")) model_list(&m, of[k].name, "", ",", 0, false, false);
        else model_npz(&m, of[k].name, EDGES_PAIRS, false, false);
        CHECK_EQ(convert_by(of[k].options, in, folder_path(out, "hint.ggnn"), said), 0);
        const char* hint = strstr(said, "\nhint       the name says directed, but this format is undirected unless asked otherwise: --directed keeps edges as they are\n");
        if (!CHECK_EQ(hint != NULL, of[k].hint)) printf("    %s %s: %s\n", of[k].name, of[k].options, said);
    }
}

/* Members of 4 GiB and more, and members behind them: a file that is a hole for the most part. */
TEST(members_over_4_gib_are_read)
{
    enum { WIDTH = 1 << 16, ROWS = 8193 };
    static const int64_t nodes = ROWS, edges = 3, ids[] = {0, 1, ROWS - 1, 1, 2, 0};
    static float label[ROWS];
    const uint64_t zeros = (uint64_t)ROWS * WIDTH * 8;
    char in[600], out[700], path[1000];
    dataset d;
    error why = {""};
    const char* root = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    if (resources_disk(root) < (int64_t)10 << 30) SKIP("less than 10 GB of disk are free");
    snprintf(out, sizeof out, "%.500s/ggnn-test-holes-%ld.ggnn", root, (long)getpid());
    mkdir(folder_path(in, "holes"), 0777);
    zip_maker z = {.zip64 = true, .far = true}, labels = {0};
    array_sink to = {&z, NULL};
    char shape[32];
    snprintf(shape, sizeof shape, "%d, %d", ROWS, WIDTH);
    bytes head = npy_of("<f8", shape, false, NULL, 0);
    zip_add_hole(&z, "node_feat.npy", head, zeros);
    put_vector(&to, "num_nodes_list", "<i8", 1, &nodes, 8);
    put_vector(&to, "num_edges_list", "<i8", 1, &edges, 8);
    put_matrix(&to, "edge_index", "<i8", 2, 3, ids, 8, false);
    put_matrix(&(array_sink){&labels, NULL}, "node_label", "<f4", ROWS, 1, label, 4, false);
    snprintf(path, sizeof path, "%s/data.npz", in);
    zip_save_holes(&z, path);
    bytes all = zip_end(&labels);
    snprintf(path, sizeof path, "%s/node-label.npz", in);
    write_file(path, all.data, all.size);
    drop(&all);
    if (CHECK(convert(in, out, &(convert_options){.half = true, .memory = 64 << 20}, &why) && dataset_open(&d, out, &why))) {
        const uint16_t* feat = d.feat.rows;
        CHECK(d.num_nodes == ROWS && d.feat.width == WIDTH && d.num_edges == 3 && d.csc.indices[0] == ROWS - 1 && d.label[ROWS - 1] == 0);
        CHECK(feat[0] == 0 && feat[(int64_t)ROWS * WIDTH - 1] == 0);
        dataset_close(&d);
    } else
        printf("    %s\n", why.text);
    remove(out);
    if (CHECK(convert(in, out, &(convert_options){.no_features = true}, &why) && dataset_open(&d, out, &why))) {
        CHECK(d.num_edges == 3 && !d.feat.rows && d.file.bytes < 1 << 20);
        dataset_close(&d);
    }
    remove(out);
    remove_tree(in);
}

/* ---- resources ------------------------------------------------------------------------------------------------ */

static void check_allocations(const char* name) { allocations_may_fail(name, &(convert_options){.num_nodes = MODEL_NODES}); }

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
    model_graphsaint(&m, "alloc-saint", true, DEFLATE);
    model_reddit(&m, "alloc-dgl", false, DEFLATE);
    model_ogb_binary(&m, "alloc-binary", DEFLATE, true);
    model_list(&m, "alloc.csv", "", ",", 0, true, false);
    model_mtx(&m, "alloc.mtx", true);
    check_allocations("alloc.npz");
    check_allocations("alloc-shchur.npz");
    check_allocations("alloc-scipy.npz");
    check_allocations("alloc-coo.npz");
    check_allocations("alloc-ogb");
    check_allocations("alloc-saint");
    check_allocations("alloc-dgl");
    remove_tree(folder_path(path, "alloc-saint"));
    remove_tree(folder_path(path, "alloc-dgl"));
    check_allocations("alloc-binary");
    check_allocations("alloc.csv");
    check_allocations(DEFLATE ? "alloc.mtx.gz" : "alloc.mtx");
    remove_tree(folder_path(path, "alloc-ogb"));
    remove_tree(folder_path(path, "alloc-binary"));
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
    command_program = "ggnn-data";
    if (!strcmp(argv[0], "convert") || !strcmp(argv[0], "forever") || !strcmp(argv[0], "within"))
        return child_main(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(the_same_graph_comes_from_every_format);
    RUN(each_format_has_its_own_usual_edges);
    RUN(the_same_graph_gives_the_same_file);
    RUN(exported_graphs_come_back);
    RUN(arrays_that_are_exported_and_read_again_give_the_same_file);
    RUN(weights_of_all_sizes_are_exported_as_text_and_come_back);
    RUN(the_first_weight_of_duplicates_stays);
    RUN(an_entry_of_scipys_matrix_is_an_edge_from_its_row_to_its_column);
    RUN(an_npz_of_lists_without_format_is_read_as_in_neighbours);
    RUN(matrices_that_are_no_graph_are_refused);
    RUN(symmetric_formats_store_one_triangle);
    RUN(sparse_ids_are_compacted_in_ascending_order);
    RUN(compaction_by_bits_equals_compaction_by_sorting);
    RUN(compacted_ids_are_called_what_the_file_calls_them);
    RUN(an_id_of_two_to_the_31_keeps_its_list);
    RUN(a_table_of_bits_is_no_larger_than_memory);
    RUN(a_table_of_bits_is_no_larger_than_the_edges);
    RUN(features_are_normalised_and_halved);
    RUN(rows_are_normalised_before_they_are_halved);
    RUN(arrays_of_more_than_a_chunk_are_read_to_their_end);
    RUN(rows_wider_than_what_is_read_at_a_time_are_read);
    RUN(elements_of_sparse_features_that_are_there_twice_add_up);
    RUN(an_array_of_splits_keeps_every_row);
    RUN(a_report_counts_the_nodes_of_every_split);
    RUN(a_report_says_it_all);
    RUN(arrays_are_found_by_each_of_their_names);
    RUN(konects_weights_are_those_that_its_first_line_names);
    RUN(nodes_without_label_are_in_no_split);
    RUN(bare_graphs_get_random_features_labels_and_splits);
    RUN(the_nodes_of_highest_degree_that_train_are_of_those_with_a_label);
    RUN(parts_of_other_numbers_of_splits_are_refused);
    RUN(masks_of_the_right_size_and_another_shape_are_refused);
    RUN(what_is_made_up_is_keyed_by_seed_node_and_column);
    RUN(words_of_a_banner_may_have_capitals);
    RUN(a_first_line_of_column_names_is_skipped);
    RUN(columns_that_are_not_read_are_said);
    RUN(all_edges_of_an_ogb_folder_are_read);
    RUN(all_columns_of_wide_features_of_an_ogb_folder_are_read);
    RUN(of_several_splits_of_an_ogb_folder_the_first_by_name_is_read);
    RUN(every_array_may_be_of_any_type);
    RUN(a_split_is_of_masks_or_of_ids_by_their_type);
    RUN(a_sparse_adjacency_matrix_may_stand_alone);
    RUN(arrays_that_say_one_thing_have_an_order);
    RUN(every_part_may_say_how_many_splits_there_are);
    RUN(labels_are_classes_or_real);
    RUN(a_split_that_is_asked_for_takes_the_place_of_the_formats);
    RUN(compacted_ids_are_names_before_those_of_an_array);
    RUN(bare_arrays_of_edges_have_the_nodes_that_are_asked_for);
    RUN(lists_may_be_written_in_many_ways);
    RUN(columns_are_known_by_each_of_their_names);
    RUN(what_a_path_holds_is_detected);
    RUN(of_several_formats_in_one_place_one_is_meant);
    RUN(bad_text_is_named_by_line_and_byte);
    RUN(ids_of_a_list_end_where_the_nodes_that_are_asked_for_do);
    RUN(a_thousand_splits_are_the_most);
    RUN(arrays_that_are_read_by_rows_alone_are_refused_by_columns);
    RUN(features_of_two_to_the_24_columns_are_begun);
    RUN(a_folder_of_no_known_format_is_refused);
    RUN(files_of_json_are_read_by_what_they_say);
    RUN(bad_files_of_json_are_named_by_line_byte_and_value);
    RUN(several_labels_a_node_are_refused_before_any_edge_is_read);
    RUN(bad_folders_of_reddit_are_named);
    RUN(arrays_of_objects_are_refused_and_run_nothing);
    RUN(pickles_are_refused_by_name_and_run_nothing);
    RUN(labels_that_are_infinite_as_floats_are_refused_wherever_they_stand);
    RUN(a_mask_of_floats_holds_no_nan);
    RUN(a_mask_of_wide_integers_is_not_taken_for_ids);
    RUN(a_mask_of_floats_marks_what_is_not_zero);
    RUN(bad_arrays_are_named);
    RUN(bad_arrays_of_sparse_graphs_are_named);
    RUN(bad_coordinates_of_a_sparse_matrix_are_named);
    RUN(what_is_there_is_not_made_up);
    RUN(halves_are_finite);
    RUN(bad_arrays_of_edges_lists_and_splits_are_named);
#ifdef HAVE_ZLIB
    RUN(arrays_in_a_folder_may_be_gzipped_and_are_read_to_their_end);
#endif
    RUN(what_an_unknown_archive_holds_is_told);
    RUN(what_a_folder_without_an_array_holds_is_told);
    RUN(an_edge_that_is_out_of_range_is_named_by_its_number_in_the_file);
    RUN(bad_files_of_an_ogb_folder_are_named_by_line_and_byte);
#ifdef HAVE_ZLIB
    RUN(gzipped_text_that_is_cut_is_refused_wherever_it_is_read);
#endif
    RUN(an_ogb_folder_may_be_written_as_text_may);
    RUN_SLOW(damaged_archives_are_refused_or_harmless);
    RUN(damaged_text_gives_a_graph_or_a_message);
    RUN(damaged_json_is_refused_or_gives_a_graph);
    RUN(ogb_folders_with_a_file_cut_or_missing_are_refused);
    RUN(the_first_label_of_an_ogb_folder_that_is_no_class_is_named_by_its_line);
    RUN(each_option_of_the_command_is_a_field_of_converts_options);
    RUN(options_that_cannot_be_are_refused_by_name);
    RUN(an_ogb_binary_folder_may_be_written_as_numpy_may);
    RUN(rows_of_edges_of_an_ogb_binary_folder_are_read);
    RUN(bad_files_of_an_ogb_binary_folder_are_named);
    RUN(a_split_that_is_a_pickle_is_refused_and_not_read);
    RUN(arrays_of_objects_are_refused_and_not_read);
    RUN(sources_that_changed_in_a_stored_archive_are_found_by_its_checksum);
    RUN(without_features_the_rest_is_read);
    RUN(a_directed_file_that_is_made_undirected_gets_a_hint);
    RUN_SLOW(members_over_4_gib_are_read);
    RUN(every_allocation_may_fail);
    RUN(the_command_exits_0_1_or_2);
    RUN(kill_during_convert_leaves_a_whole_file);
    RUN_SLOW(anonymous_memory_stays_below_one_and_a_half_outputs_and_64_MiB);
    RUN(cora_citeseer_and_minesweeper_have_the_known_counts);
    folder_remove();
    return test_finish();
}
