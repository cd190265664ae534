/* What ggnn-train says of a checkpoint without its data: weights for PyTorch (export), words for people (info). The programs of
   this test's own build. That the library safetensors, and PyG, read the weights: tests/examples/test_load_in_pyg.py. */
#include <inttypes.h>

#include "common/memory.h"
/* predict.c with blocks that are counted: the test's own copy. */
static void* counted_new(size_t bytes, const char* what, error* why);
static void* counted_resize(void* old, size_t old_bytes, size_t new_bytes, const char* what, error* why);
static void counted_free(void* memory);
#define output output_struct /* a name that tool.h has, too */
#define memory_new counted_new
#define memory_resize counted_resize
#define memory_free counted_free
#include "trainer/predict.c"
#undef output
#undef memory_new
#undef memory_resize
#undef memory_free

#include "datasets/arrays.h"
#include "tests/train_tool.h"
#include "tests/vectors/checkpoint_0_1.h"

/* ==== a checkpoint's own arrays ================================================================================= */

enum { FLOATS_MAX = 1 << 13, TENSORS_MAX = 64 };
typedef struct {
    char params[2048];
    float best[FLOATS_MAX], value[FLOATS_MAX];
    int64_t floats;
} saved_arrays;
static saved_arrays saved;

static void read_checkpoint(const char* path)
{
    ggnn_file f;
    memset(&saved, 0, sizeof saved);
    if (!CHECK(ggnn_file_open(&f, path))) return;
    const ggnn_file_section *params = ggnn_file_find(&f, "params"), *best = ggnn_file_find(&f, "best"), *value = ggnn_file_find(&f, "value");
    saved.floats = best->dim[0];
    if (CHECK(params->bytes < (int64_t)sizeof saved.params && saved.floats <= FLOATS_MAX && value->dim[0] == saved.floats)) {
        memcpy(saved.params, ggnn_file_data(&f, params), (size_t)params->bytes);
        memcpy(saved.best, ggnn_file_data(&f, best), (size_t)best->bytes);
        memcpy(saved.value, ggnn_file_data(&f, value), (size_t)value->bytes);
    }
    ggnn_file_close(&f);
}

/* Where the parameter's elements begin, and its size; -1: there is none. */
static int64_t offset_of(const char* name, int64_t* rows, int64_t* cols)
{
    int64_t at = 0;
    for (const char* line = saved.params; *line; line = strchr(line, '\n') + 1) {
        char found[32];
        CHECK(sscanf(line, "%31s %" SCNd64 " %" SCNd64, found, rows, cols) == 3);
        if (strcmp(found, name) == 0) return at;
        at += *rows * *cols;
    }
    return -1;
}

/* ==== tensors of a file ========================================================================================= */

typedef struct {
    char name[64];
    int num_dims;
    int64_t dim[4], count;
    float value[FLOATS_MAX];
} tensor;
typedef struct {
    tensor tensor[TENSORS_MAX];
    int count;
    char about[8192]; /* the JSON object of strings */
} tensors;
static tensors npz, safe;

/* "|S12", no dimension: its bytes are the text. */
static void read_about(tensors* t, source* s)
{
    char all[sizeof t->about];
    error why = {""};
    const int64_t got = source_read(s, all, sizeof all - 1, &why);
    all[got < 0 ? 0 : got] = 0;
    if (!CHECK(got > 128 && memcmp(all, "\x93NUMPY\1\0", 8) == 0)) return;
    const char *type = strstr(all + 10, "{'descr': '|S"), *text = strchr(all + 10, '\n') + 1;
    CHECK(type == all + 10 && strstr(type, "'shape': (), }") && strtol(type + 13, NULL, 10) == (long)strlen(text));
    strcpy(t->about, text);
}

static void read_npz(tensors* t, const char* path)
{
    zip_archive z;
    error why = {""};
    t->count = 0;
    if (!CHECK(zip_open(&z, path, &why))) return;
    for (int64_t i = 0; i < z.num_members && t->count < TENSORS_MAX; i++) {
        tensor* to = &t->tensor[t->count];
        npy_header h;
        snprintf(to->name, sizeof to->name, "%s", z.member[i].name);
        char* ending = strstr(to->name, ".npy");
        CHECK(z.member[i].method == 0 && ending && ending[4] == 0);
        *ending = 0;
        source* s = zip_member_open(&z, &z.member[i], &why);
        if (strcmp(to->name, "__metadata__") == 0) read_about(t, s);
        else if (CHECK(s && npy_read_header(&h, s, &why) && h.kind == 'f' && h.size == 4 && !h.fortran && h.count <= FLOATS_MAX)) {
            to->num_dims = h.num_dims;
            memcpy(to->dim, h.shape, sizeof to->dim);
            to->count = h.count;
            CHECK(npy_read_floats(to->value, h.count, &h, s, &why) && source_at_end(s, "the test", &why));
            t->count++;
        }
        source_close(s);
    }
    zip_close(&z);
}

