/* compact.h - sparse ids made dense: of the ids that occur, the i-th smallest becomes i. */
#ifndef DATASETS_COMPACT_H
#define DATASETS_COMPACT_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "datasets/ggnn_file.h"

typedef struct {
    ggnn_file_scratch table; /* what the lookup reads; which of the two it is depends on the ids alone */
    bool by_bits;            /* a bit an id with running counts, 16 bytes for 64 ids; else the sorted ids */
    int64_t num_ids;         /* distinct ones */
    int64_t least, largest;
} compact_map;

/* Makes the map of the ids in a and b, (count) each, all >= 0. Its memory is scratch beside that file, at most 32
   bytes an element. by_bits where ids are dense enough: then a lookup is two reads; else sorted in O(count * bytes of
   the largest) and looked up by bisection. The same numbers either way; force_sort is for the test that compares
   them. */
bool compact_make(compact_map* m, const int64_t* a, const int64_t* b, int64_t count, bool force_sort,
                  const char* beside, error* why);

/* The dense number of an id that is in the map; O(1) or O(log num_ids). */
int64_t compact_rank(const compact_map* m, int64_t id);

/* The ids in ascending order: external[i] is the id whose number is i. */
void compact_ids(const compact_map* m, int64_t* external);

void compact_close(compact_map* m); /* harmless after a failure and after itself */
#endif
