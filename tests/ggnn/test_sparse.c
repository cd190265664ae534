/* Aggregation, SDDMM and edge softmax: to the bit what ggnn_reference.h says, in every form (forms.h); near double
   precision, so that the reference is not wrong as well; and adjoints of each other. */
#include "tests/far_rows.h"
#include "tests/forms.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"
#include <pthread.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

static const int32_t widths[] = {1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 96, 100, 128, 129, 200, 255, 256, 260, 300};
enum { NUM_WIDTHS = sizeof widths / sizeof *widths };

static const double half_ulp = 1.0 / 16777216; /* 2^-24: a rounding errs by this share at most */

/* A matrix with padding, which must stay as it is. */
typedef struct {
    float*  v;
    int64_t rows, ld;
    int32_t width;
} matrix;

static matrix matrix_new(int64_t rows, int32_t width, int64_t padding)
{
    matrix m = {test_floats(rows * (width + padding)), rows, width + padding, width};
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = width; j < m.ld; j++) m.v[i * m.ld + j] = 1234;
    return m;
}

static int padding_kept(matrix m)
{
    int kept = 1;
    for (int64_t i = 0; i < m.rows; i++)
        for (int64_t j = m.width; j < m.ld; j++) kept &= m.v[i * m.ld + j] == 1234;
    return kept;
}

static int same_bits(const void* a, const void* b, int64_t floats) { return memcmp(a, b, (size_t)floats * 4) == 0; }

/* ---- sums ----------------------------------------------------------------------------------------------------------- */

typedef struct { /* one aggregation and its inputs */
    random_block* r;
    ggnn_reduce   how;
    int           use_scale;
    ggnn_scale    scale;
    float *       src, *dst, *self, *weight; /* weight NULL: none */
    int32_t       heads, width;
    matrix        inp;
} sums;

static sums sums_new(random_block* r, ggnn_reduce how, int32_t width, int32_t heads, int weighted, int scaled)
{
    sums s;
    memset(&s, 0, sizeof s);
    s.r = r;
    s.how = how;
    s.width = width;
    s.heads = weighted ? heads : 1;
    s.inp = matrix_new(r->src, width, width % 3);
    s.src = test_floats(r->src);
    s.dst = test_floats(r->dst);
    s.self = test_floats(r->dst);
    if (weighted) s.weight = test_floats(r->edges * heads);
    s.use_scale = scaled != 0;
    if (scaled & 1) s.scale.src = s.src;
    if (scaled & 2) s.scale.dst = s.dst;
    if (scaled & 4) s.scale.self = s.self;
    return s;
}

static void sums_free(sums* s)
{
    free(s->inp.v);
    free(s->src);
    free(s->dst);
    free(s->self);
    free(s->weight);
}

static void sums_run(const sums* s, matrix out)
{
    ggnn_spmm(out.v, out.ld, NULL, s->how, &s->r->b, s->use_scale ? &s->scale : NULL, s->weight, s->heads, s->inp.v, s->inp.ld, s->width);
}

/* An aggregation's output, and its rows' padding, in every form. */
static void check_sums(const sums* s)
{
    matrix want = matrix_new(s->r->dst, s->width, 3), out = matrix_new(s->r->dst, s->width, 3);
    ggnn_ref_spmm(want.v, want.ld, NULL, s->how, &s->r->b, s->use_scale ? &s->scale : NULL, s->weight, s->heads, s->inp.v, s->inp.ld, s->width);
    FOR_EACH_FORM {
        form_poison(out.v, out.rows * out.ld);
        sums_run(s, out);
        CHECK_SAME(want.v, out.v, out.rows * out.ld, "spmm", s->width, s->heads);
    }
    free(want.v);
    free(out.v);
}

/* Its backward: the call on the transpose, whose weights are found by edge. */
static void check_sums_back(const sums* s)
{
    const ggnn_scale back = {s->scale.dst, s->scale.src, s->scale.self};
    matrix dout = matrix_new(s->r->dst, s->width, 2), want = matrix_new(s->r->src, s->width, 1), dinp = matrix_new(s->r->src, s->width, 1);
    ggnn_ref_spmm(want.v, want.ld, NULL, GGNN_SUM, &s->r->t, &back, s->weight, s->heads, dout.v, dout.ld, s->width);
    FOR_EACH_FORM {
        form_poison(dinp.v, dinp.rows * dinp.ld);
        ggnn_spmm(dinp.v, dinp.ld, NULL, GGNN_SUM, &s->r->t, &back, s->weight, s->heads, dout.v, dout.ld, s->width);
        CHECK_SAME(want.v, dinp.v, dinp.rows * dinp.ld, "spmm on the transpose", s->width, s->heads);
    }
    free(dout.v);
    free(want.v);
    free(dinp.v);
}

TEST(spmm_sums_in_edge_order_and_segments)
{
    random_block* r = random_block_mixed(20, 40);
    for (int w = 0; w < NUM_WIDTHS; w++) {
        sums s = sums_new(r, w % 2 ? GGNN_SUM : GGNN_MEAN, widths[w], 1, 0, 0);
        for (int64_t i = 0; i < r->src * s.inp.ld; i += 17) s.inp.v[i] = i % 2 ? 0 : -1e-40f;
        check_sums(&s);
        sums_free(&s);
    }
    random_block_free(r);
}

TEST(spmm_weights_edges_per_head)
{
    static const int32_t heads[] = {1, 2, 3, 4, 8, 17, 20}, per_head[] = {1, 3, 4, 8, 9, 16, 32};
    random_block*        blocks[] = {random_block_mixed(20, 40), random_block_mixed(20, 6)}; /* sources of over 256 edges */
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++) {
            random_block* r = blocks[j % 2];
            sums          s = sums_new(r, j % 2 ? GGNN_SUM : GGNN_MEAN, heads[i] * per_head[j], heads[i], 1, 0);
            check_sums(&s);
            check_sums_back(&s);
            sums_free(&s);
        }
    random_block_free(blocks[0]);
    random_block_free(blocks[1]);
}

TEST(spmm_scales_sources_targets_and_self)
{
    random_block* r = random_block_mixed(20, 40);
    for (int scaled = 1; scaled < 8; scaled++)
        for (int weighted = 0; weighted < 2; weighted++)
            for (int w = 4; w < NUM_WIDTHS; w += 7) {
                int32_t heads = widths[w] % 2 == 0 && weighted ? 2 : 1;
                sums    s = sums_new(r, w % 2 ? GGNN_SUM : GGNN_MEAN, widths[w], heads, weighted, scaled);
                check_sums(&s);
                if (w == 11) check_sums_back(&s);
                sums_free(&s);
            }
    random_block_free(r);
}

/* Below -1, above 1, 1 itself, 0 and what is no number: of targets alone, and with the others. */
TEST(spmm_scales_by_any_number)
{
    static const float factors[] = {1, 2.5f, -3, 0, -1, 1e30f, 0.75f, INFINITY, 1.0000001f, NAN, -0.0f};
    random_block*      r = random_block_mixed(24, 40);
    for (int scaled = 1; scaled < 8; scaled++)
        for (int turn = 0; turn < 11; turn++) {
            sums s = sums_new(r, turn % 2 ? GGNN_SUM : GGNN_MEAN, 19, 1, turn % 3 == 0, scaled);
            for (int64_t v = 0; v < r->dst; v++) s.dst[v] = factors[(v + turn) % 11], s.self[v] = factors[(v + 2 * turn) % 11];
            for (int64_t u = 0; u < r->src; u++) s.src[u] *= 5;
            for (int64_t e = 0; s.weight && e < r->edges; e++) s.weight[e] *= 7;
            check_sums(&s);
            sums_free(&s);
        }
    random_block_free(r);
}

/* One element in double, and the sum of the terms' sizes, which bounds the error of any order. */
static double double_element(const sums* s, int64_t v, int32_t j, double* bound)
{
    const ggnn_block* b = &s->r->b;
    int64_t           n = b->indptr[v + 1] - b->indptr[v];
    double            total = 0, size = 0, factor = 1;
    for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
        double term = s->inp.v[b->indices[e] * s->inp.ld + j];
        if (s->weight) term *= s->weight[e * s->heads + j / (s->width / s->heads)];
        if (s->scale.src) term *= s->scale.src[b->indices[e]];
        total += term;
        size += fabs(term);
    }
    if (s->how == GGNN_MEAN && n) factor = 1.0 / (double)n;
    if (s->scale.dst) factor = s->scale.dst[v];
    total *= factor;
    size *= fabs(factor);
    if (s->scale.self) {
        double own = (double)s->scale.self[v] * s->inp.v[v * s->inp.ld + j];
        total += own;
        size += fabs(own);
    }
    *bound = (double)(n + 5) * half_ulp * size;
    return total;
}

/* 0 times infinity is NaN, and so is the sum. */
TEST(edges_of_weight_0_count)
{
    random_block* r = random_block_mixed(20, 40);
    for (int32_t width = 2; width <= 17; width += 15) {
        sums s = sums_new(r, GGNN_SUM, width, 1, 1, 0);
        for (int64_t e = 0; e < r->edges; e += 2) s.weight[e] = 0;
        for (int64_t u = 0; u < r->src; u += 3) s.inp.v[u * s.inp.ld + u % width] = INFINITY;
        check_sums(&s);
        check_sums_back(&s);
        sums_free(&s);
    }
    random_block_free(r);
}

TEST(spmm_is_near_double_precision)
{
    random_block* r = random_block_mixed(20, 40);
    for (int scaled = 0; scaled < 16; scaled++) {
        sums   s = sums_new(r, scaled & 1 ? GGNN_SUM : GGNN_MEAN, 24, 3, scaled & 8, scaled & 7);
        matrix out = matrix_new(r->dst, s.width, 3);
        int    close = 1;
        sums_run(&s, out);
        for (int64_t v = 0; v < r->dst; v++)
            for (int32_t j = 0; j < s.width; j++) {
                double bound, want = double_element(&s, v, j, &bound);
                close &= fabs(out.v[v * out.ld + j] - want) <= bound;
            }
        CHECK(close);
        free(out.v);
        sums_free(&s);
    }
    random_block_free(r);
}

TEST(sum_and_mean_are_spmm_of_packed_rows)
{
    random_block* r = random_block_mixed(20, 40);
    float *       x = test_floats(r->src * 7), *want = test_floats(r->dst * 7), *out = test_floats(r->dst * 7);
    for (int how = GGNN_SUM; how <= GGNN_MEAN; how++) {
        ggnn_ref_spmm(want, 7, NULL, (ggnn_reduce)how, &r->b, NULL, NULL, 1, x, 7, 7);
        form_poison(out, r->dst * 7);
        CHECK_EQ(how == GGNN_SUM ? ggnn_sum(out, &r->b, x, 7) : ggnn_mean(out, &r->b, x, 7), GGNN_OK);
        CHECK(same_floats(want, out, r->dst * 7));
    }
    CHECK_EQ(ggnn_sum(NULL, &r->b, x, 7), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_mean(out, NULL, x, 7), GGNN_ERROR_ARGUMENT);
    free(x);
    free(want);
    free(out);
    random_block_free(r);
}

/* Outputs of more than 8 MiB, padding included, are written past the caches, rows of up to 512 columns. */
TEST(large_outputs_are_the_same)
{
    static const int32_t sizes[] = {4, 100, 128, 512, 2052}; /* the last: more columns than are streamed */
    random_block*        r = random_block_mixed(20, 40);
    int64_t              far = ((8 << 20) / 4 / r->dst + 4) & ~(int64_t)3;
    for (int w = 0; w < 5; w++)
        for (int how = GGNN_SUM; how <= GGNN_MAX; how++) {
            int    greatest = how == GGNN_MAX;
            sums   s = sums_new(r, (ggnn_reduce)how, sizes[w], 4, 1, greatest ? 0 : 7);
            matrix near = matrix_new(r->dst, s.width, 3), out = matrix_new(r->dst, s.width, far - s.width);
            int    same = 1;
            sums_run(&s, near);
            sums_run(&s, out);
            for (int64_t v = 0; v < r->dst; v++) same &= same_bits(near.v + v * near.ld, out.v + v * out.ld, s.width);
            if (!CHECK(same) || !CHECK(padding_kept(out))) printf("  width %d how %d\n", s.width, how);
            free(near.v);
            free(out.v);
            sums_free(&s);
        }
    random_block_free(r);
}

// Short lists are summed many at a time: as many as have a segment's entries, no more than that where most are empty.
TEST(many_short_lists_are_means_of_their_own)
{
    enum { LISTS = 3000, SRC = 700 };
    static const int32_t columns[] = {1, 4, 33};
    int64_t              degree[LISTS];
    for (int v = 0; v < LISTS; v++) degree[v] = v % 3 == 0 ? v / 3 % 3 : 0;
    random_block* r = random_block_new(LISTS, SRC, degree);
    for (int w = 0; w < 3; w++)
        for (int streamed = 0; streamed < 2; streamed++) {
            const int64_t ld = streamed ? ((8 << 20) / 4 / LISTS + 4) & ~3 : columns[w];
            matrix        inp = matrix_new(SRC, columns[w], 0), out = matrix_new(LISTS, columns[w], ld - columns[w]);
            int           same = 1;
            for (int64_t i = 0; i < (int64_t)SRC * columns[w]; i++) inp.v[i] = (float)(i * 2654435761 % 1000) / 7.0f - 70.0f;
            CHECK(ggnn_spmm(out.v, out.ld, NULL, GGNN_MEAN, &r->b, NULL, NULL, 1, inp.v, inp.ld, columns[w]) == GGNN_OK);
            for (int64_t v = 0; v < LISTS; v++)
                for (int32_t j = 0; j < columns[w]; j++) {
                    float sum = 0;
                    for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) sum += inp.v[r->b.indices[e] * inp.ld + j];
                    if (degree[v]) sum *= 1.0f / (float)degree[v];
                    same &= same_bits(&sum, out.v + v * out.ld + j, 1);
                }
            if (!CHECK(same) || !CHECK(padding_kept(out))) printf("  width %d, streamed %d\n", columns[w], streamed);
            free(inp.v);
            free(out.v);
        }
    random_block_free(r);
}

