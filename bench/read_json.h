/* read_json.h - finds its way in a JSON text by skipping: no tree, no allocation. A place is a pointer to the
   first character of a value; NULL stands for "not there" or "malformed" and is passed on. */
#ifndef BENCH_READ_JSON_H
#define BENCH_READ_JSON_H
#include <stdbool.h>
#include <stddef.h>

const char* json_first(const char* text);  /* the text's value */
const char* json_after(const char* value); /* just past a value; NULL where it is malformed */
const char* json_member(const char* object, const char* key); /* NULL: none, or no object */
const char* json_begin(const char* array);                    /* its first element; NULL: none, or no array */
const char* json_next(const char* element);                   /* the one after; NULL at the end */
const char* json_first_key(const char* object);               /* its first member's name; NULL: none, or no object */
const char* json_value(const char* key);                      /* that member's value; json_next of that: the next one's name */
bool json_is_text(const char* value, const char* text);
/* \uXXXX stays as it stands. False: no text, or it does not fit. */
bool json_copy_text(const char* value, char* text, size_t size);
double json_number(const char* value); /* NaN: null or no number */
bool json_same(const char* one, const char* two); /* the same characters, or both NULL */
bool json_whole(const char* text);     /* one well-formed value and nothing more */
#endif
