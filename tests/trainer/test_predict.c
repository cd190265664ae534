/* ggnn-train predict: the program with its files. Scores are those that training printed, rows of three evaluations agree, other
   graphs are taken where they fit; hostile checkpoints and ids, full disks and interrupts leave the old output. */
#include <math.h>

#include "datasets/arrays.h"
#include "tests/train_tool.h"

/* ==== arrays ==================================================================================================== */

typedef struct {
    int64_t rows, width;
    int dims;
    char kind;
    float* v; /* (rows, width) */
} rows_read;

static rows_read read_npy(const char* path)
{
    rows_read r = {0, 0, 0, 0, NULL};
    error why = {""};
    array a;
    if (!CHECK(array_open_file(&a, path, &why))) {
        printf("  %s\n", why.text);
        return r;
    }
    r.dims = a.h.num_dims;
    r.kind = a.h.kind;
    r.rows = a.h.shape[0];
    r.width = array_width(&a);
    r.v = malloc((size_t)(r.rows * r.width + 1) * sizeof *r.v);
    CHECK(array_floats(&a, r.v, r.rows * r.width, &why) && array_end(&a, &why));
    array_close(&a);
    return r;
}

/* A .npy of one dimension, or of two where width is not 0. */
static void write_npy(const char* path, const char* type, const void* data, int64_t count, int64_t width)
{
    char header[256];
    const size_t size = (size_t)(type[2] - '0');
    FILE* out = fopen(path, "wb");
    int length = width ? snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", type, (int)count, (int)width)
                       : snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", type, (int)count);
    fwrite("\x93NUMPY\1\0", 1, 8, out);
    fputc(length & 255, out);
    fputc(length >> 8, out);
    fwrite(header, 1, (size_t)length, out);
    fwrite(data, size, (size_t)(count * (width ? width : 1)), out);
    fclose(out);
}

static bool same_files(const char* a, const char* b) { return CHECK_EQ(shell("cmp %s %s", a, b), 0) != 0; }

static int64_t largest(const float* row, int64_t width)
{
    int64_t best = 0;
    for (int64_t j = 1; j < width; j++)
        if (row[j] > row[best]) best = j;
    return width == 1 ? row[0] > 0 : best;
}

/* Of the test nodes of a graph, whose rows a file has: the share whose class is their label. */
static double accuracy_of(const char* path, const char* graph)
{
    dataset d;
    error why = {""};
    int64_t count[4], right = 0, known = 0, i = 0;
    const rows_read r = read_npy(path);
    if (!CHECK(dataset_open(&d, graph, &why) && dataset_split(&d, 0, count, &why)) || !CHECK_EQ(r.rows, count[SPLIT_TEST])) return -1;
    for (int64_t v = 0; v < d.num_nodes; v++) {
        if (d.split[v] != SPLIT_TEST) continue;
        const int64_t guess = r.kind == 'i' ? (int64_t)r.v[i] : largest(r.v + i * r.width, r.width);
        i++;
        if (d.label[v] < 0) continue;
        known++;
        right += guess == d.label[v];
    }
    free(r.v);
    dataset_close(&d);
    return (double)right / (double)known;
}

static bool has_program(const char* suffix)
{
    char path[4300];
    snprintf(path, sizeof path, "%s/ggnn-train%s", build, suffix);
    return access(path, X_OK) == 0;
}

/* ==== what training printed ===================================================================================== */

/* The options of a training, whether its rates make an early epoch the best one, and whether devices may be several. */
static const struct {
    const char *graph, *words;
    bool one; /* device */
} trained[] = {
    {"planted.ggnn", "--model sage --fanout 5,4 --hidden 16", false},
    {"planted.ggnn", "--model gcn --fanout 5,4 --hidden 16", false},
    {"planted.ggnn", "--model gat --fanout 5,4 --hidden 16 --heads 2", false},
    {"planted.ggnn", "--model mlp --layers 2 --hidden 16", false},
    {"planted.ggnn", "--model sage --aggregator pool --fanout 5,4,3 --hidden 16 --eval sampled --residual --norm layer", false},
    {"planted.ggnn", "--model gat --fanout full --layers 2 --hidden 16", true},
    {"karate.ggnn", "--model sage --fanout 5,4 --hidden 8", false},
    {"karate.ggnn", "--model gcn --layers 1 --fanout 6 --loss ce", false},
};

/* Of the last epoch that is not the best one: rates are so high that the loss rises again. */
static double train_past_its_best(const char* graph, const char* words)
{
    static const char* const rate[] = {".1", "1", "10", "100"};
    for (int i = 0; i < 4; i++) {
        unlink("log");
        CHECK_EQ(trainf("--data %s %s --epochs 9 --lr %s --save c --log log", graph, words, rate[i]), 0);
        if (last_number("log", "final", "best_epoch") < 9) break;
    }
    read_log(&second, "log", "epoch");
    CHECK(second.count == 9 && last_number("log", "final", "best_epoch") < 9);
    return last_number("log", "final", "test_accuracy");
}

TEST(the_classes_of_test_nodes_have_the_accuracy_that_training_printed)
{
    for (size_t i = 0; i < sizeof trained / sizeof *trained; i++) {
        const double printed_one = train_past_its_best(trained[i].graph, trained[i].words);
        CHECK_EQ(trainf("predict --load c --data %s --nodes test --out p.npy", trained[i].graph), 0);
        if (!CHECK_NEAR(accuracy_of("p.npy", trained[i].graph), printed_one, 0)) printf("  %s\n", trained[i].words);
        CHECK_EQ(trainf("predict --load c --data %s --nodes test --write classes --out k.npy", trained[i].graph), 0);
        CHECK_NEAR(accuracy_of("k.npy", trained[i].graph), printed_one, 0);
        if (trained[i].one) continue;
        for (int devices = 2; devices <= 3; devices++) {
            CHECK_EQ(trainf("predict --load c --data %s --nodes test --out q.npy --devices %d", trained[i].graph, devices), 0);
            same_files("p.npy", "q.npy");
        }
    }
}

