/* test_partition.c - [5] PARTITION of ggnn_plan.h: owners, PaGraph's Eq. 1, min-cut, closures. */
#include "ggnn_plan.h"

#include "datasets/generate.h"
#include "tests/folder.h"
#include "tests/random_graph.h"
#include "tests/test.h"

#define NEW(type, n) ((type*)calloc((size_t)(n) + 1, sizeof(type)))

/* ---- by id ------------------------------------------------------------------------------------------------------ */

TEST(owners_by_id_are_those_of_each_node)
{
    for (int how = 0; how < 3; how++)
        for (int32_t parts = 1; parts < 70; parts += parts < 9 ? 1 : 30)
            for (int64_t n = 0; n < 20; n++) {
                int32_t owner[20];
                CHECK_EQ(ggnn_partition_ids(owner, (ggnn_owner)how, parts, n), GGNN_OK);
                for (int64_t v = 0; v < n; v++) CHECK(owner[v] == ggnn_owner_of(v, (ggnn_owner)how, NULL, n, parts) && owner[v] < parts);
            }
}

TEST(owners_by_id_are_even)
{
    enum { N = 10007, P = 7 };
    int32_t* owner = NEW(int32_t, N);
    for (int how = 0; how < 3; how++) {
        int64_t size[P] = {0};
        ggnn_partition_ids(owner, (ggnn_owner)how, P, N);
        for (int v = 0; v < N; v++)
            if (CHECK(owner[v] >= 0 && owner[v] < P)) size[owner[v]]++;
        for (int p = 0; p < P; p++) CHECK(llabs(size[p] - N / P) <= (how == GGNN_OWNER_HASH ? 200 : 1));
        for (int v = 1; v < N; v++) {
            if (how == GGNN_OWNER_MODULO) CHECK_EQ(owner[v], v % P);
            if (how == GGNN_OWNER_RANGE) CHECK(owner[v] == owner[v - 1] || owner[v] == owner[v - 1] + 1);
        }
    }
    ggnn_partition_ids(owner, GGNN_OWNER_RANGE, 7, 3); /* more parts than nodes */
    for (int v = 0; v < 3; v++) CHECK_EQ(owner[v], v);
    free(owner);
}

TEST(a_partition_is_a_layout_of_ranges)
{
    const int32_t owner[] = {2, 0, 3, 0, 2, 2};
    const int64_t expected_bound[] = {0, 2, 2, 5, 6};
    const ggnn_node expected_rank[] = {2, 0, 5, 1, 3, 4};
    int64_t bound[5];
    ggnn_node rank[6];
    ggnn_layout at;
    CHECK_EQ(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MAP, owner, 6, 4, NULL), GGNN_OK);
    for (int p = 0; p < 5; p++) CHECK_EQ(bound[p], expected_bound[p]);
    for (int v = 0; v < 6; v++) {
        CHECK_EQ(rank[v], expected_rank[v]);
        CHECK_EQ(ggnn_locate(&at, v).slot, owner[v]);
    }
}

/* ---- PaGraph ---------------------------------------------------------------------------------------------------- */

/* 0 <- 4, 5;  1 <- 6, 7;  2 <- 1, 6;  3 <- nothing. L = 1, two parts, |TV| = 4; doubled scores are
     0: 4 / 1 in both parts: part 0              TV 0      PV 0, 4, 5
     1: 1 (4 - 2) / 4 and 1 (4) / 1: part 1      TV 1      PV 1, 6, 7
     2: 1 (4 - 2) / 4 and 2 (4 - 2) / 4: part 1, which then is full
     3: part 0 */
TEST(pagraphs_scores_are_those_by_hand)
{
    static const int64_t indptr[] = {0, 2, 4, 6, 6, 6, 6, 6, 6};
    static const ggnn_node indices[] = {4, 5, 6, 7, 1, 6}, ids[] = {0, 1, 2, 3};
    const int32_t expected[] = {0, 1, 1, 0, -1, -1, -1, -1};
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 8, 6);
    ggnn_pagraph how = {ids, 4, 2, 1, 100};
    void* work = malloc(ggnn_partition_pagraph_workspace_bytes(8));
    int32_t owner[8];
    int64_t cut;
    ggnn_fault fault;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_OK);
    CHECK(fault.what == NULL);
    CHECK_EQ(cut, 0);
    for (int v = 0; v < 8; v++) CHECK_EQ(owner[v], expected[v]);
    how.closure_limit = 1; /* node 2's second neighbour, and more, are cut off */
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_OK);
    CHECK_EQ(cut, 3);
    how.closure_limit = 2;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_OK);
    CHECK_EQ(cut, 0);
    free(work);
}

