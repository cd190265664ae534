// cub/cub.cuh - the part of CUB that is emulated. Block and warp primitives really communicate through TempStorage and
// keep CUB's contract, with its traps: a reduction's result is thread 0's alone, and temporary storage may be used
// again only after a barrier. Device-wide algorithms are plain loops on the stream.
#ifndef SIMT_CUB_CUH
#define SIMT_CUB_CUH

#include "../cuda_runtime.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS
};

namespace simt_cub {

struct Plus {
    template <class A, class B> auto operator()(A a, B b) const { return a + b; }
};
struct Less {
    template <class A, class B> auto operator()(A a, B b) const { return b < a ? b : a; }
};
struct Greater {
    template <class A, class B> auto operator()(A a, B b) const { return a < b ? b : a; }
};
template <class T> T garbage()
{
    T value;
    std::memset((void*)&value, 0xB7, sizeof value);
    return value;
}
// This thread's number, in a block that must have as many threads as the primitive was made for.
inline int thread_of(int threads, const char* primitive)
{
    if (simt::threads_in_block() != threads)
        simt::fail("cub::%s is for blocks of %d threads, this one has %d", primitive, threads,
                   simt::threads_in_block());
    return (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
// Keys as unsigned numbers in the same order.
template <class K> auto sortable(K key)
{
    using U = std::conditional_t<sizeof(K) == 1, uint8_t, std::conditional_t<sizeof(K) == 2, uint16_t,
              std::conditional_t<sizeof(K) == 4, uint32_t, uint64_t>>>;
    constexpr U sign = (U)((U)1 << (sizeof(K) * 8 - 1));
    U           bits;
    std::memcpy(&bits, &key, sizeof key);
    if constexpr (std::is_floating_point_v<K>) return (U)(bits & sign ? ~bits : bits | sign);
    else return std::is_signed_v<K> ? (U)(bits ^ sign) : bits;
}
// The bits [begin, end) of a key, inverted for descending order.
template <class K> uint64_t digits(K key, int begin, int end, bool descending)
{
    uint64_t bits = (uint64_t)sortable(key), mask = end - begin >= 64 ? ~(uint64_t)0
                                                                 : ((uint64_t)1 << (end - begin)) - 1;
    bits = bits >> begin & mask;
    return descending ? ~bits & mask : bits;
}

} // namespace simt_cub

// ---- blocks

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> class BlockScan {
public:
    struct TempStorage {
        T value[X * Y * Z];
        T total;
    };
    explicit BlockScan(TempStorage& t) : shared(t) {}

    template <class Op> void ExclusiveScan(T in, T& out, T init, Op op, simt::Site at = simt::here())
    {
        T total;
        out = scan(in, init, op, false, total, at);
    }
    template <class Op> void ExclusiveScan(T in, T& out, T init, Op op, T& total, simt::Site at = simt::here())
    {
        out = scan(in, init, op, false, total, at);
    }
    template <class Op> void InclusiveScan(T in, T& out, Op op, simt::Site at = simt::here())
    {
        T total;
        out = scan(in, in, op, true, total, at);
    }
    template <class Op> void InclusiveScan(T in, T& out, Op op, T& total, simt::Site at = simt::here())
    {
        out = scan(in, in, op, true, total, at);
    }
    void ExclusiveSum(T in, T& out, simt::Site at = simt::here()) { ExclusiveScan(in, out, T(), plus, at); }
    void ExclusiveSum(T in, T& out, T& total, simt::Site at = simt::here())
    {
        ExclusiveScan(in, out, T(), plus, total, at);
    }
    void InclusiveSum(T in, T& out, simt::Site at = simt::here()) { InclusiveScan(in, out, plus, at); }
    void InclusiveSum(T in, T& out, T& total, simt::Site at = simt::here())
    {
        InclusiveScan(in, out, plus, total, at);
    }
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], T& total, simt::Site at = simt::here())
    {
        items(in, out, false, total, at);
    }
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], simt::Site at = simt::here())
    {
        T total;
        items(in, out, false, total, at);
    }
    template <int N> void InclusiveSum(T (&in)[N], T (&out)[N], T& total, simt::Site at = simt::here())
    {
        items(in, out, true, total, at);
    }
    template <int N> void InclusiveSum(T (&in)[N], T (&out)[N], simt::Site at = simt::here())
    {
        T total;
        items(in, out, true, total, at);
    }

