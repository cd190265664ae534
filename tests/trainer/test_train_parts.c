/* Devices that train on parts of a graph, a file each (ggnn-data partition --extract): the bits of the whole graph, and what they
   cannot do. */
#include "tests/train_tool.h"
#include "trainer/ranks/comm.h"

static const char shared[] = "--hidden 8 --batch 60 --epochs 2 --eval-every 0 --threads 1";

static int data(const char* line) { return finish(start("ggnn-data", line)); }

/* whole.part, and whole.part.{r} of whole.ggnn. */
static void extract(int parts, int hops)
{
    char line[200];
    for (int p = 0; p < 4; p++) {
        snprintf(line, sizeof line, "whole.part.%d", p);
        remove(line);
    }
    snprintf(line, sizeof line, "partition whole.ggnn --method pagraph --extract --parts %d --hops %d --out whole.part", parts, hops);
    CHECK_EQ(data(line), 0);
}

/* The graph with weights, which no generator gives. */
static void make_weighted(void)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK_EQ(data("generate planted plain.ggnn --nodes 900 --edges 3600 --features 12 --train .1"), 0);
    CHECK(ggnn_file_open(&f, "plain.ggnn") && ggnn_file_create(&w, "whole.ggnn"));
    for (int32_t i = 0; i < f.num_sections; i++) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    float* weight = ggnn_file_reserve(&w, "weight", GGNN_FILE_F32, 1, ggnn_file_find(&f, "indices")->dim);
    for (int64_t e = 0; e < ggnn_file_find(&f, "indices")->dim[0]; e++) weight[e] = (float)(e % 7);
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* Two checkpoints of equal runs: options, parameters, moments, checksums of the data. */
static bool same_files(const char* a, const char* b) { return CHECK_EQ(shell("cmp %s %s", a, b), 0) != 0; }

/* The whole graph is hidden meanwhile. */
static bool trains_as_the_whole(const char* options, int parts)
{
    bool good = CHECK_EQ(trainf("--data whole.ggnn --partition pagraph --partition-file whole.part --devices %d %s %s --save of.whole --log log.whole",
                                parts, shared, options), 0);
    CHECK(rename("whole.ggnn", "hidden") == 0);
    good = CHECK_EQ(trainf("--data whole.part.{r} --devices %d %s %s --save of.parts --log log.parts", parts, shared, options), 0) && good;
    CHECK(rename("hidden", "whole.ggnn") == 0);
    read_log(&first, "log.whole", "epoch");
    read_log(&second, "log.parts", "epoch");
    good = good && same_records(&first, &second) && first.count == 2 && same_files("of.whole", "of.parts");
    if (!good) printf("  %d parts: %s\n%s", parts, options, output);
    return good;
}

TEST(devices_train_on_parts_to_the_bits_of_the_whole_graph)
{
    static const char* const options[] = {"--model sage --fanout 4,3", "--model gcn --fanout 4,3", "--model gat --heads 2 --fanout 5,2",
                                          "--model gcn --fanout=-1,-1", "--model sage --aggregator pool --fanout 3,3 --dropout .3",
                                          "--model sage --fanout 3,3 --sampler weighted", "--model gcn --fanout 3,3 --sampler replacement",
                                          "--model sage --fanout 3,3 --sampler reservoir", "--model sage --fanout 3,3 --sampler rejection",
                                          "--model sage --fanout 3,3 --sampler path-doubling", "--model sage --fanout 3", "--model mlp",
                                          "--model sage --fanout 4,3 --pipeline overlap"};
    for (int parts = 2; parts < 5; parts += 2) {
        extract(parts, 2);
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) trains_as_the_whole(options[i], parts);
    }
    extract(3, 3);
    trains_as_the_whole("--model gcn --fanout 3,2,2", 3);
}

/* A cache has rows of the part, and its hits are those of the whole graph's; but where equal counts are told apart by degrees,
   which a part has of its lists alone (the last three). */
