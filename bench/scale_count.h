/* scale_count.h - what batches of many sizes need of a graph, counted from sampled ids: the points of scale_model.h. */
#ifndef BENCH_SCALE_COUNT_H
#define BENCH_SCALE_COUNT_H
#include "bench/bench.h"
#include "bench/scale_model.h"

/* Fills g's sizes and points from the graph of the run. Sizes of batches: 4, 16, 64 .. 65,536 seeds, as far as there are
   training nodes, and --batch; the mean of several batches each. False: b->why. */
bool scale_count(bench* b, scale_graph* g, const int32_t fanout[SCALE_HOPS]);

/* Input rows of a batch of all `seeds`, and of its `slices` slices, which the trainer cuts, each sampled by itself, together:
   counted, the mean of the same batches. */
bool scale_count_slices(bench* b, const int32_t fanout[SCALE_HOPS], int64_t seeds, int32_t slices, double rows[2]);

/* The hits of a cache of 1, 5, 10, 20, 50 % of the rows by PreSC, in an epoch after the one that was looked at. */
bool scale_count_hits(bench* b, scale_graph* g, const int32_t fanout[SCALE_HOPS]);
#endif
