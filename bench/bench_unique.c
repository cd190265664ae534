/* bench_unique.c - append-unique on the ids of a real mini-batch's last hop. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

typedef struct {
    ggnn_unique* seen;
    naive_slot* table;
    uint64_t mask;
    const ggnn_node *first, *id; /* (num_first) targets, distinct; (n) their neighbours */
    int64_t num_first, n;
    ggnn_node* list;
    int32_t* local;
    int64_t count;
    ggnn_status status;
} unique_run;

static void run_unique(void* context)
{
    unique_run* u = context;
    int64_t bad;
    ggnn_unique_begin(u->seen);
    u->status = ggnn_unique_append(u->seen, u->list, NULL, u->first, u->num_first, &bad);
    if (u->status == GGNN_OK) u->status = ggnn_unique_append(u->seen, u->list, u->local, u->id, u->n, &bad);
    u->count = u->seen->count;
}

static void run_plain_unique(void* context)
{
    unique_run* u = context;
    memset(u->table, 0, (u->mask + 1) * sizeof *u->table);
    u->count = naive_append(u->table, u->mask, u->list, 0, NULL, u->first, u->num_first);
    u->count = naive_append(u->table, u->mask, u->list, u->count, u->local, u->id, u->n);
}

static bool open_run(bench* b, unique_run* u, const unique_run* like)
{
    *u = *like;
    u->list = bench_new(b, (size_t)(u->num_first + u->n + 1) * sizeof *u->list, "distinct ids");
    u->local = bench_new(b, (size_t)u->n * sizeof *u->local, "local ids");
    return u->list && u->local;
}

static void fill_case(bench_case* c, const unique_run* u, int64_t count, double nodes, ggnn_unique_kind kind)
{
    double ids = (double)(u->num_first + u->n), found = (double)count;
    double table = kind == GGNN_UNIQUE_DIRECT ? 4 * nodes : 32 * found;
    c->work = ids;
    c->unit = "ids";
    c->bytes = ids * ((double)sizeof(ggnn_node) + 4) + found * (double)sizeof(ggnn_node) +
               64 * (found < table / 64 ? found : table / 64);
    memset(c->demand, 0, sizeof c->demand);
    cpu_stream(c);
    if (table > (double)cpu_last_cache()) cpu_demand(c, (bench_demand){"lines", 0, found});
    else cpu_demand(c, cpu_touch(table < 64 * found ? table : 64 * found, 64, 64 * found));
}

static bool compare_unique(bench* b, const unique_run* like, int64_t nodes)
{
    static const char* const name[] = {"direct map", "hash table"};
    unique_run plain;
    const bench_result* ours[2];
    int64_t most = like->num_first + like->n;
    bool small = 4 * nodes <= cpu_last_cache() / 2; /* the map's home */
    if (!open_run(b, &plain, like)) return false;
    for (plain.mask = 15; (int64_t)plain.mask < 2 * most; plain.mask = 2 * plain.mask + 1) continue;
    plain.table = bench_new(b, (plain.mask + 1) * sizeof *plain.table, "a hash table");
    if (!plain.table) return false;
    run_plain_unique(&plain);
    bench_case c = {.threads = 1, .unit = "ids"};
    for (int kind = 0; kind < 2; kind++) {
        unique_run u;
        int64_t ids = most < nodes ? most : nodes;
        void* memory = bench_new(b, ggnn_unique_bytes((ggnn_unique_kind)kind, nodes, ids), "a table");
        if (!memory || !open_run(b, &u, like)) return false;
        u.seen = ggnn_unique_init(memory, (ggnn_unique_kind)kind, nodes, ids);
        fill_case(&c, &u, plain.count, (double)nodes, (ggnn_unique_kind)kind);
        snprintf(c.what, sizeof c.what, "%s, %lld ids, %lld distinct", name[kind], (long long)most,
                 (long long)plain.count);
        c.run = run_unique;
        c.context = &u;
        ours[kind] = bench_measure(b, &c);
        if (!ours[kind]) return false;
        if (u.status != GGNN_OK) return error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(u.status));
        if (u.count != plain.count ||
            !bench_equal(b, "the list", u.list, plain.list, (size_t)u.count * sizeof *u.list) ||
            !bench_equal(b, "local ids", u.local, plain.local, (size_t)u.n * sizeof *u.local))
            return error_set(&b->why, "%s: wrong answer: %lld distinct ids, %lld by the plain loop", b->entry,
                             (long long)u.count, (long long)plain.count);
    }
    snprintf(c.what, sizeof c.what, "plain hash table, %lld ids", (long long)most);
    c.run = run_plain_unique;
    c.context = &plain;
    c.rival = true;
    const bench_result* slow = bench_measure(b, &c);
    return bench_ratio(b, ours[0], slow, "the plain hash table, by the direct map", small ? 4 : 0) &&
           bench_ratio(b, ours[1], slow, "the plain hash table, by ours", 0);
}

static bool own_ids(bench* b)
{
    unique_run u;
    int64_t n = b->o.rows, nodes = b->o.sources ? b->o.sources : n;
    ggnn_node* id = bench_new(b, (size_t)n * sizeof *id, "ids");
    uint64_t state = 11;
    memset(&u, 0, sizeof u);
    for (int64_t i = 0; id && i < n; i++) id[i] = (ggnn_node)(bench_random(&state) % (uint64_t)nodes);
    u.id = id;
    u.n = n;
    return id && compare_unique(b, &u, nodes);
}

bool bench_unique(bench* b)
{
    const bench_graph* g;
    cpu_batch s;
    unique_run u;
    int64_t count;
    if (b->o.own) return own_ids(b);
    if (!(g = bench_graph_of(b))) return false;
    const ggnn_node* seeds = cpu_seeds(b, g, g->batch, &count);
    ggnn_sampling how = cpu_sampling(g);
    how.keep = GGNN_KEEP_NEIGHBORS;
    if (!seeds || !cpu_batch_open(b, &s, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH)) return false;
    cpu_batch_sample(&s);
    for (int h = 0; h < 3; h++) {
        const ggnn_block* hop = &s.batch.hop[h];
        memset(&u, 0, sizeof u);
        u.first = s.batch.id;
        u.num_first = *hop->num_dst.n;
        u.id = hop->neighbor;
        u.n = *hop->num_edges.n;
        if (!compare_unique(b, &u, g->graph.num_nodes)) return false;
    }
    return true;
}