/* ",\"name\":{\"dtype\":\"F32\",\"shape\":[8,16],\"data_offsets\":[0,512]}", and its elements from data on. Returns what follows. */
static const char* read_tensor(tensor* to, const char* at, const char* data, int64_t* end)
{
    int64_t from = -1, stop = -1;
    if (!CHECK(sscanf(at, ",\"%63[^\"]\":{", to->name) == 1)) return "";
    const char* p = strstr(at, "{\"dtype\":\"F32\",\"shape\":[");
    if (!CHECK(p == at + 3 + strlen(to->name) + 1)) return "";
    p += strlen("{\"dtype\":\"F32\",\"shape\":[");
    to->num_dims = 0;
    for (to->count = 1; *p != ']' && to->num_dims < 4; p += *p == ',') {
        char* after;
        to->count *= to->dim[to->num_dims++] = strtoll(p, &after, 10);
        p = after;
    }
    CHECK(sscanf(p, "],\"data_offsets\":[%" SCNd64 ",%" SCNd64 "]}", &from, &stop) == 2);
    if (!CHECK(from == *end && stop == from + 4 * to->count && to->count <= FLOATS_MAX)) return ""; /* in order, without a hole */
    memcpy(to->value, data + from, (size_t)to->count * 4);
    *end = stop;
    return strchr(p, '}') + 1;
}

/* By the words of the format: 8 bytes, a header of a multiple of 8 with blanks at its end, elements to the end of the file. */
static void read_safetensors(tensors* t, const char* path)
{
    static char all[1 << 20], header[1 << 16];
    FILE* f = fopen(path, "rb");
    const size_t size = f ? fread(all, 1, sizeof all, f) : 0;
    uint64_t length = 0;
    int64_t end = 0;
    if (f) fclose(f);
    t->count = 0;
    for (int i = 8; i-- > 0 && size > 8;) length = length << 8 | (unsigned char)all[i];
    if (!CHECK(length > 0 && length % 8 == 0 && length < size - 8 && length < sizeof header)) return;
    memcpy(header, all + 8, length);
    header[length] = 0;
    for (uint64_t last = length; header[last - 1] == ' '; last--) header[last - 1] = 0;
    const char* stop = strchr(header, '}');
    if (!CHECK(strncmp(header, "{\"__metadata__\":{", 17) == 0 && stop && !strchr(header, '\n') && length - strlen(header) < 8)) return;
    snprintf(t->about, sizeof t->about, "%.*s", (int)(stop + 1 - (header + 16)), header + 16);
    const char* at = stop + 1;
    while (*at == ',' && t->count < TENSORS_MAX) at = read_tensor(&t->tensor[t->count++], at, all + 8 + length, &end);
    CHECK_STR(at, "}");
    CHECK_EQ(8 + (int64_t)length + end, size);
}

static const tensor* tensor_of(const tensors* t, const char* name)
{
    for (int i = 0; i < t->count; i++)
        if (strcmp(t->tensor[i].name, name) == 0) return &t->tensor[i];
    return NULL;
}

/* The string of that name in the metadata; "" where there is none. */
static const char* about(const tensors* t, const char* name)
{
    static char text[256];
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":\"", name);
    const char* at = strstr(t->about, pattern);
    at = at ? at + strlen(pattern) : "\"";
    snprintf(text, sizeof text, "%.*s", (int)strcspn(at, "\""), at);
    return text;
}

/* ==== names ===================================================================================================== */

/* Rows [from, from + rows) of a parameter, all for rows 0, are that tensor: transposed 'T', a vector 'V', heads 'H'. */
static void check_part(const tensors* t, const float* values, const char* param, int64_t from, int64_t rows, const char* name, char how)
{
    int64_t all, cols;
    const int64_t at = offset_of(param, &all, &cols);
    const tensor* found = tensor_of(t, name);
    if (!CHECK(at >= 0 && found)) {
        printf("  %s, %s\n", param, name);
        return;
    }
    if (!rows) rows = all - from;
    if (how == 'T') CHECK(found->num_dims == 2 && found->dim[0] == cols && found->dim[1] == rows);
    if (how == 'V') CHECK(found->num_dims == 1 && found->dim[0] == cols && rows == 1);
    if (how == 'H') CHECK(found->num_dims == 3 && found->dim[0] == 1 && found->dim[1] == rows && found->dim[2] == cols);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < cols; k++) {
            const float there = found->value[how == 'T' ? k * rows + r : r * cols + k];
            if (!CHECK(memcmp(&there, &values[at + (from + r) * cols + k], sizeof there) == 0)) return;
        }
}

static void check_all(const char* param, const char* name, char how)
{
    check_part(&npz, saved.best, param, 0, 0, name, how);
    check_part(&safe, saved.best, param, 0, 0, name, how);
}

static void export_both(const char* checkpoint, const char* options)
{
    CHECK_EQ(trainf("export %s w.npz%s", checkpoint, options), 0);
    CHECK_STR(output, "");
    CHECK_EQ(trainf("export %s w.safetensors%s", checkpoint, options), 0);
    CHECK_STR(output, "");
    read_checkpoint(checkpoint);
    read_npz(&npz, "w.npz");
    read_safetensors(&safe, "w.safetensors");
}

