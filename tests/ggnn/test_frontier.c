/* test_frontier.c - ggnn_frontier.h: hops against loops that look through lists, pyg-lib's published numbers, chi-square. */
#define GGNN_FRONTIER_IMPLEMENTATION
#include "ggnn_frontier.h"
#include <pthread.h>
#include <stdbool.h>
#include "tests/chi_square.h"
#include "tests/test.h"

enum { TYPES = 3, RELATIONS = 4, HOPS = 3, NODES = 60, ROOM = 40000 };

/* ==== a graph of some types of nodes and edges, and how it is sampled ============================================ */

typedef struct {
    int64_t indptr[NODES + 1], time[NODES * 80];
    ggnn_node indices[NODES * 80];
    float weight[NODES * 80];
} one_relation;

typedef struct {
    int32_t types, relations, hops, fanout[HOPS][RELATIONS];
    int64_t nodes[TYPES], node_time[TYPES][NODES];
    const int64_t* times[TYPES];
    bool timed;
    one_relation of[RELATIONS];
    ggnn_relation relation[RELATIONS];
    ggnn_rng rng;
    /* seeds by type */
    int64_t seeds[TYPES], time[TYPES][NODES];
    ggnn_node seed[TYPES][NODES];
    bool with_time, again; /* again: a hop asks all that were found */
} world;

static int by_time_of_edge(const void* a, const void* b) { return (*(const int64_t*)a > *(const int64_t*)b) - (*(const int64_t*)a < *(const int64_t*)b); }
static const int64_t* sorted_by;
static int by_time_of_node(const void* a, const void* b)
{
    const int64_t s = sorted_by[*(const ggnn_node*)a], t = sorted_by[*(const ggnn_node*)b];
    return (s > t) - (s < t);
}

/* weights: some are 0. node_times, edge_times: of every other type and relation. */
static void make_relation(world* w, int r, bool edge_times)
{
    one_relation* of = &w->of[r];
    ggnn_relation* relation = &w->relation[r];
    relation->src = (int32_t)test_below(w->types);
    relation->dst = (int32_t)test_below(w->types);
    const int64_t sources = w->nodes[relation->src], targets = w->nodes[relation->dst];
    int64_t edges = 0;
    for (int64_t v = 0; v < targets; v++) {
        const int64_t degree = sources == 0 ? 0 : test_below(4) == 0 ? test_below(80) : test_below(8);
        of->indptr[v] = edges;
        for (int64_t i = 0; i < degree; i++) {
            of->indices[edges + i] = (ggnn_node)test_below(sources);
            of->time[edges + i] = test_below(50);
            of->weight[edges + i] = test_below(5) ? (float)(1 + test_below(9)) : 0.0f;
        }
        if (edge_times) qsort(of->time + edges, (size_t)degree, sizeof *of->time, by_time_of_edge);
        sorted_by = w->times[relation->src];
        if (sorted_by && !edge_times) qsort(of->indices + edges, (size_t)degree, sizeof *of->indices, by_time_of_node);
        edges += degree;
    }
    of->indptr[targets] = edges;
    relation->lists = ggnn_graph_plain(of->indptr, of->indices, of->weight, targets, edges);
    relation->time = edge_times ? of->time : NULL;
}

static void make_world(world* w, bool node_times, bool edge_times)
{
    memset(w, 0, sizeof *w);
    w->types = (int32_t)(1 + test_below(TYPES));
    w->relations = (int32_t)(1 + test_below(RELATIONS));
    w->hops = (int32_t)(1 + test_below(HOPS));
    w->timed = node_times || edge_times;
    w->with_time = edge_times || test_below(2);
    w->rng.seed = test_random();
    w->rng.step = (uint32_t)test_below(1000);
    for (int t = 0; t < w->types; t++) {
        w->nodes[t] = test_below(9) ? 1 + test_below(NODES) : 0;
        for (int64_t v = 0; v < w->nodes[t]; v++) w->node_time[t][v] = test_below(50);
        if (node_times && (t == 0 || test_below(3))) w->times[t] = w->node_time[t];
        for (int64_t v = 0; v < w->nodes[t]; v++) /* distinct seeds, in no order */
            if (test_below(6) == 0) w->seed[t][w->seeds[t]++] = (ggnn_node)v;
        for (int64_t i = w->seeds[t] - 1; i > 0; i--) {
            const int64_t j = test_below(i + 1);
            const ggnn_node v = w->seed[t][i];
            w->seed[t][i] = w->seed[t][j];
            w->seed[t][j] = v;
        }
        for (int64_t i = 0; i < w->seeds[t]; i++) w->time[t][i] = test_below(60);
        if (w->timed && !w->with_time && !w->times[t]) w->seeds[t] = 0;
    }
    for (int r = 0; r < w->relations; r++) make_relation(w, r, edge_times && (r == 0 || test_below(3)));
    for (int h = 0; h < w->hops; h++)
        for (int r = 0; r < w->relations; r++) w->fanout[h][r] = (int32_t)(test_below(8) == 0 ? -1 : test_below(5) == 0 ? 20 + test_below(30) : test_below(6));
}

/* ==== what a hop shall do, by loops ================================================================================ */

typedef struct {
    int64_t nodes[TYPES], id[TYPES][ROOM], subgraph[TYPES][ROOM], edges[RELATIONS], src[RELATIONS][ROOM], dst[RELATIONS][ROOM], position[RELATIONS][ROOM];
    int64_t time[TYPES * NODES];
} answer;

