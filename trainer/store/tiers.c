#include "trainer/store/tiers.h"

#include <string.h>
#include <unistd.h>

#include "common/memory.h"

typedef struct { /* one allocation; on a CPU it has pages of its own */
    char*  start;
    size_t bytes;
} tiers_memory;

struct tiers {
    tiers_view view;

    /* copies of whole arrays on the device, and whole arrays of the host's that were pinned */
    struct {
        const void* from;
        void*       there;
    } sent[16];
    const void* pinned[8];

    /* the ranks that parts lie over; NULL: a replica */
    comm*   over;
    int32_t devices, local_rank;
    int32_t exchanged; /* rows by exchange lie over so many parts */

    /* this device's own memory, and the parts of a CPU's ranks */
    tiers_memory cache[TIERS_ALL], part;
    comm_shared  shared;

    /* (locals) parts of other processes; NULL: in this one */
    void** borrowed;

    /* what graph and features point to, and the counts of what was read, on the device; NULL: there are none */
    void* tables;
    void* host_tables;

    /* of features of which the source has a part: their one array, by slot */
    const void* base[3];

    /* (N) ranks by owner, of parts by hash */
    ggnn_node* owned[TIERS_KINDS];

    /* (TIERS_ALL, devices) the device that each part is read from */
    int16_t* source[TIERS_ALL];
    int32_t  parts[TIERS_ALL];

    tiers_reads placed[TIERS_ALL], placed_bytes[TIERS_ALL];
};

/* ==== whole arrays ============================================================================================== */

/* An array as the device reads it: where it is, or a copy, one however often it is asked for. NULL where there is none,
   or no room. */
static void* show(tiers* t, const void* from, size_t bytes, const char* what, error* why)
{
    void* there = from ? device_map(t->view.device, from) : NULL;
    int i = 0;
    if (!from || there || why->text[0]) return there;
    while (t->sent[i].there && t->sent[i].from != from) i++;
    if (t->sent[i].there) return t->sent[i].there;
    t->sent[i].from = from;
    t->sent[i].there = device_new(t->view.device, bytes, what, why);
    if (t->sent[i].there) device_upload(t->view.device, t->sent[i].there, from, bytes);
    return t->sent[i].there;
}

static void show_graph(tiers* t, const ggnn_graph* g, error* why)
{
    size_t nodes = (size_t)g->num_nodes, edges = (size_t)g->num_edges;
    const ggnn_csc* all = &g->whole;
    t->view.graph = ggnn_graph_plain(show(t, all->indptr, (nodes + 1) * sizeof *all->indptr, "the graph's offsets", why),
                                show(t, all->indices, edges * sizeof *all->indices, "the graph's edges", why),
                                show(t, all->weight, edges * sizeof *all->weight, "the edges' weights", why),
                                g->num_nodes, g->num_edges);
}

/* Has the source a part of the rows alone? */
static bool is_partial(const ggnn_store* f) { return f->base != NULL; }
static int64_t rows_there(const ggnn_store* f, int64_t nodes) { return is_partial(f) ? f->at.stored : nodes; }

/* Rows of a part of the nodes, one after the other. */
static void show_partial(tiers* t, const ggnn_store* f, int64_t nodes, error* why)
{
    t->base[0] = show(t, f->base[0], (size_t)f->at.stored * (size_t)f->pitch, "the features", why);
    t->view.features = *f;
    t->view.features.base = show(t, t->base, sizeof t->base, "tables of parts", why);
    t->view.features.at.rank = show(t, f->at.rank, (size_t)nodes * sizeof *f->at.rank, "ranks of nodes", why);
    t->view.local = true;
}

static void show_features(tiers* t, const ggnn_store* f, int64_t nodes, error* why)
{
    if (is_partial(f)) {
        show_partial(t, f, nodes, why);
        return;
    }
    t->view.features = *f;
    t->view.features.rows = show(t, f->rows, (size_t)nodes * (size_t)f->pitch, "the features", why);
    t->view.features.traffic = NULL;
    t->view.local = true;
}

/* An array of the host tier. */
static const void* pin(tiers* t, const void* from, size_t bytes, const char* what, error* why)
{
    int i = 0;
    while (t->pinned[i]) i++;
    if (!from || !bytes || why->text[0]) return from;
    const void* there = device_pin(t->view.device, from, bytes, what, &t->view.copied, why);
    if (there) t->pinned[i] = from;
    return there;
}

static size_t edge_bytes(const ggnn_store* f, const ggnn_graph* g) { return f->rows ? (size_t)g->num_edges * (size_t)f->pitch : 0; }

static void show_edges(tiers* t, const tiers_source* from, error* why)
{
    t->view.edges = from->edges;
    t->view.edges.rows = show(t, from->edges.rows, edge_bytes(&from->edges, &from->graph), "the features of edges", why);
}

/* ==== pieces: lists or rows of some nodes, or rows of some edges, one after the other =========================== */

typedef struct {
    int64_t nodes, edges; /* edges: of lists. Rows of edges count as nodes */
    int64_t at;           /* bytes before it in its memory */
} piece;

typedef struct { /* where nodes lie: all that a piece is made from */
    const tiers_source* from;
    tiers_kind  kind;
    ggnn_layout at;
    int32_t first; /* device that stores a part: the next one has the next */
} cutter;

/* The arrays of a piece of lists; without memory: their bytes alone. */
static ggnn_csc lists_at(char* memory, const tiers_source* from, piece p, size_t* bytes)
{
    return ggnn_dist_lists(bytes, memory, &from->graph, p.nodes, p.edges);
}

static const ggnn_store* rows_of(const tiers_source* from, tiers_kind kind) { return kind == TIERS_EDGES ? &from->edges : &from->features; }

/* How many there are of a kind. */
static int64_t all_of(const tiers_source* from, tiers_kind kind) { return kind == TIERS_EDGES ? from->graph.num_edges : from->graph.num_nodes; }

