/* printable.h - text of strangers (names, arguments, what a file holds), made safe for a terminal. */
#ifndef COMMON_PRINTABLE_H
#define COMMON_PRINTABLE_H
#include <stddef.h>
#include <stdio.h>

/* Copies text into out (size bytes, the closing zero included), which is returned. Control characters and bytes that
   are not UTF-8 become \x1b and the like; all else stays. Text that does not fit is cut between characters. error_set
   does this to whole messages; text printed by other ways passes through here. */
const char* printable(char* out, size_t size, const char* text);

/* Prints a word as a POSIX shell takes it: in quotes where it is not plain. */
void printable_word(FILE* out, const char* word);

/* Length of the well-formed UTF-8 sequence at p, 0 where there is none (RFC 3629: no surrogates, nothing
   overlong). */
int utf8_length(const char* p);
#endif
