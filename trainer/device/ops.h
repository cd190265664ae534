/* ops.h - all that the CPU and CUDA backends differ in: four tables of operations. Two are here: those of memory, and those
   of rows, which take a device alone. Those of batches are in batch/ring.h, those of layers in net/layers.h.

   Each table is listed once, OP(result, name, parameters); a backend has a function `cpu_name` or `cuda_name` for each,
   and its table is filled by the same list. What fails on a device is left in device->failed. */
#ifndef TRAINER_OPS_H
#define TRAINER_OPS_H
#include "trainer/device/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define OPS_SLOT(result, name, parameters) result (*name) parameters;

/* Memory. device.h has the contracts. */
#define MEMORY_OPS(OP)                                                                         \
    OP(device*, twin, (device * d, error* why))                                                \
    OP(void, close, (device * d))                                                              \
    OP(void, enter, (device * d))                                                              \
    OP(void*, take, (device * d, size_t bytes, const char* what, error* why))                  \
    OP(void, give_back, (device * d, void* memory))                                            \
    OP(void, upload, (device * d, void* to, const void* from, size_t bytes))                   \
    OP(void, download, (device * d, void* to, const void* from, size_t bytes))                 \
    OP(const void*, read, (device * d, void* to, const void* from, size_t bytes))              \
    OP(const void*, pin,                                                                       \
       (device * d, const void* host, size_t bytes, const char* what, bool* copied, error* why)) \
    OP(void, unpin, (device * d, const void* host))                                            \
    OP(void*, take_host, (device * d, size_t bytes, const char* what, error* why))             \
    OP(void, give_back_host, (device * d, void* memory))                                       \
    OP(int64_t, room, (device * d))                                                            \
    OP(bool, lend, (device * d, void* memory, char handle[DEVICE_HANDLE], error* why))         \
    OP(void*, borrow, (device * d, const char handle[DEVICE_HANDLE], error* why))              \
    OP(void, give_borrowed, (device * d, void* memory))                                        \
    OP(double, link, (device * d, const char bus[DEVICE_BUS]))                                 \
    OP(bool, reach, (device * d, const void* memory, error* why))                              \
    OP(void, fetch, (device * d, void* to, const void* from, size_t bytes))                    \
    OP(void, settle, (device * d))
typedef struct {
    MEMORY_OPS(OPS_SLOT)
} memory_ops;

/* Rows. Arrays are the device's; outputs come first, and are overwritten.
     range       out[i] = first + i
     sum_pieces  out[i] = piece[0][i] + piece[1][i] + ... (pieces, n), added in this order
   Of n rows that go from rank to rank (ranks/exchange.h), each `width` elements wide:
     split_bytes, split, permute, gather   those of ggnn.h; workspace: split_bytes
     number      place[id[i]] = i
   Of rows that another rank has (ranks/shuffle.h):
     sum_rows    out (rows, width) = 0, then out[index[i], :] += inp[i, :], i below bound[parts]. Of one part, i from
                 bound[p] to bound[p + 1], no index occurs twice: parts are added in their order */
#define ROW_OPS(OP)                                                                                              \
    OP(void, range, (device * d, ggnn_node * out, int64_t first, int64_t n))                                     \
    OP(void, sum_pieces, (device * d, float* out, const float* piece, int32_t pieces, int64_t n))                \
    OP(size_t, split_bytes, (int64_t n, int32_t parts))                                                          \
    OP(void, split,                                                                                              \
       (device * d, int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at,                    \
        const ggnn_node* id, int64_t n, void* workspace))                                                        \
    OP(void, permute,                                                                                            \
       (device * d, void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type, int32_t width,   \
        const int32_t* index, int64_t n))                                                                        \
    OP(void, gather,                                                                                             \
       (device * d, void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from, const ggnn_node* id,        \
        int64_t n))                                                                                              \
    OP(void, number, (device * d, ggnn_node * place, const ggnn_node* id, int64_t n))                            \
    OP(void, sum_rows,                                                                                           \
       (device * d, float* out, int64_t ld_out, int64_t rows, int32_t width, const float* inp,                   \
        const int32_t* index, const int64_t* bound, int32_t parts))
typedef struct {
    ROW_OPS(OPS_SLOT)
} row_ops;

typedef struct batch_ops batch_ops; /* batch/ring.h */
typedef struct math_ops  math_ops;  /* net/layers.h */

struct ops {
    const memory_ops* memory;
    const row_ops*    rows;
    const batch_ops*  batches;
    const math_ops*   math;
};

#ifdef __cplusplus
}
#endif
#endif
