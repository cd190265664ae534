/* training.c - the loop over epochs and steps, as each rank runs it. */
#include "trainer/training.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/progress.h"

/* ==== setting up ================================================================================================ */

bool training_open(training* t, const config* c, const task* data, device* d, comm* with, factored* f, ggnn_file* resumed,
                   report* r, error* why)
{
    worker* w = &t->worker;
    memset(t, 0, sizeof *t);
    t->config = c;
    t->task = data;
    t->comm = with;
    t->report = r;
    if (!worker_open(w, c, data, d, with, why) || (f && !worker_share(w, f, why))) return false;
    if (c->epochs * worker_batches(w) >= (int64_t)1 << 30) /* what a random number's key has room for */
        return error_set(why, "--epochs %lld of %lld mini-batches: more than 2^30 steps", (long long)c->epochs,
                         (long long)worker_batches(w));
    if (!trace_open(&t->trace, c, r, worker_net(w), worker_batches(w), why)) return false;
    t->best = memory_new(memory_product((size_t)net_state_of(worker_net(w)).count, sizeof *t->best, 1), "best weights", why);
    t->all = memory_new((size_t)with->ranks * sizeof *t->all, "the report of all ranks", why);
    if (!t->best || !t->all || !resumed) return t->best && t->all;
    return checkpoint_restore(resumed, c, data, worker_batches(w), worker_net(w), &t->at, t->best, why);
}

void training_close(training* t)
{
    memory_free(t->best);
    memory_free(t->all);
    trace_close(&t->trace);
    worker_close(&t->worker);
    memset(t, 0, sizeof *t);
}

/* ==== training ================================================================================================== */

/* what: "the loss is nan". */
static bool not_finite(const training* t, int64_t step, const char* what, error* why)
{
    error feature = {""};
    task_blame_features(t->task, &feature);
    return error_set(why, "epoch %lld, step %lld: %s%s%s", (long long)t->at.epoch + (t->at.batch > 0), (long long)step,
                     what, feature.text[0] ? ": " : "; a smaller --lr may help", feature.text);
}

/* wait: of all steps; else of those whose loss is there, so that on a device one that is not finite is found later. */
static bool read_losses(training* t, bool wait, error* why)
{
    net_losses all;
    if (!worker_losses(&t->worker, wait, &all, why)) return false;
    if (all.bad >= 0) {
        char what[64];
        snprintf(what, sizeof what, "the loss is %g", all.bad_loss);
        return not_finite(t, all.bad + 1, what, why);
    }
    t->at.loss_sum = all.sum;
    t->at.loss_rows = all.rows;
    if (t->report) report_step(t->report, &t->at, all.last);
    return true;
}

/* Rank 0 does it, the others wait; between two steps only where all take part in each. */
static bool save(training* t, bool wait, error* why)
{
    bool good = t->comm->rank > 0 || checkpoint_save(t->config->save, t->config, t->task, worker_net(&t->worker), &t->at,
                                                            t->best, why);
    return good && (!wait || comm_barrier(t->comm, why));
}

static bool train_step(training* t, error* why)
{
    const float rate = config_rate(t->config, t->at.step, worker_batches(&t->worker));
    trace_begin(&t->trace, &t->at);
    if (!worker_compute(&t->worker, t->at.step, why) || !worker_reduce(&t->worker, why)) return false;
    trace_gradients(&t->trace);
    worker_update(&t->worker, rate);
    trace_end(&t->trace, rate);
    t->at.step++;
    t->at.batch++;
    t->steps++;
    if (!t->config->save_steps || t->at.step % t->config->save_steps) return read_losses(t, false, why);
    return read_losses(t, true, why) && save(t, worker_steps_with_all(&t->worker), why);
}

/* A worker that samples is back when it has become a trainer, which may be some steps later. */
static bool begin_epoch(training* t, error* why)
{
    int64_t batch = t->at.batch;
    net_start_losses(worker_net(&t->worker), t->at.loss_sum, t->at.loss_rows);
    if (!worker_begin(&t->worker, t->at.epoch, &batch, why)) return false;
    t->at.step += batch - t->at.batch;
    t->at.batch = batch;
    return true;
}

/* The rest of the epoch that t->at is in; it ends early once all are to stop. */
static bool train_epoch(training* t, error* why)
{
    if (!begin_epoch(t, why)) return false;
    while (t->at.batch < worker_batches(&t->worker) && !t->comm->stopped)
        if (!train_step(t, why)) return false;
    if (!read_losses(t, true, why)) return false;
    worker_end(&t->worker);
    return true;
}

/* Logits that are not finite are an error: no score could tell. */
static bool evaluate(training* t, int part, score* result, error* why)
{
    const bool good = worker_evaluate(&t->worker, part, result, why);
    if (!good || result->broken < 0) return good;
    char what[96];
    snprintf(what, sizeof what, "the logits of %s node %lld are not finite", part == SPLIT_VAL ? "validation" : "test",
             (long long)result->broken);
    return not_finite(t, t->at.step, what, why);
}

