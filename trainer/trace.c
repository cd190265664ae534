#include "ggnn_reference.h" /* first: a name of layers.h is one of its variables */

#include "trainer/trace.h"

#include <inttypes.h>
#include <string.h>

#include "common/memory.h"

enum {
    ROWS = 40, COLUMNS = 8, NEIGHBOURS = 16, /* of a table, at most */
    VALUES = 2560, IDS = 1536                /* of an array of a record, which is then below log.c's TAIL_MAX bytes */
};

static bool runs(const trace* t) { return t->net && t->net->watch == &t->watch; }

static int64_t at_most(int64_t n, int64_t most) { return n < most ? n : most; }

/* ==== matrices ================================================================================================== */

/* Features lie in a store, or without their zeros, where no layer needs them as a matrix. Looking at them is no traffic. */
static const float* row_of(const trace* t, mat x, int64_t i)
{
    net* n = t->net;
    if (x.v && !x.sparse) return x.v + i * x.ld;
    const ggnn_node* id = (x.sparse ? n->whole.batch.blocks.id : x.id) + i;
    const uint32_t dropped = x.sparse ? ggnn_dropout_threshold(n->config.input_dropout) : 0;
    ggnn_store quiet = *n->data.features;
    quiet.traffic = NULL;
    ggnn_gather(t->row, quiet.width, GGNN_F32, &quiet, id, 1);
    const mat row = {.v = t->row, .ld = quiet.width, .cols = quiet.width, .rows = {NULL, 1}};
    if (dropped) n->ops->drop(n, row, id, dropped, 0);
    return t->row;
}

static int32_t nonzeros(const float* row, int32_t cols)
{
    int32_t found = 0;
    for (int32_t j = 0; j < cols; j++) found += row[j] != 0;
    return found;
}

/* Wide rows of few values: features of karate, bags of words. */
static bool are_sparse(const trace* t, mat x)
{
    const int64_t rows = mat_rows(x);
    for (int64_t i = 0, shown = 0; i < rows && shown < ROWS; i++) {
        const int32_t found = nonzeros(row_of(t, x, i), x.cols);
        if (found > COLUMNS) return false;
        shown += found > 0;
    }
    return x.cols > COLUMNS;
}

static void print_row(const float* row, int32_t cols, bool sparse)
{
    for (int32_t j = 0, shown = 0; j < cols && shown < COLUMNS; j++) {
        if (sparse && row[j] == 0) continue;
        if (sparse) printf("  %" PRId32 ":%.5g", j, (double)row[j]);
        else printf(" %11.5g", (double)row[j]);
        shown++;
    }
    printf("\n");
}

static void print_matrix(const trace* t, mat x, const ggnn_node* id)
{
    const bool sparse = are_sparse(t, x);
    const int64_t rows = mat_rows(x);
    int64_t i = 0, zeros = 0;
    printf("%" PRId64 " x %" PRId32 "%s\n", rows, x.cols,
           sparse ? ", as column:value" : x.cols > COLUMNS ? ", its first 8 columns" : "");
    printf("  %9s\n", id ? "node" : "row");
    for (int64_t shown = 0; i < rows && shown < ROWS; i++) {
        const float* row = row_of(t, x, i);
        if (rows > 1 && nonzeros(row, x.cols) == 0) {
            zeros++;
            continue;
        }
        printf("  %9" PRId64 " ", id ? (int64_t)id[i] : i);
        print_row(row, x.cols, sparse);
        shown++;
    }
    if (zeros) printf("  (rows of zeros, left out: %" PRId64 ")\n", zeros);
    if (i < rows) printf("  (%" PRId64 " more rows)\n", rows - i);
}

static bool begin_record(const trace* t, json* j, const char* name)
{
    if (!log_begin(&t->report->log, j, "trace")) return false;
    json_int(j, "step", t->step);
    json_string(j, "name", name);
    return true;
}