/* Of each model the parameters of a layer, and what PyG's layer calls them. */
typedef struct {
    const char *param, *name;
    char how;
} named;
static const struct {
    const char* options;
    named of[8];
} models[] = {
    {"--model gcn", {{"w", "convs.%d.lin.weight", 'T'}, {"b", "convs.%d.bias", 'V'}}},
    {"--model sage", {{"w_self", "convs.%d.lin_r.weight", 'T'}, {"w_neigh", "convs.%d.lin_l.weight", 'T'}, {"b", "convs.%d.lin_l.bias", 'V'}}},
    {"--model sage --aggregator importance",
     {{"w_self", "convs.%d.lin_r.weight", 'T'}, {"w_neigh", "convs.%d.lin_l.weight", 'T'}, {"b", "convs.%d.lin_l.bias", 'V'}}},
    {"--model sage --aggregator gcn", {{"w", "convs.%d.lin_l.weight", 'T'}, {"b", "convs.%d.lin_l.bias", 'V'}}},
    {"--model sage --aggregator pool",
     {{"w_self", "convs.%d.lin_r.weight", 'T'}, {"w_neigh", "convs.%d.lin_l.weight", 'T'}, {"b", "convs.%d.lin_l.bias", 'V'},
      {"w_pool", "convs.%d.lin.weight", 'T'}, {"b_pool", "convs.%d.lin.bias", 'V'}}},
    {"--model gat --heads 4 --out-heads 2",
     {{"w", "convs.%d.lin.weight", 'T'}, {"a_l", "convs.%d.att_src", 'H'}, {"a_r", "convs.%d.att_dst", 'H'}, {"b", "convs.%d.bias", 'V'}}},
    {"--model mlp", {{"w", "lins.%d.weight", 'T'}, {"b", "lins.%d.bias", 'V'}}},
};

static void check_layer(const named* of, int layer, int* tensors_expected)
{
    for (; of->param; of++, ++*tensors_expected) {
        char param[32], name[64];
        snprintf(param, sizeof param, "%s%d", of->param, layer);
        snprintf(name, sizeof name, of->name, layer);
        check_all(param, name, of->how);
    }
}

TEST(every_models_weights_have_pygs_names_and_shapes_in_both_files)
{
    for (size_t m = 0; m < sizeof models / sizeof *models; m++) {
        int expected = 0;
        CHECK_EQ(trainf("--data planted.ggnn %s --layers 3 --hidden 8 --epochs 1 --save c", models[m].options), 0);
        export_both("c", "");
        for (int l = 0; l < 3; l++) check_layer(models[m].of, l, &expected);
        CHECK(npz.count == expected && safe.count == expected);
        CHECK_STR(npz.about, safe.about);
    }
}

/* The input is added as it is where it is as wide as the output: no matrix. The last layer has no norm. */
TEST(residuals_norms_and_first_layers_made_before_have_names)
{
    int expected = 0;
    CHECK_EQ(train("--data planted.ggnn --model gcn --layers 3 --hidden 8 --norm layer --residual --epochs 1 --save c"), 0);
    export_both("c", "");
    for (int l = 0; l < 3; l++) check_layer(models[0].of, l, &expected);
    check_all("w_res0", "residuals.0.weight", 'T');
    check_all("w_res2", "residuals.2.weight", 'T');
    for (int l = 0; l < 2; l++) {
        const named norms[] = {{"gamma", "norms.%d.weight", 'V'}, {"beta", "norms.%d.bias", 'V'}, {NULL, NULL, 0}};
        check_layer(norms, l, &expected);
    }
    CHECK(npz.count == expected + 2 && safe.count == expected + 2);
    CHECK(strcmp(about(&safe, "residual"), "true") == 0 && strcmp(about(&npz, "norm"), "layer") == 0);
    CHECK_EQ(finish(start("ggnn-data", "preprocess planted.ggnn --model sage --out pre.ggnn")), 0);
    CHECK_EQ(train("--data pre.ggnn --preprocess --layers 2 --fanout 4 --hidden 8 --epochs 1 --save c"), 0);
    export_both("c", "");
    expected = 0;
    for (int l = 0; l < 2; l++) check_layer(models[1].of, l, &expected);
    CHECK(npz.count == expected && strcmp(about(&npz, "preprocess"), "true") == 0 && !*about(&npz, "residual"));
}

/* PyG's GATConv has edge_dim; SAGEConv has nothing of the kind, so what multiplies the edges' mean has a name of its own. */
TEST(weights_of_features_of_edges_have_names)
{
    add_edges("planted.ggnn", "edges.ggnn", GGNN_FILE_F32, 3, 1);
    CHECK_EQ(train("--data edges.ggnn --edge-features --model gat --heads 2 --layers 2 --fanout 3,3 --hidden 8 --epochs 1 --save c"), 0);
    export_both("c", "");
    for (int l = 0; l < 2; l++) {
        int expected = 0;
        const named of_edges[] = {{"w_e", "convs.%d.lin_edge.weight", 'T'}, {"a_e", "convs.%d.att_edge", 'H'}, {NULL, NULL, 0}};
        check_layer(of_edges, l, &expected);
    }
    CHECK_EQ(npz.count, 2 * 6);
    CHECK_EQ(train("--data edges.ggnn --edge-features --model sage --layers 2 --fanout 3,3 --hidden 8 --epochs 1 --save c"), 0);
    export_both("c", "");
    const tensors* const both[] = {&npz, &safe};
    for (int i = 0; i < 2; i++) {
        check_part(both[i], saved.best, "w_neigh0", 0, 16, "convs.0.lin_l.weight", 'T');
        check_part(both[i], saved.best, "w_neigh0", 16, 3, "edges.0.weight", 'T');
        check_part(both[i], saved.best, "w_neigh1", 0, 8, "convs.1.lin_l.weight", 'T');
        check_part(both[i], saved.best, "w_neigh1", 8, 3, "edges.1.weight", 'T');
        CHECK_EQ(both[i]->count, 2 * 4);
    }
}

