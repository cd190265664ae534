/* A caller's mistake is GGNN_ERROR_ARGUMENT (or the number that a function names for it), and nothing is written: enumerators
   that there are not, sizes out of range, NULL where an element would be read or written. vendor.sh runs this with NDEBUG too. */
#include "ggnn_plan.h"
#include "tests/methods.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"

#define NODES_MAX ((int64_t)1 << 48) /* as many as a stream of random words tells apart */
enum { N = 30, SRC = 12, DST = 6, WIDTH = 8, HEADS = 2, CANVAS = 8192 };

/* What functions would write to lies here, and must stay as it is. */
static union {
    unsigned char byte[CANVAS];
    float         f[CANVAS / 4];
    int32_t       i32[CANVAS / 4];
    int64_t       i64[CANVAS / 8];
    ggnn_node     id[CANVAS / 8];
    uint16_t      half[CANVAS / 2];
    ggnn_words    words[CANVAS / 16];
    ggnn_layout   layout;
    ggnn_block    block;
    ggnn_batch    batch;
} canvas;

static void canvas_fill(void) { memset(canvas.byte, 0x5a, sizeof canvas.byte); }
static int canvas_kept(void)
{
    int kept = 1;
    for (int i = 0; i < CANVAS; i++) kept &= canvas.byte[i] == 0x5a;
    return kept;
}
#define GIVES(value, call)                                                                                            \
    do {                                                                                                              \
        canvas_fill();                                                                                                \
        test_check_eq((int64_t)(call), (int64_t)(value), __FILE__, __LINE__, #call);                                  \
        test_check(canvas_kept(), __FILE__, __LINE__, #call " writes nothing");                                       \
    } while (0)
#define REFUSED(call) GIVES(GGNN_ERROR_ARGUMENT, call)

static const ggnn_rng rng = {1, 2, GGNN_PURPOSE_SAMPLE};
static ggnn_fault     fault;

TEST(random_numbers)
{
    REFUSED(ggnn_random_nodes(canvas.words, NULL, 0, 0, 3, 0));
    REFUSED(ggnn_random_nodes(NULL, &rng, 0, 0, 3, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, 256, 0, 3, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, -1, 0, 3, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, 0, -1, 3, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, 0, 0, -3, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, 0, NODES_MAX, 1, 0));
    REFUSED(ggnn_random_nodes(canvas.words, &rng, 0, NODES_MAX - 2, 3, 0));
    CHECK_EQ(ggnn_random_nodes(canvas.words, &rng, 0, NODES_MAX - 3, 3, 0), GGNN_OK);
    GIVES(GGNN_OK, ggnn_random_nodes(NULL, NULL, 0, 0, 0, 0));
    REFUSED(ggnn_dropout_fields(canvas.half, NULL, 0, 0, 0, 1));
    REFUSED(ggnn_dropout_fields(NULL, &rng, 0, 0, 0, 1));
    REFUSED(ggnn_dropout_fields(canvas.half, &rng, 256, 0, 0, 1));
    REFUSED(ggnn_dropout_fields(canvas.half, &rng, 0, 0, 0, -1));
    REFUSED(ggnn_dropout_fields(canvas.half, &rng, 0, -1, 0, 1));
    REFUSED(ggnn_dropout_fields(canvas.half, &rng, 0, NODES_MAX, 0, 1));
    CHECK_EQ(ggnn_dropout_fields(canvas.half, &rng, 0, NODES_MAX - 1, 0, 1), GGNN_OK);
    GIVES(GGNN_OK, ggnn_dropout_fields(NULL, NULL, 0, 0, 0, 0));
    REFUSED(ggnn_exp2_array(NULL, 3));
    REFUSED(ggnn_exp2_array(canvas.f, -1));
    GIVES(GGNN_OK, ggnn_exp2_array(NULL, 0));
}

static const int32_t some_wrong_parts[3] = {0, -5, INT32_MAX - 2};

TEST(layouts_and_owners)
{
    const int32_t owner[4] = {0, 1, 0, 1};
    ggnn_layout   at = {NULL, 0, NULL, NULL, 4, 2};
    REFUSED(ggnn_layout_owners(&canvas.layout, canvas.id + 100, canvas.i64 + 200, GGNN_OWNER_MAP, NULL, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, canvas.id + 100, canvas.i64 + 200, (ggnn_owner)9, owner, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, canvas.id + 100, canvas.i64 + 200, (ggnn_owner)-1, owner, 4, 2, NULL));
    REFUSED(ggnn_layout_owners(&canvas.layout, NULL, canvas.i64, GGNN_OWNER_MAP, owner, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, NULL, canvas.i64, GGNN_OWNER_HASH, NULL, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, NULL, NULL, GGNN_OWNER_RANGE, NULL, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(NULL, NULL, canvas.i64, GGNN_OWNER_RANGE, NULL, 4, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, NULL, canvas.i64, GGNN_OWNER_RANGE, NULL, -1, 2, &fault));
    REFUSED(ggnn_layout_owners(&canvas.layout, NULL, canvas.i64, GGNN_OWNER_RANGE, NULL, 4, 0, &fault));
    CHECK(fault.what && fault.what[0]);
    GIVES(-2, ggnn_layout_nodes(canvas.id, NULL, 4, 0));
    GIVES(-2, ggnn_layout_nodes(canvas.id, &at, -1, 0));
    for (int32_t part = -1; part <= 4; part++)
        if (part < 0 || part == 2 || part > 3) GIVES(-2, ggnn_layout_nodes(canvas.id, &at, 4, part)); /* 2: the host tier */
    for (int i = 0; i < 3; i++) {
        at.parts = some_wrong_parts[i];
        GIVES(-2, ggnn_layout_nodes(canvas.id, &at, 4, 0));
        GIVES(-2, ggnn_layout_nodes(canvas.id, &at, 4, 1));
        REFUSED(ggnn_layout_owners(&canvas.layout, NULL, canvas.i64 + 200, GGNN_OWNER_MODULO, NULL, 4, at.parts, &fault));
    }
}

/* A graph that lacks an array, or whose layout cannot be: each function that would read a list of it says so. */
TEST(graphs_that_lack_an_array)
{
    random_graph* g = random_graph_new(N, 3, 5);
    const ggnn_walks how = {2, 3, 0.5f};
    const int32_t fanout[] = {2};
    const ggnn_sampling sampling = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_node     id[2] = {0, 1}, bad;
    int64_t       counts[3];
    int32_t       copy[N * 8];
    float         ones[N] = {0};
    random_block* r = random_block_mixed(12, 15);
    ggnn_block    near_block = r->b; /* whose targets are nodes 0 to 11 */
    ggnn_batch    b;
    CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &sampling, 2, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    near_block.id = NULL;
    for (int i = 0; i < 5; i++) {
        ggnn_graph     wrong = g->graph;
        const ggnn_csc part[4] = {wrong.whole, wrong.whole, wrong.whole, wrong.whole};
        if (i == 0) wrong.whole.indptr = NULL;
        if (i == 1) wrong.whole.indices = NULL;
        if (i > 1) wrong.part = part, wrong.at.parts = some_wrong_parts[i - 2];
        fault.what = NULL;
        REFUSED(ggnn_graph_validate(&wrong, &fault));
        CHECK(fault.what && fault.what[0]);
        REFUSED(ggnn_graph_lists(canvas.i64, NULL, canvas.id + 300, NULL, &wrong, id, 2, &fault));
        REFUSED(ggnn_random_walk(canvas.id, &wrong, &how, &rng, 0, 0, &bad));
        REFUSED(ggnn_block_whole(&canvas.block, &wrong, counts, copy));
        if (i == 1) { /* degrees alone are read */
            CHECK_EQ(ggnn_gcn_norm(canvas.f, &wrong), GGNN_OK);
            CHECK_EQ(ggnn_scale_gcn(NULL, canvas.f, canvas.f + 64, &near_block, ones, &wrong), GGNN_OK);
            CHECK_EQ(ggnn_graph_lists(canvas.i64, NULL, NULL, NULL, &wrong, id, 2, &fault), GGNN_OK);
        } else {
            REFUSED(ggnn_gcn_norm(canvas.f, &wrong));
            REFUSED(ggnn_scale_gcn(NULL, canvas.f, canvas.f + 64, &r->b, ones, &wrong));
            REFUSED(ggnn_graph_lists(canvas.i64, NULL, NULL, NULL, &wrong, id, 2, &fault));
        }
        CHECK_EQ(ggnn_sample(&b, &wrong, &rng, id, 2), GGNN_ERROR_ARGUMENT);
        CHECK(b.fault.what && *b.num_seeds.n == 0); /* the batch is empty */
        CHECK_EQ(ggnn_sample(&b, &wrong, &rng, NULL, 0), GGNN_OK); /* no list is read */
        GIVES(GGNN_OK, ggnn_graph_lists(counts, NULL, NULL, NULL, &wrong, NULL, 0, &fault));
    }
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, id, 2), GGNN_OK);
    free(b.workspace);
    random_block_free(r);
    random_graph_free(g);
}

TEST(graphs)
{
    random_graph* g = random_graph_new(N, 3, 5);
    ggnn_lists    lists = {N, g->num_edges, g->indptr, g->indices, NULL, NULL}, wrong[4];
    ggnn_lists    out = {N, g->num_edges, canvas.i64, canvas.id + 100, NULL, NULL}, nowhere = {N, g->num_edges, NULL, NULL, NULL, NULL};
    ggnn_node     id[2] = {0, 1};
    for (int i = 0; i < 4; i++) wrong[i] = lists;
    wrong[0].num_nodes = -1;
    wrong[1].num_edges = -1;
    wrong[2].indptr = NULL;
    wrong[3].indices = NULL;
    REFUSED(ggnn_graph_validate(NULL, &fault));
    REFUSED(ggnn_graph_lists(NULL, NULL, NULL, NULL, &g->graph, id, 2, &fault));
    REFUSED(ggnn_graph_lists(canvas.i64, NULL, NULL, NULL, NULL, id, 2, &fault));
    REFUSED(ggnn_graph_lists(canvas.i64, NULL, NULL, NULL, &g->graph, NULL, 2, &fault));
    REFUSED(ggnn_graph_lists(canvas.i64, NULL, NULL, NULL, &g->graph, id, -1, &fault));
    REFUSED(ggnn_graph_from_coo(NULL, id, id, NULL, &fault));
    REFUSED(ggnn_graph_from_coo(&out, NULL, id, NULL, &fault));
    REFUSED(ggnn_graph_from_coo(&out, id, NULL, NULL, &fault));
    REFUSED(ggnn_graph_from_coo(&nowhere, id, id, NULL, &fault));
    REFUSED(ggnn_graph_transpose(&out, NULL, &fault));
    REFUSED(ggnn_graph_transpose(NULL, &lists, &fault));
    REFUSED(ggnn_graph_transpose(&nowhere, &lists, &fault));
    REFUSED(ggnn_graph_reorder(NULL, &lists, g->indices, canvas.byte, &fault));
    REFUSED(ggnn_graph_reorder(&out, &lists, NULL, canvas.byte, &fault));
    REFUSED(ggnn_graph_reorder(&out, &lists, g->indices, NULL, &fault));
    REFUSED(ggnn_graph_reorder(&nowhere, &lists, g->indices, canvas.byte, &fault));
    REFUSED(ggnn_graph_sort(&lists, NULL));
    REFUSED(ggnn_graph_simplify(NULL, &lists, NULL, 0));
    REFUSED(ggnn_graph_simplify(&nowhere, &lists, NULL, 0));
    REFUSED(ggnn_graph_simplify(&out, &lists, NULL, 8));
    REFUSED(ggnn_graph_simplify(&out, &lists, NULL, -1));
    ggnn_lists other = lists; /* reversed edges of another graph */
    for (other.num_nodes = N - 1; other.num_nodes <= N + 1; other.num_nodes += 2) REFUSED(ggnn_graph_simplify(&out, &lists, &other, 0));
    REFUSED(ggnn_graph_out_degrees(NULL, &lists));
    GIVES(0, ggnn_graph_sort_workspace_bytes(NULL));
    nowhere.indptr = canvas.i64; /* but no room for the edges */
    REFUSED(ggnn_graph_from_coo(&nowhere, id, id, NULL, &fault));
    REFUSED(ggnn_graph_transpose(&nowhere, &lists, &fault));
    REFUSED(ggnn_graph_reorder(&nowhere, &lists, g->indices, canvas.byte + 4096, &fault));
    nowhere.indptr = NULL, nowhere.indices = canvas.id; /* or for the lists */
    REFUSED(ggnn_graph_transpose(&nowhere, &lists, &fault));
    REFUSED(ggnn_graph_reorder(&nowhere, &lists, g->indices, canvas.byte + 4096, &fault));
    if (sizeof(ggnn_node) == 4) { /* more nodes than ids */
        ggnn_lists many = lists;
        many.num_nodes = (int64_t)INT32_MAX + 1;
        REFUSED(ggnn_graph_from_coo(&many, id, id, NULL, &fault));
        REFUSED(ggnn_graph_transpose(&out, &many, &fault));
        REFUSED(ggnn_graph_sort(&many, canvas.byte));
    }
    for (int i = 0; i < 4; i++) {
        REFUSED(ggnn_graph_from_coo(&wrong[i], id, id, NULL, &fault));
        REFUSED(ggnn_graph_transpose(&out, &wrong[i], &fault));
        REFUSED(ggnn_graph_reorder(&out, &wrong[i], g->indices, canvas.byte, &fault));
        REFUSED(ggnn_graph_sort(&wrong[i], canvas.byte));
        REFUSED(ggnn_graph_simplify(&out, &wrong[i], NULL, 0));
        REFUSED(ggnn_graph_simplify(&out, &lists, &wrong[i], 0));
        REFUSED(ggnn_graph_out_degrees(canvas.i64, &wrong[i]));
    }
    random_graph_free(g);
}

/* An edgeless graph needs no indices, and nothing is added to NULL (which UBSan says). */
TEST(a_graph_without_edges_needs_no_array_of_them)
{
    const int64_t   indptr[] = {0, 0, 0};
    const ggnn_node seeds[] = {0, 1};
    const int32_t   fanout[] = {5};
    ggnn_graph      g = ggnn_graph_plain(indptr, NULL, NULL, 2, 0);
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_batch      b;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    CHECK(ggnn_neighbors(&g, 0).id == NULL);
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 2, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 2), GGNN_OK);
    CHECK_EQ(*b.hop[0].num_edges.n, 0);
    free(b.workspace);
}

