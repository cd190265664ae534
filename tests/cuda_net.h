// cuda_net.h - for tests of the trainer on a CUDA device: graphs, a net with its loader on one device, kinds of nets.
#ifndef CUDA_NET_H
#define CUDA_NET_H

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/cuda_memory.h"

extern "C" {
#include "trainer/batch/loader.h"
#include "trainer/net/net.h"
#include "trainer/store/tiers.h"
}

inline error   why;
inline device* opened; // the CUDA device
inline device* cpu_device;

// ==== graphs ===============================================================================================

struct fixture {
    std::vector<int64_t>   indptr;
    std::vector<ggnn_node> indices;
    std::vector<float>     features, target;
    std::vector<int32_t>   label;
    ggnn_graph             graph;
    ggnn_store             store;
    bool                   shuffled = true, labelled = false; // labelled: labels also where one output is wanted
    const tiers_plan*      tiered = nullptr; // what lies where; everything is the device's own
};

// `classes` communities, which half of a node's neighbours are in; features: the class, in noise. Every seventh node
// has no label, every eleventh no neighbour. rising: seeds come in order, and later nodes have more neighbours.
inline void make_fixture(fixture* f, int64_t nodes, int64_t degree, int32_t width, int32_t classes, bool rising = false)
{
    f->shuffled = !rising;
    f->indptr.assign(1, 0);
    for (int64_t v = 0; v < nodes; v++) {
        for (int64_t k = v % 11 == 5 ? 0 : test_below(2 * degree) * (rising ? 8 * v / nodes : 1); k > 0; k--) {
            int64_t u = test_below(nodes);
            if (k % 2) u = u / classes * classes + v % classes;
            f->indices.push_back(static_cast<ggnn_node>(u < nodes ? u : v));
        }
        f->indptr.push_back(static_cast<int64_t>(f->indices.size()));
        f->label.push_back(v % 7 == 3 ? -1 : static_cast<int32_t>(v % classes));
        f->target.push_back(v % 7 == 3 ? NAN : static_cast<float>(v % 3) / 2);
        for (int32_t j = 0; j < width; j++)
            f->features.push_back(test_uniform() - 0.5f + (j == v % classes ? 1.0f : 0.0f));
    }
    int64_t edges = static_cast<int64_t>(f->indices.size());
    f->graph = ggnn_graph_plain(f->indptr.data(), f->indices.data(), nullptr, nodes, edges);
    f->store = ggnn_store_plain(f->features.data(), nodes, width, GGNN_F32);
}

// ==== a net on one device ==================================================================================

struct run {
    device*    where;
    tiers*     data;
    loader*    batches;
    net*       n;
};

inline bool open_data(run* r, device* d, const fixture* f, bool classes)
{
    tiers_source from = {};
    from.graph = f->graph;
    from.features = f->store;
    from.plan = f->tiered;
    if (classes) from.labels.label = f->label.data();
    else from.labels.target = f->target.data();
    return tiers_open(&r->data, d, &from, &why);
}

inline loader_plan plan_of(const run* r, const ggnn_sampling& how, int64_t batch)
{
    loader_plan plan = {};
    plan.graph = tiers_view_of(r->data)->graph;
    plan.features = tiers_view_of(r->data)->features;
    plan.labels = tiers_view_of(r->data)->labels;
    plan.how = how;
    plan.batch = batch;
    return plan;
}

// The pass that step number i is in: an epoch begins where the batches end.
inline loader_pass pass_of(const run* r, const fixture* f, int i)
{
    loader_pass pass = {};
    pass.num_ids = f->graph.num_nodes;
    pass.shuffled = f->shuffled;
    pass.keyed = true;
    const int64_t batches = loader_batches(r->batches, &pass), epoch = i / batches;
    pass.epoch = static_cast<uint32_t>(epoch);
    pass.rng = {7, static_cast<uint32_t>(epoch * batches), GGNN_PURPOSE_SAMPLE};
    return pass;
}

