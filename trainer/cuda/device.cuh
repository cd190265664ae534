// device.cuh - a CUDA device as the trainer has it: three streams, memory, cuBLAS, and what a step reads and leaves.
//
// Everything goes on one stream, but for sampling and extraction, which have one each and work on the batches after
// the one that trains (batches.cuh). What the host reads or writes waits for all.
#ifndef TRAINER_CUDA_DEVICE_CUH
#define TRAINER_CUDA_DEVICE_CUH
#include <cstdio>
#include <map>
#include <mutex>

#include <cublas_v2.h>

#include "trainer/cuda/elementwise.cuh"

namespace train {

struct step_clock { // pairs of events around the pieces of steps, [read, next) not looked at yet
    enum { PAIRS = 64 };
    cudaEvent_t begun[PAIRS], ended[PAIRS];
    int64_t     next, read;
};

struct context { // a device's own
    int            number;  // CUDA's, of the device
    cudaStream_t   stream, sampling, extracting;
    cudaEvent_t    trained; // all that `stream` had been given when a sample was asked for
    cudaEvent_t    begun, ended; // of an operation, for the profile
    step_clock     clock;
    cublasHandle_t blas;
    void*          blas_workspace;
    step_state*    step;
    net_losses*    losses;  // pinned: a copy of the losses, under way where it was asked for
    cudaEvent_t    arrived; // the copy of the losses has come
    bool           asked;
    int64_t        looks;   // calls that ask for losses and need not wait
    net_losses     seen;    // the losses that were read last
    std::map<void*, size_t> size; // bytes of each piece of memory that was taken
};

inline context&     own(device* d) { return *static_cast<context*>(d->own); }
inline cudaStream_t stream_of(const net* n) { return own(n->device).stream; }
inline step_state*  step_of(const net* n) { return own(n->device).step; }

inline void check(device* d, cudaError_t e, const char* what)
{
    if (e != cudaSuccess && !d->failed.text[0])
        error_set(&d->failed, "%s on the device: %s", what, cudaGetErrorString(e));
}
inline void check(const net* n, cudaError_t e, const char* what) { check(n->device, e, what); }

inline cudaError_t wait_for_batches(const context& c)
{
    return first_error(cudaStreamSynchronize(c.sampling), cudaStreamSynchronize(c.extracting));
}

inline cudaError_t wait_for_all(const context& c) { return first_error(wait_for_batches(c), cudaStreamSynchronize(c.stream)); }

// While one of these lives its stage's time runs, on the device's clock. Without --profile it does nothing.
class stage_timer {
public:
    stage_timer(net* of, net_stage which) : n(of), stage(which)
    {
        if (n->device->profile) check(n, cudaEventRecord(own(n->device).begun, stream_of(n)), "the profile");
    }
    ~stage_timer()
    {
        const context& c = own(n->device);
        float          ms = 0;
        if (!n->device->profile) return;
        cudaError_t e = cudaEventRecord(c.ended, c.stream);
        e = first_error(e, cudaEventSynchronize(c.ended));
        check(n, first_error(e, cudaEventElapsedTime(&ms, c.begun, c.ended)), "the profile");
        n->profile.seconds[n->backward][stage] += 1e-3 * static_cast<double>(ms);
    }
    stage_timer(const stage_timer&) = delete;
    stage_timer& operator=(const stage_timer&) = delete;

private:
    net*      n;
    net_stage stage;
};

// Adds up pieces of steps; wait: all of them, else those that are done.
inline void read_clock(net* n, bool wait)
{
    step_clock& k = own(n->device).clock;
    for (float ms = 0; k.read < k.next; k.read++) {
        const int64_t at = k.read % step_clock::PAIRS;
        cudaError_t   e = cudaEventQuery(k.ended[at]);
        if (e == cudaErrorNotReady) {
            cudaGetLastError(); // no error to be found later
            if (!wait) return;
            e = cudaEventSynchronize(k.ended[at]);
        }
        check(n, first_error(e, cudaEventElapsedTime(&ms, k.begun[at], k.ended[at])), "the clock of steps");
        n->profile.train += 1e-3 * static_cast<double>(ms);
    }
}

// Gives a piece of a step to the stream, between two events. The host waits only where it is 64 pieces ahead.
template <class F> void timed_piece(net* n, F work)
{
    step_clock& k = own(n->device).clock;
    for (bool wait : {false, true})
        if (k.next - k.read == step_clock::PAIRS) read_clock(n, wait);
    const int64_t at = k.next++ % step_clock::PAIRS;
    check(n, cudaEventRecord(k.begun[at], stream_of(n)), "the clock of steps");
    work();
    check(n, cudaEventRecord(k.ended[at], stream_of(n)), "the clock of steps");
}

// ==== memory ===============================================================================================

inline void* cuda_take(device* d, size_t bytes, const char* what, error* why)
{
    void*       memory = nullptr;
    size_t      some = bytes ? bytes : 64;
    cudaError_t e = cudaMalloc(&memory, some);
    if (e == cudaSuccess) e = cudaMemsetAsync(memory, 0, some, own(d).stream);
    if (e != cudaSuccess) {
        error_set(why, "%s: %zu bytes of the device: %s", what, bytes, cudaGetErrorString(e));
        if (memory) cudaFree(memory);
        return nullptr;
    }
    own(d).size[memory] = some;
    d->bytes += static_cast<int64_t>(some);
    if (d->bytes > d->most_bytes) d->most_bytes = d->bytes;
    return memory;
}

inline void cuda_give_back(device* d, void* memory)
{
    context&    c = own(d);
    d->bytes -= static_cast<int64_t>(c.size[memory]);
    c.size.erase(memory);
    cudaError_t e = wait_for_all(c);
    check(d, first_error(e, cudaFree(memory)), "freeing memory");
}

inline void cuda_upload(device* d, void* to, const void* from, size_t bytes)
{
    const context& c = own(d);
    cudaError_t    e = wait_for_batches(c);
    e = first_error(e, cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, c.stream));
    check(d, first_error(e, cudaStreamSynchronize(c.stream)), "copying to it");
}

