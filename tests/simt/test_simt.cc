// test_simt.cc - the emulator's own test. First what it offers, against oracles; then planted bugs, each of
// which must be caught by the mode that claims it, and pass where it is put right. Children run this program
// in every mode.
//   test_simt               everything             test_simt NAME    one test
//   test_simt correct       no children: the tests and the bugs put right, in the environment given
//   test_simt bug NAME      one planted bug
#include <cublas_v2.h>
#include <cub/cub.cuh>
#include <cuda_runtime.h>
#include <curand_kernel.h>

#include "tests/test.h"
#include "bugs.h"
#include "simt_philox.h"

#include <algorithm>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static constexpr unsigned ALL_LANES = 0xffffffffu;

static std::vector<int> count_up(int n, int from = 0)
{
    std::vector<int> v(n);
    std::iota(v.begin(), v.end(), from);
    return v;
}

// ---- blocks and warps

static __global__ void numbers(int* out)
{
    int block  = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    int thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
    int size   = (int)(blockDim.x * blockDim.y * blockDim.z);
    atomicAdd(&out[block * size + thread], block * size + thread + 1);
}
TEST(every_thread_of_every_block_runs_once)
{
    Array<int>         out(2 * 3 * 4 * 5 * 6 * 7, 0);
    cudaLaunchConfig_t config = {};
    config.gridDim            = dim3(2, 3, 4);
    config.blockDim           = dim3(5, 6, 7);
    config.stream             = test_stream();
    CHECK_EQ(cudaLaunchKernelEx(&config, numbers, out.p), cudaSuccess);
    CHECK(out.get() == count_up(2 * 3 * 4 * 5 * 6 * 7, 1));
}

static __global__ void rotate_votes(int* out, int rounds)
{
    __shared__ int slot[96];
    int            t = (int)threadIdx.x, sum = 0;
    for (int r = 0; r < rounds; r++) {
        slot[t] = t + r;
        __syncthreads();
        sum += slot[(t + r) % 96];
        sum += 1000 * __syncthreads_count(t % 3 == r % 3);
        sum += 100000 * __syncthreads_or(t == 95 && r == 2) + 1000000 * __syncthreads_and(t < 96 - (r == 1));
    }
    out[t] = sum;
}
TEST(barriers_order_shared_memory_and_count_votes)
{
    Array<int> out(96, 0);
    go(rotate_votes, 1, 96, out.p, 5);
    std::vector<int> got = out.get(), want(96);
    for (int t = 0; t < 96; t++)
        for (int r = 0; r < 5; r++)
            want[t] += (t + r) % 96 + r + 32000 + 100000 * (r == 2) + 1000000 * (r != 1);
    CHECK(got == want);
}

static __global__ void sign_in(int* out) { out[1 + atomicAdd(&out[0], 1)] = (int)threadIdx.x; }
TEST(threads_run_in_the_order_asked_for)
{
    const char* order = getenv("SIMT_ORDER");
    Array<int>  out(101, 0);
    if (getenv("SIMT_PREEMPT")) SKIP("atomics let others run");
    go(sign_in, 1, 100, out.p);
    std::vector<int> got = out.get(), up = count_up(100);
    got.erase(got.begin());
    if (!order) CHECK(got == up);
    else if (!strcmp(order, "rev")) CHECK(got == std::vector<int>(up.rbegin(), up.rend()));
    else {
        CHECK(got != up);
        std::sort(got.begin(), got.end());
        CHECK(got == up);
    }
}

template <class T> static __global__ void shuffles(T* out, int width, int a)
{
    int t       = (int)threadIdx.x;
    T   v       = (T)(t * 3 + 1);
    out[t]      = __shfl_sync(ALL_LANES, v, a, width);
    out[t + 32] = __shfl_up_sync(ALL_LANES, v, (unsigned)a, width);
    out[t + 64] = __shfl_down_sync(ALL_LANES, v, (unsigned)a, width);
    out[t + 96] = __shfl_xor_sync(ALL_LANES, v, a, width);
}
template <class T> static void check_shuffles(int width, int a)
{
    Array<T> out(128, T());
    go(shuffles<T>, 1, 32, out.p, width, a);
    std::vector<T> got = out.get();
    for (int l = 0; l < 32; l++) {
        int begin = l / width * width, end = begin + width;
        int from[4] = {begin + a % width, l - a < begin ? l : l - a, l + a >= end ? l : l + a,
                       (l ^ a) >= end ? l : l ^ a};
        for (int i = 0; i < 4; i++) CHECK_EQ(got[l + 32 * i], from[i] * 3 + 1);
    }
}
TEST(shuffles_of_every_width)
{
    for (int width = 1; width <= 32; width *= 2)
        for (int a : {0, 1, 3, 16, 31}) {
            check_shuffles<int>(width, a);
            check_shuffles<int64_t>(width, a);
            check_shuffles<float>(width, a);
            check_shuffles<double>(width, a);
        }
}

// Groups of lanes with masks of their own, which go round different numbers of times.
static __global__ void groups(int* out, int lanes)
{
    int      t = (int)threadIdx.x, group = t / lanes, sum = 0;
    unsigned mask = (lanes == 32 ? ALL_LANES : (1u << lanes) - 1) << (group * lanes % 32);
    for (int r = 0; r <= group; r++) {
        sum += __shfl_sync(mask, t, r, lanes);
        sum += (int)__reduce_add_sync(mask, (unsigned)r);
    }
    __syncwarp();
    out[t] = sum;
}
TEST(sub_warps_collect_on_their_own)
{
    for (int lanes : {1, 4, 16, 32}) {
        Array<int> out(64, 0);
        go(groups, 1, 64, out.p, lanes);
        std::vector<int> got = out.get();
        for (int t = 0; t < 64; t++) {
            int group = t / lanes, want = 0;
            for (int r = 0; r <= group; r++) want += group * lanes + r % lanes + r * lanes;
            CHECK_EQ(got[t], want);
        }
    }
}

static __global__ void votes(unsigned* out, const int* key)
{
    int t = (int)threadIdx.x, same = 0;
    out[t] = __ballot_sync(ALL_LANES, key[t] & 1);
    out[t + 32] =
        (unsigned)__any_sync(ALL_LANES, key[t] == 5) * 2 + (unsigned)__all_sync(ALL_LANES, key[t] < 9);
    out[t + 64]  = __match_any_sync(ALL_LANES, (unsigned long long)key[t] << 40);
    out[t + 96]  = __match_all_sync(ALL_LANES, key[t] / 16, &same) + (unsigned)same;
    out[t + 128] = __reduce_add_sync(ALL_LANES, (unsigned)key[t]);
    out[t + 160] = (unsigned)__reduce_min_sync(ALL_LANES, key[t] - 4);
    out[t + 192] = (unsigned)__reduce_max_sync(ALL_LANES, key[t] - 4);
    out[t + 224] = __reduce_or_sync(ALL_LANES, 1u << key[t]) + __reduce_and_sync(ALL_LANES, 6u) +
                   __reduce_xor_sync(ALL_LANES, (unsigned)t);
}
TEST(votes_matches_and_reductions)
{
    std::vector<int> key(32);
    for (int& k : key) k = (int)test_below(8);
    Array<int>      in(key);
    Array<unsigned> out(256, 0u);
    go(votes, 1, 32, out.p, (const int*)in.p);
    std::vector<unsigned> got = out.get();
    unsigned              odd = 0, same[32] = {}, bits = 0;
    for (int l = 0; l < 32; l++) {
        odd |= (unsigned)(key[l] & 1) << l;
        bits |= 1u << key[l];
        for (int k = 0; k < 32; k++) same[l] |= (unsigned)(key[k] == key[l]) << k;
    }
    auto [low, high] = std::minmax_element(key.begin(), key.end());
    unsigned any     = std::count(key.begin(), key.end(), 5) > 0;
    for (int l = 0; l < 32; l++) {
        CHECK_EQ(got[l], odd);
        CHECK_EQ(got[l + 32], any * 2 + 1);
        CHECK_EQ(got[l + 64], same[l]);
        CHECK_EQ(got[l + 96], ALL_LANES + 1u);
        CHECK_EQ(got[l + 128], std::accumulate(key.begin(), key.end(), 0));
        CHECK_EQ((int)got[l + 160], *low - 4);
        CHECK_EQ((int)got[l + 192], *high - 4);
        CHECK_EQ(got[l + 224], bits + 6);
    }
}