private:
    enum { THREADS = X * Y * Z };
    TempStorage&                   shared;
    static constexpr simt_cub::Plus plus{};

    // Thread 0 scans for all and leaves thread i's result in its neighbour's slot, where the neighbour's next scan
    // would destroy it: who forgets the barrier in between finds out.
    template <class Op> T scan(T in, T init, Op op, bool inclusive, T& total, simt::Site at)
    {
        int t = simt_cub::thread_of(THREADS, "BlockScan");
        shared.value[t] = in;
        __syncthreads(at);
        if (t == 0) scan_all(init, op, inclusive);
        __syncthreads(at);
        total = shared.total;
        return shared.value[(t + 1) % THREADS];
    }
    template <class Op> void scan_all(T init, Op op, bool inclusive)
    {
        T before = init, in = shared.value[0];
        total_of(op);
        for (int i = 0; i < THREADS; i++) {
            T upto = inclusive && i == 0 ? in : op(before, in);
            T next = shared.value[(i + 1) % THREADS];
            shared.value[(i + 1) % THREADS] = inclusive ? upto : before;
            before = upto;
            in     = next;
        }
    }
    template <class Op> void total_of(Op op)
    {
        shared.total = shared.value[0];
        for (int i = 1; i < THREADS; i++) shared.total = op(shared.total, shared.value[i]);
    }
    template <int N> void items(T (&in)[N], T (&out)[N], bool inclusive, T& total, simt::Site at)
    {
        T sum = T(), before;
        for (T x : in) sum = sum + x;
        ExclusiveSum(sum, before, total, at);
        for (int i = 0; i < N; i++) {
            T x    = in[i];
            out[i] = inclusive ? before + x : before;
            before = before + x;
        }
    }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
public:
    struct TempStorage {
        T value[X * Y * Z];
    };
    explicit BlockReduce(TempStorage& t) : shared(t) {}
    template <class Op> T Reduce(T in, Op op, simt::Site at = simt::here()) { return Reduce(in, op, X * Y * Z, at); }
    // Of the first `valid` threads' values.
    template <class Op> T Reduce(T in, Op op, int valid, simt::Site at = simt::here())
    {
        int t = simt_cub::thread_of(X * Y * Z, "BlockReduce");
        shared.value[t] = in;
        __syncthreads(at);
        if (t) return simt_cub::garbage<T>();
        T total = shared.value[0];
        for (int i = 1; i < valid; i++) total = op(total, shared.value[i]);
        return total;
    }
    T Sum(T in, simt::Site at = simt::here()) { return Reduce(in, simt_cub::Plus(), at); }
    T Sum(T in, int valid, simt::Site at = simt::here()) { return Reduce(in, simt_cub::Plus(), valid, at); }

private:
    TempStorage& shared;
};

struct NullType {};

// Stable. Items are blocked: thread t has keys [t * ITEMS, (t + 1) * ITEMS).
template <class K, int X, int ITEMS, class V = NullType> class BlockRadixSort {
public:
    struct Item {
        K        key;
        V        value;
        uint64_t digits;
        int      place;
    };
    struct TempStorage {
        Item item[X * ITEMS];
    };
    explicit BlockRadixSort(TempStorage& t) : shared(t) {}

    void Sort(K (&k)[ITEMS], int begin = 0, int end = BITS, simt::Site at = simt::here())
    {
        sort(k, (V*)nullptr, begin, end, false, false, at);
    }
    void Sort(K (&k)[ITEMS], V (&v)[ITEMS], int begin = 0, int end = BITS, simt::Site at = simt::here())
    {
        sort(k, v, begin, end, false, false, at);
    }
    void SortDescending(K (&k)[ITEMS], int begin = 0, int end = BITS, simt::Site at = simt::here())
    {
        sort(k, (V*)nullptr, begin, end, true, false, at);
    }
    void SortDescending(K (&k)[ITEMS], V (&v)[ITEMS], int begin = 0, int end = BITS, simt::Site at = simt::here())
    {
        sort(k, v, begin, end, true, false, at);
    }
    void SortBlockedToStriped(K (&k)[ITEMS], int begin = 0, int end = BITS, simt::Site at = simt::here())
    {
        sort(k, (V*)nullptr, begin, end, false, true, at);
    }
    void SortBlockedToStriped(K (&k)[ITEMS], V (&v)[ITEMS], int begin = 0, int end = BITS,
                              simt::Site at = simt::here())
    {
        sort(k, v, begin, end, false, true, at);
    }
    void SortDescendingBlockedToStriped(K (&k)[ITEMS], V (&v)[ITEMS], int begin = 0, int end = BITS,
                                        simt::Site at = simt::here())
    {
        sort(k, v, begin, end, true, true, at);
    }

private:
    enum { BITS = sizeof(K) * 8 };
    TempStorage& shared;

    void sort(K* k, V* v, int begin, int end, bool descending, bool striped, simt::Site at)
    {
        int t = simt_cub::thread_of(X, "BlockRadixSort");
        for (int i = 0; i < ITEMS; i++) {
            int place = t * ITEMS + i;
            shared.item[place] = {k[i], v ? v[i] : V(), simt_cub::digits(k[i], begin, end, descending), place};
        }
        __syncthreads(at);
        if (t == 0) // no std::stable_sort: it allocates
            std::sort(shared.item, shared.item + X * ITEMS, [](const Item& a, const Item& b) {
                return a.digits != b.digits ? a.digits < b.digits : a.place < b.place;
            });
        __syncthreads(at);
        for (int i = 0; i < ITEMS; i++) {
            const Item& item = shared.item[striped ? i * X + t : t * ITEMS + i];
            k[i] = item.key;
            if (v) v[i] = item.value;
        }
    }
};

