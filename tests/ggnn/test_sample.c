/* test_sample.c - [4] SAMPLE of ggnn.h: each sampler against ggnn_reference.h, and chi-square. */
#include "common/ggnn_level.h"
#include "ggnn_reference.h"
#include "tests/chi_square.h"
#include "tests/methods.h"
#include "tests/random_graph.h"
#include "tests/test.h"

enum { MAX_DEGREE = 5000 };

static int64_t offset[MAX_DEGREE], want[MAX_DEGREE];
static const ggnn_rng rng = {0xFEDCBA9876543210u, 0x3ABCDEF5, GGNN_PURPOSE_SAMPLE}; /* no half of them is 0 */

static int64_t sample(const ggnn_list* list, ggnn_method method, int64_t fanout, ggnn_node node)
{
    void*   workspace = malloc(ggnn_sample_workspace_bytes(method, fanout < 0 ? list->degree : fanout) + 1);
    int64_t taken;
    for (int64_t i = 0; i < MAX_DEGREE; i++) offset[i] = -9;
    taken = ggnn_sample_list(offset, list, method, fanout, &rng, 2, node, workspace);
    free(workspace);
    return taken;
}

static ggnn_list list_of(int64_t degree)
{
    ggnn_list list = {NULL, NULL, degree, 0};
    return list;
}

/* The reference's sample, in want; returns its size. */
static int64_t sample_reference(const ggnn_list* list, ggnn_method method, int64_t fanout, ggnn_node node)
{
    static char work[8 * MAX_DEGREE];
    return ggnn_ref_sample_list(want, list, method, fanout, &rng, 2, node, work);
}

static int same_as_wanted(int64_t m)
{
    int same = offset[m] == -9; /* nothing written beyond */
    for (int64_t i = 0; i < m; i++) same &= offset[i] == want[i];
    return same;
}

static const int64_t shapes[][2] = {/* degree, fanout */
    {2, 1}, {5, 4}, {6, 5}, {16, 15}, {33, 32}, {34, 33}, {100, 1}, {100, 99}, {64, 32}, {1000, 7}, {1025, 1024}, {2048, 1024}, {4000, 1000}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void follows_the_reference(ggnn_method method, int nodes)
{
    for (int s = 0; s < SHAPES; s++)
        for (ggnn_node node = 0; node < nodes; node++) {
            ggnn_list list = list_of(shapes[s][0]);
            CHECK_EQ(sample(&list, method, shapes[s][1], node), shapes[s][1]);
            CHECK_EQ(sample_reference(&list, method, shapes[s][1], node), shapes[s][1]);
            CHECK(same_as_wanted(shapes[s][1]));
        }
}

TEST(fisher_yates_follows_its_specification) { follows_the_reference(GGNN_FISHER_YATES, 30); }
TEST(rejection_takes_the_first_distinct_draws) { follows_the_reference(GGNN_REJECTION, 10); }
TEST(reservoir_follows_algorithm_r) { follows_the_reference(GGNN_RESERVOIR, 10); }

/* By ggnn.h, which draws in turn, and by the reference's parallel rounds. */
TEST(path_doubling_returns_what_sequential_fisher_yates_returns)
{
    follows_the_reference(GGNN_PATH_DOUBLING, 30);
    for (int i = 0; i < 20000; i++) { /* small and dense: long chains */
        static ggnn_ref_path work;
        int64_t              n = 2 + test_below(40), m = 1 + test_below(n - 1), r[40];
        ggnn_list            list = list_of(n);
        for (int64_t d = 0; d < m; d++) r[d] = ggnn_draw_below(&rng, 2, (ggnn_node)i, d, n - d);
        sample(&list, GGNN_PATH_DOUBLING, m, (ggnn_node)i);
        ggnn_ref_path_doubling(want, &work, r, n, (int32_t)m, NULL, NULL);
        CHECK(same_as_wanted(m));
    }
}

typedef struct {
    int32_t rounds, changed; /* rounds seen; the last that changed the chain */
    int32_t before[GGNN_FANOUT_MAX];
} watched;

static void watch(void* context, int32_t round, const ggnn_ref_path* work, int32_t m)
{
    watched* w = (watched*)context;
    if (round && memcmp(w->before, work->chain, (size_t)m * sizeof *w->before) != 0) w->changed = round;
    memcpy(w->before, work->chain, (size_t)m * sizeof *w->before);
    w->rounds = round;
}

/* r_i = n-2-i links each draw to the one before, and r_(m-1) = n-m looks up the end of that chain of m - 2 links, the
   longest there can be: it takes ceil(log2(m - 2)) rounds, which is all of them but for m = 2^k + 1 and 2^k + 2. */
TEST(path_doubling_needs_and_makes_all_its_rounds)
{
    for (int32_t m = 2; m <= GGNN_FANOUT_MAX; m = m < 70 ? m + 1 : m * 2) {
        static ggnn_ref_path work;
        int64_t          r[GGNN_FANOUT_MAX], slot[2 * GGNN_FANOUT_MAX], n = 2 * m;
        int32_t          made = 0, needed = 0;
        watched          w = {0, 0, {0}};
        while (1 << made < m) made++;
        while (1 << needed < m - 2) needed++;
        for (int32_t i = 0; i < m; i++) r[i] = i < m - 1 ? n - 2 - i : n - m;
        for (int64_t s = 0; s < n; s++) slot[s] = s;
        for (int32_t i = 0; i < m; i++) {
            want[i] = slot[r[i]];
            slot[r[i]] = slot[n - 1 - i];
        }
        ggnn_ref_path_doubling(offset, &work, r, n, m, watch, &w);
        for (int32_t i = 0; i < m; i++) CHECK_EQ(offset[i], want[i]);
        CHECK_EQ(w.rounds, made);
        CHECK_EQ(w.changed, needed);
    }
}

TEST(path_doubling_leaves_its_arrays_to_be_read)
{
    static ggnn_ref_path work;
    const int64_t        r[] = {3, 7, 3, 0, 3}; /* n = 9: slots 8, 7, 6, 5, 4 are given up in turn */
    ggnn_ref_path_doubling(offset, &work, r, 9, 5, NULL, NULL);
    const int64_t s[] = {0, 3, 3, 3, 7}, got[] = {3, 7, 8, 0, 6};
    const int32_t p[] = {3, 0, 2, 4, 1}, q[] = {1, 4, 2, 0, 3};
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(work.s[i], s[i]);
        CHECK_EQ(work.p[i], p[i]);
        CHECK_EQ(work.q[i], q[i]);
        CHECK_EQ(offset[i], got[i]);
    }
    CHECK_EQ(work.chain[1], 1); /* draw 1 took slot 7 = n-1-1 itself */
}

