/* The one file of these programs that holds ggnn_plan.h's implementation. */
#define GGNN_PLAN_IMPLEMENTATION
#include "ggnn_plan.h"
