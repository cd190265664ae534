// curand_kernel.h - cuRAND's device functions: NVIDIA's own code where it is installed (-DSIMT_CURAND and its
// folder on the include path), which is plain C++ once the shim is below it; else the Philox generator of
// simt_philox.h.
#include "cuda_runtime.h"
#ifdef SIMT_CURAND
#ifndef CURAND_KERNEL_H_
enum libraryPropertyType { SIMT_LIBRARY_PROPERTY };
#ifndef __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_BEGIN
#define __NV_SILENCE_DEPRECATION_END
#endif
#define threadIdx simt_mtgp_threadIdx // for compilers other than nvcc, cuRAND's MTGP32 declares its own two
#define blockDim simt_mtgp_blockDim
#include_next <curand_kernel.h>
#undef threadIdx
#undef blockDim
#endif
#else
#include "curand_philox4x32_x.h"
using simt_philox::curand;
using simt_philox::curand4;
using simt_philox::curand_init;
using simt_philox::curand_uniform;
using simt_philox::skipahead;
using simt_philox::skipahead_sequence;
#endif
