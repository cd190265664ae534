// simt_core.h - what the core's files share. The core is always built without sanitizers and calls their
// hooks by weak symbols, so that one build of it serves plain, ASan, UBSan, TSan and valgrind programs.
#ifndef SIMT_CORE_H
#define SIMT_CORE_H

#include "cuda_runtime.h"

#include <memory>
#include <string>
#include <vector>

#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0
#define VALGRIND_MAKE_MEM_UNDEFINED(start, bytes) 0
#define VALGRIND_MAKE_MEM_NOACCESS(start, bytes) 0
#define RUNNING_ON_VALGRIND 0
#endif

extern "C" {
#define SIMT_WEAK __attribute__((weak))
SIMT_WEAK void  __sanitizer_start_switch_fiber(void** save, const void* stack, size_t bytes);
SIMT_WEAK void  __sanitizer_finish_switch_fiber(void* saved, const void** old_stack, size_t* old_bytes);
SIMT_WEAK void  __asan_poison_memory_region(const volatile void*, size_t);
SIMT_WEAK void  __asan_unpoison_memory_region(const volatile void*, size_t);
SIMT_WEAK void* __tsan_get_current_fiber(void);
SIMT_WEAK void* __tsan_create_fiber(unsigned);
SIMT_WEAK void  __tsan_switch_to_fiber(void*, unsigned);
SIMT_WEAK void  __tsan_acquire(void*);
SIMT_WEAK void  __tsan_release(void*);
SIMT_WEAK void  __tsan_java_alloc(uintptr_t, uintptr_t); // TSan's public way to forget a range's history
SIMT_WEAK void  __tsan_java_free(uintptr_t, uintptr_t);
SIMT_WEAK void  AnnotateIgnoreWritesBegin(const char* file, int line);
SIMT_WEAK void  AnnotateIgnoreWritesEnd(const char* file, int line);
}

