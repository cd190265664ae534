/* test_bits.c - every function of ggnn.h and ggnn_plan.h gives the bits that tests/vectors/op_bits.h has of it: on any
   machine, in every form of tests/forms.h, from version to version. A line there is the digest of all that the function
   wrote and returned. Where a change of bits is meant, the failing test prints the new digest, and CHANGELOG.md says so.
   What is named _bytes, and ggnn_batch_free, has no line. tests/run.sh finds a function that has none. */
#include "ggnn_plan.h"
#include "tests/forms.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"
#include "tests/vectors/op_bits.h"

enum { N = 300, HUB = 700, DST = 40, SRC = 64, WIDEST = 100, PARTS = 3, SEEDS = 12, MOST = 200000 };

/* ---- the digest ------------------------------------------------------------------------------------------------ */

static uint64_t digest;

static void fold(int64_t value)
{
    digest = (digest ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
    digest ^= digest >> 29;
}
static void fold_float(float x) /* which NaN is the processor's choice */
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    fold(isnan(x) ? 0x7fc00000 : (int64_t)bits);
}
static void fold_floats(const float* x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) fold_float(x[i]);
}
static void fold_double(double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    fold(bits);
}
static void fold_ids(const ggnn_node* id, int64_t n)
{
    for (int64_t i = 0; i < n; i++) fold(id[i]);
}
static void fold_i64(const int64_t* x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) fold(x[i]);
}
static void fold_i32(const int32_t* x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) fold(x[i]);
}
static void fold_u16(const uint16_t* x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) fold(x[i]);
}
static void did(ggnn_status status) /* what an op that failed left is no result */
{
    CHECK_EQ(status, GGNN_OK);
}
static void fold_text(const char* s)
{
    for (; s && *s; s++) fold(*s);
}
static void fold_fault(const ggnn_fault* fault)
{
    fold_text(fault->what);
    if (fault->what) fold(fault->node), fold(fault->edge);
}

/* ---- inputs: integers of tests/test.h's generator, the same in every call of an op ------------------------------- */

static random_graph*   g;
static random_block*   r; /* lists of up to 513 edges, ids below 192 */
static ggnn_batch      s; /* two hops of g, all that a batch can keep */
static ggnn_rng        rng = {5, 3, GGNN_PURPOSE_SAMPLE};
static const ggnn_node seeds[SEEDS] = {7, 0, 1, 19, 7, 299, 150, 42, 0, 3, 88, 201};
static float           in[4][MOST], out[3][MOST];
static int32_t         arg[DST * WIDEST];
static ggnn_node       ids[6][N + 1], edge_ids[3][HUB + 13 * N];
static int64_t         longs[6][HUB + 13 * N], indptrs[3][N + 1];
static char            seen[N];

static const float* floats(int slot, int64_t n) /* of a seed of their own: compilers evaluate arguments in any order */
{
    test_state = (uint64_t)(slot + 1) * 1000003 + (uint64_t)n;
    for (int64_t i = 0; i < n; i++) in[slot][i] = test_uniform();
    return in[slot];
}
static float* made(int slot, int64_t n) /* an output: what it does not write is seen */
{
    form_poison(out[slot], n);
    return out[slot];
}
static const int32_t widths[] = {1, 4, 24, WIDEST};
#define FOR_WIDTHS(width, heads)                                         \
    for (int w_ = 0; w_ < 4; w_++)                                       \
        for (int32_t width = widths[w_], heads = width % 4 ? 1 : 4; width; width = 0)

static ggnn_lists lists_of_g(void)
{
    ggnn_lists lists = {N, g->num_edges, g->indptr, g->indices, g->weight, NULL};
    return lists;
}
static ggnn_lists lists_in(int slot)
{
    ggnn_lists lists = {N, HUB + 13 * N, indptrs[slot], edge_ids[slot], out[slot], longs[slot]};
    return lists;
}
static void fold_lists(const ggnn_lists* lists)
{
    fold_i64(lists->indptr, lists->num_nodes + 1);
    fold_ids(lists->indices, lists->num_edges);
    fold_floats(lists->weight, lists->num_edges);
    fold_i64(lists->position, lists->num_edges);
}
static void fold_block(const ggnn_block* b)
{
    const int64_t dst = *b->num_dst.n, edges = *b->num_edges.n;
    fold(dst), fold(*b->num_src.n), fold(edges);
    fold_i64(b->indptr, dst + 1);
    if (b->indices) fold_i32(b->indices, edges);
    if (b->neighbor) fold_ids(b->neighbor, edges);
    if (b->position) fold_i64(b->position, edges);
    if (b->weight) fold_floats(b->weight, edges);
    if (b->repeats) fold_i32(b->repeats, *b->num_src.n);
    if (b->edge) fold_i32(b->edge, edges);
}
static void fold_batch(const ggnn_batch* b)
{
    fold(b->num_hops), fold(*b->num_seeds.n);
    fold_i32(b->seed_local, *b->num_seeds.n);
    for (int h = 0; h < b->num_hops; h++) fold_block(&b->hop[h]);
    fold_ids(b->id, *b->hop[b->num_hops - 1].num_src.n);
}
static ggnn_sampling all_kept(ggnn_method method)
{
    const int32_t fanout[] = {6, 4};
    ggnn_sampling how = ggnn_sampling_plain(method, fanout, 2);
    how.keep = GGNN_KEEP_ALL;
    return how;
}
static ggnn_layout spread(void) /* N rows over PARTS parts by hash; rank in ids[0] */
{
    static int64_t bound[PARTS + 1];
    ggnn_layout    at;
    did(ggnn_layout_owners(&at, ids[0], bound, GGNN_OWNER_HASH, NULL, N, PARTS, NULL));
    return at;
}
/* Rows of in[slot] in PARTS parts by hash, and ten more in a cache. */
static ggnn_store spread_rows(int slot, int32_t width, const void* base[PARTS + 2], float* memory)
{
    ggnn_store whole = ggnn_store_plain(floats(slot, N * width), N, width, GGNN_F32), rows = whole;
    rows.base = base;
    rows.at = spread();
    base[PARTS] = whole.rows;
    for (int32_t p = 0; p < PARTS; p++) {
        const int64_t n = ggnn_layout_nodes(ids[1], &rows.at, N, p);
        base[p] = memory;
        did(ggnn_gather(memory, width, GGNN_F32, &whole, ids[1], n));
        memory += n * width;
    }
    rows.at.cached = 10;
    base[PARTS + 1] = whole.rows;
    return rows;
}

