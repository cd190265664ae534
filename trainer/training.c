/* training.c - the loop over epochs and steps, as each rank runs it. */
#include "trainer/training.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"

/* ==== setting up ================================================================================================ */

bool training_open(training* t, const config* c, const task* data, device* d, comm* with, factored* f, ggnn_file* resumed,
                   report* r, error* why)
{
    worker* w = &t->worker;
    memset(t, 0, sizeof *t);
    t->config = c;
    t->task = data;
    t->report = r;
    if (!worker_open(w, c, data, d, with, why) || (f && !worker_share(w, f, why))) return false;
    if (c->epochs * w->batches >= (int64_t)1 << 30) /* what a random number's key has room for */
        return error_set(why, "--epochs %lld of %lld mini-batches: more than 2^30 steps", (long long)c->epochs,
                         (long long)w->batches);
    if (!trace_open(&t->trace, c, r, w->net, w->batches, why)) return false;
    t->best = memory_new(memory_product((size_t)net_state_of(w->net).count, sizeof *t->best, 1), "best weights", why);
    t->all = memory_new((size_t)with->ranks * sizeof *t->all, "the report of all ranks", why);
    if (!t->best || !t->all || !resumed) return t->best && t->all;
    return checkpoint_restore(resumed, c, data, w->batches, w->net, &t->at, t->best, why);
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
    bool good = t->worker.comm->rank > 0 || checkpoint_save(t->config->save, t->config, t->task, t->worker.net, &t->at,
                                                            t->best, why);
    return good && (!wait || comm_barrier(t->worker.comm, why));
}

static bool train_step(training* t, error* why)
{
    const float rate = config_rate(t->config, t->at.step, t->worker.batches);
    trace_begin(&t->trace, &t->at);
    if (!worker_compute(&t->worker, t->at.step, why) || !worker_reduce(&t->worker, why)) return false;
    trace_gradients(&t->trace);
    worker_update(&t->worker, rate);
    trace_end(&t->trace, rate);
    t->at.step++;
    t->at.batch++;
    t->steps++;
    if (!t->config->save_steps || t->at.step % t->config->save_steps) return read_losses(t, false, why);
    return read_losses(t, true, why) && save(t, !t->worker.part.of, why);
}

/* A worker that samples is back when it has become a trainer, which may be some steps later. */
static bool begin_epoch(training* t, error* why)
{
    worker* w = &t->worker;
    int64_t batch = t->at.batch;
    net_start_losses(w->net, t->at.loss_sum, t->at.loss_rows);
    worker_begin(w, t->at.epoch, batch);
    if (!w->part.of) return true;
    if (!factored_begin(&w->part, &w->pass, batch, w->batches, why) || !factored_sample(&w->part, &batch, why)) return false;
    t->at.step += batch - t->at.batch;
    t->at.batch = batch;
    return true;
}

/* The rest of the epoch that t->at is in; it ends early once all are to stop. */
static bool train_epoch(training* t, error* why)
{
    if (!begin_epoch(t, why)) return false;
    while (t->at.batch < t->worker.batches && !t->worker.comm->stopped)
        if (!train_step(t, why)) return false;
    if (!read_losses(t, true, why)) return false;
    if (t->worker.part.of) factored_end(&t->worker.part);
    return true;
}

/* sign 1: adds what was read until now; -1: takes it away. */
static void add_reads(const tiers* t, evaluation_cost* cost, int sign)
{
    const tiers_reads zero = {0, 0, 0, 0}, rows = tiers_counted(t, TIERS_FEATURES).read, lists = tiers_counted(t, TIERS_GRAPH).read,
                      bytes = tiers_counted(t, TIERS_GRAPH).read_bytes;
    int64_t from[GGNN_DEVICES_MAX];
    tiers_rows_from(t, from);
    if (sign < 0) {
        cost->rows = tiers_reads_since(cost->rows, rows);
        cost->lists = tiers_reads_since(cost->lists, lists);
        cost->list_bytes = tiers_reads_since(cost->list_bytes, bytes);
    } else {
        cost->rows = tiers_reads_since(cost->rows, tiers_reads_since(zero, rows));
        cost->lists = tiers_reads_since(cost->lists, tiers_reads_since(zero, lists));
        cost->list_bytes = tiers_reads_since(cost->list_bytes, tiers_reads_since(zero, bytes));
    }
    for (int i = 0; i < GGNN_DEVICES_MAX; i++) cost->from[i] += sign * from[i];
}

/* Logits that are not finite are an error: no score could tell. Adds up what evaluations cost, so that the profile can
   tell them from training. */
static bool evaluate(training* t, int part, score* result, error* why)
{
    evaluation_cost* cost = &t->evaluation_cost;
    worker* w = &t->worker;
    net_profile before = *net_profile_of(w->net), *sum = &cost->net;
    loader_cost sampled = {0};
    if (w->loader) sampled = loader_cost_of(w->loader);
    double start = progress_seconds();
    add_reads(&w->tiers, cost, -1);
    bool good = evaluation_run(w->evaluation, w->net, part, result, why);
    add_reads(&w->tiers, cost, 1);
    const net_profile* after = net_profile_of(w->net);
    cost->seconds += progress_seconds() - start;
    for (int s = 0; s < NET_NUM_STAGES; s++) {
        sum->seconds[0][s] += after->seconds[0][s] - before.seconds[0][s];
        sum->bytes[0][s] += after->bytes[0][s] - before.bytes[0][s];
    }
    sum->flops[0] += after->flops[0] - before.flops[0];
    if (w->loader) {
        const loader_cost now = loader_cost_of(w->loader);
        cost->loader.seconds += now.seconds - sampled.seconds;
        cost->loader.sample += now.sample - sampled.sample;
        cost->loader.mark += now.mark - sampled.mark;
        cost->loader.extract += now.extract - sampled.extract;
        cost->loader.bytes += now.bytes - sampled.bytes;
    }
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
    net_state s = net_state_of(t->worker.net);
    score val;
    bool evaluated = t->worker.evaluation && due(t->config->eval_every, at->epoch + 1, t->config->epochs), best = false;
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
        device_download(t->worker.device, t->best, s.value, (size_t)s.count * sizeof *s.value);
    }
    const float rate = config_rate(t->config, at->step - 1, t->worker.batches);
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

