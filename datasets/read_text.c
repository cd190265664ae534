/* Graphs as lists of edges in text: plain lists (CSV, TSV, spaces), SNAP, KONECT, Matrix Market. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "common/resources.h"
#include "datasets/dataset.h"
#include "datasets/names.h"
#include "datasets/readers.h"
#include "datasets/text.h"

enum { BATCH = 4096, HEAD_BYTES = 256, ROWS = 1 << 16 }; /* ROWS: values of a batch's rows at most */

typedef enum { EXTRA_FORBIDDEN, EXTRA_IGNORED } extra_columns;

typedef struct {
    names table;
    char separator; /* what stands behind a source: as in the first line; 0: that is yet to be read */
} named;

typedef struct {       /* how a line is read: u v [weight] [features ...] [...] */
    int64_t base;      /* of the ids: 0 or 1 */
    int64_t num_nodes; /* ids are below base + this; -1: any */
    bool weighted;
    int width;           /* columns of features */
    extra_columns extra; /* columns after the last one that is read */
    named* names;        /* NULL: ids are numbers */
} edge_format;

typedef struct {
    int64_t src[BATCH], dst[BATCH];
    float weight[BATCH];
    float* rows;         /* (room, width) */
    int64_t count, room; /* edges; at most */
    bool extra_seen;
} edge_batch;

static bool flush(builder* b, edge_batch* batch, const edge_format* f, error* why)
{
    bool ok = builder_add_edges(b, batch->src, batch->dst, f->weighted ? batch->weight : NULL, batch->count, why) &&
              (!f->width || builder_add_edge_features(b, batch->rows, batch->count, why));
    batch->count = 0;
    return ok;
}

/* What the names of the whole list take if it goes on as it began, and as much for edges. */
static bool too_many_names(const text* t, const named* n, error* why)
{
    const int64_t length = source_length(t->in), read = length < 0 ? source_taken(t->in) : t->line_at + 1; /* of gzip a buffer too many */
    const double part = (double)read / (double)(length < 0 ? source_total(t->in) : length), count = (double)(n->table.count + 1) / part;
    const int64_t all = names_memory((int64_t)count, (int64_t)((double)(n->table.at[n->table.count] + TEXT_FIELD_MAX) / part));
    char has[24], memory[24], needs[24];
    return error_set(why, "%s: line %lld: %lld names and one more take more than %s, half of --memory %s; %.0f %% of the list is read, and as many "
                          "in the rest fit --memory %s", source_name(t->in), (long long)t->line, (long long)n->table.count,
                     resources_bytes(has, n->table.memory), resources_bytes(memory, 2 * n->table.memory), 100 * part,
                     resources_bytes(needs, 2 * all));
}

/* Fields have one separator in all lines: with two kinds of them, one may be part of a name. */
static bool check_separator(text* t, named* n, bool last, error* why)
{
    char kind;
    if (!text_separator(t, &kind, why)) return false;
    if (!n->separator && kind != '\n') n->separator = kind;
    if (kind == n->separator || (last && kind == '\n')) return true;
    return text_fail(t, kind == '\n' ? "the line ends, a name is expected" : n->separator == ',' ? "commas separate names here, and a name has no blank in it"
                     : n->separator == '\t' ? "tabs separate names here, and a name has no blank or comma in it"
                                            : "blanks separate names here, and a name has no tab or comma in it", why);
}

static bool read_name(text* t, named* n, int64_t* id, bool last, error* why)
{
    if (!text_skip(t, why)) return false;
    if (!dataset_is_name(t->field, t->at - t->field))
        return text_fail(t, "a name is not empty, begins with no # or %, and has no quotes and control characters", why);
    *id = names_number(&n->table, t->field, t->at - t->field, why);
    if (*id < 0) return n->table.full ? too_many_names(t, n, why) : false;
    return check_separator(t, n, last, why);
}

static bool read_id(text* t, const edge_format* f, int64_t* id, bool last, error* why)
{
    if (f->names) return read_name(t, f->names, id, last, why);
    if (!text_int(t, id, why)) return false;
    if (*id < f->base) return text_fail(t, f->base ? "ids begin at 1" : "a negative id", why);
    *id -= f->base;
    if (f->num_nodes < 0 || *id < f->num_nodes) return true;
    char what[80];
    snprintf(what, sizeof what, "id is outside [%lld, %lld]", (long long)f->base,
             (long long)(f->num_nodes - 1 + f->base));
    return text_fail(t, what, why);
}

static bool read_weight(builder* b, text* t, float* weight, error* why)
{
    double value;
    if (b->how->drop_weights) return text_skip(t, why);
    if (!text_real(t, &value, why)) return false;
    *weight = (float)value;
    return (*weight >= 0 && isfinite(*weight)) ||
           text_fail(t, "a weight is >= 0 and finite (--drop-weights ignores them)", why);
}

