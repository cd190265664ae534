#include "trainer/loader.h"

#include <stdio.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/ops.h"
#include "trainer/cpu/parallel.h"

enum { MEASURED = 4, SLACK = 2, GUESS = 1 << 16 }; /* batches; levels above them; ids and edges before that */

struct loader {
    device* device;
    ggnn_graph graph;
    ggnn_sampling how;
    int64_t batch;
    int32_t slots;
    sampler** slot;
    loader_pass pass;
    ggnn_node* ids;  /* of the pass, where the device does not read the host's */
    int64_t batches; /* of the pass */
    int64_t next;    /* to hand out, of the pass; */
    int64_t ready;   /* those before it are prepared or, on a device, on their way: [ready - slots, ready) or fewer */
    int64_t first;   /* CPU: the batch in slot 0; on a device batch i is in slot i % slots */
    batch_sizes usual; /* on a device; */
    int level;         /* at which batches are laid out */
    loader_cost cost;
};

/* ==== room ====================================================================================================== */

static void close_slots(loader* l)
{
    for (int32_t i = l->slots - 1; l->slot && i >= 0; i--) {
        l->device->ops->sampler_close(l->slot[i]);
        l->slot[i] = NULL;
    }
}

static bool open_slots(loader* l, error* why)
{
    batch_sizes room = bucket_sizes(&l->usual, l->level);
    for (int32_t i = 0; i < l->slots; i++) {
        l->slot[i] = l->device->ops->sampler_open(l->device, &l->graph, &l->how, l->batch, &room, l->slot[0], why);
        if (!l->slot[i]) return false;
    }
    return true;
}

static bool lay_out_again(loader* l, int level, error* why)
{
    close_slots(l);
    l->level = level;
    l->ready = l->next;
    return open_slots(l, why);
}

static bool open_loader(loader* l, const batch_sizes* room, error* why)
{
    for (int32_t h = 0; h <= GGNN_HOPS_MAX; h++) l->usual.ids[h] = GUESS;
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) l->usual.edges[h] = GUESS;
    if (room) l->usual = *room;
    l->slot = memory_new((size_t)l->slots * sizeof *l->slot, "the loader's batches", why);
    if (!l->slot || !open_slots(l, why)) return false;
    if (l->device->host) return true;
    l->ids = device_new(l->device, (size_t)l->graph.num_nodes * sizeof *l->ids, "the ids of a pass", why);
    return l->ids != NULL;
}

loader* loader_create(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch, int32_t slots,
                      const batch_sizes* room, error* why)
{
    loader* l = memory_new(sizeof *l, "the loader", why);
    if (!l) return NULL;
    l->device = d ? d : device_cpu();
    l->graph = *graph;
    l->how = *how;
    l->batch = batch;
    l->slots = l->device->host ? slots : l->device->serial ? 1 : 2;
    if (open_loader(l, room, why)) return l;
    loader_free(l);
    return NULL;
}

void loader_free(loader* l)
{
    if (!l) return;
    close_slots(l);
    device_free(l->device, l->ids);
    memory_free(l->slot);
    memory_free(l);
}

const ggnn_batch* loader_shape(const loader* l) { return &l->slot[0]->shape; }
loader_cost loader_cost_of(const loader* l) { return l->cost; }

bool loader_measure(loader* l, const loader_pass* pass, error* why)
{
    batch_sizes most = {{0}, {0}};
    if (l->device->host) return true;
    loader_begin(l, pass, 0);
    for (int64_t i = 0; i < MEASURED && i < l->batches; i++) {
        if (!loader_next(l, why)) return false;
        bucket_include(&most, &l->slot[i % l->slots]->sizes);
    }
    l->usual = most;
    l->cost = (loader_cost){0, 0, 0, 0};
    return lay_out_again(l, SLACK, why);
}

/* ==== passes ==================================================================================================== */

int64_t loader_batches(const loader* l, const loader_pass* pass) { return (pass->num_ids + l->batch - 1) / l->batch; }

void loader_begin(loader* l, const loader_pass* pass, int64_t first)
{
    l->pass = *pass;
    l->batches = loader_batches(l, pass);
    l->next = l->ready = l->first = first;
    if (pass->ids && l->ids) device_upload(l->device, l->ids, pass->ids, (size_t)pass->num_ids * sizeof *l->ids);
}

/* Batch i of the pass. */
static void prepare(loader* l, sampler* s, int64_t i)
{
    int64_t from = i * l->batch, left = l->pass.num_ids - from;
    ggnn_rng rng = l->pass.rng;
    if (l->pass.keyed) rng.step += (uint32_t)i;
    l->device->ops->sample(s, &l->pass, l->pass.ids && l->ids ? l->ids : l->pass.ids, from,
                           left < l->batch ? left : l->batch, rng);
}

static void prepare_slots(void* context, int64_t begin, int64_t end)
{
    loader* l = context;
    for (int64_t i = begin; i < end; i++) prepare(l, l->slot[i], l->first + i);
}

/* On the CPU, as many at once as there are slots. */
static sampler* next_of_slots(loader* l)
{
    if (l->next == l->ready) {
        int64_t left = l->batches - l->next, count = left < l->slots ? left : l->slots;
        l->first = l->next;
        l->ready = l->next + count;
        parallel_for(count, 1, prepare_slots, l);
    }
    return l->slot[l->next - l->first];
}

/* On a device: the batch after this one is on its way before this one is waited for. */
static sampler* next_of_device(loader* l, error* why)
{
    for (;;) {
        for (; l->ready < l->batches && l->ready < l->next + l->slots; l->ready++)
            prepare(l, l->slot[l->ready % l->slots], l->ready);
        sampler* s = l->slot[l->next % l->slots];
        s->status = l->device->ops->sampler_wait(s);
        if (l->device->failed.text[0]) error_set(why, "%s", l->device->failed.text);
        if (why->text[0]) return NULL;
        if (s->status != GGNN_ERROR_CAPACITY || l->level >= BUCKET_MOST) {
            batch_sizes bound = bucket_sizes(&l->usual, bucket_level(&l->usual, &s->sizes));
            s->batch = bucket_view(&s->shape, &bound);
            return s;
        }
        l->cost.grown++;
        if (!lay_out_again(l, l->level + BUCKET_DOUBLE, why)) return NULL;
    }
}

static const ggnn_batch* failed(loader* l, const sampler* s, error* why)
{
    char node[40] = "";
    if (l->device->host) snprintf(node, sizeof node, " of node %lld", (long long)s->batch.bad);
    error_set(why, "sampling the neighbours%s: %s (ggnn-data verify checks the whole file)", node,
              ggnn_status_string(s->status));
    l->next = l->batches;
    return NULL;
}

const ggnn_batch* loader_next(loader* l, error* why)
{
    double start = progress_seconds();
    if (l->next >= l->batches) return NULL;
    const sampler* s = l->device->host ? next_of_slots(l) : next_of_device(l, why);
    l->cost.seconds += progress_seconds() - start;
    if (!s) return NULL;
    l->cost.edges += s->edges;
    l->cost.bytes += s->bytes;
    if (s->status != GGNN_OK) return failed(l, s, why);
    l->next++;
    return &s->batch;
}
