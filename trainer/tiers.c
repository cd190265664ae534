#include "trainer/tiers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"

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

/* ==== parts ===================================================================================================== */

typedef struct { /* what the other ranks have to know of a part */
    int64_t nodes, edges;
    char*   memory; /* as its process has it; */
    int64_t process;
    char    handle[DEVICE_HANDLE]; /* for others, of a device that is no CPU */
} part_place;

typedef struct {
    ggnn_csc lists;
    void*    rows;
    size_t   bytes; /* of all */
} part_arrays;

static size_t place(size_t* used, size_t bytes)
{
    size_t at = (*used + 127) / 128 * 128;
    *used = at + bytes;
    return at;
}

/* Where the arrays of a part lie in its memory; without memory: their bytes alone. */
static part_arrays arrays_of(part_place p, const tiers_source* from)
{
    const size_t nodes = (size_t)p.nodes, edges = (size_t)p.edges;
    size_t used = 0;
    const size_t indptr = place(&used, (nodes + 1) * sizeof(int64_t)), first = place(&used, nodes * sizeof(int64_t));
    const size_t indices = place(&used, edges * sizeof(ggnn_node));
    const size_t weight = from->graph.whole.weight ? place(&used, edges * sizeof(float)) : 0;
    const size_t rows = place(&used, nodes * (size_t)from->features.pitch);
    part_arrays a = {.bytes = used};
    if (!p.memory) return a;
    a.lists = (ggnn_csc){.indptr = (int64_t*)(void*)(p.memory + indptr), .first = (int64_t*)(void*)(p.memory + first),
                         .indices = (ggnn_node*)(void*)(p.memory + indices), .num_edges = p.edges};
    if (weight) a.lists.weight = (float*)(void*)(p.memory + weight);
    a.rows = p.memory + rows;
    return a;
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

static bool fill_piece(const tiers_source* from, const part_arrays* to, const ggnn_node* id, int64_t nodes, error* why)
{
    const ggnn_store* f = &from->features;
    ggnn_gather(to->rows, f->pitch / ggnn_type_bytes(f->type), f->type, f, id, nodes);
    return cut_lists(from, &to->lists, (int64_t*)(uintptr_t)to->lists.indptr, id, nodes, why);
}

/* By way of the host, a piece at a time. indptr: of the whole part. */
static bool send_pieces(tiers* t, const tiers_source* from, const part_arrays* to, const ggnn_node* id, int64_t nodes,
                        const int64_t* indptr, error* why)
{
    enum { PIECE = 1 << 14 };
    const size_t pitch = (size_t)from->features.pitch;
    device_upload(t->device, (void*)(uintptr_t)to->lists.indptr, indptr, ((size_t)nodes + 1) * sizeof *indptr);
    for (int64_t i = 0; i < nodes && !why->text[0]; i += PIECE) {
        const int64_t n = nodes - i < PIECE ? nodes - i : PIECE, edge = indptr[i], edges = indptr[i + n] - edge;
        part_place piece = {.nodes = n, .edges = edges};
        piece.memory = memory_new(arrays_of(piece, from).bytes, "a piece of a part", why);
        if (!piece.memory) return false;
        const part_arrays a = arrays_of(piece, from);
        if (fill_piece(from, &a, id + i, n, why)) {
            device_upload(t->device, (char*)to->rows + (size_t)i * pitch, a.rows, (size_t)n * pitch);
            device_upload(t->device, (void*)(uintptr_t)(to->lists.first + i), a.lists.first, (size_t)n * sizeof(int64_t));
            device_upload(t->device, (void*)(uintptr_t)(to->lists.indices + edge), a.lists.indices,
                          (size_t)edges * sizeof(ggnn_node));
            if (a.lists.weight)
                device_upload(t->device, (void*)(uintptr_t)(to->lists.weight + edge), a.lists.weight,
                              (size_t)edges * sizeof(float));
        }
        memory_free(piece.memory);
    }
    return !why->text[0];
}

/* This rank's part, of nodes `id`; indptr: room for their offsets. */
static bool fill_part(tiers* t, const tiers_source* from, part_place* mine, const ggnn_node* id, int64_t* indptr, error* why)
{
    static const char what[] = "a part of graph and features";
    const bool host = device_map(t->device, mine) != NULL;
    const ggnn_csc none = {0};
    if (!cut_lists(from, &none, indptr, id, mine->nodes, why)) return false;
    mine->edges = indptr[mine->nodes];
    const size_t bytes = arrays_of(*mine, from).bytes;
    if (host && !comm_share(t->over, &t->shared, bytes, what, why)) return false;
    if (!host && !(t->part = device_new(t->device, bytes, what, why))) return false;
    mine->memory = host ? t->shared.part[t->over->local] : t->part;
    mine->process = getpid();
    if (!host && comm_under_mpi() && !device_lend(t->device, t->part, mine->handle, why)) return false;
    const part_arrays a = arrays_of(*mine, from);
    return host ? fill_piece(from, &a, id, mine->nodes, why) : send_pieces(t, from, &a, id, mine->nodes, indptr, why);
}

/* This rank's nodes, and their part. */
static bool cut_part(tiers* t, const tiers_source* from, const ggnn_layout* at, part_place* mine, error* why)
{
    const int64_t all = from->graph.num_nodes;
    mine->nodes = ggnn_layout_nodes(NULL, at, all, t->over->local);
    ggnn_node* id = memory_new(memory_product((size_t)mine->nodes, sizeof *id, 1), "the nodes of a part", why);
    int64_t* indptr = id ? memory_new(memory_product((size_t)mine->nodes + 1, sizeof *indptr, 1), "the nodes of a part", why) : NULL;
    if (indptr) ggnn_layout_nodes(id, at, all, t->over->local);
    bool good = indptr && fill_part(t, from, mine, id, indptr, why);
    memory_free(indptr);
    memory_free(id);
    return good;
}

typedef struct { /* of one memory, by slot; for `slots` = parts + 2 */
    ggnn_csc*    part;
    const void** base;
    int64_t *bound, *counts;
    ggnn_node* rank; /* of each node, by hash only */
    size_t bytes;    /* without it */
} part_tables;

static part_tables tables_of(void* memory, size_t slots)
{
    part_tables t;
    t.part = memory;
    t.base = (const void**)(t.part + slots);
    t.bound = (int64_t*)(t.base + slots);
    t.counts = t.bound + slots;
    t.rank = (ggnn_node*)(void*)(t.counts + 2 * slots);
    t.bytes = (size_t)((char*)t.rank - (char*)memory);
    return t;
}

/* Fills the tables with all parts as the ranks of this machine told them, in their order from `all` on. */
static bool fill_tables(tiers* t, const tiers_source* from, const part_tables* to, const part_place* all, error* why)
{
    const int32_t parts = t->over->locals;
    const bool host = device_map(t->device, t) != NULL;
    for (int32_t p = 0; p < parts; p++) {
        part_place it = all[p];
        if (host) it.memory = t->shared.part[p];
        else if (it.process != getpid()) it.memory = t->borrowed[p] = device_borrow(t->device, it.handle, why);
        if (!it.memory || !device_reach(t->device, it.memory, why)) return false;
        const part_arrays a = arrays_of(it, from);
        to->part[p] = a.lists;
        to->base[p] = a.rows;
    }
    if (!host) return true; /* which reads no host tier */
    to->part[parts] = from->graph.whole;
    to->base[parts] = from->features.rows;
    return true;
}

/* Graph and features through the tables, which a device has in its own memory. */
static bool show_parts(tiers* t, const tiers_source* from, ggnn_layout at, size_t bytes, error* why)
{
    const size_t slots = (size_t)at.parts + 2;
    t->tables = device_map(t->device, t->host_tables);
    t->local = t->tables != NULL;
    if (!t->tables) {
        t->tables = device_new(t->device, bytes, "tables of parts", why);
        if (!t->tables) return false;
        device_upload(t->device, t->tables, t->host_tables, bytes);
    }
    const part_tables table = tables_of(t->tables, slots);
    if (at.bound) at.bound = table.bound;
    if (at.rank) at.rank = table.rank;
    t->graph = (ggnn_graph){.num_nodes = from->graph.num_nodes, .num_edges = from->graph.num_edges, .part = table.part,
                            .at = at, .traffic = table.counts};
    t->features = from->features;
    t->features.rows = NULL;
    t->features.base = table.base;
    t->features.at = at;
    t->features.traffic = table.counts + slots;
    return true;
}

static size_t rank_bytes(const tiers_source* from)
{
    return from->owners == GGNN_OWNER_HASH ? (size_t)from->graph.num_nodes * sizeof(ggnn_node) : 0;
}

/* The ranks' parts, each by its place; all (ranks). */
static bool open_places(tiers* t, const tiers_source* from, const part_tables* table, part_place* all, error* why)
{
    comm* c = t->over;
    const int32_t parts = c->locals;
    int64_t bound[COMM_RANKS_MAX + 1];
    ggnn_layout at;
    ggnn_fault  fault;
    for (int32_t r = 0; r <= c->ranks; r++) bound[r] = r;
    if (ggnn_layout_owners(&at, table->rank, table->bound, from->owners, NULL, from->graph.num_nodes, parts, &fault) != GGNN_OK)
        return error_set(why, "parts: %s", fault.what);
    if (!cut_part(t, from, &at, &all[c->rank], why)) return false;
    if (!comm_all_gather(c, NULL, all, bound, sizeof *all, why)) return false;
    if (!fill_tables(t, from, table, all + (c->rank - c->local), why)) return false;
    return show_parts(t, from, at, table->bytes + rank_bytes(from), why);
}

/* Does the part own v? Of ranges near enough for a count of bytes. */
static bool owns(const tiers_source* from, int64_t v, int32_t part, int32_t parts)
{
    const int64_t N = from->graph.num_nodes;
    if (from->owners == GGNN_OWNER_RANGE) return v >= N * part / parts && v < N * (part + 1) / parts;
    return part == (from->owners == GGNN_OWNER_HASH ? ggnn_owner_hash(v, parts) : (int32_t)(v % parts));
}

int64_t tiers_bytes(const tiers_source* from, int32_t part, int32_t parts)
{
    const int64_t N = from->graph.num_nodes;
    const int64_t* indptr = from->graph.whole.indptr;
    part_place own = {0};
    for (int64_t v = 0; v < N; v++) {
        if (!owns(from, v, part, parts)) continue;
        own.nodes++;
        own.edges += indptr[v + 1] - indptr[v];
    }
    int64_t bytes = (int64_t)arrays_of(own, from).bytes + N * (int64_t)sizeof(int32_t);
    if (parts > 1) bytes += (int64_t)rank_bytes(from);
    if (from->exchange) {
        const part_place whole = {.nodes = N, .edges = from->graph.num_edges};
        bytes += (int64_t)(arrays_of(whole, from).bytes - arrays_of(own, from).bytes);
        bytes -= (N - own.nodes) * from->features.pitch;
    }
    for (int i = 0; i < TIERS_LISTS; i++) bytes += from->count[i] * (int64_t)sizeof(ggnn_node);
    return bytes;
}

static bool open_parts(tiers* t, const tiers_source* from, error* why)
{
    const size_t slots = (size_t)from->over->locals + 2;
    t->over = from->over;
    t->host_tables = memory_new(slots * (sizeof(ggnn_csc) + sizeof(void*) + 3 * sizeof(int64_t)) + rank_bytes(from),
                                "tables of parts", why);
    t->borrowed = t->host_tables ? memory_new(slots * sizeof *t->borrowed, "tables of parts", why) : NULL;
    part_place* all = t->borrowed ? memory_new((size_t)t->over->ranks * sizeof *all, "places of parts", why) : NULL;
    const part_tables table = tables_of(t->host_tables, slots);
    bool good = all && open_places(t, from, &table, all, why);
    memory_free(all);
    return good;
}

static bool open_exchange(tiers* t, const tiers_source* from, error* why)
{
    const exchange_plan plan = {from->over, from->features, from->graph.num_nodes, from->owners, from->machines};
    t->exchange = exchange_create(t->device, &plan, why);
    if (t->exchange) t->features = *exchange_stored(t->exchange);
    return t->exchange != NULL;
}

/* Counts of lists, or those of rows that follow them. */
static tiers_reads reads_of(const tiers* t, bool rows)
{
    tiers_reads sum = {0, 0, 0};
    if (t->exchange && rows) {
        const exchange_cost cost = exchange_cost_of(t->exchange);
        return (tiers_reads){cost.own, cost.peer, 0};
    }
    if (!t->over) return sum;
    const size_t slots = (size_t)t->graph.at.parts + 2;
    int64_t* copy = tables_of(t->host_tables, slots).counts;
    const int64_t* counts = device_read(t->device, copy, t->graph.traffic, 2 * slots * sizeof *copy);
    counts += rows ? slots : 0;
    for (int32_t p = 0; p < t->graph.at.parts; p++) *(p == t->over->local ? &sum.own : &sum.peer) += counts[p];
    sum.host = counts[t->graph.at.parts];
    return sum;
}

tiers_reads tiers_rows_read(const tiers* t) { return reads_of(t, true); }
tiers_reads tiers_lists_read(const tiers* t) { return reads_of(t, false); }

/* ==== opening, closing ========================================================================================== */

bool tiers_open(tiers* t, device* d, const tiers_source* from, error* why)
{
    size_t nodes = (size_t)from->graph.num_nodes;
    memset(t, 0, sizeof *t);
    t->device = d;
    const bool exchanged = from->over && from->exchange;
    if (from->over && !exchanged && !open_parts(t, from, why)) return false;
    if (!from->over || exchanged) show_graph(t, &from->graph, why);
    if (!from->over) show_features(t, &from->features, from->graph.num_nodes, why);
    if (exchanged && !open_exchange(t, from, why)) return false;
    t->labels.label = show(t, from->labels.label, nodes * sizeof *t->labels.label, "labels", why);
    t->labels.target = show(t, from->labels.target, nodes * sizeof *t->labels.target, "targets", why);
    for (int i = 0; i < TIERS_LISTS; i++)
        t->ids[i] = show(t, from->ids[i], (size_t)from->count[i] * sizeof *t->ids[i], "the ids of a pass", why);
    return !why->text[0];
}

/* Before any process frees what others have borrowed. */
static void give_back_borrowed(tiers* t)
{
    error ignored = {""};
    for (int32_t p = 0; t->borrowed && p < t->over->locals; p++)
        if (t->borrowed[p]) device_give_borrowed(t->device, t->borrowed[p]);
    if (t->part && comm_under_mpi()) comm_barrier(t->over, &ignored); /* returns at once where a rank has failed */
    memory_free(t->borrowed);
}

void tiers_close(tiers* t)
{
    for (size_t i = 0; i < sizeof t->memory / sizeof *t->memory; i++)
        if (t->memory[i]) device_free(t->device, t->memory[i]);
    exchange_free(t->exchange);
    if (t->over) comm_unshare(t->over, &t->shared);
    give_back_borrowed(t);
    if (t->part) device_free(t->device, t->part);
    if (t->tables && t->tables != t->host_tables) device_free(t->device, t->tables);
    memory_free(t->host_tables);
    memset(t, 0, sizeof *t);
}

/* ==== room for rows ============================================================================================= */

static const char outputs[] = "the outputs of layers (--eval-memory)";

/* Who uses which room: machines have one each on a CPU, else ranks do. */
static bool find_users(tiers_room* r, bool host, error* why)
{
    comm* c = r->comm;
    int64_t bound[COMM_RANKS_MAX + 1];
    if (host ? c->machines == 1 : c->ranks == 1) return true;
    r->user = memory_new((size_t)c->ranks * sizeof *r->user, outputs, why);
    r->piece = r->user ? memory_new(2 * (size_t)c->ranks * sizeof *r->piece, outputs, why) : NULL;
    if (!r->piece) return false;
    r->user[c->rank] = host ? (tiers_user){c->machine, c->local, c->locals} : (tiers_user){c->rank, 0, 1};
    for (int32_t k = 0; k <= c->ranks; k++) bound[k] = k;
    return comm_all_gather(c, NULL, r->user, bound, sizeof *r->user, why);
}

/* Does rank `to` take for its room what rank `from` has? */
static bool takes(const tiers_user* to, const tiers_user* from)
{
    return to->room != from->room && to->user == from->user % to->users;
}

bool tiers_room_spread(tiers_room* r, void* rows, const int64_t* bound, size_t row_bytes, error* why)
{
    comm* c = r->comm;
    comm_piece *to = r->piece, *from = r->piece + c->ranks;
    const comm_piece none = {0, 0};
    if (!r->user) return true;
    const tiers_user* me = &r->user[c->rank];
    for (int32_t k = 0; k < c->ranks; k++) {
        to[k] = takes(me, &r->user[k]) ? (comm_piece){bound[k], bound[k + 1] - bound[k]} : none;
        from[k] = takes(&r->user[k], me) ? (comm_piece){bound[c->rank], bound[c->rank + 1] - bound[c->rank]} : none;
    }
    return comm_exchange(c, device_map(r->device, rows) ? NULL : r->device, rows, to, rows, from, row_bytes, why);
}

/* The least rank of a machine gives all of it. */
static void* share_room(tiers_room* r, size_t bytes, error* why)
{
    if (!comm_share(r->comm, &r->shared, r->comm->local ? 0 : bytes, outputs, why)) return NULL;
    return r->shared.part[0];
}

static void* open_file(tiers_room* r, size_t bytes, size_t most, const char* beside, error* why)
{
    if (ggnn_file_scratch_open(&r->file, beside, (int64_t)bytes)) return r->file.data;
    error_set(why, "evaluation beyond --eval-memory %zu: %s", most, r->file.error);
    return NULL;
}

typedef struct { /* where the ranks of a machine find an unnamed file */
    int64_t process, file;
} file_place;

/* The file of another rank of this machine, as one that is open there. */
static void* map_file(tiers_room* r, file_place where, size_t bytes, error* why)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)where.process, (long long)where.file);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    void* memory = fd < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) error_set(why, "%s: cannot map the file of evaluation's rows: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    if (memory == MAP_FAILED) return NULL;
    r->bytes = bytes;
    return r->mapped = memory;
}

