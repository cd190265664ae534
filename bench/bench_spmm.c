/* bench_spmm.c - SpMM over the whole graph, the fused input hop of a mini-batch, and the backward of both. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"
#include "common/memory.h"
#include "ggnn_reference.h"

typedef struct {
    const ggnn_block* block;
    ggnn_reduce how;
    const ggnn_scale* scale;
    const float *weight, *inp;
    float* out;
    int32_t heads, width;
    const ggnn_store* from; /* of the input hop */
    float* gathered;
    ggnn_block* transpose; /* of the backward */
    error* why;            /* of fresh outputs */
} spmm_run;

static void run_spmm(void* context)
{
    spmm_run* s = context;
    ggnn_spmm(s->out, s->width, NULL, s->how, s->block, s->scale, s->weight, s->heads, s->inp, s->width,
              s->width);
}

static void run_fresh(void* context)
{
    spmm_run* s = context;
    spmm_run fresh = *s;
    fresh.out =
        memory_new((size_t)(*s->block->num_dst.n * s->width) * sizeof(float), "a fresh output", s->why);
    if (fresh.out) run_spmm(&fresh);
    memory_free(fresh.out);
}

static void run_plain(void* context)
{
    spmm_run* s = context;
    naive_spmm(s->out, s->block, s->weight, s->heads, s->inp, s->width, s->how == GGNN_MEAN);
}

static size_t out_bytes(const spmm_run* s)
{
    return (size_t)(*s->block->num_dst.n * s->width) * sizeof(float);
}

/* The same by the plain loop, for as many threads. */
static bool compare_spmm(bench* b, const bench_case* like, const bench_result* ours, const spmm_run* s,
                         double goal)
{
    spmm_run plain = *s;
    bench_case c = *like;
    if (!(plain.out = bench_new(b, out_bytes(s), "rows"))) return false;
    snprintf(c.what, sizeof c.what, "%.44s: plain loop", like->what);
    c.run = run_plain;
    c.context = &plain;
    c.rival = true;
    const bench_result* slow = bench_measure(b, &c);
    /* sums of long rows go in segments of 256 here and in one piece there */
    if (slow && !bench_near(b, "the sum", s->out, plain.out, (int64_t)(out_bytes(s) / 4), 1e-4)) return false;
    return bench_ratio(b, ours, slow, "the plain loop", goal);
}

/* One width over a block; result of the kept output. */
static const bench_result* spmm_width(bench* b, const ggnn_block* block, const char* what, ggnn_reduce how,
                                      int32_t width, const float* weight, int32_t heads, const float* inp,
                                      int32_t threads, bool rival)
{
    spmm_run s = {.block = block,
                  .how = how,
                  .weight = weight,
                  .inp = inp,
                  .heads = heads,
                  .width = width,
                  .why = &b->why};
    bench_case c = {.threads = threads, .run = run_spmm, .context = &s};
    int32_t mark = bench_mark(b);
    if (!(s.out = bench_new(b, out_bytes(&s), "rows"))) return NULL;
    snprintf(c.what, sizeof c.what, "%s, F %d", what, (int)width);
    const flops_of math = weight ? FLOPS_WEIGHTED : how == GGNN_MEAN ? FLOPS_MEAN : how == GGNN_MAX ? FLOPS_MAX : FLOPS_SUM;
    if (!cpu_demand_rows(b, &c, block, math, width, heads, (double)out_bytes(&s), weight ? 4. * heads : 0)) return NULL;
    const bench_result* ours = bench_measure(b, &c);
    if (ours && rival) {
        c.run = run_fresh;
        snprintf(c.what, sizeof c.what, "%s, F %d, fresh", what, (int)width);
        if (!bench_measure(b, &c)) return NULL;
        snprintf(c.what, sizeof c.what, "%s, F %d", what, (int)width);
        if (!compare_spmm(b, &c, ours, &s, 0)) return NULL;
    }
    bench_release(b, mark);
    return ours;
}

/* ---- the input hop ------------------------------------------------------------------------------------- */

static void run_fused(void* context)
{
    spmm_run* s = context;
    ggnn_aggregate(s->out, s->width, s->how, s->block, NULL, NULL, 1, s->from);
}
static void run_apart(void* context)
{
    spmm_run* s = context;
    ggnn_gather(s->gathered, s->width, GGNN_F32, s->from, s->block->id, *s->block->num_src.n);
    ggnn_spmm(s->out, s->width, NULL, s->how, s->block, NULL, NULL, 1, s->gathered, s->width, s->width);
}

