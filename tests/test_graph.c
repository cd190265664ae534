/* test_graph.c - [3] GRAPH of ggnn.h: building CSC against brute force, layouts, validation. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include "ggnn.h"
#include "tests/test.h"

enum { MAX_NODES = 400, MAX_EDGES = 200000 };

static ggnn_node src[MAX_EDGES], dst[MAX_EDGES];
static float     weight[MAX_EDGES];
static ggnn_fault fault;

typedef struct { /* lists with arrays of their own */
    ggnn_lists lists;
    int64_t    indptr[MAX_NODES + 1], position[2 * MAX_EDGES + MAX_NODES];
    ggnn_node  indices[2 * MAX_EDGES + MAX_NODES];
    float      weight[2 * MAX_EDGES + MAX_NODES];
} owned;
static owned a, b, c;

static ggnn_lists* own(owned* o, int64_t num_nodes, int64_t num_edges)
{
    ggnn_lists lists = {num_nodes, num_edges, o->indptr, o->indices, o->weight, o->position};
    memset(o->indptr, 0xee, sizeof o->indptr);
    o->lists = lists;
    return &o->lists;
}

static void random_edges(int64_t num_nodes, int64_t num_edges)
{
    for (int64_t e = 0; e < num_edges; e++) {
        src[e] = (ggnn_node)(test_below(3) ? test_below(num_nodes) : test_below(1 + num_nodes / 8)); /* some skew */
        dst[e] = (ggnn_node)(test_below(3) ? test_below(num_nodes) : test_below(1 + num_nodes / 8));
        weight[e] = (float)e + 0.5f;
    }
}

/* The definition: list v is the edges e with dst[e] == v in input order. */
static void check_from_coo(const ggnn_lists* lists, int64_t num_edges)
{
    int64_t at = 0;
    CHECK_EQ(lists->indptr[0], 0);
    for (int64_t v = 0; v < lists->num_nodes; v++) {
        for (int64_t e = 0; e < num_edges; e++)
            if (dst[e] == v) {
                if (!CHECK_EQ(lists->indices[at], src[e]) || !CHECK_EQ(lists->position[at], e)) return;
                CHECK(lists->weight[at] == weight[e]);
                at++;
            }
        if (!CHECK_EQ(lists->indptr[v + 1], at)) return;
    }
}

TEST(from_coo_is_a_stable_sort_by_target)
{
    const int64_t shapes[][2] = {{1, 0}, {1, 5}, {7, 0}, {7, 30}, {50, 1000}, {399, 5000}};
    for (int s = 0; s < 6; s++) {
        random_edges(shapes[s][0], shapes[s][1]);
        CHECK_EQ(ggnn_graph_from_coo(own(&a, shapes[s][0], shapes[s][1]), src, dst, weight, &fault), GGNN_OK);
        CHECK(fault.what == NULL);
        check_from_coo(&a.lists, shapes[s][1]);
    }
    CHECK_EQ(ggnn_graph_from_coo(own(&a, 0, 0), src, dst, weight, &fault), GGNN_OK); /* no nodes at all */
    CHECK_EQ(a.indptr[0], 0);
}

TEST(from_coo_works_without_weights_and_positions)
{
    random_edges(30, 500);
    own(&a, 30, 500);
    ggnn_graph_from_coo(&a.lists, src, dst, NULL, &fault);
    for (int64_t e = 0; e < 500; e++) CHECK(a.weight[e] == 1.0f);
    own(&b, 30, 500);
    b.lists.weight = NULL;
    b.lists.position = NULL;
    ggnn_graph_from_coo(&b.lists, src, dst, weight, &fault);
    CHECK(memcmp(a.indices, b.indices, 500 * sizeof *a.indices) == 0);
}