static size_t bytes_of(const tiers_source* from, tiers_kind kind, piece p)
{
    size_t bytes = (size_t)p.nodes * (size_t)rows_of(from, kind)->pitch;
    if (kind == TIERS_GRAPH) lists_at(NULL, from, p, &bytes);
    return bytes;
}

/* The lists of nodes `id`, into the arrays of `to` or, counted only, into indptr. */
static bool cut_lists(const tiers_source* from, const ggnn_csc* to, int64_t* indptr, const ggnn_node* id, int64_t nodes,
                      error* why)
{
    ggnn_fault fault;
    ggnn_status status = ggnn_graph_lists(indptr, (int64_t*)(uintptr_t)to->first, (ggnn_node*)(uintptr_t)to->indices,
                                          (float*)(uintptr_t)to->weight, &from->graph, id, nodes, &fault);
    return status == GGNN_OK || error_set(why, "the neighbours of node %lld: %s (ggnn-data verify checks the whole file)",
                                          (long long)fault.node, fault.what);
}

typedef struct {
    piece p;
    ggnn_node* id;   /* (nodes) */
    int64_t* indptr; /* (nodes + 1) of lists */
} content;

static void drop(content* c)
{
    memory_free(c->id);
    memory_free(c->indptr);
}

/* What slot number `slot` of a layout has. */
static bool list_content(content* c, const cutter* k, int32_t slot, error* why)
{
    const int64_t all = k->from->graph.num_nodes;
    const ggnn_csc none = {0};
    *c = (content){.p = {ggnn_layout_nodes(NULL, &k->at, all, slot), 0, 0}};
    c->id = memory_new(memory_product((size_t)c->p.nodes, sizeof *c->id, 1), "the nodes of a part", why);
    if (!c->id) return false;
    ggnn_layout_nodes(c->id, &k->at, all, slot);
    if (k->kind == TIERS_FEATURES) return true;
    c->indptr = memory_new(memory_product((size_t)c->p.nodes + 1, sizeof *c->indptr, 1), "the nodes of a part", why);
    if (!c->indptr || !cut_lists(k->from, &none, c->indptr, c->id, c->p.nodes, why)) return false;
    c->p.edges = c->indptr[c->p.nodes];
    return true;
}

/* Nodes [begin, end) of c, in the host's memory. */
static bool write_host(const cutter* k, const content* c, int64_t begin, int64_t end, char* memory, error* why)
{
    const ggnn_store* f = &k->from->features;
    if (k->kind == TIERS_FEATURES) {
        ggnn_gather(memory, f->pitch / ggnn_type_bytes(f->type), f->type, f, c->id + begin, end - begin);
        return true;
    }
    const piece p = {end - begin, c->indptr[end] - c->indptr[begin], 0};
    const ggnn_csc lists = lists_at(memory, k->from, p, NULL);
    return cut_lists(k->from, &lists, (int64_t*)(uintptr_t)lists.indptr, c->id + begin, p.nodes, why);
}

/* From the host's arrays of nodes [begin, ..) to the device's of the whole piece. indptr goes at once, before. */
static void send_lists(device* d, const ggnn_csc* to, const ggnn_csc* from, const content* c, int64_t begin, int64_t nodes)
{
    const int64_t edge = c->indptr[begin];
    const size_t edges = (size_t)(c->indptr[begin + nodes] - edge);
    device_upload(d, (void*)(uintptr_t)(to->first + begin), from->first, (size_t)nodes * sizeof *to->first);
    device_upload(d, (void*)(uintptr_t)(to->indices + edge), from->indices, edges * sizeof *to->indices);
    if (to->weight) device_upload(d, (void*)(uintptr_t)(to->weight + edge), from->weight, edges * sizeof *to->weight);
}

/* To a device by way of the host, some nodes at a time. */
static bool write_device(device* d, const cutter* k, const content* c, char* memory, error* why)
{
    enum { STEP = 1 << 14 };
    const size_t pitch = (size_t)k->from->features.pitch;
    const ggnn_csc to = lists_at(memory, k->from, c->p, NULL);
    if (c->indptr) device_upload(d, (void*)(uintptr_t)to.indptr, c->indptr, ((size_t)c->p.nodes + 1) * sizeof *to.indptr);
    for (int64_t i = 0, n; i < c->p.nodes && !why->text[0]; i += n) {
        n = c->p.nodes - i < STEP ? c->p.nodes - i : STEP;
        const piece p = {n, c->indptr ? c->indptr[i + n] - c->indptr[i] : 0, 0};
        char* way = memory_new(bytes_of(k->from, k->kind, p), "a piece of a part", why);
        if (!way) return false;
        bool good = write_host(k, c, i, i + n, way, why);
        const ggnn_csc lists = lists_at(way, k->from, p, NULL);
        if (good && c->indptr) send_lists(d, &to, &lists, c, i, n);
        else if (good) device_upload(d, memory + (size_t)i * pitch, way, (size_t)n * pitch);
        memory_free(way);
    }
    return !why->text[0];
}

/* Rows of edges of a part, or of the own cache: [first, first + count). */
static int64_t edges_of_slot(const ggnn_layout* at, int32_t slot, int64_t* first)
{
    const bool cache = slot == at->parts + 1;
    *first = cache ? 0 : at->bound[slot];
    return cache ? at->cached : at->bound[slot + 1] - at->bound[slot];
}

static void write_edges(device* d, const cutter* k, int32_t slot, char* memory)
{
    const ggnn_store* e = &k->from->edges;
    int64_t first;
    const size_t count = (size_t)edges_of_slot(&k->at, slot, &first);
    device_upload(d, memory, (const char*)e->rows + (size_t)first * (size_t)e->pitch, count * (size_t)e->pitch);
}

static bool write_piece(device* d, const cutter* k, int32_t slot, char* memory, error* why)
{
    content c;
    if (k->kind == TIERS_EDGES) {
        write_edges(d, k, slot, memory);
        return true;
    }
    bool good = list_content(&c, k, slot, why);
    if (good && d->host_memory) good = write_host(k, &c, 0, c.p.nodes, memory, why);
    else if (good) good = write_device(d, k, &c, memory, why);
    drop(&c);
    return good;
}