static bool input_hop(bench* b, const bench_graph* g, const cpu_batch* batch)
{
    const ggnn_block* hop = &batch->batch.hop[2];
    spmm_run s = {.block = hop, .how = GGNN_MEAN, .from = &g->features, .heads = 1};
    s.width = g->features.width;
    s.out = bench_new(b, out_bytes(&s), "rows");
    s.gathered = bench_new(b, (size_t)(*hop->num_src.n * s.width) * sizeof *s.gathered, "gathered rows");
    spmm_run apart = s, plain = s;
    apart.out = bench_new(b, out_bytes(&s), "rows");
    plain.out = bench_new(b, out_bytes(&s), "rows");
    plain.inp = s.gathered;
    if (b->why.text[0]) return false;
    bench_case c = {.run = run_fused, .context = &s, .cold = true};
    snprintf(c.what, sizeof c.what, "input hop from the store, mean, F %d", (int)s.width);
    if (!cpu_demand_rows(b, &c, hop, FLOPS_MEAN, s.width, 1, (double)out_bytes(&s), 0)) return false;
    const bench_result* fused = bench_measure(b, &c);
    c.run = run_apart;
    c.context = &apart;
    c.rival = true;
    snprintf(c.what, sizeof c.what, "gather, then mean");
    const bench_result* two = bench_measure(b, &c);
    c.run = run_plain;
    c.context = &plain;
    snprintf(c.what, sizeof c.what, "plain loop over gathered rows");
    const bench_result* loop = bench_measure(b, &c);
    if (two && !bench_equal(b, "the fused mean", s.out, apart.out, out_bytes(&s))) return false;
    if (loop && !bench_near(b, "the fused mean", s.out, plain.out, (int64_t)(out_bytes(&s) / 4), 1e-5))
        return false;
    return bench_ratio(b, fused, two, "gather, then mean", 1.5);
}

