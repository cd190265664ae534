// simt_graph.cc - capture and graphs. A captured stream's work becomes nodes instead of being done; a launch
// of the graph does it, in any order that the dependencies allow (SIMT_ORDER).
#include "simt_stream.h"

#include <algorithm>
#include <thread>

namespace simt {

// Nodes of one stream share its TSan fiber.
struct Node {
    Work             work;
    std::vector<int> after; // earlier nodes
    TaskFiber*       fiber;
};
using Nodes = std::vector<Node>;

struct Capture {
    StreamPointer              origin;
    std::vector<StreamPointer> streams;
    Nodes                      nodes;
    cudaStreamCaptureMode      mode;
    std::thread::id            thread = std::this_thread::get_id(); // that began it
    bool                       valid  = true;
};

static std::vector<Capture*> captures;

// Another thread's capture binds this one if it is global.
static bool binds(const Capture* capture)
{
    return capture->mode == cudaStreamCaptureModeGlobal || capture->thread == std::this_thread::get_id();
}

bool capturing() { return std::any_of(captures.begin(), captures.end(), binds); }

void refuse(Capture* which, cudaError_t error)
{
    for (Capture* capture : captures)
        if (which ? capture == which : binds(capture)) capture->valid = false;
    throw error;
}

void refuse_in_capture()
{
    for (Capture* capture : captures)
        if (binds(capture) && capture->mode != cudaStreamCaptureModeRelaxed)
            refuse(nullptr, cudaErrorStreamCaptureUnsupported);
}

void add_node(Stream& stream, Work work)
{
    Capture* capture = stream.capture;
    require(capture->valid, cudaErrorStreamCaptureInvalidated);
    capture->nodes.push_back({std::move(work), stream.tail, stream.fiber});
    stream.tail = {(int)capture->nodes.size() - 1};
}

// A stream that waits for a captured event is captured from then on.
void join_capture(const StreamPointer& stream, const Event& event)
{
    Capture* capture = event.capture;
    require(std::count(captures.begin(), captures.end(), capture), cudaErrorInvalidValue); // ended meanwhile
    if (stream->is_default) refuse(capture, cudaErrorStreamCaptureImplicit);
    if (stream->capture && stream->capture != capture) refuse(nullptr, cudaErrorStreamCaptureMerge);
    if (!stream->capture) capture->streams.push_back(stream);
    stream->capture = capture;
    for (int node : event.tail)
        if (!std::count(stream->tail.begin(), stream->tail.end(), node)) stream->tail.push_back(node);
}

// Every node must lead to the origin's end.
static bool is_joined(const Capture& capture)
{
    std::vector<bool> reached(capture.nodes.size());
    for (int i : capture.origin->tail) reached[i] = true;
    for (int i = (int)capture.nodes.size() - 1; i >= 0; i--)
        for (int before : capture.nodes[i].after)
            if (reached[i]) reached[before] = true;
    return !std::count(reached.begin(), reached.end(), false);
}

static void end_capture(Capture* capture)
{
    for (auto& stream : capture->streams) {
        stream->capture = nullptr;
        stream->tail.clear();
    }
    captures.erase(std::find(captures.begin(), captures.end(), capture));
    delete capture;
}

// ---- launches

// The node to run next: the first, the last or any whose predecessors are done.
static int choose_node(const Nodes& nodes, const std::vector<bool>& done)
{
    std::vector<int> ready;
    for (int i = 0; i < (int)nodes.size(); i++) {
        bool can = !done[i];
        for (int before : nodes[i].after) can = can && done[before];
        if (can) ready.push_back(i);
        if (can && options().order == Options::FORWARD) break;
    }
    if (options().order == Options::RANDOM) return ready[random_below(ready.size())];
    return ready.back();
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
        done[i]          = true;
        sync[i]          = make_sync();
        run_as(node.fiber, [&] {
            tsan_acquire(start);
            for (int before : node.after) tsan_acquire(sync[before]);
            do_work(node.work);
            tsan_release(sync[i]);
        });
    }
    for (const Sync& s : sync) tsan_acquire(s);
}

} // namespace simt

using namespace simt;

struct CUgraph_st {
    std::shared_ptr<Nodes> nodes;
};
struct CUgraphExec_st : CUgraph_st {};

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode)
{
    return api([=] {
        StreamPointer stream = stream_of(handle);
        require(!stream->is_default, cudaErrorStreamCaptureUnsupported);
        require(!stream->capture, cudaErrorIllegalState);
        captures.push_back(new Capture{stream, {stream}, {}, mode});
        stream->capture = captures.back();
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph)
{
    return api([=] {
        StreamPointer stream  = stream_of(handle);
        Capture*      capture = stream->capture;
        cudaError_t   error   = cudaSuccess;
        *graph                = nullptr;
        require(capture, cudaErrorIllegalState);
        if (capture->origin != stream) error = cudaErrorStreamCaptureUnmatched;
        else if (!capture->valid) error = cudaErrorStreamCaptureInvalidated;
        else if (!is_joined(*capture)) error = cudaErrorStreamCaptureUnjoined;
        else *graph = new CUgraph_st{std::make_shared<Nodes>(std::move(capture->nodes))};
        end_capture(capture);
        require(!error, error);
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status)
{
    return api([=] {
        Capture* capture = stream_of(handle)->capture;
        *status          = cudaStreamCaptureStatusNone;
        if (capture)
            *status = capture->valid ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusInvalidated;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, void*, size_t* n)
{
    return *n = graph->nodes->size(), cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long)
{
    return api([=] {
        require(exec && graph);
        count_allocation();
        *exec = new CUgraphExec_st{*graph};
    });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return api([=] {
        require(exec);
        put(
            stream, [nodes = exec->nodes] { replay(*nodes); }, VIEW_ALL);
    });
}
template <class T> static cudaError_t destroy(T* object)
{
    Lock lock; // streams may still be reading what it consists of: allowed, so it is no race
    delete object;
    return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return destroy(graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return destroy(exec); }
