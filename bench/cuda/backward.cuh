// backward.cuh - gradients of sums over edges: over the transpose, whose building is a case of its own,
// and by float atomics; and the input layer in one pass, beside gathering its rows first.
#ifndef BENCH_CUDA_BACKWARD_CUH
#define BENCH_CUDA_BACKWARD_CUH
#include "bench/cuda/sparse.cuh"
#include "ggnn_reference.h"

namespace gradients {

using namespace gpu;

struct gradient {
    sparse_case s;
    ggnn_block  t;
    int32_t     width;
    float *     dout, *dinp;
    void*       workspace;

    cudaError_t build() { return ggnn_cuda_block_transpose(&t, &s.block, workspace, stream()); }
    cudaError_t over_transpose() const
    {
        return ggnn_cuda_spmm(dinp, width, nullptr, GGNN_SUM, &t, nullptr, nullptr, 1, dout, width, width,
                              stream());
    }
    cudaError_t by_atomics() const
    {
        return ggnn_cuda_spmm_atomic(dinp, width, &s.block, nullptr, nullptr, 1, dout, width, width,
                                     stream());
    }
};

bool open_gradient(bench* b, gradient* g, const sparse_case& s, int32_t width)
{
    g->s = s;
    g->width = width;
    void* memory =
        take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_bytes(s.D, s.S, s.E)), "a transpose");
    g->workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_workspace_bytes(s.S)), "a workspace");
    g->dout = random_floats(b, s.D * width, 1);
    g->dinp = make<float>(b, s.S * width, "a gradient");
    if (!memory || !g->workspace || !g->dout || !g->dinp) return false;
    ggnn_cuda_block_transpose_init(&g->t, s.D, s.S, s.E, memory);
    return good(b, g->build(), "a transpose");
}

// The transpose gives the C twin's bits; atomics add in any order.
bool check_gradient(bench* b, int32_t width, bool long_lists)
{
    sparse_case s;
    gradient    g;
    host_block  h, t;
    if (!sparse_small(b, &s, long_lists) || !open_gradient(b, &g, s, width) || !fetch_block(b, &h, s.block) ||
        !fetch_block(b, &t, g.t))
        return false;
    auto               dout = fetch(b, g.dout, s.D * width);
    std::vector<float> theirs(static_cast<size_t>(s.S * width));
    ggnn_spmm(theirs.data(), width, nullptr, GGNN_SUM, &t.block, nullptr, nullptr, 1, dout.data(), width,
              width);
    if (!good(b, g.over_transpose(), "a gradient")) return false;
    auto ours = fetch(b, g.dinp, s.S * width);
    if (!bench_equal(b, "a gradient", ours.data(), theirs.data(), ours.size() * sizeof(float))) return false;
    ggnn_ref_spmm_scatter(theirs.data(), width, &h.block, nullptr, nullptr, 1, dout.data(), width, width);
    if (!good(b, g.by_atomics(), "a gradient by atomics")) return false;
    ours = fetch(b, g.dinp, s.S * width);
    return bench_near(b, "a gradient by atomics", ours.data(), theirs.data(), s.S * width, 1e-5);
}

// Least: a row of dout for each target, of dinp for each source.
bool measure_gradient(bench* b, const sparse_case& s, int32_t width)
{
    const scratch mine(b);
    gradient*     g = own(b, new gradient());
    if (!g || !open_gradient(b, g, s, width)) return false;
    sparse_case turned = s;
    turned.D = s.S, turned.S = s.D;
    bench_case c = case_of(b, [g] {
        cudaError_t e = g->build();
        return e == cudaSuccess ? g->over_transpose() : e;
    });
    name(&c, "transpose, built, F %d, %s", width, s.what);
    sparse_demand(&c, turned, FLOPS_SUM, width, 1, 4.0 * static_cast<double>(s.S) * width, 12);
    c.cold = true;
    const bench_result* built = bench_measure(b, &c);
    c = case_of(b, [g] { return g->over_transpose(); });
    name(&c, "transpose, kept, F %d, %s", width, s.what);
    sparse_demand(&c, turned, FLOPS_SUM, width, 1, 4.0 * static_cast<double>(s.S) * width, 4);
    c.cold = true;
    const bench_result* kept = built ? bench_measure(b, &c) : nullptr;
    c = case_of(b, [g] { return g->by_atomics(); });
    name(&c, "atomics, F %d, %s", width, s.what);
    sparse_demand(&c, turned, FLOPS_SUM, width, 1, 4.0 * static_cast<double>(s.S) * width, 4);
    c.cold = true;
    const bench_result* atomics = kept ? bench_measure(b, &c) : nullptr;
    return atomics && bench_ratio(b, built, atomics, "atomics", 0);
}

// ==== the input layer ======================================================================================

// Sums of stored rows of a block's sources, in one pass or gathered first.
struct input_layer {
    ggnn_block block;
    made_store from;
    float *    gathered, *out;
    int64_t    D, S;