TEST(cuda_emulated_gives_the_accuracy_and_nearly_the_rows_of_the_cpu)
{
    if (!has_program("-emulated")) SKIP("make emulated builds ggnn-train-emulated");
    for (size_t i = 0; i < 6; i++) {
        const double printed_one = train_past_its_best(trained[i].graph, trained[i].words);
        CHECK_EQ(trainf("predict --load c --data %s --nodes test --out p.npy", trained[i].graph), 0);
        for (int devices = 1; devices <= 2 - trained[i].one; devices++) {
            CHECK_EQ(trainf("predict --load c --data %s --nodes test --out q.npy --backend cuda-emulated --devices %d", trained[i].graph, devices), 0);
            const rows_read p = read_npy("p.npy"), q = read_npy("q.npy");
            CHECK(p.rows == q.rows && p.width == q.width);
            float off = 0, most = 0;
            for (int64_t k = 0; k < p.rows * p.width; k++) {
                off = fmaxf(off, fabsf(p.v[k] - q.v[k]));
                most = fmaxf(most, fabsf(p.v[k]));
            }
            if (!CHECK(off <= 1e-4f * most)) printf("  %s: %g of %g\n", trained[i].words, (double)off, (double)most);
            if (off == 0) CHECK_NEAR(accuracy_of("q.npy", trained[i].graph), printed_one, 0);
            else CHECK_NEAR(accuracy_of("q.npy", trained[i].graph), printed_one, .02); /* a tie within rounding */
            free(p.v);
            free(q.v);
        }
    }
}

/* On a device with room for a tenth: lists and rows of the host, by tiers, and rows between layers there. */
TEST(stores_and_tiers_change_no_bit)
{
    static const char* const how[] = {"--devices 2 --store parts", "--devices 3 --gather exchange --store parts", "--devices 2 --store shards --owners hash",
                                      "--store-features .3 --store-graph .5", "--cache presc --cache-ratio .2", "--eval-memory 0", "--pipeline overlap --unique hash",
                                      "--threads 3", "--verify", "--devices 2 --eval-memory 0"};
    static const char* const on_cuda[] = {"", "--devices 2", "--devices 2 --gather exchange", "--store-features .3 --store-graph .5", "--cache degree --cache-ratio .2",
                                          "--eval-memory 0"};
    for (int sampled = 0; sampled < 2; sampled++) {
        const char* eval = sampled ? "sampled" : "full";
        CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 2 --save c"), 0);
        CHECK_EQ(trainf("predict --load c --data planted.ggnn --out p.npy --eval %s", eval), 0);
        for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
            CHECK_EQ(trainf("predict --load c --data planted.ggnn --out q.npy --eval %s %s", eval, how[i]), 0);
            if (!same_files("p.npy", "q.npy")) printf("  %s: %s\n", how[i], output);
        }
        for (size_t i = 0; i < sizeof on_cuda / sizeof *on_cuda && has_program("-emulated"); i++) {
            CHECK_EQ(trainf("predict --load c --data planted.ggnn --out q.npy --backend cuda-emulated --eval %s %s", eval, on_cuda[i]), 0);
            if (i == 0) rename("q.npy", "p.npy");
            else if (!same_files("p.npy", "q.npy")) printf("  %s: %s\n", on_cuda[i], output);
        }
    }
}

