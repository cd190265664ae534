/* test_place.c - [4] PLACE of ggnn_plan.h: which parts each device stores, and where it reads the others. */
#include "ggnn_plan.h"

#include "tests/test.h"

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; } /* other programs do not count */

/* ---- oracles, written from the definition ---------------------------------------------------------------------- */

typedef struct { /* one device's reads, by trying all sources of each part */
    const ggnn_topology* t;
    const uint16_t* stores;
    int32_t device, load[16];
    int8_t source[16], best_source[16];
    double best;
} brute_reads;

/* Sources in lexicographic order; the first of equal ones stays. */
static void brute_read(brute_reads* r, int32_t part, double least)
{
    if (part == r->t->devices) {
        if (least > r->best) {
            r->best = least;
            memcpy(r->best_source, r->source, sizeof r->source);
        }
        return;
    }
    for (int32_t j = 0; j < r->t->devices; j++) {
        const double b = r->t->bandwidth[r->device][j] / (r->load[j] + 1);
        if (!(r->stores[j] >> part & 1) || b <= r->best) continue;
        r->load[j]++;
        r->source[part] = (int8_t)j;
        brute_read(r, part + 1, b < least ? b : least);
        r->load[j]--;
    }
}

/* The bandwidth of a plan; 0 where a device cannot read a part, or where it is below least. */
static double brute_bandwidth(const ggnn_topology* t, const uint16_t* stores, int8_t source[16][16], double least)
{
    double worst = INFINITY;
    for (int32_t i = 0; i < t->devices; i++) {
        brute_reads r = {t, stores, i, {0}, {0}, {0}, 0};
        brute_read(&r, 0, INFINITY);
        if (r.best < least || r.best == 0) return 0;
        if (r.best < worst) worst = r.best;
        if (source) memcpy(source[i], r.best_source, 16);
    }
    return worst;
}

static int reads_part(const ggnn_topology* t, const uint16_t* stores, int32_t i, int32_t part)
{
    for (int32_t j = 0; j < t->devices; j++)
        if (t->bandwidth[i][j] > 0 && stores[j] >> part & 1) return 1;
    return 0;
}

typedef struct {
    const ggnn_topology* t;
    int32_t limit;
    uint16_t stores[16], best_stores[16];
    double best;
    int32_t best_copies;
} brute_plans;

static int32_t bits(uint32_t set)
{
    int32_t n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}
static int stores_first(const uint16_t* a, const uint16_t* b, int32_t P)
{
    for (int32_t i = 0; i < P * P; i++) {
        const int in_a = a[i / P] >> i % P & 1, in_b = b[i / P] >> i % P & 1;
        if (in_a != in_b) return in_a;
    }
    return 0;
}

static void brute_plan(brute_plans* b, int32_t device, int32_t copies)
{
    const int32_t P = b->t->devices;
    if (device == P) {
        const double bandwidth = brute_bandwidth(b->t, b->stores, NULL, b->best);
        if (bandwidth == 0 || bandwidth < b->best) return;
        if (bandwidth == b->best && copies > b->best_copies) return;
        if (bandwidth == b->best && copies == b->best_copies && !stores_first(b->stores, b->best_stores, P)) return;
        b->best = bandwidth;
        b->best_copies = copies;
        memcpy(b->best_stores, b->stores, sizeof b->stores);
        return;
    }
    for (uint32_t set = 0; set < 1u << P; set++) {
        if (!(set >> device & 1) || bits(set) > b->limit) continue;
        b->stores[device] = (uint16_t)set;
        brute_plan(b, device + 1, copies + bits(set));
    }
}

static brute_plans brute_best(const ggnn_topology* t)
{
    brute_plans b;
    memset(&b, 0, sizeof b);
    b.t = t;
    while (b.best == 0) {
        b.limit++;
        brute_plan(&b, 0, 0);
    }
    return b;
}

/* All that a plan promises, whatever the rule. */
static void check_plan(const ggnn_placement* plan, const ggnn_topology* t)
{
    double least = INFINITY;
    int32_t most = 0, copies = 0;
    CHECK_EQ(plan->devices, t->devices);
    for (int32_t i = 0; i < t->devices; i++) {
        int32_t load[16] = {0};
        CHECK(plan->stores[i] >> i & 1);
        CHECK(plan->stores[i] >> t->devices == 0);
        copies += bits(plan->stores[i]);
        if (bits(plan->stores[i]) > most) most = bits(plan->stores[i]);
        for (int32_t p = 0; p < t->devices; p++) {
            const int32_t j = plan->source[i][p];
            if (!CHECK(j >= 0 && j < t->devices)) return;
            CHECK(plan->stores[j] >> p & 1);
            CHECK(t->bandwidth[i][j] > 0);
            load[j]++;
        }
        for (int32_t j = 0; j < t->devices; j++)
            if (load[j] && t->bandwidth[i][j] / load[j] < least) least = t->bandwidth[i][j] / load[j];
    }
    CHECK_EQ(plan->most, most);
    CHECK_EQ(plan->copies, copies);
    CHECK(plan->bandwidth == least);
}

static ggnn_placement place(const ggnn_topology* t, ggnn_place_rule rule, int64_t plans)
{
    ggnn_placement plan;
    ggnn_fault fault;
    memset(&plan, 0xee, sizeof plan);
    CHECK_EQ(ggnn_place_parts(&plan, t, rule, plans, &fault), GGNN_OK);
    CHECK(fault.what == NULL && fault.node == -1 && fault.edge == -1);
    check_plan(&plan, t);
    CHECK(plans == 0 || plan.plans <= plans);
    return plan;
}