TEST(spmm_of_no_rows_and_no_edges)
{
    int64_t       none = 0, degree[3] = {0, 0, 0};
    float         out[12], inp[12];
    random_block* r = random_block_new(3, 3, degree);
    for (int i = 0; i < 12; i++) out[i] = inp[i] = 7;
    ggnn_spmm(out, 4, NULL, GGNN_MEAN, &r->b, NULL, NULL, 1, inp, 4, 4);
    for (int i = 0; i < 12; i++) CHECK(out[i] == 0);
    int64_t* indptr = r->b.indptr;
    r->b.num_dst.n = &none;
    r->b.indptr = NULL; /* no rows: not even an end of the last */
    out[0] = 7;
    ggnn_spmm(out, 4, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp, 4, 4);
    ggnn_edge_softmax(out, &r->b, inp, 1);
    CHECK(out[0] == 7);
    r->b.indptr = indptr;
    random_block_free(r);
}

/* <Ax, y> = <x, A'y>: the transpose's call with src and dst swapped, and the scatter, are what backward must be. */
TEST(spmm_on_the_transpose_is_the_adjoint)
{
    random_block* r = random_block_mixed(25, 60);
    for (int round = 0; round < 24; round++) {
        int32_t heads = 1 + round % 3, width = heads * (1 + (int32_t)test_below(40));
        sums    s = sums_new(r, GGNN_SUM, width, heads, round % 2, round % 8);
        matrix  out = matrix_new(r->dst, width, 1), dout = matrix_new(r->dst, width, 2);
        matrix  dinp = matrix_new(r->src, width, 3), twin = matrix_new(r->src, width, 0);
        ggnn_scale back = {s.scale.dst, s.scale.src, s.scale.self};
        double     left = 0, right = 0, other = 0, size = 0;
        sums_run(&s, out);
        ggnn_spmm(dinp.v, dinp.ld, NULL, GGNN_SUM, &r->t, &back, s.weight, s.heads, dout.v, dout.ld, width);
        ggnn_ref_spmm_scatter(twin.v, twin.ld, &r->b, &s.scale, s.weight, s.heads, dout.v, dout.ld, width);
        for (int32_t j = 0; j < width; j++) {
            for (int64_t v = 0; v < r->dst; v++) left += (double)out.v[v * out.ld + j] * dout.v[v * dout.ld + j];
            for (int64_t u = 0; u < r->src; u++) {
                double x = s.inp.v[u * s.inp.ld + j];
                right += x * dinp.v[u * dinp.ld + j];
                other += x * twin.v[u * twin.ld + j];
            }
        }
        for (int64_t e = 0; e < r->edges; e++) size += width / 4.0; /* |terms| average at most 1/4 */
        CHECK_NEAR(left, right, 1e-6 * size);
        CHECK_NEAR(left, other, 1e-6 * size);
        CHECK(padding_kept(dinp));
        free(out.v);
        free(dout.v);
        free(dinp.v);
        free(twin.v);
        sums_free(&s);
    }
    random_block_free(r);
}

/* ---- max, min -------------------------------------------------------------------------------------------------------- */

static void check_extremes(const sums* s)
{
    int64_t  n = s->r->dst * s->width;
    matrix   want = matrix_new(s->r->dst, s->width, 2), out = matrix_new(s->r->dst, s->width, 2);
    int32_t *want_arg = (int32_t*)test_memory(n * 4), *arg = (int32_t*)test_memory(n * 4);
    ggnn_ref_spmm(want.v, want.ld, want_arg, s->how, &s->r->b, NULL, s->weight, s->heads, s->inp.v, s->inp.ld, s->width);
    FOR_EACH_FORM
        for (int with_arg = 0; with_arg < 2; with_arg++) {
            form_poison(out.v, out.rows * out.ld);
            memset(arg, 0x55, (size_t)n * 4);
            ggnn_spmm(out.v, out.ld, with_arg ? arg : NULL, s->how, &s->r->b, NULL, s->weight, s->heads, s->inp.v, s->inp.ld, s->width);
            CHECK_SAME(want.v, out.v, out.rows * out.ld, "max", s->width, s->heads);
            if (with_arg) CHECK(memcmp(want_arg, arg, (size_t)n * 4) == 0);
        }
    free(want.v);
    free(out.v);
    free(want_arg);
    free(arg);
}

TEST(max_takes_the_first_of_equals_and_nan_last)
{
    random_block* r = random_block_mixed(20, 40);
    for (int w = 0; w < 2 * NUM_WIDTHS; w++) {
        int32_t width = widths[w / 2], heads = width % 2 == 0 ? 2 : 1;
        sums    s = sums_new(r, w % 2 ? GGNN_MAX : GGNN_MIN, width, heads, w % 4 > 1, 0);
        for (int64_t i = 0; i < r->src; i++)
            for (int32_t j = 0; j < width; j++) {
                float* x = &s.inp.v[i * s.inp.ld + j];
                *x = (float)(int)(*x * 4) / 4; /* ties, zeros of both signs */
                if (j % 5 == 3 ? test_below(10) > 0 : test_below(10) == 0) *x = test_below(3) ? NAN : test_below(2) ? INFINITY : -INFINITY;
                if (j % 5 == 4) *x = NAN;
            }
        check_extremes(&s);
        sums_free(&s);
    }
    random_block_free(r);
}

/* A NaN gives way to any number, however many segments of a list are NaN before it; and the greatest so far to a greater one. */
TEST(max_of_long_lists_finds_the_first_number_in_any_segment)
{
    const int64_t degree = 530, first[] = {255, 256, 257, 512, 530};
    const int32_t columns[] = {5, 8, 17, 66};
    random_block* r = random_block_new(1, degree, &degree);
    for (int32_t e = 0; e < degree; e++) r->b.indices[e] = e;
    for (int i = 0; i < 5; i++)
        for (int w = 0; w < 8; w++) {
            sums s = sums_new(r, w % 2 ? GGNN_MAX : GGNN_MIN, columns[w / 2], 1, i % 2, 0);
            for (int64_t e = 0; e < degree; e++)
                for (int32_t j = 0; j < s.width; j++) {
                    float* x = &s.inp.v[e * s.inp.ld + j];
                    if (j % 4 < 2 && e < first[i]) *x = NAN; /* then numbers that fall, or rise */
                    else if (j % 4 < 3) *x = j % 4 ? (float)e : (float)-e;
                }
            check_extremes(&s);
            sums_free(&s);
        }
    random_block_free(r);
}

/* What the edges chosen send back, by the weights of their heads. */
static void check_extremes_back(const sums* s)
{
    const random_block* r = s->r;
    matrix              out = matrix_new(r->dst, s->width, 0), dout = matrix_new(r->dst, s->width, 2);
    matrix              want = matrix_new(r->src, s->width, 1), dinp = matrix_new(r->src, s->width, 1);
    int32_t*            arg = (int32_t*)test_memory(r->dst * s->width * 4);
    for (int64_t i = 0; i < dout.rows; i++) /* to the chosen alone, infinities too */
        if (s->width > 2 && i % 3 == 0) dout.v[i * dout.ld + i % s->width] = INFINITY;
    ggnn_ref_spmm(out.v, out.ld, arg, s->how, &r->b, NULL, s->weight, s->heads, s->inp.v, s->inp.ld, s->width);
    ggnn_ref_spmm_back_arg(want.v, want.ld, &r->t, &r->b, s->weight, s->heads, dout.v, dout.ld, arg, s->width);
    FOR_EACH_FORM {
        form_poison(dinp.v, dinp.rows * dinp.ld);
        CHECK_EQ(ggnn_spmm_back_arg(dinp.v, dinp.ld, &r->t, &r->b, s->weight, s->heads, dout.v, dout.ld, arg, s->width), GGNN_OK);
        CHECK_SAME(want.v, dinp.v, dinp.rows * dinp.ld, "the backward of max", s->width, s->heads);
    }
    free(out.v);
    free(dout.v);
    free(want.v);
    free(dinp.v);
    free(arg);
}

/* Heads are done 16 at a time. */
TEST(max_has_values_and_edges_of_any_number_of_heads)
{
    random_block* r = random_block_mixed(20, 40);
    for (int32_t heads = 15; heads <= 35; heads += 2) {
        sums s = sums_new(r, heads % 4 == 1 ? GGNN_MAX : GGNN_MIN, 3 * heads, heads, 1, 0);
        check_extremes(&s);
        check_extremes_back(&s);
        sums_free(&s);
    }
    for (int32_t width = 4; width <= 68; width *= 4, width += width == 16) { /* rows of a vector and more */
        sums s = sums_new(r, GGNN_MAX, width, 1, 0, 0);
        check_extremes_back(&s);
        sums_free(&s);
    }
    random_block_free(r);
}

/* To the bit, and in double. */
TEST(max_sends_gradients_to_the_chosen_edges)
{
    for (int w = 0; w <= NUM_WIDTHS; w++) { /* the last: a long list's sums have 512 columns at a time */
        random_block* r = random_block_mixed(20, w % 2 ? 2 : 12); /* of 2 sources each has over 512 edges */
        int32_t  width = w < NUM_WIDTHS ? widths[w] : 1100, heads = width % 3 == 0 ? 3 : 1;
        sums     s = sums_new(r, w % 2 ? GGNN_MAX : GGNN_MIN, width, heads, w % 4 > 1, 0);
        matrix   out = matrix_new(r->dst, width, 0), dout = matrix_new(r->dst, width, 1);
        matrix   want = matrix_new(r->src, width, 3), dinp = matrix_new(r->src, width, 3);
        int32_t* arg = (int32_t*)test_memory(r->dst * width * 4);
        double*  sum = (double*)test_memory(r->src * width * 8);
        int      close = 1;
        memset(sum, 0, (size_t)(r->src * width) * 8);
        ggnn_spmm(out.v, out.ld, arg, s.how, &r->b, NULL, s.weight, s.heads, s.inp.v, s.inp.ld, width);
        ggnn_ref_spmm_back_arg(want.v, want.ld, &r->t, &r->b, s.weight, s.heads, dout.v, dout.ld, arg, width);
        FOR_EACH_FORM {
            form_poison(dinp.v, dinp.rows * dinp.ld);
            ggnn_spmm_back_arg(dinp.v, dinp.ld, &r->t, &r->b, s.weight, s.heads, dout.v, dout.ld, arg, width);
            CHECK_SAME(want.v, dinp.v, dinp.rows * dinp.ld, "the backward of max", width, heads);
        }
        for (int64_t v = 0; v < r->dst; v++)
            for (int32_t j = 0; j < width; j++) {
                if (arg[v * width + j] < 0) continue; /* an empty list */
                int64_t e = r->b.indptr[v] + arg[v * width + j];
                double  weight = s.weight ? s.weight[e * s.heads + j / (width / s.heads)] : 1;
                sum[r->b.indices[e] * width + j] += weight * dout.v[v * dout.ld + j];
            }
        for (int64_t u = 0; u < r->src; u++)
            for (int32_t j = 0; j < width; j++) close &= fabs(dinp.v[u * dinp.ld + j] - sum[u * width + j]) <= 400 * 200 * half_ulp;
        CHECK(close);
        free(out.v);
        free(dout.v);
        free(want.v);
        free(dinp.v);
        free(arg);
        free(sum);
        sums_free(&s);
        random_block_free(r);
    }
}

/* Edge 0 is 0 <- 1 of weight 10, edge 1 is 1 <- 0 of weight 100. The transpose lists edge 1 first. */
TEST(max_over_a_transpose_sends_gradients_by_the_weights_of_original_edges)
{
    int64_t n = 2, indptr[] = {0, 1, 2};
    int32_t indices[] = {1, 0}, arg[2];
    float   weight[] = {10, 100}, x[] = {1, 1}, dout[] = {1, 1}, out[2], dinp[2];
    ggnn_block b, forward, back;
    int64_t    bytes = (int64_t)ggnn_block_transpose_bytes(2, 2, 2);
    void *     first = test_memory(bytes), *second = test_memory(bytes);
    memset(&b, 0, sizeof b);
    b.num_dst.n = b.num_src.n = b.num_edges.n = &n;
    b.num_dst.max = b.num_src.max = b.num_edges.max = n;
    b.indptr = indptr, b.indices = indices;
    ggnn_block_transpose_init(&forward, 2, 2, 2, first);
    ggnn_block_transpose_init(&back, 2, 2, 2, second);
    CHECK_EQ(ggnn_block_transpose(&forward, &b), GGNN_OK);
    CHECK_EQ(ggnn_block_transpose(&back, &forward), GGNN_OK);
    CHECK_EQ(ggnn_spmm(out, 1, arg, GGNN_MAX, &forward, NULL, weight, 1, x, 1, 1), GGNN_OK);
    CHECK(out[0] == 100 && out[1] == 10);
    FOR_EACH_FORM {
        form_poison(dinp, 2);
        CHECK_EQ(ggnn_spmm_back_arg(dinp, 1, &back, &forward, weight, 1, dout, 1, arg, 1), GGNN_OK);
        CHECK(dinp[0] == 10 && dinp[1] == 100);
    }
    free(first);
    free(second);
}