struct Atomics {
    int                add, sub, low, exchanged;
    unsigned           top, ors, ands, xors, inc, dec, cas;
    float              sum;
    unsigned long long big, big_low;
    long long          big_top;
    double             total;
    float4             four;
};
static __global__ void atomics(Atomics* a)
{
    int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    atomicAdd(&a->add, t);
    atomicSub(&a->sub, t);
    atomicMin(&a->low, t - 70);
    atomicMax(&a->top, (unsigned)t);
    atomicOr(&a->ors, 1u << t % 32);
    atomicAnd(&a->ands, ~(1u << t % 16));
    atomicXor(&a->xors, (unsigned)t);
    atomicInc(&a->inc, 99);
    atomicDec(&a->dec, 99);
    atomicAdd(&a->sum, 0.5f);
    atomicAdd(&a->total, 0.25);
    atomicAdd(&a->big, 1ull << 33);
    atomicMin(&a->big_low, ((unsigned long long)t + 5) << 40);
    atomicMax(&a->big_top, ((long long)t - 9) * (1ll << 40));
    atomicAdd(&a->four, make_float4(1, 2, 3, 4));
    for (unsigned seen = atomicAdd(&a->cas, 0), was = seen + 1; was != seen;) { // counts by compare and swap
        was  = seen;
        seen = atomicCAS(&a->cas, was, was + 1);
    }
    atomicExch(&a->exchanged, t);
}
TEST(atomics_of_every_kind)
{
    std::vector<Atomics> start(1);
    start[0].low = 1 << 20, start[0].ands = ALL_LANES, start[0].big_low = ~0ull,
    start[0].big_top = -(1ll << 60);
    Array<Atomics> a(start);
    go(atomics, 3, 64, a.p);
    Atomics r = a.get()[0];
    CHECK_EQ(r.add, 191 * 96);
    CHECK_EQ(r.sub, -191 * 96);
    CHECK_EQ(r.low, -70);
    CHECK_EQ(r.top, 191);
    CHECK_EQ(r.ors, ALL_LANES);
    CHECK_EQ(r.ands, 0xffff0000u);
    CHECK_EQ(r.xors, 0);
    CHECK_EQ(r.inc, 192 % 100);
    CHECK_EQ(r.dec, 8);
    CHECK_EQ(r.cas, 192);
    CHECK(r.sum == 96 && r.total == 48 && r.four.x == 192 && r.four.w == 768);
    CHECK(r.big == 192ull << 33 && r.big_low == 5ull << 40 && r.big_top == 182ll << 40);
    CHECK(r.exchanged >= 0 && r.exchanged < 192);
}

