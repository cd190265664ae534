// curand_philox4x32_x.h - the rounds of Philox alone, and the generator's state: cuRAND's own header where it
// is installed (-DSIMT_CURAND and its folder on the include path), else ours, which gives the same words.
#include "cuda_runtime.h"
#ifdef SIMT_CURAND
#include_next <curand_philox4x32_x.h>
#else
#include "simt_philox.h"
using simt_philox::curand_Philox4x32_10;
using simt_philox::curandStatePhilox4_32_10;
using simt_philox::curandStatePhilox4_32_10_t;
#endif
