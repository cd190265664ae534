/* split_crew.h - for tests of --parallel split: P ranks, a thread and a device each, compute STEPS batches of a task at its
   first weights; and what all of them computed. */
#ifndef SPLIT_CREW_H
#define SPLIT_CREW_H
#include <pthread.h>

#include "tests/fixture.h"
#include "tests/owners.h"

enum { RANKS_MAX = 8, STEPS = 3, PARAMETERS_MAX = 4096 };

typedef struct {
    float  logits[STEPS][NODES][CLASSES];
    int    times[STEPS][NODES];         /* how often a node was a seed */
    double loss[STEPS];
    float  grad[STEPS][PARAMETERS_MAX]; /* summed over ranks */
    int64_t targets, edges, rows;       /* computed, sampled, loaded by all */
    int64_t most_targets;               /* of them by one rank */
    uint64_t lists[STEPS][RANKS_MAX];   /* digests of each rank's blocks and of what it sends */
    int64_t own, peer, bytes;           /* rows that moved between layers */
    int64_t count;                      /* parameters */
    int32_t peers;                      /* ranks that read rows where they lie */
} outcome;

typedef struct crew crew;
struct crew {
    const config* c;
    const task*   t;
    int32_t       ranks;
    device* (*open)(int32_t rank, error* why); /* NULL: CPUs of one thread */
    bool (*also)(crew* k, worker* w, const mini_batch* b, error* why); /* at each batch, before it is computed; or NULL */
    outcome*      to;
    comm          comm[RANKS_MAX];
    pthread_mutex_t lock;
};

typedef struct {
    crew*   of;
    int32_t rank;
    error   why;
} crew_member;

/* Bytes of a device as the host reads them; the caller frees *room. */
static inline const void* crew_read(device* d, void** room, const void* from, size_t bytes)
{
    *room = malloc(bytes + 1);
    return device_read(d, *room, from, bytes);
}

static inline void crew_add_logits(crew* k, device* d, int step, const mini_batch* b, net_rows y)
{
    outcome* to = k->to;
    void *rows_room, *id_room;
    const float* rows = (const float*)crew_read(d, &rows_room, y.v, (size_t)(y.rows * y.ld) * sizeof *rows);
    const ggnn_node* id = (const ggnn_node*)crew_read(d, &id_room, b->blocks.id, (size_t)y.rows * sizeof *id);
    pthread_mutex_lock(&k->lock);
    for (int64_t i = 0; i < y.rows; i++) {
        to->times[step][id[i]]++;
        memcpy(to->logits[step][id[i]], rows + i * y.ld, sizeof to->logits[step][id[i]]);
    }
    pthread_mutex_unlock(&k->lock);
    free(rows_room);
    free(id_room);
}

/* What one device computes of its batch: each hop's targets, and the rows of the input layer. A last hop of global ids has
   these in its edges. */
static inline void crew_count_whole(outcome* to, device* d, const mini_batch* b)
{
    const ggnn_block *hop = b->blocks.hop, *last = &hop[b->blocks.num_hops - 1];
    const int64_t src = device_size(d, last->num_src), edges = last->neighbor ? device_size(d, last->num_edges) : 0;
    void *id_room, *end_room;
    const ggnn_node* id = (const ggnn_node*)crew_read(d, &id_room, last->id, (size_t)src * sizeof *id);
    const ggnn_node* end = (const ggnn_node*)crew_read(d, &end_room, last->neighbor, (size_t)edges * sizeof *end);
    bool seen[NODES] = {0};
    for (int32_t h = 0; h < b->blocks.num_hops; h++) {
        to->targets += device_size(d, hop[h].num_dst);
        to->edges += device_size(d, hop[h].num_edges);
    }
    for (int64_t i = 0; i < src; i++) seen[id[i]] = true;
    for (int64_t e = 0; e < edges; e++) seen[end[e]] = true;
    for (int v = 0; v < NODES; v++) to->rows += seen[v];
    free(id_room);
    free(end_room);
}

