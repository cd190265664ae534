// split.cuh - a stable split of ids by owner, beside CUB's radix sort of the owners; rows put in order.
#ifndef BENCH_CUDA_SPLIT_CUH
#define BENCH_CUDA_SPLIT_CUH
#include "bench/cuda/unique.cuh"

namespace splits {

using namespace gpu;

struct split_run {
    ggnn_layout at;
    int64_t     n;
    ggnn_node*  id;
    int32_t *   gather, *scatter;
    int64_t*    bound; // (parts + 3)
    void*       workspace;

    cudaError_t run() const
    {
        return ggnn_cuda_split(gather, scatter, bound, &at, id, {nullptr, n}, workspace, stream());
    }
};

bool open_split(bench* b, split_run* s, int64_t n, int32_t parts)
{
    const int64_t nodes = 4 * n;
    s->at = {nullptr, 0, nullptr, nullptr, nodes, parts};
    s->n = n;
    s->id = make<ggnn_node>(b, n, "ids");
    s->gather = make<int32_t>(b, n, "a split");
    s->scatter = make<int32_t>(b, n, "a split");
    s->bound = make<int64_t>(b, parts + 3, "bounds");
    s->workspace = take(b, static_cast<int64_t>(ggnn_cuda_split_workspace_bytes(n, parts)), "a workspace");
    return s->id && s->gather && s->scatter && s->bound && s->workspace && random_ids(b, s->id, n, nodes, 1);
}

bool same_split(bench* b, const split_run& s)
{
    auto                 id = fetch(b, s.id, s.n);
    auto                 gather = fetch(b, s.gather, s.n), scatter = fetch(b, s.scatter, s.n);
    std::vector<int32_t> x(gather.size()), y(gather.size());
    std::vector<int64_t> bound(static_cast<size_t>(s.at.parts) + 3), ours = fetch(b, s.bound, s.at.parts + 3);
    ggnn_split(x.data(), y.data(), bound.data(), &s.at, id.data(), s.n);
    return bench_equal(b, "which ids", gather.data(), x.data(), x.size() * sizeof x[0]) &&
           bench_equal(b, "where ids are", scatter.data(), y.data(), y.size() * sizeof y[0]) &&
           bench_equal(b, "bounds", ours.data(), bound.data(), bound.size() * sizeof bound[0]);
}

__global__ void __launch_bounds__(THREADS)
    find_owners(int32_t* owner, const ggnn_node* id, int64_t n, int32_t parts)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < n; i += all)
        owner[i] = static_cast<int32_t>(id[i] % parts);
}

// The rival gives `gather` alone.
const bench_result* measure_sort(bench* b, const split_run& s, int32_t* sorted)
{
    int32_t *owner = make<int32_t>(b, s.n, "owners"), *up = make<int32_t>(b, s.n, "numbers"),
            *keys = make<int32_t>(b, s.n, "sorted owners");
    const int     bits = numbers::bits_of(s.at.parts);
    const int64_t n = s.n;
    size_t        bytes = 0;
    if (!owner || !up || !keys) return nullptr;
    cudaError_t e = cub::DeviceRadixSort::SortPairs(nullptr, bytes, owner, keys, up, sorted, n, 0, bits);
    void*       room = take(b, static_cast<int64_t>(bytes), "room for a sort");
    if (e == cudaSuccess) e = launch_items(numbers::count_up, n, stream(), up, n);
    if (!room || !good(b, e, "a sort")) return nullptr;
    const ggnn_node* id = s.id;
    const int32_t    parts = s.at.parts;
    bench_case       c = case_of(b, [=] {
        size_t      most = bytes;
        cudaError_t done = launch_items(find_owners, n, stream(), owner, id, n, parts);
        if (done != cudaSuccess) return done;
        return cub::DeviceRadixSort::SortPairs(room, most, owner, keys, up, sorted, n, 0, bits, stream());
    });
    name(&c, "radix sort of owners, %lld ids, %d parts", static_cast<long long>(n), parts);
    c.work = static_cast<double>(n);
    c.bytes = c.work * (sizeof(ggnn_node) + 8); // as of a split
    c.unit = "ids";
    c.rival = true;
    return bench_measure(b, &c);
}

// Least: ids in, two numbers an id out.
bool measure_split(bench* b, int64_t n, int32_t parts)
{
    const scratch mine(b);
    split_run*    s = own(b, new split_run());
    int32_t*      sorted = make<int32_t>(b, n, "sorted numbers");
    if (!s || !sorted || !open_split(b, s, n, parts)) return false;
    bench_case c = case_of(b, [s] { return s->run(); });
    name(&c, "%lld ids, %d parts", static_cast<long long>(n), parts);
    c.work = static_cast<double>(n);
    c.unit = "ids";
    c.bytes = c.work * (sizeof(ggnn_node) + 8);
    demand(&c, "copy", 0, c.bytes);
    const bench_result *ours = bench_measure(b, &c), *theirs = ours ? measure_sort(b, *s, sorted) : nullptr;
    if (theirs) {
        auto x = fetch(b, s->gather, n), y = fetch(b, sorted, n);
        if (!bench_equal(b, "which ids", x.data(), y.data(), x.size() * sizeof x[0])) return false;
    }
    return bench_ratio(b, ours, theirs, "CUB's radix sort", 0);
}

bool split(bench* b)
{
    split_run small;
    if (!open_split(b, &small, EMULATED ? 300 : 50000, 3) || !good(b, small.run(), "a split") ||
        !same_split(b, small))
        return false;
    for (int64_t n : {100000, 1000000, 16000000})
        for (int32_t parts : {2, 4, 8})
            if (n <= pick(b, 16000000, 1000000, 0) && !measure_split(b, n, parts)) return false;
    return !EMULATED || measure_split(b, 200, 4);
}

} // namespace splits
#endif
