/* test_plan.c - [1] COUNT, [2] RANK, [3] FILL of ggnn_plan.h: hotness, rankings, how much fits. */
#include "ggnn_plan.h"

#include "datasets/generate.h"
#include "tests/folder.h"
#include "tests/random_graph.h"
#include "tests/test.h"

#define COUNT(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static void* array(int64_t n, size_t size) { return calloc((size_t)n + 1, size); }
#define NEW(type, n) ((type*)array(n, sizeof(type)))

/* A product of 128 bits, as one multiplies by hand. */
typedef struct {
    uint64_t high, low;
} wide;

static wide times(uint64_t a, uint64_t b)
{
    wide sum = {0, 0};
    for (int bit = 0; bit < 64; bit++) {
        if (!(b >> bit & 1)) continue;
        sum.low += a << bit;
        sum.high += (bit ? a >> (64 - bit) : 0) + (sum.low < a << bit);
    }
    return sum;
}
static bool more(wide a, wide b) { return a.high != b.high ? a.high > b.high : a.low > b.low; }

/* ---- counting ------------------------------------------------------------------------------------------------- */

/* 0 <- 1 <- 2 <- 3 and 0 <- 3, 3 twice; 4 is isolated. */
static const int64_t path_indptr[] = {0, 3, 4, 5, 5, 5};
static const ggnn_node path_indices[] = {1, 3, 3, 2, 3};

TEST(degrees_count_both_ends_of_an_edge)
{
    const int64_t expected_out[] = {0, 1, 1, 3, 0}, expected_in[] = {3, 1, 1, 0, 0};
    ggnn_graph    g = ggnn_graph_plain(path_indptr, path_indices, NULL, 5, 5);
    int64_t       out[5] = {9, 9, 9, 9, 9}, in[5] = {9, 9, 9, 9, 9};
    ggnn_fault    fault;
    CHECK_EQ(ggnn_count_degrees(out, in, &g, &fault), GGNN_OK);
    CHECK(fault.what == NULL);
    for (int v = 0; v < 5; v++) {
        CHECK_EQ(out[v], expected_out[v]);
        CHECK_EQ(in[v], expected_in[v]);
    }
    CHECK_EQ(ggnn_count_degrees(NULL, NULL, &g, NULL), GGNN_OK);
}

TEST(degrees_refuse_ids_and_lists_that_are_broken)
{
    const ggnn_node wild[] = {1, 3, 5, 2, 3}, negative[] = {1, 3, 3, -1, 3};
    const int64_t   falling[] = {0, 3, 2, 5, 5, 5};
    ggnn_graph      g = ggnn_graph_plain(path_indptr, wild, NULL, 5, 5);
    int64_t         out[5];
    ggnn_fault      fault;
    CHECK_EQ(ggnn_count_degrees(out, NULL, &g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 0);
    g = ggnn_graph_plain(path_indptr, negative, NULL, 5, 5);
    CHECK_EQ(ggnn_count_degrees(out, NULL, &g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 1);
    g = ggnn_graph_plain(falling, path_indices, NULL, 5, 5);
    CHECK_EQ(ggnn_count_degrees(NULL, out, &g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 1);
    for (int form = 0; form < 4; form++) { /* whatever is asked for */
        g = ggnn_graph_plain(path_indptr, negative, NULL, 5, 5);
        CHECK_EQ(ggnn_count_degrees(form & 1 ? out : NULL, form & 2 ? out : NULL, &g, &fault), GGNN_ERROR_ID);
        CHECK(fault.node == 1 && strstr(fault.what, "outside [0, num_nodes)"));
    }
}

/* Two hops of all neighbours from 0: hop 0's target is 0; hop 1's are 0, 1, 3; the input layer has 0, 1, 3, 2. */
TEST(a_batch_counts_its_input_rows_and_the_lists_of_each_hop)
{
    const int64_t   expected_rows[] = {1, 1, 1, 1, 0}, expected_lists[] = {2, 1, 0, 1, 0};
    const int32_t   fanout[] = {-1, -1};
    const ggnn_node seeds[] = {0, 0};
    ggnn_graph      g = ggnn_graph_plain(path_indptr, path_indices, NULL, 5, 5);
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
    ggnn_rng        rng = {1, 0, GGNN_PURPOSE_PRESAMPLE};
    ggnn_batch      b;
    int64_t         rows[5] = {0}, lists[5] = {0};
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 2, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 2), GGNN_OK);
    CHECK_EQ(ggnn_count_batch(rows, NULL, &b), GGNN_OK);
    CHECK_EQ(ggnn_count_batch(NULL, lists, &b), GGNN_OK);
    for (int v = 0; v < 5; v++) {
        CHECK_EQ(rows[v], expected_rows[v]);
        CHECK_EQ(lists[v], expected_lists[v]);
    }
    b.how.last_hop_global = 1;
    CHECK_EQ(ggnn_count_batch(rows, lists, &b), GGNN_ERROR_ARGUMENT);
    b.how.last_hop_global = 0;
    CHECK_EQ(ggnn_batch_begin(&b, seeds, 2), GGNN_OK); /* no hop yet, so no input rows */
    CHECK_EQ(ggnn_count_batch(rows, lists, &b), GGNN_ERROR_ARGUMENT);
    for (int v = 0; v < 5; v++) CHECK(rows[v] == expected_rows[v] && lists[v] == expected_lists[v]);
    free(b.workspace);
}

/* The same of one and of three hops: 0 reads 1 and 3, 1 reads 3, 3 reads 2. A batch without memory counts nothing. */
TEST(batches_of_any_number_of_hops_are_counted)
{
    static const int64_t rows_of[4][5] = {{0}, {1, 1, 0, 1, 0}, {1, 1, 1, 1, 0}, {1, 1, 1, 1, 0}};
    static const int64_t lists_of[4][5] = {{0}, {1, 0, 0, 0, 0}, {2, 1, 0, 1, 0}, {3, 2, 1, 2, 0}};
    const ggnn_node seed = 0;
    ggnn_graph      g = ggnn_graph_plain(path_indptr, path_indices, NULL, 5, 5);
    ggnn_rng        rng = {1, 0, GGNN_PURPOSE_PRESAMPLE};
    for (int32_t hops = 1; hops <= 3; hops++) {
        const int32_t fanout[] = {-1, -1, -1};
        ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, hops);
        int64_t       rows[5] = {0}, lists[5] = {0};
        ggnn_batch    b;
        CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_OK);
        CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), GGNN_OK);
        CHECK_EQ(ggnn_count_batch(rows, lists, &b), GGNN_OK);
        for (int v = 0; v < 5; v++) CHECK(rows[v] == rows_of[hops][v] && lists[v] == lists_of[hops][v]);
        free(b.workspace);
        memset(&b, 0, sizeof b);
        b.num_hops = hops;
        CHECK_EQ(ggnn_count_batch(rows, lists, &b), GGNN_ERROR_ARGUMENT);
    }
}

enum { MOST_SEEDS = 128 };
static const uint64_t SEED = (UINT64_C(1) << 40) + 7; /* all 64 bits of it count */
typedef struct { /* batches of 16 seeds, and of MOST_SEEDS at most */
    random_graph* graph;
    ggnn_node* ids;
    ggnn_epochs of;
    ggnn_batch b;
    int64_t *rows, *lists;
    ggnn_node* seeds;
} epochs;

static void epochs_open(epochs* e, int64_t num_nodes, uint32_t purpose, uint32_t first_epoch)
{
    const int32_t fanout[] = {4, 3};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
    int64_t n = num_nodes / 3;
    e->graph = random_graph_new(num_nodes, 6, 50);
    e->ids = NEW(ggnn_node, n);
    for (int64_t i = 0; i < n; i++) e->ids[i] = (ggnn_node)(3 * i);
    e->of = (ggnn_epochs){e->ids, n, 16, {SEED, 0, purpose}, first_epoch};
    CHECK_EQ(ggnn_batch_plan(&e->b, &e->graph->graph, &how, MOST_SEEDS, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&e->b, malloc(e->b.bytes)), GGNN_OK);
    e->rows = NEW(int64_t, num_nodes);
    e->lists = NEW(int64_t, num_nodes);
    e->seeds = NEW(ggnn_node, MOST_SEEDS);
}
static void epochs_close(epochs* e)
{
    random_graph_free(e->graph);
    free(e->ids);
    free(e->b.workspace);
    free(e->rows);
    free(e->lists);
    free(e->seeds);
}

/* Training's own way to a batch, written once more: epoch order by ggnn_shuffle, a step a batch. */
static void count_as_training(int64_t* rows, int64_t* lists, epochs* e, int64_t count, uint32_t num_epochs)
{
    uint32_t step = e->of.rng.step;
    for (uint32_t epoch = e->of.first_epoch; num_epochs > 0; epoch++, num_epochs--)
        for (int64_t first = 0, end; first < count; first = end, step++) {
            ggnn_node seeds[MOST_SEEDS];
            ggnn_rng rng = {SEED, step, GGNN_PURPOSE_SAMPLE};
            end = first + e->of.batch_size < count ? first + e->of.batch_size : count;
            for (int64_t k = first; k < end; k++) seeds[k - first] = e->ids[ggnn_shuffle(SEED, epoch, k, count)];
            CHECK_EQ(ggnn_sample(&e->b, &e->graph->graph, &rng, seeds, end - first), GGNN_OK);
            CHECK_EQ(ggnn_count_batch(rows, lists, &e->b), GGNN_OK);
        }
}

