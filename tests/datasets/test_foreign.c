/* ggnn-data convert: arrays as np.save, np.memmap and tofile write them, IGB's and MAG240M's folders, and features, labels and
   splits in files beside any format. Each graph is compared with that of an npz, byte by byte. */
#include <fcntl.h>
#include <math.h>

#include "datasets/commands.h"
#include "datasets/readers.h"
#include "tests/convert_tool.h"

static model m;

/* The npz that all else is compared with, as folder/whole.ggnn: edges as they are, splits in one array. */
static void make_whole(const char* name, const convert_options* how)
{
    int64_t edges[2 * MODEL_EDGES_MAX];
    char in[600], out[600];
    error why = {""};
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    for (int64_t e = 0; e < m.num_edges; e++) {
        edges[2 * e] = m.src[e];
        edges[2 * e + 1] = m.dst[e];
    }
    put_matrix(&to, "edges", "<i8", m.num_edges, 2, edges, 8, false);
    put_matrix(&to, "feat", "<f4", MODEL_NODES, MODEL_WIDTH, m.feat, 4, false);
    put_vector(&to, "label", "<i8", MODEL_NODES, m.label, 8);
    put_matrix(&to, "split", "|u1", MODEL_SPLITS, MODEL_NODES, m.split, 1, false);
    save(zip_end(&z), "whole.npz", false);
    if (!CHECK(convert(folder_path(in, "whole.npz"), folder_path(out, name), how, &why))) printf("    %s\n", why.text);
}

static bool gives(const char* whole, const char* name, const convert_options* how)
{
    char in[600], out[600], same[600];
    error why = {""};
    bool good = convert(folder_path(in, name), folder_path(out, "out.ggnn"), how, &why) && same_files(out, folder_path(same, whole));
    if (!good) printf("    %s: %s\n", name, why.text);
    return CHECK(good);
}

/* ---- halves, shapes -------------------------------------------------------------------------------------------- */

/* Every finite half, of nodes and of edges, comes out as the same 16 bits; floats are made of them where they are asked for. */
TEST(halves_stay_halves_to_the_bit)
{
    enum { N = 63488, WIDTH = 2, ROWS = N / WIDTH };
    static uint16_t half[N];
    static int64_t indptr[ROWS + 1], indices[ROWS];
    static const convert_options how[] = {{.loops = LOOPS_KEEP}, {.wide = true}, {.row_normalise = true}, {.half = true}};
    for (int i = 0; i < N; i++) half[i] = (uint16_t)(i < N / 2 ? i : 0x8000 + i - N / 2);
    for (int v = 0; v < ROWS; v++) indptr[v + 1] = v + 1;
    make_folder("halves");
    array_sink to = {NULL, "halves"};
    put_npy(&to, "feat", npy_of("<f2", "31744, 2", false, half, sizeof half));
    put_npy(&to, "edge_feat", npy_of("<f2", "31744, 2", false, half, sizeof half));
    put_vector(&to, "indptr", "<i8", ROWS + 1, indptr, 8);
    put_vector(&to, "indices", "<i8", ROWS, indices, 8);
    for (int k = 0; k < 4; k++) {
        dataset d;
        if (!converted(&d, "halves", &how[k])) return;
        CHECK_EQ(d.feat.type, k % 3 ? GGNN_F32 : GGNN_F16);
        CHECK_EQ(d.edge_feat.type, k == 1 ? GGNN_F32 : GGNN_F16);
        if (k % 3 == 0) CHECK(memcmp(d.feat.rows, half, sizeof half) == 0 && memcmp(d.edge_feat.rows, half, sizeof half) == 0);
        for (int i = 0; i < N && k == 1; i++)
            if (!CHECK(((const float*)d.feat.rows)[i] == ggnn_half_to_float(half[i]))) break;
        dataset_close(&d);
    }
    half[9] = 0x7C00;
    put_npy(&to, "feat", npy_of("<f2", "31744, 2", false, half, sizeof half));
    CHECK(strstr(refused("halves", &how[0]), "halves/feat.npy: features: row 4, column 1: inf is no number to learn from"));
    remove_tree(folder_path((char[600]){0}, "halves"));
}

/* Edges 0 -> 1, 2 -> 0, 1 -> 2 and so on, as many as there are columns, under either name. Of two edges the name decides. */
TEST(pairs_and_planes_are_told_by_their_shape)
{
    static const char* const name[] = {"edge_index", "edges"};
    static const int64_t src[] = {0, 2, 1}, dst[] = {1, 0, 0};
    for (int k = 0; k < 24; k++) {
        const int64_t count = 1 + k / 8;
        const bool planes = k & 1, fortran = k & 4, other = k & 2;
        int64_t edges[6];
        dataset d;
        array_sink to = {NULL, "shapes"};
        for (int64_t e = 0; e < count; e++) {
            edges[planes ? e : 2 * e] = src[e];
            edges[planes ? count + e : 2 * e + 1] = dst[e];
        }
        make_folder("shapes");
        put_matrix(&to, name[other], "<i8", planes ? 2 : count, planes ? count : 2, edges, 8, fortran);
        const bool turned = count == 2 && planes == other; /* (2, 2) that is not what the name says */
        if (!converted(&d, "shapes", &(convert_options){.num_nodes = 3})) return;
        CHECK(d.num_nodes == 3 && d.num_edges == count);
        for (int64_t e = 0; e < count; e++) {
            const int64_t from = turned ? (e ? 1 : 0) : src[e], at = turned ? (e ? 0 : 2) : dst[e];
            bool there = false;
            for (int64_t i = d.csc.indptr[at]; i < d.csc.indptr[at + 1]; i++) there = there || d.csc.indices[i] == from;
            if (!CHECK(there)) printf("    %d\n", k);
        }
        dataset_close(&d);
        remove_tree(folder_path((char[600]){0}, "shapes"));
    }
    make_folder("shapes");
    put_matrix(&(array_sink){NULL, "shapes"}, "edge_index", "<i8", 3, 3, (const int64_t[9]){0}, 8, false);
    CHECK(strstr(refused("shapes", &(convert_options){.num_nodes = 3}), "edge_index.npy: shape (3, 3); (2, E) or (E, 2) is expected"));
    remove_tree(folder_path((char[600]){0}, "shapes"));
}

