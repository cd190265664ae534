/* ggnn-train --trace-step: are the numbers that it prints those of the step? Each layer's rows, the loss, all gradients and the update
   are computed again here, in double precision and plain loops, from the arrays that come before them. */
#include "tests/train_tool.h"

/* ==== the log's arrays ========================================================================================== */

enum { LAYERS = 2, NODES = 34, MOST = 3 * 1600 };
typedef struct {
    int rows, cols;
    double v[MOST];
} matrix;

static char* log_text;

static void read_trace(const char* path)
{
    FILE* f = fopen(path, "rb");
    const int64_t bytes = file_bytes(path);
    log_text = realloc(log_text, (size_t)bytes + 1);
    log_text[f ? fread(log_text, 1, (size_t)bytes, f) : 0] = 0;
    if (f) fclose(f);
}

/* The record of an array, from its name on; empty where there is none, which fails. */
static const char* find(const char* name)
{
    char pattern[80];
    snprintf(pattern, sizeof pattern, ",\"name\":\"%s\",", name);
    const char* at = strstr(log_text, pattern);
    if (!CHECK(at != NULL)) printf("  no record of %s\n", name);
    return at ? at : "";
}

/* All numbers of an array, whatever it nests; returns how many. */
static int numbers(const char* record, const char* key, double* to)
{
    char pattern[40];
    int found = 0, depth = 0;
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    const char* at = strstr(record, pattern);
    if (!at) return 0;
    for (at += strlen(pattern) - 1; found < MOST;) {
        depth += (*at == '[') - (*at == ']');
        if (!depth) break;
        if (strchr("[],", *at)) at++;
        else to[found++] = strtod(at, (char**)(uintptr_t)&at);
    }
    return found;
}

static matrix* array(const char* before, const char* name, int layer)
{
    static matrix all[16];
    static int next;
    matrix* a = &all[next++ % 16];
    char full[64];
    snprintf(full, sizeof full, "%s%s%d", before, name, layer);
    const char* record = find(full);
    memset(a, 0, sizeof *a);
    if (!*record) return a;
    a->rows = (int)number(record, "rows");
    a->cols = (int)number(record, "cols");
    CHECK_EQ(numbers(record, "values", a->v), a->rows * a->cols);
    return a;
}

static double at(const matrix* a, int i, int j) { return a->v[i * a->cols + j]; }

static bool near(const char* name, int layer, const matrix* is, const matrix* should)
{
    bool same = CHECK_EQ(is->rows, should->rows) && CHECK_EQ(is->cols, should->cols);
    for (int i = 0; same && i < is->rows * is->cols; i++)
        same = CHECK_NEAR(is->v[i], should->v[i], 1e-7 + 3e-6 * fabs(should->v[i]));
    if (!same) printf("  %s%d\n", name, layer);
    return same;
}

/* ==== a layer again ============================================================================================= */

typedef struct {
    int targets, sources, indptr[MOST], list[MOST], id[MOST];
} block;

static void to_ints(int* to, const char* record, const char* key)
{
    double v[MOST];
    const int n = numbers(record, key, v);
    for (int i = 0; i < n; i++) to[i] = (int)v[i];
}

static void read_block(block* b, int hop)
{
    char name[16];
    snprintf(name, sizeof name, "hop%d", hop);
    const char* record = find(name);
    if (!*record) return;
    b->targets = (int)number(record, "targets");
    b->sources = (int)number(record, "sources");
    to_ints(b->indptr, record, "indptr");
    to_ints(b->list, record, "indices");
    to_ints(b->id, record, "id");
}

static matrix product(const matrix* a, bool transposed, const matrix* b, bool b_transposed)
{
    matrix c = {.rows = transposed ? a->cols : a->rows, .cols = b_transposed ? b->rows : b->cols};
    const int inner = transposed ? a->rows : a->cols;
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++)
            for (int k = 0; k < inner; k++)
                c.v[i * c.cols + j] += (transposed ? at(a, k, i) : at(a, i, k)) * (b_transposed ? at(b, j, k) : at(b, k, j));
    return c;
}

static double degree[NODES];
static int label[NODES];

/* What each source gives to each target of a linear aggregation, besides GraphSAGE's own row. */
static matrix coefficients(const block* b, bool gcn)
{
    matrix a = {.rows = b->targets, .cols = b->sources};
    for (int v = 0; v < b->targets; v++) {
        const int n = b->indptr[v + 1] - b->indptr[v];
        const double whole = degree[b->id[v]];
        if (gcn) a.v[v * a.cols + v] = 1 / (whole + 1);
        for (int e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            a.v[v * a.cols + b->list[e]] += gcn ? whole / n / sqrt((whole + 1) * (degree[b->id[b->list[e]]] + 1)) : 1.0 / n;
    }
    return a;
}

/* The rows of b beneath those of a, or beside them. */
static matrix joined(const matrix* a, const matrix* b, bool beside)
{
    matrix c = {.rows = beside ? a->rows : a->rows + b->rows, .cols = beside ? a->cols + b->cols : a->cols};
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++)
            c.v[i * c.cols + j] = beside ? (j < a->cols ? at(a, i, j) : at(b, i, j - a->cols)) : i < a->rows ? at(a, i, j) : at(b, i - a->rows, j);
    return c;
}

typedef struct { /* a layer's arrays as printed, and d, the gradient of its linear part */
    int l;
    block b;
    matrix *x, *y, d;
} step;

static void check_output(const step* s, const matrix* linear, bool elu)
{
    const matrix* bias = array("", "b", s->l);
    matrix y = *linear;
    for (int i = 0; i < y.rows * y.cols; i++) {
        const double value = y.v[i] + bias->v[i % y.cols];
        y.v[i] = value > 0 || s->l == LAYERS - 1 ? value : elu ? expm1(value) : 0;
    }
    near("h", s->l + 1, s->y, &y);
}

/* By the printed output and its gradient; and what the bias gets of it. */
static void set_gradient(step* s, bool elu)
{
    matrix bias = {.rows = 1, .cols = s->y->cols};
    s->d = *array("d", "h", s->l + 1);
    for (int i = 0; i < s->d.rows * s->d.cols; i++) {
        const double y = s->y->v[i];
        if (s->l < LAYERS - 1 && !(y > 0)) s->d.v[i] *= elu ? y + 1 : 0;
        bias.v[i % s->d.cols] += s->d.v[i];
    }
    near("db", s->l, array("d", "b", s->l), &bias);
}

/* out = a w: its gradients; of x where there is one, by `back`, what a's rows take of x's. own: GraphSAGE's. */
static void check_linear(const step* s, const matrix* a, const matrix* w, const matrix* dw, const matrix* back, bool own)
{
    const matrix should = product(a, true, &s->d, false), da = product(&s->d, false, w, true);
    near("dw", s->l, dw, &should);
    if (s->l == 0) return;
    matrix part = da, dx;
    if (own)
        for (int i = 0; i < da.rows; i++)
            memmove(part.v + i * s->x->cols, da.v + i * da.cols + s->x->cols, (size_t)s->x->cols * sizeof *part.v);
    part.cols = s->x->cols;
    dx = product(back, true, &part, false);
    for (int i = 0; own && i < da.rows; i++)
        for (int j = 0; j < dx.cols; j++) dx.v[i * dx.cols + j] += at(&da, i, j);
    near("dh", s->l, array("d", "h", s->l), &dx);
}

/* GraphSAGE's, by what each source gives to each target of the mean. */
static void check_mean(step* s, const matrix* back)
{
    const matrix mean = product(back, false, s->x, false);
    const matrix w = joined(array("", "w_self", s->l), array("", "w_neigh", s->l), false);
    matrix own = *s->x;
    own.rows = s->b.targets;
    const matrix a = joined(&own, &mean, true), out = product(&a, false, &w, false);
    const matrix dw = joined(array("d", "w_self", s->l), array("d", "w_neigh", s->l), false);
    near("a", s->l, array("", "a", s->l), &a);
    check_output(s, &out, false);
    set_gradient(s, false);
    check_linear(s, &a, &w, &dw, back, true);
}

static void check_sage(step* s)
{
    const matrix back = coefficients(&s->b, false);
    check_mean(s, &back);
}

/* A sum of sources, then a product: GCN's. */
static void check_sums(step* s, const matrix* back)
{
    const matrix a = product(back, false, s->x, false);
    const matrix *w = array("", "w", s->l), out = product(&a, false, w, false);
    near("a", s->l, array("", "a", s->l), &a);
    check_output(s, &out, false);
    set_gradient(s, false);
    check_linear(s, &a, w, array("d", "w", s->l), back, false);
}

