/* Memory by role (--pipeline factored): lists with the devices that sample, rows with those that train. ggnn-train from end to
   end, with what it says lies and is read where beside what the options and the graph say. */
#include "common/memory.h"
#include "tests/train_tool.h"
#include "trainer/factored/factored.h"

enum { N = 600, EDGES = 9000, ROW = 64, DEVICES = 4, TRAIN = 300, BATCH = 50, EPOCHS = 3, ALL = -1 };
enum { BATCHES = (TRAIN + BATCH - 1) / BATCH };

static int factor(const char* where, int samplers)
{
    return trainf("--data planted.ggnn --fanout 4,3 --hidden 8 --batch %d --epochs %d --devices %d --pipeline factored --samplers %d "
                  "--log roles %s", BATCH, EPOCHS, DEVICES, samplers, where);
}

/* Rank r's number, or with ALL their sum. */
static int64_t of_log(const char* group, const char* member, int r)
{
    int64_t sum = 0;
    if (r != ALL) return logged_in(&second, group, member, r);
    for (int i = 0; i < DEVICES; i++) sum += logged_in(&second, group, member, i);
    return sum;
}

static int64_t read_of(const char* group, int r)
{
    return of_log(group, "cache", r) + of_log(group, "own", r) + of_log(group, "peer", r) + of_log(group, "host", r);
}

/* How many of `stored` ranks device r has, where those from `from` on have `count` parts. */
static int64_t dealt(int64_t stored, int r, int from, int count)
{
    const int part = r - from;
    return part < 0 || part >= count ? 0 : stored / count + (part < stored % count);
}

/* Losses are one file's, whatever lies where. */
static void expect_losses(void)
{
    read_log(&first, "plain", "epoch");
    read_log(&second, "roles", "epoch");
    CHECK(same_records(&first, &second));
}

/* Trainers look no row up: all that they read is marked. A sampler that trains along looks up its own, as it has no cache. */
static void expect_marks(int trainers)
{
    for (int r = 0; r < DEVICES; r++) {
        const int64_t marked = logged_in(&second, "slices", "marked", r);
        if (r < trainers) CHECK_EQ(marked, read_of("rows", r));
        else CHECK_EQ(marked, 0);
    }
    CHECK(of_log("slices", "marked", ALL) > 0);
}

static void plain_run(void)
{
    CHECK_EQ(trainf("--data planted.ggnn --fanout 4,3 --hidden 8 --batch %d --epochs %d --devices %d --log plain", BATCH, EPOCHS, DEVICES - 1), 0);
}

/* ==== what lies where =========================================================================================== */

static void expect_kind(const char* group, int64_t stored, int r, int from, int count)
{
    const int64_t own = dealt(stored, r, from, count);
    CHECK_EQ(of_log(group, "own", r), own);
    CHECK_EQ(of_log(group, "peer", r), stored - own);
    CHECK_EQ(of_log(group, "host", r), N - stored);
}

TEST(parts_of_lists_are_the_samplers_and_parts_and_caches_of_rows_the_trainers)
{
    plain_run();
    for (int samplers = 1; samplers < DEVICES; samplers++) {
        const int trainers = DEVICES - samplers;
        CHECK_EQ(factor("--cache presc --cache-ratio .1 --store-graph .5 --store-features .25", samplers), 0);
        read_log(&second, "roles", "tiers");
        CHECK_EQ(number(second.line[0], "samplers"), samplers);
        for (int r = 0; r < DEVICES; r++) {
            expect_kind("lists", N / 2, r, trainers, samplers);
            expect_kind("rows", N / 4, r, 0, trainers);
            CHECK_EQ(of_log("rows", "cache", r), r < trainers ? N / 10 : 0);
            CHECK_EQ(of_log("row_bytes", "cache", r), r < trainers ? N / 10 * ROW : 0);
            CHECK_EQ(of_log("lists", "cache", r), 0);
        }
        read_log(&second, "roles", "ranks");
        for (int r = 0; r < trainers; r++) CHECK_EQ(read_of("lists", r), 0);
        int64_t sampled = 0; /* which of them is asked is a matter of time */
        for (int r = trainers; r < DEVICES; r++) sampled += read_of("lists", r);
        CHECK(sampled > 0);
        expect_marks(trainers);
        CHECK(samplers == 1 ? of_log("lists", "peer", ALL) == 0 : of_log("lists", "peer", ALL) > 0);
        CHECK(of_log("rows", "cache", ALL) > 0 && of_log("rows", "own", ALL) > 0); /* of trainers, as the next line says */
        for (int r = trainers; r < DEVICES; r++) CHECK_EQ(of_log("rows", "cache", r) + of_log("rows", "own", r), 0);
        expect_losses();
    }
}