TEST(from_coo_names_the_first_bad_edge)
{
    random_edges(30, 100000);
    dst[70001] = 30;
    src[90000] = -1;
    CHECK_EQ(ggnn_graph_from_coo(own(&a, 30, 100000), src, dst, weight, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.edge, 90000); /* sources are looked at first */
    src[90000] = 0;
    CHECK_EQ(ggnn_graph_from_coo(own(&a, 30, 100000), src, dst, weight, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.edge, 70001);
    CHECK(fault.what != NULL);
}

TEST(building_gives_the_same_for_any_number_of_threads)
{
#ifdef _OPENMP
    const int threads[] = {1, 2, 3, 8};
    random_edges(MAX_NODES, MAX_EDGES); /* several pieces */
    omp_set_num_threads(1);
    ggnn_graph_from_coo(own(&a, MAX_NODES, MAX_EDGES), src, dst, weight, &fault);
    check_from_coo(&a.lists, MAX_EDGES);
    for (int t = 0; t < 4; t++) {
        omp_set_num_threads(threads[t]);
        ggnn_graph_from_coo(own(&b, MAX_NODES, MAX_EDGES), src, dst, weight, &fault);
        CHECK(memcmp(a.indptr, b.indptr, sizeof a.indptr) == 0);
        CHECK(memcmp(a.indices, b.indices, MAX_EDGES * sizeof *a.indices) == 0);
        CHECK(memcmp(a.position, b.position, MAX_EDGES * sizeof *a.position) == 0);
    }
    omp_set_num_threads(omp_get_num_procs());
#else
    SKIP("no OpenMP");
#endif
}

TEST(transpose_turns_every_edge_and_twice_sorts_the_lists)
{
    random_edges(90, 3000);
    ggnn_graph_from_coo(own(&a, 90, 3000), src, dst, weight, &fault);
    CHECK_EQ(ggnn_graph_transpose(own(&b, 90, 3000), &a.lists, &fault), GGNN_OK);
    for (int64_t v = 0; v < 90; v++)
        for (int64_t e = b.indptr[v]; e < b.indptr[v + 1]; e++) {
            CHECK_EQ(src[b.position[e]], v); /* positions are from_coo's: the input edge */
            CHECK_EQ(dst[b.position[e]], b.indices[e]);
            CHECK(b.weight[e] == weight[b.position[e]]);
            if (e > b.indptr[v]) CHECK(b.indices[e - 1] < b.indices[e] || (b.indices[e - 1] == b.indices[e] && b.position[e - 1] < b.position[e]));
        }
    ggnn_graph_transpose(own(&c, 90, 3000), &b.lists, &fault);
    void* workspace = malloc(ggnn_graph_sort_workspace_bytes(&a.lists));
    ggnn_graph_sort(&a.lists, workspace);
    free(workspace);
    CHECK(memcmp(a.indices, c.indices, 3000 * sizeof *a.indices) == 0);
    CHECK(memcmp(a.position, c.position, 3000 * sizeof *a.position) == 0);
    CHECK(memcmp(a.weight, c.weight, 3000 * sizeof *a.weight) == 0);
    CHECK(memcmp(a.indptr, c.indptr, 91 * sizeof *a.indptr) == 0);
    c.indices[17] = 90;
    CHECK_EQ(ggnn_graph_transpose(own(&b, 90, 3000), &c.lists, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.edge, 17);
}

/* The definition of simplify, by counting: for each (v, u) the edges that must be there. */
static void check_simplify(const ggnn_lists* out, const ggnn_lists* in, int symmetric, int how)
{
    static int64_t want[90];
    for (int64_t v = 0; v < in->num_nodes; v++) {
        memset(want, 0, sizeof want);
        for (int64_t e = in->indptr[v]; e < in->indptr[v + 1]; e++) want[in->indices[e]]++;
        for (int64_t u = 0; symmetric && u < in->num_nodes; u++)
            for (int64_t e = in->indptr[u]; u != v && e < in->indptr[u + 1]; e++) want[u] += in->indices[e] == v;
        if (how & GGNN_DROP_SELF_LOOPS) want[v] = 0;
        if (how & GGNN_ADD_SELF_LOOPS && !want[v]) want[v] = 1;
        for (int64_t u = 0; how & GGNN_DROP_DUPLICATES && u < in->num_nodes; u++) want[u] = want[u] > 0;
        for (int64_t e = out->indptr[v]; e < out->indptr[v + 1]; e++) {
            want[out->indices[e]]--;
            if (e > out->indptr[v]) CHECK(out->indices[e - 1] <= out->indices[e]);
        }
        for (int64_t u = 0; u < in->num_nodes; u++)
            if (!CHECK_EQ(want[u], 0)) return;
    }
}

TEST(simplify_symmetrises_drops_and_adds_as_told)
{
    random_edges(90, 2500);
    ggnn_graph_from_coo(own(&b, 90, 2500), src, dst, weight, &fault);
    ggnn_graph_transpose(own(&c, 90, 2500), &b.lists, &fault);
    ggnn_graph_transpose(own(&b, 90, 2500), &c.lists, &fault); /* sorted */
    for (int how = 0; how < 8; how++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            int64_t size;
            own(&a, 90, 0);
            a.lists.indices = NULL;
            ggnn_graph_simplify(&a.lists, &b.lists, symmetric ? &c.lists : NULL, how);
            size = a.lists.num_edges;
            own(&a, 90, 0);
            ggnn_graph_simplify(&a.lists, &b.lists, symmetric ? &c.lists : NULL, how);
            CHECK_EQ(a.lists.num_edges, size);
            check_simplify(&a.lists, &b.lists, symmetric, how);
            for (int64_t e = 0; e < size; e++) CHECK(a.weight[e] == (a.position[e] < 0 ? 1.0f : weight[a.position[e]]));
        }
}

TEST(simplify_keeps_the_first_of_equal_edges)
{
    const ggnn_node from[] = {1, 1, 0, 1}, to[] = {0, 0, 1, 0};
    ggnn_graph_from_coo(own(&b, 2, 4), from, to, weight, &fault);
    ggnn_graph_transpose(own(&c, 2, 4), &b.lists, &fault);
    own(&a, 2, 0);
    ggnn_graph_simplify(&a.lists, &b.lists, &c.lists, GGNN_DROP_DUPLICATES);
    CHECK_EQ(a.lists.num_edges, 2);
    CHECK_EQ(a.position[0], 0); /* the first 1 -> 0 of the graph itself, not the reverse of 0 -> 1 */
    CHECK_EQ(a.position[1], 2);
}

TEST(sort_is_stable_for_long_and_short_lists)
{
    enum { N = 5, E = 4000 };
    for (int64_t e = 0; e < E; e++) {
        src[e] = (ggnn_node)test_below(N);
        dst[e] = (ggnn_node)(e < 20 ? 1 + e % 4 : 0); /* one long list, four short */
        weight[e] = (float)e;
    }
    ggnn_graph_from_coo(own(&a, N, E), src, dst, weight, &fault);
    void* workspace = malloc(ggnn_graph_sort_workspace_bytes(&a.lists));
    ggnn_graph_sort(&a.lists, workspace);
    for (int64_t v = 0; v < N; v++)
        for (int64_t e = a.indptr[v] + 1; e < a.indptr[v + 1]; e++)
            CHECK(a.indices[e - 1] < a.indices[e] || (a.indices[e - 1] == a.indices[e] && a.position[e - 1] < a.position[e]));
    for (int64_t e = 0; e < E; e++) CHECK(a.weight[e] == (float)a.position[e] && a.indices[e] == src[a.position[e]]);
    free(workspace);
}

TEST(reorder_renames_nodes_and_rejects_what_is_no_permutation)
{
    ggnn_node rank[90];
    char      seen[90];
    random_edges(90, 2500);
    ggnn_graph_from_coo(own(&a, 90, 2500), src, dst, weight, &fault);
    for (int64_t v = 0; v < 90; v++) rank[v] = (ggnn_node)ggnn_shuffle(5, 0, v, 90);
    CHECK_EQ(ggnn_graph_reorder(own(&b, 90, 2500), &a.lists, rank, seen, &fault), GGNN_OK);
    for (int64_t v = 0; v < 90; v++) {
        int64_t to = b.indptr[rank[v]];
        CHECK_EQ(b.indptr[rank[v] + 1] - to, a.indptr[v + 1] - a.indptr[v]);
        for (int64_t e = a.indptr[v]; e < a.indptr[v + 1]; e++, to++) {
            CHECK_EQ(b.indices[to], rank[a.indices[e]]);
            CHECK(b.weight[to] == a.weight[e] && b.position[to] == a.position[e]);
        }
    }
    rank[40] = rank[12];
    CHECK_EQ(ggnn_graph_reorder(own(&b, 90, 2500), &a.lists, rank, seen, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 40);
    rank[40] = 90;
    CHECK_EQ(ggnn_graph_reorder(own(&b, 90, 2500), &a.lists, rank, seen, &fault), GGNN_ERROR_ID);
}

/* Arrays of exactly their size, so that a sanitizer sees what is read past them. */
TEST(transpose_and_reorder_refuse_a_broken_indptr)
{
    enum { N = 4, E = 5 };
    const int64_t   good[N + 1] = {0, 2, 2, 4, 5};
    const ggnn_node rank[N] = {2, 0, 3, 1};
    const struct {
        int64_t at, value, node; /* of indptr; the node that the fault names */
    } breaks[] = {{0, 1, 0}, {0, -1, 0}, {1, 3, 1}, {2, -5, 1}, {2, 1000000, 2}, {4, 6, -1}, {4, 1000000, -1}, {4, 4, -1}, {3, INT64_MIN, 2}};
    int64_t*        indptr = malloc(sizeof good);
    ggnn_node*      indices = calloc(E, sizeof *indices);
    ggnn_lists      in = {N, E, indptr, indices, NULL, NULL};
    char            seen[N];
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        memcpy(indptr, good, sizeof good);
        indptr[breaks[i].at] = breaks[i].value;
        CHECK_EQ(ggnn_graph_transpose(own(&b, N, E), &in, &fault), GGNN_ERROR_ID);
        CHECK_EQ(fault.node, breaks[i].node);
        CHECK(fault.what != NULL && strstr(fault.what, "indptr") != NULL);
        CHECK_EQ(ggnn_graph_reorder(own(&b, N, E), &in, rank, seen, &fault), GGNN_ERROR_ID);
        CHECK_EQ(fault.node, breaks[i].node);
    }
    memcpy(indptr, good, sizeof good);
    CHECK_EQ(ggnn_graph_transpose(own(&b, N, E), &in, &fault), GGNN_OK);
    in.num_edges = -1;
    CHECK_EQ(ggnn_graph_transpose(own(&b, N, E), &in, &fault), GGNN_ERROR_ARGUMENT);
    free(indptr);
    free(indices);
}

TEST(out_degrees_count_sources)
{
    int64_t degree[90], sum = 0;
    random_edges(90, 2500);
    ggnn_graph_from_coo(own(&a, 90, 2500), src, dst, weight, &fault);
    ggnn_graph_out_degrees(degree, &a.lists);
    for (int64_t v = 0; v < 90; v++) {
        int64_t count = 0;
        for (int64_t e = 0; e < 2500; e++) count += src[e] == v;
        CHECK_EQ(degree[v], count);
        sum += count;
    }
    CHECK_EQ(sum, 2500);
}

/* ---- layouts --------------------------------------------------------------- */

TEST(locate_asks_the_own_cache_then_parts_then_the_host_tier)
{
    const ggnn_node rank[] = {5, 0, 3, 1, 4, 2}, cache_row[] = {9, 1, -1, 2, 0, 3};
    const int64_t   bound[] = {0, 1, 1, 4};
    ggnn_layout     modulo = {NULL, 0, NULL, NULL, 6, 4}, ranges = {cache_row, 2, rank, bound, 4, 3};
    ggnn_layout     first = {NULL, 2, rank, NULL, 6, 1};
    ggnn_place      place = ggnn_locate(&modulo, 5);
    CHECK(place.slot == 1 && place.row == 1);
    place = ggnn_locate(&ranges, 1); /* cached, though of rank 0 */
    CHECK(place.slot == 4 && place.row == 1);
    place = ggnn_locate(&ranges, 4); /* cached, though in no part */
    CHECK(place.slot == 4 && place.row == 0);
    place = ggnn_locate(&ranges, 3); /* rank 1: part 1 is empty, so part 2 */
    CHECK(place.slot == 2 && place.row == 0);
    place = ggnn_locate(&ranges, 2); /* rank 3 */
    CHECK(place.slot == 2 && place.row == 2);
    place = ggnn_locate(&ranges, 0); /* rank 5: the host tier, by id */
    CHECK(place.slot == 3 && place.row == 0);
    place = ggnn_locate(&ranges, 5); /* a cache row past the cache: rank 2 */
    CHECK(place.slot == 2 && place.row == 1);
    place = ggnn_locate(&first, 1); /* without cache_row the first ids are cached */
    CHECK(place.slot == 2 && place.row == 1);
    place = ggnn_locate(&first, 2);
    CHECK(place.slot == 0 && place.row == 3);
}

static ggnn_graph plain_graph(void)
{
    random_edges(90, 2500);
    for (int64_t e = 0; e < 2500; e++) weight[e] = 1.0f;
    ggnn_graph_from_coo(own(&a, 90, 2500), src, dst, weight, &fault);
    return ggnn_graph_from_lists(&a.lists);
}

enum { DEVICES = 4, SLOTS = DEVICES + 2 };

typedef struct { /* lists of one slot, as they were put in one after the other */
    int64_t   rows, indptr[91], first[90];
    ggnn_node indices[2500];
    float     weight[2500];
} slot_lists;

static void put_list(slot_lists* to, const ggnn_graph* g, ggnn_node v)
{
    const ggnn_list list = ggnn_neighbors(g, v);
    const int64_t   at = to->indptr[to->rows];
    memcpy(to->indices + at, list.id, (size_t)list.degree * sizeof *list.id);
    memcpy(to->weight + at, list.weight, (size_t)list.degree * sizeof *list.weight);
    to->first[to->rows++] = list.position;
    to->indptr[to->rows] = at + list.degree;
}

static ggnn_csc csc_of(const slot_lists* s)
{
    const ggnn_csc csc = {s->indptr, s->first, s->indices, s->weight, s->indptr[s->rows]};
    return csc;
}

/* A mini-batch of two hops of g, packed: its bytes. */
static size_t packed_batch(char* packed, size_t room, const ggnn_graph* g, ggnn_method method)
{
    const ggnn_node seeds[] = {3, 50, 89, 3, 17, 41};
    const int32_t   fanout[] = {4, 7};
    const ggnn_rng  rng = {11, 2, GGNN_PURPOSE_SAMPLE};
    ggnn_sampling   how = ggnn_sampling_plain(method, fanout, 2);
    ggnn_batch      batch;
    size_t          bytes;
    how.keep = GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS;
    CHECK_EQ(ggnn_batch_plan(&batch, g, &how, 6, NULL), GGNN_OK);
    void* memory = malloc(batch.bytes);
    CHECK_EQ(ggnn_batch_init(&batch, memory), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, g, &rng, seeds, 6), GGNN_OK);
    bytes = ggnn_batch_packed_bytes(&batch);
    if (CHECK(bytes <= room)) ggnn_batch_pack(packed, &batch);
    free(memory);
    return bytes;
}

/* What each of g's lists is in `whole`, where it is read, and batches of every method: all as of the whole graph. */
static void check_device(ggnn_graph* g, const ggnn_graph* whole)
{
    enum { ROOM = 65536 };
    static char packed[2][ROOM];
    int64_t     read[SLOTS] = {0}, expected[SLOTS] = {0};
    for (ggnn_node v = 0; v < 90; v++) {
        const int64_t own_row = g->at.cache_row[v], r = g->at.rank[v];
        expected[own_row >= 0 && own_row < g->at.cached ? DEVICES + 1 : r < g->at.stored ? r % DEVICES : DEVICES]++;
    }
    g->traffic = read;
    for (ggnn_node v = 0; v < 90; v++) {
        const ggnn_list got = ggnn_neighbors(g, v), want = ggnn_neighbors(whole, v);
        if (!CHECK_EQ(got.degree, want.degree) || !CHECK_EQ(got.position, want.position)) return;
        CHECK(memcmp(got.id, want.id, (size_t)want.degree * sizeof *want.id) == 0);
        CHECK(memcmp(got.weight, want.weight, (size_t)want.degree * sizeof *want.weight) == 0);
    }
    g->traffic = NULL;
    for (int slot = 0; slot < SLOTS; slot++) CHECK_EQ(read[slot], expected[slot]);
    CHECK_EQ(ggnn_graph_validate(g, &fault), GGNN_OK);
    for (int method = GGNN_FISHER_YATES; method <= GGNN_WALK; method++) {
        const size_t bytes = packed_batch(packed[0], ROOM, whole, (ggnn_method)method);
        if (!CHECK_EQ(packed_batch(packed[1], ROOM, g, (ggnn_method)method), bytes)) continue;
        CHECK(memcmp(packed[0], packed[1], bytes) == 0);
    }
}

/* Four devices: parts by rank and host tier by id are the same for all; each has lists of other nodes in its cache, and
   another number of them. */
TEST(devices_with_caches_of_their_own_read_the_same_lists)
{
    static slot_lists part[SLOTS], none;
    static ggnn_node  rank[90], node[90], row[DEVICES][90];
    ggnn_csc          csc[SLOTS];
    ggnn_graph        whole = plain_graph();
    for (int64_t v = 0; v < 90; v++) rank[v] = (ggnn_node)ggnn_shuffle(5, 0, v, 90);
    for (int64_t v = 0; v < 90; v++) node[rank[v]] = (ggnn_node)v;
    for (int64_t r = 0; r < 60; r++) put_list(&part[r % DEVICES], &whole, node[r]);
    for (ggnn_node v = 0; v < 90; v++) put_list(&part[DEVICES], &whole, v);
    for (int d = 0; d < DEVICES; d++) {
        const int64_t cached = d * (5 + d); /* the first device has no cache */
        ggnn_graph    g = {90, 2500, {0}, csc, {row[d], cached, rank, NULL, 60, DEVICES}, NULL};
        part[DEVICES + 1] = none;
        for (int64_t v = 0; v < 90; v++) node[row[d][v] = (ggnn_node)ggnn_shuffle(6, (uint32_t)d, v, 90)] = (ggnn_node)v;
        for (int64_t r = 0; r < cached; r++) put_list(&part[DEVICES + 1], &whole, node[r]);
        for (int slot = 0; slot < SLOTS; slot++) csc[slot] = csc_of(&part[slot]);
        check_device(&g, &whole);
    }
}

/* ---- validation ------------------------------------------------------------ */

TEST(validate_accepts_what_was_built_and_names_the_first_fault)
{
    ggnn_graph g = plain_graph();
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    CHECK(fault.what == NULL);
    a.indices[a.indptr[50]] = 90;
    a.indices[a.indptr[30] + 1] = -7;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 30);
    CHECK_EQ(fault.edge, a.indptr[30] + 1);
    g = plain_graph();
    a.weight[a.indptr[20]] = NAN;
    a.indptr[60] = a.indptr[59] - 1;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_WEIGHT);
    CHECK_EQ(fault.node, 20);
    a.weight[a.indptr[20]] = 1.0f;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 59);
    CHECK(fault.what != NULL && strstr(fault.what, "indptr") != NULL);
    g = plain_graph();
    a.weight[7] = -0.5f;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_WEIGHT);
    g = plain_graph();
    a.indptr[90] = INT64_MAX;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 89);
    g = plain_graph();
    a.indptr[0] = 1;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    g = plain_graph();
    g.num_edges++;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    g.num_nodes = -1;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ARGUMENT);
}

