/* Graph attention: scores, the fused forward and its backward: to the bit what ggnn_reference.h says, in every form
   (forms.h); near double precision and central differences; and the same thing put together from the unfused ops. */
#include "tests/far_rows.h"
#include "tests/forms.h"
#include "tests/random_block.h"

/* ---- scores ---------------------------------------------------------------------------------------------------------- */

/* To the bit; and in double, where d products of numbers below 1 are summed. */
TEST(scores_are_dots_of_each_head)
{
    for (int32_t heads = 1; heads <= 20; heads += 3)
        for (int32_t width = heads; width <= heads * 40; width += 13 * heads) {
            int64_t n = 300, ld = width + 3;
            int32_t d = width / heads;
            float * z = test_floats(n * ld), *att = test_floats(width), *want = test_floats(n * heads), *el = test_floats(n * heads);
            int     close = 1;
            ggnn_ref_scores(want, z, ld, att, n, heads, width);
            FOR_EACH_FORM {
                form_poison(el, n * heads);
                ggnn_scores(el, z, ld, att, n, heads, width);
                CHECK_SAME(want, el, n * heads, "scores", width, heads);
            }
            for (int64_t u = 0; u < n; u++)
                for (int32_t k = 0; k < heads; k++) {
                    double dot = 0;
                    for (int32_t j = 0; j < d; j++) dot += (double)z[u * ld + k * d + j] * att[k * d + j];
                    close &= fabs(el[u * heads + k] - dot) <= d * (d + 8) / 16777216.0;
                }
            CHECK(close);
            free(z);
            free(att);
            free(want);
            free(el);
        }
}

/* dz is added to, its padding is not. datt in double: 600 products of numbers below 1. */
TEST(scores_back_adds_rows_in_segments)
{
    for (int32_t heads = 1; heads <= 20; heads += 3)
        for (int32_t width = heads; width <= heads * 40; width += 13 * heads) {
            int64_t n = 600, ld = width + 3;
            float * z = test_floats(n * ld), *att = test_floats(width), *del = test_floats(n * heads), *before = test_floats(n * ld);
            float * want = test_floats(n * ld), *dz = test_floats(n * ld), *want_datt = test_floats(width), *datt = test_floats(width);
            memcpy(want, before, (size_t)(n * ld) * 4);
            ggnn_ref_scores_back(want, ld, want_datt, del, z, ld, att, n, heads, width);
            FOR_EACH_FORM {
                memcpy(dz, before, (size_t)(n * ld) * 4);
                form_poison(datt, width);
                ggnn_scores_back(dz, ld, datt, del, z, ld, att, n, heads, width);
                CHECK_SAME(want, dz, n * ld, "dz of scores_back", width, heads);
                CHECK_SAME(want_datt, datt, width, "datt of scores_back", width, heads);
            }
            for (int32_t c = 0; c < width; c++) {
                double sum = 0;
                for (int64_t u = 0; u < n; u++) sum += (double)del[u * heads + c / (width / heads)] * z[u * ld + c];
                CHECK_NEAR(datt[c], sum, 259 * 600 / 16777216.0);
            }
            float* all[] = {z, att, del, before, want, dz, want_datt, datt};
            for (int i = 0; i < 8; i++) free(all[i]);
        }
}

/* ---- the fused op ------------------------------------------------------------------------------------------------------ */

typedef struct {
    random_block*  r;
    int32_t        heads, width;
    int64_t        ld_z, ld_out, ld_dz, ld_dout; /* each its own */
    float *        z, *el, *er, *dout;      /* inputs */
    float *        out, *lse;               /* forward */
    float *        dz, *del, *der;          /* backward */
    ggnn_attention how;
    float *        delta, *dlogit;          /* scratch of backward */
    float *        term, *own_term, *dterm; /* of edges: input, forward, backward; or NULL */
} attention;

static int with_term; /* attention_new gives edges terms */