static int64_t place_of(answer* a, int type, int64_t id, int64_t subgraph)
{
    int64_t i = 0;
    while (i < a->nodes[type] && (a->id[type][i] != id || a->subgraph[type][i] != subgraph)) i++;
    if (i == a->nodes[type]) {
        a->id[type][i] = id;
        a->subgraph[type][i] = subgraph;
        a->nodes[type]++;
    }
    return i;
}

static void expect(answer* a, const world* w, ggnn_method method, bool disjoint, bool latest)
{
    static int64_t offset[ROOM];
    static char work[1 << 16];
    int64_t begin[TYPES] = {0}, end[TYPES], subgraphs = 0;
    memset(a, 0, sizeof *a);
    for (int t = 0; t < w->types; t++)
        for (int64_t i = 0; i < w->seeds[t]; i++, subgraphs++) {
            place_of(a, t, w->seed[t][i], disjoint ? subgraphs : 0);
            a->time[subgraphs] = w->with_time ? w->time[t][i] : w->node_time[t][w->seed[t][i]];
        }
    for (int h = 0; h < w->hops; h++) {
        for (int t = 0; t < w->types; t++) end[t] = a->nodes[t];
        for (int r = 0; r < w->relations; r++) {
            const ggnn_relation* relation = &w->relation[r];
            const one_relation* of = &w->of[r];
            const int64_t fanout = w->fanout[h][r];
            ggnn_rng rng = w->rng;
            if (r > 0) rng.seed = ggnn_mix(rng.seed + (uint64_t)r * 0x9E3779B97F4A7C15u);
            for (int64_t i = begin[relation->dst]; i < end[relation->dst]; i++) {
                const int64_t v = a->id[relation->dst][i], subgraph = a->subgraph[relation->dst][i];
                int64_t first = of->indptr[v], last = of->indptr[v];
                while (last < of->indptr[v + 1] && (!w->timed || (relation->time ? relation->time[last] <= a->time[subgraph]
                                                                  : w->times[relation->src] ? w->times[relation->src][of->indices[last]] <= a->time[subgraph] : true)))
                    last++;
                if (latest && (relation->time || w->times[relation->src]) && fanout >= 0 && last - first > fanout) first = last - fanout;
                const ggnn_list list = {of->indices + first, of->weight + first, last - first, first};
                const int64_t m = ggnn_sample_list(offset, &list, method, fanout, &rng, h, (ggnn_node)(subgraph * w->nodes[relation->dst] + v), work);
                for (int64_t j = 0; j < m; j++) {
                    const int64_t e = a->edges[r]++;
                    a->src[r][e] = place_of(a, relation->src, of->indices[first + offset[j]], subgraph);
                    a->dst[r][e] = i;
                    a->position[r][e] = first + offset[j];
                }
            }
        }
        for (int t = 0; t < w->types; t++) begin[t] = w->again ? 0 : end[t];
    }
}

/* ==== what it does ================================================================================================= */

typedef struct {
    ggnn_frontier f;
    ggnn_found found[TYPES];
    ggnn_taken taken[RELATIONS];
    int64_t seed_time[TYPES * NODES];
    int64_t most; /* room of each array */
} memory;

static void give_room(memory* m, int64_t room)
{
    for (int t = 0; t < m->f.num_types; t++) {
        m->found[t].max = room;
        m->found[t].id = realloc(m->found[t].id, (size_t)(room + 1) * sizeof(ggnn_node));
        m->found[t].subgraph = realloc(m->found[t].subgraph, (size_t)(room + 1) * 4);
        m->found[t].key = m->f.disjoint ? realloc(m->found[t].key, (size_t)(room + 1) * sizeof(ggnn_node)) : m->found[t].id;
        void* old = m->found[t].table;
        CHECK_EQ(ggnn_frontier_table(&m->f, t, malloc(ggnn_frontier_table_bytes(&m->f, t))), GGNN_OK);
        free(old);
    }
    for (int r = 0; r < m->f.num_relations; r++) {
        m->taken[r].max = room;
        m->taken[r].src = realloc(m->taken[r].src, (size_t)(room + 1) * sizeof(ggnn_node));
        m->taken[r].dst = realloc(m->taken[r].dst, (size_t)(room + 1) * sizeof(ggnn_node));
        m->taken[r].position = realloc(m->taken[r].position, (size_t)(room + 1) * 8);
    }
}

static void begin_memory(memory* m, const world* w, ggnn_method method, bool disjoint, bool latest, int64_t room)
{
    memset(m, 0, sizeof *m);
    m->f.num_types = w->types;
    m->f.num_relations = w->relations;
    m->f.num_nodes = w->nodes;
    m->f.relation = w->relation;
    m->f.node_time = w->times;
    m->f.method = method;
    m->f.disjoint = disjoint;
    m->f.latest = latest;
    m->f.found = m->found;
    m->f.taken = m->taken;
    m->f.seed_time = w->timed ? m->seed_time : NULL;
    m->f.workspace = malloc(1 << 16);
    give_room(m, room);
}

static void end_memory(memory* m)
{
    for (int t = 0; t < TYPES; t++) free(m->found[t].id), free(m->found[t].subgraph), free(m->f.disjoint ? m->found[t].key : NULL), free(m->found[t].table);
    for (int r = 0; r < RELATIONS; r++) free(m->taken[r].src), free(m->taken[r].dst), free(m->taken[r].position);
    free(m->f.workspace);
}

static ggnn_status begin_batch(memory* m, const world* w)
{
    ggnn_status status = ggnn_frontier_begin(&m->f);
    for (int t = 0; t < w->types && status == GGNN_OK; t++)
        if (w->seeds[t]) status = ggnn_frontier_seeds(&m->f, t, w->seed[t], w->with_time ? w->time[t] : NULL, w->seeds[t]);
    return status;
}

