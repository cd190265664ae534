// spmm.cuh - sums, means, maxima of rows over blocks and over a whole graph.
#ifndef BENCH_CUDA_SPMM_CUH
#define BENCH_CUDA_SPMM_CUH
#ifdef HAVE_CUSPARSE
#include "bench/cuda/cusparse.cuh"
#endif
#include "bench/cuda/sparse.cuh"

namespace sums {

using namespace gpu;

// ==== answers ==============================================================================================

bool check_spmm(bench* b, ggnn_reduce how, int32_t width, bool long_lists)
{
    sparse_case s;
    host_block  h;
    if (!sparse_small(b, &s, long_lists) || !fetch_block(b, &h, s.block)) return false;
    float *    x = random_floats(b, s.S * width, 1), *out = make<float>(b, s.D * width, "sums");
    const bool chosen = how == GGNN_MAX;
    int32_t*   arg = chosen ? make<int32_t>(b, s.D * width, "which was largest") : nullptr;
    if (!x || !out || (chosen && !arg)) return false;
    if (!good(b,
              ggnn_cuda_spmm(out, width, arg, how, &s.block, nullptr, nullptr, 1, x, width, width, stream()),
              "spmm"))
        return false;
    auto                 inp = fetch(b, x, s.S * width), ours = fetch(b, out, s.D * width);
    std::vector<float>   theirs(ours.size());
    std::vector<int32_t> which(ours.size());
    ggnn_spmm(theirs.data(), width, chosen ? which.data() : nullptr, how, &h.block, nullptr, nullptr, 1,
              inp.data(), width, width);
    if (!bench_equal(b, "a sum", ours.data(), theirs.data(), ours.size() * sizeof(float))) return false;
    if (!chosen) return true;
    auto args = fetch(b, arg, s.D * width);
    return bench_equal(b, "which was largest", args.data(), which.data(), which.size() * sizeof(int32_t));
}

// ==== speed ================================================================================================

const char* const reduce_name[] = {"sum", "mean", "max", "min"};

const bench_result* measure_spmm(bench* b, const sparse_case& s, ggnn_reduce how, int32_t width, bool cold)
{
    const scratch mine(b);
    float *       x = random_floats(b, s.S * width, 1), *out = make<float>(b, s.D * width, "sums");
    int32_t*      arg = how == GGNN_MAX ? make<int32_t>(b, s.D * width, "which was largest") : nullptr;
    if (!x || !out || (how == GGNN_MAX && !arg)) return nullptr;
    const ggnn_block block = s.block;
    bench_case       c = case_of(b, [=] {
        return ggnn_cuda_spmm(out, width, arg, how, &block, nullptr, nullptr, 1, x, width, width, stream());
    });
    name(&c, "%s, F %d, %s", reduce_name[how], width, s.what);
    const flops_of math = how == GGNN_MEAN ? FLOPS_MEAN : how == GGNN_MAX ? FLOPS_MAX : FLOPS_SUM;
    sparse_demand(&c, s, math, width, 1, static_cast<double>(s.D) * width * (arg ? 8 : 4), 0);
    c.cold = cold;
    const bench_result* r = bench_measure(b, &c);
#ifdef HAVE_CUSPARSE
    if (r && how == GGNN_SUM && !rivals::spmm(b, r, s, width, x, out, cold)) return nullptr;
#endif
    return r;
}

bool spmm(bench* b)
{
    sparse_case inner, input, whole;
    for (bool long_lists : {false, true})
        for (int32_t width : {3, 32, 100})
            if (!check_spmm(b, GGNN_SUM, width, long_lists) || !check_spmm(b, GGNN_MEAN, width, long_lists))
                return false;
    if (!sparse_open(b, &inner, pick(b, 14000, 14000, 30), 10, pick(b, 130000, 130000, 60)) ||
        !sparse_open(b, &input, pick(b, 130000, 60000, 40), 5, pick(b, 502000, 200000, 80)) ||
        !sparse_open_whole(b, &whole, pick(b, 2449029, 100000, 200), EMULATED ? 10 : 50.5))
        return false;
    for (int32_t width : {100, 128, 256})
        if (!measure_spmm(b, inner, GGNN_SUM, width, true) ||
            !measure_spmm(b, input, GGNN_MEAN, width, true) ||
            !measure_spmm(b, whole, GGNN_SUM, width, false))
            return false;
    return true;
}

bool max(bench* b)
{
    sparse_case inner, whole;
    for (bool long_lists : {false, true})
        for (int32_t width : {3, 100})
            if (!check_spmm(b, GGNN_MAX, width, long_lists)) return false;
    if (!sparse_open(b, &inner, pick(b, 14000, 14000, 30), 10, pick(b, 130000, 130000, 60)) ||
        !sparse_open_whole(b, &whole, pick(b, 2449029, 100000, 200), EMULATED ? 10 : 50.5))
        return false;
    return measure_spmm(b, inner, GGNN_MAX, 256, true) && measure_spmm(b, whole, GGNN_MAX, 128, false);
}

} // namespace sums
#endif
