// simt_memory.cc - devices and their memory. Every allocation has pages of its own between two inaccessible ones; all
// lie in one shared file, by which other processes can map them (IPC). What a device may not touch is inaccessible
// while it runs, so that a wrong pointer faults wherever it was found, and the fault handler says what it was.
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

static const size_t PAGE = 4096, ALIGNMENT = 256; // cudaMalloc's

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

static Allocations        live;
static std::deque<Range>  freed;       // inaccessible from now on, so that late accesses fault
static size_t             freed_bytes;
static bool               peers[16][16]; // [device][peer]: enabled
static thread_local int   device;
static thread_local cudaError_t last_error;
static int                shared_file = -1, shared_file_owner;
static long               shared_file_bytes;

int         current_device() { return device; }
void        use_device(int d) { device = d; }
bool        is_device_number(int d) { return d >= 0 && d < options().devices; }
cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess) last_error = error;
    return error;
}

// The allocation that holds an address; its end counts, since arrays may be empty.
static Allocations::iterator find(const void* address)
{
    auto it = live.upper_bound((char*)address);
    if (it == live.begin()) return live.end();
    --it;
    return (char*)address <= it->first + it->second.bytes ? it : live.end();
}
bool is_pageable(const void* address) { return find(address) == live.end(); }
bool is_device_memory(const void* address)
{
    auto it = find(address);
    return it != live.end() && it->second.type == cudaMemoryTypeDevice;
}

// ---- pages

static void hide_from_asan(const char* start, size_t bytes)
{
    if (with_asan() && bytes) __asan_poison_memory_region(start, bytes);
}
static size_t in_pages(size_t bytes) { return (bytes + PAGE - 1) & ~(PAGE - 1); }

// Where the n bytes begin within the pages: right before the guard page, as far as alignment allows.
static char* start_in(Range pages, size_t n, size_t alignment)
{
    return pages.start + pages.bytes - ((n + alignment - 1) & ~(alignment - 1));
}

