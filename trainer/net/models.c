/* models.c - the layers, each written once for every backend: forward as its formula, backward as forward read from
   its end. The formulas are those of tests/vectors/make_model_vectors.py. Residual, bias, norm, activation and
   dropout are the same in all models and follow in net.c.

   A plan makes the layer's parameters, then the matrices that forward leaves for backward, over `most_dst` targets or
   `train.src` sources, and backward's own, as large as `train`. Backward overwrites what was saved: da takes the
   place of `a` once the weights' gradient has been taken. */
#include "trainer/net/layers.h"

static mat targets(const layer* y, mat a) { return mat_head(a, y->block->num_dst); }
static mat sources(const layer* y, mat a) { return mat_head(a, y->block->num_src); }

/* Rows of the block's edges, of which all layers have one matrix; 0 columns: the net reads none. */
static int32_t edge_width(const net* n) { return n->data.edges ? n->data.edges->width : 0; }
static mat read_edges(net* n, const layer* y)
{
    mat rows = mat_head(n->edge_rows, y->block->num_edges);
    n->ops->read_edges(n, rows, n->data.edges, y->block);
    return rows;
}

/* dx = d over the transpose, with its factors, += own; and through the layer before, where nothing else is added to it. */
static void backward_through(net* n, layer* y, mat dx, const ggnn_scale* s, const float* weight, mat d, mat own)
{
    layer* before = y->index && !n->config.residual && !n->batch->shuffle ? y - 1 : NULL;
    const bool through = n->ops->aggregate_back(n, dx, y->transpose, s, weight, d, own, before);
    if (before) before->through = through;
}

/* ==== MLP: out = x W. Neighbours do not matter ================================================================= */

static void mlp_plan(net* n, layer* y)
{
    y->w = net_parameter(n, y, "w", y->in, y->out, GLOROT);
    y->a = net_matrix(n, y->most_dst, y->in);
}

static void mlp_forward(net* n, layer* y, mat out)
{
    mat x = targets(y, y->x); /* (D, in) */
    if (!x.v) {
        n->ops->read_rows(n, targets(y, y->a), x);
        x = targets(y, y->a);
    }
    (void)out;
    y->factor = x;
}

static void mlp_backward(net* n, layer* y, mat dx, mat dout)
{
    mat x = targets(y, y->x.v ? y->x : y->a);
    n->ops->gemm(n, y->w.d, x, true, dout, false, 0);          /* dW = x' dout */
    if (dx.v) n->ops->gemm(n, dx, dout, false, y->w.v, true, 0); /* dx = dout W' */
}

/* ==== GCN, Kipf & Welling 2017: out = A x W, A[v,u] = 1 / sqrt(d_u d_v) over N(v) and v itself ================= */
/* A is two diagonal factors around the plain sum, and A' the same with the factors swapped. GraphSAGE's gcn aggregator
   is this layer with other factors: A[v,u] = 1 / (|N(v)| + 1). */

/* Full batch: (A x) W sums rows of `in` columns, A (x W) rows of `out`. In a sampled block, where the sources are
   several times the targets, x W is the costlier product whatever the widths. */
static bool transforms_first(const net_config* c, int32_t in, int32_t out) { return c->full_batch && out < in; }

static void gcn_plan(net* n, layer* y)
{
    y->transform_first = transforms_first(&n->config, y->in, y->out);
    y->w = net_parameter(n, y, "w", y->in, y->out, GLOROT);
    y->a = net_matrix(n, y->most_dst, y->in);
    if (y->transform_first) y->z = net_matrix(n, y->train.src, y->out);
    y->dst = net_take(n, (size_t)y->most_dst, sizeof *y->dst);
    if (n->config.model != NET_GCN) return;
    y->src = net_take(n, (size_t)y->train.src, sizeof *y->src);
    y->self = net_take(n, (size_t)y->most_dst, sizeof *y->self);
}

/* y->scale is A, y->back A'. Rows of a store are scaled by global id. */
static void set_factors(net* n, layer* y)
{
    bool stored = !y->x.v;
    if (n->config.model == NET_GCN) {
        n->ops->scale_gcn(n, stored ? NULL : y->src, y->dst, y->self, y->block);
        y->scale = (ggnn_scale){stored ? n->inv_sqrt : y->src, y->dst, y->self};
        y->back = (ggnn_scale){y->dst, y->src, y->self};
    } else {
        n->ops->scale_mean(n, y->dst, y->block, true);
        y->scale = (ggnn_scale){NULL, y->dst, y->dst};
        y->back = (ggnn_scale){y->dst, NULL, y->dst};
    }
}

