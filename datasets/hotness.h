/* hotness.h - by what nodes are ranked for a cache: the policies of ggnn_plan.h by name, and the counting behind them.
   One counter of reads serves ggnn-data rank, ggnn-bench cache and the trainer: ggnn_count_epochs. */
#ifndef DATASETS_HOTNESS_H
#define DATASETS_HOTNESS_H
#include "common/error.h"
#include "ggnn_plan.h"

/* Choices for option tables, in the order of the enumerators. */
#define HOTNESS_POLICIES "degree|aligraph|presc|optimal|dual|random"
typedef enum {
    HOTNESS_DEGREE,   /* out-degree (PaGraph) */
    HOTNESS_ALIGRAPH, /* in-degree over out-degree */
    HOTNESS_PRESC,    /* what epochs before training read (GNNLab) */
    HOTNESS_OPTIMAL,  /* what training's own epochs read */
    HOTNESS_DUAL,     /* as presc; rows and lists share a budget (DUCATI): ggnn_fill_dual */
    HOTNESS_RANDOM,
    HOTNESS_NUM_POLICIES
} hotness_policy;
extern const char* const hotness_name[HOTNESS_NUM_POLICIES];

/* Does it need epochs to be sampled? */
static inline bool hotness_is_counted(hotness_policy by)
{
    return by == HOTNESS_PRESC || by == HOTNESS_OPTIMAL || by == HOTNESS_DUAL;
}

/* The epochs that a counted policy samples, over training nodes ids: optimal training's own from epoch 0 on, the others
   those of GGNN_PURPOSE_PRESAMPLE. A batch is no larger than there are ids. */
ggnn_epochs hotness_epochs(hotness_policy by, const ggnn_node* ids, int64_t num_ids, int64_t batch, uint64_t seed);

/* Adds what `epochs` of them read: rows and lists (N), either NULL. g is plain. False: a list is broken (path names the
   file), the sampling makes no sense for g, or no memory. */
bool hotness_count(int64_t* rows, int64_t* lists, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                   int64_t epochs, const char* path, error* why);

/* Adds the edges that `epochs` of them compute at each node (N): those of its sampled lists. Fails as hotness_count. */
bool hotness_count_edges(int64_t* edges, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                         int64_t epochs, const char* path, error* why);

/* Ranks n nodes by a policy (dual: as presc). hot (n): out-degrees; in-degrees; counts. over (n): aligraph's
   out-degrees. indptr (n + 1): of the graph, for ties. seed: of a random order. */
void hotness_rank(ggnn_node* rank, ggnn_node* order, hotness_policy by, const int64_t* hot, const int64_t* over,
                  const int64_t* indptr, uint64_t seed, int64_t n);

/* Of all reads counted, the share that a cache of the first `cached` ranks takes, in per cent; 0 where nothing was
   read. */
double hotness_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n);
#endif
