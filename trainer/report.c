#include "trainer/report.h"

#include <math.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "common/printable.h"
#include "common/standard.h"
#include "trainer/device/device.h"

void report_begin(report* r, const config* c)
{
    memset(r, 0, sizeof *r);
    r->start = progress_seconds();
    r->terminal = isatty(STDERR_FILENO) != 0;
    r->epochs = c->epochs;
    r->val_loss = NAN;
}

bool report_open(report* r, const config* c, error* why)
{
    return !c->log || log_open(&r->log, c->log, c->resume != NULL, why);
}

void report_make_room(const report* r)
{
    if (r->terminal) fprintf(stderr, "\r\033[K");
}

/* That a record cannot be written is said at once, as the training may go on for days; at its end it is an error. */
static void end_record(report* r, json* j)
{
    if (log_end(&r->log, j)) return;
    report_make_room(r);
    fprintf(stderr, "ggnn-train: warning: %s; training goes on without it\n", r->log.failed.text);
}

bool report_close(report* r, error* why)
{
    report_make_room(r);
    bool good = log_close(&r->log, why);
    standard_flush(&r->failed);
    if (r->failed.text[0]) good = error_set(why, "%s", r->failed.text);
    return good;
}

/* ==== parts of records ========================================================================================== */

static void put_data(json* j, const task* t)
{
    json_begin_object(j, "data");
    json_string(j, "file", t->set.file.path);
    json_int(j, "nodes", t->set.num_nodes);
    json_int(j, "edges", t->set.num_edges);
    json_int(j, "features", t->set.feat.width);
    json_int(j, "classes", t->classes);
    json_int(j, "outputs", t->outputs);
    json_int(j, "train", t->count[SPLIT_TRAIN]);
    json_int(j, "val", t->count[SPLIT_VAL]);
    json_int(j, "test", t->count[SPLIT_TEST]);
    json_int(j, "graph_crc", dataset_graph_crc(&t->set));
    if (t->set.part.parts) {
        json_int(j, "part", t->set.part.number);
        json_int(j, "rows", t->set.part.num_rows);
    }
    json_end_object(j);
}

void report_put_build(json* j)
{
#ifdef _OPENMP
    json_bool(j, "openmp", true);
#else
    json_bool(j, "openmp", false);
#endif
    json_bool(j, "blas", device_cpu_has_blas());
    json_int(j, "node_bits", 8 * (int64_t)sizeof(ggnn_node));
}

static void put_run(json* j, const config* c, const device* d, int devices, int threads, const train_state* at)
{
    json_begin_object(j, "run");
    json_int(j, "devices", devices);
    json_int(j, "threads", threads);
    json_string(j, "backend", d->backend);
    json_string(j, "device", d->name);
    json_string(j, "precision", c->precision == PRECISION_TF32 ? "tf32" : "fp32");
    json_string(j, "gemm", d->gemm[c->gemm != 0]);
    json_string(j, "compiler", __VERSION__);
    json_begin_object(j, "unique");
    json_int(j, "direct", d->unique.bytes[GGNN_UNIQUE_DIRECT]);
    json_int(j, "hash", d->unique.bytes[GGNN_UNIQUE_HASH]);
    json_end_object(j);
    report_put_build(j);
    json_int(j, "resumed_epoch", at->epoch);
    json_int(j, "resumed_step", at->step);
    json_end_object(j);
}

/* prefix: "val" or "test". */
static void put_score(const report* r, json* j, const char* prefix, const score* s)
{
    const char* name[] = {"loss", r->real ? "agreement" : "accuracy", "macro_f1", "roc_auc"};
    double value[4] = {NAN, NAN, NAN, NAN};
    if (s) {
        value[0] = s->loss;
        value[1] = s->metrics.accuracy;
        value[2] = s->metrics.macro_f1;
        value[3] = s->metrics.roc_auc;
    }
    for (int i = 0; i < 4; i++) {
        char key[32];
        snprintf(key, sizeof key, "%s_%s", prefix, name[i]);
        json_real(j, key, value[i]);
    }
}

