/* test_split.c - one mini-batch over parts: its lists, blocks and exchanges, beside an oracle that samples each node by
   itself. */
#include "tests/owners.h"
#include "trainer/split/split.h"

/* ==== what ranks do together, for the parts of one process ====================================================== */

static bool split_cooperative(split_part* part, const ggnn_graph* g, const ggnn_rng* rng, const ggnn_node* seeds, int64_t num_seeds, error* why)
{
    const int32_t parts = part->at.parts;
    bool good = true;
    for (int32_t p = 0; good && p < parts; p++) good = split_begin(&part[p], seeds, num_seeds, why);
    for (int32_t h = 0; good && h < part->num_hops; h++) {
        for (int32_t p = 0; good && p < parts; p++) good = split_sample(&part[p], h, g, rng, why);
        for (int32_t q = 0; good && q < parts; q++) {
            const ggnn_node* ids[GGNN_PARTS_MAX];
            int64_t n[GGNN_PARTS_MAX];
            for (int32_t p = 0; p < parts; p++) {
                const int64_t* from = part[p].hop[h].from;
                ids[p] = part[p].ask + from[q];
                n[p] = from[q + 1] - from[q];
            }
            good = split_merge(&part[q], h, ids, n, why);
        }
    }
    return good;
}

/* Forward: out (num_src, width) gets the rows of a part's sources in hop h, from their owners. rows[q] (count[h + 1] of q, width). */
static void split_rows(float* out, const split_part* part, int32_t self, int32_t h, const float* const* rows, int64_t width)
{
    const split_hop* mine = &part[self].hop[h];
    for (int32_t q = 0; q < part->at.parts; q++) {
        const split_hop* theirs = &part[q].hop[h];
        const int32_t *send = theirs->send + theirs->to[self], *receive = mine->receive + mine->from[q];
        for (int64_t i = 0; i < mine->from[q + 1] - mine->from[q]; i++)
            memcpy(out + receive[i] * width, rows[q] + send[i] * width, (size_t)width * sizeof *out);
    }
}

/* Backward, the adjoint: drows (count[h + 1] of the part, width) is the sum of what the parts have for its rows, part 0 first. */
static void split_rows_back(float* drows, const split_part* part, int32_t self, int32_t h, const float* const* dout, int64_t width)
{
    const split_hop* mine = &part[self].hop[h];
    memset(drows, 0, (size_t)(part[self].count[h + 1] * width) * sizeof *drows);
    for (int32_t p = 0; p < part->at.parts; p++) {
        const split_hop* theirs = &part[p].hop[h];
        const int32_t *send = mine->send + mine->to[p], *receive = theirs->receive + theirs->from[self];
        for (int64_t i = 0; i < mine->to[p + 1] - mine->to[p]; i++)
            for (int64_t f = 0; f < width; f++) drows[send[i] * width + f] += dout[p][receive[i] * width + f];
    }
}

enum { NODES = 400, MAX_SEEDS = 64, WIDTH = 3, STEP = 7, SEED = 11 };

static error why;
static const ggnn_rng rng = {SEED, STEP, GGNN_PURPOSE_SAMPLE};

/* ---- the oracle: what hop h has as targets, and the edges of each -------------------------------------------------- */

typedef struct {
    bool in[GGNN_HOPS_MAX + 1][NODES];
    ggnn_batch one[GGNN_HOPS_MAX]; /* of one hop and one target */
    void* memory[GGNN_HOPS_MAX];
} oracle;

/* The edges of v in hop h, as no other node's sample can change them. */
static const ggnn_block* sample_alone(oracle* o, const ggnn_graph* g, int32_t h, ggnn_node v)
{
    CHECK_EQ(ggnn_sample(&o->one[h], g, &rng, &v, 1), GGNN_OK);
    return &o->one[h].hop[0];
}

