/* batches.c - the CPU's mini-batches: seeds of a slice, ggnn_sample, rows. Prepared by the threads of whoever asks, a
   slot each; or, to overlap with training, by a crew of threads of the ring's own. */
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/memory.h"
#include "common/progress.h"
#include "ggnn_plan.h"
#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

typedef struct {
    slot shared;      /* first, so that a slot is one of these */
    ggnn_graph graph; /* a slot's own, with traffic of its own */
    ggnn_store features; /* a slot's own, with traffic of its own */
    int64_t* reads;   /* (3, parts + 2) of lists, of rows, and edges of lists; NULL: no one wants them */
    int64_t* edges_read; /* edges of lists in `reads`; NULL: no one counts them */
    ggnn_node* seeds;
    int64_t known;    /* of batch.known */
    ggnn_batch own;   /* batch.blocks as they were, while these lie in a packed batch */
    bool unpacked;    /* batch.blocks lie in a packed batch now */
    void* batch_memory;
    void* table; /* of ids, of the kind that --unique says; NULL: in batch_memory, of the kind that fits the cache */
    ggnn_unique_kind kind; /* of either */
    int64_t table_bytes;
    bool done;        /* by the crew, whose mutex guards it */
} cpu_slot;

typedef struct {
    ring* of;
    pthread_mutex_t lock;
    pthread_cond_t ordered, done;
    slot** queue;     /* (slots) ordered and not begun: [begun, end) modulo slots */
    int64_t begun, end;
    bool quit;
    int32_t threads;  /* that run */
    pthread_t thread[];
} crew;

/* ==== one batch ================================================================================================= */

/* Labelled seeds [from, end) of the pass. Ids first: then the labels' cache misses overlap. */
static int64_t count_known(const ring* r, int64_t from, int64_t end)
{
    enum { PIECE = 256 };
    ggnn_node v[PIECE];
    int64_t known = 0;
    for (; from < end; from += PIECE) {
        int64_t count = end - from < PIECE ? end - from : PIECE;
        for (int64_t i = 0; i < count; i++) v[i] = loader_seed(&r->pass, from + i);
        for (int64_t i = 0; i < count; i++) known += label_known(&r->plan.labels, v[i]);
    }
    return known;
}

/* The slice's seeds; of the global batch's others only how many are labelled. */
static void fill_seeds(const ring* r, cpu_slot* s)
{
    const loader_slice* part = &s->shared.slice;
    const net_labels* labels = &r->plan.labels;
    for (int64_t i = 0; i < part->seeds; i++) s->seeds[i] = loader_slice_seed(&r->pass, part, i);
    s->known = 0;
    if (!labels->label && !labels->target) return;
    if (part->step > 1) {
        s->known = count_known(r, part->global_from, part->global_from + part->global_seeds);
        return;
    }
    for (int64_t i = 0; i < part->seeds; i++) s->known += label_known(labels, s->seeds[i]);
    s->known += count_known(r, part->global_from, part->from);
    s->known += count_known(r, part->from + part->seeds, part->global_from + part->global_seeds);
}

/* Edges by where their lists lay. */
static void count_edges(const cpu_slot* s)
{
    const ggnn_batch* b = &s->shared.batch.blocks;
    for (int32_t h = 0; h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++)
            s->edges_read[ggnn_locate(&s->graph.at, b->hop[h].id[i]).slot] += b->hop[h].indptr[i + 1] - b->hop[h].indptr[i];
}

static void sample(const ring* r, cpu_slot* s)
{
    slot* shared = &s->shared;
    ggnn_batch* blocks = &shared->batch.blocks;
    if (s->unpacked) *blocks = s->own;
    s->unpacked = false;
    fill_seeds(r, s);
    shared->status = ggnn_sample(blocks, &s->graph, &shared->slice.rng, s->seeds, shared->slice.seeds);
    shared->edges = shared->bytes = 0;
    for (int32_t h = 0; h < blocks->num_hops; h++) {
        int64_t edges = *blocks->hop[h].num_edges.n, targets = *blocks->hop[h].num_dst.n;
        shared->edges += edges;
        shared->bytes += loader_hop_bytes(targets, edges);
    }
    if (s->edges_read && shared->status == GGNN_OK) count_edges(s);
}

