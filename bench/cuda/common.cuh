// common.cuh - what the files of ggnn-bench's CUDA backend share: memory of the device, cases, graphs made on
// it.
//
// One source for a GPU (nvcc) and for the emulator of simt (g++), where sizes are tiny: it shows that
// the bench is right, and its times mean nothing.
#ifndef BENCH_CUDA_COMMON_CUH
#define BENCH_CUDA_COMMON_CUH
#include <functional>
#include <memory>
#include <vector>

#include "bench/bench.h"
#include "ggnn_cuda.cuh"

#ifdef __CUDACC__
constexpr bool EMULATED = false;
#else
constexpr bool EMULATED = true;
#endif

namespace gpu {

using ggnni::launch;
using ggnni::launch_items;
using ggnni::THREADS;
using ggnni::tiles_of;

// ---- the device: backend.cu --------------------------------------------------------------------------

cudaStream_t stream();                                        // all that is measured is put there
bool         good(bench* b, cudaError_t e, const char* what); // false: b->why
int64_t      free_bytes();                                    // of the device, less what others need
int64_t      l2_bytes();
void* take(bench* b, int64_t bytes, const char* what); // zeroed, freed when the entry returns; NULL: b->why
void* take_pinned(bench* b, int64_t bytes, const char* what); // of the host, which kernels may read; zeroed
int   peer(); // another device whose memory this one can read; -1: none
int   linked_devices(); // all, if each can read the memory of each; else 1
void* take_peer(bench* b, int64_t bytes, const char* what);      // of device peer()
bool  copy(bench* b, void* to, const void* from, int64_t bytes); // either way, after all work so far

template <class T> T* make(bench* b, int64_t n, const char* what)
{
    return static_cast<T*>(take(b, n * static_cast<int64_t>(sizeof(T)), what));
}
template <class T> T* send(bench* b, const T* from, int64_t n, const char* what)
{
    T* to = make<T>(b, n, what);
    return to && copy(b, to, from, n * static_cast<int64_t>(sizeof(T))) ? to : nullptr;
}
template <class T>
std::vector<T> fetch(bench* b, const T* from, int64_t n) // zeros on an error, which b->why has
{
    std::vector<T> to(static_cast<size_t>(n));
    copy(b, to.data(), from, n * static_cast<int64_t>(sizeof(T)));
    return to;
}
template <class T> T* own(bench* b, T* thing) // deleted when the entry returns
{
    return bench_defer(
               b, [](void* it) { delete static_cast<T*>(it); }, thing)
               ? thing
               : nullptr;
}

// What is taken after this is given back at the end of its scope, not of the entry.
class scratch {
public:
    explicit scratch(bench* b) : b(b), mark(bench_mark(b)) {}
    scratch(const scratch&) = delete;
    ~scratch() { bench_release(b, mark); }

private:
    bench*  b;
    int32_t mark;
};

// A size: on a GPU, with --quick, in the emulator.
inline int64_t pick(const bench* b, int64_t full, int64_t quick, int64_t tiny)
{
    return EMULATED ? tiny : b->o.quick ? quick : full;
}

// ---- cases ------------------------------------------------------------------------------------------------

typedef std::function<cudaError_t()> work;

// A case that runs w, one host thread; what, work and demands are the caller's to add.
bench_case  case_of(bench* b, work w);
void        name(bench_case* c, const char* format, ...) __attribute__((format(printf, 2, 3)));
inline void demand(bench_case* c, const char* roof, int64_t size, double amount)
{
    for (bench_demand& d : c->demand)
        if (!d.roof) {
            d = {roof, size, amount};
            return;
        }
}
inline double roof(bench* b, const char* name, int64_t size) { return bench_roof(b, name, size, 1); }

// w as one launch of a captured graph, and how many nodes it has; empty on an error.
work captured(bench* b, const work& w, size_t* nodes);

// ---- data on the device: graph.cuh -------------------------------------------------------------------

// In-lists of n nodes, made on the device, the same for a seed: degrees by a power law of exponent 2.5, mean
// `mean`, whatever the id; of a node's neighbours 85 % from its own community of 2,000 ids, low ids more
// often.
struct made_graph {
    ggnn_graph           graph;
    std::vector<int32_t> quantile;                       // of degrees
    double               edges_of(int32_t fanout) const; // of one list, sampled: expected
    double atoms_of(int32_t fanout) const; // 64-byte pieces of a list that sampled edges lie in: expected
};
bool make_graph(bench* b, made_graph* g, int64_t nodes, double mean, bool weighted, uint64_t seed);

struct host_graph { // the same, for the C twin
    std::vector<int64_t>   indptr;
    std::vector<ggnn_node> indices;
    std::vector<float>     weight;
    ggnn_graph             graph;
};
bool fetch_graph(bench* b, host_graph* to, const made_graph& g);

// `rows` targets of `degree` edges each from random ones of `sources` nodes.
bool make_block(bench* b, ggnn_block* block, int64_t rows, int64_t degree, int64_t sources);
struct host_block {
    std::vector<int64_t>   indptr;
    std::vector<int32_t>   indices, edge;
    std::vector<ggnn_node> neighbor;
    int64_t                counts[3];
    ggnn_block             block;
};
bool fetch_block(bench* b, host_block* to, const ggnn_block& from);

bool fill(bench* b, float* x, int64_t n, uint64_t seed);                             // [-1, 1)
bool distinct_ids(bench* b, ggnn_node* id, int64_t n, int64_t below, uint64_t seed); // in random order
bool random_ids(bench* b, ggnn_node* id, int64_t n, int64_t below, uint64_t seed);   // with repeats

// A store of one part over a table on the device.
struct made_store {
    ggnn_store store;
    float*     table;
};
bool make_store(bench* b, made_store* s, int64_t rows, int32_t width, uint64_t seed);

// Pieces of 64 bytes that a row of `bytes` touches, where rows follow one another.
inline double atoms(int64_t bytes)
{
    int64_t step = bytes & -bytes;
    return step >= 64 ? static_cast<double>(bytes / 64) : static_cast<double>(bytes - step) / 64 + 1;
}

} // namespace gpu
#endif