/* Last batches of 4, 20, 1, 100, 100 and 1 seeds of 100; steps and epochs that wrap. */
TEST(counted_epochs_are_trainings_batches)
{
    enum { N = 300 };
    static const int64_t sizes[] = {16, 20, 99, 100, 128, 1}, batches[] = {7, 5, 2, 1, 1, 100};
    static const uint32_t first[][2] = {{0, 5}, {3, 0}, {UINT32_MAX - 1, UINT32_MAX}};
    epochs e;
    epochs_open(&e, N, GGNN_PURPOSE_SAMPLE, 5);
    for (int i = 0; i < 18; i++) {
        const int64_t all = 2 * batches[i % 6];
        int64_t rows[N] = {0}, lists[N] = {0};
        e.of.batch_size = sizes[i % 6];
        e.of.rng.step = first[i / 6][0];
        e.of.first_epoch = first[i / 6][1];
        CHECK_EQ(ggnn_epoch_batches(&e.of), batches[i % 6]);
        count_as_training(rows, lists, &e, 100, 2);
        memset(e.rows, 0, sizeof rows);
        memset(e.lists, 0, sizeof lists);
        for (int64_t k = e.of.batch_size; k < MOST_SEEDS; k++) e.seeds[k] = -5;
        CHECK_EQ(ggnn_count_epochs(e.rows, e.lists, &e.b, &e.graph->graph, &e.of, 0, all, e.seeds), GGNN_OK);
        CHECK(memcmp(e.rows, rows, sizeof rows) == 0 && memcmp(e.lists, lists, sizeof lists) == 0);
        for (int64_t k = e.of.batch_size; k < MOST_SEEDS; k++) CHECK_EQ(e.seeds[k], -5); /* its workspace is one batch's */
        for (int64_t begin = 0; begin < all; begin += 4) /* cut in pieces, by several threads say, they add up to the same */
            CHECK_EQ(ggnn_count_epochs(e.rows, e.lists, &e.b, &e.graph->graph, &e.of, begin, begin + 4 < all ? begin + 4 : all, e.seeds), GGNN_OK);
        for (int v = 0; v < N; v++) CHECK(e.rows[v] == 2 * rows[v] && e.lists[v] == 2 * lists[v]);
    }
    epochs_close(&e);
}

TEST(what_is_no_range_of_batches_is_refused_and_counts_nothing)
{
    epochs e;
    epochs_open(&e, 300, GGNN_PURPOSE_PRESAMPLE, GGNN_PRESAMPLE_EPOCH);
    for (int wrong = 0; wrong < 9; wrong++) {
        ggnn_epochs of = e.of;
        const int64_t begin = wrong == 0 ? -1 : wrong == 1 ? 3 : 0, end = wrong == 1 ? 2 : wrong == 7 ? 0 : 1;
        if (wrong == 2) of.num_ids = 0;
        if (wrong == 3) of.num_ids = -1;
        if (wrong == 4) of.ids = NULL;
        if (wrong == 5) of.batch_size = 0;
        if (wrong == 7) of = (ggnn_epochs){NULL, 0, 1, {7, 0, 0}, 0}; /* no batch of no nodes */
        if (wrong == 8) of.num_ids = 1; /* which is a batch */
        CHECK_EQ(ggnn_count_epochs(e.rows, e.lists, &e.b, &e.graph->graph, &of, begin, end, wrong == 6 || wrong == 7 ? NULL : e.seeds),
                 wrong < 7 ? GGNN_ERROR_ARGUMENT : GGNN_OK);
        for (int v = 0; v < 300 && wrong < 8; v++) CHECK(e.rows[v] == 0 && e.lists[v] == 0);
    }
    epochs_close(&e);
}

TEST(presampling_sees_neither_the_order_nor_the_samples_of_training)
{
    epochs before, training;
    int64_t same = 0;
    test_seed(11);
    epochs_open(&before, 3000, GGNN_PURPOSE_PRESAMPLE, GGNN_PRESAMPLE_EPOCH);
    test_seed(11); /* the same graph once more */
    epochs_open(&training, 3000, GGNN_PURPOSE_SAMPLE, 0);
    for (int64_t i = 0; i < 1000; i++)
        same += ggnn_shuffle(SEED, GGNN_PRESAMPLE_EPOCH, i, 1000) == ggnn_shuffle(SEED, 0, i, 1000);
    CHECK(same < 10);
    before.of.first_epoch = 0; /* the same seeds: other samples all the same */
    CHECK_EQ(ggnn_count_epochs(before.rows, NULL, &before.b, &training.graph->graph, &before.of, 0, 1, before.seeds), GGNN_OK);
    CHECK_EQ(ggnn_count_epochs(training.rows, NULL, &training.b, &training.graph->graph, &training.of, 0, 1, training.seeds), GGNN_OK);
    CHECK(memcmp(before.rows, training.rows, 3000 * sizeof(int64_t)) != 0);
    epochs_close(&before);
    epochs_close(&training);
}

TEST(counting_epochs_fails_as_sampling_does)
{
    epochs e;
    epochs_open(&e, 300, GGNN_PURPOSE_PRESAMPLE, GGNN_PRESAMPLE_EPOCH);
    e.graph->indices[e.graph->indptr[3]] = 300;
    e.graph->indptr[4] = e.graph->indptr[3] + 1; /* node 3 has this one neighbour */
    CHECK_EQ(ggnn_count_epochs(e.rows, e.lists, &e.b, &e.graph->graph, &e.of, 0, 7, e.seeds), GGNN_ERROR_ID);
    CHECK_EQ(e.b.fault.node, 3);
    epochs_close(&e);
}

