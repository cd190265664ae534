/* ggnn-train on several logical devices of the CPU, from end to end: they train, evaluate and save as one does. The
   batches' ids are compared in test_worker.c. */
#include <pthread.h>
#include <sched.h>

#include "common/progress.h"
#include "tests/train_tool.h"
#include "trainer/agree.h"
#include "trainer/ranks/comm.h"

static char start_folder[4096]; /* where the tests were started: the project's */

static const int counts[] = {2, 4, 8};
enum { COUNTS = sizeof counts / sizeof *counts };

static const char* const models[] = {"--model sage", "--model gcn", "--model gat --heads 4",
                                     "--model sage --aggregator pool", "--model mlp",
                                     "--aggregator importance"};
enum { MODELS = sizeof models / sizeof *models };

/* The epochs' records of a run. */
static const records* epochs_of(const char* options, int devices, records* to)
{
    if (!CHECK_EQ(trainf("%s --devices %d --log a", options, devices), 0)) printf("  %s\n", output);
    read_log(to, "a", "epoch");
    return to;
}

/* One batch an epoch, so that the log has the loss of each step; of 300 training nodes, 38 of a device of eight. */
TEST(losses_of_the_first_20_steps_are_those_of_one_device)
{
    for (int m = 0; m < MODELS; m++) {
        char options[400];
        snprintf(options, sizeof options, "--data planted.ggnn %s --fanout 5,4 --hidden 16 --batch 1024 --epochs 20 "
                                          "--eval-every 4", models[m]);
        epochs_of(options, 1, &first);
        CHECK_EQ(first.count, 20);
        for (int i = 0; i < COUNTS; i++) {
            epochs_of(options, counts[i], &second);
            CHECK_EQ(second.count, 20);
            for (int k = 0; k < first.count && k < second.count; k++) {
                double loss = number(first.line[k], "loss"), val = number(first.line[k], "val_loss");
                if (!CHECK_NEAR(number(second.line[k], "loss"), loss, 1e-6 * loss))
                    printf("  %s, %d devices, step %d\n", models[m], counts[i], k);
                if (!isnan(val)) CHECK_NEAR(number(second.line[k], "val_loss"), val, 1e-5 * val);
            }
        }
    }
}

/* Parts of one batch, by owners of every kind. */
static const char* const splits[] = {"--partition mincut", "--partition hash --split-sampling single", "--partition pagraph",
                                     "--partition mod --store parts", "--partition range --split-sampling single --store shards"};
enum { SPLITS = sizeof splits / sizeof *splits };

TEST(losses_of_20_steps_by_parts_of_a_batch_are_those_by_slices)
{
    for (int m = 0; m < MODELS; m++) {
        char options[400], how[500];
        snprintf(options, sizeof options, "--data planted.ggnn %s --fanout 5,4 --hidden 16 --batch 1024 --epochs 20 "
                                          "--eval-every 4", models[m]);
        for (int i = 0; i < COUNTS; i++) {
            epochs_of(options, counts[i], &first);
            snprintf(how, sizeof how, "%s --parallel split %s", options, splits[(m + i) % SPLITS]);
            epochs_of(how, counts[i], &second);
            CHECK_EQ(first.count, 20);
            CHECK_EQ(second.count, 20);
            for (int k = 0; k < first.count && k < second.count; k++) {
                double loss = number(first.line[k], "loss");
                if (!CHECK_NEAR(number(second.line[k], "loss"), loss, 1e-6 * loss)) printf("  %s, %d devices, step %d\n", how, counts[i], k);
            }
        }
    }
}

TEST(accuracy_by_parts_of_a_batch_is_that_by_slices)
{
    for (int seed = 1; seed <= 3; seed++)
        for (int m = 0; m < 3; m++) {
            char options[400], how[500];
            snprintf(options, sizeof options, "--data planted.ggnn %s --fanout 5,4 --hidden 16 --batch 64 --lr .02 "
                                              "--epochs 3 --seed %d", models[m], seed);
            double slices = number(epochs_of(options, 4, &first)->line[2], "val_accuracy");
            snprintf(how, sizeof how, "%s --parallel split %s", options, splits[(m + seed) % SPLITS]);
            CHECK_NEAR(number(epochs_of(how, 4, &second)->line[2], "val_accuracy"), slices, .01);
        }
}

TEST(runs_by_parts_of_a_batch_write_one_log)
{
    static const char* const also[] = {"", "--threads 7", "--store parts", "--gather exchange", "--cache degree --cache-ratio .2",
                                       "--pipeline overlap --store parts --threads 5"};
    for (int m = 0; m < MODELS; m++)
        for (int i = 0; i < 6; i++) {
            CHECK_EQ(trainf("--data planted.ggnn %s --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices 4 --parallel split "
                            "--split-sampling %s --log a %s", models[m], m % 2 ? "single" : "cooperative", also[i]), 0);
            read_log(i ? &second : &first, "a", "epoch");
            if (i && !CHECK(same_records(&first, &second))) printf("  %s %s\n", models[m], also[i]);
        }
}

/* The sum of the array after "key" in a record. */
static long long sum_of(const char* record, const char* key)
{
    char text[40];
    long long sum = 0;
    snprintf(text, sizeof text, "\"%s\":[", key);
    const char* at = strstr(record, text);
    if (!CHECK(at != NULL)) return -1;
    for (at += strlen(text); *at && *at != ']'; at += *at == ',') sum += strtoll(at, (char**)(uintptr_t)&at, 10);
    return sum;
}

/* However many devices there are: each node of each layer is computed by one, each row of features loaded by one. */
TEST(the_log_says_that_parts_of_a_batch_compute_and_load_nothing_twice)
{
    static const char* const keys[] = {"targets", "edges", "loaded"};
    for (int P = 1; P <= 8; P *= 2) {
        CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 1 --devices %d --parallel split --log a", P), 0);
        read_log(P > 1 ? &second : &first, "a", "ranks");
        const char *one = strstr(first.line[0], "\"split\":"), *now = P > 1 ? strstr(second.line[0], "\"split\":") : one;
        if (!CHECK(one && now)) return;
        for (int k = 0; k < 3; k++) CHECK_EQ(sum_of(now, keys[k]), sum_of(one, keys[k]));
        CHECK_EQ(sum_of(now, "peer") > 0, P > 1);
        CHECK_EQ(sum_of(now, "bytes") > 0, P > 1);
    }
    read_log(&first, "a", "owners");
    read_log(&second, "a", "start");
    CHECK_EQ(sum_of(first.line[0], "nodes"), (long long)number(second.line[0], "nodes"));
}

/* Element number i of the array after "key", from `at` on. */
static long long element_of(const char* at, const char* key, int i)
{
    char text[40];
    snprintf(text, sizeof text, "\"%s\":[", key);
    at = at ? strstr(at, text) : NULL;
    if (!CHECK(at != NULL)) return -1;
    at += strlen(text);
    for (; i > 0; i--) at += strcspn(at, ",]") + 1;
    return strtoll(at, NULL, 10);
}

/* Where a device's part of the graph is what it owns, it reads all its lists there: 16 bytes each, and an id an edge. */
TEST(edges_of_parts_of_a_batch_count_where_their_lists_lie)
{
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 8 --batch 50 --epochs 2 --eval-every 0 --devices 3 --parallel split "
                   "--partition range --store parts --log a"), 0);
    read_log(&first, "a", "ranks");
    const char *lists = strstr(first.line[0], "\"lists\":"), *bytes = strstr(first.line[0], "\"list_bytes\":");
    const char* split = strstr(first.line[0], "\"split\":");
    for (int r = 0; r < 3; r++) {
        const long long read = element_of(lists, "own", r), edges = element_of(split, "edges", r);
        CHECK(read > 0 && edges > 0);
        CHECK_EQ(element_of(bytes, "own", r), 16 * read + (long long)sizeof(ggnn_node) * edges);
        CHECK_EQ(element_of(bytes, "peer", r), 0);
    }
}

/* The row of a device, or of all, under a title of what is printed. */
static const char* row_of(const char* title, const char* name)
{
    char text[16];
    snprintf(text, sizeof text, "\n  %-6s ", name);
    const char *at = strstr(output, title), *row = at ? strstr(at, text) : NULL;
    return CHECK(row != NULL) ? row + strlen(text) : "";
}

/* What the log says of each device; and their sum below. */
TEST(the_profiles_tables_have_the_logs_counts_and_their_sums)
{
    static const struct {
        const char *title, *object, *column[5];
    } table[] = {{"rows of features read from (counted)", "\"rows\":", {"cache", "own", "peer", "host"}},
                 {"computed of all layers ", "\"split\":", {"targets", "edges", "loaded", "own", "peer"}}};
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 8 --batch 50 --epochs 1 --eval-every 0 --devices 2 --parallel split "
                   "--cache degree --cache-ratio .1 --store-features .5 --profile --log counts"), 0);
    read_log(&first, "counts", "ranks");
    for (int t = 0; t < 2; t++) {
        const char *logged = strstr(first.line[0], table[t].object), *all = row_of(table[t].title, "all");
        const char* row[] = {row_of(table[t].title, "0"), row_of(table[t].title, "1")};
        for (int k = 0; k < 5 && table[t].column[k]; k++) {
            for (int r = 0; r < 2; r++) {
                CHECK_EQ(strtoll(row[r], (char**)(uintptr_t)&row[r], 10), element_of(logged, table[t].column[k], r));
                CHECK((element_of(logged, table[t].column[k], r) > 0) == (t == 1 || k != 2)); /* rows are their owner's own */
            }
            CHECK_EQ(strtoll(all, (char**)(uintptr_t)&all, 10), sum_of(logged, table[t].column[k]));
        }
    }
}

/* The n-th number behind `before`. */
static double real_of(const char* at, const char* before, int n)
{
    char* next;
    at = strstr(at, before);
    if (!CHECK(at != NULL)) return NAN;
    double value = strtod(at + strlen(before), &next);
    while (n-- > 0) value = strtod(next + strspn(next, ", %"), &next);
    return value;
}

