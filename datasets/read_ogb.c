/* A node-property graph as the Open Graph Benchmark distributes it (Hu et al. 2020), in csv files without headers:
     raw/num-node-list, raw/num-edge-list   one number each
     raw/edge                               src,dst
     raw/edge-feat                          a line an edge
     raw/node-feat, raw/node-label          a line a node
     split/NAME/train, valid, test          a node id a line
   each .csv.gz or .csv. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "datasets/graph_arrays.h"
#include "datasets/ogb_csv.h"
#include "datasets/readers.h"

enum { BATCH = 4096 };

/* ---- sizes and edges ------------------------------------------------------------------------------------------ */

static bool read_size(const char* in, const char* name, int64_t* size, error* why)
{
    text t;
    if (!ogb_csv_open(&t, in, name, true, why)) return false;
    int more = text_next_line(&t, why);
    bool ok =
        more == 1 ? text_int(&t, size, why) && ogb_csv_end_line(&t, why) : error_set(why, "%s: is empty", source_name(t.in));
    if (ok && *size < 0) ok = text_fail(&t, "a negative size", why);
    if (ok && (more = text_next_line(&t, why)) == 1)
        ok = error_set(why, "%s: holds several graphs; one is read", source_name(t.in));
    ok = ok && more == 0;
    ogb_csv_close(&t);
    return ok;
}

/* Opens raw/edge-feat, where it is there and wanted, at its first row, which tells the width. */
static bool open_edge_rows(const builder* b, text* t, const char* in, int64_t* width, error* why)
{
    int columns, more;
    *width = 0;
    memset(t, 0, sizeof *t);
    if (!builder_wants_edge_features(b)) return true;
    if (!ogb_csv_open(t, in, "raw/edge-feat", false, why)) return false;
    if (!t->in) return true;
    if ((more = text_next_line(t, why)) < 1) return more == 0 && error_set(why, "%s: is empty", source_name(t->in));
    if (!text_width(t, &columns, why)) return false;
    *width = columns;
    return true;
}

static bool read_edge_row(builder* b, text* t, float* row, int64_t width, error* why)
{
    if (b->lists.rows.count == b->num_edges) return text_fail(t, "more rows than edges", why);
    return text_row(t, row, width, why) && ogb_csv_end_line(t, why) && builder_add_edge_features(b, row, 1, why);
}

static bool read_edge_rows(builder* b, text* t, int64_t width, error* why)
{
    float row[TEXT_ROW_MAX];
    int more = 1;
    progress_begin(&b->bar, "reading features of edges", "B", source_total(t->in));
    while (more == 1 && read_edge_row(b, t, row, width, why)) {
        progress_update(&b->bar, source_taken(t->in));
        more = text_next_line(t, why);
    }
    progress_end(&b->bar, source_taken(t->in), false);
    if (more != 0 || b->lists.rows.count == b->num_edges) return more == 0;
    return error_set(why, "%s: %lld rows for %lld edges (truncated?)", source_name(t->in), (long long)b->lists.rows.count,
                     (long long)b->num_edges);
}

static bool read_edge_lines(builder* b, text* t, int64_t num_edges, error* why)
{
    int64_t src[BATCH], dst[BATCH], count = 0;
    int more;
    progress_begin(&b->bar, "reading edges", "edges", num_edges);
    while ((more = text_next_line(t, why)) == 1) {
        int64_t* const id[2] = {&src[count], &dst[count]};
        for (int k = 0; k < 2; k++) {
            if (!text_int(t, id[k], why)) return false;
            if (*id[k] < 0 || *id[k] >= b->num_nodes) return text_fail(t, "no node of num-node-list", why);
        }
        if (!ogb_csv_end_line(t, why)) return false;
        if (++count < BATCH) continue;
        if (!builder_add_edges(b, src, dst, NULL, count, why)) return false;
        count = 0;
        progress_update(&b->bar, b->num_edges);
    }
    if (more < 0 || !builder_add_edges(b, src, dst, NULL, count, why)) return false;
    if (b->num_edges == num_edges) return true;
    return error_set(why, "%s: %lld edges, num-edge-list says %lld (truncated?)", source_name(t->in),
                     (long long)b->num_edges, (long long)num_edges);
}

