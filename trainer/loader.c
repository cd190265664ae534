#include "trainer/loader.h"

#include <string.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/parallel.h"

typedef struct { /* what one thread works on */
    ggnn_graph graph; /* its own, as a thread counts its own traffic */
    ggnn_batch batch;
    ggnn_unique* seen;
    ggnn_node* seeds;
    ggnn_status status;
    void *batch_memory, *seen_memory;
} slot;

struct loader {
    ggnn_sampling how;
    int64_t batch;
    int32_t slots;
    slot* slot;
    loader_pass pass;
    int64_t batches; /* of the pass */
    int64_t next;    /* to hand out, of the pass; */
    int64_t ready;   /* those before it are prepared: [ready - slots, ready) or fewer */
    int64_t first;   /* the batch in slot 0 */
    loader_cost cost;
};

static bool open_slot(loader* l, slot* s, const ggnn_graph* graph, error* why)
{
    int64_t max_ids = ggnn_batch_max_ids(graph, &l->how, l->batch);
    ggnn_unique_kind kind = ggnn_unique_choose(graph->num_nodes);
    size_t bytes = ggnn_batch_bytes(graph, &l->how, l->batch);
    if (bytes == 0)
        return error_set(why, "a mini-batch of %lld seeds could have 2^31 sources or edges", (long long)l->batch);
    s->graph = *graph;
    s->batch_memory = memory_new(bytes, "a mini-batch", why);
    s->seen_memory = memory_new(ggnn_unique_bytes(kind, graph->num_nodes, max_ids), "the ids of a mini-batch", why);
    s->seeds = memory_new((size_t)l->batch * sizeof *s->seeds, "seeds of a mini-batch", why);
    if (!s->batch_memory || !s->seen_memory || !s->seeds) return false;
    s->seen = ggnn_unique_init(s->seen_memory, kind, graph->num_nodes, max_ids);
    return ggnn_batch_init(&s->batch, graph, &l->how, l->batch, s->batch_memory) == GGNN_OK;
}

loader* loader_create(const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch, int32_t slots, error* why)
{
    loader* l = memory_new(sizeof *l, "the loader", why);
    if (!l) return NULL;
    l->how = *how;
    l->batch = batch;
    l->slots = slots;
    l->slot = memory_new((size_t)slots * sizeof *l->slot, "the loader's batches", why);
    bool good = l->slot != NULL;
    for (int32_t i = 0; good && i < slots; i++) good = open_slot(l, &l->slot[i], graph, why);
    if (good) return l;
    loader_free(l);
    return NULL;
}

void loader_free(loader* l)
{
    if (!l) return;
    for (int32_t i = 0; l->slot && i < l->slots; i++) {
        memory_free(l->slot[i].batch_memory);
        memory_free(l->slot[i].seen_memory);
        memory_free(l->slot[i].seeds);
    }
    memory_free(l->slot);
    memory_free(l);
}

const ggnn_batch* loader_shape(const loader* l) { return &l->slot[0].batch; }
loader_cost loader_cost_of(const loader* l) { return l->cost; }

int64_t loader_batches(const loader* l, const loader_pass* pass) { return (pass->num_ids + l->batch - 1) / l->batch; }

void loader_begin(loader* l, const loader_pass* pass, int64_t first)
{
    l->pass = *pass;
    l->batches = loader_batches(l, pass);
    l->next = l->ready = l->first = first;
}

static ggnn_node seed_of(const loader_pass* pass, int64_t i)
{
    int64_t at = pass->shuffled ? ggnn_shuffle(pass->rng.seed, pass->epoch, i, pass->num_ids) : i;
    return pass->ids ? pass->ids[at] : (ggnn_node)at;
}

/* Prepares batches [l->first + begin, l->first + end) of the pass. */
static void prepare(void* context, int64_t begin, int64_t end)
{
    loader* l = context;
    for (int64_t i = begin; i < end; i++) {
        slot* s = &l->slot[i];
        int64_t from = (l->first + i) * l->batch, left = l->pass.num_ids - from;
        int64_t seeds = left < l->batch ? left : l->batch;
        ggnn_rng rng = l->pass.rng;
        if (l->pass.keyed) rng.step += (uint32_t)(l->first + i);
        for (int64_t k = 0; k < seeds; k++) s->seeds[k] = seed_of(&l->pass, from + k);
        s->status = ggnn_sample(&s->batch, s->seen, &s->graph, &l->how, &rng, s->seeds, seeds);
    }
}

static void count_cost(loader* l, const ggnn_batch* b)
{
    for (int32_t h = 0; h < b->num_hops; h++) {
        int64_t edges = *b->hop[h].num_edges.n, targets = *b->hop[h].num_dst.n;
        l->cost.edges += edges;
        l->cost.bytes += edges * (int64_t)(2 * sizeof(ggnn_node)) + targets * (int64_t)(3 * sizeof(int64_t));
    }
}

static void prepare_next(loader* l)
{
    double start = progress_seconds();
    int64_t left = l->batches - l->next, count = left < l->slots ? left : l->slots;
    l->first = l->next;
    l->ready = l->next + count;
    parallel_for(count, 1, prepare, l);
    for (int64_t i = 0; i < count; i++) count_cost(l, &l->slot[i].batch);
    l->cost.seconds += progress_seconds() - start;
}

const ggnn_batch* loader_next(loader* l, error* why)
{
    if (l->next >= l->batches) return NULL;
    if (l->next == l->ready) prepare_next(l);
    slot* s = &l->slot[l->next - l->first];
    l->next++;
    if (s->status == GGNN_OK) return &s->batch;
    error_set(why, "sampling the neighbours of node %lld: %s (ggnn-data verify checks the whole file)",
              (long long)s->batch.bad, ggnn_status_string(s->status));
    l->next = l->batches;
    return NULL;
}