static ggnn_topology named(const char* name, int32_t devices)
{
    ggnn_topology t;
    CHECK_EQ(ggnn_topology_named(&t, name, devices), GGNN_OK);
    CHECK_EQ(ggnn_topology_validate(&t, NULL), GGNN_OK);
    return t;
}

static ggnn_topology random_topology(int32_t devices, int both_ways)
{
    static const double link[] = {12.5, 25, 25, 50, 50, 100};
    ggnn_topology t;
    const int64_t of_ten = 1 + test_below(9);
    memset(&t, 0, sizeof t);
    t.devices = devices;
    for (int32_t i = 0; i < devices; i++) {
        for (int32_t j = 0; j < devices; j++) {
            if (both_ways && j < i) t.bandwidth[i][j] = t.bandwidth[j][i];
            else t.bandwidth[i][j] = test_below(10) < of_ten ? link[test_below(6)] : 0;
        }
        t.bandwidth[i][i] = 700;
    }
    return t;
}

/* Every bandwidth, a device's own too, by a factor that doubles do not hold exactly: quotients are rounded. */
static void make_uneven(ggnn_topology* t)
{
    static const double by[] = {1, .1, 1. / 3, .7, 1. / 70};
    for (int32_t i = 0; i < t->devices; i++)
        for (int32_t j = 0; j < t->devices; j++) t->bandwidth[i][j] *= by[test_below(5)];
}

/* -1: a is better than b, by parts on the fullest device, then bandwidth. */
static int compare(const ggnn_placement* a, const ggnn_placement* b)
{
    if (a->most != b->most) return a->most < b->most ? -1 : 1;
    return a->bandwidth > b->bandwidth ? -1 : a->bandwidth < b->bandwidth;
}

/* ---- known machines -------------------------------------------------------------------------------------------- */

/* A digit per link of a DGX-1V, in 25 GB/s; device 0 is the first row. */
static double link_of(const char* name, int32_t P, int32_t i, int32_t j)
{
    static const char* const dgx[8] = {"-1122000", "1-210200", "12-20010", "212-0001", "2000-112", "02001-21", "001012-2", "0001212-"};
    const int next = (i + 1) % P == j || (j + 1) % P == i;
    if (strcmp(name, "dgx-a100") == 0) return i == j ? 1555 : 300;
    if (i == j) return 700;
    if (strcmp(name, "dgx-1v") == 0) return 25 * (dgx[i][j] - '0');
    if (strcmp(name, "pcie-pairs") == 0) return i / 2 == j / 2 ? 12 : 0;
    return strcmp(name, "ring") == 0 && next ? 50 : 0;
}

TEST(machines_by_name_have_their_links)
{
    static const char* const names[] = {"dgx-1v", "dgx-a100", "pcie-pairs", "ring", "none"};
    for (int k = 0; k < 5; k++)
        for (int32_t P = 0; P <= 17; P++) {
            const int32_t devices = P ? P : 8;
            ggnn_topology t;
            memset(&t, 0xee, sizeof t);
            if (P > (k ? 16 : 8)) {
                CHECK_EQ(ggnn_topology_named(&t, names[k], P), GGNN_ERROR_ARGUMENT);
                continue;
            }
            CHECK_EQ(ggnn_topology_named(&t, names[k], P), GGNN_OK);
            CHECK_EQ(t.devices, devices);
            for (int32_t i = 0; i < devices; i++)
                for (int32_t j = 0; j < devices; j++) CHECK_NEAR(t.bandwidth[i][j], link_of(names[k], devices, i, j), 0);
        }
}

TEST(xgnns_search_gives_the_plan_of_a_dgx_1v_within_15_ms)
{
    static const uint16_t stores[8] = {1 << 0 | 1 << 5, 1 << 1 | 1 << 7, 1 << 2 | 1 << 4, 1 << 3 | 1 << 6,
                                       1 << 1 | 1 << 4, 1 << 3 | 1 << 5, 1 << 0 | 1 << 6, 1 << 2 | 1 << 7};
    static const char* const source[8] = {"04234031", "01252531", "61232031", "01232037",
                                          "04754067", "61754561", "64752567", "64734567"};
    ggnn_topology t = named("dgx-1v", 8);
    double start = cpu_seconds();
    ggnn_placement plan = place(&t, GGNN_PLACE_PRUNED, 0);
    CHECK(cpu_seconds() - start < .015);
    CHECK_EQ(plan.most, 2);
    CHECK_NEAR(plan.bandwidth, 25, 0);
    CHECK(plan.complete);
    for (int i = 0; i < 8; i++) {
        CHECK_EQ(plan.stores[i], stores[i]);
        for (int p = 0; p < 8; p++) CHECK_EQ(plan.source[i][p], source[i][p] - '0');
    }
}

TEST(a_dgx_1v_cannot_be_placed_better_than_xgnn_does)
{
    ggnn_topology t = named("dgx-1v", 8);
    ggnn_placement best = place(&t, GGNN_PLACE_BEST, 0), exact = place(&t, GGNN_PLACE_EXACT, 0);
    CHECK(best.complete && exact.complete);
    CHECK_EQ(exact.most, 2);
    CHECK_NEAR(exact.bandwidth, 25, 0);
    CHECK_EQ(exact.copies, 16);
    CHECK_EQ(best.copies, 16);
}

