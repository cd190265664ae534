/* test_bench_scale.c - the model of scale beside cases counted by hand, and what must hold whatever the inputs; its table of
   inputs; ggnn-bench scale. */
#include "bench/scale_inputs.h"
#include "datasets/dataset.h"
#include "tests/bench_tool.h"

/* ==== a graph and a machine for sums by hand ====================================================================== */

/* A seed's share is the same at every size. */
static const scale_graph flat = {.name = "flat", .nodes = 1e6, .edges = 1e7, .features = 50, .bytes = 4, .classes = 10,
                                 .train = 1000, .batch = 10, .hidden = 20, .points = 1, .point = {{1, {2, 4, 8}, {3, 6, 12}}}};

/* And one whose batches share: four times the seeds reach twice the nodes. */
static const scale_graph shared = {.name = "shared", .nodes = 1e6, .edges = 1e7, .features = 50, .bytes = 4, .classes = 10,
                                   .train = 1e5, .batch = 100, .hidden = 20, .points = 2, .hit_points = 2,
                                   .point = {{100, {4, 8, 16}, {4, 12, 24}}, {400, {2, 4, 8}, {2, 6, 12}}},
                                   .hit = {{.1, .5}, {.4, .8}}};

static const scale_machine plain = {.name = "plain", .devices = 4, .memory = 80, .room = 70, .host_memory = 1000,
                                    .stream = 1000, .random = 500, .dense = 10000, .step = 1e-4, .peer_each = 100,
                                    .peer = 300, .reach = 1, .host = 20, .uplinks = 2, .host_all = 400, .net = 10,
                                    .peer_latency = 1e-5, .net_latency = 3e-5};
static const scale_split quarter = {.25, .5};

static scale_case case_of(const scale_graph* g, const scale_machine* m, scale_parallelism p, scale_store s, int32_t devices)
{
    const scale_case c = {g, m, &quarter, p, s, devices, SCALE_SAGE};
    return c;
}

/* Room for lists and a share of the rows. */
static scale_machine with_room(const scale_graph* g, double share)
{
    scale_machine m = plain;
    m.room = 1e-9 * (scale_graph_bytes(g) + share * scale_feature_bytes(g));
    return m;
}

/* ==== by hand ===================================================================================================== */

/* 100 steps of 10 seeds. Targets 10, 30, 60; edges 20, 40, 80; 120 input rows of 200 bytes. */
TEST(an_epoch_of_one_device_equals_the_sum_by_hand)
{
    const scale_case c = case_of(&flat, &plain, SCALE_DATA, SCALE_REPLICA, 1);
    const scale_epoch e = scale_epoch_of(&c);
    const double rows = 120 * 200;
    const double layer0 = 4 * (80 * 50 + 2 * 60 * 50 + 3 * 60 * 20) + 4 * 3 * 60 * 20;
    const double layer1 = 2 * 4 * (40 * 20 + 2 * 30 * 20 + 3 * 30 * 20), layer2 = 2 * 4 * (20 * 20 + 2 * 10 * 20 + 3 * 10 * 10);
    const double flops = 2 * 2 * 60 * 100 * 20 + 3 * 2 * 30 * 40 * 20 + 3 * 2 * 10 * 40 * 10;
    CHECK(e.possible);
    CHECK_NEAR(e.steps, 100, 1e-12);
    CHECK_NEAR(e.seconds[SCALE_SAMPLE], 100 * 64 * (10 + 30 + 60 + 3 * 140) / 500e9, 1e-15);
    CHECK_NEAR(e.seconds[SCALE_MEMORY], 100 * (rows + layer0 + layer1 + layer2) / 1000e9, 1e-15);
    CHECK_NEAR(e.seconds[SCALE_DENSE], 100 * flops / 10000e9, 1e-15);
    CHECK_NEAR(e.seconds[SCALE_FIXED], 100 * 1e-4, 1e-15);
    CHECK_NEAR(e.own_bytes, 100 * rows, 1e-6);
    CHECK_EQ(scale_bound(&e), SCALE_FIXED);
}

/* As above, of the other models: sources 120, 60, 30 of targets 60, 30, 10; GAT's last layer has four heads of 10 columns. */
TEST(steps_of_gcn_and_gat_equal_the_sums_by_hand)
{
    scale_case c = case_of(&flat, &plain, SCALE_DATA, SCALE_REPLICA, 1);
    const double rows = 120 * 200;
    c.gnn = SCALE_GCN;
    const scale_epoch gcn = scale_epoch_of(&c);
    const double sums = 4 * ((80 + 60) * 50 + 2 * 60 * 50 + 6 * 60 * 20) + 8 * ((40 + 30) * 20 + 2 * 30 * 20 + 3 * 30 * 20) +
                        8 * ((20 + 10) * 20 + 2 * 10 * 20 + 3 * 10 * 10);
    CHECK_NEAR(gcn.seconds[SCALE_MEMORY], 100 * (rows + sums) / 1000e9, 1e-15);
    CHECK_NEAR(gcn.seconds[SCALE_DENSE], 100 * 2 * (2 * 60 * 50 * 20 + 3 * 30 * 20 * 20 + 3 * 10 * 20 * 10) / 10000e9, 1e-15);
    CHECK_NEAR(scale_gradient_bytes(&flat, SCALE_GCN), 4 * (50 * 20 + 20 * 20 + 20 * 10), 1e-9);
    c.gnn = SCALE_GAT;
    const scale_epoch gat = scale_epoch_of(&c);
    const double edges = 140 * (3 * 20 + 24) + 70 * (3 * 20 + 24) + 30 * (3 * 40 + 24);
    const double outputs = 7 * (60 * 20 + 30 * 20 + 10 * 40);
    const double z = 120 * (2 * 50 + 7 * 20) + 60 * (3 * 20 + 8 * 20) + 30 * (3 * 20 + 8 * 40);
    CHECK_NEAR(gat.seconds[SCALE_MEMORY], 100 * (rows + 4 * (edges + outputs + z)) / 1000e9, 1e-15);
    CHECK_NEAR(gat.seconds[SCALE_DENSE], 100 * 2 * (2 * 120 * 50 * 20 + 3 * 60 * 20 * 20 + 3 * 30 * 20 * 40) / 10000e9, 1e-15);
    CHECK_NEAR(scale_gradient_bytes(&flat, SCALE_GAT), 4 * (50 * 20 + 20 * 20 + 20 * 40 + 2 * (20 + 20 + 40)), 1e-9);
    CHECK_NEAR(gat.seconds[SCALE_SAMPLE], gcn.seconds[SCALE_SAMPLE], 1e-18);
}

