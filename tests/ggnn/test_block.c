/* test_block.c - [5] UNIQUE and [6] BLOCK of ggnn.h: numbering by first occurrence, mini-batches against a naive
   sampler, transposes, sampling through a store of parts, bad input. */
#include <sys/mman.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include "common/ggnn_level.h"
#include "ggnn_reference.h"
#include "tests/methods.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"
#include "tests/test.h"

static const ggnn_unique_kind kinds[] = {GGNN_UNIQUE_DIRECT, GGNN_UNIQUE_HASH};
static const ggnn_rng         rng = {0xFEDCBA9876543210u, 0x3ABCDEF5, GGNN_PURPOSE_SAMPLE}; /* no half of them is 0 */

static ggnn_unique* unique_new(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids)
{
    return ggnn_unique_init(malloc(ggnn_unique_bytes(kind, num_nodes, max_ids)), kind, num_nodes, max_ids);
}

/* ---- [5] unique --------------------------------------------------------------- */

TEST(append_numbers_by_first_occurrence)
{
    enum { N = 300, MOST = 1000 };
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], N, N);
        for (int batch = 0; batch < 60; batch++) { /* the same table, never cleared */
            ggnn_node list[N + 1], want[N + 1], id[MOST];
            int32_t   local[MOST], want_local[MOST];
            int64_t   count = 0, bad;
            ggnn_unique_begin(seen);
            for (int call = 0; call < 3; call++) {
                int64_t n = test_below(call ? MOST : 20), distinct = 1 + test_below(N);
                for (int64_t i = 0; i < n; i++) id[i] = (ggnn_node)test_below(distinct);
                CHECK_EQ(ggnn_unique_append(seen, list, local, id, n, &bad), GGNN_OK);
                ggnn_ref_unique_append(want, &count, want_local, id, n);
                CHECK_EQ(seen->count, count);
                CHECK(memcmp(list, want, (size_t)count * sizeof *list) == 0);
                CHECK(memcmp(local, want_local, (size_t)n * sizeof *local) == 0);
            }
        }
        free(seen);
    }
}

/* Ids from far apart meet in slots of the table, which those of a small graph never do. */
TEST(hashed_ids_that_meet_in_a_slot_are_told_apart)
{
    enum { IDS = 400 };
    ggnn_unique* seen = unique_new(GGNN_UNIQUE_HASH, 1 << 30, IDS);
    for (int batch = 0; batch < 20; batch++) {
        ggnn_node list[IDS + 1], want[IDS + 1], id[IDS];
        int32_t   local[IDS], want_local[IDS];
        int64_t   bad, count = 0;
        for (int i = 0; i < IDS; i++) id[i] = i == 0 || i % 3 ? (ggnn_node)test_below(1 << 30) : id[test_below(i + 1) * 2 / 3];
        ggnn_unique_begin(seen);
        CHECK_EQ(ggnn_unique_append(seen, list, local, id, IDS, &bad), GGNN_OK);
        ggnn_ref_unique_append(want, &count, want_local, id, IDS);
        CHECK_EQ(seen->count, count);
        CHECK(memcmp(list, want, (size_t)seen->count * sizeof *list) == 0);
        CHECK(memcmp(local, want_local, sizeof local) == 0);
    }
    free(seen);
}

/* A table that is made again in its memory knows nothing of what it held, in its last slot either. */
TEST(a_table_is_cleared_to_its_last_slot)
{
    for (int k = 0; k < 2; k++) {
        const size_t bytes = ggnn_unique_bytes(kinds[k], 1000000, 8);
        void*        memory = malloc(bytes);
        ggnn_unique* seen = NULL;
        ggnn_node    list[9], last = 999999, before = 0; /* of the direct map the last slot is the last id's */
        int32_t      local[2];
        int64_t      bad;
        memset(memory, 0xff, bytes);
        for (int again = 0; again < 2; again++) {
            const ggnn_node id[] = {before, last};
            seen = ggnn_unique_init(memory, kinds[k], 1000000, 8);
            while (kinds[k] == GGNN_UNIQUE_HASH && ggnn_hash(last, seen->mask) != seen->mask) last--;
            CHECK_EQ(ggnn_unique_begin(seen), GGNN_OK);
            CHECK_EQ(ggnn_unique_append(seen, list, local, again ? id : &last, 1 + again, &bad), GGNN_OK);
            CHECK_EQ(seen->count, 1 + again);
            for (int i = 0; i <= again; i++) CHECK_EQ(local[i], i);
        }
        free(memory);
    }
}

TEST(a_full_list_still_numbers_what_it_has)
{
    for (int k = 0; k < 2; k++) {
        const ggnn_node id[] = {8, 3, 5, 3, 8, 5, 5, 6, 8};
        ggnn_unique*    seen = unique_new(kinds[k], 100, 3);
        ggnn_node       list[3];
        int32_t         local[9];
        int64_t         bad = -1;
        ggnn_unique_begin(seen);
        CHECK_EQ(ggnn_unique_append(seen, list, local, id, 9, &bad), GGNN_ERROR_CAPACITY);
        for (int i = 0; i < 7 && CHECK_EQ(bad, 7); i++) CHECK_EQ(list[local[i]], id[i]);
        free(seen);
    }
}

TEST(append_handles_nothing_all_equal_and_the_greatest_ids)
{
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], k ? GGNN_NODE_MAX : 1000, 40);
        ggnn_node    top = k ? GGNN_NODE_MAX - 1 : 999, id[100], list[40];
        int32_t      local[100];
        int64_t      bad;
        ggnn_unique_begin(seen);
        CHECK_EQ(ggnn_unique_append(seen, list, local, id, 0, &bad), GGNN_OK);
        CHECK_EQ(seen->count, 0);
        for (int i = 0; i < 100; i++) id[i] = top;
        CHECK_EQ(ggnn_unique_append(seen, list, local, id, 100, &bad), GGNN_OK);
        CHECK_EQ(seen->count, 1);
        CHECK_EQ(local[99], 0);
        for (int i = 0; i < 100; i++) id[i] = (ggnn_node)(top - i % 40);
        CHECK_EQ(ggnn_unique_append(seen, list, NULL, id, 100, &bad), GGNN_OK); /* exactly full, local not wanted */
        CHECK_EQ(seen->count, 40);
        CHECK_EQ(list[39], top - 39);
        free(seen);
    }
}

TEST(append_stops_at_what_does_not_fit_and_at_bad_ids)
{
    for (int k = 0; k < 2; k++)
        for (int64_t bad_at = 0; bad_at < 50; bad_at++) {
            ggnn_unique* seen = unique_new(kinds[k], 1000, 60);
            ggnn_node    id[50], list[60];
            int32_t      local[50];
            int64_t      bad = -1;
            ggnn_unique_begin(seen);
            for (int i = 0; i < 50; i++) id[i] = (ggnn_node)i;
            id[bad_at] = bad_at % 2 ? -1 : 1000;
            CHECK_EQ(ggnn_unique_append(seen, list, local, id, 50, &bad), GGNN_ERROR_ID);
            CHECK_EQ(bad, bad_at);
            CHECK_EQ(seen->count, bad_at);
            free(seen);
            seen = unique_new(kinds[k], 1000, bad_at);
            id[bad_at] = (ggnn_node)bad_at;
            ggnn_unique_begin(seen);
            CHECK_EQ(ggnn_unique_append(seen, list, local, id, 50, &bad), GGNN_ERROR_CAPACITY);
            CHECK_EQ(bad, bad_at);
            CHECK_EQ(seen->count, bad_at);
            free(seen);
        }
}

TEST(the_table_survives_the_wrap_of_its_values)
{
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], 100, 100);
        ggnn_node    id[100], list[100];
        int32_t      local[100];
        int64_t      bad;
        seen->base = UINT32_MAX / 2 - 150; /* as after 2^31 ids */
        for (int batch = 0; batch < 5; batch++) {
            ggnn_unique_begin(seen);
            for (int i = 0; i < 100; i++) id[i] = (ggnn_node)(99 - (i + batch) % 100);
            ggnn_unique_append(seen, list, local, id, 100, &bad);
            CHECK_EQ(seen->count, 100);
            for (int i = 0; i < 100; i++) CHECK_EQ(local[i], i);
        }
        CHECK(seen->base < 1000);
        free(seen);
    }
}

/* Ids of a batch before the wrap, in none after it, are new where the values that they had come again. */
TEST(the_table_forgets_at_the_wrap_of_its_values)
{
    const uint32_t near_the_end = UINT32_MAX / 2 - 50;
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], 200, 100);
        ggnn_node    id[100], list[101];
        int32_t      local[100];
        int64_t      bad;
        for (int batch = 0; batch < 3; batch++) {
            if (batch != 1) seen->base = near_the_end, seen->count = 0; /* as after 2^31 ids, and as many again */
            ggnn_unique_begin(seen);
            CHECK_EQ(seen->base, batch == 1 ? 1 : near_the_end);
            for (int i = 0; i < 100; i++) id[i] = (ggnn_node)(batch == 0 ? i : batch == 1 ? 100 + i : 99 - i);
            CHECK_EQ(ggnn_unique_append(seen, list, local, id, 100, &bad), GGNN_OK);
            CHECK_EQ(seen->count, 100);
            for (int i = 0; i < 100; i++) CHECK(local[i] == i && list[i] == id[i]);
        }
        free(seen);
    }
}

TEST(find_knows_the_ids_of_this_batch_alone)
{
    enum { N = 500 };
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], N, 200);
        ggnn_node    list[201], id[60];
        int64_t      bad;
        CHECK_EQ(ggnn_unique_find(seen, 0), -1); /* before the first batch */
        for (int batch = 0; batch < 20; batch++) {
            int32_t expected[N];
            ggnn_unique_begin(seen);
            for (int v = 0; v < N; v++) CHECK_EQ(ggnn_unique_find(seen, (ggnn_node)v), -1);
            for (int call = 0; call < 3; call++) {
                for (int i = 0; i < 60; i++) id[i] = (ggnn_node)test_below(N);
                CHECK_EQ(ggnn_unique_append(seen, list, NULL, id, 60, &bad), GGNN_OK);
            }
            memset(expected, 0xff, sizeof expected);
            for (uint32_t i = 0; i < seen->count; i++) expected[list[i]] = (int32_t)i;
            for (int v = 0; v < N; v++) CHECK_EQ(ggnn_unique_find(seen, (ggnn_node)v), expected[v]);
            for (ggnn_node below = -40; below < 0; below++) CHECK_EQ(ggnn_unique_find(seen, below), -1);
            CHECK_EQ(ggnn_unique_find(seen, N), -1);
            CHECK_EQ(ggnn_unique_find(seen, GGNN_NODE_MAX), -1);
        }
        free(seen);
    }
}

TEST(append_writes_nothing_behind_a_full_list)
{
    static const ggnn_node id[] = {7, 9, 7, 3, 3, 9, 7, 3};
    for (int k = 0; k < 2; k++)
        for (int64_t room = 3; room <= 20; room++) {
            ggnn_unique* seen = unique_new(kinds[k], 100, room);
            ggnn_node*   list = malloc((size_t)room * sizeof *list); /* what lies behind it is not ours */
            int64_t      bad;
            ggnn_unique_begin(seen);
            for (int again = 0; again < 3; again++)
                CHECK_EQ(ggnn_unique_append(seen, list, NULL, id, 8, &bad), GGNN_OK);
            CHECK_EQ(seen->count, 3);
            free(list);
            free(seen);
        }
}

TEST(choose_takes_the_direct_map_while_it_fits_the_cache)
{
    CHECK_EQ(ggnn_unique_choose(1000), GGNN_UNIQUE_DIRECT);
    CHECK_EQ(ggnn_unique_choose(100000000), GGNN_UNIQUE_HASH);
    CHECK_EQ(ggnn_unique_choose(4194304), GGNN_UNIQUE_DIRECT); /* 16 MiB: two fit */
    CHECK_EQ(ggnn_unique_choose(4194305), GGNN_UNIQUE_HASH);
    CHECK(ggnn_unique_init(NULL, GGNN_UNIQUE_HASH, 1, 1) == NULL);
}

/* 4 bytes per node; or slots, a power of two, 16 at least, of which at most half are taken. The object and the table take
   whole lines; a table lies in its bytes. */
TEST(tables_have_the_size_that_is_said)
{
    const int64_t most[] = {0, 1, 7, 8, 9, 16, 17, 500, 512, 513, 99999, 1 << 20};
    for (int i = 0; i < 12; i++)
        for (int64_t nodes = 0; nodes < 3000; nodes += 599)
            for (int k = 0; k < 2; k++) {
                const int64_t ids = most[i] < nodes ? most[i] : nodes;
                int64_t       slots = 16;
                while (slots / 2 < ids) slots *= 2;
                const size_t object = (sizeof(ggnn_unique) + 63) / 64 * 64;
                const size_t table = k ? (size_t)slots * sizeof(ggnn_unique_slot) : (size_t)nodes * 4;
                CHECK_EQ(ggnn_unique_bytes(kinds[k], nodes, most[i]), object + (table + 63) / 64 * 64);
                ggnn_unique* seen = unique_new(kinds[k], nodes, most[i]);
                CHECK(seen->kind == kinds[k] && seen->num_nodes == nodes && seen->max_ids == ids && seen->count == 0);
                CHECK_EQ(seen->mask, slots - 1);
                CHECK((char*)(k ? (void*)seen->slot : (void*)seen->value) == (char*)seen + object);
                CHECK(k ? !seen->value : !seen->slot);
                free(seen);
            }
    CHECK_EQ(sizeof(ggnn_unique_slot), sizeof(ggnn_node) == 8 ? 16 : 8);
}

/* Room for 40 ids, of which an input has more, and ids out of range: whichever comes first is told. */
TEST(of_two_faults_append_tells_the_first)
{
    for (int k = 0; k < 2; k++)
        for (int at = 0; at < 100; at++)
            for (int wrong = -1; wrong < 2; wrong += 2) {
                ggnn_unique* seen = unique_new(kinds[k], 1000, 40);
                ggnn_node    id[100], list[41];
                int32_t      local[100];
                int64_t      bad = -1;
                for (int i = 0; i < 100; i++) id[i] = (ggnn_node)(i < 20 ? i : 10 + i / 2); /* id[60] is the 41st */
                id[at] = wrong < 0 ? -1 : 1000;
                ggnn_unique_begin(seen);
                memset(local, 0x5a, sizeof local);
                const int first = at < 60 ? at : 60;
                CHECK_EQ(ggnn_unique_append(seen, list, local, id, 100, &bad), at <= 60 ? GGNN_ERROR_ID : GGNN_ERROR_CAPACITY);
                CHECK_EQ(bad, first);
                for (int i = 0; i < first; i++) CHECK(local[i] >= 0 && local[i] < (int32_t)seen->count && list[local[i]] == id[i]);
                free(seen);
            }
}

/* ---- [6] mini-batches ------------------------------------------------------------ */

typedef struct {
    ggnn_batch   batch;
    ggnn_unique* seen;
    void*        memory;
} prepared;

