/* names.h - numbers for names: the first name that comes is 0, the next other one 1. Names are bytes, equal where all bytes are. */
#ifndef DATASETS_NAMES_H
#define DATASETS_NAMES_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

typedef struct {
    int64_t memory, taken; /* bytes: at most, so far */
    bool full;             /* there was no memory for a name */
    char* bytes;           /* (room) the names, one after the other */
    int64_t* at;           /* (at_room) where each begins; at[count] is the end of the last */
    uint64_t* slot;        /* (num_slots), a power of two: 16 bits of a name's hash and its number + 1; 0: empty */
    int64_t count, room, at_room, num_slots;
} names;

/* In at most memory bytes, which count those of a block that grows, old and new. names_close: harmless after a failure. */
bool names_open(names* n, int64_t memory, error* why);
void names_close(names* n);

/* The number of a name of one byte or more; -1 on failure: full, and no message, where memory is at its end. O(length). */
int64_t names_number(names* n, const char* name, int64_t length, error* why);

/* The memory that count names of so many bytes in all need, as it is counted. */
int64_t names_memory(int64_t count, int64_t bytes);
#endif