// ---- warps, or groups of W lanes, a power of two

namespace simt_cub {
template <int W> unsigned group_mask()
{
    if constexpr (W == 32) return 0xffffffffu;
    else return ((1u << W) - 1) << (simt::lane() & ~(W - 1u));
}
} // namespace simt_cub

template <class T, int W = 32> class WarpReduce {
public:
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}
    template <class Op> T Reduce(T in, Op op, simt::Site at = simt::here())
    {
        int lane = (int)(simt::lane() % W);
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_down_sync(simt_cub::group_mask<W>(), in, (unsigned)d, W, at);
            if (lane + d < W) in = op(in, other);
        }
        return lane ? simt_cub::garbage<T>() : in;
    }
    T Sum(T in, simt::Site at = simt::here()) { return Reduce(in, simt_cub::Plus(), at); }
};

template <class T, int W = 32> class WarpScan {
public:
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}
    template <class Op> void InclusiveScan(T in, T& out, Op op, simt::Site at = simt::here())
    {
        int lane = (int)(simt::lane() % W);
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_up_sync(simt_cub::group_mask<W>(), in, (unsigned)d, W, at);
            if (lane >= d) in = op(other, in);
        }
        out = in;
    }
    void InclusiveSum(T in, T& out, simt::Site at = simt::here()) { InclusiveScan(in, out, simt_cub::Plus(), at); }
    void ExclusiveSum(T in, T& out, simt::Site at = simt::here())
    {
        T upto;
        InclusiveSum(in, upto, at);
        out = upto - in;
    }
};

// ---- devices. First call: temporary storage null, its size is the answer. Second call: the work.

namespace simt_cub {
template <class F> cudaError_t on_device(void* storage, size_t& bytes, size_t needed, cudaStream_t stream, F work)
{
    if (!storage) {
        bytes = needed;
        return cudaSuccess;
    }
    if (bytes < needed) return cudaErrorInvalidValue;
    return (cudaError_t)simt::enqueue(stream, [=] {
        std::memset(storage, 0x5A, needed); // storage that overlaps the data, or is not there, shows
        work();
    });
}
inline size_t storage_for(size_t n) { return 256 + n / 64; }
} // namespace simt_cub

struct DeviceScan {
    template <class I, class O, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void* storage, size_t& bytes, I in, O out, Op op, T init, N n,
                                     cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for((size_t)n), stream, [=] {
            T before = init;
            for (N i = 0; i < n; i++) {
                T upto = op(before, in[i]);
                out[i] = before;
                before = upto;
            }
        });
    }
    // Adds in the INPUT's type, as CUB does: give ExclusiveScan a wider initial value where that overflows.
    template <class I, class O, class N>
    static cudaError_t ExclusiveSum(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        using T = std::decay_t<decltype(in[0])>;
        return ExclusiveScan(storage, bytes, in, out, simt_cub::Plus(), T(), n, stream);
    }
    template <class I, class O, class Op, class N>
    static cudaError_t InclusiveScan(void* storage, size_t& bytes, I in, O out, Op op, N n,
                                     cudaStream_t stream = nullptr)
    {
        using T = std::decay_t<decltype(in[0])>;
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for((size_t)n), stream, [=] {
            T upto = T();
            for (N i = 0; i < n; i++) out[i] = upto = i == 0 ? (T)in[i] : (T)op(upto, in[i]);
        });
    }
    template <class I, class O, class N>
    static cudaError_t InclusiveSum(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        return InclusiveScan(storage, bytes, in, out, simt_cub::Plus(), n, stream);
    }
};

struct DeviceReduce {
    template <class I, class O, class N, class Op, class T>
    static cudaError_t Reduce(void* storage, size_t& bytes, I in, O out, N n, Op op, T init,
                              cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for((size_t)n), stream, [=] {
            T total = init;
            for (N i = 0; i < n; i++) total = op(total, in[i]);
            *out = total;
        });
    }
    template <class I, class O, class N>
    static cudaError_t Sum(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, simt_cub::Plus(), std::decay_t<decltype(*out)>(), stream);
    }
    template <class I, class O, class N>
    static cudaError_t Min(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, simt_cub::Less(),
                      std::numeric_limits<std::decay_t<decltype(in[0])>>::max(), stream);
    }
    template <class I, class O, class N>
    static cudaError_t Max(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, simt_cub::Greater(),
                      std::numeric_limits<std::decay_t<decltype(in[0])>>::lowest(), stream);
    }
};

