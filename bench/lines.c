#include "bench/lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/csv.h"
#include "bench/read_json.h"

static const char MARK[] = "# ggnn_bench: ", FIGURES[] = "figures", END[] = "# end";

/* ==== the form ========================================================================================== */

typedef enum {
    TEXT,
    NUMBER,
    YES,     /* "true"; empty: no */
    DEMANDS, /* "copy 0;rows 512": roofs and their sizes */
    COUNT    /* of the JSON's samples, which are no part of the form; read as "sample_count" */
} cell_kind;

typedef struct {
    const char* name;
    cell_kind kind;
} column;

enum { COLUMNS = 40, HEADS = 64, FIGURE_KEYS = 4 };
typedef struct {
    const char* name;
    column column[20]; /* one without a name ends them */
} table;

static const table tables[] = {
    {"roofs", {{"name", TEXT}, {"size", NUMBER}, {"threads", NUMBER}, {"unit", TEXT}, {"value", NUMBER}, {"measured", NUMBER}}},
    {"results", {{"bench", TEXT},    {"case", TEXT},     {"threads", NUMBER}, {"rival", YES},       {"cold", YES},
                 {"unit", TEXT},     {"work", NUMBER},   {"bytes", NUMBER},   {"flops", NUMBER},    {"median", NUMBER},
                 {"least", NUMBER},  {"most", NUMBER},   {"samples", COUNT},  {"roof", TEXT},       {"roof_size", NUMBER},
                 {"share", NUMBER},  {"disturbed", YES}, {"demands", DEMANDS}}},
    {"ratios", {{"bench", TEXT}, {"case", TEXT}, {"threads", NUMBER}, {"of", TEXT}, {"ratio", NUMBER}, {"goal", NUMBER},
                {"turns", NUMBER}, {"lower", NUMBER}, {"upper", NUMBER}}},
    {"notes", {{"bench", TEXT}, {"case", TEXT}, {"threads", NUMBER}, {"name", TEXT}, {"value", NUMBER}, {"unit", TEXT}}}};
enum { TABLES = sizeof tables / sizeof *tables };

/* Figures are tables of their own: of each these four stand above, and the names are "row" and the columns'. */
static const char* const figure_key[FIGURE_KEYS] = {"bench", "case", "unit", "label"};

/* A table's place in `tables`, TABLES for figures, -1: no table. */
static int table_named(const char* name)
{
    for (int i = 0; i < TABLES; i++)
        if (strcmp(tables[i].name, name) == 0) return i;
    return strcmp(name, FIGURES) == 0 ? TABLES : -1;
}

/* ==== writing =========================================================================================== */

static void put_string(FILE* out, const char* text)
{
    fputc('"', out);
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20) fprintf(out, "\\u%04x", (unsigned)*text);
        else fprintf(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    }
    fputc('"', out);
}

/* A value on one line. */
static void put_flat(FILE* out, const char* at)
{
    bool text = false;
    for (const char* end = json_after(at); at && at < end; at++) {
        if (*at == '"') text = !text;
        if (text && *at == '\\') fputc(*at++, out);
        if (text || !strchr(" \t\r\n", *at)) fputc(*at, out);
    }
}

/* Seven digits, those before the point all; so a number that was read is written in the same way. Room for a note behind it. */
static const char* number_text(char text[64], double x)
{
    if (!isfinite(x)) return strcpy(text, "");
    snprintf(text, 40, fabs(x) >= 1e6 && fabs(x) < 1e15 ? "%.0f" : "%.7g", x);
    return text;
}

static void put_number(csv* to, const char* value)
{
    char text[64];
    csv_text(to, number_text(text, json_number(value)));
}

static void put_text(csv* to, const char* value)
{
    char text[1024];
    csv_text(to, json_copy_text(value, text, sizeof text) ? text : NULL);
}

static void put_demands(csv* to, const char* list)
{
    char text[400] = "", roof[48], size[64];
    size_t used = 0;
    for (const char* d = json_begin(list); d && used < sizeof text - 120; d = json_next(d))
        if (json_copy_text(json_member(d, "roof"), roof, sizeof roof))
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %s", used ? ";" : "", roof,
                                     number_text(size, json_number(json_member(d, "size"))));
    csv_text(to, text);
}