    cudaError_t fused() const
    {
        return ggnn_cuda_aggregate(out, from.store.width, GGNN_MEAN, &block, nullptr, nullptr, 1, &from.store,
                                   stream());
    }
    cudaError_t in_two() const
    {
        const int32_t F = from.store.width;
        cudaError_t   e =
            ggnn_cuda_gather(gathered, F, GGNN_F32, &from.store, block.id, {nullptr, S}, stream());
        return ggnni::first_error(e, ggnn_cuda_spmm(out, F, nullptr, GGNN_MEAN, &block, nullptr, nullptr, 1,
                                                    gathered, F, F, stream()));
    }
};

bool measure_input(bench* b, int64_t rows, int64_t sources, int32_t width)
{
    const scratch here(b);
    input_layer*  p = own(b, new input_layer());
    const int64_t nodes = pick(b, 2449029, 400000, 2000);
    sparse_case   s;
    if (!p || !sparse_open(b, &s, rows, 5, sources) || !make_store(b, &p->from, nodes, width, 1))
        return false;
    p->block = s.block, p->D = s.D, p->S = s.S;
    p->block.id = make<ggnn_node>(b, s.S, "ids");
    p->gathered = make<float>(b, s.S * width, "gathered rows");
    p->out = make<float>(b, s.D * width, "means");
    if (!p->block.id || !p->gathered || !p->out || !distinct_ids(b, p->block.id, s.S, nodes, 2)) return false;
    bench_case c = case_of(b, [p] { return p->fused(); });
    name(&c, "one pass, F %d, %s", width, s.what);
    sparse_demand(&c, s, FLOPS_MEAN, width, 1, 4.0 * static_cast<double>(s.D) * width, sizeof(ggnn_node));
    c.cold = true;
    const bench_result* ours = bench_measure(b, &c);
    auto                mine = fetch(b, p->out, s.D * width);
    name(&c, "gather, then spmm, F %d, %s", width, s.what);
    bench_case two = case_of(b, [p] { return p->in_two(); });
    c.run = two.run, c.context = two.context;
    const bench_result* theirs = ours ? bench_measure(b, &c) : nullptr;
    auto                other = fetch(b, p->out, s.D * width);
    return theirs && bench_equal(b, "a mean", mine.data(), other.data(), mine.size() * sizeof(float)) &&
           bench_ratio(b, ours, theirs, "gather, then spmm", 1.5);
}

bool check_input(bench* b, int32_t width, bool long_lists)
{
    input_layer p;
    host_block  h;
    sparse_case s;
    if (!sparse_small(b, &s, long_lists) || !make_store(b, &p.from, 3 * s.S, width, 1) ||
        !fetch_block(b, &h, s.block))
        return false;
    p.block = s.block;
    p.block.id = make<ggnn_node>(b, s.S, "ids");
    p.out = make<float>(b, s.D * width, "means");
    if (!p.block.id || !p.out || !distinct_ids(b, p.block.id, s.S, 3 * s.S, 2)) return false;
    if (!good(b, p.fused(), "means")) return false;
    auto               table = fetch(b, p.from.table, 3 * s.S * width), ours = fetch(b, p.out, s.D * width);
    auto               id = fetch(b, p.block.id, s.S);
    ggnn_store         store = ggnn_store_plain(table.data(), 3 * s.S, width, GGNN_F32);
    std::vector<float> theirs(ours.size());
    h.block.id = id.data();
    ggnn_aggregate(theirs.data(), width, GGNN_MEAN, &h.block, nullptr, nullptr, 1, &store);
    return bench_equal(b, "a mean of stored rows", ours.data(), theirs.data(), ours.size() * sizeof(float));
}

bool backward(bench* b)
{
    sparse_case small, large;
    for (bool long_lists : {false, true})
        for (int32_t width : {3, 64})
            if (!check_gradient(b, width, long_lists)) return false;
    if (!sparse_open(b, &small, pick(b, 3500, 3500, 30), 10, pick(b, 34000, 34000, 60)) ||
        !sparse_open(b, &large, pick(b, 110000, 50000, 40), 10, pick(b, 600000, 200000, 80)))
        return false;
    for (int32_t width : {64, 256, 512})
        if (!measure_gradient(b, small, width) || !measure_gradient(b, large, width)) return false;
    return true;
}

bool input(bench* b)
{
    for (bool long_lists : {false, true})
        for (int32_t width : {3, 100})
            if (!check_input(b, width, long_lists)) return false;
    for (int32_t width : {100, 128, 256})
        if (!measure_input(b, pick(b, 14000, 14000, 20), pick(b, 70000, 70000, 60), width) ||
            !measure_input(b, pick(b, 130000, 60000, 40), pick(b, 502000, 200000, 90), width))
            return false;
    return true;
}

} // namespace gradients
#endif