TEST(one_device_sends_and_receives_nothing)
{
    for (int s = 0; s < SCALE_STORES; s++) {
        const scale_case c = case_of(&shared, &plain, SCALE_DATA, (scale_store)s, 1);
        const scale_epoch e = scale_epoch_of(&c);
        CHECK_EQ(e.possible, s == SCALE_REPLICA || s == SCALE_CACHE);
        CHECK(!e.possible || (e.seconds[SCALE_PEER] == 0 && e.seconds[SCALE_NETWORK] == 0));
    }
}

/* Within a machine all gradients but a device's own share go each way; between machines a port carries what is not the
   machine's. */
TEST(gradients_take_what_a_ring_takes)
{
    const scale_reduction one = scale_reduce(&plain, 1e9, 1), two = scale_reduce(&plain, 1e9, 2);
    const scale_reduction eight = scale_reduce(&plain, 1e9, 8);
    CHECK_EQ(one.peer + one.net + one.fixed, 0);
    CHECK_NEAR(two.peer, 2 * .5 / 100, 1e-12); /* over one link */
    CHECK_NEAR(two.fixed, 2e-5, 1e-15);
    CHECK_EQ(two.net, 0);
    CHECK_NEAR(eight.peer, 2 * .75 / 300, 1e-12); /* over three */
    CHECK_NEAR(eight.net, 2 * .5 / 10, 1e-12);
    CHECK_NEAR(eight.fixed, 2 * 2 * 1e-5 + 2 * 3e-5, 1e-15);
    CHECK_NEAR(scale_gradient_bytes(&flat, SCALE_SAGE), 8 * (50 * 20 + 20 * 20 + 20 * 10), 1e-9);
}

/* ==== batches ===================================================================================================== */

TEST(batches_follow_the_points_and_a_power_law_between_them)
{
    CHECK_NEAR(scale_batch(&shared, 100).nodes[2], 2400, 1e-9);
    CHECK_NEAR(scale_batch(&shared, 400).edges[1], 1600, 1e-9);
    CHECK_NEAR(scale_batch(&shared, 200).nodes[0], 200 * 4 / sqrt(2), 1e-9);
    CHECK_NEAR(scale_batch(&shared, 1600).nodes[1], 1600 * 3, 1e-9); /* the last law goes on */
    CHECK_NEAR(scale_batch(&shared, 1).nodes[1], 12, 1e-9);          /* the first share stays */
    CHECK_NEAR(scale_batch(&flat, 1e6).nodes[2], 1e6, 0);            /* no more nodes than there are */
    scale_graph twice = shared;
    twice.nodes *= 2;
    CHECK_NEAR(scale_batch(&twice, 200).nodes[2], 2 * 2400, 1e-9); /* twice the graph, twice the seeds: the same shares */
    CHECK_NEAR(scale_redundancy(&shared, 100, 4), 4 * 100 * 28 / (400. * 14), 1e-12);
}

TEST(hits_follow_straight_lines)
{
    CHECK_EQ(scale_hits_of(&shared, 0), 0);
    CHECK_NEAR(scale_hits_of(&shared, .05), .25, 1e-12);
    CHECK_NEAR(scale_hits_of(&shared, .25), .65, 1e-12);
    CHECK_NEAR(scale_hits_of(&shared, .7), .9, 1e-12);
    CHECK_EQ(scale_hits_of(&shared, 1), 1);
    CHECK_NEAR(scale_hits_of(&flat, .3), .3, 1e-12);
}