/* ---- [1], [2] BASE, RANDOM --------------------------------------------------------------------------------------- */
#define OP(name) static void op_##name(void)

OP(status_string)
{
    for (int i = -1; i < 9; i++) fold_text(ggnn_status_string((ggnn_status)i));
}
static void square(void* context, int64_t i) { ((int64_t*)context)[i] = i * i; }
OP(parallel_for)
{
    int64_t squares[1000];
    ggnn_parallel_for(1000, square, squares);
    fold_i64(squares, 1000);
}
OP(half_to_float)
{
    for (uint32_t i = 0; i < 65536; i++) fold_float(ggnn_half_to_float((uint16_t)i));
}
OP(float_to_half)
{
    for (int i = 0; i < 20000; i++) {
        const uint32_t bits = (uint32_t)test_random();
        float          x;
        memcpy(&x, &bits, sizeof x);
        fold(isnan(x) ? 0x7e00 : ggnn_float_to_half(x));
        fold(ggnn_float_to_half(test_uniform()));
    }
}
OP(random_nodes)
{
    static ggnn_words word[333];
    did(ggnn_random_nodes(word, &rng, 2, 17, 333, 5));
    for (int i = 0; i < 333; i++)
        for (int j = 0; j < 4; j++) fold(word[i].word[j]);
}
OP(dropout_fields)
{
    static uint16_t field[8 * 41];
    did(ggnn_dropout_fields(field, &rng, 1, 12345, 3, 41));
    fold_u16(field, 8 * 41);
    for (int i = 1; i < 100; i++) fold_float(ggnn_dropout_scale(ggnn_dropout_threshold((float)i / 128)));
}
OP(neg_log2_fast)
{
    for (int i = 0; i < 5000; i++) {
        const int64_t  bits = test_below(64);
        const uint64_t draw = test_random() >> bits;
        fold((int64_t)ggnn_neg_log2_fast(draw));
        fold((int64_t)ggnn_neg_log2(draw));
    }
    for (int64_t i = 0; i < N; i++) fold(ggnn_shuffle(9, 2, i, N)), fold(ggnn_draw_below(&rng, 1, i, i, i + 1));
}

/* ---- [3] GRAPH --------------------------------------------------------------------------------------------------- */

OP(graph_validate)
{
    ggnn_fault      fault = {NULL, 0, 0, 0};
    const ggnn_node kept = g->indices[1000];
    did(ggnn_graph_validate(&g->graph, &fault)), fold_fault(&fault);
    g->indices[1000] = N;
    fold(ggnn_graph_validate(&g->graph, &fault)), fold_fault(&fault);
    g->indices[1000] = kept;
}
OP(layout_owners)
{
    static int32_t owner[N];
    for (int i = 0; i < N; i++) owner[i] = (int32_t)test_below(PARTS + 1);
    for (int how = GGNN_OWNER_RANGE; how <= GGNN_OWNER_MAP; how++) {
        ggnn_layout at;
        int64_t     bound[PARTS + 1];
        did(ggnn_layout_owners(&at, ids[0], bound, (ggnn_owner)how, how == GGNN_OWNER_MAP ? owner : NULL, N, PARTS, NULL));
        for (int64_t v = 0; v < N; v++) {
            const ggnn_place place = ggnn_locate(&at, v);
            fold(place.slot), fold(place.row);
        }
    }
}
OP(layout_nodes)
{
    const ggnn_layout at = spread();
    for (int32_t p = 0; p <= PARTS; p++) {
        const int64_t n = ggnn_layout_nodes(ids[1], &at, N, p);
        fold(n), fold_ids(ids[1], n);
    }
}
OP(graph_lists)
{
    const int64_t n = ggnn_layout_nodes(ids[1], (ggnn_layout[]){spread()}, N, 1);
    did(ggnn_graph_lists(indptrs[0], longs[0], edge_ids[0], out[0], &g->graph, ids[1], n, NULL));
    fold_i64(indptrs[0], n + 1), fold_i64(longs[0], n);
    fold_ids(edge_ids[0], indptrs[0][n]), fold_floats(out[0], indptrs[0][n]);
}
OP(graph_from_coo)
{
    enum { E = 2000 };
    ggnn_lists lists = lists_in(0);
    lists.num_edges = E;
    for (int i = 0; i < E; i++) edge_ids[1][i] = (ggnn_node)test_below(N), edge_ids[2][i] = (ggnn_node)test_below(N);
    did(ggnn_graph_from_coo(&lists, edge_ids[1], edge_ids[2], floats(0, E), NULL));
    fold_lists(&lists);
}
static ggnn_lists transposed(int slot, const ggnn_lists* from)
{
    ggnn_lists lists = lists_in(slot);
    lists.num_edges = from->num_edges;
    did(ggnn_graph_transpose(&lists, from, NULL));
    return lists;
}
OP(graph_transpose)
{
    const ggnn_lists from = lists_of_g(), lists = transposed(0, &from);
    fold_lists(&lists);
}
OP(graph_sort)
{
    const ggnn_lists from = lists_of_g();
    ggnn_lists       once = transposed(0, &from), lists = lists_in(1);
    for (int64_t v = 0; v < N; v++) ids[0][v] = (ggnn_node)((v * 7 + 3) % N);
    lists.num_edges = once.num_edges;
    did(ggnn_graph_reorder(&lists, &once, ids[0], seen, NULL));
    void* workspace = test_memory((int64_t)ggnn_graph_sort_workspace_bytes(&lists));
    did(ggnn_graph_sort(&lists, workspace));
    fold_lists(&lists);
    free(workspace);
}
OP(graph_simplify)
{
    const ggnn_lists from = lists_of_g(), t = transposed(0, &from), sorted = transposed(1, &t);
    for (int how = GGNN_DROP_DUPLICATES; how < 8; how += 2) { /* with duplicates they would not fit */
        ggnn_lists lists = lists_in(2);
        did(ggnn_graph_simplify(&lists, &sorted, how & GGNN_DROP_SELF_LOOPS ? &t : NULL, how));
        fold_lists(&lists);
    }
}
OP(graph_reorder)
{
    const ggnn_lists from = lists_of_g();
    ggnn_lists       in_position = from, lists = lists_in(0);
    for (int64_t v = 0; v < N; v++) ids[0][v] = (ggnn_node)((v * 11 + 5) % N);
    in_position.position = longs[1];
    for (int64_t e = 0; e < g->num_edges; e++) longs[1][e] = 3 * e;
    lists.num_edges = from.num_edges;
    did(ggnn_graph_reorder(&lists, &in_position, ids[0], seen, NULL));
    fold_lists(&lists);
}
OP(graph_out_degrees)
{
    const ggnn_lists from = lists_of_g();
    did(ggnn_graph_out_degrees(longs[0], &from));
    fold_i64(longs[0], N);
}

