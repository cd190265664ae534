/* test_preprocess.c - ggnn-data preprocess, and ggnn-train --preprocess: the second layer sees what it would have seen. */
#include <math.h>

#include "datasets/preprocess.h"
#include "tests/train_tool.h"

static int data_tool(const char* line) { return finish(start("ggnn-data", line)); }

/* ==== the section =============================================================================================== */

/* In double precision, from the papers' formulas. */
static double expected_sum(const dataset* d, preprocess_model model, int64_t v, int32_t j)
{
    const float* x = d->feat.rows;
    const int64_t *indptr = d->csc.indptr, F = d->feat.width;
    const double degree = (double)(indptr[v + 1] - indptr[v]);
    double sum = 0;
    if (model == PREPROCESS_SAGE && j < F) return (double)x[v * F + j];
    if (model == PREPROCESS_GCN) sum = (double)x[v * F + j] / (degree + 1);
    for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) {
        const int64_t u = d->csc.indices[e];
        const double du = (double)(indptr[u + 1] - indptr[u] + 1);
        if (model == PREPROCESS_GCN) sum += (double)x[u * F + j] / sqrt((degree + 1) * du);
        else sum += (double)x[u * F + j - F] / degree;
    }
    return sum;
}

/* Makes pre.ggnn of a graph of so many nodes and 9 features, and compares every row; returns the nodes without
   neighbours. */
static int64_t compare_rows(const char* from, preprocess_model model, int64_t nodes)
{
    char line[200];
    error why = {""};
    dataset d;
    ggnn_store rows;
    int64_t lonely = 0;
    snprintf(line, sizeof line, "preprocess %s --model %s --out pre.ggnn", from, model == PREPROCESS_GCN ? "gcn" : "sage");
    CHECK_EQ(data_tool(line), 0);
    if (!CHECK(dataset_open(&d, "pre.ggnn", &why) && preprocess_rows(&d, model, &rows, &why))) return 0;
    CHECK_EQ(rows.width, d.feat.width * (model == PREPROCESS_GCN ? 1 : 2));
    CHECK_EQ(d.num_nodes, nodes);
    for (int64_t v = 0; v < nodes; v++) {
        const float* row = ggnn_row(&rows, v);
        const bool alone = d.csc.indptr[v] == d.csc.indptr[v + 1];
        lonely += alone;
        for (int32_t j = 0; j < rows.width; j++) {
            CHECK_NEAR((double)row[j], expected_sum(&d, model, v, j), 2e-6);
            CHECK(!alone || model == PREPROCESS_GCN || j < d.feat.width || !(row[j] > 0 || row[j] < 0));
        }
    }
    dataset_close(&d);
    return lonely;
}

TEST(rows_are_sums_over_all_neighbours_and_zeros_without)
{
    static const char* const name[] = {"gcn", "sage"};
    CHECK_EQ(data_tool("generate planted lonely.ggnn --nodes 500 --edges 700 --classes 4 --features 9 --directed"), 0);
    for (int m = 0; m < 2; m++) {
        char line[200];
        CHECK(compare_rows("lonely.ggnn", (preprocess_model)m, 500) > 50);
        CHECK_EQ(data_tool("verify pre.ggnn"), 0);
        CHECK_EQ(data_tool("info pre.ggnn"), 0);
        snprintf(line, sizeof line, "the first layer of %s", name[m]);
        CHECK(says(line));
    }
}

/* Nodes are taken 16,384 at a time: two whole pieces and a part of one. */
TEST(every_piece_of_nodes_has_its_own_rows)
{
    CHECK_EQ(data_tool("generate planted pieces.ggnn --nodes 40000 --edges 90000 --classes 4 --features 2"), 0);
    for (int m = 0; m < 2; m++) CHECK(compare_rows("pieces.ggnn", (preprocess_model)m, 40000) > 0);
}

