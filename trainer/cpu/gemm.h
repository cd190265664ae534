/* gemm.h - dense single-precision matrix products on a CPU: C = beta * C + op(A) * op(B), row-major, op = identity or
   transpose. Register tiles over packed panels (Goto & van de Geijn 2008), for SSE2, AVX2 and AVX-512, the best one
   that the CPU has chosen at run time; a plain loop elsewhere.

   The bits of the result depend on the inputs and the level alone, never on the number of threads. Every element of
   C is summed in one order: products in segments of 256 along k, each segment from zero in order of k, and the
   segments' sums added to beta * C in order. Levels AVX2 and AVX-512 round once per multiply-add and agree with each
   other; plain and the 16-byte vectors round product and sum, and agree where the compiler does not contract. */
#ifndef TRAINER_CPU_GEMM_H
#define TRAINER_CPU_GEMM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* C = beta * C + op(A) op(B), over OpenMP's threads; on the calling thread alone inside a parallel region.
   NaN and infinity spread as in the plain sum. With beta = 0 C is not read; k = 0 then gives zeros.
   Does not allocate. Cannot fail. C must not overlap A, B or the workspace; nothing past a row's width is touched. */
void gemm(
    float*       c,            /* (m, n)  overwritten (beta = 0) or accumulated (beta = 1) */
    int64_t      ldc,          /*         elements from row to row, >= n */
    const float* a,            /* (m, k), or (k, m) when a_transposed */
    int64_t      lda,          /*         >= the width of a as it is stored */
    bool         a_transposed,
    const float* b,            /* (k, n), or (n, k) when b_transposed */
    int64_t      ldb,
    bool         b_transposed,
    int64_t      m,            /* >= 0 each */
    int64_t      n,
    int64_t      k,
    float        beta,         /* 0 or 1 */
    void*        workspace);   /* gemm_workspace_bytes(m, n, k) or more, any alignment */

/* C = A B, and finish(context, row, row_end) of rows of C as soon as they are whole, where it can be while a core's cache has
   them: of each row once (of none where n = 0), in any order, by any thread. It may change them. All else is gemm()'s, with
   beta = 0. */
void gemm_finish(float* c, int64_t ldc, const float* a, int64_t lda, const float* b, int64_t ldb, int64_t m, int64_t n,
                 int64_t k, void* workspace, void (*finish)(void* context, int64_t row, int64_t row_end), void* context);

/* Scratch of gemm() and gemm_finish() for any transposes, level and number of threads: op(B) packed, at most 4 MiB. Never
   shrinks as a size grows, so that the workspace of the largest sizes serves all smaller ones. */
size_t gemm_workspace_bytes(int64_t m, int64_t n, int64_t k);

/* How the product is computed, from slow to fast. */
typedef enum {
    GEMM_PLAIN,   /* loops in C */
    GEMM_VECTOR,  /* 16-byte vectors: SSE2, NEON */
    GEMM_AVX2,    /* with FMA */
    GEMM_AVX512,
    GEMM_LEVELS
} gemm_level;

/* Takes this level from now on, for tests and comparisons; without a call the best one is taken. False, and no
   change, where the CPU or the compiler lacks it. Not to be called while another thread is in gemm(). The loops of
   elementwise.c take it, too, with the same bits on each. */
bool gemm_use(gemm_level level);
gemm_level gemm_used(void);
const char* gemm_level_name(gemm_level level);

/* The same contract by CBLAS, but for the bits, which are that library's business; sizes below 2^31, workspace
   unused. Only where gemm_blas_available(): when built with a CBLAS. */
bool gemm_blas_available(void);
void gemm_blas(float* c, int64_t ldc, const float* a, int64_t lda, bool a_transposed, const float* b, int64_t ldb,
               bool b_transposed, int64_t m, int64_t n, int64_t k, float beta, void* workspace);
#endif