/* The blocks stay where they are. */
static void unpack(cpu_slot* s, const packed_batch* from)
{
    slot* shared = &s->shared;
    if (!s->unpacked) s->own = shared->batch.blocks;
    s->unpacked = true;
    shared->status = ggnn_batch_unpack(&shared->batch.blocks, from->memory, from->bytes);
    shared->edges = shared->bytes = 0;
    s->known = from->known;
}

static int64_t num_rows(const mini_batch* b) { return *b->blocks.hop[b->blocks.num_hops - 1].num_src.n; }

/* NULL: its rows are looked up. */
static const int64_t* marks_of(const ring* r, const cpu_slot* s)
{
    return r->plan.reads_marks && s->shared.order.packed ? s->shared.order.packed->marks : NULL;
}

static void mark(const ring* r, cpu_slot* s)
{
    const mini_batch* b = &s->shared.batch;
    const ggnn_store* from = &s->features;
    const int64_t* marks = marks_of(r, s);
    for (int64_t i = 0, n = from->traffic ? num_rows(b) : 0; i < n; i++)
        from->traffic[(marks ? ggnn_marked(marks[i]) : ggnn_locate(&from->at, b->blocks.id[i])).slot]++;
}

static void extract(const ring* r, cpu_slot* s)
{
    const mini_batch* b = &s->shared.batch;
    const int64_t* marks = marks_of(r, s);
    ggnn_store quiet = s->features;
    quiet.traffic = NULL; /* its rows are marked */
    s->shared.rows_marked = marks ? num_rows(b) : 0;
    if (marks) ggnn_gather_marked(b->rows, b->ld_rows, GGNN_F32, &quiet, marks, num_rows(b));
    else ggnn_gather(b->rows, b->ld_rows, GGNN_F32, &quiet, b->blocks.id, num_rows(b));
}

static void fill(const ring* r, cpu_slot* s)
{
    slot* shared = &s->shared;
    const packed_batch* packed = shared->order.packed;
    const double start = progress_seconds();
    if (packed) unpack(s, packed);
    else sample(r, s);
    const double filled = progress_seconds();
    shared->sampling = packed ? 0 : filled - start;
    shared->copying = packed ? filled - start : 0;
    shared->marking = shared->extracting = 0;
    shared->rows_marked = 0;
    if (!r->plan.extract || r->plan.exchange || shared->order.bare || shared->status != GGNN_OK) return;
    mark(r, s);
    const double marked = progress_seconds();
    extract(r, s);
    shared->marking = marked - filled;
    shared->extracting = progress_seconds() - marked;
}

/* ==== slots ===================================================================================================== */

static bool take_counters(const loader_plan* plan, cpu_slot* s, error* why)
{
    if (!plan->graph.traffic && !plan->features.traffic) return true;
    const size_t lists = (size_t)plan->graph.at.parts + 2, rows = (size_t)plan->features.at.parts + 2;
    s->reads = memory_new((2 * lists + rows) * sizeof *s->reads, "counts of rows", why);
    if (!s->reads) return false;
    if (plan->graph.traffic) s->graph.traffic = s->reads;
    if (plan->features.traffic) s->features.traffic = s->reads + lists;
    if (plan->edges_read && !ggnn_method_has(plan->how.method, GGNN_METHOD_WALKS)) s->edges_read = s->reads + lists + rows;
    return true;
}

static void add_counts(int64_t* to, int64_t* from, int32_t parts)
{
    for (int32_t p = 0; to && p < parts + 2; p++) {
        to[p] += from[p];
        from[p] = 0;
    }
}