TEST(tiers_of_a_part_hold_its_rows_and_hit_as_often)
{
    static const char* const cache[] = {"--cache degree --cache-ratio .1", "--cache degree --cache-ratio 1", "--cache degree --cache-bytes 0",
                                        "--store-features 0", "--cache random --cache-ratio .05", "--cache presc --cache-ratio .1",
                                        "--cache dual --cache-ratio .1", "--cache optimal --cache-ratio .1"};
    enum { ALIKE = 5 };
    extract(3, 2);
    for (size_t i = 0; i < sizeof cache / sizeof *cache; i++) {
        char options[200];
        snprintf(options, sizeof options, "--model sage --fanout 4,3 --store replica %s", cache[i]);
        trains_as_the_whole(options, 3);
        read_log(&first, "log.whole", "ranks");
        read_log(&second, "log.parts", "ranks");
        if (!CHECK(first.count == 1 && second.count == 1)) return;
        static const char* const kind[] = {"\"rows\":", "\"lists\":"};
        static const char* const tier[] = {"cache", "own", "peer", "host"};
        for (int k = 0; i < ALIKE && k < 2 * 4 * 3; k++) {
            const double whole = element(first.line[0], kind[k / 12], tier[k / 3 % 4], k % 3);
            if (!CHECK_EQ(element(second.line[0], kind[k / 12], tier[k / 3 % 4], k % 3), whole)) printf("  %s: %s %s\n", cache[i], kind[k / 12], tier[k / 3 % 4]);
        }
        CHECK(strstr(second.line[0], "\"rows_from\":[[0,0,0],[0,0,0],[0,0,0]]") != NULL);
    }
}

/* What was trained on parts is a training of the whole graph, too. */
TEST(a_training_on_parts_goes_on_over_the_whole_graph)
{
    extract(2, 2);
    CHECK_EQ(trainf("--data whole.part.{r} --devices 2 --fanout 3,3 %s --save c", shared), 0);
    CHECK_EQ(trainf("--data whole.ggnn --devices 2 --resume c --partition-file whole.part --epochs 3 --save d"), 0);
    CHECK_EQ(trainf("--data whole.part.{r} --devices 2 --resume c --epochs 3 --eval-every 0 --save e"), 0);
    CHECK_EQ(trainf("--data whole.ggnn --devices 2 --resume c --partition-file whole.part --epochs 3 --eval-every 0 --save f"), 0);
    same_files("e", "f");
}

/* The figures of the file are those that the whole graph gives. */
TEST(what_a_device_trains_on_is_said)
{
    extract(3, 2);
    CHECK_EQ(trainf("--data whole.ggnn --partition pagraph --partition-file whole.part --devices 3 --fanout 3,3 %s --log log.whole", shared), 0);
    CHECK_EQ(trainf("--data whole.part.{r} --devices 3 --fanout 3,3 %s --log log.parts", shared), 0);
    CHECK(says("part 0 of 3: rows of ") && says("each device has a part of its own, and no other's data\n"));
    read_log(&first, "log.whole", "partition");
    read_log(&second, "log.parts", "partition");
    CHECK(same_records(&first, &second));
    CHECK_EQ(last_number("log.parts", "start", "part"), 0);
    const double rows = last_number("log.parts", "start", "rows");
    CHECK(strstr(second.line[0], "\"held\":[") && element(second.line[0], "", "held", 0) == rows);
    const double graph = last_number("log.parts", "start", "graph_crc");
    CHECK_EQ(last_number("log.whole", "start", "graph_crc"), graph);
}

/* ==== what a part cannot do ====================================================================================== */

