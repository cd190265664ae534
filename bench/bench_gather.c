/* bench_gather.c - rows of a store by id: random ones, a mini-batch's; into a kept and into a fresh output.
 */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"
#include "common/memory.h"
#include "common/parallel.h"

typedef struct {
    const ggnn_store* from;
    const ggnn_node* id;
    int64_t n;
    float* out;    /* (n, width), kept; NULL: a fresh one each time */
    float* source; /* memcpy's */
    error* why;    /* of fresh outputs */
} gather_run;

static void run_gather(void* context)
{
    gather_run* g = context;
    ggnn_gather(g->out, g->from->width, GGNN_F32, g->from, g->id, g->n);
}

static void run_fresh(void* context)
{
    gather_run* g = context;
    float* out = memory_new((size_t)(g->n * g->from->width) * sizeof *out, "a fresh output", g->why);
    if (out) ggnn_gather(out, g->from->width, GGNN_F32, g->from, g->id, g->n);
    memory_free(out);
}

static void run_plain(void* context)
{
    gather_run* g = context;
    naive_gather(g->out, g->from, g->id, g->n);
}

enum { PIECES = 64 };
static void copy_piece(void* context, int64_t i)
{
    gather_run* g = context;
    int64_t all = g->n * g->from->width, begin = parallel_begin(all, i, PIECES),
            end = parallel_begin(all, i + 1, PIECES);
    memcpy(g->out + begin, g->source + begin, (size_t)(end - begin) * sizeof *g->out);
}
static void run_memcpy(void* context) { ggnn_parallel_for(PIECES, copy_piece, context); }

/* How many of the ids are different. */
static int64_t distinct(bench* b, const ggnn_node* id, int64_t n, int64_t rows)
{
    int64_t count = 0;
    char* used = bench_new(b, (size_t)rows, "marks of used rows");
    if (!used) return -1;
    for (int64_t i = 0; i < n; i++) used[id[i]] = 1;
    for (int64_t i = 0; i < rows; i++) count += used[i];
    return count;
}

static bool fill_case(bench* b, bench_case* c, const gather_run* g)
{
    int64_t row = g->from->width * ggnn_type_bytes(g->from->type), rows = g->from->at.stored;
    int64_t used = distinct(b, g->id, g->n, rows);
    c->work = (double)g->n;
    c->unit = "rows";
    c->bytes = (double)(used * row) + (double)g->n * (4. * g->from->width + (double)sizeof *g->id);
    memset(c->demand, 0, sizeof c->demand);
    cpu_stream(c);
    cpu_demand(c, cpu_touch((double)(used * row), row, (double)(g->n * row)));
    if (used * row > cpu_last_cache()) cpu_demand(c, (bench_demand){"rows", row, (double)(used * row)});
    return used >= 0;
}

/* Beside memcpy of as many bytes and a loop of memcpys, for rows of floats. */
static bool compare_gather(bench* b, bench_case c, const char* what, const bench_result* ours,
                           const gather_run* kept)
{
    gather_run plain = *kept;
    size_t bytes = (size_t)(kept->n * kept->from->width) * sizeof(float);
    plain.out = bench_new(b, bytes, "rows");
    plain.source = bench_new(b, bytes, "rows");
    if (!plain.out || !plain.source) return false;
    bench_fill(plain.source, (int64_t)(bytes / sizeof(float)), 5);
    c.rival = true;
    c.context = &plain;
    c.run = run_memcpy;
    snprintf(c.what, sizeof c.what, "%s, F %d: memcpy of the bytes", what, (int)kept->from->width);
    const bench_result* copied = bench_measure(b, &c);
    c.run = run_plain;
    snprintf(c.what, sizeof c.what, "%s, F %d: memcpy by rows", what, (int)kept->from->width);
    const bench_result* looped = bench_measure(b, &c);
    if (!b->o.once && !b->o.alone && !bench_equal(b, "a row", kept->out, plain.out, bytes) && looped) return false;
    return bench_ratio(b, ours, copied, "memcpy of the same bytes", c.threads == 1 ? .8 : 1) &&
           bench_ratio(b, ours, looped, "memcpy row by row", 0);
}