static attention attention_new(random_block* r, int32_t heads, int32_t width, float dropout, float spread)
{
    attention a;
    memset(&a, 0, sizeof a);
    a.r = r;
    a.heads = heads;
    a.width = width;
    a.ld_z = width + 1;
    a.ld_out = width + 2;
    a.ld_dout = width + 4;
    a.ld_dz = width + 3;
    a.z = test_floats(r->src * a.ld_z);
    a.el = test_floats(r->src * heads);
    a.er = test_floats(r->dst * heads);
    a.dout = test_floats(r->dst * a.ld_dout);
    a.out = test_floats(r->dst * a.ld_out);
    a.lse = test_floats(r->dst * heads);
    a.dz = test_floats(r->src * a.ld_dz);
    a.del = test_floats(r->src * heads);
    a.der = test_floats(r->dst * heads);
    a.delta = test_floats(r->dst * heads);
    a.dlogit = test_floats((r->dst + r->edges) * heads);
    for (int64_t i = 0; i < r->src * heads; i++) a.el[i] *= spread;
    if (with_term) {
        a.term = test_floats(r->edges * heads);
        a.own_term = test_floats(r->dst * heads);
        a.dterm = test_floats(r->edges * heads);
        for (int64_t i = 0; i < r->edges * heads; i++) a.term[i] *= spread;
    }
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
    float* all[] = {a->z, a->el, a->er, a->dout, a->out, a->lse, a->dz, a->del, a->der, a->delta, a->dlogit, a->term, a->own_term, a->dterm};
    for (int i = 0; i < 14; i++) free(all[i]);
}

static ggnn_gat_layer layer_of(const attention* a)
{
    ggnn_gat_layer y;
    memset(&y, 0, sizeof y);
    y.block = &a->r->b, y.z = a->z, y.ld_z = a->ld_z, y.el = a->el, y.er = a->er, y.out = a->out, y.ld_out = a->ld_out;
    y.lse = a->lse, y.heads = a->heads, y.width = a->width, y.how = a->how;
    y.del = a->del, y.der = a->der, y.delta = a->delta, y.dlogit = a->dlogit;
    y.term = a->term, y.own_term = a->own_term, y.dterm = a->dterm;
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
    ggnn_gat_back(a->dz, a->ld_dz, &a->r->t, &y, a->dout, a->ld_dout);
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
    double *z, *el, *er, *term;
} inputs;

/* That of entry i; of the target itself the mean of its list's. */
static double naive_term(const attention* a, const inputs* x, int64_t v, int64_t i, int32_t k)
{
    const ggnn_block* b = &a->r->b;
    const int64_t     n = b->indptr[v + 1] - b->indptr[v];
    double            sum = 0;
    if (!x->term) return 0;
    for (int64_t j = i ? i - 1 : 0; j < (i ? i : n); j++) {
        const int64_t e = b->indptr[v] + j;
        sum += x->term[(b->edge ? b->edge[e] : e) * a->heads + k];
    }
    return i || n == 0 ? sum : sum / (double)n;
}

static double logit(const attention* a, const inputs* x, int64_t v, int64_t i, int32_t k)
{
    double sum = x->el[entry_source(a, v, i) * a->heads + k] + x->er[v * a->heads + k] + naive_term(a, x, v, i, k);
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
            for (int32_t j = 0; j < d; j++) loss += out[j] * a->dout[v * a->ld_dout + k * d + j];
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
    inputs x = {widened(a->z, a->r->src * a->ld_z), widened(a->el, a->r->src * a->heads), widened(a->er, a->r->dst * a->heads), NULL};
    if (a->term) x.term = widened(a->term, a->r->edges * a->heads);
    return x;
}

static void inputs_free(inputs* x)
{
    free(x->z);
    free(x->el);
    free(x->er);
    free(x->term);
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
            if (a->term) CHECK_NEAR(a->own_term[v * a->heads + k], naive_term(a, &x, v, 0, k), 200 / 16777216.0);
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
        with_term = heads % 2;
        attention a = attention_new(r, heads, heads * 4, 0.4f, 2);
        r->b.id = heads % 2 ? r->id : NULL;
        check_forward(&a);
        attention_free(&a);
    }
    with_term = 0;
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
        for (int j = 0; j < 10; j++) CHECK_NEAR(a.dz[v * a.ld_dz + j], a.dout[v * a.ld_dout + j], 1e-6);
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
    ggnn_block_transpose(&r->t, &r->b);
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