/* Real targets have no class that a prediction could equal: both lie on one side of 1/2, or do not. */
static const char* name_of_accuracy(const report* r) { return r->real ? "agreement at 1/2" : "accuracy"; }

/* "accuracy 81.4 %, macro-F1 80.2 %, ROC-AUC 93.1 %" */
static void print_score(const report* r, char* text, size_t size, const score* s)
{
    size_t used = (size_t)snprintf(text, size, "%s %.2f %%, macro-F1 %.2f %%", name_of_accuracy(r), 100 * s->metrics.accuracy,
                                   100 * s->metrics.macro_f1);
    if (!isnan(s->metrics.roc_auc)) snprintf(text + used, size - used, ", ROC-AUC %.2f %%", 100 * s->metrics.roc_auc);
}

/* Of this process so far, by Linux; 0 where it does not say. */
static int64_t peak_memory_bytes(void)
{
    char line[256];
    long long kib = 0;
    FILE* status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %lld kB", &kib) == 1) break;
    if (status) fclose(status);
    return (int64_t)kib * 1024;
}

/* ==== events ==================================================================================================== */

static void print_division(const division* d)
{
    int64_t most = 0, least = d->held[0];
    for (int32_t p = 0; p < d->parts; p++) {
        most = d->held[p] > most ? d->held[p] : most;
        least = d->held[p] < least ? d->held[p] : least;
    }
    printf("partition: %lld to %lld training nodes a device (balance %.3f), %lld to %lld nodes within %d hops of them "
           "(replication %.3f), counted\n", (long long)d->trained[d->parts - 1], (long long)d->trained[0], division_balance(d),
           (long long)least, (long long)most, (int)d->hops, division_replication(d));
    if (d->cut)
        printf("%lld training nodes reach more than %lld nodes: --closure-limit cut them where it chose their devices\n",
               (long long)d->cut, (long long)d->limit);
}

static void log_division(report* r, const division* d)
{
    json j;
    if (!d->parts || !log_begin(&r->log, &j, "partition")) return;
    json_int(&j, "parts", d->parts);
    json_int(&j, "hops", d->hops);
    json_int(&j, "closure_limit", d->limit);
    json_int(&j, "closures_cut", d->cut);
    json_begin_array(&j, "trained");
    for (int32_t p = 0; p < d->parts; p++) json_int(&j, NULL, d->trained[p]);
    json_end_array(&j);
    json_begin_array(&j, "held");
    for (int32_t p = 0; p < d->parts; p++) json_int(&j, NULL, d->held[p]);
    json_end_array(&j);
    json_real(&j, "balance", division_balance(d));
    json_real(&j, "replication", division_replication(d));
    json_int(&j, "crc", d->crc);
    end_record(r, &j);
}

static void print_owners(const node_owners* o)
{
    int64_t least = o->most;
    for (int32_t p = 0; p < o->at.parts; p++) least = o->bound[p + 1] - o->bound[p] < least ? o->bound[p + 1] - o->bound[p] : least;
    char path[4096];
    printf("owners by %s: %lld to %lld nodes a device\n", printable(path, sizeof path, o->method), (long long)least,
           (long long)o->most);
}

static void log_owners(report* r, const node_owners* o)
{
    json j;
    if (!o->at.parts || !log_begin(&r->log, &j, "owners")) return;
    json_int(&j, "parts", o->at.parts);
    json_string(&j, "method", o->method);
    json_int(&j, "most", o->most);
    json_begin_array(&j, "nodes");
    for (int32_t p = 0; p < o->at.parts; p++) json_int(&j, NULL, o->bound[p + 1] - o->bound[p]);
    json_end_array(&j);
    json_int(&j, "crc", o->crc);
    end_record(r, &j);
}

