/* bench_train.c - the trainer's own code on any backend: steps and epochs of GraphSAGE, GCN and GAT, 3
   layers. */
#include <string.h>

#include "bench/bench.h"
#include "trainer/worker.h"

typedef struct {
    config config;
    task task;
    comm alone;
    worker worker;
    int64_t step, epoch;
    int64_t batches;  /* of a pass */
    bool fresh_seeds; /* each pass is another epoch */
    error why;
} training;

static const volatile sig_atomic_t never = 0;

static void close_training(void* context)
{
    training* t = context;
    worker_close(&t->worker);
    task_close(&t->task);
}

static const char* const model_name[] = {[NET_SAGE] = "sage", [NET_GCN] = "gcn", [NET_GAT] = "gat"};

/* The command line of ggnn-train that this is. */
static bool configure(bench* b, training* t, const bench_graph* g, net_model which)
{
    char hidden[32], fanout[64], batch[32], features[8];
    snprintf(hidden, sizeof hidden, "--hidden=%d", (int)g->hidden);
    snprintf(fanout, sizeof fanout, "--fanout=%d,%d,%d", (int)g->fanout[0], (int)g->fanout[1], (int)g->fanout[2]);
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

/* batches: of a pass, at most. */
static bool open_training(bench* b, training* t, net_model which, int64_t batches)
{
    const bench_graph* g = bench_graph_of(b);
    memset(t, 0, sizeof *t);
    if (!bench_defer(b, close_training, t) || !g || !configure(b, t, g, which)) return false;
    if (!task_open(&t->task, &t->config, &b->why)) return false;
    device* d = b->backend->device(b);
    worker* w = &t->worker;
    comm_open_alone(&t->alone, &never);
    if (!d || !worker_open(w, &t->config, &t->task, d, &t->alone, &b->why)) return false;
    if (batches * t->config.batch < w->pass.num_ids) w->pass.num_ids = batches * t->config.batch;
    t->batches = w->batches = loader_batches(w->loader, &w->pass);
    return true;
}

/* All batches of a pass, as ggnn-train takes them: the losses are read at its end. */
static void run_pass(void* context)
{
    training* t = context;
    worker* w = &t->worker;
    net_losses all;
    t->epoch += t->fresh_seeds;
    net_start_losses(w->net, 0, 0);
    int64_t first = 0;
    if (!worker_begin(w, t->epoch, &first, &t->why)) return;
    for (int64_t i = 0; i < t->batches; i++) {
        if (!worker_compute(w, t->step++, &t->why)) return;
        worker_update(w, .001f);
    }
    if (worker_losses(w, true, &all, &t->why) && all.bad >= 0)
        error_set(&t->why, "the loss of step %lld is %g", (long long)all.bad, all.bad_loss);
}

/* ---- what a step must do ------------------------------------------------------------------------------- */

typedef struct { /* summed since the start: seconds and bytes of stages, forward and backward together */
    double seconds[NET_NUM_STAGES + 1], bytes[NET_NUM_STAGES + 1], flops; /* the last one: sampling */
} account;

static account account_of(const training* t)
{
    const net_profile* p = net_profile_of(t->worker.net);
    loader_cost sampled = loader_cost_of(t->worker.loader);
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
    bool plain = t->worker.device->plain;
    t->worker.device->plain = true;
    run_pass(t); /* warms up, and says what a step must do: a captured one, done again, counts nothing */
    t->worker.device->plain = plain;
    after = account_of(t);
    if (t->worker.device->launched) run_pass(t); /* captured */
    fill_demand(&c, &before, &after, (double)batches / (double)t->batches);
    t->batches = batches;
    t->fresh_seeds = whole;
    snprintf(c.what, sizeof c.what, "%s, 3 x %d, %lld steps of %lld", title(which), (int)t->config.hidden,
             (long long)t->batches, (long long)t->config.batch);
    before = account_of(t);
    int64_t step = t->step;
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
