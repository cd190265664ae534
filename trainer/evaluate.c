#include "trainer/evaluate.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

enum {
    CHUNK = 4096, /* targets: enough to fill the threads, few enough that their sources fit the cache */
    CHUNK_LEAST = 64
};

struct evaluation {
    const config* config;
    const volatile sig_atomic_t* stop;
    const task* task;
    const tiers* view; /* not its own */
    loader* training; /* not its own */
    loader* chunks;   /* layer-wise: all neighbours, one hop; */
    int64_t chunk;    /* of so many targets */
    metrics metrics;
    double loss;
    int64_t known, broken; /* as in score */
    float* rows[2];   /* (N, hidden) outputs of layers, in turn; one matrix where z lets them go over x */
    float* z;         /* of net.h; NULL: nothing is transformed */
    tiers_room room;  /* of these */
    float* logits;    /* (chunk, outputs) on the device */
    float* read_rows; /* for device_read: of logits */
    ggnn_node* read_ids; /* and of ids */
};

/* ==== memory ==================================================================================================== */

/* Room for logits to be read into; most: rows at once. */
static bool open_read_rows(evaluation* e, int64_t most, int64_t ld, error* why)
{
    e->read_rows = memory_new(memory_product((size_t)most, (size_t)ld, sizeof(float)), "logits on the host", why);
    e->read_ids = memory_new(memory_product((size_t)most, sizeof *e->read_ids, 1), "ids on the host", why);
    return e->read_rows && e->read_ids;
}

/* The matrices of outputs, none for one layer, one for two; and z, of `widest` columns. */
static bool open_rows(evaluation* e, int32_t widest, error* why)
{
    const config* c = e->config;
    size_t nodes = (size_t)e->task->set.num_nodes, room = (size_t)loader_shape(e->chunks)->hop[0].num_dst.max;
    size_t needed = c->layers > 2 && !widest ? 2 : c->layers > 1;
    size_t one = memory_product(nodes, (size_t)c->hidden, sizeof(float));
    size_t z = memory_product(nodes + room, (size_t)widest, sizeof(float)), bytes = memory_product(one, needed, 1);
    bytes = z > SIZE_MAX - bytes ? SIZE_MAX : bytes + z;
    e->rows[0] = tiers_room_open(&e->room, e->view->device, bytes, (size_t)c->eval_memory,
                                 c->save ? c->save : c->data, why);
    if (!e->rows[0]) return false;
    e->rows[1] = e->rows[0] + (needed > 1 ? one / sizeof(float) : 0);
    if (widest) e->z = e->rows[0] + needed * (one / sizeof(float));
    return true;
}

/* Most edges of a chunk of these nodes; ids NULL: all. */
static int64_t chunk_edges(const task* t, const ggnn_node* ids, int64_t count, int64_t chunk)
{
    const int64_t* indptr = t->graph.whole.indptr;
    int64_t most = 0, edges = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t v = ids ? (int64_t)ids[i] : i;
        edges = i % chunk ? edges : 0;
        edges += indptr[v + 1] - indptr[v];
        most = edges > most ? edges : most;
    }
    return most;
}

/* A device's chunks: as much room as the largest takes, and fewer targets where their lists, of two chunks and once
   more as indices, would be above a quarter of --eval-memory. */
static batch_sizes room_of_chunks(evaluation* e, bool looks)
{
    const task* t = e->task;
    batch_sizes room = {{0}, {0}};
    for (;; e->chunk /= 2) {
        int64_t most = e->config->layers > 1 ? chunk_edges(t, NULL, t->set.num_nodes, e->chunk) : 0;
        for (int part = SPLIT_VAL; part <= SPLIT_TEST; part++) {
            int64_t edges = chunk_edges(t, t->ids[part], t->count[part], e->chunk);
            most = edges > most ? edges : most;
        }
        room.ids[0] = room.ids[1] = e->chunk;
        room.edges[0] = looks ? most : 0;
        int64_t bytes = room.edges[0] * (int64_t)(2 * sizeof(ggnn_node) + sizeof(int32_t));
        if (bytes <= e->config->eval_memory / 4 || e->chunk <= CHUNK_LEAST) return room;
    }
}