static void gcn_forward(net* n, layer* y, mat out)
{
    set_factors(n, y);
    if (y->transform_first) {
        mat z = sources(y, y->z);
        n->ops->gemm(n, z, y->x, false, y->w.v, false, 0);                            /* z = x W       (S, out) */
        n->ops->aggregate(n, out, NULL, GGNN_SUM, y->block, &y->scale, NULL, z);      /* out = A z     (D, out) */
    } else {
        mat a = targets(y, y->a);
        n->ops->aggregate(n, a, NULL, GGNN_SUM, y->block, &y->scale, NULL, y->x);     /* a = A x       (D, in) */
        y->factor = a;                                                                /* out = a W     (D, out) */
    }
}

static void gcn_backward(net* n, layer* y, mat dx, mat dout)
{
    if (y->transform_first) {
        mat dz = sources(y, y->z);
        n->ops->aggregate(n, dz, NULL, GGNN_SUM, y->transpose, &y->back, NULL, dout); /* dz = A' dout  (S, out) */
        n->ops->gemm(n, y->w.d, y->x, true, dz, false, 0);                            /* dW = x' dz */
        if (dx.v) n->ops->gemm(n, dx, dz, false, y->w.v, true, 0);                    /* dx = dz W' */
    } else {
        mat a = targets(y, y->a), da = a;
        n->ops->gemm(n, y->w.d, a, true, dout, false, 0);                             /* dW = a' dout */
        if (!dx.v) return;
        n->ops->gemm(n, da, dout, false, y->w.v, true, 0);                            /* da = dout W'  (D, in) */
        backward_through(n, y, dx, &y->back, NULL, da, (mat){.v = NULL});             /* dx = A' da    (S, in) */
    }
}

/* ==== GraphSAGE, Hamilton et al. 2017: out = x_v W_self + (mean of x, or max of relu(x W_pool + b)) W_neigh === */
/* The two weights lie one above the other, so that [x_v | neighbours'] W is one product. The importance aggregator is a
   mean weighted by how often walks visited each neighbour (PinSAGE, Ying et al. 2018). With rows of edges the mean is that of
   [x_u | edge], and W_neigh has as many rows more. */

static void sage_plan(net* n, layer* y)
{
    const int32_t neighbour = y->in + edge_width(n);
    y->w = net_parameter(n, y, "w_self", y->in, y->out, GLOROT);
    net_parameter(n, y, "w_neigh", neighbour, y->out, GLOROT);
    y->w.v.rows.max = y->w.d.rows.max = y->in + neighbour;
    y->a = net_matrix(n, y->most_dst, y->in + neighbour);
}

static void sage_mean_plan(net* n, layer* y)
{
    sage_plan(n, y);
    y->dst = net_take(n, (size_t)y->most_dst, sizeof *y->dst);
}

/* Of the block's edges; NULL: ones. */
static const float* sage_weights(const net* n, const layer* y)
{
    return n->config.aggregator == NET_IMPORTANCE ? y->block->weight : NULL;
}

/* The last columns of a: inputs, which want no gradient. */
static void sage_mean_edges(net* n, const layer* y, mat a)
{
    const int32_t width = edge_width(n);
    if (width) n->ops->mean_edges(n, mat_columns(a, 2 * y->in, width), y->block, read_edges(n, y));
}

static void sage_mean_forward(net* n, layer* y, mat out)
{
    (void)out;
    mat a = targets(y, y->a);                                                /* a = [x_v | mean] (D, 2 in), | edges' */
    const float* weight = sage_weights(n, y);
    float* inv = y->dx.v && y->x.v ? y->dst : NULL; /* for backward */
    ggnn_scale by_weight = {NULL, y->dst, NULL}, *scale = weight ? &by_weight : NULL;
    if (weight) n->ops->scale_weights(n, y->dst, y->block, weight);
    if (!weight && !net_sums_in_parts(n, y)) n->ops->own_and_mean(n, mat_columns(a, 0, 2 * y->in), inv, y->block, y->x);
    else n->ops->read_rows(n, mat_columns(a, 0, y->in), targets(y, y->x));
    if (net_sums_in_parts(n, y)) net_mean_in_parts(n, y, mat_columns(a, y->in, y->in));
    else if (weight) n->ops->aggregate(n, mat_columns(a, y->in, y->in), NULL, GGNN_MEAN, y->block, scale, weight, y->x);
    sage_mean_edges(n, y, a);
    y->factor = a;                                                           /* out = a W        (D, out) */
}

