/* config_uses.c - what options mean to the rooms below: how to sample, what the tiers are planned for, the learning rate. */
#include <math.h>
#include <string.h>

#include "trainer/options/config.h"

ggnn_sampling config_sampling(const config* c)
{
    const bool alone = config_has(c, NET_ALONE);
    ggnn_sampling how = {.method = (ggnn_method)c->sampler, .num_hops = (int32_t)c->layers};
    if (config_counts_visits(c)) how.keep = GGNN_KEEP_WEIGHTS;
    if (c->edge_features) how.keep |= GGNN_KEEP_POSITIONS;
    how.walk = (ggnn_walks){(int32_t)c->walks, (int32_t)c->walk_length, (float)c->walk_restart};
    for (int32_t h = 0; h < how.num_hops; h++) how.fanout[h] = alone ? 0 : c->fanout[h];
    if (alone) how.method = GGNN_FISHER_YATES; /* an MLP has no neighbours to choose */
    return how;
}

tier_options config_tiers(const config* c)
{
    tier_options o = {.cache = c->cache, .cache_auto = c->cache_auto, .cache_bytes = c->cache_bytes, .cache_ratio = c->cache_ratio,
                      .store_graph = c->store_graph, .store_features = c->store_features,
                      .store_edges = c->store_edges, .cache_edges = c->cache_edges, .features_first = c->prefer != 0,
                      .placement = c->placement, .ranking = c->ranking, .topology = c->topology,
                      .device_memory = c->device_memory, .reserve_bytes = c->reserve_bytes, .batch = c->batch,
                      .presample_epochs = c->presample_epochs, .seed = (uint64_t)c->seed,
                      .split = c->parallel == PARALLEL_SPLIT, .whole_batches = c->split_sampling == SPLIT_SINGLE,
                      .pooled = c->pipeline == PIPELINE_FACTORED,
                      .samplers = c->pipeline == PIPELINE_FACTORED ? (int32_t)c->samplers : 0,
                      .local = c->shuffle == SHUFFLE_LOCAL};
    memcpy(o.slopes, c->slopes, sizeof o.slopes);
    return o;
}

float config_rate(const config* c, int64_t step, int64_t batches)
{
    double rate = c->lr, all = (double)c->epochs * (double)batches;
    if (c->schedule == SCHEDULE_COSINE) rate *= (1 + cos(3.14159265358979323846 * (double)step / all)) / 2;
    if (c->schedule == SCHEDULE_STEP) rate *= pow(c->lr_decay, (double)(step / batches / c->lr_step));
    if (step < c->warmup) rate *= (double)(step + 1) / (double)c->warmup;
    return (float)rate;
}