/* A batch whose last hop reads all rows has none of its own to count; it is sampled all the same. */
TEST(epochs_of_a_global_last_hop_are_not_counted)
{
    const int32_t fanout[] = {4, 3};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
    epochs e;
    epochs_open(&e, 300, GGNN_PURPOSE_PRESAMPLE, GGNN_PRESAMPLE_EPOCH);
    free(e.b.workspace);
    how.last_hop_global = 1;
    CHECK_EQ(ggnn_batch_plan(&e.b, &e.graph->graph, &how, MOST_SEEDS, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&e.b, malloc(e.b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_count_epochs(e.rows, e.lists, &e.b, &e.graph->graph, &e.of, 0, 7, e.seeds), GGNN_ERROR_ARGUMENT);
    for (int v = 0; v < 300; v++) CHECK(e.rows[v] == 0 && e.lists[v] == 0);
    epochs_close(&e);
}

/* ---- ranking -------------------------------------------------------------------------------------------------- */

static void check_order(const ggnn_node* order, const ggnn_node* rank, const ggnn_node* expected, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        CHECK_EQ(order[i], expected[i]);
        CHECK_EQ(rank[order[i]], i);
    }
}

TEST(equal_nodes_are_ranked_by_list_length_then_by_id)
{
    const int64_t   hot[] = {2, 5, 2, 5, 0, 2};
    const int64_t   indptr[] = {0, 1, 2, 5, 6, 6, 9}; /* lengths 1 1 3 1 0 3 */
    const ggnn_node by_id[] = {1, 3, 0, 2, 5, 4}, by_length[] = {1, 3, 2, 5, 0, 4};
    ggnn_hotness    by = {hot, NULL, NULL};
    ggnn_node       rank[6], order[6];
    ggnn_rank(rank, order, &by, 6);
    check_order(order, rank, by_id, 6);
    by.indptr = indptr;
    ggnn_rank(rank, order, &by, 6);
    check_order(order, rank, by_length, 6);
}

/* Values that are no counts: scores of a user's. */
TEST(values_of_either_sign_are_ranked)
{
    static const int64_t hot[] = {-1, INT64_MIN, 0, INT64_MAX, -1, 5, -2};
    static const ggnn_node expected[] = {3, 5, 2, 0, 4, 6, 1};
    const ggnn_hotness by = {hot, NULL, NULL};
    ggnn_node rank[7], order[7];
    CHECK_EQ(ggnn_rank(rank, order, &by, 7), GGNN_OK);
    check_order(order, rank, expected, 7);
}

/* 2/3 and 4/6 are equal; 1/0 and 0/0 come last; fractions that doubles cannot tell apart are told apart. */
TEST(fractions_are_compared_exactly)
{
    const int64_t   big = INT64_C(1) << 60;
    const int64_t   hot[] = {4, 1, big, 2, 0, big - 1, 3}, over[] = {6, 0, big + 1, 3, 0, big, 1};
    const ggnn_node expected[] = {6, 2, 5, 0, 3, 1, 4};
    ggnn_hotness    by = {hot, over, NULL};
    ggnn_node       rank[7], order[7];
    ggnn_rank(rank, order, &by, 7);
    check_order(order, rank, expected, 7);
}

static const ggnn_hotness* sorted_by;
static int by_hotness(const void* a, const void* b)
{
    const ggnn_node x = *(const ggnn_node*)a, y = *(const ggnn_node*)b;
    const int64_t x_over = sorted_by->over ? sorted_by->over[x] : 1, y_over = sorted_by->over ? sorted_by->over[y] : 1;
    const wide x_hot = times((uint64_t)sorted_by->hot[x], (uint64_t)y_over), y_hot = times((uint64_t)sorted_by->hot[y], (uint64_t)x_over);
    if (!x_over != !y_over) return x_over ? -1 : 1;
    if (more(x_hot, y_hot) || more(y_hot, x_hot)) return more(x_hot, y_hot) ? -1 : 1;
    if (sorted_by->indptr) {
        const int64_t x_list = sorted_by->indptr[x + 1] - sorted_by->indptr[x], y_list = sorted_by->indptr[y + 1] - sorted_by->indptr[y];
        if (x_list != y_list) return x_list > y_list ? -1 : 1;
    }
    return x < y ? -1 : 1;
}

/* With and without a divisor, with and without lengths of lists, of few bits and of almost 64; many are equal, or nearly. A cache takes
   the reads of its first ranks. */
TEST(a_ranking_is_the_sorted_order_for_any_number_of_nodes)
{
    test_seed(3);
    for (int64_t n = 0; n < 70; n++)
        for (int form = 0; form < 8; form++) {
            const int64_t scale = form & 4 ? INT64_C(1) << 57 : 1, noise = form & 4 ? 3 : 1; /* numbers below 24 * 2^57 */
            int64_t hot[70], over[70], reads[70], indptr[71] = {0}, hits = 0;
            ggnn_node rank[70], order[70], expected[70];
            ggnn_hotness by = {hot, form & 1 ? over : NULL, form & 2 ? indptr : NULL};
            for (int64_t v = 0; v < n; v++) {
                hot[v] = test_below(n / 3 + 1) * scale + test_below(noise);
                over[v] = test_below(4) * (form & 4 ? 8 * scale : 1) / (v % 2 + 1) + (form & 4) / 4 * (v % 3);
                reads[v] = form & 4 ? hot[v] / 256 : hot[v];
                indptr[v + 1] = indptr[v] + test_below(3) * (form & 4 ? INT64_C(1) << 32 : 1);
                expected[v] = (ggnn_node)v;
            }
            sorted_by = &by;
            qsort(expected, (size_t)n, sizeof *expected, by_hotness);
            CHECK_EQ(ggnn_rank(rank, order, &by, n), GGNN_OK);
            check_order(order, rank, expected, n);
            CHECK_EQ(ggnn_count_hits(reads, rank, -1, n), 0);
            for (int64_t cached = 0; cached <= n; hits += cached < n ? reads[expected[cached]] : 0, cached++)
                CHECK_EQ(ggnn_count_hits(reads, rank, cached, n), hits);
            CHECK_EQ(ggnn_count_hits(reads, rank, n + 1, n), hits);
        }
}

/* All 64 bits of the seed count. Neither training's first epoch nor the first that is pre-sampled has its order. */
TEST(a_random_ranking_is_a_permutation_keyed_by_its_seed)
{
    enum { N = 1000, SEEDS = 5 };
    static const uint64_t seeds[SEEDS] = {1, 2, 0, (UINT64_C(1) << 32) + 1, (UINT64_C(1) << 63) + 1};
    static const ggnn_node first[] = {153, 493, 694, 403, 241, 775, 706, 653};
    ggnn_node rank[N], order[SEEDS][N], again[N];
    for (int s = 0; s < SEEDS; s++) {
        int64_t same[SEEDS + 2] = {0};
        CHECK_EQ(ggnn_rank_random(rank, order[s], seeds[s], N), GGNN_OK);
        for (int i = 0; i < N; i++) CHECK_EQ(rank[order[s][i]], i);
        ggnn_rank_random(rank, again, seeds[s], N);
        CHECK(memcmp(order[s], again, sizeof again) == 0);
        for (int i = 0; i < N; i++) {
            for (int other = 0; other < s; other++) same[other] += order[s][i] == order[other][i];
            same[SEEDS] += order[s][i] == (ggnn_node)ggnn_shuffle(seeds[s], 0, i, N);
            same[SEEDS + 1] += order[s][i] == (ggnn_node)ggnn_shuffle(seeds[s], GGNN_PRESAMPLE_EPOCH, i, N);
        }
        for (int other = 0; other < SEEDS + 2; other++) CHECK(same[other] < 10);
    }
    for (int i = 0; i < COUNT(first); i++) CHECK_EQ(order[0][i], first[i]); /* on every machine */
    for (int64_t n = 0; n < 9; n++) {
        bool seen[9] = {false};
        CHECK_EQ(ggnn_rank_random(rank, again, 7, n), GGNN_OK);
        for (int64_t i = 0; i < n; i++)
            if (CHECK(again[i] >= 0 && again[i] < n && !seen[again[i]] && rank[again[i]] == i)) seen[again[i]] = true;
    }
}

/* ---- policies on generated graphs ----------------------------------------------------------------------------- */

typedef struct { /* hit rates, %, of a cache of a share of the rows */
    double random, aligraph, degree, presc, optimal;
} rates;

static double rate_of(const int64_t* reads, const ggnn_hotness* by, int64_t n, double share)
{
    ggnn_node *rank = NEW(ggnn_node, n), *order = NEW(ggnn_node, n);
    int64_t all = 0, hits;
    if (by) ggnn_rank(rank, order, by, n);
    else ggnn_rank_random(rank, order, 1, n);
    hits = ggnn_count_hits(reads, rank, ggnn_fill_ratio(share, n), n);
    for (int64_t v = 0; v < n; v++) all += reads[v];
    free(rank);
    free(order);
    return 100. * (double)hits / (double)all;
}

/* One epoch pre-sampled, one measured, fanout 15,10,5 from training nodes: those of the split, or every `every`-th. */
static rates measure(const char* path, ggnn_method method, int64_t every, int64_t batch_size, double share)
{
    const int32_t fanout[] = {15, 10, 5};
    dataset d;
    error why = {""};
    rates r = {0, 0, 0, 0, 0};
    if (!CHECK(dataset_open(&d, path, &why))) return r;
    const int64_t n = d.num_nodes;
    ggnn_graph g = dataset_graph(&d);
    ggnn_sampling how = ggnn_sampling_plain(method, fanout, 3);
    ggnn_node *ids = NEW(ggnn_node, n), *seeds = NEW(ggnn_node, batch_size);
    int64_t *pre = NEW(int64_t, n), *reads = NEW(int64_t, n), *out = NEW(int64_t, n), *in = NEW(int64_t, n);
    float* weight = NEW(float, d.num_edges);
    int64_t count = every ? 0 : dataset_split_ids(&d, 0, SPLIT_TRAIN, ids);
    for (int64_t v = 0; every && v < n; v += every) ids[count++] = (ggnn_node)v;
    for (int64_t e = 0; e < d.num_edges; e++) weight[e] = (float)(1 + (d.csc.indices[e] % 97) * (d.csc.indices[e] % 97));
    g.whole.weight = weight;
    ggnn_batch b;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, batch_size, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    ggnn_epochs of = {ids, count, batch_size, {1, 0, GGNN_PURPOSE_PRESAMPLE}, GGNN_PRESAMPLE_EPOCH};
    CHECK_EQ(ggnn_count_epochs(pre, NULL, &b, &g, &of, 0, ggnn_epoch_batches(&of), seeds), GGNN_OK);
    of.rng.purpose = GGNN_PURPOSE_SAMPLE;
    of.first_epoch = 0;
    CHECK_EQ(ggnn_count_epochs(reads, NULL, &b, &g, &of, 0, ggnn_epoch_batches(&of), seeds), GGNN_OK);
    CHECK_EQ(ggnn_count_degrees(out, in, &g, NULL), GGNN_OK);
    r.random = rate_of(reads, NULL, n, share);
    r.aligraph = rate_of(reads, &(ggnn_hotness){in, out, NULL}, n, share);
    r.degree = rate_of(reads, &(ggnn_hotness){out, NULL, NULL}, n, share);
    r.presc = rate_of(reads, &(ggnn_hotness){pre, NULL, g.whole.indptr}, n, share);
    r.optimal = rate_of(reads, &(ggnn_hotness){reads, NULL, g.whole.indptr}, n, share);
    printf("  hit rate %%: random %.1f, aligraph %.1f, degree %.1f, presc %.1f, optimal %.1f\n", r.random, r.aligraph,
           r.degree, r.presc, r.optimal);
    for (void** m = (void*[]){ids, seeds, pre, reads, out, in, weight, b.workspace, NULL}; *m; m++) free(*m);
    dataset_close(&d);
    return r;
}

static char* generated(char* path, generate_kind kind, int64_t nodes, int64_t edges)
{
    generate_options how = {kind, 1, nodes, edges, 0, -1, .5, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY};
    generate_report report;
    error why = {""};
    folder_path(path, kind == KIND_CITATION ? "citation.ggnn" : "rmat.ggnn");
    if (!CHECK(generate_complete(&how, &why) && generate(path, &how, &report, &why))) printf("  %s\n", why.text);
    return path;
}

TEST(presampling_comes_near_the_optimum_where_training_is_local)
{
    char path[600];
    rates r = measure(generated(path, KIND_CITATION, 60000, 480000), GGNN_FISHER_YATES, 0, 64, .1);
    CHECK(r.optimal >= r.presc && r.presc >= r.degree && r.degree > r.random);
    CHECK(r.presc >= r.optimal - 2);
    CHECK(r.presc >= 2 * r.degree);
    CHECK_NEAR(r.random, 10, 1.5);
}

TEST(presampling_equals_degree_on_rmat_and_beats_it_where_weights_decide)
{
    char path[600];
    generated(path, KIND_RMAT, 16384, 262144);
    rates uniform = measure(path, GGNN_FISHER_YATES, 20, 64, .1), weighted = measure(path, GGNN_WEIGHTED, 20, 64, .1);
    CHECK_NEAR(uniform.presc, uniform.degree, 2);
    CHECK(weighted.presc > weighted.degree + 2);
    CHECK(weighted.optimal >= weighted.presc);
}

/* R-MAT, 1% training nodes, a cache of half of all rows: most rows are never counted, so ties decide. */
TEST(ties_by_degree_fill_a_large_cache_well)
{
    char path[600];
    rates r = measure(generated(path, KIND_RMAT, 65536, 1048576), GGNN_FISHER_YATES, 100, 64, .5);
    CHECK(r.presc >= r.degree - .2);
    CHECK(r.presc > 95);
}

/* ---- filling -------------------------------------------------------------------------------------------------- */

TEST(a_ratio_is_rounded_down_but_not_by_its_own_rounding)
{
    CHECK_EQ(ggnn_fill_ratio(0, 100), 0);
    CHECK_EQ(ggnn_fill_ratio(1, 100), 100);
    CHECK_EQ(ggnn_fill_ratio(.3, 10), 3);
    CHECK_EQ(ggnn_fill_ratio(.29, 100), 29);
    CHECK_EQ(ggnn_fill_ratio(.299, 100), 29);
    CHECK_EQ(ggnn_fill_ratio(.5, 7), 3);
    CHECK_EQ(ggnn_fill_ratio(-1, 100), 0);
    CHECK_EQ(ggnn_fill_ratio(2, 100), 100);
    CHECK_EQ(ggnn_fill_ratio(NAN, 100), 0);
    CHECK_EQ(ggnn_fill_ratio(.5, 0), 0);
    CHECK_EQ(ggnn_fill_ratio(.999999999, INT32_MAX), INT32_MAX - 3);
    for (int bit = 48; bit < 63; bit++) { /* no more than there are */
        const int64_t n = INT64_C(1) << bit;
        CHECK_EQ(ggnn_fill_ratio(1 - 1. / (INT64_C(1) << 53), n), n);
        CHECK_EQ(ggnn_fill_ratio(1 - 1. / (INT64_C(1) << 53), n - 1 + n), n - 1 + n);
    }
    CHECK_EQ(ggnn_fill_ratio(1 - 1. / ((int64_t)1 << 45), (int64_t)1 << 40), ((int64_t)1 << 40) - 1); /* 1/32 of a node is missing */
    for (int64_t n = 1; n < 300; n++)
        for (int64_t k = 0; k <= n; k++) CHECK_EQ(ggnn_fill_ratio((double)k / (double)n, n), k);
}

TEST(bytes_hold_whole_rows_and_never_fewer_than_none)
{
    CHECK_EQ(ggnn_fill_rows(0, 400, 100), 0);
    CHECK_EQ(ggnn_fill_rows(399, 400, 100), 0);
    CHECK_EQ(ggnn_fill_rows(400, 400, 100), 1);
    CHECK_EQ(ggnn_fill_rows(INT64_MAX, 400, 100), 100);
    CHECK_EQ(ggnn_fill_rows(-1, 1, 100), 0);
    CHECK_EQ(ggnn_fill_rows(400, 400, -1), 0);
    CHECK_EQ(ggnn_fill_rows(INT64_MIN, 1, 100), 0);
    CHECK_EQ(ggnn_fill_rows(INT64_MAX, 1, INT64_MAX - 1), INT64_MAX - 1);
    CHECK_EQ(ggnn_fill_rows(INT64_C(7) << 50, INT64_C(2) << 40, INT64_MAX), 3584);
    CHECK_EQ(ggnn_fill_rows(INT64_C(7) << 50, 2, INT64_MAX), INT64_C(7) << 49);
    CHECK_EQ(ggnn_fill_auto(100, 30, 20), 50);
    CHECK_EQ(ggnn_fill_auto(100, 80, 20), 0);
    CHECK_EQ(ggnn_fill_auto(100, 81, 20), 0); /* an empty cache, not a full one */
    CHECK_EQ(ggnn_fill_auto(100, 200, 0), 0);
    CHECK_EQ(ggnn_fill_auto(INT64_MAX, INT64_MAX, INT64_MAX), 0);
}

/* By small numbers, all of them: of three that must not be negative any may be. And by as many pieces of 2^40 bytes. */
TEST(sizes_are_those_of_their_definitions)
{
    const int64_t large = INT64_C(1) << 40;
    for (int64_t a = -2; a < 13; a++)
        for (int64_t b = -2; b < 13; b++) {
            int64_t rows = 0;
            while (b > 0 && rows < 4 && (rows + 1) * b <= a) rows++;
            CHECK(ggnn_fill_rows(a, b, 4) == rows && ggnn_fill_rows(a * large, b * large, 4) == rows);
            for (int64_t c = -2; c < 13; c++) {
                const int64_t left = a < 0 || b < 0 || c < 0 || a < b + c ? 0 : a - b - c;
                CHECK(ggnn_fill_auto(a, b, c) == left && ggnn_fill_auto(a * large, b * large, c * large) == left * large);
            }
        }
}

/* ==== what devices store together =============================================================================== */

enum { NODES_MAX = 2000 };

typedef struct { /* lists and rows of n nodes, in orders of their own */
    int64_t n, indptr[NODES_MAX + 1];
    ggnn_node list_rank[NODES_MAX], list_order[NODES_MAX], row_rank[NODES_MAX], taken[NODES_MAX];
    ggnn_sizes sizes;
} stored_case;

/* Lists of up to `longest` edges, one length where that is negative; orders at random. */
static void make_case(stored_case* c, int64_t n, int64_t longest)
{
    ggnn_node order[NODES_MAX];
    c->n = n;
    for (int64_t v = 0; v < n; v++) c->indptr[v + 1] = c->indptr[v] + (longest < 0 ? -longest : test_below(longest + 1));
    c->sizes = (ggnn_sizes){4, c->indptr, 4, 16};
    ggnn_rank_random(c->list_rank, c->list_order, (uint64_t)test_below(1 << 20), n);
    ggnn_rank_random(c->row_rank, order, (uint64_t)test_below(1 << 20), n);
}

static ggnn_parts parts_of(const stored_case* c, int64_t device_bytes, int32_t parts, int32_t copies, int features_first)
{
    return (ggnn_parts){&c->sizes, c->list_rank, c->list_order, c->row_rank, c->n, c->n, device_bytes, parts, copies, features_first};
}

/* Bytes of each part's lists as they lie, and of its rows. */
static void bytes_by_part(int64_t lists[16], int64_t rows[16], const stored_case* c, const ggnn_parts_fill* fill, int32_t parts)
{
    memset(lists, 0, 16 * sizeof *lists);
    memset(rows, 0, 16 * sizeof *rows);
    for (int64_t v = 0; v < c->n; v++) {
        const int64_t list = fill->list_rank ? fill->list_rank[v] : v, row = fill->row_rank ? fill->row_rank[v] : v;
        if (list < fill->lists) lists[list % parts] += (c->indptr[v + 1] - c->indptr[v]) * c->sizes.edge + c->sizes.list;
        if (row < fill->rows) rows[row % parts] += c->sizes.row;
    }
}

static int64_t most_of(const int64_t* part, int32_t parts)
{
    int64_t most = 0;
    for (int32_t p = 0; p < parts; p++) most = part[p] > most ? part[p] : most;
    return most;
}

/* Lists by the text of the contract: in turn where that fits, else as ggnn_fill_lists deals them. */
static int64_t expect_lists(const stored_case* c, const ggnn_parts* from, int64_t room, const ggnn_node** rank, ggnn_node* taken)
{
    int64_t part[16] = {0}, left[16];
    for (int64_t v = 0; v < c->n; v++) {
        const int64_t h = from->lists == c->n ? v : c->list_rank[v];
        if (h < from->lists) part[h % from->parts] += (c->indptr[v + 1] - c->indptr[v]) * c->sizes.edge + c->sizes.list;
    }
    *rank = from->lists == c->n || !from->lists ? NULL : c->list_rank;
    if (most_of(part, from->parts) <= room) return from->lists;
    memcpy(taken, c->list_rank, (size_t)c->n * sizeof *taken);
    for (int p = 0; p < 16; p++) left[p] = room;
    const int64_t stored = ggnn_fill_lists(taken, left, from->parts, c->list_order, &c->sizes, from->lists);
    *rank = stored ? taken : NULL;
    return stored;
}

/* Any lists, rows, wanted numbers and devices: each part is within its room, the two kinds are stored as the contract says, and
   the bytes are those of the fullest part, as often as a device has one. */
TEST(parts_store_what_is_wanted_or_what_fits_part_by_part)
{
    int dealt = 0, whole = 0;
    for (int i = 0; i < 3000; i++) {
        static stored_case c;
        ggnn_node expected_rank[NODES_MAX];
        const ggnn_node* rank;
        int64_t left[16], lists[16], rows[16];
        make_case(&c, test_below(60), test_below(3) ? test_below(40) : -test_below(9));
        c.sizes.row = 4 * (1 + test_below(30));
        c.sizes.edge = 4 * (1 + test_below(2));
        const int32_t P = 1 + (int32_t)test_below(16);
        const int64_t all = c.indptr[c.n] * c.sizes.edge + c.n * (c.sizes.list + c.sizes.row);
        ggnn_parts from = parts_of(&c, test_below(5) ? test_below(2 * all / P + 100) : test_below(2 * all + 1), P, 1 + (int32_t)test_below(P), (int)test_below(2));
        if (test_below(2)) from.lists = test_below(c.n + 1);
        if (test_below(2)) from.rows = test_below(c.n + 1);
        const ggnn_parts_fill fill = ggnn_fill_parts(c.taken, left, &from, c.n);
        const int before = test_errors;
        bytes_by_part(lists, rows, &c, &fill, P);
        const int64_t room = from.device_bytes / from.copies, most_lists = most_of(lists, P), most_rows = most_of(rows, P);
        CHECK(most_lists + most_rows <= room);
        CHECK_EQ(fill.list_bytes, most_lists * from.copies);
        CHECK_EQ(fill.row_bytes, most_rows * from.copies);
        const int64_t for_rows = from.features_first ? room : room - most_lists, for_lists = from.features_first ? room - most_rows : room;
        const int64_t fits = for_rows / c.sizes.row * P;
        CHECK_EQ(fill.rows, from.rows < fits ? from.rows : fits);
        CHECK(fill.row_rank == (fill.rows && fill.rows < c.n ? c.row_rank : NULL));
        CHECK_EQ(fill.lists, expect_lists(&c, &from, for_lists, &rank, expected_rank));
        for (int64_t v = 0; v < c.n && rank && fill.list_rank; v++) CHECK_EQ(fill.list_rank[v], rank[v]);
        CHECK((rank == NULL) == (fill.list_rank == NULL));
        CHECK(rank == expected_rank ? fill.list_rank == c.taken : fill.list_rank == rank);
        dealt += rank == expected_rank;
        whole += fill.lists == c.n && fill.rows == c.n;
        if (test_errors > before) printf("  case %d: %lld nodes, %d parts, %d copies, %lld bytes\n", i, (long long)c.n, (int)P, (int)from.copies, (long long)from.device_bytes);
    }
    CHECK(dealt > 300 && whole > 100);
}

/* Four lists of 100 edges and twelve of 1, in every fourth place: by id one of four parts had all long ones. */
TEST(lists_that_are_uneven_by_id_are_dealt_evenly_where_that_alone_fits)
{
    static stored_case c;
    int64_t left[4];
    make_case(&c, 16, 1);
    for (int64_t v = 0; v < 16; v++) c.indptr[v + 1] = c.indptr[v] + (v % 4 ? 1 : 100);
    ggnn_parts from = parts_of(&c, 4 * 416, 4, 1, 0); /* by id */
    from.rows = 0;
    ggnn_parts_fill fill = ggnn_fill_parts(c.taken, left, &from, 16);
    CHECK(fill.lists == 16 && !fill.list_rank && fill.list_bytes == 4 * 416);
    from.device_bytes--;
    fill = ggnn_fill_parts(c.taken, left, &from, 16);
    CHECK(fill.lists == 16 && fill.list_rank == c.taken && fill.list_bytes < 4 * 416);
    from.device_bytes = 2 * (416 + 3 * 20); /* two parts each, of a long list and three short ones */
    from.copies = 2;
    fill = ggnn_fill_parts(c.taken, left, &from, 16);
    CHECK(fill.lists == 16 && fill.list_bytes == from.device_bytes);
    from.device_bytes--;
    CHECK(ggnn_fill_parts(c.taken, left, &from, 16).lists < 16);
    from.device_bytes = -5;
    fill = ggnn_fill_parts(c.taken, left, &from, 16);
    CHECK(fill.lists == 0 && fill.rows == 0 && !fill.list_rank && fill.list_bytes == 0);
}

/* A CPU has no limit: no array for other ranks is needed. */
TEST(devices_without_a_limit_store_all)
{
    static const int64_t bytes[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX / 4, INT64_MAX / 5 + 1};
    static stored_case c;
    make_case(&c, 100, 50);
    for (int i = 0; i < COUNT(bytes); i++)
        for (int32_t parts = 1; parts <= 16; parts++) {
            int64_t left[16];
            const ggnn_parts from = parts_of(&c, bytes[i], parts, 1 + parts % 2, parts % 3 == 0);
            const ggnn_parts_fill fill = ggnn_fill_parts(i ? c.taken : NULL, left, &from, 100);
            CHECK(fill.lists == 100 && fill.rows == 100 && !fill.list_rank && !fill.row_rank);
            CHECK_EQ(fill.row_bytes, (100 + parts - 1) / parts * 4 * from.copies);
        }
}

/* XGNN's Table 4: 8 V100 in a DGX-1V store 2 parts of 8 each. A device has what DGL+C had there: the whole topology
   (which it kept on each) and its cache. GB from the paper's tables 3 and 4. */
TEST(the_arithmetic_gives_the_shares_of_xgnns_table_4_within_4_points)
{
    static const struct {
        const char* what;
        double topology, features, cached, paper; /* GB, GB, share that DGL+C cached, % that XGNN stores */
    } row[] = {
        {"GCN TW", 5.6, 40, .09, 79},       {"GCN PA", 6.4, 53, .08, 69},       {"GraphSAGE TW", 5.6, 40, .16, 100},
        {"GraphSAGE PA", 6.4, 53, .11, 80}, {"GraphSAGE UK", 11.3, 74, .01, 51}, {"PinSAGE TW", 5.6, 40, .10, 84},
        {"PinSAGE PA", 6.4, 53, .08, 71},
    };
    for (int i = 0; i < COUNT(row); i++) {
        static stored_case c; /* lists of one length, so that eight parts have 250 each, as of rows */
        int64_t left[8];
        make_case(&c, NODES_MAX, -1);
        c.sizes = (ggnn_sizes){(int64_t)(row[i].features * 1e9 / NODES_MAX), c.indptr, 0, (int64_t)(row[i].topology * 1e9 / NODES_MAX)};
        const ggnn_parts from = parts_of(&c, (int64_t)((row[i].topology + row[i].cached * row[i].features) * 1e9), 8, 2, 0);
        const ggnn_parts_fill fill = ggnn_fill_parts(c.taken, left, &from, NODES_MAX);
        const double percent = 100. * (double)fill.rows / NODES_MAX;
        printf("  %s: %.1f%%, paper %.0f\n", row[i].what, percent, row[i].paper);
        CHECK_EQ(fill.lists, NODES_MAX);
        CHECK_NEAR(percent, row[i].paper, 4);
    }
}

TEST(lists_that_do_not_fit_are_skipped_and_filling_goes_on)
{
    const int64_t   indptr[] = {0, 100, 102, 102, 105, 106}; /* bytes 408 16 8 20 12 */
    const ggnn_node order[] = {0, 3, 1, 4, 2};
    ggnn_sizes      of = {1, indptr, 4, 8};
    ggnn_node       rank[5];
    int64_t         left[2] = {36, 0};
    CHECK_EQ(ggnn_fill_lists(rank, left, 1, order, &of, 5), 2); /* 3 and 1 fit exactly, the hub does not */
    CHECK_EQ(left[0], 0);
    CHECK_EQ(rank[3], 0);
    CHECK_EQ(rank[1], 1);
    CHECK_EQ(rank[0], 2);
    CHECK_EQ(rank[4], 3);
    CHECK_EQ(rank[2], 4);
    left[0] = 40;
    left[1] = 12; /* part 0: 3 and then 1; part 1: 4, as 1 does not fit there */
    CHECK_EQ(ggnn_fill_lists(rank, left, 2, order, &of, 5), 3);
    CHECK_EQ(rank[3], 0);
    CHECK_EQ(rank[4], 1);
    CHECK_EQ(rank[2], 2);
    CHECK_EQ(left[0], 12);
    CHECK_EQ(left[1], 0);
    left[0] = 0;
    CHECK_EQ(ggnn_fill_lists(rank, left, 1, order, &of, 5), 0);
    for (int i = 0; i < 5; i++) CHECK_EQ(rank[order[i]], i);
    left[0] = INT64_MAX;
    CHECK_EQ(ggnn_fill_lists(rank, left, 1, order, &of, 5), 5);
    for (int i = 0; i < 5; i++) CHECK_EQ(rank[order[i]], i);
}

/* Lists of 60 and 20 bytes are a round, then again, the other way round. What is no round is dealt in turn. */
TEST(the_largest_list_of_a_round_goes_to_the_part_with_most_room)
{
    const int64_t   indptr[] = {0, 52, 64, 116, 128, 133, 145};
    const ggnn_node order[] = {0, 1, 2, 3, 4, 5};
    const ggnn_node expected[] = {0, 1, 3, 2, 4, 5};
    ggnn_sizes      of = {1, indptr, 1, 8}; /* bytes 60 20 60 20 13 20 */
    ggnn_node       rank[6];
    int64_t         left[2] = {100, 100};
    CHECK_EQ(ggnn_fill_lists(rank, left, 2, order, &of, 6), 6);
    for (int i = 0; i < 4; i++) CHECK_EQ(rank[i], expected[i]);
    CHECK(left[0] + left[1] == 7 && (left[0] == 0 || left[1] == 0)); /* 13 and 20 are a round, too: 20 fits exactly */
    left[0] = left[1] = 93;
    CHECK_EQ(ggnn_fill_lists(rank, left, 2, order, &of, 6), 5); /* 13 is no round without 20 */
    for (int i = 0; i < 6; i++) CHECK_EQ(rank[i], expected[i]);
    CHECK(left[0] == 0 && left[1] == 13);
    static const ggnn_node small_first[] = {1, 0, 3, 2, 4, 5};
    const ggnn_node        parts[] = {0, 1, 1, 0};
    left[0] = left[1] = 80;
    CHECK_EQ(ggnn_fill_lists(rank, left, 2, small_first, &of, 6), 4);
    for (int i = 0; i < 4; i++) CHECK_EQ(rank[i] % 2, parts[i]);
    CHECK(left[0] == 0 && left[1] == 0);
}

/* The rule of ggnn_fill_lists, word for word. Of equal rooms the first part, of equal lists the first in order comes first. */
static int64_t deal(ggnn_node* rank, int64_t* left, int32_t parts, const ggnn_node* order, const ggnn_sizes* of, int64_t n)
{
    int64_t taken = 0, i = 0, after;
    int32_t part = 0;
    for (int64_t k = 0; k < n; k++) rank[k] = -1;
    for (;;) {
        const int32_t count = parts - part < 64 ? parts - part : 64;
        int32_t room[64], lists = 0;
        ggnn_node list[65];
        int64_t at = i;
        for (int32_t p = 0; p < count; p++) { /* parts by falling room */
            int32_t to = p;
            for (; to > 0 && left[part + room[to - 1]] < left[part + p]; to--) room[to] = room[to - 1];
            room[to] = p;
        }
        for (; at < n && lists < count; at++) { /* the lists of the round by falling bytes; all fit, or the new one goes */
            int32_t to = lists;
            bool fit = true;
            for (; to > 0 && ggnn_list_bytes(of, list[to - 1]) < ggnn_list_bytes(of, order[at]); to--) list[to] = list[to - 1];
            list[to] = order[at];
            for (int32_t k = 0; k <= lists; k++) fit = fit && ggnn_list_bytes(of, list[k]) <= left[part + room[k]];
            for (; !fit && to < lists; to++) list[to] = list[to + 1];
            lists += fit;
        }
        if (lists < count) break;
        for (int32_t k = 0; k < count; k++) {
            left[part + room[k]] -= ggnn_list_bytes(of, list[k]);
            rank[list[k]] = (ggnn_node)(taken + room[k]);
        }
        i = at;
        taken += count;
        part = (part + count) % parts;
    }
    for (; i < n; i++) {
        if (ggnn_list_bytes(of, order[i]) > left[taken % parts]) continue;
        left[taken % parts] -= ggnn_list_bytes(of, order[i]);
        rank[order[i]] = (ggnn_node)taken++;
    }
    after = taken;
    for (int64_t k = 0; k < n; k++)
        if (rank[order[k]] < 0) rank[order[k]] = (ggnn_node)after++;
    return taken;
}

/* Lists of a few sizes, parts of unlike rooms: much fits exactly, or is equal. 63 to 67 parts have one round and two, 126 to 130 two and
   three. Sizes are bytes, or 2^33 of them. */
TEST(lists_are_dealt_by_the_rule)
{
    enum { NODES = 200, MOST = 130 };
    static int64_t indptr[NODES + 1];
    test_seed(24);
    for (int round = 0; round < 1500; round++) {
        const int32_t parts = round % 10 == 9 ? 63 + round / 10 % 5 + round % 20 / 19 * 63 : 1 + round % 6;
        const int64_t unit = round % 7 == 0 ? INT64_C(1) << 33 : 1;
        const int64_t n = round % 10 == 9 ? NODES : test_below(25), longest = 1 + test_below(5);
        const ggnn_sizes of = {1, indptr, (1 + test_below(3)) * unit, (1 + test_below(3)) * unit};
        ggnn_node rank[NODES], want[NODES], order[NODES];
        int64_t left[MOST], want_left[MOST];
        for (int64_t v = 0; v < n; v++) indptr[v + 1] = indptr[v] + test_below(longest);
        ggnn_rank_random(rank, order, (uint64_t)round, n);
        for (int32_t p = 0; p < parts; p++) left[p] = want_left[p] = (test_below(3) ? 12 : test_below(30)) * unit;
        const int64_t taken = deal(want, want_left, parts, order, &of, n);
        CHECK_EQ(ggnn_fill_lists(rank, left, parts, order, &of, n), taken);
        CHECK(memcmp(rank, want, (size_t)n * sizeof *rank) == 0);
        CHECK(memcmp(left, want_left, (size_t)parts * sizeof *left) == 0);
    }
}

/* Fills parts of `room` bytes each; checks that ranks say what left says. Returns the share that is left. */
static double unused(const ggnn_node* order, const ggnn_sizes* of, int64_t n, int32_t parts, int64_t room)
{
    int64_t *  left = array(parts, sizeof *left), *used = array(parts, sizeof *used), all = 0;
    ggnn_node* rank = array(n, sizeof *rank);
    uint8_t*   seen = array(n, 1);
    for (int32_t p = 0; p < parts; p++) left[p] = room;
    const int64_t taken = ggnn_fill_lists(rank, left, parts, order, of, n);
    for (int64_t v = 0; v < n; v++) {
        if (!CHECK(rank[v] >= 0 && rank[v] < n && !seen[rank[v]])) break;
        seen[rank[v]] = 1;
        if (rank[v] < taken) used[rank[v] % parts] += ggnn_list_bytes(of, v);
    }
    for (int32_t p = 0; p < parts; p++) {
        CHECK(left[p] >= 0 && used[p] == room - left[p]);
        all += left[p];
    }
    free(left);
    free(used);
    free(rank);
    free(seen);
    return (double)all / (double)(room * parts);
}

/* Lists as of a power law, in random orders. Dealt in turn, they leave 11, 21 and 34 % of the room of 2, 4 and 8 parts unused, as
   a part that is full stops all others. 70 parts have rounds of 64 and of 6. */
TEST(lists_of_all_lengths_fill_all_parts)
{
    enum { NODES = 3000, ORDERS = 10, SIZES = 5 };
    static const struct {
        int32_t parts;
        double most;
    } of_parts[] = {{1, .002}, {2, .05}, {4, .11}, {8, .21}, {64, .6}, {70, .6}};
    static const int64_t budget[SIZES] = {6000, 12000, 20000, 40000, 80000};
    static int64_t indptr[NODES + 1];
    static ggnn_node rank[NODES], order[NODES];
    ggnn_sizes of = {1, indptr, 4, 16};
    for (int i = 0; i < COUNT(of_parts); i++) {
        double sum = 0;
        for (int k = 0; k < ORDERS * SIZES; k++) {
            ggnn_rank_random(rank, order, (uint64_t)k, NODES);
            for (int v = 0; v < NODES; v++) indptr[v + 1] = indptr[v] + 4000 / (rank[v] + 1);
            ggnn_rank_random(rank, order, (uint64_t)k + 1000, NODES);
            sum += unused(order, &of, NODES, of_parts[i].parts, budget[k % SIZES] / of_parts[i].parts);
        }
        if (!CHECK(sum / (ORDERS * SIZES) < of_parts[i].most)) printf("  %d parts: %g\n", of_parts[i].parts, sum / (ORDERS * SIZES));
    }
}

TEST(synthetic_timings_give_back_their_slope)
{
    const double hit[] = {0, .1, .25, .5, 1};
    double ms[5];
    for (int i = 0; i < 5; i++) ms[i] = 40 - 12.345678 * hit[i];
    CHECK_EQ(ggnn_fill_slope(hit, ms, 5), 12345678);
    for (int i = 0; i < 5; i++) ms[i] = 40 + 12.5 * hit[i];
    CHECK_EQ(ggnn_fill_slope(hit, ms, 5), 0); /* the wrong sign */
    CHECK_EQ(ggnn_fill_slope(hit, ms, 1), 0);
    CHECK_EQ(ggnn_fill_slope(hit, ms, 0), 0);
    ms[2] = NAN;
    CHECK_EQ(ggnn_fill_slope(hit, ms, 5), 0);
    const double noisy[] = {10, 9.5, 7, 5.5, 1}; /* by hand: means .37 and 6.6; -5.76 / .638 */
    CHECK_NEAR((double)ggnn_fill_slope(hit, noisy, 5), 9028213.2, 1);
    const double gentle[] = {1.6e-6, 0, 1.4e-6, 0, .4e-6, 0}; /* ms: nanoseconds are rounded */
    CHECK_EQ(ggnn_fill_slope(hit + 3, gentle, 2), 3);
    for (int i = 0; i < 3; i++) CHECK_EQ(ggnn_fill_slope((const double[]){0, 1}, gentle + 2 * i, 2), i == 0 ? 2 : i == 1 ? 1 : 0);
    CHECK_EQ(ggnn_fill_slope((const double[]){.5, .5, .5}, noisy, 3), 0); /* one ratio is no line */
    for (int i = 0; i <= 100; i++) { /* nor is it where its mean is rounded; nor are two that are too close to be told apart */
        const double same = i / 100., five[] = {same, same, same, same, same};
        for (int64_t n = 2; n <= 5; n++) CHECK_EQ(ggnn_fill_slope(five, noisy, n), 0);
    }
    CHECK_EQ(ggnn_fill_slope((const double[]){0, 1e-200}, noisy, 2), 0);
    CHECK_EQ(ggnn_fill_slope((const double[]){0, .5, 1}, (const double[]){INFINITY, 1, 1}, 3), 0);
    const double steep[] = {1e10, 0}; /* 1e16 ns: more than --slopes takes */
    CHECK_EQ(ggnn_fill_slope(hit + 3, steep, 2), 9000000000000000);
}

typedef struct { /* a random problem of DUCATI's */
    int64_t rows[12], lists[12], indptr[13];
    ggnn_sizes of;
    ggnn_dual from;
} dual_problem;

static void dual_random(dual_problem* p, int64_t n, bool unit)
{
    p->indptr[0] = 0;
    for (int64_t v = 0; v < n; v++) {
        p->rows[v] = test_below(20);
        p->lists[v] = test_below(20);
        p->indptr[v + 1] = p->indptr[v] + test_below(6);
    }
    p->of = (ggnn_sizes){unit ? 1 : 1 + test_below(9), p->indptr, unit ? 0 : 1, 1};
    p->from = (ggnn_dual){p->rows, p->lists, test_below(1000), test_below(1000), &p->of, test_below(60)};
}

static double value_of(const dual_problem* p, int64_t n, int64_t entry) /* 0 .. 2 n: rows, then lists */
{
    double row_sum = 0, list_sum = 0;
    for (int64_t v = 0; v < n; v++) {
        row_sum += (double)p->rows[v];
        list_sum += (double)p->lists[v];
    }
    if (entry < n) return row_sum > 0 ? (double)p->rows[entry] / row_sum * (double)p->from.row_slope : 0;
    return list_sum > 0 ? (double)p->lists[entry - n] / list_sum * (double)p->from.list_slope : 0;
}
static int64_t bytes_of(const dual_problem* p, int64_t n, int64_t entry)
{
    return entry < n ? p->of.row : ggnn_list_bytes(&p->of, entry - n);
}

/* The best filling when one entry may be cut: by falling value a byte. cut: the value of the entry that is cut. */
static double fractional_optimum(const dual_problem* p, int64_t n, double* cut)
{
    bool used[24] = {false};
    double value = 0;
    int64_t left = p->from.budget;
    for (*cut = 0;;) {
        int64_t best = -1;
        for (int64_t e = 0; e < 2 * n; e++)
            if (!used[e] && (best < 0 || value_of(p, n, e) * (double)bytes_of(p, n, best) > value_of(p, n, best) * (double)bytes_of(p, n, e)))
                best = e;
        if (best < 0) return value;
        used[best] = true;
        if (bytes_of(p, n, best) > left) {
            *cut = value_of(p, n, best);
            return value + *cut * (double)left / (double)bytes_of(p, n, best);
        }
        value += value_of(p, n, best);
        left -= bytes_of(p, n, best);
    }
}

/* The best of all subsets, and of all fractions, against what was taken. */
TEST(a_budget_is_filled_to_within_one_entry_of_the_fractional_optimum)
{
    enum { N = 6 };
    test_seed(21);
    for (int round = 0; round < 600; round++) {
        const bool unit = round % 2;
        dual_problem p;
        ggnn_node row_rank[N], list_rank[N], work[2 * N];
        double taken = 0, best = 0, cut, fractional;
        int64_t bytes = 0;
        dual_random(&p, N, unit);
        if (p.from.row_slope == 0 && p.from.list_slope == 0) continue;
        if (unit) p.from.budget = test_below(2 * N + 1);
        ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
        CHECK(fill.row_bytes + fill.list_bytes <= p.from.budget);
        CHECK_EQ(fill.row_bytes, fill.rows * p.of.row);
        bool rank_seen[2][N] = {{0}};
        for (int64_t e = 0; e < 2 * N; e++) {
            const ggnn_node* rank = e < N ? row_rank : list_rank;
            const bool in = rank[e % N] < (e < N ? fill.rows : fill.lists);
            if (CHECK(rank[e % N] >= 0 && rank[e % N] < N)) rank_seen[e >= N][rank[e % N]] = true;
            if (in) {
                taken += value_of(&p, N, e);
                bytes += bytes_of(&p, N, e);
            }
        }
        for (int e = 0; e < 2 * N; e++) CHECK(rank_seen[e >= N][e % N]);
        CHECK_EQ(bytes, fill.row_bytes + fill.list_bytes);
        for (int set = 0; set < 1 << 2 * N; set++) {
            double value = 0;
            int64_t size = 0;
            for (int e = 0; e < 2 * N; e++)
                if (set >> e & 1) {
                    value += value_of(&p, N, e);
                    size += bytes_of(&p, N, e);
                }
            if (size <= p.from.budget && value > best) best = value;
        }
        CHECK(taken <= best * (1 + 1e-12));
        if (unit) CHECK_NEAR(taken, best, 1e-9 * best);
        fractional = fractional_optimum(&p, N, &cut);
        CHECK(best <= fractional + 1e-9);
        CHECK(fractional <= taken + cut + 1e-9);
    }
}

/* The entry of largest value a byte, the first of equal ones; -1: none is open. */
static int64_t densest(const uint64_t* value, const int64_t* bytes, const bool* open, int64_t begin, int64_t end)
{
    int64_t best = -1;
    for (int64_t e = begin; e < end; e++)
        if (open[e] && (best < 0 || more(times(value[e], (uint64_t)bytes[best]), times(value[best], (uint64_t)bytes[e])))) best = e;
    return best;
}

/* What a count of each kind is worth: slope times the other's sum, of which the larger one keeps 32 bits. Some is never nothing. */
static void worth_of(uint64_t worth[2], const dual_problem* p, const uint64_t sum[2])
{
    const uint64_t none = p->from.row_slope == 0 && p->from.list_slope == 0;
    const wide of[2] = {times((uint64_t)p->from.row_slope + none, sum[1] ? sum[1] : 1), times((uint64_t)p->from.list_slope + none, sum[0] ? sum[0] : 1)};
    int bits = 128;
    while (bits > 32 && !((bits > 64 ? (of[0].high | of[1].high) >> (bits - 65) : (of[0].low | of[1].low) >> (bits - 1)) & 1)) bits--;
    for (int kind = 0; kind < 2; kind++) {
        const int drop = bits - 32;
        worth[kind] = drop >= 64 ? of[kind].high >> (drop - 64) : of[kind].low >> drop;
        if (drop > 0 && drop < 64) worth[kind] |= of[kind].high << (64 - drop);
        if (!worth[kind]) worth[kind] = (of[kind].high | of[kind].low) != 0;
    }
}

/* The rule of ggnn_fill_dual over rows, then lists. What is not taken comes after the taken by its count a byte. */
static ggnn_dual_fill fill_by_density(ggnn_node* row_rank, ggnn_node* list_rank, const dual_problem* p, int64_t n)
{
    ggnn_node* rank[2] = {row_rank, list_rank};
    uint64_t count[24], value[24], sum[2] = {0, 0}, worth[2];
    int64_t bytes[24], taken[2] = {0, 0}, size[2] = {0, 0}, left = p->from.budget, e;
    bool open[24], out[24];
    for (e = 0; e < 2 * n; e++) sum[e >= n] += count[e] = (uint64_t)(e < n ? p->rows[e] : p->lists[e - n]);
    worth_of(worth, p, sum);
    for (e = 0; e < 2 * n; e++) {
        bytes[e] = bytes_of(p, n, e);
        value[e] = count[e] * worth[e >= n];
        open[e] = worth[e >= n] > 0;
        out[e] = true;
    }
    for (; (e = densest(value, bytes, open, 0, 2 * n)) >= 0; open[e] = false) {
        if (bytes[e] > left) continue;
        left -= bytes[e];
        size[e >= n] += bytes[e];
        rank[e >= n][e % n] = (ggnn_node)taken[e >= n]++;
        out[e] = false;
    }
    for (int kind = 0; kind < 2; kind++)
        for (int64_t after = taken[kind]; (e = densest(count, bytes, out, kind * n, kind * n + n)) >= 0; out[e] = false)
            rank[kind][e % n] = (ggnn_node)after++;
    return (ggnn_dual_fill){taken[0], taken[1], size[0], size[1]};
}

static bool fills_by_density(const dual_problem* p, int64_t n)
{
    ggnn_node row_rank[12], list_rank[12], want_rows[12], want_lists[12], work[24];
    const ggnn_dual_fill want = fill_by_density(want_rows, want_lists, p, n), fill = ggnn_fill_dual(row_rank, list_rank, &p->from, n, work);
    return memcmp(&fill, &want, sizeof fill) == 0 && memcmp(row_rank, want_rows, (size_t)n * sizeof *row_rank) == 0 &&
           memcmp(list_rank, want_lists, (size_t)n * sizeof *list_rank) == 0;
}

TEST(a_budget_is_filled_by_falling_density)
{
    test_seed(25);
    for (int round = 0; round < 3000; round++) {
        const int64_t n = 1 + test_below(12);
        dual_problem p;
        dual_random(&p, n, round % 3 == 0);
        for (int64_t v = 0; v < n && round % 2; v++) p.rows[v] %= 3, p.lists[v] %= 3; /* many are equal */
        for (int64_t v = 0; v < n && round % 11 == 0; v++) *(round % 22 ? &p.rows[v] : &p.lists[v]) = 0;
        if (round % 5 == 0) p.from.row_slope = 0;
        if (round % 7 == 0) p.from.list_slope = 0;
        CHECK(fills_by_density(&p, n));
    }
}

/* A number of 0 to `bits` bits, each as often; every third a power of two, which leaves low halves empty. */
static int64_t of_any_size(int bits)
{
    const int64_t shift = test_below(bits + 1);
    if (shift && test_below(3) == 0) return INT64_C(1) << (shift - 1);
    return (int64_t)(test_random() >> (64 - bits) >> shift);
}

/* Slopes of up to 63 bits, counts of up to 32, bytes of up to 2^36 a row and 2^52 a list: products of 128 bits decide. */
TEST(densities_of_all_sizes_are_compared_as_the_rule_says)
{
    test_seed(26);
    for (int round = 0; round < 3000; round++) {
        const int64_t n = 1 + test_below(6), least = of_any_size(16);
        int64_t all = 0;
        dual_problem p;
        for (int64_t v = 0; v < n; v++) {
            p.rows[v] = round % 5 ? of_any_size(32) : UINT32_MAX - test_below(9); /* or a sum of more than 32 bits */
            p.lists[v] = round % 2 ? p.rows[v] : of_any_size(32);
            p.indptr[v + 1] = (v ? p.indptr[v] : (p.indptr[0] = 0)) + of_any_size(16);
        }
        p.of = (ggnn_sizes){1 + of_any_size(36), p.indptr, of_any_size(36), 1 + least};
        p.from = (ggnn_dual){p.rows, p.lists, of_any_size(63), of_any_size(63), &p.of, 0};
        if (round % 3 == 0) p.from.list_slope = p.from.row_slope;
        for (int64_t e = 0; e < 2 * n; e++) all += bytes_of(&p, n, e);
        p.from.budget = test_below(all + 1);
        CHECK(fills_by_density(&p, n));
    }
    for (int large = 0; large < 2; large++) /* a product of 2^64, whose low half is 0, beside others of 2^3 to 2^65 and of 2^98 */
        for (int bit = 0; bit < 64; bit++) {
            int64_t counts[2][12] = {{0}};
            const int64_t n = 8, slopes[2] = {INT64_C(1) << 62, bit < 63 ? INT64_C(1) << bit : INT64_MAX};
            dual_problem p;
            for (int64_t v = 0; v < n; v++) counts[large][v] = v < 4, counts[!large][v] = bit < 63 ? v < 4 : UINT32_MAX;
            for (int64_t v = 0; v <= n; v++) p.indptr[v] = v;
            memcpy(p.rows, counts[0], sizeof p.rows);
            memcpy(p.lists, counts[1], sizeof p.lists);
            p.of = (ggnn_sizes){8, p.indptr, 4, 4};
            p.from = (ggnn_dual){p.rows, p.lists, slopes[!large], slopes[large], &p.of, 8 * (bit == 63 ? 16 : 4)};
            CHECK(fills_by_density(&p, n));
        }
    const int64_t one[] = {1}, none[] = {0, 0}; /* the last of 32 bits decides */
    const ggnn_sizes alike = {8, none, 4, 8};
    const ggnn_dual from = {one, one, UINT32_MAX - 1, UINT32_MAX, &alike, 8};
    ggnn_node row_rank[1], list_rank[1], work[2];
    CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &from, 1, work).lists, 1);
    const int64_t large[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX}, first[] = {INT64_C(1) << 31, 0, 0}, no[] = {0, 0, 0, 0};
    for (int rows = 0; rows < 2; rows++) { /* a third of the sum, which takes 34 bits, at twice the slope is less than the whole of the other */
        const ggnn_sizes of = {8, no, 4, 8};
        const ggnn_dual third = {rows ? first : large, rows ? large : first, rows ? 1 : 2, rows ? 2 : 1, &of, 8};
        ggnn_node ranks[2][3], order[6];
        const ggnn_dual_fill fill = ggnn_fill_dual(ranks[0], ranks[1], &third, 3, order);
        CHECK(fill.rows == rows && fill.lists == !rows && ranks[!rows][0] == 0);
    }
}

