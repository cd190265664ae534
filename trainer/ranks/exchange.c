#include "trainer/ranks/exchange.h"

#include <string.h>

#include "common/memory.h"
#include "trainer/device/mat.h"
#include "trainer/device/ops.h"

static const char what[] = "rows of other devices (--gather exchange)";

typedef device_growing room;

struct exchange {
    device* device;
    comm*   comm;
    int32_t first, parts, own; /* part p is rank first + p's; own: this rank's */
    int64_t num_rows;
    ggnn_store stored;
    exchange_cost cost;

    void *part, *cache, *rank, *cache_rank, *bound, *base; /* of `stored` */
    int64_t* ends;                    /* (parts + 3) of a split, on the device */
    int64_t* ends_copy;               /* (parts + 3) `ends` on the host */
    int64_t *wanted, *asked;          /* (ranks) ids for each rank, and from each */
    int64_t sent;                     /* of the ids of a split: the first ones, which the cache has not */
    comm_piece *mine, *its;           /* (ranks) pieces of what this rank reads, and of what others do */

    room gather, scatter, workspace, packed; /* of a split: which ids, where they lie, ids by owner */
    room ids, given;      /* asked for by others, and their rows */
    room got, ordered, numbers; /* rows by owner; in order, where they are not floats yet, and 0, 1, 2 .. */
    room rows, range;     /* of exchange_some: floats; of exchange_range */
    ggnn_node* place;     /* (num_rows) a row's place in `rows` */
    const void** some_base; /* (3) bases of `some` */
    ggnn_store some;
};

static size_t row_bytes(const exchange* x) { return (size_t)x->stored.pitch; }

/* Room for `count` times `size` bytes; what was there is lost where it grows. */
static void* take(exchange* x, room* r, int64_t count, size_t size, error* why)
{
    return device_grow(x->device, r, memory_product((size_t)count, size, 1), what, why);
}

/* ==== the own part ============================================================================================== */

static void* send(exchange* x, const void* from, size_t bytes, error* why)
{
    void* to = device_new(x->device, bytes, what, why);
    if (to) device_upload(x->device, to, from, bytes);
    return to;
}

/* Rows of these ids in memory of the device, by way of the host, a piece at a time. NULL on failure. */
static void* fill(exchange* x, const ggnn_store* from, const ggnn_node* id, int64_t rows, const char* of, error* why)
{
    enum { PIECE = 1 << 14 };
    const size_t row = row_bytes(x);
    void* to = device_new(x->device, memory_product((size_t)rows, row, 1), of, why);
    void* piece = to ? memory_new(PIECE * row, "a piece of a part", why) : NULL;
    if (!piece) {
        device_free(x->device, to);
        return NULL;
    }
    for (int64_t i = 0; i < rows; i += PIECE) {
        const int64_t n = rows - i < PIECE ? rows - i : PIECE;
        ggnn_gather(piece, from->width, from->type, from, id + i, n);
        device_upload(x->device, (char*)to + (size_t)i * row, piece, (size_t)n * row);
    }
    memory_free(piece);
    return to;
}

/* The own part's rows, and the cache's. id (num_rows): scratch. */
static bool fill_rows(exchange* x, const ggnn_store* from, const ggnn_layout* host, ggnn_node* id, error* why)
{
    const int64_t rows = ggnn_layout_nodes(id, host, x->num_rows, x->own);
    x->part = fill(x, from, id, rows, "a part of the features", why);
    if (!x->part || !host->cached) return x->part != NULL;
    const int64_t cached = ggnn_layout_nodes(id, host, x->num_rows, x->parts + 1);
    x->cache = fill(x, from, id, cached, "the cache of features", why);
    return x->cache != NULL;
}

/* Who has which rows, as the device reads it, and the own ones. host: with the host's arrays, ranks (num_rows) and bound. */
static bool open_part(exchange* x, const ggnn_store* from, ggnn_layout* host, ggnn_node* id, error* why)
{
    const size_t slots = (size_t)x->parts + 2;
    ggnn_layout* at = &x->stored.at;
    if (!fill_rows(x, from, host, id, why)) return false;
    const void** base = memory_new(slots * sizeof *base, what, why);
    if (!base) return false;
    base[x->own] = x->part;
    base[x->parts + 1] = x->cache;
    x->base = send(x, base, slots * sizeof *base, why);
    memory_free(base);
    *at = *host;
    if (host->rank) at->rank = x->rank = send(x, host->rank, (size_t)x->num_rows * sizeof *at->rank, why);
    if (host->cache_row) at->cache_row = x->cache_rank = send(x, host->cache_row, (size_t)x->num_rows * sizeof *at->cache_row, why);
    if (host->bound) at->bound = x->bound = send(x, host->bound, (slots - 1) * sizeof *at->bound, why);
    x->stored.base = x->base;
    return !why->text[0];
}