TEST(what_a_part_cannot_do_is_an_error_that_says_why)
{
    static const struct {
        const char *options, *words;
    } of[] = {
        {"--eval-every 1", "whole.part.0: full evaluations (--eval-every 0: none) read the "},
        {"--eval-every 1 --eval sampled", "whole.part.0: its validation nodes read the "},
        {"--shuffle global", "part 0 of 3 of a graph trains by --shuffle local alone"},
        {"--partition-file whole.part", "part 0 of 3 of a graph trains without --partition-file"},
        {"--store parts", "trains without --store parts, shards and --gather exchange"},
        {"--store shards", "trains without --store parts, shards and --gather exchange"},
        {"--gather exchange", "trains without --store parts, shards and --gather exchange"},
        {"--topology ring", "trains without --topology"},
        {"--store-features .5", "trains with --cache or --store-features 0 in tiers"},
        {"--store-graph .5", "trains with --cache or --store-features 0 in tiers"},
        {"--cache dual --cache-ratio .1 --slopes measure", "trains without --slopes measure"},
        {"--preprocess", "trains without --preprocess"},
        {"--parallel split", "trains by --partition pagraph alone"},
        {"--fanout 3,3,3", "it has 2 hops around its training nodes, and --layers 3 samples 3: ggnn-data partition --extract --hops 3"},
        {"--devices 2", "whole.part.0: it is one of 3 parts, here are 2 devices: give it --devices 3"},
        {"--devices 4", "whole.part.3: cannot open"},
        {"--save whole.part.2", "--save whole.part.2: that is the data"},
        {"--log whole.part.1", "--log whole.part.1: that is the data"}};
    extract(3, 2);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const char* more = strstr(of[i].options, "--fanout") || strstr(of[i].options, "--preprocess") ? "" : "--fanout 3,3";
        const int status = trainf("--data whole.part.{r} --devices 3 %s %s %s", strstr(of[i].options, "--eval") ? "" : "--eval-every 0", more, of[i].options);
        if (!CHECK(status == 1 || status == 2) || !CHECK(says(of[i].words))) printf("  %s\n", of[i].options);
    }
    CHECK_EQ(train("--data whole.part.1 --devices 3 --fanout 3,3 --eval-every 0"), 1);
    CHECK(says("part 1 of 3 of a graph trains by --partition pagraph alone"));
    CHECK_EQ(train("--data whole.part.0 --devices 3 --partition pagraph --fanout 3,3 --eval-every 0"), 1);
    CHECK(says("whole.part.0: it is part 0 of 3, and device 1 trains on part 1: name the files by their numbers"));
}

/* Validation nodes that the part has, with all that they reach, may be evaluated. */
TEST(validation_nodes_within_the_part_are_evaluated)
{
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "whole.ggnn"));
    const int64_t n = ggnn_file_find(&f, "split")->dim[1];
    uint8_t* split = malloc((size_t)n);
    memcpy(split, ggnn_file_data(&f, ggnn_file_find(&f, "split")), (size_t)n);
    ggnn_file_writer w;
    for (int64_t v = 0; v < n; v++) split[v] = split[v] == SPLIT_TRAIN ? SPLIT_TRAIN : SPLIT_NONE;
    CHECK(ggnn_file_create(&w, "trains.ggnn"));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        if (strcmp(s->name, "split")) CHECK(ggnn_file_copy(&w, &f, s));
        else CHECK(ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, s->dim, split));
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    free(split);
    CHECK_EQ(data("partition trains.ggnn --method pagraph --extract --parts 2"), 0);
    CHECK_EQ(train("--data trains.ggnn.part.{r} --devices 2 --fanout 3,3 --epochs 1 --eval sampled"), 0);
    CHECK(says("no validation node has a label"));
}

/* ==== parts that do not belong together =========================================================================== */