TEST(processes_write_what_one_writes_and_compare_what_they_are_asked_for)
{
    if (shell("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) SKIP("no mpirun of Open MPI");
    const char* const mpi = "timeout -k 5 60 mpirun -n 3 --oversubscribe --allow-run-as-root $train predict --load c --data planted.ggnn";
    CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 2 --save c"), 0);
    CHECK_EQ(train("predict --load c --data planted.ggnn --out p.npy"), 0);
    if (shell("%s --out q.npy", mpi) != 0) {
        if (strstr(output, "built without MPI")) SKIP("built without MPI");
        CHECK(says("q.npy: logits of 600 nodes"));
    }
    same_files("p.npy", "q.npy");
    CHECK(shell("timeout -k 5 60 mpirun --oversubscribe --allow-run-as-root -n 1 $train predict --load c --data planted.ggnn --out q.npy --nodes val "
                ": -n 1 $train predict --load c --data planted.ggnn --out q.npy --nodes test") != 0);
    CHECK(says("--nodes test; rank 0") && says("--nodes val"));
}

/* ==== rows of layers ============================================================================================ */

static double most_of(const rows_read* r)
{
    double most = 0;
    for (int64_t k = 0; k < r->rows * r->width; k++) most = fmax(most, fabs((double)r->v[k]));
    return most;
}

static double difference(const rows_read* a, const rows_read* b)
{
    double off = a->rows == b->rows && a->width == b->width ? 0 : (double)INFINITY;
    for (int64_t k = 0; off < (double)INFINITY && k < a->rows * a->width; k++) off = fmax(off, fabs((double)a->v[k] - (double)b->v[k]));
    return off;
}

/* By layers, by batches of all neighbours, and of the whole graph in one batch; with the first weights, which are alike. */
TEST(three_evaluations_agree_on_the_rows_of_every_layer)
{
    static const char* const model[] = {"gcn", "sage --aggregator pool", "gat --heads 2 --residual", "sage --norm layer"};
    static const char* const how[] = {"--load each --eval full", "--load each --eval sampled", "--load whole"};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(trainf("--data planted.ggnn --fanout -1,-1,-1 --hidden 8 --epochs 0 --save each --model %s", model[i]), 0);
        CHECK_EQ(trainf("--data planted.ggnn --fanout full --layers 3 --hidden 8 --epochs 0 --save whole --model %s", model[i]), 0);
        for (int layer = 1; layer <= 3; layer++) {
            rows_read by[3];
            for (int k = 0; k < 3; k++) {
                CHECK_EQ(trainf("predict --data planted.ggnn --layer %d %s --out p.npy", layer, how[k]), 0);
                CHECK(says("by the weights of epoch 0 of ") && says(", the last one: it has had no evaluation\n"));
                by[k] = read_npy("p.npy");
            }
            CHECK(by[0].rows == 600 && by[0].width == (layer < 3 ? 8 : 5) && by[0].dims == 2 && by[0].kind == 'f' && most_of(by) > 0);
            for (int k = 1; k < 3; k++)
                if (!CHECK(difference(&by[0], &by[k]) <= 1e-5 * most_of(by))) printf("  %s, layer %d, %s: %g\n", model[i], layer, how[k], difference(&by[0], &by[k]));
            for (int k = 0; k < 3; k++) free(by[k].v);
        }
        CHECK_EQ(train("predict --load each --data planted.ggnn --out logits.npy"), 0);
        CHECK(says("logits.npy: logits of 600 nodes, (600, 5), by"));
        CHECK_EQ(train("predict --load each --data planted.ggnn --layer 3 --out p.npy"), 0);
        CHECK(says("p.npy: outputs of layer 3 of 600 nodes, (600, 5), by"));
        same_files("p.npy", "logits.npy");
    }
}

/* The numbers of a .csv are those of the .npy, behind the node's id and, where there is one, its external id. */
static void check_csv(const char* graph, const char* words, const char* heading, const int64_t* ids, int64_t count, int columns)
{
    dataset d;
    error why = {""};
    char line[4096];
    CHECK_EQ(trainf("predict --load c --data %s --out p.npy %s", graph, words), 0);
    CHECK_EQ(trainf("predict --load c --data %s --out p.csv %s", graph, words), 0);
    const rows_read r = read_npy("p.npy");
    FILE* in = fopen("p.csv", "r");
    if (!CHECK(in && fgets(line, sizeof line, in)) || !CHECK(dataset_open(&d, graph, &why))) return;
    if (heading) CHECK_STR(line, heading);
    CHECK(r.rows == count && r.width == columns);
    for (int64_t i = 0; i < count && CHECK(fgets(line, sizeof line, in) != NULL); i++) {
        char* at = line;
        const int64_t v = strtoll(at, &at, 10);
        CHECK_EQ(v, ids ? ids[i] : i);
        if (d.external_id) CHECK_EQ(strtoll(at + 1, &at, 10), d.external_id[v]);
        if (d.name) {
            const size_t length = (size_t)(d.name_at[v + 1] - d.name_at[v]);
            CHECK(*at == ',' && memcmp(at + 1, d.name + d.name_at[v], length) == 0);
            at += 1 + length;
        }
        for (int j = 0; j < columns; j++) CHECK(*at == ',' && strtof(at + 1, &at) == r.v[i * columns + j]);
        CHECK(*at == '\n');
    }
    CHECK(!fgets(line, sizeof line, in));
    fclose(in);
    dataset_close(&d);
    free(r.v);
}

/* ==== whose rows ================================================================================================ */

static void ids_of(const char* words, const char* status)
{
    char text[600];
    snprintf(text, sizeof text, "ggnn-train: %s\n", status);
    CHECK_EQ(trainf("predict --load c --data karate.ggnn --out p.npy --nodes %s", words), 1);
    CHECK(says(text));
}

/* Row i is that of node ids[i], however often and in whatever order they are there; of any type of integers. */
TEST(rows_come_in_the_order_of_the_ids_that_are_asked_for)
{
    static const int64_t some[] = {33, 0, 5, 5, 32, 0, 1, 33, 7};
    static const int16_t rising[] = {2, 3, 17, 33}, twice[] = {2, 2, 17, 33};
    static const char* const how[] = {"--eval full", "--eval sampled", "--devices 2", "--write classes", "--load whole"};
    enum { SOME = sizeof some / sizeof *some };
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --loss ce --epochs 2 --save c"), 0);
    CHECK_EQ(train("--data karate.ggnn --fanout full --layers 2 --hidden 4 --loss ce --epochs 2 --save whole"), 0);
    write_npy("some.npy", "<i8", some, SOME, 0);
    write_npy("rising.npy", "<i2", rising, 4, 0);
    write_npy("twice.npy", "<i2", twice, 4, 0);
    for (int k = 0; k < 5; k++) {
        CHECK_EQ(trainf("predict --load c --data karate.ggnn --out p.npy %s", how[k]), 0);
        CHECK_EQ(trainf("predict --load c --data karate.ggnn --out q.npy --nodes some.npy %s", how[k]), 0);
        CHECK_EQ(trainf("predict --load c --data karate.ggnn --out r.npy --nodes rising.npy %s", how[k]), 0);
        CHECK_EQ(trainf("predict --load c --data karate.ggnn --out t.npy --nodes twice.npy %s", how[k]), 0);
        const rows_read all = read_npy("p.npy"), q = read_npy("q.npy"), r = read_npy("r.npy"), t = read_npy("t.npy");
        const size_t bytes = (size_t)all.width * sizeof *all.v;
        CHECK(all.rows == 34 && q.rows == SOME && r.rows == 4 && q.width == all.width && r.width == all.width && q.dims == (k == 3 ? 1 : 2));
        for (int i = 0; i < SOME; i++) CHECK_EQ(memcmp(q.v + i * q.width, all.v + some[i] * all.width, bytes), 0);
        for (int i = 0; i < 4; i++) CHECK_EQ(memcmp(r.v + i * r.width, all.v + rising[i] * all.width, bytes), 0);
        for (int i = 0; i < 4 && CHECK_EQ(t.rows, 4); i++) CHECK_EQ(memcmp(t.v + i * t.width, all.v + twice[i] * all.width, bytes), 0);
        free(t.v);
        free(all.v);
        free(q.v);
        free(r.v);
    }
}

/* More rows than are computed, made classes, or read again for text at once; in full batch, too. */
TEST(a_graph_of_many_chunks_has_each_row_in_its_place)
{
    static int32_t ids[7000];
    static int64_t again[7000];
    finish(start("ggnn-data", "generate planted many.ggnn --nodes 6000 --edges 20000 --classes 5 --features 16"));
    CHECK_EQ(train("--data many.ggnn --model gcn --fanout 3,3 --hidden 64 --epochs 0 --save c"), 0);
    CHECK_EQ(train("--data many.ggnn --model gcn --fanout full --layers 2 --hidden 64 --epochs 0 --save whole"), 0);
    CHECK_EQ(train("predict --load c --data many.ggnn --layer 1 --out all.npy"), 0);
    CHECK_EQ(train("predict --load whole --data many.ggnn --layer 1 --out p.npy"), 0);
    const rows_read all = read_npy("all.npy"), whole = read_npy("p.npy");
    CHECK(all.rows == 6000 && all.width == 64 && difference(&all, &whole) <= 1e-5 * most_of(&all));
    for (int i = 0; i < 7000; i++) again[i] = ids[i] = (int32_t)((i * 2713LL + 4999) % 4999);
    write_npy("ids.npy", "<i4", ids, 7000, 0);
    static const char* const how[] = {"--load c", "--load c --devices 2", "--load whole"};
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(trainf("predict --data many.ggnn --layer 1 --nodes ids.npy --out p.npy %s", how[k]), 0);
        const rows_read p = read_npy("p.npy"), *of = k < 2 ? &all : &whole;
        int64_t wrong = 0;
        for (int64_t i = 0; p.rows == 7000 && i < 7000; i++) wrong += memcmp(p.v + i * 64, of->v + ids[i] * 64, 64 * sizeof *p.v) != 0;
        CHECK(p.rows == 7000 && wrong == 0);
        free(p.v);
    }
    check_csv("many.ggnn", "--layer 1 --nodes ids.npy", NULL, again, 7000, 64);
    CHECK_EQ(train("predict --load c --data many.ggnn --out p.npy"), 0);
    CHECK_EQ(train("predict --load c --data many.ggnn --write classes --out k.npy"), 0);
    const rows_read p = read_npy("p.npy"), k = read_npy("k.npy");
    int64_t wrong = 0;
    for (int64_t i = 0; i < p.rows && k.rows == p.rows; i++) wrong += largest(p.v + i * p.width, p.width) != (int64_t)k.v[i];
    CHECK(k.rows == 6000 && k.dims == 1 && k.kind == 'i' && wrong == 0);
    free(all.v);
    free(whole.v);
    free(p.v);
    free(k.v);
}

