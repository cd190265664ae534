/* Graph attention: scores, the fused forward and its backward, against double precision, central differences, and the
   same thing put together from the unfused ops. */
#include "common/ggnn_level.h"
#include "ggnn.h"
#include "random_block.h"
#include "test.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static float rounded(float x) /* keeps a compiler from fusing the test's own products and sums */
{
    volatile float y = x;
    return y;
}

/* ---- scores ---------------------------------------------------------------------------------------------------------- */

TEST(scores_are_dots_of_each_head)
{
    for (int32_t heads = 1; heads <= 20; heads += 3)
        for (int32_t width = heads; width <= heads * 40; width += 13 * heads) {
            int64_t n = 300, ld = width + 3;
            int32_t d = width / heads;
            float*  z = test_floats(n * ld);
            float*  att = test_floats(width);
            float*  el = test_floats(n * heads);
            int     close = 1;
            ggnn_scores(el, z, ld, att, n, heads, width);
            for (int64_t u = 0; u < n; u++)
                for (int32_t k = 0; k < heads; k++) {
                    double want = 0;
                    for (int32_t j = 0; j < d; j++) want += (double)z[u * ld + k * d + j] * att[k * d + j];
                    close &= fabs(el[u * heads + k] - want) <= d * (d + 8) / 16777216.0;
                }
            CHECK(close);
            free(z);
            free(att);
            free(el);
        }
}

/* datt adds its rows one after another, 256 at a time, and these sums in order, so a test can say its bits. */
TEST(scores_back_adds_rows_in_segments)
{
    for (int32_t heads = 1; heads <= 20; heads += 3)
        for (int32_t width = heads; width <= heads * 40; width += 13 * heads) {
            int64_t n = 600, ld = width + 3;
            int32_t d = width / heads;
            float*  z = test_floats(n * ld);
            float*  att = test_floats(width);
            float*  del = test_floats(n * heads);
            float*  dz = test_floats(n * ld);
            float*  before = test_floats(n * ld);
            float*  datt = test_floats(width);
            int     exact = 1;
            memcpy(before, dz, (size_t)(n * ld) * 4);
            ggnn_scores_back(dz, ld, datt, del, z, ld, att, n, heads, width);
            for (int32_t c = 0; c < width; c++) {
                float total = 0, sum = 0;
                for (int64_t u = 0; u < n; u++) {
                    float factor = del[u * heads + c / d];
                    if (u % 256 == 0) {
                        total = rounded(total + sum);
                        sum = 0;
                    }
                    sum = rounded(sum + rounded(factor * z[u * ld + c]));
                    exact &= dz[u * ld + c] == rounded(before[u * ld + c] + rounded(factor * att[c]));
                }
                exact &= datt[c] == rounded(total + sum);
            }
            for (int64_t u = 0; u < n; u++)
                for (int64_t c = width; c < ld; c++) exact &= dz[u * ld + c] == before[u * ld + c];
            CHECK(exact);
            free(z);
            free(att);
            free(del);
            free(dz);
            free(before);
            free(datt);
        }
}

/* ---- the fused op ------------------------------------------------------------------------------------------------------ */

typedef struct {
    random_block*  r;
    int32_t        heads, width;
    int64_t        ld_z, ld_out, ld_dz;
    float *        z, *el, *er, *dout;      /* inputs; dout has ld_out */
    float *        out, *lse;               /* forward */
    float *        dz, *del, *der;          /* backward */
    ggnn_attention how;
    void*          workspace;
} attention;

static attention attention_new(random_block* r, int32_t heads, int32_t width, float dropout, float spread)
{
    attention a;
    memset(&a, 0, sizeof a);
    a.r = r;
    a.heads = heads;
    a.width = width;
    a.ld_z = width + 1;
    a.ld_out = width + 2;
    a.ld_dz = width + 3;
    a.z = test_floats(r->src * a.ld_z);
    a.el = test_floats(r->src * heads);
    a.er = test_floats(r->dst * heads);
    a.dout = test_floats(r->dst * a.ld_out);
    a.out = test_floats(r->dst * a.ld_out);
    a.lse = test_floats(r->dst * heads);
    a.dz = test_floats(r->src * a.ld_dz);
    a.del = test_floats(r->src * heads);
    a.der = test_floats(r->dst * heads);
    a.workspace = test_memory((int64_t)ggnn_gat_back_workspace_bytes(r->dst, r->edges, heads));
    for (int64_t i = 0; i < r->src * heads; i++) a.el[i] *= spread;
    a.how.slope = 0.2f;
    a.how.dropout = dropout;
    a.how.layer = 2;
    a.how.rng.seed = 5;
    a.how.rng.step = 17;
    a.how.rng.purpose = GGNN_PURPOSE_ATTENTION_DROPOUT;
    return a;
}