static void sage_mean_backward(net* n, layer* y, mat dx, mat dout)
{
    mat a = targets(y, y->a), da = a;
    const float* weight = sage_weights(n, y);
    n->ops->gemm(n, y->w.d, a, true, dout, false, 0);                        /* dW = a' dout */
    if (!dx.v) return;
    n->ops->gemm(n, da, dout, false, y->w.v, true, 0);                       /* da = dout W'     (D, 2 in) */
    if (net_sums_in_parts(n, y)) {
        net_mean_in_parts_back(n, dx, y, mat_columns(da, y->in, y->in));
        n->ops->add(n, dx, mat_columns(da, 0, y->in));
    } else {
        ggnn_scale back = {y->dst, NULL, NULL};                              /* dx = the mean's transpose, + self */
        backward_through(n, y, dx, &back, weight, mat_columns(da, y->in, y->in), mat_columns(da, 0, y->in));
    }
}

static void sage_pool_plan(net* n, layer* y)
{
    y->w_pool = net_parameter(n, y, "w_pool", y->in, y->in, GLOROT);
    y->pooled.bias = net_parameter(n, y, "b_pool", 1, y->in, 0);
    y->pooled.act = ACTIVATION_RELU;
    sage_plan(n, y);
    y->z = net_matrix(n, y->train.src, y->in);
    y->dz = net_matrix(n, y->train.src, y->in);
    y->arg = net_take(n, (size_t)y->most_dst * (size_t)y->in, sizeof *y->arg);
}

static void sage_pool_transform(net* n, layer* y, mat x, int64_t first)
{
    mat z = mat_part(y->z_here, first, x.rows);
    n->ops->gemm(n, z, x, false, y->w_pool.v, false, 0);                     /* z = relu(x W_pool + b)  (S, in) */
    n->ops->finish(n, z, z, &y->pooled);
}

static void sage_pool_forward(net* n, layer* y, mat out)
{
    (void)out;
    mat a = targets(y, y->a);
    n->ops->read_rows(n, mat_columns(a, 0, y->in), targets(y, y->x));        /* a = [x_v | max z]       (D, 2 in) */
    n->ops->aggregate(n, mat_columns(a, y->in, y->in), y->arg, GGNN_MAX, y->block, NULL, NULL, y->z);
    y->factor = a;                                                           /* out = a W               (D, out) */
}

static void sage_pool_backward(net* n, layer* y, mat dx, mat dout)
{
    mat a = targets(y, y->a), da = a, dz = sources(y, y->dz);
    n->ops->gemm(n, y->w.d, a, true, dout, false, 0);                        /* dW = a' dout */
    n->ops->gemm(n, da, dout, false, y->w.v, true, 0);                       /* da = dout W' */
    n->ops->aggregate_arg_back(n, dz, y->transpose, y->block, mat_columns(da, y->in, y->in), y->arg);
    dz = net_push(n, y, dz);
    n->ops->finish_back(n, dz, mat_head(y->z_here, dz.rows), &y->pooled);    /* dz through relu; db_pool */
    n->ops->gemm(n, y->w_pool.d, y->x, true, dz, false, 0);                  /* dW_pool = x' dz */
    if (!dx.v) return;
    n->ops->gemm(n, dx, dz, false, y->w_pool.v, true, 0);                    /* dx = dz W_pool', + self */
    n->ops->add(n, dx, mat_columns(da, 0, y->in));
}

/* Of preprocessed features, [x_v | mean of x]: out = a W, as the MLP's, with the parameters of the whole layer. */
static void sage_first_plan(net* n, layer* y)
{
    y->w = net_parameter(n, y, "w_self", y->in / 2, y->out, GLOROT);
    net_parameter(n, y, "w_neigh", y->in / 2, y->out, GLOROT);
    y->w.v.rows.max = y->w.d.rows.max = y->in;
    y->a = net_matrix(n, y->most_dst, y->in);
}

/* ==== GAT, Velickovic et al. 2018: z = x W in K heads; out = softmax over N(v) and v of LeakyReLU(el_u + er_v) z */
/* el_u = a_l . z_u and er_v = a_r . z_v, per head. The last layer's heads are `out` wide each and averaged. With rows of edges
   an edge's score has a term more, a_e . (e W_e) (PyG's edge_dim; GSplit's w_e); the target's own is the mean of its list's. As
   it is linear in e, term = e M, where M (columns of e, K) is W_e a_e of each head: no row of K heads is made per edge. */

