/* ggnn_py.c - what the Python package calls: ggnn.h and ggnn_frontier.h behind functions that ctypes can name. Built twice,
   for ids of 32 and of 64 bits (GGNN_NODE64); only what EXPORT marks is seen from outside, so both live in one process.
   No function calls back into Python. Each returns a ggnn_status, unless it says so; arrays are the caller's. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* ==== threads: a pool of its own =====================================================================================
   A second OpenMP runtime beside torch's is a known trap. One call at a time has the pool: what is called meanwhile, by
   another thread, runs on its caller. After fork() the child makes a pool of its own. */

static struct {
    pthread_mutex_t busy, lock; /* busy: who has the pool */
    pthread_cond_t started, done;
    void (*body)(void* context, int64_t i);
    void* context;
    int64_t n, next;   /* next: of [0, n), taken by whoever is free */
    int64_t job;       /* the number of the call: a new one starts the threads */
    int running;       /* threads that have not ended this job */
    int wanted, made;  /* threads beside the caller's */
    int forks_are_seen;
} pool = {.busy = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER, .started = PTHREAD_COND_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

static void take_pieces(void)
{
    int64_t i;
    while ((i = __atomic_fetch_add(&pool.next, 1, __ATOMIC_RELAXED)) < pool.n) pool.body(pool.context, i);
}

typedef struct {
    int index;    /* of the thread, from 0 */
    int64_t seen; /* the last job before it was made */
} thread_start;

static void* be_a_thread(void* argument)
{
    const thread_start start = *(thread_start*)argument;
    int64_t seen = start.seen;
    free(argument);
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.job == seen) pthread_cond_wait(&pool.started, &pool.lock);
        seen = pool.job;
        const int needed = start.index < pool.wanted;
        pthread_mutex_unlock(&pool.lock);
        if (needed) take_pieces();
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0) pthread_cond_signal(&pool.done);
    }
    return NULL;
}

static void forget_threads(void) /* in a child, which has none of them */
{
    const int wanted = pool.wanted;
    memset(&pool, 0, sizeof pool);
    pthread_mutex_init(&pool.busy, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.started, NULL);
    pthread_cond_init(&pool.done, NULL);
    pool.wanted = wanted;
    pool.forks_are_seen = 1;
}

static void make_threads(void) /* by who has the pool */
{
    if (!pool.forks_are_seen) pool.forks_are_seen = pthread_atfork(NULL, NULL, forget_threads) == 0;
    while (pool.made < pool.wanted) {
        pthread_t thread;
        thread_start* start = malloc(sizeof *start);
        if (!start) return;
        start->index = pool.made;
        start->seen = pool.job;
        if (pthread_create(&thread, NULL, be_a_thread, start) != 0) {
            free(start);
            return; /* fewer do the work */
        }
        pthread_detach(thread);
        pool.made++;
    }
}

static void run_pieces(int64_t n, void (*body)(void* context, int64_t i), void* context)
{
    if (n <= 1 || __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED) == 0 || pthread_mutex_trylock(&pool.busy) != 0) {
        for (int64_t i = 0; i < n; i++) body(context, i);
        return;
    }
    make_threads();
    pthread_mutex_lock(&pool.lock);
    pool.body = body;
    pool.context = context;
    pool.n = n;
    pool.next = 0;
    pool.running = pool.made;
    pool.job++;
    pthread_cond_broadcast(&pool.started);
    pthread_mutex_unlock(&pool.lock);
    take_pieces();
    pthread_mutex_lock(&pool.lock);
    while (pool.running > 0) pthread_cond_wait(&pool.done, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.busy);
}

/* Threads that work on one call, the caller's included: 1 or more. */
EXPORT void ggnn_py_set_threads(int threads)
{
    pthread_mutex_lock(&pool.busy);
    pthread_mutex_lock(&pool.lock);
    __atomic_store_n(&pool.wanted, threads > 1 ? threads - 1 : 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.busy);
}
EXPORT int ggnn_py_threads(void) { return __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED) + 1; }