TEST(samples)
{
    ggnn_list   list = {NULL, NULL, 40, 0};
    static char work[4096];
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_WALK, 5, &rng, 0, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, (ggnn_method)77, 5, &rng, 0, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, (ggnn_method)-1, 5, &rng, 0, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, NULL, GGNN_FISHER_YATES, 5, &rng, 0, 0, work));
    GIVES(-2, ggnn_sample_list(NULL, &list, GGNN_FISHER_YATES, 5, &rng, 0, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, NULL, 0, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, &rng, 0, 0, NULL));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, &rng, 256, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, &rng, -1, 0, work));
    GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, &rng, 0, -1, work));
    if (sizeof(ggnn_node) == 8) GIVES(-2, ggnn_sample_list(canvas.i64, &list, GGNN_FISHER_YATES, 5, &rng, 0, (ggnn_node)NODES_MAX, work));
    GIVES(0, ggnn_sample_list(NULL, &list, GGNN_FISHER_YATES, 0, NULL, 0, 0, NULL));
    GIVES(0, ggnn_sample_workspace_bytes((ggnn_method)77, 5));
    list.degree = -1; /* a broken list has nothing */
    FOR_METHODS_OF_LISTS(method)
        for (int64_t fanout = -1; fanout < 6; fanout += 2) GIVES(0, ggnn_sample_list(canvas.i64, &list, (ggnn_method)method, fanout, &rng, 0, 0, work));
}

TEST(samples_of_lists)
{
    const ggnn_list list = {NULL, NULL, 40, 0};
    const int64_t   key = 7;
    int64_t         bound[2];
    static char     work[4096];
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, GGNN_WALK, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, (ggnn_method)77, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, NULL, &key, 1, GGNN_FISHER_YATES, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, NULL, 1, GGNN_FISHER_YATES, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, NULL, &list, &key, 1, GGNN_FISHER_YATES, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(NULL, bound, &list, &key, 1, GGNN_FISHER_YATES, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, -1, GGNN_FISHER_YATES, 5, &rng, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, GGNN_FISHER_YATES, 5, NULL, 0, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, GGNN_FISHER_YATES, 5, &rng, 256, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, GGNN_FISHER_YATES, 5, &rng, -1, work));
    REFUSED(ggnn_sample_lists(canvas.i64, bound, &list, &key, 1, GGNN_FISHER_YATES, 5, &rng, 0, NULL));
    CHECK_EQ(ggnn_sample_lists(NULL, bound, NULL, NULL, 0, GGNN_FISHER_YATES, 5, NULL, 0, NULL), GGNN_OK);
    CHECK_EQ(bound[0], 0);
    CHECK_EQ(ggnn_sample_lists(NULL, bound, &list, &key, 1, GGNN_FISHER_YATES, 0, &rng, 0, work), GGNN_OK);
    CHECK_EQ(bound[1], 0);
}

TEST(walks)
{
    random_graph* g = random_graph_new(N, 3, 5);
    ggnn_walks    how = {2, 3, 0.5f}, wrong = {2, 3, 2.0f};
    int64_t       indptr[] = {0, 1, 2};
    ggnn_node     indices[] = {0, 0};
    ggnn_graph    first = g->graph; // one node of two: the other's list is in memory, but not in the graph
    ggnn_node     bad = -1;
    char          work[16 * 16];
    float         visits[16];
    first.num_nodes = first.num_edges = 1;
    first.whole.indptr = indptr;
    first.whole.indices = indices;
    REFUSED(ggnn_random_walk(canvas.id, NULL, &how, &rng, 0, 0, &bad));
    REFUSED(ggnn_random_walk(canvas.id, &g->graph, NULL, &rng, 0, 0, &bad));
    REFUSED(ggnn_random_walk(canvas.id, &g->graph, &wrong, &rng, 0, 0, &bad));
    REFUSED(ggnn_random_walk(canvas.id, &g->graph, &how, NULL, 0, 0, &bad));
    REFUSED(ggnn_random_walk(canvas.id, &g->graph, &how, &rng, 256, 0, &bad));
    REFUSED(ggnn_random_walk(NULL, &g->graph, &how, &rng, 0, 0, &bad));
    REFUSED(ggnn_random_walk(canvas.id, &g->graph, &how, &rng, 0, 0, NULL));
    GIVES(GGNN_ERROR_ID, ggnn_random_walk(canvas.id, &g->graph, &how, &rng, 0, N, &bad));
    CHECK_EQ(bad, N);
    GIVES(GGNN_ERROR_ID, ggnn_random_walk(canvas.id, &g->graph, &how, &rng, 0, -1, &bad));
    CHECK_EQ(bad, -1);
    GIVES(GGNN_ERROR_ID, ggnn_random_walk(canvas.id, &first, &how, &rng, 0, 1, &bad));
    CHECK_EQ(bad, 1);
    how.walks = 0; /* no walks, nothing visited */
    GIVES(GGNN_OK, ggnn_random_walk(NULL, &g->graph, &how, &rng, 0, 0, &bad));
    GIVES(-2, ggnn_walk_neighbors(canvas.id, visits, g->indices, -1, 2, 0, work));
    GIVES(-2, ggnn_walk_neighbors(NULL, visits, g->indices, 4, 2, 0, work));
    GIVES(-2, ggnn_walk_neighbors(canvas.id, NULL, g->indices, 4, 2, 0, work));
    GIVES(-2, ggnn_walk_neighbors(canvas.id, visits, NULL, 4, 2, 0, work));
    GIVES(-2, ggnn_walk_neighbors(canvas.id, visits, g->indices, 4, 2, 0, NULL));
    GIVES(0, ggnn_walk_neighbors(NULL, NULL, NULL, 0, 2, 0, NULL));
    random_graph_free(g);
}

TEST(tables)
{
    static char  memory[4096];
    ggnn_unique* seen = ggnn_unique_init(memory, GGNN_UNIQUE_HASH, N, 10);
    ggnn_node    id[2] = {3, 4};
    int64_t      bad;
    GIVES(0, ggnn_unique_bytes((ggnn_unique_kind)5, N, 10));
    GIVES(0, ggnn_unique_bytes(GGNN_UNIQUE_HASH, -1, 10));
    GIVES(0, ggnn_unique_bytes(GGNN_UNIQUE_HASH, N, -1));
    for (int kind = GGNN_UNIQUE_DIRECT; kind <= GGNN_UNIQUE_HASH; kind++) {
        CHECK_EQ(ggnn_unique_bytes((ggnn_unique_kind)kind, NODES_MAX + 1, 1) == 0, kind == GGNN_UNIQUE_DIRECT); /* of hashed ids N is no size */
        GIVES(0, ggnn_unique_bytes((ggnn_unique_kind)kind, INT64_MAX, INT64_MAX));
        GIVES(0, ggnn_unique_bytes((ggnn_unique_kind)kind, NODES_MAX, (int64_t)INT32_MAX + 1));
        CHECK((ggnn_unique_init(memory, (ggnn_unique_kind)kind, NODES_MAX + 1, 1) == NULL) == (kind == GGNN_UNIQUE_DIRECT));
        CHECK(ggnn_unique_bytes((ggnn_unique_kind)kind, NODES_MAX, INT32_MAX) > (size_t)1 << 34);
        CHECK(ggnn_unique_bytes((ggnn_unique_kind)kind, N, INT64_MAX) == ggnn_unique_bytes((ggnn_unique_kind)kind, N, N));
    }
    CHECK(ggnn_unique_init(memory, (ggnn_unique_kind)5, N, 10) == NULL);
    CHECK(ggnn_unique_init(NULL, GGNN_UNIQUE_HASH, N, 10) == NULL);
    seen = ggnn_unique_init(memory, GGNN_UNIQUE_HASH, N, 10);
    REFUSED(ggnn_unique_begin(NULL));
    REFUSED(ggnn_unique_append(NULL, canvas.id, canvas.i32 + 500, id, 2, &bad));
    REFUSED(ggnn_unique_append(seen, NULL, canvas.i32, id, 2, &bad));
    REFUSED(ggnn_unique_append(seen, canvas.id, canvas.i32 + 500, NULL, 2, &bad));
    REFUSED(ggnn_unique_append(seen, canvas.id, canvas.i32 + 500, id, -1, &bad));
    REFUSED(ggnn_unique_append(seen, canvas.id, canvas.i32 + 500, id, 2, NULL));
    GIVES(GGNN_OK, ggnn_unique_append(seen, NULL, NULL, NULL, 0, &bad));
    GIVES(-1, ggnn_unique_find(NULL, 3));
}

