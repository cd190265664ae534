// growth.cuh - what a mini-batch and its rows cost on ever larger graphs: from 100,000 nodes to
// ogbn-papers100M's 111 million and 1.6 billion edges, or as many as fit. Beyond the cache's size the cost of
// a seed should stay.
#ifndef BENCH_CUDA_GROWTH_CUH
#define BENCH_CUDA_GROWTH_CUH
#include "bench/cuda/block.cuh"

namespace growths {

using namespace gpu;

constexpr int32_t WIDTH = 128;

// Bytes of a graph, its degrees while it is made, the direct map and rows.
int64_t bytes_of(int64_t nodes, double mean)
{
    return nodes * (16 + 8 + WIDTH * 4) +
           static_cast<int64_t>(static_cast<double>(nodes) * mean) * 4 * (sizeof(ggnn_node) / 4);
}

bool measure_size(bench* b, int64_t nodes, double mean, int64_t seeds)
{
    const scratch mine(b);
    made_graph*   g = own(b, new made_graph());
    made_store*   from = own(b, new made_store());
    if (!g || !from || !make_graph(b, g, nodes, mean, false, 1) || !make_store(b, from, nodes, WIDTH, 2))
        return false;
    blocks::batches* s = own(b, new blocks::batches());
    size_t           launches = 0;
    if (!s || !blocks::open_batches(b, s, *g, seeds, blocks::sampling(false), GGNN_UNIQUE_DIRECT, 32))
        return false;
    const ggnn_block* last = &s->batch.hop[2];
    float*            rows = make<float>(b, last->num_src.max * WIDTH, "rows of a mini-batch");
    if (!rows) return false;
    const work both = [=] {
        cudaError_t e = s->sample();
        if (e != cudaSuccess) return e;
        return ggnn_cuda_gather(rows, WIDTH, GGNN_F32, &from->store, s->batch.id, last->num_src, stream());
    };
    const work w = captured(b, both, &launches);
    if (!w || !good(b, w(), "a mini-batch")) return false;
    const blocks::batch_size n = blocks::size_of(b, *s);
    const double             inputs = static_cast<double>(fetch(b, last->num_src.n, 1)[0]);
    bench_case               c = case_of(b, w);
    name(&c, "%.3g M nodes, %.3g M edges, %lld seeds", 1e-6 * static_cast<double>(nodes),
         1e-6 * static_cast<double>(g->graph.num_edges), static_cast<long long>(seeds));
    c.work = n.edges;
    c.unit = "edges";
    c.bytes = n.lists + n.bytes + inputs * WIDTH * 8;
    c.add = true;
    demand(&c, "rows", 64, n.lists);
    demand(&c, "copy", 0, n.bytes + inputs * WIDTH * 8);
    demand(&c, "graph-node", 0, static_cast<double>(launches));
    const bench_result* r = bench_measure(b, &c);
    if (r) bench_note(b, r, "distinct rows", inputs, "rows");
    return r != nullptr;
}

bool growth(bench* b)
{
    static const struct {
        int64_t nodes;
        double  mean;
    } sizes[] = {{100000, 14.5}, {1000000, 14.5}, {2449029, 50.5}, {10000000, 14.5}, {111059956, 14.5}};
    const int64_t most = free_bytes() - (int64_t{4} << 30), seeds = pick(b, 1024, 1024, 4);
    if (EMULATED) return measure_size(b, 500, 10, seeds);
    for (const auto& s : sizes) {
        if (b->o.quick && s.nodes > 1000000) continue;
        int64_t nodes = s.nodes;
        while (nodes > 100000 && bytes_of(nodes, s.mean) > most) nodes = nodes / 4 * 3;
        if (!measure_size(b, nodes, s.mean, seeds)) return false;
    }
    return true;
}

} // namespace growths
#endif
