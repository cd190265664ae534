// batches.cuh - mini-batches on a CUDA device: sampled on a stream of their own, and their rows extracted on another one,
// while batches before train.
//
// A sample waits for the steps asked for before it, one of which read the batch that it overwrites; an extraction waits
// for its sample; a step comes after the host has waited for both: sizes say what to launch. Samples follow one another,
// so that all slots of a ring share one table of ids. A sample's numbers go to the device by begin_sample; the rest is captured.
#ifndef TRAINER_CUDA_BATCHES_CUH
#define TRAINER_CUDA_BATCHES_CUH
#include "trainer/cuda/capture.cuh"

namespace train {

struct sample_state { // what is new in a sample
    ggnn_rng rng;
    int64_t  seeds;
    int64_t  counting, known; // labelled seeds of the global batch: so far, 0 but within a sample; all
};

struct sample_note { // what became of it
    batch_sizes sizes;
    int64_t     status, known;
};

struct note_job {
    const int64_t *ids[GGNN_HOPS_MAX + 1], *edges[GGNN_HOPS_MAX]; // NULL: no such hop
    const int32_t* status;
    sample_state*  state;
    sample_note*   to;
};

// Seeds of a slice and its random numbers; of the global batch only how many are labelled.
struct seeds_job {
    loader_pass   pass;
    loader_slice  slice;
    net_labels    labels;
    sample_state* to;
    ggnn_node*    seed;
};

static GGNNI_KERNEL(48, THREADS) begin_sample(const __grid_constant__ seeds_job s)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        s.to->rng = s.slice.rng;
        s.to->seeds = s.slice.seeds;
    }
    for_items(s.slice.seeds, [&](int64_t i) { s.seed[i] = loader_slice_seed(&s.pass, &s.slice, i); });
    if (s.labels.label || s.labels.target)
        count_labels(&s.to->counting, s.labels, s.slice.global_seeds,
                     [&](int64_t i) { return loader_seed(&s.pass, s.slice.global_from + i); });
}

// Edges by where their lists lay: slots are few, so a block adds up its own first.
static GGNNI_KERNEL(40, THREADS) count_edges(const __grid_constant__ ggnn_block b, const __grid_constant__ ggnn_layout at, int64_t* to)
{
    __shared__ ggnni::slot_counts count;
    count.begin(at.parts + 2);
    for_items(size_of(b.num_dst), [&](int64_t i) {
        atomicAdd(count.n + ggnn_locate(&at, b.id[i]).slot, static_cast<unsigned>(b.indptr[i + 1] - b.indptr[i]));
    });
    count.end(at.parts + 2, to);
}

static GGNNI_KERNEL(40, WARP) note_sample(const __grid_constant__ note_job s)
{
    const int32_t h = static_cast<int32_t>(threadIdx.x);
    if (h <= GGNN_HOPS_MAX) s.to->sizes.ids[h] = s.ids[h] ? *s.ids[h] : 0;
    if (h < GGNN_HOPS_MAX) s.to->sizes.edges[h] = s.edges[h] ? *s.edges[h] : 0;
    if (h > 0) return;
    s.to->status = *s.status;
    s.to->known = s.state->known = s.state->counting;
    s.state->counting = 0;
}

// A packed batch in memory of the host's, whose arrays go to those of a slot.
struct unpack_job {
    struct array {
        const uint32_t* from;
        uint32_t*       to;
        int64_t         words;
    };
    array    of[8 * GGNN_HOPS_MAX + 5];
    int32_t  arrays;
    int64_t  known, *known_to;

    template <class T> void add(T* to, const T* from, int64_t count)
    {
        static_assert(sizeof(T) % sizeof(uint32_t) == 0, "whole words");
        if (!to || !count) return;
        of[arrays++] = {reinterpret_cast<const uint32_t*>(from), reinterpret_cast<uint32_t*>(to),
                        count * static_cast<int64_t>(sizeof(T) / sizeof(uint32_t))};
    }
};