/* Of CUDA, where they take memory that a cache could have. */
static void print_tables(const device* d)
{
    const int64_t *bytes = d->unique.bytes;
    char direct[16], hash[16];
    if (!d->name[0] || bytes[0] + bytes[1] == 0) return;
    printf("the ids of mini-batches take %sB of it in direct maps, %sB in hash tables\n",
           progress_amount(direct, (double)bytes[GGNN_UNIQUE_DIRECT]), progress_amount(hash, (double)bytes[GGNN_UNIQUE_HASH]));
}

static void log_start(report* r, const config* c, const task* t, net* n, const comm* with, int threads, int64_t batches,
                      const train_state* at)
{
    json j;
    if (!log_begin(&r->log, &j, "start")) return;
    json_string(&j, "version", GGNN_VERSION);
    config_json(c, &j, "options");
    put_data(&j, t);
    json_int(&j, "parameters", net_state_of(n).count);
    json_int(&j, "batches", batches);
    put_run(&j, c, net_device(n), with->ranks, threads, at);
    end_record(r, &j);
}

void report_start(report* r, const config* c, const task* t, net* n, const comm* with, int threads, int64_t batches,
                  const train_state* at)
{
    char nodes[16], edges[16], parameters[16], path[4096], devices[32] = "";
    r->batches = batches;
    r->device = net_device(n);
    r->real = t->labels.target != NULL;
    printf("%s: %s nodes, %s edges, %d features, %d classes; %lld to train, %lld to validate, %lld to test\n",
           printable(path, sizeof path, t->set.file.path), progress_amount(nodes, (double)t->set.num_nodes),
           progress_amount(edges, (double)t->set.num_edges), (int)t->set.feat.width, (int)t->classes,
           (long long)t->count[SPLIT_TRAIN], (long long)t->count[SPLIT_VAL], (long long)t->count[SPLIT_TEST]);
    if (with->ranks > 1) snprintf(devices, sizeof devices, "%d devices, ", (int)with->ranks);
    printf("%d layers, %s parameters; %lld mini-batch%s an epoch, %s%d thread%s\n", (int)c->layers,
           progress_amount(parameters, (double)net_state_of(n).count), (long long)batches, batches == 1 ? "" : "es",
           devices, threads, threads == 1 ? "" : "s");
    if (net_device(n)->name[0])
        printf("on %s: %s%s%s\n", net_device(n)->backend, net_device(n)->name, with->nccl ? "; between devices " : "",
               with->nccl ? comm_nccl_name() : "");
    print_tables(net_device(n));
    if (t->set.part.parts)
        printf("part %d of %d: rows of %lld nodes; each device has a part of its own, and no other's data\n", (int)t->set.part.number,
               (int)t->set.part.parts, (long long)t->set.part.num_rows);
    if (t->division.parts) print_division(&t->division);
    if (t->owners.at.parts) print_owners(&t->owners);
    if (c->resume)
        printf("resumed from %s after epoch %lld, step %lld\n", printable(path, sizeof path, c->resume),
               (long long)at->epoch, (long long)at->step);
    standard_flush(&r->failed);
    progress_begin(&r->bar, "training", "steps", c->epochs * batches - at->step);
    log_start(r, c, t, n, with, threads, batches, at);
    log_division(r, &t->division);
    log_owners(r, &t->owners);
}

void report_step(report* r, const train_state* at, double loss)
{
    if (!r->terminal) return;
    progress_note(&r->bar, "epoch %lld/%lld  loss %.4f  val %.4f", (long long)at->epoch + 1, (long long)r->epochs,
                  loss, r->val_loss);
    progress_update(&r->bar, r->bar.total - (r->epochs * r->batches - at->step));
}

void report_epoch_begin(report* r) { r->epoch_start = progress_seconds(); }

