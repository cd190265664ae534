/* bench_peer.c - rows over P parts on any backend, gathered in three ways by P threads, a device each: through pointers to
   all parts, by exchange, and from the host's memory. All give the same rows; what each moves is counted. */
#include <pthread.h>
#include <string.h>

#include "bench/bench.h"
#include "trainer/device/ops.h"
#include "trainer/store/tiers.h"

enum { PARTS_MAX = 4 };
static const volatile sig_atomic_t never = 0;

typedef enum { BY_POINTER, BY_EXCHANGE, FROM_HOST, WAYS } way;
static const char* const way_name[WAYS] = {"pointer", "exchange", "uva"};

enum { OWN, PEER, HOST, BYTES, MESSAGES, COLUMNS }; /* what is counted */

typedef enum { OPEN, GATHER, SHOW, CLOSE, QUIT } job;

typedef struct crew crew;
typedef struct {
    crew*       of;
    comm*       comm;
    device*     device;
    tiers*      tiers; /* of pointers and exchange */
    ggnn_store  host;  /* of uva */
    const void** base; /* (3) bases of `host` */
    ggnn_node*  id;    /* (n) */
    float*      out;   /* (n, width) */
    error       why;
    pthread_t   thread;
} peer;

struct crew {
    bench* b;
    const bench_graph* data;
    int32_t parts, devices;
    int64_t n; /* rows for each */
    ggnn_node* ids; /* (parts, n) */
    float* out[WAYS]; /* (parts, n, width) what they got */
    void* pinned;     /* all rows */
    double counted[WAYS][COLUMNS];
    way   way;
    job   job;
    pthread_barrier_t begin, end; /* of a job: all threads and the bench's own */
    comm  comm[PARTS_MAX];
    peer  peer[PARTS_MAX];
};

/* ==== what a thread does ======================================================================================== */

static size_t row_bytes(const crew* c) { return (size_t)c->data->features.width * sizeof(float); }

static bool open_device(peer* p)
{
    crew* c = p->of;
    const int32_t threads = c->b->threads / c->parts, rank = p->comm->rank;
    const size_t ids = (size_t)c->n * sizeof *p->id;
    if (p->device) return true;
    p->device = c->devices ? device_open_cuda(rank % c->devices, false, &p->why) : device_open_cpu(threads ? threads : 1, &p->why);
    if (!p->device) return false;
    device_enter(p->device);
    p->id = device_new(p->device, ids, "ids", &p->why);
    p->out = p->id ? device_new(p->device, (size_t)c->n * row_bytes(c), "gathered rows", &p->why) : NULL;
    if (p->out) device_upload(p->device, p->id, c->ids + rank * c->n, ids);
    return p->out != NULL;
}

/* All rows in the host's memory: where they are on a CPU, else rank 0's pinned copy. */
static bool open_host(peer* p)
{
    crew* c = p->of;
    device* d = p->device;
    const ggnn_store* f = &c->data->features;
    const size_t bytes = (size_t)f->pitch * (size_t)c->data->graph.num_nodes;
    const void* base[3] = {NULL, f->rows, NULL};
    if (c->devices && p->comm->rank == 0) {
        c->pinned = device_new_host(d, bytes, "rows of the host", &p->why);
        if (!c->pinned) return false;
        memcpy(c->pinned, f->rows, bytes);
    }
    if (!comm_barrier(p->comm, &p->why)) return false;
    if (c->devices) base[1] = c->pinned;
    p->base = device_new(d, sizeof base, "bases of rows", &p->why);
    if (!p->base) return false;
    device_upload(d, p->base, base, sizeof base);
    p->host = *f;
    p->host.rows = NULL;
    p->host.base = p->base;
    p->host.at = (ggnn_layout){.parts = 1};
    return true;
}

static bool open_way(peer* p)
{
    crew* c = p->of;
    const tiers_source from = {.graph = c->data->graph, .features = c->data->features, .over = p->comm,
                               .exchange = c->way == BY_EXCHANGE};
    if (!open_device(p)) return false;
    return c->way == FROM_HOST ? open_host(p) : tiers_open(&p->tiers, p->device, &from, &p->why);
}