static inline void crew_digest(uint64_t* digest, device* d, const void* array, int64_t count, size_t size)
{
    void* room;
    const unsigned char* at = (const unsigned char*)crew_read(d, &room, array, array ? (size_t)count * size : 0);
    for (size_t i = 0; array && i < (size_t)count * size; i++) *digest = (*digest ^ at[i]) * 0x100000001B3u;
    *digest = (*digest ^ (uint64_t)(array ? count : -1)) * 0x100000001B3u;
    free(room);
}

/* All that a rank's part of a batch consists of, but for the rows of features. */
static inline uint64_t crew_lists(device* d, const mini_batch* batch)
{
    uint64_t digest = 0;
    for (int32_t h = 0; h < batch->blocks.num_hops; h++) {
        const ggnn_block* b = &batch->blocks.hop[h];
        const shuffle_hop* s = &batch->shuffle->hop[h];
        const comm_piece last = s->to[batch->shuffle->comm->ranks - 1];
        const int64_t dst = device_size(d, b->num_dst), src = device_size(d, b->num_src), edges = device_size(d, b->num_edges);
        crew_digest(&digest, d, b->id, src, sizeof *b->id);
        crew_digest(&digest, d, b->indptr, dst + 1, sizeof *b->indptr);
        crew_digest(&digest, d, b->indices, edges, sizeof *b->indices);
        crew_digest(&digest, d, b->weight, edges, sizeof *b->weight);
        crew_digest(&digest, d, b->repeats, src, sizeof *b->repeats);
        crew_digest(&digest, d, s->id, s->rows, sizeof *s->id);
        crew_digest(&digest, d, s->send, last.first + last.count, sizeof *s->send);
        crew_digest(&digest, d, s->receive, src, sizeof *s->receive);
        crew_digest(&digest, d, s->place, src, sizeof *s->place);
    }
    return digest;
}

static inline void crew_count_part(crew* k, const worker* w)
{
    const split_cost cost = split_ring_cost(w->split);
    const shuffle_cost moved = cost.moved;
    pthread_mutex_lock(&k->lock);
    k->to->targets += cost.targets;
    k->to->edges += cost.batches.edges;
    k->to->rows += cost.rows;
    k->to->own += moved.own;
    k->to->peer += moved.peer;
    k->to->bytes += moved.bytes;
    if (cost.targets > k->to->most_targets) k->to->most_targets = cost.targets;
    pthread_mutex_unlock(&k->lock);
}

static inline void crew_keep_sums(outcome* to, worker* w, int step)
{
    const net_partial sum = net_partial_of(w->net);
    net_sums sums;
    device_download(w->device, &sums, sum.sums, sizeof sums);
    to->loss[step] = sums.known ? sums.loss / (double)sums.known : 0;
    to->count = sum.count;
    if (CHECK(sum.count <= PARAMETERS_MAX)) device_download(w->device, to->grad[step], sum.grad, (size_t)sum.count * sizeof(float));
}

static inline bool crew_step(crew* k, worker* w, int step, error* why)
{
    const mini_batch* b = w->split ? split_ring_take(w->split, why) : batch_take(w->loader, why);
    if (!b || !net_fit(w->net, w->split ? split_ring_shape(w->split) : loader_shape(w->loader), why)) return false;
    if (w->split) k->to->lists[step][w->comm->rank] = crew_lists(w->device, b);
    if (k->also && !k->also(k, w, b, why)) return false;
    if (b->shuffle && b->shuffle->peers && step == 0) __atomic_add_fetch(&k->to->peers, 1, __ATOMIC_RELAXED);
    crew_add_logits(k, w->device, step, b, net_forward(w->net, b, (uint32_t)step, true));
    net_loss(w->net);
    net_backward(w->net);
    if (b->shuffle && b->shuffle->failed.text[0]) return error_set(why, "%s", b->shuffle->failed.text);
    if (!w->split) crew_count_whole(k->to, w->device, b);
    if (!w->split) batch_give(w->loader, b);
    if (!worker_reduce(w, why)) return false;
    if (w->comm->rank == 0) crew_keep_sums(k->to, w, step);
    return true;
}

