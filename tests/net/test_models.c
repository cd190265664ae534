/* The networks of ggnn-train: against PyTorch's numbers, against a plain implementation in double precision (central
   differences of its loss), and against themselves for other threads, batches and stores. */
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/memory.h"
#include "common/options.h"
#include "tests/fixture.h"
#include "tests/folder.h"
#include "tests/vectors/model_vectors.h"
#include "trainer/cpu/gemm.h"
#include "trainer/evaluate.h"
#include "trainer/report.h"

static error   why; /* of the last call that took one */
static device* cpu;

/* ==== graphs =================================================================================================== */

/* Lists of 0 to 9 neighbours, self-loops and duplicates among them. */
static fixture* random_fixture(int64_t num_nodes, int32_t width, int32_t classes)
{
    return fixture_of(random_graph_new(num_nodes, 4, 9), width, classes);
}

static fixture* vector_fixture(const int32_t* labels)
{
    random_graph* g = random_graph_new(VEC_N, 0, VEC_E); /* of as many edges, which are the vectors' from here on */
    for (int i = 0; i <= VEC_N; i++) g->indptr[i] = vec_indptr[i];
    for (int i = 0; i < VEC_E; i++) g->indices[i] = vec_indices[i];
    fixture* f = fixture_of(g, VEC_F, 1);
    for (int i = 0; i < VEC_N * VEC_F; i++) f->features[i] = (float)vec_features[i];
    for (int i = 0; i < VEC_N; i++) f->label[i] = labels[i];
    return f;
}

/* ---- mini-batches --------------------------------------------------------------------------------------------- */

typedef struct {
    ggnn_sampling how;
    mini_batch    batch;
    void*         memory;
} sampler;

static sampler sampler_of(const fixture* f, ggnn_sampling how, int64_t max_seeds)
{
    sampler s = {.how = how};
    CHECK_EQ(ggnn_batch_plan(&s.batch.blocks, &f->task.graph, &s.how, max_seeds, NULL), GGNN_OK);
    s.memory = memory_new(s.batch.blocks.bytes, "batch", &why);
    CHECK_EQ(ggnn_batch_init(&s.batch.blocks, s.memory), GGNN_OK);
    return s;
}

static sampler sampler_new(const fixture* f, int32_t hops, int32_t fanout, bool global, int64_t max_seeds)
{
    ggnn_sampling how = {.method = GGNN_FISHER_YATES, .num_hops = hops, .last_hop_global = global};
    for (int32_t h = 0; h < hops; h++) how.fanout[h] = fanout;
    return sampler_of(f, how, max_seeds);
}

static void sampler_free(sampler* s)
{
    memory_free(s->memory);
}

static const mini_batch* sample(sampler* s, const fixture* f, uint32_t step, int64_t first, int64_t count)
{
    ggnn_rng  rng = {7, step, GGNN_PURPOSE_SAMPLE};
    ggnn_node seeds[64];
    for (int64_t i = 0; i < count; i++) seeds[i] = (ggnn_node)(first + i);
    CHECK_EQ(ggnn_sample(&s->batch.blocks, &f->task.graph, &rng, seeds, count), GGNN_OK);
    s->batch.known.max = 0;
    for (int64_t i = 0; i < count; i++) s->batch.known.max += label_known(&f->data.labels, seeds[i]);
    return &s->batch;
}

/* ==== a plain implementation in double: the formulas of make_model_vectors.py, over blocks, with dropout ======= */

typedef struct {
    const net_config* c;
    const fixture*    f;
    net*              n;     /* names and places of parameters */
    double*           value; /* as net_state's */
    const mini_batch* batch;
    uint32_t          step;
    bool              training;
} oracle;

static const double* parameter(const oracle* o, const char* name, int32_t l)
{
    char full[24];
    snprintf(full, sizeof full, "%s%d", name, (int)l);
    for (int32_t i = 0; i < net_num_params(o->n); i++) {
        net_param p = net_param_at(o->n, i);
        if (!strcmp(p.name, full)) return o->value + p.offset;
    }
    return NULL;
}

static double* matrix(int64_t rows, int64_t cols) { return calloc((size_t)(rows * cols + 1), sizeof(double)); }

/* out (rows, m) += x (rows, k) w (k, m) */
static void multiply(double* out, const double* x, const double* w, int64_t rows, int32_t k, int32_t m)
{
    for (int64_t i = 0; i < rows; i++)
        for (int32_t a = 0; a < k; a++)
            for (int32_t j = 0; j < m; j++) out[i * m + j] += x[i * k + a] * w[a * m + j];
}

static double kept(uint32_t threshold, uint32_t field)
{
    return field < threshold ? 0 : 65536.0 / (65536.0 - threshold);
}

static void drop_input(const oracle* o, double* x, int64_t rows, int32_t cols, int32_t l)
{
    ggnn_rng rng = {o->c->seed, o->step, GGNN_PURPOSE_DROPOUT};
    uint32_t threshold = ggnn_dropout_threshold(l ? o->c->dropout : o->c->input_dropout);
    for (int64_t i = 0; i < rows && threshold; i++)
        for (int32_t j = 0; j < cols; j++) {
            ggnn_words words = ggnn_random(&rng, l, o->batch->blocks.id[i], (uint32_t)j / 8);
            x[i * cols + j] *= kept(threshold, ggnn_dropout_field(words, j));
        }
}

/* out[v,:] = self * x[v,:] + sum over u in N(v) of factor(v, u) * x[u,:] */
typedef enum { SUM_GCN, SUM_MEAN, SUM_WITH_SELF, SUM_VISITS } sum_kind;
static void aggregate(const oracle* o, double* out, const ggnn_block* b, const double* x, int32_t cols, sum_kind kind)
{
    for (int64_t v = 0; v < *b->num_dst.n; v++) {
        double sampled = (double)(b->indptr[v + 1] - b->indptr[v]);
        double degree = (double)ggnn_neighbors(&o->f->task.graph, o->batch->blocks.id[v]).degree;
        double self = kind == SUM_GCN ? 1 / (degree + 1) : kind == SUM_WITH_SELF ? 1 / (sampled + 1) : 0, visits = 0;
        for (int64_t e = b->indptr[v]; kind == SUM_VISITS && e < b->indptr[v + 1]; e++) visits += (double)b->weight[e];
        for (int32_t j = 0; j < cols; j++) out[v * cols + j] = self * x[v * cols + j];
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            int64_t u = b->indices[e];
            double  degree_u = (double)ggnn_neighbors(&o->f->task.graph, o->batch->blocks.id[u]).degree;
            double  factor = kind == SUM_MEAN ? 1 / sampled : 1 / (sampled + 1);
            if (kind == SUM_VISITS) factor = (double)b->weight[e] / visits;
            if (kind == SUM_GCN) factor = degree / sampled / sqrt((degree + 1) * (degree_u + 1));
            for (int32_t j = 0; j < cols; j++) out[v * cols + j] += factor * x[u * cols + j];
        }
    }
}

/* out (D, width) += the mean of the edges' rows, as they lie in the fixture's store, times w (F_e, width). */
static void add_edges(const oracle* o, double* out, const ggnn_block* b, const double* w, int32_t width)
{
    const ggnn_store* from = o->f->data.edges;
    double* mean = matrix(1, from->width);
    for (int64_t v = 0; v < *b->num_dst.n; v++) {
        const double sampled = (double)(b->indptr[v + 1] - b->indptr[v]);
        memset(mean, 0, (size_t)from->width * sizeof *mean);
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            const float* row = (const float*)from->rows + b->position[e] * from->width;
            for (int32_t j = 0; j < from->width; j++) mean[j] += (double)row[j] / sampled;
        }
        multiply(out + v * width, mean, w, 1, from->width, width);
    }
    free(mean);
}

static void oracle_pool(const oracle* o, double* out, const ggnn_block* b, const double* x, int32_t in, int32_t width,
                        int32_t l)
{
    int64_t S = *b->num_src.n, D = *b->num_dst.n;
    double *z = matrix(S, in), *most = matrix(D, in);
    const double* bias = parameter(o, "b_pool", l);
    multiply(z, x, parameter(o, "w_pool", l), S, in, in);
    for (int64_t i = 0; i < S * in; i++) z[i] = fmax(0, z[i] + bias[i % in]);
    for (int64_t v = 0; v < D; v++)
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            for (int32_t j = 0; j < in; j++) most[v * in + j] = fmax(most[v * in + j], z[b->indices[e] * in + j]);
    multiply(out, x, parameter(o, "w_self", l), D, in, width);
    multiply(out, most, parameter(o, "w_neigh", l), D, in, width);
    free(z);
    free(most);
}

static double attention_kept(const oracle* o, int32_t l, int64_t v, int64_t edge, int32_t heads, int32_t k)
{
    ggnn_rng rng = {o->c->seed, o->step, GGNN_PURPOSE_ATTENTION_DROPOUT};
    uint32_t threshold = o->training ? ggnn_dropout_threshold(o->c->attention_dropout) : 0;
    if (!threshold) return 1;
    ggnn_words words = ggnn_random(&rng, l, o->batch->blocks.id[v], (uint32_t)(edge / 8 * heads + k));
    return kept(threshold, ggnn_dropout_field(words, edge));
}

/* term[i] of the row of target v: a_e . (edge's row W_e), of entry 0 that of the mean of the list's rows. */
static void edge_terms(const oracle* o, double* term, const ggnn_block* b, int64_t v, int32_t k, int32_t heads, int32_t width, int32_t l)
{
    const ggnn_store* from = o->f->data.edges;
    const double *w = parameter(o, "w_e", l), *a = parameter(o, "a_e", l) + k * width;
    int64_t sampled = b->indptr[v + 1] - b->indptr[v];
    double* mean = matrix(1, from->width);
    for (int64_t i = sampled; i >= 0; i--) {
        double* transformed = matrix(1, heads * width);
        for (int32_t j = 0; i && j < from->width; j++) {
            double x = (double)((const float*)from->rows)[b->position[b->indptr[v] + i - 1] * from->width + j];
            mean[j] += x / (double)sampled;
            for (int32_t c = 0; c < heads * width; c++) transformed[c] += x * w[j * heads * width + c];
        }
        if (!i) multiply(transformed, mean, w, 1, from->width, heads * width);
        term[i] = 0;
        for (int32_t j = 0; j < width; j++) term[i] += transformed[k * width + j] * a[j];
        free(transformed);
    }
    free(mean);
}