TEST(at_the_greatest_fanout_methods_are_their_own)
{
    const ggnn_method methods[] = {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION};
    for (int i = 0; i < 3; i++) {
        ggnn_list list = list_of(3001);
        CHECK_EQ(sample(&list, methods[i], GGNN_FANOUT_MAX, 5), GGNN_FANOUT_MAX);
        sample_reference(&list, methods[i], GGNN_FANOUT_MAX, 5);
        CHECK(same_as_wanted(GGNN_FANOUT_MAX));
    }
}

TEST(above_the_greatest_fanout_all_uniform_methods_are_the_reservoir)
{
    const ggnn_method methods[] = {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION, GGNN_RESERVOIR};
    for (int i = 0; i < 4; i++)
        for (int64_t m = 1025; m <= 3000; m += 987) {
            ggnn_list list = list_of(3001);
            CHECK_EQ(sample(&list, methods[i], m, 5), m);
            sample_reference(&list, GGNN_RESERVOIR, m, 5);
            CHECK(same_as_wanted(m));
        }
}

TEST(replacement_draws_fanout_times_from_any_list)
{
    for (int64_t n = 1; n < 50; n += 6) {
        ggnn_list list = list_of(n);
        CHECK_EQ(sample(&list, GGNN_REPLACEMENT, 20, 3), 20);
        sample_reference(&list, GGNN_REPLACEMENT, 20, 3);
        CHECK(same_as_wanted(20));
    }
    ggnn_list empty = list_of(0), seven = list_of(7);
    CHECK_EQ(sample(&empty, GGNN_REPLACEMENT, 20, 3), 0);
    CHECK_EQ(sample(&seven, GGNN_REPLACEMENT, -1, 3), 7); /* all */
}

/* Fisher-Yates as it is defined, slots apart from 0 .. n-1 found one after the other. */
static void fisher_yates_of_any_length(int64_t n, int64_t m)
{
    static int64_t slot[2 * MAX_DEGREE], holds[2 * MAX_DEGREE];
    int64_t        known = 0;
    for (int64_t i = 0; i < m; i++) {
        const int64_t of[2] = {ggnn_draw_below(&rng, 2, 0, i, n - i), n - 1 - i};
        int64_t       at[2];
        for (int k = 0; k < 2; k++) {
            for (at[k] = 0; at[k] < known && slot[at[k]] != of[k]; at[k]++) {}
            if (at[k] == known) slot[known] = holds[known] = of[k], known++;
        }
        want[i] = holds[at[0]];
        holds[at[0]] = holds[at[1]];
    }
}

/* An offset takes 64 bits, and the low half of a draw counts. */
TEST(lists_of_2_40_edges_are_sampled_as_is_defined)
{
    const int64_t n = ((int64_t)1 << 40) + 77, m = 1024;
    ggnn_list     list = list_of(n);
    char*         workspace = (char*)malloc(ggnn_sample_workspace_bytes(GGNN_FISHER_YATES, m));
    fisher_yates_of_any_length(n, m);
    FOR_METHODS_WITHOUT(GGNN_METHOD_SCANS | GGNN_METHOD_WALKS, method) {
        if (method == GGNN_REJECTION)
            for (int64_t j = 0; j < m; j++) want[j] = ggnn_draw_below(&rng, 2, 0, j, n); /* no two are equal */
        CHECK_EQ(ggnn_sample_list(offset, &list, (ggnn_method)method, m, &rng, 2, 0, workspace), m);
        CHECK(memcmp(offset, want, (size_t)m * sizeof *want) == 0);
    }
    free(workspace);
}

/* Of exactly the bytes that are asked for nothing is passed, by any method, whose hop may be the last there is. */
TEST(a_sample_stays_in_its_workspace)
{
    enum { GUARD = 256 };
    const int64_t fanouts[] = {1, 2, 3, 7, 32, 33, 1023, 1024, 1025, 1500};
    FOR_METHODS_OF_LISTS(method)
        for (int i = 0; i < 10; i++) {
            const size_t    bytes = ggnn_sample_workspace_bytes((ggnn_method)method, fanouts[i]);
            unsigned char*  work = (unsigned char*)malloc(bytes + GUARD);
            const ggnn_list list = list_of(fanouts[i] + fanouts[i] / 2 + 1);
            int             kept = 1;
            memset(work, 0x5a, bytes + GUARD);
            CHECK_EQ(ggnn_sample_list(offset, &list, (ggnn_method)method, fanouts[i], &rng, 255, 9, bytes ? work : NULL), fanouts[i]);
            for (int j = 0; j < GUARD; j++) kept &= work[bytes + (size_t)j] == 0x5a;
            CHECK(kept);
            if (method == GGNN_RESERVOIR || method == GGNN_REPLACEMENT) CHECK_EQ(bytes, 0);
            free(work);
        }
    CHECK_EQ(ggnn_sample_workspace_bytes(GGNN_WEIGHTED, -1), 0); /* whole lists need none */
    CHECK_EQ(ggnn_sample_workspace_bytes(GGNN_WALK, 5), 0);
}

