// roof_small.cuh - roofs: atomics, a chain of loads, launches, products by cuBLAS.
#ifndef BENCH_CUDA_ROOF_SMALL_CUH
#define BENCH_CUDA_ROOF_SMALL_CUH
#include <cublas_v2.h>

#include "bench/cuda/common.cuh"

namespace roofs {

using namespace gpu;

// A number below n, at random by (i, seed): a bijection of 32 bits (Wellons' lowbias32), then scaled; two of
// them where n needs more bits.
GGNN_HD uint32_t roof_mix(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}
GGNN_HD int64_t roof_random(uint32_t i, uint32_t seed, int64_t n)
{
    const uint64_t high = roof_mix(i ^ seed * 0x9e3779b9u);
    return (int64_t)(n <= UINT32_MAX ? high * (uint64_t)n >> 32
                                     : ggnn_mul_high(high << 32 | roof_mix((uint32_t)high), (uint64_t)n));
}

// ==== atomics ==============================================================================================

struct cas_op {
    typedef unsigned       type;
    static __device__ void run(type* p, uint32_t x) { atomicCAS(p, 0u, x); }
};
struct min32_op {
    typedef unsigned       type;
    static __device__ void run(type* p, uint32_t x) { atomicMin(p, x); }
};
struct min64_op {
    typedef unsigned long long type;
    static __device__ void     run(type* p, uint32_t x) { atomicMin(p, static_cast<type>(x) << 32 | x); }
};
struct add_op {
    typedef float          type;
    static __device__ void run(type* p, uint32_t x) { atomicAdd(p, static_cast<float>(x & 1)); }
};
struct add4_op { // below sm_90 four additions
    typedef float4         type;
    static __device__ void run(type* p, uint32_t x)
    {
        const float v = static_cast<float>(x & 1);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
        atomicAdd(p, make_float4(v, v, v, v));
#else
        float* at = reinterpret_cast<float*>(p);
        for (int k = 0; k < 4; k++) atomicAdd(at + k, v);
#endif
    }
};

template <class Op>
__global__ void __launch_bounds__(THREADS)
    do_atomics(typename Op::type* table, int64_t rows, int64_t n, uint32_t seed)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n; t += all) {
        const uint32_t i = static_cast<uint32_t>(t);
        Op::run(table + roof_random(i, seed, rows), roof_mix(i));
    }
}

// Minima find nothing above what is there most of the time, as in a table that fills: the rate is that of
// atomics all the same.
template <class Op> bool open_atomics(bench* b, bench_case* c, int64_t size)
{
    typedef typename Op::type type;
    int64_t                   most = free_bytes(), bytes = EMULATED ? 1 << 12 : size < most ? size : most;
    int64_t rows = bytes / static_cast<int64_t>(sizeof(type)), n = pick(b, 1 << 26, 1 << 24, 1 << 10);
    type*   table = make<type>(b, rows, "a table");
    auto    turn = own(b, new uint32_t(0));
    if (!table || !turn) return false;
    if (!good(b, cudaMemsetAsync(table, 0x7f, static_cast<size_t>(rows) * sizeof(type), stream()), "a table"))
        return false;
    *c = case_of(
        b, [=] { return launch_items(do_atomics<Op>, n, stream(), table, rows, n, ++*turn); });
    c->work = static_cast<double>(n);
    return true;
}

// ==== latencies ============================================================================================

enum { STEPS = EMULATED ? 64 : 4096, LAUNCHES = EMULATED ? 4 : 256, LINE = 128 / 4 };

// One cycle through all lines: a full-period linear congruential generator modulo a power of two.
__global__ void __launch_bounds__(THREADS) make_cycle(uint32_t* next, int64_t lines)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < lines; t += all)
        next[t * LINE] = static_cast<uint32_t>((static_cast<uint64_t>(t) * 1664525u + 1013904223u) &
                                               static_cast<uint64_t>(lines - 1));
}
__global__ void __launch_bounds__(32) follow(uint32_t* next, int steps)
{
    uint32_t at = 0;
    if (threadIdx.x != 0) return;
    for (int i = 0; i < steps; i++) at = __ldcg(next + static_cast<int64_t>(at) * LINE);
    next[1] = at;
}
__global__ void __launch_bounds__(32) nothing() {}