static void check_gcn(step* s)
{
    const matrix back = coefficients(&s->b, true);
    check_sums(s, &back);
}

/* e[u,k] = z[u, head k] . a[k,:] */
static matrix scores(const matrix* z, const matrix* a, int rows)
{
    matrix e = {.rows = rows, .cols = a->rows};
    for (int u = 0; u < rows; u++)
        for (int k = 0; k < a->rows; k++)
            for (int j = 0; j < a->cols; j++) e.v[u * e.cols + k] += at(z, u, k * a->cols + j) * at(a, k, j);
    return e;
}

static int source(const block* b, int v, int entry) { return entry ? b->list[b->indptr[v] + entry - 1] : v; }

/* alpha, by (v + indptr[v] + entry) * heads + head. */
static void attention_of(double* alpha, const block* b, const matrix* el, const matrix* er)
{
    const int heads = el->cols;
    for (int v = 0; v < b->targets; v++)
        for (int k = 0; k < heads; k++) {
            const int begin = v + b->indptr[v], n = 1 + b->indptr[v + 1] - b->indptr[v];
            double sum = 0;
            for (int i = 0; i < n; i++) {
                const double logit = at(el, source(b, v, i), k) + at(er, v, k);
                sum += alpha[(begin + i) * heads + k] = exp(logit > 0 ? logit : .2 * logit);
            }
            for (int i = 0; i < n; i++) alpha[(begin + i) * heads + k] /= sum;
        }
}

static void check_alpha(const double* alpha, const block* b, int l, int heads)
{
    static double printed[MOST];
    char name[16];
    int next = 0;
    snprintf(name, sizeof name, "alpha%d", l);
    CHECK_EQ(numbers(find(name), "values", printed), (b->targets + b->indptr[b->targets]) * heads);
    for (int v = 0; v < b->targets; v++)
        for (int k = 0; k < heads; k++)
            for (int i = 0; i <= b->indptr[v + 1] - b->indptr[v]; i++, next++)
                CHECK_NEAR(printed[next], alpha[(v + b->indptr[v] + i) * heads + k], 1e-6);
}

/* Of da, the gradient of what the targets gather: dz, del and der. */
static void attention_back(matrix* dz, matrix* del, matrix* der, const step* s, const double* alpha, const matrix* z, const matrix* da,
                           const matrix* el, const matrix* er)
{
    const block* b = &s->b;
    const int heads = el->cols, wide = z->cols / heads;
    for (int v = 0; v < b->targets; v++)
        for (int k = 0; k < heads; k++) {
            const int begin = v + b->indptr[v], n = 1 + b->indptr[v + 1] - b->indptr[v];
            double dot[NODES] = {0}, mean = 0;
            for (int i = 0; i < n; i++) {
                const double part = alpha[(begin + i) * heads + k];
                for (int j = k * wide; j < (k + 1) * wide; j++) {
                    dot[i] += at(da, v, j) * at(z, source(b, v, i), j);
                    dz->v[source(b, v, i) * z->cols + j] += part * at(da, v, j);
                }
                mean += part * dot[i];
            }
            for (int i = 0; i < n; i++) {
                const double d = alpha[(begin + i) * heads + k] * (dot[i] - mean) * (at(el, source(b, v, i), k) + at(er, v, k) > 0 ? 1 : .2);
                del->v[source(b, v, i) * heads + k] += d;
                der->v[v * heads + k] += d;
            }
        }
}

/* dz += de a of z's first rows; da = de' z, which is printed. */
static void scores_back(matrix* dz, const matrix* de, const matrix* z, const char* name, int l)
{
    const matrix* a = array("", name, l);
    matrix da = {.rows = a->rows, .cols = a->cols};
    for (int u = 0; u < de->rows; u++)
        for (int j = 0; j < z->cols; j++) {
            dz->v[u * z->cols + j] += at(de, u, j / a->cols) * a->v[j];
            da.v[j] += at(de, u, j / a->cols) * at(z, u, j);
        }
    near(name, l, array("d", name, l), &da);
}

static void check_gat(step* s)
{
    static double alpha[MOST];
    const block* b = &s->b;
    const matrix *w = array("", "w", s->l), *a_l = array("", "a_l", s->l), *a_r = array("", "a_r", s->l);
    const matrix z = product(s->x, false, w, false);
    const matrix el = scores(&z, a_l, b->sources), er = scores(&z, a_r, b->targets);
    const int heads = a_l->rows, out_cols = s->y->cols, last = s->l == LAYERS - 1;
    matrix a = {.rows = b->targets, .cols = z.cols}, out = {.rows = b->targets, .cols = out_cols}, da = a;
    near("z", s->l, array("", "z", s->l), &z);
    near("el", s->l, array("", "el", s->l), &el);
    near("er", s->l, array("", "er", s->l), &er);
    attention_of(alpha, b, &el, &er);
    check_alpha(alpha, b, s->l, heads);
    for (int v = 0; v < b->targets; v++)
        for (int j = 0; j < z.cols; j++) {
            for (int i = 0; i <= b->indptr[v + 1] - b->indptr[v]; i++)
                a.v[v * a.cols + j] += alpha[(v + b->indptr[v] + i) * heads + j / a_l->cols] * at(&z, source(b, v, i), j);
            out.v[v * out_cols + j % out_cols] += at(&a, v, j) / (last ? heads : 1);
        }
    near("a", s->l, array("", "a", s->l), &a);
    check_output(s, &out, true);
    set_gradient(s, true);
    matrix dz = {.rows = b->sources, .cols = z.cols}, del = {.rows = b->sources, .cols = heads}, der = {.rows = b->targets, .cols = heads};
    for (int i = 0; i < da.rows * da.cols; i++) da.v[i] = at(&s->d, i / da.cols, i % da.cols % out_cols) / (last ? heads : 1);
    attention_back(&dz, &del, &der, s, alpha, &z, &da, &el, &er);
    scores_back(&dz, &del, &z, "a_l", s->l);
    scores_back(&dz, &der, &z, "a_r", s->l);
    const matrix dw = product(s->x, true, &dz, false), dx = product(&dz, false, w, true);
    near("del", s->l, array("d", "el", s->l), &del);
    near("der", s->l, array("d", "er", s->l), &der);
    near("dz", s->l, array("d", "z", s->l), &dz);
    near("dw", s->l, array("d", "w", s->l), &dw);
    if (s->l) near("dh", s->l, array("d", "h", s->l), &dx);
}

/* Of all coefficients some are zeros, the rest are doubled; what is gathered is made of these. */
TEST(coefficients_are_those_that_dropout_left)
{
    static double alpha[MOST];
    static block b;
    int zeros = 0;
    CHECK_EQ(train("--data karate.ggnn --model gat --layers 2 --hidden 4 --heads 2 --fanout 3,2 --attention-dropout .5 --epochs 1 --log a --trace-step 1"), 0);
    read_trace("a");
    read_block(&b, 1);
    const matrix* z = array("", "z", 0);
    matrix a = {.rows = b.targets, .cols = 4};
    const int all = numbers(find("alpha0"), "values", alpha);
    for (int v = 0, next = 0; v < b.targets; v++)
        for (int k = 0; k < 2; k++)
            for (int i = 0; i <= b.indptr[v + 1] - b.indptr[v]; i++, next++) {
                zeros += alpha[next] == 0;
                for (int j = 2 * k; j < 2 * k + 2; j++) a.v[v * 4 + j] += alpha[next] * at(z, source(&b, v, i), j);
            }
    CHECK(zeros > all / 4 && zeros < all * 3 / 4);
    near("a", 0, array("", "a", 0), &a);
}

/* Cross-entropy, or with one column binary; and its gradient. */
static void check_loss(void)
{
    static block seeds;
    const matrix* x = array("", "h", LAYERS);
    matrix d = *x;
    double printed[MOST], mean = 0;
    const char* record = find("loss");
    read_block(&seeds, 0);
    CHECK_EQ(numbers(record, "seeds", printed), 3 * x->rows);
    for (int v = 0; v < x->rows; v++) {
        const int is = label[seeds.id[v]];
        double sum = x->cols == 1 ? 1 : 0, loss;
        for (int j = 0; j < x->cols; j++) sum += exp(at(x, v, j));
        for (int j = 0; j < x->cols; j++) d.v[v * x->cols + j] = (exp(at(x, v, j)) / sum - (x->cols == 1 ? is : is == j)) / x->rows;
        loss = log(sum) - (x->cols == 1 ? is * at(x, v, 0) : at(x, v, is));
        mean += loss / x->rows;
        CHECK(printed[3 * v] == seeds.id[v] && printed[3 * v + 1] == is);
        CHECK_NEAR(printed[3 * v + 2], loss, 1e-6);
    }
    CHECK_EQ(number(record, "known"), x->rows);
    CHECK_NEAR(number(record, "loss"), mean, 1e-6);
    near("dh", LAYERS, array("d", "h", LAYERS), &d);
}