TEST(six_devices_of_a_dgx_1v_need_three_parts_as_published_and_two_in_other_numberings)
{
    ggnn_topology t = named("dgx-1v", 6);
    int8_t device[6] = {0, 1, 2, 3, 4, 5};
    int two = 0, all = 0;
    CHECK_EQ(place(&t, GGNN_PLACE_PRUNED, 0).most, 3);
    CHECK_EQ(place(&t, GGNN_PLACE_BEST, 0).most, 2);
    CHECK_EQ(place(&t, GGNN_PLACE_EXACT, 0).most, 2);
    for (int code = 0; code < 6 * 6 * 6 * 6 * 6 * 6; code++) { /* every numbering among all codes */
        ggnn_topology renumbered = t;
        int rest = code, seen = 0;
        for (int i = 0; i < 6; i++, rest /= 6) {
            device[i] = (int8_t)(rest % 6);
            seen |= 1 << device[i];
        }
        if (seen != 63) continue;
        for (int i = 0; i < 6; i++)
            for (int j = 0; j < 6; j++) renumbered.bandwidth[i][j] = t.bandwidth[device[i]][device[j]];
        const int32_t most = place(&renumbered, GGNN_PLACE_PRUNED, 0).most;
        CHECK(most == 2 || most == 3);
        two += most == 2;
        all++;
    }
    CHECK_EQ(all, 720);
    CHECK_EQ(two, 480);
}

TEST(seven_devices_of_a_dgx_1v_have_twice_the_bandwidth_by_the_exact_search)
{
    ggnn_topology t = named("dgx-1v", 7);
    ggnn_placement pruned = place(&t, GGNN_PLACE_PRUNED, 0), exact = place(&t, GGNN_PLACE_EXACT, 0);
    CHECK_EQ(pruned.most, 3);
    CHECK_NEAR(pruned.bandwidth, 12.5, 0);
    CHECK_EQ(exact.most, 3);
    CHECK_NEAR(exact.bandwidth, 25, 0);
    CHECK_NEAR(place(&t, GGNN_PLACE_BEST, 0).bandwidth, 25, 0);
}

TEST(cliques_store_a_part_each_rings_two_and_lone_devices_everything)
{
    for (int32_t P = 1; P <= 16; P++)
        for (int rule = 0; rule < 4; rule++) {
            ggnn_topology all = named("dgx-a100", P), none = named("none", P);
            ggnn_placement plan = place(&all, (ggnn_place_rule)rule, 0);
            CHECK_EQ(plan.most, 1);
            CHECK_EQ(plan.copies, P);
            CHECK(plan.complete);
            plan = place(&none, (ggnn_place_rule)rule, 0);
            CHECK_EQ(plan.copies, P * P);
            CHECK(plan.complete);
        }
    ggnn_topology ring = named("ring", 4), five = named("dgx-1v", 5);
    for (int rule = 0; rule < 4; rule++) CHECK_EQ(place(&ring, (ggnn_place_rule)rule, 0).most, 2);
    CHECK_NEAR(place(&ring, GGNN_PLACE_BEST, 0).bandwidth, 50, 0);
    CHECK_EQ(place(&five, GGNN_PLACE_EXACT, 0).most, 3); /* 4 reads 0 alone: five parts on two devices */
}

TEST(a_ring_of_two_devices_is_one_link)
{
    const ggnn_topology two = named("ring", 2), one = named("ring", 1);
    CHECK(two.bandwidth[0][1] == 50 && two.bandwidth[1][0] == 50 && two.bandwidth[0][0] == 700 && one.bandwidth[0][0] == 700);
    for (int rule = 0; rule < 4; rule++) CHECK_EQ(place(&two, (ggnn_place_rule)rule, 0).most, 1);
}

TEST(ties_of_pcie_pairs_are_counted_and_cut)
{
    ggnn_topology eight = named("pcie-pairs", 8), sixteen = named("pcie-pairs", 16);
    ggnn_placement plan = place(&eight, GGNN_PLACE_PRUNED, 0);
    CHECK_EQ(plan.plans, 4096);
    CHECK(plan.complete);
    CHECK_EQ(plan.most, 4);
    plan = place(&eight, GGNN_PLACE_PRUNED, 4095);
    CHECK(!plan.complete);
    plan = place(&sixteen, GGNN_PLACE_PRUNED, 1000);
    CHECK_EQ(plan.plans, 1000);
    CHECK(!plan.complete);
    CHECK_EQ(plan.most, 8);
    CHECK_EQ(place(&sixteen, GGNN_PLACE_BEST, 0).most, 8);
}

TEST(disjoint_cliques_hold_everything_and_read_within)
{
    ggnn_topology t = named("dgx-1v", 8);
    ggnn_placement plan = place(&t, GGNN_PLACE_CLIQUE, 0);
    CHECK_EQ(plan.most, 2);
    CHECK_EQ(plan.copies, 16);
    for (int i = 0; i < 8; i++)
        for (int p = 0; p < 8; p++) CHECK_EQ(plan.source[i][p] / 4, i / 4);
    /* a triangle with a tail at each corner: three pairs, not the triangle and three single devices */
    memset(&t, 0, sizeof t);
    t.devices = 6;
    for (int i = 0; i < 3; i++) {
        t.bandwidth[i][(i + 1) % 3] = t.bandwidth[(i + 1) % 3][i] = 50;
        t.bandwidth[i][i + 3] = t.bandwidth[i + 3][i] = 50;
    }
    for (int i = 0; i < 6; i++) t.bandwidth[i][i] = 700;
    CHECK_EQ(place(&t, GGNN_PLACE_CLIQUE, 0).most, 3);
    CHECK_EQ(place(&t, GGNN_PLACE_CLIQUE, 1).devices, 6); /* cut at the first, it is a plan all the same */
}

