#include "dataset.h"

#include <string.h>

#include "ggnn_plan.h"

/* Room for every id of num_nodes nodes, and for adding one to it, in the width of this build? */
static bool ids_fit(int64_t num_nodes) { return DATASET_NODE == GGNN_FILE_I64 || num_nodes <= INT32_MAX; }

static bool wrong_shape(const dataset* d, const ggnn_file_section* s, const char* wanted, error* why)
{
    char shape[100];
    size_t used = 0;
    for (uint32_t i = 0; i < s->num_dims; i++)
        used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%lld", i ? ", " : "", (long long)s->dim[i]);
    return error_set(why, "%s: section '%s' at offset %lld is %s (%s), not %s for N = %lld, E = %lld", d->file.path,
                     s->name, (long long)s->offset, ggnn_file_type_name(s->type), shape, wanted,
                     (long long)d->num_nodes, (long long)d->num_edges);
}

/* Is s an array of a type with rows of the given number along one dimension? */
static bool has_shape(const ggnn_file_section* s, ggnn_file_type type, uint32_t num_dims, uint32_t which,
                      int64_t rows)
{
    return s->type == (uint32_t)type && s->num_dims == num_dims && s->dim[which] == rows;
}

static bool open_graph(dataset* d, error* why)
{
    const ggnn_file_section* indptr = ggnn_file_need(&d->file, "indptr", GGNN_FILE_I64, 1);
    const ggnn_file_section* indices = ggnn_file_find(&d->file, "indices");
    if (!indptr) return error_set(why, "%s", d->file.error);
    if (!indices) return error_set(why, "%s: it has no section 'indices'", d->file.path);
    d->num_nodes = indptr->dim[0] - 1;
    d->num_edges = indices->dim[0];
    if (d->num_nodes < 0) return wrong_shape(d, indptr, "i64 (N + 1)", why);
    if (indices->num_dims != 1 || (indices->type != GGNN_FILE_I32 && indices->type != GGNN_FILE_I64))
        return wrong_shape(d, indices, "i32 or i64 (E)", why);
    if (indices->type != DATASET_NODE)
        return error_set(why,
                         "%s: section 'indices' at offset %lld holds %s-bit ids, this program reads %s-bit ones: %s",
                         d->file.path, (long long)indices->offset, DATASET_NODE == GGNN_FILE_I32 ? "64" : "32",
                         DATASET_NODE == GGNN_FILE_I32 ? "32" : "64",
                         DATASET_NODE == GGNN_FILE_I32 ? "`make NODE64=1` builds one that does, in build64/"
                                                       : "take the one that plain `make` builds, in build/");
    if (!ids_fit(d->num_nodes))
        return error_set(why, "%s: %lld nodes do not fit 32-bit ids: `make NODE64=1`", d->file.path,
                         (long long)d->num_nodes);
    d->csc.indptr = ggnn_file_data(&d->file, indptr);
    d->csc.indices = ggnn_file_data(&d->file, indices);
    d->csc.num_edges = d->num_edges;
    return true;
}

static bool open_rows(dataset* d, const char* name, int64_t num_rows, dataset_rows* rows, error* why)
{
    const ggnn_file_section* s = ggnn_file_find(&d->file, name);
    if (!s) return true;
    if (!has_shape(s, GGNN_FILE_F32, 2, 0, num_rows) && !has_shape(s, GGNN_FILE_F16, 2, 0, num_rows))
        return wrong_shape(d, s, rows != &d->feat ? "f32 or f16 (E, F)" : d->part.parts ? "f32 or f16 (rows of the part, F)"
                                 : "f32 or f16 (N, F)", why);
    if (s->dim[1] < 1 || s->dim[1] > DATASET_MAX_WIDTH)
        return error_set(why, "%s: section '%s' is %lld wide, not 1 to %d", d->file.path, name, (long long)s->dim[1],
                         DATASET_MAX_WIDTH);
    rows->rows = ggnn_file_data(&d->file, s);
    rows->type = s->type == GGNN_FILE_F32 ? GGNN_F32 : GGNN_F16;
    rows->width = (int32_t)s->dim[1];
    return true;
}