static void check_features(const step* s)
{
    for (int i = 0; i < s->x->rows; i++)
        for (int j = 0; j < NODES; j++) CHECK(at(s->x, i, j) == (j == s->b.id[i])); /* karate's are the identity */
}

static void check_step(const char* options, void (*check)(step*))
{
    static step s;
    CHECK_EQ(trainf("--data karate.ggnn --layers 2 --hidden 4 --dropout 0 --batch 2 --epochs 3 --log a --trace-step 2 %s", options), 0);
    read_trace("a");
    for (s.l = 0; s.l < LAYERS; s.l++) {
        read_block(&s.b, LAYERS - 1 - s.l);
        s.x = array("", "h", s.l);
        CHECK_EQ(s.x->rows, s.b.sources);
        if (s.l == 0) check_features(&s);
        s.y = array("", "h", s.l + 1);
        step now = s;
        const matrix x = *s.x, y = *s.y; /* array() has few places */
        now.x = (matrix*)(uintptr_t)&x;
        now.y = (matrix*)(uintptr_t)&y;
        check(&now);
    }
    check_loss();
    const char* features = strstr(log_text, "\"name\":\"h0\"");
    CHECK(features && !strstr(features + 1, "\"name\":\"h0\"")); /* no other step's */
    if (test_errors) printf("  %s\n", options);
}

TEST(a_step_of_graphsage_is_the_one_computed_in_plain_loops)
{
    check_step("--model sage --fanout 3,2", check_sage);
    check_step("--model sage --fanout -1,4 --loss ce", check_sage);
}

TEST(a_step_of_gcn_is_the_one_computed_in_plain_loops)
{
    check_step("--model gcn --fanout 3,2", check_gcn);
    check_step("--model gcn --fanout -1,5 --loss ce --seed 4", check_gcn);
}

TEST(a_step_of_gat_is_the_one_computed_in_plain_loops)
{
    check_step("--model gat --heads 2 --fanout 3,2", check_gat);
    check_step("--model gat --heads 4 --out-heads 3 --fanout 9,2 --loss ce", check_gat);
}

/* ==== the other models ========================================================================================== */

/* Visits of a list over their sum; of PinSAGE's aggregator. */
static void check_importance(step* s)
{
    double weight[MOST];
    char name[16];
    snprintf(name, sizeof name, "hop%d", LAYERS - 1 - s->l);
    matrix back = {.rows = s->b.targets, .cols = s->b.sources};
    CHECK_EQ(numbers(find(name), "weight", weight), s->b.indptr[s->b.targets]);
    for (int v = 0; v < s->b.targets; v++) {
        double sum = 0;
        for (int e = s->b.indptr[v]; e < s->b.indptr[v + 1]; e++) sum += weight[e];
        for (int e = s->b.indptr[v]; e < s->b.indptr[v + 1]; e++) back.v[v * back.cols + s->b.list[e]] += weight[e] / sum;
    }
    check_mean(s, &back);
}

/* Its own row is one of a node's neighbours. */
static void check_sage_gcn(step* s)
{
    matrix back = {.rows = s->b.targets, .cols = s->b.sources};
    for (int v = 0; v < s->b.targets; v++) {
        const double part = 1. / (1 + s->b.indptr[v + 1] - s->b.indptr[v]);
        back.v[v * back.cols + v] += part;
        for (int e = s->b.indptr[v]; e < s->b.indptr[v + 1]; e++) back.v[v * back.cols + s->b.list[e]] += part;
    }
    check_sums(s, &back);
}

static void check_mlp(step* s)
{
    const matrix *w = array("", "w", s->l), out = product(s->x, false, w, false);
    matrix back = {.rows = s->b.targets, .cols = s->b.sources};
    for (int v = 0; v < s->b.targets; v++) back.v[v * back.cols + v] = 1;
    CHECK(s->b.targets == s->b.sources && s->b.indptr[s->b.targets] == 0);
    check_output(s, &out, false);
    set_gradient(s, false);
    check_linear(s, s->x, w, array("d", "w", s->l), &back, false);
}

/* a = [x_v | max of z], z = relu(x W_pool + b_pool); the gradient of a maximum goes to where it was found. */
static void check_pool(step* s)
{
    const block* b = &s->b;
    const matrix w_pool = *array("", "w_pool", s->l), b_pool = *array("", "b_pool", s->l);
    const matrix w = joined(array("", "w_self", s->l), array("", "w_neigh", s->l), false), dw = joined(array("d", "w_self", s->l), array("d", "w_neigh", s->l), false);
    matrix z = product(s->x, false, &w_pool, false), own = *s->x, most = {.rows = b->targets, .cols = s->x->cols};
    for (int i = 0; i < z.rows * z.cols; i++) z.v[i] = fmax(0, z.v[i] + b_pool.v[i % z.cols]);
    near("z", s->l, array("", "z", s->l), &z);
    for (int v = 0; v < b->targets; v++)
        for (int e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            for (int j = 0; j < z.cols; j++) most.v[v * z.cols + j] = fmax(most.v[v * z.cols + j], at(&z, b->list[e], j));
    own.rows = b->targets;
    const matrix a = joined(&own, &most, true), out = product(&a, false, &w, false);
    near("a", s->l, array("", "a", s->l), &a);
    check_output(s, &out, false);
    set_gradient(s, false);
    const matrix da = product(&s->d, false, &w, true), gradient = product(&a, true, &s->d, false);
    near("dw", s->l, &dw, &gradient);
    matrix dz = {.rows = b->sources, .cols = z.cols}, bias = {.rows = 1, .cols = z.cols};
    for (int v = 0; v < b->targets; v++)
        for (int j = 0; j < z.cols; j++) {
            int e = b->indptr[v];
            while (e < b->indptr[v + 1] && at(&z, b->list[e], j) < at(&most, v, j)) e++;
            if (at(&most, v, j) > 0) dz.v[b->list[e] * z.cols + j] += at(&da, v, z.cols + j);
            if (at(&most, v, j) > 0) bias.v[j] += at(&da, v, z.cols + j);
        }
    const matrix dw_pool = product(s->x, true, &dz, false);
    near("dw_pool", s->l, array("d", "w_pool", s->l), &dw_pool);
    near("db_pool", s->l, array("d", "b_pool", s->l), &bias);
    if (s->l == 0) return;
    matrix dx = product(&dz, false, &w_pool, true);
    for (int i = 0; i < da.rows; i++)
        for (int j = 0; j < dx.cols; j++) dx.v[i * dx.cols + j] += at(&da, i, j);
    near("dh", s->l, array("d", "h", s->l), &dx);
}

TEST(a_step_of_the_other_models_is_the_one_computed_in_plain_loops)
{
    check_step("--aggregator importance --fanout 4,3", check_importance);
    check_step("--aggregator importance --fanout 9,5 --walks 20 --walk-length 2 --loss ce", check_importance);
    check_step("--aggregator gcn --fanout 3,2 --loss ce", check_sage_gcn);
    check_step("--aggregator pool --fanout 3,2", check_pool);
    check_step("--aggregator pool --fanout -1,4 --loss ce --seed 3", check_pool);
    check_step("--model mlp --fanout 3,2 --loss ce", check_mlp);
}

/* All that is learnt is there, and Adam's first step takes each number down its own gradient. */
TEST(each_parameter_has_its_gradient_and_its_change)
{
    static const struct {
        const char *options, *name[14];
        int rows[14], cols[14];
    } model[] = {
        {"--model gcn --norm layer --residual", {"w0", "b0", "w_res0", "gamma0", "beta0", "w1", "b1", "w_res1"}, {34, 1, 34, 1, 1, 6, 1, 6}, {6, 6, 6, 6, 6, 2, 2, 2}},
        {"--model sage --norm layer", {"w_self0", "w_neigh0", "b0", "gamma0", "beta0", "w_self1", "w_neigh1", "b1"}, {34, 34, 1, 1, 1, 6, 6, 1}, {6, 6, 6, 6, 6, 2, 2, 2}},
        {"--aggregator pool --residual", {"w_pool0", "b_pool0", "w_self0", "w_neigh0", "b0", "w_res0", "w_pool1", "b_pool1", "w_self1", "w_neigh1", "b1", "w_res1"},
         {34, 1, 34, 34, 1, 34, 6, 1, 6, 6, 1, 6}, {34, 34, 6, 6, 6, 6, 6, 6, 2, 2, 2, 2}},
        {"--model gat --heads 3 --out-heads 2 --norm layer", {"w0", "a_l0", "a_r0", "b0", "gamma0", "beta0", "w1", "a_l1", "a_r1", "b1"}, {34, 3, 3, 1, 1, 1, 6, 2, 2, 1}, {6, 2, 2, 6, 6, 6, 4, 2, 2, 2}},
    };
    static double w[3][MOST];
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
        CHECK_EQ(trainf("--data karate.ggnn --loss ce --layers 2 --hidden 6 --fanout 9,4 --dropout 0 --epochs 1 --lr .25 --optimizer adamw --log a --trace-step 1 %s",
                        model[i].options), 0);
        read_trace("a");
        CHECK(says("\nupdate 1 of AdamW, learning rate 0.25\n"));
        const char* record = strstr(log_text, "\"name\":\"loss\"");
        for (int k = 0; k < 14 && model[i].name[k] && record; k++) {
            static const char* const of[] = {"", "d", "change of "};
            int moved = 0;
            for (int which = 0; which < 3; which++) {
                char name[40];
                snprintf(name, sizeof name, "%s%s", of[which], model[i].name[k]);
                record = find(name);
                CHECK(number(record, "rows") == model[i].rows[k] && number(record, "cols") == model[i].cols[k]);
                CHECK_EQ(numbers(record, "values", w[which]), model[i].rows[k] * model[i].cols[k]);
            }
            for (int j = 0; j < model[i].rows[k] * model[i].cols[k]; j++) {
                moved += fabs(w[1][j]) > 1e-5;
                if (fabs(w[1][j]) > 1e-5) CHECK_NEAR(w[2][j], w[1][j] > 0 ? -.25 : .25, 1e-3);
                if (w[1][j] == 0) CHECK(w[2][j] == 0);
            }
            if (!CHECK(moved > 0)) printf("  %s: %s\n", model[i].options, model[i].name[k]);
        }
    }
}