static prepared prepare(const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds, ggnn_unique_kind kind)
{
    prepared p;
    CHECK_EQ(ggnn_batch_plan(&p.batch, g, how, max_seeds, NULL), GGNN_OK);
    p.seen = unique_new(kind, g->num_nodes, p.batch.max_ids);
    CHECK_EQ(ggnn_batch_plan(&p.batch, g, how, max_seeds, p.seen), GGNN_OK);
    p.memory = malloc(p.batch.bytes);
    CHECK_EQ(ggnn_batch_init(&p.batch, p.memory), GGNN_OK);
    return p;
}

static void finish(prepared* p)
{
    free(p->memory);
    free(p->seen);
}

/* Room for a hop's arrays per edge; those that `like` does not have stay NULL. */
static ggnn_block hop_like(const ggnn_block* like, int64_t edges, int64_t sizes[3], ggnn_node* list)
{
    ggnn_block hop;
    memset(&hop, 0, sizeof hop);
    hop.num_dst.n = &sizes[0];
    hop.num_src.n = &sizes[1];
    hop.num_edges.n = &sizes[2];
    hop.id = list;
    hop.indptr = (int64_t*)malloc((size_t)(sizes[0] + 1) * sizeof *hop.indptr);
    if (like->indices) hop.indices = (int32_t*)malloc((size_t)edges * sizeof *hop.indices);
    if (like->neighbor) hop.neighbor = (ggnn_node*)malloc((size_t)edges * sizeof *hop.neighbor);
    if (like->position) hop.position = (int64_t*)malloc((size_t)edges * sizeof *hop.position);
    if (like->weight) hop.weight = (float*)malloc((size_t)edges * sizeof *hop.weight);
    return hop;
}
static void hop_free(ggnn_block* hop)
{
    free(hop->indptr);
    free(hop->indices);
    free(hop->neighbor);
    free(hop->position);
    free(hop->weight);
}

static int same(const void* a, const void* b, int64_t n, size_t size) { return !a || memcmp(a, b, (size_t)n * size) == 0; }

/* The whole mini-batch by the reference's hops. */
static void check_batch(const ggnn_batch* b, const random_graph* g, const ggnn_sampling* how, const ggnn_node* seeds, int64_t num_seeds)
{
    const int64_t most = g->num_edges + 2000;
    ggnn_node*    list = (ggnn_node*)malloc((size_t)g->num_nodes * sizeof *list);
    int64_t*      offset = (int64_t*)malloc((size_t)most * sizeof *offset);
    int32_t*      local = (int32_t*)malloc((size_t)most * sizeof *local);
    void*         work = malloc((size_t)most * 8);
    int64_t       count = 0;
    ggnn_ref_unique_append(list, &count, local, seeds, num_seeds);
    CHECK(same(b->seed_local, local, num_seeds, sizeof *local));
    CHECK_EQ(b->num_hops, how->num_hops);
    for (int32_t h = 0; h < how->num_hops && !test_errors; h++) {
        const ggnn_block* hop = &b->hop[h];
        int64_t           sizes[3] = {count, 0, 0}, edges;
        ggnn_block        want = hop_like(hop, *hop->num_edges.n + most, sizes, list);
        ggnn_ref_sample_hop(&want, &g->graph, how, &rng, h, offset, work);
        edges = sizes[2];
        CHECK(*hop->num_dst.n == count && *hop->num_src.n == sizes[1] && *hop->num_edges.n == edges);
        CHECK(same(hop->indptr, want.indptr, count + 1, sizeof *hop->indptr));
        CHECK(same(hop->indices, want.indices, edges, sizeof *hop->indices));
        CHECK(same(hop->neighbor, want.neighbor, edges, sizeof *hop->neighbor));
        CHECK(same(hop->position, want.position, edges, sizeof *hop->position));
        CHECK(same(hop->weight, want.weight, edges, sizeof *hop->weight));
        for (int64_t e = 0; hop->repeats && e < edges; e++) hop->repeats[hop->indices[e]]--;
        count = sizes[1];
        CHECK(hop->id == b->id);
        for (int64_t i = 0; hop->repeats && i < count; i++) CHECK_EQ(hop->repeats[i], 0);
        CHECK_EQ(ggnn_block_validate(hop, g->num_nodes, NULL), GGNN_OK);
        hop_free(&want);
    }
    CHECK(same(b->id, list, count, sizeof *list));
    free(list);
    free(offset);
    free(local);
    free(work);
}

TEST(batches_are_what_the_definitions_say)
{
    const int32_t fanouts[][3] = {{3, 2, 2}, {0, 5, 1}, {-1, 3, 0}, {5, -1, -1}, {15, 10, 5}, {1100, 2, 2}};
    random_graph* g = random_graph_new(500, 6, 1300);
    ggnn_node     seeds[40];
    for (int i = 0; i < 40; i++) seeds[i] = (ggnn_node)(i < 3 ? i : test_below(500));
    seeds[20] = seeds[4];
    FOR_METHODS_OF_LISTS(method)
        for (int f = 0; f < 6; f++)
            for (int keep = 0; keep < 16; keep += 5)
                for (int global = 0; global < 2; global++) {
                    ggnn_sampling how = {(ggnn_method)method, 3, {fanouts[f][0], fanouts[f][1], fanouts[f][2]}, global, keep, {0, 0, 0}, 0, {0}, {0}};
                    how.first_hop = f * keep * 3; /* up to 225: hops have their numbers, and a graph weights or none */
                    g->graph.whole.weight = f % 2 ? g->weight : NULL;
                    prepared p = prepare(&g->graph, &how, 40, kinds[f % 2]);
                    for (int again = 0; again < 2; again++) {
                        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 40), GGNN_OK);
                        check_batch(&p.batch, g, &how, seeds, 40);
                    }
                    finish(&p);
                    if (test_errors) {
                        printf("  method %d fanouts %d keep %d global %d\n", method, f, keep, global);
                        return;
                    }
                }
    random_graph_free(g);
}

TEST(every_instruction_set_draws_the_same_sample)
{
    random_graph* g = random_graph_new(500, 20, 1300);
    ggnn_node     seeds[100];
    for (int i = 0; i < 100; i++) seeds[i] = (ggnn_node)(i * 5);
    for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++)
        for (int32_t fanout = 1; fanout <= 33; fanout++) { /* 32: the greatest in lanes */
            ggnn_sampling how = {GGNN_FISHER_YATES, 2, {fanout, 2}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
            prepared      p = prepare(&g->graph, &how, 100, GGNN_UNIQUE_DIRECT);
            CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 100), GGNN_OK);
            check_batch(&p.batch, g, &how, seeds, 100);
            finish(&p);
        }
    ggnn_level = 3;
    random_graph_free(g);
}

/* ---- what a batch is: its bounds, its arrays, its errors */

/* The bounds of every size, worked out hop by hop. */
static void check_bounds(const ggnn_batch* b, const ggnn_sampling* how, int64_t nodes, int64_t edges, int64_t max_seeds)
{
    int64_t targets = max_seeds < nodes ? max_seeds : nodes;
    CHECK(b->num_nodes == nodes && b->num_edges == edges && b->num_seeds.max == max_seeds);
    for (int32_t h = 0; h < how->num_hops; h++) {
        int64_t all = edges, taken, sources;
        if (ggnn_method_has(how->method, GGNN_METHOD_WALKS)) all = targets * (how->walk.walks ? how->walk.walks * how->walk.length : 12);
        taken = how->fanout[h] < 0 ? all : targets * how->fanout[h];
        if (taken > all && !(ggnn_method_has(how->method, GGNN_METHOD_REPEATS) && how->fanout[h] >= 0)) taken = all; /* distinct targets have distinct edges */
        if (how->max_edges[h] && how->max_edges[h] < taken) taken = how->max_edges[h];
        sources = how->last_hop_global && h == how->num_hops - 1 ? targets : targets + taken < nodes ? targets + taken : nodes;
        if (how->max_src[h] && how->max_src[h] < sources) sources = how->max_src[h] < targets ? targets : how->max_src[h];
        CHECK_EQ(b->hop[h].num_dst.max, targets);
        CHECK_EQ(b->hop[h].num_edges.max, taken);
        CHECK_EQ(b->hop[h].num_src.max, sources);
        targets = sources;
    }
    CHECK_EQ(b->max_ids, targets);
}

TEST(bounds_are_worked_out_from_nodes_edges_fanouts_and_limits)
{
    const int64_t sizes[][2] = {{0, 0}, {5, 0}, {7, 40}, {1000, 12000}, {100000, 500}, {GGNN_NODE_MAX, 1000000}, {3, (int64_t)1 << 40}};
    const int32_t fanouts[] = {-1, 0, 1, 3, 10, 2000};
    const int64_t limits[] = {0, 0, 1, 5, 60, 100000, INT32_MAX};
    int           planned = 0;
    for (int round = 0; round < 4000; round++) {
        const int64_t* size = sizes[test_below(7)];
        const int64_t  seeds = test_below(6) ? test_below(300) : test_below(4) ? 5000 : INT32_MAX;
        ggnn_graph     g = ggnn_graph_plain(NULL, NULL, NULL, size[0], size[1]);
        ggnn_sampling  how;
        ggnn_batch     b;
        memset(&how, 0, sizeof how);
        how.method = (ggnn_method)test_below(GGNN_NUM_METHODS);
        how.num_hops = 1 + (int32_t)test_below(GGNN_HOPS_MAX);
        how.last_hop_global = test_below(3) == 0;
        if (test_below(2)) how.walk = (ggnn_walks){(int32_t)(1 + test_below(5)), (int32_t)(1 + test_below(5)), 0.5f};
        for (int h = 0; h < how.num_hops; h++) {
            how.fanout[h] = fanouts[test_below(6)];
            if (round % 3) how.max_edges[h] = limits[test_below(7)];
            if (round % 3) how.max_src[h] = limits[test_below(7)];
        }
        memset(&b, 0x5a, sizeof b);
        if (ggnn_batch_plan(&b, &g, &how, seeds, NULL) != GGNN_OK) {
            CHECK(b.fault.what && strstr(b.fault.what, "2^31"));
            continue;
        }
        planned++;
        CHECK(b.fault.what == NULL && b.fault.node == -1 && b.fault.edge == -1 && b.fault.hop == -1);
        CHECK(b.num_hops == 0 && b.shared == NULL);
        check_bounds(&b, &how, size[0], size[1], seeds);
        if (how.walk.walks == 0) how.walk = (ggnn_walks){4, 3, 0.5f};
        CHECK(memcmp(&b.how, &how, sizeof how) == 0);
        if (test_errors) return;
    }
    CHECK(planned > 2000);
}

/* Bounds of 2^31 - 1 are allowed, of 2^31 are not; hop numbers up to 255 are. */
TEST(the_greatest_bounds_and_hop_numbers_are_allowed)
{
    const int64_t huge = (int64_t)1 << 40;
    ggnn_graph    g = ggnn_graph_plain(NULL, NULL, NULL, 1000, INT32_MAX);
    ggnn_sampling how = {GGNN_FISHER_YATES, 1, {-1}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, INT32_MAX, NULL), GGNN_OK);
    CHECK_EQ(b.hop[0].num_edges.max, INT32_MAX);
    g.num_edges = huge;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    how.max_edges[0] = INT32_MAX;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_OK);
    how.max_edges[0]++;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    for (int32_t hops = 1; hops <= GGNN_HOPS_MAX; hops++)
        for (int32_t first = 240; first < 260; first++) {
            ggnn_sampling far = {GGNN_REJECTION, hops, {2, 2, 2, 2, 2, 2, 2, 2}, 0, 0, {-1, 0, 0}, first, {0}, {0}}; /* no walks: not looked at */
            g.num_edges = 30;
            CHECK_EQ(ggnn_batch_plan(&b, &g, &far, 3, NULL), first + hops <= 256 ? GGNN_OK : GGNN_ERROR_ARGUMENT);
        }
    how.max_edges[0] = 0;
    how.first_hop = -1;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK(b.fault.hop == -1 && strstr(b.fault.what, "hop number"));
    how.first_hop = 0;
    how.max_src[0] = -1;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK(b.fault.hop == 0 && strstr(b.fault.what, "negative"));
    how.max_src[0] = 0;
    g.num_edges = -1;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK(strstr(b.fault.what, "negative size"));
    g.num_edges = 30;
    g.num_nodes = -1;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK(strstr(b.fault.what, "negative size"));
    how.method = (ggnn_method)-1;
    g.num_nodes = 1000;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_ERROR_ARGUMENT);
    CHECK(strstr(b.fault.what, "method"));
    const int32_t fanout[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; /* too many: kept to be refused, not copied */
    how = ggnn_sampling_plain(GGNN_WEIGHTED, fanout, 10);
    CHECK(how.method == GGNN_WEIGHTED && how.num_hops == 10 && how.fanout[7] == 8 && how.last_hop_global == 0 && how.keep == 0 && how.first_hop == 0);
    CHECK(how.max_src[0] == 0 && how.max_edges[7] == 0 && how.walk.walks == 0);
}

/* The arrays of a hop, of which it has those that are asked for and no others: as those of a batch that has all. */
static void check_kept(const ggnn_batch* b, const ggnn_batch* all, int packed)
{
    for (int32_t h = 0; h < all->num_hops; h++) {
        const ggnn_block *hop = &b->hop[h], *full = &all->hop[h];
        const int         global = b->how.last_hop_global && h + 1 == all->num_hops, keep = b->how.keep;
        const int64_t     dst = *full->num_dst.n, edges = *full->num_edges.n;
        CHECK(*hop->num_dst.n == dst && *hop->num_edges.n == edges && *hop->num_src.n == (global ? dst : *full->num_src.n));
        CHECK(hop->indptr && memcmp(hop->indptr, full->indptr, (size_t)(dst + 1) * 8) == 0);
        CHECK_EQ(hop->indices != NULL, !global);
        CHECK_EQ(hop->neighbor != NULL, global || keep & GGNN_KEEP_NEIGHBORS || sizeof(ggnn_node) == 8);
        CHECK_EQ(hop->position != NULL, (keep & GGNN_KEEP_POSITIONS) != 0);
        CHECK_EQ(hop->weight != NULL, (keep & GGNN_KEEP_WEIGHTS) != 0);
        CHECK_EQ(hop->repeats != NULL, !global && keep & GGNN_KEEP_REPEATS);
        CHECK_EQ(b->back[h].indptr != NULL, !packed && !global && keep & GGNN_KEEP_TRANSPOSES);
        CHECK(hop->id == b->id && hop->edge == NULL && hop->bipartite == 0);
        if (edges) {
            CHECK(same(hop->indices, full->indices, edges, 4) && same(hop->neighbor, full->neighbor, edges, sizeof(ggnn_node)));
            CHECK(same(hop->position, full->position, edges, 8) && same(hop->weight, full->weight, edges, 4));
        }
        CHECK(same(hop->repeats, full->repeats, *full->num_src.n, 4));
        if (packed) CHECK(hop->num_dst.max == dst && hop->num_src.max == *hop->num_src.n && hop->num_edges.max == edges);
    }
    CHECK(memcmp(b->id, all->id, (size_t)*b->hop[all->num_hops - 1].num_src.n * sizeof *b->id) == 0);
    CHECK(*b->num_seeds.n == *all->num_seeds.n && same(b->seed_local, all->seed_local, *all->num_seeds.n, 4));
}