static bool measure_piece(piece* p, const cutter* k, int32_t slot, error* why)
{
    content c;
    int64_t first;
    if (k->kind == TIERS_EDGES) {
        *p = (piece){edges_of_slot(&k->at, slot, &first), 0, 0};
        return true;
    }
    bool good = list_content(&c, k, slot, why);
    *p = c.p;
    drop(&c);
    return good;
}

/* ==== own memory ================================================================================================ */

/* On a CPU a tier has pages of its own, so that a test can take away all but one. */
enum { PAGE = 4096 };
static size_t in_pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }
static size_t whole_units(bool host, size_t bytes) { return host ? in_pages(bytes) : (bytes + 127) / 128 * 128; }
static char*  to_page(void* memory) { return (char*)in_pages((size_t)(uintptr_t)memory); }

static bool on_host(const tiers* t) { return t->view.device->host_memory; }

const tiers_view* tiers_view_of(const tiers* t) { return &t->view; }
const ggnn_graph* tiers_host_graph(const tiers* t, const ggnn_graph* file) { return on_host(t) ? &t->view.graph : file; }
const ggnn_graph* tiers_device_graph(const tiers* t) { return on_host(t) ? NULL : &t->view.graph; }

int32_t tiers_parts(const tiers* t, tiers_kind kind)
{
    if (t->view.exchange) return kind == TIERS_GRAPH ? 1 : t->exchanged;
    return t->over ? t->devices : 1;
}

/* The own cache of one kind, if it has any row. */
static bool open_cache(tiers* t, const cutter* k, piece* p, error* why)
{
    static const char* const what[] = {"the cache of lists", "the cache of features", "the cache of features of edges"};
    tiers_memory* m = &t->cache[k->kind];
    *p = (piece){0, 0, 0};
    if (!k->at.cached) return true;
    if (!measure_piece(p, k, k->at.parts + 1, why)) return false;
    const size_t bytes = bytes_of(k->from, k->kind, *p);
    m->bytes = on_host(t) ? in_pages(bytes) + PAGE : bytes;
    m->start = device_new(t->view.device, m->bytes, what[k->kind], why);
    return m->start && write_piece(t->view.device, k, k->at.parts + 1, on_host(t) ? to_page(m->start) : m->start, why);
}

static const ggnn_placement* placement_of(const tiers_source* from) { return from->plan ? from->plan->placement : from->placement; }

/* of: a device. first: that which has part 0, and so on, where there is no placement. */
static bool stores(const ggnn_placement* placed, int32_t first, int32_t of, int32_t part)
{
    return placed ? placed->stores[of] >> part & 1 : part == of - first;
}

static int32_t source_of(const ggnn_placement* placed, int32_t first, int32_t rank, int32_t part)
{
    return placed ? placed->source[rank][part] : first + part;
}

/* ==== parts ===================================================================================================== */

typedef struct { /* what the others have to know of a rank's; with a piece for each kind and part behind it */
    int64_t process;
    int64_t cached; /* rows, by cache_row, which is the rank's own process's */
    const ggnn_node* cache_row;
    char*   memory; /* its address in the rank's own process */
    char    handle[DEVICE_HANDLE]; /* by which other processes map `memory`; not of a CPU */
    piece   part[]; /* (TIERS_ALL, devices) those that it stores */
} holding;

static size_t holding_bytes(const tiers* t) { return sizeof(holding) + TIERS_ALL * (size_t)t->devices * sizeof(piece); }

static piece* part_of(const tiers* t, holding* h, const cutter* k, int32_t p) { return &h->part[(int)k->kind * t->devices + p]; }

static bool stores_here(const tiers* t, const cutter* k, int32_t p) { return stores(placement_of(k->from), k->first, t->local_rank, p); }

/* Where the pieces of one kind that this rank stores lie in its memory, behind those that lie there. */
static bool measure_own_parts(tiers* t, const cutter* k, holding* mine, error* why)
{
    for (int32_t p = 0; p < k->at.parts; p++) {
        piece* of = part_of(t, mine, k, p);
        if (!stores_here(t, k, p) || (k->kind == TIERS_FEATURES && t->base[0])) continue;
        if (!measure_piece(of, k, p, why)) return false;
        of->at = (int64_t)t->part.bytes;
        if (of->nodes) t->part.bytes += whole_units(on_host(t), bytes_of(k->from, k->kind, *of));
    }
    return true;
}

/* One allocation for lists and rows, as others borrow it: what a device lends, it lends by blocks of its driver's, in which
   two small allocations may lie. */
static bool take_own_parts(tiers* t, holding* mine, error* why)
{
    static const char what[] = "parts of graph and features";
    const bool host = on_host(t);
    const size_t bytes = t->part.bytes;
    char* memory = NULL;
    if (host && t->over && !comm_share(t->over, &t->shared, bytes + PAGE, what, why)) return false;
    if (host && t->over) memory = t->shared.part[t->local_rank];
    else if (bytes) memory = t->part.start = device_new(t->view.device, bytes + (host ? PAGE : 0), what, why);
    if (!memory && bytes) return false;
    mine->memory = host ? to_page(memory) : memory;
    if (host || !bytes || !t->over || t->over->one_process) return true;
    return device_lend(t->view.device, memory, mine->handle, why);
}

static bool write_own_parts(tiers* t, const cutter* k, holding* mine, error* why)
{
    for (int32_t p = 0; p < k->at.parts; p++) {
        const piece* of = part_of(t, mine, k, p);
        if (stores_here(t, k, p) && of->nodes && !write_piece(t->view.device, k, p, mine->memory + of->at, why)) return false;
    }
    return true;
}

/* Where this device reads memory of rank r of its machine. */
static char* reach(tiers* t, const holding* of, int32_t r, error* why)
{
    if (on_host(t)) return t->over ? to_page(t->shared.part[r]) : of->memory;
    char* memory = of->memory;
    if (of->process != getpid()) {
        void** borrowed = &t->borrowed[r];
        if (!*borrowed) *borrowed = device_borrow(t->view.device, of->handle, why);
        memory = *borrowed;
    }
    return memory && device_reach(t->view.device, memory, why) ? memory : NULL;
}