/* All methods, also above the greatest fanout, whole lists, without weights, with zeros among them, and equal ones. */
TEST(every_method_follows_the_reference_at_any_degree_and_fanout)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, GGNN_FANOUT_MAX - 1, GGNN_FANOUT_MAX, GGNN_FANOUT_MAX + 1, 3000, 3001, -1};
    static float weight[3][MAX_DEGREE];
    for (int i = 0; i < MAX_DEGREE; i++) {
        weight[1][i] = (float)(i * 7 % 4);
        weight[2][i] = 3;
    }
    FOR_METHODS_OF_LISTS(number)
        for (int k = 0; k < 11 * 12 * 3; k++) {
            const ggnn_method method = (ggnn_method)number;
            const bool        weighs = method_has(number, GGNN_METHOD_WEIGHS);
            const int         form = weighs ? k / 11 / 12 : k % 2; /* others take no notice of weights */
            const ggnn_list   list = {NULL, form ? weight[form] : NULL, sizes[k % 11], 0};
            const int64_t     fanout = sizes[k / 11 % 12];
            if (!weighs && k / 11 / 12) continue;
            const int64_t taken = sample_reference(&list, method, fanout, k);
            CHECK_EQ(sample(&list, method, fanout, k), taken);
            if (!CHECK(same_as_wanted(taken))) printf("  %s, %d of %d\n", ggnn_method_name(method), (int)fanout, (int)list.degree);
        }
}

/* Packed batches hold the number, options the name: what is in the list stays, and more may follow. */
TEST(methods_keep_their_numbers_and_names)
{
    static const struct {
        ggnn_method method;
        int         number, traits;
        const char* name;
    } of[] = {{GGNN_FISHER_YATES, 0, GGNN_METHOD_HOLDS_SET, "fisher-yates"},
              {GGNN_PATH_DOUBLING, 1, GGNN_METHOD_HOLDS_SET, "path-doubling"},
              {GGNN_REJECTION, 2, GGNN_METHOD_HOLDS_SET, "rejection"},
              {GGNN_RESERVOIR, 3, GGNN_METHOD_SCANS, "reservoir"},
              {GGNN_WEIGHTED, 4, GGNN_METHOD_SCANS | GGNN_METHOD_WEIGHS, "weighted"},
              {GGNN_REPLACEMENT, 5, GGNN_METHOD_REPEATS, "replacement"},
              {GGNN_WALK, 6, GGNN_METHOD_WALKS, "walk"}};
    static const char first[] = "fisher-yates|path-doubling|rejection|reservoir|weighted|replacement|walk";
    CHECK(GGNN_NUM_METHODS >= 7 && strncmp(GGNN_METHOD_NAMES, first, strlen(first)) == 0);
    for (int i = 0; i < 7; i++) {
        CHECK_EQ(of[i].method, of[i].number);
        CHECK_STR(ggnn_method_name(of[i].method), of[i].name);
        for (int trait = 1; trait <= 32; trait *= 2) CHECK_EQ(ggnn_method_has(of[i].method, trait), (of[i].traits & trait) != 0);
        CHECK(ggnn_method_has(of[i].method, 63));
    }
    CHECK(!ggnn_method_name((ggnn_method)GGNN_NUM_METHODS) && !ggnn_method_name((ggnn_method)-1));
    CHECK(!ggnn_method_has((ggnn_method)GGNN_NUM_METHODS, 63));
}

/* Numbers have no gap, so that they count, and are places in the list, so that they are those of options. */
TEST(a_number_is_the_place_in_the_list)
{
#define GGNN_X(method, number, name, traits) method,
    static const ggnn_method listed[] = {GGNN_METHODS(GGNN_X)};
#undef GGNN_X
    const char* names = GGNN_METHOD_NAMES;
    for (int i = 0; i < GGNN_NUM_METHODS; i++) {
        const char* name = ggnn_method_name(listed[i]);
        CHECK_EQ(listed[i], i);
        if (!CHECK(name && strncmp(names, name, strlen(name)) == 0)) return;
        names += strlen(name) + 1;
        CHECK(names[-1] == (i + 1 < GGNN_NUM_METHODS ? '|' : 0));
    }
}

TEST(weighted_takes_the_least_keys_in_order)
{
    static float weight[MAX_DEGREE];
    for (int s = 0; s < SHAPES; s++)
        for (ggnn_node node = 0; node < 6; node++) {
            ggnn_list list = {NULL, weight, shapes[s][0], 0};
            int64_t   taken;
            for (int64_t i = 0; i < list.degree; i++) weight[i] = test_below(4) ? (float)(1 + test_below(1000)) * 0.25f : 0.0f;
            taken = sample_reference(&list, GGNN_WEIGHTED, shapes[s][1], node);
            CHECK_EQ(sample(&list, GGNN_WEIGHTED, shapes[s][1], node), taken);
            CHECK(same_as_wanted(taken));
        }
}

TEST(weighted_without_weights_counts_each_edge_once)
{
    static float ones[100];
    ggnn_list    plain = list_of(100), weighted = {NULL, ones, 100, 0};
    for (int i = 0; i < 100; i++) ones[i] = 1.0f;
    sample(&weighted, GGNN_WEIGHTED, 10, 8);
    memcpy(want, offset, sizeof want);
    CHECK_EQ(sample(&plain, GGNN_WEIGHTED, 10, 8), 10);
    CHECK(same_as_wanted(10));
}

TEST(weighted_refuses_what_is_no_weight)
{
    const float bad[] = {-1.0f, NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 4; i++)
        for (int64_t fanout = -1; fanout <= 9; fanout += 5) { /* -1, 4, 9: all, some, whole list */
            float     weight[8] = {1, 1, 1, 1, 1, 1, 1, 1};
            ggnn_list list = {NULL, weight, 8, 0};
            weight[6] = bad[i];
            CHECK_EQ(sample(&list, GGNN_WEIGHTED, fanout, 3), -1);
        }
}