#define GGNN_PARALLEL_FOR(n, body, context) run_pieces(n, body, context)
#define GGNN_IMPLEMENTATION
#define GGNN_FRONTIER_IMPLEMENTATION
#include "ggnn_frontier.h"

/* ==== what Python lays out ========================================================================================= */

typedef struct { /* neighbour lists of the nodes of one type */
    int64_t num_dst, num_src, num_edges;
    const int64_t* indptr;    /* (num_dst + 1) */
    const ggnn_node* indices; /* (num_edges) */
    const float* weight;      /* (num_edges) or NULL */
    const int64_t* time;      /* (num_edges) or NULL */
    int64_t src, dst;         /* types of nodes */
} ggnn_py_relation;

typedef struct { /* a block of local ids; edge: of a transpose */
    int64_t num_dst, num_src, num_edges;
    const int64_t* indptr;
    const int32_t* indices;
    const int32_t* edge;
} ggnn_py_block;

/* Of which Python has its own: it refuses a library that differs. */
EXPORT const char* ggnn_py_version(void) { return GGNN_VERSION; }
EXPORT int64_t ggnn_py_size(int what)
{
    const int64_t sizes[] = {sizeof(ggnn_node), sizeof(ggnn_py_relation), sizeof(ggnn_py_block)};
    return what >= 0 && what < 3 ? sizes[what] : -1;
}
EXPORT const char* ggnn_py_status(int status) { return ggnn_status_string((ggnn_status)status); }
EXPORT const char* ggnn_py_method(int method) { return ggnn_method_name((ggnn_method)method); }

/* ==== graphs ======================================================================================================== */

/* Lists that fall, end elsewhere, or name a source that there is not; *node gets the first target, *edge the position. */
EXPORT int ggnn_py_check(const ggnn_py_relation* r, int64_t* node, int64_t* edge)
{
    for (int64_t v = 0; v <= r->num_dst; v++) {
        *node = v ? v - 1 : 0; /* list v - 1 ends here */
        *edge = -1;
        const int64_t from = v ? r->indptr[v - 1] : 0;
        if (r->indptr[v] < from || (v == 0 && r->indptr[0] != 0) || r->indptr[v] > r->num_edges) return GGNN_ERROR_ID;
    }
    if (r->indptr[r->num_dst] != r->num_edges) return GGNN_ERROR_ID;
    for (int64_t e = 0; e < r->num_edges; e++) {
        const int bad_weight = r->weight && !ggnn_weight_valid(r->weight[e]);
        if (r->indices[e] >= 0 && r->indices[e] < r->num_src && !bad_weight) continue;
        *edge = e;
        for (*node = 0; r->indptr[*node + 1] <= e;) (*node)++;
        return bad_weight ? GGNN_ERROR_WEIGHT : GGNN_ERROR_ID;
    }
    return GGNN_OK;
}

/* Lists from edges src[e] -> dst[e], in input order: indptr (num_nodes + 1), indices, position (num_edges). */
EXPORT int ggnn_py_from_coo(int64_t* indptr, ggnn_node* indices, int64_t* position, const ggnn_node* src, const ggnn_node* dst, int64_t num_nodes,
                            int64_t num_edges, int64_t* edge)
{
    ggnn_lists lists = {num_nodes, num_edges, indptr, indices, NULL, position};
    ggnn_fault fault;
    const ggnn_status status = ggnn_graph_from_coo(&lists, src, dst, NULL, &fault);
    *edge = fault.edge;
    return status;
}

/* ==== a sampler: a frontier whose memory grows ==================================================================== */

typedef struct {
    ggnn_frontier f;
    int64_t* num_nodes;
    ggnn_relation* relation;
    const int64_t** node_time;
    int64_t* seed_time;
    int64_t seed_room;
    size_t workspace_bytes;
    int timed, again; /* again: each hop asks all that were found */
    char message[300];
} ggnn_py_sampler;

static int grow(void* array, int64_t n, size_t size) /* realloc of *array; false: no memory */
{
    void* larger = realloc(*(void**)array, (size_t)(n ? n : 1) * size);
    if (larger) *(void**)array = larger;
    return larger != NULL;
}