static void gat_plan_edges(net* n, layer* y, int32_t heads, int32_t width)
{
    const size_t K = (size_t)heads, train = (size_t)y->train.edges, chunk = (size_t)n->chunk.most.edges;
    attention* at = &y->att;
    y->w_e = net_parameter(n, y, "w_e", edge_width(n), width, GLOROT);
    y->a_e = net_parameter(n, y, "a_e", heads, width / heads, GLOROT);
    at->edge = (mat){.ld = heads, .cols = heads, .rows = {NULL, edge_width(n)}};
    at->edge.v = net_take(n, (size_t)edge_width(n) * K, sizeof *at->edge.v);
    at->term = net_take(n, (train > chunk ? train : chunk) * K, sizeof *at->term);
    at->dterm = net_take(n, train * K, sizeof *at->dterm);
    at->own_term = net_take(n, (size_t)y->most_dst * K, sizeof *at->own_term);
}

static void gat_plan(net* n, layer* y)
{
    int32_t heads = y->last ? n->config.out_heads : n->config.heads;
    int32_t width = y->last ? heads * y->out : y->out;
    size_t D = (size_t)y->most_dst, K = (size_t)heads;
    attention* at = &y->att;
    y->w = net_parameter(n, y, "w", y->in, width, GLOROT);
    y->a_l = net_parameter(n, y, "a_l", heads, width / heads, GLOROT);
    y->a_r = net_parameter(n, y, "a_r", heads, width / heads, GLOROT);
    y->z = net_matrix(n, y->train.src, width);
    y->dz = net_matrix(n, y->train.src, width);
    y->a = net_matrix(n, y->most_dst, width);
    if (heads > 1 && y->last) y->da = net_matrix(n, y->train.dst, width);
    at->heads = heads;
    at->how.slope = 0.2f;
    at->how.layer = y->index;
    at->el = net_take(n, (size_t)y->train.src * K, sizeof *at->el);
    at->er = net_take(n, D * K, sizeof *at->er);
    at->lse = net_take(n, D * K, sizeof *at->lse);
    at->del = net_take(n, (size_t)y->train.src * K, sizeof *at->del);
    at->der = net_take(n, (size_t)y->train.dst * K, sizeof *at->der);
    at->delta = net_take(n, (size_t)y->train.dst * K, sizeof *at->delta);
    at->dlogit = net_take(n, (size_t)(y->train.dst + y->train.edges) * K, sizeof *at->dlogit);
    at->coef = net_take(n, (size_t)(y->train.dst + y->train.edges) * K, sizeof *at->coef);
    if (edge_width(n)) gat_plan_edges(n, y, heads, width);
}

static void gat_transform(net* n, layer* y, mat x, int64_t first)
{
    mat z = mat_part(y->z_here, first, x.rows);
    n->ops->gemm(n, z, x, false, y->w.v, false, 0);                                   /* z = x W    (S, K width) */
    if (y->scored) n->ops->scores(n, y->el_here + first * y->att.heads, z, y->a_l.v); /* el = z a_l (S, K) */
}

static ggnn_gat_layer gat_layer(const layer* y)
{
    const attention* at = &y->att;
    return (ggnn_gat_layer){.block = y->block, .z = y->z.v, .ld_z = y->z.ld, .el = at->el, .er = at->er, .out = y->a.v,
                            .ld_out = y->a.ld, .lse = at->lse, .heads = at->heads, .width = y->z.cols, .how = at->how,
                            .del = at->del, .der = at->der, .delta = at->delta, .dlogit = at->dlogit, .coef = at->coef,
                            .term = at->term, .own_term = at->own_term, .dterm = at->dterm};
}

static mat terms(const layer* y, float* term)
{
    return (mat){.v = term, .ld = y->att.heads, .cols = y->att.heads, .rows = y->block->num_edges};
}

static void gat_terms(net* n, layer* y)
{
    mat m = y->att.edge;
    n->ops->scores(n, m.v, y->w_e.v, y->a_e.v);                                     /* M = W_e a_e       (F_e, K) */
    n->ops->gemm(n, terms(y, y->att.term), read_edges(n, y), false, m, false, 0);   /* term = e M        (E, K) */
}

static void gat_terms_back(net* n, layer* y)
{
    mat dm = y->att.edge;
    n->ops->gemm(n, dm, read_edges(n, y), true, terms(y, y->att.dterm), false, 0);  /* dM = e' dterm     (F_e, K) */
    n->ops->clear(n, y->w_e.d);
    n->ops->scores_back(n, y->w_e.d, y->a_e.d, dm.v, y->w_e.v, y->a_e.v);           /* dW_e += dM a_e, da_e = dM' W_e */
}

