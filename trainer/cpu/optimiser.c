/* optimiser.c - Adam and AdamW over the flat arrays of all parameters, one pass. */
#include <math.h>

#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

typedef struct {
    net_state s;
    adam a;
} update_job;

/* b^t by squaring: the same bits everywhere, and whether or not the run was resumed. */
static double power(double b, int64_t t)
{
    double result = 1;
    for (; t > 0; t >>= 1, b *= b)
        if (t & 1) result *= b;
    return result;
}

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

adam net_next_adam(net* n, float learning_rate)
{
    int64_t t = ++n->updates;
    bool decoupled = n->config.optimizer == NET_ADAMW;
    return (adam){
        .rate = learning_rate,
        .l2 = decoupled ? 0 : n->config.weight_decay,
        .keep = decoupled ? 1 - learning_rate * n->config.weight_decay : 1,
        .inv_correction1 = (float)(1 / (1 - power(0.9, t))),
        .inv_correction2 = (float)(1 / (1 - power(0.999, t))),
    };
}

void cpu_update(net* n)
{
    double start = cpu_start();
    update_job job = {n->state, n->optimiser};
    parallel_for(n->state.count, 16384, update_range, &job);
    cpu_stop(n, NET_OPTIMIZER, start, 28 * n->state.count);
}
