// backend.cu - the CUDA backend of ggnn-bench: its clock, its caches, its memory, its entries. The functions
// of ggnn_cuda.cuh are those of trainer/cuda/ops.cu, which is linked beside it.
#include <cstdarg>
#include <cstdio>

#include "bench/cuda/adam.cuh"
#include "bench/cuda/backward.cuh"
#include "bench/cuda/block.cuh"
#include "bench/cuda/common.cuh"
#include "bench/cuda/edge.cuh"
#include "bench/cuda/gather.cuh"
#include "bench/cuda/gemm.cuh"
#include "bench/cuda/graph.cuh"
#include "bench/cuda/growth.cuh"
#include "bench/cuda/host.cuh"
#include "bench/cuda/plugin.cuh"
#include "bench/cuda/roof.cuh"
#include "bench/cuda/sample.cuh"
#include "bench/cuda/split.cuh"
#include "bench/cuda/spmm.cuh"
#include "bench/cuda/unique.cuh"
#include "trainer/device/device.h"

namespace {

// One device, one stream, as long as the program runs.
struct {
    cudaStream_t   stream;
    cudaEvent_t    begin, end;
    cudaDeviceProp about;
    int            device, driver, runtime;
    char           line[400];
    void*          flushed; // four times the L2 cache
} the;

// ==== what the harness asks for ============================================================================

// Between events before the first run and after the last. What sees to its own warming is a net's, whose work
// is on the trainer's stream: it is waited for.
double seconds(bench* b, const bench_case* c, int64_t repeats)
{
    float       ms = 0;
    cudaError_t e = cudaEventRecord(the.begin, the.stream);
    for (int64_t i = 0; i < repeats; i++) c->run(c->context);
    if (e == cudaSuccess && c->warmed) e = cudaDeviceSynchronize();
    if (e == cudaSuccess) e = cudaEventRecord(the.end, the.stream);
    if (e == cudaSuccess) e = cudaEventSynchronize(the.end);
    if (e == cudaSuccess) e = cudaEventElapsedTime(&ms, the.begin, the.end);
    if (e == cudaSuccess) e = cudaGetLastError();
    gpu::good(b, e, c->what);
    return ms * 1e-3;
}

// On the stream, so that no one waits: what is measured next is put behind it while it still runs.
void evict(bench* b)
{
    size_t      bytes = 4 * static_cast<size_t>(gpu::l2_bytes());
    cudaError_t e = the.flushed ? cudaSuccess : cudaMalloc(&the.flushed, bytes);
    if (e == cudaSuccess) e = cudaMemsetAsync(the.flushed, 1, bytes, the.stream);
    gpu::good(b, e, "emptying the cache");
}

const char* describe(bench*) { return the.line; }

device* device_of(bench* b) { return device_open_cuda(0, false, &b->why); }

const bench_entry entries[] = {
    {"roof", "what this device gives", roofs::all, false, false},
    {"sample", "one hop's lists, without numbering", samples::sample, false, false},
    {"unique", "numbering of ids, by hash table and direct map; rival: by sorting", numbers::unique, false, false},
    {"block", "whole mini-batches, as captured graphs", blocks::block, false, false},
    {"transpose", "of a block; rival: CUB's radix sort", numbers::transpose, false, false},
    {"gather", "rows by id: widths, tables, parts, halves, the host tier", gathers::gather, false, false},
    {"peer", "another device's memory, if there is one; rows over parts: through pointers, by exchange, over NCCL, from the host;\n"
     "               random reads of 4 to 4096 bytes (S: bytes that a device reads. Bandwidth, " BENCH_BANDWIDTHS ")",
     gathers::peer, false, false},
    {"owners", "ids by owner; rival: CUB's radix sort", splits::split, false, false},
    {"spmm", "sums and means of rows, blocks and a whole graph; rival: cuSPARSE", sums::spmm, false, false},
    {"max", "largest of rows, and which", sums::max, false, false},
    {"input", "means of stored rows in one pass, beside gathering them first", gradients::input, false, false},
    {"backward", "gradients of sums: over the transpose, by atomics", gradients::backward, false, false},
    {"sddmm", "dots and sums of edges' ends", edges::sddmm, false, false},
    {"softmax", "over each target's edges", edges::softmax, false, false},
    {"gat", "fused graph attention, forward and backward", edges::gat, false, false},
    {"gemm", "products of a step, fp32 and TF32", products::gemm, false, false},
    {"uva", "rows of the host: in place, by lines, copied; with part of them on the device", hosts::uva,
     false, false},
    {"growth", "the same work per seed on ever larger graphs, to ogbn-papers100M's size", growths::growth,
     false, false},
    {"adam", "the optimiser's update", optimisers::adam, false, false},
    {"step", "the trainer's steps: forward, loss, backward, optimiser", bench_step, false, false},
    {"epoch", "the trainer's epochs", bench_epoch, false, false},
    {nullptr, nullptr, nullptr, false, false}};

const bench_backend backend = {
    EMULATED ? "cuda-emulated" : "cuda", entries, roofs::kinds, seconds, evict, describe, device_of, &plugins::host};

cudaError_t open()
{
    cudaError_t e = cudaGetDevice(&the.device);
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&the.about, the.device);
    if (e == cudaSuccess) e = cudaDriverGetVersion(&the.driver);
    if (e == cudaSuccess) e = cudaRuntimeGetVersion(&the.runtime);
    if (e == cudaSuccess) e = cudaStreamCreateWithFlags(&the.stream, cudaStreamNonBlocking);
    if (e == cudaSuccess) e = cudaEventCreate(&the.begin);
    if (e == cudaSuccess) e = cudaEventCreate(&the.end);
    return e;
}

