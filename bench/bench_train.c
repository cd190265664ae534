/* bench_train.c - the trainer's own code on any backend: steps and epochs of GraphSAGE, GCN and GAT, 3
   layers. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "trainer/device.h"
#include "trainer/loader.h"
#include "trainer/ops.h"
#include "trainer/task.h"

typedef struct {
    config config;
    task task;
    device* device;
    placement data;
    loader* loader;
    loader_pass pass;
    net* net;
    uint32_t step;
    int64_t batches;  /* of a pass */
    bool fresh_seeds; /* each pass is another epoch */
    bool counting;    /* what the operations must do: a captured step, done again, counts nothing */
    error why;
} training;

static void close_training(void* context)
{
    training* t = context;
    net_free(t->net);
    loader_free(t->loader);
    placement_close(&t->data);
    device_close(t->device);
    task_close(&t->task);
}

static const char* const model_name[] = {[NET_SAGE] = "sage", [NET_GCN] = "gcn", [NET_GAT] = "gat"};

/* The command line of ggnn-train that this is. */
static bool configure(bench* b, training* t, const bench_graph* g, net_model which)
{
    char hidden[32], fanout[64], batch[32], features[8];
    snprintf(hidden, sizeof hidden, "--hidden=%d", (int)g->hidden);
    snprintf(fanout, sizeof fanout, "--fanout=%d,%d,%d", (int)g->fanout[0], (int)g->fanout[1],
             (int)g->fanout[2]);
    snprintf(batch, sizeof batch, "--batch=%d", (int)g->batch);
    snprintf(features, sizeof features, "--data");
    char* argv[] = {"ggnn-train",
                    features,
                    (char*)(uintptr_t)g->path,
                    "--model",
                    (char*)(uintptr_t)model_name[which],
                    "--layers=3",
                    hidden,
                    fanout,
                    batch,
                    "--eval-every=0",
                    NULL};
    int argc = (int)(sizeof argv / sizeof *argv) - 1;
    return config_parse(&t->config, argc, argv, &b->why) == OPTIONS_GOOD &&
           config_finish(&t->config, &b->why);
}

static net_config network_of(const training* t)
{
    const config* c = &t->config;
    return (net_config){.device = t->device,
                        .model = (net_model)c->model,
                        .aggregator = (net_aggregator)c->aggregator,
                        .layers = (int32_t)c->layers,
                        .hidden = (int32_t)c->hidden,
                        .outputs = t->task.outputs,
                        .heads = (int32_t)c->heads,
                        .out_heads = (int32_t)c->out_heads,
                        .norm = c->norm != 0,
                        .dropout = (float)c->dropout,
                        .optimizer = (net_optimizer)c->optimizer,
                        .weight_decay = (float)c->weight_decay,
                        .seed = (uint64_t)c->seed};
}

/* batches: of a pass, at most. */
static bool open_training(bench* b, training* t, net_model which, int64_t batches)
{
    const bench_graph* g = bench_graph_of(b);
    memset(t, 0, sizeof *t);
    if (!bench_defer(b, close_training, t) || !g || !configure(b, t, g, which)) return false;
    if (!task_open(&t->task, &t->config, &b->why) || !(t->device = b->backend->device(b))) return false;
    const task* set = &t->task;
    if (!placement_open(&t->data, t->device, &set->graph, &set->features, &set->trained, &b->why))
        return false;
    net_config network = network_of(t);
    net_data data = {&t->data.graph, &t->data.features};
    ggnn_sampling how = {
        .method = GGNN_FISHER_YATES, .num_hops = 3, .last_hop_global = net_reads_store(&network)};
    for (int h = 0; h < 3; h++) how.fanout[h] = (int32_t)g->fanout[h];
    t->loader = loader_create(t->device, &t->data.graph, &how, g->batch, b->threads, NULL, &b->why);
    t->pass = (loader_pass){.ids = set->ids[SPLIT_TRAIN],
                            .num_ids = set->count[SPLIT_TRAIN],
                            .shuffled = true,
                            .keyed = true,
                            .rng = {1, 0, GGNN_PURPOSE_SAMPLE}};
    if (!t->loader || !loader_measure(t->loader, &t->pass, &b->why)) return false;
    t->net = net_create(&network, &data, loader_shape(t->loader), NULL, &b->why);
    if (batches * g->batch < t->pass.num_ids) t->pass.num_ids = batches * g->batch;
    t->batches = loader_batches(t->loader, &t->pass);
    return t->net != NULL;
}

static void take_step(training* t, const ggnn_batch* batch)
{
    int64_t known;
    if (!net_fit(t->net, loader_shape(t->loader), &t->why)) return;
    if (!t->counting) {
        net_step(t->net, batch, &t->data.labels, t->step++, .001f);
        return;
    }
    net_forward(t->net, batch, t->step++, true);
    net_loss(t->net, &t->data.labels, &known);
    net_backward(t->net);
    net_update(t->net, .001f);
}

