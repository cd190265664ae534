// sparse.cuh - what the benches of operations over edges share.
#ifndef BENCH_CUDA_SPARSE_CUH
#define BENCH_CUDA_SPARSE_CUH
#include <cmath>
#include <cstdio>

#include "bench/cuda/common.cuh"
#include "bench/flops.h"

namespace gpu {

struct sparse_case { // a block on the device, and how long it is
    ggnn_block block;
    int64_t    D, S, E;
    char       what[56];
};

bool sparse_open(bench* b, sparse_case* s, int64_t rows, int64_t degree, int64_t sources)
{
    s->D = rows, s->S = sources, s->E = rows * degree;
    snprintf(s->what, sizeof s->what, "%lld x %lld", static_cast<long long>(rows),
             static_cast<long long>(degree));
    return make_block(b, &s->block, rows, degree, sources);
}

bool sparse_open_whole(bench* b, sparse_case* s, int64_t nodes, double mean)
{
    made_graph g;
    int64_t*   counts = make<int64_t>(b, 3, "sizes of a graph");
    if (!counts || !make_graph(b, &g, nodes, mean, false, 1)) return false;
    s->D = s->S = nodes, s->E = g.graph.num_edges;
    int32_t* copy = sizeof(ggnn_node) > 4 ? make<int32_t>(b, s->E, "a graph's edges") : nullptr;
    if (sizeof(ggnn_node) > 4 && !copy) return false;
    snprintf(s->what, sizeof s->what, "graph of %.3g M edges", 1e-6 * static_cast<double>(s->E));
    return good(b, ggnn_cuda_block_whole(&s->block, &g.graph, counts, copy, stream()),
                "the whole graph");
}

// To be compared with the C twin: short lists, or ones of several segments of 256 edges.
bool sparse_small(bench* b, sparse_case* s, bool long_lists)
{
    if (long_lists) return sparse_open(b, s, 3, 700, 7);
    return sparse_open(b, s, EMULATED ? 40 : 500, 7, EMULATED ? 90 : 2000);
}

float* random_floats(bench* b, int64_t n, uint64_t seed)
{
    float* x = make<float>(b, n, "a matrix");
    return x && fill(b, x, n, seed) ? x : nullptr;
}

// Work, bytes, operations of `what` (flops.h) and demands of an operation that reads a row of `width` floats for
// each edge and writes `out` bytes: each
// row that is used comes from memory once, where all of them exceed the cache; every edge's row from the
// cache; `edge_bytes` an edge and the rest in order. s may be turned, as what `what` goes over backward is.
void sparse_demand(bench_case* c, const sparse_case& s, flops_of what, int32_t width, int32_t heads, double out,
                   double edge_bytes)
{
    const double E = static_cast<double>(s.E), S = static_cast<double>(s.S), row = 4.0 * width;
    const double used = S * (1 - std::pow(1 - 1 / S, E)); // sources that some edge has, where ends are random
    c->work = E;
    c->unit = "edges";
    c->bytes = used * row + out + 8 * static_cast<double>(s.D) + E * (4 + edge_bytes);
    c->flops = flops(what, E, what == FLOPS_GAT_BACK ? S : static_cast<double>(s.D), width, heads);
    demand(c, "copy", 0, c->bytes);
    if (width % 4 == 0) demand(c, "rows-l2", width * 4, E * row);
    if (width % 4 == 0 && used * row > static_cast<double>(l2_bytes()))
        demand(c, "rows", width * 4, used * row);
}

} // namespace gpu
#endif
