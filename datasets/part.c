#include "datasets/part.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/writer.h"
#include "ggnn_plan.h"

/* ==== writing =================================================================================================== */

enum { OUTSIDE, ROW_ALONE, WITH_LIST }; /* of a node's mark */

typedef struct {
    const part_plan* plan;
    const uint8_t* mark; /* (N) */
    int64_t edges;
} cut;

static void mark_nodes(uint8_t* mark, cut* c)
{
    const part_plan* p = c->plan;
    const int64_t* indptr = p->of->csc.indptr;
    for (int64_t i = 0; i < p->held; i++) mark[p->list[i]] = i < p->inner ? WITH_LIST : ROW_ALONE;
    for (int64_t i = 0; i < p->inner; i++) c->edges += indptr[p->list[i] + 1] - indptr[p->list[i]];
    c->mark = mark;
}

/* Rows of `bytes` each by position, of the lists that stay. */
static bool write_by_edge(ggnn_file_writer* w, const cut* c, const char* name, const void* from, ggnn_file_type type, int32_t dims,
                          int64_t width)
{
    const dataset* d = c->plan->of;
    const int64_t dim[2] = {c->edges, width}, row = width * ggnn_file_type_bytes(type);
    if (!from) return true;
    char* to = ggnn_file_reserve(w, name, type, dims, dim);
    for (int64_t v = 0; to && v < d->num_nodes; v++) {
        const int64_t begin = d->csc.indptr[v], bytes = (d->csc.indptr[v + 1] - begin) * row;
        if (c->mark[v] != WITH_LIST || !bytes) continue;
        memcpy(to, (const char*)from + begin * row, (size_t)bytes);
        to += bytes;
    }
    return to != NULL;
}

static bool write_lists(ggnn_file_writer* w, const cut* c)
{
    const dataset* d = c->plan->of;
    const int64_t rows = d->num_nodes + 1;
    int64_t* indptr = ggnn_file_reserve(w, "indptr", GGNN_FILE_I64, 1, &rows);
    for (int64_t v = 0; indptr && v < d->num_nodes; v++)
        indptr[v + 1] = indptr[v] + (c->mark[v] == WITH_LIST ? d->csc.indptr[v + 1] - d->csc.indptr[v] : 0);
    return indptr && write_by_edge(w, c, "indices", d->csc.indices, DATASET_NODE, 1, 1) &&
           write_by_edge(w, c, "weight", d->csc.weight, GGNN_FILE_F32, 1, 1) &&
           write_by_edge(w, c, "edge_feat", d->edge_feat.rows, d->edge_feat.type == GGNN_F32 ? GGNN_FILE_F32 : GGNN_FILE_F16, 2,
                         d->edge_feat.width);
}

static bool write_rows(ggnn_file_writer* w, const cut* c)
{
    const part_plan* p = c->plan;
    const dataset* d = p->of;
    const ggnn_store rows = dataset_features(d);
    const int64_t dim[2] = {p->held, rows.width};
    ggnn_node* id = ggnn_file_reserve(w, "part_id", DATASET_NODE, 1, &p->held);
    int64_t *degree = ggnn_file_reserve(w, "part_degree", GGNN_FILE_I64, 1, &p->held), next = 0;
    for (int64_t v = 0; id && degree && v < d->num_nodes; v++) {
        if (c->mark[v] == OUTSIDE) continue;
        degree[next] = d->csc.indptr[v + 1] - d->csc.indptr[v];
        id[next++] = (ggnn_node)v;
    }
    if (!id || !degree) return false;
    if (!d->feat.rows) return true;
    void* out = ggnn_file_reserve(w, "feat", rows.type == GGNN_F32 ? GGNN_FILE_F32 : GGNN_FILE_F16, 2, dim);
    return out && ggnn_gather(out, rows.width, rows.type, &rows, id, p->held) == GGNN_OK;
}

static bool write_whole(ggnn_file_writer* w, const part_plan* p)
{
    static const char* const name[] = {"label", "split"};
    const ggnn_file* f = &p->of->file;
    const int64_t of[7] = {ggnn_file_graph_crc(f), dataset_section_crc(p->of, "feat"), dataset_section_crc(p->of, "weight"),
                           p->number, p->parts, p->hops, dataset_section_crc(p->of, "edge_feat")};
    const int64_t seven = 7, counts = p->parts + 1;
    for (int i = 0; i < 2; i++) {
        const ggnn_file_section* s = ggnn_file_find(f, name[i]);
        if (s && !ggnn_file_copy(w, f, s)) return false;
    }
    return ggnn_file_append(w, "part_of", GGNN_FILE_I64, 1, &seven, of) &&
           ggnn_file_append(w, "part_held", GGNN_FILE_I64, 1, &counts, p->all) &&
           ggnn_file_append(w, "owner", GGNN_FILE_I32, 1, &p->of->num_nodes, p->owner);
}

bool part_write(const char* path, const part_plan* p, int64_t* bytes, error* why)
{
    ggnn_file_writer w;
    cut c = {p, NULL, 0};
    uint8_t* mark = memory_new((size_t)p->of->num_nodes, "nodes of a part", why);
    if (!mark) return false;
    mark_nodes(mark, &c);
    bool good = writer_begin(&w, path) && write_lists(&w, &c) && write_rows(&w, &c) && write_whole(&w, p);
    *bytes = w.end;
    good = (good && ggnn_file_commit(&w)) || error_set(why, "%s", w.error);
    writer_end(&w);
    memory_free(mark);
    return good;
}

/* ==== reading =================================================================================================== */