static oracle* oracle_new(const ggnn_graph* g, const ggnn_sampling* how, const ggnn_node* seeds, int64_t n)
{
    oracle* o = calloc(1, sizeof *o);
    for (int64_t i = 0; i < n; i++) o->in[0][seeds[i]] = true;
    for (int32_t h = 0; h < how->num_hops; h++) {
        ggnn_sampling one = ggnn_sampling_plain(how->method, &how->fanout[h], 1);
        one.first_hop = how->first_hop + h;
        one.keep = how->keep;
        CHECK_EQ(ggnn_batch_plan(&o->one[h], g, &one, 1, NULL), GGNN_OK);
        o->memory[h] = malloc(o->one[h].bytes);
        ggnn_batch_init(&o->one[h], o->memory[h]);
        memcpy(o->in[h + 1], o->in[h], sizeof o->in[h]);
        for (ggnn_node v = 0; v < g->num_nodes; v++) {
            if (!o->in[h][v]) continue;
            const ggnn_block* b = sample_alone(o, g, h, v);
            for (int64_t i = 0; i < *b->num_src.n; i++) o->in[h + 1][b->id[i]] = true;
        }
    }
    return o;
}

static void oracle_free(oracle* o)
{
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) free(o->memory[h]);
    free(o);
}

/* Are these floats or numbers there in both, and equal? */
static bool same(const void* a, const void* b, int64_t first, int64_t other, int64_t n, size_t size)
{
    if (!a || !b) return a == b;
    return memcmp((const char*)a + (size_t)first * size, (const char*)b + (size_t)other * size, (size_t)n * size) == 0;
}

/* Each target's edges are those that it has alone, in order, by global id. */
static void check_edges(oracle* o, const ggnn_graph* g, const split_part* s, int32_t h)
{
    const ggnn_block* b = s->hop[h].block;
    CHECK_EQ(*b->num_dst.n, s->count[h]);
    CHECK_EQ(ggnn_block_validate(b, g->num_nodes, NULL), GGNN_OK);
    CHECK_EQ(*b->num_edges.n, b->indptr[s->count[h]]);
    for (int64_t i = 0; i < s->count[h]; i++) {
        const ggnn_block* alone = sample_alone(o, g, h, s->list[h][i]);
        const int64_t first = b->indptr[i], n = b->indptr[i + 1] - first;
        CHECK_EQ(b->id[i], s->list[h][i]);
        if (!CHECK_EQ(n, *alone->num_edges.n)) continue;
        for (int64_t e = 0; e < n; e++) CHECK_EQ(b->id[b->indices[first + e]], alone->id[alone->indices[e]]);
        CHECK(same(b->position, alone->position, first, 0, n, sizeof *b->position));
        CHECK(same(b->weight, alone->weight, first, 0, n, sizeof *b->weight));
    }
}

/* Sources are the targets, then the ends of edges once each, and nothing else. */
static void check_sources(const split_part* s, int32_t h)
{
    const ggnn_block* b = s->hop[h].block;
    int32_t seen[NODES] = {0}, times[NODES] = {0};
    for (int64_t e = 0; e < *b->num_edges.n; e++) times[b->indices[e]]++;
    for (int64_t i = 0; i < *b->num_src.n; i++) {
        CHECK_EQ(seen[b->id[i]]++, 0);
        CHECK(i < *b->num_dst.n || times[i] > 0);
        if (b->repeats) CHECK_EQ(b->repeats[i], times[i]);
    }
}

static void check_lists(const oracle* o, const owned* by, const split_part* part)
{
    for (int32_t h = 0; h <= part->num_hops; h++) {
        int32_t times[NODES] = {0};
        for (int32_t p = 0; p < by->parts; p++)
            for (int64_t i = 0; i < part[p].count[h]; i++) {
                times[part[p].list[h][i]]++;
                CHECK_EQ(by->owner[part[p].list[h][i]], p);
            }
        for (int64_t v = 0; v < by->g->num_nodes; v++) CHECK_EQ(times[v], o->in[h][v]);
    }
}

/* ---- a run of both forms -------------------------------------------------------------------------------------------- */

typedef struct {
    const random_graph* g;
    owned*     by;
    ggnn_sampling how;
    split_part whose_turn[OWNED_PARTS], single[OWNED_PARTS], cooperative[OWNED_PARTS]; /* single: slices of `whose_turn` */
    ggnn_batch whole;
    void*      memory;
    ggnn_node  seeds[MAX_SEEDS];
    int64_t    num_seeds;
} run;

