// simt_device.h - what kernels see of CUDA: qualifiers, vector types, collectives, atomics, intrinsics.
#ifndef SIMT_DEVICE_H
#define SIMT_DEVICE_H

#include "simt.h"

#include <cmath>
#include <math.h>

#define SIMT_SHIM 1

// ---- qualifiers
// A __shared__ variable is static; the blocks use it one after another. The tag becomes part of its symbol:
// by it the core finds all of them, within templates too, to fill them with garbage before each block.
#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#undef __shared__
#define __shared__ __attribute__((abi_tag("simtshared"))) static
// `extern __shared__ T name[];` is beyond g++: under nvcc this macro is for the program to define
// (README.md).
#define SIMT_DYNAMIC_SHARED(T, name) T* name = static_cast<T*>(::simt::dynamic_shared())

// ---- vector types
#define SIMT_VECTORS(T, name)                                                                                \
    struct name##1 { T x; };                                                                                 \
    struct alignas(2 * sizeof(T)) name##2 { T x, y; };                                                       \
    struct name##3 { T x, y, z; };                                                                           \
    struct alignas(sizeof(T) > 4 ? 16 : 4 * sizeof(T)) name##4 { T x, y, z, w; };                            \
    SIMT_MAKE_VECTORS(T, name)                                                                               \
    inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }
#define SIMT_MAKE_VECTORS(T, name)                                                                           \
    inline name##1 make_##name##1(T x) { return {x}; }                                                       \
    inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                               \
    inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
