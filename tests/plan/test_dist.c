/* test_dist.c - [6] DIST of ggnn_plan.h: a graph and its rows over parts and the host hold what one array holds. */
#include "ggnn_plan.h"

#include <stdbool.h>

#include "tests/random_graph.h"
#include "tests/test.h"

enum { NODES_MAX = 400, WIDTH = 5, PARTS_MAX = 12, SEEDS = 30 };
typedef enum { BY_DEGREE, BY_RANK, BY_ID, RULES } rule;

static void* fresh(size_t bytes) /* exactly so many, for the sanitizers */
{
    void* p = malloc(bytes ? bytes : 1);
    if (!p) abort();
    memset(p, 0x5a, bytes);
    return p;
}

/* ---- a data set spread over parts ------------------------------------------------------------------------------ */

typedef struct {
    random_graph* g;
    float* rows; /* (N, pitch / 4) */
    ggnn_node rank[NODES_MAX];
    ggnn_dist_data from;
    ggnn_dist d;
    void *work, *memory[PARTS_MAX];
} spread;

static void shuffle(ggnn_node* rank, int64_t n)
{
    for (int64_t i = 0; i < n; i++) rank[i] = (ggnn_node)i;
    for (int64_t i = n - 1; i > 0; i--) {
        const int64_t j = test_below(i + 1);
        const ggnn_node kept = rank[i];
        rank[i] = rank[j];
        rank[j] = kept;
    }
}

static void make_data(spread* s, int64_t n, int32_t parts, rule how, double graph, double features)
{
    memset(s, 0, sizeof *s);
    s->g = random_graph_new(n, n > 1 ? 3 : 0, n > 1 ? 40 : 0);
    const int64_t pitch = WIDTH + test_below(2) * 3;
    s->rows = (float*)fresh((size_t)(n * pitch) * sizeof(float));
    for (int64_t i = 0; i < n * pitch; i++) s->rows[i] = test_uniform();
    shuffle(s->rank, n);
    s->from.graph = s->g->graph;
    s->from.rows = ggnn_store_plain(s->rows, n, WIDTH, GGNN_F32);
    s->from.rows.pitch = pitch * 4;
    s->from.graph_ratio = graph;
    s->from.feature_ratio = features;
    s->from.parts = parts;
    s->from.rank = how == BY_RANK ? s->rank : NULL;
    s->from.by_id = how == BY_ID;
}

static bool spread_out(spread* s)
{
    ggnn_fault fault;
    s->work = fresh(ggnn_dist_bytes(s->from.graph.num_nodes, s->from.parts));
    if (!CHECK(ggnn_dist_plan(&s->d, &s->from, s->work, &fault) == GGNN_OK && !fault.what)) return false;
    for (int32_t p = 0; p < s->from.parts; p++) {
        s->memory[p] = s->d.part[p].bytes ? fresh(s->d.part[p].bytes) : NULL;
        CHECK_EQ(ggnn_dist_cut(s->memory[p], &s->d, p, &fault), GGNN_OK);
    }
    return CHECK_EQ(ggnn_dist_open(&s->d, s->memory), GGNN_OK);
}

static void drop(spread* s)
{
    for (int32_t p = 0; p < s->from.parts; p++) free(s->memory[p]);
    free(s->work);
    free(s->rows);
    random_graph_free(s->g);
}

/* ---- what it must be, worked out apart -------------------------------------------------------------------------- */

/* (N) the nodes hottest first: by out-degree, equal ones by id. */
static void expect_order(ggnn_node* order, const spread* s)
{
    const int64_t n = s->g->num_nodes;
    int64_t out[NODES_MAX] = {0}, placed = 0;
    for (int64_t e = 0; e < s->g->num_edges; e++) out[s->g->indices[e]]++;
    if (s->from.rank || s->from.by_id) {
        for (int64_t v = 0; v < n; v++) order[s->from.rank ? s->from.rank[v] : v] = (ggnn_node)v;
        return;
    }
    for (int64_t degree = s->g->num_edges; degree >= 0; degree--)
        for (int64_t v = 0; v < n; v++)
            if (out[v] == degree) order[placed++] = (ggnn_node)v;
}

/* (N) the slot of each node: the first `stored` in turn over the parts, all of them by id. */
static void expect_slots(int32_t* slot, const ggnn_node* order, int64_t stored, int64_t n, int32_t parts)
{
    for (int64_t i = 0; i < n; i++) slot[stored == n ? i : order[i]] = i < stored ? (int32_t)(i % parts) : parts;
}

static bool inside(const void* p, const spread* s, int32_t slot) /* the memory of that part */
{
    const char *at = (const char*)p, *memory = (const char*)s->memory[slot];
    return memory && at >= memory && at < memory + s->d.part[slot].bytes;
}

