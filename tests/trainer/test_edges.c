/* --edge-features: the same losses wherever rows of edges lie and whoever computes, what a checkpoint keeps of them, and what
   cannot read them. */
#include "tests/edge_rows.h"
#include "tests/train_tool.h"

static const char shared[] = "--data edges.ggnn --edge-features --hidden 8 --batch 60 --fanout 4,3 --epochs 2";

static const char* const model[] = {"--model sage", "--model gat --heads 2 --out-heads 2 --attention-dropout .2"};

static bool same_epochs(const char* a, const char* b)
{
    read_log(&first, a, "epoch");
    read_log(&second, b, "epoch");
    leave_out(&first, "device_memory_bytes");
    leave_out(&second, "device_memory_bytes");
    return same_records(&first, &second);
}

static bool trains_alike(const char* base, const char* options)
{
    bool good = CHECK_EQ(trainf("%s %s --log other", shared, options), 0) != 0;
    good = good && same_epochs(base, "other");
    if (!good) printf("  %s\n%s", options, output);
    return good;
}

TEST(losses_are_the_same_bits_wherever_rows_of_edges_lie)
{
    static const char* const alone[] = {"--threads 3", "--pipeline overlap", "--store-graph 0 --store-features 0",
                                        "--store-graph .3 --cache presc --cache-ratio .3", "--cache dual --cache-ratio .4 --eval-memory 0",
                                        "--pipeline factored --devices 2 --samplers 1"};
    static const char* const three[] = {"--store parts", "--store parts --owners hash", "--store-graph .5 --cache degree --cache-ratio .2",
                                        "--pipeline overlap", "--pipeline factored --devices 4 --samplers 2",
                                        "--store-edges .4 --cache-edges .2", "--store-features .3 --cache-edges 1",
                                        "--pipeline factored --devices 4 --samplers 1 --store-edges .7"};
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        char options[200];
        CHECK_EQ(trainf("%s %s --threads 1 --log one", shared, model[m]), 0);
        for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) {
            snprintf(options, sizeof options, "%s %s", model[m], alone[i]);
            trains_alike("one", options);
        }
        CHECK_EQ(trainf("%s %s --devices 3 --log three", shared, model[m]), 0);
        for (size_t i = 0; i < sizeof three / sizeof *three; i++) {
            snprintf(options, sizeof options, "%s %s%s", model[m], strstr(three[i], "--devices") ? "" : "--devices 3 ", three[i]);
            trains_alike("three", options);
        }
    }
}

static int64_t of_log(const char* group, const char* member, int devices)
{
    int64_t sum = 0;
    for (int r = 0; r < devices; r++) sum += logged_in(&second, group, member, r);
    return sum;
}

/* Of P devices each has a P-th of what parts store, as the whole has it, and the first ones in its cache. What is read of each tier is read of it
   alone: of parts and caches together as many rows as of one device's host. */
