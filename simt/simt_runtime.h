// simt_runtime.h - the host's part of CUDA: the runtime API as far as it is emulated. Values are NVIDIA's.
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include "simt.h"

#include <string>
#include <vector>

#define CUDART_VERSION 13000

#define SIMT_ERRORS(X)                                                                                       \
    X(cudaSuccess, 0, "no error")                                                                            \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                          \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                                         \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                                    \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                                   \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                              \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                                         \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                          \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                                 \
    X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                           \
    X(cudaErrorUnsupportedLimit, 215, "limit is not supported on this architecture")                         \
    X(cudaErrorPeerAccessUnsupported, 217, "peer access is not supported between these two devices")         \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                                        \
    X(cudaErrorIllegalState, 401, "the operation cannot be performed in the present state")                  \
    X(cudaErrorNotReady, 600, "device not ready")                                                            \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                              \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                                \
    X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                             \
      "part or all of the requested memory range is already mapped")                                         \
    X(cudaErrorHostMemoryNotRegistered, 713, "pointer does not correspond to a registered memory region")    \
    X(cudaErrorNotSupported, 801, "operation not supported")                                                 \
    X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing")            \
    X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture")     \
    X(cudaErrorStreamCaptureMerge, 902, "operation would result in a merge of separate capture sequences")   \
    X(cudaErrorStreamCaptureUnmatched, 903, "capture was not ended in the same stream as it began")          \
    X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                             \
    X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream")       \
    X(cudaErrorStreamCaptureImplicit, 906,                                                                   \
      "operation would make the legacy stream depend on a capturing stream")                                 \
    X(cudaErrorCapturedEvent, 907,                                                                           \
      "operation not permitted on an event last recorded in a capturing stream")                             \
    X(cudaErrorUnknown, 999, "unknown error")
#define SIMT_ERROR(name, value, text) name = value,
enum cudaError { SIMT_ERRORS(SIMT_ERROR) };
#undef SIMT_ERROR
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
};
enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank     = 1, // 0: the fastest links
    cudaDevP2PAttrAccessSupported     = 2,
    cudaDevP2PAttrNativeAtomicSupported = 3
};
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock               = 1,
    cudaDevAttrMaxSharedMemoryPerBlock          = 8,
    cudaDevAttrWarpSize                         = 10,
    cudaDevAttrMultiProcessorCount              = 16,
    cudaDevAttrCanMapHostMemory                 = 19,
    cudaDevAttrL2CacheSize                      = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor      = 39,
    cudaDevAttrUnifiedAddressing                = 41,
    cudaDevAttrComputeCapabilityMajor           = 75,
    cudaDevAttrComputeCapabilityMinor           = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrManagedMemory                    = 83,
    cudaDevAttrMaxSharedMemoryPerBlockOptin     = 97
};
enum cudaLimit {
    cudaLimitStackSize             = 0,
    cudaLimitMallocHeapSize        = 2,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize    = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus {
    cudaStreamCaptureStatusNone,
    cudaStreamCaptureStatusActive,
    cudaStreamCaptureStatusInvalidated
};
constexpr unsigned cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaEventDefault = 0,
                   cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4,
                   cudaMemAttachGlobal = 1, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1,
                   cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0,
                   cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterReadOnly = 8,
                   cudaIpcMemLazyEnablePeerAccess = 1;

typedef struct CUstream_st*    cudaStream_t;
typedef struct CUevent_st*     cudaEvent_t;
typedef struct CUgraph_st*     cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
#define cudaStreamLegacy ((cudaStream_t)1)
struct cudaIpcMemHandle_t {
    char reserved[64];
};
struct cudaIpcEventHandle_t {
    char reserved[64];
};
struct cudaPointerAttributes {
    cudaMemoryType type;
    int            device;
    void *         devicePointer, *hostPointer;
};
struct cudaDeviceProp {
    char   name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int    major, minor, multiProcessorCount, maxThreadsPerBlock, maxThreadsPerMultiProcessor, warpSize,
        l2CacheSize, canMapHostMemory, unifiedAddressing, managedMemory;
};
struct cudaLaunchAttribute {
    int  id;
    char value[64];
};
struct cudaLaunchConfig_t {
    dim3                 gridDim, blockDim;
    size_t               dynamicSmemBytes;
    cudaStream_t         stream;
    cudaLaunchAttribute* attrs; // not looked at
    unsigned             numAttrs;
};

// ---- errors, devices
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t);
const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaRuntimeGetVersion(int*);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaGetDeviceCount(int*);
cudaError_t cudaGetDevice(int*);
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int device);
cudaError_t cudaDeviceSetLimit(cudaLimit, size_t);
cudaError_t cudaDeviceGetLimit(size_t*, cudaLimit);
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer);
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int peer);
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags);
cudaError_t cudaDeviceDisablePeerAccess(int peer);
cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device);
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id);
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);

