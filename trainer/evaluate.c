#include "trainer/evaluate.h"

#include <math.h>
#include <string.h>

#include "common/memory.h"

enum {
    CHUNK = 4096, /* targets: enough to fill the threads, few enough that their sources fit the cache */
    CHUNK_LEAST = 64
};

typedef struct { /* what a node's logits say */
    double loss;
    int32_t labelled; /* 0: it has no label, and the rest is nothing */
    metrics_row row;
} finding;

struct evaluation {
    const config* config;
    comm* comm;       /* not its own */
    const task* task;
    const tiers_view* view; /* not its own */
    loader* training; /* not its own */
    loader* chunks;   /* layer-wise: all neighbours, one hop */
    net_chunk asks;   /* what layer-wise evaluation asks of the net */
    int64_t chunk;    /* targets of a chunk, for each rank */
    metrics metrics;
    double loss;
    int64_t known, broken; /* as in score */
    float* rows[2];   /* (N, hidden) outputs of layers, in turn; one matrix where z lets them go over x */
    net_transformed_rows all; /* of net.h; z NULL: nothing is transformed */
    layer_rows outputs, scores; /* of rows and z; of el */
    int32_t last;     /* the layer whose rows are asked for: of scores the last one, of logits */
    int32_t width;    /* of its rows */
    float* logits;    /* (chunk, width) on the device */
    float* read_rows; /* for device_read of logits */
    finding* found;   /* of all ranks' nodes of a chunk or mini-batch; NULL in a prediction */
    int64_t* bound;   /* (ranks + 1) whose is which */
    const evaluation_sink* to; /* NULL: rows are scored */
    float* sent;      /* (the ranks' nodes of a chunk, width) in a prediction */
    comm_piece* piece; /* (2 ranks) */
    int64_t done;     /* rows of all layers so far */
};

/* ==== memory ==================================================================================================== */

/* Room for the rows of all ranks' `most` nodes. */
static bool open_sent(evaluation* e, int64_t most, error* why)
{
    const size_t ranks = (size_t)e->comm->ranks;
    e->piece = memory_new(2 * ranks * sizeof *e->piece, "rows to write", why);
    e->sent = e->piece ? memory_new(memory_product((size_t)most, ranks * (size_t)e->width, sizeof *e->sent), "rows to write", why) : NULL;
    return e->sent != NULL;
}

/* Room for `most` rows of logits to be read into, and for what all ranks find, or their rows. */
static bool open_found(evaluation* e, int64_t most, error* why)
{
    const size_t ranks = (size_t)e->comm->ranks, ld = ((size_t)e->width + 15) / 16 * 16;
    e->read_rows = memory_new(memory_product((size_t)most, ld, sizeof(float)), "logits on the host", why);
    e->bound = memory_new((ranks + 1) * sizeof *e->bound, "losses of nodes", why);
    if (!e->read_rows || !e->bound) return false;
    if (e->config->predicts) return open_sent(e, most, why);
    e->found = memory_new(memory_product((size_t)most, ranks, sizeof *e->found), "losses of nodes", why);
    return e->found != NULL;
}

/* Where each rank has the scratch rows of its own before the nodes' rows. */
static bool open_transformed(evaluation* e, float* z, const net_config* network, size_t room, error* why)
{
    size_t heads = (size_t)(network->heads > network->out_heads ? network->heads : network->out_heads);
    size_t rows = room * (size_t)e->comm->ranks + (size_t)e->task->set.num_nodes;
    e->all = (net_transformed_rows){.z = z, .scratch = (int64_t)room * e->comm->rank,
                                    .nodes = (int64_t)room * e->comm->ranks};
    e->asks.nodes = e->all.nodes - e->all.scratch;
    if (!net_has(network->model, network->aggregator, NET_HEADS)) return true;
    e->all.el = layer_rows_open(&e->scores, e->view->device, e->comm, memory_product(rows, heads, sizeof(float)), SIZE_MAX,
                                NULL, why);
    return e->all.el != NULL;
}

static int32_t last_layer(const config* c) { return (int32_t)(c->layer ? c->layer : c->layers) - 1; }

static int64_t matrices_of(const config* c, bool transforms) { return last_layer(c) > 1 && !transforms ? 2 : last_layer(c) > 0; }

