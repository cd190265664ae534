/* compact.h - sparse ids made dense: of the ids that occur, the i-th smallest becomes i. */
#ifndef DATASETS_COMPACT_H
#define DATASETS_COMPACT_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "datasets/edge_sort.h"

typedef struct {
    void* table;     /* what the lookup reads; which of the two it is depends on the ids alone */
    bool by_bits;    /* a bit an id with running counts, 16 bytes for 64 ids; else the sorted ids */
    int64_t num_ids; /* distinct ones */
    int64_t least, largest;
} compact_map;

/* Makes the map of the ids at both ends of edges, whose adding has ended. by_bits where ids are dense enough: at most
   16 bytes an edge, and a lookup is two reads; else they are sorted as edges are, in at most memory bytes, and looked
   up by bisection. The same numbers either way; force_sort is for the test that compares them. */
bool compact_make(compact_map* m, edge_sorter* edges, bool force_sort, int64_t memory, error* why);

/* The dense number of an id that is in the map; O(1) or O(log num_ids). */
int64_t compact_rank(const compact_map* m, int64_t id);

/* The ids in ascending order: external[i] is the id whose number is i. */
void compact_ids(const compact_map* m, int64_t* external);

void compact_close(compact_map* m); /* harmless after a failure and after itself */
#endif
