/* bench_sample.c - random words; sampling one hop, without numbering what was drawn. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

/* ==== random ============================================================================================ */

enum { NODES = 1024, BLOCKS = 32 }; /* a row of 256 dropout fields: what an epilogue draws */
typedef struct {
    uint16_t* field;
    ggnn_rng rng;
} words;

static void run_fields(void* context)
{
    words* w = context;
    for (int64_t v = 0; v < NODES; v++)
        ggnn_dropout_fields(w->field + v * BLOCKS * 8, &w->rng, 0, v, 0, BLOCKS);
}

static void run_fields_plain(void* context)
{
    words* w = context;
    for (int64_t v = 0; v < NODES; v++)
        for (uint32_t i = 0; i < BLOCKS; i++) {
            ggnn_words block = ggnn_random(&w->rng, 0, v, i);
            for (int64_t j = 0; j < 8; j++)
                w->field[(v * BLOCKS + i) * 8 + j] = (uint16_t)ggnn_dropout_field(block, j);
        }
}

bool bench_random_words(bench* b)
{
    size_t bytes = NODES * BLOCKS * 8 * sizeof(uint16_t);
    words ours = {bench_new(b, bytes, "random fields"), {1, 0, GGNN_PURPOSE_DROPOUT}}, plain = ours;
    plain.field = bench_new(b, bytes, "random fields");
    if (!ours.field || !plain.field) return false;
    bench_case c = {.what = "Philox, widest vectors",
                    .threads = 1,
                    .run = run_fields,
                    .context = &ours,
                    .work = NODES * BLOCKS * 4,
                    .unit = "words",
                    .bytes = (double)bytes};
    const bench_result* fast = bench_measure(b, &c);
    snprintf(c.what, sizeof c.what, "one call after another");
    c.run = run_fields_plain;
    c.context = &plain;
    c.rival = true;
    const bench_result* slow = bench_measure(b, &c);
    if (slow && !bench_equal(b, "a field", ours.field, plain.field, bytes)) return false;
    return bench_ratio(b, fast, slow, "the scalar calls", 4);
}

/* ==== sample ============================================================================================ */

typedef struct {
    cpu_batch* batch; /* (threads) */
    int64_t threads;
} hop_run;

static void sample_one(void* context, int64_t i)
{
    hop_run* h = context;
    h->batch[i].rng.step += (uint32_t)h->threads; /* other draws each time */
    cpu_batch_sample(&h->batch[i]);
}
static void run_hop(void* context) { ggnn_parallel_for(((hop_run*)context)->threads, sample_one, context); }

typedef struct {
    const cpu_batch* like;
    int64_t* indptr;
    ggnn_node* neighbor;
    int64_t edges;
} plain_hop;

static void run_plain_hop(void* context)
{
    plain_hop* p = context;
    p->edges = naive_hop(p->indptr, p->neighbor, &p->like->graph, &p->like->rng, 0, p->like->batch.how.fanout[0],
                         p->like->seeds, p->like->num_seeds);
}

/* The same draws by the plain loop, and the answers beside each other. */
static bool compare_hop(bench* b, const bench_case* like, const bench_result* ours, cpu_batch* s)
{
    const ggnn_block* hop = &s->batch.hop[0];
    plain_hop p = {s, NULL, NULL, 0};
    bench_case c = *like;
    p.indptr = bench_new(b, ((size_t)s->num_seeds + 1) * sizeof *p.indptr, "offsets");
    p.neighbor = bench_new(b, (size_t)(s->num_seeds * s->batch.how.fanout[0]) * sizeof *p.neighbor, "neighbours");
    if (!p.indptr || !p.neighbor) return false;
    snprintf(c.what, sizeof c.what, "%.40s: scalar loop", like->what);
    c.threads = 1;
    c.run = run_plain_hop;
    c.context = &p;
    c.rival = true;
    c.work = (double)*hop->num_edges.n;
    const bench_result* plain = bench_measure(b, &c);
    if (!plain) return !b->why.text[0];
    return bench_equal(b, "offsets", hop->indptr, p.indptr, ((size_t)s->num_seeds + 1) * sizeof *p.indptr) &&
           bench_equal(b, "neighbours", hop->neighbor, p.neighbor, (size_t)p.edges * sizeof *p.neighbor) &&
           bench_ratio(b, ours, plain, "the scalar loop", 9);
}

