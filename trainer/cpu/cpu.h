/* cpu.h - the CPU backend: what its files share. The room cpu/: every operation of the four tables, by threads. The tables of operations have the contracts (device/ops.h, batch/ring.h,
   net/layers.h); the names there are cpu_ names here. ops.c has the tables, memory and the operations that are a call of ggnn.h
   or gemm.h; the others are in files by their matter. */
#ifndef TRAINER_CPU_CPU_H
#define TRAINER_CPU_CPU_H
#include "trainer/batch/ring.h"
#include "trainer/net/layers.h"

#define CPU_FUNCTION(result, name, parameters) result cpu_##name parameters;
MEMORY_OPS(CPU_FUNCTION)
ROW_OPS(CPU_FUNCTION)
BATCH_OPS(CPU_FUNCTION)
MATH_OPS(CPU_FUNCTION)

void cpu_copy(mat out, mat x);                                      /* elementwise.c */
void cpu_sparse_gemm(net* n, mat c, mat x, bool transposed, mat b); /* sparse.c: c = op(x) b */

/* clock.c. Each operation: double start = cpu_start(); ...; cpu_stop(n, stage, start, bytes); */
double cpu_start(void);
void   cpu_stop(net* n, net_stage stage, double start, int64_t bytes);
#endif
