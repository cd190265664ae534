/* with.h - --with FILE: a partition or a ranking of a user's own, counted beside those that an entry makes. What the file is
   follows from its content: a file that ggnn-data partition or rank wrote, or a .npy array of owners. */
#ifndef BENCH_WITH_H
#define BENCH_WITH_H
#include "bench/bench.h"

/* Whether --with, where given, is for this name: split takes a partition, cache and store a ranking. False: why. */
bool with_takes(const bench_options* o, const bench_entry* e, error* why);

/* Whether one of the names takes what the file is. True without --with. False: b->why. */
bool with_fits(bench* b, const bench_entry* const* chosen, int count);

/* "own: mine.part": what its rows are called. */
enum { WITH_NAME = 80 };
const char* with_name(char name[WITH_NAME], const bench_options* o);

/* The file's partition of the run's graph: *owner (N), -1 of a node that has none, and *parts. *owner NULL: no partition was
   given. False: b->why. */
bool with_partition(bench* b, int32_t** owner, int32_t* parts);

/* The same of a ranking: (N) of rows and of lists; *lists may be NULL. */
bool with_ranking(bench* b, ggnn_node** rows, ggnn_node** lists);
#endif
