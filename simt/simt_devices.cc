// simt_devices.cc - devices, their attributes and links; errors; what a launch may ask for; the lock.
#include "simt_core.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <sched.h>

namespace simt {

simt_statistics                 counts;
static thread_local int         device;
static thread_local cudaError_t last_error;
static bool                     peers[16][16]; // [device][peer]: enabled

int         current_device() { return device; }
void        use_device(int d) { device = d; }
void        require_device(int d) { require(d >= 0 && d < options().devices, cudaErrorInvalidDevice); }
cudaError_t remember(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
    return error;
}

// ---- links

struct Links {
    bool between[16][16] = {};
    int  rank[16][16]    = {}; // 0: the fastest

    Links()
    {
        const char* text = options().links;
        for (int a = 0; a < 16; a++)
            for (int b = 0; b < 16; b++) between[a][b] = !text && a != b;
        if (text && strcmp(text, "none") != 0) read(text);
    }
    void read(const char* text)
    {
        for (int a, b, used; *text; text += used + (text[used] == ',')) {
            int  slow = 0, more = 0;
            bool pair = sscanf(text, "%d-%d%n", &a, &b, &used) == 2;
            if (pair && sscanf(text + used, ":%d%n", &slow, &more) == 1) used += more;
            if (!pair || (text[used] && text[used] != ',') || a < 0 || b < 0 || a > 15 || b > 15 || a == b || slow < 0)
                fail("SIMT_LINKS: \"%s\" is no list of pairs such as 0-1,2-3:1", text);
            between[a][b] = between[b][a] = true;
            rank[a][b] = rank[b][a] = slow;
        }
    }
};
static Links& links()
{
    static Links all;
    return all;
}

bool has_peer_access(int from, int to) { return peers[from][to] && links().between[from][to]; }

const char* why_unreachable(int from, int to)
{
    static char text[80];
    snprintf(text, sizeof text, ": device %d has no peer access to it", from);
    if (!links().between[from][to])
        snprintf(text + strlen(text), sizeof text - strlen(text), ", nor a link to device %d", to);
    return text;
}

void link_lazily(int to)
{
    require_device(to);
    if (to == device) return;
    require(links().between[device][to], cudaErrorPeerAccessUnsupported);
    peers[device][to] = true;
}

// ---- the lock

static std::atomic<int> lock_owner; // a thread's number; 0: nobody
static int              lock_depth;

static void take_lock()
{
    static std::atomic<int> threads;
    static thread_local int me = ++threads;
    for (int nobody = 0; lock_owner != me && !lock_owner.compare_exchange_weak(nobody, me); nobody = 0)
        sched_yield();
}

Lock::Lock()
{
    take_lock();
    if (lock_depth++ == 0 && with_tsan()) AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
Lock::~Lock()
{
    if (--lock_depth) return;
    if (with_tsan()) AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    lock_owner = 0;
}
void Lock::let_others()
{
    const int depth = lock_depth;
    lock_depth      = 0;
    lock_owner      = 0;
    sched_yield();
    take_lock();
    lock_depth = depth;
}

// ---- launches. A small device: few multiprocessors, so that grids which fill it stay short.

enum {
    PROCESSORS   = 2,  // these two unless a program says otherwise
    OCCUPANCY    = 32,
    THREADS_EACH = 2048,
    SHARED       = 48 << 10,
    SHARED_OPTIN = 227 << 10,
    SHARED_EACH  = 228 << 10
};

static std::map<const void*, int>& shared_limits() // of kernels that were allowed more than 48 KiB
{
    static std::map<const void*, int> limits;
    return limits;
}

int check_launch(const void* function, dim3 grid, dim3 block, size_t shared_bytes)
{
    return api([=] {
        uint64_t threads = (uint64_t)block.x * block.y * block.z;
        bool blocks = grid.x && grid.y && grid.z && grid.x < 1u << 31 && grid.y < 1 << 16 && grid.z < 1 << 16;
        require(function, cudaErrorInvalidDeviceFunction);
        require(blocks && threads && threads <= 1024 && block.z <= 64, cudaErrorInvalidConfiguration);
        auto it = shared_limits().find(function);
        require(shared_bytes <= (size_t)(it == shared_limits().end() ? (int)SHARED : it->second));
    });
}

} // namespace simt

using namespace simt;

cudaError_t simt_set_attribute(const void* function, cudaFuncAttribute attribute, int value)
{
    return api([=] {
        require(function, cudaErrorInvalidDeviceFunction);
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return;
        require(value >= 0 && value <= SHARED_OPTIN);
        shared_limits()[function] = value;
    });
}
static std::atomic<int> occupancy{OCCUPANCY};
void                    simt_set_occupancy(int n) { occupancy = n > 0 ? n : +OCCUPANCY; }
cudaError_t             simt_occupancy(int* blocks, int threads, size_t shared_bytes)
{
    return api([=] {
        require(threads >= 1 && threads <= 1024 && shared_bytes <= SHARED_OPTIN);
        int by_shared = shared_bytes ? SHARED_EACH / (int)shared_bytes : +OCCUPANCY;
        *blocks       = std::min({+occupancy, THREADS_EACH / ((threads + 31) & ~31), by_shared});
    });
}

// ---- devices

static std::atomic<int> processors{PROCESSORS};
void                    simt_set_processors(int n) { processors = n > 0 ? n : +PROCESSORS; }

cudaError_t cudaGetDeviceCount(int* n)
{
    *n = options().devices;
    return *n ? cudaSuccess : remember(cudaErrorNoDevice);
}
cudaError_t cudaGetDevice(int* d) { return *d = device, cudaSuccess; }
cudaError_t cudaSetDevice(int d)
{
    return api([=] { require_device(d), device = d; });
}

// Remembered, and no more.
static std::atomic<size_t>& limit_of(cudaLimit limit)
{
    static std::atomic<size_t> limits[16][cudaLimitPersistingL2CacheSize + 1];
    require(limit >= 0 && limit <= cudaLimitPersistingL2CacheSize, cudaErrorUnsupportedLimit);
    return limits[device][limit];
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value)
{
    return api([=] { limit_of(limit) = value; });
}
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit)
{
    return api([=] { *value = limit_of(limit); });
}

cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int d)
{
    return api([=] {
        require_device(d);
        *p = {};
        snprintf(p->name, sizeof p->name, "simt device %d", d);
        p->totalGlobalMem              = options().memory;
        p->sharedMemPerBlock           = SHARED;
        p->sharedMemPerBlockOptin      = SHARED_OPTIN;
        p->sharedMemPerMultiprocessor  = SHARED_EACH;
        p->major                       = 8;
        p->multiProcessorCount         = processors;
        p->maxThreadsPerBlock          = 1024;
        p->maxThreadsPerMultiProcessor = THREADS_EACH;
        p->warpSize                    = 32;
        p->l2CacheSize                 = 4 << 20;
        p->canMapHostMemory = p->unifiedAddressing = p->managedMemory = 1;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int d)
{
    return api([=] {
        cudaDeviceProp p;
        require(cudaGetDeviceProperties(&p, d) == cudaSuccess, cudaErrorInvalidDevice);
        switch (attribute) {
        case cudaDevAttrMaxThreadsPerBlock: *value = p.maxThreadsPerBlock; break;
        case cudaDevAttrMaxSharedMemoryPerBlock: *value = (int)p.sharedMemPerBlock; break;
        case cudaDevAttrWarpSize: *value = p.warpSize; break;
        case cudaDevAttrMultiProcessorCount: *value = p.multiProcessorCount; break;
        case cudaDevAttrCanMapHostMemory: *value = p.canMapHostMemory; break;
        case cudaDevAttrL2CacheSize: *value = p.l2CacheSize; break;
        case cudaDevAttrMaxThreadsPerMultiProcessor: *value = p.maxThreadsPerMultiProcessor; break;
        case cudaDevAttrUnifiedAddressing: *value = p.unifiedAddressing; break;
        case cudaDevAttrComputeCapabilityMajor: *value = p.major; break;
        case cudaDevAttrComputeCapabilityMinor: *value = p.minor; break;
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor: *value = (int)p.sharedMemPerMultiprocessor; break;
        case cudaDevAttrManagedMemory: *value = p.managedMemory; break;
        case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = (int)p.sharedMemPerBlockOptin; break;
        default: throw cudaErrorInvalidValue;
        }
    });
}

// ---- peers

cudaError_t cudaDeviceCanAccessPeer(int* can, int from, int to)
{
    return api([=] {
        require_device(from), require_device(to);
        *can = links().between[from][to];
    });
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to)
{
    return api([=] {
        require_device(from), require_device(to);
        require(from != to, cudaErrorInvalidDevice);
        require(value);
        switch (attribute) {
        case cudaDevP2PAttrPerformanceRank: *value = links().rank[from][to]; break;
        case cudaDevP2PAttrAccessSupported: *value = links().between[from][to]; break;
        case cudaDevP2PAttrNativeAtomicSupported: *value = 0; break;
        default: throw cudaErrorInvalidValue;
        }
    });
}
static cudaError_t link_peer(int peer, bool enabled, cudaError_t otherwise)
{
    return api([=] {
        require_device(peer);
        require(peer != device, cudaErrorInvalidDevice);
        require(links().between[device][peer], cudaErrorPeerAccessUnsupported);
        require(peers[device][peer] != enabled, otherwise);
        peers[device][peer] = enabled;
    });
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned)
{
    return link_peer(peer, true, cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return link_peer(peer, false, cudaErrorPeerAccessNotEnabled);
}

void simt_link(int a, int b, bool linked, int rank)
{
    Lock lock;
    links().between[a][b] = links().between[b][a] = linked;
    links().rank[a][b] = links().rank[b][a] = rank;
}

// Devices of the same number are the same device in all processes.
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int d)
{
    return api([=] {
        require_device(d);
        require(id && snprintf(id, (size_t)bytes, "0000:%02x:00.0", d + 1) < bytes);
    });
}
cudaError_t cudaDeviceGetByPCIBusId(int* d, const char* id)
{
    return api([=] {
        unsigned bus = 0;
        require(d && id && sscanf(id, "0000:%2x:00.0", &bus) == 1);
        require_device((int)bus - 1);
        *d = (int)bus - 1;
    });
}

// ---- errors

cudaError_t cudaPeekAtLastError() { return last_error; }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
const char* cudaGetErrorName(cudaError_t error)
{
#define SIMT_NAME(name, value, text)                                                                         \
    if (error == name) return #name;
    SIMT_ERRORS(SIMT_NAME)
    return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error)
{
#define SIMT_TEXT(name, value, text)                                                                         \
    if (error == name) return text;
    SIMT_ERRORS(SIMT_TEXT)
    return "unrecognized error code";
}
simt_statistics simt_get_statistics() { return counts; }

// Sanitizers call these before they report. The fault handler asks for a source line: TSan shall not mind.
extern "C" void __asan_on_error() { print_position(); }
extern "C" void __tsan_on_report(void*) { print_position(); }
extern "C" const char* __tsan_default_options() { return "report_signal_unsafe=0"; }