TEST(budgets_of_nothing_one_entry_and_everything_are_kept)
{
    enum { N = 12 };
    const int64_t budgets[] = {-5, 0, 1, 2, 7, 1000000};
    dual_problem p;
    ggnn_node row_rank[N], list_rank[N], work[2 * N];
    test_seed(22);
    dual_random(&p, N, false);
    p.from.row_slope = p.from.list_slope = 10;
    for (int i = 0; i < COUNT(budgets); i++) {
        p.from.budget = budgets[i];
        ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
        CHECK(fill.row_bytes + fill.list_bytes <= (budgets[i] > 0 ? budgets[i] : 0));
        if (budgets[i] <= 0) CHECK_EQ(fill.rows + fill.lists, 0);
    }
    ggnn_dual_fill all = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
    CHECK_EQ(all.rows, N);
    CHECK_EQ(all.lists, N);
    p.from.budget = all.row_bytes + all.list_bytes; /* the last entry fits exactly, and is taken */
    CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &p.from, N, work).lists, N);
    p.from.budget--;
    all = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
    CHECK_EQ(all.rows + all.lists, 2 * N - 1);
    p.from.list_slope = 0;
    p.from.budget = 3 * p.of.row;
    CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &p.from, N, work).rows, 3);
}

TEST(a_slope_of_zero_leaves_its_kind_out_and_two_zeros_count_as_one_each)
{
    enum { N = 12 };
    dual_problem p;
    ggnn_node row_rank[N], list_rank[N], work[2 * N], other_rows[N], other_lists[N];
    test_seed(23);
    dual_random(&p, N, false);
    p.from.budget = 1000000;
    p.from.list_slope = 0;
    p.from.row_slope = 1;
    ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
    CHECK_EQ(fill.lists, 0);
    CHECK_EQ(fill.rows, N);
    p.from.list_slope = 1;
    p.from.row_slope = 0;
    fill = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
    CHECK_EQ(fill.lists, N);
    CHECK_EQ(fill.rows, 0);
    p.from.budget = 40;
    p.from.list_slope = 0;
    ggnn_dual_fill zeros = ggnn_fill_dual(row_rank, list_rank, &p.from, N, work);
    p.from.row_slope = p.from.list_slope = 1;
    fill = ggnn_fill_dual(other_rows, other_lists, &p.from, N, work);
    CHECK(zeros.rows == fill.rows && zeros.lists == fill.lists && zeros.rows + zeros.lists > 0);
    CHECK(memcmp(row_rank, other_rows, sizeof row_rank) == 0 && memcmp(list_rank, other_lists, sizeof list_rank) == 0);
}