static int grow_found(ggnn_py_sampler* s, int32_t t, int64_t room)
{
    ggnn_found* found = &s->f.found[t];
    if (room <= found->max && found->table) return 1;
    /* half as much again, so that few batches grow it */
    const int64_t most = s->f.disjoint ? INT32_MAX : s->num_nodes[t];
    room = room + room / 2 + 64 < most ? room + room / 2 + 64 : room > most ? room : most;
    if (room > INT32_MAX) return 0;
    if (!grow(&found->id, room + 1, sizeof *found->id)) return 0;
    if (!s->f.disjoint) found->key = found->id;
    else if (!grow(&found->subgraph, room + 1, sizeof *found->subgraph) || !grow(&found->key, room + 1, sizeof *found->key)) return 0;
    const int64_t before = found->max;
    found->max = room;
    void* table = malloc(ggnn_frontier_table_bytes(&s->f, t));
    void* old = found->table;
    if (!table || ggnn_frontier_table(&s->f, t, table) != GGNN_OK) {
        free(table);
        found->max = before;
        return 0;
    }
    free(old);
    return 1;
}

static int grow_taken(ggnn_py_sampler* s, int32_t r, int64_t room)
{
    ggnn_taken* taken = &s->f.taken[r];
    if (room <= taken->max && taken->src) return 1;
    room += room / 2 + 64;
    if (!grow(&taken->src, room, sizeof *taken->src) || !grow(&taken->dst, room, sizeof *taken->dst) ||
        !grow(&taken->position, room, sizeof *taken->position))
        return 0;
    taken->max = room;
    return 1;
}

EXPORT void ggnn_py_sampler_free(ggnn_py_sampler* s)
{
    if (!s) return;
    for (int32_t t = 0; s->f.found && t < s->f.num_types; t++) {
        free(s->f.found[t].id);
        free(s->f.found[t].subgraph);
        if (s->f.disjoint) free(s->f.found[t].key);
        free(s->f.found[t].table);
    }
    for (int32_t r = 0; s->f.taken && r < s->f.num_relations; r++) {
        free(s->f.taken[r].src);
        free(s->f.taken[r].dst);
        free(s->f.taken[r].position);
    }
    free(s->f.found);
    free(s->f.taken);
    free(s->f.workspace);
    free(s->num_nodes);
    free(s->relation);
    free(s->node_time);
    free(s->seed_time);
    free(s);
}

/* NULL: no memory. The arrays of relations and times must outlive it. */
EXPORT ggnn_py_sampler* ggnn_py_sampler_new(int32_t types, const int64_t* num_nodes, const int64_t* const* node_time, int32_t relations,
                                            const ggnn_py_relation* relation, int32_t method, int32_t disjoint, int32_t latest,
                                            int32_t again)
{
    ggnn_py_sampler* s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->f.found = calloc((size_t)types + 1, sizeof *s->f.found);
    s->f.taken = calloc((size_t)relations + 1, sizeof *s->f.taken);
    s->num_nodes = calloc((size_t)types + 1, sizeof *s->num_nodes);
    s->relation = calloc((size_t)relations + 1, sizeof *s->relation);
    s->node_time = calloc((size_t)types + 1, sizeof *s->node_time);
    s->f.num_types = types;
    s->f.num_relations = relations;
    s->f.num_nodes = s->num_nodes;
    s->f.relation = s->relation;
    s->f.node_time = s->node_time;
    s->f.method = (ggnn_method)method;
    s->f.disjoint = disjoint;
    s->f.latest = latest;
    s->again = again;
    int made = s->f.found && s->f.taken && s->num_nodes && s->relation && s->node_time;
    for (int32_t t = 0; made && t < types; t++) {
        s->num_nodes[t] = num_nodes[t];
        s->node_time[t] = node_time ? node_time[t] : NULL;
        s->timed |= s->node_time[t] != NULL;
    }
    for (int32_t r = 0; made && r < relations; r++) {
        const ggnn_py_relation* from = &relation[r];
        s->relation[r].src = (int32_t)from->src;
        s->relation[r].dst = (int32_t)from->dst;
        s->relation[r].lists = ggnn_graph_plain(from->indptr, from->indices, from->weight, from->num_dst, from->num_edges);
        s->relation[r].time = from->time;
        s->timed |= from->time != NULL;
    }
    for (int32_t t = 0; made && t < types; t++) made = grow_found(s, t, 1);
    if (made) return s;
    ggnn_py_sampler_free(s);
    return NULL;
}