static void put_ids(json* j, const char* key, const ggnn_node* id, int64_t n)
{
    json_begin_array(j, key);
    for (int64_t i = 0; i < n && i < IDS; i++) json_int(j, NULL, id[i]);
    json_end_array(j);
}

static void log_matrix(const trace* t, const char* name, mat x, const ggnn_node* id)
{
    const int64_t rows = mat_rows(x), shown = at_most(rows, at_most(x.cols < VALUES ? VALUES / x.cols : 1, IDS));
    json j;
    if (!begin_record(t, &j, name)) return;
    json_int(&j, "rows", rows);
    json_int(&j, "cols", x.cols);
    if (id) put_ids(&j, "id", id, shown);
    json_begin_array(&j, "values");
    for (int64_t i = 0; i < shown; i++) {
        const float* row = row_of(t, x, i);
        json_begin_array(&j, NULL);
        for (int32_t k = 0; k < x.cols && k < VALUES; k++) json_float(&j, NULL, row[k]);
        json_end_array(&j);
    }
    json_end_array(&j);
    log_end(&t->report->log, &j);
}

/* id: the rows' nodes; NULL: they are a parameter's. */
static void show(const trace* t, const char* name, const char* about, mat x, const ggnn_node* id)
{
    printf("\n%s%s%s: ", name, *about ? ", " : "", about);
    print_matrix(t, x, id);
    log_matrix(t, name, x, id);
}

/* The matrix `name` of layer l: h1, dh1, ... */
static void show_of(const trace* t, const char* name, int32_t number, const char* about, const layer* y, mat x)
{
    char full[32], long_about[80];
    snprintf(full, sizeof full, "%s%" PRId32, name, number);
    snprintf(long_about, sizeof long_about, "%s layer %" PRId32, about, y->index);
    show(t, full, long_about, x, y->id);
}

/* ==== the batch ================================================================================================= */

static void print_list(const ggnn_block* b, int64_t v, bool weighted)
{
    const int64_t begin = b->indptr[v], end = b->indptr[v + 1], shown = at_most(end - begin, NEIGHBOURS);
    printf("  %5" PRId64 " %9" PRId64 " ", v, (int64_t)b->id[v]);
    for (int64_t e = begin; e < begin + shown; e++) {
        printf(" %" PRId64 "(%" PRId32 ")", (int64_t)b->id[b->indices[e]], b->indices[e]);
        if (weighted) printf("*%g", (double)b->weight[e]);
    }
    if (begin + shown < end) printf(" and %" PRId64 " more", end - begin - shown);
    printf("\n");
}

static void print_hop(const ggnn_block* b, int32_t h, int32_t l, bool weighted)
{
    const int64_t targets = *b->num_dst.n;
    printf("\nhop %" PRId32 ", the block of layer %" PRId32 ": %" PRId64 " targets, %" PRId64 " sources, %" PRId64 " edges\n", h, l,
           targets, *b->num_src.n, *b->num_edges.n);
    printf("  local      node  neighbours: node(local)%s\n", weighted ? "*visits" : "");
    for (int64_t v = 0; v < targets && v < ROWS; v++) print_list(b, v, weighted);
    if (targets > ROWS) printf("  (%" PRId64 " more targets)\n", targets - ROWS);
}

static void log_hop(const trace* t, const ggnn_block* b, int32_t h, int32_t l, bool weighted)
{
    const int64_t edges = *b->num_edges.n;
    char name[16];
    json j;
    snprintf(name, sizeof name, "hop%" PRId32, h);
    if (!begin_record(t, &j, name)) return;
    json_int(&j, "layer", l);
    json_int(&j, "targets", *b->num_dst.n);
    json_int(&j, "sources", *b->num_src.n);
    json_int(&j, "edges", edges);
    put_ids(&j, "id", b->id, *b->num_src.n);
    json_begin_array(&j, "indptr");
    for (int64_t v = 0; v <= *b->num_dst.n && v < IDS; v++) json_int(&j, NULL, b->indptr[v]);
    json_end_array(&j);
    json_begin_array(&j, "indices");
    for (int64_t e = 0; e < edges && e < IDS; e++) json_int(&j, NULL, b->indices[e]);
    json_end_array(&j);
    if (weighted) json_begin_array(&j, "weight");
    for (int64_t e = 0; weighted && e < edges && e < IDS; e++) json_float(&j, NULL, b->weight[e]);
    if (weighted) json_end_array(&j);
    log_end(&t->report->log, &j);
}