static GGNNI_KERNEL(40, THREADS) unpack_batch(const __grid_constant__ unpack_job job)
{
    for (int32_t a = 0; a < job.arrays; a++)
        for_items(job.of[a].words, [&](int64_t i) { job.of[a].to[i] = job.of[a].from[i]; });
    if (blockIdx.x == 0 && threadIdx.x == 0) *job.known_to = job.known;
}

struct cuda_slot : slot {
    ggnn_cuda_batch own; // the batch that `shape` is a copy of
    sample_state* state;
    sample_note*  note; // the host's, pinned: a kernel writes it
    ggnn_node*    seeds;
    int64_t*      marks; // of a packed batch
    void*         memory;
    cudaEvent_t   begun, sampled, marked, extracted; // the last one stands for all
    repeated      work;
};

struct cuda_ring { // what slots share: the table of ids, as samples follow one another
    ggnn_cuda_unique seen;
    void*            memory;
    int64_t          bytes, above; // of `memory`; of a direct map, above those of a hash table
};

inline cuda_ring& own(ring* r) { return *static_cast<cuda_ring*>(r->own); }

template <class T> bool take_array(device* d, T** to, int64_t count, const char* what, error* why)
{
    *to = static_cast<T*>(device_new(d, static_cast<size_t>(count) * sizeof(T), what, why));
    return *to != nullptr;
}

// A batch with the ring's room. shared NULL: to see how many ids it needs.
inline bool plan_batch(ggnn_cuda_batch* b, const ring* r, const ggnn_cuda_unique* shared, error* why)
{
    ggnn_sampling how = r->plan.how;
    for (int h = 0; h < GGNN_HOPS_MAX; h++) how.max_src[h] = r->room.ids[h + 1];
    for (int h = 0; h < GGNN_HOPS_MAX; h++) how.max_edges[h] = r->room.edges[h];
    return ggnn_cuda_batch_plan(b, &r->plan.graph, &how, r->seeds, shared) == GGNN_OK ||
           error_set(why, "a mini-batch of %lld seeds: %s", static_cast<long long>(r->seeds), b->fault.what);
}

// ==== the ring =============================================================================================

// Where rows are extracted: one batch is sampled beside the extraction of the one before it and the step of the one before
// that. Devices that sample for others (loader_plan.slices) are a stage of their own.
inline void cuda_ring_size(ring* r)
{
    const loader_plan& plan = r->plan;
    r->slots = r->device->serial ? 1 : plan.extract && !plan.exchange && !plan.slices ? 3 : 2;
    r->group = 1;
}

enum { TOGETHER = 32 }; // lanes that look for an id in a cooperative table

inline bool take_table(ring* r, ggnn_unique_kind kind, int64_t ids, error* why)
{
    cuda_ring&     shared = own(r);
    device*        d = r->device;
    device_unique& u = d->unique;
    const int64_t  nodes = r->plan.graph.num_nodes;
    if (!shared.bytes) return error_set(why, "--unique direct: a map of %lld nodes cannot be", static_cast<long long>(nodes));
    shared.memory = device_new(d, static_cast<size_t>(shared.bytes), "the ids of a mini-batch", why);
    if (!shared.memory) return false;
    u.bytes[kind] += shared.bytes;
    u.room -= shared.above;
    if (u.which == UNIQUE_AUTO) u.spare += shared.above;
    cudaError_t e = ggnn_cuda_unique_init(&shared.seen, kind, nodes, ids, shared.memory, own(d).stream);
    if (u.which == UNIQUE_COOPERATIVE) shared.seen.group = TOGETHER;
    return e == cudaSuccess || error_set(why, "a table of ids on the device: %s", cudaGetErrorString(e));
}

