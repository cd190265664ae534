/* test_explain.c - the arithmetic behind ggnn-train --explain: XGNN's table, times by hand, five cases with five answers. */
#include "tests/test.h"
#include "trainer/explain_model.h"

/* XGNN's tables 3 and 4: sizes in GB, what DGL+C caches, what XGNN stores, %. */
TEST(xgnns_table_4_follows_from_sizes_and_what_a_cache_held)
{
    static const struct {
        const char* what;
        double topology, features, cached, stored;
    } row[] = {{"GCN TW", 5.6, 40, 9, 79},         {"GCN PA", 6.4, 53, 8, 69},      {"GraphSAGE TW", 5.6, 40, 16, 100},
               {"GraphSAGE PA", 6.4, 53, 11, 80},  {"GraphSAGE UK", 11.3, 74, 1, 51}, {"PinSAGE TW", 5.6, 40, 10, 84},
               {"PinSAGE PA", 6.4, 53, 8, 71}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const double share = 100 * explain_store_share(row[i].topology, row[i].features, row[i].cached / 100, 4);
        if (!CHECK_NEAR(share, row[i].stored, 4)) printf("  %s\n", row[i].what);
    }
    CHECK_NEAR(explain_store_share(5.6, 40, .09, 4), .78, 1e-12); /* 4 (3.6 + 4.2) / 40 */
    CHECK_NEAR(explain_store_share(5.6, 40, .09, 1), .09, 1e-12); /* one part: nothing is gained */
    CHECK_NEAR(explain_store_share(5.6, 40, .5, 8), 1, 0);
}

/* ==== a graph of lists of one length ============================================================================ */

enum { NODES = 1000, DEGREE = 16 };
static int64_t indptr[NODES + 1], even[NODES], steep[NODES], shifted[NODES];
static void make_counts(void)
{
    for (int64_t v = 0; v <= NODES; v++) indptr[v] = v * DEGREE;
    for (int64_t v = 0; v < NODES; v++) {
        even[v] = 100;
        steep[v] = v < 20 ? 5000 : v % 100 == 0;           /* 20 nodes have nearly all reads */
        shifted[v] = v >= NODES - 20 ? 5000 : v % 100 == 0; /* other 20 */
    }
}

/* Lists take 16 x 4 + 16 = 80 bytes, rows 400; 80,000 and 400,000 in all. */
static explain_case case_of(const int64_t* rows, const int64_t* lists, int64_t memory, int32_t devices)
{
    return (explain_case){.nodes = NODES, .indptr = indptr, .row = 400, .edge = 4, .list = 16, .hot_rows = rows, .hot_lists = lists,
                          .rows = rows, .lists = lists, .fanout = 10, .memory = memory, .devices = devices, .copies = 1,
                          .bandwidth = {1e9, 1e8, 1e7}, .compute = 0};
}

static explain_setting choose(const explain_case* c)
{
    explain_outcome out[EXPLAIN_SETTINGS];
    error why = {""};
    CHECK(explain_outcomes(out, c, &why));
    const explain_setting choice = explain_choice(out);
    for (int s = 0; s < EXPLAIN_SETTINGS && getenv("TEST_VERBOSE"); s++)
        printf("  %-32s %d %8.4f %8.4f  rows %lld lists %lld\n", explain_name[s], out[s].possible, out[s].sample, out[s].extract,
               (long long)out[s].rows, (long long)out[s].lists);
    for (int s = 0; s < EXPLAIN_SETTINGS; s++) /* nothing is lost between tiers */
        if (out[s].possible) {
            double reads = 0, all = 0;
            for (int64_t v = 0; v < NODES; v++) all += (double)(c->rows[v] + c->lists[v]);
            reads += out[s].row_reads.own + out[s].row_reads.peer + out[s].row_reads.host;
            reads += out[s].list_reads.own + out[s].list_reads.peer + out[s].list_reads.host;
            CHECK_NEAR(reads, all, 1e-6 * all);
            CHECK(out[s].row_bytes + out[s].list_bytes <= c->memory);
        }
    return choice;
}