TEST(without_a_plan_owners_are_of_the_role)
{
    static const char* const owners[] = {"range", "modulo", "hash"};
    plain_run();
    for (int i = 0; i < 3; i++) {
        char where[64];
        snprintf(where, sizeof where, "--store parts --owners %s", owners[i]);
        CHECK_EQ(factor(where, 2), 0);
        read_log(&second, "roles", "tiers");
        for (int r = 0; r < DEVICES; r++) {
            const bool train = r < 2;
            CHECK_EQ(of_log("lists", "own", r) > 0, !train);
            CHECK_EQ(of_log("rows", "own", r) > 0, train);
            CHECK_EQ(read_of("lists", r), N);
            CHECK_EQ(read_of("rows", r), N);
            CHECK_EQ(of_log("lists", "host", r) + of_log("rows", "host", r), 0);
            if (i == 2) continue; /* a hash does not divide evenly */
            CHECK_EQ(of_log("lists", "own", r), dealt(N, r, 2, 2));
            CHECK_EQ(of_log("rows", "own", r), dealt(N, r, 0, 2));
        }
        expect_losses();
    }
}

TEST(a_replica_is_of_the_role)
{
    plain_run();
    CHECK_EQ(factor("--store replica --store-graph 1 --store-features .1 --cache degree --cache-ratio .1", 1), 0);
    read_log(&second, "roles", "tiers");
    for (int r = 0; r < DEVICES; r++) {
        const bool train = r < DEVICES - 1;
        CHECK_EQ(of_log("lists", "own", r), train ? 0 : N);
        CHECK_EQ(of_log("rows", "own", r), train ? N / 10 : 0);
        CHECK_EQ(of_log("rows", "cache", r), train ? N / 10 : 0);
        CHECK_EQ(of_log("rows", "peer", r) + of_log("lists", "peer", r), 0);
    }
    read_log(&second, "roles", "ranks");
    CHECK(of_log("rows", "own", ALL) > of_log("rows", "own", DEVICES - 1)); /* behind the cache; which trainer is asked is a matter of time */
    CHECK_EQ(of_log("lists", "own", DEVICES - 1), read_of("lists", ALL));
    expect_losses();
}

/* A placement lies over all devices; caches follow the role there, too. */
TEST(a_placement_is_of_all_devices)
{
    plain_run();
    CHECK_EQ(factor("--topology ring --store-graph .5 --store-features .25 --cache degree --cache-ratio .1", 1), 0);
    read_log(&second, "roles", "tiers");
    for (int r = 0; r < DEVICES; r++) {
        CHECK(of_log("lists", "own", r) >= N / 2 / DEVICES && of_log("rows", "own", r) >= N / 4 / DEVICES);
        CHECK_EQ(of_log("rows", "cache", r), r < DEVICES - 1 ? N / 10 : 0);
    }
    expect_losses();
    const int64_t memory = 40000, rankings = N * (int64_t)sizeof(ggnn_node);
    char where[200];
    snprintf(where, sizeof where, "--topology ring --store-graph .25 --cache degree --cache-bytes auto --reserve-bytes 0 --device-memory %lld",
             (long long)(memory + rankings));
    CHECK_EQ(factor(where, 1), 0);
    read_log(&second, "roles", "tiers");
    for (int r = 0; r < DEVICES - 1; r++) {
        CHECK(of_log("list_bytes", "own", r) > 0 && of_log("rows", "cache", r) > 0);
        CHECK(of_log("list_bytes", "own", r) + of_log("row_bytes", "cache", r) <= memory);
    }
    expect_losses();
}

TEST(a_dual_cache_has_lists_where_they_are_sampled_and_rows_where_they_are_trained_on)
{
    plain_run();
    CHECK_EQ(factor("--cache dual --cache-bytes 5000 --slopes 1000,1000", 2), 0);
    read_log(&second, "roles", "tiers");
    for (int r = 0; r < DEVICES; r++) {
        CHECK_EQ(of_log("lists", "cache", r) > 0, r >= 2);
        CHECK_EQ(of_log("rows", "cache", r), r < 2 ? 5000 / ROW : 0);
        CHECK(of_log("list_bytes", "cache", r) <= 5000);
    }
    expect_losses();
}

/* ==== the same memory =========================================================================================== */

