// bugs.h - small programs, each with a bug that can be put right, and the modes that catch it. Included by
// test_simt.cc.
#ifndef SIMT_BUGS_H
#define SIMT_BUGS_H
#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <fcntl.h>
#include <nccl.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#elif __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
static const std::string THIS_BUILD = "asan";
#elif defined(__SANITIZE_THREAD__)
static const std::string THIS_BUILD = "tsan";
#else
static const std::string THIS_BUILD = "plain";
#endif

// ---- helpers

static cudaStream_t test_stream()
{
    static cudaStream_t stream;
    if (!stream) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
}
template <class... P, class... A>
static cudaError_t go_on(cudaStream_t stream, void (*kernel)(P...), int blocks, int threads, A... a)
{
    cudaLaunchConfig_t config = {};
    config.gridDim            = dim3((unsigned)blocks);
    config.blockDim           = dim3((unsigned)threads);
    config.stream             = stream;
    return cudaLaunchKernelEx(&config, kernel, static_cast<P>(a)...);
}
template <class... P, class... A> static cudaError_t go(void (*kernel)(P...), int blocks, int threads, A... a)
{
    return go_on(test_stream(), kernel, blocks, threads, a...);
}

// An array on the device.
template <class T> struct Array {
    T*     p = nullptr;
    size_t n = 0;
    explicit Array(const std::vector<T>& v) : n(v.size())
    {
        cudaMalloc(&p, n * sizeof(T));
        cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    Array(size_t count, T value) : Array(std::vector<T>(count, value)) {}
    Array(Array&& other) noexcept { *this = std::move(other); }
    Array& operator=(Array&& other) noexcept
    {
        std::swap(p, other.p);
        std::swap(n, other.n);
        return *this;
    }
    ~Array()
    {
        cudaStreamSynchronize(test_stream());
        cudaFree(p);
    }
    void set(T first)
    {
        cudaMemcpy(p, std::vector<T>(n, first).data(), n * sizeof(T), cudaMemcpyHostToDevice);
    }
    std::vector<T> get() const
    {
        std::vector<T> v(n);
        cudaStreamSynchronize(test_stream());
        cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
        return v;
    }
};

// Temporary storage of CUB's device-wide algorithms.
struct Scratch {
    void*  p     = nullptr;
    size_t bytes = 0;
    void   allocate()
    {
        if (!p) cudaMalloc(&p, bytes);
    }
    ~Scratch()
    {
        cudaStreamSynchronize(test_stream());
        cudaFree(p);
    }
};

struct Child {
    int         status; // 128 + signal where it died of one
    std::string output;
};

// Runs this program again, in an environment like "SIMT_ORDER=rev SIMT_SEED=2".
static Child run_child(std::vector<std::string> arguments, const char* environment, bool valgrind = false)
{
    std::string command = "env ASAN_OPTIONS=exitcode=66:detect_leaks=0 UBSAN_OPTIONS=exitcode=66 "
                          "TSAN_OPTIONS=exitcode=66:halt_on_error=1 " +
                          std::string(environment);
    char self[512] = "";
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) return {-1, "no name"};
    command += std::string(valgrind ? " valgrind -q --error-exitcode=66 '" : " '") + self + "'";
    for (auto& a : arguments) command += " '" + a + "'";
    Child child = {0, ""};
    FILE* pipe  = popen((command + " 2>&1").c_str(), "r");
    char  line[512];
    while (fgets(line, sizeof line, pipe)) child.output += line;
    int status   = pclose(pipe);
    child.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return child;
}

// ---- the programs: each returns whether its result is right