/* One target, one head: z (S, heads * width); out (width) += softmax(LeakyReLU(el + er)) z. */
static void attend(const oracle* o, double* out, const ggnn_block* b, const double* z, int64_t v, int32_t k,
                   int32_t heads, int32_t width, int32_t l)
{
    const double *a_l = parameter(o, "a_l", l) + k * width, *a_r = parameter(o, "a_r", l) + k * width;
    int64_t       edges = b->indptr[v + 1] - b->indptr[v] + 1;
    double        weight[32], term[32] = {0}, total = 0;
    if (o->f->data.edges) edge_terms(o, term, b, v, k, heads, width, l);
    for (int64_t e = 0; e < edges; e++) {
        int64_t u = e ? b->indices[b->indptr[v] + e - 1] : v;
        double  logit = term[e];
        for (int32_t j = 0; j < width; j++)
            logit += a_l[j] * z[(u * heads + k) * width + j] + a_r[j] * z[(v * heads + k) * width + j];
        weight[e] = exp(logit > 0 ? logit : 0.2 * logit);
        total += weight[e];
    }
    for (int64_t e = 0; e < edges; e++) {
        int64_t u = e ? b->indices[b->indptr[v] + e - 1] : v;
        double  alpha = weight[e] / total * attention_kept(o, l, v, e, heads, k);
        for (int32_t j = 0; j < width; j++) out[j] += alpha * z[(u * heads + k) * width + j];
    }
}

static void oracle_gat(const oracle* o, double* out, const ggnn_block* b, const double* x, int32_t in, int32_t width,
                       int32_t l)
{
    bool    last = l == o->c->layers - 1;
    int32_t heads = last ? o->c->out_heads : o->c->heads, each = last ? width : width / heads;
    int64_t S = *b->num_src.n;
    double *z = matrix(S, heads * each), *head = matrix(1, each);
    multiply(z, x, parameter(o, "w", l), S, in, heads * each);
    for (int64_t v = 0; v < *b->num_dst.n; v++)
        for (int32_t k = 0; k < heads; k++) {
            memset(head, 0, (size_t)each * sizeof *head);
            attend(o, head, b, z, v, k, heads, each, l);
            for (int32_t j = 0; j < each; j++)
                if (last) out[v * width + j] += head[j] / heads;
                else out[v * width + k * each + j] = head[j];
        }
    free(z);
    free(head);
}

static void oracle_linear(const oracle* o, double* out, const ggnn_block* b, const double* x, int32_t in,
                          int32_t width, int32_t l)
{
    int64_t D = *b->num_dst.n;
    double* a = matrix(D, in);
    bool    visits = o->c->aggregator == NET_IMPORTANCE;
    bool    mean = o->c->model == NET_SAGE && (visits || o->c->aggregator == NET_MEAN);
    if (o->c->model == NET_GCN) aggregate(o, a, b, x, in, SUM_GCN);
    else if (o->c->model == NET_SAGE) aggregate(o, a, b, x, in, visits ? SUM_VISITS : mean ? SUM_MEAN : SUM_WITH_SELF);
    else memcpy(a, x, (size_t)(D * in) * sizeof *a);
    multiply(out, a, parameter(o, mean ? "w_neigh" : "w", l), D, in, width);
    if (mean) multiply(out, x, parameter(o, "w_self", l), D, in, width);
    if (o->f->data.edges) add_edges(o, out, b, parameter(o, "w_neigh", l) + in * width, width);
    free(a);
}

static void oracle_norm(const oracle* o, double* h, int64_t rows, int32_t cols, int32_t l)
{
    const double *gamma = parameter(o, "gamma", l), *beta = parameter(o, "beta", l);
    for (double* row = h; row < h + rows * cols; row += cols) {
        double mean = 0, variance = 0;
        for (int32_t j = 0; j < cols; j++) mean += row[j] / cols;
        for (int32_t j = 0; j < cols; j++) variance += (row[j] - mean) * (row[j] - mean) / cols;
        for (int32_t j = 0; j < cols; j++)
            row[j] = (row[j] - mean) / sqrt(variance + 1e-5) * gamma[j] + beta[j];
    }
}

/* Layer l: x (S, in), freed, to what is returned (D, *width). */
static double* oracle_layer(const oracle* o, double* x, int32_t in, int32_t l)
{
    const net_config* c = o->c;
    const ggnn_block* b = &o->batch->blocks.hop[c->layers - 1 - l];
    bool    last = l == c->layers - 1;
    int32_t width = last ? c->outputs : c->hidden;
    int64_t D = *b->num_dst.n;
    double* h = matrix(D, width);
    const double* bias = parameter(o, "b", l);
    if (o->training) drop_input(o, x, *b->num_src.n, in, l);
    if (c->model == NET_GAT) oracle_gat(o, h, b, x, in, width, l);
    else if (c->model == NET_SAGE && c->aggregator == NET_POOL) oracle_pool(o, h, b, x, in, width, l);
    else oracle_linear(o, h, b, x, in, width, l);
    for (int64_t i = 0; i < D * width; i++) h[i] += bias[i % width];
    if (c->residual && in != width) multiply(h, x, parameter(o, "w_res", l), D, in, width);
    else if (c->residual) for (int64_t i = 0; i < D * width; i++) h[i] += x[i];
    if (c->norm && !last) oracle_norm(o, h, D, width, l);
    for (int64_t i = 0; i < D * width && !last; i++)
        if (h[i] < 0) h[i] = c->model == NET_GAT ? exp(h[i]) - 1 : 0;
    free(x);
    return h;
}

static double* oracle_forward(const oracle* o)
{
    int64_t S = *o->batch->blocks.hop[o->c->layers - 1].num_src.n;
    int32_t F = o->f->width;
    double* x = matrix(S, F);
    for (int64_t i = 0; i < S * F; i++) x[i] = (double)o->f->features[o->batch->blocks.id[i / F] * F + i % F];
    for (int32_t l = 0; l < o->c->layers; l++) x = oracle_layer(o, x, l ? o->c->hidden : F, l);
    return x;
}

static double oracle_loss(const oracle* o)
{
    double* logits = oracle_forward(o);
    int32_t C = o->c->outputs;
    int64_t known = 0;
    double  total = 0;
    for (int64_t i = 0; i < *o->batch->blocks.hop[0].num_dst.n; i++) {
        int32_t y = o->f->label[o->batch->blocks.id[i]];
        double *s = logits + i * C, sum = 0;
        if (y < 0) continue;
        for (int32_t j = 0; j < C; j++) sum += exp(s[j]);
        total += C == 1 ? log(1 + exp(*s)) - y * *s : log(sum) - s[y];
        known++;
    }
    free(logits);
    return total / (double)known;
}

/* ==== PyTorch's numbers ======================================================================================== */

static net_config vector_config(const vec_case* v)
{
    net_config c = {.device = cpu, .layers = v->layers, .hidden = v->hidden, .outputs = v->outputs, .heads = v->heads,
                    .out_heads = v->out_heads, .residual = v->residual != 0, .norm = v->norm != 0, .full_batch = true,
                    .seed = 1};
    c.model = (net_model)options_choice(NET_MODELS, v->model);
    if (*v->aggregator) c.aggregator = (net_aggregator)options_choice(NET_AGGREGATORS, v->aggregator);
    return c;
}

static net_param find_parameter(const net* n, const char* name)
{
    for (int32_t i = 0; i < net_num_params(n); i++)
        if (!strcmp(net_param_at(n, i).name, name)) return net_param_at(n, i);
    CHECK_STR(name, "one of the parameters");
    return net_param_at(n, 0);
}

static net* vector_net(const vec_case* v, const fixture* f, net_config* c)
{
    net* n = net_create(c, &f->data, NULL, NULL, &why);
    CHECK(n != NULL);
    CHECK_EQ(net_num_params(n), v->num_params);
    for (int i = 0; i < v->num_params; i++) {
        const vec_param* from = &v->params[i];
        net_param p = find_parameter(n, from->name);
        CHECK_EQ(p.rows, from->rows);
        CHECK_EQ(p.cols, from->cols);
        for (int k = 0; k < from->rows * from->cols; k++) net_state_of(n).value[p.offset + k] = (float)from->value[k];
    }
    return n;
}

static double step(net* n, const mini_batch* batch, uint32_t number, bool training)
{
    net_forward(n, batch, number, training);
    double loss = net_loss(n);
    net_backward(n);
    return loss;
}

/* Values here are sums of at most some 20 products near 1, each rounded to 6e-8, over three layers which each may
   double what reaches them (layer norm: one over the deviation): 20 * 6e-8 * 2^3 = 1e-5, and as much for backward. */
static double tolerance(double reference) { return 2e-5 * (1 + fabs(reference)); }

TEST(models_equal_pytorch)
{
    for (int i = 0; i < VEC_NUM_CASES; i++) {
        const vec_case* v = &vec_cases[i];
        fixture*   f = vector_fixture(v->outputs == 1 ? vec_labels_binary : vec_labels);
        net_config c = vector_config(v);
        net*       n = vector_net(v, f, &c);
        int before = test_errors;
        net_rows logits = net_forward(n, net_whole(n), 0, true);
        CHECK_EQ(logits.rows, VEC_N);
        CHECK_EQ(logits.cols, v->outputs);
        for (int64_t k = 0; k < VEC_N * v->outputs; k++)
            CHECK_NEAR(logits.v[k / v->outputs * logits.ld + k % v->outputs], v->logits[k], tolerance(v->logits[k]));
        CHECK_NEAR(step(n, net_whole(n), 0, true), v->loss, tolerance(v->loss));
        for (int p = 0; p < v->num_params; p++) {
            const vec_param* expected = &v->params[p];
            const float* grad = net_state_of(n).grad + find_parameter(n, expected->name).offset;
            for (int k = 0; k < expected->rows * expected->cols; k++)
                CHECK_NEAR(grad[k], expected->grad[k], tolerance(expected->grad[k]));
        }
        if (test_errors > before) printf("  in case %s\n", v->name);
        net_free(n);
        fixture_free(f);
    }
}

/* Adam divides by the gradient's size, so that an error of e in a gradient g moves the parameter by lr * e / g: with
   e about 1e-7, and no g that is not 0 below 1e-4, within 1e-5 a step. */
TEST(optimizers_equal_pytorch)
{
    const vec_case* v = &vec_cases[1];
    CHECK_STR(v->name, "gcn");
    for (int decoupled = 0; decoupled < 2; decoupled++) {
        fixture*   f = vector_fixture(vec_labels);
        net_config c = vector_config(v);
        c.optimizer = decoupled ? NET_ADAMW : NET_ADAM;
        c.weight_decay = (float)vec_weight_decay;
        net* n = vector_net(v, f, &c);
        for (uint32_t i = 0; i < VEC_STEPS; i++) {
            step(n, net_whole(n), i, true);
            net_update(n, (float)vec_lr);
        }
        CHECK_EQ(*net_state_of(n).updates, VEC_STEPS);
        for (int p = 0; p < v->num_params; p++)
            for (int k = 0; k < v->params[p].rows * v->params[p].cols; k++)
                CHECK_NEAR(net_state_of(n).value[find_parameter(n, v->params[p].name).offset + k],
                           (decoupled ? v->params[p].adamw : v->params[p].adam)[k], 2e-5);
        net_free(n);
        fixture_free(f);
    }
}

