#include "trainer/store/device_reads.h"

#include "common/memory.h"

typedef struct {
    device* device;
    const device_reads* of;
    loader* loader;
    int64_t *rows, *lists; /* the device's */
    loader_turns turns;
    loader_source source;
    loader_pass pass;
} counter;

/* The pass of an epoch, and the whole batches of it that this rank counts. */
static void set_pass(counter* c, int64_t epoch, int64_t batches)
{
    const device_reads* of = c->of;
    const int64_t first = epoch * batches;
    c->pass = of->pass;
    c->pass.keyed = true;
    c->pass.epoch += (uint32_t)epoch;
    c->pass.rng.step += (uint32_t)first;
    c->turns = (loader_turns){(of->rank + of->ranks - first % of->ranks) % of->ranks, of->ranks, batches, false};
    c->source = (loader_source){loader_next_whole, &c->turns};
    if (of->whole) c->pass.source = &c->source;
}

static bool open_counter(counter* c, error* why)
{
    const device_reads* of = c->of;
    const size_t bytes = memory_product((size_t)of->graph.num_nodes, sizeof(int64_t), 1);
    loader_plan plan = {.graph = of->graph, .how = of->how, .batch = of->batch, .rank = of->rank, .ranks = of->ranks, .slices = of->whole};
    plan.graph.traffic = NULL;
    c->rows = device_new(c->device, bytes, "counts of reads", why);
    c->lists = c->rows ? device_new(c->device, bytes, "counts of reads", why) : NULL;
    c->loader = c->lists ? loader_create(c->device, &plan, NULL, why) : NULL;
    if (!c->loader) return false;
    set_pass(c, 0, loader_batches(c->loader, &of->pass));
    c->turns.around = true; /* of few batches it measures some again */
    if (!loader_measure(c->loader, &c->pass, why)) return false;
    return c->device->bytes <= of->total || error_set(why, "the device has no room for them");
}

static bool count_epoch(counter* c, int64_t epoch, error* why)
{
    const mini_batch* b;
    set_pass(c, epoch, loader_batches(c->loader, &c->of->pass));
    loader_begin(c->loader, &c->pass, 0);
    while ((b = batch_take(c->loader, why)) != NULL) {
        batch_count(c->loader, b, c->rows, c->lists);
        batch_give(c->loader, b);
    }
    return !why->text[0];
}

/* Both are read before either is added to. */
static bool add_counts(const counter* c, int64_t* rows, int64_t* lists, error* why)
{
    const int64_t N = c->of->graph.num_nodes;
    int64_t* both = memory_new(memory_product((size_t)N, sizeof *both, 2), "counts of reads", why);
    if (!both) return false;
    device_download(c->device, both, c->rows, (size_t)N * sizeof *both);
    device_download(c->device, both + N, c->lists, (size_t)N * sizeof *both);
    const bool good = !c->device->failed.text[0] || error_set(why, "%s", c->device->failed.text);
    for (int64_t v = 0; good && v < N; v++) {
        rows[v] += both[v];
        lists[v] += both[N + v];
    }
    memory_free(both);
    return good;
}

bool device_reads_count(int64_t* rows, int64_t* lists, device* d, const device_reads* of, error* why)
{
    const int64_t peak = d->most_bytes;
    counter c = {.device = d, .of = of};
    bool good = open_counter(&c, why);
    for (int64_t e = 0; good && e < of->epochs; e++) good = count_epoch(&c, e, why);
    good = good && add_counts(&c, rows, lists, why);
    loader_free(c.loader);
    device_free(d, c.lists);
    device_free(d, c.rows);
    device_forget_peak(d, peak);
    return good;
}