/* ==== steps and updates ========================================================================================= */

/* One of `before` and of all parameters, in their order. */
static int parameters(double* to, const char* before)
{
    static const char* const name[] = {"w_self0", "w_neigh0", "b0", "w_self1", "w_neigh1", "b1"};
    int found = 0;
    for (int i = 0; i < 6; i++) {
        char full[40];
        snprintf(full, sizeof full, "%s%s", before, name[i]);
        found += numbers(find(full), "values", to + found);
    }
    return found;
}

/* Two mini-batches an epoch. Dropout makes each step's numbers its own. */
TEST(steps_are_counted_over_epochs_and_each_makes_adams_update)
{
    static double w[MOST], d[MOST], change[MOST], m[MOST], v[MOST], after[MOST];
    double loss[5], epoch[3];
    for (int s = 1; s <= 4; s++) {
        CHECK_EQ(trainf("--data karate.ggnn --fanout 3,2 --layers 2 --hidden 4 --batch 1 --epochs 2 --log a --trace-step %d --lr .01", s), 0);
        read_trace("a");
        const char* record = find("loss");
        CHECK(number(record, "epoch") == (s + 1) / 2 && number(record, "batch") == 1 + (s + 1) % 2);
        const char* traced = strstr(log_text, "\"event\":\"trace\"");
        CHECK(traced && number(traced, "step") == s);
        loss[s] = number(record, "loss");
        const int n = parameters(w, "");
        CHECK_EQ(n, 2 * 34 * 4 + 4 + 2 * 4 + 1);
        CHECK(parameters(d, "d") == n && parameters(change, "change of ") == n);
        for (int i = 0; i < n; i++) {
            m[i] = .9 * m[i] + .1 * d[i];
            v[i] = .999 * v[i] + .001 * d[i] * d[i];
            const double by = -.01 * m[i] / (1 - pow(.9, s)) / (sqrt(v[i] / (1 - pow(.999, s))) + 1e-8);
            CHECK_NEAR(change[i], by, 1e-6 + 1e-4 * fabs(by));
            if (s > 1) CHECK_NEAR(w[i], after[i], 1e-7);
            after[i] = w[i] + change[i];
        }
    }
    read_log(&first, "a", "epoch");
    for (int e = 0; e < 2; e++) {
        epoch[e] = number(first.line[e], "loss");
        CHECK_NEAR(epoch[e], (loss[2 * e + 1] + loss[2 * e + 2]) / 2, 1e-12);
    }
}

static bool same_bytes(const char* a, const char* b) { return shell("cmp %s %s", a, b) == 0; }

TEST(a_trace_changes_no_bit_of_the_training)
{
    static const char* const how[] = {
        "--model sage --fanout 4,3", "--model gcn --fanout 4,3 --dropout .3", "--model gat --fanout 4,3 --attention-dropout .4 --input-dropout .3",
        "--model sage --aggregator pool --fanout 4,3 --norm layer --residual", "--model sage --aggregator importance",
        "--model sage --aggregator gcn --fanout 4,3", "--model mlp --layers 2", "--model gcn --fanout full", "--model gat --fanout full",
        "--model sage --fanout full", "--model gcn --fanout 4,3 --pipeline overlap --threads 2", "--model sage --fanout 4,3 --cache degree --cache-ratio .3",
        "--model gat --fanout 4,3 --gemm builtin --pipeline factored"};
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const char* common = "--data karate.ggnn --layers 2 --hidden 8 --batch 1 --epochs 2";
        CHECK_EQ(trainf("%s %s --log a --save plain", common, how[i]), 0);
        CHECK_EQ(trainf("%s %s --log b --save traced --trace-step 2", common, how[i]), 0);
        CHECK(says("\nh0, features"));
        for (int k = 0; k < 3; k++) {
            static const char* const event[] = {"epoch", "ranks", "final"}; /* ranks: reads of features, too */
            read_log(&first, "a", event[k]);
            read_log(&second, "b", event[k]);
            CHECK(same_records(&first, &second));
        }
        if (!CHECK(same_bytes("plain", "traced"))) printf("  %s\n", how[i]);
    }
}

/* Without their zeros they are no matrix: what is shown is made again, with its dropout. */
TEST(features_that_are_multiplied_without_their_zeros_are_shown_as_they_are)
{
    static const char* const model[] = {"gcn", "gat", "mlp"};
    for (int i = 0; i < 3; i++) {
        char *is, *end;
        const char* common = "--data karate.ggnn --layers 2 --hidden 8 --fanout full --input-dropout .5 --trace-step 2 --log a";
        CHECK_EQ(trainf("%s --model %s", common, model[i]), 0);
        read_trace("a");
        is = strdup(find("h0"));
        CHECK((end = strchr(is, '\n')) != NULL);
        *end = 0;
        CHECK(strstr(is, "[2,0,") || strstr(is, ",2,0") || strstr(is, ",2]"));
        CHECK_EQ(trainf("%s --model %s --dense-features", common, model[i]), 0);
        read_trace("a");
        CHECK(strncmp(find("h0"), is, strlen(is)) == 0);
        free(is);
    }
}

/* ==== what is printed =========================================================================================== */

/* The row of a table: "  LABEL " and the numbers. */
static bool prints_row(const char* title, int64_t id, const double* v, int n)
{
    char row[200];
    int used = snprintf(row, sizeof row, "\n  %9" PRId64 " ", id);
    for (int j = 0; j < n; j++) used += snprintf(row + used, sizeof row - (size_t)used, " %11.5g", v[j]);
    strcat(row, "\n");
    const char* at_title = strstr(output, title);
    const char *found = at_title ? strstr(at_title, row) : NULL, *end = at_title ? strstr(at_title, "\n\n") : NULL;
    if (found && end && found < end) return true;
    printf("  no%s under %s\n", row, title);
    return false;
}