/* ==== nodes of a prediction ===================================================================================== */

static int64_t blocks;      /* that predict.c holds */
static int64_t blocks_left; /* that it may get; then there is no memory */

static void* counted_new(size_t bytes, const char* what, error* why) { return counted_resize(NULL, 0, bytes, what, why); }
static void* counted_resize(void* old, size_t old_bytes, size_t new_bytes, const char* what, error* why)
{
    if (blocks_left-- <= 0) {
        error_set(why, "%s: none left", what);
        return NULL;
    }
    void* made = memory_resize(old, old_bytes, new_bytes, what, why);
    blocks += made && !old;
    return made;
}
static void counted_free(void* memory)
{
    blocks -= memory != NULL;
    memory_free(memory);
}

/* What predict_open says of these nodes where it gets `most` blocks. Those it holds after predict_close are the task's: `tasks`. */
static void nodes_end(const char* nodes, int64_t most, int64_t tasks, const char* words)
{
    char* argv[] = {"ggnn-train", "predict", "--load", "c", "--data", "karate.ggnn", "--out", "p.npy", "--nodes", (char*)(uintptr_t)nodes, NULL};
    static config c;
    ggnn_file f;
    size_t length;
    error why = {""};
    task t;
    predict_nodes asked;
    memset(&t, 0, sizeof t);
    memset(&asked, 0, sizeof asked);
    CHECK(config_parse(&c, 10, argv, &why) == OPTIONS_GOOD);
    const char* options = checkpoint_open(&f, "c", &length, &why);
    if (!CHECK(options && config_inherit(&c, "c", options, length, &why) && config_finish(&c, &why))) return;
    blocks = 0;
    blocks_left = most;
    CHECK_EQ(predict_open(&t, &asked, &c, &f, &why), !*words);
    if (!CHECK(strstr(why.text, words))) printf("  %s\n", why.text);
    predict_close(&asked);
    CHECK_EQ(blocks, tasks);
    task_close(&t);
    ggnn_file_close(&f);
}

static void write_ids(const char* path, const int64_t* ids, int count)
{
    char header[NPY_WRITTEN_MAX];
    const int64_t shape[1] = {count};
    FILE* out = fopen(path, "wb");
    if (!CHECK(out != NULL)) return;
    fwrite(header, 1, npy_write_header(header, "<i8", 1, shape), out);
    fwrite(ids, sizeof *ids, (size_t)count, out);
    CHECK(fclose(out) == 0);
}

TEST(ids_are_given_back_whatever_is_wrong_with_them)
{
    static const int64_t wrong[] = {3, 34}, rising[] = {3, 4}, falling[] = {4, 3};
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    write_ids("wrong.npy", wrong, 2);
    write_ids("none.npy", wrong, 0);
    write_ids("rising.npy", rising, 2);
    write_ids("falling.npy", falling, 2);
    nodes_end("wrong.npy", 9, 0, "wrong.npy: element 1: 34 is no node");
    nodes_end("none.npy", 9, 0, "there is no node of karate.ggnn to predict");
    nodes_end("missing.npy", 9, 0, "missing.npy: No such file or directory");
    nodes_end("rising.npy", 0, 0, "the nodes asked for: none left");
    nodes_end("rising.npy", 1, 1, "");
    nodes_end("test", 0, 0, "the nodes asked for: none left");
    nodes_end("falling.npy", 1, 0, "the places of nodes: none left");
    nodes_end("falling.npy", 2, 0, "the nodes asked for, in order: none left");
    nodes_end("falling.npy", 3, 1, "");
}

/* ==== which weights ============================================================================================= */

TEST(the_best_epochs_weights_are_written_or_the_last_ones)
{
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 5 --lr 3 --save c"), 0); /* which gets worse */
    read_checkpoint("c");
    CHECK(memcmp(saved.best, saved.value, (size_t)saved.floats * sizeof(float)) != 0);
    export_both("c", "");
    check_all("w_neigh1", "convs.1.lin_l.weight", 'T');
    CHECK(strcmp(about(&npz, "weights"), "best") == 0 && atoi(about(&npz, "epoch")) < 5 && atof(about(&npz, "validation_loss")) > 0);
    export_both("c", " --last");
    check_part(&npz, saved.value, "w_neigh1", 0, 0, "convs.1.lin_l.weight", 'T');
    check_part(&safe, saved.value, "b0", 0, 0, "convs.0.lin_l.bias", 'V');
    CHECK(strcmp(about(&npz, "weights"), "last") == 0 && atoi(about(&npz, "epoch")) == 5 && !*about(&npz, "validation_loss"));
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 2 --eval-every 0 --save c"), 0);
    export_both("c", ""); /* no epoch was evaluated */
    check_part(&safe, saved.value, "w_self0", 0, 0, "convs.0.lin_r.weight", 'T');
    CHECK(strcmp(about(&safe, "weights"), "last") == 0 && atoi(about(&safe, "epoch")) == 2);
}

