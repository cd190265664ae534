/* test_graph.c - [3] GRAPH of ggnn.h: building CSC against brute force, layouts, validation. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include "ggnn.h"
#include "tests/methods.h"
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

static void check_fault(ggnn_status got, ggnn_status status, const char* what, int64_t node, int64_t edge, int line)
{
    const int same = got == status && fault.node == node && fault.edge == edge && fault.hop == -1 &&
                     (what ? fault.what && strstr(fault.what, what) : !fault.what);
    if (!CHECK(same))
        printf("  line %d: status %d, \"%s\", node %" PRId64 ", edge %" PRId64 "\n", line, (int)got, fault.what ? fault.what : "", fault.node, fault.edge);
}
#define FAULT(call, status, what, node, edge) \
    do { \
        memset(&fault, 0x5a, sizeof fault); \
        check_fault(call, status, what, node, edge, __LINE__); \
    } while (0)

/* More edges than 64 pieces of 16,384 take, faults in several of them and in one. */
TEST(of_several_faults_the_first_is_named)
{
    enum { N = 70000, DEGREE = 16, E = N * DEGREE };
    const int64_t bad[] = {0, 17, 16400, 16401, 700001, E - 1};
    int64_t*      indptr = (int64_t*)malloc((N + 1) * sizeof *indptr);
    ggnn_node *   id = (ggnn_node*)malloc(E * sizeof *id), *ok = (ggnn_node*)calloc(E, sizeof *ok);
    float*        w = (float*)malloc(E * sizeof *w);
    ggnn_lists    out = {N, E, indptr, NULL, NULL, NULL}, in = {N, E, indptr, id, w, NULL};
    ggnn_graph    g = ggnn_graph_plain(indptr, id, w, N, E);
    out.indices = (ggnn_node*)malloc(E * sizeof *id);
    for (int64_t e = 0; e < E; e++) id[e] = (ggnn_node)(e * 7 % N), w[e] = e % 3 ? 1.0f : -0.0f;
    for (int i = 0; i < 6; i++) id[bad[i]] = i % 2 ? N : -1;
    for (int i = 0; i < 6; i++) { /* the edges alone */
        FAULT(ggnn_graph_from_coo(&out, id, ok, w, &fault), GGNN_ERROR_ID, "id", -1, bad[i]);
        FAULT(ggnn_graph_from_coo(&out, ok, id, w, &fault), GGNN_ERROR_ID, "id", -1, bad[i]);
        for (int64_t v = 0; v <= N; v++) indptr[v] = v * DEGREE;
        FAULT(ggnn_graph_transpose(&out, &in, &fault), GGNN_ERROR_ID, "id", -1, bad[i]);
        FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "neighbour", bad[i] / DEGREE, bad[i]);
        id[bad[i]] = 0;
    }
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    w[bad[5]] = NAN, w[bad[4]] = INFINITY, w[bad[3]] = -INFINITY, w[bad[2]] = -1e-40f;
    for (int i = 2; i < 6; i++) {
        FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_WEIGHT, "weight", bad[i] / DEGREE, bad[i]);
        w[bad[i]] = 3.4028234e38f; /* the greatest there is */
    }
    id[50] = N, w[49] = -1, w[50] = -1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_WEIGHT, "weight", 3, 49);
    w[49] = 0; /* an edge's id before its weight */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "neighbour", 3, 50);
    id[50] = 0, w[50] = 0;
    indptr[N / 2] = -1, id[E / 2 - DEGREE - 1] = -5; /* in the last list before it */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "neighbour", N / 2 - 2, E / 2 - DEGREE - 1);
    id[E / 2 - DEGREE - 1] = 0, id[E - 1] = -1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "indptr", N / 2 - 1, -1);
    free(indptr);
    free(id);
    free(ok);
    free(w);
    free(out.indices);
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

