/* loss.c - cross-entropy of one row of logits and its gradient, on the host: for the CPU's loss, and for evaluation. */
#include <math.h>

#include "trainer/net/layers.h"

#define LOG2_E 1.44269504f

/* -log softmax(x)[label]; d (C) = its gradient, softmax(x) - one-hot(label), unless NULL. */
static double class_loss(float* d, const float* x, int32_t C, int32_t label)
{
    float most = x[0], total = 0;
    for (int32_t j = 1; j < C; j++) most = x[j] > most ? x[j] : most;
    for (int32_t j = 0; j < C; j++) {
        float e = ggnn_exp2((x[j] - most) * LOG2_E);
        if (d) d[j] = e;
        total += e;
    }
    for (int32_t j = 0; d && j < C; j++) d[j] /= total;
    if (d) d[label] -= 1;
    return log((double)total) - ((double)x[label] - (double)most);
}

/* log(1 + exp(x)) - target * x, and its gradient sigmoid(x) - target: exp of -|x| never overflows. */
static double binary_loss(float* d, float x, float target)
{
    float e = ggnn_exp2(-fabsf(x) * LOG2_E);
    if (d) *d = (x < 0 ? e : 1) / (1 + e) - target;
    return log1p((double)e) + (double)(x > 0 ? x : 0) - (double)target * (double)x;
}

double net_row_gradient(float* d, const float* x, int32_t outputs, const net_labels* labels, int64_t v)
{
    if (outputs > 1) return class_loss(d, x, outputs, labels->label[v]);
    return binary_loss(d, *x, labels->label ? (float)labels->label[v] : labels->target[v]);
}

bool net_row_loss(double* loss, const float* logits, int32_t outputs, const net_labels* labels, int64_t v)
{
    if (!label_known(labels, (ggnn_node)v)) return false;
    *loss = net_row_gradient(NULL, logits, outputs, labels, v);
    return true;
}
