#include "bench/lines.h"

#include <math.h>
#include <string.h>

#include "bench/csv.h"
#include "bench/lines_form.h"
#include "bench/read_json.h"

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

static bool has_inner(const char* list)
{
    for (const char* at = json_begin(list); at; at = json_next(at))
        if (json_first_key(json_member(at, LINES_INNER))) return true;
    return false;
}

static const char* value_of(const char* entry, const char* name)
{
    const char* inner = lines_inner_name(name);
    return inner ? json_member(json_member(entry, LINES_INNER), inner) : json_member(entry, name);
}

static void put_entry(csv* to, const table* t, const char* entry, bool inner)
{
    for (const column* c = t->column; c->name; c++) {
        const char* value = value_of(entry, c->name);
        if (!inner && lines_inner_name(c->name)) continue;
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
    const bool inner = has_inner(list);
    if (!json_begin(list)) return;
    fprintf(to->out, "# %s\n", t->name);
    for (const column* c = t->column; c->name; c++)
        if (inner || !lines_inner_name(c->name)) csv_text(to, c->name);
    csv_end_line(to);
    for (const char* at = json_begin(list); at; at = json_next(at)) put_entry(to, t, at, inner);
}

/* Figures of one table. Of one row: those of the row's name, too. */
static bool same_table(const char* one, const char* two, bool row)
{
    for (int i = 0; i < FIGURE_KEYS; i++)
        if (!json_same(json_member(one, lines_figure_key[i]), json_member(two, lines_figure_key[i]))) return false;
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
    fprintf(to->out, "# %s: [", LINES_FIGURES);
    for (int i = 0; i < FIGURE_KEYS; i++) {
        const char* value = json_member(first, lines_figure_key[i]);
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
    if (name) fputs("# run: ", out), lines_put_string(out, name), fputc('\n', out);
    for (const char* at = json_first_key(run); at; at = json_next(json_value(at)))
        if (json_copy_text(at, key, sizeof key) && lines_table_named(key) < 0 && strcmp(key, "ggnn_bench") != 0 &&
            strcmp(key, "run") != 0 && !json_same(json_value(at), json_member(before, key)))
            put_head(out, key, json_value(at));
    for (const char* at = json_first_key(before); at; at = json_next(json_value(at)))
        if (json_copy_text(at, key, sizeof key) && lines_table_named(key) < 0 && strcmp(key, "run") != 0 && !json_member(run, key))
            put_head(out, key, NULL);
}

void lines_write(FILE* out, const char* run, const char* name, const char* before)
{
    csv to = {.out = out};
    put_heads(out, run, name, before);
    for (int i = 0; i < TABLES; i++) put_table(&to, &lines_table[i], json_member(run, lines_table[i].name));
    put_figures(&to, json_member(run, LINES_FIGURES));
    fprintf(out, "%s\n", LINES_END);
}

bool lines_begin(const char* text) { return strncmp(text, LINES_MARK, sizeof LINES_MARK - 1) == 0; }