/* No byte too many is read, as sanitizers see, and none too few taken. */
static void send_slice(split_part* to, split_part* from)
{
    error told = {""};
    const size_t bytes = split_slice_bytes(from);
    void* slice = malloc(bytes);
    split_slice_pack(slice, from);
    CHECK(split_slice_take(to, slice, bytes, &why));
    CHECK(!split_slice_take(to, slice, 100, &told) && strstr(told.text, "a graph: a part of a batch of 100 bytes is not one"));
    CHECK(!split_slice_take(to, slice, bytes - 8, &told));
    const int64_t count = *(int64_t*)slice;
    *(int64_t*)slice = -1; /* the seeds of the part */
    CHECK(!split_slice_take(to, slice, bytes, &told));
    *(int64_t*)slice = count;
    CHECK(split_slice_take(to, slice, bytes, &why));
    free(slice);
}

static void split_batch(run* f, int64_t num_seeds)
{
    for (int64_t i = 0; i < num_seeds; i++) f->seeds[i] = (ggnn_node)test_below(f->g->num_nodes); /* some are equal */
    CHECK_EQ(ggnn_sample(&f->whole, &f->g->graph, &rng, f->seeds, num_seeds), GGNN_OK);
    CHECK(split_single(f->whose_turn, &f->whole, &why));
    for (int32_t p = 0; p < f->by->parts; p++) send_slice(&f->single[p], &f->whose_turn[p]);
    CHECK(split_cooperative(f->cooperative, &f->g->graph, &rng, f->seeds, num_seeds, &why));
    if (why.text[0]) printf("  %s\n", why.text);
}

static run* run_new(const random_graph* g, owned_kind kind, int32_t parts, const ggnn_sampling* how, int64_t num_seeds)
{
    static float table[NODES * WIDTH];
    run* f = calloc(1, sizeof *f);
    f->g = g;
    f->how = *how;
    f->by = owned_by(kind, parts, g, table, WIDTH);
    f->num_seeds = num_seeds;
    for (int32_t p = 0; p < parts; p++) {
        CHECK(split_part_open(&f->whose_turn[p], &g->graph, how, &f->by->at, p, MAX_SEEDS, "a graph", &why));
        CHECK(split_part_open(&f->single[p], &g->graph, how, &f->by->at, p, MAX_SEEDS, "a graph", &why));
        CHECK(split_part_open(&f->cooperative[p], &g->graph, how, &f->by->at, p, MAX_SEEDS, "a graph", &why));
    }
    CHECK_EQ(ggnn_batch_plan(&f->whole, &g->graph, how, MAX_SEEDS, NULL), GGNN_OK);
    f->memory = malloc(f->whole.bytes);
    ggnn_batch_init(&f->whole, f->memory);
    split_batch(f, MAX_SEEDS / 2); /* the second batch is the one that is looked at */
    split_batch(f, num_seeds);
    return f;
}

static void run_free(run* f)
{
    for (int32_t p = 0; p < f->by->parts; p++) {
        split_part_close(&f->whose_turn[p]);
        split_part_close(&f->single[p]);
        split_part_close(&f->cooperative[p]);
    }
    owned_free(f->by);
    free(f->memory);
    free(f);
}

static void each_case(void (*check)(run* f))
{
    static const struct {
        ggnn_method method;
        int32_t hops, fanout[3], keep, first_hop;
    } how[] = {{GGNN_FISHER_YATES, 3, {4, 3, 2}, 0, 0},
               {GGNN_WEIGHTED, 2, {3, -1}, GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS, 0},
               {GGNN_REPLACEMENT, 2, {5, 0}, GGNN_KEEP_NEIGHBORS, 2},
               {GGNN_WALK, 2, {3, 2}, GGNN_KEEP_WEIGHTS, 0}};
    static const int32_t parts[] = {1, 2, 4, 8};
    static const int64_t seeds[] = {0, 1, MAX_SEEDS};
    test_seed(41);
    random_graph* g = random_graph_new(NODES, 6, 150);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++)
        for (owned_kind kind = BY_RANGE; kind <= BY_MAP; kind++) /* by map, parts of odd number are empty */
            for (int32_t p = 0; p < 4; p++)
                for (int32_t n = 0; n < 3; n++) {
                    ggnn_sampling s = ggnn_sampling_plain(how[i].method, how[i].fanout, how[i].hops);
                    s.keep = how[i].keep;
                    s.first_hop = how[i].first_hop;
                    for (int h = 0; i == 0 && h < 3; h++) { /* bounds as they follow from seeds and fanouts */
                        s.max_src[h] = h ? NODES : 5 * MAX_SEEDS;
                        s.max_edges[h] = (const int64_t[]){4 * MAX_SEEDS, 15 * MAX_SEEDS, 2 * NODES}[h];
                    }
                    run* f = run_new(g, kind, parts[p], &s, seeds[n]);
                    check(f);
                    run_free(f);
                }
    random_graph_free(g);
}