/* ---- against brute force --------------------------------------------------------------------------------------- */

TEST(sources_leave_the_largest_bandwidth_and_are_the_first_of_equal_ones)
{
    test_seed(31);
    for (int round = 0; round < 300; round++) {
        const int32_t P = 1 + (int32_t)test_below(6);
        ggnn_topology t = random_topology(P, round % 2);
        ggnn_placement plan;
        ggnn_fault fault;
        int8_t source[16][16];
        if (round % 3 == 0) make_uneven(&t);
        memset(&plan, 0, sizeof plan);
        plan.devices = P;
        for (int32_t i = 0; i < P; i++) plan.stores[i] = (uint16_t)(1u << i | (test_random() & test_random() & ((1u << P) - 1)));
        const double bandwidth = brute_bandwidth(&t, plan.stores, source, 0);
        const ggnn_status status = ggnn_place_sources(&plan, &t, &fault);
        if (bandwidth == 0) {
            int32_t cell = 0; /* the first device and part for which it has no source */
            while (reads_part(&t, plan.stores, cell / P, cell % P)) cell++;
            CHECK_EQ(status, GGNN_ERROR_ARGUMENT);
            CHECK(fault.node == cell / P && fault.edge == cell % P && strstr(fault.what, "cannot read a part"));
            continue;
        }
        CHECK_EQ(status, GGNN_OK);
        CHECK(plan.bandwidth == bandwidth);
        for (int32_t i = 0; i < P; i++) CHECK(memcmp(plan.source[i], source[i], (size_t)P) == 0);
        check_plan(&plan, &t);
    }
}

/* All others read device 0, up to 15 parts over one link: what a link has over 7, 11, 13, 14 or 15 is rounded, and is less by a bit
   of that when it is taken for the number of parts again. */
TEST(quotients_that_are_rounded_are_reached)
{
    static const double link[] = {25. / 2, 25. * 5 / 6, 25. / 7, 25. * 5 / 8, 25. * 7 / 10, 25. / 13};
    for (int32_t P = 2; P <= 16; P++)
        for (int k = 0; k < 6; k++) {
            ggnn_topology t = named("none", P);
            ggnn_placement plan;
            memset(&plan, 0, sizeof plan);
            plan.devices = P;
            for (int32_t i = 0; i < P; i++) {
                plan.stores[i] = (uint16_t)(i ? 1u << i : (1u << P) - 1);
                if (i) t.bandwidth[i][0] = link[k];
            }
            CHECK_EQ(ggnn_place_sources(&plan, &t, NULL), GGNN_OK);
            CHECK(plan.bandwidth == link[k] / (P - 1));
            for (int32_t i = 0; i < P; i++)
                for (int32_t p = 0; p < P; p++) CHECK_EQ(plan.source[i][p], i == p ? i : 0);
            check_plan(&plan, &t);
        }
}

TEST(the_exact_search_equals_brute_force_up_to_five_devices)
{
    test_seed(32);
    for (int round = 0; round < 200; round++) {
        ggnn_topology t = random_topology(1 + round % 5, round % 3);
        if (round % 4 == 1) make_uneven(&t);
        brute_plans brute = brute_best(&t);
        ggnn_placement plan = place(&t, GGNN_PLACE_EXACT, 1000000);
        CHECK(plan.complete);
        CHECK_EQ(plan.most, brute.limit);
        CHECK(plan.bandwidth == brute.best);
        CHECK_EQ(plan.copies, brute.best_copies);
        CHECK(memcmp(plan.stores, brute.best_stores, sizeof plan.stores) == 0);
        plan = place(&t, GGNN_PLACE_BEST, 0);
        if (plan.complete) CHECK(plan.most == brute.limit && plan.bandwidth == brute.best && plan.copies == brute.best_copies);
    }
}

/* XGNN's search as its rule says it, without its bound: every way that ties leave is gone to its end. */
typedef struct {
    const ggnn_topology* t;
    uint16_t stores[16], best_stores[16];
    int32_t best_most;
    double best;
} pruned_plans;

/* How good device c is to store the part: fewest parts, most readers that lack it, lacks it itself; the least is best. */
static int32_t storing(const pruned_plans* b, int32_t c, int32_t part)
{
    int32_t lack = 0;
    for (int32_t d = 0; d < b->t->devices; d++) lack += b->t->bandwidth[d][c] > 0 && !reads_part(b->t, b->stores, d, part);
    return 1000 * bits(b->stores[c]) - 2 * lack - !reads_part(b->t, b->stores, c, part);
}