namespace simt {

inline bool with_asan() { return __asan_poison_memory_region != nullptr; }
inline bool with_tsan() { return __tsan_create_fiber != nullptr; }

// ---- simt_options.cc: the environment

struct Options {
    enum {
        FORWARD,
        REVERSE,
        RANDOM
    } order          = FORWARD; // SIMT_ORDER=fwd|rev|rand: of threads, warps, blocks, graph nodes
    uint64_t seed    = 1;       // SIMT_SEED
    unsigned preempt = 0;       // SIMT_PREEMPT=n: one in n atomics and hinted loads lets other threads run
    bool     lazy    = false;   // SIMT_ASYNC=lazy: streams' work runs when something waits for it
    bool     lax     = false;   // SIMT_LAX=1: as forgiving as Volta and later
    bool     guard   = false;   // SIMT_GUARD=1: host code that touches device memory faults
    bool     pin     = true;    // SIMT_PIN=0: cudaHostRegister is refused
    const char* fail_nccl = nullptr; // SIMT_FAIL_NCCL=RANK:N[:later]: NCCL's call n of that rank fails
    const char* links = nullptr; // SIMT_LINKS=0-1,2-3:1|none: which devices can be linked, and ranks; null: all
    int      devices = 2;       // SIMT_DEVICES
    int      poison  = 0x7D; // SIMT_POISON=byte|rand: what fresh memory holds; -1: other garbage in every run
    long     fail    = 0;    // SIMT_FAIL_MALLOC=n: the n-th allocation fails
    size_t   stack   = 64 << 10;   // SIMT_STACK: bytes a fiber
    size_t   memory  = 16ul << 30; // SIMT_MEMORY: bytes a device
};
const Options& options();
uint64_t       random_word();
uint64_t       random_below(uint64_t n);
// Garbage over a range. Stores that no sanitizer sees.
void fill_garbage(void* start, size_t bytes);

// ---- simt_fiber.cc: stacks and switching between them

struct Fiber {
    void*  saved_sp   = nullptr;
    char*  stack      = nullptr;
    size_t bytes      = 0;
    void*  asan_stack = nullptr; // ASan's fake stack while the fiber is away
    void*  tsan       = nullptr;
};
void fiber_create(Fiber& fiber, void (*entry)());
void fiber_entered(); // entry's first statement
void fiber_switch(Fiber& from, Fiber& to);
bool in_stack_guard(const void* address);

// ---- thread sanitizer: an object orders those who acquire it after those who released it before

// Without TSan there are none. One that is used again would order what has nothing to do with each other.
using Sync = std::shared_ptr<long>;
inline Sync make_sync() { return with_tsan() ? std::make_shared<long>() : nullptr; }
inline void tsan_acquire(void* sync)
{
    if (sync) __tsan_acquire(sync);
}
inline void tsan_release(void* sync)
{
    if (sync) __tsan_release(sync);
}
inline void tsan_acquire(const Sync& sync) { tsan_acquire(sync.get()); }
inline void tsan_release(const Sync& sync) { tsan_release(sync.get()); }
void        tsan_forget(void* start, size_t bytes);
// Objects for use within a block, where nothing may be allocated; taken back when another block begins.
void* new_block_sync();
void  reset_block_syncs();

// Runs a task on a stack and a TSan fiber of its own, so that TSan sees who did it. Null: here.
struct TaskFiber;
TaskFiber* new_task_fiber(); // null without TSan
void       run_as(TaskFiber* fiber, const std::function<void()>& task);

// ---- simt_symbols.cc: this program's own symbol table

struct Range {
    char*  start;
    size_t bytes;
};
const std::vector<Range>& shared_variables();
std::string               function_name(const void* function);
// "file:line" of an instruction, as addr2line knows it; empty where it does not.
std::string source_line(const void* instruction);

// ---- simt_run.cc

bool              in_kernel();
void              before_load();    // as before_atomic, where SIMT_PREEMPT asks for it
void              print_position(); // kernel, block, thread, what each thread is doing
[[noreturn]] void end_process();

// ---- simt_memory.cc

// Memory of n bytes that ends, as closely as alignment allows, before an inaccessible page.
Range guarded(size_t n, size_t alignment);
// Makes accessible what a device (its number), the host or a copy may touch, and nothing else.
enum { VIEW_ALL = -1, VIEW_HOST = -2, VIEW_STREAM = -3 /* put(): the stream's device */ };
void set_view(int view);
void count_allocation(); // throws where this one is to fail
void check_range(const void* start, size_t bytes); // both throw
void check_copy(const void* to, size_t to_bytes, const void* from, size_t from_bytes, cudaMemcpyKind kind);
bool is_pageable(const void* address); // neither a device's nor pinned
bool is_device_memory(const void* address);

// Where other processes find a range of pages, and a copy of a device's number there.
struct Shared {
    int    process, file;
    long   offset, device; // no padding, which would be sent
    size_t bytes;
};
Shared new_shared(size_t bytes, Range* pages); // throws
Range  map_shared(const Shared& where);        // another process's; throws
void   unmap_shared(Range pages);

// ---- simt_devices.cc

int  current_device();
void use_device(int device);
bool has_peer_access(int from, int to); // linked, and enabled
void link_lazily(int to);               // for the current device; throws
const char* why_unreachable(int from, int to); // ": device .. has no .. to it", for a message
void require_device(int device); // throws

extern simt_statistics counts;

// Calls come one at a time, also from several host threads. Recursive. Unknown to TSan, which also looks away
// from the core's own allocations; streams and kernels are fibers of their own, so that it sees what they do.
class Lock {
public:
    Lock();
    ~Lock();
    Lock(const Lock&)            = delete;
    Lock& operator=(const Lock&) = delete;
    static void let_others(); // who holds it gives it away for a moment
};

// The body of an API function. Within it, an error is thrown.
cudaError_t                    remember(cudaError_t error); // for cudaGetLastError
template <class F> cudaError_t api(F body)
{
    Lock lock;
    try {
        body();
        return cudaSuccess;
    } catch (cudaError_t error) {
        return remember(error);
    }
}
template <class T> void require(const T& condition, cudaError_t otherwise = cudaErrorInvalidValue)
{
    if (!condition) throw otherwise;
}

// ---- simt_stream.cc, simt_graph.cc

void put(void* stream, std::function<void()> run, int view); // throws
// Work that gets done once ready() says so; all before it on the stream has been done when it is asked.
void put_until(void* stream, std::function<bool()> ready); // throws
enum { ALL_DEVICES = -1 };
void drain_device(int device); // all its streams
void refuse_in_capture(); // throws, and ends the capture, if there is one that forbids the call

} // namespace simt
#endif