static void gat_forward(net* n, layer* y, mat out)
{
    ggnn_gat_layer all = gat_layer(y);
    const int32_t averaged = y->last ? y->att.heads : 1;
    mat a = targets(y, y->a);
    if (all.term) gat_terms(n, y);
    all.att_r = y->a_r.v.v;                                   /* er = z a_r        (D, K) */
    if (!y->scored) all.att_l = y->a_l.v.v;                   /* el = z a_l        (S, K) */
    n->ops->attend(n, &all);                                  /* a = softmax(..) z (D, K width), saved with lse */
    if (averaged > 1 || n->config.residual) n->ops->mean_heads(n, out, a, averaged);
    else y->linear = a;
}

static void gat_backward(net* n, layer* y, mat dx, mat dout)
{
    const attention*     at = &y->att;
    ggnn_gat_layer       all = gat_layer(y);
    mat                  dz = sources(y, y->dz), da = dout;
    if (y->da.v) {
        da = targets(y, y->da);
        n->ops->mean_heads_back(n, da, dout, at->heads);
    }
    all.att_l = y->a_l.v.v, all.datt_l = y->a_l.d.v;
    all.att_r = y->a_r.v.v, all.datt_r = y->a_r.d.v;
    n->ops->attend_back(n, dz, y->transpose, &all, da);                     /* dz, da_l, da_r, dterm */
    if (all.term) gat_terms_back(n, y);
    dz = net_push(n, y, dz);
    n->ops->gemm(n, y->w.d, y->x, true, dz, false, 0);                      /* dW = x' dz */
    if (dx.v) n->ops->gemm(n, dx, dz, false, y->w.v, true, 0);              /* dx = dz W' */
}

/* =============================================================================================================== */

int32_t net_transformed(const net_config* c, int32_t features)
{
    int32_t hidden = c->layers > 1 ? c->hidden : 0;
    int32_t other = net_has(c->model, c->aggregator, NET_HEADS) ? c->out_heads * c->outputs : features;
    if (!model_of(c, 0)->transform) return 0;
    return hidden > other ? hidden : other;
}

bool net_only_multiplies(const net_config* c, int32_t features)
{
    int32_t out = c->layers > 1 ? c->hidden : c->outputs;
    const bool linear = net_has(c->model, c->aggregator, NET_LINEAR), multiplies = net_has(c->model, c->aggregator, NET_MULTIPLIES);
    if (!c->full_batch || c->residual) return false;
    return c->preprocessed || multiplies || (linear && transforms_first(c, features, out));
}

/* A row a model, and an aggregator of GraphSAGE. */
static const model
    gcn = {ACTIVATION_RELU, gcn_plan, NULL, gcn_forward, gcn_backward, NET_BY_DEGREE | NET_LINEAR | NET_SUMMED},
    gat = {ACTIVATION_ELU, gat_plan, gat_transform, gat_forward, gat_backward, NET_HEADS | NET_MULTIPLIES | NET_EDGES},
    mlp = {ACTIVATION_RELU, mlp_plan, NULL, mlp_forward, mlp_backward, NET_ALONE | NET_MULTIPLIES},
    sage[] = {
        [NET_MEAN] = {ACTIVATION_RELU, sage_mean_plan, NULL, sage_mean_forward, sage_mean_backward, NET_SUMMED | NET_EDGES},
        [NET_SAGE_GCN] = {ACTIVATION_RELU, gcn_plan, NULL, gcn_forward, gcn_backward, NET_LINEAR},
        [NET_POOL] = {ACTIVATION_RELU, sage_pool_plan, sage_pool_transform, sage_pool_forward, sage_pool_backward, 0},
        [NET_IMPORTANCE] = {ACTIVATION_RELU, sage_mean_plan, NULL, sage_mean_forward, sage_mean_backward, NET_VISITS},
    },
    sage_first = {ACTIVATION_RELU, sage_first_plan, NULL, mlp_forward, mlp_backward, 0};

static const model* row_of(net_model of, net_aggregator aggregator)
{
    switch (of) {
    case NET_GCN: return &gcn;
    case NET_SAGE: return &sage[aggregator];
    case NET_GAT: return &gat;
    case NET_MLP: return &mlp;
    }
    return &mlp;
}

bool net_has(net_model of, net_aggregator aggregator, int traits) { return row_of(of, aggregator)->traits & traits; }

const model* model_of(const net_config* config, int32_t l)
{
    if (config->preprocessed && l == 0) return config->model == NET_SAGE ? &sage_first : &mlp; /* A x W, and A x is there */
    return row_of(config->model, config->aggregator);
}
