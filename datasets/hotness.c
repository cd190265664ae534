#include "datasets/hotness.h"

#include <inttypes.h>

#include "common/memory.h"
#include "common/parallel.h"

const char* const hotness_name[HOTNESS_NUM_POLICIES] = {"degree", "aligraph", "presc", "optimal", "dual", "random"};

ggnn_epochs hotness_epochs(hotness_policy by, const ggnn_node* ids, int64_t num_ids, int64_t batch, uint64_t seed)
{
    ggnn_epochs of = {ids, num_ids, batch < num_ids ? batch : num_ids, {seed, 0, GGNN_PURPOSE_PRESAMPLE},
                      GGNN_PRESAMPLE_EPOCH};
    if (by == HOTNESS_OPTIMAL) {
        of.rng.purpose = GGNN_PURPOSE_SAMPLE;
        of.first_epoch = 0;
    }
    return of;
}

/* ==== counting ================================================================================================== */

typedef struct { /* a batch, sampled beside others */
    ggnn_batch batch;
    void* memory;
    ggnn_node* seeds;
    ggnn_status status;
} lane;

typedef struct {
    const hotness_batches* of;
    lane* lane;
    int64_t first; /* batch of lane 0 */
} work;

static void sample_lane(void* context, int64_t i)
{
    const work* w = context;
    lane* l = &w->lane[i];
    l->status = w->of->sample(w->of->context, &l->batch, l->seeds, w->first + i);
}

static bool open_lane(lane* l, const hotness_batches* of, error* why)
{
    if (ggnn_batch_plan(&l->batch, of->graph, of->how, of->seeds, NULL) != GGNN_OK)
        return error_set(why, "--fanout, --batch: %s", l->batch.fault.what);
    l->memory = memory_new(l->batch.bytes, "a mini-batch to be counted", why);
    l->seeds = l->memory ? memory_new((size_t)of->seeds * sizeof *l->seeds, "seeds", why) : NULL;
    return l->seeds && ggnn_batch_init(&l->batch, l->memory) == GGNN_OK;
}

/* Batches from w->first on, as many as there are lanes. False: one of them failed. */
static bool look_at_lanes(work* w, int64_t lanes, hotness_failure* failed)
{
    const hotness_batches* of = w->of;
    const int64_t now = of->batches - w->first < lanes ? of->batches - w->first : lanes;
    parallel_each(now, sample_lane, w);
    for (int64_t i = 0; i < now; i++) {
        lane* l = &w->lane[i];
        if (l->status == GGNN_OK) l->status = of->look(of->context, &l->batch, w->first + i);
        if (l->status == GGNN_OK) continue;
        *failed = (hotness_failure){l->status, l->batch.fault.node};
        return false;
    }
    w->first += now;
    return true;
}

bool hotness_look(const hotness_batches* of, hotness_failure* failed, error* why)
{
    const int64_t most = parallel_lanes(), lanes = of->batches < most ? of->batches : most;
    work w = {.of = of};
    *failed = (hotness_failure){GGNN_OK, -1};
    if (of->batches == 0) return true;
    w.lane = memory_new((size_t)lanes * sizeof *w.lane, "mini-batches to be counted", why);
    bool good = w.lane != NULL;
    for (int64_t i = 0; good && i < lanes; i++) good = open_lane(&w.lane[i], of, why);
    while (good && w.first < of->batches) good = look_at_lanes(&w, lanes, failed);
    for (int64_t i = 0; w.lane && i < lanes; i++) {
        memory_free(w.lane[i].memory);
        memory_free(w.lane[i].seeds);
    }
    memory_free(w.lane);
    return good;
}

typedef struct { /* whole batches of epochs */
    const ggnn_graph* graph;
    const ggnn_epochs* of;
    int64_t *rows, *lists, *edges; /* (N) each may be NULL */
} epochs_count;

static ggnn_status sample_batch(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i)
{
    const epochs_count* c = context;
    return ggnn_count_epochs(NULL, NULL, b, c->graph, c->of, i, i + 1, seeds);
}

static ggnn_status add_batch(void* context, ggnn_batch* b, int64_t i)
{
    const epochs_count* c = context;
    (void)i;
    for (int32_t h = 0; c->edges && h < b->num_hops; h++)
        for (int64_t k = 0; k < *b->hop[h].num_dst.n; k++)
            c->edges[b->hop[h].id[k]] += b->hop[h].indptr[k + 1] - b->hop[h].indptr[k];
    return ggnn_count_batch(c->rows, c->lists, b);
}

static bool count_epochs(epochs_count* c, const ggnn_sampling* how, int64_t epochs, const char* path, error* why)
{
    const ggnn_epochs* of = c->of;
    const hotness_batches all = {.graph = c->graph, .how = how, .seeds = of->batch_size,
                                 .batches = of->num_ids ? epochs * ggnn_epoch_batches(of) : 0, .sample = sample_batch,
                                 .look = add_batch, .context = c};
    hotness_failure failed;
    if (hotness_look(&all, &failed, why)) return true;
    if (failed.status == GGNN_OK) return false;
    return error_set(why, "%s: node %" PRId64 ": %s", path, failed.node, ggnn_status_string(failed.status));
}

bool hotness_count(int64_t* rows, int64_t* lists, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                   int64_t epochs, const char* path, error* why)
{
    epochs_count c = {g, of, rows, lists, NULL};
    return count_epochs(&c, how, epochs, path, why);
}

bool hotness_weigh(int64_t* weight, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_node* ids, int64_t num_ids,
                   int64_t batch, uint64_t seed, int64_t epochs, const char* path, error* why)
{
    const ggnn_epochs of = hotness_epochs(HOTNESS_PRESC, ids, num_ids, batch, seed);
    epochs_count c = {g, &of, NULL, NULL, weight};
    return count_epochs(&c, how, epochs, path, why);
}

/* ==== ranking =================================================================================================== */

void hotness_rank(ggnn_node* rank, ggnn_node* order, hotness_policy by, const int64_t* hot, const int64_t* over,
                  const int64_t* indptr, uint64_t seed, int64_t n)
{
    const ggnn_hotness how = {hot, by == HOTNESS_ALIGRAPH ? over : NULL, hotness_is_counted(by) ? indptr : NULL};
    if (by == HOTNESS_RANDOM) ggnn_rank_random(rank, order, seed, n);
    else ggnn_rank(rank, order, &how, n);
}

double hotness_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n)
{
    const int64_t all = ggnn_count_hits(count, rank, n, n);
    return all ? 100. * (double)ggnn_count_hits(count, rank, cached, n) / (double)all : 0;
}