void report_epoch(report* r, const train_state* at, float rate, const score* val, bool best)
{
    json j;
    double seconds = progress_seconds() - r->epoch_start;
    double loss = at->loss_rows ? at->loss_sum / (double)at->loss_rows : NAN;
    char validation[128] = "";
    if (val && val->known) snprintf(validation, sizeof validation, "  val loss %.4f  val %s %.2f %%%s",
                      val->loss, name_of_accuracy(r), 100 * val->metrics.accuracy, best ? "  best" : "");
    if (val) r->val_loss = val->loss;
    if (!r->terminal)
        printf("epoch %lld/%lld  loss %.4f%s  %.2f s\n", (long long)at->epoch, (long long)r->epochs, loss, validation,
               seconds);
    standard_flush(&r->failed);
    if (!log_begin(&r->log, &j, "epoch")) return;
    json_int(&j, "epoch", at->epoch);
    json_int(&j, "step", at->step);
    json_float(&j, "learning_rate", rate);
    json_real(&j, "loss", loss);
    put_score(r, &j, "val", val);
    json_bool(&j, "best", best);
    json_real(&j, "seconds", seconds);
    end_record(r, &j);
}

void report_interrupted(report* r, const config* c, const train_state* at)
{
    json j;
    report_make_room(r);
    printf("interrupted in epoch %lld after step %lld; ", (long long)at->epoch + 1, (long long)at->step);
    if (c->save) {
        printf("saved, go on with ");
        config_print_resume(c, stdout);
        printf("\n");
    } else {
        printf("nothing saved (--save FILE would)\n");
    }
    if (!log_begin(&r->log, &j, "interrupted")) return;
    json_int(&j, "epoch", at->epoch + 1);
    json_int(&j, "step", at->step);
    json_string(&j, "saved", c->save);
    end_record(r, &j);
}

void report_final(report* r, const task* t, const train_state* at, const score* test)
{
    json j;
    char amount[16], text[128] = "not evaluated";
    double seconds = progress_seconds() - r->start;
    int64_t peak = peak_memory_bytes();
    report_make_room(r);
    if (test && test->known) print_score(r, text, sizeof text, test);
    else if (test) snprintf(text, sizeof text, "no labelled nodes");
    printf("test: %s", text);
    if (at->has_best && t->count[SPLIT_VAL])
        printf("  (epoch %lld, val loss %.4f)", (long long)at->best_epoch, at->best_loss);
    printf("\n%.1f s, peak memory %sB", seconds, progress_amount(amount, (double)peak));
    if (r->device->most_bytes) printf(", of the device %sB", progress_amount(amount, (double)r->device->most_bytes));
    printf("\n");
    if (!log_begin(&r->log, &j, "final")) return;
    json_int(&j, "epochs", at->epoch);
    json_int(&j, "steps", at->step);
    json_int(&j, "best_epoch", at->has_best ? at->best_epoch : 0);
    json_real(&j, "val_loss", at->has_best ? at->best_loss : NAN);
    put_score(r, &j, "test", test);
    json_real(&j, "seconds", seconds);
    json_int(&j, "peak_memory_bytes", peak);
    json_int(&j, "device_memory_bytes", r->device->most_bytes);
    end_record(r, &j);
}

/* ==== profile =================================================================================================== */

static void profile_row(const char* name, double seconds, int64_t bytes, int64_t flops, double total, int64_t steps)
{
    if (seconds <= 0) return;
    printf("  %-22s %9.3f %6.1f %%", name, seconds, 100 * seconds / total);
    if (steps) printf(" %9.2f", 1e3 * seconds / (double)steps);
    else printf("          ");
    if (bytes) printf(" %9.2f %8.1f", 1e-9 * (double)bytes, 1e-9 * (double)bytes / seconds);
    else if (flops) printf(" %18s", "");
    if (flops) printf(" %9.1f", 1e-9 * (double)flops / seconds);
    printf("\n");
}

