// block.cuh - whole mini-batches, 15,10,5: each a captured graph, whose first node takes new seeds and
// draws.
#ifndef BENCH_CUDA_BLOCK_CUH
#define BENCH_CUDA_BLOCK_CUH
#include <cstdio>
#include <cstring>

#include "bench/cuda/common.cuh"

namespace blocks {

using namespace gpu;

// Batch rng->step of an endless shuffled row of nodes.
__global__ void __launch_bounds__(THREADS)
    next_seeds(ggnn_node* seeds, ggnn_rng* rng, const uint32_t* step, int64_t n, int64_t nodes)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS, first = static_cast<int64_t>(*step) * n;
    const int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    for (int64_t i = t; i < n; i += all)
        seeds[i] = static_cast<ggnn_node>(ggnn_shuffle(5, 0, (first + i) % nodes, nodes));
    if (t == 0) rng->step = *step;
}
__global__ void __launch_bounds__(32) next_step(uint32_t* step)
{
    if (threadIdx.x == 0) ++*step;
}

struct batches {
    const made_graph* g;
    int64_t           seeds;
    ggnn_cuda_batch   batch;
    ggnn_node*        seed;
    ggnn_rng*         rng;
    uint32_t*         step;

    cudaError_t sample()
    {
        cudaError_t e = launch_items(next_seeds, seeds, stream(), seed, rng,
                                     static_cast<const uint32_t*>(step), seeds, g->graph.num_nodes);
        if (e == cudaSuccess) e = launch(next_step, 1, 32, stream(), step);
        if (e != cudaSuccess) return e;
        return ggnn_cuda_sample(&batch, &g->graph, rng, seed, {nullptr, seeds}, stream());
    }
};

bool open_batches(bench* b, batches* s, const made_graph& g, int64_t seeds, const ggnn_sampling& how,
                  ggnn_unique_kind kind, int32_t group)
{
    const ggnn_rng rng = {9, 0, GGNN_PURPOSE_SAMPLE};
    const int64_t  nodes = g.graph.num_nodes;
    s->g = &g;
    s->seeds = seeds;
    if (ggnn_cuda_batch_plan(&s->batch, &g.graph, &how, seeds, nullptr) != GGNN_OK)
        return error_set(&b->why, "%s: a mini-batch: %s", b->entry, s->batch.fault.what);
    const int64_t ids = s->batch.max_ids;
    void*         table =
        take(b, static_cast<int64_t>(ggnn_cuda_unique_bytes(kind, nodes, ids)), "the ids of a mini-batch");
    s->seed = make<ggnn_node>(b, seeds, "seeds");
    s->rng = send(b, &rng, 1, "random numbers");
    s->step = make<uint32_t>(b, 1, "a step");
    if (!table || !s->seed || !s->rng || !s->step) return false;
    ggnn_cuda_unique seen;
    cudaError_t      e = ggnn_cuda_unique_init(&seen, kind, nodes, ids, table, stream());
    seen.group = group;
    ggnn_cuda_batch_plan(&s->batch, &g.graph, &how, seeds, &seen);
    void* memory = take(b, static_cast<int64_t>(s->batch.bytes), "a mini-batch");
    return memory && good(b, ggnni::first_error(e, ggnn_cuda_batch_init(&s->batch, memory, stream())), "a mini-batch");
}

ggnn_sampling sampling(bool last_global)
{
    ggnn_sampling how = {};
    how.num_hops = 3;
    how.fanout[0] = 15, how.fanout[1] = 10, how.fanout[2] = 5;
    how.last_hop_global = last_global;
    return how;
}

// ==== answers ==============================================================================================

bool same_hop(bench* b, const ggnn_block& ours, const ggnn_block& theirs)
{
    host_block    h;
    const int64_t sizes[] = {*theirs.num_dst.n, *theirs.num_src.n, *theirs.num_edges.n};
    if (!fetch_block(b, &h, ours) || !bench_equal(b, "sizes of a hop", h.counts, sizes, sizeof sizes))
        return false;
    if (!bench_equal(b, "offsets of a hop", h.block.indptr, theirs.indptr, (sizes[0] + 1) * sizeof(int64_t)))
        return false;
    if (theirs.indices)
        return bench_equal(b, "edges of a hop", h.block.indices, theirs.indices, sizes[2] * sizeof(int32_t));
    return bench_equal(b, "neighbours of a hop", h.block.neighbor, theirs.neighbor,
                       sizes[2] * sizeof(ggnn_node));
}

// The batch that the device has just sampled, by the C twin.
bool same_batch(bench* b, const batches& s, const host_graph& g)
{
    ggnn_batch  batch;
    ggnn_status status = ggnn_batch_plan(&batch, &g.graph, &s.batch.how, s.seeds, nullptr);
    void*       memory = bench_new(b, batch.bytes, "a mini-batch");
    if (!memory) return false;
    auto seeds = fetch(b, s.seed, s.seeds);
    auto rng = fetch(b, s.rng, 1);
    if (status == GGNN_OK) status = ggnn_batch_init(&batch, memory);
    if (status == GGNN_OK) status = ggnn_sample(&batch, &g.graph, rng.data(), seeds.data(), s.seeds);
    if (status != GGNN_OK)
        return error_set(&b->why, "%s: the C twin: %s", b->entry, ggnn_status_string(status));
    for (int32_t h = 0; h < s.batch.how.num_hops; h++)
        if (!same_hop(b, s.batch.hop[h], batch.hop[h])) return false;
    const int64_t all = *batch.hop[s.batch.how.num_hops - 1].num_src.n;
    auto          id = fetch(b, s.batch.id, all);
    return bench_equal(b, "ids of a batch", id.data(), batch.id,
                       static_cast<size_t>(all) * sizeof(ggnn_node));
}