static bool read_edge(builder* b, text* t, const edge_format* f, edge_batch* batch, error* why)
{
    int64_t i = batch->count;
    if (!read_id(t, f, &batch->src[i], false, why) || !read_id(t, f, &batch->dst[i], true, why)) return false;
    if (f->weighted && !read_weight(b, t, &batch->weight[i], why)) return false;
    if (!text_row(t, batch->rows + i * f->width, f->width, why)) return false;
    if (text_more(t, why)) {
        double ignored;
        if (f->extra == EXTRA_FORBIDDEN && text_real(t, &ignored, why))
            return text_fail(t, "more columns than in the first line", why);
        if (f->extra == EXTRA_FORBIDDEN) return false;
        batch->extra_seen = true;
    }
    batch->count++;
    return !why->text[0];
}

/* Reads edges from the current line to the end. */
static bool read_batches(builder* b, text* t, const edge_format* f, edge_batch* batch, error* why)
{
    int more = 1;
    progress_begin(&b->bar, "reading edges", "B", source_total(t->in));
    while (more == 1 && read_edge(b, t, f, batch, why)) {
        if (batch->count == batch->room && !flush(b, batch, f, why)) break;
        if (batch->count == 0) progress_update(&b->bar, source_taken(t->in));
        more = text_next_line(t, why);
    }
    bool ok = more == 0 && flush(b, batch, f, why);
    progress_end(&b->bar, source_taken(t->in), false);
    if (ok && batch->extra_seen && b->how->report)
        fprintf(b->how->report, "columns    those after the %s are not read\n", f->weighted ? "third" : "second");
    return ok;
}

static bool read_lines(builder* b, text* t, const edge_format* f, error* why)
{
    edge_batch* batch = memory_new(sizeof *batch, "a batch of edges", why);
    if (!batch) return false;
    batch->room = f->width > ROWS / BATCH ? ROWS / f->width : BATCH;
    batch->rows = memory_new((size_t)batch->room * (size_t)f->width * sizeof(float), "rows of edges", why);
    bool ok = batch->rows && read_batches(b, t, f, batch, why);
    memory_free(batch->rows);
    memory_free(batch);
    return ok;
}

/* A line takes about 12 bytes, and 6 more for each feature, of which gzip leaves about a third; it has 4 and 2 at least, of
   which deflate cannot leave less than one in 1,032. */
static void guess_edges(builder_edges* about, const text* t)
{
    int64_t bytes = source_total(t->in), half = 2 + about->width; /* of what a line has at least */
    bool packed = source_length(t->in) < 0;
    about->expected = bytes / (half * (packed ? 2 : 6)) + 1;
    about->most = packed ? bytes * 516 / half + 1 : bytes / (2 * half) + 1;
}

static bool read_list(builder* b, text* t, const edge_format* f, bool both, error* why)
{
    builder_edges about = {f->num_nodes, 0, 0, f->weighted, both, false, f->base, f->width};
    guess_edges(&about, t);
    return builder_begin_edges(b, &about, why) && read_lines(b, t, f, why) && builder_end_edges(b, why);
}

/* Opens in and moves to the first line with fields. */
static bool open_text(text* t, const char* in, const char* comments, char head[HEAD_BYTES], error* why)
{
    memset(t, 0, sizeof *t);
    source* s = source_open(in, why);
    if (!s) return false;
    if (text_open(t, s, comments, why) && text_first_comment(t, head, HEAD_BYTES, why)) {
        int more = text_next_line(t, why);
        if (more == 0) error_set(why, "%s: holds no edge", in);
        if (more == 1) return true;
    }
    text_close(t);
    source_close(s);
    t->in = NULL;
    return false;
}

static void close_text(text* t)
{
    source* s = t->in;
    text_close(t);
    source_close(s);
}

/* ---- plain lists ---------------------------------------------------------------------------------------------- */

/* What the columns of edges are called, without capitals, quotes, digits, '_' and '-': id_1, "Source", FromNodeId. */
#define COLUMN_NAMES                                                                                              \
    "src|source|sourceid|srcid|from|fromid|fromnode|fromnodeid|head|start|row|u|i|dst|dest|destination|target|" \
    "targetid|dstid|tgt|to|toid|tonode|tonodeid|tail|end|col|column|v|j|node|nodeid|vertex|id|numericid|"        \
    "weight|weights|w|value"