TEST(weight_zero_is_never_drawn)
{
    float     weight[] = {0, 2, 0, 1, 0};
    ggnn_list list = {NULL, weight, 5, 0};
    for (int64_t fanout = -1; fanout <= 6; fanout++) {
        int64_t taken = sample(&list, GGNN_WEIGHTED, fanout, 1);
        CHECK_EQ(taken, fanout == -1 || fanout > 2 ? 2 : fanout);
        for (int64_t i = 0; i < taken; i++) CHECK(weight[offset[i]] > 0);
    }
}

TEST(fanout_zero_all_and_short_lists_need_no_draw)
{
    const ggnn_method methods[] = {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION, GGNN_RESERVOIR, GGNN_WEIGHTED};
    for (int i = 0; i < 5; i++)
        for (int64_t n = 0; n < 40; n += 13) {
            ggnn_list list = list_of(n);
            CHECK_EQ(sample(&list, methods[i], 0, 4), 0);
            for (int64_t j = 0; j < n; j++) want[j] = j;
            CHECK_EQ(sample(&list, methods[i], -1, 4), n);
            CHECK(same_as_wanted(n));
            CHECK_EQ(sample(&list, methods[i], n, 4), n);
            CHECK(same_as_wanted(n));
            CHECK_EQ(sample(&list, methods[i], n + 1, 4), n);
            CHECK(same_as_wanted(n));
        }
}

/* Without replacement a cell's variance is that of k of n: (1 - k/n) n/(n-1) of the multinomial's. */
TEST(every_neighbour_is_equally_likely)
{
    const ggnn_method methods[] = {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION, GGNN_RESERVOIR, GGNN_WEIGHTED};
    const int64_t     cases[][2] = {{3, 1}, {7, 6}, {10, 5}, {50, 10}, {97, 40}, {1100, 20}};
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 6; c++) {
            static int64_t count[MAX_DEGREE];
            int64_t        n = cases[c][0], k = cases[c][1], trials = 4000;
            memset(count, 0, sizeof count);
            for (int64_t t = 0; t < trials; t++) {
                ggnn_list list = list_of(n);
                sample(&list, methods[i], k, (ggnn_node)t);
                for (int64_t j = 0; j < k; j++) count[offset[j]]++;
            }
            CHECK(chi_square_uniform(count, n, (double)(trials * k), (1 - (double)k / (double)n) * (double)n / (double)(n - 1)));
        }
}

TEST(fisher_yates_gives_every_ordered_pair_equally_often)
{
    int64_t count[30] = {0};
    for (int64_t t = 0; t < 30000; t++) {
        ggnn_list list = list_of(6);
        sample(&list, GGNN_FISHER_YATES, 2, (ggnn_node)t);
        count[offset[0] * 5 + offset[1] - (offset[1] > offset[0])]++;
    }
    CHECK(chi_square_uniform(count, 30, 30000, 1));
}

/* Successive sampling: first i with w_i / W, then j with w_j / (W - w_i). */
TEST(weighted_pairs_have_the_probabilities_of_successive_sampling)
{
    float     weight[] = {1, 2, 4, 0.5f};
    ggnn_list list = {NULL, weight, 4, 0};
    int64_t   count[16] = {0};
    double    expected[16], total = 7.5, trials = 40000;
    int64_t   compact[12], n = 0;
    double    share[12];
    for (int64_t t = 0; t < 40000; t++) {
        sample(&list, GGNN_WEIGHTED, 2, (ggnn_node)t);
        count[offset[0] * 4 + offset[1]]++;
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) expected[i * 4 + j] = trials * (double)weight[i] / total * (double)weight[j] / (total - (double)weight[i]);
    for (int i = 0; i < 16; i++)
        if (i % 5) {
            compact[n] = count[i];
            share[n++] = expected[i];
        }
    CHECK(chi_square(compact, share, n) < chi_square_bound((double)(n - 1)));
}

TEST(a_sample_depends_on_seed_step_purpose_hop_and_node_only)
{
    ggnn_list list = list_of(1000);
    char      workspace[1 << 16];
    for (int what = 0; what < 5; what++) {
        ggnn_rng  other = rng;
        ggnn_node node = 9;
        int32_t   hop = 2;
        if (what == 0) other.seed++;
        if (what == 1) other.step++;
        if (what == 2) other.purpose = GGNN_PURPOSE_EVALUATE;
        if (what == 3) hop++;
        if (what == 4) node++;
        sample(&list, GGNN_FISHER_YATES, 20, 9);
        ggnn_sample_list(want, &list, GGNN_FISHER_YATES, 20, &other, hop, node, workspace);
        CHECK(memcmp(want, offset, 20 * sizeof *want) != 0);
    }
}

/* ---- walks ------------------------------------------------------------------ */

TEST(walks_follow_their_definition)
{
    random_graph* g = random_graph_new(60, 3, 20);
    ggnn_walks    hows[] = {{6, 5, 0.4f}, {0, 0, 0.0f}};
    for (int trial = 0; trial < 360; trial++) {
        ggnn_node        visited[30], expected[30], id[30], want_id[30], bad, node = trial % 60;
        float            visits[30], want_visits[30];
        char             workspace[16 * 30];
        const ggnn_walks how = ggnn_walks_or_default(hows[trial % 2]);
        const int64_t    count = how.walks * how.length, top = trial % 9 - 1;
        const ggnn_rng   own = {42, 7, (uint32_t)trial / 120}; /* SAMPLE, EVALUATE, PRESAMPLE */
        CHECK_EQ(ggnn_random_walk(visited, &g->graph, &hows[trial % 2], &own, 1, node, &bad), GGNN_OK);
        ggnn_ref_random_walk(expected, &g->graph, &hows[trial % 2], &own, 1, node);
        CHECK(memcmp(visited, expected, (size_t)count * sizeof *visited) == 0);
        const int64_t n = ggnn_walk_neighbors(id, visits, visited, count, top, node, workspace);
        CHECK_EQ(n, ggnn_ref_walk_neighbors(want_id, want_visits, expected, count, top, node));
        CHECK(memcmp(id, want_id, (size_t)n * sizeof *id) == 0 && memcmp(visits, want_visits, (size_t)n * sizeof *visits) == 0);
    }
    random_graph_free(g);
}