/* Sources that no edge leaves, targets among them and others: their gradients are written, too. More than one piece. */
TEST(sources_that_nobody_samples_have_gradients_of_zero)
{
    enum { DST = 700, SRC = 2000 };
    static int64_t degree[DST];
    for (int64_t v = 0; v < DST; v++) degree[v] = v % 3 ? 4 : 0;
    random_block* r = random_block_new(DST, SRC, degree);
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] -= r->b.indices[e] % 5; /* each fifth source */
    ggnn_block_transpose(&r->t, &r->b);
    const uint64_t seed = test_state;
    attention      want = attention_new(r, 2, 18, 0.3f, 2);
    test_state = seed;
    attention      got = attention_new(r, 2, 18, 0.3f, 2);
    ggnn_gat_layer y = layer_of(&want);
    float*         coef = test_floats((r->dst + r->edges) * 2);
    form_poison(want.dz, SRC * want.ld_dz);
    form_poison(want.del, SRC * 2);
    ggnn_ref_gat(&y);
    ggnn_ref_gat_back(want.dz, want.ld_dz, &r->t, &y, want.dout, want.ld_dout, coef);
    CHECK(want.dz[(SRC - 1) * want.ld_dz] == 0 && want.del[2 * SRC - 1] == 0);
    FOR_EACH_FORM {
        form_poison(got.dz, SRC * got.ld_dz);
        form_poison(got.del, SRC * 2);
        attention_forward(&got);
        attention_backward(&got);
        CHECK_SAME(want.out, got.out, DST * got.ld_out, "gat: out", 18, 2);
        CHECK_SAME(want.dz, got.dz, SRC * got.ld_dz, "gat_back: dz", 18, 2);
        CHECK_SAME(want.del, got.del, SRC * 2, "gat_back: del", 18, 2);
        CHECK_SAME(want.der, got.der, DST * 2, "gat_back: der", 18, 2);
    }
    free(coef);
    attention_free(&want);
    attention_free(&got);
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
        const int64_t e = test_below(a->r->edges) * a->heads + k;
        if (a->term) check_difference(a, &x, &x.term[e], a->dterm[e]);
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
    for (int i = 0; i < 4; i++) {
        const int dropped = i % 2;
        with_term = i / 2;
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
    with_term = 0;
    random_block_free(r);
    random_block_free(narrow);
}

/* With its vectors, a layer makes el and er and their gradients itself: the bits of the calls by hand, and the reference's. */
static void check_vectors(random_block* r, int32_t heads)
{
    const int32_t  width = heads * 12;
    attention      a = attention_new(r, heads, width, 0.3f, 4);
    attention      b = attention_new(r, heads, width, 0.3f, 4), ref = attention_new(r, heads, width, 0.3f, 4);
    float *        att_l = test_floats(width), *att_r = test_floats(width), *datt[6], *coef = test_floats((r->dst + r->edges) * heads);
    ggnn_gat_layer y = layer_of(&a);
    for (int i = 0; i < 6; i++) datt[i] = test_floats(width);
    y.att_l = att_l, y.att_r = att_r, y.datt_l = datt[0], y.datt_r = datt[1];
    CHECK_EQ(ggnn_gat(&y), GGNN_OK);
    CHECK_EQ(ggnn_gat_back(a.dz, a.ld_dz, &r->t, &y, a.dout, a.ld_dout), GGNN_OK);
    memcpy(b.z, a.z, (size_t)(r->src * a.ld_z) * 4); /* by hand */
    memcpy(b.dout, a.dout, (size_t)(r->dst * a.ld_dout) * 4);
    ggnn_scores(b.el, b.z, b.ld_z, att_l, r->src, heads, width);
    ggnn_scores(b.er, b.z, b.ld_z, att_r, r->dst, heads, width);
    attention_forward(&b);
    attention_backward(&b);
    ggnn_scores_back(b.dz, b.ld_dz, datt[2], b.del, b.z, b.ld_z, att_l, r->src, heads, width);
    ggnn_scores_back(b.dz, b.ld_dz, datt[3], b.der, b.z, b.ld_z, att_r, r->dst, heads, width);
    memcpy(ref.z, a.z, (size_t)(r->src * a.ld_z) * 4); /* and by the reference */
    memcpy(ref.dout, a.dout, (size_t)(r->dst * a.ld_dout) * 4);
    y = layer_of(&ref);
    y.att_l = att_l, y.att_r = att_r, y.datt_l = datt[4], y.datt_r = datt[5];
    ggnn_ref_gat(&y);
    ggnn_ref_gat_back(ref.dz, ref.ld_dz, &r->t, &y, ref.dout, ref.ld_dout, coef);
    for (int i = 0; i < 4; i += 2) {
        const attention* other = i ? &ref : &b;
        CHECK(same_floats(a.el, other->el, r->src * heads) && same_floats(a.er, other->er, r->dst * heads));
        for (int64_t v = 0; v < r->dst; v++) CHECK(same_floats(a.out + v * a.ld_out, other->out + v * a.ld_out, width));
        for (int64_t u = 0; u < r->src; u++) CHECK(same_floats(a.dz + u * a.ld_dz, other->dz + u * a.ld_dz, width));
        CHECK(same_floats(datt[0], datt[2 + i], width) && same_floats(datt[1], datt[3 + i], width));
    }
    for (int i = 0; i < 6; i++) free(datt[i]);
    free(att_l);
    free(att_r);
    free(coef);
    attention_free(&a);
    attention_free(&b);
    attention_free(&ref);
}
TEST(a_layer_with_its_vectors_scores_by_itself)
{
    random_block* r = random_block_mixed(30, 50);
    for (int32_t heads = 1; heads <= 17; heads += 8) check_vectors(r, heads);
    random_block_free(r);
}