TEST(the_parts_of_a_split_are_their_nodes_in_order)
{
    static const char* const part[] = {"train", "val", "test"};
    static const uint8_t none[34] = {0};
    dataset d;
    error why = {""};
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 2 --save c"), 0);
    if (!CHECK(dataset_open(&d, "karate.ggnn", &why))) return;
    for (int k = 0; k < 3; k++) {
        int32_t ids[34];
        int64_t count = 0;
        for (int32_t v = 0; v < 34; v++)
            if (d.split[v] == k + 1) ids[count++] = v;
        write_npy("ids.npy", "<i4", ids, count, 0);
        CHECK_EQ(trainf("predict --load c --data karate.ggnn --out p.npy --nodes %s", part[k]), 0);
        CHECK_EQ(train("predict --load c --data karate.ggnn --out q.npy --nodes ids.npy"), 0);
        same_files("p.npy", "q.npy");
    }
    dataset_close(&d);
    poison("splits.ggnn", "split", 0, none, 34);
    CHECK_EQ(train("predict --load c --data splits.ggnn --out p.npy --nodes val"), 1);
    CHECK(says("ggnn-train: --nodes val: there is no node of splits.ggnn to predict\n"));
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy --nodes val --split 7"), 1);
    CHECK(says("ggnn-train: karate.ggnn: it has 1 splits, number 7 (from 0) is not one\n"));
}

TEST(ids_that_are_no_nodes_are_errors_that_name_file_element_and_value)
{
    static const int64_t low[] = {3, -1}, high[] = {3, 4, 34}, far_off[] = {1, INT64_MAX};
    static const double half[] = {1, 2.5};
    static const uint8_t mask[34] = {1, 0, 1};
    static const char object[] = "\x93NUMPY\1\0\x46\0{'descr': '|O', 'fortran_order': False, 'shape': (1,), }           \ncos\nsystem\n(S'touch made_by_pickle'\ntR.";
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    write_npy("low.npy", "<i8", low, 2, 0);
    write_npy("high.npy", "<i8", high, 3, 0);
    write_npy("far.npy", "<i8", far_off, 2, 0);
    write_npy("half.npy", "<f8", half, 2, 0);
    write_npy("none.npy", "<i8", low, 0, 0);
    write_npy("pairs.npy", "<i8", low, 1, 2);
    write_npy("mask.npy", "|b1", mask, 34, 0);
    copy_file("high.npy", "short.npy", file_bytes("high.npy") - 1, -1);
    write_file("object.npy", object, sizeof object - 1);
    ids_of("low.npy", "low.npy: element 1: -1 is no node of karate.ggnn, which has 34");
    ids_of("high.npy", "high.npy: element 2: 34 is no node of karate.ggnn, which has 34");
    ids_of("far.npy", "far.npy: element 1: 9223372036854775807 is no node of karate.ggnn, which has 34");
    ids_of("half.npy", "half.npy: element 1: 2.5 is no 64-bit integer");
    ids_of("none.npy", "--nodes none.npy: there is no node of karate.ggnn to predict");
    ids_of("pairs.npy", "pairs.npy: shape (1, 2); (rows) is expected");
    ids_of("mask.npy", "mask.npy: is a mask; ids are needed (numpy.flatnonzero of it)");
    ids_of("missing.npy", "missing.npy: No such file or directory");
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy --nodes short.npy"), 1);
    CHECK(says("short.npy: ") && says("(truncated?)"));
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy --nodes object.npy"), 1);
    CHECK(says("object.npy: ") && access("made_by_pickle", F_OK) != 0);
    CHECK_EQ(temporaries(), 0);
}

/* More of them than are read at once. */
TEST(a_long_list_of_ids_may_be_gzipped)
{
    enum { LONG = 100000 };
    static int32_t ids[LONG];
    if (shell("gzip --version") != 0) SKIP("no gzip");
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    for (int i = 0; i < LONG; i++) ids[i] = (int32_t)((i * 7919LL) % 34);
    write_npy("ids.npy", "<i4", ids, LONG, 0);
    CHECK_EQ(shell("gzip -c ids.npy >gzipped.npy"), 0);
    CHECK_EQ(train("predict --load c --data karate.ggnn --out all.npy"), 0);
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy --nodes ids.npy"), 0);
    const int status = train("predict --load c --data karate.ggnn --out q.npy --nodes gzipped.npy");
    if (status && strstr(output, "zlib")) SKIP("built without zlib");
    CHECK_EQ(status, 0);
    same_files("p.npy", "q.npy");
    const rows_read all = read_npy("all.npy"), p = read_npy("p.npy");
    int64_t wrong = 0;
    for (int64_t i = 0; i < LONG && p.rows == LONG; i++) wrong += memcmp(p.v + i * p.width, all.v + ids[i] * all.width, (size_t)p.width * sizeof *p.v) != 0;
    CHECK(p.rows == LONG && wrong == 0);
    free(all.v);
    free(p.v);
}

