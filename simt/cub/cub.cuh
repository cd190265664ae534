// cub/cub.cuh - the part of CUB that is emulated. Block and warp primitives really communicate through
// TempStorage and keep CUB's contract, with its traps: a reduction's result is thread 0's alone, and
// temporary storage may be used again only after a barrier. Device-wide algorithms are plain loops on the
// stream.
#ifndef SIMT_CUB_CUH
#define SIMT_CUB_CUH

#include "../cuda_runtime.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };
enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

using simt::here; // collectives take the caller's line as their last argument
using simt::Site;

namespace simt_cub {

struct Plus {
    template <class A, class B> auto operator()(A a, B b) const { return a + b; }
};
struct Largest {
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
    using U = std::conditional_t<
        sizeof(K) == 1, uint8_t,
        std::conditional_t<sizeof(K) == 2, uint16_t, std::conditional_t<sizeof(K) == 4, uint32_t, uint64_t>>>;
    constexpr U sign = (U)((U)1 << (sizeof(K) * 8 - 1));
    U           bits;
    std::memcpy(&bits, &key, sizeof key);
    if constexpr (std::is_floating_point_v<K>) return (U)(bits & sign ? ~bits : bits | sign);
    else return std::is_signed_v<K> ? (U)(bits ^ sign) : bits;
}
// The bits [begin, end) of a key, inverted for descending order.
template <class K> uint64_t digits(K key, int begin, int end, bool descending)
{
    uint64_t bits = (uint64_t)sortable(key),
             mask = end - begin >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << (end - begin)) - 1;
    bits          = bits >> begin & mask;
    return descending ? ~bits & mask : bits;
}

} // namespace simt_cub
using simt_cub::Plus;

// ---- blocks

template <class T, int X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int Y = 1, int Z = 1> class BlockScan {
public:
    struct TempStorage {
        T value[X * Y * Z], total;
    };
    explicit BlockScan(TempStorage& t) : shared(t) {}

    template <class Op> void ExclusiveScan(T in, T& out, T init, Op op, T& total, Site at = here())
    {
        out = scan(in, init, op, false, total, at);
    }
    template <class Op> void InclusiveScan(T in, T& out, Op op, T& total, Site at = here())
    {
        out = scan(in, in, op, true, total, at);
    }
    template <class Op> void ExclusiveScan(T in, T& out, T init, Op op, Site at = here())
    {
        T total;
        ExclusiveScan(in, out, init, op, total, at);
    }
    template <class Op> void InclusiveScan(T in, T& out, Op op, Site at = here())
    {
        T total;
        InclusiveScan(in, out, op, total, at);
    }
    void ExclusiveSum(T in, T& out, T& total, Site at = here())
    {
        ExclusiveScan(in, out, T(), Plus(), total, at);
    }
    void InclusiveSum(T in, T& out, T& total, Site at = here()) { InclusiveScan(in, out, Plus(), total, at); }
    void ExclusiveSum(T in, T& out, Site at = here()) { ExclusiveScan(in, out, T(), Plus(), at); }
    void InclusiveSum(T in, T& out, Site at = here()) { InclusiveScan(in, out, Plus(), at); }
    // N items a thread, blocked.
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], T& total, Site at = here())
    {
        T sum = T();
        for (T x : in) sum = sum + x;
        ExclusiveSum(sum, sum, total, at);
        for (int i = 0; i < N; i++) {
            T x    = in[i];
            out[i] = sum;
            sum    = sum + x;
        }
    }
    template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], Site at = here())
    {
        T total;
        ExclusiveSum(in, out, total, at);
    }

private:
    enum { THREADS = X * Y * Z };
    TempStorage& shared;

    // Thread 0 scans for all and leaves thread i's result in its neighbour's slot, where the neighbour's next
    // scan would destroy it: who forgets the barrier in between finds out.
    template <class Op> T scan(T in, T init, Op op, bool inclusive, T& total, Site at)
    {
        int t           = simt_cub::thread_of(THREADS, "BlockScan");
        shared.value[t] = in;
        __syncthreads(at);
        if (t == 0) scan_all(init, op, inclusive);
        __syncthreads(at);
        total = shared.total;
        return shared.value[(t + 1) % THREADS];
    }
    template <class Op> void scan_all(T init, Op op, bool inclusive)
    {
        T in = shared.value[0], total = in; // total: of the items so far, without init
        for (int i = 0; i < THREADS; i++) {
            T before = i == 0 ? init : op(init, total), next = shared.value[(i + 1) % THREADS];
            if (i > 0) total = op(total, in);
            shared.value[(i + 1) % THREADS] = inclusive ? total : before;
            in                              = next;
        }
        shared.total = total;
    }
};

