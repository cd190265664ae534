// batches.cuh - mini-batches on a CUDA device: sampled on a stream of their own, while the batch before trains.
//
// A sample waits for the steps asked for before it, one of which read the batch that it overwrites; a step comes
// after the host has waited for its sample, whose sizes say what to launch. Samples follow one another, so that all
// samplers of a loader share one table of ids. A sample's numbers go to the device by begin_sample; the rest is
// captured.
#ifndef TRAINER_CUDA_BATCHES_CUH
#define TRAINER_CUDA_BATCHES_CUH
#include "trainer/cuda/capture.cuh"

namespace train {

struct sample_state { // what is new in a sample
    ggnn_rng rng;
    int64_t  seeds;
};

struct sample_note { // what became of it
    batch_sizes sizes;
    int64_t     status;
};

struct note_job {
    const int64_t *ids[GGNN_HOPS_MAX + 1], *edges[GGNN_HOPS_MAX]; // NULL: no such hop
    const int32_t* status;
    sample_note*   to;
};

// Seeds [from, from + n) of a pass of num_ids, and the batch's random numbers.
static GGNNI_KERNEL(40, THREADS)
    begin_sample(sample_state* to, ggnn_rng rng, ggnn_node* seed, const ggnn_node* ids, int64_t num_ids,
                 uint32_t epoch, bool shuffled, int64_t from, int64_t n)
{
    loader_pass pass = {};
    pass.num_ids = num_ids;
    pass.epoch = epoch;
    pass.shuffled = shuffled;
    pass.rng = rng;
    if (blockIdx.x == 0 && threadIdx.x == 0) *to = {rng, n};
    for_items(n, [&](int64_t i) { seed[i] = loader_seed(&pass, ids, from + i); });
}

static GGNNI_KERNEL(40, WARP) note_sample(const __grid_constant__ note_job s)
{
    const int32_t h = static_cast<int32_t>(threadIdx.x);
    if (h <= GGNN_HOPS_MAX) s.to->sizes.ids[h] = s.ids[h] ? *s.ids[h] : 0;
    if (h < GGNN_HOPS_MAX) s.to->sizes.edges[h] = s.edges[h] ? *s.edges[h] : 0;
    if (h == 0) s.to->status = *s.status;
}

struct cuda_sampler : sampler {
    device*          place;
    ggnn_graph       graph;
    ggnn_sampling    how;
    ggnn_cuda_unique seen;
    sample_state*    state;
    sample_note *    note, *known; // on the device; its copy, pinned
    ggnn_node*       seeds;
    void *           batch_memory, *seen_memory; // NULL: another sampler's
    cudaEvent_t      sampled;
    repeated         work;
};

inline void sampler_close(sampler* shared)
{
    cuda_sampler* s = static_cast<cuda_sampler*>(shared);
    if (!s) return;
    forget(&s->work);
    device_free(s->place, s->batch_memory);
    device_free(s->place, s->seen_memory);
    device_free(s->place, s->seeds);
    device_free(s->place, s->state);
    device_free(s->place, s->note);
    if (s->known) cudaFreeHost(s->known);
    if (s->sampled) cudaEventDestroy(s->sampled);
    delete s;
}

template <class T> bool take_array(device* d, T** to, int64_t count, const char* what, error* why)
{
    *to = static_cast<T*>(device_new(d, static_cast<size_t>(count) * sizeof(T), what, why));
    return *to != nullptr;
}

// The table of ids: another sampler's, or its own; a direct map where that takes at most 1 GB.
inline bool open_seen(cuda_sampler* s, const sampler* beside, int64_t ids, error* why)
{
    const int64_t          nodes = s->graph.num_nodes;
    const ggnn_unique_kind kind = nodes < INT64_C(1) << 27 ? GGNN_UNIQUE_DIRECT : GGNN_UNIQUE_HASH;
    if (beside) s->seen = static_cast<const cuda_sampler*>(beside)->seen;
    if (beside) return true;
    s->seen_memory = device_new(s->place, ggnn_cuda_unique_bytes(kind, nodes, ids), "the ids of a mini-batch", why);
    if (!s->seen_memory) return false;
    cudaError_t e = ggnn_cuda_unique_init(&s->seen, kind, nodes, ids, s->seen_memory, own(s->place).stream);
    return e == cudaSuccess || error_set(why, "a table of ids on the device: %s", cudaGetErrorString(e));
}

inline bool open_sampler(cuda_sampler* s, int64_t batch, const batch_sizes* room, const sampler* beside, error* why)
{
    ggnn_cuda_capacity most = {};
    for (int h = 0; h < GGNN_HOPS_MAX; h++) most.src[h] = room->ids[h + 1];
    for (int h = 0; h < GGNN_HOPS_MAX; h++) most.edges[h] = room->edges[h];
    const size_t bytes = ggnn_cuda_batch_bytes(&s->graph, &s->how, batch, &most);
    if (!bytes)
        return error_set(why, "a mini-batch of %lld seeds could have 2^31 sources or edges",
                         static_cast<long long>(batch));
    s->batch_memory = device_new(s->place, bytes, "a mini-batch", why);
    bool good = s->batch_memory && take_array(s->place, &s->seeds, batch, "seeds of a mini-batch", why) &&
                take_array(s->place, &s->state, 1, "numbers of a sample", why) &&
                take_array(s->place, &s->note, 1, "sizes of a sample", why) &&
                open_seen(s, beside, ggnn_cuda_batch_max_ids(&s->graph, &s->how, batch, &most), why);
    if (!good) return false;
    cudaError_t e = cudaMallocHost(&s->known, sizeof *s->known);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&s->sampled, cudaEventDisableTiming);
    e = first_error(e, ggnn_cuda_batch_init(&s->shape, &s->graph, &s->how, batch, &most, s->batch_memory,
                                            own(s->place).stream));
    s->batch = s->shape;
    return e == cudaSuccess || error_set(why, "a mini-batch on the device: %s", cudaGetErrorString(e));
}