TEST(walks_restart_as_often_as_told)
{
    const int64_t   indptr[] = {0, 1, 2, 3, 4, 5}; /* 0 <- 1 <- 2 <- 3 <- 4 <- 4: a walk from 0 climbs until it restarts */
    const ggnn_node indices[] = {1, 2, 3, 4, 4};
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, 5, 5);
    const float     chance[] = {0.0f, 0.25f, 1.0f};
    for (int i = 0; i < 3; i++) {
        ggnn_walks how = {20000, 2, chance[i]};
        ggnn_node  bad, *visited = (ggnn_node*)malloc(40000 * sizeof *visited);
        int64_t    restarted = 0;
        ggnn_random_walk(visited, &g, &how, &rng, 0, 0, &bad);
        for (int64_t w = 0; w < 20000; w++) restarted += visited[2 * w + 1] == 1;
        CHECK_NEAR((double)restarted / 20000, (double)chance[i], i == 1 ? 4 * sqrt(.25 * .75 / 20000) : 0);
        free(visited);
    }
    const ggnn_rng most = {2, 346585161, GGNN_PURPOSE_SAMPLE}, walk = {2, 346585161, ggnn_walk_purpose(GGNN_PURPOSE_SAMPLE)};
    ggnn_walks     always = {1, 3, 1.0f};
    ggnn_node      visited[3], bad;
    CHECK_EQ(ggnn_random(&walk, 0, 0, 0).word[2], 0xffffffffu); /* the greatest word: always is always */
    CHECK_EQ(ggnn_random_walk(visited, &g, &always, &most, 0, 0, &bad), GGNN_OK);
    CHECK(visited[0] == 1 && visited[1] == 1 && visited[2] == 1);
}

/* A step's neighbour is drawn by both halves of its draw, which few steps of a short list tell; one whose word for restarting
   equals the chance, which then has 24 bits at most, does not restart. */
TEST(walks_draw_by_64_bits_and_restart_below_their_chance)
{
    enum { N = 60001 };
    int64_t*   indptr = (int64_t*)malloc((N + 1) * sizeof *indptr);
    ggnn_node* indices = (ggnn_node*)malloc((N + 1) * sizeof *indices);
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, N + 1);
    int        found[2] = {0, 0};
    for (int64_t v = 0; v <= N; v++) indptr[v] = v ? N : 0; /* all are neighbours of node 0; of the last, the last */
    for (int64_t v = 0; v < N; v++) indices[v] = (ggnn_node)v;
    indptr[N] = N + 1;
    indices[N] = N - 1;
    for (uint32_t step = 0; step < 10000000 && (found[0] < 2 || found[1] < 2); step++) {
        const ggnn_rng   own = {42, step, GGNN_PURPOSE_SAMPLE}, keys = {42, step, ggnn_walk_purpose(GGNN_PURPOSE_SAMPLE)};
        const ggnn_words words = ggnn_random(&keys, 1, 0, 0);
        const int64_t    next = ggnn_bounded(ggnn_draw(words, 0), N);
        const int        halves = next != ggnn_bounded((uint64_t)words.word[0] << 32, N), even = words.word[2] % 256 == 0;
        ggnn_walks       how = {1, 2, (float)words.word[2] / 4294967296.0f};
        ggnn_node        visited[2], bad;
        if (!halves && (!even || found[1] == 2)) continue;
        found[0] += halves, found[1] += even;
        CHECK_EQ(ggnn_random_walk(visited, &g, &how, &own, 1, 0, &bad), GGNN_OK);
        CHECK_EQ(visited[0], next);
        if (even) CHECK_EQ(visited[1], next == N - 1 ? N - 1 : -1);
    }
    CHECK(found[0] >= 2 && found[1] >= 2);
    free(indptr);
    free(indices);
}

TEST(walks_report_broken_lists)
{
    random_graph* g = random_graph_new(20, 3, 5);
    ggnn_walks    how = {2, 2, 0.0f};
    ggnn_node     visited[4], bad = -1;
    for (int64_t e = 0; e < 5; e++) g->indices[e] = 20;
    CHECK_EQ(ggnn_random_walk(visited, &g->graph, &how, &rng, 0, 0, &bad), GGNN_ERROR_ID);
    CHECK_EQ(bad, 0);
    g->indptr[1] = -3;
    CHECK_EQ(ggnn_random_walk(visited, &g->graph, &how, &rng, 0, 0, &bad), GGNN_ERROR_ID);
    random_graph_free(g);
}