/* GNNLab's arithmetic: what lists took of a trainer's memory is cache now. A CPU's limit is for lists, rows and rankings. */
TEST(bytes_of_lists_become_cache)
{
    enum { MEMORY = 20000, RANKS = 2 * N * (int)sizeof(ggnn_node) }; /* of lists, of rows */
    int64_t cached[2], lists[2];
    char where[200];
    for (int by_role = 0; by_role < 2; by_role++) {
        snprintf(where, sizeof where, "--cache presc --cache-bytes auto --store-graph .25 --device-memory %d --reserve-bytes 0", MEMORY + RANKS);
        CHECK_EQ(factor(where, by_role), 0);
        read_log(&second, "roles", "tiers");
        second.count = 1; /* by times: the equal plan of the first epoch */
        cached[by_role] = of_log("rows", "cache", 0);
        lists[by_role] = of_log("list_bytes", "own", 0);
        CHECK(of_log("row_bytes", "cache", 0) + lists[by_role] <= MEMORY);
        CHECK(of_log("row_bytes", "cache", 0) + lists[by_role] > MEMORY - (by_role ? ROW : 500)); /* a part is as full as the fullest */
    }
    CHECK(lists[0] > 0 && lists[1] == 0);
    CHECK_EQ(cached[1], MEMORY / ROW);
    CHECK(cached[1] - cached[0] >= lists[0] / ROW);
}

/* ==== roles by times ============================================================================================ */

/* The first epoch has the equal plan, the later ones that of the roles; what both read is counted. */
TEST(roles_are_fixed_after_the_first_epoch)
{
    static const char* const where[] = {"--store parts", "--cache presc --cache-ratio .1 --store-graph .5 --store-features .25",
                                        "--cache degree --cache-bytes auto --device-memory 20000 --reserve-bytes 0 --store-features .1"};
    plain_run();
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(factor(where[i], 0), 0);
        CHECK(says("memory was laid out once more, in") && says("which samples"));
        read_log(&second, "roles", "tiers");
        if (!CHECK_EQ(second.count, 2)) continue;
        const double samplers = number(second.line[1], "samplers");
        CHECK(samplers >= 1 && samplers < DEVICES && samplers == (int)samplers);
        CHECK(strstr(second.line[0], "samplers") == NULL);
        for (int r = 0; r < DEVICES; r++) {
            if (r < DEVICES - (int)samplers) CHECK_EQ(of_log("lists", "own", r), 0);
            else CHECK_EQ(of_log("rows", "own", r) + of_log("rows", "cache", r), 0);
        }
        read_log(&second, "roles", "ranks");
        const int64_t rows = read_of("rows", ALL), lists = read_of("lists", ALL);
        CHECK_EQ(of_log("slices", "trained", ALL), EPOCHS * BATCHES * factored_slices(DEVICES));
        CHECK_EQ(of_log("slices", "sampled", ALL), EPOCHS * BATCHES * factored_slices(DEVICES));
        expect_losses();
        CHECK_EQ(factor(where[i], 1), 0);
        read_log(&second, "roles", "ranks");
        CHECK_EQ(read_of("rows", ALL), rows); /* each slice's, whoever reads them */
        CHECK_EQ(read_of("lists", ALL), lists);
    }
}

/* Moments too: a run that is saved, and resumed, after the memory was laid out anew. */
TEST(a_net_goes_on_where_it_was)
{
    plain_run();
    CHECK_EQ(factor("--store parts --save end --save-every 1", 0), 0);
    copy_file("end", "by-role", -1, -1);
    CHECK_EQ(factor("--store replica --save end --save-every 1", 0), 0);
    CHECK_EQ(file_bytes("end"), file_bytes("by-role"));
    CHECK_EQ(train("--data planted.ggnn --resume end --epochs 5 --devices 3 --log a"), 0);
    CHECK_EQ(train("--data planted.ggnn --resume by-role --epochs 5 --devices 4 --pipeline factored --store parts --log b"), 0);
    read_log(&first, "a", "epoch");
    read_log(&second, "b", "epoch");
    CHECK(same_records(&first, &second));
    CHECK_EQ(first.count, 2);
}

/* Nothing lies on a device of its own: roles are fixed, and nothing is said. */
TEST(one_file_for_all_is_not_laid_out)
{
    plain_run();
    CHECK_EQ(factor("--store replica", 0), 0);
    read_log(&second, "roles", "tiers");
    CHECK_EQ(second.count, 0);
    expect_losses();
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    RUN(parts_of_lists_are_the_samplers_and_parts_and_caches_of_rows_the_trainers);
    RUN(without_a_plan_owners_are_of_the_role);
    RUN(a_replica_is_of_the_role);
    RUN(a_placement_is_of_all_devices);
    RUN(a_dual_cache_has_lists_where_they_are_sampled_and_rows_where_they_are_trained_on);
    RUN(bytes_of_lists_become_cache);
    RUN(roles_are_fixed_after_the_first_epoch);
    RUN(a_net_goes_on_where_it_was);
    RUN(one_file_for_all_is_not_laid_out);
    folder_remove();
    return test_finish();
}