static void attention_free(attention* a)
{
    float* all[] = {a->z, a->el, a->er, a->dout, a->out, a->lse, a->dz, a->del, a->der};
    for (int i = 0; i < 9; i++) free(all[i]);
    free(a->workspace);
}

static ggnn_gat_layer layer_of(const attention* a)
{
    ggnn_gat_layer y = {&a->r->b, a->z, a->ld_z, a->el, a->er, a->out, a->ld_out, a->lse, a->heads, a->width, a->how};
    return y;
}

static void attention_forward(attention* a)
{
    ggnn_gat_layer y = layer_of(a);
    ggnn_gat(&y);
}

static void attention_backward(attention* a)
{
    ggnn_gat_layer y = layer_of(a);
    ggnn_gat_back(a->dz, a->ld_dz, a->del, a->der, &a->r->t, &y, a->dout, a->ld_out, a->workspace);
}

/* What dropout leaves of entry i of target v's list, as DESIGN keys it: one block of words holds eight entries. */
static double kept(const attention* a, int64_t v, int64_t i, int32_t k)
{
    uint32_t   threshold = (uint32_t)lround(65536 * (double)a->how.dropout);
    uint64_t   node = (uint64_t)(a->r->b.id ? a->r->b.id[v] : v);
    uint64_t   stream = (uint64_t)GGNN_PURPOSE_ATTENTION_DROPOUT << 56 | (uint64_t)a->how.layer << 48 | node;
    ggnn_words words = ggnn_philox(a->how.rng.seed, stream, (uint64_t)a->how.rng.step << 32 | (uint64_t)(i / 8 * a->heads + k));
    uint32_t   word = words.word[i % 8 / 2], field = i % 2 ? word >> 16 : word & 0xffff;
    return field < threshold ? 0 : 65536.0 / (65536.0 - threshold);
}

static int64_t entry_source(const attention* a, int64_t v, int64_t i)
{
    return i == 0 ? v : a->r->b.indices[a->r->b.indptr[v] + i - 1];
}

/* Inputs in double, so that differences can be taken of them. */
typedef struct {
    double *z, *el, *er;
} inputs;

static double logit(const attention* a, const inputs* x, int64_t v, int64_t i, int32_t k)
{
    double sum = x->el[entry_source(a, v, i) * a->heads + k] + x->er[v * a->heads + k];
    return sum > 0 ? sum : (double)a->how.slope * sum;
}

/* One row and head of the forward pass; returns log2 of the sum of exponentials. */
static double naive_row(const attention* a, const inputs* x, int64_t v, int32_t k, double* out)
{
    int64_t n = a->r->b.indptr[v + 1] - a->r->b.indptr[v] + 1;
    int32_t d = a->width / a->heads;
    double  most = -1e300, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, logit(a, x, v, i, k));
    for (int32_t j = 0; j < d; j++) out[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        double p = exp(logit(a, x, v, i, k) - most), q = a->how.dropout > 0 ? kept(a, v, i, k) : 1;
        sum += p;
        for (int32_t j = 0; j < d; j++) out[j] += p * q * x->z[entry_source(a, v, i) * a->ld_z + k * d + j];
    }
    for (int32_t j = 0; j < d; j++) out[j] /= sum;
    return (most + log(sum)) / log(2);
}

static double naive_loss(const attention* a, const inputs* x) /* <out, dout> */
{
    int32_t d = a->width / a->heads;
    double  out[64], loss = 0;
    for (int64_t v = 0; v < a->r->dst; v++)
        for (int32_t k = 0; k < a->heads; k++) {
            naive_row(a, x, v, k, out);
            for (int32_t j = 0; j < d; j++) loss += out[j] * a->dout[v * a->ld_out + k * d + j];
        }
    return loss;
}

static double* widened(const float* x, int64_t n)
{
    double* y = (double*)test_memory(n * 8);
    for (int64_t i = 0; i < n; i++) y[i] = x[i];
    return y;
}

static inputs inputs_of(const attention* a)
{
    inputs x = {widened(a->z, a->r->src * a->ld_z), widened(a->el, a->r->src * a->heads), widened(a->er, a->r->dst * a->heads)};
    return x;
}