static void reach(const ggnn_graph* g, uint8_t* in, int64_t v, int hops) /* by recursion */
{
    in[v] = 1;
    if (hops == 0) return;
    const ggnn_list list = ggnn_neighbors(g, (ggnn_node)v);
    for (int64_t i = 0; i < list.degree; i++) reach(g, in, list.id[i], hops - 1);
}

/* Breadth first: v, and of the nodes that hops reach from it the first `limit`. 1: there are more. */
static int reach_first(const ggnn_graph* g, uint8_t* in, int64_t v, int hops, int64_t limit)
{
    ggnn_node* queue = NEW(ggnn_node, g->num_nodes);
    int* hop = NEW(int, g->num_nodes);
    int64_t count = 0;
    int cut = 0;
    queue[count++] = (ggnn_node)v;
    in[v] = 1;
    for (int64_t i = 0; i < count && hop[i] < hops && !cut; i++) {
        const ggnn_list list = ggnn_neighbors(g, queue[i]);
        for (int64_t e = 0; e < list.degree && !cut; e++) {
            if (in[list.id[e]]) continue;
            if (count > limit) cut = 1;
            else {
                in[list.id[e]] = 1;
                hop[count] = hop[i] + 1;
                queue[count++] = list.id[e];
            }
        }
    }
    free(queue);
    free(hop);
    return cut;
}

/* Returns how many closures are cut. */
static int64_t pagraph_oracle(int32_t* owner, const ggnn_graph* g, const ggnn_pagraph* how)
{
    int64_t cut = 0;
    const int64_t n = g->num_nodes, K = how->parts, T = how->num_ids;
    uint8_t *in = NEW(uint8_t, n), *held = NEW(uint8_t, n * K);
    int64_t trained[GGNN_PARTS_MAX] = {0}, size[GGNN_PARTS_MAX] = {0};
    for (int64_t v = 0; v < n; v++) owner[v] = -1;
    for (int64_t t = 0; t < T; t++) {
        int64_t best = -1, top = 0, under = 1, full = 0;
        memset(in, 0, (size_t)n);
        cut += reach_first(g, in, how->ids[t], how->hops, how->closure_limit);
        for (int64_t p = 0; p < K; p++) full += trained[p] == T / K + 1;
        for (int64_t p = 0; p < K; p++) {
            int64_t common = 0, score, over = size[p] + 1;
            if (trained[p] == T / K + 1 || (trained[p] == T / K && full == T % K)) continue;
            for (int64_t u = 0; u < n; u++) common += in[u] && owner[u] == p;
            score = (common + 1) * (T - K * trained[p]);
            if (best < 0 || score * under > top * over || (score * under == top * over && trained[p] < trained[best])) {
                best = p;
                top = score;
                under = over;
            }
        }
        owner[how->ids[t]] = (int32_t)best;
        trained[best]++;
        for (int64_t u = 0; u < n; u++) {
            size[best] += in[u] && !held[u * K + best];
            held[u * K + best] |= in[u];
        }
    }
    free(in);
    free(held);
    return cut;
}