/* ==== tables ==================================================================================================== */

typedef struct { /* of one memory, by slot; for `slots` = devices + 2 */
    ggnn_csc*    part;
    const void **base, **edge_base;
    int64_t *bound, *counts; /* bound (TIERS_ALL, slots), counts (COUNTED, slots): lists, rows, rows of edges, edges of lists */
    size_t bytes;
} part_tables;
enum { EDGES_READ = TIERS_ALL, COUNTED };

static part_tables tables_of(void* memory, size_t slots)
{
    part_tables t;
    t.part = memory;
    t.base = (const void**)(t.part + slots);
    t.edge_base = t.base + slots;
    t.bound = (int64_t*)(t.edge_base + slots);
    t.counts = t.bound + TIERS_ALL * slots;
    t.bytes = (size_t)((char*)(t.counts + COUNTED * slots) - (char*)memory);
    return t;
}

static void set_slot(const part_tables* to, const cutter* k, int32_t slot, char* memory, piece p)
{
    if (k->kind == TIERS_EDGES) to->edge_base[slot] = memory;
    else if (k->kind == TIERS_FEATURES) to->base[slot] = memory;
    else to->part[slot] = lists_at(memory, k->from, p, NULL);
}

/* What rows take, or lists. */
static int64_t net_bytes(const cutter* k, piece p)
{
    const ggnn_sizes of = ggnn_sizes_of(&k->from->graph, rows_of(k->from, k->kind));
    return k->kind != TIERS_GRAPH ? p.nodes * of.row : p.nodes * of.list + p.edges * of.edge;
}

static void add_placed(tiers* t, const cutter* k, size_t tier, piece p)
{
    char* count = (char*)&t->placed[k->kind] + tier;
    char* bytes = (char*)&t->placed_bytes[k->kind] + tier;
    *(int64_t*)(void*)count += p.nodes;
    *(int64_t*)(void*)bytes += net_bytes(k, p);
}

static bool set_parts(tiers* t, const cutter* k, const part_tables* to, holding* all, error* why)
{
    for (int32_t p = 0; p < k->at.parts; p++) {
        const int32_t r = t->source[k->kind][p];
        holding* of = (holding*)(void*)((char*)all + (size_t)r * holding_bytes(t));
        const piece it = *part_of(t, of, k, p);
        if (!it.nodes || !k->at.stored) continue;
        char* memory = reach(t, of, r, why);
        if (!memory) return false;
        set_slot(to, k, p, memory + it.at, it);
        add_placed(t, k, r == t->local_rank ? offsetof(tiers_reads, own) : offsetof(tiers_reads, peer), it);
    }
    return true;
}

/* The host tier of a part of the rows. */
static void set_partial(tiers* t, const cutter* k, const part_tables* to, error* why)
{
    const ggnn_store* f = &k->from->features;
    const int64_t rows = k->at.stored;
    t->placed[k->kind].host = rows;
    t->placed_bytes[k->kind].host = net_bytes(k, (piece){rows, 0, 0});
    if (k->at.cached < rows) to->base[0] = pin(t, f->base[0], (size_t)rows * (size_t)f->pitch, "features", why);
}

/* Where some node is read from it; else it has no address. */
static void set_host(tiers* t, const cutter* k, const part_tables* to, error* why)
{
    const ggnn_graph* g = &k->from->graph;
    const ggnn_store* f = rows_of(k->from, k->kind);
    const int64_t all = all_of(k->from, k->kind);
    const size_t edges = (size_t)g->whole.num_edges;
    const tiers_reads *placed = &t->placed[k->kind], *bytes = &t->placed_bytes[k->kind];
    ggnn_csc* lists = &to->part[k->at.parts];
    t->placed[k->kind].host = all - placed->own - placed->peer;
    t->placed_bytes[k->kind].host = net_bytes(k, (piece){all, g->num_edges, 0}) - bytes->own - bytes->peer;
    if (k->at.stored == all || k->at.cached == all) return;
    if (k->kind != TIERS_GRAPH) {
        const char* what = k->kind == TIERS_EDGES ? "features of edges" : "features";
        (k->kind == TIERS_EDGES ? to->edge_base : to->base)[k->at.parts] = pin(t, f->rows, (size_t)all * (size_t)f->pitch, what, why);
        return;
    }
    *lists = g->whole;
    lists->indptr = pin(t, lists->indptr, ((size_t)all + 1) * sizeof *lists->indptr, "the graph's offsets", why);
    lists->indices = pin(t, lists->indices, edges * sizeof *lists->indices, "the graph's edges", why);
    lists->weight = pin(t, lists->weight, edges * sizeof *lists->weight, "the edges' weights", why);
}

/* ==== a view of tiers =========================================================================================== */

typedef struct {
    cutter cut[TIERS_ALL];
    bool   split[TIERS_ALL]; /* false: the device has it in one piece; of edges: no one reads rows */
    piece  cache[TIERS_ALL];
    bool    marks; /* rows are marked for who trains, */
    ggnn_layout marked; /* as the machine's first device has them, which always trains */
} layouts;

int32_t tiers_owner(const ggnn_layout* owned, const comm* over, int64_t v, int32_t parts)
{
    const int32_t rank = ggnn_locate(owned, v).slot, local = rank - (over->rank - over->local);
    return local >= 0 && local < parts ? local : rank % parts;
}

static int32_t owner_of(const tiers_source* from, tiers_kind kind, int64_t v, int32_t devices)
{
    const tiers_devices by = tiers_readers(kind, devices, devices > 1 ? from->samplers : 0);
    if (from->owned && from->over && devices > 1 && from->machines) return ggnn_locate(from->owned, v).slot;
    if (from->owned && from->over && devices > 1) return tiers_owner(from->owned, from->over, v, devices);
    return by.first + ggnn_owner_of(v, from->owners, NULL, from->graph.num_nodes, by.count);
}