TEST(rows_of_edges_lie_where_options_say_and_are_counted)
{
    enum { P = 3 };
    char note[200];
    CHECK_EQ(trainf("%s --devices %d --store-edges 0 --log host", shared, P), 0);
    read_log(&second, "host", "tiers");
    const int64_t E = logged_in(&second, "edge_rows", "host", 0);
    read_log(&second, "host", "ranks");
    const int64_t reads = of_log("edge_rows", "host", P);
    CHECK(E > 0 && reads > 0 && of_log("edge_rows", "cache", P) + of_log("edge_rows", "own", P) + of_log("edge_rows", "peer", P) == 0);
    CHECK_EQ(of_log("edge_row_bytes", "host", P), reads * 5 * 4);
    trains_alike("host", "--devices 3 --store-edges .5 --cache-edges .25");
    read_log(&second, "other", "tiers");
    const int64_t cached = E / 4, stored = E / 2;
    for (int r = 0; r < P; r++) {
        CHECK_EQ(logged_in(&second, "edge_rows", "cache", r), cached);
        CHECK_EQ(logged_in(&second, "edge_rows", "own", r) + logged_in(&second, "edge_rows", "peer", r), stored);
        CHECK(logged_in(&second, "edge_rows", "own", r) - stored / P <= 1 && logged_in(&second, "edge_rows", "own", r) >= stored / P);
        CHECK_EQ(logged_in(&second, "edge_rows", "host", r), E - stored);
    }
    read_log(&second, "other", "ranks");
    const double all = (double)reads;
    CHECK_EQ(of_log("edge_rows", "cache", P) + of_log("edge_rows", "own", P) + of_log("edge_rows", "peer", P) + of_log("edge_rows", "host", P), reads);
    CHECK_NEAR((double)of_log("edge_rows", "cache", P) / all, .25, .05);
    CHECK_NEAR((double)of_log("edge_rows", "host", P) / all, .25, .05);
    trains_alike("host", "--devices 3 --store parts");
    read_log(&second, "other", "ranks");
    CHECK(of_log("edge_rows", "own", P) > 0 && of_log("edge_rows", "own", P) + of_log("edge_rows", "peer", P) == reads);
    CHECK_EQ(trainf("%s --devices 7 --log seven", shared), 0); /* which do not divide E */
    trains_alike("seven", "--devices 7 --store parts");
    CHECK(E % 7 > 0);
    trains_alike("host", "--devices 4 --pipeline factored --samplers 1 --store-edges .5 --cache-edges .25");
    read_log(&second, "other", "tiers");
    CHECK_EQ(logged_in(&second, "edge_rows", "own", 3) + logged_in(&second, "edge_rows", "cache", 3), 0); /* who samples has no rows */
    CHECK_EQ(logged_in(&second, "edge_rows", "host", 3), E);
    CHECK(logged_in(&second, "edge_rows", "own", 0) == stored / P && logged_in(&second, "edge_rows", "cache", 0) == cached);
    trains_alike("host", "--devices 4 --store replica --pipeline factored --samplers 1 --store-edges .5 --cache-edges .25");
    read_log(&second, "other", "tiers");
    CHECK_EQ(logged_in(&second, "edge_rows", "own", 3) + logged_in(&second, "edge_rows", "cache", 3), 0);
    CHECK(logged_in(&second, "edge_rows", "own", 0) == stored && logged_in(&second, "edge_rows", "cache", 0) == cached);
    /* roles that are fixed after an epoch leave fewer parts, in the same memory */
    CHECK_EQ(trainf("%s --devices 4 --pipeline factored --samplers 0 --store parts --store-edges 1 --device-memory 46000 --reserve-bytes 0 --log other", shared), 0);
    read_log(&second, "other", "tiers");
    for (int r = 0; r < 4; r++) CHECK(logged_in(&second, "edge_row_bytes", "own", r) <= 46000);
    trains_alike("host", "--devices 3 --store-edges 1 --cache-edges .1");
    read_log(&second, "other", "tiers");
    CHECK_EQ(logged_in(&second, "edge_rows", "own", 0) + logged_in(&second, "edge_rows", "peer", 0), E - E / 10); /* the others are in every cache */
    trains_alike("host", "--devices 3 --store-graph 0 --store-features 0 --store-edges 1 --cache-edges .1 --device-memory 3000 --reserve-bytes 0"); /* 20 bytes a row */
    snprintf(note, sizeof note, ": 0 of %lld rows of edges are stored and 150 of %lld cached, as the device has no room for more", (long long)(E - E / 10), (long long)(E / 10));
    CHECK(says(note));
    trains_alike("host", "--devices 3 --cache-edges .1 --device-memory 24000 --reserve-bytes 0"); /* lists and rows have the rest */
    read_log(&second, "other", "tiers");
    CHECK_EQ(logged_in(&second, "edge_row_bytes", "cache", 0), E / 10 * 20);
    CHECK(logged_in(&second, "list_bytes", "own", 0) + logged_in(&second, "row_bytes", "own", 0) <= 24000 - E / 10 * 20);
    trains_alike("host", "--devices 3 --store-graph 0 --store-features 0 --store-edges 1 --device-memory 3000 --reserve-bytes 0");
    snprintf(note, sizeof note, ": 450 of %lld rows of edges are stored and 0 of 0 cached, as the device has no room for more", (long long)E);
    CHECK(says(note));
}

/* Each part's file has the rows of its edges (ggnn-data partition --extract). */
TEST(devices_that_train_on_parts_have_the_rows_of_their_edges)
{
    CHECK_EQ(finish(start("ggnn-data", "partition edges.ggnn --method pagraph --extract --parts 2 --hops 2 --out edges.part")), 0);
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        CHECK_EQ(trainf("%s %s --devices 2 --partition pagraph --partition-file edges.part --eval-every 0 --log whole", shared, model[m]), 0);
        CHECK_EQ(trainf("%s %s --data edges.part.{r} --devices 2 --partition pagraph --eval-every 0 --log parts", shared, model[m]), 0);
        CHECK(same_epochs("whole", "parts"));
    }
}

/* Full evaluation reads the rows of whole lists, as sampled evaluation of all neighbours does. */
TEST(both_evaluations_see_the_same_rows)
{
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        CHECK_EQ(trainf("%s %s --fanout=-1,-1 --eval full --log full", shared, model[m]), 0);
        CHECK_EQ(trainf("%s %s --fanout=-1,-1 --eval sampled --log sampled", shared, model[m]), 0);
        CHECK(same_epochs("full", "sampled"));
        CHECK_EQ(trainf("%s %s --fanout=-1,-1 --eval full --devices 3 --log several", shared, model[m]), 0);
        const double one = last_number("full", "epoch", "val_loss"), several = last_number("several", "epoch", "val_loss");
        CHECK_NEAR(several, one, 1e-5 * one);
    }
}

