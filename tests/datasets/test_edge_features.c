/* ggnn-data convert: rows of edges follow their edges, from every format, in memory and on the disk. */
#include "common/memory.h"
#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "datasets/edge_rows.h"
#include "tests/graph_files.h"
#include "tests/tool.h"
#ifdef _OPENMP
#include <omp.h>
#endif

enum { MEBI = 1 << 20, WIDTH = MODEL_EDGE_WIDTH };

/* ---- what is expected ----------------------------------------------------------------------------------------- */

/* Which edge of the model an entry of v's list is of, the plain twin of edge_lists_write: of the entries with one source the
   k-th is its k-th edge in the order of reading (order: of numbers), reverses behind. -1: none. */
static int64_t edge_of(const model* m, const convert_options* how, const int64_t* order, int64_t v, int64_t u, int64_t k)
{
    for (int reverse = 0; reverse < 1 + (how->direction == DIRECTION_BOTH); reverse++)
        for (int64_t i = 0; i < m->num_edges; i++) {
            const int64_t e = order[i], src = reverse ? m->dst[e] : m->src[e], dst = reverse ? m->src[e] : m->dst[e];
            if (src == u && dst == v && !(reverse && src == dst) && k-- == 0) return e;
        }
    return -1;
}

static float value_of(const dataset_rows* r, int64_t row, int j)
{
    if (r->type == GGNN_F32) return ((const float*)r->rows)[row * r->width + j];
    return ggnn_half_to_float(((const uint16_t*)r->rows)[row * r->width + j]);
}

/* Is the row of every edge its own, and its weight, where there is one? */
static bool rows_follow(const dataset* d, const model* m, const convert_options* how, const int64_t* order)
{
    if (!d->edge_feat.rows || d->edge_feat.width != WIDTH || (d->edge_feat.type == GGNN_F16) != how->half) return false;
    for (int64_t v = 0; v < d->num_nodes; v++)
        for (int64_t i = d->csc.indptr[v], k = 0; i < d->csc.indptr[v + 1]; i++) {
            k = i > d->csc.indptr[v] && d->csc.indices[i] == d->csc.indices[i - 1] ? k + 1 : 0;
            const int64_t e = edge_of(m, how, order, v, (int64_t)d->csc.indices[i], k);
            if (e < 0 || (d->csc.weight && d->csc.weight[i] != m->weight[e])) return false;
            for (int j = 0; j < WIDTH; j++)
                if (value_of(&d->edge_feat, i, j) != m->edge_feat[e][j]) return false;
        }
    return true;
}

