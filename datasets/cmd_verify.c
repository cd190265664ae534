/* ggnn-data verify: every check there is, one after the other; the exit code says whether all held. */
#include <stdlib.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/names.h"
#include "datasets/part.h"
#include "datasets/preprocess.h"

/* ---- values --------------------------------------------------------------------------------------------------- */

typedef struct {
    const void* value;
    ggnn_type type;
    int64_t count, pieces;
    int64_t bad[64]; /* of each piece the first value that is not finite; -1: none */
} finite_check;

static bool is_finite(const finite_check* check, int64_t i)
{
    uint32_t bits;
    if (check->type == GGNN_F16) return (((const uint16_t*)check->value)[i] & 0x7c00) != 0x7c00;
    memcpy(&bits, (const float*)check->value + i, sizeof bits);
    return (bits & 0x7f800000) != 0x7f800000;
}

static void check_piece(void* context, int64_t piece)
{
    finite_check* check = context;
    int64_t end = parallel_begin(check->count, piece + 1, check->pieces);
    check->bad[piece] = -1;
    for (int64_t i = parallel_begin(check->count, piece, check->pieces); i < end; i++)
        if (!is_finite(check, i)) {
            check->bad[piece] = i;
            return;
        }
}

static bool check_rows(const dataset* d, const char* section, const dataset_rows* rows, int64_t num_rows, error* why)
{
    finite_check check = {rows->rows, rows->type, num_rows * rows->width, 64, {0}};
    if (!rows->rows) return true;
    ggnn_parallel_for(check.pieces, check_piece, &check);
    for (int64_t piece = 0; piece < check.pieces; piece++)
        if (check.bad[piece] >= 0)
            return error_set(why, "%s: section '%s': row %lld, column %lld is not finite", d->file.path, section,
                             (long long)(check.bad[piece] / rows->width),
                             (long long)(check.bad[piece] % rows->width));
    return true;
}

/* ---- the checks; each may count on those before it ------------------------------------------------------------ */

static bool check_checksums(dataset* d, error* why)
{
    return ggnn_file_verify(&d->file) || error_set(why, "%s", d->file.error);
}

static bool check_graph(dataset* d, error* why) { return dataset_check_graph(d, why); }

/* A file that holds a graph and names one must name its own. */
static bool check_identity(dataset* d, error* why)
{
    const ggnn_file_section* s = ggnn_file_find(&d->file, "graph_crc");
    const int64_t* crc;
    if (!s) return true;
    s = ggnn_file_need(&d->file, "graph_crc", GGNN_FILE_I64, 1);
    if (!s || s->dim[0] != 1) return error_set(why, "%s: section 'graph_crc' is not i64 (1)", d->file.path);
    crc = ggnn_file_data(&d->file, s);
    if (*crc == ggnn_file_graph_crc(&d->file)) return true;
    return error_set(why, "%s: section 'graph_crc' is %08llx, the graph's identity is %08llx", d->file.path,
                     (unsigned long long)*crc, (unsigned long long)ggnn_file_graph_crc(&d->file));
}

static bool check_features(dataset* d, error* why)
{
    return check_rows(d, "feat", &d->feat, dataset_num_rows(d), why) &&
           check_rows(d, "edge_feat", &d->edge_feat, d->num_edges, why);
}

static bool check_part(dataset* d, error* why)
{
    ggnn_node* rank = memory_new(memory_product((size_t)d->num_nodes, sizeof *rank, 1), "rows by node", why);
    const bool holds = rank && part_check(d, rank, why);
    memory_free(rank);
    return holds;
}

static bool check_preprocessed(dataset* d, error* why) { return preprocess_check(d, why); }

static bool check_labels(dataset* d, error* why)
{
    for (int64_t v = 0; d->target && v < d->num_nodes; v++)
        if (d->target[v] - d->target[v] != 0 && d->target[v] == d->target[v]) /* infinite; NaN is "unknown" */
            return error_set(why, "%s: section 'label': node %lld has an infinite label", d->file.path, (long long)v);
    return dataset_count(d, why);
}

static bool check_splits(dataset* d, error* why)
{
    int64_t count[4];
    for (int32_t s = 0; s < d->num_splits; s++)
        if (!dataset_split(d, s, count, why)) return false;
    return true;
}

static int compare_ids(const void* a, const void* b)
{
    int64_t x = *(const int64_t*)a, y = *(const int64_t*)b;
    return (x > y) - (x < y);
}

static bool check_names(const dataset* d, error* why)
{
    names all = {.count = 0};
    int64_t v = 0, number = 0;
    if (!d->name) return true;
    if (!dataset_check_names(d, why)) return false;
    bool ok = names_open(&all, INT64_MAX, why);
    for (; v < d->num_nodes && ok && number >= 0; v++) {
        number = names_number(&all, d->name + d->name_at[v], d->name_at[v + 1] - d->name_at[v], why);
        if (number >= 0 && number < v)
            ok = error_set(why, "%s: section 'external_name': nodes %lld and %lld have one name", d->file.path, (long long)number, (long long)v);
    }
    names_close(&all);
    return ok && number >= 0;
}