/* (N) the part of each node, where `owned` says it. The caller frees it. */
static int32_t* owned_parts(const tiers_source* from, tiers_kind kind, int32_t devices, error* why)
{
    const int64_t nodes = from->graph.num_nodes;
    int32_t* owner = memory_new(memory_product((size_t)nodes, sizeof *owner, 1), "owners of nodes", why);
    for (int64_t v = 0; owner && v < nodes; v++) owner[v] = owner_of(from, kind, v, devices);
    return owner;
}

/* Does a part's device need a table of ranks? */
static bool owners_are_ranked(const tiers_source* from) { return from->owned || from->owners == GGNN_OWNER_HASH; }

/* Parts of one kind by owners. */
static bool lay_out_owned(cutter* k, tiers* t, int32_t parts, int64_t* bound, error* why)
{
    const tiers_source* from = k->from;
    const int64_t nodes = from->graph.num_nodes;
    ggnn_node** rank = &t->owned[k->kind];
    ggnn_fault fault = {0};
    const bool ranked = owners_are_ranked(from);
    if (ranked && !(*rank = memory_new(memory_product((size_t)nodes, sizeof **rank, 1), "ranks of nodes", why))) return false;
    int32_t* owner = from->owned ? owned_parts(from, k->kind, t->devices, why) : NULL;
    if (from->owned && !owner) return false;
    const ggnn_status status = ggnn_layout_owners(&k->at, *rank, bound, owner ? GGNN_OWNER_MAP : from->owners, owner, nodes, parts, &fault);
    memory_free(owner);
    return status == GGNN_OK || error_set(why, "parts: %s", fault.what);
}

/* Of a part of the rows: the cache's nodes as they are, and the others where they lie in the host's array, slot 0. */
static ggnn_layout in_place(const ggnn_layout* planned, const ggnn_layout* there)
{
    ggnn_layout at = *there;
    at.cache_row = planned->cache_row;
    at.cached = planned->cached;
    return at;
}

static int64_t range_begin(int64_t rows, int32_t p, int32_t parts) { return rows / parts * p + rows % parts * p / parts; }

/* Where parts of rows lie, and by position alone, whatever orders nodes. */
static void lay_out_edges(layouts* y, tiers* t, const tiers_source* from, int64_t* bound)
{
    const cutter* rows = &y->cut[TIERS_FEATURES];
    const int32_t parts = t->parts[TIERS_EDGES] = t->parts[TIERS_FEATURES];
    const int64_t cached = from->plan ? from->plan->edges_cached : 0, stored = from->plan ? from->plan->edges_stored : from->graph.num_edges;
    y->split[TIERS_EDGES] = from->edges.rows != NULL;
    for (int32_t p = 0; p <= parts; p++) bound[p] = cached + range_begin(stored, p, parts);
    const bool apart = t->local_rank >= rows->first + parts; /* samples for others; one that trains along reads the host's */
    y->cut[TIERS_EDGES] = (cutter){from, TIERS_EDGES, {NULL, apart ? 0 : cached, NULL, bound, apart ? 0 : cached + stored, parts}, rows->first};
    memcpy(t->source[TIERS_EDGES], t->source[TIERS_FEATURES], (size_t)parts * sizeof *t->source[0]);
}

/* By owners where there is no plan: of both kinds alike but by role. */
static bool lay_out(layouts* y, tiers* t, const tiers_source* from, int64_t* bound, error* why)
{
    const int64_t nodes = from->graph.num_nodes;
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const tiers_devices by = tiers_readers((tiers_kind)kind, t->devices, t->devices > 1 ? from->samplers : 0);
        cutter* k = &y->cut[kind];
        *k = (cutter){.from = from, .kind = (tiers_kind)kind, .first = by.first};
        if (from->plan) k->at = tiers_layout(&from->plan->share[kind], by.count);
        else if (kind > 0 && !from->samplers) k->at = y->cut[0].at;
        else if (!lay_out_owned(k, t, by.count, bound + kind * (t->devices + 2), why)) return false;
        if (kind == TIERS_FEATURES && t->base[0]) k->at = in_place(&k->at, &from->features.at);
        y->split[kind] = t->devices > 1 || k->at.stored < nodes || k->at.cached;
        t->parts[kind] = by.count;
        for (int32_t p = 0; p < by.count; p++) t->source[kind][p] = (int16_t)source_of(placement_of(from), by.first, t->local_rank, p);
    }
    lay_out_edges(y, t, from, bound + TIERS_EDGES * (t->devices + 2));
    return true;
}

/* Who has no cache, or another one, looks rows up. No rank goes on while another one compares with what is the first one's. */
static bool meet_marks(tiers* t, layouts* y, const holding* first, const holding* mine, error* why)
{
    const size_t bytes = (size_t)y->cut[TIERS_FEATURES].from->graph.num_nodes * sizeof(ggnn_node);
    y->marks = y->split[TIERS_FEATURES] && first->process == mine->process;
    if (y->marks) {
        y->marked = y->cut[TIERS_FEATURES].at;
        y->marked.cached = first->cached;
        y->marked.cache_row = first->cache_row;
        const bool ordered = mine->cache_row && first->cache_row;
        const bool alike = mine->cache_row == first->cache_row || (ordered && !memcmp(mine->cache_row, first->cache_row, bytes));
        t->view.reads_marks = !first->cached || (mine->cached >= first->cached && alike);
    }
    return comm_barrier(t->over, why);
}

