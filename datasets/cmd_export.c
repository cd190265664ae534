/* ggnn-data export: a .ggnn file in formats that other programs read. */
#include <inttypes.h>
#include <string.h>

#include "common/same_file.h"
#include "datasets/commands.h"
#include "datasets/dataset.h"
#include "datasets/output.h"

typedef enum { EXPORT_CSV, EXPORT_MTX, EXPORT_NPY } export_format;

/* ---- text ----------------------------------------------------------------------------------------------------- */

static float value_at(const dataset_rows* rows, int64_t i)
{
    if (rows->type == GGNN_F32) return ((const float*)rows->rows)[i];
    return ggnn_half_to_float(((const uint16_t*)rows->rows)[i]);
}

/* "src,dst[,weight]" lines, nodes called by their names. */
static void put_named_edges(output* o, const dataset* d)
{
    for (int64_t v = 0; v < d->num_nodes; v++) {
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) {
            dataset_put_name(d, (int64_t)d->csc.indices[e], o->stream);
            fputc(',', o->stream);
            dataset_put_name(d, v, o->stream);
            if (d->csc.weight) {
                fputc(',', o->stream);
                output_float(o->stream, d->csc.weight[e]);
            }
            fputc('\n', o->stream);
        }
        progress_update(&o->bar, v);
    }
}

/* "src dst [weight]" lines, ids counted from base. */
static void put_edges(output* o, const dataset* d, char separator, int64_t base)
{
    for (int64_t v = 0; v < d->num_nodes; v++) {
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) {
            fprintf(o->stream, "%" PRId64 "%c%" PRId64, d->csc.indices[e] + base, separator, v + base);
            if (d->csc.weight) {
                fputc(separator, o->stream);
                output_float(o->stream, d->csc.weight[e]);
            }
            fputc('\n', o->stream);
        }
        progress_update(&o->bar, v);
    }
}

static void put_rows(output* o, const dataset_rows* rows, int64_t num_rows)
{
    for (int64_t i = 0; i < num_rows; i++) {
        for (int32_t k = 0; k < rows->width; k++) {
            if (k) fputc(',', o->stream);
            output_float(o->stream, value_at(rows, i * rows->width + k));
        }
        fputc('\n', o->stream);
        progress_update(&o->bar, i);
    }
}

static void put_nodes(output* o, const dataset* d)
{
    static const char* const part[4] = {"none", "train", "val", "test"};
    fprintf(o->stream, "node%s%s%s", d->external_id ? ",external_id" : "", d->name ? ",name" : "", d->label || d->target ? ",label" : "");
    for (int32_t s = 0; s < d->num_splits; s++) fprintf(o->stream, ",split_%" PRId32, s);
    fputc('\n', o->stream);
    for (int64_t v = 0; v < d->num_nodes; v++) {
        fprintf(o->stream, "%" PRId64, v);
        if (d->external_id) fprintf(o->stream, ",%" PRId64, d->external_id[v]);
        if (d->name) {
            fputc(',', o->stream);
            dataset_put_name(d, v, o->stream);
        }
        if (d->label) fprintf(o->stream, ",%" PRId32, d->label[v]);
        if (d->target) {
            fputc(',', o->stream);
            output_float(o->stream, d->target[v]);
        }
        for (int32_t s = 0; s < d->num_splits; s++) {
            uint8_t which = d->split[s * d->num_nodes + v];
            fprintf(o->stream, ",%s", which <= SPLIT_TEST ? part[which] : "?");
        }
        fputc('\n', o->stream);
        progress_update(&o->bar, v);
    }
}

static bool export_csv(output* o, const dataset* d, bool named)
{
    if (!output_begin(o, "edges.csv", d->num_nodes)) return false;
    fprintf(o->stream, "src,dst%s\n", d->csc.weight ? ",weight" : "");
    if (named) put_named_edges(o, d);
    else put_edges(o, d, ',', 0);
    if (!output_end(o)) return false;
    if (d->label || d->target || d->split || d->external_id || d->name) {
        if (!output_begin(o, "nodes.csv", d->num_nodes)) return false;
        put_nodes(o, d);
        if (!output_end(o)) return false;
    }
    if (d->feat.rows) {
        if (!output_begin(o, "features.csv", d->num_nodes)) return false;
        put_rows(o, &d->feat, d->num_nodes);
        if (!output_end(o)) return false;
    }
    if (d->edge_feat.rows) {
        if (!output_begin(o, "edge_features.csv", d->num_edges)) return false;
        put_rows(o, &d->edge_feat, d->num_edges);
        if (!output_end(o)) return false;
    }
    return true;
}

/* Entry (row u, column v) is the edge u -> v, in column order: the graph's own CSC. */
static bool export_mtx(output* o, const dataset* d)
{
    if (!output_begin(o, NULL, d->num_nodes)) return false;
    fprintf(o->stream, "%%%%MatrixMarket matrix coordinate %s general\n", d->csc.weight ? "real" : "pattern");
    fprintf(o->stream, "%% row: source, column: target\n%" PRId64 " %" PRId64 " %" PRId64 "\n", d->num_nodes,
            d->num_nodes, d->num_edges);
    put_edges(o, d, ' ', 1);
    return output_end(o);
}

