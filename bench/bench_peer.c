/* bench_peer.c - rows over P parts on any backend, gathered by P threads, a device each: through pointers to all parts, by
   exchange, by exchange over NCCL, and from the host's memory. All give the same rows; what each moves is counted. Then
   random reads of 4 to 4,096 bytes from all parts by all devices at once (WholeGraph). */
#include <pthread.h>
#include <string.h>

#include "bench/bench.h"
#include "common/memory.h"
#include "trainer/device/ops.h"
#include "trainer/store/tiers.h"

enum { PARTS_USUAL = 4, PARTS_MAX = 8, READ_LEAST = 4, READ_MOST = 4096 };
static const volatile sig_atomic_t never = 0;

typedef enum { BY_POINTER, BY_EXCHANGE, BY_NCCL, FROM_HOST, WAYS, RANDOM = WAYS } way;
static const char* const way_name[WAYS + 1] = {"pointer", "exchange", "nccl", "uva", "random"};
static bool is_exchange(way w) { return w == BY_EXCHANGE || w == BY_NCCL; }

enum { OWN, PEER, HOST, BYTES, MESSAGES, COLUMNS }; /* what is counted */

typedef enum { OPEN, GATHER, SHOW, CLOSE, QUIT } job;

typedef struct crew crew;
typedef struct {
    crew*       of;
    comm*       comm;
    device*     device;
    tiers*      tiers; /* of pointers and exchange */
    ggnn_store  rows;  /* of uva and random reads */
    const void** base; /* its bases by slot */
    void*       part;  /* of the table that is read at random */
    ggnn_node*  id;    /* (n) */
    float*      out;   /* (n, width) */
    error       why;
    pthread_t   thread;
} peer;

struct crew {
    bench* b;
    const bench_graph* data;
    int32_t parts, devices, width;
    int64_t n;      /* rows for each */
    int64_t table;  /* of so many, which random reads make; the graph's else */
    ggnn_node* ids; /* (parts, n) */
    float* out[WAYS + 1]; /* (parts, n, width) what they got */
    void* pinned;         /* all rows */
    void* made[PARTS_MAX]; /* parts of the table, of each device */
    double counted[WAYS][COLUMNS];
    way   way;
    job   job;
    pthread_barrier_t begin, end; /* of a job: all threads and the bench's own */
    comm  comm[PARTS_MAX];
    peer  peer[PARTS_MAX];
};

/* ==== what a thread does ======================================================================================== */

static size_t row_bytes(const crew* c) { return (size_t)c->width * sizeof(float); }

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

static bool set_base(peer* p, const void* const* base, size_t bytes, int64_t pitch, ggnn_layout at)
{
    p->base = device_new(p->device, bytes, "bases of rows", &p->why);
    if (!p->base) return false;
    device_upload(p->device, p->base, base, bytes);
    p->rows = (ggnn_store){.width = p->of->width, .type = GGNN_F32, .pitch = pitch, .base = p->base, .at = at};
    return true;
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
    return set_base(p, base, sizeof base, f->pitch, (ggnn_layout){.parts = 1});
}

/* Row v of the table lies in part v % parts. */
static float made_value(int64_t v, int64_t j) { return (float)((v * 7 + j) & 0xffff); }

static bool fill_part(peer* p)
{
    const crew* c = p->of;
    const int64_t rows = c->table / c->parts, some = rows < 1 << 14 ? rows : 1 << 14;
    float* x = memory_new((size_t)some * row_bytes(c), "rows of the table", &p->why);
    for (int64_t first = 0, count; x && first < rows; first += count) {
        count = rows - first < some ? rows - first : some;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < c->width; j++)
                x[i * c->width + j] = made_value((first + i) * c->parts + p->comm->rank, j);
        device_upload(p->device, (char*)p->part + (size_t)first * row_bytes(c), x, (size_t)count * row_bytes(c));
    }
    device_settle(p->device);
    memory_free(x);
    return x != NULL;
}

static bool open_random(peer* p)
{
    crew* c = p->of;
    const void* base[PARTS_MAX + 2] = {NULL};
    p->part = device_new(p->device, (size_t)(c->table / c->parts) * row_bytes(c), "a part of the table", &p->why);
    if (!p->part || !fill_part(p)) return false;
    c->made[p->comm->rank] = p->part;
    if (!comm_barrier(p->comm, &p->why)) return false;
    for (int32_t r = 0; r < c->parts; r++) {
        if (r != p->comm->rank && !device_reach(p->device, c->made[r], &p->why)) return false;
        base[r] = c->made[r];
    }
    return set_base(p, base, sizeof base, (int64_t)row_bytes(c), (ggnn_layout){.parts = c->parts, .stored = c->table});
}

static bool open_way(peer* p)
{
    crew* c = p->of;
    const tiers_source from = {.graph = c->data->graph, .features = c->data->features, .over = p->comm,
                               .exchange = is_exchange(c->way)};
    if (!open_device(p) || (c->way == BY_NCCL && !comm_carry(p->comm, p->device, COMM_NCCL, &p->why))) return false;
    if (c->way == RANDOM) return open_random(p);
    return c->way == FROM_HOST ? open_host(p) : tiers_open(&p->tiers, p->device, &from, &p->why);
}

