#include "trainer/batch/bucket.h"

#include <math.h>

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

void bucket_include(batch_sizes* all, const batch_sizes* more)
{
    for (int32_t h = 0; h <= GGNN_HOPS_MAX; h++) all->ids[h] = larger(all->ids[h], more->ids[h]);
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) all->edges[h] = larger(all->edges[h], more->edges[h]);
}

/* Exact where the level is a multiple of 4; no size that could be is above 2^62. */
static int64_t size_at(int64_t usual, int level)
{
    double size = ceil((double)larger(usual, 1) * exp2(level / 4.0));
    return size < 4e18 ? (int64_t)size : (int64_t)4e18;
}

batch_sizes bucket_sizes(const batch_sizes* usual, int level)
{
    batch_sizes s;
    for (int32_t h = 0; h <= GGNN_HOPS_MAX; h++) s.ids[h] = size_at(usual->ids[h], level);
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) s.edges[h] = size_at(usual->edges[h], level);
    return s;
}

static int raise(int level, int64_t usual, int64_t size)
{
    while (level < BUCKET_MOST && size_at(usual, level) < size) level++;
    return level;
}

int bucket_level(const batch_sizes* usual, const batch_sizes* is)
{
    int level = BUCKET_LEAST;
    for (int32_t h = 0; h <= GGNN_HOPS_MAX; h++) level = raise(level, usual->ids[h], is->ids[h]);
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) level = raise(level, usual->edges[h], is->edges[h]);
    return level;
}

static void lower(ggnn_count* count, int64_t bound)
{
    if (bound < count->max) count->max = bound;
}

ggnn_batch bucket_view(const ggnn_batch* b, const batch_sizes* bound)
{
    ggnn_batch view = *b;
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) {
        lower(&view.hop[h].num_dst, bound->ids[h]);
        lower(&view.hop[h].num_src, bound->ids[h + 1]);
        lower(&view.hop[h].num_edges, bound->edges[h]);
    }
    return view;
}
