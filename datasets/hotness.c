#include "datasets/hotness.h"

#include <inttypes.h>

#include "common/memory.h"

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

static void add_edges(int64_t* edges, const ggnn_batch* b)
{
    for (int32_t h = 0; h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++)
            edges[b->hop[h].id[i]] += b->hop[h].indptr[i + 1] - b->hop[h].indptr[i];
}

/* rows, lists, edges (N): each may be NULL. */
static bool count(int64_t* rows, int64_t* lists, int64_t* edges, const ggnn_graph* g, const ggnn_sampling* how,
                  const ggnn_epochs* of, int64_t epochs, const char* path, error* why)
{
    ggnn_batch b;
    if (of->num_ids == 0) return true;
    if (ggnn_batch_plan(&b, g, how, of->batch_size, NULL) != GGNN_OK)
        return error_set(why, "--fanout, --batch: %s", b.fault.what);
    void* memory = memory_new(b.bytes, "a mini-batch", why);
    ggnn_node* seeds = memory_new((size_t)of->batch_size * sizeof *seeds, "seeds", why);
    bool good = memory && seeds;
    if (good) {
        ggnn_status status = ggnn_batch_init(&b, memory);
        for (int64_t i = 0; i < epochs * ggnn_epoch_batches(of) && status == GGNN_OK; i++) {
            status = ggnn_count_epochs(rows, lists, &b, g, of, i, i + 1, seeds);
            if (edges && status == GGNN_OK) add_edges(edges, &b);
        }
        if (status != GGNN_OK)
            good = error_set(why, "%s: node %" PRId64 ": %s", path, b.fault.node, ggnn_status_string(status));
    }
    memory_free(memory);
    memory_free(seeds);
    return good;
}

bool hotness_count(int64_t* rows, int64_t* lists, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                   int64_t epochs, const char* path, error* why)
{
    return count(rows, lists, NULL, g, how, of, epochs, path, why);
}

bool hotness_count_edges(int64_t* edges, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                         int64_t epochs, const char* path, error* why)
{
    return count(NULL, NULL, edges, g, how, of, epochs, path, why);
}

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
