/* standard.h - standard input, output and error: open, so that no file takes their place, and written. */
#ifndef COMMON_STANDARD_H
#define COMMON_STANDARD_H
#include <stdbool.h>

#include "common/error.h"

/* What every main does first. A program may be started with descriptor 0, 1 or 2 closed; the next file that it opens
   would get that number, and what is printed would end up in the file. Each one that is closed is opened on /dev/null,
   the wrong way round: to read or print there fails, as on a closed one. Where that is not possible, ends the program
   with status 1. */
void standard_open(void);

/* Writes what standard output holds back. False, with the reason, where something could not be written since the
   program began: a full disk, a closed descriptor. */
bool standard_flush(error* why);
#endif
