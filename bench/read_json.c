#include "bench/read_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 64 };

static const char* blank(const char* at) { return at ? at + strspn(at, " \t\r\n") : NULL; }

static const char* after_text(const char* at)
{
    for (at++; *at && *at != '"'; at++)
        if ((unsigned char)*at < 0x20 || (*at == '\\' && !*++at)) return NULL;
    return *at ? at + 1 : NULL;
}

static const char* after_plain(const char* at)
{
    static const char* const word[] = {"true", "false", "null"};
    char* end;
    for (int i = 0; i < 3; i++)
        if (strncmp(at, word[i], strlen(word[i])) == 0) return at + strlen(word[i]);
    if (!strchr("-0123456789", *at) || !*at) return NULL;
    strtod(at, &end);
    return end == at ? NULL : end;
}

static const char* skip(const char* at, int depth);

/* at: what follows the bracket. Members of objects are "key": value. */
static const char* after_all(const char* at, char close, int depth)
{
    at = blank(at);
    if (*at == close) return at + 1;
    for (;;) {
        if (close == '}') {
            at = *at == '"' ? blank(after_text(at)) : NULL;
            if (!at || *at != ':') return NULL;
            at = blank(at + 1);
        }
        at = blank(skip(at, depth));
        if (!at) return NULL;
        if (*at == close) return at + 1;
        if (*at != ',') return NULL;
        at = blank(at + 1);
    }
}

static const char* skip(const char* at, int depth)
{
    if (!at || depth == DEPTH) return NULL;
    if (*at == '"') return after_text(at);
    if (*at == '{' || *at == '[') return after_all(at + 1, *at == '{' ? '}' : ']', depth + 1);
    return after_plain(at);
}

const char* json_first(const char* text) { return blank(text); }
const char* json_after(const char* value) { return skip(value, 0); }

bool json_whole(const char* text)
{
    const char* end = blank(json_after(json_first(text)));
    return end && !*end;
}

const char* json_begin(const char* array)
{
    const char* at = array && *array == '[' ? blank(array + 1) : NULL;
    return at && *at != ']' ? at : NULL;
}

const char* json_next(const char* element)
{
    const char* at = blank(json_after(element));
    return at && *at == ',' ? blank(at + 1) : NULL;
}

const char* json_first_key(const char* object)
{
    const char* at = object && *object == '{' ? blank(object + 1) : NULL;
    return at && *at == '"' ? at : NULL;
}

const char* json_value(const char* key)
{
    const char* at = key && *key == '"' ? blank(after_text(key)) : NULL;
    return at && *at == ':' ? blank(at + 1) : NULL;
}

const char* json_member(const char* object, const char* key)
{
    for (const char* at = json_first_key(object); at && *at == '"'; at = json_next(json_value(at)))
        if (json_is_text(at, key)) return json_value(at);
    return NULL;
}

bool json_is_text(const char* value, const char* text)
{
    size_t length = strlen(text);
    return value && *value == '"' && strncmp(value + 1, text, length) == 0 && value[length + 1] == '"';
}

bool json_same(const char* one, const char* two)
{
    const size_t a = one ? (size_t)(json_after(one) - one) : 0, b = two ? (size_t)(json_after(two) - two) : 0;
    return a == b && (!a || memcmp(one, two, a) == 0);
}

bool json_copy_text(const char* value, char* text, size_t size)
{
    const char* end = value && *value == '"' ? json_after(value) : NULL;
    size_t used = 0;
    text[0] = 0;
    if (!end) return false;
    for (const char* at = value + 1; at < end - 1; at++) {
        if (used + 1 >= size) return false;
        if (*at == '\\' && strchr("\"\\/", at[1])) at++;
        text[used++] = *at;
        text[used] = 0;
    }
    return true;
}

double json_number(const char* value)
{
    return value && (*value == '-' || (*value >= '0' && *value <= '9')) ? strtod(value, NULL) : NAN;
}