void report_profile(const report* r, int64_t steps, const worker_costs* of)
{
    const net_profile*     all = of->net;
    const loader_cost      sample = of->batches;
    const counted_cost* apart = of->evaluation;
    static const char* const half[] = {"forward", "backward"};
    double total = progress_seconds() - r->start, rest = total - apart->seconds;
    int64_t evaluation_bytes = apart->loader.bytes;
    printf("\n  times are measured; bytes and operations are counted"
           "\n  stage                    seconds    share   ms/step        GB     GB/s   GFLOP/s\n");
    const double extract = sample.mark + sample.extract, busy = sample.sample + extract, part = busy > 0 ? extract / busy : 0;
    profile_row("sample", (1 - part) * sample.seconds, sample.bytes, 0, total, steps);
    profile_row("extract", part * sample.seconds, 0, 0, total, steps);
    rest -= sample.seconds;
    for (int which = 0; which < 2; which++) {
        const char* name = NET_STAGES;
        for (int s = 0; s < NET_NUM_STAGES; s++, name += strcspn(name, "|") + 1) {
            double seconds = all->seconds[which][s] - apart->net.seconds[which][s];
            int64_t flops = all->flops[which] - apart->net.flops[which];
            char text[40];
            int length = (int)strcspn(name, "|");
            if (s == NET_GATHER || s == NET_OPTIMIZER) snprintf(text, sizeof text, "%.*s", length, name);
            else snprintf(text, sizeof text, "%s: %.*s", half[which], length, name);
            profile_row(text, seconds, all->bytes[which][s] - apart->net.bytes[which][s],
                        s == NET_GEMM ? flops : 0, total, steps);
            evaluation_bytes += apart->net.bytes[which][s];
            rest -= seconds;
        }
    }
    profile_row("evaluation", apart->seconds, evaluation_bytes, apart->net.flops[0], total, 0);
    profile_row("other", rest, 0, 0, total, 0);
    profile_row("total", total, 0, 0, total, 0);
}

/* ==== ranks ===================================================================================================== */

#define RANK_SECONDS(X) X(seconds, "training") X(sample, "sample") X(mark, "mark") X(copy, "copy") X(extract, "extract") \
    X(train, "train") X(batch, "batch") X(evaluation, "evaluation") X(comm, "comm") X(waited, "waited")

/* The member at `at` of each rank. */
static void put_integers(json* j, const char* key, const rank_cost* all, int32_t ranks, size_t at)
{
    json_begin_array(j, key);
    for (int32_t r = 0; r < ranks; r++) json_int(j, NULL, *(const int64_t*)(const void*)((const char*)&all[r] + at));
    json_end_array(j);
}

static void put_reads(json* j, const char* key, const rank_cost* all, int32_t ranks, size_t at)
{
    json_begin_object(j, key);
    put_integers(j, "cache", all, ranks, at + offsetof(tiers_reads, cache));
    put_integers(j, "own", all, ranks, at + offsetof(tiers_reads, own));
    put_integers(j, "peer", all, ranks, at + offsetof(tiers_reads, peer));
    put_integers(j, "host", all, ranks, at + offsetof(tiers_reads, host));
    json_end_object(j);
}

static void rank_row(const char* name, const rank_cost* k)
{
    const tiers_reads *rows = &k->rows.read, *bytes = &k->rows.read_bytes;
    printf("  %-6s %11lld %11lld %11lld %11lld %9.2f %9.2f %9.2f %9.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %8.2f %9.2f\n", name,
           (long long)rows->cache, (long long)rows->own, (long long)rows->peer, (long long)rows->host,
           1e-6 * (double)bytes->cache, 1e-6 * (double)bytes->own, 1e-6 * (double)bytes->peer, 1e-6 * (double)bytes->host,
           k->sample, k->mark, k->copy, k->extract, k->train, k->evaluation, k->batch + k->waited, 1e-6 * (double)k->sent);
}

static void add_reads(tiers_reads* sum, const tiers_reads* more)
{
    sum->cache += more->cache;
    sum->own += more->own;
    sum->peer += more->peer;
    sum->host += more->host;
}

