/* lines_form.h - what lines.c writes and lines_read.c reads: tables, their columns, and the words around them. */
#ifndef BENCH_LINES_FORM_H
#define BENCH_LINES_FORM_H
#include <stdio.h>

#define LINES_MARK "# ggnn_bench: "
#define LINES_END "# end"
#define LINES_FIGURES "figures"

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

enum { FIGURE_KEYS = 4, TABLES = 4 };
typedef struct {
    const char* name;
    column column[28]; /* one without a name ends them */
} table;

extern const table lines_table[TABLES];

/* Figures are tables of their own: of each these four stand above, and the names are "row" and the columns'. */
extern const char* const lines_figure_key[FIGURE_KEYS];

/* What a column "in_turns.share" is called within the entry's object of that name; NULL: the column is the entry's own. Such
   columns stand only where an entry of the table has the object. */
#define LINES_INNER "in_turns"
const char* lines_inner_name(const char* name);

/* A table's place in lines_table, TABLES for figures, -1: no table. */
int lines_table_named(const char* name);

void lines_put_string(FILE* out, const char* text); /* as JSON has it */
#endif