/* Either vector may be given without the other: what is not given is not written. */
TEST(a_layer_may_have_one_of_its_vectors)
{
    random_block* r = random_block_mixed(20, 40);
    const int32_t heads = 3, width = 15;
    for (int given = 0; given < 4; given++) {
        const uint64_t seed = test_state;
        float *        att[2] = {test_floats(width), test_floats(width)}, *datt[4], *coef = test_floats((r->dst + r->edges) * heads);
        const uint64_t inputs_seed = test_state;
        attention      a = attention_new(r, heads, width, 0.3f, 4);
        test_state = inputs_seed;
        attention      ref = attention_new(r, heads, width, 0.3f, 4);
        ggnn_gat_layer y = layer_of(&a), z = layer_of(&ref);
        for (int i = 0; i < 4; i++) form_poison(datt[i] = test_floats(width), width);
        y.att_l = z.att_l = given & 1 ? att[0] : NULL, y.att_r = z.att_r = given & 2 ? att[1] : NULL;
        y.datt_l = datt[0], y.datt_r = datt[1], z.datt_l = datt[2], z.datt_r = datt[3];
        CHECK_EQ(ggnn_gat(&y), GGNN_OK);
        CHECK_EQ(ggnn_gat_back(a.dz, a.ld_dz, &r->t, &y, a.dout, a.ld_dout), GGNN_OK);
        ggnn_ref_gat(&z);
        ggnn_ref_gat_back(ref.dz, ref.ld_dz, &r->t, &z, ref.dout, ref.ld_dout, coef);
        CHECK(same_floats(ref.el, a.el, r->src * heads) && same_floats(ref.er, a.er, r->dst * heads));
        CHECK(same_floats(ref.out, a.out, r->dst * a.ld_out) && same_floats(ref.lse, a.lse, r->dst * heads));
        CHECK(same_floats(ref.dz, a.dz, r->src * a.ld_dz) && same_floats(ref.del, a.del, r->src * heads) && same_floats(ref.der, a.der, r->dst * heads));
        CHECK(same_floats(datt[2], datt[0], width) && same_floats(datt[3], datt[1], width));
        CHECK((datt[0][0] == 1234) == !(given & 1) && (datt[1][width - 1] == 1234) == !(given & 2));
        for (int i = 0; i < 4; i++) free(datt[i]);
        free(att[0]);
        free(att[1]);
        free(coef);
        attention_free(&a);
        attention_free(&ref);
        test_state = seed + 1;
    }
    random_block_free(r);
}

/* A score of 0 has the slope of those below it: L is not > 0. */
TEST(scores_of_zero_have_the_slope)
{
    random_block* r = random_block_mixed(14, 20);
    for (int zero = 0; zero < 3; zero++) { /* 0 + 0, -0 - 0, and x - x */
        const uint64_t seed = test_state;
        attention      a = attention_new(r, 2, 10, 0, 1);
        test_state = seed;
        attention      ref = attention_new(r, 2, 10, 0, 1);
        ggnn_gat_layer y = layer_of(&ref);
        float*         coef = test_floats((r->dst + r->edges) * 2);
        int64_t        some = 0;
        for (int64_t i = 0; i < r->src * 2; i++) a.el[i] = ref.el[i] = zero == 1 ? -0.0f : zero ? 0.375f : 0;
        for (int64_t i = 0; i < r->dst * 2; i++) a.er[i] = ref.er[i] = zero == 1 ? -0.0f : zero ? -0.375f : 0;
        ggnn_ref_gat(&y);
        ggnn_ref_gat_back(ref.dz, ref.ld_dz, &r->t, &y, ref.dout, ref.ld_dout, coef);
        for (int64_t i = 0; i < r->src * 2; i++) some += fabsf(ref.del[i]) > 1e-4f;
        CHECK(some > 10);
        FOR_EACH_FORM {
            form_poison(a.del, r->src * 2);
            attention_forward(&a);
            attention_backward(&a);
            CHECK_SAME(ref.del, a.del, r->src * 2, "gat_back: del", 10, 2);
            CHECK_SAME(ref.der, a.der, r->dst * 2, "gat_back: der", 10, 2);
            CHECK_SAME(ref.lse, a.lse, r->dst * 2, "gat: lse", 10, 2);
        }
        free(coef);
        attention_free(&a);
        attention_free(&ref);
    }
    random_block_free(r);
}

