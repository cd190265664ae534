// simt_stream.cc - streams, events, copies. A stream is a queue of work, done in order: at once, or when
// something waits for it. Under TSan each stream is a fiber of its own, ordered with others only as CUDA
// orders them.
#include "simt_stream.h"

#include <algorithm>
#include <chrono>
#include <sched.h>
#include <unistd.h>

namespace simt {

static std::vector<StreamPointer> streams;

static StreamPointer new_stream(bool is_default, bool blocking)
{
    auto stream        = std::make_shared<Stream>();
    stream->device     = current_device();
    stream->is_default = is_default;
    stream->blocking   = blocking;
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

StreamPointer stream_of(void* handle)
{
    if (!handle || handle == cudaStreamLegacy) return default_stream();
    for (auto& stream : streams)
        if (stream.get() == handle) return stream;
    throw cudaErrorInvalidResourceHandle;
}
Event& event_of(cudaEvent_t handle)
{
    require(handle, cudaErrorInvalidResourceHandle);
    return *(Event*)handle;
}

// ---- doing the work

static void drain(Stream& stream, uint64_t n);

void do_work(const Work& work)
{
    int before = current_device();
    use_device(work.device);
    set_view(work.view);
    work.run();
    set_view(VIEW_HOST);
    use_device(before);
}

// May the next piece of work be done?
static bool is_ready(Stream& stream)
{
    if (!stream.queue.front().ready) return true;
    auto work  = std::make_unique<Work>(stream.queue.front()); // which others may get done meanwhile
    bool ready = false;
    for (auto& mark : work->after) drain(*mark.stream, mark.n);
    run_as(stream.fiber, [&] {
        for (auto& sync : work->acquire) tsan_acquire(sync);
        ready = work->ready();
    });
    return ready;
}

static void do_next(Stream& stream)
{
    auto work = std::make_unique<Work>(std::move(stream.queue.front())); // not on a stack, which TSan watches
    stream.queue.pop_front();
    for (auto& mark : work->after) drain(*mark.stream, mark.n);
    run_as(stream.fiber, [&] {
        for (auto& sync : work->acquire) tsan_acquire(sync);
        do_work(*work);
        work->run = nullptr; // whatever it held is given up by the one who used it
        tsan_release(stream.sync);
    });
    stream.done++;
}
static void drain(Stream& stream, uint64_t n)
{
    while (stream.done < n && !stream.queue.empty()) {
        if (is_ready(stream)) do_next(stream);
        else Lock::let_others();
    }
}
static void wait_for(const Mark& mark, const Sync& sync)
{
    counts.synchronizations++;
    drain(*mark.stream, mark.n);
    tsan_acquire(sync);
}
static void wait_for(const StreamPointer& stream) { wait_for({stream, stream->pushed}, stream->sync); }

// A question lets one piece of work get done, so that polling ends.
static void answer(const Mark& mark, const Sync& sync)
{
    if (mark.stream->done < mark.n) {
        if (is_ready(*mark.stream)) do_next(*mark.stream);
        throw cudaErrorNotReady;
    }
    tsan_acquire(sync);
}

// In random order, where that was asked for.
void drain_device(int device)
{
    std::vector<StreamPointer> all = streams;
    if (options().order == Options::RANDOM)
        for (size_t i = all.size(); i > 1; i--) std::swap(all[i - 1], all[random_below(i)]);
    for (auto& stream : all) {
        if (device != ALL_DEVICES && stream->device != device) continue;
        drain(*stream, stream->pushed);
        tsan_acquire(stream->sync);
    }
}

// ---- giving it

// A device's default stream and its blocking ones wait for each other without being told.
static void add_implied(const StreamPointer& stream, Work& work)
{
    for (auto& other : streams) {
        if (other == stream || !stream->blocking || !other->blocking || other->device != stream->device)
            continue;
        if (!stream->is_default && !other->is_default) continue;
        work.after.push_back({other, other->pushed});
        work.acquire.push_back(other->sync);
    }
}

// `after`, released by the work it stands for, comes first.
static void put_after(void* handle, std::function<void()> run, int view, const Mark* after,
                      const Sync& released, std::function<bool()> ready = nullptr)
{
    StreamPointer stream = stream_of(handle);
    Work work = {std::move(run), view == VIEW_STREAM ? stream->device : view, stream->device, {}, {released},
                 std::move(ready)};
    if (stream->capture) return add_node(*stream, std::move(work));
    if (stream->is_default && capturing()) refuse(nullptr, cudaErrorStreamCaptureImplicit);
    if (after) work.after.push_back(*after);
    add_implied(stream, work);
    work.acquire.push_back(make_sync());
    tsan_release(work.acquire.back()); // what the host did before
    stream->queue.push_back(std::move(work));
    stream->pushed++;
    while (!options().lazy && !stream->queue.empty() && is_ready(*stream)) do_next(*stream);
}
void put(void* handle, std::function<void()> run, int view)
{
    put_after(handle, std::move(run), view, nullptr, nullptr);
}
void put_until(void* handle, std::function<bool()> ready)
{
    require(!stream_of(handle)->capture, cudaErrorStreamCaptureUnsupported);
    put_after(handle, [] {}, VIEW_HOST, nullptr, nullptr, std::move(ready));
}

static long to_refusal; // kernels and memsets until one is refused; 0: none is

static void count_work()
{
    if (to_refusal > 0) require(--to_refusal > 0, cudaErrorInvalidConfiguration);
}

static bool                     tracing;
struct traced_launch {
    const void *kernel, *stream;
};
static std::vector<traced_launch> traced;

int enqueue(void* stream, std::function<void()> work, const void* of)
{
    return api([&] {
        count_work();
        if (tracing && of && !stream_of(stream)->capture) traced.push_back({of, stream});
        put(stream, std::move(work), VIEW_STREAM);
    });
}

// Rows of pageable memory are read before the call returns; copies to pageable memory are done by then. A
// copy between pinned memory and a device happens when the stream comes to it.
static void copy_rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                      size_t rows, cudaMemcpyKind kind, void* handle)
{
    StreamPointer stream = stream_of(handle);
    if (!width || !rows) return;
    require(rows == 1 || (width <= to_pitch && width <= from_pitch));
    size_t from_bytes = (rows - 1) * from_pitch + width;
    check_copy(to, (rows - 1) * to_pitch + width, from, from_bytes, kind);
    bool waits  = is_pageable(to) && !stream->capture;
    auto staged = std::make_shared<std::vector<char>>();
    const bool later = options().lazy || with_tsan() || !stream->queue.empty();
    if (is_pageable(from) && !stream->capture && later) {
        staged->assign((const char*)from, (const char*)from + from_bytes);
        from = staged->data();
    }
    auto copy = [=, keep = std::move(staged)] {
        for (size_t r = 0; r < rows; r++)
            memmove((char*)to + r * to_pitch, (const char*)from + r * from_pitch, width);
    };
    put(handle, std::move(copy), VIEW_ALL);
    if (!waits) return;
    drain(*stream, stream->pushed);
    tsan_acquire(stream->sync);
}

static void set_bytes(void* to, int value, size_t n, void* stream)
{
    check_range(to, n);
    count_work();
    put(
        stream, [=] { memset(to, value, n); }, VIEW_ALL);
}

// A call that puts its work on the default stream, and may wait for it.
template <class F> static cudaError_t by_default(bool waits, F body)
{
    return api([&] {
        refuse_in_capture();
        body();
        if (waits) wait_for(default_stream());
    });
}

static double milliseconds()
{
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

} // namespace simt

using namespace simt;

// ---- streams

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* handle, unsigned flags)
{
    return cudaStreamCreateWithPriority(handle, flags, LEAST_PRIORITY);
}
cudaError_t cudaStreamCreate(cudaStream_t* handle)
{
    return cudaStreamCreateWithFlags(handle, cudaStreamDefault);
}
// A lower number comes first. One out of the range is the nearest in it.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* handle, unsigned flags, int priority)
{
    return api([=] {
        require(handle && flags <= cudaStreamNonBlocking);
        StreamPointer stream = new_stream(false, !flags);
        stream->priority     = std::max(+GREATEST_PRIORITY, std::min(+LEAST_PRIORITY, priority));
        *handle              = (cudaStream_t)stream.get();
    });
}
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority)
{
    return api([=] { *priority = stream_of(handle)->priority; });
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest)
{
    return *least = LEAST_PRIORITY, *greatest = GREATEST_PRIORITY, cudaSuccess;
}

