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
    s->order = take(s, bound->max_ids, sizeof *s->order, "an order of ids", why);
    if (!s->seen || !s->ask || !s->order) return false;
    for (int32_t h = 0; h <= s->num_hops; h++) { /* one more: append-unique may write an entry past the end */
        const int64_t ids = h < s->num_hops ? bound->hop[h].num_dst.max : bound->max_ids;
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

void split_ask(split_part* s, int32_t h)
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
    split_ask(s, h);
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
    split_ask(s, h);
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

/* Every part's sources to their owners. */
static bool exchange_ids(split_part* part, int32_t h, error* why)
{
    const int32_t parts = part->at.parts;
    const ggnn_node* ids[GGNN_PARTS_MAX];
    int64_t n[GGNN_PARTS_MAX];
    for (int32_t q = 0; q < parts; q++) {
        for (int32_t p = 0; p < parts; p++) {
            const int64_t* from = part[p].hop[h].from;
            ids[p] = part[p].ask + from[q];
            n[p] = from[q + 1] - from[q];
        }
        if (!split_merge(&part[q], h, ids, n, why)) return false;
    }
    return true;
}

/* ==== a batch that was sampled whole ================================================================================ */

/* The part's lists. All hops number a batch's ids alike, and a hop's are the first of the next one's; so are the lists.
   order: which of the batch's ids each is. */
static void take_lists(split_part* s, const ggnn_batch* whole)
{
    int64_t own = 0, i = 0;
    for (int32_t h = 0; h <= s->num_hops; h++) {
        const int64_t ids = h < s->num_hops ? *whole->hop[h].num_dst.n : *whole->hop[h - 1].num_src.n;
        for (; i < ids; i++)
            if (owns(s, whole->id[i])) s->order[own++] = (int32_t)i;
        for (int64_t k = 0; k < own; k++) s->list[h][k] = whole->id[s->order[k]];
        s->count[h] = own;
    }
}

/* Those lists of the whole batch's hop whose targets are in list h, as sampling them would leave them. */
static bool take_hop(split_part* s, int32_t h, const ggnn_block* from, error* why)
{
    ggnn_batch* b = &s->sampled[h];
    ggnn_block* to = &b->hop[0];
    ggnn_node* id = to->neighbor ? to->neighbor : s->ask;
    int64_t e = 0, bad = 0;
    ggnn_status status = ggnn_batch_begin(b, s->list[h], s->count[h]);
    if (status != GGNN_OK) return fails(s, status, b->fault.node, why);
    for (int64_t k = 0; k < s->count[h]; k++) {
        to->indptr[k] = e;
        for (int64_t j = from->indptr[s->order[k]]; j < from->indptr[s->order[k] + 1]; j++, e++) {
            id[e] = from->id[from->indices[j]];
            if (to->position) to->position[e] = from->position[j];
            if (to->weight) to->weight[e] = from->weight[j];
        }
    }
    to->indptr[s->count[h]] = *to->num_edges.n = e;
    status = ggnn_unique_append(b->seen, b->id, to->indices, id, e, &bad);
    if (status != GGNN_OK) return fails(s, status, id[bad], why);
    *to->num_src.n = b->seen->count;
    if (to->repeats) {
        memset(to->repeats, 0, (size_t)*to->num_src.n * sizeof *to->repeats);
        for (int64_t j = 0; j < e; j++) to->repeats[to->indices[j]]++;
    }
    return true;
}

bool split_take(split_part* s, const ggnn_batch* whole, error* why)
{
    if (whole->num_hops != s->num_hops || whole->num_nodes != s->sampled[0].num_nodes)
        return error_set(why, "%s: a batch of %d hops over %" PRId64 " nodes: it was not planned so", s->path,
                         (int)whole->num_hops, whole->num_nodes);
    take_lists(s, whole);
    for (int32_t h = 0; h < s->num_hops; h++) {
        if (!take_hop(s, h, &whole->hop[h], why)) return false;
        sort_sources(s, h);
    }
    return true;
}

bool split_single(split_part* part, const ggnn_batch* whole, error* why)
{
    const int32_t parts = part->at.parts;
    for (int32_t p = 0; p < parts; p++)
        if (!split_take(&part[p], whole, why)) return false;
    for (int32_t h = 0; h < part->num_hops; h++) {
        for (int32_t p = 0; p < parts; p++) split_ask(&part[p], h);
        if (!exchange_ids(part, h, why)) return false;
    }
    return true;
}
