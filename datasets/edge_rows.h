/* edge_rows.h - what edges have beside their ends, while these are sorted: items of one size, kept in a scratch file in the
   order in which edges are read, then written in the order of the lists. */
#ifndef DATASETS_EDGE_ROWS_H
#define DATASETS_EDGE_ROWS_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

typedef struct {
    const char* path;    /* the output, beside which scratch lies */
    int64_t item, count; /* bytes of an item; items so far. item 0: not open */
    char* buffer;        /* items on their way to the disk */
    int64_t held;        /* bytes there */
    int fd;
} edge_rows;

bool edge_rows_open(edge_rows* r, const char* path, int64_t item, error* why);
void edge_rows_close(edge_rows* r); /* harmless on zeros, after a failure and after itself */

/* The items of the next count edges. */
bool edge_rows_add(edge_rows* r, const void* items, int64_t count, error* why);

/* out[i] = item number[i], i < num_out. In passes, each over all numbers, for the items that half of `memory` takes: within
   a pass items are read in any order, over all of them never. The result does not depend on memory or threads. */
bool edge_rows_place(edge_rows* r, void* out, const int64_t* number, int64_t num_out, int64_t memory, error* why);
#endif
