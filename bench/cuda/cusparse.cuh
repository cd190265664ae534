// cusparse.cuh - SpMM by cuSPARSE, beside ours: where the toolkit has it.
#ifndef BENCH_CUDA_CUSPARSE_CUH
#define BENCH_CUDA_CUSPARSE_CUH
#include <cusparse.h>

#include "bench/cuda/sparse.cuh"

namespace rivals {

using namespace gpu;

__global__ void __launch_bounds__(THREADS) narrow(int32_t* to, const int64_t* from, int64_t n)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < n; i += all)
        to[i] = static_cast<int32_t>(from[i]);
}
__global__ void __launch_bounds__(THREADS) ones(float* x, int64_t n)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < n; i += all) x[i] = 1;
}

struct product {
    cusparseHandle_t     handle = nullptr;
    cusparseSpMatDescr_t a = nullptr;
    cusparseDnMatDescr_t x = nullptr, out = nullptr;
    cusparseSpMMAlg_t    how = CUSPARSE_SPMM_ALG_DEFAULT;
    void*                room = nullptr;

    ~product()
    {
        if (a) cusparseDestroySpMat(a);
        if (x) cusparseDestroyDnMat(x);
        if (out) cusparseDestroyDnMat(out);
        if (handle) cusparseDestroy(handle);
    }
    cusparseStatus_t run(bool analyse, size_t* bytes)
    {
        static const float        one = 1, zero = 0;
        const cusparseOperation_t as_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
        if (bytes)
            return cusparseSpMM_bufferSize(handle, as_is, as_is, &one, a, x, &zero, out, CUDA_R_32F, how,
                                           bytes);
        if (analyse)
            return cusparseSpMM_preprocess(handle, as_is, as_is, &one, a, x, &zero, out, CUDA_R_32F, how,
                                           room);
        return cusparseSpMM(handle, as_is, as_is, &one, a, x, &zero, out, CUDA_R_32F, how, room);
    }
};

bool describe(product* p, const sparse_case& s, int32_t width, const float* x, float* out, int32_t* indptr,
              float* value)
{
    return cusparseCreate(&p->handle) == CUSPARSE_STATUS_SUCCESS &&
           cusparseSetStream(p->handle, stream()) == CUSPARSE_STATUS_SUCCESS &&
           cusparseCreateCsr(&p->a, s.D, s.S, s.E, indptr, s.block.indices, value, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                             CUDA_R_32F) == CUSPARSE_STATUS_SUCCESS &&
           cusparseCreateDnMat(&p->x, s.S, width, width, const_cast<float*>(x), CUDA_R_32F,
                               CUSPARSE_ORDER_ROW) == CUSPARSE_STATUS_SUCCESS &&
           cusparseCreateDnMat(&p->out, s.D, width, width, out, CUDA_R_32F, CUSPARSE_ORDER_ROW) ==
               CUSPARSE_STATUS_SUCCESS;
}

// *there: whether cuSPARSE does it in this way.
bool open_product(bench* b, product* p, const sparse_case& s, int32_t width, const float* x, float* out,
                  bool analysed, bool* there)
{
    int32_t* indptr = make<int32_t>(b, s.D + 1, "offsets");
    float*   value = make<float>(b, s.E, "ones");
    size_t   bytes = 0;
    if (!indptr || !value) return false;
    cudaError_t e = launch_items(narrow, s.D + 1, stream(), indptr,
                                 static_cast<const int64_t*>(s.block.indptr), s.D + 1);
    if (e == cudaSuccess) e = launch_items(ones, s.E, stream(), value, s.E);
    if (!good(b, e, "ones")) return false;
    if (!describe(p, s, width, x, out, indptr, value)) return error_set(&b->why, "cuSPARSE cannot be opened");
    cusparseStatus_t t = p->run(false, &bytes);
    if (t == CUSPARSE_STATUS_SUCCESS && !(p->room = take(b, static_cast<int64_t>(bytes), "cuSPARSE's room")))
        return false;
    if (t == CUSPARSE_STATUS_SUCCESS && analysed) t = p->run(true, nullptr);
    *there = t != CUSPARSE_STATUS_NOT_SUPPORTED;
    return !*there || t == CUSPARSE_STATUS_SUCCESS ||
           error_set(&b->why, "cuSPARSE: %s", cusparseGetErrorString(t));
}

struct way {
    cusparseSpMMAlg_t how;
    bool              analysed; // its analysis of the matrix is done before, once
    const char*       name;
    double            goal;
};
const way ways[] = {{CUSPARSE_SPMM_ALG_DEFAULT, false, "cuSPARSE", 1},
                    {CUSPARSE_SPMM_CSR_ALG1, true, "cuSPARSE's first", 1.5},
                    {CUSPARSE_SPMM_CSR_ALG2, true, "cuSPARSE's second", 1.5},
                    {CUSPARSE_SPMM_CSR_ALG3, true, "cuSPARSE's third", 1.5}};

bool measure_way(bench* b, const bench_result* ours, const sparse_case& s, int32_t width, const float* x,
                 const float* sums, const way& w, bool cold)
{
    const scratch mine(b);
    float*        out = make<float>(b, s.D * width, "cuSPARSE's sums");
    product*      p = own(b, new product());
    bool          there = false;
    if (!out || !p) return false;
    p->how = w.how;
    if (!open_product(b, p, s, width, x, out, w.analysed, &there)) return false;
    if (!there) return true;
    bench_case c = case_of(b, [=] {
        return p->run(false, nullptr) == CUSPARSE_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
    });
    name(&c, "%s, F %d, %s", w.name, width, s.what);
    c.work = static_cast<double>(s.E);
    c.unit = "edges";
    c.bytes = ours->kase.bytes, c.flops = ours->kase.flops;
    c.cold = cold;
    c.rival = true;
    const bench_result* theirs = bench_measure(b, &c);
    const int64_t       some = (s.D < 10000 ? s.D : 10000) * width;
    auto                x1 = fetch(b, sums, some), x2 = fetch(b, out, some);
    if (theirs && !bench_near(b, "a sum", x1.data(), x2.data(), some, 1e-5)) return false;
    return bench_ratio(b, ours, theirs, w.name, cold ? w.goal : 1);
}

// The same sums by each of cuSPARSE's ways, beside ours.
bool spmm(bench* b, const bench_result* ours, const sparse_case& s, int32_t width, const float* x,
          const float* sums, bool cold)
{
    for (const way& w : ways)
        if (!measure_way(b, ours, s, width, x, sums, w, cold)) return false;
    return true;
}

} // namespace rivals
#endif