// extract: batches come with their rows.
inline void open_run(run* r, device* d, const fixture* f, net_config c, const ggnn_sampling* how, int64_t batch,
                     bool extract = false)
{
    *r = {};
    r->where = d;
    device_enter(d);
    CHECK(open_data(r, d, f, c.outputs > 1 || f->labelled));
    if (how) {
        loader_plan plan = plan_of(r, *how, batch);
        plan.extract = c.extracted = extract;
        if (extract) plan.how.last_hop_global = false;
        r->batches = loader_create(d, &plan, nullptr, &why);
        loader_pass pass = pass_of(r, f, 0);
        CHECK(loader_measure(r->batches, &pass, &why));
    }
    const tiers_view* view = tiers_view_of(r->data);
    net_data data = {&view->graph, &view->features, view->labels};
    c.device = d;
    r->n = net_create(&c, &data, how ? loader_shape(r->batches) : nullptr, nullptr, &why);
    if (!CHECK(r->n != nullptr)) printf("  %s\n", why.text);
}

inline void close_run(run* r)
{
    net_free(r->n);
    loader_free(r->batches);
    tiers_close(r->data);
}

inline void train_step(net* n, const mini_batch* b, uint32_t step, float rate)
{
    net_compute(n, b, step);
    net_update(n, rate);
}

// Step number i. The loss, unless the step is not to be waited for.
inline double take_step(run* r, const fixture* f, int i, bool wait = true)
{
    const mini_batch* b = net_whole(r->n);
    if (r->batches) {
        loader_pass pass = pass_of(r, f, i);
        if (i % loader_batches(r->batches, &pass) == 0) loader_begin(r->batches, &pass, 0);
        b = batch_take(r->batches, &why);
        if (!b || !net_fit(r->n, loader_shape(r->batches), &why)) return NAN;
    }
    train_step(r->n, b, static_cast<uint32_t>(i), 0.01f / static_cast<float>(i + 1));
    if (r->batches) batch_give(r->batches, b);
    return wait ? net_losses_of(r->n, true).last : 0;
}

inline std::vector<float> values(run* r, const float* from)
{
    std::vector<float> v(static_cast<size_t>(net_state_of(r->n).count));
    device_download(r->where, v.data(), from, v.size() * sizeof(float));
    return v;
}

// ==== cases ================================================================================================

struct kind {
    const char*    name;
    net_model      model;
    net_aggregator aggregator;
    bool           extras; // residual, norm, dropout on features and attention
};
const kind kinds[] = {
    {"gcn", NET_GCN, NET_MEAN, false},
    {"sage", NET_SAGE, NET_MEAN, false},
    {"sage gcn", NET_SAGE, NET_SAGE_GCN, false},
    {"sage pool", NET_SAGE, NET_POOL, false},
    {"gat", NET_GAT, NET_MEAN, false},
    {"mlp", NET_MLP, NET_MEAN, false},
    {"gcn, extras", NET_GCN, NET_MEAN, true},
    {"sage, extras", NET_SAGE, NET_MEAN, true},
    {"sage pool, extras", NET_SAGE, NET_POOL, true},
    {"gat, extras", NET_GAT, NET_MEAN, true},
};
const kind importance_kinds[] = { // which a whole graph has no visits for
    {"sage importance", NET_SAGE, NET_IMPORTANCE, false},
    {"sage importance, extras", NET_SAGE, NET_IMPORTANCE, true},
};

inline net_config config_of(const kind& k, int32_t layers, int32_t outputs, bool full)
{
    net_config c = {};
    c.model = k.model;
    c.aggregator = k.aggregator;
    c.layers = layers;
    c.hidden = 12;
    c.outputs = outputs;
    c.heads = 3;
    c.out_heads = 2;
    c.residual = c.norm = k.extras;
    c.dropout = 0.4f;
    c.input_dropout = k.extras ? 0.2f : 0;
    c.attention_dropout = k.extras ? 0.3f : 0;
    c.weight_decay = 0.01f;
    c.optimizer = k.extras ? NET_ADAMW : NET_ADAM;
    c.full_batch = full;
    c.seed = 5;
    return c;
}

inline ggnn_sampling sampling_of(const net_config& c)
{
    ggnn_sampling how = {};
    how.method = GGNN_FISHER_YATES;
    if (net_has(c.model, c.aggregator, NET_VISITS)) {
        how.method = GGNN_WALK;
        how.keep = GGNN_KEEP_WEIGHTS;
    }
    how.num_hops = c.layers;
    how.last_hop_global = net_reads_store(&c);
    for (int32_t h = 0; h < c.layers; h++) how.fanout[h] = net_has(c.model, c.aggregator, NET_ALONE) ? 0 : 3 + h;
    return how;
}

#endif
