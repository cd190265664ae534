#include <string.h>

#include "bench/cpu.h"

bool cpu_batch_open(bench* b, cpu_batch* s, const ggnn_graph* g, const ggnn_sampling* how,
                    const ggnn_node* seeds, int64_t num_seeds, ggnn_unique_kind kind)
{
    void *memory, *table;
    ggnn_unique* seen;
    memset(s, 0, sizeof *s);
    if (ggnn_batch_plan(&s->batch, g, how, num_seeds, NULL) != GGNN_OK)
        return error_set(&b->why, "%s: a batch of %lld seeds: %s", b->entry, (long long)num_seeds, s->batch.fault.what);
    const int64_t ids = s->batch.max_ids;
    table = bench_new(b, ggnn_unique_bytes(kind, g->num_nodes, ids), "the ids of a mini-batch");
    if (!table) return false;
    seen = ggnn_unique_init(table, kind, g->num_nodes, ids);
    ggnn_batch_plan(&s->batch, g, how, num_seeds, seen);
    if (!(memory = bench_new(b, s->batch.bytes, "a mini-batch"))) return false;
    s->graph = *g;
    s->rng = (ggnn_rng){1, 0, GGNN_PURPOSE_SAMPLE};
    s->seeds = seeds;
    s->num_seeds = num_seeds;
    return ggnn_batch_init(&s->batch, memory) == GGNN_OK;
}

void cpu_batch_sample(cpu_batch* s)
{
    ggnn_status status = ggnn_sample(&s->batch, &s->graph, &s->rng, s->seeds, s->num_seeds);
    if (s->status == GGNN_OK) s->status = status;
}

ggnn_sampling cpu_sampling(const bench_graph* g)
{
    return ggnn_sampling_plain(GGNN_FISHER_YATES, g->fanout, g->num_hops);
}

const ggnn_node* cpu_seeds(bench* b, const bench_graph* g, int64_t least, int64_t* count)
{
    bool all = b->o.own || least > g->num_train;
    int64_t n = all ? g->graph.num_nodes : g->num_train;
    ggnn_node* seeds = bench_new(b, (size_t)n * sizeof *seeds, "seeds");
    if (n < least)
        error_set(&b->why, "%s: %lld different seeds of a graph of %lld nodes", b->entry, (long long)least,
                  (long long)n);
    if (!seeds || b->why.text[0]) return NULL;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = ggnn_shuffle(1, 0, i, n);
        seeds[i] = all ? (ggnn_node)at : g->train[at];
    }
    *count = n;
    return seeds;
}

/* ---- the least that sampling reads --------------------------------------------------------------------- */

static int64_t mark(char* marks, int64_t line)
{
    int64_t first = !marks[line];
    marks[line] = 1;
    return first;
}

double cpu_batch_bytes(const cpu_batch* s, double lines)
{
    double edges = 0;
    for (int32_t h = 0; h < s->batch.num_hops; h++) edges += (double)*s->batch.hop[h].num_edges.n;
    return 64 * lines + edges * (double)(sizeof(int32_t) + sizeof(ggnn_node));
}

double cpu_batch_lines(bench* b, const cpu_batch* like)
{
    const int64_t ids = 64 / (int64_t)sizeof(ggnn_node), offsets = 8; /* in a line */
    const ggnn_graph* g = &like->graph;
    ggnn_sampling how = like->batch.how;
    cpu_batch s;
    int64_t lines = 0;
    how.keep |= GGNN_KEEP_POSITIONS;
    char* marks = bench_new(b, (size_t)(g->num_edges / ids + 1), "marks of lines");
    char* rows = bench_new(b, (size_t)(g->num_nodes / offsets + 1), "marks of lines");
    if (!marks || !rows || !cpu_batch_open(b, &s, g, &how, like->seeds, like->num_seeds, GGNN_UNIQUE_HASH))
        return -1;
    cpu_batch_sample(&s);
    for (int32_t h = 0; h < s.batch.num_hops; h++) {
        const ggnn_block* block = &s.batch.hop[h];
        for (int64_t e = 0; e < *block->num_edges.n; e++) lines += mark(marks, block->position[e] / ids);
        for (int64_t v = 0; v < *block->num_dst.n; v++) lines += mark(rows, (int64_t)s.batch.id[v] / offsets);
    }
    return (double)lines;
}
