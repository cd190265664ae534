/* net.c - a net: its plan, and its pass forward and backward over the layers. */
#include <string.h>

#include "common/memory.h"
#include "trainer/net/layers.h"
#include "trainer/ranks/shuffle.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void plan_layer(net* n, layer* y)
{
    const net_config* c = &n->config;
    y->model->plan(n, y);
    y->finish.bias = net_parameter(n, y, "b", 1, y->out, 0);
    y->finish.layer = y->index + 1;
    y->finish.act = y->last ? ACTIVATION_NONE : y->model->act;
    if (c->residual) {
        if (y->in != y->out) y->w_res = net_parameter(n, y, "w_res", y->in, y->out, GLOROT);
        y->residual = net_matrix(n, y->most_dst, y->in);
    }
    if (c->norm && !y->last) {
        y->finish.gamma = net_parameter(n, y, "gamma", 1, y->out, 1);
        y->finish.beta = net_parameter(n, y, "beta", 1, y->out, 0);
        y->finish.normed = net_matrix(n, y->most_dst, y->out);
        y->finish.inv_deviation = net_take(n, (size_t)y->most_dst, sizeof(float));
    }
    y->h = net_matrix(n, y->train.dst, y->out);
    if (y->index > 0) y->dx = net_matrix(n, y->train.src, y->in);
    if (!c->split) return;
    y->pulled = net_matrix(n, y->train.src, y->model->transform ? y->z.cols : y->in);
    if (y->att.heads) y->pulled_el = net_take(n, (size_t)y->train.src * (size_t)y->att.heads, sizeof(float));
}

/* The largest block that backward transposes. */
static void set_transposed(net* n)
{
    extent* t = &n->most_transposed;
    for (int32_t l = 0; l < n->config.layers; l++) {
        if (l == 0 && !n->layer[l].model->transform && !n->config.full_batch) continue; /* no one wants its dx */
        t->dst = larger(t->dst, n->layer[l].train.dst);
        t->src = larger(t->src, n->layer[l].train.src);
        t->edges = larger(t->edges, n->layer[l].train.edges);
    }
}

/* What evaluation needs to look at rows that have been transformed. */
static void plan_chunk(net* n)
{
    n->chunk.src = net_take(n, 1, sizeof *n->chunk.src);
    n->chunk.range = net_take(n, (size_t)n->chunk.most.dst, sizeof *n->chunk.range);
    n->chunk.indices = net_take(n, (size_t)n->chunk.most.edges, sizeof *n->chunk.indices);
}

static void plan(net* n)
{
    const layer* last = &n->layer[n->config.layers - 1];
    n->most_rows = n->data.edges ? n->data.edges->width : 0; /* GAT's weights of them have as many */
    n->most_edges = n->chunk.most.edges;
    n->used = 0;
    n->num_params = 0;
    n->state.count = 0;
    for (int32_t l = 0; l < n->config.layers; l++) {
        plan_layer(n, &n->layer[l]);
        n->most_rows = larger(n->most_rows, larger(n->layer[l].train.src, n->layer[l].most_dst));
        n->most_edges = larger(n->most_edges, n->layer[l].train.edges);
    }
    if (n->layer[0].model->transform && n->chunk.most.dst) plan_chunk(n);
    n->gathered = net_matrix(n, n->gathered_rows, (int32_t)larger(n->data.features->width, n->config.hidden));
    if (n->data.edges) n->edge_rows = net_matrix(n, n->most_edges, n->data.edges->width);
    n->dlogits = net_matrix(n, last->train.dst, last->out);
    if (n->config.split) n->pushed = net_matrix(n, n->most_rows, n->widest);
    n->row_loss = net_take(n, (size_t)last->train.dst, sizeof *n->row_loss);
    n->sums = net_take(n, 1, sizeof *n->sums);
    if (net_has(n->config.model, n->config.aggregator, NET_BY_DEGREE))
        n->inv_sqrt = net_take(n, (size_t)n->data.graph->num_nodes, sizeof *n->inv_sqrt);
    n->column_sums = net_matrix(n, 3 * (n->most_rows / NET_SEGMENT + 1), n->widest);
    n->ops->plan(n);
}

/* ==== creation ================================================================================================= */

static extent extent_of(const ggnn_block* b)
{
    return (extent){b->num_dst.max, larger(b->num_src.max, b->num_dst.max), b->num_edges.max};
}

