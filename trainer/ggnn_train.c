/* ggnn_train.c - trains a graph neural network: dataset -> loader -> net -> optimiser -> report. Or, where its first word is
   predict, runs a trained one: dataset -> loader -> net -> file. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/bus_error.h"
#include "common/memory.h"
#include "common/printable.h"
#include "common/sibling.h"
#include "common/standard.h"
#include "common/unfinished.h"
#include "trainer/agree.h"
#include "trainer/explain.h"
#include "trainer/predict.h"
#include "trainer/saved/commands.h"

enum { STATUS_DONE = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2, STATUS_INTERRUPTED = 130 };

/* Set by SIGINT and SIGTERM, atomically, as all ranks read it: the step is finished, then the training saved. A second one, of
   either, ends the program. */
static volatile sig_atomic_t stop;
static void on_signal(int signal_number)
{
    const int before = errno; /* of whatever was interrupted */
    (void)signal_number;
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    signal(SIGINT, unfinished_end);
    signal(SIGTERM, unfinished_end);
    errno = before;
}

static void catch_signals(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

typedef struct program program;
typedef struct { /* one of the ranks that this process has; each is a thread, one that is alone is the main thread */
    program* of;
    comm* comm;
    const task* task;
    int32_t threads; /* of OpenMP */
    training training;
    prediction prediction; /* in place of a training */
    bool done;       /* to the end */
    error why;
    pthread_t thread;
} rank;

struct program {
    config config;
    task* task;      /* (tasks) one for all ranks of this process; of parts of a graph one for each */
    int32_t tasks;
    ggnn_file resumed; /* of --resume or --load */
    predict_nodes asked; /* of a prediction */
    report report;
    int32_t ranks;   /* of this process */
    bool mpi;        /* each process is one */
    rank* rank;
    comm* comm;      /* (ranks) */
    factored* factored; /* NULL: another pipeline */
    pthread_mutex_t gate; /* held until all threads have been started */
    bool started;         /* all threads have been started */
};

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

/* What is no error and may yet not be meant of how batches are sampled. */
static void warn_of_sampler(const program* p)
{
    const config* c = &p->config;
    const task* t = p->rank->task;
    bool weighted = config_reads_weights(c), equal = weighted && !t->set.csc.weight;
    bool walks = config_walks(c) && !c->full_batch;
    if (equal)
        warning("--sampler %s: %s has no edge weights (section 'weight'): all neighbours are as likely",
                ggnn_method_name((ggnn_method)c->sampler), c->data);
    if (config_has(c, NET_BY_DEGREE) && (walks || (weighted && !equal)))
        warning("--sampler %s: GCN's scaling is an unbiased estimate only under uniform sampling",
                ggnn_method_name((ggnn_method)c->sampler));
}

static void warn(const program* p)
{
    const config* c = &p->config;
    const task* t = p->rank->task;
    warn_of_sampler(p);
    if (c->resume && !checkpoint_knows(&p->resumed, "feat"))
        warning("--resume %s: version 0.1 wrote it; that features, labels and splits are the same is not checked",
                c->resume);
    else if (c->resume && c->preprocess && !checkpoint_knows(&p->resumed, "pre_feat"))
        warning("--resume %s: it has no checksum of preprocessed features; that section 'pre_feat' is the same is not checked",
                c->resume);
    if (c->trace_step && c->trace_step <= p->rank->training.at.step)
        warning("--trace-step %lld: %s was saved after step %lld: that step is not made again", (long long)c->trace_step, c->resume,
                (long long)p->rank->training.at.step);
    if (c->eval_every && !t->labelled[SPLIT_VAL])
        warning("%s: no validation node has a label: the last epoch counts as the best one%s", c->data,
                c->patience ? ", --patience ends nothing" : "");
    if (c->eval_every && !t->labelled[SPLIT_TEST])
        warning("%s: no test node has a label: there will be no test score", c->data);
}

/* The CUDA device of a rank: by its place among those of its machine. */
static int32_t device_number(const config* c, const comm* with)
{
    if (c->listed) return c->device[with->local % c->listed];
    int32_t count = device_count_cuda();
    return count ? with->local % count : 0;
}

static device* open_device(const config* c, const comm* with, int32_t threads, error* why)
{
    static const char* const name[] = {"cpu", "cuda", "cuda-emulated"};
    device* d = c->backend == SIBLING_CPU ? device_open_cpu(threads, why)
                                          : device_open_cuda(device_number(c, with), c->precision == PRECISION_TF32, why);
    if (d) d->host_share = c->host_share;
    if (d) d->unique.which = c->unique;
    if (!d || strcmp(d->backend, name[c->backend]) == 0) return d;
    error_set(why, "--backend %s: this program has %s", name[c->backend], d->backend);
    device_close(d);
    return NULL;
}

/* Threads of rank r of this process, whose ranks share --threads; else they share the machine's processors. */
static int32_t threads_of(const program* p, int32_t r)
{
    int32_t all = p->config.threads ? (int32_t)p->config.threads : device_cpu_threads();
    const long cores = sysconf(_SC_NPROCESSORS_ONLN) / p->comm->locals;
    if (p->mpi && !p->config.threads && !getenv("OMP_NUM_THREADS") && all > cores) all = (int32_t)cores;
    int32_t share = all / p->ranks + (r < all % p->ranks);
    return share ? share : 1;
}

static bool open_ranks(program* p, error* why)
{
    p->mpi = comm_under_mpi();
    p->ranks = (int32_t)p->config.devices;
    p->comm = memory_new((size_t)p->ranks * sizeof *p->comm, "ranks", why);
    p->rank = p->comm ? memory_new((size_t)p->ranks * sizeof *p->rank, "ranks", why) : NULL;
    if (!p->rank) return false;
    if (p->mpi && !comm_open_mpi(p->comm, &stop, why)) return false;
    if (p->mpi) bus_error_catch(); /* MPI has set a handler of its own, unless there was one: it would complain */
    if (p->mpi && !config_check_ranks(&p->config, p->comm->ranks, why)) return false;
    if (p->mpi) {}
    else if (p->ranks == 1) comm_open_alone(p->comm, &stop);
    else if (!comm_open_threads(p->comm, p->ranks, &stop, why)) return false;
    const bool shares = p->config.pipeline == PIPELINE_FACTORED && p->ranks > 1;
    if (shares && !(p->factored = factored_create(p->ranks, (int32_t)p->config.samplers, why))) return false;
    for (int32_t r = 0; r < p->ranks; r++) {
        p->rank[r].of = p;
        p->rank[r].comm = &p->comm[r];
        p->rank[r].threads = threads_of(p, r);
    }
    return true;
}

static void destroy(program* p, bool failed)
{
    error ignored = {""};
    report_close(&p->report, &ignored);
    if (p->mpi && p->comm) comm_close_mpi(p->comm, failed);
    else if (p->ranks > 1 && p->comm) comm_close_threads(p->comm, p->ranks);
    factored_free(p->factored);
    memory_free(p->rank);
    memory_free(p->comm);
    predict_close(&p->asked);
    for (int32_t i = 0; p->task && i < p->tasks; i++) task_close(&p->task[i]);
    memory_free(p->task);
    ggnn_file_close(&p->resumed);
}

/* ==== a rank ==================================================================================================== */

/* What rank 0 says before the first step. */
static bool begin_report(rank* r, error* why)
{
    program* p = r->of;
    const worker* w = &r->training.worker;
    report* to = &p->report;
    int32_t threads = 0;
    if (r->comm->rank > 0) return true;
    for (int32_t i = 0; i < p->ranks; i++) threads += p->rank[i].threads;
    if (!report_open(to, &p->config, why)) return false; /* all that is read is good: an old log may go */
    warn(p);
    report_start(to, &p->config, r->task, worker_net(w), r->comm, threads, worker_batches(w), &r->training.at);
    return true;
}

static void end_report(rank* r)
{
    program* p = r->of;
    const training* t = &r->training;
    if (r->comm->rank > 0) return;
    if (!worker_net(&t->worker)) return; /* the tiers could not be laid out once more */
    const worker_costs costs = worker_costs_of(&t->worker);
    if (p->config.profile) report_profile(&p->report, t->steps, &costs);
    if (p->config.profile && (r->comm->ranks > 1 || task_plans_tiers(r->task, &p->config))) report_print_ranks(&p->report, t->all, r->comm->ranks);
    if (p->config.profile) report_print_busy(&p->report, t->all, r->comm->ranks);
    if (r->done && p->config.explain) {
        static explanation e;
        if (explain(&e, t, &r->why)) explain_print(&e, t, &p->report);
    }
    if (!r->why.text[0] && t->at.step < p->config.trace_step)
        warning("--trace-step %lld: the training ended after step %lld", (long long)p->config.trace_step, (long long)t->at.step);
    if (!r->done && !r->why.text[0]) report_interrupted(&p->report, &p->config, &t->at);
}

static bool open_training(rank* r, error* why)
{
    program* p = r->of;
    const config* c = &p->config;
    ggnn_file resumed = p->resumed; /* a struct of its own, as failures are left in it */
    device* d = open_device(c, r->comm, r->threads, why);
    if (!d) return false;
    if (c->profile) d->profile = d->plain = d->serial = true;
    return training_open(&r->training, c, r->task, d, r->comm, p->factored, c->resume ? &resumed : NULL,
                         r->comm->rank ? NULL : &p->report, why);
}

static bool open_prediction(rank* r, error* why)
{
    program* p = r->of;
    ggnn_file from = p->resumed;
    device* d = open_device(&p->config, r->comm, r->threads, why);
    if (!d || !prediction_open(&r->prediction, &p->config, r->task, &p->asked, d, r->comm, &from, why)) return false;
    if (r->comm->rank == 0 && p->config.eval == EVAL_SAMPLED) warn_of_sampler(p);
    return true;
}

static void run_rank(rank* r)
{
    const bool predicts = r->of->config.predicts;
    worker* w = predicts ? &r->prediction.worker : &r->training.worker;
    const bool opened = predicts ? open_prediction(r, &r->why) : open_training(r, &r->why) && begin_report(r, &r->why);
    const bool begun = opened && comm_barrier(r->comm, &r->why);
    if (begun && r == r->of->rank) catch_signals();
    if (begun) r->done = predicts ? prediction_run(&r->prediction, &r->why) : training_run(&r->training, &r->why);
    if (!r->done && !r->comm->stopped && !r->why.text[0]) { /* neither told to end, nor says why */
        comm_fail(r->comm, &r->why);
        r->why = r->comm->failed;
    }
    if (begun && !predicts) end_report(r);
    if (begun && predicts && !r->done && !r->why.text[0] && r->comm->rank == 0)
        fprintf(stderr, "ggnn-train: interrupted: %s is as it was\n", r->of->config.out);
    if (!r->why.text[0]) comm_barrier(r->comm, &r->why); /* the first rank's report may fail */
    else {
        worker_fail(w);
        comm_fail(r->comm, &r->why);
    }
    worker_settle(w);
    comm_leave(r->comm);
}

static void* run_thread(void* context)
{
    rank* r = context;
    pthread_mutex_lock(&r->of->gate);
    pthread_mutex_unlock(&r->of->gate);
    if (r->of->started) run_rank(r);
    return NULL;
}

static void* exit_thread(void* unused) { pthread_exit(unused); }

/* The first thread that ends by pthread_exit, as OpenMP's do when a rank ends, makes glibc load libgcc_s. It aborts the program
   where no descriptor is left for that, as when the log has taken the last one: so one ends before anything is open. */
static void load_what_ends_threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, exit_thread, NULL) == 0) pthread_join(thread, NULL);
}

