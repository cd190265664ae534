#include "trainer/split/split.h"

#include <inttypes.h>
#include <string.h>

#include "common/memory.h"

/* ==== memory ======================================================================================================= */

static void* take(split_part* s, int64_t count, size_t size, const char* what, error* why)
{
    void* memory = memory_new(memory_product((size_t)count, size, 1), what, why);
    if (memory) s->memory[s->num_memory++] = memory;
    return memory;
}

/* Hop h by itself is a batch of one hop, whose seeds are the targets. */
static bool open_hop(split_part* s, int32_t h, const ggnn_graph* g, const ggnn_batch* bound, error* why)
{
    const ggnn_block* most = &bound->hop[h];
    ggnn_batch* b = &s->sampled[h];
    ggnn_sampling how = bound->how;
    how.num_hops = 1;
    how.first_hop += h;
    how.fanout[0] = bound->how.fanout[h];
    how.max_src[0] = bound->how.max_src[h];
    how.max_edges[0] = bound->how.max_edges[h];
    if (ggnn_batch_plan(b, g, &how, most->num_dst.max, s->seen) != GGNN_OK)
        return error_set(why, "%s: hop %d: %s", s->path, (int)h, b->fault.what);
    void* memory = take(s, 1, b->bytes, "a part's hop", why);
    if (!memory) return false;
    ggnn_batch_init(b, memory);
    s->hop[h].block = &b->hop[0];
    /* all parts' sources together: each target once, and one an edge at most */
    s->hop[h].send = take(s, most->num_dst.max + most->num_edges.max, sizeof(int32_t), "rows to send", why);
    s->hop[h].receive = take(s, most->num_src.max, sizeof(int32_t), "rows to receive", why);
    s->hop[h].place = take(s, most->num_src.max, sizeof(int32_t), "places of rows", why);
    return s->hop[h].send && s->hop[h].receive && s->hop[h].place;
}

static bool open_hops(split_part* s, const ggnn_graph* g, const ggnn_batch* bound, error* why)
{
    const ggnn_unique_kind kind = ggnn_unique_choose(g->num_nodes);
    int64_t most = bound->num_seeds.max > bound->max_ids ? bound->num_seeds.max : bound->max_ids;
    for (int32_t h = 0; h < s->num_hops; h++)
        if (bound->hop[h].num_edges.max > most) most = bound->hop[h].num_edges.max;
    s->seen = ggnn_unique_init(take(s, 1, ggnn_unique_bytes(kind, g->num_nodes, bound->max_ids), "a table of ids", why),
                               kind, g->num_nodes, bound->max_ids);
    s->ask = take(s, most, sizeof *s->ask, "ids of sources", why);
    s->order = take(s, bound->max_ids + 1, sizeof *s->order, "an order of ids", why);
    s->owner = take(s, bound->max_ids, sizeof *s->owner, "owners of ids", why);
    s->row = take(s, bound->max_ids, sizeof *s->row, "rows of ids", why);
    s->last = take(s, bound->max_ids, sizeof *s->last, "numbers of ids", why);
    if (!s->seen || !s->ask || !s->order || !s->owner || !s->row || !s->last) return false;
    for (int32_t h = 0; h <= s->num_hops; h++) { /* one more: append-unique may write an entry past the end */
        const int64_t ids = h < s->num_hops ? bound->hop[h].num_dst.max : bound->max_ids;
        s->most[h] = ids;
        s->list[h] = take(s, ids + 1, sizeof *s->list[h], "a part's ids", why);
        if (!s->list[h] || (h < s->num_hops && !open_hop(s, h, g, bound, why))) return false;
    }
    return true;
}

bool split_part_open(split_part* s, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_layout* at, int32_t self,
                     int64_t max_seeds, const char* path, error* why)
{
    ggnn_batch bound;
    memset(s, 0, sizeof *s);
    s->self = self;
    s->at = *at;
    s->path = path;
    s->num_hops = how->num_hops;
    if (at->parts < 1 || at->parts > GGNN_PARTS_MAX || self < 0 || self >= at->parts)
        return error_set(why, "%s: part %d of %d: there may be %d", path, (int)self, (int)at->parts, GGNN_PARTS_MAX);
    if (at->cached || at->stored != g->num_nodes)
        return error_set(why, "%s: %" PRId64 " of %" PRId64 " nodes have an owner", path, at->stored, g->num_nodes);
    if (how->last_hop_global) return error_set(why, "%s: a last hop of global ids has no sources to split", path);
    if (ggnn_batch_bound(&bound, g, how, max_seeds) != GGNN_OK)
        return error_set(why, "%s: --fanout, --batch: %s", path, bound.fault.what);
    return open_hops(s, g, &bound, why);
}