bool net_reads_store(const net_config* config)
{
    return !model_of(config, 0)->transform && config->input_dropout == 0 && !config->full_batch;
}

/* Features as a matrix without a copy: the whole graph's rows, where they lie in one array of floats. */
static bool viewable(const net* n)
{
    const ggnn_store* f = n->data.features;
    return n->config.full_batch && n->config.input_dropout == 0 && f->type == GGNN_F32 && !f->base
        && f->pitch % (int64_t)sizeof(float) == 0;
}

static extent extent_larger(extent a, extent b)
{
    return (extent){larger(a.dst, b.dst), larger(a.src, b.src), larger(a.edges, b.edges)};
}

static void set_chunk(net* n, const net_chunk* chunk)
{
    n->chunk.most = extent_of(&chunk->blocks->hop[0]);
    if (!n->layer[0].model->transform) return;
    n->chunk.nodes = chunk->nodes ? chunk->nodes : n->chunk.most.dst;
    n->chunk.most.src = n->chunk.nodes + n->data.graph->num_nodes;
    n->gathered_rows = n->chunk.most.dst;
}

static void set_shapes(net* n, const ggnn_batch* like)
{
    const net_config* c = &n->config;
    for (int32_t l = 0; l < c->layers; l++) {
        layer* y = &n->layer[l];
        y->index = l;
        y->last = l == c->layers - 1;
        y->in = l ? c->hidden : n->data.features->width;
        y->out = y->last ? c->outputs : c->hidden;
        y->train = extent_larger(y->train, extent_of(&like->hop[c->layers - 1 - l]));
        y->most_dst = larger(y->train.dst, n->chunk.most.dst);
    }
    bool read = net_reads_store(c) || viewable(n) || n->whole.sparse || (c->extracted && c->input_dropout == 0);
    if (!read)
        n->gathered_rows = larger(n->gathered_rows, n->layer[0].train.src);
}

/* The graph as a batch whose hops are all the same block. */
static bool make_whole(net* n, error* why)
{
    const ggnn_graph* g = n->data.graph;
    ggnn_batch* whole = &n->whole.batch.blocks;
    size_t copied = sizeof(ggnn_node) == 4 ? 0 : (size_t)g->num_edges * sizeof(int32_t);
    size_t ids = (size_t)g->num_nodes * sizeof(ggnn_node), counts = 3 * sizeof *n->whole.counts;
    n->whole.memory = device_new(n->device, counts + ids + copied, "the whole graph as a batch", why);
    if (!n->whole.memory) return false;
    n->whole.counts = n->whole.memory;
    whole->id = (ggnn_node*)(n->whole.counts + 3);
    n->device->ops->rows->range(n->device, whole->id, 0, g->num_nodes);
    int32_t* copy = copied ? (int32_t*)(whole->id + g->num_nodes) : NULL;
    ggnn_status status = n->ops->whole(n, &whole->hop[0], n->whole.counts, copy);
    if (status != GGNN_OK) return error_set(why, "full batch: %s", ggnn_status_string(status));
    whole->hop[0].id = whole->id;
    for (int32_t h = 1; h < n->config.layers; h++) whole->hop[h] = whole->hop[0];
    whole->num_hops = n->config.layers;
    whole->num_seeds = whole->hop[0].num_dst;
    n->whole.batch.known.max = n->ops->count_known(n);
    return true;
}

/* Of a batch, where there is one. */
static bool has_weights(const ggnn_batch* b) { return !b || b->how.keep & GGNN_KEEP_WEIGHTS; }

static bool has_places(const ggnn_batch* b) { return !b || b->how.keep & GGNN_KEEP_POSITIONS; }
static bool has_indices(const ggnn_batch* b) { return !b || !b->how.last_hop_global; }