/* A split of four computes what one batch of all seeds needs: with nothing remote and no skew a quarter each. */
TEST(a_split_computes_once_what_data_parallel_repeats)
{
    const scale_split even = {0, 0};
    scale_case split = {&shared, &plain, &even, SCALE_SPLIT, SCALE_PARTS, 4, SCALE_SAGE}, slices = split;
    slices.parallelism = SCALE_DATA;
    const scale_epoch s = scale_epoch_of(&split), d = scale_epoch_of(&slices);
    CHECK_NEAR(s.steps, d.steps, 1e-12);
    CHECK_NEAR(d.seconds[SCALE_SAMPLE] / s.seconds[SCALE_SAMPLE],
               (100 + 400 + 1200 + 3 * 2800.) / (100 + 200 + 600 + 3 * 1400.), 1e-9);
    CHECK_NEAR(4 * d.own_bytes, 2 * s.own_bytes, 1e-3); /* twice the rows, of which a quarter lies in the device's own part */
    CHECK(s.seconds[SCALE_DENSE] < d.seconds[SCALE_DENSE]);
    const scale_reduction r = scale_reduce(&plain, scale_gradient_bytes(&shared, SCALE_SAGE), 4);
    CHECK_NEAR(s.seconds[SCALE_PEER], s.steps * r.peer, 1e-15); /* nothing remote: gradients alone */
}

/* Rows of 200 bytes one way, hidden ones of 80 both ways, ids; a quarter of what 100 seeds of its own would read. */
TEST(a_split_exchanges_what_others_own)
{
    const scale_case c = case_of(&shared, &plain, SCALE_SPLIT, SCALE_PARTS, 4);
    const scale_epoch e = scale_epoch_of(&c);
    const scale_reduction r = scale_reduce(&plain, scale_gradient_bytes(&shared, SCALE_SAGE), 4);
    const double bytes = .25 * (400 * (4 + 160) + 1200 * (4 + 160) + 2400 * (4 + 200));
    CHECK_NEAR(e.seconds[SCALE_PEER], e.steps * (bytes / 300e9 + r.peer), 1e-12);
    CHECK_EQ(e.seconds[SCALE_NETWORK], 0);
    CHECK_NEAR(e.own_bytes, e.steps * 1.25 / 4 * 4800 * 200, 1e-3); /* the fullest part has a quarter more than the mean */
    scale_case gat = c; /* z and its gradient of every hop, of the last layer four heads of 10 columns */
    gat.gnn = SCALE_GAT;
    const scale_epoch g = scale_epoch_of(&gat);
    const scale_reduction sum = scale_reduce(&plain, scale_gradient_bytes(&shared, SCALE_GAT), 4);
    const double both = .25 * (400 * (4 + 320) + 1200 * (4 + 160) + 2400 * (4 + 160));
    CHECK_NEAR(g.seconds[SCALE_PEER], g.steps * (both / 300e9 + sum.peer), 1e-12);
}

/* ==== stores ====================================================================================================== */

static scale_reads reads_of(const scale_machine* m, scale_parallelism p, scale_store s, int32_t devices)
{
    const scale_case c = case_of(&shared, m, p, s, devices);
    return scale_reads_of(&c);
}

static bool shares(scale_reads r, double own, double peer, double host, double net)
{
    return CHECK(r.possible) && CHECK_NEAR(r.own, own, 1e-9) && CHECK_NEAR(r.peer, peer, 1e-9) &&
           CHECK_NEAR(r.host, host, 1e-9) && CHECK_NEAR(r.net, net, 1e-9);
}

TEST(rows_are_read_where_a_store_has_them)
{
    scale_machine m = with_room(&shared, .1); /* one device takes .5 of the reads, four .8 */
    CHECK(!reads_of(&m, SCALE_DATA, SCALE_REPLICA, 8).possible);
    shares(reads_of(&plain, SCALE_DATA, SCALE_REPLICA, 8), 1, 0, 0, 0);
    shares(reads_of(&m, SCALE_DATA, SCALE_CACHE, 8), .5, 0, .5, 0);
    shares(reads_of(&m, SCALE_DATA, SCALE_PARTS, 8), .2, .6, .2, 0); /* four of a machine */
    shares(reads_of(&m, SCALE_DATA, SCALE_SHARDS, 8), .5, 0, .25, .25);
    shares(reads_of(&m, SCALE_DATA, SCALE_LOCAL, 8), .5, 0, .5 * (1 - .25 * .5 / .75), .5 * .25 * .5 / .75);
    shares(reads_of(&m, SCALE_SPLIT, SCALE_PARTS, 4), .8, 0, .2, 0);
    shares(reads_of(&m, SCALE_SPLIT, SCALE_PARTS, 8), .8 + .2 * .4 / .6, 0, .2 - .2 * .4 / .6, 0);
    m.host_memory = .6e-9 * (scale_graph_bytes(&shared) + scale_feature_bytes(&shared)); /* two hosts have all, one has not */
    CHECK(!reads_of(&m, SCALE_DATA, SCALE_CACHE, 8).possible && !reads_of(&m, SCALE_DATA, SCALE_PARTS, 8).possible);
    CHECK(reads_of(&m, SCALE_DATA, SCALE_SHARDS, 8).possible && !reads_of(&m, SCALE_DATA, SCALE_SHARDS, 4).possible);
    m.room = .5e-9 * scale_graph_bytes(&shared); /* lists do not fit */
    for (int s = 0; s < SCALE_STORES; s++) CHECK(!reads_of(&m, SCALE_DATA, (scale_store)s, 8).possible);
}

/* ==== what must always hold ======================================================================================= */

typedef struct { /* what is made twice as fast, and the time that it halves */
    size_t rate[3];
    scale_resource of;
} speed;
#define RATE(member) offsetof(scale_machine, member)
static const speed speeds[] = {{{RATE(random), 0, 0}, SCALE_SAMPLE}, {{RATE(stream), 0, 0}, SCALE_MEMORY},
                               {{RATE(dense), 0, 0}, SCALE_DENSE}, {{RATE(peer), RATE(peer_each), 0}, SCALE_PEER},
                               {{RATE(reach), 0, 0}, SCALE_PEER},
                               {{RATE(host), RATE(host_all), 0}, SCALE_HOST}, {{RATE(net), 0, 0}, SCALE_NETWORK}};
