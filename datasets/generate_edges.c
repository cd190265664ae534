/* Distinct random edges in the exact number asked for, and their lists. */
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "datasets/generate.h"

enum { CHUNK = 1 << 18, EACH = 1 << 12 }; /* candidates drawn between two looks at the progress bar; in a piece */

/* ---- candidates in order -------------------------------------------------------------------------------------- */

typedef struct {
    const generate_shape* from;
    int64_t first, count; /* the chunk's candidates */
    int64_t u[CHUNK], v[CHUNK];
} chunk;

static void draw_piece(void* context, int64_t piece)
{
    chunk* c = context;
    int64_t pieces = parallel_pieces(c->count, EACH), i = parallel_begin(c->count, piece, pieces);
    int64_t end = parallel_begin(c->count, piece + 1, pieces);
    generate_draw_many(c->from, c->first + i, end - i, c->u + i, c->v + i);
}

static bool add_chunk(edge_lists* l, const chunk* c, error* why)
{
    for (int64_t i = 0, some; i < c->count; i += some) {
        some = c->count - i < EDGE_LISTS_BATCH ? c->count - i : EDGE_LISTS_BATCH;
        const int64_t *src = l->how.both ? c->u : c->v, *dst = l->how.both ? c->v : c->u;
        if (!edge_lists_add(l, src + i, dst + i, NULL, some, why)) return false;
    }
    return true;
}

/* As many candidates as pairs are wanted can never give too many. */
static bool draw_first(edge_lists* l, const generate_shape* s, int64_t num_pairs, error* why)
{
    chunk* c = memory_new(sizeof *c, "candidate edges", why);
    bool good = c != NULL;
    progress bar;
    if (good) c->from = s;
    progress_begin(&bar, "drawing edges", "edges", s->how->edges);
    for (int64_t done = 0; good && done < num_pairs; done += c->count) {
        c->first = done;
        c->count = num_pairs - done < CHUNK ? num_pairs - done : CHUNK;
        ggnn_parallel_for(parallel_pieces(c->count, EACH), draw_piece, c);
        good = add_chunk(l, c, why);
        progress_update(&bar, done << l->how.both);
    }
    progress_end(&bar, s->how->edges, false);
    memory_free(c);
    return good;
}

/* ---- those that are missing ----------------------------------------------------------------------------------- */

enum { ROUND = 1 << 16 }; /* candidates at least */

static const uint64_t NO_PAIR = UINT64_MAX, KNOWN = (uint64_t)1 << 63;

typedef struct { /* further candidates */
    const generate_shape* from;
    const edge_sorter* edges;
    int64_t first, count;
    uint64_t* pair;  /* (count, 2) both nodes, above the smaller one or, directed, the target; number in the round,
                        KNOWN: it was there before */
    uint64_t* fresh; /* (count) bits by number: no candidate before it is that pair */
} candidates;

static void draw_candidates(void* context, int64_t piece)
{
    candidates* c = context;
    int64_t pieces = parallel_pieces(c->count, EACH), end = parallel_begin(c->count, piece + 1, pieces);
    for (int64_t i = parallel_begin(c->count, piece, pieces), some; i < end; i += some) {
        int64_t u[256], v[256];
        some = end - i < 256 ? end - i : 256;
        generate_draw_many(c->from, c->first + i, some, u, v);
        for (int64_t k = 0; k < some; k++) {
            bool as_is = c->from->how->directed || u[k] < v[k];
            uint64_t above = (uint64_t)(as_is ? u[k] : v[k]), below = (uint64_t)(as_is ? v[k] : u[k]);
            c->pair[2 * (i + k)] = above == below ? NO_PAIR : above << 32 | below;
            c->pair[2 * (i + k) + 1] = (uint64_t)(i + k);
        }
    }
}