static bool gather(peer* p)
{
    const crew* c = p->of;
    const ggnn_store* from = p->tiers ? &tiers_view_of(p->tiers)->features : &p->rows;
    if (!is_exchange(c->way)) p->device->ops->rows->gather(p->device, p->out, c->width, GGNN_F32, from, p->id, c->n);
    else if (!exchange_rows(tiers_view_of(p->tiers)->exchange, p->out, c->width, p->id, c->n, &p->why)) return false;
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
    comm_leave(p->comm);
    device_free(p->device, (void*)p->base);
    device_free(p->device, p->part);
    p->base = NULL;
    p->part = NULL;
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

/* Ids at random, of which some may come twice. c has its sizes. */
static bool open_crew(bench* b, crew* c)
{
    uint64_t state = 23;
    const int32_t parts = c->parts;
    const int64_t rows = c->table ? c->table : c->data->graph.num_nodes;
    c->ids = bench_new(b, (size_t)(parts * c->n) * sizeof *c->ids, "ids");
    for (int w = c->table ? RANDOM : 0; w < (c->table ? RANDOM + 1 : WAYS); w++)
        if (!(c->out[w] = bench_new(b, (size_t)(parts * c->n) * row_bytes(c), "gathered rows"))) return false;
    for (int64_t i = 0; c->ids && i < parts * c->n; i++) c->ids[i] = (ggnn_node)(bench_random(&state) % (uint64_t)rows);
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

/* Each row has the values of its id. */
static bool check_random(crew* c)
{
    const int64_t n = c->parts * c->n;
    float* right = bench_new(c->b, (size_t)n * row_bytes(c), "rows as they should be");
    for (int64_t i = 0; right && i < n; i++)
        for (int64_t j = 0; j < c->width; j++) right[i * c->width + j] = made_value(c->ids[i], j);
    return right && bench_equal(c->b, "a row", c->out[RANDOM], right, (size_t)n * row_bytes(c));
}

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
        if (!is_exchange(c->way)) continue;
        value[BYTES] += (double)exchange_cost_of(tiers_view_of(p->tiers)->exchange).bytes;
        value[MESSAGES] += (double)exchange_cost_of(tiers_view_of(p->tiers)->exchange).messages;
    }
    if (!is_exchange(c->way)) value[BYTES] = row * (value[PEER] + value[HOST]);
}

static bool put_counts(const crew* c, bool nccl)
{
    bench_table t = {.label = "counted", .unit = "of one gather", .columns = COLUMNS,
                     .column = {"own rows", "peer rows", "host rows", "bytes", "messages"}};
    snprintf(t.what, sizeof t.what, "%d parts, %lld rows, F %d", (int)c->parts, (long long)(c->parts * c->n), (int)c->width);
    for (int w = 0; w < WAYS; w++)
        if ((w != BY_NCCL || nccl) && !bench_figures(c->b, &t, way_name[w], c->counted[w])) return false;
    return true;
}

static const bench_result* measure_way(crew* c)
{
    const double rows = (double)(c->parts * c->n);
    bench_case k = {.run = run_gather, .context = c, .work = rows, .unit = "rows", .cold = true,
                    .bytes = rows * ((double)(c->table ? row_bytes(c) : (size_t)c->data->features.pitch) + (double)row_bytes(c) + sizeof(ggnn_node))};
    if (c->table) snprintf(k.what, sizeof k.what, "random reads of %d bytes, %d parts, measured", (int)row_bytes(c), (int)c->parts);
    else snprintf(k.what, sizeof k.what, "%s, %d parts, %lld rows, measured", way_name[c->way], (int)c->parts, (long long)rows);
    return bench_measure(c->b, &k);
}

static bool run_way(crew* c, way w, const bench_result** result)
{
    c->way = w;
    bool good = give(c, OPEN) && give(c, GATHER) && give(c, SHOW);
    if (good && w != RANDOM) count(c);
    if (good && w != BY_POINTER && w != RANDOM)
        good = bench_equal(c->b, "a row", c->out[w], c->out[BY_POINTER], (size_t)(c->parts * c->n) * row_bytes(c));
    if (good && w == RANDOM) good = check_random(c);
    if (good) good = (*result = measure_way(c)) != NULL;
    give(c, CLOSE);
    return good && !c->b->why.text[0];
}

/* NCCL wants a device for each rank. NULL: it can be. */
static const char* without_nccl(int32_t parts, int32_t devices)
{
    if (!devices) return "no row for NCCL: it is for CUDA devices";
    if (!comm_nccl_name()) return "no row for NCCL: this program has none";
    return devices < parts ? "no row for NCCL: it wants a device for each part" : NULL;
}

