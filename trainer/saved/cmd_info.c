/* ggnn-train info: what a checkpoint is. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/standard.h"
#include "trainer/saved/commands.h"
#include "trainer/saved/saved.h"

/* The value of an option as the command line has it. */
static const char* value_of(const saved* a, const char* name, char text[CONFIG_TEXT_MAX])
{
    const size_t length = strlen(name);
    config_text(&a->options, text);
    for (char* line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line + 2, name, length) == 0 && line[2 + length] == '=') return line + 3 + length;
    return "";
}

/* ==== words ===================================================================================================== */

static void print_data(const saved* a)
{
    printf("%-16s graph %08" PRIx64, "data", (uint64_t)a->graph_crc);
    for (int64_t i = 0; i < a->known; i++) {
        if (a->data_crc[i] < 0) printf(", no %s", checkpoint_data[i]);
        else printf(", %s %08" PRIx64, checkpoint_data[i], (uint64_t)a->data_crc[i]);
    }
    printf("\n");
}

static const char* shape_of(char text[64], int32_t dims, const int64_t* dim)
{
    size_t used = 0;
    for (int32_t i = 0; i < dims; i++) used += (size_t)snprintf(text + used, 64 - used, "%s%" PRId64, i ? " x " : "", dim[i]);
    return text;
}

/* A line per tensor: a parameter of whose rows some are of edges has two. */
static void print_parameters(const saved* a)
{
    char rows[64], shape[64];
    printf("\n%-12s %-16s  %-24s %s\n", "parameter", "shape", "in PyTorch", "shape there");
    for (int32_t i = 0, k = 0; i < a->params; i++) {
        const net_param* p = &a->param[i];
        const int64_t dim[2] = {p->rows, p->cols}, end = p->offset + (int64_t)p->rows * p->cols;
        for (bool first = true; k < a->tensors && a->tensor[k].from < end; k++, first = false)
            printf("%-12s %-16s  %-24s %s\n", first ? p->name : "", first ? shape_of(rows, 2, dim) : "", a->tensor[k].name,
                   shape_of(shape, a->tensor[k].num_dims, a->tensor[k].dim));
    }
}

static void print_options(const saved* a)
{
    char text[CONFIG_TEXT_MAX], line[512];
    config_text(&a->options, text);
    printf("\noptions that shape it:\n");
    for (char* at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) printf("  %s\n", printable(line, sizeof line, at));
}

static void print_about(const saved* a)
{
    char text[CONFIG_TEXT_MAX], bytes[16], path[4096], version[64];
    const train_state* at = &a->at;
    progress_amount(bytes, (double)a->file.bytes);
    printf("%-16s %s, %s%sB\n", "file", printable(path, sizeof path, a->file.path), bytes, strchr(bytes, ' ') ? "" : " ");
    if (a->version[0]) printf("%-16s ggnn %s\n", "written by", printable(version, sizeof version, a->version));
    printf("%-16s %s, %" PRId64 " layers", "model", value_of(a, "model", text), a->options.layers);
    if (a->options.model == NET_SAGE) printf(", aggregator %s", value_of(a, "aggregator", text));
    printf("\n%-16s %" PRId64 " in %d arrays\n", "parameters", a->floats, (int)a->params);
    printf("%-16s %" PRId64 " epochs, %" PRId64 " steps", "trained", at->epoch, at->step);
    if (at->batch) printf(", %" PRId64 " of them in the next epoch", at->batch);
    if (at->has_best)
        printf("\n%-16s %" PRId64 ", validation loss %.6g; %" PRId64 " evaluations since then\n", "best epoch", at->best_epoch, at->best_loss,
               at->stale);
    else printf("\n%-16s none was evaluated\n", "best epoch");
    print_data(a);
    print_parameters(a);
    print_options(a);
}

/* ==== JSON ====================================================================================================== */

static void json_data(json* j, const saved* a)
{
    json_begin_object(j, "data");
    json_int(j, "graph", a->graph_crc);
    for (int64_t i = 0; i < a->known; i++) {
        if (a->data_crc[i] < 0) json_null(j, checkpoint_data[i]);
        else json_int(j, checkpoint_data[i], a->data_crc[i]);
    }
    json_end_object(j);
}

static void json_shape(json* j, int32_t dims, const int64_t* dim)
{
    json_begin_array(j, "shape");
    for (int32_t i = 0; i < dims; i++) json_int(j, NULL, dim[i]);
    json_end_array(j);
}

static void json_parameters(json* j, const saved* a)
{
    json_begin_array(j, "parameters");
    for (int32_t i = 0; i < a->params; i++) {
        const int64_t dim[2] = {a->param[i].rows, a->param[i].cols};
        json_begin_object(j, NULL);
        json_string(j, "name", a->param[i].name);
        json_shape(j, 2, dim);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "tensors");
    for (int32_t i = 0; i < a->tensors; i++) {
        json_begin_object(j, NULL);
        json_string(j, "name", a->tensor[i].name);
        json_shape(j, a->tensor[i].num_dims, a->tensor[i].dim);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_about(const saved* a)
{
    json j;
    const train_state* at = &a->at;
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    json_string(&j, "file", a->file.path);
    json_int(&j, "bytes", a->file.bytes);
    json_string(&j, "version", a->version[0] ? a->version : NULL);
    config_json(&a->options, &j, "options");
#define CHECKPOINT_X(name) json_int(&j, #name, at->name);
    CHECKPOINT_COUNTERS(CHECKPOINT_X)
#undef CHECKPOINT_X
    if (at->has_best) json_real(&j, "best_loss", at->best_loss);
    else json_null(&j, "best_loss");
    json_data(&j, a);
    json_int(&j, "num_parameters", a->floats);
    json_parameters(&j, a);
    json_end_object(&j);
}

int saved_info_main(int argc, char** argv)
{
    static saved a;
    bool as_json = false;
    const option table[] = {{"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL}, {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* path;
    int num_arguments, exit_code;
    error why = {""};
    if (!command_begin("info F.ckpt [options]",
                       "Prints what a checkpoint is: model, options that shape it, epoch and validation loss, parameters, checksums of\n"
                       "its data.", table, argc, argv, &path, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    bool good = saved_open(&a, path, &why);
    if (good && as_json) json_about(&a);
    else if (good) print_about(&a);
    good = good && standard_flush(&why);
    saved_close(&a);
    return good ? EXIT_GOOD : command_failed(&why);
}