/* ==== central differences ====================================================================================== */

static oracle oracle_of(net* n, const net_config* c, const fixture* f, const mini_batch* batch, uint32_t number,
                        bool training)
{
    net_state s = net_state_of(n);
    oracle    o = {c, f, n, matrix(s.count, 1), batch, number, training};
    for (int64_t i = 0; i < s.count; i++) o.value[i] = (double)s.value[i];
    return o;
}

static void check_logits(net* n, const oracle* o)
{
    double*  reference = oracle_forward(o);
    net_rows logits = net_forward(n, o->batch, o->step, o->training);
    CHECK_EQ(logits.rows, *o->batch->blocks.hop[0].num_dst.n);
    for (int64_t i = 0; i < logits.rows * logits.cols; i++)
        CHECK_NEAR(logits.v[i / logits.cols * logits.ld + i % logits.cols], reference[i], tolerance(reference[i]));
    free(reference);
}

/* A gradient against the loss at p - h, p and p + h. (above - below) / 2h is good to 1e-9 in double; the rest is the
   float net's rounding. Where the slopes on both sides differ, relu or max has a kink between: the gradient is one of
   those sides', and lies within them. */
static void check_gradient(double gradient, double below, double here, double above, double h)
{
    double left = (here - below) / h, right = (above - here) / h, quotient = (above - below) / (2 * h);
    if (fabs(right - left) < 1e-4) CHECK_NEAR(gradient, quotient, tolerance(quotient));
    else CHECK(gradient > fmin(left, right) - tolerance(left) && gradient < fmax(left, right) + tolerance(right));
}

/* Every logit and every gradient of one step against the plain implementation. */
static void check_step(net* n, const net_config* c, const fixture* f, const mini_batch* batch, uint32_t number,
                       bool training)
{
    net_state  s = net_state_of(n);
    oracle     o = oracle_of(n, c, f, batch, number, training);
    const double h = 1e-5;
    check_logits(n, &o);
    double here = oracle_loss(&o);
    CHECK_NEAR(step(n, batch, number, training), here, tolerance(1));
    for (int64_t i = 0; i < s.count; i++) {
        double kept_value = o.value[i];
        o.value[i] = kept_value + h;
        double above = oracle_loss(&o);
        o.value[i] = kept_value - h;
        check_gradient((double)s.grad[i], oracle_loss(&o), here, above, h);
        o.value[i] = kept_value;
    }
    free(o.value);
}

/* Biases, gamma and beta away from their initial 0 and 1. */
static void shake(net* n)
{
    net_state s = net_state_of(n);
    for (int64_t i = 0; i < s.count; i++) s.value[i] += 0.25f * test_uniform();
}

static net_kind kinds[2 * KINDS_MAX]; /* those that need visits are the last: from NUM_KINDS on */
static int NUM_KINDS, ALL_KINDS;

static net_config config_for(int kind, int32_t outputs)
{
    net_config c = kind_config(&kinds[kind], 3, 6, outputs);
    c.device = cpu;
    return c;
}

/* variant, bit by bit: residual, norm, dropout */
static void check_kind(int kind, int variant, int32_t layers, bool sampled)
{
    fixture*   f = random_fixture(24, 9, 3); /* dropout: more than one field block; wider than hidden */
    net_config c = config_for(kind, variant & 4 ? 1 : 3);
    c.layers = layers;
    for (int64_t v = 0; v < f->graph->num_nodes && c.outputs == 1; v++) f->label[v] = f->label[v] > 1 ? 1 : f->label[v];
    c.residual = variant & 1;
    c.norm = variant & 2;
    if (variant & 4) {
        c.dropout = 0.4f;
        c.input_dropout = kind % 2 ? 0 : 0.3f;
        c.attention_dropout = 0.5f;
    }
    c.full_batch = !sampled;
    sampler s = sampler_of(f, kind_sampling(&c, false), 8);
    net* n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
    int before = test_errors;
    shake(n);
    for (uint32_t i = 0; i < 2; i++) /* the second step finds the first one's matrices */
        check_step(n, &c, f, sampled ? sample(&s, f, i, 8 * i, 8) : net_whole(n), i, true);
    check_step(n, &c, f, sampled ? sample(&s, f, 2, 2, 7) : net_whole(n), 2, false);
    if (test_errors > before) printf("  in %s, variant %d, %d layers\n", kinds[kind].name, variant, (int)layers);
    net_free(n);
    sampler_free(&s);
    fixture_free(f);
}

TEST(gradients_equal_central_differences_in_full_batch)
{
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int variant = 0; variant < 8; variant += 1 + (kind > 1)) check_kind(kind, variant, 3, false);
}

TEST(gradients_equal_central_differences_in_sampled_batches)
{
    for (int kind = 0; kind < ALL_KINDS; kind++)
        for (int variant = 0; variant < 8; variant += 1 + (kind > 1)) check_kind(kind, variant, 3, true);
}

/* Rows of edges by position, of values that halves have, too. */
static ggnn_store random_edges(const fixture* f, int32_t width)
{
    const int64_t count = f->task.graph.num_edges * width;
    float* rows = malloc((size_t)count * sizeof *rows);
    for (int64_t i = 0; i < count; i++) rows[i] = (float)test_below(64) / 16 - 2;
    return ggnn_store_plain(rows, f->task.graph.num_edges, width, GGNN_F32);
}

static sampler sampler_with_edges(const fixture* f, const net_config* c)
{
    ggnn_sampling how = kind_sampling(c, false);
    how.keep = GGNN_KEEP_POSITIONS;
    return sampler_of(f, how, 8);
}

static net_config reader_config(net_model model)
{
    net_kind   kind = {"", model, NET_MEAN};
    net_config c = kind_config(&kind, 3, 6, 3);
    c.device = cpu;
    return c;
}

/* GraphSAGE's mean over [neighbour | edge], and GAT's terms; rows of 1 column, and wider than what they stand beside. */
TEST(gradients_with_rows_of_edges_equal_central_differences)
{
    for (int variant = 0; variant < 16; variant++) {
        fixture*   f = random_fixture(24, 9, 3);
        ggnn_store edges = random_edges(f, variant % 2 ? 1 : 11);
        net_config c = reader_config(variant & 8 ? NET_GAT : NET_SAGE);
        c.layers = 1 + variant % 3;
        c.attention_dropout = variant & 4 ? .25f : 0;
        c.residual = variant & 1;
        c.norm = variant & 2;
        c.dropout = c.input_dropout = variant & 4 ? .3f : 0;
        f->data.edges = &edges;
        sampler s = sampler_with_edges(f, &c);
        net* n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
        shake(n);
        for (uint32_t i = 0; i < 2; i++) check_step(n, &c, f, sample(&s, f, i, 8 * i, 8), i, true);
        if (test_errors) printf("  in variant %d\n", variant);
        net_free(n);
        sampler_free(&s);
        free((void*)(uintptr_t)edges.rows);
        fixture_free(f);
    }
}

static net* one_step_with(const fixture* f, const net_config* c, float* grad)
{
    sampler s = sampler_with_edges(f, c);
    net*    n = net_create(c, &f->data, &s.batch.blocks, NULL, &why);
    step(n, sample(&s, f, 1, 3, 8), 1, true);
    memcpy(grad, net_state_of(n).grad, (size_t)net_state_of(n).count * sizeof *grad);
    sampler_free(&s);
    return n;
}

/* And each layer's W_neigh has a row for each column of theirs. */
TEST(rows_of_edges_in_halves_are_read_exactly)
{
    enum { MOST = 4096, EDGE = 5 };
    static float grad[2][MOST];
    fixture*   f = random_fixture(24, 9, 3);
    ggnn_store edges = random_edges(f, EDGE), halves = edges;
    const int64_t count = f->task.graph.num_edges * EDGE;
    uint16_t* half = malloc((size_t)count * sizeof *half);
    for (int64_t i = 0; i < count; i++) half[i] = ggnn_float_to_half(((const float*)edges.rows)[i]);
    halves = ggnn_store_plain(half, f->task.graph.num_edges, EDGE, GGNN_F16);
    net_config c = reader_config(NET_SAGE);
    f->data.edges = &edges;
    net* n = one_step_with(f, &c, grad[0]);
    const int64_t params = net_state_of(n).count;
    net_free(n);
    f->data.edges = &halves;
    net_free(one_step_with(f, &c, grad[1]));
    CHECK(params < MOST && memcmp(grad[0], grad[1], (size_t)params * sizeof(float)) == 0);
    f->data.edges = NULL;
    n = one_step_with(f, &c, grad[1]);
    CHECK_EQ(net_state_of(n).count + EDGE * (c.hidden + c.hidden + c.outputs), params);
    net_free(n);
    free(half);
    free((void*)(uintptr_t)edges.rows);
    fixture_free(f);
}

/* By models that read none, or batches that do not say which edges they have. */
TEST(rows_of_edges_that_cannot_be_read_are_refused)
{
    fixture*   f = random_fixture(24, 9, 3);
    ggnn_store edges = random_edges(f, 2);
    f->data.edges = &edges;
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        net_config c = config_for(kind, 3);
        ggnn_sampling how = kind_sampling(&c, false);
        how.keep |= GGNN_KEEP_POSITIONS;
        sampler s = sampler_of(f, how, 8);
        why.text[0] = 0;
        const bool reads = kinds[kind].model == NET_GAT || (kinds[kind].model == NET_SAGE && kinds[kind].aggregator == NET_MEAN);
        net* n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
        CHECK_EQ(n != NULL, reads);
        if (!n) CHECK_STR(why.text, "rows of edges are read by GraphSAGE's mean and GAT in sampled batches alone");
        net_free(n);
        sampler_free(&s);
    }
    for (int i = 0; i < 3; i++) {
        net_config c = reader_config(NET_SAGE);
        ggnn_sampling how = kind_sampling(&c, i == 1);
        how.keep = i == 0 ? 0 : GGNN_KEEP_POSITIONS;
        c.full_batch = i == 2;
        sampler s = sampler_of(f, how, 8);
        why.text[0] = 0;
        CHECK(!net_create(&c, &f->data, i == 2 ? NULL : &s.batch.blocks, NULL, &why));
        CHECK_STR(why.text, i == 2 ? "rows of edges are read by GraphSAGE's mean and GAT in sampled batches alone"
                                   : "rows of edges need batches with local indices and positions");
        sampler_free(&s);
    }
    why.text[0] = 0;
    free((void*)(uintptr_t)edges.rows);
    fixture_free(f);
}

/* Whose first layer is the last. */
TEST(gradients_of_one_layer_equal_central_differences)
{
    for (int kind = 0; kind < ALL_KINDS; kind++)
        for (int variant = 0; variant < 8; variant += kind > 1 ? 5 : 1) {
            if (kind < NUM_KINDS) check_kind(kind, variant, 1, false);
            check_kind(kind, variant, 1, true);
        }
}