/* Another model's section takes the place of the first one; all others are the bytes that they were. */
TEST(a_file_keeps_its_other_sections_and_one_preprocessing)
{
    ggnn_file before, after;
    CHECK_EQ(data_tool("generate planted edged.ggnn --nodes 300 --edges 2000 --features 16 --edge-features 2"), 0);
    copy_file("edged.ggnn", "same.ggnn", -1, -1);
    CHECK_EQ(data_tool("preprocess same.ggnn --model gcn"), 0);
    CHECK_EQ(data_tool("preprocess same.ggnn --model sage --json"), 0);
    CHECK(says("\"width\": 32"));
    CHECK(ggnn_file_open(&before, "edged.ggnn") && ggnn_file_open(&after, "same.ggnn"));
    CHECK_EQ(after.num_sections, before.num_sections + 2);
    CHECK(ggnn_file_find(&after, "edge_feat"));
    for (int32_t i = 0; i < before.num_sections; i++) {
        const ggnn_file_section *s = &before.section[i], *t = ggnn_file_find(&after, s->name);
        CHECK(t && t->bytes == s->bytes && t->crc == s->crc &&
              memcmp(ggnn_file_data(&before, s), ggnn_file_data(&after, t), (size_t)s->bytes) == 0);
    }
    CHECK(whole_file("same.ggnn"));
    CHECK_EQ(temporaries(), 0);
    ggnn_file_close(&before);
    ggnn_file_close(&after);
}

TEST(preprocess_refuses_what_it_cannot_do_and_leaves_the_file)
{
    CHECK_EQ(data_tool("generate path bare.ggnn --nodes 20"), 0);
    CHECK_EQ(data_tool("preprocess bare.ggnn"), 1);
    CHECK(says("it has no features"));
    CHECK_EQ(data_tool("preprocess planted.ggnn --model gat"), 2);
    CHECK_EQ(data_tool("preprocess none.ggnn"), 1);
    copy_file("planted.ggnn", "kept.ggnn", -1, -1);
    const int64_t bytes = file_bytes("kept.ggnn");
    for (int n = 1; n <= 4; n++) {
        char number[16];
        snprintf(number, sizeof number, "%d", n);
        fail_allocation = number;
        const int code = data_tool("preprocess kept.ggnn --model gcn");
        fail_allocation = NULL;
        CHECK(code == 0 || (code == 1 && file_bytes("kept.ggnn") == bytes));
        CHECK_EQ(code == 0, n == 4);
        CHECK_EQ(temporaries(), 0);
    }
}

static bool same_bytes(const char* a, const char* b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int from = 0, to = 0;
    while (x && y && from != EOF && from == to) {
        from = fgetc(x);
        to = fgetc(y);
    }
    const bool same = x && y && from == to;
    if (x) fclose(x);
    if (y) fclose(y);
    return same;
}

/* A byte of each section in turn: it would get a good CRC. What an earlier preprocessing made is not copied. */
TEST(a_damaged_section_is_not_copied_and_the_file_stays_as_it_is)
{
    ggnn_file f;
    CHECK_EQ(data_tool("preprocess planted.ggnn --model gcn --out pre.ggnn"), 0);
    CHECK(ggnn_file_open(&f, "pre.ggnn"));
    CHECK(f.num_sections >= 7);
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool made = strncmp(s->name, "pre_", 4) == 0;
        char words[64];
        copy_file("pre.ggnn", "damaged.ggnn", -1, s->offset + s->bytes / 2);
        copy_file("damaged.ggnn", "kept.ggnn", -1, -1);
        CHECK_EQ(data_tool("preprocess damaged.ggnn --model sage"), made ? 0 : 1);
        snprintf(words, sizeof words, "damaged section '%s'", s->name);
        if (made) CHECK(whole_file("damaged.ggnn"));
        else CHECK((strncmp(s->name, "ind", 3) == 0 || says(words)) && same_bytes("damaged.ggnn", "kept.ggnn"));
        CHECK_EQ(temporaries(), 0);
    }
    ggnn_file_close(&f);
}