/* ---- [4], [5] SAMPLE, UNIQUE --------------------------------------------------------------------------------------- */

static void sample_list(ggnn_method method)
{
    static const int64_t fanouts[] = {-1, 0, 1, 5, 15, 600};
    for (int i = 0; i < 6; i++) {
        void* workspace = test_memory((int64_t)ggnn_sample_workspace_bytes(method, fanouts[i] < 0 ? 0 : fanouts[i]));
        for (ggnn_node v = 0; v < 40; v++) {
            const ggnn_list list = ggnn_neighbors(&g->graph, v);
            const int64_t   n = ggnn_sample_list(longs[0], &list, method, fanouts[i], &rng, 1, v, workspace);
            fold(n), fold_i64(longs[0], n);
        }
        free(workspace);
    }
}
static void sample(ggnn_method method)
{
    ggnn_batch          b;
    const ggnn_sampling how = all_kept(method);
    did(ggnn_batch_new(&b, &g->graph, &how, SEEDS));
    did(ggnn_sample(&b, &g->graph, &rng, seeds, SEEDS));
    fold_batch(&b);
    ggnn_batch_free(&b);
}
OP(sample_lists)
{
    static const int64_t fanouts[] = {-1, 0, 5, 15, 100};
    static ggnn_list     list[40];
    static int64_t       key[40], bound[41];
    for (int64_t v = 0; v < 40; v++) list[v] = ggnn_neighbors(&g->graph, (ggnn_node)v), key[v] = v << 40 | 5;
    for (int method = 0; method < GGNN_NUM_METHODS; method++)
        for (int i = 0; i < 5 && !ggnn_method_has((ggnn_method)method, GGNN_METHOD_WALKS); i++) {
            void* workspace = test_memory((int64_t)ggnn_sample_workspace_bytes((ggnn_method)method, fanouts[i] < 0 ? 0 : fanouts[i]) + 1);
            did(ggnn_sample_lists(longs[0], bound, list, key, 40, (ggnn_method)method, fanouts[i], &rng, 1, workspace));
            fold_i64(bound, 41), fold_i64(longs[0], bound[40]);
            free(workspace);
        }
}
OP(random_walk)
{
    const ggnn_walks how = {6, 5, .25f};
    ggnn_node        bad;
    for (ggnn_node v = 0; v < 30; v++) {
        did(ggnn_random_walk(ids[0], &g->graph, &how, &rng, 0, v, &bad));
        fold_ids(ids[0], 30);
    }
}
OP(walk_neighbors)
{
    static double workspace[2 * N];
    for (int i = 0; i < N; i++) ids[0][i] = (ggnn_node)(test_below(40) - 1);
    for (int64_t top = -1; top < 50; top += 7) {
        const int64_t n = ggnn_walk_neighbors(ids[1], out[0], ids[0], N, top, 5, workspace);
        fold(n), fold_ids(ids[1], n), fold_floats(out[0], n);
    }
}
static ggnn_unique* table(int kind, int64_t max_ids)
{
    void*        memory = test_memory((int64_t)ggnn_unique_bytes((ggnn_unique_kind)kind, N, max_ids));
    ggnn_unique* made_in = ggnn_unique_init(memory, (ggnn_unique_kind)kind, N, max_ids);
    fold(made_in != NULL), did(ggnn_unique_begin(made_in));
    return made_in;
}
static void append(ggnn_unique* t) /* 2 N ids in two calls, in ids[1] */
{
    static int32_t local[N];
    for (int call = 0; call < 2; call++) {
        int64_t bad = -1;
        for (int i = 0; i < N; i++) ids[0][i] = (ggnn_node)test_below(N);
        fold(ggnn_unique_append(t, ids[1], local, ids[0], N, &bad));
        fold(bad), fold(t->count), fold_ids(ids[1], t->count);
        fold_i32(local, bad < 0 ? N : bad);
    }
}
OP(unique_init)
{
    for (int kind = GGNN_UNIQUE_DIRECT; kind <= GGNN_UNIQUE_HASH; kind++) {
        ggnn_unique* t = table(kind, 100);
        fold(t->kind), fold(t->num_nodes), fold(t->max_ids), fold((int64_t)t->mask), fold(t->count);
        free(t);
    }
}
OP(unique_begin)
{
    ggnn_unique* t = table(GGNN_UNIQUE_HASH, N);
    for (int batch = 0; batch < 3; batch++) {
        append(t);
        did(ggnn_unique_begin(t)), fold(t->count), fold(t->base);
    }
    free(t);
}
OP(unique_append)
{
    for (int kind = GGNN_UNIQUE_DIRECT; kind <= GGNN_UNIQUE_HASH; kind++) {
        ggnn_unique* t = table(kind, 150);
        append(t);
        free(t);
    }
}
OP(unique_find)
{
    for (int kind = GGNN_UNIQUE_DIRECT; kind <= GGNN_UNIQUE_HASH; kind++) {
        ggnn_unique* t = table(kind, N);
        append(t);
        for (ggnn_node v = -1; v <= N; v++) fold(ggnn_unique_find(t, v));
        free(t);
    }
}

/* ---- [6] BLOCK --------------------------------------------------------------------------------------------------- */