/* One hop from the targets; each thread samples a batch of its own. */
static bool sample_hop(bench* b, const bench_graph* g, const ggnn_node* target, int64_t n, ggnn_method method,
                       int64_t fanout, const char* name, int32_t threads)
{
    const int32_t wanted[] = {(int32_t)fanout};
    ggnn_sampling how = ggnn_sampling_plain(method, wanted, 1);
    hop_run h = {bench_new(b, (size_t)threads * sizeof *h.batch, "batches"), threads};
    bench_case c = {.threads = threads, .run = run_hop, .context = &h, .unit = "edges", .cold = true};
    if (!h.batch) return false;
    how.last_hop_global = 1;
    for (int32_t i = 0; i < threads; i++) {
        if (!cpu_batch_open(b, &h.batch[i], &g->graph, &how, target, n,
                            ggnn_unique_choose(g->graph.num_nodes)))
            return false;
        h.batch[i].rng.step = (uint32_t)i;
    }
    double lines = cpu_batch_lines(b, &h.batch[0]);
    cpu_batch_sample(&h.batch[0]);
    double edges = (double)*h.batch[0].batch.hop[0].num_edges.n;
    if (lines < 0) return false;
    snprintf(c.what, sizeof c.what, "%s, %lld x %lld", name, (long long)n, (long long)fanout);
    c.work = edges * threads;
    c.bytes = threads * (64 * lines + edges * (double)sizeof(ggnn_node) + 8. * (double)n);
    c.demand[0] = (bench_demand){"lines", 0, lines}; /* the threads' batches share lines */
    const bench_result* ours = bench_measure(b, &c);
    if (h.batch[0].status != GGNN_OK)
        return error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(h.batch[0].status));
    if (method != GGNN_FISHER_YATES) return ours != NULL;
    return ours && (threads > 1 || compare_hop(b, &c, ours, &h.batch[0]));
}

bool bench_sample(bench* b)
{
    const bench_graph* g = bench_graph_of(b);
    int64_t count, batch = b->o.own ? b->o.rows : g ? g->batch : 0;
    const ggnn_node* seeds = g ? cpu_seeds(b, g, batch, &count) : NULL;
    cpu_batch s;
    if (!seeds) return false;
    if (b->o.own)
        return sample_hop(b, g, seeds, batch, GGNN_FISHER_YATES, b->o.degree, "Fisher-Yates", b->threads);
    ggnn_sampling how = cpu_sampling(g);
    if (!cpu_batch_open(b, &s, &g->graph, &how, seeds, batch, ggnn_unique_choose(g->graph.num_nodes)))
        return false;
    cpu_batch_sample(&s);
    int64_t targets = *s.batch.hop[2].num_dst.n; /* of the last hop: the batch's largest */
    if (!sample_hop(b, g, seeds, batch, GGNN_FISHER_YATES, g->fanout[0], "Fisher-Yates", 1)) return false;
    if (!sample_hop(b, g, s.batch.id, targets, GGNN_FISHER_YATES, g->fanout[2], "Fisher-Yates", 1))
        return false;
    if (!sample_hop(b, g, s.batch.id, targets, GGNN_FISHER_YATES, g->fanout[0], "Fisher-Yates", 1))
        return false;
    if (b->threads > 1 &&
        !sample_hop(b, g, s.batch.id, targets, GGNN_FISHER_YATES, g->fanout[0], "Fisher-Yates", b->threads))
        return false;
    for (int i = 0; i < GGNN_NUM_METHODS; i++) { /* the others */
        const ggnn_method method = (ggnn_method)i;
        const bool scans = ggnn_method_has(method, GGNN_METHOD_SCANS);
        if (method == GGNN_FISHER_YATES || ggnn_method_has(method, GGNN_METHOD_WALKS)) continue;
        if (!sample_hop(b, g, scans ? seeds : s.batch.id, scans ? batch : targets, method, g->fanout[0],
                        ggnn_method_name(method), 1))
            return false;
    }
    return true;
}
