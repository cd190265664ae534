// cublas_v2.h - the matrix product of cuBLAS, on the stream: column-major, every combination of transposes.
// TF32 is accepted and computed in plain fp32.
#ifndef SIMT_CUBLAS_V2_H
#define SIMT_CUBLAS_V2_H

#include "cuda_runtime.h"

#include <algorithm>
#include <vector>

typedef enum {
    CUBLAS_STATUS_SUCCESS          = 0,
    CUBLAS_STATUS_NOT_INITIALIZED  = 1,
    CUBLAS_STATUS_ALLOC_FAILED     = 3,
    CUBLAS_STATUS_INVALID_VALUE    = 7,
    CUBLAS_STATUS_EXECUTION_FAILED = 13,
    CUBLAS_STATUS_NOT_SUPPORTED    = 15
} cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE } cublasPointerMode_t;
typedef enum {
    CUBLAS_DEFAULT_MATH        = 0,
    CUBLAS_PEDANTIC_MATH       = 2,
    CUBLAS_TF32_TENSOR_OP_MATH = 3
} cublasMath_t;
typedef enum {
    CUBLAS_COMPUTE_32F           = 68,
    CUBLAS_COMPUTE_32F_PEDANTIC  = 69,
    CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;
typedef enum { CUDA_R_32F = 0 } cudaDataType;

struct cublasContext {
    cudaStream_t        stream  = nullptr;
    cublasPointerMode_t scalars = CUBLAS_POINTER_MODE_HOST; // where alpha and beta are
};
typedef cublasContext* cublasHandle_t;

inline cublasStatus_t cublasCreate(cublasHandle_t* handle)
{
    *handle = new cublasContext();
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    delete handle;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
    handle->scalars = mode;
    return CUBLAS_STATUS_SUCCESS;
}
inline cublasStatus_t cublasSetWorkspace(cublasHandle_t, void*, size_t) { return CUBLAS_STATUS_SUCCESS; }
inline cublasStatus_t cublasSetMathMode(cublasHandle_t, cublasMath_t) { return CUBLAS_STATUS_SUCCESS; }
inline const char*    cublasGetStatusString(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_SUCCESS ? "success" : "cuBLAS failed";
}

namespace simt_cublas {

struct Matrix {
    const float* value;
    bool         transposed;
    int          stride; // from column to column
    const float& at(int row, int column) const
    {
        return transposed ? value[column + (size_t)row * stride] : value[row + (size_t)column * stride];
    }
};

enum { BLOCK = 32 }; // products that are added up before their sum is added to the others', as on a GPU

// c[m,n] = alpha a[m,k] b[k,n] + beta c; where beta is 0, c is not read. One column of c at a time.
inline void multiply(int m, int n, int k, float alpha, Matrix a, Matrix b, float beta, float* c, int stride)
{
    std::vector<float> sum((size_t)m), block((size_t)m);
    for (int j = 0; j < n; j++) {
        std::fill(sum.begin(), sum.end(), 0.0f);
        for (int first = 0; first < k; first += BLOCK) {
            std::fill(block.begin(), block.end(), 0.0f);
            for (int l = first; l < k && l < first + BLOCK; l++)
                for (int i = 0; i < m; i++) block[i] += a.at(i, l) * b.at(l, j);
            for (int i = 0; i < m; i++) sum[i] += block[i];
        }
        for (int i = 0; i < m; i++) {
            float& out = c[i + (size_t)j * stride];
            out        = beta == 0.0f ? alpha * sum[i] : alpha * sum[i] + beta * out;
        }
    }
}

} // namespace simt_cublas

inline cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                  int m, int n, int k, const float* alpha, const float* a, int lda,
                                  const float* b, int ldb, const float* beta, float* c, int ldc)
{
    bool ta = op_a != CUBLAS_OP_N, tb = op_b != CUBLAS_OP_N,
         host = handle->scalars == CUBLAS_POINTER_MODE_HOST;
    if (m < 0 || n < 0 || k < 0 || lda < (ta ? k : m) || ldb < (tb ? n : k) || ldc < m || lda < 1 ||
        ldb < 1 || ldc < 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    float one = host ? *alpha : 0.0f, other = host ? *beta : 0.0f;
    int   error = simt::enqueue(handle->stream, [=] {
        simt_cublas::multiply(m, n, k, host ? one : *alpha, {a, ta, lda}, {b, tb, ldb}, host ? other : *beta,
                                c, ldc);
    });
    return error ? CUBLAS_STATUS_EXECUTION_FAILED : CUBLAS_STATUS_SUCCESS;
}

inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t op_a, cublasOperation_t op_b,
                                   int m, int n, int k, const void* alpha, const void* a, cudaDataType type_a,
                                   int lda, const void* b, cudaDataType type_b, int ldb, const void* beta,
                                   void* c, cudaDataType type_c, int ldc, cublasComputeType_t,
                                   cublasGemmAlgo_t)
{
    if (type_a != CUDA_R_32F || type_b != CUDA_R_32F || type_c != CUDA_R_32F)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return cublasSgemm(handle, op_a, op_b, m, n, k, (const float*)alpha, (const float*)a, lda,
                       (const float*)b, ldb, (const float*)beta, (float*)c, ldc);
}
#endif