static bool open_label(dataset* d, error* why)
{
    const ggnn_file_section* s = ggnn_file_find(&d->file, "label");
    if (!s) return true;
    if (has_shape(s, GGNN_FILE_I32, 1, 0, d->num_nodes))
        d->label = ggnn_file_data(&d->file, s);
    else if (has_shape(s, GGNN_FILE_F32, 1, 0, d->num_nodes))
        d->target = ggnn_file_data(&d->file, s);
    else
        return wrong_shape(d, s, "i32 or f32 (N)", why);
    return true;
}

static bool open_names(dataset* d, error* why)
{
    const ggnn_file_section *name = ggnn_file_find(&d->file, "external_name"), *at = ggnn_file_find(&d->file, "external_at");
    if (!name != !at) return error_set(why, "%s: of the sections 'external_name' and 'external_at' it has one alone", d->file.path);
    if (name && (name->num_dims != 1 || name->type != GGNN_FILE_U8)) return wrong_shape(d, name, "u8 (bytes)", why);
    if (at && !has_shape(at, GGNN_FILE_I64, 1, 0, d->num_nodes + 1)) return wrong_shape(d, at, "i64 (N + 1)", why);
    d->name = ggnn_file_data(&d->file, name);
    d->name_at = ggnn_file_data(&d->file, at);
    d->name_bytes = name ? name->dim[0] : 0;
    return true;
}

static bool open_others(dataset* d, error* why)
{
    const ggnn_file_section* weight = ggnn_file_find(&d->file, "weight");
    const ggnn_file_section* split = ggnn_file_find(&d->file, "split");
    const ggnn_file_section *external = ggnn_file_find(&d->file, "external_id"), *old = ggnn_file_find(&d->file, "old_id");
    if (weight && !has_shape(weight, GGNN_FILE_F32, 1, 0, d->num_edges))
        return wrong_shape(d, weight, "f32 (E)", why);
    if (split && (!has_shape(split, GGNN_FILE_U8, 2, 1, d->num_nodes) || split->dim[0] > DATASET_MAX_SPLITS))
        return wrong_shape(d, split, "u8 (S, N), S up to 1000,", why);
    if (external && !has_shape(external, GGNN_FILE_I64, 1, 0, d->num_nodes))
        return wrong_shape(d, external, "i64 (N)", why);
    if (old && !has_shape(old, GGNN_FILE_I64, 1, 0, d->num_nodes)) return wrong_shape(d, old, "i64 (N)", why);
    d->csc.weight = ggnn_file_data(&d->file, weight);
    d->split = ggnn_file_data(&d->file, split);
    d->num_splits = split ? (int32_t)split->dim[0] : 0;
    d->external_id = ggnn_file_data(&d->file, external);
    d->old_id = ggnn_file_data(&d->file, old);
    return open_names(d, why);
}

/* A section of a part that must be there, with so many entries. */
static const void* part_array(dataset* d, const char* name, ggnn_file_type type, int64_t length, error* why)
{
    const ggnn_file_section* s = ggnn_file_need(&d->file, name, type, 1);
    if (s && s->dim[0] == length) return ggnn_file_data(&d->file, s);
    if (!s) error_set(why, "%s: a part: %s", d->file.path, d->file.error);
    else error_set(why, "%s: a part: section '%s' has %lld entries, not %lld", d->file.path, name, (long long)s->dim[0], (long long)length);
    return NULL;
}

static bool open_part(dataset* d, error* why)
{
    const ggnn_file_section* ids = ggnn_file_find(&d->file, "part_id");
    dataset_part* p = &d->part;
    const int64_t* of;
    if (!ggnn_file_find(&d->file, "part_of")) return true;
    if (!(of = part_array(d, "part_of", GGNN_FILE_I64, 7, why))) return false;
    if (of[4] < 1 || of[4] > GGNN_PARTS_MAX || of[3] < 0 || of[3] >= of[4] || of[5] < 0 || of[5] > GGNN_HOPS_MAX)
        return error_set(why, "%s: section 'part_of': part %lld of %lld with %lld hops: parts are 1 to %d, hops 0 to %d", d->file.path,
                         (long long)of[3], (long long)of[4], (long long)of[5], GGNN_PARTS_MAX, GGNN_HOPS_MAX);
    *p = (dataset_part){.number = (int32_t)of[3], .parts = (int32_t)of[4], .hops = (int32_t)of[5], .graph_crc = of[0],
                        .feat_crc = of[1], .weight_crc = of[2], .edge_feat_crc = of[6], .num_rows = ids ? ids->dim[0] : 0};
    return (p->id = part_array(d, "part_id", DATASET_NODE, p->num_rows, why)) &&
           (p->degree = part_array(d, "part_degree", GGNN_FILE_I64, p->num_rows, why)) &&
           (p->held = part_array(d, "part_held", GGNN_FILE_I64, p->parts + 1, why)) &&
           (p->owner = part_array(d, "owner", GGNN_FILE_I32, d->num_nodes, why));
}

