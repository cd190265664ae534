// simt_memory.cc - memory. Every allocation has pages of its own between two inaccessible ones; all lie in
// one shared file, by which other processes can map them (IPC). What a device may not touch is inaccessible
// while it runs, so that a wrong pointer faults wherever it was found, and the fault handler says what it
// pointed to.
#include "simt_core.h"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <map>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

namespace simt {

static const size_t PAGE      = 4096;
static const size_t ALIGNMENT = 256;               // cudaMalloc's
static const size_t FILLED    = (size_t)256 << 20; // as much of an allocation is filled with garbage

struct Allocation {
    size_t         bytes;
    cudaMemoryType type;
    int            device;
    Range          pages;      // without the guards; none where the memory is not ours (registered)
    long           offset;     // of the pages in the file
    bool           imported;   // from another process
    bool           accessible; // at present
};
using Allocations = std::map<char*, Allocation>;

static Allocations       live;
static std::deque<Range> freed; // inaccessible, so that late accesses fault
static size_t            freed_bytes;
static int               shared_file = -1, shared_file_owner;
static long              shared_file_bytes;

// The allocation that holds an address; its end counts, since arrays may be empty. Not that of registered memory, which
// no guard page follows: what begins there is another's.
static Allocations::iterator find(const void* address)
{
    auto it = live.upper_bound((char*)address);
    if (it == live.begin()) return live.end();
    --it;
    const char* end = it->first + it->second.bytes + (it->second.pages.start ? 1 : 0);
    return (char*)address < end ? it : live.end();
}
bool is_pageable(const void* address) { return find(address) == live.end(); }
bool is_device_memory(const void* address)
{
    auto it = find(address);
    return it != live.end() && it->second.type == cudaMemoryTypeDevice;
}

// ---- pages

static size_t in_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

// Where n bytes begin within the pages: they end right before the guard page, as far as alignment allows.
static char* start_in(Range pages, size_t n, size_t alignment)
{
    return pages.start + pages.bytes - ((n + alignment - 1) & ~(alignment - 1));
}

static Range map_pages(size_t bytes, int file, long offset)
{
    const int reserve = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char*     room    = (char*)mmap(nullptr, bytes + 2 * PAGE, PROT_NONE, reserve, -1, 0);
    if (room == MAP_FAILED) return {nullptr, 0};
    int   flags = MAP_FIXED | MAP_NORESERVE | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void* pages = mmap(room + PAGE, bytes, PROT_READ | PROT_WRITE, flags, file, offset);
    if (pages != MAP_FAILED) return {(char*)pages, bytes};
    munmap(room, bytes + 2 * PAGE);
    return {nullptr, 0};
}

Range guarded(size_t n, size_t alignment)
{
    Range pages = map_pages(in_pages(n), -1, 0);
    if (!pages.start) fail("no memory for %zu bytes", n);
    return {start_in(pages, n, alignment), n};
}

// A child process of a fork gets a file of its own.
static long extend_shared_file(size_t bytes)
{
    if (shared_file < 0 || shared_file_owner != getpid()) {
        shared_file       = (int)syscall(SYS_memfd_create, "simt", 1u /* closed by exec */);
        shared_file_owner = getpid();
        shared_file_bytes = 0;
    }
    long offset = shared_file_bytes;
    if (shared_file < 0 || ftruncate(shared_file, offset + (long)bytes)) return -1;
    shared_file_bytes += (long)bytes;
    return offset;
}

// The pages become inaccessible; their addresses come back into use only after 16 GiB of others.
static void retire(Range pages)
{
    if (with_asan()) __asan_unpoison_memory_region(pages.start, pages.bytes);
    mmap(pages.start, pages.bytes, PROT_NONE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    freed.push_back(pages);
    freed_bytes += pages.bytes;
    while (freed_bytes > (size_t)16 << 30) {
        freed_bytes -= freed.front().bytes;
        munmap(freed.front().start - PAGE, freed.front().bytes + 2 * PAGE);
        freed.pop_front();
    }
}

// ---- pages that other processes map

Shared new_shared(size_t bytes, Range* pages)
{
    long offset = extend_shared_file(in_pages(bytes));
    *pages      = offset < 0 ? Range{nullptr, 0} : map_pages(in_pages(bytes), shared_file, offset);
    require(pages->start, cudaErrorMemoryAllocation);
    return {shared_file_owner, shared_file, offset, current_device(), bytes};
}

Range map_shared(const Shared& where)
{
    char path[64];
    require(where.process != getpid(), cudaErrorDeviceUninitialized);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", where.process, where.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    require(file >= 0, cudaErrorInvalidResourceHandle);
    Range pages = map_pages(in_pages(where.bytes), file, where.offset);
    close(file);
    require(pages.start, cudaErrorMemoryAllocation);
    return pages;
}

void unmap_shared(Range pages) { munmap(pages.start - PAGE, pages.bytes + 2 * PAGE); }

// ---- faults

static bool is_within(const char* address, Range range)
{
    return address >= range.start && address < range.start + range.bytes;
}

static void describe(const char* address)
{
    for (auto& [start, a] : live) {
        if (!a.pages.start || !is_within(address, {a.pages.start - PAGE, a.pages.bytes + 2 * PAGE})) continue;
        fprintf(stderr, "byte %td of an allocation of %zu bytes, %s memory of device %d", address - start,
                a.bytes, a.type == cudaMemoryTypeDevice ? "device" : "pinned or managed", a.device);
        if (!is_within(address, {start, a.bytes})) return;
        if (in_kernel()) fputs(why_unreachable(current_device(), a.device), stderr);
        else fprintf(stderr, ": not the host's");
        return;
    }
    for (Range pages : freed)
        if (is_within(address, pages)) {
            fprintf(stderr, "memory that was freed");
            return;
        }
    if (in_stack_guard(address)) fprintf(stderr, "past the end of a thread's stack (SIMT_STACK)");
    else fprintf(stderr, "no memory of a device");
}

static void on_fault(int signal, siginfo_t* info, void* context)
{
    auto* registers = &((ucontext_t*)context)->uc_mcontext;
#if defined(__x86_64__)
    void* instruction = (void*)registers->gregs[REG_RIP];
#elif defined(__aarch64__)
    void* instruction = (void*)registers->pc;
#else
    void* instruction = nullptr;
    (void)registers;
#endif
    fprintf(stderr, "simt: ERROR: %s touched %p, ", in_kernel() ? "a kernel" : "host code", info->si_addr);
    describe((char*)info->si_addr);
    fprintf(stderr, "\nsimt: at %s (signal %d)\n", source_line(instruction).c_str(), signal);
    print_position();
    end_process();
}

static void catch_faults() // on a stack of their own: a thread's may be what has run out
{
    static char* stack;
    if (stack) return;
    const size_t bytes = 256 << 10;
    stack = (char*)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t          for_signals = {};
    struct sigaction action      = {};
    for_signals.ss_sp            = stack;
    for_signals.ss_size          = bytes;
    action.sa_sigaction          = on_fault;
    action.sa_flags              = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaltstack(&for_signals, nullptr);
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

// ---- views

static bool may_touch(int view, const Allocation& a)
{
    if (a.type != cudaMemoryTypeDevice || view == VIEW_ALL) return true;
    if (view == VIEW_HOST) return !options().guard;
    return a.device == view || has_peer_access(view, a.device);
}

void set_view(int view)
{
    for (auto& [start, a] : live) {
        bool may = may_touch(view, a);
        if (may == a.accessible) continue;
        mprotect(a.pages.start, a.pages.bytes, may ? PROT_READ | PROT_WRITE : PROT_NONE);
        a.accessible = may;
    }
}

// ---- arguments of kernels

// Below that lie integers, alone or two side by side, and what sanitizers keep for themselves.
static bool may_be_address(const void* word)
{
    const uintptr_t lowest = with_asan() || with_tsan() ? 0x500000000000u : 0x10000000000u, at = (uintptr_t)word;
    if (with_tsan() && at >= 0x600000000000u && at < 0x7b0000000000u) return false;
    return at >= lowest && at >> 48 == 0;
}
static bool is_mapped(const void* address)
{
    unsigned char resident;
    return mincore((void*)((uintptr_t)address & ~(uintptr_t)(PAGE - 1)), 1, &resident) == 0;
}

static void check_peer(const Allocation& a, const void* function, int argument)
{
    if (!may_touch(current_device(), a))
        fail("argument %d of %s lies on device %d%s", argument, function_name(function).c_str(), a.device,
             why_unreachable(current_device(), a.device));
}

void check_pointer(const void* pointer, const void* function, int argument)
{
    auto it = find(pointer);
    if (it != live.end()) check_peer(it->second, function, argument);
    else if (pointer)
        fail("argument %d of %s, %p, is no address on a device", argument, function_name(function).c_str(),
             pointer);
}

// Words of a struct that are addresses in this process are taken for pointers.
void check_words(const void* object, size_t bytes, const void* function, int argument)
{
    for (size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
        char* word;
        memcpy(&word, (const char*)object + at, sizeof word);
        if (!may_be_address(word)) continue;
        auto it = find(word);
        if (it != live.end()) check_peer(it->second, function, argument);
        else if (is_mapped(word) && !options().lax)
            fail("argument %d of %s holds at byte %zu an address of the host's, %p", argument,
                 function_name(function).c_str(), at, (void*)word);
    }
}

// ---- allocation

static size_t used()
{
    size_t sum = 0;
    for (auto& [start, a] : live)
        if (a.type == cudaMemoryTypeDevice && a.device == current_device() && !a.imported) sum += a.bytes;
    return sum;
}

static long& allocations_to_failure() // 0: none fails
{
    static long n = options().fail;
    return n;
}

void count_allocation()
{
    counts.allocations++;
    if (allocations_to_failure() > 0) require(--allocations_to_failure() > 0, cudaErrorMemoryAllocation);
}

static void hide_from_asan(const char* start, const char* end)
{
    if (with_asan() && start < end) __asan_poison_memory_region(start, (size_t)(end - start));
}

static void* add(Range pages, size_t n, cudaMemoryType type, int device, long offset, bool imported)
{
    char* start = start_in(pages, n, ALIGNMENT);
    hide_from_asan(pages.start, start);
    hide_from_asan(start + n, pages.start + pages.bytes);
    live[start] = {n, type, device, pages, offset, imported, true};
    set_view(VIEW_HOST);
    return start;
}

static cudaError_t allocate(void** out, size_t n, cudaMemoryType type)
{
    return api([&] {
        catch_faults();
        require(out != nullptr);
        *out = nullptr;
        refuse_in_capture();
        count_allocation();
        if (!n) return;
        size_t before = type == cudaMemoryTypeDevice ? used() : 0, bytes = in_pages(n);
        require(n <= options().memory - before, cudaErrorMemoryAllocation);
        long  offset = extend_shared_file(bytes);
        Range pages  = offset < 0 ? Range{nullptr, 0} : map_pages(bytes, shared_file, offset);
        require(pages.start, cudaErrorMemoryAllocation);
        char* end = start_in(pages, n, ALIGNMENT) + n;
        fill_garbage(pages.start, std::min(pages.bytes, FILLED));
        fill_garbage(end, (size_t)(pages.start + pages.bytes - end));
        *out = add(pages, n, type, current_device(), offset, false);
        (void)VALGRIND_MAKE_MEM_NOACCESS(pages.start, pages.bytes);
        (void)VALGRIND_MAKE_MEM_UNDEFINED(*out, n);
    });
}

// The few bytes between the end and the guard page: still garbage, or somebody wrote there.
static void check_end(const char* start, const Allocation& a)
{
    if (options().poison < 0 || with_asan() || RUNNING_ON_VALGRIND) return;
    for (const char* p = start + a.bytes; p < a.pages.start + a.pages.bytes; p++)
        if (*p != (char)options().poison)
            fail("byte %td of an allocation of %zu bytes was written", p - start, a.bytes);
}

static void release(void* start)
{
    auto it = live.find((char*)start);
    if (it == live.end()) fail("freed twice, or never allocated: %p", start);
    Allocation a = it->second;
    if (!a.accessible) mprotect(a.pages.start, a.pages.bytes, PROT_READ | PROT_WRITE);
    if (!a.imported) check_end(it->first, a);
    live.erase(it);
    if (!a.imported && shared_file_owner == getpid())
        fallocate(shared_file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, a.offset, (long)a.pages.bytes);
    retire(a.pages);
}

// Waits for all work that might still use the memory, as cudaFree does.
static cudaError_t free_after_work(void* p, bool host)
{
    return api([=] {
        refuse_in_capture();
        drain_device(ALL_DEVICES);
        auto it = live.find((char*)p);
        if (!p) return;
        require(it != live.end() && it->second.pages.start &&
                (it->second.type == cudaMemoryTypeHost) == host);
        release(p);
    });
}

// ---- what copies may be asked for

void check_range(const void* start, size_t bytes)
{
    auto it = find(start);
    require(!bytes || (it != live.end() && (char*)start + bytes <= it->first + it->second.bytes));
}

static void check_side(const void* start, size_t bytes, bool known, bool on_device)
{
    if (!is_pageable(start)) check_range(start, bytes);
    require(!known || (on_device ? !is_pageable(start) : !is_device_memory(start)));
}
void check_copy(const void* to, size_t to_bytes, const void* from, size_t from_bytes, cudaMemcpyKind kind)
{
    bool known = kind != cudaMemcpyDefault;
    require((unsigned)kind <= cudaMemcpyDefault, cudaErrorInvalidMemcpyDirection);
    check_side(to, to_bytes, known, kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice);
    check_side(from, from_bytes, known, kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice);
}

} // namespace simt

// ---- the runtime's functions

using namespace simt;

cudaError_t cudaMalloc(void** p, size_t n) { return allocate(p, n, cudaMemoryTypeDevice); }
cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeManaged); }
cudaError_t cudaMallocHost(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeHost); }
cudaError_t cudaHostAlloc(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeHost); }
cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t) { return allocate(p, n, cudaMemoryTypeDevice); }
cudaError_t cudaFree(void* p) { return free_after_work(p, false); }
cudaError_t cudaFreeHost(void* p) { return free_after_work(p, true); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream)
{
    return api([=] {
        refuse_in_capture();
        if (p)
            put(
                stream, [p] { release(p); }, VIEW_ALL);
    });
}