/* ---- lists and edges ------------------------------------------------------------------------------------------------ */

static void check_both_forms(run* f)
{
    oracle* o = oracle_new(&f->g->graph, &f->how, f->seeds, f->num_seeds);
    for (int32_t form = 0; form < 2; form++) {
        const split_part* part = form ? f->cooperative : f->single;
        check_lists(o, f->by, part);
        for (int32_t p = 0; p < f->by->parts; p++)
            for (int32_t h = 0; h < f->how.num_hops; h++) {
                check_edges(o, &f->g->graph, &part[p], h);
                check_sources(&part[p], h);
            }
    }
    oracle_free(o);
}
TEST(every_hop_s_node_is_one_part_s_with_the_edges_that_it_has_alone) { each_case(check_both_forms); }

static void check_one_part(run* f)
{
    for (int32_t form = 0; form < 2 && f->by->parts == 1; form++) {
        const split_part* s = form ? f->cooperative : f->single;
        for (int32_t h = 0; h < f->how.num_hops; h++) {
            const ggnn_block *a = s->hop[h].block, *b = &f->whole.hop[h];
            if (!CHECK_EQ(*a->num_dst.n, *b->num_dst.n) || !CHECK_EQ(*a->num_src.n, *b->num_src.n) ||
                !CHECK_EQ(*a->num_edges.n, *b->num_edges.n))
                continue;
            CHECK(same(a->id, b->id, 0, 0, *b->num_src.n, sizeof *b->id));
            CHECK(same(a->indptr, b->indptr, 0, 0, *b->num_dst.n + 1, sizeof *b->indptr));
            CHECK(same(a->indices, b->indices, 0, 0, *b->num_edges.n, sizeof *b->indices));
            CHECK_EQ(s->count[h + 1], *b->num_src.n);
            CHECK(same(s->list[h + 1], b->id, 0, 0, *b->num_src.n, sizeof *b->id));
            for (int64_t i = 0; i < *b->num_src.n; i++)
                CHECK(s->hop[h].send[i] == i && s->hop[h].receive[i] == i);
        }
    }
}
TEST(one_part_has_the_mini_batch_itself) { each_case(check_one_part); }

/* ---- exchanges ------------------------------------------------------------------------------------------------------ */

/* Rows of list h of every part, filled by `value`, or zeros. */
static float** rows_new(const split_part* part, int32_t h, float (*value)(ggnn_node v, int64_t column))
{
    float** rows = calloc(OWNED_PARTS, sizeof *rows);
    for (int32_t p = 0; p < part->at.parts; p++) {
        rows[p] = calloc((size_t)(part[p].count[h] * WIDTH + 1), sizeof **rows);
        for (int64_t i = 0; value && i < part[p].count[h] * WIDTH; i++)
            rows[p][i] = value(part[p].list[h][i / WIDTH], i % WIDTH);
    }
    return rows;
}
static void rows_free(float** rows)
{
    for (int32_t p = 0; p < OWNED_PARTS; p++) free(rows[p]);
    free(rows);
}

static float by_id(ggnn_node v, int64_t column) { return (float)(v * WIDTH + column); }

