/* node_array.h - a number per node in a user's .npy file: the owners of a partition, the scores of a ranking. One dimension,
   as many elements as there are nodes, in either byte order. Errors name the file; of a wrong element its index and value. */
#ifndef DATASETS_NODE_ARRAY_H
#define DATASETS_NODE_ARRAY_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* owner (nodes): int32 or int64, each in [0, *parts). *parts 0: becomes the largest owner + 1, GGNN_PARTS_MAX at most. */
bool node_owners(int32_t* owner, int32_t* parts, const char* path, int64_t nodes, error* why);

/* key (nodes): of int32, int64, float32 or float64. A higher score has a larger key, an equal one the same. NaN is an error. */
bool node_scores(int64_t* key, const char* path, int64_t nodes, error* why);
#endif