/* ---- from a store ------------------------------------------------------------------------------------------------------ */

typedef struct { /* rows by global id: half in a cache, parts and the host tier */
    ggnn_store  store;
    const void* base[4];
    void*       rows;
    int64_t     traffic[4];
} stored_rows;

static void stored_rows_init(stored_rows* s, int64_t n, int32_t width, ggnn_type type)
{
    memset(s, 0, sizeof *s);
    s->rows = test_memory(n * (width + 1) * 4);
    for (int64_t i = 0; i < n * (width + 1); i++) {
        if (type == GGNN_F32) ((float*)s->rows)[i] = test_uniform();
        else ((uint16_t*)s->rows)[i] = ggnn_float_to_half(test_uniform());
    }
    s->store.at.parts = 2; /* interleaved: row v is in part v % 2, the last quarter in the host tier */
    s->store.at.stored = n * 3 / 4;
    s->store.width = width;
    s->store.type = type;
    s->store.pitch = (width + 1) * ggnn_type_bytes(type);
    s->store.base = s->base;
    s->store.traffic = s->traffic;
    s->base[0] = s->rows;
    s->base[1] = (char*)s->rows + n * 3 / 8 * s->store.pitch;
    s->base[2] = s->rows; /* the host tier, by id */
    s->base[3] = s->rows;
}

/* Lists around 1,024 edges, which are divided from there on, side by side and at both ends; of 5 sources each has thousands of
   edges. At 500 columns a round has 16 segments, so 9,000 edges take three. */
TEST(hubs_are_added_up_in_segments_like_other_lists)
{
    static const int64_t degree[] = {1024, 3, 0, 1023, 9000, 1025, 17, 0, 2048, 5000};
    static const int32_t width[] = {1, 32, 100, 500};
    enum { LISTS = sizeof degree / sizeof *degree };
    random_block* r = random_block_new(LISTS, 12, degree);
    random_block* few = random_block_new(LISTS, 5, degree);
    for (int w = 0; w < 4; w++) {
        const int32_t heads = width[w] % 4 == 0 ? 4 : 1;
        stored_rows   rows;
        sums          s[] = {sums_new(r, GGNN_MEAN, width[w], 1, 0, 0), sums_new(r, GGNN_SUM, width[w], heads, 1, 7),
                             sums_new(few, GGNN_SUM, width[w], heads, 1, 5), sums_new(few, GGNN_MAX, width[w], heads, 1, 0)};
        matrix        out = matrix_new(r->dst, width[w], 1), got = matrix_new(r->dst, width[w], 1), sources = matrix_new(r->src, width[w], 0);
        for (int i = 0; i < 4; i++) check_sums(&s[i]);
        check_sums_back(&s[2]);
        int32_t* arg = (int32_t*)test_memory(few->dst * width[w] * 4);
        matrix   want = matrix_new(few->src, width[w], 0), dinp = matrix_new(few->src, width[w], 0);
        ggnn_spmm(out.v, out.ld, arg, GGNN_MAX, &few->b, NULL, s[3].weight, heads, s[3].inp.v, s[3].inp.ld, width[w]);
        ggnn_ref_spmm_back_arg(want.v, want.ld, &few->t, &few->b, s[3].weight, heads, out.v, out.ld, arg, width[w]);
        ggnn_spmm_back_arg(dinp.v, dinp.ld, &few->t, &few->b, s[3].weight, heads, out.v, out.ld, arg, width[w]);
        CHECK_SAME(want.v, dinp.v, dinp.rows * dinp.ld, "the backward of max", width[w], heads);
        stored_rows_init(&rows, r->num_nodes, width[w], GGNN_F16);
        ggnn_ref_gather(sources.v, sources.ld, GGNN_F32, &rows.store, r->id, r->src);
        ggnn_ref_spmm(out.v, out.ld, NULL, GGNN_MEAN, &r->b, NULL, s[1].weight, heads, sources.v, sources.ld, width[w]);
        ggnn_aggregate(got.v, got.ld, GGNN_MEAN, &r->b, NULL, s[1].weight, heads, &rows.store);
        CHECK_SAME(out.v, got.v, out.rows * out.ld, "aggregate", width[w], heads);
        free(rows.rows);
        for (int i = 0; i < 4; i++) sums_free(&s[i]);
        free(arg);
        free(want.v);
        free(dinp.v);
        free(out.v);
        free(got.v);
        free(sources.v);
    }
    random_block_free(r);
    random_block_free(few);
}

/* Of few values, so that equal ones are in many segments, of which the first must be named; of NaNs, also a whole segment of
   them and a whole list. Dots and sums of two numbers, whose lists are divided anywhere. */
TEST(hubs_keep_their_greatest_and_have_dots_of_all_edges)
{
    static const int64_t degree[] = {3, 4400, 0, 1024, 1, 4200, 1025, 0, 0, 70};
    static const int32_t width[] = {1, 80, 250}, heads_of[] = {1, 20, 1}; /* heads go sixteen at a time */
    enum { LISTS = sizeof degree / sizeof *degree };
    random_block* r = random_block_new(LISTS, 300, degree);
    for (int w = 0; w < 3; w++) {
        matrix   x = matrix_new(r->src, width[w], 2), y = matrix_new(r->dst, width[w], 1), want = matrix_new(r->dst, width[w], 1), out = matrix_new(r->dst, width[w], 1);
        int32_t  heads = heads_of[w];
        int64_t  n = r->dst * width[w], edges = r->edges * heads;
        int32_t *want_arg = (int32_t*)test_memory(n * 4), *arg = (int32_t*)test_memory(n * 4);
        float *  weight = test_floats(edges), *dots = test_floats(edges), *got = test_floats(edges);
        for (int64_t u = 0; u < r->src; u++)
            for (int32_t j = 0; j < width[w]; j++) {
                x.v[u * x.ld + j] = (float)(test_below(5) - 2);
                if (test_below(3) == 0 || (j == 0 && u % 7)) x.v[u * x.ld + j] = NAN;
            }
        for (int64_t i = 0; i < edges; i++) {
            const int64_t e = i / heads;
            weight[i] = 1.0f + .25f * (float)(e / 700 % 5); /* so that the greatest are in later segments */
            if (e >= 3 + 256 && e < 3 + 512) weight[i] = NAN;
            if (e >= r->b.indptr[3] && e < r->b.indptr[4]) weight[i] = NAN;
        }
        for (int how = GGNN_MAX; how <= GGNN_MIN; how++) {
            ggnn_ref_spmm(want.v, want.ld, want_arg, (ggnn_reduce)how, &r->b, NULL, weight, heads, x.v, x.ld, width[w]);
            FOR_EACH_FORM {
                form_poison(out.v, out.rows * out.ld);
                memset(arg, 0x55, (size_t)n * sizeof *arg);
                ggnn_spmm(out.v, out.ld, arg, (ggnn_reduce)how, &r->b, NULL, weight, heads, x.v, x.ld, width[w]);
                CHECK_SAME(want.v, out.v, out.rows * out.ld, "the greatest", width[w], heads);
                CHECK_EQ(memcmp(want_arg, arg, (size_t)n * sizeof *arg), 0);
                form_poison(out.v, out.rows * out.ld);
                ggnn_spmm(out.v, out.ld, NULL, (ggnn_reduce)how, &r->b, NULL, weight, heads, x.v, x.ld, width[w]);
                CHECK_SAME(want.v, out.v, out.rows * out.ld, "the greatest, not which", width[w], heads);
            }
        }
        for (int turned = 0; turned < 2; turned++) {
            const ggnn_block* b = turned ? &r->t : &r->b;
            const matrix*     from = turned ? &y : &x, *to = turned ? &x : &y;
            for (int how = GGNN_DOT; how <= (width[w] == 1 ? GGNN_ADD : GGNN_DOT); how++) {
                ggnn_ref_sddmm(dots, (ggnn_edge_op)how, b, from->v, from->ld, to->v, to->ld, heads, width[w]);
                FOR_EACH_FORM {
                    form_poison(got, edges);
                    ggnn_sddmm(got, (ggnn_edge_op)how, b, from->v, from->ld, to->v, to->ld, heads, width[w]);
                    CHECK_SAME(dots, got, edges, "sddmm", width[w], how);
                }
            }
        }
        free(x.v);
        free(y.v);
        free(want.v);
        free(out.v);
        free(want_arg);
        free(arg);
        free(weight);
        free(dots);
        free(got);
    }
    random_block_free(r);
}

/* ---- the stack -------------------------------------------------------------------------------------------------------- */

typedef struct {
    random_block* r;
    stored_rows   rows;
    float *       x, *out, *weight;
    int32_t*      arg;
    int           op, level;
    ggnn_gat_layer layer;
} stack_job;

enum { STACK = 1 << 19, STACK_WIDTH = 64 };

/* LARGER_FRAMES: a sanitizer's frames are larger than the program's own */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LARGER_FRAMES 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define LARGER_FRAMES 1
#endif
#endif
#ifndef LARGER_FRAMES
#define LARGER_FRAMES 0
#endif

static void* run_on_stack(void* context)
{
    const stack_job* s = (const stack_job*)context;
    const ggnn_block* b = &s->r->b;
#ifdef _OPENMP
    set_threads(s->op == 7 ? 2 : s->op == 5 || s->op == 9 ? 8 : 1); /* attention divides hubs among two and more, softmax among eight */
#endif
    ggnn_level = s->level;
    switch (s->op) {
    case 1: ggnn_spmm(s->out, STACK_WIDTH, NULL, GGNN_MEAN, b, NULL, s->weight, 16, s->x, STACK_WIDTH, STACK_WIDTH); break;
    case 2: ggnn_spmm(s->out, STACK_WIDTH, s->arg, GGNN_MAX, b, NULL, s->weight, 16, s->x, STACK_WIDTH, STACK_WIDTH); break;
    case 3: ggnn_spmm_edges(s->out, STACK_WIDTH, NULL, GGNN_SUM, GGNN_EDGE_TIMES, b, NULL, s->weight, 16, s->x, STACK_WIDTH, s->x, STACK_WIDTH, STACK_WIDTH); break;
    case 4: ggnn_sddmm(s->out, GGNN_DOT, b, s->x, STACK_WIDTH, s->x, STACK_WIDTH, 16, STACK_WIDTH); break;
    case 5: ggnn_edge_softmax(s->out, b, s->weight, 16); break;
    case 6: ggnn_aggregate(s->out, STACK_WIDTH, GGNN_SUM, b, NULL, s->weight, 16, &s->rows.store); break;
    case 7: ggnn_gat(&s->layer); break;
    case 8: ggnn_gat_back(s->out, STACK_WIDTH, &s->r->t, &s->layer, s->x, STACK_WIDTH); break;
    case 9: ggnn_edge_softmax_back(s->out, b, s->weight, s->weight, 16); break;
    default: break; /* none: what a thread needs itself */
    }
    return NULL;
}

/* Bytes of a stack that the job takes: those that are no longer as they were painted. */
static int64_t stack_taken(const stack_job* s)
{
    static unsigned char room[STACK + 4096];
    unsigned char*       stack = room + (4096 - (uintptr_t)room % 4096);
    pthread_attr_t       how;
    pthread_t            thread;
    int64_t              i = 0;
    memset(stack, 0xa5, STACK);
    pthread_attr_init(&how);
    CHECK_EQ(pthread_attr_setstack(&how, stack, STACK), 0);
    CHECK_EQ(pthread_create(&thread, &how, run_on_stack, (void*)(uintptr_t)s), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&how);
    while (i < STACK && stack[i] == 0xa5) i++;
    return STACK - i;
}

/* ggnn.h promises less than 100 KiB. */
TEST(no_op_takes_100_KiB_of_a_stack)
{
    static const int64_t degree[] = {3, 4400, 0, 1024, 700};
    stack_job            s;
    if (LARGER_FRAMES) SKIP("sanitizers make frames larger");
    memset(&s, 0, sizeof s);
    s.r = random_block_new(5, 5, degree); /* sources are hubs, too */
    s.x = test_floats(s.r->src * STACK_WIDTH + s.r->edges * STACK_WIDTH);
    s.out = test_floats(s.r->edges * STACK_WIDTH);
    s.weight = test_floats(s.r->edges * 16);
    s.arg = (int32_t*)test_memory(s.r->dst * STACK_WIDTH * 4);
    stored_rows_init(&s.rows, s.r->num_nodes, STACK_WIDTH, GGNN_F16);
    s.layer.block = &s.r->b, s.layer.heads = 16, s.layer.width = STACK_WIDTH, s.layer.how.slope = .2f;
    s.layer.z = s.x, s.layer.ld_z = STACK_WIDTH, s.layer.el = s.layer.er = s.weight, s.layer.lse = s.weight + s.r->edges * 8;
    s.layer.out = s.out, s.layer.ld_out = STACK_WIDTH;
    s.layer.del = test_floats(3 * 5 * 16), s.layer.der = s.layer.del + 5 * 16, s.layer.delta = s.layer.der + 5 * 16;
    s.layer.dlogit = test_floats((s.r->edges + 5) * 16);
    for (s.level = 0; s.level <= forms_best(); s.level++) {
        s.op = 0;
        const int64_t itself = stack_taken(&s);
        for (s.op = 1; s.op <= 9; s.op++) {
            const int64_t taken = stack_taken(&s) - itself;
            if (!CHECK(taken < 100 << 10 && ((s.op > 3 && s.op < 7) || s.op == 9 || taken > 15 << 10))) printf("  op %d, level %d: %" PRId64 " bytes\n", s.op, s.level, taken);
        }
    }
    free(s.layer.del);
    free(s.layer.dlogit);
    free(s.rows.rows);
    free(s.arg);
    free(s.weight);
    free(s.out);
    free(s.x);
    random_block_free(s.r);
}