/* This rank's tiers, and all ranks' parts; all (ranks) holdings. */
static bool fill_tiers(tiers* t, layouts* y, const part_tables* table, holding* all, error* why)
{
    const int32_t rank = t->over ? t->over->rank : 0, first = rank - t->local_rank;
    holding* mine = (holding*)(void*)((char*)all + (size_t)rank * holding_bytes(t));
    holding* machine = (holding*)(void*)((char*)all + (size_t)first * holding_bytes(t));
    mine->process = getpid();
    mine->cached = y->cut[TIERS_FEATURES].at.cached;
    mine->cache_row = y->cut[TIERS_FEATURES].at.cache_row;
    for (int kind = 0; kind < TIERS_ALL; kind++) {
        const cutter* k = &y->cut[kind];
        if (y->split[kind] && !(open_cache(t, k, &y->cache[kind], why) && measure_own_parts(t, k, mine, why))) return false;
    }
    if (!take_own_parts(t, mine, why)) return false;
    for (int kind = 0; kind < TIERS_ALL; kind++)
        if (y->split[kind] && !write_own_parts(t, &y->cut[kind], mine, why)) return false;
    if (t->over && !comm_gather_each(t->over, all, holding_bytes(t), why)) return false;
    if (t->over && y->marks && !meet_marks(t, y, machine, mine, why)) return false;
    for (int kind = 0; kind < TIERS_ALL; kind++) {
        const cutter* k = &y->cut[kind];
        if (!y->split[kind]) continue;
        if (!set_parts(t, k, table, machine, why)) return false;
        if (kind == TIERS_FEATURES && t->base[0]) set_partial(t, k, table, why);
        else set_host(t, k, table, why);
        if (!k->at.cached) continue;
        set_slot(table, k, k->at.parts + 1, on_host(t) ? to_page(t->cache[kind].start) : t->cache[kind].start, y->cache[kind]);
        add_placed(t, k, offsetof(tiers_reads, cache), y->cache[kind]);
    }
    return !why->text[0];
}

/* A layout as the device reads it, which has the tables' bounds at `there`. */
static ggnn_layout show_layout(tiers* t, ggnn_layout at, int64_t nodes, const int64_t* there, error* why)
{
    const size_t bytes = (size_t)nodes * sizeof *at.rank;
    if (at.bound) at.bound = there + (at.bound - tables_of(t->host_tables, (size_t)t->devices + 2).bound);
    at.rank = show(t, at.rank, bytes, "ranks of nodes", why);
    at.cache_row = at.cached ? show(t, at.cache_row, bytes, "ranks of nodes", why) : NULL;
    return at;
}

static void show_split(tiers* t, const layouts* y, const tiers_source* from, const part_tables* table, error* why)
{
    const int64_t nodes = from->graph.num_nodes;
    const size_t slots = (size_t)t->devices + 2;
    if (y->split[TIERS_GRAPH])
        t->view.graph = (ggnn_graph){.num_nodes = nodes, .num_edges = from->graph.num_edges, .part = table->part,
                                .at = show_layout(t, y->cut[TIERS_GRAPH].at, nodes, table->bound, why)};
    else show_graph(t, &from->graph, why);
    if (y->split[TIERS_FEATURES]) {
        t->view.features = from->features;
        t->view.features.rows = NULL;
        t->view.features.base = table->base;
        t->view.features.at = show_layout(t, y->cut[TIERS_FEATURES].at, nodes, table->bound, why);
        t->view.local = on_host(t) && !from->plan;
    } else show_features(t, &from->features, nodes, why);
    if (y->split[TIERS_EDGES]) {
        t->view.edges = from->edges;
        t->view.edges.rows = NULL;
        t->view.edges.base = table->edge_base;
        t->view.edges.at = show_layout(t, y->cut[TIERS_EDGES].at, nodes, table->bound, why);
        t->view.edges.traffic = table->counts + TIERS_EDGES * slots;
    }
    t->view.graph.traffic = table->counts + TIERS_GRAPH * slots;
    t->view.features.traffic = table->counts + TIERS_FEATURES * slots;
    t->view.edges_read = table->counts + EDGES_READ * slots;
}

static void place_whole(tiers* t, const layouts* y, const tiers_source* from)
{
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        if (!y->split[kind])
            add_placed(t, &y->cut[kind], offsetof(tiers_reads, own), (piece){from->graph.num_nodes, from->graph.num_edges, 0});
}

static bool open_split(tiers* t, const tiers_source* from, error* why)
{
    layouts y = {.marks = from->marks && from->over};
    t->over = from->over;
    t->devices = t->over ? t->over->locals : 1;
    t->local_rank = t->over ? t->over->local : 0;
    if (is_partial(&from->features)) t->base[0] = from->features.base[0];
    const size_t slots = (size_t)t->devices + 2, ranks = t->over ? (size_t)t->over->ranks : 1;
    t->host_tables = memory_new(tables_of(NULL, slots).bytes, "tables of parts", why);
    int16_t* source = t->host_tables ? memory_new(TIERS_ALL * (size_t)t->devices * sizeof *source, "tables of parts", why) : NULL;
    for (int kind = 0; source && kind < TIERS_ALL; kind++) t->source[kind] = source + kind * t->devices;
    t->borrowed = source ? memory_new(slots * sizeof *t->borrowed, "tables of parts", why) : NULL;
    holding* all = t->borrowed ? memory_new(ranks * holding_bytes(t), "places of parts", why) : NULL;
    if (!all) return false;
    part_tables table = tables_of(t->host_tables, slots);
    bool good = lay_out(&y, t, from, table.bound, why) && fill_tiers(t, &y, &table, all, why);
    memory_free(all);
    if (!good) return false;
    t->tables = device_map(t->view.device, t->host_tables);
    if (!t->tables) {
        t->tables = device_new(t->view.device, table.bytes, "tables of parts", why);
        if (!t->tables) return false;
        device_upload(t->view.device, t->tables, t->host_tables, table.bytes);
    }
    table = tables_of(t->tables, slots);
    show_split(t, &y, from, &table, why);
    if (y.marks) t->view.marks = show_layout(t, y.marked, from->graph.num_nodes, table.bound, why);
    place_whole(t, &y, from);
    return !why->text[0];
}

/* ==== bytes, counts ============================================================================================= */

