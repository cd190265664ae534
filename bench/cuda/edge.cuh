// edge.cuh - SDDMM, edge softmax, fused graph attention forward and backward.
#ifndef BENCH_CUDA_EDGE_CUH
#define BENCH_CUDA_EDGE_CUH
#include "bench/cuda/sparse.cuh"

namespace edges {

using namespace gpu;

bool same_floats(bench* b, const char* what, const float* ours, const std::vector<float>& theirs)
{
    auto mine = fetch(b, ours, static_cast<int64_t>(theirs.size()));
    return bench_equal(b, what, mine.data(), theirs.data(), theirs.size() * sizeof(float));
}

// ==== SDDMM ================================================================================================

bool check_sddmm(bench* b, ggnn_edge_op how, int32_t heads, int32_t width, bool long_lists)
{
    sparse_case s;
    host_block  h;
    if (!sparse_small(b, &s, long_lists) || !fetch_block(b, &h, s.block)) return false;
    float *x = random_floats(b, s.S * width, 1), *y = random_floats(b, s.D * width, 2),
          *out = make<float>(b, s.E * heads, "dots");
    if (!x || !y || !out) return false;
    cudaError_t        e = ggnn_cuda_sddmm(out, how, &s.block, x, width, y, width, heads, width, stream());
    std::vector<float> theirs(static_cast<size_t>(s.E * heads)), hx = fetch(b, x, s.S * width),
                                                                 hy = fetch(b, y, s.D * width);
    ggnn_sddmm(theirs.data(), how, &h.block, hx.data(), width, hy.data(), width, heads, width);
    return good(b, e, "sddmm") && same_floats(b, "a dot", out, theirs);
}

bool measure_sddmm(bench* b, const sparse_case& s, ggnn_edge_op how, int32_t heads, int32_t width, bool cold)
{
    const scratch mine(b);
    float *       x = random_floats(b, s.S * width, 1), *y = random_floats(b, s.D * width, 2),
          *out = make<float>(b, s.E * heads, "dots");
    if (!x || !y || !out) return false;
    const ggnn_block block = s.block;
    const work       w = [=] {
        return ggnn_cuda_sddmm(out, how, &block, x, width, y, width, heads, width, stream());
    };
    bench_case c = case_of(b, w);
    name(&c, "%s %d x %d, %s", how == GGNN_DOT ? "dot" : "add", heads, width / heads, s.what);
    sparse_demand(&c, s, how == GGNN_DOT ? FLOPS_DOT : FLOPS_ADD, width, heads,
                  4.0 * static_cast<double>(s.D) * width, 4.0 * heads);
    c.cold = cold;
    return bench_measure(b, &c) != nullptr;
}

// ==== softmax ==============================================================================================

bool check_softmax(bench* b, int32_t heads, bool long_lists)
{
    sparse_case s;
    host_block  h;
    if (!sparse_small(b, &s, long_lists) || !fetch_block(b, &h, s.block)) return false;
    float *x = random_floats(b, s.E * heads, 1), *d = random_floats(b, s.E * heads, 2);
    float *out = make<float>(b, s.E * heads, "a softmax"),
          *back = make<float>(b, s.E * heads, "its gradient");
    if (!x || !d || !out || !back) return false;
    cudaError_t e = ggnn_cuda_edge_softmax(out, &s.block, x, heads, stream());
    e = ggnni::first_error(e, ggnn_cuda_edge_softmax_back(back, &s.block, out, d, heads, stream()));
    std::vector<float> hx = fetch(b, x, s.E * heads), hd = fetch(b, d, s.E * heads), hout(hx.size()),
                       hback(hx.size());
    ggnn_edge_softmax(hout.data(), &h.block, hx.data(), heads);
    ggnn_edge_softmax_back(hback.data(), &h.block, hout.data(), hd.data(), heads);
    return good(b, e, "softmax") && same_floats(b, "a softmax", out, hout) &&
           same_floats(b, "its gradient", back, hback);
}

bool measure_softmax(bench* b, const sparse_case& s, int32_t heads, bool back, bool cold)
{
    const scratch mine(b);
    float *       x = random_floats(b, s.E * heads, 1), *out = make<float>(b, s.E * heads, "a softmax");
    float*        d = back ? random_floats(b, s.E * heads, 2) : nullptr;
    if (!x || !out || (back && !d)) return false;
    const ggnn_block block = s.block;
    bench_case       c = case_of(b, [=] {
        return back ? ggnn_cuda_edge_softmax_back(out, &block, x, d, heads, stream())
                          : ggnn_cuda_edge_softmax(out, &block, x, heads, stream());
    });
    name(&c, "%s, %d head%s, %s", back ? "backward" : "forward", heads, heads > 1 ? "s" : "", s.what);
    c.work = static_cast<double>(s.E);
    c.unit = "edges";
    c.bytes = c.work * heads * (back ? 12 : 8) + 8.0 * static_cast<double>(s.D);
    c.flops = flops(back ? FLOPS_SOFTMAX_BACK : FLOPS_SOFTMAX, c.work, static_cast<double>(s.D), 0, heads);
    c.cold = cold;
    demand(&c, "copy", 0, c.bytes);
    return bench_measure(b, &c) != nullptr;
}

// ==== graph attention ======================================================================================

struct attention { // a layer's arrays, and what calls it
    sparse_case    s;
    ggnn_block     t;
    int32_t        heads, width;
    float *        z, *el, *er, *out, *lse, *dout, *dz, *del, *der;
    float *        delta, *dlogit, *coef; // scratch of backward