/* Two parts in turn; positions in the whole graph are checked where they are given. */
TEST(validate_reads_parts)
{
    const int64_t   indptr[2][3] = {{0, 1, 3}, {0, 1, 1}}; /* of nodes 0 and 2, 1 and 3 */
    int64_t         first[2][2] = {{0, 2}, {1, 4}};
    const ggnn_node indices[2][3] = {{3, 0, 1}, {2, 0, 0}};
    ggnn_csc        part[4] = {{indptr[0], NULL, indices[0], NULL, 3}, {indptr[1], NULL, indices[1], NULL, 1}};
    ggnn_graph      g = {4, 4, {0}, part, {NULL, 0, NULL, NULL, 4, 2}, NULL};
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    for (int p = 0; p < 2; p++) part[p].first = first[p];
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    first[0][1] = 1;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 2);
}

/* Each node has one edge of its own rank's row, so that nothing else is wrong. */
/* All lists in the host tier, none of which holds edge 0: degrees add up all the same. */
TEST(validate_reads_where_the_host_tiers_lists_begin)
{
    int64_t    from_0[] = {0, 1, 2}, from_1[] = {1, 2, 3};
    ggnn_node  indices[] = {0, 1, 0};
    ggnn_csc   part[3];
    ggnn_graph g = ggnn_graph_plain(NULL, NULL, NULL, 2, 2);
    memset(part, 0, sizeof part);
    part[1].indptr = from_0;
    part[1].indices = indices;
    part[1].num_edges = 2;
    g.part = part;
    g.at.stored = 0;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    part[1].indptr = from_1;
    part[1].num_edges = 3;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 0);
}

