/* batches.c - the CPU's mini-batches: seeds of a pass, ggnn_sample. */
#include "common/memory.h"
#include "trainer/cpu/cpu.h"

typedef struct {
    sampler shared;   /* first, so that a sampler is one of these */
    ggnn_graph graph; /* its own, as a thread counts its own traffic */
    ggnn_sampling how;
    ggnn_unique* seen;
    ggnn_node* seeds;
    void *batch_memory, *seen_memory;
} cpu_sampler;

sampler* cpu_sampler_open(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch,
                          const batch_sizes* room, const sampler* beside, error* why)
{
    int64_t max_ids = ggnn_batch_max_ids(graph, how, batch);
    ggnn_unique_kind kind = ggnn_unique_choose(graph->num_nodes);
    size_t bytes = ggnn_batch_bytes(graph, how, batch);
    (void)d;
    (void)room;
    (void)beside;
    if (bytes == 0) {
        error_set(why, "a mini-batch of %lld seeds could have 2^31 sources or edges", (long long)batch);
        return NULL;
    }
    cpu_sampler* s = memory_new(sizeof *s, "a sampler", why);
    if (!s) return NULL;
    s->graph = *graph;
    s->how = *how;
    s->batch_memory = memory_new(bytes, "a mini-batch", why);
    s->seen_memory = memory_new(ggnn_unique_bytes(kind, graph->num_nodes, max_ids), "the ids of a mini-batch", why);
    s->seeds = memory_new((size_t)batch * sizeof *s->seeds, "seeds of a mini-batch", why);
    if (s->batch_memory && s->seen_memory && s->seeds) {
        s->seen = ggnn_unique_init(s->seen_memory, kind, graph->num_nodes, max_ids);
        if (ggnn_batch_init(&s->shared.shape, graph, how, batch, s->batch_memory) == GGNN_OK) {
            s->shared.batch = s->shared.shape;
            return &s->shared;
        }
    }
    cpu_sampler_close(&s->shared);
    return NULL;
}

void cpu_sampler_close(sampler* shared)
{
    cpu_sampler* s = (cpu_sampler*)shared;
    if (!s) return;
    memory_free(s->batch_memory);
    memory_free(s->seen_memory);
    memory_free(s->seeds);
    memory_free(s);
}

void cpu_sample(sampler* shared, const loader_pass* pass, const ggnn_node* ids, int64_t from, int64_t seeds,
                ggnn_rng rng)
{
    cpu_sampler* s = (cpu_sampler*)shared;
    ggnn_batch* b = &shared->batch;
    for (int64_t k = 0; k < seeds; k++) s->seeds[k] = loader_seed(pass, ids, from + k);
    shared->status = ggnn_sample(b, s->seen, &s->graph, &s->how, &rng, s->seeds, seeds);
    shared->edges = shared->bytes = 0;
    for (int32_t h = 0; h < b->num_hops; h++) {
        int64_t edges = *b->hop[h].num_edges.n, targets = *b->hop[h].num_dst.n;
        shared->edges += edges;
        shared->bytes += edges * (int64_t)(2 * sizeof(ggnn_node)) + targets * (int64_t)(3 * sizeof(int64_t));
    }
}

ggnn_status cpu_sampler_wait(sampler* s) { return s->status; }