TEST(options_that_shape_the_training_are_in_the_file)
{
    char crc[16];
    ggnn_file f;
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --fanout 4,3 --model gat --heads 2 --lr .015625 --epochs 1 --save c"), 0);
    export_both("c", "");
    CHECK(ggnn_file_open(&f, "planted.ggnn"));
    snprintf(crc, sizeof crc, "%08llx", (unsigned long long)ggnn_file_graph_crc(&f));
    ggnn_file_close(&f);
    const char* const of[][2] = {{"format", "pt"}, {"generator", "ggnn-train " GGNN_VERSION}, {"model", "gat"}, {"heads", "2"}, {"fanout", "4,3"},
                                 {"lr", "0.015625"}, {"hidden", "8"}, {"epoch", "1"}, {"graph_crc", crc}, {"layers", "2"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) CHECK_STR(about(&npz, of[i][0]), of[i][1]);
    CHECK(!strstr(npz.about, "\"data\"") && !strstr(npz.about, "\"threads\"")); /* nor do these shape it */
}

TEST(the_same_checkpoint_gives_the_same_bytes)
{
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 1 --save c"), 0);
    CHECK_EQ(shell("$train export c a.npz && $train export c b.npz && cmp a.npz b.npz"), 0);
    CHECK_EQ(shell("$train export c a.safetensors && $train export c b.safetensors && cmp a.safetensors b.safetensors"), 0);
}

/* ==== what goes wrong =========================================================================================== */

static void refuses(const char* line, int status, const char* words)
{
    if (!CHECK_EQ(train(line), status) || !CHECK(says(words))) printf("  %s\n", line);
}

TEST(wrong_usage_is_refused_with_a_sentence_and_help_lists_the_commands)
{
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 1 --save c"), 0);
    refuses("exprt c w.npz", 2, "ggnn-train: 'exprt' is not a command; is export meant?\nggnn-train --data FILE trains; --help lists its options\n");
    refuses("inf c", 2, "'inf' is not a command; is info meant?");
    refuses("planted.ggnn", 2, "ggnn-train: 'planted.ggnn' is not a command\nggnn-train --data FILE trains");
    refuses("export c", 2, "ggnn-train: export: 2 arguments expected, 1 given\nusage: ggnn-train export F.ckpt W.npz|W.safetensors [options]");
    refuses("export c w.npz more", 2, "'more': one argument too many");
    refuses("export c w.pt", 2, "ggnn-train: export: w.pt: the name ends neither in .npz nor in .safetensors\n");
    refuses("export c w", 2, "w: the name ends neither");
    refuses("export c ./x.npz/w", 2, "./x.npz/w: the name ends neither");
    refuses("export c w.npz --lst", 2, "--lst: no such option; is --last meant?");
    refuses("info c --jsn", 2, "is --json meant?");
    CHECK_EQ(shell("cp c c.npz; $train export c.npz ./c.npz"), 2);
    CHECK(says("export: ./c.npz: the checkpoint and the weights are one file"));
    CHECK(whole_file("c.npz"));
    refuses("export --help", 0, "usage: ggnn-train export F.ckpt W.npz|W.safetensors [options]");
    CHECK(says("--last"));
    refuses("--help", 0, "ggnn-train COMMAND ...     (the last lines list the commands)");
    CHECK(says("\n  export     write the weights of a checkpoint for PyTorch") && says("\n  info       what a checkpoint is"));
    refuses("export c w.best.npz", 0, "");
    CHECK(access("w.pt", F_OK) != 0 && access("w", F_OK) != 0);
}

/* Both commands refuse it, and the old weights stay. */
static void refuses_both(const char* checkpoint, const char* words)
{
    write_file("old.npz", "old", 3);
    char line[100];
    snprintf(line, sizeof line, "export %s old.npz", checkpoint);
    refuses(line, 1, words);
    snprintf(line, sizeof line, "info %s", checkpoint);
    refuses(line, 1, words);
    for (const char* p = output; *p; p++) CHECK((unsigned char)*p >= 0x20 || *p == '\n'); /* no byte that a terminal obeys */
    CHECK(file_bytes("old.npz") == 3 && temporaries() == 0);
}

TEST(a_file_that_is_no_whole_checkpoint_is_refused)
{
    char words[64];
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 1 --save c"), 0);
    refuses_both("none", "ggnn-train: none: ");
    refuses_both("planted.ggnn", "planted.ggnn: not a checkpoint: it has no section 'options'");
    for (int64_t bytes = 0; bytes < file_bytes("c"); bytes += bytes < 8192 ? 640 : 4096) {
        copy_file("c", "cut", bytes, -1);
        refuses_both("cut", "ggnn-train: cut: ");
    }
    static const char* const section[] = {"options", "params", "counters", "sums", "value", "best", "graph_crc", "data_crc", "version"};
    for (size_t k = 0; k < sizeof section / sizeof *section; k++) {
        damage("c", "damaged", section[k]);
        snprintf(words, sizeof words, "damaged: damaged section '%s'", section[k]);
        refuses_both("damaged", words);
    }
}

/* Sections of another length, all with good checksums. */
TEST(sections_that_do_not_fit_each_other_are_refused)
{
    static const float floats[4];
    static const int64_t numbers[9];
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    forge_bytes("c", "forged", "best", floats, sizeof floats);
    refuses_both("forged", "forged: section 'best' at offset ");
    CHECK(says(" has 4 elements, not "));
    forge_bytes("c", "forged", "value", floats, sizeof floats);
    refuses_both("forged", "forged: section 'value' at offset ");
    forge_bytes("c", "forged", "counters", numbers, 7 * sizeof *numbers);
    refuses_both("forged", "has 7 elements, not 8");
    forge_bytes("c", "forged", "sums", numbers, sizeof *numbers);
    refuses_both("forged", "has 1 elements, not 2");
    forge_bytes("c", "forged", "graph_crc", numbers, 2 * sizeof *numbers);
    refuses_both("forged", "has 2 elements, not 1");
    forge_bytes("c", "forged", "data_crc", numbers, 9 * sizeof *numbers);
    CHECK_EQ(train("info forged"), 1);
    CHECK(says("forged: section 'data_crc' at offset ") && says("has 9 elements, not 6"));
}

static void forge_text(const char* section, const char* text) { forge_bytes("c", "forged", section, text, (int64_t)strlen(text)); }

TEST(hostile_parameters_are_refused_by_line)
{
    static const struct {
        const char *params, *words;
    } bad[] = {{"", "forged: section 'params': layer 0 has no parameter 'w_self0'"},
               {"\n", "forged: section 'params', line 1: '' is no new name, rows and columns"},
               {"w_self0 34\n", "line 1: 'w_self0 34' is no"},
               {"w_self0 34 4 4\n", "line 1: 'w_self0 34 4 4' is no"},
               {"w_self0 34 4 \n", "line 1: 'w_self0 34 4 ' is no"},
               {"w_self0 -34 -4\n", "line 1: 'w_self0 -34 -4' is no"},
               {"w_self0 0 4\n", "line 1: 'w_self0 0 4' is no"},
               {"w_self0 34 04\n", "line 1: 'w_self0 34 04' is no"},
               {"w_self0 2147483648 2147483648\n", "line 1: 'w_self0 2147483648 2147483648' is no"},
               {"w_self0 999999999 999999999\n", "forged: section 'params', line 1: 'w_self0 999999999 999999999': the file has no room for so many elements"},
               {"w_self 34 4\n", "line 1: 'w_self 34 4' is no"},
               {"w_self00 34 4\n", "line 1: 'w_self00 34 4' is no"},
               {"w_selfabcdefghijklmnop0 34 4\n", "line 1: 'w_selfabcdefghijklmnop0 34 4' is no"},
               {"w_selfabcdefghi0 34 4\n", "line 1: 'w_selfabcdefghi0 34 4' is no"},
               {"w_self0 34 4\nw_self0 34 4\n", "line 2: 'w_self0 34 4' is no new name"},
               {"../../etc0 1 1\n", "line 1: '../../etc0 1 1' is no"},
               {"\033[2J0 34 4\n", "line 1: '\\x1b[2J0 34 4' is no"}};
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        forge_text("params", bad[i].params);
        if (!*bad[i].params) { /* no parameter: no float */
            forge_bytes("forged", "empty", "value", "", 0);
            forge_bytes("empty", "forged", "best", "", 0);
        }
        refuses_both("forged", bad[i].words);
    }
    char many[4096] = "";
    for (char a = 'a'; a < 'a' + 11; a++)
        for (int l = 0; l < 8; l++) snprintf(many + strlen(many), sizeof many - strlen(many), "x%c%d 1 1\n", a, l);
    forge_text("params", many);
    refuses_both("forged", "forged: it has more than 80 parameters");
}

