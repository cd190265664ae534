/* bench_threads.c - the same work by more threads; more work by the same threads. */
#include <string.h>

#include "bench/balance.h"
#include "bench/cpu.h"
#include "bench/touch.h"
#include "trainer/cpu/gemm.h"

typedef struct { /* of one operation or another */
    ggnn_block block;
    float *inp, *out;
    int32_t width;
    ggnn_store from;
    ggnn_node* id;
    int64_t n;
    cpu_batch* batch;
    int64_t batches;
    ggnn_unique* seen;
    ggnn_node* list;
    void* workspace;
} work;

static void run_spmm(void* context)
{
    work* w = context;
    ggnn_spmm(w->out, w->width, NULL, GGNN_SUM, &w->block, NULL, NULL, 1, w->inp, w->width, w->width);
}
static void run_softmax(void* context)
{
    work* w = context;
    ggnn_edge_softmax(w->out, &w->block, w->inp, 1);
}
static void run_gather(void* context)
{
    work* w = context;
    ggnn_gather(w->out, w->width, GGNN_F32, &w->from, w->id, w->n);
}
static void run_unique(void* context)
{
    work* w = context;
    int64_t bad;
    ggnn_unique_begin(w->seen);
    ggnn_unique_append(w->seen, w->list, NULL, w->id, w->n, &bad);
}
static void run_gemm(void* context)
{
    work* w = context;
    gemm(w->out, w->width, w->inp, w->width, false, w->inp, w->width, false, w->n, w->width, w->width, 0,
         w->workspace);
}
static void sample_one(void* context, int64_t i)
{
    cpu_batch* s = &((work*)context)->batch[i];
    s->rng.step += 64;
    cpu_batch_sample(s);
}
static void run_batches(void* context) { ggnn_parallel_for(((work*)context)->batches, sample_one, context); }

/* ==== threads =========================================================================================== */

/* One case by 1, 2, 4, .. and all threads; says how many times faster than by one. */
static bool by_threads(bench* b, const bench_case* like)
{
    const bench_result* one = NULL;
    for (int32_t threads = 1;; threads = 2 * threads < b->threads ? 2 * threads : b->threads) {
        bench_case c = *like;
        c.threads = threads;
        const bench_result* r = bench_measure(b, &c);
        if (!r) return false;
        if (!one) one = r;
        else if (!bench_ratio(b, r, one, "one thread", 0)) return false;
        if (threads == b->threads) return true;
    }
}

static bool threads_of_batches(bench* b, work* w)
{
    const bench_graph* g = bench_graph_of(b);
    int64_t count;
    double edges = 0, bytes = 0;
    const ggnn_node* seeds = g ? cpu_seeds(b, g, g->batch, &count) : NULL;
    w->batches = 2 * b->threads;
    w->batch = bench_new(b, (size_t)w->batches * sizeof *w->batch, "batches");
    if (!seeds || !w->batch) return false;
    ggnn_sampling how = cpu_sampling(g);
    for (int64_t i = 0; i < w->batches; i++) {
        const ggnn_node* first = seeds + i * g->batch % (count - g->batch + 1);
        if (!cpu_batch_open(b, &w->batch[i], &g->graph, &how, first, g->batch,
                            ggnn_unique_choose(g->graph.num_nodes)))
            return false;
        w->batch[i].rng.step = (uint32_t)i;
        cpu_batch_sample(&w->batch[i]);
        for (int h = 0; h < 3; h++) edges += (double)*w->batch[i].batch.hop[h].num_edges.n;
        const double lines = cpu_batch_lines(b, &w->batch[i]);
        if (lines < 0) return false;
        bytes += cpu_batch_bytes(&w->batch[i], lines);
    }
    bench_case c = {.run = run_batches, .context = w, .work = edges, .unit = "edges", .bytes = bytes};
    snprintf(c.what, sizeof c.what, "%lld mini-batches", (long long)w->batches);
    return by_threads(b, &c);
}