// The third batch of a captured graph, so that one that has frozen arguments is told.
bool check_batches(bench* b, bool last_global, ggnn_unique_kind kind, int32_t group)
{
    const scratch mine(b);
    host_graph    host;
    made_graph    g;
    batches*      s = own(b, new batches());
    size_t        nodes = 0;
    if (!s || !make_graph(b, &g, EMULATED ? 400 : 20000, 12, false, 3) || !fetch_graph(b, &host, g) ||
        !open_batches(b, s, g, EMULATED ? 4 : 64, sampling(last_global), kind, group))
        return false;
    work w = captured(
        b, [s] { return s->sample(); }, &nodes);
    for (int i = 0; w && i < 3; i++)
        if (!good(b, w(), "a mini-batch")) return false;
    return w && same_batch(b, *s, host);
}

// ==== speed ================================================================================================

struct batch_size {
    double edges = 0, lists = 0, ids = 0, bytes = 0; // lists: bytes of the random pieces that sampling reads
};

// Of the last batch. What is numbered costs a slot of the table each time.
batch_size size_of(bench* b, const batches& s)
{
    batch_size n;
    for (int32_t h = 0; h < s.batch.how.num_hops; h++) {
        const ggnn_block& hop = s.batch.hop[h];
        const double      dst = static_cast<double>(fetch(b, hop.num_dst.n, 1)[0]),
                     edges = static_cast<double>(fetch(b, hop.num_edges.n, 1)[0]);
        n.edges += edges;
        n.lists += dst * 64 * (1 + s.g->atoms_of(s.batch.how.fanout[h]));
        n.bytes += edges * sizeof(int32_t) + dst * (sizeof(ggnn_node) + sizeof(int64_t));
        if (hop.indices) n.ids += edges;
    }
    return n;
}

const bench_result* measure_batches(bench* b, const made_graph& g, int64_t seeds, bool last_global,
                                    ggnn_unique_kind kind, int32_t group, bool graphed, const char* how)
{
    const scratch mine(b);
    batches*      s = own(b, new batches());
    size_t        nodes = 0;
    if (!s || !open_batches(b, s, g, seeds, sampling(last_global), kind, group)) return nullptr;
    work w = captured(
        b, [s] { return s->sample(); }, &nodes);
    if (!w || !good(b, w(), "a mini-batch")) return nullptr;
    const batch_size n = size_of(b, *s);
    if (!graphed) w = [s] { return s->sample(); };
    bench_case c = case_of(b, w);
    name(&c, "%lld seeds%s, %s, %d launches", static_cast<long long>(seeds),
         last_global ? ", last hop global" : "", how, static_cast<int>(nodes));
    c.work = n.edges;
    c.unit = "edges";
    c.bytes = n.lists + n.bytes;
    c.add = true; // the device does one after the other; to each launch belongs a latency
    demand(&c, "rows", 64, n.lists);
    demand(&c, "copy", 0, n.bytes);
    demand(&c, "graph-node", 0, static_cast<double>(nodes));
    const bench_result* r = bench_measure(b, &c);
    const int32_t       status = fetch(b, s->batch.status, 1)[0];
    if (status != GGNN_OK)
        error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(static_cast<ggnn_status>(status)));
    return r;
}

bool block(bench* b)
{
    made_graph    g;
    const int64_t nodes = pick(b, 2449029, 200000, 600);
    if (!check_batches(b, false, GGNN_UNIQUE_DIRECT, 32) || !check_batches(b, true, GGNN_UNIQUE_DIRECT, 32))
        return false;
    for (int32_t group : {1, 8, 32})
        if (!check_batches(b, false, GGNN_UNIQUE_HASH, group)) return false;
    if (!make_graph(b, &g, nodes, EMULATED ? 10 : 50.5, false, 1)) return false;
    for (int64_t seeds : {256, 1024, 4096, 8192, 16384}) {
        if (seeds > pick(b, 16384, 1024, 0) && !(EMULATED && seeds == 256)) continue;
        const int64_t n = EMULATED ? 4 : seeds;
        for (bool global : {false, true})
            if (!measure_batches(b, g, n, global, GGNN_UNIQUE_DIRECT, 32, true, "direct")) return false;
    }
    const int64_t       n = pick(b, 1024, 1024, 4);
    const bench_result* graph = measure_batches(b, g, n, false, GGNN_UNIQUE_HASH, 1, true, "hash 1");
    if (!graph || !measure_batches(b, g, n, false, GGNN_UNIQUE_HASH, 8, true, "hash 8") ||
        !measure_batches(b, g, n, false, GGNN_UNIQUE_HASH, 32, true, "hash 32"))
        return false;
    const bench_result* stream =
        measure_batches(b, g, n, false, GGNN_UNIQUE_HASH, 1, false, "hash 1, not captured");
    return stream && bench_ratio(b, graph, stream, "the same, not captured", 0);
}

} // namespace blocks
#endif
