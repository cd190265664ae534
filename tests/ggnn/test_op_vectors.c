/* The sparse ops against PyTorch: forward and backward of each on the block of tests/vectors/op_vectors.h. */
#include "ggnn_reference.h"
#include "tests/test.h"
#include "tests/vectors/op_vectors.h"

enum { D = OP_NUM_DST, S = OP_NUM_SRC, E = OP_E, K = OP_HEADS, W = OP_HEADS * OP_WIDTH };

static int64_t    num_dst = D, num_src = S, num_edges = E;
static int64_t    indptr[D + 1], t_indptr[S + 1];
static int32_t    indices[E], t_indices[E], t_edge[E];
static ggnn_block b, t;

static void make_blocks(void)
{
    memcpy(indptr, op_indptr, sizeof indptr);
    memcpy(indices, op_indices, sizeof indices);
    for (int e = 0; e < E; e++) t_indptr[indices[e] + 1]++;
    for (int u = 0; u < S; u++) t_indptr[u + 1] += t_indptr[u];
    for (int u = 0, at = 0; u < S; u++)
        for (int v = 0; v < D; v++)
            for (int64_t e = indptr[v]; e < indptr[v + 1]; e++)
                if (indices[e] == u) {
                    t_indices[at] = v;
                    t_edge[at++] = (int32_t)e;
                }
    ggnn_count dst = {&num_dst, D}, src = {&num_src, S}, edges = {&num_edges, E};
    b.num_dst = t.num_src = dst;
    b.num_src = t.num_dst = src;
    b.num_edges = t.num_edges = edges;
    b.indptr = indptr;
    b.indices = indices;
    t.indptr = t_indptr;
    t.indices = t_indices;
    t.edge = t_edge;
}

/* The vectors are doubles; inputs among them are exact in float. */
static const float* narrow(float* out, const double* v, int n)
{
    for (int i = 0; i < n; i++) out[i] = (float)v[i];
    return out;
}
#define INPUT(name, n) float name##_memory[n]; const float* name = narrow(name##_memory, op_##name, n)

/* At most 6 terms, all within 16 in size. */
static void check_equal(const float* got, const double* want, int n)
{
    for (int i = 0; i < n; i++) CHECK_NEAR(got[i], want[i], 2e-6);
}

TEST(spmm_sum_equals_torch)
{
    INPUT(spmm_sum_x, S * W);
    INPUT(spmm_sum_weight, E * K);
    INPUT(spmm_sum_dout, D * W);
    float out[D * W], dx[S * W], dweight[E * K];
    ggnn_spmm(out, W, NULL, GGNN_SUM, &b, NULL, spmm_sum_weight, K, spmm_sum_x, W, W);
    check_equal(out, op_spmm_sum_out, D * W);
    ggnn_spmm(dx, W, NULL, GGNN_SUM, &t, NULL, spmm_sum_weight, K, spmm_sum_dout, W, W);
    check_equal(dx, op_spmm_sum_dx, S * W);
    ggnn_ref_spmm_scatter(dx, W, &b, NULL, spmm_sum_weight, K, spmm_sum_dout, W, W);
    check_equal(dx, op_spmm_sum_dx, S * W);
    ggnn_sddmm(dweight, GGNN_DOT, &b, spmm_sum_x, W, spmm_sum_dout, W, K, W);
    check_equal(dweight, op_spmm_sum_dweight, E * K);
}

TEST(spmm_mean_equals_torch)
{
    INPUT(spmm_mean_x, S * W);
    INPUT(spmm_mean_weight, E * K);
    INPUT(spmm_mean_dout, D * W);
    float      out[D * W], dx[S * W], inv[D];
    ggnn_scale back = {inv, NULL, NULL};
    ggnn_spmm(out, W, NULL, GGNN_MEAN, &b, NULL, spmm_mean_weight, K, spmm_mean_x, W, W);
    check_equal(out, op_spmm_mean_out, D * W);
    ggnn_scale_mean(inv, &b, 0);
    ggnn_spmm(dx, W, NULL, GGNN_SUM, &t, &back, spmm_mean_weight, K, spmm_mean_dout, W, W);
    check_equal(dx, op_spmm_mean_dx, S * W);
}

static void check_extreme(ggnn_reduce how, const float* x, const float* weight, const float* dout, const double* want,
                          const int32_t* want_arg, const double* want_dx)
{
    float   out[D * W], dx[S * W];
    int32_t arg[D * W];
    ggnn_spmm(out, W, arg, how, &b, NULL, weight, K, x, W, W);
    check_equal(out, want, D * W);
    for (int i = 0; i < D * W; i++) CHECK_EQ(arg[i], want_arg[i]);
    ggnn_spmm_back_arg(dx, W, &t, &b, weight, K, dout, W, arg, W);
    check_equal(dx, want_dx, S * W);
}

TEST(spmm_max_and_min_equal_torch)
{
    INPUT(spmm_max_x, S * W);
    INPUT(spmm_max_weight, E * K);
    INPUT(spmm_max_dout, D * W);
    INPUT(spmm_min_x, S * W);
    INPUT(spmm_min_weight, E * K);
    INPUT(spmm_min_dout, D * W);
    check_extreme(GGNN_MAX, spmm_max_x, spmm_max_weight, spmm_max_dout, op_spmm_max_out, op_spmm_max_arg, op_spmm_max_dx);
    check_extreme(GGNN_MIN, spmm_min_x, spmm_min_weight, spmm_min_dout, op_spmm_min_out, op_spmm_min_arg, op_spmm_min_dx);
}