static void add_rank(rank_cost* sum, const rank_cost* k)
{
    add_reads(&sum->rows.read, &k->rows.read);
    add_reads(&sum->rows.read_bytes, &k->rows.read_bytes);
    sum->sent += k->sent;
    sum->sample += k->sample;
    sum->mark += k->mark;
    sum->copy += k->copy;
    sum->extract += k->extract;
    sum->train += k->train;
    sum->batch += k->batch;
    sum->evaluation += k->evaluation;
    sum->waited += k->waited;
    sum->parts.targets += k->parts.targets;
    sum->parts.edges += k->parts.edges;
    sum->parts.loaded += k->parts.loaded;
    sum->parts.own += k->parts.own;
    sum->parts.peer += k->parts.peer;
    sum->parts.bytes += k->parts.bytes;
}

static void parts_row(const char* name, const rank_parts* p)
{
    printf("  %-6s %11lld %11lld %11lld %11lld %11lld %9.2f\n", name, (long long)p->targets, (long long)p->edges,
           (long long)p->loaded, (long long)p->own, (long long)p->peer, 1e-6 * (double)p->bytes);
}

/* --parallel split. */
static void print_parts(const rank_cost* all, int32_t ranks, const rank_cost* sum)
{
    printf("\n         computed of all layers            rows of     rows of layers read from\n"
           "  device     targets       edges    features         own        peer  MB moved\n");
    for (int32_t k = 0; k < ranks; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)k);
        parts_row(name, &all[k].parts);
    }
    parts_row("all", &sum->parts);
}

/* "cache 120 (7.68 kB), own 1.2 k (..)": of one device. */
static void print_placed(const char* what, const tiers_count* c)
{
    static const char* const name[] = {"own cache", "own part", "peers", "host"};
    const int64_t count[] = {c->placed.cache, c->placed.own, c->placed.peer, c->placed.host};
    const int64_t bytes[] = {c->placed_bytes.cache, c->placed_bytes.own, c->placed_bytes.peer, c->placed_bytes.host};
    bool any = false;
    printf("%s:", what);
    for (int i = 0; i < 4; i++) {
        char amount[16], size[16];
        if (!count[i]) continue;
        printf("%s %s %s (%sB)", any ? "," : "", name[i], progress_amount(amount, (double)count[i]),
               progress_amount(size, (double)bytes[i]));
        any = true;
    }
    printf("\n");
}

/* The points of --slopes measure, and the line through them. */
static void print_slopes(const char* what, const slopes_times* s, tiers_kind kind)
{
    const slopes_fit* fit = &s->fit[kind];
    printf("times of %s an epoch (measured):", what);
    for (int i = 0; i < SLOPES_SIZES; i++) printf("%s %.4g ms at %.1f%% hits", i ? "," : "", s->ms[kind][i], 100 * s->hit[kind][i]);
    if (isnan(fit->error)) printf("; all hit ratios are equal: no line goes through them\n");
    else if (isnan(fit->explained)) printf("; all times are equal\n");
    else printf("; all hits save %.4g ms, standard error %.2g: the line explains %.1f%% of the spread%s\n", 1e-6 * (double)fit->line,
                1e-6 * fit->error, 100 * fit->explained, fit->clear ? "" : ", no saving above noise");
}

static void put_slopes(json* j, const char* name, const slopes_times* s, tiers_kind kind)
{
    const slopes_fit* fit = &s->fit[kind];
    json_begin_object(j, name);
    json_begin_array(j, "hits");
    for (int i = 0; i < SLOPES_SIZES; i++) json_real(j, NULL, s->hit[kind][i]);
    json_end_array(j);
    json_begin_array(j, "ms");
    for (int i = 0; i < SLOPES_SIZES; i++) json_real(j, NULL, s->ms[kind][i]);
    json_end_array(j);
    json_int(j, "line", fit->line);
    json_real(j, "error", fit->error);
    json_real(j, "explained", fit->explained);
    json_bool(j, "clear", fit->clear);
    json_end_object(j);
}