/* ==== text ====================================================================================================== */

TEST(csv_has_ids_and_the_same_numbers)
{
    static const int64_t some[] = {33, 0, 5, 5};
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 2 --save c"), 0);
    write_npy("some.npy", "<i8", some, 4, 0);
    write_file("edges.txt", "100 200\n200 300\n300 100\n", 24);
    CHECK_EQ(shell("$data convert edges.txt external.ggnn --from snap --random-features 34 --classes 2"), 0);
    check_csv("karate.ggnn", "", "node,logit_0\n", NULL, 34, 1);
    check_csv("karate.ggnn", "--nodes some.npy", "node,logit_0\n", some, 4, 1);
    check_csv("karate.ggnn", "--nodes some.npy --write classes", "node,class\n", some, 4, 1);
    check_csv("karate.ggnn", "--layer 1 --devices 2", "node,output_0,output_1,output_2,output_3\n", NULL, 34, 4);
    check_csv("external.ggnn", "", "node,external_id,logit_0\n", NULL, 3, 1);
    write_file("edges.txt", "alice bo\nbo carol\ncarol alice\n", 29);
    CHECK_EQ(shell("$data convert edges.txt named.ggnn --from snap --ids names --header no --random-features 34 --classes 2"), 0);
    check_csv("named.ggnn", "", "node,name,logit_0\n", NULL, 3, 1);
    check_csv("named.ggnn", "--write classes", "node,name,class\n", NULL, 3, 1);
}

/* Rows of two .npy files, in the same order up to rounding. */
static void same_rows(const char* a, const char* b)
{
    const rows_read x = read_npy(a), y = read_npy(b);
    CHECK(x.rows == y.rows && x.width == y.width && x.rows > 0);
    for (int64_t i = 0; x.rows == y.rows && i < x.rows * x.width; i++) CHECK_NEAR(x.v[i], y.v[i], 1e-4 * (1 + fabs(x.v[i])));
    free(x.v);
    free(y.v);
}

/* Who numbered nodes anew by convert gets rows and ids as without: of numbers that stay, of numbers that are compacted, of
   names. */
TEST(a_reordered_graph_is_predicted_by_the_old_ids)
{
    static const char* const how[] = {"--nodes 400", "", "--ids names --header no"};
    static const char* const heading[][2] = {{"node,class\n", "node,external_id,class\n"}, {"node,external_id,class\n", NULL},
                                             {"node,name,class\n", NULL}};
    static const int64_t some[] = {399, 0, 17, 17};
    CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 2 --save c"), 0);
    write_npy("some.npy", "<i8", some, 4, 0);
    for (int i = 0; i < 3; i++) {
        FILE* list = fopen("edges.txt", "w");
        test_seed(12);
        for (int e = 0; e < 2400; e++)
            fprintf(list, "%d %d\n", 1000 * i + (int)test_below(1 + test_below(400)), 1000 * i + e % 400);
        fclose(list);
        static const char* const file[] = {"as.ggnn", "re.ggnn"};
        for (int k = 0; k < 2; k++)
            CHECK_EQ(shell("$data convert edges.txt %s --from edges --undirected %s --random-features 16 --classes 5 "
                           "--split 50:25:25 %s", file[k], how[i], k ? "--reorder grouped" : ""), 0);
        CHECK_EQ(shell("cmp -s as.ggnn re.ggnn"), 1);
        static const char* const nodes[] = {"", "--nodes test", "--nodes some.npy"};
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 2; k++)
                CHECK_EQ(trainf("predict --load c --data %s --out %s %s", file[k], k ? "q.npy" : "p.npy", nodes[j]), 0);
            same_rows("p.npy", "q.npy");
        }
        for (int k = 0; k < 2; k++)
            CHECK_EQ(trainf("predict --load c --data %s --write classes --out %s", file[k], k ? "q.csv" : "p.csv"), 0);
        const char* other = heading[i][1] ? heading[i][1] : heading[i][0];
        CHECK(strncmp(folder_text("p.csv"), heading[i][0], strlen(heading[i][0])) == 0);
        CHECK(strncmp(folder_text("q.csv"), other, strlen(other)) == 0);
        /* what reorder added for who had no ids is the node's number again */
        CHECK_EQ(shell("awk -F, 'NR > 1 && %d == 0 { if ($1 != $2) exit 1; sub(/,[^,]*/, \"\") } NR > 1' q.csv >q.txt && "
                       "tail -n +2 p.csv | cmp - q.txt", i), 0);
    }
}

/* An end of a name beyond all names: nothing is read there, and a .npy has none. */
TEST(names_that_are_damaged_are_refused_where_they_are_printed)
{
    dataset d;
    error why = {""};
    int64_t at[4] = {0, 5, INT64_MAX / 2, 12};
    ggnn_file_writer w;
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    write_file("edges.txt", "alice bo\nbo carol\ncarol alice\n", 29);
    CHECK_EQ(shell("$data convert edges.txt named.ggnn --from snap --ids names --header no --random-features 34 --classes 2"), 0);
    if (!CHECK(dataset_open(&d, "named.ggnn", &why) && ggnn_file_create(&w, "damaged.ggnn"))) return;
    for (int32_t i = 0; i < d.file.num_sections; i++) {
        const ggnn_file_section* s = &d.file.section[i];
        if (strcmp(s->name, "external_at") == 0) CHECK(ggnn_file_append(&w, s->name, GGNN_FILE_I64, 1, s->dim, at));
        else CHECK(ggnn_file_copy(&w, &d.file, s));
    }
    CHECK(ggnn_file_commit(&w));
    dataset_close(&d);
    CHECK_EQ(train("predict --load c --data damaged.ggnn --out p.csv"), 1);
    CHECK(says("damaged.ggnn: section 'external_name': what node 1 is called, [5, 4611686018427387903), is no name\n"));
    CHECK_EQ(train("predict --load c --data damaged.ggnn --out p.npy"), 0);
}

