/* lines_read.c - a run's lines as the JSON that they were made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/lines.h"
#include "bench/lines_form.h"
#include "bench/read_json.h"

enum { COLUMNS = 40, HEADS = 64 }; /* of a line; of a file */

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
        lines_put_string(r->out, one);
        fputs(",\"size\":", r->out);
        if (!read_number(r, size)) return false;
        fputc('}', r->out);
    }
    fputc(']', r->out);
    return true;
}

static bool read_cell(const reader* r, cell_kind kind, char* text)
{
    if (kind == TEXT && *text) lines_put_string(r->out, text);
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

/* The object whose members are columns; null where all of them are empty. */
static bool read_inner(reader* r, char* cell[COLUMNS])
{
    int32_t columns = 0, filled = 0, members = 0;
    for (int32_t i = 0; i < r->columns; i++) {
        columns += lines_inner_name(r->column[i]) != NULL;
        filled += lines_inner_name(r->column[i]) && *cell[i];
    }
    if (columns) fprintf(r->out, ",\"%s\":%s", LINES_INNER, filled ? "{" : "null");
    for (int32_t i = 0; filled && i < r->columns; i++) {
        const char* name = lines_inner_name(r->column[i]);
        if (!name) continue;
        fprintf(r->out, "%s\"%s\":", members++ ? "," : "", name);
        if (!read_cell(r, r->kind[i], cell[i])) return false;
    }
    if (filled) fputc('}', r->out);
    return true;
}

static bool read_entry(reader* r, char* cell[COLUMNS])
{
    begin_object(r);
    for (int32_t i = 0; i < r->columns; i++) {
        if (lines_inner_name(r->column[i])) continue;
        fprintf(r->out, ",\"%s\":", r->kind[i] == COUNT ? "sample_count" : r->column[i]);
        if (!read_cell(r, r->kind[i], cell[i])) return false;
    }
    if (!read_inner(r, cell)) return false;
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
        for (int k = 0; k < FIGURE_KEYS; k++) fprintf(r->out, ",\"%s\":%s", lines_figure_key[k], r->key[k]);
        fputs(",\"row\":", r->out);
        lines_put_string(r->out, cell[0]);
        fputs(",\"column\":", r->out);
        lines_put_string(r->out, r->column[i]);
        fprintf(r->out, ",\"value\":%s", *cell[i] ? cell[i] : "null");
        if (*note) fputs(",\"note\":", r->out), lines_put_string(r->out, note);
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
        const column* c = lines_table[r->table].column;
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
        if (r->seen & 1U << which) return bad(r, which == TABLES ? LINES_FIGURES : lines_table[which].name, "is there twice");
        fprintf(r->out, "%s\"%s\":[", r->seen ? "," : "", which == TABLES ? LINES_FIGURES : lines_table[which].name);
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
    if (r->open) return bad(r, LINES_MARK, "a run begins before the one above has its end");
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
    if (strncmp(line, LINES_MARK, sizeof LINES_MARK - 1) == 0 && !begin_run(r)) return false;
    if (!r->open) return bad(r, line, "a run begins with '# ggnn_bench: 1'");
    if (strcmp(line, LINES_END) == 0) return end_run(r);
    if (*line != '#') return read_values(r, line);
    char* value = strstr(line, ": ");
    if (value) {
        *value = 0;
        value += 2;
        if (!json_whole(value)) return bad(r, value, "not a value as JSON has it");
    }
    const char* key = line + (line[1] == ' ' ? 2 : 1);
    const int which = lines_table_named(key);
    if (!*key || key[strspn(key, "abcdefghijklmnopqrstuvwxyz_")]) return bad(r, line, "not a head: '# name: value'");
    if (which >= 0) return begin_table(r, which, value);
    return value ? set_head(r, key, value) : bad(r, line, "neither a table nor a head: '# name: value'");
}

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
