// roof.cuh - what the device gives its memory: streams, random rows, atomics, the host's memory.
// roof_small.cuh has the rest. Addresses are computed, not read, so that nothing but the rows themselves
// moves.
#ifndef BENCH_CUDA_ROOF_CUH
#define BENCH_CUDA_ROOF_CUH
#include <cstring>

#include "bench/cuda/roof_small.cuh"

namespace roofs {

// Of memory that holds random floats: zeros are moved faster where lines are compressed, and cost less power.
template <class T> bool filled(bench* b, T* memory, int64_t bytes)
{
    return memory && fill(b, reinterpret_cast<float*>(memory), bytes / 4, 1);
}

using namespace gpu;

// ==== kernels ==============================================================================================

// Thread t takes pieces t, t + all, ...: four loads before the first use.
__global__ void __launch_bounds__(THREADS) copy_pieces(float4* to, const float4* from, int64_t n)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n; t += 4 * all) {
        float4 x[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            x[k] = t + k * all < n ? __ldg(from + t + k * all) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < 4; k++)
            if (t + k * all < n) __stcs(to + t + k * all, x[k]);
    }
}

__device__ inline void keep(float4* sink, float sum) // all but never true, which the compiler does not know
{
    if (sum == 1.2345e30f) sink[0] = make_float4(sum, 0, 0, 0);
}

// times: over a table of the cache, so often that launching costs nothing.
__global__ void __launch_bounds__(THREADS) read_pieces(float4* sink, const float4* from, int64_t n, int times)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    float         sum = 0;
    for (int again = 0; again < times; again++)
        for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n; t += 4 * all) {
            float4 x[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                x[k] = t + k * all < n ? __ldcg(from + t + k * all) : make_float4(0, 0, 0, 0);
#pragma unroll
            for (int k = 0; k < 4; k++) sum += x[k].x + x[k].y + x[k].z + x[k].w;
        }
    keep(sink, sum);
}

__global__ void __launch_bounds__(THREADS) write_pieces(float4* to, int64_t n)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n; t += all) {
        const float x = static_cast<float>(roof_mix(static_cast<uint32_t>(t)));
        __stcs(to + t, make_float4(x, -x, x + 1e9f, x - 1e9f));
    }
}

// Random rows of `pieces` times 16 bytes, as gather reads them: a thread a piece, four rows at a time.
__global__ void __launch_bounds__(THREADS) read_rows(float4* sink, const float4* table, int64_t rows,
                                                     ggnni::divider pieces, int64_t n, uint32_t seed)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    float         sum = 0;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n; t += 4 * all) {
        float4 x[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
            const int64_t at = t + k * all, i = ggnni::quotient(at, pieces);
            const int64_t row = roof_random(static_cast<uint32_t>(i), seed, rows);
            x[k] = at < n ? __ldg(table + row * pieces.by + (at - i * pieces.by)) : make_float4(0, 0, 0, 0);
        }
#pragma unroll
        for (int k = 0; k < 4; k++) sum += x[k].x + x[k].y + x[k].z + x[k].w;
    }
    keep(sink, sum);
}

// ==== streams ==============================================================================================

int64_t stream_bytes(const bench* b)
{
    int64_t most = free_bytes() / 4 / 64 * 64, wanted = pick(b, int64_t{2} << 30, 256 << 20, 1 << 16);
    return wanted < most ? wanted : most;
}

