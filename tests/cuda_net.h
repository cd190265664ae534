// cuda_net.h - for tests of the trainer on a CUDA device: a net (fixture.h) with its loader on one device.
#ifndef CUDA_NET_H
#define CUDA_NET_H

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "tests/cuda_memory.h"

extern "C" {
#include "tests/fixture.h"
}

inline error   why;
inline device* opened; // the CUDA device
inline device* cpu_device;

// ==== what is learned ======================================================================================

// A fixture, freed with the object, and how its nodes come. rising: seeds come in order, and later nodes have
// more neighbours.
struct lesson {
    fixture*          f;
    bool              shuffled, labelled = false; // labelled: labels also where one output is wanted
    const tiers_plan* tiered = nullptr;           // what lies where; everything is the device's own
    lesson(int64_t nodes, int64_t degree, int32_t width, int32_t classes, bool rising = false)
        : shuffled(!rising)
    {
        random_graph* g = random_graph_new(nodes, degree, 4 * degree);
        for (int64_t v = 0; rising && v < nodes; v++) g->indptr[v] = g->num_edges * v * v / (nodes * nodes);
        f = fixture_of(g, width, classes);
    }
    lesson(const lesson&) = delete;
    ~lesson() { fixture_free(f); }
};

// ==== a net on one device ==================================================================================

struct run {
    device*    where;
    tiers*     data;
    loader*    batches;
    net*       n;
};

inline bool open_data(run* r, device* d, const lesson* l, bool classes)
{
    tiers_source from = {};
    from.graph = l->f->task.graph;
    from.features = l->f->task.features;
    from.edges = l->f->task.edges;
    from.plan = l->tiered;
    if (classes) from.labels.label = l->f->label;
    else from.labels.target = l->f->target;
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
inline loader_pass pass_of(const run* r, const lesson* l, int i)
{
    loader_pass pass = {};
    pass.num_ids = l->f->graph->num_nodes;
    pass.shuffled = l->shuffled;
    pass.keyed = true;
    const int64_t batches = loader_batches(r->batches, &pass), epoch = i / batches;
    pass.epoch = static_cast<uint32_t>(epoch);
    pass.rng = {7, static_cast<uint32_t>(epoch * batches), GGNN_PURPOSE_SAMPLE};
    return pass;
}

// extract: batches come with their rows.
inline void open_run(run* r, device* d, const lesson* l, net_config c, const ggnn_sampling* how, int64_t batch,
                     bool extract = false)
{
    *r = {};
    r->where = d;
    device_enter(d);
    const bool from_edges = l->f->task.edges.rows != nullptr;
    CHECK(open_data(r, d, l, c.outputs > 1 || l->labelled));
    if (how) {
        loader_plan plan = plan_of(r, *how, batch);
        plan.extract = c.extracted = extract;
        if (from_edges) plan.how.keep |= GGNN_KEEP_POSITIONS;
        if (extract || from_edges) plan.how.last_hop_global = false;
        r->batches = loader_create(d, &plan, nullptr, &why);
        loader_pass pass = pass_of(r, l, 0);
        CHECK(loader_measure(r->batches, &pass, &why));
    }
    const tiers_view* view = tiers_view_of(r->data);
    net_data data = {&view->graph, &view->features, view->labels, from_edges ? &view->edges : nullptr};
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
inline double take_step(run* r, const lesson* l, int i, bool wait = true)
{
    const mini_batch* b = net_whole(r->n);
    if (r->batches) {
        loader_pass pass = pass_of(r, l, i);
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

struct kind : net_kind {
    bool extras; // residual, norm, dropout on features and attention
};

inline kind with_extras(kind k)
{
    strcat(k.name, ", extras");
    k.extras = true;
    return k;
}

// Those of find_kinds, then all of them with extras.
inline std::vector<kind> every_kind(bool with_visits)
{
    net_kind          plain[KINDS_MAX];
    const int         count = find_kinds(plain, with_visits);
    std::vector<kind> all;
    for (int i = 0; i < count; i++) all.push_back({plain[i], false});
    for (int i = 0; i < count; i++) all.push_back(with_extras({plain[i], false}));
    return all;
}
const std::vector<kind> kinds = every_kind(false), importance_kinds = every_kind(true);

inline net_config config_of(const kind& k, int32_t layers, int32_t outputs, bool full)
{
    net_config c = kind_config(&k, layers, 12, outputs);
    c.residual = c.norm = k.extras;
    c.dropout = 0.4f;
    c.input_dropout = k.extras ? 0.2f : 0;
    c.attention_dropout = k.extras ? 0.3f : 0;
    c.weight_decay = 0.01f;
    c.optimizer = k.extras ? NET_ADAMW : NET_ADAM;
    c.full_batch = full;
    return c;
}

inline ggnn_sampling sampling_of(const net_config& c)
{
    ggnn_sampling how = kind_sampling(&c, net_reads_store(&c));
    how.keep |= GGNN_KEEP_REPEATS; // as the trainer does for a device
    return how;
}

#endif
