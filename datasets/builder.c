#include "datasets/builder.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "datasets/dataset.h"
#include "datasets/writer.h"

/* Nodes that a file beside IN has: rows, or columns of splits. */
static bool ask_nodes(builder* b, const char* path, bool splits, error* why)
{
    array a = {0};
    if (!path) return true;
    if (!array_open_file(&a, path, why)) return false;
    const int64_t rows = a.h.num_dims < 1 ? -1 : a.h.shape[splits ? a.h.num_dims - 1 : 0];
    bool ok = rows > 0 || array_wrong_shape(&a, splits ? "(nodes) or (splits, nodes)" : "(nodes, ...)", why);
    ok = ok && (path != b->how->labels || builder_one_label(&a, why));
    if (ok && b->asked_nodes >= 0 && b->asked_nodes != rows)
        ok = error_set(why, "%s: %lld nodes; %s %lld", path, (long long)rows,
                       b->rows_beside ? "the other files beside IN have" : "--nodes says", (long long)b->asked_nodes);
    b->asked_nodes = rows;
    b->rows_beside = true;
    array_close(&a);
    return ok;
}

bool builder_open(builder* b, const char* in, const char* path, const convert_options* how, error* why)
{
    memset(b, 0, sizeof *b);
    b->how = how;
    b->in = in;
    b->path = path;
    b->lists.sorter.fd = -1;
    b->asked_nodes = how->num_nodes ? how->num_nodes : -1;
    if (!ask_nodes(b, how->features, false, why) || !ask_nodes(b, how->labels, false, why) || !ask_nodes(b, how->split_file, true, why))
        return false;
    return writer_begin(&b->out, path) || error_set(why, "%s", b->out.error);
}

void builder_close(builder* b)
{
    writer_end(&b->out);
    edge_lists_close(&b->lists);
    array_close(&b->edge_rows);
    memory_free(b->row);
    b->row = NULL;
}

static void* reserve(builder* b, const char* name, ggnn_file_type type, int64_t rows, int64_t columns, error* why)
{
    int64_t dim[2] = {rows, columns};
    void* section = ggnn_file_reserve(&b->out, name, type, columns < 0 ? 1 : 2, dim);
    if (!section) error_set(why, "%s", b->out.error);
    return section;
}

/* Where features, labels or splits come from. */
static const char* place_of(const builder* b) { return b->place ? b->place : b->in; }