TEST(pagraphs_parts_are_those_of_eq_1_disjoint_complete_and_even)
{
    test_seed(41);
    for (int round = 0; round < 300; round++) {
        const int64_t n = 20 + test_below(80), count = test_below(n + 1);
        random_graph* r = random_graph_new(n, 2, round % 2 ? 5 : n / 2);
        for (int64_t v = 1; round % 2 == 0 && v < n; v++) /* neighbours near by, and one hub */
            for (int64_t e = r->indptr[v]; e < r->indptr[v + 1]; e++) r->indices[e] = (ggnn_node)((v + test_below(4)) % n);
        ggnn_node* ids = NEW(ggnn_node, n);
        int32_t *owner = NEW(int32_t, n), *expected = NEW(int32_t, n);
        int64_t trained[8] = {0}, cut;
        for (int64_t i = 0; i < count; i++) ids[i] = (ggnn_node)ggnn_shuffle((uint64_t)round, 0, i, n);
        ggnn_pagraph how = {ids, count, 1 + (int32_t)test_below(8), (int32_t)test_below(4), round % 3 ? 1000 : test_below(12)};
        void* work = malloc(ggnn_partition_pagraph_workspace_bytes(n));
        CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &r->graph, &how, work, NULL), GGNN_OK);
        CHECK_EQ(cut, pagraph_oracle(expected, &r->graph, &how));
        CHECK(memcmp(owner, expected, (size_t)n * sizeof *owner) == 0);
        int64_t all = 0;
        for (int64_t v = 0; v < n; v++)
            if (owner[v] >= 0) {
                trained[owner[v]]++;
                all++;
            }
        CHECK_EQ(all, count);
        for (int p = 0; p < how.parts; p++) CHECK(trained[p] == count / how.parts || trained[p] == count / how.parts + 1);
        free(work);
        free(ids);
        free(owner);
        free(expected);
        random_graph_free(r);
    }
}

/* The list of v is v % 3, so that parts hold one of three nodes from early on: part 32 knows that from part 0's. */
TEST(pagraph_knows_what_each_of_33_or_64_parts_holds)
{
    enum { N = 250 };
    int64_t indptr[N + 1] = {0}, cut;
    ggnn_node indices[N], ids[N];
    int32_t owner[N], expected[N];
    for (int v = 0; v < N; v++) {
        indptr[v + 1] = v + 1;
        indices[v] = v % 3;
        ids[v] = v;
    }
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, N);
    void* work = malloc(ggnn_partition_pagraph_workspace_bytes(N));
    for (int32_t parts = 33; parts <= 64; parts += 31) {
        ggnn_pagraph how = {ids, parts == 33 ? 122 : N, parts, 1, 1000};
        CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, NULL), GGNN_OK);
        CHECK_EQ(cut, 0);
        pagraph_oracle(expected, &g, &how);
        for (int v = 0; v < N; v++) CHECK_EQ(owner[v], expected[v]);
    }
    free(work);
}

/* More training nodes than 16 bits count, each with itself and, twice, node v % 2^16 as neighbours: the second time that node is known.
   Without hops all are equal, so that the parts take turns. */
TEST(pagraph_tells_70000_training_nodes_apart)
{
    enum { N = 70000, NEAR = 1 << 16 };
    int64_t *indptr = NEW(int64_t, N), cut;
    ggnn_node *indices = NEW(ggnn_node, 3 * N), *ids = NEW(ggnn_node, N);
    int32_t* owner = NEW(int32_t, N);
    void* work = malloc(ggnn_partition_pagraph_workspace_bytes(N));
    for (int v = 0; v < N; v++) {
        indptr[v + 1] = 3 * (v + 1);
        indices[3 * v] = ids[v] = v;
        indices[3 * v + 1] = indices[3 * v + 2] = v % NEAR;
    }
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, 3 * N);
    for (int64_t limit = 0; limit < 2; limit++) {
        const ggnn_pagraph how = {ids, N, 3, 1, limit};
        CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, NULL), GGNN_OK);
        CHECK_EQ(cut, limit ? 0 : N - NEAR);
    }
    const ggnn_pagraph how = {ids, N, 3, 0, 0};
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, NULL), GGNN_OK);
    int64_t turns = 0;
    for (int v = 0; v < N; v++) turns += owner[v] == v % 3;
    CHECK_EQ(turns, N);
    for (void** m = (void*[]){indptr, indices, ids, owner, work, NULL}; *m; m++) free(*m);
}