TEST(batches)
{
    random_graph* g = random_graph_new(N, 3, 5);
    const int32_t fanout[] = {2, 2};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2), far = how;
    ggnn_batch    b, planned, unpacked;
    ggnn_node     seeds[] = {1, 2};
    far.first_hop = INT32_MAX;
    REFUSED(ggnn_batch_plan(NULL, &g->graph, &how, 2, NULL));
    REFUSED(ggnn_batch_plan(&canvas.batch, NULL, &how, 2, NULL));
    REFUSED(ggnn_batch_plan(&canvas.batch, &g->graph, NULL, 2, NULL));
    CHECK_EQ(ggnn_batch_plan(&planned, &g->graph, &far, 2, NULL), GGNN_ERROR_ARGUMENT);
    CHECK_STR(planned.fault.what, "a hop number is outside [0, 256)");
    how.method = (ggnn_method)9;
    CHECK_EQ(ggnn_batch_plan(&planned, &g->graph, &how, 2, NULL), GGNN_ERROR_ARGUMENT);
    how.method = GGNN_FISHER_YATES;
    CHECK_EQ(ggnn_batch_plan(&planned, &g->graph, &how, 2, NULL), GGNN_OK);
    b = planned;
    REFUSED(ggnn_batch_init(NULL, canvas.byte));
    REFUSED(ggnn_batch_init(&b, NULL));
    REFUSED(ggnn_sample(&b, &g->graph, &rng, seeds, 2)); /* planned only */
    REFUSED(ggnn_batch_begin(&b, seeds, 2));
    REFUSED(ggnn_sample_hop(&b, &g->graph, &rng));
    REFUSED(ggnn_batch_pack(canvas.byte, &b));
    REFUSED(ggnn_batch_validate(&b, &fault));
    GIVES(0, ggnn_batch_packed_bytes(&b));
    GIVES(0, ggnn_batch_packed_bytes(NULL));
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 2), GGNN_OK);
    REFUSED(ggnn_sample(NULL, &g->graph, &rng, seeds, 2));
    REFUSED(ggnn_sample(&b, NULL, &rng, seeds, 2));
    REFUSED(ggnn_sample(&b, &g->graph, NULL, seeds, 2));
    REFUSED(ggnn_sample(&b, &g->graph, &rng, NULL, 2));
    REFUSED(ggnn_sample(&b, &g->graph, &rng, seeds, -1));
    REFUSED(ggnn_sample_hop(NULL, &g->graph, &rng));
    REFUSED(ggnn_sample_hop(&b, NULL, &rng));
    REFUSED(ggnn_sample_hop(&b, &g->graph, NULL));
    REFUSED(ggnn_batch_begin(&b, NULL, 2));
    REFUSED(ggnn_batch_begin(&b, seeds, -1));
    REFUSED(ggnn_batch_begin(NULL, seeds, 2));
    CHECK(*b.num_seeds.n == 2 && b.num_hops == 2); /* as it was */
    REFUSED(ggnn_batch_pack(NULL, &b));
    REFUSED(ggnn_batch_pack(canvas.byte, NULL));
    size_t bytes = ggnn_batch_packed_bytes(&b);
    void*  packed = malloc(bytes);
    CHECK_EQ(ggnn_batch_pack(packed, &b), GGNN_OK);
    REFUSED(ggnn_batch_unpack(NULL, packed, bytes));
    REFUSED(ggnn_batch_unpack(&canvas.batch, NULL, bytes));
    CHECK_EQ(ggnn_batch_unpack(&unpacked, packed, bytes), GGNN_OK);
    REFUSED(ggnn_sample(&unpacked, &g->graph, &rng, seeds, 2)); /* it has no table */
    REFUSED(ggnn_batch_begin(&unpacked, seeds, 2));
    REFUSED(ggnn_sample_hop(&unpacked, &g->graph, &rng));
    REFUSED(ggnn_batch_init(&unpacked, canvas.byte));
    free(packed);
    free(b.workspace);
    random_graph_free(g);
}

/* A slot of a ring is often made as a copy of the first. */
TEST(a_second_init_gives_a_copy_a_table_of_its_own)
{
    random_graph* g = random_graph_new(N, 3, 5);
    const int32_t fanout[] = {-1};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_batch    a, b;
    ggnn_node     seeds[] = {1, 2};
    CHECK_EQ(ggnn_batch_plan(&a, &g->graph, &how, 2, NULL), GGNN_OK);
    char *first = (char*)malloc(a.bytes), *second = (char*)malloc(a.bytes), *third = (char*)malloc(a.bytes);
    CHECK_EQ(ggnn_batch_init(&a, first), GGNN_OK);
    b = a;
    CHECK_EQ(ggnn_batch_init(&b, second), GGNN_OK);
    CHECK((char*)b.seen >= second && (char*)b.seen < second + b.bytes);
    CHECK((char*)a.seen >= first && (char*)a.seen < first + a.bytes);
    CHECK_EQ(ggnn_batch_init(&a, third), GGNN_OK); /* the same batch, elsewhere */
    CHECK((char*)a.seen >= third && (char*)a.seen < third + a.bytes);
    free(first);
    CHECK_EQ(ggnn_sample(&a, &g->graph, &rng, seeds, 2), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 2), GGNN_OK);
    ggnn_unique* table = a.seen;
    CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 2, table), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, second), GGNN_OK);
    CHECK(b.seen == table);
    free(second);
    free(third);
    random_graph_free(g);
}

TEST(replacement_takes_nothing_of_no_list_whatever_its_bound)
{
    const int64_t   indptr[] = {0, 0, 1};
    const ggnn_node indices[] = {0}, seeds[] = {0};
    const int32_t   fanout[] = {5};
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, 2, 1);
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_REPLACEMENT, fanout, 1);
    ggnn_batch      b;
    how.max_edges[0] = 3;
    CHECK_EQ(ggnn_batch_plan(&b, &g, &how, 1, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, 1), GGNN_OK);
    CHECK_EQ(*b.hop[0].num_edges.n, 0);
    free(b.workspace);
}

