#include "trainer/tiers.h"

#include <string.h>

/* ==== a view ==================================================================================================== */

/* An array as the device reads it: where it is, or sent to the next place of t->memory. NULL where there is none, or no
   room. */
static void* show(tiers* t, const void* from, size_t bytes, const char* what, error* why)
{
    void** place = t->memory;
    void*  there = from ? device_map(t->device, (void*)(uintptr_t)from) : NULL;
    if (!from || there || why->text[0]) return there;
    while (*place) place++;
    *place = device_new(t->device, bytes, what, why);
    if (*place) device_upload(t->device, *place, from, bytes);
    return *place;
}

static void show_graph(tiers* t, const ggnn_graph* g, error* why)
{
    size_t nodes = (size_t)g->num_nodes, edges = (size_t)g->num_edges;
    const ggnn_csc* all = &g->whole;
    t->graph = ggnn_graph_plain(show(t, all->indptr, (nodes + 1) * sizeof *all->indptr, "the graph's offsets", why),
                                show(t, all->indices, edges * sizeof *all->indices, "the graph's edges", why),
                                show(t, all->weight, edges * sizeof *all->weight, "the edges' weights", why),
                                g->num_nodes, g->num_edges);
}

static void show_features(tiers* t, const ggnn_store* f, int64_t nodes, error* why)
{
    t->features = *f;
    t->features.rows = show(t, f->rows, (size_t)nodes * (size_t)f->pitch, "the features", why);
    t->features.traffic = NULL;
    t->local = true;
}

bool tiers_open(tiers* t, device* d, const tiers_source* from, error* why)
{
    size_t nodes = (size_t)from->graph.num_nodes;
    memset(t, 0, sizeof *t);
    t->device = d;
    show_graph(t, &from->graph, why);
    show_features(t, &from->features, from->graph.num_nodes, why);
    t->labels.label = show(t, from->labels.label, nodes * sizeof *t->labels.label, "labels", why);
    t->labels.target = show(t, from->labels.target, nodes * sizeof *t->labels.target, "targets", why);
    for (int i = 0; i < TIERS_LISTS; i++)
        t->ids[i] = show(t, from->ids[i], (size_t)from->count[i] * sizeof *t->ids[i], "the ids of a pass", why);
    return !why->text[0];
}

void tiers_close(tiers* t)
{
    for (size_t i = 0; i < sizeof t->memory / sizeof *t->memory; i++)
        if (t->memory[i]) device_free(t->device, t->memory[i]);
    memset(t, 0, sizeof *t);
}

/* ==== room for rows ============================================================================================= */

static const char outputs[] = "the outputs of layers (--eval-memory)";

/* The least rank of a machine gives all of it. */
static void* share_room(tiers_room* r, size_t bytes, error* why)
{
    if (!comm_share(r->comm, &r->shared, r->comm->local ? 0 : bytes, outputs, why)) return NULL;
    return r->shared.part[0];
}

void* tiers_room_open(tiers_room* r, device* d, comm* c, size_t bytes, size_t most, const char* beside, error* why)
{
    const bool host = device_map(d, r) != NULL;
    memset(r, 0, sizeof *r);
    r->device = d;
    r->comm = c;
    r->file.fd = -1;
    if (bytes <= most && host && c->ranks > 1) return share_room(r, bytes, why);
    if (bytes <= most) return r->memory = device_new(d, bytes, outputs, why);
    if (!host || c->ranks > 1) {
        error_set(why, "--eval full: the outputs of layers take %zu bytes of the device, more than --eval-memory %zu; "
                       "use --eval sampled", bytes, most);
        return NULL;
    }
    if (ggnn_file_scratch_open(&r->file, beside, (int64_t)bytes)) return r->file.data;
    error_set(why, "evaluation beyond --eval-memory %zu: %s", most, r->file.error);
    return NULL;
}

void tiers_room_close(tiers_room* r)
{
    if (!r->device) return;
    device_free(r->device, r->memory);
    comm_unshare(r->comm, &r->shared);
    ggnn_file_scratch_close(&r->file);
    memset(r, 0, sizeof *r);
}
