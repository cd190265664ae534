/* hotness.h - by what nodes are ranked for a cache: the policies of ggnn_plan.h by name, and the counting behind them.
   One counter looks at all batches that are sampled to be counted, of ggnn-data, the trainer, --explain and ggnn-bench:
   hotness_look. */
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

typedef struct { /* (N) each, or NULL: what batches are added to */
    int64_t *rows, *lists; /* reads, as of ggnn_count_batch */
    int64_t* edges;        /* of sampled lists, at the node that has the list */
} hotness_counts;

typedef struct { /* batches that are sampled to be counted, or looked at. Both functions get `context`, and leave the node of an error in b->fault */
    const ggnn_graph* graph;
    const ggnn_sampling* how;
    int64_t seeds;   /* of a batch, at most */
    int64_t batches;
    ggnn_status (*sample)(void* context, ggnn_batch* b, ggnn_node* seeds, int64_t i); /* batch i, on any thread. seeds: workspace */
    hotness_counts to; /* of batches, on any thread in any order: sums are the same. After a failure, of some */
    ggnn_status (*look)(void* context, ggnn_batch* b, int64_t i); /* on the caller's thread, by rising i. NULL: counts are all */
    void* context;
} hotness_batches;

typedef struct {
    ggnn_status status;
    int64_t node;
} hotness_failure;

/* Samples and counts batches side by side, as many as the CPU has threads, and looks at one after the other: what is counted does
   not depend on the threads. False: the first failure of a batch is in `failed`, why is as it was; or, failed->status GGNN_OK, why says that there is no
   memory, or that the sampling makes no sense for the graph. */
bool hotness_look(const hotness_batches* of, hotness_failure* failed, error* why);

/* Adds what `epochs` of them read: rows and lists (N), either NULL. g is plain. False: a list is broken (path names the
   file), the sampling makes no sense for g, or no memory. */
bool hotness_count(int64_t* rows, int64_t* lists, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_epochs* of,
                   int64_t epochs, const char* path, error* why);

/* What each node weighs in a partition (GSplit): adds the edges that `epochs` before training (presc's) compute at it, those of its
   sampled lists, to weight (N). Fails as hotness_count. */
bool hotness_weigh(int64_t* weight, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_node* ids, int64_t num_ids,
                   int64_t batch, uint64_t seed, int64_t epochs, const char* path, error* why);

/* Ranks n nodes by a policy (dual: as presc). hot (n): out-degrees; in-degrees; counts. over (n): aligraph's
   out-degrees. indptr (n + 1): of the graph, for ties. seed: of a random order. */
void hotness_rank(ggnn_node* rank, ggnn_node* order, hotness_policy by, const int64_t* hot, const int64_t* over,
                  const int64_t* indptr, uint64_t seed, int64_t n);

/* Of all reads counted, the share that a cache of the first `cached` ranks takes, in per cent; 0 where nothing was
   read. */
double hotness_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n);
#endif