/* Slopes and sums near their limits: the shares are 2^-30 apart in doubles' last places, and nothing overflows. */
TEST(of_equal_densities_rows_come_first_then_smaller_ids)
{
    const int64_t   indptr[] = {0, 2, 4, 6}, counts[] = {5, 5, 5};
    const ggnn_sizes of = {16, indptr, 4, 8}; /* rows and lists of 16 bytes each */
    for (int64_t budget = 0; budget <= 96; budget += 16) {
        const ggnn_dual from = {counts, counts, 7, 7, &of, budget};
        ggnn_node rows[3], lists[3], work[6];
        const ggnn_dual_fill fill = ggnn_fill_dual(rows, lists, &from, 3, work);
        CHECK_EQ(fill.rows, budget < 48 ? budget / 16 : 3);
        CHECK_EQ(fill.lists, budget < 48 ? 0 : budget / 16 - 3);
        for (int v = 0; v < 3; v++) CHECK(rows[v] == v && lists[v] == v);
    }
}

TEST(densities_do_not_overflow)
{
    const int64_t rows[] = {INT64_C(0xffffffff), 0}, lists[] = {INT64_C(0xffffffff), 0}, indptr[] = {0, 1, 2};
    ggnn_sizes of = {INT64_C(1) << 40, indptr, INT64_C(1) << 40, 1}; /* the list is a byte larger than the row */
    ggnn_dual from = {rows, lists, INT64_MAX, INT64_MAX, &of, (INT64_C(1) << 40) + 1};
    ggnn_node row_rank[2], list_rank[2], work[4];
    ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &from, 2, work);
    CHECK_EQ(fill.rows, 1);
    CHECK_EQ(fill.lists, 0);
    CHECK_EQ(row_rank[0], 0);
    from.row_slope = 1; /* a tiny slope is not none */
    fill = ggnn_fill_dual(row_rank, list_rank, &from, 2, work);
    CHECK_EQ(fill.lists, 1);
    from.budget *= 4;
    CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &from, 2, work).rows, 2);
}