int64_t tiers_bytes(const tiers_source* from, int32_t part, int32_t parts)
{
    const int64_t N = from->graph.num_nodes;
    const int64_t* indptr = from->graph.whole.indptr;
    piece own[TIERS_KINDS] = {{0, 0, 0}, {0, 0, 0}};
    for (int64_t v = 0; v < N; v++)
        for (int kind = 0; kind < TIERS_KINDS; kind++) {
            if (!stores(parts > 1 ? from->placement : NULL, 0, part, owner_of(from, (tiers_kind)kind, v, parts))) continue;
            own[kind].nodes++;
            own[kind].edges += indptr[v + 1] - indptr[v];
        }
    const piece whole = {N, from->graph.num_edges, 0};
    const piece rows = {rows_there(&from->features, own[TIERS_FEATURES].nodes), 0, 0};
    int64_t bytes = N * (int64_t)sizeof(int32_t) + (int64_t)bytes_of(from, TIERS_FEATURES, rows);
    const tiers_devices rows_by = tiers_readers(TIERS_FEATURES, parts, parts > 1 ? from->samplers : 0);
    if (from->exchange) bytes += (int64_t)edge_bytes(&from->edges, &from->graph);
    for (int32_t p = 0; from->edges.rows && !from->exchange && p < rows_by.count; p++)
        if (stores(parts > 1 ? from->placement : NULL, rows_by.first, part, p))
            bytes += (range_begin(from->graph.num_edges, p + 1, rows_by.count) - range_begin(from->graph.num_edges, p, rows_by.count)) * from->edges.pitch;
    bytes += (int64_t)bytes_of(from, TIERS_GRAPH, from->exchange ? whole : own[TIERS_GRAPH]);
    if (parts > 1 && owners_are_ranked(from)) bytes += (from->samplers ? 2 : 1) * N * (int64_t)sizeof(ggnn_node);
    for (int i = 0; i < TIERS_LISTS; i++) bytes += from->count[i] * (int64_t)sizeof(ggnn_node);
    if (from->exchange && from->plan && parts > 1) {
        const tiers_share* s = &from->plan->share[TIERS_FEATURES];
        bytes += s->cached * from->features.pitch + (s->cache_rank ? N * (int64_t)sizeof(ggnn_node) : 0);
    }
    return bytes;
}

int64_t tiers_overhead(int32_t parts, int32_t stored)
{
    enum { PIECE = 1024 }; /* an entry of indptr, and up to 128 bytes before each of five arrays and behind the last */
    return (stored + 1) * (int64_t)PIECE + (int64_t)tables_of(NULL, (size_t)parts + 2).bytes + 128;
}

/* Of device `me`, which reads part p from device source[p]. */
static tiers_reads by_tier(const int64_t* slot, const int16_t* source, int32_t me, int32_t parts)
{
    tiers_reads sum = {slot[parts + 1], 0, 0, slot[parts]};
    for (int32_t p = 0; p < parts; p++) *(source[p] == me ? &sum.own : &sum.peer) += slot[p];
    return sum;
}

static tiers_reads counted(const tiers* t, tiers_kind kind, const int64_t* slot)
{
    return by_tier(slot, t->source[kind], t->local_rank, t->parts[kind]);
}

static tiers_reads list_bytes(tiers_reads lists, tiers_reads edges)
{
    const int64_t id = sizeof(ggnn_node);
    return (tiers_reads){16 * lists.cache + id * edges.cache, 16 * lists.own + id * edges.own,
                         16 * lists.peer + id * edges.peer, 16 * lists.host + id * edges.host};
}

tiers_reads tiers_row_bytes(const tiers* t, tiers_kind kind, tiers_reads rows)
{
    const ggnn_store* of = kind == TIERS_EDGES ? &t->view.edges : &t->view.features;
    const int64_t row = of->width * ggnn_type_bytes(of->type);
    return (tiers_reads){row * rows.cache, row * rows.own, row * rows.peer, row * rows.host};
}

tiers_count tiers_counted(const tiers* t, tiers_kind kind)
{
    tiers_count sum = {t->placed[kind], t->placed_bytes[kind], {0, 0, 0, 0}, {0, 0, 0, 0}};
    if (t->view.exchange && kind == TIERS_FEATURES) {
        const exchange_cost cost = exchange_cost_of(t->view.exchange);
        sum.read = (tiers_reads){cost.cache, cost.own, cost.peer, 0};
        sum.read_bytes = tiers_row_bytes(t, kind, sum.read);
    }
    if (!t->tables) return sum;
    const size_t slots = (size_t)t->devices + 2;
    int64_t* copy = tables_of(t->host_tables, slots).counts;
    const int64_t* counts = device_read(t->view.device, copy, tables_of(t->tables, slots).counts, COUNTED * slots * sizeof *copy);
    sum.read = counted(t, kind, counts + (size_t)kind * slots);
    if (kind == TIERS_FEATURES && t->base[0]) sum.read = (tiers_reads){sum.read.cache, 0, 0, sum.read.own}; /* slot 0 is the host's */
    if (kind == TIERS_GRAPH) sum.read_bytes = list_bytes(sum.read, counted(t, kind, counts + EDGES_READ * slots));
    else sum.read_bytes = tiers_row_bytes(t, kind, sum.read);
    return sum;
}

tiers_reads tiers_reads_since(tiers_reads now, tiers_reads before)
{
    return (tiers_reads){now.cache - before.cache, now.own - before.own, now.peer - before.peer, now.host - before.host};
}

tiers_reads tiers_reads_sum(tiers_reads a, tiers_reads b)
{
    return (tiers_reads){a.cache + b.cache, a.own + b.own, a.peer + b.peer, a.host + b.host};
}

void tiers_by_slot(int64_t* slot, const ggnn_layout* at, const int64_t* count, int64_t nodes)
{
    memset(slot, 0, ((size_t)at->parts + 2) * sizeof *slot);
    for (int64_t v = 0; v < nodes; v++) slot[ggnn_locate(at, v).slot] += count ? count[v] : 1;
}

tiers_reads tiers_plan_reads(const tiers_plan* plan, tiers_kind kind, const int64_t* count, int64_t nodes, int32_t me,
                             int32_t devices, int64_t* from)
{
    const ggnn_layout at = tiers_layout(&plan->share[kind], devices);
    int64_t slot[COMM_RANKS_MAX + 2];
    int16_t source[COMM_RANKS_MAX];
    tiers_by_slot(slot, &at, count, nodes);
    for (int32_t p = 0; p < devices; p++) {
        source[p] = (int16_t)source_of(plan->placement, 0, me, p);
        if (from) from[source[p]] += slot[p];
    }
    return by_tier(slot, source, me, devices);
}

