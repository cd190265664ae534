/* test_explain.c - the arithmetic behind ggnn-train --explain: XGNN's table, times by hand, five cases with five answers. */
#include "tests/train_tool.h"
#include "trainer/explain_model.h"

/* ==== a graph of lists of one length ============================================================================ */

enum { NODES = 1000, DEGREE = 16, RANKINGS = 2 * NODES * (int)sizeof(ggnn_node) /* that a dual cache has on the device */ };
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
                          .degrees = even, .rows = rows, .lists = lists, .epochs = 1, .fanout = 10, .memory = memory, .devices = devices, .copies = 1,
                          .bandwidth = {1e9, 1e8, 1e7}};
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

/* XGNN's tables 3 and 4: sizes in GB, what DGL+C caches, what XGNN stores, %. A device has what DGL+C took of it: the whole topology
   and its cache. Eight of a DGX-1V store two parts each. Here a GB is 10^6 bytes, evenly over the nodes: rows, and lists
   of entries alone. */
TEST(xgnns_table_4_follows_from_sizes_and_what_a_cache_held)
{
    static const struct {
        const char* what;
        double topology, features, cached, stored;
    } row[] = {{"GCN TW", 5.6, 40, 9, 79},         {"GCN PA", 6.4, 53, 8, 69},        {"GraphSAGE TW", 5.6, 40, 16, 100},
               {"GraphSAGE PA", 6.4, 53, 11, 80},  {"GraphSAGE UK", 11.3, 74, 1, 51}, {"PinSAGE TW", 5.6, 40, 10, 84},
               {"PinSAGE PA", 6.4, 53, 8, 71}};
    static const double computed[] = {78, 68, 100, 80, 50, 82, 68}; /* 4 (cached F + 3/4 G) / F */
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        explain_case c = case_of(even, even, (int64_t)(1e6 * row[i].topology + 1e4 * row[i].cached * row[i].features + .5), 8);
        explain_outcome out[EXPLAIN_SETTINGS];
        error why = {""};
        c.row = (int64_t)(1000 * row[i].features + .5);
        c.edge = 0;
        c.list = (int64_t)(1000 * row[i].topology + .5);
        c.copies = 2;
        CHECK(explain_outcomes(out, &c, &why));
        const explain_outcome* store = &out[EXPLAIN_GRAPH_FIRST];
        const double share = 100. * (double)store->rows / NODES;
        CHECK_EQ(store->lists, NODES);
        if (!CHECK_NEAR(share, row[i].stored, 4)) printf("  %s\n", row[i].what);
        CHECK_NEAR(share, computed[i], .6);
        CHECK_NEAR(store->list_reads.own, 100 * NODES / 4, 1e-6); /* two parts of eight are a device's own */
        CHECK_NEAR(store->list_reads.peer, 300 * NODES / 4, 1e-6);
    }
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
    const int64_t kept = (240000 - RANKINGS) / 400;
    CHECK_EQ(dual->rows, kept);
    CHECK_EQ(dual->lists, 0);
    CHECK_EQ(dual->slopes[0], 792000000); /* 8 MB of lists, by a ninety-ninth of the time: 1e-7 - 1e-9 s a byte */
    CHECK_EQ(dual->slopes[1], 3960000000);
    CHECK_NEAR(dual->extract, 100 * 400 * ((double)kept / 1e9 + (double)(NODES - kept) / 1e7) / 2, 1e-9);
    explain_case less = c;
    less.memory -= 1;
    CHECK(explain_outcomes(out, &less, &why));
    CHECK(!out[EXPLAIN_PARTS].possible);
    less = c;
    less.fanout = 1; /* a sector of 32 bytes, of 64 */
    CHECK(explain_outcomes(out, &less, &why));
    CHECK_NEAR(out[EXPLAIN_DUAL].sample, 100000. * (16 + 32) / 1e7 / 2, 1e-9);
    less.epochs = 4;
    CHECK(explain_outcomes(out, &less, &why));
    CHECK_NEAR(out[EXPLAIN_DUAL].sample, 25000. * (16 + 32) / 1e7 / 2, 1e-9);
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
    const explain_case skewed = case_of(steep, shifted, 20 * 480 + RANKINGS, 4); /* 20 rows and 20 other lists are nearly all */
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
    c.memory = 400000;
    c.bandwidth.host = c.bandwidth.own; /* and here it makes no difference */
    CHECK_EQ(choose(&c), EXPLAIN_GRAPH_FIRST);
}

