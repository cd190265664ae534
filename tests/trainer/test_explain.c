/* test_explain.c - the arithmetic behind ggnn-train --explain: XGNN's table, times by hand, five cases with five answers. */
#include "common/progress.h"
#include "datasets/hotness.h"
#include "tests/train_tool.h"
#include "trainer/batch/loader.h"
#include "trainer/explain_model.h"
#include "trainer/task.h"

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

static const config plain; /* no option of a run's that settings leave as it is */

/* Lists take 16 x 4 + 16 = 80 bytes, rows 400; 80,000 and 400,000 in all. */
static explain_case case_of(int64_t* rows, int64_t* lists, int64_t memory, int32_t devices)
{
    return (explain_case){.config = &plain, .nodes = NODES, .sizes = {400, indptr, 4, 16}, .hot_rows = rows, .hot_lists = lists,
                          .degrees = even, .rows = rows, .lists = lists, .epochs = 1, .fanout = 10, .memory = memory, .devices = devices,
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
    ggnn_topology links;
    ggnn_placement placed;
    CHECK(ggnn_topology_named(&links, "dgx-1v", 8) == GGNN_OK && ggnn_place_parts(&placed, &links, GGNN_PLACE_BEST, 0, NULL) == GGNN_OK);
    CHECK(placed.most == 2 && placed.copies == 16);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        explain_case c = case_of(even, even, (int64_t)(1e6 * row[i].topology + 1e4 * row[i].cached * row[i].features + .5), 8);
        explain_outcome out[EXPLAIN_SETTINGS];
        error why = {""};
        c.sizes.row = (int64_t)(1000 * row[i].features + .5);
        c.sizes.edge = 0;
        c.sizes.list = (int64_t)(1000 * row[i].topology + .5);
        c.placement = &placed;
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
    explain_outcome out[EXPLAIN_SETTINGS] = {{.seconds = 1}, {.possible = true, .seconds = 101.01}, {.possible = true, .seconds = 101},
                                             {.possible = true, .seconds = 100.5}, {.possible = true, .seconds = 100}};
    CHECK_EQ(explain_choice(out), EXPLAIN_GRAPH_FIRST); /* by a hundredth exactly */
    out[EXPLAIN_PARTS].seconds = 101;
    CHECK_EQ(explain_choice(out), EXPLAIN_PARTS);
}

/* A cache takes reads from links, and room from parts, whose rows then are the host's. Four devices have room for 250 lists and 100
   cached rows each, and for a fourth of the other 900, beside the order of parts. */
TEST(a_cache_beside_parts_is_as_large_as_links_and_memory_make_it)
{
    explain_case c = case_of(even, even, 250 * 80 + (100 + 225) * 400 + NODES * (int)sizeof(ggnn_node), 4);
    explain_outcome out[EXPLAIN_SETTINGS];
    const explain_outcome* o = &out[EXPLAIN_BESIDE];
    error why = {""};
    CHECK(explain_outcomes(out, &c, &why) && o->possible);
    CHECK_NEAR(o->cache_ratio, .1, 1e-12);
    CHECK_NEAR(o->extract, 400 * (32500 / 1e9 + 67500 / 1e8) / 4, 1e-9);
    c.memory--;
    CHECK(explain_outcomes(out, &c, &why));
    CHECK_NEAR(o->cache_ratio, .05, 1e-12);
    c.memory++;
    c.bandwidth.peer = c.bandwidth.own; /* nothing to be saved */
    CHECK(explain_outcomes(out, &c, &why));
    CHECK_NEAR(o->cache_ratio, .01, 1e-12);
}

/* Two devices, of which one has a link half as fast. */
TEST(links_count_by_the_slowest_that_a_device_uses)
{
    ggnn_topology t = {.devices = 2, .bandwidth = {{700, 25}, {50, 700}}};
    ggnn_placement placed;
    explain_case c = case_of(even, even, 240000, 2);
    explain_outcome out[EXPLAIN_SETTINGS];
    error why = {""};
    CHECK(ggnn_place_parts(&placed, &t, GGNN_PLACE_BEST, 0, NULL) == GGNN_OK);
    c.placement = &placed;
    c.links = &t;
    CHECK(explain_outcomes(out, &c, &why) && out[EXPLAIN_PARTS].possible);
    CHECK_NEAR(out[EXPLAIN_PARTS].extract, (2e7 / 1e9 + 2e7 / 25e9) / 2, 1e-12); /* half of 40 MB from a peer, over 25 GB/s */
    t.bandwidth[0][1] = 50;
    CHECK(explain_outcomes(out, &c, &why));
    CHECK_NEAR(out[EXPLAIN_PARTS].extract, (2e7 / 1e9 + 2e7 / 50e9) / 2, 1e-12);
    CHECK(out[EXPLAIN_CLIQUES].possible && out[EXPLAIN_CLIQUES].rows == NODES);
    c.links = NULL; /* one figure for all peers */
    CHECK(explain_outcomes(out, &c, &why) && !out[EXPLAIN_CLIQUES].possible);
    CHECK_NEAR(out[EXPLAIN_PARTS].extract, (2e7 / 1e9 + 2e7 / 1e8) / 2, 1e-12);
}

/* ==== every number of every setting, by plain loops ============================================================= */

/* What a read of a list of so many edges takes: its entry, and a sector an edge or the whole list. */
static double list_bytes(const explain_case* c, int64_t v)
{
    const double edges = (double)((c->sizes.indptr[v + 1] - c->sizes.indptr[v]) * c->sizes.edge), sectors = 32 * c->fanout;
    return (double)c->sizes.list + (sectors < edges ? sectors : edges);
}

typedef struct { /* of each node: is its row, its list kept, and by which share of the devices themselves? */
    bool in[2][NODES];
    double own[2][NODES];
    int parts, part[2][NODES]; /* where there are several; -1: of each device's own */
} keeping;

/* Seconds of the slowest device, each of whose links carries a P-th of the reads of what lies there. */
static double slowest(const explain_case* c, const keeping* k, int kind)
{
    double worst = 0;
    for (int i = 0; i < k->parts; i++) {
        double from[8] = {0}, own = 0, host = 0, link = 0;
        for (int64_t v = 0; v < c->nodes; v++) {
            const double bytes = (kind ? list_bytes(c, v) * (double)c->lists[v] : (double)(c->sizes.row * c->rows[v])) / (double)c->epochs / c->devices;
            const int p = k->part[kind][v], j = p < 0 ? i : c->placement->source[i][p];
            *(!k->in[kind][v] ? &host : j == i ? &own : &from[j]) += bytes;
        }
        for (int j = 0; j < k->parts; j++)
            if (from[j] > 0) link = fmax(link, from[j] / (1e9 * c->links->bandwidth[i][j]));
        worst = fmax(worst, own / c->bandwidth.own + link + host / c->bandwidth.host);
    }
    return worst;
}

/* Reads, bytes and seconds of a setting. */
static void expect_reads(explain_outcome* o, const explain_case* c, const keeping* k)
{
    double bytes[2][3] = {{0}};
    explain_tiers* to[2] = {&o->row_reads, &o->list_reads};
    o->possible = true;
    for (int kind = 0; kind < 2; kind++)
        for (int64_t v = 0; v < c->nodes; v++) {
            const double reads = (double)(kind ? c->lists : c->rows)[v] / (double)c->epochs, each = kind ? list_bytes(c, v) : (double)c->sizes.row;
            const double own = k->own[kind][v];
            const bool in = k->in[kind][v];
            to[kind]->own += in ? reads * own : 0;
            to[kind]->peer += in ? reads * (1 - own) : 0;
            to[kind]->host += in ? 0 : reads;
            bytes[kind][0] += in ? each * reads * own : 0;
            bytes[kind][1] += in ? each * reads * (1 - own) : 0;
            bytes[kind][2] += in ? 0 : each * reads;
        }
    for (int i = 0; i < 3; i++) {
        const double speed[] = {c->bandwidth.own, c->bandwidth.peer, c->bandwidth.host};
        o->extract += bytes[0][i] / speed[i] / c->devices;
        o->sample += bytes[1][i] / speed[i] / c->devices;
    }
    if (c->links && k->parts > 1) {
        o->extract = slowest(c, k, 0);
        o->sample = slowest(c, k, 1);
    }
    o->seconds = o->extract + o->sample;
}

/* The share of P devices that read a part from themselves. */
static double own_of(const explain_case* c, int32_t P, int64_t part)
{
    int own = 0;
    if (!c->placement || P == 1) return 1. / P;
    for (int32_t i = 0; i < P; i++) own += c->placement->source[i][part] == i;
    return (double)own / P;
}

/* Without tiers: all on each of the devices, or each its owner's, which have as many nodes, the first ones one more. */
static void expect_owned(explain_outcome* o, const explain_case* c, int32_t P)
{
    static keeping k;
    int64_t rows[8] = {0}, lists[8] = {0}, most[2] = {0, 0};
    const int64_t each = c->nodes / P, more = c->nodes % P;
    for (int64_t v = 0; v < c->nodes; v++) {
        const int64_t part = v < more * (each + 1) ? v / (each + 1) : more + (v - more * (each + 1)) / (each ? each : 1);
        rows[part] += c->sizes.row;
        lists[part] += c->sizes.list + c->sizes.edge * (c->sizes.indptr[v + 1] - c->sizes.indptr[v]);
        k.parts = P;
        for (int kind = 0; kind < 2; kind++) {
            k.in[kind][v] = true;
            k.part[kind][v] = (int)part;
            k.own[kind][v] = own_of(c, P, part);
        }
    }
    for (int p = 0; p < P; p++) {
        most[0] = rows[p] > most[0] ? rows[p] : most[0];
        most[1] = lists[p] > most[1] ? lists[p] : most[1];
    }
    if (most[0] + most[1] > c->memory) return;
    o->rows = o->lists = c->nodes;
    o->row_bytes = most[0];
    o->list_bytes = most[1];
    expect_reads(o, c, &k);
}

static bool is_by_id(const ggnn_node* rank, int64_t n)
{
    for (int64_t v = 0; v < n; v++)
        if (rank[v] != v) return false;
    return true;
}

/* What fits beside so many rankings: rows, in parts of equally many, by degree; lists by ggnn_fill_lists where the fullest part of
   all of them is too large. Returns how many rankings it needs. */
static int place_parts(explain_outcome* o, keeping* k, const explain_case* c, int32_t P, bool features, const ggnn_node* rank,
                       const ggnn_node* order, int rankings)
{
    ggnn_node taken[NODES];
    int64_t left[GGNN_DEVICES_MAX], part[GGNN_DEVICES_MAX] = {0}, fullest = 0, bytes[2] = {0, 0};
    const ggnn_sizes sizes = c->sizes;
    const int64_t copies = c->placement && P > 1 ? c->placement->most : 1, kept = rankings * c->nodes * (int64_t)sizeof(ggnn_node);
    const int64_t each_has = c->memory > kept ? (c->memory - kept) / copies : 0;
    bool dealt = false;
    for (int64_t v = 0; v < c->nodes; v++) part[v % P] += c->sizes.list + c->sizes.edge * (c->sizes.indptr[v + 1] - c->sizes.indptr[v]);
    for (int p = 0; p < P; p++) fullest = part[p] > fullest ? part[p] : fullest;
    *o = (explain_outcome){0};
    k->parts = P;
    for (int turn = 0; turn < 2; turn++) {
        const bool rows = turn == (features ? 0 : 1);
        const int64_t room = each_has - bytes[!rows];
        if (rows) {
            const int64_t each = room / c->sizes.row, most = (c->nodes + P - 1) / P;
            o->rows = each >= most ? c->nodes : each * P;
            bytes[1] = (each >= most ? most : each) * c->sizes.row;
            for (int64_t v = 0; v < c->nodes; v++) {
                k->in[0][v] = rank[v] < o->rows;
                k->part[0][v] = (int)((o->rows == c->nodes ? v : rank[v]) % P);
                k->own[0][v] = own_of(c, P, k->part[0][v]);
            }
            continue;
        }
        dealt = fullest > room;
        for (int p = 0; p < P; p++) left[p] = room;
        o->lists = dealt ? ggnn_fill_lists(taken, left, P, order, &sizes, c->nodes) : c->nodes;
        for (int64_t v = 0; v < c->nodes; v++) {
            k->in[1][v] = !dealt || taken[v] < o->lists;
            k->part[1][v] = (int)((dealt ? taken[v] : v) % P);
            k->own[1][v] = own_of(c, P, k->part[1][v]);
        }
        for (int p = 0; p < P; p++) bytes[0] = room - left[p] > bytes[0] ? room - left[p] : bytes[0];
        if (!dealt) bytes[0] = fullest;
    }
    for (int i = 0; i < P; i++) { /* of the device that has most; parts are not even */
        int64_t has[2] = {0, 0};
        for (int64_t v = 0; v < c->nodes; v++) {
            const int64_t row = o->rows == c->nodes ? v : rank[v], list = dealt ? taken[v] : v;
            const ggnn_placement* placed = P > 1 ? c->placement : NULL;
            if (row < o->rows && (placed ? placed->stores[i] >> row % P & 1 : row % P == i)) has[0] += c->sizes.row;
            if (list < o->lists && (placed ? placed->stores[i] >> list % P & 1 : list % P == i)) has[1] += c->sizes.list + c->sizes.edge * (c->sizes.indptr[v + 1] - c->sizes.indptr[v]);
        }
        o->row_bytes = has[0] > o->row_bytes ? has[0] : o->row_bytes;
        o->list_bytes = has[1] > o->list_bytes ? has[1] : o->list_bytes;
    }
    return (dealt && o->lists && !is_by_id(taken, c->nodes)) + (o->rows && o->rows < c->nodes && !is_by_id(rank, c->nodes));
}

/* Beside as many rankings as what is placed needs: one for both kinds, or one each. all: all is stored, or nothing. */
static void expect_parts(explain_outcome* o, const explain_case* c, int32_t P, bool features, bool all)
{
    static keeping k;
    ggnn_node rank[NODES], order[NODES];
    hotness_rank(rank, order, HOTNESS_DEGREE, c->degrees, NULL, NULL, 0, c->nodes);
    int rankings = !is_by_id(rank, c->nodes);
    for (int needed; (needed = place_parts(o, &k, c, P, features, rank, order, rankings)) > rankings;) rankings = needed;
    if (all && (o->rows < c->nodes || o->lists < c->nodes)) *o = (explain_outcome){0};
    else expect_reads(o, c, &k);
}

/* A cache of so many of the hottest rows; lists in parts by reads, rows by reads, too, but those that are cached behind all others. */
static void expect_cached(explain_outcome* o, const explain_case* c, int64_t cached)
{
    static keeping k;
    const int32_t P = c->devices;
    const int64_t N = c->nodes;
    ggnn_node hot[2][NODES], order[2][NODES], behind[NODES], *rank = hot[0];
    explain_case rest = *c;
    hotness_rank(hot[0], order[0], HOTNESS_PRESC, c->hot_rows, NULL, c->sizes.indptr, 0, N);
    hotness_rank(hot[1], order[1], HOTNESS_PRESC, c->hot_lists, NULL, c->sizes.indptr, 0, N);
    for (int64_t v = 0; v < N; v++) {
        order[1][hot[1][v]] = (ggnn_node)v;
        behind[v] = (ggnn_node)(hot[0][v] < cached ? hot[0][v] + N - cached : hot[0][v] - cached);
    }
    if (c->memory < INT64_MAX) rest.memory = c->memory > cached * c->sizes.row ? c->memory - cached * c->sizes.row : 0;
    int rankings = !is_by_id(hot[0], N) + !is_by_id(hot[1], N), all = 0;
    for (int turn = 0; turn < 5; turn++) {
        const int needed = place_parts(o, &k, &rest, P, false, rank, order[1], rankings);
        const bool parts_too = o->rows && o->rows < N;
        all = needed + (!is_by_id(hot[0], N) && !(parts_too && rank == hot[0]));
        const bool moves = parts_too && rank == hot[0] && memcmp(behind, hot[0], (size_t)N * sizeof *behind);
        const bool fits = all <= rankings || c->memory == INT64_MAX;
        if (moves) rank = behind;
        if (fits && !moves) break;
        if (!fits) rankings = all;
    }
    const int64_t kept = all * N * (int64_t)sizeof(ggnn_node);
    const bool possible = c->memory == INT64_MAX || cached * c->sizes.row <= c->memory - kept;
    for (int64_t v = 0; v < N; v++) {
        if (hot[0][v] >= cached) continue;
        k.in[0][v] = true;
        k.own[0][v] = 1;
        k.part[0][v] = -1;
    }
    o->rows += cached;
    o->row_bytes += cached * c->sizes.row;
    expect_reads(o, c, &k);
    if (!possible) *o = (explain_outcome){0};
}

/* By the share that takes least time. */
static void expect_beside(explain_outcome* o, const explain_case* c)
{
    static const double ratio[] = {.01, .02, .05, .1, .15, .2, .3, .5};
    for (int i = 0; i < 8 && c->devices > 1; i++) {
        explain_outcome with = {0};
        expect_cached(&with, c, ggnn_fill_ratio(ratio[i], c->nodes));
        with.cache_ratio = with.possible ? ratio[i] : 0;
        if (with.possible && (!o->possible || with.seconds < (1 - 1e-9) * o->seconds)) *o = with;
    }
}

static void expect_dual(explain_outcome* o, const explain_case* c)
{
    static keeping k;
    k.parts = 1;
    ggnn_node rank[2][NODES], work[2 * NODES];
    double saved[2] = {0, 0};
    const ggnn_sizes sizes = c->sizes;
    const int64_t rankings = 2 * c->nodes * (int64_t)sizeof(ggnn_node);
    for (int64_t v = 0; v < c->nodes; v++) {
        saved[0] += list_bytes(c, v) * (double)c->hot_lists[v] * 1e9 * (1 / c->bandwidth.host - 1 / c->bandwidth.own);
        saved[1] += (double)(c->sizes.row * c->hot_rows[v]) * 1e9 * (1 / c->bandwidth.host - 1 / c->bandwidth.own);
    }
    for (int i = 0; i < 2; i++) o->slopes[i] = saved[i] > 1 ? (int64_t)saved[i] : 1;
    const ggnn_dual from = {c->hot_rows, c->hot_lists, o->slopes[1], o->slopes[0], &sizes, c->memory > rankings ? c->memory - rankings : 0};
    const ggnn_dual_fill fill = ggnn_fill_dual(rank[0], rank[1], &from, c->nodes, work);
    for (int64_t v = 0; v < c->nodes; v++) {
        k.in[0][v] = rank[0][v] < fill.rows;
        k.in[1][v] = rank[1][v] < fill.lists;
        k.own[0][v] = k.own[1][v] = 1;
    }
    o->rows = fill.rows;
    o->lists = fill.lists;
    o->row_bytes = fill.row_bytes;
    o->list_bytes = fill.list_bytes;
    expect_reads(o, c, &k);
}

static void foretell(explain_outcome out[EXPLAIN_SETTINGS], const explain_case* c)
{
    memset(out, 0, EXPLAIN_SETTINGS * sizeof *out);
    const bool limited = c->config->device_memory > 0;
    if (limited) expect_parts(&out[EXPLAIN_ALL], c, 1, false, true);
    else expect_owned(&out[EXPLAIN_ALL], c, 1);
    if (c->devices > 1 && (limited || c->placement)) expect_parts(&out[EXPLAIN_PARTS], c, c->devices, false, true);
    else if (c->devices > 1) expect_owned(&out[EXPLAIN_PARTS], c, c->devices);
    expect_parts(&out[EXPLAIN_GRAPH_FIRST], c, c->devices, false, false);
    expect_parts(&out[EXPLAIN_FEATURES_FIRST], c, c->devices, true, false);
    expect_dual(&out[EXPLAIN_DUAL], c);
    expect_beside(&out[EXPLAIN_BESIDE], c);
    ggnn_placement cliques;
    explain_case within = *c;
    within.placement = &cliques;
    if (!c->links || c->devices == 1) return;
    CHECK(ggnn_place_parts(&cliques, c->links, GGNN_PLACE_CLIQUE, 0, NULL) == GGNN_OK);
    expect_parts(&out[EXPLAIN_CLIQUES], &within, c->devices, false, false);
}

static void near_all(double a, double b) { CHECK_NEAR(a, b, 1e-9 * fabs(b) + 1e-13); }

static void compare_outcomes(const explain_outcome* o, const explain_outcome* expected)
{
    CHECK_EQ(o->possible, expected->possible);
    CHECK_EQ(o->rows, expected->rows);
    CHECK_EQ(o->lists, expected->lists);
    CHECK_EQ(o->row_bytes, expected->row_bytes);
    CHECK_EQ(o->list_bytes, expected->list_bytes);
    const explain_tiers *a = &o->row_reads, *b = &expected->row_reads;
    for (int kind = 0; kind < 2; kind++, a = &o->list_reads, b = &expected->list_reads) {
        near_all(a->own, b->own);
        near_all(a->peer, b->peer);
        near_all(a->host, b->host);
    }
    near_all(o->sample, expected->sample);
    near_all(o->extract, expected->extract);
    near_all(o->seconds, expected->seconds);
    near_all(o->cache_ratio, expected->cache_ratio);
    for (int i = 0; i < 2; i++) near_all((double)o->slopes[i], (double)expected->slopes[i]);
}

static explain_setting expected_choice(const explain_outcome* o)
{
    double least = INFINITY;
    for (int s = 0; s < EXPLAIN_SETTINGS; s++)
        if (o[s].possible) least = fmin(least, o[s].seconds);
    for (int s = 0;; s++)
        if (o[s].possible && o[s].seconds <= 1.01 * least) return (explain_setting)s;
}

/* Lists of any length, counts of any kind, one device to eight that store one part or those that links call for, from no memory to
   more than all takes, with --device-memory and without. */
TEST(every_number_of_every_setting_is_that_of_plain_loops)
{
    static int64_t at[NODES + 1], count[5][NODES];
    static const double fanouts[] = {0, 1, 3, 1e9};
    static const int64_t edges[] = {4, 8, 12};
    static const char* const machine[] = {"dgx-1v", "pcie-pairs", "ring", "none"};
    config limited = {.device_memory = 1, .reserve_bytes = 1000}; /* which `memory` is without */
    for (int i = 0; i < 300; i++) {
        const int32_t devices = 1 + (int32_t)test_below(8);
        ggnn_topology links;
        ggnn_placement placed;
        const int64_t nodes = 1 + test_below(200), longest = 1 + test_below(40);
        for (int64_t v = 0; v < nodes; v++) {
            at[v + 1] = at[v] + test_below(longest);
            for (int k = 0; k < 5; k++) count[k][v] = test_below(3) ? test_below(1 + test_below(50)) : 0;
        }
        CHECK(ggnn_topology_named(&links, machine[test_below(4)], devices) == GGNN_OK && ggnn_place_parts(&placed, &links, GGNN_PLACE_PRUNED, 20, NULL) == GGNN_OK);
        explain_case c = {.config = test_below(2) ? &limited : &plain, .nodes = nodes, .sizes = {4 * (1 + test_below(30)), at, edges[test_below(3)], 16},
                          .degrees = count[0], .hot_rows = count[1], .hot_lists = count[2], .rows = count[3], .lists = count[4],
                          .epochs = 1 + test_below(3), .fanout = fanouts[test_below(4)], .devices = devices,
                          .placement = test_below(2) ? &placed : NULL, .bandwidth = {1e12, 5e10 + (double)test_below(5), 1e10}};
        if (c.placement && test_below(2)) c.links = &links;
        const int64_t all = at[nodes] * c.sizes.edge + nodes * (c.sizes.list + c.sizes.row);
        const int64_t memory[] = {0, test_below(all + 1), test_below(2 * all), all, all - 1, 3 * all, INT64_MAX};
        c.memory = memory[i % 7];
        explain_outcome out[EXPLAIN_SETTINGS], expected[EXPLAIN_SETTINGS];
        error why = {""};
        const int before = test_errors;
        CHECK(explain_outcomes(out, &c, &why));
        foretell(expected, &c);
        for (int s = 0; s < EXPLAIN_SETTINGS; s++) compare_outcomes(&out[s], &expected[s]);
        CHECK_EQ(explain_choice(out), expected_choice(expected));
        if (test_errors > before) printf("  case %d: %lld nodes, %d devices, %s, %s\n", i, (long long)nodes, (int)devices, c.links ? "links" : c.placement ? "placed" : "not placed", c.config == &plain ? "no limit" : "limited");
    }
}

/* Of parts by hash each device has a table, where rows of other owners lie. */
TEST(owners_by_hash_need_a_table_of_ranks)
{
    config by_hash = {.owners = GGNN_OWNER_HASH};
    explain_case c = case_of(even, even, INT64_MAX, 4);
    explain_outcome out[EXPLAIN_SETTINGS];
    error why = {""};
    c.config = &by_hash;
    CHECK(explain_outcomes(out, &c, &why) && out[EXPLAIN_PARTS].possible);
    const int64_t data = out[EXPLAIN_PARTS].row_bytes + out[EXPLAIN_PARTS].list_bytes;
    CHECK(data > NODES * 480 / 4 && data < NODES * 480 / 2); /* not even */
    c.memory = data + NODES * (int64_t)sizeof(ggnn_node);
    CHECK(explain_outcomes(out, &c, &why) && out[EXPLAIN_PARTS].possible);
    c.memory--;
    CHECK(explain_outcomes(out, &c, &why) && !out[EXPLAIN_PARTS].possible);
    c.devices = 1;
    c.memory = NODES * 480; /* all on one needs none */
    CHECK(explain_outcomes(out, &c, &why) && out[EXPLAIN_ALL].possible);
}

/* ==== the program =============================================================================================== */

static void make_graph(const char* name, const char* how)
{
    char line[300];
    const char* space = strchr(how, ' ');
    snprintf(line, sizeof line, "generate %.*s %s %s", (int)(space - how), how, name, space);
    CHECK_EQ(finish(start("ggnn-data", line)), 0);
}

/* Of a device with a limit no byte stays free. */
static const char* reserve_of(const char* options) { return strstr(options, "--device-memory") ? "--reserve-bytes 0" : ""; }

/* The log's record of a run with these options. */
static const char* explained(const char* options)
{
    if (!CHECK_EQ(trainf("--explain --hidden 8 --batch 128 --threads 1 %s --log log %s", reserve_of(options), options), 0))
        printf("  %s\n", output);
    read_log(&first, "log", "explain");
    return CHECK_EQ(first.count, 1) ? first.line[0] : "";
}

/* PARTS: a quarter of small.ggnn, beside a ranking. LISTS: what all lists of dense.ggnn take, and a little of its rows. RANKED: both
   rankings of skewed.ggnn, and much of its rows and lists. */
#ifdef GGNN_NODE64
#define PARTS  "96K"
#define LISTS  "338K"
#define RANKED "2200K"
#else
#define PARTS  "60K"
#define LISTS  "177K"
#define RANKED "1200K"
#endif

/* The same five, of graphs that are sampled. */
TEST(explain_finds_the_right_setting_of_five_graphs)
{
    static const struct {
        const char *options, *choice;
    } run[] = {
        {"--data small.ggnn --fanout 5,4", "--store replica"},
        {"--data small.ggnn --fanout 5,4 --devices 4 --device-memory " PARTS, "--store parts"}, /* reads are even */
        {"--data dense.ggnn --layers 4 --fanout 10,10,10,10 --device-memory " LISTS, "--store-graph 1 --store-features 1 --prefer graph"},
        {"--data wide.ggnn --layers 2 --fanout 2,2 --device-memory 400K", "--store-graph 1 --store-features 1 --prefer features"},
        {"--data skewed.ggnn --fanout 5,4,3 --device-memory " RANKED, "--cache dual --cache-bytes auto"}};
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
    CHECK_EQ(train("--data paper.ggnn --fanout 5,4 --hidden 8 --devices 2 --gather exchange --explain --log staged"), 0);
    CHECK(stage("mark") == 0 && stage("extract") > 0); /* rows that other devices send */
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

/* A run with a setting's options beside `options`, and its log "run". */
static void run_setting(const char* options, explain_setting s, const char* more)
{
    char line[1200], set[200];
    const bool limited = strstr(options, "--device-memory") || strstr(more, "--device-memory");
    const char* prefer = strstr(explain_options[s], " --prefer"); /* which is refused where all has room */
    snprintf(set, sizeof set, "%.*s", prefer && !limited ? (int)(prefer - explain_options[s]) : (int)sizeof set - 1, explain_options[s]);
    snprintf(line, sizeof line, "%.400s %s %.400s --hidden 8 --batch 128 --threads 1 %s --epochs 1 --eval-every 0 --log run", options,
             set, more, limited ? "--reserve-bytes 0" : "");
    if (!CHECK_EQ(trainf("%s", line), 0)) printf("  %s: %s\n", line, output);
}

/* Of a record of that log: the member of `kind`, a number for each device: their sum, or the most. */
static double logged(const char* event, const char* kind, const char* member, bool sum)
{
    char pattern[60];
    double all = 0;
    read_log(&second, "run", event);
    snprintf(pattern, sizeof pattern, "\"%s\":{", kind);
    const char* at = second.count ? strstr(second.line[0], pattern) : NULL;
    snprintf(pattern, sizeof pattern, "\"%s\":[", member);
    at = at ? strstr(at, pattern) : NULL;
    for (at = at ? strchr(at, '[') : NULL; at && *at != ']'; at = strpbrk(at + 1, ",]"))
        if (at[1] != ']') all = sum ? all + atof(at + 1) : fmax(all, atof(at + 1));
    return all;
}

/* The slopes that dual is said to have, as an option. */
static const char* slopes_in(const char* record)
{
    static char slopes[100];
    const char* at = strstr(record, "\"slopes\":[");
    snprintf(slopes, sizeof slopes, "--slopes %.*s", at ? (int)strcspn(at + 10, "]") : 0, at ? at + 10 : "");
    return slopes;
}

/* What the options of a setting do not say. */
static const char* more_of(const char* record, explain_setting s)
{
    static char ratio[60];
    snprintf(ratio, sizeof ratio, "--cache-ratio %g", s == EXPLAIN_BESIDE ? kept(record, s, "cache_ratio") : 0);
    return s == EXPLAIN_DUAL ? slopes_in(record) : s == EXPLAIN_BESIDE ? ratio : "";
}

static bool is_possible(const char* record, explain_setting s)
{
    char pattern[120];
    snprintf(pattern, sizeof pattern, "\"%s\":{\"possible\":true", explain_options[s]);
    return strstr(record, pattern) != NULL;
}

/* Byte by byte: what rankings take is not promised to rows, parts of unlike lists are not even, and a cache is ranked as the
   run ranks it. What is said not to fit does not. */
TEST(settings_store_what_a_run_with_their_options_stores)
{
    static const char* const sizes[] = {"60K", "200K", "700K"};
    static const char* const devices[] = {"1", "3", "4 --topology pcie-pairs"};
    int possible = 0;
    make_graph("uneven.ggnn", "rmat --nodes 2048 --edges 40000 --features 32 --train .2");
    for (int i = 0; i < 8; i++) {
        char options[200];
        snprintf(options, sizeof options, "--data uneven.ggnn --fanout 5,4 --device-memory %s --devices %s", sizes[i % 3], devices[i / 3]);
        static char found[RECORD_MAX];
        snprintf(found, sizeof found, "%s", explained(options));
        for (int s = 0; s < EXPLAIN_SETTINGS; s++) {
            if (s == EXPLAIN_PARTS || s == EXPLAIN_BESIDE ? i < 3 : s == EXPLAIN_ALL && i >= 6) continue; /* no parts; links without parts */
            if (s == EXPLAIN_CLIQUES && i < 6) continue; /* no links */
            run_setting(options, (explain_setting)s, more_of(found, (explain_setting)s));
            const bool all = !strstr(output, "as the device has no room for more");
            if (s <= EXPLAIN_PARTS) CHECK_EQ(is_possible(found, (explain_setting)s), all);
            else CHECK(is_possible(found, (explain_setting)s));
            if (!is_possible(found, (explain_setting)s)) continue;
            const double rows = logged("tiers", "row_bytes", "own", false) + logged("tiers", "row_bytes", "cache", false);
            const double lists = logged("tiers", "list_bytes", "own", false) + logged("tiers", "list_bytes", "cache", false);
            possible += s <= EXPLAIN_PARTS;
            CHECK_EQ(kept(found, (explain_setting)s, "row_bytes"), rows);
            CHECK_EQ(kept(found, (explain_setting)s, "list_bytes"), lists);
            if (!CHECK(rows + lists > 0)) printf("  %s %s\n", options, explain_options[s]);
        }
    }
    CHECK(possible >= 3 && possible < 9);
}

/* Of the reads of all devices in a run of a setting, in per cent. */
static double read_share(const char* kind, const char* tier)
{
    double all = 0;
    for (const char* const* t = (const char* const[]){"cache", "own", "peer", "host", NULL}; *t; t++) all += logged("ranks", kind, *t, true);
    return 100 * logged("ranks", kind, tier, true) / all;
}

/* And of a setting, in the log's record of an explanation. */
static double modelled_share(const char* record, explain_setting s, const char* kind, const char* tier)
{
    char pattern[100];
    snprintf(pattern, sizeof pattern, "\"%s\":{\"possible\"", explain_options[s]);
    const char* at = strstr(record, pattern);
    snprintf(pattern, sizeof pattern, "\"%s\":{", kind);
    at = at ? strstr(at, pattern) : NULL;
    return at ? number(at, tier) : (double)NAN;
}

/* An explanation of an epoch that --cache optimal foretells, beside the same epoch in runs of the settings: the host's reads are the
   same ones. The model's own reads are those of devices that read alike. Without a limit each owner has its part. */
TEST(settings_read_what_a_run_with_their_options_reads)
{
    static const char* const machine[] = {"1 --device-memory 200K", "3 --device-memory 100K", "4 --topology pcie-pairs --device-memory 200K",
                                          "4 --topology dgx-1v", "3 --owners modulo", "4 --owners hash", "5 --owners range"};
    make_graph("uneven.ggnn", "rmat --nodes 2048 --edges 40000 --features 32 --train .2");
    for (int i = 0; i < 7; i++) {
        char options[300], line[400];
        static char found[RECORD_MAX];
        const bool owned = i >= 4;
        snprintf(options, sizeof options, "--data uneven.ggnn --fanout 5,4 --devices %s", machine[i]);
        snprintf(line, sizeof line, "%s%s", options, owned ? " --store parts" : " --cache optimal --cache-ratio .1");
        snprintf(found, sizeof found, "%s", explained(line));
        for (int s = EXPLAIN_PARTS; s < (owned ? EXPLAIN_GRAPH_FIRST : EXPLAIN_SETTINGS); s++) {
            if (!is_possible(found, (explain_setting)s)) continue;
            run_setting(options, (explain_setting)s, s == EXPLAIN_DUAL && i >= 3 ? "--device-memory 1G" : more_of(found, (explain_setting)s));
            for (int rows = 0; rows < (owned ? 1 : 2); rows++) { /* rows are read where they lie, an edge each, where there is no plan */
                const char *run = rows ? "rows" : "lists", *model = rows ? "row_reads" : "list_reads";
                const double own = read_share(run, "own") + read_share(run, "cache"), within = i ? 2 : 1e-9;
                CHECK_NEAR(modelled_share(found, (explain_setting)s, model, "host"), read_share(run, "host"), 1e-9);
                if (!CHECK_NEAR(modelled_share(found, (explain_setting)s, model, "own"), own, within)) printf("  %s %s\n", options, explain_options[s]);
            }
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

/* ==== all that it says ========================================================================================== */

typedef struct { /* of a run: what this test counts by itself */
    config config;
    task task;
    int64_t* count[6];           /* (N) rows, then lists: before training by all, of device 0, of the other devices */
    int64_t epochs;              /* of the last four */
    explain_outcome out[EXPLAIN_SETTINGS];
    int64_t memory;
} account;

static bool open_account(account* a, const char* options)
{
    static char words[600];
    char* argv[WORDS_MAX];
    int argc = 1;
    error why = {""};
    memset(a, 0, sizeof *a);
    snprintf(words, sizeof words, "%s", options);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    argv[0] = (char*)(uintptr_t) "ggnn-train";
    if (!CHECK(config_parse(&a->config, argc, argv, &why) == OPTIONS_GOOD && config_finish(&a->config, &why))) return false;
    if (!CHECK(task_open(&a->task, &a->config, &why))) return false;
    for (int i = 0; i < 6; i++) a->count[i] = calloc((size_t)a->task.graph.num_nodes, sizeof **a->count);
    return true;
}

static void close_account(account* a)
{
    for (int i = 0; i < 6; i++) free(a->count[i]);
    task_close(&a->task);
}

/* Adds what device r reads in an epoch, the how-manieth of its kind. */
static void count_epoch(account* a, int32_t r, int64_t epoch, ggnn_purpose purpose, int64_t* rows, int64_t* lists)
{
    error why = {""};
    const config* c = &a->config;
    const int64_t ids = a->task.count[SPLIT_TRAIN], batch = c->batch < ids ? c->batch : ids;
    device* d = device_open_cpu(1, &why);
    const loader_plan plan = {.graph = a->task.graph, .features = a->task.features, .how = config_sampling(c), .batch = batch, .rank = r,
                              .ranks = (int32_t)c->devices};
    loader* l = loader_create(d, &plan, NULL, &why);
    loader_pass pass = {.ids = a->task.ids[SPLIT_TRAIN], .num_ids = ids, .shuffled = true, .keyed = true, .epoch = (uint32_t)epoch,
                        .rng = {(uint64_t)c->seed, (uint32_t)(epoch * ((ids + batch - 1) / batch)), purpose}};
    if (purpose == GGNN_PURPOSE_PRESAMPLE) pass.epoch += GGNN_PRESAMPLE_EPOCH;
    loader_begin(l, &pass, 0);
    for (const mini_batch* b; (b = batch_take(l, &why)); batch_give(l, b)) {
        const ggnn_block* last = &b->blocks.hop[b->blocks.num_hops - 1];
        for (int64_t i = 0; i < *last->num_src.n; i++) rows[last->id[i]]++;
        for (int h = 0; h < b->blocks.num_hops; h++)
            for (int64_t i = 0; i < *b->blocks.hop[h].num_dst.n; i++) lists[b->blocks.hop[h].id[i]]++;
    }
    CHECK_STR(why.text, "");
    loader_free(l);
    device_close(d);
}

/* The epochs that a ranking is made of, then those that the prediction is. */
static void count_all(account* a)
{
    const config* c = &a->config;
    const bool optimal = c->cache == HOTNESS_OPTIMAL + 1;
    a->epochs = optimal ? c->epochs : 1;
    for (int32_t r = 0; r < c->devices; r++) {
        int64_t *rows = a->count[r ? 2 : 1], *lists = a->count[r ? 5 : 4];
        for (int64_t e = 0; e < c->presample_epochs; e++) count_epoch(a, r, e, GGNN_PURPOSE_PRESAMPLE, a->count[0], a->count[3]);
        for (int64_t e = 0; e < a->epochs; e++)
            count_epoch(a, r, optimal ? e : c->presample_epochs, optimal ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_PRESAMPLE, rows, lists);
    }
}

static double sum_of(const account* a, const int64_t* count)
{
    double sum = 0;
    for (int64_t v = 0; v < a->task.graph.num_nodes; v++) sum += (double)count[v];
    return sum / (double)a->epochs;
}

/* Of device 0's reads those that it owns, in percent, where no tier is asked for: of lists all where rows are sent. */
static double own_share(const account* a, bool lists)
{
    const config* c = &a->config;
    const int64_t N = a->task.graph.num_nodes, *count = a->count[lists ? 4 : 1];
    const bool exchanged = c->gather == GATHER_EXCHANGE || c->store == STORE_SHARDS, divided = c->devices > 1 && (exchanged || c->store == STORE_PARTS);
    const int32_t P = (int32_t)c->devices;
    double own = 0, all = 0;
    for (int64_t v = 0; v < N; v++) {
        const bool device_0 = c->owners == GGNN_OWNER_HASH ? ggnn_owner_hash(v, P) == 0 : c->owners == GGNN_OWNER_RANGE ? v < N / P + (N % P > 0) : v % P == 0;
        own += !divided || (exchanged && lists) || device_0 ? (double)count[v] : 0;
        all += (double)count[v];
    }
    return 100 * (own / all);
}

/* What the settings come to, from those counts. links: the program's own, GB/s. */
static void model(account* a, double fanout, const int64_t links[3])
{
    const config* c = &a->config;
    const ggnn_csc* g = &a->task.graph.whole;
    const int64_t N = a->task.graph.num_nodes, limit = c->device_memory;
    ggnn_topology t;
    ggnn_placement placed;
    if (c->topology)
        CHECK(ggnn_topology_named(&t, c->topology, (int32_t)c->devices) == GGNN_OK && ggnn_place_parts(&placed, &t, GGNN_PLACE_BEST, 0, NULL) == GGNN_OK);
    int64_t* degrees = calloc((size_t)N, sizeof *degrees);
    error why = {""};
    for (int64_t e = 0; e < g->num_edges; e++) degrees[g->indices[e]]++;
    for (int64_t v = 0; v < N; v++)
        for (int i = 1; i < 6; i += 3) a->count[i][v] += a->count[i + 1][v];
    a->memory = !limit ? INT64_MAX : limit > c->reserve_bytes ? limit - c->reserve_bytes : 0;
    const explain_case given = {.config = c, .nodes = N, .sizes = {a->task.features.pitch, g->indptr, (int64_t)sizeof(ggnn_node) + (g->weight ? 4 : 0), 16},
                                .degrees = degrees, .hot_rows = a->count[0], .hot_lists = a->count[3], .rows = a->count[1],
                                .lists = a->count[4], .epochs = a->epochs, .fanout = fanout, .memory = a->memory,
                                .devices = (int32_t)c->devices, .placement = c->topology ? &placed : NULL, .links = c->topology ? &t : NULL,
                                .bandwidth = {1e9 * (double)links[0], 1e9 * (double)links[1], 1e9 * (double)links[2]}};
    CHECK(explain_outcomes(a->out, &given, &why));
    free(degrees);
}

static double percent(double part, const explain_tiers* of)
{
    const double all = of->own + of->peer + of->host;
    return all > 0 ? 100 * part / all : 0;
}

/* A setting's record in the log, and its line of the table. */
static void check_setting(const account* a, explain_setting s, const char* record)
{
    const explain_outcome* o = &a->out[s];
    char line[300], rows[16], lists[16], begin[60];
    near_all(kept(record, s, "row_bytes"), (double)o->row_bytes);
    near_all(kept(record, s, "list_bytes"), (double)o->list_bytes);
    near_all(kept(record, s, "modelled_sample"), o->sample);
    near_all(kept(record, s, "modelled_extract"), o->extract);
    snprintf(line, sizeof line, "\"%s\":{\"possible\":%s", explain_options[s], o->possible ? "true" : "false");
    CHECK(strstr(record, line) != NULL);
    snprintf(begin, sizeof begin, "\n  %-32s ", explain_name[s]);
    snprintf(line, sizeof line, "%s%9s %9s  %6.2f %6.2f  %6.2f %6.2f %9.3g %9.3g %9.3g\n", begin, progress_amount(rows, (double)o->row_bytes),
             progress_amount(lists, (double)o->list_bytes), percent(o->row_reads.own, &o->row_reads), percent(o->row_reads.host, &o->row_reads),
             percent(o->list_reads.own, &o->list_reads), percent(o->list_reads.host, &o->list_reads), o->sample, o->extract, o->seconds);
    if (!o->possible) snprintf(line, sizeof line, "%s%s\n", begin, a->config.devices == 1 && (s == EXPLAIN_PARTS || s > EXPLAIN_DUAL) ? "one device has no parts"
                                                       : s == EXPLAIN_CLIQUES && !a->config.topology ? "no links are stated (--topology)" : "does not fit");
    CHECK(says(line));
}

/* The choice, and the fastest of the others beside it. */
static void check_choice(const account* a, const char* record)
{
    const explain_setting choice = expected_choice(a->out);
    const explain_outcome *best = &a->out[choice], *other = NULL;
    char line[500], slopes[100] = "", next[200] = "";
    snprintf(line, sizeof line, "\"choice\":\"%s\"", explain_options[choice]);
    CHECK(strstr(record, line) != NULL);
    for (int s = 0; s < EXPLAIN_SETTINGS; s++)
        if (a->out[s].possible && s != (int)choice && (!other || a->out[s].seconds < other->seconds)) other = &a->out[s];
    if (choice == EXPLAIN_BESIDE) snprintf(slopes, sizeof slopes, " --cache-ratio %g", best->cache_ratio);
    if (choice == EXPLAIN_DUAL) snprintf(slopes, sizeof slopes, " --slopes %lld,%lld", (long long)best->slopes[0], (long long)best->slopes[1]);
    if (other)
        snprintf(next, sizeof next, "; %s: %.4g s, sample %+.4g, extract %+.4g", explain_name[other - a->out], other->seconds,
                 other->sample - best->sample, other->extract - best->extract);
    snprintf(line, sizeof line, "\nchoice: %s (%s%s): %.4g s an epoch (modelled)%s\n", explain_name[choice], explain_options[choice], slopes,
             best->seconds, next);
    CHECK(says(line));
}

/* The line of a kind's shares is that of the log. */
static void check_shares(const char* record, const char* kind, const char* what)
{
    static const char* const tier[] = {"cache", "own", "peer", "host"};
    char line[200], amount[16];
    int used = snprintf(line, sizeof line, "  %-6s %s  ", what[0] == 'p' ? kind : "", what[0] == 'p' ? "predicted" : "in the run");
    if (what[0] != 'p') used--;
    for (int k = 0; k < 4; k++) used += snprintf(line + used, sizeof line - (size_t)used, " %8.2f", shares(record, kind, what, tier[k]));
    used += snprintf(line + used, sizeof line - (size_t)used, "  ");
    for (int k = 0; k < 4; k++)
        used += snprintf(line + used, sizeof line - (size_t)used, " %8s",
                         progress_amount(amount, floor(shares(record, kind, what, tier[k]) * shares(record, kind, what, "reads") / 100 + .5)));
    CHECK(says(line));
}

/* Measured seconds are those that the run's own record of device 0 has, by epoch; waiting is for batches and for ranks. */
static void check_stages(const account* a)
{
    static const char* const name[] = {"sample", "mark", "copy", "extract", "train"};
    static char record[RECORD_MAX];
    char line[300];
    FILE* f = fopen("staged", "r");
    while (f && fgets(record, sizeof record, f) && !strstr(record, "\"event\":\"ranks\"")) {}
    if (f) fclose(f);
    const double epochs = (double)a->config.epochs;
    for (int i = 0; i < 5; i++) near_all(stage(name[i]), element(record, "\"seconds\":{", name[i], 0) / epochs);
    near_all(stage("waiting"), (element(record, "\"seconds\":{", "batch", 0) + element(record, "\"seconds\":{", "waited", 0)) / epochs);
    snprintf(line, sizeof line, "sample %.4f s, mark %.4f s, copy %.4f s, extract %.4f s, train %.4f s, waiting %.4f s\n", stage("sample"),
             stage("mark"), stage("copy"), stage("extract"), stage("train"), stage("waiting"));
    CHECK(says(line));
}

/* Numbers, tables and the choice, of runs that differ in all that they follow from. With `optimal` the epochs that are predicted
   are the run's, and so is all that is said of them. */
TEST(all_that_explain_says_follows_from_counts_of_the_tests_own)
{
    static const struct {
        const char* options;
        double fanout;
        int64_t links[3];
    } run[] = {
        {"--data odd.ggnn --fanout 5,4", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --device-memory 100K --reserve-bytes 0", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --devices 3 --cache optimal --cache-ratio .1 --epochs 3 --store-graph .6 --store-features .3", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 4,-1 --devices 3 --device-memory 90K --reserve-bytes 3000 --presample-epochs 3 --links 900,30,7", 1e9, {900, 30, 7}},
        {"--data weights.ggnn --fanout 3,2 --sampler weighted --device-memory 300K --reserve-bytes 0 --epochs 2 --cache optimal --cache-ratio .2",
         2, {1500, 50, 12}},
        {"--data weights.ggnn --fanout 3,2 --devices 4 --topology dgx-1v --device-memory 200K --reserve-bytes 1 --cache presc --cache-ratio .05 "
         "--presample-epochs 2 --batch 4096", 2, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 4,4,2 --devices 4 --topology pcie-pairs --device-memory 120K --reserve-bytes 0 --cache optimal --cache-ratio .1 "
         "--store-features .5 --epochs 2 --links 20,11,10", 2, {20, 11, 10}},
        {"--data odd.ggnn --fanout 3,0 --devices 2 --device-memory 60K --reserve-bytes 0 --cache optimal --cache-ratio .3 --links 100,1,1 --batch 50",
         3, {100, 1, 1}},
        {"--data odd.ggnn --fanout 5,4 --devices 2 --device-memory 1000 --reserve-bytes 5000 --presample-epochs 2", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --devices 4 --store parts --owners hash --epochs 2", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --devices 7 --store parts", 4, {1500, 50, 12}},
        {"--data weights.ggnn --fanout 5,4 --devices 3 --gather exchange --owners modulo", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --devices 2 --store shards --owners hash --model gat", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 5,4 --devices 4 --store replica", 4, {1500, 50, 12}},
        {"--data odd.ggnn --fanout 4,4 --sampler walk --eval sampled --walks 5 --walk-length 4 --walk-restart .3 --devices 2 --cache optimal "
         "--cache-ratio .1 --store-graph .5 --epochs 2 --device-memory 50K --reserve-bytes 0", 1, {1500, 50, 12}},
    };
    static float weight[21000];
    make_graph("odd.ggnn", "rmat --nodes 1500 --edges 21000 --features 9 --train .2");
    for (int e = 0; e < 21000; e++) weight[e] = (float)(1 + e % 5);
    add_weights_to("odd.ggnn", "weights.ggnn", weight);
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        static account a;
        static const char* const kind[] = {"rows", "lists"}, *const tier[] = {"cache", "own", "peer", "host", "reads"};
        char line[400], lists[16], rows[16], room[16];
        const int before = test_errors;
        snprintf(line, sizeof line, "%s --explain --hidden 8 --threads 1 --log staged", run[i].options);
        if (!open_account(&a, line)) continue;
        CHECK_EQ(trainf("%s", line), 0);
        CHECK(says("\ntest: not evaluated\n"));
        read_log(&first, "staged", "epoch");
        CHECK_EQ(first.count, a.config.epochs);
        read_log(&first, "staged", "explain");
        const char* record = first.line[0];
        const bool walks = strstr(line, "walk") != NULL;
        count_all(&a);
        for (int k = 0; k < 2; k++) {
            const double steps = k && walks ? 5 * 4 : 1; /* each reads a list */
            near_all(shares(record, kind[k], "predicted", "reads"), steps * sum_of(&a, a.count[3 * k + 1]));
            const bool optimal = strstr(line, "optimal") != NULL, counted = shares(record, kind[k], "counted", "reads") > 0;
            for (int t = 0; optimal && t < 5; t++)
                near_all(shares(record, kind[k], "predicted", tier[t]), shares(record, kind[k], "counted", tier[t]));
            if (!a.config.tiers) {
                near_all(shares(record, kind[k], "predicted", "own"), own_share(&a, k));
                near_all(shares(record, kind[k], "predicted", "peer"), 100 - own_share(&a, k));
                CHECK(shares(record, kind[k], "predicted", "cache") + shares(record, kind[k], "predicted", "host") <= 0);
            }
            check_shares(record, kind[k], "predicted");
            if (counted) check_shares(record, kind[k], "counted");
            CHECK(counted || !a.config.tiers);
        }
        check_stages(&a);
        model(&a, run[i].fanout, run[i].links);
        for (int s = 0; !walks && s < EXPLAIN_SETTINGS; s++) check_setting(&a, (explain_setting)s, record);
        const char* slopes = strstr(record, "\"slopes\":[");
        snprintf(line, sizeof line, "\"slopes\":[%lld,%lld]", (long long)a.out[EXPLAIN_DUAL].slopes[0], (long long)a.out[EXPLAIN_DUAL].slopes[1]);
        CHECK(slopes && !strncmp(slopes, line, strlen(line)));
        near_all(kept(record, EXPLAIN_DUAL, "list_bytes"), (double)a.out[EXPLAIN_DUAL].list_bytes); /* ranked by lists of targets */
        near_all(kept(record, EXPLAIN_DUAL, "row_bytes"), (double)a.out[EXPLAIN_DUAL].row_bytes);
        if (walks) {
            close_account(&a);
            continue;
        }
        check_choice(&a, record);
        const char* links = a.config.topology ? strcmp(a.config.topology, "dgx-1v") ? "12 to 12 GB/s" : "25 to 50 GB/s" : "";
        snprintf(line, sizeof line, "peers are read over the links of --topology, %s, all at once", links);
        CHECK(a.config.topology ? says(line) : !strstr(output, "over the links of --topology"));
        const explain_outcome* beside = &a.out[EXPLAIN_BESIDE];
        snprintf(line, sizeof line, "a cache beside parts: of 0.01 to 0.5 of the rows %g take least time on the links (--cache-ratio %g)", beside->cache_ratio, beside->cache_ratio);
        CHECK(beside->possible ? says(line) : !strstr(output, "a cache beside parts: of"));
        const ggnn_csc* g = &a.task.graph.whole;
        snprintf(line, sizeof line, "\nlists %sB, rows %sB; on each of %d devices ",
                 progress_amount(lists, (double)(g->num_edges * ((int64_t)sizeof(ggnn_node) + (g->weight ? 4 : 0)) + 16 * 1500)),
                 progress_amount(rows, (double)(1500 * a.task.features.pitch)), (int)a.config.devices);
        if (a.config.device_memory) snprintf(line + strlen(line), 100, "room for %sB\n", progress_amount(room, (double)a.memory));
        else snprintf(line + strlen(line), 100, "no limit (--device-memory N sets one)\n");
        CHECK(says(line));
        if (test_errors > before) printf("  %s\n", run[i].options);
        close_account(&a);
    }
}

/* An epoch is predicted all the same, the run's first with `optimal`; nothing was counted or measured. */
TEST(a_run_of_no_epoch_is_explained_as_that_of_one)
{
    static const char* const options[] = {"--devices 2 --cache degree --cache-ratio .2", "--cache optimal --cache-ratio .2"};
    static char one[RECORD_MAX];
    for (int i = 0; i < 2; i++)
        for (int epochs = 1; epochs >= 0; epochs--) {
            char line[200];
            snprintf(line, sizeof line, "--data karate.ggnn --fanout 3,2 %s --epochs %d", options[i], epochs);
            const char* found = explained(line);
            if (epochs) snprintf(one, sizeof one, "%s", found);
            for (int k = 0; k < 10; k++) {
                static const char* const tier[] = {"cache", "own", "peer", "host", "reads"};
                near_all(shares(found, k / 5 ? "rows" : "lists", "predicted", tier[k % 5]), shares(one, k / 5 ? "rows" : "lists", "predicted", tier[k % 5]));
                if (!epochs) CHECK_EQ(shares(found, k / 5 ? "rows" : "lists", "counted", tier[k % 5]), 0);
            }
            CHECK(shares(found, "rows", "predicted", "reads") > 0);
            const char* from[2] = {strstr(found, "\"settings\""), strstr(one, "\"settings\"")};
            const char* to[2] = {strstr(found, "\"choice\""), strstr(one, "\"choice\"")};
            if (!CHECK(from[0] && from[1] && to[0] && to[1])) continue;
            CHECK(to[0] - from[0] == to[1] - from[1] && !strncmp(from[0], from[1], (size_t)(to[0] - from[0])));
            CHECK_EQ(rename("log", "staged"), 0);
            if (!epochs) CHECK(stage("sample") >= 0 && stage("mark") == 0 && stage("extract") == 0 && stage("train") == 0 && stage("waiting") >= 0);
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
    test_seed(61);
    if (!train_tool_begin()) return 1;
    make_counts();
    RUN(xgnns_table_4_follows_from_sizes_and_what_a_cache_held);
    RUN(times_are_bytes_over_bandwidths);
    RUN(five_cases_have_five_right_answers);
    RUN(the_simplest_of_equal_settings_is_chosen);
    RUN(a_cache_beside_parts_is_as_large_as_links_and_memory_make_it);
    RUN(links_count_by_the_slowest_that_a_device_uses);
    RUN(every_number_of_every_setting_is_that_of_plain_loops);
    RUN(owners_by_hash_need_a_table_of_ranks);
    RUN(explain_finds_the_right_setting_of_five_graphs);
    RUN_SLOW(predicted_hit_rates_are_within_a_point_of_those_of_the_run);
    RUN(a_device_owns_exactly_its_range_of_the_nodes);
    RUN(each_stage_has_a_time_of_its_own);
    RUN(without_a_limit_devices_store_all);
    RUN(settings_store_what_a_run_with_their_options_stores);
    RUN(settings_read_what_a_run_with_their_options_reads);
    RUN(modelled_seconds_are_of_the_rows_that_all_devices_read);
    RUN(explain_says_how_much_of_a_list_it_takes_a_sample_to_read);
    RUN(all_that_explain_says_follows_from_counts_of_the_tests_own);
    RUN(a_run_of_no_epoch_is_explained_as_that_of_one);
    RUN(explain_is_a_look_and_no_training);
    if (chdir("/") == 0) folder_remove();
    return test_finish();
}
