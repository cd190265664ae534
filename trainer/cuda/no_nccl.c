#include "trainer/ranks/comm_engine.h"

const comm_nccl* const comm_nccl_here = NULL; /* what links comm_nccl.cu has another */
