#include "datasets/plan_file.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/same_file.h"
#include "datasets/writer.h"

bool plan_file_name(const char** out, char beside[PLAN_FILE_NAME], const char* graph, const char* ending, error* why)
{
    const int length = snprintf(beside, PLAN_FILE_NAME, "%s.%s", graph, ending);
    if (!*out && length >= PLAN_FILE_NAME) return error_set(why, "%s: the name is too long for one with .%s", graph, ending);
    if (!*out) *out = beside;
    return same_file(*out, graph) ? error_set(why, "--out %s: that is the graph itself", *out) : true;
}

static bool write_common(ggnn_file_writer* w, const dataset* d, const char* made_by)
{
    const int64_t one = 1, length = (int64_t)strlen(made_by), crc = dataset_graph_crc(d);
    return ggnn_file_append(w, "graph_crc", GGNN_FILE_I64, 1, &one, &crc) &&
           ggnn_file_append(w, "made_by", GGNN_FILE_U8, 1, &length, made_by);
}

static bool finish(ggnn_file_writer* w, bool good, error* why)
{
    good = (good && ggnn_file_commit(w)) || error_set(why, "%s", w->error);
    writer_end(w);
    return good;
}

bool ranking_write(const char* path, const dataset* d, const char* made_by, const ggnn_node* rows,
                   const ggnn_node* lists, const int64_t* cached, const int64_t* budget, error* why)
{
    const int64_t one = 1, two = 2;
    ggnn_file_writer w;
    bool good = writer_begin(&w, path) && write_common(&w, d, made_by) &&
                ggnn_file_append(&w, "rank_rows", DATASET_NODE, 1, &d->num_nodes, rows) &&
                ggnn_file_append(&w, "rank_lists", DATASET_NODE, 1, &d->num_nodes, lists) &&
                (!cached || ggnn_file_append(&w, "cached", GGNN_FILE_I64, 1, &two, cached)) &&
                (!budget || ggnn_file_append(&w, "budget", GGNN_FILE_I64, 1, &one, budget));
    return finish(&w, good, why);
}

bool partition_write(const char* path, const dataset* d, const char* made_by, const int32_t* owner, int32_t parts,
                     error* why)
{
    const int64_t one = 1, count = parts;
    ggnn_file_writer w;
    bool good = writer_begin(&w, path) && write_common(&w, d, made_by) &&
                ggnn_file_append(&w, "owner", GGNN_FILE_I32, 1, &d->num_nodes, owner) &&
                ggnn_file_append(&w, "parts", GGNN_FILE_I64, 1, &one, &count);
    return finish(&w, good, why);
}

/* The section's array of that type and length; NULL with a message where it is something else. */
static const void* array_of(ggnn_file* f, const char* name, ggnn_file_type type, int64_t length, error* why)
{
    const ggnn_file_section* s = ggnn_file_need(f, name, type, 1);
    if (s && s->dim[0] == length) return ggnn_file_data(f, s);
    if (s) error_set(why, "%s: section '%s' has %lld entries, not %lld", f->path, name, (long long)s->dim[0], (long long)length);
    else error_set(why, "%s", f->error);
    return NULL;
}

static bool open_common(ggnn_file* f, const char* path, const dataset* d, error* why)
{
    const int64_t* crc;
    if (!ggnn_file_open(f, path)) return error_set(why, "%s", f->error);
    crc = array_of(f, "graph_crc", GGNN_FILE_I64, 1, why);
    if (!crc) return false;
    if (*crc == dataset_graph_crc(d)) return true;
    return error_set(why, "%s: it belongs to another graph: that has CRC %08llx, %s has %08llx", path, (unsigned long long)*crc,
                     d->file.path, (unsigned long long)dataset_graph_crc(d));
}