/* Slopes from 0 on, dropout below 1 (of less than half a field's step: none), layers up to 255: the first and last that are
   allowed are computed, those past them refused. */
TEST(slope_dropout_and_layer_are_allowed_to_their_limits)
{
    static const struct {
        float   slope, dropout;
        int32_t layer;
        int     allowed;
    } cases[] = {{0, 0, 0, 1},     {1, 0, 0, 1},      {3.5f, 0, 0, 1},       {-0.0f, 0, 0, 1}, {-1e-6f, 0, 0, 0},     {0.2f, 0.999f, 0, 1},
                 {0.2f, 1e-6f, 0, 1}, {0.2f, -1e-6f, 0, 0}, {0.2f, -0.5f, 0, 0}, {0.2f, 1, 0, 0}, {0.2f, 0.5f, 255, 1}, {0.2f, 0.5f, 256, 0},
                 {0.2f, 0.5f, -1, 0}, {0.2f, 0, 255, 1}, {0.2f, 0, 256, 0}, {0.2f, 0, -1, 0}, {NAN, 0, 0, 0}, {0.2f, NAN, 0, 0}};
    random_block* r = random_block_mixed(14, 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint64_t seed = test_state;
        attention      a = attention_new(r, 2, 10, cases[i].dropout, 4);
        test_state = seed;
        attention      ref = attention_new(r, 2, 10, cases[i].dropout, 4);
        ggnn_gat_layer y = layer_of(&a), z = layer_of(&ref);
        float*         coef = test_floats((r->dst + r->edges) * 2);
        y.how.slope = z.how.slope = cases[i].slope, y.how.layer = z.how.layer = cases[i].layer;
        const ggnn_status want = cases[i].allowed ? GGNN_OK : GGNN_ERROR_ARGUMENT;
        CHECK_EQ(ggnn_gat(&y), want);
        CHECK_EQ(ggnn_gat_back(a.dz, a.ld_dz, &r->t, &y, a.dout, a.ld_dout), want);
        if (cases[i].allowed) {
            ggnn_ref_gat(&z);
            ggnn_ref_gat_back(ref.dz, ref.ld_dz, &r->t, &z, ref.dout, ref.ld_dout, coef);
        }
        CHECK(same_floats(ref.out, a.out, r->dst * a.ld_out) && same_floats(ref.lse, a.lse, r->dst * 2));
        CHECK(same_floats(ref.dz, a.dz, r->src * a.ld_dz) && same_floats(ref.del, a.del, r->src * 2) && same_floats(ref.der, a.der, r->dst * 2));
        free(coef);
        attention_free(&a);
        attention_free(&ref);
    }
    random_block_free(r);
}

/* The sum over no rows is 0, and no row is added to. */
TEST(scores_of_no_rows)
{
    float datt[6], dz[1] = {7};
    form_poison(datt, 6);
    CHECK_EQ(ggnn_scores(NULL, NULL, 6, NULL, 0, 2, 6), GGNN_OK);
    CHECK_EQ(ggnn_scores_back(dz, 6, datt, NULL, NULL, 6, NULL, 0, 2, 6), GGNN_OK);
    for (int i = 0; i < 6; i++) CHECK(datt[i] == 0);
    CHECK(dz[0] == 7);
    const int64_t  degree = 0; /* nor in a layer of no nodes */
    const float    att[6] = {1, 2, 3, 4, 5, 6};
    float          datt_r[6];
    random_block*  r = random_block_new(0, 0, &degree);
    attention      none = attention_new(r, 2, 6, 0, 1);
    ggnn_gat_layer y = layer_of(&none);
    y.att_l = y.att_r = att, y.datt_l = datt, y.datt_r = datt_r;
    form_poison(datt, 6);
    form_poison(datt_r, 6);
    CHECK_EQ(ggnn_gat(&y), GGNN_OK);
    CHECK_EQ(ggnn_gat_back(none.dz, none.ld_dz, &r->t, &y, none.dout, none.ld_dout), GGNN_OK);
    for (int i = 0; i < 6; i++) CHECK(datt[i] == 0 && datt_r[i] == 0);
    attention_free(&none);
    random_block_free(r);
}

