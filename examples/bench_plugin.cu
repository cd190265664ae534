// bench_plugin.cu - an SpMM of one's own on a GPU, for ggnn-bench: bench/plugin.h says the rules.
//
//     nvcc -O3 -arch=native -Xcompiler -fPIC -shared -I. -o mine.so examples/bench_plugin.cu
//     build/ggnn-bench --backend cuda --plugin mine.so
//
// Without a GPU: make build/bench_plugin-emulated.so, and --backend cuda-emulated.
#include <cuda_runtime.h>

#include "bench/plugin.h"

// A block a target, a thread a column.
__global__ void sum_rows(bench_lists lists, int32_t width, int32_t mean, const float* inp, float* out)
{
    for (int64_t v = blockIdx.x; v < lists.targets; v += gridDim.x) {
        const int64_t begin = lists.indptr[v], end = lists.indptr[v + 1];
        for (int32_t c = static_cast<int32_t>(threadIdx.x); c < width; c += static_cast<int32_t>(blockDim.x)) {
            float sum = 0;
            for (int64_t e = begin; e < end; e++) sum += inp[static_cast<int64_t>(lists.indices[e]) * width + c];
            out[v * width + c] = mean && end > begin ? sum / static_cast<float>(end - begin) : sum;
        }
    }
}

static int32_t spmm(const bench_spmm_job* j)
{
    cudaLaunchConfig_t config = {};
    if (j->weight) return BENCH_PLUGIN_NONE; // unweighted sums and means alone
    config.gridDim = dim3(static_cast<unsigned>(j->lists.targets < 65536 ? j->lists.targets : 65536));
    config.blockDim = dim3(static_cast<unsigned>((j->width < 256 ? j->width + 31 : 256) / 32 * 32));
    config.stream = static_cast<cudaStream_t>(j->where.stream);
    return cudaLaunchKernelEx(&config, sum_rows, j->lists, j->width, j->mean, j->inp, j->out);
}

// A sum per column, not one per 256 edges as ggnn has it: the bits differ.
const bench_plugin ggnn_bench_plugin = {BENCH_PLUGIN_VERSION, 1, "mine", 1e-5, spmm, nullptr, nullptr, nullptr, nullptr};