namespace bugs {

constexpr unsigned ALL = 0xffffffffu;
static bool        all(const std::vector<int>& v, int value)
{
    for (int x : v)
        if (x != value) return false;
    return true;
}
// A kernel over 64 threads that is to write `value` everywhere.
template <class... P> static bool writes(int value, void (*kernel)(int*, P...), P... a)
{
    Array<int> out(64, 0);
    go(kernel, 1, 64, out.p, a...);
    return all(out.get(), value);
}

// -- memory

static __global__ void fill(int* o, int n)
{
    for (int i = (int)threadIdx.x; i < n; i += 64) o[i] = 1;
}
static bool past_the_end(bool buggy)
{
    Array<int> out(64, 0);
    go(fill, 1, 64, out.p, 64 + buggy);
    return all(out.get(), 1);
}
static bool just_past_the_end(bool buggy) // into what alignment leaves over
{
    Array<int> out(60, 0);
    go(fill, 1, 64, out.p, 60 + buggy);
    return all(out.get(), 1);
}
static __global__ void shared_overflow(int* o, int shift)
{
    __shared__ int s[64];
    int            at = (int)threadIdx.x + shift;
    s[at]             = 1;
    __syncthreads();
    o[threadIdx.x] = s[threadIdx.x];
}
static bool past_shared_memory(bool buggy) { return writes(1, shared_overflow, buggy ? 1 : 0) || buggy; }
static __global__ void dynamic_overflow(int* o, int shift)
{
    SIMT_DYNAMIC_SHARED(int, s);
    s[(int)threadIdx.x + shift] = 1;
    o[threadIdx.x]              = 1;
}
static bool past_dynamic_shared_memory(bool buggy)
{
    Array<int>         out(64, 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64, config.dynamicSmemBytes = 256, config.stream = test_stream();
    cudaLaunchKernelEx(&config, dynamic_overflow, out.p, buggy ? 1 : 0);
    return all(out.get(), 1);
}
static bool too_much_shared_memory(bool buggy)
{
    Array<int>         out(64, 0);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64, config.dynamicSmemBytes = 50000, config.stream = test_stream();
    cudaFuncSetAttribute(dynamic_overflow, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         buggy ? 48 << 10 : 64 << 10);
    cudaLaunchKernelEx(&config, dynamic_overflow, out.p, 0);
    return all(out.get(), 1);
}
static __global__ void local_overflow(int* o, int n)
{
    int a[4] = {1, 1, 1, 1};
    __syncthreads();
    volatile int* p = a;
    p[n]            = 1;
    o[threadIdx.x]  = p[0];
}
static bool past_a_local_array(bool buggy) { return writes(1, local_overflow, buggy ? 4 : 3); }
static __attribute__((noinline)) int recurse(int n)
{
    volatile char here[512];
    here[0] = here[511] = (char)n;
    return n ? recurse(n - 1) + here[511] - here[0] : 1;
}
static __global__ void deep(int* o, int n) { o[threadIdx.x] = recurse(n); }
static bool            stack_overflow(bool buggy) { return writes(1, deep, buggy ? 10000 : 10); }
static __global__ void count_up_to(int* o, const int* n)
{
    for (int i = (int)threadIdx.x; i < *n; i += 64) o[i] = 1;
}
static bool count_read_before_written(bool buggy)
{
    Array<int> out(64, 0);
    int*       n = nullptr;
    cudaMalloc(&n, sizeof *n);
    int sixty_four = 64;
    if (!buggy) cudaMemcpy(n, &sixty_four, sizeof *n, cudaMemcpyHostToDevice);
    go(count_up_to, 1, 64, out.p, (const int*)n);
    bool right = all(out.get(), 1);
    cudaFree(n);
    return right;
}
static __global__ void increment(int* p) { p[threadIdx.x] += 1; }
static bool            memory_taken_for_zero(bool buggy)
{
    int *p = nullptr, h[64];
    cudaMalloc(&p, sizeof h);
    if (!buggy) cudaMemset(p, 0, sizeof h);
    cudaDeviceSynchronize();
    go(increment, 1, 64, p);
    cudaStreamSynchronize(test_stream());
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    cudaFree(p);
    return all(std::vector<int>(h, h + 64), 1);
}
static __global__ void compare(int* same, const int* a, const int* b)
{
    same[threadIdx.x] = a[threadIdx.x] == b[threadIdx.x];
}
static bool garbage_taken_for_equal(bool buggy) // which a fixed filling hides
{
    Array<int> same(64, 0);
    int *      a = nullptr, *b = nullptr;
    cudaMalloc(&a, 256);
    cudaMalloc(&b, 256);
    if (!buggy) cudaMemset(a, 0, 256), cudaMemset(b, 0, 256), cudaDeviceSynchronize();
    go(compare, 1, 64, same.p, (const int*)a, (const int*)b);
    bool right = all(same.get(), 1);
    cudaFree(a), cudaFree(b);
    return right;
}
static __global__ void ones(int* o) { o[threadIdx.x] = 1; }
static bool            freed_argument(bool buggy)
{
    int* p = nullptr;
    cudaMalloc(&p, 256);
    if (buggy) cudaFree(p);
    go(ones, 1, 64, p);
    if (!buggy) cudaFree(p);
    return true;
}
static __global__ void through_table(int* const* table) { table[1][threadIdx.x] = 1; }
static bool            freed_behind_a_table(bool buggy)
{
    int *a = nullptr, *b = nullptr;
    cudaMalloc(&a, 256);
    cudaMalloc(&b, 256);
    Array<int*> table(std::vector<int*>{a, b});
    if (buggy) cudaFree(b);
    go(through_table, 1, 64, (int* const*)table.p);
    cudaStreamSynchronize(test_stream());
    cudaFree(a);
    if (!buggy) cudaFree(b);
    return true;
}
static bool host_reads_device_memory(bool buggy)
{
    Array<int> out(64, 0);
    go(ones, 1, 64, out.p);
    cudaStreamSynchronize(test_stream());
    return (buggy ? out.p[5] : out.get()[5]) == 1;
}
static bool host_pointer(bool buggy)
{
    std::vector<int> host(64);
    Array<int>       out(64, 0);
    go(ones, 1, 64, buggy ? host.data() : out.p);
    cudaStreamSynchronize(test_stream());
    return true;
}
struct Pair {
    int64_t n;
    int*    p;
};
static __global__ void ones_of(Pair pair) { pair.p[threadIdx.x] = 1; }
static bool            host_pointer_in_a_struct(bool buggy)
{
    std::vector<int> host(64);
    Array<int>       out(64, 0);
    go(ones_of, 1, 64, Pair{64, buggy ? host.data() : out.p});
    cudaStreamSynchronize(test_stream());
    return true;
}
static bool allocation_unchecked(bool buggy)
{
    int* p = nullptr;
    if (cudaMalloc(&p, 256) != cudaSuccess && !buggy) return true;
    go(ones, 1, 64, p);
    cudaStreamSynchronize(test_stream());
    cudaFree(p);
    return true;
}

// -- warps and blocks

static __global__ void skipped_barrier(int* o, int upto)
{
    if ((int)threadIdx.x < upto) __syncthreads();
    o[threadIdx.x] = 1;
    __syncthreads();
}
static bool            barrier_skipped(bool buggy) { return writes(1, skipped_barrier, buggy ? 40 : 64); }
static __global__ void two_barriers(int* o, int upto)
{
    if ((int)threadIdx.x < upto) __syncthreads();
    else __syncthreads();
    o[threadIdx.x] = 1;
}
static bool            barriers_of_two_lines(bool buggy) { return writes(1, two_barriers, buggy ? 32 : 64); }
static __global__ void rounds(int* o, int extra)
{
    for (int r = 0; r < 3 + extra * ((int)threadIdx.x / 32); r++) __syncthreads();
    o[threadIdx.x] = 1;
}
static bool            barrier_in_an_uneven_loop(bool buggy) { return writes(1, rounds, buggy ? 1 : 0); }
static __global__ void leave_early(int* o, int n)
{
    o[threadIdx.x] = 1;
    if ((int)threadIdx.x >= n) return;
    __syncthreads();
}
static bool            exit_before_a_barrier(bool buggy) { return writes(1, leave_early, buggy ? 50 : 64); }
static __global__ void half_shuffles(int* o, int lanes)
{
    int v = 1;
    if ((int)threadIdx.x % 32 < lanes) v = __shfl_sync(ALL, v, 0);
    __syncthreads();
    o[threadIdx.x] = v;
}
static bool            shuffle_in_a_branch(bool buggy) { return writes(1, half_shuffles, buggy ? 16 : 32); }
static __global__ void mixed(int* o, int lanes)
{
    if ((int)threadIdx.x % 32 < lanes) o[threadIdx.x] = __ballot_sync(ALL, 1) != 0;
    else o[threadIdx.x] = __any_sync(ALL, 1);
}
static bool            two_collectives_at_once(bool buggy) { return writes(1, mixed, buggy ? 16 : 32); }
static __global__ void masks(int* o, unsigned other)
{
    unsigned mask  = threadIdx.x % 32 < 20 ? ALL : other;
    o[threadIdx.x] = __any_sync(mask, 1);
}
static bool            masks_that_disagree(bool buggy) { return writes(1, masks, buggy ? 0xfffffff0u : ALL); }
static __global__ void own_mask(int* o, unsigned mask) { o[threadIdx.x] = __any_sync(mask, 1); }
static bool lane_outside_its_mask(bool buggy) { return writes(1, own_mask, buggy ? 0xffffu : ALL); }
static __global__ void exited(int* o, int lanes)
{
    o[threadIdx.x] = 1;
    if ((int)threadIdx.x % 32 >= lanes) return;
    o[threadIdx.x] = __any_sync(ALL, 1);
}
static bool            mask_of_exited_lanes(bool buggy) { return writes(1, exited, buggy ? 24 : 32); }
static __global__ void inactive(int* o, int width)
{
    int v = __shfl_sync(ALL, 1, 0);
    if (threadIdx.x % 32 < 16) v = __shfl_down_sync(0xffffu, v, 8, width); // lanes 8 to 15 read 16 to 23
    o[threadIdx.x] = v;
}
static bool shuffle_from_outside_the_mask(bool buggy) { return writes(1, inactive, buggy ? 32 : 16); }
static __global__ void counter(int* o, int clear)
{
    __shared__ int n;
    if (clear && threadIdx.x == 0) n = 0;
    __syncthreads();
    atomicAdd(&n, 1);
    __syncthreads();
    o[threadIdx.x] = n;
}
static bool            shared_memory_taken_for_zero(bool buggy) { return writes(64, counter, buggy ? 0 : 1); }
static __global__ void mirror(int* o, bool synced)
{
    __shared__ int s[64];
    s[threadIdx.x] = (int)threadIdx.x;
    if (synced) __syncthreads();
    o[threadIdx.x] = s[63 - threadIdx.x] + (int)threadIdx.x;
}
static bool            barrier_missing(bool buggy) { return writes(63, mirror, !buggy); }
static __global__ void rewrite(int* o, bool synced)
{
    __shared__ int s[64];
    int            sum = 0;
    for (int r = 0; r < 4; r++) {
        s[threadIdx.x] = r;
        __syncthreads();
        sum += s[63 - threadIdx.x];
        if (synced) __syncthreads();
    }
    o[threadIdx.x] = sum;
}
static bool barrier_missing_after_reading(bool buggy) { return writes(6, rewrite, !buggy); }
// Neighbours exchange through shared memory; what stands between: 0 nothing, 1 __syncwarp, 2 a shuffle.
static __global__ void exchange(int* o, int between, unsigned distance)
{
    __shared__ int s[64];
    s[threadIdx.x] = (int)threadIdx.x;
    if (between == 1) __syncwarp();
    if (between == 2) __shfl_sync(ALL, 0, 0);
    if (between == 3) __syncthreads();
    o[threadIdx.x] = s[threadIdx.x ^ distance] == (int)(threadIdx.x ^ distance);
}
static bool warp_taken_for_lockstep(bool buggy) { return writes(1, exchange, buggy ? 0 : 1, 1u); }
static bool shuffle_taken_for_a_fence(bool buggy) { return writes(1, exchange, buggy ? 2 : 1, 1u); }
static bool syncwarp_across_warps(bool buggy) { return writes(1, exchange, buggy ? 1 : 3, 32u); }
static __global__ void scan_twice(int* o, bool synced)
{
    using Scan = cub::BlockScan<int, 64>;
    __shared__ typename Scan::TempStorage storage;
    int                                   a, b;
    Scan(storage).ExclusiveSum(1, a);
    if (synced) __syncthreads();
    Scan(storage).ExclusiveSum(2, b);
    o[threadIdx.x] = a + b == 3 * (int)threadIdx.x;
}
static bool            temp_storage_reused(bool buggy) { return writes(1, scan_twice, !buggy); }
static __global__ void reduce_for_all(int* o, bool broadcast)
{
    using Reduce = cub::BlockReduce<int, 64>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ int                          total;
    int                                     sum = Reduce(storage).Sum(1);
    if (threadIdx.x == 0) total = sum;
    __syncthreads();
    o[threadIdx.x] = broadcast ? total : sum;
}
static bool reduction_used_by_all(bool buggy) { return writes(64, reduce_for_all, !buggy); }

// -- races

static __global__ void bump(int* o, bool atomic)
{
    if (threadIdx.x) return;
    if (atomic) atomicAdd(o, 1);
    else *o = *o + 1;
}
static bool race_of_blocks(bool buggy)
{
    Array<int> out(1, 0);
    go(bump, 50, 64, out.p, !buggy);
    return all(out.get(), 50);
}
static __global__ void same_value(int* o, int slots) { o[(int)threadIdx.x % slots] = 1; }
static bool            race_for_the_same_value(bool buggy)
{
    Array<int> out(64, 1);
    go(same_value, 1, 64, out.p, buggy ? 2 : 64);
    return all(out.get(), 1);
}
static __global__ void bump_shared(int* o, bool atomic) // two threads of a block as large as kernels' usually are
{
    __shared__ int sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    if (threadIdx.x == 3 || threadIdx.x == 40) {
        if (atomic) atomicAdd(&sum, 1);
        else sum = sum + 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) *o = sum;
}
static bool race_in_a_large_block(bool buggy)
{
    Array<int> out(1, 0);
    go(bump_shared, 1, 256, out.p, !buggy);
    return all(out.get(), 2);
}
static __global__ void publish(int* o, bool fenced) // thread 0's warp to the other warp
{
    if (threadIdx.x == 0) {
        o[1] = 42;
        if (fenced) __threadfence();
        atomicExch(&o[0], 1);
    }
    if (threadIdx.x == 32) {
        while (!atomicAdd(&o[0], 0)) {}
        if (fenced) __threadfence();
        o[2] = o[1];
    }
}
static bool published_without_a_fence(bool buggy)
{
    Array<int> out(3, 0);
    go(publish, 1, 64, out.p, !buggy);
    return out.get()[2] == 42;
}
static __global__ void append(int* o, bool by_rank)
{
    int at = by_rank ? (int)threadIdx.x : atomicAdd(&o[64], 1);
    o[at]  = (int)threadIdx.x;
}
static bool order_of_atomics(bool buggy)
{
    Array<int> out(65, 0);
    go(append, 1, 64, out.p, !buggy);
    std::vector<int> got = out.get();
    for (int i = 0; i < 64; i++)
        if (got[i] != i) return false;
    return true;
}
static __global__ void read_and_set(int* o, bool whole)
{
    if (whole) atomicAdd(o, 1);
    else atomicExch(o, atomicAdd(o, 0) + 1);
}
static bool two_atomics_for_one(bool buggy)
{
    Array<int> out(1, 0);
    go(read_and_set, 1, 64, out.p, !buggy);
    return all(out.get(), 64);
}
static __global__ void relay(int* o, int from)
{
    if (from < 0 || (int)blockIdx.x == from) o[blockIdx.x + 1] = o[blockIdx.x];
}
static bool order_of_blocks(bool buggy)
{
    Array<int> out(9, 0);
    out.set(0);
    int one = 1;
    cudaMemcpy(out.p, &one, sizeof one, cudaMemcpyHostToDevice);
    if (buggy) go(relay, 8, 1, out.p, -1);
    for (int b = 0; b < 8 && !buggy; b++) go(relay, 8, 1, out.p, b);
    return all(out.get(), 1);
}
static __global__ void lock_twice(int* o, bool unlock)
{
    if (threadIdx.x) return;
    for (int i = 0; i < 2; i++) {
        while (atomicCAS(o, 0, 1)) {}
        if (unlock) atomicExch(o, 0);
    }
}
static bool lock_not_given_back(bool buggy)
{
    Array<int> out(1, 0);
    go(lock_twice, 1, 32, out.p, !buggy);
    return all(out.get(), 0);
}

// -- streams, devices, graphs

struct Pinned {
    int* p = nullptr;
    explicit Pinned(int value)
    {
        cudaMallocHost(&p, 256);
        for (int i = 0; i < 64; i++) p[i] = value;
    }
    ~Pinned()
    {
        cudaDeviceSynchronize();
        cudaFreeHost(p);
    }
};
static bool result_read_too_early(bool buggy)
{
    Array<int> out(64, 0);
    Pinned     host(0);
    go(ones, 1, 64, out.p);
    cudaMemcpyAsync(host.p, out.p, 256, cudaMemcpyDeviceToHost, test_stream());
    if (!buggy) cudaStreamSynchronize(test_stream());
    return host.p[5] == 1;
}
static bool source_changed_too_early(bool buggy)
{
    Array<int> out(64, 0);
    Pinned     host(1);
    cudaMemcpyAsync(out.p, host.p, 256, cudaMemcpyHostToDevice, test_stream());
    if (!buggy) cudaStreamSynchronize(test_stream());
    for (int i = 0; i < 64; i++) host.p[i] = 2;
    return all(out.get(), 1);
}
static bool managed_memory_read_too_early(bool buggy)
{
    int* p = nullptr;
    cudaMallocManaged(&p, 256);
    p[5] = 0;
    go(ones, 1, 64, p);
    if (!buggy) cudaStreamSynchronize(test_stream());
    bool right = p[5] == 1;
    cudaFree(p);
    return right;
}
static __global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x]; }
struct Other { // stream, and an event
    cudaStream_t stream;
    cudaEvent_t  event;
    Other()
    {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    }
    ~Other() { cudaStreamDestroy(stream), cudaEventDestroy(event); }
};
static bool streams_without_an_event(bool buggy)
{
    Array<int> a(64, 0), b(64, 0);
    Other      other;
    go(ones, 1, 64, a.p);
    cudaEventRecord(other.event, test_stream());
    if (!buggy) cudaStreamWaitEvent(other.stream, other.event, 0);
    go_on(other.stream, copy, 1, 64, b.p, (const int*)a.p);
    cudaStreamSynchronize(other.stream);
    return all(b.get(), 1);
}
static bool default_stream_taken_for_ordered(bool buggy) // a non-blocking stream does not wait for it
{
    Array<int> a(64, 0);
    cudaMemsetAsync(a.p, 0xff, 256, nullptr);
    if (!buggy) cudaStreamSynchronize(nullptr);
    go(ones, 1, 64, a.p);
    std::vector<int> got = a.get();
    return all(got, 1);
}
static bool freed_in_another_stream(bool buggy)
{
    int*  p = nullptr;
    Other other;
    cudaMallocAsync(&p, 256, test_stream());
    go(ones, 1, 64, p);
    cudaFreeAsync(p, buggy ? other.stream : test_stream());
    cudaStreamSynchronize(other.stream);
    cudaStreamSynchronize(test_stream());
    return true;
}
static int* on_device_1()
{
    int* p = nullptr;
    cudaSetDevice(1);
    cudaMalloc(&p, 256);
    cudaSetDevice(0);
    return p;
}
static bool peer_argument(bool buggy)
{
    int*       far = on_device_1();
    Array<int> near(64, 0);
    go(ones, 1, 64, buggy ? far : near.p);
    bool right = all(near.get(), 1);
    cudaFree(far);
    return right;
}
static bool peer_behind_a_table(bool buggy)
{
    int*        far = on_device_1();
    Array<int>  near(64, 0);
    Array<int*> table(std::vector<int*>{near.p, buggy ? far : near.p});
    go(through_table, 1, 64, (int* const*)table.p);
    bool right = all(near.get(), 1);
    cudaFree(far);
    return right;
}
// Device 1 opens memory that another process lends it; device 0, which has no link to device 1, reads it.
static bool ipc_without_a_link(bool buggy)
{
    int                sent[2], until[2], *far = nullptr;
    cudaIpcMemHandle_t handle;
    if (pipe(sent) || pipe(until)) return false;
    pid_t lender = fork();
    if (!lender) {
        close(until[1]);
        bool lent = !cudaSetDevice(1) && !cudaMalloc(&far, 256) && !cudaIpcGetMemHandle(&handle, far) &&
                    write(sent[1], &handle, sizeof handle) == sizeof handle;
        _exit(!lent || read(until[0], &handle, 1) != 0);
    }
    close(until[0]);
    bool got = read(sent[0], &handle, sizeof handle) == sizeof handle && !cudaSetDevice(1) &&
               !cudaIpcOpenMemHandle((void**)&far, handle, cudaIpcMemLazyEnablePeerAccess);
    int *local = nullptr, can = 0;
    cudaDeviceCanAccessPeer(&can, 0, 1);
    simt_link(0, 1, false);
    cudaSetDevice(buggy ? 0 : 1);
    cudaMalloc(&local, 256);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64;
    int*  host[] = {local, far};
    int** table  = nullptr;
    cudaMalloc(&table, sizeof host);
    cudaMemcpy(table, host, sizeof host, cudaMemcpyHostToDevice);
    cudaLaunchKernelEx(&config, through_table, (int* const*)table);
    got = got && !cudaDeviceSynchronize() && !cudaIpcCloseMemHandle(far) && !cudaFree(local) && !cudaFree(table);
    cudaSetDevice(0);
    simt_link(0, 1, can);
    for (int end : {sent[0], sent[1], until[1]}) close(end);
    int status = -1;
    return waitpid(lender, &status, 0) == lender && status == 0 && got;
}
static bool wrong_device_awaited(bool buggy)
{
    Pinned host(0);
    cudaSetDevice(1);
    cudaLaunchConfig_t config = {};
    config.gridDim = 1, config.blockDim = 64;
    cudaLaunchKernelEx(&config, ones, host.p);
    if (buggy) cudaSetDevice(0);
    cudaDeviceSynchronize();
    bool right = host.p[5] == 1;
    cudaSetDevice(1);
    cudaDeviceSynchronize();
    cudaSetDevice(0);
    return right;
}
static __global__ void first_of_pairs(int* o, const int* pair)
{
    o[threadIdx.x] = (int)__ldg(reinterpret_cast<const uint2*>(pair) + threadIdx.x).x;
}
static bool pair_off_its_alignment(bool buggy)
{
    Array<int> in(130, 1), out(64, 0);
    go(first_of_pairs, 1, 64, out.p, static_cast<const int*>(in.p + buggy));
    return all(out.get(), 1);
}
static __global__ void add_value(int* o, int v) { o[threadIdx.x] += v; }
static __global__ void add_pointed(int* o, const int* v) { o[threadIdx.x] += *v; }
static bool            argument_frozen_in_a_graph(bool buggy)
{
    Array<int>      out(64, 0), step(1, 0);
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    int             value = 1;
    cudaStreamBeginCapture(test_stream(), cudaStreamCaptureModeGlobal);
    if (buggy) go(add_value, 1, 64, out.p, value);
    else go(add_pointed, 1, 64, out.p, (const int*)step.p);
    cudaStreamEndCapture(test_stream(), &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    for (; value <= 3; value++) {
        cudaStreamSynchronize(test_stream());
        step.set(value);
        cudaGraphLaunch(exec, test_stream());
    }
    bool right = all(out.get(), 6);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    return right;
}
static bool branches_without_a_dependency(bool buggy)
{
    Array<int>      a(64, 0), b(64, 0);
    Other           other;
    cudaEvent_t     join;
    cudaGraph_t     graph;
    cudaGraphExec_t exec;
    cudaEventCreateWithFlags(&join, cudaEventDisableTiming);
    cudaStreamBeginCapture(test_stream(), cudaStreamCaptureModeGlobal);
    if (buggy) cudaEventRecord(other.event, test_stream());
    go(ones, 1, 64, a.p);
    if (!buggy) cudaEventRecord(other.event, test_stream());
    cudaStreamWaitEvent(other.stream, other.event, 0);
    go_on(other.stream, copy, 1, 64, b.p, (const int*)a.p);
    cudaEventRecord(join, other.stream);
    cudaStreamWaitEvent(test_stream(), join, 0);
    cudaStreamEndCapture(test_stream(), &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphLaunch(exec, test_stream());
    bool right = all(b.get(), 1);
    cudaGraphExecDestroy(exec), cudaGraphDestroy(graph), cudaEventDestroy(join);
    return right;
}

// ---- NCCL: of two threads with a device each, rank 0 sends what rank 1 receives

struct Rank {
    int          rank;
    ncclComm_t   comm   = nullptr;
    cudaStream_t stream = nullptr;

    ncclResult_t settle()
    {
        ncclResult_t state = ncclInProgress;
        while (state == ncclInProgress && ncclCommGetAsyncError(comm, &state) == ncclSuccess)
            std::this_thread::yield();
        return state;
    }
    ncclResult_t pass(int* at, size_t bytes)
    {
        ncclGroupStart();
        if (rank == 0) ncclSend(at, bytes, ncclChar, 1, comm, stream);
        else ncclRecv(at, bytes, ncclChar, 0, comm, stream);
        return ncclGroupEnd();
    }
};
template <class Body> static bool both_ranks(Body body, int second_device = 1)
{
    ncclUniqueId id;
    bool         right[2] = {};
    ncclGetUniqueId(&id);
    auto one = [&](int rank) {
        Rank         me{rank};
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking     = 0;
        cudaSetDevice(rank * second_device);
        cudaStreamCreateWithFlags(&me.stream, cudaStreamNonBlocking);
        ncclCommInitRankConfig(&me.comm, 2, id, rank, &config);
        right[rank] = body(me);
        ncclCommAbort(me.comm);
        cudaStreamDestroy(me.stream);
    };
    std::thread first(one, 0), second(one, 1);
    first.join(), second.join();
    return right[0] && right[1];
}
static int first_of(const int* p)
{
    int value = 0;
    cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost);
    return value;
}
static bool nccl_rows_read_too_early(bool buggy)
{
    return both_ranks([buggy](Rank& me) {
        Array<int> x(10000, me.rank == 0);
        me.settle(), me.pass(x.p, 40000), me.settle();
        if (!buggy || me.rank == 0) cudaStreamSynchronize(me.stream);
        int seen = first_of(x.p);
        cudaStreamSynchronize(me.stream);
        return seen == 1;
    });
}
static bool nccl_rows_changed_too_early(bool buggy)
{
    return both_ranks([buggy](Rank& me) {
        Array<int> x(64, me.rank == 0);
        me.settle(), me.pass(x.p, 256), me.settle();
        if (!buggy || me.rank == 1) cudaStreamSynchronize(me.stream);
        int seen = first_of(x.p);
        if (me.rank == 0) x.set(0);
        cudaStreamSynchronize(me.stream);
        return seen == 1;
    });
}
static bool nccl_counts_that_disagree(bool buggy)
{
    return both_ranks([buggy](Rank& me) {
        Array<int> x(64, me.rank == 0);
        me.settle(), me.pass(x.p, buggy && me.rank == 0 ? 252 : 256), me.settle();
        cudaStreamSynchronize(me.stream);
        return first_of(x.p) == 1;
    });
}
static bool nccl_asked_before_it_has_joined(bool buggy)
{
    return both_ranks([buggy](Rank& me) {
        Array<int> x(64, me.rank == 0);
        if (!buggy) me.settle();
        me.pass(x.p, 256), me.settle();
        cudaStreamSynchronize(me.stream);
        return first_of(x.p) == 1;
    });
}
static bool nccl_memory_of_another_device(bool buggy)
{
    return both_ranks([buggy](Rank& me) {
        if (buggy) cudaSetDevice(1 - me.rank);
        Array<int> x(64, 0);
        me.settle();
        bool good = me.pass(x.p, 256) == ncclInProgress && me.settle() == ncclSuccess;
        if (good) cudaStreamSynchronize(me.stream);
        return good;
    });
}
static bool nccl_ranks_of_one_device(bool buggy)
{
    return both_ranks([](Rank& me) { return me.settle() == ncclSuccess; }, !buggy);
}

} // namespace bugs

