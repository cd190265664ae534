/* bucket.h - sizes of mini-batches on a device, where room for the worst case would cost memory and matrix products
   over rows that are not there.

   The sizes that a few batches had are the usual ones. Level k of them is usual * 2^(k/4), rounded up, in all hops
   alike: sizes of one batch rise and fall together. A batch is laid out at one level and seen at the least that holds
   it, so that products have at most 19 % more rows than needed, and a step only a few shapes. */
#ifndef TRAINER_BUCKET_H
#define TRAINER_BUCKET_H
#include "ggnn.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BUCKET_LEAST = -12, BUCKET_MOST = 128, BUCKET_DOUBLE = 4 };

typedef struct { /* ids[h]: targets of hop h, ids[h + 1]: its sources */
    int64_t ids[GGNN_HOPS_MAX + 1], edges[GGNN_HOPS_MAX];
} batch_sizes;

/* The larger of each. */
void bucket_include(batch_sizes* all, const batch_sizes* more);

/* usual * 2^(level/4), rounded up; at least 1 each. */
batch_sizes bucket_sizes(const batch_sizes* usual, int level);

/* The least level, from BUCKET_LEAST, at which there is room for `is`; BUCKET_MOST where there never is. */
int bucket_level(const batch_sizes* usual, const batch_sizes* is);

/* The batch with lower bounds, where these are lower: the same memory. */
ggnn_batch bucket_view(const ggnn_batch* b, const batch_sizes* bound);

#ifdef __cplusplus
}
#endif
#endif
