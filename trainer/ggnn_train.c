/* ggnn_train.c - trains a graph neural network: dataset -> loader -> net -> optimiser -> report. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/printable.h"
#include "common/sibling.h"
#include "common/standard.h"
#include "trainer/checkpoint.h"
#include "trainer/report.h"
#include "trainer/worker.h"

enum { STATUS_DONE = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/* Set by SIGINT and SIGTERM: the step is finished, then the training saved. A second one, of either, ends the program. */
static volatile sig_atomic_t stop;
static void on_signal(int signal_number)
{
    (void)signal_number;
    stop = 1;
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct {
    config config;
    task task;
    worker worker;
    float* best; /* weights of the least validation loss */
    train_state at;
    int64_t steps; /* of this run */
    report report;
    evaluation_cost evaluation_cost;
} trainer;

/* ==== setting up ================================================================================================ */

#if defined(__GNUC__)
__attribute__((format(printf, 1, 2)))
#endif
static void warning(const char* format, ...)
{
    char text[640], safe[640];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    fprintf(stderr, "ggnn-train: warning: %s\n", printable(safe, sizeof safe, text));
}

/* What is no error and may yet not be meant. */
static void warn(const trainer* t, const ggnn_file* resumed)
{
    const config* c = &t->config;
    bool weighted = config_reads_weights(c), equal = weighted && !t->task.set.csc.weight;
    bool walks = c->sampler == GGNN_WALK && !c->full_batch;
    if (equal)
        warning("--sampler weighted: %s has no edge weights (section 'weight'): all neighbours are as likely", c->data);
    if (c->model == NET_GCN && (walks || (weighted && !equal)))
        warning("--sampler %s: GCN's scaling is an unbiased estimate only under uniform sampling",
                walks ? "walk" : "weighted");
    if (c->resume && checkpoint_is_old(resumed))
        warning("--resume %s: version 0.1 wrote it; that features, labels and splits are the same is not checked",
                c->resume);
    if (c->eval_every && !t->task.labelled[SPLIT_VAL])
        warning("%s: no validation node has a label: the last epoch counts as the best one%s", c->data,
                c->patience ? ", --patience ends nothing" : "");
    if (c->eval_every && !t->task.labelled[SPLIT_TEST])
        warning("%s: no test node has a label: there will be no test score", c->data);
}

static device* open_device(const config* c, error* why)
{
    static const char* const name[] = {"cpu", "cuda", "cuda-emulated"};
    device* d = c->backend == SIBLING_CPU ? device_open_cpu((int32_t)c->threads, why)
                                          : device_open_cuda(c->precision == PRECISION_TF32, why);
    if (!d || strcmp(d->backend, name[c->backend]) == 0) return d;
    error_set(why, "--backend %s: this program has %s", name[c->backend], d->backend);
    device_close(d);
    return NULL;
}

static bool create(trainer* t, error* why)
{
    const config* c = &t->config;
    worker* w = &t->worker;
    if (!task_open(&t->task, c, why)) return false;
    if (c->save && !checkpoint_possible(c->save, why)) return false;
    device* d = open_device(c, why);
    if (!d) return false;
    if (c->profile) d->profile = d->plain = d->serial = true;
    if (!worker_open(w, c, &t->task, d, 0, 1, &stop, why)) return false;
    if (c->epochs * w->batches >= (int64_t)1 << 30) /* what a random number's key has room for */
        return error_set(why, "--epochs %lld of %lld mini-batches: more than 2^30 steps", (long long)c->epochs,
                         (long long)w->batches);
    t->best = memory_new(memory_product((size_t)net_state_of(w->net).count, sizeof *t->best, 1), "best weights", why);
    return t->best != NULL;
}

static void destroy(trainer* t)
{
    error ignored = {""};
    report_close(&t->report, &ignored);
    memory_free(t->best);
    worker_close(&t->worker);
    task_close(&t->task);
}

/* ==== training ================================================================================================== */

/* what: "the loss is nan". */
static bool not_finite(const trainer* t, int64_t step, const char* what, error* why)
{
    error feature = {""};
    task_blame_features(&t->task, &feature);
    return error_set(why, "epoch %lld, step %lld: %s%s%s", (long long)t->at.epoch + (t->at.batch > 0), (long long)step,
                     what, feature.text[0] ? ": " : "; a smaller --lr may help", feature.text);
}

/* wait: of all steps; else of those whose loss is there, so that on a device one that is not finite is found later. */
static bool read_losses(trainer* t, bool wait, error* why)
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
    report_step(&t->report, &t->at, all.last);
    return true;
}

static bool train_step(trainer* t, error* why)
{
    if (!worker_compute(&t->worker, t->at.step, why)) return false;
    worker_update(&t->worker, config_rate(&t->config, t->at.step, t->worker.batches));
    t->at.step++;
    t->at.batch++;
    t->steps++;
    return read_losses(t, false, why);
}

/* The rest of the epoch that t->at is in; it ends early once stop is set. */
static bool train_epoch(trainer* t, error* why)
{
    net_start_losses(t->worker.net, t->at.loss_sum, t->at.loss_rows);
    worker_begin(&t->worker, t->at.epoch, t->at.batch);
    while (t->at.batch < t->worker.batches && !stop)
        if (!train_step(t, why)) return false;
    return read_losses(t, true, why);
}

/* Logits that are not finite are an error: no score could tell. Adds up what evaluations cost, so that the profile can
   tell them from training. */
