#include "trainer/store/owners.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/ggnn_file.h"
#include "datasets/plan_file.h"

/* Training nodes alone may have an owner so far. */
static bool divide_others(int32_t* owner, const ggnn_graph* g, dataset* of, int32_t parts, error* why)
{
    bool all = true;
    for (int64_t v = 0; v < g->num_nodes; v++) all = all && owner[v] >= 0;
    if (all) return true;
    if (!dataset_check_graph(of, why)) return false;
    ggnn_node* queue = memory_new(memory_product((size_t)g->num_nodes, sizeof *queue, 1), "nodes without an owner", why);
    if (queue) divide_rest(owner, queue, g, parts);
    memory_free(queue);
    return queue != NULL;
}

static bool lay_out(node_owners* o, const int32_t* owner, int64_t num_nodes, int32_t parts, error* why)
{
    ggnn_fault fault;
    if (ggnn_layout_owners(&o->at, o->rank, o->bound, GGNN_OWNER_MAP, owner, num_nodes, parts, &fault) != GGNN_OK)
        return error_set(why, "owners by %s: node %lld: %s", o->method, (long long)fault.node, fault.what);
    for (int32_t p = 0; p < parts; p++)
        if (o->bound[p + 1] - o->bound[p] > o->most) o->most = o->bound[p + 1] - o->bound[p];
    o->crc = ggnn_file_crc32c(0, owner, num_nodes * (int64_t)sizeof *owner);
    return true;
}

static bool open_owners(node_owners* o, const ggnn_graph* g, int32_t parts, error* why)
{
    const size_t N = (size_t)g->num_nodes;
    o->rank = memory_new(memory_product(N, sizeof *o->rank, 1), "owners of nodes", why);
    o->bound = o->rank ? memory_new(((size_t)parts + 1) * sizeof *o->bound, "owners of nodes", why) : NULL;
    return o->bound != NULL;
}

bool owners_open(node_owners* o, const ggnn_graph* g, const divide_how* how, const char* file, dataset* of, error* why)
{
    int64_t cut;
    *o = (node_owners){.method = file ? file : divide_name[how->by]};
    if (how->parts > GGNN_PARTS_MAX)
        return error_set(why, "--parallel split: %d devices at most, here are %d", GGNN_PARTS_MAX, (int)how->parts);
    int32_t* owner = memory_new(memory_product((size_t)g->num_nodes, sizeof *owner, 1), "owners of nodes", why);
    bool good = owner && open_owners(o, g, how->parts, why);
    good = good && (file ? partition_read(owner, file, of, how->parts, why) : divide_nodes(owner, &cut, g, how, why));
    good = good && divide_others(owner, g, of, how->parts, why) && lay_out(o, owner, g->num_nodes, how->parts, why);
    memory_free(owner);
    return good;
}

bool owners_around(node_owners* o, const ggnn_graph* g, const division* d, dataset* of, error* why)
{
    *o = (node_owners){.method = divide_name[DIVIDE_PAGRAPH]};
    int32_t* owner = memory_new(memory_product((size_t)g->num_nodes, sizeof *owner, 1), "owners of nodes", why);
    if (owner) memcpy(owner, d->owner, (size_t)g->num_nodes * sizeof *owner);
    const bool good = owner && open_owners(o, g, d->parts, why) && divide_others(owner, g, of, d->parts, why) &&
                      lay_out(o, owner, g->num_nodes, d->parts, why);
    memory_free(owner);
    return good;
}

void owners_close(node_owners* o)
{
    memory_free(o->bound);
    memory_free(o->rank);
    *o = (node_owners){0};
}