enum { SPEEDS = sizeof speeds / sizeof *speeds };

static void check_twice_as_fast(const scale_case* c, const scale_epoch* before, const speed* s)
{
    scale_machine m = *c->machine;
    scale_case faster = *c;
    faster.machine = &m;
    for (int i = 0; i < 3 && s->rate[i]; i++) *(double*)(void*)((char*)&m + s->rate[i]) *= 2;
    const scale_epoch e = scale_epoch_of(&faster);
    for (int r = 0; r < SCALE_RESOURCES; r++)
        CHECK_NEAR(e.seconds[r], r == (int)s->of ? before->seconds[r] / 2 : before->seconds[r], 1e-12 * before->total);
    CHECK(e.total <= before->total);
}

TEST(what_is_twice_as_fast_halves_what_it_bounds_and_nothing_else)
{
    const scale_machine m = with_room(&shared, .1);
    double most[SCALE_RESOURCES] = {0};
    for (int32_t devices = 1; devices <= 256; devices *= 2)
        for (int p = 0; p < SCALE_PARALLELISMS; p++)
            for (int s = 0; s < SCALE_STORES; s++) {
                const scale_case c = case_of(&shared, &m, (scale_parallelism)p, (scale_store)s, devices);
                const scale_epoch e = scale_epoch_of(&c);
                for (int i = 0; e.possible && i < SPEEDS; i++) check_twice_as_fast(&c, &e, &speeds[i]);
                for (int r = 0; e.possible && r < SCALE_RESOURCES; r++)
                    if (e.seconds[r] > most[r]) most[r] = e.seconds[r];
            }
    for (int r = 0; r < SCALE_RESOURCES; r++) CHECK(most[r] > 0); /* each was seen */
}

TEST(twice_the_devices_never_read_more_of_their_own_memory)
{
    for (int k = 0; k < 3; k++) {
        const scale_machine m = with_room(&shared, k == 0 ? 1 : k == 1 ? .1 : .01);
        for (int p = 0; p < SCALE_PARALLELISMS; p++)
            for (int s = 0; s < SCALE_STORES; s++) {
                double before = INFINITY;
                for (int32_t devices = 1; devices <= 256; devices *= 2) {
                    const scale_case c = case_of(&shared, &m, (scale_parallelism)p, (scale_store)s, devices);
                    const scale_epoch e = scale_epoch_of(&c);
                    if (!e.possible) continue;
                    CHECK(e.own_bytes <= before * (1 + 1e-12));
                    before = e.own_bytes;
                }
            }
    }
}

/* The same graph with twice the features, or the same batch with twice the training nodes, never takes less. */
TEST(more_to_do_never_takes_less)
{
    const scale_machine m = with_room(&shared, .1);
    scale_graph wide = shared, more = shared;
    wide.features *= 2;
    more.train *= 2;
    for (int s = 0; s < SCALE_STORES; s++) {
        const scale_case c = case_of(&shared, &m, SCALE_DATA, (scale_store)s, 8);
        const scale_case w = case_of(&wide, &m, SCALE_DATA, (scale_store)s, 8);
        const scale_case t = case_of(&more, &m, SCALE_DATA, (scale_store)s, 8);
        const scale_epoch e = scale_epoch_of(&c);
        if (!e.possible) continue;
        CHECK(scale_epoch_of(&w).total > e.total);
        CHECK_NEAR(scale_epoch_of(&t).total, 2 * e.total, 1e-9);
    }
}

/* ==== beside published figures ==================================================================================== */

TEST(predictions_equal_those_by_hand)
{
    /* 25 steps on one machine of four; 13 on two, each longer by the network's part of the sum */
    const double bytes = scale_gradient_bytes(&flat, SCALE_SAGE), net = 2 * bytes * .5 / 10e9 + 6e-5;
    CHECK_NEAR(scale_machines_speedup(&flat, &plain, 25, 1, 2), 25 / (13 * (1 + net)), 1e-9);
    CHECK_NEAR(scale_cache_speedup(4, .5, .75, 4, false), 4 * 3 / 2., 1e-12);
    CHECK_NEAR(scale_cache_speedup(4, .5, .75, 4, true), 4 * 2 / 1., 1e-12);
    CHECK_NEAR(scale_cache_speedup(4, .5, .5, 1, false), 1, 1e-12);
    CHECK_NEAR(scale_load(3, .75, false), 8, 1e-12); /* 9 to 3 */
    CHECK_NEAR(scale_load(3, .75, true), 2, 1e-12);  /* 3 to 1: .5 of loading hides */
    CHECK_NEAR(scale_load(5, .5, true), 1 / 1.5, 1e-12);
    /* two links for four devices: 10 GB/s each. 1 s at no hits: 10 GB. All hit, a quarter a part over 5 GB/s. */
    CHECK_NEAR(scale_extraction(&plain, 1, 0, 1, 5, 4), 2.5 / 5 + 2.5 / 1000, 1e-12);
    CHECK_NEAR(scale_extraction(&plain, 1, 0, 0, 5, 4), 1, 1e-12);
    scale_machine half = plain;
    half.reach = .5;
    CHECK_NEAR(scale_extraction(&half, 1, 0, 1, 5, 4), 2.5 / 2.5 + 2.5 / 1000, 1e-12);
}

