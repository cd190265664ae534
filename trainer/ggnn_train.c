/* ggnn_train.c - trains a graph neural network: dataset -> loader -> net -> optimiser -> report. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/memory.h"
#include "common/printable.h"
#include "common/sibling.h"
#include "common/standard.h"
#include "trainer/checkpoint.h"
#include "trainer/device.h"
#include "trainer/evaluate.h"
#include "trainer/report.h"

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
    device* device;
    placement data; /* the task's, on the device */
    loader* loader; /* NULL in full batch */
    loader_pass pass;
    int64_t batches; /* an epoch */
    net* net;
    evaluation* evaluation; /* NULL: --eval-every 0 */
    float* best;            /* weights of the least validation loss */
    train_state at;
    int64_t steps; /* of this run */
    report report;
    evaluation_cost evaluation_cost;
} trainer;

/* ==== setting up ================================================================================================ */

static int32_t use_threads(int64_t wanted)
{
#ifdef _OPENMP
    if (wanted > 0) omp_set_num_threads((int)wanted);
    return omp_get_max_threads();
#else
    (void)wanted;
    return 1;
#endif
}

static net_config network_of(const config* c, const task* t, device* d)
{
    return (net_config){
        .device = d,
        .model = (net_model)c->model,
        .aggregator = (net_aggregator)c->aggregator,
        .layers = (int32_t)c->layers,
        .hidden = (int32_t)c->hidden,
        .outputs = t->outputs,
        .heads = (int32_t)c->heads,
        .out_heads = (int32_t)c->out_heads,
        .residual = c->residual,
        .norm = c->norm != 0,
        .dropout = (float)c->dropout,
        .input_dropout = (float)c->input_dropout,
        .attention_dropout = (float)c->attention_dropout,
        .optimizer = (net_optimizer)c->optimizer,
        .weight_decay = (float)c->weight_decay,
        .blas = c->gemm != 0,
        .full_batch = c->full_batch,
        .dense = c->dense_features,
        .seed = (uint64_t)c->seed,
    };
}

static ggnn_sampling sampling_of(const config* c, bool reads_store)
{
    ggnn_sampling how = {.method = (ggnn_method)c->sampler, .num_hops = (int32_t)c->layers};
    how.last_hop_global = reads_store;
    how.walk = (ggnn_walks){(int32_t)c->walks, (int32_t)c->walk_length, (float)c->walk_restart};
    for (int32_t h = 0; h < how.num_hops; h++) how.fanout[h] = c->model == NET_MLP ? 0 : c->fanout[h];
    if (c->model == NET_MLP) how.method = GGNN_FISHER_YATES; /* an MLP has no neighbours to choose */
    return how;
}

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

static bool open_device(trainer* t, error* why)
{
    static const char* const name[] = {"cpu", "cuda", "cuda-emulated"};
    const config* c = &t->config;
    t->device = c->backend == SIBLING_CPU ? device_cpu() : device_open_cuda(c->precision == PRECISION_TF32, why);
    if (!t->device || strcmp(t->device->backend, name[c->backend]) == 0) return t->device != NULL;
    return error_set(why, "--backend %s: this program has %s", name[c->backend], t->device->backend);
}

static bool create(trainer* t, int32_t threads, error* why)
{
    const config* c = &t->config;
    if (!task_open(&t->task, c, why)) return false;
    if (c->save && !checkpoint_possible(c->save, why)) return false;
    if (!open_device(t, why)) return false;
    if (c->profile) t->device->profile = t->device->plain = t->device->serial = true;
    net_config network = network_of(c, &t->task, t->device);
    const task* set = &t->task;
    if (!placement_open(&t->data, t->device, &set->graph, &set->features, &set->trained, why)) return false;
    net_data data = {&t->data.graph, &t->data.features};
    t->pass.ids = t->task.ids[SPLIT_TRAIN];
    t->pass.num_ids = t->task.count[SPLIT_TRAIN];
    t->pass.shuffled = t->pass.keyed = true;
    t->pass.rng = (ggnn_rng){(uint64_t)c->seed, 0, GGNN_PURPOSE_SAMPLE};
    t->batches = 1;
    if (!c->full_batch) {
        ggnn_sampling how = sampling_of(c, net_reads_store(&network));
        int64_t batch = c->batch < t->pass.num_ids ? c->batch : t->pass.num_ids;
        t->loader = loader_create(t->device, &t->data.graph, &how, batch, threads, NULL, why);
        if (!t->loader || !loader_measure(t->loader, &t->pass, why)) return false;
        t->batches = loader_batches(t->loader, &t->pass);
    }
    if (c->epochs * t->batches >= (int64_t)1 << 30) /* what a random number's key has room for */
        return error_set(why, "--epochs %lld of %lld mini-batches: more than 2^30 steps", (long long)c->epochs,
                         (long long)t->batches);
    if (c->eval_every)
        t->evaluation = evaluation_create(c, &t->task, &t->data, &network, t->loader, threads, &stop, why);
    if (c->eval_every && !t->evaluation) return false;
    t->net = net_create(&network, &data, t->loader ? loader_shape(t->loader) : NULL,
                        t->evaluation ? evaluation_chunk(t->evaluation) : NULL, why);
    if (!t->net) return false;
    t->best = memory_new(memory_product((size_t)net_state_of(t->net).count, sizeof *t->best, 1), "best weights", why);
    return t->best != NULL;
}