/* Each number that unpacked bytes may have wrong. */
TEST(validate_names_what_is_wrong_with_an_unpacked_batch)
{
    random_graph* g = random_graph_new(N, 3, 5);
    ggnn_sampling how = {GGNN_FISHER_YATES, 2, {3, 2}, 0, GGNN_KEEP_REPEATS, {0, 0, 0}, 0, {0}, {0}};
    ggnn_node     seeds[] = {0, 7, 0, 9};
    ggnn_batch    b, u;
    CHECK_EQ(ggnn_batch_plan(&b, &g->graph, &how, 4, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&b, malloc(b.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 4), GGNN_OK);
    CHECK_EQ(ggnn_batch_validate(&b, &fault), GGNN_OK);
    size_t bytes = ggnn_batch_packed_bytes(&b);
    void*  packed = malloc(bytes);
    ggnn_batch_pack(packed, &b);
    CHECK_EQ(ggnn_batch_unpack(&u, packed, bytes), GGNN_OK);
    CHECK_EQ(ggnn_batch_validate(&u, &fault), GGNN_OK);
    CHECK(fault.what == NULL);
    int32_t* places[] = {&u.seed_local[0], &u.seed_local[3], &u.hop[1].repeats[0], &u.hop[0].repeats[2], &u.hop[1].indices[1]};
    for (int i = 0; i < 5; i++)
        for (int32_t value = -1; value <= 1000; value += 1001) {
            const int32_t kept = *places[i];
            *places[i] = value;
            CHECK_EQ(ggnn_batch_validate(&u, &fault), GGNN_ERROR_BLOCK);
            CHECK(fault.what != NULL);
            CHECK_EQ(fault.hop, i < 2 ? -1 : i == 3 ? 0 : 1);
            if (i < 2) CHECK_EQ(fault.node, 3 * i); /* the seed */
            *places[i] = kept;
        }
    u.hop[1].repeats[0]++; /* two wrong ones that add up */
    u.hop[1].repeats[1]--;
    CHECK_EQ(ggnn_batch_validate(&u, &fault), GGNN_ERROR_BLOCK);
    u.hop[1].repeats[0]--;
    u.hop[1].repeats[1]++;
    u.id[1] = N;
    CHECK_EQ(ggnn_batch_validate(&u, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.hop, 0);
    CHECK_EQ(fault.node, 1);
    free(packed);
    free(b.workspace);
    random_graph_free(g);
}

TEST(blocks)
{
    random_graph* g = random_graph_new(N, 3, 5);
    random_block* r = random_block_mixed(12, 15);
    int64_t       counts[3];
    int32_t*      copy = (int32_t*)malloc((size_t)g->num_edges * sizeof *copy);
    ggnn_block    none = r->b, small = r->t;
    ggnn_graph    large = g->graph;
    large.num_edges = (int64_t)INT32_MAX + 1;
    REFUSED(ggnn_block_whole(NULL, &g->graph, counts, copy));
    REFUSED(ggnn_block_whole(&canvas.block, NULL, counts, copy));
    REFUSED(ggnn_block_whole(&canvas.block, &g->graph, NULL, copy));
    REFUSED(ggnn_block_whole(&canvas.block, &large, counts, copy));
    if (sizeof(ggnn_node) == 8) REFUSED(ggnn_block_whole(&canvas.block, &g->graph, counts, NULL));
    GIVES(0, ggnn_block_transpose_bytes(-1, 1, 1));
    GIVES(0, ggnn_block_transpose_bytes(1, 1, -1));
    GIVES(0, ggnn_block_transpose_bytes(1, -1, 1));
    for (int i = 0; i < 3; i++) /* local ids and edges are numbers of 31 bits */
        for (int j = 0; j < 2; j++) {
            const int64_t large_size = j ? INT64_MAX : (int64_t)INT32_MAX + 1, dst = i == 0 ? large_size : 1, src = i == 1 ? large_size : 1,
                          edges = i == 2 ? large_size : 1;
            GIVES(0, ggnn_block_transpose_bytes(dst, src, edges));
            REFUSED(ggnn_block_transpose_init(&canvas.block, dst, src, edges, canvas.byte + 1024));
        }
    CHECK(ggnn_block_transpose_bytes(INT32_MAX, INT32_MAX, INT32_MAX) > (size_t)1 << 34);
    REFUSED(ggnn_block_transpose_init(&canvas.block, -1, 1, 1, canvas.byte + 1024));
    REFUSED(ggnn_block_transpose_init(&canvas.block, 1, 1, -1, canvas.byte + 1024));
    for (int i = 0; i < 2; i++) {
        large = g->graph;
        if (i == 0) large.num_nodes = -1;
        if (i == 1) large.num_edges = -1;
        REFUSED(ggnn_block_whole(&canvas.block, &large, counts, copy));
    }
    large = g->graph;
    large.num_nodes = (int64_t)INT32_MAX + 1;
    REFUSED(ggnn_block_whole(&canvas.block, &large, counts, copy));
    REFUSED(ggnn_block_transpose_init(NULL, 1, 1, 1, canvas.byte));
    REFUSED(ggnn_block_transpose_init(&canvas.block, 1, 1, 1, NULL));
    REFUSED(ggnn_block_transpose_init(&canvas.block, 1, -1, 1, canvas.byte + 1024));
    none.indices = NULL;
    REFUSED(ggnn_block_transpose(&r->t, &none));
    REFUSED(ggnn_block_transpose(NULL, &r->b));
    REFUSED(ggnn_block_transpose(&r->t, NULL));
    small.indptr = NULL;
    REFUSED(ggnn_block_transpose(&small, &r->b));
    small.indptr = r->t.indptr;
    small.num_edges.max = r->edges - 1;
    REFUSED(ggnn_block_transpose(&small, &r->b));
    small.num_edges.max = r->edges;
    small.num_dst.max = r->src - 1;
    REFUSED(ggnn_block_transpose(&small, &r->b));
    small.num_dst.max = r->src;
    small.num_src.max = *r->b.num_dst.n - 1;
    REFUSED(ggnn_block_transpose(&small, &r->b));
    REFUSED(ggnn_block_validate(NULL, N, &fault));
    for (int i = 0; i < 4; i++) {
        none = r->b;
        if (i == 0) none.num_src.n = NULL;
        if (i == 1) none.num_dst.n = NULL;
        if (i == 2) none.num_edges.n = NULL;
        if (i == 3) none.indptr = NULL;
        REFUSED(ggnn_block_validate(&none, N, &fault));
        REFUSED(ggnn_block_transpose(&r->t, &none));
    }
    free(copy);
    random_block_free(r);
    random_graph_free(g);
}

TEST(rows)
{
    float         table[N * WIDTH] = {0};
    ggnn_node     id[3] = {1, 2, 3};
    int64_t       position[3] = {1, 2, 3};
    int32_t       index[3] = {0, 1, 2};
    random_block* r = random_block_mixed(12, 15);
    const void*   base[4] = {table, table, table, table};
    ggnn_store    rows = ggnn_store_plain(table, N, WIDTH, GGNN_F32), wrong[9];
    const int64_t much = (int64_t)INT32_MAX + 1;
    for (int i = 0; i < 9; i++) wrong[i] = rows;
    wrong[0].rows = NULL;
    wrong[1].width = -1;
    wrong[2].type = (ggnn_type)7;
    wrong[3].pitch = 4 * WIDTH - 4; /* rows that overlap, */
    wrong[4].pitch = -4 * WIDTH;
    wrong[5].pitch = 4 * WIDTH + 2; /* or begin inside an element */
    for (int i = 6; i < 9; i++) wrong[i].base = base, wrong[i].at.parts = some_wrong_parts[i - 6];
    for (int i = 0; i < 9; i++) {
        REFUSED(ggnn_gather(canvas.f, WIDTH, GGNN_F32, &wrong[i], id, 3));
        REFUSED(ggnn_gather_edges(canvas.f, WIDTH, GGNN_F32, &wrong[i], position, 3));
        REFUSED(ggnn_gather_marked(canvas.f, WIDTH, GGNN_F32, &wrong[i], position, 3));
        REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, &r->b, NULL, NULL, 1, &wrong[i]));
    }
    random_block_free(r);
    REFUSED(ggnn_gather(NULL, WIDTH, GGNN_F32, &rows, id, 3));
    REFUSED(ggnn_gather(canvas.f, WIDTH - 1, GGNN_F32, &rows, id, 3));
    REFUSED(ggnn_gather(canvas.f, WIDTH, (ggnn_type)2, &rows, id, 3));
    REFUSED(ggnn_gather(canvas.f, WIDTH, GGNN_F32, NULL, id, 3));
    REFUSED(ggnn_gather(canvas.f, WIDTH, GGNN_F32, &rows, NULL, 3));
    REFUSED(ggnn_gather(canvas.f, WIDTH, GGNN_F32, &rows, id, -3));
    GIVES(GGNN_OK, ggnn_gather(NULL, WIDTH, GGNN_F32, &rows, NULL, 0));
    REFUSED(ggnn_gather_edges(NULL, WIDTH, GGNN_F32, &rows, position, 3));
    REFUSED(ggnn_gather_edges(canvas.f, WIDTH, GGNN_F32, NULL, position, 3));
    REFUSED(ggnn_gather_edges(canvas.f, WIDTH, GGNN_F32, &rows, NULL, 3));
    REFUSED(ggnn_gather_edges(canvas.f, WIDTH, GGNN_F32, &rows, position, -3));
    GIVES(GGNN_OK, ggnn_gather_edges(NULL, WIDTH, GGNN_F32, &rows, NULL, 0));
    REFUSED(ggnn_gather_marked(NULL, WIDTH, GGNN_F32, &rows, position, 3));
    REFUSED(ggnn_gather_marked(canvas.f, WIDTH, GGNN_F32, NULL, position, 3));
    REFUSED(ggnn_gather_marked(canvas.f, WIDTH, GGNN_F32, &rows, NULL, 3));
    REFUSED(ggnn_gather_marked(canvas.f, WIDTH, GGNN_F32, &rows, position, -3));
    GIVES(GGNN_OK, ggnn_gather_marked(NULL, WIDTH, GGNN_F32, &rows, NULL, 0));
    ggnn_layout many = rows.at;
    REFUSED(ggnn_mark(canvas.i64, NULL, id, 3));
    REFUSED(ggnn_mark(NULL, &rows.at, id, 3));
    REFUSED(ggnn_mark(canvas.i64, &rows.at, NULL, 3));
    REFUSED(ggnn_mark(canvas.i64, &rows.at, id, -3));
    many.parts = 0;
    REFUSED(ggnn_mark(canvas.i64, &many, id, 3));
    many.parts = (1 << 23) - 1;
    REFUSED(ggnn_mark(canvas.i64, &many, id, 3));
    GIVES(GGNN_OK, ggnn_mark(NULL, &rows.at, NULL, 0));
    REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, canvas.i64 + 100, NULL, id, 3));
    REFUSED(ggnn_split(NULL, canvas.i32 + 10, canvas.i64 + 100, &rows.at, id, 3));
    REFUSED(ggnn_split(canvas.i32, NULL, canvas.i64 + 100, &rows.at, id, 3));
    REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, NULL, &rows.at, id, 3));
    REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, canvas.i64 + 100, &rows.at, NULL, 3));
    REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, canvas.i64 + 100, &rows.at, id, much));
    REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, canvas.i64 + 100, &rows.at, id, -1));
    for (int i = 0; i < 3; i++) {
        rows.at.parts = some_wrong_parts[i];
        REFUSED(ggnn_split(canvas.i32, canvas.i32 + 10, canvas.i64 + 100, &rows.at, id, 3));
    }
    REFUSED(ggnn_permute(canvas.f, WIDTH, table, WIDTH, GGNN_F32, WIDTH, NULL, 3));
    REFUSED(ggnn_permute(NULL, WIDTH, table, WIDTH, GGNN_F32, WIDTH, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH, NULL, WIDTH, GGNN_F32, WIDTH, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH - 1, table, WIDTH, GGNN_F32, WIDTH, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH, table, WIDTH - 1, GGNN_F32, WIDTH, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH, table, WIDTH, (ggnn_type)2, WIDTH, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH, table, WIDTH, GGNN_F32, -1, index, 3));
    REFUSED(ggnn_permute(canvas.f, WIDTH, table, WIDTH, GGNN_F32, WIDTH, index, -1));
}

/* A block with something missing: without a size, without lists, without indices. */
enum { NO_TARGETS, NO_LISTS, NO_INDICES, NO_SOURCES, NO_EDGES, BROKEN };
typedef struct {
    random_block* r;
    ggnn_block    broken[BROKEN];
} blocks_of;
static blocks_of blocks_new(void)
{
    static const int64_t degree[DST] = {3, 0, 1, 4, 2, 2};
    blocks_of            b;
    b.r = random_block_new(DST, SRC, degree);
    for (int i = 0; i < BROKEN; i++) b.broken[i] = b.r->b;
    b.broken[NO_TARGETS].num_dst.n = NULL;
    b.broken[NO_LISTS].indptr = NULL;
    b.broken[NO_INDICES].indices = NULL;
    b.broken[NO_SOURCES].num_src.n = NULL;
    b.broken[NO_EDGES].num_edges.n = NULL;
    return b;
}

/* Matrices of WIDTH columns. */
static ggnn_status messages(float* out, int64_t ld, ggnn_reduce how, ggnn_message message, const ggnn_block* b, const ggnn_scale* scale, const float* weight, int32_t heads, const float* inp, const float* edge)
{
    return ggnn_spmm_edges(out, ld, NULL, how, message, b, scale, weight, heads, inp, WIDTH, edge, WIDTH, WIDTH);
}

static ggnn_status messages_back(float* dedge, ggnn_message message, const ggnn_block* b, const float* weight, int32_t heads, const float* inp, const float* dout, const int32_t* arg)
{
    return ggnn_spmm_edges_back(dedge, WIDTH, message, b, NULL, weight, heads, inp, WIDTH, dout, WIDTH, arg, WIDTH);
}