static bool gather_ways(bench* b, const bench_graph* g, int32_t parts, int32_t devices)
{
    const bench_result* result[WAYS] = {NULL};
    const char* obstacle = without_nccl(parts, devices);
    const int64_t n = b->o.quick ? (devices ? 1 << 8 : 1 << 12) : 1 << 18;
    crew* c = bench_new(b, sizeof *c, "threads of parts");
    if (!c) return false;
    *c = (crew){.b = b, .data = g, .parts = parts, .devices = devices, .width = g->features.width, .n = n / parts};
    bool good = open_crew(b, c);
    for (int w = 0; good && w < WAYS; w++) good = (w == BY_NCCL && obstacle) || run_way(c, (way)w, &result[w]);
    if (good && obstacle) bench_say(b, obstacle);
    return good && bench_ratio(b, result[BY_POINTER], result[BY_EXCHANGE], "the exchange", 0) &&
           bench_ratio(b, result[BY_POINTER], result[BY_NCCL], "the exchange over NCCL", 0) &&
           bench_ratio(b, result[BY_POINTER], result[FROM_HOST], "the host's rows", 0) && put_counts(c, !obstacle);
}

/* ==== random reads ============================================================================================== */

enum { READS, READ_BYTES, TABLE_ROWS, OWN_ROWS, PEER_ROWS, RANDOM_COLUMNS };

/* All devices read at once as many rows of so many bytes, evenly from all parts. */
static bool read_random(bench* b, int32_t parts, int32_t devices, int32_t bytes, double value[RANDOM_COLUMNS], double* seconds)
{
    const int64_t part = b->o.quick ? (devices ? 1 << 14 : 1 << 19) : devices ? 1 << 30 : 1 << 27, most = (int64_t)1 << 30;
    const int64_t reads = b->o.quick ? (devices ? 1 << 6 : 1 << 10) : 1 << 21, output = 1 << 26;
    const bench_result* result = NULL;
    crew* c = bench_new(b, sizeof *c, "threads of parts");
    if (!c) return false;
    *c = (crew){.b = b, .data = bench_graph_of(b), .parts = parts, .devices = devices, .width = bytes / (int32_t)sizeof(float),
                .n = reads * bytes < output ? reads : output / bytes,
                .table = parts * part / bytes < most ? parts * part / bytes : most};
    if (!open_crew(b, c) || !run_way(c, RANDOM, &result)) return false;
    value[READS] = (double)c->n;
    value[READ_BYTES] = (double)(c->n * bytes);
    value[TABLE_ROWS] = (double)c->table;
    value[OWN_ROWS] = value[PEER_ROWS] = 0;
    for (int64_t i = 0; i < parts * c->n; i++) value[c->ids[i] % parts == i / c->n ? OWN_ROWS : PEER_ROWS]++;
    *seconds = result->median;
    return true;
}

static bool random_reads(bench* b, int32_t parts, int32_t devices)
{
    enum { SIZES = 11 };
    bench_table t = {.label = "counted", .unit = "of one gather; reads and their bytes S: of a device", .columns = RANDOM_COLUMNS,
                     .column = {"reads", "S", "rows", "own rows", "peer rows"}};
    bench_table speed = {.label = "measured", .unit = "GB/s; " BENCH_BANDWIDTHS, .columns = 2,
                         .column = {"algorithm", "bus"}};
    double value[SIZES][RANDOM_COLUMNS], seconds[SIZES];
    char row[16];
    int k = 0;
    for (int32_t bytes = READ_LEAST; bytes <= READ_MOST; bytes *= 2, k++) {
        const int32_t mark = bench_mark(b);
        const bool good = read_random(b, parts, devices, bytes, value[k], &seconds[k]);
        bench_release(b, mark);
        if (!good) return false;
    }
    snprintf(t.what, sizeof t.what, "random reads, %d parts", (int)parts);
    snprintf(speed.what, sizeof speed.what, "bandwidth of random reads, %d parts", (int)parts);
    for (int i = 0; i < k; i++) {
        snprintf(row, sizeof row, "%d B", READ_LEAST << i);
        if (!bench_figures(b, &t, row, value[i])) return false;
    }
    for (int i = 0; i < k; i++) {
        const double algorithm = value[i][READ_BYTES] / seconds[i] * 1e-9, both[2] = {algorithm, algorithm * (parts - 1) / parts};
        snprintf(row, sizeof row, "%d B", READ_LEAST << i);
        if (!bench_figures(b, &speed, row, both)) return false;
    }
    return true;
}

bool bench_peer(bench* b, int32_t devices)
{
    const bench_graph* g = bench_graph_of(b);
    const int32_t most = devices >= PARTS_MAX ? PARTS_MAX : PARTS_USUAL;
    for (int random = 0; random < 2; random++)
        for (int32_t parts = 2; g && parts <= most; parts *= 2) {
            const int32_t mark = bench_mark(b);
            const bool good = random ? random_reads(b, parts, devices) : gather_ways(b, g, parts, devices);
            bench_release(b, mark);
            if (!good) return false;
        }
    return g != NULL;
}