/* Where a hop has no room, memory grows to what it needs, amid the batch. */
static ggnn_status sample(memory* m, const world* w)
{
    ggnn_status status = begin_batch(m, w);
    for (int h = 0; h < w->hops && status == GGNN_OK; h++) {
        for (int t = 0; w->again && t < w->types; t++) m->found[t].begin = 0;
        status = ggnn_frontier_hop(&m->f, &w->rng, w->fanout[h]);
        if (status != GGNN_ERROR_CAPACITY) continue;
        int64_t need = 0;
        for (int t = 0; t < w->types; t++) need = need < m->found[t].need ? m->found[t].need : need;
        for (int r = 0; r < w->relations; r++) need = need < m->taken[r].need ? m->taken[r].need : need;
        give_room(m, need);
        status = ggnn_frontier_hop(&m->f, &w->rng, w->fanout[h]);
    }
    return status;
}

static void compare(const memory* m, const answer* a, const world* w)
{
    for (int t = 0; t < w->types; t++) {
        CHECK_EQ(m->found[t].count, a->nodes[t]);
        int same = m->found[t].count == a->nodes[t];
        for (int64_t i = 0; same && i < a->nodes[t]; i++)
            same = m->found[t].id[i] == a->id[t][i] && (!m->f.disjoint || m->found[t].subgraph[i] == a->subgraph[t][i]);
        CHECK(same);
    }
    for (int r = 0; r < w->relations; r++) {
        CHECK_EQ(m->taken[r].count, a->edges[r]);
        int same = m->taken[r].count == a->edges[r];
        for (int64_t e = 0; same && e < a->edges[r]; e++)
            same = m->taken[r].src[e] == a->src[r][e] && m->taken[r].dst[e] == a->dst[r][e] && m->taken[r].position[e] == a->position[r][e];
        CHECK(same);
    }
}

static void agrees(int trials, bool disjoint, bool node_times, bool edge_times, bool latest, bool again)
{
    static world w;
    static answer a;
    for (int i = 0; i < trials; i++) {
        memory m;
        const ggnn_method method = (ggnn_method)test_below(GGNN_WALK);
        make_world(&w, node_times, edge_times);
        w.again = again;
        if (w.timed && method == GGNN_WEIGHTED) continue;
        expect(&a, &w, method, disjoint, latest);
        begin_memory(&m, &w, method, disjoint, latest, i % 2 ? ROOM : NODES); /* seeds fit; hops may not */
        CHECK_EQ(sample(&m, &w), GGNN_OK);
        compare(&m, &a, &w);
        CHECK_EQ(sample(&m, &w), GGNN_OK); /* the table forgets */
        compare(&m, &a, &w);
        end_memory(&m);
    }
}

TEST(hops_find_what_loops_find) { agrees(400, false, false, false, false, false); }
TEST(disjoint_hops_find_what_loops_find) { agrees(400, true, false, false, false, false); }
TEST(no_node_is_later_than_its_seed) { agrees(400, true, true, false, false, false); }
TEST(no_edge_is_later_than_its_seed) { agrees(400, true, false, true, false, false); }
TEST(the_latest_nodes_and_edges_are_taken) { agrees(300, true, true, false, true, false), agrees(300, true, false, true, true, false); }
TEST(a_hop_from_0_on_asks_all_again) { agrees(300, false, false, false, false, true), agrees(300, true, true, false, false, true); }

/* Hops that ask all again are ggnn_sample's: the same nodes, and each hop's edges, bit for bit. */
TEST(draws_are_those_of_ggnn_sample)
{
    static world w;
    memory m;
    for (int i = 0; i < 100; i++) {
        do make_world(&w, false, false);
        while (w.relation[0].src || w.relation[0].dst || !w.seeds[0]);
        w.types = w.relations = 1;
        w.again = true;
        ggnn_sampling how = {.method = (ggnn_method)test_below(GGNN_WALK), .num_hops = w.hops, .keep = GGNN_KEEP_POSITIONS};
        for (int h = 0; h < w.hops; h++) how.fanout[h] = w.fanout[h][0];
        ggnn_batch b;
        CHECK_EQ(ggnn_batch_new(&b, &w.relation[0].lists, &how, w.seeds[0]), GGNN_OK);
        CHECK_EQ(ggnn_sample(&b, &w.relation[0].lists, &w.rng, w.seed[0], w.seeds[0]), GGNN_OK);
        begin_memory(&m, &w, how.method, false, false, ROOM);
        CHECK_EQ(sample(&m, &w), GGNN_OK);
        int64_t edges = 0;
        for (int h = 0; h < w.hops; h++) {
            const ggnn_block* hop = &b.hop[h];
            CHECK(memcmp(m.taken[0].position + edges, hop->position, (size_t)*hop->num_edges.n * 8) == 0);
            for (int64_t v = 0; v < *hop->num_dst.n; v++)
                for (int64_t e = hop->indptr[v]; e < hop->indptr[v + 1]; e++) CHECK(m.taken[0].src[edges + e] == hop->indices[e] && m.taken[0].dst[edges + e] == v);
            edges += *hop->num_edges.n;
        }
        CHECK_EQ(m.taken[0].count, edges);
        CHECK_EQ(m.found[0].count, *b.hop[w.hops - 1].num_src.n);
        CHECK(memcmp(m.found[0].id, b.id, (size_t)m.found[0].count * sizeof *b.id) == 0);
        ggnn_batch_free(&b);
        end_memory(&m);
    }
}

/* ==== pyg-lib's expectations that name no draw (test/csrc/sampler/test_neighbor.cpp) ============================== */

