#include "datasets/compact.h"

#include <string.h>

#include "common/memory.h"

/* ---- by bits -------------------------------------------------------------------------------------------------- */

typedef struct {
    uint64_t bits;
    int64_t before;
} word; /* before: ids in the words in front of this one */

static int64_t ones(uint64_t bits) { return __builtin_popcountll(bits); }

typedef struct {
    const edge_sorter* edges;
    word* table;
} mark_job;

static void mark(word* table, int64_t id)
{
    uint64_t *bits = &table[id / 64].bits, bit = (uint64_t)1 << id % 64;
    if (!(__atomic_load_n(bits, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(bits, bit, __ATOMIC_RELAXED);
}

static void mark_piece(void* context, int64_t piece, edge_stream* in)
{
    const mark_job* job = context;
    const uint64_t* record;
    int64_t dst = -1;
    (void)piece;
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;)
        for (int64_t i = 0; i < count; i++) {
            sorted_edge e = edge_sorter_edge(job->edges, record + i * job->edges->words);
            if (e.dst != dst) mark(job->table, e.dst);
            mark(job->table, e.src);
            dst = e.dst;
        }
}

static bool make_bits(compact_map* m, edge_sorter* edges, error* why)
{
    int64_t words = m->largest / 64 + 1;
    word* w = m->table = memory_new((size_t)words * sizeof *w, "the ids that occur", why);
    if (!w) return false;
    edge_sorter_scan(edges, "finding ids", mark_piece, &(mark_job){edges, w});
    for (int64_t i = 0; i < words; i++) {
        w[i].before = m->num_ids;
        m->num_ids += ones(w[i].bits);
    }
    return true;
}

/* ---- by sorting ----------------------------------------------------------------------------------------------- */

typedef struct { /* ids are sorted as the targets of edges from 0 */
    const edge_sorter* edges;
    edge_sorter* ids;
    error* why;
    int64_t* count; /* (pieces) distinct ids; then where the piece's first one goes */
    int64_t* table; /* NULL: they are counted */
} sort_job;

static void add_ids(void* context, int64_t piece, edge_stream* in)
{
    sort_job* job = context;
    const uint64_t* record;
    int64_t dst = -1;
    (void)piece;
    for (int64_t count; !job->why->text[0] && (count = edge_stream_next(in, &record)) > 0;) {
        int64_t place = edge_sorter_begin(job->ids, 2 * count, job->edges->largest, job->why), added = 0;
        if (place < 0) return;
        for (int64_t i = 0; i < count; i++) {
            sorted_edge e = edge_sorter_edge(job->edges, record + i * job->edges->words);
            if (e.dst != dst) edge_sorter_put(job->ids, place + added++, &(sorted_edge){.dst = e.dst});
            edge_sorter_put(job->ids, place + added++, &(sorted_edge){.dst = e.src});
            dst = e.dst;
        }
        edge_sorter_end(job->ids, added);
    }
}

static void take_distinct(void* context, int64_t piece, edge_stream* in)
{
    const sort_job* job = context;
    const uint64_t* record;
    int64_t id = -1, at = job->table ? job->count[piece] : 0;
    for (int64_t count; (count = edge_stream_next(in, &record)) > 0;)
        for (int64_t i = 0; i < count; i++) {
            sorted_edge e = edge_sorter_edge(job->ids, record + i * job->ids->words);
            if (e.dst == id) continue;
            id = e.dst;
            if (job->table) job->table[at] = id;
            at++;
        }
    if (!job->table) job->count[piece] = at;
}

/* Counted, then written: the table is as large as it needs to be. */
static bool list_distinct(compact_map* m, sort_job* job, error* why)
{
    int64_t pieces = job->ids->num_pieces;
    job->count = memory_new((size_t)pieces * sizeof *job->count, "ids in pieces", why);
    if (!job->count) return false;
    edge_sorter_scan(job->ids, "finding ids", take_distinct, job);
    for (int64_t i = 0; i < pieces; i++) {
        int64_t count = job->count[i];
        job->count[i] = m->num_ids;
        m->num_ids += count;
    }
    m->table = job->table = memory_new((size_t)m->num_ids * sizeof *job->table, "the ids that occur", why);
    if (m->table) edge_sorter_scan(job->ids, "finding ids", take_distinct, job);
    memory_free(job->count);
    return m->table != NULL;
}

static bool make_sorted(compact_map* m, edge_sorter* edges, int64_t memory, error* why)
{
    edge_sorter ids;
    edge_sorter_options how = {.path = edges->how.path, .memory = memory, .expected = 2 * edges->added};
    sort_job job = {.edges = edges, .ids = &ids, .why = why};
    if (!edge_sorter_open(&ids, &how, why)) return false;
    edge_sorter_walk(edges, "collecting ids", add_ids, &job);
    bool good = !why->text[0] && edge_sorter_finish(&ids, why) && list_distinct(m, &job, why);
    edge_sorter_close(&ids);
    return good;
}

/* The smallest id: the table is not empty. */
static int64_t first_id(const compact_map* m)
{
    const word* w = m->table;
    int64_t i = 0;
    if (!m->by_bits) return ((const int64_t*)m->table)[0];
    while (!w[i].bits) i++;
    return i * 64 + __builtin_ctzll(w[i].bits);
}

/* ---- the interface -------------------------------------------------------------------------------------------- */

bool compact_make(compact_map* m, edge_sorter* edges, bool force_sort, int64_t memory, error* why)
{
    memset(m, 0, sizeof *m);
    m->largest = edges->largest;
    m->by_bits = !force_sort && m->largest / 64 <= edges->added && (m->largest / 64 + 1) * 16 <= memory;
    bool ok = m->by_bits ? make_bits(m, edges, why) : make_sorted(m, edges, memory, why);
    if (ok && m->num_ids > 0) m->least = first_id(m);
    if (!ok) compact_close(m);
    return ok;
}

int64_t compact_rank(const compact_map* m, int64_t id)
{
    if (m->by_bits) {
        const word* w = (const word*)m->table + id / 64;
        return w->before + ones(w->bits & (((uint64_t)1 << id % 64) - 1));
    }
    const int64_t* ids = m->table;
    int64_t low = 0, high = m->num_ids - 1; /* ids[low] <= id <= ids[high] */
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void compact_ids(const compact_map* m, int64_t* external)
{
    if (!m->by_bits) {
        memcpy(external, m->table, (size_t)m->num_ids * sizeof *external);
        return;
    }
    const word* w = m->table;
    for (int64_t i = 0, n = 0; n < m->num_ids; i++)
        for (uint64_t bits = w[i].bits; bits; bits &= bits - 1) external[n++] = i * 64 + __builtin_ctzll(bits);
}

void compact_close(compact_map* m)
{
    memory_free(m->table);
    m->table = NULL;
}
