/* The one file of the tools that holds ggnn.h's implementation. */
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
