#include "trainer/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "datasets/writer.h"
#include "trainer/device/device.h"

enum { COUNTERS = CHECKPOINT_NUM_COUNTERS, DATA = CHECKPOINT_NUM_DATA, PARAMS_TEXT_MAX = 8192 };

static bool is_read(const config* c, const char* section)
{
    if (strcmp(section, "weight") == 0) return config_reads_weights(c);
    if (strcmp(section, "edge_feat") == 0) return c->edge_features;
    return strcmp(section, "pre_feat") != 0 || c->preprocess;
}

/* The checksums of data_section, which the file's table has: no array is read. */
static void data_crcs(const config* c, const task* t, int64_t crc[DATA])
{
    for (int i = 0; i < DATA; i++) {
        crc[i] = is_read(c, checkpoint_data[i]) ? dataset_section_crc(&t->set, checkpoint_data[i]) : -1;
    }
}

/* "w_self0 1433 16" a line: what tells a network of one shape from another of the same size. */
static size_t params_text(const net* n, char text[PARAMS_TEXT_MAX])
{
    size_t used = 0;
    for (int32_t i = 0; i < net_num_params(n) && used < PARAMS_TEXT_MAX - 64; i++) {
        net_param p = net_param_at(n, i);
        used += (size_t)snprintf(text + used, 64, "%.16s %d %d\n", p.name, (int)p.rows, (int)p.cols);
    }
    return used;
}

static void append(ggnn_file_writer* w, const char* name, ggnn_file_type type, size_t count, const void* data)
{
    int64_t dim = (int64_t)count;
    ggnn_file_append(w, name, type, 1, &dim, data); /* a failure is told by the commit */
}

static bool save(const char* path, const config* c, const task* t, net* n, train_state* at, const float* best,
                 float* copy, error* why)
{
    char options[CONFIG_TEXT_MAX], params[PARAMS_TEXT_MAX];
    ggnn_file_writer w;
    net_state s = net_state_of(n);
    int64_t crc = dataset_graph_crc(&t->set), data_crc[DATA];
    const int64_t division_of[2] = {t->division.parts, t->division.crc};
    data_crcs(c, t, data_crc);
    at->updates = *s.updates;
#define CHECKPOINT_X(name) at->name,
    int64_t counters[COUNTERS] = {CHECKPOINT_COUNTERS(CHECKPOINT_X)};
#undef CHECKPOINT_X
    double sums[2] = {at->loss_sum, at->best_loss};
    if (!writer_begin(&w, path)) return error_set(why, "%s", w.error);
    append(&w, "options", GGNN_FILE_U8, config_text(c, options), options);
    append(&w, "params", GGNN_FILE_U8, params_text(n, params), params);
    append(&w, "version", GGNN_FILE_U8, strlen(GGNN_VERSION), GGNN_VERSION);
    append(&w, "graph_crc", GGNN_FILE_I64, 1, &crc);
    append(&w, "data_crc", GGNN_FILE_I64, DATA, data_crc);
    if (c->shuffle == SHUFFLE_LOCAL) append(&w, "division", GGNN_FILE_I64, 2, division_of);
    append(&w, "counters", GGNN_FILE_I64, COUNTERS, counters);
    append(&w, "sums", GGNN_FILE_F64, 2, sums);
    size_t count = (size_t)s.count, bytes = count * sizeof *copy;
    device* d = net_device(n);
    append(&w, "value", GGNN_FILE_F32, count, device_read(d, copy, s.value, bytes));
    append(&w, "moment1", GGNN_FILE_F32, count, device_read(d, copy, s.m, bytes));
    append(&w, "moment2", GGNN_FILE_F32, count, device_read(d, copy, s.v, bytes));
    append(&w, "best", GGNN_FILE_F32, count, best);
    if (d->failed.text[0]) {
        writer_end(&w);
        return error_set(why, "%s", d->failed.text);
    }
    const bool good = ggnn_file_commit(&w) || error_set(why, "%s", w.error);
    writer_end(&w);
    return good;
}

bool checkpoint_save(const char* path, const config* c, const task* t, net* n, train_state* at, const float* best,
                     error* why)
{
    float* copy = memory_new((size_t)net_state_of(n).count * sizeof *copy, "a copy of the weights", why);
    if (!copy) return false;
    bool good = save(path, c, t, n, at, best, copy, why);
    memory_free(copy);
    return good;
}

bool checkpoint_possible(const char* path, error* why)
{
    ggnn_file_writer w;
    if (!writer_begin(&w, path)) return error_set(why, "--save %s", w.error);
    writer_end(&w);
    return true;
}