/* More rows than a segment of a column sum. */
TEST(gradients_of_many_rows_equal_central_differences)
{
    fixture*   f = random_fixture(700, 5, 3);
    net_config c = config_for(5, 3);
    c.layers = 2;
    c.full_batch = c.norm = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    shake(n);
    check_step(n, &c, f, net_whole(n), 0, true);
    net_free(n);
    fixture_free(f);
}

/* Rows wider than any buffer that rows are worked on in, and no multiple of a vector. 1205 roundings of 6e-8 of
   values near 1 add up, as a random walk, to 2e-6. */
TEST(wide_rows_equal_the_plain_implementation)
{
    fixture* f = random_fixture(24, 1205, 3);
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        net_config c = config_for(kind, 3);
        c.layers = 2;
        c.hidden = 603;
        c.full_batch = true;
        c.dropout = c.input_dropout = 0.5f;
        net*   n = net_create(&c, &f->data, NULL, NULL, &why);
        oracle o = oracle_of(n, &c, f, net_whole(n), 3, true);
        check_logits(n, &o);
        free(o.value);
        net_free(n);
    }
    fixture_free(f);
}

/* ==== the same net, otherwise fed ============================================================================== */

static void copy_rows(float* to, net_rows from)
{
    for (int64_t i = 0; i < from.rows * from.cols; i++) to[i] = from.v[i / from.cols * from.ld + i % from.cols];
}

/* One training step over a sampled batch; logits to out, gradients stay in the net, which the caller frees. Where c says
   so the batch comes with its rows. */
static net* one_step(const fixture* f, const net_config* c, const net_data* data, bool global, float* out)
{
    sampler    s = sampler_of(f, kind_sampling(c, global), 8);
    net*       n = net_create(c, data, &s.batch.blocks, NULL, &why);
    const mini_batch* b = sample(&s, f, 1, 3, 8);
    int64_t sources = *b->blocks.hop[c->layers - 1].num_src.n;
    if (c->extracted) {
        s.batch.ld_rows = f->width + 3;
        s.batch.rows = malloc((size_t)(sources * s.batch.ld_rows) * sizeof(float));
        ggnn_gather(s.batch.rows, s.batch.ld_rows, GGNN_F32, data->features, b->blocks.id, sources);
    }
    copy_rows(out, net_forward(n, b, 1, true));
    step(n, b, 1, true);
    free(s.batch.rows);
    sampler_free(&s);
    return n;
}

static bool same_gradients(net* a, net* b)
{
    net_state s = net_state_of(a), t = net_state_of(b);
    return s.count == t.count && !memcmp(s.grad, t.grad, (size_t)s.count * sizeof *s.grad);
}

TEST(global_last_hop_and_other_stores_give_the_same_bits)
{
    fixture* f = random_fixture(40, 12, 3);
    /* the same rows over three parts, odd ranks reversed */
    ggnn_node   rank[40];
    float*      part[3];
    const void* base[5] = {NULL};
    for (int p = 0; p < 3; p++) base[p] = part[p] = malloc(14 * 12 * sizeof(float));
    ggnn_store parts = {12, GGNN_F32, 12 * (int64_t)sizeof(float), NULL, base, {NULL, 0, rank, NULL, 40, 3}, NULL};
    for (int64_t v = 0; v < 40; v++) {
        rank[v] = (ggnn_node)(v % 2 ? 40 - v : v);
        memcpy(part[rank[v] % 3] + rank[v] / 3 * 12, f->features + v * 12, 12 * sizeof(float));
    }
    net_data over_parts = {&f->task.graph, &parts, {f->label, NULL}, NULL};
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        net_config c = config_for(kind, 3);
        float plain[24], other[24];
        c.dropout = 0.5f;
        if (c.model == NET_MLP) continue;
        net* a = one_step(f, &c, &f->data, false, plain);
        net* b = one_step(f, &c, &over_parts, net_reads_store(&c), other);
        CHECK(net_reads_store(&c) == (c.model != NET_GAT && c.aggregator != NET_POOL));
        CHECK(!memcmp(plain, other, sizeof plain));
        CHECK(same_gradients(a, b));
        net_free(a);
        net_free(b);
    }
    for (int p = 0; p < 3; p++) free(part[p]);
    fixture_free(f);
}

TEST(batches_that_come_with_their_rows_give_the_same_bits)
{
    fixture* f = random_fixture(40, 12, 3);
    for (int i = 0; i < ALL_KINDS * 2; i++) {
        net_config c = config_for(i / 2, 3);
        float plain[24], other[24];
        c.residual = true;
        c.dropout = 0.5f;
        c.input_dropout = i % 2 ? 0.3f : 0;
        net* a = one_step(f, &c, &f->data, net_reads_store(&c), plain);
        c.extracted = true;
        net* b = one_step(f, &c, &f->data, false, other);
        CHECK(!memcmp(plain, other, sizeof plain));
        if (!CHECK(same_gradients(a, b))) printf("  in %s\n", kinds[i / 2].name);
        net_free(a);
        net_free(b);
    }
    fixture_free(f);
}

TEST(half_precision_features_are_read_exactly)
{
    fixture*    f = random_fixture(40, 12, 3);
    uint16_t    half[40 * 12];
    ggnn_store  store = ggnn_store_plain(half, 40, 12, GGNN_F16);
    net_data    halves = {&f->task.graph, &store, {f->label, NULL}, NULL};
    for (int i = 0; i < 40 * 12; i++) {
        half[i] = ggnn_float_to_half(f->features[i]);
        f->features[i] = ggnn_half_to_float(half[i]);
    }
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int full = 0; full < 2; full++) {
            net_config c = config_for(kind, 3);
            float a[24], b[24];
            c.full_batch = full;
            net *n, *m;
            if (full) {
                n = net_create(&c, &f->data, NULL, NULL, &why);
                m = net_create(&c, &halves, NULL, NULL, &why);
                CHECK(step(n, net_whole(n), 0, true) == step(m, net_whole(m), 0, true));
            } else if (c.model != NET_MLP) {
                n = one_step(f, &c, &f->data, false, a);
                m = one_step(f, &c, &halves, false, b);
                CHECK(!memcmp(a, b, sizeof a));
            } else {
                continue;
            }
            CHECK(same_gradients(n, m));
            net_free(n);
            net_free(m);
        }
    fixture_free(f);
}

/* ---- evaluation ----------------------------------------------------------------------------------------------- */

/* Layer after layer over chunks of 16 of 40 nodes: the outputs of the last one, (40, outputs), to out. Where the
   model transforms rows, each layer's output takes the place of its input. */
static void run_layers(float* out, net* n, const net_config* c, const fixture* f, sampler* s)
{
    int32_t     width = net_transformed(c, f->width);
    float*      z = width ? malloc((size_t)(40 + 16) * (size_t)width * sizeof *z) : NULL;
    float*      el = malloc((size_t)(40 + 16) * 16 * sizeof *el);
    const net_transformed_rows transformed = {z, el, 0, 16}, *all = z ? &transformed : NULL;
    float*      rows[2] = {malloc(40 * 16 * sizeof(float)), malloc(40 * 16 * sizeof(float))};
    ggnn_store  x = f->task.features;
    for (int32_t l = 0; l < c->layers; l++) {
        float* to = l == c->layers - 1 ? out : rows[z ? 0 : l % 2];
        for (int64_t first = 0; z && first < 40; first += 16)
            net_transform(n, l, all, first, first + 16 > 40 ? 8 : 16, &x);
        for (int64_t first = 0; first < 40; first += 16) {
            const mini_batch* b = sample(s, f, 0, first, first + 16 > 40 ? 8 : 16);
            net_layer(n, l, to + first * net_width(n, l), net_width(n, l), &b->blocks.hop[0], &x, all);
        }
        x = ggnn_store_plain(to, 40, net_width(n, l), GGNN_F32);
    }
    free(z);
    free(el);
    free(rows[0]);
    free(rows[1]);
}

/* Widths grow from layer to layer, so that a pass over the whole graph multiplies in the same order. */
static net_config widening(int kind, int32_t layers, int variant)
{
    net_config c = config_for(kind, 7);
    c.layers = layers;
    c.residual = variant & 1;
    c.norm = variant & 2;
    c.dropout = c.input_dropout = c.attention_dropout = 0.5f; /* not in evaluation */
    return c;
}

/* Variants, bit by bit: residual, norm; input as wide as the output, whose residual has no weights. */
TEST(layers_over_chunks_are_the_whole_graph_bit_for_bit)
{
    for (int32_t width = 5; width < 7; width++) {
        fixture* f = random_fixture(40, width, 3);
        for (int i = 0; i < NUM_KINDS * 3 * 4; i++) {
            net_config c = widening(i % NUM_KINDS, 1 + i / NUM_KINDS % 3, i / NUM_KINDS / 3);
            c.full_batch = true;
            sampler s = sampler_new(f, 1, -1, true, 16);
            net*    n = net_create(&c, &f->data, NULL, &(net_chunk){&s.batch.blocks, 0}, &why);
            float   layered[40 * 7], whole[40 * 7];
            shake(n);
            run_layers(layered, n, &c, f, &s);
            copy_rows(whole, net_forward(n, net_whole(n), 9, false));
            if (!CHECK(!memcmp(layered, whole, sizeof whole)))
                printf("  in %s, %d layers, variant %d\n", kinds[i % NUM_KINDS].name, (int)c.layers,
                       i / NUM_KINDS / 3);
            net_free(n);
            sampler_free(&s);
        }
        fixture_free(f);
    }
}

/* What evaluation sees of a fixture: what would train validates. */
static task task_of(const fixture* f)
{
    task t = f->task;
    t.ids[SPLIT_VAL] = f->ids;
    t.count[SPLIT_VAL] = t.count[SPLIT_TRAIN];
    return t;
}

static void add_loss(double* sum, int64_t* known, net_rows logits, int64_t row, const task* t, ggnn_node v)
{
    double one;
    if (!net_row_loss(&one, logits.v + row * logits.ld, logits.cols, &t->labels, v)) return;
    *sum += one;
    ++*known;
}

static const volatile sig_atomic_t never = 0;

static tiers* open_tiers(device* d, const task* t)
{
    tiers* opened;
    tiers_source from = {.graph = t->graph, .features = t->features, .labels = t->labels,
                         .ids = {[SPLIT_VAL] = t->ids[SPLIT_VAL]}, .count = {[SPLIT_VAL] = t->count[SPLIT_VAL]}};
    CHECK(tiers_open(&opened, d, &from, &why));
    return opened;
}