/* Does any of them read rows of edges from tiers or parts? */
static bool has_edges(const rank_cost* all, int32_t ranks)
{
    for (int32_t k = 0; k < ranks; k++) {
        const tiers_reads* there = &all[k].edge_rows.placed;
        if (there->cache || there->own || there->peer || there->host) return true;
    }
    return false;
}

/* Of a device by its role: the first one, and the last one where that samples for others. */
static void print_device(const rank_cost* of, int32_t rank, int32_t ranks, const char* role)
{
    char lists[48] = "lists", rows[48] = "rows";
    if (ranks > 1) snprintf(lists, sizeof lists, "lists of device %d%s", (int)rank, role);
    if (ranks > 1) snprintf(rows, sizeof rows, "rows of device %d%s", (int)rank, role);
    print_placed(lists, &of->lists);
    print_placed(rows, &of->rows);
    if (has_edges(of, 1)) print_placed("rows of edges", &of->edge_rows);
}

void report_tiers(report* r, const rank_cost* all, int32_t ranks, const tier_plan* plan, int32_t samplers, double seconds)
{
    json j;
    report_make_room(r);
    if (samplers) printf("memory by role: %d of %d devices sample, and have lists; the others train, and have rows\n", (int)samplers, (int)ranks);
    if (seconds > 0) printf("memory was laid out once more, in %.2f s\n", seconds);
    for (int i = 0; i < TIER_NOTES_MAX && plan->note[i][0]; i++) printf("%s\n", plan->note[i]);
    if (plan->measured) print_slopes("lists", &plan->slopes, TIERS_GRAPH);
    if (plan->measured) print_slopes("rows", &plan->slopes, TIERS_FEATURES);
    print_device(all, 0, ranks, samplers ? ", which trains" : "");
    if (samplers) print_device(&all[ranks - 1], ranks - 1, ranks, ", which samples");
    standard_flush(&r->failed);
    if (!log_begin(&r->log, &j, "tiers")) return;
    if (samplers) json_int(&j, "samplers", samplers);
    if (seconds > 0) json_real(&j, "seconds", seconds);
    json_begin_array(&j, "notes");
    for (int i = 0; i < TIER_NOTES_MAX && plan->note[i][0]; i++) json_string(&j, NULL, plan->note[i]);
    json_end_array(&j);
    json_string(&j, "counted", plan->counted);
    put_reads(&j, "rows", all, ranks, offsetof(rank_cost, rows) + offsetof(tiers_count, placed));
    put_reads(&j, "row_bytes", all, ranks, offsetof(rank_cost, rows) + offsetof(tiers_count, placed_bytes));
    put_reads(&j, "lists", all, ranks, offsetof(rank_cost, lists) + offsetof(tiers_count, placed));
    put_reads(&j, "list_bytes", all, ranks, offsetof(rank_cost, lists) + offsetof(tiers_count, placed_bytes));
    if (has_edges(all, ranks)) {
        put_reads(&j, "edge_rows", all, ranks, offsetof(rank_cost, edge_rows) + offsetof(tiers_count, placed));
        put_reads(&j, "edge_row_bytes", all, ranks, offsetof(rank_cost, edge_rows) + offsetof(tiers_count, placed_bytes));
    }
    if (plan->measured) {
        json_begin_object(&j, "slopes");
        put_slopes(&j, "lists", &plan->slopes, TIERS_GRAPH);
        put_slopes(&j, "rows", &plan->slopes, TIERS_FEATURES);
        json_end_object(&j);
    }
    end_record(r, &j);
}

void report_print_ranks(const report* r, const rank_cost* all, int32_t ranks)
{
    rank_cost sum;
    memset(&sum, 0, sizeof sum);
    report_make_room(r);
    printf("\n         rows of features read from (counted)             MB read from (counted)                  seconds (measured)\n"
           "  device       cache         own        peer        host     cache       own      peer      host   sample     mark     copy  extract    train"
           " evaluate  waiting   MB sent\n");
    for (int32_t k = 0; k < ranks; k++) {
        char name[16];
        snprintf(name, sizeof name, "%d", (int)k);
        rank_row(name, &all[k]);
        add_rank(&sum, &all[k]);
    }
    rank_row("all", &sum);
    if (all->split) print_parts(all, ranks, &sum);
}