inline bool cuda_ring_open(ring* r, error* why)
{
    const int64_t   nodes = r->plan.graph.num_nodes;
    cuda_ring*      shared = new cuda_ring();
    ggnn_cuda_batch batch;
    r->own = shared;
    if (!plan_batch(&batch, r, nullptr, why)) return false;
    const auto    bytes = [&](ggnn_unique_kind k) { return static_cast<int64_t>(ggnn_cuda_unique_bytes(k, nodes, batch.max_ids)); };
    const int64_t direct = bytes(GGNN_UNIQUE_DIRECT), hash = bytes(GGNN_UNIQUE_HASH);
    const ggnn_unique_kind kind = device_unique_kind(&r->device->unique, direct, hash);
    shared->bytes = kind == GGNN_UNIQUE_DIRECT ? direct : hash;
    shared->above = shared->bytes > hash ? shared->bytes - hash : 0;
    return take_table(r, kind, batch.max_ids, why);
}

inline void cuda_ring_close(ring* r)
{
    if (!r->own) return;
    device_unique& u = r->device->unique;
    if (own(r).memory) {
        u.bytes[own(r).seen.kind] -= own(r).bytes;
        u.room += own(r).above;
        if (u.which == UNIQUE_AUTO) u.spare -= own(r).above;
    }
    device_free(r->device, own(r).memory);
    delete &own(r);
    r->own = nullptr;
}

// ==== slots ================================================================================================

inline bool open_slot(ring* r, cuda_slot* s, error* why)
{
    const loader_plan& plan = r->plan;
    device*            d = r->device;
    if (!plan_batch(&s->own, r, &own(r).seen, why)) return false;
    s->memory = device_new(d, s->own.bytes, "a mini-batch", why);
    bool good = s->memory && take_array(d, &s->seeds, r->seeds, "seeds of a mini-batch", why) &&
                take_array(d, &s->state, 1, "numbers of a sample", why);
    if (!good) return false;
    cudaError_t e = cudaMallocHost(&s->note, sizeof *s->note);
    for (cudaEvent_t* event : {&s->begun, &s->sampled, &s->marked, &s->extracted})
        if (e == cudaSuccess) e = cudaEventCreate(event);
    e = first_error(e, cudaMemsetAsync(s->state, 0, sizeof *s->state, own(d).stream));
    e = first_error(e, ggnn_cuda_batch_init(&s->own, s->memory, own(d).stream));
    s->batch.blocks = s->shape = s->own;
    s->batch.known = {&s->state->known, plan.batch};
    if (e != cudaSuccess) return error_set(why, "a mini-batch on the device: %s", cudaGetErrorString(e));
    if (!plan.extract) return true;
    const int64_t rows = s->shape.hop[plan.how.num_hops - 1].num_src.max;
    s->batch.ld_rows = mat_padded(plan.features.width);
    return (!plan.reads_marks || take_array(d, &s->marks, rows, "marks of a mini-batch", why)) &&
           take_array(d, &s->batch.rows, rows * s->batch.ld_rows, "rows of a mini-batch", why);
}

inline void cuda_slot_close(ring* r, slot* shared)
{
    cuda_slot* s = static_cast<cuda_slot*>(shared);
    device*    d = r->device;
    forget(&s->work);
    device_free(d, s->memory);
    device_free(d, s->seeds);
    device_free(d, s->marks);
    device_free(d, s->state);
    device_free(d, s->batch.rows);
    if (s->note) cudaFreeHost(s->note);
    for (cudaEvent_t event : {s->begun, s->sampled, s->marked, s->extracted})
        if (event) cudaEventDestroy(event);
    delete s;
}

inline slot* cuda_slot_open(ring* r, error* why)
{
    cuda_slot* s = new cuda_slot();
    if (open_slot(r, s, why)) return s;
    cuda_slot_close(r, s);
    return nullptr;
}

// ==== orders ===============================================================================================

inline note_job note_of(const ring* r, const cuda_slot* s)
{
    note_job job = {};
    for (int32_t h = 0; h < r->plan.how.num_hops; h++) {
        job.ids[h] = s->shape.hop[h].num_dst.n;
        job.ids[h + 1] = s->shape.hop[h].num_src.n;
        job.edges[h] = s->shape.hop[h].num_edges.n;
    }
    job.status = s->shape.status;
    job.state = s->state;
    job.to = s->note;
    return job;
}

