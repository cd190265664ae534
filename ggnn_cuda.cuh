// ggnn_cuda.cuh - v0.1.0 - the CUDA twin of ggnn.h: graph sampling and GNN kernels on a GPU
//
// The same functions as ggnn.h, section by section, with the same argument names and the same results:
// integers bit for bit, floats equal or within what each function says. ggnn_cuda_x(..., stream) does what
// ggnn_x(...) does. This text says only what differs; the contracts are ggnn.h's.
//
// In any .cu file:
//     #include "ggnn_cuda.cuh"
// C++17, nvcc 12 or 13, sm_80 and up. Needs the CUDA Toolkit alone: runtime, cuRAND's Philox, CUB.
// ggnn.h's own implementation (GGNN_IMPLEMENTATION in one file) is not needed for the kernels.
//
// HOW ALL FUNCTIONS WORK
//   They put kernels on the caller's stream and return: no allocation, no synchronisation, no other stream; so
//   any of them can be captured in a CUDA graph. They return what the launches returned, cudaErrorInvalidValue
//   for an argument that ggnn.h would refuse.
//   Structs (ggnn_graph, ggnn_store, ggnn_block, ggnn_batch) are the host's; the arrays they point to are the
//   device's, and so is *n of every ggnn_count: a size that a kernel computes is read by the next kernel and
//   never by the host. max of a count sizes the grid. n NULL: max is the size.
//   What changes from step to step (seed, step) is read from device memory too: ggnn_rng is passed by device
//   pointer, so that a captured graph can be launched again for the next step.
//   What goes wrong on the device (an id out of range, a capacity too small) is written to a status word, the
//   first to come wins, and the work goes on with less: no wild read or write. The host looks when it likes.
//
// OPTIONS (define before including)
//   GGNN_NO_CURAND   Philox from ggnn.h instead of cuRAND's device header: the same words
//   and those of ggnn.h
//
// CONTENTS
//   [1] BASE   [2] RANDOM   [4] SAMPLE   [5] UNIQUE   [6] BLOCK   [7] STORE   [8] SPARSE   [9] ATTENTION
//
// LICENSE: MIT, at the end of this file.

#ifndef GGNN_CUDA_CUH
#define GGNN_CUDA_CUH

#include "ggnn.h"

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_runtime.h>
#ifndef GGNN_NO_CURAND
#include <curand_philox4x32_x.h>
#endif

// =============================================================================
// ==== [1] BASE: launches, sizes on the device, status, division, tile sums
// =============================================================================

namespace ggnni {

enum { THREADS = 256, WARP = 32 };
constexpr unsigned ALL_LANES = 0xffffffffu;

// All launches go through here: <<<>>> is not C++, and one place decides how they are made. No block, no launch.
template <class... P, class... A>
inline cudaError_t launch(void (*kernel)(P...), int64_t blocks, int threads, cudaStream_t stream, A... args)
{
    cudaLaunchConfig_t config = {};
    if (blocks <= 0) return cudaSuccess;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
}

// The first of several launches that failed decides.
inline cudaError_t first_error(cudaError_t a, cudaError_t b) { return a != cudaSuccess ? a : b; }

// Blocks for `tiles` tiles of work: as many as are resident at once, each of which then takes tile blockIdx.x,
// blockIdx.x + gridDim.x, ... as long as the size on the device has it.
inline int64_t grid_of(int64_t tiles, int threads)
{
    int device = 0, processors = 1;
    if (cudaGetDevice(&device) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device) != cudaSuccess) return 0;
    int64_t resident = static_cast<int64_t>(processors) * (2048 / threads);
    return tiles < resident ? tiles : resident;
}

inline int64_t tiles_of(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

// A size: on the device where a kernel computed it, never above what the arrays hold.
__device__ inline int64_t size_of(ggnn_count count)
{
    int64_t n = count.n ? *count.n : count.max;
    return n < count.max ? n : count.max;
}

// Writes down what went wrong, unless something has before.
__device__ inline void report(int32_t* status, ggnn_status what)
{
    if (status) atomicCAS(status, static_cast<int32_t>(GGNN_OK), static_cast<int32_t>(what));
}

// t / by without a division: exact while t * by < 2^64.
struct divider {
    uint64_t magic;
    int64_t  by;
};
inline divider divide_by(int64_t by)
{
    divider d = {by > 1 ? UINT64_MAX / static_cast<uint64_t>(by) + 1 : 0, by};
    return d;
}
__device__ inline int64_t quotient(int64_t t, divider d)
{
    return d.by > 1 ? static_cast<int64_t>(__umul64hi(static_cast<uint64_t>(t), d.magic)) : t;
}

} // namespace ggnni