TEST(aggregate_equals_gather_then_spmm) /* without weights, with one per edge, with one per edge and head */
{
    random_block* r = random_block_mixed(20, 40);
    for (int round = 0; round < 6 * NUM_WIDTHS; round++) {
        int32_t     width = widths[round / 2 % NUM_WIDTHS], heads = round < 4 * NUM_WIDTHS ? 1 : width % 4 ? width : width / 4;
        ggnn_reduce how = (ggnn_reduce)(round % 4);
        int         linear = how == GGNN_SUM || how == GGNN_MEAN;
        stored_rows s;
        int64_t     reads = 0, expected = r->edges;
        float*      src = test_floats(r->num_nodes);
        float*      local_src = test_floats(r->src);
        float*      dst = test_floats(r->dst);
        float*      self = test_floats(r->dst);
        float*      weight = round < 2 * NUM_WIDTHS ? NULL : test_floats(r->edges * heads);
        matrix      rows = matrix_new(r->src, width, 0), want = matrix_new(r->dst, width, 1), out = matrix_new(r->dst, width, 1);
        ggnn_scale  by_id = {src, dst, self}, by_local = {local_src, dst, self};
        ggnn_block  global = r->b; /* the hop as last_hop_global leaves it */
        if (round % 3 == 1) by_id.src = by_local.src = NULL;
        if (round % 3 == 2) by_id.self = by_local.self = by_id.dst = by_local.dst = NULL;
        stored_rows_init(&s, r->num_nodes, width, round & 1 ? GGNN_F16 : GGNN_F32);
        for (int64_t u = 0; u < r->src; u++) local_src[u] = src[r->id[u]];
        ggnn_ref_gather(rows.v, rows.ld, GGNN_F32, &s.store, r->id, r->src);
        ggnn_ref_spmm(want.v, want.ld, NULL, how, &r->b, linear ? &by_local : NULL, weight, heads, rows.v, rows.ld, width);
        if (linear && by_id.self) expected += r->dst;
        FOR_EACH_FORM {
            if (round % 3 != form % 3) continue;
            reads = 0;
            memset(s.traffic, 0, sizeof s.traffic);
            form_poison(out.v, out.rows * out.ld);
            ggnn_aggregate(out.v, out.ld, how, &r->b, linear ? &by_id : NULL, weight, heads, &s.store);
            CHECK_SAME(want.v, out.v, out.rows * out.ld, "aggregate", width, heads);
            for (int slot = 0; slot < 4; slot++) reads += s.traffic[slot];
            CHECK_EQ(reads, expected);
        }
        global.neighbor = (ggnn_node*)test_memory(r->edges * (int64_t)sizeof(ggnn_node));
        for (int64_t e = 0; e < r->edges; e++) global.neighbor[e] = r->id[r->b.indices[e]];
        global.indices = NULL;
        memset(out.v, 0, (size_t)(r->dst * width) * 4);
        ggnn_aggregate(out.v, out.ld, how, &global, linear ? &by_id : NULL, weight, heads, &s.store);
        for (int64_t v = 0; v < r->dst; v++) CHECK(same_bits(want.v + v * want.ld, out.v + v * out.ld, width));
        free(global.neighbor);
        free(src);
        free(local_src);
        free(dst);
        free(self);
        free(weight);
        free(rows.v);
        free(want.v);
        free(out.v);
        free(s.rows);
    }
    random_block_free(r);
}

/* Past 512 columns, the most of a partial sum, and past 256 edges, the most of a segment, each alone and together; of both types, from
   a matrix and from a store, by one head and by two. */
TEST(sums_of_wide_rows_are_the_same_in_pieces)
{
    static const int64_t degree[] = {256, 257, 0, 3, 513};
    static const int32_t columns[] = {512, 513, 1025};
    random_block*        r = random_block_new(5, 9, degree);
    for (int w = 0; w < 3; w++)
        for (int round = 0; round < 8; round++) {
            const int32_t     heads = 1 + round % 2, width = heads * columns[w];
            const ggnn_reduce how = round / 4 ? GGNN_SUM : GGNN_MEAN;
            stored_rows       s;
            float*            weight = test_floats(r->edges * heads);
            matrix            rows = matrix_new(r->src, width, 1), want = matrix_new(r->dst, width, 2), out = matrix_new(r->dst, width, 2);
            stored_rows_init(&s, r->num_nodes, width, round / 2 % 2 ? GGNN_F16 : GGNN_F32);
            ggnn_ref_gather(rows.v, rows.ld, GGNN_F32, &s.store, r->id, r->src);
            ggnn_ref_spmm(want.v, want.ld, NULL, how, &r->b, NULL, weight, heads, rows.v, rows.ld, width);
            for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++)
                for (int stored = 0; stored < 2; stored++) {
                    form_poison(out.v, out.rows * out.ld);
                    for (int64_t v = 0; v < r->dst; v++)
                        for (int64_t j = width; j < out.ld; j++) out.v[v * out.ld + j] = 1234;
                    if (stored) CHECK_EQ(ggnn_aggregate(out.v, out.ld, how, &r->b, NULL, weight, heads, &s.store), GGNN_OK);
                    else CHECK_EQ(ggnn_spmm(out.v, out.ld, NULL, how, &r->b, NULL, weight, heads, rows.v, rows.ld, width), GGNN_OK);
                    CHECK_SAME(want.v, out.v, out.rows * out.ld, stored ? "aggregate of wide rows" : "spmm of wide rows", width, heads);
                }
            ggnn_level = 3;
            free(weight);
            free(rows.v);
            free(want.v);
            free(out.v);
            free(s.rows);
        }
    random_block_free(r);
}

/* The whole graph: local ids are the global ones, and so are those of the factors and of attention's dropout. */
TEST(a_block_without_ids_is_read_by_local_id)
{
    random_block* r = random_block_mixed(20, 40);
    stored_rows   s;
    matrix        want = matrix_new(r->dst, 8, 1), out = matrix_new(r->dst, 8, 1);
    float *       src = test_floats(r->num_nodes), *self = test_floats(r->dst);
    ggnn_scale    scale = {src, NULL, self};
    ggnn_block    same = r->b, none = r->b;
    for (int64_t u = 0; u < r->src; u++) r->id[u] = (ggnn_node)u;
    none.id = NULL;
    stored_rows_init(&s, r->num_nodes, 8, GGNN_F32);
    ggnn_aggregate(want.v, want.ld, GGNN_SUM, &same, &scale, NULL, 1, &s.store);
    ggnn_aggregate(out.v, out.ld, GGNN_SUM, &none, &scale, NULL, 1, &s.store);
    CHECK(same_bits(want.v, out.v, r->dst * out.ld));
    ggnn_store plain = ggnn_store_plain(test_floats(r->src * 60), r->src, 60, GGNN_F32); /* heads of two passes, of one array */
    float *    weight = test_floats(r->edges * 20), *sum = test_floats(r->dst * 60), *rows = test_floats(r->dst * 60);
    ggnn_spmm(sum, 60, NULL, GGNN_SUM, &none, NULL, weight, 20, (const float*)plain.rows, 60, 60);
    CHECK_EQ(ggnn_aggregate(rows, 60, GGNN_SUM, &none, NULL, weight, 20, &plain), GGNN_OK);
    CHECK(same_bits(sum, rows, r->dst * 60));
    float* more[] = {weight, sum, rows, (float*)(uintptr_t)plain.rows};
    for (int i = 0; i < 4; i++) free(more[i]);
    free(src);
    free(self);
    free(want.v);
    free(out.v);
    free(s.rows);
    random_block_free(r);
}

/* Rows of a second kind: the block numbers its sources for itself, and neighbor has their ids, by which rows and factors are. */
TEST(aggregate_of_two_kinds_reads_by_the_ids_of_neighbors)
{
    random_block* r = random_block_mixed(40, 12); /* fewer sources than targets */
    stored_rows   s;
    ggnn_block    b = r->b;
    ggnn_node     id[12];
    matrix        rows = matrix_new(12, 10, 0), want = matrix_new(40, 10, 1), out = matrix_new(40, 10, 1);
    float *       src = test_floats(100), *local_src = test_floats(12), *dst = test_floats(40), *weight = test_floats(r->edges * 2);
    stored_rows_init(&s, 100, 10, GGNN_F16);
    b.bipartite = 1, b.id = NULL;
    b.neighbor = (ggnn_node*)test_memory(r->edges * (int64_t)sizeof *b.neighbor);
    for (int u = 0; u < 12; u++) id[u] = (ggnn_node)(97 - 8 * u), local_src[u] = src[id[u]];
    for (int64_t e = 0; e < r->edges; e++) b.neighbor[e] = id[b.indices[e]];
    ggnn_ref_gather(rows.v, rows.ld, GGNN_F32, &s.store, id, 12);
    for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
        for (int scaled = 0; scaled < 2 - how / 2; scaled++) {
            const ggnn_scale by_id = {scaled ? src : NULL, scaled ? dst : NULL, NULL}, by_local = {scaled ? local_src : NULL, scaled ? dst : NULL, NULL};
            ggnn_ref_spmm(want.v, want.ld, NULL, (ggnn_reduce)how, &b, &by_local, weight, 2, rows.v, rows.ld, 10);
            CHECK_EQ(ggnn_aggregate(out.v, out.ld, (ggnn_reduce)how, &b, &by_id, weight, 2, &s.store), GGNN_OK);
            for (int64_t v = 0; v < 40; v++) CHECK(same_floats(want.v + v * want.ld, out.v + v * out.ld, 10));
        }
    free(b.neighbor);
    float* all[] = {src, local_src, dst, weight, rows.v, want.v, out.v, (float*)s.rows};
    for (int i = 0; i < 8; i++) free(all[i]);
    random_block_free(r);
}

TEST(aggregate_takes_weights_of_a_transpose_by_original_edge)
{
    random_block* r = random_block_mixed(20, 40);
    stored_rows   s;
    float*        weight = test_floats(r->edges * 2);
    matrix        rows = matrix_new(r->dst, 10, 0), want = matrix_new(r->src, 10, 1), out = matrix_new(r->src, 10, 1);
    stored_rows_init(&s, r->num_nodes, 10, GGNN_F16);
    ggnn_gather(rows.v, rows.ld, GGNN_F32, &s.store, r->id, r->dst);
    ggnn_spmm(want.v, want.ld, NULL, GGNN_SUM, &r->t, NULL, weight, 2, rows.v, rows.ld, 10);
    ggnn_aggregate(out.v, out.ld, GGNN_SUM, &r->t, NULL, weight, 2, &s.store);
    CHECK(same_bits(want.v, out.v, r->src * out.ld));
    free(weight);
    free(rows.v);
    free(want.v);
    free(out.v);
    free(s.rows);
    random_block_free(r);
}

/* From the graph's weights through A-Res and the batch to the sum of the stored rows. */
/* One target, of sources 1 and 2. Its transpose has three targets, of which the first alone is a source as well: two edges
   and one own row are read. */
TEST(aggregate_of_a_transpose_counts_own_rows_of_sources_alone)
{
    int64_t   dst = 1, src = 3, edges = 2, indptr[] = {0, 2}, traffic[3] = {0};
    int32_t   indices[] = {1, 2};
    ggnn_node id[] = {0, 1, 2};
    float     x[] = {8, 2, 4}, self[] = {1, 1, 1}, out[3];
    ggnn_block b, t;
    ggnn_scale scale = {NULL, NULL, self};
    ggnn_store rows = ggnn_store_plain(x, 3, 1, GGNN_F32);
    void*      memory = test_memory((int64_t)ggnn_block_transpose_bytes(1, 3, 2));
    memset(&b, 0, sizeof b);
    b.num_dst.n = &dst, b.num_src.n = &src, b.num_edges.n = &edges;
    b.num_dst.max = dst, b.num_src.max = src, b.num_edges.max = edges;
    b.indptr = indptr, b.indices = indices, b.id = id;
    ggnn_block_transpose_init(&t, 1, 3, 2, memory);
    CHECK_EQ(ggnn_block_transpose(&t, &b), GGNN_OK);
    rows.traffic = traffic;
    CHECK_EQ(ggnn_aggregate(out, 1, GGNN_SUM, &t, &scale, NULL, 1, &rows), GGNN_OK);
    for (int v = 0; v < 3; v++) CHECK(out[v] == 8); /* its own row, and that of its edge: no target has both */
    CHECK_EQ(traffic[0], 3);
    free(memory);
}