/* The first candidate whose pair is not below. */
static int64_t find_pair(const candidates* c, uint64_t pair)
{
    int64_t low = 0, high = c->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (c->pair[2 * middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Both are sorted: a merge. */
static void mark_known(void* context, int64_t piece, edge_stream* in)
{
    candidates* c = context;
    const uint64_t* record;
    int64_t i = find_pair(c, (uint64_t)c->edges->bound[piece] << 32);
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;)
        for (int64_t k = 0; k < count; k++) {
            sorted_edge e = edge_sorter_edge(c->edges, record + k * c->edges->words);
            uint64_t pair = (uint64_t)e.dst << 32 | (uint64_t)e.src;
            if (e.dst >= e.src && !c->from->how->directed) continue;
            while (i < c->count && c->pair[2 * i] < pair) i++;
            for (; i < c->count && c->pair[2 * i] == pair; i++) c->pair[2 * i + 1] = KNOWN;
        }
}

static bool is_fresh(const candidates* c, int64_t i)
{
    const uint64_t* p = c->pair + 2 * i;
    return p[0] != NO_PAIR && p[1] != KNOWN && (i == 0 || p[-2] != p[0]);
}

/* How many candidates, by number, hold the first `wanted` fresh ones. */
static int64_t count_needed(const candidates* c, int64_t wanted)
{
    int64_t needed = 0;
    for (; needed < c->count && wanted > 0; needed++) wanted -= (int64_t)(c->fresh[needed / 64] >> needed % 64 & 1);
    return needed;
}

/* Adds the first `missing` new pairs of the round, in the order of their numbers. Returns how many there were; -1 on
   failure. */
static int64_t add_fresh(edge_lists* l, candidates* c, int64_t missing, error* why)
{
    int64_t src[1024], dst[1024], some = 0, added = 0;
    memset(c->fresh, 0, (size_t)(c->count / 64 + 1) * sizeof *c->fresh);
    for (int64_t i = 0; i < c->count; i++)
        if (is_fresh(c, i)) c->fresh[c->pair[2 * i + 1] / 64] |= (uint64_t)1 << c->pair[2 * i + 1] % 64;
    int64_t needed = count_needed(c, missing);
    for (int64_t i = 0; i < c->count; i++) {
        if (!is_fresh(c, i) || (int64_t)c->pair[2 * i + 1] >= needed) continue;
        src[some] = (int64_t)(uint32_t)c->pair[2 * i];
        dst[some++] = (int64_t)(c->pair[2 * i] >> 32);
        added++;
        if (some < 1024) continue;
        if (!edge_lists_add(l, src, dst, NULL, some, why)) return -1;
        some = 0;
    }
    return edge_lists_add(l, src, dst, NULL, some, why) ? added : -1;
}

static int64_t draw_round(edge_lists* l, candidates* c, int64_t missing, error* why)
{
    ggnn_parallel_for(parallel_pieces(c->count, EACH), draw_candidates, c);
    edge_sort_records(c->pair, c->count, 2);
    if (!edge_sorter_finish(&l->sorter, why)) return -1;
    edge_sorter_scan(&l->sorter, "comparing edges", mark_known, c);
    return add_fresh(l, c, missing, why);
}

/* Candidates of one round: enough, as the last ones went, within memory, and at most `left`. */
static int64_t round_size(int64_t missing, double share, int64_t left, int64_t room)
{
    double wanted = 1.1 * (double)missing / (share > 1e-3 ? share : 1e-3) + ROUND;
    int64_t count = wanted < (double)left ? (int64_t)wanted : left;
    return count < room ? count : room;
}

static bool too_many(const generate_shape* s, int64_t pairs, int64_t drawn, error* why)
{
    return error_set(
        why, "--edges %lld: only %lld distinct ones among %lld drawn: too many for %lld nodes of this kind",
        (long long)s->how->edges, (long long)(pairs << !s->how->directed), (long long)drawn, (long long)s->how->nodes);
}

/* Rounds of further candidates, until no pair is missing or that many were drawn that it makes no sense. */
static bool draw_missing(edge_lists* l, const generate_shape* s, int64_t num_pairs, int64_t bytes, error* why)
{
    int64_t pairs = l->lists.num_edges >> l->how.both, drawn = num_pairs, room = bytes / 17;
    int64_t limit = (64 * num_pairs + (1 << 20) + ROUND - 1) / ROUND * ROUND;
    candidates c = {.from = s, .edges = &l->sorter};
    double share = (double)pairs / (double)drawn;
    if (room < ROUND) room = ROUND;
    for (; pairs < num_pairs && drawn < limit; drawn += c.count) {
        c.first = drawn;
        c.count = round_size(num_pairs - pairs, share, limit - drawn, room);
        c.pair = memory_new((size_t)c.count * 16, "candidate edges", why);
        c.fresh = c.pair ? memory_new((size_t)(c.count / 64 + 1) * 8, "bits of candidates", why) : NULL;
        int64_t added = c.fresh ? draw_round(l, &c, num_pairs - pairs, why) : -1;
        memory_free(c.pair);
        memory_free(c.fresh);
        if (added < 0) return false;
        pairs += added;
        share = (double)added / (double)c.count;
    }
    return pairs == num_pairs ? edge_lists_count(l, why) : too_many(s, pairs, drawn, why);
}

bool generate_edges(edge_lists* l, const generate_shape* s, int64_t bytes, error* why)
{
    int64_t num_pairs = s->how->directed ? s->how->edges : s->how->edges / 2;
    if (!draw_first(l, s, num_pairs, why) || !edge_lists_count(l, why)) return false;
    if (l->lists.num_edges < s->how->edges && !draw_missing(l, s, num_pairs, bytes, why)) return false;
    return edge_lists_write(l, why);
}