/* Elements that are 2^64 more than those of the file: 64 bits would say that all is well. */
TEST(parameters_whose_elements_pass_64_bits_are_refused)
{
    const int64_t most = 999999999;
    char text[2048] = "";
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    read_checkpoint("c");
    uint64_t rest = (uint64_t)saved.floats;
    for (int i = 0; i < 18; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "x%c0 %" PRId64 " %" PRId64 "\n", 'a' + i, most, most);
        rest -= (uint64_t)(most * most);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text), "y0 %" PRIu64 " %" PRId64 "\nz0 1 %" PRIu64 "\n", rest / (uint64_t)most, most, rest % (uint64_t)most);
    forge_text("params", text);
    refuses_both("forged", "forged: section 'params', line 1: 'xa0 999999999 999999999': the file has no room for so many elements");
}

/* As many floats as there are, but not of this model. */
TEST(parameters_of_another_model_are_refused_by_name)
{
    static const struct {
        const char *params, *words;
    } bad[] = {{"w_self0 34 4\nw_neigh0 34 4\nb0 1 4\nw_self1 4 1\nw_neigh1 4 1\n", "layer 1 has no parameter 'b1'"},
               {"w_self0 34 4\nw_neigh0 34 4\nb0 1 4\nw_self1 4 1\nw_neigh1 4 1\nb1 1 1\nw_e0 1 1\n", "has no parameter 'w_e0' of 1 rows"},
               {"w_self0 34 4\nw_neigh0 34 4\nb0 1 4\nw_self1 4 1\nw_neigh1 4 1\nb1 1 1\nb2 1 1\n", "has no parameter 'b2' of 1 rows"},
               {"w_self0 34 4\nw_neigh0 34 4\nb0 4 1\nw_self1 4 1\nw_neigh1 4 1\nb1 1 1\n", "has no parameter 'b0' of 4 rows"}};
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        static float none[FLOATS_MAX];
        int64_t floats = 0, rows, cols;
        char name[32];
        for (const char* line = bad[i].params; *line; line = strchr(line, '\n') + 1) {
            CHECK(sscanf(line, "%31s %" SCNd64 " %" SCNd64, name, &rows, &cols) == 3);
            floats += rows * cols;
        }
        forge_bytes("c", "one", "params", bad[i].params, (int64_t)strlen(bad[i].params));
        forge_bytes("one", "two", "value", none, 4 * floats);
        forge_bytes("two", "forged", "best", none, 4 * floats);
        refuses_both("forged", bad[i].words);
    }
}