static void check_exchange(const split_part* part, int32_t h)
{
    const int32_t parts = part->at.parts;
    float** rows = rows_new(part, h + 1, by_id);
    for (int32_t p = 0; p < parts; p++) {
        const split_hop* hop = &part[p].hop[h];
        const int64_t n = *hop->block->num_src.n;
        float* out = malloc((size_t)(n * WIDTH + 1) * sizeof *out);
        for (int64_t i = 0; i < n * WIDTH; i++) out[i] = -1;
        split_rows(out, part, p, h, (const float* const*)rows, WIDTH);
        for (int64_t i = 0; i < n * WIDTH; i++) CHECK(out[i] == by_id(hop->block->id[i / WIDTH], i % WIDTH));
        CHECK_EQ(hop->from[parts], n); /* so that nothing else is sent */
        for (int32_t q = 0; q < parts; q++)
            CHECK_EQ(hop->from[q + 1] - hop->from[q], part[q].hop[h].to[p + 1] - part[q].hop[h].to[p]);
        free(out);
    }
    rows_free(rows);
}
static void check_exchanges(run* f)
{
    for (int32_t h = 0; h < f->how.num_hops; h++) {
        check_exchange(f->single, h);
        check_exchange(f->cooperative, h);
    }
}
TEST(rows_after_the_exchange_are_each_part_s_sources) { each_case(check_exchanges); }

/* <Sx, y> = <x, S'y> in whole numbers, so that it holds exactly. */
static float small(ggnn_node v, int64_t column) { return (float)((v * 31 + column * 7) % 13 - 6); }
static void check_adjoint(run* f)
{
    const split_part* part = f->cooperative;
    for (int32_t h = 0; h < f->how.num_hops; h++) {
        double forward = 0, backward = 0;
        float **x = rows_new(part, h + 1, small), **back = rows_new(part, h + 1, NULL), *y[OWNED_PARTS];
        for (int32_t p = 0; p < f->by->parts; p++) {
            const int64_t n = *part[p].hop[h].block->num_src.n * WIDTH;
            float* out = malloc((size_t)(n + 1) * sizeof *out);
            y[p] = malloc((size_t)(n + 1) * sizeof *y[p]);
            split_rows(out, part, p, h, (const float* const*)x, WIDTH);
            for (int64_t i = 0; i < n; i++) {
                y[p][i] = (float)(test_below(21) - 10);
                forward += (double)out[i] * y[p][i];
            }
            free(out);
        }
        for (int32_t q = 0; q < f->by->parts; q++) {
            for (int64_t i = 0; i < part[q].count[h + 1] * WIDTH; i++) back[q][i] = NAN; /* is overwritten */
            split_rows_back(back[q], part, q, h, (const float* const*)y, WIDTH);
            for (int64_t i = 0; i < part[q].count[h + 1] * WIDTH; i++) backward += (double)back[q][i] * x[q][i];
        }
        CHECK(forward == backward);
        for (int32_t p = 0; p < f->by->parts; p++) free(y[p]);
        rows_free(x);
        rows_free(back);
    }
}
TEST(gradients_come_back_by_the_adjoint) { each_case(check_adjoint); }

/* Lists: a part's own sources, then those of the others in order of parts; and sums of terms of unlike sizes, part 0 first. */
static void check_orders(run* f)
{
    const split_part* part = f->cooperative;
    const int32_t parts = f->by->parts;
    for (int32_t h = 0; h < f->how.num_hops; h++) {
        float* y[OWNED_PARTS];
        for (int32_t p = 0; p < parts; p++) {
            const int64_t n = *part[p].hop[h].block->num_src.n * WIDTH;
            y[p] = malloc((size_t)(n + 1) * sizeof *y[p]);
            for (int64_t i = 0; i < n; i++) y[p][i] = (test_uniform() - .5f) * (test_below(2) ? 1e6f : 1);
        }
        for (int32_t q = 0; q < parts; q++) {
            const int64_t n = part[q].count[h + 1];
            float *sum = calloc((size_t)(n * WIDTH + 1), sizeof *sum), *back = calloc((size_t)(n * WIDTH + 1), sizeof *back);
            int64_t at[NODES], listed = 0;
            for (int v = 0; v < NODES; v++) at[v] = -1;
            for (int64_t i = 0; i < n; i++) at[part[q].list[h + 1][i]] = i;
            for (int32_t turn = 0; turn < 2 * parts; turn++) {
                const int32_t p = turn < parts ? turn : turn == parts ? q : turn - parts - (turn - parts <= q);
                const split_hop* hop = &part[p].hop[h];
                for (int64_t i = hop->from[q]; i < hop->from[q + 1]; i++) {
                    const int64_t row = at[hop->block->id[hop->receive[i]]];
                    if (!CHECK(row >= 0)) continue;
                    if (turn >= parts) CHECK(row <= listed);
                    if (turn >= parts && row == listed) listed++;
                    for (int64_t j = 0; turn < parts && j < WIDTH; j++) sum[row * WIDTH + j] += y[p][hop->receive[i] * WIDTH + j];
                }
            }
            CHECK_EQ(listed, n);
            split_rows_back(back, part, q, h, (const float* const*)y, WIDTH);
            CHECK(!memcmp(back, sum, (size_t)(n * WIDTH) * sizeof *sum));
            free(sum);
            free(back);
        }
        for (int32_t p = 0; p < parts; p++) free(y[p]);
    }
}
TEST(lists_and_sums_are_in_the_order_of_parts) { each_case(check_orders); }