static void make_order(int64_t* number, const model* m, edge_order order)
{
    int64_t n = 0;
    for (int v = 0; v < MODEL_NODES; v++)
        for (int64_t e = 0; e < m->num_edges; e++) {
            if (order == ORDER_LIST ? v > 0 : (order == ORDER_BY_TARGET ? m->dst[e] : m->src[e]) != v) continue;
            number[n++] = e;
        }
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static void model_with_arrays(const model* m, const char* name, const char* features, edge_layout layout, bool fortran, bool npz)
{
    zip_maker z = {0};
    array_sink to = {npz ? &z : NULL, name};
    if (!npz) make_folder(name);
    put_model(&to, m, layout, fortran);
    put_edge_features(&to, m, features, layout == EDGES_CSC ? ORDER_BY_TARGET : ORDER_LIST, fortran);
    if (npz) save(zip_end(&z), name, false);
}

static void model_columns(const model* m, const char* name, const char* head, const char* separator, int64_t base, bool weights, bool gzip)
{
    bytes b = {0};
    put_string(&b, head);
    put_edge_columns(&b, m, separator, base, weights, true);
    save(b, name, gzip);
}

/* Converts folder/name; false, with the message in why, on failure. */
static bool converted(dataset* d, const char* name, const convert_options* how, error* why)
{
    char in[600], out[600];
    why->text[0] = 0;
    return convert(folder_path(in, name), folder_path(out, "out.ggnn"), how, why) && dataset_open(d, out, why) &&
           ggnn_file_verify(&d->file);
}

static void check_follow(const model* m, const char* name, const convert_options* how, edge_order order)
{
    int64_t number[MODEL_EDGES_MAX];
    dataset d;
    error why;
    make_order(number, m, order);
    if (!CHECK(converted(&d, name, how, &why))) {
        printf("    %s: %s\n", name, why.text);
        return;
    }
    if (!CHECK(rows_follow(&d, m, how, number))) printf("    %s\n", name);
    dataset_close(&d);
}

/* ---- every format --------------------------------------------------------------------------------------------- */

TEST(rows_follow_their_edges_from_every_format)
{
    static model m;
    char path[600], rows[3][600];
    test_seed(1);
    for (int round = 0; round < 16; round++) {
        const bool fortran = round & 2, gzip = round & 1;
        convert_options how = {.direction = round & 4 ? DIRECTION_BOTH : DIRECTION_AS_IS, .keep_duplicates = round & 8,
                               .loops = round % 3 ? LOOPS_KEEP : LOOPS_DROP, .half = round & 1, .num_nodes = MODEL_NODES};
        model_make(&m, 200 + 10 * round);
        static const char* const name[] = {"edge_attr", "edge_features", "edge_feat"};
        for (int layout = 0; layout < 3; layout++)
            for (int npz = 0; npz < 2; npz++) {
                const char* file = npz ? "a.npz" : "arrays";
                model_with_arrays(&m, file, name[(round + layout) % 3], (edge_layout)layout, fortran, npz);
                check_follow(&m, file, &how, layout == EDGES_CSC ? ORDER_BY_TARGET : ORDER_LIST);
                remove_tree(folder_path(path, file));
            }
        model_ogb(&m, "ogb", gzip);
        model_ogb_rows(&m, "ogb", gzip);
        check_follow(&m, "ogb", &how, ORDER_LIST);
        remove_tree(folder_path(path, "ogb"));
        for (int weights = 0; weights < 2; weights++) {
            convert_options columns = how;
            columns.columns = weights ? COLUMNS_WEIGHT_FEATURES : COLUMNS_FEATURES;
            model_columns(&m, "list.csv", weights ? "src,dst,weight,colour,\"a b\",x\n" : "src,dst,1st,b,c\n", ",", 0, weights, false);
            check_follow(&m, "list.csv", &columns, ORDER_LIST);
            model_columns(&m, "snap.txt", "# a list\n", "\t", 0, weights, false);
            check_follow(&m, "snap.txt", &columns, ORDER_LIST);
            model_columns(&m, "out.k", "% asym positive\n", " ", 1, weights, false);
            check_follow(&m, "out.k", &columns, ORDER_LIST);
        }
        for (int k = 0; k < 3; k++) { /* a file beside any format */
            array_sink to = {NULL, "rows"};
            static const char* const order[] = {"list", "target", "source"};
            char file[20];
            make_folder("rows");
            put_edge_features(&to, &m, order[k], (edge_order)k, fortran);
            snprintf(file, sizeof file, "rows/%s.npy", order[k]);
            folder_path(rows[k], file);
        }
        static const char* const formats[] = {"csr", "csc", "coo", "coords"};
        for (int k = 0; k < 4; k++) {
            const edge_order order = k == 0 ? ORDER_BY_SOURCE : k == 1 ? ORDER_BY_TARGET : ORDER_LIST;
            model_scipy(&m, "s.npz", formats[k], false);
            how.edge_features = rows[order];
            check_follow(&m, "s.npz", &how, order);
        }
        model_shchur(&m, "shchur.npz", true, false);
        how.edge_features = rows[ORDER_BY_SOURCE];
        check_follow(&m, "shchur.npz", &how, ORDER_BY_SOURCE);
        how.edge_features = rows[ORDER_LIST];
        model_mtx(&m, "m.mtx", false);
        check_follow(&m, "m.mtx", &how, ORDER_LIST);
        model_list(&m, "l.csv", "", ",", 0, true, false);
        check_follow(&m, "l.csv", &how, ORDER_LIST);
    }
}

/* A row of one number: a vector, in the format or beside it. */
TEST(a_vector_is_a_column_of_features)
{
    static const int64_t pairs[] = {0, 1, 2, 1, 1, 0};
    static const float value[] = {5, -2, .5f};
    dataset d;
    error why;
    zip_maker z = {0};
    array_sink to = {&z, NULL};
    put_matrix(&to, "edges", "<i8", 3, 2, pairs, 8, false);
    put_vector(&to, "edge_attr", "<f4", 3, value, 4);
    save(zip_end(&z), "vector.npz", false);
    if (!CHECK(converted(&d, "vector.npz", &(convert_options){.direction = DIRECTION_AS_IS}, &why))) return;
    const float* row = d.edge_feat.rows;
    CHECK(d.edge_feat.width == 1 && row[0] == .5f && row[1] == 5 && row[2] == -2);
    dataset_close(&d);
}

/* What the file has is left out, or another's rows are taken; a damaged array that is not wanted is not read. */
TEST(rows_that_are_not_wanted_are_not_read)
{
    static model m;
    char path[600], rows[600];
    dataset d;
    error why;
    test_seed(2);
    model_make(&m, 50);
    model_with_arrays(&m, "a.npz", "edge_attr", EDGES_PAIRS, false, true);
    if (CHECK(converted(&d, "a.npz", &(convert_options){.drop_edge_features = true, .loops = LOOPS_ADD}, &why))) {
        CHECK(!d.edge_feat.rows && d.feat.rows);
        dataset_close(&d);
    }
    array_sink to = {NULL, "rows"};
    make_folder("rows");
    for (int e = 0; e < 50; e++) m.edge_feat[e][0] += 1000;
    put_edge_features(&to, &m, "other", ORDER_LIST, false);
    check_follow(&m, "a.npz", &(convert_options){.direction = DIRECTION_BOTH, .edge_features = folder_path(rows, "rows/other.npy")}, ORDER_LIST);
    model_ogb(&m, "ogb", false);
    write_file(folder_path(path, "ogb/raw/edge-feat.csv"), "x\n", 2);
    CHECK(!converted(&d, "ogb", &(convert_options){0}, &why) && strstr(why.text, "edge-feat.csv: line 1, byte 1: no number: \"x\""));
    if (CHECK(converted(&d, "ogb", &(convert_options){.drop_edge_features = true}, &why))) {
        CHECK(!d.edge_feat.rows);
        dataset_close(&d);
    }
    check_follow(&m, "ogb", &(convert_options){.edge_features = rows}, ORDER_LIST);
    remove_tree(folder_path(path, "ogb"));
}

/* ---- columns -------------------------------------------------------------------------------------------------- */

static void check_columns(const char* text, convert_format format, convert_columns columns, int width, bool weighted)
{
    char path[600];
    dataset d;
    error why;
    write_file(folder_path(path, "c.txt"), text, strlen(text));
    if (!CHECK(converted(&d, "c.txt", &(convert_options){.format = format, .columns = columns, .num_nodes = 3}, &why))) {
        printf("    %s", text);
        return;
    }
    CHECK_EQ(d.edge_feat.width, width);
    CHECK_EQ(d.csc.weight != NULL, weighted);
    if (weighted) CHECK(d.csc.weight[0] == 7);
    for (int j = 0; j < width; j++) CHECK(value_of(&d.edge_feat, 0, j) == (float)(7 + j + weighted));
    dataset_close(&d);
}

TEST(columns_are_what_the_option_says)
{
    static const char* const head[] = {"", "", "% asym weighted\n"};
    static const convert_format format[] = {FORMAT_EDGES, FORMAT_SNAP, FORMAT_KONECT};
    for (int k = 0; k < 3; k++)
        for (int columns = 0; columns < 4; columns++) { /* behind source and target */
            char text[200] = "";
            for (int line = 0; line < 2; line++) {
                const size_t at = strlen(text);
                snprintf(text + at, sizeof text - at, "%s%s%s%s%s\n", line ? "" : head[k], line ? "2 1" : "1 2", columns > 0 ? " 7" : "",
                         columns > 1 ? " 8" : "", columns > 2 ? " 9" : "");
            }
            check_columns(text, format[k], COLUMNS_NONE, 0, false);
            if (columns > 0) check_columns(text, format[k], COLUMNS_WEIGHT, 0, true);
            if (columns > 0) check_columns(text, format[k], COLUMNS_FEATURES, columns, false);
            if (columns > 1) check_columns(text, format[k], COLUMNS_WEIGHT_FEATURES, columns - 1, true);
            if (k || columns < 2) check_columns(text, format[k], COLUMNS_AUTO, 0, columns > 0 && k != 1);
        }
}

/* 900 columns are counted ahead; no row is cut or shifted where batches end. */
TEST(rows_may_have_hundreds_of_columns)
{
    enum { MOST = 898, EDGES = 200 };
    for (int width = MOST; width <= MOST + 1; width++) {
        bytes b = {0};
        dataset d;
        error why;
        char text[40];
        for (int e = 0; e < EDGES; e++) {
            snprintf(text, sizeof text, "%d,%d", e, (e * 7 + 1) % EDGES);
            put_string(&b, text);
            for (int j = 0; j < width; j++) {
                snprintf(text, sizeof text, ",%d", e * 1000 + j);
                put_string(&b, text);
            }
            put_string(&b, "\n");
        }
        save(b, "wide.csv", false);
        const bool good = converted(&d, "wide.csv", &(convert_options){.columns = COLUMNS_FEATURES, .memory = MEBI}, &why);
        CHECK_EQ(good, width == MOST);
        if (!good) CHECK(strstr(why.text, "wide.csv: line 1, byte 1: more than 900 columns (--edge-features takes wider rows): \"0\""));
        if (!good) continue;
        for (int64_t v = 0; v < EDGES; v++)
            for (int j = 0; j < width; j++) CHECK(value_of(&d.edge_feat, d.csc.indptr[v], j) == (float)(d.csc.indices[d.csc.indptr[v]] * 1000 + j));
        dataset_close(&d);
    }
}

/* ---- memory --------------------------------------------------------------------------------------------------- */

enum { MANY_NODES = 3000, MANY = 60000 };

/* Column 0 has the edge's number, column 1 half of it. */
static void write_many(int64_t gap, int64_t* src, int64_t* dst)
{
    bytes b = {0};
    for (int64_t e = 0; e < MANY; e++) {
        char line[120];
        src[e] = test_below(MANY_NODES);
        dst[e] = e % 4 ? test_below(MANY_NODES) : 5;
        const int n = snprintf(line, sizeof line, "%lld,%lld,%lld,%lld,%.1f,1,2,3,4,5,6\n", (long long)(src[e] * gap), (long long)(dst[e] * gap),
                               (long long)e, (long long)e, (double)e / 2);
        put(&b, line, (size_t)n);
    }
    save(b, "many.csv", false);
}

static void check_many(const dataset* d, const int64_t* src, const int64_t* dst, int64_t gap, bool both)
{
    for (int64_t v = 0; v < d->num_nodes; v++)
        for (int64_t i = d->csc.indptr[v]; i < d->csc.indptr[v + 1]; i++) {
            const int64_t e = (int64_t)value_of(&d->edge_feat, i, 0);
            const int64_t u = (int64_t)d->csc.indices[i], a = d->external_id ? d->external_id[u] / gap : u, b = d->external_id ? d->external_id[v] / gap : v;
            CHECK((src[e] == a && dst[e] == b) || (both && src[e] == b && dst[e] == a));
            CHECK(d->csc.weight[i] == (float)e && value_of(&d->edge_feat, i, 1) == (float)e / 2 && value_of(&d->edge_feat, i, 7) == 6);
        }
}

TEST(rows_are_the_same_from_memory_and_from_the_disk)
{
    static int64_t src[MANY], dst[MANY];
    char path[2][600], line[1300];
    test_seed(3);
    for (int round = 0; round < 8; round++) {
        const int64_t gap = round & 1 ? (int64_t)1 << 33 : 1;
        dataset d;
        error why = {""};
        write_many(gap, src, dst);
        for (int k = 0; k < 2; k++) {
            const convert_options how = {.columns = COLUMNS_WEIGHT_FEATURES, .direction = round & 2 ? DIRECTION_BOTH : DIRECTION_AS_IS,
                                         .keep_duplicates = round & 4, .memory = k ? MEBI : 64 * MEBI};
#ifdef _OPENMP
            omp_set_num_threads(k ? 3 : 1);
#endif
            if (!CHECK(convert(folder_path(line, "many.csv"), folder_path(path[k], k ? "disk" : "memory"), &how, &why))) printf("    %s\n", why.text);
        }
        if (!CHECK(dataset_open(&d, path[1], &why))) return;
        CHECK_EQ(d.external_id != NULL, gap > 1);
        check_many(&d, src, dst, gap, round & 2);
        dataset_close(&d);
        snprintf(line, sizeof line, "cmp -s %s %s", path[0], path[1]);
        CHECK_EQ(system(line), 0);
    }
}

/* More rows than half the memory takes are placed in passes; a single one may be larger than it, and than the buffer. */
TEST(items_are_placed_in_passes)
{
    enum { COUNT = 5000 };
    static int64_t number[2 * COUNT];
    static const int64_t bytes_of[] = {4, 24, 300000};
    char path[600];
    test_seed(4);
    for (int k = 0; k < 3; k++) {
        const int64_t count = k == 2 ? 7 : COUNT, item = bytes_of[k];
        unsigned char *items = malloc((size_t)(count * item)), *out = calloc((size_t)(2 * count), (size_t)item);
        edge_rows r;
        error why = {""};
        for (int64_t i = 0; i < count * item; i++) items[i] = (unsigned char)test_below(256);
        for (int64_t i = 0; i < 2 * count; i++) number[i] = test_below(count);
        if (!CHECK(edge_rows_open(&r, folder_path(path, "out.ggnn"), item, &why))) return;
        for (int64_t i = 0, some; i < count; i += some) {
            some = test_below(k == 2 ? 2 : 900);
            if (some > count - i) some = count - i;
            CHECK(edge_rows_add(&r, items + i * item, some, &why));
        }
        CHECK(r.count == count && edge_rows_place(&r, out, number, 2 * count, 1000, &why));
        for (int64_t i = 0; i < 2 * count; i++) CHECK(memcmp(out + i * item, items + number[i] * item, (size_t)item) == 0);
        edge_rows_close(&r);
        edge_rows_close(&r);
        free(items);
        free(out);
    }
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

TEST(bad_rows_are_named)
{
    static const struct {
        const char* text;
        convert_options how;
        const char* words;
    } of[] = {
        {"0,1,2\n1,2,x\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 2, byte 5: no number: \"x\""},
        {"0,1,2\n1,2,nan\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 2, byte 5: a feature is a finite number: \"nan\""},
        {"0,1,2\n1,2,1e39\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 2, byte 5: a feature is a finite number: \"1e39\""},
        {"0,1,2,3\n1,2,3\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 2, byte 6: the line ends, a number is expected"},
        {"0,1,2\n1,2,3,4\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 2, byte 7: more columns than in the first line: \"4\""},
        {"0,1\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 1, byte 1: source, target and features are expected: \"0\""},
        {"0\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 1, byte 1: source, target and features are expected: \"0\""},
        {"0,1,2\n", {.columns = COLUMNS_WEIGHT_FEATURES}, "bad.csv: line 1, byte 1: source, target, a weight and features are expected: \"0\""},
        {"0,1,-2,3\n", {.columns = COLUMNS_WEIGHT_FEATURES}, "bad.csv: line 1, byte 5: a weight is >= 0"},
        {"0,1\n", {.columns = COLUMNS_WEIGHT}, "bad.csv: line 1, byte 4: the line ends, a number is expected"},
        {"0,1,2,3\n", {0}, "bad.csv: line 1, byte 1: source, target and a weight are expected, not more (--edge-columns says what they are): \"0\""},
        {"0,1,2\n", {.columns = COLUMNS_FEATURES, .loops = LOOPS_ADD}, "bad.csv: edges have features, and a self-loop that is added would have none"},
        {"0,1,70000\n", {.columns = COLUMNS_FEATURES, .half = true}, "bad.csv: features of edges: row 0, column 0: 70000 is beyond fp16 (65,504)"},
        {"src,colour,w\n0,1,2\n", {.columns = COLUMNS_FEATURES}, "bad.csv: line 1, byte 5: neither a number nor a column's name"},
        {"src,dst,colour,w\n0,1,2,3\n", {.columns = COLUMNS_WEIGHT_FEATURES}, "bad.csv: line 1, byte 9: neither a number nor a column's name"},
        {"0,1,2\n", {.columns = COLUMNS_FEATURES, .drop_edge_features = true}, "bad.csv: features of edges come from one place"},
        {"0,1,2\n", {.columns = COLUMNS_WEIGHT_FEATURES, .edge_features = "x"}, "bad.csv: features of edges come from one place"},
        {"0,1,2\n", {.edge_features = "x", .drop_edge_features = true}, "bad.csv: features of edges come from one place"},
        {"0,1,2\n", {.edge_features = "/nonexistent/rows.npy"}, "/nonexistent/rows.npy: No such file or directory"},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", {.columns = COLUMNS_NONE}, "bad.csv: --edge-columns is for lists of edges (edges, snap, konect), this is mtx"},
    };
    char path[600];
    dataset d;
    error why;
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        write_file(folder_path(path, "bad.csv"), of[k].text, strlen(of[k].text));
        remove(folder_path(path, "out.ggnn"));
        CHECK(!converted(&d, "bad.csv", &of[k].how, &why) && access(path, F_OK) != 0);
        if (!CHECK(strstr(why.text, of[k].words))) printf("    %s\n    %s\n", why.text, of[k].words);
    }
    CHECK_EQ(temporaries(), 0);
}

static void check_array(const char* name, bytes npy, const char* words, convert_options how)
{
    static const int64_t pairs[] = {0, 1, 1, 2, 2, 0};
    char path[600], file[600];
    dataset d;
    error why;
    array_sink to = {NULL, "bad"};
    make_folder("bad");
    put_matrix(&to, "edges", "<i8", 3, 2, pairs, 8, false);
    put_npy(&to, name, npy);
    remove(folder_path(path, "out.ggnn"));
    if (strcmp(name, "beside") == 0) how.edge_features = folder_path(file, "bad/beside.npy");
    const bool good = converted(&d, "bad", &how, &why);
    CHECK_EQ(good, words == NULL);
    if (good) dataset_close(&d);
    else if (!CHECK(strstr(why.text, words))) printf("    %s\n    %s\n", why.text, words);
    remove_tree(folder_path(path, "bad"));
}

TEST(bad_arrays_of_rows_are_named)
{
    static const float row[8] = {1, 2, 3, 4, 5, 6, 7, 8}, endless[6] = {1, 2, 3, INFINITY, 5, 6}, wide[6] = {1, 2, 3, 4, 5, -1e5f};
    const convert_options how = {0}, half = {.half = true};
    for (int k = 0; k < 2; k++) {
        const char* name = k ? "beside" : "edge_attr";
        char words[100];
#define WORDS(text) (snprintf(words, sizeof words, "bad/%s.npy: %s", name, text), words)
        check_array(name, npy_of("<f4", "3, 2", false, row, 24), NULL, how);
        check_array(name, npy_of("<f4", "3, 2", true, row, 24), NULL, how);
        check_array(name, npy_of("<f4", "4, 2", false, row, 32), WORDS("4 rows of features for 3 edges"), how);
        check_array(name, npy_of("<f4", "2, 2", false, row, 16), WORDS("2 rows of features for 3 edges"), how);
        check_array(name, npy_of("<f4", "2,", false, row, 8), WORDS("2 rows of features for 3 edges"), how);
        check_array(name, npy_of("<f4", "", false, row, 4), WORDS("shape (); (edges, width) is expected"), how);
        check_array(name, npy_of("<f4", "3, 1, 2", false, row, 24), WORDS("shape (3, 1, 2); (edges, width) is expected"), how);
        check_array(name, npy_of("<f4", "3, 0", false, row, 0), WORDS("shape (3, 0); (edges, width) is expected"), how);
        check_array(name, npy_of("<f4", "0, 16777217", false, row, 0), WORDS("shape (0, 16777217); (edges, width) is expected"), how);
        check_array(name, npy_of("<f4", "3, 2", false, endless, 24), WORDS("features of edges: row 1, column 1: inf is no number to learn from"), how);
        check_array(name, npy_of("<f4", "3, 2", true, endless, 24), WORDS("features of edges: row 0, column 1: inf is no number to learn from"), how);
        check_array(name, npy_of("<f4", "3, 2", false, wide, 24), WORDS("features of edges: row 2, column 1: -100000 is beyond fp16 (65,504)"), half);
        check_array(name, npy_of("<f4", "3, 2", false, row, 20), WORDS("148 bytes, but its shape needs 152 (truncated?)"), how);
        check_array(name, npy_of("<c8", "3, 1", false, row, 24), WORDS("elements of type '<c8'"), how);
#undef WORDS
    }
}

TEST(bad_rows_of_an_ogb_folder_are_named)
{
    static const struct {
        const char *text, *words;
    } of[] = {{"", "is empty"},
              {"1,2\n3,4\n", "2 rows for 3 edges (truncated?)"},
              {"1,2\n3,4\n5,6\n7,8\n", "line 4, byte 1: more rows than edges: \"7\""},
              {"1,2\n3\n5,6\n", "line 2, byte 2: the line ends, a number is expected"},
              {"1,2\n3,4,5\n5,6\n", "line 2, byte 5: more columns than expected: \"5\""},
              {"1,2\n3,inf\n5,6\n", "line 2, byte 3: a feature is a finite number: \"inf\""}};
    static model m;
    char path[600];
    dataset d;
    error why;
    test_seed(5);
    model_make(&m, 3);
    model_ogb(&m, "ogb", false);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char words[200];
        write_file(folder_path(path, "ogb/raw/edge-feat.csv"), of[k].text, strlen(of[k].text));
        snprintf(words, sizeof words, "ogb/raw/edge-feat.csv: %s", of[k].words);
        CHECK(!converted(&d, "ogb", &(convert_options){0}, &why));
        if (!CHECK(strstr(why.text, words))) printf("    %s\n", why.text);
    }
    remove_tree(folder_path(path, "ogb"));
}