static bool check_config(const net_config* c, const ggnn_batch* like, const net_chunk* chunk, error* why)
{
    if (c->layers < 1 || c->layers > NET_LAYERS_MAX)
        return error_set(why, "%d layers: 1 to %d", (int)c->layers, NET_LAYERS_MAX);
    if (c->hidden < 1 || c->outputs < 1)
        return error_set(why, "%d hidden and %d output columns", (int)c->hidden, (int)c->outputs);
    if (net_has(c->model, c->aggregator, NET_HEADS) && (c->heads < 1 || c->out_heads < 1 || c->hidden % c->heads != 0))
        return error_set(why, "%d heads do not divide a hidden width of %d", (int)c->heads, (int)c->hidden);
    const float chance[] = {c->dropout, c->input_dropout, c->attention_dropout};
    for (int i = 0; i < 3; i++)
        if (!(chance[i] >= 0 && chance[i] <= 0.999f))
            return error_set(why, "dropout of %g: 0 to 0.999", (double)chance[i]);
    const bool summed = net_has(c->model, c->aggregator, NET_SUMMED), visits = net_has(c->model, c->aggregator, NET_VISITS);
    if (c->preprocessed && (!summed || c->residual || c->input_dropout > 0))
        return error_set(why, "preprocessed features are GCN's or GraphSAGE's mean's, without residual and input dropout");
    if (c->blas && !c->device->gemm[1]) return error_set(why, "this build has no BLAS");
    if (visits && (c->full_batch || !has_weights(like) || !has_weights(chunk ? chunk->blocks : NULL)))
        return error_set(why, "the importance aggregator needs batches with the visits of walks");
    return true;
}

/* GCN's factors of all nodes: by the lists that are there or, where some are not, by degrees that the host has. */
static bool fill_degrees(net* n, error* why)
{
    const ggnn_graph* known = n->config.degrees;
    if (!n->inv_sqrt) return true;
    if (!known) {
        n->ops->gcn_norm(n, n->inv_sqrt);
        return true;
    }
    const size_t bytes = memory_product((size_t)known->num_nodes, sizeof *n->inv_sqrt, 1);
    float* there = memory_new(bytes, "factors of nodes", why);
    if (!there) return false;
    ggnn_gcn_norm(there, known);
    device_upload(n->device, n->inv_sqrt, there, bytes);
    memory_free(there);
    return true;
}

/* What a plan cannot write, as it only says where things are. */
static bool fill(net* n, error* why)
{
    if (n->chunk.src) device_upload(n->device, n->chunk.src, &n->chunk.most.src, sizeof n->chunk.most.src);
    if (!fill_degrees(n, why)) return false;
    if (viewable(n)) n->whole.view = (float*)n->data.features->rows; /* read only */
    return true;
}

/* After a plan that counted: the matrices, all zeros. */
static bool allocate_matrices(net* n, error* why)
{
    n->memory = device_new(n->device, n->used, "the matrices of the network", why);
    if (!n->memory) return false;
    plan(n); /* places them */
    return fill(n, why) && (!n->device->failed.text[0] || error_set(why, "%s", n->device->failed.text));
}

static bool allocate(net* n, error* why)
{
    plan(n); /* counts: parameters, bytes */
    size_t bytes = memory_product((size_t)n->state.count, 4, sizeof(float));
    n->state.value = device_new(n->device, bytes, "parameters and moments", why);
    n->initial = n->state.value ? memory_new(bytes / 4, "initial weights", why) : NULL;
    if (!n->initial) return false;
    n->state.grad = n->state.value + n->state.count;
    n->state.m = n->state.grad + n->state.count;
    n->state.v = n->state.m + n->state.count;
    n->state.updates = &n->updates;
    if (!allocate_matrices(n, why)) return false;
    device_upload(n->device, n->state.value, n->initial, bytes / 4);
    memory_free(n->initial);
    n->initial = NULL;
    return true;
}

static bool check_edges(const net_config* c, const ggnn_batch* like, const net_chunk* chunk, error* why)
{
    if (!net_has(c->model, c->aggregator, NET_EDGES) || c->preprocessed || c->full_batch || c->split)
        return error_set(why, "rows of edges are read by GraphSAGE's mean and GAT in sampled batches alone");
    const ggnn_batch* chunks = chunk ? chunk->blocks : NULL;
    if (!has_places(like) || !has_places(chunks) || !has_indices(like) || !(model_of(c, 0)->transform || has_indices(chunks)))
        return error_set(why, "rows of edges need batches with local indices and positions");
    return true;
}

net* net_create(const net_config* config, const net_data* data, const ggnn_batch* like, const net_chunk* chunk,
                error* why)
{
    if (!check_config(config, like, chunk, why)) return NULL;
    if (data->edges && !check_edges(config, like, chunk, why)) return NULL;
    net* n = memory_new(sizeof *n, "the network", why);
    if (!n) return NULL;
    n->config = *config;
    n->data = *data;
    n->device = config->device;
    n->ops = n->device->ops->math;
    for (int32_t l = 0; l < config->layers; l++) n->layer[l].model = model_of(config, l);
    bool good = !config->full_batch || make_whole(n, why);
    if (good && !config->dense && net_only_multiplies(config, data->features->width))
        good = n->ops->sparse_open(n, why);
    if (good) {
        if (chunk) set_chunk(n, chunk);
        set_shapes(n, config->full_batch ? &n->whole.batch.blocks : like);
        set_transposed(n);
        good = allocate(n, why);
    }
    if (good) net_start_losses(n, 0, 0);
    if (good) return n;
    net_free(n);
    return NULL;
}