/* Means of means over all hops, by parts and in one piece: the same bits. */
static void check_means(run* f)
{
    const ggnn_batch* whole = &f->whole;
    const int32_t hops = f->how.num_hops, parts = f->by->parts;
    const int64_t n = whole->max_ids * WIDTH + 1;
    float *a = calloc((size_t)n, sizeof *a), *b = calloc((size_t)n, sizeof *b);
    float** rows = rows_new(f->cooperative, hops, small);
    for (int64_t i = 0; i < *whole->hop[hops - 1].num_src.n * WIDTH; i++) a[i] = small(whole->id[i / WIDTH], i % WIDTH);
    for (int32_t h = hops - 1; h >= 0; h--) {
        float** next = rows_new(f->cooperative, h, NULL);
        ggnn_spmm(b, WIDTH, NULL, GGNN_MEAN, &whole->hop[h], NULL, NULL, 1, a, WIDTH, WIDTH);
        memcpy(a, b, (size_t)n * sizeof *a);
        for (int32_t p = 0; p < parts; p++) {
            float* in = calloc((size_t)n, sizeof *in);
            split_rows(in, f->cooperative, p, h, (const float* const*)rows, WIDTH);
            ggnn_spmm(next[p], WIDTH, NULL, GGNN_MEAN, f->cooperative[p].hop[h].block, NULL, NULL, 1, in, WIDTH, WIDTH);
            free(in);
        }
        rows_free(rows);
        rows = next;
    }
    for (int32_t p = 0; p < parts; p++)
        for (int64_t i = 0; i < f->cooperative[p].count[0]; i++) {
            int64_t k = 0;
            while (whole->id[k] != f->cooperative[p].list[0][i]) k++;
            CHECK(same(rows[p], a, i * WIDTH, k * WIDTH, WIDTH, sizeof *a));
        }
    rows_free(rows);
    free(a);
    free(b);
}
TEST(means_over_parts_have_the_bits_of_the_whole_batch) { each_case(check_means); }

/* ---- by hand -------------------------------------------------------------------------------------------------------- */

/* Node 0's sources are 0 .. 7, of parts 1, 2, 3, 4, 1, 2, 3, 4 in the paper's numbers, 0 .. 3 in ours. */
TEST(sources_by_owner_are_the_gather_index_of_gsplit)
{
    static const int64_t indptr[9] = {0, 7, 7, 7, 7, 7, 7, 7, 7};
    static const ggnn_node indices[7] = {1, 2, 3, 4, 5, 6, 7}, seeds[1] = {0};
    static const int32_t gather[8] = {0, 4, 1, 5, 2, 6, 3, 7}, all = -1;
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 8, 7);
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, &all, 1);
    ggnn_layout at;
    split_part part[4];
    CHECK_EQ(ggnn_layout_owners(&at, NULL, NULL, GGNN_OWNER_MODULO, NULL, 8, 4, NULL), GGNN_OK);
    for (int32_t p = 0; p < 4; p++) CHECK(split_part_open(&part[p], &g, &how, &at, p, 1, "a graph", &why));
    CHECK(split_cooperative(part, &g, &rng, seeds, 1, &why));
    for (int32_t i = 0; i < 8; i++) CHECK_EQ(part[0].hop[0].receive[i], gather[i]);
    for (int32_t q = 0; q < 4; q++) {
        CHECK_EQ(part[q].count[0], q == 0);
        CHECK_EQ(part[q].count[1], 2);
        CHECK(part[q].list[1][0] == q && part[q].list[1][1] == q + 4);
        CHECK_EQ(part[0].hop[0].from[q], 2 * q);
        CHECK_EQ(part[q].hop[0].to[1], 2);
        CHECK_EQ(part[q].hop[0].to[4], 2); /* the others ask for nothing */
    }
    for (int32_t p = 0; p < 4; p++) split_part_close(&part[p]);
}