TEST(intrinsics_have_their_values)
{
    CHECK(__popc(0xf0f0u) == 8 && __popcll(~0ull) == 64 && __ffs(0) == 0 && __ffs(8) == 4 &&
          __ffsll(1ll << 40) == 41);
    CHECK(__clz(0) == 32 && __clz(1) == 31 && __clzll(0) == 64 && __clzll(1ll << 62) == 1);
    CHECK(__brev(1) == 0x80000000u && __brev(0x12345678u) == 0x1e6a2c48u && __brevll(2) == 1ull << 62);
    CHECK(__umulhi(0x80000000u, 6) == 3 && __mulhi(-2, 1) == -1 && __umul64hi(1ull << 63, 6) == 3);
    CHECK(__float_as_uint(1.0f) == 0x3f800000u && __uint_as_float(0x40000000u) == 2.0f &&
          __int_as_float(0) == 0.0f);
    CHECK(__fmaf_rn(3, 4, 5) == 17 && __ddiv_rn(1, 4) == 0.25 && __frcp_rn(8) == 0.125f &&
          __fsqrt_rn(9) == 3);
    CHECK(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(float2) == 8 && sizeof(ulonglong2) == 16);
    CHECK(min(3, 4u) == 3 && max(int64_t{5}, 7) == 7);
    CHECK_STR(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady");
    CHECK_STR(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
}

template <class T> static __global__ void reverse(T* v)
{
    SIMT_DYNAMIC_SHARED(T, tile);
    T* at             = v + blockIdx.x * blockDim.x;
    tile[threadIdx.x] = at[threadIdx.x];
    __syncthreads();
    at[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
TEST(dynamic_shared_memory_has_the_launch_s_size)
{
    std::vector<int>   up = count_up(128);
    Array<int64_t>     v(std::vector<int64_t>(up.begin(), up.end()));
    cudaLaunchConfig_t config = {};
    config.gridDim = 2, config.blockDim = 64, config.dynamicSmemBytes = 64 * sizeof(int64_t);
    config.stream = test_stream();
    CHECK_EQ(cudaLaunchKernelEx(&config, reverse<int64_t>, v.p), cudaSuccess);
    for (int i = 0; i < 128; i++) CHECK_EQ(v.get()[i], i / 64 * 64 + 63 - i % 64);
    config.dynamicSmemBytes = 60 << 10;
    CHECK_EQ(cudaLaunchKernelEx(&config, reverse<int64_t>, v.p), cudaErrorInvalidValue);
    CHECK_EQ(cudaFuncSetAttribute(reverse<int64_t>, cudaFuncAttributeMaxDynamicSharedMemorySize, 60 << 10),
             0);
    CHECK_EQ(cudaLaunchKernelEx(&config, reverse<int64_t>, v.p), cudaSuccess);
    config.blockDim = 1025;
    CHECK_EQ(cudaLaunchKernelEx(&config, reverse<int64_t>, v.p), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
}

// ---- random numbers

static __global__ void philox(uint4* own, uint4* header)
{
    unsigned long long seed = 0x123456789abcdefull * (threadIdx.x + 1), offset = threadIdx.x * 3;
    simt_philox::curandStatePhilox4_32_10_t a;
    curandStatePhilox4_32_10_t              b;
    simt_philox::curand_init(seed, threadIdx.x + (1ull << 40), offset, &a);
    curand_init(seed, threadIdx.x + (1ull << 40), offset, &b);
    for (unsigned i = 0; i < threadIdx.x % 3; i++)
        header[threadIdx.x].x = simt_philox::curand(&a) - curand(&b);
    own[threadIdx.x]    = simt_philox::curand4(&a);
    header[threadIdx.x] = curand4(&b);
}
TEST(philox_gives_the_published_words_and_curand_s)
{
    uint4 w = simt_philox::curand_Philox4x32_10(make_uint4(0, 0, 0, 0),
                                                make_uint2(0, 0)); // Random123's known answer
    CHECK(w.x == 0x6627e8d5 && w.y == 0xe169c58d && w.z == 0xbc57ac4c && w.w == 0x9b00dbd8);
    Array<uint4> own(64, w), header(64, w);
    go(philox, 1, 64, own.p, header.p);
    std::vector<uint4> a = own.get(), b = header.get();
    for (int i = 0; i < 64; i++)
        CHECK(a[i].x == b[i].x && a[i].y == b[i].y && a[i].z == b[i].z && a[i].w == b[i].w);
}

// ---- CUB

struct Largest {
    __device__ double operator()(double a, double b) const { return a < b ? b : a; }
};
template <int THREADS> static __global__ void block_primitives(const int* in, int* out, double* top)
{
    using Scan   = cub::BlockScan<int, THREADS>;
    using Reduce = cub::BlockReduce<double, THREADS>;
    __shared__ typename Scan::TempStorage   scan;
    __shared__ typename Reduce::TempStorage reduce;
    int                                     t = (int)threadIdx.x, four[4], total;
    Scan(scan).ExclusiveSum(in[t], out[t], total);
    out[THREADS + t] = total;
    __syncthreads();
    Scan(scan).InclusiveSum(in[t], out[2 * THREADS + t]);
    __syncthreads();
    for (int i = 0; i < 4; i++) four[i] = in[4 * t + i];
    Scan(scan).ExclusiveSum(four, four);
    for (int i = 0; i < 4; i++) out[3 * THREADS + 4 * t + i] = four[i];
    double best = Reduce(reduce).Reduce((double)in[t], Largest());
    if (t == 0) *top = best;
}
template <int THREADS> static void check_block_primitives()
{
    std::vector<int> in(4 * THREADS), want(7 * THREADS);
    for (int& x : in) x = (int)test_below(1000);
    Array<int>    device(in), out(want);
    Array<double> top(1, 0.0);
    go(block_primitives<THREADS>, 1, THREADS, (const int*)device.p, out.p, top.p);
    std::exclusive_scan(in.begin(), in.begin() + THREADS, want.begin(), 0);
    std::fill_n(want.begin() + THREADS, THREADS, std::accumulate(in.begin(), in.begin() + THREADS, 0));
    std::inclusive_scan(in.begin(), in.begin() + THREADS, want.begin() + 2 * THREADS);
    std::exclusive_scan(in.begin(), in.end(), want.begin() + 3 * THREADS, 0);
    CHECK(out.get() == want);
    CHECK(top.get()[0] == *std::max_element(in.begin(), in.begin() + THREADS));
}
TEST(cub_block_scans_and_reductions)
{
    check_block_primitives<32>();
    check_block_primitives<96>();
    check_block_primitives<256>();
}

template <class K> static __global__ void sort_block(K* key, int* place, int begin, int end, int how)
{
    using Sort = cub::BlockRadixSort<K, 64, 3, int>;
    __shared__ typename Sort::TempStorage storage;
    int                                   t = (int)threadIdx.x, v[3];
    K                                     k[3];
    for (int i = 0; i < 3; i++) k[i] = key[t * 3 + i], v[i] = t * 3 + i;
    if (how == 0) Sort(storage).Sort(k, v, begin, end);
    if (how == 1) Sort(storage).SortDescending(k, v, begin, end);
    if (how == 2) Sort(storage).SortBlockedToStriped(k, v, begin, end);
    for (int i = 0; i < 3; i++) {
        int at  = how == 2 ? i * 64 + t : t * 3 + i;
        key[at] = k[i], place[at] = v[i];
    }
}
// The stable order of keys by their bits [begin, end), as numbers where all bits are asked for.
template <class K>
static std::vector<int> sorted_places(const std::vector<K>& key, int begin, int end, bool descending)
{
    std::vector<int> place = count_up((int)key.size());
    auto             digit = [&](int i) {
        if (end - begin == sizeof(K) * 8) return (long double)key[i];
        return (long double)((simt::to_bits(key[i]) >> begin) & ((1ull << (end - begin)) - 1));
    };
    std::stable_sort(place.begin(), place.end(),
                     [&](int a, int b) { return descending ? digit(b) < digit(a) : digit(a) < digit(b); });
    return place;
}
template <class K> static void check_sorts(int begin, int end)
{
    std::vector<K> key(192);
    for (K& k : key)
        k = (K)(test_below(40) - (std::is_signed_v<K> ? 20 : 0)) * (K)(test_below(2) ? 1 : 1 << 20);
    for (int how = 0; how < 3; how++) {
        Array<K>         device(key), sorted(key);
        Array<int>       place(192, 0), places(count_up(192));
        std::vector<int> want = sorted_places(key, begin, end, how == 1);
        go(sort_block<K>, 1, 64, device.p, place.p, begin, end, how);
        CHECK(place.get() == want);
        for (int i = 0; i < 192; i++) CHECK(device.get()[i] == key[want[i]]);
        device = Array<K>(key);
        Scratch scratch;
        auto    sort = how == 1 ? cub::DeviceRadixSort::SortPairsDescending<K, int, int>
                                : cub::DeviceRadixSort::SortPairs<K, int, int>;
        for (int pass = 0; pass < 2; pass++) {
            const int* from = places.p;
            CHECK_EQ(sort(scratch.p, scratch.bytes, device.p, sorted.p, from, place.p, 192, begin, end,
                          test_stream()),
                     0);
            scratch.allocate();
        }
        CHECK(place.get() == want);
    }
}
TEST(cub_sorts_every_kind_of_key_and_bit_range)
{
    check_sorts<uint32_t>(0, 32);
    check_sorts<uint32_t>(3, 22);
    check_sorts<int32_t>(0, 32);
    check_sorts<uint64_t>(0, 64);
    check_sorts<uint64_t>(1, 25);
    check_sorts<int64_t>(0, 64);
    check_sorts<float>(0, 32);
    check_sorts<double>(0, 64);
}

static __global__ void warp_primitives(const int* in, int* out)
{
    using Scan   = cub::WarpScan<int>;
    using Reduce = cub::WarpReduce<int, 8>;
    __shared__ Scan::TempStorage scan;
    __shared__ Reduce::TempStorage reduce;
    int                            t = (int)threadIdx.x;
    Scan(scan).InclusiveSum(in[t], out[t]);
    Scan(scan).ExclusiveSum(in[t], out[64 + t]);
    int sum = Reduce(reduce).Sum(in[t]);
    if (t % 8 == 0) out[128 + t / 8] = sum;
}
TEST(cub_warp_scans_and_reductions)
{
    std::vector<int> in(64), want(136);
    for (int& x : in) x = (int)test_below(100);
    for (int w = 0; w < 64; w += 32) {
        std::inclusive_scan(&in[w], &in[w] + 32, &want[w]);
        std::exclusive_scan(&in[w], &in[w] + 32, &want[64 + w], 0);
    }
    for (int g = 0; g < 8; g++) want[128 + g] = std::accumulate(&in[8 * g], &in[8 * g] + 8, 0);
    Array<int> device(in), out(136, 0);
    go(warp_primitives, 1, 64, (const int*)device.p, out.p);
    CHECK(out.get() == want);
}

TEST(cub_device_scans_reductions_and_selections)
{
    std::vector<int> in(1000), odd(1000), scan(1000), kept;
    for (int i = 0; i < 1000; i++) {
        in[i]  = (int)test_below(50) - 10;
        odd[i] = in[i] & 1;
        if (odd[i]) kept.push_back(in[i]);
    }
    Array<int>     device(in), flags(odd), sums(1000, 0), chosen(1000, 0), some(3, 0);
    Array<int64_t> offsets(1000, int64_t{0});
    const int*     d = device.p;
    for (int call = 0; call < 5; call++) {
        Scratch scratch;
        for (int pass = 0; pass < 2; pass++) {
            void*        t    = scratch.p;
            size_t&      b    = scratch.bytes;
            cudaStream_t s    = test_stream();
            auto         plus = std::plus<int64_t>();
            cudaError_t  e =
                call == 0   ? cub::DeviceScan::ExclusiveScan(t, b, d, offsets.p, plus, int64_t{0}, 1000, s)
                 : call == 1 ? cub::DeviceScan::InclusiveSum(t, b, d, sums.p, 1000, s)
                 : call == 2 ? cub::DeviceReduce::Sum(t, b, d, some.p, 1000, s)
                 : call == 3 ? cub::DeviceReduce::Max(t, b, d, some.p + 1, 1000, s)
                             : cub::DeviceSelect::Flagged(t, b, d, flags.p, chosen.p, some.p + 2, 1000, s);
            CHECK_EQ(e, cudaSuccess);
            if (pass == 0) scratch.allocate();
        }
    }
    std::vector<int64_t> want(1000);
    std::vector<int>     result = some.get(), got = chosen.get();
    std::exclusive_scan(in.begin(), in.end(), want.begin(), int64_t{0});
    std::inclusive_scan(in.begin(), in.end(), scan.begin());
    CHECK(offsets.get() == want && sums.get() == scan);
    CHECK_EQ(result[0], scan[999]);
    CHECK_EQ(result[1], *std::max_element(in.begin(), in.end()));
    CHECK_EQ(result[2], kept.size());
    CHECK(std::equal(kept.begin(), kept.end(), got.begin()));
    size_t small = 1;
    CHECK_EQ(cub::DeviceReduce::Sum(sums.p, small, d, some.p, 1000), cudaErrorInvalidValue);
}

// ---- cuBLAS

static void check_gemm(int m, int n, int k, bool ta, bool tb, float alpha, float beta)
{
    int                lda = (ta ? k : m) + 2, ldb = (tb ? n : k) + 1, ldc = m + 3;
    std::vector<float> a((size_t)lda * (ta ? m : k)), b((size_t)ldb * (tb ? k : n)), c((size_t)ldc * n);
    for (float& x : a) x = test_uniform();
    for (float& x : b) x = test_uniform();
    for (float& x : c) x = beta == 0 ? NAN : test_uniform();
    Array<float>   da(a), db(b), dc(c);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, test_stream());
    CHECK_EQ(cublasSgemm(handle, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N, m, n, k,
                         &alpha, da.p, lda, db.p, ldb, &beta, dc.p, ldc),
             CUBLAS_STATUS_SUCCESS);
    cublasDestroy(handle);
    std::vector<float> got = dc.get();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double want = beta == 0 ? 0 : (double)beta * c[i + (size_t)j * ldc];
            for (int l = 0; l < k; l++)
                want += (double)alpha * (ta ? a[l + (size_t)i * lda] : a[i + (size_t)l * lda]) *
                        (tb ? b[j + (size_t)l * ldb] : b[l + (size_t)j * ldb]);
            CHECK_NEAR(got[i + (size_t)j * ldc], want, 1e-5 * (k + 1));
        }
}
TEST(cublas_multiplies_with_every_transpose)
{
    for (int which = 0; which < 4; which++) {
        check_gemm(5, 7, 9, which & 1, which / 2, 1.0f, 0.0f);
        check_gemm(8, 1, 3, which & 1, which / 2, 0.5f, 2.0f);
        check_gemm(3, 4, 0, which & 1, which / 2, 1.0f, 1.0f);
    }
    float          one = 1, *p = nullptr;
    cublasHandle_t handle;
    cublasCreate(&handle);
    CHECK_EQ(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, p, 3, p, 4, &one, p, 4),
             CUBLAS_STATUS_INVALID_VALUE);
    cublasDestroy(handle);
}

// So that no tolerance is of one order of sums alone: the CPU's products add from the first to the last.
TEST(cublas_adds_products_in_blocks_of_32)
{
    const float        one = 1, zero = 0, big = 16777216; // big + 1 is big
    std::vector<float> ones(64, 1.0f), row(64, 1.0f);
    row[0] = big;
    Array<float>   a(row), b(ones), c(1, 0.0f);
    cublasHandle_t handle;
    cublasCreate(&handle);
    cublasSetStream(handle, test_stream());
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 64, &one, a.p, 1, b.p, 64, &zero, c.p, 1);
    cublasDestroy(handle);
    CHECK_EQ(c.get()[0], big + 32);
}

// ---- memory

TEST(copies_in_every_direction)
{
    std::vector<int> from = count_up(64), to(64);
    Array<int>       a(64, 0), b(64, 0);
    int*             pinned = nullptr;
    CHECK_EQ(cudaMallocHost(&pinned, 256), cudaSuccess);
    CHECK_EQ(cudaMemcpy(a.p, from.data(), 256, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_EQ(cudaMemcpyAsync(b.p, a.p, 256, cudaMemcpyDeviceToDevice, test_stream()), cudaSuccess);
    CHECK_EQ(cudaMemcpyAsync(pinned, b.p, 256, cudaMemcpyDeviceToHost, test_stream()), cudaSuccess);
    CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
    CHECK(std::equal(from.begin(), from.end(), pinned));
    CHECK_EQ(cudaMemcpy2D(to.data(), 16, a.p + 1, 32, 12, 8, cudaMemcpyDeviceToHost), cudaSuccess);
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 4; c++) CHECK_EQ(to[4 * r + c], c < 3 ? 8 * r + c + 1 : 0);
    CHECK_EQ(cudaMemset(a.p, 0x11, 256), cudaSuccess);
    CHECK_EQ(a.get()[63], 0x11111111);
    CHECK_EQ(cudaMemcpy(a.p + 1, from.data(), 256, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_EQ(cudaMemcpy(to.data(), from.data(), 256, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_EQ(cudaMemcpy(a.p, b.p, 256, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    CHECK_EQ(cudaMemset(a.p, 0, 257), cudaErrorInvalidValue);
    CHECK_EQ(cudaFree(pinned), cudaErrorInvalidValue);
    CHECK_EQ(cudaFreeHost(pinned), cudaSuccess);
}

static __global__ void add_to_all(int* p, int n) { atomicAdd(&p[threadIdx.x], n); }
TEST(host_memory_that_devices_reach)
{
    std::vector<int> own(64);
    int *            managed = nullptr, *mapped = nullptr, *device = nullptr;
    CHECK_EQ(cudaMallocManaged(&managed, 256), cudaSuccess);
    CHECK_EQ(cudaHostAlloc(&mapped, 256, cudaHostAllocMapped), cudaSuccess);
    CHECK_EQ(cudaHostGetDevicePointer(&device, mapped, 0), cudaSuccess);
    simt_refuse_pinning(true);
    CHECK_EQ(cudaHostRegister(own.data(), 256, cudaHostRegisterMapped), cudaErrorMemoryAllocation);
    simt_refuse_pinning(false);
    CHECK_EQ(cudaHostRegister(own.data(), 256, cudaHostRegisterMapped), cudaSuccess);
    CHECK_EQ(cudaHostRegister(own.data(), 256, 0), cudaErrorHostMemoryAlreadyRegistered);
    for (int i = 0; i < 64; i++) managed[i] = mapped[i] = 0;
    for (int* p : {managed, device, own.data()}) go(add_to_all, 1, 64, p, 7);
    CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
    CHECK(managed[63] == 7 && mapped[0] == 7 && own[5] == 7);
    cudaPointerAttributes at;
    CHECK(!cudaPointerGetAttributes(&at, managed) && at.type == cudaMemoryTypeManaged &&
          at.hostPointer == managed);
    CHECK(!cudaPointerGetAttributes(&at, own.data() + 3) && at.type == cudaMemoryTypeHost);
    CHECK_EQ(cudaHostUnregister(own.data()), cudaSuccess);
    CHECK(!cudaPointerGetAttributes(&at, own.data()) && at.type == cudaMemoryTypeUnregistered);
    CHECK_EQ(cudaHostUnregister(own.data()), cudaErrorHostMemoryNotRegistered);
    CHECK_EQ(cudaFree(managed), cudaSuccess);
    CHECK_EQ(cudaFreeHost(mapped), cudaSuccess);
}

// As sections of a file that fill their last page: one is registered, then the one behind it, which could be copied before.
TEST(registered_memory_ends_where_another_begins)
{
    std::vector<int> own = count_up(128);
    Array<int>       a(64, 0);
    CHECK_EQ(cudaHostRegister(own.data(), 256, cudaHostRegisterMapped), cudaSuccess);
    CHECK_EQ(cudaMemcpy(a.p, own.data() + 64, 256, cudaMemcpyHostToDevice), cudaSuccess);
    CHECK_EQ(a.get()[63], own[127]);
    CHECK_EQ(cudaMemcpy(a.p, own.data() + 63, 8, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_EQ(cudaHostRegister(own.data() + 64, 256, cudaHostRegisterMapped), cudaSuccess);
    CHECK_EQ(cudaHostUnregister(own.data()), cudaSuccess);
    CHECK_EQ(cudaHostUnregister(own.data() + 64), cudaSuccess);
}

TEST(the_nth_allocation_fails_and_memory_runs_out)
{
    int *  a = nullptr, *b = nullptr;
    size_t free_before, free_after, total, live = simt_live_allocations();
    simt_fail_allocation(2);
    CHECK_EQ(cudaMalloc(&a, 1000), cudaSuccess);
    CHECK_EQ(cudaMallocAsync(&b, 1000, test_stream()), cudaErrorMemoryAllocation);
    CHECK(b == nullptr && cudaGetLastError() == cudaErrorMemoryAllocation);
    CHECK_EQ(simt_live_allocations(), live + 1);
    CHECK_EQ(cudaMemGetInfo(&free_before, &total), cudaSuccess);
    CHECK_EQ(cudaMallocAsync(&b, 1000, test_stream()), cudaSuccess);
    CHECK_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
    CHECK_EQ(free_before - free_after, 1000);
    CHECK_EQ(cudaFreeAsync(b, test_stream()), cudaSuccess);
    CHECK_EQ(cudaFree(a), cudaSuccess);
    CHECK_EQ(cudaFree(a), cudaErrorInvalidValue);
    CHECK_EQ(cudaMalloc(&a, total + 1), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
    CHECK_EQ(simt_live_allocations(), live);
}

TEST(the_nth_launch_is_refused_once)
{
    Array<int>         v(128, 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 128, config.stream = test_stream();
    simt_fail_launch(2);
    CHECK_EQ(cudaLaunchKernelEx(&config, add_to_all, v.p, 1), cudaSuccess);
    CHECK_EQ(cudaMemsetAsync(v.p, 7, 4, test_stream()), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
    CHECK_EQ(simt_fail_launch(1), 0);
    CHECK_EQ(cudaLaunchKernelEx(&config, add_to_all, v.p, 1), cudaErrorInvalidConfiguration);
    CHECK_EQ(cudaLaunchKernelEx(&config, add_to_all, v.p, 1), cudaSuccess);
    simt_fail_launch(5);
    CHECK_EQ(cudaLaunchKernelEx(&config, add_to_all, v.p, 1), cudaSuccess);
    CHECK_EQ(simt_fail_launch(0), 4);
    CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
    for (int i = 0; i < 128; i++) CHECK_EQ(v.get()[i], 3);
}

// ---- devices

static __global__ void sum_parts(int* const* part, int parts, int* out)
{
    for (int p = 0; p < parts; p++) out[threadIdx.x] += part[p][threadIdx.x];
}
TEST(devices_read_each_other_once_linked)
{
    int can = 0;
    CHECK_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
    if (!can) {
        CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
        SKIP("SIMT_LINKS=none");
    }
    int* far = nullptr;
    CHECK_EQ(cudaSetDevice(1), cudaSuccess);
    CHECK_EQ(cudaMalloc(&far, 128), cudaSuccess);
    CHECK_EQ(cudaMemset(far, 0, 128), cudaSuccess);
    CHECK_EQ(cudaDeviceSynchronize(), cudaSuccess);
    CHECK_EQ(cudaSetDevice(0), cudaSuccess);
    Array<int>  near(count_up(32)), out(32, 0);
    Array<int*> parts(std::vector<int*>{near.p, far});
    CHECK_EQ(cudaMemcpyPeer(far, 1, near.p, 0, 128), cudaSuccess);
    CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
    CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    CHECK_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
    go(sum_parts, 1, 32, (int* const*)parts.p, 2, out.p);
    for (int i = 0; i < 32; i++) CHECK_EQ(out.get()[i], 2 * i);
    CHECK_EQ(cudaDeviceDisablePeerAccess(1), cudaSuccess);
    simt_link(0, 1, false);
    CHECK(!cudaDeviceCanAccessPeer(&can, 1, 0) && !can);
    CHECK_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessUnsupported);
    simt_link(0, 1, true);
    CHECK_EQ(cudaSetDevice(99), cudaErrorInvalidDevice);
    cudaPointerAttributes at;
    CHECK(!cudaPointerGetAttributes(&at, far) && at.type == cudaMemoryTypeDevice && at.device == 1);
    CHECK_EQ(cudaFree(far), cudaSuccess);
}

// What a program with these links answers of four devices: a digit a pair, 0 where there is no link, else one more than its rank.
static std::string links_of(const char* links)
{
    Child child = run_child({"links"}, (std::string("SIMT_DEVICES=4 ") + links).c_str());
    return child.status ? "fails" : child.output.substr(0, child.output.find('\n'));
}
static int print_links()
{
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++) {
            int can = -1;
            int supported = 0, rank = 0;
            if (cudaDeviceCanAccessPeer(&can, a, b)) return 1;
            const cudaError_t e = cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrAccessSupported, a, b);
            if (a == b ? e != cudaErrorInvalidDevice : e || supported != can) return 1;
            if (can && cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, a, b)) return 1;
            printf("%d", can ? 1 + rank : 0);
        }
    return printf("\n"), 0;
}
TEST(links_are_what_the_environment_says)
{
    CHECK_STR(links_of("SIMT_LINKS=").c_str(), "0111101111011110");
    CHECK_STR(links_of("SIMT_LINKS=none").c_str(), "0000000000000000");
    CHECK_STR(links_of("SIMT_LINKS=0-1,2-3,3-0").c_str(), "0101100000011010");
    CHECK_STR(links_of("SIMT_LINKS=0-1:1,2-3,3-0:2").c_str(), "0203200000013010");
    for (const char* bad : {"SIMT_LINKS=0-1/2-3", "SIMT_LINKS=1-1", "SIMT_LINKS=0-16", "SIMT_LINKS=0", "SIMT_LINKS=0-1:", "SIMT_LINKS=0-1:-1",
                            "SIMT_LINKS=0-1:1:2"})
        CHECK_STR(links_of(bad).c_str(), "fails");
}

TEST(attributes_properties_and_occupancy)
{
    int            value = 0, blocks = 0;
    char           bus[16];
    cudaDeviceProp p;
    CHECK(!cudaDeviceGetPCIBusId(bus, sizeof bus, 1) && !cudaDeviceGetByPCIBusId(&value, bus) && value == 1);
    CHECK_EQ(cudaDeviceGetByPCIBusId(&value, "0000:ff:00.0"), cudaErrorInvalidDevice);
    CHECK(!cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) &&
          !cudaGetDeviceProperties(&p, 0));
    CHECK(value > 0 && value == p.multiProcessorCount && p.warpSize == 32 && p.major >= 8);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_to_all, 256, 0), cudaSuccess);
    CHECK_EQ(blocks, p.maxThreadsPerMultiProcessor / 256);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_to_all, 256, 100 << 10), cudaSuccess);
    CHECK_EQ(blocks, 2);
    simt_set_occupancy(5);
    CHECK_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_to_all, 256, 0), cudaSuccess);
    CHECK_EQ(blocks, 5);
    simt_set_occupancy(0);
}

TEST(priorities_and_limits_are_remembered)
{
    int          least = 1, greatest = 1, got = 1;
    size_t       limit = 0;
    cudaStream_t stream;
    CHECK(!cudaDeviceGetStreamPriorityRange(&least, &greatest) && least == 0 && greatest < 0);
    for (int asked : {0, -1, greatest, greatest - 1, 1}) {
        CHECK(!cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, asked) && !cudaStreamGetPriority(stream, &got));
        CHECK_EQ(got, asked < greatest ? greatest : asked > least ? least : asked);
        cudaStreamDestroy(stream);
    }
    CHECK(!cudaStreamCreate(&stream) && !cudaStreamGetPriority(stream, &got) && got == least);
    cudaStreamDestroy(stream);
    CHECK(!cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 64) && !cudaDeviceGetLimit(&limit, cudaLimitMaxL2FetchGranularity));
    CHECK_EQ(limit, 64u);
    CHECK_EQ(cudaDeviceSetLimit(static_cast<cudaLimit>(7), 64), cudaErrorUnsupportedLimit);
    cudaGetLastError();
}