bool net_fit(net* n, const ggnn_batch* like, error* why)
{
    bool fits = true;
    for (int32_t l = 0; l < n->config.layers; l++) {
        extent has = n->layer[l].train, needs = extent_of(&like->hop[n->config.layers - 1 - l]);
        fits = fits && needs.dst <= has.dst && needs.src <= has.src && needs.edges <= has.edges;
    }
    if (fits) return true;
    n->ops->forget(n);
    device_free(n->device, n->memory);
    n->memory = NULL;
    n->whole.transposed = false;
    set_shapes(n, like);
    set_transposed(n);
    plan(n);
    return allocate_matrices(n, why);
}

void net_free(net* n)
{
    if (!n) return;
    n->ops->forget(n);
    if (n->whole.sparse) n->ops->sparse_close(n);
    device_free(n->device, n->memory);
    device_free(n->device, n->state.value);
    device_free(n->device, n->whole.memory);
    memory_free(n->initial);
    memory_free(n);
}

/* ==== forward ================================================================================================== */

/* x (rows of nodes `id`) as a matrix of its own, with dropout. */
static mat copied(net* n, mat x, const ggnn_node* id, uint32_t threshold)
{
    mat dense = n->gathered;
    dense.cols = x.cols;
    dense.ld = mat_padded(x.cols);
    dense.rows = x.rows;
    n->ops->read_rows(n, dense, x);
    if (threshold) n->ops->drop(n, dense, id, threshold, 0);
    return dense;
}

static mat stored_rows(const ggnn_store* from, const ggnn_node* id, ggnn_count rows)
{
    return (mat){.cols = from->width, .rows = rows, .store = from, .id = id};
}

/* The input of layer 0: as the store has it where the layer can read that, else as a matrix: the whole store seen as
   one, the batch's extracted rows, or rows gathered here. */
static mat features(net* n, const mini_batch* b)
{
    const ggnn_store* from = n->data.features;
    uint32_t threshold = n->training ? ggnn_dropout_threshold(n->config.input_dropout) : 0;
    const shuffle_hop* here = b->shuffle ? &b->shuffle->hop[n->config.layers - 1] : NULL;
    const ggnn_node* id = here ? here->id : b->blocks.id;
    mat x = stored_rows(from, id, here ? (ggnn_count){NULL, here->rows} : b->blocks.hop[n->config.layers - 1].num_src);
    if (n->whole.sparse) return n->ops->sparse(n, threshold);
    if (viewable(n)) {
        x.v = n->whole.view;
        x.ld = from->pitch / (int64_t)sizeof(float);
        return x;
    }
    if (b->rows) {
        x.v = b->rows;
        x.ld = b->ld_rows;
        return threshold ? copied(n, x, id, threshold) : x;
    }
    return net_reads_store(&n->config) ? x : copied(n, x, id, threshold);
}

/* out = dropout(activation(norm(linear(x) + residual + bias))). The targets' x is read before out is written. */
static void forward_layer(net* n, layer* y, mat out)
{
    y->finish.id = y->id;
    y->att.how.rng = (ggnn_rng){n->config.seed, n->step, GGNN_PURPOSE_ATTENTION_DROPOUT};
    y->att.how.dropout = n->training ? n->config.attention_dropout : 0;
    y->finish.threshold = n->training && !y->last ? ggnn_dropout_threshold(n->config.dropout) : 0;
    y->targets = mat_head(y->x, y->block->num_dst);
    if (n->config.residual && !y->x.v) {
        y->targets = mat_head(y->residual, y->block->num_dst);
        n->ops->read_rows(n, y->targets, mat_head(y->x, y->block->num_dst));
    }
    y->linear = out;
    y->factor.v = NULL;
    y->model->forward(n, y, out);
    if (y->factor.v && !n->config.residual) {
        n->ops->multiply_finish(n, out, y->factor, y->w.v, &y->finish);
        return;
    }
    if (y->factor.v) n->ops->gemm(n, out, y->factor, false, y->w.v, false, 0);
    if (y->w_res.v.v) n->ops->gemm(n, out, y->targets, false, y->w_res.v, false, 1);
    else if (n->config.residual) n->ops->add(n, out, y->targets);
    n->ops->finish(n, out, y->linear, &y->finish);
}