static void inputs_free(inputs* x)
{
    free(x->z);
    free(x->el);
    free(x->er);
}

/* A coefficient errs by the roundings of its logit and of lse, at most 2^-24 of 30 each, and by 3e-7 of exp2 and sums. */
static const double tolerance = 5e-6;

static void check_forward(attention* a)
{
    inputs  x = inputs_of(a);
    int32_t d = a->width / a->heads;
    double  out[64];
    for (int64_t v = 0; v < a->r->dst; v++) {
        for (int64_t j = a->width; j < a->ld_out; j++) a->out[v * a->ld_out + j] = 1234;
    }
    attention_forward(a);
    for (int64_t v = 0; v < a->r->dst; v++) {
        for (int32_t k = 0; k < a->heads; k++) {
            CHECK_NEAR(a->lse[v * a->heads + k], naive_row(a, &x, v, k, out), 60 * tolerance);
            for (int32_t j = 0; j < d; j++) CHECK_NEAR(a->out[v * a->ld_out + k * d + j], out[j], 2 * tolerance);
        }
        for (int64_t j = a->width; j < a->ld_out; j++) CHECK(a->out[v * a->ld_out + j] == 1234);
    }
    inputs_free(&x);
}

TEST(gat_equals_attention_in_double)
{
    static const int32_t heads[] = {1, 2, 3, 4, 8, 17, 20}, per_head[] = {1, 3, 4, 8, 16, 33, 64};
    random_block*        r = random_block_mixed(20, 40);
    for (int i = 0; i < 7; i++)
        for (int j = i % 2; j < 7; j += 2) {
            attention a = attention_new(r, heads[i], heads[i] * per_head[j], 0, 8);
            check_forward(&a);
            attention_free(&a);
        }
    random_block_free(r);
}

TEST(gat_drops_coefficients_by_keyed_fields)
{
    random_block* r = random_block_mixed(20, 40);
    for (int32_t heads = 1; heads < 20; heads += 5) {
        attention a = attention_new(r, heads, heads * 4, 0.4f, 2);
        r->b.id = heads % 2 ? r->id : NULL;
        check_forward(&a);
        attention_free(&a);
    }
    random_block_free(r);
}

TEST(gat_keeps_a_running_maximum) /* logits that rise, fall and dwarf each other from segment to segment */
{
    int64_t       degree[3] = {1000, 1000, 0};
    random_block* r = random_block_new(3, 1001, degree);
    attention     a = attention_new(r, 2, 8, 0, 0);
    for (int i = 0; i < 1000; i++) r->b.indices[i] = i + 1, r->b.indices[1000 + i] = 1000 - i;
    for (int i = 0; i <= 1000; i++) a.el[2 * i] = (float)i * 20, a.el[2 * i + 1] = (float)i * -0.02f;
    a.er[0] = a.er[1] = a.er[2] = a.er[3] = 0;
    inputs x = inputs_of(&a);
    attention_forward(&a);
    for (int64_t v = 0; v < 2; v++)
        for (int32_t k = 0; k < 2; k++) {
            double out[64], lse = naive_row(&a, &x, v, k, out);
            CHECK_NEAR(a.lse[v * 2 + k], lse, fabs(lse) * 2e-7 + 1e-5);
            for (int32_t j = 0; j < 4; j++) CHECK_NEAR(a.out[v * a.ld_out + k * 4 + j], out[j], k ? 2 * tolerance : 2e-3); /* logits of 20,000 */
        }
    inputs_free(&x);
    attention_free(&a);
    random_block_free(r);
}

TEST(gat_of_a_node_alone_is_the_node)
{
    int64_t       degree[4] = {0, 0, 0, 0}, none = 0;
    random_block* r = random_block_new(4, 4, degree);
    attention     a = attention_new(r, 2, 10, 0, 8);
    attention_forward(&a);
    attention_backward(&a);
    for (int v = 0; v < 4; v++) {
        CHECK(memcmp(a.out + v * a.ld_out, a.z + v * a.ld_z, 40) == 0);
        for (int j = 0; j < 10; j++) CHECK_NEAR(a.dz[v * a.ld_dz + j], a.dout[v * a.ld_out + j], 1e-6);
        for (int k = 0; k < 2; k++) CHECK_NEAR(a.del[v * 2 + k], 0, 1e-5);
    }
    r->b.num_dst.n = &none;
    a.out[0] = 7;
    attention_forward(&a);
    CHECK(a.out[0] == 7);
    attention_free(&a);
    random_block_free(r);
}