inline void cuda_download(device* d, void* to, const void* from, size_t bytes)
{
    const context& c = own(d);
    cudaError_t    e = wait_for_batches(c);
    e = first_error(e, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, c.stream));
    check(d, first_error(e, cudaStreamSynchronize(c.stream)), "copying from it");
}

inline const void* cuda_read(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) cuda_download(d, to, from, bytes);
    return to;
}

inline void* cuda_take_host(device*, size_t bytes, const char* what, error* why)
{
    void*       memory = nullptr;
    cudaError_t e = cudaMallocHost(&memory, bytes ? bytes : 64);
    if (e == cudaSuccess) return memory;
    cudaGetLastError(); // it is told here
    error_set(why, "%s: %zu bytes of pinned memory: %s", what, bytes, cudaGetErrorString(e));
    return nullptr;
}

inline void cuda_give_back_host(device* d, void* memory) { check(d, cudaFreeHost(memory), "freeing memory of the host"); }

inline void cuda_fetch(device* d, void* to, const void* from, size_t bytes)
{
    check(d, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, own(d).stream), "copying from another one");
}

inline int64_t cuda_room(device* d)
{
    size_t free = 0, all = 0;
    check(d, cudaMemGetInfo(&free, &all), "asking for its memory");
    return static_cast<int64_t>(free);
}

// Handles, and not section PEERS of ggnn_cuda.cuh: comm.h has barriers, and tells of a rank that has died. Peers would
// bring a second barrier and a second way to find the dead, with a message of its own.
static_assert(sizeof(cudaIpcMemHandle_t) == DEVICE_HANDLE, "a handle is told in so many bytes");

inline bool cuda_lend(device* d, void* memory, char handle[DEVICE_HANDLE], error* why)
{
    cudaIpcMemHandle_t h;
    cudaError_t        e = cudaIpcGetMemHandle(&h, memory);
    if (e == cudaSuccess) memcpy(handle, &h, sizeof h);
    return e == cudaSuccess || error_set(why, "--store parts: device %d cannot lend memory to other processes: %s; --gather "
                                         "exchange needs it not", own(d).number, cudaGetErrorString(e));
}

inline void* cuda_borrow(device* d, const char handle[DEVICE_HANDLE], error* why)
{
    cudaIpcMemHandle_t h;
    void*              memory = nullptr;
    memcpy(&h, handle, sizeof h);
    cudaError_t e = cudaIpcOpenMemHandle(&memory, h, cudaIpcMemLazyEnablePeerAccess);
    if (e == cudaSuccess) return memory;
    error_set(why, "--store parts: device %d cannot read memory of another process's: %s; --gather exchange needs no link",
              own(d).number, cudaGetErrorString(e));
    return nullptr;
}

inline void cuda_give_borrowed(device* d, void* memory)
{
    cudaError_t e = wait_for_all(own(d));
    check(d, first_error(e, cudaIpcCloseMemHandle(memory)), "giving back memory");
}