static void brute_pruned(pruned_plans* b, int32_t device, int32_t part)
{
    const int32_t P = b->t->devices;
    int32_t least = INT32_MAX, most = 0;
    if (part == P) {
        device++;
        part = 0;
    }
    if (device == P) {
        for (int32_t i = 0; i < P; i++) most = bits(b->stores[i]) > most ? bits(b->stores[i]) : most;
        const double bandwidth = b->best_most && most > b->best_most ? 0 : brute_bandwidth(b->t, b->stores, NULL, 0);
        if (b->best_most && (most > b->best_most || (most == b->best_most && bandwidth <= b->best))) return;
        b->best_most = most;
        b->best = bandwidth;
        memcpy(b->best_stores, b->stores, sizeof b->stores);
        return;
    }
    if (reads_part(b->t, b->stores, device, part)) {
        brute_pruned(b, device, part + 1);
        return;
    }
    for (int32_t c = 0; c < P; c++)
        if (b->t->bandwidth[device][c] > 0 && storing(b, c, part) < least) least = storing(b, c, part);
    for (int32_t c = 0; c < P; c++) {
        if (!(b->t->bandwidth[device][c] > 0) || storing(b, c, part) != least) continue;
        b->stores[c] |= (uint16_t)(1u << part);
        brute_pruned(b, device, part + 1);
        b->stores[c] &= (uint16_t)~(1u << part);
    }
}

TEST(xgnns_search_follows_its_rule_over_links_of_one_direction_too)
{
    for (int turn = 0; turn < 200; turn++) {
        ggnn_topology t = random_topology(2 + turn % 4, turn % 3 == 0);
        if (turn % 4 == 1) make_uneven(&t);
        const ggnn_placement plan = place(&t, GGNN_PLACE_PRUNED, 1 << 20);
        pruned_plans b;
        memset(&b, 0, sizeof b);
        b.t = &t;
        for (int32_t i = 0; i < t.devices; i++) b.stores[i] = (uint16_t)(1u << i);
        brute_pruned(&b, 0, 0);
        CHECK_EQ(plan.most, b.best_most);
        CHECK_NEAR(plan.bandwidth, b.best, 1e-9);
        for (int32_t i = 0; i < t.devices; i++) CHECK_EQ(plan.stores[i], b.best_stores[i]);
    }
}

/* The largest size that the smallest of disjoint cliques of all devices can have: every way to split them is tried. */
static int32_t smallest_clique(const ggnn_topology* t, uint32_t* clique, int32_t cliques, int32_t device)
{
    int32_t best = 0, size = 16;
    for (int32_t k = 0; k < cliques; k++) size = bits(clique[k]) < size ? bits(clique[k]) : size;
    if (device == t->devices) return size;
    for (int32_t k = 0; k <= cliques; k++) {
        int joins = 1;
        if (k == cliques) clique[k] = 0;
        for (int32_t j = 0; j < device; j++)
            if (clique[k] >> j & 1) joins = joins && t->bandwidth[device][j] > 0 && t->bandwidth[j][device] > 0;
        if (!joins) continue;
        clique[k] |= 1u << device;
        const int32_t found = smallest_clique(t, clique, cliques + (k == cliques), device + 1);
        if (found > best) best = found;
        clique[k] &= ~(1u << device);
    }
    return best;
}

/* Whom a device reads, it reads within its clique: who they are is seen from the plan, as a clique stores each part once. */
TEST(cliques_are_disjoint_and_the_smallest_is_as_large_as_can_be)
{
    test_seed(36);
    for (int round = 0; round < 300; round++) {
        ggnn_topology t = random_topology(1 + round % 7, round % 4);
        uint32_t clique[16] = {0};
        const ggnn_placement plan = place(&t, GGNN_PLACE_CLIQUE, 1 << 20);
        const int32_t P = t.devices, size = smallest_clique(&t, clique, 0, 0);
        CHECK(plan.complete);
        CHECK_EQ(plan.most, (P + size - 1) / size);
        for (int32_t i = 0; i < P; i++) {
            uint32_t read = 1u << i, stored = 0;
            for (int32_t p = 0; p < P; p++) read |= 1u << plan.source[i][p];
            for (int32_t j = 0; j < P; j++) {
                uint32_t his = 1u << j;
                if (!(read >> j & 1)) continue;
                CHECK(!(stored & plan.stores[j]) && (i == j || (t.bandwidth[i][j] > 0 && t.bandwidth[j][i] > 0)));
                stored |= plan.stores[j];
                for (int32_t p = 0; p < P; p++) his |= 1u << plan.source[j][p];
                CHECK_EQ(his, read);
            }
            CHECK_EQ(stored, (1u << P) - 1);
        }
    }
}

/* "A plan is integers made from integers": all fields of plans by each rule, cut and not, as a sum. A search that is meant to
   find other plans, or to count them differently, has other sums. */
static uint64_t sum_of(uint64_t sum, const ggnn_placement* plan)
{
    const int64_t number[] = {plan->most, plan->copies, (int64_t)(plan->bandwidth * 1e6), plan->plans, plan->complete};
    for (int i = 0; i < 5; i++) sum = (sum ^ (uint64_t)number[i]) * UINT64_C(0x100000001b3);
    for (int32_t i = 0; i < plan->devices; i++) sum = (sum ^ plan->stores[i]) * UINT64_C(0x100000001b3);
    for (int32_t i = 0; i < plan->devices * plan->devices; i++)
        sum = (sum ^ (uint64_t)plan->source[i / plan->devices][i % plan->devices]) * UINT64_C(0x100000001b3);
    return sum;
}