/* ---- to the bit ------------------------------------------------------------------------------------------------------- */

/* Forward and backward of `got` in this form, against those of `want`, which has the same inputs. */
static void check_bits(const attention* want, attention* got)
{
    const random_block* r = want->r;
    float*              written[] = {got->out, got->lse, got->dz, got->del, got->der};
    const int64_t       size[] = {r->dst * got->ld_out, r->dst * got->heads, r->src * got->ld_dz, r->src * got->heads, r->dst * got->heads};
    if (got->term) form_poison(got->own_term, size[1]), form_poison(got->dterm, r->edges * got->heads);
    for (int i = 0; i < 5; i++) form_poison(written[i], size[i]);
    attention_forward(got);
    attention_backward(got);
    CHECK_SAME(want->out, got->out, size[0], "gat: out", got->width, got->heads);
    CHECK_SAME(want->lse, got->lse, size[1], "gat: lse", got->width, got->heads);
    CHECK_SAME(want->dz, got->dz, size[2], "gat_back: dz", got->width, got->heads);
    CHECK_SAME(want->del, got->del, size[3], "gat_back: del", got->width, got->heads);
    CHECK_SAME(want->der, got->der, size[4], "gat_back: der", got->width, got->heads);
    if (!want->term) return;
    CHECK_SAME(want->own_term, got->own_term, size[1], "gat: own_term", got->width, got->heads);
    CHECK_SAME(want->dterm, got->dterm, r->edges * got->heads, "gat_back: dterm", got->width, got->heads);
}

TEST(rows_may_lie_gigabytes_apart)
{
    enum { N = 6, WIDTH = 20, HEADS = 2 };
    const int64_t degree[N] = {2, 0, 3, 1, 4, 9};
    random_block* r = random_block_new(N, N, degree);
    attention     near = attention_new(r, HEADS, WIDTH, 0.3f, 1), far = near;
    float         el[N * HEADS], far_el[N * HEADS], datt[WIDTH], far_datt[WIDTH], att[WIDTH];
    attention_forward(&near);
    attention_backward(&near);
    far.z = far_rows(near.z, near.ld_z, N, WIDTH), far.dout = far_rows(near.dout, near.ld_dout, N, WIDTH);
    far.out = far_rows(near.z, near.ld_z, N, WIDTH), far.dz = far_rows(near.z, near.ld_z, N, WIDTH);
    far.ld_z = far.ld_out = far.ld_dz = far.ld_dout = far_ld;
    for (int i = 0; i < WIDTH; i++) att[i] = test_uniform();
    FOR_EACH_FORM {
        if (!far.z || !far.dout || !far.out || !far.dz) continue;
        attention_forward(&far);
        attention_backward(&far);
        CHECK(far_same(far.out, near.out, near.ld_out, N, WIDTH) && far_same(far.dz, near.dz, near.ld_dz, N, WIDTH));
        CHECK_EQ(ggnn_scores(el, near.z, near.ld_z, att, N, HEADS, WIDTH), GGNN_OK);
        CHECK_EQ(ggnn_scores(far_el, far.z, far_ld, att, N, HEADS, WIDTH), GGNN_OK);
        CHECK(memcmp(el, far_el, sizeof el) == 0);
        for (int i = 0; i < N; i++) memcpy(near.out + i * near.ld_out, near.dz + i * near.ld_dz, WIDTH * sizeof(float)); /* as a second dz */
        CHECK_EQ(ggnn_scores_back(near.out, near.ld_out, datt, el, near.z, near.ld_z, att, N, HEADS, WIDTH), GGNN_OK);
        CHECK_EQ(ggnn_scores_back(far.dz, far_ld, far_datt, el, far.z, far_ld, att, N, HEADS, WIDTH), GGNN_OK);
        CHECK(far_same(far.dz, near.out, near.ld_out, N, WIDTH) && memcmp(datt, far_datt, sizeof datt) == 0);
        attention_forward(&near);
    }
    if (!far.z || !far.dout || !far.out || !far.dz) test_skip = "no address space for rows 2 GiB apart";
    float* all[] = {far.z, far.dout, far.out, far.dz};
    for (int i = 0; i < 4; i++) far_free(all[i], N);
    attention_free(&near);
    random_block_free(r);
}