static void destroy(trainer* t)
{
    error ignored = {""};
    report_close(&t->report, &ignored);
    memory_free(t->best);
    net_free(t->net);
    evaluation_free(t->evaluation);
    loader_free(t->loader);
    placement_close(&t->data);
    device_close(t->device);
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

/* wait: of all steps; else of those whose loss is there. Where nothing is read for long, a loss that is not finite is
   found as late. */
static bool read_losses(trainer* t, bool wait, error* why)
{
    net_losses all = net_losses_of(t->net, wait);
    if (t->device->failed.text[0]) return error_set(why, "%s", t->device->failed.text);
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

static bool train_step(trainer* t, const ggnn_batch* batch, error* why)
{
    if (t->loader && !net_fit(t->net, loader_shape(t->loader), why)) return false;
    net_step(t->net, batch, &t->data.labels, (uint32_t)t->at.step, config_rate(&t->config, t->at.step, t->batches));
    t->at.step++;
    t->at.batch++;
    t->steps++;
    if (!t->device->host && !report_wants_loss(&t->report)) return true;
    return read_losses(t, false, why);
}

/* The rest of the epoch that t->at is in; it ends early once stop is set. */
static bool train_epoch(trainer* t, error* why)
{
    t->pass.epoch = (uint32_t)t->at.epoch;
    t->pass.rng.step = (uint32_t)(t->at.epoch * t->batches);
    net_start_losses(t->net, t->at.loss_sum, t->at.loss_rows);
    if (t->loader) loader_begin(t->loader, &t->pass, t->at.batch);
    while (t->at.batch < t->batches && !stop) {
        const ggnn_batch* batch = t->loader ? loader_next(t->loader, why) : net_whole(t->net);
        if (!batch || !train_step(t, batch, why)) return false;
    }
    if (t->loader && t->at.batch == t->batches) loader_next(t->loader, why); /* what it has to say of the pass */
    return !why->text[0] && read_losses(t, true, why);
}

/* Logits that are not finite are an error: no score could tell. Adds up what evaluations cost, so that the profile can
   tell them from training. */
static bool evaluate(trainer* t, int part, score* result, error* why)
{
    evaluation_cost* cost = &t->evaluation_cost;
    net_profile before = *net_profile_of(t->net), *sum = &cost->net;
    loader_cost sampled = {0, 0, 0, 0};
    if (t->loader) sampled = loader_cost_of(t->loader);
    double start = progress_seconds();
    bool good = evaluation_run(t->evaluation, t->net, part, result, why);
    const net_profile* after = net_profile_of(t->net);
    cost->seconds += progress_seconds() - start;
    for (int s = 0; s < NET_NUM_STAGES; s++) {
        sum->seconds[0][s] += after->seconds[0][s] - before.seconds[0][s];
        sum->bytes[0][s] += after->bytes[0][s] - before.bytes[0][s];
    }
    sum->flops[0] += after->flops[0] - before.flops[0];
    if (t->loader) {
        cost->loader.seconds += loader_cost_of(t->loader).seconds - sampled.seconds;
        cost->loader.bytes += loader_cost_of(t->loader).bytes - sampled.bytes;
    }
    if (!good || result->broken < 0) return good;
    char what[96];
    snprintf(what, sizeof what, "the logits of %s node %lld are not finite", part == SPLIT_VAL ? "validation" : "test",
             (long long)result->broken);
    return not_finite(t, t->at.step, what, why);
}

static bool save(trainer* t, error* why)
{
    return checkpoint_save(t->config.save, &t->config, &t->task, t->net, &t->at, t->best, why);
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
    net_state s = net_state_of(t->net);
    score val;
    bool evaluated = t->evaluation && due(t->config.eval_every, at->epoch + 1, t->config.epochs), best = false;
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
        device_download(t->device, t->best, s.value, (size_t)s.count * sizeof *s.value);
    }
    report_epoch(&t->report, at, config_rate(&t->config, at->step - 1, t->batches), evaluated ? &val : NULL, best);
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
        if (t->at.batch == t->batches && !stop && !end_epoch(t, why)) return false;
        saved = t->config.save && due(t->config.save_every, t->at.epoch, 0);
        if (saved && !save(t, why)) return false;
    }
    return saved || !t->config.save || save(t, why);
}

/* The test score with the best weights. */
static bool finish(trainer* t, error* why)
{
    net_state s = net_state_of(t->net);
    score test;
    bool scored = t->evaluation && t->at.has_best;
    if (scored) {
        device_upload(t->device, s.value, t->best, (size_t)s.count * sizeof *s.value);
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
    int32_t threads = use_threads(c->threads);
    report_begin(&t->report, c);
    if (!create(t, threads, why)) return STATUS_FAILURE;
    if (c->resume && !checkpoint_restore(resumed, c, &t->task, t->batches, t->net, &t->at, t->best, why))
        return STATUS_FAILURE;
    if (!report_open(&t->report, c, why)) return STATUS_FAILURE; /* all that is read is good: an old log may go */
    warn(t, resumed);
    report_start(&t->report, c, &t->task, t->net, threads, t->batches, &t->at);
    catch_signals();
    bool done = train(t, why) && !stop && finish(t, why);
    if (t->loader) sampled = loader_cost_of(t->loader);
    if (c->profile) report_profile(&t->report, t->steps, net_profile_of(t->net), sampled, &t->evaluation_cost);
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