/* Two links for four trainers: each reads half as fast as one alone. */
TEST(devices_that_sample_for_others_take_the_time_of_the_slower_kind)
{
    CHECK_NEAR(scale_cached(&plain, 1, 0, 1), 20. / 1000, 1e-12); /* 20 GB */
    CHECK_NEAR(scale_cached(&plain, 1, 0, .5), .5 + 10. / 1000, 1e-12);
    const scale_stages few = {4, 1, 1, 0, 1, 3}, shared_links = {1, 1, 1, 0, 2, 6}, cached = {1, 1, 1, 1, 2, 6};
    CHECK_NEAR(scale_factored(&plain, &few, false), 4, 1e-12);
    CHECK_NEAR(scale_factored(&plain, &shared_links, false), (2 + 1) / 4., 1e-12);
    CHECK_NEAR(scale_factored(&plain, &shared_links, true), 1 / 2., 1e-12);
    CHECK_NEAR(scale_factored(&plain, &cached, false), 1 / 2., 1e-12); /* what is cached crosses no link */
}

/* The step of flat's 10 seeds: 120 rows of 200 bytes, lists of 10, 30 and 60 targets. */
TEST(a_step_reads_rows_and_lists_that_no_cache_has_from_the_host)
{
    const scale_case c = case_of(&flat, &plain, SCALE_DATA, SCALE_REPLICA, 1);
    const double step = scale_epoch_of(&c).total / 100;
    CHECK_NEAR(scale_cached_step(&flat, &plain, 1, 1, false), step, 1e-15);
    CHECK_NEAR(scale_cached_step(&flat, &plain, 0, 1, false), step + 24000 / 20e9 - 24000 / 1000e9, 1e-15);
    CHECK_NEAR(scale_cached_step(&flat, &plain, 1, .75, false), step + .25 * 32 * (100 + 140) / 20e9, 1e-15);
    CHECK_NEAR(scale_cached_step(&flat, &plain, 1, .75, true), step, 1e-15);
    scale_graph shallow = flat;
    shallow.edges = flat.nodes; /* lists of one id are read once, whatever is drawn of them */
    CHECK_NEAR(scale_cached_step(&shallow, &plain, 1, 0, false), step + (32 * 100 + 8 * 100) / 20e9, 1e-15);
    const double lists = .3 * scale_feature_bytes(&shared); /* of .4 of the rows' memory, which leaves .1 */
    CHECK_NEAR(scale_dual_speedup(&shared, &plain, .4, .4, lists, .7, false),
               scale_cached_step(&shared, &plain, .8, 0, false) / scale_cached_step(&shared, &plain, .5, .7, false), 1e-9);
}

/* Rows over links, not the gradients, run beside the rest. */
TEST(loading_beside_a_step_takes_the_longer_of_both)
{
    scale_machine m = with_room(&shared, .1);
    m.host = .1; /* slow: loading is the longer one */
    const scale_case one = case_of(&shared, &m, SCALE_DATA, SCALE_CACHE, 1);
    const scale_case four = case_of(&shared, &m, SCALE_DATA, SCALE_PARTS, 4);
    const scale_epoch e = scale_epoch_of(&one), p = scale_epoch_of(&four);
    const scale_reduction r = scale_reduce(&m, scale_gradient_bytes(&shared, SCALE_SAGE), 4);
    CHECK(e.loading > 0);
    CHECK_NEAR(e.loading, e.seconds[SCALE_HOST], 1e-15);
    CHECK_NEAR(p.loading, p.seconds[SCALE_HOST] + p.seconds[SCALE_PEER] - p.steps * r.peer, 1e-12);
    CHECK_NEAR(scale_overlapped(&e), e.loading, 1e-15);
    m.host = m.host_all = 1e9;
    const scale_epoch fast = scale_epoch_of(&one); /* nothing to wait for */
    CHECK_NEAR(scale_overlapped(&fast), fast.total - fast.loading, 1e-15);
    CHECK(scale_overlapped(&fast) < scale_overlapped(&e));
}

TEST(a_prediction_off_by_more_than_a_quarter_is_red)
{
    CHECK_NEAR(scale_error(3, 4), -.25, 1e-15);
    CHECK(!scale_red(scale_error(3, 4)) && !scale_red(.25) && !scale_red(0));
    CHECK(scale_red(scale_error(2.9, 4)) && scale_red(scale_error(5.1, 4)));
    CHECK(scale_red(scale_error(1, 0)) && scale_red(NAN));
}

/* ==== the table of inputs ========================================================================================= */

TEST(the_own_table_is_whole)
{
    static scale_inputs in;
    error why = {0};
    CHECK(scale_inputs_read(&in, NULL, &why));
    const scale_graph* papers = scale_graph_named(&in, "papers100M");
    const scale_machine* dgx = scale_machine_named(&in, "DGX-1V");
    if (CHECK(papers && dgx)) CHECK(papers->nodes == 111059956 && papers->hit_points == 2 && dgx->uplinks == 4);
    CHECK(!scale_graph_named(&in, "papers") && !scale_machine_named(&in, ""));
    for (int32_t i = 0; i < in.graphs; i++)
        for (int32_t k = 0; k < in.graph[i].points; k++) /* a hop's sources are its targets and what its edges bring */
            for (int h = 0; h < SCALE_HOPS; h++) {
                const scale_point* p = &in.graph[i].point[k];
                CHECK(p->nodes[h] <= (h ? p->nodes[h - 1] : 1) + p->edges[h] + .01);
            }
}