static void fold_bounds(const ggnn_batch* b)
{
    fold(b->max_ids), fold(b->num_seeds.max), fold(b->how.num_hops);
    for (int h = 0; h < b->how.num_hops; h++)
        fold(b->hop[h].num_dst.max), fold(b->hop[h].num_src.max), fold(b->hop[h].num_edges.max);
}
OP(batch_new)
{
    for (int method = 0; method <= GGNN_WALK; method++) {
        const ggnn_sampling how = all_kept((ggnn_method)method);
        ggnn_batch          b;
        did(ggnn_batch_new(&b, &g->graph, &how, SEEDS)), fold_bounds(&b);
        ggnn_batch_free(&b);
    }
}
OP(batch_plan)
{
    for (int keep = 0; keep < 32; keep++) {
        ggnn_sampling how = all_kept(GGNN_REJECTION);
        ggnn_batch    b;
        how.keep = keep, how.max_src[1] = 200, how.fanout[1] = -1;
        did(ggnn_batch_plan(&b, &g->graph, &how, 5 + keep, NULL)), fold_bounds(&b);
    }
}
OP(batch_init)
{
    const ggnn_sampling how = all_kept(GGNN_RESERVOIR);
    ggnn_batch          b;
    did(ggnn_batch_plan(&b, &g->graph, &how, SEEDS, NULL));
    void* memory = test_memory((int64_t)b.bytes);
    fold(ggnn_batch_init(&b, NULL)), did(ggnn_batch_init(&b, memory));
    did(ggnn_sample(&b, &g->graph, &rng, seeds, SEEDS)), fold_batch(&b);
    free(memory);
}
static void in_steps(int hops)
{
    const ggnn_sampling how = all_kept(GGNN_FISHER_YATES);
    ggnn_batch          b;
    did(ggnn_batch_new(&b, &g->graph, &how, SEEDS));
    did(ggnn_batch_begin(&b, seeds, SEEDS));
    fold_i32(b.seed_local, SEEDS), fold_ids(b.id, *b.hop[0].num_dst.n);
    for (int h = 0; h < hops; h++) did(ggnn_sample_hop(&b, &g->graph, &rng)), fold_block(&b.hop[h]), fold_block(&b.back[h]);
    ggnn_batch_free(&b);
}
OP(batch_begin) { in_steps(0); }
OP(sample_hop) { in_steps(2); }
static void* packed(size_t* bytes)
{
    *bytes = ggnn_batch_packed_bytes(&s);
    void* memory = test_memory((int64_t)*bytes);
    memset(memory, 0x5a, *bytes);
    did(ggnn_batch_pack(memory, &s));
    return memory;
}
OP(batch_unpack)
{
    size_t     bytes;
    void*      memory = packed(&bytes);
    ggnn_batch b;
    did(ggnn_batch_unpack(&b, memory, bytes)), fold_batch(&b);
    fold(ggnn_batch_unpack(&b, memory, bytes - 1));
    free(memory);
}
OP(batch_validate)
{
    ggnn_fault    fault = {NULL, 0, 0, 0};
    const int32_t kept = s.hop[1].indices[9];
    did(ggnn_batch_validate(&s, &fault)), fold_fault(&fault);
    s.hop[1].indices[9] = -1;
    fold(ggnn_batch_validate(&s, &fault)), fold_fault(&fault), fold(fault.hop);
    s.hop[1].indices[9] = kept;
}
OP(block_whole)
{
    static int32_t copy[HUB + 13 * N];
    int64_t        counts[3];
    ggnn_block     b;
    did(ggnn_block_whole(&b, &g->graph, counts, copy)), fold_block(&b);
}
OP(block_transpose_init)
{
    ggnn_block t;
    void*      memory = test_memory((int64_t)ggnn_block_transpose_bytes(9, 12, 30));
    did(ggnn_block_transpose_init(&t, 9, 12, 30, memory));
    fold(t.num_dst.max), fold(t.num_src.max), fold(t.num_edges.max);
    free(memory);
}
OP(block_transpose)
{
    did(ggnn_block_transpose(&r->t, &r->b)), fold_block(&r->t);
    did(ggnn_block_transpose(&s.back[0], &s.hop[0])), fold_block(&s.back[0]);
}
OP(block_validate)
{
    ggnn_fault fault = {NULL, 0, 0, 0};
    did(ggnn_block_validate(&r->b, r->num_nodes, &fault)), fold_fault(&fault);
    did(ggnn_block_validate(&r->t, r->num_nodes, &fault)), fold_fault(&fault);
    fold(ggnn_block_validate(&r->b, 5, &fault)), fold_fault(&fault);
}

/* ---- [7] STORE --------------------------------------------------------------------------------------------------- */

static uint16_t halves[MOST];

OP(gather)
{
    const void* base[PARTS + 2];
    FOR_WIDTHS(width, heads) {
        const ggnn_store rows = spread_rows(0, width, base, out[2]);
        ggnn_store       half = ggnn_store_plain(halves, N, width, GGNN_F16);
        for (int i = 0; i < N; i++) ids[2][i] = (ggnn_node)test_below(N);
        did(ggnn_gather(made(0, N * (width + heads)), width + heads, GGNN_F32, &rows, ids[2], N));
        fold_floats(out[0], N * (width + heads));
        did(ggnn_gather(halves, width, GGNN_F16, &rows, ids[2], N)), fold_u16(halves, N * width);
        did(ggnn_gather(made(0, N * width), width, GGNN_F32, &half, ids[2], N)), fold_floats(out[0], N * width);
    }
}
OP(gather_edges)
{
    const ggnn_store rows = ggnn_store_plain(floats(0, N * 24), N, 24, GGNN_F32);
    for (int i = 0; i < N; i++) longs[0][i] = test_below(N);
    did(ggnn_gather_edges(made(0, N * 24), 24, GGNN_F32, &rows, longs[0], N)), fold_floats(out[0], N * 24);
}
OP(mark)
{
    const ggnn_layout at = spread();
    for (int i = 0; i < N; i++) ids[2][i] = (ggnn_node)test_below(N);
    did(ggnn_mark(longs[0], &at, ids[2], N)), fold_i64(longs[0], N);
}
OP(gather_marked)
{
    const void*      base[PARTS + 2];
    const ggnn_store rows = spread_rows(0, 24, base, out[2]);
    for (int i = 0; i < N; i++) ids[2][i] = (ggnn_node)test_below(N);
    did(ggnn_mark(longs[0], &rows.at, ids[2], N));
    did(ggnn_gather_marked(made(0, N * 24), 24, GGNN_F32, &rows, longs[0], N)), fold_floats(out[0], N * 24);
}
OP(split)
{
    static int32_t    gather[N], scatter[N];
    int64_t           bound[PARTS + 3];
    const ggnn_layout at = spread();
    for (int i = 0; i < N; i++) ids[2][i] = (ggnn_node)test_below(N);
    did(ggnn_split(gather, scatter, bound, &at, ids[2], N));
    fold_i32(gather, N), fold_i32(scatter, N), fold_i64(bound, PARTS + 3);
}
OP(permute)
{
    static int32_t index[N];
    for (int i = 0; i < N; i++) index[i] = (int32_t)test_below(N);
    FOR_WIDTHS(width, heads) {
        did(ggnn_permute(made(0, N * width), width, floats(0, N * width), width, GGNN_F32, width, index, N));
        fold_floats(out[0], N * width), fold(heads);
    }
}

