// vendor.cu - examples/vendor.c on a GPU; prints "3 4.5, as the CPU". The C functions are compiled as C. From the
// project's folder (examples/peers.cu has the command for a machine without a GPU):
//   cc -O2 -I. -c common/ggnn.c && nvcc -std=c++17 -arch=native -I. examples/vendor.cu ggnn.o -o vendor -lm && ./vendor
// The graph is sent, a mini-batch sampled, its rows gathered, and the means of sampled neighbours formed there; then
// the same by the C functions of the same names.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}
static void check(ggnn_status status)
{
    if (status == GGNN_OK) return;
    printf("%s\n", ggnn_status_string(status));
    exit(1);
}
static void* device_new(size_t bytes)
{
    void* p = nullptr;
    check(cudaMalloc(&p, bytes));
    return p;
}
template <class T, int N> static T* send(const T (&from)[N])
{
    void* p = device_new(sizeof from);
    check(cudaMemcpy(p, from, sizeof from, cudaMemcpyHostToDevice));
    return static_cast<T*>(p);
}

static const int64_t   indptr[] = {0, 2, 4, 7, 8};          // the in-neighbours of v are
static const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2}; // indices[indptr[v] .. indptr[v+1])
static const float     x[] = {1, 2, 4, 8};                   // one feature per node
static const ggnn_node seeds[] = {0, 2};
static const int32_t   fanout[] = {2}; // one hop: two neighbours per node
static const ggnn_rng  rng[] = {{1, 0, GGNN_PURPOSE_SAMPLE}}; // seed 1, step 0

// Rows of the batch's nodes (at most 4), and the means, on the device: no step waits for the host.
static void on_device(float* row, float* mean, const ggnn_sampling* how, cudaStream_t stream)
{
    const ggnn_graph  g = ggnn_graph_plain(send(indptr), send(indices), nullptr, 4, 8);
    const ggnn_store  rows = ggnn_store_plain(send(x), 4, 1, GGNN_F32);
    ggnn_cuda_batch   batch;
    float*            out = static_cast<float*>(device_new(6 * sizeof(float)));
    check(ggnn_cuda_batch_plan(&batch, &g, how, 2, nullptr));
    check(ggnn_cuda_batch_init(&batch, device_new(batch.bytes), stream));
    check(ggnn_cuda_sample(&batch, &g, send(rng), send(seeds), {nullptr, 2}, stream));
    check(cudaMemsetAsync(out, 0, 6 * sizeof(float), stream));
    check(ggnn_cuda_gather(out, 1, GGNN_F32, &rows, batch.id, batch.hop[0].num_src, stream));
    check(ggnn_cuda_spmm(out + 4, 1, nullptr, GGNN_MEAN, &batch.hop[0], nullptr, nullptr, 1, out, 1, 1, stream));
    check(cudaMemcpyAsync(row, out, 4 * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaMemcpyAsync(mean, out + 4, 2 * sizeof(float), cudaMemcpyDeviceToHost, stream));
    check(cudaStreamSynchronize(stream));
}

static void on_host(float* row, float* mean, const ggnn_sampling* how)
{
    const ggnn_graph  g = ggnn_graph_plain(indptr, indices, nullptr, 4, 8);
    const ggnn_store  rows = ggnn_store_plain(x, 4, 1, GGNN_F32);
    ggnn_batch        batch;
    check(ggnn_batch_plan(&batch, &g, how, 2, nullptr));
    check(ggnn_batch_init(&batch, malloc(batch.bytes)));
    check(ggnn_sample(&batch, &g, rng, seeds, 2));
    ggnn_gather(row, 1, GGNN_F32, &rows, batch.id, *batch.hop[0].num_src.n);
    ggnn_spmm(mean, 1, nullptr, GGNN_MEAN, &batch.hop[0], nullptr, nullptr, 1, row, 1, 1);
}

int main()
{
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    float               row[2][4] = {}, mean[2][2];
    int                 devices = 0;
    on_host(row[0], mean[0], &how);
    if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
        printf("%g %g, no device\n", static_cast<double>(mean[0][0]), static_cast<double>(mean[0][1]));
        return 0;
    }
    on_device(row[1], mean[1], &how, nullptr);
    if (memcmp(row[0], row[1], sizeof row[0]) || memcmp(mean[0], mean[1], sizeof mean[0])) return 1;
    printf("%g %g, as the CPU\n", static_cast<double>(mean[1][0]), static_cast<double>(mean[1][1]));
    return 0;
}