static bool is_column_name(const text* t)
{
    char name[32];
    size_t length = 0;
    for (const char* p = t->field; p < t->at && length + 1 < sizeof name; p++)
        if (!strchr("\"'_-0123456789", *p)) name[length++] = (char)tolower((unsigned char)*p);
    name[length] = 0;
    return length > 0 && length + 1 < sizeof name && options_choice(COLUMN_NAMES, name) >= 0;
}

/* Of a line that begins with a word: columns of features, and those that are not read, may be called anything. */
static bool check_columns(const builder* b, text* t, error* why)
{
    static const int known[] = {TEXT_ROW_MAX, 2, 3, 2, 3}; /* by convert_columns: how many have names from above */
    int column = 0;
    do {
        if (!text_skip(t, why)) return false;
        if (column++ < known[b->how->columns] && !is_column_name(t))
            return text_fail(t, "neither a number nor a column's name such as src, dst, weight (--header yes: line 1 is none of the edges; "
                                "--ids names: ids are text)", why);
    } while (text_more(t, why));
    return !why->text[0];
}

/* A first line of columns' names is skipped: src,dst or source,target,weight. What looks so may be an edge between names, and
   what does not may be a header: there the user says which (convert.c). */
static bool skip_header(const builder* b, text* t, const char* in, error* why)
{
    if (b->how->ids == IDS_NAMES) t->comments = ""; /* a line further down that begins with # is no comment, but a wrong name */
    if (b->how->header == HEADER_NO) return true;
    if (b->how->header == HEADER_AUTO && (!text_is_word(t, why) || !check_columns(b, t, why))) return !why->text[0];
    int more = text_next_line(t, why);
    if (more == 0) error_set(why, "%s: holds no edge", in);
    return more == 1;
}

/* What the user says of the columns behind source and target, by the first line that has them. */
static bool choose_columns(const builder* b, text* t, edge_format* f, error* why)
{
    const convert_columns how = b->how->columns;
    int columns;
    if (how == COLUMNS_AUTO) return true;
    if (!text_width(t, &columns, why)) return false;
    f->weighted = how == COLUMNS_WEIGHT || how == COLUMNS_WEIGHT_FEATURES;
    f->extra = EXTRA_IGNORED;
    if (how == COLUMNS_NONE || how == COLUMNS_WEIGHT) return true;
    f->width = columns - 2 - f->weighted;
    f->extra = EXTRA_FORBIDDEN;
    return f->width > 0 || text_fail(t, f->weighted ? "source, target, a weight and features are expected"
                                                    : "source, target and features are expected", why);
}

/* Two or three columns: what others are must be said. */
static bool usual_columns(text* t, edge_format* f, error* why)
{
    int columns;
    if (!text_columns(t, 3, &columns, why)) return false;
    if (columns < 2) return text_fail(t, "source and target are expected", why);
    f->weighted = columns == 3;
    return columns <= 3 || text_fail(t, "source, target and a weight are expected, not more (--edge-columns says what they are)", why);
}

/* The list from its first line on; usual: columns are what is usual for a plain list. */
static bool read_plain_lines(builder* b, text* t, const char* in, edge_format* f, bool usual, error* why)
{
    return skip_header(b, t, in, why) && (usual && !b->how->columns ? usual_columns(t, f, why) : choose_columns(b, t, f, why)) &&
           read_list(b, t, f, false, why);
}

static bool read_named_lines(builder* b, text* t, const char* in, edge_format* f, bool usual, error* why)
{
    named n = {.separator = 0};
    f->names = &n;
    bool ok = names_open(&n.table, resources_memory_or(b->how->memory) / 2, why) && read_plain_lines(b, t, in, f, usual, why) &&
              builder_add_names(b, n.table.bytes, n.table.at, why);
    if (ok && b->how->report) fprintf(b->how->report, "names      %lld, numbered as they come, kept as external_name\n", (long long)n.table.count);
    names_close(&n.table);
    return ok;
}

static bool read_plain(builder* b, const char* in, const char* comments, edge_format f, bool usual, error* why)
{
    text t;
    char head[HEAD_BYTES];
    if (!open_text(&t, in, comments, head, why)) return false;
    bool ok = (b->how->ids == IDS_NAMES ? read_named_lines : read_plain_lines)(b, &t, in, &f, usual, why);
    close_text(&t);
    return ok;
}

bool read_edges(builder* b, const char* in, error* why)
{
    return read_plain(b, in, "#%", (edge_format){.num_nodes = b->asked_nodes, .extra = EXTRA_FORBIDDEN}, true, why);
}

bool read_snap(builder* b, const char* in, error* why)
{
    return read_plain(b, in, "#", (edge_format){.num_nodes = b->asked_nodes, .extra = EXTRA_IGNORED}, false, why);
}

/* ---- KONECT --------------------------------------------------------------------------------------------------- */

