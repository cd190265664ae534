/* The one translation unit of the tools that holds ggnn_file.h's implementation. */
#define GGNN_FILE_IMPLEMENTATION
#include "datasets/ggnn_file.h"