/* That of the first mini-batch. */
static bool spmm_hop(bench* b, const bench_graph* g)
{
    cpu_batch batch;
    int64_t count;
    ggnn_sampling how = cpu_sampling(g);
    const ggnn_node* seeds = cpu_seeds(b, g, g->batch, &count);
    if (!seeds || !cpu_batch_open(b, &batch, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH)) return false;
    cpu_batch_sample(&batch);
    return input_hop(b, g, &batch);
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static bool own_spmm(bench* b)
{
    ggnn_block block;
    const bench_options* o = &b->o;
    int64_t sources = o->sources ? o->sources : o->rows;
    int32_t width = o->features ? (int32_t)o->features : 128, heads = (int32_t)o->heads;
    float *inp = bench_new(b, (size_t)(sources * width) * sizeof *inp, "rows"), *weight = NULL;
    if (!inp || !bench_block(b, &block, o->rows, o->degree, sources)) return false;
    bench_fill(inp, sources * width, 1);
    if (heads && width % heads)
        return error_set(&b->why, "--heads %d: must divide --features %d", (int)heads, (int)width);
    if (heads && !(weight = bench_new(b, (size_t)(*block.num_edges.n * heads) * sizeof *weight, "weights")))
        return false;
    if (heads) bench_fill(weight, *block.num_edges.n * heads, 2);
    return spmm_width(b, &block, heads ? "weighted sum" : "mean", heads ? GGNN_SUM : GGNN_MEAN, width, weight,
                      heads ? heads : 1, inp, b->threads, false) != NULL;
}

bool bench_spmm(bench* b)
{
    static const int32_t usual[] = {32, 100, 128, 256}, small[] = {32, 100};
    const int32_t one = (int32_t)b->o.features, *width = one ? &one : b->o.quick ? small : usual;
    const int widths = one ? 1 : b->o.quick ? 2 : 4;
    const bench_graph* g;
    ggnn_block whole;
    int64_t counts[3], nodes;
    if (b->o.own) return own_spmm(b);
    if (!(g = bench_graph_of(b)) || !cpu_whole_graph(b, &whole, counts)) return false;
    nodes = g->graph.num_nodes;
    const int64_t floats = nodes * (one > 128 || !b->o.quick ? one > 256 ? one : 256 : 128);
    float* inp = bench_new(b, (size_t)floats * sizeof *inp, "rows");
    float* weight = bench_new(b, (size_t)(one ? 0 : g->graph.num_edges * 4) * sizeof *weight, "weights");
    if (!inp || !weight) return false;
    bench_fill(inp, one ? nodes * one : floats, 1);
    for (int i = 0; i < widths; i++)
        if (!spmm_width(b, &whole, "mean, graph", GGNN_MEAN, width[i], NULL, 1, inp, b->threads, !one))
            return false;
    if (one) return spmm_hop(b, g);
    bench_fill(weight, g->graph.num_edges * 4, 2);
    if (b->threads > 1 && !spmm_width(b, &whole, "mean, graph", GGNN_MEAN, 32, NULL, 1, inp, 1, false))
        return false;
    if (!spmm_width(b, &whole, "weighted, graph, 4 heads", GGNN_SUM, 128, weight, 4, inp, b->threads,
                    !b->o.quick) ||
        !spmm_width(b, &whole, "max, graph", GGNN_MAX, 32, NULL, 1, inp, b->threads, false))
        return false;
    return spmm_hop(b, g);
}

/* ---- backward: the transpose, then a gather; beside a scatter ------------------------------------------ */

static void run_back(void* context)
{
    spmm_run* s = context;
    ggnn_block_transpose(s->transpose, s->block);
    ggnn_spmm(s->out, s->width, NULL, GGNN_SUM, s->transpose, s->scale, NULL, 1, s->inp, s->width, s->width);
}
static void run_scatter(void* context)
{
    spmm_run* s = context;
    ggnn_ref_spmm_scatter(s->out, s->width, s->block, s->scale, NULL, 1, s->inp, s->width, s->width);
}

static bool back_width(bench* b, const ggnn_block* hop, ggnn_block* transpose, int32_t width)
{
    int64_t dst = *hop->num_dst.n, src = *hop->num_src.n;
    size_t bytes = (size_t)(src * width) * sizeof(float);
    float *dout = bench_new(b, (size_t)(dst * width) * sizeof *dout, "gradients"), *inv;
    inv = bench_new(b, (size_t)dst * sizeof *inv, "factors");
    spmm_run s = {.block = hop, .transpose = transpose, .inp = dout, .heads = 1, .width = width}, plain;
    s.out = bench_new(b, bytes, "gradients");
    plain = s;
    plain.out = bench_new(b, bytes, "gradients");
    if (b->why.text[0]) return false;
    bench_fill(dout, dst * width, 9);
    ggnn_scale_mean(inv, hop, 0);
    ggnn_scale forward = {NULL, inv, NULL}, backward = {inv, NULL, NULL};
    s.scale = &backward;
    plain.scale = &forward;
    bench_case c = {.run = run_back, .context = &s, .cold = true};
    ggnn_block_transpose(transpose, hop);
    if (!cpu_demand_rows(b, &c, transpose, FLOPS_WEIGHTED, width, 1, (double)bytes, 8)) return false; /* by 1 / degree */
    snprintf(c.what, sizeof c.what, "mean, last hop, transpose + gather, F %d", (int)width);
    const bench_result* ours = bench_measure(b, &c);
    snprintf(c.what, sizeof c.what, "scatter, F %d", (int)width);
    c.run = run_scatter;
    c.context = &plain;
    c.threads = 1;
    c.rival = true;
    const bench_result* slow = bench_measure(b, &c);
    if (slow && !bench_near(b, "a gradient", s.out, plain.out, src * width, 1e-5)) return false;
    return bench_ratio(b, ours, slow, "the scatter on one thread", 2);
}

bool bench_backward(bench* b)
{
    ggnn_block block, transpose;
    const ggnn_block* hop = &block;
    cpu_batch batch;
    int64_t count;
    if (b->o.own) {
        if (!bench_block(b, &block, b->o.rows, b->o.degree, b->o.sources ? b->o.sources : b->o.rows))
            return false;
    } else {
        const bench_graph* g = bench_graph_of(b);
        const ggnn_node* seeds = g ? cpu_seeds(b, g, g->batch, &count) : NULL;
        if (!seeds) return false;
        ggnn_sampling how = cpu_sampling(g);
        if (!cpu_batch_open(b, &batch, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH)) return false;
        cpu_batch_sample(&batch);
        hop = &batch.batch.hop[2];
    }
    void* memory = bench_new(
        b, ggnn_block_transpose_bytes(*hop->num_dst.n, *hop->num_src.n, *hop->num_edges.n), "a transpose");
    if (!memory) return false;
    ggnn_block_transpose_init(&transpose, *hop->num_dst.n, *hop->num_src.n, *hop->num_edges.n, memory);
    if (b->o.features) return back_width(b, hop, &transpose, (int32_t)b->o.features);
    return back_width(b, hop, &transpose, 128) && back_width(b, hop, &transpose, 256);
}