    ggnn_gat_layer layer() const
    {
        ggnn_gat_layer y = {};
        y.block = &s.block, y.z = z, y.ld_z = width, y.el = el, y.er = er, y.out = out, y.ld_out = width;
        y.lse = lse, y.heads = heads, y.width = width, y.how.slope = .2f;
        y.del = del, y.der = der, y.delta = delta, y.dlogit = dlogit, y.coef = coef;
        return y;
    }
    cudaError_t forward() const
    {
        const ggnn_gat_layer y = layer();
        return ggnn_cuda_gat(&y, nullptr, stream());
    }
    cudaError_t backward() const
    {
        const ggnn_gat_layer y = layer();
        return ggnn_cuda_gat_back(dz, width, &t, &y, dout, width, nullptr, stream());
    }
};

bool open_transpose(bench* b, attention* a)
{
    const sparse_case& s = a->s;
    void*              memory =
        take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_bytes(s.D, s.S, s.E)), "a transpose");
    void* workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_workspace_bytes(s.S)), "a workspace");
    if (!memory || !workspace) return false;
    ggnn_cuda_block_transpose_init(&a->t, s.D, s.S, s.E, memory);
    return good(b, ggnn_cuda_block_transpose(&a->t, &s.block, workspace, stream()), "a transpose");
}

bool open_attention(bench* b, attention* a, const sparse_case& s, int32_t heads, int32_t width)
{
    *a = {};
    a->s = s;
    a->heads = heads, a->width = width;
    a->z = random_floats(b, s.S * width, 1), a->el = random_floats(b, s.S * heads, 2);
    a->er = random_floats(b, s.D * heads, 3), a->dout = random_floats(b, s.D * width, 4);
    a->out = make<float>(b, s.D * width, "attention"), a->lse = make<float>(b, s.D * heads, "sums");
    a->dz = make<float>(b, s.S * width, "a gradient"), a->del = make<float>(b, s.S * heads, "a gradient");
    a->der = make<float>(b, s.D * heads, "a gradient");
    a->delta = make<float>(b, s.D * heads, "scratch"), a->dlogit = make<float>(b, (s.D + s.E) * heads, "scratch");
    a->coef = make<float>(b, (s.D + s.E) * heads, "scratch");
    return a->z && a->el && a->er && a->dout && a->out && a->lse && a->dz && a->del && a->der &&
           a->delta && a->dlogit && a->coef && open_transpose(b, a);
}

bool near(bench* b, const char* what, const float* ours, const std::vector<float>& theirs)
{
    auto mine = fetch(b, ours, static_cast<int64_t>(theirs.size()));
    return bench_near(b, what, mine.data(), theirs.data(), static_cast<int64_t>(theirs.size()), 1e-5);
}

bool check_attention(bench* b, int32_t heads, int32_t width, bool long_lists)
{
    sparse_case s;
    attention   a;
    host_block  h, t;
    if (!sparse_small(b, &s, long_lists) || !open_attention(b, &a, s, heads, width)) return false;
    if (!good(b, a.forward(), "attention") || !good(b, a.backward(), "attention, backward")) return false;
    if (!fetch_block(b, &h, s.block) || !fetch_block(b, &t, a.t)) return false;
    auto z = fetch(b, a.z, s.S * width), el = fetch(b, a.el, s.S * heads), er = fetch(b, a.er, s.D * heads),
         dout = fetch(b, a.dout, s.D * width);
    std::vector<float> out(dout.size()), lse(er.size()), dz(z.size()), del(el.size()), der(er.size());
    std::vector<float> delta(er.size()), dlogit(static_cast<size_t>((s.D + s.E) * heads));
    ggnn_gat_layer     y = a.layer();
    y.block = &h.block, y.z = z.data(), y.el = el.data(), y.er = er.data(), y.out = out.data();
    y.lse = lse.data(), y.del = del.data(), y.der = der.data(), y.delta = delta.data(), y.dlogit = dlogit.data();
    ggnn_gat(&y);
    ggnn_gat_back(dz.data(), width, &t.block, &y, dout.data(), width);
    return near(b, "attention", a.out, out) && near(b, "its sums", a.lse, lse) && near(b, "dz", a.dz, dz) &&
           near(b, "del", a.del, del) && near(b, "der", a.der, der);
}

