#include "trainer/saved/checkpoint_file.h"

#include <stdio.h>
#include <string.h>

enum { KNOWN_LEAST = 4 };

#define CHECKPOINT_X(name) #name,
const char* const checkpoint_data[CHECKPOINT_NUM_DATA] = {CHECKPOINT_DATA(CHECKPOINT_X)};
#undef CHECKPOINT_X

const void* checkpoint_need(ggnn_file* f, const char* name, ggnn_file_type type, int64_t count, error* why)
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
    const char* text = checkpoint_need(f, "options", GGNN_FILE_U8, -1, why);
    if (text) *length = (size_t)ggnn_file_find(f, "options")->dim[0];
    return text;
}

/* How many sections of the data it knows. */
static int64_t known_sections(const ggnn_file* f)
{
    const ggnn_file_section* s = ggnn_file_find(f, "data_crc");
    return s ? s->dim[0] : 0;
}

bool checkpoint_knows(const ggnn_file* f, const char* section)
{
    bool known = false;
    for (int i = 0; i < CHECKPOINT_NUM_DATA && i < known_sections(f); i++) known = known || strcmp(checkpoint_data[i], section) == 0;
    return known;
}

const int64_t* checkpoint_data_crcs(ggnn_file* f, int64_t* known, error* why)
{
    *known = known_sections(f);
    if (!*known) return NULL;
    return checkpoint_need(f, "data_crc", GGNN_FILE_I64, *known >= KNOWN_LEAST && *known <= CHECKPOINT_NUM_DATA ? *known : CHECKPOINT_NUM_DATA, why);
}

bool checkpoint_state(ggnn_file* f, train_state* at, error* why)
{
    const int64_t* counters = checkpoint_need(f, "counters", GGNN_FILE_I64, CHECKPOINT_NUM_COUNTERS, why);
    const double* sums = checkpoint_need(f, "sums", GGNN_FILE_F64, 2, why);
    if (!counters || !sums) return false;
#define CHECKPOINT_X(name) at->name = *counters++;
    CHECKPOINT_COUNTERS(CHECKPOINT_X)
#undef CHECKPOINT_X
    at->loss_sum = sums[0];
    at->best_loss = sums[1];
    return true;
}

/* ==== parameters ================================================================================================ */

/* Reads "w_self0 1433 16", and nothing else. */
static bool read_param(net_param* p, const char* line, size_t length)
{
    char text[64], again[64];
    long rows, cols;
    if (length >= sizeof text) return false;
    memcpy(text, line, length);
    text[length] = 0;
    if (sscanf(text, "%15[a-z_]%1[0-9] %9ld %9ld", p->name, again, &rows, &cols) != 4 || strlen(p->name) + 2 > sizeof p->name) return false;
    strcat(p->name, again);
    snprintf(again, sizeof again, "%s %ld %ld", p->name, rows, cols);
    p->rows = (int32_t)rows;
    p->cols = (int32_t)cols;
    return rows > 0 && cols > 0 && strlen(text) == length && strcmp(again, text) == 0;
}

static bool is_new(const net_param* param, int32_t count, const net_param* p)
{
    for (int32_t i = 0; i < count; i++)
        if (strcmp(param[i].name, p->name) == 0) return false;
    return true;
}

static bool has_floats(ggnn_file* f, const char* section, int64_t floats, error* why)
{
    return checkpoint_need(f, section, GGNN_FILE_F32, floats, why) != NULL;
}

bool checkpoint_params(ggnn_file* f, net_param param[NET_PARAMS_MAX], int32_t* count, int64_t* floats, error* why)
{
    const char* at = checkpoint_need(f, "params", GGNN_FILE_U8, -1, why);
    if (!at) return false;
    const char* end = at + ggnn_file_find(f, "params")->dim[0];
    *count = 0;
    *floats = 0;
    for (; at < end; at++) {
        const char* stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((stop ? stop : end) - at);
        net_param* p = &param[*count];
        if (*count == NET_PARAMS_MAX) return error_set(why, "%s: it has more than %d parameters", f->path, NET_PARAMS_MAX);
        if (!read_param(p, at, length) || !is_new(param, *count, p))
            return error_set(why, "%s: section 'params', line %d: '%.*s' is no new name, rows and columns", f->path, (int)*count + 1,
                             (int)(length < 64 ? length : 64), at);
        p->offset = *floats;
        *floats += (int64_t)p->rows * p->cols;
        if (*floats > f->bytes / (int64_t)sizeof(float))
            return error_set(why, "%s: section 'params', line %d: '%.*s': the file has no room for so many elements", f->path, (int)*count + 1, (int)length, at);
        at += length;
        ++*count;
    }
    return has_floats(f, "value", *floats, why) && has_floats(f, "best", *floats, why);
}