inline double cuda_link(device* d, const char bus[DEVICE_BUS])
{
    enum { OWN = 700, BEST = 50 };
    const int own_number = own(d).number;
    int       other = own_number, can = 1, rank = 0;
    if (cudaDeviceGetByPCIBusId(&other, bus) != cudaSuccess) {
        cudaGetLastError(); // another process's, which is not among this one's
        return BEST;
    }
    if (other == own_number) return OWN;
    cudaError_t e = cudaDeviceCanAccessPeer(&can, own_number, other);
    if (e == cudaSuccess && can) e = cudaDeviceGetP2PAttribute(&can, cudaDevP2PAttrAccessSupported, own_number, other);
    if (e == cudaSuccess && can) e = cudaDeviceGetP2PAttribute(&rank, cudaDevP2PAttrPerformanceRank, own_number, other);
    check(d, e, "asking for its links");
    return can ? BEST / (1. + rank) : 0;
}

inline bool cuda_reach(device* d, const void* memory, error* why)
{
    cudaPointerAttributes where = {};
    cudaError_t           e = cudaPointerGetAttributes(&where, memory);
    if (e == cudaSuccess) e = ggnni::link_device(own(d).number, where.device, true, -1, nullptr);
    return e == cudaSuccess || error_set(why, "--store parts: device %d cannot read memory of device %d: %s; --gather exchange "
                                         "needs no link", own(d).number, where.device, cudaGetErrorString(e));
}

inline void cuda_settle(device* d) { check(d, wait_for_all(own(d)), "waiting for it"); }

// ==== the host's memory, read over a link ==================================================================

struct pinned { // in place, or a copy
    void*   copy; // nullptr: in place, from the beginning of its first page
    int32_t users;
};

typedef std::map<const void*, pinned> pinned_map; // by where it is

struct pinned_all { // of this process
    std::mutex lock;
    pinned_map at;
};

inline pinned_all& all_pinned()
{
    static pinned_all all;
    return all;
}

inline void* first_page(const void* host)
{
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(host) & ~static_cast<uintptr_t>(4095));
}

// A mapped file begins at a page, and no section shares a page with another one.
inline cudaError_t pin_in_place(const void* host, size_t bytes)
{
    const unsigned how = cudaHostRegisterPortable | cudaHostRegisterMapped;
    char*          first = static_cast<char*>(first_page(host));
    const size_t   all = static_cast<size_t>(static_cast<const char*>(host) - first) + bytes;
    cudaError_t    e = cudaHostRegister(first, all, how | cudaHostRegisterReadOnly);
    if (e != cudaSuccess) {
        cudaGetLastError(); // a device that cannot promise not to write
        e = cudaHostRegister(first, all, how);
    }
    if (e != cudaSuccess) cudaGetLastError();
    return e;
}

inline cudaError_t give_back(pinned_map& all, pinned_map::iterator it)
{
    cudaError_t e = it->second.copy ? cudaFreeHost(it->second.copy) : cudaHostUnregister(first_page(it->first));
    all.erase(it);
    return e;
}

inline const void* cuda_pin(device*, const void* host, size_t bytes, const char* what, bool* copied, error* why)
{
    pinned_all&                 all = all_pinned();
    std::lock_guard<std::mutex> held(all.lock);
    auto                        it = all.at.find(host);
    void*                       there = nullptr;
    if (it == all.at.end()) {
        pinned one = {nullptr, 0};
        if (pin_in_place(host, bytes) != cudaSuccess) {
            cudaError_t e = cudaHostAlloc(&one.copy, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
            if (e != cudaSuccess) {
                cudaGetLastError(); // it is told here
                error_set(why, "%s: %zu bytes of pinned memory: %s", what, bytes, cudaGetErrorString(e));
                return nullptr;
            }
            memcpy(one.copy, host, bytes);
        }
        it = all.at.emplace(host, one).first;
    }
    cudaError_t e = cudaHostGetDevicePointer(&there, it->second.copy ? it->second.copy : const_cast<void*>(host), 0);
    if (e != cudaSuccess) {
        if (!it->second.users) give_back(all.at, it);
        cudaGetLastError(); // it is told here
        error_set(why, "%s: pinned memory: %s", what, cudaGetErrorString(e));
        return nullptr;
    }
    it->second.users++;
    *copied = *copied || it->second.copy;
    return there;
}

inline void cuda_unpin(device* d, const void* host)
{
    pinned_all&                 all = all_pinned();
    std::lock_guard<std::mutex> held(all.lock);
    auto                        it = all.at.find(host);
    if (it == all.at.end() || --it->second.users) return;
    cudaError_t e = wait_for_all(own(d));
    check(d, first_error(e, give_back(all.at, it)), "giving back pinned memory");
}

// ==== opening, closing =====================================================================================

// Samples are many small kernels, each of which waits for the one before it: they go first where a step's large ones wait too.
inline cudaError_t open_streams(context& c)
{
    int         least = 0, greatest = 0;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (e == cudaSuccess) e = cudaStreamCreateWithPriority(&c.stream, cudaStreamNonBlocking, least);
    if (e == cudaSuccess) e = cudaStreamCreateWithPriority(&c.sampling, cudaStreamNonBlocking, greatest);
    if (e == cudaSuccess) e = cudaStreamCreateWithPriority(&c.extracting, cudaStreamNonBlocking, least);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&c.trained, cudaEventDisableTiming);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&c.arrived, cudaEventDisableTiming);
    if (e == cudaSuccess) e = cudaEventCreate(&c.begun);
    if (e == cudaSuccess) e = cudaEventCreate(&c.ended);
    for (cudaEvent_t* events : {c.clock.begun, c.clock.ended})
        for (int i = 0; i < step_clock::PAIRS && e == cudaSuccess; i++) e = cudaEventCreate(&events[i]);
    return e;
}