/* Of each device, from the log's seconds; of one device as of several. */
TEST(the_profile_says_how_much_of_an_epoch_each_step_computes)
{
    for (int devices = 1; devices <= 3; devices += 2) {
        CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 3 --devices %d --profile --log counts", devices), 0);
        char* log = read_text(NULL, "counts");
        const char* seconds = strstr(log, "\"seconds\":{\"training\":["); /* of the record of ranks */
        for (int r = 0; CHECK(seconds != NULL) && r < devices; r++) {
            const double train_seconds = real_of(seconds, "\"train\":[", r);
            const double epoch = real_of(seconds, "\"training\":[", r) - real_of(seconds, "\"evaluation\":[", r);
            CHECK(train_seconds > 0 && train_seconds <= epoch);
            CHECK_NEAR(real_of(output, "by device (measured, nothing overlaps here):", r), 100 * train_seconds / epoch, .06);
        }
        free(log);
        CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 1 --devices %d", devices), 0);
        CHECK(!strstr(output, "the step computes"));
    }
}

/* The largest share of a number that one device has, over the mean; the array is that of sum_of. */
static double most_over_mean(const char* record, const char* key, int devices)
{
    char text[40];
    double most = 0;
    snprintf(text, sizeof text, "\"%s\":[", key);
    const char* at = strstr(record, text);
    if (!CHECK(at != NULL)) return NAN;
    at += strlen(text);
    for (int k = 0; k < devices; k++, at++) most = fmax(most, strtod(at, (char**)(uintptr_t)&at));
    return most * devices / (double)sum_of(record, key);
}

/* By METIS, and by a file of ggnn-data partition: the same owners, the same bits. Balanced by edges all devices compute equally
   many, where equally many nodes leave one with most of them. */
TEST(owners_by_metis_are_those_of_a_file_and_balance_what_is_asked)
{
    static const char run[] = "--data cites.ggnn --fanout 4,3 --hidden 8 --batch 100 --epochs 2 --devices 4 --parallel split";
    static const char* const by[] = {"vertices", "edges --fanout 4,3 --batch 100 --presample-epochs 3"};
    CHECK_EQ(finish(start("ggnn-data", "generate citation cites.ggnn --nodes 3000 --edges 20000 --classes 5 --features 8")), 0);
    for (int edges = 0; edges < 2; edges++) {
        char line[300];
        snprintf(line, sizeof line, "partition cites.ggnn --method metis --parts 4 --out p --balance %s", by[edges]);
        if (finish(start("ggnn-data", line)) != 0) {
            CHECK(says("built without METIS"));
            CHECK_EQ(trainf("%s --partition metis", run), 1);
            CHECK(says("built without METIS"));
            SKIP("METIS is not there");
        }
        CHECK_EQ(trainf("%s --partition metis --balance %s --log a", run, edges ? "edges --presample-epochs 3" : "vertices"), 0);
        CHECK_EQ(trainf("%s --partition-file p --log b", run), 0);
        CHECK(last_number("a", "owners", "crc") == last_number("b", "owners", "crc"));
        read_log(&first, "a", "epoch");
        read_log(&second, "b", "epoch");
        CHECK(same_records(&first, &second));
        read_log(&first, "a", "ranks");
        read_log(&second, "a", "owners");
        const double work = most_over_mean(strstr(first.line[0], "\"split\":"), "edges", 4), nodes = most_over_mean(second.line[0], "nodes", 4);
        if (!CHECK(edges ? work < 1.3 && nodes > 1.5 : nodes < 1.1 && work > 2)) printf("  %s: edges %g, nodes %g\n", by[edges], work, nodes);
    }
}

TEST(accuracy_after_three_epochs_does_not_depend_on_the_number_of_devices)
{
    for (int seed = 1; seed <= 3; seed++)
        for (int m = 0; m < 3; m++) {
            char options[400];
            snprintf(options, sizeof options, "--data planted.ggnn %s --fanout 5,4 --hidden 16 --batch 64 --lr .02 "
                                              "--epochs 3 --seed %d", models[m], seed);
            double one = number(epochs_of(options, 1, &first)->line[2], "val_accuracy");
            for (int i = 0; i < COUNTS; i++)
                CHECK_NEAR(number(epochs_of(options, counts[i], &second)->line[2], "val_accuracy"), one, .01);
        }
}

/* At a rate of 0 all numbers of devices have the same weights: the scores are the same bits, whoever computed which row
   of a layer, also where some devices have none. */
TEST(evaluation_gives_the_bits_of_one_device)
{
    static const char* const how[] = {"--eval-memory 0", "--eval sampled", "--norm layer --residual",
                                      "--layers 1 --fanout 5"};
    static const char* const data[] = {"planted.ggnn", "karate.ggnn"};
    for (int m = 0; m < MODELS; m++)
        for (int h = 0; h < 4; h++) {
            char options[400];
            snprintf(options, sizeof options, "--data %s %s %s --hidden 16 --batch 100 --lr 0 --epochs 1",
                     data[(m + h) % 2], models[m], how[h]);
            CHECK_EQ(trainf("%s --log one", options), 0);
            for (int i = 0; i < COUNTS; i++) {
                CHECK_EQ(trainf("%s --devices %d --log several", options, counts[i]), 0);
                static const char* const keys[] = {"val_loss", "val_accuracy", "val_macro_f1", "test_loss"};
                for (int k = 0; k < 4; k++) {
                    const char* event = k < 3 ? "epoch" : "final";
                    double one = last_number("one", event, keys[k]);
                    CHECK(!isnan(one) && last_number("several", event, keys[k]) == one);
                }
            }
        }
}

/* More nodes than all devices' chunks of 4,096 take at once: every device has a second chunk. */
TEST(evaluation_in_several_chunks_gives_the_bits_of_one_device)
{
    static const char* const how[] = {"", "--gather exchange", "--store parts --eval-memory 0"};
    static const char* const model[] = {"--model sage", "--model gat --heads 2", "--model sage --aggregator pool"};
    CHECK_EQ(finish(start("ggnn-data", "generate planted many.ggnn --nodes 9000 --edges 15000 --classes 3 --features 4")), 0);
    for (int m = 0; m < 3; m++) {
        char options[300];
        snprintf(options, sizeof options, "--data many.ggnn %s --layers 2 --fanout 2,2 --hidden 4 --batch 10000 --lr 0 --epochs 1", model[m]);
        CHECK_EQ(trainf("%s --log one", options), 0);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(trainf("%s --devices 2 %s --log several", options, how[i]), 0);
            const double loss = last_number("one", "epoch", "val_loss");
            if (!CHECK(loss > 0 && last_number("several", "epoch", "val_loss") == loss)) printf("  %s %s\n", model[m], how[i]);
        }
    }
}

TEST(runs_on_one_number_of_devices_write_one_log)
{
    static const char* const also[] = {"", "--threads 1", "--threads 7", "--pipeline overlap"};
    for (int m = 0; m < MODELS; m++)
        for (int i = 0; i < 4; i++) {
            CHECK_EQ(trainf("--data planted.ggnn %s --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices 4 --store %s "
                            "--log a %s", models[m], m % 2 ? "parts" : "replica", also[i]), 0);
            read_log(i ? &second : &first, "a", NULL);
            if (i && !CHECK(same_records(&first, &second))) printf("  %s %s\n", models[m], also[i]);
        }
}

/* Walks are the only samples that have visits. */
static bool excluded(const char* model, const char* options)
{
    return strstr(model, "importance") && strstr(options, "--sampler");
}

/* Each device has a part of graph and features, and reads all. */
TEST(parts_of_graph_and_features_give_the_bits_of_replicas)
{
    static const char* const how[] = {"--fanout 4,3", "--fanout 4,3 --eval sampled --sampler weighted",
                                      "--fanout -1,-1 --pipeline overlap"};
    for (int m = 0; m < MODELS; m++)
        for (int i = 0; i < COUNTS; i++) {
            const char* options = how[(m + i) % 3];
            if (excluded(models[m], options)) options = how[0];
            for (int parts = 0; parts < 2; parts++) {
                CHECK_EQ(trainf("--data %s %s %s --hidden 16 --batch 50 --epochs 2 --devices %d --store %s --log a",
                                m % 2 ? "karate.ggnn" : "planted.ggnn", models[m], options, counts[i],
                                parts ? "parts" : "replica"), 0);
                read_log(parts ? &second : &first, "a", "epoch");
            }
            if (!CHECK(same_records(&first, &second))) printf("  %s %s, %d devices\n", models[m], options, counts[i]);
        }
    CHECK(strstr((read_log(&first, "a", "ranks"), first.line[0]), "\"host\":[0,0,0,0,0,0,0,0]") != NULL);
}

/* No device reads another one's memory: each has a part of the features, and rows are sent. A device of eight may have no
   seed and few nodes. (Importance alone wants its own sampler: it is not asked to be weighted.) */
TEST(rows_by_exchange_give_the_bits_of_replicas)
{
    static const char* const how[] = {"--fanout 4,3", "--fanout 4,3 --eval sampled --sampler weighted",
                                      "--fanout -1,-1 --pipeline overlap", "--fanout 4,3 --input-dropout .2 --residual"};
    static const char* const gather[] = {"--gather exchange", "--store parts --gather exchange --owners modulo", "--store shards --owners hash",
                                         "--store shards --cache degree --cache-ratio .2",
                                         "--gather exchange --cache presc --cache-ratio .3 --owners hash"};
    enum { GATHERS = sizeof gather / sizeof *gather };
    for (int m = 0; m < MODELS; m++)
        for (int i = 0; i < COUNTS; i++)
            for (int exchanged = 0; exchanged < 2; exchanged++) {
                CHECK_EQ(trainf("--data %s %s %s --hidden 16 --batch 50 --epochs 2 --devices %d --log a %s",
                                m % 2 ? "karate.ggnn" : "planted.ggnn", models[m], how[(m + i + 1) % 4], counts[i],
                                exchanged ? gather[(m + 2 * i) % GATHERS] : ""), 0);
                if (!exchanged) read_log(&first, "a", "epoch");
                else if (!CHECK(same_records((read_log(&second, "a", "epoch"), &first), &second)))
                    printf("  %s %s %s, %d devices\n", models[m], how[(m + i + 1) % 4], gather[(m + 2 * i) % GATHERS], counts[i]);
            }
    const char* rows = strstr((read_log(&first, "a", "ranks"), first.line[0]), "\"peer\":["); /* of each rank */
    CHECK(rows && strncmp(rows + 8, "0,", 2) != 0);
    CHECK(rows && strstr(rows, "\"lists\":{\"cache\":[0,0,0,0,0,0,0,0],\"own\":[0,0,0,0,0,0,0,0],\"peer\":[0,0,0,0,0,0,0,0]") != NULL);
    CHECK_EQ(trainf("--data karate.ggnn --devices 2 --store replica --gather exchange"), 2);
    CHECK(says("--gather exchange: with --store replica each device has all rows"));
    CHECK_EQ(trainf("--data karate.ggnn --devices 2 --store shards --gather pointer"), 2);
    CHECK(says("--store shards needs --gather exchange"));
}