static bool check_old_ids(const dataset* d, error* why)
{
    ggnn_node* node = d->old_id ? memory_new((size_t)d->num_nodes * sizeof *node, "nodes by their old numbers", why) : NULL;
    const bool good = !d->old_id || (node && dataset_nodes_by_old_id(d, node, why));
    memory_free(node);
    return good;
}

/* convert writes external ids in ascending order; only others need to be sorted to see that no two are alike. */
static bool check_ids(dataset* d, error* why)
{
    const int64_t* id = d->external_id;
    int64_t v = 1;
    if (!check_names(d, why) || !check_old_ids(d, why)) return false;
    while (id && v < d->num_nodes && id[v - 1] < id[v]) v++;
    if (!id || v >= d->num_nodes) return true;
    size_t bytes = memory_product((size_t)d->num_nodes, sizeof *id, 1);
    int64_t* sorted = memory_new(bytes, "external ids in order", why);
    if (!sorted) return false;
    memcpy(sorted, id, bytes);
    qsort(sorted, (size_t)d->num_nodes, sizeof *sorted, compare_ids);
    for (v = 1; v < d->num_nodes && sorted[v - 1] != sorted[v];) v++;
    bool distinct = v == d->num_nodes;
    if (!distinct)
        error_set(why, "%s: section 'external_id': %lld names more than one node", d->file.path, (long long)sorted[v]);
    memory_free(sorted);
    return distinct;
}

static const struct {
    const char* name;
    bool (*holds)(dataset* d, error* why);
    const char* what;
} checks[] = {{"checksums", check_checksums, "the CRC-32C of every section, zeros between sections"},
              {"graph", check_graph, "lists in order, ids of nodes, weights finite and not negative"},
              {"identity", check_identity, "the graph is the one that the file names"},
              {"features", check_features, "every value is finite"},
              {"preprocess", check_preprocessed, "preprocessed features are of this graph and these features"},
              {"labels", check_labels, "every label is a class or unknown"},
              {"splits", check_splits, "every node is in none, train, val or test"},
              {"ids", check_ids, "no two nodes have one external id or name"},
              {"part", check_part, "a part of a graph has the lists and rows that its training nodes reach"}}; /* not of a whole one */
enum { num_checks = sizeof checks / sizeof checks[0] };

static void report(json* j, bool as_json, const char* name, const char* what, bool holds, const error* why)
{
    if (!as_json) {
        printf("%-10s %-6s  %s\n", name, holds ? "ok" : "WRONG", holds ? what : why->text);
        return;
    }
    json_begin_object(j, NULL);
    json_string(j, "check", name);
    json_bool(j, "ok", holds);
    if (!holds) json_string(j, "error", why->text);
    json_end_object(j);
}

/* Runs all checks on what opened as a data set; a file without a graph has its checksums checked alone. */
static bool verify(dataset* d, json* j, bool as_json, error* first)
{
    bool good = true, graph = ggnn_file_find(&d->file, "indptr") != NULL;
    const int count = !graph ? 1 : d->part.parts ? num_checks : num_checks - 1;
    for (int i = 0; i < count; i++) {
        error why = {""};
        bool holds = checks[i].holds(d, &why);
        report(j, as_json, checks[i].name, checks[i].what, holds, &why);
        if (!holds) error_set(first, "%s", why.text);
        good = good && holds;
    }
    return good;
}

/* Opens the file as a data set; one without a graph as a container. */
static bool open_any(dataset* d, const char* path, error* why)
{
    memset(d, 0, sizeof *d);
    if (!ggnn_file_open(&d->file, path)) return error_set(why, "%s", d->file.error);
    if (!ggnn_file_find(&d->file, "indptr")) return true;
    ggnn_file_close(&d->file);
    return dataset_open_any(d, path, why);
}

int verify_main(int argc, char** argv)
{
    bool as_json = false, good;
    const option table[] = {{"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
                            {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* path;
    int num_arguments, exit_code;
    error why = {""}, not_written = {""};
    dataset d;
    json j;
    if (!command_begin("verify FILE [options]",
                       "Checks everything that can be checked of a .ggnn file. Exit code 0: "
                       "all is well; 1: something is wrong.",
                       table, argc, argv, &path, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    good = open_any(&d, path, &why);
    json_start(&j, stdout, true);
    if (as_json) {
        json_begin_object(&j, NULL);
        json_string(&j, "file", path);
        json_begin_array(&j, "checks");
    }
    report(&j, as_json, "sections", "table and shapes agree with each other", good, &why);
    if (good) good = verify(&d, &j, as_json, &why);
    if (as_json) {
        json_end_array(&j);
        json_bool(&j, "ok", good);
        json_end_object(&j);
    }
    dataset_close(&d);
    if (!standard_flush(&not_written)) return command_failed(&not_written);
    return good ? EXIT_GOOD : command_failed(&why);
}