enum { CYCLE = 6 };
static int64_t cycle_indptr[CYCLE + 1], cycle_time[2 * CYCLE];
static ggnn_node cycle_indices[2 * CYCLE];
static float cycle_weight[2 * CYCLE];

/* Of node v: v - 1, v + 1; sorted by id, where times want it. */
static void make_cycle(world* w, bool sorted)
{
    memset(w, 0, sizeof *w);
    w->types = w->relations = 1;
    w->nodes[0] = CYCLE;
    for (int64_t v = 0; v < CYCLE; v++) {
        const ggnn_node a = (ggnn_node)((v + CYCLE - 1) % CYCLE), b = (ggnn_node)((v + 1) % CYCLE);
        cycle_indptr[v + 1] = 2 * v + 2;
        cycle_indices[2 * v] = sorted && b < a ? b : a;
        cycle_indices[2 * v + 1] = sorted && b < a ? a : b;
        cycle_time[2 * v] = 2 * v;
        cycle_time[2 * v + 1] = 2 * v + 1;
        cycle_weight[2 * v] = 1;
        cycle_weight[2 * v + 1] = 0;
        w->node_time[0][v] = v;
    }
    w->relation[0].lists = ggnn_graph_plain(cycle_indptr, cycle_indices, cycle_weight, CYCLE, 2 * CYCLE);
}

#define SAME(array, ...)                                                                              \
    do {                                                                                              \
        const int64_t wanted[] = {__VA_ARGS__};                                                       \
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) CHECK_EQ((array)[i], wanted[i]);  \
    } while (0)

static void sample_cycle(memory* m, world* w, ggnn_method method, bool disjoint, bool latest, int64_t* id)
{
    begin_memory(m, w, method, disjoint, latest, 64);
    CHECK_EQ(sample(m, w), GGNN_OK);
    for (int64_t i = 0; i < m->found[0].count; i++) id[i] = m->found[0].id[i];
}

TEST(numbers_are_those_that_pyg_lib_publishes)
{
    static world w;
    memory m;
    int64_t id[64];
    make_cycle(&w, false); /* Basic: seeds 2, 3, all neighbours of two hops */
    w.hops = 2, w.seeds[0] = 2, w.seed[0][0] = 2, w.seed[0][1] = 3;
    w.fanout[0][0] = w.fanout[1][0] = -1;
    sample_cycle(&m, &w, GGNN_FISHER_YATES, false, false, id);
    CHECK(m.found[0].count == 6 && m.taken[0].count == 8);
    SAME(m.taken[0].dst, 0, 0, 1, 1, 2, 2, 3, 3);
    SAME(m.taken[0].src, 2, 1, 0, 3, 4, 0, 1, 5);
    SAME(id, 2, 3, 1, 4, 0, 5);
    SAME(m.taken[0].position, 4, 5, 6, 7, 2, 3, 8, 9);
    end_memory(&m);

    w.fanout[0][0] = w.fanout[1][0] = 2; /* Disjoint */
    sample_cycle(&m, &w, GGNN_FISHER_YATES, true, false, id);
    CHECK(m.found[0].count == 10 && m.taken[0].count == 12);
    SAME(m.taken[0].dst, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5);
    SAME(m.taken[0].src, 2, 3, 4, 5, 6, 0, 0, 7, 8, 1, 1, 9);
    SAME(m.taken[0].position, 4, 5, 6, 7, 2, 3, 6, 7, 4, 5, 8, 9);
    SAME(id, 2, 3, 1, 3, 2, 4, 0, 4, 1, 5);
    static const int32_t of_seed[] = {0, 1, 0, 0, 1, 1, 0, 0, 1, 1};
    CHECK(memcmp(m.found[0].subgraph, of_seed, sizeof of_seed) == 0);
    end_memory(&m);

    for (int latest = 0; latest < 2; latest++) { /* NodeTemporal, by either strategy */
        make_cycle(&w, true);
        w.hops = 2, w.seeds[0] = 2, w.seed[0][0] = 2, w.seed[0][1] = 3;
        w.timed = true, w.times[0] = w.node_time[0];
        w.fanout[0][0] = latest ? 1 : 2, w.fanout[1][0] = 2;
        sample_cycle(&m, &w, GGNN_FISHER_YATES, true, latest, id);
        CHECK_EQ(m.taken[0].count, 6);
        SAME(m.taken[0].dst, 0, 1, 2, 2, 3, 3);
        SAME(m.taken[0].src, 2, 3, 4, 0, 5, 1);
        SAME(m.taken[0].position, 4, 6, 2, 3, 4, 5);
        end_memory(&m);
    }

    w.times[0] = NULL, w.with_time = true, w.time[0][0] = 5, w.time[0][1] = 6; /* EdgeTemporal */
    make_cycle(&w, false);
    w.hops = 2, w.seeds[0] = 2, w.seed[0][0] = 2, w.seed[0][1] = 3;
    w.timed = w.with_time = true, w.time[0][0] = 5, w.time[0][1] = 6;
    w.relation[0].time = cycle_time;
    w.fanout[0][0] = w.fanout[1][0] = 2;
    sample_cycle(&m, &w, GGNN_FISHER_YATES, true, false, id);
    CHECK_EQ(m.taken[0].count, 7);
    SAME(m.taken[0].dst, 0, 0, 1, 2, 2, 4, 4);
    SAME(m.taken[0].src, 2, 3, 4, 5, 0, 6, 1);
    SAME(m.taken[0].position, 4, 5, 6, 2, 3, 4, 5);
    end_memory(&m);

    make_cycle(&w, false); /* Biased: an edge of weight 0 is not taken */
    w.hops = 1, w.seeds[0] = 2, w.seed[0][0] = 0, w.seed[0][1] = 1;
    w.fanout[0][0] = 1;
    sample_cycle(&m, &w, GGNN_WEIGHTED, false, false, id);
    CHECK_EQ(m.taken[0].count, 2);
    SAME(m.taken[0].dst, 0, 1);
    SAME(m.taken[0].src, 2, 0);
    SAME(id, 0, 1, 5);
    SAME(m.taken[0].position, 0, 2);
    end_memory(&m);
}