static void check_epochs(const scale_inputs* in, const scale_graph* g, const scale_machine* m, scale_parallelism p, scale_store s)
{
    double own = INFINITY;
    for (int32_t devices = 1; devices <= 256; devices *= 2) {
        const scale_case c = {g, m, &in->split, p, s, devices, SCALE_SAGE};
        const scale_reads r = scale_reads_of(&c);
        const scale_epoch e = scale_epoch_of(&c);
        if (!e.possible) continue;
        CHECK_NEAR(r.own + r.peer + r.host + r.net, 1, 1e-9);
        CHECK(r.own >= 0 && r.peer >= 0 && r.host >= -1e-12 && r.net >= 0);
        CHECK(devices > 1 || e.seconds[SCALE_PEER] + e.seconds[SCALE_NETWORK] == 0);
        CHECK(isfinite(e.total) && e.total > 0 && e.own_bytes <= own * (1 + 1e-9));
        own = e.own_bytes;
    }
}

TEST(what_must_hold_holds_for_the_own_table)
{
    static scale_inputs in;
    error why = {0};
    CHECK(scale_inputs_read(&in, NULL, &why));
    for (int32_t g = 0; g < in.graphs; g++)
        for (int32_t m = 0; m < in.machines; m++)
            for (int p = 0; p < SCALE_PARALLELISMS; p++)
                for (int s = 0; s < SCALE_STORES; s++)
                    check_epochs(&in, &in.graph[g], &in.machine[m], (scale_parallelism)p, (scale_store)s);
}

static bool reads(const char* text, error* why)
{
    static scale_inputs in;
    char path[600];
    FILE* out = fopen(folder_path(path, "inputs.csv"), "w");
    fputs(text, out);
    fclose(out);
    memset(why, 0, sizeof *why);
    return scale_inputs_read(&in, path, why);
}