// The sample, and a note of it to the host.
inline void run_sample(ring* r, cuda_slot* s)
{
    const loader_plan& plan = r->plan;
    cudaStream_t       stream = own(r->device).sampling;
    cudaError_t        e = ggnn_cuda_sample(&s->own, &plan.graph, &s->state->rng, s->seeds,
                                            {&s->state->seeds, s->shape.num_seeds.max}, stream);
    const bool lists = !ggnn_method_has(plan.how.method, GGNN_METHOD_WALKS);
    for (int32_t h = 0; plan.edges_read && lists && h < plan.how.num_hops; h++)
        e = first_error(e, launch_items(count_edges, s->shape.hop[h].num_dst.max, stream, s->shape.hop[h],
                                        plan.graph.at, plan.edges_read));
    e = first_error(e, launch(note_sample, 1, WARP, stream, note_of(r, s)));
    check(r->device, e, "sampling");
}

// Is there room for what a packed batch has? One that is sampled finds out by itself.
inline bool holds(const cuda_slot* s)
{
    const packed_batch* packed = s->order.packed;
    bool                fits = true;
    for (int32_t h = 0; packed && h < s->shape.how.num_hops; h++) {
        const ggnn_block& hop = s->shape.hop[h];
        fits = fits && packed->sizes.ids[h] <= hop.num_dst.max && packed->sizes.ids[h + 1] <= hop.num_src.max &&
               packed->sizes.edges[h] <= hop.num_edges.max;
    }
    return fits;
}

// Read where it is, by one kernel: addresses, and so the graph of a step, stay the slot's.
inline cudaError_t unpack(ring* r, cuda_slot* s)
{
    const packed_batch* packed = s->order.packed;
    ggnn_batch          from;
    unpack_job          job = {};
    if (!holds(s)) return cudaSuccess;
    if (ggnn_batch_unpack(&from, packed->memory, packed->bytes) != GGNN_OK) return cudaErrorInvalidValue;
    job.add(s->shape.id, from.id, from.max_ids);
    if (s->marks) job.add(s->marks, packed->marks, packed->marks ? packed->sizes.ids[from.num_hops] : 0);
    job.add(s->shape.seed_local, from.seed_local, from.num_seeds.max);
    job.add(s->shape.num_seeds.n, from.num_seeds.n, 1);
    job.add(s->shape.hop[0].num_dst.n, from.hop[0].num_dst.n, 1);
    for (int32_t h = 0; h < from.num_hops; h++) {
        const ggnn_block &to = s->shape.hop[h], &hop = from.hop[h];
        const int64_t     edges = hop.num_edges.max;
        if (to.num_src.n != to.num_dst.n) job.add(to.num_src.n, hop.num_src.n, 1);
        job.add(to.num_edges.n, hop.num_edges.n, 1);
        job.add(to.indptr, hop.indptr, hop.num_dst.max + 1);
        job.add(to.indices, hop.indices, edges);
        job.add(to.neighbor, hop.neighbor, edges);
        job.add(to.position, hop.position, edges);
        job.add(to.weight, hop.weight, edges);
        job.add(to.repeats, hop.repeats, hop.num_src.max);
    }
    job.known = packed->known;
    job.known_to = &s->state->known;
    return launch_items(unpack_batch, static_cast<int64_t>(packed->bytes / 16), own(r->device).sampling, job);
}

// Blocks that read the host's rows in whole lines, a block a processor; 0: there are none to read, or those who read the
// device's read them too.
inline int32_t host_blocks(const ring* r)
{
    const ggnn_layout& at = r->plan.features.at;
    const int64_t      rows = r->plan.graph.num_nodes;
    int                processors = 0;
    if (!r->plan.features.base || at.stored >= rows || at.cached >= rows) return 0;
    check(r->device, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, r->device->number), "its processors");
    return device_host_processors(r->device, processors);
}

