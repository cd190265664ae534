// cuda_runtime.h - CUDA on the CPU, for tests: first on the include path, it lets g++ and clang++ compile
// CUDA code and runs its kernels, one fiber per CUDA thread. README.md says how.
#ifndef SIMT_CUDA_RUNTIME_H
#define SIMT_CUDA_RUNTIME_H
#include "simt_device.h"
#include "simt_runtime.h"
#endif