/* An archive of row_ptr and col_idx is known by them: out-neighbours. */
TEST(an_npz_of_out_neighbours_is_known)
{
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    dataset d;
    put_vector(&to, "row_ptr", "<i8", 4, (const int64_t[]){0, 2, 2, 2}, 8);
    put_vector(&to, "col_idx", "<i4", 2, (const int32_t[]){1, 2}, 4);
    save(zip_end(&z), "out.npz", false);
    if (!converted(&d, "out.npz", &(convert_options){.direction = DIRECTION_AS_IS})) return;
    CHECK(d.num_nodes == 3 && d.csc.indptr[1] == 0 && d.csc.indptr[2] == 1 && d.csc.indptr[3] == 2 && d.csc.indices[0] == 0 && d.csc.indices[1] == 0);
    dataset_close(&d);
}

/* ---- beside ---------------------------------------------------------------------------------------------------- */

static char features[600], labels[600], splits[600];

static void save_beside(void)
{
    array_sink to = {NULL, "beside"};
    make_folder("beside");
    put_matrix(&to, "x", "<f4", MODEL_NODES, MODEL_WIDTH, m.feat, 4, true);
    put_vector(&to, "y", "<i8", MODEL_NODES, m.label, 8);
    put_matrix(&to, "s", "|u1", MODEL_SPLITS, MODEL_NODES, m.split, 1, false);
    folder_path(features, "beside/x.npy");
    folder_path(labels, "beside/y.npy");
    folder_path(splits, "beside/s.npy");
}

/* Node 39 has no edge: rows say how many nodes there are. In place of other features, labels and splits, too. */
TEST(files_beside_any_format_give_what_arrays_in_it_give)
{
    static const char* const files[] = {"b.csv", "b.txt", "out.b", "b.mtx", "csr.npz", "coo.npz", "bare", "all.npz", "all", "sparse.npz", "ogb", "saint", "reddit"};
    const convert_options whole = {.direction = DIRECTION_AS_IS, .loops = LOOPS_KEEP, .drop_weights = true};
    convert_options how = whole;
    model other;
    test_seed(31);
    model_make(&m, 120);
    for (int64_t e = 0; e < m.num_edges; e++) {
        if (m.src[e] == 39) m.src[e] = 38;
        if (m.dst[e] == 39) m.dst[e] = 38;
    }
    other = m;
    for (int v = 0; v < MODEL_NODES; v++) other.feat[v][0] = 99, other.label[v] = 1 + v % 2, other.split[0][v] = 1;
    make_whole("whole.ggnn", &whole);
    save_beside();
    model_list(&m, files[0], "", ",", 0, false, false);
    model_list(&m, files[1], "# a\n", " ", 0, false, false);
    model_list(&m, files[2], "% asym unweighted\n", " ", 1, false, false);
    model_mtx(&m, files[3], false);
    model_scipy(&m, files[4], "csr", false);
    model_scipy(&m, files[5], "coo", false);
    make_folder(files[6]);
    put_edge_arrays(&(array_sink){NULL, files[6]}, &m, EDGES_INDEX, false);
    model_npz(&other, files[7], EDGES_CSC, false, false);
    model_npy(&other, files[8], EDGES_PAIRS, false);
    model_shchur(&other, files[9], true, false);
    model_ogb(&other, files[10], false);
    model_graphsaint(&other, files[11], false, false);
    model_reddit(&other, files[12], false, false);
    how.features = features;
    how.labels = labels;
    how.split_file = splits;
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) gives("whole.ggnn", files[k], &how);
    how.num_nodes = MODEL_NODES;
    gives("whole.ggnn", files[0], &how);
}

/* The sections have one order, whether a part comes from the format or from a file beside it. */
TEST(features_come_before_labels_and_these_before_splits)
{
    static const char* const order[] = {"indptr", "indices", "feat", "label", "split"};
    test_seed(41);
    model_make(&m, 60);
    save_beside();
    model_list(&m, "order.csv", "", ",", 0, false, false);
    model_npz(&m, "order.npz", EDGES_PAIRS, false, false);
    for (int beside = 0; beside < 8; beside++) { /* bits: features, labels, split */
        dataset d;
        const convert_options how = {.features = beside & 1 ? features : NULL, .labels = beside & 2 ? labels : NULL, .split_file = beside & 4 ? splits : NULL};
        if (!converted(&d, beside == 7 ? "order.csv" : "order.npz", &how)) continue;
        if (CHECK_EQ(d.file.num_sections, 5))
            for (int i = 0; i < 5; i++) CHECK(strcmp(d.file.section[i].name, order[i]) == 0);
        dataset_close(&d);
    }
}

/* One of the three alone takes the place of the format's, and leaves the others. */
TEST(each_file_beside_a_format_stands_in_place_of_one_part)
{
    static const char* const bare[] = {"f.csv", "bare2"};
    test_seed(32);
    model_make(&m, 80);
    save_beside();
    model_list(&m, bare[0], "", ",", 0, false, false);
    make_folder(bare[1]);
    put_edge_arrays(&(array_sink){NULL, bare[1]}, &m, EDGES_CSC, false);
    for (int k = 0; k < 6; k++) {
        const int part = k % 3;
        dataset d;
        convert_options how = {.features = part == 0 ? features : NULL, .labels = part == 1 ? labels : NULL, .split_file = part == 2 ? splits : NULL};
        if (!converted(&d, bare[k / 3], &how)) continue;
        CHECK(d.num_nodes == MODEL_NODES && !d.external_id);
        CHECK((d.feat.rows != NULL) == (part == 0) && (d.label != NULL) == (part == 1) && (d.split != NULL) == (part == 2));
        if (part == 0) CHECK(memcmp(d.feat.rows, m.feat, sizeof m.feat) == 0);
        if (part == 2) CHECK(memcmp(d.split, m.split, sizeof m.split) == 0);
        dataset_close(&d);
    }
}