bool dataset_open_any(dataset* d, const char* path, error* why)
{
    memset(d, 0, sizeof *d);
    if (!ggnn_file_open(&d->file, path)) return error_set(why, "%s", d->file.error);
    if (open_graph(d, why) && open_part(d, why) && open_rows(d, "feat", dataset_num_rows(d), &d->feat, why) &&
        open_rows(d, "edge_feat", d->num_edges, &d->edge_feat, why) && open_label(d, why) && open_others(d, why))
        return true;
    dataset_close(d);
    return false;
}

bool dataset_open(dataset* d, const char* path, error* why)
{
    if (!dataset_open_any(d, path, why)) return false;
    if (!d->part.parts) return true;
    error_set(why, "%s: it has part %d of %d of a graph alone, and this needs the whole graph: the file that ggnn-data partition "
                   "--extract was given. A part can be trained on", path, (int)d->part.number, (int)d->part.parts);
    dataset_close(d);
    return false;
}

int64_t dataset_graph_crc(const dataset* d) { return d->part.parts ? d->part.graph_crc : ggnn_file_graph_crc(&d->file); }

int64_t dataset_section_crc(const dataset* d, const char* section)
{
    const ggnn_file_section* s = ggnn_file_find(&d->file, section);
    if (d->part.parts && strcmp(section, "feat") == 0) return d->part.feat_crc;
    if (d->part.parts && strcmp(section, "weight") == 0) return d->part.weight_crc;
    if (d->part.parts && strcmp(section, "edge_feat") == 0) return d->part.edge_feat_crc;
    return s ? (int64_t)s->crc : -1;
}

int64_t dataset_num_rows(const dataset* d) { return d->part.parts ? d->part.num_rows : d->num_nodes; }

void dataset_close(dataset* d)
{
    ggnn_file_close(&d->file);
    memset(d, 0, sizeof *d);
}

ggnn_graph dataset_graph(const dataset* d)
{
    return ggnn_graph_plain(d->csc.indptr, d->csc.indices, d->csc.weight, d->num_nodes, d->num_edges);
}

ggnn_store dataset_features(const dataset* d)
{
    return ggnn_store_plain(d->feat.rows, d->num_nodes, d->feat.width, d->feat.type);
}

ggnn_store dataset_edge_features(const dataset* d)
{
    return ggnn_store_plain(d->edge_feat.rows, d->num_edges, d->edge_feat.width, d->edge_feat.type);
}

bool dataset_graph_fails(const char* path, const ggnn_fault* fault, error* why)
{
    return error_set(why, "%s: node %lld: %s", path, (long long)fault->node, fault->what);
}

bool dataset_check_graph(const dataset* d, error* why)
{
    ggnn_graph g = dataset_graph(d);
    ggnn_fault fault;
    char place[80] = "";
    size_t used = 0;
    if (ggnn_graph_validate(&g, &fault) == GGNN_OK) return true;
    if (fault.node >= 0) used = (size_t)snprintf(place, sizeof place, ", node %lld", (long long)fault.node);
    if (fault.edge >= 0) snprintf(place + used, sizeof place - used, ", edge %lld", (long long)fault.edge);
    return error_set(why, "%s: sections 'indptr' and 'indices'%s: %s%s", d->file.path,
                     d->csc.weight ? " and 'weight'" : "", fault.what, place);
}