/* Saves every --save-every epochs and at the end, where there was nothing to be done, too. */
static bool train(training* t, error* why)
{
    bool saved = false; /* as it is now */
    const comm* with = t->worker.comm;
    while (!finished(t) && !with->stopped) {
        if (t->report) report_epoch_begin(t->report);
        if (!train_epoch(t, why)) return false;
        if (t->at.batch == t->worker.batches && !with->stopped && !end_epoch(t, why)) return false;
        saved = t->config->save && due(t->config->save_every, t->at.epoch, 0);
        if (saved && !save(t, true, why)) return false;
    }
    return saved || !t->config->save || save(t, true, why);
}

/* ==== what the ranks did ======================================================================================== */

loader_cost training_batches(const training* t)
{
    const worker* w = &t->worker;
    const loader_cost *apart = &t->evaluation_cost.loader, none = {0};
    if (w->split) return split_loader_cost(w->split).batches;
    if (!w->loader) return none;
    loader_cost all = loader_cost_of(w->loader);
    all.seconds -= apart->seconds;
    all.sample -= apart->sample;
    all.mark -= apart->mark;
    all.extract -= apart->extract;
    all.bytes -= apart->bytes;
    return all;
}

static void put_parts(const split_loader* l, report_rank* k)
{
    const split_cost cost = split_loader_cost(l);
    k->split = true;
    k->parts = (report_parts){cost.targets, cost.batches.edges, cost.rows, cost.moved.own, cost.moved.peer, cost.moved.bytes};
}

static report_rank rank_of(const training* t)
{
    const worker* w = &t->worker;
    const comm_cost cost = w->comm->cost;
    const loader_cost batches = training_batches(t);
    report_rank mine = {.rows = tiers_counted(&w->tiers, TIERS_FEATURES),
                        .lists = tiers_counted(&w->tiers, TIERS_GRAPH), .sent = cost.bytes - t->before.bytes,
                        .seconds = progress_seconds() - t->start, .evaluation = t->evaluation_cost.seconds,
                        .comm = cost.seconds - t->before.seconds,
                        .waited = cost.waited - t->before.waited + w->part.waited, .copy = batches.copy,
                        .sampled = w->part.sampled, .trained = w->part.trained};
    mine.sample = batches.sample;
    mine.mark = batches.mark;
    mine.extract = batches.extract;
    mine.train = net_profile_of(w->net)->train;
    mine.batch = batches.seconds;
    if (w->split) put_parts(w->split, &mine);
    mine.evaluated = t->evaluation_cost.rows;
    mine.rows.read = tiers_reads_since(mine.rows.read, mine.evaluated);
    mine.lists.read = tiers_reads_since(mine.lists.read, t->evaluation_cost.lists);
    mine.lists.read_bytes = tiers_reads_since(mine.lists.read_bytes, t->evaluation_cost.list_bytes);
    mine.rows.read_bytes = tiers_row_bytes(&w->tiers, mine.rows.read);
    tiers_rows_from(&w->tiers, mine.from);
    for (int i = 0; i < GGNN_DEVICES_MAX; i++) mine.from[i] -= t->evaluation_cost.from[i];
    return mine;
}

static bool gather_ranks(training* t, error* why)
{
    comm* c = t->worker.comm;
    t->all[c->rank] = rank_of(t);
    return comm_gather_each(c, t->all, sizeof *t->all, why);
}

/* Rank 0 reports what all did. */
static bool report_all_ranks(training* t, error* why)
{
    if (!gather_ranks(t, why)) return false;
    if (t->report) report_ranks(t->report, t->all, t->worker.comm->ranks);
    return true;
}

/* And before it where everything lies. */
static bool report_all_tiers(training* t, error* why)
{
    if (!t->config->tiers) return true;
    if (!gather_ranks(t, why)) return false;
    if (t->report) report_tiers(t->report, t->all, t->worker.comm->ranks, &t->worker.planned);
    return true;
}

/* The test score with the best weights. */
static bool finish(training* t, error* why)
{
    net_state s = net_state_of(t->worker.net);
    score test;
    bool scored = t->worker.evaluation && t->at.has_best;
    if (scored) {
        device_upload(t->worker.device, s.value, t->best, (size_t)s.count * sizeof *s.value);
        if (!evaluate(t, SPLIT_TEST, &test, why)) return false;
    }
    if (!report_all_ranks(t, why)) return false;
    if (t->report) report_final(t->report, t->task, &t->at, scored ? &test : NULL);
    return true;
}

bool training_run(training* t, error* why)
{
    t->start = progress_seconds();
    t->before = t->worker.comm->cost;
    bool done = report_all_tiers(t, why) && train(t, why) && !t->worker.comm->stopped && finish(t, why);
    const bool stopped = !done && !why->text[0] && t->worker.comm->stopped;
    if (!done && !stopped && t->worker.part.of) factored_fail(t->worker.part.of);
    if (stopped) report_all_ranks(t, why);
    return done;
}