/* Validation of a net with the values of `same`, in mini-batches' own configuration; its GEMM's operations. */
static int64_t run_evaluation(score* result, const config* how, const task* t, net_config c, net* same, int threads)
{
    loader_plan plan = {.batch = 64, .how = {.num_hops = c.layers, .last_hop_global = net_reads_store(&c)}};
    c.device = device_open_cpu(threads, &why);
    device_enter(c.device);
    tiers* opened = open_tiers(c.device, t);
    const tiers_view* view = tiers_view_of(opened);
    net_data data = {&view->graph, &view->features, view->labels, NULL};
    plan.graph = view->graph;
    plan.features = view->features;
    for (int32_t h = 0; h < c.layers && c.model != NET_MLP; h++) plan.how.fanout[h] = 2;
    loader*     training = loader_create(c.device, &plan, NULL, &why);
    comm        alone;
    comm_open_alone(&alone, &never);
    evaluation* e = evaluation_create(how, t, view, &c, training, &alone, &why);
    net*        n = net_create(&c, &data, loader_shape(training), evaluation_chunk(e), &why);
    memcpy(net_state_of(n).value, net_state_of(same).value, (size_t)net_state_of(n).count * sizeof(float));
    CHECK(evaluation_run(e, n, SPLIT_VAL, result, &why));
    int64_t flops = net_profile_of(n)->flops[0];
    net_free(n);
    evaluation_free(e);
    loader_free(training);
    tiers_close(opened);
    device_close(c.device);
    device_enter(cpu);
    return flops;
}

/* Products of an evaluation: those with a layer's weights "w...", for its targets. What transforms rows, its first parameter,
   is multiplied with all N nodes' once. */
static int64_t evaluation_flops(const net* n, const net_config* c, int64_t N, int64_t targets)
{
    const bool transformed = net_transformed(c, 1) > 0;
    int64_t flops = 0;
    int32_t first = -1; /* layer whose first parameter has been */
    for (int32_t i = 0; i < net_num_params(n); i++) {
        const net_param p = net_param_at(n, i);
        const int32_t   l = p.name[strlen(p.name) - 1] - '0';
        const bool      transforms = l != first && transformed, last = l == c->layers - 1;
        if (p.name[0] == 'w') flops += 2 * (last && !transforms ? targets : N) * p.rows * p.cols;
        first = l;
    }
    return flops;
}

/* Three chunks of nodes. Equal sums in double of thousands of losses: the logits are the same bits. */
TEST(evaluation_is_one_pass_over_the_graph_and_transforms_rows_once)
{
    fixture* f = random_fixture(9000, 5, 7);
    task     t = task_of(f);
    char     beside[600];
    for (int i = 0; i < NUM_KINDS * 4; i++) {
        net_config c = widening(i % NUM_KINDS, 1 + i / NUM_KINDS % 3, i / NUM_KINDS);
        config how = {.layers = c.layers, .hidden = c.hidden, .eval_memory = i % 2 ? 1 << 30 : 0,
                      .data = folder_path(beside, "data")};
        c.full_batch = true;
        net* whole = net_create(&c, &f->data, NULL, NULL, &why);
        c.full_batch = false;
        shake(whole);
        net_rows logits = net_forward(whole, net_whole(whole), 0, false);
        double   sum = 0;
        int64_t  known = 0;
        for (int64_t k = 0; k < t.count[SPLIT_VAL]; k++)
            add_loss(&sum, &known, logits, t.ids[SPLIT_VAL][k], &t, t.ids[SPLIT_VAL][k]);
        for (int threads = 1; threads < 4; threads++) {
            score result = {0};
            CHECK_EQ(run_evaluation(&result, &how, &t, c, whole, threads),
                     evaluation_flops(whole, &c, f->graph->num_nodes, t.count[SPLIT_VAL]));
            CHECK_EQ(result.known, known);
            if (!CHECK(result.loss == sum / (double)known)) printf("  in %s\n", kinds[i % NUM_KINDS].name);
        }
        net_free(whole);
    }
    fixture_free(f);
}

/* The loss over validation nodes in mini-batches of 64, sampled for the given purpose. */
static double sampled_loss(net* n, const fixture* f, const task* t, ggnn_purpose purpose)
{
    sampler  s = sampler_new(f, 2, 2, true, 64);
    ggnn_rng rng = {9, 0, purpose};
    double   sum = 0;
    int64_t  known = 0;
    for (int64_t first = 0, count; first < t->count[SPLIT_VAL]; first += count) {
        count = t->count[SPLIT_VAL] - first < 64 ? t->count[SPLIT_VAL] - first : 64;
        ggnn_sample(&s.batch.blocks, &f->task.graph, &rng, t->ids[SPLIT_VAL] + first, count);
        net_rows logits = net_forward(n, &s.batch, 0, false);
        for (int64_t i = 0; i < count; i++) add_loss(&sum, &known, logits, i, t, s.batch.blocks.id[i]);
    }
    sampler_free(&s);
    return sum / (double)known;
}

/* ... so that what training drew says nothing about what validation sees. */
TEST(sampled_evaluation_has_draws_of_its_own)
{
    fixture*   f = random_fixture(500, 5, 7);
    task       t = task_of(f);
    net_config c = widening(1, 2, 0);
    config     how = {.layers = 2, .hidden = c.hidden, .eval = EVAL_SAMPLED, .seed = 9};
    sampler    s = sampler_new(f, 2, 2, true, 64);
    score      result = {0};
    c.input_dropout = 0;
    net* n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
    run_evaluation(&result, &how, &t, c, n, 2);
    CHECK(result.loss == sampled_loss(n, f, &t, GGNN_PURPOSE_EVALUATE));
    CHECK(result.loss != sampled_loss(n, f, &t, GGNN_PURPOSE_SAMPLE));
    net_free(n);
    sampler_free(&s);
    fixture_free(f);
}

/* With a byte less than it needs it wants a file, for which there is no folder. */
TEST(evaluation_keeps_two_matrices_of_rows_at_most)
{
    enum { N = 5000, ROOM = 4096, HIDDEN = 6, FEATURES = 5, LAST = 2 * 7 };
    static const struct {
        int     kind;
        int32_t layers;
        int64_t elements;
    } need[] = {{0, 1, 0}, {0, 2, N * HIDDEN}, {1, 3, 2 * N * HIDDEN}, {2, 5, 2 * N * HIDDEN},
                {3, 1, (N + ROOM) * FEATURES}, {3, 2, N * HIDDEN + (N + ROOM) * HIDDEN},
                {4, 1, (N + ROOM) * LAST}, {4, 4, N * HIDDEN + (N + ROOM) * LAST}};
    fixture* f = random_fixture(N, FEATURES, 7);
    task     t = task_of(f);
    comm alone;
    comm_open_alone(&alone, &never);
    tiers* opened = open_tiers(cpu, &t);
    for (size_t i = 0; i < sizeof need / sizeof *need; i++)
        for (int short_by = 0; short_by < 2 && short_by <= need[i].elements; short_by++) {
            net_config  c = widening(need[i].kind, need[i].layers, 0);
            config      how = {.layers = c.layers, .hidden = HIDDEN, .data = "no/such/folder"};
            error       said = {""};
            how.eval_memory = need[i].elements * (int64_t)sizeof(float) - short_by;
            evaluation* e = evaluation_create(&how, &t, tiers_view_of(opened), &c, NULL, &alone, &said);
            if (!CHECK_EQ(e == NULL, short_by)) printf("  case %d\n", (int)i);
            evaluation_free(e);
        }
    tiers_close(opened);
    fixture_free(f);
}

TEST(evaluation_of_more_edges_than_a_block_has_is_an_error_at_its_start)
{
    fixture* f = random_fixture(10, 4, 3);
    task     t = task_of(f);
    config   how = {.layers = 3, .hidden = 6, .eval_memory = 1 << 20};
    const int64_t edges = t.graph.num_edges;
    t.graph.num_edges = (int64_t)1 << 31;
    comm alone;
    comm_open_alone(&alone, &never);
    tiers* opened = open_tiers(cpu, &t);
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        net_config  c = config_for(kind, 3);
        error       said = {""};
        evaluation* e = evaluation_create(&how, &t, tiers_view_of(opened), &c, NULL, &alone, &said);
        CHECK((e == NULL) == (c.model != NET_MLP)); /* it looks at no edge */
        CHECK((strstr(said.text, "--eval sampled") != NULL) == (c.model != NET_MLP));
        evaluation_free(e);
    }
    tiers_close(opened);
    t.graph.num_edges = edges; /* and of transformed rows, before which each rank has 4,096 of its own */
    opened = open_tiers(cpu, &t);
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int over = 0; over < 2; over++) {
            net_config  c = config_for(kind, 3);
            error       said = {""};
            const bool  fits = !over || !net_transformed(&c, 4);
            t.graph.num_nodes = INT32_MAX - 4096 + over;
            evaluation* e = evaluation_create(&how, &t, tiers_view_of(opened), &c, NULL, &alone, &said);
            if (!CHECK((e != NULL) == fits && (strstr(said.text, "--eval sampled") != NULL) == !fits)) printf("  kind %d, %d: %s\n", kind, over, said.text);
            evaluation_free(e);
            if (fits) continue;
            alone.ranks = 3;
            t.graph.num_nodes -= 2 * 4096;
            said.text[0] = 0;
            e = evaluation_create(&how, &t, tiers_view_of(opened), &c, NULL, &alone, &said);
            CHECK(!e && strstr(said.text, "--eval sampled") != NULL);
            alone.ranks = 1;
        }
    tiers_close(opened);
    fixture_free(f);
}

TEST(blas_gives_the_same_but_for_rounding)
{
    if (!gemm_blas_available()) SKIP("no CBLAS");
    fixture*   f = random_fixture(40, 12, 3);
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        net_config c = config_for(kind, 3);
        c.full_batch = true;
        net* a = net_create(&c, &f->data, NULL, NULL, &why);
        c.blas = true;
        net* b = net_create(&c, &f->data, NULL, NULL, &why);
        double loss = step(a, net_whole(a), 0, true);
        CHECK_NEAR(step(b, net_whole(b), 0, true), loss, tolerance(loss));
        for (int64_t i = 0; i < net_state_of(a).count; i++)
            CHECK_NEAR(net_state_of(b).grad[i], net_state_of(a).grad[i], tolerance((double)net_state_of(a).grad[i]));
        net_free(a);
        net_free(b);
    }
    fixture_free(f);
}

/* Leaves `entries` features that are not 0, among them a last column, and rows and columns without any. */
static void thin_out(fixture* f, int64_t entries)
{
    int64_t all = f->graph->num_nodes * f->width;
    for (int64_t i = 0; i < all; i++) f->features[i] = 0;
    for (int64_t left = entries, at = all - 1; left > 0; left--) {
        f->features[at] = test_uniform() + 1.5f;
        while (left > 1 && f->features[at] != 0) at = test_below(f->graph->num_nodes / 2) * f->width + test_below(f->width);
    }
}