/* All batches of a pass, as ggnn-train takes them: the losses are read at its end. */
static void run_pass(void* context)
{
    training* t = context;
    const ggnn_batch* batch;
    if (t->fresh_seeds) {
        t->pass.epoch++;
        t->pass.rng.step = t->step;
    }
    net_start_losses(t->net, 0, 0);
    loader_begin(t->loader, &t->pass, 0);
    for (int64_t i = 0; i < t->batches && !t->why.text[0]; i++) {
        if (!(batch = loader_next(t->loader, &t->why))) return;
        take_step(t, batch);
    }
    if (t->why.text[0]) return;
    net_losses all = net_losses_of(t->net, true);
    if (t->device->failed.text[0]) error_set(&t->why, "%s", t->device->failed.text);
    else if (all.bad >= 0) error_set(&t->why, "the loss of step %lld is %g", (long long)all.bad, all.bad_loss);
}

/* ---- what a step must do ------------------------------------------------------------------------------- */

typedef struct { /* summed since the start: seconds and bytes of stages, forward and backward together */
    double seconds[NET_NUM_STAGES + 1], bytes[NET_NUM_STAGES + 1], flops; /* the last one: sampling */
} account;

static account account_of(const training* t)
{
    const net_profile* p = net_profile_of(t->net);
    loader_cost sampled = loader_cost_of(t->loader);
    account a;
    for (int s = 0; s < NET_NUM_STAGES; s++) {
        a.seconds[s] = p->seconds[0][s] + p->seconds[1][s];
        a.bytes[s] = (double)(p->bytes[0][s] + p->bytes[1][s]);
    }
    a.seconds[NET_NUM_STAGES] = sampled.seconds;
    a.bytes[NET_NUM_STAGES] = (double)sampled.bytes;
    a.flops = (double)(p->flops[0] + p->flops[1]);
    return a;
}

/* Products at the multiply-add roof, and what they do not move at the copy roof. */
static void fill_demand(bench_case* c, const account* before, const account* after, double times)
{
    c->flops = (after->flops - before->flops) * times;
    c->bytes = 0;
    for (int s = 0; s <= NET_NUM_STAGES; s++)
        if (s != NET_GEMM) c->bytes += (after->bytes[s] - before->bytes[s]) * times;
    c->demand[0] = (bench_demand){"madd", 0, c->flops};
    c->demand[1] = (bench_demand){"copy", 0, c->bytes};
    c->add = true;
}

static void note_stages(bench* b, const bench_result* r, const account* before, const account* after,
                        double steps)
{
    const char* name = "sample|" NET_STAGES;
    for (int i = 0; i <= NET_NUM_STAGES; i++, name += strcspn(name, "|") + 1) {
        int s = i ? i - 1 : NET_NUM_STAGES;
        char text[32];
        double seconds = (after->seconds[s] - before->seconds[s]) / steps;
        snprintf(text, sizeof text, "%.*s", (int)strcspn(name, "|"), name);
        if (seconds > 0) bench_note(b, r, text, seconds, "s");
    }
}

static const char* title(net_model which)
{
    return which == NET_SAGE ? "GraphSAGE" : which == NET_GCN ? "GCN" : "GAT";
}

enum { EPOCH = 64 }; /* batches, at most: they show its pace, and all of bench stays below ten minutes */

/* passes of a few batches (step) or of an epoch's, other ones each time */
static bool train(bench* b, net_model which, bool whole)
{
    training* t = bench_new(b, sizeof *t, "training");
    int32_t mark = bench_mark(b);
    int64_t group = (3 + b->threads) / b->threads * b->threads; /* batches are sampled `threads` at a time */
    if (!t || !open_training(b, t, which, whole ? EPOCH : group)) return false;
    int64_t batches = t->batches;
    bench_case c = {.run = run_pass, .context = t, .work = (double)batches, .unit = "steps", .warmed = true};
    account before = account_of(t), after;
    if (group < batches) t->batches = group;
    t->counting = true;
    run_pass(t); /* warms up, and says what a step must do */
    t->counting = false;
    after = account_of(t);
    for (int i = 0; i < 2 && !t->device->host; i++) run_pass(t); /* launched, then captured */
    fill_demand(&c, &before, &after, (double)batches / (double)t->batches);
    t->batches = batches;
    t->fresh_seeds = whole;
    snprintf(c.what, sizeof c.what, "%s, 3 x %d, %lld steps of %lld", title(which), (int)t->config.hidden,
             (long long)t->batches, (long long)t->config.batch);
    before = account_of(t);
    uint32_t step = t->step;
    const bench_result* r = bench_measure(b, &c);
    after = account_of(t);
    if (t->why.text[0]) return error_set(&b->why, "%s: %s", b->entry, t->why.text);
    if (!r) return false;
    note_stages(b, r, &before, &after, (double)(t->step - step));
    bench_release(b, mark);
    return true;
}

bool bench_step(bench* b)
{
    return train(b, NET_SAGE, false) && train(b, NET_GCN, false) && train(b, NET_GAT, false);
}
bool bench_epoch(bench* b)
{
    return train(b, NET_SAGE, true) && train(b, NET_GCN, true) && train(b, NET_GAT, true);
}