static int fail(ggnn_py_sampler* s, ggnn_status status)
{
    const ggnn_fault* fault = &s->f.fault;
    int n = snprintf(s->message, sizeof s->message, "%s", status == GGNN_ERROR_MEMORY || !fault->what ? ggnn_status_string(status) : fault->what);
    if (status == GGNN_ERROR_MEMORY) return status;
    if (fault->node >= 0 && n < 200) n += snprintf(s->message + n, sizeof s->message - (size_t)n, ": node %lld", (long long)fault->node);
    if (s->f.failed_at >= 0 && n < 250)
        snprintf(s->message + n, sizeof s->message - (size_t)n, ", hop %d, relation %d", (int)fault->hop, (int)s->f.failed_at);
    return status;
}
EXPORT const char* ggnn_py_message(const ggnn_py_sampler* s) { return s->message; }

/* One batch: num_seeds and seed by type (NULL: none), time by type (NULL: a seed's own), fanout (hops, relations).
   nodes (hops + 1, types) and edges (hops + 1, relations) get how many there are after so many hops. */
EXPORT int ggnn_py_sample(ggnn_py_sampler* s, uint64_t seed, uint32_t step, int32_t hops, const int32_t* fanout, const int64_t* num_seeds,
                          const ggnn_node* const* seeds, const int64_t* const* time, int64_t* nodes, int64_t* edges)
{
    ggnn_frontier* f = &s->f;
    const ggnn_rng rng = {seed, step, GGNN_PURPOSE_SAMPLE};
    int64_t all = 0;
    size_t bytes = 64;
    for (int64_t i = 0; i < (int64_t)hops * f->num_relations; i++) {
        const size_t needed = ggnn_sample_workspace_bytes(f->method, fanout[i]);
        if (needed > bytes) bytes = needed;
    }
    if (bytes > s->workspace_bytes) {
        if (!grow(&f->workspace, (int64_t)bytes, 1)) return fail(s, GGNN_ERROR_MEMORY);
        s->workspace_bytes = bytes;
    }
    for (int32_t t = 0; t < f->num_types; t++) {
        all += num_seeds[t];
        f->found[t].count = 0; /* nothing of the last batch is numbered again */
        if (!grow_found(s, t, num_seeds[t])) return fail(s, GGNN_ERROR_MEMORY);
    }
    if (s->timed && all >= s->seed_room) { /* one more than there are: never NULL */
        if (!grow(&s->seed_time, all + 1, sizeof *s->seed_time)) return fail(s, GGNN_ERROR_MEMORY);
        s->seed_room = all + 1;
    }
    f->seed_time = s->timed ? s->seed_time : NULL;
    ggnn_status status = ggnn_frontier_begin(f);
    for (int32_t t = 0; t < f->num_types && status == GGNN_OK; t++)
        if (num_seeds[t]) status = ggnn_frontier_seeds(f, t, seeds[t], time ? time[t] : NULL, num_seeds[t]);
    for (int32_t h = 0; status == GGNN_OK; h++) {
        for (int32_t t = 0; t < f->num_types; t++) nodes[h * f->num_types + t] = f->found[t].count;
        for (int32_t r = 0; r < f->num_relations; r++) edges[h * f->num_relations + r] = f->taken[r].count;
        if (h == hops) break;
        for (int32_t t = 0; s->again && t < f->num_types; t++) f->found[t].begin = 0;
        status = ggnn_frontier_hop(f, &rng, fanout + (int64_t)h * f->num_relations);
        if (status != GGNN_ERROR_CAPACITY) continue;
        for (int32_t t = 0; t < f->num_types; t++)
            if (!grow_found(s, t, f->found[t].need)) return fail(s, GGNN_ERROR_MEMORY);
        for (int32_t r = 0; r < f->num_relations; r++)
            if (!grow_taken(s, r, f->taken[r].need)) return fail(s, GGNN_ERROR_MEMORY);
        status = ggnn_frontier_hop(f, &rng, fanout + (int64_t)h * f->num_relations);
    }
    return status == GGNN_OK ? GGNN_OK : fail(s, status);
}