bool dataset_check_sections(dataset* d, bool graph_alone, error* why)
{
    static const char* const name[] = {"indptr", "indices", "weight", "feat", "edge_feat", "label", "split", "external_id",
                                       "old_id", "external_name", "external_at"};
    const size_t count = graph_alone ? 3 : sizeof name / sizeof *name;
    for (size_t i = 0; i < count; i++) {
        const ggnn_file_section* s = ggnn_file_find(&d->file, name[i]);
        if (s && !ggnn_file_check(&d->file, s)) return error_set(why, "%s", d->file.error);
    }
    return graph_alone || dataset_check_names(d, why);
}

bool dataset_nodes_by_old_id(const dataset* d, ggnn_node* node, error* why)
{
    for (int64_t i = 0; i < d->num_nodes; i++) node[i] = (ggnn_node)(d->old_id ? -1 : i);
    for (int64_t v = 0; d->old_id && v < d->num_nodes; v++) {
        const int64_t old = d->old_id[v];
        if (old < 0 || old >= d->num_nodes || node[old] >= 0)
            return error_set(why, "%s: section 'old_id': %lld, of node %lld, is no node's number or another's, too",
                             d->file.path, (long long)old, (long long)v);
        node[old] = (ggnn_node)v;
    }
    return true;
}

bool dataset_is_name(const char* name, int64_t length)
{
    if (length < 1 || name[0] == '#' || name[0] == '%') return false;
    for (int64_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)name[i];
        if (c <= ' ' || c == 127 || c == ',' || c == '"') return false;
    }
    return true;
}

bool dataset_check_names(const dataset* d, error* why)
{
    const int64_t* at = d->name_at;
    if (!at) return true;
    if (at[0] != 0 || at[d->num_nodes] != d->name_bytes)
        return error_set(why, "%s: section 'external_at' goes from %lld to %lld, there are %lld bytes of names", d->file.path, (long long)at[0],
                         (long long)at[d->num_nodes], (long long)d->name_bytes);
    for (int64_t v = 0; v < d->num_nodes; v++)
        if (at[v + 1] > d->name_bytes || !dataset_is_name(d->name + at[v], at[v + 1] - at[v]))
            return error_set(why, "%s: section 'external_name': what node %lld is called, [%lld, %lld), is no name", d->file.path, (long long)v,
                             (long long)at[v], (long long)at[v + 1]);
    return true;
}

void dataset_put_name(const dataset* d, int64_t v, FILE* out)
{
    fwrite(d->name + d->name_at[v], 1, (size_t)(d->name_at[v + 1] - d->name_at[v]), out);
}

bool dataset_count(dataset* d, error* why)
{
    int32_t most = -1;
    for (int64_t v = 0; d->label && v < d->num_nodes; v++) {
        if (d->label[v] < -1 || d->label[v] >= DATASET_MAX_CLASSES)
            return error_set(why, "%s: section 'label': node %lld has label %ld, not within -1 and %d", d->file.path,
                             (long long)v, (long)d->label[v], DATASET_MAX_CLASSES - 1);
        if (d->label[v] > most) most = d->label[v];
    }
    d->num_classes = most + 1;
    return true;
}

const uint8_t* dataset_split(const dataset* d, int32_t s, int64_t count[4], error* why)
{
    const uint8_t* split;
    memset(count, 0, 4 * sizeof count[0]);
    if (s < 0 || s >= d->num_splits) {
        error_set(why, "%s: it has %d splits, number %d (from 0) is not one", d->file.path, d->num_splits, s);
        return NULL;
    }
    split = d->split + s * d->num_nodes;
    for (int64_t v = 0; v < d->num_nodes; v++) {
        if (split[v] > SPLIT_TEST) {
            error_set(why, "%s: section 'split': node %lld has value %d in split %d, not within 0 and 3",
                      d->file.path, (long long)v, split[v], s);
            return NULL;
        }
        count[split[v]]++;
    }
    return split;
}

int64_t dataset_split_ids(const dataset* d, int32_t s, int part, ggnn_node* ids)
{
    const uint8_t* split = d->split + s * d->num_nodes;
    int64_t count = 0;
    for (int64_t v = 0; v < d->num_nodes; v++)
        if (split[v] == part) ids[count++] = (ggnn_node)v;
    return count;
}
