/* cpu.h - the CPU's operations that are not a call of ggnn.h or gemm.h, by file; ops.c has the others and the
   table. Contracts are in ops.h. */
#ifndef TRAINER_CPU_CPU_H
#define TRAINER_CPU_CPU_H
#include "trainer/ops.h"

/* elementwise.c */
void cpu_copy(mat out, mat x);
void cpu_drop(net* n, mat x, uint32_t threshold, int32_t l);
void cpu_add(net* n, mat out, mat a);
void cpu_finish(net* n, mat h, const epilogue* e);
void cpu_finish_back(net* n, mat dh, mat h, const epilogue* e);
void cpu_mean_heads(net* n, mat out, mat a, int32_t heads);
void cpu_mean_heads_back(net* n, mat da, mat dout, int32_t heads);

/* sparse.c */
bool cpu_sparse_open(net* n, error* why);
void cpu_sparse_close(net* n);
mat  cpu_sparse(net* n, uint32_t threshold);
void cpu_sparse_gemm(net* n, mat c, mat x, bool transposed, mat b); /* c = op(x) b */

/* loss.c */
void       cpu_loss(net* n, mat dlogits, mat logits, const net_labels* labels);
void       cpu_set_losses(net* n, const net_losses* losses);
net_losses cpu_losses(net* n, bool wait);

void cpu_update(net* n); /* optimiser.c */

/* batches.c */
sampler* cpu_sampler_open(device* d, const ggnn_graph* graph, const ggnn_sampling* how, int64_t batch,
                          const batch_sizes* room, const sampler* beside, error* why);
void     cpu_sampler_close(sampler* s);
void cpu_sample(sampler* s, const loader_pass* pass, const ggnn_node* ids, int64_t from, int64_t seeds, ggnn_rng rng);
ggnn_status cpu_sampler_wait(sampler* s);

/* clock.c. Each op: double start = cpu_start(); ...; cpu_stop(n, stage, start, bytes); */
double cpu_start(void);
void   cpu_stop(net* n, net_stage stage, double start, int64_t bytes);
#endif