/* ==== the program =============================================================================================== */

static void make_graph(const char* name, const char* how)
{
    char line[300];
    const char* space = strchr(how, ' ');
    snprintf(line, sizeof line, "generate %.*s %s %s", (int)(space - how), how, name, space);
    CHECK_EQ(finish(start("ggnn-data", line)), 0);
}

/* The log's record of a run with these options. */
static const char* explained(const char* options)
{
    if (!CHECK_EQ(trainf("--explain --hidden 8 --batch 128 --threads 1 --reserve-bytes 0 --log log %s", options), 0))
        printf("  %s\n", output);
    read_log(&first, "log", "explain");
    return CHECK_EQ(first.count, 1) ? first.line[0] : "";
}

/* LISTS: what all lists of dense.ggnn take, and a little of its rows. RANKED: both rankings of skewed.ggnn, and some of its rows
   and lists. */
#ifdef GGNN_NODE64
#define LISTS  "329K"
#define RANKED "400K"
#else
#define LISTS  "173K"
#define RANKED "200K"
#endif

/* The same five, of graphs that are sampled. */
TEST(explain_finds_the_right_setting_of_five_graphs)
{
    static const struct {
        const char *options, *choice;
    } run[] = {
        {"--data small.ggnn --fanout 5,4", "--store replica"},
        {"--data small.ggnn --fanout 5,4 --devices 4 --device-memory 80K", "--store parts"}, /* reads are even */
        {"--data dense.ggnn --layers 4 --fanout 10,10,10,10 --device-memory " LISTS, "--store-graph 1 --store-features 1 --prefer graph"},
        {"--data wide.ggnn --layers 2 --fanout 2,2 --device-memory 400K", "--store-graph 1 --store-features 1 --prefer features"},
        {"--data skewed.ggnn --fanout 5,4,3 --devices 4 --device-memory " RANKED " --links 1500,14,12", "--cache dual --cache-bytes auto"}};
    make_graph("small.ggnn", "planted --nodes 2000 --edges 24000 --classes 4 --features 8");
    make_graph("dense.ggnn", "planted --nodes 1000 --edges 40000 --classes 4 --features 1");
    make_graph("wide.ggnn", "planted --nodes 2000 --edges 400000 --classes 4 --features 64");
    make_graph("skewed.ggnn", "rmat --nodes 16384 --edges 300000 --features 32 --train .02");
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char choice[200];
        snprintf(choice, sizeof choice, "\"choice\":\"%s\"", run[i].choice);
        if (!CHECK(strstr(explained(run[i].options), choice) != NULL)) printf("  %s: %s\n", run[i].options, strstr(output, "what a dev"));
        snprintf(choice, sizeof choice, "(%s", run[i].choice);
        CHECK(says(choice));
        CHECK(says("(modelled)"));
        CHECK(says("(measured)"));
        CHECK(says("(counted)"));
    }
}

/* Of each kind and tier. */
static double shares(const char* line, const char* kind, const char* what, const char* tier)
{
    char pattern[32];
    snprintf(pattern, sizeof pattern, "\"%s\":{\"predicted\"", kind);
    const char* at = strstr(line, pattern);
    snprintf(pattern, sizeof pattern, "\"%s\":{\"cache\"", what);
    at = at ? strstr(at, pattern) : NULL;
    return at ? number(at, tier) : (double)NAN;
}

