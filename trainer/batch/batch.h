/* batch.h - a mini-batch on its way from the loader to the net, and the labels that its loss looks up.

   The room batch/: from a graph and the nodes of a pass to mini-batches in order, prepared ahead and with owners. It knows no
   layer. */
#ifndef TRAINER_BATCH_H
#define TRAINER_BATCH_H
#include <stdbool.h>

#include "ggnn.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { /* by global id; at most one of them given */
    const int32_t* label;  /* (N) class, < 0: not in the loss */
    const float*   target; /* (N) real in [0, 1] for one output, NaN: not in the loss */
} net_labels;

GGNN_HD bool label_known(const net_labels* labels, ggnn_node v)
{
    if (labels->label) return labels->label[v] >= 0;
    return labels->target && labels->target[v] == labels->target[v];
}

typedef struct { /* what it points to is memory of one device */
    ggnn_batch blocks;  /* a block a layer, the ids of their rows */
    ggnn_count known;   /* labelled seeds of the global batch, on all devices: the divisor of the loss */
    float*     rows;    /* (sources of the last hop, features) extracted: row i is node blocks.id[i]'s. NULL:
                           the net reads the store */
    int64_t    ld_rows; /* elements from row to row */
    struct shuffle* shuffle; /* --parallel split: rows of sources come from the ranks that have them (shuffle.h), `rows`
                                are those that this rank has, and each block has ids of its own. NULL: it has all */
} mini_batch;

#ifdef __cplusplus
}
#endif
#endif