/* ---- [8] SPARSE -------------------------------------------------------------------------------------------------- */

/* Factors of r's block in in[3]. */
static ggnn_scale factors(void)
{
    const float* x = floats(3, SRC + 2 * DST);
    ggnn_scale   scale = {x, x + SRC, x + SRC + DST};
    return scale;
}
OP(spmm)
{
    const ggnn_scale scale = factors();
    FOR_WIDTHS(width, heads)
        for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
            for (int with = 0; with < 4; with++) { /* 1: weights, 2: factors */
                const int    extreme = how >= GGNN_MAX;
                const float *weight = floats(1, r->edges * heads), *x = floats(0, SRC * width);
                did(ggnn_spmm(made(0, DST * width), width, extreme ? arg : NULL, (ggnn_reduce)how, &r->b, with & 2 && !extreme ? &scale : NULL,
                               with & 1 ? weight : NULL, with & 1 ? heads : 1, x, width, width));
                fold_floats(out[0], DST * width);
                if (extreme) fold_i32(arg, DST * width);
            }
}
OP(sum)
{
    did(ggnn_sum(made(0, DST * 24), &r->b, floats(0, SRC * 24), 24)), fold_floats(out[0], DST * 24);
}
OP(mean)
{
    did(ggnn_mean(made(0, DST * 24), &r->b, floats(0, SRC * 24), 24)), fold_floats(out[0], DST * 24);
}
OP(spmm_back_arg)
{
    FOR_WIDTHS(width, heads) {
        const float* weight = floats(1, r->edges * heads);
        did(ggnn_spmm(out[0], width, arg, GGNN_MAX, &r->b, NULL, weight, heads, floats(0, SRC * width), width, width));
        did(ggnn_spmm_back_arg(made(1, SRC * width), width, &r->t, &r->b, weight, heads, floats(2, DST * width), width, arg, width));
        fold_floats(out[1], SRC * width);
    }
}
OP(spmm_edges)
{
    const ggnn_scale scale = factors();
    FOR_WIDTHS(width, heads)
        for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++)
            for (int how = GGNN_SUM; how <= (message == GGNN_EDGE_TIMES ? GGNN_MEAN : GGNN_MAX); how++) {
                const float *x = floats(0, SRC * width), *weight = floats(1, r->edges * heads), *edge = floats(2, r->edges * width);
                ggnn_scale   plain = {scale.src, scale.dst, NULL};
                did(ggnn_spmm_edges(made(0, DST * width), width, how == GGNN_MAX ? arg : NULL, (ggnn_reduce)how, (ggnn_message)message, &r->b,
                                     how == GGNN_MAX ? NULL : &plain, weight, heads, x, width, edge, width, width));
                fold_floats(out[0], DST * width);
            }
}
OP(spmm_edges_back)
{
    const ggnn_scale scale = factors();
    FOR_WIDTHS(width, heads)
        for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++) {
            const float *x = floats(0, SRC * width), *weight = floats(1, r->edges * heads), *dout = floats(2, DST * width);
            ggnn_scale   plain = {scale.src, scale.dst, NULL};
            did(ggnn_spmm_edges_back(made(0, r->edges * width), width, (ggnn_message)message, &r->b, &plain, weight, heads, x, width, dout, width,
                                      NULL, width));
            fold_floats(out[0], r->edges * width);
        }
}
OP(scale_mean)
{
    for (int with_self = 0; with_self < 2; with_self++) did(ggnn_scale_mean(made(0, DST), &r->b, with_self)), fold_floats(out[0], DST);
}
OP(scale_weights) { did(ggnn_scale_weights(made(0, DST), &r->b, floats(0, r->edges))), fold_floats(out[0], DST); }
OP(gcn_norm) { did(ggnn_gcn_norm(made(0, N), &g->graph)), fold_floats(out[0], N); }
OP(scale_gcn)
{
    did(ggnn_gcn_norm(out[2], &g->graph));
    for (int h = 0; h < 2; h++) {
        const int64_t dst = *s.hop[h].num_dst.n, src = *s.hop[h].num_src.n;
        did(ggnn_scale_gcn(made(0, src), made(1, dst), out[1] + MOST / 2, &s.hop[h], out[2], &g->graph));
        fold_floats(out[0], src), fold_floats(out[1], dst), fold_floats(out[1] + MOST / 2, dst);
    }
}
OP(aggregate)
{
    const ggnn_block* b = &s.hop[1];
    const int64_t     dst = *b->num_dst.n;
    FOR_WIDTHS(width, heads)
        for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
            for (int half = 0; half < 2; half++) {
                const float* x = floats(0, N * width);
                for (int64_t i = 0; i < N * width; i++) halves[i] = ggnn_float_to_half(x[i]);
                const ggnn_store rows = ggnn_store_plain(half ? (const void*)halves : x, N, width, half ? GGNN_F16 : GGNN_F32);
                const float*     weight = floats(1, *b->num_edges.n * heads);
                did(ggnn_aggregate(made(0, dst * width), width, (ggnn_reduce)how, b, NULL, weight, heads, &rows)), fold_floats(out[0], dst * width);
            }
}
OP(sddmm)
{
    FOR_WIDTHS(width, heads)
        for (int how = GGNN_DOT; how <= GGNN_ADD; how++) {
            const int32_t columns = how == GGNN_DOT ? width : heads;
            did(ggnn_sddmm(made(0, r->edges * heads), (ggnn_edge_op)how, &r->b, floats(0, SRC * columns), columns, floats(1, DST * columns), columns, heads,
                            columns));
            fold_floats(out[0], r->edges * heads);
        }
}
OP(edge_sum)
{
    FOR_WIDTHS(width, heads) {
        did(ggnn_edge_sum(made(0, SRC * heads), &r->t, floats(0, r->edges * heads), heads)), fold_floats(out[0], SRC * heads);
        did(ggnn_edge_sum(made(0, DST * width), &r->b, floats(0, r->edges * width), width)), fold_floats(out[0], DST * width);
    }
}
static const float* softmax_of(int32_t heads) /* in out[0], of logits in [-20, 20) */
{
    floats(0, r->edges * heads);
    for (int64_t i = 0; i < r->edges * heads; i++) in[0][i] *= 20;
    did(ggnn_edge_softmax(made(0, r->edges * heads), &r->b, in[0], heads));
    return out[0];
}
static const int32_t some_heads[] = {1, 3, 4, 16, 24};
OP(edge_softmax)
{
    for (int i = 0; i < 5; i++) fold_floats(softmax_of(some_heads[i]), r->edges * some_heads[i]);
}
OP(edge_softmax_back)
{
    for (int i = 0; i < 5; i++) {
        const int32_t heads = some_heads[i];
        const float*  alpha = softmax_of(heads);
        did(ggnn_edge_softmax_back(made(1, r->edges * heads), &r->b, alpha, floats(1, r->edges * heads), heads));
        fold_floats(out[1], r->edges * heads);
    }
}
static const float powers[] = {0, -0.0f, 1, -126, -126.5f, -127, 127.99f, 128, 1e30f, -1e30f, 1e-40f, 3e-39f, INFINITY, -INFINITY, NAN};
OP(exp2)
{
    for (int i = 0; i < (int)(sizeof powers / sizeof *powers); i++) fold_float(ggnn_exp2(powers[i]));
    for (int i = 0; i < 5000; i++) fold_float(ggnn_exp2(130 * test_uniform()));
}
OP(log2)
{
    for (int i = 0; i < 5000; i++) {
        const int64_t bits = test_below(34);
        fold_float(ggnn_log2(1 + (float)(test_random() >> 30 >> bits)));
    }
    fold_float(ggnn_log2(INFINITY)), fold_float(ggnn_log2(NAN));
}
OP(exp2_array)
{
    enum { POWERS = sizeof powers / sizeof *powers, ALL = 1003 + POWERS };
    for (int i = 0; i < ALL; i++) out[0][i] = i < POWERS ? powers[i] : 130 * test_uniform();
    did(ggnn_exp2_array(out[0], ALL)), fold_floats(out[0], ALL);
}

