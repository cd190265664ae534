#include "text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

enum { BUFFER_BYTES = 256 << 10, LOOKAHEAD = TEXT_FIELD_MAX + 2 };

/* ---- the window on the stream --------------------------------------------------------------------------------- */

bool text_open(text* t, source* in, const char* comments, error* why)
{
    *t = (text){.in = in, .comments = comments, .line = 1};
    t->buffer = memory_new(BUFFER_BYTES + 1, "a text buffer", why);
    if (!t->buffer) return false;
    t->at = t->end = t->field = t->buffer;
    t->buffer[0] = '\n';
    return true;
}

void text_close(text* t)
{
    memory_free(t->buffer);
    t->buffer = NULL;
}

/* Sees to it that bytes lie in the buffer from t->at on, or all there are. The newline behind the last byte ends
   loops over bytes without a test for the end of the buffer. */
static bool look_ahead(text* t, int64_t bytes, error* why)
{
    int64_t kept = t->end - t->at;
    if (kept >= bytes || t->over) return true;
    t->dropped += t->at - t->buffer;
    memmove(t->buffer, t->at, (size_t)kept);
    int64_t got = source_read(t->in, t->buffer + kept, BUFFER_BYTES - kept, why);
    if (got < 0) return false;
    t->over = got < BUFFER_BYTES - kept;
    t->at = t->field = t->buffer;
    t->end = t->buffer + kept + got;
    t->buffer[kept + got] = '\n';
    return true;
}

static int64_t offset(const text* t, const char* at) { return t->dropped + (at - t->buffer); }

const char* text_place(const text* t, char out[TEXT_PLACE])
{
    snprintf(out, TEXT_PLACE, "line %lld, byte %lld", (long long)t->line,
             (long long)(offset(t, t->field) - t->line_at + 1));
    return out;
}

bool text_fail(const text* t, const char* what, error* why)
{
    char shown[48], place[TEXT_PLACE];
    int n = 0;
    for (const char* p = t->field; p < t->end && n < 40 && *p != '\n' && *p != '\r' && *p != ','; p++)
        shown[n++] = *p >= ' ' && *p <= '~' ? *p : '?';
    shown[n] = 0;
    return error_set(why, "%s: %s: %s: \"%s\"", source_name(t->in), text_place(t, place), what, shown);
}

/* ---- lines ---------------------------------------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool is_comment(const text* t) { return *t->at && strchr(t->comments, *t->at); }

/* To the byte after the next newline, or to the end. */
static bool skip_line(text* t, error* why)
{
    for (;;) {
        const char* newline = memchr(t->at, '\n', (size_t)(t->end - t->at));
        t->at = newline ? newline + 1 : t->end;
        if (newline) break;
        if (t->over) return true;
        if (!look_ahead(t, LOOKAHEAD, why)) return false;
    }
    t->after_field = false;
    t->line++;
    t->line_at = offset(t, t->at);
    return true;
}

/* tab: set where one is among them; NULL: nobody asks. */
static bool skip_and_see(text* t, bool* tab, error* why)
{
    for (;;) {
        for (; is_blank(*t->at); t->at++)
            if (tab && *t->at == '\t') *tab = true;
        if (t->end - t->at >= LOOKAHEAD || t->over) return true;
        if (!look_ahead(t, LOOKAHEAD, why)) return false;
        if (!is_blank(*t->at)) return true;
    }
}

static bool skip_blanks(text* t, error* why) { return skip_and_see(t, NULL, why); }

static bool start(text* t, error* why)
{
    if (t->started) return true;
    t->started = true;
    if (!look_ahead(t, LOOKAHEAD, why)) return false;
    if (t->end - t->at >= 3 && memcmp(t->at, "\xEF\xBB\xBF", 3) == 0)
        t->at += 3; /* the mark that Windows puts before UTF-8 */
    return true;
}

int text_next_byte(text* t, error* why)
{
    if (!start(t, why)) return -1;
    for (;;) {
        if (!skip_blanks(t, why)) return -1;
        if (t->at == t->end) return 0;
        t->field = t->at;
        if (*t->at != '\n' && !is_comment(t)) return 1;
        if (!skip_line(t, why)) return -1;
    }
}

int text_next_line(text* t, error* why)
{
    bool first = !t->started;
    if (!start(t, why) || (!first && !skip_line(t, why))) return -1;
    return text_next_byte(t, why);
}