TEST(pagraph_refuses_what_is_no_training_node)
{
    static const int64_t indptr[] = {0, 1, 2, 3};
    ggnn_node indices[] = {1, 2, 0}, ids[] = {0, 3};
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 3, 3);
    ggnn_pagraph how = {ids, 2, 2, 1, 10};
    int32_t owner[3];
    int64_t cut;
    ggnn_fault fault;
    void* work = malloc(ggnn_partition_pagraph_workspace_bytes(3));
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 3);
    for (ggnn_node twice = 0; twice < 3; twice++) {
        ids[0] = ids[1] = twice;
        CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ID);
        CHECK(fault.node == twice && fault.edge == -1 && strstr(fault.what, "twice"));
    }
    ids[0] = -1;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, -1);
    ids[0] = 0;
    ids[1] = 1;
    indices[1] = -1;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 1);
    indices[0] = 3;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 0);
    how.parts = 65;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, &fault), GGNN_ERROR_ARGUMENT);
    how.parts = 2;
    how.hops = -1;
    CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &how, work, NULL), GGNN_ERROR_ARGUMENT);
    free(work);
}

/* ---- closures --------------------------------------------------------------------------------------------------- */

/* And the edges between parts are counted. */
TEST(a_part_holds_all_that_its_training_nodes_reach_by_hop)
{
    test_seed(42);
    for (int round = 0; round < 60; round++) {
        const int64_t n = 2 + test_below(60);
        random_graph* r = random_graph_new(n, 1, 3);
        int32_t *owner = NEW(int32_t, n), hops = (int32_t)test_below(4);
        ggnn_node *ids = NEW(ggnn_node, 2 * n), *list = NEW(ggnn_node, n);
        int64_t bound[6], count = 0, cut, apart = 0;
        memset(bound, 0xee, sizeof bound);
        uint8_t* work = NEW(uint8_t, n);
        for (int64_t v = 0; v < n; v++) {
            owner[v] = (int32_t)test_below(3);
            for (int64_t times = test_below(3); times > 0; times--) ids[count++] = (ggnn_node)v; /* a node twice is there once */
        }
        for (int64_t i = 0; i < count; i++) {
            const int64_t with = test_below(count);
            const ggnn_node id = ids[i];
            ids[i] = ids[with];
            ids[with] = id;
        }
        memset(work, round % 3, (size_t)n); /* whatever it holds */
        CHECK_EQ(ggnn_partition_closure(list, bound, &r->graph, owner, 1, ids, count, hops, work, NULL), GGNN_OK);
        CHECK_EQ(bound[0], 0);
        for (int32_t h = 0; h <= hops; h++) { /* what up to h hops reach is list[0 .. bound[h + 1]) */
            uint8_t *in = NEW(uint8_t, n), *listed = NEW(uint8_t, n);
            for (int64_t i = 0; i < count; i++)
                if (owner[ids[i]] == 1) reach(&r->graph, in, ids[i], h);
            for (int64_t i = 0; i < bound[h + 1]; i++) {
                CHECK(!listed[list[i]]);
                listed[list[i]] = 1;
            }
            CHECK(memcmp(in, listed, (size_t)n) == 0);
            free(in);
            free(listed);
        }
        for (int64_t v = 0; v < n; v++)
            for (int64_t e = r->indptr[v]; e < r->indptr[v + 1]; e++) apart += owner[r->indices[e]] != owner[v];
        CHECK_EQ(ggnn_partition_cut(&cut, &r->graph, owner, NULL), GGNN_OK);
        CHECK_EQ(cut, apart);
        free(owner);
        free(ids);
        free(list);
        free(work);
        random_graph_free(r);
    }
}

TEST(a_broken_graph_is_named_by_its_node)
{
    static const int64_t indptr[] = {0, 1, 2, 3};
    static const ggnn_node indices[] = {1, 2, 3}, ids[] = {0}, back[] = {3, 0, 1}, last[] = {2};
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 3, 3), backwards = ggnn_graph_plain(indptr, back, NULL, 3, 3);
    int32_t owner[3] = {0, 0, 0};
    ggnn_node list[3];
    int64_t bound[5], cut;
    uint8_t work[3];
    ggnn_fault fault;
    CHECK_EQ(ggnn_partition_cut(&cut, &g, owner, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 2);
    CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, ids, 1, 2, work, &fault), GGNN_OK);
    CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, ids, 1, 3, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 2);
    CHECK_EQ(ggnn_partition_closure(list, bound, &backwards, owner, 0, last, 1, 3, work, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 0); /* the last of {2, 1, 0} */
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 2, 3, 5, list, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 2);
    CHECK_EQ(ggnn_partition_mincut(owner, &backwards, 2, 3, 5, list, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 0);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 0, 3, 5, list, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 2, 0, 5, list, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 2, 3, -1, list, NULL), GGNN_ERROR_ARGUMENT);
}

