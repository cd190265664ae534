/* error.h - one error message, filled where a thing fails and printed once, by main(). */
#ifndef COMMON_ERROR_H
#define COMMON_ERROR_H
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char text[640]; /* empty: no error yet; names file, place and value; no newline or other control character */
} error;

/* Formats the message unless one is set already (the first cause is kept), and makes it printable (printable.h); of one
   that is too long, as a long path makes it, the middle is left out (of more than 8,191 bytes the end, too). Always returns
   false, so that a function which fails says `return error_set(why, "%s: line %lld: ...", ...);`. */
bool error_set(error* why, const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

#ifdef __cplusplus
}
#endif
#endif
