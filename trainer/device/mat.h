/* mat.h - matrices in a device's memory. Values only: copying one copies no element.

   A matrix is row-major: v; or rows of a store by global id, which nobody has gathered; or entries alone, where most
   are zeros. */
#ifndef TRAINER_MAT_H
#define TRAINER_MAT_H
#include "ggnn.h"

typedef struct sparse_features sparse_features; /* the backend's */

typedef struct {
    float*            v;
    int64_t           ld;   /* elements from row to row, >= cols */
    int32_t           cols;
    ggnn_count        rows; /* n NULL: max of them */
    const ggnn_store* store;
    const ggnn_node*  id;   /* row i is row id[i] of the store */
    const sparse_features* sparse; /* v holds its entries alone: gemm's first factor and nothing else, beta = 0 */
} mat;

/* On the CPU: elsewhere the number of rows is the device's, rows.max bounds it, and no row below that is NaN. */
static inline int64_t mat_rows(mat a) { return a.rows.n ? *a.rows.n : a.rows.max; }
static inline mat mat_head(mat a, ggnn_count rows) /* the first rows: a[: rows, :] */
{
    a.rows = rows;
    return a;
}
static inline mat mat_part(mat a, int64_t first, ggnn_count rows) /* a[first : first + rows, :] */
{
    a.v += first * a.ld;
    a.rows = rows;
    return a;
}
static inline mat mat_columns(mat a, int32_t first, int32_t cols) /* a[:, first : first + cols] */
{
    a.v += first;
    a.cols = cols;
    return a;
}

/* Columns up to where the next row begins: rows begin at multiples of 64 bytes. */
GGNN_HD int64_t mat_padded(int32_t cols) { return ((int64_t)cols + 15) / 16 * 16; }
#endif
