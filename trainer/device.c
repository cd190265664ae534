#include "trainer/device.h"

#include <string.h>

#include "trainer/ops.h"

device* device_cpu(void)
{
    static device cpu = {.ops = &ops_cpu, .backend = "cpu", .host = true};
    return &cpu;
}

void device_close(device* d)
{
    if (d) d->ops->close(d);
}

void* device_new(device* d, size_t bytes, const char* what, error* why) { return d->ops->take(d, bytes, what, why); }

void device_free(device* d, void* memory)
{
    if (memory) d->ops->give_back(d, memory);
}

void device_upload(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) d->ops->upload(d, to, from, bytes);
}

void device_download(device* d, void* to, const void* from, size_t bytes)
{
    if (bytes) d->ops->download(d, to, from, bytes);
}

const void* device_read(device* d, void* to, const void* from, size_t bytes)
{
    if (d->host) return from;
    device_download(d, to, from, bytes);
    return to;
}

int64_t device_size(device* d, ggnn_count count)
{
    int64_t n = count.max;
    return count.n ? *(const int64_t*)device_read(d, &n, count.n, sizeof n) : n;
}

/* ==== data ===================================================================================================== */

/* An array sent to the device, in the next place of p->memory; NULL where there is none, or no room. */
static void* send(placement* p, const void* from, size_t bytes, const char* what, error* why)
{
    void** place = p->memory;
    while (*place) place++;
    if (!from || why->text[0]) return NULL;
    *place = device_new(p->device, bytes, what, why);
    if (*place) device_upload(p->device, *place, from, bytes);
    return *place;
}

static void send_graph(placement* p, const ggnn_graph* g, error* why)
{
    size_t nodes = (size_t)g->num_nodes, edges = (size_t)g->num_edges;
    const ggnn_csc* csc = &g->whole;
    p->graph = ggnn_graph_plain(send(p, csc->indptr, (nodes + 1) * sizeof *csc->indptr, "the graph's offsets", why),
                                send(p, csc->indices, edges * sizeof *csc->indices, "the graph's edges", why),
                                send(p, csc->weight, edges * sizeof *csc->weight, "the edges' weights", why),
                                g->num_nodes, g->num_edges);
}

static void send_features(placement* p, const ggnn_store* f, int64_t nodes, error* why)
{
    p->features.rows = send(p, f->rows, (size_t)nodes * (size_t)f->pitch, "the features", why);
    p->features.traffic = NULL;
}

bool placement_open(placement* p, device* d, const ggnn_graph* graph, const ggnn_store* features,
                    const net_labels* labels, error* why)
{
    size_t nodes = (size_t)graph->num_nodes;
    memset(p, 0, sizeof *p);
    p->device = d;
    p->graph = *graph;
    p->features = *features;
    p->labels = *labels;
    if (d->host) return true;
    send_graph(p, graph, why);
    send_features(p, features, graph->num_nodes, why);
    p->labels.label = send(p, labels->label, nodes * sizeof *labels->label, "labels", why);
    p->labels.target = send(p, labels->target, nodes * sizeof *labels->target, "targets", why);
    return !why->text[0];
}

void placement_close(placement* p)
{
    for (int i = 0; i < 8; i++)
        if (p->memory[i]) device_free(p->device, p->memory[i]);
    memset(p, 0, sizeof *p);
}