/* ---- [9] ATTENTION ------------------------------------------------------------------------------------------------ */

OP(scores)
{
    FOR_WIDTHS(width, heads) {
        did(ggnn_scores(made(0, N * heads), floats(0, N * width), width, floats(1, width), N, heads, width));
        fold_floats(out[0], N * heads);
    }
}
OP(scores_back)
{
    FOR_WIDTHS(width, heads) {
        memcpy(out[0], floats(3, N * width), (size_t)(N * width) * sizeof(float)); /* added to */
        did(ggnn_scores_back(out[0], width, made(1, width), floats(2, N * heads), floats(0, N * width), width, floats(1, width), N, heads, width));
        fold_floats(out[0], N * width), fold_floats(out[1], width);
    }
}

enum { VECTORS = 1, DROPOUT = 2, TERM = 4, KINDS = 8 };
static float attention[16][4 * (DST + 4096)]; /* what a layer points to */

static ggnn_gat_layer attend(int kind, int32_t width, int32_t heads)
{
    ggnn_gat_layer y;
    memset(&y, 0, sizeof y);
    y.block = &r->b, y.z = floats(0, SRC * width), y.ld_z = width, y.out = made(0, DST * width), y.ld_out = width;
    y.heads = heads, y.width = width, y.how.slope = .2f;
    y.el = attention[0], y.er = attention[1], y.lse = attention[2];
    y.del = attention[3], y.der = attention[4], y.delta = attention[5], y.dlogit = attention[6];
    for (int64_t i = 0; i < SRC * heads; i++) y.el[i] = 3 * test_uniform();
    for (int64_t i = 0; i < DST * heads; i++) y.er[i] = 3 * test_uniform();
    if (kind & VECTORS) {
        y.att_l = floats(1, 2 * width), y.att_r = y.att_l + width;
        y.datt_l = attention[7], y.datt_r = attention[8];
    }
    if (kind & DROPOUT) y.how.dropout = .4f, y.how.layer = 1, y.how.rng = rng, y.how.rng.purpose = GGNN_PURPOSE_ATTENTION_DROPOUT;
    if (kind & TERM) {
        y.term = floats(2, r->edges * heads);
        y.own_term = attention[9], y.dterm = attention[10];
    }
    did(ggnn_gat(&y));
    return y;
}
OP(gat)
{
    FOR_WIDTHS(width, heads)
        for (int kind = 0; kind < KINDS; kind++) {
            const ggnn_gat_layer y = attend(kind, width, heads);
            fold_floats(y.out, DST * width), fold_floats(y.lse, DST * heads), fold_floats(y.el, SRC * heads), fold_floats(y.er, DST * heads);
            if (y.own_term) fold_floats(y.own_term, DST * heads);
        }
}
OP(gat_back)
{
    FOR_WIDTHS(width, heads)
        for (int kind = 0; kind < KINDS; kind++) {
            const ggnn_gat_layer y = attend(kind, width, heads);
            did(ggnn_gat_back(made(1, SRC * width), width, &r->t, &y, floats(3, DST * width), width));
            fold_floats(out[1], SRC * width), fold_floats(y.del, SRC * heads), fold_floats(y.der, DST * heads);
            if (y.datt_l) fold_floats(y.datt_l, width), fold_floats(y.datt_r, width);
            if (y.dterm) fold_floats(y.dterm, r->edges * heads);
        }
}

/* ---- ggnn_plan.h --------------------------------------------------------------------------------------------------- */