TEST(plans_are_the_same_on_every_machine)
{
    static const char* const names[] = {"dgx-1v", "dgx-a100", "pcie-pairs", "ring", "none"};
    static const int64_t limits[] = {1, 2, 7, 300};
    static const uint64_t want[4] = {0xf2920ee13e122c94, 0xe8a8b43d3b31526d, 0x6a7a9903ad37252e, 0xceaec257f33028aa};
    test_state = 37; /* not GGNN_TEST_SEED */
    for (int rule = 0; rule < 4; rule++) {
        uint64_t sum = 0;
        for (int k = 0; k < 30; k++) {
            const ggnn_topology t = k < 15 ? named(names[k % 5], 3 + k / 5 * 2) : random_topology(1 + k % 8, k % 3);
            for (int l = 0; l < 4; l++) {
                const ggnn_placement plan = place(&t, (ggnn_place_rule)rule, limits[l]);
                sum = sum_of(sum, &plan);
            }
        }
        if (!CHECK(sum == want[rule])) printf("  rule %d: 0x%016" PRIx64 "\n", rule, sum);
    }
}

/* The same of 9, 12 and 16 devices, which have more bits than a byte. */
TEST(plans_of_more_than_eight_devices_are_the_same_on_every_machine)
{
    static const char* const names[] = {"dgx-a100", "pcie-pairs", "ring", "none"};
    static const uint64_t want[4] = {0x6e1011fd6aa2f624, 0x9fe6dd10611eabd4, 0xae5093165be7d39e, 0xd90c89c64fa03ca7};
    test_state = 39; /* not GGNN_TEST_SEED */
    for (int rule = 0; rule < 4; rule++) {
        uint64_t sum = 0;
        for (int k = 0; k < 24; k++) {
            const int32_t P = k % 3 == 0 ? 9 : k % 3 == 1 ? 12 : 16;
            const ggnn_topology t = k < 12 ? named(names[k / 3], P) : random_topology(P, k % 2);
            const ggnn_placement plan = place(&t, (ggnn_place_rule)rule, k % 2 ? 30 : 100);
            sum = sum_of(sum, &plan);
        }
        if (!CHECK(sum == want[rule])) printf("  rule %d: 0x%016" PRIx64 "\n", rule, sum);
    }
}

/* More plans than 32 bits count are as many as there are. */
TEST(a_search_may_examine_any_number_of_plans)
{
    const ggnn_topology t = named("pcie-pairs", 4);
    for (int rule = 0; rule < 4; rule++) {
        const ggnn_placement all = place(&t, (ggnn_place_rule)rule, 16384);
        for (int bit = 31; bit < 63; bit++) {
            const ggnn_placement plan = place(&t, (ggnn_place_rule)rule, INT64_C(1) << bit);
            CHECK(plan.complete && sum_of(0, &plan) == sum_of(0, &all));
        }
    }
}

/* Each of the six links is not there, or one of two: hubs, chains, links of one direction. The sum is that of the plans examined, too. */
TEST(three_devices_with_any_links_are_placed_as_brute_force_does)
{
    uint64_t sum = 0;
    for (int code = 0; code < 729; code++) {
        ggnn_topology t = named("none", 3);
        for (int cell = 0, rest = code; cell < 9; cell++) {
            if (cell % 4 == 0) continue;
            t.bandwidth[cell / 3][cell % 3] = rest % 3 * 25;
            rest /= 3;
        }
        const brute_plans brute = brute_best(&t);
        const ggnn_placement exact = place(&t, GGNN_PLACE_EXACT, 0), best = place(&t, GGNN_PLACE_BEST, 0);
        CHECK(exact.complete && exact.most == brute.limit && exact.bandwidth == brute.best && exact.copies == brute.best_copies);
        CHECK(memcmp(exact.stores, brute.best_stores, sizeof exact.stores) == 0);
        CHECK(best.complete && best.most == brute.limit && best.bandwidth == brute.best && best.copies == brute.best_copies);
        sum = sum_of(sum, &best);
    }
    if (!CHECK(sum == UINT64_C(0x5e54148ca6b6040c))) printf("  0x%016" PRIx64 "\n", sum);
}

/* Links of one direction: how many read a device, not how many it reads, bounds the copies of its part. */
TEST(a_plan_that_is_said_to_be_the_best_is_as_good_as_the_exact_search_finds)
{
    static const char* const reads[] = {"23", "02", "0", "05", "02", "02"}; /* by each of six devices */
    for (int round = 0; round < 200; round++) {
        ggnn_topology t = named("none", round ? 4 + round % 3 : 6);
        for (int i = 0; i < t.devices; i++)
            for (int j = 0; j < t.devices; j++)
                if (i != j) t.bandwidth[i][j] = (round ? test_random() % 3 == 0 : strchr(reads[i], '0' + j) != NULL) ? 10 : 0;
        const ggnn_placement exact = place(&t, GGNN_PLACE_EXACT, 0), best = place(&t, GGNN_PLACE_BEST, 0);
        if (best.complete && !CHECK(best.most == exact.most && best.bandwidth == exact.bandwidth && best.copies <= exact.copies))
            printf("  round %d: %d copies, %d by the exact search\n", round, best.copies, exact.copies);
        if (!round) CHECK(best.complete && best.copies == 11);
    }
}

/* Of seven devices all 5,040 numberings are searched, of eight as many; then the exact search ends, or has none left. */
TEST(the_default_search_goes_through_the_numberings)
{
    static const int64_t want[] = {12831, 3542, 16251, 13033, 16384, 12454};
    test_state = 38; /* not GGNN_TEST_SEED */
    for (int i = 0; i < 6; i++) {
        const ggnn_topology t = i < 2 ? named("dgx-1v", 8) : random_topology(7, 1);
        const ggnn_placement plan = place(&t, GGNN_PLACE_BEST, i == 1 ? 4000 : 0);
        CHECK_EQ(plan.plans, want[i]);
    }
}