/* ==== other graphs ============================================================================================== */

/* A copy without some sections. */
static void leave_sections(const char* from, const char* path, const char* a, const char* b)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++)
        if (strcmp(f.section[i].name, a) && strcmp(f.section[i].name, b)) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

TEST(a_graph_of_other_nodes_without_labels_and_splits_is_predicted)
{
    finish(start("ggnn-data", "generate planted other.ggnn --nodes 900 --edges 7000 --classes 5 --features 16 --seed 9"));
    leave_sections("other.ggnn", "bare.ggnn", "label", "split");
    leave_sections("planted.ggnn", "same.ggnn", "label", "split");
    CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 2 --save c"), 0);
    for (int sampled = 0; sampled < 2; sampled++) {
        const char* eval = sampled ? "sampled" : "full";
        CHECK_EQ(trainf("predict --load c --data other.ggnn --out p.npy --eval %s", eval), 0);
        CHECK_EQ(trainf("predict --load c --data bare.ggnn --out q.npy --eval %s --devices 2", eval), 0);
        same_files("p.npy", "q.npy");
        const rows_read p = read_npy("p.npy");
        CHECK(p.rows == 900 && p.width == 5);
        free(p.v);
        CHECK_EQ(trainf("predict --load c --data planted.ggnn --out p.npy --eval %s", eval), 0);
        CHECK_EQ(trainf("predict --load c --data same.ggnn --out q.npy --eval %s", eval), 0);
        same_files("p.npy", "q.npy");
        if (!has_program("-emulated")) continue;
        CHECK_EQ(trainf("predict --load c --data bare.ggnn --out q.npy --backend cuda-emulated --eval %s", eval), 0);
        CHECK_EQ(trainf("predict --load c --data bare.ggnn --out q.npy --backend cuda-emulated --eval %s --cache degree --cache-ratio .1", eval), 0);
    }
    CHECK_EQ(train("predict --load c --data bare.ggnn --out q.npy --nodes test"), 1);
    CHECK(says("ggnn-train: --nodes test: bare.ggnn has no splits (section 'split')\n"));
}

/* Each in words of its own; of labels those known to the data. */
TEST(a_graph_that_does_not_fit_is_refused_by_what_differs)
{
    const int32_t five = 5;
    const ggnn_node bad = 99;
    float target[600] = {0};
    finish(start("ggnn-data", "generate planted wide.ggnn --nodes 300 --edges 3000 --classes 5 --features 17"));
    finish(start("ggnn-data", "generate planted few.ggnn --nodes 300 --edges 3000 --classes 3 --features 16"));
    poison_of("planted.ggnn", "more.ggnn", "label", 3, &five, sizeof five);
    leave_sections("planted.ggnn", "bare.ggnn", "label", "feat");
    CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 1 --save c"), 0);
    CHECK_EQ(train("predict --load c --data few.ggnn --out p.npy"), 0);
    CHECK_EQ(train("predict --load c --data wide.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: c was trained on 16 features a node; wide.ggnn has 17\n"));
    CHECK_EQ(train("predict --load c --data more.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: c was trained on 5 classes; more.ggnn has 6\n"));
    CHECK_EQ(train("predict --load c --data bare.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: bare.ggnn: it has no features (section 'feat')"));
    poison("hurt.ggnn", "indices", 0, &bad, sizeof bad);
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 0 --save k"), 0);
    CHECK_EQ(train("--data karate.ggnn --fanout full --layers 2 --hidden 4 --epochs 0 --save whole"), 0);
    CHECK_EQ(train("predict --load whole --data hurt.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: hurt.ggnn: sections 'indptr' and 'indices': "));
    CHECK_EQ(train("predict --load k --data hurt.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: sampling the neighbours of node 0: "));
    CHECK_EQ(train("predict --load c --data planted.ggnn --out p.npy --model gcn"), 2);
    CHECK(says("ggnn-train: --model gcn contradicts c, which was trained with --model sage\n"));
    CHECK_EQ(train("--data few.ggnn --fanout 5,4 --hidden 16 --epochs 1 --save f"), 0);
    ggnn_file g;
    ggnn_file_writer w;
    int64_t count = 600;
    leave_sections("planted.ggnn", "plain.ggnn", "label", "");
    CHECK(ggnn_file_open(&g, "plain.ggnn") && ggnn_file_create(&w, "real.ggnn"));
    for (int32_t i = 0; i < g.num_sections; i++) CHECK(ggnn_file_copy(&w, &g, &g.section[i]));
    CHECK(ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &count, target) && ggnn_file_commit(&w));
    ggnn_file_close(&g);
    CHECK_EQ(train("predict --load c --data real.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: c was trained on 5 classes; real.ggnn has real targets\n"));
    CHECK_EQ(train("--data real.ggnn --fanout 5,4 --hidden 16 --epochs 1 --save r"), 0);
    CHECK_EQ(train("predict --load r --data plain.ggnn --out p.npy"), 0);
    CHECK_EQ(train("predict --load r --data planted.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: r was trained on 2 classes; planted.ggnn has 5\n"));
    CHECK_EQ(shell("$data partition planted.ggnn --method pagraph --parts 2 --hops 2 --extract && $train predict --load c --data planted.ggnn.part.0 --out p.npy"), 1);
    CHECK(says("of a graph alone; predict needs the whole graph\n"));
    CHECK_EQ(temporaries(), 0);
}