static bool open_owners(exchange* x, const exchange_plan* plan, error* why)
{
    const size_t N = (size_t)x->num_rows;
    ggnn_layout at;
    ggnn_fault  fault;
    bool good = false;
    int64_t*   bound = memory_new(((size_t)x->parts + 1) * sizeof *bound, what, why);
    ggnn_node* rank = bound ? memory_new(memory_product(N, sizeof *rank, 1), what, why) : NULL;
    ggnn_node* id = rank ? memory_new(memory_product(N, sizeof *id, 1), what, why) : NULL;
    const ggnn_owner by = plan->owner ? GGNN_OWNER_MAP : plan->owners;
    if (id && ggnn_layout_owners(&at, rank, bound, by, plan->owner, x->num_rows, x->parts, &fault) != GGNN_OK)
        error_set(why, "parts: %s", fault.what);
    else if (id) {
        at.cache_row = plan->cached ? plan->cache_rank : NULL;
        at.cached = plan->cached;
        good = open_part(x, &plan->from, &at, id, why);
    }
    memory_free(id);
    memory_free(rank);
    memory_free(bound);
    return good;
}

static bool open_exchange(exchange* x, const exchange_plan* plan, error* why)
{
    if (x->parts > x->device->most_parts)
        return error_set(why, "--gather exchange: GPUs split ids over at most %d devices, here are %d", (int)x->device->most_parts, (int)x->parts);
    const size_t ranks = (size_t)x->comm->ranks, ends = (size_t)x->parts + 3;
    x->mine = memory_new(2 * ranks * sizeof *x->mine, what, why);
    x->wanted = x->mine ? memory_new((2 * ranks + ends) * sizeof *x->wanted, what, why) : NULL;
    if (!x->wanted) return false;
    x->its = x->mine + ranks;
    x->asked = x->wanted + ranks;
    x->ends_copy = x->asked + ranks;
    x->ends = device_new(x->device, ends * sizeof *x->ends, what, why);
    return x->ends && open_owners(x, plan, why);
}

exchange* exchange_create(device* d, const exchange_plan* plan, error* why)
{
    exchange* x = memory_new(sizeof *x, what, why);
    comm*     c = plan->over;
    if (!x) return NULL;
    x->device = d;
    x->comm = c;
    x->first = plan->machines ? 0 : c->rank - c->local;
    x->parts = plan->machines ? c->ranks : c->locals;
    x->own = c->rank - x->first;
    x->num_rows = plan->num_rows;
    x->stored = (ggnn_store){.width = plan->from.width, .type = plan->from.type};
    x->stored.pitch = x->stored.width * ggnn_type_bytes(x->stored.type);
    if (open_exchange(x, plan, why)) return x;
    exchange_free(x);
    return NULL;
}

void exchange_free(exchange* x)
{
    if (!x) return;
    room* const rooms[] = {&x->gather, &x->scatter, &x->workspace, &x->packed, &x->ids,  &x->given,
                           &x->got,    &x->ordered, &x->numbers,   &x->rows,   &x->range};
    void* const arrays[] = {x->part, x->cache, x->rank, x->cache_rank, x->bound, x->base, x->ends, x->place, (void*)x->some_base};
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) device_free(x->device, rooms[i]->memory);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) device_free(x->device, arrays[i]);
    memory_free(x->wanted);
    memory_free(x->mine);
    memory_free(x);
}

const ggnn_store* exchange_stored(const exchange* x) { return &x->stored; }
exchange_cost exchange_cost_of(const exchange* x) { return x->cost; }

/* ==== rows ====================================================================================================== */

/* The ids by owner: x->packed, of which x->mine says whose are which; those that the cache has are last. */
static bool split(exchange* x, const ggnn_node* id, int64_t n, error* why)
{
    device* d = x->device;
    const row_ops* ops = d->ops->rows;
    int32_t *gather = take(x, &x->gather, n, sizeof *gather, why), *scatter = take(x, &x->scatter, n, sizeof *scatter, why);
    void *packed = take(x, &x->packed, n, sizeof *id, why), *workspace = take(x, &x->workspace, 1, ops->split_bytes(n, x->parts), why);
    if (!gather || !scatter || !packed || !workspace) return false;
    ops->split(d, gather, scatter, x->ends, &x->stored.at, id, n, workspace);
    const int32_t words = sizeof *id / sizeof(float); /* an id is moved as so many */
    ops->permute(d, packed, words, id, words, GGNN_F32, words, gather, n);
    const int64_t* ends = device_read(d, x->ends_copy, x->ends, ((size_t)x->parts + 3) * sizeof *ends);
    comm_pieces_between(x->mine + x->first, ends, x->parts);
    x->sent = ends[x->parts];
    return true;
}