/* Of a run that was read from lines the number stands in place of the samples. */
static void put_count(csv* to, const char* entry)
{
    const char *samples = json_member(entry, "samples"), *count = json_member(entry, "sample_count");
    int64_t n = 0;
    for (const char* at = json_begin(samples); at; at = json_next(at)) n++;
    if (samples) csv_int(to, n);
    else put_number(to, count);
}

static void put_entry(csv* to, const table* t, const char* entry)
{
    for (const column* c = t->column; c->name; c++) {
        const char* value = json_member(entry, c->name);
        if (c->kind == TEXT) put_text(to, value);
        else if (c->kind == NUMBER) put_number(to, value);
        else if (c->kind == YES) csv_text(to, value && *value == 't' ? "true" : NULL);
        else if (c->kind == DEMANDS) put_demands(to, value);
        else put_count(to, entry);
    }
    csv_end_line(to);
}

static void put_table(csv* to, const table* t, const char* list)
{
    if (!json_begin(list)) return;
    fprintf(to->out, "# %s\n", t->name);
    for (const column* c = t->column; c->name; c++) csv_text(to, c->name);
    csv_end_line(to);
    for (const char* at = json_begin(list); at; at = json_next(at)) put_entry(to, t, at);
}

/* Figures of one table. Of one row: those of the row's name, too. */
static bool same_table(const char* one, const char* two, bool row)
{
    for (int i = 0; i < FIGURE_KEYS; i++)
        if (!json_same(json_member(one, figure_key[i]), json_member(two, figure_key[i]))) return false;
    return !row || json_same(json_member(one, "row"), json_member(two, "row"));
}

/* The figure behind the row that begins here; NULL: none. */
static const char* after_row(const char* first)
{
    const char* at = first;
    while (at && same_table(first, at, true)) at = json_next(at);
    return at;
}

static bool same_columns(const char* one, const char* two)
{
    const char *end_one = after_row(one), *end_two = after_row(two);
    if (!same_table(one, two, false)) return false;
    for (; one != end_one && two != end_two; one = json_next(one), two = json_next(two))
        if (!json_same(json_member(one, "column"), json_member(two, "column"))) return false;
    return one == end_one && two == end_two;
}

static void put_heading(csv* to, const char* first)
{
    fprintf(to->out, "# %s: [", FIGURES);
    for (int i = 0; i < FIGURE_KEYS; i++) {
        const char* value = json_member(first, figure_key[i]);
        if (i) fputc(',', to->out);
        if (value) put_flat(to->out, value);
        else fputs("null", to->out);
    }
    fputs("]\n", to->out);
    csv_text(to, "row");
    for (const char *at = first, *end = after_row(first); at != end; at = json_next(at))
        put_text(to, json_member(at, "column"));
    csv_end_line(to);
}

/* The value, and behind it the word that stands beside it. */
static void put_figure(csv* to, const char* figure)
{
    char text[64], note[16] = "";
    number_text(text, json_number(json_member(figure, "value")));
    if (json_copy_text(json_member(figure, "note"), note, sizeof note) && note[0]) strcat(strcat(text, " "), note);
    csv_text(to, text);
}

static void put_figures(csv* to, const char* list)
{
    const char* above = NULL;
    for (const char *row = json_begin(list), *end; row; above = row, row = end) {
        end = after_row(row);
        if (!above || !same_columns(above, row)) put_heading(to, row);
        put_text(to, json_member(row, "row"));
        for (const char* at = row; at != end; at = json_next(at)) put_figure(to, at);
        csv_end_line(to);
    }
}

static void put_head(FILE* out, const char* key, const char* value)
{
    fprintf(out, "# %s: ", key);
    if (value) put_flat(out, value);
    else fputs("null", out);
    fputc('\n', out);
}