/* Ten devices in pairs: the caller's numbering alone has more plans than any number here. BEST gives it a quarter; its plan is proven. */
TEST(a_search_examines_as_many_plans_as_it_may)
{
    const ggnn_topology t = named("pcie-pairs", 10);
    CHECK_EQ(place(&t, GGNN_PLACE_PRUNED, 0).plans, 16384);
    CHECK_EQ(place(&t, GGNN_PLACE_PRUNED, 999).plans, 999);
    CHECK_EQ(place(&t, GGNN_PLACE_BEST, 0).plans, 4096);
    CHECK_EQ(place(&t, GGNN_PLACE_BEST, 999).plans, 249);
}

TEST(no_rule_is_worse_than_xgnns_search)
{
    int better = 0;
    test_seed(33);
    for (int round = 0; round < 1000; round++) {
        ggnn_topology t = random_topology(1 + (int32_t)test_below(8), 1);
        ggnn_placement pruned = place(&t, GGNN_PLACE_PRUNED, 0);
        ggnn_placement exact = place(&t, GGNN_PLACE_EXACT, round % 10 ? 2000 : 0);
        ggnn_placement best = place(&t, GGNN_PLACE_BEST, 2000);
        CHECK(compare(&exact, &pruned) <= 0);
        CHECK(compare(&best, &pruned) <= 0);
        better += compare(&best, &pruned) < 0;
    }
    CHECK(better > 50);
}

TEST(a_search_cut_at_any_count_is_no_worse_than_its_start)
{
    test_seed(34);
    for (int round = 0; round < 40; round++) {
        ggnn_topology t = random_topology(1 + (int32_t)test_below(8), round % 2);
        ggnn_placement start = place(&t, GGNN_PLACE_PRUNED, 1);
        for (int rule = 0; rule < 3; rule++)
            for (int64_t plans = 1; plans < 200; plans += 1 + plans / 3) {
                ggnn_placement plan = place(&t, (ggnn_place_rule)rule, plans);
                CHECK(compare(&plan, &start) <= 0);
            }
    }
}

TEST(the_default_answers_within_a_second_at_sixteen_devices)
{
    static const char* const names[] = {"dgx-a100", "pcie-pairs", "ring", "none"};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
    const double allowed = 15;
#else
    const double allowed = 1;
#endif
    test_seed(35);
    for (int i = 0; i < 10; i++) {
        ggnn_topology t = i < 4 ? named(names[i], 16) : random_topology(16, i % 2);
        double start = cpu_seconds();
        ggnn_placement best = place(&t, GGNN_PLACE_BEST, 0);
        CHECK(cpu_seconds() - start < allowed);
        ggnn_placement first = place(&t, GGNN_PLACE_PRUNED, 1);
        CHECK(compare(&best, &first) <= 0);
    }
}

/* ---- what is no topology --------------------------------------------------------------------------------------- */