/* Each row and list: equal to the whole's, and read where it should lie. */
static void check_places(const spread* s, const int32_t* list_slot, const int32_t* row_slot)
{
    const int32_t P = s->from.parts;
    for (int64_t v = 0; v < s->g->num_nodes; v++) {
        const char* row = (const char*)ggnn_row(&s->d.rows, v);
        const ggnn_list got = ggnn_neighbors(&s->d.graph, (ggnn_node)v), want = ggnn_neighbors(&s->g->graph, (ggnn_node)v);
        const size_t degree = (size_t)want.degree;
        CHECK_EQ(ggnn_locate(&s->d.graph.at, v).slot, list_slot[v]);
        CHECK_EQ(ggnn_locate(&s->d.rows.at, v).slot, row_slot[v]);
        CHECK(memcmp(row, (const char*)s->rows + v * s->from.rows.pitch, WIDTH * sizeof(float)) == 0);
        if (row_slot[v] < P) CHECK(inside(row, s, row_slot[v]));
        else CHECK(row == (const char*)s->rows + v * s->from.rows.pitch);
        if (!CHECK(got.degree == want.degree && got.position == want.position) || !degree) continue;
        CHECK(memcmp(got.id, want.id, degree * sizeof *got.id) == 0);
        CHECK(s->from.graph.whole.weight ? got.weight && memcmp(got.weight, want.weight, degree * 4) == 0 : !got.weight);
        if (list_slot[v] < P) CHECK(inside(got.id, s, list_slot[v]));
        else CHECK(got.id == want.id);
    }
}

/* A mini-batch through the store: the whole graph's bits; what it read by slot is arithmetic. */
static void check_batch(spread* s, const int32_t* list_slot, const int32_t* row_slot)
{
    const int32_t fanout[] = {4, 3};
    int64_t lists[PARTS_MAX + 2] = {0}, rows[PARTS_MAX + 2] = {0}, want_lists[PARTS_MAX + 2] = {0}, want_rows[PARTS_MAX + 2] = {0};
    ggnn_sampling how = ggnn_sampling_plain(s->from.graph.whole.weight ? GGNN_WEIGHTED : GGNN_FISHER_YATES, fanout, 2);
    const ggnn_rng rng = {11, 3, GGNN_PURPOSE_SAMPLE};
    ggnn_node seeds[SEEDS];
    ggnn_batch whole, split;
    how.keep = GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS;
    for (int i = 0; i < SEEDS; i++) seeds[i] = (ggnn_node)test_below(s->g->num_nodes);
    s->d.graph.traffic = lists;
    s->d.rows.traffic = rows;
    if (!CHECK(ggnn_batch_new(&whole, &s->from.graph, &how, SEEDS) == GGNN_OK && ggnn_batch_new(&split, &s->d.graph, &how, SEEDS) == GGNN_OK)) return;
    CHECK_EQ(ggnn_sample(&whole, &s->from.graph, &rng, seeds, SEEDS), GGNN_OK);
    CHECK_EQ(ggnn_sample(&split, &s->d.graph, &rng, seeds, SEEDS), GGNN_OK);
    const size_t bytes = ggnn_batch_packed_bytes(&whole);
    char *a = (char*)fresh(bytes), *b = (char*)fresh(bytes);
    if (CHECK_EQ(ggnn_batch_packed_bytes(&split), bytes)) {
        ggnn_batch_pack(a, &whole);
        ggnn_batch_pack(b, &split);
        CHECK(memcmp(a, b, bytes) == 0);
    }
    for (int h = 0; h < 2; h++)
        for (int64_t i = 0; i < *whole.hop[h].num_dst.n; i++) want_lists[list_slot[whole.id[i]]]++;
    const int64_t n = *whole.hop[1].num_src.n;
    float* out = (float*)fresh((size_t)n * WIDTH * sizeof *out);
    CHECK_EQ(ggnn_gather(out, WIDTH, GGNN_F32, &s->d.rows, split.id, n), GGNN_OK);
    for (int64_t i = 0; i < n; i++) {
        want_rows[row_slot[whole.id[i]]]++;
        CHECK(memcmp(out + i * WIDTH, (const char*)s->rows + whole.id[i] * s->from.rows.pitch, WIDTH * sizeof *out) == 0);
    }
    CHECK(memcmp(lists, want_lists, sizeof lists) == 0 && memcmp(rows, want_rows, sizeof rows) == 0);
    free(a);
    free(b);
    free(out);
    ggnn_batch_free(&whole);
    ggnn_batch_free(&split);
}

