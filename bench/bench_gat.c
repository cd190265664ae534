/* bench_gat.c - graph attention in one pass, forward over the whole graph and backward over a block. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

static const float SLOPE = .2f;

typedef struct {
    ggnn_block *block, *transpose;
    float *z, *el, *er, *dout;         /* inputs */
    float *out, *lse, *dz, *del, *der; /* ours */
    float *plain_out, *alpha, *plain_dz, *plain_del, *plain_der;
    float *delta, *dlogit; /* scratch of backward */
    int32_t heads, width;
} gat_run;

static ggnn_gat_layer layer_of(const gat_run* s)
{
    return (ggnn_gat_layer){.block = s->block, .z = s->z, .ld_z = s->width, .el = s->el, .er = s->er, .out = s->out,
                            .ld_out = s->width, .lse = s->lse, .heads = s->heads, .width = s->width,
                            .how = {.slope = SLOPE}, .del = s->del, .der = s->der, .delta = s->delta,
                            .dlogit = s->dlogit};
}

static void run_gat(void* context)
{
    gat_run* s = context;
    ggnn_gat_layer y = layer_of(s);
    ggnn_gat(&y);
}
static void run_plain_gat(void* context)
{
    gat_run* s = context;
    naive_gat(s->plain_out, s->alpha, s->block, s->z, s->el, s->er, s->heads, s->width, SLOPE);
}
static void run_sum(void* context) /* the weighted sum alone */
{
    gat_run* s = context;
    ggnn_spmm(s->plain_out, s->width, NULL, GGNN_SUM, s->block, NULL, s->alpha, s->heads, s->z, s->width,
              s->width);
}
static void run_back(void* context)
{
    gat_run* s = context;
    ggnn_block_transpose(s->transpose, s->block);
    ggnn_gat_layer y = layer_of(s);
    ggnn_gat_back(s->dz, s->width, s->transpose, &y, s->dout, s->width);
}
static void run_plain_back(void* context)
{
    gat_run* s = context;
    naive_gat_back(s->plain_dz, s->plain_del, s->plain_der, s->alpha, s->block, s->z, s->el, s->er, s->dout,
                   s->heads, s->width, SLOPE);
}

static float* floats(bench* b, int64_t n)
{
    return bench_new(b, (size_t)n * sizeof(float), "rows and scores");
}

static bool open_run(bench* b, gat_run* s, ggnn_block* block, int32_t width, int32_t heads)
{
    int64_t src = *block->num_src.n, dst = *block->num_dst.n, edges = *block->num_edges.n;
    memset(s, 0, sizeof *s);
    s->block = block;
    s->width = width;
    s->heads = heads;
    s->z = floats(b, src * width);
    s->el = floats(b, src * heads);
    s->er = floats(b, dst * heads);
    s->out = floats(b, dst * width);
    s->lse = floats(b, dst * heads);
    s->plain_out = floats(b, dst * width);
    s->alpha = floats(b, (edges + dst) * heads);
    if (b->why.text[0]) return false;
    bench_fill(s->z, src * width, 1);
    bench_fill(s->el, src * heads, 2);
    bench_fill(s->er, dst * heads, 3);
    return true;
}

/* Bytes beside the rows: scores read and written once. */
static double score_bytes(const gat_run* s)
{
    return 4. * s->heads * (double)(*s->block->num_src.n + 2 * *s->block->num_dst.n);
}

static bool forward(bench* b, gat_run* s, const char* what, bool cold, bool alone)
{
    bench_case c = {.run = run_gat, .context = s, .cold = cold};
    int64_t values = *s->block->num_dst.n * s->width;
    if (!cpu_demand_rows(b, &c, s->block, FLOPS_GAT, s->width, s->heads, 4. * (double)values + score_bytes(s), 0)) return false;
    snprintf(c.what, sizeof c.what, "%s forward, %d heads of %d", what, (int)s->heads,
             (int)(s->width / s->heads));
    const bench_result* ours = bench_measure(b, &c);
    c.run = run_plain_gat;
    c.rival = true;
    snprintf(c.what, sizeof c.what, "%s: three plain passes", what);
    const bench_result* slow = bench_measure(b, &c);
    if (slow && !bench_near(b, "an attended row", s->out, s->plain_out, values, 1e-4)) return false;
    if (!bench_ratio(b, ours, slow, "three plain passes", alone ? 5 : 0)) return false;
    if (!alone) return ours != NULL;
    c.run = run_sum;
    if (!cpu_demand_rows(b, &c, s->block, FLOPS_WEIGHTED, s->width, s->heads, 4. * (double)values, 4. * s->heads)) return false;
    snprintf(c.what, sizeof c.what, "%s: the weighted sum alone (ours)", what);
    const bench_result* sum = bench_measure(b, &c);
    return bench_ratio(b, ours, sum, "the weighted sum alone", 1 / 1.5);
}