TEST(predicted_hit_rates_are_within_a_point_of_those_of_the_run)
{
    static const char* const tier[] = {"cache", "own", "peer", "host"};
    static const char* const options[] = {"--cache presc --cache-ratio .1", "--cache degree --cache-ratio .2",
                                          "--cache dual --cache-bytes 500K", "--cache optimal --cache-ratio .1",
                                          "--store-graph .3 --store-features .3", "--devices 2 --cache presc --cache-ratio .1",
                                          "--devices 3 --store parts", "--sampler walk --eval sampled --cache dual --cache-bytes 500K",
                                          "--devices 3 --store-graph .5 --store-features .5"};
    make_graph("paper.ggnn", "citation --nodes 30000 --edges 240000 --features 16");
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char line[300];
        snprintf(line, sizeof line, "--data paper.ggnn --fanout 5,4,3 --epochs 4 %s", options[i]);
        const char* found = explained(line);
        const bool by_edge = strstr(options[i], "--store parts") != NULL; /* rows are read where they lie */
        for (int kind = 0; kind < 2 - by_edge; kind++) {
            const char* name = kind ? "rows" : "lists";
            double all = 0;
            for (int k = 0; k < 4; k++) {
                const double counted = shares(found, name, "counted", tier[k]);
                all += counted;
                if (!CHECK_NEAR(shares(found, name, "predicted", tier[k]), counted, 1)) printf("  %s: %s %s\n", options[i], name, tier[k]);
            }
            CHECK_NEAR(all, 100, 1e-9);
            const double reads = shares(found, name, "counted", "reads"); /* of an epoch, not of all four */
            CHECK(reads > 1000);
            CHECK_NEAR(shares(found, name, "predicted", "reads"), reads, .02 * reads);
        }
    }
    CHECK(shares(first.line[0], "rows", "counted", "peer") > shares(first.line[0], "rows", "counted", "own"));
    for (int i = 0; i < 3; i++) { /* no one counts lists there: all are the device's own */
        static const char* const owners[] = {"range", "modulo", "hash"};
        char line[300];
        snprintf(line, sizeof line, "--data paper.ggnn --fanout 5,4,3 --epochs 4 --devices 2 --gather exchange --owners %s", owners[i]);
        const char* found = explained(line);
        CHECK_NEAR(shares(found, "rows", "predicted", "own"), shares(found, "rows", "counted", "own"), 1);
        CHECK_NEAR(shares(found, "lists", "predicted", "own"), 100, 1e-9);
    }
}

/* Whatever the seeds of a slice, five hops of all neighbours reach all 34 nodes: 12 of these are the first of three devices'
   by range and by modulo, as the first parts have the nodes that are left over. */
TEST(a_device_owns_exactly_its_range_of_the_nodes)
{
    static const char* const run[][2] = {{"3 --gather exchange --owners range", "12"}, {"3 --gather exchange --owners modulo", "12"},
                                         {"4 --gather exchange --owners range", "9"},  {"2 --gather exchange --owners range", "17"},
                                         {"1", "34"}};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char line[300];
        snprintf(line, sizeof line, "--data karate.ggnn --fanout 40,40,40,40,40 --epochs 1 --devices %s", run[i][0]);
        const char* found = explained(line);
        CHECK_NEAR(shares(found, "rows", "predicted", "own"), 100 * atof(run[i][1]) / 34, 1e-9);
        if (i < 4) CHECK_NEAR(shares(found, "rows", "counted", "own"), 100 * atof(run[i][1]) / 34, 1e-9);
    }
}

/* Of the explanation in file "staged". */
static double stage(const char* name)
{
    static char line[RECORD_MAX];
    double seconds = (double)NAN;
    FILE* f = fopen("staged", "r");
    while (f && fgets(line, sizeof line, f))
        if (strstr(line, "\"event\":\"explain\"") && strstr(line, "\"seconds\":{")) seconds = number(strstr(line, "\"seconds\":{"), name);
    if (f) fclose(f);
    return seconds;
}

TEST(each_stage_has_a_time_of_its_own)
{
    make_graph("paper.ggnn", "citation --nodes 30000 --edges 240000 --features 16");
    CHECK_EQ(train("--data paper.ggnn --fanout 5,4 --hidden 8 --cache degree --cache-ratio .1 --explain --log staged"), 0);
    CHECK(stage("sample") > 0 && stage("mark") > 0 && stage("extract") > 0 && stage("train") > 0);
    CHECK_EQ(stage("copy"), 0);
    CHECK_EQ(train("--data paper.ggnn --fanout 5,4 --hidden 8 --explain --log staged"), 0); /* rows are read where they lie */
    CHECK(stage("sample") > 0 && stage("train") > 0);
    CHECK(stage("mark") == 0 && stage("extract") == 0);
}

