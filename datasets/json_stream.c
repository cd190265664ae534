#include "datasets/json_stream.h"

#include <stdio.h>
#include <string.h>

#include "common/printable.h"

bool json_stream_open(json_stream* j, const char* path, error* why)
{
    memset(j, 0, sizeof *j);
    source* in = source_open(path, why);
    if (in && text_open(&j->t, in, "", why)) return true;
    source_close(in);
    j->t.in = NULL;
    return false;
}

void json_stream_close(json_stream* j)
{
    text_close(&j->t);
    source_close(j->t.in);
    j->t.in = NULL;
}

bool json_stream_fail(const json_stream* j, const char* what, error* why) { return text_fail(&j->t, what, why); }

static int refuse(const json_stream* j, const char* what, error* why)
{
    json_stream_fail(j, what, why);
    return -1;
}

/* To the next byte that is no blank. */
static bool to_byte(json_stream* j, error* why)
{
    int more = text_next_byte(&j->t, why);
    if (more == 0) j->t.field = j->t.at;
    return more == 1 || (more == 0 && json_stream_fail(j, "the JSON text ends too early", why));
}

static bool take(json_stream* j, char c, const char* what, error* why)
{
    if (!to_byte(j, why)) return false;
    if (*j->t.at != c) return json_stream_fail(j, what, why);
    j->t.at++;
    return true;
}

/* To the first byte of a value. */
static bool to_value(json_stream* j, error* why)
{
    if (j->colon && !take(j, ':', "':' is expected behind a key", why)) return false;
    j->colon = false;
    return to_byte(j, why);
}

char json_stream_peek(json_stream* j, error* why)
{
    if (to_value(j, why) && !*j->t.at) json_stream_fail(j, "a zero byte", why);
    return why->text[0] ? 0 : *j->t.at;
}

bool json_stream_begin(json_stream* j, char bracket, error* why)
{
    if (!to_value(j, why) || !take(j, bracket, bracket == '{' ? "an object {...} is expected" : "an array [...] is expected", why))
        return false;
    return j->first = true;
}

/* Past a comma, unless none has to stand there: 1; past the bracket that ends it all: 0. */
static int next_part(json_stream* j, char end, error* why)
{
    const bool first = j->first;
    j->first = false;
    if (!to_byte(j, why)) return -1;
    const bool ends = *j->t.at == end;
    if (!ends && first) return 1;
    if (!ends && *j->t.at != ',') return refuse(j, end == '}' ? "',' or '}' is expected" : "',' or ']' is expected", why);
    j->t.at++;
    return !ends;
}

int json_stream_element(json_stream* j, error* why) { return next_part(j, ']', why); }

/* ---- keys ----------------------------------------------------------------------------------------------------- */

static const char* take_hex(const char* p, uint32_t* code)
{
    static const char digits[] = "0123456789abcdef";
    *code = 0;
    for (int i = 0; i < 4; i++) {
        const char* found = *p ? strchr(digits, *p >= 'A' && *p <= 'F' ? *p + ('a' - 'A') : *p) : NULL;
        if (!found) return NULL;
        *code = *code << 4 | (uint32_t)(found - digits);
        p++;
    }
    return p;
}

static char* put_utf8(char* to, uint32_t code)
{
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3; /* bytes behind the first */
    static const unsigned char mark[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (char)(mark[more] | code >> 6 * more);
    for (int i = more; i-- > 0;) *to++ = (char)(0x80 | (code >> 6 * i & 0x3F));
    return to;
}

/* What stands behind a backslash, to *to; NULL where it is no escape of JSON's, half a pair of surrogates, or a zero byte. */
static const char* take_escape(const char* p, char** to)
{
    static const char escape[] = "\"\\/bfnrt", byte[] = "\"\\/\b\f\n\r\t";
    const char* found = *p ? strchr(escape, *p) : NULL;
    uint32_t code, low;
    if (found) *(*to)++ = byte[found - escape];
    if (found) return p + 1;
    if (*p != 'u' || !(p = take_hex(p + 1, &code)) || code == 0 || code >> 10 == 0xDC00 >> 10) return NULL;
    if (code >> 10 == 0xD800 >> 10) {
        if (p[0] != '\\' || p[1] != 'u' || !(p = take_hex(p + 2, &low)) || low >> 10 != 0xDC00 >> 10) return NULL;
        code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
    }
    *to = put_utf8(*to, code);
    return p;
}

/* The string at t->at, which lies in the buffer as far as it may go. */
static bool take_string(json_stream* j, char* to, error* why)
{
    const char *begin = j->t.at, *p = begin + 1;
    while (*p != '"') {
        if (p >= j->t.end) return json_stream_fail(j, "the JSON text ends in a string", why);
        if (p - begin > JSON_STREAM_KEY) return json_stream_fail(j, "a key of more than 240 bytes", why);
        if ((unsigned char)*p < 0x20) return json_stream_fail(j, "a control character in a string", why);
        const int length = utf8_length(p);
        if (!length) return json_stream_fail(j, "no UTF-8", why);
        if (*p == '\\') {
            if (!(p = take_escape(p + 1, &to))) return json_stream_fail(j, "no escape of JSON", why);
        } else {
            memcpy(to, p, (size_t)length);
            to += length;
            p += length;
        }
    }
    *to = 0;
    j->t.at = p + 1;
    return true;
}

int json_stream_key(json_stream* j, char key[JSON_STREAM_KEY + 4], error* why)
{
    int more = next_part(j, '}', why);
    if (more < 1) return more;
    if (!to_byte(j, why)) return -1;
    if (*j->t.at != '"') return refuse(j, "a key, in quotes, is expected", why);
    if (!take_string(j, key, why)) return -1;
    return j->colon = true;
}

/* ---- numbers -------------------------------------------------------------------------------------------------- */

bool json_stream_int(json_stream* j, int64_t* value, error* why)
{
    if (!to_value(j, why)) return false;
    const char *digits = j->t.at + (*j->t.at == '-'), *end;
    uint64_t n;
    if (*digits < '0' || *digits > '9') return json_stream_fail(j, "a whole number is expected", why);
    if (!(end = text_digits(digits, &n))) return json_stream_fail(j, "does not fit 64 bits", why);
    if (*digits == '0' && end > digits + 1) return json_stream_fail(j, "no number of JSON: it begins with 0", why);
    if (*end == '.' || *end == 'e' || *end == 'E') return json_stream_fail(j, "no whole number", why);
    if (!strchr(" \t\r\n,]}", *end)) return json_stream_fail(j, "no number", why);
    *value = digits > j->t.at ? -(int64_t)n : (int64_t)n;
    j->t.at = end;
    return true;
}

bool json_stream_end(json_stream* j, error* why)
{
    int more = text_next_byte(&j->t, why);
    return more == 0 || (more == 1 && json_stream_fail(j, "more behind the end of the JSON text", why));
}