/* ==== chance ======================================================================================================= */

/* One node with n neighbours and a seed's subgraph for each of SUBGRAPHS: how often each neighbour was taken. */
enum { NEIGHBORS = 24, SUBGRAPHS = 20000 };

static void count_taken(int64_t* count, ggnn_method method, int32_t fanout, const float* weight, const int64_t* time, int64_t seed_time)
{
    const int64_t n = NEIGHBORS, indptr[] = {0, n};
    ggnn_node indices[NEIGHBORS], * seed = malloc(SUBGRAPHS * sizeof *seed);
    int64_t* times = malloc(SUBGRAPHS * sizeof *times);
    for (int i = 0; i < NEIGHBORS; i++) indices[i] = (ggnn_node)i;
    for (int i = 0; i < SUBGRAPHS; i++) seed[i] = 0, times[i] = seed_time;
    const int64_t nodes[] = {1, n}; /* of targets, of sources */
    const ggnn_relation relation = {1, 0, ggnn_graph_plain(indptr, indices, weight, 1, n), time};
    ggnn_found found[2] = {{.max = SUBGRAPHS}, {.max = (int64_t)SUBGRAPHS * fanout}};
    ggnn_taken taken = {.max = (int64_t)SUBGRAPHS * fanout};
    ggnn_frontier f = {.num_types = 2, .num_relations = 1, .num_nodes = nodes, .relation = &relation, .method = method, .disjoint = 1, .found = found, .taken = &taken};
    const ggnn_rng rng = {7, 3, GGNN_PURPOSE_SAMPLE};
    f.seed_time = time ? malloc(SUBGRAPHS * sizeof(int64_t)) : NULL;
    f.workspace = malloc(1 << 16);
    for (int t = 0; t < 2; t++) {
        found[t].id = malloc((size_t)found[t].max * sizeof(ggnn_node));
        found[t].subgraph = malloc((size_t)found[t].max * 4);
        found[t].key = malloc((size_t)found[t].max * sizeof(ggnn_node));
        CHECK_EQ(ggnn_frontier_table(&f, t, malloc(ggnn_frontier_table_bytes(&f, t))), GGNN_OK);
    }
    taken.src = malloc((size_t)taken.max * sizeof(ggnn_node));
    taken.dst = malloc((size_t)taken.max * sizeof(ggnn_node));
    taken.position = malloc((size_t)taken.max * 8);
    CHECK_EQ(ggnn_frontier_begin(&f), GGNN_OK);
    CHECK_EQ(ggnn_frontier_seeds(&f, 0, seed, time ? times : NULL, SUBGRAPHS), GGNN_OK);
    CHECK_EQ(ggnn_frontier_hop(&f, &rng, &fanout), GGNN_OK);
    CHECK_EQ(taken.count, (int64_t)SUBGRAPHS * fanout);
    memset(count, 0, NEIGHBORS * sizeof *count);
    for (int64_t e = 0; e < taken.count; e++) count[taken.position[e]]++;
    for (int t = 0; t < 2; t++) free(found[t].id), free(found[t].subgraph), free(found[t].key), free(found[t].table);
    free(taken.src), free(taken.dst), free(taken.position), free(f.seed_time), free(f.workspace), free(seed), free(times);
}

/* The same node draws afresh in each subgraph. */
TEST(each_neighbor_is_taken_as_often_in_disjoint_subgraphs)
{
    int64_t count[NEIGHBORS];
    const int32_t m = 5, n = NEIGHBORS;
    count_taken(count, GGNN_FISHER_YATES, m, NULL, NULL, 0);
    CHECK(chi_square_uniform(count, n, (double)m * SUBGRAPHS, (1.0 - (double)m / n) * n / (n - 1)));
    count_taken(count, GGNN_REPLACEMENT, m, NULL, NULL, 0);
    CHECK(chi_square_uniform(count, n, (double)m * SUBGRAPHS, 1));
}

TEST(each_neighbor_in_time_is_taken_as_often)
{
    int64_t count[NEIGHBORS], time[NEIGHBORS];
    const int32_t m = 5, n = 17; /* times 0 .. 16 */
    for (int i = 0; i < NEIGHBORS; i++) time[i] = i;
    count_taken(count, GGNN_FISHER_YATES, m, NULL, time, n - 1);
    CHECK(chi_square_uniform(count, n, (double)m * SUBGRAPHS, (1.0 - (double)m / n) * n / (n - 1)));
    for (int i = n; i < NEIGHBORS; i++) CHECK_EQ(count[i], 0);
}

TEST(a_neighbor_is_taken_as_often_as_its_weight_says)
{
    int64_t count[NEIGHBORS];
    float weight[NEIGHBORS];
    double expected[NEIGHBORS], sum = 0;
    for (int i = 0; i < NEIGHBORS; i++) weight[i] = (float)(1 + i % 7), sum += weight[i];
    for (int i = 0; i < NEIGHBORS; i++) expected[i] = SUBGRAPHS * (double)weight[i] / sum;
    count_taken(count, GGNN_WEIGHTED, 1, weight, NULL, 0);
    CHECK(chi_square(count, expected, NEIGHBORS) < chi_square_bound(NEIGHBORS - 1));
}