TEST(what_cannot_be_split_is_refused)
{
    static const int32_t two[2] = {2, 2};
    test_seed(43);
    random_graph* g = random_graph_new(NODES, 4, 20);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, two, 2);
    ggnn_layout at;
    split_part s;
    CHECK_EQ(ggnn_layout_owners(&at, NULL, NULL, GGNN_OWNER_MODULO, NULL, NODES, 4, NULL), GGNN_OK);
    static const char* const refusals[] = {
        "that file: part 3 of 65: there may be 64", "that file: part 3 of 0: there may be 64", "that file: part 4 of 4: there may be 64",
        "that file: part -1 of 4: there may be 64", "that file: 399 of 400 nodes have an owner", "that file: 400 of 400 nodes have an owner",
        "that file: a last hop of global ids has no sources to split", "that file: --fanout, --batch: "};
    for (int32_t i = 0; i < 9; i++) {
        error told = {""};
        ggnn_layout of = at;
        ggnn_sampling by = how;
        if (i < 2) of.parts = i ? 0 : GGNN_PARTS_MAX + 1;
        if (i == 4) of.stored = NODES - 1;
        if (i == 5) of.cached = 1;
        if (i == 6) by.last_hop_global = 1;
        if (i == 7) by.num_hops = 0;
        CHECK_EQ(split_part_open(&s, &g->graph, &by, &of, i == 2 ? 4 : i == 3 ? -1 : 3, 8, "that file", &told), i == 8);
        if (i < 8 && !CHECK(strncmp(told.text, refusals[i], strlen(refusals[i])) == 0)) printf("  %s\n", told.text);
        split_part_close(&s);
    }
    error told = {""};
    how.num_hops = how.last_hop_global = 1; /* no other hop */
    CHECK(!split_part_open(&s, &g->graph, &how, &at, 3, 8, "that file", &told));
    CHECK_STR(told.text, refusals[6]);
    split_part_close(&s);
    random_graph_free(g);
}

/* Seven seeds of a graph of three nodes: more than there are ids, and no edge. */
TEST(seeds_may_be_more_than_there_are_nodes)
{
    static const int64_t indptr[4] = {0, 0, 0, 0};
    static const ggnn_node none[1] = {0}, seeds[7] = {2, 0, 0, 2, 2, 0, 2};
    static const int32_t one = 1;
    const ggnn_graph g = ggnn_graph_plain(indptr, none, NULL, 3, 0);
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, &one, 1);
    ggnn_layout at;
    split_part part;
    CHECK_EQ(ggnn_layout_owners(&at, NULL, NULL, GGNN_OWNER_MODULO, NULL, 3, 1, NULL), GGNN_OK);
    CHECK(split_part_open(&part, &g, &how, &at, 0, 7, "a graph", &why) && split_cooperative(&part, &g, &rng, seeds, 7, &why));
    CHECK(part.count[0] == 2 && part.list[0][0] == 2 && part.list[0][1] == 0 && part.count[1] == 2 && part.list[1][0] == 2 && part.list[1][1] == 0);
    split_part_close(&part);
}