/* Without validation nodes the last evaluation counts as the best one. */
static bool is_best(const train_state* at, const score* val)
{
    return !at->has_best || val->known == 0 || !(val->loss >= at->best_loss);
}

static bool due(int64_t every, int64_t epoch, int64_t epochs)
{
    return every && (epoch % every == 0 || epoch == epochs);
}

/* Evaluation after the epoch whose batches are all done, then the state moves on to the next one. When stopped in the
   evaluation, nothing has moved: a resumed run begins with it. */
static bool end_epoch(training* t, error* why)
{
    train_state* at = &t->at;
    net_state s = net_state_of(worker_net(&t->worker));
    score val;
    bool evaluated = worker_evaluates(&t->worker) && due(t->config->eval_every, at->epoch + 1, t->config->epochs), best = false;
    if (evaluated && !evaluate(t, SPLIT_VAL, &val, why)) return !why->text[0];
    at->epoch++;
    at->batch = 0;
    if (evaluated) {
        best = is_best(at, &val);
        at->stale = best ? 0 : at->stale + 1;
    }
    if (best) {
        at->has_best = 1;
        at->best_epoch = at->epoch;
        at->best_loss = val.loss;
        device_download(net_device(worker_net(&t->worker)), t->best, s.value, (size_t)s.count * sizeof *s.value);
    }
    const float rate = config_rate(t->config, at->step - 1, worker_batches(&t->worker));
    if (t->report) report_epoch(t->report, at, rate, evaluated ? &val : NULL, best);
    at->loss_sum = 0;
    at->loss_rows = 0;
    return true;
}

static bool finished(const training* t)
{
    const config* c = t->config;
    return t->at.epoch >= c->epochs || (c->patience && t->at.stale >= c->patience);
}

static bool report_all_tiers(training* t, double seconds, error* why);

/* After the first epoch that such a run trains, where another one follows (worker_take_roles). */
static bool take_roles(training* t, error* why)
{
    const double start = progress_seconds();
    bool laid_out;
    if (finished(t) || t->comm->stopped) return true;
    if (!worker_take_roles(&t->worker, t->config, t->task, &laid_out, why)) return false;
    return !laid_out || report_all_tiers(t, progress_seconds() - start, why);
}

/* Saves every --save-every epochs and at the end, where there was nothing to be done, too. */
static bool train(training* t, error* why)
{
    bool saved = false; /* as it is now */
    const comm* with = t->comm;
    while (!finished(t) && !with->stopped) {
        if (t->report) report_epoch_begin(t->report);
        if (!train_epoch(t, why)) return false;
        if (t->at.batch == worker_batches(&t->worker) && !with->stopped && !end_epoch(t, why)) return false;
        saved = t->config->save && due(t->config->save_every, t->at.epoch, 0);
        if (saved && !save(t, true, why)) return false;
        if (t->at.batch == 0 && !take_roles(t, why)) return false;
    }
    return saved || !t->config->save || save(t, true, why);
}

/* ==== what the ranks did ======================================================================================== */

static bool gather_ranks(training* t, error* why)
{
    comm* c = t->comm;
    t->all[c->rank] = worker_costs_of(&t->worker).rank;
    return comm_gather_each(c, t->all, sizeof *t->all, why);
}

/* Rank 0 reports what all did. */
static bool report_all_ranks(training* t, error* why)
{
    if (!gather_ranks(t, why)) return false;
    if (t->report) report_ranks(t->report, t->all, t->comm->ranks);
    return true;
}

/* And where everything lies: before the first epoch, and after `seconds` in which it was laid out once more. */
static bool report_all_tiers(training* t, double seconds, error* why)
{
    if (!worker_places(&t->worker, t->config, t->task)) return true;
    if (!gather_ranks(t, why)) return false;
    if (t->report) report_tiers(t->report, t->all, t->comm->ranks, worker_plan(&t->worker), worker_samplers(&t->worker), seconds);
    return true;
}

/* The test score with the best weights. */
static bool finish(training* t, error* why)
{
    net_state s = net_state_of(worker_net(&t->worker));
    score test;
    bool scored = worker_evaluates(&t->worker) && t->at.has_best;
    if (scored) {
        device_upload(net_device(worker_net(&t->worker)), s.value, t->best, (size_t)s.count * sizeof *s.value);
        if (!evaluate(t, SPLIT_TEST, &test, why)) return false;
    }
    if (!report_all_ranks(t, why)) return false;
    if (t->report) report_final(t->report, t->task, &t->at, scored ? &test : NULL);
    return true;
}

bool training_run(training* t, error* why)
{
    worker_start_costs(&t->worker);
    bool done = report_all_tiers(t, 0, why) && train(t, why) && !t->comm->stopped && finish(t, why);
    const bool stopped = !done && !why->text[0] && t->comm->stopped;
    if (!done && !stopped) worker_fail(&t->worker);
    if (stopped) report_all_ranks(t, why);
    return done;
}