/* Every combination of what is kept, of 1 and of 8 hops, in the batch and in its packed bytes. Edges are those of the graph, which
   has weights or none. */
TEST(a_batch_has_the_arrays_that_it_keeps_and_no_others)
{
    random_graph* g = random_graph_new(200, 3, 30);
    ggnn_node     seeds[9];
    for (int i = 0; i < 9; i++) seeds[i] = (ggnn_node)(i * 21 % 100);
    seeds[5] = seeds[2];
    FOR_METHODS(method)
        for (int round = 0; round < 4; round++) {
            ggnn_sampling how = {(ggnn_method)method, round % 2 ? 8 : 1, {3, 2, -1, 2, 1, 2, 2, 3}, 0, 31, {4, 3, .5f}, 0, {0}, {0}};
            ggnn_graph    graph = g->graph;
            ggnn_batch    all, b, u;
            if (round / 2) graph.whole.weight = NULL;
            CHECK_EQ(ggnn_batch_new(&all, &graph, &how, 9), GGNN_OK);
            CHECK_EQ(ggnn_sample(&all, &graph, &rng, seeds, 9), GGNN_OK);
            CHECK_EQ(all.num_hops, how.num_hops);
            for (int32_t h = 0; h < how.num_hops; h++) {
                const ggnn_block* hop = &all.hop[h];
                CHECK(h == 0 || *hop->num_dst.n == *all.hop[h - 1].num_src.n);
                for (int64_t v = 0; v < *hop->num_dst.n; v++)
                    for (int64_t e = hop->indptr[v]; e < hop->indptr[v + 1]; e++) {
                        const int64_t p = hop->position[e];
                        CHECK_EQ(hop->neighbor[e], all.id[hop->indices[e]]);
                        if (method_has(method, GGNN_METHOD_WALKS)) {
                            CHECK(p == -1 && hop->weight[e] >= 1);
                            continue;
                        }
                        CHECK(p >= g->indptr[all.id[v]] && p < g->indptr[all.id[v] + 1] && g->indices[p] == hop->neighbor[e]);
                        CHECK(hop->weight[e] == (round / 2 ? 1.0f : g->weight[p]));
                    }
            }
            for (int keep = 0; keep < 32; keep++)
                for (int global = 0; global < 2; global++) {
                    how.keep = keep, how.last_hop_global = global;
                    CHECK_EQ(ggnn_batch_new(&b, &graph, &how, 9), GGNN_OK);
                    CHECK_EQ(ggnn_sample(&b, &graph, &rng, seeds, 9), GGNN_OK);
                    check_kept(&b, &all, 0);
                    const size_t bytes = ggnn_batch_packed_bytes(&b);
                    void*        memory = malloc(bytes);
                    CHECK_EQ(ggnn_batch_pack(memory, &b), GGNN_OK);
                    memset(&u, 0x5a, sizeof u);
                    CHECK_EQ(ggnn_batch_unpack(&u, memory, bytes), GGNN_OK);
                    check_kept(&u, &all, 1);
                    CHECK_EQ(ggnn_batch_validate(&u, NULL), GGNN_OK);
                    b.how.keep &= ~GGNN_KEEP_TRANSPOSES;
                    CHECK(memcmp(&u.how, &b.how, sizeof u.how) == 0);
                    CHECK(u.num_nodes == g->num_nodes && u.num_edges == g->num_edges && u.bytes == bytes && u.num_hops == b.num_hops);
                    CHECK(u.num_seeds.max == 9 && u.max_ids == *b.hop[b.num_hops - 1].num_src.n && !u.seen && !u.shared && !u.fault.what);
                    free(memory);
                    ggnn_batch_free(&b);
                    if (test_errors) printf("  method %d round %d keep %d global %d\n", method, round, keep, global);
                    if (test_errors) return;
                }
            ggnn_batch_free(&all);
        }
    random_graph_free(g);
}

/* What an error leaves: an empty batch, of every hop, and its name. */
static void check_empty(const ggnn_batch* b, ggnn_status status, int64_t node, int32_t hop)
{
    CHECK_STR(b->fault.what ? b->fault.what : "", ggnn_status_string(status));
    CHECK_EQ(b->fault.node, node);
    CHECK_EQ(b->fault.edge, -1);
    CHECK_EQ(b->fault.hop, hop);
    CHECK(b->num_hops == 0 && *b->num_seeds.n == 0);
    for (int32_t h = 0; h < b->how.num_hops; h++) {
        const ggnn_block *it = &b->hop[h], *back = &b->back[h];
        CHECK(*it->num_dst.n == 0 && *it->num_src.n == 0 && *it->num_edges.n == 0 && it->indptr[0] == 0);
        CHECK(*back->num_dst.n == 0 && *back->num_src.n == 0 && *back->num_edges.n == 0 && back->indptr[0] == 0);
    }
}

/* 0 <- 1 <- 2 <- 3 <- 4 <- 4: hop h meets the list of node h first, and its targets are nodes 0 to h. */
TEST(an_error_at_any_hop_names_it_and_leaves_an_empty_batch)
{
    enum { ID, NEGATIVE, ENDS_LATE, DECREASES, WEIGHT, EDGES, SOURCES, ERRORS };
    static const ggnn_status gives[] = {GGNN_ERROR_ID, GGNN_ERROR_ID, GGNN_ERROR_ID, GGNN_ERROR_ID, GGNN_ERROR_WEIGHT, GGNN_ERROR_CAPACITY, GGNN_ERROR_CAPACITY};
    for (int32_t h = 0; h < 4; h++)
        for (int error = 0; error < ERRORS; error++)
            FOR_METHODS(method) { /* a walk of one step: the neighbour */
                int64_t       indptr[] = {0, 1, 2, 3, 4, 5};
                ggnn_node     indices[] = {1, 2, 3, 4, 4}, seeds[] = {0, 5};
                float         weight[] = {1, 1, 1, 1, 1};
                ggnn_graph    g = ggnn_graph_plain(indptr, indices, weight, 5, 5);
                ggnn_sampling how = {(ggnn_method)method, 4, {-1, 1, 1, 1}, 0, 31, {1, 1, 0.5f}, 0, {0}, {0}};
                ggnn_batch    b;
                if (error == WEIGHT && !method_has(method, GGNN_METHOD_WEIGHS)) continue;
                if (error == EDGES && h == 0) continue; /* 0: no limit */
                if (error == EDGES) how.max_edges[h] = h;
                for (int32_t i = 0; i <= h && error == SOURCES; i++) how.max_src[i] = i + 1 + (i < h);
                CHECK_EQ(ggnn_batch_new(&b, &g, &how, 1), GGNN_OK);
                if (error == ID) indices[h] = 5;
                if (error == NEGATIVE) indices[h] = -1;
                if (error == ENDS_LATE) indptr[h + 1] = 6;
                if (error == DECREASES) indptr[h + 1] = indptr[h] - 1;
                if (error == WEIGHT) weight[h] = -1;
                CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 1), gives[error]);
                check_empty(&b, gives[error], h, h);
                indptr[h + 1] = h + 1, indices[h] = (ggnn_node)(h + 1), weight[h] = 1; /* and is well again, as far as it is allowed */
                CHECK_EQ(ggnn_batch_begin(&b, seeds, 1), GGNN_OK);
                CHECK(*b.num_seeds.n == 1 && *b.hop[0].num_dst.n == 1 && b.num_hops == 0);
                for (int32_t i = 0; i < 4 && (error < EDGES || i < h); i++) {
                    CHECK_EQ(ggnn_sample_hop(&b, &g, &rng), GGNN_OK);
                    CHECK(b.num_hops == i + 1 && *b.hop[i].num_dst.n == i + 1 && *b.hop[i].num_edges.n == i + 1 && *b.hop[i].num_src.n == i + 2);
                    CHECK(b.id[i + 1] == i + 1 && *b.back[i].num_dst.n == i + 2);
                }
                if (error < EDGES) {
                    CHECK_EQ(ggnn_sample_hop(&b, &g, &rng), GGNN_ERROR_ARGUMENT); /* there is no fifth hop */
                    check_empty(&b, GGNN_ERROR_ARGUMENT, -1, 4);
                }
                CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds + 1, 1), GGNN_ERROR_ID);
                check_empty(&b, GGNN_ERROR_ID, 5, -1);
                CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 2), GGNN_ERROR_CAPACITY);
                check_empty(&b, GGNN_ERROR_CAPACITY, -1, -1);
                CHECK_EQ(ggnn_sample_hop(&b, &g, &rng), GGNN_OK); /* of nothing */
                CHECK(b.num_hops == 1 && *b.hop[0].num_edges.n == 0);
                ggnn_batch_free(&b);
                if (test_errors) printf("  hop %d, error %d, method %d\n", (int)h, error, method);
                if (test_errors) return;
            }
}

/* More seeds than there are nodes, each many times; two batches that use one table in turn. */
TEST(seeds_may_be_more_than_nodes_and_a_table_serves_two_batches)
{
    enum { SEEDS = 1000 };
    random_graph* g = random_graph_new(5, 2, 4);
    ggnn_sampling how = {GGNN_FISHER_YATES, 3, {2, -1, 2}, 0, 15, {0, 0, 0}, 0, {0}, {0}};
    ggnn_node     seeds[2][SEEDS];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < SEEDS; j++) seeds[i][j] = (ggnn_node)(i ? 4 - test_below(3) : test_below(5));
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], 5, 5);
        ggnn_batch   b[2];
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(ggnn_batch_plan(&b[i], &g->graph, &how, SEEDS, seen), GGNN_OK);
            CHECK(b[i].num_seeds.max == SEEDS && b[i].hop[0].num_dst.max == 5);
            CHECK_EQ(ggnn_batch_init(&b[i], malloc(b[i].bytes)), GGNN_OK);
            CHECK(b[i].seen == seen && b[i].shared == seen);
        }
        for (int again = 0; again < 3; again++) {
            for (int i = 0; i < 2; i++) CHECK_EQ(ggnn_sample(&b[i], &g->graph, &rng, seeds[i], SEEDS), GGNN_OK);
            for (int i = 0; i < 2; i++) check_batch(&b[i], g, &how, seeds[i], SEEDS);
        }
        for (int i = 0; i < 2; i++) free(b[i].workspace);
        free(seen);
    }
    random_graph_free(g);
}

/* With a table of its own - of either kind, by the graph's size - and with a shared one, falling fanouts and rising ones: all that a
   batch writes lies in its bytes. */
TEST(a_batch_stays_in_its_bytes)
{
    enum { LISTS = 40, DEGREE = 700, GUARD = 1 << 14 };
    static ggnn_node indices[LISTS * DEGREE];
    static float     weight[LISTS * DEGREE];
    const int32_t    fanouts[][2] = {{500, 1}, {1, 500}, {40, 3}, {-1, 2}, {1100, 1}};
    for (int64_t nodes = 1000; nodes < 6000000; nodes *= 5000) { /* a direct map; a hash table */
        int64_t*  indptr = (int64_t*)calloc((size_t)nodes + 1, sizeof *indptr); /* most of it is never touched */
        ggnn_node seeds[LISTS];
        for (int64_t v = 0; v <= LISTS; v++) indptr[v] = v * DEGREE;
        for (int e = 0; e < LISTS * DEGREE; e++) indices[e] = (ggnn_node)(e * 7 % LISTS), weight[e] = (float)(1 + e % 5);
        for (int i = 0; i < LISTS; i++) seeds[i] = (ggnn_node)(LISTS - 1 - i);
        ggnn_graph g = ggnn_graph_plain(indptr, indices, weight, nodes, LISTS * DEGREE);
        FOR_METHODS(method)
            for (int i = 0; i < 10; i++) {
                ggnn_sampling how = {(ggnn_method)method, 2, {fanouts[i / 2][0], fanouts[i / 2][1]}, 0, i % 3 ? 31 : 0, {20, 8, .5f}, 0, {0}, {0}};
                ggnn_batch    b;
                CHECK_EQ(ggnn_batch_plan(&b, &g, &how, LISTS, NULL), GGNN_OK);
                ggnn_unique* seen = i % 2 ? unique_new(GGNN_UNIQUE_HASH, nodes, b.max_ids) : NULL;
                CHECK_EQ(ggnn_batch_plan(&b, &g, &how, LISTS, seen), GGNN_OK);
                char* memory = (char*)malloc(b.bytes + GUARD);
                int   kept = 1;
                memset(memory + b.bytes, 0x5a, GUARD);
                CHECK_EQ(ggnn_batch_init(&b, memory), GGNN_OK);
                if (!seen) CHECK_EQ(b.seen->kind, nodes > 4194304 ? GGNN_UNIQUE_HASH : GGNN_UNIQUE_DIRECT);
                CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, LISTS), GGNN_OK);
                CHECK_EQ(*b.hop[1].num_src.n, LISTS);
                for (int v = 0; v < LISTS; v++) CHECK(b.id[v] == seeds[v] && ggnn_unique_find(b.seen, seeds[v]) == v);
                CHECK_EQ(ggnn_batch_validate(&b, NULL), GGNN_OK);
                for (int j = 0; j < GUARD; j++) kept &= memory[b.bytes + (size_t)j] == 0x5a;
                if (!CHECK(kept)) printf("  %d nodes, method %d, case %d\n", (int)nodes, method, i);
                free(memory);
                free(seen);
            }
        free(indptr);
    }
}

/* A part that claims more edges than the graph has: a list of it may be too long for the batch. */
TEST(a_list_longer_than_the_graph_is_an_error)
{
    const int64_t   indptr[] = {0, 9, 9};
    const ggnn_node indices[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    ggnn_csc        part[3] = {{indptr, NULL, indices, NULL, 9}, {indptr, NULL, indices, NULL, 9}, {NULL, NULL, NULL, NULL, 0}};
    ggnn_graph      g = {2, 8, {0}, part, {NULL, 0, NULL, NULL, 2, 1}, NULL};
    ggnn_node       seed = 0;
    for (int32_t fanout = -1; fanout < 12; fanout += 3) {
        ggnn_sampling how = {GGNN_RESERVOIR, 1, {fanout}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
        ggnn_batch    b;
        CHECK_EQ(ggnn_batch_new(&b, &g, &how, 1), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), GGNN_ERROR_ID);
        CHECK_EQ(b.fault.node, 0);
        ggnn_batch_free(&b);
    }
}

/* Every node of a complete graph with loops: the list of ids is full, and more edges lead to what is in it. */
TEST(a_table_may_be_roomier_than_its_batch)
{
    enum { N = 16 };
    int64_t       indptr[N + 1];
    ggnn_node     indices[N * N], seed = 5;
    ggnn_graph    g = ggnn_graph_plain(indptr, indices, NULL, N, N * N);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {-1, -1}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    for (int64_t i = 0; i <= N; i++) indptr[i] = i * N;
    for (int i = 0; i < N * N; i++) indices[i] = (ggnn_node)(i % N);
    for (int k = 0; k < 2; k++) {
        ggnn_unique* seen = unique_new(kinds[k], N, 1000);
        ggnn_batch   b;
        void*        memory = (CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, seen), GGNN_OK), malloc(b.bytes));
        CHECK_EQ(ggnn_batch_init(&b, memory), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), GGNN_OK);
        CHECK_EQ(*b.hop[1].num_src.n, N);
        CHECK_EQ(b.seed_local[0], 0);
        CHECK_EQ(b.id[0], 5);
        free(memory);
        free(seen);
    }
}