TEST(validate_finds_a_rank_that_is_no_permutation)
{
    enum { N = 90 };
    static ggnn_node rank[N], cache_row[N];
    static int64_t   indptr[N + 1];
    static ggnn_node indices[N];
    ggnn_csc         part[3] = {{indptr, NULL, indices, NULL, N}, {NULL, NULL, NULL, NULL, 0}, {indptr, NULL, indices, NULL, N}};
    ggnn_graph       g = {N, N, {0}, part, {NULL, 0, rank, NULL, N, 1}, NULL};
    for (int64_t v = 0; v <= N; v++) indptr[v] = v;
    for (int64_t v = 0; v < N; v++) rank[v] = (ggnn_node)ggnn_shuffle(5, 0, v, N);
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    ggnn_node before = rank[40], other = rank[7];
    rank[40] = rank[12]; /* one twice, one never */
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK(fault.what != NULL && strstr(fault.what, "permutation") != NULL);
    rank[7] = before; /* another never: the ranks' own sum may be right, the mixed one is not */
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    rank[7] = other;
    rank[40] = before;
    for (int64_t v = 0; v < N; v++) cache_row[v] = rank[v];
    g.at.cache_row = cache_row;
    g.at.cached = 10;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK); /* a ranking will do */
    for (int64_t v = 0; v < N; v++) cache_row[v] = (ggnn_node)(v < 20 ? (v % 2 ? -1 : v / 2) : N);
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    cache_row[1] = 0; /* row 0 twice, all others once */
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK(fault.what != NULL && strstr(fault.what, "cached") != NULL);
    cache_row[1] = -1;
    cache_row[2] = 3; /* row 3 twice, row 1 never */
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID);
    CHECK(fault.what != NULL && strstr(fault.what, "cached") != NULL);
}