/* Of each setting in the log's record. */
static double kept(const char* line, explain_setting s, const char* what)
{
    char pattern[100];
    snprintf(pattern, sizeof pattern, "\"%s\":{\"possible\"", explain_options[s]);
    const char* at = strstr(line, pattern);
    return at ? number(at, what) : (double)NAN;
}

/* 34 lists with 156 edges, 34 rows of 34 floats. Parts of lists are not even: one may have both hubs. */
TEST(without_a_limit_devices_store_all)
{
    for (int devices = 2; devices <= 16; devices += 3) { /* 5 and more: INT64_MAX / 4 bytes each are more than an int64_t */
        char line[100];
        snprintf(line, sizeof line, "--data karate.ggnn --fanout 3,2 --devices %d", devices);
        const char* found = explained(line);
        for (int s = EXPLAIN_GRAPH_FIRST; s <= EXPLAIN_FEATURES_FIRST; s++) {
            const double lists = kept(found, (explain_setting)s, "list_bytes"), all = 156 * sizeof(ggnn_node) + 34 * 16;
            CHECK_EQ(kept(found, (explain_setting)s, "row_bytes"), (34 + devices - 1) / devices * 136);
            CHECK(lists > all / devices && lists < all / devices + 2 * (17 * sizeof(ggnn_node) + 16));
        }
    }
}

/* What `options` and a setting's own store: bytes of the fullest device, of `kind`, as the log of a run says. */
static double stored(const char* options, explain_setting s, const char* more, const char* kind)
{
    char line[600];
    double most = 0;
    snprintf(line, sizeof line, "%s %s %s --hidden 8 --batch 128 --threads 1 --reserve-bytes 0 --epochs 1 --eval-every 0 --log run", options,
             explain_options[s], more);
    if (!CHECK_EQ(trainf("%s", line), 0)) printf("  %s: %s\n", line, output);
    read_log(&second, "run", "tiers");
    snprintf(line, sizeof line, "\"%s\":{", kind);
    const char* at = second.count ? strstr(second.line[0], line) : NULL;
    at = at ? strstr(at, s == EXPLAIN_DUAL ? "\"cache\":[" : "\"own\":[") : NULL;
    for (at = at ? strchr(at, '[') : NULL; at && *at != ']'; at = strpbrk(at + 1, ",]"))
        if (atof(at + 1) > most) most = atof(at + 1);
    return most;
}

/* Byte by byte: what rankings take is not promised to rows, parts of unlike lists are not even, and a cache is ranked as the
   run ranks it. */
TEST(settings_store_what_a_run_with_their_options_stores)
{
    static const char* const sizes[] = {"60K", "200K", "700K"};
    make_graph("uneven.ggnn", "rmat --nodes 2048 --edges 40000 --features 32 --train .2");
    for (int i = 0; i < 6; i++) {
        char options[200], slopes[100];
        snprintf(options, sizeof options, "--data uneven.ggnn --fanout 5,4 --device-memory %s --devices %d", sizes[i % 3], 1 + i / 3 * 2);
        static char found[RECORD_MAX];
        snprintf(found, sizeof found, "%s", explained(options));
        const char* at = strstr(found, "\"slopes\":[");
        snprintf(slopes, sizeof slopes, "--slopes %.*s", at ? (int)strcspn(at + 10, "]") : 0, at ? at + 10 : "");
        for (int s = EXPLAIN_GRAPH_FIRST; s <= EXPLAIN_DUAL; s++) {
            const char* more = s == EXPLAIN_DUAL ? slopes : "";
            const double rows = stored(options, (explain_setting)s, more, "row_bytes"), lists = stored(options, (explain_setting)s, more, "list_bytes");
            CHECK_EQ(kept(found, (explain_setting)s, "row_bytes"), rows);
            CHECK_EQ(kept(found, (explain_setting)s, "list_bytes"), lists);
            if (!CHECK(rows + lists > 0)) printf("  %s %s\n", options, explain_options[s]);
        }
    }
}