TEST(options_of_another_version_are_refused)
{
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    forge_text("options", "--model=\033[2Jsage\n--hidden=4\n");
    refuses_both("forged", "forged: its options are not those of this program");
    forge_text("options", "--layers=9\n");
    refuses_both("forged", "forged: its options are not those of this program: --layers 9");
}

/* Every allocation fails once. The old file stays as it was until all is written. */
static void fails_everywhere(const char* line, const char* kept)
{
    char n[16];
    int status = 1, failed = 0;
    for (int i = 1; status == 1 && i < 60; i++) {
        snprintf(n, sizeof n, "%d", i);
        fail_allocation = n;
        status = train(line);
        fail_allocation = NULL;
        if (status != 1) break;
        failed++;
        CHECK(says("out of memory") && file_bytes(kept) == 3 && temporaries() == 0);
    }
    CHECK_EQ(status, 0);
    CHECK(failed > 0);
}

TEST(an_allocation_that_fails_leaves_the_old_weights)
{
    CHECK_EQ(train("--data planted.ggnn --layers 3 --hidden 8 --epochs 1 --save c"), 0);
    write_file("old.npz", "old", 3);
    fails_everywhere("export c old.npz", "old.npz");
    CHECK(file_bytes("old.npz") > 1000);
    write_file("old.safetensors", "old", 3);
    fails_everywhere("export c old.safetensors", "old.safetensors");
    CHECK(file_bytes("old.safetensors") > 1000);
}

TEST(a_full_disk_leaves_the_old_weights)
{
    static const char* const name[] = {"old.npz", "old.safetensors"};
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 64 --epochs 1 --save c"), 0);
    for (int i = 0; i < 2; i++) {
        char line[64];
        write_file(name[i], "old", 3);
        snprintf(line, sizeof line, "export c %s", name[i]);
        file_limit = 4000;
        refuses(line, 1, "cannot write: File too large");
        file_limit = RLIM_INFINITY;
        CHECK(file_bytes(name[i]) == 3 && temporaries() == 0);
        CHECK_EQ(train(line), 0);
        CHECK(file_bytes(name[i]) > 8000);
    }
    CHECK_EQ(shell("mkdir folder.npz; $train export c folder.npz"), 1);
    CHECK(says("ggnn-train: folder.npz: is a folder, no file can be put there"));
    CHECK_EQ(shell("mkfifo pipe.npz; timeout -k 5 20 $train export c pipe.npz"), 1);
    CHECK(says("pipe.npz: is a pipe, no file can be put there"));
}

/* ==== info ====================================================================================================== */

TEST(info_says_all_that_a_checkpoint_is)
{
    ggnn_file f;
    char words[400];
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --batch 100 --epochs 5 --lr 3 --save c"), 0);
    CHECK(ggnn_file_open(&f, "planted.ggnn"));
    snprintf(words, sizeof words, "data             graph %08llx, feat %08x, label %08x, split %08x, no weight, no pre_feat, no edge_feat\n",
             (unsigned long long)ggnn_file_graph_crc(&f), ggnn_file_find(&f, "feat")->crc, ggnn_file_find(&f, "label")->crc, ggnn_file_find(&f, "split")->crc);
    ggnn_file_close(&f);
    CHECK_EQ(train("info c"), 0);
    CHECK(says("written by       ggnn " GGNN_VERSION "\n") && says("model            sage, 2 layers, aggregator mean\n") && says(words));
    CHECK(says("parameters       349 in 6 arrays\n") && says("trained          5 epochs, "));
    CHECK(says("\nbest epoch       ") && says(", validation loss ") && says(" evaluations since then\n"));
    CHECK(says("\nw_self0      16 x 8            convs.0.lin_r.weight     8 x 16\n") && says("\nb1           1 x 5             convs.1.lin_l.bias       5\n"));
    CHECK(says("\n  --hidden=8\n") && says("\n  --batch=100\n") && !strstr(output, "--data"));
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --batch 100 --epochs 2 --eval-every 0 --save c"), 0);
    CHECK_EQ(train("info c"), 0);
    CHECK(says("\nbest epoch       none was evaluated\n"));
}

/* The rows of a parameter that are of edges have a line of their own. */
TEST(info_has_a_line_for_each_tensor)
{
    add_edges("planted.ggnn", "edges.ggnn", GGNN_FILE_F32, 3, 1);
    CHECK_EQ(train("--data edges.ggnn --edge-features --layers 2 --fanout 3,3 --hidden 8 --epochs 1 --save c"), 0);
    CHECK_EQ(train("info c"), 0);
    CHECK(says("\nw_neigh0     19 x 8            convs.0.lin_l.weight     8 x 16\n                               edges.0.weight           8 x 3\nb0 "));
}