/* The matrices of outputs, none for one layer, one for two; and z, of `widest` columns. */
static bool open_rows(evaluation* e, int32_t widest, const net_config* network, error* why)
{
    const config* c = e->config;
    size_t nodes = (size_t)e->task->set.num_nodes, room = (size_t)loader_shape(e->chunks)->hop[0].num_dst.max;
    size_t needed = (size_t)matrices_of(c, widest != 0);
    size_t one = memory_product(nodes, (size_t)c->hidden, sizeof(float));
    size_t z = memory_product(nodes + room * (size_t)e->comm->ranks, (size_t)widest, sizeof(float));
    size_t bytes = memory_product(one, needed, 1);
    bytes = z > SIZE_MAX - bytes ? SIZE_MAX : bytes + z;
    e->rows[0] = layer_rows_open(&e->outputs, e->view->device, e->comm, bytes, (size_t)c->eval_memory,
                                 c->predicts ? c->out : c->save ? c->save : c->data, why);
    if (!e->rows[0]) return false;
    e->rows[1] = e->rows[0] + (needed > 1 ? one / sizeof(float) : 0);
    return !widest || open_transformed(e, e->rows[0] + needed * (one / sizeof(float)), network, room, why);
}

/* Most edges of a slice of a chunk of these nodes; ids NULL: all. */
static int64_t slice_edges(const evaluation* e, const ggnn_node* ids, int64_t count)
{
    const int64_t* indptr = e->task->graph.whole.indptr;
    const int32_t ranks = e->comm->ranks;
    const loader_pass pass = {.num_ids = count};
    const int64_t batch = e->chunk * ranks;
    int64_t most = 0;
    for (int64_t i = 0; i * batch < count; i++)
        for (int32_t r = 0; r < ranks; r++) {
            const loader_slice s = loader_slice_of(&pass, batch, i, r, ranks);
            int64_t edges = 0;
            for (int64_t k = s.from; k < s.from + s.seeds; k++) {
                int64_t v = ids ? (int64_t)ids[k] : k;
                edges += indptr[v + 1] - indptr[v];
            }
            most = edges > most ? edges : most;
        }
    return most;
}

/* A device's chunks: as much room as the largest takes, and fewer targets where their lists, of two chunks and once
   more as indices, would be above a quarter of --eval-memory. numbered: with a list of their sources. */
static batch_sizes room_of_chunks(evaluation* e, bool looks, bool numbered)
{
    const task* t = e->task;
    batch_sizes room = {{0}, {0}};
    for (;; e->chunk /= 2) {
        int64_t most = e->last > 0 ? slice_edges(e, NULL, t->set.num_nodes) : 0;
        for (int part = e->config->predicts ? TASK_ASKED : SPLIT_VAL; part <= SPLIT_TEST; part++) {
            int64_t edges = slice_edges(e, t->ids[part], t->count[part]);
            most = edges > most ? edges : most;
        }
        room.ids[0] = room.ids[1] = e->chunk;
        room.edges[0] = looks ? most : 0;
        if (numbered) room.ids[1] = most < t->set.num_nodes - e->chunk ? e->chunk + most : t->set.num_nodes;
        int64_t bytes = room.edges[0] * (int64_t)(2 * sizeof(ggnn_node) + sizeof(int32_t));
        if (bytes <= e->config->eval_memory / 4 || e->chunk <= CHUNK_LEAST) return room;
    }
}