TEST(tables_have_the_logs_numbers)
{
    CHECK_EQ(train("--data karate.ggnn --model gat --heads 2 --layers 2 --hidden 4 --fanout 3,2 --epochs 2 --dropout 0 --log a --trace-step 1"), 0);
    read_trace("a");
    static const struct {
        const char *title, *before, *name;
        int number;
    } table[] = {{"\nz0, sources transformed in layer 0: ", "", "z", 0},
                 {"\nh1, output of layer 0: ", "", "h", 1},
                 {"\ndh1, gradient of the output of layer 0: ", "d", "h", 1},
                 {"\ndel0, gradient of the scores of the sources of layer 0: ", "d", "el", 0},
                 {"\nder0, gradient of the scores of the targets of layer 0: ", "d", "er", 0},
                 {"\ndz0, gradient of the sources transformed in layer 0: ", "d", "z", 0}};
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        static block b;
        const matrix* a = array(table[k].before, table[k].name, table[k].number);
        read_block(&b, 1);
        for (int i = 0; i < a->rows; i++) CHECK(prints_row(table[k].title, b.id[i], a->v + i * a->cols, a->cols));
    }
    const matrix *w = array("", "w", 1), *dw = array("d", "w", 1), *change = array("change of ", "w", 1);
    CHECK(prints_row("\nw1: 4 x 1\n", 2, &w->v[2], 1) && prints_row("\ndw1: 4 x 1\n", 2, &dw->v[2], 1));
    CHECK(prints_row("\nchange of w1: 4 x 1\n", 2, &change->v[2], 1));
    CHECK(says("\nstep 1: epoch 1, mini-batch 1 of 1\n") && says("hop 0, the block of layer 1: 2 targets, ") && says("\nupdate 1 of Adam, learning rate 0.003\n"));
    CHECK(says("\nh0, features, the input of layer 0: ") && says(" x 34, as column:value\n       node\n") && says("\n          0   0:1\n         "));
    CHECK(says("\ndw0: 34 x 4\n        row\n") && says("\n  (rows of zeros, left out: "));
}

static void check_alpha_table(const char* line)
{
    double sum = 0;
    for (char* next; *line && *line != '\n'; line = next) {
        sum += strtod(line, &next);
        if (next == line) break;
    }
    CHECK_NEAR(sum, 1, 1e-4);
}

TEST(each_heads_coefficients_are_printed_beside_where_they_come_from)
{
    int heads = 0;
    CHECK_EQ(train("--data karate.ggnn --model gat --heads 2 --layers 2 --hidden 4 --fanout 3,2 --epochs 1 --trace-step 1"), 0);
    for (const char* line = strstr(output, "     head "); line; line = strstr(line + 1, "     head ")) {
        check_alpha_table(line + 20);
        heads++;
    }
    CHECK(heads >= 2 * 4 + 2);
    CHECK(says("\nalpha1, attention of layer 1: each target's, to itself and to its neighbours\n"));
    CHECK(says("\n          0  from:           0 ") && says("\n         33  from:          33 "));
}

TEST(what_a_table_or_a_record_leaves_out_is_said)
{
    CHECK_EQ(train("--data planted.ggnn --layers 2 --hidden 300 --fanout -1,2 --epochs 1 --batch 64 --log a --trace-step 1"), 0);
    CHECK(says(" x 300, its first 8 columns\n") && says(" more rows)\n") && says(" more targets)\n") && says(" more\n") && says(" more seeds)\n"));
    for (const char* line = output; (line = strchr(line, '\n')); line++)
        if (!CHECK(strcspn(line + 1, "\n") < 400)) break;
    read_trace("a");
    static double v[MOST];
    const char* record = find("w_self1");
    CHECK(number(record, "rows") == 300 && number(record, "cols") == 5 && numbers(record, "values", v) == 1500);
    record = find("h1");
    CHECK(number(record, "cols") == 300 && numbers(record, "values", v) == 8 * 300 && number(record, "rows") > 8);
    for (const char* line = log_text; *line; line = strchr(line, '\n') + 1) CHECK(strcspn(line, "\n") < 1 << 16);
    CHECK_EQ(train("--data karate.ggnn --layers 2 --hidden 3000 --fanout 2,2 --epochs 1 --log a --trace-step 1"), 0);
    read_trace("a");
    CHECK(number(find("h1"), "cols") == 3000 && numbers(find("h1"), "values", v) == 2560); /* of the first row, at least */
    CHECK_EQ(numbers(find("h1"), "id", v), 1);
}

/* A batch of the whole graph has more targets than labelled seeds. */
TEST(seeds_that_a_table_leaves_out_are_those_with_a_label)
{
    finish(start("ggnn-data", "generate planted seeds.ggnn --nodes 100 --edges 600 --classes 3 --features 4"));
    CHECK_EQ(train("--data seeds.ggnn --layers 2 --hidden 4 --fanout full --epochs 1 --log seeds --trace-step 1"), 0);
    read_trace("seeds");
    const double known = number(find("loss"), "known");
    CHECK(40 < known && known < 100);
    char more[64];
    snprintf(more, sizeof more, "\n  (%.0f more seeds)\n", known - 40);
    CHECK(says(more));
}

/* ==== every table, from the log ================================================================================== */

static char table[1 << 16];
static size_t used;
#define EXPECT(...) (used += (size_t)snprintf(table + used, sizeof table - used, __VA_ARGS__))

/* Stands the expected table after the colon of a title that begins so, and does it end there? */
static void check_table(const char* title)
{
    const char *begin = strstr(output, title), *is = begin ? strstr(begin, ": ") : NULL;
    if (!CHECK(is && strncmp(is + 2, table, used) == 0 && is[2 + used] == '\n')) printf("  %s\n%s", title + 1, table);
}

static int nonzeros(const double* row, int cols)
{
    int found = 0;
    for (int j = 0; j < cols; j++) found += row[j] != 0;
    return found;
}

/* At most 40 rows and 8 columns; rows of zeros are left out; wide rows of few values have their columns. */
static bool check_matrix(const char* name, const char* record)
{
    static double v[MOST], id[MOST];
    const int rows = (int)number(record, "rows"), cols = (int)number(record, "cols"), there = numbers(record, "values", v) / cols;
    const bool ids = numbers(record, "id", id) > 0;
    bool sparse = cols > 8;
    int zeros = 0, i = 0, shown = 0;
    char title[64];
    if (there < rows) return false; /* the record ends before the table */
    for (int k = 0, found = 0; k < rows && found < 40; k++) {
        sparse = sparse && nonzeros(v + k * cols, cols) <= 8;
        found += nonzeros(v + k * cols, cols) > 0;
    }
    used = 0;
    EXPECT("%d x %d%s\n  %9s\n", rows, cols, sparse ? ", as column:value" : cols > 8 ? ", its first 8 columns" : "", ids ? "node" : "row");
    for (; i < rows && shown < 40; i++) {
        const double* row = v + i * cols;
        if (rows > 1 && nonzeros(row, cols) == 0) {
            zeros++;
            continue;
        }
        EXPECT("  %9d ", ids ? (int)id[i] : i);
        for (int j = 0, printed = 0; j < cols && printed < 8; j++) {
            if (sparse && row[j] == 0) continue;
            if (sparse) EXPECT("  %d:%.5g", j, (double)(float)row[j]); /* the log has the digits that tell floats apart */
            else EXPECT(" %11.5g", (double)(float)row[j]);
            printed++;
        }
        EXPECT("\n");
        shown++;
    }
    if (zeros) EXPECT("  (rows of zeros, left out: %d)\n", zeros);
    if (i < rows) EXPECT("  (%d more rows)\n", rows - i);
    snprintf(title, sizeof title, "\n%s%s", name, ids ? ", " : ": ");
    check_table(title);
    return true;
}

/* At most 40 lists of 16. */
static void check_hop(const char* name, const char* record)
{
    static double id[MOST], indptr[MOST], list[MOST], weight[MOST];
    const int targets = (int)number(record, "targets"), edges = (int)number(record, "edges");
    const bool weighted = numbers(record, "weight", weight) > 0;
    char title[80];
    numbers(record, "id", id);
    if (!CHECK(numbers(record, "indptr", indptr) == targets + 1 && numbers(record, "indices", list) == edges && indptr[targets] == edges)) return;
    used = 0;
    EXPECT("%d targets, %d sources, %d edges\n  local      node  neighbours: node(local)%s\n", targets, (int)number(record, "sources"), edges, weighted ? "*visits" : "");
    for (int v = 0; v < targets && v < 40; v++) {
        const int entries = (int)(indptr[v + 1] - indptr[v]);
        EXPECT("  %5d %9d ", v, (int)id[v]);
        for (int e = (int)indptr[v]; e < (int)indptr[v] + (entries < 16 ? entries : 16); e++) {
            EXPECT(" %d(%d)", (int)id[(int)list[e]], (int)list[e]);
            if (weighted) EXPECT("*%g", weight[e]);
        }
        if (entries > 16) EXPECT(" and %d more", entries - 16);
        EXPECT("\n");
    }
    if (targets > 40) EXPECT("  (%d more targets)\n", targets - 40);
    snprintf(title, sizeof title, "\nhop %s, the block of layer %d: ", name + 3, (int)number(record, "layer"));
    check_table(title);
}