static bool evaluate(trainer* t, int part, score* result, error* why)
{
    evaluation_cost* cost = &t->evaluation_cost;
    worker* w = &t->worker;
    net_profile before = *net_profile_of(w->net), *sum = &cost->net;
    loader_cost sampled = {0, 0, 0, 0};
    if (w->loader) sampled = loader_cost_of(w->loader);
    double start = progress_seconds();
    bool good = evaluation_run(w->evaluation, w->net, part, result, why);
    const net_profile* after = net_profile_of(w->net);
    cost->seconds += progress_seconds() - start;
    for (int s = 0; s < NET_NUM_STAGES; s++) {
        sum->seconds[0][s] += after->seconds[0][s] - before.seconds[0][s];
        sum->bytes[0][s] += after->bytes[0][s] - before.bytes[0][s];
    }
    sum->flops[0] += after->flops[0] - before.flops[0];
    if (w->loader) {
        cost->loader.seconds += loader_cost_of(w->loader).seconds - sampled.seconds;
        cost->loader.bytes += loader_cost_of(w->loader).bytes - sampled.bytes;
    }
    if (!good || result->broken < 0) return good;
    char what[96];
    snprintf(what, sizeof what, "the logits of %s node %lld are not finite", part == SPLIT_VAL ? "validation" : "test",
             (long long)result->broken);
    return not_finite(t, t->at.step, what, why);
}

static bool save(trainer* t, error* why)
{
    return checkpoint_save(t->config.save, &t->config, &t->task, t->worker.net, &t->at, t->best, why);
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
static bool end_epoch(trainer* t, error* why)
{
    train_state* at = &t->at;
    net_state s = net_state_of(t->worker.net);
    score val;
    bool evaluated = t->worker.evaluation && due(t->config.eval_every, at->epoch + 1, t->config.epochs), best = false;
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
    report_epoch(&t->report, at, config_rate(&t->config, at->step - 1, t->worker.batches), evaluated ? &val : NULL, best);
    at->loss_sum = 0;
    at->loss_rows = 0;
    return true;
}

static bool finished(const trainer* t)
{
    const config* c = &t->config;
    return t->at.epoch >= c->epochs || (c->patience && t->at.stale >= c->patience);
}

/* Saves every --save-every epochs and at the end, where there was nothing to be done, too. */
static bool train(trainer* t, error* why)
{
    bool saved = false; /* as it is now */
    while (!finished(t) && !stop) {
        report_epoch_begin(&t->report);
        if (!train_epoch(t, why)) return false;
        if (t->at.batch == t->worker.batches && !stop && !end_epoch(t, why)) return false;
        saved = t->config.save && due(t->config.save_every, t->at.epoch, 0);
        if (saved && !save(t, why)) return false;
    }
    return saved || !t->config.save || save(t, why);
}

/* The test score with the best weights. */
static bool finish(trainer* t, error* why)
{
    net_state s = net_state_of(t->worker.net);
    score test;
    bool scored = t->worker.evaluation && t->at.has_best;
    if (scored) {
        device_upload(t->worker.device, s.value, t->best, (size_t)s.count * sizeof *s.value);
        if (!evaluate(t, SPLIT_TEST, &test, why)) return false;
    }
    report_final(&t->report, &t->task, &t->at, scored ? &test : NULL);
    return true;
}

/* ==== the program =============================================================================================== */

static int run(trainer* t, ggnn_file* resumed, error* why)
{
    const config* c = &t->config;
    loader_cost sampled = {0, 0, 0, 0};
    worker* w = &t->worker;
    report_begin(&t->report, c);
    if (!create(t, why)) return STATUS_FAILURE;
    if (c->resume && !checkpoint_restore(resumed, c, &t->task, w->batches, w->net, &t->at, t->best, why))
        return STATUS_FAILURE;
    if (!report_open(&t->report, c, why)) return STATUS_FAILURE; /* all that is read is good: an old log may go */
    warn(t, resumed);
    report_start(&t->report, c, &t->task, w->net, w->device->threads, w->batches, &t->at);
    catch_signals();
    bool done = train(t, why) && !stop && finish(t, why);
    if (w->loader) sampled = loader_cost_of(w->loader);
    if (c->profile) report_profile(&t->report, t->steps, net_profile_of(w->net), sampled, &t->evaluation_cost);
    if (!done && !why->text[0]) report_interrupted(&t->report, c, &t->at);
    if (!report_close(&t->report, why) || why->text[0]) return STATUS_FAILURE;
    return done ? STATUS_DONE : STATUS_INTERRUPTED;
}

/* The command line, and a checkpoint's options where it names one. */
static int configure(config* c, ggnn_file* resumed, int argc, char** argv, error* why)
{
    size_t length = 0;
    const char* options = NULL;
    if (config_parse(c, argc, argv, why) != OPTIONS_GOOD) return STATUS_USAGE;
    if (c->resume && !(options = checkpoint_open(resumed, c->resume, &length, why))) return STATUS_FAILURE;
    if (options && !config_inherit(c, c->resume, options, length, why)) return STATUS_USAGE;
    if (!config_finish(c, why)) return STATUS_USAGE;
    if (c->backend == SIBLING_CPU || device_open_cuda) return STATUS_DONE;
    sibling_run(c->backend, argv, why);
    return STATUS_FAILURE;
}

int main(int argc, char** argv)
{
    static trainer t;
    static ggnn_file resumed;
    error why = {""};
    standard_open();
    signal(SIGXFSZ, SIG_IGN); /* a file past a limit is an error with a message, as on a full disk */
    int status = STATUS_DONE;
    if (!options_version("ggnn-train", argc, argv)) status = configure(&t.config, &resumed, argc, argv, &why);
    if (status == STATUS_DONE && t.config.data) status = run(&t, &resumed, &why);
    else if (!why.text[0]) status = standard_flush(&why) ? STATUS_DONE : STATUS_FAILURE; /* --help, --version */
    if (why.text[0]) fprintf(stderr, "ggnn-train: %s\n", why.text);
    destroy(&t);
    ggnn_file_close(&resumed);
    return status;
}