static bool has_list(const dataset* d, const ggnn_node* rank, int64_t v)
{
    return rank[v] < d->part.num_rows && d->csc.indptr[v + 1] - d->csc.indptr[v] == d->part.degree[rank[v]];
}

static bool check_nodes(const dataset* d, ggnn_node* rank, error* why)
{
    const dataset_part* p = &d->part;
    for (int64_t v = 0; v < d->num_nodes; v++) rank[v] = (ggnn_node)p->num_rows;
    for (int64_t i = 0; i < p->num_rows; i++) {
        if (p->id[i] < 0 || p->id[i] >= d->num_nodes || (i && p->id[i] <= p->id[i - 1]))
            return error_set(why, "%s: section 'part_id': entry %lld is node %lld: ids within 0 and %lld ascend", d->file.path,
                             (long long)i, (long long)p->id[i], (long long)d->num_nodes - 1);
        rank[p->id[i]] = (ggnn_node)i;
    }
    for (int64_t i = 0, sum = 0; i < p->num_rows; i++) {
        if (p->degree[i] < 0 || p->degree[i] > INT64_MAX / 2 - sum)
            return error_set(why, "%s: section 'part_degree': node %lld has %lld in-edges", d->file.path, (long long)p->id[i],
                             (long long)p->degree[i]);
        sum += p->degree[i];
    }
    for (int64_t v = 0; v < d->num_nodes; v++)
        if (p->owner[v] < -1 || p->owner[v] >= p->parts)
            return error_set(why, "%s: section 'owner': node %lld is part %d's, of %d", d->file.path, (long long)v,
                             (int)p->owner[v], (int)p->parts);
    return true;
}

/* A list is whole or empty, and its sources have rows. */
static bool check_lists(const dataset* d, const ggnn_node* rank, error* why)
{
    const int64_t* indptr = d->csc.indptr;
    for (int64_t v = 0; v < d->num_nodes; v++) {
        if (indptr[v] != indptr[v + 1] && !has_list(d, rank, v))
            return error_set(why, "%s: the list of node %lld has %lld edges, which is neither none nor those of the whole graph "
                                  "(section 'part_degree')", d->file.path, (long long)v, (long long)(indptr[v + 1] - indptr[v]));
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++)
            if (rank[d->csc.indices[e]] == d->part.num_rows)
                return error_set(why, "%s: node %lld is a neighbour of node %lld, and the part has no row of it (section 'part_id')",
                                 d->file.path, (long long)d->csc.indices[e], (long long)v);
    }
    return true;
}

/* The nodes of a closure, of which the first `inner` must have their lists. */
static bool check_closure(const dataset* d, const ggnn_node* rank, const ggnn_node* list, int64_t inner, int64_t all,
                          const char* what, error* why)
{
    for (int64_t i = 0; i < all; i++) {
        const bool row = rank[list[i]] < d->part.num_rows;
        if (row && (i >= inner || has_list(d, rank, list[i]))) continue;
        return error_set(why, "%s: %s read %s node %lld, which part %d of %d does not have", d->file.path, what,
                         row ? "the list of" : "the row of", (long long)list[i], (int)d->part.number, (int)d->part.parts);
    }
    return true;
}

bool part_reaches(const dataset* d, const ggnn_node* rank, const ggnn_node* ids, int64_t num_ids, int32_t hops,
                  const char* what, error* why)
{
    const size_t nodes = (size_t)d->num_nodes;
    const ggnn_graph g = dataset_graph(d);
    int64_t bound[GGNN_HOPS_MAX + 2];
    ggnn_fault fault;
    int32_t* owner = memory_new(memory_product(nodes, sizeof *owner, 1), "nodes of a closure", why);
    ggnn_node* list = owner ? memory_new(memory_product(nodes, sizeof *list, 1), "nodes of a closure", why) : NULL;
    void* seen = list ? memory_new(nodes, "nodes of a closure", why) : NULL;
    bool good = seen != NULL;
    if (good && ggnn_partition_closure(list, bound, &g, owner, 0, ids, num_ids, hops, seen, &fault) != GGNN_OK)
        good = dataset_graph_fails(d->file.path, &fault, why);
    good = good && check_closure(d, rank, list, bound[hops], bound[hops + 1], what, why);
    memory_free(seen);
    memory_free(list);
    memory_free(owner);
    return good;
}

bool part_check(const dataset* d, ggnn_node* rank, error* why)
{
    const dataset_part* p = &d->part;
    int64_t count = 0;
    if (!dataset_check_graph(d, why) || !check_nodes(d, rank, why) || !check_lists(d, rank, why)) return false;
    ggnn_node* own = memory_new(memory_product((size_t)d->num_nodes, sizeof *own, 1), "training nodes of a part", why);
    for (int64_t v = 0; own && v < d->num_nodes; v++)
        if (p->owner[v] == p->number) own[count++] = (ggnn_node)v;
    const bool good = own && part_reaches(d, rank, own, count, p->hops, "its training nodes", why);
    memory_free(own);
    return good;
}

ggnn_store part_features(const dataset* d, const ggnn_node* rank, const void* base[3])
{
    ggnn_store rows = dataset_features(d);
    base[0] = rows.rows;
    base[1] = base[2] = NULL;
    rows.rows = NULL;
    rows.base = base;
    rows.at = (ggnn_layout){.rank = rank, .stored = d->part.num_rows, .parts = 1};
    return rows;
}

void part_degrees(int64_t* indptr, const dataset* d, const ggnn_node* rank)
{
    indptr[0] = 0;
    for (int64_t v = 0; v < d->num_nodes; v++)
        indptr[v + 1] = indptr[v] + (rank[v] < d->part.num_rows ? d->part.degree[rank[v]] : 0);
}
