// cuda_memory.h - for tests of ggnn_cuda.cuh: memory of a device, and blocks, graphs and stores sent there.
#ifndef CUDA_MEMORY_H
#define CUDA_MEMORY_H

#include "ggnn.h"
#include "tests/test.h"

#include <cuda_runtime.h>
#include <sys/mman.h>
#include <utility>
#include <vector>

#define CHECK_CUDA(call) test_check_cuda((call), __FILE__, __LINE__, #call)

static inline bool test_check_cuda(cudaError_t error, const char* file, int line, const char* what)
{
    if (test_report(error == cudaSuccess))
        printf("  %s:%d: %s: %s: %s\n", file, line, test_current, what, cudaGetErrorString(error));
    return error == cudaSuccess;
}

// Whether kernels can run: false in a program built by nvcc on a machine without a GPU.
static inline bool device_present()
{
    int count = 0;
    return cudaGetDeviceCount(&count) == cudaSuccess && count > 0;
}

// What main() returns then.
static inline int finish_without_device()
{
    printf("  skipped: no GPU\n");
    test_skipped++;
    return test_finish();
}

// The same of a program that was linked with trainer/cuda/none.c: it would test nothing.
static inline int finish_without_backend()
{
    printf("  FAILED: built without trainer/cuda/ops.cu\n");
    test_failed++;
    return test_finish();
}

// Trials of a test of random input: fewer under the thread sanitizer, which takes 30 times as long.
static inline int trials(int n)
{
#ifdef __SANITIZE_THREAD__
    return (n + 3) / 4;
#else
    return n;
#endif
}

static inline bool few_trials() { return trials(2) == 1; }

// n elements on the device, freed with the object; what they hold at first is undefined. No element: no
// memory.
template <class T> class device_array {
public:
    device_array() = default;
    explicit device_array(int64_t n) : size(n)
    {
        if (n > 0) CHECK_CUDA(cudaMalloc(&start, static_cast<size_t>(n) * sizeof(T)));
    }
    device_array(const T* from, int64_t n) : device_array(n) { upload(from); }
    explicit device_array(const std::vector<T>& from)
        : device_array(from.data(), static_cast<int64_t>(from.size()))
    {
    }
    device_array(device_array&& other) noexcept { *this = std::move(other); }
    device_array& operator=(device_array&& other) noexcept
    {
        std::swap(start, other.start);
        std::swap(size, other.size);
        return *this;
    }
    ~device_array() { cudaFree(start); }

    T*      at() const { return start; }
    int64_t count() const { return size; }

    void upload(const T* from) { copy(start, from, size, cudaMemcpyHostToDevice); }
    void download(T* to) const { copy(to, start, size, cudaMemcpyDeviceToHost); }
    void fill(int byte)
    {
        if (size > 0) CHECK_CUDA(cudaMemset(start, byte, static_cast<size_t>(size) * sizeof(T)));
        CHECK_CUDA(cudaDeviceSynchronize());
    }
    std::vector<T> values() const { return values(size); }
    std::vector<T> values(int64_t n) const // the first n: initcheck minds copies of what was never written
    {
        std::vector<T> v(static_cast<size_t>(n));
        copy(v.data(), start, n, cudaMemcpyDeviceToHost);
        return v;
    }

private:
    // Streams of tests need not wait for the default one, and a copy from the host may go on when cudaMemcpy
    // returns.
    static void copy(void* to, const void* from, int64_t n, cudaMemcpyKind kind)
    {
        CHECK_CUDA(cudaDeviceSynchronize());
        if (n > 0) CHECK_CUDA(cudaMemcpy(to, from, static_cast<size_t>(n) * sizeof(T), kind));
        CHECK_CUDA(cudaDeviceSynchronize());
    }
    T*      start = nullptr;
    int64_t size = 0;
};

// n zeros for kernels of the emulator, of which a test touches a few pages: what lies in it is so far apart that offsets
// need 64 bits. at(): NULL where there is no address space for it.
template <class T> class far_zeros {
public:
    explicit far_zeros(int64_t n) : bytes(static_cast<size_t>(n) * sizeof(T))
    {
        memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) memory = nullptr;
        if (memory) CHECK_CUDA(cudaHostRegister(memory, bytes, cudaHostRegisterDefault));
    }
    far_zeros(const far_zeros&) = delete;
    ~far_zeros()
    {
        if (!memory) return;
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaHostUnregister(memory));
        munmap(memory, bytes);
    }
    T* at() const { return static_cast<T*>(memory); }

private:
    size_t bytes;
    void*  memory;
};

// A size on the device, `max` known to the host.
class device_count {
public:
    device_count(int64_t n, int64_t max) : memory(&n, 1), value{memory.at(), max} {}
    ggnn_count get() const { return value; }

private:
    device_array<int64_t> memory;
    ggnn_count            value;
};

// A host's block, sent; arrays that it does not have stay NULL. extra: by how much the bounds exceed the
// sizes.
class device_block {
public:
    explicit device_block(const ggnn_block& b, int64_t extra = 0)
        : dst(*b.num_dst.n, *b.num_dst.n + extra), src(*b.num_src.n, *b.num_src.n + extra),
          edges(*b.num_edges.n, *b.num_edges.n + extra)
    {
        const int64_t e = *b.num_edges.n;
        sent.num_dst = dst.get();
        sent.num_src = src.get();
        sent.num_edges = edges.get();
        sent.id = send(id, b.id, *b.num_dst.n > *b.num_src.n ? *b.num_dst.n : *b.num_src.n);
        sent.indptr = send(indptr, b.indptr, *b.num_dst.n + 1);
        sent.indices = send(indices, b.indices, e);
        sent.neighbor = send(neighbor, b.neighbor, e);
        sent.position = send(position, b.position, e);
        sent.weight = send(weight, b.weight, e);
        sent.repeats = send(repeats, b.repeats, *b.num_src.n);
        sent.edge = send(edge, b.edge, e);
    }
    const ggnn_block* get() const { return &sent; }

private:
    template <class T> static T* send(device_array<T>& to, const T* from, int64_t n)
    {
        if (from) to = n > 0 ? device_array<T>(from, n) : device_array<T>(1); // given, though empty
        return to.at();
    }
    device_count            dst, src, edges;
    device_array<int64_t>   indptr, position;
    device_array<int32_t>   indices, repeats, edge;
    device_array<ggnn_node> id, neighbor;
    device_array<float>     weight;
    ggnn_block              sent = {};
};

#endif // CUDA_MEMORY_H