// By ids: ggnni::stored_rows<ggnn_node>; by marks: ggnni::marked_rows.
template <class Rows>
cudaError_t read_rows(const ring* r, cuda_slot* s, const ggnn_store* from, const typename Rows::key* key, ggnn_count n,
                      cudaStream_t stream)
{
    using namespace ggnni;
    const int32_t blocks = host_blocks(r);
    float* const  to = s->batch.rows;
    const int64_t ld = s->batch.ld_rows;
    cudaError_t   e = cudaSuccess;
    if (!blocks) return gather_tier<ALL_TIERS, Rows>(to, ld, GGNN_F32, from, key, n, stream);
    if (from->at.stored > 0 || from->at.cached > 0)
        e = gather_tier<DEVICE_TIERS, Rows>(to, ld, GGNN_F32, from, key, n, stream);
    return first_error(e, gather_tier<HOST_TIER, Rows>(to, ld, GGNN_F32, from, key, n, stream, blocks));
}

inline bool is_marked(const ring* r, const cuda_slot* s)
{
    return r->plan.reads_marks && s->order.packed && s->order.packed->marks;
}

inline cudaError_t count_rows(const ring* r, const cuda_slot* s, ggnn_count n, cudaStream_t stream)
{
    const ggnn_store& f = r->plan.features;
    return is_marked(r, s)
               ? ggnni::count_traffic(ggnni::list_of_marks{s->marks, n}, n.max, f.at, f.traffic, ggnni::ALL_TIERS, stream)
               : ggnni::count_traffic(ggnni::id_list{s->shape.id, n}, n.max, f.at, f.traffic, ggnni::ALL_TIERS, stream);
}

// The rows of the sample, whose number the host does not know yet: marked, then read.
inline cudaError_t extract(ring* r, cuda_slot* s)
{
    const loader_plan& plan = r->plan;
    const ggnn_count   n = s->shape.hop[plan.how.num_hops - 1].num_src;
    const bool         reads = plan.extract && !plan.exchange && !s->order.bare && holds(s);
    ggnn_store         quiet = plan.features;
    cudaStream_t       stream = own(r->device).extracting;
    cudaError_t        e = cudaEventRecord(s->sampled, own(r->device).sampling);
    e = first_error(e, cudaStreamWaitEvent(stream, s->sampled, 0));
    if (reads) e = first_error(e, count_rows(r, s, n, stream));
    e = first_error(e, cudaEventRecord(s->marked, stream));
    quiet.traffic = nullptr;
    if (reads)
        e = first_error(e, is_marked(r, s) ? read_rows<ggnni::marked_rows>(r, s, &quiet, s->marks, n, stream)
                                           : read_rows<ggnni::stored_rows<ggnn_node>>(r, s, &quiet, s->shape.id, n, stream));
    return first_error(e, cudaEventRecord(s->extracted, stream));
}

inline cudaError_t sample(ring* r, cuda_slot* s)
{
    const context& c = own(r->device);
    seeds_job      job = {r->pass, s->slice, r->plan.labels, s->state, s->seeds};
    job.pass.source = nullptr; // the host's
    cudaError_t e = launch_items(begin_sample, s->slice.global_seeds, c.sampling, job);
    return first_error(e, repeat(r->device, &s->work, c.sampling, [=] { run_sample(r, s); }));
}

inline void order_slot(ring* r, cuda_slot* s)
{
    const context& c = own(r->device);
    cudaError_t    e = cudaEventRecord(c.trained, c.stream);
    e = first_error(e, cudaStreamWaitEvent(c.sampling, c.trained, 0));
    e = first_error(e, cudaEventRecord(s->begun, c.sampling));
    e = first_error(e, s->order.packed ? unpack(r, s) : sample(r, s));
    check(r->device, first_error(e, extract(r, s)), "sampling");
}

inline void cuda_prepare(ring* r, slot* const* slots, int32_t count)
{
    for (int32_t i = 0; i < count; i++) order_slot(r, static_cast<cuda_slot*>(slots[i]));
}