/* A whole graph has one block for all layers. */
static void show_batch(const trace* t)
{
    const net* n = t->net;
    const ggnn_batch* b = &n->batch->blocks;
    const int32_t hops = n->config.full_batch ? 1 : b->num_hops;
    const bool weighted = net_has(n->config.model, n->config.aggregator, NET_VISITS);
    printf("\nstep %" PRId64 ": epoch %" PRId64 ", mini-batch %" PRId64 " of %" PRId64 "\n", t->step, t->epoch, t->batch, t->batches);
    for (int32_t h = 0; h < hops; h++) {
        const int32_t l = b->num_hops - 1 - h;
        print_hop(&b->hop[h], h, l, weighted);
        log_hop(t, &b->hop[h], h, l, weighted);
    }
    if (hops < b->num_hops) printf("  (and of every other layer)\n");
}

/* ==== forward =================================================================================================== */

/* Entry 0 of target v is v itself, entry i its i-th neighbour. With attention dropout it is what is left of it. */
static double alpha(const ggnn_gat_layer* y, int64_t v, int64_t i, int64_t k)
{
    return (double)(ggnn_exp2(ggnn_ref_logit(y, v, i, k) - y->lse[v * y->heads + k]) * ggnn_ref_kept(y, v, i, k));
}

static void print_alpha(const ggnn_gat_layer* y, int64_t v)
{
    const ggnn_block* b = y->block;
    const int64_t entries = 1 + b->indptr[v + 1] - b->indptr[v], shown = at_most(entries, COLUMNS);
    printf("  %9" PRId64 "  from:", (int64_t)b->id[v]);
    for (int64_t i = 0; i < shown; i++) printf(" %11" PRId64, (int64_t)b->id[i ? b->indices[b->indptr[v] + i - 1] : v]);
    if (shown < entries) printf(" and %" PRId64 " more", entries - shown);
    printf("\n");
    for (int32_t k = 0; k < y->heads; k++) {
        printf("     head %3" PRId32 "       ", k);
        for (int64_t i = 0; i < shown; i++) printf(" %11.5g", alpha(y, v, i, k));
        printf("\n");
    }
}

/* As many targets, with all their entries, as there is room for. */
static void log_alpha(const trace* t, const char* name, const ggnn_gat_layer* y)
{
    const ggnn_block* b = y->block;
    json j;
    if (!begin_record(t, &j, name)) return;
    json_int(&j, "rows", *b->num_dst.n);
    json_int(&j, "heads", y->heads);
    json_begin_array(&j, "values");
    for (int64_t v = 0; v < *b->num_dst.n && (v + 1 + b->indptr[v + 1]) * y->heads <= VALUES; v++) {
        json_begin_array(&j, NULL);
        for (int32_t k = 0; k < y->heads; k++) {
            json_begin_array(&j, NULL);
            for (int64_t i = 0; i <= b->indptr[v + 1] - b->indptr[v]; i++) json_float(&j, NULL, (float)alpha(y, v, i, k));
            json_end_array(&j);
        }
        json_end_array(&j);
    }
    json_end_array(&j);
    log_end(&t->report->log, &j);
}