/* The first line is "% FORMAT WEIGHTS": sym, asym or bip; unweighted, positive (counts of parallel edges),
   posweighted, weighted, signed, ... Columns of unweighted lists are all 1; those of positive ones are repeated lines
   or counts. */
bool read_konect(builder* b, const char* in, error* why)
{
    text t;
    char head[HEAD_BYTES], format[32] = "", weights[32] = "";
    if (!open_text(&t, in, "%", head, why)) return false;
    sscanf(head, "%% %31s %31s", format, weights);
    int columns = 0;
    bool ok = text_columns(&t, 3, &columns, why), known = !strcmp(format, "sym") || !strcmp(format, "asym");
    if (ok && !strcmp(format, "bip"))
        ok = error_set(why, "%s: bipartite: its two sides have ids of their own, which would be mixed up", in);
    else if (ok && !known)
        ok = error_set(
            why, "%s: line 1 is %s%.40s%s; KONECT's is \"%% sym|asym WEIGHTS\" (--from edges reads plain lists)", in,
            head[0] ? "\"" : "", head[0] ? head : "no comment", head[0] ? "\"" : "");
    edge_format f = {1, b->asked_nodes, strstr(weights, "weighted") && strcmp(weights, "unweighted") && columns > 2, 0,
                     EXTRA_IGNORED, NULL};
    ok = ok && choose_columns(b, &t, &f, why) && read_list(b, &t, &f, !strcmp(format, "sym"), why);
    close_text(&t);
    return ok;
}

/* ---- Matrix Market -------------------------------------------------------------------------------------------- */

typedef struct {
    bool pattern, symmetric;
} mtx_header;

static void to_lower(char* word) /* the banner's words may have capitals */
{
    for (; *word; word++) *word = (char)tolower((unsigned char)*word);
}

static bool parse_banner(mtx_header* h, const char* head, const char* in, error* why)
{
    char object[32] = "", layout[32] = "", field[32] = "", symmetry[32] = "";
    sscanf(head, "%%%%MatrixMarket %31s %31s %31s %31s", object, layout, field, symmetry);
    to_lower(object);
    to_lower(layout);
    to_lower(field);
    to_lower(symmetry);
    h->pattern = !strcmp(field, "pattern");
    h->symmetric = !strcmp(symmetry, "symmetric");
    if (!strcmp(object, "matrix") && !strcmp(layout, "coordinate") &&
        (h->pattern || !strcmp(field, "real") || !strcmp(field, "integer")) &&
        (h->symmetric || !strcmp(symmetry, "general")))
        return true;
    return error_set(why,
                     "%s: line 1 is %s%.80s%s; \"%%%%MatrixMarket matrix coordinate pattern|real|integer "
                     "general|symmetric\" is read",
                     in, head[0] ? "\"" : "", head[0] ? head : "no banner", head[0] ? "\"" : "");
}

static bool read_sizes(text* t, const char* in, int64_t* nodes, int64_t* entries, error* why)
{
    int64_t columns;
    if (!text_int(t, nodes, why) || !text_int(t, &columns, why) || !text_int(t, entries, why)) return false;
    if (text_more(t, why)) return text_skip(t, why) && text_fail(t, "rows, columns and entries are expected, not more", why);
    if (why->text[0]) return false;
    if (*nodes != columns)
        return error_set(why, "%s: a matrix of %lld by %lld is no graph", in, (long long)*nodes, (long long)columns);
    if (*nodes < 1 || *entries < 0)
        return error_set(why, "%s: %lld nodes, %lld entries", in, (long long)*nodes, (long long)*entries);
    return true;
}

static bool read_entries(builder* b, text* t, const char* in, const mtx_header* h, error* why)
{
    int64_t nodes, entries;
    if (!read_sizes(t, in, &nodes, &entries, why)) return false;
    edge_format f = {1, nodes, !h->pattern, 0, EXTRA_FORBIDDEN, NULL};
    builder_edges about = {nodes, entries, entries, f.weighted, h->symmetric, false, 0, 0};
    int more = text_next_line(t, why);
    if (more < 0 || !builder_begin_edges(b, &about, why) || (more == 1 && !read_lines(b, t, &f, why))) return false;
    if (b->num_edges != entries)
        return error_set(why, "%s: %lld entries, its header says %lld (truncated?)", in, (long long)b->num_edges,
                         (long long)entries);
    return builder_end_edges(b, why);
}

bool read_mtx(builder* b, const char* in, error* why)
{
    text t;
    char head[HEAD_BYTES];
    mtx_header h;
    if (!open_text(&t, in, "%", head, why)) return false;
    bool ok = parse_banner(&h, head, in, why) && read_entries(b, &t, in, &h, why);
    close_text(&t);
    return ok;
}