OP(count_degrees)
{
    did(ggnn_count_degrees(longs[0], longs[1], &g->graph, NULL)), fold_i64(longs[0], N), fold_i64(longs[1], N);
}
static void zeros(int64_t* count)
{
    memset(count, 0, N * sizeof *count);
}
OP(count_batch)
{
    zeros(longs[0]), zeros(longs[1]);
    did(ggnn_count_batch(longs[0], longs[1], &s)), fold_i64(longs[0], N), fold_i64(longs[1], N);
}
OP(count_epochs)
{
    const ggnn_sampling how = all_kept(GGNN_FISHER_YATES);
    ggnn_batch          b;
    ggnn_epochs         of = {ids[0], N / 2, SEEDS, {3, 0, GGNN_PURPOSE_PRESAMPLE}, GGNN_PRESAMPLE_EPOCH};
    for (int i = 0; i < N / 2; i++) ids[0][i] = (ggnn_node)(2 * i);
    zeros(longs[0]), zeros(longs[1]);
    did(ggnn_batch_new(&b, &g->graph, &how, SEEDS));
    did(ggnn_count_epochs(longs[0], longs[1], &b, &g->graph, &of, 0, 2 * ggnn_epoch_batches(&of), ids[1]));
    fold_i64(longs[0], N), fold_i64(longs[1], N);
    ggnn_batch_free(&b);
}
static void ranked(void) /* by out-degree: counts in longs[0], in longs[1] of lists, rank and order in ids[0], ids[1] */
{
    const ggnn_hotness by = {longs[0], NULL, g->indptr};
    did(ggnn_count_degrees(longs[0], longs[1], &g->graph, NULL));
    did(ggnn_rank(ids[0], ids[1], &by, N));
}
OP(count_hits)
{
    ranked();
    for (int64_t cached = 0; cached <= N; cached += 25) fold(ggnn_count_hits(longs[0], ids[0], cached, N));
}
OP(rank)
{
    ranked();
    fold_ids(ids[0], N), fold_ids(ids[1], N);
    const ggnn_hotness by = {longs[1], longs[0], NULL}; /* AliGraph's */
    did(ggnn_rank(ids[0], ids[1], &by, N));
    fold_ids(ids[0], N), fold_ids(ids[1], N);
}
OP(rank_random) { did(ggnn_rank_random(ids[0], ids[1], 77, N)), fold_ids(ids[0], N), fold_ids(ids[1], N); }
OP(fill_ratio)
{
    for (int i = -3; i < 120; i++) fold(ggnn_fill_ratio(i * .01, 100)), fold(ggnn_fill_ratio(i / 97., N)), fold(ggnn_fill_ratio(i / 97., INT64_C(1) << 50));
    fold(ggnn_fill_ratio(NAN, N));
}
OP(fill_rows)
{
    for (int64_t bytes = -100; bytes < 100000; bytes += 777) fold(ggnn_fill_rows(bytes, 96, N));
}
OP(fill_auto)
{
    for (int64_t peak = 0; peak < 2000; peak += 111) fold(ggnn_fill_auto(1500, peak, 50));
}
static ggnn_sizes sizes(void) /* as of 32-bit ids */
{
    const ggnn_sizes of = {96, g->indptr, 8, 16};
    return of;
}
OP(fill_lists)
{
    const ggnn_sizes of = sizes();
    ranked();
    for (int32_t parts = 1; parts < 6; parts++) {
        int64_t left[6];
        for (int p = 0; p < 6; p++) left[p] = 3000 + 700 * p;
        fold(ggnn_fill_lists(ids[2], left, parts, ids[1], &of, N)), fold_ids(ids[2], N), fold_i64(left, parts);
    }
}
OP(fill_parts)
{
    const ggnn_sizes of = sizes();
    ranked();
    for (int64_t bytes = 1000; bytes < 100000; bytes += 9000) {
        int64_t               left[4];
        const ggnn_parts      from = {&of, ids[0], ids[1], ids[0], N, N, bytes, 4, 2, (int)(bytes / 1000 & 1)};
        const ggnn_parts_fill fill = ggnn_fill_parts(ids[2], left, &from, N);
        fold(fill.lists), fold(fill.rows), fold(fill.list_bytes), fold(fill.row_bytes);
        if (fill.list_rank == ids[2]) fold_ids(ids[2], N);
    }
}
OP(fill_slope)
{
    const double hit[] = {0, .1, .35, .5, .9}, ms[] = {12.5, 11.75, 9.1, 8.2, 3.3};
    for (int64_t n = 0; n <= 5; n++) fold(ggnn_fill_slope(hit, ms, n));
}
OP(fill_dual)
{
    const ggnn_sizes of = sizes();
    ranked();
    for (int64_t budget = -1; budget < 60000; budget += 7001) {
        const ggnn_dual      from = {longs[0], longs[1], 12345, 67890, &of, budget};
        const ggnn_dual_fill fill = ggnn_fill_dual(ids[2], ids[3], &from, N, edge_ids[0]);
        fold(fill.rows), fold(fill.lists), fold(fill.row_bytes), fold(fill.list_bytes);
        fold_ids(ids[2], N), fold_ids(ids[3], N);
    }
}

static const char* const machines[] = {"dgx-1v", "dgx-a100", "pcie-pairs", "ring", "none", "no such"};
static void fold_plan(const ggnn_placement* plan)
{
    fold(plan->devices), fold(plan->most), fold(plan->copies), fold(plan->plans), fold(plan->complete), fold_double(plan->bandwidth);
    for (int i = 0; i < plan->devices; i++) {
        fold(plan->stores[i]);
        for (int p = 0; p < plan->devices; p++) fold(plan->source[i][p]);
    }
}
OP(topology_named)
{
    for (int i = 0; i < 6; i++) {
        ggnn_topology t;
        memset(&t, 0, sizeof t);
        fold(ggnn_topology_named(&t, machines[i], 0)), fold(t.devices);
        for (int j = 0; j < t.devices; j++)
            for (int k = 0; k < t.devices; k++) fold_double(t.bandwidth[j][k]);
    }
}
OP(topology_validate)
{
    ggnn_topology t;
    ggnn_fault    fault = {NULL, 0, 0, 0};
    did(ggnn_topology_named(&t, "ring", 6));
    did(ggnn_topology_validate(&t, &fault)), fold_fault(&fault);
    t.bandwidth[2][3] = -1;
    fold(ggnn_topology_validate(&t, &fault)), fold_fault(&fault);
}
OP(place_parts)
{
    for (int i = 0; i < 5; i++)
        for (int rule = GGNN_PLACE_BEST; rule <= GGNN_PLACE_CLIQUE; rule++) {
            ggnn_topology  t;
            ggnn_placement plan;
            memset(&plan, 0, sizeof plan);
            did(ggnn_topology_named(&t, machines[i], 6));
            did(ggnn_place_parts(&plan, &t, (ggnn_place_rule)rule, 50, NULL)), fold_plan(&plan);
        }
}
OP(place_sources)
{
    ggnn_topology  t;
    ggnn_placement plan;
    memset(&plan, 0, sizeof plan);
    did(ggnn_topology_named(&t, "dgx-1v", 8));
    plan.devices = 8;
    for (int i = 0; i < 8; i++) plan.stores[i] = (uint16_t)(0x11 << i % 4 | 0x22 << (i + 1) % 3);
    did(ggnn_place_sources(&plan, &t, NULL)), fold_plan(&plan);
}

