/* ops_cpu.h - the CPU's operations that are not a call of ggnn.h or gemm.h, by file; ops_cpu.c has the others and the
   table. Contracts are in ops.h. */
#ifndef TRAINER_OPS_CPU_H
#define TRAINER_OPS_CPU_H
#include "trainer/ops.h"

/* elementwise.c */
void cpu_copy(mat out, mat x);
void cpu_drop(net* n, mat x, uint32_t threshold, int32_t l);
void cpu_add(net* n, mat out, mat a);
void cpu_finish(net* n, mat h, const epilogue* e);
void cpu_finish_back(net* n, mat dh, mat h, const epilogue* e);
void cpu_mean_heads(net* n, mat out, mat a, int32_t heads);
void cpu_mean_heads_back(net* n, mat da, mat dout, int32_t heads);

void cpu_loss(net* n, mat dlogits, mat logits, const net_labels* labels); /* loss.c */
void cpu_update(net* n, float learning_rate);                             /* optimiser.c */

/* clock.c. Each op: double start = cpu_start(); ...; cpu_stop(n, stage, start, bytes); */
double cpu_start(void);
void   cpu_stop(net* n, net_stage stage, double start, int64_t bytes);
#endif
