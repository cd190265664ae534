/* Distinct random edges in the exact number asked for, and their lists, in scratch files and the output. */
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/progress.h"
#include "datasets/generate.h"

enum { CHUNK = 1 << 16, PIECES = 64, AHEAD = 16 };

typedef struct {    /* distinct unordered pairs, found by open addressing */
    uint64_t* slot; /* (mask + 1) u * N + v + 1 with u < v; 0: empty */
    uint64_t mask;
    int shift;
} pair_set;

static uint64_t slot_of(const pair_set* set, uint64_t key) { return key * 0x9E3779B97F4A7C15u >> set->shift; }

static bool insert(pair_set* set, uint64_t key)
{
    uint64_t at = slot_of(set, key);
    for (; set->slot[at]; at = (at + 1) & set->mask)
        if (set->slot[at] == key) return false;
    set->slot[at] = key;
    return true;
}

typedef struct {
    const generate_shape* from;
    int64_t first; /* number of the chunk's first candidate */
    int64_t u[CHUNK], v[CHUNK];
    uint64_t key[CHUNK]; /* 0: a self-loop */
} chunk;

static void draw_piece(void* context, int64_t piece)
{
    chunk* c = context;
    for (int64_t i = piece * (CHUNK / PIECES); i < (piece + 1) * (CHUNK / PIECES); i++) {
        int64_t u, v;
        generate_draw(c->from, c->first + i, &u, &v);
        c->u[i] = u;
        c->v[i] = v;
        c->key[i] =
            u == v ? 0 : (uint64_t)(u < v ? u : v) * (uint64_t)c->from->how->nodes + (uint64_t)(u < v ? v : u) + 1;
    }
}

/* Takes the first num_pairs distinct pairs; edge 2k is pair k, edge 2k + 1 its reverse. Candidates are drawn in
   parallel and inserted in order, so that the result does not depend on threads. */
static bool draw_pairs(ggnn_node* src, ggnn_node* dst, int64_t num_pairs, pair_set* set, chunk* c, error* why)
{
    int64_t taken = 0, limit = 64 * num_pairs + (1 << 20);
    progress bar;
    progress_begin(&bar, "drawing edges", "edges", 2 * num_pairs);
    for (c->first = 0; taken < num_pairs && c->first < limit; c->first += CHUNK) {
        parallel_each(PIECES, draw_piece, c);
        for (int64_t i = 0; i < CHUNK && taken < num_pairs; i++) {
#ifdef __GNUC__
            if (i + AHEAD < CHUNK) __builtin_prefetch(&set->slot[slot_of(set, c->key[i + AHEAD])], 1);
#endif
            if (c->key[i] == 0 || !insert(set, c->key[i])) continue;
            src[2 * taken] = dst[2 * taken + 1] = (ggnn_node)c->u[i];
            src[2 * taken + 1] = dst[2 * taken] = (ggnn_node)c->v[i];
            taken++;
        }
        progress_update(&bar, 2 * taken);
    }
    progress_end(&bar, 2 * taken, false);
    if (taken == num_pairs) return true;
    return error_set(
        why, "--edges %lld: only %lld distinct ones among %lld drawn: too many for %lld nodes of this kind",
        (long long)(2 * num_pairs), (long long)(2 * taken), (long long)c->first, (long long)c->from->how->nodes);
}

static bool open_scratch(ggnn_file_scratch* s, const ggnn_file_writer* w, int64_t bytes, error* why)
{
    return ggnn_file_scratch_open(s, w->path, bytes) || error_set(why, "%s", s->error);
}

/* Lists from edges, then their transpose: of a symmetric graph it is the graph itself, with every list sorted. lists
   has room for num_edges ids. */
static bool build_lists(ggnn_lists* out, ggnn_file_writer* w, const ggnn_node* src, const ggnn_node* dst,
                        ggnn_node* lists, error* why)
{
    const int64_t nodes1 = out->num_nodes + 1;
    ggnn_lists unsorted = {out->num_nodes, out->num_edges, NULL, lists, NULL, NULL};
    ggnn_fault fault;
    bool good;
    unsorted.indptr = memory_new((size_t)nodes1 * sizeof(int64_t), "indptr", why);
    if (!unsorted.indptr) return false;
    out->indptr = ggnn_file_reserve(w, "indptr", GGNN_FILE_I64, 1, &nodes1);
    out->indices = ggnn_file_reserve(w, "indices", DATASET_NODE, 1, &out->num_edges);
    good = out->indptr && out->indices;
    if (!good) error_set(why, "%s", w->error);
    if (good && (ggnn_graph_from_coo(&unsorted, src, dst, NULL, &fault) != GGNN_OK ||
                 ggnn_graph_transpose(out, &unsorted, &fault) != GGNN_OK))
        good = error_set(why, "building lists: %s", fault.what);
    memory_free(unsorted.indptr);
    return good;
}

bool generate_edges(ggnn_lists* out, ggnn_file_writer* w, const generate_shape* s, error* why)
{
    int64_t num_pairs = s->how->edges / 2, ids = 2 * num_pairs * (int64_t)sizeof(ggnn_node);
    ggnn_file_scratch src, dst, table;
    pair_set set = {NULL, 63, 64 - 6};
    chunk* c = memory_new(sizeof *c, "candidate edges", why);
    bool good = c != NULL;
    while (set.mask + 1 < 2 * (uint64_t)num_pairs) {
        set.mask = 2 * set.mask + 1;
        set.shift--;
    }
    memset(out, 0, sizeof *out);
    out->num_nodes = s->how->nodes;
    out->num_edges = 2 * num_pairs;
    memset(&src, 0, sizeof src);
    src.fd = -1;
    dst = table = src;
    good = good && open_scratch(&src, w, ids, why) && open_scratch(&dst, w, ids, why) &&
           open_scratch(&table, w, 8 * (int64_t)(set.mask + 1), why);
    if (good) {
        set.slot = table.data;
        c->from = s;
        good = draw_pairs(src.data, dst.data, num_pairs, &set, c, why);
    }
    /* The table has 16 bytes a pair at least: room for the unsorted lists. */
    if (good) good = build_lists(out, w, src.data, dst.data, table.data, why);
    ggnn_file_scratch_close(&src);
    ggnn_file_scratch_close(&dst);
    ggnn_file_scratch_close(&table);
    memory_free(c);
    return good;
}