static bool open_layerwise(evaluation* e, const net_config* network, error* why)
{
    const task* t = e->task;
    bool looks = network->model != NET_MLP;
    int32_t widest = net_transformed(network, t->features.width);
    batch_sizes room = {{0}, {0}};
    device* d = e->view->device;
    if (d->tight) room = room_of_chunks(e, looks);
    int64_t edges = !looks ? 0 : d->tight ? room.edges[0] : t->graph.num_edges;
    if (edges > INT32_MAX || (widest && t->graph.num_nodes > INT32_MAX - CHUNK))
        return error_set(why, "--eval full: a block of %lld nodes and %lld edges could have 2^31 sources or edges; "
                         "use --eval sampled", (long long)t->graph.num_nodes, (long long)t->graph.num_edges);
    size_t logits = memory_product((size_t)e->chunk, (size_t)t->outputs, sizeof(float));
    e->logits = device_new(d, logits, "logits of a chunk", why);
    if (!e->logits) return false;
    loader_plan plan = {.graph = e->view->graph, .features = e->view->features, .batch = e->chunk,
                        .how = {.num_hops = 1, .fanout = {looks ? -1 : 0}, .last_hop_global = 1}};
    e->chunks = loader_create(d, &plan, &room, why);
    return e->chunks && open_rows(e, widest, why);
}

evaluation* evaluation_create(const config* c, const task* t, const tiers* view, const net_config* network,
                              loader* training, const volatile sig_atomic_t* stop, error* why)
{
    evaluation* e = memory_new(sizeof *e, "the evaluation", why);
    if (!e) return NULL;
    e->config = c;
    e->task = t;
    e->view = view;
    e->training = training;
    e->chunk = CHUNK;
    e->stop = stop;
    int64_t most = t->count[SPLIT_VAL] > t->count[SPLIT_TEST] ? t->count[SPLIT_VAL] : t->count[SPLIT_TEST];
    bool good = metrics_open(&e->metrics, t->classes, most, why);
    if (good && !c->full_batch && c->eval == EVAL_FULL) good = open_layerwise(e, network, why);
    int64_t rows = c->full_batch ? t->set.num_nodes : e->chunk;
    if (!c->full_batch && c->eval == EVAL_SAMPLED) rows = loader_shape(training)->hop[0].num_dst.max;
    good = good && open_read_rows(e, rows, ((int64_t)t->outputs + 15) / 16 * 16, why);
    if (good) return e;
    evaluation_free(e);
    return NULL;
}

void evaluation_free(evaluation* e)
{
    if (!e) return;
    loader_free(e->chunks);
    metrics_close(&e->metrics);
    tiers_room_close(&e->room);
    device_free(e->view->device, e->logits);
    memory_free(e->read_rows);
    memory_free(e->read_ids);
    memory_free(e);
}

const ggnn_batch* evaluation_chunk(const evaluation* e) { return e->chunks ? loader_shape(e->chunks) : NULL; }

/* ==== passes ==================================================================================================== */

static void add_row(evaluation* e, const float* logits, int64_t v)
{
    const task* t = e->task;
    double loss;
    if (!net_row_loss(&loss, logits, t->outputs, &t->labels, v)) return;
    metrics_add(&e->metrics, logits, t->outputs, task_class(t, v));
    if (e->metrics.not_finite && e->broken < 0) e->broken = v;
    e->loss += loss;
    e->known++;
}

static net_rows on_host(evaluation* e, net_rows rows)
{
    size_t bytes = (size_t)(rows.rows * rows.ld) * sizeof(float);
    rows.v = device_read(e->view->device, e->read_rows, rows.v, bytes);
    return rows;
}