TEST(weighted_samples_are_aggregated_by_the_weights_of_their_edges)
{
    random_graph*   g = random_graph_new(200, 8, 500);
    ggnn_sampling   how = {GGNN_WEIGHTED, 2, {6, 4}, 0, GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS, {0, 0, 0}, 0, {0}, {0}};
    const ggnn_rng  rng = {3, 1, GGNN_PURPOSE_SAMPLE};
    const ggnn_node seeds[] = {0, 1, 7, 150, 2};
    ggnn_batch      batch;
    stored_rows     s;
    stored_rows_init(&s, 200, 3, GGNN_F32);
    CHECK_EQ(ggnn_batch_plan(&batch, &g->graph, &how, 5, NULL), GGNN_OK);
    CHECK_EQ(ggnn_batch_init(&batch, test_memory((int64_t)batch.bytes)), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, &g->graph, &rng, seeds, 5), GGNN_OK);
    for (int h = 0; h < 2; h++) {
        const ggnn_block* hop = &batch.hop[h];
        matrix            out = matrix_new(*hop->num_dst.n, 3, 0);
        int               same = *hop->num_edges.n > 5;
        ggnn_aggregate(out.v, out.ld, GGNN_SUM, hop, NULL, hop->weight, 1, &s.store);
        for (int64_t v = 0; v < *hop->num_dst.n; v++)
            for (int32_t j = 0; j < 3; j++) {
                float sum = 0;
                for (int64_t e = hop->indptr[v]; e < hop->indptr[v + 1]; e++) {
                    const float* row = (const float*)ggnn_row(&s.store, batch.id[hop->indices[e]]);
                    volatile float term = g->weight[hop->position[e]] * row[j]; /* rounded before it is added */
                    sum += term;
                }
                same &= out.v[v * out.ld + j] == sum;
            }
        CHECK(same);
        free(out.v);
    }
    free(batch.workspace);
    free(s.rows);
    random_graph_free(g);
}

/* Full fanout is Kipf & Welling: D^-1/2 (A + I) D^-1/2 x. Half the list sampled counts its neighbours twice. */
TEST(gcn_scaling_is_exact_at_full_fanout_and_unbiased_below)
{
    const int64_t   indptr[] = {0, 4, 6, 6, 7};
    const ggnn_node indices[] = {1, 2, 3, 1, 0, 3, 0};
    const double    degree[] = {5, 3, 1, 2}; /* with the self-loop */
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, 4, 7);
    int64_t         lengths[] = {4, 2, 0, 1}, sampled[] = {2, 2, 0, 1}, traffic[3] = {0, 0, 0};
    float           inv_sqrt[4], src[4], dst[4], self[4], x[4] = {1, 2, 4, 8}, out[4];
    ggnn_scale      scale = {src, dst, self};
    random_block*   r = random_block_new(4, 4, lengths);
    random_block*   half = random_block_new(4, 4, sampled);
    g.traffic = traffic;
    for (int e = 0; e < 7; e++) r->b.indices[e] = (int32_t)indices[e];
    r->b.id = half->b.id = NULL; /* local ids are the global ones */
    ggnn_gcn_norm(inv_sqrt, &g);
    ggnn_scale_gcn(src, dst, self, &r->b, inv_sqrt, &g);
    ggnn_spmm(out, 1, NULL, GGNN_SUM, &r->b, &scale, NULL, 1, x, 1, 1);
    for (int v = 0; v < 4; v++) {
        double want = x[v] / degree[v];
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) want += x[indices[e]] / sqrt(degree[v] * degree[indices[e]]);
        CHECK_NEAR(out[v], want, 1e-5);
        CHECK_NEAR(inv_sqrt[v], 1 / sqrt(degree[v]), 1e-7);
    }
    ggnn_scale_gcn(NULL, dst, self, &half->b, inv_sqrt, &g);
    CHECK_NEAR(dst[0], 2 / sqrt(5), 1e-6);
    CHECK_NEAR(dst[1], 1 / sqrt(3), 1e-6);
    CHECK(dst[2] == 0 && self[2] == 1);
    CHECK_EQ(traffic[0], 0); /* degrees are not lists read */
    ggnn_scale_mean(dst, &r->b, 0);
    CHECK(dst[0] == 0.25f && dst[2] == 0);
    ggnn_scale_mean(dst, &r->b, 1);
    CHECK(dst[0] == 0.2f && dst[2] == 1);
    ggnn_scale_mean(dst, &r->b, -7); /* any number but 0 means the target itself */
    CHECK(dst[0] == 0.2f && dst[2] == 1);
    random_block_free(r);
    random_block_free(half);
}

/* Of blocks and their transposes, whose weights are found by edge; empty lists and lists of weight 0 are 0. */
TEST(weighted_means_divide_by_the_weights_sum)
{
    random_block* r = random_block_mixed(20, 40);
    float*        weight = test_floats(r->edges);
    float*        inv = test_floats(r->src);
    for (int64_t e = 0; e < r->edges; e++) weight[e] = (float)(1 + test_below(7));
    for (int64_t e = r->b.indptr[3]; e < r->b.indptr[4]; e++) weight[e] = 0;
    for (int64_t e = r->b.indptr[4]; e < r->b.indptr[5]; e++) weight[e] = -weight[e]; /* a sum below 0 is not 0 */
    const ggnn_block* const blocks[] = {&r->b, &r->t};
    for (int i = 0; i < 2; i++) {
        const ggnn_block* b = blocks[i];
        ggnn_scale_weights(inv, b, weight);
        for (int64_t v = 0; v < *b->num_dst.n; v++) {
            float sum = 0; /* of small integers: exact in any order */
            for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) sum += weight[b->edge ? b->edge[e] : e];
            CHECK(inv[v] == (sum != 0 ? 1 / sum : 0));
        }
    }
    matrix x = matrix_new(r->src, 5, 1), out = matrix_new(r->dst, 5, 2);
    ggnn_scale scale = {NULL, inv, NULL};
    ggnn_scale_weights(inv, &r->b, weight);
    ggnn_spmm(out.v, out.ld, NULL, GGNN_MEAN, &r->b, &scale, weight, 1, x.v, x.ld, 5);
    for (int64_t v = 0; v < r->dst; v++) {
        double mean = 0, sum = 0;
        for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) {
            sum += (double)weight[e];
            mean += (double)weight[e] * (double)x.v[r->b.indices[e] * x.ld + 2];
        }
        CHECK_NEAR(out.v[v * out.ld + 2], sum != 0 ? mean / sum : 0, 1e-5);
    }
    free(x.v);
    free(out.v);
    free(weight);
    free(inv);
    random_block_free(r);
}

/* ---- edges ----------------------------------------------------------------------------------------------------------- */

/* ADD and edge_sum as well, on the block and on its transpose, whose results go to the same edges. edge_sum is the SUM of
   rows of ones, weighted by the values. */
TEST(sddmm_and_edge_sum_follow_the_order_of_their_sums)
{
    random_block*     r = random_block_mixed(20, 40);
    const ggnn_block* blocks[] = {&r->b, &r->t};
    for (int w = 0; w < NUM_WIDTHS; w++)
        for (int turned = 0; turned < 2; turned++) {
            const ggnn_block* b = blocks[turned];
            int32_t           heads = 1 + w % 3, width = widths[w];
            int64_t           n = r->edges * heads;
            matrix            x = matrix_new(*b->num_src.n, heads * width, 1), y = matrix_new(*b->num_dst.n, heads * width, 2);
            float *           want = test_floats(n), *out = test_floats(n), *sum = test_floats(n + 64), *want_sum = test_floats(n + 64), *ones = test_floats(n + 64);
            for (int how = GGNN_DOT; how <= GGNN_ADD; how++) {
                int32_t columns = how == GGNN_DOT ? heads * width : heads;
                ggnn_ref_sddmm(want, (ggnn_edge_op)how, b, x.v, x.ld, y.v, y.ld, heads, columns);
                FOR_EACH_FORM {
                    form_poison(out, n);
                    ggnn_sddmm(out, (ggnn_edge_op)how, b, x.v, x.ld, y.v, y.ld, heads, columns);
                    CHECK_SAME(want, out, n, "sddmm", columns, heads);
                }
            }
            for (int64_t i = 0; i < n + 64; i++) ones[i] = 1;
            ggnn_ref_spmm(want_sum, heads, NULL, GGNN_SUM, b, NULL, want, heads, ones, heads, heads);
            FOR_EACH_FORM {
                ggnn_edge_sum(sum, b, want, heads);
                CHECK_SAME(want_sum, sum, *b->num_dst.n * heads, "edge_sum", heads, heads);
            }
            free(x.v);
            free(y.v);
            free(want);
            free(out);
            free(sum);
            free(want_sum);
            free(ones);
        }
    random_block_free(r);
}

/* A dot in double: 40 products of numbers below 1, summed in any order. */
TEST(sddmm_is_near_double_precision)
{
    random_block* r = random_block_mixed(20, 40);
    matrix        x = matrix_new(r->src, 80, 1), y = matrix_new(r->dst, 80, 2);
    float*        out = test_floats(r->edges * 2);
    ggnn_sddmm(out, GGNN_DOT, &r->b, x.v, x.ld, y.v, y.ld, 2, 80);
    for (int64_t v = 0; v < r->dst; v++)
        for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++)
            for (int32_t k = 0; k < 2; k++) {
                double dot = 0;
                for (int32_t j = 0; j < 40; j++) dot += (double)x.v[r->b.indices[e] * x.ld + k * 40 + j] * y.v[v * y.ld + k * 40 + j];
                CHECK_NEAR(out[e * 2 + k], dot, 41 * 40 * half_ulp);
            }
    free(x.v);
    free(y.v);
    free(out);
    random_block_free(r);
}

TEST(sddmm_add_and_edge_sum_are_adjoint)
{
    random_block* r = random_block_mixed(20, 40);
    for (int32_t heads = 1; heads < 20; heads += 3) {
        float* el = test_floats(r->src * heads);
        float* er = test_floats(r->dst * heads);
        float* out = test_floats(r->edges * heads);
        float* dout = test_floats(r->edges * heads);
        float* del = test_floats(r->src * heads);
        float* der = test_floats(r->dst * heads);
        double left = 0, right = 0;
        ggnn_sddmm(out, GGNN_ADD, &r->b, el, heads, er, heads, heads, heads);
        ggnn_edge_sum(del, &r->t, dout, heads);
        ggnn_edge_sum(der, &r->b, dout, heads);
        for (int64_t v = 0; v < r->dst; v++)
            for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++)
                for (int32_t k = 0; k < heads; k++) {
                    left += (double)out[e * heads + k] * dout[e * heads + k];
                }
        for (int64_t i = 0; i < r->src * heads; i++) right += (double)el[i] * del[i];
        for (int64_t i = 0; i < r->dst * heads; i++) right += (double)er[i] * der[i];
        CHECK_NEAR(left, right, 1e-6 * (double)(r->edges * heads));
        free(el);
        free(er);
        free(out);
        free(dout);
        free(del);
        free(der);
    }
    random_block_free(r);
}

/* The weights' gradient of a sum is an SDDMM: out is linear in each weight, so a difference is the derivative. */
TEST(sddmm_is_the_gradient_of_edge_weights)
{
    random_block* r = random_block_mixed(14, 30);
    sums          s = sums_new(r, GGNN_SUM, 24, 3, 1, 0);
    matrix        out = matrix_new(r->dst, 24, 0), moved = matrix_new(r->dst, 24, 0), dout = matrix_new(r->dst, 24, 0);
    float*        dweight = test_floats(r->edges * 3);
    sums_run(&s, out);
    ggnn_sddmm(dweight, GGNN_DOT, &r->b, s.inp.v, s.inp.ld, dout.v, dout.ld, 3, 24);
    for (int round = 0; round < 50; round++) {
        int64_t at = test_below(r->edges * 3);
        float   before = s.weight[at];
        double  change = 0;
        s.weight[at] = before + 1;
        sums_run(&s, moved);
        s.weight[at] = before;
        for (int64_t i = 0; i < r->dst * 24; i++) change += ((double)moved.v[i] - out.v[i]) * dout.v[i];
        CHECK_NEAR(change, dweight[at], 5e-5); /* 8 columns, sums of up to 513 terms */
    }
    free(out.v);
    free(moved.v);
    free(dout.v);
    free(dweight);
    sums_free(&s);
    random_block_free(r);
}

