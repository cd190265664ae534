#include "bench/lines_form.h"

#include <string.h>

const table lines_table[TABLES] = {
    {"roofs", {{"name", TEXT}, {"size", NUMBER}, {"threads", NUMBER}, {"unit", TEXT}, {"value", NUMBER}, {"measured", NUMBER}}},
    {"results", {{"bench", TEXT},    {"case", TEXT},     {"threads", NUMBER}, {"rival", YES},       {"cold", YES},
                 {"unit", TEXT},     {"work", NUMBER},   {"bytes", NUMBER},   {"flops", NUMBER},    {"median", NUMBER},
                 {"least", NUMBER},  {"most", NUMBER},   {"samples", COUNT},  {"roof", TEXT},       {"roof_size", NUMBER},
                 {"share", NUMBER},  {"disturbed", YES}, {"demands", DEMANDS},
                 {"in_turns.roof", TEXT},    {"in_turns.roof_size", NUMBER}, {"in_turns.share", NUMBER},
                 {"in_turns.lower", NUMBER}, {"in_turns.upper", NUMBER},     {"in_turns.turns", NUMBER},
                 {"in_turns.thrown", NUMBER}}},
    {"ratios", {{"bench", TEXT}, {"case", TEXT}, {"threads", NUMBER}, {"of", TEXT}, {"ratio", NUMBER}, {"goal", NUMBER},
                {"turns", NUMBER}, {"lower", NUMBER}, {"upper", NUMBER}}},
    {"notes", {{"bench", TEXT}, {"case", TEXT}, {"threads", NUMBER}, {"name", TEXT}, {"value", NUMBER}, {"unit", TEXT}}}};

const char* const lines_figure_key[FIGURE_KEYS] = {"bench", "case", "unit", "label"};

const char* lines_inner_name(const char* name)
{
    static const char begin[] = LINES_INNER ".";
    return strncmp(name, begin, sizeof begin - 1) == 0 ? name + sizeof begin - 1 : NULL;
}

int lines_table_named(const char* name)
{
    for (int i = 0; i < TABLES; i++)
        if (strcmp(lines_table[i].name, name) == 0) return i;
    return strcmp(name, LINES_FIGURES) == 0 ? TABLES : -1;
}

void lines_put_string(FILE* out, const char* text)
{
    fputc('"', out);
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20) fprintf(out, "\\u%04x", (unsigned)*text);
        else fprintf(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    }
    fputc('"', out);
}