struct DeviceSelect {
    template <class I, class F, class O, class C, class N>
    static cudaError_t Flagged(void* storage, size_t& bytes, I in, F flags, O out, C count, N n,
                               cudaStream_t stream = nullptr)
    {
        return keep(storage, bytes, in, out, count, n, stream, [=](N i) { return (bool)flags[i]; });
    }
    template <class I, class O, class C, class N, class F>
    static cudaError_t If(void* storage, size_t& bytes, I in, O out, C count, N n, F condition,
                          cudaStream_t stream = nullptr)
    {
        return keep(storage, bytes, in, out, count, n, stream, [=](N i) { return (bool)condition(in[i]); });
    }
    template <class I, class O, class C, class N>
    static cudaError_t Unique(void* storage, size_t& bytes, I in, O out, C count, N n, cudaStream_t stream = nullptr)
    {
        return keep(storage, bytes, in, out, count, n, stream, [=](N i) { return i == 0 || !(in[i] == in[i - 1]); });
    }

private:
    template <class I, class O, class C, class N, class F>
    static cudaError_t keep(void* storage, size_t& bytes, I in, O out, C count, N n, cudaStream_t stream, F wanted)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for((size_t)n), stream, [=] {
            N kept = 0;
            for (N i = 0; i < n; i++)
                if (wanted(i)) out[kept++] = in[i];
            *count = kept;
        });
    }
};

struct DeviceHistogram {
    // Of levels - 1 bins of equal width over [lower, upper).
    template <class I, class C, class L, class N>
    static cudaError_t HistogramEven(void* storage, size_t& bytes, I in, C* histogram, int levels, L lower, L upper,
                                     N n, cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for((size_t)n), stream, [=] {
            for (int b = 0; b < levels - 1; b++) histogram[b] = 0;
            for (N i = 0; i < n; i++)
                if (!(in[i] < lower) && in[i] < upper)
                    histogram[(int)((double)(in[i] - lower) * (levels - 1) / (double)(upper - lower))]++;
        });
    }
};

// Stable.
struct DeviceRadixSort {
    template <class K, class V, class N>
    static cudaError_t SortPairs(void* storage, size_t& bytes, const K* keys, K* sorted_keys, const V* values,
                                 V* sorted_values, N n, int begin = 0, int end = sizeof(K) * 8,
                                 cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, keys, sorted_keys, values, sorted_values, n, begin, end, false, stream);
    }
    template <class K, class V, class N>
    static cudaError_t SortPairsDescending(void* storage, size_t& bytes, const K* keys, K* sorted_keys,
                                           const V* values, V* sorted_values, N n, int begin = 0,
                                           int end = sizeof(K) * 8, cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, keys, sorted_keys, values, sorted_values, n, begin, end, true, stream);
    }
    template <class K, class N>
    static cudaError_t SortKeys(void* storage, size_t& bytes, const K* keys, K* sorted, N n, int begin = 0,
                                int end = sizeof(K) * 8, cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, keys, sorted, (const char*)nullptr, (char*)nullptr, n, begin, end, false, stream);
    }
    template <class K, class N>
    static cudaError_t SortKeysDescending(void* storage, size_t& bytes, const K* keys, K* sorted, N n, int begin = 0,
                                          int end = sizeof(K) * 8, cudaStream_t stream = nullptr)
    {
        return sort(storage, bytes, keys, sorted, (const char*)nullptr, (char*)nullptr, n, begin, end, true, stream);
    }

private:
    template <class K, class V, class N>
    static cudaError_t sort(void* storage, size_t& bytes, const K* keys, K* sorted_keys, const V* values,
                            V* sorted_values, N n, int begin, int end, bool descending, cudaStream_t stream)
    {
        size_t needed = 256 + (size_t)n * (sizeof(K) + (values ? sizeof(V) : 0));
        return simt_cub::on_device(storage, bytes, needed, stream, [=] {
            std::vector<size_t> order((size_t)n);
            for (size_t i = 0; i < order.size(); i++) order[i] = i;
            std::stable_sort(order.begin(), order.end(), [=](size_t a, size_t b) {
                return simt_cub::digits(keys[a], begin, end, descending) <
                       simt_cub::digits(keys[b], begin, end, descending);
            });
            for (size_t i = 0; i < order.size(); i++) {
                sorted_keys[i] = keys[order[i]];
                if (sorted_values) sorted_values[i] = values[order[i]];
            }
        });
    }
};

} // namespace cub
#endif