/* The log's record has all entries of a head; the table the first 8. */
static void check_attention(const char* name, const char* record, const block* b)
{
    static double alpha[MOST];
    const int heads = (int)number(record, "heads");
    int begin = 0;
    char title[160];
    if (!CHECK(numbers(record, "values", alpha) == (b->targets + b->indptr[b->targets]) * heads && number(record, "rows") == b->targets)) return;
    used = 0;
    for (int v = 0; v < b->targets && v < 40; v++) {
        const int entries = 1 + b->indptr[v + 1] - b->indptr[v], shown = entries < 8 ? entries : 8;
        EXPECT("  %9d  from:", b->id[v]);
        for (int i = 0; i < shown; i++) EXPECT(" %11d", b->id[source(b, v, i)]);
        if (entries > 8) EXPECT(" and %d more", entries - 8);
        EXPECT("\n");
        for (int k = 0; k < heads; k++, begin += entries) {
            EXPECT("     head %3d       ", k);
            for (int i = 0; i < shown; i++) EXPECT(" %11.5g", (double)(float)alpha[begin + i]);
            EXPECT("\n");
        }
    }
    if (b->targets > 40) EXPECT("  (%d more targets)\n", b->targets - 40);
    snprintf(title, sizeof title, "\n%s, attention of layer %s: each target's, to itself and to its neighbours\n", name, name + 5);
    const char* is = strstr(output, title);
    if (!CHECK(is && strncmp(is + strlen(title), table, used) == 0 && is[strlen(title) + used] == '\n')) printf("  %s:\n%s", name, table);
}

static void check_loss_table(const char* record)
{
    static double seed[MOST];
    const int known = (int)number(record, "known"), there = numbers(record, "seeds", seed) / 3;
    CHECK_EQ(there, known);
    used = 0;
    EXPECT("\nloss: %.9g, the mean over %d labelled seeds\n  %9s %9s %11s\n", number(record, "loss"), known, "node", "label", "loss");
    for (int i = 0; i < there && i < 40; i++) EXPECT("  %9d %9g %11.5g\n", (int)seed[3 * i], seed[3 * i + 1], seed[3 * i + 2]);
    if (known > 40) EXPECT("  (%d more seeds)\n", known - 40);
    if (!CHECK(strstr(output, table) != NULL)) printf("%s", table);
}

/* Of each array that the log has whole. Returns how many tables it looked at. */
static int check_tables(void)
{
    static char record[1 << 17];
    static block b;
    int checked = 0;
    for (const char* line = log_text; *line; line += strcspn(line, "\n") + 1) {
        char name[40];
        snprintf(record, sizeof record, "%.*s", (int)strcspn(line, "\n"), line);
        const char* at = strstr(record, ",\"name\":\"");
        if (!at || strncmp(record, "{\"event\":\"trace\"", 16)) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 9, "\""), at + 9);
        checked++;
        if (!strncmp(name, "hop", 3)) check_hop(name, at);
        else if (!strcmp(name, "loss")) check_loss_table(at);
        else if (!strncmp(name, "alpha", 5)) { /* with attention dropout, too: zeros */
            read_block(&b, LAYERS - 1 - atoi(name + 5));
            check_attention(name, at, &b);
        } else checked -= !check_matrix(name, at);
    }
    return checked;
}

/* Many rows and columns, long lists, lists of visits, coefficients, rows of zeros; and a small club. */
TEST(every_table_is_made_of_the_logs_numbers)
{
    static const struct {
        const char* options;
        int tables; /* at least */
    } run[] = {{"--data planted.ggnn --hidden 10 --fanout 17,2 --batch 50", 14}, {"--data planted.ggnn --hidden 4 --fanout 3,2 --batch 45 --loss ce", 16},
               {"--data planted.ggnn --model gat --hidden 6 --heads 3 --fanout 9,1 --batch 30", 22}, {"--data planted.ggnn --aggregator importance --hidden 8 --batch 40", 15},
               {"--data karate.ggnn --model gcn --hidden 9 --fanout -1,-1 --batch 34 --residual --norm layer", 28},
               {"--data karate.ggnn --model gat --hidden 4 --heads 2 --fanout -1,-1 --attention-dropout .3", 30}, {"--data karate.ggnn --aggregator pool --hidden 3 --fanout 16,17", 20},
               {"--data karate.ggnn --model mlp --hidden 3", 14},
               {"--data karate.ggnn --hidden 4 --fanout 3,7", 20}, /* rows of eight values, */
               {"--data planted.ggnn --hidden 8 --fanout 16,1 --batch 40", 15}, {"--data planted.ggnn --model gat --hidden 4 --fanout 7,1 --batch 40", 22}}; /* and as many as there may be */
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) { /* in the first step biases are zeros */
        CHECK_EQ(trainf("%s --layers 2 --epochs 2 --eval-every 0 --dropout .3 --log a --trace-step %zu", run[i].options, 1 + i % 2), 0);
        read_trace("a");
        const int tables = check_tables();
        if (!CHECK(tables >= run[i].tables)) printf("  %d tables: %s\n", tables, run[i].options);
    }
}

/* Nodes 107, 114 and 115 train: their dense rows are all that is printed. */
TEST(rows_behind_forty_of_zeros_tell_whether_a_matrix_is_sparse)
{
    finish(start("ggnn-data", "generate planted late.ggnn --nodes 160 --edges 900 --classes 16 --features 4 --train .02 --seed 3"));
    CHECK_EQ(train("--data late.ggnn --layers 2 --hidden 4 --fanout full --epochs 1 --eval-every 0 --log a --trace-step 1"), 0);
    read_trace("a");
    CHECK(check_matrix("dh2", find("dh2")) && says(": 160 x 16, its first 8 columns\n") && says("\n  (rows of zeros, left out: 157)\n"));
}

/* 1,536 rows, ids or labelled seeds, 2,560 values: of more seeds than that, and of one column. */
TEST(records_end_where_the_schema_says)
{
    static const struct {
        const char *name, *key;
        int numbers;
    } of[] = {{"hop0", "id", 1536}, {"hop0", "indptr", 1536}, {"hop0", "indices", 1536}, {"hop1", "id", 1536}, {"hop1", "indptr", 1536}, {"hop1", "indices", 1536}, {"hop0", "weight", 1536},
              {"h0", "id", 320}, {"h0", "values", 2560}, {"h2", "id", 1536}, {"h2", "values", 1536}, {"loss", "seeds", 3 * 1536}, {"dh1", "id", 512}, {"dh1", "values", 2560}};
    static double v[MOST], indptr[MOST];
    finish(start("ggnn-data", "generate planted large.ggnn --nodes 4000 --edges 24000 --classes 2 --features 8 --train .6"));
    for (int gat = 0; gat < 2; gat++) {
        CHECK_EQ(trainf("--data large.ggnn --layers 2 --hidden 5 --batch 2000 --epochs 1 --eval-every 0 --log a --trace-step 1 --fanout 4,2 %s", gat ? "--model gat --heads 5" : "--aggregator importance"), 0);
        read_trace("a");
        for (size_t i = 0; i < sizeof of / sizeof *of; i++)
            if (!(gat && !strcmp(of[i].key, "weight")) && !CHECK_EQ(numbers(find(of[i].name), of[i].key, v), of[i].numbers)) printf("  %s %s\n", of[i].name, of[i].key);
        CHECK(number(find("hop0"), "targets") == 2000 && number(find("h2"), "rows") == 2000 && number(find("loss"), "known") == 2000);
    }
    for (int l = 0; l < 2; l++) { /* whole targets, as many as fit */
        const int heads = l ? 1 : 5, there = numbers(find(l ? "alpha1" : "alpha0"), "values", v);
        int targets = 0;
        CHECK_EQ(numbers(find(l ? "hop0" : "hop1"), "indptr", indptr), 1536);
        while ((targets + 1 + (int)indptr[targets + 1]) * heads <= 2560) targets++;
        CHECK_EQ(there, (targets + (int)indptr[targets]) * heads);
    }
}