// A stream that the host may ask about or wait for.
static StreamPointer awaited(cudaStream_t handle)
{
    StreamPointer stream = stream_of(handle);
    if (stream->capture) refuse(stream->capture, cudaErrorStreamCaptureUnsupported);
    if (stream->is_default && capturing()) refuse(nullptr, cudaErrorStreamCaptureImplicit);
    return stream;
}
cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    return api([=] {
        StreamPointer stream = awaited(handle);
        require(!stream->is_default, cudaErrorInvalidResourceHandle);
        drain(*stream, stream->pushed);
        streams.erase(std::find(streams.begin(), streams.end(), stream));
    });
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    return api([=] { wait_for(awaited(handle)); });
}
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    return api([=] {
        StreamPointer stream = awaited(handle);
        answer({stream, stream->pushed}, stream->sync);
    });
}
cudaError_t cudaDeviceSynchronize()
{
    return api([] {
        if (capturing()) refuse(nullptr, cudaErrorStreamCaptureUnsupported);
        counts.synchronizations++;
        drain_device(current_device());
    });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data)
{
    return api([=] {
        put(
            stream, [=] { function(data); }, VIEW_HOST);
    });
}

// ---- events

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* handle, unsigned flags)
{
    return api([=] {
        bool timed = !(flags & cudaEventDisableTiming), shared = flags & cudaEventInterprocess;
        require(handle && !(timed && shared));
        auto event = std::make_unique<Event>(Event{timed, {}, nullptr, nullptr, nullptr, {}});
        if (shared) {
            event->where  = new_shared(sizeof(SharedEvent), &event->pages);
            event->shared = (SharedEvent*)event->pages.start; // zeros: not recorded
        }
        *handle = (cudaEvent_t)event.release();
    });
}
cudaError_t cudaEventCreate(cudaEvent_t* handle)
{
    return cudaEventCreateWithFlags(handle, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    return api([=] {
        Event* event = &event_of(handle);
        if (event->shared) unmap_shared(event->pages);
        delete event;
    });
}

// ---- events of several processes

static_assert(sizeof(Shared) <= sizeof(cudaIpcEventHandle_t));

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event)
{
    return api([=] {
        require(event_of(event).shared, cudaErrorInvalidResourceHandle);
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &event_of(event).where, sizeof(Shared));
    });
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* into, cudaIpcEventHandle_t handle)
{
    return api([=] {
        auto event = std::make_unique<Event>(Event{false, {}, nullptr, nullptr, nullptr, {}});
        memcpy(&event->where, &handle, sizeof(Shared));
        event->pages  = map_shared(event->where);
        event->shared = (SharedEvent*)event->pages.start;
        *into         = (cudaEvent_t)event.release();
    });
}