static void check_allocations(const char* name, const convert_options* how)
{
    char in[600], out[600];
    const int open_before = open_descriptors();
    long n = 1;
    folder_path(in, name);
    remove(folder_path(out, "alloc.ggnn"));
    for (;; n++) {
        char number[24];
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + n);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        const bool good = convert(in, out, how, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (good) break;
        if (CHECK(strstr(why.text, "out of memory")) && CHECK(access(out, F_OK) != 0)) continue;
        printf("    %s, allocation %ld: %s\n", name, n, why.text);
        break;
    }
    CHECK(n > 8);
    CHECK_EQ(temporaries(), 0);
    CHECK_EQ(open_descriptors(), open_before);
}

TEST(every_allocation_may_fail)
{
    static model m;
    static int64_t src[MANY], dst[MANY];
    char path[600], rows[600];
    test_seed(6);
    model_make(&m, 60);
    model_with_arrays(&m, "a.npz", "edge_attr", EDGES_PAIRS, true, true);
    check_allocations("a.npz", &(convert_options){0});
    model_ogb(&m, "ogb", false);
    model_ogb_rows(&m, "ogb", false);
    check_allocations("ogb", &(convert_options){0});
    array_sink to = {NULL, "rows"};
    make_folder("rows");
    put_edge_features(&to, &m, "list", ORDER_LIST, false);
    check_allocations("ogb", &(convert_options){.edge_features = folder_path(rows, "rows/list.npy")});
    remove_tree(folder_path(path, "ogb"));
    write_many(1, src, dst);
    check_allocations("many.csv", &(convert_options){.columns = COLUMNS_WEIGHT_FEATURES, .memory = MEBI});
}