static bool run_threads(program* p, error* why)
{
    int32_t begun = 0;
    load_what_ends_threads();
    pthread_mutex_init(&p->gate, NULL);
    pthread_mutex_lock(&p->gate);
    while (begun < p->ranks && pthread_create(&p->rank[begun].thread, NULL, run_thread, &p->rank[begun]) == 0) begun++;
    p->started = begun == p->ranks;
    pthread_mutex_unlock(&p->gate);
    for (int32_t i = 0; i < begun; i++) pthread_join(p->rank[i].thread, NULL);
    pthread_mutex_destroy(&p->gate);
    return p->started ? true : error_set(why, "--devices %d: thread %d cannot be started", (int)p->ranks, (int)begun + 1);
}

/* ==== the program =============================================================================================== */

/* The data: of all ranks of this process or, where --data names a part for each, a task each. */
static bool open_tasks(program* p, error* why)
{
    const config* c = &p->config;
    const int32_t first = p->comm->rank;
    p->tasks = strstr(c->data, CONFIG_RANK) ? p->ranks : 1;
    p->task = memory_new((size_t)p->tasks * sizeof *p->task, "what ranks train on", why);
    if (!p->task) return false;
    if (c->predicts && !predict_open(p->task, &p->asked, c, &p->resumed, why)) return false;
    for (int32_t i = 0; i < p->tasks && !c->predicts; i++)
        if (!task_open_part(&p->task[i], c, first + i, why)) return false;
    for (int32_t r = 0; r < p->ranks; r++) {
        p->rank[r].task = &p->task[p->tasks > 1 ? r : 0];
        if (!task_is_of(p->rank[r].task, first + r, why)) return false;
    }
    return true;
}