/* Whoever owns a node, losses and evaluation are the same. */
/* Where "rows":{"cache":[..]} of the run's log begin; its counts are those of training and evaluation, a rank each. */
static void read_rows_by_rank(const char* options, const char* way, int64_t rows[4][4])
{
    static const char* const tier[] = {"\"cache\":[", "\"own\":[", "\"peer\":[", "\"host\":["};
    if (!CHECK_EQ(trainf("%s --devices 4 --log a %s", options, way), 0)) printf("  %s\n", output);
    read_log(&first, "a", "ranks");
    const char* at = strstr(first.line[0], "\"rows\":{");
    for (int i = 0; i < 4; i++) {
        at = at ? strstr(at, tier[i]) : NULL;
        if (!CHECK(at != NULL)) return;
        at += strlen(tier[i]);
        for (int r = 0; r < 4; r++) rows[i][r] = strtoll(at + (r > 0), (char**)(uintptr_t)&at, 10);
    }
}

/* Beside the same cache before the host's rows: hits are the same, and no one is asked for them. */
TEST(a_cache_before_the_exchange_takes_what_it_takes_before_the_host)
{
    static const char* const cache[] = {"--cache presc --cache-ratio .1", "--cache degree --cache-bytes 9K", "--cache random --cache-ratio 1",
                                        "--cache degree --cache-ratio .2 --partition pagraph"};
    for (int i = 0; i < 4; i++) {
        char options[400];
        int64_t host[4][4] = {{0}}, sent[4][4] = {{0}}, all[4][4] = {{0}};
        snprintf(options, sizeof options, "--data planted.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 2 --eval sampled %s", cache[i]);
        read_rows_by_rank(options, "--store-features 0", host);
        read_rows_by_rank(options, "--store shards --owners modulo", sent);
        snprintf(options, sizeof options, "--data planted.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 2 --eval sampled %s",
                 i == 3 ? "--partition pagraph" : "");
        read_rows_by_rank(options, "--store shards --owners modulo", all);
        for (int r = 0; r < 4; r++) {
            CHECK(sent[0][r] > 0);
            CHECK_EQ(sent[0][r], host[0][r]);
            CHECK_EQ(sent[1][r] + sent[2][r], host[3][r]);
            CHECK_EQ(sent[3][r], 0);
            CHECK_EQ(all[0][r], 0);
            CHECK_EQ(all[1][r] + all[2][r], sent[0][r] + sent[1][r] + sent[2][r]);
            CHECK(sent[2][r] < all[2][r]);
        }
    }
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --devices 4 --epochs 1 --store shards --cache degree --cache-ratio .1 --log a"), 0);
    CHECK(says("own cache"));
}

/* A part of a batch loads what its device owns; a device with training nodes of its own has the rows around them. */
TEST(rows_that_are_sent_lie_where_they_are_computed)
{
    static const char* const how[] = {"--parallel split", "--parallel split --partition hash", "--partition pagraph"};
    static const char* const sent[] = {"--store shards", "--gather exchange"};
    shell("$data generate citation fields.ggnn --nodes 4000 --edges 30000");
    for (int i = 0; i < 6; i++) {
        char options[400];
        int64_t range[4][4] = {{0}}, owned[4][4] = {{0}}, own = 0, before = 0;
        snprintf(options, sizeof options, "--data fields.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 2 --eval-every 0 %s", how[i / 2]);
        read_rows_by_rank(options, sent[i % 2], range);
        read_log(&second, "a", "epoch");
        snprintf(options, sizeof options, "--data fields.ggnn --fanout 4,3 --hidden 8 --batch 60 --epochs 2 --eval-every 0 %s --owners partition", how[i / 2]);
        read_rows_by_rank(options, sent[i % 2], owned);
        read_log(&first, "a", "epoch");
        CHECK(same_records(&second, &first));
        for (int r = 0; r < 4; r++) {
            CHECK_EQ(owned[1][r] + owned[2][r], range[1][r] + range[2][r]);
            CHECK(owned[1][r] > 0 && (i > 3 || owned[2][r] == 0));
            own += owned[1][r];
            before += range[1][r];
        }
        CHECK(4 * own > 5 * before);
    }
}

TEST(owners_by_modulo_and_hash_give_the_bits_of_ranges)
{
    static const char* const owners[] = {"range", "modulo", "hash"};
    for (int i = 0; i < COUNTS; i++)
        for (int k = 0; k < 3; k++) {
            CHECK_EQ(trainf("--data %s %s --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices %d --store parts "
                            "--owners %s --log a", i % 2 ? "karate.ggnn" : "planted.ggnn", models[i], counts[i], owners[k]), 0);
            read_log(k ? &second : &first, "a", "epoch");
            if (k && !CHECK(same_records(&first, &second))) printf("  %s, %d devices\n", owners[k], counts[i]);
        }
}

/* Some devices sample for the others: what is written is what as many write as there are slices. */
TEST(devices_that_sample_for_others_write_the_log_of_one_fewer)
{
    static const char* const how[] = {"", "--eval sampled", "--store parts", "--sampler weighted --samplers 1",
                                      "--norm layer"};
    for (int m = 0; m < MODELS; m++)
        for (int devices = 2; devices < 5; devices += 2) {
            char options[400];
            snprintf(options, sizeof options, "--data planted.ggnn %s --fanout 4,3 --hidden 16 --batch 50 --epochs 3", models[m]);
            CHECK_EQ(trainf("%s %s --devices %d --log a", options, strstr(how[m % 5], "-samp") ? "--sampler weighted" : how[m % 5],
                            devices - 1), 0);
            CHECK_EQ(trainf("%s %s --pipeline factored --devices %d --log b", options, how[m % 5], devices), 0);
            read_log(&first, "a", "epoch");
            read_log(&second, "b", "epoch");
            if (!CHECK(same_records(&first, &second))) printf("  %s %s, %d devices\n", models[m], how[m % 5], devices);
            CHECK(last_number("b", "final", "test_loss") == last_number("a", "final", "test_loss"));
            read_log(&first, "b", "ranks");
            CHECK(strstr(first.line[0], "\"slices\":{\"sampled\":[0,") != NULL);
        }
    CHECK_EQ(trainf("--data karate.ggnn --epochs 3 --log a"), 0);
    CHECK_EQ(trainf("--data karate.ggnn --epochs 3 --log b --pipeline factored"), 0); /* alternates */
    read_log(&first, "a", NULL);
    read_log(&second, "b", NULL);
    CHECK(same_records(&first, &second));
}

/* Whoever does it, each slice of each batch of each epoch is sampled once and trained on once. */
TEST(slices_of_several_epochs_are_each_counted_once)
{
    static const char options[] = "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --pipeline factored --devices 3";
    for (int epochs = 1; epochs <= 5; epochs += 2) {
        CHECK_EQ(trainf("%s --epochs %d --log a", options, epochs), 0);
        read_log(&first, "a", "start");
        read_log(&second, "a", "ranks");
        const long long slices = 2 * epochs * (long long)number(first.line[0], "batches");
        const char* done = strstr(second.line[0], "\"slices\":");
        CHECK(done && slices > 0);
        CHECK_EQ(sum_of(done, "sampled"), slices);
        CHECK_EQ(sum_of(done, "trained"), slices);
    }
}

/* The last ones sample: as many as are asked for; in the first epoch half of them, when no time is known. */
TEST(the_last_devices_sample_for_the_first)
{
    for (int devices = 2; devices <= 6; devices += 2)
        for (int samplers = 0; samplers < devices; samplers += 1 + devices / 3) {
            CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 20 --eval-every 0 --pipeline factored --devices %d --samplers %d "
                            "--epochs %d --log a", devices, samplers, samplers ? 3 : 1), 0);
            read_log(&second, "a", "ranks");
            const char* done = strstr(second.line[0], "\"slices\":");
            for (int r = 0; r < devices - (samplers ? samplers : devices / 2); r++)
                if (!CHECK_EQ(element_of(done, "sampled", r), 0)) printf("  device %d of %d, %d samplers\n", r, devices, samplers);
            CHECK(element_of(done, "trained", 0) > 0);
        }
}

/* Of a step the gradients: a slice to each other device, and what this one added up to all. Rows that are sent: how many are
   wanted, their ids, and the rows that the other asks for. */
TEST(bytes_sent_are_those_of_gradients_and_rows)
{
    static const char* const how[] = {"", "--store parts", "--gather exchange", "--store shards --owners hash"};
    for (int i = 0; i < 7; i++) {
        const int P = i < 4 ? 2 : 2 * i - 7; /* then 1, 3, 5: of rows among more than two no one says who asked */
        CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 15 --batch 40 --epochs 2 --eval-every 0 --devices %d %s --log a", P, how[i < 4 ? i : i % 2]), 0);
        read_log(&first, "a", "start");
        read_log(&second, "a", "ranks");
        const long long n = (long long)number(first.line[0], "parameters"), steps = 2 * (long long)number(first.line[0], "batches");
        const char* rows = strstr(second.line[0], "\"rows\":");
        for (int r = 0; r < P; r++) {
            const long long mine = n / P + (r < n % P), other = P - 1 - r;
            long long bytes = P > 1 ? steps * 4 * (n - mine + mine * (P - 1)) : 0;
            if (i == 2 || i == 3)
                bytes += steps * 8 + element_of(rows, "peer", r) * (long long)sizeof(ggnn_node) + element_of(rows, "peer", (int)other) * 16 * 4;
            if (!CHECK_EQ(element_of(second.line[0], "sent_bytes", r), bytes)) printf("  device %d of %d, %d\n", r, P, i);
        }
    }
}

/* ==== checkpoints =============================================================================================== */

static const char small[] = "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --lr-schedule cosine --epochs 4";