/* With dropout: every field that matters, as a product of all and of the entries alone have the same ones. */
TEST(features_without_their_zeros_give_the_same_but_for_rounding)
{
    enum { N = 60, COLUMNS = 33 }; /* of 1980 features a tenth is 198 */
    fixture*    f = random_fixture(N, COLUMNS, 3);
    uint16_t    half[N * COLUMNS];
    ggnn_store  store = ggnn_store_plain(half, N, COLUMNS, GGNN_F16);
    net_data    halves = {&f->task.graph, &store, {f->label, NULL}, NULL};
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int variant = 0; variant < 8; variant++) {
            const int64_t entries = variant & 4 ? 199 : variant & 2 ? 198 : 0;
            thin_out(f, entries);
            for (int i = 0; i < N * COLUMNS; i++) {
                half[i] = ggnn_float_to_half(f->features[i]);
                f->features[i] = ggnn_half_to_float(half[i]);
            }
            net_config c = config_for(kind, 3);
            c.full_batch = true;
            c.input_dropout = variant & 1 ? 0.4f : 0;
            net* n = net_create(&c, variant & 1 ? &halves : &f->data, NULL, NULL, &why);
            c.dense = true;
            net* dense = net_create(&c, &f->data, NULL, NULL, &why);
            for (uint32_t i = 0; i < 3; i++) { /* the last one is evaluation's */
                double loss = step(dense, net_whole(dense), i, i < 2);
                CHECK_NEAR(step(n, net_whole(n), i, i < 2), loss, tolerance(loss));
                for (int64_t k = 0; k < net_state_of(n).count; k++)
                    CHECK_NEAR(net_state_of(n).grad[k], net_state_of(dense).grad[k],
                               tolerance((double)net_state_of(dense).grad[k]));
            }
            bool fewer = net_profile_of(n)->flops[0] < net_profile_of(dense)->flops[0];
            CHECK(fewer == (entries <= 198 && net_only_multiplies(&c, COLUMNS)));
            net_free(n);
            net_free(dense);
        }
    fixture_free(f);
}

/* Rows are looked through 256 at a time: three times, the last time fewer. */
TEST(features_of_more_rows_than_are_looked_through_at_once_lose_their_zeros)
{
    fixture*   f = random_fixture(600, 12, 3);
    net_config c = config_for(0, 3);
    memset(f->features, 0, (size_t)(600 * 12) * sizeof *f->features);
    for (int64_t v = 0; v < 600; v++) f->features[v * 12 + v % 11] = test_uniform() + 1.5f;
    c.full_batch = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    c.dense = true;
    net* dense = net_create(&c, &f->data, NULL, NULL, &why);
    double loss = step(dense, net_whole(dense), 0, true);
    CHECK_NEAR(step(n, net_whole(n), 0, true), loss, tolerance(loss));
    for (int64_t k = 0; k < net_state_of(n).count; k++)
        CHECK_NEAR(net_state_of(n).grad[k], net_state_of(dense).grad[k], tolerance((double)net_state_of(dense).grad[k]));
    CHECK(net_profile_of(n)->flops[0] < net_profile_of(dense)->flops[0]);
    net_free(n);
    net_free(dense);
    fixture_free(f);
}

TEST(features_without_their_zeros_are_for_nets_that_only_multiply_them)
{
    for (int kind = 0; kind < NUM_KINDS; kind++) {
        net_config c = config_for(kind, 3); /* 6 hidden columns */
        bool linear = c.model == NET_GCN || (c.model == NET_SAGE && c.aggregator == NET_SAGE_GCN);
        CHECK(!net_only_multiplies(&c, 9));
        c.full_batch = true;
        CHECK_EQ(net_only_multiplies(&c, 9), linear || c.model == NET_GAT || c.model == NET_MLP);
        CHECK_EQ(net_only_multiplies(&c, 6), c.model == NET_GAT || c.model == NET_MLP);
        c.layers = 1; /* 3 outputs */
        CHECK_EQ(net_only_multiplies(&c, 4), linear || c.model == NET_GAT || c.model == NET_MLP);
        CHECK_EQ(net_only_multiplies(&c, 3), c.model == NET_GAT || c.model == NET_MLP);
        c.layers = 3;
        c.preprocessed = true; /* of GCN and GraphSAGE's mean: their sums are there */
        CHECK(net_only_multiplies(&c, 9) && net_only_multiplies(&c, 6));
        c.full_batch = false;
        CHECK(!net_only_multiplies(&c, 9));
        c.full_batch = true;
        c.preprocessed = false;
        c.residual = true;
        CHECK(!net_only_multiplies(&c, 9));
    }
}

/* Features of 2 bytes an element, read by an aggregation (sage mean, and its targets' rows) or gathered (gat). */
TEST(profile_counts_half_precision_rows_as_they_lie)
{
    fixture*    f = random_fixture(40, 12, 3);
    uint16_t    half[40 * 12] = {0};
    ggnn_store  store = ggnn_store_plain(half, 40, 12, GGNN_F16);
    net_data    halves = {&f->task.graph, &store, {f->label, NULL}, NULL};
    for (int kind = 1; kind < 5; kind += 3) {
        net_config c = config_for(kind, 3);
        c.layers = 1;
        sampler s = sampler_new(f, 1, 3, net_reads_store(&c), 8);
        net*    n = net_create(&c, &halves, &s.batch.blocks, NULL, &why);
        const mini_batch* b = sample(&s, f, 0, 0, 8);
        net_forward(n, b, 0, true);
        int64_t read = 8 * 12 * (2 + 4) + *b->blocks.hop[0].num_edges.n * (12 * 2 + 4) + 8 * 12 * 4;
        if (c.model == NET_GAT) read = *b->blocks.hop[0].num_src.n * 12 * (2 + 4);
        CHECK_EQ(net_profile_of(n)->bytes[0][NET_GATHER], read);
        net_free(n);
        sampler_free(&s);
    }
    fixture_free(f);
}

/* x W, two layers, with 10 rows: 2 multiply-adds an element, and twice that but for dx of the first layer back. */
TEST(profile_counts_arithmetic_and_bytes)
{
    fixture*   f = random_fixture(10, 4, 3);
    net_config c = config_for(5, 3);
    c.layers = 2;
    c.full_batch = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    const net_profile* p = net_profile_of(n);
    step(n, net_whole(n), 0, true);
    net_update(n, 0.01f);
    CHECK_EQ(p->flops[0], 2 * 10 * (4 * 6 + 6 * 3));
    CHECK_EQ(p->flops[1], 2 * 10 * (4 * 6 + 2 * 6 * 3));
    CHECK_EQ(p->bytes[0][NET_GEMM], 4 * (10 * 4 + 4 * 6 + 10 * 6 + 10 * 6 + 6 * 3 + 10 * 3));
    CHECK_EQ(p->bytes[1][NET_OPTIMIZER], 28 * net_state_of(n).count);
    CHECK(p->seconds[0][NET_GEMM] > 0 && p->seconds[0][NET_AGGREGATE] == 0);
    net_free(n);
    fixture_free(f);
}

/* x W and x' dz, of 4 entries that are not 0 and 3 columns. */
TEST(the_profile_counts_features_without_their_zeros_by_the_half_of_the_step)
{
    fixture*   f = random_fixture(10, 4, 3);
    net_config c = config_for(5, 3);
    thin_out(f, 4);
    c.layers = 1;
    c.full_batch = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    const net_profile* p = net_profile_of(n);
    step(n, net_whole(n), 0, true);
    for (int backward = 0; backward < 2; backward++) CHECK_EQ(p->flops[backward], 2 * 4 * 3);
    CHECK_EQ(p->bytes[0][NET_GEMM], 4 * (4 * (3 + 2) + 10 * 3));
    CHECK_EQ(p->bytes[1][NET_GEMM], 4 * (4 * (3 + 2) + 4 * 3));
    net_free(n);
    fixture_free(f);
}