// Another process cannot make this one's streams work: what comes before the record is done now.
static void record_shared(SharedEvent& event, const StreamPointer& stream)
{
    const uint64_t n = ++event.recorded;
    event.process    = getpid();
    drain(*stream, stream->pushed);
    event.reached = std::max(event.reached.load(), n);
}
static void wait_shared(const SharedEvent* event)
{
    const uint64_t n     = event ? event->recorded.load() : 0;
    const double   start = milliseconds();
    while (event && event->reached < n) {
        sched_yield();
        if (milliseconds() - start > 10e3)
            fail("an event that process %d recorded was not reached in 10 s", event->process.load());
    }
}

cudaError_t cudaEventRecord(cudaEvent_t handle, cudaStream_t stream_handle)
{
    return api([=] {
        Event&        event  = event_of(handle);
        StreamPointer stream = stream_of(stream_handle);
        event.capture        = stream->capture;
        event.tail           = stream->tail;
        if (stream->capture) return;
        event.mark = {stream, stream->pushed + 1};
        event.sync = make_sync();
        event.ms   = std::make_shared<double>(0.0);
        auto reach = [ms = event.ms, sync = event.sync] {
            *ms = milliseconds();
            tsan_release(sync);
        };
        put(stream_handle, reach, VIEW_ALL);
        if (event.shared) record_shared(*event.shared, stream);
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned)
{
    return api([=] {
        Event&        event  = event_of(event_handle);
        StreamPointer stream = stream_of(handle);
        if (event.capture) return join_capture(stream, event);
        if (stream->capture) refuse(stream->capture, cudaErrorStreamCaptureIsolation);
        wait_shared(event.shared);
        if (!event.mark.stream || event.mark.stream == stream) return;
        put_after(
            handle, [] {}, VIEW_ALL, &event.mark, event.sync);
    });
}

static Event& awaited(cudaEvent_t handle)
{
    Event& event = event_of(handle);
    if (event.capture) refuse(event.capture, cudaErrorCapturedEvent);
    return event;
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    return api([=] {
        Event& event = awaited(handle);
        wait_shared(event.shared);
        if (event.mark.stream) wait_for(event.mark, event.sync);
    });
}
cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    return api([=] {
        Event& event = awaited(handle);
        require(!event.shared || event.shared->reached >= event.shared->recorded, cudaErrorNotReady);
        if (event.mark.stream) answer(event.mark, event.sync);
    });
}
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end)
{
    return api([=] {
        Event &a = event_of(start), &b = event_of(end);
        require(a.timed && b.timed && a.mark.stream && b.mark.stream, cudaErrorInvalidResourceHandle);
        require(a.mark.stream->done >= a.mark.n && b.mark.stream->done >= b.mark.n, cudaErrorNotReady);
        *ms = (float)(*b.ms - *a.ms);
    });
}