static bool open_layerwise(evaluation* e, const net_config* network, error* why)
{
    const task* t = e->task;
    bool looks = !net_has(network->model, network->aggregator, NET_ALONE) && !(network->preprocessed && network->layers == 1);
    int32_t widest = net_transformed(network, t->features.width), ranks = e->comm->ranks;
    const bool edges_read = e->view->edges.width > 0;
    const bool numbered = !widest && (e->view->exchange || edges_read); /* their rows are sent once, or read beside those of edges */
    batch_sizes room = {{0}, {0}};
    device* d = e->view->device;
    if (d->tight) room = room_of_chunks(e, looks, numbered);
    int64_t edges = !looks ? 0 : d->tight ? room.edges[0] : t->graph.num_edges;
    if (edges > INT32_MAX || (widest && t->graph.num_nodes > INT32_MAX - (int64_t)CHUNK * ranks))
        return error_set(why, "--eval full: a block of %lld nodes and %lld edges could have 2^31 sources or edges; "
                         "use --eval sampled", (long long)t->graph.num_nodes, (long long)t->graph.num_edges);
    size_t logits = memory_product((size_t)e->chunk, (size_t)e->width, sizeof(float));
    e->logits = device_new(d, logits, "logits of a chunk", why);
    if (!e->logits) return false;
    loader_plan plan = {.graph = e->view->graph, .features = e->view->features, .batch = e->chunk * ranks,
                        .rank = e->comm->rank, .ranks = ranks, .edges_read = e->view->edges_read,
                        .how = {.num_hops = 1, .fanout = {looks ? -1 : 0}, .last_hop_global = !numbered,
                            .keep = edges_read ? GGNN_KEEP_POSITIONS : 0}};
    e->chunks = loader_create(d, &plan, &room, why);
    if (!e->chunks) return false;
    e->asks.blocks = loader_shape(e->chunks);
    return open_rows(e, widest, network, why);
}

evaluation* evaluation_create(const config* c, const task* t, const tiers_view* view, const net_config* network,
                              loader* training, comm* with, error* why)
{
    evaluation* e = memory_new(sizeof *e, "the evaluation", why);
    if (!e) return NULL;
    e->config = c;
    e->task = t;
    e->view = view;
    e->training = training;
    e->chunk = CHUNK;
    e->comm = with;
    e->last = last_layer(c);
    e->width = e->last + 1 < c->layers ? (int32_t)c->hidden : t->outputs;
    int64_t most = t->count[SPLIT_VAL] > t->count[SPLIT_TEST] ? t->count[SPLIT_VAL] : t->count[SPLIT_TEST];
    bool good = c->predicts || metrics_open(&e->metrics, t->classes, most, why);
    if (good && !c->full_batch && c->eval == EVAL_FULL) good = open_layerwise(e, network, why);
    int64_t rows = c->full_batch && !c->predicts ? t->set.num_nodes : e->chunk;
    if (!c->full_batch && c->eval == EVAL_SAMPLED) rows = loader_shape(training)->hop[0].num_dst.max;
    good = good && open_found(e, rows, why);
    if (good) return e;
    evaluation_free(e);
    return NULL;
}

void evaluation_free(evaluation* e)
{
    if (!e) return;
    loader_free(e->chunks);
    metrics_close(&e->metrics);
    layer_rows_close(&e->outputs);
    layer_rows_close(&e->scores);
    device_free(e->view->device, e->logits);
    memory_free(e->read_rows);
    memory_free(e->found);
    memory_free(e->bound);
    memory_free(e->sent);
    memory_free(e->piece);
    memory_free(e);
}

int64_t evaluation_bytes(const config* c, const task* t, const net_config* network)
{
    const int64_t widest = net_transformed(network, t->features.width);
    const int64_t outputs = matrices_of(c, widest != 0) * c->hidden;
    if (!c->eval_every || c->full_batch || c->eval != EVAL_FULL) return 0;
    const int64_t bytes = (outputs + widest) * t->set.num_nodes * (int64_t)sizeof(float);
    return bytes > c->eval_memory ? 0 : bytes;
}

const net_chunk* evaluation_chunk(const evaluation* e) { return e->asks.blocks ? &e->asks : NULL; }

/* ==== passes ==================================================================================================== */

static finding find(const evaluation* e, const float* logits, int64_t v)
{
    finding f = {0};
    if (!net_row_loss(&f.loss, logits, e->task->outputs, &e->task->labels, v)) return f;
    f.labelled = 1;
    f.row = metrics_look(logits, e->task->outputs);
    return f;
}

static void add(evaluation* e, const finding* f, int64_t v)
{
    if (!f->labelled) return;
    metrics_add(&e->metrics, f->row, task_class(e->task, v));
    if (e->metrics.not_finite && e->broken < 0) e->broken = v;
    e->loss += f->loss;
    e->known++;
}

static net_rows on_host(evaluation* e, net_rows rows)
{
    size_t bytes = (size_t)(rows.rows * rows.ld) * sizeof(float);
    rows.v = device_read(e->view->device, e->read_rows, rows.v, bytes);
    return rows;
}