TEST(errors_name_line_and_value)
{
    static const char* const bad[][2] = {
        {"# a\n\nroad,a,nodes,5,,stated,me\n", "line 3: road"},
        {"graph,a,knots,5,,stated,me\n", "knots"},
        {"graph,a,nodes,5,,guessed,me\n", "guessed"},
        {"graph,a,nodes,5,,stated,\n", "no source"},
        {"graph,a,nodes,5\n", "kind,name,field"},
        {"graph,a,nodes,five,,stated,me\n", "five"},
        {"graph,a,nodes,5 6,,stated,me\n", "5 6"},
        {"graph,a,nodes,-5,,stated,me\n", "negative"},
        {"graph,,nodes,5,,stated,me\n", "1 to 31 letters"},
        {"graph,a,point,2 1 1 1 1 1 1,,counted,me\ngraph,a,point,1 1 1 1 1 1 1,,counted,me\n", "line 2"},
        {"graph,a,hit,1.5 1,,counted,me\n", "below 1"},
        {"graph,a,nodes,5,,stated,me\n", "graph a has no edges"},
        {"split,s,skew,1,,stated,me\nsplit,s,remote,1,,stated,me\n", "needs a graph"},
        {"", "needs a graph"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        error why;
        if (!CHECK(!reads(bad[i][0], &why))) continue;
        if (!CHECK(strstr(why.text, bad[i][1]) && strstr(why.text, "inputs.csv"))) printf("  %s\n", why.text);
    }
}

/* ==== the program ================================================================================================= */

/* A table of one small graph and machine, and a check that cannot be predicted. */
TEST(a_check_that_cannot_be_predicted_is_refused_by_name)
{
    static const char* const graph[] = {"nodes", "edges",   "features", "bytes", "classes",
                                        "train", "batch", "hidden",   "tables"};
    static const char* const machine[] = {"tables", "devices",   "memory", "room", "host_memory", "stream",
                                          "random", "dense",     "step",   "host", "peer_each",   "peer", "reach",
                                          "uplinks", "host_all", "net",    "peer_latency", "net_latency"};
    static const char* const bad[][2] = {{"epoch", "gnn,gin"}, {"factored", "inputs,1 1 1 0 2 2"}, {"guess", "gnn,gat"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[600], line[2000];
        FILE* out = fopen(folder_path(path, "check.csv"), "w");
        for (size_t f = 0; f < sizeof graph / sizeof *graph; f++) fprintf(out, "graph,g,%s,8,,stated,me\n", graph[f]);
        for (size_t f = 0; f < sizeof machine / sizeof *machine; f++) fprintf(out, "machine,m,%s,8,,stated,me\n", machine[f]);
        fputs("graph,g,point,1 1 1 1 1 1 1,,counted,me\nsplit,s,remote,0,,stated,me\nsplit,s,skew,0,,stated,me\n", out);
        fprintf(out, "check,odd one,graph,g,,stated,me\ncheck,odd one,machine,m,,stated,me\ncheck,odd one,inputs,1,,stated,me\n");
        fprintf(out, "check,odd one,published,1,,stated,me\ncheck,odd one,how,%s,,stated,me\n", bad[i][0]);
        fprintf(out, "check,odd one,%s,,stated,me\n", bad[i][1]);
        fclose(out);
        snprintf(line, sizeof line, "%s scale --inputs %s >%s/out 2>%s/err", bench_tool, path, folder, folder);
        CHECK(system(line) != 0);
        CHECK(strstr(printed("err"), "check odd one") && strstr(printed("err"), "sage, gcn or gat"));
    }
}

/* Of the figures: how many predictions, and how many are red; the others are labelled. */
static int count_red(const char* text, int* rows)
{
    int red = 0;
    for (const char* f = json_begin(json_member(json_first(text), "figures")); f; f = json_next(f)) {
        CHECK(json_is_text(json_member(f, "label"), "modelled") || json_is_text(json_member(f, "label"), "counted"));
        if (!json_is_text(json_member(f, "case"), "beside published figures")) continue;
        if (!json_is_text(json_member(f, "column"), "off by, %")) continue;
        const bool is_red = json_is_text(json_member(f, "note"), "red");
        CHECK_EQ(is_red, fabs(json_number(json_member(f, "value"))) > 25);
        red += is_red;
        ++*rows;
    }
    return red;
}

/* Of the own table: an epoch with room for a share of the rows, beside the lists; none where memory has not that room. */
static void check_by_cache(const char* text)
{
    static const char* const column[] = {"0 %", "5 %", "10 %", "25 %", "50 %", "100 %"};
    static const double share[] = {0, .05, .1, .25, .5, 1};
    static scale_inputs in;
    error why = {0};
    if (!CHECK(scale_inputs_read(&in, NULL, &why))) return;
    const scale_graph* g = scale_graph_named(&in, "MAG240M");
    const scale_machine* m = scale_machine_named(&in, "H100 NVSwitch");
    for (int p = 0; p < SCALE_PARALLELISMS; p++)
        for (int k = 0, none = 0; k < 6; k++) {
            scale_machine with = *m;
            with.room = 1e-9 * (scale_graph_bytes(g) + share[k] * scale_feature_bytes(g));
            scale_case c = {g, &with, &in.split, (scale_parallelism)p, p ? SCALE_PARTS : SCALE_CACHE, 8, SCALE_SAGE};
            const double seconds = bench_figure(text, "modelled", "MAG240M, H100 NVSwitch, by cache", p ? "split, parts" : "data, host + cache", column[k]);
            if (with.room > m->room) CHECK(isnan(seconds) && ++none);
            else CHECK_NEAR(seconds, scale_epoch_of(&c).total, 1e-9 * seconds);
            CHECK(k < 5 || none == 2); /* half of 187 GB is more than there is */
        }
}

TEST(every_figure_is_labelled_and_red_rows_are_red)
{
    if (!generate_graph("citation --nodes 20000 --edges 200000")) return;
    char markdown[600], arguments[700], line[1000];
    snprintf(arguments, sizeof arguments, "scale --devices 256 --markdown %s", folder_path(markdown, "scale.md"));
    char* text = bench_json(arguments);
    int rows = 0, bold = 0, own = 0;
    const int red = count_red(text, &rows);
    CHECK(rows == 38 && red >= 1 && red < rows);
    FILE* in = fopen(markdown, "r");
    while (in && fgets(line, sizeof line, in)) {
        bold += strstr(line, "red**") != NULL;
        own += strstr(line, "your graph, ") == line;
    }
    if (in) fclose(in);
    CHECK_EQ(bold, red);
    CHECK_EQ(own, 15); /* three tables on each of five machines */
    char* eight = bench_json("scale");
    check_by_cache(eight);
    free(eight);
    for (int32_t P = 2; P <= 256; P *= 2) { /* what fits a device takes less and less */
        char before[16], now[16];
        snprintf(before, sizeof before, "%d", (int)P / 2);
        snprintf(now, sizeof now, "%d", (int)P);
        CHECK(bench_figure(text, "modelled", "papers100M, H100 NVSwitch, by devices", "data, host + cache", now) <
              bench_figure(text, "modelled", "papers100M, H100 NVSwitch, by devices", "data, host + cache", before));
    }
    const double counted = bench_figure(text, "counted", "extra input rows", "counted", "P = 4");
    CHECK_NEAR(bench_figure(text, "modelled", "extra input rows", "modelled", "P = 4") / counted, 1, .15);
    CHECK_NEAR(bench_figure(text, "counted", "a seed's share of a batch", "200 seeds a million", "edges 0"), 5, .5);
    free(text);
}

/* The mean of the first batches of a shuffled epoch: as many as there are, 32 of small ones. */
static void check_share(const char* text, const dataset* d, const ggnn_node* train, int64_t num_train, int64_t seeds,
                        const int32_t fanout[3])
{
    const ggnn_graph g = dataset_graph(d);
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 3);
    const int64_t batches = num_train / seeds < 32 ? num_train / seeds : 32;
    double edges[3] = {0}, nodes[3] = {0};
    ggnn_node seed[4096];
    ggnn_batch b;
    char row[32], column[32];
    CHECK(ggnn_batch_plan(&b, &g, &how, seeds, NULL) == GGNN_OK);
    void* memory = malloc(b.bytes);
    ggnn_batch_init(&b, memory);
    for (int64_t i = 0; i < batches; i++) {
        const ggnn_rng rng = {1, (uint32_t)i, GGNN_PURPOSE_SAMPLE};
        for (int64_t k = 0; k < seeds; k++) seed[k] = train[ggnn_shuffle(1, 0, i * seeds + k, num_train)];
        CHECK(ggnn_sample(&b, &g, &rng, seed, seeds) == GGNN_OK);
        for (int h = 0; h < 3; h++) {
            edges[h] += (double)*b.hop[h].num_edges.n / (double)(batches * seeds);
            nodes[h] += (double)*b.hop[h].num_src.n / (double)(batches * seeds);
        }
    }
    snprintf(row, sizeof row, "%.6g seeds a million", 1e6 * (double)seeds / (double)d->num_nodes);
    for (int h = 0; h < 3; h++) {
        snprintf(column, sizeof column, "edges %d", h);
        CHECK_NEAR(bench_figure(text, "counted", "a seed's share of a batch", row, column), edges[h], 1e-9 * edges[h]);
        snprintf(column, sizeof column, "nodes %d", h);
        CHECK_NEAR(bench_figure(text, "counted", "a seed's share of a batch", row, column), nodes[h], 1e-9 * nodes[h]);
    }
    free(memory);
}

/* The same at a fanout and a batch that are asked for. */
static void check_asked(const dataset* d, const ggnn_node* train, int64_t num_train)
{
    static const char table[] = "your graph, H100 NVSwitch, 1 devices";
    char line[200];
    char *text = bench_json("scale --devices 1 --fanout 9,2,6 --batch 32"), *small = bench_json("scale --devices 1 --fanout 9,2,6 --batch 3");
    const double steps = bench_figure(text, "modelled", table, "data, replica", "fixed") /
                         bench_figure(small, "modelled", table, "data, replica", "fixed");
    for (int64_t seeds = 4; seeds <= num_train; seeds *= 4) check_share(text, d, train, num_train, seeds, (int32_t[]){9, 2, 6});
    check_share(text, d, train, num_train, 32, (int32_t[]){9, 2, 6}); /* these are counted, too */
    check_share(small, d, train, num_train, 3, (int32_t[]){9, 2, 6});
    snprintf(line, sizeof line, "scale --fanout 9,2,6 --batch %lld", (long long)num_train);
    char* most = bench_json(line);
    check_share(most, d, train, num_train, num_train, (int32_t[]){9, 2, 6});
    CHECK_NEAR(steps, 3. / 32, 1e-9); /* of a device: its seeds a step */
    free(text);
    free(small);
    free(most);
}

TEST(counted_batches_are_those_of_the_sampled_ids_and_caches_of_five_sizes)
{
    static const char* const size[] = {"1 %", "5 %", "10 %", "20 %", "50 %"};
    dataset d;
    error why = {0};
    int64_t count[4], seeds = 4;
    double hits = 0;
    if (!generate_graph("citation --nodes 5000 --edges 40000") || !CHECK(dataset_open(&d, data, &why))) return;
    CHECK(dataset_split(&d, 0, count, &why) != NULL);
    ggnn_node* train = malloc((size_t)count[SPLIT_TRAIN] * sizeof *train);
    dataset_split_ids(&d, 0, SPLIT_TRAIN, train);
    char* text = bench_json("scale");
    for (; seeds <= count[SPLIT_TRAIN]; seeds *= 4) check_share(text, &d, train, count[SPLIT_TRAIN], seeds, (int32_t[]){5, 4, 3});
    check_asked(&d, train, count[SPLIT_TRAIN]);
    CHECK(count[SPLIT_TRAIN] > 4 * 32 && seeds > 16); /* of batches of 4 there are more than 32, of 16 fewer */
    for (int i = 0; i < 5; i++) {
        const double more = bench_figure(text, "counted", "what a cache takes (presc)", "hits", size[i]);
        CHECK(more > hits && more < 100);
        hits = more;
    }
    CHECK(hits > 50); /* half of the rows, the hottest: more than half of the reads */
    free(text);
    free(train);
    dataset_close(&d);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    RUN(an_epoch_of_one_device_equals_the_sum_by_hand);
    RUN(steps_of_gcn_and_gat_equal_the_sums_by_hand);
    RUN(one_device_sends_and_receives_nothing);
    RUN(gradients_take_what_a_ring_takes);
    RUN(batches_follow_the_points_and_a_power_law_between_them);
    RUN(hits_follow_straight_lines);
    RUN(a_split_computes_once_what_data_parallel_repeats);
    RUN(a_split_exchanges_what_others_own);
    RUN(rows_are_read_where_a_store_has_them);
    RUN(what_is_twice_as_fast_halves_what_it_bounds_and_nothing_else);
    RUN(twice_the_devices_never_read_more_of_their_own_memory);
    RUN(more_to_do_never_takes_less);
    RUN(predictions_equal_those_by_hand);
    RUN(devices_that_sample_for_others_take_the_time_of_the_slower_kind);
    RUN(a_step_reads_rows_and_lists_that_no_cache_has_from_the_host);
    RUN(loading_beside_a_step_takes_the_longer_of_both);
    RUN(a_prediction_off_by_more_than_a_quarter_is_red);
    RUN(the_own_table_is_whole);
    RUN(what_must_hold_holds_for_the_own_table);
    RUN(errors_name_line_and_value);
    RUN(a_check_that_cannot_be_predicted_is_refused_by_name);
    RUN(every_figure_is_labelled_and_red_rows_are_red);
    RUN(counted_batches_are_those_of_the_sampled_ids_and_caches_of_five_sizes);
    folder_remove();
    return test_finish();
}
