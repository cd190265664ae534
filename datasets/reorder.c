#include "datasets/reorder.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/writer.h"

typedef struct {
    const dataset* data;
    const ggnn_node* rank;
    ggnn_node* order;  /* (N) the node at each rank */
    int64_t* position; /* (E) of each edge, or NULL: edges have no features */
    ggnn_file_writer out;
} job;

static bool writer_fails(job* r, error* why) { return error_set(why, "%s", r->out.error); }

/* out[i] = from[order[i]], rows of so many bytes. */
static void permute(char* out, const char* from, const void* order, bool wide, int64_t n, size_t bytes)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t at = wide ? ((const int64_t*)order)[i] : ((const int32_t*)order)[i];
        memcpy(out + (size_t)i * bytes, from + (size_t)at * bytes, bytes);
    }
}

/* A section that has one row a node or, by_edge, an edge: copied in the new order, where the file has it. */
static bool write_rows(job* r, const char* name, bool by_edge, error* why)
{
    const ggnn_file_section* s = ggnn_file_find(&r->data->file, name);
    const int64_t rows = by_edge ? r->data->num_edges : r->data->num_nodes;
    char* out;
    if (!s) return true;
    out = ggnn_file_reserve(&r->out, name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
    if (!out) return writer_fails(r, why);
    permute(out, ggnn_file_data(&r->data->file, s), by_edge ? (const void*)r->position : r->order,
            by_edge || DATASET_NODE == GGNN_FILE_I64, rows, rows ? (size_t)(s->bytes / rows) : 0);
    return true;
}

static bool write_graph(job* r, error* why)
{
    const dataset* d = r->data;
    const int64_t rows = d->num_nodes + 1;
    ggnn_lists in = {d->num_nodes, d->num_edges, (int64_t*)d->csc.indptr, (ggnn_node*)d->csc.indices, (float*)d->csc.weight,
                     NULL};
    ggnn_lists out = in;
    ggnn_fault fault;
    out.indptr = ggnn_file_reserve(&r->out, "indptr", GGNN_FILE_I64, 1, &rows);
    out.indices = ggnn_file_reserve(&r->out, "indices", DATASET_NODE, 1, &d->num_edges);
    if (d->csc.weight) out.weight = ggnn_file_reserve(&r->out, "weight", GGNN_FILE_F32, 1, &d->num_edges);
    if (!out.indptr || !out.indices || (d->csc.weight && !out.weight)) return writer_fails(r, why);
    out.position = r->position;
    void* seen = memory_new((size_t)d->num_nodes, "nodes seen", why);
    bool good = seen != NULL;
    if (good && ggnn_graph_reorder(&out, &in, r->rank, seen, &fault) != GGNN_OK)
        good = dataset_check_graph(d, why) && dataset_graph_fails(d->file.path, &fault, why); /* the former names the node */
    memory_free(seen);
    void* work = good ? memory_new(ggnn_graph_sort_workspace_bytes(&out), "sorting lists", why) : NULL;
    if (work) ggnn_graph_sort(&out, work);
    memory_free(work);
    return work != NULL;
}

static bool write_splits(job* r, error* why)
{
    const int64_t n = r->data->num_nodes, dim[2] = {r->data->num_splits, n};
    uint8_t* out;
    if (!r->data->split) return true;
    out = ggnn_file_reserve(&r->out, "split", GGNN_FILE_U8, 2, dim);
    if (!out) return writer_fails(r, why);
    for (int64_t s = 0; s < dim[0]; s++)
        permute((char*)out + s * n, (const char*)r->data->split + s * n, r->order, DATASET_NODE == GGNN_FILE_I64, n, 1);
    return true;
}

static bool write_external_names(job* r, error* why)
{
    const dataset* d = r->data;
    const int64_t ends = d->num_nodes + 1;
    char* out = ggnn_file_reserve(&r->out, "external_name", GGNN_FILE_U8, 1, &d->name_bytes);
    int64_t* at = out ? ggnn_file_reserve(&r->out, "external_at", GGNN_FILE_I64, 1, &ends) : NULL;
    if (!at) return writer_fails(r, why);
    for (int64_t i = 0; i < d->num_nodes; i++) {
        const int64_t from = d->name_at[r->order[i]], bytes = d->name_at[r->order[i] + 1] - from;
        memcpy(out + at[i], d->name + from, (size_t)bytes);
        at[i + 1] = at[i] + bytes;
    }
    return true;
}

static bool write_names(job* r, error* why)
{
    const int64_t n = r->data->num_nodes;
    if (r->data->name && !write_external_names(r, why)) return false;
    if (r->data->name && !r->data->external_id) return true;
    int64_t* out = ggnn_file_reserve(&r->out, "external_id", GGNN_FILE_I64, 1, &n);
    if (!out) return writer_fails(r, why);
    for (int64_t i = 0; i < n; i++) out[i] = r->data->external_id ? r->data->external_id[r->order[i]] : (int64_t)r->order[i];
    return true;
}

/* What number each node had before any reorder. */
static bool write_old_ids(job* r, error* why)
{
    const int64_t n = r->data->num_nodes;
    int64_t* out = ggnn_file_reserve(&r->out, "old_id", GGNN_FILE_I64, 1, &n);
    if (!out) return writer_fails(r, why);
    for (int64_t i = 0; i < n; i++) out[i] = r->data->old_id ? r->data->old_id[r->order[i]] : (int64_t)r->order[i];
    return true;
}

static bool write_all(job* r, error* why)
{
    const ggnn_file_section* rule = ggnn_file_find(&r->data->file, "features_only"); /* of all nodes: it stays */
    return write_graph(r, why) && write_rows(r, "feat", false, why) && write_rows(r, "edge_feat", true, why) &&
           write_rows(r, "label", false, why) && write_splits(r, why) && write_names(r, why) && write_old_ids(r, why) &&
           (!rule || ggnn_file_copy(&r->out, &r->data->file, rule) || writer_fails(r, why));
}

static bool write_file(job* r, const char* out, error* why)
{
    const dataset* d = r->data;
    const bool edges = d->edge_feat.rows != NULL;
    bool good;
    r->order = memory_new((size_t)d->num_nodes * sizeof *r->order, "the order of nodes", why);
    if (edges) r->position = memory_new((size_t)d->num_edges * sizeof *r->position, "positions of edges", why);
    if (!r->order || (edges && !r->position)) return false;
    for (int64_t v = 0; v < d->num_nodes; v++) r->order[r->rank[v]] = (ggnn_node)v;
    good = writer_begin(&r->out, out) || writer_fails(r, why);
    good = good && write_all(r, why) && (ggnn_file_commit(&r->out) || writer_fails(r, why));
    writer_end(&r->out);
    return good;
}

bool reorder_write(const char* out, const dataset* d, const ggnn_node* rank, error* why)
{
    job r = {.data = d, .rank = rank};
    const bool good = write_file(&r, out, why);
    memory_free(r.order);
    memory_free(r.position);
    return good;
}