/* 0 <- 1 <- 2 <- 3: a walk from 0 that never restarts is at node s after s steps. */
TEST(walks_name_the_node_whose_list_is_broken)
{
    const ggnn_walks how = {1, 6, 0.0f};
    for (ggnn_node node = 0; node < 4; node++)
        for (int broken = 0; broken < 4; broken++) {
            int64_t    indptr[] = {0, 1, 2, 3, 4};
            ggnn_node  indices[] = {1, 2, 3, 3}, visited[6], bad = -9, seed = 0;
            ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 4, 4);
            ggnn_batch b;
            const ggnn_sampling sampling = {GGNN_WALK, 2, {2, 2}, 0, 0, how, 254, {0}, {0}}; /* at the last hop numbers */
            CHECK_EQ(ggnn_random_walk(visited, &g, &how, &rng, 255, 0, &bad), GGNN_OK);
            for (ggnn_node s = 0; s < 6; s++) CHECK_EQ(visited[s], s < 3 ? s + 1 : 3);
            if (broken == 0) indices[node] = 4;
            if (broken == 1) indices[node] = -1;
            if (broken == 2) indptr[node + 1] = 99; /* its end; of the next list, the begin */
            if (broken == 3) indptr[node + 1] = -1;
            CHECK_EQ(ggnn_random_walk(visited, &g, &how, &rng, 255, 0, &bad), GGNN_ERROR_ID);
            CHECK_EQ(bad, node);
            CHECK_EQ(ggnn_batch_new(&b, &g, &sampling, 1), GGNN_OK);
            CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), GGNN_ERROR_ID);
            CHECK_EQ(b.fault.node, node);
            CHECK_EQ(b.fault.hop, 0);
            ggnn_batch_free(&b);
        }
}

