/* text.h - the one tokenizer of all text formats: lines of fields, separated by spaces, tabs or one comma. Lines that
   are empty, or begin with one of the comment characters, are skipped. Errors name file, line, byte column and text.
   Memory: one fixed buffer, whatever the length of lines; a field has at most TEXT_FIELD_MAX bytes. */
#ifndef DATASETS_TEXT_H
#define DATASETS_TEXT_H
#include <stdbool.h>
#include <stdint.h>

#include "source.h"

enum { TEXT_FIELD_MAX = 256, TEXT_ROW_MAX = 900 };

typedef struct {
    source* in;
    const char* comments; /* characters that begin a comment line; "" for none */
    char* buffer;
    const char* at;    /* next byte */
    const char* end;   /* one past the last byte read; a newline stands there */
    int64_t line;      /* from 1 */
    int64_t dropped;   /* bytes of the stream that have left the buffer */
    int64_t line_at;   /* stream offset of the line's first byte */
    const char* field; /* the last field's first byte, before one is read the line's, for text_fail */
    bool after_field;  /* a comma here ends the field before it */
    bool started;      /* in a line; the first text_next_line stays on line 1 */
    bool over;         /* the stream's end is in the buffer */
} text;

/* The stream stays the caller's. text_close frees the buffer; harmless on a failed open. */
bool text_open(text* t, source* in, const char* comments, error* why);
void text_close(text* t);

/* Moves to the next line that has a field: 1; 0 at the end; -1 on failure. The rest of the current line
   is skipped. */
int text_next_line(text* t, error* why);

/* For grammars that lines do not bound: past blanks, ends of lines and comments to the next byte, t->at. It and
   TEXT_FIELD_MAX bytes more lie there, or all there are; behind the last one stands a newline. Returns as text_next_line. */
int text_next_byte(text* t, error* why);

/* The first byte of the comment the stream begins with, at most bytes - 1 of it and a final zero; "" where line 1 is
   none. Call it before text_next_line. */
bool text_first_comment(text* t, char* out, int bytes, error* why);

/* Whether the line has another field. A comma with nothing after it is a field (an empty one, no number). */
bool text_more(text* t, error* why);

/* The line's next field. text_int: decimal, an optional sign, within int64. text_real: decimal or nan or inf, rounded
   to the nearest double. Both fail on an empty field, trailing letters, and at the end of the line. */
bool text_int(text* t, int64_t* value, error* why);
bool text_real(text* t, double* value, error* why);
bool text_skip(text* t, error* why); /* of at most TEXT_FIELD_MAX bytes, maybe none: [field, at) until the next call */

/* What stands behind the field that was read: ',', '\t' (also among blanks), ' ', or '\n' where it was the last. */
bool text_separator(text* t, char* kind, error* why);

/* How many fields the line has, seen from its first; most + 1 where there are more. most: at most TEXT_ROW_MAX. Nothing is
   consumed. text_width: fails beyond TEXT_ROW_MAX. */
bool text_columns(text* t, int most, int* columns, error* why);
bool text_width(text* t, int* columns, error* why);

/* The line's next count fields, of features: finite as floats. */
bool text_row(text* t, float* row, int64_t count, error* why);

/* Whether the next field is no number (a header's name): nothing is consumed. */
bool text_is_word(text* t, error* why);

/* The end of the decimal digits at p, which are no more than a line; NULL where their number does not fit int64. */
const char* text_digits(const char* p, uint64_t* n);

/* Sets "FILE: line L, byte B: WHAT: "the last field"" and returns false; the first where none of the line was read.
   text_place: "line L, byte B" alone. */
bool text_fail(const text* t, const char* what, error* why);
enum { TEXT_PLACE = 60 };
const char* text_place(const text* t, char out[TEXT_PLACE]);
#endif
