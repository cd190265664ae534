// capture.cuh - work that is given to a stream again and again: by its launches the first time, by which every
// kernel is loaded and cuBLAS has made its choices; captured the second time; then one graph launch each time.
//
// A graph repeats what it was captured with: pointers, bounds, grids. A step's graph therefore belongs to one batch's
// memory and bounds, of which a loader has few (loader.h), to one set of labels, and to the net's memory as it is laid
// out now. What is new from step to step is read from the device's memory by the kernels. What happens once, a last
// batch that is shorter, is never captured. Where a capture fails, and on a `plain` device, everything is launched as
// the first time: the same kernels over the same grids, so the same bits.
#ifndef TRAINER_CUDA_CAPTURE_CUH
#define TRAINER_CUDA_CAPTURE_CUH
#include <cstring>

#include "trainer/cuda/device.cuh"

namespace train {

struct repeated {
    cudaGraphExec_t graph; // NULL: not captured
    int64_t         times;
};

inline void forget(repeated* r)
{
    if (r->graph) cudaGraphExecDestroy(r->graph);
    *r = {};
}

// NULL where it cannot be: what the capture's calls had to complain of is of no account then.
template <class F> cudaGraphExec_t capture(device* d, cudaStream_t stream, F work)
{
    const error     before = d->failed;
    cudaGraph_t     graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess) {
        work();
        cudaError_t e = cudaStreamEndCapture(stream, &graph);
        if (e == cudaSuccess && cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) exec = nullptr;
        if (graph) cudaGraphDestroy(graph);
    }
    if (exec) return exec;
    cudaGetLastError();
    d->failed = before;
    return nullptr;
}

// work() gives its launches to the stream; what else it does is done the first time, and again where it is launched.
template <class F> cudaError_t repeat(device* d, repeated* r, cudaStream_t stream, F work)
{
    if (r->times++ == 1 && !d->plain) r->graph = capture(d, stream, work);
    d->replayed += r->graph != nullptr;
    d->launched += r->graph == nullptr;
    if (r->graph) return cudaGraphLaunch(r->graph, stream);
    work();
    return cudaSuccess;
}

// ==== a net's steps ========================================================================================

struct step_graph {
    ggnn_batch batch;
    net_labels labels;
    repeated   work;
};

struct step_graphs {
    enum { MOST = 64 };
    int64_t    count;
    step_graph of[MOST];
};

static_assert(sizeof(ggnn_block) == 6 * sizeof(int64_t) + 8 * sizeof(void*), "no padding: compared by its bytes");

inline bool same_step(const step_graph& a, const ggnn_batch& b, const net_labels& labels)
{
    return a.batch.id == b.id && a.batch.num_hops == b.num_hops && memcmp(a.batch.hop, b.hop, sizeof b.hop) == 0 &&
           a.labels.label == labels.label && a.labels.target == labels.target;
}

inline void forget_steps(step_graphs* all)
{
    for (int64_t i = 0; i < all->count; i++) forget(&all->of[i].work);
    all->count = 0;
}

// The step over this batch; a new one where there is none. Where there is no room for it, all begin anew.
inline repeated* find_step(step_graphs* all, const ggnn_batch& batch, const net_labels& labels)
{
    for (int64_t i = 0; i < all->count; i++)
        if (same_step(all->of[i], batch, labels)) return &all->of[i].work;
    if (all->count == step_graphs::MOST) forget_steps(all);
    step_graph* s = &all->of[all->count++];
    *s = {batch, labels, {}};
    return &s->work;
}

} // namespace train
#endif