// A workspace of its own keeps cuBLAS from allocating, in a capture above all; its size is what the manual advises.
inline cudaError_t open_blas(context& c, int major, bool tf32)
{
    const size_t      bytes = static_cast<size_t>(major < 9 ? 4 : 32) << 20;
    const cublasMath_t math = tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH;
    cudaError_t        e = cudaMalloc(&c.blas_workspace, bytes);
    if (e != cudaSuccess) return e;
    bool good = cublasCreate(&c.blas) == CUBLAS_STATUS_SUCCESS;
    good = good && cublasSetStream(c.blas, c.stream) == CUBLAS_STATUS_SUCCESS;
    good = good && cublasSetWorkspace(c.blas, c.blas_workspace, bytes) == CUBLAS_STATUS_SUCCESS;
    good = good && cublasSetMathMode(c.blas, math) == CUBLAS_STATUS_SUCCESS;
    return good ? cudaSuccess : cudaErrorUnknown;
}

// Of memory a read at random that misses the L2 cache fetches 64 bytes, the least that HBM gives: lists, tables of ids and short
// rows are read so. A hint, which a device need not know.
inline void fetch_little()
{
    if (cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 64) != cudaSuccess) cudaGetLastError();
}

inline cudaError_t open_context(device* d, int32_t number, bool tf32)
{
    context&       c = own(d);
    cudaDeviceProp what = {};
    cudaError_t    e = cudaSetDevice(number);
    c.number = d->number = number;
    if (e == cudaSuccess) e = cudaGetDeviceProperties(&what, c.number);
    if (e == cudaSuccess) snprintf(d->name, sizeof d->name, "%s", what.name);
    if (e == cudaSuccess) e = cudaDeviceGetPCIBusId(d->bus, sizeof d->bus, c.number);
    if (e == cudaSuccess) fetch_little();
    if (e == cudaSuccess) e = open_streams(c);
    if (e == cudaSuccess) e = cudaMalloc(&c.step, sizeof *c.step);
    if (e == cudaSuccess) e = cudaMemsetAsync(c.step, 0, sizeof *c.step, c.stream);
    if (e == cudaSuccess) e = cudaMallocHost(&c.losses, sizeof *c.losses);
    return e == cudaSuccess ? open_blas(c, what.major, tf32) : e;
}

inline device* cuda_twin(device* d, error* why) { return device_open_cuda(d->number, false, why); }

inline void cuda_close(device* d)
{
    context& c = own(d);
    if (c.blas) cublasDestroy(c.blas);
    if (c.blas_workspace) cudaFree(c.blas_workspace);
    if (c.step) cudaFree(c.step);
    if (c.losses) cudaFreeHost(c.losses);
    if (c.arrived) cudaEventDestroy(c.arrived);
    if (c.trained) cudaEventDestroy(c.trained);
    if (c.begun) cudaEventDestroy(c.begun);
    if (c.ended) cudaEventDestroy(c.ended);
    for (cudaEvent_t* events : {c.clock.begun, c.clock.ended})
        for (int i = 0; i < step_clock::PAIRS; i++)
            if (events[i]) cudaEventDestroy(events[i]);
    if (c.extracting) cudaStreamDestroy(c.extracting);
    if (c.sampling) cudaStreamDestroy(c.sampling);
    if (c.stream) cudaStreamDestroy(c.stream);
    delete &c;
    delete d;
}

} // namespace train
#endif
