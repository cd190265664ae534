/* bench_batch.c - whole mini-batches: every hop sampled and numbered; a block's transpose. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

typedef struct {
    cpu_batch* batch; /* (threads) */
    const ggnn_node* seeds;
    int64_t threads, size, count; /* seeds of a batch, in all */
} batches;

/* Successive batches of an epoch: other seeds and other draws each time. */
static void next_batch(const batches* all, cpu_batch* s)
{
    s->rng.step += (uint32_t)all->threads;
    s->seeds = all->seeds + s->rng.step * all->size % (all->count - all->size + 1);
    cpu_batch_sample(s);
}
static void sample_one(void* context, int64_t i) { next_batch(context, &((batches*)context)->batch[i]); }
static void run_batches(void* context) { ggnn_parallel_for(((batches*)context)->threads, sample_one, context); }

/* ---- the plain twin ------------------------------------------------------------------------------------ */

typedef struct {
    const batches* all;
    const ggnn_graph* graph;
    const ggnn_sampling* how;
    ggnn_rng rng;
    const ggnn_node* seeds;
    naive_slot* table;
    uint64_t mask;
    ggnn_node *id, *neighbor;
    int32_t* local[3];
    int64_t* indptr[3];
    int64_t count, edges[3];
} plain_batch;

static void sample_plain(plain_batch* p)
{
    memset(p->table, 0, (p->mask + 1) * sizeof *p->table);
    p->count = naive_append(p->table, p->mask, p->id, 0, NULL, p->seeds, p->all->size);
    for (int32_t h = 0; h < 3; h++) {
        p->edges[h] =
            naive_hop(p->indptr[h], p->neighbor, p->graph, &p->rng, h, p->how->fanout[h], p->id, p->count);
        p->count = naive_append(p->table, p->mask, p->id, p->count, p->local[h], p->neighbor, p->edges[h]);
    }
}

static void run_plain(void* context)
{
    plain_batch* p = context;
    p->rng.step++;
    p->seeds = p->all->seeds + p->rng.step * p->all->size % (p->all->count - p->all->size + 1);
    sample_plain(p);
}

static bool open_plain(bench* b, plain_batch* p, const batches* all, const cpu_batch* like)
{
    int64_t rows = all->size, ids = like->batch.max_ids, most = 0;
    memset(p, 0, sizeof *p);
    p->all = all;
    p->graph = &like->graph;
    p->how = &like->batch.how;
    p->rng = like->rng;
    for (p->mask = 15; (int64_t)p->mask < 2 * ids; p->mask = 2 * p->mask + 1) continue;
    p->table = bench_new(b, (p->mask + 1) * sizeof *p->table, "a hash table");
    p->id = bench_new(b, (size_t)(ids + 1) * sizeof *p->id, "ids");
    for (int h = 0; h < 3; h++) {
        int64_t edges = like->batch.hop[h].num_edges.max;
        p->local[h] = bench_new(b, (size_t)edges * sizeof *p->local[h], "edges");
        p->indptr[h] = bench_new(b, ((size_t)rows + 1) * sizeof *p->indptr[h], "offsets");
        rows = like->batch.hop[h].num_src.max;
        most = edges > most ? edges : most;
    }
    p->neighbor = bench_new(b, (size_t)most * sizeof *p->neighbor, "neighbours");
    return !b->why.text[0];
}

/* The plain twin of the very batch that s holds, hop by hop. */
static bool same_batch(bench* b, const cpu_batch* s, plain_batch* p)
{
    p->rng.step = s->rng.step;
    p->seeds = s->seeds;
    sample_plain(p);
    for (int32_t h = 0; h < 3; h++) {
        const ggnn_block* hop = &s->batch.hop[h];
        size_t rows = (size_t)*hop->num_dst.n;
        if (!bench_equal(b, "offsets", hop->indptr, p->indptr[h], (rows + 1) * sizeof *hop->indptr) ||
            !bench_equal(b, "edges", hop->indices, p->local[h], (size_t)p->edges[h] * sizeof *hop->indices))
            return false;
    }
    return bench_equal(b, "ids", s->batch.id, p->id, (size_t)p->count * sizeof *p->id);
}

/* ---- cases --------------------------------------------------------------------------------------------- */

static double edges_of(const cpu_batch* s)
{
    double edges = 0;
    for (int32_t h = 0; h < s->batch.num_hops; h++) edges += (double)*s->batch.hop[h].num_edges.n;
    return edges;
}