/* One argument after the other is just outside its range, or just within. */
TEST(what_is_out_of_range_is_refused)
{
    static const int64_t indptr[] = {0, 1, 2, 3};
    static const ggnn_node indices[] = {1, 2, 0}, train[] = {0, 1};
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 3, 3);
    static const struct {
        int32_t parts, passes, slack;
        bool good;
    } mincut[] = {{0, 1, 0, false}, {1, 1, 0, true}, {64, 1, 0, true}, {65, 1, 0, false}, {1, 0, 0, false},
                  {1, 1, -1, false}, {1, 1, 10000, true}, {1, 1, 10001, false}};
    const ggnn_pagraph pagraph[] = {{train, 2, 1, 0, 0}, {train, 2, 64, 9, 0}, {train, 0, 1, 0, 0}, {NULL, 0, 1, 0, 0},
                                    {train, 2, 0, 0, 0}, {train, 2, 65, 0, 0}, {train, 2, 1, -1, 0}, {train, 2, 1, 0, -1},
                                    {train, -1, 1, 0, 0}, {NULL, 2, 1, 0, 0}}; /* the first four are good */
    static const ggnn_node wild[] = {3, -1};
    int32_t owner[4] = {0, 0, 0, 7}; /* the last is no node's */
    ggnn_node list[3];
    int64_t bound[5], cut, work[9];
    ggnn_fault fault;
    for (int i = 0; i < 8; i++) {
        const ggnn_status status = ggnn_partition_mincut(owner, &g, mincut[i].parts, mincut[i].passes, mincut[i].slack, list, &fault);
        CHECK_EQ(status, mincut[i].good ? GGNN_OK : GGNN_ERROR_ARGUMENT);
        CHECK(mincut[i].good ? !fault.what : fault.what && strstr(fault.what, "out of range") && fault.node == -1);
    }
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(ggnn_partition_pagraph(owner, &cut, &g, &pagraph[i], work, &fault), i < 4 ? GGNN_OK : GGNN_ERROR_ARGUMENT);
        CHECK(i < 4 ? !fault.what : fault.what && strstr(fault.what, "out of range") && fault.node == -1);
    }
    for (int v = 0; v < 3; v++) owner[v] = 0;
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, wild + i, 1, 1, work, &fault), GGNN_ERROR_ID);
        CHECK_EQ(fault.node, wild[i]);
        CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, i ? NULL : train, i ? 1 : -1, 1, work, &fault), GGNN_ERROR_ARGUMENT);
    }
    CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, train, 2, -1, work, &fault), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_partition_closure(list, bound, &g, owner, 0, NULL, 0, 1, work, &fault), GGNN_OK);
    CHECK(bound[0] == 0 && bound[1] == 0 && bound[2] == 0 && !fault.what);
}

/* ---- min-cut ---------------------------------------------------------------------------------------------------- */

typedef struct {
    double hash, mincut, largest; /* cut edges, %; the largest part over the mean */
} cuts;

