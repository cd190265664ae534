// plugin.cuh - plug-ins of ggnn-bench on a device (bench/plugin.h): their memory, and ggnn's kernels as a plug-in.
#ifndef BENCH_CUDA_PLUGIN_CUH
#define BENCH_CUDA_PLUGIN_CUH
#include <string.h>

#include "bench/cuda/common.cuh"
#include "bench/plugin_host.h"

namespace plugins {

using namespace gpu;

// ==== memory ===============================================================================================

// No page is there that nobody may touch: known bytes on either side of an array, and a copy of each input, say what a kernel did.
enum { BESIDE = 4096, KNOWN = 0xC7 };

char* begin_of(const plugin_array* a) { return static_cast<char*>(a->own); }

bool take_array(bench* b, plugin_array* a)
{
    const size_t all = a->bytes + 2 * BESIDE;
    a->own = take(b, static_cast<int64_t>(all), a->name);
    a->host = bench_new(b, a->bytes, a->name);
    if (!a->own || !a->host) return false;
    a->seen = begin_of(a) + BESIDE;
    return good(b, cudaMemsetAsync(a->own, KNOWN, all, stream()), a->name);
}

bool freeze(bench* b, plugin_array* a) { return copy(b, a->seen, a->host, static_cast<int64_t>(a->bytes)); }
bool spoil(bench* b, plugin_array* a) { return good(b, cudaMemsetAsync(a->seen, 0xFF, a->bytes, stream()), a->name); }
bool fetch_array(bench* b, plugin_array* a) { return copy(b, a->host, a->seen, static_cast<int64_t>(a->bytes)); }

bool is_known(bench* b, const char* device)
{
    const std::vector<unsigned char> there = fetch(b, reinterpret_cast<const unsigned char*>(device), BESIDE);
    for (unsigned char byte : there)
        if (byte != KNOWN) return false;
    return true;
}

const char* harm(bench* b, const plugin_array* a)
{
    static char       text[64];
    const char* const seen = static_cast<const char*>(a->seen);
    text[0] = 0;
    if (!is_known(b, begin_of(a))) snprintf(text, sizeof text, "writes before the begin of `%s`", a->name);
    if (!is_known(b, seen + a->bytes)) snprintf(text, sizeof text, "writes past the end of `%s`", a->name);
    if (!a->output) {
        const std::vector<char> there = fetch(b, seen, static_cast<int64_t>(a->bytes));
        if (memcmp(there.data(), a->host, a->bytes) != 0) snprintf(text, sizeof text, "writes to its input `%s`", a->name);
    }
    return text[0] && !b->why.text[0] ? text : nullptr;
}

// ==== ggnn's kernels =======================================================================================

ggnn_block block_of(const bench_lists& l)
{
    ggnn_block b = {};
    b.num_dst = {nullptr, l.targets};
    b.num_src = {nullptr, l.sources};
    b.num_edges = {nullptr, l.edges};
    b.indptr = const_cast<int64_t*>(l.indptr); // read, as this block is no output
    b.indices = const_cast<int32_t*>(l.indices);
    return b;
}

cudaStream_t stream_of(const bench_where& where) { return static_cast<cudaStream_t>(where.stream); }

int32_t spmm(const bench_spmm_job* j)
{
    const ggnn_block b = block_of(j->lists);
    return ggnn_cuda_spmm(j->out, j->width, nullptr, j->mean ? GGNN_MEAN : GGNN_SUM, &b, nullptr, j->weight, 1, j->inp, j->width,
                          j->width, stream_of(j->where));
}

int32_t sddmm(const bench_sddmm_job* j)
{
    const ggnn_block b = block_of(j->lists);
    return ggnn_cuda_sddmm(j->out, GGNN_DOT, &b, j->src, j->width, j->dst, j->width, 1, j->width, stream_of(j->where));
}

int32_t gather(const bench_gather_job* j)
{
    const ggnn_store from = ggnn_store_plain(j->table, j->rows, j->width, GGNN_F32);
    return ggnn_cuda_gather(j->out, j->width, GGNN_F32, &from, j->id, {nullptr, j->n}, stream_of(j->where));
}

__global__ void __launch_bounds__(THREADS) begin_rows(int64_t* begin, int64_t n, int64_t fanout)
{
    ggnni::for_items(n, [&](int64_t i) { begin[i] = i * fanout; });
}

// Rows of equal length: their begins are written once per job. Of lists whose ids are those of a graph.
template <class Node> int32_t sample_lists(const bench_sample_job*, Node*) { return BENCH_PLUGIN_NONE; }
int32_t sample_lists(const bench_sample_job* j, int32_t*)
{
    static int64_t*   begin = nullptr;
    static ggnn_rng*  rng = nullptr;
    static int64_t    rows = 0, fanout = 0;
    const ggnn_graph  g = ggnn_graph_plain(j->lists.indptr, reinterpret_cast<const ggnn_node*>(j->lists.indices), nullptr,
                                           j->lists.sources, j->lists.edges);
    const ggnn_rng    key = {7, j->random, GGNN_PURPOSE_SAMPLE};
    cudaStream_t      on = stream_of(j->where);
    cudaError_t       e = cudaSuccess;
    if (rows != j->n || fanout != j->fanout) {
        cudaFree(begin);
        if (!rng) e = cudaMalloc(&rng, sizeof *rng);
        e = ggnni::first_error(e, cudaMalloc(&begin, static_cast<size_t>(j->n + 1) * sizeof *begin));
        if (e == cudaSuccess) e = launch_items(begin_rows, j->n + 1, on, begin, j->n + 1, static_cast<int64_t>(j->fanout));
        rows = j->n, fanout = j->fanout;
    }
    e = ggnni::first_error(e, cudaMemcpyAsync(rng, &key, sizeof key, cudaMemcpyHostToDevice, on));
    const ggnn_cuda_samples out = {begin, j->count, reinterpret_cast<ggnn_node*>(j->source), nullptr, nullptr};
    if (e != cudaSuccess) return e;
    return ggnn_cuda_sample_lists(&out, &g, reinterpret_cast<const ggnn_node*>(j->seed), {nullptr, j->n}, GGNN_FISHER_YATES,
                                  j->fanout, rng, 0, nullptr, nullptr, on);
}
int32_t sample(const bench_sample_job* j) { return sample_lists(j, static_cast<ggnn_node*>(nullptr)); }

int32_t gat(const bench_gat_job* j)
{
    const ggnn_block b = block_of(j->lists);
    ggnn_gat_layer   y = {};
    y.block = const_cast<ggnn_block*>(&b);
    y.z = j->z, y.ld_z = j->width, y.el = const_cast<float*>(j->el), y.er = const_cast<float*>(j->er);
    y.out = j->out, y.ld_out = j->width, y.lse = j->scratch, y.heads = j->heads, y.width = j->width, y.how.slope = j->slope;
    return ggnn_cuda_gat(&y, nullptr, stream_of(j->where));
}

const bench_plugin ours = {BENCH_PLUGIN_VERSION, 1, "ggnn", 0, spmm, sddmm, gather, sample, gat};

void*             stream_now() { return gpu::stream(); }
const plugin_host host = {1, &ours, stream_now, take_array, freeze, spoil, fetch_array, harm};

} // namespace plugins
#endif
