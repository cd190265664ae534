/* arena.c - a net's memory: one allocation, laid out by running the plan twice, first to count and then to place; the
   parameters in it, with their first values. */
#include <math.h>
#include <stdio.h>

#include "common/memory.h"
#include "trainer/net/layers.h"

void* net_take(net* n, size_t count, size_t size)
{
    size_t bytes = memory_product(count, size, 1);
    char* place = n->memory ? n->memory + n->used : NULL;
    n->used = bytes > SIZE_MAX - 64 - n->used ? SIZE_MAX - 64 : n->used + (bytes + 63) / 64 * 64;
    return place;
}

mat net_matrix(net* n, int64_t rows, int32_t cols)
{
    mat a = {.ld = mat_padded(cols), .cols = cols, .rows = {NULL, rows}};
    a.v = net_take(n, memory_product((size_t)rows, (size_t)a.ld, 1), sizeof *a.v);
    n->widest = cols > n->widest ? cols : n->widest;
    return a;
}

/* Element i of a weight: word i % 4 of block i / 4 of the stream (layer, parameter). Glorot & Bengio 2010. */
static void fill_glorot(const net* n, float* v, const net_param* p, int32_t l)
{
    ggnn_rng rng = {n->config.seed, 0, GGNN_PURPOSE_WEIGHTS};
    float limit = (float)sqrt(6.0 / (p->rows + p->cols));
    for (int64_t i = 0; i < (int64_t)p->rows * p->cols; i++) {
        uint32_t word = ggnn_random(&rng, l, n->num_params, (uint32_t)(i / 4)).word[i % 4];
        v[i] = (2 * ggnn_uniform(word) - 1) * limit;
    }
}

/* The flat arrays hold the parameters one after another without gaps, so that SAGE's two weights are one matrix. */
param net_parameter(net* n, const layer* y, const char* name, int32_t rows, int32_t cols, float fill)
{
    net_param* p = &n->param[n->num_params];
    mat shape = {.ld = cols, .cols = cols, .rows = {NULL, rows}};
    param made = {shape, shape};
    snprintf(p->name, sizeof p->name, "%s%d", name, (int)y->index);
    p->rows = rows;
    p->cols = cols;
    p->offset = n->state.count;
    n->state.count += (int64_t)rows * cols;
    n->widest = cols > n->widest ? cols : n->widest;
    if (n->memory) {
        made.v.v = n->state.value + p->offset;
        made.d.v = n->state.grad + p->offset;
    }
    if (n->memory && n->initial) { /* not where they are there already */
        float* first = n->initial + p->offset;
        for (int64_t i = 0; i < (int64_t)rows * cols && fill != GLOROT; i++) first[i] = fill;
        if (fill == GLOROT) fill_glorot(n, first, p, y->index);
    }
    n->num_params++;
    return made;
}