TEST(messages_of_edges)
{
    random_block*     r = random_block_mixed(12, 15);
    const ggnn_block* b = &r->b;
    float             x[15 * WIDTH] = {0}, one[15] = {0}, *edge = test_floats(r->edges * WIDTH), *out = test_floats(r->edges * WIDTH);
    int32_t           arg[12 * WIDTH] = {0};
    ggnn_scale        self = {NULL, NULL, one}, src = {one, NULL, NULL};
    REFUSED(messages(NULL, WIDTH, GGNN_SUM, GGNN_EDGE_PLUS, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH - 1, GGNN_SUM, GGNN_EDGE_PLUS, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, (ggnn_reduce)4, GGNN_EDGE_PLUS, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, (ggnn_message)3, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, (ggnn_message)-1, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_MAX, GGNN_EDGE_TIMES, b, NULL, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_MIN, GGNN_EDGE_PLUS, b, &src, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_COPY, b, &self, NULL, 1, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_PLUS, b, NULL, NULL, 2, x, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_PLUS, b, NULL, NULL, 1, NULL, edge));
    REFUSED(messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_COPY, b, NULL, NULL, 1, NULL, NULL));
    GIVES(GGNN_OK, messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_COPY, b, NULL, NULL, 1, NULL, edge));
    GIVES(GGNN_OK, messages(out, WIDTH, GGNN_SUM, GGNN_EDGE_TIMES, b, &self, NULL, 1, x, edge));
    REFUSED(messages_back(NULL, GGNN_EDGE_PLUS, b, NULL, 1, NULL, x, NULL));
    REFUSED(messages_back(out, (ggnn_message)3, b, NULL, 1, x, x, NULL));
    REFUSED(messages_back(out, GGNN_EDGE_TIMES, b, NULL, 1, NULL, x, NULL));
    REFUSED(messages_back(out, GGNN_EDGE_TIMES, b, NULL, 1, x, x, arg));
    REFUSED(messages_back(out, GGNN_EDGE_PLUS, b, NULL, 1, NULL, NULL, NULL));
    REFUSED(messages_back(out, GGNN_EDGE_PLUS, b, NULL, 2, NULL, x, NULL));
    REFUSED(messages_back(out, GGNN_EDGE_PLUS, b, x, 3, NULL, x, NULL));
    GIVES(GGNN_OK, messages_back(out, GGNN_EDGE_PLUS, b, NULL, 1, NULL, x, arg));
    free(edge);
    free(out);
    random_block_free(r);
}

TEST(aggregation)
{
    blocks_of         t = blocks_new();
    const ggnn_block* b = &t.r->b;
    float             x[SRC * WIDTH] = {0}, w[64] = {0}, ones[SRC] = {0};
    int32_t           arg[SRC * WIDTH] = {0};
    ggnn_scale        scale = {ones, NULL, NULL};
    ggnn_store        rows = ggnn_store_plain(x, SRC, WIDTH, GGNN_F32);
    random_graph*     g = random_graph_new(N, 3, 5);
    for (int i = 0; i <= BROKEN; i++) {
        const ggnn_block* bad = i < BROKEN ? &t.broken[i] : NULL;
        REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, bad, NULL, NULL, 1, x, WIDTH, WIDTH));
        REFUSED(messages(canvas.f, WIDTH, GGNN_SUM, GGNN_EDGE_PLUS, bad, NULL, NULL, 1, x, w));
        REFUSED(messages_back(canvas.f, GGNN_EDGE_PLUS, bad, NULL, 1, x, x, NULL));
        REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, bad, b, NULL, 1, x, WIDTH, arg, WIDTH));
        if (i == NO_INDICES) continue; /* these need none */
        REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, bad, NULL, 1, x, WIDTH, arg, WIDTH));
        REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, bad, NULL, NULL, 1, &rows));
        REFUSED(ggnn_scale_mean(canvas.f, bad, 0));
        REFUSED(ggnn_scale_weights(canvas.f, bad, w));
        REFUSED(ggnn_scale_gcn(NULL, canvas.f, canvas.f + 64, bad, ones, &g->graph));
    }
    rows.type = (ggnn_type)2;
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, NULL, 1, &rows));
    rows.type = GGNN_F32, rows.width = -1;
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, NULL, 1, &rows));
    rows.width = WIDTH;
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, (ggnn_reduce)4, b, NULL, NULL, 1, &rows));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, w, 3, &rows));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, NULL, 2, &rows));
    REFUSED(ggnn_spmm(NULL, WIDTH, NULL, GGNN_SUM, b, NULL, NULL, 1, x, WIDTH, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, NULL, 1, NULL, WIDTH, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH - 1, NULL, GGNN_SUM, b, NULL, NULL, 1, x, WIDTH, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, NULL, 1, x, WIDTH - 1, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, NULL, 1, x, WIDTH, -1));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, w, 3, x, WIDTH, WIDTH)); /* 3 heads of 8 columns */
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, w, 0, x, WIDTH, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, w, -1, x, WIDTH, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, b, w, -1, x, WIDTH, arg, WIDTH));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, w, -2, &rows));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, NULL, NULL, 2, x, WIDTH, WIDTH)); /* heads of no weight */
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, (ggnn_reduce)4, b, NULL, NULL, 1, x, WIDTH, WIDTH));
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_MAX, b, &scale, NULL, 1, x, WIDTH, WIDTH));
    t.r->b.bipartite = 1; /* its targets have no rows among the sources */
    scale.self = ones;
    REFUSED(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, b, &scale, NULL, 1, x, WIDTH, WIDTH));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, &scale, NULL, 1, &rows));
    t.r->b.bipartite = 0;
    GIVES(GGNN_OK, ggnn_spmm(NULL, 0, NULL, GGNN_SUM, b, NULL, NULL, 1, NULL, 0, 0));
    for (int i = 0; i < 3; i++) { /* the transpose of another block */
        int64_t    other[3] = {*b->num_dst.n, *b->num_src.n, *b->num_edges.n};
        ggnn_block unlike = *b;
        other[i]--;
        unlike.num_dst.n = &other[0], unlike.num_src.n = &other[1], unlike.num_edges.n = &other[2];
        REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, &unlike, NULL, 1, x, WIDTH, arg, WIDTH));
    }
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, NULL, NULL, 1, x, WIDTH, arg, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, b, NULL, 1, x, WIDTH, NULL, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, b, NULL, 1, NULL, WIDTH, arg, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, b, NULL, 1, x, WIDTH - 1, arg, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH - 1, &t.r->t, b, NULL, 1, x, WIDTH, arg, WIDTH));
    REFUSED(ggnn_spmm_back_arg(canvas.f, WIDTH, &t.r->t, b, w, 3, x, WIDTH, arg, WIDTH));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, NULL, 1, NULL));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH - 1, GGNN_SUM, b, NULL, NULL, 1, &rows));
    REFUSED(ggnn_aggregate(NULL, WIDTH, GGNN_SUM, b, NULL, NULL, 1, &rows));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_MIN, b, &scale, NULL, 1, &rows));
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, &t.broken[NO_INDICES], NULL, NULL, 1, &rows)); /* no ids at all */
    rows.rows = NULL;
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, b, NULL, NULL, 1, &rows));
    REFUSED(ggnn_scale_mean(NULL, b, 0));
    REFUSED(ggnn_scale_weights(canvas.f, b, NULL));
    REFUSED(ggnn_scale_weights(NULL, b, w));
    REFUSED(ggnn_gcn_norm(NULL, &g->graph));
    REFUSED(ggnn_gcn_norm(canvas.f, NULL));
    REFUSED(ggnn_scale_gcn(NULL, NULL, canvas.f, b, ones, &g->graph));
    REFUSED(ggnn_scale_gcn(NULL, canvas.f, NULL, b, ones, &g->graph));
    REFUSED(ggnn_scale_gcn(NULL, canvas.f, canvas.f + 64, b, NULL, &g->graph));
    REFUSED(ggnn_scale_gcn(NULL, canvas.f, canvas.f + 64, b, ones, NULL));
    int64_t    none = 0;
    ggnn_block targetless = t.r->b; /* its sources are read all the same */
    targetless.num_dst.n = &none;
    REFUSED(ggnn_scale_gcn(canvas.f, NULL, NULL, &targetless, NULL, &g->graph));
    GIVES(GGNN_OK, ggnn_scale_gcn(NULL, NULL, NULL, &targetless, NULL, &g->graph));
    targetless.num_src.n = &none;
    GIVES(GGNN_OK, ggnn_scale_gcn(canvas.f, NULL, NULL, &targetless, NULL, &g->graph));
    random_graph_free(g);
    random_block_free(t.r);
}

TEST(edges)
{
    blocks_of         t = blocks_new();
    const ggnn_block* b = &t.r->b;
    float             x[SRC * WIDTH] = {0}, y[DST * WIDTH] = {0}, e[64] = {0};
    for (int i = 0; i <= BROKEN; i++) {
        const ggnn_block* bad = i < BROKEN ? &t.broken[i] : NULL;
        REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, bad, x, WIDTH, y, WIDTH, HEADS, WIDTH));
        if (i == NO_INDICES) continue; /* these need no indices */
        REFUSED(ggnn_edge_sum(canvas.f, bad, e, HEADS));
        REFUSED(ggnn_edge_softmax(canvas.f, bad, e, HEADS));
        REFUSED(ggnn_edge_softmax_back(canvas.f, bad, e, e, HEADS));
    }
    REFUSED(ggnn_sddmm(NULL, GGNN_DOT, b, x, WIDTH, y, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, NULL, WIDTH, y, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH, NULL, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH - 1, y, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH, y, WIDTH - 1, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH, y, WIDTH, 3, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_ADD, b, x, WIDTH, y, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH, y, WIDTH, HEADS, 0));
    REFUSED(ggnn_sddmm(canvas.f, (ggnn_edge_op)2, b, x, WIDTH, y, WIDTH, HEADS, WIDTH));
    REFUSED(ggnn_edge_sum(NULL, b, e, HEADS));
    REFUSED(ggnn_edge_sum(canvas.f, b, NULL, HEADS));
    for (int32_t heads = -2; heads <= 0; heads++) {
        REFUSED(ggnn_sddmm(canvas.f, GGNN_DOT, b, x, WIDTH, y, WIDTH, heads, WIDTH));
        REFUSED(ggnn_edge_sum(canvas.f, b, e, heads));
        REFUSED(ggnn_edge_softmax(canvas.f, b, e, heads));
        REFUSED(ggnn_edge_softmax_back(canvas.f, b, e, e, heads));
    }
    REFUSED(ggnn_edge_softmax(NULL, b, e, HEADS));
    REFUSED(ggnn_edge_softmax(canvas.f, b, NULL, HEADS));
    REFUSED(ggnn_edge_softmax_back(NULL, b, e, e, HEADS));
    REFUSED(ggnn_edge_softmax_back(canvas.f, b, NULL, e, HEADS));
    REFUSED(ggnn_edge_softmax_back(canvas.f, b, e, NULL, HEADS));
    random_block_free(t.r);
}