// Another process waits for this one's event, maps its memory and adds to it.
static std::string to_hex(const char (&bytes)[64])
{
    std::string text;
    char        byte[3];
    for (char c : bytes) text += (snprintf(byte, sizeof byte, "%02x", (unsigned char)c), byte);
    return text;
}
static bool from_hex(char (&bytes)[64], const char* text)
{
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned byte;
        if (sscanf(text + 2 * i, "%2x", &byte) != 1) return false;
        bytes[i] = (char)byte;
    }
    return true;
}
static int ipc_child(const char* memory, const char* event_text)
{
    cudaIpcMemHandle_t   handle;
    cudaIpcEventHandle_t event_handle;
    cudaEvent_t          ready;
    int*                 p = nullptr;
    if (!from_hex(handle.reserved, memory) || !from_hex(event_handle.reserved, event_text)) return 1;
    if (cudaIpcOpenMemHandle((void**)&p, handle, cudaIpcMemLazyEnablePeerAccess)) return 2;
    if (cudaIpcOpenEventHandle(&ready, event_handle) || cudaStreamWaitEvent(test_stream(), ready, 0)) return 3;
    go(add_to_all, 1, 64, p, 100);
    if (cudaEventRecord(ready, test_stream()) || cudaEventSynchronize(ready) || cudaEventDestroy(ready)) return 4;
    if (cudaStreamSynchronize(test_stream()) || cudaIpcCloseMemHandle(p)) return 5;
    return 0;
}
TEST(another_process_maps_the_memory)
{
    Array<int>         a(64, 5);
    cudaIpcMemHandle_t   handle;
    cudaIpcEventHandle_t event_handle;
    cudaEvent_t          ready, none;
    void*                same = nullptr;
    CHECK_EQ(cudaEventCreateWithFlags(&none, cudaEventInterprocess), cudaErrorInvalidValue);
    CHECK_EQ(cudaEventCreateWithFlags(&ready, cudaEventInterprocess | cudaEventDisableTiming), cudaSuccess);
    CHECK_EQ(cudaIpcGetEventHandle(&event_handle, ready), cudaSuccess);
    CHECK(cudaIpcOpenEventHandle(&none, event_handle) != cudaSuccess);
    go(add_to_all, 1, 64, a.p, 1);
    CHECK(!cudaEventRecord(ready, test_stream()) && !cudaEventQuery(ready));
    CHECK_EQ(cudaIpcGetMemHandle(&handle, a.p), cudaSuccess);
    CHECK(cudaIpcOpenMemHandle(&same, handle, 0) != cudaSuccess);
    CHECK(cudaIpcGetMemHandle(&handle, &handle) != cudaSuccess && cudaIpcCloseMemHandle(a.p) != cudaSuccess);
    CHECK_EQ(run_child({"ipc", to_hex(handle.reserved), to_hex(event_handle.reserved)}, "").status, 0);
    CHECK(!cudaEventSynchronize(ready) && !cudaEventDestroy(ready));
    CHECK(a.get() == std::vector<int>(64, 106));
}

