/* loss.c - cross-entropy of the seeds, its gradient, one row at a time. */
#include <math.h>

#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

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

static bool known_label(const net_labels* labels, int64_t v)
{
    return labels->label ? labels->label[v] >= 0 : !isnan(labels->target[v]);
}

static double row_loss(float* d, const float* x, int32_t outputs, const net_labels* labels, int64_t v)
{
    if (outputs > 1) return class_loss(d, x, outputs, labels->label[v]);
    return binary_loss(d, *x, labels->label ? (float)labels->label[v] : labels->target[v]);
}

bool net_row_loss(double* loss, const float* logits, int32_t outputs, const net_labels* labels, int64_t v)
{
    if (!known_label(labels, v)) return false;
    *loss = row_loss(NULL, logits, outputs, labels, v);
    return true;
}

typedef struct {
    net* n;
    mat d, x;
    const net_labels* labels;
    float weight; /* of a row in the mean */
} loss_job;

static void loss_rows(void* context, int64_t begin, int64_t end)
{
    loss_job* job = context;
    for (int64_t i = begin; i < end; i++) {
        float* d = job->d.v + i * job->d.ld;
        int64_t v = (int64_t)job->n->id[i];
        bool known = known_label(job->labels, v);
        job->n->row_loss[i] = known ? row_loss(d, job->x.v + i * job->x.ld, job->x.cols, job->labels, v) : 0;
        for (int32_t j = 0; j < job->x.cols; j++) d[j] = known ? d[j] * job->weight : 0;
    }
}

void cpu_loss(net* n, mat dlogits, mat logits, const net_labels* labels)
{
    double start = cpu_start();
    int64_t rows = mat_rows(logits), known = 0;
    for (int64_t i = 0; i < rows; i++) known += known_label(labels, (int64_t)n->id[i]);
    loss_job job = {n, dlogits, logits, labels, known ? 1.0f / (float)known : 0};
    parallel_for(rows, 64, loss_rows, &job);
    double total = 0;
    for (int64_t i = 0; i < rows; i++) total += n->row_loss[i];
    losses_add(&n->losses, n->step, known ? total / (double)known : 0, known);
    cpu_stop(n, NET_LOSS, start, rows * (8 * logits.cols + 16));
}

void cpu_set_losses(net* n, const net_losses* losses) { n->losses = *losses; }

net_losses cpu_losses(net* n, bool wait)
{
    (void)wait;
    return n->losses;
}