/* Row i of `rows` belongs to node id[i]. */
static void add_rows(evaluation* e, net_rows rows, const ggnn_node* id)
{
    rows = on_host(e, rows);
    id = device_read(e->view->device, e->read_ids, id, (size_t)rows.rows * sizeof *id);
    for (int64_t i = 0; i < rows.rows; i++) add_row(e, rows.v + i * rows.ld, (int64_t)id[i]);
}

/* Layer l over the nodes of a pass, which gives out its rows; the last layer's are added up instead. */
static bool run_layer(evaluation* e, net* n, int32_t l, const loader_pass* pass, const ggnn_store* x, error* why)
{
    bool last = l == e->config->layers - 1;
    int64_t width = net_width(n, l), nodes = e->task->set.num_nodes, done = 0;
    const mini_batch* b;
    for (int64_t v = 0; e->z && v < nodes && !*e->stop; v += e->chunk)
        net_transform(n, l, e->z, v, nodes - v < e->chunk ? nodes - v : e->chunk, x);
    loader_begin(e->chunks, pass, 0);
    while (!*e->stop && (b = batch_take(e->chunks, why))) {
        const ggnn_block* block = &b->blocks.hop[0];
        int64_t rows = device_size(e->view->device, block->num_dst);
        float* out = last ? e->logits : e->rows[l % 2] + done * width;
        net_layer(n, l, out, width, block, x, e->z);
        if (last) add_rows(e, (net_rows){out, width, rows, (int32_t)width}, block->id);
        batch_give(e->chunks, b);
        done += rows;
    }
    return done == pass->num_ids && !why->text[0];
}

static bool run_layerwise(evaluation* e, net* n, const loader_pass* wanted, error* why)
{
    const task* t = e->task;
    loader_pass all = *wanted;
    all.ids = NULL;
    all.num_ids = t->set.num_nodes;
    ggnn_store x = e->view->features;
    for (int32_t l = 0; l < e->config->layers; l++) {
        if (!run_layer(e, n, l, l == e->config->layers - 1 ? wanted : &all, &x, why)) return false;
        x = ggnn_store_plain(e->rows[l % 2], t->set.num_nodes, net_width(n, l), GGNN_F32);
    }
    return true;
}

static bool run_sampled(evaluation* e, net* n, const loader_pass* wanted, error* why)
{
    const mini_batch* b;
    int64_t done = 0;
    loader_begin(e->training, wanted, 0);
    while (!*e->stop && (b = batch_take(e->training, why))) {
        bool fits = net_fit(n, loader_shape(e->training), why);
        net_rows rows = fits ? net_forward(n, b, 0, false) : (net_rows){0};
        add_rows(e, rows, b->blocks.id);
        batch_give(e->training, b);
        done += rows.rows;
    }
    return done == wanted->num_ids && !why->text[0];
}

static void run_whole(evaluation* e, net* n, const ggnn_node* ids, int64_t count)
{
    net_rows rows = on_host(e, net_forward(n, net_whole(n), 0, false));
    for (int64_t i = 0; i < count; i++) add_row(e, rows.v + (int64_t)ids[i] * rows.ld, (int64_t)ids[i]);
}

bool evaluation_run(evaluation* e, net* n, int part, score* result, error* why)
{
    const task* t = e->task;
    loader_pass wanted = {
        .ids = e->view->ids[part],
        .num_ids = t->count[part],
        .rng = {(uint64_t)e->config->seed, 0, GGNN_PURPOSE_EVALUATE},
    };
    bool good = true;
    metrics_reset(&e->metrics);
    e->loss = 0;
    e->known = 0;
    e->broken = -1;
    if (e->config->full_batch) run_whole(e, n, t->ids[part], t->count[part]);
    else if (e->config->eval == EVAL_SAMPLED) good = run_sampled(e, n, &wanted, why);
    else good = run_layerwise(e, n, &wanted, why);
    if (!good) return false;
    result->known = e->known;
    result->broken = e->broken;
    result->loss = e->known ? e->loss / (double)e->known : NAN;
    result->metrics = metrics_of(&e->metrics);
    return true;
}