TEST(a_batch_of_no_seeds_or_isolated_seeds_is_empty)
{
    random_graph* g = random_graph_new(50, 3, 10);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {3, 3}, 0, 15, {0, 0, 0}, 0, {0}, {0}};
    prepared      p = prepare(&g->graph, &how, 4, GGNN_UNIQUE_HASH);
    ggnn_node     isolated[] = {1, 1, 1};
    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, NULL, 0), GGNN_OK);
    CHECK_EQ(*p.batch.hop[1].num_src.n, 0);
    CHECK_EQ(*p.batch.hop[1].num_edges.n, 0);
    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, isolated, 3), GGNN_OK);
    CHECK_EQ(*p.batch.hop[1].num_src.n, 1);
    CHECK_EQ(*p.batch.hop[1].num_edges.n, 0);
    CHECK_EQ(p.batch.hop[1].repeats[0], 0);
    CHECK_EQ(*p.batch.num_seeds.n, 3);
    finish(&p);
    random_graph_free(g);
}

TEST(a_graph_of_no_nodes_gives_an_empty_batch)
{
    const int64_t indptr[] = {0};
    ggnn_graph    g = ggnn_graph_plain(indptr, NULL, NULL, 0, 0);
    ggnn_sampling how = {GGNN_FISHER_YATES, 1, {3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    prepared      p = prepare(&g, &how, 4, GGNN_UNIQUE_DIRECT);
    CHECK_EQ(ggnn_sample(&p.batch, &g, &rng, NULL, 0), GGNN_OK);
    CHECK_EQ(ggnn_graph_validate(&g, NULL), GGNN_OK);
    finish(&p);
}

static int64_t node_with_neighbours(const random_graph* g, int64_t v) /* v, or the first after it */
{
    while (g->indptr[v] == g->indptr[v + 1]) v++;
    return v;
}

TEST(bad_input_is_an_error_that_names_the_node)
{
    random_graph* g = random_graph_new(200, 4, 30);
    ggnn_node     seeds[200];
    for (int i = 0; i < 200; i++) seeds[i] = (ggnn_node)i;
    for (int global = 0; global < 2; global++) {
        ggnn_sampling how = {GGNN_FISHER_YATES, 1, {-1}, global, 0, {0, 0, 0}, 0, {0}, {0}};
        prepared      p = prepare(&g->graph, &how, 200, GGNN_UNIQUE_DIRECT);
        int64_t       kept = g->indptr[77], node = node_with_neighbours(g, 120), edge = g->indptr[node];
        ggnn_node     id = g->indices[edge];
        g->indptr[77] = -5;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_ID);
        CHECK_EQ(p.batch.fault.node, 76);
        CHECK_EQ(*p.batch.hop[0].num_edges.n, 0);
        g->indptr[77] = g->num_edges + 1;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_ID);
        g->indptr[77] = kept;
        g->indices[edge] = 200;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_ID);
        CHECK_EQ(p.batch.fault.node, node);
        g->indices[edge] = -1;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_ID);
        g->indices[edge] = id;
        seeds[9] = 200;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_ID);
        CHECK_EQ(p.batch.fault.node, 200);
        seeds[9] = 9;
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 201), GGNN_ERROR_CAPACITY);
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_OK); /* and is well again */
        finish(&p);
    }
    int64_t node = node_with_neighbours(g, 50);
    g->weight[g->indptr[node]] = -1.0f;
    ggnn_sampling weighted = {GGNN_WEIGHTED, 1, {2}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    prepared      p = prepare(&g->graph, &weighted, 200, GGNN_UNIQUE_DIRECT);
    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 200), GGNN_ERROR_WEIGHT);
    CHECK_EQ(p.batch.fault.node, node);
    finish(&p);
    random_graph_free(g);
}

/* There is room for E edges, as distinct targets have lists of their own; these two have the same one. */
TEST(lists_that_overlap_are_an_error)
{
    enum { EDGES = 1000 };
    const int64_t indptr[] = {0, EDGES, 0, EDGES};
    ggnn_node     indices[EDGES], seeds[] = {0, 2};
    ggnn_graph    g = ggnn_graph_plain(indptr, indices, NULL, 3, EDGES);
    for (int e = 0; e < EDGES; e++) indices[e] = e % 3;
    FOR_METHODS_OF_LISTS(method)
        for (int32_t fanout = -1; fanout < EDGES; fanout += 700) {
            ggnn_sampling how = {(ggnn_method)method, 1, {fanout}, 0, GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS, {0, 0, 0}, 0, {0}, {0}};
            prepared      p = prepare(&g, &how, 2, GGNN_UNIQUE_DIRECT);
            CHECK_EQ(ggnn_sample(&p.batch, &g, &rng, seeds, 1), GGNN_OK);
            CHECK_EQ(ggnn_sample(&p.batch, &g, &rng, seeds, 2),
                     method_has(method, GGNN_METHOD_REPEATS) && fanout > 0 ? GGNN_OK : GGNN_ERROR_CAPACITY);
            if (!method_has(method, GGNN_METHOD_REPEATS)) CHECK_EQ(p.batch.fault.node, 2);
            finish(&p);
        }
    CHECK_EQ(ggnn_graph_validate(&g, NULL), GGNN_ERROR_ID);
}

/* Plans a batch that cannot be, and returns what the fault says. */
static const char* refused(const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds, int32_t hop)
{
    ggnn_batch b;
    CHECK_EQ(ggnn_batch_plan(&b, g, how, max_seeds, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(b.bytes, 0);
    CHECK_EQ(ggnn_batch_init(&b, &b), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(b.fault.hop, hop);
    CHECK_EQ(b.fault.node, -1);
    return b.fault.what ? b.fault.what : "";
}

TEST(a_batch_that_cannot_be_is_refused_and_the_fault_says_why)
{
    random_graph* g = random_graph_new(50, 3, 10);
    ggnn_graph    huge = ggnn_graph_plain(NULL, NULL, NULL, 50, (int64_t)1 << 40);
    ggnn_sampling how = {GGNN_FISHER_YATES, 0, {3, 3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b;
    CHECK(strstr(refused(&g->graph, &how, 4, -1), "num_hops"));
    how.num_hops = 9;
    CHECK(strstr(refused(&g->graph, &how, 4, -1), "num_hops"));
    how.num_hops = 1;
    CHECK(strstr(refused(&g->graph, &how, -1, -1), "max_seeds"));
    CHECK(strstr(refused(&g->graph, &how, (int64_t)1 << 31, -1), "max_seeds"));
    CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, NULL), GGNN_OK);
    CHECK(b.fault.what == NULL);
    CHECK_EQ(ggnn_batch_init(&b, NULL), GGNN_ERROR_ARGUMENT);
    how.first_hop = 256;
    CHECK(strstr(refused(&g->graph, &how, 4, -1), "hop number"));
    how.first_hop = 0;
    how.max_edges[0] = -1;
    CHECK(strstr(refused(&g->graph, &how, 4, 0), "negative"));
    how.max_edges[0] = 0;
    how.num_hops = 2;
    how.fanout[1] = -1;
    CHECK(strstr(refused(&huge, &how, 4, 1), "2^31 edges"));
    how.method = GGNN_REPLACEMENT;
    how.fanout[0] = INT32_MAX;
    CHECK(strstr(refused(&g->graph, &how, 4, 0), "2^31 edges"));
    huge.num_nodes = (int64_t)1 << 40;
    how.fanout[0] = 2;
    how.max_edges[1] = INT32_MAX;
    CHECK(strstr(refused(&huge, &how, 4, 1), "2^31 sources"));
    how.max_edges[1] = 1000;
    how.method = (ggnn_method)99;
    CHECK(strstr(refused(&g->graph, &how, 4, -1), "method"));
    how.method = GGNN_WALK;
    how.walk.walks = -1;
    CHECK(strstr(refused(&g->graph, &how, 4, -1), "walks"));
    random_graph_free(g);
}

TEST(a_shared_table_must_be_for_the_graph_and_large_enough)
{
    random_graph* g = random_graph_new(50, 3, 10);
    ggnn_sampling how = {GGNN_FISHER_YATES, 1, {3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b;
    for (int k = 0; k < 2; k++) {
        ggnn_unique *few = unique_new(kinds[k], 50, 15), *other = unique_new(kinds[k], 51, 51), *enough = unique_new(kinds[k], 50, 16);
        CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, few), GGNN_ERROR_ARGUMENT);
        CHECK(b.fault.what && strstr(b.fault.what, "table"));
        CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, other), GGNN_ERROR_ARGUMENT);
        CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, enough), GGNN_OK);
        free(few);
        free(other);
        free(enough);
    }
    random_graph_free(g);
}

/* A batch has its own copy of `how`, and refuses another graph than it was planned for. */
TEST(a_batch_keeps_how_it_is_sampled_and_for_which_graph)
{
    random_graph* g = random_graph_new(100, 5, 30);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {4, 3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    prepared      p = prepare(&g->graph, &how, 10, GGNN_UNIQUE_HASH);
    ggnn_graph    other = g->graph;
    ggnn_node     seeds[10];
    ggnn_sampling meant = how;
    for (int i = 0; i < 10; i++) seeds[i] = (ggnn_node)i;
    how.keep = 15; /* the caller's own is free again */
    how.fanout[0] = -1;
    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 10), GGNN_OK);
    check_batch(&p.batch, g, &meant, seeds, 10);
    other.num_edges--;
    CHECK_EQ(ggnn_sample(&p.batch, &other, &rng, seeds, 10), GGNN_ERROR_ARGUMENT);
    other = g->graph;
    other.num_nodes--;
    CHECK_EQ(ggnn_sample(&p.batch, &other, &rng, seeds, 10), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(*p.batch.hop[0].num_edges.n, 0);
    CHECK_EQ(ggnn_sample_hop(&p.batch, &g->graph, &rng), GGNN_OK);
    finish(&p);
    random_graph_free(g);
}

/* From CSC arrays to a batch: graph, plan, init; the table is the batch's own. */
TEST(three_calls_set_a_batch_up)
{
    random_graph* like = random_graph_new(500, 6, 300);
    const int32_t fanout[] = {5, 3};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_REJECTION, fanout, 2);
    ggnn_graph    g = ggnn_graph_plain(like->indptr, like->indices, like->weight, like->num_nodes, like->num_edges);
    ggnn_batch    b;
    ggnn_node     seeds[20];
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 20, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    for (int again = 0; again < 3; again++) {
        for (int i = 0; i < 20; i++) seeds[i] = (ggnn_node)test_below(500);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 20), GGNN_OK);
        check_batch(&b, like, &how, seeds, 20);
    }
    free(b.workspace);
    random_graph_free(like);
}

/* Whatever lay in its memory before. */
TEST(a_batch_is_empty_once_it_is_laid_out)
{
    random_graph* g = random_graph_new(60, 4, 20);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {3, 2}, 0, GGNN_KEEP_ALL, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b, packed;
    CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, NULL), GGNN_OK);
    void* memory = malloc(b.bytes);
    memset(memory, 0x5a, b.bytes);
    CHECK_EQ(ggnn_batch_init(&b, memory), GGNN_OK);
    CHECK(*b.num_seeds.n == 0 && b.num_hops == 0);
    for (int h = 0; h < 2; h++) {
        const ggnn_block* of[] = {&b.hop[h], &b.back[h]};
        for (int i = 0; i < 2; i++) {
            CHECK(*of[i]->num_dst.n == 0 && *of[i]->num_src.n == 0 && *of[i]->num_edges.n == 0);
            CHECK_EQ(ggnn_block_validate(of[i], 60, NULL), GGNN_OK);
        }
    }
    const size_t bytes = ggnn_batch_packed_bytes(&b);
    void*        copy = malloc(bytes);
    CHECK(bytes > 0 && bytes < b.bytes && ggnn_batch_pack(copy, &b) == GGNN_OK);
    CHECK(ggnn_batch_unpack(&packed, copy, bytes) == GGNN_OK && packed.num_hops == 0 && *packed.num_seeds.n == 0);
    free(copy);
    free(memory);
    random_graph_free(g);
}

/* Each hop's transpose, again and again in the same memory; none of a global hop, of packed bytes, or after an error. */
TEST(a_batch_keeps_transposes_on_request)
{
    random_graph* g = random_graph_new(300, 5, 60);
    ggnn_sampling how = {GGNN_FISHER_YATES, 3, {4, 3, 2}, 1, GGNN_KEEP_TRANSPOSES | GGNN_KEEP_REPEATS, {0, 0, 0}, 0, {0}, {0}};
    ggnn_node     seeds[20];
    for (int global = 0; global < 2; global++) {
        ggnn_batch b, u;
        how.last_hop_global = global;
        CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 20), GGNN_OK);
        for (int round = 0; round < 3; round++) {
            for (int i = 0; i < 20; i++) seeds[i] = (ggnn_node)test_below(300);
            CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 5 + 7 * round), GGNN_OK);
            for (int32_t h = 0; h < 3; h++) {
                const ggnn_block *hop = &b.hop[h], *back = &b.back[h];
                if (global && h == 2) {
                    CHECK(back->indptr == NULL);
                    continue;
                }
                void*      memory = malloc(ggnn_block_transpose_bytes(*hop->num_dst.n, *hop->num_src.n, *hop->num_edges.n));
                ggnn_block want;
                ggnn_block_transpose_init(&want, *hop->num_dst.n, *hop->num_src.n, *hop->num_edges.n, memory);
                ggnn_ref_block_transpose(&want, hop);
                CHECK(*back->num_dst.n == *want.num_dst.n && *back->num_src.n == *want.num_src.n && *back->num_edges.n == *want.num_edges.n);
                CHECK(same(back->indptr, want.indptr, *want.num_dst.n + 1, sizeof *want.indptr));
                CHECK(same(back->indices, want.indices, *want.num_edges.n, sizeof *want.indices));
                CHECK(same(back->edge, want.edge, *want.num_edges.n, sizeof *want.edge));
                CHECK(back->id == b.id);
                free(memory);
            }
        }
        how.keep = GGNN_KEEP_REPEATS; /* packed, it is the batch without them, byte for byte */
        ggnn_batch plain;
        CHECK_EQ(ggnn_batch_new(&plain, &g->graph, &how, 20), GGNN_OK);
        CHECK_EQ(ggnn_sample(&plain, &g->graph, &rng, seeds, 19), GGNN_OK);
        const size_t bytes = ggnn_batch_packed_bytes(&b);
        CHECK_EQ(bytes, ggnn_batch_packed_bytes(&plain));
        void *one = malloc(bytes), *other = malloc(bytes);
        ggnn_batch_pack(one, &b);
        ggnn_batch_pack(other, &plain);
        CHECK(memcmp(one, other, bytes) == 0);
        CHECK_EQ(ggnn_batch_unpack(&u, one, bytes), GGNN_OK);
        CHECK(u.back[0].indptr == NULL);
        seeds[0] = 300;
        CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 1), GGNN_ERROR_ID);
        CHECK_EQ(b.fault.node, 300);
        CHECK_EQ(b.fault.hop, -1);
        CHECK(b.fault.what != NULL);
        CHECK(*b.back[0].num_dst.n == 0 && *b.back[0].num_edges.n == 0);
        free(one);
        free(other);
        ggnn_batch_free(&plain);
        ggnn_batch_free(&b);
        how.keep |= GGNN_KEEP_TRANSPOSES;
    }
    random_graph_free(g);
}