static void show_attention(const trace* t, const layer* y)
{
    const attention* at = &y->att;
    const ggnn_gat_layer of = {.block = y->block, .el = at->el, .er = at->er, .lse = at->lse, .heads = at->heads, .how = at->how};
    const int64_t targets = *y->block->num_dst.n;
    mat scores = {.v = at->el, .ld = at->heads, .cols = at->heads, .rows = y->block->num_src};
    char name[16];
    show_of(t, "el", y->index, "scores of the sources of", y, scores);
    scores.v = at->er;
    show_of(t, "er", y->index, "scores of the targets of", y, mat_head(scores, y->block->num_dst));
    snprintf(name, sizeof name, "alpha%" PRId32, y->index);
    printf("\n%s, attention of layer %" PRId32 ": each target's, to itself and to its neighbours\n", name, y->index);
    for (int64_t v = 0; v < targets && v < ROWS; v++) print_alpha(&of, v);
    if (targets > ROWS) printf("  (%" PRId64 " more targets)\n", targets - ROWS);
    log_alpha(t, name, &of);
}

/* Does y multiply what it gathered by weights? Else it multiplies first, or there is nothing to gather. */
static bool gathers(const net* n, const layer* y)
{
    return !net_has(n->config.model, n->config.aggregator, NET_ALONE) && !y->transform_first && !(n->config.preprocessed && y->index == 0);
}

static void show_forward(void* context, net* n, const layer* y)
{
    const trace* t = context;
    if (y->index == 0) {
        show_batch(t);
        show_of(t, "h", 0, "features, the input of", y, y->x);
    }
    if (y->model->transform || y->transform_first)
        show_of(t, "z", y->index, "sources transformed in", y, mat_head(y->z, y->block->num_src));
    if (y->att.heads) show_attention(t, y);
    if (gathers(n, y))
        show_of(t, "a", y->index, y->a.cols > y->in && !y->att.heads ? "own row, then the neighbours', gathered by" : "gathered by", y,
                mat_head(y->a, y->block->num_dst));
    show_of(t, "h", y->index + 1, "output of", y, y->h);
}

/* ==== loss, backward, update ==================================================================================== */

static double label_of(const net_labels* labels, ggnn_node v)
{
    return labels->label ? (double)labels->label[v] : (double)labels->target[v];
}

/* Labels and losses of the labelled seeds; the table has the first. */
static void put_losses(const trace* t, json* j, const layer* last)
{
    const net* n = t->net;
    const net_labels* labels = &n->data.labels;
    double loss;
    json_begin_array(j, "seeds");
    for (int64_t v = 0, found = 0; v < mat_rows(last->h) && found < IDS; v++) {
        if (!net_row_loss(&loss, row_of(t, last->h, v), last->out, labels, last->id[v])) continue;
        json_begin_array(j, NULL);
        json_int(j, NULL, last->id[v]);
        json_real(j, NULL, label_of(labels, last->id[v]));
        json_real(j, NULL, loss);
        json_end_array(j);
        found++;
    }
    json_end_array(j);
}

static void show_loss(const trace* t, const layer* last)
{
    const net* n = t->net;
    const double mean = n->sums->known ? n->sums->loss / (double)n->sums->known : 0;
    double loss;
    json j;
    printf("\nloss: %.9g, the mean over %" PRId64 " labelled seeds\n  %9s %9s %11s\n", mean, n->sums->known, "node", "label", "loss");
    for (int64_t v = 0, found = 0; v < mat_rows(last->h) && found < ROWS; v++) {
        if (!net_row_loss(&loss, row_of(t, last->h, v), last->out, &n->data.labels, last->id[v])) continue;
        printf("  %9" PRId64 " %9g %11.5g\n", (int64_t)last->id[v], label_of(&n->data.labels, last->id[v]), loss);
        found++;
    }
    if (n->sums->known > ROWS) printf("  (%" PRId64 " more seeds)\n", n->sums->known - ROWS);
    if (!begin_record(t, &j, "loss")) return;
    json_int(&j, "epoch", t->epoch);
    json_int(&j, "batch", t->batch);
    json_real(&j, "loss", mean);
    json_int(&j, "known", n->sums->known);
    put_losses(t, &j, last);
    log_end(&t->report->log, &j);
}