/* Members that are no tables; what the run above had in the same way is left out, what it alone had is null here. */
static void put_heads(FILE* out, const char* run, const char* name, const char* before)
{
    char key[64];
    put_head(out, "ggnn_bench", json_member(run, "ggnn_bench"));
    if (name) fputs("# run: ", out), put_string(out, name), fputc('\n', out);
    for (const char* at = json_first_key(run); at; at = json_next(json_value(at)))
        if (json_copy_text(at, key, sizeof key) && table_named(key) < 0 && strcmp(key, "ggnn_bench") != 0 &&
            strcmp(key, "run") != 0 && !json_same(json_value(at), json_member(before, key)))
            put_head(out, key, json_value(at));
    for (const char* at = json_first_key(before); at; at = json_next(json_value(at)))
        if (json_copy_text(at, key, sizeof key) && table_named(key) < 0 && strcmp(key, "run") != 0 && !json_member(run, key))
            put_head(out, key, NULL);
}

void lines_write(FILE* out, const char* run, const char* name, const char* before)
{
    csv to = {.out = out};
    put_heads(out, run, name, before);
    for (int i = 0; i < TABLES; i++) put_table(&to, &tables[i], json_member(run, tables[i].name));
    put_figures(&to, json_member(run, FIGURES));
    fprintf(out, "%s\n", END);
}

/* ==== reading =========================================================================================== */

typedef struct {
    const char *key, *value;
} head;

typedef struct {
    const char* path;
    int32_t line;
    error* why;
    FILE* out;
    head head[HEADS]; /* of this run, and of those above where this one says nothing else */
    int32_t heads, runs;
    bool open;          /* between the mark and the end */
    int table;          /* -1: none; TABLES: figures */
    bool named, filled; /* the table has its line of names; its list has an entry */
    unsigned seen;      /* tables of this run, a bit each */
    const char* key[FIGURE_KEYS];
    char* column[COLUMNS];
    cell_kind kind[COLUMNS];
    int32_t columns;
} reader;

static bool bad(const reader* r, const char* value, const char* what)
{
    const char* more = strlen(value) > 56 ? "..." : "";
    return error_set(r->why, "%s: line %d: '%.56s%s': %s", r->path, (int)r->line, value, more, what);
}

/* Takes the quotes off a value, where it stands. What follows it: a comma or the line's end; NULL: a quote has no end. */
static char* unquote(char* at)
{
    char *end = at + 1, *to = at;
    for (; *end != '"' || end[1] == '"'; end += *end == '"' ? 2 : 1)
        if (!*end) return NULL;
    for (const char* from = at + 1; from < end; from += *from == '"' ? 2 : 1) *to++ = *from;
    *to = 0;
    return end + 1;
}

/* Splits a line where it stands; how many values it has, 0: r->why. */
static int32_t split(const reader* r, char* at, char* cell[COLUMNS])
{
    for (int32_t n = 0; n < COLUMNS; at++) {
        char* end = *at == '"' ? unquote(at) : at + strcspn(at, ",");
        if (!end) return bad(r, at, "a quote has no end");
        if (*end && *end != ',') return bad(r, end, "stands behind a value in quotes");
        const bool last = !*end;
        cell[n++] = at;
        *end = 0;
        at = end;
        if (last) return n;
    }
    return bad(r, cell[0], "more values than a line may have");
}

/* The end of the number that a text begins with; NULL: it begins with none that is finite. */
static char* after_number(const char* text)
{
    char* end;
    if (!strchr("-0123456789", *text)) return NULL;
    const double x = strtod(text, &end);
    return isfinite(x) && end != text && strspn(text, "-+.0123456789eE") >= (size_t)(end - text) ? end : NULL;
}

static bool read_number(const reader* r, const char* text)
{
    const char* end = after_number(text);
    if (!*text) fputs("null", r->out);
    else if (end && !*end) fputs(text, r->out);
    else return bad(r, text, "not a number");
    return true;
}