const bench_backend* open_cuda(error* why)
{
    cudaError_t e = open();
    if (e != cudaSuccess) {
        error_set(why, "--backend %s: %s", backend.name, cudaGetErrorString(e));
        return nullptr;
    }
    const int gib = static_cast<int>(the.about.totalGlobalMem >> 30);
    if (EMULATED)
        snprintf(the.line, sizeof the.line,
                 "CUDA emulated on the CPU: the answers count, the times mean NOTHING");
    else
        snprintf(the.line, sizeof the.line,
                 "%s, sm_%d%d, %d GiB, L2 %d MiB, %d SMs, driver %d.%d, runtime %d.%d", the.about.name,
                 the.about.major, the.about.minor, gib, the.about.l2CacheSize >> 20,
                 the.about.multiProcessorCount, the.driver / 1000, the.driver % 1000 / 10, the.runtime / 1000,
                 the.runtime % 1000 / 10);
    return &backend;
}

} // namespace

extern "C" {
bench_opener* const bench_open_cuda = open_cuda;
}

// ==== what the entries ask for =============================================================================

namespace gpu {

cudaStream_t stream() { return the.stream; }
int64_t      l2_bytes() { return the.about.l2CacheSize > 0 ? the.about.l2CacheSize : 1 << 20; }

bool good(bench* b, cudaError_t e, const char* what)
{
    return e == cudaSuccess || error_set(&b->why, "%s: %s: %s", b->entry, what, cudaGetErrorString(e));
}

int64_t free_bytes()
{
    size_t unused = 0, total = 0;
    if (cudaMemGetInfo(&unused, &total) != cudaSuccess) return 0;
    int64_t spare = static_cast<int64_t>(total / 32), left = static_cast<int64_t>(unused) - spare;
    return left > 0 ? left : 0;
}

void* take(bench* b, int64_t bytes, const char* what)
{
    void*       memory = nullptr;
    size_t      some = bytes > 0 ? static_cast<size_t>(bytes) : 1;
    cudaError_t e = cudaMalloc(&memory, some);
    if (e != cudaSuccess) {
        error_set(&b->why, "%s: %s: %lld bytes of the device: %s", b->entry, what,
                  static_cast<long long>(bytes), cudaGetErrorString(e));
        return nullptr;
    }
    if (!bench_defer(
            b, [](void* it) { cudaFree(it); }, memory))
        return nullptr;
    return good(b, cudaMemsetAsync(memory, 0, some, the.stream), what) ? memory : nullptr;
}

void* take_pinned(bench* b, int64_t bytes, const char* what)
{
    void* memory = nullptr;
    if (!good(b, cudaMallocHost(&memory, static_cast<size_t>(bytes)), what)) return nullptr;
    if (!bench_defer(
            b, [](void* it) { cudaFreeHost(it); }, memory))
        return nullptr;
    memset(memory, 0, static_cast<size_t>(bytes));
    return memory;
}

int peer()
{
    int count = 0, can = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return -1;
    for (int other = 0; other < count; other++)
        if (other != the.device && cudaDeviceCanAccessPeer(&can, the.device, other) == cudaSuccess && can)
            return other;
    return -1;
}

int linked_devices()
{
    int count = 0, can = 1;
    if (cudaGetDeviceCount(&count) != cudaSuccess) return 1;
    for (int i = 0; i < count * count; i++)
        if (i / count != i % count && (cudaDeviceCanAccessPeer(&can, i / count, i % count) != cudaSuccess || !can)) return 1;
    return count;
}

void* take_peer(bench* b, int64_t bytes, const char* what)
{
    void*       memory = nullptr;
    const int   other = peer();
    cudaError_t e = cudaDeviceEnablePeerAccess(other, 0);
    if (e == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError(); // that was no error
        e = cudaSuccess;
    }
    if (e == cudaSuccess) e = cudaSetDevice(other);
    if (e == cudaSuccess) e = cudaMalloc(&memory, static_cast<size_t>(bytes));
    e = ggnni::first_error(e, cudaSetDevice(the.device));
    if (!good(b, e, what)) return nullptr;
    if (!bench_defer(
            b, [](void* it) { cudaFree(it); }, memory))
        return nullptr;
    e = cudaMemsetAsync(memory, 0, static_cast<size_t>(bytes), the.stream);
    return good(b, e, what) ? memory : nullptr;
}

bool copy(bench* b, void* to, const void* from, int64_t bytes)
{
    cudaError_t e = cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), cudaMemcpyDefault, the.stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(the.stream);
    return good(b, e, "copying");
}

