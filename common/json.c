#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/printable.h"

void json_start(json* j, FILE* out, bool indent)
{
    memset(j, 0, sizeof *j);
    j->out = out;
    j->indent = indent;
}

static void put_string(json* j, const char* text)
{
    fputc('"', j->out);
    for (const char* p = text; *p;) {
        int length = utf8_length(p);
        if (length == 0)
            fputs("\\ufffd", j->out);
        else if (*p == '"' || *p == '\\')
            fprintf(j->out, "\\%c", *p);
        else if (*p == '\n')
            fputs("\\n", j->out);
        else if (*p == '\t')
            fputs("\\t", j->out);
        else if ((unsigned char)*p < 0x20 || *p == 0x7F)
            fprintf(j->out, "\\u%04x", *p);
        else
            fwrite(p, 1, (size_t)length, j->out);
        p += length ? length : 1;
    }
    fputc('"', j->out);
}

static void new_line(json* j)
{
    fputc('\n', j->out);
    for (int i = 0; i < j->depth; i++) fputs("  ", j->out);
}

/* What stands before a value: comma, line, key. */
static void before(json* j, const char* key, bool opens)
{
    if (j->depth > 0) {
        bool array = j->level[j->depth - 1].array, first = j->level[j->depth - 1].count++ == 0;
        bool line = j->indent && (!array || opens);
        if (!first) fputs(line || !j->indent ? "," : ", ", j->out);
        if (line) new_line(j);
        if (line) j->level[j->depth - 1].broken = true;
    }
    if (key) {
        put_string(j, key);
        fputs(j->indent ? ": " : ":", j->out);
    }
}

static void begin(json* j, const char* key, bool array)
{
    before(j, key, true);
    fputc(array ? '[' : '{', j->out);
    if (j->depth == JSON_DEPTH) abort(); /* no schema of ours is half as deep */
    j->level[j->depth].array = array;
    j->level[j->depth].broken = false;
    j->level[j->depth].count = 0;
    j->depth++;
}

static void end(json* j, bool array)
{
    bool broken = j->level[--j->depth].broken;
    if (broken) new_line(j);
    fputc(array ? ']' : '}', j->out);
    if (j->depth == 0) fputc('\n', j->out);
}

void json_begin_object(json* j, const char* key) { begin(j, key, false); }
void json_end_object(json* j) { end(j, false); }
void json_begin_array(json* j, const char* key) { begin(j, key, true); }
void json_end_array(json* j) { end(j, true); }

void json_string(json* j, const char* key, const char* value)
{
    before(j, key, false);
    if (value)
        put_string(j, value);
    else
        fputs("null", j->out);
}

void json_int(json* j, const char* key, int64_t value)
{
    before(j, key, false);
    fprintf(j->out, "%" PRId64, value);
}

const char* json_real_text(char text[40], double value)
{
    int digits = 1;
    do snprintf(text, 40, "%.*g", digits, value);
    while (digits++ < 17 && strtod(text, NULL) != value);
    return text;
}

void json_real(json* j, const char* key, double value)
{
    char text[40];
    before(j, key, false);
    fputs(isfinite(value) ? json_real_text(text, value) : "null", j->out);
}

void json_float(json* j, const char* key, float value)
{
    char text[40];
    int digits = 1;
    before(j, key, false);
    do snprintf(text, sizeof text, "%.*g", digits, (double)value);
    while (digits++ < 9 && strtof(text, NULL) != value);
    fputs(isfinite(value) ? text : "null", j->out);
}

void json_bool(json* j, const char* key, bool value)
{
    before(j, key, false);
    fputs(value ? "true" : "false", j->out);
}

void json_null(json* j, const char* key)
{
    before(j, key, false);
    fputs("null", j->out);
}