static bool gather(peer* p)
{
    const crew* c = p->of;
    const int32_t width = c->data->features.width;
    const ggnn_store* from = c->way == FROM_HOST ? &p->host : &tiers_view_of(p->tiers)->features;
    if (c->way == BY_EXCHANGE && !exchange_rows(tiers_view_of(p->tiers)->exchange, p->out, width, p->id, c->n, &p->why)) return false;
    if (c->way != BY_EXCHANGE) p->device->ops->rows->gather(p->device, p->out, width, GGNN_F32, from, p->id, c->n);
    device_settle(p->device);
    return !p->device->failed.text[0] || error_set(&p->why, "%s", p->device->failed.text);
}

static bool show(peer* p)
{
    const crew* c = p->of;
    const size_t bytes = (size_t)c->n * row_bytes(c);
    device_download(p->device, (char*)c->out[c->way] + (size_t)p->comm->rank * bytes, p->out, bytes);
    return true;
}

static void close_way(peer* p)
{
    crew* c = p->of;
    tiers_close(p->tiers);
    p->tiers = NULL;
    if (!p->device) return;
    device_free(p->device, (void*)p->base);
    p->base = NULL;
    if (c->pinned && p->comm->rank == 0) device_free_host(p->device, c->pinned);
    if (p->comm->rank == 0) c->pinned = NULL;
}

/* All meet at its end: who has failed is waited for there. */
static bool do_job(peer* p)
{
    const job what = p->of->job;
    if (p->why.text[0]) return false;
    bool good = what == OPEN ? open_way(p) : what == GATHER ? gather(p) : show(p);
    return good && comm_barrier(p->comm, &p->why);
}

static void* attend(void* context)
{
    peer* p = context;
    crew* c = p->of;
    for (;;) {
        pthread_barrier_wait(&c->begin);
        if (c->job == QUIT) break;
        if (c->job == CLOSE) close_way(p);
        else if (!do_job(p)) comm_fail(p->comm, &p->why);
        pthread_barrier_wait(&c->end);
    }
    if (p->device) {
        device_free(p->device, p->id);
        device_free(p->device, p->out);
    }
    device_close(p->device);
    return NULL;
}

/* ==== the crew ================================================================================================== */

static bool give(crew* c, job what)
{
    c->job = what;
    pthread_barrier_wait(&c->begin);
    pthread_barrier_wait(&c->end);
    for (int32_t r = 0; r < c->parts; r++)
        if (c->peer[r].why.text[0]) return error_set(&c->b->why, "%s", c->peer[r].why.text);
    return true;
}

static void run_gather(void* context) { give(context, GATHER); }

static void dismiss(void* context)
{
    crew* c = context;
    c->job = QUIT;
    pthread_barrier_wait(&c->begin);
    for (int32_t r = 0; r < c->parts; r++) pthread_join(c->peer[r].thread, NULL);
    pthread_barrier_destroy(&c->begin);
    pthread_barrier_destroy(&c->end);
    comm_close_threads(c->comm, c->parts);
}

/* Ids at random, of which some may come twice. */
static bool open_crew(bench* b, crew* c, const bench_graph* g, int32_t parts, int32_t devices)
{
    uint64_t state = 23;
    const int64_t n = b->o.quick ? (devices ? 1 << 8 : 1 << 12) : 1 << 18;
    memset(c, 0, sizeof *c);
    *c = (crew){.b = b, .data = g, .parts = parts, .devices = devices, .n = n / parts};
    c->ids = bench_new(b, (size_t)(parts * c->n) * sizeof *c->ids, "ids");
    for (int w = 0; w < WAYS; w++)
        if (!(c->out[w] = bench_new(b, (size_t)(parts * c->n) * row_bytes(c), "gathered rows"))) return false;
    for (int64_t i = 0; c->ids && i < parts * c->n; i++)
        c->ids[i] = (ggnn_node)(bench_random(&state) % (uint64_t)g->graph.num_nodes);
    if (!c->ids || !comm_open_threads(c->comm, parts, &never, &b->why)) return false;
    pthread_barrier_init(&c->begin, NULL, (unsigned)parts + 1);
    pthread_barrier_init(&c->end, NULL, (unsigned)parts + 1);
    for (int32_t r = 0; r < parts; r++) {
        c->peer[r].of = c;
        c->peer[r].comm = &c->comm[r];
        if (pthread_create(&c->peer[r].thread, NULL, attend, &c->peer[r]) != 0)
            return error_set(&b->why, "thread %d of %d cannot be started", (int)r + 1, (int)parts);
    }
    return bench_defer(b, dismiss, c);
}

