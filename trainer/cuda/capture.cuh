// capture.cuh - work that is given to a stream again and again: by its launches the first time, by which every
// kernel is loaded and cuBLAS has made its choices; captured the second time; then one graph launch each time.
//
// A graph repeats what it was captured with: pointers, bounds, grids. A step's graph therefore belongs to one batch's
// memory and bounds, of which a loader has few (loader.h), and to the net's memory as it is laid
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
    bool            refused; // the capture failed
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
    if (!r->graph && r->times > 0 && !d->plain && !r->refused) {
        r->graph = capture(d, stream, work);
        r->refused = !r->graph;
    }
    r->times++;
    const bool replay = r->graph && !d->plain;
    d->replayed += replay;
    d->launched += !replay;
    if (replay) return cudaGraphLaunch(r->graph, stream);
    work();
    return cudaSuccess;
}

// ==== a net's steps ========================================================================================

struct step_graph { // forward and backward over one batch's memory and bounds
    mini_batch batch;
    repeated   work;
};

struct step_graphs {
    enum { MOST = 64 };
    int64_t    count;
    step_graph of[MOST];
};

static_assert(offsetof(ggnn_block, bipartite) == 6 * sizeof(int64_t) + 8 * sizeof(void*), "no padding: compared by its bytes");

inline bool same_block(const ggnn_block& a, const ggnn_block& b)
{
    return memcmp(&a, &b, offsetof(ggnn_block, bipartite)) == 0 && a.bipartite == b.bipartite;
}

inline bool same_step(const mini_batch& a, const mini_batch& b)
{
    bool same = a.blocks.id == b.blocks.id && a.blocks.num_hops == b.blocks.num_hops && a.known.n == b.known.n &&
                a.known.max == b.known.max && a.rows == b.rows;
    for (int32_t h = 0; same && h < b.blocks.num_hops; h++) same = same_block(a.blocks.hop[h], b.blocks.hop[h]);
    return same;
}

inline void forget_steps(step_graphs* all)
{
    for (int64_t i = 0; i < all->count; i++) forget(&all->of[i].work);
    all->count = 0;
}

// The step over this batch; a new one where there is none. Where there is no room for it, all begin anew.
inline repeated* find_step(step_graphs* all, const mini_batch& batch)
{
    for (int64_t i = 0; i < all->count; i++)
        if (same_step(all->of[i].batch, batch)) return &all->of[i].work;
    if (all->count == step_graphs::MOST) forget_steps(all);
    step_graph* s = &all->of[all->count++];
    *s = {batch, {}};
    return &s->work;
}

} // namespace train
#endif