static Range map_pages(size_t bytes, int file, long offset)
{
    char* room = (char*)mmap(nullptr, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return {nullptr, 0};
    int   flags = MAP_FIXED | MAP_NORESERVE | (file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED);
    void* pages = mmap(room + PAGE, bytes, PROT_READ | PROT_WRITE, flags, file, offset);
    if (pages != MAP_FAILED) return {(char*)pages, bytes};
    munmap(room, bytes + 2 * PAGE);
    return {nullptr, 0};
}

Range guarded(size_t n, size_t alignment, int file, long offset)
{
    Range pages = map_pages(in_pages(n), file, offset);
    if (!pages.start) fail("no memory for %zu bytes", n);
    return {start_in(pages, n, alignment), n};
}

// A child process of a fork gets a file of its own.
static long extend_shared_file(size_t bytes)
{
    if (shared_file < 0 || shared_file_owner != getpid()) {
        shared_file       = (int)syscall(SYS_memfd_create, "simt", 1u);
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

// ---- faults

static void describe(const char* address)
{
    for (auto& [start, a] : live) {
        if (!a.pages.start || address < a.pages.start - PAGE || address >= a.pages.start + a.pages.bytes + PAGE) continue;
        const char* kind = a.type == cudaMemoryTypeDevice ? "device" : "pinned or managed";
        fprintf(stderr, "byte %td of an allocation of %zu bytes, %s memory of device %d", address - start, a.bytes,
                kind, a.device);
        if (address >= start && address < start + a.bytes && in_kernel())
            fprintf(stderr, ": device %d has no peer access to it", device);
        if (address >= start && address < start + a.bytes && !in_kernel()) fprintf(stderr, ": not the host's");
        return;
    }
    for (Range pages : freed)
        if (address >= pages.start && address < pages.start + pages.bytes) {
            fprintf(stderr, "memory that was freed");
            return;
        }
    fprintf(stderr, in_stack_guard(address) ? "past the end of a thread's stack (SIMT_STACK=%zu)"
                                            : "no memory of a device", options().stack);
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

static void catch_faults()
{
    static bool done;
    if (done) return;
    done = true;
    stack_t stack = {};
    stack.ss_size = 256 << 10;
    stack.ss_sp   = mmap(nullptr, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction     = on_fault;
    action.sa_flags         = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

// ---- views

static bool may_touch(int view, const Allocation& a)
{
    if (a.type != cudaMemoryTypeDevice || view == VIEW_ALL) return true;
    if (view == VIEW_HOST) return !options().guard;
    return a.device == view || peers[view][a.device];
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

// What a sanitizer keeps below 2^45 is nobody's: two small integers side by side look like an address there.
static bool is_mapped(const void* address)
{
    unsigned char resident;
    if ((with_asan() || with_tsan()) && (uintptr_t)address >> 45 == 0) return false;
    return mincore((void*)((uintptr_t)address & ~(uintptr_t)(PAGE - 1)), 1, &resident) == 0;
}

static void check_peer(const Allocation& a, int argument)
{
    if (a.type == cudaMemoryTypeDevice && a.device != device && !peers[device][a.device])
        fail("argument %d of %s lies on device %d: device %d has no peer access to it", argument,
             function_name(running_kernel()).c_str(), a.device, device);
}

void check_pointer(const void* pointer, int argument)
{
    auto it = find(pointer);
    if (it != live.end()) check_peer(it->second, argument);
    else if (pointer)
        fail("argument %d of %s, %p, is no address on a device", argument, function_name(running_kernel()).c_str(),
             pointer);
}

// Words of a struct that are addresses in this process are taken for pointers.
void check_words(const void* object, size_t bytes, int argument)
{
    for (size_t at = 0; at + sizeof(void*) <= bytes; at += sizeof(void*)) {
        char* word;
        memcpy(&word, (const char*)object + at, sizeof word);
        if ((uintptr_t)word < 1 << 16 || (uintptr_t)word >> 47) continue;
        auto it = find(word);
        if (it != live.end()) check_peer(it->second, argument);
        else if (is_mapped(word) && !options().lax)
            fail("argument %d of %s holds at byte %zu an address of the host's, %p", argument,
                 function_name(running_kernel()).c_str(), at, (void*)word);
    }
}

// ---- allocation

static size_t used(int of_device)
{
    size_t sum = 0;
    for (auto& [start, a] : live)
        if (a.type == cudaMemoryTypeDevice && a.device == of_device && !a.imported) sum += a.bytes;
    return sum;
}

static long& allocations_to_failure() // 0: none
{
    static long n = options().fail;
    return n;
}
static bool told_to_fail()
{
    long& n = allocations_to_failure();
    counts.allocations++;
    return n > 0 && --n == 0;
}

static char* add(Range pages, size_t n, cudaMemoryType type, long offset, bool imported)
{
    char* start = start_in(pages, n, ALIGNMENT);
    hide_from_asan(pages.start, (size_t)(start - pages.start));
    hide_from_asan(start + n, (size_t)(pages.start + pages.bytes - (start + n)));
    live[start] = {n, type, device, pages, offset, imported, true};
    return start;
}

static cudaError_t allocate(void** out, size_t n, cudaMemoryType type)
{
    Lock lock;
    catch_faults();
    if (!out) return remember(cudaErrorInvalidValue);
    *out = nullptr;
    if (cudaError_t e = refuse_in_capture()) return e;
    if (told_to_fail()) return remember(cudaErrorMemoryAllocation);
    if (!n) return cudaSuccess;
    size_t bytes = in_pages(n);
    if (n > options().memory || (type == cudaMemoryTypeDevice && used(device) + n > options().memory))
        return remember(cudaErrorMemoryAllocation);
    long  offset = extend_shared_file(bytes);
    Range pages  = offset < 0 ? Range{nullptr, 0} : map_pages(bytes, shared_file, offset);
    if (!pages.start) return remember(cudaErrorMemoryAllocation);
    fill_garbage(pages.start, pages.bytes);
    char* start = add(pages, n, type, offset, false);
    (void)VALGRIND_MAKE_MEM_NOACCESS(pages.start, pages.bytes);
    (void)VALGRIND_MAKE_MEM_UNDEFINED(start, n);
    set_view(VIEW_HOST);
    *out = start;
    return cudaSuccess;
}

// The few bytes between the end and the guard page: still garbage, or somebody wrote there.
static void check_end(const char* start, const Allocation& a)
{
    if (options().poison < 0 || with_asan() || RUNNING_ON_VALGRIND) return;
    for (const char* p = start + a.bytes; p < a.pages.start + a.pages.bytes; p++)
        if (*p != (char)options().poison)
            fail("byte %td of an allocation of %zu bytes was written", p - start, a.bytes);
}

void release_now(void* start)
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

// Frees after all work that might still use the memory, as cudaFree does.
static cudaError_t free_after_work(void* p, bool host)
{
    Lock lock;
    if (!p) return cudaSuccess;
    if (cudaError_t e = refuse_in_capture()) return e;
    drain_all();
    auto it = live.find((char*)p);
    if (it == live.end() || !it->second.pages.start || (it->second.type == cudaMemoryTypeHost) != host)
        return remember(cudaErrorInvalidValue);
    release_now(p);
    return cudaSuccess;
}

// ---- copies

cudaError_t check_range(const void* start, size_t bytes)
{
    auto it = find(start);
    if (!bytes) return cudaSuccess;
    if (it == live.end() || (char*)start + bytes > it->first + it->second.bytes)
        return remember(cudaErrorInvalidValue);
    return cudaSuccess;
}

cudaError_t check_copy(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind)
{
    if (!bytes) return cudaSuccess;
    if ((unsigned)kind > cudaMemcpyDefault) return remember(cudaErrorInvalidMemcpyDirection);
    if ((!is_pageable(to) && check_range(to, bytes)) || (!is_pageable(from) && check_range(from, bytes)))
        return remember(cudaErrorInvalidValue);
    bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault) return cudaSuccess;
    if ((to_device && is_pageable(to)) || (!to_device && is_device_memory(to)) ||
        (from_device && is_pageable(from)) || (!from_device && is_device_memory(from)))
        return remember(cudaErrorInvalidValue);
    return cudaSuccess;
}

} // namespace simt

// ---- the runtime's functions

using namespace simt;

#define SIMT_SANITIZER_HOOK(name, ...)                                                                             \
    extern "C" void name(__VA_ARGS__) { print_position(); }
SIMT_SANITIZER_HOOK(__asan_on_error)
SIMT_SANITIZER_HOOK(__tsan_on_report, void*)

cudaError_t cudaMalloc(void** p, size_t n) { return allocate(p, n, cudaMemoryTypeDevice); }
cudaError_t cudaMallocManaged(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeManaged); }
cudaError_t cudaMallocHost(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeHost); }
cudaError_t cudaHostAlloc(void** p, size_t n, unsigned) { return allocate(p, n, cudaMemoryTypeHost); }
cudaError_t cudaMallocAsync(void** p, size_t n, cudaStream_t) { return allocate(p, n, cudaMemoryTypeDevice); }
cudaError_t cudaFree(void* p) { return free_after_work(p, false); }
cudaError_t cudaFreeHost(void* p) { return free_after_work(p, true); }
cudaError_t cudaFreeAsync(void* p, cudaStream_t stream)
{
    Lock lock;
    if (!p) return cudaSuccess;
    if (cudaError_t e = refuse_in_capture()) return e;
    return (cudaError_t)enqueue(stream, [p] { release_now(p); });
}

static cudaError_t adopt(void* p, size_t n, cudaMemoryType type)
{
    Lock lock;
    catch_faults();
    if (!p || !n) return remember(cudaErrorInvalidValue);
    if (find(p) != live.end()) return remember(cudaErrorHostMemoryAlreadyRegistered);
    live[(char*)p] = {n, type, device, {nullptr, 0}, 0, false, true};
    return cudaSuccess;
}
cudaError_t cudaHostRegister(void* p, size_t n, unsigned) { return adopt(p, n, cudaMemoryTypeHost); }
cudaError_t cudaHostUnregister(void* p)
{
    Lock lock;
    auto it = live.find((char*)p);
    if (it == live.end() || it->second.pages.start) return remember(cudaErrorHostMemoryNotRegistered);
    drain_all();
    live.erase(it);
    return cudaSuccess;
}
cudaError_t simt_register_symbol(void* symbol, size_t n)
{
    Lock lock;
    return find(symbol) == live.end() ? adopt(symbol, n, cudaMemoryTypeManaged) : cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** p, void* host, unsigned)
{
    Lock lock;
    if (is_pageable(host) || is_device_memory(host)) return remember(cudaErrorInvalidValue);
    *p = host;
    return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* into, const void* p)
{
    Lock lock;
    auto it = find(p);
    *into   = {cudaMemoryTypeUnregistered, -1, nullptr, nullptr};
    if (it == live.end()) return cudaSuccess;
    bool host = it->second.type != cudaMemoryTypeDevice;
    *into     = {it->second.type, it->second.device, (void*)p, host ? (void*)p : nullptr};
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total)
{
    Lock lock;
    *total = options().memory;
    *free  = *total - used(device);
    return cudaSuccess;
}

// ---- memory of other processes

struct IpcHandle {
    int    process, file, device;
    long   offset;
    size_t bytes;
};
static_assert(sizeof(IpcHandle) <= sizeof(cudaIpcMemHandle_t));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* p)
{
    Lock lock;
    auto it = live.find((char*)p);
    if (it == live.end() || it->second.type != cudaMemoryTypeDevice || it->second.imported)
        return remember(cudaErrorInvalidValue);
    IpcHandle h = {shared_file_owner, shared_file, it->second.device, it->second.offset, it->second.bytes};
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &h, sizeof h);
    return cudaSuccess;
}

cudaError_t cudaIpcOpenMemHandle(void** p, cudaIpcMemHandle_t handle, unsigned)
{
    Lock      lock;
    IpcHandle h;
    char      path[64];
    catch_faults();
    memcpy(&h, &handle, sizeof h);
    if (h.process == getpid()) return remember(cudaErrorDeviceUninitialized);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", h.process, h.file);
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return remember(cudaErrorInvalidResourceHandle);
    Range pages = map_pages(in_pages(h.bytes), file, h.offset);
    close(file);
    if (!pages.start) return remember(cudaErrorMemoryAllocation);
    *p = add(pages, h.bytes, cudaMemoryTypeDevice, h.offset, true);
    set_view(VIEW_HOST);
    return cudaSuccess;
}

cudaError_t cudaIpcCloseMemHandle(void* p)
{
    Lock lock;
    auto it = live.find((char*)p);
    if (it == live.end() || !it->second.imported) return remember(cudaErrorInvalidValue);
    drain_all();
    release_now(p);
    return cudaSuccess;
}

// ---- peers

cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to)
{
    if (!is_device_number(from) || !is_device_number(to)) return remember(cudaErrorInvalidDevice);
    *can = from != to && options().peer;
    return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    Lock lock;
    if (!is_device_number(peer) || peer == device) return remember(cudaErrorInvalidDevice);
    if (flags) return remember(cudaErrorInvalidValue);
    if (!options().peer) return remember(cudaErrorPeerAccessUnsupported);
    if (peers[device][peer]) return remember(cudaErrorPeerAccessAlreadyEnabled);
    peers[device][peer] = true;
    return cudaSuccess;
}
cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    Lock lock;
    if (!is_device_number(peer)) return remember(cudaErrorInvalidDevice);
    if (!peers[device][peer]) return remember(cudaErrorPeerAccessNotEnabled);
    peers[device][peer] = false;
    return cudaSuccess;
}

