/* A graph as GraphSAINT distributes it (Zeng et al. 2020), a folder of
     adj_full.npz    SciPy's matrix of all edges, both directions in it. GraphSAINT takes its data as yes or no: no weights
     adj_train.npz   the edges among training nodes, for inductive training: not read
     feats.npy       (nodes, width), as they are: GraphSAINT standardises them by the training nodes when it loads them
     class_map.json  {"id": class, ...}, ids in any order; a list of 0 and 1 in place of a class is of several labels
     role.json       {"tr": [id, ...], "va": [...], "te": [...]} */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/printable.h"
#include "datasets/graph_arrays.h"
#include "datasets/json_stream.h"
#include "datasets/readers.h"

static bool open_json(json_stream* j, const char* in, const char* name, error* why)
{
    char path[SOURCE_PATH];
    memset(j, 0, sizeof *j);
    return find_file(path, in, name, why) && json_stream_open(j, path, why) && json_stream_begin(j, '{', why);
}

/* ---- classes -------------------------------------------------------------------------------------------------- */

/* After a key: its value may be no list. */
static bool check_class(json_stream* j, const char* key, error* why)
{
    char shown[JSON_STREAM_KEY], place[TEXT_PLACE], where[TEXT_PLACE + 20 + sizeof shown];
    char first = json_stream_peek(j, why);
    if (first != '[') return first != 0;
    snprintf(where, sizeof where, "%s, key \"%s\"", text_place(&j->t, place), printable(shown, sizeof shown, key));
    return builder_multi_label(source_name(j->t.in), where, why);
}

/* Before any edge is read: of what kind is the first node's label? */
static bool check_first_class(const char* in, error* why)
{
    char key[JSON_STREAM_KEY + 4];
    json_stream j;
    int more = open_json(&j, in, "class_map.json", why) ? json_stream_key(&j, key, why) : -1;
    bool ok = more == 0 || (more == 1 && check_class(&j, key, why));
    json_stream_close(&j);
    return ok;
}

/* A node's id as Python prints it: nothing but digits, the first no 0 unless it is the only one. */
static bool parse_node(const char* key, int64_t nodes, int64_t* node)
{
    uint64_t n;
    const char* end = text_digits(key, &n);
    if (!end || *end || end == key || (*key == '0' && key[1])) return false;
    *node = (int64_t)n;
    return *node < nodes;
}

/* value: nan where no class was read so far. */
static bool read_class(builder* b, json_stream* j, const char* key, double* value, error* why)
{
    int64_t node, class;
    char place[TEXT_PLACE], where[SOURCE_PATH + TEXT_PLACE];
    if (!parse_node(key, b->num_nodes, &node)) return json_stream_fail(j, "no node of adj_full.npz", why);
    if (!isnan(value[node])) return json_stream_fail(j, "a node that is there twice", why);
    if (!check_class(j, key, why) || !json_stream_int(j, &class, why)) return false;
    value[node] = (double)class;
    if (!builder_no_class(value[node])) return true;
    snprintf(where, sizeof where, "%s: %s", source_name(j->t.in), text_place(&j->t, place));
    return builder_refuse_class(where, node, value[node], why);
}

static bool read_class_map(builder* b, json_stream* j, double* value, error* why)
{
    char key[JSON_STREAM_KEY + 4];
    int more;
    b->place = source_name(j->t.in);
    for (int64_t v = 0; v < b->num_nodes; v++) value[v] = NAN;
    progress_begin(&b->bar, "reading labels", "B", source_total(j->t.in));
    while ((more = json_stream_key(j, key, why)) == 1 && read_class(b, j, key, value, why))
        progress_update(&b->bar, source_taken(j->t.in));
    progress_end(&b->bar, source_taken(j->t.in), false);
    return more == 0 && json_stream_end(j, why) && builder_add_labels(b, value, why);
}

static bool read_classes(builder* b, const void* in, error* why)
{
    json_stream j;
    double* value = memory_new(memory_product((size_t)b->num_nodes, sizeof *value, 1), "labels", why);
    bool ok = value && open_json(&j, in, "class_map.json", why) && read_class_map(b, &j, value, why);
    if (value) json_stream_close(&j);
    memory_free(value);
    return ok;
}

/* ---- splits --------------------------------------------------------------------------------------------------- */

static bool read_list(builder* b, json_stream* j, int part, error* why)
{
    int more;
    if (!json_stream_begin(j, '[', why)) return false;
    while ((more = json_stream_element(j, why)) == 1) {
        int64_t node;
        if (!json_stream_int(j, &node, why)) return false;
        if (node < 0 || node >= b->num_nodes) return json_stream_fail(j, "no node of adj_full.npz", why);
        if (b->split[node]) return json_stream_fail(j, "a node that is there twice", why);
        if (!builder_mark(b, 0, node, part, why)) return false;
    }
    return more == 0;
}

static bool read_parts(builder* b, json_stream* j, error* why)
{
    static const char* const name[] = {"", "tr", "va", "te"};
    char key[JSON_STREAM_KEY + 4];
    bool seen[4] = {true};
    int more;
    while ((more = json_stream_key(j, key, why)) == 1) {
        int part = 3;
        while (part > 0 && strcmp(key, name[part]) != 0) part--;
        if (part == 0) return json_stream_fail(j, "none of tr, va, te", why);
        if (seen[part]) return json_stream_fail(j, "a part that is there twice", why);
        seen[part] = true;
        if (!read_list(b, j, part, why)) return false;
    }
    if (more < 0 || !json_stream_end(j, why)) return false;
    for (int part = 1; part <= 3; part++)
        if (!seen[part]) return error_set(why, "%s: \"%s\" is missing", source_name(j->t.in), name[part]);
    return true;
}

static bool read_roles(builder* b, const void* in, error* why)
{
    json_stream j;
    bool ok = open_json(&j, in, "role.json", why) && builder_begin_splits(b, 1, why) && read_parts(b, &j, why);
    json_stream_close(&j);
    return ok;
}

/* ---- the folder ----------------------------------------------------------------------------------------------- */

static bool read_features(builder* b, const void* in, error* why)
{
    char path[SOURCE_PATH];
    array a;
    if (!find_file(path, in, "feats.npy", why) || !array_open_file(&a, path, why)) return false;
    bool ok = read_dense_features(b, &a, why);
    array_close(&a);
    return ok;
}

static bool read_graph(builder* b, const char* in, error* why)
{
    char path[SOURCE_PATH], other[SOURCE_PATH];
    error ignored = {""};
    if (!find_file(path, in, "adj_full.npz", why) || !read_scipy_graph(b, path, false, why)) return false;
    if (b->how->report && find_file(other, in, "adj_train.npz", &ignored))
        fprintf(b->how->report, "left out   adj_train.npz, the edges among training nodes: adj_full.npz has them\n");
    return true;
}

bool read_graphsaint(builder* b, const char* in, error* why)
{
    return (!builder_wants_labels(b) || check_first_class(in, why)) && read_graph(b, in, why) &&
           read_nodes(b, read_features, read_classes, read_roles, in, why);
}