static bool read_demands(const reader* r, char* text)
{
    char* rest = text;
    bool first = true;
    fputc('[', r->out);
    for (char* one; (one = strtok_r(rest, ";", &rest)); first = false) {
        char* size = strrchr(one, ' ');
        if (!size || !size[1]) return bad(r, one, "not a roof and its size");
        *size++ = 0;
        fputs(first ? "{\"roof\":" : ",{\"roof\":", r->out);
        put_string(r->out, one);
        fputs(",\"size\":", r->out);
        if (!read_number(r, size)) return false;
        fputc('}', r->out);
    }
    fputc(']', r->out);
    return true;
}

static bool read_cell(const reader* r, cell_kind kind, char* text)
{
    if (kind == TEXT && *text) put_string(r->out, text);
    else if (kind == TEXT) fputs("null", r->out);
    else if (kind == DEMANDS) return read_demands(r, text);
    else if (kind != YES) return read_number(r, text);
    else if (*text && strcmp(text, "true") != 0) return bad(r, text, "neither true nor nothing");
    else fputs(*text ? "true" : "false", r->out);
    return true;
}

static void begin_object(reader* r)
{
    fprintf(r->out, "%s{\"line\":%d", r->filled ? "," : "", (int)r->line);
    r->filled = true;
}

static bool read_entry(reader* r, char* cell[COLUMNS])
{
    begin_object(r);
    for (int32_t i = 0; i < r->columns; i++) {
        fprintf(r->out, ",\"%s\":", r->kind[i] == COUNT ? "sample_count" : r->column[i]);
        if (!read_cell(r, r->kind[i], cell[i])) return false;
    }
    fputc('}', r->out);
    return true;
}

/* A row of figures: each an object. */
static bool read_row(reader* r, char* cell[COLUMNS])
{
    for (int32_t i = 1; i < r->columns; i++) {
        char *end = *cell[i] && *cell[i] != ' ' ? after_number(cell[i]) : cell[i], *note = end;
        if (!end || (*end && *end != ' ')) return bad(r, cell[i], "not a number, nor one with a word behind it");
        if (*end) *note++ = 0;
        begin_object(r);
        for (int k = 0; k < FIGURE_KEYS; k++) fprintf(r->out, ",\"%s\":%s", figure_key[k], r->key[k]);
        fputs(",\"row\":", r->out);
        put_string(r->out, cell[0]);
        fputs(",\"column\":", r->out);
        put_string(r->out, r->column[i]);
        fprintf(r->out, ",\"value\":%s", *cell[i] ? cell[i] : "null");
        if (*note) fputs(",\"note\":", r->out), put_string(r->out, note);
        fputc('}', r->out);
    }
    return true;
}

/* The line of names: of figures "row" and any; else columns of the table, in any order. */
static bool read_names(reader* r, char* line)
{
    r->named = true;
    r->columns = split(r, line, r->column);
    if (!r->columns) return false;
    if (r->table == TABLES)
        return (r->columns > 1 && strcmp(r->column[0], "row") == 0) ||
               bad(r, r->column[0], "figures begin with the column 'row'");
    for (int32_t i = 0; i < r->columns; i++) {
        const column* c = tables[r->table].column;
        while (c->name && strcmp(c->name, r->column[i]) != 0) c++;
        if (!c->name) return bad(r, r->column[i], "no column of this table");
        for (int32_t k = 0; k < i; k++)
            if (strcmp(r->column[k], c->name) == 0) return bad(r, c->name, "is there twice");
        r->kind[i] = c->kind;
    }
    return true;
}

static bool read_values(reader* r, char* line)
{
    char *cell[COLUMNS], text[64];
    if (r->table < 0) return bad(r, line, "stands in no table");
    if (!r->named) return read_names(r, line);
    const int32_t n = split(r, line, cell);
    if (!n) return false;
    if (n != r->columns) {
        snprintf(text, sizeof text, "%d values under %d names", (int)n, (int)r->columns);
        return bad(r, cell[0], text);
    }
    return r->table == TABLES ? read_row(r, cell) : read_entry(r, cell);
}

static void end_table(reader* r)
{
    if (r->table >= 0) fputc(']', r->out);
    r->table = -1;
}