static bool same_graph(ggnn_file* f, const task* t, error* why)
{
    const int64_t* crc = checkpoint_need(f, "graph_crc", GGNN_FILE_I64, 1, why);
    int64_t here = dataset_graph_crc(&t->set);
    if (!crc) return false;
    if (*crc == here) return true;
    return error_set(why, "%s was trained on a graph with checksum %08llx; that of %s is %08llx", f->path,
                     (unsigned long long)*crc, t->set.file.path, (unsigned long long)here);
}

static void crc_text(char text[32], int64_t crc)
{
    if (crc < 0) snprintf(text, 32, "none");
    else snprintf(text, 32, "checksum %08llx", (unsigned long long)crc);
}

void checkpoint_data_text(const config* c, const task* t, char text[256])
{
    int64_t crc[DATA];
    data_crcs(c, t, crc);
    size_t used = (size_t)snprintf(text, 256, "--data has graph %08llx", (unsigned long long)dataset_graph_crc(&t->set));
    for (int i = 0; i < DATA; i++) {
        char one[32];
        crc_text(one, crc[i]);
        used += (size_t)snprintf(text + used, 256 - used, ", %s %s", checkpoint_data[i], one);
    }
}

static bool same_data(ggnn_file* f, const config* c, const task* t, error* why)
{
    if (!same_graph(f, t, why)) return false;
    int64_t here[DATA], known;
    char here_text[32], there_text[32];
    const int64_t* there = checkpoint_data_crcs(f, &known, why);
    data_crcs(c, t, here);
    for (int i = 0; there && i < known; i++) {
        if (there[i] == here[i]) continue;
        crc_text(here_text, here[i]);
        crc_text(there_text, there[i]);
        return error_set(why, "%s was trained with another section '%s' (%s) than that of %s (%s)", f->path,
                         checkpoint_data[i], there_text, t->set.file.path, here_text);
    }
    return there || !known;
}

/* Are batches the same, where they depend on whose training nodes are whose? */
static bool same_division(ggnn_file* f, const config* c, const task* t, error* why)
{
    if (c->shuffle != SHUFFLE_LOCAL) return true;
    const int64_t* there = checkpoint_need(f, "division", GGNN_FILE_I64, 2, why);
    if (!there) return false;
    if (there[0] != t->division.parts)
        return error_set(why, "--shuffle local: %s was trained on %lld devices, here are %d: other devices have other batches; "
                              "resume it with --devices %lld", f->path, (long long)there[0], (int)t->division.parts, (long long)there[0]);
    return there[1] == t->division.crc ||
           error_set(why, "--partition pagraph: %s was trained on another partition (checksum %08llx) than this one (checksum %08llx)",
                     f->path, (unsigned long long)there[1], (unsigned long long)t->division.crc);
}

/* Of the line at text, of which `size` bytes are there. */
static int line_length(const char* text, size_t size)
{
    int length = 0;
    while (length < 64 && (size_t)length < size && text[length] != '\n') length++;
    return length;
}

static bool same_params(ggnn_file* f, const net* n, error* why)
{
    char here[PARAMS_TEXT_MAX];
    size_t length = params_text(n, here);
    const ggnn_file_section* s = ggnn_file_find(f, "params");
    const char* there = checkpoint_need(f, "params", GGNN_FILE_U8, -1, why);
    if (!there) return false;
    if (s->dim[0] == (int64_t)length && memcmp(here, there, length) == 0) return true;
    size_t line = 0; /* of the first difference */
    for (size_t i = 0; i < length && i < (size_t)s->dim[0] && here[i] == there[i]; i++)
        if (here[i] == '\n') line = i + 1;
    return error_set(why, "%s: its parameters are not those of this network: '%.*s', not '%.*s' (name, rows, columns)",
                     f->path, line_length(there + line, (size_t)s->dim[0] - line), there + line,
                     line_length(here + line, length - line), here + line);
}

static bool has_had_its_best(const train_state* at) { return at->best_epoch >= 0 && at->best_epoch <= at->epoch; }

static bool check_counters(const ggnn_file* f, const train_state* at, int64_t batches, error* why)
{
    bool steps = at->epoch >= 0 && at->epoch <= 1 << 24 && at->batch >= 0 && at->batch <= batches
              && at->step == at->epoch * batches + at->batch && at->updates == at->step;
    bool others = at->loss_rows >= 0 && at->stale >= 0 && has_had_its_best(at);
    if (steps && others) return true;
    return error_set(why, "%s: epoch %lld, mini-batch %lld, step %lld do not fit %lld mini-batches an epoch", f->path,
                     (long long)at->epoch, (long long)at->batch, (long long)at->step, (long long)batches);
}