// ---- errors, devices

cudaError_t cudaGetLastError()
{
    cudaError_t error = last_error;
    last_error        = cudaSuccess;
    return error;
}
cudaError_t cudaPeekAtLastError() { return last_error; }
const char* cudaGetErrorName(cudaError_t error)
{
#define SIMT_NAME(name, value, text) if (error == name) return #name;
    SIMT_ERRORS(SIMT_NAME)
    return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error)
{
#define SIMT_TEXT(name, value, text) if (error == name) return text;
    SIMT_ERRORS(SIMT_TEXT)
    return "unrecognized error code";
}
cudaError_t cudaRuntimeGetVersion(int* version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
cudaError_t cudaGetDeviceCount(int* n)
{
    *n = options().devices;
    return *n ? cudaSuccess : remember(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* d)
{
    *d = device;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int d)
{
    if (!is_device_number(d)) return remember(cudaErrorInvalidDevice);
    device = d;
    return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    *least = *greatest = 0;
    return cudaSuccess;
}

// A small device: few multiprocessors, so that grids which fill the machine stay short.
enum { PROCESSORS = 2, THREADS_EACH = 2048, SHARED = 48 << 10, SHARED_OPTIN = 227 << 10, SHARED_EACH = 228 << 10 };

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int d)
{
    if (!is_device_number(d)) return remember(cudaErrorInvalidDevice);
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: *value = 1024; break;
    case cudaDevAttrMaxSharedMemoryPerBlock: *value = SHARED; break;
    case cudaDevAttrWarpSize: *value = 32; break;
    case cudaDevAttrMultiProcessorCount: *value = PROCESSORS; break;
    case cudaDevAttrCanMapHostMemory: *value = 1; break;
    case cudaDevAttrL2CacheSize: *value = 4 << 20; break;
    case cudaDevAttrMaxThreadsPerMultiProcessor: *value = THREADS_EACH; break;
    case cudaDevAttrUnifiedAddressing: *value = 1; break;
    case cudaDevAttrComputeCapabilityMajor: *value = 8; break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = SHARED_EACH; break;
    case cudaDevAttrManagedMemory: *value = 1; break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = SHARED_OPTIN; break;
    default: return remember(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int d)
{
    if (!is_device_number(d)) return remember(cudaErrorInvalidDevice);
    *p = {};
    snprintf(p->name, sizeof p->name, "simt device %d", d);
    p->totalGlobalMem              = options().memory;
    p->sharedMemPerBlock           = SHARED;
    p->sharedMemPerBlockOptin      = SHARED_OPTIN;
    p->sharedMemPerMultiprocessor  = SHARED_EACH;
    p->major                       = 8;
    p->multiProcessorCount         = PROCESSORS;
    p->maxThreadsPerBlock          = 1024;
    p->maxThreadsPerMultiProcessor = THREADS_EACH;
    p->warpSize                    = 32;
    p->l2CacheSize                 = 4 << 20;
    p->canMapHostMemory = p->unifiedAddressing = 1;
    return cudaSuccess;
}

cudaError_t simt_occupancy(int* blocks, int threads, size_t shared_bytes)
{
    if (threads < 1 || threads > 1024 || shared_bytes > SHARED_OPTIN) return remember(cudaErrorInvalidValue);
    int by_shared = shared_bytes ? SHARED_EACH / (int)shared_bytes : 32;
    *blocks       = std::min({32, THREADS_EACH / ((threads + 31) & ~31), by_shared});
    return cudaSuccess;
}

static std::map<const void*, int>& shared_limits() // of kernels that may have more than 48 KiB
{
    static std::map<const void*, int> limits;
    return limits;
}
cudaError_t simt_set_attribute(const void* function, cudaFuncAttribute attribute, int value)
{
    Lock lock;
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
    if (!function) return remember(cudaErrorInvalidDeviceFunction);
    if (value < 0 || value > SHARED_OPTIN) return remember(cudaErrorInvalidValue);
    shared_limits()[function] = value;
    return cudaSuccess;
}

int simt::check_launch(const void* function, dim3 grid, dim3 block, size_t shared_bytes)
{
    Lock   lock;
    size_t threads = (size_t)block.x * block.y * block.z;
    if (!function) return remember(cudaErrorInvalidDeviceFunction);
    if (threads < 1 || threads > 1024 || block.z > 64 || grid.x < 1 || grid.x > 0x7fffffffu || grid.y < 1 ||
        grid.y > 65535 || grid.z < 1 || grid.z > 65535)
        return remember(cudaErrorInvalidConfiguration);
    auto it = shared_limits().find(function);
    if (shared_bytes > (size_t)(it == shared_limits().end() ? (int)SHARED : it->second))
        return remember(cudaErrorInvalidValue);
    return cudaSuccess;
}

void simt_fail_allocation(long n) { allocations_to_failure() = n; }
simt_statistics simt_get_statistics() { return counts; }
size_t simt_live_allocations()
{
    Lock lock;
    return live.size();
}