/* Fills bound: which rows of batch i of a pass are whose. Returns where the batch begins. */
static int64_t cut(evaluation* e, const loader_pass* pass, int64_t batch, int64_t i)
{
    loader_slice s = {0};
    for (int32_t r = e->comm->ranks - 1; r >= 0; r--) {
        s = loader_slice_of(pass, batch, i, r, e->comm->ranks);
        e->bound[r] = s.from - s.global_from;
    }
    e->bound[e->comm->ranks] = s.global_seeds;
    return s.global_from;
}

/* Between two chunks: where rows are exchanged, all give up at once, else each does by itself. */
static bool gives_up(const evaluation* e)
{
    return layer_rows_is_one(&e->outputs) && !e->view->exchange ? *e->comm->stop : e->comm->stopped;
}

/* The input of layer l as this device reads it for a chunk: x, or of layer 0 the rows of the chunk's sources that the ranks
   exchange. NULL on failure. */
static const ggnn_store* rows_of_chunk(evaluation* e, int32_t l, const mini_batch* b, const ggnn_store* x, error* why)
{
    if (l || !e->view->exchange) return x;
    return exchange_some(e->view->exchange, b->blocks.id, device_size(e->view->device, b->blocks.hop[0].num_src), why);
}

/* So many rows of a layer are done. */
static void show(evaluation* e, int64_t rows)
{
    e->done += rows;
    if (e->to && e->to->bar) progress_update(e->to->bar, e->done);
}

/* This rank's rows of what begins at row `first` of those asked for, to rank 0, which hands all of it on. */
static bool send_rows(evaluation* e, net_rows rows, int64_t first, error* why)
{
    comm* c = e->comm;
    const int64_t mine = e->bound[c->rank], all = e->bound[c->ranks];
    comm_piece *to = e->piece, *from = e->piece + c->ranks;
    float* at = e->sent + mine * e->width;
    memset(e->piece, 0, 2 * (size_t)c->ranks * sizeof *e->piece);
    for (int64_t k = 0; k < rows.rows; k++) memcpy(at + k * e->width, rows.v + k * rows.ld, (size_t)e->width * sizeof *at);
    for (int32_t r = 1; r < c->ranks && c->rank == 0; r++) to[r] = (comm_piece){e->bound[r], e->bound[r + 1] - e->bound[r]};
    if (c->rank) from[0] = (comm_piece){mine, rows.rows};
    if (!comm_exchange(c, NULL, e->sent, to, e->sent, from, (size_t)e->width * sizeof *at, why)) return false;
    return c->rank || e->to->put(e->to->context, first, (net_rows){e->sent, e->width, all, e->width}, why);
}

/* What all ranks found of a batch that begins at ids is added up in its order. */
static bool add_rows(evaluation* e, net_rows rows, const ggnn_node* ids, error* why)
{
    comm* c = e->comm;
    for (int64_t k = 0, at = e->bound[c->rank]; k < rows.rows; k++, at++)
        e->found[at] = find(e, rows.v + k * rows.ld, (int64_t)ids[at]);
    if (!comm_all_gather(c, NULL, e->found, e->bound, sizeof *e->found, why)) return false;
    for (int64_t k = 0; k < e->bound[c->ranks]; k++) add(e, &e->found[k], (int64_t)ids[k]);
    return true;
}

/* This rank's slice of batch number i of a pass over ids, whose node k has row k of `rows`: to be scored or written. */
static bool take_rows(evaluation* e, net_rows rows, const ggnn_node* ids, const loader_pass* pass, int64_t batch, int64_t i,
                      error* why)
{
    const int64_t first = cut(e, pass, batch, i);
    rows = on_host(e, rows);
    if (!(e->to ? send_rows(e, rows, first, why) : add_rows(e, rows, ids + first, why))) return false;
    show(e, e->bound[e->comm->ranks]);
    return true;
}

/* The transformed rows of nodes [from, ..) as bound cuts them, to the other rooms. */
static bool spread_transformed(evaluation* e, net* n, int32_t l, int64_t from, error* why)
{
    const size_t width = (size_t)net_transformed_width(n, l), heads = (size_t)net_heads(n, l);
    const size_t row = (size_t)(e->all.nodes + from);
    if (!layer_rows_spread(&e->outputs, e->all.z + row * width, e->bound, width * sizeof(float), why)) return false;
    return !e->all.el || layer_rows_spread(&e->scores, e->all.el + row * heads, e->bound, heads * sizeof(float), why);
}