bool checkpoint_restore(ggnn_file* f, const config* c, const task* t, int64_t batches, net* n, train_state* at,
                        float* best, error* why)
{
    if (!same_data(f, c, t, why) || !same_division(f, c, t, why) || !same_params(f, n, why)) return false;
    net_state s = net_state_of(n);
    const bool counted = checkpoint_state(f, at, why);
    const float* value = checkpoint_need(f, "value", GGNN_FILE_F32, s.count, why);
    const float* m = checkpoint_need(f, "moment1", GGNN_FILE_F32, s.count, why);
    const float* v = checkpoint_need(f, "moment2", GGNN_FILE_F32, s.count, why);
    const float* kept = checkpoint_need(f, "best", GGNN_FILE_F32, s.count, why);
    size_t bytes = (size_t)s.count * sizeof(float);
    if (!counted || !value || !m || !v || !kept) return false;
    if (!check_counters(f, at, batches, why)) return false;
    *s.updates = at->updates;
    device_upload(net_device(n), s.value, value, bytes);
    device_upload(net_device(n), s.m, m, bytes);
    device_upload(net_device(n), s.v, v, bytes);
    memcpy(best, kept, bytes);
    return true;
}

/* ==== a prediction's part of it ================================================================================= */

typedef struct {
    net_param param[NET_PARAMS_MAX];
    int32_t count;
} params;

/* The rows, and the columns, of the parameter of that name; 0: there is none. */
static void find_param(const params* p, const char* name, int32_t* rows, int32_t* cols)
{
    *rows = *cols = 0;
    for (int32_t i = 0; i < p->count; i++) {
        if (strcmp(p->param[i].name, name) != 0) continue;
        *rows = p->param[i].rows;
        *cols = p->param[i].cols;
    }
}

/* The weights that layer l multiplies its input by: GraphSAGE's, but for its gcn, have another name. */
static void find_weights(const params* p, int64_t l, int32_t* rows, int32_t* cols)
{
    char name[16];
    snprintf(name, sizeof name, "w_self%d", (int)l);
    find_param(p, name, rows, cols);
    snprintf(name, sizeof name, "w%d", (int)l);
    if (!*rows) find_param(p, name, rows, cols);
}

/* Is each hidden layer as wide as the options say? Else a network would be made that is far larger than the file. */
static bool has_layers(const params* p, const config* c)
{
    for (int64_t l = 0; l < c->layers; l++) {
        int32_t rows, cols;
        find_weights(p, l, &rows, &cols);
        if (!rows || (l > 0 && rows != c->hidden) || (l + 1 < c->layers && cols != c->hidden)) return false;
    }
    return true;
}

bool checkpoint_widths_of(ggnn_file* f, const config* c, checkpoint_widths* widths, error* why)
{
    params p;
    char bias[16];
    int32_t one, unused;
    int64_t floats;
    memset(widths, 0, sizeof *widths);
    if (!checkpoint_params(f, p.param, &p.count, &floats, why)) return false;
    snprintf(bias, sizeof bias, "b%d", (int)c->layers - 1);
    find_param(&p, bias, &one, &widths->outputs);
    find_weights(&p, 0, &widths->features, &unused);
    if (c->edge_features) {
        find_param(&p, "w_e0", &widths->edge_features, &unused); /* GAT's; GraphSAGE's are rows of w_neigh0 */
        find_param(&p, "w_neigh0", &one, &unused);
        if (one) widths->edge_features = one - widths->features;
    }
    if (has_layers(&p, c) && widths->outputs && (widths->edge_features > 0) == c->edge_features) return true;
    return error_set(why, "%s: section 'params' is not that of a network by its options: it lacks a layer or the bias '%s'", f->path, bias);
}

bool checkpoint_fits(const ggnn_file* f, const config* c, const checkpoint_widths* widths, const task* t, error* why)
{
    const dataset* d = &t->set;
    if (d->feat.width != widths->features)
        return error_set(why, "%s was trained on %d features a node; %s has %d", f->path, (int)widths->features, d->file.path, (int)d->feat.width);
    return !c->edge_features || d->edge_feat.width == widths->edge_features ||
           error_set(why, "%s was trained on %d features an edge; %s has %d", f->path, (int)widths->edge_features, d->file.path,
                     (int)d->edge_feat.width);
}

bool checkpoint_load(ggnn_file* f, net* n, train_state* at, error* why)
{
    const net_state s = net_state_of(n);
    if (!same_params(f, n, why) || !checkpoint_state(f, at, why)) return false;
    if (!has_had_its_best(at))
        return error_set(why, "%s: epoch %lld has a best epoch of %lld", f->path, (long long)at->epoch, (long long)at->best_epoch);
    const float* from = checkpoint_need(f, at->has_best ? "best" : "value", GGNN_FILE_F32, s.count, why);
    if (from) device_upload(net_device(n), s.value, from, (size_t)s.count * sizeof *from);
    return from != NULL;
}