cudaError_t launch_many()
{
    cudaError_t e = cudaSuccess;
    for (int i = 0; i < LAUNCHES && e == cudaSuccess; i++) e = launch(nothing, 1, 32, stream());
    return e;
}

// ==== products =============================================================================================

struct product {
    cublasHandle_t blas = nullptr;
    ~product()
    {
        if (blas) cublasDestroy(blas);
    }
};

bool open_blas(bench* b, product* p, cublasMath_t math)
{
    return (cublasCreate(&p->blas) == CUBLAS_STATUS_SUCCESS &&
            cublasSetStream(p->blas, stream()) == CUBLAS_STATUS_SUCCESS &&
            cublasSetMathMode(p->blas, math) == CUBLAS_STATUS_SUCCESS) ||
           error_set(&b->why, "cuBLAS cannot be opened");
}

bool open_product(bench* b, bench_case* c, cublasMath_t math)
{
    const int     n = static_cast<int>(pick(b, 8192, 2048, 16));
    const int64_t all = static_cast<int64_t>(n) * n;
    float *       x = make<float>(b, all, "a factor"), *y = make<float>(b, all, "a factor"),
          *z = make<float>(b, all, "a product");
    product* p = own(b, new product());
    if (!x || !y || !z || !p || !fill(b, x, all, 1) || !fill(b, y, all, 2) || !open_blas(b, p, math))
        return false;
    *c = case_of(b, [=] {
        const float    one = 1, zero = 0;
        cublasStatus_t s =
            cublasSgemm(p->blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, x, n, y, n, &zero, z, n);
        return s == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
    });
    c->work = 2.0 * n * n * n;
    return true;
}

bool roof_open_cas(bench* b, bench_case* c, int64_t size) { return open_atomics<cas_op>(b, c, size); }
bool roof_open_min32(bench* b, bench_case* c, int64_t size) { return open_atomics<min32_op>(b, c, size); }
bool roof_open_min64(bench* b, bench_case* c, int64_t size) { return open_atomics<min64_op>(b, c, size); }
bool roof_open_add(bench* b, bench_case* c, int64_t size) { return open_atomics<add_op>(b, c, size); }
bool roof_open_add4(bench* b, bench_case* c, int64_t size) { return open_atomics<add4_op>(b, c, size); }

bool open_chase(bench* b, bench_case* c, int64_t lines, uint32_t* next)
{
    if (!next || !good(b, launch_items(make_cycle, lines, stream(), next, lines), "a cycle"))
        return false;
    *c = case_of(b, [=] { return launch(follow, 1, 32, stream(), next, static_cast<int>(STEPS)); });
    c->work = STEPS;
    return true;
}
bool roof_open_chase(bench* b, bench_case* c, int64_t size)
{
    const int64_t lines = EMULATED ? 256 : size / 128;
    return open_chase(b, c, lines, make<uint32_t>(b, lines * LINE, "a cycle"));
}
bool roof_open_chase_peer(bench* b, bench_case* c, int64_t size)
{
    const int64_t lines = EMULATED ? 256 : size / 128;
    return open_chase(b, c, lines, static_cast<uint32_t*>(take_peer(b, lines * LINE * 4, "a cycle")));
}
bool roof_open_launch(bench* b, bench_case* c, int64_t)
{
    *c = case_of(b, launch_many);
    c->work = LAUNCHES;
    return true;
}
bool roof_open_nodes(bench* b, bench_case* c, int64_t)
{
    size_t nodes = 0;
    work   w = captured(b, launch_many, &nodes);
    *c = case_of(b, w);
    c->work = static_cast<double>(nodes);
    return w != nullptr;
}
bool roof_open_gemm(bench* b, bench_case* c, int64_t) { return open_product(b, c, CUBLAS_DEFAULT_MATH); }
bool roof_open_tf32(bench* b, bench_case* c, int64_t)
{
    return open_product(b, c, CUBLAS_TF32_TENSOR_OP_MATH);
}

} // namespace roofs
#endif
