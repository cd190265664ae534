/* gemm_blas.c - the matrix product by CBLAS, where the build found one. */
#include "gemm.h"

#include <assert.h>
#include <limits.h>

#ifdef HAVE_CBLAS
#include <cblas.h>

bool gemm_blas_available(void) { return true; }

void gemm_blas(float* c, int64_t ldc, const float* a, int64_t lda, bool a_transposed, const float* b, int64_t ldb,
               bool b_transposed, int64_t m, int64_t n, int64_t k, float beta, void* workspace)
{
    (void)workspace;
    assert(m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX);
    if (m == 0 || n == 0) return;
    cblas_sgemm(CblasRowMajor, a_transposed ? CblasTrans : CblasNoTrans, b_transposed ? CblasTrans : CblasNoTrans,
                (int)m, (int)n, (int)k, 1, a, lda > 1 ? (int)lda : 1, b, ldb > 1 ? (int)ldb : 1, beta, c, (int)ldc);
}

#else

bool gemm_blas_available(void) { return false; }

void gemm_blas(float* c, int64_t ldc, const float* a, int64_t lda, bool a_transposed, const float* b, int64_t ldb,
               bool b_transposed, int64_t m, int64_t n, int64_t k, float beta, void* workspace)
{
    (void)c, (void)ldc, (void)a, (void)lda, (void)a_transposed, (void)b, (void)ldb, (void)b_transposed;
    (void)m, (void)n, (void)k, (void)beta, (void)workspace;
    assert(0 && "gemm_blas: built without a CBLAS");
}

#endif
