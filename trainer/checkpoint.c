#include "trainer/checkpoint.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "trainer/device.h"

#define CHECKPOINT_X(name) +1
enum { COUNTERS = 0 CHECKPOINT_COUNTERS(CHECKPOINT_X), PARAMS_TEXT_MAX = 8192 };
#undef CHECKPOINT_X

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
    int64_t crc = ggnn_file_graph_crc(&t->set.file);
    at->updates = *s.updates;
#define CHECKPOINT_X(name) at->name,
    int64_t counters[COUNTERS] = {CHECKPOINT_COUNTERS(CHECKPOINT_X)};
#undef CHECKPOINT_X
    double sums[2] = {at->loss_sum, at->best_loss};
    if (!ggnn_file_create(&w, path)) return error_set(why, "%s", w.error);
    append(&w, "options", GGNN_FILE_U8, config_text(c, options), options);
    append(&w, "params", GGNN_FILE_U8, params_text(n, params), params);
    append(&w, "graph_crc", GGNN_FILE_I64, 1, &crc);
    append(&w, "counters", GGNN_FILE_I64, COUNTERS, counters);
    append(&w, "sums", GGNN_FILE_F64, 2, sums);
    size_t count = (size_t)s.count, bytes = count * sizeof *copy;
    device* d = net_device(n);
    append(&w, "value", GGNN_FILE_F32, count, device_read(d, copy, s.value, bytes));
    append(&w, "moment1", GGNN_FILE_F32, count, device_read(d, copy, s.m, bytes));
    append(&w, "moment2", GGNN_FILE_F32, count, device_read(d, copy, s.v, bytes));
    append(&w, "best", GGNN_FILE_F32, count, best);
    if (d->failed.text[0]) {
        ggnn_file_abort(&w);
        return error_set(why, "%s", d->failed.text);
    }
    return ggnn_file_commit(&w) ? true : error_set(why, "%s", w.error);
}

bool checkpoint_save(const char* path, const config* c, const task* t, net* n, train_state* at, const float* best,
                     error* why)
{
    float* copy = NULL; /* of an array that is not the host's */
    size_t count = net_device(n)->host ? 0 : (size_t)net_state_of(n).count;
    if (count && !(copy = memory_new(count * sizeof *copy, "a copy of the weights", why))) return false;
    bool good = save(path, c, t, n, at, best, copy, why);
    memory_free(copy);
    return good;
}

bool checkpoint_possible(const char* path, error* why)
{
    ggnn_file_writer w;
    if (!ggnn_file_create(&w, path)) return error_set(why, "--save %s", w.error);
    ggnn_file_abort(&w);
    return true;
}

/* The array of a section that must be there with `count` elements; count < 0: any number. */
static const void* need(ggnn_file* f, const char* name, ggnn_file_type type, int64_t count, error* why)
{
    const ggnn_file_section* s = ggnn_file_need(f, name, type, 1);
    if (!s) {
        error_set(why, "%s", f->error);
        return NULL;
    }
    if (count >= 0 && s->dim[0] != count) {
        error_set(why, "%s: section '%s' at offset %lld has %lld elements, not %lld", f->path, name,
                  (long long)s->offset, (long long)s->dim[0], (long long)count);
        return NULL;
    }
    return ggnn_file_data(f, s);
}

const char* checkpoint_open(ggnn_file* f, const char* path, size_t* length, error* why)
{
    if (!ggnn_file_open(f, path) || !ggnn_file_verify(f)) {
        error_set(why, "%s", f->error);
        return NULL;
    }
    if (!ggnn_file_find(f, "options")) {
        error_set(why, "%s: not a checkpoint: it has no section 'options'", path);
        return NULL;
    }
    const char* text = need(f, "options", GGNN_FILE_U8, -1, why);
    if (text) *length = (size_t)ggnn_file_find(f, "options")->dim[0];
    return text;
}

static bool same_graph(ggnn_file* f, const task* t, error* why)
{
    const int64_t* crc = need(f, "graph_crc", GGNN_FILE_I64, 1, why);
    int64_t here = ggnn_file_graph_crc(&t->set.file);
    if (!crc) return false;
    if (*crc == here) return true;
    return error_set(why, "%s was trained on a graph with checksum %08llx; that of %s is %08llx", f->path,
                     (unsigned long long)*crc, t->set.file.path, (unsigned long long)here);
}

static bool same_params(ggnn_file* f, const net* n, error* why)
{
    char here[PARAMS_TEXT_MAX];
    size_t length = params_text(n, here);
    const ggnn_file_section* s = ggnn_file_find(f, "params");
    const char* there = need(f, "params", GGNN_FILE_U8, -1, why);
    if (!there) return false;
    if (s->dim[0] == (int64_t)length && memcmp(here, there, length) == 0) return true;
    return error_set(why, "%s: its parameters are not those of this network; do features and classes of the data "
                          "differ?\nits parameters:\n%.*s", f->path, (int)(s->dim[0] < 300 ? s->dim[0] : 300), there);
}

static bool check_counters(const ggnn_file* f, const train_state* at, int64_t batches, error* why)
{
    bool steps = at->epoch >= 0 && at->epoch <= 1 << 24 && at->batch >= 0 && at->batch <= batches
              && at->step == at->epoch * batches + at->batch && at->updates == at->step;
    bool others = at->loss_rows >= 0 && at->stale >= 0 && at->best_epoch >= 0 && at->best_epoch <= at->epoch;
    if (steps && others) return true;
    return error_set(why, "%s: epoch %lld, mini-batch %lld, step %lld do not fit %lld mini-batches an epoch", f->path,
                     (long long)at->epoch, (long long)at->batch, (long long)at->step, (long long)batches);
}

bool checkpoint_restore(ggnn_file* f, const task* t, int64_t batches, net* n, train_state* at, float* best,
                        error* why)
{
    if (!same_graph(f, t, why) || !same_params(f, n, why)) return false;
    net_state s = net_state_of(n);
    const int64_t* counters = need(f, "counters", GGNN_FILE_I64, COUNTERS, why);
    const double* sums = need(f, "sums", GGNN_FILE_F64, 2, why);
    const float* value = need(f, "value", GGNN_FILE_F32, s.count, why);
    const float* m = need(f, "moment1", GGNN_FILE_F32, s.count, why);
    const float* v = need(f, "moment2", GGNN_FILE_F32, s.count, why);
    const float* kept = need(f, "best", GGNN_FILE_F32, s.count, why);
    size_t bytes = (size_t)s.count * sizeof(float);
    if (!counters || !sums || !value || !m || !v || !kept) return false;
#define CHECKPOINT_X(name) at->name = *counters++;
    CHECKPOINT_COUNTERS(CHECKPOINT_X)
#undef CHECKPOINT_X
    at->loss_sum = sums[0];
    at->best_loss = sums[1];
    if (!check_counters(f, at, batches, why)) return false;
    *s.updates = at->updates;
    device_upload(net_device(n), s.value, value, bytes);
    device_upload(net_device(n), s.m, m, bytes);
    device_upload(net_device(n), s.v, v, bytes);
    memcpy(best, kept, bytes);
    return true;
}