TEST(a_batch_in_memory_of_its_own_is_given_back)
{
    random_graph* g = random_graph_new(50, 3, 10);
    ggnn_sampling how = {GGNN_FISHER_YATES, 1, {3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b;
    ggnn_node     seeds[] = {1, 2};
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 2), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 2), GGNN_OK);
    ggnn_batch_free(&b);
    CHECK(b.workspace == NULL && b.bytes == 0);
    ggnn_batch_free(&b); /* again */
    ggnn_batch_free(NULL);
    how.num_hops = 0;
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 2), GGNN_ERROR_ARGUMENT);
    CHECK(b.fault.what && strstr(b.fault.what, "num_hops"));
    ggnn_batch_free(&b);
    how.num_hops = 1;
    for (int bit = 5; bit < 32; bit++) {
        how.keep = (int32_t)((uint32_t)1 << bit);
        CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 2), GGNN_ERROR_ARGUMENT);
        CHECK(b.fault.what && strstr(b.fault.what, "keep"));
    }
    random_graph_free(g);
}

/* A packed batch is moved, and is the same batch; damaged headers and missing bytes are refused. */
TEST(a_packed_batch_is_the_same_batch_elsewhere)
{
    random_graph* g = random_graph_new(300, 6, 100);
    ggnn_node     seeds[20];
    for (int i = 0; i < 20; i++) seeds[i] = (ggnn_node)(i % 2 ? 7 : i * 3);
    for (int keep = 0; keep < 16; keep += 5)
        for (int global = 0; global < 2; global++)
            for (int64_t n = 0; n <= 20; n += 20) {
                ggnn_sampling how = {GGNN_FISHER_YATES, 2, {5, 3}, global, keep, {0, 0, 0}, 0, {0}, {0}};
                prepared      p = prepare(&g->graph, &how, 20, GGNN_UNIQUE_HASH);
                ggnn_batch    b;
                CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, n), GGNN_OK);
                size_t bytes = ggnn_batch_packed_bytes(&p.batch);
                char * packed = malloc(bytes), *moved = malloc(bytes);
                CHECK(bytes < p.batch.bytes);
                memset(moved, 0xa5, bytes);
                ggnn_batch_pack(moved, &p.batch);
                memset(packed, 0x5a, bytes);
                ggnn_batch_pack(packed, &p.batch);
                CHECK(memcmp(packed, moved, bytes) == 0); /* nothing is left of what was there */
                memcpy(moved, packed, bytes);
                memset(packed, 0x5a, bytes);
                finish(&p);
                CHECK_EQ(ggnn_batch_unpack(&b, moved, bytes), GGNN_OK);
                check_batch(&b, g, &how, seeds, n);
                for (int h = 0; h < 2; h++) CHECK(b.hop[h].id == b.id && b.hop[h].num_edges.max == *b.hop[h].num_edges.n);
                CHECK_EQ(ggnn_batch_unpack(&b, moved, bytes - 1), GGNN_ERROR_BLOCK);
                CHECK_EQ(ggnn_batch_unpack(&b, moved, 8), GGNN_ERROR_BLOCK);
                for (size_t at = 0; at < 16; at++) { /* what says that it was packed, and how many bytes */
                    moved[at] ^= 1;
                    CHECK_EQ(ggnn_batch_unpack(&b, moved, bytes), GGNN_ERROR_BLOCK);
                    moved[at] ^= 1;
                }
                uint64_t mark; /* says the width of ids, too: a few of one width may take as many bytes as of the other */
                memcpy(&mark, moved, sizeof mark);
                CHECK_EQ(mark, UINT64_C(0x6767706163006600) + sizeof(ggnn_node));
                mark ^= 4 ^ 8;
                memcpy(moved, &mark, sizeof mark);
                CHECK_EQ(ggnn_batch_unpack(&b, moved, bytes), GGNN_ERROR_BLOCK);
                free(packed);
                free(moved);
            }
    random_graph_free(g);
}

/* Headers whose arrays would take as many bytes as there are, by numbers that are below 0, fall, or overflow. */
TEST(packed_bytes_of_impossible_sizes_are_refused)
{
    random_graph* g = random_graph_new(50, 3, 10);
    const int64_t wrap = (int64_t)1 << 62; /* times 4 bytes, or 8, it is 0 */
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {5, 3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b, u;
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 4), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, NULL, 0), GGNN_OK);
    const size_t  bytes = ggnn_batch_packed_bytes(&b), head = (sizeof(ggnni_packed) + 63) / 64 * 64;
    ggnni_packed* packed = (ggnni_packed*)calloc(1, bytes + 1024);
    ggnni_packed  good;
    CHECK_EQ(bytes, head + 2 * 64); /* the head, and an indptr of one number per hop */
    CHECK_EQ(ggnn_batch_pack(packed, &b), GGNN_OK);
    good = *packed;
    for (int i = 0; i < 14; i++) {
        *packed = good;
        if (i == 1) packed->num_hops = -1, packed->bytes = head;
        if (i == 2) packed->num_hops = 9, packed->bytes = head + 9 * 64;
        if (i == 3) packed->seeds = -1;
        if (i == 4) packed->seeds = wrap;
        if (i == 5) packed->edges[0] = -1;
        if (i == 6) packed->edges[1] = wrap;
        if (i == 7) packed->length[2] = -1;
        if (i == 8) packed->length[2] = wrap;
        if (i == 9) packed->length[0] = -1, packed->bytes = head + 64;
        if (i == 10) packed->length[0] = packed->length[1] = packed->length[2] = wrap;
        if (i == 11) packed->num_hops = 0, packed->bytes = head, packed->length[0] = wrap;
        if (i == 12) packed->num_hops = 0, packed->bytes = head, packed->length[0] = -1;
        if (i == 13) packed->num_hops = 0, packed->bytes = head; /* begun only: can be */
        CHECK_EQ(ggnn_batch_unpack(&u, packed, (size_t)packed->bytes), i == 0 || i == 13 ? GGNN_OK : GGNN_ERROR_BLOCK);
        if (i > 0 && i < 13) CHECK(u.id == NULL && u.num_seeds.n == NULL);
        if (test_errors) printf("  case %d\n", i);
        if (test_errors) break;
    }
    free(packed);
    ggnn_batch_free(&b);
    random_graph_free(g);
}

/* Of a hand-made header that is right but for one size: 2^31 - 1 seeds, ids or edges can be, one more cannot, and bytes past the last
   array are not a batch's. No array is looked at. */
TEST(packed_sizes_are_allowed_to_their_limits)
{
    random_graph* g = random_graph_new(50, 3, 10);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {5, 3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch    b, u;
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 4), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, NULL, 0), GGNN_OK);
    const size_t  bytes = ggnn_batch_packed_bytes(&b);
    ggnni_packed* packed = (ggnni_packed*)calloc(1, bytes);
    ggnni_packed  good;
    CHECK_EQ(ggnn_batch_pack(packed, &b), GGNN_OK);
    good = *packed;
    for (int size = 0; size < 7; size++) /* the last: of a batch that is begun only */
        for (int64_t n = INT32_MAX - 1; n <= (int64_t)INT32_MAX + 2; n++)
            for (int more = -64; more <= 64; more += 64) {
                *packed = good;
                int64_t* const at[] = {&packed->seeds, &packed->edges[0], &packed->edges[1], &packed->length[2], &packed->length[1], &packed->length[0]};
                for (int i = size; i >= 3 && size < 6; i--) *at[i] = n; /* a list of ids never falls */
                if (size < 3) *at[size] = n;
                if (size == 6) packed->num_hops = 0, packed->length[0] = n;
                int64_t sum = (int64_t)(sizeof good + 63) / 64 * 64 + (packed->length[packed->num_hops] * (int64_t)sizeof(ggnn_node) + 63) / 64 * 64 + (packed->seeds * 4 + 63) / 64 * 64;
                for (int h = 0; h < packed->num_hops; h++) {
                    sum += ((packed->length[h] + 1) * 8 + 63) / 64 * 64 + (packed->edges[h] * 4 + 63) / 64 * 64;
                    if (sizeof(ggnn_node) == 8) sum += (packed->edges[h] * 8 + 63) / 64 * 64;
                }
                packed->bytes = (uint64_t)sum;
                CHECK_EQ(ggnn_batch_unpack(&u, packed, (size_t)(sum + more)), n <= INT32_MAX && more == 0 ? GGNN_OK : GGNN_ERROR_BLOCK);
                packed->bytes = (uint64_t)(sum + more); /* and where the header says so too */
                CHECK_EQ(ggnn_batch_unpack(&u, packed, (size_t)(sum + more)), n <= INT32_MAX && more == 0 ? GGNN_OK : GGNN_ERROR_BLOCK);
                if (test_errors) printf("  size %d of %" PRId64 ", %d bytes more\n", size, n, more);
                if (test_errors) return;
            }
    free(packed);
    ggnn_batch_free(&b);
    random_graph_free(g);
}

/* Seeds alone, or some of the hops: it has their sizes, and can be checked. Fewer bytes than a header are not looked at. */
TEST(a_batch_that_is_begun_only_can_be_packed)
{
    random_graph*   g = random_graph_new(50, 3, 10);
    const ggnn_node seeds[] = {7, 3, 7, 9};
    for (int global = 0; global < 2; global++)
        for (int32_t hops = 0; hops < 3; hops++) {
            ggnn_sampling how = {GGNN_FISHER_YATES, 3, {5, 3, 2}, global, GGNN_KEEP_ALL, {0, 0, 0}, 0, {0}, {0}};
            ggnn_batch    b, u;
            ggnn_fault    fault;
            CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 4), GGNN_OK);
            CHECK_EQ(ggnn_batch_begin(&b, seeds, 4), GGNN_OK);
            for (int32_t h = 0; h < hops; h++) CHECK_EQ(ggnn_sample_hop(&b, &g->graph, &rng), GGNN_OK);
            const size_t bytes = ggnn_batch_packed_bytes(&b);
            char*        packed = (char*)malloc(bytes);
            CHECK_EQ(ggnn_batch_pack(packed, &b), GGNN_OK);
            CHECK_EQ(ggnn_batch_unpack(&u, packed, bytes), GGNN_OK);
            CHECK_EQ(ggnn_batch_validate(&u, &fault), GGNN_OK);
            CHECK(u.num_hops == hops && u.num_seeds.max == 4 && *u.num_seeds.n == 4 && *u.hop[0].num_dst.n == 3 && u.hop[0].num_dst.max == 3);
            const int64_t ids = hops ? *b.hop[hops - 1].num_src.n : 3;
            CHECK_EQ(u.max_ids, ids);
            CHECK(memcmp(u.id, b.id, (size_t)ids * sizeof *b.id) == 0 && memcmp(u.seed_local, b.seed_local, 4 * sizeof *b.seed_local) == 0);
            for (int32_t h = 0; h < hops; h++)
                CHECK(memcmp(u.hop[h].indices, b.hop[h].indices, (size_t)*b.hop[h].num_edges.n * sizeof(int32_t)) == 0);
            for (size_t few = 0; few < sizeof(ggnni_packed) && hops == 0; few += 8) {
                char* part = (char*)malloc(few + 1);
                memcpy(part, packed, few);
                CHECK_EQ(ggnn_batch_unpack(&u, part, few), GGNN_ERROR_BLOCK);
                free(part);
            }
            free(packed);
            ggnn_batch_free(&b);
        }
    random_graph_free(g);
}

/* What a split device does: each layer samples targets of its own, at its hop number. */
TEST(any_targets_are_sampled_at_any_hop_number)
{
    random_graph* g = random_graph_new(400, 6, 100);
    FOR_METHODS(method) {
        ggnn_sampling how = {(ggnn_method)method, 3, {5, 4, 3}, 0, GGNN_KEEP_NEIGHBORS | GGNN_KEEP_WEIGHTS, {4, 3, .5f}, 0, {0}, {0}};
        ggnn_node     seeds[30];
        prepared      p = prepare(&g->graph, &how, 30, GGNN_UNIQUE_HASH);
        for (int i = 0; i < 30; i++) seeds[i] = (ggnn_node)(i * 3);
        CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 30), GGNN_OK);
        for (int32_t h = 0; h < 3; h++) {
            const ggnn_block* all = &p.batch.hop[h];
            ggnn_sampling     one = how;
            prepared          q;
            int64_t           n = *all->num_dst.n, skip = n / 3; /* the last two thirds of its targets */
            one.num_hops = 1;
            one.first_hop = h;
            one.fanout[0] = how.fanout[h];
            q = prepare(&g->graph, &one, n, GGNN_UNIQUE_DIRECT);
            CHECK_EQ(ggnn_sample(&q.batch, &g->graph, &rng, p.batch.id + skip, n - skip), GGNN_OK);
            for (int64_t i = skip; i < n; i++) {
                const ggnn_block* own = &q.batch.hop[0];
                int64_t           from = all->indptr[i], to = own->indptr[i - skip], m = all->indptr[i + 1] - from;
                if (!CHECK_EQ(own->indptr[i - skip + 1] - to, m)) return;
                CHECK(memcmp(own->neighbor + to, all->neighbor + from, (size_t)m * sizeof *own->neighbor) == 0);
                CHECK(memcmp(own->weight + to, all->weight + from, (size_t)m * sizeof *own->weight) == 0);
                for (int64_t e = 0; e < m; e++) CHECK_EQ(q.batch.id[own->indices[to + e]], own->neighbor[to + e]);
            }
            finish(&q);
        }
        finish(&p);
    }
    random_graph_free(g);
}

/* Bounds of exactly what a batch needs change nothing; one less of any is GGNN_ERROR_CAPACITY, and writes nothing past them. */
TEST(own_bounds_that_are_passed_are_an_error)
{
    random_graph* g = random_graph_new(300, 8, 120);
    ggnn_node     seeds[25];
    for (int i = 0; i < 25; i++) seeds[i] = (ggnn_node)(i * 2);
    FOR_METHODS(method)
        for (int all = 0; all < 2; all++) {
            ggnn_sampling how = {(ggnn_method)method, 2, {all ? -1 : 6, 4}, 0, 15, {4, 3, .5f}, 0, {0}, {0}};
            prepared      p = prepare(&g->graph, &how, 25, GGNN_UNIQUE_HASH);
            CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 25), GGNN_OK);
            for (int less = 0; less < 5; less++) { /* nothing, edges of hop 0 and 1, sources of hop 0 and 1 */
                ggnn_sampling tight = how;
                prepared      q;
                for (int h = 0; h < 2; h++) {
                    tight.max_edges[h] = *p.batch.hop[h].num_edges.n - (less == 1 + h);
                    tight.max_src[h] = *p.batch.hop[h].num_src.n - (less == 3 + h);
                }
                q = prepare(&g->graph, &tight, 25, kinds[less % 2]);
                CHECK(q.batch.bytes <= p.batch.bytes);
                if (all && method_has(method, GGNN_METHOD_WEIGHS) && less == 0) { /* its whole lists count with their weights of 0 */
                    finish(&q);
                    continue;
                }
                CHECK_EQ(ggnn_sample(&q.batch, &g->graph, &rng, seeds, 25), less ? GGNN_ERROR_CAPACITY : GGNN_OK);
                if (less == 0) {
                    CHECK_EQ(*q.batch.hop[1].num_edges.n, *p.batch.hop[1].num_edges.n);
                    CHECK(memcmp(q.batch.id, p.batch.id, (size_t)*p.batch.hop[1].num_src.n * sizeof(ggnn_node)) == 0);
                } else CHECK_EQ(*q.batch.hop[0].num_edges.n, 0);
                finish(&q);
            }
            finish(&p);
        }
    random_graph_free(g);
}