/* What a slot's thread has counted becomes part of the whole. */
static void add_reads(const loader_plan* plan, const cpu_slot* s)
{
    add_counts(plan->graph.traffic, s->graph.traffic, plan->graph.at.parts);
    add_counts(plan->features.traffic, s->features.traffic, plan->features.at.parts);
    if (s->edges_read) add_counts(plan->edges_read, s->edges_read, plan->graph.at.parts);
}

/* The slot's batch, and its table. */
static bool plan_slot(const ring* r, cpu_slot* s, error* why)
{
    const loader_plan* plan = &r->plan;
    const int64_t nodes = plan->graph.num_nodes;
    device_unique* u = &r->device->unique;
    ggnn_batch* shape = &s->shared.shape;
    if (ggnn_batch_plan(shape, &plan->graph, &plan->how, r->seeds, NULL) != GGNN_OK)
        return error_set(why, "a mini-batch of %lld seeds: %s", (long long)r->seeds, shape->fault.what);
    s->kind = u->which == UNIQUE_AUTO ? ggnn_unique_choose(nodes) : device_unique_kind(u, 0, 0);
    const size_t bytes = ggnn_unique_bytes(s->kind, nodes, shape->max_ids);
    if (u->which != UNIQUE_AUTO) {
        s->table = memory_new(bytes, "the ids of a mini-batch", why);
        ggnn_unique* seen = s->table ? ggnn_unique_init(s->table, s->kind, nodes, shape->max_ids) : NULL;
        if (!seen || ggnn_batch_plan(shape, &plan->graph, &plan->how, r->seeds, seen) != GGNN_OK) return false;
    }
    s->table_bytes = (int64_t)bytes;
    u->bytes[s->kind] += s->table_bytes;
    return true;
}

static bool take_slot(const ring* r, cpu_slot* s, error* why)
{
    const loader_plan* plan = &r->plan;
    ggnn_batch* shape = &s->shared.shape;
    mini_batch* b = &s->shared.batch;
    if (!plan_slot(r, s, why)) return false;
    s->batch_memory = memory_new(shape->bytes, "a mini-batch", why);
    s->seeds = memory_new((size_t)r->seeds * sizeof *s->seeds, "seeds of a mini-batch", why);
    if (!s->seeds || ggnn_batch_init(shape, s->batch_memory) != GGNN_OK) return false;
    s->graph = plan->graph;
    s->features = plan->features;
    b->blocks = *shape;
    b->known = (ggnn_count){&s->known, plan->batch};
    if (!take_counters(plan, s, why)) return false;
    if (!plan->extract) return true;
    b->ld_rows = mat_padded(plan->features.width);
    size_t rows = memory_product((size_t)shape->max_ids, (size_t)b->ld_rows, sizeof *b->rows);
    b->rows = memory_new(rows, "rows of a mini-batch", why);
    return b->rows != NULL;
}

slot* cpu_slot_open(ring* r, error* why)
{
    cpu_slot* s = memory_new(sizeof *s, "a slot of the loader", why);
    if (!s) return NULL;
    if (take_slot(r, s, why)) return &s->shared;
    cpu_slot_close(r, &s->shared);
    return NULL;
}

void cpu_slot_close(ring* r, slot* shared)
{
    cpu_slot* s = (cpu_slot*)shared;
    r->device->unique.bytes[s->kind] -= s->table_bytes;
    memory_free(s->table);
    memory_free(s->batch_memory);
    memory_free(s->seeds);
    memory_free(s->reads);
    memory_free(s->shared.batch.rows);
    memory_free(s);
}

/* ==== the crew ================================================================================================== */