/* ---- .npy ----------------------------------------------------------------------------------------------------- */

/* A whole array of the file; nothing where data is NULL. row_bytes: of one row. */
static bool put_npy(output* o, const char* name, const char* type, const void* data, int32_t num_dims, int64_t rows,
                    int64_t columns)
{
    size_t row_bytes = (size_t)(type[2] - '0') * (size_t)(num_dims == 1 ? 1 : columns);
    if (!data) return true;
    if (!output_npy(o, name, type, num_dims, rows, columns)) return false;
    for (int64_t i = 0; i < rows; i++) {
        fwrite((const char*)data + (size_t)i * row_bytes, 1, row_bytes, o->stream);
        progress_update(&o->bar, i);
    }
    return output_end(o);
}

/* The nodes of one part of the splits as a mask: (N), or (S, N) where there are several splits. */
static bool put_mask(output* o, const char* name, const dataset* d, int part)
{
    int64_t count = d->num_splits * d->num_nodes;
    bool one = d->num_splits == 1;
    if (!d->split) return true;
    if (!output_npy(o, name, "|b1", one ? 1 : 2, one ? d->num_nodes : d->num_splits, d->num_nodes)) return false;
    for (int64_t i = 0; i < count; i++) fputc(d->split[i] == part, o->stream);
    return output_end(o);
}

static bool put_npy_rows(output* o, const char* name, const dataset_rows* rows, int64_t num_rows)
{
    return put_npy(o, name, rows->type == GGNN_F32 ? "<f4" : "<f2", rows->rows, 2, num_rows, rows->width);
}

static bool export_npy(output* o, const dataset* d)
{
    return put_npy(o, "indptr.npy", "<i8", d->csc.indptr, 1, d->num_nodes + 1, 0) &&
           put_npy(o, "indices.npy", sizeof(ggnn_node) == 4 ? "<i4" : "<i8", d->csc.indices, 1, d->num_edges, 0) &&
           put_npy(o, "weight.npy", "<f4", d->csc.weight, 1, d->num_edges, 0) &&
           put_npy_rows(o, "feat.npy", &d->feat, d->num_nodes) &&
           put_npy_rows(o, "edge_feat.npy", &d->edge_feat, d->num_edges) &&
           put_npy(o, "label.npy", "<i4", d->label, 1, d->num_nodes, 0) &&
           put_npy(o, "label.npy", "<f4", d->target, 1, d->num_nodes, 0) &&
           put_npy(o, "external_id.npy", "<i8", d->external_id, 1, d->num_nodes, 0) &&
           put_npy(o, "external_name.npy", "|u1", d->name, 1, d->name_bytes, 0) &&
           put_npy(o, "external_at.npy", "<i8", d->name_at, 1, d->num_nodes + 1, 0) &&
           put_mask(o, "train.npy", d, SPLIT_TRAIN) && put_mask(o, "val.npy", d, SPLIT_VAL) &&
           put_mask(o, "test.npy", d, SPLIT_TEST);
}

/* ---- command -------------------------------------------------------------------------------------------------- */

static bool export_dataset(const char* path, const char* out, export_format format, bool named, error* why)
{
    dataset d;
    output o;
    bool good = dataset_open(&d, path, why) && dataset_check_sections(&d, format == EXPORT_MTX, why) && dataset_check_graph(&d, why);
    if (good && named && !d.name) good = error_set(why, "%s: --names: nodes have no names (section 'external_name')", path);
    if (good && output_open(&o, out, format == EXPORT_MTX ? OUTPUT_STREAM : OUTPUT_FOLDER, why)) {
        good = format == EXPORT_CSV   ? export_csv(&o, &d, named)
               : format == EXPORT_MTX ? export_mtx(&o, &d)
                                      : export_npy(&o, &d);
        good = output_finish(&o, good);
    }
    dataset_close(&d);
    return good && !why->text[0];
}

int export_main(int argc, char** argv)
{
    int format = EXPORT_NPY;
    bool named = false;
    const option table[] = {
        {"format", OPTION_CHOICE, &format, 0, 0, "csv|mtx|npy",
         "csv: a folder with edges.csv, nodes.csv, features.csv; mtx: one Matrix Market file with "
         "the graph alone, which may go to a pipe or /dev/stdout; npy: a folder of NumPy arrays",
         NULL},
        {"names", OPTION_FLAG, &named, 0, 0, NULL, "csv: edges.csv has the names of nodes, not their numbers: convert --ids names --header yes reads it", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[2];
    int num_arguments, exit_code;
    error why = {""};
    if (!command_begin("export FILE OUT [options]",
                       "Writes a .ggnn file in a format that other programs read. A folder OUT must be new or empty.",
                       table, argc, argv, argument, &num_arguments, 2, 2, &exit_code))
        return exit_code;
    if (named && format != EXPORT_CSV) {
        error_set(&why, "--names is for --format csv");
        return command_refused("export", &why);
    }
    if (same_file(argument[0], argument[1])) {
        error_set(&why, "%s: FILE and OUT are one file", argument[1]);
        return command_refused("export", &why);
    }
    return export_dataset(argument[0], argument[1], (export_format)format, named, &why) ? EXIT_GOOD : command_failed(&why);
}
