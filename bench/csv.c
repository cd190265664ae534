#include "bench/csv.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/json.h"

static void next(csv* c)
{
    if (c->begun) fputc(',', c->out);
    c->begun = true;
}

void csv_text(csv* c, const char* text)
{
    next(c);
    if (!text) return;
    const bool quoted = text[strcspn(text, ",\"\r\n")] != 0 || *text == '#'; /* which begins what is no line of values */
    if (quoted) fputc('"', c->out);
    for (; *text; text++) {
        if (*text == '"') fputc('"', c->out);
        fputc(*text, c->out);
    }
    if (quoted) fputc('"', c->out);
}

void csv_int(csv* c, int64_t value)
{
    next(c);
    fprintf(c->out, "%" PRId64, value);
}

void csv_real(csv* c, double value)
{
    char text[40];
    next(c);
    if (isfinite(value)) fputs(json_real_text(text, value), c->out);
}

void csv_bool(csv* c, bool value)
{
    next(c);
    fputs(value ? "true" : "false", c->out);
}

void csv_end_line(csv* c)
{
    fputc('\n', c->out);
    c->begun = false;
}