/* 32 lists of 16, fanout 8, room for 16 edges: a method that draws for a tile of targets at once draws 256 before it looks. */
TEST(a_limit_far_below_a_tiles_draws_is_kept)
{
    enum { NODES = 64, SEEDS = 32, GUARD = 1 << 14 };
    int64_t   indptr[NODES + 1];
    ggnn_node indices[16 * NODES], seeds[SEEDS];
    float     weight[16 * NODES];
    for (int v = 0; v <= NODES; v++) indptr[v] = 16 * v;
    for (int e = 0; e < 16 * NODES; e++) indices[e] = (ggnn_node)(e * 7 % NODES), weight[e] = 1;
    for (int i = 0; i < SEEDS; i++) seeds[i] = (ggnn_node)i;
    ggnn_graph g = ggnn_graph_plain(indptr, indices, weight, NODES, 16 * NODES);
    FOR_METHODS(method) {
        ggnn_sampling how = {(ggnn_method)method, 1, {8}, 0, 0, {4, 3, .5f}, 0, {0}, {16}};
        ggnn_batch    b;
        CHECK_EQ(ggnn_batch_plan(&b, &g, &how, SEEDS, NULL), GGNN_OK);
        char* memory = malloc(b.bytes + GUARD);
        memset(memory + b.bytes, 0x5a, GUARD);
        CHECK_EQ(ggnn_batch_init(&b, memory), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, SEEDS), GGNN_ERROR_CAPACITY);
        for (int i = 0; i < GUARD; i++)
            if (!CHECK_EQ(memory[b.bytes + (size_t)i], 0x5a)) break;
        CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 1), GGNN_OK); /* and its table is as it was */
        CHECK_EQ(*b.hop[0].num_src.n, b.seen->count);
        free(memory);
    }
}

/* A fanout, and a list, of more edges than the limit allows: not even the draws have room. */
TEST(a_fanout_above_the_limit_is_an_error)
{
    enum { DEGREE = 2000, GUARD = 1 << 16 };
    static ggnn_node indices[2 * DEGREE];
    static float     weight[2 * DEGREE];
    const int64_t    indptr[] = {0, DEGREE, 2 * DEGREE};
    const ggnn_node  seeds[] = {0, 1};
    for (int e = 0; e < 2 * DEGREE; e++) indices[e] = e % 2, weight[e] = 1;
    ggnn_graph g = ggnn_graph_plain(indptr, indices, weight, 2, 2 * DEGREE);
    FOR_METHODS_OF_LISTS(method)
        for (int32_t fanout = 20; fanout < 4000; fanout = fanout * 3 - 1) { /* 1580: above what a tile draws */
            ggnn_sampling how = {(ggnn_method)method, 1, {fanout}, 0, 0, {0, 0, 0}, 0, {0}, {10}};
            ggnn_batch    b;
            CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 2, NULL), GGNN_OK);
            char* memory = malloc(b.bytes + GUARD);
            int   kept = 1;
            memset(memory + b.bytes, 0x5a, GUARD);
            CHECK_EQ(ggnn_batch_init(&b, memory), GGNN_OK);
            CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 2), GGNN_ERROR_CAPACITY);
            CHECK(b.fault.node == 0 && b.fault.hop == 0);
            for (int i = 0; i < GUARD; i++) kept &= memory[b.bytes + (size_t)i] == 0x5a;
            CHECK(kept);
            free(memory);
        }
}

/* Weighted samples of whole lists are drawn, too: no more offsets than the limit are written. And a fanout above all edges takes the
   memory of all edges. */
TEST(weighted_batches_take_memory_for_the_edges_that_they_may_have)
{
    enum { DEGREE = 3000 };
    static ggnn_node indices[DEGREE];
    static float     weight[DEGREE];
    const int64_t    indptr[] = {0, DEGREE};
    const ggnn_node  seed = 0;
    for (int e = 0; e < DEGREE; e++) weight[e] = 1;
    ggnn_graph g = ggnn_graph_plain(indptr, indices, weight, 1, DEGREE);
    for (int64_t limit = 1; limit <= DEGREE; limit = limit < 10 ? DEGREE - 1 : limit + 1) {
        ggnn_sampling how = {GGNN_WEIGHTED, 1, {-1}, 0, 0, {0, 0, 0}, 0, {0}, {limit}};
        ggnn_batch    b;
        CHECK_EQ(ggnn_batch_new(&b, &g, &how, 1), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &g, &rng, &seed, 1), limit < DEGREE ? GGNN_ERROR_CAPACITY : GGNN_OK);
        CHECK_EQ(b.fault.node, limit < DEGREE ? 0 : -1);
        ggnn_batch_free(&b);
    }
    FOR_METHODS_WITHOUT(GGNN_METHOD_REPEATS | GGNN_METHOD_WALKS, method) {
        ggnn_sampling how = {(ggnn_method)method, 1, {DEGREE}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
        ggnn_batch    b, c;
        CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_OK);
        how.fanout[0] = INT32_MAX;
        CHECK_EQ(ggnn_batch_plan(&c, &g, &how, 1, NULL), GGNN_OK);
        CHECK_EQ(b.bytes, c.bytes);
    }
}

TEST(a_walk_of_zeros_is_pinsages)
{
    random_graph* g = random_graph_new(300, 5, 40);
    ggnn_sampling zero = {GGNN_WALK, 2, {5, -1}, 0, GGNN_KEEP_WEIGHTS, {0, 0, 0}, 0, {0}, {0}}, pinsage = zero;
    ggnn_node     seeds[20];
    for (int i = 0; i < 20; i++) seeds[i] = (ggnn_node)(i * 7);
    pinsage.walk.walks = 4;
    pinsage.walk.length = 3;
    pinsage.walk.restart = 0.5f;
    prepared a = prepare(&g->graph, &zero, 20, GGNN_UNIQUE_HASH), b = prepare(&g->graph, &pinsage, 20, GGNN_UNIQUE_HASH);
    CHECK_EQ(ggnn_sample(&a.batch, &g->graph, &rng, seeds, 20), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b.batch, &g->graph, &rng, seeds, 20), GGNN_OK);
    for (int32_t h = 0; h < 2; h++) {
        const ggnn_block *x = &a.batch.hop[h], *y = &b.batch.hop[h];
        CHECK(*x->num_edges.n > 20);
        if (!CHECK_EQ(*x->num_edges.n, *y->num_edges.n)) break;
        CHECK(memcmp(x->indices, y->indices, (size_t)*x->num_edges.n * sizeof *x->indices) == 0);
        CHECK(memcmp(x->weight, y->weight, (size_t)*x->num_edges.n * sizeof *x->weight) == 0);
    }
    finish(&a);
    finish(&b);
    random_graph_free(g);
}

TEST(walk_batches_hold_the_most_visited_and_their_visits)
{
    random_graph* g = random_graph_new(300, 5, 40);
    ggnn_sampling how = {GGNN_WALK, 2, {5, 3}, 0, GGNN_KEEP_WEIGHTS | GGNN_KEEP_POSITIONS | GGNN_KEEP_NEIGHBORS, {4, 3, 0.5f}, 0, {0}, {0}};
    prepared      p = prepare(&g->graph, &how, 20, GGNN_UNIQUE_HASH);
    ggnn_node     seeds[20], visited[12], id[12];
    float         visits[12];
    for (int i = 0; i < 20; i++) seeds[i] = (ggnn_node)(i * 7);
    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 20), GGNN_OK);
    for (int32_t h = 0; h < 2; h++) {
        const ggnn_block* hop = &p.batch.hop[h];
        CHECK_EQ(ggnn_block_validate(hop, 300, NULL), GGNN_OK);
        for (int64_t i = 0; i < *hop->num_dst.n; i++) {
            int64_t n;
            ggnn_ref_random_walk(visited, &g->graph, &how.walk, &rng, h, p.batch.id[i]);
            n = ggnn_ref_walk_neighbors(id, visits, visited, 12, how.fanout[h], p.batch.id[i]);
            if (!CHECK_EQ(hop->indptr[i + 1] - hop->indptr[i], n)) return;
            for (int64_t j = 0; j < n; j++) {
                CHECK_EQ(p.batch.id[hop->indices[hop->indptr[i] + j]], id[j]);
                CHECK(hop->weight[hop->indptr[i] + j] == visits[j]);
                CHECK_EQ(hop->position[hop->indptr[i] + j], -1);
            }
        }
    }
    finish(&p);
    random_graph_free(g);
}

TEST(batches_prepared_on_several_threads_are_the_same)
{
#ifdef _OPENMP
    enum { BATCHES = 8 };
    random_graph* g = random_graph_new(2000, 8, 500);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {6, 4}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    prepared      p[BATCHES], one = prepare(&g->graph, &how, 50, GGNN_UNIQUE_DIRECT);
    for (int i = 0; i < BATCHES; i++) p[i] = prepare(&g->graph, &how, 50, GGNN_UNIQUE_HASH);
#pragma omp parallel for num_threads(4) schedule(dynamic, 1)
    for (int i = 0; i < BATCHES; i++) {
        ggnn_rng  own = {42, (uint32_t)i, GGNN_PURPOSE_SAMPLE};
        ggnn_node seeds[50];
        for (int s = 0; s < 50; s++) seeds[s] = (ggnn_node)ggnn_shuffle(1, 0, i * 50 + s, 2000);
        ggnn_sample(&p[i].batch, &g->graph, &own, seeds, 50);
    }
    for (int i = 0; i < BATCHES; i++) {
        ggnn_rng  own = {42, (uint32_t)i, GGNN_PURPOSE_SAMPLE};
        ggnn_node seeds[50];
        for (int s = 0; s < 50; s++) seeds[s] = (ggnn_node)ggnn_shuffle(1, 0, i * 50 + s, 2000);
        ggnn_sample(&one.batch, &g->graph, &own, seeds, 50);
        CHECK_EQ(*one.batch.hop[1].num_src.n, *p[i].batch.hop[1].num_src.n);
        CHECK_EQ(*one.batch.hop[1].num_edges.n, *p[i].batch.hop[1].num_edges.n);
        CHECK(memcmp(one.batch.id, p[i].batch.id, (size_t)*one.batch.hop[1].num_src.n * sizeof *one.batch.id) == 0);
        CHECK(memcmp(one.batch.hop[1].indices, p[i].batch.hop[1].indices, (size_t)*one.batch.hop[1].num_edges.n * sizeof(int32_t)) == 0);
        finish(&p[i]);
    }
    finish(&one);
    random_graph_free(g);
#else
    SKIP("no OpenMP");
#endif
}

TEST(a_nodes_sample_does_not_depend_on_its_batch)
{
    random_graph* g = random_graph_new(400, 10, 100);
    ggnn_sampling how = {GGNN_REJECTION, 1, {4}, 0, GGNN_KEEP_NEIGHBORS, {0, 0, 0}, 0, {0}, {0}};
    prepared      p = prepare(&g->graph, &how, 400, GGNN_UNIQUE_DIRECT), q = prepare(&g->graph, &how, 1, GGNN_UNIQUE_DIRECT);
    ggnn_node     seeds[400];
    for (int i = 0; i < 400; i++) seeds[i] = (ggnn_node)(399 - i);
    ggnn_sample(&p.batch, &g->graph, &rng, seeds, 400);
    for (int i = 0; i < 400; i++) {
        const ggnn_block* all = &p.batch.hop[0];
        int64_t           n = all->indptr[i + 1] - all->indptr[i];
        ggnn_sample(&q.batch, &g->graph, &rng, seeds + i, 1);
        CHECK_EQ(*q.batch.hop[0].num_edges.n, n);
        CHECK(memcmp(q.batch.hop[0].neighbor, all->neighbor + all->indptr[i], (size_t)n * sizeof(ggnn_node)) == 0);
    }
    finish(&p);
    finish(&q);
    random_graph_free(g);
}

/* ---- sampling through parts --------------------------------------------------------- */

/* The graph cut into parts and own cache as `at` says, each in arrays of its own; the host tier is the whole graph. */
static ggnn_csc* cut(const random_graph* g, const ggnn_layout* at)
{
    int32_t   slots = at->parts + 2;
    ggnn_csc* part = (ggnn_csc*)calloc((size_t)slots, sizeof *part);
    part[at->parts] = g->graph.whole;
    for (int32_t slot = 0; slot < slots; slot++) {
        if (slot == at->parts) continue;
        int64_t*   indptr = (int64_t*)malloc((size_t)(g->num_nodes + 1) * sizeof *indptr);
        int64_t*   first = (int64_t*)malloc((size_t)(g->num_nodes + 1) * sizeof *first);
        ggnn_node* indices = (ggnn_node*)malloc((size_t)(g->num_edges + 1) * sizeof *indices);
        float*     weight = (float*)malloc((size_t)(g->num_edges + 1) * sizeof *weight);
        int64_t    rows = 0, edges = 0;
        indptr[0] = 0;
        for (int64_t row = 0, found = 1; found; row++) { /* rows of this slot, in row order */
            found = 0;
            for (ggnn_node v = 0; v < g->num_nodes; v++) {
                ggnn_layout stored = *at;
                ggnn_place  place;
                if (slot < at->parts) stored.cached = 0; /* a cached row lies in its part too */
                place = ggnn_locate(&stored, v);
                if (place.slot != slot || place.row != row) continue;
                found = 1;
                first[rows] = g->indptr[v];
                for (int64_t e = g->indptr[v]; e < g->indptr[v + 1]; e++, edges++) {
                    indices[edges] = g->indices[e];
                    weight[edges] = g->weight[e];
                }
                indptr[++rows] = edges;
            }
        }
        ggnn_csc csc = {indptr, first, indices, weight, edges};
        part[slot] = csc;
    }
    return part;
}

static void cut_free(ggnn_csc* part, int32_t parts)
{
    for (int32_t slot = 0; slot < parts + 2; slot++) {
        if (slot == parts) continue;
        free((void*)part[slot].indptr);
        free((void*)part[slot].first);
        free((void*)part[slot].indices);
        free((void*)part[slot].weight);
    }
    free(part);
}

/* A copy that may be read alone: a sampler that permutes lists in place, and puts them back, ends by a signal. */
static const void* read_only(const void* from, size_t bytes)
{
    void* copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(copy != MAP_FAILED)) return from;
    memcpy(copy, from, bytes);
    CHECK_EQ(mprotect(copy, bytes, PROT_READ), 0);
    return copy;
}