TEST(an_out_that_is_the_file_by_another_name_is_refused)
{
    static const char* const name[] = {"kept.ggnn", "./kept.ggnn", "symbolic.ggnn", "hard.ggnn"};
    copy_file("planted.ggnn", "kept.ggnn", -1, -1);
    CHECK_EQ(symlink("kept.ggnn", "symbolic.ggnn"), 0);
    CHECK_EQ(link("kept.ggnn", "hard.ggnn"), 0);
    for (int i = 0; i < 4; i++) {
        char line[200];
        snprintf(line, sizeof line, "preprocess kept.ggnn --out %s", name[i]);
        CHECK_EQ(data_tool(line), 2);
        CHECK(says("that is FILE"));
        CHECK(same_bytes("kept.ggnn", "planted.ggnn"));
    }
    CHECK_EQ(data_tool("preprocess symbolic.ggnn"), 0); /* without --out: what the link names */
    CHECK(!same_bytes("kept.ggnn", "planted.ggnn") && same_bytes("hard.ggnn", "planted.ggnn"));
    CHECK_EQ(data_tool("preprocess kept.ggnn --out new.ggnn --json"), 0);
    CHECK(says("\"bytes\": 76800")); /* 600 rows of 2 x 16 floats */
    remove("symbolic.ggnn");
    remove("hard.ggnn");
}

/* Of a graph of 4 nodes: what is made, in words, by model, beside the file or in its place. */
static void write_small(const char* path, ggnn_file_type type, const void* feat)
{
    static const int64_t indptr[] = {0, 2, 2, 3, 7}, five = 5, seven = 7, dim[2] = {4, 3};
    static const ggnn_node indices[] = {1, 3, 2, 0, 0, 1, 2};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, path) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &five, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &seven, indices) && ggnn_file_append(&w, "feat", type, 2, dim, feat) &&
              ggnn_file_commit(&w));
}