/* A checkpoint holds no number of devices: with the same one the run goes on bit for bit, with others to rounding. */
TEST(a_run_is_resumed_by_another_number_of_devices)
{
    static const int next[] = {4, 1, 3};
    CHECK_EQ(trainf("%s --devices 4 --log whole", small), 0);
    CHECK_EQ(trainf("%s --devices 4 --save c --save-every 2 --save-steps 5 --epochs 4 --log part", small), 0);
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(same_records(&first, &second));
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices 4 --save half"), 0);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(trainf("--data planted.ggnn --resume half --epochs 4 --devices %d --log part%d", next[i], i), 0);
        char name[16];
        snprintf(name, sizeof name, "part%d", i);
        read_log(i ? &second : &first, name, "epoch");
        if (i == 0) continue;
        CHECK_EQ(second.count, 2);
        for (int k = 0; k < 2; k++)
            CHECK_NEAR(number(second.line[k], "loss"), number(first.line[k], "loss"), 1e-5);
    }
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 4 --devices 4 --log whole"), 0);
    read_log(&first, "part0", "epoch");
    read_log(&second, "whole", "epoch");
    CHECK(first.count == 2 && second.count == 4);
    CHECK_STR(first.line[0], second.line[2]);
    CHECK_STR(first.line[1], second.line[3]);
}

static void interrupt_until_done(const char* how)
{
    char options[400];
    snprintf(options, sizeof options, "--data planted.ggnn --fanout 4,3 --hidden 48 --batch 4 --epochs 6 %s", how);
    int stops = 0, within = 0, status = 130;
    double begin = progress_seconds();
    CHECK_EQ(trainf("%s --log whole", options), 0);
    double seconds = progress_seconds() - begin;
    for (int round = 0; round < 20 && within == 0; round++) {
        unlink("part");
        unlink("c");
        status = 130;
        for (int i = 0; status != 0 && i < 100; i++) {
            char line[800];
            snprintf(line, sizeof line, "%s %s --save c --save-every 0 --log part", how,
                     access("c", F_OK) == 0 ? "--data planted.ggnn --resume c" : options);
            pid_t child = start("ggnn-train", line);
            nap(seconds * (0.1 + 0.5 * (double)test_below(1000) / 1000) * (1 + 0.1 * i));
            kill(child, i % 2 ? SIGTERM : SIGINT);
            status = finish(child);
            if (status == 1000 + SIGINT || status == 1000 + SIGTERM) continue; /* before it was ready to catch it */
            if (status != 130) break;
            CHECK(says("saved, go on with --data planted.ggnn --resume c --save c"));
            int64_t step = (int64_t)last_number("part", "interrupted", "step");
            read_log(&first, "part", "start");
            within += step % (int64_t)number(first.line[0], "batches") != 0;
            stops++;
        }
        CHECK_EQ(status, 0);
        read_log(&first, "whole", "epoch");
        read_log(&second, "part", "epoch");
        CHECK(same_records(&first, &second));
    }
    CHECK(stops > 0 && within > 0);
}

TEST(four_devices_that_are_interrupted_go_on_bit_for_bit_within_an_epoch) { interrupt_until_done("--devices 4"); }
TEST(devices_with_parts_of_a_batch_are_interrupted_and_go_on_as_well)
{
    interrupt_until_done("--devices 3 --parallel split --partition hash --split-sampling single");
    interrupt_until_done("--devices 2 --parallel split");
    interrupt_until_done("--devices 3 --parallel split --pipeline overlap");
}
TEST(devices_that_sample_for_others_are_interrupted_and_go_on_as_well)
{
    interrupt_until_done("--devices 3 --pipeline factored");
}

TEST(a_killed_run_goes_on_from_the_last_of_every_five_steps)
{
    static const char options[] = "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 3 --devices 2";
    CHECK_EQ(trainf("%s --save c --save-steps 5 --log whole", options), 0);
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "c"));
    ggnn_file_close(&f);
    char line[400];
    read_log(&first, "whole", "start");
    const int64_t batches = first.count ? (int64_t)number(first.line[0], "batches") : 1;
    int64_t step = 0;
    for (int i = 0; i < 50 && step % batches == 0; i++) {
        unlink("c");
        snprintf(line, sizeof line, "%s --save c --save-every 0 --save-steps 1 --epochs 1000", options);
        pid_t child = start("ggnn-train", line);
        nap(.05 + .02 * i);
        kill(child, SIGKILL);
        finish(child);
        if (access("c", F_OK) != 0 || !ggnn_file_open(&f, "c")) continue;
        step = ((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "counters")))[2];
        ggnn_file_close(&f);
    }
    unlink("part");
    CHECK(step % batches != 0);
    const int epoch = (int)(step / batches);
    CHECK_EQ(trainf("--data planted.ggnn --resume c --epochs %d --devices 2 --log part", epoch + 1), 0);
    CHECK_EQ(trainf("%s --log whole --epochs %d", options, epoch + 1), 0);
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(second.count == 1 && first.count == epoch + 1);
    CHECK_STR(first.line[epoch], second.line[0]);
}

/* ==== errors ==================================================================================================== */