/* The least rank of a machine has the file. */
static void* share_file(tiers_room* r, size_t bytes, size_t most, const char* beside, error* why)
{
    comm* c = r->comm;
    int64_t bound[COMM_RANKS_MAX + 1];
    void* memory = NULL;
    for (int32_t k = 0; k <= c->ranks; k++) bound[k] = k;
    if (c->local == 0 && !(memory = open_file(r, bytes, most, beside, why))) return NULL;
    file_place* all = memory_new((size_t)c->ranks * sizeof *all, outputs, why);
    if (!all) return NULL;
    all[c->rank] = (file_place){getpid(), r->file.fd};
    bool good = comm_all_gather(c, NULL, all, bound, sizeof *all, why);
    if (good && c->local) memory = map_file(r, all[c->rank - c->local], bytes, why);
    memory_free(all);
    return good && memory && comm_barrier(c, why) ? memory : NULL; /* until then the file is open */
}

void* tiers_room_open(tiers_room* r, device* d, comm* c, size_t bytes, size_t most, const char* beside, error* why)
{
    const bool host = device_map(d, r) != NULL;
    memset(r, 0, sizeof *r);
    r->device = d;
    r->comm = c;
    r->file.fd = -1;
    if (!find_users(r, host, why)) return NULL;
    if (bytes <= most && host && c->ranks > 1) return share_room(r, bytes, why);
    if (bytes <= most) return r->memory = device_new(d, bytes, outputs, why);
    if (!host) {
        error_set(why, "--eval full: the outputs of layers take %zu bytes of the device, more than --eval-memory %zu; "
                       "use --eval sampled", bytes, most);
        return NULL;
    }
    return c->ranks > 1 ? share_file(r, bytes, most, beside, why) : open_file(r, bytes, most, beside, why);
}

void tiers_room_close(tiers_room* r)
{
    if (!r->device) return;
    device_free(r->device, r->memory);
    comm_unshare(r->comm, &r->shared);
    memory_free(r->user);
    memory_free(r->piece);
    ggnn_file_scratch_close(&r->file);
    if (r->mapped) munmap(r->mapped, r->bytes);
    memset(r, 0, sizeof *r);
}