/* Evaluation samples by the training's loader and gathers by its net: the bytes of both are evaluation's. */
TEST(the_profile_gives_evaluation_the_bytes_that_it_samples_and_gathers)
{
    char            text[4096] = "";
    double          gigabytes = -1;
    report          r;
    net_profile     all;
    counted_cost apart;
    memset(&r, 0, sizeof r);
    memset(&all, 0, sizeof all);
    memset(&apart, 0, sizeof apart);
    r.start = progress_seconds() - 10;
    apart.seconds = 2;
    apart.loader.bytes = 3000000000;
    all.bytes[0][NET_GATHER] = apart.net.bytes[0][NET_GATHER] = 1000000000;
    FILE* file = tmpfile();
    fflush(stdout);
    const int standard_output = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    report_profile(&r, 1, &(worker_costs){.batches = {.seconds = 1, .sample = 1, .bytes = 500000000}, .evaluation = &apart, .net = &all});
    fflush(stdout);
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    rewind(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char* row = strstr(text, "\n  evaluation ");
    CHECK(row && sscanf(row, " evaluation %*f %*f %% %lf", &gigabytes) == 1);
    CHECK_NEAR(gigabytes, 4, 0);
}

TEST(any_number_of_threads_gives_the_same_bits)
{
#ifdef _OPENMP
    fixture* f = random_fixture(1500, 70, 5);
    for (int kind = 0; kind < ALL_KINDS; kind++) {
        net_config c = config_for(kind, 5);
        net* first = NULL;
        c.hidden = 96;
        c.residual = c.norm = true;
        c.full_batch = kind < NUM_KINDS;
        c.dropout = c.input_dropout = 0.5f;
        sampler s = sampler_of(f, kind_sampling(&c, false), 64);
        const int threads[] = {1, 2, 4, 8};
        double loss[4];
        for (int t = 0; t < 4; t++) {
            omp_set_num_threads(threads[t]);
            net*   n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
            size_t values = (size_t)net_state_of(n).count * sizeof(float);
            for (uint32_t i = 0; i < 2; i++) {
                loss[t] = step(n, c.full_batch ? net_whole(n) : sample(&s, f, i, 64 * i, 64), i, true);
                net_update(n, 0.01f);
            }
            if (!first) first = n;
            CHECK(loss[t] == loss[0]);
            CHECK(same_gradients(first, n));
            CHECK(!memcmp(net_state_of(first).value, net_state_of(n).value, values));
            if (n != first) net_free(n);
        }
        net_free(first);
        sampler_free(&s);
    }
    omp_set_num_threads(2);
    fixture_free(f);
#else
    SKIP("no OpenMP");
#endif
}

/* ==== statistics =============================================================================================== */

/* One linear layer: its sampled logits average to the full graph's. 5 standard errors, of at least 1e-6. */
TEST(sampled_gcn_is_unbiased)
{
    enum { STEPS = 4000, COUNT = 16 * 3 };
    fixture*   f = random_fixture(16, 4, 3);
    net_config c = config_for(0, 3);
    c.layers = 1;
    sampler s = sampler_new(f, 1, 2, true, 16), all = sampler_new(f, 1, -1, true, 16);
    net*    n = net_create(&c, &f->data, &all.batch.blocks, NULL, &why);
    double  sum[COUNT] = {0}, squares[COUNT] = {0};
    float   logits[COUNT], full[COUNT];
    copy_rows(full, net_forward(n, sample(&all, f, 0, 0, 16), 0, false));
    for (uint32_t i = 0; i < STEPS; i++) {
        copy_rows(logits, net_forward(n, sample(&s, f, i, 0, 16), i, false));
        for (int j = 0; j < COUNT; j++) {
            sum[j] += (double)logits[j];
            squares[j] += (double)logits[j] * (double)logits[j];
        }
    }
    for (int j = 0; j < COUNT; j++) {
        double mean = sum[j] / STEPS, variance = squares[j] / STEPS - mean * mean;
        CHECK_NEAR(mean, full[j], 5 * sqrt(fmax(variance, 0) / STEPS) + 1e-6);
    }
    net_free(n);
    sampler_free(&s);
    sampler_free(&all);
    fixture_free(f);
}

/* Any number of blocks goes through several vector widths and the plain remainder. */
TEST(dropout_fields_are_their_definition)
{
    ggnn_rng  rng = {0x0123456789abcdefu, 77, GGNN_PURPOSE_DROPOUT};
    ggnn_node nodes[] = {0, 5, GGNN_NODE_MAX >> (sizeof(ggnn_node) == 8 ? 16 : 0)};
    uint16_t  field[8 * 40];
    for (int i = 0; i < 3; i++)
        for (int32_t blocks = 0; blocks < 40; blocks++) {
            uint32_t first = (uint32_t)blocks * 0x0fffffffu; /* near 2^32 too */
            ggnn_dropout_fields(field, &rng, 3, nodes[i], first, blocks);
            for (int32_t k = 0; k < 8 * blocks; k++)
                CHECK_EQ(field[k], ggnn_dropout_field(ggnn_random(&rng, 3, nodes[i], first + (uint32_t)k / 8), k));
        }
}

/* Hidden columns that are 1 but for dropout, summed by the last layer: each logit is a count of kept ones. */
TEST(dropout_drops_its_share_and_keeps_the_mean)
{
    fixture*   f = random_fixture(2000, 4, 3);
    net_config c = config_for(5, 1);
    c.layers = 2;
    c.hidden = 100;
    c.dropout = 0.25f;
    c.full_batch = true;
    net*   n = net_create(&c, &f->data, NULL, NULL, &why);
    float* value = net_state_of(n).value;
    int64_t b0 = find_parameter(n, "b0").offset, w1 = find_parameter(n, "w1").offset;
    for (int64_t i = 0; i < net_state_of(n).count; i++) value[i] = 0;
    for (int i = 0; i < 100; i++) value[b0 + i] = value[w1 + i] = 1;
    double sum[2] = {0, 0}, squares = 0;
    for (uint32_t i = 0; i < 2; i++) {
        net_rows kept_columns = net_forward(n, net_whole(n), i, true);
        for (int64_t v = 0; v < 2000; v++) {
            double k = (double)kept_columns.v[v * kept_columns.ld] * 0.75;
            CHECK_NEAR(k, round(k), 1e-4);
            sum[i] += k;
            squares += (k - 75) * (k - 75);
        }
    }
    CHECK_NEAR(sum[0] / 2000, 75, 5 * sqrt(100 * 0.25 * 0.75 / 2000)); /* binomial: 5 standard errors */
    CHECK_NEAR(sum[1] / 2000, 75, 5 * sqrt(100 * 0.25 * 0.75 / 2000));
    CHECK_NEAR(squares / 4000, 100 * 0.25 * 0.75, 5 * 18.75 * sqrt(2.0 / 4000));
    CHECK(sum[0] != sum[1]); /* another step, another mask */
    net_free(n);
    fixture_free(f);
}

TEST(initial_weights_are_glorot_uniform)
{
    fixture*   f = random_fixture(10, 300, 3);
    net_config c = config_for(1, 3);
    c.hidden = 100;
    c.full_batch = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    net_param p = find_parameter(n, "w_self0"), q = find_parameter(n, "w_neigh0");
    const float* v = net_state_of(n).value + p.offset;
    double limit = sqrt(6.0 / 400), sum = 0, squares = 0, most = 0;
    for (int i = 0; i < 30000; i++) {
        sum += (double)v[i];
        squares += (double)v[i] * (double)v[i];
        most = fmax(most, fabs((double)v[i]));
    }
    CHECK(most <= limit && most > 0.999 * limit);
    CHECK_NEAR(sum / 30000, 0, 5 * limit / sqrt(3 * 30000.0));
    CHECK_NEAR(squares / 30000, limit * limit / 3, 5 * limit * limit * sqrt(4 / 45.0 / 30000));
    CHECK(memcmp(v, net_state_of(n).value + q.offset, 100 * sizeof *v) != 0);
    CHECK_EQ(net_state_of(n).value[find_parameter(n, "b0").offset], 0);
    net_free(n);
    fixture_free(f);
}

/* Word i % 4 of block i / 4 of the stream of its layer and of its number among all parameters; biases are 0, and scales of norms 1. */
TEST(every_first_weight_is_its_word_of_a_stream)
{
    fixture* f = random_fixture(10, 30, 3);
    for (int model = NET_GCN; model <= NET_MLP; model++)
        for (int seed = 0; seed < 2; seed++) {
            net_config c = {.device = cpu, .model = (net_model)model, .layers = 3, .hidden = 12, .outputs = 3, .heads = 3, .out_heads = 2,
                            .residual = true, .norm = true, .full_batch = true, .seed = seed ? 1234567890123u : 7};
            net* n = net_create(&c, &f->data, NULL, NULL, &why);
            if (!CHECK(n != NULL)) continue;
            const ggnn_rng rng = {c.seed, 0, GGNN_PURPOSE_WEIGHTS};
            int64_t wrong = 0, seen = 0;
            for (int32_t k = 0; k < net_num_params(n); k++) {
                const net_param p = net_param_at(n, k);
                const float* v = net_state_of(n).value + p.offset;
                const int32_t layer = p.name[strlen(p.name) - 1] - '0';
                const bool drawn = p.name[0] == 'w' || p.name[0] == 'a';
                const float limit = (float)sqrt(6.0 / (p.rows + p.cols)), fill = p.name[0] == 'g' ? 1 : 0;
                for (int64_t i = 0; i < (int64_t)p.rows * p.cols; i++, seen++)
                    wrong += v[i] != (drawn ? (2 * ggnn_uniform(ggnn_random(&rng, layer, k, (uint32_t)(i / 4)).word[i % 4]) - 1) * limit : fill);
            }
            CHECK(wrong == 0 && seen == net_state_of(n).count);
            net_free(n);
        }
    fixture_free(f);
}

/* ==== training ================================================================================================= */

/* Two halves that mostly cite themselves, features that say little. */
static fixture* two_communities(void)
{
    fixture* f = random_fixture(200, 8, 2);
    for (int64_t v = 0; v < 200; v++) {
        f->label[v] = v >= 100;
        for (int64_t e = f->graph->indptr[v]; e < f->graph->indptr[v + 1]; e++)
            if (test_below(10)) f->graph->indices[e] = (ggnn_node)(f->graph->indices[e] % 100 + (v >= 100 ? 100 : 0));
        f->features[v * 8] += v >= 100 ? 0.3f : -0.3f;
    }
    return f;
}

TEST(training_reduces_the_loss)
{
    fixture* f = two_communities();
    for (int kind = 0; kind < NUM_KINDS; kind++)
        for (int full = 0; full < 2; full++) {
            net_config c = config_for(kind, 2);
            c.layers = 2;
            c.hidden = 12;
            c.full_batch = full;
            c.weight_decay = 1e-4f;
            sampler s = sampler_new(f, 2, c.model == NET_MLP ? 0 : 4, net_reads_store(&c), 50);
            net*    n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
            double  first = 0, last = 0;
            for (uint32_t i = 0; i < 60; i++) {
                double loss = step(n, full ? net_whole(n) : sample(&s, f, i, i % 4 * 50, 50), i, true);
                if (i < 4) first += loss; /* of all nodes, a quarter a batch */
                if (i >= 56) last += loss;
                net_update(n, 0.02f);
            }
            CHECK(last < 0.8 * first);
            net_free(n);
            sampler_free(&s);
        }
    fixture_free(f);
}

TEST(real_targets_are_binary_labels_between)
{
    fixture*   f = random_fixture(6, 4, 2);
    net_config c = config_for(5, 1);
    c.full_batch = true;
    const float target[6] = {0, 1, 0.25f, NAN, 1, NAN};
    net_labels labels = {NULL, target};
    net_data data = {&f->task.graph, &f->task.features, labels, NULL};
    net*  n = net_create(&c, &data, NULL, NULL, &why);
    double  expected = 0, one = 0;
    net_rows logits = net_forward(n, net_whole(n), 0, true);
    for (int v = 0; v < 6; v++) {
        double s = (double)logits.v[v * logits.ld];
        bool   has = net_row_loss(&one, logits.v + v * logits.ld, 1, &labels, v);
        CHECK(has == !isnan(target[v]));
        if (!has) continue;
        expected += (log(1 + exp(s)) - (double)target[v] * s) / 4;
        CHECK_NEAR(one, log(1 + exp(s)) - (double)target[v] * s, 1e-6);
    }
    CHECK_NEAR(net_loss(n), expected, 1e-6);
    CHECK_EQ(net_whole(n)->known.max, 4);
    net_free(n);
    fixture_free(f);
}

/* Logits far beyond exp's range: the loss is finite and exact, and no label at all is no loss and no gradient. */
TEST(loss_is_safe_at_its_ends)
{
    const int32_t label[] = {0, 2};
    const float   huge[] = {1e30f, 0, -1e30f}, one[] = {-500};
    net_labels    labels = {label, NULL};
    double        loss = 0;
    CHECK(net_row_loss(&loss, huge, 3, &labels, 0));
    CHECK_NEAR(loss, 0, 1e-7);
    CHECK(net_row_loss(&loss, huge, 3, &labels, 1));
    CHECK_NEAR(loss, 2e30, 1e24);
    CHECK(net_row_loss(&loss, one, 1, &labels, 0));
    CHECK_NEAR(loss, 0, 1e-7);

    fixture*   f = random_fixture(6, 4, 2);
    net_config c = config_for(0, 3);
    c.full_batch = true;
    for (int v = 0; v < 6; v++) f->label[v] = -1;
    net* n = net_create(&c, &f->data, NULL, NULL, &why);
    CHECK_NEAR(step(n, net_whole(n), 0, true), 0, 0);
    for (int64_t i = 0; i < net_state_of(n).count; i++) CHECK_NEAR(net_state_of(n).grad[i], 0, 0);
    net_free(n);
    fixture_free(f);
}

/* ==== memory and errors ======================================================================================== */

TEST(a_step_allocates_nothing)
{
    fixture*   f = random_fixture(40, 12, 3);
    net_config c = config_for(4, 3);
    sampler    s = sampler_new(f, 3, 3, false, 8);
    net*       n = net_create(&c, &f->data, &s.batch.blocks, NULL, &why);
    long       before = memory_calls();
    step(n, sample(&s, f, 0, 0, 8), 0, true);
    net_update(n, 0.01f);
    CHECK_EQ(memory_calls(), before);
    net_free(n);
    sampler_free(&s);
    fixture_free(f);
}

TEST(creation_survives_any_failing_allocation)
{
    fixture*   f = random_fixture(40, 12, 3);
    net_config c = config_for(4, 3);
    c.full_batch = true;
    for (int sparse = 0; sparse < 2; sparse++) {
        for (long i = 1;; i++) {
            char number[24];
            snprintf(number, sizeof number, "%ld", memory_calls() + i);
            setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
            error said = {""};
            net*  n = net_create(&c, &f->data, NULL, NULL, &said);
            unsetenv("GGNN_TEST_FAIL_ALLOCATION");
            CHECK(!n == (strstr(said.text, "out of memory") != NULL));
            net_free(n);
            if (n) {
                CHECK(i > (sparse ? 7 : 3)); /* net, whole graph, parameters, matrices; features, twice, transposed */
                break;
            }
        }
        thin_out(f, 9);
    }
    fixture_free(f);
}

static void refuses(net_config c, const char* what)
{
    fixture* f = random_fixture(10, 4, 3);
    error    said = {""};
    c.full_batch = true;
    net* n = net_create(&c, &f->data, NULL, NULL, &said);
    CHECK(n == NULL);
    if (!strstr(said.text, what)) CHECK_STR(said.text, what);
    net_free(n);
    fixture_free(f);
}

TEST(creation_refuses_what_it_cannot_build)
{
    net_config c = config_for(4, 3);
    c.heads = 4;
    refuses(c, "4 heads do not divide a hidden width of 6");
    c = config_for(0, 3);
    c.layers = NET_LAYERS_MAX + 1;
    refuses(c, "9 layers");
    c = config_for(0, 0);
    refuses(c, "0 output columns");
    c = config_for(0, 3);
    c.dropout = 1;
    refuses(c, "dropout of 1");
    c = config_for(NUM_KINDS, 3);
    c.full_batch = true;
    refuses(c, "the importance aggregator needs batches with the visits of walks");
}

/* Each limit, from both sides. */
TEST(creation_takes_what_is_within_its_limits_and_nothing_else)
{
    enum { GCN = 0, SAGE = 1, SAGE_GCN = 2, POOL = 3, GAT = 4, MLP = 5 };
    static const char summed[] = "preprocessed features are GCN's or GraphSAGE's mean's, without residual and input dropout";
    static const struct {
        int kind;
        int32_t layers, hidden, outputs, heads, out_heads;
        float dropout, input_dropout, attention_dropout;
        bool preprocessed, residual;
        const char* refused; /* NULL: it is taken */
    } of[] = {
        {GCN, 1, 1, 1, 0, 0, 0, 0, 0, false, true, NULL},
        {GCN, NET_LAYERS_MAX, 1, 1, -5, -5, .999f, .999f, .999f, false, false, NULL},
        {GCN, 0, 4, 2, 1, 1, 0, 0, 0, false, false, "0 layers: 1 to 8"},
        {GCN, NET_LAYERS_MAX + 1, 4, 2, 1, 1, 0, 0, 0, false, false, "9 layers: 1 to 8"},
        {GCN, 2, 0, 2, 1, 1, 0, 0, 0, false, false, "0 hidden and 2 output columns"},
        {GCN, 2, 4, 0, 1, 1, 0, 0, 0, false, false, "4 hidden and 0 output columns"},
        {GAT, 2, 4, 2, 4, 7, 0, 0, 0, false, false, NULL},
        {GAT, 2, 4, 2, 1, 1, 0, 0, 0, false, false, NULL},
        {GAT, 2, 4, 2, 0, 1, 0, 0, 0, false, false, "0 heads do not divide a hidden width of 4"},
        {GAT, 2, 4, 2, 2, 0, 0, 0, 0, false, false, "2 heads do not divide a hidden width of 4"},
        {GAT, 2, 4, 2, 3, 1, 0, 0, 0, false, false, "3 heads do not divide a hidden width of 4"},
        {GAT, 2, 4, 2, -2, 1, 0, 0, 0, false, false, "-2 heads do not divide a hidden width of 4"},
        {GCN, 2, 4, 2, 3, 0, 0, 0, 0, false, false, NULL},
        {SAGE, 2, 4, 2, 1, 1, .9995f, 0, 0, false, false, "dropout of 0.9995: 0 to 0.999"},
        {SAGE, 2, 4, 2, 1, 1, 0, 1, 0, false, false, "dropout of 1: 0 to 0.999"},
        {SAGE, 2, 4, 2, 1, 1, 0, 0, 1, false, false, "dropout of 1: 0 to 0.999"},
        {SAGE, 2, 4, 2, 1, 1, -.01f, 0, 0, false, false, "dropout of -0.01: 0 to 0.999"},
        {SAGE, 2, 4, 2, 1, 1, 0, NAN, 0, false, false, "dropout of nan: 0 to 0.999"},
        {SAGE, 2, 4, 2, 1, 1, 0, 0, -1, false, false, "dropout of -1: 0 to 0.999"},
        {GCN, 2, 4, 2, 1, 1, .5f, 0, 0, true, false, NULL},
        {SAGE, 1, 4, 2, 1, 1, 0, 0, 0, true, false, NULL},
        {GCN, 2, 4, 2, 1, 1, 0, .1f, 0, true, false, summed},
        {SAGE, 2, 4, 2, 1, 1, 0, 0, 0, true, true, summed},
        {SAGE_GCN, 2, 4, 2, 1, 1, 0, 0, 0, true, false, summed},
        {POOL, 2, 4, 2, 1, 1, 0, 0, 0, true, false, summed},
        {GAT, 2, 4, 2, 1, 1, 0, 0, 0, true, false, summed},
        {MLP, 2, 4, 2, 1, 1, 0, 0, 0, true, false, summed},
    };
    fixture* f = random_fixture(10, 4, 2);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        error said = {""};
        net_config c = config_for(of[i].kind, of[i].outputs);
        c.layers = of[i].layers, c.hidden = of[i].hidden, c.heads = of[i].heads, c.out_heads = of[i].out_heads;
        c.dropout = of[i].dropout, c.input_dropout = of[i].input_dropout, c.attention_dropout = of[i].attention_dropout;
        c.preprocessed = of[i].preprocessed, c.residual = of[i].residual, c.full_batch = true;
        net* n = net_create(&c, &f->data, NULL, NULL, &said);
        CHECK_EQ(n != NULL, !of[i].refused);
        CHECK_STR(said.text, of[i].refused ? of[i].refused : "");
        net_free(n);
    }
    fixture_free(f);
}