/* Transforms this rank's share of the rows of x, which all wait for. */
static bool transform(evaluation* e, net* n, int32_t l, const ggnn_store* x, error* why)
{
    const loader_pass all = {.num_ids = e->task->set.num_nodes};
    const int64_t batch = e->chunk * e->comm->ranks;
    const int32_t rank = e->comm->rank;
    if (!e->all.z) return true;
    for (int64_t i = 0; i * batch < all.num_ids && !gives_up(e); i++) {
        const int64_t from = cut(e, &all, batch, i), rows = e->bound[rank + 1] - e->bound[rank];
        if (!l && e->view->exchange) x = exchange_range(e->view->exchange, from + e->bound[rank], rows, why);
        if (!x) return false;
        if (rows) net_transform(n, l, &e->all, from + e->bound[rank], rows, x);
        if (!spread_transformed(e, n, l, from, why)) return false;
    }
    return comm_barrier(e->comm, why) && !e->comm->stopped;
}

/* Layer l before the last, of all nodes: this rank's share of its rows. */
static bool run_layer(evaluation* e, net* n, int32_t l, const loader_pass* all, const ggnn_store* x, error* why)
{
    comm* c = e->comm;
    const int64_t width = net_width(n, l);
    const mini_batch* b;
    if (!transform(e, n, l, x, why)) return false;
    loader_begin(e->chunks, all, 0);
    for (int64_t i = 0; !gives_up(e) && (b = batch_take(e->chunks, why)); i++) {
        float* rows = e->rows[l % 2] + cut(e, all, loader_batch(e->chunks), i) * width;
        const ggnn_store* input = rows_of_chunk(e, l, b, x, why);
        if (input) net_layer(n, l, rows + e->bound[c->rank] * width, width, &b->blocks.hop[0], input, e->all.z ? &e->all : NULL);
        batch_give(e->chunks, b);
        if (!input) return false;
        if (!layer_rows_spread(&e->outputs, rows, e->bound, (size_t)width * sizeof *rows, why)) return false;
        show(e, e->bound[c->ranks]);
    }
    return !why->text[0] && comm_barrier(c, why) && !c->stopped;
}

/* The last layer, of the nodes asked for. */
static bool run_last_layer(evaluation* e, net* n, const loader_pass* wanted, const ggnn_node* ids, const ggnn_store* x,
                           error* why)
{
    const int32_t l = e->last, width = e->width;
    const mini_batch* b;
    if (!transform(e, n, l, x, why)) return false;
    loader_begin(e->chunks, wanted, 0);
    for (int64_t i = 0; !e->comm->stopped && (b = batch_take(e->chunks, why)); i++) {
        const ggnn_block* block = &b->blocks.hop[0];
        const net_rows rows = {e->logits, width, device_size(e->view->device, block->num_dst), width};
        const ggnn_store* input = rows_of_chunk(e, l, b, x, why);
        if (input) net_layer(n, l, e->logits, width, block, input, e->all.z ? &e->all : NULL);
        batch_give(e->chunks, b);
        if (!input) return false;
        if (!take_rows(e, rows, ids, wanted, loader_batch(e->chunks), i, why)) return false;
    }
    return !why->text[0] && !e->comm->stopped;
}

static bool run_layerwise(evaluation* e, net* n, const loader_pass* wanted, const ggnn_node* ids, error* why)
{
    const task* t = e->task;
    loader_pass all = *wanted;
    all.ids = NULL;
    all.num_ids = t->set.num_nodes;
    ggnn_store x = e->view->features;
    for (int32_t l = 0; l < e->last; l++) {
        if (!run_layer(e, n, l, &all, &x, why)) return false;
        x = ggnn_store_plain(e->rows[l % 2], t->set.num_nodes, net_width(n, l), GGNN_F32);
    }
    return run_last_layer(e, n, wanted, ids, &x, why);
}