// ---- memory
cudaError_t cudaMalloc(void**, size_t);
cudaError_t cudaMallocManaged(void**, size_t, unsigned flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void**, size_t, unsigned flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void**, size_t, unsigned flags);
cudaError_t cudaMallocAsync(void**, size_t, cudaStream_t);
cudaError_t cudaFree(void*);
cudaError_t cudaFreeHost(void*);
cudaError_t cudaFreeAsync(void*, cudaStream_t);
cudaError_t cudaHostRegister(void*, size_t, unsigned flags);
cudaError_t cudaHostUnregister(void*);
cudaError_t cudaHostGetDevicePointer(void**, void* host, unsigned flags);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes*, const void*);
cudaError_t cudaMemGetInfo(size_t* free, size_t* total);
cudaError_t cudaMemcpy(void* to, const void* from, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t rows, cudaMemcpyKind);
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t rows, cudaMemcpyKind, cudaStream_t = nullptr);
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t,
                                cudaStream_t = nullptr);
cudaError_t cudaMemset(void*, int value, size_t);
cudaError_t cudaMemsetAsync(void*, int value, size_t, cudaStream_t = nullptr);
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*);
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned flags);
cudaError_t cudaIpcCloseMemHandle(void*);

template <class T> cudaError_t cudaMalloc(T** p, size_t n) { return cudaMalloc((void**)(void*)p, n); }
template <class T> cudaError_t cudaMallocManaged(T** p, size_t n, unsigned flags = cudaMemAttachGlobal)
{
    return cudaMallocManaged((void**)(void*)p, n, flags);
}
template <class T> cudaError_t cudaMallocHost(T** p, size_t n, unsigned flags = cudaHostAllocDefault)
{
    return cudaMallocHost((void**)(void*)p, n, flags);
}
template <class T> cudaError_t cudaHostAlloc(T** p, size_t n, unsigned flags)
{
    return cudaHostAlloc((void**)(void*)p, n, flags);
}
template <class T> cudaError_t cudaMallocAsync(T** p, size_t n, cudaStream_t s)
{
    return cudaMallocAsync((void**)(void*)p, n, s);
}
template <class T> cudaError_t cudaHostGetDevicePointer(T** p, void* host, unsigned flags)
{
    return cudaHostGetDevicePointer((void**)(void*)p, host, flags);
}
cudaError_t                    simt_register_symbol(void* symbol, size_t);
template <class T> cudaError_t cudaGetSymbolAddress(void** p, const T& symbol)
{
    *p = (void*)&symbol;
    return simt_register_symbol(*p, sizeof symbol);
}
template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, size_t n, size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice)
{
    void* p = nullptr;
    cudaGetSymbolAddress(&p, symbol);
    return cudaMemcpy((char*)p + offset, from, n, cudaMemcpyDefault);
}

// ---- streams, events
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t*, unsigned flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t, int* priority);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamQuery(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned flags = 0);
cudaError_t cudaLaunchHostFunc(cudaStream_t, void (*function)(void*), void* data);
cudaError_t cudaEventCreate(cudaEvent_t*);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t);
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t);

