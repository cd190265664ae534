/* loss.c - the loss of a batch's seeds, and its gradient. */
#include "trainer/cpu/cpu.h"
#include "trainer/cpu/parallel.h"

typedef struct {
    net* n;
    mat d, x;
    const ggnn_node* id;
    float weight; /* of a row in the mean */
} loss_job;

static void loss_rows(void* context, int64_t begin, int64_t end)
{
    loss_job* job = context;
    const net_labels* labels = &job->n->data.labels;
    double* loss = job->n->row_loss;
    for (int64_t i = begin; i < end; i++) loss[i] = label_known(labels, job->id[i]); /* at once: their misses overlap */
    for (int64_t i = begin; i < end; i++) {
        float* d = job->d.v + i * job->d.ld;
        bool known = loss[i] != 0;
        loss[i] = known ? net_row_gradient(d, job->x.v + i * job->x.ld, job->x.cols, labels, (int64_t)job->id[i])
                        : 0;
        for (int32_t j = 0; j < job->x.cols; j++) d[j] = known ? d[j] * job->weight : 0;
    }
}

void cpu_loss(net* n, mat dlogits, mat logits, const mini_batch* b)
{
    double start = cpu_start(), total = 0;
    int64_t rows = mat_rows(logits), known = b->known.n ? *b->known.n : b->known.max;
    loss_job job = {n, dlogits, logits, b->blocks.id, known ? 1.0f / (float)known : 0};
    parallel_for(rows, 64, loss_rows, &job);
    for (int64_t i = 0; i < rows; i++) total += n->row_loss[i];
    *n->sums = (net_sums){total, known};
    cpu_stop(n, NET_LOSS, start, rows * (8 * logits.cols + 16));
}