struct Bug {
    const char* name;
    bool (*run)(bool buggy);
    const char*
        claims;       // mode:outcome ...; outcomes: fault (the emulator's, status 97), wrong (result), report
    const char* says; // part of the fault's message
};
#define BUG(name, claims, says)                                                                              \
    {                                                                                                        \
#name, bugs::name, claims, says                                                                      \
    }
static const Bug BUGS[] = {
    BUG(past_the_end, "plain:fault asan:fault", "byte 256 of an allocation of 256 bytes"),
    BUG(just_past_the_end, "plain:fault asan:report", "byte 240 of an allocation of 240 bytes was written"),
    BUG(past_shared_memory, "asan:report", ""),
    BUG(past_dynamic_shared_memory, "plain:fault", "a kernel touched"),
    BUG(too_much_shared_memory, "plain:wrong", ""),
    BUG(past_a_local_array, "asan:report", ""),
    BUG(stack_overflow, "plain:fault", "past the end of a thread's stack"),
    BUG(count_read_before_written, "plain:fault memcheck:report", "a kernel touched"),
    BUG(memory_taken_for_zero, "plain:wrong memcheck:report", ""),
    BUG(garbage_taken_for_equal, "garbage:wrong memcheck:report", ""),
    BUG(freed_argument, "plain:fault", "argument 0 of bugs::ones(int*)"),
    BUG(freed_behind_a_table, "plain:fault", "memory that was freed"),
    BUG(host_reads_device_memory, "guarded:fault asan:fault", "not the host's"),
    BUG(host_pointer, "plain:fault", "is no address on a device"),
    BUG(host_pointer_in_a_struct, "plain:fault", "holds at byte 8 an address of the host's"),
    BUG(allocation_unchecked, "noalloc:fault", "a kernel touched (nil)"),
    BUG(barrier_skipped, "plain:fault reversed:fault", "divergent __syncthreads"),
    BUG(barriers_of_two_lines, "plain:fault random:fault", "divergent __syncthreads"),
    BUG(barrier_in_an_uneven_loop, "plain:fault reversed:fault", "exit"),
    BUG(exit_before_a_barrier, "plain:fault reversed:fault", "exit"),
    BUG(shuffle_in_a_branch, "plain:fault random:fault", "deadlock"),
    BUG(two_collectives_at_once, "plain:fault", "divergent warp"),
    BUG(masks_that_disagree, "plain:fault", "divergent warp"),
    BUG(lane_outside_its_mask, "plain:fault", "lane 16 is not in its own mask 0000ffff"),
    BUG(mask_of_exited_lanes, "plain:fault reversed:fault", "exit"),
    BUG(shuffle_from_outside_the_mask, "plain:wrong", ""),
    BUG(shared_memory_taken_for_zero, "plain:wrong memcheck:report", ""),
    BUG(barrier_missing, "plain:wrong reversed:wrong tsan:report", ""),
    BUG(barrier_missing_after_reading, "plain:wrong tsan:report", ""),
    BUG(warp_taken_for_lockstep, "plain:wrong tsan:report", ""),
    BUG(shuffle_taken_for_a_fence, "tsan:report", ""),
    BUG(syncwarp_across_warps, "plain:wrong tsan:report", ""),
    BUG(temp_storage_reused, "random:wrong tsan:report", ""),
    BUG(reduction_used_by_all, "plain:wrong", ""),
    BUG(race_of_blocks, "tsan:report", ""),
    BUG(race_for_the_same_value, "tsan:report", ""),
    BUG(race_in_a_large_block, "tsan:report", ""),
    BUG(published_without_a_fence, "tsan:report", ""),
    BUG(order_of_atomics, "reversed:wrong random:wrong", ""),
    BUG(two_atomics_for_one, "preempted:wrong", ""),
    BUG(order_of_blocks, "reversed:wrong tsan:report", ""),
    BUG(lock_not_given_back, "plain:fault", "livelock"),
    BUG(result_read_too_early, "lazy:wrong tsan:report", ""),
    BUG(source_changed_too_early, "lazy:wrong tsan:report", ""),
    BUG(managed_memory_read_too_early, "lazy:wrong tsan:report", ""),
    BUG(streams_without_an_event, "lazy:wrong tsan:report", ""),
    BUG(default_stream_taken_for_ordered, "lazy:wrong tsan:report", ""),
    BUG(freed_in_another_stream, "lazy:fault", "is no address on a device"),
    BUG(wrong_device_awaited, "lazy:wrong tsan:report", ""),
    BUG(peer_argument, "plain:fault nopeer:fault", "argument 0 of bugs::ones(int*) lies on device 1"),
    BUG(ipc_without_a_link, "plain:fault", "device 0 has no peer access to it, nor a link to device 1"),
    BUG(peer_behind_a_table, "plain:fault nopeer:fault", "device 0 has no peer access to it"),
    BUG(pair_off_its_alignment, "plain:fault", "which is no multiple of 8, are read or written at"),
    BUG(argument_frozen_in_a_graph, "plain:wrong", ""),
    BUG(branches_without_a_dependency, "reversed:wrong tsan:report", ""),
    BUG(nccl_rows_read_too_early, "lazy:wrong tsan:report", ""),
    BUG(nccl_rows_changed_too_early, "tsan:report", ""),
    BUG(nccl_counts_that_disagree, "plain:fault", "takes 256 bytes of rank 0 by ncclRecv, which sends 252 by ncclSend"),
    BUG(nccl_asked_before_it_has_joined, "plain:fault", "the communicator's state is 7, not ncclSuccess"),
    BUG(nccl_memory_of_another_device, "plain:wrong", ""),
    BUG(nccl_ranks_of_one_device, "plain:wrong", ""),
};

static int run_bug(const char* name)
{
    for (const Bug& bug : BUGS)
        if (!strcmp(bug.name, name)) return bug.run(true) ? 0 : 3;
    return 2;
}
#endif