void tiers_rows_from(const tiers* t, int64_t from[GGNN_DEVICES_MAX])
{
    memset(from, 0, GGNN_DEVICES_MAX * sizeof *from);
    if (!t->tables || t->devices > GGNN_DEVICES_MAX || t->base[0]) return;
    const size_t slots = (size_t)t->devices + 2;
    int64_t* copy = tables_of(t->host_tables, slots).counts;
    const int64_t* counts = device_read(t->view.device, copy, tables_of(t->tables, slots).counts, COUNTED * slots * sizeof *copy);
    for (int32_t p = 0; p < t->parts[TIERS_FEATURES]; p++) from[t->source[TIERS_FEATURES][p]] += counts[slots + (size_t)p];
}

void tiers_start_counting(tiers* t)
{
    if (!t->tables) return;
    const size_t slots = (size_t)t->devices + 2;
    int64_t* zeros = tables_of(t->host_tables, slots).counts;
    memset(zeros, 0, COUNTED * slots * sizeof *zeros);
    if (t->tables != t->host_tables) device_upload(t->view.device, tables_of(t->tables, slots).counts, zeros, COUNTED * slots * sizeof *zeros);
}

/* What a planned run says: all lists, the cache, the own part and what others send. */
static void place_exchanged(tiers* t, const tiers_source* from, int64_t cached)
{
    const int64_t nodes = from->graph.num_nodes;
    const int32_t own = from->machines ? from->over->rank : from->over->local;
    const cutter lists = {.from = from, .kind = TIERS_GRAPH}, rows = {.from = from, .kind = TIERS_FEATURES};
    piece mine = {0, 0, 0};
    for (int64_t v = 0; v < nodes; v++) mine.nodes += owner_of(from, TIERS_FEATURES, v, t->exchanged) == own;
    add_placed(t, &lists, offsetof(tiers_reads, own), (piece){nodes, from->graph.num_edges, 0});
    add_placed(t, &rows, offsetof(tiers_reads, cache), (piece){cached, 0, 0});
    add_placed(t, &rows, offsetof(tiers_reads, own), mine);
    add_placed(t, &rows, offsetof(tiers_reads, peer), (piece){nodes - mine.nodes, 0, 0});
}

/* Of a plan the cache of rows alone. */
static bool open_exchange(tiers* t, const tiers_source* from, error* why)
{
    const tiers_share none = {0}, *share = from->plan ? &from->plan->share[TIERS_FEATURES] : &none;
    t->exchanged = from->machines ? from->over->ranks : from->over->locals;
    int32_t* owner = from->owned ? owned_parts(from, TIERS_FEATURES, t->exchanged, why) : NULL;
    if (from->owned && !owner) return false;
    const exchange_plan plan = {from->over, from->features, from->graph.num_nodes, from->owners, owner, from->machines,
                                share->cache_rank, share->cached};
    t->view.exchange = exchange_create(t->view.device, &plan, why);
    memory_free(owner);
    if (from->plan) place_exchanged(t, from, share->cached);
    if (t->view.exchange) t->view.features = *exchange_stored(t->view.exchange);
    return t->view.exchange != NULL;
}

/* ==== opening, closing ========================================================================================== */

bool tiers_open(tiers** opened, device* d, const tiers_source* from, error* why)
{
    tiers* t = *opened = memory_new(sizeof *t, "what a device reads", why);
    if (!t) return false;
    size_t nodes = (size_t)from->graph.num_nodes;
    const bool exchanged = from->over && from->exchange, split = !exchanged && (from->over || from->plan);
    t->view.device = d;
    if (split && !open_split(t, from, why)) return false;
    if (!split) show_graph(t, &from->graph, why);
    if (!split && !exchanged) show_features(t, &from->features, from->graph.num_nodes, why);
    if (exchanged && !open_exchange(t, from, why)) return false;
    if (!split) show_edges(t, from, why);
    t->view.labels.label = show(t, from->labels.label, nodes * sizeof *t->view.labels.label, "labels", why);
    t->view.labels.target = show(t, from->labels.target, nodes * sizeof *t->view.labels.target, "targets", why);
    for (int i = 0; i < TIERS_LISTS; i++)
        t->view.ids[i] = show(t, from->ids[i], (size_t)from->count[i] * sizeof *t->view.ids[i], "the ids of a pass", why);
    return !why->text[0];
}

/* Before any process frees what others have borrowed. */
static void give_back_borrowed(tiers* t)
{
    error ignored = {""};
    const bool lent = t->over && !on_host(t) && !t->over->one_process;
    for (int32_t i = 0; t->borrowed && t->over && i < t->over->locals; i++)
        if (t->borrowed[i]) device_give_borrowed(t->view.device, t->borrowed[i]);
    if (lent) comm_barrier(t->over, &ignored); /* returns at once where a rank has failed */
    memory_free(t->borrowed);
}

void tiers_close(tiers* t)
{
    if (!t) return;
    for (size_t i = 0; i < sizeof t->sent / sizeof *t->sent; i++)
        if (t->sent[i].there) device_free(t->view.device, t->sent[i].there);
    exchange_free(t->view.exchange);
    for (size_t i = 0; i < sizeof t->pinned / sizeof *t->pinned; i++)
        if (t->pinned[i]) device_unpin(t->view.device, t->pinned[i]);
    if (t->over) comm_unshare(t->over, &t->shared);
    for (int kind = 0; kind < TIERS_ALL; kind++)
        if (t->cache[kind].start) device_free(t->view.device, t->cache[kind].start);
    give_back_borrowed(t);
    if (t->part.start) device_free(t->view.device, t->part.start);
    if (t->tables && t->tables != t->host_tables) device_free(t->view.device, t->tables);
    memory_free(t->source[0]);
    for (int kind = 0; kind < TIERS_KINDS; kind++) memory_free(t->owned[kind]);
    memory_free(t->host_tables);
    memory_free(t);
}