static void say(const builder* b, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
static void say(const builder* b, const char* format, ...)
{
    va_list values;
    if (!b->how->report) return;
    va_start(values, format);
    vfprintf(b->how->report, format, values);
    va_end(values);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

typedef struct { /* where a row stands, for messages */
    const char *in, *what;
    int64_t number;
} row_place;

static bool row_fails(const row_place* at, int64_t column, float value, const char* how, error* why)
{
    return error_set(why, "%s: %s: row %lld, column %lld: %g is %s", at->in, at->what, (long long)at->number, (long long)column,
                     (double)value, how);
}

static bool check_row(const row_place* at, const float* row, int64_t width, error* why)
{
    for (int64_t j = 0; j < width; j++)
        if (!isfinite(row[j])) return row_fails(at, j, row[j], "no number to learn from", why);
    return true;
}

/* Are rows written as halves? Those that are halves stay so, exactly; a row that is normalised is none. */
static bool stays_half(const convert_options* how, bool halves, bool changed)
{
    return how->half || (halves && !changed && !how->wide);
}

/* to: (width) floats or halves. */
static bool store_row(void* to, bool halves, const row_place* at, const float* row, int64_t width, error* why)
{
    uint16_t* half = to;
    if (!halves) memcpy(to, row, (size_t)width * sizeof *row);
    for (int64_t j = 0; halves && j < width; j++) {
        half[j] = ggnn_float_to_half(row[j]);
        if ((half[j] & 0x7C00) == 0x7C00) return row_fails(at, j, row[j], "beyond fp16 (65,504)", why);
    }
    return true;
}

/* ---- edges as they are read ----------------------------------------------------------------------------------- */

static bool check_num_nodes(const builder* b, int64_t num_nodes, error* why)
{
    if (num_nodes <= (int64_t)GGNN_NODE_MAX && num_nodes < (int64_t)1 << 48) return true;
    return error_set(why, "%s: %lld nodes need %s", b->in, (long long)num_nodes,
                     sizeof(ggnn_node) == 4 ? "64-bit ids: `make NODE64=1` builds build64/ggnn-data"
                                            : "more than 48-bit ids");
}

bool builder_wants_edge_features(const builder* b) { return !b->how->edge_features && !b->how->drop_edge_features; }

bool builder_wants_features(const builder* b) { return !b->how->no_features && !b->how->features; }

bool builder_wants_labels(const builder* b) { return !b->how->labels; }

bool builder_wants_splits(const builder* b) { return !b->how->split && !b->how->split_file; }

/* The width of the edges' rows; 0: they have none; -1 on failure. */
static int64_t edge_width(builder* b, const builder_edges* about, error* why)
{
    array* a = &b->edge_rows;
    if (b->how->edge_features && !array_open_file(a, b->how->edge_features, why)) return -1;
    const int64_t width = a->in ? array_width(a) : about->width;
    if (a->in && (a->h.num_dims < 1 || a->h.num_dims > 2 || width < 1 || width > DATASET_MAX_WIDTH))
        array_wrong_shape(a, "(edges, width)", why);
    else if (width && b->how->loops == LOOPS_ADD)
        error_set(why, "%s: edges have features, and a self-loop that is added would have none: --self-loops add goes with "
                       "--drop-edge-features alone", b->in);
    else
        return width;
    return -1;
}

/* squirrel_directed.npz: is "_directed" the end of the name? */
static bool says_directed(const char* path)
{
    static const char word[] = "_directed";
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *at = strstr(name, word);
    return at && strchr(".", at[sizeof word - 1]); /* the end, or a type */
}

bool builder_begin_edges(builder* b, const builder_edges* about, error* why)
{
    const convert_options* how = b->how;
    const int64_t width = edge_width(b, about, why);
    if (width < 0) return false;
    edge_lists_options lists = {
        .in = b->in,
        .num_nodes = about->num_nodes,
        .expected = about->expected,
        .most = about->most,
        .memory = how->memory,
        .weighted = about->weighted && !how->drop_weights,
        .both = how->direction == DIRECTION_AUTO ? about->both : how->direction == DIRECTION_BOTH,
        .drop_loops = how->loops == LOOPS_AUTO ? about->drop_loops : how->loops == LOOPS_DROP,
        .add_loops = how->loops == LOOPS_ADD,
        .keep_duplicates = how->keep_duplicates,
        .width = width,
        .half = stays_half(how, b->edge_rows.in && array_halves(&b->edge_rows), false),
    };
    b->num_nodes = about->num_nodes;
    b->first = about->first;
    if (!check_num_nodes(b, b->num_nodes, why) || !edge_lists_open(&b->lists, &lists, &b->out, why)) return false;
    if (how->direction == DIRECTION_AUTO && about->both && says_directed(b->in))
        say(b, "hint       the name says directed, but this format is undirected unless asked otherwise: --directed keeps edges as they are\n");
    say(b, "takes      %s\n", b->lists.plan);
    if (how->report) fflush(how->report); /* before the work */
    b->row = memory_new(memory_product((size_t)width, sizeof(float), 1), "a row of an edge", why);
    return b->row != NULL;
}

static bool check_edge(const builder* b, int64_t edge, int64_t id, error* why)
{
    if (id >= 0 && (b->num_nodes < 0 || id < b->num_nodes)) return true;
    if (b->num_nodes < 0)
        return error_set(why, "%s: edge %lld: node id %lld is negative", b->in, (long long)edge, (long long)id);
    return error_set(why, "%s: edge %lld: node id %lld is outside [0, %lld)", b->in, (long long)edge, (long long)id,
                     (long long)b->num_nodes);
}

bool builder_add_edges(builder* b, const int64_t* src, const int64_t* dst, const float* weight, int64_t count,
                       error* why)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t e = b->num_edges + i;
        if (!check_edge(b, e, src[i], why) || !check_edge(b, e, dst[i], why)) return false;
        if (b->lists.how.weighted && !ggnn_weight_valid(weight[i]))
            return error_set(why, "%s: edge %lld: weight %g is negative or not finite (--drop-weights ignores them)",
                             b->in, (long long)e, (double)weight[i]);
    }
    b->num_edges += count;
    return edge_lists_add(&b->lists, src, dst, weight, count, why);
}

