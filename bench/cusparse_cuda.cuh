// cusparse_cuda.cuh - SpMM by cuSPARSE, beside ours: where the toolkit has it.
#ifndef BENCH_CUSPARSE_CUDA_CUH
#define BENCH_CUSPARSE_CUDA_CUH
#include <cusparse.h>

#include "bench/sparse_cuda.cuh"

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

bool open_product(bench* b, product* p, const sparse_case& s, int32_t width, const float* x, float* out,
                  bool analysed)
{
    int32_t* indptr = make<int32_t>(b, s.D + 1, "offsets");
    float*   value = make<float>(b, s.E, "ones");
    size_t   bytes = 0;
    if (!indptr || !value) return false;
    cudaError_t e = launch(narrow, blocks_of(s.D + 1), THREADS, stream(), indptr,
                           static_cast<const int64_t*>(s.block.indptr), s.D + 1);
    if (!good(b, ggnni::first_error(e, launch(ones, blocks_of(s.E), THREADS, stream(), value, s.E)), "ones"))
        return false;
    p->how = analysed ? CUSPARSE_SPMM_CSR_ALG2 : CUSPARSE_SPMM_ALG_DEFAULT;
    cusparseStatus_t t = cusparseCreate(&p->handle);
    if (t == CUSPARSE_STATUS_SUCCESS) t = cusparseSetStream(p->handle, stream());
    if (t == CUSPARSE_STATUS_SUCCESS)
        t = cusparseCreateCsr(&p->a, s.D, s.S, s.E, indptr, s.block.indices, value, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    if (t == CUSPARSE_STATUS_SUCCESS)
        t = cusparseCreateDnMat(&p->x, s.S, width, width, const_cast<float*>(x), CUDA_R_32F,
                                CUSPARSE_ORDER_ROW);
    if (t == CUSPARSE_STATUS_SUCCESS)
        t = cusparseCreateDnMat(&p->out, s.D, width, width, out, CUDA_R_32F, CUSPARSE_ORDER_ROW);
    if (t == CUSPARSE_STATUS_SUCCESS) t = p->run(false, &bytes);
    if (t == CUSPARSE_STATUS_SUCCESS && !(p->room = take(b, static_cast<int64_t>(bytes), "cuSPARSE's room")))
        return false;
    if (t == CUSPARSE_STATUS_SUCCESS && analysed) t = p->run(true, nullptr);
    return t == CUSPARSE_STATUS_SUCCESS || error_set(&b->why, "cuSPARSE: %s", cusparseGetErrorString(t));
}

// The same sums by cuSPARSE, beside ours: with its analysis of the matrix done before, and without.
bool spmm(bench* b, const bench_result* ours, const sparse_case& s, int32_t width, const float* x,
          const float* sums, bool cold)
{
    float* out = make<float>(b, s.D * width, "cuSPARSE's sums");
    if (!out) return false;
    for (bool analysed : {false, true}) {
        product* p = own(b, new product());
        if (!p || !open_product(b, p, s, width, x, out, analysed)) return false;
        bench_case c = case_of(b, [=] {
            return p->run(false, nullptr) == CUSPARSE_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
        });
        name(&c, "cuSPARSE%s, F %d, %s", analysed ? " analysed" : "", width, s.what);
        c.work = static_cast<double>(s.E);
        c.unit = "edges";
        c.cold = cold;
        c.rival = true;
        const bench_result* theirs = bench_measure(b, &c);
        if (!bench_ratio(b, ours, theirs, analysed ? "cuSPARSE, analysed" : "cuSPARSE", analysed ? 1 : 1.5))
            return false;
        const int64_t some = (s.D < 10000 ? s.D : 10000) * width;
        auto          mine = fetch(b, sums, some), other = fetch(b, out, some);
        if (theirs && !bench_near(b, "a sum", mine.data(), other.data(), some, 1e-5)) return false;
    }
    return true;
}

} // namespace rivals
#endif