/* Rows that all devices read in an epoch of a run, and what --explain takes for the seconds of a device. */
static double rows_read(int devices, double* modelled)
{
    char line[200];
    double reads = 0;
    snprintf(line, sizeof line, "--data uneven.ggnn --fanout 5,4 --devices %d", devices);
    *modelled = kept(explained(line), EXPLAIN_ALL, "modelled_extract");
    CHECK_EQ(trainf("%s --hidden 8 --batch 128 --threads 1 --epochs 1 --eval-every 0 --cache degree --cache-ratio .1 --log run", line), 0);
    read_log(&second, "run", "ranks");
    for (int r = 0; r < devices; r++)
        for (const char* const* tier = (const char* const[]){"cache", "own", "peer", "host", NULL}; *tier; tier++)
            reads += element(second.line[0], "\"rows\":{", *tier, r);
    return reads;
}

/* The same bytes at the same bandwidth: a device of P takes a P-th of the time that the reads of all take. */
TEST(modelled_seconds_are_of_the_rows_that_all_devices_read)
{
    double one, some;
    make_graph("uneven.ggnn", "rmat --nodes 2048 --edges 40000 --features 32 --train .2");
    const double alone = rows_read(1, &one);
    for (int devices = 2; devices <= 3; devices++) {
        const double reads = rows_read(devices, &some);
        CHECK(alone > 0 && reads > alone); /* sources of slices, some of several */
        CHECK_NEAR(some / one, reads / devices / alone, .05);
    }
}

/* Most lists are read in the last hop that samples. */
TEST(explain_says_how_much_of_a_list_it_takes_a_sample_to_read)
{
    static const char* const run[][2] = {{"--fanout 7,3", "3 edges of it are looked at, as in the last hop"},
                                         {"--fanout 3,1", "1 edge of it is looked at, as in the last hop"},
                                         {"--fanout 3,7,0", "7 edges of it"},
                                         {"--fanout 7,-1", "all edges of it are looked at, as in the last hop"},
                                         {"--fanout 5,5 --sampler walk --eval sampled", "1 edge of it is looked at, as by a walk's step"},
                                         {"--model mlp", "no edge of a list is looked at"}};
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        char line[100];
        snprintf(line, sizeof line, "--data karate.ggnn %s", run[i][0]);
        explained(line);
        if (!CHECK(says(run[i][1]))) CHECK_STR(output, run[i][1]);
    }
}

TEST(explain_is_a_look_and_no_training)
{
    CHECK_EQ(train("--data karate.ggnn --explain --save x.ckpt"), 2);
    CHECK(says("takes no --save"));
    CHECK_EQ(train("--data karate.ggnn --explain --fanout full"), 2);
    CHECK(says("nothing is sampled"));
    CHECK_EQ(train("--data karate.ggnn --explain --links 5,4"), 2);
    CHECK_EQ(train("--data karate.ggnn --explain --fanout 3,3"), 0);
    CHECK(says("all is the device's own"));
    CHECK(says("no limit"));
    CHECK_EQ(train("--data karate.ggnn --explain --fanout 3,3 --seed 4 --log twice"), 0); /* all but times is as it was */
    read_log(&first, "twice", "explain");
    CHECK_EQ(train("--data karate.ggnn --explain --fanout 3,3 --seed 4 --log twice"), 0);
    read_log(&second, "twice", "explain");
    CHECK(same_records(&first, &second));
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    if (!train_tool_begin()) return 1;
    make_counts();
    RUN(xgnns_table_4_follows_from_sizes_and_what_a_cache_held);
    RUN(times_are_bytes_over_bandwidths);
    RUN(five_cases_have_five_right_answers);
    RUN(the_simplest_of_equal_settings_is_chosen);
    RUN(explain_finds_the_right_setting_of_five_graphs);
    RUN_SLOW(predicted_hit_rates_are_within_a_point_of_those_of_the_run);
    RUN(a_device_owns_exactly_its_range_of_the_nodes);
    RUN(each_stage_has_a_time_of_its_own);
    RUN(without_a_limit_devices_store_all);
    RUN(settings_store_what_a_run_with_their_options_stores);
    RUN(modelled_seconds_are_of_the_rows_that_all_devices_read);
    RUN(explain_says_how_much_of_a_list_it_takes_a_sample_to_read);
    RUN(explain_is_a_look_and_no_training);
    if (chdir("/") == 0) folder_remove();
    return test_finish();
}