/* Counts up to 2^32 - 1: the row is worth three times as much, and there is room for one of the two. */
TEST(densities_of_the_largest_counts_are_compared)
{
    const int64_t indptr[] = {0, 0};
    for (int64_t count = INT64_C(1) << 30; count < INT64_C(1) << 33; count *= 2) {
        const int64_t  counts[] = {count < INT64_C(1) << 32 ? count : UINT32_MAX};
        ggnn_sizes     of = {64, indptr, 4, 64};
        ggnn_node      row_rank[1], list_rank[1], work[2];
        for (int rows = 0; rows < 2; rows++) {
            ggnn_dual      from = {counts, counts, rows ? 3000 : 1000, rows ? 1000 : 3000, &of, 64};
            ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &from, 1, work);
            CHECK_EQ(fill.rows, rows);
            CHECK_EQ(fill.lists, !rows);
        }
    }
}

/* Both fit, so both are stored: a value of 2^-40 of the other kind's is little, and more than none. */
TEST(a_slope_far_below_the_other_leaves_nothing_out)
{
    const int64_t one[] = {1}, indptr[] = {0, 1}, large = INT64_C(1) << 40;
    ggnn_sizes of = {4, indptr, 4, 8};
    ggnn_node row_rank[1], list_rank[1], work[2];
    for (int steep_rows = 0; steep_rows < 2; steep_rows++) {
        ggnn_dual from = {one, one, steep_rows ? large : 1, steep_rows ? 1 : large, &of, 1000};
        ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &from, 1, work);
        CHECK_EQ(fill.rows, 1);
        CHECK_EQ(fill.lists, 1);
        CHECK_EQ(fill.row_bytes, 4);
        CHECK_EQ(fill.list_bytes, 12); /* an edge of 4, and 8 per list */
    }
}