TEST(importance_without_visits_is_refused)
{
    fixture*   f = random_fixture(10, 4, 3);
    net_config c = config_for(NUM_KINDS, 3);
    sampler    plain = sampler_new(f, 3, 3, false, 8), visits = sampler_of(f, kind_sampling(&c, false), 8);
    error      said = {""};
    CHECK(net_create(&c, &f->data, &plain.batch.blocks, NULL, &said) == NULL);
    CHECK(strstr(said.text, "visits of walks") != NULL);
    said.text[0] = 0;
    CHECK(net_create(&c, &f->data, &visits.batch.blocks, &(net_chunk){&plain.batch.blocks, 0}, &said) == NULL);
    CHECK(strstr(said.text, "visits of walks") != NULL);
    sampler_free(&plain);
    sampler_free(&visits);
    fixture_free(f);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(4);
    NUM_KINDS = find_kinds(kinds, false);
    ALL_KINDS = NUM_KINDS + find_kinds(kinds + NUM_KINDS, true);
    folder_make();
    cpu = device_open_cpu(2, &why);
    device_enter(cpu);
    RUN(models_equal_pytorch);
    RUN(optimizers_equal_pytorch);
    RUN_SLOW(gradients_equal_central_differences_in_full_batch);
    RUN_SLOW(gradients_equal_central_differences_in_sampled_batches);
    RUN(gradients_with_rows_of_edges_equal_central_differences);
    RUN(rows_of_edges_in_halves_are_read_exactly);
    RUN(rows_of_edges_that_cannot_be_read_are_refused);
    RUN(gradients_of_one_layer_equal_central_differences);
    RUN(gradients_of_many_rows_equal_central_differences);
    RUN(wide_rows_equal_the_plain_implementation);
    RUN(global_last_hop_and_other_stores_give_the_same_bits);
    RUN(batches_that_come_with_their_rows_give_the_same_bits);
    RUN(half_precision_features_are_read_exactly);
    RUN(layers_over_chunks_are_the_whole_graph_bit_for_bit);
    RUN(evaluation_is_one_pass_over_the_graph_and_transforms_rows_once);
    RUN(sampled_evaluation_has_draws_of_its_own);
    RUN(evaluation_keeps_two_matrices_of_rows_at_most);
    RUN(evaluation_of_more_edges_than_a_block_has_is_an_error_at_its_start);
    RUN(blas_gives_the_same_but_for_rounding);
    RUN(features_without_their_zeros_give_the_same_but_for_rounding);
    RUN(features_of_more_rows_than_are_looked_through_at_once_lose_their_zeros);
    RUN(features_without_their_zeros_are_for_nets_that_only_multiply_them);
    RUN(profile_counts_half_precision_rows_as_they_lie);
    RUN(profile_counts_arithmetic_and_bytes);
    RUN(the_profile_counts_features_without_their_zeros_by_the_half_of_the_step);
    RUN(the_profile_gives_evaluation_the_bytes_that_it_samples_and_gathers);
    RUN_SLOW(any_number_of_threads_gives_the_same_bits);
    RUN(sampled_gcn_is_unbiased);
    RUN(dropout_fields_are_their_definition);
    RUN(dropout_drops_its_share_and_keeps_the_mean);
    RUN(initial_weights_are_glorot_uniform);
    RUN(every_first_weight_is_its_word_of_a_stream);
    RUN(training_reduces_the_loss);
    RUN(real_targets_are_binary_labels_between);
    RUN(loss_is_safe_at_its_ends);
    RUN(a_step_allocates_nothing);
    RUN(creation_survives_any_failing_allocation);
    RUN(creation_refuses_what_it_cannot_build);
    RUN(creation_takes_what_is_within_its_limits_and_nothing_else);
    RUN(importance_without_visits_is_refused);
    folder_remove();
    device_close(cpu);
    return test_finish();
}
