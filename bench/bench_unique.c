/* bench_unique.c - append-unique on the ids of real mini-batches, each hop by itself. Several batches in turn: of one
   alone a processor learns which ids are new. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"

enum { BATCHES = 16 };

typedef struct {
    const ggnn_node *first, *id; /* (num_first) targets, distinct; (n) their neighbours */
    int64_t num_first, n;
    int32_t* local; /* (n) */
} unique_batch;

typedef struct {
    ggnn_unique* seen;
    naive_slot* table;
    uint64_t mask;
    unique_batch batch[BATCHES];
    int batches;
    int64_t ids, most; /* of all batches; of the largest */
    ggnn_node* list;   /* of the last batch */
    int64_t count;     /* distinct ids of all batches, and of the last */
    int64_t last;
    ggnn_status status;
} unique_run;

static void run_unique(void* context)
{
    unique_run* u = context;
    int64_t bad;
    u->count = 0;
    for (int i = 0; i < u->batches && u->status == GGNN_OK; i++) {
        const unique_batch* of = &u->batch[i];
        ggnn_unique_begin(u->seen);
        u->status = ggnn_unique_append(u->seen, u->list, NULL, of->first, of->num_first, &bad);
        if (u->status == GGNN_OK) u->status = ggnn_unique_append(u->seen, u->list, of->local, of->id, of->n, &bad);
        u->count += u->last = u->seen->count;
    }
}

static void run_plain_unique(void* context)
{
    unique_run* u = context;
    u->count = 0;
    for (int i = 0; i < u->batches; i++) {
        const unique_batch* of = &u->batch[i];
        memset(u->table, 0, (u->mask + 1) * sizeof *u->table);
        u->last = naive_append(u->table, u->mask, u->list, 0, NULL, of->first, of->num_first);
        u->last = naive_append(u->table, u->mask, u->list, u->last, of->local, of->id, of->n);
        u->count += u->last;
    }
}

static bool open_run(bench* b, unique_run* u, const unique_run* like)
{
    *u = *like;
    u->list = bench_new(b, (size_t)(u->most + 1) * sizeof *u->list, "distinct ids");
    for (int i = 0; u->list && i < u->batches; i++)
        if (!(u->batch[i].local = bench_new(b, (size_t)u->batch[i].n * sizeof(int32_t), "local ids"))) return false;
    return u->list != NULL;
}

static void add_batch(unique_run* u, const ggnn_node* first, int64_t num_first, const ggnn_node* id, int64_t n)
{
    u->batch[u->batches++] = (unique_batch){first, id, num_first, n, NULL};
    u->ids += num_first + n;
    if (u->most < num_first + n) u->most = num_first + n;
}

/* Of one batch: an entry of 4 bytes a node, or two of 16 an id found. */
static double table_bytes(double found, double nodes, int batches, ggnn_unique_kind kind)
{
    return kind == GGNN_UNIQUE_DIRECT ? 4 * nodes : 32 * found / batches;
}

double cpu_unique_bytes(double ids, double local, double found, double nodes, int batches, ggnn_unique_kind kind)
{
    const double lines = batches * table_bytes(found, nodes, batches, kind) / 64; /* of the tables */
    return (ids + found) * (double)sizeof(ggnn_node) + local * 4 + 64 * (found < lines ? found : lines);
}

static void fill_case(bench_case* c, const unique_run* u, int64_t count, double nodes, ggnn_unique_kind kind)
{
    double ids = (double)u->ids, found = (double)count;
    double table = table_bytes(found, nodes, u->batches, kind);
    c->work = ids;
    c->unit = "ids";
    c->bytes = cpu_unique_bytes(ids, ids, found, nodes, u->batches, kind);
    memset(c->demand, 0, sizeof c->demand);
    cpu_stream(c);
    if (table > (double)cpu_last_cache()) cpu_demand(c, (bench_demand){"lines", 0, found});
    else cpu_demand(c, cpu_touch(table < 64 * found ? table : 64 * found, 64, 64 * found));
}

static bool same_answer(bench* b, const unique_run* u, const unique_run* plain)
{
    if (u->status != GGNN_OK) return error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(u->status));
    if (u->count != plain->count)
        return error_set(&b->why, "%s: wrong answer: %lld distinct ids, %lld by the plain loop", b->entry,
                         (long long)u->count, (long long)plain->count);
    for (int i = 0; i < u->batches; i++)
        if (!bench_equal(b, "local ids", u->batch[i].local, plain->batch[i].local,
                         (size_t)u->batch[i].n * sizeof(int32_t)))
            return false;
    return bench_equal(b, "the list", u->list, plain->list, (size_t)u->last * sizeof *u->list);
}

