/* ggnn-data info: what a file holds, from its section table and its labels and splits. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/order_gain.h"
#include "datasets/preprocess.h"

static const char* const split_part[4] = {"none", "train", "val", "test"};

static const char* shape_of(const ggnn_file_section* s, char text[100])
{
    size_t used = 0;
    for (uint32_t i = 0; i < s->num_dims; i++)
        used += (size_t)snprintf(text + used, 100 - used, "%s%" PRId64, i ? " x " : "", s->dim[i]);
    return text;
}

static void print_sections(const ggnn_file* f)
{
    printf("%-16s %-8s %-24s %14s %14s  CRC-32C\n", "section", "type", "shape", "bytes", "offset");
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        char shape[100];
        printf("%-16s %-8s %-24s %14" PRId64 " %14" PRId64 "  %08" PRIx32 "\n", s->name, ggnn_file_type_name(s->type),
               shape_of(s, shape), s->bytes, s->offset, s->crc);
    }
}

static void print_rows(const char* name, const dataset_rows* rows)
{
    if (rows->rows)
        printf("%-16s %" PRId32 " a row, %s\n", name, rows->width, rows->type == GGNN_F32 ? "fp32" : "fp16");
}

static const char* preprocessed_for(const dataset* d)
{
    error why = {""};
    ggnn_store rows;
    if (preprocess_rows(d, PREPROCESS_GCN, &rows, &why)) return "gcn";
    why.text[0] = 0;
    return preprocess_rows(d, PREPROCESS_SAGE, &rows, &why) ? "sage" : NULL;
}

static void print_preprocessed(const dataset* d)
{
    if (preprocessed_for(d)) printf("%-16s the first layer of %s\n", "preprocessed", preprocessed_for(d));
}

static void print_part(const dataset* d)
{
    const dataset_part* p = &d->part;
    if (!p->parts) return;
    printf("%-16s %" PRId32 " of %" PRId32 ", of the graph %08" PRIx64 ": rows of %" PRId64 " nodes, %" PRId32 " hops around its "
           "training nodes\n", "part", p->number, p->parts, (uint64_t)p->graph_crc, p->num_rows, p->hops);
}

static void print_dataset(const dataset* d, int64_t (*count)[4])
{
    printf("%-16s %" PRId64 "\n%-16s %" PRId64 " directed%s, %.2f a node\n", "nodes", d->num_nodes, "edges",
           d->num_edges, d->csc.weight ? ", weighted" : "",
           d->num_nodes ? (double)d->num_edges / (double)d->num_nodes : 0);
    print_rows("features", &d->feat);
    print_rows("edge features", &d->edge_feat);
    print_preprocessed(d);
    print_part(d);
    if (d->label) printf("%-16s %" PRId32 " classes\n", "labels", d->num_classes);
    if (d->target) printf("%-16s real numbers\n", "labels");
    for (int32_t s = 0; s < d->num_splits; s++)
        printf("split %-10" PRId32 " %" PRId64 " train, %" PRId64 " val, %" PRId64 " test, %" PRId64 " none\n", s,
               count[s][SPLIT_TRAIN], count[s][SPLIT_VAL], count[s][SPLIT_TEST], count[s][SPLIT_NONE]);
    if (d->external_id) printf("%-16s kept, section external_id\n", "external ids");
    if (d->old_id) printf("%-16s kept, section old_id\n", "old ids");
    if (d->name) printf("%-16s kept, section external_name\n", "names");
}

static void print_hint(const dataset* d)
{
    char text[ORDER_HINT];
    if (order_gain_hint(text, d)) printf("%-16s %s\n", "hint", text);
}

static void json_gain(json* j, const dataset* d)
{
    double gain[ORDER_GAIN_WIDTHS];
    if (!order_gain_here(gain, d)) return;
    json_begin_array(j, "gain_by_degree"); /* a sum over all neighbours after reorder --by degree: how many times as fast */
    for (int k = 0; k < ORDER_GAIN_WIDTHS; k++) {
        json_begin_object(j, NULL);
        json_int(j, "features", order_gain_width[k]);
        json_real(j, "gain", gain[k]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_sections(json* j, const ggnn_file* f)
{
    json_begin_array(j, "sections");
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        json_begin_object(j, NULL);
        json_string(j, "name", s->name);
        json_string(j, "type", ggnn_file_type_name(s->type));
        json_begin_array(j, "shape");
        for (uint32_t k = 0; k < s->num_dims; k++) json_int(j, NULL, s->dim[k]);
        json_end_array(j);
        json_int(j, "offset", s->offset);
        json_int(j, "bytes", s->bytes);
        json_int(j, "crc32c", s->crc);
        json_end_object(j);
    }
    json_end_array(j);
}

static void json_rows(json* j, const char* key, const dataset_rows* rows)
{
    json_begin_object(j, key);
    json_int(j, "width", rows->rows ? rows->width : 0);
    json_string(j, "type", !rows->rows ? NULL : rows->type == GGNN_F32 ? "f32" : "f16");
    json_end_object(j);
}

static void json_part(json* j, const dataset* d)
{
    const dataset_part* p = &d->part;
    if (!p->parts) return;
    json_begin_object(j, "part");
    json_int(j, "number", p->number);
    json_int(j, "parts", p->parts);
    json_int(j, "hops", p->hops);
    json_int(j, "rows", p->num_rows);
    json_int(j, "graph_crc", p->graph_crc);
    json_end_object(j);
}

static void json_dataset(json* j, const dataset* d, int64_t (*count)[4])
{
    json_int(j, "num_nodes", d->num_nodes);
    json_int(j, "num_edges", d->num_edges);
    json_bool(j, "weighted", d->csc.weight != NULL);
    json_rows(j, "features", &d->feat);
    json_rows(j, "edge_features", &d->edge_feat);
    json_string(j, "preprocessed", preprocessed_for(d));
    json_string(j, "labels", d->label ? "classes" : d->target ? "real" : NULL);
    json_int(j, "num_classes", d->num_classes);
    json_begin_array(j, "splits");
    for (int32_t s = 0; s < d->num_splits; s++) {
        json_begin_object(j, NULL);
        for (int part = 0; part < 4; part++) json_int(j, split_part[part], count[s][part]);
        json_end_object(j);
    }
    json_end_array(j);
    json_bool(j, "external_ids", d->external_id != NULL);
    json_bool(j, "external_names", d->name != NULL);
    json_bool(j, "old_ids", d->old_id != NULL);
    if (!d->part.parts) json_gain(j, d);
    json_part(j, d);
}

/* The identity of the graph that a ranking, a partition or a checkpoint belongs to; -1: it names none. */
static int64_t graph_of(const ggnn_file* f)
{
    const ggnn_file_section* s = ggnn_file_find(f, "graph_crc");
    return s && s->type == GGNN_FILE_I64 && s->bytes == (int64_t)sizeof(int64_t) ? *(const int64_t*)ggnn_file_data(f, s) : -1;
}

/* d is NULL for files that hold no graph; count (num_splits) its splits' parts. */
static void print_info(const ggnn_file* f, const dataset* d, int64_t (*count)[4], bool as_json)
{
    char bytes[16], path[4096];
    const int64_t graph = ggnn_file_graph_crc(f), of = graph_of(f);
    json j;
    if (!as_json) {
        progress_amount(bytes, (double)f->bytes);
        printf("%-16s %s, %s%sB\n", "file", printable(path, sizeof path, f->path), bytes, strchr(bytes, ' ') ? "" : " ");
        if (d) print_dataset(d, count);
        if (d && !d->part.parts) print_hint(d);
        if (graph >= 0) printf("%-16s %08" PRIx64 "\n", "graph identity", (uint64_t)graph);
        if (of >= 0) printf("%-16s %08" PRIx64 "\n", "of the graph", (uint64_t)of);
        printf("\n");
        print_sections(f);
        return;
    }
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    json_string(&j, "file", f->path);
    json_int(&j, "bytes", f->bytes);
    if (graph >= 0)
        json_int(&j, "graph_crc", graph);
    else
        json_null(&j, "graph_crc");
    if (of >= 0) json_int(&j, "of_graph", of);
    if (d) json_dataset(&j, d, count);
    json_sections(&j, f);
    json_end_object(&j);
}

static bool dataset_info(const char* path, bool as_json, error* why)
{
    dataset d;
    int64_t(*count)[4] = NULL;
    bool good = dataset_open_any(&d, path, why) && dataset_count(&d, why) &&
                (count = memory_new((size_t)d.num_splits * sizeof *count, "split counts", why)) != NULL;
    for (int32_t s = 0; good && s < d.num_splits; s++) good = dataset_split(&d, s, count[s], why) != NULL;
    if (good) print_info(&d.file, &d, count, as_json);
    memory_free(count);
    dataset_close(&d);
    return good;
}

int info_main(int argc, char** argv)
{
    bool as_json = false, good;
    const option table[] = {{"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
                            {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* path;
    int num_arguments, exit_code;
    error why = {""};
    ggnn_file f;
    if (!command_begin("info FILE [options]", "Prints what a .ggnn file holds.", table, argc, argv, &path,
                       &num_arguments, 1, 1, &exit_code))
        return exit_code;
    if (!ggnn_file_open(&f, path)) {
        error_set(&why, "%s", f.error);
        return command_failed(&why);
    }
    good = true;
    if (ggnn_file_find(&f, "indptr"))
        good = dataset_info(path, as_json, &why);
    else
        print_info(&f, NULL, NULL, as_json); /* a checkpoint, a ranking, a partition */
    good = good && standard_flush(&why);
    ggnn_file_close(&f);
    return good ? EXIT_GOOD : command_failed(&why);
}