/* Scores of -infinity in all of a segment, the first one's of head 0 too, of which nothing is left; one that is infinite, one NaN. */
static void make_wild(attention* a, int64_t list)
{
    const int64_t begin = a->r->b.indptr[list];
    for (int32_t k = 0; k < a->heads; k++) {
        for (int64_t e = begin + 511; e < begin + 900; e++) a->el[a->r->b.indices[e] * a->heads + k] = -INFINITY;
        if (k == 1) a->el[a->r->b.indices[begin + 5000] * a->heads + k] = INFINITY;
        if (k == 2) a->el[a->r->b.indices[begin + 6000] * a->heads + k] = NAN;
        if (k > 0) continue;
        for (int64_t e = begin; e < begin + 300; e++) a->el[a->r->b.indices[e] * a->heads] = -INFINITY;
        a->el[list * a->heads] = -INFINITY;
    }
}

/* Bits of the reference, in every few forms. */
static int64_t wild_list = -1; /* whose scores make_wild sets */
static void check_order(random_block* r, int32_t h, int32_t width, float dropout, int term, int i)
{
    with_term = term;
    uint64_t       seed = test_state;
    attention      want = attention_new(r, h, width, dropout, 4);
    ggnn_gat_layer y = layer_of(&want);
    float*         coef = test_floats((r->dst + r->edges) * h);
    if (wild_list >= 0) make_wild(&want, wild_list);
    form_poison(want.out, r->dst * want.ld_out); /* the padding too */
    form_poison(want.dz, r->src * want.ld_dz);
    ggnn_ref_gat(&y);
    ggnn_ref_gat_back(want.dz, want.ld_dz, &r->t, &y, want.dout, want.ld_dout, coef);
    test_state = seed;
    attention got = attention_new(r, h, width, dropout, 4);
    if (wild_list >= 0) make_wild(&got, wild_list);
    FOR_EACH_FORM if (form % 4 == i % 4 || i % 8 == 0) check_bits(&want, &got);
    free(coef);
    attention_free(&want);
    attention_free(&got);
    with_term = 0;
}

TEST(gat_and_its_gradient_follow_the_order_of_their_sums)
{
    static const int64_t hubs[] = {1500, 1600, 3, 0}; /* sources of over 512 edges, that of the target alone, too */
    static const int32_t heads[] = {1, 2, 4, 8, 3, 17}, per_head[] = {1, 5, 8, 16, 32, 37, 64, 100};
    random_block*        blocks[] = {random_block_mixed(40, 60), random_block_new(4, 5, hubs)};
    for (int term = 0; term < 2; term++)
        for (int i = 0; i < 52; i++) { /* the last four: three passes */
            const int32_t h = i < 48 ? heads[i % 6] : 33, width = h * (i < 48 ? per_head[i / 6] : i - 47);
            check_order(blocks[(i < 48 ? i / 6 : i) % 2], h, width, i % 5 == 0 ? 0.5f : 0, term, i);
        }
    random_block_free(blocks[0]);
    random_block_free(blocks[1]);
}

/* Of many segments, whose greatest scores come first, later and last. */
TEST(attention_of_hubs_is_that_of_other_lists)
{
    static const int64_t degree[] = {1024, 3, 11000, 1023, 0, 1025, 4095, 70};
    static const int32_t heads[] = {1, 4, 20, 3}, width[] = {1, 400, 60, 27}; /* heads go sixteen at a time */
    random_block*        r = random_block_new(sizeof degree / sizeof *degree, 900, degree);
    for (int i = 0; i < 4; i++) check_order(r, heads[i], width[i], i % 2 ? 0.3f : 0, i == 2, 8);
    wild_list = 2;
    check_order(r, 5, 35, 0, 0, 8);
    wild_list = -1;
    random_block* few = random_block_new(sizeof degree / sizeof *degree, 9, degree); /* sources are hubs, too: of the backward */
    for (int i = 0; i < 4; i++) check_order(few, heads[i], width[i], i % 2 ? 0.3f : 0, i == 2, 8);
    FOR_EACH_FORM if (form % 4 == 0) check_vectors(few, form % 8 ? 17 : 3); /* heads go sixteen at a time */
    static const int64_t whole[] = {8192}; /* edges of a node to itself: two rounds, and one entry more than segments hold */
    random_block*        one = random_block_new(1, 1, whole);
    check_order(one, 4, 128, 0, 0, 8);
    random_block_free(one);
    random_block_free(few);
    random_block_free(r);
}

