// adam.cuh - the optimiser's update of all parameters, by the trainer's own net on its own stream.
#ifndef BENCH_CUDA_ADAM_CUH
#define BENCH_CUDA_ADAM_CUH
#include "bench/cuda/common.cuh"
#include "bench/flops.h"
#include "trainer/batch/loader.h"
#include "trainer/device/device.h"
#include "trainer/net/net.h"
#include "trainer/store/tiers.h"

namespace optimisers {

using namespace gpu;

enum { NODES = 8, UPDATES = EMULATED ? 2 : 16 }; // updates of a run, so that waiting for it costs little

// A perceptron, as it has the fewest other parts, over a few nodes without edges.
struct perceptron {
    device*            d = nullptr;
    tiers*             data = nullptr;
    loader*            batches = nullptr;
    net*               n = nullptr;
    int64_t            indptr[NODES + 1] = {};
    ggnn_node          indices[1] = {};
    int32_t            label[NODES] = {};
    std::vector<float> rows;
    std::vector<float> grad;

    ~perceptron()
    {
        net_free(n);
        loader_free(batches);
        tiers_close(data);
        device_close(d);
    }
};

bool open_perceptron(bench* b, perceptron* p, device* on, int32_t features, int32_t hidden)
{
    if (!(p->d = on)) return false;
    p->rows.resize(static_cast<size_t>(NODES) * static_cast<size_t>(features));
    device_enter(on);
    tiers_source from = {};
    from.graph = ggnn_graph_plain(p->indptr, p->indices, nullptr, NODES, 0);
    from.features = ggnn_store_plain(p->rows.data(), NODES, features, GGNN_F32);
    from.labels.label = p->label;
    if (!tiers_open(&p->data, on, &from, &b->why)) return false;
    loader_plan plan = {};
    const tiers_view* view = tiers_view_of(p->data);
    plan.graph = view->graph;
    plan.features = view->features;
    plan.batch = NODES;
    plan.how.num_hops = 2; // of fanout 0
    net_config config = {};
    config.device = on;
    config.model = NET_MLP;
    config.layers = 2, config.hidden = hidden, config.outputs = 47;
    config.heads = config.out_heads = 1;
    config.optimizer = NET_ADAMW, config.weight_decay = .01f;
    config.seed = 1;
    const net_data data = {&view->graph, &view->features, view->labels, nullptr};
    p->batches = loader_create(on, &plan, nullptr, &b->why);
    if (!p->batches) return false;
    p->n = net_create(&config, &data, loader_shape(p->batches), nullptr, &b->why);
    if (!p->n) return false;
    const net_state s = net_state_of(p->n);
    p->grad.resize(static_cast<size_t>(s.count));
    bench_fill(p->grad.data(), s.count, 1);
    device_upload(on, s.grad, p->grad.data(), p->grad.size() * sizeof(float));
    return true;
}

std::vector<float> parameters(const perceptron& p)
{
    const net_state    s = net_state_of(p.n);
    std::vector<float> value(static_cast<size_t>(s.count));
    device_download(p.d, value.data(), s.value, value.size() * sizeof(float));
    return value;
}

bool check_updates(bench* b)
{
    perceptron ours, theirs;
    if (!open_perceptron(b, &ours, b->backend->device(b), 12, 20) ||
        !open_perceptron(b, &theirs, device_open_cpu(b->threads, &b->why), 12, 20))
        return false;
    for (int i = 0; i < 3; i++) {
        net_update(ours.n, .01f);
        net_update(theirs.n, .01f);
    }
    auto x = parameters(ours), y = parameters(theirs);
    return bench_near(b, "a parameter", x.data(), y.data(), static_cast<int64_t>(x.size()), 1e-6);
}

// Least: value and both moments read and written, the gradient read.
bool adam(bench* b)
{
    perceptron* p = own(b, new perceptron());
    if (!check_updates(b) || !p ||
        !open_perceptron(b, p, b->backend->device(b), static_cast<int32_t>(pick(b, 1024, 512, 12)),
                         static_cast<int32_t>(pick(b, 8192, 2048, 20))))
        return false;
    const double count = static_cast<double>(net_state_of(p->n).count);
    bench_case   c = case_of(b, [p] {
        for (int i = 0; i < UPDATES; i++) net_update(p->n, .001f);
        return p->d->failed.text[0] ? cudaErrorUnknown : cudaSuccess;
    });
    name(&c, "%.3g M parameters, %d updates", 1e-6 * count, static_cast<int>(UPDATES));
    c.work = UPDATES * count;
    c.unit = "parameters";
    c.bytes = 28 * c.work;
    c.flops = flops(FLOPS_ADAM, c.work, 0, 0, 0);
    c.warmed = true; // it is waited for
    demand(&c, "copy", 0, c.bytes);
    return bench_measure(b, &c) != nullptr;
}

} // namespace optimisers
#endif