TEST(sampling_leaves_the_graph_as_it_is)
{
    random_graph*    g = random_graph_new(120, 5, 60);
    const size_t     edges = (size_t)g->num_edges;
    const int64_t*   indptr = (const int64_t*)read_only(g->indptr, 121 * sizeof *indptr);
    const ggnn_node* indices = (const ggnn_node*)read_only(g->indices, edges * sizeof *indices);
    const float*     weight = (const float*)read_only(g->weight, edges * sizeof *weight);
    const ggnn_graph held = ggnn_graph_plain(indptr, indices, weight, 120, g->num_edges);
    ggnn_node        seeds[30];
    for (int i = 0; i < 30; i++) seeds[i] = (ggnn_node)(i * 4);
    FOR_METHODS(method)
        for (int32_t fanout = 1; fanout < 70; fanout += 17) {
            ggnn_sampling how = {(ggnn_method)method, 2, {fanout, 3}, 0, GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS, {4, 3, .5f}, 0, {0}, {0}};
            prepared      p = prepare(&held, &how, 30, GGNN_UNIQUE_DIRECT);
            CHECK_EQ(ggnn_sample(&p.batch, &held, &rng, seeds, 30), GGNN_OK);
            finish(&p);
        }
    CHECK_EQ(munmap((void*)(uintptr_t)indptr, 121 * sizeof *indptr), 0);
    CHECK_EQ(munmap((void*)(uintptr_t)indices, edges * sizeof *indices), 0);
    CHECK_EQ(munmap((void*)(uintptr_t)weight, edges * sizeof *weight), 0);
    random_graph_free(g);
}

TEST(sampling_through_parts_gives_what_the_whole_graph_gives)
{
    const double  stored[] = {0, 0.3, 1};
    random_graph* g = random_graph_new(120, 5, 60);
    ggnn_node     rank[120], cache_row[120], seeds[30];
    for (int v = 0; v < 120; v++) rank[v] = (ggnn_node)ggnn_shuffle(3, 1, v, 120);
    for (int v = 0; v < 120; v++) cache_row[v] = (ggnn_node)ggnn_shuffle(3, 2, v, 120);
    for (int i = 0; i < 30; i++) seeds[i] = (ggnn_node)(i * 4);
    for (int32_t parts = 1; parts <= 4; parts++)
        for (int s = 0; s < 3; s++)
            for (int kind = 0; kind < 2; kind++) { /* modulo, range */
                int64_t     bound[5], rows = (int64_t)(stored[s] * 120), traffic[6], lists;
                ggnn_layout at = {cache_row, rows / 3, rank, kind ? bound : NULL, rows, parts};
                ggnn_csc*   part;
                ggnn_graph  split = g->graph;
                for (int32_t p = 0; p <= parts; p++) bound[p] = rows * p / parts;
                part = cut(g, &at);
                split.at = at;
                split.part = part;
                CHECK_EQ(ggnn_graph_validate(&split, NULL), GGNN_OK);
                split.traffic = traffic;
                FOR_METHODS(method) {
                    memset(traffic, 0, sizeof traffic);
                    lists = 0;
                    ggnn_sampling how = {(ggnn_method)method, 2, {4, 3}, 0, GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS, {4, 3, .5f}, 0, {0}, {0}};
                    prepared      p = prepare(&g->graph, &how, 30, GGNN_UNIQUE_DIRECT), q = prepare(&split, &how, 30, GGNN_UNIQUE_HASH);
                    CHECK_EQ(ggnn_sample(&p.batch, &g->graph, &rng, seeds, 30), GGNN_OK);
                    CHECK_EQ(ggnn_sample(&q.batch, &split, &rng, seeds, 30), GGNN_OK);
                    for (int h = 0; h < 2; h++) {
                        const ggnn_block *a = &p.batch.hop[h], *b = &q.batch.hop[h];
                        size_t            edges = (size_t)*a->num_edges.n;
                        CHECK_EQ(*a->num_edges.n, *b->num_edges.n);
                        CHECK(memcmp(a->indptr, b->indptr, (size_t)(*a->num_dst.n + 1) * sizeof *a->indptr) == 0);
                        CHECK(memcmp(a->indices, b->indices, edges * sizeof *a->indices) == 0);
                        CHECK(memcmp(a->position, b->position, edges * sizeof *a->position) == 0);
                        CHECK(memcmp(a->weight, b->weight, edges * sizeof *a->weight) == 0);
                        if (!method_has(method, GGNN_METHOD_WALKS)) lists += *a->num_dst.n;
                    }
                    if (!method_has(method, GGNN_METHOD_WALKS)) { /* one list a target */
                        int64_t sum = 0;
                        for (int32_t slot = 0; slot < parts + 2; slot++) sum += traffic[slot];
                        CHECK_EQ(sum, lists);
                        if (stored[s] == 0) CHECK_EQ(traffic[parts], lists);
                        if (stored[s] == 1) CHECK_EQ(traffic[parts], 0);
                    }
                    finish(&p);
                    finish(&q);
                }
                cut_free(part, parts);
            }
    random_graph_free(g);
}

/* ---- whole blocks, transposes, validation ----------------------------------------------- */

TEST(the_whole_graph_is_a_block)
{
    random_graph* g = random_graph_new(100, 5, 300);
    int64_t       counts[3];
    int32_t*      copy = (int32_t*)malloc((size_t)g->num_edges * sizeof *copy);
    ggnn_block    b;
    CHECK_EQ(ggnn_block_whole(&b, &g->graph, counts, copy), GGNN_OK);
    CHECK_EQ(ggnn_block_validate(&b, 100, NULL), GGNN_OK);
    CHECK_EQ(*b.num_edges.n, g->num_edges);
    CHECK(b.id == NULL); /* local ids are the global ones */
    CHECK(b.num_dst.n == &counts[0] && b.num_src.n == &counts[1] && b.num_edges.n == &counts[2] && counts[0] == 100 && counts[1] == 100);
    CHECK(b.num_dst.max == 100 && b.num_src.max == 100 && b.num_edges.max == g->num_edges);
    CHECK(b.indptr == g->indptr && b.weight == g->weight);
    CHECK(!b.neighbor && !b.position && !b.repeats && !b.edge && !b.bipartite);
    if (sizeof(ggnn_node) == 4) CHECK((void*)b.indices == (void*)g->indices);
    g->graph.whole.weight = NULL;
    CHECK_EQ(ggnn_block_whole(&b, &g->graph, counts, copy), GGNN_OK);
    CHECK(b.weight == NULL);
    for (int64_t e = 0; e < g->num_edges; e++) CHECK_EQ(b.indices[e], g->indices[e]);
    g->graph.part = &g->graph.whole;
    CHECK_EQ(ggnn_block_whole(&b, &g->graph, counts, copy), GGNN_ERROR_ARGUMENT);
    ggnn_graph most = ggnn_graph_plain(g->indptr, g->indices, NULL, INT32_MAX, sizeof(ggnn_node) == 4 ? INT32_MAX : 0); /* copied by wide ids */
    memset(&b, 0x5a, sizeof b);
    CHECK_EQ(ggnn_block_whole(&b, &most, counts, copy), GGNN_OK);
    CHECK(counts[0] == INT32_MAX && counts[1] == INT32_MAX && counts[2] == most.num_edges && b.num_edges.max == most.num_edges);
    CHECK(!b.id && !b.neighbor && !b.position && !b.weight && !b.repeats && !b.edge && !b.bipartite);
    free(copy);
    random_graph_free(g);
}

TEST(a_transpose_holds_every_edge_the_other_way_round_in_order)
{
    const int64_t shapes[][3] = {{100, 5, 300}, {900, 90, 10}, {2, 1, 0}}; /* nodes, degree, hub */
    for (int s = 0; s < 3; s++) {
        random_graph* g = random_graph_new(shapes[s][0], shapes[s][1], shapes[s][2]);
        int64_t       counts[3], n = g->num_nodes, edges = g->num_edges;
        int32_t*      copy = (int32_t*)malloc((size_t)(edges + 1) * sizeof *copy);
        void *        memory = malloc(ggnn_block_transpose_bytes(n, n, edges)), *other = malloc(ggnn_block_transpose_bytes(n, n, edges));
        ggnn_node*    id = (ggnn_node*)calloc((size_t)n, sizeof *id);
        ggnn_block    b, t, want;
        ggnn_block_whole(&b, &g->graph, counts, copy);
        b.id = s ? id : NULL;
        ggnn_block_transpose_init(&t, n, n, edges, memory);
        ggnn_block_transpose_init(&want, n, n, edges, other);
        ggnn_block_transpose(&t, &b);
        ggnn_ref_block_transpose(&want, &b);
        CHECK_EQ(ggnn_block_validate(&t, n, NULL), GGNN_OK);
        CHECK(t.id == b.id);
        CHECK(*t.num_dst.n == *want.num_dst.n && *t.num_src.n == *want.num_src.n && *t.num_edges.n == *want.num_edges.n);
        CHECK(same(t.indptr, want.indptr, n + 1, sizeof *t.indptr));
        CHECK(same(t.indices, want.indices, edges, sizeof *t.indices));
        CHECK(same(t.edge, want.edge, edges, sizeof *t.edge));
        free(memory);
        free(other);
        free(copy);
        free(id);
        random_graph_free(g);
    }
}

/* Blocks with ids and without, of one kind and of two: nothing of one stays in the next one's transpose. */
TEST(one_memory_takes_the_transposes_of_blocks_of_any_kind_in_turn)
{
    static const int64_t degree[3][4] = {{2, 3, 0, 2}, {1, 0, 0, 0}, {0, 4, 4, 1}};
    ggnn_block           t;
    void*                memory = malloc(ggnn_block_transpose_bytes(4, 9, 20));
    memset(&t, 0x5a, sizeof t);
    CHECK_EQ(ggnn_block_transpose_init(&t, 4, 9, 20, memory), GGNN_OK);
    for (int i = 0; i < 12; i++) {
        random_block* r = random_block_new(4, i % 4 == 3 ? 9 : 6, degree[i % 3]);
        r->b.bipartite = i / 2 % 2;
        if (i % 2 || r->b.bipartite) r->b.id = NULL;
        CHECK_EQ(ggnn_block_transpose(&t, &r->b), GGNN_OK);
        CHECK(t.id == r->b.id && t.bipartite == r->b.bipartite);
        CHECK(!t.neighbor && !t.position && !t.weight && !t.repeats && t.num_dst.max == 9 && t.num_src.max == 4 && t.num_edges.max == 20);
        CHECK(*t.num_dst.n == r->src && *t.num_src.n == 4 && *t.num_edges.n == r->edges);
        CHECK(memcmp(t.indptr, r->t.indptr, (size_t)(r->src + 1) * sizeof *t.indptr) == 0);
        CHECK(same(t.indices, r->t.indices, r->edges, 4) && same(t.edge, r->t.edge, r->edges, 4));
        CHECK_EQ(ggnn_block_validate(&t, r->num_nodes, NULL), GGNN_OK);
        random_block_free(r);
    }
    free(memory);
}

TEST(validate_names_what_is_wrong_with_a_block)
{
    random_graph* g = random_graph_new(100, 5, 30);
    int64_t       counts[3];
    int32_t*      indices = (int32_t*)malloc((size_t)g->num_edges * sizeof *indices);
    ggnn_block    b;
    ggnn_fault    fault;
    ggnn_block_whole(&b, &g->graph, counts, indices);
    for (int64_t e = 0; e < g->num_edges; e++) indices[e] = (int32_t)g->indices[e];
    b.indices = indices;
    CHECK_EQ(ggnn_block_validate(&b, 100, &fault), GGNN_OK);
    indices[g->indptr[60]] = 100;
    CHECK_EQ(ggnn_block_validate(&b, 100, &fault), GGNN_ERROR_BLOCK);
    CHECK_EQ(fault.edge, g->indptr[60]);
    indices[g->indptr[60]] = 1;
    g->indptr[40] = g->indptr[39] - 1; /* also when the list before it is the shorter */
    CHECK_EQ(ggnn_block_validate(&b, 100, &fault), GGNN_ERROR_BLOCK);
    CHECK_EQ(fault.node, 39);
    g->indptr[40] = g->indptr[39];
    counts[2]++;
    CHECK_EQ(ggnn_block_validate(&b, 100, &fault), GGNN_ERROR_BLOCK);
    counts[2]--;
    counts[1] = 99;
    CHECK_EQ(ggnn_block_validate(&b, 100, &fault), GGNN_ERROR_BLOCK);
    free(indices);
    random_graph_free(g);
}