static bool check_rank(const ggnn_file* f, const char* name, const ggnn_node* rank, int64_t n, error* why)
{
    uint8_t* seen = memory_new((size_t)n, "ranks seen", why);
    bool good = seen != NULL;
    for (int64_t v = 0; good && v < n; v++) {
        if (rank[v] < 0 || rank[v] >= n || seen[rank[v]])
            good = error_set(why, "%s: section '%s': node %lld has rank %lld, which is %s", f->path, name, (long long)v,
                             (long long)rank[v], rank[v] < 0 || rank[v] >= n ? "outside [0, N)" : "another node's");
        else seen[rank[v]] = 1;
    }
    memory_free(seen);
    return good;
}

/* How the file was made. A longer word than there is room for is none that is asked for. */
static void read_maker(ranking* r)
{
    const ggnn_file_section* s = ggnn_file_find(&r->file, "made_by");
    if (s && s->type == GGNN_FILE_U8 && s->bytes < (int64_t)sizeof r->made_by)
        memcpy(r->made_by, ggnn_file_data(&r->file, s), (size_t)s->bytes);
}

bool ranking_open(ranking* r, const char* path, const dataset* d, error* why)
{
    const int64_t n = d->num_nodes;
    memset(r, 0, sizeof *r);
    if (open_common(&r->file, path, d, why) && (r->rows = array_of(&r->file, "rank_rows", DATASET_NODE, n, why)) &&
        (r->lists = array_of(&r->file, "rank_lists", DATASET_NODE, n, why)) &&
        (!ggnn_file_find(&r->file, "cached") || (r->cached = array_of(&r->file, "cached", GGNN_FILE_I64, 2, why))) &&
        (!ggnn_file_find(&r->file, "budget") || (r->budget = array_of(&r->file, "budget", GGNN_FILE_I64, 1, why))) &&
        check_rank(&r->file, "rank_rows", r->rows, n, why) && check_rank(&r->file, "rank_lists", r->lists, n, why)) {
        read_maker(r);
        if (!r->cached || (r->cached[0] >= 0 && r->cached[0] <= n && r->cached[1] >= 0 && r->cached[1] <= n)) return true;
        error_set(why, "%s: section 'cached': more rows or lists than nodes", path);
    }
    ranking_close(r);
    return false;
}

void ranking_close(ranking* r)
{
    ggnn_file_close(&r->file);
    memset(r, 0, sizeof *r);
}

bool partition_open(partition* p, const char* path, const dataset* d, error* why)
{
    const int64_t* parts = NULL;
    bool good;
    memset(p, 0, sizeof *p);
    good = open_common(&p->file, path, d, why) && (parts = array_of(&p->file, "parts", GGNN_FILE_I64, 1, why)) &&
           (p->owner = array_of(&p->file, "owner", GGNN_FILE_I32, d->num_nodes, why));
    if (good && (*parts < 1 || *parts > GGNN_PARTS_MAX))
        good = error_set(why, "%s: %lld parts, not 1 to %d", path, (long long)*parts, GGNN_PARTS_MAX);
    for (int64_t v = 0; good && v < d->num_nodes; v++)
        if (p->owner[v] < -1 || p->owner[v] >= *parts)
            good = error_set(why, "%s: section 'owner': node %lld is part %d's, of %lld", path, (long long)v, p->owner[v], (long long)*parts);
    if (good) p->parts = (int32_t)*parts;
    else partition_close(p);
    return good;
}

void partition_close(partition* p)
{
    ggnn_file_close(&p->file);
    memset(p, 0, sizeof *p);
}

bool partition_read(int32_t* owner, const char* path, const dataset* d, int32_t devices, error* why)
{
    partition p;
    if (!partition_open(&p, path, d, why)) return false;
    const bool good = p.parts == devices;
    if (good) memcpy(owner, p.owner, (size_t)d->num_nodes * sizeof *owner);
    else error_set(why, "%s: it has %d parts, here are %d devices: give it --devices %d, or make one by ggnn-data partition --parts %d",
                   path, (int)p.parts, (int)devices, (int)p.parts, (int)devices);
    partition_close(&p);
    return good;
}