void split_part_close(split_part* s)
{
    while (s->num_memory > 0) memory_free(s->memory[--s->num_memory]);
    memset(s, 0, sizeof *s);
}

/* ==== lists and exchanges =========================================================================================== */

static bool fails(const split_part* s, ggnn_status status, int64_t v, error* why)
{
    return error_set(why, "%s: node %" PRId64 ": %s (ggnn-data verify checks the whole file)", s->path, v,
                     ggnn_status_string(status));
}

static bool owns(const split_part* s, ggnn_node v) { return ggnn_locate(&s->at, v).slot == s->self; }

static void sort_sources(split_part* s, int32_t h)
{
    split_hop* hop = &s->hop[h];
    ggnn_split(hop->receive, hop->place, hop->from, &s->at, hop->block->id, *hop->block->num_src.n);
}

static void fill_ask(split_part* s, int32_t h)
{
    const split_hop* hop = &s->hop[h];
    for (int64_t i = 0; i < *hop->block->num_src.n; i++) s->ask[i] = hop->block->id[hop->receive[i]];
}

bool split_begin(split_part* s, const ggnn_node* seeds, int64_t num_seeds, error* why)
{
    const int64_t nodes = s->sampled[0].num_nodes;
    int64_t own = 0, bad;
    memset(s->count, 0, sizeof s->count);
    ggnn_unique_begin(s->seen);
    for (int64_t i = 0; i < num_seeds; i++) {
        if (seeds[i] < 0 || seeds[i] >= nodes) return fails(s, GGNN_ERROR_ID, seeds[i], why);
        if (owns(s, seeds[i])) s->ask[own++] = seeds[i];
    }
    const ggnn_status status = ggnn_unique_append(s->seen, s->list[0], NULL, s->ask, own, &bad);
    s->count[0] = s->seen->count;
    return status == GGNN_OK || fails(s, status, s->ask[bad], why);
}

bool split_sample(split_part* s, int32_t h, const ggnn_graph* g, const ggnn_rng* rng, error* why)
{
    ggnn_batch* b = &s->sampled[h];
    const ggnn_status status = ggnn_sample(b, g, rng, s->list[h], s->count[h]);
    if (status != GGNN_OK) return fails(s, status, b->fault.node, why);
    sort_sources(s, h);
    fill_ask(s, h);
    return true;
}

bool split_sampled(split_part* s, int32_t h, const ggnn_node* id, int64_t num_src, int64_t num_edges, error* why)
{
    ggnn_block* b = &s->sampled[h].hop[0];
    if (num_src > b->num_src.max) return error_set(why, "%s: hop %d: %" PRId64 " sources", s->path, (int)h, num_src);
    *b->num_dst.n = s->count[h];
    *b->num_src.n = num_src;
    *b->num_edges.n = num_edges;
    memcpy(b->id, id, (size_t)num_src * sizeof *id);
    sort_sources(s, h);
    fill_ask(s, h);
    return true;
}

/* Appends what the parts ask for to list h + 1, and notes where each is. */
bool split_merge(split_part* s, int32_t h, const ggnn_node* const* ids, const int64_t* n, error* why)
{
    const int32_t parts = s->at.parts;
    split_hop* hop = &s->hop[h];
    ggnn_node* list = s->list[h + 1];
    int64_t bad;
    for (int32_t p = 0; p < parts; p++) hop->to[p + 1] = hop->to[p] + n[p];
    if (hop->to[parts] > hop->block->num_dst.max + hop->block->num_edges.max)
        return error_set(why, "%s: hop %d: part %d is asked for %" PRId64 " rows", s->path, (int)h, (int)s->self, hop->to[parts]);
    ggnn_unique_begin(s->seen);
    ggnn_status status = ggnn_unique_append(s->seen, list, NULL, list, s->count[h + 1], &bad);
    if (status != GGNN_OK) return fails(s, status, list[bad], why);
    for (int32_t i = 0; i < parts && status == GGNN_OK; i++) {
        const int32_t p = i == 0 ? s->self : i <= s->self ? i - 1 : i; /* itself first */
        status = ggnn_unique_append(s->seen, list, hop->send + hop->to[p], ids[p], n[p], &bad);
        if (status != GGNN_OK) return fails(s, status, ids[p][bad], why);
    }
    s->count[h + 1] = s->seen->count;
    return true;
}

