/* json.h - writes JSON as it goes: no tree, no allocation. Indented for people, or on one line for logs. */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH = 32 };
typedef struct {
    FILE* out;
    bool indent; /* a member of an object a line; arrays of plain values stay on one line */
    int depth;
    struct {
        bool array, broken; /* broken: it holds objects or arrays, so that its end gets a line */
        int64_t count;
    } level[JSON_DEPTH];
} json;

void json_start(json* j, FILE* out, bool indent);

/* key: the member's name within an object; NULL within an array and for the outermost value. The line's end follows
   the end of the outermost value. */
void json_begin_object(json* j, const char* key);
void json_end_object(json* j);
void json_begin_array(json* j, const char* key);
void json_end_array(json* j);
void json_string(json* j, const char* key,
                 const char* value); /* UTF-8; bytes that are not become U+FFFD; NULL: null */
void json_int(json* j, const char* key, int64_t value);
void json_real(json* j, const char* key, double value); /* shortest text that reads back equal; not finite: null */
const char* json_real_text(char text[40], double value); /* that text; value is finite */
void json_float(json* j, const char* key, float value); /* the same as a float: 0.1 and not 0.10000000149 */
void json_bool(json* j, const char* key, bool value);
void json_null(json* j, const char* key);
#endif