static cuts cut_of(generate_kind kind, int64_t nodes, int64_t edges, int32_t parts)
{
    generate_options how = {kind, 1, nodes, edges, 0, -1, .8, -1, 0, NULL, false, 0, 0, TRAIN_EVENLY};
    generate_report report;
    error why = {""};
    char path[600];
    dataset d;
    cuts c = {0, 0, 0};
    folder_path(path, "graph.ggnn");
    if (!CHECK(generate_complete(&how, &why) && generate(path, &how, &report, &why) && dataset_open(&d, path, &why))) return c;
    ggnn_graph g = dataset_graph(&d);
    int32_t *owner = NEW(int32_t, nodes), *again = NEW(int32_t, nodes);
    ggnn_node* work = NEW(ggnn_node, nodes);
    int64_t cut, size[64] = {0};
    ggnn_partition_ids(owner, GGNN_OWNER_HASH, parts, nodes);
    CHECK_EQ(ggnn_partition_cut(&cut, &g, owner, NULL), GGNN_OK);
    c.hash = 100. * (double)cut / (double)d.num_edges;
    CHECK_EQ(ggnn_partition_mincut(owner, &g, parts, 10, 5, work, NULL), GGNN_OK);
    CHECK_EQ(ggnn_partition_cut(&cut, &g, owner, NULL), GGNN_OK);
    c.mincut = 100. * (double)cut / (double)d.num_edges;
    for (int64_t v = 0; v < nodes; v++)
        if (CHECK(owner[v] >= 0 && owner[v] < parts)) size[owner[v]]++;
    for (int32_t p = 0; p < parts; p++) {
        const double over = (double)size[p] * parts / (double)nodes;
        if (over > c.largest) c.largest = over;
    }
    CHECK_EQ(ggnn_partition_mincut(again, &g, parts, 10, 5, work, NULL), GGNN_OK);
    CHECK(memcmp(owner, again, (size_t)nodes * sizeof *owner) == 0);
    printf("  %s, %d parts: cut by hash %.1f%%, by mincut %.1f%%, largest part %.3f\n",
           (const char*[]){"planted", "citation", "rmat", "grid"}[kind], parts, c.hash, c.mincut, c.largest);
    free(owner);
    free(again);
    free(work);
    dataset_close(&d);
    return c;
}

TEST(mincut_cuts_far_fewer_edges_than_hash_and_keeps_parts_even)
{
    for (int32_t parts = 2; parts <= 8; parts += 2) {
        cuts grid = cut_of(KIND_GRID, 10000, -1, parts), planted = cut_of(KIND_PLANTED, 20000, 400000, parts);
        cuts citation = cut_of(KIND_CITATION, 20000, 160000, parts), rmat = cut_of(KIND_RMAT, 16384, 262144, parts);
        CHECK(grid.mincut < .15 * grid.hash);
        CHECK(planted.mincut < .6 * planted.hash);
        CHECK(citation.mincut < .6 * citation.hash);
        CHECK(rmat.mincut < .9 * rmat.hash);
        CHECK(grid.largest <= 1.051 && planted.largest <= 1.051 && citation.largest <= 1.051 && rmat.largest <= 1.051);
    }
}

/* Linear deterministic greedy, and moves, as ggnn_plan.h tells them: order and neighbours by a matrix of the edges. */
static void mincut_oracle(int32_t* owner, const ggnn_graph* g, int32_t parts, int32_t passes, int32_t slack)
{
    enum { MOST = 40 };
    const int64_t n = g->num_nodes;
    int64_t edges[MOST][MOST] = {{0}}, order[MOST], num = 0, room = 0, moved = 1;
    uint8_t in[MOST] = {0};
    while (room * 100 * parts < n * (100 + slack)) room++;
    for (int64_t v = 0; v < n; v++)
        for (int64_t e = g->whole.indptr[v]; e < g->whole.indptr[v + 1]; e++) edges[v][g->whole.indices[e]] += v != g->whole.indices[e];
    for (int64_t start = 0; start < n; start++) {
        if (in[start]) continue;
        in[start] = 1;
        order[num++] = start;
        for (int64_t i = num - 1; i < num; i++) {
            const ggnn_list list = ggnn_neighbors(g, (ggnn_node)order[i]);
            for (int64_t e = 0; e < list.degree; e++)
                if (!in[list.id[e]]) in[order[num++] = list.id[e]] = 1;
        }
    }
    for (int64_t v = 0; v < n; v++) owner[v] = -1;
    for (int32_t pass = 0; pass < 2 * passes && moved; pass++) {
        int64_t load[GGNN_PARTS_MAX] = {0};
        moved = pass < passes;
        for (int64_t v = 0; v < n && pass >= passes; v++) load[owner[v]]++;
        for (int64_t i = 0; i < n; i++) {
            const int64_t v = order[i];
            int64_t count[GGNN_PARTS_MAX] = {0};
            int32_t best = pass < passes ? -1 : owner[v];
            for (int64_t u = 0; u < n; u++)
                if (owner[u] >= 0) count[owner[u]] += edges[v][u];
            for (int32_t p = 0; p < parts; p++) {
                if (load[p] == room) continue;
                if (pass >= passes) best = count[p] > count[best] ? p : best;
                else if (best < 0 || count[p] * (room - load[p]) > count[best] * (room - load[best])) best = p;
                else if (count[p] * (room - load[p]) == count[best] * (room - load[best]) && load[p] < load[best]) best = p;
            }
            if (pass >= passes) {
                load[owner[v]]--;
                moved += best != owner[v];
            }
            owner[v] = best;
            load[best]++;
        }
    }
}