/* ==== a batch that was sampled whole ================================================================================ */

/* Owners and lists. All hops number a batch's ids alike, and a hop's are the first of the next one's; so are the lists. Each
   owner is looked up once. */
static void number_ids(split_part* part, const ggnn_batch* whole)
{
    split_part* first = part;
    const int32_t parts = part->at.parts, hops = part->num_hops;
    int64_t own[GGNN_PARTS_MAX] = {0}, i = 0;
    for (int32_t h = 0; h <= hops; h++) {
        const int64_t ids = h < hops ? *whole->hop[h].num_dst.n : *whole->hop[h - 1].num_src.n;
        for (; i < ids; i++) {
            const int32_t p = ggnn_locate(&part->at, whole->id[i]).slot;
            first->owner[i] = (uint8_t)p;
            first->row[i] = (int32_t)own[p];
            part[p].list[hops][own[p]++] = whole->id[i];
        }
        for (int32_t p = 0; p < parts; p++) part[p].count[h] = own[p];
    }
    for (int32_t p = 0; p < parts; p++)
        for (int32_t h = 0; h < hops; h++) memcpy(part[p].list[h], part[p].list[hops], (size_t)part[p].count[h] * sizeof *part[p].list[h]);
    memset(first->last, 0, (size_t)i * sizeof *first->last);
    first->base = 1;
}

/* The targets of hop h, by part: their ids, and in `order` their places in the batch. */
static void take_targets(split_part* part, int32_t h, const ggnn_batch* whole)
{
    for (int64_t i = 0; i < *whole->hop[h].num_dst.n; i++) part[part->owner[i]].order[part->row[i]] = (int32_t)i;
    for (int32_t p = 0; p < part->at.parts; p++) {
        ggnn_block* to = &part[p].sampled[h].hop[0];
        *part[p].sampled[h].num_seeds.n = *to->num_dst.n = part[p].count[h];
        memcpy(to->id, part[p].list[h], (size_t)part[p].count[h] * sizeof *to->id);
        part[p].hop[h].to[0] = 0;
    }
}

static void copy_edges(ggnn_block* to, int64_t e, const ggnn_block* from, int64_t first, int64_t n)
{
    if (to->position) memcpy(to->position + e, from->position + first, (size_t)n * sizeof *to->position);
    if (to->weight) memcpy(to->weight + e, from->weight + first, (size_t)n * sizeof *to->weight);
    for (int64_t j = 0; to->neighbor && j < n; j++) to->neighbor[e + j] = from->id[from->indices[first + j]];
}

/* What targets behind the k-th ask for is on its way while that is looked at: entries of `last` for the next one's edges, the edges
   of those after it. */
static inline void fetch_ahead(const split_part* s, const int32_t* last, const ggnn_block* from, int64_t k, int64_t targets)
{
    enum { MOST = 64, NEAR = 4, FAR = 12 };
#if defined(__GNUC__)
    if (k + FAR < targets) {
        const int64_t first = from->indptr[s->order[k + FAR]], n = from->indptr[s->order[k + FAR] + 1] - first;
        for (int64_t j = 0; j < n && j < MOST; j += 16) __builtin_prefetch(&from->indices[first + j]);
    }
    if (k + NEAR < targets) {
        const int64_t first = from->indptr[s->order[k + NEAR]], n = from->indptr[s->order[k + NEAR] + 1] - first;
        for (int64_t j = 0; j < n && j < MOST; j++) __builtin_prefetch(&last[from->indices[first + j]], 1);
    }
#else
    (void)s, (void)last, (void)from, (void)k, (void)targets;
#endif
}

/* Part s's block of hop h, as sampling its list would leave it; then `order` has the places of all sources in the batch. last[i]:
   base and number of id i among the sources of the part and hop that took it last. */