TEST(parts_of_a_batch_that_cannot_be_are_errors_that_say_why)
{
    static const char* const bad[][2] = {
        {"--parallel split --fanout full", "--parallel split: with --fanout full"},
        {"--parallel split --pipeline overlap --gather exchange", "--pipeline serial"},
        {"--parallel split --pipeline factored", "--pipeline overlap"},
        {"--parallel split --explain", "--parallel split: --explain"},
        {"--parallel split --shuffle local --partition pagraph", "--shuffle local: in --parallel split"},
        {"--parallel split --partition none", "each node has an owner"},
        {"--parallel split --closure-limit 5", "--closure-limit 5: needs --partition pagraph"},
        {"--parallel split --partition hash --partition-file x", "give one of them"},
        {"--parallel split --balance edges", "--balance edges: needs --partition metis"},
        {"--balance edges", "--balance edges: needs --parallel split"},
        {"--split-partial", "--split-partial: needs --parallel split"},
        {"--parallel split --split-partial --model gcn", "--split-partial: needs --model sage"},
        {"--parallel split --split-partial --aggregator pool", "--split-partial: needs --aggregator mean"},
        {"--split-sampling single", "--split-sampling single: needs --parallel split"},
        {"--partition metis", "--partition metis: needs --parallel split"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(trainf("--data planted.ggnn --devices 2 %s", bad[i][0]), 2);
        if (!CHECK(says(bad[i][1]))) printf("  %s", output);
    }
    CHECK_EQ(train("--data planted.ggnn --devices 65 --parallel split --epochs 1"), 1);
    CHECK(says("--parallel split: 64 devices at most, here are 65"));
    CHECK_EQ(train("--data planted.ggnn --devices 2 --parallel split --partition-file no/such.part --epochs 1"), 1);
    CHECK(says("no/such.part"));
}

/* Owners are no part of a checkpoint: who computes what shapes no batch. */
TEST(a_run_by_parts_of_a_batch_is_resumed_by_slices)
{
    static const char options[] = "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50";
    CHECK_EQ(trainf("%s --epochs 2 --devices 3 --parallel split --partition hash --save c", options), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --save d --epochs 3 --devices 2"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume d --epochs 4 --devices 4 --parallel split --partition mod --log part"), 0);
    CHECK_EQ(trainf("%s --epochs 4 --log whole", options), 0);
    CHECK_NEAR(last_number("part", "epoch", "loss"), last_number("whole", "epoch", "loss"), 1e-5);
    CHECK_EQ(train("--data planted.ggnn --resume c --epochs 3 --devices 3 --parallel split --partition hash --log part"), 0);
    CHECK_EQ(trainf("%s --epochs 3 --devices 3 --parallel split --partition hash --log whole", options), 0);
    CHECK(last_number("part", "epoch", "loss") == last_number("whole", "epoch", "loss"));
    CHECK_EQ(trainf("%s --epochs 1 --devices 2 --partition pagraph --save c", options), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --epochs 2 --devices 2 --parallel split"), 2);
    CHECK(says("c was trained with --shuffle local: in --parallel split all devices have all seeds; use --parallel data"));
}

/* Evaluation by batches, whose loader samples whole batches for training too; a first layer that was summed before. */
TEST(parts_of_a_batch_go_with_sampled_evaluation_and_preprocessing)
{
    static const char* const also[] = {"--eval sampled", "--eval sampled --split-sampling single", "--preprocess",
                                       "--preprocess --split-sampling single --split-partial"};
    CHECK_EQ(finish(start("ggnn-data", "preprocess planted.ggnn --model sage --out summed.ggnn")), 0);
    for (int i = 0; i < 4; i++) {
        char options[400];
        snprintf(options, sizeof options, "--data %s --layers 3 --fanout %s --hidden 16 --batch 50 --epochs 2 %s",
                 i < 2 ? "planted.ggnn" : "summed.ggnn", i < 2 ? "4,3,2" : "4,3", i < 2 ? "--eval sampled" : "--preprocess");
        CHECK_EQ(trainf("%s --log one", options), 0);
        CHECK_EQ(trainf("%s --devices 3 --parallel split %s --log parts", options, also[i]), 0);
        const double loss = last_number("one", "epoch", "val_loss");
        if (!CHECK_NEAR(last_number("parts", "epoch", "val_loss"), loss, 1e-5 * loss)) printf("  %s\n", also[i]);
    }
}

TEST(full_batch_on_several_devices_is_an_error_that_says_what_to_use)
{
    CHECK_EQ(train("--data karate.ggnn --fanout full --devices 2"), 2);
    CHECK(says("--fanout full: one device computes the whole graph, here are 2; --fanout -1,-1,"));
    CHECK_EQ(train("--data karate.ggnn --devices 0"), 2);
    CHECK_EQ(train("--data karate.ggnn --devices 2 --save-steps 3"), 2);
    CHECK(says("--save-steps 3: needs --save"));
}

static int lines_that_say(const char* text)
{
    int count = 0;
    for (const char* at = output; (at = strstr(at, text)); at++) count++;
    return count;
}

/* Which rank's call it is depends on the threads; every one ends all, and the message comes once. */
static void refuse_each_allocation(const char* how)
{
    int status = 1, named = 0;
    for (int n = 1; status == 1 && n < 1000; n++) {
        char number[24];
        snprintf(number, sizeof number, "%d", n);
        fail_allocation = number;
        status = trainf("--data karate.ggnn --fanout 4,3 --model gat --hidden 4 --epochs 1 --devices 3 --save c %s", how);
        fail_allocation = NULL;
        if (status != 1) break;
        if (!CHECK_EQ(lines_that_say("out of memory"), 1)) printf("  call %d: %s\n", n, output);
        CHECK_EQ(lines_that_say("ggnn-train: "), 1);
        named += strstr(output, "ggnn-train: rank ") != NULL;
    }
    CHECK_EQ(status, 0);
    CHECK(named > 0);
}
TEST(a_device_that_gets_no_memory_ends_all) { refuse_each_allocation("--store parts"); }
TEST(a_part_of_a_batch_that_gets_no_memory_ends_all)
{
    refuse_each_allocation("--parallel split --gather exchange");
    refuse_each_allocation("--parallel split --split-partial --model sage");
    refuse_each_allocation("--parallel split --pipeline overlap --split-sampling single --partition hash");
}
TEST(a_sampler_or_trainer_that_gets_no_memory_ends_all) { refuse_each_allocation("--pipeline factored"); }

/* The threads of OpenMP that devices have end with them, for which glibc may load a library: where none of the libraries that
   the program has needs it anyway (NO_BLAS=1 NO_MPI=1), a log that took the last descriptor ended the program by SIGABRT. */
TEST(devices_end_in_good_order_where_no_descriptor_is_left)
{
    CHECK_EQ(shell("ulimit -n 4; \"$train\" --data planted.ggnn --fanout 4,3 --hidden 64 --epochs 2 --devices 2 --threads 4 --log few"), 0);
    read_log(&first, "few", "final");
    CHECK_EQ(first.count, 1);
    CHECK_EQ(shell("ulimit -n 4; \"$train\" --data planted.ggnn --hidden 64 --epochs 2 --devices 2 --threads 4 --log few --save c"), 1);
    CHECK(says("ggnn-train: c: cannot create: Too many open files\n"));
}

TEST(a_full_disk_ends_all_devices_and_the_old_checkpoint_stays)
{
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 64 --epochs 1 --devices 4 --save c"), 0);
    for (int split = 0; split < 2; split++) {
        file_limit = 20000;
        CHECK_EQ(trainf("--data karate.ggnn --fanout 4,3 --hidden 64 --epochs 2 --devices 4 --save c %s", split ? "--parallel split" : ""), 1);
        file_limit = RLIM_INFINITY;
        CHECK(says("ggnn-train: c: "));
        CHECK(whole_file("c"));
    }
}

TEST(a_damaged_list_ends_all_devices_and_names_the_node)
{
    for (int v = 0; v < 156; v += 60) {
        ggnn_node wrong = 1000;
        poison("poisoned.ggnn", "indices", v, &wrong, sizeof wrong);
        CHECK_EQ(train("--data poisoned.ggnn --fanout -1,-1 --hidden 4 --epochs 1 --devices 3 --batch 5"), 1);
        CHECK(says("sampling the neighbours of node "));
        CHECK_EQ(lines_that_say("ggnn-train: "), 1);
    }
}

/* Whoever fails, the message comes once, and the checkpoint of the step before is good. */
TEST(a_stage_that_fails_ends_all_devices_and_the_checkpoint_stays)
{
    static const char* const options = "--fanout 2,1 --hidden 8 --batch 2 --devices 3 --pipeline factored --save c --save-steps 1";
    for (int samplers = 0; samplers < 3; samplers++) {
        const ggnn_node wrong = 1000;
        unlink("c");
        poison("poisoned.ggnn", "indices", 30, &wrong, sizeof wrong);
        CHECK_EQ(trainf("--data poisoned.ggnn %s --epochs 100 --eval-every 0 --samplers %d", options, samplers), 1);
        CHECK(says("sampling the neighbours of node "));
        CHECK_EQ(lines_that_say("ggnn-train: "), 1);
        CHECK(whole_file("c"));
        unlink("c");
        CHECK_EQ(trainf("--data planted.ggnn %s --lr 1e6 --fanout 2,2,2,2,2,2,2,2 --epochs 3 --samplers %d", options, samplers), 1);
        CHECK(says("--lr"));
        CHECK_EQ(lines_that_say("ggnn-train: "), 1);
        CHECK(whole_file("c"));
        CHECK_EQ(trainf("--data planted.ggnn --resume c --epochs 0"), 0);
    }
}

TEST(factored_where_it_cannot_be_is_an_error_that_says_why)
{
    static const char* const wrong[][2] = {
        {"--devices 2 --samplers 1", "--samplers 1: needs --pipeline factored"},
        {"--devices 2 --samplers 2 --pipeline factored", "--samplers 2: one of --devices 2 has to train"},
        {"--samplers 1 --pipeline factored", "--samplers 1: one of --devices 1 has to train"},
        {"--fanout full --pipeline factored", "--pipeline factored: nothing is sampled"},
        {"--devices 2 --gather exchange --pipeline factored", "--pipeline factored: rows by exchange"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(trainf("--data karate.ggnn %s", wrong[i][0]), 2);
        CHECK(says(wrong[i][1]));
    }
}

/* ==== processes ================================================================================================= */

/* Why there are none; NULL: there are. Where CI is true there must be. */
static const char* no_mpi(void)
{
    const char *why = NULL, *ci = getenv("CI");
    if (!comm_mpi_name()) why = "built without MPI";
    else if (system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) why = "mpirun of Open MPI is not installed";
    if (why && ci && !strcmp(ci, "true")) CHECK_STR(why, "");
    return why;
}

/* ggnn-train as processes: "-n 2 $train OPTIONS", and one more with the options `other`, unless NULL. */
static int mpi_train(const char* set, const char* other)
{
    char second_set[1024] = "";
    if (other) snprintf(second_set, sizeof second_set, ": -n 1 $train %s", other);
    return shell("export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 OMPI_MCA_mpi_yield_when_idle=1; "
                 "exec timeout -k 5 120 mpirun --oversubscribe --allow-run-as-root %s %s </dev/null", set, second_set);
}

TEST(processes_give_the_bits_of_threads)
{
    if (no_mpi()) SKIP(no_mpi());
    static const char* const how[] = {"--fanout 4,3 --store parts", "--fanout 4,3 --eval sampled",
                                      "--fanout -1,-1 --eval-memory 0", "--fanout 4,3 --store shards --owners hash",
                                      "--fanout 4,3 --parallel split --split-partial", "--fanout 4,3 --parallel split --split-sampling single --partition hash",
                                      "--fanout -1,-1 --parallel split --partition pagraph --store shards",
                                      "--fanout 4,3 --cache dual --cache-ratio .2 --store-graph .5 --store-features .3 --topology ring",
                                      "--fanout 4,3 --cache presc --cache-ratio .2 --store shards"};
    for (int m = 0; m < 9; m++) {
        const int P = 2 + m % 2;
        char options[400], line[600];
        snprintf(options, sizeof options, "--data planted.ggnn %s %s --hidden 16 --batch 50 --epochs 2", models[m % 4], how[m]);
        CHECK_EQ(trainf("%s --devices %d --log threads", options, P), 0);
        snprintf(line, sizeof line, "-n %d $train %s --threads 1 --log processes", P, options);
        if (!CHECK_EQ(mpi_train(line, NULL), 0)) printf("  %s\n", output);
        read_log(&first, "threads", NULL);
        read_log(&second, "processes", NULL);
        if (strstr(how[m], "split")) leave_out(&first, "sent_bytes"), leave_out(&second, "sent_bytes"); /* threads read rows where they lie */
        CHECK(same_records(&first, &second));
    }
}

/* There are no rows between layers: a room of 0 bytes. */
TEST(processes_evaluate_a_net_of_one_layer)
{
    if (no_mpi()) SKIP(no_mpi());
    static const char* const model[] = {"sage", "gcn", "mlp"};
    for (int m = 0; m < 3; m++) {
        char line[300];
        snprintf(line, sizeof line, "--data karate.ggnn --model %s --layers 1 --fanout 3 --epochs 2", model[m]);
        CHECK_EQ(trainf("%s --devices 2 --log threads", line), 0);
        snprintf(line, sizeof line, "-n 2 $train --data karate.ggnn --model %s --layers 1 --fanout 3 --epochs 2 --threads 1 --log processes", model[m]);
        if (!CHECK_EQ(mpi_train(line, NULL), 0)) printf("  %s: %s\n", model[m], output);
        read_log(&first, "threads", NULL);
        read_log(&second, "processes", NULL);
        CHECK(same_records(&first, &second));
    }
}

TEST(processes_share_the_cores)
{
    if (no_mpi()) SKIP(no_mpi());
    cpu_set_t usable;
    char words[60];
    long threads = sysconf(_SC_NPROCESSORS_ONLN) / 2;
    CHECK_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
    if (threads > CPU_COUNT(&usable)) threads = CPU_COUNT(&usable);
    if (threads < 1) threads = 1;
    snprintf(words, sizeof words, "2 devices, %ld thread%s\n", threads, threads > 1 ? "s" : "");
    CHECK_EQ(mpi_train("--bind-to none -n 2 env -u OMP_NUM_THREADS $train --data karate.ggnn --epochs 1", NULL), 0);
    CHECK(says(words));
}

TEST(processes_that_differ_are_an_error_that_names_rank_and_difference)
{
    if (no_mpi()) SKIP(no_mpi());
    static const char* const other[][3] = {
        {"--data no/such.ggnn", "rank 1 (host ", "no/such.ggnn: cannot open"},
        {"--data karate.ggnn", "rank 1 (host ", "--data has graph"},
        {"--data planted.ggnn --save c --hidden 8", "rank 1 (host ", "--hidden=8; rank 0 (host "},
        {"--data planted.ggnn", "rank 1 (host ", "no --save; rank 0 (host "},
        {"--data planted.ggnn --save c --save-every 3", "rank 1 (host ", "--save-every=3; rank 0 (host "}, /* the last but one of all */
        {"--data planted.ggnn --devices 3", "--devices 3: mpirun started this program", ""}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        char line[400];
        snprintf(line, sizeof line, "%s --epochs 1", other[i][0]);
        CHECK(mpi_train("-n 1 $train --data planted.ggnn --save c --epochs 1", line) != 0);
        CHECK(says(other[i][1]) && says(other[i][2]));
    }
    CHECK(mpi_train("-n 2 $train --data karate.ggnn --pipeline factored", NULL) != 0);
    CHECK(says("--pipeline factored: its devices are threads of one process"));
    CHECK(mpi_train("-n 2 $train --data karate.ggnn --fanout full", NULL) != 0);
    CHECK(says("--fanout full: one device computes the whole graph, here are 2"));
}

typedef struct { /* one of four ranks that compare what they were given */
    comm* c;
    const char* options;
    bool agrees;
    error why;
} party;

static void* agree_with_all(void* context)
{
    party* p = context;
    char words[400], *argv[WORDS_MAX] = {(char*)(uintptr_t) "ggnn-train"}, *state = NULL;
    int argc = 1;
    config c;
    task t;
    snprintf(words, sizeof words, "%s", p->options);
    for (char* word = strtok_r(words, " ", &state); word; word = strtok_r(NULL, " ", &state)) argv[argc++] = word;
    const bool parsed = config_parse(&c, argc, argv, &p->why) == OPTIONS_GOOD && config_finish(&c, &p->why) && task_open(&t, &c, &p->why);
    if (!parsed) {
        comm_fail(p->c, &p->why);
        return NULL;
    }
    p->agrees = agree_on_inputs(p->c, &c, &t, NULL, &p->why);
    task_close(&t);
    return NULL;
}

/* Ranks 0 and 2 have the options `one`, 1 and 3 have `other`. */
static void compare_parties(const char* one, const char* other, party p[4])
{
    static const volatile sig_atomic_t never = 0;
    pthread_t thread[4];
    comm c[4];
    error why = {""};
    CHECK(comm_open_threads(c, 4, &never, &why));
    for (int r = 0; r < 4; r++) {
        p[r] = (party){.c = &c[r], .options = r % 2 ? other : one};
        CHECK_EQ(pthread_create(&thread[r], NULL, agree_with_all, &p[r]), 0);
    }
    for (int r = 0; r < 4; r++) pthread_join(thread[r], NULL);
    comm_close_threads(c, 4);
}

/* Whatever batches, results or calls of each other depend on; of several ranks that differ the least is named, and what both have of
   the option. The rest is each rank's own. */
TEST(ranks_compare_each_option_that_they_share)
{
    static const char* const differ[][3] = { /* of all, of two ranks; what is said after "rank 1: ", of each */
        {"--loss=auto", "--loss=ce", ""}, {"--model=sage", "--model=gcn", ""},
        {"--aggregator=mean", "--aggregator=pool", ""}, {"--layers=3", "--layers=2", ""}, {"--hidden=256", "--hidden=8", ""},
        {"--heads=4", "--heads=2", "--model=gat"}, {"--out-heads=1", "--out-heads=3", "--model=gat"}, {"no --residual", "--residual", ""},
        {"--norm=none", "--norm=layer", ""}, {"--dropout=0.5", "--dropout=0.25", ""}, {"--input-dropout=0", "--input-dropout=0.1", ""},
        {"--attention-dropout=0", "--attention-dropout=0.1", "--model=gat"}, {"--fanout=15,10,5", "--fanout=15,10,4", ""},
        {"--sampler=fisher-yates", "--sampler=reservoir", ""}, {"--batch=1024", "--batch=1023", ""},
        {"--walks=4", "--walks=3", "--sampler=walk"}, {"--walk-length=3", "--walk-length=2", "--sampler=walk"}, {"--walk-restart=0.5", "--walk-restart=0.4", "--sampler=walk"},
        {"--epochs=10", "--epochs=11", ""}, {"--lr=0.003", "--lr=0.0030000000000000005", ""}, {"--lr-schedule=constant", "--lr-schedule=step", ""},
        {"--lr-step=30", "--lr-step=3", "--lr-schedule=step"}, {"--lr-decay=0.1", "--lr-decay=1", "--lr-schedule=step"}, {"--warmup=0", "--warmup=1", ""},
        {"--optimizer=adam", "--optimizer=adamw", ""}, {"--weight-decay=0", "--weight-decay=1", ""}, {"--patience=0", "--patience=1", ""},
        {"--eval=full", "--eval=sampled", ""}, {"--eval-every=1", "--eval-every=0", ""}, {"--eval-memory=4294967296", "--eval-memory=4294967295", ""},
        {"--seed=1", "--seed=9000000000000000000", ""}, {"no --dense-features", "--dense-features", ""},
        {"--precision=fp32", "--precision=tf32", "--backend=cuda"}, {"--parallel=data", "--parallel=split", ""},
        {"--split-sampling=cooperative", "--split-sampling=single", "--parallel=split"}, {"no --split-partial", "--split-partial", "--parallel=split"},
        {"--store=auto", "--store=replica", ""}, {"--gather=pointer", "--gather=exchange", "--store=parts"},
        {"--owners=range", "--owners=hash", "--store=parts"}, {"--balance=vertices", "--balance=edges", "--parallel=split --partition=metis"},
        {"--partition=none", "--partition=pagraph", "--shuffle=global"}, {"--closure-limit=100000", "--closure-limit=1000000000", "--partition=pagraph"},
        {"--shuffle=local", "--shuffle=global", "--partition=pagraph"}, {"--store-graph=1", "--store-graph=0.5", ""},
        {"--store-features=1", "--store-features=0.5", ""}, {"--prefer=graph", "--prefer=features", "--device-memory=9"},
        {"--cache=degree", "--cache=presc", "--cache-ratio=.1"}, {"--cache-ratio=0.1", "--cache-ratio=0.2", "--cache=presc"},
        {"--cache-bytes=100", "--cache-bytes=99999999999", "--cache=presc"}, {"--reserve-bytes=1073741824", "--reserve-bytes=0", "--device-memory=9"},
        {"--device-memory=0", "--device-memory=5", ""}, {"--host-share=0.2", "--host-share=0.3", "--backend=cuda --store-graph=1"},
        {"--unique=auto", "--unique=hash", ""},
        {"--slopes=0,0", "--slopes=900000000000000,900000000000001", "--cache=dual --cache-ratio=.1"},
        {"--presample-epochs=1", "--presample-epochs=10000", "--cache=presc --cache-ratio=.1"}, {"--placement=best", "--placement=clique", "--topology=ring"},
        {"--save-every=1", "--save-every=3", "--save=c"}, {"--save-steps=0", "--save-steps=3", "--save=c"}, {"no --save", "--save=c", ""}};
    static const char* const own[][2] = {{"", "--threads=3"}, {"", "--log=l"}, {"", "--profile"}, {"", "--verify"}, {"", "--pipeline=overlap"}, {"--explain", "--links=3,2,1"}};
    party p[4];
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++) {
        const char *one = strncmp(differ[i][0], "no ", 3) ? differ[i][0] : "", *other = differ[i][1];
        char a[400], b[400], words[400];
        snprintf(a, sizeof a, "--data=planted.ggnn --devices=4 %s %s", differ[i][2], one);
        snprintf(b, sizeof b, "--data=planted.ggnn --devices=4 %s %s", differ[i][2], other);
        compare_parties(a, b, p);
        snprintf(words, sizeof words, "rank 1: %s; rank 0: %s", !strcmp(other, "--save=c") ? "--save" : other, differ[i][0]);
        for (int r = 0; r < 4; r++) {
            CHECK(!p[r].agrees);
            CHECK_STR(p[r].why.text, words);
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        char a[100], b[140];
        snprintf(a, sizeof a, "--data=planted.ggnn --devices=4 %s", own[i][0]);
        snprintf(b, sizeof b, "%s %s", a, own[i][1]);
        compare_parties(a, b, p);
        for (int r = 0; r < 4; r++) CHECK(p[r].agrees && !p[r].why.text[0]);
    }
    compare_parties("--data=planted.ggnn --store=parts --topology=ring", "--data=planted.ggnn --store=parts --topology=none", p);
    CHECK_STR(p[2].why.text, "rank 1: --topology none; rank 0: --topology ring");
    compare_parties("--data=planted.ggnn --store=parts --topology=ring", "--data=planted.ggnn --store=parts", p);
    CHECK_STR(p[2].why.text, "rank 1: no --topology; rank 0: --topology ring");
    static const char* const file[][3] = {
        {"--ranking", "rank planted.ggnn --by degree --out f", "--data=planted.ggnn --devices=4 --store-features=.5"},
        {"--partition-file", "partition planted.ggnn --method hash --parts 4 --out f", "--data=planted.ggnn --devices=4 --parallel=split"},
        {"--topology", "", "--data=planted.ggnn --devices=4 --store=parts"}};
    for (int i = 0; i < 3; i++) { /* a file, and none; each way */
        char with[200], words[100];
        if (i < 2) CHECK_EQ(finish(start("ggnn-data", file[i][1])), 0);
        else write_file("f", "1 2\n2 1\n", 8);
        snprintf(with, sizeof with, "%s %s=f", file[i][2], file[i][0]);
        compare_parties(with, file[i][2], p);
        snprintf(words, sizeof words, "rank 1: no %s; rank 0: %s has checksum ", file[i][0], file[i][0]);
        CHECK(strncmp(p[2].why.text, words, strlen(words)) == 0 && strstr(p[2].why.text, " (f)"));
        compare_parties(file[i][2], with, p);
        snprintf(words, sizeof words, "rank 1: %s has checksum ", file[i][0]);
        CHECK(strncmp(p[2].why.text, words, strlen(words)) == 0 && strstr(p[2].why.text, "; rank 0: no --"));
    }
    compare_parties("--data=planted.ggnn --devices=4", "--data=karate.ggnn --devices=4", p);
    CHECK(!p[2].agrees && strncmp(p[2].why.text, "rank 1: --data has graph ", 25) == 0 && strstr(p[2].why.text, " (planted.ggnn)"));
}

/* Rank 0 works in the folder one, rank 1 in two: a name means another file. */
static int mpi_train_apart(const char* options, const char* other)
{
    char line[2000];
    snprintf(line, sizeof line, "-n 1 -wdir one $train --data ../planted.ggnn --fanout 4,3 --hidden 4 --batch 100 --epochs 3 --threads 1 %s : "
             "-n 1 -wdir two $train --data ../planted.ggnn --fanout 4,3 --hidden 4 --batch 100 --epochs 3 --threads 1 %s", options, other);
    return mpi_train(line, NULL);
}

/* And a third file, in two, is that of one by another name. A rank that differs is named, with the file, by each process. */
TEST(processes_whose_files_differ_are_an_error_that_names_rank_and_file)
{
    if (no_mpi()) SKIP(no_mpi());
    CHECK_EQ(shell("rm -rf one two; mkdir one two; $data rank planted.ggnn --by degree --out one/r && $data rank planted.ggnn --by random --out two/r && "
                   "$data partition planted.ggnn --method hash --parts 2 --out one/p && $data partition planted.ggnn --method mod --parts 2 --out two/p && "
                   "$data partition planted.ggnn --method pagraph --hops 2 --parts 2 --out one/g && "
                   "$data partition planted.ggnn --method pagraph --closure-limit 1 --parts 2 --out two/g && "
                   "echo '700 25\n25 700' >one/t && echo '700 12\n12 700' >two/t && "
                   "for i in one two; do (cat $i/t; yes '' | head -n 20000) >$i/l; done; for i in r p g t l; do cp one/$i two/same.$i; done"), 0);
    for (int i = 1; i <= 2; i++) /* equal weights, other moments and counters */
        CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 4 --batch 100 --lr 0 --epochs %d --save %s/c", i, i > 1 ? "two" : "one"), 0);
    CHECK_EQ(shell("cp one/c two/same.c"), 0);
    static const struct {
        const char *options, *option, *file;
    } of[] = {{"--store parts --store-features .5", "--ranking", "r"}, {"--parallel split", "--partition-file", "p"},
              {"--partition pagraph", "--partition-file", "g"}, {"--store parts", "--topology", "t"},
              {"--store parts", "--topology", "l"} /* alike from byte 12 to its last, 20,000 */, {"", "--resume", "c"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int k = 0; k < (i ? 2 : 3); k++) {
            char options[200], other[200], words[100];
            static const char* const before[] = {"", "same.", "no/such."};
            snprintf(options, sizeof options, "%s %s %s", of[i].options, of[i].option, of[i].file);
            snprintf(other, sizeof other, "%s %s %s%s", of[i].options, of[i].option, before[k], of[i].file);
            if (!CHECK_EQ(mpi_train_apart(options, other), k != 1)) printf("  %s\n%s\n", other, output);
            if (k == 2) CHECK(says("no/such."));
            if (k > 0) continue;
            snprintf(words, sizeof words, "%s has checksum ", of[i].option);
            CHECK_EQ(lines_that_say(words), 4); /* each process names both */
            snprintf(words, sizeof words, " (%s); rank 0 (host ", of[i].file);
            CHECK(says("ggnn-train: rank 1 (host ") && says(words));
        }
    copy_file("one/r", "two/torn.r", -1, file_bytes("one/r") - 4096); /* the table is the same */
    CHECK_EQ(mpi_train_apart("--store parts --store-features .5 --ranking r", "--store parts --store-features .5 --ranking torn.r"), 1);
    CHECK(says(" (torn.r); rank 0 (host "));
}

/* Sums with a checksum of their own are compared; bytes below a table that is as it was by --verify, each host's. */
TEST(processes_whose_data_differ_below_what_is_compared_are_found_by_verify)
{
    if (no_mpi()) SKIP(no_mpi());
    const float other = 3;
    CHECK_EQ(shell("rm -rf one two; mkdir one two; $data preprocess karate.ggnn --model sage --out one/k"), 0);
    poison_of("one/k", "two/k", "pre_feat", 7, &other, sizeof other);
    CHECK_EQ(mpi_train("-n 1 -wdir one $train --data k --preprocess --layers 2 --fanout 4 --epochs 1 : "
                       "-n 1 -wdir two $train --data k --preprocess --layers 2 --fanout 4 --epochs 1", NULL), 1);
    CHECK(says("ggnn-train: rank 1 (host ") && says(", pre_feat checksum ") && says(" (k); rank 0 (host "));
    damage("karate.ggnn", "two/k", "feat");
    for (int verify = 0; verify < 2; verify++)
        CHECK_EQ(mpi_train(verify ? "-n 1 $train --data karate.ggnn --epochs 1 : -n 1 -wdir two $train --data k --epochs 1 --verify" :
                           "-n 1 $train --data karate.ggnn --epochs 1 : -n 1 -wdir two $train --data k --epochs 1", NULL), verify);
    CHECK(says("rank 1 (host ") && says("): --verify: k: damaged section 'feat' ("));
}

/* Neighbours at random in place of planted.ggnn's, below a table that is as it was. */
static void scramble_lists(const char* path)
{
    ggnn_file f;
    copy_file("planted.ggnn", path, -1, -1);
    if (!CHECK(ggnn_file_open(&f, path))) return;
    const ggnn_file_section* s = ggnn_file_find(&f, "indices");
    FILE* out = fopen(path, "r+b");
    CHECK(out && fseek(out, (long)s->offset, SEEK_SET) == 0);
    for (int64_t e = 0; out && e < s->dim[0]; e++) {
        const ggnn_node id = (ggnn_node)test_below(600);
        fwrite(&id, sizeof id, 1, out);
    }
    if (out) fclose(out);
    ggnn_file_close(&f);
}

/* Whoever divides the nodes himself compares the outcome: owners that differ would train some twice, others never. */
TEST(processes_that_divide_nodes_differently_are_an_error_that_names_the_rank)
{
    if (no_mpi()) SKIP(no_mpi());
    static const char* const how[] = {"--partition pagraph", "--parallel split"};
    CHECK_EQ(shell("rm -rf two; mkdir two"), 0);
    scramble_lists("two/planted.ggnn");
    for (int i = 0; i < 2; i++) {
        char line[400];
        snprintf(line, sizeof line, "-n 1 $train --data planted.ggnn --fanout 4,3 --hidden 4 --epochs 1 %s : "
                 "-n 1 -wdir two $train --data planted.ggnn --fanout 4,3 --hidden 4 --epochs 1 %s", how[i], how[i]);
        CHECK_EQ(mpi_train(line, NULL), 1);
        CHECK(says("ggnn-train: rank 1 (host ") && says("--partition: its owners have CRC "));
    }
}

/* Over TCP: the limit of a file is that of MPI's shared memory as well. */
TEST(a_full_disk_or_a_damaged_list_ends_all_processes)
{
    if (no_mpi()) SKIP(no_mpi());
    ggnn_node wrong = 1000;
    CHECK_EQ(train("--data karate.ggnn --fanout 4,3 --hidden 64 --epochs 1 --devices 2 --save c"), 0);
    CHECK_EQ(mpi_train("--mca btl self,tcp -n 2 sh -c 'ulimit -f 40; exec \"$0\" \"$@\"' $train --data karate.ggnn --fanout 4,3 --hidden 64 "
                       "--epochs 2 --save c", NULL), 1);
    if (!CHECK_EQ(lines_that_say(": c: no room"), 2) || !CHECK_EQ(lines_that_say("ggnn-train: "), 2)) printf("  %s\n", output);
    CHECK(whole_file("c"));
    CHECK_EQ(mpi_train("--mca btl self,tcp -n 2 sh -c 'ulimit -f 16; exec \"$0\" \"$@\"' $train --data planted.ggnn --layers 2 --hidden 4 --epochs 1 "
                       "--eval-every 0 --store parts", NULL), 1);
    if (!CHECK_EQ(lines_that_say("ggnn-train: shared memory in /dev/shm: "), 2) || !CHECK_EQ(lines_that_say(" bytes for parts of graph and features: File too large\n"), 2))
        printf("  %s\n", output);
    poison("poisoned.ggnn", "indices", 60, &wrong, sizeof wrong);
    CHECK_EQ(mpi_train("-n 3 $train --data poisoned.ggnn --fanout -1,-1 --hidden 4 --epochs 1 --batch 5", NULL), 1);
    if (!CHECK_EQ(lines_that_say("sampling the neighbours of node "), 3)) printf("  %s\n", output);
    for (int single = 0; single < 2; single++) { /* a part's owner names the node; of a whole batch whoever samples it */
        char line[200];
        snprintf(line, sizeof line, "-n 3 $train --data poisoned.ggnn --fanout -1,-1 --hidden 4 --epochs 1 --batch 5 --parallel split "
                 "--partition hash --split-sampling %s", single ? "single" : "cooperative");
        CHECK_EQ(mpi_train(line, NULL), 1);
        if (!CHECK_EQ(lines_that_say(single ? "sampling the neighbours of node " : "poisoned.ggnn: node "), 3)) printf("  %s\n", output);
    }
}

/* A checkpoint of three threads goes on as two processes, and theirs as one. */
TEST(processes_resume_what_threads_saved)
{
    if (no_mpi()) SKIP(no_mpi());
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices 3 --save c"), 0);
    CHECK_EQ(mpi_train("-n 2 $train --data planted.ggnn --resume c --save c --epochs 3", NULL), 0);
    CHECK_EQ(trainf("--data planted.ggnn --resume c --epochs 4 --log part"), 0);
    CHECK(says("resumed from c after epoch 3"));
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 4 --log whole"), 0);
    CHECK_NEAR(last_number("part", "epoch", "loss"), last_number("whole", "epoch", "loss"), 1e-5);
}

/* Three hosts that share no memory, with two ranks each: rows of evaluation cross them, and each has its own parts; or
   features lie once over all of them. */
TEST(processes_of_three_hosts_give_the_bits_of_six_threads)
{
    if (no_mpi()) SKIP(no_mpi());
    char seen[] = "/tmp/ggnn-hosts-XXXXXX"; /* a folder that the hosts see: not below their own /dev/shm */
    if (!CHECK(mkdtemp(seen) != NULL)) return;
    shell("cp planted.ggnn %s", seen);
    bool possible = true;
    static const char* const how[] = {"--model gat --heads 4 --store parts", "--model sage --layers 3 --fanout 4,3,2 --store shards",
                                      "--model gat --heads 4 --parallel split --store shards", "--model gcn --gather exchange --owners hash",
                                      "--model sage --parallel split --store shards --owners partition --cache degree --cache-ratio .2"};
    for (int i = 0; i < 5 && possible; i++) {
        char options[400], path[64];
        snprintf(options, sizeof options, "--data %s/planted.ggnn --layers 2 --fanout 4,3 --hidden 16 --batch 50 --epochs 2 %s",
                 seen, how[i]);
        CHECK_EQ(trainf("%s --devices 6 %s --log threads", options, i < 3 ? "--store replica" : ""), 0);
        int status = shell("cd '%s' && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 bash tests/hosts.sh $train %s --threads 1 "
                           "--log %s/log", start_folder, options, seen);
        possible = status != 77;
        if (!possible) break;
        if (!CHECK_EQ(status, 0)) printf("  %s\n", output);
        for (int event = 0; event < 2; event++) {
            read_log(&first, "threads", event ? "final" : "epoch");
            snprintf(path, sizeof path, "%s/log", seen);
            read_log(&second, path, event ? "final" : "epoch");
            CHECK(same_records(&first, &second));
        }
    }
    shell("rm -r %s", seen);
    if (!possible) SKIP("hosts.sh cannot run here");
}

/* Number j of the array of rank r in "rows_from". */
static long long row_from(const char* record, int r, int j)
{
    const char* at = strstr(record, "\"rows_from\":[");
    at = at ? at + strlen("\"rows_from\":[") : NULL;
    for (; at && r >= 0; r--) at = strchr(at, '[') ? strchr(at, '[') + 1 : NULL;
    for (; at && j > 0; j--) at = strpbrk(at, ",]") + 1;
    return at ? strtoll(at, NULL, 10) : -1;
}

/* What is hot lies in the parts of each host once: a rank reads of its own and of its neighbour what six threads deal to three
   devices each. Caches and the host's rows are those of threads. */
TEST(ranks_of_three_hosts_read_parts_of_their_own_host)
{
    if (no_mpi()) SKIP(no_mpi());
    char seen[] = "/tmp/ggnn-hosts-XXXXXX", options[400], path[64];
    if (!CHECK(mkdtemp(seen) != NULL)) return;
    shell("cp planted.ggnn %s", seen);
    snprintf(options, sizeof options, "--data %s/planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --eval-every 0 --cache presc "
             "--cache-ratio .1 --store-graph .6 --store-features .4", seen);
    CHECK_EQ(trainf("%s --devices 6 --log threads", options), 0);
    const int status = shell("cd '%s' && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 bash tests/hosts.sh $train %s --threads 1 --log %s/log",
                             start_folder, options, seen);
    if (status != 77 && !CHECK_EQ(status, 0)) printf("  %s\n", output);
    read_log(&first, "threads", "ranks");
    snprintf(path, sizeof path, "%s/log", seen);
    read_log(&second, path, "ranks");
    shell("rm -r %s", seen);
    if (status == 77) SKIP("hosts.sh cannot run here");
    if (!CHECK(first.count == 1 && second.count == 1)) return;
    const char *threads = first.line[0], *hosts = second.line[0];
    for (int r = 0; r < 6; r++) {
        static const char* const kinds[] = {"\"rows\":", "\"lists\":"};
        long long from[2] = {0, 0};
        for (int p = 0; p < 6; p++) from[p % 2] += row_from(threads, r, p);
        for (int p = 0; p < 2; p++) CHECK_EQ(row_from(hosts, r, p), from[p]);
        for (int p = 2; p < 6; p++) CHECK_EQ(row_from(hosts, r, p), 0);
        CHECK_EQ(element_of(strstr(hosts, kinds[0]), "own", r), from[r % 2]);
        CHECK_EQ(element_of(strstr(hosts, kinds[0]), "peer", r), from[1 - r % 2]);
        for (int k = 0; k < 2; k++) {
            const char *a = strstr(threads, kinds[k]), *b = strstr(hosts, kinds[k]);
            CHECK_EQ(element_of(b, "cache", r), element_of(a, "cache", r));
            CHECK_EQ(element_of(b, "host", r), element_of(a, "host", r));
            CHECK_EQ(element_of(b, "own", r) + element_of(b, "peer", r), element_of(a, "own", r) + element_of(a, "peer", r));
        }
    }
}

/* The youngest process of the ranks that log as number `of`. */
static long youngest(long of)
{
    char line[200];
    long process = 0;
    snprintf(line, sizeof line, "ps -C ggnn-train -o pid=,args= --sort=start_time | grep -- '--log killed%ld' | tail -n 1", of);
    FILE* f = popen(line, "r");
    if (f && fscanf(f, "%ld", &process) != 1) process = 0;
    if (f) pclose(f);
    return process;
}

/* Three processes that would train for ever, one of which gets the signal when a checkpoint is there; its exit status. */
static int signal_one(const char* how, int signal_number)
{
    char options[400];
    snprintf(options, sizeof options, "--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 %s", how);
    unlink("c");
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        char line[600];
        snprintf(line, sizeof line, "-n 3 $train %s --epochs 100000 --save c --save-every 0 --save-steps 7 --log killed%ld",
                 options, (long)getppid());
        _exit(mpi_train(line, NULL) & 255);
    }
    for (int i = 0; i < 400 && access("c", F_OK) != 0; i++) nap(.05);
    long process = youngest((long)getpid());
    CHECK(process > 0);
    const double begin = progress_seconds();
    if (process > 0) kill((pid_t)process, signal_number);
    int status = finish(child);
    CHECK(progress_seconds() - begin < 15);
    return status;
}

static void kill_one(const char* how)
{
    const int status = signal_one(how, SIGKILL);
    CHECK(status != 0 && status < 1000);
    CHECK(says("ggnn-train: rank ") && says(": lost"));
    CHECK(whole_file("c"));
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "c"));
    int epoch = (int)((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "counters")))[0];
    ggnn_file_close(&f);
    copy_file("c", "d", -1, -1);
    for (int P = 1; P <= 4; P += 3) {
        CHECK_EQ(trainf("--data planted.ggnn --resume d --epochs %d --devices %d", epoch + 1, P), 0);
        CHECK(says("resumed from d"));
    }
}