static void check_spread(spread* s)
{
    const int64_t n = s->g->num_nodes;
    ggnn_node order[NODES_MAX];
    int32_t list_slot[NODES_MAX], row_slot[NODES_MAX];
    const int64_t lists = ggnn_fill_ratio(s->from.graph_ratio, n), rows = ggnn_fill_ratio(s->from.feature_ratio, n);
    expect_order(order, s);
    expect_slots(list_slot, order, lists, n, s->from.parts);
    expect_slots(row_slot, order, rows, n, s->from.parts);
    CHECK_EQ(s->d.graph.at.stored, lists); /* to the node */
    CHECK_EQ(s->d.rows.at.stored, rows);
    for (int32_t p = 0; p < s->from.parts; p++) {
        int64_t of[3] = {0};
        for (int64_t v = 0; v < n; v++) {
            of[0] += list_slot[v] == p;
            of[1] += list_slot[v] == p ? s->g->indptr[v + 1] - s->g->indptr[v] : 0;
            of[2] += row_slot[v] == p;
        }
        CHECK(s->d.part[p].lists == of[0] && s->d.part[p].edges == of[1] && s->d.part[p].rows == of[2]);
        CHECK((s->d.part[p].bytes == 0) == (of[0] == 0 && of[2] == 0));
    }
    ggnn_fault fault;
    CHECK_EQ(ggnn_graph_validate(&s->d.graph, &fault), GGNN_OK);
    check_places(s, list_slot, row_slot);
    if (n) check_batch(s, list_slot, row_slot);
}

/* ---- tests --------------------------------------------------------------------------------------------------------- */

TEST(rows_lists_and_batches_over_parts_are_those_of_one_array)
{
    static const double ratio[] = {0, 1, .29, .5, .07};
    static spread s;
    for (int how = 0; how < RULES; how++)
        for (int i = 0; i < 25; i++)
            for (int32_t parts = 1; parts <= PARTS_MAX; parts += 1 + (int32_t)test_below(4)) {
                const int before = test_errors;
                make_data(&s, 1 + test_below(i % 3 ? NODES_MAX : 2 * parts), parts, (rule)how, ratio[i % 5], ratio[i / 5]);
                if (test_below(2)) s.from.graph.whole.weight = NULL;
                if (spread_out(&s)) check_spread(&s);
                if (test_errors > before) printf("  rule %d, ratios %g %g, %d parts, %lld nodes\n", how, ratio[i % 5], ratio[i / 5], (int)parts, (long long)s.g->num_nodes);
                drop(&s);
            }
}

TEST(no_nodes_no_edges_and_no_features_are_spread_too)
{
    static spread s;
    make_data(&s, 0, 3, BY_DEGREE, 1, 1);
    if (spread_out(&s)) CHECK(s.d.graph.at.stored == 0 && s.d.rows.at.stored == 0 && s.d.part[2].bytes == 0);
    drop(&s);
    make_data(&s, 1, 4, BY_DEGREE, 1, 1); /* parts 1 to 3 are empty; no edge */
    if (spread_out(&s)) check_spread(&s);
    CHECK(s.d.part[0].edges == 0 && s.d.part[0].lists == 1 && s.d.part[1].bytes == 0 && !s.d.graph.part[1].indptr && !s.d.rows.base[3]);
    drop(&s);
    make_data(&s, 50, 4, BY_RANK, .5, .5);
    memset(&s.from.rows, 0, sizeof s.from.rows);
    if (spread_out(&s)) {
        CHECK(s.d.graph.at.stored == 25 && s.d.rows.at.stored == 0 && s.d.part[0].rows == 0);
        CHECK_EQ(ggnn_graph_validate(&s.d.graph, NULL), GGNN_OK);
    }
    drop(&s);
}

/* A look-up reads no table where ranks are ids, or where all lie in parts. */
TEST(order_by_id_and_a_ratio_of_one_need_no_table)
{
    static spread s;
    make_data(&s, 60, 3, BY_ID, .4, .2);
    if (spread_out(&s)) CHECK(!s.d.graph.at.rank && !s.d.rows.at.rank);
    drop(&s);
    make_data(&s, 60, 3, BY_RANK, 1, .2);
    if (spread_out(&s)) CHECK(!s.d.graph.at.rank && s.d.rows.at.rank);
    drop(&s);
}