static bool open_batches(bench* b, batches* all, const ggnn_graph* g, const ggnn_sampling* how,
                         int32_t threads)
{
    all->threads = threads;
    all->batch = bench_new(b, (size_t)threads * sizeof *all->batch, "batches");
    for (int32_t i = 0; all->batch && i < threads; i++) {
        if (!cpu_batch_open(b, &all->batch[i], g, how, all->seeds, all->size,
                            ggnn_unique_choose(g->num_nodes)))
            return false;
        all->batch[i].rng.step = (uint32_t)i;
        next_batch(all, &all->batch[i]);
    }
    return all->batch != NULL;
}

/* Edges of a batch differ from batch to batch by a per cent or so: the work is the first ones'. */
static const bench_result* measure_batches(bench* b, batches* all, const char* name)
{
    bench_case c = {.threads = (int32_t)all->threads, .run = run_batches, .context = all, .unit = "edges"};
    double edges = 0, lines = cpu_batch_lines(b, &all->batch[0]);
    if (lines < 0) return NULL;
    for (int64_t i = 0; i < all->threads; i++) {
        edges += edges_of(&all->batch[i]);
        c.bytes += cpu_batch_bytes(&all->batch[i], lines);
    }
    snprintf(c.what, sizeof c.what, "%s, %lld seeds", name, (long long)all->size);
    c.work = edges;
    c.demand[0] = (bench_demand){"lines", 0, lines}; /* the threads' batches share lines */
    const bench_result* r = bench_measure(b, &c);
    for (int64_t i = 0; i < all->threads; i++)
        if (all->batch[i].status != GGNN_OK)
            error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(all->batch[i].status));
    return r;
}

typedef struct {
    ggnn_block* transpose;
    const ggnn_block* block;
} transposing;
static void run_transpose(void* context)
{
    transposing* t = context;
    ggnn_block_transpose(t->transpose, t->block);
}

static bool transpose_hop(bench* b, const ggnn_block* hop)
{
    ggnn_block t;
    transposing context = {&t, hop};
    int64_t dst = *hop->num_dst.n, src = *hop->num_src.n, edges = *hop->num_edges.n;
    void* memory = bench_new(b, ggnn_block_transpose_bytes(dst, src, edges), "a transpose");
    if (!memory) return false;
    ggnn_block_transpose_init(&t, dst, src, edges, memory);
    bench_case c = {.what = "transpose of the last hop",
                    .run = run_transpose,
                    .context = &context,
                    .work = (double)edges,
                    .unit = "edges",
                    .cold = true};
    c.bytes = (double)edges * 12 + (double)(src + dst) * 8;
    cpu_stream(&c);
    return bench_measure(b, &c) != NULL;
}

bool bench_batches(bench* b)
{
    const bench_graph* g = bench_graph_of(b);
    batches one = {NULL, NULL, 1, 0, 0}, all, global;
    plain_batch p;
    if (!g) return false;
    ggnn_sampling how = cpu_sampling(g), last_global;
    one.size = b->o.own ? b->o.rows : g->batch;
    for (int h = 0; b->o.own && h < 3; h++) how.fanout[h] = (int32_t)b->o.degree;
    if (!(one.seeds = cpu_seeds(b, g, one.size, &one.count))) return false;
    all = global = one;
    if (!open_batches(b, &one, &g->graph, &how, 1) || !open_plain(b, &p, &one, &one.batch[0])) return false;
    const bench_result* single = measure_batches(b, &one, "a batch");
    const bench_result *many = single, *plain;
    if (!single || (how.fanout[0] <= 64 && !same_batch(b, &one.batch[0], &p))) return false;
    if (b->threads > 1) {
        if (!open_batches(b, &all, &g->graph, &how, b->threads)) return false;
        if (!(many = measure_batches(b, &all, "a batch a thread"))) return false;
    }
    last_global = how;
    last_global.last_hop_global = 1;
    if (!open_batches(b, &global, &g->graph, &last_global, b->threads)) return false;
    if (!measure_batches(b, &global, "last hop not numbered")) return false;
    bench_case c = {.what = "scalar loop, plain hash table",
                    .threads = 1,
                    .run = run_plain,
                    .context = &p,
                    .work = edges_of(&one.batch[0]),
                    .bytes = single->kase.bytes,
                    .unit = "edges",
                    .rival = true};
    plain = bench_measure(b, &c);
    return bench_ratio(b, single, plain, "the scalar loop, one thread", 8) &&
           bench_ratio(b, many, plain, "the scalar loop on one thread, a batch a thread", 14) &&
           transpose_hop(b, &one.batch[0].batch.hop[2]);
}
