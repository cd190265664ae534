// cuda_kernels.cc - the kernels of ggnn_cuda.cuh, once for all tests that use its API alone.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_plan.h"
#include "ggnn_cuda.cuh"