/* Zeros alone are PinSAGE's; each number may be 0, and be the greatest there is. */
TEST(walks_are_defaults_or_in_range)
{
    static const struct {
        ggnn_walks how, is;
        int        valid;
    } cases[] = {{{0, 0, 0.0f}, {4, 3, 0.5f}, 1},         {{0, 3, 0.0f}, {0, 3, 0.0f}, 1},   {{4, 0, 0.0f}, {4, 0, 0.0f}, 1},
                 {{0, 0, 0.5f}, {0, 0, 0.5f}, 1},         {{0, 0, -0.5f}, {0, 0, -0.5f}, 0}, {{1, 1, 1.0f}, {1, 1, 1.0f}, 1},
                 {{INT32_MAX, 1, 0.5f}, {INT32_MAX, 1, 0.5f}, 1}, {{1, INT32_MAX, 0.5f}, {1, INT32_MAX, 0.5f}, 1},
                 {{32768, 65535, 0.5f}, {32768, 65535, 0.5f}, 1}, {{32768, 65536, 0.5f}, {32768, 65536, 0.5f}, 0},
                 {{-1, -1, 0.5f}, {-1, -1, 0.5f}, 0},     {{1, 1, 1.0001f}, {1, 1, 1.0001f}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ggnn_walks is = ggnn_walks_or_default(cases[i].how);
        CHECK(memcmp(&is, &cases[i].is, sizeof is) == 0);
        CHECK_EQ(ggnn_walks_valid(is), cases[i].valid);
    }
    CHECK_EQ(ggnn_walks_or_default((ggnn_walks){0, 0, NAN}).walks, 0);
    CHECK_EQ(ggnn_walks_valid((ggnn_walks){1, 1, NAN}), 0);
}

TEST(walks_out_of_range_are_refused)
{
    random_graph*    g = random_graph_new(20, 3, 5);
    ggnn_node        visited[4], bad = -1;
    const ggnn_walks refused[] = {{2, 2, NAN},  {2, 2, -0.1f}, {2, 2, 1.5f},         {2, 2, INFINITY},
                                  {-1, 2, 0.5f}, {2, -1, 0.5f}, {65536, 32768, 0.5f}};
    for (int64_t i = 0; i < (int64_t)(sizeof refused / sizeof refused[0]); i++)
        CHECK_EQ(ggnn_random_walk(visited, &g->graph, &refused[i], &rng, 0, 0, &bad), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(bad, -1);
    CHECK_EQ(ggnn_random_walk(visited, &g->graph, &(ggnn_walks){2, 2, 1}, &rng, 0, 0, &bad), GGNN_OK);
    random_graph_free(g);
}

TEST(walk_neighbors_are_the_most_visited_ties_by_smaller_id)
{
    const ggnn_node visited[] = {7, 3, -1, 7, 2, 9, 3, 7, 5, 5, 9, 0, -1, 0, 0, 0};
    const ggnn_node id[] = {7, 3, 5, 9, 2};
    const float     visits[] = {3, 2, 2, 2, 1};
    ggnn_node       got[16];
    float           count[16];
    char            workspace[16 * 16];
    for (int64_t top = -1; top <= 6; top++) {
        int64_t n = ggnn_walk_neighbors(got, count, visited, 16, top, 0, workspace);
        CHECK_EQ(n, top < 0 || top > 5 ? 5 : top);
        for (int64_t i = 0; i < n; i++) CHECK(got[i] == id[i] && count[i] == visits[i]);
    }
    CHECK_EQ(ggnn_walk_neighbors(got, count, visited, 0, 5, 0, workspace), 0);
    ggnn_node* often = (ggnn_node*)malloc(1000 * sizeof *often); /* more than 8 bits count */
    float*     times = (float*)malloc(1000 * sizeof *times);
    void*      pairs = malloc(16000);
    for (int i = 0; i < 1000; i++) often[i] = i % 3 == 1 ? 4 : 2;
    CHECK_EQ(ggnn_walk_neighbors(often, times, often, 1000, -1, 6, pairs), 2);
    CHECK(often[0] == 2 && often[1] == 4 && times[0] == 667 && times[1] == 333);
    free(often);
    free(times);
    free(pairs);
}

/* ---- a list of more than 2^31 edges, on a mapping that is never written ------ */
#include <sys/mman.h>

/* All neighbours of a few nodes of a graph of 2^31 + 5 edges, most of which are one node's: the caller knows what it asks
   for. Asking for that node's list passes the bound. */
TEST(full_neighbour_batches_run_on_a_graph_of_more_than_2_31_edges)
{
    enum { NODES = 1000, DEGREE = 7 };
    const int64_t edges = ((int64_t)1 << 31) + 5;
    int64_t*      indptr = (int64_t*)malloc((NODES + 1) * sizeof *indptr);
    ggnn_node*    indices = (ggnn_node*)mmap(NULL, (size_t)edges * sizeof *indices, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (indices == MAP_FAILED) SKIP("no address space for 2^31 edges");
    for (int64_t v = 0; v < NODES; v++) indptr[v] = v * DEGREE; /* the last node has all the others */
    indptr[NODES] = edges;
    for (int64_t e = 0; e < (NODES - 1) * DEGREE; e++) indices[e] = (ggnn_node)((e * 13 + 5) % (NODES - 1));
    const int32_t fanout[] = {-1, -1};
    ggnn_graph    g = ggnn_graph_plain(indptr, indices, NULL, NODES, edges);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
    ggnn_batch    batch;
    ggnn_node     seeds[] = {3, 500, 998};
    CHECK_EQ(ggnn_batch_plan(&batch, &g, &how, 3, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(batch.fault.hop, 0);
    for (int h = 0; h < 2; h++) how.max_edges[h] = NODES * DEGREE;
    CHECK_EQ(ggnn_batch_plan(&batch, &g, &how, 3, NULL), GGNN_OK);
    CHECK(batch.bytes < 1 << 20);
    CHECK_EQ(ggnn_batch_init(&batch, malloc(batch.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, &g, &rng, seeds, 3), GGNN_OK);
    for (int h = 0; h < 2; h++) {
        const ggnn_block* hop = &batch.hop[h];
        CHECK_EQ(*hop->num_edges.n, *hop->num_dst.n * DEGREE);
        for (int64_t v = 0; v < *hop->num_dst.n; v++)
            for (int64_t k = 0; k < DEGREE; k++)
                CHECK_EQ(batch.id[hop->indices[hop->indptr[v] + k]], indices[batch.id[v] * DEGREE + k]);
    }
    seeds[1] = NODES - 1;
    CHECK_EQ(ggnn_sample(&batch, &g, &rng, seeds, 3), GGNN_ERROR_CAPACITY);
    CHECK_EQ(batch.fault.node, NODES - 1);
    free(batch.workspace);
    munmap(indices, (size_t)edges * sizeof *indices);
    free(indptr);
}

TEST(a_node_of_more_than_2_31_edges_is_sampled)
{
    const int64_t degree = ((int64_t)1 << 31) + 5;
    const int64_t indptr[] = {0, degree};
    ggnn_node*    zeros = (ggnn_node*)mmap(NULL, (size_t)degree * sizeof *zeros, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) SKIP("no address space for 2^31 edges");
    ggnn_graph g = ggnn_graph_plain(indptr, zeros, NULL, 1, degree);
    ggnn_list  list = ggnn_neighbors(&g, 0);
    int64_t    above = 0;
    CHECK_EQ(list.degree, degree);
    for (ggnn_node node = 0; node < 3000; node++) {
        sample(&list, node % 2 ? GGNN_REJECTION : GGNN_PATH_DOUBLING, 5, node);
        for (int i = 0; i < 5; i++) {
            CHECK(offset[i] >= 0 && offset[i] < degree && list.id[offset[i]] == 0);
            above += offset[i] >= (int64_t)1 << 30;
        }
    }
    CHECK(above > 7000 && above < 8000); /* half of 15,000 */
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {5, 5}, 0, GGNN_KEEP_POSITIONS, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    batch;
    ggnn_node     seed = 0;
    CHECK_EQ(ggnn_batch_plan(&batch, &g, &how, 1, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&batch, malloc(batch.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, &g, &rng, &seed, 1), GGNN_OK);
    CHECK_EQ(*batch.hop[1].num_edges.n, 5);
    CHECK_EQ(*batch.hop[1].num_src.n, 1);
    how.fanout[0] = -1;
    free(batch.workspace);
    CHECK_EQ(ggnn_batch_plan(&batch, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT); /* a block has fewer than 2^31 edges */
    munmap(zeros, (size_t)degree * sizeof *zeros);
}

/* Degrees around 2^31 and 2^32, from which on the lanes' offsets of 32 bits do not reach: batches take what ggnn_sample_list takes. */
TEST(nodes_of_2_32_edges_and_more_are_sampled_as_their_lists_are)
{
    const int64_t degrees[] = {((int64_t)1 << 31) - 1, ((int64_t)1 << 31) + 5, ((int64_t)1 << 32) - 1, (int64_t)1 << 32, ((int64_t)1 << 32) + 5};
    const size_t  bytes = (size_t)degrees[4] * sizeof(ggnn_node);
    const int32_t fanout[] = {30};
    ggnn_node*    zeros = (ggnn_node*)mmap(NULL, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) SKIP("no address space for 2^32 edges");
    for (int i = 0; i < 5; i++)
        for (int method = GGNN_FISHER_YATES; method <= GGNN_REJECTION; method++)
            for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++) {
                const int64_t indptr[] = {0, degrees[i]};
                ggnn_graph    g = ggnn_graph_plain(indptr, zeros, NULL, 1, degrees[i]);
                ggnn_list     list = ggnn_neighbors(&g, 0);
                ggnn_sampling how = ggnn_sampling_plain((ggnn_method)method, fanout, 1);
                ggnn_batch    b;
                ggnn_node     seed = 0;
                int64_t       above = 0;
                how.keep = GGNN_KEEP_POSITIONS;
                how.first_hop = 2;
                CHECK_EQ(ggnn_batch_new(&b, &g, &how, 1), GGNN_OK);
                CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), GGNN_OK);
                CHECK_EQ(sample(&list, (ggnn_method)method, 30, 0), 30);
                CHECK(memcmp(b.hop[0].position, offset, 30 * sizeof *offset) == 0);
                for (int j = 0; j < 30; j++) above += offset[j] >= degrees[i] / 2;
                CHECK(above > 3 && above < 27);
                ggnn_batch_free(&b);
            }
    ggnn_level = 3;
    munmap(zeros, bytes);
}

/* Lists of any length in any order, broken ones too, at any key: those that are drawn side by side and those that are not. */
TEST(lists_at_once_take_what_each_takes_alone)
{
    enum { MOST = 70 };
    static const int64_t fanouts[] = {-1, 0, 1, 5, 31, 32, 33, 1100};
    static int64_t at_once[MOST * 1200], bound[MOST + 1], key[MOST];
    static ggnn_list list[MOST];
    static float weight[1200];
    static char work[1 << 16];
    for (int i = 0; i < 1200; i++) weight[i] = (float)(i % 4);
    FOR_METHODS_OF_LISTS(method)
        for (int f = 0; f < 8; f++)
            for (ggnn_level = 0; ggnn_level <= 3; ggnn_level += 3)
                for (int64_t n = 0; n <= MOST; n += n < 3 ? 1 : 1 + test_below(17)) {
                    for (int64_t i = 0; i < n; i++) {
                        const int64_t degrees[] = {-1, 0, 1, fanouts[f], fanouts[f] + 1, test_below(1200), test_below(40)};
                        list[i] = list_of(degrees[test_below(7)]);
                        list[i].weight = weight;
                        key[i] = test_below(INT32_MAX);
                    }
                    CHECK_EQ(ggnn_sample_lists(at_once, bound, list, key, n, (ggnn_method)method, fanouts[f], &rng, 2, work), GGNN_OK);
                    CHECK_EQ(bound[0], 0);
                    for (int64_t i = 0; i < n; i++) {
                        CHECK_EQ(bound[i + 1] - bound[i], sample(&list[i], (ggnn_method)method, fanouts[f], (ggnn_node)key[i]));
                        CHECK(memcmp(at_once + bound[i], offset, (size_t)(bound[i + 1] - bound[i]) * sizeof *offset) == 0);
                    }
                }
    ggnn_level = 3;
}

/* A key may have 48 bits in every build; a list may have 2^32 edges; a bad weight is found where it is. */
TEST(lists_at_once_have_keys_of_48_bits)
{
    static int64_t at_once[100], bound[4];
    static char work[4096];
    const int64_t big = ((int64_t)1 << 48) - 1, keys[] = {big, big, big - ((int64_t)1 << 32)};
    const float bad[] = {1, 1, -1, 1};
    ggnn_list lists[] = {list_of((int64_t)1 << 40), list_of(1000), list_of(1000)};
    CHECK_EQ(ggnn_sample_lists(at_once, bound, lists, keys, 3, GGNN_FISHER_YATES, 7, &rng, 2, work), GGNN_OK);
    CHECK_EQ(bound[3], 21);
    int above = 0;
    for (int i = 0; i < 7; i++) above += at_once[i] > (int64_t)1 << 36;
    CHECK(above > 3);
    CHECK(memcmp(at_once + 7, at_once + 14, 7 * sizeof *at_once) != 0);
    for (int i = 0; i < 3; i++) CHECK_EQ(at_once[7 + i], ggnn_draw_below(&rng, 2, big, i, 1000 - i)); /* slots that no draw before moved */
    lists[0] = lists[1] = lists[2] = list_of(4);
    lists[1].weight = bad;
    CHECK_EQ(ggnn_sample_lists(at_once, bound, lists, keys, 3, GGNN_WEIGHTED, 2, &rng, 2, work), GGNN_ERROR_WEIGHT);
    CHECK(bound[1] == 2 && bound[2] == -1);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(20263);
    RUN(fisher_yates_follows_its_specification);
    RUN(path_doubling_returns_what_sequential_fisher_yates_returns);
    RUN(path_doubling_needs_and_makes_all_its_rounds);
    RUN(path_doubling_leaves_its_arrays_to_be_read);
    RUN(rejection_takes_the_first_distinct_draws);
    RUN(reservoir_follows_algorithm_r);
    RUN(at_the_greatest_fanout_methods_are_their_own);
    RUN(above_the_greatest_fanout_all_uniform_methods_are_the_reservoir);
    RUN(replacement_draws_fanout_times_from_any_list);
    RUN(lists_of_2_40_edges_are_sampled_as_is_defined);
    RUN(a_sample_stays_in_its_workspace);
    RUN(lists_at_once_take_what_each_takes_alone);
    RUN(lists_at_once_have_keys_of_48_bits);
    RUN(every_method_follows_the_reference_at_any_degree_and_fanout);
    RUN(methods_keep_their_numbers_and_names);
    RUN(a_number_is_the_place_in_the_list);
    RUN(weighted_takes_the_least_keys_in_order);
    RUN(weighted_without_weights_counts_each_edge_once);
    RUN(weighted_refuses_what_is_no_weight);
    RUN(weight_zero_is_never_drawn);
    RUN(fanout_zero_all_and_short_lists_need_no_draw);
    RUN(every_neighbour_is_equally_likely);
    RUN(fisher_yates_gives_every_ordered_pair_equally_often);
    RUN(weighted_pairs_have_the_probabilities_of_successive_sampling);
    RUN(a_sample_depends_on_seed_step_purpose_hop_and_node_only);
    RUN(walks_follow_their_definition);
    RUN(walks_restart_as_often_as_told);
    RUN(walks_draw_by_64_bits_and_restart_below_their_chance);
    RUN(walks_report_broken_lists);
    RUN(walks_name_the_node_whose_list_is_broken);
    RUN(walks_are_defaults_or_in_range);
    RUN(walks_out_of_range_are_refused);
    RUN(walk_neighbors_are_the_most_visited_ties_by_smaller_id);
    RUN(full_neighbour_batches_run_on_a_graph_of_more_than_2_31_edges);
    RUN(a_node_of_more_than_2_31_edges_is_sampled);
    RUN(nodes_of_2_32_edges_and_more_are_sampled_as_their_lists_are);
    return test_finish();
}