/* "# results", and "# figures: [...]", of which there may be several in a row. */
static bool begin_table(reader* r, int which, char* value)
{
    const char* at = json_begin(value);
    if (which != TABLES || r->table != TABLES) {
        end_table(r);
        if (r->seen & 1U << which) return bad(r, which == TABLES ? FIGURES : tables[which].name, "is there twice");
        fprintf(r->out, "%s\"%s\":[", r->seen ? "," : "", which == TABLES ? FIGURES : tables[which].name);
        r->seen |= 1U << which;
        r->table = which;
        r->filled = false;
    }
    r->named = false;
    for (int i = 0; which == TABLES && i <= FIGURE_KEYS; i++, at = json_next(at)) {
        if (i < FIGURE_KEYS ? !at || *at != '"' : at != NULL)
            return bad(r, value ? value : "", "figures say their bench, case, unit and label");
        if (at) r->key[i] = at;
    }
    for (int i = 0; which == TABLES && i < FIGURE_KEYS; i++) value[json_after(r->key[i]) - value] = 0;
    return true;
}

static bool set_head(reader* r, const char* key, const char* value)
{
    int32_t i = 0;
    if (r->seen) return bad(r, key, "stands behind a table");
    while (i < r->heads && strcmp(r->head[i].key, key) != 0) i++;
    if (i == HEADS) return bad(r, key, "more heads than a file may have");
    if (i == r->heads) r->heads++;
    r->head[i] = (head){key, value};
    return true;
}

static bool begin_run(reader* r)
{
    if (r->open) return bad(r, MARK, "a run begins before the one above has its end");
    fputs(r->runs++ ? ",{" : "{", r->out);
    r->open = true;
    r->seen = 0;
    return set_head(r, "run", "null"); /* a name is of its run alone */
}

static bool end_run(reader* r)
{
    end_table(r);
    for (int32_t i = 0; i < r->heads; i++)
        fprintf(r->out, "%s\"%s\":%s", i || r->seen ? "," : "", r->head[i].key, r->head[i].value);
    fputc('}', r->out);
    r->open = false;
    return true;
}

static bool read_line(reader* r, char* line)
{
    if (strncmp(line, MARK, sizeof MARK - 1) == 0 && !begin_run(r)) return false;
    if (!r->open) return bad(r, line, "a run begins with '# ggnn_bench: 1'");
    if (strcmp(line, END) == 0) return end_run(r);
    if (*line != '#') return read_values(r, line);
    char* value = strstr(line, ": ");
    if (value) {
        *value = 0;
        value += 2;
        if (!json_whole(value)) return bad(r, value, "not a value as JSON has it");
    }
    const char* key = line + (line[1] == ' ' ? 2 : 1);
    const int which = table_named(key);
    if (!*key || key[strspn(key, "abcdefghijklmnopqrstuvwxyz_")]) return bad(r, line, "not a head: '# name: value'");
    if (which >= 0) return begin_table(r, which, value);
    return value ? set_head(r, key, value) : bad(r, line, "neither a table nor a head: '# name: value'");
}

bool lines_begin(const char* text) { return strncmp(text, MARK, sizeof MARK - 1) == 0; }

static bool read_all(reader* r, char* text)
{
    for (char* end; *text; text = end + 1) {
        r->line++;
        end = strchr(text, '\n');
        if (!end) return bad(r, text, "the line has no end: the file was cut");
        *end = 0;
        if (end > text && end[-1] == '\r') end[-1] = 0;
        if (!read_line(r, text)) return false;
    }
    return !r->open || bad(r, "", "the file ends before '# end'");
}

char* lines_read(const char* path, char* text, error* why)
{
    reader r = {.path = path, .why = why, .table = -1};
    char* json = NULL;
    size_t length = 0;
    r.out = open_memstream(&json, &length);
    if (!r.out) {
        error_set(why, "%s: out of memory", path);
        return NULL;
    }
    fputc('[', r.out);
    const bool good = read_all(&r, text);
    fputc(']', r.out);
    if (fclose(r.out) == 0 && good) return json;
    if (good) error_set(why, "%s: out of memory", path);
    free(json);
    return NULL;
}