template <class T, int X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int Y = 1, int Z = 1>
class BlockReduce {
public:
    struct TempStorage {
        T value[X * Y * Z];
    };
    explicit BlockReduce(TempStorage& t) : shared(t) {}
    template <class Op> T Reduce(T in, Op op, Site at = here()) { return Reduce(in, op, X * Y * Z, at); }
    // Of the first `valid` threads' values.
    template <class Op> T Reduce(T in, Op op, int valid, Site at = here())
    {
        int t           = simt_cub::thread_of(X * Y * Z, "BlockReduce");
        shared.value[t] = in;
        __syncthreads(at);
        if (t) return simt_cub::garbage<T>();
        T total = shared.value[0];
        for (int i = 1; i < valid; i++) total = op(total, shared.value[i]);
        return total;
    }
    T Sum(T in, Site at = here()) { return Reduce(in, Plus(), at); }
    T Sum(T in, int valid, Site at = here()) { return Reduce(in, Plus(), valid, at); }

private:
    TempStorage& shared;
};

struct NullType {};

// Stable. Items are blocked, thread t has keys [t * ITEMS, (t + 1) * ITEMS); striped, it has t, t + X, t + 2
// X ...
template <class K, int X, int ITEMS, class V = NullType> class BlockRadixSort {
    enum { BITS = sizeof(K) * 8 };
    using Keys   = K (&)[ITEMS];
    using Values = V (&)[ITEMS];

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

#define SIMT_SORT(name, descending, striped)                                                                 \
    void name(Keys k, int begin = 0, int end = BITS, Site at = here())                                       \
    {                                                                                                        \
        sort(k, (V*)nullptr, begin, end, descending, striped, at);                                           \
    }                                                                                                        \
    void name(Keys k, Values v, int begin = 0, int end = BITS, Site at = here())                             \
    {                                                                                                        \
        sort(k, v, begin, end, descending, striped, at);                                                     \
    }
    SIMT_SORT(Sort, false, false)
    SIMT_SORT(SortDescending, true, false)
    SIMT_SORT(SortBlockedToStriped, false, true)
    SIMT_SORT(SortDescendingBlockedToStriped, true, true)
#undef SIMT_SORT

private:
    TempStorage& shared;

    void sort(K* k, V* v, int begin, int end, bool descending, bool striped, Site at)
    {
        int t = simt_cub::thread_of(X, "BlockRadixSort");
        for (int i = 0; i < ITEMS; i++) {
            int place          = t * ITEMS + i;
            shared.item[place] = {k[i], v ? v[i] : V(), simt_cub::digits(k[i], begin, end, descending),
                                  place};
        }
        __syncthreads(at);
        if (t == 0) // no std::stable_sort: it allocates
            std::sort(shared.item, shared.item + X * ITEMS, [](const Item& a, const Item& b) {
                return a.digits != b.digits ? a.digits < b.digits : a.place < b.place;
            });
        __syncthreads(at);
        for (int i = 0; i < ITEMS; i++) {
            const Item& item = shared.item[striped ? i * X + t : t * ITEMS + i];
            k[i]             = item.key;
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
    template <class Op> T Reduce(T in, Op op, Site at = here())
    {
        int lane = (int)(simt::lane() % W);
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_down_sync(simt_cub::group_mask<W>(), in, (unsigned)d, W, at);
            if (lane + d < W) in = op(in, other);
        }
        return lane ? simt_cub::garbage<T>() : in;
    }
    T Sum(T in, Site at = here()) { return Reduce(in, Plus(), at); }
};

template <class T, int W = 32> class WarpScan {
public:
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}
    template <class Op> void InclusiveScan(T in, T& out, Op op, Site at = here())
    {
        int lane = (int)(simt::lane() % W);
        for (int d = 1; d < W; d *= 2) {
            T other = __shfl_up_sync(simt_cub::group_mask<W>(), in, (unsigned)d, W, at);
            if (lane >= d) in = op(other, in);
        }
        out = in;
    }
    void InclusiveSum(T in, T& out, Site at = here()) { InclusiveScan(in, out, Plus(), at); }
    void ExclusiveSum(T in, T& out, Site at = here())
    {
        T upto;
        InclusiveSum(in, upto, at);
        out = upto - in;
    }
};

