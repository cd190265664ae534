/* optimiser.c - Adam and AdamW over the flat arrays of all parameters, one pass. */
#include <math.h>

#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

typedef struct {
    net_state s;
    adam a;
} update_job;

/* Kingma & Ba 2015, algorithm 1; AdamW: Loshchilov & Hutter 2019, algorithm 2. */
static void update_range(void* context, int64_t begin, int64_t end)
{
    const float beta1 = 0.9f, rest1 = 0.1f, beta2 = 0.999f, rest2 = 0.001f; /* 1 - 0.999f is not 0.001f */
    const float epsilon = 1e-8f;
    const update_job* job = context;
    float *restrict p = job->s.value, *restrict m = job->s.m, *restrict v = job->s.v;
    const float* restrict grad = job->s.grad;
    for (int64_t i = begin; i < end; i++) {
        float g = grad[i] + job->a.l2 * p[i];
        m[i] = beta1 * m[i] + rest1 * g;
        v[i] = beta2 * v[i] + rest2 * g * g;
        p[i] = job->a.keep * p[i]
            - job->a.rate * (m[i] * job->a.inv_correction1) / (sqrtf(v[i] * job->a.inv_correction2) + epsilon);
    }
}

void cpu_update(net* n)
{
    double start = cpu_start();
    update_job job = {n->state, n->optimiser};
    parallel_for(n->state.count, 16384, update_range, &job);
    losses_add(&n->losses, n->step, n->sums);
    cpu_stop(n, NET_OPTIMIZER, start, 28 * n->state.count);
    n->profile.train += cpu_start() - start;
}