/* The data, alike for all ranks, and whose nodes are whose. */
static bool open_task(program* p, error* why)
{
    const config* c = &p->config;
    if (!open_tasks(p, why)) return false;
    if (c->save && p->comm->rank == 0 && !checkpoint_possible(c->save, why)) return false;
    if (p->mpi && !agree_on_inputs(p->comm, c, p->task, &p->resumed, why)) return false;
    for (int32_t i = 0; i < p->tasks; i++)
        if (!task_divide(&p->task[i], c, p->comm->ranks, why)) return false;
    if (!agree_on_parts(c, p->task, p->tasks, why)) return false;
    return !p->mpi || agree_on_owners(p->comm, c, p->task, why);
}

static int run(program* p, error* why)
{
    const config* c = &p->config;
    bool done = true;
    report_begin(&p->report, c);
    if (!open_ranks(p, why)) return STATUS_FAILURE;
    if (!open_task(p, why)) {
        if (p->mpi) comm_fail(p->comm, why);
        return STATUS_FAILURE;
    }
    if (p->ranks == 1) run_rank(p->rank);
    else if (!run_threads(p, why)) return STATUS_FAILURE;
    for (int32_t r = 0; r < p->ranks; r++) {
        if (p->rank[r].why.text[0]) error_set(why, "%s", p->rank[r].why.text);
        done = done && p->rank[r].done;
    }
    for (int32_t r = 0; r < p->ranks; r++) {
        prediction_close(&p->rank[r].prediction);
        training_close(&p->rank[r].training);
    }
    if (!report_close(&p->report, why) || why->text[0]) return STATUS_FAILURE;
    return done ? STATUS_DONE : STATUS_INTERRUPTED;
}