static void* work(void* context)
{
    crew* c = context;
#ifdef _OPENMP
    omp_set_num_threads(1);
#endif
    pthread_mutex_lock(&c->lock);
    for (;;) {
        while (c->begun == c->end && !c->quit) pthread_cond_wait(&c->ordered, &c->lock);
        if (c->quit) break;
        cpu_slot* s = (cpu_slot*)c->queue[c->begun++ % c->of->slots];
        pthread_mutex_unlock(&c->lock);
        fill(c->of, s);
        pthread_mutex_lock(&c->lock);
        s->done = true;
        pthread_cond_broadcast(&c->done);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool overlapped(const ring* r) { return r->plan.overlap && !r->device->serial; }

void cpu_ring_size(ring* r)
{
    r->slots = r->group = r->device->threads;
    if (!overlapped(r)) return;
    r->slots *= 2; /* one half is prepared, all at once so that no core falls behind, while the other half trains */
}

bool cpu_ring_open(ring* r, error* why)
{
    if (!overlapped(r)) return true;
    int32_t threads = r->device->threads;
    crew* c = memory_new(sizeof *c + (size_t)threads * sizeof *c->thread, "threads of the loader", why);
    if (!c) return false;
    c->of = r;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->ordered, NULL);
    pthread_cond_init(&c->done, NULL);
    r->own = c;
    c->queue = memory_new((size_t)r->slots * sizeof *c->queue, "orders of the loader", why);
    while (c->queue && c->threads < threads) {
        if (pthread_create(&c->thread[c->threads], NULL, work, c) != 0)
            return error_set(why, "thread %d of %d of the loader cannot be started", (int)c->threads + 1, (int)threads);
        c->threads++;
    }
    return c->queue != NULL;
}

void cpu_ring_close(ring* r)
{
    crew* c = r->own;
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->quit = true;
    pthread_cond_broadcast(&c->ordered);
    pthread_mutex_unlock(&c->lock);
    for (int32_t i = 0; i < c->threads; i++) pthread_join(c->thread[i], NULL);
    pthread_cond_destroy(&c->done);
    pthread_cond_destroy(&c->ordered);
    pthread_mutex_destroy(&c->lock);
    memory_free(c->queue);
    memory_free(c);
    r->own = NULL;
}

/* ==== orders ==================================================================================================== */

typedef struct {
    const ring* of;
    slot* const* slots;
} order;

static void fill_slots(void* context, int64_t begin, int64_t end)
{
    const order* o = context;
    for (int64_t i = begin; i < end; i++) fill(o->of, (cpu_slot*)o->slots[i]);
}

void cpu_prepare(ring* r, slot* const* slots, int32_t count)
{
    crew* c = r->own;
    order now = {r, slots};
    if (!c) {
        parallel_for(count, 1, fill_slots, &now);
        return;
    }
    pthread_mutex_lock(&c->lock);
    for (int32_t i = 0; i < count; i++) {
        ((cpu_slot*)slots[i])->done = false;
        c->queue[c->end++ % r->slots] = slots[i];
    }
    pthread_cond_broadcast(&c->ordered);
    pthread_mutex_unlock(&c->lock);
}

void cpu_wait(ring* r, slot* shared)
{
    crew* c = r->own;
    if (c) {
        pthread_mutex_lock(&c->lock);
        while (!((cpu_slot*)shared)->done) pthread_cond_wait(&c->done, &c->lock);
        pthread_mutex_unlock(&c->lock);
    }
    add_reads(&r->plan, (cpu_slot*)shared);
}

void cpu_count(ring* r, const slot* s, int64_t* rows, int64_t* lists)
{
    (void)r;
    ggnn_count_batch(rows, lists, &s->batch.blocks);
}

size_t cpu_packed_bytes(ring* r, const slot* s)
{
    (void)r;
    return ggnn_batch_packed_bytes(&s->batch.blocks);
}

void cpu_pack(ring* r, slot* s, packed_batch* to)
{
    (void)r;
    ggnn_batch_pack(to->memory, &s->batch.blocks);
    to->known = *s->batch.known.n;
}

int64_t cpu_rows(ring* r, const slot* s)
{
    (void)r;
    return num_rows(&s->batch);
}

void cpu_mark(ring* r, slot* s, int64_t* mark) { ggnn_mark(mark, &r->plan.marks, s->batch.blocks.id, num_rows(&s->batch)); }