static void take_edges(split_part* first, split_part* s, int32_t h, const ggnn_block* from)
{
    ggnn_block* to = &s->sampled[h].hop[0];
    const int64_t targets = s->count[h];
    const int32_t base = first->base;
    int32_t *last = first->last, next = (int32_t)targets;
    int64_t e = 0;
    for (int64_t k = 0; k < targets; k++) last[s->order[k]] = base + (int32_t)k;
    for (int64_t k = 0; k < targets; k++) {
        const int64_t begin = from->indptr[s->order[k]], n = from->indptr[s->order[k] + 1] - begin;
        fetch_ahead(s, last, from, k, targets);
        to->indptr[k] = e;
        copy_edges(to, e, from, begin, n);
        for (int64_t j = begin; j < begin + n; j++) { /* without a branch, as no one can foretell it */
            const ggnn_node i = from->indices[j];
            const bool is_new = last[i] < base;
            const int32_t number = is_new ? base + next : last[i];
            s->order[next] = (int32_t)i;
            last[i] = number;
            to->indices[e++] = number - base;
            next += is_new;
        }
    }
    to->indptr[targets] = *to->num_edges.n = e;
    *to->num_src.n = next;
    for (int64_t k = targets; k < next; k++) to->id[k] = from->id[s->order[k]];
    first->base = base + next;
    if (!to->repeats) return;
    memset(to->repeats, 0, (size_t)next * sizeof *to->repeats);
    for (int64_t j = 0; j < e; j++) to->repeats[to->indices[j]]++;
}

/* The sources by owner, as ggnn_split has them, and what the owners send for them. */
static void take_sources(split_part* part, split_part* s, int32_t h)
{
    const int32_t parts = s->at.parts;
    const int64_t all = *s->hop[h].block->num_src.n;
    const uint8_t* owner = part->owner;
    split_hop* hop = &s->hop[h];
    int32_t* send[GGNN_PARTS_MAX];
    int64_t next[GGNN_PARTS_MAX], sources[GGNN_PARTS_MAX] = {0};
    for (int64_t i = 0; i < all; i++) sources[owner[s->order[i]]]++;
    hop->from[0] = 0;
    for (int32_t q = 0; q < parts; q++) {
        split_hop* its = &part[q].hop[h];
        next[q] = hop->from[q];
        send[q] = its->send + its->to[s->self];
        hop->from[q + 1] = hop->from[q] + sources[q];
        its->to[s->self + 1] = its->to[s->self] + sources[q];
    }
    for (int32_t slot = parts; slot < parts + 2; slot++) hop->from[slot + 1] = all; /* no host, no cache */
    for (int64_t i = 0; i < all; i++) {
        const int32_t q = owner[s->order[i]];
        const int64_t at = next[q]++;
        hop->receive[at] = (int32_t)i;
        hop->place[i] = (int32_t)at;
        *send[q]++ = part->row[s->order[i]];
    }
}

bool split_single(split_part* part, const ggnn_batch* whole, error* why)
{
    const int32_t parts = part->at.parts;
    if (whole->num_hops != part->num_hops || whole->num_nodes != part->sampled[0].num_nodes)
        return error_set(why, "%s: a batch of %d hops over %" PRId64 " nodes: it was not planned so", part->path,
                         (int)whole->num_hops, whole->num_nodes);
    number_ids(part, whole);
    for (int32_t h = 0; h < part->num_hops; h++) {
        take_targets(part, h, whole);
        for (int32_t p = 0; p < parts; p++) {
            if (part->base > INT32_MAX - part[p].sampled[h].hop[0].num_src.max) { /* numbers would not fit */
                memset(part->last, 0, (size_t)*whole->hop[part->num_hops - 1].num_src.n * sizeof *part->last);
                part->base = 1;
            }
            take_edges(part, &part[p], h, &whole->hop[h]);
            take_sources(part, &part[p], h);
        }
    }
    return true;
}

/* ==== a part on its way to another process ========================================================================== */

/* Arrays of a part, one after the other, each from a multiple of 8 bytes on: do(array, count, size of an element). */
typedef void each_array(void* context, void* array, int64_t count, size_t size);