static void refuses(const ggnn_topology* t, int64_t row, int64_t column, const char* words)
{
    ggnn_placement plan;
    ggnn_fault fault;
    CHECK_EQ(ggnn_place_parts(&plan, t, GGNN_PLACE_BEST, 0, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(fault.node, row);
    CHECK_EQ(fault.edge, column);
    CHECK(fault.what && strstr(fault.what, words));
    CHECK_EQ(ggnn_place_parts(&plan, t, GGNN_PLACE_BEST, 0, NULL), GGNN_ERROR_ARGUMENT);
}

TEST(entries_that_are_no_bandwidths_are_refused_by_name)
{
    ggnn_topology good = named("dgx-1v", 8), t = good;
    t.bandwidth[2][5] = -1;
    refuses(&t, 2, 5, "negative");
    t.bandwidth[2][5] = NAN;
    refuses(&t, 2, 5, "not finite");
    t.bandwidth[2][5] = INFINITY;
    refuses(&t, 2, 5, "not finite");
    for (int sign = 0; sign < 2; sign++) {
        t = good;
        t.bandwidth[3][3] = sign ? -0. : 0;
        refuses(&t, 3, 3, "own memory");
    }
    for (int32_t i = 0; i < 16; i++) /* what is not among the devices, and a zero with a sign, is nothing */
        for (int32_t j = 0; j < 16; j++) t.bandwidth[i][j] = i > 7 || j > 7 ? NAN : good.bandwidth[i][j] > 0 ? good.bandwidth[i][j] : -0.;
    for (int rule = 0; rule < 4; rule++) {
        const ggnn_placement odd = place(&t, (ggnn_place_rule)rule, 300), even = place(&good, (ggnn_place_rule)rule, 300);
        CHECK(sum_of(0, &odd) == sum_of(0, &even));
    }
    t = good;
    t.devices = 17;
    refuses(&t, -1, -1, "outside [1, 16]");
    t.devices = 0;
    refuses(&t, -1, -1, "outside [1, 16]");
    ggnn_placement plan;
    CHECK_EQ(ggnn_place_parts(&plan, &good, GGNN_PLACE_BEST, -1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_place_parts(&plan, &good, (ggnn_place_rule)4, 0, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_place_parts(&plan, &good, (ggnn_place_rule)-1, 0, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_topology_named(&t, "dgx-2", 8), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_topology_named(&t, "dgx-1v", 9), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_topology_named(&t, "ring", 17), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_topology_named(&t, "ring", -1), GGNN_ERROR_ARGUMENT);
}

/* 0 reads 1, and 1 does not read 0: 1 stores everything, 0 its own part. */
TEST(a_link_of_one_direction_is_read_in_that_direction)
{
    ggnn_topology t;
    memset(&t, 0, sizeof t);
    t.devices = 2;
    t.bandwidth[0][0] = t.bandwidth[1][1] = 700;
    t.bandwidth[0][1] = 50;
    for (int rule = 0; rule < 3; rule++) {
        ggnn_placement plan = place(&t, (ggnn_place_rule)rule, 0);
        CHECK_EQ(plan.stores[1], 3);
        CHECK_EQ(plan.most, 2);
    }
    CHECK_EQ(place(&t, GGNN_PLACE_PRUNED, 0).stores[0], 1);
    CHECK_EQ(place(&t, GGNN_PLACE_CLIQUE, 0).copies, 4); /* no clique but each alone */
}

/* Links and own memories of many bandwidths, few of them both ways: a plan that is called complete is what brute force finds, or the exact
   search. In turn: fewer parts on the fullest device at less bandwidth than the first plan has (twice); as few copies at less bandwidth. */
TEST(what_is_called_complete_is_the_best_over_uneven_links)
{
    static const struct {
        int32_t P, most, copies;
        double bandwidth, link[36];
    } of[] = {{4, 2, 8, 1.5, {60, 50, 10, 0, 25, 60, 0, 10, 0, 90, 20, 3, 3, 0, 0, 60}},
              {6, 3, 16, 4, {60, 0, 0, 90, 0, 0, 25, 100, 0, 0, 0, 0, 12, 0, 100, 0, 0, 0,
                             10, 0, 12, 60, 0, 50, 0, 50, 25, 0, 100, 0, 90, 50, 0, 0, 50, 7}},
              {6, 3, 14, 20. / 3, {100, 50, 90, 0, 0, 20, 10, 100, 10, 0, 0, 50, 3, 0, 100, 0, 100, 0,
                                   0, 0, 0, 100, 20, 0, 0, 0, 0, 20, 100, 0, 0, 100, 0, 20, 0, 100}}};
    for (int k = 0; k < 3; k++) {
        ggnn_topology t;
        int complete = 0;
        memset(&t, 0, sizeof t);
        t.devices = of[k].P;
        for (int32_t i = 0; i < t.devices * t.devices; i++) t.bandwidth[i / t.devices][i % t.devices] = of[k].link[i];
        for (int64_t plans = 0; plans < 400; plans += 60)
            for (int exact = 0; exact < 2; exact++) {
                const ggnn_placement plan = place(&t, exact ? GGNN_PLACE_EXACT : GGNN_PLACE_BEST, plans);
                if (!plan.complete) continue;
                complete++;
                CHECK_EQ(plan.most, of[k].most);
                CHECK_EQ(plan.copies, of[k].copies);
                CHECK(plan.bandwidth == of[k].bandwidth);
            }
        CHECK(complete > 3);
        if (k == 1) CHECK(place(&t, GGNN_PLACE_BEST, 60).complete); /* it looks for fewer parts at any bandwidth, so 60 plans are enough */
        if (t.devices > 4) continue;
        const brute_plans brute = brute_best(&t);
        CHECK(brute.limit == of[k].most && brute.best_copies == of[k].copies && brute.best == of[k].bandwidth);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(machines_by_name_have_their_links);
    RUN(xgnns_search_gives_the_plan_of_a_dgx_1v_within_15_ms);
    RUN(a_dgx_1v_cannot_be_placed_better_than_xgnn_does);
    RUN(six_devices_of_a_dgx_1v_need_three_parts_as_published_and_two_in_other_numberings);
    RUN(seven_devices_of_a_dgx_1v_have_twice_the_bandwidth_by_the_exact_search);
    RUN(cliques_store_a_part_each_rings_two_and_lone_devices_everything);
    RUN(a_ring_of_two_devices_is_one_link);
    RUN(ties_of_pcie_pairs_are_counted_and_cut);
    RUN(disjoint_cliques_hold_everything_and_read_within);
    RUN(sources_leave_the_largest_bandwidth_and_are_the_first_of_equal_ones);
    RUN(quotients_that_are_rounded_are_reached);
    RUN_SLOW(the_exact_search_equals_brute_force_up_to_five_devices);
    RUN(xgnns_search_follows_its_rule_over_links_of_one_direction_too);
    RUN(cliques_are_disjoint_and_the_smallest_is_as_large_as_can_be);
    RUN(plans_are_the_same_on_every_machine);
    RUN(plans_of_more_than_eight_devices_are_the_same_on_every_machine);
    RUN(a_search_may_examine_any_number_of_plans);
    RUN(three_devices_with_any_links_are_placed_as_brute_force_does);
    RUN(a_plan_that_is_said_to_be_the_best_is_as_good_as_the_exact_search_finds);
    RUN(the_default_search_goes_through_the_numberings);
    RUN(a_search_examines_as_many_plans_as_it_may);
    RUN_SLOW(no_rule_is_worse_than_xgnns_search);
    RUN(a_search_cut_at_any_count_is_no_worse_than_its_start);
    RUN_SLOW(the_default_answers_within_a_second_at_sixteen_devices);
    RUN(entries_that_are_no_bandwidths_are_refused_by_name);
    RUN(a_link_of_one_direction_is_read_in_that_direction);
    RUN(what_is_called_complete_is_the_best_over_uneven_links);
    return test_finish();
}