static bool threads_of_sparse(bench* b, work* w, int64_t rows)
{
    w->width = 128;
    w->n = rows;
    w->inp = bench_new(b, (size_t)rows * 128 * sizeof *w->inp, "rows");
    w->out = bench_new(b, (size_t)rows * 128 * sizeof *w->out, "rows");
    w->workspace = bench_new(b, gemm_workspace_bytes(rows, 128, 128), "a workspace");
    w->id = bench_new(b, (size_t)rows * sizeof *w->id, "ids");
    if (b->why.text[0] || !bench_block(b, &w->block, rows, 16, rows)) return false;
    bench_fill(w->inp, rows * 128, 1);
    for (int64_t i = 0; i < rows; i++) w->id[i] = (ggnn_node)(i * 7919 % rows);
    bench_case c = {.context = w, .run = run_spmm};
    snprintf(c.what, sizeof c.what, "SpMM, %lld rows of degree 16, F 128", (long long)rows);
    if (!cpu_demand_rows(b, &c, &w->block, FLOPS_SUM, 128, 1, 512. * (double)rows, 0) || !by_threads(b, &c)) return false;
    bench_case s = {.context = w,
                    .run = run_softmax,
                    .unit = "edges",
                    .work = 16. * (double)rows,
                    .bytes = (8. * 16 + 8) * (double)rows,
                    .flops = flops(FLOPS_SOFTMAX, 16. * (double)rows, (double)rows, 0, 1)};
    cpu_stream(&s);
    snprintf(s.what, sizeof s.what, "edge softmax, %lld rows of degree 16", (long long)rows);
    if (!by_threads(b, &s)) return false;
    bench_case p = {.context = w, .run = run_gemm, .unit = "FLOP", .work = 2. * 128 * 128 * (double)rows};
    p.flops = p.work;
    p.bytes = 4. * (2. * 128 * (double)rows + 128. * 128);
    p.demand[0] = (bench_demand){"madd", 0, p.flops};
    snprintf(p.what, sizeof p.what, "A B, %lld x 128 x 128", (long long)rows);
    return by_threads(b, &p);
}

/* Of the graph, on machines that nobody has here. */
static bool balance(bench* b)
{
    static const int32_t width[] = {32, 128, 32, 32, 32, 128, 128, 1, 1}, threads[] = {8, 64, 256};
    static const balance_of op[] = {BALANCE_SUM, BALANCE_SUM, BALANCE_MAX, BALANCE_DOT, BALANCE_MESSAGES, BALANCE_GAT, BALANCE_GAT_BACK,
                                    BALANCE_SOFTMAX, BALANCE_SOFTMAX_BACK};
    static const char* const name[] = {"sum", "sum", "max", "dot", "edge rows", "attention", "its gradient", "softmax", "its gradient"};
    bench_table t = {.label = "counted", .what = "operations of the graph, work of the busiest thread beside the mean", .unit = "times", .columns = 3,
                     .column = {"8 threads", "64 threads", "256 threads"}};
    int64_t counts[3];
    ggnn_block whole;
    if (!bench_graph_of(b) || !cpu_whole_graph(b, &whole, counts)) return false;
    for (int i = 0; i < (int)(sizeof op / sizeof *op); i++) {
        char row[24];
        double is[3];
        for (int k = 0; k < 3; k++)
            is[k] = balance_counted(op[i], whole.indptr, whole.indices, *whole.num_dst.n, *whole.num_src.n, width[i], threads[k]);
        snprintf(row, sizeof row, "%s, F %d", name[i], (int)width[i]);
        if (!bench_figures(b, &t, row, is)) return false;
    }
    return true;
}

static void clear_row(void* context, int64_t i)
{
    work* w = context;
    memset(w->inp + i * w->width, 0, (size_t)w->width * sizeof *w->inp);
}
static void run_rows(void* context) { ggnn_parallel_for(((work*)context)->n, clear_row, context); }

/* Who writes rows, and who uses them next: an operation that leaves them in `out`, and one that reads or changes them as `inp`. */
static bool first_touch(bench* b, work* w)
{
    static const struct { const char* row; void (*write)(void*); void (*use)(void*); } pair[] = {
        {"gather, product", run_gather, run_gemm}, {"mean, product", run_spmm, run_gemm}, {"product, rows", run_gemm, run_rows}};
    bench_table t = {.label = "counted", .what = "pages used next by the thread that wrote them first", .unit = "share", .columns = 1};
    float *read = w->inp, *written = w->out, *rows = touch_new((size_t)w->n * 128 * sizeof *rows);
    snprintf(t.column[0], sizeof t.column[0], "%d threads", (int)b->threads);
    if (!rows) {
        bench_say(b, "first touch: this system does not tell who touches a page");
        return true;
    }
    bool good = true;
    w->from = ggnn_store_plain(read, w->n, 128, GGNN_F32);
    for (int i = 0; good && i < 3; i++) {
        double share = 0;
        for (int turn = 0; turn < BENCH_TURNS; turn++) {
            w->inp = read, w->out = rows;
            touch_writers();
            pair[i].write(w);
            w->inp = rows, w->out = written;
            touch_users();
            pair[i].use(w);
            share += touch_share() / BENCH_TURNS;
        }
        good = bench_figures(b, &t, pair[i].row, &share);
    }
    touch_free();
    return good;
}

bool bench_threads(bench* b)
{
    work w;
    memset(&w, 0, sizeof w);
    return threads_of_batches(b, &w) && threads_of_sparse(b, &w, b->o.quick ? 1 << 12 : 1 << 18) && first_touch(b, &w) && balance(b);
}

/* ==== growth ============================================================================================ */