/* The last layer's output. */
static mat run_forward(net* n, const mini_batch* b)
{
    const int32_t layers = n->config.layers;
    n->backward = 0;
    n->batch = b;
    mat x = features(n, b);
    for (int32_t l = 0; l < layers; l++) {
        layer* y = &n->layer[l];
        y->block = &b->blocks.hop[layers - 1 - l];
        y->id = y->block->id;
        net_take_input(n, y, x);
        y->h.rows = y->block->num_dst;
        forward_layer(n, y, y->h);
        if (n->watch) n->watch->forward(n->watch->context, n, y);
        x = y->h;
    }
    return x;
}

net_rows net_forward(net* n, const mini_batch* b, uint32_t step, bool training)
{
    n->training = training;
    n->step = step;
    n->ops->begin(n);
    mat x = run_forward(n, b);
    return (net_rows){x.v, x.ld, device_size(n->device, x.rows), x.cols};
}

net_rows net_output(const net* n, int32_t l)
{
    const mat *h = &n->layer[l].h, *logits = &n->layer[n->config.layers - 1].h;
    return (net_rows){h->v, h->ld, device_size(n->device, logits->rows), h->cols};
}

/* ---- evaluation ----------------------------------------------------------------------------------------------- */

/* Layer l as evaluation runs it: a copy, so that training's matrices stay its own. */
static layer evaluated(net* n, int32_t l, const net_transformed_rows* all)
{
    layer y = n->layer[l];
    y.transform_first = false; /* its x is a store */
    n->backward = 0;
    n->training = false;
    if (!all) return y;
    y.z.ld = y.z.cols;
    y.z.v = all->z + all->scratch * y.z.ld;
    y.att.el = all->el ? all->el + all->scratch * y.att.heads : NULL;
    y.z_here = y.z;
    y.el_here = y.att.el;
    y.scored = true;
    return y;
}

void net_transform(net* n, int32_t l, const net_transformed_rows* all, int64_t first, int64_t rows, const ggnn_store* x)
{
    layer y = evaluated(n, l, all);
    n->device->ops->rows->range(n->device, n->chunk.range, first, rows);
    mat dense = copied(n, stored_rows(x, n->chunk.range, (ggnn_count){NULL, rows}), n->chunk.range, 0);
    y.model->transform(n, &y, dense, n->chunk.nodes + first);
}

/* The block over z: its sources are its targets, whose rows and scores are put where z begins, then all nodes. */
static ggnn_block block_of_all(net* n, layer* y, const ggnn_block* b)
{
    ggnn_store  nodes = ggnn_store_plain(y->z.v + n->chunk.nodes * y->z.ld, n->data.graph->num_nodes, y->z.cols, GGNN_F32);
    ggnn_block  all = *b;
    n->ops->read_rows(n, mat_head(y->z, b->num_dst), stored_rows(&nodes, b->id, b->num_dst));
    if (y->a_l.v.v) n->ops->scores(n, y->att.el, mat_head(y->z, b->num_dst), y->a_l.v);
    n->ops->index_by_id(n, n->chunk.indices, b, (int32_t)n->chunk.nodes);
    all.indices = n->chunk.indices;
    all.num_src = (ggnn_count){n->chunk.src, n->chunk.most.src};
    return all;
}

void net_layer(net* n, int32_t l, float* out, int64_t ld_out, const ggnn_block* block, const ggnn_store* x,
               const net_transformed_rows* all)
{
    layer y = evaluated(n, l, all);
    ggnn_block over;
    y.id = block->id;
    y.block = block;
    y.x = stored_rows(x, block->id, block->num_dst);
    if (all) {
        over = block_of_all(n, &y, block);
        y.block = &over;
    }
    ggnn_count rows = {block->num_dst.n, device_size(n->device, block->num_dst)}; /* no row beyond may be touched */
    forward_layer(n, &y, (mat){.v = out, .ld = ld_out, .cols = y.out, .rows = rows});
}

/* ==== loss, backward, update =================================================================================== */

