#include "trainer/saved/weights.h"

#include <stdio.h>
#include <string.h>

/* ==== names ===================================================================================================== */

typedef enum { LINEAR, VECTOR, HEADS } form; /* (in, out) to (out, in); (1, n) to (n); (K, n) to (1, K, n) */
typedef struct {
    const char *name, *to; /* in the checkpoint; in PyTorch, where %d is the layer. NULL ends a table */
    form how;
    bool optional;
} naming;

static const naming
    gcn[] = {{"w", "convs.%d.lin.weight", LINEAR, false}, {"b", "convs.%d.bias", VECTOR, false}, {NULL, NULL, LINEAR, false}},
    sage_gcn[] = {{"w", "convs.%d.lin_l.weight", LINEAR, false}, {"b", "convs.%d.lin_l.bias", VECTOR, false}, {NULL, NULL, LINEAR, false}},
    sage_mean[] = {{"w_self", "convs.%d.lin_r.weight", LINEAR, false},
                   {"w_neigh", "convs.%d.lin_l.weight", LINEAR, false},
                   {"b", "convs.%d.lin_l.bias", VECTOR, false},
                   {NULL, NULL, LINEAR, false}},
    sage_pool[] = {{"w_pool", "convs.%d.lin.weight", LINEAR, false},
                   {"b_pool", "convs.%d.lin.bias", VECTOR, false},
                   {"w_self", "convs.%d.lin_r.weight", LINEAR, false},
                   {"w_neigh", "convs.%d.lin_l.weight", LINEAR, false},
                   {"b", "convs.%d.lin_l.bias", VECTOR, false},
                   {NULL, NULL, LINEAR, false}},
    gat[] = {{"w", "convs.%d.lin.weight", LINEAR, false},
             {"a_l", "convs.%d.att_src", HEADS, false},
             {"a_r", "convs.%d.att_dst", HEADS, false},
             {"w_e", "convs.%d.lin_edge.weight", LINEAR, true},
             {"a_e", "convs.%d.att_edge", HEADS, true},
             {"b", "convs.%d.bias", VECTOR, false},
             {NULL, NULL, LINEAR, false}},
    mlp[] = {{"w", "lins.%d.weight", LINEAR, false}, {"b", "lins.%d.bias", VECTOR, false}, {NULL, NULL, LINEAR, false}},
    of_all[] = {{"w_res", "residuals.%d.weight", LINEAR, true},
                {"gamma", "norms.%d.weight", VECTOR, true},
                {"beta", "norms.%d.bias", VECTOR, true},
                {NULL, NULL, LINEAR, false}};

/* A model's own. */
static const naming* names_of(const config* c)
{
    switch ((net_model)c->model) {
    case NET_GCN: return gcn;
    case NET_SAGE: return c->aggregator == NET_SAGE_GCN ? sage_gcn : c->aggregator == NET_POOL ? sage_pool : sage_mean;
    case NET_GAT: return gat;
    case NET_MLP: return mlp;
    }
    return mlp;
}

/* Is the parameter called `name` and a layer's number? */
static bool is_called(const net_param* p, const char* name)
{
    const size_t length = strlen(p->name) - 1;
    return strlen(name) == length && memcmp(p->name, name, length) == 0;
}

static int32_t layer_of(const net_param* p) { return p->name[strlen(p->name) - 1] - '0'; }

static const naming* naming_of(const config* c, const net_param* p)
{
    const naming* const table[] = {names_of(c), of_all};
    for (int i = 0; i < 2; i++)
        for (const naming* n = table[i]; n->name; n++)
            if (is_called(p, n->name) && layer_of(p) < c->layers) return n;
    return NULL;
}

/* Of layer l; NULL: there is none. */
static const net_param* find(const net_param* param, int32_t count, const char* name, int32_t l)
{
    for (int32_t i = 0; i < count; i++)
        if (is_called(&param[i], name) && layer_of(&param[i]) == l) return &param[i];
    return NULL;
}

/* ==== tensors =================================================================================================== */

/* Rows [first, first + rows) of the parameter. */
static void add(weight_tensor* t, const char* to, form how, const net_param* p, int32_t first, int32_t rows)
{
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, to, (int)layer_of(p));
    t->rows = rows;
    t->cols = p->cols;
    t->from = p->offset + (int64_t)first * p->cols;
    t->count = (int64_t)rows * p->cols;
    t->transposed = how == LINEAR;
    t->num_dims = how == LINEAR ? 2 : how == VECTOR ? 1 : 3;
    const int64_t dim[3][3] = {{p->cols, rows, 0}, {p->cols, 0, 0}, {1, rows, p->cols}};
    memcpy(t->dim, dim[how], sizeof t->dim);
}

static bool lacks(const char* path, const char* name, int32_t l, error* why)
{
    return error_set(why, "%s: section 'params': layer %d has no parameter '%s%d'", path, (int)l, name, (int)l);
}

static bool check_complete(const config* c, const char* path, const net_param* param, int32_t count, error* why)
{
    for (int32_t l = 0; l < c->layers; l++)
        for (const naming* n = names_of(c); n->name; n++)
            if (!n->optional && !find(param, count, n->name, l)) return lacks(path, n->name, l, why);
    return true;
}

bool weights_plan(const config* c, const char* path, const net_param* param, int32_t count, weight_tensor tensor[WEIGHTS_MAX], int32_t* tensors,
                  error* why)
{
    *tensors = 0;
    if (!check_complete(c, path, param, count, why)) return false;
    for (int32_t i = 0; i < count; i++) {
        const net_param* p = &param[i];
        const naming* n = naming_of(c, p);
        if (!n || (n->how == VECTOR && p->rows != 1))
            return error_set(why, "%s: section 'params': the options' network has no parameter '%s' of %d rows", path, p->name, (int)p->rows);
        const net_param* self = c->edge_features && is_called(p, "w_neigh") ? find(param, count, "w_self", layer_of(p)) : NULL;
        const int32_t rows = self && self->rows < p->rows ? self->rows : p->rows; /* those below them are of edges */
        add(&tensor[(*tensors)++], n->to, n->how, p, 0, rows);
        if (rows < p->rows) add(&tensor[(*tensors)++], "edges.%d.weight", LINEAR, p, rows, p->rows - rows);
    }
    return true;
}

void weights_copy(float* to, const weight_tensor* t, const float* values)
{
    const float* from = values + t->from;
    if (!t->transposed) memcpy(to, from, (size_t)t->count * sizeof *to);
    else
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t k = 0; k < t->cols; k++) to[k * t->rows + r] = from[r * t->cols + k];
}
