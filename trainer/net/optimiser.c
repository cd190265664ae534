/* optimiser.c - the factors of Adam's and AdamW's next update: the same for every backend. */
#include "trainer/net/layers.h"

/* b^t by squaring: the same bits everywhere, and whether or not the run was resumed. */
static double power(double b, int64_t t)
{
    double result = 1;
    for (; t > 0; t >>= 1, b *= b)
        if (t & 1) result *= b;
    return result;
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