/* Copies what the last batch found of a type, or took of a relation. subgraph: NULL where not disjoint. */
EXPORT void ggnn_py_nodes(const ggnn_py_sampler* s, int32_t type, ggnn_node* id, int64_t* subgraph)
{
    const ggnn_found* found = &s->f.found[type];
    if (found->count) memcpy(id, found->id, (size_t)found->count * sizeof *id);
    for (int64_t i = 0; subgraph && i < found->count; i++) subgraph[i] = found->subgraph[i];
}
EXPORT void ggnn_py_edges(const ggnn_py_sampler* s, int32_t relation, ggnn_node* src, ggnn_node* dst, int64_t* position)
{
    const ggnn_taken* taken = &s->f.taken[relation];
    const size_t n = (size_t)taken->count;
    if (!n) return;
    memcpy(src, taken->src, n * sizeof *src);
    memcpy(dst, taken->dst, n * sizeof *dst);
    if (position) memcpy(position, taken->position, n * sizeof *position);
}

/* ==== rows ========================================================================================================== */

/* out[i] = row id[i] of rows, n of them; types: 0 float32, 1 float16. *bad: the first id that is out of range. */
EXPORT int ggnn_py_gather(void* out, int64_t ld_out, int as, const void* rows, int64_t num_rows, int64_t pitch, int32_t width, int type,
                          const ggnn_node* id, int64_t n, int64_t* bad)
{
    ggnn_store from = ggnn_store_plain(rows, num_rows, width, (ggnn_type)type);
    uint64_t beyond = 0;
    from.pitch = pitch;
    for (int64_t i = 0; i < n; i++) beyond |= (uint64_t)((uint64_t)id[i] >= (uint64_t)num_rows);
    if (!beyond) return ggnn_gather(out, ld_out, (ggnn_type)as, &from, id, n);
    for (*bad = 0; (uint64_t)id[*bad] < (uint64_t)num_rows;) (*bad)++;
    return GGNN_ERROR_ID;
}

/* ==== sparse operations over a block =============================================================================== */

typedef struct {
    ggnn_block block;
    int64_t counts[3];
} block_memory;

static const ggnn_block* block_of(block_memory* m, const ggnn_py_block* b)
{
    memset(m, 0, sizeof *m);
    m->counts[0] = b->num_dst, m->counts[1] = b->num_src, m->counts[2] = b->num_edges;
    m->block.num_dst = (ggnn_count){&m->counts[0], b->num_dst};
    m->block.num_src = (ggnn_count){&m->counts[1], b->num_src};
    m->block.num_edges = (ggnn_count){&m->counts[2], b->num_edges};
    m->block.indptr = (int64_t*)(uintptr_t)b->indptr; /* no op writes a block that it reads */
    m->block.indices = (int32_t*)(uintptr_t)b->indices;
    m->block.edge = (int32_t*)(uintptr_t)b->edge;
    m->block.bipartite = !b->edge && b->num_src < b->num_dst;
    return &m->block;
}

/* Is it a block? */
EXPORT int ggnn_py_block_check(const ggnn_py_block* b)
{
    block_memory m;
    return ggnn_block_validate(block_of(&m, b), GGNN_NODE_MAX, NULL);
}

/* The transpose in arrays of the caller: indptr (num_src + 1), indices, edge (num_edges). */
EXPORT int ggnn_py_transpose(const ggnn_py_block* b, int64_t* indptr, int32_t* indices, int32_t* edge)
{
    const ggnn_py_block laid_out = {b->num_src, b->num_dst, b->num_edges, indptr, indices, edge};
    block_memory m, t;
    block_of(&t, &laid_out);
    return ggnn_block_transpose(&t.block, block_of(&m, b));
}