/* Lists built with one of weights and positions have what those with both have; the other array is not written. */
TEST(simplified_and_renamed_lists_may_have_weights_or_positions_alone)
{
    static owned d;
    ggnn_node    rank[90];
    char         seen[90];
    random_edges(90, 2500);
    for (int v = 0; v < 90; v++) rank[v] = (ggnn_node)ggnn_shuffle(3, 1, v, 90);
    ggnn_graph_from_coo(own(&b, 90, 2500), src, dst, weight, &fault);
    ggnn_graph_transpose(own(&c, 90, 2500), &b.lists, &fault);
    ggnn_graph_transpose(own(&b, 90, 2500), &c.lists, &fault); /* sorted */
    for (int round = 0; round < 4; round++) {
        const int   weights = round % 2, renamed = round / 2;
        ggnn_lists *all = own(&a, 90, 0), *one = own(&d, 90, 0);
        memset(d.weight, 0x5a, sizeof d.weight), memset(d.position, 0x5a, sizeof d.position);
        if (weights) one->position = NULL;
        else one->weight = NULL;
        CHECK_EQ(renamed ? ggnn_graph_reorder(all, &b.lists, rank, seen, &fault) : ggnn_graph_simplify(all, &b.lists, &c.lists, 7), GGNN_OK);
        CHECK_EQ(renamed ? ggnn_graph_reorder(one, &b.lists, rank, seen, &fault) : ggnn_graph_simplify(one, &b.lists, &c.lists, 7), GGNN_OK);
        const size_t n = (size_t)all->num_edges;
        CHECK(n > 2000 && one->num_edges == all->num_edges && memcmp(d.indices, a.indices, n * sizeof *d.indices) == 0);
        CHECK(weights ? memcmp(d.weight, a.weight, n * 4) == 0 : memcmp(d.position, a.position, n * 8) == 0);
        CHECK(*(unsigned char*)(weights ? (void*)d.position : (void*)d.weight) == 0x5a);
    }
}

/* Weights and positions go along bit by bit: those of added edges (-1), those above 2^31, -0 and NaN. Edge v <- u lies at N v + N-1-u. */
TEST(positions_and_weights_go_along_whatever_they_are)
{
    enum { N = 5, EDGES = N * N };
    ggnn_node     rank[N];
    unsigned char seen[N];
    void*         workspace = malloc(EDGES * 16);
    for (int e = 0; e < EDGES; e++) src[e] = (ggnn_node)(N - 1 - e % N), dst[e] = (ggnn_node)(e / N);
    for (int e = 0; e < EDGES; e++) weight[e] = e % 3 ? (float)e : e % 2 ? -0.0f : NAN;
    for (ggnn_node v = 0; v < N; v++) rank[v] = (v + 2) % N;
    CHECK_EQ(ggnn_graph_from_coo(own(&a, N, EDGES), src, dst, weight, &fault), GGNN_OK);
    CHECK(memcmp(a.weight, weight, EDGES * sizeof(float)) == 0);
    for (int e = 0; e < EDGES; e++) a.position[e] = e % 4 ? ((int64_t)1 << 40) + e : -1;
    for (int op = 0; op < 4; op++) {
        own(&b, N, EDGES);
        if (op == 0) CHECK_EQ(ggnn_graph_transpose(&b.lists, &a.lists, &fault), GGNN_OK);
        if (op == 1) CHECK_EQ(ggnn_graph_reorder(&b.lists, &a.lists, rank, seen, &fault), GGNN_OK);
        if (op == 2) CHECK_EQ(ggnn_graph_sort(&a.lists, workspace), GGNN_OK);
        if (op == 3) CHECK_EQ(ggnn_graph_simplify(&b.lists, &a.lists, NULL, 0), GGNN_OK); /* of sorted lists */
        const owned* o = op == 2 ? &a : &b;
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = o->indptr[v]; e < o->indptr[v + 1]; e++) {
                const int64_t u = o->indices[e], to = op == 0 ? u : op == 1 ? (v + N - 2) % N : v, of = op == 0 ? v : op == 1 ? (u + N - 2) % N : u;
                const int64_t from = N * to + N - 1 - of;
                CHECK_EQ(o->position[e], from % 4 ? ((int64_t)1 << 40) + from : -1);
                CHECK(memcmp(&o->weight[e], &weight[from], sizeof(float)) == 0);
            }
        CHECK_EQ(o->indptr[N], EDGES);
    }
    free(workspace);
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