bool builder_add_edge_features(builder* b, const float* rows, int64_t count, error* why)
{
    row_place at = {b->edge_rows.in ? source_name(b->edge_rows.in) : b->in, "features of edges", b->lists.rows.count};
    const int64_t width = b->lists.how.width;
    for (int64_t i = 0; i < count; i++, at.number++) {
        const float* row = rows + i * width;
        if (!check_row(&at, row, width, why) || !store_row(b->row, b->lists.how.half, &at, row, width, why) ||
            !edge_lists_add_rows(&b->lists, b->row, 1, why))
            return false;
    }
    return true;
}

static bool add_edge_rows(void* context, const float* rows, int64_t count, error* why)
{
    return builder_add_edge_features(context, rows, count, why);
}

static bool read_edge_rows(builder* b, error* why)
{
    array* a = &b->edge_rows;
    progress_begin(&b->bar, "reading features of edges", "values", a->h.count);
    bool ok = array_rows(a, b->lists.how.memory, &b->bar, add_edge_rows, b, why);
    progress_end(&b->bar, a->h.count, false);
    return ok;
}

/* A row for each edge that was read, or none at all. */
static bool end_edge_features(builder* b, error* why)
{
    const array* a = &b->edge_rows;
    const int64_t rows = a->in ? a->h.shape[0] : b->lists.rows.count;
    if (b->lists.how.width && rows != b->num_edges)
        return error_set(why, "%s: %lld rows of features for %lld edges", a->in ? source_name(a->in) : b->in, (long long)rows,
                         (long long)b->num_edges);
    bool ok = !a->in || read_edge_rows(b, why);
    memory_free(b->row);
    b->row = NULL;
    return ok;
}

/* ---- ids ------------------------------------------------------------------------------------------------------ */

int64_t* builder_begin_ids(builder* b, error* why)
{
    b->renamed = true;
    return reserve(b, "external_id", GGNN_FILE_I64, b->num_nodes, -1, why);
}

bool builder_add_names(builder* b, const char* bytes, const int64_t* at, error* why)
{
    char* to = reserve(b, "external_name", GGNN_FILE_U8, at[b->num_nodes], -1, why);
    int64_t* ends = to ? reserve(b, "external_at", GGNN_FILE_I64, b->num_nodes + 1, -1, why) : NULL;
    if (!ends) return false;
    memcpy(to, bytes, (size_t)at[b->num_nodes]);
    memcpy(ends, at, (size_t)(b->num_nodes + 1) * sizeof *at);
    b->renamed = true;
    return true;
}

static bool write_external_ids(builder* b, error* why)
{
    const compact_map* map = &b->lists.map;
    if (!b->lists.renamed) return true;
    int64_t* external = builder_begin_ids(b, why);
    if (!external) return false;
    compact_ids(map, external);
    for (int64_t v = 0; v < b->num_nodes; v++) external[v] += b->first;
    say(b, "ids        %lld occur, from %lld to %lld: compacted in ascending order, kept as external_id\n",
        (long long)map->num_ids, (long long)(map->least + b->first), (long long)(map->largest + b->first));
    return true;
}

/* ---- lists ---------------------------------------------------------------------------------------------------- */

static const char* plural(int64_t n) { return n == 1 ? "" : "s"; }

static void report_edges(const builder* b, int64_t read, edge_counts c, int64_t written)
{
    bool add = b->lists.how.add_loops, drop = b->lists.how.drop_loops;
    int64_t dropped = b->how->keep_duplicates ? 0 : c.duplicates;
    int64_t loops_dropped = !drop ? 0 : b->how->keep_duplicates ? c.loops : c.loop_nodes;
    int64_t added = add ? b->num_nodes - c.loop_nodes : 0;
    int64_t reverse = written - (read - dropped - loops_dropped + added);
    say(b, "found      %lld edge%s on %lld nodes, %lld duplicate%s, %lld self-loop%s%s\n", (long long)read,
        plural(read), (long long)b->num_nodes, (long long)c.duplicates, plural(c.duplicates), (long long)c.loops,
        plural(c.loops), b->lists.how.weighted ? ", weights" : "");
    say(b, "changed    %lld reverse edge%s added (%s), %lld duplicate%s dropped, %lld self-loop%s %s\n",
        (long long)reverse, plural(reverse), b->lists.how.both ? "undirected" : "directed as is", (long long)dropped,
        plural(dropped),
        (long long)(add    ? added
                    : drop ? loops_dropped
                           : c.loops),
        plural(add    ? added
               : drop ? loops_dropped
                      : c.loops),
        add    ? "added"
        : drop ? "dropped"
               : "kept");
}