TEST(sddmm_equals_torch)
{
    INPUT(sddmm_dot_x, S * W);
    INPUT(sddmm_dot_y, D * W);
    INPUT(sddmm_dot_dout, E * K);
    INPUT(sddmm_add_el, S * K);
    INPUT(sddmm_add_er, D * K);
    INPUT(sddmm_add_dout, E * K);
    float out[E * K], dx[S * W], dy[D * W];
    ggnn_sddmm(out, GGNN_DOT, &b, sddmm_dot_x, W, sddmm_dot_y, W, K, W);
    check_equal(out, op_sddmm_dot_out, E * K);
    ggnn_spmm(dx, W, NULL, GGNN_SUM, &t, NULL, sddmm_dot_dout, K, sddmm_dot_y, W, W);
    check_equal(dx, op_sddmm_dot_dx, S * W);
    ggnn_spmm(dy, W, NULL, GGNN_SUM, &b, NULL, sddmm_dot_dout, K, sddmm_dot_x, W, W);
    check_equal(dy, op_sddmm_dot_dy, D * W);
    ggnn_sddmm(out, GGNN_ADD, &b, sddmm_add_el, K, sddmm_add_er, K, K, K);
    check_equal(out, op_sddmm_add_out, E * K);
    ggnn_edge_sum(dx, &t, sddmm_add_dout, K);
    check_equal(dx, op_sddmm_add_del, S * K);
    ggnn_edge_sum(dy, &b, sddmm_add_dout, K);
    check_equal(dy, op_sddmm_add_der, D * K);
}

TEST(edge_softmax_equals_torch)
{
    INPUT(edge_softmax_logit, E * K);
    INPUT(edge_softmax_dout, E * K);
    float out[E * K], dlogit[E * K];
    ggnn_edge_softmax(out, &b, edge_softmax_logit, K);
    check_equal(out, op_edge_softmax_out, E * K);
    ggnn_edge_softmax_back(dlogit, &b, out, edge_softmax_dout, K);
    check_equal(dlogit, op_edge_softmax_dlogit, E * K);
}

TEST(gat_equals_torch)
{
    INPUT(gat_z, S * W);
    INPUT(gat_el, S * K);
    INPUT(gat_er, D * K);
    INPUT(gat_dout, D * W);
    float          out[D * W], lse[D * K], dz[S * W], el[S * K], er[D * K], del[S * K], der[D * K], delta[D * K], dlogit[(D + E) * K];
    ggnn_gat_layer y;
    memset(&y, 0, sizeof y);
    memcpy(el, gat_el, sizeof el);
    memcpy(er, gat_er, sizeof er);
    y.block = &b, y.z = gat_z, y.ld_z = W, y.el = el, y.er = er, y.out = out, y.ld_out = W, y.lse = lse, y.heads = K, y.width = W;
    y.how.slope = 0.2f;
    y.del = del, y.der = der, y.delta = delta, y.dlogit = dlogit;
    ggnn_gat(&y);
    check_equal(out, op_gat_out, D * W);
    check_equal(lse, op_gat_lse, D * K);
    ggnn_gat_back(dz, W, &t, &y, gat_dout, W);
    check_equal(dz, op_gat_dz, S * W);
    check_equal(del, op_gat_del, S * K);
    check_equal(der, op_gat_der, D * K);
}

TEST(gat_with_terms_equals_torch)
{
    INPUT(gat_term_z, S * W);
    INPUT(gat_term_el, S * K);
    INPUT(gat_term_er, D * K);
    INPUT(gat_term_term, E * K);
    INPUT(gat_term_dout, D * W);
    float          out[D * W], lse[D * K], dz[S * W], el[S * K], er[D * K], del[S * K], der[D * K], delta[D * K], dlogit[(D + E) * K];
    float          own_term[D * K], dterm[E * K];
    ggnn_gat_layer y;
    memset(&y, 0, sizeof y);
    memcpy(el, gat_term_el, sizeof el);
    memcpy(er, gat_term_er, sizeof er);
    y.block = &b, y.z = gat_term_z, y.ld_z = W, y.el = el, y.er = er, y.out = out, y.ld_out = W, y.lse = lse, y.heads = K, y.width = W;
    y.how.slope = 0.2f;
    y.term = gat_term_term, y.own_term = own_term, y.dterm = dterm;
    y.del = del, y.der = der, y.delta = delta, y.dlogit = dlogit;
    ggnn_gat(&y);
    check_equal(out, op_gat_term_out, D * W);
    check_equal(lse, op_gat_term_lse, D * K);
    ggnn_gat_back(dz, W, &t, &y, gat_term_dout, W);
    check_equal(dz, op_gat_term_dz, S * W);
    check_equal(del, op_gat_term_del, S * K);
    check_equal(der, op_gat_term_der, D * K);
    check_equal(dterm, op_gat_term_dterm, E * K);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    make_blocks();
    RUN(spmm_sum_equals_torch);
    RUN(spmm_mean_equals_torch);
    RUN(spmm_max_and_min_equal_torch);
    RUN(sddmm_equals_torch);
    RUN(edge_softmax_equals_torch);
    RUN(gat_equals_torch);
    RUN(gat_with_terms_equals_torch);
    return test_finish();
}