/* In a full batch any row may be a seed: those with a label, wherever they are among more rows than a record has. */
TEST(a_full_batchs_losses_are_of_all_labelled_seeds)
{
    static double seed[3 * MOST];
    finish(start("ggnn-data", "generate planted few.ggnn --nodes 4000 --edges 12000 --classes 2 --features 4 --train .02"));
    CHECK_EQ(train("--data few.ggnn --layers 1 --hidden 4 --fanout full --epochs 1 --eval-every 0 --log few --trace-step 1"), 0);
    read_trace("few");
    const int known = (int)number(find("loss"), "known"), there = numbers(find("loss"), "seeds", seed) / 3;
    CHECK(known == 80 && there == known && number(find("loss"), "loss") > 0);
    double sum = 0, last = -1;
    for (int i = 0; i < there; i++) {
        CHECK(seed[3 * i] > last && (seed[3 * i + 1] == 0 || seed[3 * i + 1] == 1));
        last = seed[3 * i];
        sum += seed[3 * i + 2];
    }
    CHECK(last >= 1536);
    CHECK_NEAR(sum / known, number(find("loss"), "loss"), 1e-5 * sum / known);
}

/* In the order of computation, none twice, and none that the model does not have. */
TEST(a_trace_has_the_arrays_of_its_model_in_their_order)
{
    static const struct {
        const char *options, *names, *parameters;
    } model[] = {
        {"--model sage --fanout 3,2", "hop0 hop1 h0 a0 h1 a1 h2 loss dh2 dh1", "w_self0 w_neigh0 b0 w_self1 w_neigh1 b1"},
        {"--model gcn --fanout 3,2 --residual", "hop0 hop1 h0 a0 h1 a1 h2 loss dh2 dh1", "w0 b0 w_res0 w1 b1 w_res1"},
        {"--aggregator gcn --fanout 3,2 --norm layer", "hop0 hop1 h0 a0 h1 a1 h2 loss dh2 dh1", "w0 b0 gamma0 beta0 w1 b1"},
        {"--aggregator pool --fanout 3,2", "hop0 hop1 h0 z0 a0 h1 z1 a1 h2 loss dh2 dh1", "w_pool0 b_pool0 w_self0 w_neigh0 b0 w_pool1 b_pool1 w_self1 w_neigh1 b1"},
        {"--model gat --heads 2 --fanout 3,2", "hop0 hop1 h0 z0 el0 er0 alpha0 a0 h1 z1 el1 er1 alpha1 a1 h2 loss dh2 del1 der1 dz1 dh1 del0 der0 dz0",
         "w0 a_l0 a_r0 b0 w1 a_l1 a_r1 b1"},
        {"--model mlp --fanout 3,2", "hop0 hop1 h0 h1 h2 loss dh2 dh1", "w0 b0 w1 b1"},
        {"--model gcn --fanout full", "hop0 h0 z0 h1 z1 h2 loss dh2 dh1", "w0 b0 w1 b1"}, /* from wide to narrow: first the product */
        {"--model gcn --fanout full --hidden 40", "hop0 h0 a0 h1 z1 h2 loss dh2 dh1", "w0 b0 w1 b1"},
        {"--model sage --fanout full", "hop0 h0 a0 h1 a1 h2 loss dh2 dh1", "w_self0 w_neigh0 b0 w_self1 w_neigh1 b1"},
        {"--model gcn --layers 1 --fanout full", "hop0 h0 z0 h1 loss dh1", "w0 b0"},
        {"--data pre.ggnn --preprocess --fanout 3", "hop0 hop1 h0 h1 a1 h2 loss dh2 dh1", "w_self0 w_neigh0 b0 w_self1 w_neigh1 b1"},
    };
    finish(start("ggnn-data", "preprocess karate.ggnn --model sage --out pre.ggnn"));
    for (size_t i = 0; i < sizeof model / sizeof *model; i++) {
        static const char* const before[] = {"", "d", "change of "};
        char should[2000], is[2000] = "", words[400];
        CHECK_EQ(trainf("--data karate.ggnn --layers 2 --hidden 4 --epochs 1 --log a --trace-step 1 %s", model[i].options), 0);
        read_trace("a");
        size_t length = (size_t)snprintf(should, sizeof should, "%s", model[i].names), at_end = 0;
        for (int change = 0; change < 2; change++) { /* a parameter and its gradient, then what all change by */
            snprintf(words, sizeof words, "%s", model[i].parameters);
            for (char* word = strtok(words, " "); word; word = strtok(NULL, " "))
                for (int k = change ? 2 : 0; k < (change ? 3 : 2); k++) length += (size_t)snprintf(should + length, sizeof should - length, " %s%s", before[k], word);
        }
        for (const char* at = log_text; (at = strstr(at, ",\"name\":\"")); at++)
            at_end += (size_t)snprintf(is + at_end, sizeof is - at_end, "%s%.*s", at_end ? " " : "", (int)strcspn(at + 9, "\""), at + 9);
        CHECK_STR(is, should);
        CHECK_EQ(strstr(output, "\n  (and of every other layer)\n") != NULL, strstr(model[i].options, "full") && !strstr(model[i].options, "--layers 1"));
        const char* printed = output;
        snprintf(words, sizeof words, "%s", model[i].names);
        for (char* word = strtok(words, " "); word && printed; word = strtok(NULL, " ")) {
            char title[60];
            snprintf(title, sizeof title, "\n%.3s%s%s", word, strncmp(word, "hop", 3) ? "" : " ", strlen(word) > 3 ? word + 3 : "");
            printed = strstr(printed, title);
            if (!CHECK(printed != NULL)) printf("  %s\n", title + 1);
        }
    }
}