TEST(relations_draw_apart)
{
    static world w;
    memory m;
    do make_world(&w, false, false);
    while (w.nodes[0] < 20);
    w.types = 1, w.relations = 2, w.hops = 1, w.seeds[0] = 1, w.seed[0][0] = 3, w.fanout[0][0] = w.fanout[0][1] = 8;
    static int64_t indptr[NODES + 1];
    static ggnn_node indices[1000];
    for (int64_t v = 0; v <= w.nodes[0]; v++) indptr[v] = v > 3 ? 1000 : 0; /* node 3 has all edges */
    for (int i = 0; i < 1000; i++) indices[i] = (ggnn_node)(i % w.nodes[0]);
    for (int r = 0; r < 2; r++) w.relation[r] = (ggnn_relation){0, 0, ggnn_graph_plain(indptr, indices, NULL, w.nodes[0], 1000), NULL};
    begin_memory(&m, &w, GGNN_FISHER_YATES, false, false, ROOM);
    CHECK_EQ(sample(&m, &w), GGNN_OK);
    CHECK(m.taken[0].count == 8 && m.taken[1].count == 8);
    CHECK(memcmp(m.taken[0].position, m.taken[1].position, 8 * sizeof(int64_t)) != 0);
    end_memory(&m);
}

/* ==== room, threads, mistakes ===================================================================================== */

TEST(a_hop_without_room_changes_nothing_and_says_what_it_needs)
{
    static world w;
    static answer a;
    int refused = 0;
    for (int i = 0; i < 60; i++) {
        memory m;
        make_world(&w, i % 2, false);
        expect(&a, &w, GGNN_FISHER_YATES, i % 2, false);
        begin_memory(&m, &w, GGNN_FISHER_YATES, i % 2, false, NODES);
        CHECK_EQ(begin_batch(&m, &w), GGNN_OK);
        for (int h = 0; h < w.hops; h++) {
            const memory before = m;
            const ggnn_status status = ggnn_frontier_hop(&m.f, &w.rng, w.fanout[h]);
            if (status == GGNN_OK) continue;
            CHECK_EQ(status, GGNN_ERROR_CAPACITY);
            refused++;
            int64_t need = NODES;
            for (int t = 0; t < w.types; t++) {
                CHECK(m.found[t].count == before.found[t].count && m.found[t].begin == before.found[t].begin && m.found[t].end == before.found[t].end);
                CHECK(i % 2 || m.found[t].need <= w.nodes[t]); /* no more than there are */
                need = need < m.found[t].need ? m.found[t].need : need;
            }
            for (int r = 0; r < w.relations; r++) {
                CHECK_EQ(m.taken[r].count, before.taken[r].count);
                need = need < m.taken[r].need ? m.taken[r].need : need;
            }
            CHECK(need > NODES);
            give_room(&m, need - 1); /* one less is too little for some array */
            CHECK_EQ(ggnn_frontier_hop(&m.f, &w.rng, w.fanout[h]), GGNN_ERROR_CAPACITY);
            give_room(&m, need);
            CHECK_EQ(ggnn_frontier_hop(&m.f, &w.rng, w.fanout[h]), GGNN_OK);
        }
        compare(&m, &a, &w);
        end_memory(&m);
    }
    CHECK(refused > 20);
}

typedef struct {
    const world* w;
    const answer* a;
} thread_work;

static void* sample_many(void* argument)
{
    const thread_work* work = argument;
    memory m;
    begin_memory(&m, work->w, GGNN_FISHER_YATES, true, false, ROOM);
    for (int i = 0; i < 50; i++) {
        CHECK_EQ(sample(&m, work->w), GGNN_OK);
        compare(&m, work->a, work->w);
    }
    end_memory(&m);
    return NULL;
}

TEST(threads_with_a_frontier_each_find_the_same)
{
    static world w;
    static answer a;
    const thread_work work = {&w, &a};
    do make_world(&w, true, false);
    while (!w.seeds[0]);
    expect(&a, &w, GGNN_FISHER_YATES, true, false);
    for (int threads = 1; threads <= 7; threads += threads == 1 ? 1 : 5) {
        pthread_t thread[7];
        for (int i = 0; i < threads; i++) pthread_create(&thread[i], NULL, sample_many, (void*)(uintptr_t)&work);
        for (int i = 0; i < threads; i++) pthread_join(thread[i], NULL);
    }
}

static const char* why(const memory* m) { return m->f.fault.what ? m->f.fault.what : ""; }

