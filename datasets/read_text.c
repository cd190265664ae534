/* Graphs as lists of edges in text: plain lists (CSV, TSV, spaces), SNAP, KONECT, Matrix Market. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "datasets/readers.h"
#include "datasets/text.h"

enum { BATCH = 4096, HEAD_BYTES = 256, ROWS = 1 << 16 }; /* ROWS: values of a batch's rows at most */

typedef enum { EXTRA_FORBIDDEN, EXTRA_IGNORED } extra_columns;

typedef struct {       /* how a line is read: u v [weight] [features ...] [...] */
    int64_t base;      /* of the ids: 0 or 1 */
    int64_t num_nodes; /* ids are below base + this; -1: any */
    bool weighted;
    int width;           /* columns of features */
    extra_columns extra; /* columns after the last one that is read */
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

static bool read_id(text* t, const edge_format* f, int64_t* id, error* why)
{
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
    if (!read_id(t, f, &batch->src[i], why) || !read_id(t, f, &batch->dst[i], why)) return false;
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

/* A first line of names is skipped: src,dst or source,target,weight. Other words are ids that nobody can number; columns of
   features, and those that are not read, may be called anything. */
static bool skip_header(const builder* b, text* t, const char* in, error* why)
{
    static const int known[] = {TEXT_ROW_MAX, 2, 3, 2, 3}; /* by convert_columns: how many have names from above */
    if (!text_is_word(t, why)) return !why->text[0];
    int column = 0;
    do {
        if (!text_skip(t, why)) return false;
        if (column++ < known[b->how->columns] && !is_column_name(t)) return text_fail(t, "neither a number nor a column's name such as src, dst, weight", why);
    } while (text_more(t, why));
    if (why->text[0]) return false;
    int more = text_next_line(t, why);
    if (more == 0) error_set(why, "%s: holds no edge", in);
    return more == 1;
}

static int64_t asked_nodes(const builder* b) { return b->how->num_nodes ? b->how->num_nodes : -1; }

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

bool read_edges(builder* b, const char* in, error* why)
{
    text t;
    char head[HEAD_BYTES];
    edge_format f = {0, asked_nodes(b), false, 0, EXTRA_FORBIDDEN};
    if (!open_text(&t, in, "#%", head, why)) return false;
    bool ok = skip_header(b, &t, in, why) && (b->how->columns ? choose_columns(b, &t, &f, why) : usual_columns(&t, &f, why)) &&
              read_list(b, &t, &f, false, why);
    close_text(&t);
    return ok;
}

bool read_snap(builder* b, const char* in, error* why)
{
    text t;
    char head[HEAD_BYTES];
    edge_format f = {0, asked_nodes(b), false, 0, EXTRA_IGNORED};
    if (!open_text(&t, in, "#", head, why)) return false;
    bool ok = skip_header(b, &t, in, why) && choose_columns(b, &t, &f, why) && read_list(b, &t, &f, false, why);
    close_text(&t);
    return ok;
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
    edge_format f = {1, asked_nodes(b), strstr(weights, "weighted") && strcmp(weights, "unweighted") && columns > 2, 0,
                     EXTRA_IGNORED};
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
    edge_format f = {1, nodes, !h->pattern, 0, EXTRA_FORBIDDEN};
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
