/* metis.h - partition by METIS, where the build found it: k-way, few cut edges. It allocates, and is no part of the
   headers; ggnn_partition_mincut is the one that always is there. */
#ifndef DATASETS_METIS_H
#define DATASETS_METIS_H
#include "common/error.h"
#include "ggnn.h"

/* owner (N): the part of each node. lists: both directions of every edge once, no self-loops. weight (N), none negative: what
   parts have equally much of, within a few per cent; NULL, or all 0: of nodes. Weights whose sum METIS's indices do not hold are
   halved until it does. The same result for the same METIS: the seed is fixed. An error where the program was built without METIS, where the edges do not fit its
   indices (32 bits in most builds), or METIS fails; never another method's result. path begins the messages. */
bool metis_divide(int32_t* owner, const ggnn_lists* lists, const int64_t* weight, int32_t parts, const char* path,
                  error* why);
#endif