EXPORT int ggnn_py_spmm(float* out, int32_t* arg, int reduce, const ggnn_py_block* b, const float* src, const float* dst, const float* self,
                        const float* weight, int32_t heads, const float* inp, int32_t width)
{
    block_memory m;
    const ggnn_scale scale = {src, dst, self};
    return ggnn_spmm(out, width, arg, (ggnn_reduce)reduce, block_of(&m, b), &scale, weight, heads, inp, width, width);
}
EXPORT int ggnn_py_spmm_back_arg(float* dinp, const ggnn_py_block* t, const ggnn_py_block* b, const float* weight, int32_t heads, const float* dout,
                                 const int32_t* arg, int32_t width)
{
    block_memory m, of_t;
    return ggnn_spmm_back_arg(dinp, width, block_of(&of_t, t), block_of(&m, b), weight, heads, dout, width, arg, width);
}
EXPORT int ggnn_py_sddmm(float* out, int op, const ggnn_py_block* b, const float* src, const float* dst, int32_t heads, int32_t width)
{
    block_memory m;
    return ggnn_sddmm(out, (ggnn_edge_op)op, block_of(&m, b), src, width, dst, width, heads, width);
}
EXPORT int ggnn_py_edge_sum(float* out, const ggnn_py_block* b, const float* value, int32_t heads)
{
    block_memory m;
    return ggnn_edge_sum(out, block_of(&m, b), value, heads);
}
EXPORT int ggnn_py_softmax(float* out, const ggnn_py_block* b, const float* logit, int32_t heads)
{
    block_memory m;
    return ggnn_edge_softmax(out, block_of(&m, b), logit, heads);
}
EXPORT int ggnn_py_softmax_back(float* dlogit, const ggnn_py_block* b, const float* out, const float* dout, int32_t heads)
{
    block_memory m;
    return ggnn_edge_softmax_back(dlogit, block_of(&m, b), out, dout, heads);
}

static ggnn_gat_layer gat_of(const ggnn_block* b, const float* z, float* el, float* er, float* out, float* lse, int32_t heads, int32_t width,
                             float slope, float dropout, uint64_t seed, uint32_t step)
{
    const ggnn_rng rng = {seed, step, GGNN_PURPOSE_ATTENTION_DROPOUT};
    ggnn_gat_layer y;
    memset(&y, 0, sizeof y);
    y.block = b, y.z = z, y.ld_z = width, y.el = el, y.er = er, y.out = out, y.ld_out = width, y.lse = lse, y.heads = heads, y.width = width;
    y.how.slope = slope, y.how.dropout = dropout, y.how.rng = rng;
    return y;
}

/* Attention over each target and its list: z (num_src, width), el (num_src, heads), er (num_dst, heads) to out (num_dst, width), lse. */
EXPORT int ggnn_py_gat(const ggnn_py_block* b, const float* z, float* el, float* er, float* out, float* lse, int32_t heads, int32_t width, float slope,
                       float dropout, uint64_t seed, uint32_t step)
{
    block_memory m;
    const ggnn_gat_layer y = gat_of(block_of(&m, b), z, el, er, out, lse, heads, width, slope, dropout, seed, step);
    return ggnn_gat(&y);
}
/* Its backward; out and lse as forward left them. */
EXPORT int ggnn_py_gat_back(float* dz, float* del, float* der, const ggnn_py_block* t, const ggnn_py_block* b, const float* z, float* el, float* er,
                            float* out, float* lse, const float* dout, int32_t heads, int32_t width, float slope, float dropout, uint64_t seed,
                            uint32_t step)
{
    block_memory m, of_t;
    ggnn_gat_layer y = gat_of(block_of(&m, b), z, el, er, out, lse, heads, width, slope, dropout, seed, step);
    float* scratch = malloc(((size_t)(2 * b->num_dst + b->num_edges) * (size_t)heads + 1) * sizeof *scratch);
    if (!scratch) return GGNN_ERROR_MEMORY;
    y.del = del, y.der = der, y.delta = scratch, y.dlogit = scratch + b->num_dst * heads;
    const ggnn_status status = ggnn_gat_back(dz, width, block_of(&of_t, t), &y, dout, width);
    free(scratch);
    return status;
}