TEST(a_process_that_is_killed_ends_all_and_the_last_checkpoint_goes_on)
{
    if (no_mpi()) SKIP(no_mpi());
    kill_one("");
}

TEST(a_process_with_a_part_of_the_batch_that_is_killed_ends_all)
{
    if (no_mpi()) SKIP(no_mpi());
    kill_one("--parallel split");
    kill_one("--parallel split --pipeline overlap");
}

/* One is told to stop: all do, and rank 0 saves where they are. */
TEST(processes_that_are_interrupted_save_and_go_on)
{
    if (no_mpi()) SKIP(no_mpi());
    CHECK_EQ(signal_one("", SIGTERM), 130);
    CHECK(says("saved, go on with --data planted.ggnn --resume c --save c"));
    CHECK(whole_file("c"));
    CHECK_EQ(train("--data planted.ggnn --resume c --epochs 0"), 0);
    CHECK_EQ(signal_one("", SIGINT), 130);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(31);
    if (!getcwd(start_folder, sizeof start_folder)) return 1;
    if (!train_tool_begin()) return 1;
    RUN(losses_of_the_first_20_steps_are_those_of_one_device);
    RUN_SLOW(losses_of_20_steps_by_parts_of_a_batch_are_those_by_slices);
    RUN(accuracy_by_parts_of_a_batch_is_that_by_slices);
    RUN_SLOW(accuracy_after_three_epochs_does_not_depend_on_the_number_of_devices);
    RUN_SLOW(evaluation_gives_the_bits_of_one_device);
    RUN(evaluation_in_several_chunks_gives_the_bits_of_one_device);
    RUN(runs_on_one_number_of_devices_write_one_log);
    RUN(runs_by_parts_of_a_batch_write_one_log);
    RUN(the_log_says_that_parts_of_a_batch_compute_and_load_nothing_twice);
    RUN(edges_of_parts_of_a_batch_count_where_their_lists_lie);
    RUN(the_profiles_tables_have_the_logs_counts_and_their_sums);
    RUN(the_profile_says_how_much_of_an_epoch_each_step_computes);
    RUN(owners_by_metis_are_those_of_a_file_and_balance_what_is_asked);
    RUN(parts_of_graph_and_features_give_the_bits_of_replicas);
    RUN(rows_by_exchange_give_the_bits_of_replicas);
    RUN(a_cache_before_the_exchange_takes_what_it_takes_before_the_host);
    RUN(rows_that_are_sent_lie_where_they_are_computed);
    RUN(owners_by_modulo_and_hash_give_the_bits_of_ranges);
    RUN(devices_that_sample_for_others_write_the_log_of_one_fewer);
    RUN(slices_of_several_epochs_are_each_counted_once);
    RUN(the_last_devices_sample_for_the_first);
    RUN(bytes_sent_are_those_of_gradients_and_rows);
    RUN(a_run_is_resumed_by_another_number_of_devices);
    RUN(a_run_by_parts_of_a_batch_is_resumed_by_slices);
    RUN(parts_of_a_batch_go_with_sampled_evaluation_and_preprocessing);
    RUN(four_devices_that_are_interrupted_go_on_bit_for_bit_within_an_epoch);
    RUN(devices_with_parts_of_a_batch_are_interrupted_and_go_on_as_well);
    RUN(devices_that_sample_for_others_are_interrupted_and_go_on_as_well);
    RUN(a_killed_run_goes_on_from_the_last_of_every_five_steps);
    RUN(full_batch_on_several_devices_is_an_error_that_says_what_to_use);
    RUN(parts_of_a_batch_that_cannot_be_are_errors_that_say_why);
    RUN_SLOW(a_device_that_gets_no_memory_ends_all);
    RUN_SLOW(a_part_of_a_batch_that_gets_no_memory_ends_all);
    RUN_SLOW(a_sampler_or_trainer_that_gets_no_memory_ends_all);
    RUN(a_stage_that_fails_ends_all_devices_and_the_checkpoint_stays);
    RUN(factored_where_it_cannot_be_is_an_error_that_says_why);
    RUN(devices_end_in_good_order_where_no_descriptor_is_left);
    RUN(a_full_disk_ends_all_devices_and_the_old_checkpoint_stays);
    RUN(a_damaged_list_ends_all_devices_and_names_the_node);
    RUN(processes_give_the_bits_of_threads);
    RUN_SLOW(processes_evaluate_a_net_of_one_layer);
    RUN(ranks_compare_each_option_that_they_share);
    RUN(processes_share_the_cores);
    RUN_SLOW(processes_that_differ_are_an_error_that_names_rank_and_difference);
    RUN_SLOW(processes_whose_files_differ_are_an_error_that_names_rank_and_file);
    RUN_SLOW(processes_that_divide_nodes_differently_are_an_error_that_names_the_rank);
    RUN_SLOW(processes_whose_data_differ_below_what_is_compared_are_found_by_verify);
    RUN_SLOW(a_full_disk_or_a_damaged_list_ends_all_processes);
    RUN(processes_resume_what_threads_saved);
    RUN_SLOW(processes_of_three_hosts_give_the_bits_of_six_threads);
    RUN_SLOW(ranks_of_three_hosts_read_parts_of_their_own_host);
    RUN(processes_that_are_interrupted_save_and_go_on);
    RUN(a_process_that_is_killed_ends_all_and_the_last_checkpoint_goes_on);
    RUN(a_process_with_a_part_of_the_batch_that_is_killed_ends_all);
    folder_remove();
    return test_finish();
}