static bool run_sampled(evaluation* e, net* n, const loader_pass* wanted, const ggnn_node* ids, error* why)
{
    const mini_batch* b;
    loader_begin(e->training, wanted, 0);
    for (int64_t i = 0; !e->comm->stopped && (b = batch_take(e->training, why)); i++) {
        bool fits = net_fit(n, loader_shape(e->training), why);
        if (fits) net_forward(n, b, 0, false);
        net_rows rows = fits ? net_output(n, e->last) : (net_rows){0};
        bool good = fits && take_rows(e, rows, ids, wanted, loader_batch(e->training), i, why);
        batch_give(e->training, b);
        if (!good) return false;
    }
    return !why->text[0] && !e->comm->stopped;
}

static void run_whole(evaluation* e, net* n, const ggnn_node* ids, int64_t count)
{
    net_rows rows = on_host(e, net_forward(n, net_whole(n), 0, false));
    for (int64_t i = 0; i < count; i++) {
        const finding f = find(e, rows.v + (int64_t)ids[i] * rows.ld, (int64_t)ids[i]);
        add(e, &f, (int64_t)ids[i]);
    }
}

/* A pass over a part of the split, sampled alike in all evaluations. */
static loader_pass wanted_of(const evaluation* e, int part)
{
    return (loader_pass){
        .ids = e->view->ids[part],
        .num_ids = e->task->count[part],
        .rng = {(uint64_t)e->config->seed, 0, GGNN_PURPOSE_EVALUATE},
    };
}

/* The rows of ids, which rise, of one pass over the whole graph: a chunk of its nodes at a time. */
static bool write_whole(evaluation* e, net* n, const ggnn_node* ids, int64_t count, error* why)
{
    const int64_t nodes = e->task->set.num_nodes;
    net_forward(n, net_whole(n), 0, false);
    const net_rows all = net_output(n, e->last);
    for (int64_t from = 0, i = 0; from < nodes && i < count && !gives_up(e); from += e->chunk) {
        const int64_t end = from + e->chunk < nodes ? from + e->chunk : nodes, first = i;
        net_rows rows = on_host(e, (net_rows){all.v + from * all.ld, all.ld, end - from, all.cols});
        for (; i < count && (int64_t)ids[i] < end; i++)
            memcpy(e->sent + (i - first) * e->width, rows.v + ((int64_t)ids[i] - from) * rows.ld, (size_t)e->width * sizeof *e->sent);
        if (i > first && !e->to->put(e->to->context, first, (net_rows){e->sent, e->width, i - first, e->width}, why)) return false;
        show(e, i - first);
    }
    return !gives_up(e);
}

bool evaluation_run(evaluation* e, net* n, int part, score* result, error* why)
{
    const task* t = e->task;
    const loader_pass wanted = wanted_of(e, part);
    bool good = true;
    metrics_reset(&e->metrics);
    e->loss = 0;
    e->known = 0;
    e->broken = -1;
    if (e->config->full_batch) run_whole(e, n, t->ids[part], t->count[part]);
    else if (e->config->eval == EVAL_SAMPLED) good = run_sampled(e, n, &wanted, t->ids[part], why);
    else good = run_layerwise(e, n, &wanted, t->ids[part], why);
    if (!good) return false;
    result->known = e->known;
    result->broken = e->broken;
    result->loss = e->known ? e->loss / (double)e->known : NAN;
    result->metrics = metrics_of(&e->metrics);
    return true;
}

bool evaluation_write(evaluation* e, net* n, const evaluation_sink* to, error* why)
{
    const task* t = e->task;
    const loader_pass wanted = wanted_of(e, TASK_ASKED);
    const bool full = !e->config->full_batch && e->config->eval == EVAL_FULL;
    const int64_t rows = t->count[TASK_ASKED] + (full ? e->last * t->set.num_nodes : 0);
    bool good;
    e->to = to;
    e->done = 0;
    if (to->bar) progress_begin(to->bar, "predict", "rows", rows);
    if (e->config->full_batch) good = write_whole(e, n, t->ids[TASK_ASKED], t->count[TASK_ASKED], why);
    else if (full) good = run_layerwise(e, n, &wanted, t->ids[TASK_ASKED], why);
    else good = run_sampled(e, n, &wanted, t->ids[TASK_ASKED], why);
    if (to->bar) progress_end(to->bar, e->done, false);
    e->to = NULL;
    return good;
}