TEST(mincut_is_the_greedy_of_its_papers_then_moves)
{
    static const int32_t slacks[] = {0, 5, 40, 300, 10000};
    test_seed(43);
    for (int round = 0; round < 400; round++) {
        const bool tight = round % 8 == 7; /* 39 * 159 are 31 times 200, and 1: a room of 32 */
        const int64_t n = tight ? 39 : round % 40, parts = tight ? 2 : 1 + test_below(round % 10 ? 6 : 64);
        random_graph* r = random_graph_new(n, 1 + round % 4, n / 2 * (n > 0));
        int32_t owner[40], want[40];
        ggnn_node work[40];
        for (int64_t v = 2; round % 3 && v < n; v++) /* most neighbours near by */
            for (int64_t e = r->indptr[v]; e < r->indptr[v + 1]; e++)
                if (test_below(4)) r->indices[e] = (ggnn_node)((v + n - 2 + test_below(5)) % n);
        const int32_t passes = 1 + round % 5, slack = tight ? 59 : slacks[test_below(5)];
        mincut_oracle(want, &r->graph, (int32_t)parts, passes, slack);
        memset(owner, round % 3 ? 0xff : round % 2, sizeof owner); /* whatever was there: the parts of another graph, or none */
        CHECK_EQ(ggnn_partition_mincut(owner, &r->graph, (int32_t)parts, passes, slack, work, NULL), GGNN_OK);
        CHECK(memcmp(owner, want, (size_t)n * sizeof *owner) == 0);
        random_graph_free(r);
    }
}

TEST(mincut_takes_graphs_without_edges_more_parts_than_nodes_and_one_part)
{
    int64_t* indptr = NEW(int64_t, 100);
    int32_t owner[100];
    ggnn_node work[100];
    int64_t size[64] = {0}, cut;
    ggnn_graph g = ggnn_graph_plain(indptr, NULL, NULL, 100, 0);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 7, 3, 0, work, NULL), GGNN_OK);
    for (int v = 0; v < 100; v++) size[owner[v]]++;
    for (int p = 0; p < 7; p++) CHECK(size[p] == 14 || size[p] == 15);
    g = ggnn_graph_plain(indptr, NULL, NULL, 3, 0);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 64, 3, 0, work, NULL), GGNN_OK);
    CHECK(owner[0] != owner[1] && owner[1] != owner[2] && owner[0] != owner[2]);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 1, 3, 0, work, NULL), GGNN_OK);
    CHECK_EQ(ggnn_partition_cut(&cut, &g, owner, NULL), GGNN_OK);
    CHECK_EQ(cut, 0);
    g = ggnn_graph_plain(indptr, NULL, NULL, 0, 0);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 4, 3, 0, work, NULL), GGNN_OK);
    free(indptr);
}

/* 220,000 nodes times 10,100 % are more than 32 bits. Each node has the next one as neighbour: the pass, which sees the last node's
   alone, deals the others in turn. Then nodes move to their neighbours' parts; the one before the last is there. */
TEST(mincut_has_room_for_many_nodes)
{
    enum { N = 220000 };
    int64_t*   indptr = NEW(int64_t, N);
    int32_t*   owner = NEW(int32_t, N);
    ggnn_node *work = NEW(ggnn_node, N), *indices = NEW(ggnn_node, N);
    int64_t    turns = 0;
    for (int v = 0; v < N; v++) {
        indptr[v + 1] = v + 1;
        indices[v] = (v + 1) % N;
    }
    ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, N);
    CHECK_EQ(ggnn_partition_mincut(owner, &g, 2, 1, 10000, work, NULL), GGNN_OK);
    for (int v = 0; v < N; v++) turns += owner[v] == (v < N - 2 ? v + 1 : v) % 2;
    CHECK_EQ(turns, N);
    free(indptr);
    free(indices);
    free(owner);
    free(work);
}