static void run_loss(net* n)
{
    mat logits = n->layer[n->config.layers - 1].h;
    n->backward = 0;
    n->ops->loss(n, mat_head(n->dlogits, logits.rows), logits, n->batch);
}

double net_loss(net* n)
{
    net_sums sums;
    run_loss(n);
    device_download(n->device, &sums, n->sums, sizeof sums);
    return sums.known ? sums.loss / (double)sums.known : 0;
}

void net_start_losses(net* n, double sum, int64_t rows)
{
    net_losses none = {.sum = sum, .rows = rows, .bad = -1};
    n->ops->set_losses(n, &none);
}

net_losses net_losses_of(net* n, bool wait) { return n->ops->losses(n, wait); }

static void transpose_for(net* n, layer* y)
{
    y->transpose = &n->transpose;
    if (n->whole.transposed || net_sums_in_parts(n, y) || (!y->dx.v && !y->model->transform && !y->transform_first)) return;
    n->ops->transpose(n, &n->transpose, y->block);
    n->whole.transposed = n->config.full_batch; /* every layer's block is the same, in every step */
}

/* dout, the gradient of y->h, becomes that of its linear part, from which come those of the weights and of x. */
static void backward_layer(net* n, layer* y, mat dx, mat dout)
{
    ggnn_count rows = y->block->num_dst;
    n->ops->finish_back(n, dout, y->through ? (mat){.v = NULL} : y->h, &y->finish);
    y->through = false;
    if (y->w_res.v.v) n->ops->gemm(n, y->w_res.d, y->targets, true, dout, false, 0);
    transpose_for(n, y);
    y->model->backward(n, y, dx, dout);
    if (!dx.v || !n->config.residual) return;
    if (y->w_res.v.v) n->ops->gemm(n, mat_head(dx, rows), dout, false, y->w_res.v, true, 1);
    else n->ops->add(n, dx, dout);
}

void net_backward(net* n)
{
    mat dout = n->dlogits;
    n->backward = 1;
    for (int32_t l = n->config.layers - 1; l >= 0; l--) {
        layer* y = &n->layer[l];
        mat dx = mat_head(y->dx, n->batch->shuffle ? y->x.rows : y->block->num_src);
        dout = mat_head(dout, y->block->num_dst);
        if (n->watch) n->watch->backward(n->watch->context, n, y, dout);
        backward_layer(n, y, dx, dout);
        if (n->watch) n->watch->after_backward(n->watch->context, n, y);
        dout = l && !net_reads_own(n, y) ? net_push(n, y, dx) : dx;
    }
}

void net_run(net* n, const mini_batch* b)
{
    run_forward(n, b);
    run_loss(n);
    net_backward(n);
}

void net_compute(net* n, const mini_batch* b, uint32_t step)
{
    n->training = true;
    n->step = step;
    n->ops->begin(n);
    n->ops->compute(n, b);
}

void net_take_sums(net* n, uint32_t step, const net_sums* sums)
{
    n->step = step;
    device_upload(n->device, n->sums, sums, sizeof *sums);
}

void net_update(net* n, float learning_rate)
{
    n->backward = 1;
    n->optimiser = net_next_adam(n, learning_rate);
    n->ops->update(n);
}

/* ==== what the rest of the trainer asks ======================================================================== */

const mini_batch* net_whole(const net* n) { return &n->whole.batch; }
int32_t net_width(const net* n, int32_t l) { return n->layer[l].out; }
int32_t net_transformed_width(const net* n, int32_t l) { return n->layer[l].z.cols; }
int32_t net_heads(const net* n, int32_t l) { return n->layer[l].att.heads; }
net_state net_state_of(net* n) { return n->state; }
net_partial net_partial_of(net* n) { return (net_partial){n->state.count, n->state.grad, n->sums}; }
int32_t net_num_params(const net* n) { return n->num_params; }
net_param net_param_at(const net* n, int32_t i) { return n->param[i]; }
const net_profile* net_profile_of(const net* n) { return &n->profile; }

void net_add_profile(net* n, const net_profile* before)
{
    net_profile* p = &n->profile;
    for (int back = 0; back < 2; back++) {
        for (int s = 0; s < NET_NUM_STAGES; s++) {
            p->seconds[back][s] += before->seconds[back][s];
            p->bytes[back][s] += before->bytes[back][s];
        }
        p->flops[back] += before->flops[back];
    }
    p->train += before->train;
}
device* net_device(const net* n) { return n->device; }