TEST(files_beside_a_format_that_do_not_fit_are_refused_by_their_sizes)
{
    static const float row[12] = {1};
    static const uint8_t mark[] = {1, 2, 3, 0, 4, 0};
    const struct {
        const char *features, *labels, *split, *words;
        int64_t nodes;
    } bad[] = {{"f3", NULL, NULL, "line 2, byte 3: id is outside [0, 2]: \"3\"", 0},
               {"f4", "f3", NULL, "l-f3.npy: 3 nodes; the other files beside IN have 4", 0},
               {NULL, "f4", "s3", "s3.npy: 3 nodes; the other files beside IN have 4", 0},
               {"f4", NULL, NULL, "x-f4.npy: 4 nodes; --nodes says 5", 5},
               {"f4", NULL, "s4", "s4.npy: element 1: node 4 is listed", 0},
               {NULL, NULL, "bad", "bad.npy: element 4 is 4, not 0 to 3", 0},
               {"none", NULL, NULL, "x-none.npy: shape (0, 3); (nodes, ...) is expected", 0},
               {NULL, "wide", NULL, "l-wide.npy: shape (4, 2): multi-label (several labels a node): one class per node is stored", 0},
               {"missing", NULL, NULL, "x-missing.npy: No such file", 0}};
    array_sink to = {NULL, "misfit"};
    make_folder("misfit");
    put_matrix(&to, "x-f3", "<f4", 3, 3, row, 4, false);
    put_matrix(&to, "x-f4", "<f4", 4, 3, row, 4, false);
    put_matrix(&to, "x-none", "<f4", 0, 3, row, 4, false);
    put_vector(&to, "l-f3", "<f4", 3, row, 4);
    put_vector(&to, "l-f4", "<f4", 4, row, 4);
    put_matrix(&to, "l-wide", "<f4", 4, 2, row, 4, false);
    put_vector(&to, "s3", "|u1", 3, mark, 1);
    put_vector(&to, "s4", "|u1", 4, mark, 1);
    put_vector(&to, "bad", "|u1", 6, mark, 1);
    save_raw("misfit", "e.csv", "0,1\n2,3\n", 8);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char x[700], l[700], s[700];
        convert_options how = {.num_nodes = bad[k].nodes};
        snprintf(x, sizeof x, "%s/misfit/x-%s.npy", folder, bad[k].features ? bad[k].features : "");
        snprintf(l, sizeof l, "%s/misfit/l-%s.npy", folder, bad[k].labels ? bad[k].labels : "");
        snprintf(s, sizeof s, "%s/misfit/%s.npy", folder, bad[k].split ? bad[k].split : "");
        if (bad[k].features) how.features = x;
        if (bad[k].labels) how.labels = l;
        if (bad[k].split) how.split_file = s;
        if (k == 4) { /* this one fits: one split of four nodes */
            dataset d;
            if (!converted(&d, "misfit/e.csv", &how)) continue;
            CHECK(d.num_nodes == 4 && d.num_splits == 1 && memcmp(d.split, mark, 4) == 0);
            dataset_close(&d);
            continue;
        }
        const char* message = refused("misfit/e.csv", &how);
        if (!CHECK(strstr(message, bad[k].words))) printf("    %s\n", message);
    }
    char x[700];
    dataset d;
    zip_maker z = {0};
    snprintf(x, sizeof x, "%s/misfit/l-wide.npy", folder); /* before any edge is read: there is none to read */
    save_raw("misfit", "bad.csv", "no edge\n", 8);
    CHECK(strstr(refused("misfit/bad.csv", &(convert_options){.labels = x}), "l-wide.npy: shape (4, 2): multi-label"));
    put_matrix(&(array_sink){&z, NULL}, "edges", "<i8", 2, 2, (const int64_t[]){0, 1, 2, 3}, 8, false);
    put_matrix(&(array_sink){&z, NULL}, "label", "<f4", 4, 2, row, 4, false);
    save(zip_end(&z), "several.npz", false);
    CHECK(strstr(refused("several.npz", &(convert_options){.format = FORMAT_AUTO}), "multi-label"));
    static const uint8_t many[1001 * 4];
    static const char* const words[] = {"x-nan.npy: features: row 2, column 0: nan is no number", "l-neg.npy: label -7 of node 2 is no class",
                                        "s-many.npy: 1001 splits; 1 to 1000 are stored"};
    put_matrix(&to, "x-nan", "<f4", 4, 1, (const float[]){1, 2, NAN, 3}, 4, false);
    put_vector(&to, "l-neg", "<i4", 4, (const int32_t[]){0, 1, -7, 0}, 4);
    put_matrix(&to, "s-many", "|u1", 1001, 4, many, 1, false);
    for (int k = 0; k < 3; k++) { /* the file is named, not IN */
        snprintf(x, sizeof x, "%s/misfit/%.*s.npy", folder, (int)strcspn(words[k], "."), words[k]);
        const char* message = refused("misfit/e.csv", &(convert_options){.features = k == 0 ? x : NULL, .labels = k == 1 ? x : NULL, .split_file = k == 2 ? x : NULL});
        if (!CHECK(strstr(message, words[k]))) printf("    %s\n", message);
    }
    snprintf(x, sizeof x, "%s/misfit/l-f4.npy", folder);
    if (converted(&d, "several.npz", &(convert_options){.labels = x})) { /* one label in place of several */
        CHECK(d.num_nodes == 4 && d.label);
        dataset_close(&d);
    }
    snprintf(x, sizeof x, "%s/misfit/x-f3.npy", folder);
    model_make(&m, 20);
    model_mtx(&m, "fits.mtx", false);
    const char* message = refused("fits.mtx", &(convert_options){.features = x});
    if (!CHECK(strstr(message, "x-f3.npy: shape (3, 3); (nodes, width) is expected: 40 nodes"))) printf("    %s\n", message);
}