// =============================================================================
// ==== [2] RANDOM
// =============================================================================
// ggnn_random, ggnn_draw, ggnn_bounded, ggnn_shuffle and all that decides an integer are ggnn.h's own inline
// functions. Kernels take Philox from cuRAND, whose words are the same, so that a vendor's fix or speed-up of
// it is theirs too.

namespace ggnni {

__device__ inline ggnn_words random_words(const ggnn_rng& rng, int32_t hop, int64_t node, uint32_t block)
{
#ifdef GGNN_NO_CURAND
    return ggnn_random(&rng, hop, node, block);
#else
    uint64_t stream = ggnn_stream(rng.purpose, hop, node);
    uint4    c = make_uint4(block, rng.step, static_cast<unsigned>(stream), static_cast<unsigned>(stream >> 32));
    uint4    w = curand_Philox4x32_10(
        c, make_uint2(static_cast<unsigned>(rng.seed), static_cast<unsigned>(rng.seed >> 32)));
    ggnn_words words = {{w.x, w.y, w.z, w.w}};
    return words;
#endif
}

// Draw j of a node's stream, in [0, n).
__device__ inline int64_t draw_below(const ggnn_rng& rng, int32_t hop, int64_t node, int64_t j, int64_t n)
{
    return ggnn_bounded(ggnn_draw(random_words(rng, hop, node, static_cast<uint32_t>(j / 2)), j), n);
}

} // namespace ggnni

// =============================================================================
// ==== [4] SAMPLE
// =============================================================================

namespace ggnni {

// One hop as a sampling kernel sees it: where each target's edges go is known (indptr), what they are is not.
// All pointers but g's and rng's fields are on the device; passed by value.
struct hop_job {
    ggnn_graph       g;         // part, at.rank, at.bound: on the device; traffic NULL
    ggnn_method      method;    //
    int32_t          fanout;    //
    int32_t          hop;       //
    const ggnn_rng*  rng;       //                  read when the kernel runs
    const ggnn_node* target;    // (num_dst)        global ids
    ggnn_count       num_dst;   //
    const int64_t*   indptr;    // (num_dst + 1)    target i takes edges [indptr[i], indptr[i+1])
    ggnn_node*       id;        // (max_edges)      overwritten: neighbours taken
    int64_t*         position;  // (max_edges)      overwritten: in the graph's edge order; or NULL
    float*           weight;    // (max_edges)      overwritten; or NULL
    int64_t          max_edges; //                  edges from there on are not written: capacity
    int32_t*         status;    //                  sticky; or NULL
};

// Writes edge e of a target: entry `offset` of its list. An id out of range is reported and becomes the target.
__device__ inline void put_edge(const hop_job& job, int64_t e, const ggnn_list& list, int64_t offset,
                                ggnn_node target)
{
    ggnn_node id = list.id[offset];
    if (e >= job.max_edges) return;
    if (id < 0 || id >= job.g.num_nodes) {
        report(job.status, GGNN_ERROR_ID);
        id = target;
    }
    job.id[e] = id;
    if (job.position) job.position[e] = list.position + offset;
    if (job.weight) job.weight[e] = list.weight ? list.weight[offset] : 1.0f;
}

} // namespace ggnni

// =============================================================================
// ==== [5] UNIQUE
// =============================================================================

// =============================================================================
// ==== [6] BLOCK
// =============================================================================

// =============================================================================
// ==== [7] STORE
// =============================================================================

// =============================================================================
// ==== [8] SPARSE
// =============================================================================

// =============================================================================
// ==== [9] ATTENTION
// =============================================================================

#endif // GGNN_CUDA_CUH

/* LICENSE
MIT License

Copyright (c) 2026 The ggnn authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