/* Simplify by its definition: of list v in's edges, then reverse's but for loops, by id; what `how` drops and adds. */
static int64_t simplified(ggnn_lists* out, const ggnn_lists* in, const ggnn_lists* reverse, int how)
{
    int64_t at = 0;
    for (int64_t v = 0; v < in->num_nodes; v++) {
        int64_t first[2] = {in->indptr[v], reverse ? reverse->indptr[v] : 0}, end[2] = {in->indptr[v + 1], reverse ? reverse->indptr[v + 1] : 0};
        out->indptr[v] = at;
        for (int64_t u = 0; u < in->num_nodes; u++) { /* all edges u -> v, then */
            int64_t kept = 0;
            for (int side = 0; side < 2; side++) {
                const ggnn_lists* from = side ? reverse : in;
                for (; first[side] < end[side] && from->indices[first[side]] == u; first[side]++) {
                    const int64_t e = first[side];
                    if (u == v && (side || how & GGNN_DROP_SELF_LOOPS)) continue;
                    if (kept && how & GGNN_DROP_DUPLICATES) continue;
                    out->indices[at] = (ggnn_node)u;
                    out->weight[at] = from->weight ? from->weight[e] : 1;
                    out->position[at++] = from->position ? from->position[e] : e;
                    kept++;
                }
            }
            if (u != v || kept || !(how & GGNN_ADD_SELF_LOOPS)) continue;
            out->indices[at] = (ggnn_node)u;
            out->weight[at] = 1;
            out->position[at++] = -1;
        }
    }
    out->indptr[in->num_nodes] = at;
    return at;
}

static int same_lists(const ggnn_lists* x, const owned* y, int64_t num_nodes, int64_t num_edges)
{
    const size_t n = (size_t)num_edges;
    return x->num_nodes == num_nodes && x->num_edges == num_edges && memcmp(x->indptr, y->indptr, (size_t)(num_nodes + 1) * 8) == 0 &&
           memcmp(x->indices, y->indices, n * sizeof *x->indices) == 0 && memcmp(x->weight, y->weight, n * 4) == 0 &&
           memcmp(x->position, y->position, n * 8) == 0;
}