TEST(attention)
{
    blocks_of      t = blocks_new();
    float          z[SRC * WIDTH] = {0}, s[SRC * HEADS] = {0}, att[WIDTH] = {0}, dout[DST * WIDTH] = {0};
    ggnn_gat_layer good, bad;
    memset(&good, 0, sizeof good);
    good.block = &t.r->b, good.z = z, good.ld_z = WIDTH, good.el = s, good.er = s, good.out = canvas.f, good.ld_out = WIDTH;
    good.lse = canvas.f + 200, good.heads = HEADS, good.width = WIDTH, good.how.slope = 0.2f;
    good.del = canvas.f + 500, good.der = canvas.f + 600, good.delta = canvas.f + 700, good.dlogit = canvas.f + 800;
    REFUSED(ggnn_scores(NULL, z, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, NULL, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH - 1, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH, NULL, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH, att, -1, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH, att, SRC, 3, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, NULL, s, z, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(NULL, WIDTH, canvas.f, s, z, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH - 1, canvas.f + 200, s, z, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, NULL, z, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, NULL, WIDTH, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, z, WIDTH, NULL, SRC, HEADS, WIDTH));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH, att, SRC, HEADS, 0));
    REFUSED(ggnn_scores(canvas.f, z, WIDTH, att, SRC, 0, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, z, WIDTH, att, -1, HEADS, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, z, WIDTH, att, SRC, 3, WIDTH));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, z, WIDTH, att, SRC, HEADS, 0));
    REFUSED(ggnn_scores_back(canvas.f, WIDTH, canvas.f + 200, s, z, WIDTH - 1, att, SRC, HEADS, WIDTH));
    REFUSED(ggnn_gat(NULL));
    for (int i = 0; i < 25; i++) {
        bad = good;
        if (i < 3) bad.block = &t.broken[i];
        if (i == 24) bad.term = att, bad.dterm = canvas.f + 900; /* without room for the targets' own */
        if (i == 19) bad.block = &t.broken[NO_SOURCES];
        if (i == 20) bad.block = &t.broken[NO_EDGES];
        if (i == 21) bad.width = 0, bad.ld_z = bad.ld_out = 0;
        if (i == 22) bad.heads = 0;
        if (i == 23) bad.width = -2;
        if (i == 3) bad.block = NULL;
        if (i == 4) bad.z = NULL;
        if (i == 5) bad.ld_z = WIDTH - 1;
        if (i == 6) bad.el = NULL;
        if (i == 7) bad.er = NULL;
        if (i == 8) bad.out = NULL;
        if (i == 9) bad.lse = NULL;
        if (i == 10) bad.heads = 3;
        if (i == 11) bad.how.slope = -1;
        if (i == 12) bad.how.slope = NAN;
        if (i == 13) bad.how.dropout = 1;
        if (i == 14) bad.how.dropout = NAN;
        if (i == 15) bad.how.layer = 256;
        if (i == 16) bad.how.dropout = 0.5f; /* drawn by a purpose that is not its own */
        if (i == 17) bad.ld_out = WIDTH - 1;
        t.r->b.bipartite = i == 18; /* targets have no row of z */
        REFUSED(ggnn_gat(&bad));
        REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &t.r->t, &bad, dout, WIDTH));
    }
    t.r->b.bipartite = 0;
    for (int i = 0; i < 7; i++) {
        bad = good;
        if (i == 6) bad.term = att, bad.own_term = canvas.f + 900;
        if (i == 0) bad.del = NULL;
        if (i == 1) bad.der = NULL;
        if (i == 2) bad.delta = NULL;
        if (i == 3) bad.dlogit = NULL;
        if (i == 4) bad.att_l = att; /* without room for its gradient */
        if (i == 5) bad.att_r = att;
        REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &t.r->t, &bad, dout, WIDTH));
    }
    for (int i = 0; i < 3; i++) { /* the transpose of another block */
        int64_t    other[3] = {*t.r->t.num_dst.n, *t.r->t.num_src.n, *t.r->t.num_edges.n};
        ggnn_block unlike = t.r->t;
        other[i]--;
        unlike.num_dst.n = &other[0], unlike.num_src.n = &other[1], unlike.num_edges.n = &other[2];
        REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &unlike, &good, dout, WIDTH));
    }
    for (int i = 0; i < BROKEN; i++) { /* a transpose with something missing */
        ggnn_block part = t.r->t;
        if (i == NO_TARGETS) part.num_dst.n = NULL;
        if (i == NO_LISTS) part.indptr = NULL;
        if (i == NO_INDICES) part.indices = NULL;
        if (i == NO_SOURCES) part.num_src.n = NULL;
        if (i == NO_EDGES) part.num_edges.n = NULL;
        REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &part, &good, dout, WIDTH));
    }
    REFUSED(ggnn_gat_back(NULL, WIDTH, &t.r->t, &good, dout, WIDTH));
    REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH - 1, &t.r->t, &good, dout, WIDTH));
    REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, NULL, &good, dout, WIDTH));
    REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &t.r->t, NULL, dout, WIDTH));
    REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &t.r->t, &good, NULL, WIDTH));
    REFUSED(ggnn_gat_back(canvas.f + 300, WIDTH, &t.r->t, &good, dout, WIDTH - 1));
    random_block_free(t.r);
}

/* NULL is as good as an array where there is no element: each op of no rows, no edges or no columns is done, and hands no NULL to a
   function of C's that forbids it (which UBSan says). */