/* 100,000 reads of rows of 400 bytes, as many of lists, of which 16 + 64 bytes are read, as that is less than 10 sectors. */
TEST(times_are_bytes_over_bandwidths)
{
    const explain_case c = case_of(even, even, 240000, 2);
    explain_outcome out[EXPLAIN_SETTINGS];
    error why = {""};
    CHECK(explain_outcomes(out, &c, &why));
    CHECK(!out[EXPLAIN_ALL].possible);
    const explain_outcome* parts = &out[EXPLAIN_PARTS]; /* 240,000 bytes each: all of 480,000 */
    CHECK(parts->possible);
    CHECK_EQ(parts->row_bytes, 200000);
    CHECK_EQ(parts->list_bytes, 40000);
    CHECK_NEAR(parts->row_reads.own, 50000, 1e-6);
    CHECK_NEAR(parts->row_reads.peer, 50000, 1e-6);
    CHECK_NEAR(parts->extract, (2e7 / 1e9 + 2e7 / 1e8) / 2, 1e-9);
    CHECK_NEAR(parts->sample, (4e6 / 1e9 + 4e6 / 1e8) / 2, 1e-9);
    const explain_outcome* dual = &out[EXPLAIN_DUAL]; /* a read of a row or of a list saves as much a byte: rows first */
    CHECK_EQ(dual->rows, 600);
    CHECK_EQ(dual->lists, 0);
    CHECK_NEAR(dual->extract, (2.4e7 / 1e9 + 1.6e7 / 1e7) / 2, 1e-9);
    explain_case less = c;
    less.memory -= 1;
    CHECK(explain_outcomes(out, &less, &why));
    CHECK(!out[EXPLAIN_PARTS].possible);
    less = c;
    less.fanout = 1; /* a sector of 32 bytes, of 64 */
    CHECK(explain_outcomes(out, &less, &why));
    CHECK_NEAR(out[EXPLAIN_DUAL].sample, 100000. * (16 + 32) / 1e7 / 2, 1e-9);
}

/* Each case's answer is another one, and right by what the case is. */
TEST(five_cases_have_five_right_answers)
{
    int64_t many[NODES], few[NODES];
    for (int64_t v = 0; v < NODES; v++) {
        many[v] = 100000;
        few[v] = 1;
    }
    const explain_case fits = case_of(even, even, 480000, 1);
    const explain_case flat = case_of(even, even, 120000, 4);  /* any rows are as good: what counts is how many */
    const explain_case lists = case_of(few, many, 200000, 1);  /* sampling is what costs */
    const explain_case rows = case_of(many, few, 200000, 1);
    const explain_case skewed = case_of(steep, shifted, 20 * 480, 4); /* 20 rows and 20 other lists are nearly all */
    CHECK_EQ(choose(&fits), EXPLAIN_ALL);
    CHECK_EQ(choose(&flat), EXPLAIN_PARTS);
    CHECK_EQ(choose(&lists), EXPLAIN_GRAPH_FIRST);
    CHECK_EQ(choose(&rows), EXPLAIN_FEATURES_FIRST);
    CHECK_EQ(choose(&skewed), EXPLAIN_DUAL);
}

/* A setting that is faster by less than a hundredth is not worth what it asks for. */
TEST(the_simplest_of_equal_settings_is_chosen)
{
    explain_case c = case_of(even, even, 480000, 4);
    CHECK_EQ(choose(&c), EXPLAIN_ALL);
    c.memory = 120000;
    c.bandwidth.peer = c.bandwidth.own;
    CHECK_EQ(choose(&c), EXPLAIN_PARTS);
    c.devices = 1;
    c.memory = 0; /* nothing fits anywhere */
    CHECK_EQ(choose(&c), EXPLAIN_GRAPH_FIRST);
    c.compute = 1e9; /* and here it makes no difference */
    c.memory = 400000;
    CHECK_EQ(choose(&c), EXPLAIN_GRAPH_FIRST);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    make_counts();
    RUN(xgnns_table_4_follows_from_sizes_and_what_a_cache_held);
    RUN(times_are_bytes_over_bandwidths);
    RUN(five_cases_have_five_right_answers);
    RUN(the_simplest_of_equal_settings_is_chosen);
    return test_finish();
}