static bool grow_spmm(bench* b, int64_t edges)
{
    work w;
    int64_t rows = edges / 16 ? edges / 16 : 1;
    int32_t mark = bench_mark(b);
    memset(&w, 0, sizeof w);
    w.width = 32;
    w.inp = bench_new(b, (size_t)rows * 32 * sizeof *w.inp, "rows");
    w.out = bench_new(b, (size_t)rows * 32 * sizeof *w.out, "rows");
    if (b->why.text[0] || !bench_block(b, &w.block, rows, 16, rows)) return false;
    bench_fill(w.inp, rows * 32, 1);
    bench_case c = {.context = &w, .run = run_spmm};
    snprintf(c.what, sizeof c.what, "SpMM, F 32, %.0e edges", (double)edges);
    if (!cpu_demand_rows(b, &c, &w.block, FLOPS_SUM, 32, 1, 128. * (double)rows, 0)) return false;
    const bench_result* r = bench_measure(b, &c);
    bench_release(b, mark);
    return r != NULL;
}

static bool grow_ids(bench* b, int64_t n)
{
    work w;
    int32_t mark = bench_mark(b);
    int64_t rows = n < 1 << 22 ? n : 1 << 22;
    uint64_t state = 3;
    memset(&w, 0, sizeof w);
    w.n = n;
    w.width = 32;
    w.id = bench_new(b, (size_t)n * sizeof *w.id, "ids");
    w.list = bench_new(b, (size_t)(n + 1) * sizeof *w.list, "distinct ids");
    w.inp = bench_new(b, (size_t)rows * 32 * sizeof *w.inp, "rows");
    w.out = bench_new(b, (size_t)n * 32 * sizeof *w.out, "rows");
    void* table = bench_new(b, ggnn_unique_bytes(ggnn_unique_choose(rows), rows, rows), "a table");
    if (b->why.text[0]) return false;
    w.seen = ggnn_unique_init(table, ggnn_unique_choose(rows), rows, rows);
    bench_fill(w.inp, rows * 32, 1);
    for (int64_t i = 0; i < n; i++) w.id[i] = (ggnn_node)(bench_random(&state) % (uint64_t)rows);
    w.from = ggnn_store_plain(w.inp, rows, 32, GGNN_F32);
    bench_case u = {.context = &w, .run = run_unique, .work = (double)n, .unit = "ids", .threads = 1};
    run_unique(&w);
    u.bytes = cpu_unique_bytes((double)n, 0, (double)w.seen->count, (double)rows, 1, ggnn_unique_choose(rows));
    snprintf(u.what, sizeof u.what, "append-unique, %.0e ids", (double)n);
    bench_case g = {.context = &w,
                    .run = run_gather,
                    .work = (double)n,
                    .unit = "rows",
                    .bytes = 260. * (double)n,
                    .demand = {cpu_touch(128. * (double)rows, 128, 128. * (double)n)}};
    snprintf(g.what, sizeof g.what, "gather, F 32, %.0e rows", (double)n);
    bool good = bench_measure(b, &u) && bench_measure(b, &g);
    bench_release(b, mark);
    return good;
}

static bool grow_batch(bench* b, int64_t seeds)
{
    const bench_graph* g = bench_graph_of(b);
    int32_t mark = bench_mark(b);
    work w;
    cpu_batch s;
    int64_t count;
    memset(&w, 0, sizeof w);
    const ggnn_node* id = g ? cpu_seeds(b, g, seeds, &count) : NULL;
    if (!id) return false;
    ggnn_sampling how = cpu_sampling(g);
    if (!cpu_batch_open(b, &s, &g->graph, &how, id, seeds, ggnn_unique_choose(g->graph.num_nodes)))
        return false;
    cpu_batch_sample(&s);
    w.batch = &s;
    w.batches = 1;
    const double lines = cpu_batch_lines(b, &s);
    bench_case c = {.context = &w, .run = run_batches, .unit = "edges", .threads = 1, .bytes = cpu_batch_bytes(&s, lines)};
    for (int h = 0; h < 3; h++) c.work += (double)*s.batch.hop[h].num_edges.n;
    snprintf(c.what, sizeof c.what, "a mini-batch of %lld seeds", (long long)seeds);
    bool good = lines >= 0 && bench_measure(b, &c) != NULL;
    bench_release(b, mark);
    return good;
}

bool bench_growth(bench* b)
{
    int64_t most = b->o.quick ? 100000 : 100000000;
    for (int64_t edges = 1000; edges <= most; edges *= 10)
        if (!grow_spmm(b, edges)) return false;
    for (int64_t ids = 1000; ids <= most / 10; ids *= 10)
        if (!grow_ids(b, ids)) return false;
    for (int64_t seeds = 10; seeds <= most / 1000; seeds *= 10)
        if (!grow_batch(b, seeds)) return false;
    return true;
}