static void show_backward(void* context, net* n, const layer* y, mat dout)
{
    const trace* t = context;
    (void)n;
    if (y->last) show_loss(t, y);
    show_of(t, "dh", y->index + 1, "gradient of the output of", y, dout);
}

static void show_after_backward(void* context, net* n, const layer* y)
{
    const trace* t = context;
    const attention* at = &y->att;
    const mat sources = {.v = at->del, .ld = at->heads, .cols = at->heads, .rows = y->block->num_src};
    const mat targets = {.v = at->der, .ld = at->heads, .cols = at->heads, .rows = y->block->num_dst};
    (void)n;
    if (!at->heads) return;
    show_of(t, "del", y->index, "gradient of the scores of the sources of", y, sources);
    show_of(t, "der", y->index, "gradient of the scores of the targets of", y, targets);
    show_of(t, "dz", y->index, "gradient of the sources transformed in", y, mat_head(y->dz, y->block->num_src));
}

static void show_parameter(const trace* t, const char* before, const net_param* p, const float* all)
{
    const mat x = {.v = (float*)(uintptr_t)(all + p->offset), .ld = p->cols, .cols = p->cols, .rows = {NULL, p->rows}};
    char name[32];
    snprintf(name, sizeof name, "%s%s", before, p->name);
    show(t, name, "", x, NULL);
}

/* ==== the step ================================================================================================== */

bool trace_open(trace* t, const config* c, report* r, net* n, int64_t batches, error* why)
{
    memset(t, 0, sizeof *t);
    if (!c->trace_step || !r) return true;
    if (c->trace_step > c->epochs * batches)
        return error_set(why, "--trace-step %" PRId64 ": the training has %" PRId64 " steps, %" PRId64 " mini-batches in each of %" PRId64
                         " epochs", c->trace_step, c->epochs * batches, batches, c->epochs);
    t->row = memory_new((size_t)n->data.features->width * sizeof *t->row, "a row of features", why);
    if (!t->row) return false;
    t->before = memory_new(memory_product((size_t)n->state.count, sizeof *t->before, 1), "parameters before an update", why);
    if (!t->before) return false;
    t->report = r;
    t->net = n;
    t->step = c->trace_step;
    t->batches = batches;
    t->watch = (net_watch){show_forward, show_backward, show_after_backward, t};
    return true;
}

void trace_close(trace* t)
{
    memory_free(t->row);
    memory_free(t->before);
    memset(t, 0, sizeof *t);
}

void trace_begin(trace* t, const train_state* at)
{
    if (at->step + 1 != t->step) return;
    t->epoch = at->epoch + 1;
    t->batch = at->batch + 1;
    t->net->watch = &t->watch;
    report_make_room(t->report);
}

void trace_gradients(trace* t)
{
    if (!runs(t)) return;
    const net* n = t->net;
    for (int32_t i = 0; i < n->num_params; i++) {
        show_parameter(t, "", &n->param[i], n->state.value);
        show_parameter(t, "d", &n->param[i], n->state.grad);
    }
    memcpy(t->before, n->state.value, (size_t)n->state.count * sizeof *t->before);
}

void trace_end(trace* t, float rate)
{
    if (!runs(t)) return;
    const net* n = t->net;
    printf("\nupdate %" PRId64 " of %s, learning rate %g\n", n->updates, n->config.optimizer == NET_ADAM ? "Adam" : "AdamW", (double)rate);
    for (int64_t i = 0; i < n->state.count; i++) t->before[i] = n->state.value[i] - t->before[i];
    for (int32_t i = 0; i < n->num_params; i++) show_parameter(t, "change of ", &n->param[i], t->before);
    t->net->watch = NULL;
    printf("\n");
}