// ---- streams and graphs

static __global__ void copy_kernel(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
static __global__ void add_arrays(int* to, const int* from) { to[threadIdx.x] += from[threadIdx.x]; }
static __global__ void scale(int* p, const int* by) { p[threadIdx.x] *= *by; }
TEST(events_order_streams)
{
    cudaStream_t a, b;
    cudaEvent_t  begun, ready;
    float        ms = -1;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreate(&b);
    cudaEventCreate(&begun);
    cudaEventCreate(&ready);
    Array<int> x(64, 0), y(64, 0);
    CHECK_EQ(cudaEventQuery(ready), cudaSuccess); // never recorded
    CHECK_EQ(cudaEventRecord(begun, a), cudaSuccess);
    go_on(a, add_to_all, 1, 64, x.p, 3);
    CHECK_EQ(cudaEventRecord(ready, a), cudaSuccess);
    CHECK_EQ(cudaStreamWaitEvent(b, ready, 0), cudaSuccess);
    go_on(b, copy_kernel, 1, 64, y.p, (const int*)x.p);
    while (cudaStreamQuery(b) == cudaErrorNotReady) {}
    CHECK(y.get() == std::vector<int>(64, 3));
    CHECK_EQ(cudaEventSynchronize(ready), cudaSuccess);
    CHECK(!cudaEventElapsedTime(&ms, begun, ready) && ms >= 0);
    go_on(b, add_to_all, 1, 64, x.p, 1); // b blocks: the default stream comes after it, without being told
    CHECK_EQ(cudaMemcpyAsync(y.p, x.p, 256, cudaMemcpyDeviceToDevice, nullptr), cudaSuccess);
    go_on(b, add_to_all, 1, 64, y.p, 1);
    CHECK_EQ(cudaStreamSynchronize(b), cudaSuccess);
    CHECK(y.get() == std::vector<int>(64, 5));
    CHECK(!cudaEventDestroy(begun) && !cudaEventDestroy(ready) && !cudaStreamDestroy(a) &&
          !cudaStreamDestroy(b));
    CHECK_EQ(cudaStreamSynchronize(b), cudaErrorInvalidResourceHandle);
}

static void launch_many(int which, bool* right)
{
    cudaStream_t stream;
    int          host[64];
    cudaSetDevice(which % 2);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    Array<int> x(64, which);
    for (int i = 0; i < 20; i++) go_on(stream, add_to_all, 1, 64, x.p, 1);
    cudaStreamSynchronize(stream);
    cudaMemcpy(host, x.p, sizeof host, cudaMemcpyDeviceToHost);
    *right = std::all_of(host, host + 64, [=](int v) { return v == which + 20; });
    cudaStreamDestroy(stream);
}
TEST(host_threads_launch_side_by_side)
{
    bool                     right[4] = {};
    std::vector<std::thread> threads;
    (void)test_stream();
    for (int t = 0; t < 4; t++) threads.emplace_back(launch_many, t, &right[t]);
    for (std::thread& t : threads) t.join();
    CHECK(right[0] && right[1] && right[2] && right[3]);
}

// Work on two branches of one capture: y = 2x + 1 beside z = 5x, then y += z. x and the factors are the
// device's.
struct TwoBranches {
    Array<int>   x{64, 1}, y{64, 0}, z{64, 0}, factor{std::vector<int>{2, 5}};
    cudaStream_t branch;
    cudaEvent_t  fork, join;
    TwoBranches()
    {
        cudaStreamCreateWithFlags(&branch, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&fork, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    }
    ~TwoBranches() { cudaStreamDestroy(branch), cudaEventDestroy(fork), cudaEventDestroy(join); }
    cudaError_t capture(cudaGraph_t* graph, bool joined)
    {
        cudaStream_t s = test_stream();
        CHECK_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
        cudaEventRecord(fork, s);
        cudaStreamWaitEvent(branch, fork, 0);
        go_on(s, copy_kernel, 1, 64, y.p, (const int*)x.p);
        cudaMemcpyAsync(z.p, x.p, 256, cudaMemcpyDeviceToDevice, branch);
        go_on(branch, scale, 1, 64, z.p, (const int*)factor.p + 1);
        cudaEventRecord(join, branch);
        go_on(s, scale, 1, 64, y.p, (const int*)factor.p);
        go_on(s, add_to_all, 1, 64, y.p, 1);
        if (joined) cudaStreamWaitEvent(s, join, 0);
        go_on(s, add_arrays, 1, 64, y.p, (const int*)z.p);
        return cudaStreamEndCapture(s, graph);
    }
};
TEST(a_graph_is_replayed_with_what_the_device_holds)
{
    TwoBranches     work;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    size_t          nodes    = 0;
    uint64_t        launches = simt_get_statistics().launches;
    CHECK_EQ(work.capture(&graph, true), cudaSuccess);
    CHECK_EQ(simt_get_statistics().launches, launches); // nothing has run
    CHECK(!cudaGraphGetNodes(graph, nullptr, &nodes) && nodes == 6);
    simt_fail_allocation(1);
    CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaErrorMemoryAllocation);
    CHECK_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    CHECK_EQ(cudaGraphDestroy(graph), cudaSuccess);
    for (int x : {1, 4}) {
        work.x.set(x);
        work.factor.set(x + 1);
        simt_statistics before = simt_get_statistics();
        CHECK_EQ(cudaGraphLaunch(exec, test_stream()), cudaSuccess);
        CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
        simt_statistics after = simt_get_statistics();
        CHECK(after.launches - before.launches == 5 && after.allocations == before.allocations);
        CHECK_EQ(after.synchronizations - before.synchronizations, 1);
        CHECK(work.y.get() == std::vector<int>(64, 2 * x * (x + 1) + 1));
    }
    CHECK_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST(a_capture_refuses_what_cannot_be_recorded)
{
    TwoBranches  work;
    cudaGraph_t  graph;
    cudaStream_t s = test_stream();
    Array<int>   other(64, 0);
    int*         p = nullptr;
    CHECK_EQ(work.capture(&graph, false), cudaErrorStreamCaptureUnjoined);
    CHECK_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
    CHECK_EQ(cudaStreamEndCapture(s, &graph), cudaErrorIllegalState);
    for (int what = 0; what < 9; what++) {
        cudaStreamCaptureStatus status;
        CHECK_EQ(cudaEventRecord(work.join, work.branch), cudaSuccess); // outside
        CHECK_EQ(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal), cudaSuccess);
        CHECK_EQ(cudaEventRecord(work.fork, s), cudaSuccess);
        cudaError_t e = what == 0   ? cudaMalloc(&p, 4)
                        : what == 1 ? cudaFree(other.p)
                        : what == 2 ? cudaStreamSynchronize(s)
                        : what == 3 ? cudaDeviceSynchronize()
                        : what == 4 ? cudaMemcpy(other.p, work.x.p, 4, cudaMemcpyDeviceToDevice)
                        : what == 5 ? cudaMemsetAsync(other.p, 0, 4, nullptr)
                        : what == 6 ? cudaEventSynchronize(work.fork)
                        : what == 7 ? cudaStreamWaitEvent(s, work.join, 0)
                                    : cudaStreamQuery(s);
        CHECK(e >= cudaErrorStreamCaptureUnsupported && e <= cudaErrorCapturedEvent);
        CHECK(!cudaStreamIsCapturing(s, &status) && status == cudaStreamCaptureStatusInvalidated);
        CHECK_EQ(cudaMemsetAsync(other.p, 0, 4, s), cudaErrorStreamCaptureInvalidated);
        CHECK_EQ(cudaStreamEndCapture(s, &graph), cudaErrorStreamCaptureInvalidated);
        CHECK(!cudaStreamIsCapturing(s, &status) && status == cudaStreamCaptureStatusNone);
    }
}

// A capture that is its thread's own binds that thread alone.
TEST(a_capture_binds_other_threads_where_it_is_global)
{
    for (cudaStreamCaptureMode mode : {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeGlobal}) {
        const bool   global = mode == cudaStreamCaptureModeGlobal;
        cudaStream_t s      = test_stream();
        cudaGraph_t  graph;
        Array<int>   x(64, 0);
        int*         p      = nullptr;
        cudaError_t  other  = cudaSuccess;
        CHECK_EQ(cudaStreamBeginCapture(s, mode), cudaSuccess);
        std::thread([&] { other = cudaMalloc(&p, 4), cudaGetLastError(); }).join();
        CHECK_EQ(other, global ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
        go_on(s, add_to_all, 1, 64, x.p, 1);
        CHECK_EQ(cudaStreamEndCapture(s, &graph), global ? cudaErrorStreamCaptureInvalidated : cudaSuccess);
        if (global) continue;
        cudaGraphDestroy(graph);
        cudaFree(p);
    }
}

// ---- requests

// One warp reads a row, four bytes a lane; shifted lanes begin on a 128-byte line and wrap around in the row.
static __global__ void read_row(const char* row, int bytes, bool shifted, float* out)
{
    int   columns = bytes / 4, shift = shifted ? (int)(128 - (uintptr_t)row % 128) % 128 / 4 : 0;
    float sum = 0;
    for (int c = (int)threadIdx.x; c < columns; c += 32)
        sum += __ldg((const float*)row + (c + shift) % columns);
    atomicAdd(out, sum);
}
static simt_requests requests(const char* row, int bytes, bool shifted, float* out)
{
    simt_count_begin();
    go(read_row, 1, 32, row, bytes, shifted, out);
    CHECK_EQ(cudaStreamSynchronize(test_stream()), cudaSuccess);
    return simt_count_end();
}
TEST(requests_of_128_byte_lines_are_counted)
{
    Array<char>  rows(4096, char{0});
    Array<float> out(1, 0.0f);
    const int    naive[] = {4, 8, 8, 7}, shifted[] = {4, 5, 5, 4};
    for (int r = 0; r < 4; r++) {
        simt_requests plain = requests(rows.p + r * 480, 480, false, out.p);
        CHECK_EQ(plain.lines, naive[r]);
        CHECK(plain.accesses == 4 && plain.bytes == 480 && plain.sectors == 15);
        CHECK_EQ(requests(rows.p + r * 480, 480, true, out.p).lines, shifted[r]);
    }
    CHECK_EQ(requests(rows.p + 512, 512, false, out.p).lines, 4);
    CHECK_EQ(requests(rows.p + 64, 512, false, out.p).lines, 8);
    CHECK_EQ(requests(rows.p + 64, 512, true, out.p).lines, 5);
}

// ---- the modes

struct Mode {
    const char *name, *environment;
};
static const Mode MODES[] = {{"plain", ""},
                             {"reversed", "SIMT_ORDER=rev"},
                             {"random", "SIMT_ORDER=rand SIMT_PREEMPT=3"},
                             {"lazy", "SIMT_ASYNC=lazy"},
                             {"lazyrandom", "SIMT_ASYNC=lazy SIMT_ORDER=rand SIMT_SEED=7"},
                             {"garbage", "SIMT_POISON=rand"},
                             {"guarded", "SIMT_GUARD=1"},
                             {"preempted", "SIMT_PREEMPT=2"},
                             {"nopeer", "SIMT_LINKS=none"},
                             {"noalloc", "SIMT_FAIL_MALLOC=1"}};

static void check_correct(const Mode& mode)
{
    Child child = run_child({"correct"}, mode.environment);
    if (!CHECK_EQ(child.status, 0)) printf("  in mode %s:\n%s", mode.name, child.output.c_str());
}
TEST(correct_programs_pass_in_every_mode)
{
    for (const Mode& mode : MODES)
        if (strcmp(mode.name, "noalloc")) check_correct(mode);
}

// A claim is mode:outcome; those of another build of this program are left to it.
static void check_claim(const Bug& bug, const std::string& mode_name, const std::string& outcome)
{
    const char* environment = "";
    for (const Mode& mode : MODES)
        if (mode_name == mode.name) environment = mode.environment;
    Child child  = run_child({"bug", bug.name}, environment, mode_name == "memcheck");
    int   expect = outcome == "wrong"   ? 3
                   : outcome == "fault" ? 97
                                        : 66; // 66: a sanitizer's or valgrind's report
    bool  said   = outcome != "fault" || child.output.find(bug.says) != std::string::npos;
    if (!CHECK_EQ(child.status, expect) || !CHECK(said))
        printf("  planted bug %s in mode %s, expected \"%s\":\n%s", bug.name, mode_name.c_str(), bug.says,
               child.output.c_str());
}
static void check_claims(bool by_memcheck)
{
    for (const Bug& bug : BUGS) {
        std::string claims = bug.claims;
        for (size_t at = 0, end; at < claims.size(); at = end + 1) {
            end               = std::min(claims.find(' ', at), claims.size());
            size_t      colon = claims.find(':', at);
            std::string mode  = claims.substr(at, colon - at);
            std::string build = mode == "asan" || mode == "tsan" ? mode : "plain";
            if (build == THIS_BUILD && (mode == "memcheck") == by_memcheck)
                check_claim(bug, mode, claims.substr(colon + 1, end - colon - 1));
        }
    }
}
TEST(planted_bugs_are_caught_by_the_modes_that_claim_them) { check_claims(false); }
TEST(planted_bugs_are_caught_by_valgrind)
{
    if (THIS_BUILD != "plain") SKIP("a sanitizer's build");
    if (run_child({"--list"}, "", true).status != 0) SKIP("no valgrind that reads this program");
    CHECK_EQ(run_child({"correct"}, "", true).status, 0);
    check_claims(true);
}
TEST(bugs_put_right_pass)
{
    for (const Bug& bug : BUGS)
        if (!CHECK(bug.run(false))) printf("  %s\n", bug.name);
}

int main(int argc, char** argv)
{
    if (argc == 3 && !strcmp(argv[1], "bug")) return run_bug(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "ipc")) return ipc_child(argv[2], argv[3]);
    if (argc == 2 && !strcmp(argv[1], "links")) return print_links();
    bool correct = argc == 2 && !strcmp(argv[1], "correct");
    test_only    = argc == 2 && !correct ? argv[1] : nullptr;
    test_seed(1);
    RUN(every_thread_of_every_block_runs_once);
    RUN(barriers_order_shared_memory_and_count_votes);
    RUN(threads_run_in_the_order_asked_for);
    RUN(shuffles_of_every_width);
    RUN(sub_warps_collect_on_their_own);
    RUN(votes_matches_and_reductions);
    RUN(atomics_of_every_kind);
    RUN(intrinsics_have_their_values);
    RUN(dynamic_shared_memory_has_the_launch_s_size);
    RUN(philox_gives_the_published_words_and_curand_s);
    RUN(cub_block_scans_and_reductions);
    RUN(cub_sorts_every_kind_of_key_and_bit_range);
    RUN(cub_warp_scans_and_reductions);
    RUN(cub_device_scans_reductions_and_selections);
    RUN(cublas_multiplies_with_every_transpose);
    RUN(cublas_adds_products_in_blocks_of_32);
    RUN(copies_in_every_direction);
    RUN(host_memory_that_devices_reach);
    RUN(registered_memory_ends_where_another_begins);
    RUN(the_nth_allocation_fails_and_memory_runs_out);
    RUN(the_nth_launch_is_refused_once);
    RUN(devices_read_each_other_once_linked);
    if (!correct) RUN(links_are_what_the_environment_says);
    RUN(attributes_properties_and_occupancy);
    RUN(priorities_and_limits_are_remembered);
    RUN(another_process_maps_the_memory);
    RUN(events_order_streams);
    RUN(host_threads_launch_side_by_side);
    RUN(a_graph_is_replayed_with_what_the_device_holds);
    RUN(a_capture_refuses_what_cannot_be_recorded);
    RUN(a_capture_binds_other_threads_where_it_is_global);
    RUN(requests_of_128_byte_lines_are_counted);
    RUN(bugs_put_right_pass);
    if (!correct) {
        RUN(correct_programs_pass_in_every_mode);
        RUN(planted_bugs_are_caught_by_the_modes_that_claim_them);
        RUN_SLOW(planted_bugs_are_caught_by_valgrind);
    }
    return test_finish();
}