/* ==== what is counted =========================================================================================== */

/* Of one gather of all devices. Pointers and the host's memory are read, an exchange sends. */
static void count(crew* c)
{
    const double row = (double)c->data->features.pitch;
    double* value = c->counted[c->way];
    for (int32_t r = 0; r < c->parts; r++) {
        const peer* p = &c->peer[r];
        const tiers_reads reads = c->way == FROM_HOST ? (tiers_reads){.host = c->n}
                                                   : tiers_counted(p->tiers, TIERS_FEATURES).read;
        value[OWN] += (double)reads.own;
        value[PEER] += (double)reads.peer;
        value[HOST] += (double)reads.host;
        if (c->way != BY_EXCHANGE) continue;
        value[BYTES] += (double)exchange_cost_of(tiers_view_of(p->tiers)->exchange).bytes;
        value[MESSAGES] += (double)exchange_cost_of(tiers_view_of(p->tiers)->exchange).messages;
    }
    if (c->way != BY_EXCHANGE) value[BYTES] = row * (value[PEER] + value[HOST]);
}

static bool put_counts(const crew* c)
{
    bench_table t = {.label = "counted", .unit = "of one gather", .columns = COLUMNS,
                     .column = {"own rows", "peer rows", "host rows", "bytes", "messages"}};
    snprintf(t.what, sizeof t.what, "%d parts, %lld rows, F %d", (int)c->parts, (long long)(c->parts * c->n),
             (int)c->data->features.width);
    for (int w = 0; w < WAYS; w++)
        if (!bench_figures(c->b, &t, way_name[w], c->counted[w])) return false;
    return true;
}

static const bench_result* measure_way(crew* c)
{
    const double rows = (double)(c->parts * c->n);
    bench_case k = {.run = run_gather, .context = c, .work = rows, .unit = "rows", .cold = true,
                    .bytes = rows * ((double)c->data->features.pitch + (double)row_bytes(c) + sizeof(ggnn_node))};
    snprintf(k.what, sizeof k.what, "%s, %d parts, %lld rows, measured", way_name[c->way], (int)c->parts, (long long)rows);
    return bench_measure(c->b, &k);
}

static bool run_way(crew* c, way w, const bench_result** result)
{
    c->way = w;
    bool good = give(c, OPEN) && give(c, GATHER) && give(c, SHOW);
    if (good) count(c);
    if (good && w != BY_POINTER)
        good = bench_equal(c->b, "a row", c->out[w], c->out[BY_POINTER], (size_t)(c->parts * c->n) * row_bytes(c));
    if (good) good = (*result = measure_way(c)) != NULL;
    give(c, CLOSE);
    return good && !c->b->why.text[0];
}

bool bench_peer(bench* b, int32_t devices)
{
    const bench_graph* g = bench_graph_of(b);
    for (int32_t parts = 2; g && parts <= PARTS_MAX; parts *= 2) {
        const bench_result* result[WAYS] = {NULL};
        const int32_t mark = bench_mark(b);
        crew* c = bench_new(b, sizeof *c, "threads of parts");
        bool good = c && open_crew(b, c, g, parts, devices);
        for (int w = 0; good && w < WAYS; w++) good = run_way(c, (way)w, &result[w]);
        good = good && bench_ratio(b, result[BY_POINTER], result[BY_EXCHANGE], "the exchange", 0) &&
               bench_ratio(b, result[BY_POINTER], result[FROM_HOST], "the host's rows", 0) && put_counts(c);
        bench_release(b, mark);
        if (!good) return false;
    }
    return g != NULL;
}
