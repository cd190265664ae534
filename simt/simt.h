// simt.h - what the headers ask of the core (simt_*.cc). CUDA code includes <cuda_runtime.h>, not this.
#ifndef SIMT_H
#define SIMT_H

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

// The core rewrites these whenever it switches to another CUDA thread.
extern uint3     threadIdx, blockIdx;
extern dim3      blockDim, gridDim;
extern const int warpSize;

namespace simt {

// A line of the caller's source. As a default argument, here() is evaluated where the call is written.
struct Site {
    const char* file;
    int         line;
};
constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE())
{
    return Site{file, line};
}

// ---- collectives and other things that kernels call

#define SIMT_COLLECTIVES(X)                                                                                  \
    X(SYNCTHREADS, "__syncthreads")                                                                          \
    X(SYNCWARP, "__syncwarp") X(BALLOT, "__ballot_sync") X(ALL, "__all_sync") X(ANY, "__any_sync")           \
        X(MATCH_ANY, "__match_any_sync") X(MATCH_ALL, "__match_all_sync") X(SHFL, "__shfl_sync")             \
            X(SHFL_UP, "__shfl_up_sync") X(SHFL_DOWN, "__shfl_down_sync") X(SHFL_XOR, "__shfl_xor_sync")     \
                X(REDUCE_ADD, "__reduce_add_sync") X(REDUCE_MIN, "__reduce_min_sync")                        \
                    X(REDUCE_MIN_SIGNED, "__reduce_min_sync") X(REDUCE_MAX, "__reduce_max_sync")             \
                        X(REDUCE_MAX_SIGNED, "__reduce_max_sync") X(REDUCE_AND, "__reduce_and_sync")         \
                            X(REDUCE_OR, "__reduce_or_sync") X(REDUCE_XOR, "__reduce_xor_sync")
#define SIMT_KIND(kind, name) kind,
enum Collective : uint8_t { SIMT_COLLECTIVES(SIMT_KIND) };
#undef SIMT_KIND

// Waits until all lanes of mask have come to the same collective at the same line; returns the lane's result.
uint64_t warp_collective(Collective what, unsigned mask, uint64_t value, int argument, int width, Site at);
// Waits for all threads of the block; returns how many of them came with a predicate that is not 0.
int      block_barrier(int predicate, Site at);
int      threads_in_block();
unsigned lane();
void     before_atomic(); // a chance to run other threads
void     fence();
void*    dynamic_shared();

extern bool watching; // set while accesses are counted, or while loads too may run other threads
void        watch(const void* address, size_t bytes, Site at);
void        misaligned(const void* address, size_t bytes, Site at); // ends the process
inline void access(const void* address, size_t bytes, Site at)
{
    if ((bytes & (bytes - 1)) == 0 && reinterpret_cast<uintptr_t>(address) % bytes) misaligned(address, bytes, at);
    if (watching) watch(address, bytes, at);
}

// Prints what is wrong and where (kernel, block, thread, every thread's state), ends the process with status
// 97.
[[noreturn]] void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

// ---- work for a stream

// Puts work on a stream: run now, or when something waits for it (SIMT_ASYNC=lazy), or recorded (capture).
// The work acts as the stream's device. Returns a cudaError.
// of: the kernel that it is, for simt_trace_end.
int enqueue(void* stream, std::function<void()> work, const void* of = nullptr);

struct Kernel {
    void (*run)(const void* arguments); // calls the kernel for one thread; parameters are copied for each
    const void* arguments;
    const void* function;
};
int  check_launch(const void* function, dim3 grid, dim3 block, size_t shared_bytes);
void check_pointer(const void* pointer, const void* function, int argument);
void check_words(const void* object, size_t bytes, const void* function, int argument);
void run_grid(dim3 grid, dim3 block, size_t shared_bytes, Kernel kernel);

#if defined(__has_builtin)
#if __has_builtin(__builtin_clear_padding)
#define SIMT_CLEARS_PADDING 1
#endif
#endif
#ifndef SIMT_CLEARS_PADDING
#define SIMT_CLEARS_PADDING 0
#define __builtin_clear_padding(object) ((void)(object))
#endif

// A kernel's pointers must be its device's, also those within a struct that is passed by value. One that may
// have padding, which holds anything, is left out where the compiler cannot clear it (clang before 20).
template <class T> void check_argument(const T& value, const void* function, int argument)
{
    if constexpr (std::is_class_v<T>) {
        T copy = value;
        if (!SIMT_CLEARS_PADDING && !std::has_unique_object_representations_v<T>) return;
        __builtin_clear_padding(&copy);
        check_words(&copy, sizeof copy, function, argument);
    } else if constexpr (std::is_pointer_v<T> && !std::is_function_v<std::remove_pointer_t<T>>)
        check_pointer((const void*)value, function, argument);
}

template <class... P>
int launch(void (*function)(P...), dim3 grid, dim3 block, size_t shared_bytes, void* stream,
           std::tuple<P...> values)
{
    using Call = std::pair<void (*)(P...), std::tuple<P...>>;
    if (int error = check_launch((const void*)function, grid, block, shared_bytes)) return error;
    return enqueue(stream, [=, call = Call{function, std::move(values)}] {
        auto check = [function](const auto&... a) {
            [[maybe_unused]] int i = 0;
            (check_argument(a, (const void*)function, i++), ...);
        };
        std::apply(check, call.second);
        auto run = [](const void* p) {
            const Call& c = *static_cast<const Call*>(p);
            std::apply(c.first, c.second);
        };
        run_grid(grid, block, shared_bytes, Kernel{run, &call, (const void*)function});
    }, (const void*)function);
}

// ---- values as 64 bits

template <class T> uint64_t to_bits(T value)
{
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable_v<T>);
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T> T from_bits(uint64_t bits)
{
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

} // namespace simt
#endif