/* A graph's transpose as the block: terms and their gradients lie by b->edge. A target without edges has no term. */
TEST(terms_lie_by_the_numbers_of_edges)
{
    const int64_t degree[12] = {3, 0, 5, 1, 300, 2, 0, 4, 2, 2, 1, 6};
    random_block* r = random_block_new(12, 12, degree);
    char*         memory = (char*)test_memory((int64_t)ggnn_block_transpose_bytes(12, 12, r->edges));
    ggnn_block    back, own = r->b, own_t = r->t;
    ggnn_block_transpose_init(&back, 12, 12, r->edges, memory);
    ggnn_block_transpose(&back, &r->t);
    r->b = r->t, r->t = back;
    with_term = 1;
    for (int i = 0; i < 4; i++) {
        uint64_t       seed = test_state;
        attention      want = attention_new(r, 1 + i % 2 * 16, (1 + i % 2 * 16) * 3, i / 2 ? 0.3f : 0, 2);
        ggnn_gat_layer y = layer_of(&want);
        float*         coef = test_floats((r->dst + r->edges) * want.heads);
        form_poison(want.out, r->dst * want.ld_out);
        form_poison(want.dz, r->src * want.ld_dz);
        ggnn_ref_gat(&y);
        ggnn_ref_gat_back(want.dz, want.ld_dz, &r->t, &y, want.dout, want.ld_dout, coef);
        test_state = seed;
        attention got = attention_new(r, want.heads, want.width, want.how.dropout, 2);
        FOR_EACH_FORM check_bits(&want, &got);
        check_gradients(&got);
        check_forward(&got);
        for (int64_t v = 0; v < r->dst; v++)
            if (r->b.indptr[v] == r->b.indptr[v + 1]) CHECK(got.own_term[v * got.heads] == 0);
        free(coef);
        attention_free(&want);
        attention_free(&got);
    }
    with_term = 0;
    r->b = own, r->t = own_t;
    free(memory);
    random_block_free(r);
}

/* PyG: terms of 0 score as none; a block without edges has terms of no edge, and needs no array of them. */
TEST(terms_of_zero_are_as_none)
{
    const int64_t none[3] = {0, 0, 0};
    random_block* blocks[] = {random_block_mixed(14, 30), random_block_new(3, 3, none)};
    for (int i = 0; i < 2; i++) {
        random_block*  r = blocks[i];
        const uint64_t seed = test_state;
        attention      want = attention_new(r, 2, 10, 0.3f, 2);
        test_state = seed, with_term = 1;
        attention got = attention_new(r, 2, 10, 0.3f, 2);
        with_term = 0;
        for (int64_t e = 0; e < r->edges * 2; e++) got.term[e] = 0;
        attention_forward(&want);
        attention_backward(&want);
        FOR_EACH_FORM {
            attention_forward(&got);
            attention_backward(&got);
            CHECK(same_floats(want.out, got.out, r->dst * got.ld_out) && same_floats(want.lse, got.lse, r->dst * 2));
            CHECK(same_floats(want.dz, got.dz, r->src * got.ld_dz) && same_floats(want.del, got.del, r->src * 2));
            CHECK(same_floats(want.der, got.der, r->dst * 2));
            for (int64_t k = 0; i == 1 && k < 6; k++) CHECK(got.own_term[k] == 0);
        }
        attention_free(&want);
        attention_free(&got);
        random_block_free(r);
    }
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
    RUN(sources_that_nobody_samples_have_gradients_of_zero);
    RUN(gat_equals_its_parts);
    RUN_SLOW(gat_back_equals_central_differences);
    RUN(a_layer_with_its_vectors_scores_by_itself);
    RUN(a_layer_may_have_one_of_its_vectors);
    RUN(scores_of_zero_have_the_slope);
    RUN(slope_dropout_and_layer_are_allowed_to_their_limits);
    RUN(scores_of_no_rows);
    RUN(rows_may_lie_gigabytes_apart);
    RUN(gat_and_its_gradient_follow_the_order_of_their_sums);
    RUN(attention_of_hubs_is_that_of_other_lists);
    RUN(terms_lie_by_the_numbers_of_edges);
    RUN(terms_of_zero_are_as_none);
    return test_finish();
}