// ---- graphs
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode);
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*);
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus*);
cudaError_t cudaGraphGetNodes(cudaGraph_t, void* nodes, size_t* count); // nodes: null; the count alone
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long flags = 0);
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t);
cudaError_t cudaGraphDestroy(cudaGraph_t);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t);

// ---- launches: the kernel's type must be known, so no launch by const void*
template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* c, void (*kernel)(P...), A&&... a)
{
    return (cudaError_t)simt::launch(kernel, c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream,
                                     std::tuple<P...>(std::forward<A>(a)...));
}
template <class... P, size_t... I> std::tuple<P...> simt_unpack(void** a, std::index_sequence<I...>)
{
    (void)a;
    return std::tuple<P...>(*static_cast<P*>(a[I])...);
}
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void** a, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr)
{
    return (cudaError_t)simt::launch(kernel, grid, block, shared_bytes, stream,
                                     simt_unpack<P...>(a, std::index_sequence_for<P...>{}));
}
template <class... P>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* c, void (*kernel)(P...), void** a)
{
    return cudaLaunchKernel(kernel, c->gridDim, c->blockDim, a, c->dynamicSmemBytes, c->stream);
}
cudaError_t                    simt_set_attribute(const void* kernel, cudaFuncAttribute, int value);
template <class F> cudaError_t cudaFuncSetAttribute(F* kernel, cudaFuncAttribute attribute, int value)
{
    return simt_set_attribute((const void*)kernel, attribute, value);
}
cudaError_t simt_occupancy(int* blocks, int threads, size_t shared_bytes);
template <class F>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F*, int threads, size_t shared_bytes)
{
    return simt_occupancy(blocks, threads, shared_bytes);
}

// ---- what only the emulator has

// The n-th allocation from now on (device, pinned, managed, or of a graph's instance; 1: the next) fails, once.
// 0: none.
void simt_fail_allocation(long n);
// The n-th kernel or memset from now on is refused, once, with cudaErrorInvalidConfiguration. 0: none. What is left of the
// number set before: 0 where that one has come.
long simt_fail_launch(long n);
void simt_link(int a, int b, bool linked, int rank = 0); // whether two devices can be linked, as SIMT_LINKS says it
void simt_set_processors(int n);           // multiprocessors a device; 0: as many as usual, 2
void simt_set_occupancy(int n);            // blocks a multiprocessor, at most; 0: as many as usual, 32
void simt_refuse_pinning(bool refuse);     // cudaHostRegister fails: SIMT_PIN=0
void simt_refuse_mapping(bool refuse);     // cudaHostGetDevicePointer fails
struct simt_statistics {
    uint64_t allocations;      // calls that allocate
    uint64_t synchronizations; // calls by which the host waits
    uint64_t launches;         // kernels run, by graphs too
    uint64_t switches;         // between fibers
};
simt_statistics simt_get_statistics();
size_t          simt_live_allocations();

// Counts memory requests between begin and end: of __ldg and the other hinted loads and stores, and of
// simt_touch(). A warp-wide access is what the lanes of one warp do at one source line, each for the i-th
// time in its block: it costs as many requests as distinct 128-byte lines, or 32-byte sectors, are touched.
struct simt_requests {
    uint64_t accesses; // warp-wide
    uint64_t lines;    // sum over accesses of distinct 128-byte lines
    uint64_t sectors;  // sum over accesses of distinct 32-byte sectors
    uint64_t bytes;    // asked for by the lanes
};
void          simt_count_begin();
simt_requests simt_count_end();

// The kernels that the host has launched in between, on all streams, in the order of the calls: neither those
// that were captured then, nor those of graphs.
void                     simt_trace_begin();
std::vector<std::string> simt_trace_end();
std::vector<const void*> simt_trace_streams(); // of each of them
#endif
