#include "trainer/saved/weights_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "datasets/npy.h"
#include "datasets/zip_writer.h"

int weights_format_of(const char* path)
{
    const char* dot = strrchr(path, '.');
    return dot ? options_choice(WEIGHTS_FORMATS, dot + 1) : -1;
}

/* ==== what they are ============================================================================================= */

/* "--hidden=256\n" is a string "hidden", a flag's is "true". */
static void put_options(json* j, const config* c)
{
    char text[CONFIG_TEXT_MAX];
    config_text(c, text);
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        char* value = strchr(line, '=');
        if (value) *value++ = 0;
        json_string(j, line + 2, value ? value : "true");
    }
}

static void put_metadata(json* j, const char* key, const weights* w)
{
    char text[32];
    json_begin_object(j, key);
    json_string(j, "format", "pt");
    json_string(j, "generator", "ggnn-train " GGNN_VERSION);
    json_string(j, "weights", w->best ? "best" : "last");
    snprintf(text, sizeof text, "%" PRId64, w->best ? w->at.best_epoch : w->at.epoch);
    json_string(j, "epoch", text);
    snprintf(text, sizeof text, "%.9g", w->at.best_loss);
    if (w->best) json_string(j, "validation_loss", text);
    snprintf(text, sizeof text, "%08" PRIx64, (uint64_t)w->graph_crc);
    json_string(j, "graph_crc", text);
    put_options(j, w->options);
    json_end_object(j);
}

static void put_header(json* j, const weights* w)
{
    int64_t at = 0;
    json_begin_object(j, NULL);
    put_metadata(j, "__metadata__", w);
    for (int32_t i = 0; i < w->tensors; i++) {
        const weight_tensor* t = &w->tensor[i];
        const int64_t end = at + t->count * (int64_t)sizeof(float);
        json_begin_object(j, t->name);
        json_string(j, "dtype", "F32");
        json_begin_array(j, "shape");
        for (int32_t k = 0; k < t->num_dims; k++) json_int(j, NULL, t->dim[k]);
        json_end_array(j);
        json_begin_array(j, "data_offsets");
        json_int(j, NULL, at);
        json_int(j, NULL, end);
        json_end_array(j);
        json_end_object(j);
        at = end;
    }
    json_end_object(j);
}

/* The JSON text of one of the two, without the line's end; the caller's to free. NULL on failure. */
static char* text_of(const weights* w, bool header, error* why)
{
    char* text = NULL;
    size_t length = 0;
    json j;
    FILE* to = open_memstream(&text, &length);
    if (to) {
        json_start(&j, to, false);
        if (header) put_header(&j, w);
        else put_metadata(&j, NULL, w);
    }
    const bool good = to && !ferror(to);
    if ((to && fclose(to) != 0) || !good) {
        free(text);
        error_set(why, "no memory for the names of the weights");
        return NULL;
    }
    text[length - 1] = 0;
    return text;
}

/* ==== files ===================================================================================================== */

static bool write_safetensors(output* o, const weights* w, float* room, error* why)
{
    char* header = text_of(w, true, why);
    if (!header) return false;
    const size_t length = strlen(header), all = (length + 7) / 8 * 8;
    for (int i = 0; i < 8; i++) fputc((int)((uint64_t)all >> 8 * i & 255), o->stream);
    fprintf(o->stream, "%s%*s", header, (int)(all - length), "");
    free(header);
    for (int32_t i = 0; i < w->tensors; i++) {
        weights_copy(room, &w->tensor[i], w->values);
        fwrite(room, sizeof *room, (size_t)w->tensor[i].count, o->stream);
        progress_update(&o->bar, i);
    }
    return true;
}

static bool add_metadata(zip_writer* z, const weights* w, error* why)
{
    char header[NPY_WRITTEN_MAX], type[24];
    char* text = text_of(w, false, why);
    if (!text) return false;
    snprintf(type, sizeof type, "|S%zu", strlen(text));
    const bool good = zip_writer_add(z, "__metadata__.npy", header, npy_write_header(header, type, 0, NULL), text, strlen(text));
    free(text);
    return good;
}

static bool write_npz(output* o, const weights* w, float* room, error* why)
{
    zip_writer z;
    zip_writer_begin(&z, o->stream, why);
    bool good = add_metadata(&z, w, why);
    for (int32_t i = 0; i < w->tensors && good; i++) {
        const weight_tensor* t = &w->tensor[i];
        char header[NPY_WRITTEN_MAX], name[sizeof t->name + 4];
        snprintf(name, sizeof name, "%s.npy", t->name);
        weights_copy(room, t, w->values);
        good = zip_writer_add(&z, name, header, npy_write_header(header, "<f4", t->num_dims, t->dim), room, (size_t)t->count * sizeof *room);
        progress_update(&o->bar, i);
    }
    zip_writer_end(&z);
    return good;
}

bool weights_write(const char* path, weights_format format, const weights* w, error* why)
{
    output o;
    int64_t most = 0;
    for (int32_t i = 0; i < w->tensors; i++) most = w->tensor[i].count > most ? w->tensor[i].count : most;
    float* room = memory_new(memory_product((size_t)most, sizeof *room, 1), "a tensor", why);
    bool good = room && output_open(&o, path, OUTPUT_FILE, why);
    if (good) {
        good = output_begin(&o, NULL, w->tensors);
        good = good && (format == WEIGHTS_NPZ ? write_npz(&o, w, room, why) : write_safetensors(&o, w, room, why));
        good = output_finish(&o, good && output_end(&o));
    }
    memory_free(room);
    return good;
}
