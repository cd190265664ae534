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
    int64_t at; /* the batch's number */
} lane;

typedef struct {
    const hotness_batches* of;
    lane* lane;
    int64_t lanes;
    int64_t next; /* batch that no lane has taken yet */
} work;

static inline void add(int64_t* count, int64_t n, bool shared)
{
    if (shared) __atomic_fetch_add(count, n, __ATOMIC_RELAXED);
    else *count += n;
}

/* ggnn_count_batch, beside other threads that do it. */
static void count_batch(hotness_counts to, const ggnn_batch* b, bool shared)
{
    const ggnn_block* last = &b->hop[b->num_hops - 1];
    for (int32_t h = 0; h < b->num_hops; h++) {
        const ggnn_block* hop = &b->hop[h];
        const int64_t targets = *hop->num_dst.n;
        for (int64_t k = 0; to.lists && k < targets; k++) add(&to.lists[hop->id[k]], 1, shared);
        for (int64_t k = 0; to.edges && k < targets; k++) add(&to.edges[hop->id[k]], hop->indptr[k + 1] - hop->indptr[k], shared);
    }
    const int64_t sources = *last->num_src.n;
    for (int64_t k = 0; to.rows && k < sources; k++) add(&to.rows[last->id[k]], 1, shared);
}

static void sample_batch(const work* w, lane* l, int64_t i)
{
    l->at = i;
    l->status = w->of->sample(w->of->context, &l->batch, l->seeds, i);
    if (l->status == GGNN_OK) l->status = ggnn_count_batch(NULL, NULL, &l->batch); /* can it be counted? */
    if (l->status == GGNN_OK) count_batch(w->of->to, &l->batch, w->lanes > 1);
}

/* The next batch of a round. */
static void sample_lane(void* context, int64_t i)
{
    const work* w = context;
    sample_batch(w, &w->lane[i], w->next + i);
}

/* Batches that no other lane takes, to the end or the first that fails. */
static void sample_many(void* context, int64_t i)
{
    work* w = context;
    lane* l = &w->lane[i];
    while (l->status == GGNN_OK) {
        const int64_t next = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED);
        if (next >= w->of->batches) break;
        sample_batch(w, l, next);
    }
}

static bool open_lane(lane* l, const hotness_batches* of, error* why)
{
    if (ggnn_batch_plan(&l->batch, of->graph, of->how, of->seeds, NULL) != GGNN_OK)
        return error_set(why, "--fanout, --batch: %s", l->batch.fault.what);
    l->memory = memory_new(l->batch.bytes, "a mini-batch to be counted", why);
    l->seeds = l->memory ? memory_new((size_t)of->seeds * sizeof *l->seeds, "seeds", why) : NULL;
    return l->seeds && ggnn_batch_init(&l->batch, l->memory) == GGNN_OK;
}

/* Batches from w->next on, as many as there are lanes. */
static void look_at_lanes(work* w)
{
    const hotness_batches* of = w->of;
    const int64_t now = of->batches - w->next < w->lanes ? of->batches - w->next : w->lanes;
    bool good = true;
    ggnn_parallel_for(now, sample_lane, w);
    for (int64_t i = 0; good && i < now; i++) {
        lane* l = &w->lane[i];
        if (l->status == GGNN_OK) l->status = of->look(of->context, &l->batch, l->at);
        good = l->status == GGNN_OK;
    }
    w->next += now;
}

/* The least of the batches that failed, each being the least of its lane's: the same for any number of lanes. */
static bool any_failed(const work* w, hotness_failure* failed)
{
    const lane* least = NULL;
    for (int64_t i = 0; i < w->lanes; i++) {
        const lane* l = &w->lane[i];
        if (l->status != GGNN_OK && (!least || l->at < least->at)) least = l;
    }
    if (least) *failed = (hotness_failure){least->status, least->batch.fault.node};
    return least != NULL;
}

bool hotness_look(const hotness_batches* of, hotness_failure* failed, error* why)
{
    const int64_t most = parallel_lanes();
    work w = {.of = of, .lanes = of->batches < most ? of->batches : most};
    *failed = (hotness_failure){GGNN_OK, -1};
    if (of->batches == 0) return true;
    w.lane = memory_new((size_t)w.lanes * sizeof *w.lane, "mini-batches to be counted", why);
    bool good = w.lane != NULL;
    for (int64_t i = 0; good && i < w.lanes; i++) good = open_lane(&w.lane[i], of, why);
    if (good && !of->look) {
        ggnn_parallel_for(w.lanes, sample_many, &w);
        good = !any_failed(&w, failed);
    }
    while (good && of->look && w.next < of->batches) {
        look_at_lanes(&w);
        good = !any_failed(&w, failed);
    }
    for (int64_t i = 0; w.lane && i < w.lanes; i++) {
        memory_free(w.lane[i].memory);
        memory_free(w.lane[i].seeds);
    }
    memory_free(w.lane);
    return good;
}

typedef struct { /* whole batches of epochs */
    const ggnn_graph* graph;
    const ggnn_epochs* of;
} epochs_sample;

static ggnn_status sample_epochs(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i)
{
    const epochs_sample* e = context;
    return ggnn_count_epochs(NULL, NULL, b, e->graph, e->of, i, i + 1, seeds);
}

static bool count_epochs(hotness_counts to, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of, int64_t epochs,
                         const char* path, error* why)
{
    epochs_sample e = {g, of};
    const hotness_batches all = {.graph = g, .how = how, .seeds = of->batch_size,
                                 .batches = of->num_ids ? epochs * ggnn_epoch_batches(of) : 0, .sample = sample_epochs, .to = to,
                                 .context = &e};
    hotness_failure failed;
    if (hotness_look(&all, &failed, why)) return true;
    if (failed.status == GGNN_OK) return false;
    return error_set(why, "%s: node %" PRId64 ": %s", path, failed.node, ggnn_status_string(failed.status));
}

bool hotness_count(int64_t* rows, int64_t* lists, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                   int64_t epochs, const char* path, error* why)
{
    return count_epochs((hotness_counts){rows, lists, NULL}, g, how, of, epochs, path, why);
}

bool hotness_weigh(int64_t* weight, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_node* ids, int64_t num_ids,
                   int64_t batch, uint64_t seed, int64_t epochs, const char* path, error* why)
{
    const ggnn_epochs of = hotness_epochs(HOTNESS_PRESC, ids, num_ids, batch, seed);
    return count_epochs((hotness_counts){NULL, NULL, weight}, g, how, &of, epochs, path, why);
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