/* what: "random", "a batch's". With one thread and with all where both. */
static bool gather_rows(bench* b, const ggnn_store* from, const ggnn_node* id, int64_t n, const char* what,
                        bool cold, bool both)
{
    gather_run g = {from, id, n, NULL, NULL, &b->why};
    bench_case c = {.context = &g, .cold = cold};
    if (!(g.out = bench_new(b, (size_t)(n * from->width) * sizeof *g.out, "rows"))) return false;
    for (c.threads = both ? 1 : b->threads;; c.threads = b->threads) {
        if (!fill_case(b, &c, &g)) return false;
        c.run = run_gather;
        snprintf(c.what, sizeof c.what, "%s, %lld rows, F %d%s, kept", what, (long long)n, (int)from->width,
                 from->type == GGNN_F16 ? " f16" : "");
        const bench_result* ours = bench_measure(b, &c);
        if (!ours) return false;
        if (from->type == GGNN_F32 && !b->o.own && !compare_gather(b, c, what, ours, &g)) return false;
        if (c.threads == b->threads) break;
    }
    c.run = run_fresh;
    snprintf(c.what, sizeof c.what, "%s, %lld rows, F %d%s, fresh", what, (long long)n, (int)from->width,
             from->type == GGNN_F16 ? " f16" : "");
    return bench_measure(b, &c) != NULL;
}

static bool random_ids(bench* b, ggnn_node** id, int64_t n, int64_t rows)
{
    uint64_t state = 17;
    *id = bench_new(b, (size_t)n * sizeof **id, "ids");
    for (int64_t i = 0; *id && i < n; i++) (*id)[i] = (ggnn_node)(bench_random(&state) % (uint64_t)rows);
    return *id != NULL;
}

/* A table of `rows` rows of its own. */
static bool gather_made(bench* b, int64_t rows, int64_t n, int32_t width, ggnn_type type, bool both)
{
    ggnn_node* id;
    size_t bytes = (size_t)(rows * width) * (size_t)ggnn_type_bytes(type);
    void* table = bench_new(b, bytes + 4, "a table");
    if (!table || !random_ids(b, &id, n, rows)) return false;
    if (type == GGNN_F32) bench_fill(table, rows * width, 3);
    else
        for (int64_t i = 0; i < rows * width; i++) ((uint16_t*)table)[i] = (uint16_t)(i * 40503 & 0x3bff);
    ggnn_store from = ggnn_store_plain(table, rows, width, type);
    return gather_rows(b, &from, id, n, "random", false, both);
}

/* Rows of a mini-batch's sources, in the batch's order. */
static bool gather_batch(bench* b, const bench_graph* g)
{
    cpu_batch s;
    int64_t count;
    ggnn_sampling how = cpu_sampling(g);
    const ggnn_node* seeds = cpu_seeds(b, g, g->batch, &count);
    if (!seeds || !cpu_batch_open(b, &s, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH)) return false;
    cpu_batch_sample(&s);
    return gather_rows(b, &g->features, s.batch.id, *s.batch.hop[2].num_src.n, "a batch's", true, false);
}

bool bench_gather(bench* b)
{
    const bench_options* o = &b->o;
    const bench_graph* g;
    ggnn_node* id;
    int64_t n = o->quick ? 1 << 12 : 1 << 19, bytes = o->quick ? 8 << 20 : 512 << 20;
    if (o->own)
        return gather_made(b, o->sources ? o->sources : o->rows, o->rows,
                           o->features ? (int32_t)o->features : 128,
                           o->type < 0 ? GGNN_F32 : (ggnn_type)o->type, false);
    if (!(g = bench_graph_of(b))) return false;
    if (n > g->graph.num_nodes) n = g->graph.num_nodes;
    if (!random_ids(b, &id, n, g->graph.num_nodes)) return false;
    if (!gather_rows(b, &g->features, id, n, "random", false, true) || !gather_batch(b, g)) return false;
    return gather_made(b, bytes / 128, n, 32, GGNN_F32, false) &&
           gather_made(b, bytes / 400, n, 100, GGNN_F32, false) &&
           gather_made(b, bytes / 256, n, 128, GGNN_F16, false);
}