/* In one piece and in several; sizes that `out` had before do not matter; of lists with weights and positions, and without. */
TEST(simplified_sorted_and_renamed_lists_are_their_definitions_in_any_number_of_pieces)
{
    static owned d;
    const int64_t shapes[][2] = {{1, 3}, {60, 900}, {MAX_NODES, 100000}};
    for (int shape = 0; shape < 3; shape++)
        for (int bare = 0; bare < 2; bare++) {
            const int64_t n = shapes[shape][0], edges = shapes[shape][1];
            ggnn_node     rank[MAX_NODES];
            char          seen[MAX_NODES];
            void*         work;
            random_edges(n, edges);
            CHECK_EQ(ggnn_graph_from_coo(own(&b, n, edges), src, dst, weight, &fault), GGNN_OK);
            own(&a, -7, -7);
            CHECK_EQ(ggnn_graph_transpose(&a.lists, &b.lists, &fault), GGNN_OK);
            own(&c, -7, -7);
            CHECK_EQ(ggnn_graph_transpose(&c.lists, &a.lists, &fault), GGNN_OK); /* b, sorted */
            CHECK_EQ(ggnn_graph_sort_workspace_bytes(&b.lists), 16 * edges);
            work = malloc((size_t)(16 * edges));
            own(&d, n, edges); /* the ids alone, or with one of what goes along */
            if (bare) d.lists.weight = NULL;
            else d.lists.position = NULL;
            CHECK_EQ(ggnn_graph_from_coo(&d.lists, src, dst, weight, &fault), GGNN_OK);
            CHECK_EQ(ggnn_graph_sort(&d.lists, work), GGNN_OK);
            CHECK(memcmp(d.indices, c.indices, (size_t)edges * sizeof *d.indices) == 0);
            CHECK(bare ? memcmp(d.position, c.position, (size_t)edges * 8) == 0 : memcmp(d.weight, c.weight, (size_t)edges * 4) == 0);
            d.lists.weight = NULL, d.lists.position = NULL;
            CHECK_EQ(ggnn_graph_from_coo(&d.lists, src, dst, NULL, &fault), GGNN_OK);
            CHECK_EQ(ggnn_graph_sort(&d.lists, work), GGNN_OK);
            CHECK(memcmp(d.indices, c.indices, (size_t)edges * sizeof *d.indices) == 0);
            CHECK_EQ(ggnn_graph_sort(&b.lists, work), GGNN_OK);
            free(work);
            CHECK(same_lists(&b.lists, &c, n, edges));
            if (bare) b.lists.weight = a.lists.weight = NULL, b.lists.position = NULL;
            own(&d, -7, -7);
            CHECK_EQ(ggnn_graph_transpose(&d.lists, &b.lists, &fault), GGNN_OK);
            for (int64_t u = 0; u < n; u++)
                for (int64_t e = d.indptr[u]; e < d.indptr[u + 1]; e++) {
                    const int64_t p = bare ? d.position[e] : -1; /* an index of b's */
                    if (!CHECK(d.weight[e] == (bare ? 1 : weight[d.position[e]]))) return;
                    if (bare && !CHECK(b.indices[p] == u && p >= b.indptr[d.indices[e]] && p < b.indptr[d.indices[e] + 1])) return;
                }
            for (int how = 0; how < 8; how++)
                for (int symmetric = 0; symmetric < 2; symmetric++) {
                    if (shape == 2 && how != 0 && how != 3 && how != 5) continue;
                    ggnn_lists*   want = own(&c, 0, 0);
                    const int64_t size = simplified(want, &b.lists, symmetric ? &a.lists : NULL, how);
                    own(&d, -7, -7);
                    d.lists.indices = NULL;
                    CHECK_EQ(ggnn_graph_simplify(&d.lists, &b.lists, symmetric ? &a.lists : NULL, how), GGNN_OK);
                    CHECK(d.lists.num_nodes == n && d.lists.num_edges == size);
                    own(&d, -7, -7);
                    memset(d.weight, 0x5a, 8), memset(d.position, 0x5a, 16); /* not wanted: not written */
                    const float   kept_weight = d.weight[0];
                    const int64_t kept_position = d.position[0];
                    d.lists.weight = NULL, d.lists.position = NULL;
                    CHECK_EQ(ggnn_graph_simplify(&d.lists, &b.lists, symmetric ? &a.lists : NULL, how), GGNN_OK);
                    CHECK(memcmp(d.indices, c.indices, (size_t)size * sizeof *d.indices) == 0 && d.weight[0] == kept_weight && d.position[0] == kept_position);
                    own(&d, -7, -7);
                    CHECK_EQ(ggnn_graph_simplify(&d.lists, &b.lists, symmetric ? &a.lists : NULL, how), GGNN_OK);
                    if (!CHECK(same_lists(&d.lists, &c, n, size))) printf("  %d nodes, bare %d, how %d, symmetric %d\n", (int)n, bare, how, symmetric);
                }
            own(&c, n, edges);
            for (int64_t v = 0; v < n; v++) rank[v] = (ggnn_node)(n - 1 - v);
            for (int64_t v = n - 1, at = c.indptr[0] = 0; v >= 0; c.indptr[n - v] = at, v--)
                for (int64_t e = b.indptr[v]; e < b.indptr[v + 1]; e++, at++) {
                    c.indices[at] = rank[b.indices[e]];
                    c.weight[at] = bare ? 1 : b.weight[e];
                    c.position[at] = bare ? e : b.position[e];
                }
            own(&d, -7, -7);
            memset(seen, 1, sizeof seen);
            CHECK_EQ(ggnn_graph_reorder(&d.lists, &b.lists, rank, seen, &fault), GGNN_OK);
            CHECK(same_lists(&d.lists, &c, n, edges));
            CHECK(fault.what == NULL);
            own(&d, -7, -7);
            d.lists.weight = NULL, d.lists.position = NULL;
            CHECK_EQ(ggnn_graph_reorder(&d.lists, &b.lists, rank, seen, &fault), GGNN_OK);
            CHECK(memcmp(d.indices, c.indices, (size_t)edges * sizeof *d.indices) == 0 && memcmp(d.indptr, c.indptr, (size_t)(n + 1) * 8) == 0);
        }
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
    char      seen[135] = {0};
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
    rank[40] = -1;
    CHECK_EQ(ggnn_graph_reorder(own(&b, 90, 2500), &a.lists, rank, seen + 45, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.node, 40);
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

/* Ids, ranks and parts' sizes that 32 bits do not hold; no array has as many rows. */
TEST(ids_and_ranks_have_64_bits)
{
    const int64_t far[] = {0, 1, 6, INT32_MAX, (int64_t)INT32_MAX + 1, ((int64_t)1 << 32) + 5, ((int64_t)1 << 40) + 3, ((int64_t)1 << 45) - 1};
    const int64_t rows = (int64_t)1 << 45, bound[] = {0, 7, (int64_t)1 << 33, rows - 5, rows};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++)
        for (int32_t parts = 1; parts < 8; parts++) {
            const int64_t v = far[i];
            ggnn_layout   at = {NULL, 0, NULL, NULL, rows, parts};
            ggnn_place    place = ggnn_locate(&at, v);
            CHECK(place.slot == v % parts && place.row == v / parts);
            CHECK_EQ(ggnn_owner_of(v, GGNN_OWNER_MODULO, NULL, rows, parts), v % parts);
            at.cached = v + 1; /* the first ids */
            place = ggnn_locate(&at, v);
            CHECK(place.slot == parts + 1 && place.row == v);
            at.cached = v;
            place = ggnn_locate(&at, v);
            CHECK(place.slot == v % parts && place.row == v / parts);
            at.stored = v; /* from v on in the host tier alone */
            place = ggnn_locate(&at, v);
            CHECK(place.slot == parts && place.row == v);
            if (parts != 4) continue;
            at.bound = bound, at.stored = rows;
            place = ggnn_locate(&at, v);
            CHECK(place.row == v - bound[place.slot] && v < bound[place.slot + 1]);
        }
    for (int64_t n = rows - 4; n <= rows; n++)
        for (int64_t parts = 1, v = 0, each; parts < 8; parts++, v = 0)
            for (int32_t p = 0; p < parts; p++, v += each) { /* of a range, the first and the last */
                each = n / parts + (p < n % parts);
                CHECK_EQ(ggnn_owner_of(v, GGNN_OWNER_RANGE, NULL, n, (int32_t)parts), p);
                CHECK_EQ(ggnn_owner_of(v + each - 1, GGNN_OWNER_RANGE, NULL, n, (int32_t)parts), p);
            }
}

static ggnn_graph plain_graph(void)
{
    random_edges(90, 2500);
    for (int64_t e = 0; e < 2500; e++) weight[e] = 1.0f;
    ggnn_graph_from_coo(own(&a, 90, 2500), src, dst, weight, &fault);
    return ggnn_graph_from_lists(&a.lists);
}

/* One part that has all rows by their ids, and no cache: {NULL, 0, NULL, NULL, N, 1}. */
TEST(a_plain_graph_is_one_part_of_all_rows)
{
    const ggnn_graph from_lists = plain_graph(), plain = ggnn_graph_plain(a.indptr, a.indices, NULL, 90, 2500);
    const ggnn_graph* both[] = {&from_lists, &plain};
    for (int i = 0; i < 2; i++) {
        const ggnn_graph* g = both[i];
        CHECK(g->num_nodes == 90 && g->num_edges == 2500 && g->part == NULL && g->traffic == NULL);
        CHECK(g->whole.indptr == a.indptr && g->whole.indices == a.indices && g->whole.first == NULL && g->whole.num_edges == 2500);
        CHECK(g->whole.weight == (i ? NULL : a.weight));
        CHECK(!g->at.cache_row && g->at.cached == 0 && !g->at.rank && !g->at.bound && g->at.stored == 90 && g->at.parts == 1);
        for (int64_t v = 0; v < 90; v++) {
            const ggnn_place place = ggnn_locate(&g->at, v);
            CHECK(place.slot == 0 && place.row == v);
        }
    }
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
    FOR_METHODS(method) {
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

/* Lists of some nodes, one twice, with and without what may be NULL. */
TEST(lists_of_nodes_are_copied_one_after_the_other)
{
    const ggnn_node id[] = {7, 0, 89, 7, 33};
    ggnn_graph      g = plain_graph();
    for (int64_t e = 0; e < 2500; e++) a.weight[e] = 3.0f * (float)e;
    for (int form = 0; form < 16; form++) {
        static int64_t   indptr[6], first[5], traffic[3];
        static ggnn_node indices[2500];
        static float     w[2500];
        const int        bare = form & 1, with_first = form & 2, with_weight = form & 4, counts = form & 8;
        int64_t          at = 0;
        memset(indptr, 0x5a, sizeof indptr), memset(first, 0x5a, sizeof first), memset(indices, 0x5a, sizeof indices), memset(w, 0x5a, sizeof w);
        memset(traffic, 0, sizeof traffic);
        g.whole.weight = bare ? NULL : a.weight;
        g.traffic = traffic;
        FAULT(ggnn_graph_lists(indptr, with_first ? first : NULL, counts ? NULL : indices, with_weight ? w : NULL, &g, id, 5, &fault), GGNN_OK, NULL, -1, -1);
        CHECK(traffic[0] == 5 && traffic[1] == 0 && traffic[2] == 0);
        CHECK_EQ(indptr[0], 0);
        for (int i = 0; i < 5; i++) {
            const int64_t begin = a.indptr[id[i]], n = a.indptr[id[i] + 1] - begin;
            CHECK_EQ(indptr[i + 1], at + n);
            CHECK_EQ(first[i], with_first && !counts ? begin : 0x5a5a5a5a5a5a5a5a);
            for (int64_t j = 0; j < n && !counts; j++) {
                CHECK_EQ(indices[at + j], a.indices[begin + j]);
                if (with_weight) CHECK(w[at + j] == (bare ? 1.0f : a.weight[begin + j]));
            }
            at += n;
        }
        CHECK(((unsigned char*)indices)[counts ? 0 : (size_t)at * sizeof *indices] == 0x5a);
        CHECK(((unsigned char*)w)[counts || !with_weight ? 0 : (size_t)at * sizeof *w] == 0x5a);
    }
    int64_t         end[6];
    const int64_t   kept = a.indptr[34];
    a.indptr[34] = -1; /* of five nodes the last */
    FAULT(ggnn_graph_lists(end, NULL, NULL, NULL, &g, id, 5, &fault), GGNN_ERROR_ID, "indptr", 33, -1);
    a.indptr[34] = kept;
    FAULT(ggnn_graph_lists(end, NULL, NULL, NULL, &g, NULL, 0, &fault), GGNN_OK, NULL, -1, -1);
    CHECK_EQ(end[0], 0);
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
    a.indptr[1] = -1, a.indices[a.indptr[50]] = 90; /* node 0's list is broken: nobody reads those after it */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "indptr", 0, -1);
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

/* Lists are all empty, so that any layout of them is right that is one. */
TEST(validate_names_each_fault_of_a_layout)
{
    enum { N = 6, PARTS = 3 };
    const int64_t   none[N + 1] = {0};
    const ggnn_csc  lists = {none, NULL, NULL, NULL, 0};
    const ggnn_csc  part[PARTS + 2] = {lists, lists, lists, lists, lists};
    const ggnn_node good_rank[N] = {5, 0, 3, 1, 4, 2}, good_row[N] = {9, 1, -1, 2, 0, 3};
    static const struct {
        int64_t parts, cached, stored, bound[PARTS + 1];
        int64_t rank, row; /* what nodes 3 and 4 have in place of rank 1 and cache row 0 */
        int     status;    /* 0; 1: ARGUMENT; 2: ID */
        int64_t node;
        const char* what;
    } cases[] = {
        {3, 4, 4, {0, 1, 1, 4}, 1, 0, 0, -1, NULL},
        {3, 0, 0, {0, 0, 0, 0}, 1, 8, 0, -1, NULL}, /* nothing is cached or stored */
        {3, 3, 6, {0, 6, 6, 6}, 1, 0, 0, -1, NULL}, /* all is stored */
        {0, 4, 4, {0, 1, 1, 4}, 1, 0, 1, -1, "parts"},
        {-1, 4, 4, {0, 1, 1, 4}, 1, 0, 1, -1, "parts"},
        {3, -1, 4, {0, 1, 1, 4}, 1, 0, 1, -1, "cached"},
        {3, 7, 4, {0, 1, 1, 4}, 1, 0, 1, -1, "cached or stored out of range"},
        {3, 4, -1, {0, 1, 1, -1}, 1, 0, 1, -1, "stored out of range"},
        {3, 4, 7, {0, 1, 1, 7}, 1, 0, 1, -1, "stored out of range"},
        {3, 4, 4, {1, 1, 1, 4}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {-1, 1, 1, 4}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {0, 2, 1, 4}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {0, 1, 5, 4}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {0, 1, 1, 3}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {0, 1, 1, 5}, 1, 0, 1, -1, "bound"},
        {3, 4, 4, {0, 1, 1, 4}, -1, 0, 2, 3, "a rank is outside"},
        {3, 4, 4, {0, 1, 1, 4}, 6, 0, 2, 3, "a rank is outside"},
        {3, 4, 4, {0, 1, 1, 4}, 2, 0, 2, -1, "permutation"},
        {3, 4, 4, {0, 1, 1, 4}, 1, 1, 2, -1, "cached row"},
        {3, 4, 4, {0, 1, 1, 4}, 1, -1, 2, -1, "cached row"},
        {3, 4, 4, {0, 1, 1, 4}, 1, 4, 2, -1, "cached row"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ggnn_node  rank[N], row[N];
        ggnn_graph g = {N, 0, {0}, part, {row, cases[i].cached, rank, cases[i].bound, cases[i].stored, (int32_t)cases[i].parts}, NULL};
        memcpy(rank, good_rank, sizeof rank);
        memcpy(row, good_row, sizeof row);
        rank[3] = (ggnn_node)cases[i].rank;
        row[4] = (ggnn_node)cases[i].row;
        FAULT(ggnn_graph_validate(&g, &fault), cases[i].status == 0 ? GGNN_OK : cases[i].status == 1 ? GGNN_ERROR_ARGUMENT : GGNN_ERROR_ID,
              cases[i].what, cases[i].node, -1);
        if (test_errors) printf("  case %d\n", (int)i);
        if (test_errors) return;
    }
    ggnn_graph g = ggnn_graph_plain(none, NULL, NULL, N, 0);
    g.at.cached = N; /* the first ids, all of them: of a plain graph it does not matter */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    g.num_edges = 1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "num_edges", -1, 0);
    g.num_edges = -1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ARGUMENT, "number", -1, -1);
    if (sizeof(ggnn_node) == 8) return;
    g.num_edges = 0;
    g.num_nodes = (int64_t)INT32_MAX + 1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ARGUMENT, "number", -1, -1);
}

/* Lists without positions of their own: those of part 0 of one begin where the last ended, if they lie in order of ids;
   those of a ranked part, and of the cache, may begin anywhere. */
TEST(validate_knows_where_lists_begin_that_do_not_say_it)
{
    const int64_t   from_1[] = {1, 2, 3}, from_0[] = {0, 1, 2};
    const ggnn_node indices[] = {0, 1, 0}, swap[] = {1, 0}, row[] = {0, -1}, in_turn[] = {0, 1};
    const ggnn_csc  late = {from_1, NULL, indices, NULL, 3}, whole = {from_0, NULL, indices, NULL, 2};
    ggnn_csc        part[3] = {late, whole, late};
    ggnn_graph      g = {2, 2, {0}, part, {NULL, 0, NULL, NULL, 2, 1}, NULL};
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "begin", 0, -1);
    g.at.rank = swap;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    g.at.rank = in_turn; /* as the ids, but nobody says so */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    g.at.rank = NULL, part[0] = whole;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    g.at.cache_row = row, g.at.cached = 1; /* node 0's list lies in the cache */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    part[2].first = from_1;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "begin", 0, -1);
    part[2].first = from_0;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    g.at.stored = 0, part[1] = late; /* node 1's in the host tier */
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_ERROR_ID, "begin", 1, -1);
    int64_t traffic[3] = {0};
    part[1] = whole, g.traffic = traffic;
    FAULT(ggnn_graph_validate(&g, &fault), GGNN_OK, NULL, -1, -1);
    CHECK(traffic[0] + traffic[1] + traffic[2] == 0); /* checking is not traffic */
}

