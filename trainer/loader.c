#include "trainer/loader.h"

#include <string.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/ops.h"
#include "trainer/parallel.h"

struct loader {
    device* device;
    int64_t batch;
    int32_t slots;
    sampler** slot;
    loader_pass pass;
    ggnn_node* ids;  /* of the pass, where the device does not read the host's */
    int64_t room;    /* for so many */
    int64_t batches; /* of the pass */
    int64_t next;    /* to hand out, of the pass; */
    int64_t ready;   /* those before it are prepared: [ready - slots, ready) or fewer */
    int64_t first;   /* the batch in slot 0 */
    loader_cost cost;
};

static bool open_slots(loader* l, const ggnn_graph* graph, const ggnn_sampling* how, error* why)
{
    if (ggnn_batch_bytes(graph, how, l->batch) == 0)
        return error_set(why, "a mini-batch of %lld seeds could have 2^31 sources or edges", (long long)l->batch);
    l->slot = memory_new((size_t)l->slots * sizeof *l->slot, "the loader's batches", why);
    for (int32_t i = 0; l->slot && i < l->slots; i++)
        if (!(l->slot[i] = l->device->ops->sampler_open(l->device, graph, how, l->batch, why))) return false;
    if (!l->slot || l->device->host) return l->slot != NULL;
    l->room = graph->num_nodes;
    l->ids = device_new(l->device, (size_t)l->room * sizeof *l->ids, "the ids of a pass", why);
    return l->ids != NULL;
}

loader* loader_create(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch, int32_t slots,
                      error* why)
{
    loader* l = memory_new(sizeof *l, "the loader", why);
    if (!l) return NULL;
    l->device = d ? d : device_cpu();
    l->batch = batch;
    l->slots = l->device->host ? slots : 1;
    if (open_slots(l, graph, how, why)) return l;
    loader_free(l);
    return NULL;
}

void loader_free(loader* l)
{
    if (!l) return;
    for (int32_t i = 0; l->slot && i < l->slots; i++) l->device->ops->sampler_close(l->slot[i]);
    device_free(l->device, l->ids);
    memory_free(l->slot);
    memory_free(l);
}

const ggnn_batch* loader_shape(const loader* l) { return &l->slot[0]->batch; }
loader_cost loader_cost_of(const loader* l) { return l->cost; }

int64_t loader_batches(const loader* l, const loader_pass* pass) { return (pass->num_ids + l->batch - 1) / l->batch; }

void loader_begin(loader* l, const loader_pass* pass, int64_t first)
{
    l->pass = *pass;
    l->batches = loader_batches(l, pass);
    l->next = l->ready = l->first = first;
    if (pass->ids && l->ids) device_upload(l->device, l->ids, pass->ids, (size_t)pass->num_ids * sizeof *l->ids);
}

/* Prepares batches [l->first + begin, l->first + end) of the pass. */
static void prepare(void* context, int64_t begin, int64_t end)
{
    loader* l = context;
    for (int64_t i = begin; i < end; i++) {
        int64_t from = (l->first + i) * l->batch, left = l->pass.num_ids - from;
        ggnn_rng rng = l->pass.rng;
        if (l->pass.keyed) rng.step += (uint32_t)(l->first + i);
        l->device->ops->sample(l->slot[i], &l->pass, l->pass.ids && l->ids ? l->ids : l->pass.ids, from,
                               left < l->batch ? left : l->batch, rng);
    }
}

static void prepare_next(loader* l)
{
    double start = progress_seconds();
    int64_t left = l->batches - l->next, count = left < l->slots ? left : l->slots;
    l->first = l->next;
    l->ready = l->next + count;
    parallel_for(count, 1, prepare, l);
    for (int64_t i = 0; i < count; i++) {
        l->cost.edges += l->slot[i]->edges;
        l->cost.bytes += l->slot[i]->bytes;
    }
    l->cost.seconds += progress_seconds() - start;
}

/* What became of a whole pass on a device that no one waited for. */
static void check_pass(loader* l, error* why)
{
    ggnn_status status = l->device->host ? GGNN_OK : l->device->ops->sampler_status(l->slot[0]);
    if (status == GGNN_OK) return;
    error_set(why, "sampling neighbours: %s (ggnn-data verify checks the whole file)", ggnn_status_string(status));
}

const ggnn_batch* loader_next(loader* l, error* why)
{
    if (l->next >= l->batches) {
        check_pass(l, why);
        return NULL;
    }
    if (l->next == l->ready) prepare_next(l);
    const sampler* s = l->slot[l->next - l->first];
    l->next++;
    if (s->status == GGNN_OK) return &s->batch;
    error_set(why, "sampling the neighbours of node %lld: %s (ggnn-data verify checks the whole file)",
              (long long)s->batch.bad, ggnn_status_string(s->status));
    l->next = l->batches;
    return NULL;
}