static cudaError_t adopt(void* p, size_t n, cudaMemoryType type)
{
    return api([=] {
        catch_faults();
        require(p && n);
        require(is_pageable(p), cudaErrorHostMemoryAlreadyRegistered);
        live[(char*)p] = {n, type, current_device(), {nullptr, 0}, 0, false, true};
    });
}
static bool& pins()
{
    static bool pin = options().pin;
    return pin;
}
static bool maps    = true;
void        simt_refuse_pinning(bool refuse) { pins() = !refuse; }
void        simt_refuse_mapping(bool refuse) { maps = !refuse; }
cudaError_t cudaHostRegister(void* p, size_t n, unsigned)
{
    if (!pins()) return remember(cudaErrorMemoryAllocation); // what ulimit -l brings about
    return adopt(p, n, cudaMemoryTypeHost);
}
cudaError_t cudaHostUnregister(void* p)
{
    return api([=] {
        auto it = live.find((char*)p);
        require(it != live.end() && !it->second.pages.start, cudaErrorHostMemoryNotRegistered);
        drain_device(ALL_DEVICES);
        live.erase(it);
    });
}
cudaError_t simt_register_symbol(void* symbol, size_t n)
{
    return is_pageable(symbol) ? adopt(symbol, n, cudaMemoryTypeManaged) : cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** p, void* host, unsigned)
{
    if (!maps) return remember(cudaErrorInvalidValue);
    return api([=] {
        require(!is_pageable(host) && !is_device_memory(host));
        *p = host;
    });
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* into, const void* p)
{
    return api([=] {
        auto it = find(p);
        *into   = {cudaMemoryTypeUnregistered, -1, nullptr, nullptr};
        if (it == live.end()) return;
        bool host = it->second.type != cudaMemoryTypeDevice;
        *into     = {it->second.type, it->second.device, (void*)p, host ? (void*)p : nullptr};
    });
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total)
{
    return api([=] {
        *total = options().memory;
        *free  = *total - used();
    });
}
void   simt_fail_allocation(long n) { allocations_to_failure() = n; }
size_t simt_live_allocations() { return live.size(); }

// ---- memory of other processes

static_assert(sizeof(Shared) <= sizeof(cudaIpcMemHandle_t));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p)
{
    return api([=] {
        auto it = live.find((char*)p);
        require(it != live.end() && it->second.type == cudaMemoryTypeDevice && !it->second.imported);
        Shared where = {shared_file_owner, shared_file, it->second.offset, it->second.device, it->second.bytes};
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &where, sizeof where);
    });
}

cudaError_t cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned flags)
{
    return api([=] {
        Shared where;
        catch_faults();
        memcpy(&where, &handle, sizeof where);
        require(flags == cudaIpcMemLazyEnablePeerAccess);
        link_lazily((int)where.device);
        Range pages = map_shared(where);
        *p = add(pages, where.bytes, cudaMemoryTypeDevice, (int)where.device, where.offset, true);
    });
}

cudaError_t cudaIpcCloseMemHandle(void* p)
{
    return api([=] {
        auto it = live.find((char*)p);
        require(it != live.end() && it->second.imported);
        drain_device(ALL_DEVICES);
        release(p);
    });
}