static bool read_graph(builder* b, const char* in, error* why)
{
    int64_t num_nodes, num_edges;
    text t = {0}, rows = {0};
    if (!read_size(in, "raw/num-node-list", &num_nodes, why) || !read_size(in, "raw/num-edge-list", &num_edges, why))
        return false;
    builder_edges about = {num_nodes, num_edges, num_edges, false, false, false, 0, 0};
    bool ok = ogb_csv_open(&t, in, "raw/edge", true, why) && open_edge_rows(b, &rows, in, &about.width, why) &&
              builder_begin_edges(b, &about, why) && read_edge_lines(b, &t, num_edges, why);
    progress_end(&b->bar, b->num_edges, false);
    ok = ok && (!rows.in || read_edge_rows(b, &rows, about.width, why));
    ogb_csv_close(&t);
    ogb_csv_close(&rows);
    return ok && builder_end_edges(b, why);
}

/* ---- features and labels -------------------------------------------------------------------------------------- */

/* A row's fields into row, which grows while the first line is read: its length is the width. */
static bool read_first_row(text* t, float** row, int64_t* width, error* why)
{
    int64_t room = 0;
    *width = 0;
    while (text_more(t, why)) {
        double value;
        if (*width == room) {
            float* grown = memory_resize(*row, (size_t)room * sizeof **row,
                                         (size_t)(room ? 2 * room : 256) * sizeof **row, "a row of features", why);
            if (!grown) return false;
            *row = grown;
            room = room ? 2 * room : 256;
        }
        if (!text_real(t, &value, why)) return false;
        if (!isfinite((float)value)) return text_fail(t, "a feature is a finite number", why);
        (*row)[(*width)++] = (float)value;
    }
    return !why->text[0];
}

static bool read_feature_lines(builder* b, text* t, float** row, error* why)
{
    int64_t width = 0;
    int more = text_next_line(t, why);
    b->place = source_name(t->in);
    if (more == 0) return error_set(why, "%s: is empty", source_name(t->in));
    if (more < 0 || !read_first_row(t, row, &width, why)) return false;
    if (!builder_begin_features(b, width, why) || !builder_add_features(b, *row, 1, why)) return false;
    while ((more = text_next_line(t, why)) == 1) {
        if (!text_row(t, *row, width, why) || !ogb_csv_end_line(t, why) || !builder_add_features(b, *row, 1, why)) return false;
        progress_update(&b->bar, source_taken(t->in));
    }
    if (more < 0) return false;
    if (b->num_rows < b->num_nodes)
        return error_set(why, "%s: %lld rows for %lld nodes (truncated?)", source_name(t->in), (long long)b->num_rows,
                         (long long)b->num_nodes);
    return builder_end_features(b, why);
}

static bool read_features(builder* b, const void* in, error* why)
{
    text t;
    float* row = NULL;
    if (!ogb_csv_open(&t, in, "raw/node-feat", false, why)) return false;
    if (!t.in) return true;
    progress_begin(&b->bar, "reading features", "B", source_total(t.in));
    bool ok = read_feature_lines(b, &t, &row, why);
    progress_end(&b->bar, source_taken(t.in), false);
    memory_free(row);
    ogb_csv_close(&t);
    return ok;
}

static bool read_label_lines(builder* b, text* t, double* value, error* why)
{
    char where[600] = "", place[TEXT_PLACE];
    int64_t n = 0;
    int more;
    while ((more = text_next_line(t, why)) == 1) {
        if (n == b->num_nodes) return text_fail(t, "more labels than nodes", why);
        if (!text_real(t, &value[n], why)) return false;
        if (builder_no_class(value[n]) && !where[0])
            snprintf(where, sizeof where, "%s: line %lld", source_name(t->in), (long long)t->line);
        if (builder_no_label(value[n++])) return text_fail(t, BUILDER_LABEL, why);
        if (text_more(t, why)) return builder_multi_label(source_name(t->in), text_place(t, place), why);
        if (!ogb_csv_end_line(t, why)) return false;
    }
    if (more < 0) return false;
    if (n < b->num_nodes)
        return error_set(why, "%s: %lld labels for %lld nodes (truncated?)", source_name(t->in), (long long)n,
                         (long long)b->num_nodes);
    b->place = where[0] ? where : source_name(t->in);
    bool ok = builder_add_labels(b, value, why);
    b->place = source_name(t->in);
    return ok;
}

static bool read_labels(builder* b, const void* in, error* why)
{
    text t;
    if (!ogb_csv_open(&t, in, "raw/node-label", false, why)) return false;
    if (!t.in) return true;
    double* value = memory_new(memory_product((size_t)b->num_nodes, sizeof *value, 1), "labels", why);
    bool ok = value && read_label_lines(b, &t, value, why);
    memory_free(value);
    ogb_csv_close(&t);
    return ok;
}

bool read_ogb(builder* b, const char* in, error* why)
{
    return ogb_check_split(b, in, why) && read_graph(b, in, why) &&
           read_nodes(b, read_features, read_labels, ogb_read_split, in, why);
}
