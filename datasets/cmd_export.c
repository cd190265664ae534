/* ggnn-data export: a .ggnn file in formats that other programs read. All or nothing: the output is written under a
   temporary name and renamed when it is complete; a pipe or a device is written into. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/progress.h"
#include "common/same_file.h"
#include "common/unfinished.h"
#include "datasets/commands.h"
#include "datasets/dataset.h"

typedef enum { EXPORT_CSV, EXPORT_MTX, EXPORT_NPY } export_format;
typedef enum { OUTPUT_FILE, OUTPUT_FOLDER, OUTPUT_STREAM } output_kind;

typedef struct {
    const char* path; /* as the user names it */
    output_kind kind;
    char target[4096];    /* of a file or a folder: path through links */
    char temporary[4096]; /* what it is called until it is complete */
    int fd;               /* of a file or a stream, until its FILE takes it; else -1 */
    char file[4400];      /* the one being written, as errors call it */
    FILE* stream;
    const char* written[20]; /* files in the folder so far */
    int num_written;
    progress bar;
    error* why;
} output;

/* ---- files ---------------------------------------------------------------------------------------------------- */

static bool output_fail(output* o, const char* what)
{
    return error_set(o->why, "%s: %s: %s", o->file, what, strerror(errno));
}

static bool is_empty(const char* folder)
{
    bool empty = true;
    DIR* list = opendir(folder);
    for (struct dirent* entry; list && (entry = readdir(list));)
        empty = empty && (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."));
    if (list) closedir(list);
    return empty;
}

/* A folder's target: one that is there must be empty; one that is not may be named with a slash at its end. */
static bool find_folder(output* o)
{
    struct stat status;
    if (realpath(o->path, o->target)) {
        if (stat(o->target, &status) != 0 || !S_ISDIR(status.st_mode))
            return error_set(o->why, "%s: cannot put the output there: it is no folder", o->path);
        if (same_file(o->target, ".")) /* whoever stands in it would stay in the old one */
            return error_set(o->why, "%s: cannot put the output there: it is the current folder", o->path);
        return is_empty(o->target) ||
               error_set(o->why, "%s: cannot put the output there: a folder that is not empty", o->path);
    }
    if (errno != ENOENT || !o->path[0]) return output_fail(o, "cannot create");
    snprintf(o->target, sizeof o->target, "%s", o->path);
    for (size_t end = strlen(o->target); end > 1 && o->target[end - 1] == '/'; end--) o->target[end - 1] = 0;
    if (lstat(o->target, &status) == 0)
        return error_set(o->why, "%s: cannot put the output there: it links to nothing", o->path);
    return true;
}

/* Opens what is not to be replaced: a pipe, a device of characters, /dev/stdout. What standard output has open already
   is written on where standard output stands. reason: why no file can be put there. */
static bool open_stream(output* o, const char* reason)
{
    struct stat status, standard;
    if (stat(o->path, &status) != 0 || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
        return error_set(o->why, "%s", reason);
    bool same = fstat(STDOUT_FILENO, &standard) == 0 && standard.st_dev == status.st_dev &&
                standard.st_ino == status.st_ino;
    o->kind = OUTPUT_STREAM;
    o->fd = same ? dup(STDOUT_FILENO) : open(o->path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
    if (o->fd < 0 && S_ISREG(status.st_mode)) return error_set(o->why, "%s", reason);
    return o->fd >= 0 || output_fail(o, "cannot open");
}

/* Makes a new file or folder beside the target. */
static bool make_temporary(output* o)
{
    struct stat status;
    bool made = false;
    unfinished_expect();
    errno = strlen(o->target) > sizeof o->target - 64 ? ENAMETOOLONG : EEXIST;
    for (int number = 0; number < 1000 && !made && errno == EEXIST; number++) {
        ggnn_file_temporary(o->temporary, o->target, number);
        if (o->kind == OUTPUT_FOLDER) made = mkdir(o->temporary, 0777) == 0;
        else made = (o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) >= 0;
    }
    const int failure = errno;
    unfinished_add(made ? o->temporary : NULL);
    errno = failure;
    if (made && o->kind == OUTPUT_FILE && stat(o->target, &status) == 0)
        (void)!fchmod(o->fd, status.st_mode & 0777); /* as the file that it replaces */
    return made || output_fail(o, "cannot create");
}

static bool output_open(output* o, const char* path, bool folder, error* why)
{
    char reason[640];
    memset(o, 0, sizeof *o);
    o->path = path;
    o->kind = folder ? OUTPUT_FOLDER : OUTPUT_FILE;
    o->fd = -1;
    o->why = why;
    snprintf(o->file, sizeof o->file, "%s", path);
    if (folder) return find_folder(o) && make_temporary(o);
    return ggnn_file_target(o->target, path, reason) ? make_temporary(o) : open_stream(o, reason);
}

/* Begins a file: name within the folder, or NULL for the one file that the output is. */
static bool output_begin(output* o, const char* name, int64_t rows)
{
    if (name) {
        char made[4400];
        snprintf(made, sizeof made, "%s/%s", o->temporary, name);
        snprintf(o->file, sizeof o->file, "%s/%s", o->path, name);
        o->written[o->num_written++] = name;
        unfinished_add(made);
        o->stream = fopen(made, "wb");
    } else {
        o->stream = fdopen(o->fd, "wb");
    }
    if (!o->stream) return output_fail(o, "cannot create");
    o->fd = -1;
    progress_begin(&o->bar, name ? name : o->path, "rows", rows);
    return true;
}

static bool output_end(output* o)
{
    bool good = fflush(o->stream) == 0 && !ferror(o->stream);
    if (good && o->kind != OUTPUT_STREAM) good = fsync(fileno(o->stream)) == 0;
    if (!good) output_fail(o, "cannot write");
    if (fclose(o->stream) != 0 && good) good = output_fail(o, "cannot write");
    o->stream = NULL;
    progress_end(&o->bar, o->bar.total, false);
    return good;
}

/* Gives the output its name, or removes what there is of it. rename replaces a file, and a folder that is empty. */
static bool output_finish(output* o, bool good)
{
    if (o->stream) fclose(o->stream);
    if (o->fd >= 0) close(o->fd);
    if (o->kind == OUTPUT_STREAM) return good;
    bool put = good && rename(o->temporary, o->target) == 0;
    if (good && !put)
        error_set(o->why, "%s: cannot put the output there: %s", o->path,
                  errno == ENOTEMPTY || errno == EEXIST ? "a folder that is not empty" : strerror(errno));
    for (int i = 0; i < o->num_written && !put; i++) {
        snprintf(o->file, sizeof o->file, "%s/%s", o->temporary, o->written[i]);
        unlink(o->file);
    }
    if (!put && (o->kind == OUTPUT_FOLDER ? rmdir(o->temporary) : unlink(o->temporary)) != 0)
        error_set(o->why, "%s: cannot be removed: %s", o->temporary, strerror(errno));
    unfinished_clear();
    return put;
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

/* The shortest text that reads back as the same float. */
static void put_float(FILE* out, float value)
{
    char text[40];
    int digits = 5;
    do snprintf(text, sizeof text, "%.*g", digits, (double)value);
    while (digits++ < 9 && strtof(text, NULL) != value);
    fputs(text, out);
}

static float value_at(const dataset_rows* rows, int64_t i)
{
    if (rows->type == GGNN_F32) return ((const float*)rows->rows)[i];
    return ggnn_half_to_float(((const uint16_t*)rows->rows)[i]);
}

static void put_name(FILE* out, const dataset* d, int64_t v)
{
    fwrite(d->name + d->name_at[v], 1, (size_t)(d->name_at[v + 1] - d->name_at[v]), out);
}

/* "src,dst[,weight]" lines, nodes called by their names. */
static void put_named_edges(output* o, const dataset* d)
{
    for (int64_t v = 0; v < d->num_nodes; v++) {
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) {
            put_name(o->stream, d, (int64_t)d->csc.indices[e]);
            fputc(',', o->stream);
            put_name(o->stream, d, v);
            if (d->csc.weight) {
                fputc(',', o->stream);
                put_float(o->stream, d->csc.weight[e]);
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
                put_float(o->stream, d->csc.weight[e]);
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
            put_float(o->stream, value_at(rows, i * rows->width + k));
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
            put_name(o->stream, d, v);
        }
        if (d->label) fprintf(o->stream, ",%" PRId32, d->label[v]);
        if (d->target) {
            fputc(',', o->stream);
            put_float(o->stream, d->target[v]);
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

/* Begins an array of one or two dimensions; type is NumPy's: "<f4". Format version 1.0: the header is padded so that
   the data begin at a multiple of 64. */
static bool npy_begin(output* o, const char* name, const char* type, int32_t num_dims, int64_t rows, int64_t columns)
{
    char header[256], shape[80];
    int length;
    if (num_dims == 1)
        snprintf(shape, sizeof shape, "%" PRId64 ",", rows);
    else
        snprintf(shape, sizeof shape, "%" PRId64 ", %" PRId64, rows, columns);
    length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", type, shape);
    while ((10 + length + 1) % 64) header[length++] = ' ';
    header[length++] = '\n';
    if (!output_begin(o, name, rows)) return false;
    fwrite("\x93NUMPY\1", 1, 7, o->stream);
    fputc(0, o->stream);
    fputc(length & 255, o->stream);
    fputc(length >> 8, o->stream);
    fwrite(header, 1, (size_t)length, o->stream);
    return true;
}

/* A whole array of the file; nothing where data is NULL. row_bytes: of one row. */
static bool put_npy(output* o, const char* name, const char* type, const void* data, int32_t num_dims, int64_t rows,
                    int64_t columns)
{
    size_t row_bytes = (size_t)(type[2] - '0') * (size_t)(num_dims == 1 ? 1 : columns);
    if (!data) return true;
    if (!npy_begin(o, name, type, num_dims, rows, columns)) return false;
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
    if (!npy_begin(o, name, "|b1", one ? 1 : 2, one ? d->num_nodes : d->num_splits, d->num_nodes)) return false;
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
           put_npy(o, "external_at.npy", "<i8", d->name_at, 1, d->num_nodes + 1, 0) && put_mask(o, "train.npy", d, SPLIT_TRAIN) && put_mask(o, "val.npy", d, SPLIT_VAL) &&
           put_mask(o, "test.npy", d, SPLIT_TEST);
}

/* ---- command -------------------------------------------------------------------------------------------------- */

static bool export_dataset(const char* path, const char* out, export_format format, bool named, error* why)
{
    dataset d;
    output o;
    bool good = dataset_open(&d, path, why) && dataset_check_sections(&d, format == EXPORT_MTX, why) && dataset_check_graph(&d, why);
    if (good && named && !d.name) good = error_set(why, "%s: --names: nodes have no names (section 'external_name')", path);
    if (good && output_open(&o, out, format != EXPORT_MTX, why)) {
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
