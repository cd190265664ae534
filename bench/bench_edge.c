/* bench_edge.c - values on edges: SDDMM and edge softmax over the whole graph. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

typedef struct {
    const ggnn_block* block;
    ggnn_edge_op how;
    const float *src, *dst; /* rows; softmax: src is the logits */
    float *out, *plain;     /* (edges, heads) */
    int32_t heads, width;
} edge_run;

static void run_sddmm(void* context)
{
    edge_run* s = context;
    ggnn_sddmm(s->out, s->how, s->block, s->src, s->width, s->dst, s->width, s->heads, s->width);
}
static void run_plain_sddmm(void* context)
{
    edge_run* s = context;
    naive_sddmm(s->plain, s->block, s->src, s->dst, s->heads, s->width);
}
static void run_softmax(void* context)
{
    edge_run* s = context;
    ggnn_edge_softmax(s->out, s->block, s->src, s->heads);
}
static void run_plain_softmax(void* context)
{
    edge_run* s = context;
    naive_softmax(s->plain, s->block, s->src, s->heads);
}
static void run_spmm(void* context)
{
    edge_run* s = context;
    ggnn_spmm(s->plain, s->width, NULL, GGNN_SUM, s->block, NULL, NULL, 1, s->src, s->width, s->width);
}

/* ---- SDDMM --------------------------------------------------------------------------------------------- */

/* A dot of F = 32 moves what a sum of F = 32 does. */
static bool compare_spmm(bench* b, const edge_run* s, const bench_result* ours)
{
    edge_run sum = *s;
    bench_case c = {.run = run_spmm, .context = &sum, .rival = true};
    int64_t rows = *s->block->num_dst.n;
    snprintf(c.what, sizeof c.what, "SpMM sum of the same rows");
    if (!(sum.plain = bench_new(b, (size_t)(rows * s->width) * sizeof *sum.plain, "rows"))) return false;
    if (!cpu_demand_rows(b, &c, s->block, FLOPS_SUM, s->width, 1, 4. * (double)(rows * s->width), 0)) return false;
    const bench_result* other = bench_measure(b, &c);
    return bench_ratio(b, ours, other, "SpMM of the same rows", 1 / 1.05);
}

static bool sddmm(bench* b, const ggnn_block* block, int32_t width, int32_t heads, ggnn_edge_op how)
{
    edge_run s = {.block = block, .how = how, .heads = heads, .width = width};
    int64_t src = *block->num_src.n, dst = *block->num_dst.n, edges = *block->num_edges.n;
    int32_t mark = bench_mark(b);
    float *x = bench_new(b, (size_t)(src * width) * sizeof *x, "rows"), *y;
    y = bench_new(b, (size_t)(dst * width) * sizeof *y, "rows");
    s.out = bench_new(b, (size_t)(edges * heads) * sizeof *s.out, "edges");
    s.plain = bench_new(b, (size_t)(edges * heads) * sizeof *s.plain, "edges");
    if (b->why.text[0]) return false;
    bench_fill(x, src * width, 1);
    bench_fill(y, dst * width, 2);
    s.src = x;
    s.dst = y;
    bench_case c = {.run = run_sddmm, .context = &s};
    const flops_of math = how == GGNN_DOT ? FLOPS_DOT : FLOPS_ADD;
    if (!cpu_demand_rows(b, &c, block, math, width, heads, 4. * (double)(dst * width), 4. * heads)) return false;
    snprintf(c.what, sizeof c.what, "%s, F %d, heads %d", how == GGNN_DOT ? "dot" : "add", (int)width,
             (int)heads);
    const bench_result* ours = bench_measure(b, &c);
    if (!ours) return false;
    if (how == GGNN_DOT) {
        c.run = run_plain_sddmm;
        c.rival = true;
        snprintf(c.what, sizeof c.what, "plain loop, F %d, heads %d", (int)width, (int)heads);
        const bench_result* slow = bench_measure(b, &c);
        if (slow && !bench_near(b, "a dot", s.out, s.plain, edges * heads, 1e-5)) return false;
        if (!bench_ratio(b, ours, slow, "the plain loop", 0)) return false;
        if (heads == 1 && !compare_spmm(b, &s, ours)) return false;
    }
    bench_release(b, mark);
    return true;
}

bool bench_sddmm(bench* b)
{
    ggnn_block block;
    int64_t counts[3];
    int32_t width = b->o.features ? (int32_t)b->o.features : 32, heads = b->o.heads ? (int32_t)b->o.heads : 1;
    if (width % heads)
        return error_set(&b->why, "--heads %d: must divide --features %d", (int)heads, (int)width);
    if (!cpu_block_of_run(b, &block, counts) || !sddmm(b, &block, width, heads, GGNN_DOT)) return false;
    if (b->o.own) return true;
    return sddmm(b, &block, 128, 4, GGNN_DOT) && sddmm(b, &block, 4, 4, GGNN_ADD);
}

/* ---- edge softmax -------------------------------------------------------------------------------------- */

static bool softmax(bench* b, const ggnn_block* block, int32_t heads)
{
    edge_run s = {.block = block, .heads = heads};
    int64_t n = *block->num_edges.n * heads;
    int32_t mark = bench_mark(b);
    float* logit = bench_new(b, (size_t)n * sizeof *logit, "logits");
    s.out = bench_new(b, (size_t)n * sizeof *s.out, "edges");
    s.plain = bench_new(b, (size_t)n * sizeof *s.plain, "edges");
    if (b->why.text[0]) return false;
    bench_fill(logit, n, 3);
    s.src = logit;
    bench_case c = {.run = run_softmax, .context = &s, .work = (double)*block->num_edges.n, .unit = "edges"};
    c.bytes = 8. * (double)n + 8. * (double)*block->num_dst.n;
    c.flops = flops(FLOPS_SOFTMAX, c.work, (double)*block->num_dst.n, 0, heads);
    cpu_stream(&c);
    snprintf(c.what, sizeof c.what, "heads %d", (int)heads);
    const bench_result* ours = bench_measure(b, &c);
    c.run = run_plain_softmax;
    c.rival = true;
    snprintf(c.what, sizeof c.what, "three loops with expf, heads %d", (int)heads);
    const bench_result* slow = bench_measure(b, &c);
    if (slow && !bench_near(b, "a coefficient", s.out, s.plain, n, 1e-5)) return false;
    if (!bench_ratio(b, ours, slow, "three loops with expf", 0)) return false;
    bench_release(b, mark);
    return ours != NULL;
}

bool bench_softmax(bench* b)
{
    ggnn_block block;
    int64_t counts[3];
    if (!cpu_block_of_run(b, &block, counts)) return false;
    if (b->o.heads) return softmax(b, &block, (int32_t)b->o.heads);
    return softmax(b, &block, 1) && softmax(b, &block, 4);
}