/* The softmax over one entry is 1 whatever its score is and whatever dropout does to it. Targets 0 to 7 are alone, and 0 to 3
   are no one's source; 300 edges of target 8 leave the others, so that their lists in the transpose take two segments. */
TEST(the_scores_of_a_node_alone_have_no_gradient)
{
    int64_t       degree[9] = {0, 0, 0, 0, 0, 0, 0, 0, 1200};
    random_block* r = random_block_new(9, 9, degree);
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] = (int32_t)(4 + e % 4);
    free(r->t.indptr), free(r->t.indices), free(r->t.edge);
    block_transpose_by_hand(r);
    for (int32_t heads = 1; heads <= 17; heads += 8)
        for (int i = 0; i < 4; i++) {
            attention a = attention_new(r, heads, heads * 10, (float)i * 0.3f, 2);
            int64_t   some = 0;
            attention_forward(&a);
            attention_backward(&a);
            for (int64_t k = 0; k < 8 * heads; k++) CHECK(a.der[k] == 0);
            for (int64_t k = 0; k < 4 * heads; k++) CHECK(a.del[k] == 0);
            for (int64_t k = 4 * heads; k < 9 * heads; k++) some += a.del[k] != 0;
            for (int64_t k = 8 * heads; k < 9 * heads; k++) some += a.der[k] != 0;
            CHECK_EQ(some, 6 * heads);
            attention_free(&a);
        }
    random_block_free(r);
}

/* The same from parts: a block with the self edges written out, SDDMM, LeakyReLU, edge softmax, SpMM. */
TEST(gat_equals_its_parts)
{
    random_block* r = random_block_mixed(20, 40);
    int64_t       degree[20];
    for (int v = 0; v < 20; v++) degree[v] = r->b.indptr[v + 1] - r->b.indptr[v] + 1;
    random_block* whole = random_block_new(20, 40, degree);
    for (int64_t v = 0; v < 20; v++) {
        whole->b.indices[whole->b.indptr[v]] = (int32_t)v;
        memcpy(whole->b.indices + whole->b.indptr[v] + 1, r->b.indices + r->b.indptr[v], (size_t)(degree[v] - 1) * 4);
    }
    attention a = attention_new(r, 4, 64, 0, 4);
    float*    alpha = test_floats(whole->edges * 4);
    float*    out = test_floats(20 * 64);
    attention_forward(&a);
    ggnn_sddmm(alpha, GGNN_ADD, &whole->b, a.el, 4, a.er, 4, 4, 4);
    for (int64_t i = 0; i < whole->edges * 4; i++) alpha[i] = alpha[i] > 0 ? alpha[i] : 0.2f * alpha[i];
    ggnn_edge_softmax(alpha, &whole->b, alpha, 4);
    ggnn_spmm(out, 64, NULL, GGNN_SUM, &whole->b, NULL, alpha, 4, a.z, a.ld_z, 64);
    for (int v = 0; v < 20; v++)
        for (int j = 0; j < 64; j++) CHECK_NEAR(a.out[v * a.ld_out + j], out[v * 64 + j], 2 * tolerance);
    free(alpha);
    free(out);
    attention_free(&a);
    random_block_free(whole);
    random_block_free(r);
}

/* ---- gradients ----------------------------------------------------------------------------------------------------------- */

static void check_difference(const attention* a, inputs* x, double* at, float got)
{
    double before = *at, step = 1e-5, up, down;
    *at = before + step;
    up = naive_loss(a, x);
    *at = before - step;
    down = naive_loss(a, x);
    *at = before;
    /* a gradient sums up to 100 terms of a coefficient times a dot of 8 or less */
    CHECK_NEAR(got, (up - down) / (2 * step), 40 * tolerance);
}