/* The number behind a key of the indented JSON. */
static double json_of(const char* key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\": ", key);
    const char* at = strstr(output, pattern);
    return at ? strtod(at + strlen(pattern), NULL) : (double)NAN;
}

TEST(info_as_json_has_the_same_figures)
{
    ggnn_file f;
    unlink("log");
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --batch 100 --epochs 5 --lr 3 --save c --log log"), 0);
    read_log(&first, "log", "epoch");
    read_log(&second, "log", "final");
    CHECK(ggnn_file_open(&f, "c"));
    const int64_t* counters = ggnn_file_data(&f, ggnn_file_find(&f, "counters"));
    const double* sums = ggnn_file_data(&f, ggnn_file_find(&f, "sums"));
    CHECK_EQ(train("info c --json"), 0);
    CHECK(first.count == 5 && second.count == 1 && json_of("best_epoch") == number(second.line[0], "best_epoch"));
    CHECK_NEAR(json_of("best_loss"), number(first.line[(int)json_of("best_epoch") - 1], "val_loss"), 0);
    CHECK(output[0] == '{' && says("\"version\": \"" GGNN_VERSION "\"") && says("\"model\": \"sage\"") && says("\"hidden\": 8"));
    CHECK(json_of("epoch") == 5 && json_of("step") == (double)counters[2] && json_of("best_epoch") == (double)counters[5] && json_of("stale") == (double)counters[6]);
    CHECK(json_of("best_loss") == sums[1] && json_of("num_parameters") == 349 && json_of("graph") == (double)*(const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "graph_crc")));
    CHECK(json_of("feat") == (double)((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "data_crc")))[0] && says("\"weight\": null"));
    CHECK(says("\"name\": \"w_neigh0\",\n      \"shape\": [16, 8]") && says("\"name\": \"convs.0.lin_l.weight\",\n      \"shape\": [8, 16]"));
    ggnn_file_close(&f);
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 8 --epochs 2 --eval-every 0 --save c"), 0);
    CHECK_EQ(train("info c --json"), 0);
    CHECK(says("\"best_loss\": null"));
}

TEST(a_checkpoint_of_version_0_1_is_told_and_exported)
{
    if (sizeof(ggnn_node) > 4) SKIP("the checkpoint is one of 32-bit ids");
    write_checkpoint_0_1("old");
    CHECK_EQ(train("info old"), 0);
    CHECK(says("written by       ggnn 0.1\n") && says("trained          3 epochs, 6 steps\n") && says("data             graph 2a70b86b\n"));
    export_both("old", "");
    check_all("w_neigh1", "convs.1.lin_l.weight", 'T');
    CHECK_EQ(npz.count, 6);
}

/* Text of strangers: the file's name, and who wrote it. Of a version that named itself not, nothing is said. */
TEST(info_prints_text_of_strangers_escaped)
{
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    forge_text("version", "\033[2Jversion 9.9 and more");
    CHECK_EQ(train("info forged"), 0);
    CHECK(says("written by       ggnn \\x1b[2Jversion 9.9\n") && !strchr(output, '\033'));
    CHECK_EQ(shell("e=$(printf 'f\\033[2J\\377'); cp c \"$e\"; $train info \"$e\" && $train info \"$e\" --json && rm \"$e\""), 0);
    CHECK(says("file             f\\x1b[2J\\xff, ") && says("\"file\": \"f\\u001b[2J\\ufffd\"") && !strchr(output, '\033'));
}

TEST(what_info_cannot_print_is_an_error)
{
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --save c"), 0);
    if (access("/dev/full", W_OK) != 0) SKIP("no /dev/full");
    CHECK_EQ(shell("$train info c >/dev/full"), 1);
    CHECK(says("ggnn-train: cannot write to standard output"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    RUN(every_models_weights_have_pygs_names_and_shapes_in_both_files);
    RUN(residuals_norms_and_first_layers_made_before_have_names);
    RUN(weights_of_features_of_edges_have_names);
    RUN(ids_are_given_back_whatever_is_wrong_with_them);
    RUN(the_best_epochs_weights_are_written_or_the_last_ones);
    RUN(options_that_shape_the_training_are_in_the_file);
    RUN(the_same_checkpoint_gives_the_same_bytes);
    RUN(wrong_usage_is_refused_with_a_sentence_and_help_lists_the_commands);
    RUN(a_file_that_is_no_whole_checkpoint_is_refused);
    RUN(sections_that_do_not_fit_each_other_are_refused);
    RUN(hostile_parameters_are_refused_by_line);
    RUN(parameters_whose_elements_pass_64_bits_are_refused);
    RUN(parameters_of_another_model_are_refused_by_name);
    RUN(options_of_another_version_are_refused);
    RUN(an_allocation_that_fails_leaves_the_old_weights);
    RUN(a_full_disk_leaves_the_old_weights);
    RUN(info_says_all_that_a_checkpoint_is);
    RUN(info_has_a_line_for_each_tensor);
    RUN(info_as_json_has_the_same_figures);
    RUN(a_checkpoint_of_version_0_1_is_told_and_exported);
    RUN(info_prints_text_of_strangers_escaped);
    RUN(what_info_cannot_print_is_an_error);
    folder_remove();
    return test_finish();
}