TEST(what_cannot_be_sampled_is_said)
{
    static world w;
    memory m;
    do make_world(&w, true, false);
    while (w.seeds[0] < 2 || w.nodes[0] < 9);
    begin_memory(&m, &w, GGNN_FISHER_YATES, true, false, ROOM);
    m.f.disjoint = 0;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "times need disjoint subgraphs");
    m.f.disjoint = 1, m.f.method = GGNN_WEIGHTED;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "weights do not go with times");
    m.f.method = GGNN_WALK;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "the method takes no edges of a list");
    m.f.method = GGNN_FISHER_YATES, m.f.seed_time = NULL;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "seed_time goes with times");
    m.f.seed_time = m.seed_time, w.relation[0].src = 7;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "a relation's type is out of range");
    w.relation[0].src = 0, w.relation[0].lists.num_nodes++;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "a relation has another number of lists");
    w.relation[0].lists.num_nodes--;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_OK);
    w.times[0] = NULL, w.with_time = false; /* a seed of a type without times */
    m.f.seed_time = m.seed_time;
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, 1), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "a seed has no time");
    end_memory(&m);

    do make_world(&w, false, false);
    while (w.seeds[0] < 2 || w.relation[0].dst || w.relation[0].src || w.of[0].indptr[w.nodes[0]] < 9);
    w.seed[0][1] = w.seed[0][0];
    begin_memory(&m, &w, GGNN_FISHER_YATES, false, false, ROOM);
    CHECK_EQ(begin_batch(&m, &w), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "a seed is given twice");
    CHECK_EQ(m.f.fault.node, w.seed[0][0]);
    w.seed[0][1] = (ggnn_node)w.nodes[0];
    CHECK_EQ(begin_batch(&m, &w), GGNN_ERROR_ID);
    CHECK_EQ(m.f.fault.node, w.nodes[0]);
    w.seed[0][1] = -1;
    CHECK_EQ(begin_batch(&m, &w), GGNN_ERROR_ID);
    w.seeds[0] = 1;

    int64_t v = 0; /* a source that there is not, a list that is broken: of the one seed */
    while (w.of[0].indptr[v + 1] == w.of[0].indptr[v]) v++;
    w.seed[0][0] = (ggnn_node)v, w.hops = 1, w.fanout[0][0] = -1;
    w.of[0].indices[w.of[0].indptr[v]] = (ggnn_node)w.nodes[0];
    CHECK_EQ(sample(&m, &w), GGNN_ERROR_ID);
    CHECK(m.f.fault.node == v && m.f.fault.hop == 0 && m.f.failed_at == 0);
    CHECK(m.found[0].count == 0 && m.taken[0].count == 0);
    w.of[0].indices[w.of[0].indptr[v]] = 0;
    CHECK_EQ(sample(&m, &w), GGNN_OK);
    w.of[0].indptr[v + 1] = w.of[0].indptr[v] - 1;
    CHECK_EQ(sample(&m, &w), GGNN_ERROR_ID);
    CHECK_EQ(m.f.fault.node, v);
    end_memory(&m);
}

TEST(bad_weights_and_sources_that_times_meet_are_errors)
{
    static world w;
    memory m;
    do make_world(&w, true, false);
    while (!w.times[0] || w.relation[0].src || w.relation[0].dst || w.of[0].indptr[w.nodes[0]] < 9);
    int64_t v = 0;
    while (w.of[0].indptr[v + 1] == w.of[0].indptr[v]) v++;
    for (int t = 0; t < w.types; t++) w.seeds[t] = t == 0;
    w.seed[0][0] = (ggnn_node)v, w.hops = 1, w.fanout[0][0] = 3;
    for (int64_t e = w.of[0].indptr[v]; e < w.of[0].indptr[v + 1]; e++) w.of[0].indices[e] = (ggnn_node)w.nodes[0];
    int64_t* times = malloc((size_t)w.nodes[0] * sizeof *times); /* a sanitizer sees what is read behind it */
    memcpy(times, w.node_time[0], (size_t)w.nodes[0] * sizeof *times);
    w.times[0] = times;
    begin_memory(&m, &w, GGNN_FISHER_YATES, true, false, ROOM);
    CHECK_EQ(sample(&m, &w), GGNN_ERROR_ID);
    CHECK_EQ(m.f.fault.node, v);
    end_memory(&m);
    free(times);
    w.times[0] = w.times[1] = w.times[2] = NULL, w.timed = false;
    for (int64_t e = w.of[0].indptr[v]; e < w.of[0].indptr[v + 1]; e++) w.of[0].indices[e] = 0, w.of[0].weight[e] = -1;
    begin_memory(&m, &w, GGNN_WEIGHTED, false, false, ROOM);
    CHECK_EQ(sample(&m, &w), GGNN_ERROR_WEIGHT);
    end_memory(&m);
}

/* A relation of which nothing is taken needs no arrays; one that has room needs all three. */
TEST(nothing_to_take_needs_no_memory)
{
    static world w;
    memory m;
    do make_world(&w, false, false);
    while (!w.seeds[0]);
    for (int r = 0; r < w.relations; r++) {
        memset(w.of[r].indptr, 0, sizeof w.of[r].indptr);
        w.relation[r].lists.num_edges = 0;
    }
    begin_memory(&m, &w, GGNN_FISHER_YATES, false, false, NODES);
    for (int r = 0; r < w.relations; r++) {
        free(m.taken[r].src), free(m.taken[r].dst), free(m.taken[r].position);
        m.taken[r].src = m.taken[r].dst = NULL, m.taken[r].position = NULL, m.taken[r].max = 0;
    }
    CHECK_EQ(sample(&m, &w), GGNN_OK);
    CHECK(m.found[0].count == w.seeds[0] && m.taken[0].count == 0);
    m.taken[0].max = 1;
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "a relation has no memory");
    end_memory(&m);
}

