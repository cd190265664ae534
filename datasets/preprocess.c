#include "datasets/preprocess.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/writer.h"

static const char* const model_name[] = {"gcn", "sage"};

static int64_t feature_crc(const dataset* d) { return (int64_t)ggnn_file_find(&d->file, "feat")->crc; }

int64_t preprocess_width(const dataset* d, preprocess_model model) { return (model == PREPROCESS_SAGE ? 2 : 1) * (int64_t)d->feat.width; }

/* ==== making ==================================================================================================== */

enum { CHUNK = 1 << 14 }; /* nodes at a time */

typedef struct {
    const dataset* d;
    ggnn_graph graph;
    ggnn_store features;
    preprocess_model model;
    ggnn_node* id;                /* (CHUNK) */
    int64_t* indptr;              /* (CHUNK + 1) */
    float *inv_sqrt, *dst, *self; /* GCN's: (N), (CHUNK), (CHUNK) */
} job;

/* Rows [first, first + n) of out, as the trainer's first layer makes them of a block of all neighbours. */
static void fill_chunk(const job* p, float* out, int64_t first, int64_t n)
{
    const int64_t *indptr = p->d->csc.indptr + first, width = p->features.width;
    int64_t edges = indptr[n] - indptr[0];
    const ggnn_block b = {.num_dst = {&n, n}, .num_src = {&n, n}, .num_edges = {&edges, edges}, .id = p->id,
                          .indptr = p->indptr, .neighbor = (ggnn_node*)(uintptr_t)(p->d->csc.indices + indptr[0])};
    for (int64_t i = 0; i < n; i++) p->id[i] = (ggnn_node)(first + i);
    for (int64_t i = 0; i <= n; i++) p->indptr[i] = indptr[i] - indptr[0];
    if (p->model == PREPROCESS_GCN) {
        const ggnn_scale scale = {p->inv_sqrt, p->dst, p->self};
        ggnn_scale_gcn(NULL, p->dst, p->self, &b, p->inv_sqrt, &p->graph);
        ggnn_aggregate(out + first * width, width, GGNN_SUM, &b, &scale, NULL, 1, &p->features);
    } else {
        float* rows = out + first * 2 * width;
        ggnn_gather(rows, 2 * width, GGNN_F32, &p->features, p->id, n);
        ggnn_aggregate(rows + width, 2 * width, GGNN_MEAN, &b, NULL, NULL, 1, &p->features);
    }
}

static bool fill(job* p, float* out, error* why)
{
    const int64_t n = p->d->num_nodes;
    const size_t nodes = p->model == PREPROCESS_GCN ? (size_t)n : 0;
    p->id = memory_new(CHUNK * sizeof *p->id, "nodes", why);
    p->indptr = memory_new((CHUNK + 1) * sizeof *p->indptr, "offsets of nodes", why);
    p->inv_sqrt = memory_new((nodes + 2 * CHUNK) * sizeof *p->inv_sqrt, "factors of nodes", why);
    bool good = p->id && p->indptr && p->inv_sqrt;
    if (good) {
        p->dst = p->inv_sqrt + nodes;
        p->self = p->dst + CHUNK;
        if (nodes) ggnn_gcn_norm(p->inv_sqrt, &p->graph);
        for (int64_t first = 0; first < n; first += CHUNK) fill_chunk(p, out, first, n - first < CHUNK ? n - first : CHUNK);
    }
    memory_free(p->id);
    memory_free(p->indptr);
    memory_free(p->inv_sqrt);
    return good;
}

static bool write_sections(ggnn_file_writer* w, const dataset* d, preprocess_model model, error* why)
{
    job p = {.d = d, .graph = dataset_graph(d), .features = dataset_features(d), .model = model};
    const int64_t of[3] = {model, ggnn_file_graph_crc(&d->file), feature_crc(d)}, three = 3;
    const int64_t dim[2] = {d->num_nodes, preprocess_width(d, model)};
    for (int32_t i = 0; i < d->file.num_sections; i++) {
        const ggnn_file_section* s = &d->file.section[i];
        if (strcmp(s->name, "pre_feat") == 0 || strcmp(s->name, "pre_of") == 0) continue;
        if (!ggnn_file_copy(w, &d->file, s)) return error_set(why, "%s", w->error);
    }
    float* out = ggnn_file_reserve(w, "pre_feat", GGNN_FILE_F32, 2, dim);
    if (!out) return error_set(why, "%s", w->error);
    if (!fill(&p, out, why)) return false;
    return (ggnn_file_append(w, "pre_of", GGNN_FILE_I64, 1, &three, of) && ggnn_file_commit(w)) || error_set(why, "%s", w->error);
}

bool preprocess_write(const char* out, const dataset* d, preprocess_model model, error* why)
{
    ggnn_file_writer w;
    if (!d->feat.rows) return error_set(why, "%s: it has no features (section 'feat')", d->file.path);
    if (!dataset_check_graph(d, why)) return false;
    if (!writer_begin(&w, out)) return error_set(why, "%s", w.error);
    bool good = write_sections(&w, d, model, why);
    writer_end(&w);
    return good;
}

/* ==== reading =================================================================================================== */

/* The array of pre_of, where both sections are there and fit the graph and its features. */
static const int64_t* checked(const dataset* d, error* why)
{
    const ggnn_file* f = &d->file;
    const ggnn_file_section *feat = ggnn_file_find(f, "pre_feat"), *s = ggnn_file_find(f, "pre_of");
    const int64_t* of = ggnn_file_data(f, s);
    if (!feat || !s || s->type != GGNN_FILE_I64 || s->num_dims != 1 || s->dim[0] != 3 || of[0] < 0 || of[0] > PREPROCESS_SAGE) {
        error_set(why, "%s: section 'pre_feat' has no 'pre_of', i64 (3), that says what it is; ggnn-data preprocess makes both",
                  f->path);
        return NULL;
    }
    const int64_t width = preprocess_width(d, (preprocess_model)of[0]);
    if (of[1] != ggnn_file_graph_crc(f) || !d->feat.rows || of[2] != feature_crc(d))
        error_set(why, "%s: section 'pre_feat' was made of another graph or of other features (section 'feat'): "
                  "run ggnn-data preprocess again", f->path);
    else if (feat->type != GGNN_FILE_F32 || feat->num_dims != 2 || feat->dim[0] != d->num_nodes || feat->dim[1] != width)
        error_set(why, "%s: section 'pre_feat' is not f32 (%lld, %lld)", f->path, (long long)d->num_nodes, (long long)width);
    else return of;
    return NULL;
}

bool preprocess_rows(const dataset* d, preprocess_model model, ggnn_store* rows, error* why)
{
    const ggnn_file_section* feat = ggnn_file_find(&d->file, "pre_feat");
    if (!feat)
        return error_set(why, "%s: it has no preprocessed features (section 'pre_feat'): ggnn-data preprocess %s --model %s",
                         d->file.path, d->file.path, model_name[model]);
    const int64_t* of = checked(d, why);
    if (!of) return false;
    if (*of != (int64_t)model)
        return error_set(why, "%s: section 'pre_feat' was made for model %s, not %s", d->file.path, model_name[*of],
                         model_name[model]);
    *rows = ggnn_store_plain(ggnn_file_data(&d->file, feat), d->num_nodes, (int32_t)feat->dim[1], GGNN_F32);
    return true;
}

bool preprocess_check(const dataset* d, error* why)
{
    return (!ggnn_file_find(&d->file, "pre_feat") && !ggnn_file_find(&d->file, "pre_of")) || checked(d, why) != NULL;
}