/* In double, with the gradient as an exact formula checked by central differences of the same doubles. */
TEST(edge_softmax_and_its_gradient)
{
    random_block* r = random_block_mixed(20, 40);
    static const int32_t numbers[] = {1, 2, 3, 4, 5, 8, 16, 17};
    for (int h = 0; h < 8; h++) {
        int32_t heads = numbers[h];
        float*  logit = test_floats(r->edges * heads);
        float*  out = test_floats(r->edges * heads);
        float*  dout = test_floats(r->edges * heads);
        float*  dlogit = test_floats(r->edges * heads);
        float*  turned = test_floats(r->edges * heads);
        double* p = (double*)test_memory(r->edges * 8);
        for (int64_t i = 0; i < r->edges * heads; i++) logit[i] *= 30;
        ggnn_edge_softmax(out, &r->b, logit, heads);
        ggnn_edge_softmax_back(dlogit, &r->b, out, dout, heads);
        for (int64_t v = 0; v < r->dst; v++)
            for (int32_t k = 0; k < heads; k++) {
                double total = 0, inner = 0, most = -1e30;
                for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) most = fmax(most, logit[e * heads + k]);
                for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) total += p[e] = exp(logit[e * heads + k] - most);
                for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) inner += p[e] / total * dout[e * heads + k];
                for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) {
                    /* exp2 errs by 2e-7, its argument (up to 87) by 87 * 2^-24 */
                    CHECK_NEAR(out[e * heads + k], p[e] / total, 1e-5 * p[e] / total + 1e-37);
                    CHECK_NEAR(dlogit[e * heads + k], p[e] / total * (dout[e * heads + k] - inner), 4e-5 * p[e] / total + 1e-37);
                }
            }
        memcpy(turned, logit, (size_t)(r->edges * heads) * 4);
        ggnn_edge_softmax(turned, &r->b, turned, heads); /* in place */
        CHECK(same_bits(turned, out, r->edges * heads));
        memcpy(turned, dout, (size_t)(r->edges * heads) * 4);
        ggnn_edge_softmax_back(turned, &r->b, out, turned, heads);
        CHECK(same_bits(turned, dlogit, r->edges * heads));
        ggnn_edge_softmax(turned, &r->t, logit, heads); /* over sources: through the edges' indices */
        for (int64_t u = 0; u < r->src; u++) {
            double total = 0;
            for (int64_t i = r->t.indptr[u]; i < r->t.indptr[u + 1]; i++) total += turned[r->t.edge[i] * heads];
            if (r->t.indptr[u] < r->t.indptr[u + 1]) CHECK_NEAR(total, 1, 1e-5);
        }
        free(logit);
        free(out);
        free(dout);
        free(dlogit);
        free(turned);
        free(p);
    }
    random_block_free(r);
}

TEST(exp2_is_accurate_over_all_exponents)
{
    double worst = 0;
    for (int i = 0; i < 400000; i++) {
        float  x = -126 + 254 * (float)i / 400000;
        double error = fabs(ggnn_exp2(x) / exp2(x) - 1);
        if (error > worst) worst = error;
    }
    for (int exponent = -126; exponent < 7; exponent++) /* arguments of every size, both signs */
        for (int i = 0; i < 64; i++) {
            float  x = ldexpf(1 + (float)i / 64, exponent) * (i & 1 ? 1.0f : -1.0f);
            double error = x > -126 ? fabs(ggnn_exp2(x) / exp2(x) - 1) : 0;
            if (error > worst) worst = error;
        }
    CHECK_NEAR(worst, 0, 2e-7);
    for (int n = -126; n < 128; n++) CHECK(ggnn_exp2((float)n) == ldexpf(1, n));
    CHECK(ggnn_exp2(-126.00001f) == 0 && ggnn_exp2(-1e30f) == 0 && ggnn_exp2(-INFINITY) == 0);
    CHECK(ggnn_exp2(128) == INFINITY && ggnn_exp2(1e30f) == INFINITY && ggnn_exp2(INFINITY) == INFINITY);
    CHECK(ggnn_exp2(127.99999f) < INFINITY);
    CHECK(isnan(ggnn_exp2(NAN)));
}

/* The vectors' power of 2 at its limits, and any number of them. */
TEST(exp2_array_has_the_bits_of_exp2)
{
    float at[] = {-INFINITY, -3e38f, -127, -126.00001f, -126, -125.99999f, -1, -0.5f, -0.0f, 0, 1e-40f, 0.49999997f, 0.5f, 0.50000006f,
                  1, 1.5f, 2.5f, 127, 127.49999f, 127.5f, 127.99999f, 128, 128.00002f, 3e38f, INFINITY, NAN, -NAN, -150, 63.3f, 0, 0};
    static const uint32_t payload[] = {0x7fc00001u, 0xff8000ffu}; /* of the last two: NaN whose bits are added to the result's */
    enum { COUNT = sizeof at / sizeof *at };
    float x[80], want[80];
    memcpy(at + COUNT - 2, payload, sizeof payload);
    CHECK(isnan(ggnn_exp2(at[COUNT - 1])) && isnan(ggnn_exp2(at[COUNT - 2])));
    for (ggnn_level = 0; ggnn_level <= 3; ggnn_level++)
        for (int n = 0; n < 80; n++)
            for (int turn = 0; turn < COUNT; turn++) { /* each number in each place of a vector, and in what is left over */
                for (int i = 0; i < 80; i++) x[i] = at[(i + turn) % COUNT], want[i] = i < n ? ggnn_exp2(x[i]) : x[i];
                CHECK_EQ(ggnn_exp2_array(x, n), GGNN_OK);
                CHECK(same_floats(want, x, 80));
            }
    ggnn_level = 3;
    CHECK(isnan(ggnn_exp2(-NAN)) && ggnn_exp2(-126) > 0 && ggnn_exp2(0) == 1);
}

TEST(log2_is_accurate_over_all_exponents)
{
    double worst = 0;
    for (int exponent = 0; exponent < 128; exponent++) {
        CHECK(ggnn_log2(ldexpf(1, exponent)) == (float)exponent); /* exact */
        for (int i = 1; i < 700; i++) {
            const float  x = ldexpf(1 + (float)i / 700, exponent);
            const double exact = log2((double)x), error = fabs((double)ggnn_log2(x) - exact) - (exponent ? exact * half_ulp : 0); /* the sum is rounded */
            if (error > worst) worst = error;
        }
    }
    CHECK(worst < 3e-7);
    CHECK(ggnn_log2(INFINITY) == INFINITY && isnan(ggnn_log2(NAN)));
    CHECK_NEAR(ggnn_log2(3.4028235e38f), 128, 1e-5);
}

/* MAX and MIN allow a scale that has no factor, and refuse each factor; no op of one kind's rows has self. */
TEST(each_factor_is_refused_where_there_can_be_none)
{
    int64_t       degree[] = {2, 0, 3};
    random_block* r = random_block_new(3, 5, degree);
    float         x[5] = {1, 2, 3, 4, 5}, ones[5] = {1, 1, 1, 1, 1}, out[3], want[3];
    ggnn_store    rows = ggnn_store_plain(x, 5, 1, GGNN_F32);
    for (int u = 0; u < 5; u++) r->id[u] = (ggnn_node)u;
    for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
        for (int given = 0; given < 8; given++)
            for (int two = 0; two < 2; two++) {
                const ggnn_scale  scale = {given & 1 ? ones : NULL, given & 2 ? ones : NULL, given & 4 ? ones : NULL};
                const ggnn_status status = (how >= GGNN_MAX && given) || (two && given & 4) ? GGNN_ERROR_ARGUMENT : GGNN_OK;
                ggnn_block        b = r->b;
                b.bipartite = two;
                if (two) b.id = NULL;
                form_poison(out, 3);
                CHECK_EQ(ggnn_spmm(out, 1, NULL, (ggnn_reduce)how, &b, &scale, NULL, 1, x, 1, 1), status);
                form_poison(want, 3);
                if (status == GGNN_OK) ggnn_ref_spmm(want, 1, NULL, (ggnn_reduce)how, &b, &scale, NULL, 1, x, 1, 1);
                CHECK(same_floats(want, out, 3));
                form_poison(out, 3);
                CHECK_EQ(ggnn_aggregate(out, 1, (ggnn_reduce)how, &b, &scale, NULL, 1, &rows), status);
                CHECK(same_floats(want, out, 3));
            }
    CHECK_EQ(ggnn_spmm(out, 1, NULL, (ggnn_reduce)-1, &r->b, NULL, NULL, 1, x, 1, 1), GGNN_ERROR_ARGUMENT);
    random_block_free(r);
}

/* GCN's factors of sampled blocks, whose targets have ids; of a graph in parts; more nodes than one piece has. */
TEST(gcn_scaling_is_that_of_the_nodes_in_the_graph)
{
    enum { N = 20000 };
    random_graph*   g = random_graph_new(N, 4, 500);
    const ggnn_rng  rng = {3, 1, GGNN_PURPOSE_SAMPLE};
    ggnn_csc        part[3] = {{g->indptr, NULL, g->indices, NULL, g->num_edges}, {NULL, NULL, NULL, NULL, 0}, {NULL, NULL, NULL, NULL, 0}};
    ggnn_graph      split = g->graph;
    int64_t         traffic[3] = {0};
    float*          inv_sqrt = test_floats(N);
    ggnn_node       seeds[60];
    ggnn_sampling   how = {GGNN_FISHER_YATES, 2, {5, 3}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch      batch;
    split.part = part, split.traffic = traffic;
    for (int i = 0; i < 60; i++) seeds[i] = (ggnn_node)(i ? test_below(N) : 0);
    FOR_EACH_FORM {
        form_poison(inv_sqrt, N);
        CHECK_EQ(ggnn_gcn_norm(inv_sqrt, form % 2 ? &g->graph : &split), GGNN_OK);
        int same = 1;
        for (int64_t v = 0; v < N; v++) same &= inv_sqrt[v] == 1.0f / (float)sqrt((double)(g->indptr[v + 1] - g->indptr[v] + 1));
        CHECK(same);
    }
    CHECK_EQ(ggnn_batch_new(&batch, &g->graph, &how, 60), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, &g->graph, &rng, seeds, 60), GGNN_OK);
    for (int h = 0; h < 2; h++) {
        const ggnn_block* b = &batch.hop[h];
        const int64_t     dst_n = *b->num_dst.n, src_n = *b->num_src.n;
        float *           src = test_floats(src_n + 1), *dst = test_floats(dst_n + 1), *self = test_floats(dst_n + 1);
        const float       end[] = {src[src_n], dst[dst_n], self[dst_n]};
        CHECK_EQ(ggnn_scale_gcn(src, dst, self, b, inv_sqrt, &split), GGNN_OK);
        for (int64_t u = 0; u < src_n; u++) CHECK(src[u] == inv_sqrt[b->id[u]]);
        for (int64_t v = 0; v < dst_n; v++) {
            const int64_t degree = g->indptr[b->id[v] + 1] - g->indptr[b->id[v]], sampled = b->indptr[v + 1] - b->indptr[v];
            CHECK(dst[v] == (sampled ? (float)degree / (float)sampled * inv_sqrt[b->id[v]] : 0));
            CHECK(self[v] == 1.0f / (float)(degree + 1));
        }
        CHECK(src[src_n] == end[0] && dst[dst_n] == end[1] && self[dst_n] == end[2]);
        free(src);
        free(dst);
        free(self);
    }
    CHECK(traffic[0] + traffic[1] + traffic[2] == 0); /* degrees are no lists */
    ggnn_batch_free(&batch);
    free(inv_sqrt);
    random_graph_free(g);
}

/* More heads than a pass of any op takes, or than divide 16. */
TEST(edges_have_any_number_of_heads)
{
    static const int32_t heads[] = {6, 12, 15, 18, 31, 32, 33, 48};
    random_block*        r = random_block_mixed(14, 40);
    for (int i = 0; i < 8; i++) {
        const int32_t k = heads[i];
        const int64_t n = r->edges * k;
        float *       x = test_floats(r->src * 3 * k), *y = test_floats(r->dst * 3 * k), *logit = test_floats(n), *got = test_floats(n);
        float *       dot = test_floats(n), *add = test_floats(n), *softmax = test_floats(n), *back = test_floats(n);
        ggnn_ref_sddmm(dot, GGNN_DOT, &r->b, x, 3 * k, y, 3 * k, k, 3 * k);
        ggnn_ref_sddmm(add, GGNN_ADD, &r->b, x, 3 * k, y, 3 * k, k, k);
        ggnn_ref_edge_softmax(softmax, &r->b, logit, k);
        ggnn_ref_edge_softmax_back(back, &r->b, softmax, dot, k);
        FOR_EACH_FORM {
            form_poison(got, n);
            ggnn_sddmm(got, GGNN_DOT, &r->b, x, 3 * k, y, 3 * k, k, 3 * k);
            CHECK_SAME(dot, got, n, "sddmm", 3 * k, k);
            ggnn_sddmm(got, GGNN_ADD, &r->b, x, 3 * k, y, 3 * k, k, k);
            CHECK_SAME(add, got, n, "sddmm", k, k);
            ggnn_edge_softmax(got, &r->b, logit, k);
            CHECK_SAME(softmax, got, n, "edge_softmax", k, k);
            ggnn_edge_softmax_back(got, &r->b, softmax, dot, k);
            CHECK_SAME(back, got, n, "edge_softmax_back", k, k);
        }
        float* all[] = {x, y, logit, got, dot, add, softmax, back};
        for (int j = 0; j < 8; j++) free(all[j]);
    }
    random_block_free(r);
}