/* karate.ggnn with real targets: i / 40 of node i. */
static void make_targets(const char* path)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, "karate.ggnn") && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool target = strcmp(s->name, "label") == 0;
        void* data = ggnn_file_reserve(&w, s->name, target ? GGNN_FILE_F32 : (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        if (!target) memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
        for (int v = 0; target && v < NODES; v++) ((float*)data)[v] = (float)v / 40;
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

TEST(real_targets_are_shown_as_they_are_beside_their_losses)
{
    static block seeds;
    double printed[MOST];
    make_targets("real.ggnn");
    CHECK_EQ(train("--data real.ggnn --layers 2 --hidden 4 --fanout 3,2 --dropout 0 --epochs 1 --log a --trace-step 1"), 0);
    read_trace("a");
    read_block(&seeds, 0);
    const matrix *x = array("", "h", 2), *d = array("d", "h", 2);
    CHECK(x->cols == 1 && x->rows == 2 && numbers(find("loss"), "seeds", printed) == 6);
    for (int v = 0; v < 2; v++) {
        const double target = (double)((float)seeds.id[v] / 40);
        CHECK(printed[3 * v] == seeds.id[v] && printed[3 * v + 1] == target);
        CHECK_NEAR(printed[3 * v + 2], log1p(exp(x->v[v])) - target * x->v[v], 1e-6);
        CHECK_NEAR(d->v[v], (1 / (1 + exp(-x->v[v])) - target) / 2, 1e-6);
    }
    CHECK(check_tables() > 10);
}

/* ==== scores of logits =========================================================================================== */

enum { MANY = 300 };
typedef struct { double loss, accuracy, f1, auc; } marks;

/* By their definitions, of the nodes of one part; x: logits, one or several of a node. */
static marks score_of(const matrix* x, const int* is, const int* part, int which, int classes)
{
    marks m = {0, 0, 0, NAN};
    double known = 0, both[8] = {0}, said[8] = {0}, has[8] = {0}, classes_there = 0, above = 0;
    for (int v = 0; v < x->rows; v++) {
        if (part[v] != which || is[v] < 0) continue;
        double sum = x->cols == 1 ? 1 : 0;
        int guess = x->cols == 1 && at(x, v, 0) > 0;
        for (int j = 0; j < x->cols; j++) {
            sum += exp(at(x, v, j));
            if (x->cols > 1 && at(x, v, j) > at(x, v, guess)) guess = j;
        }
        m.loss += log(sum) - (x->cols == 1 ? is[v] * at(x, v, 0) : at(x, v, is[v]));
        both[is[v]] += guess == is[v];
        said[guess]++;
        has[is[v]]++;
        known++;
        for (int u = 0; u < x->rows; u++) {
            if (part[u] != which || is[u] != 0 || is[v] != 1) continue;
            const double more = x->cols == 1 ? at(x, v, 0) - at(x, u, 0) : at(x, v, 1) - at(x, v, 0) - at(x, u, 1) + at(x, u, 0);
            above += more > 0 ? 1 : more < 0 ? 0 : .5;
        }
    }
    for (int c = 0; c < classes; c++) {
        m.accuracy += both[c] / known;
        m.f1 += has[c] + said[c] > 0 ? 2 * both[c] / (has[c] + said[c]) : 0;
        classes_there += has[c] + said[c] > 0;
    }
    m.loss /= known;
    m.f1 /= classes_there;
    if (classes == 2) m.auc = above / (has[0] * has[1]);
    return m;
}

static void check_score(const char* record, const char* part, marks should)
{
    static const char* const name[] = {"loss", "accuracy", "macro_f1", "roc_auc"};
    const double value[] = {should.loss, should.accuracy, should.f1, should.auc};
    for (int i = 0; i < 4; i++) {
        char key[40];
        snprintf(key, sizeof key, "%s_%s", part, name[i]);
        const double is = number(record, key);
        if (!CHECK(isnan(value[i]) ? isnan(is) : fabs(is - value[i]) <= (i ? 1e-9 : 2e-6))) printf("  %s: %g, not %g\n", key, is, value[i]);
    }
}

/* At a rate of 0 the logits of a step without dropout are those that are evaluated. */
static void check_scores(const char* data, const char* options, int classes)
{
    static int part[MANY], is[MANY];
    dataset d;
    error why = {""};
    if (!CHECK(dataset_open(&d, data, &why))) return;
    for (int v = 0; v < d.num_nodes; v++) {
        part[v] = ((const uint8_t*)ggnn_file_data(&d.file, ggnn_file_find(&d.file, "split")))[v];
        is[v] = ((const int32_t*)ggnn_file_data(&d.file, ggnn_file_find(&d.file, "label")))[v];
    }
    const char* how[] = {"--fanout full --trace-step 1", "--fanout 3,2", "--fanout -1,-1 --eval sampled --batch 5", "--fanout 3,2 --devices 3 --batch 9"};
    matrix x = {0};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(trainf("--data %s %s --layers 2 --hidden 8 --lr 0 --dropout 0 --epochs 1 --log a %s", data, options, how[i]), 0);
        read_trace("a");
        if (!i) x = *array("", "h", 2);
        CHECK_EQ(x.rows, d.num_nodes);
        const char *epoch = strstr(log_text, "{\"event\":\"epoch\""), *final = strstr(log_text, "{\"event\":\"final\"");
        if (!CHECK(epoch && final)) break;
        check_score(epoch, "val", score_of(&x, is, part, SPLIT_VAL, classes));
        check_score(final, "test", score_of(&x, is, part, SPLIT_TEST, classes));
        CHECK_NEAR(number(final, "val_loss"), number(epoch, "val_loss"), 0);
    }
    dataset_close(&d);
}

TEST(scores_are_those_of_the_logits_however_they_are_evaluated)
{
    finish(start("ggnn-data", "generate planted five.ggnn --nodes 200 --edges 900 --classes 5 --features 6 --train .3"));
    check_scores("karate.ggnn", "--model sage", 2);
    check_scores("karate.ggnn", "--model gcn --loss ce --seed 4", 2);
    check_scores("five.ggnn", "--model gat --seed 2", 5);
    check_scores("five.ggnn", "--model gcn", 5);
}

/* ==== where there is none ======================================================================================= */

TEST(what_cannot_be_traced_is_refused_with_a_reason)
{
    static const struct {
        const char *options, *reason;
        int status;
    } wrong[] = {{"--trace-step 1 --devices 2", "--trace-step 1: prints a step of one device, here are 2", 2},
                 {"--trace-step 1 --backend cuda", "--trace-step 1: needs --backend cpu, as it prints what a CPU computes", 2},
                 {"--trace-step 1 --parallel split", "--trace-step 1: prints whole mini-batches, and --parallel split cuts them; use --parallel data", 2},
                 {"--trace-step 7 --batch 1", "--trace-step 7: the training has 6 steps, 2 mini-batches in each of 3 epochs", 1},
                 {"--trace-step -1", "--trace-step", 2}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(trainf("--data karate.ggnn --layers 2 --fanout 2,2 --hidden 4 --epochs 3 %s", wrong[i].options), wrong[i].status);
        CHECK(says(wrong[i].reason));
    }
}

TEST(a_step_that_is_not_made_is_warned_of)
{
    const char* common = "--data karate.ggnn --layers 2 --fanout 2,2 --hidden 4 --batch 1";
    CHECK_EQ(trainf("%s --epochs 2 --save c --trace-step 4", common), 0);
    CHECK(says("\nstep 4: epoch 2, mini-batch 2 of 2\n") && !strstr(output, "warning"));
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3 --trace-step 4"), 0);
    CHECK(says("warning: --trace-step 4: c was saved after step 4: that step is not made again\n") && !strstr(output, "\nh0"));
    CHECK_EQ(train("--data karate.ggnn --resume c --epochs 3 --trace-step 5"), 0);
    CHECK(says("\nstep 5: epoch 3, mini-batch 1 of 2\n"));
    CHECK_EQ(trainf("%s --epochs 50 --lr 10 --patience 1 --trace-step 100", common), 0);
    CHECK(says("warning: --trace-step 100: the training ended after step "));
}

TEST(a_trace_without_memory_is_an_error)
{
    int failed = 0;
    for (int n = 1; n < 400; n++) {
        char text[16];
        snprintf(text, sizeof text, "%d", n);
        fail_allocation = text;
        const int status = train("--data karate.ggnn --layers 2 --fanout 2,2 --hidden 4 --epochs 1 --trace-step 1");
        fail_allocation = NULL;
        if (status == 0) break;
        failed += strstr(output, "a row of features") || strstr(output, "parameters before an update");
        if (!CHECK_EQ(status, 1)) break;
    }
    CHECK_EQ(failed, 2);
}

static void read_graph(void)
{
    dataset d;
    error why = {""};
    if (!CHECK(dataset_open(&d, "karate.ggnn", &why))) return;
    const ggnn_graph g = dataset_graph(&d);
    for (int v = 0; v < NODES; v++) {
        degree[v] = (double)ggnn_neighbors(&g, (ggnn_node)v).degree;
        label[v] = ((const int32_t*)ggnn_file_data(&d.file, ggnn_file_find(&d.file, "label")))[v];
    }
    dataset_close(&d);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!train_tool_begin()) return 1;
    read_graph();
    RUN(a_step_of_graphsage_is_the_one_computed_in_plain_loops);
    RUN(a_step_of_gcn_is_the_one_computed_in_plain_loops);
    RUN(a_step_of_gat_is_the_one_computed_in_plain_loops);
    RUN(coefficients_are_those_that_dropout_left);
    RUN(a_step_of_the_other_models_is_the_one_computed_in_plain_loops);
    RUN(each_parameter_has_its_gradient_and_its_change);
    RUN(steps_are_counted_over_epochs_and_each_makes_adams_update);
    RUN(a_trace_changes_no_bit_of_the_training);
    RUN(features_that_are_multiplied_without_their_zeros_are_shown_as_they_are);
    RUN(tables_have_the_logs_numbers);
    RUN(each_heads_coefficients_are_printed_beside_where_they_come_from);
    RUN(what_a_table_or_a_record_leaves_out_is_said);
    RUN(seeds_that_a_table_leaves_out_are_those_with_a_label);
    RUN(every_table_is_made_of_the_logs_numbers);
    RUN(rows_behind_forty_of_zeros_tell_whether_a_matrix_is_sparse);
    RUN(records_end_where_the_schema_says);
    RUN(a_full_batchs_losses_are_of_all_labelled_seeds);
    RUN(a_trace_has_the_arrays_of_its_model_in_their_order);
    RUN(real_targets_are_shown_as_they_are_beside_their_losses);
    RUN(scores_are_those_of_the_logits_however_they_are_evaluated);
    RUN(what_cannot_be_traced_is_refused_with_a_reason);
    RUN(a_step_that_is_not_made_is_warned_of);
    RUN(a_trace_without_memory_is_an_error);
    folder_remove();
    return test_finish();
}