bool open_stream(bench* b, bench_case* c, double work,
                 const std::function<cudaError_t(float4*, float4*, int64_t)>& f)
{
    int64_t bytes = stream_bytes(b), n = bytes / 16;
    float4 *to = make<float4>(b, n, "a roof's memory"), *from = make<float4>(b, n, "a roof's memory");
    if (!filled(b, to, bytes) || !filled(b, from, bytes)) return false;
    *c = case_of(b, [=] { return f(to, from, n); });
    c->work = work * static_cast<double>(bytes);
    return true;
}
bool open_copy(bench* b, bench_case* c, int64_t)
{
    return open_stream(b, c, 2, [](float4* to, float4* from, int64_t n) {
        return launch_items(copy_pieces, n / 4, stream(), to, from, n);
    });
}
bool open_memcpy(bench* b, bench_case* c, int64_t)
{
    return open_stream(b, c, 2, [](float4* to, float4* from, int64_t n) {
        return cudaMemcpyAsync(to, from, static_cast<size_t>(n) * 16, cudaMemcpyDeviceToDevice, stream());
    });
}
bool open_read(bench* b, bench_case* c, int64_t)
{
    return open_stream(b, c, 1, [](float4* to, float4* from, int64_t n) {
        return launch_items(read_pieces, n / 4, stream(), to, from, n, 1);
    });
}
bool open_write(bench* b, bench_case* c, int64_t)
{
    return open_stream(b, c, 1, [](float4* to, float4*, int64_t n) {
        return launch_items(write_pieces, n, stream(), to, n);
    });
}
bool open_read_l2(bench* b, bench_case* c, int64_t)
{
    const int times = EMULATED ? 1 : 64;
    int64_t   n = (EMULATED ? 1 << 14 : l2_bytes() / 4) / 16;
    float4*   table = make<float4>(b, n, "a roof's memory");
    if (!filled(b, table, n * 16)) return false;
    *c = case_of(
        b, [=] { return launch_items(read_pieces, n / 4, stream(), table, table, n, times); });
    c->work = static_cast<double>(n * 16 * times);
    return true;
}

// ==== random rows ==========================================================================================

enum place { HERE, HOST, PEER };

// Rows of `size` bytes from `bytes` of the device, of which there may be less, of the host, or of another
// device.
bool open_table(bench* b, bench_case* c, int64_t size, int64_t bytes, place where)
{
    const int64_t most = where == HERE ? free_bytes() : bytes, rows = (bytes < most ? bytes : most) / size;
    int64_t       n = pick(b, where == HERE ? 1 << 30 : 256 << 20, 64 << 20, 1 << 15) / 16;
    void*         table = where == HOST   ? take_pinned(b, rows * size, "the host's rows")
                          : where == PEER ? take_peer(b, rows * size, "another device's rows")
                                          : take(b, rows * size, "a table of rows");
    float4*       sink = make<float4>(b, 1, "a sum");
    auto          turn = own(b, new uint32_t(0));
    if (!filled(b, static_cast<float*>(table), rows * size) || !sink || !turn) return false;
    const ggnni::divider pieces = ggnni::divide_by(size / 16);
    n = n / pieces.by * pieces.by;
    *c = case_of(b, [=] {
        return launch_items(read_rows, n / 4, stream(), sink, static_cast<const float4*>(table), rows, pieces, n,
                            ++*turn);
    });
    c->work = static_cast<double>(n * 16);
    return true;
}
int64_t tiny_or(int64_t bytes) { return EMULATED ? 1 << 17 : bytes; }
bool    open_rows(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(int64_t{1} << 30), HERE);
}
bool open_rows_8g(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(int64_t{8} << 30), HERE);
}
bool open_rows_60g(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(int64_t{60} << 30), HERE);
}
bool open_rows_l2(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(l2_bytes() / 4), HERE);
}
bool open_rows_host(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(b->o.quick ? 256 << 20 : int64_t{1} << 30), HOST);
}
bool open_rows_peer(bench* b, bench_case* c, int64_t size)
{
    return open_table(b, c, size, tiny_or(int64_t{1} << 30), PEER);
}

// What the L2 cache fetches where it has not what is asked for: a hint, kept while this lives.
struct fetch_limit {
    size_t      before = 0;
    cudaError_t set;
    explicit fetch_limit(size_t bytes) : set(cudaDeviceGetLimit(&before, cudaLimitMaxL2FetchGranularity))
    {
        if (set == cudaSuccess) set = cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, bytes);
    }
    ~fetch_limit()
    {
        if (set == cudaSuccess) cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, before);
    }
    fetch_limit(const fetch_limit&) = delete;
    fetch_limit& operator=(const fetch_limit&) = delete;
};
bool open_fetch(bench* b, bench_case* c, int64_t bytes)
{
    auto limit = own(b, new fetch_limit(static_cast<size_t>(bytes)));
    return limit && good(b, limit->set, "the L2 cache's fetches") && open_table(b, c, 32, tiny_or(int64_t{8} << 30), HERE);
}

// ==== the host's memory ====================================================================================

