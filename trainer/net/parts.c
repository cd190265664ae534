/* parts.c - what a layer reads and gives back where ranks share a mini-batch: --parallel split. Elsewhere it is nothing. */
#include "common/progress.h"
#include "trainer/net/layers.h"
#include "trainer/ranks/shuffle.h"

/* Of a stage that began at `start`. */
static void stop(net* n, double start) { n->profile.seconds[n->backward][NET_SHUFFLE] += progress_seconds() - start; }

/* Rows that this rank has, to all sources of y's block. */
static void pull(net* n, const layer* y, mat out, mat rows)
{
    const double start = progress_seconds();
    shuffle_pull(n->batch->shuffle, n->config.layers - 1 - y->index, mat_head(out, y->block->num_src), rows);
    stop(n, start);
}

mat net_push(net* n, const layer* y, mat d)
{
    shuffle* s = n->batch->shuffle;
    const int32_t h = n->config.layers - 1 - y->index;
    if (!s) return d;
    mat sum = mat_head(n->pushed, (ggnn_count){NULL, s->hop[h].rows});
    sum.cols = d.cols;
    const double start = progress_seconds();
    shuffle_push(s, h, sum, d);
    stop(n, start);
    return sum;
}

bool net_sums_in_parts(const net* n, const layer* y)
{
    /* layer-wise evaluation reads x from a store; sampled evaluation has batches without a shuffle */
    return n->config.in_parts && y->x.v && n->batch && n->batch->shuffle;
}

static const shuffle_sums* sums_of(const net* n, const layer* y)
{
    return &n->batch->shuffle->hop[n->config.layers - 1 - y->index].sums;
}

void net_mean_in_parts(net* n, const layer* y, mat out)
{
    const shuffle_sums* w = sums_of(n, y);
    const ggnn_scale by_degree = {NULL, w->inv, NULL};
    mat part = y->pulled;
    part.ld = part.cols; /* as it is sent */
    part.rows = w->block.num_dst;
    n->ops->aggregate(n, part, NULL, GGNN_SUM, &w->block, &by_degree, NULL, y->x);
    const double start = progress_seconds();
    shuffle_add(n->batch->shuffle, n->config.layers - 1 - y->index, out, part);
    stop(n, start);
}

void net_mean_in_parts_back(net* n, mat dx, const layer* y, mat dout)
{
    const shuffle_sums* w = sums_of(n, y);
    const ggnn_scale back = {w->inv, NULL, NULL};
    const double start = progress_seconds();
    mat d = shuffle_spread(n->batch->shuffle, n->config.layers - 1 - y->index, dout);
    stop(n, start);
    if (!d.v) return; /* a rank has failed */
    n->ops->transpose(n, &n->transpose, &w->block);
    n->ops->aggregate(n, dx, NULL, GGNN_SUM, &n->transpose, &back, NULL, d);
}

/* Whether layer y reads rows of this rank alone. */
bool net_reads_own(const net* n, const layer* y) { return y->model->transform || net_sums_in_parts(n, y); }

/* What layer y reads of x: its rows, or what it transforms them to. A row is transformed by the rank that has it. */
void net_take_input(net* n, layer* y, mat x)
{
    const bool apart = n->batch->shuffle != NULL;
    y->x = x;
    y->z_here = apart ? y->pulled : y->z;
    y->el_here = apart ? y->pulled_el : y->att.el;
    y->scored = apart;
    if (!y->model->transform) {
        if (!apart || net_sums_in_parts(n, y)) return;
        y->x = mat_head(y->pulled, y->block->num_src);
        pull(n, y, y->x, x);
        return;
    }
    y->model->transform(n, y, x, 0);
    if (!apart) return;
    pull(n, y, y->z, mat_head(y->z_here, x.rows));
    if (!y->el_here) return;
    mat el = {.v = y->att.el, .ld = y->att.heads, .cols = y->att.heads}, here = el;
    here.v = y->el_here;
    pull(n, y, el, mat_head(here, x.rows));
}
