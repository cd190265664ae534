// simt_stream.cc - streams, events, copies and graphs. A stream is a queue of work, done in order: at once, or when
// something waits for it. Under TSan each stream is a fiber of its own, ordered with others only as CUDA orders them.
#include "simt_core.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <sched.h>
#include <unistd.h>

namespace simt {

struct Stream;
struct Capture;
using StreamPointer = std::shared_ptr<Stream>;

// The first n pieces of work of a stream.
struct Mark {
    StreamPointer stream;
    uint64_t      n;
};
struct Work {
    std::function<void()> run;
    int                   view;  // what it may touch: a device number, or VIEW_ALL for copies
    int                   device;
    std::vector<Mark>     after; // work of other streams that comes first
    Sync                  submitted; // what the host did before it put the work here
};
struct Stream {
    int              device;
    bool             is_default;
    bool             blocking; // ordered with the default stream
    std::deque<Work> queue;
    uint64_t         pushed = 0, done = 0;
    void*            fiber  = nullptr; // TSan's
    Sync             sync   = make_sync(); // released by all that has been done
    Capture*         capture = nullptr;
    std::vector<int> tail; // while captured: the nodes that its next node comes after
};
struct Event {
    Mark             mark;      // nothing recorded: no stream
    Sync             sync;
    bool             timed;
    Capture*         capture = nullptr;
    std::vector<int> tail;
    std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

// A graph: nodes in an order in which they can run, each after some before it. Nodes of one stream share a fiber.
struct Node {
    Work             work;
    std::vector<int> after;
    void*            fiber;
};
using Nodes = std::vector<Node>;
struct Capture {
    StreamPointer               origin;
    std::vector<StreamPointer>  streams;
    std::vector<Event*>         events;
    Nodes                       nodes;
    bool                        relaxed, valid = true;
};

simt_statistics                   counts;
static std::vector<StreamPointer> streams;
static std::vector<Capture*>      captures;

// ---- the lock

static std::atomic<int> lock_owner; // a thread's number, 0: nobody
static int              lock_depth;

Lock::Lock()
{
    static std::atomic<int> numbers;
    static thread_local int me = ++numbers;
    int                     nobody = 0;
    while (lock_owner.load() != me && !lock_owner.compare_exchange_weak(nobody, me)) {
        nobody = 0;
        sched_yield();
    }
    lock_depth++;
}
Lock::~Lock()
{
    if (--lock_depth == 0) lock_owner.store(0);
}

// ---- streams

static StreamPointer new_stream(bool is_default, bool blocking)
{
    auto stream        = std::make_shared<Stream>();
    stream->device     = current_device();
    stream->is_default = is_default;
    stream->blocking   = blocking;
    stream->fiber      = with_tsan() ? __tsan_create_fiber(0) : nullptr;
    streams.push_back(stream);
    return stream;
}

static StreamPointer default_stream()
{
    static StreamPointer of_device[16];
    StreamPointer&       stream = of_device[current_device()];
    if (!stream) stream = new_stream(true, true);
    return stream;
}

static StreamPointer find_stream(void* handle)
{
    if (!handle || handle == cudaStreamLegacy) return default_stream();
    for (auto& stream : streams)
        if (stream.get() == handle) return stream;
    return nullptr;
}

static void drain(Stream& stream, uint64_t n);

static void do_work(const Work& work)
{
    int before = current_device();
    use_device(work.device);
    set_view(work.view);
    work.run();
    set_view(VIEW_HOST);
    use_device(before);
}

static void do_next(Stream& stream)
{
    Work work = std::move(stream.queue.front());
    stream.queue.pop_front();
    for (auto& mark : work.after) drain(*mark.stream, mark.n);
    {
        ActAs as(stream.fiber);
        for (auto& mark : work.after) tsan_acquire(mark.stream->sync);
        tsan_acquire(work.submitted);
        do_work(work);
        work.run = nullptr; // whatever it held is given up by the one who used it
        tsan_release(stream.sync);
    }
    stream.done++;
}

static void drain(Stream& stream, uint64_t n)
{
    while (stream.done < n && !stream.queue.empty()) do_next(stream);
}

// The host waits for a stream.
static void wait_for(Stream& stream)
{
    counts.synchronizations++;
    drain(stream, stream.pushed);
    tsan_acquire(stream.sync);
}

// In random order, where that was asked for.
void drain_all()
{
    std::vector<StreamPointer> all(streams.begin(), streams.end());
    if (options().order == Options::RANDOM)
        for (size_t i = all.size(); i > 1; i--) std::swap(all[i - 1], all[random_below(i)]);
    for (auto& stream : all) {
        drain(*stream, stream->pushed);
        tsan_acquire(stream->sync);
    }
}

// What the default stream and the others of its device wait for, of each other, without being told.
static void order_with_default(const StreamPointer& stream, Work& work)
{
    if (!stream->blocking) return;
    for (auto& other : streams)
        if (other != stream && other->blocking && other->device == stream->device &&
            (stream->is_default || other->is_default))
            work.after.push_back({other, other->pushed});
}

// ---- capture

static void invalidate(Capture* only)
{
    for (Capture* capture : captures)
        if (!only || capture == only) capture->valid = false;
}
cudaError_t refuse_in_capture()
{
    bool forbidden = false;
    for (Capture* capture : captures) forbidden |= !capture->relaxed;
    if (!forbidden) return cudaSuccess;
    invalidate(nullptr);
    return remember(cudaErrorStreamCaptureUnsupported);
}
static cudaError_t refuse(Capture* capture, cudaError_t error)
{
    invalidate(capture);
    return remember(error);
}

static cudaError_t add_node(Stream& stream, Work work)
{
    Capture* capture = stream.capture;
    if (!capture->valid) return remember(cudaErrorStreamCaptureInvalidated);
    capture->nodes.push_back({std::move(work), stream.tail, stream.fiber});
    stream.tail = {(int)capture->nodes.size() - 1};
    return cudaSuccess;
}

static cudaError_t put(void* handle, std::function<void()> run, int view)
{
    StreamPointer stream = find_stream(handle);
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    Work work = {std::move(run), view == VIEW_ALL ? view : stream->device, stream->device, {}, nullptr};
    if (stream->capture) return add_node(*stream, std::move(work));
    if (stream->is_default && !captures.empty()) return refuse(nullptr, cudaErrorStreamCaptureImplicit);
    order_with_default(stream, work);
    work.submitted = make_sync();
    tsan_release(work.submitted);
    stream->queue.push_back(std::move(work));
    stream->pushed++;
    if (!options().lazy) drain(*stream, stream->pushed);
    return cudaSuccess;
}

int enqueue(void* stream, std::function<void()> work)
{
    Lock lock;
    return put(stream, std::move(work), 0);
}

// ---- graphs

// Which node runs next: the first, the last or any whose predecessors are done.
static int choose_node(const Nodes& nodes, const std::vector<bool>& done)
{
    std::vector<int> can;
    for (int i = 0; i < (int)nodes.size(); i++) {
        bool ready = !done[i];
        for (int before : nodes[i].after) ready = ready && done[before];
        if (ready) can.push_back(i);
        if (ready && options().order == Options::FORWARD) break;
    }
    if (options().order == Options::REVERSE) return can.back();
    return options().order == Options::RANDOM ? can[random_below(can.size())] : can.front();
}

static void replay(const Nodes& nodes)
{
    std::vector<bool> done(nodes.size());
    std::vector<Sync> sync(nodes.size());
    Sync              start = make_sync();
    tsan_release(start);
    for (size_t n = 0; n < nodes.size(); n++) {
        int         i    = choose_node(nodes, done);
        const Node& node = nodes[i];
        ActAs       as(node.fiber);
        tsan_acquire(start);
        for (int before : node.after) tsan_acquire(sync[before]);
        do_work(node.work);
        sync[i] = make_sync();
        tsan_release(sync[i]);
        done[i] = true;
    }
    for (Sync& s : sync) tsan_acquire(s);
}

// Every node must lead to the origin's end.
static bool is_joined(const Capture& capture)
{
    std::vector<bool> reached(capture.nodes.size());
    for (int i : capture.origin->tail) reached[i] = true;
    for (int i = (int)capture.nodes.size() - 1; i >= 0; i--)
        if (reached[i])
            for (int before : capture.nodes[i].after) reached[before] = true;
    return std::find(reached.begin(), reached.end(), false) == reached.end();
}

static void end_capture(Capture* capture)
{
    for (auto& stream : capture->streams) {
        stream->capture = nullptr;
        stream->tail.clear();
    }
    for (Event* event : capture->events) event->capture = nullptr;
    captures.erase(std::find(captures.begin(), captures.end(), capture));
    delete capture;
}

} // namespace simt

using namespace simt;

struct CUgraph_st {
    std::shared_ptr<Nodes> nodes;
};
struct CUgraphExec_st {
    std::shared_ptr<Nodes> nodes;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode)
{
    Lock          lock;
    StreamPointer stream = find_stream(handle);
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    if (stream->is_default) return remember(cudaErrorStreamCaptureUnsupported);
    if (stream->capture) return remember(cudaErrorIllegalState);
    auto* capture    = new Capture();
    capture->origin  = stream;
    capture->streams = {stream};
    capture->relaxed = mode == cudaStreamCaptureModeRelaxed;
    stream->capture  = capture;
    captures.push_back(capture);
    return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
    Lock          lock;
    StreamPointer stream = find_stream(handle);
    *graph               = nullptr;
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    Capture* capture = stream->capture;
    if (!capture) return remember(cudaErrorIllegalState);
    cudaError_t error = cudaSuccess;
    if (capture->origin != stream) error = cudaErrorStreamCaptureUnmatched;
    else if (!capture->valid) error = cudaErrorStreamCaptureInvalidated;
    else if (!is_joined(*capture)) error = cudaErrorStreamCaptureUnjoined;
    else *graph = new CUgraph_st{std::make_shared<Nodes>(std::move(capture->nodes))};
    end_capture(capture);
    return remember(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status)
{
    Lock          lock;
    StreamPointer stream = find_stream(handle);
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    *status = !stream->capture          ? cudaStreamCaptureStatusNone
              : stream->capture->valid ? cudaStreamCaptureStatusActive
                                       : cudaStreamCaptureStatusInvalidated;
    return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void*, size_t* n)
{
    *n = graph->nodes->size();
    return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long)
{
    if (!exec || !graph) return remember(cudaErrorInvalidValue);
    *exec = new CUgraphExec_st{graph->nodes};
    return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    Lock lock;
    if (!exec) return remember(cudaErrorInvalidValue);
    return put(stream, [nodes = exec->nodes] { replay(*nodes); }, VIEW_ALL);
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

// ---- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags)
{
    Lock lock;
    if (!handle || flags > cudaStreamNonBlocking) return remember(cudaErrorInvalidValue);
    *handle = (cudaStream_t)new_stream(false, !(flags & cudaStreamNonBlocking)).get();
    return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* handle) { return cudaStreamCreateWithFlags(handle, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int)
{
    return cudaStreamCreateWithFlags(handle, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    Lock          lock;
    StreamPointer stream = handle && handle != cudaStreamLegacy ? find_stream(handle) : nullptr;
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture) return refuse(stream->capture, cudaErrorStreamCaptureUnsupported);
    drain(*stream, stream->pushed);
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    Lock          lock;
    StreamPointer stream = find_stream(handle);
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture) return refuse(stream->capture, cudaErrorStreamCaptureUnsupported);
    if (stream->is_default && !captures.empty()) return refuse(nullptr, cudaErrorStreamCaptureImplicit);
    wait_for(*stream);
    return cudaSuccess;
}
// Each query lets one piece of work get done, so that polling ends.
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    Lock          lock;
    StreamPointer stream = find_stream(handle);
    if (!stream) return remember(cudaErrorInvalidResourceHandle);
    if (stream->capture) return refuse(stream->capture, cudaErrorStreamCaptureUnsupported);
    if (!stream->queue.empty()) {
        do_next(*stream);
        return cudaErrorNotReady;
    }
    tsan_acquire(stream->sync);
    return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize()
{
    Lock lock;
    if (!captures.empty()) return refuse(nullptr, cudaErrorStreamCaptureUnsupported);
    counts.synchronizations++;
    drain_all();
    return cudaSuccess;
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data)
{
    Lock lock;
    return put(stream, [=] { set_view(VIEW_HOST), function(data); }, VIEW_ALL);
}

// ---- events

static Event* event_of(cudaEvent_t handle) { return (Event*)handle; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags)
{
    auto* event  = new Event();
    event->timed = !(flags & cudaEventDisableTiming);
    *handle      = (cudaEvent_t)event;
    return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* handle) { return cudaEventCreateWithFlags(handle, cudaEventDefault); }
cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    Lock   lock;
    Event* event = event_of(handle);
    if (!event) return remember(cudaErrorInvalidResourceHandle);
    for (Capture* capture : captures)
        capture->events.erase(std::remove(capture->events.begin(), capture->events.end(), event),
                              capture->events.end());
    delete event;
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    Lock          lock;
    Event*        event  = event_of(handle);
    StreamPointer stream = find_stream(stream_handle);
    if (!event || !stream) return remember(cudaErrorInvalidResourceHandle);
    event->capture = stream->capture;
    if (stream->capture) {
        event->tail = stream->tail;
        stream->capture->events.push_back(event);
        return cudaSuccess;
    }
    auto time   = std::make_shared<std::chrono::steady_clock::time_point>();
    Sync sync   = make_sync();
    event->time = time;
    event->sync = sync;
    cudaError_t error = put(
        stream_handle,
        [=] {
            *time = std::chrono::steady_clock::now();
            tsan_release(sync);
        },
        VIEW_ALL);
    event->mark = {stream, stream->pushed};
    return error;
}

// A stream that waits for a captured event is captured from then on.
static cudaError_t join_capture(const StreamPointer& stream, const Event& event)
{
    Capture* capture = event.capture;
    if (stream->is_default) return refuse(capture, cudaErrorStreamCaptureImplicit);
    if (stream->capture && stream->capture != capture) return refuse(nullptr, cudaErrorStreamCaptureMerge);
    if (!stream->capture) {
        stream->capture = capture;
        capture->streams.push_back(stream);
    }
    for (int node : event.tail)
        if (std::find(stream->tail.begin(), stream->tail.end(), node) == stream->tail.end())
            stream->tail.push_back(node);
    return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned)
{
    Lock          lock;
    Event*        event  = event_of(event_handle);
    StreamPointer stream = find_stream(handle);
    if (!event || !stream) return remember(cudaErrorInvalidResourceHandle);
    if (event->capture) return join_capture(stream, *event);
    if (stream->capture) return refuse(stream->capture, cudaErrorStreamCaptureIsolation);
    if (!event->mark.stream || event->mark.stream == stream) return cudaSuccess;
    Mark mark = event->mark;
    Sync sync = event->sync;
    return put(
        handle,
        [=] {
            drain(*mark.stream, mark.n);
            tsan_acquire(sync);
        },
        VIEW_ALL);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    Lock   lock;
    Event* event = event_of(handle);
    if (!event) return remember(cudaErrorInvalidResourceHandle);
    if (event->capture) return refuse(event->capture, cudaErrorCapturedEvent);
    if (!event->mark.stream) return cudaSuccess;
    counts.synchronizations++;
    drain(*event->mark.stream, event->mark.n);
    tsan_acquire(event->sync);
    return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    Lock   lock;
    Event* event = event_of(handle);
    if (!event) return remember(cudaErrorInvalidResourceHandle);
    if (event->capture) return refuse(event->capture, cudaErrorCapturedEvent);
    if (event->mark.stream && event->mark.stream->done < event->mark.n) {
        do_next(*event->mark.stream);
        return cudaErrorNotReady;
    }
    tsan_acquire(event->sync);
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end)
{
    Lock   lock;
    Event *a = event_of(start), *b = event_of(end);
    if (!a || !b || !a->timed || !b->timed || !a->mark.stream || !b->mark.stream)
        return remember(cudaErrorInvalidResourceHandle);
    if (a->mark.stream->done < a->mark.n || b->mark.stream->done < b->mark.n) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(*b->time - *a->time).count();
    return cudaSuccess;
}

// ---- copies

// Rows of pageable memory are read before the call returns; copies to pageable memory are done by then. A copy
// between pinned memory and a device happens when the stream comes to it.
static cudaError_t copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                             cudaMemcpyKind kind, cudaStream_t stream)
{
    Lock lock;
    if (!width || !rows) return cudaSuccess;
    if (width > to_pitch || width > from_pitch) return remember(cudaErrorInvalidValue);
    if (cudaError_t e = check_copy(to, from, 1, kind)) return e;
    if (!is_pageable(to))
        if (cudaError_t e = check_range(to, (rows - 1) * to_pitch + width)) return e;
    if (!is_pageable(from))
        if (cudaError_t e = check_range(from, (rows - 1) * from_pitch + width)) return e;
    StreamPointer on     = find_stream(stream);
    bool          staged = (options().lazy || with_tsan()) && is_pageable(from) && on && !on->capture;
    auto          copy   = std::make_shared<std::vector<char>>();
    if (staged) {
        copy->assign((const char*)from, (const char*)from + (rows - 1) * from_pitch + width);
        from = copy->data();
    }
    cudaError_t error = put(
        stream,
        [=, keep = copy] {
            for (size_t r = 0; r < rows; r++)
                memmove((char*)to + r * to_pitch, (const char*)from + r * from_pitch, width);
        },
        VIEW_ALL);
    if (!error && is_pageable(to) && !on->capture) {
        drain(*on, on->pushed);
        tsan_acquire(on->sync);
    }
    return error;
}

// A call that returns when its work on the default stream is done.
static cudaError_t and_wait(cudaError_t error)
{
    if (error == cudaSuccess) wait_for(*default_stream());
    return error;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rows(to, n, from, n, n, 1, kind, stream);
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind)
{
    Lock lock;
    if (cudaError_t e = refuse_in_capture()) return e;
    return and_wait(cudaMemcpyAsync(to, from, n, kind, nullptr));
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t rows, cudaMemcpyKind kind, cudaStream_t stream)
{
    return copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, stream);
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t rows,
                         cudaMemcpyKind kind)
{
    Lock lock;
    if (cudaError_t e = refuse_in_capture()) return e;
    return and_wait(copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, nullptr));
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t n,
                                cudaStream_t stream)
{
    if (!is_device_number(to_device) || !is_device_number(from_device)) return remember(cudaErrorInvalidDevice);
    return copy_rows(to, n, from, n, n, 1, cudaMemcpyDeviceToDevice, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t n)
{
    Lock lock;
    if (cudaError_t e = refuse_in_capture()) return e;
    return and_wait(cudaMemcpyPeerAsync(to, to_device, from, from_device, n, nullptr));
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t n, cudaStream_t stream)
{
    Lock lock;
    if (cudaError_t e = check_range(to, n)) return e;
    return put(stream, [=] { memset(to, value, n); }, VIEW_ALL);
}
// Not awaited: on a device it need not be either.
cudaError_t cudaMemset(void* to, int value, size_t n)
{
    Lock lock;
    if (cudaError_t e = refuse_in_capture()) return e;
    return cudaMemsetAsync(to, value, n, nullptr);
}