TEST(preprocess_says_what_it_made)
{
    static const float feat[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const char* const name[] = {"gcn", "sage"};
    for (int i = 0; i < 8; i++) {
        char line[200], wanted[300];
        const int width = i % 2 ? 6 : 3;
        const char* to = i & 4 ? "made.ggnn" : "small.ggnn";
        write_small("small.ggnn", GGNN_FILE_F32, feat);
        snprintf(line, sizeof line, "preprocess small.ggnn --model %s %s %s", name[i % 2], i & 4 ? "--out made.ggnn" : "", i & 2
                 ? "--json" : "");
        CHECK_EQ(data_tool(line), 0);
        if (i & 2) snprintf(wanted, sizeof wanted,
                            "{\n  \"file\": \"%s\",\n  \"model\": \"%s\",\n  \"num_nodes\": 4,\n  \"width\": %d,\n  \"bytes\": %d\n}\n", to, name[i % 2], width, 16 * width);
        else snprintf(wanted, sizeof wanted, "%s: 4 rows of %d, the first layer of %s over all neighbours\n", to, width, name[i % 2]);
        CHECK_STR(output, wanted);
        CHECK_EQ(data_tool(i & 4 ? "info made.ggnn --json" : "info small.ggnn --json"), 0);
        snprintf(wanted, sizeof wanted, "\"preprocessed\": \"%s\"", name[i % 2]);
        CHECK(says(wanted));
    }
}

/* Halves give what floats of their values give, to the bit. */
TEST(features_of_16_bits_are_summed_as_floats)
{
    uint16_t half[12];
    float feat[12];
    for (int i = 0; i < 12; i++) {
        half[i] = ggnn_float_to_half((float)(i * i) / 7 - 3);
        feat[i] = ggnn_half_to_float(half[i]);
    }
    write_small("half.ggnn", GGNN_FILE_F16, half);
    write_small("float.ggnn", GGNN_FILE_F32, feat);
    for (int m = 0; m < 2; m++) {
        dataset a, b;
        ggnn_store x, y;
        error why = {""};
        CHECK_EQ(data_tool(m ? "preprocess half.ggnn --model sage" : "preprocess half.ggnn --model gcn"), 0);
        CHECK_EQ(data_tool(m ? "preprocess float.ggnn --model sage" : "preprocess float.ggnn --model gcn"), 0);
        if (!CHECK(dataset_open(&a, "half.ggnn", &why) && dataset_open(&b, "float.ggnn", &why))) return;
        CHECK(preprocess_rows(&a, (preprocess_model)m, &x, &why) && preprocess_rows(&b, (preprocess_model)m, &y, &why));
        for (int v = 0; v < 4; v++) CHECK(memcmp(ggnn_row(&x, v), ggnn_row(&y, v), (size_t)(m ? 6 : 3) * sizeof(float)) == 0);
        dataset_close(&a);
        dataset_close(&b);
    }
}

/* One thing wrong with the two sections at a time. */
TEST(sections_of_a_preprocessing_that_do_not_fit_are_refused)
{
    static const char without[] = "section 'pre_feat' has no 'pre_of', i64 (3), that says what it is; ggnn-data preprocess makes both";
    static const char another[] = "section 'pre_feat' was made of another graph or of other features (section 'feat'): run ggnn-data preprocess again";
    static const struct {
        int64_t of[3]; /* added to what is right */
        int64_t of_rows, rows, columns;
        bool of_f64, half, no_rows, no_of;
        const char* words;
    } wrong[] = {{{0, 0, 0}, 3, 4, 6, false, false, false, false, NULL},
                 {{0, 0, 0}, 3, 4, 6, true, false, false, false, without},
                 {{0, 0, 0}, 2, 4, 6, false, false, false, false, without},
                 {{0, 0, 0}, 4, 4, 6, false, false, false, false, without},
                 {{0, 0, 0}, 3, 4, 6, false, false, true, false, without},
                 {{0, 0, 0}, 3, 4, 6, false, false, false, true, without},
                 {{1, 0, 0}, 3, 4, 6, false, false, false, false, without},
                 {{-2, 0, 0}, 3, 4, 6, false, false, false, false, without},
                 {{0, 1, 0}, 3, 4, 6, false, false, false, false, another},
                 {{0, 0, 1}, 3, 4, 6, false, false, false, false, another},
                 {{-1, 0, 0}, 3, 4, 6, false, false, false, false, "section 'pre_feat' is not f32 (4, 3)"},
                 {{0, 0, 0}, 3, 4, 5, false, false, false, false, "section 'pre_feat' is not f32 (4, 6)"},
                 {{0, 0, 0}, 3, 4, 7, false, false, false, false, "section 'pre_feat' is not f32 (4, 6)"},
                 {{0, 0, 0}, 3, 3, 6, false, false, false, false, "section 'pre_feat' is not f32 (4, 6)"},
                 {{0, 0, 0}, 3, 5, 6, false, false, false, false, "section 'pre_feat' is not f32 (4, 6)"},
                 {{0, 0, 0}, 3, 4, 6, false, true, false, false, "section 'pre_feat' is not f32 (4, 6)"},
                 {{0, 0, 0}, 3, 4, 6, false, false, false, false, "section 'pre_feat' is not f32 (4, 6)"}}; /* but (4, 6, 2) */
    static const float feat[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, rows[48] = {0};
    write_small("small.ggnn", GGNN_FILE_F32, feat);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ggnn_file f;
        ggnn_file_writer w;
        dataset d;
        ggnn_store store;
        error why = {""}, of_rows = {""};
        char words[300] = "";
        CHECK(ggnn_file_open(&f, "small.ggnn") && ggnn_file_create(&w, "wrong.ggnn"));
        const int64_t of[4] = {1 + wrong[i].of[0], ggnn_file_graph_crc(&f) + wrong[i].of[1],
                               (int64_t)ggnn_file_find(&f, "feat")->crc + wrong[i].of[2], 0};
        const int64_t dim[3] = {wrong[i].rows, wrong[i].columns, 2};
        for (int32_t k = 0; k < f.num_sections; k++) CHECK(ggnn_file_copy(&w, &f, &f.section[k]));
        if (!wrong[i].no_rows) CHECK(ggnn_file_append(&w, "pre_feat", wrong[i].half ? GGNN_FILE_F16 : GGNN_FILE_F32, i + 1 < sizeof wrong / sizeof *wrong ? 2 : 3, dim, rows));
        if (!wrong[i].no_of) CHECK(ggnn_file_append(&w, "pre_of", wrong[i].of_f64 ? GGNN_FILE_F64 : GGNN_FILE_I64, 1,
                                                    &wrong[i].of_rows, of));
        CHECK(ggnn_file_commit(&w));
        ggnn_file_close(&f);
        if (!CHECK(dataset_open(&d, "wrong.ggnn", &why))) return;
        if (wrong[i].words) snprintf(words, sizeof words, "wrong.ggnn: %s", wrong[i].words);
        CHECK_EQ(preprocess_check(&d, &why), !wrong[i].words);
        CHECK_STR(why.text, words);
        CHECK_EQ(preprocess_rows(&d, PREPROCESS_SAGE, &store, &of_rows), !wrong[i].words);
        CHECK_STR(of_rows.text, wrong[i].no_rows
                  ? "wrong.ggnn: it has no preprocessed features (section 'pre_feat'): ggnn-data preprocess wrong.ggnn --model sage" : words);
        dataset_close(&d);
    }
}

/* ==== training ================================================================================================== */

static void refuses(const char* options, const char* words)
{
    CHECK(trainf("--data pre.ggnn --preprocess --epochs 1 %s", options) != 0);
    CHECK(says(words));
}

TEST(what_cannot_be_preprocessed_is_an_error_that_says_why)
{
    copy_file("planted.ggnn", "pre.ggnn", -1, -1);
    refuses("--model sage", "ggnn-data preprocess pre.ggnn --model sage");
    CHECK_EQ(data_tool("preprocess pre.ggnn --model sage"), 0);
    refuses("--model gat", "weighs neighbours by what it learns");
    refuses("--model mlp", "looks at no neighbour");
    refuses("--aggregator pool", "before it looks for the largest");
    refuses("--aggregator gcn", "mixes otherwise");
    refuses("--aggregator importance", "by the walks of each step");
    refuses("--input-dropout .1", "changes features in each step");
    refuses("--residual", "begins without them");
    refuses("--sampler weighted", "--sampler weighted and walk choose neighbours");
    refuses("--sampler walk", "--sampler weighted and walk choose neighbours");
    refuses("--layers 3 --fanout 5,5,5", "3 values for --layers 3, the first of which");
    refuses("--model gcn", "made for model sage, not gcn");
    CHECK_EQ(train("--data pre.ggnn --preprocess --layers 2 --fanout 4 --epochs 1 --hidden 8"), 0);
}

/* The same file with the first feature changed, and with a section that says nothing of itself. */
TEST(rows_of_other_features_are_refused)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK_EQ(data_tool("preprocess karate.ggnn --model sage --out pre.ggnn"), 0);
    for (int which = 0; which < 2; which++) {
        CHECK(ggnn_file_open(&f, "pre.ggnn") && ggnn_file_create(&w, "other.ggnn"));
        for (int32_t i = 0; i < f.num_sections; i++) {
            const ggnn_file_section* s = &f.section[i];
            if (which && strcmp(s->name, "pre_of") == 0) continue;
            float* data = ggnn_file_reserve(&w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
            memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
            if (!which && strcmp(s->name, "feat") == 0) data[0] += 1;
        }
        CHECK(ggnn_file_commit(&w));
        ggnn_file_close(&f);
        CHECK_EQ(train("--data other.ggnn --preprocess --layers 2 --fanout 3 --epochs 1"), 1);
        CHECK(says(which ? "has no 'pre_of'" : "of other features"));
        CHECK_EQ(data_tool("verify other.ggnn"), 1);
        CHECK_EQ(train("--data other.ggnn --layers 2 --fanout 3,3 --epochs 1"), 0); /* which does not look at it */
    }
}

static void compare_runs(const char* common, const char* all, const char* fewer)
{
    remove("whole.log");
    remove("pre.log");
    CHECK_EQ(trainf("--data pre.ggnn %s %s --log whole.log", common, all), 0);
    CHECK_EQ(trainf("--data pre.ggnn %s %s --preprocess --log pre.log", common, fewer), 0);
    read_log(&first, "whole.log", "epoch");
    read_log(&second, "pre.log", "epoch");
    if (!CHECK(first.count == second.count && first.count > 0)) return;
    for (int i = 0; i < first.count; i++) { /* to the bit */
        CHECK_NEAR(number(first.line[i], "loss"), number(second.line[i], "loss"), 0);
        CHECK_NEAR(number(first.line[i], "val_loss"), number(second.line[i], "val_loss"), 0);
    }
}

/* Layers, dropout, seeds and weights are the same, so that losses are, to the bit, as all logits are. */
TEST(with_all_neighbours_training_and_evaluation_are_those_without_preprocessing)
{
    static const char* const model[] = {"gcn", "sage"};
    for (int m = 0; m < 2; m++) {
        char line[200];
        snprintf(line, sizeof line, "preprocess planted.ggnn --model %s --out pre.ggnn", model[m]);
        CHECK_EQ(data_tool(line), 0);
        snprintf(line, sizeof line, "--model %s --hidden 16 --epochs 3 --batch 64 --layers 3", model[m]);
        compare_runs(line, "--fanout -1,-1,-1", "--fanout -1,-1");
        compare_runs(line, "--fanout -1,-1,-1 --norm layer --eval sampled", "--fanout -1,-1 --norm layer --eval sampled");
        compare_runs(line, "--fanout -1,-1,-1 --devices 2 --store parts", "--fanout -1,-1 --devices 2 --store parts");
        if (m) compare_runs(line, "--fanout full", "--fanout full"); /* GCN may multiply first there, which rounds otherwise */
    }
}

/* Half the batch's rows are enough: the run learns, is resumed bit for bit, and its checkpoint says what it is. */
TEST(a_preprocessed_run_learns_and_is_resumed)
{
    CHECK_EQ(data_tool("preprocess planted.ggnn --model sage --out pre.ggnn"), 0);
    const char* common = "--data pre.ggnn --preprocess --hidden 32 --batch 64 --layers 2 --fanout 5";
    CHECK_EQ(trainf("%s --epochs 12 --log one.log --save one.ckpt", common), 0);
    CHECK_EQ(trainf("%s --epochs 5 --save two.ckpt", common), 0);
    CHECK_EQ(train("--data pre.ggnn --resume two.ckpt --epochs 12 --save two.ckpt --log two.log"), 0);
    CHECK(last_number("one.log", "epoch", "loss") < 1.2);
    CHECK(last_number("one.log", "epoch", "val_accuracy") > .7);
    CHECK_NEAR(last_number("one.log", "epoch", "val_loss"), last_number("two.log", "epoch", "val_loss"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume two.ckpt --epochs 13 --save three.ckpt"), 1);
    CHECK(says("no preprocessed features"));
    CHECK_EQ(trainf("%s --epochs 2 --layers 1 --save one.ckpt", "--data pre.ggnn --preprocess --hidden 8"), 0);
    CHECK_EQ(train("--data pre.ggnn --resume one.ckpt --epochs 3 --save one.ckpt"), 0);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    if (!train_tool_begin()) return 1;
    RUN(rows_are_sums_over_all_neighbours_and_zeros_without);
    RUN(every_piece_of_nodes_has_its_own_rows);
    RUN(a_file_keeps_its_other_sections_and_one_preprocessing);
    RUN(preprocess_refuses_what_it_cannot_do_and_leaves_the_file);
    RUN(a_damaged_section_is_not_copied_and_the_file_stays_as_it_is);
    RUN(an_out_that_is_the_file_by_another_name_is_refused);
    RUN(preprocess_says_what_it_made);
    RUN(features_of_16_bits_are_summed_as_floats);
    RUN(sections_of_a_preprocessing_that_do_not_fit_are_refused);
    RUN(what_cannot_be_preprocessed_is_an_error_that_says_why);
    RUN(rows_of_other_features_are_refused);
    RUN(with_all_neighbours_training_and_evaluation_are_those_without_preprocessing);
    RUN(a_preprocessed_run_learns_and_is_resumed);
    if (chdir("/") == 0) folder_remove();
    return test_finish();
}