static void for_each_array(split_part* s, each_array* visit, void* context)
{
    for (int32_t h = 0; h <= s->num_hops; h++) visit(context, s->list[h], s->count[h], sizeof *s->list[h]);
    for (int32_t h = 0; h < s->num_hops; h++) {
        const split_hop* hop = &s->hop[h];
        const ggnn_block* b = &s->sampled[h].hop[0];
        const int64_t dst = *b->num_dst.n, src = *b->num_src.n, edges = *b->num_edges.n;
        visit(context, b->indptr, dst + 1, sizeof *b->indptr);
        visit(context, b->indices, edges, sizeof *b->indices);
        visit(context, b->id, src, sizeof *b->id);
        if (b->neighbor) visit(context, b->neighbor, edges, sizeof *b->neighbor);
        if (b->position) visit(context, b->position, edges, sizeof *b->position);
        if (b->weight) visit(context, b->weight, edges, sizeof *b->weight);
        if (b->repeats) visit(context, b->repeats, src, sizeof *b->repeats);
        visit(context, hop->receive, src, sizeof *hop->receive);
        visit(context, hop->place, src, sizeof *hop->place);
        visit(context, hop->send, hop->to[s->at.parts], sizeof *hop->send);
    }
}

typedef struct { /* of which these arrays are */
    int64_t count[GGNN_HOPS_MAX + 1], size[GGNN_HOPS_MAX][3]; /* size: targets, sources, edges */
    int64_t from[GGNN_HOPS_MAX][GGNN_PARTS_MAX + 3], to[GGNN_HOPS_MAX][GGNN_PARTS_MAX + 1];
} slice_header;

typedef struct {
    char*  memory; /* NULL: bytes are counted */
    size_t used;
} slice;

static size_t whole_words(size_t bytes) { return (bytes + 7) / 8 * 8; }

static void count_array(void* context, void* array, int64_t count, size_t size)
{
    (void)array;
    *(size_t*)context += whole_words((size_t)count * size);
}

static void pack_array(void* context, void* array, int64_t count, size_t size)
{
    slice* to = context;
    memcpy(to->memory + to->used, array, (size_t)count * size);
    count_array(&to->used, array, count, size);
}

static void unpack_array(void* context, void* array, int64_t count, size_t size)
{
    slice* from = context;
    memcpy(array, from->memory + from->used, (size_t)count * size);
    count_array(&from->used, array, count, size);
}

size_t split_slice_bytes(split_part* s)
{
    size_t bytes = sizeof(slice_header);
    for_each_array(s, count_array, &bytes);
    return bytes;
}

void split_slice_pack(void* memory, split_part* s)
{
    slice_header* head = memory;
    slice to = {memory, sizeof *head};
    memset(head, 0, sizeof *head);
    memcpy(head->count, s->count, sizeof s->count);
    for (int32_t h = 0; h < s->num_hops; h++) {
        const ggnn_block* b = &s->sampled[h].hop[0];
        const int64_t size[] = {*b->num_dst.n, *b->num_src.n, *b->num_edges.n};
        memcpy(head->size[h], size, sizeof size);
        memcpy(head->from[h], s->hop[h].from, sizeof head->from[h]);
        memcpy(head->to[h], s->hop[h].to, sizeof head->to[h]);
    }
    for_each_array(s, pack_array, &to);
}

static bool within(int64_t count, int64_t most) { return count >= 0 && count <= most; }

static void take_header(split_part* s, const slice_header* head)
{
    memcpy(s->count, head->count, sizeof s->count);
    for (int32_t h = 0; h < s->num_hops; h++) {
        ggnn_batch* b = &s->sampled[h];
        *b->num_seeds.n = *b->hop[0].num_dst.n = head->size[h][0];
        *b->hop[0].num_src.n = head->size[h][1];
        *b->hop[0].num_edges.n = head->size[h][2];
        memcpy(s->hop[h].from, head->from[h], sizeof head->from[h]);
        memcpy(s->hop[h].to, head->to[h], sizeof head->to[h]);
    }
}

bool split_slice_take(split_part* s, void* memory, size_t bytes, error* why)
{
    const slice_header* head = memory;
    slice from = {memory, sizeof *head};
    bool good = bytes >= sizeof *head && within(head->count[s->num_hops], s->most[s->num_hops]);
    for (int32_t h = 0; good && h < s->num_hops; h++) {
        const ggnn_block* b = &s->sampled[h].hop[0];
        good = head->size[h][0] == head->count[h] && within(head->count[h], s->most[h]) &&
               within(head->size[h][1], b->num_src.max) && within(head->size[h][2], b->num_edges.max) &&
               within(head->to[h][s->at.parts], b->num_dst.max + b->num_edges.max);
    }
    if (good) take_header(s, head);
    if (!good || split_slice_bytes(s) != bytes) return error_set(why, "%s: a part of a batch of %zu bytes is not one", s->path, bytes);
    for_each_array(s, unpack_array, &from);
    return true;
}