/* ---- raw ------------------------------------------------------------------------------------------------------- */

TEST(raw_arrays_give_the_graph_that_npy_gives)
{
    static const char* const specs[] = {"edge_index=index.i64:i64 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40",
                                        "edges=pairs.i32:i32 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40",
                                        "  edges=pairs.i32:i32:2   feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40 ",
                                        "split=split.u8:u8:40 indptr=ptr.i64:i64 label=label.i8:i8 feat=feat.f32:f32:5 indices=idx.i32:i32",
                                        "row_ptr=out.u32:u32 col_idx=to.u16:u16 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40"};
    const convert_options whole = {.direction = DIRECTION_AS_IS, .loops = LOOPS_KEEP};
    char with[2000];
    test_seed(33);
    model_make(&m, 150);
    make_whole("whole.ggnn", &whole);
    model_raw(&m, "raw");
    for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
        gives("whole.ggnn", "raw", &(convert_options){.raw = specs[k]});
        gives("whole.ggnn", "raw", &(convert_options){.raw = specs[k], .format = FORMAT_RAW, .memory = 1 << 20});
    }
    /* every key at once is room enough, the last one's file not being there */
    CHECK(strstr(refused("raw", &(convert_options){.raw = "indptr=a:i64 indices=a:i32 row_ptr=a:i64 col_idx=a:i32 edge_index=a:i64 weight=a:f32 feat=a:f32:1 "
                                                          "edge_feat=a:f32:1 label=none:i8 split=a:u8 train=a:u8 val=a:u8 test=a:u8 external_id=a:i64 edges=a:i64"}),
                 "raw/none: No such file"));
    put_vector(&(array_sink){NULL, "raw"}, "y", "<i8", MODEL_NODES, m.label, 8);
    snprintf(with, sizeof with, "edges=pairs.i32:i32 feat=%s/raw/feat.f32:f32:5 label=y.npy split=split.u8:u8:40", folder);
    gives("whole.ggnn", "raw", &(convert_options){.raw = with}); /* a path of its own, and a .npy */
    save_raw("raw", "a:b:c", m.feat, sizeof m.feat);
    gives("whole.ggnn", "raw", &(convert_options){.raw = "edges=pairs.i32:i32 feat=a:b:c:f32:5 label=y.npy split=split.u8:u8:40"});
}