static bool backward(bench* b, gat_run* s)
{
    ggnn_block t;
    bench_case c = {.run = run_back, .context = s, .cold = true};
    int64_t src = *s->block->num_src.n, dst = *s->block->num_dst.n, edges = *s->block->num_edges.n;
    void* memory = bench_new(b, ggnn_block_transpose_bytes(dst, src, edges), "a transpose");
    s->delta = floats(b, dst * s->heads);
    s->dlogit = floats(b, (dst + edges) * s->heads);
    s->dout = floats(b, dst * s->width);
    s->dz = floats(b, src * s->width);
    s->plain_dz = floats(b, src * s->width);
    s->del = floats(b, src * s->heads);
    s->plain_del = floats(b, src * s->heads);
    s->der = floats(b, dst * s->heads);
    s->plain_der = floats(b, dst * s->heads);
    if (b->why.text[0]) return false;
    bench_fill(s->dout, dst * s->width, 4);
    ggnn_block_transpose_init(&t, dst, src, edges, memory);
    s->transpose = &t;
    ggnn_block_transpose(&t, s->block);
    /* each edge reads the target's gradient, then its source's row stays */
    if (!cpu_demand_rows(b, &c, &t, FLOPS_GAT_BACK, s->width, s->heads, 8. * (double)(src * s->width) + score_bytes(s), 8))
        return false;
    snprintf(c.what, sizeof c.what, "last hop backward, %d heads of %d", (int)s->heads,
             (int)(s->width / s->heads));
    const bench_result* ours = bench_measure(b, &c);
    c.run = run_plain_back;
    c.threads = 1;
    c.rival = true;
    snprintf(c.what, sizeof c.what, "scatter, from kept coefficients");
    const bench_result* slow = bench_measure(b, &c);
    if (slow && (!bench_near(b, "dz", s->dz, s->plain_dz, src * s->width, 1e-4) ||
                 !bench_near(b, "del", s->del, s->plain_del, src * s->heads, 1e-4) ||
                 !bench_near(b, "der", s->der, s->plain_der, dst * s->heads, 1e-4)))
        return false;
    return bench_ratio(b, ours, slow, "the scatter on one thread", 2) && ours;
}

bool bench_gat(bench* b)
{
    ggnn_block block;
    gat_run s;
    cpu_batch batch;
    int64_t counts[3], count;
    int32_t heads = b->o.heads ? (int32_t)b->o.heads : 4,
            width = b->o.features ? (int32_t)b->o.features : 32 * heads;
    if (width % heads)
        return error_set(&b->why, "--heads %d: must divide --features %d", (int)heads, (int)width);
    if (b->o.own) {
        int64_t sources = b->o.sources ? b->o.sources : b->o.rows;
        if (sources < b->o.rows)
            return error_set(&b->why, "--sources %lld: a target attends to itself, so at least --rows",
                             (long long)sources);
        return bench_block(b, &block, b->o.rows, b->o.degree, sources) &&
               open_run(b, &s, &block, width, heads) && forward(b, &s, "own block", false, false) &&
               backward(b, &s);
    }
    int32_t mark = bench_mark(b);
    const bench_graph* g = bench_graph_of(b);
    if (!g || !cpu_whole_graph(b, &block, counts) || !open_run(b, &s, &block, width, heads) ||
        !forward(b, &s, "graph", false, true))
        return false;
    bench_release(b, mark);
    const ggnn_node* seeds = cpu_seeds(b, g, g->batch, &count);
    ggnn_sampling how = cpu_sampling(g);
    if (!seeds || !cpu_batch_open(b, &batch, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH))
        return false;
    cpu_batch_sample(&batch);
    return open_run(b, &s, &batch.batch.hop[2], width, heads) && forward(b, &s, "last hop", true, false) &&
           backward(b, &s);
}