// ---- devices. First call: temporary storage null, its size is the answer. Second call: the work.

namespace simt_cub {
template <class F>
cudaError_t on_device(void* storage, size_t& bytes, size_t needed, cudaStream_t stream, F work)
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
template <class N> size_t storage_for(N n) { return 256 + (size_t)n / 64; }
template <class I> auto   value_of(I iterator)
{
    return std::decay_t<decltype(*iterator)>();
} // a zero of its type
} // namespace simt_cub

struct DeviceScan {
    template <class I, class O, class Op, class T, class N>
    static cudaError_t ExclusiveScan(void* storage, size_t& bytes, I in, O out, Op op, T init, N n,
                                     cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for(n), stream, [=] {
            T before = init;
            for (N i = 0; i < n; i++) {
                T upto = op(before, in[i]);
                out[i] = before;
                before = upto;
            }
        });
    }
    template <class I, class O, class Op, class N>
    static cudaError_t InclusiveScan(void* storage, size_t& bytes, I in, O out, Op op, N n,
                                     cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for(n), stream, [=] {
            auto upto = simt_cub::value_of(in);
            for (N i = 0; i < n; i++) out[i] = upto = i == 0 ? in[i] : op(upto, in[i]);
        });
    }
    // Sums in the INPUT's type, as CUB does: give ExclusiveScan a wider initial value where that overflows.
    template <class I, class O, class N>
    static cudaError_t ExclusiveSum(void* storage, size_t& bytes, I in, O out, N n,
                                    cudaStream_t stream = nullptr)
    {
        return ExclusiveScan(storage, bytes, in, out, Plus(), simt_cub::value_of(in), n, stream);
    }
    template <class I, class O, class N>
    static cudaError_t InclusiveSum(void* storage, size_t& bytes, I in, O out, N n,
                                    cudaStream_t stream = nullptr)
    {
        return InclusiveScan(storage, bytes, in, out, Plus(), n, stream);
    }
};

struct DeviceReduce {
    template <class I, class O, class N, class Op, class T>
    static cudaError_t Reduce(void* storage, size_t& bytes, I in, O out, N n, Op op, T init,
                              cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for(n), stream, [=] {
            T total = init;
            for (N i = 0; i < n; i++) total = op(total, in[i]);
            *out = total;
        });
    }
    template <class I, class O, class N>
    static cudaError_t Sum(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        return Reduce(storage, bytes, in, out, n, Plus(), simt_cub::value_of(out), stream);
    }
    template <class I, class O, class N>
    static cudaError_t Max(void* storage, size_t& bytes, I in, O out, N n, cudaStream_t stream = nullptr)
    {
        using T = decltype(simt_cub::value_of(in));
        return Reduce(storage, bytes, in, out, n, simt_cub::Largest(), std::numeric_limits<T>::lowest(),
                      stream);
    }
};

struct DeviceSelect {
    template <class I, class F, class O, class C, class N>
    static cudaError_t Flagged(void* storage, size_t& bytes, I in, F flags, O out, C count, N n,
                               cudaStream_t stream = nullptr)
    {
        return simt_cub::on_device(storage, bytes, simt_cub::storage_for(n), stream, [=] {
            N kept = 0;
            for (N i = 0; i < n; i++)
                if (flags[i]) out[kept++] = in[i];
            *count = kept;
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
        return sort(storage, bytes, keys, sorted, (char*)nullptr, (char*)nullptr, n, begin, end, false,
                    stream);
    }

private:
    template <class K, class V, class W, class N>
    static cudaError_t sort(void* storage, size_t& bytes, const K* keys, K* sorted_keys, V* values,
                            W* sorted_values, N n, int begin, int end, bool descending, cudaStream_t stream)
    {
        size_t needed = 256 + (size_t)n * (sizeof(K) + (values ? sizeof(V) : 0));
        return simt_cub::on_device(storage, bytes, needed, stream, [=] {
            std::vector<std::pair<uint64_t, N>> order((size_t)n); // digits, place
            for (N i = 0; i < n; i++)
                order[(size_t)i] = {simt_cub::digits(keys[i], begin, end, descending), i};
            std::sort(order.begin(), order.end());
            for (N i = 0; i < n; i++) {
                sorted_keys[i] = keys[order[(size_t)i].second];
                if (sorted_values) sorted_values[i] = values[order[(size_t)i].second];
            }
        });
    }
};

} // namespace cub
#endif