TEST(parts_of_two_graphs_or_divisions_are_refused)
{
    extract(2, 2);
    CHECK_EQ(data("generate planted other.ggnn --nodes 900 --edges 3600 --features 12 --train .1 --seed 9"), 0);
    CHECK_EQ(data("partition other.ggnn --method pagraph --extract --parts 2 --out other.part"), 0);
    copy_file("whole.part.0", "mixed.0", -1, -1);
    copy_file("other.part.1", "mixed.1", -1, -1);
    CHECK_EQ(trainf("--data mixed.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("mixed.0 and mixed.1 are parts of two graphs: --data has graph "));
    CHECK_EQ(data("partition whole.ggnn --method pagraph --extract --parts 2 --closure-limit 1 --out again.part"), 0);
    copy_file("again.part.1", "mixed.1", -1, -1);
    CHECK_EQ(trainf("--data mixed.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("mixed.0 and mixed.1 are parts of one graph that was divided in two ways: their owners have CRC "));
    copy_file("whole.part.0", "mixed.1", -1, -1);
    CHECK_EQ(trainf("--data mixed.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("mixed.1: it is part 0 of 2, and device 1 trains on part 1"));
    copy_file("whole.part.1", "mixed.1", file_bytes("whole.part.1") / 2, -1);
    CHECK_EQ(trainf("--data mixed.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("mixed.1: "));
}

/* The part's bytes are changed, and have good checksums. */
TEST(a_part_that_lies_is_refused_before_a_row_is_read)
{
    const ggnn_node far = 899;
    const int64_t many = 5;
    const int32_t two = 2;
    extract(2, 2);
    copy_file("whole.part.0", "lies.0", -1, -1);
    poison_of("whole.part.1", "lies.1", "part_id", 0, &far, sizeof far);
    CHECK_EQ(trainf("--data lies.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("lies.1: section 'part_id': entry "));
    poison_of("whole.part.1", "lies.1", "part_of", 3, &many, sizeof many);
    CHECK_EQ(trainf("--data lies.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("lies.1: section 'part_of': part 5 of 2"));
    poison_of("whole.part.1", "lies.1", "owner", 3, &two, sizeof two);
    CHECK_EQ(trainf("--data lies.{r} --devices 2 --fanout 3,3 %s", shared), 1);
    CHECK(says("lies.1: section 'owner': node 3 is part 2's, of 2"));
    ggnn_file f;
    CHECK(ggnn_file_open(&f, "whole.part.1"));
    copy_file("whole.part.1", "lies.1", -1, ggnn_file_find(&f, "feat")->offset + 99);
    ggnn_file_close(&f);
    CHECK_EQ(trainf("--data lies.{r} --devices 2 --fanout 3,3 %s --verify", shared), 1);
    CHECK(says("--verify: lies.1: damaged section 'feat'"));
}

TEST(processes_train_on_parts_as_threads_do)
{
    static const char mpirun[] = "export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 OMPI_MCA_mpi_yield_when_idle=1; exec timeout -k 5 120 mpirun "
                                 "--oversubscribe --allow-run-as-root -n 2 $train";
    const char* ci = getenv("CI");
    const bool mpi = comm_mpi_name() && system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") == 0;
    CHECK(mpi || !ci || strcmp(ci, "true") != 0);
    if (!mpi) SKIP("no Open MPI");
    extract(2, 2);
    CHECK_EQ(trainf("--data whole.part.{r} --devices 2 --fanout 3,3 %s --log threads --save t", shared), 0);
    CHECK_EQ(shell("%s --data whole.part.{r} --fanout 3,3 %s --log processes --save p </dev/null", mpirun, shared), 0);
    read_log(&first, "threads", "epoch");
    read_log(&second, "processes", "epoch");
    CHECK(same_records(&first, &second) && same_files("t", "p"));
    CHECK_EQ(data("partition whole.ggnn --method pagraph --extract --parts 2 --closure-limit 1 --out again.part"), 0);
    copy_file("whole.part.0", "mixed.0", -1, -1);
    copy_file("again.part.1", "mixed.1", -1, -1);
    CHECK_EQ(shell("%s --data mixed.{r} --fanout 3,3 %s </dev/null", mpirun, shared), 1);
    CHECK(says("--partition: its owners have CRC "));
    CHECK_EQ(shell("%s --data whole.part.1 --partition pagraph --fanout 3,3 %s </dev/null", mpirun, shared), 1);
    CHECK(says("whole.part.1: it is part 1 of 2, and device 0 trains on part 0"));
}

TEST(training_on_parts_survives_any_failing_allocation)
{
    int status = 1;
    extract(2, 2);
    for (int n = 1; status == 1 && n < 1000; n++) {
        char text[24];
        snprintf(text, sizeof text, "%d", n);
        fail_allocation = text;
        status = train("--data whole.part.{r} --devices 2 --model gcn --fanout 3,2 --hidden 4 --epochs 1 --eval-every 0 --cache degree --cache-ratio .1");
        fail_allocation = NULL;
        if (status == 1) CHECK(says("out of memory"));
    }
    CHECK_EQ(status, 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    make_weighted();
    RUN(devices_train_on_parts_to_the_bits_of_the_whole_graph);
    RUN(tiers_of_a_part_hold_its_rows_and_hit_as_often);
    RUN(a_training_on_parts_goes_on_over_the_whole_graph);
    RUN(what_a_device_trains_on_is_said);
    RUN(what_a_part_cannot_do_is_an_error_that_says_why);
    RUN(validation_nodes_within_the_part_are_evaluated);
    RUN(parts_of_two_graphs_or_divisions_are_refused);
    RUN(a_part_that_lies_is_refused_before_a_row_is_read);
    RUN(processes_train_on_parts_as_threads_do);
    RUN_SLOW(training_on_parts_survives_any_failing_allocation);
    folder_remove();
    return test_finish();
}