/* Two edges 0 -> 1, 1 -> 2 of each type; and what looks like gzip is a number. */
TEST(raw_elements_have_the_type_that_is_said)
{
    static const struct {
        const char *type, *text;
        size_t bytes;
    } of[] = {{"bool", "\0\1\1\0", 4}, {"i8", "\0\1\1\2", 4}, {"u8", "\0\1\1\2", 4}, {"i16", "\0\0\1\0\1\0\2\0", 8}, {"u16", "\0\0\1\0\1\0\2\0", 8},
              {"i32", "\0\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0", 16}, {"u32", "\0\0\0\0\1\0\0\0\1\0\0\0\2\0\0\0", 16},
              {"i64", "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 32},
              {"u64", "\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 32},
              {"f16", "\0\0\0\x3c\0\x3c\0\x40", 8}, {"f32", "\0\0\0\0\0\0\x80\x3f\0\0\x80\x3f\0\0\0\x40", 16},
              {"f64", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\x40", 32}};
    static const uint16_t gzip[] = {0x8B1F, 0, 0, 0};
    char spec[100];
    dataset d;
    make_folder("typed");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        save_raw("typed", "e", of[k].text, of[k].bytes);
        snprintf(spec, sizeof spec, "edges=e:%s", of[k].type);
        if (!converted(&d, "typed", &(convert_options){.raw = spec, .num_nodes = 3})) continue;
        CHECK(d.num_edges == 2 && d.csc.indptr[1] == (k ? 0 : 1) && d.csc.indptr[2] == (k ? 1 : 2) && d.csc.indices[0] == (k ? 0 : 1));
        dataset_close(&d);
    }
    save_raw("typed", "x", gzip, sizeof gzip);
    save_raw("typed", "e", "\0\1", 2);
    if (!converted(&d, "typed", &(convert_options){.raw = "edges=e:u8 feat=x:f16:1"})) return;
    CHECK(d.num_nodes == 4 && d.feat.type == GGNN_F16 && ((const uint16_t*)d.feat.rows)[0] == 0x8B1F);
    dataset_close(&d);
}

TEST(a_raw_word_that_cannot_be_is_refused_by_name)
{
    static const struct {
        const char *spec, *words;
    } bad[] = {{"", "--raw: edges, edge_index, indptr and indices, or row_ptr and col_idx are needed"},
               {"feat=feat.f32:f32:5", "--raw: edges, edge_index, indptr and indices"},
               {"indptr=ptr.i64:i64", "--raw: edges, edge_index, indptr and indices"},
               {"indices=idx.i32:i32", "--raw: edges, edge_index, indptr and indices"},
               {"row_ptr=ptr.i64:i64 indices=idx.i32:i32", "--raw: edges, edge_index, indptr and indices"},
               {"indptr=ptr.i64:i64 col_idx=idx.i32:i32", "--raw: edges, edge_index, indptr and indices"},
               {"edges", "--raw edges: KEY=FILE:TYPE[:WIDTH] is expected; keys are indptr|"},
               {"=pairs.i32:i32", "--raw =pairs.i32:i32: KEY=FILE:TYPE[:WIDTH] is expected"},
               {"edge=pairs.i32:i32", "--raw edge=pairs.i32:i32: KEY=FILE:TYPE[:WIDTH] is expected"},
               {"edges_edges_edges_edges=pairs.i32:i32", "KEY=FILE:TYPE[:WIDTH] is expected"},
               {"edges=pairs.i32:i24", "--raw edges=pairs.i32:i24: the type is none of bool|i8|"},
               {"edges=pairs.i32:", "--raw edges=pairs.i32:: the type is none of"},
               {"edges=pairs.i32:5", "--raw edges=pairs.i32:5: KEY=FILE:TYPE:WIDTH is expected; types are bool|i8|"},
               {"edges=5:5", "--raw edges=5:5: KEY=FILE:TYPE:WIDTH is expected"},
               {"edges=:i32", "--raw edges=:i32: a file is missing"},
               {"edges=", "--raw edges=: a file is missing"},
               {"edges=pairs.i32:i32:3", "--raw edges=pairs.i32:i32:3: edge_index is (2, E) and edges (E, 2), without a width"},
               {"edge_index=index.i64:i64:2", "edge_index is (2, E) and edges (E, 2), without a width"},
               {"edges=pairs.i32:i32 edges=pairs.i32:i32", "--raw edges=pairs.i32:i32: the key is there twice"},
               {"edges=pairs.i32:i32 feat=feat.f32:f32:0", "--raw WIDTH 0: must be between 1 and 16777216"},
               {"edges=pairs.i32:i32 feat=feat.f32:f32:16777217", "--raw WIDTH 16777217: must be between 1 and 16777216"},
               {"edges=none:i32", "raw2/none: No such file"},
               {"edges=pairs.i32", "raw2/pairs.i32: no .npy array"},
               {"edges=odd:i32", "raw2/odd: 13 bytes are no multiple of 8: 2 elements of 4 bytes"},
               {"edge_index=odd:u8", "raw2/odd: 13 bytes are no multiple of 2: 2 elements of 1 byte"},
               {"edges=pairs.i32:i32 feat=feat.f32:f32:7", "raw2/feat.f32: 800 bytes are no multiple of 28: 7 elements of 4 bytes"},
               {"edges=pairs.i32:i32 feat=feat.f32:f32:5 label=odd:u8", "raw2/odd: shape (13); (nodes), one label a node, is expected: 40 nodes"},
               {"edges=pairs.i32:i32 label=label.i8:i8 feat=feat.f32:f32:10", "raw2/label.i8: shape (40); (nodes), one label a node, is expected: 20 nodes"},
               {"indptr=ptr.i64:i64 indices=idx.i32:i32 feat=feat.f32:f32:4", "raw2/ptr.i64: shape (41); (rows + 1) is expected: 50 rows"},
               {"indptr=ptr.i64:i64 indices=idx.i32:i16", "raw2/ptr.i64: ends with 30, there are 60 indices"},
               {"indptr=ptr.i64:i64 indices=cut:i32", "of 29 elements"},
               {"edges=pairs.i32:i32 feat=feat.f32:f32:5 split=split.u8:u8:41", "raw2/split.u8: 120 bytes are no multiple of 41"},
               {"edges=pairs.i32:i32 feat=endless:f64:1", "features: row 1, column 0: inf is no number to learn from"}};
    static const double endless[] = {1, 1e300};
    char word[5000] = "edges=";
    test_seed(34);
    model_make(&m, 30);
    for (int64_t e = 0; e < m.num_edges; e++) m.src[e] %= 2, m.dst[e] %= 2; /* few nodes, so that bad rows are what is found */
    model_raw(&m, "raw2");
    save_raw("raw2", "odd", "0123456789abc", 13);
    save_raw("raw2", "endless", endless, sizeof endless);
    save_raw("raw2", "cut", (const int32_t[29]){0}, 29 * 4);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char* message = refused("raw2", &(convert_options){.raw = bad[k].spec});
        if (!CHECK(strstr(message, bad[k].words))) printf("    %s: %s\n", bad[k].spec, message);
    }
    memset(word + 6, 'a', 4980);
    CHECK(strstr(refused("raw2", &(convert_options){.raw = word}), "--raw: a word of 4986 letters"));
    word[2900] = 0;
    CHECK(strstr(refused("raw2", &(convert_options){.raw = word}), "File name too long"));
    CHECK(strstr(refused("raw2", &(convert_options){.format = FORMAT_RAW}), "--from raw needs --raw, which names the arrays"));
    CHECK(strstr(refused("raw2", &(convert_options){.raw = "edges=e:i32", .format = FORMAT_NPY}), "--raw says what is read: no other --from"));
}

/* ---- papers ---------------------------------------------------------------------------------------------------- */

TEST(igbs_folder_is_read_with_its_loaders_split)
{
    const convert_options how = {.direction = DIRECTION_AS_IS, .loops = LOOPS_KEEP};
    char other[700];
    dataset d;
    test_seed(35);
    for (int64_t count = 2; count <= 102; count += 100) { /* (2, 2) is two pairs, too */
        model_make(&m, count);
        memset(m.split, 0, sizeof m.split);
        model_papers(&m, "igb", false);
        if (!converted(&d, "igb", &(convert_options){.format = FORMAT_AUTO})) return;
        CHECK(d.num_splits == 1 && d.feat.type == GGNN_F32 && memcmp(d.feat.rows, m.feat, sizeof m.feat) == 0);
        for (int v = 0; v < MODEL_NODES; v++) {
            CHECK_EQ(d.label[v], m.label[v]);
            CHECK_EQ(d.split[v], m.label[v] < 0 ? 0 : v < 24 ? 1 : v < 32 ? 2 : 3);
            for (int s = 0; s < MODEL_SPLITS; s++) m.split[s][v] = d.split[v];
        }
        dataset_close(&d);
    }
    make_whole("whole.ggnn", &how);
    snprintf(other, sizeof other, "%s/whole.split.npy", folder);
    put_vector(&(array_sink){NULL, "."}, "whole.split", "|u1", MODEL_NODES, m.split[0], 1);
    convert_options one = how;
    one.split_file = other;
    char in[600], out[600];
    error why = {""};
    CHECK(convert(folder_path(in, "whole.npz"), folder_path(out, "whole.ggnn"), &one, &why));
    gives("whole.ggnn", "igb", &(convert_options){.format = FORMAT_IGB});
    snprintf(other, sizeof other, "%s/igb/processed/paper/node_label_2K.npy", folder);
    if (!converted(&d, "igb", &(convert_options){.labels = other})) return;
    for (int v = 0; v < MODEL_NODES; v++) CHECK(d.label[v] == v % 7 && d.split[v] > 0);
    dataset_close(&d);
    if (!converted(&d, "igb", &(convert_options){.split = true, .share = {1, 0, 0}})) return;
    for (int v = 0; v < MODEL_NODES; v++) CHECK_EQ(d.split[v], m.label[v] >= 0);
    dataset_close(&d);
}

/* Features, labels or both are np.memmap's: what they hold is what arrays with a header would. */
TEST(igbs_memmaps_are_read_as_its_arrays)
{
    static const float row[3][1024] = {{1, 2}, {3, 4}, {5, 6}}, label[] = {7, 0, 18};
    static const int64_t edges[] = {0, 1, 1, 2, 2, 0};
    char whole[600], out[600];
    make_folder("large");
    make_folder("large/processed");
    make_folder("large/processed/paper");
    make_folder("large/processed/paper__cites__paper");
    put_matrix(&(array_sink){NULL, "large/processed/paper__cites__paper"}, "edge_index", "<i8", 3, 2, edges, 8, false);
    for (int bare = 0; bare < 4; bare++) {
        error why = {""};
        if (bare & 1) save_raw("large/processed/paper", "node_feat.npy", row, sizeof row);
        else put_matrix(&(array_sink){NULL, "large/processed/paper"}, "node_feat", "<f4", 3, 1024, row, 4, false);
        if (bare & 2) save_raw("large/processed/paper", "node_label_19.npy", label, sizeof label);
        else put_vector(&(array_sink){NULL, "large/processed/paper"}, "node_label_19", "<f4", 3, label, 4);
        const char* name = bare ? "bare.ggnn" : "headed.ggnn";
        CHECK(convert(folder_path(whole, "large"), folder_path(out, name), &(convert_options){.format = FORMAT_AUTO}, &why));
        if (bare) CHECK(same_files(folder_path(whole, "headed.ggnn"), out));
    }
    check_reported("large", "no header", true);
    save_raw("large/processed/paper", "node_feat.npy", row, sizeof row - 4);
    CHECK(strstr(refused("large", &(convert_options){.format = FORMAT_IGB}), "large/processed/paper/node_feat.npy: "));
    save_raw("large/processed/paper", "node_feat.npy", row, sizeof row);
    save_raw("large/processed/paper", "node_label_19.npy", label, 8);
    CHECK(strstr(refused("large", &(convert_options){.format = FORMAT_IGB}), "large/processed/paper/node_label_19.npy: "));
    remove(folder_path(whole, "large/processed/paper/node_label_19.npy"));
    remove(folder_path(whole, "large/processed/paper/node_feat.npy"));
    char x[700], y[700];
    dataset d;
    put_matrix(&(array_sink){NULL, "large"}, "x", "<f4", 3, 1024, row, 4, false);
    put_vector(&(array_sink){NULL, "large"}, "y", "<f4", 3, label, 4);
    snprintf(x, sizeof x, "%s/large/x.npy", folder);
    snprintf(y, sizeof y, "%s/large/y.npy", folder);
    if (!converted(&d, "large", &(convert_options){.features = x, .labels = y})) return;
    CHECK(d.num_nodes == 3 && d.label[2] == 18);
    dataset_close(&d);
}

TEST(of_igbs_full_graph_the_nodes_with_a_label_are_split)
{
    CHECK_EQ(igb_labelled(269346174), 227130858);
    CHECK_EQ(igb_labelled(100000000), 100000000);
}

/* No .pt is looked at. */
TEST(mag240ms_folder_keeps_halves_and_splits_by_year)
{
    char path[600];
    dataset d;
    test_seed(36);
    model_make(&m, 90);
    model_papers(&m, "mag", true);
    save_raw("mag", "meta.pt", "cos\nsystem\n(S'false'\ntR.", 24);
    save_raw("mag", "split_dict.pt", "cos\nsystem\n(S'false'\ntR.", 24);
    if (!converted(&d, "mag", &(convert_options){.format = FORMAT_AUTO})) return;
    CHECK(d.num_nodes == MODEL_NODES && d.num_splits == 1 && d.feat.type == GGNN_F16 && d.label);
    for (int v = 0; v < MODEL_NODES; v++) {
        CHECK_EQ(d.label[v], m.label[v]);
        CHECK_EQ(d.split[v], m.label[v] < 0 ? 0 : m.split[0][v] == 0 ? 1 : m.split[0][v]);
        for (int j = 0; j < MODEL_WIDTH; j++) CHECK(ggnn_half_to_float(((const uint16_t*)d.feat.rows)[v * MODEL_WIDTH + j]) == m.feat[v][j]);
    }
    dataset_close(&d);
    check_reported("mag", "taken out", false); /* papers without a label are in no part from the beginning */
    put_vector(&(array_sink){NULL, "mag/processed/paper"}, "node_year", "<i8", 3, m.label, 8);
    CHECK(strstr(refused("mag", &(convert_options){.format = FORMAT_AUTO}), "paper/node_year.npy: shape (3); (papers) is expected"));
    remove(folder_path(path, "mag/processed/paper/node_year.npy"));
    CHECK(strstr(refused("mag", &(convert_options){.format = FORMAT_AUTO}), "paper/node_year.npy: No such file"));
    if (!converted(&d, "mag", &(convert_options){.split = true, .share = {1, 0, 0}})) return;
    dataset_close(&d);
    remove(folder_path(path, "mag/processed/paper/node_label.npy"));
    CHECK(strstr(refused("mag", &(convert_options){.format = FORMAT_AUTO}), "paper/node_label.npy: No such file"));
}

/* --no-features needs no file of features: labels say how many nodes there are. */
TEST(papers_without_features_need_no_file_of_them)
{
    test_seed(42);
    model_make(&m, 50);
    for (int mag = 0; mag < 2; mag++) {
        dataset d;
        char path[600];
        model_papers(&m, "bare-papers", mag);
        remove(folder_path(path, "bare-papers/processed/paper/node_feat.npy"));
        CHECK(strstr(refused("bare-papers", &(convert_options){.format = FORMAT_AUTO}), "paper/node_feat.npy: No such file"));
        if (!converted(&d, "bare-papers", &(convert_options){.no_features = true})) continue;
        CHECK(d.num_nodes == MODEL_NODES && !d.feat.rows && d.label && d.num_splits == 1);
        dataset_close(&d);
        remove_tree(folder_path(path, "bare-papers"));
    }
    make_folder("npy-bare");
    array_sink to = {NULL, "npy-bare"};
    put_edge_arrays(&to, &m, EDGES_CSC, false);
    put_vector(&to, "label", "<i8", MODEL_NODES, m.label, 8);
    save_raw("npy-bare", "feat.npy", "no array", 8);
    dataset d;
    if (!converted(&d, "npy-bare", &(convert_options){.no_features = true})) return; /* it is not opened */
    CHECK(d.num_nodes == MODEL_NODES);
    dataset_close(&d);
}

/* Objects are pickled: they are refused by their type, before any of them is read. */
TEST(arrays_of_objects_are_refused)
{
    static const int64_t edges[] = {0, 1};
    make_folder("objects");
    array_sink to = {NULL, "objects"};
    put_matrix(&to, "edges", "<i8", 1, 2, edges, 8, false);
    put_npy(&to, "feat", npy_of("|O", "2,", false, "cos\nsystem\n(S'touch ran'\ntR.", 28));
    CHECK(strstr(refused("objects", &(convert_options){.format = FORMAT_AUTO}), "feat.npy: elements of type '|O' (pickled Python objects)"));
    char path[600];
    folder_path(path, "objects/feat.npy");
    model_make(&m, 10);
    model_list(&m, "o.csv", "", ",", 0, false, false);
    CHECK(strstr(refused("o.csv", &(convert_options){.features = path}), "feat.npy: elements of type '|O' (pickled Python objects)"));
}

/* ---- the command, memory, damage ------------------------------------------------------------------------------- */

static int run_convert(const char* options)
{
    char words[3000], *argument[20] = {"convert"};
    int count = 1, kept[2], nowhere = open("/dev/null", O_WRONLY);
    snprintf(words, sizeof words, "%s", options);
    for (char* word = strtok(words, "\t"); word; word = strtok(NULL, "\t")) argument[count++] = word;
    fflush(stdout);
    for (int k = 0; k < 2; k++) kept[k] = dup(k + 1), dup2(nowhere, k + 1);
    const int code = convert_main(count, argument);
    fflush(stdout);
    for (int k = 0; k < 2; k++) dup2(kept[k], k + 1), close(kept[k]);
    close(nowhere);
    return code;
}

TEST(the_command_takes_arrays_and_keeps_what_it_reads)
{
    static const struct {
        int code;
        const char* options; /* tabs between words, F: the folder */
    } of[] = {{0, "F/c.csv\tF/o.ggnn\t--features\tF/beside/x.npy\t--labels\tF/beside/y.npy\t--split\tF/beside/s.npy"},
              {0, "F/raw3\tF/o.ggnn\t--raw\tedges=pairs.i32:i32 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40"},
              {0, "F/raw3\tF/o.ggnn\t--raw\tedges=pairs.i32:i32 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40\t--fp32"},
              {2, "F/c.csv\tF/none.ggnn\t--split\tF/beside/s.npy\t--train\tdegree"},
              {2, "F/c.csv\tF/none.ggnn\t--split\tF/beside/s.npy\t--classes\t3"},
              {2, "F/c.csv\tF/none.ggnn\t--fp16\t--fp32"},
              {2, "F/missing.csv\tF/none.ggnn\t--features\tF/beside/x.npy\t--random-features\t8"},
              {2, "F/missing.csv\tF/none.ggnn\t--labels\tF/beside/y.npy\t--classes\t3"},
              {2, "F/c.csv\tF/beside/x.npy\t--features\tF/beside/x.npy"},
              {2, "F/c.csv\tF/beside/y.npy\t--labels\tF/beside/y.npy"},
              {2, "F/c.csv\tF/beside/s.npy\t--split\tF/beside/s.npy"},
              {1, "F/beside\tF/raw3/pairs.i32\t--raw\tedges=F/raw3/pairs.i32:i32"}};
    char whole[600], out[600];
    test_seed(37);
    model_make(&m, 70);
    save_beside();
    model_raw(&m, "raw3");
    model_list(&m, "c.csv", "", ",", 0, false, false);
    make_whole("whole.ggnn", &(convert_options){.direction = DIRECTION_AS_IS});
    folder_path(whole, "whole.ggnn");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char options[3000] = "";
        for (const char* at = of[k].options; *at; at++) snprintf(options + strlen(options), 700, *at == 'F' && at[1] == '/' ? "%s" : "%.1s", *at == 'F' && at[1] == '/' ? folder : at);
        if (!CHECK_EQ(run_convert(options), of[k].code)) printf("    %s\n", options);
        if (of[k].code == 0) CHECK(same_files(folder_path(out, "o.ggnn"), whole));
    }
    model_papers(&m, "mag3", true);
    for (int wide = 0; wide < 2; wide++) {
        char options[1500];
        snprintf(options, sizeof options, "%s/mag3\t%s/o.ggnn%s", folder, folder, wide ? "\t--fp32" : "");
        CHECK_EQ(run_convert(options), 0);
        gives("o.ggnn", "mag3", &(convert_options){.wide = wide});
    }
    gives("whole.ggnn", "c.csv", &(convert_options){.features = features, .labels = labels, .split_file = splits}); /* they are there, all */
    gives("whole.ggnn", "raw3", &(convert_options){.raw = "edges=pairs.i32:i32 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40"});
}

TEST(each_allocation_for_arrays_may_fail)
{
    test_seed(38);
    model_make(&m, 40);
    save_beside();
    model_raw(&m, "raw4");
    model_papers(&m, "igb4", false);
    model_papers(&m, "mag4", true);
    model_list(&m, "a.csv", "", ",", 0, false, false);
    allocations_may_fail("raw4", &(convert_options){.raw = "edge_index=index.i64:i64 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40"});
    allocations_may_fail("raw4", &(convert_options){.raw = "row_ptr=out.u32:u32 col_idx=to.u16:u16"});
    allocations_may_fail("igb4", &(convert_options){.format = FORMAT_AUTO});
    allocations_may_fail("mag4", &(convert_options){.format = FORMAT_AUTO});
    allocations_may_fail("a.csv", &(convert_options){.features = features, .labels = labels, .split_file = splits});
}

/* A file of a folder that is cut or changed: a graph, or a message that names the folder. */
TEST(damaged_arrays_are_refused_or_harmless)
{
    static const char* const files[] = {"raw5/index.i64", "raw5/feat.f32", "raw5/label.i8", "raw5/split.u8", "igb5/processed/paper/node_feat.npy",
                                        "igb5/processed/paper/node_label_19.npy", "igb5/processed/paper__cites__paper/edge_index.npy",
                                        "mag5/processed/paper/node_year.npy", "mag5/processed/paper/node_feat.npy"};
    static const char spec[] = "edge_index=index.i64:i64 feat=feat.f32:f32:5 label=label.i8:i8 split=split.u8:u8:40";
    test_seed(39);
    model_make(&m, 20);
    model_raw(&m, "raw5");
    model_papers(&m, "igb5", false);
    model_papers(&m, "mag5", true);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[600], name[8];
        bytes good = {malloc(8192), 0, 8192}, bad = {malloc(8192), 0, 8192};
        FILE* in = fopen(folder_path(path, files[k]), "rb");
        good.size = fread(good.data, 1, good.room, in);
        fclose(in);
        snprintf(name, sizeof name, "%.4s", files[k]);
        for (int i = 0; i < 120; i++) {
            char from[600], out[600];
            error why = {""};
            dataset d;
            memcpy(bad.data, good.data, good.size);
            bad.size = i < 60 ? (size_t)test_below((int64_t)good.size) : good.size;
            if (i >= 60) bad.data[test_below((int64_t)good.size)] ^= (uint8_t)(1 << test_below(8));
            write_file(path, bad.data, bad.size);
            const bool done = convert(folder_path(from, name), folder_path(out, "damaged.ggnn"), &(convert_options){.raw = k < 4 ? spec : NULL}, &why);
            const bool fewer = (k == 0 && bad.size % 16 == 0) || (k == 3 && bad.size % MODEL_NODES == 0); /* edges, splits: no header tells */
            if (i < 60 && !fewer && !CHECK(!done)) printf("    %s cut to %zu of %zu\n", files[k], bad.size, good.size);
            if (!done) CHECK(strstr(why.text, name));
            else if (CHECK(dataset_open(&d, out, &why) && dataset_check_graph(&d, &why) && dataset_count(&d, &why))) dataset_close(&d);
        }
        write_file(path, good.data, good.size);
        drop(&good);
        drop(&bad);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(halves_stay_halves_to_the_bit);
    RUN(pairs_and_planes_are_told_by_their_shape);
    RUN(an_npz_of_out_neighbours_is_known);
    RUN(files_beside_any_format_give_what_arrays_in_it_give);
    RUN(features_come_before_labels_and_these_before_splits);
    RUN(each_file_beside_a_format_stands_in_place_of_one_part);
    RUN(files_beside_a_format_that_do_not_fit_are_refused_by_their_sizes);
    RUN(raw_arrays_give_the_graph_that_npy_gives);
    RUN(raw_elements_have_the_type_that_is_said);
    RUN(a_raw_word_that_cannot_be_is_refused_by_name);
    RUN(igbs_folder_is_read_with_its_loaders_split);
    RUN(igbs_memmaps_are_read_as_its_arrays);
    RUN(of_igbs_full_graph_the_nodes_with_a_label_are_split);
    RUN(mag240ms_folder_keeps_halves_and_splits_by_year);
    RUN(papers_without_features_need_no_file_of_them);
    RUN(arrays_of_objects_are_refused);
    RUN(the_command_takes_arrays_and_keeps_what_it_reads);
    RUN(each_allocation_for_arrays_may_fail);
    RUN(damaged_arrays_are_refused_or_harmless);
    folder_remove();
    return test_finish();
}