/* How many ids each rank asks for: x->its. Returns their sum, -1 on failure. */
static int64_t exchange_counts(exchange* x, error* why)
{
    const comm* c = x->comm;
    comm_piece one[COMM_RANKS_MAX];
    for (int32_t r = 0; r < c->ranks; r++) {
        one[r] = (comm_piece){r, r >= x->first && r < x->first + x->parts};
        x->wanted[r] = x->mine[r].count;
    }
    if (!comm_exchange(x->comm, NULL, x->asked, one, x->wanted, one, sizeof *x->asked, why)) return -1;
    return comm_pieces(x->its, x->asked, c->ranks);
}

/* After the counts: what this rank sends, and reads. */
static void add_cost(exchange* x, int64_t n)
{
    exchange_cost* cost = &x->cost;
    cost->cache += n - x->sent;
    for (int32_t r = x->first; r < x->first + x->parts; r++) {
        const int64_t wanted = x->wanted[r], asked = x->asked[r];
        *(r == x->comm->rank ? &cost->own : &cost->peer) += wanted;
        if (r == x->comm->rank) continue;
        cost->messages += 1 + (wanted > 0) + (asked > 0);
        cost->bytes += (int64_t)sizeof wanted + wanted * (int64_t)sizeof(ggnn_node) + asked * (int64_t)row_bytes(x);
    }
}

/* The rows of x->packed, as they are stored: x->got. */
static bool exchange_packed(exchange* x, int64_t n, error* why)
{
    const int64_t asked = exchange_counts(x, why);
    if (asked < 0) return false;
    void *ids = take(x, &x->ids, asked, sizeof(ggnn_node), why), *given = take(x, &x->given, asked, row_bytes(x), why);
    void* got = take(x, &x->got, n, row_bytes(x), why);
    if (!ids || !given || !got) return false;
    add_cost(x, n);
    if (!comm_exchange(x->comm, x->device, ids, x->its, x->packed.memory, x->mine, sizeof(ggnn_node), why)) return false;
    const row_ops* ops = x->device->ops->rows;
    ops->gather(x->device, given, x->stored.width, x->stored.type, &x->stored, ids, asked);
    if (x->sent < n)
        ops->gather(x->device, (char*)got + (size_t)x->sent * row_bytes(x), x->stored.width, x->stored.type, &x->stored,
                    (ggnn_node*)x->packed.memory + x->sent, n - x->sent);
    return comm_exchange(x->comm, x->device, got, x->mine, given, x->its, row_bytes(x), why);
}

bool exchange_rows(exchange* x, float* out, int64_t ld_out, const ggnn_node* id, int64_t n, error* why)
{
    const row_ops* ops = x->device->ops->rows;
    const int32_t   width = x->stored.width;
    if (!split(x, id, n, why) || !exchange_packed(x, n, why)) return false;
    if (x->stored.type == GGNN_F32) {
        ops->permute(x->device, out, ld_out, x->got.memory, width, GGNN_F32, width, x->scatter.memory, n);
        return true;
    }
    void*      ordered = take(x, &x->ordered, n, row_bytes(x), why);
    ggnn_node* numbers = take(x, &x->numbers, n, sizeof *numbers, why);
    if (!ordered || !numbers) return false;
    const ggnn_store rows = ggnn_store_plain(ordered, n, width, x->stored.type);
    ops->permute(x->device, ordered, width, x->got.memory, width, x->stored.type, width, x->scatter.memory, n);
    ops->range(x->device, numbers, 0, n);
    ops->gather(x->device, out, ld_out, GGNN_F32, &rows, numbers, n);
    return true;
}

/* ==== a store of some rows: they are its cache, and it has nothing else ============================================ */

static bool open_some(exchange* x, error* why)
{
    x->place = device_new(x->device, memory_product((size_t)x->num_rows, sizeof *x->place, 1), what, why);
    x->some_base = x->place ? device_new(x->device, 3 * sizeof *x->some_base, what, why) : NULL;
    x->some = ggnn_store_plain(NULL, 0, x->stored.width, GGNN_F32);
    x->some.pitch = mat_padded(x->stored.width) * (int64_t)sizeof(float);
    x->some.base = x->some_base;
    x->some.at.cache_row = x->place;
    return x->some_base != NULL;
}

const ggnn_store* exchange_some(exchange* x, const ggnn_node* id, int64_t n, error* why)
{
    if (!x->some_base && !open_some(x, why)) return NULL;
    const void* base[3] = {NULL, NULL, take(x, &x->rows, n, (size_t)x->some.pitch, why)};
    if (!base[2]) return NULL;
    if (!exchange_rows(x, x->rows.memory, x->some.pitch / (int64_t)sizeof(float), id, n, why)) return NULL;
    x->device->ops->rows->number(x->device, x->place, id, n);
    device_upload(x->device, x->some_base, base, sizeof base);
    x->some.at.cached = n;
    return &x->some;
}

const ggnn_store* exchange_range(exchange* x, int64_t first, int64_t n, error* why)
{
    ggnn_node* id = take(x, &x->range, n, sizeof *id, why);
    if (!id) return NULL;
    x->device->ops->rows->range(x->device, id, first, n);
    return exchange_some(x, id, n, why);
}