/* They are read: other rows, other losses; halves of the same values, the same ones; and none, none. */
TEST(losses_follow_the_rows)
{
    add_edges("planted.ggnn", "halves.ggnn", GGNN_FILE_F16, 5, 1);
    add_edges("planted.ggnn", "others.ggnn", GGNN_FILE_F32, 5, -1);
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        char options[200];
        CHECK_EQ(trainf("%s %s --log one", shared, model[m]), 0);
        snprintf(options, sizeof options, "%s --data halves.ggnn", model[m]);
        trains_alike("one", options);
        const double loss = last_number("one", "epoch", "loss");
        CHECK_EQ(trainf("%s %s --data others.ggnn --log other", shared, model[m]), 0);
        CHECK(fabs(last_number("other", "epoch", "loss") - loss) > 1e-6);
    }
    CHECK_EQ(train("--data edges.ggnn --hidden 8 --batch 60 --fanout 4,3 --epochs 2 --log without"), 0);
    CHECK_EQ(train("--data planted.ggnn --hidden 8 --batch 60 --fanout 4,3 --epochs 2 --log plain"), 0);
    CHECK(same_epochs("without", "plain"));
}

TEST(a_checkpoint_goes_on_over_the_same_rows_alone)
{
    add_edges("planted.ggnn", "others.ggnn", GGNN_FILE_F32, 5, -1);
    add_edges("planted.ggnn", "wider.ggnn", GGNN_FILE_F32, 6, 1);
    for (size_t m = 0; m < sizeof model / sizeof *model; m++) {
        CHECK_EQ(trainf("%s %s --epochs 4 --save whole", shared, model[m]), 0);
        CHECK_EQ(trainf("%s %s --save half", shared, model[m]), 0);
        CHECK_EQ(train("--data edges.ggnn --resume half --epochs 4 --save again"), 0);
        CHECK_EQ(shell("cmp whole again"), 0);
    }
    CHECK_EQ(train("--data others.ggnn --resume half --epochs 4"), 1);
    CHECK(says("was trained with another section 'edge_feat' (checksum ") && says("others.ggnn (checksum "));
    CHECK_EQ(train("--data wider.ggnn --resume half --epochs 4"), 1);
    CHECK_EQ(train("--data planted.ggnn --resume half --epochs 4"), 1);
    CHECK(says("--edge-features: planted.ggnn has no features of edges (section 'edge_feat')"));
    CHECK_EQ(train("--data planted.ggnn --hidden 8 --batch 60 --fanout 4,3 --epochs 2 --save plain"), 0);
    CHECK_EQ(train("--data others.ggnn --resume plain --epochs 3"), 0); /* which reads none */
    CHECK_EQ(train("--data others.ggnn --edge-features --resume plain --epochs 3"), 2);
    CHECK(says("--edge-features true contradicts plain, which was trained with --edge-features false"));
}

TEST(damaged_rows_of_edges_are_found_where_they_are_read)
{
    damage("edges.ggnn", "damaged.ggnn", "edge_feat");
    CHECK_EQ(trainf("%s --data damaged.ggnn --verify", shared), 1);
    CHECK(says("--verify: ") && says("edge_feat"));
    CHECK_EQ(train("--data damaged.ggnn --verify --hidden 8 --fanout 4,3 --epochs 1"), 0);
}

TEST(what_cannot_read_rows_of_edges_says_so)
{
    static const struct {
        const char *options, *sentence;
    } of[] = {
        {"--model gcn", "--edge-features: needs --model sage or gat, which alone read them"},
        {"--model mlp", "--edge-features: needs --model sage or gat, which alone read them"},
        {"--aggregator pool", "--edge-features: needs --aggregator mean, which alone of GraphSAGE's reads them"},
        {"--sampler walk", "--edge-features: --sampler walk takes nodes, not edges of a list, so there is no row to read"},
        {"--fanout full", "--edge-features: with --fanout full the whole graph is one batch, which has no positions"},
        {"--preprocess --layers 3", "--edge-features: what --preprocess has summed of the first layer has no features of edges"},
        {"--parallel split --devices 2", "--edge-features: --parallel split moves rows of nodes alone; use --parallel data"},
        {"--devices 2 --gather exchange", "--edge-features: with --gather exchange, and --store shards, rows of nodes alone are sent"},
        {"--store shards", "--edge-features: with --gather exchange, and --store shards, rows of nodes alone are sent"},
        {"--explain", "--edge-features: --explain does not count what is read of edges"},
        {"--trace-step 1", "--edge-features: --trace-step prints rows of nodes alone"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        CHECK_EQ(trainf("%s %s", shared, of[i].options), 2);
        if (!CHECK(says(of[i].sentence))) printf("  %s: %s", of[i].options, output);
    }
    CHECK_EQ(trainf("%s --data planted.ggnn", shared), 1);
    CHECK(says("--edge-features: planted.ggnn has no features of edges (section 'edge_feat')"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    add_edges("planted.ggnn", "edges.ggnn", GGNN_FILE_F32, 5, 1);
    RUN(losses_are_the_same_bits_wherever_rows_of_edges_lie);
    RUN(rows_of_edges_lie_where_options_say_and_are_counted);
    RUN(devices_that_train_on_parts_have_the_rows_of_their_edges);
    RUN(both_evaluations_see_the_same_rows);
    RUN(losses_follow_the_rows);
    RUN(a_checkpoint_goes_on_over_the_same_rows_alone);
    RUN(damaged_rows_of_edges_are_found_where_they_are_read);
    RUN(what_cannot_read_rows_of_edges_says_so);
    folder_remove();
    return test_finish();
}