inline void cuda_wait(ring* r, slot* shared)
{
    cuda_slot*    s = static_cast<cuda_slot*>(shared);
    const int32_t hops = r->plan.how.num_hops;
    float         sampling = 0, marking = 0, extracting = 0; // milliseconds
    cudaError_t   e = cudaEventSynchronize(s->extracted);
    e = first_error(e, cudaEventElapsedTime(&sampling, s->begun, s->sampled));
    e = first_error(e, cudaEventElapsedTime(&marking, s->sampled, s->marked));
    e = first_error(e, cudaEventElapsedTime(&extracting, s->marked, s->extracted));
    check(r->device, e, "sampling");
    const packed_batch* packed = s->order.packed;
    s->sampling = packed ? 0 : 1e-3 * static_cast<double>(sampling);
    s->copying = packed ? 1e-3 * static_cast<double>(sampling) : 0;
    s->marking = r->plan.extract && r->plan.features.traffic ? 1e-3 * static_cast<double>(marking) : 0;
    s->extracting = r->plan.extract ? 1e-3 * static_cast<double>(extracting) : 0;
    s->sizes = packed ? packed->sizes : s->note->sizes;
    s->rows_marked = is_marked(r, s) ? s->sizes.ids[hops] : 0;
    s->edges = s->bytes = 0;
    for (int h = 0; h < GGNN_HOPS_MAX && !packed; h++) {
        s->edges += s->sizes.edges[h];
        s->bytes += loader_hop_bytes(h < hops ? s->sizes.ids[h] : 0, s->sizes.edges[h]);
    }
    s->shape.num_hops = s->batch.blocks.num_hops = hops;
    s->batch.blocks.fault.node = -1; // the host does not know it
    s->status = static_cast<ggnn_status>(s->note->status);
    if (packed) s->status = holds(s) ? GGNN_OK : GGNN_ERROR_CAPACITY;
}

// On the stream of steps: the next sample in this slot comes after it.
inline void cuda_count(ring* r, const slot* shared, int64_t* rows, int64_t* lists)
{
    check(r->device, ggnn_cuda_count_batch(rows, lists, &shared->shape, own(r->device).stream), "counting reads");
}

inline size_t cuda_packed_bytes(ring*, const slot* shared)
{
    const cuda_slot* s = static_cast<const cuda_slot*>(shared);
    ggnn_cuda_batch  exact = s->own;
    exact.num_seeds.max = s->slice.seeds;
    for (int32_t h = 0; h < exact.how.num_hops; h++) {
        exact.hop[h].num_dst.max = s->sizes.ids[h];
        exact.hop[h].num_src.max = s->sizes.ids[h + 1];
        exact.hop[h].num_edges.max = s->sizes.edges[h];
    }
    return ggnn_cuda_batch_packed_max(&exact);
}

// Written straight to the host, on the stream of steps: a device that packs has none.
inline void cuda_pack(ring* r, slot* shared, packed_batch* to)
{
    cuda_slot*   s = static_cast<cuda_slot*>(shared);
    cudaStream_t stream = own(r->device).stream;
    cudaError_t  e = ggnn_cuda_batch_pack(to->memory, to->bytes, &s->own, stream);
    check(r->device, first_error(e, cudaStreamSynchronize(stream)), "packing a batch");
    to->known = s->note->known;
    to->sizes = s->sizes;
}

inline int64_t cuda_rows(ring* r, const slot* shared) { return shared->sizes.ids[r->plan.how.num_hops]; }

// As a batch is packed.
inline void cuda_mark(ring* r, slot* shared, int64_t* mark)
{
    const cuda_slot* s = static_cast<const cuda_slot*>(shared);
    cudaStream_t     stream = own(r->device).stream;
    cudaError_t      e = ggnn_cuda_mark(mark, &r->plan.marks, s->shape.id, {nullptr, cuda_rows(r, shared)}, stream);
    check(r->device, first_error(e, cudaStreamSynchronize(stream)), "marking rows");
}

} // namespace train
#endif
