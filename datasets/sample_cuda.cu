// sample_cuda.cu - ggnn_cuda_sample for ggnn-data: memory there and back, as a caller of the header sees it.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"

extern "C" {
#include "datasets/sample_device.h"
}

namespace {

// Everything that was allocated, and the first error; after one, all that follows does nothing.
class device {
public:
    ~device()
    {
        while (count > 0) cudaFree(memory[--count]);
    }
    void check(cudaError_t e)
    {
        if (status == cudaSuccess) status = e;
    }
    void* bytes(size_t n)
    {
        void* at = nullptr;
        if (status != cudaSuccess || n == 0) return nullptr;
        check(cudaMalloc(&at, n));
        if (at) memory[count++] = at;
        return at;
    }
    template <class T> T* send(const T* from, int64_t n) // NULL stays NULL
    {
        if (!from) return nullptr;
        T* at = static_cast<T*>(bytes(static_cast<size_t>(n > 0 ? n : 1) * sizeof(T)));
        if (at && n > 0) check(cudaMemcpy(at, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
        return at;
    }
    template <class T> void fetch(T* to, const T* from, int64_t n)
    {
        if (!to || n <= 0 || status != cudaSuccess) return;
        check(cudaMemcpy(to, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost));
    }
    cudaError_t status = cudaSuccess;

private:
    void* memory[16] = {};
    int   count = 0;
};

ggnn_graph send_graph(device* d, const ggnn_graph* g)
{
    const ggnn_csc& csc = g->whole;
    return ggnn_graph_plain(d->send(csc.indptr, g->num_nodes + 1), d->send(csc.indices, g->num_edges),
                            d->send(csc.weight, g->num_edges), g->num_nodes, g->num_edges);
}

void fetch_batch(device* d, ggnn_batch* to, const ggnn_batch* from)
{
    d->fetch(to->num_seeds.n, from->num_seeds.n, 1);
    to->num_hops = from->num_hops;
    for (int32_t h = 0; h < from->num_hops; h++) {
        ggnn_block*       hop = &to->hop[h];
        const ggnn_block* got = &from->hop[h];
        d->fetch(hop->num_dst.n, got->num_dst.n, 1);
        d->fetch(hop->num_src.n, got->num_src.n, 1);
        d->fetch(hop->num_edges.n, got->num_edges.n, 1);
        d->fetch(hop->indptr, got->indptr, *hop->num_dst.n + 1);
        d->fetch(hop->indices, got->indices, *hop->num_edges.n);
        d->fetch(hop->neighbor, got->neighbor, *hop->num_edges.n);
        d->fetch(hop->position, got->position, *hop->num_edges.n);
        d->fetch(hop->weight, got->weight, *hop->num_edges.n);
        d->fetch(hop->repeats, got->repeats, *hop->num_src.n);
    }
    d->fetch(to->id, from->id, *to->hop[from->num_hops - 1].num_src.n);
    d->fetch(to->seed_local, from->seed_local, *to->num_seeds.n);
}

bool run(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_rng* rng, const ggnn_node* seeds,
         int64_t num_seeds, ggnn_unique_kind kind, error* why)
{
    int devices = 0;
    if (cudaError_t e = cudaGetDeviceCount(&devices)) return error_set(why, "no GPU: %s", cudaGetErrorString(e));
    device           d;
    ggnn_cuda_unique seen = {};
    ggnn_cuda_batch  batch;
    ggnn_graph       graph = send_graph(&d, g);
    const int64_t    ids = b->max_ids;
    int32_t          status = GGNN_OK;
    void*            table = d.bytes(ggnn_cuda_unique_bytes(kind, g->num_nodes, ids));
    const ggnn_rng*  key = d.send(rng, 1);
    const ggnn_node* sent = d.send(seeds, num_seeds);
    if (d.status == cudaSuccess) d.check(ggnn_cuda_unique_init(&seen, kind, g->num_nodes, ids, table, nullptr));
    ggnn_cuda_batch_plan(&batch, g, how, num_seeds, &seen); // as b was
    if (d.status == cudaSuccess) d.check(ggnn_cuda_batch_init(&batch, d.bytes(batch.bytes), nullptr));
    if (d.status == cudaSuccess) d.check(ggnn_cuda_sample(&batch, &graph, key, sent, {nullptr, num_seeds}, nullptr));
    if (d.status == cudaSuccess) d.fetch(&status, batch.status, 1);
    if (d.status == cudaSuccess && status == GGNN_OK) fetch_batch(&d, b, &batch);
    if (d.status != cudaSuccess) return error_set(why, "the device: %s", cudaGetErrorString(d.status));
    if (status != GGNN_OK)
        return error_set(why, "sampling on the device: %s", ggnn_status_string(static_cast<ggnn_status>(status)));
    return true;
}

} // namespace

sample_device* const sample_on_device = run;