void report_print_busy(const report* r, const rank_cost* all, int32_t ranks)
{
    report_make_room(r);
    printf("\n  of an epoch without evaluation the step computes, by device (measured, nothing overlaps here):");
    for (int32_t k = 0; k < ranks; k++) {
        const double epoch = all[k].seconds - all[k].evaluation;
        if (epoch > 0) printf(" %.1f %%", 100 * all[k].train / epoch);
        else printf(" -");
    }
    printf("\n");
}

static void put_parts(json* j, const rank_cost* all, int32_t ranks)
{
    const size_t at = offsetof(rank_cost, parts);
    json_begin_object(j, "split");
    put_integers(j, "targets", all, ranks, at + offsetof(rank_parts, targets));
    put_integers(j, "edges", all, ranks, at + offsetof(rank_parts, edges));
    put_integers(j, "loaded", all, ranks, at + offsetof(rank_parts, loaded));
    put_integers(j, "own", all, ranks, at + offsetof(rank_parts, own));
    put_integers(j, "peer", all, ranks, at + offsetof(rank_parts, peer));
    put_integers(j, "bytes", all, ranks, at + offsetof(rank_parts, bytes));
    json_end_object(j);
}

void report_ranks(report* r, const rank_cost* all, int32_t ranks)
{
    json j;
    if (!log_begin(&r->log, &j, "ranks")) return;
    put_reads(&j, "rows", all, ranks, offsetof(rank_cost, rows) + offsetof(tiers_count, read));
    put_reads(&j, "bytes", all, ranks, offsetof(rank_cost, rows) + offsetof(tiers_count, read_bytes));
    put_reads(&j, "lists", all, ranks, offsetof(rank_cost, lists) + offsetof(tiers_count, read));
    put_reads(&j, "list_bytes", all, ranks, offsetof(rank_cost, lists) + offsetof(tiers_count, read_bytes));
    if (has_edges(all, ranks)) {
        put_reads(&j, "edge_rows", all, ranks, offsetof(rank_cost, edge_rows) + offsetof(tiers_count, read));
        put_reads(&j, "edge_row_bytes", all, ranks, offsetof(rank_cost, edge_rows) + offsetof(tiers_count, read_bytes));
    }
    put_reads(&j, "evaluation_rows", all, ranks, offsetof(rank_cost, evaluated));
    json_begin_array(&j, "rows_from");
    for (int32_t k = 0; k < ranks; k++) {
        json_begin_array(&j, NULL);
        for (int32_t i = 0; i < GGNN_DEVICES_MAX && i < ranks; i++) json_int(&j, NULL, all[k].from[i]);
        json_end_array(&j);
    }
    json_end_array(&j);
    put_integers(&j, "sent_bytes", all, ranks, offsetof(rank_cost, sent));
    bool slices = false;
    for (int32_t k = 0; k < ranks; k++) slices = slices || all[k].sampled || all[k].trained;
    if (slices) {
        json_begin_object(&j, "slices");
        put_integers(&j, "sampled", all, ranks, offsetof(rank_cost, sampled));
        put_integers(&j, "trained", all, ranks, offsetof(rank_cost, trained));
        put_integers(&j, "marked", all, ranks, offsetof(rank_cost, marked));
        json_end_object(&j);
    }
    if (ranks && all->split) put_parts(&j, all, ranks);
    json_begin_object(&j, "seconds");
#define PUT(field, name)                                                                   \
    json_begin_array(&j, name);                                                            \
    for (int32_t k = 0; k < ranks; k++) json_real(&j, NULL, all[k].field);                 \
    json_end_array(&j);
    RANK_SECONDS(PUT)
#undef PUT
    json_end_object(&j);
    end_record(r, &j);
}