TEST(arguments_that_cannot_be_are_refused)
{
    static world w;
    memory m;
    do make_world(&w, false, false);
    while (w.seeds[0] < 2);
    begin_memory(&m, &w, GGNN_FISHER_YATES, true, false, ROOM);
    CHECK_EQ(ggnn_frontier_begin(NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_OK);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, -1, w.seed[0], NULL, 1), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, w.types, w.seed[0], NULL, 1), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, NULL, NULL, 1), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, -1), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, ROOM + 1), GGNN_ERROR_CAPACITY);
    CHECK_EQ(ggnn_frontier_hop(&m.f, NULL, w.fanout[0]), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_hop(&m.f, &w.rng, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_table(&m.f, 0, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_frontier_table_bytes(&m.f, w.types), 0);
    const int64_t max = m.found[0].max;
    m.found[0].max = -1;
    CHECK_EQ(ggnn_frontier_table_bytes(&m.f, 0), 0);
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_ERROR_ARGUMENT);
    m.found[0].max = max;
    w.nodes[0] = (int64_t)1 << (sizeof(ggnn_node) == 8 ? 30 : 13); /* 2^30 nodes times 2^18 subgraphs, or 2^13 */
    for (int r = 0; r < w.relations; r++) w.relation[r].lists.num_nodes = w.nodes[w.relation[r].dst];
    CHECK_EQ(ggnn_frontier_begin(&m.f), GGNN_OK);
    m.f.num_seeds = ((int64_t)1 << 18) - 2; /* INT32_MAX / 2^13 is one less */
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, 1), GGNN_OK);
    if (sizeof(ggnn_node) == 8) CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, 1), GGNN_OK);
    CHECK_EQ(ggnn_frontier_seeds(&m.f, 0, w.seed[0], NULL, 1), GGNN_ERROR_ARGUMENT);
    CHECK_STR(why(&m), "subgraphs times nodes do not fit 31 bits (48 with GGNN_NODE64)");
    end_memory(&m);
}

/* ==== both ways ==================================================================================================== */

static int by_target_and_source(const void* a, const void* b)
{
    const int64_t *x = a, *y = b;
    if (x[1] != y[1]) return x[1] < y[1] ? -1 : 1;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[3] > y[3]) - (x[3] < y[3]);
}

/* By [3] of ggnn.h, as the header's comment says. */
static int64_t both_ways(ggnn_lists* both, const ggnn_taken* taken, int64_t nodes)
{
    const int64_t n = taken->count;
    ggnn_lists a = {nodes, n, malloc((size_t)(nodes + 1) * 8), malloc((size_t)(n + 1) * sizeof(ggnn_node)), NULL, malloc((size_t)(n + 1) * 8)};
    ggnn_lists b = {nodes, n, malloc((size_t)(nodes + 1) * 8), malloc((size_t)(n + 1) * sizeof(ggnn_node)), NULL, malloc((size_t)(n + 1) * 8)};
    void* work = malloc(ggnn_graph_sort_workspace_bytes(&a) + 1);
    CHECK_EQ(ggnn_graph_from_coo(&a, taken->src, taken->dst, NULL, NULL), GGNN_OK);
    CHECK_EQ(ggnn_graph_sort(&a, work), GGNN_OK);
    CHECK_EQ(ggnn_graph_transpose(&b, &a, NULL), GGNN_OK);
    CHECK_EQ(ggnn_graph_simplify(both, &a, &b, GGNN_DROP_DUPLICATES), GGNN_OK);
    free(work), free(a.indptr), free(a.indices), free(a.position), free(b.indptr), free(b.indices), free(b.position);
    return both->num_edges;
}

TEST(both_ways_are_the_sorted_edges_once)
{
    enum { MOST = 400 };
    static ggnn_node src[MOST], dst[MOST], indices[2 * MOST];
    static int64_t entry[2 * MOST][4], indptr[64], position[2 * MOST];
    for (int i = 0; i < 300; i++) {
        const int64_t nodes = 1 + test_below(30), n = test_below(i < 5 ? 2 : MOST);
        for (int64_t e = 0; e < n; e++) {
            src[e] = (ggnn_node)test_below(nodes), dst[e] = (ggnn_node)test_below(nodes);
            const int64_t forth[] = {src[e], dst[e], e, e}, back[] = {dst[e], src[e], e, n + e};
            memcpy(entry[2 * e], forth, sizeof forth);
            memcpy(entry[2 * e + 1], back, sizeof back);
        }
        qsort(entry, (size_t)(2 * n), sizeof *entry, by_target_and_source);
        const ggnn_taken taken = {src, dst, NULL, n, n, 0};
        ggnn_lists both = {nodes, 0, indptr, indices, NULL, position};
        const int64_t kept = both_ways(&both, &taken, nodes);
        int64_t wanted = 0, v = 0;
        for (int64_t k = 0; k < 2 * n; k++) {
            if (k && entry[k][0] == entry[k - 1][0] && entry[k][1] == entry[k - 1][1]) continue;
            if (wanted >= kept) break;
            while (indptr[v + 1] <= wanted) v++;
            CHECK(indices[wanted] == entry[k][0] && v == entry[k][1] && position[wanted] == entry[k][2]);
            wanted++;
        }
        CHECK_EQ(kept, wanted);
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    test_seed(77);
    RUN(hops_find_what_loops_find);
    RUN(disjoint_hops_find_what_loops_find);
    RUN(no_node_is_later_than_its_seed);
    RUN(no_edge_is_later_than_its_seed);
    RUN(the_latest_nodes_and_edges_are_taken);
    RUN(a_hop_from_0_on_asks_all_again);
    RUN(draws_are_those_of_ggnn_sample);
    RUN(numbers_are_those_that_pyg_lib_publishes);
    RUN(each_neighbor_is_taken_as_often_in_disjoint_subgraphs);
    RUN(each_neighbor_in_time_is_taken_as_often);
    RUN(a_neighbor_is_taken_as_often_as_its_weight_says);
    RUN(relations_draw_apart);
    RUN(a_hop_without_room_changes_nothing_and_says_what_it_needs);
    RUN(threads_with_a_frontier_each_find_the_same);
    RUN(what_cannot_be_sampled_is_said);
    RUN(bad_weights_and_sources_that_times_meet_are_errors);
    RUN(nothing_to_take_needs_no_memory);
    RUN(arguments_that_cannot_be_are_refused);
    RUN(both_ways_are_the_sorted_edges_once);
    return test_finish();
}