namespace {
struct job { // a case's context
    bench* b;
    work   w;
};
void run(void* context)
{
    job* j = static_cast<job*>(context);
    if (!j->b->why.text[0]) good(j->b, j->w(), "a run");
}
} // namespace

bench_case case_of(bench* b, work w)
{
    bench_case c = {};
    c.threads = 1;
    c.run = run;
    c.context = own(b, new job{b, std::move(w)});
    return c;
}

void name(bench_case* c, const char* format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(c->what, sizeof c->what, format, list);
    va_end(list);
}

work captured(bench* b, const work& w, size_t* nodes)
{
    cudaGraph_t     graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaError_t     e = cudaStreamBeginCapture(the.stream, cudaStreamCaptureModeThreadLocal), ended;
    if (e == cudaSuccess) {
        e = w();
        ended = cudaStreamEndCapture(the.stream, &graph);
        e = ggnni::first_error(e, ended);
    }
    if (e == cudaSuccess) e = cudaGraphGetNodes(graph, nullptr, nodes);
    if (e == cudaSuccess) e = cudaGraphInstantiate(&exec, graph, 0);
    if (graph) cudaGraphDestroy(graph);
    if (!good(b, e, "capturing a graph")) return nullptr;
    if (!bench_defer(
            b, [](void* it) { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(it)); }, exec))
        return nullptr;
    return [exec] { return cudaGraphLaunch(exec, the.stream); };
}

} // namespace gpu