bool text_first_comment(text* t, char* out, int bytes, error* why)
{
    int n = 0;
    if (!start(t, why)) return false;
    if (t->at < t->end && is_comment(t))
        while (n < bytes - 1 && n < t->end - t->at && t->at[n] != '\n' && t->at[n] != '\r') {
            out[n] = t->at[n];
            n++;
        }
    out[n] = 0;
    t->started = false; /* the line is yet to be read */
    return true;
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

/* To the next field's first byte, past the comma that ends the one before. Fields stay in the buffer until the next
   call, so that text_fail can show them. */
static bool to_field(text* t, error* why)
{
    if (!skip_blanks(t, why)) return false;
    if (t->after_field && *t->at == ',') {
        t->at++;
        if (!skip_blanks(t, why)) return false;
    }
    t->after_field = false;
    t->field = t->at;
    return true;
}

bool text_more(text* t, error* why) { return skip_blanks(t, why) && *t->at != '\n'; }

bool text_columns(text* t, int most, int* columns, error* why)
{
    *columns = 0;
    if (!look_ahead(t, (int64_t)(most + 1) * LOOKAHEAD, why)) return false;
    for (const char* p = t->at; *p != '\n' && *columns <= most; ++*columns) {
        while (!is_blank(*p) && *p != ',' && *p != '\n') p++;
        while (is_blank(*p)) p++;
        if (*p == ',') p++;
        while (is_blank(*p)) p++;
    }
    return true;
}

bool text_width(text* t, int* columns, error* why)
{
    if (!text_columns(t, TEXT_ROW_MAX, columns, why)) return false;
    return *columns <= TEXT_ROW_MAX || text_fail(t, "more than 900 columns (--edge-features takes wider rows)", why);
}

bool text_is_word(text* t, error* why)
{
    if (!to_field(t, why)) return false;
    char c = *t->at == '-' || *t->at == '+' ? t->at[1] : *t->at;
    return c != '\n' && c != ',' && c != '.' && !(c >= '0' && c <= '9');
}

static bool begin_field(text* t, error* why)
{
    if (!to_field(t, why)) return false;
    return *t->at != '\n' || text_fail(t, "the line ends, a number is expected", why);
}

static bool end_field(text* t, const char* p, error* why)
{
    if (p - t->field > TEXT_FIELD_MAX) return text_fail(t, "too long for a number", why);
    if (p == t->field && *p == ',') return text_fail(t, "an empty field", why);
    if (p == t->field || (!is_blank(*p) && *p != ',' && *p != '\n')) return text_fail(t, "no number", why);
    t->at = p;
    t->after_field = true;
    return true;
}

const char* text_digits(const char* p, uint64_t* n)
{
    for (*n = 0; *p >= '0' && *p <= '9'; p++) {
        if (*n > (uint64_t)INT64_MAX / 10) return NULL;
        *n = *n * 10 + (uint64_t)(*p - '0');
    }
    return *n <= (uint64_t)INT64_MAX ? p : NULL;
}

bool text_int(text* t, int64_t* value, error* why)
{
    if (!begin_field(t, why)) return false;
    const char* p = t->at;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+') p++;
    const char* digits = p;
    uint64_t n;
    if (!(p = text_digits(p, &n))) return text_fail(t, "does not fit 64 bits", why);
    if (*p == '.' || *p == 'e' || *p == 'E') return text_fail(t, "no integer", why);
    if (p == digits) p = t->field;
    *value = negative ? -(int64_t)n : (int64_t)n;
    return end_field(t, p, why);
}

/* Up to 19 digits and a power of ten that is exact as a double make one rounding (Clinger 1990); the rest is
   strtod's. */
static const char* parse_fast(const char* p, double* value)
{
    static const double power[] = {1,    1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    bool negative = *p == '-';
    uint64_t n = 0;
    int digits = 0, point = 0, exponent = 0;
    if (*p == '-' || *p == '+') p++;
    for (; *p >= '0' && *p <= '9' && digits < 20; p++, digits++) n = n * 10 + (uint64_t)(*p - '0');
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9' && digits < 20; p++, digits++, point++) n = n * 10 + (uint64_t)(*p - '0');
    if (digits == 0 || digits > 19 || n > (uint64_t)1 << 53) return NULL;
    if (*p == 'e' || *p == 'E') {
        bool down = p[1] == '-';
        p += p[1] == '-' || p[1] == '+' ? 2 : 1;
        if (*p < '0' || *p > '9') return NULL;
        for (; *p >= '0' && *p <= '9'; p++)
            if (exponent < 1000) exponent = exponent * 10 + (*p - '0');
        if (down) exponent = -exponent;
    }
    exponent -= point;
    if (exponent < -22 || exponent > 22) return NULL;
    double real = exponent < 0 ? (double)n / power[-exponent] : (double)n * power[exponent];
    *value = negative ? -real : real;
    return p;
}

/* What strtod reads beyond decimal numbers (hexadecimal ones, nan(1), space in front) is no number here. It stops at
   the newline behind the buffer at the latest. */
static const char* parse_slow(const char* p, double* value)
{
    const char* first = *p == '-' || *p == '+' ? p + 1 : p;
    char* end;
    if (!*first || !strchr("0123456789.iInN", *first) || (first[1] | 32) == 'x') return p;
    *value = strtod(p, &end);
    return end > p && end[-1] == ')' ? p : end;
}

bool text_real(text* t, double* value, error* why)
{
    if (!begin_field(t, why)) return false;
    const char* p = parse_fast(t->at, value);
    return end_field(t, p ? p : parse_slow(t->at, value), why);
}

bool text_skip(text* t, error* why)
{
    if (!begin_field(t, why)) return false;
    const char* p = t->at;
    while (!is_blank(*p) && *p != ',' && *p != '\n') p++;
    if (p - t->field > TEXT_FIELD_MAX) return text_fail(t, "too long", why);
    t->at = p;
    t->after_field = true;
    return true;
}

bool text_separator(text* t, char* kind, error* why)
{
    bool tab = false;
    if (!skip_and_see(t, &tab, why)) return false;
    *kind = *t->at == ',' || *t->at == '\n' ? *t->at : tab ? '\t' : ' ';
    return true;
}

bool text_row(text* t, float* row, int64_t count, error* why)
{
    for (int64_t j = 0; j < count; j++) {
        double value;
        if (!text_real(t, &value, why)) return false;
        row[j] = (float)value;
        if (!isfinite(row[j])) return text_fail(t, "a feature is a finite number", why);
    }
    return true;
}