inline sampler* sampler_open(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch,
                             const batch_sizes* room, const sampler* beside, error* why)
{
    cuda_sampler* s = new cuda_sampler();
    s->place = d;
    s->graph = *graph;
    s->how = *how;
    if (open_sampler(s, batch, room, beside, why)) return s;
    sampler_close(s);
    return nullptr;
}

inline note_job note_of(const cuda_sampler* s)
{
    note_job job = {};
    for (int32_t h = 0; h < s->how.num_hops; h++) {
        job.ids[h] = s->shape.hop[h].num_dst.n;
        job.ids[h + 1] = s->shape.hop[h].num_src.n;
        job.edges[h] = s->shape.hop[h].num_edges.n;
    }
    job.status = s->shape.status;
    job.to = s->note;
    return job;
}

// The sample, and a note of it on its way to the host.
inline void run_sample(cuda_sampler* s)
{
    cudaStream_t stream = own(s->place).sampling;
    cudaError_t  e = ggnn_cuda_sample(&s->shape, &s->seen, &s->graph, &s->how, &s->state->rng, s->seeds,
                                      {&s->state->seeds, s->shape.num_seeds.max}, stream);
    e = first_error(e, launch(note_sample, 1, WARP, stream, note_of(s)));
    e = first_error(e, cudaMemcpyAsync(s->known, s->note, sizeof *s->note, cudaMemcpyDeviceToHost, stream));
    check(s->place, e, "sampling");
}

inline void sample(sampler* shared, const loader_pass* pass, const ggnn_node* ids, int64_t from, int64_t seeds,
                   ggnn_rng rng)
{
    cuda_sampler*  s = static_cast<cuda_sampler*>(shared);
    const context& c = own(s->place);
    cudaError_t    e = cudaEventRecord(c.trained, c.stream);
    e = first_error(e, cudaStreamWaitEvent(c.sampling, c.trained, 0));
    e = first_error(e, launch(begin_sample, blocks_of(seeds), THREADS, c.sampling, s->state, rng, s->seeds, ids,
                              pass->num_ids, pass->epoch, pass->shuffled, from, seeds));
    e = first_error(e, repeat(s->place, &s->work, c.sampling, [=] { run_sample(s); }));
    check(s->place, first_error(e, cudaEventRecord(s->sampled, c.sampling)), "sampling");
}

inline ggnn_status sampler_wait(sampler* shared)
{
    cuda_sampler* s = static_cast<cuda_sampler*>(shared);
    check(s->place, cudaEventSynchronize(s->sampled), "sampling");
    s->sizes = s->known->sizes;
    s->edges = s->bytes = 0;
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        s->edges += s->sizes.edges[h];
        s->bytes += s->sizes.edges[h] * static_cast<int64_t>(2 * sizeof(ggnn_node));
        if (h < s->how.num_hops) s->bytes += s->sizes.ids[h] * static_cast<int64_t>(3 * sizeof(int64_t));
    }
    s->shape.num_hops = s->batch.num_hops = s->how.num_hops;
    return static_cast<ggnn_status>(s->known->status);
}

} // namespace train
#endif