/* Sums made before training, features of edges, weights, walks: as in training. */
TEST(what_training_read_beside_features_is_read_by_predict)
{
    static const struct {
        const char *graph, *words;
    } of[] = {{"pre.ggnn", "--preprocess --layers 2 --fanout 4"}, {"edged.ggnn", "--edge-features --fanout 4,3"},
              {"edged.ggnn", "--edge-features --fanout 4,3 --model gat"}, {"karate.ggnn", "--aggregator importance --fanout 4,3"},
              {"karate.ggnn", "--fanout 4,3 --partition pagraph --devices 2"}, {"karate.ggnn", "--fanout 4,3 --parallel split --devices 2"},
              {"karate.ggnn", "--fanout 4,3 --pipeline factored --devices 3"}};
    add_edges("karate.ggnn", "edged.ggnn", GGNN_FILE_F32, 3, 1);
    CHECK_EQ(shell("cp karate.ggnn pre.ggnn && $data preprocess pre.ggnn --model sage"), 0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        unlink("log");
        CHECK_EQ(trainf("--data %s %s --hidden 8 --epochs 3 --save c --log log", of[i].graph, of[i].words), 0);
        const double printed_one = last_number("log", "final", "test_accuracy");
        CHECK_EQ(trainf("predict --load c --data %s --nodes test --out p.npy", of[i].graph), 0);
        if (!CHECK_NEAR(accuracy_of("p.npy", of[i].graph), printed_one, 0)) printf("  %s\n", of[i].words);
        CHECK_EQ(trainf("predict --load c --data %s --nodes test --layer 1 --out p.npy", of[i].graph), 0);
    }
    CHECK_EQ(train("--data pre.ggnn --preprocess --layers 2 --fanout 4 --hidden 8 --epochs 1 --save c"), 0);
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy"), 1);
    CHECK(says("pre_feat"));
    CHECK_EQ(train("--data edged.ggnn --edge-features --fanout 4,3 --hidden 8 --epochs 1 --save c"), 0);
    CHECK_EQ(train("predict --load c --data karate.ggnn --out p.npy"), 1);
    CHECK(says("karate.ggnn has no features of edges (section 'edge_feat')"));
    add_edges("karate.ggnn", "edges2.ggnn", GGNN_FILE_F32, 2, 1);
    CHECK_EQ(train("predict --load c --data edges2.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: c was trained on 3 features an edge; edges2.ggnn has 2\n"));
}

TEST(features_that_are_not_finite_are_named)
{
    const float bad = NAN;
    poison("nan.ggnn", "feat", 34 * 7 + 3, &bad, sizeof bad);
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    write_file("p.npy", "old", 3);
    CHECK_EQ(train("predict --load c --data nan.ggnn --out p.npy"), 1);
    CHECK(says("ggnn-train: the output of node ") && says(" in column 0: nan.ggnn: feature 3 of node 7 is nan\n"));
    CHECK_STR(folder_text("p.npy"), "old");
    CHECK_EQ(temporaries(), 0);
}

/* ==== hostile checkpoints ======================================================================================= */

/* A copy of checkpoint c with another array in place of a section; bytes < 0: without it. */
static void exchange_section(const char* path, const char* section, const void* data, int64_t bytes)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, "c") && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        int64_t count = bytes / ggnn_file_type_bytes(s->type);
        if (strcmp(s->name, section) != 0) CHECK(ggnn_file_copy(&w, &f, s));
        else if (bytes >= 0) CHECK(ggnn_file_append(&w, section, (ggnn_file_type)s->type, 1, &count, data));
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

static void refuses_checkpoint(const char* path, const char* words)
{
    CHECK_EQ(trainf("predict --load %s --data karate.ggnn --out p.npy", path), 1);
    CHECK(says(words));
    CHECK_STR(folder_text("p.npy"), "old");
}

TEST(hostile_checkpoints_are_refused_and_the_old_output_stays)
{
    static const int64_t counters[] = {1, 0, 1, 9, 1, 7, 0, 1};
    static const struct {
        const char *params, *words;
    } of[] = {{"", "broken: section 'value' at offset "},
              {"w_self0 34 4\nb0 1 149\n", "broken: section 'params' is not that of a network by its options: it lacks a layer or the bias 'b1'\n"},
              {"other0 71 4\nb1 1 1\n", "it lacks a layer"},
              {"w_self0 34 4\nw_self1 4 1\nother0 1 144\nb1 1 1\n", "broken: its parameters are not those of this network: 'w_self1 4 1', not 'w_neigh0 34 4' (name, rows, columns)\n"},
              {"w_self0 34 4\nw_self1 5 1\nother0 1 143\nb1 1 1\n", "it lacks a layer"},
              {"w_self0 34 4\nw_neigh0 34 4\nb0 1 4\nw_self1 4 1\nw_neigh1 4 1\nb1 1 200000000\n", "line 6: 'b1 1 200000000': the file has no room for so many elements\n"},
              {"w_self0 35 4\nw_self1 4 1\nother0 1 140\nb1 1 1\n", "broken was trained on 35 features a node; karate.ggnn has 34\n"},
              {"w_self0 99999999999 4\nb1 1 285\n", "broken: section 'params', line 1: 'w_self0 99999999999 4' is no new name"},
              {"w_self0 -34 4\nb1 1 285", "broken: section 'params', line 1: 'w_self0 -34 4' is no new name"}};
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    write_file("p.npy", "old", 3);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        exchange_section("broken", "params", of[i].params, (int64_t)strlen(of[i].params));
        refuses_checkpoint("broken", of[i].words);
    }
    exchange_section("broken", "params", "", -1);
    refuses_checkpoint("broken", "broken: ");
    exchange_section("broken", "best", "12345678", 8);
    refuses_checkpoint("broken", "broken: section 'best' at offset ");
    exchange_section("broken", "counters", counters, sizeof counters);
    refuses_checkpoint("broken", "broken: epoch 1 has a best epoch of 7\n");
    exchange_section("broken", "options", "--depth=4\n", 10);
    CHECK_EQ(train("predict --load broken --data karate.ggnn --out p.npy"), 2);
    CHECK(says("broken: its options are not those of this program: --depth: no such option"));
    refuses_checkpoint("karate.ggnn", "ggnn-train: karate.ggnn: not a checkpoint: it has no section 'options'\n");
    refuses_checkpoint("p.npy", "ggnn-train: ");
    refuses_checkpoint("missing", "ggnn-train: missing: ");
    test_seed(5);
    for (int i = 0; i < 20; i++) {
        copy_file("c", "broken", test_below(file_bytes("c")), -1);
        refuses_checkpoint("broken", "ggnn-train: broken: ");
        copy_file("c", "broken", -1, test_below(file_bytes("c")));
        refuses_checkpoint("broken", "ggnn-train: broken: ");
    }
    CHECK_EQ(temporaries(), 0);
}