/* Each node has one edge of its own rank's row, so that nothing else is wrong. */
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
    RUN(of_several_faults_the_first_is_named);
    RUN(building_gives_the_same_for_any_number_of_threads);
    RUN(transpose_turns_every_edge_and_twice_sorts_the_lists);
    RUN(simplify_symmetrises_drops_and_adds_as_told);
    RUN(simplified_and_renamed_lists_may_have_weights_or_positions_alone);
    RUN(positions_and_weights_go_along_whatever_they_are);
    RUN(simplify_keeps_the_first_of_equal_edges);
    RUN(simplified_sorted_and_renamed_lists_are_their_definitions_in_any_number_of_pieces);
    RUN(sort_is_stable_for_long_and_short_lists);
    RUN(reorder_renames_nodes_and_rejects_what_is_no_permutation);
    RUN(transpose_and_reorder_refuse_a_broken_indptr);
    RUN(out_degrees_count_sources);
    RUN(locate_asks_the_own_cache_then_parts_then_the_host_tier);
    RUN(ids_and_ranks_have_64_bits);
    RUN(a_plain_graph_is_one_part_of_all_rows);
    RUN(devices_with_caches_of_their_own_read_the_same_lists);
    RUN(lists_of_nodes_are_copied_one_after_the_other);
    RUN(validate_accepts_what_was_built_and_names_the_first_fault);
    RUN(validate_reads_parts);
    RUN(validate_reads_where_the_host_tiers_lists_begin);
    RUN(validate_names_each_fault_of_a_layout);
    RUN(validate_knows_where_lists_begin_that_do_not_say_it);
    RUN(validate_finds_a_rank_that_is_no_permutation);
    RUN(neighbors_never_leave_their_part);
    return test_finish();
}