static inline void* crew_work(void* context)
{
    crew_member* m = (crew_member*)context;
    crew*   k = m->of;
    comm*   c = &k->comm[m->rank];
    device* d = k->open ? k->open(m->rank, &m->why) : device_open_cpu(1, &m->why);
    worker  w;
    bool good = d && worker_open(&w, k->c, k->t, d, c, &m->why);
    int64_t first = 0;
    if (good) worker_begin(&w, 0, &first, &m->why);
    for (int s = 0; good && s < STEPS; s++) good = crew_step(k, &w, s, &m->why);
    if (good && w.split) crew_count_part(k, &w);
    if (!good) comm_fail(c, &m->why);
    comm_barrier(c, &m->why);
    if (d) worker_settle(&w);
    comm_leave(c);
    if (d) worker_close(&w);
    return NULL;
}

/* k's c, t, ranks, open, also and to are set. False: all ranks say why, the first of them to `why`. */
static inline bool crew_run(crew* k, error* why)
{
    static const volatile sig_atomic_t never = 0;
    crew_member m[RANKS_MAX];
    pthread_t thread[RANKS_MAX];
    memset(k->to, 0, sizeof *k->to);
    pthread_mutex_init(&k->lock, NULL);
    CHECK(comm_open_threads(k->comm, k->ranks, &never, why));
    for (int32_t r = 0; r < k->ranks; r++) {
        m[r].of = k;
        m[r].rank = r;
        m[r].why.text[0] = '\0';
        CHECK_EQ(pthread_create(&thread[r], NULL, crew_work, &m[r]), 0);
    }
    for (int32_t r = 0; r < k->ranks; r++) pthread_join(thread[r], NULL);
    comm_close_threads(k->comm, k->ranks);
    pthread_mutex_destroy(&k->lock);
    for (int32_t r = 0; r < k->ranks; r++)
        if (m[r].why.text[0]) error_set(why, "%s", m[r].why.text);
    return !why->text[0];
}

/* Sums of n terms in two orders differ by n units in the last place of what the terms' sizes add up to. These are not known
   here; they are at least the largest gradient of all. */
static inline float crew_tolerance(const outcome* one, int step)
{
    float most = 0;
    for (int64_t i = 0; i < one->count; i++)
        if (fabsf(one->grad[step][i]) > most) most = fabsf(one->grad[step][i]);
    return most * NODES / 16777216.0f;
}

static inline float crew_difference(const outcome* a, const outcome* b, int step)
{
    float most = 0;
    for (int64_t i = 0; i < a->count; i++) {
        const float d = fabsf(a->grad[step][i] - b->grad[step][i]);
        if (!(d <= most)) most = d;
    }
    return most;
}

/* Parts of a batch beside one device that computes it alone. logits: by how much they may differ; 0: not in a bit. */
static inline void crew_compare(const outcome* one, const outcome* parts, float logits)
{
    CHECK_EQ(parts->count, one->count);
    CHECK_EQ(parts->targets, one->targets); /* each (layer, node) is computed once, */
    CHECK_EQ(parts->edges, one->edges);
    CHECK_EQ(parts->rows, one->rows);       /* and each row of features loaded once */
    for (int s = 0; s < STEPS; s++) {
        float off = 0;
        CHECK(!memcmp(parts->times[s], one->times[s], sizeof one->times[s]));
        for (int v = 0; v < NODES; v++)
            for (int j = 0; j < CLASSES; j++) {
                const float d = fabsf(parts->logits[s][v][j] - one->logits[s][v][j]);
                if (!(d <= off)) off = d;
            }
        if (logits > 0) CHECK(off <= logits);
        else CHECK(!memcmp(parts->logits[s], one->logits[s], sizeof one->logits[s]));
        CHECK_NEAR(parts->loss[s], one->loss[s], (1e-6 + (double)logits) * fabs(one->loss[s]));
        CHECK(crew_difference(parts, one, s) <= crew_tolerance(one, s));
    }
}

/* Owners of the task; the memory is the caller's to free. */
static inline owned* crew_owners(fixture* f, owned_kind kind, int32_t ranks)
{
    owned* by = owned_by(kind, ranks, f->graph, f->features, WIDTH);
    f->task.owners.at = by->at;
    return by;
}
#endif