TEST(nothing_of_nothing_needs_no_array)
{
    int64_t           none = 0, start[4] = {0}, two = 2, traffic[3] = {0};
    const ggnn_lists  empty = {0, 0, start, NULL, NULL, NULL};
    ggnn_lists        out = {0, 0, start + 2, NULL, NULL, NULL}, lists = empty;
    const ggnn_graph  g = ggnn_graph_from_lists(&empty);
    const ggnn_rng    drop = {1, 2, GGNN_PURPOSE_ATTENTION_DROPOUT};
    ggnn_store        rows = ggnn_store_plain(NULL, 0, WIDTH, GGNN_F32);
    const ggnn_scale  scale = {NULL, NULL, NULL};
    ggnn_block        b[3]; /* nothing at all; no sources and no edges; the same without columns */
    ggnn_gat_layer    y;
    ggnn_layout       at;
    rows.traffic = traffic;
    CHECK_EQ(ggnn_graph_validate(&g, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_lists(start + 1, NULL, NULL, NULL, &g, NULL, 0, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_from_coo(&out, NULL, NULL, NULL, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_transpose(&out, &empty, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_sort(&lists, NULL), GGNN_OK);
    CHECK_EQ(ggnn_graph_simplify(&out, &empty, &empty, 7), GGNN_OK);
    const ggnn_pagraph nobody = {NULL, 0, 2, 1, 10};
    int64_t            cut = 7;
    CHECK_EQ(ggnn_partition_pagraph(NULL, &cut, &g, &nobody, NULL, &fault), GGNN_OK);
    CHECK_EQ(cut, 0);
    CHECK_EQ(ggnn_partition_mincut(NULL, &g, 2, 1, 5, NULL, &fault), GGNN_OK);
    CHECK_EQ(ggnn_partition_closure(NULL, start, &g, NULL, 0, NULL, 0, 1, NULL, &fault), GGNN_OK);
    CHECK_EQ(ggnn_partition_cut(&cut, &g, NULL, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_reorder(&out, &empty, NULL, NULL, &fault), GGNN_OK);
    CHECK_EQ(ggnn_graph_out_degrees(NULL, &empty), GGNN_OK);
    CHECK_EQ(ggnn_gcn_norm(NULL, &g), GGNN_OK);
    for (int how = GGNN_OWNER_RANGE; how <= GGNN_OWNER_MAP; how++)
        CHECK_EQ(ggnn_layout_owners(&at, NULL, start, (ggnn_owner)how, NULL, 0, 2, &fault), GGNN_OK);
    CHECK_EQ(ggnn_layout_nodes(NULL, &at, 0, 1), 0);
    CHECK_EQ(ggnn_split(NULL, NULL, canvas.i64, &at, NULL, 0), GGNN_OK);
    CHECK_EQ(ggnn_gather(NULL, WIDTH, GGNN_F16, &rows, NULL, 0), GGNN_OK);
    CHECK_EQ(ggnn_permute(NULL, WIDTH, NULL, WIDTH, GGNN_F16, WIDTH, NULL, 0), GGNN_OK);
    CHECK_EQ(ggnn_walk_neighbors(NULL, NULL, NULL, 0, 3, 0, NULL), 0);
    memset(b, 0, sizeof b);
    for (int i = 0; i < 3; i++) {
        const int32_t width = i < 2 ? WIDTH : 0;
        float*        to = i == 1 ? canvas.f : NULL; /* what targets without sources get: zeros */
        b[i].num_dst.n = i ? &two : &none;
        b[i].num_dst.max = *b[i].num_dst.n;
        b[i].num_src.n = b[i].num_edges.n = &none;
        b[i].indptr = i ? start : NULL;
        for (int j = 0; j < 4; j++) start[j] = 0;
        for (int how = GGNN_SUM; how <= GGNN_MIN; how++) {
            CHECK_EQ(ggnn_spmm(to, width, NULL, (ggnn_reduce)how, &b[i], NULL, NULL, 1, NULL, width, width), GGNN_OK);
            if (i != 1) CHECK_EQ(ggnn_aggregate(NULL, WIDTH, (ggnn_reduce)how, &b[0], NULL, NULL, 1, &rows), GGNN_OK);
        }
        CHECK_EQ(ggnn_spmm(to, width, NULL, GGNN_SUM, &b[i], &scale, NULL, 1, NULL, width, width), GGNN_OK);
        ggnn_block forward = b[i];
        forward.num_dst = b[i].num_src, forward.num_src = b[i].num_dst;
        CHECK_EQ(ggnn_spmm_back_arg(to, width, &b[i], &forward, NULL, 1, NULL, width, NULL, width), GGNN_OK);
        CHECK_EQ(ggnn_sddmm(NULL, GGNN_DOT, &b[i], NULL, WIDTH, i ? canvas.f : NULL, WIDTH, 1, WIDTH), GGNN_OK);
        CHECK_EQ(ggnn_edge_softmax(NULL, &b[i], NULL, HEADS), GGNN_OK);
        CHECK_EQ(ggnn_edge_softmax_back(NULL, &b[i], NULL, NULL, HEADS), GGNN_OK);
        CHECK_EQ(ggnn_edge_sum(i ? canvas.f : NULL, &b[i], NULL, HEADS), GGNN_OK);
        CHECK_EQ(ggnn_scale_mean(i ? canvas.f : NULL, &b[i], 0), GGNN_OK);
        CHECK_EQ(ggnn_scale_weights(i ? canvas.f : NULL, &b[i], NULL), GGNN_OK);
    }
    CHECK_EQ(ggnn_scores(NULL, NULL, WIDTH, canvas.f, 0, HEADS, WIDTH), GGNN_OK);
    CHECK_EQ(ggnn_scores_back(NULL, WIDTH, canvas.f, NULL, NULL, WIDTH, canvas.f + WIDTH, 0, HEADS, WIDTH), GGNN_OK);
    memset(&y, 0, sizeof y);
    y.block = &b[0], y.ld_z = y.ld_out = y.width = WIDTH, y.heads = HEADS, y.how.dropout = 0.5f, y.how.rng = drop;
    CHECK_EQ(ggnn_gat(&y), GGNN_OK);
    CHECK_EQ(ggnn_gat_back(NULL, WIDTH, &b[0], &y, NULL, WIDTH), GGNN_OK);
}

/* Two targets without sources, or two sources without targets, and no edge: the arrays of the side that has rows are needed, those of
   the other may be NULL. */
TEST(each_side_of_a_block_has_its_own_arrays)
{
    int64_t    sizes[3] = {2, 0, 0}, starts[3] = {0};
    float      rows[2 * WIDTH] = {0}, scores[2 * HEADS] = {0};
    ggnn_store store = ggnn_store_plain(NULL, 2, WIDTH, GGNN_F32);
#define NEEDS(needs, call) CHECK_EQ(call, (needs) ? GGNN_ERROR_ARGUMENT : GGNN_OK)
    for (int turn = 0; turn < 2; turn++) {
        ggnn_block b;
        memset(&b, 0, sizeof b);
        b.num_dst.n = &sizes[turn], b.num_src.n = &sizes[!turn], b.num_edges.n = &sizes[2];
        b.num_dst.max = b.num_src.max = 2;
        b.indptr = turn ? NULL : starts;
        b.bipartite = 1;
        ggnn_block forward = b; /* whose transpose b is */
        forward.num_dst = b.num_src, forward.num_src = b.num_dst, forward.indptr = starts;
        float *by_dst = turn ? NULL : canvas.f, *by_src = turn ? rows : NULL;
        for (int missing = 0; missing < 3; missing++) { /* nothing that is needed, then the targets' array, then the sources' */
            float *     to = missing == 1 ? NULL : by_dst, *from = missing == 2 ? NULL : by_src;
            const int   no_dst = missing == 1 && !turn, no = no_dst || (missing == 2 && turn);
            NEEDS(no, ggnn_spmm(to, WIDTH, NULL, GGNN_SUM, &b, NULL, NULL, 1, from, WIDTH, WIDTH));
            NEEDS(no_dst, ggnn_aggregate(to, WIDTH, GGNN_SUM, &b, NULL, NULL, 1, &store));
            NEEDS(no, ggnn_spmm_back_arg(to, WIDTH, &b, &forward, NULL, 1, from, WIDTH, NULL, WIDTH));
            NEEDS(no, ggnn_sddmm(NULL, GGNN_DOT, &b, from, WIDTH, to, WIDTH, 1, WIDTH));
            NEEDS(no_dst, ggnn_edge_sum(to, &b, NULL, HEADS));
            NEEDS(no_dst, ggnn_scale_mean(to, &b, 0));
            NEEDS(no_dst, ggnn_scale_weights(to, &b, NULL));
        }
        if (!turn) continue; /* attention's targets are sources */
        ggnn_block t = b;
        t.num_dst.n = b.num_src.n, t.num_src.n = b.num_dst.n, t.indptr = starts;
        b.bipartite = t.bipartite = 0;
        for (int missing = 0; missing < 5; missing++) {
            ggnn_gat_layer y;
            memset(&y, 0, sizeof y);
            y.block = &b, y.ld_z = y.ld_out = y.width = WIDTH, y.heads = HEADS;
            y.el = missing == 1 ? NULL : scores;
            y.z = missing == 2 ? NULL : rows;
            y.del = missing == 3 ? NULL : canvas.f + 2 * WIDTH;
            NEEDS(missing == 1 || missing == 2, ggnn_gat(&y));
            NEEDS(missing, ggnn_gat_back(missing == 4 ? NULL : canvas.f, WIDTH, &t, &y, NULL, WIDTH));
        }
        for (int given = 0; given < 16; given++) { /* each attention vector needs its own gradient */
            ggnn_gat_layer y;
            memset(&y, 0, sizeof y);
            y.block = &b, y.ld_z = y.ld_out = y.width = WIDTH, y.heads = HEADS;
            y.el = scores, y.z = rows, y.del = canvas.f + 2 * WIDTH;
            y.att_l = given & 1 ? rows : NULL, y.att_r = given & 2 ? rows : NULL;
            y.datt_l = given & 4 ? canvas.f + 4 * WIDTH : NULL, y.datt_r = given & 8 ? canvas.f + 5 * WIDTH : NULL;
            NEEDS(given & 3 & ~(given >> 2), ggnn_gat_back(canvas.f, WIDTH, &t, &y, NULL, WIDTH));
        }
    }
}

/* Three targets, four sources, no edge: arrays per edge may be NULL, and each row of an output is written, of zeros; attention's
   with the target itself. */
TEST(targets_without_edges_get_zeros_or_themselves)
{
    int64_t        sizes[3] = {3, 4, 0}, starts[5] = {0};
    float          x[4 * WIDTH], dz[4 * WIDTH], scores[4 * HEADS] = {0}, out[3 * WIDTH], lse[3 * HEADS], delta[3 * HEADS], dlogit[3 * HEADS];
    ggnn_store     rows = ggnn_store_plain(NULL, 4, WIDTH, GGNN_F32);
    ggnn_block     b, t;
    ggnn_gat_layer y;
    memset(&b, 0, sizeof b);
    b.num_dst.n = &sizes[0], b.num_src.n = &sizes[1], b.num_edges.n = &sizes[2];
    b.num_dst.max = b.num_src.max = b.num_edges.max = 10;
    b.indptr = starts;
    t = b;
    t.num_dst.n = &sizes[1], t.num_src.n = &sizes[0];
    for (int i = 0; i < 4 * WIDTH; i++) x[i] = (float)i;
#define WRITES_ZEROS(n, call)                                                                       \
    do {                                                                                            \
        int zeros = 1;                                                                              \
        canvas_fill();                                                                              \
        CHECK_EQ(call, GGNN_OK);                                                                    \
        for (int i = 0; i < (n); i++) zeros &= canvas.byte[i] == 0;                                 \
        memset(canvas.byte, 0x5a, (size_t)(n));                                                     \
        test_check(zeros && canvas_kept(), __FILE__, __LINE__, #call " writes " #n " bytes of 0"); \
    } while (0)
    for (int how = GGNN_SUM; how <= GGNN_MIN; how++) {
        WRITES_ZEROS(3 * WIDTH * 4, ggnn_spmm(canvas.f, WIDTH, NULL, (ggnn_reduce)how, &b, NULL, NULL, 1, x, WIDTH, WIDTH));
        WRITES_ZEROS(3 * WIDTH * 4, ggnn_aggregate(canvas.f, WIDTH, (ggnn_reduce)how, &b, NULL, NULL, 1, &rows));
    }
    WRITES_ZEROS(4 * WIDTH * 4, ggnn_spmm_back_arg(canvas.f, WIDTH, &t, &b, NULL, 1, x, WIDTH, NULL, WIDTH));
    WRITES_ZEROS(3 * 4, ggnn_scale_mean(canvas.f, &b, 0));
    WRITES_ZEROS(3 * 4, ggnn_scale_weights(canvas.f, &b, NULL));
    WRITES_ZEROS(3 * HEADS * 4, ggnn_edge_sum(canvas.f, &b, NULL, HEADS));
    WRITES_ZEROS(0, ggnn_sddmm(NULL, GGNN_DOT, &b, x, WIDTH, x, WIDTH, HEADS, WIDTH));
    WRITES_ZEROS(0, ggnn_edge_softmax(NULL, &b, NULL, HEADS));
    WRITES_ZEROS(0, ggnn_edge_softmax_back(NULL, &b, NULL, NULL, HEADS));
    ggnn_scale own = {NULL, NULL, x}; /* the targets' own rows are read, where there are rows of their own */
    ggnn_block alone = t;
    REFUSED(ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, &b, &own, NULL, 1, &rows));
    rows.width = 0;
    GIVES(GGNN_OK, ggnn_aggregate(NULL, 0, GGNN_SUM, &b, &own, NULL, 1, &rows));
    rows.width = WIDTH;
    alone.num_src.n = &sizes[2];
    WRITES_ZEROS(4 * WIDTH * 4, ggnn_aggregate(canvas.f, WIDTH, GGNN_SUM, &alone, &own, NULL, 1, &rows));
    /* a transpose without edges has no array of them, and of its four targets three are sources */
    const float ones[4] = {1, 1, 1, NAN};
    int64_t     traffic[3] = {0};
    own.self = ones, rows.rows = x, rows.traffic = traffic;
    canvas_fill();
    CHECK_EQ(ggnn_spmm(canvas.f, WIDTH, NULL, GGNN_SUM, &t, &own, NULL, 1, x, WIDTH, WIDTH), GGNN_OK);
    CHECK_EQ(ggnn_aggregate(canvas.f + 4 * WIDTH, WIDTH, GGNN_SUM, &t, &own, NULL, 1, &rows), GGNN_OK);
    for (int i = 0; i < 8 * WIDTH; i++) CHECK(canvas.f[i] == (i % (4 * WIDTH) < 3 * WIDTH ? x[i % (4 * WIDTH)] : 0));
    CHECK_EQ(traffic[0], 3);
    memset(&y, 0, sizeof y); /* each target is itself, and its scores have no gradient */
    y.block = &b, y.heads = HEADS, y.width = WIDTH, y.ld_z = y.ld_out = WIDTH, y.z = x, y.out = out, y.lse = lse, y.el = y.er = scores;
    y.del = canvas.f, y.der = canvas.f + 4 * HEADS, y.delta = delta, y.dlogit = dlogit;
    CHECK_EQ(ggnn_gat(&y), GGNN_OK);
    CHECK(memcmp(out, x, sizeof out) == 0);
    WRITES_ZEROS(7 * HEADS * 4, ggnn_gat_back(dz, WIDTH, &t, &y, x, WIDTH));
    for (int i = 0; i < 4 * WIDTH; i++) CHECK(dz[i] == (i < 3 * WIDTH ? x[i] : 0)); /* the fourth source has no edge */
}

TEST(plans_of_what_lies_where)
{
    random_graph*    g = random_graph_new(N, 3, 5);
    const int64_t    count[3] = {3, 1, 2}, some[4] = {0, 1, 2, 3};
    const double     hit[3] = {.1, .5, .9}, ms[3] = {3, 2, 1};
    const ggnn_node  order[3] = {0, 1, 2};
    const int32_t    owner[3] = {0, 1, 0};
    int64_t          left[2] = {10, 10}, most = GGNN_NODE_MAX;
    ggnn_hotness     by = {count, NULL, NULL}, no_counts = {NULL, NULL, NULL};
    ggnn_sizes       sizes = {8, some, 4, 8};
    ggnn_dual        dual = {count, count, 1, 1, &sizes, 100}, backwards = {count, count, -1, 1, &sizes, 100}, falling = {count, count, 1, -1, &sizes, 100};
    ggnn_epochs      of = {order, 3, 0, {1, 0, GGNN_PURPOSE_PRESAMPLE}, 0};
    ggnn_pagraph     pagraph = {order, 3, 2, 1, 10};
    REFUSED(ggnn_count_degrees(canvas.i64, NULL, NULL, &fault));
    REFUSED(ggnn_count_batch(canvas.i64, NULL, NULL));
    REFUSED(ggnn_count_epochs(canvas.i64, NULL, &canvas.batch, &g->graph, &of, 0, 1, canvas.id)); /* batches of 0 seeds */
    REFUSED(ggnn_count_epochs(canvas.i64, NULL, &canvas.batch, &g->graph, NULL, 0, 1, canvas.id));
    GIVES(0, ggnn_count_hits(NULL, order, 1, 3));
    GIVES(0, ggnn_count_hits(count, order, 1, -3));
    REFUSED(ggnn_rank(canvas.id, canvas.id + 9, NULL, 3));
    REFUSED(ggnn_rank(canvas.id, canvas.id + 9, &no_counts, 3));
    REFUSED(ggnn_rank(NULL, canvas.id, &by, 3));
    REFUSED(ggnn_rank(canvas.id, NULL, &by, 3));
    REFUSED(ggnn_rank(canvas.id, canvas.id + 9, &by, -3));
    REFUSED(ggnn_rank_random(NULL, canvas.id, 1, 3));
    REFUSED(ggnn_rank_random(canvas.id, canvas.id + 9, 1, -1));
    if (most < INT64_MAX) { /* more than an id can name: refused before a byte is read or written */
        REFUSED(ggnn_rank(canvas.id, canvas.id + 9, &by, most + 1));
        REFUSED(ggnn_rank_random(canvas.id, canvas.id + 9, 1, most + 1));
    }
    GIVES(GGNN_OK, ggnn_rank(NULL, NULL, NULL, 0));
    GIVES(GGNN_OK, ggnn_rank_random(NULL, NULL, 1, 0));
    GIVES(0, ggnn_fill_ratio(.5, -10));
    GIVES(0, ggnn_fill_rows(100, 0, 10)); /* no division by 0 */
    GIVES(0, ggnn_fill_rows(100, -4, 10));
    GIVES(0, ggnn_fill_rows(100, 4, -10));
    GIVES(0, ggnn_fill_auto(-1, 0, 0));
    GIVES(0, ggnn_fill_auto(10, -5, 0));
    for (int wrong = 0; wrong < 11; wrong++) {
        ggnn_parts parts = {&sizes, order, order, order, 3, 3, 1000, 2, 1, 0};
        ggnn_sizes no_lists = sizes;
        no_lists.indptr = NULL;
        if (wrong == 0) parts.of = NULL;
        if (wrong == 1) parts.of = &no_lists;
        if (wrong == 2) parts.list_rank = NULL;
        if (wrong == 3) parts.list_order = NULL;
        if (wrong == 4) parts.lists = 4;
        if (wrong == 5) parts.rows = 4;
        if (wrong == 6) parts.rows = parts.lists = -1;
        if (wrong == 7) parts.parts = 0;
        if (wrong == 8) parts.copies = 0;
        GIVES(0, ggnn_fill_parts(wrong == 9 ? NULL : canvas.id, wrong == 10 ? NULL : left, &parts, 3).rows);
    }
    GIVES(0, ggnn_fill_parts(canvas.id, left, NULL, 3).rows);
    GIVES(0, ggnn_fill_lists(NULL, left, 2, order, &sizes, 3));
    GIVES(0, ggnn_fill_lists(canvas.id, left, 0, order, &sizes, 3));
    GIVES(0, ggnn_fill_lists(canvas.id, left, 2, order, NULL, 3));
    GIVES(0, ggnn_fill_slope(NULL, ms, 3));
    GIVES(0, ggnn_fill_slope(hit, ms, -3));
    GIVES(0, ggnn_fill_dual(canvas.id, canvas.id + 9, NULL, 3, canvas.id + 20).rows);
    GIVES(0, ggnn_fill_dual(canvas.id, canvas.id + 9, &backwards, 3, canvas.id + 20).rows);
    GIVES(0, ggnn_fill_dual(canvas.id, canvas.id + 9, &falling, 3, canvas.id + 20).rows);
    GIVES(0, ggnn_fill_dual(canvas.id, NULL, &dual, 3, canvas.id + 20).rows);
    REFUSED(ggnn_partition_ids(canvas.i32, GGNN_OWNER_MODULO, 0, 3)); /* no division by 0 */
    REFUSED(ggnn_partition_ids(canvas.i32, GGNN_OWNER_MAP, 2, 3)); /* no map is given */
    REFUSED(ggnn_partition_ids(canvas.i32, (ggnn_owner)7, 2, 3));
    REFUSED(ggnn_partition_ids(canvas.i32, (ggnn_owner)-1, 2, 3));
    REFUSED(ggnn_partition_ids(NULL, GGNN_OWNER_MODULO, 2, 3));
    REFUSED(ggnn_partition_ids(canvas.i32, GGNN_OWNER_MODULO, 2, -3));
    REFUSED(ggnn_partition_mincut(NULL, &g->graph, 2, 1, 5, canvas.id, &fault));
    REFUSED(ggnn_partition_mincut(canvas.i32, NULL, 2, 1, 5, canvas.id + 100, &fault));
    REFUSED(ggnn_partition_mincut(canvas.i32, &g->graph, 0, 1, 5, canvas.id + 100, &fault));
    REFUSED(ggnn_partition_pagraph(canvas.i32, canvas.i64 + 500, &g->graph, NULL, canvas.i64 + 600, &fault));
    REFUSED(ggnn_partition_pagraph(canvas.i32, NULL, &g->graph, &pagraph, canvas.i64 + 600, &fault));
    REFUSED(ggnn_partition_closure(canvas.id, canvas.i64 + 500, &g->graph, NULL, 0, order, 3, 1, canvas.i64 + 600, &fault));
    REFUSED(ggnn_partition_closure(canvas.id, canvas.i64 + 500, &g->graph, owner, 0, order, 3, -1, canvas.i64 + 600, &fault));
    REFUSED(ggnn_partition_cut(NULL, &g->graph, owner, &fault));
    REFUSED(ggnn_partition_cut(canvas.i64, &g->graph, NULL, &fault));
    GIVES(0, ggnn_partition_pagraph_workspace_bytes(-1));
    random_graph_free(g);
}

/* Each pointer in turn, of those that may not be NULL; and numbers of nodes below 0. */
TEST(plans_need_every_pointer)
{
#define UNLESS(number, pointer) (k == (number) ? NULL : (pointer))
    random_graph*    r = random_graph_new(3, 3, 2);
    const int64_t    count[3] = {3, 1, 2}, some[4] = {0, 1, 2, 3};
    const double     hit[3] = {.1, .5, .9}, ms[3] = {3, 2, 1};
    const ggnn_node  order[3] = {0, 1, 2};
    const int32_t    owner[3] = {0, 1, 0};
    ggnn_graph       fewer = r->graph;
    int64_t          left[2] = {100, 100};
    fewer.num_nodes = -1;
    for (int k = 0; k < 8; k++) {
        const ggnn_sizes   of = {8, UNLESS(0, some), 4, 8};
        const ggnn_dual    dual = {UNLESS(1, count), UNLESS(2, count), 1, 1, UNLESS(3, &of), 100};
        const ggnn_pagraph pagraph = {UNLESS(1, order), 3, 2, 1, 10};
        const ggnn_graph*  g = k == 0 ? &fewer : UNLESS(7, &r->graph);
        GIVES(0, ggnn_fill_dual(UNLESS(4, canvas.id), UNLESS(5, canvas.id + 9), UNLESS(6, &dual), 3, UNLESS(7, canvas.id + 20)).rows);
        if (k < 4) GIVES(0, ggnn_fill_lists(UNLESS(1, canvas.id), UNLESS(2, left), 2, UNLESS(3, order), &of, 3));
        if (k < 2) GIVES(0, ggnn_fill_slope(UNLESS(0, hit), UNLESS(1, ms), 3));
        if (k < 2) GIVES(0, ggnn_count_hits(UNLESS(0, count), UNLESS(1, order), 1, 3));
        if (k == 0 || k == 7) REFUSED(ggnn_count_degrees(canvas.i64, NULL, g, &fault));
        if (k < 1 || k > 4) REFUSED(ggnn_partition_mincut(UNLESS(5, canvas.i32), g, 2, 1, 5, UNLESS(6, canvas.id + 100), &fault));
        if (k < 2 || k > 3)
            REFUSED(ggnn_partition_pagraph(UNLESS(4, canvas.i32), UNLESS(5, canvas.i64 + 500), g, &pagraph, UNLESS(6, canvas.i64 + 600), &fault));
        REFUSED(ggnn_partition_closure(UNLESS(1, canvas.id), UNLESS(2, canvas.i64 + 500), g, UNLESS(3, owner), 0, UNLESS(4, order), k == 5 ? -1 : 3, 1,
                                       UNLESS(6, canvas.i64 + 600), &fault));
        if (k < 1 || k > 4) REFUSED(ggnn_partition_cut(UNLESS(5, canvas.i64), g, UNLESS(6, owner), &fault));
        CHECK(fault.what && fault.node == -1 && fault.edge == -1);
    }
#undef UNLESS
    random_graph_free(r);
}

TEST(placements)
{
    ggnn_topology  t;
    ggnn_placement plan;
    memset(&plan, 0, sizeof plan);
    REFUSED(ggnn_topology_named(NULL, "none", 4));
    REFUSED(ggnn_topology_named(&t, NULL, 4));
    CHECK_EQ(ggnn_topology_named(&t, "none", 4), GGNN_OK);
    REFUSED(ggnn_topology_validate(NULL, &fault));
    REFUSED(ggnn_place_parts(NULL, &t, GGNN_PLACE_BEST, 0, &fault));
    REFUSED(ggnn_place_parts(&plan, &t, (ggnn_place_rule)9, 0, &fault));
    REFUSED(ggnn_place_sources(NULL, &t, &fault));
    plan.devices = 2; /* of a topology of 4 */
    plan.stores[0] = plan.stores[1] = 3;
    REFUSED(ggnn_place_sources(&plan, &t, &fault));
    CHECK(fault.what && strstr(fault.what, "devices of the topology"));
    CHECK_EQ(ggnn_topology_named(&t, "none", 2), GGNN_OK);
    CHECK_EQ(ggnn_place_sources(&plan, &t, &fault), GGNN_OK);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(3);
    RUN(random_numbers);
    RUN(layouts_and_owners);
    RUN(graphs_that_lack_an_array);
    RUN(graphs);
    RUN(a_graph_without_edges_needs_no_array_of_them);
    RUN(samples);
    RUN(samples_of_lists);
    RUN(walks);
    RUN(tables);
    RUN(batches);
    RUN(a_second_init_gives_a_copy_a_table_of_its_own);
    RUN(replacement_takes_nothing_of_no_list_whatever_its_bound);
    RUN(validate_names_what_is_wrong_with_an_unpacked_batch);
    RUN(blocks);
    RUN(rows);
    RUN(aggregation);
    RUN(messages_of_edges);
    RUN(edges);
    RUN(attention);
    RUN(nothing_of_nothing_needs_no_array);
    RUN(each_side_of_a_block_has_its_own_arrays);
    RUN(targets_without_edges_get_zeros_or_themselves);
    RUN(plans_of_what_lies_where);
    RUN(plans_need_every_pointer);
    RUN(placements);
    return test_finish();
}