/* All matrices of all ops. */
TEST(rows_may_lie_gigabytes_apart)
{
    enum { N = 6, WIDTH = 20, HEADS = 2 };
    const int64_t degree[N] = {2, 0, 3, 1, 4, 300}; /* the last list has segments of its own */
    random_block* r = random_block_new(N, N, degree);
    float *       x = test_floats(N * WIDTH), *y = test_floats(N * WIDTH), *weight = test_floats(r->edges * HEADS), *want = test_floats(N * WIDTH), *self = test_floats(N);
    float *       far_x = far_rows(x, WIDTH, N, WIDTH), *far_y = far_rows(y, WIDTH, N, WIDTH), *far_out = far_rows(want, WIDTH, N, WIDTH);
    float *       edges = test_floats(r->edges * WIDTH), *far_edges = test_floats(r->edges * WIDTH);
    int32_t       arg[N * WIDTH], far_arg[N * WIDTH];
    ggnn_scale    scale = {NULL, NULL, self};
    ggnn_store    near_store = ggnn_store_plain(x, N, WIDTH, GGNN_F32), far_store = ggnn_store_plain(far_x, N, WIDTH, GGNN_F32);
    far_store.pitch = far_ld * 4;
    for (int64_t v = 0; v < N; v++) r->b.id[v] = (ggnn_node)(N - 1 - v);
    r->b.indices[r->edges - 1] = N - 1; /* the farthest */
    ggnn_block_transpose(&r->t, &r->b);
    FOR_EACH_FORM {
        if (!far_x || !far_y || !far_out) continue;
        for (int how = GGNN_SUM; how <= GGNN_MIN; how++) {
            const ggnn_scale* own = how < GGNN_MAX ? &scale : NULL;
            CHECK_EQ(ggnn_spmm(want, WIDTH, arg, (ggnn_reduce)how, &r->b, own, weight, HEADS, x, WIDTH, WIDTH), GGNN_OK);
            CHECK_EQ(ggnn_spmm(far_out, far_ld, far_arg, (ggnn_reduce)how, &r->b, own, weight, HEADS, far_x, far_ld, WIDTH), GGNN_OK);
            CHECK(far_same(far_out, want, WIDTH, N, WIDTH));
            CHECK_EQ(ggnn_aggregate(want, WIDTH, (ggnn_reduce)how, &r->b, own, weight, HEADS, &near_store), GGNN_OK);
            CHECK_EQ(ggnn_aggregate(far_out, far_ld, (ggnn_reduce)how, &r->b, own, weight, HEADS, &far_store), GGNN_OK);
            CHECK(far_same(far_out, want, WIDTH, N, WIDTH));
            if (how < GGNN_MAX) continue;
            CHECK(memcmp(arg, far_arg, sizeof arg) == 0);
            CHECK_EQ(ggnn_spmm_back_arg(want, WIDTH, &r->t, &r->b, weight, HEADS, y, WIDTH, arg, WIDTH), GGNN_OK);
            CHECK_EQ(ggnn_spmm_back_arg(far_out, far_ld, &r->t, &r->b, weight, HEADS, far_y, far_ld, arg, WIDTH), GGNN_OK);
            CHECK(far_same(far_out, want, WIDTH, N, WIDTH));
        }
        for (int how = GGNN_DOT; how <= GGNN_ADD; how++) {
            const int32_t heads = how == GGNN_DOT ? HEADS : WIDTH;
            CHECK_EQ(ggnn_sddmm(edges, (ggnn_edge_op)how, &r->b, x, WIDTH, y, WIDTH, heads, WIDTH), GGNN_OK);
            CHECK_EQ(ggnn_sddmm(far_edges, (ggnn_edge_op)how, &r->b, far_x, far_ld, far_y, far_ld, heads, WIDTH), GGNN_OK);
            CHECK(same_bits(edges, far_edges, r->edges * heads));
        }
    }
    if (!far_x || !far_y || !far_out) test_skip = "no address space for rows 2 GiB apart";
    float *all[] = {x, y, weight, want, self, edges, far_edges}, *far[] = {far_x, far_y, far_out};
    for (int i = 0; i < 7; i++) free(all[i]);
    for (int i = 0; i < 3; i++) far_free(far[i], N);
    random_block_free(r);
}

/* Degrees from 2^24 on, of which not each is a float: what is rounded, and when. Nothing but indptr is read. */
TEST(factors_of_large_degrees_are_rounded_as_is_said)
{
    enum { N = 300 };
    int64_t    degree[N] = {0, 5, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 24) + 2, ((int64_t)1 << 31) + 129, ((int64_t)1 << 40) + 65537};
    int64_t    indptr[N + 1] = {0}, sampled[N + 1] = {0}, counts[3] = {N, N, 0};
    float      inv_sqrt[N], src[N], dst[N], self[N];
    ggnn_node  none = 0; /* no element is read */
    ggnn_block b;
    for (int v = 8; v < N; v++) degree[v] = (1 << 24) + 12346 * v;
    for (int v = 0; v < N; v++) indptr[v + 1] = indptr[v] + degree[v], sampled[v + 1] = sampled[v] + (degree[v] < 3 ? degree[v] : 3);
    ggnn_graph g = ggnn_graph_plain(indptr, &none, NULL, N, indptr[N]);
    memset(&b, 0, sizeof b);
    counts[2] = sampled[N];
    b.num_dst.n = b.num_src.n = counts, b.num_edges.n = &counts[2], b.indptr = sampled;
    CHECK_EQ(ggnn_gcn_norm(inv_sqrt, &g), GGNN_OK);
    CHECK_EQ(ggnn_scale_gcn(src, dst, self, &b, inv_sqrt, &g), GGNN_OK);
    for (int v = 0; v < N; v++) {
        const volatile float d = (float)(degree[v] + 1), root = (float)sqrt((double)d), all = (float)degree[v], some = (float)(sampled[v + 1] - sampled[v]);
        const volatile float share = all / some;
        CHECK(inv_sqrt[v] == 1.0f / root && src[v] == inv_sqrt[v] && self[v] == 1.0f / d);
        CHECK(dst[v] == (degree[v] ? share * inv_sqrt[v] : 0));
    }
    for (int v = 0; v < 100; v++) sampled[v + 1] = sampled[v] + (1 << 24) + 12345 * v;
    counts[0] = 100, counts[2] = sampled[100];
    for (int with_self = 0; with_self < 2; with_self++) {
        CHECK_EQ(ggnn_scale_mean(dst, &b, with_self), GGNN_OK);
        for (int v = 0; v < 100; v++) {
            const volatile float n = (float)(sampled[v + 1] - sampled[v] + with_self);
            CHECK(dst[v] == 1.0f / n);
        }
    }
}

/* ---- forms that a block does not bring about -------------------------------------------------------------------------- */

/* The mode that a processor computes floats in, without the flags of what has happened; and its subnormals flushed to zero. */
#if defined(_OPENMP) && defined(__x86_64__)
#define FLUSHING 0x8040u
static uint64_t float_mode(void) { return _mm_getcsr() & ~63u; }
static void     set_float_mode(uint64_t mode) { _mm_setcsr((unsigned)mode); }
#elif defined(_OPENMP) && defined(__aarch64__)
#define FLUSHING (UINT64_C(1) << 24)
static uint64_t float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static void set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#endif

/* The pool's threads exist before the caller's mode changes. */
TEST(a_caller_that_flushes_subnormals_gets_the_same_bits_from_any_number_of_threads)
{
#ifdef FLUSHING
    enum { N = 400, WIDTH = 32 };
    static int64_t degree[N];
    for (int64_t v = 0; v < N; v++) degree[v] = 20;
    random_block* r = random_block_new(N, N, degree);
    matrix        inp = matrix_new(N, WIDTH, 0), out[2] = {matrix_new(N, WIDTH, 0), matrix_new(N, WIDTH, 0)};
    const uint64_t mode = float_mode();
    for (int64_t i = 0; i < N * inp.ld; i++) inp.v[i] = 1e-40f * (float)(i % 7);
    set_threads(4);
    ggnn_spmm(out[0].v, out[0].ld, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp.v, inp.ld, WIDTH);
    CHECK(out[0].v[0] > 0);
    for (int i = 0; i < 2; i++) {
        set_threads(i ? 4 : 1);
        set_float_mode(mode | FLUSHING);
        ggnn_spmm(out[i].v, out[i].ld, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp.v, inp.ld, WIDTH);
        CHECK_EQ(float_mode(), mode | FLUSHING);
        set_float_mode(mode);
    }
    for (int64_t v = 0; v < N; v++) CHECK(memcmp(out[0].v + v * out[0].ld, out[1].v + v * out[1].ld, WIDTH * sizeof(float)) == 0);
    set_threads(4); /* and the pool's threads are as they were */
    int changed = 0;
    for (int i = 0; i < 50; i++) { /* each has a piece to do, some time */
        set_float_mode(mode | FLUSHING);
        ggnn_spmm(out[0].v, out[0].ld, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp.v, inp.ld, WIDTH);
        set_float_mode(mode);
#pragma omp parallel reduction(+ : changed)
        changed += float_mode() != mode;
    }
    CHECK_EQ(changed, 0);
    ggnn_spmm(out[0].v, out[0].ld, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp.v, inp.ld, WIDTH);
    set_threads(1);
    ggnn_spmm(out[1].v, out[1].ld, NULL, GGNN_SUM, &r->b, NULL, NULL, 1, inp.v, inp.ld, WIDTH);
    for (int64_t v = 0; v < N; v++) CHECK(memcmp(out[0].v + v * out[0].ld, out[1].v + v * out[1].ld, WIDTH * sizeof(float)) == 0);
    set_threads(omp_get_num_procs());
    for (int i = 0; i < 2; i++) free(out[i].v);
    free(inp.v);
    random_block_free(r);
#else
    SKIP("no OpenMP, or neither MXCSR nor FPCR");
#endif
}

/* Lists shorter and longer than sixteen numbers, and than sixteen segments of sums; hubs, here and on the transpose; in place. */
TEST(edge_softmax_and_its_gradient_follow_the_order_of_their_sums)
{
    static const int64_t degree[] = {0, 1, 2, 3, 15, 16, 17, 33, 255, 256, 257, 513, 4097, 9001};
    static const int32_t numbers[] = {1, 2, 3, 4, 8, 16, 17, 65};
    random_block*        r = random_block_new(14, 7, degree);
    const ggnn_block*    blocks[] = {&r->b, &r->t};
    for (int i = 0; i < 16; i++) {
        const ggnn_block* b = blocks[i % 2];
        int32_t           heads = numbers[i / 2];
        int64_t           n = r->edges * heads;
        float *           logit = test_floats(n), *dout = test_floats(n), *want = test_floats(n), *want_back = test_floats(n), *got = test_floats(n);
        float *           ones = test_floats(n), *want_sum = test_floats(14 * heads), *sum = test_floats(14 * heads);
        logit[7] = -INFINITY;
        for (int64_t j = 0; j < n; j++) logit[j] *= 8, ones[j] = 1;
        ggnn_ref_spmm(want_sum, heads, NULL, GGNN_SUM, b, NULL, dout, heads, ones, heads, heads);
        ggnn_ref_edge_softmax(want, b, logit, heads);
        ggnn_ref_edge_softmax_back(want_back, b, want, dout, heads);
        FOR_EACH_FORM if (heads < 17 || form % 4 == 0) {
            form_poison(got, n);
            ggnn_edge_softmax(got, b, logit, heads);
            CHECK_SAME(want, got, n, "edge_softmax", heads, heads);
            memcpy(got, logit, (size_t)n * 4);
            ggnn_edge_softmax(got, b, got, heads);
            CHECK_SAME(want, got, n, "edge_softmax in place", heads, heads);
            ggnn_edge_softmax_back(got, b, want, dout, heads);
            CHECK_SAME(want_back, got, n, "edge_softmax_back", heads, heads);
            form_poison(sum, 14 * heads);
            ggnn_edge_sum(sum, b, dout, heads);
            CHECK_SAME(want_sum, sum, *b->num_dst.n * heads, "edge_sum", heads, heads);
        }
        free(ones);
        free(sum);
        free(want_sum);
        free(logit);
        free(dout);
        free(want);
        free(want_back);
        free(got);
    }
    random_block_free(r);
}

/* ---- messages: rows of edges ---------------------------------------------------------------------------------------- */

typedef struct { /* one call, over a block or its transpose: edge e's row is row e of the block's edges in both */
    const ggnn_block* b;
    ggnn_reduce       how;
    ggnn_message      message;
    ggnn_scale        scale;
    float *           src, *dst, *self, *weight;
    int32_t           heads, width;
    matrix            inp, edge;
} messages;

static messages messages_new(const ggnn_block* b, ggnn_reduce how, ggnn_message message, int32_t width, int32_t heads, int scaled)
{
    messages m;
    memset(&m, 0, sizeof m);
    m.b = b, m.how = how, m.message = message, m.width = width, m.heads = heads ? heads : 1;
    m.inp = matrix_new(*b->num_src.n, width, 2);
    m.edge = matrix_new(*b->num_edges.n, width, 1);
    m.src = test_floats(*b->num_src.n), m.dst = test_floats(*b->num_dst.n), m.self = test_floats(*b->num_dst.n);
    if (heads) m.weight = test_floats(*b->num_edges.n * heads);
    if (scaled & 1) m.scale.src = m.src;
    if (scaled & 2) m.scale.dst = m.dst;
    if (scaled & 4 && message != GGNN_EDGE_COPY) m.scale.self = m.self;
    return m;
}

static void messages_free(messages* m)
{
    free(m->inp.v);
    free(m->edge.v);
    free(m->src);
    free(m->dst);
    free(m->self);
    free(m->weight);
}

static ggnn_status messages_run(const messages* m, matrix out, int32_t* arg)
{
    const float* inp = m->message == GGNN_EDGE_COPY ? NULL : m->inp.v;
    return ggnn_spmm_edges(out.v, out.ld, arg, m->how, m->message, m->b, &m->scale, m->weight, m->heads, inp, m->inp.ld, m->edge.v, m->edge.ld, m->width);
}