/* Two processes plan alike, and read what the other has cut where they map it. */
TEST(plans_of_two_processes_are_one)
{
    static spread a, b;
    make_data(&a, 200, 4, BY_DEGREE, .6, .3);
    b = a;
    if (spread_out(&a) && spread_out(&b)) {
        for (int32_t p = 0; p < 4; p++)
            CHECK(a.d.part[p].bytes == b.d.part[p].bytes && memcmp(a.memory[p], b.memory[p], a.d.part[p].bytes) == 0);
        void* mixed[4] = {a.memory[0], b.memory[1], a.memory[2], b.memory[3]};
        void* none[4] = {a.memory[0], NULL, a.memory[2], a.memory[3]};
        CHECK_EQ(ggnn_dist_open(&a.d, mixed), GGNN_OK);
        CHECK_EQ(ggnn_graph_validate(&a.d.graph, NULL), GGNN_OK);
        CHECK(a.d.graph.part[1].indptr == b.d.graph.part[1].indptr);
        CHECK_EQ(ggnn_dist_open(&a.d, none), GGNN_ERROR_ARGUMENT);
    }
    for (int32_t p = 0; p < 4; p++) free(b.memory[p]);
    free(b.work);
    drop(&a);
}

static void refused(const spread* s, ggnn_status status, int64_t node, const char* what)
{
    ggnn_dist d;
    ggnn_fault fault = {NULL, -2, -2, -2};
    void* work = fresh(1 << 20);
    CHECK_EQ(ggnn_dist_plan(&d, &s->from, work, &fault), status);
    CHECK_STR(fault.what ? fault.what : "", what);
    CHECK_EQ(fault.node, node);
    free(work);
}

TEST(what_cannot_be_spread_is_refused_with_its_reason)
{
    static spread good;
    make_data(&good, 30, 3, BY_RANK, .5, .5);
    static const double bad[] = {-.01, 1.01, NAN};
    for (int i = 0; i < 6; i++) {
        spread s = good;
        *(i < 3 ? &s.from.graph_ratio : &s.from.feature_ratio) = bad[i % 3];
        refused(&s, GGNN_ERROR_ARGUMENT, -1, "a ratio is outside [0, 1]");
    }
    spread s = good;
    for (int i = 0; i < 2; i++) {
        s.from.parts = i ? GGNN_PARTS_MAX + 1 : 0;
        refused(&s, GGNN_ERROR_ARGUMENT, -1, "parts are not 1 to GGNN_PARTS_MAX");
        CHECK_EQ(ggnn_dist_bytes(30, s.from.parts), 0);
    }
    s = good;
    s.from.by_id = 1;
    refused(&s, GGNN_ERROR_ARGUMENT, -1, "rank is given, and by_id too");
    s = good;
    s.from.graph.part = &s.from.graph.whole;
    s.from.graph.at.parts = 1;
    refused(&s, GGNN_ERROR_ARGUMENT, -1, "the graph is not one CSC in the host's memory");
    s = good;
    s.from.rows.rows = NULL;
    refused(&s, GGNN_ERROR_ARGUMENT, -1, "the features are not one array in the host's memory");
    s = good;
    s.rank[7] = s.rank[3];
    s.from.rank = s.rank;
    refused(&s, GGNN_ERROR_ID, 7, "rank is no permutation of the nodes");
    s.rank[7] = 30;
    refused(&s, GGNN_ERROR_ID, 7, "rank is no permutation of the nodes");
    s = good;
    s.from.graph_ratio = 1;
    s.g->indptr[4] = s.g->indptr[5] + 1; /* list 4 */
    refused(&s, GGNN_ERROR_ID, 4, "indptr decreases or leaves its part");
    drop(&good);
}

TEST(no_plan_no_part_and_no_memory_are_refused)
{
    static spread s;
    ggnn_fault fault;
    make_data(&s, 40, 2, BY_DEGREE, .5, .5);
    if (spread_out(&s)) {
        const ggnn_dist none = {0};
        CHECK(ggnn_dist_cut(s.memory[0], &none, 0, &fault) == GGNN_ERROR_ARGUMENT && fault.what);
        CHECK_EQ(ggnn_dist_cut(NULL, &s.d, 0, NULL), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_dist_cut(s.memory[0], &s.d, 2, NULL), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_dist_cut(s.memory[0], &s.d, -1, NULL), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_dist_open(&s.d, NULL), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_dist_plan(&s.d, &s.from, NULL, NULL), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_dist_plan(&s.d, NULL, s.work, NULL), GGNN_ERROR_ARGUMENT);
    }
    CHECK_EQ(ggnn_dist_bytes(-1, 2), 0);
    drop(&s);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(rows_lists_and_batches_over_parts_are_those_of_one_array);
    RUN(no_nodes_no_edges_and_no_features_are_spread_too);
    RUN(order_by_id_and_a_ratio_of_one_need_no_table);
    RUN(plans_of_two_processes_are_one);
    RUN(what_cannot_be_spread_is_refused_with_its_reason);
    RUN(no_plan_no_part_and_no_memory_are_refused);
    return test_finish();
}