SIMT_VECTORS(signed char, char)
SIMT_VECTORS(unsigned char, uchar)
SIMT_VECTORS(short, short)
SIMT_VECTORS(unsigned short, ushort)
SIMT_VECTORS(int, int)
SIMT_VECTORS(long long, longlong)
SIMT_VECTORS(unsigned long long, ulonglong)
SIMT_VECTORS(float, float)
SIMT_VECTORS(double, double)
struct uint1 {
    unsigned x;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
SIMT_MAKE_VECTORS(unsigned, uint)
inline uint3 make_uint3(unsigned x, unsigned y, unsigned z) { return {x, y, z}; }

// ---- collectives
inline void __syncthreads(simt::Site at = simt::here()) { simt::block_barrier(0, at); }
inline int  __syncthreads_count(int p, simt::Site at = simt::here()) { return simt::block_barrier(p, at); }
inline int  __syncthreads_or(int p, simt::Site at = simt::here()) { return simt::block_barrier(p, at) != 0; }
inline int __syncthreads_and(int p, simt::Site at = simt::here()) { return simt::block_barrier(!p, at) == 0; }
inline void __syncwarp(unsigned mask = 0xffffffffu, simt::Site at = simt::here())
{
    simt::warp_collective(simt::SYNCWARP, mask, 0, 0, 32, at);
}

#define SIMT_VOTE(result, name, kind)                                                                        \
    inline result name(unsigned mask, int p, simt::Site at = simt::here())                                   \
    {                                                                                                        \
        return (result)simt::warp_collective(simt::kind, mask, p != 0, 0, 32, at);                           \
    }
SIMT_VOTE(unsigned, __ballot_sync, BALLOT)
SIMT_VOTE(int, __all_sync, ALL)
SIMT_VOTE(int, __any_sync, ANY)

template <class T>
constexpr bool simt_is_lane_value = std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

template <class T> unsigned __match_any_sync(unsigned mask, T value, simt::Site at = simt::here())
{
    static_assert(simt_is_lane_value<T>);
    return (unsigned)simt::warp_collective(simt::MATCH_ANY, mask, simt::to_bits(value), 0, 32, at);
}
template <class T> unsigned __match_all_sync(unsigned mask, T value, int* p, simt::Site at = simt::here())
{
    static_assert(simt_is_lane_value<T>);
    unsigned same = (unsigned)simt::warp_collective(simt::MATCH_ALL, mask, simt::to_bits(value), 0, 32, at);
    *p            = same != 0;
    return same;
}

#define SIMT_SHUFFLE(name, kind, A)                                                                          \
    template <class T> T name(unsigned mask, T value, A a, int width = 32, simt::Site at = simt::here())     \
    {                                                                                                        \
        static_assert(simt_is_lane_value<T>);                                                                \
        return simt::from_bits<T>(                                                                           \
            simt::warp_collective(simt::kind, mask, simt::to_bits(value), (int)a, width, at));               \
    }
SIMT_SHUFFLE(__shfl_sync, SHFL, int)
SIMT_SHUFFLE(__shfl_up_sync, SHFL_UP, unsigned)
SIMT_SHUFFLE(__shfl_down_sync, SHFL_DOWN, unsigned)
SIMT_SHUFFLE(__shfl_xor_sync, SHFL_XOR, int)

#define SIMT_REDUCE(T, name, kind)                                                                           \
    inline T name(unsigned mask, T value, simt::Site at = simt::here())                                      \
    {                                                                                                        \
        return (T)simt::warp_collective(simt::kind, mask, (unsigned)value, 0, 32, at);                       \
    }
SIMT_REDUCE(unsigned, __reduce_add_sync, REDUCE_ADD)
SIMT_REDUCE(int, __reduce_add_sync, REDUCE_ADD)
SIMT_REDUCE(unsigned, __reduce_min_sync, REDUCE_MIN)
SIMT_REDUCE(int, __reduce_min_sync, REDUCE_MIN_SIGNED)
SIMT_REDUCE(unsigned, __reduce_max_sync, REDUCE_MAX)
SIMT_REDUCE(int, __reduce_max_sync, REDUCE_MAX_SIGNED)
SIMT_REDUCE(unsigned, __reduce_and_sync, REDUCE_AND)
SIMT_REDUCE(unsigned, __reduce_or_sync, REDUCE_OR)
SIMT_REDUCE(unsigned, __reduce_xor_sync, REDUCE_XOR)

inline void __threadfence() { simt::fence(); }
inline void __threadfence_block() { simt::fence(); }
inline void __threadfence_system() { simt::fence(); }

// ---- atomics: relaxed, as the device's are, and for the types that CUDA has them for
namespace simt {
template <class T, class F> T read_modify_write(T* p, F f)
{
    before_atomic();
    T old, next;
    __atomic_load(p, &old, __ATOMIC_RELAXED);
    do next = f(old);
    while (!__atomic_compare_exchange(p, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return old;
}
} // namespace simt

#define SIMT_ATOMIC(name, T, expression)                                                                     \
    inline T name(T* p, T v)                                                                                 \
    {                                                                                                        \
        return simt::read_modify_write(p, [v]([[maybe_unused]] T old) -> T { return expression; });          \
    }
#define SIMT_ATOMIC_32(name, expression)                                                                     \
    SIMT_ATOMIC(name, int, expression)                                                                       \
    SIMT_ATOMIC(name, unsigned, expression)
#define SIMT_ATOMIC_INTEGER(name, expression)                                                                \
    SIMT_ATOMIC_32(name, expression)                                                                         \
    SIMT_ATOMIC(name, unsigned long long, expression)
SIMT_ATOMIC_INTEGER(atomicAdd, old + v)
SIMT_ATOMIC(atomicAdd, float, old + v)
SIMT_ATOMIC(atomicAdd, double, old + v)
SIMT_ATOMIC_32(atomicSub, old - v)
SIMT_ATOMIC_INTEGER(atomicMin, v < old ? v : old)
SIMT_ATOMIC(atomicMin, long long, v < old ? v : old)
SIMT_ATOMIC_INTEGER(atomicMax, v > old ? v : old)
SIMT_ATOMIC(atomicMax, long long, v > old ? v : old)
SIMT_ATOMIC_INTEGER(atomicAnd, old& v)
SIMT_ATOMIC_INTEGER(atomicOr, old | v)
SIMT_ATOMIC_INTEGER(atomicXor, old ^ v)
SIMT_ATOMIC_INTEGER(atomicExch, v)
SIMT_ATOMIC(atomicExch, float, v)
SIMT_ATOMIC(atomicInc, unsigned, old >= v ? 0 : old + 1)
SIMT_ATOMIC(atomicDec, unsigned, old == 0 || old > v ? v : old - 1)

#define SIMT_ATOMIC_CAS(T)                                                                                   \
    inline T atomicCAS(T* p, T expected, T v)                                                                \
    {                                                                                                        \
        simt::before_atomic();                                                                               \
        __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);              \
        return expected;                                                                                     \
    }
SIMT_ATOMIC_CAS(unsigned short)
SIMT_ATOMIC_CAS(int)
SIMT_ATOMIC_CAS(unsigned)
SIMT_ATOMIC_CAS(unsigned long long)

// Vectors are added component by component, as on the device (sm_90): the whole is not one atomic.
inline float2 atomicAdd(float2* p, float2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
inline float4 atomicAdd(float4* p, float4 v)
{
    return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}

// ---- loads and stores with a cache hint; counted by simt_count_begin()
#define SIMT_LOAD(name)                                                                                      \
    template <class T> T name(const T* p, simt::Site at = simt::here())                                      \
    {                                                                                                        \
        simt::access(p, sizeof(T), at);                                                                      \
        return *p;                                                                                           \
    }
#define SIMT_STORE(name)                                                                                     \
    template <class T> void name(T* p, T value, simt::Site at = simt::here())                                \
    {                                                                                                        \
        simt::access(p, sizeof(T), at);                                                                      \
        *p = value;                                                                                          \
    }
SIMT_LOAD(__ldg)
SIMT_LOAD(__ldca)
SIMT_LOAD(__ldcg)
SIMT_LOAD(__ldcs)
SIMT_LOAD(__ldlu)
SIMT_STORE(__stwb)
SIMT_STORE(__stcg)
SIMT_STORE(__stcs)
SIMT_STORE(__stwt)
// As volatile: what other threads may write at this moment.
template <class T> T __ldcv(const T* p, simt::Site at = simt::here())
{
    T value;
    simt::access(p, sizeof(T), at);
    __atomic_load(p, &value, __ATOMIC_RELAXED);
    return value;
}
// Counts a plain access.
inline void simt_touch(const void* p, size_t bytes, simt::Site at = simt::here())
{
    simt::access(p, bytes, at);
}

// ---- integers
inline int                __popc(unsigned x) { return __builtin_popcount(x); }
inline int                __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int                __ffs(int x) { return __builtin_ffs(x); }
inline int                __ffsll(long long x) { return __builtin_ffsll(x); }
inline int                __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
inline int                __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline unsigned long long __brevll(unsigned long long x)
{
    const unsigned long long mask[] = {0x5555555555555555u, 0x3333333333333333u, 0x0f0f0f0f0f0f0f0fu};
    for (int i = 0; i < 3; i++) x = (x >> (1 << i) & mask[i]) | (x & mask[i]) << (1 << i);
    return __builtin_bswap64(x);
}
inline unsigned __brev(unsigned x) { return (unsigned)(__brevll(x) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
inline int      __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
__extension__ typedef unsigned __int128 simt_uint128;
inline unsigned long long               __umul64hi(unsigned long long a, unsigned long long b)
{
    return (unsigned long long)((simt_uint128)a * b >> 64);
}

// ---- floats. Compile with -ffp-contract=off: a * b + c of these must stay two roundings.
inline unsigned  __float_as_uint(float x) { return simt::from_bits<unsigned>(simt::to_bits(x)); }
inline int       __float_as_int(float x) { return simt::from_bits<int>(simt::to_bits(x)); }
inline float     __uint_as_float(unsigned x) { return simt::from_bits<float>(x); }
inline float     __int_as_float(int x) { return simt::from_bits<float>((unsigned)x); }
inline long long __double_as_longlong(double x) { return simt::from_bits<long long>(simt::to_bits(x)); }
inline double    __longlong_as_double(long long x) { return simt::from_bits<double>((uint64_t)x); }
inline float     __fadd_rn(float a, float b) { return a + b; }
inline float     __fsub_rn(float a, float b) { return a - b; }
inline float     __fmul_rn(float a, float b) { return a * b; }
inline float     __fdiv_rn(float a, float b) { return a / b; }
inline float     __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float     __fsqrt_rn(float x) { return std::sqrt(x); }
inline float     __frcp_rn(float x) { return 1.0f / x; }
inline double    __dadd_rn(double a, double b) { return a + b; }
inline double    __dsub_rn(double a, double b) { return a - b; }
inline double    __dmul_rn(double a, double b) { return a * b; }
inline double    __ddiv_rn(double a, double b) { return a / b; }
inline double    __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline float     __fdividef(float a, float b) { return a / b; }
inline float     __expf(float x) { return std::exp(x); }
inline float     __logf(float x) { return std::log(x); }
inline float     __log2f(float x) { return std::log2(x); }
inline float     rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double    rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline int       __float2int_rn(float x) { return (int)std::rint(x); }
inline int       __float2int_rz(float x) { return (int)x; }
inline unsigned  __float2uint_rz(float x) { return (unsigned)x; }

template <class A, class B>
using simt_common =
    std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>>;
template <class A, class B> constexpr simt_common<A, B> min(A a, B b)
{
    using T = simt_common<A, B>;
    return (T)b < (T)a ? (T)b : (T)a;
}
template <class A, class B> constexpr simt_common<A, B> max(A a, B b)
{
    using T = simt_common<A, B>;
    return (T)a < (T)b ? (T)b : (T)a;
}
#endif