TEST(neighbors_never_leave_their_part)
{
    ggnn_graph g = plain_graph();
    a.indptr[10] = -1;
    CHECK_EQ(ggnn_neighbors(&g, 9).degree, -1);
    CHECK_EQ(ggnn_neighbors(&g, 10).degree, -1);
    a.indptr[10] = 2501;
    CHECK_EQ(ggnn_neighbors(&g, 9).degree, -1);
    CHECK_EQ(ggnn_neighbors(&g, 11).degree, a.indptr[12] - a.indptr[11]);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(20262);
    RUN(from_coo_is_a_stable_sort_by_target);
    RUN(from_coo_works_without_weights_and_positions);
    RUN(from_coo_names_the_first_bad_edge);
    RUN(building_gives_the_same_for_any_number_of_threads);
    RUN(transpose_turns_every_edge_and_twice_sorts_the_lists);
    RUN(simplify_symmetrises_drops_and_adds_as_told);
    RUN(simplify_keeps_the_first_of_equal_edges);
    RUN(sort_is_stable_for_long_and_short_lists);
    RUN(reorder_renames_nodes_and_rejects_what_is_no_permutation);
    RUN(transpose_and_reorder_refuse_a_broken_indptr);
    RUN(out_degrees_count_sources);
    RUN(locate_asks_the_own_cache_then_parts_then_the_host_tier);
    RUN(devices_with_caches_of_their_own_read_the_same_lists);
    RUN(validate_accepts_what_was_built_and_names_the_first_fault);
    RUN(validate_reads_parts);
    RUN(validate_reads_where_the_host_tiers_lists_begin);
    RUN(validate_finds_a_rank_that_is_no_permutation);
    RUN(neighbors_never_leave_their_part);
    return test_finish();
}
