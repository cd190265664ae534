/* The one file of these programs that holds ggnn.h's implementation. */
#include "common/ggnn_level.h"
int ggnn_level = 3;
#define GGNN_SIMD_LEVEL() ggnn_level
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