/* What rows take is said first; where the disk has less the work does not begin, and a disk that fills up is an error. */
TEST(a_disk_without_room_is_an_error)
{
    static int64_t src[MANY], dst[MANY];
    char line[2000], path[600];
    write_many(1, src, dst);
    snprintf(line, sizeof line, "convert %s/many.csv %s/none --edge-columns weight-features --memory 1M", folder, folder);
    CHECK_EQ(run("ulimit -f 1000;", line), 1); /* 1,000 blocks of 512 or 1,024 bytes stand for a full disk */
    CHECK(prints("err", "cannot write scratch beside it, rows of "));
    CHECK(access(folder_path(path, "none"), F_OK) != 0);
    CHECK_EQ(temporaries(), 0);
    static const char dense[] = "%%MatrixMarket matrix coordinate pattern general\n1000 1000 900000000000\n1 1\n";
    write_file(folder_path(path, "claims.mtx"), dense, sizeof dense - 1);
    bytes wide = npy_of("<f4", "0, 16777216", false, "", 0);
    write_file(folder_path(path, "wide.npy"), wide.data, wide.size);
    drop(&wide);
    snprintf(line, sizeof line, "convert %s/claims.mtx %s/none --edge-features %s/wide.npy --memory 64M", folder, folder, folder);
    CHECK_EQ(run("", line), 1); /* 2^66 bytes of rows */
    CHECK(prints("err", "needs about 1153 PB of scratch and 1153 PB of file; its disk has"));
}