// Forward reads a row of z and a score for each edge and target; backward for each edge the target's
// gradient, out again for delta, and a gradient of each logit, which it writes and reads.
bool measure_attention(bench* b, const sparse_case& s, int32_t heads, int32_t width, bool cold)
{
    const scratch mine(b);
    attention*    a = own(b, new attention());
    const double  D = static_cast<double>(s.D), S = static_cast<double>(s.S), row = 4.0 * width,
                 K = 4.0 * heads;
    if (!a || !open_attention(b, a, s, heads, width)) return false;
    bench_case c = case_of(b, [a] { return a->forward(); });
    name(&c, "forward %d x %d, %s", heads, width / heads, s.what);
    sparse_demand(&c, s, FLOPS_GAT, width, heads, D * (row + 2 * K) + S * K, 0);
    c.cold = cold;
    if (!bench_measure(b, &c)) return false;
    sparse_case turned = s;
    turned.D = s.S, turned.S = s.D;
    c = case_of(b, [a] { return a->backward(); });
    name(&c, "backward %d x %d, %s", heads, width / heads, s.what);
    sparse_demand(&c, turned, FLOPS_GAT_BACK, width, heads, 2 * S * row + D * row + 2 * (S + D) * K, 2 * K);
    c.cold = cold;
    return bench_measure(b, &c) != nullptr;
}

struct three { // blocks of a mini-batch's second layer and input layer, and a whole graph
    sparse_case inner, input, whole;
};

// The whole graph is of ogbn-arxiv's size.
bool open_three(bench* b, three* t)
{
    return sparse_open(b, &t->inner, pick(b, 14000, 14000, 30), 10, pick(b, 130000, 130000, 60)) &&
           sparse_open(b, &t->input, pick(b, 130000, 60000, 40), 5, pick(b, 502000, 200000, 80)) &&
           sparse_open_whole(b, &t->whole, pick(b, 169343, 50000, 200), EMULATED ? 10 : 13.8);
}

bool sddmm(bench* b)
{
    three t;
    for (bool long_lists : {false, true})
        for (int32_t heads : {1, 4})
            if (!check_sddmm(b, GGNN_DOT, heads, 64, long_lists) ||
                !check_sddmm(b, GGNN_ADD, heads, heads, long_lists))
                return false;
    if (!open_three(b, &t)) return false;
    for (int32_t width : {64, 256})
        for (int32_t heads : {1, 4, 8})
            if (!measure_sddmm(b, t.inner, GGNN_DOT, heads, width, true) ||
                !measure_sddmm(b, t.whole, GGNN_DOT, heads, width, false))
                return false;
    return measure_sddmm(b, t.inner, GGNN_ADD, 4, 4, true) &&
           measure_sddmm(b, t.whole, GGNN_ADD, 4, 4, false);
}

bool softmax(bench* b)
{
    three t;
    for (bool long_lists : {false, true})
        if (!check_softmax(b, 1, long_lists) || !check_softmax(b, 4, long_lists)) return false;
    if (!open_three(b, &t)) return false;
    for (int32_t heads : {1, 4})
        for (bool back : {false, true})
            if (!measure_softmax(b, t.inner, heads, back, true) ||
                !measure_softmax(b, t.input, heads, back, true) ||
                !measure_softmax(b, t.whole, heads, back, false))
                return false;
    return true;
}

// A whole graph of ogbn-products' size, where there is room for it.
bool products(bench* b)
{
    sparse_case s;
    if (free_bytes() < int64_t{32} << 30) return true;
    return sparse_open_whole(b, &s, 2449029, 50.5) && measure_attention(b, s, 4, 256, false);
}

bool gat(bench* b)
{
    static const int32_t shape[][2] = {{1, 64}, {4, 64}, {8, 8}, {8, 32}};
    three                t;
    for (bool long_lists : {false, true})
        if (!check_attention(b, 1, 64, long_lists) || !check_attention(b, 4, 32, long_lists)) return false;
    if (!open_three(b, &t)) return false;
    for (const int32_t* k : shape)
        if (!measure_attention(b, t.inner, k[0], k[0] * k[1], true) ||
            !measure_attention(b, t.input, k[0], k[0] * k[1], true) ||
            !measure_attention(b, t.whole, k[0], k[0] * k[1], false))
            return false;
    return b->o.quick || EMULATED || products(b);
}

} // namespace edges
#endif