/* Each number of a block that can be wrong: the error, the target, source or edge that is named, and the sentence. */
TEST(validate_names_each_fault_of_a_block)
{
    enum { DST = 3, SRC = 4, EDGES = 4, N = 10 };
    static const struct {
        char        of; /* what changes: d, s, e sizes; p indptr; i indices; n neighbor; o edge; g id; . nothing */
        int64_t     at, value;
        ggnn_status status;
        int64_t     node, edge;
        const char* what;
    } cases[] = {{'.', 0, 0, GGNN_OK, -1, -1, NULL},
                 {'d', 0, -1, GGNN_ERROR_BLOCK, -1, -1, "size"},    {'d', 0, 4, GGNN_ERROR_BLOCK, -1, -1, "size"},
                 {'s', 0, -1, GGNN_ERROR_BLOCK, -1, -1, "size"},    {'s', 0, 5, GGNN_ERROR_BLOCK, -1, -1, "size"},
                 {'e', 0, -1, GGNN_ERROR_BLOCK, -1, -1, "size"},    {'e', 0, 5, GGNN_ERROR_BLOCK, -1, -1, "size"},
                 {'e', 0, 3, GGNN_ERROR_BLOCK, 2, -1, "leaves"},    {'d', 0, 2, GGNN_ERROR_BLOCK, 2, -1, "end"},
                 {'p', 0, 1, GGNN_ERROR_BLOCK, 0, -1, "begin"},     {'p', 0, -1, GGNN_ERROR_BLOCK, 0, -1, "begin"},
                 {'p', 1, -1, GGNN_ERROR_BLOCK, 0, -1, "decreases"}, {'p', 2, 1, GGNN_ERROR_BLOCK, 1, -1, "decreases"},
                 {'p', 1, 5, GGNN_ERROR_BLOCK, 0, -1, "leaves"},    {'p', 3, 5, GGNN_ERROR_BLOCK, 2, -1, "leaves"},
                 {'p', 3, 3, GGNN_ERROR_BLOCK, 3, -1, "end"},       {'p', 2, 4, GGNN_OK, -1, -1, NULL},
                 {'i', 0, -1, GGNN_ERROR_BLOCK, 0, 0, "local"},     {'i', 1, 4, GGNN_ERROR_BLOCK, 0, 1, "local"},
                 {'i', 3, 4, GGNN_ERROR_BLOCK, 2, 3, "local"},      {'n', 2, -1, GGNN_ERROR_ID, 2, 2, "neighbour"},
                 {'n', 3, N, GGNN_ERROR_ID, 2, 3, "neighbour"},     {'n', 3, N - 1, GGNN_OK, -1, -1, NULL},
                 {'o', 0, -1, GGNN_ERROR_BLOCK, 0, 0, "edge"},      {'o', 3, 4, GGNN_ERROR_BLOCK, 2, 3, "edge"},
                 {'g', 0, -1, GGNN_ERROR_ID, 0, -1, "id"},          {'g', 3, N, GGNN_ERROR_ID, 3, -1, "id"},
                 {'g', 3, N - 1, GGNN_OK, -1, -1, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int arrays = 0; arrays < 16; arrays++) { /* which of indices, neighbor, edge and id there are */
            int64_t    size[3] = {DST, SRC, EDGES}, indptr[] = {0, 2, 2, 4};
            int32_t    indices[] = {0, 3, 1, 2}, edge[] = {3, 0, 1, 2};
            ggnn_node  neighbor[] = {0, 9, 1, 2}, id[] = {4, 5, 6, 7};
            ggnn_block b;
            ggnn_fault fault;
            const char of = cases[i].of;
            const int  there = of == 'i' ? arrays & 1 : of == 'n' ? arrays & 2 : of == 'o' ? arrays & 4 : of == 'g' ? arrays & 8 : 1;
            memset(&b, 0, sizeof b);
            b.num_dst.n = &size[0], b.num_src.n = &size[1], b.num_edges.n = &size[2];
            b.num_dst.max = DST, b.num_src.max = SRC, b.num_edges.max = EDGES;
            b.indptr = indptr;
            if (arrays & 1) b.indices = indices;
            if (arrays & 2) b.neighbor = neighbor;
            if (arrays & 4) b.edge = edge;
            if (arrays & 8) b.id = id;
            if (of == 'd') size[0] = cases[i].value;
            if (of == 's') size[1] = cases[i].value;
            if (of == 'e') size[2] = cases[i].value;
            if (of == 'p') indptr[cases[i].at] = cases[i].value;
            if (of == 'i') indices[cases[i].at] = (int32_t)cases[i].value;
            if (of == 'n') neighbor[cases[i].at] = (ggnn_node)cases[i].value;
            if (of == 'o') edge[cases[i].at] = (int32_t)cases[i].value;
            if (of == 'g') id[cases[i].at] = (ggnn_node)cases[i].value;
            memset(&fault, 0x5a, sizeof fault);
            const ggnn_status got = ggnn_block_validate(&b, N, &fault);
            CHECK_EQ(got, ggnn_block_validate(&b, N, NULL));
            const int none = (arrays & 3) == 0 && (!there || cases[i].status == GGNN_OK || (of == 'g')); /* neither indices nor neighbor */
            const int wrong = there && cases[i].status != GGNN_OK && !none;
            CHECK_EQ(got, none ? GGNN_ERROR_BLOCK : wrong ? cases[i].status : GGNN_OK);
            CHECK_EQ(fault.node, wrong ? cases[i].node : -1);
            CHECK_EQ(fault.edge, wrong ? cases[i].edge : -1);
            CHECK_EQ(fault.hop, -1);
            if (none || wrong) CHECK(fault.what && strstr(fault.what, none ? "neither" : cases[i].what));
            else CHECK(fault.what == NULL);
            if (test_errors) printf("  case %d, arrays %d: \"%s\"\n", (int)i, arrays, fault.what ? fault.what : "");
            if (test_errors) return;
        }
}

/* A block without edges needs neither indices nor neighbor; one without indices does not number its sources. */
TEST(validate_asks_for_no_array_that_is_not_read)
{
    int64_t    size[3] = {2, 0, 0}, indptr[] = {0, 0, 0};
    ggnn_node  neighbor[] = {1, 0};
    ggnn_fault fault;
    ggnn_block b;
    memset(&b, 0, sizeof b);
    b.num_dst.n = &size[0], b.num_src.n = &size[1], b.num_edges.n = &size[2];
    b.num_dst.max = b.num_src.max = b.num_edges.max = 2;
    b.indptr = indptr;
    CHECK_EQ(ggnn_block_validate(&b, 2, &fault), GGNN_OK);
    size[2] = indptr[1] = indptr[2] = 2;
    CHECK_EQ(ggnn_block_validate(&b, 2, &fault), GGNN_ERROR_BLOCK);
    b.neighbor = neighbor;
    CHECK_EQ(ggnn_block_validate(&b, 2, &fault), GGNN_OK);
}

/* Of whole batches: sizes that do not follow, arrays that are missing, repeats below 0; at any hop. */
TEST(validate_names_the_hop_that_does_not_fit)
{
    random_graph* g = random_graph_new(60, 4, 20);
    ggnn_sampling how = {GGNN_FISHER_YATES, 3, {3, 2, 2}, 1, GGNN_KEEP_ALL, {0, 0, 0}, 0, {0}, {0}};
    ggnn_node     seeds[] = {0, 5, 17, 5};
    ggnn_batch    b;
    ggnn_fault    fault;
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 4), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 4), GGNN_OK);
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_OK); /* the last hop is global: no indices */
    CHECK_EQ(ggnn_batch_validate(&b, NULL), GGNN_OK);
    for (int32_t h = 0; h < 3; h++) {
        ggnn_block whole = b.hop[h];
        for (int i = 0; i < 6; i++) {
            int64_t fewer = *whole.num_dst.n - 1;
            const int32_t by = i == 3 && h < 2 ? whole.repeats[1] + 1 : 0; /* what is left is -1 */
            b.hop[h] = whole;
            if (i == 0) b.hop[h].indices = NULL;
            if (i == 1 && h > 0) b.hop[h].num_dst.n = &fewer;
            if (i == 2) b.hop[h].num_edges.max = *whole.num_edges.n - 1;
            if (i == 3 && h < 2) b.hop[h].repeats[1] -= by, b.hop[h].repeats[0] += by;
            if (i == 4 && h < 2) b.hop[h].repeats[*whole.num_src.n - 1]++;
            if (i == 5) b.hop[h].neighbor[*whole.num_edges.n - 1] += 60;
            if (i == 1 && h > 0) b.hop[h].num_edges.n = &b.hop[h].indptr[fewer]; /* else the block contradicts itself */
            const int fits = (i == 0 && h == 2) || (i == 1 && h == 0) || ((i == 3 || i == 4) && h == 2);
            memset(&fault, 0x5a, sizeof fault);
            CHECK_EQ(ggnn_batch_validate(&b, &fault), fits ? GGNN_OK : i == 5 ? GGNN_ERROR_ID : GGNN_ERROR_BLOCK);
            CHECK_EQ(fault.hop, fits ? -1 : h);
            CHECK_EQ(ggnn_batch_validate(&b, NULL), fits ? GGNN_OK : i == 5 ? GGNN_ERROR_ID : GGNN_ERROR_BLOCK);
            static const char* const what[] = {"no indices", "hop before", "size", "negative", "repeats", "neighbour"};
            if (!fits) CHECK(fault.what && strstr(fault.what, what[i]));
            if (i == 3 && h < 2) CHECK_EQ(fault.node, 1);
            if (i == 3 && h < 2) whole.repeats[1] += by, whole.repeats[0] -= by;
            if (i == 4 && h < 2) whole.repeats[*whole.num_src.n - 1]--;
            if (i == 5) whole.neighbor[*whole.num_edges.n - 1] -= 60;
        }
        b.hop[h] = whole;
    }
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_OK);
    for (int wrong = -1; wrong < 5; wrong += 4) { /* the distinct seeds are 0, 1 and 2 */
        b.seed_local[1] = wrong;
        CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_ERROR_BLOCK);
        CHECK(fault.what && strstr(fault.what, "a seed's local id") && fault.node == 1 && fault.hop == -1);
    }
    b.seed_local[1] = 2;
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_OK);
    b.num_hops = 4;
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(fault.hop, -1); /* it is no hop's */
    b.num_hops = -1;
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_ERROR_ARGUMENT);
    b.num_hops = 2; /* not all are sampled yet */
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_OK);
    ggnn_batch_free(&b);
    random_graph_free(g);
}

/* Five users, three items: the ops allow fewer sources than targets, and so does validate where the block says it. */
TEST(a_block_of_two_kinds_may_have_fewer_sources_than_targets)
{
    enum { USERS = 5, ITEMS = 3, EDGES = 7 };
    int64_t     size[3] = {USERS, ITEMS, EDGES}, indptr[] = {0, 2, 3, 3, 5, 7};
    int32_t     indices[] = {0, 2, 1, 2, 0, 1, 2};
    ggnn_node   id[USERS] = {0, 1, 2, 0, 1};
    const float x[] = {1, 2, 4}, want[] = {2.5f, 2, 0, 2.5f, 3}, back[] = {1.0f, 1.5f, 1.5f}, half[USERS] = {.5f, 1, 0, .5f, .5f};
    float       out[USERS], dx[ITEMS], ones[USERS] = {1, 1, 1, 1, 1};
    ggnn_block  b, t;
    ggnn_scale  swapped = {half, NULL, NULL};
    ggnn_fault  fault;
    void*       memory = malloc(ggnn_block_transpose_bytes(USERS, ITEMS, EDGES));
    memset(&b, 0, sizeof b);
    b.num_dst.n = &size[0], b.num_dst.max = USERS, b.num_src.n = &size[1], b.num_src.max = ITEMS;
    b.num_edges.n = &size[2], b.num_edges.max = EDGES, b.indptr = indptr, b.indices = indices;
    CHECK_EQ(ggnn_block_validate(&b, ITEMS, &fault), GGNN_ERROR_BLOCK); /* of one kind: a mistake */
    b.bipartite = 1;
    CHECK_EQ(ggnn_block_validate(&b, ITEMS, &fault), GGNN_OK);
    CHECK_EQ(ggnn_mean(out, &b, x, 1), GGNN_OK);
    CHECK(memcmp(out, want, sizeof want) == 0);
    ggnn_block_transpose_init(&t, USERS, ITEMS, EDGES, memory);
    CHECK_EQ(ggnn_block_transpose(&t, &b), GGNN_OK);
    CHECK_EQ(t.bipartite, 1);
    CHECK_EQ(ggnn_block_validate(&t, USERS, &fault), GGNN_OK);
    CHECK_EQ(ggnn_spmm(dx, 1, NULL, GGNN_SUM, &t, &swapped, NULL, 1, ones, 1, 1), GGNN_OK);
    CHECK(memcmp(dx, back, sizeof back) == 0);
    b.id = id; /* of which kind? */
    CHECK_EQ(ggnn_block_validate(&b, ITEMS, &fault), GGNN_ERROR_BLOCK);
    b.id = NULL, indices[4] = ITEMS;
    CHECK_EQ(ggnn_block_validate(&b, ITEMS, &fault), GGNN_ERROR_BLOCK);
    CHECK_EQ(fault.edge, 4);
    free(memory);
}

TEST(validate_names_the_local_id_whose_global_id_is_out_of_range)
{
    int64_t       degree[] = {2, 0, 1};
    random_block* r = random_block_new(3, 7, degree);
    ggnn_fault    fault;
    for (int transposed = 0; transposed < 2; transposed++) { /* where the targets are more than the sources, too */
        const ggnn_block* b = transposed ? &r->t : &r->b;
        CHECK_EQ(ggnn_block_validate(b, r->num_nodes, &fault), GGNN_OK);
        for (int i = 0; i < 2; i++) {
            ggnn_node kept = r->id[6];
            r->id[6] = i ? (ggnn_node)r->num_nodes : -1;
            CHECK_EQ(ggnn_block_validate(b, r->num_nodes, &fault), GGNN_ERROR_ID);
            CHECK_EQ(fault.node, 6);
            r->id[6] = kept;
        }
    }
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(20264);
    RUN(append_numbers_by_first_occurrence);
    RUN(hashed_ids_that_meet_in_a_slot_are_told_apart);
    RUN(a_table_is_cleared_to_its_last_slot);
    RUN(a_full_list_still_numbers_what_it_has);
    RUN(append_handles_nothing_all_equal_and_the_greatest_ids);
    RUN(append_stops_at_what_does_not_fit_and_at_bad_ids);
    RUN(of_two_faults_append_tells_the_first);
    RUN(the_table_survives_the_wrap_of_its_values);
    RUN(the_table_forgets_at_the_wrap_of_its_values);
    RUN(find_knows_the_ids_of_this_batch_alone);
    RUN(append_writes_nothing_behind_a_full_list);
    RUN(choose_takes_the_direct_map_while_it_fits_the_cache);
    RUN(tables_have_the_size_that_is_said);
    RUN(batches_are_what_the_definitions_say);
    RUN(every_instruction_set_draws_the_same_sample);
    RUN(bounds_are_worked_out_from_nodes_edges_fanouts_and_limits);
    RUN(the_greatest_bounds_and_hop_numbers_are_allowed);
    RUN(a_batch_has_the_arrays_that_it_keeps_and_no_others);
    RUN(an_error_at_any_hop_names_it_and_leaves_an_empty_batch);
    RUN(seeds_may_be_more_than_nodes_and_a_table_serves_two_batches);
    RUN(a_batch_stays_in_its_bytes);
    RUN(a_list_longer_than_the_graph_is_an_error);
    RUN(a_table_may_be_roomier_than_its_batch);
    RUN(a_batch_of_no_seeds_or_isolated_seeds_is_empty);
    RUN(a_graph_of_no_nodes_gives_an_empty_batch);
    RUN(bad_input_is_an_error_that_names_the_node);
    RUN(lists_that_overlap_are_an_error);
    RUN(a_batch_that_cannot_be_is_refused_and_the_fault_says_why);
    RUN(a_shared_table_must_be_for_the_graph_and_large_enough);
    RUN(a_batch_keeps_how_it_is_sampled_and_for_which_graph);
    RUN(three_calls_set_a_batch_up);
    RUN(a_batch_is_empty_once_it_is_laid_out);
    RUN(a_batch_keeps_transposes_on_request);
    RUN(a_batch_in_memory_of_its_own_is_given_back);
    RUN(a_packed_batch_is_the_same_batch_elsewhere);
    RUN(packed_bytes_of_impossible_sizes_are_refused);
    RUN(packed_sizes_are_allowed_to_their_limits);
    RUN(a_batch_that_is_begun_only_can_be_packed);
    RUN(any_targets_are_sampled_at_any_hop_number);
    RUN(own_bounds_that_are_passed_are_an_error);
    RUN(a_limit_far_below_a_tiles_draws_is_kept);
    RUN(a_fanout_above_the_limit_is_an_error);
    RUN(weighted_batches_take_memory_for_the_edges_that_they_may_have);
    RUN(a_walk_of_zeros_is_pinsages);
    RUN(walk_batches_hold_the_most_visited_and_their_visits);
    RUN(batches_prepared_on_several_threads_are_the_same);
    RUN(a_nodes_sample_does_not_depend_on_its_batch);
    RUN(sampling_leaves_the_graph_as_it_is);
    RUN(sampling_through_parts_gives_what_the_whole_graph_gives);
    RUN(the_whole_graph_is_a_block);
    RUN(a_transpose_holds_every_edge_the_other_way_round_in_order);
    RUN(one_memory_takes_the_transposes_of_blocks_of_any_kind_in_turn);
    RUN(validate_names_what_is_wrong_with_a_block);
    RUN(validate_names_each_fault_of_a_block);
    RUN(validate_asks_for_no_array_that_is_not_read);
    RUN(validate_names_the_hop_that_does_not_fit);
    RUN(a_block_of_two_kinds_may_have_fewer_sources_than_targets);
    RUN(validate_names_the_local_id_whose_global_id_is_out_of_range);
    return test_finish();
}