static int predict(int argc, char** argv);

static const command_entry train_commands[] = {
    {"predict", predict, "what a trained network says of nodes: logits, classes, a layer's output"},
    {"export", saved_export_main, "write the weights of a checkpoint for PyTorch, .npz or .safetensors"},
    {"info", saved_info_main, "what a checkpoint is: options, epoch, validation loss, parameters, data"},
    {NULL, NULL, NULL},
};

static void print_commands(FILE* out)
{
    fprintf(out, "\nCommands, ggnn-train COMMAND ..., of which COMMAND --help says more:\n");
    command_print(train_commands, out);
}

/* The command line, and a checkpoint's options where it names one. */
static int configure(config* c, ggnn_file* resumed, int argc, char** argv, error* why)
{
    size_t length = 0;
    const char* options = NULL;
    const options_result parsed = config_parse(c, argc, argv, why);
    if (parsed == OPTIONS_HELP && !c->predicts) print_commands(stdout);
    if (parsed != OPTIONS_GOOD) return STATUS_USAGE;
    if (c->resume && !(options = checkpoint_open(resumed, c->resume, &length, why))) return STATUS_FAILURE;
    if (options && !config_inherit(c, c->resume, options, length, why)) return STATUS_USAGE;
    if (!config_finish(c, why)) return STATUS_USAGE;
    if (c->backend == SIBLING_CPU || device_open_cuda) return STATUS_DONE;
    sibling_run(c->backend, argv, why);
    return STATUS_FAILURE;
}

static void print_libraries(void)
{
#ifdef _OPENMP
    const char* openmp = "yes";
#else
    const char* openmp = "no";
#endif
    printf("OpenMP: %s  CBLAS: %s  MPI: %s  NCCL: %s\n", openmp, device_cpu_has_blas() ? "yes" : "no",
           comm_mpi_name() ? comm_mpi_name() : "no", comm_nccl_name() ? comm_nccl_name() : "no");
}

/* Trains, where the first word is an option; predicts. */
static int run_program(int argc, char** argv)
{
    static program p;
    error why = {""};
    int status = STATUS_DONE;
    if (options_version(command_program, argc, argv)) print_libraries();
    else status = configure(&p.config, &p.resumed, argc, argv, &why);
    if (status == STATUS_DONE && p.config.data) status = run(&p, &why);
    else if (!why.text[0]) status = standard_flush(&why) ? STATUS_DONE : STATUS_FAILURE; /* --help, --version */
    if (why.text[0]) fprintf(stderr, "ggnn-train: %s\n", why.text);
    fflush(stderr);
    destroy(&p, status == STATUS_FAILURE);
    return status;
}

/* config_parse takes the whole command line. */
static int predict(int argc, char** argv) { return run_program(argc + 1, argv - 1); }

/* The command that the first word names. */
static int run_command(int argc, char** argv)
{
    const int status = command_run(train_commands, argc - 1, argv + 1);
    if (status >= 0) return status;
    fprintf(stderr, "ggnn-train --data FILE trains; --help lists its options\n");
    print_commands(stderr);
    return STATUS_USAGE;
}

int main(int argc, char** argv)
{
    standard_open();
    if (!comm_under_mpi()) bus_error_catch();
    command_program = "ggnn-train";
    program_arguments = argv;
    signal(SIGXFSZ, SIG_IGN); /* a file past a limit is an error with a message, as on a full disk */
    return argc > 1 && argv[1][0] != '-' ? run_command(argc, argv) : run_program(argc, argv);
}