typedef struct {
    const ggnn_lists* lists;
    unsigned char* touched; /* a bit a node: it has an edge to another node */
    int64_t pieces;
} touch_job;

static void touch(unsigned char* touched, int64_t v)
{
    unsigned char bit = (unsigned char)(1 << v % 8);
    if (!(__atomic_load_n(&touched[v / 8], __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&touched[v / 8], bit, __ATOMIC_RELAXED);
}

static void touch_piece(void* context, int64_t piece)
{
    const touch_job* job = context;
    const ggnn_lists* l = job->lists;
    int64_t end = parallel_begin(l->num_nodes, piece + 1, job->pieces);
    for (int64_t v = parallel_begin(l->num_nodes, piece, job->pieces); v < end; v++)
        for (int64_t i = l->indptr[v]; i < l->indptr[v + 1]; i++) {
            if ((int64_t)l->indices[i] == v) continue;
            touch(job->touched, v);
            touch(job->touched, (int64_t)l->indices[i]);
        }
}

/* Nodes without an edge to another node. */
static bool count_isolated(const ggnn_lists* l, int64_t* isolated, error* why)
{
    unsigned char* touched = memory_new((size_t)(l->num_nodes / 8 + 1), "a bit a node", why);
    if (!touched) return false;
    touch_job job = {l, touched, parallel_pieces(l->num_nodes + l->num_edges, 1 << 16)};
    ggnn_parallel_for(job.pieces, touch_piece, &job);
    *isolated = l->num_nodes;
    for (int64_t v = 0; v < l->num_nodes; v++) *isolated -= touched[v / 8] >> v % 8 & 1;
    memory_free(touched);
    return true;
}

/* Sizes of lists by powers of two: how many nodes have 0, 1, 2-3, 4-7, ... in-edges. */
static bool report_graph(const builder* b, const ggnn_lists* l, error* why)
{
    int64_t count[64] = {0}, isolated, largest = 0;
    if (!count_isolated(l, &isolated, why)) return false;
    for (int64_t v = 0; v < l->num_nodes; v++) {
        int64_t degree = l->indptr[v + 1] - l->indptr[v];
        int k = 0;
        while (degree >> k) k++;
        count[k]++;
        if (degree > largest) largest = degree;
    }
    say(b, "graph      %lld nodes, %lld directed edges, %lld isolated node%s\n", (long long)l->num_nodes,
        (long long)l->num_edges, (long long)isolated, plural(isolated));
    say(b, "in-degree  mean %.2f, largest %lld; nodes by degree:",
        l->num_nodes ? (double)l->num_edges / (double)l->num_nodes : 0, (long long)largest);
    for (int k = 0; k < 63 && (int64_t)1 << k <= 2 * largest + 1; k++) {
        long long low = k ? 1LL << (k - 1) : 0, high = k ? (1LL << k) - 1 : 0;
        if (low == high)
            say(b, " %lld: %lld", low, (long long)count[k]);
        else
            say(b, ", %lld-%lld: %lld", low, high, (long long)count[k]);
        if (k == 0 && largest > 0) say(b, ",");
    }
    say(b, "\n");
    return true;
}

bool builder_end_edges(builder* b, error* why)
{
    edge_lists* l = &b->lists;
    int64_t read = b->num_edges;
    if (b->num_nodes == 0) return error_set(why, "%s: no nodes", b->in);
    if (b->num_nodes < 0 && read == 0) return error_set(why, "%s: no edges", b->in);
    if (!end_edge_features(b, why) || !edge_lists_count(l, why)) return false;
    b->num_nodes = l->lists.num_nodes;
    b->num_edges = l->lists.num_edges;
    b->indptr = l->lists.indptr;
    if (!check_num_nodes(b, b->num_nodes, why) || !edge_lists_write(l, why)) return false;
    report_edges(b, read, l->found, b->num_edges);
    if (l->how.width) say(b, "edges      features %lld wide, %s\n", (long long)l->how.width, l->how.half ? "fp16" : "fp32");
    bool good = report_graph(b, &l->lists, why) && write_external_ids(b, why);
    edge_lists_close(l); /* its memory is needed no more */
    return good;
}

/* ---- features ------------------------------------------------------------------------------------------------- */

bool builder_begin_features(builder* b, int64_t width, error* why)
{
    if (width < 1 || width > DATASET_MAX_WIDTH)
        return error_set(why, "%s: features of width %lld; 1 to %d are stored", place_of(b), (long long)width,
                         DATASET_MAX_WIDTH);
    b->width = width;
    b->num_rows = 0;
    b->half = stays_half(b->how, b->halves, b->how->row_normalise);
    b->row = memory_new(memory_product((size_t)width, sizeof(float), 1), "a row of features", why);
    b->rows =
        b->row ? reserve(b, "feat", b->half ? GGNN_FILE_F16 : GGNN_FILE_F32, b->num_nodes, width, why) : NULL;
    return b->rows != NULL;
}

/* Divides by the sum of absolute values, added in double, column after column; a row of zeros stays. */
static void normalise(float* row, int64_t width)
{
    double sum = 0;
    for (int64_t j = 0; j < width; j++) sum += fabs((double)row[j]);
    if (sum > 0)
        for (int64_t j = 0; j < width; j++) row[j] = (float)((double)row[j] / sum);
}

static bool add_row(builder* b, const float* row, error* why)
{
    const row_place at = {place_of(b), "features", b->num_rows};
    char* to = (char*)b->rows + b->num_rows * b->width * (b->half ? 2 : 4);
    if (!check_row(&at, row, b->width, why)) return false;
    memcpy(b->row, row, (size_t)b->width * sizeof *row);
    if (b->how->row_normalise) normalise(b->row, b->width);
    b->num_rows++;
    return store_row(to, b->half, &at, b->row, b->width, why);
}

bool builder_add_features(builder* b, const float* rows, int64_t count, error* why)
{
    if (count > b->num_nodes - b->num_rows)
        return error_set(why, "%s: more than %lld rows of features, one a node", place_of(b), (long long)b->num_nodes);
    for (int64_t i = 0; i < count; i++)
        if (!add_row(b, rows + i * b->width, why)) return false;
    return true;
}

bool builder_end_features(builder* b, error* why)
{
    if (b->num_rows != b->num_nodes)
        return error_set(why, "%s: %lld rows of features for %lld nodes", place_of(b), (long long)b->num_rows,
                         (long long)b->num_nodes);
    say(b, "features   %lld wide, %s%s\n", (long long)b->width, b->half ? "fp16" : "fp32",
        b->how->row_normalise ? ", rows normalised" : "");
    return true;
}

/* ---- labels and splits ---------------------------------------------------------------------------------------- */

static bool write_targets(builder* b, const double* value, error* why)
{
    int64_t unknown = 0;
    b->target = reserve(b, "label", GGNN_FILE_F32, b->num_nodes, -1, why);
    if (!b->target) return false;
    for (int64_t v = 0; v < b->num_nodes; v++) {
        b->target[v] = (float)value[v];
        unknown += isnan(value[v]);
    }
    say(b, "labels     real, %lld node%s without\n", (long long)unknown, plural(unknown));
    return true;
}

bool builder_no_label(double value) { return isinf((float)value); }

bool builder_no_class(double value)
{
    return value == floor(value) && value != -1 && (value < 0 || value >= DATASET_MAX_CLASSES);
}

bool builder_refuse_class(const char* where, int64_t node, double label, error* why)
{
    return error_set(why, "%s: label %.0f of node %lld is no class: -1 (unknown) or 0 to %d", where, label, (long long)node,
                     DATASET_MAX_CLASSES - 1);
}

bool builder_multi_label(const char* file, const char* place, error* why)
{
    return error_set(why, "%s: %s: multi-label (several labels a node): one class per node is stored", file, place);
}

bool builder_one_label(const array* a, error* why)
{
    char place[80];
    if (a->h.num_dims != 2 || a->h.shape[0] < 2 || a->h.shape[1] < 2) return true;
    snprintf(place, sizeof place, "shape (%lld, %lld)", (long long)a->h.shape[0], (long long)a->h.shape[1]);
    return builder_multi_label(source_name(a->in), place, why);
}

bool builder_add_labels(builder* b, const double* value, error* why)
{
    int64_t unknown = 0, largest = -1;
    bool real = false;
    for (int64_t v = 0; v < b->num_nodes; v++) {
        if (builder_no_label(value[v]))
            return error_set(why, "%s: element %lld: %g as a 32-bit float; " BUILDER_LABEL, place_of(b), (long long)v, (double)(float)value[v]);
        if (!isnan(value[v]) && value[v] != floor(value[v])) real = true;
    }
    if (real) return write_targets(b, value, why);
    b->label = reserve(b, "label", GGNN_FILE_I32, b->num_nodes, -1, why);
    if (!b->label) return false;
    for (int64_t v = 0; v < b->num_nodes; v++) {
        bool none = isnan(value[v]) || value[v] == -1;
        if (builder_no_class(value[v])) return builder_refuse_class(place_of(b), v, value[v], why);
        b->label[v] = none ? -1 : (int32_t)value[v];
        unknown += none;
        if (b->label[v] > largest) largest = b->label[v];
    }
    say(b, "labels     %lld classes, %lld node%s without\n", (long long)(largest + 1), (long long)unknown,
        plural(unknown));
    return true;
}

uint8_t* builder_begin_splits(builder* b, int64_t num_splits, error* why)
{
    if (num_splits < 1 || num_splits > DATASET_MAX_SPLITS) {
        error_set(why, "%s: %lld splits; 1 to %d are stored", place_of(b), (long long)num_splits, DATASET_MAX_SPLITS);
        return NULL;
    }
    b->num_splits = num_splits;
    b->split = reserve(b, "split", GGNN_FILE_U8, num_splits, b->num_nodes, why);
    return b->split;
}

bool builder_mark(builder* b, int64_t split, int64_t node, int part, error* why)
{
    static const char* const name[] = {"none", "train", "val", "test"};
    if (node < 0 || node >= b->num_nodes)
        return error_set(why, "%s: split %lld, %s: node %lld is outside [0, %lld)", place_of(b), (long long)split,
                         name[part], (long long)node, (long long)b->num_nodes);
    uint8_t* mark = &b->split[split * b->num_nodes + node];
    if (*mark && *mark != part)
        return error_set(why, "%s: split %lld: node %lld is in %s and in %s", place_of(b), (long long)split,
                         (long long)node, name[*mark], name[part]);
    *mark = (uint8_t)part;
    return true;
}

static bool has_label(const builder* b, int64_t v)
{
    return b->label ? b->label[v] >= 0 : b->target ? !isnan(b->target[v]) : true;
}

/* A node without label can be in no split: nothing is known to compare with. */
static void finish_splits(builder* b)
{
    for (int64_t s = 0; s < b->num_splits; s++) {
        int64_t count[4] = {0}, dropped = 0;
        uint8_t* mark = b->split + s * b->num_nodes;
        for (int64_t v = 0; v < b->num_nodes; v++) {
            dropped += mark[v] && !has_label(b, v);
            if (!has_label(b, v)) mark[v] = 0;
            count[mark[v]]++;
        }
        say(b, "split %-4lld train %lld, val %lld, test %lld, none %lld", (long long)s, (long long)count[SPLIT_TRAIN],
            (long long)count[SPLIT_VAL], (long long)count[SPLIT_TEST], (long long)count[0]);
        if (dropped) say(b, " (%lld taken out: no label)", (long long)dropped);
        say(b, "\n");
    }
}

/* ---- what is made up ------------------------------------------------------------------------------------------ */

/* Uniform in [-1, 1), keyed by node and column: word j % 4 of block j / 4 of the node's stream. */
static bool make_features(builder* b, error* why)
{
    ggnn_rng rng = {b->how->seed, 0, GGNN_PURPOSE_GENERATE};
    int64_t width = b->how->random_features;
    if (!builder_begin_features(b, width, why)) return false;
    float* row = memory_new(memory_product((size_t)width, sizeof *row, 1), "a row of features", why);
    bool ok = row != NULL;
    for (int64_t v = 0; v < b->num_nodes && ok; v++) {
        ggnn_words words = {{0}};
        for (int64_t j = 0; j < width; j++) {
            if (j % 4 == 0) words = ggnn_random(&rng, 0, v, (uint32_t)(j / 4));
            row[j] = 2 * ggnn_uniform(words.word[j % 4]) - 1;
        }
        ok = add_row(b, row, why);
    }
    memory_free(row);
    return ok && builder_end_features(b, why);
}

static bool make_labels(builder* b, error* why)
{
    ggnn_rng rng = {b->how->seed, 0, GGNN_PURPOSE_GENERATE};
    b->label = reserve(b, "label", GGNN_FILE_I32, b->num_nodes, -1, why);
    if (!b->label) return false;
    for (int64_t v = 0; v < b->num_nodes; v++) b->label[v] = (int32_t)ggnn_draw_below(&rng, 1, v, 0, b->how->classes);
    say(b, "labels     %lld classes, at random\n", (long long)b->how->classes);
    return true;
}

static int64_t degree(const builder* b, int64_t v) { return b->indptr[v + 1] - b->indptr[v]; }

static int64_t count_above(const builder* b, int64_t least)
{
    int64_t count = 0;
    for (int64_t v = 0; v < b->num_nodes; v++) count += has_label(b, v) && degree(b, v) > least;
    return count;
}

/* The nodes of highest in-degree, ties to the lower id: all above a threshold that bisection finds, and the first of
   those that equal it. No memory. */
static void mark_by_degree(builder* b, int64_t wanted)
{
    int64_t low = -1, high = b->num_edges; /* count_above(low) > wanted >= count_above(high), or low = -1 */
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (count_above(b, middle) > wanted)
            low = middle;
        else
            high = middle;
    }
    int64_t equal = wanted - count_above(b, high);
    for (int64_t v = 0; v < b->num_nodes; v++) {
        if (!has_label(b, v) || degree(b, v) < high || (degree(b, v) == high && equal-- <= 0)) continue;
        b->split[v] = SPLIT_TRAIN;
    }
}

/* Nodes with a label and no part yet, shuffled: the first get part first, and so on. Epochs that training
   never has. */
static void mark_at_random(builder* b, int64_t nodes, int part, const int64_t* wanted, int parts)
{
    int64_t i = 0;
    for (int64_t v = 0; v < b->num_nodes; v++) {
        if (!has_label(b, v) || b->split[v]) continue;
        int64_t place = ggnn_shuffle(b->how->seed, (1u << 30) - (uint32_t)part, i++, nodes);
        for (int k = 0; k < parts && !b->split[v]; place -= wanted[k], k++)
            if (place < wanted[k]) b->split[v] = (uint8_t)(part + k);
    }
}

static bool make_split(builder* b, error* why)
{
    int64_t labelled = 0, wanted[3];
    if (!builder_begin_splits(b, 1, why)) return false;
    for (int64_t v = 0; v < b->num_nodes; v++) labelled += has_label(b, v);
    for (int k = 0; k < 3; k++) wanted[k] = (int64_t)llround(b->how->share[k] * (double)labelled);
    if (b->how->train == TRAIN_DEGREE)
        mark_by_degree(b, wanted[0]);
    else
        mark_at_random(b, labelled, SPLIT_TRAIN, wanted, 1);
    mark_at_random(b, labelled - wanted[0], SPLIT_VAL, wanted + 1, 2);
    return true;
}

bool builder_finish(builder* b, error* why)
{
    const convert_options* how = b->how;
    if (how->random_features && b->rows)
        return error_set(why, "%s: it has features; --random-features is for graphs without", b->in);
    if (how->classes && (b->label || b->target))
        return error_set(why, "%s: it has labels; --classes is for graphs without", b->in);
    if (how->random_features && !make_features(b, why)) return false;
    if (how->classes && !make_labels(b, why)) return false;
    if (how->split && !make_split(b, why)) return false;
    if (how->no_features && !b->rows) say(b, "features   left out\n");
    finish_splits(b);
    return ggnn_file_commit(&b->out) || error_set(why, "%s", b->out.error);
}