/* ==== all or nothing ============================================================================================ */

TEST(a_full_disk_is_an_error_and_the_old_output_stays)
{
    static const char* const how[] = {"--out p.npy", "--out p.csv", "--out p.npy --nodes some.npy", "--out p.npy --eval-memory 0", "--out p.csv --write classes --devices 2"};
    static int32_t some[4000];
    CHECK_EQ(train("--data planted.ggnn --fanout 5,4 --hidden 16 --epochs 1 --save c"), 0);
    for (int i = 0; i < 4000; i++) some[i] = (int32_t)(599 - i % 600);
    write_npy("some.npy", "<i4", some, 4000, 0);
    for (int i = 0; i < 5; i++) {
        const char* out = strstr(how[i], "csv") ? "p.csv" : "p.npy";
        write_file(out, "old", 3);
        file_limit = 2000;
        CHECK_EQ(trainf("predict --load c --data planted.ggnn %s", how[i]), 1);
        file_limit = RLIM_INFINITY;
        CHECK(says(i == 3 ? "--eval-memory 0" : ": File too large\n"));
        CHECK_STR(folder_text(out), "old");
        CHECK_EQ(temporaries(), 0);
    }
    CHECK_EQ(train("predict --load c --data planted.ggnn --out none/p.npy"), 1);
    CHECK(says("none/p.npy: cannot create: No such file or directory\n"));
    CHECK_EQ(shell("mkfifo pipe.npy && $train predict --load c --data planted.ggnn --out pipe.npy"), 1);
    CHECK(says("ggnn-train: pipe.npy: is a pipe, no file can be put there\n"));
}

/* As soon as it has begun its output. */
static int end_by(int signal_number, const char* line)
{
    int status;
    const pid_t child = start("ggnn-train", line);
    for (int i = 0; i < 20000 && !temporaries() && waitpid(child, &status, WNOHANG) == 0; i++) nap(.0005);
    kill(child, signal_number);
    return finish(child);
}

TEST(an_interrupt_leaves_the_old_output)
{
    finish(start("ggnn-data", "generate planted large.ggnn --nodes 60000 --edges 1200000 --classes 5 --features 64"));
    CHECK_EQ(train("--data large.ggnn --fanout 2,2 --hidden 256 --epochs 0 --save l"), 0);
    write_file("p.npy", "old", 3);
    static const int by[] = {SIGINT, SIGTERM, SIGKILL};
    for (int i = 0; i < 3; i++) {
        const int status = end_by(by[i], "predict --load l --data large.ggnn --out p.npy --threads 1 --devices 2");
        CHECK(status == 1000 + by[i] || (status == 130 && by[i] != SIGKILL));
        if (status == 130) CHECK(says("ggnn-train: interrupted: p.npy is as it was\n"));
        CHECK_STR(folder_text("p.npy"), "old");
        if (by[i] != SIGKILL) CHECK_EQ(temporaries(), 0);
    } /* what the one that was killed left goes with the next output */
    CHECK_EQ(train("predict --load l --data large.ggnn --out p.npy"), 0);
    CHECK(file_bytes("p.npy") > 60000 * 5 * 4);
    CHECK_EQ(temporaries(), 0);
}

TEST(an_allocation_that_fails_is_an_error_wherever_it_is)
{
    static const char* const how[] = {"--load c --out p.npy --nodes some.npy --devices 2 --threads 2", "--load c --out p.csv --eval sampled --nodes test",
                                      "--load whole --out p.npy --write classes"};
    static const int64_t some[] = {33, 0, 5, 5};
    write_npy("some.npy", "<i8", some, 4, 0);
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --save c"), 0);
    CHECK_EQ(train("--data karate.ggnn --fanout full --layers 2 --hidden 4 --epochs 1 --save whole"), 0);
    for (int k = 0; k < 3; k++) {
        int status = 1;
        for (int i = 1; status == 1 && i < 300; i++) {
            char n[16];
            snprintf(n, sizeof n, "%d", i);
            fail_allocation = n;
            status = trainf("predict --data karate.ggnn %s", how[k]);
            fail_allocation = NULL;
            if (status == 1) CHECK(says("out of memory"));
            CHECK_EQ(temporaries(), 0);
        }
        CHECK_EQ(status, 0);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    RUN(the_classes_of_test_nodes_have_the_accuracy_that_training_printed);
    RUN(three_evaluations_agree_on_the_rows_of_every_layer);
    RUN(rows_come_in_the_order_of_the_ids_that_are_asked_for);
    RUN(a_graph_of_many_chunks_has_each_row_in_its_place);
    RUN(the_parts_of_a_split_are_their_nodes_in_order);
    RUN(ids_that_are_no_nodes_are_errors_that_name_file_element_and_value);
    RUN(a_long_list_of_ids_may_be_gzipped);
    RUN(csv_has_ids_and_the_same_numbers);
    RUN(a_reordered_graph_is_predicted_by_the_old_ids);
    RUN(names_that_are_damaged_are_refused_where_they_are_printed);
    RUN(a_graph_of_other_nodes_without_labels_and_splits_is_predicted);
    RUN(a_graph_that_does_not_fit_is_refused_by_what_differs);
    RUN(what_training_read_beside_features_is_read_by_predict);
    RUN(features_that_are_not_finite_are_named);
    RUN(hostile_checkpoints_are_refused_and_the_old_output_stays);
    RUN(a_full_disk_is_an_error_and_the_old_output_stays);
    RUN_SLOW(cuda_emulated_gives_the_accuracy_and_nearly_the_rows_of_the_cpu);
    RUN_SLOW(stores_and_tiers_change_no_bit);
    RUN_SLOW(processes_write_what_one_writes_and_compare_what_they_are_asked_for);
    RUN_SLOW(an_interrupt_leaves_the_old_output);
    RUN_SLOW(an_allocation_that_fails_is_an_error_wherever_it_is);
    folder_remove();
    return test_finish();
}