static int32_t owner[N];
OP(partition_ids)
{
    for (int how = GGNN_OWNER_RANGE; how <= GGNN_OWNER_HASH; how++) did(ggnn_partition_ids(owner, (ggnn_owner)how, 5, N)), fold_i32(owner, N);
}
OP(partition_mincut)
{
    for (int32_t parts = 1; parts < 6; parts++)
        did(ggnn_partition_mincut(owner, &g->graph, parts, 3, 5, ids[0], NULL)), fold_i32(owner, N);
}
static void by_pagraph(int64_t* cut) /* of the even nodes, which lie in ids[0] */
{
    const ggnn_pagraph how = {ids[0], N / 2, 3, 2, 60};
    void*              workspace = test_memory((int64_t)ggnn_partition_pagraph_workspace_bytes(N));
    for (int i = 0; i < N / 2; i++) ids[0][i] = (ggnn_node)(2 * i);
    did(ggnn_partition_pagraph(owner, cut, &g->graph, &how, workspace, NULL));
    free(workspace);
}
OP(partition_pagraph)
{
    int64_t cut;
    by_pagraph(&cut);
    fold(cut), fold_i32(owner, N);
}
OP(partition_closure)
{
    int64_t cut, bound[4];
    by_pagraph(&cut);
    for (int32_t part = 0; part < 3; part++) {
        did(ggnn_partition_closure(ids[1], bound, &g->graph, owner, part, ids[0], N / 2, 2, seen, NULL));
        fold_i64(bound, 4), fold_ids(ids[1], bound[3]);
    }
}
OP(partition_cut)
{
    int64_t cut;
    did(ggnn_partition_ids(owner, GGNN_OWNER_HASH, 4, N));
    did(ggnn_partition_cut(&cut, &g->graph, owner, NULL)), fold(cut);
}

/* The graph and rows of 24 floats over PARTS parts, read back through the whole. */
static void dist(int lists_cut_opened)
{
    ggnn_dist_data from = {g->graph, ggnn_store_plain(floats(0, N * 24), N, 24, GGNN_F32), .5, .4, NULL, 0, PARTS};
    void *         work = test_memory((int64_t)ggnn_dist_bytes(N, PARTS)), *memory[PARTS];
    ggnn_dist      d;
    ggnn_fault     fault = {NULL, 0, 0, 0};
    did(ggnn_dist_plan(&d, &from, work, &fault)), fold_fault(&fault);
    fold(d.graph.at.stored), fold(d.rows.at.stored);
    fold_ids(d.list_id, d.graph.at.stored), fold_ids(d.row_id, d.rows.at.stored);
    for (int32_t p = 0; p < PARTS; p++) {
        const ggnn_dist_part* part = &d.part[p];
        fold(part->lists), fold(part->edges), fold(part->rows), fold(part->list_at), fold(part->row_at);
        memory[p] = test_memory((int64_t)part->bytes);
        if (lists_cut_opened == 0) continue;
        did(ggnn_dist_cut(memory[p], &d, p, &fault));
        const ggnn_csc lists = ggnn_dist_lists(NULL, memory[p], &g->graph, part->lists, part->edges);
        fold_i64(lists.indptr, part->lists + 1), fold_i64(lists.first, part->lists);
        fold_ids(lists.indices, part->edges), fold_floats(lists.weight, part->edges);
        fold_floats((const float*)(const void*)((const char*)memory[p] + part->row_offset), part->rows * 24);
    }
    if (lists_cut_opened == 2) {
        did(ggnn_dist_open(&d, memory)), did(ggnn_graph_validate(&d.graph, &fault));
        for (ggnn_node v = 0; v < N; v++) {
            const ggnn_place place = ggnn_locate(&d.rows.at, v);
            fold(place.slot), fold(place.row), fold_floats((const float*)ggnn_row(&d.rows, v), 24);
        }
    }
    for (int32_t p = 0; p < PARTS; p++) free(memory[p]);
    free(work);
}
OP(dist_plan) { dist(0); }
OP(dist_cut) { dist(1); }
OP(dist_open) { dist(2); }

/* ---- bytes that have the width of ids in them: frozen of 32 bits --------------------------------------------------- */
#ifndef GGNN_NODE64
OP(batch_pack)
{
    size_t               bytes;
    void*                packed_in = packed(&bytes);
    const unsigned char* memory = (const unsigned char*)packed_in;
    for (size_t i = 0; i < bytes; i++) fold(memory[i]);
    free(packed_in);
}
OP(dist_lists)
{
    size_t bytes;
    for (int64_t n = 0; n < 100; n += 7) fold(ggnn_dist_lists(&bytes, NULL, &g->graph, n, 13 * n).num_edges), fold((int64_t)bytes);
}
#endif

/* ---- against the frozen ones --------------------------------------------------------------------------------------- */

static void same_bits(const char* name, const char* method, void (*op)(void), void (*of)(ggnn_method), int number, uint64_t frozen)
{
    int wrong = 0;
    FOR_EACH_FORM {
        test_state = digest = 11;
        if (op) op();
        else of((ggnn_method)number);
        if (digest != frozen && !wrong++)
            printf("  %s %s: 0x%016" PRIx64 ", and 0x%016" PRIx64 " in tests/vectors/op_bits.h; form %d\n", name, method, digest, frozen, form);
    }
    CHECK_EQ(wrong, 0);
}
#define TEST_OF(op, bits) \
    TEST(bits_of_##op) { same_bits(#op, "", op_##op, NULL, 0, UINT64_C(bits)); }
#define RUN_OF(op, bits) RUN(bits_of_##op);
#define TEST_METHODS(op, column)                                                                                \
    TEST(bits_of_##op)                                                                                          \
    {                                                                                                           \
        for (int i = 0; i < GGNN_NUM_METHODS; i++)                                                              \
            same_bits(#op, ggnn_method_name((ggnn_method)i), NULL, op, i, method_bits[i][column]);              \
    }
OP_BITS(TEST_OF)
OP_BITS_NARROW(TEST_OF)
TEST_METHODS(sample_list, 0)
TEST_METHODS(sample, 1)

int main(int argc, char** argv)
{
    const ggnn_sampling how = all_kept(GGNN_FISHER_YATES);
    test_only = argc > 1 ? argv[1] : NULL;
    test_state = 29;
    g = random_graph_new(N, 6, HUB);
    r = random_block_mixed(DST, SRC);
    if (ggnn_batch_new(&s, &g->graph, &how, SEEDS) != GGNN_OK || ggnn_sample(&s, &g->graph, &rng, seeds, SEEDS) != GGNN_OK) return 1;
    OP_BITS(RUN_OF)
    OP_BITS_NARROW(RUN_OF)
    RUN(bits_of_sample_list);
    RUN(bits_of_sample);
    ggnn_batch_free(&s);
    random_block_free(r);
    random_graph_free(g);
    return test_finish();
}