/* Six parts of 600 nodes, without loops and with up to three of each node. */
TEST(mincut_takes_no_notice_of_self_loops)
{
    enum { NODES = 600, PARTS = 6 };
    random_graph* r = random_graph_new(NODES, 4, 30);
    int32_t       plain[NODES], looped[NODES];
    ggnn_node     work[NODES];
    int64_t       indptr[2][NODES + 1] = {{0}};
    ggnn_node*    indices[2] = {NEW(ggnn_node, r->num_edges), NEW(ggnn_node, r->num_edges + 3 * NODES)};
    for (int loops = 0; loops < 2; loops++)
        for (int v = 0; v < NODES; v++) {
            int64_t n = indptr[loops][v];
            for (int64_t e = r->indptr[v]; e < r->indptr[v + 1]; e++)
                if (r->indices[e] != v) indices[loops][n++] = r->indices[e];
            for (int i = 0; loops && i < v % 4; i++) indices[loops][n++] = (ggnn_node)v;
            indptr[loops][v + 1] = n;
        }
    ggnn_graph g = ggnn_graph_plain(indptr[0], indices[0], NULL, NODES, indptr[0][NODES]);
    CHECK_EQ(ggnn_partition_mincut(plain, &g, PARTS, 5, 5, work, NULL), GGNN_OK);
    g = ggnn_graph_plain(indptr[1], indices[1], NULL, NODES, indptr[1][NODES]);
    CHECK_EQ(ggnn_partition_mincut(looped, &g, PARTS, 5, 5, work, NULL), GGNN_OK);
    CHECK(memcmp(plain, looped, sizeof plain) == 0);
    free(indices[0]);
    free(indices[1]);
    random_graph_free(r);
}

/* A ring of 100 nodes, which likes long parts: sizes are at most ceil(100 (100 + slack) / (100 parts)), exactly. */
TEST(mincut_keeps_its_slack_to_the_node)
{
    int64_t   indptr[101] = {0};
    ggnn_node indices[200], work[100];
    int32_t   owner[100];
    for (int v = 0; v < 100; v++) {
        indices[2 * v] = (ggnn_node)((v + 99) % 100);
        indices[2 * v + 1] = (ggnn_node)((v + 1) % 100);
        indptr[v + 1] = 2 * v + 2;
    }
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 100, 200);
    for (int32_t parts = 2; parts <= 10; parts++)
        for (int32_t slack = 0; slack <= 40; slack += 20) {
            int64_t size[10] = {0};
            CHECK_EQ(ggnn_partition_mincut(owner, &g, parts, 4, slack, work, NULL), GGNN_OK);
            for (int v = 0; v < 100; v++) size[owner[v]]++;
            for (int p = 0; p < parts; p++) CHECK(size[p] <= (100 + slack + parts - 1) / parts);
        }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(owners_by_id_are_those_of_each_node);
    RUN(owners_by_id_are_even);
    RUN(a_partition_is_a_layout_of_ranges);
    RUN(pagraphs_scores_are_those_by_hand);
    RUN(pagraphs_parts_are_those_of_eq_1_disjoint_complete_and_even);
    RUN(pagraph_knows_what_each_of_33_or_64_parts_holds);
    RUN(pagraph_tells_70000_training_nodes_apart);
    RUN(pagraph_refuses_what_is_no_training_node);
    RUN(a_part_holds_all_that_its_training_nodes_reach_by_hop);
    RUN(a_broken_graph_is_named_by_its_node);
    RUN(what_is_out_of_range_is_refused);
    RUN(mincut_is_the_greedy_of_its_papers_then_moves);
    RUN_SLOW(mincut_cuts_far_fewer_edges_than_hash_and_keeps_parts_even);
    RUN(mincut_has_room_for_many_nodes);
    RUN(mincut_takes_no_notice_of_self_loops);
    RUN(mincut_keeps_its_slack_to_the_node);
    RUN(mincut_takes_graphs_without_edges_more_parts_than_nodes_and_one_part);
    folder_remove();
    return test_finish();
}