// ---- copies

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, cudaMemcpyKind kind, cudaStream_t stream)
{
    return api([=] { copy_rows(to, n, from, n, n, 1, kind, stream); });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t n, cudaMemcpyKind kind)
{
    return by_default(true, [=] { copy_rows(to, n, from, n, n, 1, kind, nullptr); });
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t rows, cudaMemcpyKind kind, cudaStream_t stream)
{
    return api([=] { copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, stream); });
}
cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                         size_t rows, cudaMemcpyKind kind)
{
    return by_default(true, [=] { copy_rows(to, to_pitch, from, from_pitch, width, rows, kind, nullptr); });
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t n,
                                cudaStream_t s)
{
    return api([=] {
        require_device(to_device), require_device(from_device);
        copy_rows(to, n, from, n, n, 1, cudaMemcpyDeviceToDevice, s);
    });
}
cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t n)
{
    return by_default(true, [=] {
        require_device(to_device), require_device(from_device);
        copy_rows(to, n, from, n, n, 1, cudaMemcpyDeviceToDevice, nullptr);
    });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t n, cudaStream_t stream)
{
    return api([=] { set_bytes(to, value, n, stream); });
}
cudaError_t cudaMemset(void* to, int value, size_t n) // not awaited: CUDA need not either
{
    return by_default(false, [=] { set_bytes(to, value, n, nullptr); });
}

long simt_fail_launch(long n)
{
    Lock lock;
    return std::exchange(to_refusal, n);
}

void simt_trace_begin()
{
    Lock lock;
    tracing = true;
    traced.clear();
}

std::vector<std::string> simt_trace_end()
{
    Lock                     lock;
    std::vector<std::string> names;
    for (const traced_launch& t : traced) names.push_back(function_name(t.kernel));
    tracing = false;
    return names;
}

std::vector<const void*> simt_trace_streams()
{
    Lock                     lock;
    std::vector<const void*> streams;
    for (const traced_launch& t : traced) streams.push_back(t.stream);
    return streams;
}