static void check_gradients(attention* a)
{
    inputs  x = inputs_of(a);
    int64_t changed = 0;
    for (int64_t u = 0; u < a->r->src; u++)
        for (int64_t j = a->width; j < a->ld_dz; j++) a->dz[u * a->ld_dz + j] = 1234;
    attention_forward(a);
    attention_backward(a);
    for (int round = 0; round < 40; round++) {
        int64_t u = round ? test_below(a->r->src) : 0, v = test_below(a->r->dst), j = test_below(a->width), k = test_below(a->heads);
        check_difference(a, &x, &x.z[u * a->ld_z + j], a->dz[u * a->ld_dz + j]);
        check_difference(a, &x, &x.el[u * a->heads + k], a->del[u * a->heads + k]);
        check_difference(a, &x, &x.er[v * a->heads + k], a->der[v * a->heads + k]);
    }
    for (int64_t u = 0; u < a->r->src; u++)
        for (int64_t j = a->width; j < a->ld_dz; j++) changed += a->dz[u * a->ld_dz + j] != 1234;
    CHECK_EQ(changed, 0);
    inputs_free(&x);
}

TEST(gat_back_equals_central_differences)
{
    random_block* r = random_block_mixed(14, 30); /* source 0 has over 100 edges */
    int64_t       hub[2] = {300, 300};
    random_block* narrow = random_block_new(2, 2, hub); /* sources of over 256 edges */
    for (int dropped = 0; dropped < 2; dropped++) {
        attention a = attention_new(r, 2, 10, dropped ? 0.3f : 0, 2), b = attention_new(r, 17, 34, dropped ? 0.3f : 0, 2);
        attention c = attention_new(narrow, 1, 8, dropped ? 0.3f : 0, 2);
        check_gradients(&a);
        r->b.id = NULL;
        check_gradients(&b);
        r->b.id = r->id;
        check_gradients(&c);
        attention_free(&a);
        attention_free(&b);
        attention_free(&c);
    }
    random_block_free(r);
    random_block_free(narrow);
}

/* ---- the same bits from all loops and threads -------------------------------------------------------------------------- */

static void set_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

static void run_all(attention* a, float* datt)
{
    attention_forward(a);
    attention_backward(a);
    ggnn_scores(a->el, a->z, a->ld_z, a->dout, a->r->src, a->heads, a->width);
    ggnn_scores_back(a->dz, a->ld_dz, datt, a->del, a->z, a->ld_z, a->dout, a->r->src, a->heads, a->width);
}

TEST(all_loops_and_threads_give_the_same_bits)
{
    static const int     threads[] = {1, 2, 3, 8};
    static const int32_t heads[] = {1, 2, 4, 8, 3, 17}, per_head[] = {1, 5, 8, 16, 32, 37, 64, 100};
    random_block*        r = random_block_mixed(40, 60);
    for (int i = 0; i < 48; i++) {
        uint64_t  seed = test_state;
        int32_t   h = heads[i % 6], width = h * per_head[i / 6];
        float     dropout = i % 5 == 0 ? 0.5f : 0, want_datt[1700], datt[1700];
        attention want = attention_new(r, h, width, dropout, 4);
        ggnn_level = 0;
        set_threads(1);
        run_all(&want, want_datt);
        for (int level = 0; level <= 3; level++) {
            test_state = seed;
            ggnn_level = level;
            set_threads(threads[(i + level) % 4]);
            attention got = attention_new(r, h, width, dropout, 4);
            run_all(&got, datt);
            int same = memcmp(want.out, got.out, (size_t)(r->dst * want.ld_out) * 4) == 0;
            same &= memcmp(want.lse, got.lse, (size_t)(r->dst * h) * 4) == 0 && memcmp(want.el, got.el, (size_t)(r->src * h) * 4) == 0;
            same &= memcmp(want.dz, got.dz, (size_t)(r->src * want.ld_dz) * 4) == 0 && memcmp(want_datt, datt, (size_t)width * 4) == 0;
            same &= memcmp(want.del, got.del, (size_t)(r->src * h) * 4) == 0 && memcmp(want.der, got.der, (size_t)(r->dst * h) * 4) == 0;
            if (!CHECK(same)) printf("  heads %d width %d level %d\n", h, width, level);
            attention_free(&got);
        }
        attention_free(&want);
    }
    ggnn_level = 3;
    set_threads(2);
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(13);
    RUN(scores_are_dots_of_each_head);
    RUN(scores_back_adds_rows_in_segments);
    RUN(gat_equals_attention_in_double);
    RUN(gat_drops_coefficients_by_keyed_fields);
    RUN(gat_keeps_a_running_maximum);
    RUN(gat_of_a_node_alone_is_the_node);
    RUN(the_scores_of_a_node_alone_have_no_gradient);
    RUN(gat_equals_its_parts);
    RUN(gat_back_equals_central_differences);
    RUN(all_loops_and_threads_give_the_same_bits);
    return test_finish();
}