static bool compare_unique(bench* b, const unique_run* like, int64_t nodes)
{
    static const char* const name[] = {"direct map", "hash table"};
    unique_run plain;
    const bench_result* ours[2];
    int64_t many = like->ids / like->batches; /* of a batch, on average */
    bool small = 4 * nodes <= cpu_last_cache() / 2; /* the map's home */
    if (!open_run(b, &plain, like)) return false;
    for (plain.mask = 15; (int64_t)plain.mask < 2 * plain.most; plain.mask = 2 * plain.mask + 1) continue;
    plain.table = bench_new(b, (plain.mask + 1) * sizeof *plain.table, "a hash table");
    if (!plain.table) return false;
    run_plain_unique(&plain);
    bench_case c = {.threads = 1, .unit = "ids"};
    for (int kind = 0; kind < 2; kind++) {
        unique_run u;
        int64_t ids = plain.most < nodes ? plain.most : nodes;
        void* memory = bench_new(b, ggnn_unique_bytes((ggnn_unique_kind)kind, nodes, ids), "a table");
        if (!memory || !open_run(b, &u, like)) return false;
        u.seen = ggnn_unique_init(memory, (ggnn_unique_kind)kind, nodes, ids);
        fill_case(&c, &u, plain.count, (double)nodes, (ggnn_unique_kind)kind);
        snprintf(c.what, sizeof c.what, "%s, %d x %lld ids, %lld distinct", name[kind], plain.batches,
                 (long long)many, (long long)(plain.count / plain.batches));
        c.run = run_unique;
        c.context = &u;
        ours[kind] = bench_measure(b, &c);
        if (!ours[kind] || !same_answer(b, &u, &plain)) return false;
    }
    snprintf(c.what, sizeof c.what, "plain hash table, %d x %lld ids", plain.batches, (long long)many);
    c.run = run_plain_unique;
    c.context = &plain;
    c.rival = true;
    const bench_result* slow = bench_measure(b, &c);
    return bench_ratio(b, ours[0], slow, "the plain hash table, by the direct map", small ? 4 : 0) &&
           bench_ratio(b, ours[1], slow, "the plain hash table, by ours", 0);
}

static bool own_ids(bench* b) /* one batch */
{
    unique_run u;
    int64_t n = b->o.rows, nodes = b->o.sources ? b->o.sources : n;
    ggnn_node* id = bench_new(b, (size_t)n * sizeof *id, "ids");
    uint64_t state = 11;
    if (!id) return false;
    memset(&u, 0, sizeof u);
    for (int64_t i = 0; i < n; i++) id[i] = (ggnn_node)(bench_random(&state) % (uint64_t)nodes);
    add_batch(&u, NULL, 0, id, n);
    return compare_unique(b, &u, nodes);
}

/* Adds hop h of a batch, copied: the next batch is sampled into the same memory. */
static bool keep_hop(bench* b, unique_run* u, const ggnn_batch* batch, int h)
{
    const ggnn_block* hop = &batch->hop[h];
    size_t targets = (size_t)*hop->num_dst.n, edges = (size_t)*hop->num_edges.n;
    ggnn_node* id = bench_new(b, (targets + edges) * sizeof *id, "a hop's ids");
    if (!id) return false;
    memcpy(id, batch->id, targets * sizeof *id);
    memcpy(id + targets, hop->neighbor, edges * sizeof *id);
    add_batch(u, id, (int64_t)targets, id + targets, (int64_t)edges);
    return true;
}

bool bench_unique(bench* b)
{
    const bench_graph* g;
    cpu_batch s;
    unique_run u[3];
    int64_t count;
    if (b->o.own) return own_ids(b);
    if (!(g = bench_graph_of(b))) return false;
    const ggnn_node* seeds = cpu_seeds(b, g, g->batch, &count);
    ggnn_sampling how = cpu_sampling(g);
    how.keep = GGNN_KEEP_NEIGHBORS;
    if (!seeds || !cpu_batch_open(b, &s, &g->graph, &how, seeds, g->batch, GGNN_UNIQUE_HASH)) return false;
    memset(u, 0, sizeof u);
    for (uint32_t i = 0; i < BATCHES; i++) {
        s.rng.step = i;
        s.seeds = seeds + i * g->batch % (count - g->batch + 1);
        cpu_batch_sample(&s);
        if (s.status != GGNN_OK) return error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(s.status));
        for (int h = 0; h < 3; h++)
            if (!keep_hop(b, &u[h], &s.batch, h)) return false;
    }
    for (int h = 0; h < 3; h++)
        if (!compare_unique(b, &u[h], g->graph.num_nodes)) return false;
    return true;
}