static void check_messages_back(const messages* m, const int32_t* chosen)
{
    matrix dout = matrix_new(*m->b->num_dst.n, m->width, 2), want = matrix_new(*m->b->num_edges.n, m->width, 3), dedge = matrix_new(*m->b->num_edges.n, m->width, 3);
    ggnn_ref_spmm_edges_back(want.v, want.ld, m->message, m->b, &m->scale, m->weight, m->heads, m->inp.v, m->inp.ld, dout.v, dout.ld, chosen, m->width);
    FOR_EACH_FORM {
        form_poison(dedge.v, dedge.rows * dedge.ld);
        CHECK_EQ(ggnn_spmm_edges_back(dedge.v, dedge.ld, m->message, m->b, &m->scale, m->weight, m->heads, m->message == GGNN_EDGE_TIMES ? m->inp.v : NULL, m->inp.ld, dout.v, dout.ld, chosen, m->width), GGNN_OK);
        CHECK_SAME(want.v, dedge.v, dedge.rows * dedge.ld, "spmm_edges_back", m->width, m->heads);
    }
    free(dout.v), free(want.v), free(dedge.v);
}

static void check_messages(const messages* m)
{
    const int64_t dst = *m->b->num_dst.n;
    matrix        want = matrix_new(dst, m->width, 3), out = matrix_new(dst, m->width, 3);
    int32_t *     want_arg = (int32_t*)test_memory(dst * m->width * 4), *arg = (int32_t*)test_memory(dst * m->width * 4);
    ggnn_ref_spmm_edges(want.v, want.ld, want_arg, m->how, m->message, m->b, &m->scale, m->weight, m->heads, m->inp.v, m->inp.ld, m->edge.v, m->edge.ld, m->width);
    FOR_EACH_FORM {
        form_poison(out.v, out.rows * out.ld);
        memset(arg, 0x55, (size_t)(dst * m->width) * 4);
        CHECK_EQ(messages_run(m, out, m->how >= GGNN_MAX ? arg : NULL), GGNN_OK);
        CHECK_SAME(want.v, out.v, out.rows * out.ld, "spmm_edges", m->width, m->heads);
        if (m->how >= GGNN_MAX) CHECK(memcmp(want_arg, arg, (size_t)(dst * m->width) * 4) == 0);
    }
    free(want.v);
    free(out.v);
    free(want_arg);
    free(arg);
}

TEST(messages_of_edges_follow_the_order_of_their_sums)
{
    static const int32_t sizes[] = {1, 3, 8, 17, 31, 32, 33, 65, 100, 260}, heads[] = {0, 1, 3, 17};
    random_block*        r = random_block_mixed(20, 40);
    for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
        for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++)
            for (int i = 0; i < 10; i++)
                for (int scaled = 0; scaled < (how < GGNN_MAX ? 8 : 1); scaled += 1 + i % 3) {
                    const int32_t k = heads[(i + scaled + how) % 4], per_head = k > 3 ? 1 + i : sizes[i];
                    if (how >= GGNN_MAX && message == GGNN_EDGE_TIMES) continue;
                    messages m = messages_new((i + how) % 3 ? &r->b : &r->t, (ggnn_reduce)how, (ggnn_message)message, per_head * (k ? k : 1), k, scaled);
                    check_messages(&m);
                    messages_free(&m);
                }
    random_block_free(r);
}

/* Lists of 1,024 edges and more are reduced by segments, 16 of them in a round at 100 columns and more; gradients of edges by pieces
   that begin and end within a list. Of the transpose, whose edges have other numbers, few sources have all edges. */
TEST(messages_of_hubs_are_reduced_like_those_of_other_lists)
{
    static const int64_t degree[] = {3, 4400, 0, 1024, 1, 4900, 1023, 0, 70};
    static const int32_t width[] = {1, 36, 120}, heads[] = {0, 2, 20}; /* heads go sixteen at a time */
    random_block*        r = random_block_new(sizeof degree / sizeof *degree, 6, degree);
    for (int w = 0; w < 3; w++)
        for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
            for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++) {
                if (how >= GGNN_MAX && message == GGNN_EDGE_TIMES) continue;
                messages m = messages_new((w + how + message) % 2 ? &r->b : &r->t, (ggnn_reduce)how, (ggnn_message)message, width[w], heads[w], how < GGNN_MAX ? 7 : 0);
                check_messages(&m);
                if (how == GGNN_SUM) check_messages_back(&m, NULL);
                messages_free(&m);
            }
    random_block_free(r);
}

/* Message by message in double: neither the reference nor the operation that it is compared with are wrong. */
TEST(messages_of_edges_are_near_double_precision)
{
    random_block* r = random_block_mixed(20, 40);
    for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++)
        for (int how = GGNN_SUM; how <= GGNN_MEAN; how++) {
            messages m = messages_new(&r->b, (ggnn_reduce)how, (ggnn_message)message, 12, 2, 1);
            matrix   out = matrix_new(r->dst, 12, 0);
            int      close = 1;
            CHECK_EQ(messages_run(&m, out, NULL), GGNN_OK);
            for (int64_t v = 0; v < r->dst; v++)
                for (int j = 0; j < 12; j++) {
                    const int64_t n = r->b.indptr[v + 1] - r->b.indptr[v];
                    double        sum = 0, size = 0;
                    for (int64_t e = r->b.indptr[v]; e < r->b.indptr[v + 1]; e++) {
                        const double x = m.inp.v[r->b.indices[e] * m.inp.ld + j], y = m.edge.v[e * m.edge.ld + j];
                        const double term = (double)m.weight[2 * e + j / 6] * m.src[r->b.indices[e]] * (message == GGNN_EDGE_COPY ? y : message == GGNN_EDGE_TIMES ? x * y : x + y);
                        sum += term, size += fabs(term);
                    }
                    if (how == GGNN_MEAN && n) sum /= (double)n, size /= (double)n;
                    close &= fabs(out.v[v * 12 + j] - sum) <= (double)(n + 6) * half_ulp * size;
                }
            CHECK(close);
            free(out.v);
            messages_free(&m);
        }
    random_block_free(r);
}

static double inner(const matrix* a, const matrix* b)
{
    double sum = 0;
    for (int64_t i = 0; i < a->rows; i++)
        for (int32_t j = 0; j < a->width; j++) sum += (double)a->v[i * a->ld + j] * b->v[i * b->ld + j];
    return sum;
}

/* <out, dout> is what inputs and their gradients give: <edge, dedge>, of TIMES <inp, dinp> as well, of PLUS both together.
   MAX, MIN: of the edges that were chosen. */
TEST(gradients_of_edges_rows_are_the_adjoint)
{
    random_block* r = random_block_mixed(25, 60);
    for (int round = 0; round < 40; round++) {
        const ggnn_message message = (ggnn_message)(round % 3);
        const ggnn_reduce  how = round % 4 == 3 && message != GGNN_EDGE_TIMES ? (ggnn_reduce)(GGNN_MAX + round / 4 % 2) : GGNN_SUM;
        const int32_t      heads = 1 + round % 3, width = heads * (1 + (int32_t)test_below(20));
        messages           m = messages_new(&r->b, how, message, width, round % 2 ? heads : 0, how == GGNN_SUM ? round % 4 : 0);
        matrix             out = matrix_new(r->dst, width, 1), dout = matrix_new(r->dst, width, 2), dinp = matrix_new(r->src, width, 0), dedge = matrix_new(r->edges, width, 3);
        int32_t*           arg = (int32_t*)test_memory(r->dst * width * 4);
        const ggnn_scale   back = {m.scale.dst, m.scale.src, NULL};
        CHECK_EQ(messages_run(&m, out, arg), GGNN_OK);
        CHECK_EQ(ggnn_spmm_edges_back(dedge.v, dedge.ld, message, &r->b, &m.scale, m.weight, m.heads, m.inp.v, m.inp.ld, dout.v, dout.ld, how == GGNN_SUM ? NULL : arg, width), GGNN_OK);
        if (message == GGNN_EDGE_TIMES)
            CHECK_EQ(ggnn_spmm_edges(dinp.v, width, NULL, GGNN_SUM, message, &r->t, &back, m.weight, m.heads, dout.v, dout.ld, m.edge.v, m.edge.ld, width), GGNN_OK);
        else if (how == GGNN_SUM)
            CHECK_EQ(ggnn_spmm(dinp.v, width, NULL, GGNN_SUM, &r->t, &back, m.weight, m.heads, dout.v, dout.ld, width), GGNN_OK);
        else
            CHECK_EQ(ggnn_spmm_back_arg(dinp.v, width, &r->t, &r->b, m.weight, m.heads, dout.v, dout.ld, arg, width), GGNN_OK);
        const double all = inner(&out, &dout), edges = inner(&m.edge, &dedge), nodes = inner(&m.inp, &dinp), most = 1e-6 * (double)(r->edges * width);
        CHECK_NEAR(all, message == GGNN_EDGE_PLUS ? edges + nodes : edges, most);
        if (message == GGNN_EDGE_TIMES) CHECK_NEAR(all, nodes, most);
        CHECK(padding_kept(dedge));
        free(out.v), free(dout.v), free(dinp.v), free(dedge.v), free(arg);
        messages_free(&m);
    }
    random_block_free(r);
}

TEST(gradients_of_edges_rows_are_rounded_as_is_said)
{
    random_block* r = random_block_mixed(20, 40);
    for (int round = 0; round < 48; round++) {
        const ggnn_message message = (ggnn_message)(round % 3);
        const int32_t      heads = round % 2 ? 1 + round % 5 : 0, width = (heads ? heads : 1) * (1 + round % 9);
        const ggnn_block*  b = round % 4 == 3 ? &r->t : &r->b; /* whose edges have other numbers */
        messages           m = messages_new(b, GGNN_SUM, message, width, heads, round % 4);
        int32_t*           arg = (int32_t*)test_memory(*b->num_dst.n * width * 4);
        for (int64_t i = 0; i < *b->num_dst.n * width; i++) arg[i] = (int32_t)test_below(4) - 1;
        check_messages_back(&m, round % 5 == 4 && message != GGNN_EDGE_TIMES ? arg : NULL);
        free(arg);
        messages_free(&m);
    }
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(11);
    RUN(spmm_sums_in_edge_order_and_segments);
    RUN(hubs_are_added_up_in_segments_like_other_lists);
    RUN(hubs_keep_their_greatest_and_have_dots_of_all_edges);
    RUN(no_op_takes_100_KiB_of_a_stack);
    RUN(spmm_weights_edges_per_head);
    RUN(spmm_scales_sources_targets_and_self);
    RUN(spmm_scales_by_any_number);
    RUN(edges_of_weight_0_count);
    RUN(spmm_is_near_double_precision);
    RUN(sum_and_mean_are_spmm_of_packed_rows);
    RUN(large_outputs_are_the_same);
    RUN(many_short_lists_are_means_of_their_own);
    RUN(spmm_of_no_rows_and_no_edges);
    RUN(spmm_on_the_transpose_is_the_adjoint);
    RUN_SLOW(messages_of_edges_follow_the_order_of_their_sums);
    RUN(messages_of_hubs_are_reduced_like_those_of_other_lists);
    RUN(messages_of_edges_are_near_double_precision);
    RUN(gradients_of_edges_rows_are_the_adjoint);
    RUN(gradients_of_edges_rows_are_rounded_as_is_said);
    RUN(max_takes_the_first_of_equals_and_nan_last);
    RUN(max_of_long_lists_finds_the_first_number_in_any_segment);
    RUN(max_has_values_and_edges_of_any_number_of_heads);
    RUN(max_sends_gradients_to_the_chosen_edges);
    RUN(max_over_a_transpose_sends_gradients_by_the_weights_of_original_edges);
    RUN(aggregate_equals_gather_then_spmm);
    RUN(sums_of_wide_rows_are_the_same_in_pieces);
    RUN(a_block_without_ids_is_read_by_local_id);
    RUN(aggregate_of_two_kinds_reads_by_the_ids_of_neighbors);
    RUN(aggregate_takes_weights_of_a_transpose_by_original_edge);
    RUN(aggregate_of_a_transpose_counts_own_rows_of_sources_alone);
    RUN(weighted_samples_are_aggregated_by_the_weights_of_their_edges);
    RUN(gcn_scaling_is_exact_at_full_fanout_and_unbiased_below);
    RUN(weighted_means_divide_by_the_weights_sum);
    RUN(sddmm_and_edge_sum_follow_the_order_of_their_sums);
    RUN(sddmm_is_near_double_precision);
    RUN(sddmm_add_and_edge_sum_are_adjoint);
    RUN(sddmm_is_the_gradient_of_edge_weights);
    RUN(edge_softmax_and_its_gradient);
    RUN(exp2_array_has_the_bits_of_exp2);
    RUN(log2_is_accurate_over_all_exponents);
    RUN(each_factor_is_refused_where_there_can_be_none);
    RUN(gcn_scaling_is_that_of_the_nodes_in_the_graph);
    RUN(edges_have_any_number_of_heads);
    RUN(rows_may_lie_gigabytes_apart);
    RUN(factors_of_large_degrees_are_rounded_as_is_said);
    RUN(exp2_is_accurate_over_all_exponents);
    RUN(a_caller_that_flushes_subnormals_gets_the_same_bits_from_any_number_of_threads);
    RUN(edge_softmax_and_its_gradient_follow_the_order_of_their_sums);
    return test_finish();
}