static bool takes(const char* options, const char* words)
{
    char line[2000];
    snprintf(line, sizeof line, "convert %s/l.csv %s/said --memory 64M %s", folder, folder, options);
    CHECK_EQ(run("", line), 0);
    if (strstr(printed("out"), words)) return true;
    printf("%s", printed("out"));
    return false;
}

/* 100 lines of 14 bytes are guessed to be 117, 34 or 39 edges, as two columns, five features or four are read. */
TEST(the_command_takes_rows_and_says_what_they_take)
{
    const int id = (int)sizeof(ggnn_node);
    char path[600], line[2000], words[200];
    bytes b = {0};
    for (int e = 0; e < 100; e++) put_string(&b, "0,1,2,3,4,5,6\n");
    save(b, "l.csv", false);
    snprintf(words, sizeof words, ", none of scratch on the disk, %d B of file\n", 117 * id);
    CHECK(takes("--edge-columns none", words));
    snprintf(words, sizeof words, ", %d B of scratch on the disk, %d B of file\n", 34 * (20 + 8), 34 * (id + 20));
    CHECK(takes("--edge-columns features", words));
    CHECK(prints("out", "\nedges      features 5 wide, fp32\n"));
    snprintf(words, sizeof words, ", %.2f kB of scratch on the disk, %.2f kB of file\n", .039 * (8 + 4 + 2 * 8), .078 * (id + 4 + 8));
    CHECK(takes("--edge-columns weight-features --fp16 --undirected", words));
    CHECK(prints("out", "\nedges      features 4 wide, fp16\n"));
    snprintf(line, sizeof line, "convert %s/l.csv %s/said --edge-columns none --edge-features %s/said", folder, folder, folder);
    CHECK_EQ(run("", line), 2);
    CHECK(prints("err", "said: OUT has the features of edges"));
    CHECK_EQ(run("", "convert a b --edge-columns some"), 2);
    CHECK(prints("err", "--edge-columns some: not one of auto|none|weight|features|weight-features"));
    remove(folder_path(path, "said"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    RUN(rows_follow_their_edges_from_every_format);
    RUN(a_vector_is_a_column_of_features);
    RUN(rows_that_are_not_wanted_are_not_read);
    RUN(columns_are_what_the_option_says);
    RUN(rows_may_have_hundreds_of_columns);
    RUN(rows_are_the_same_from_memory_and_from_the_disk);
    RUN(items_are_placed_in_passes);
    RUN(bad_rows_are_named);
    RUN(bad_arrays_of_rows_are_named);
    RUN(bad_rows_of_an_ogb_folder_are_named);
    RUN(every_allocation_may_fail);
    RUN(a_disk_without_room_is_an_error);
    RUN(the_command_takes_rows_and_says_what_they_take);
    folder_remove();
    return test_finish();
}