bool open_host(bench* b, bench_case* c, bool reads, bool back)
{
    int64_t bytes = pick(b, 512 << 20, 64 << 20, 1 << 14), n = bytes / 16;
    void*   host = take_pinned(b, bytes, "the host's memory");
    float4* mine = make<float4>(b, n, "a roof's memory");
    if (!filled(b, static_cast<float*>(host), bytes) || !filled(b, mine, bytes)) return false;
    *c = case_of(b, [=] {
        if (reads)
            return launch_items(read_pieces, n / 4, stream(), mine, static_cast<float4*>(host), n, 1);
        return cudaMemcpyAsync(back ? host : mine, back ? mine : host, static_cast<size_t>(bytes),
                               cudaMemcpyDefault, stream());
    });
    c->work = static_cast<double>(bytes);
    return true;
}
bool open_host_copy(bench* b, bench_case* c, int64_t) { return open_host(b, c, false, false); }
bool open_host_back(bench* b, bench_case* c, int64_t) { return open_host(b, c, false, true); }
bool open_host_read(bench* b, bench_case* c, int64_t) { return open_host(b, c, true, false); }

const bench_roof_kind kinds[] = {
    {"copy", "B", "read and written", open_copy},
    {"memcpy", "B", "by the runtime", open_memcpy},
    {"read", "B", "in order", open_read},
    {"write", "B", "in order", open_write},
    {"read-l2", "B", "in order, a quarter of the L2 cache", open_read_l2},
    {"rows", "B", "random rows of so many bytes, table 1 GiB", open_rows},
    {"rows-8g", "B", "the same, 8 GiB", open_rows_8g},
    {"rows-60g", "B", "the same, 60 GiB or what there is", open_rows_60g},
    {"rows-fetch", "B", "random rows of 32 bytes, 8 GiB, where the L2 cache fetches so many", open_fetch},
    {"rows-l2", "B", "the same, a quarter of the L2 cache", open_rows_l2},
    {"rows-host", "B", "the same, of the host, zero copy", open_rows_host},
    {"rows-peer", "B", "the same, 1 GiB of another device", open_rows_peer},
    {"host-read", "B", "pinned memory in order, zero copy", open_host_read},
    {"host-copy", "B", "pinned memory to the device", open_host_copy},
    {"host-back", "B", "to pinned memory", open_host_back},
    {"cas", "atomics", "compare and swap, 32 bits", roof_open_cas},
    {"min32", "atomics", "minimum, 32 bits", roof_open_min32},
    {"min64", "atomics", "minimum, 64 bits", roof_open_min64},
    {"add-f32", "atomics", "addition, float", roof_open_add},
    {"add-f32x4", "atomics", "addition, four floats", roof_open_add4},
    {"chase", "s", "one dependent load", roof_open_chase},
    {"chase-peer", "s", "the same, in another device's memory", roof_open_chase_peer},
    {"launch", "s", "an empty kernel after another", roof_open_launch},
    {"graph-node", "s", "the same, as a captured graph", roof_open_nodes},
    {"gemm", "FLOP", "product of matrices, fp32", roof_open_gemm},
    {"madd", "FLOP", "the same: what the trainer's products ask for", roof_open_gemm},
    {"gemm-tf32", "FLOP", "product of matrices, TF32", roof_open_tf32},
    {nullptr, nullptr, nullptr, nullptr}};

bool all(bench* b)
{
    static const char* const plain[] = {"copy",    "memcpy",     "read",      "write",
                                        "read-l2", "host-read",  "host-copy", "host-back",
                                        "launch",  "graph-node", "gemm",      "gemm-tf32"};
    static const char* const tables[] = {"rows-l2", "rows", "rows-8g", "rows-60g", "rows-host"};
    static const char* const atomics[] = {"cas", "min32", "min64", "add-f32", "add-f32x4"};
    static const int64_t     row[] = {32, 64, 128, 256, 400, 512, 1024};
    static const int64_t     bytes[] = {4 << 20, 64 << 20, int64_t{2} << 30};
    for (const char* name : plain) roof(b, name, 0);
    for (const char* name : tables)
        for (int64_t size : row)
            if (!b->why.text[0] && (strcmp(name, "rows-60g") != 0 || !b->o.quick)) roof(b, name, size);
    for (int64_t fetched : {32, 64, 128})
        if (!b->why.text[0]) roof(b, "rows-fetch", fetched);
    for (const char* name : atomics)
        for (int64_t size : bytes)
            if (!b->why.text[0]) roof(b, name, size);
    roof(b, "chase", 4 << 20);
    roof(b, "chase", 512 << 20);
    return !b->why.text[0];
}

} // namespace roofs
#endif
