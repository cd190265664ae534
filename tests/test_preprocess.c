/* test_preprocess.c - ggnn-data preprocess, and ggnn-train --preprocess: the second layer sees what it would have seen. */
#include <math.h>

#include "datasets/preprocess.h"
#include "tests/train_tool.h"

static int data_tool(const char* line) { return finish(start("ggnn-data", line)); }

/* ==== the section =============================================================================================== */

/* In double precision, from the papers' formulas. */
static double expected(const dataset* d, preprocess_model model, int64_t v, int32_t j)
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
            CHECK_NEAR((double)row[j], expected(&d, model, v, j), 2e-6);
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
    copy_file("planted.ggnn", "same.ggnn", -1, -1);
    CHECK_EQ(data_tool("preprocess same.ggnn --model gcn"), 0);
    CHECK_EQ(data_tool("preprocess same.ggnn --model sage --json"), 0);
    CHECK(says("\"width\": 32"));
    CHECK(ggnn_file_open(&before, "planted.ggnn") && ggnn_file_open(&after, "same.ggnn"));
    CHECK_EQ(after.num_sections, before.num_sections + 2);
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
    refuses("--sampler weighted", "--sampler weighted chooses neighbours");
    refuses("--sampler walk", "--sampler walk chooses neighbours");
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
    RUN(what_cannot_be_preprocessed_is_an_error_that_says_why);
    RUN(rows_of_other_features_are_refused);
    RUN(with_all_neighbours_training_and_evaluation_are_those_without_preprocessing);
    RUN(a_preprocessed_run_learns_and_is_resumed);
    if (chdir("/") == 0) folder_remove();
    return test_finish();
}