/* What a part is handed that cannot be so: a seed that is no node, a batch that was planned otherwise, more sources than there may be. */
TEST(what_does_not_fit_a_part_is_refused_by_name)
{
    static const int32_t two[3] = {2, 2, 2};
    static const ggnn_node seeds[4][2] = {{3, NODES}, {-1, 3}, {0, NODES - 1}, {4, 7}};
    test_seed(43);
    random_graph *g = random_graph_new(NODES, 4, 20), *other = random_graph_new(NODES - 1, 4, 20);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, two, 2);
    ggnn_layout at;
    split_part s, all[4];
    CHECK_EQ(ggnn_layout_owners(&at, NULL, NULL, GGNN_OWNER_MODULO, NULL, NODES, 4, NULL), GGNN_OK);
    CHECK(split_part_open(&s, &g->graph, &how, &at, 3, 2, "that file", &why));
    for (int p = 0; p < 4; p++) CHECK(split_part_open(&all[p], &g->graph, &how, &at, p, 2, "that file", &why));
    for (int i = 0; i < 4; i++) {
        error told = {""};
        CHECK_EQ(split_begin(&s, seeds[i], 2, &told), i > 1);
        if (i < 2) CHECK(strstr(told.text, i ? "that file: node -1: " : "that file: node 400: ") == told.text);
        if (i > 1) CHECK_EQ(s.count[0], 1);
    }
    for (int i = 0; i < 3; i++) { /* three hops, another graph, and as it was planned */
        error told = {""};
        ggnn_batch b;
        how.num_hops = i == 0 ? 3 : 2;
        const ggnn_graph* of = i == 1 ? &other->graph : &g->graph;
        CHECK_EQ(ggnn_batch_plan(&b, of, &how, 2, NULL), GGNN_OK);
        void* memory = malloc(b.bytes);
        ggnn_batch_init(&b, memory);
        CHECK_EQ(ggnn_sample(&b, of, &rng, seeds[3], 2), GGNN_OK);
        CHECK_EQ(split_single(all, &b, &told), i == 2);
        CHECK_STR(told.text, i == 0 ? "that file: a batch of 3 hops over 400 nodes: it was not planned so"
                           : i == 1 ? "that file: a batch of 2 hops over 399 nodes: it was not planned so" : "");
        free(memory);
    }
    ggnn_node more[100] = {3, 7, 11};
    const ggnn_block* first = s.hop[0].block;
    CHECK(split_begin(&s, seeds[0], 1, &why) && s.count[0] == 1 && first->num_src.max < 99);
    for (int over = 0; over < 2; over++) { /* sources that another device has sampled */
        error told = {""};
        char words[100];
        for (int i = 1; i < 100; i++) more[i] = (ggnn_node)(3 + i);
        CHECK_EQ(split_sampled(&s, 0, more, first->num_src.max + over, 5, &told), !over);
        snprintf(words, sizeof words, "that file: hop 0: %d sources", (int)first->num_src.max + 1);
        CHECK_STR(told.text, over ? words : "");
        CHECK(*first->num_dst.n == 1 && *first->num_src.n == first->num_src.max && *first->num_edges.n == 5);
        for (int64_t i = 0; i < first->num_src.max; i++) CHECK(first->id[i] == 3 + i && s.ask[i] == first->id[s.hop[0].receive[i]]);
    }
    ggnn_node asked[4 * 40];
    for (int i = 0; i < 160; i++) asked[i] = 3;
    const ggnn_node* ids[4] = {asked, asked + 40, asked + 80, asked + 120};
    const ggnn_block* hop = s.hop[0].block;
    const int64_t most = hop->num_dst.max + hop->num_edges.max;
    for (int over = 0; over < 2; over++) {
        error told = {""};
        char words[100];
        const int64_t n[4] = {0, most, over, 0};
        if (!CHECK(most < 40)) break;
        CHECK_EQ(split_merge(&s, 0, ids, n, &told), !over);
        snprintf(words, sizeof words, "that file: hop 0: part 3 is asked for %d rows", (int)most + 1);
        CHECK_STR(told.text, over ? words : "");
    }
    split_part_close(&s);
    for (int p = 0; p < 4; p++) split_part_close(&all[p]);
    random_graph_free(other);
    random_graph_free(g);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    RUN(sources_by_owner_are_the_gather_index_of_gsplit);
    RUN(every_hop_s_node_is_one_part_s_with_the_edges_that_it_has_alone);
    RUN(one_part_has_the_mini_batch_itself);
    RUN(rows_after_the_exchange_are_each_part_s_sources);
    RUN(gradients_come_back_by_the_adjoint);
    RUN(lists_and_sums_are_in_the_order_of_parts);
    RUN(seeds_may_be_more_than_there_are_nodes);
    RUN(means_over_parts_have_the_bits_of_the_whole_batch);
    RUN(what_cannot_be_split_is_refused);
    RUN(what_does_not_fit_a_part_is_refused_by_name);
    return test_finish();
}