TEST(an_empty_graph_is_planned_too)
{
    const int64_t indptr[] = {0};
    ggnn_graph g = ggnn_graph_plain(indptr, NULL, NULL, 0, 0);
    ggnn_sizes of = {4, indptr, 4, 8};
    ggnn_dual from = {NULL, NULL, 1, 1, &of, 100};
    ggnn_hotness by = {NULL, NULL, NULL};
    int64_t left[1] = {100};
    ggnn_node none[1];
    CHECK_EQ(ggnn_count_degrees(left, NULL, &g, NULL), GGNN_OK);
    ggnn_rank(none, none, &by, 0);
    ggnn_rank_random(none, none, 1, 0);
    CHECK_EQ(ggnn_fill_lists(none, left, 1, none, &of, 0), 0);
    CHECK_EQ(ggnn_fill_dual(none, none, &from, 0, none).rows, 0);
}

/* What may not be read changes nothing else: the others are taken as without it, and it comes behind them. */
TEST(entries_of_negative_counts_are_never_taken)
{
    const int64_t    rows[] = {5, -1, 3, 0, -7, 1}, lists[] = {-1, 4, 0, 2, -3, 9}, indptr[] = {0, 2, 5, 6, 8, 8, 20};
    const int64_t    few_rows[] = {5, 3, 0, 1}, few_lists[] = {4, 0, 2, 9};
    const ggnn_sizes of = {8, indptr, 4, 8};
    ggnn_node        row_rank[6], list_rank[6], work[12];
    for (int64_t budget = 0; budget <= 200; budget += 4)
        for (int slopes = 0; slopes < 4; slopes++) {
            const ggnn_dual      from = {rows, lists, slopes & 1 ? 3 : 0, slopes & 2 ? 5 : 0, &of, budget};
            const ggnn_dual_fill fill = ggnn_fill_dual(row_rank, list_rank, &from, 6, work);
            CHECK(fill.rows <= 4 && fill.lists <= 4 && fill.row_bytes == 8 * fill.rows && fill.row_bytes + fill.list_bytes <= budget);
            for (int v = 0; v < 6; v++) CHECK((rows[v] >= 0 || row_rank[v] >= fill.rows) && (lists[v] >= 0 || list_rank[v] >= fill.lists));
            if (budget == 200) CHECK(fill.rows == (slopes == 2 ? 0 : 4) && fill.lists == (slopes == 1 ? 0 : 4));
            if (slopes == 1) { /* rows alone, as if the others were not there */
                const int64_t   whole[] = {0, 0, 0, 0, 0};
                const ggnn_sizes like = {8, whole, 4, 8};
                const ggnn_dual  without = {few_rows, few_lists, 3, 0, &like, budget};
                CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &without, 4, work).rows, fill.rows);
            }
        }
    const int64_t        row[] = {4, -1}, list[] = {4, 0}, ends[] = {0, 0, 0};
    const ggnn_sizes     alike = {8, ends, 4, 8};
    const ggnn_dual      denser = {row, list, 300, 301, &alike, 8}; /* the sum of each kind's counts is 4 */
    CHECK_EQ(ggnn_fill_dual(row_rank, list_rank, &denser, 2, work).lists, 1);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(entries_of_negative_counts_are_never_taken);
    RUN(degrees_count_both_ends_of_an_edge);
    RUN(degrees_refuse_ids_and_lists_that_are_broken);
    RUN(a_batch_counts_its_input_rows_and_the_lists_of_each_hop);
    RUN(batches_of_any_number_of_hops_are_counted);
    RUN(counted_epochs_are_trainings_batches);
    RUN(what_is_no_range_of_batches_is_refused_and_counts_nothing);
    RUN(presampling_sees_neither_the_order_nor_the_samples_of_training);
    RUN(counting_epochs_fails_as_sampling_does);
    RUN(epochs_of_a_global_last_hop_are_not_counted);
    RUN(equal_nodes_are_ranked_by_list_length_then_by_id);
    RUN(values_of_either_sign_are_ranked);
    RUN(fractions_are_compared_exactly);
    RUN(a_ranking_is_the_sorted_order_for_any_number_of_nodes);
    RUN(a_random_ranking_is_a_permutation_keyed_by_its_seed);
    RUN(presampling_comes_near_the_optimum_where_training_is_local);
    RUN(presampling_equals_degree_on_rmat_and_beats_it_where_weights_decide);
    RUN(ties_by_degree_fill_a_large_cache_well);
    RUN(a_ratio_is_rounded_down_but_not_by_its_own_rounding);
    RUN(bytes_hold_whole_rows_and_never_fewer_than_none);
    RUN(sizes_are_those_of_their_definitions);
    RUN(parts_store_what_is_wanted_or_what_fits_part_by_part);
    RUN(lists_that_are_uneven_by_id_are_dealt_evenly_where_that_alone_fits);
    RUN(devices_without_a_limit_store_all);
    RUN(the_arithmetic_gives_the_shares_of_xgnns_table_4_within_4_points);
    RUN(lists_that_do_not_fit_are_skipped_and_filling_goes_on);
    RUN(the_largest_list_of_a_round_goes_to_the_part_with_most_room);
    RUN(lists_are_dealt_by_the_rule);
    RUN(lists_of_all_lengths_fill_all_parts);
    RUN(synthetic_timings_give_back_their_slope);
    RUN(a_budget_is_filled_to_within_one_entry_of_the_fractional_optimum);
    RUN(a_budget_is_filled_by_falling_density);
    RUN(densities_of_all_sizes_are_compared_as_the_rule_says);
    RUN(budgets_of_nothing_one_entry_and_everything_are_kept);
    RUN(a_slope_of_zero_leaves_its_kind_out_and_two_zeros_count_as_one_each);
    RUN(of_equal_densities_rows_come_first_then_smaller_ids);
    RUN(densities_do_not_overflow);
    RUN(densities_of_the_largest_counts_are_compared);
    RUN(a_slope_far_below_the_other_leaves_nothing_out);
    RUN(an_empty_graph_is_planned_too);
    folder_remove();
    return test_finish();
}
