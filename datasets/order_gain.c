#include "datasets/order_gain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "common/printable.h"
#include "common/resources.h"

const int32_t order_gain_width[ORDER_GAIN_WIDTHS] = {32, 128};

enum {
    WAYS = 8,
    LINE = 64,
    TLB_PAGES = 2048,    /* second level of Intel's since Ice Lake, AMD's since Zen 2; nothing tells it without privileges */
    ENTRY = 8,           /* bytes of a page in the page table */
    STRETCHES = 8,       /* of the edges, evenly apart */
    STRETCH = 1 << 16,   /* edges of one */
    WARM = STRETCH / 2,  /* of these, not counted: the caches fill */
    FEW = 1 << 21,       /* edges of which all count as degrees; of more blocks are taken */
    BLOCK = 4096,        /* edges */
    SHARE = 4,           /* of so many blocks one */
    LARGEST = UINT16_MAX /* degree that is told from larger ones */
};

/* ---- a cache --------------------------------------------------------------------------------------------------- */

typedef struct { /* least recently used of WAYS, sets by hash */
    int64_t* tag; /* (sets, WAYS) the latest first; -1: nothing */
    int64_t sets; /* a power of two */
} lru;

static int64_t lru_sets(int64_t entries)
{
    int64_t sets = 1;
    while (2 * sets * WAYS <= entries) sets *= 2;
    return sets;
}

static bool lru_misses(lru* c, int64_t what)
{
    int64_t* set = c->tag + (int64_t)(((uint64_t)what * 0x9e3779b97f4a7c15u) >> 32 & (uint64_t)(c->sets - 1)) * WAYS;
    int way = 0;
    if (*set == what) return false;
    while (way < WAYS && set[way] != what) way++;
    const bool miss = way == WAYS;
    memmove(set + 1, set, (size_t)(miss ? WAYS - 1 : way) * sizeof *set);
    *set = what;
    return miss;
}

/* ---- stretches of the edges ------------------------------------------------------------------------------------ */

typedef struct { /* of a width */
    lru rows, tables, pages;
    int64_t count[3];
} model;

typedef struct {
    const ggnn_csc* csc;
    int64_t num_nodes, num_edges;
    const ggnn_node *rank, *order; /* or NULL: lists as they are */
    int64_t page_bytes, length; /* of a stretch */
    int64_t first[STRETCHES]; /* the target with which each begins, by its new number */
    model of[STRETCHES][ORDER_GAIN_WIDTHS];
    int64_t reads[STRETCHES]; /* counted */
    ggnn_node* list;          /* (STRETCHES, STRETCH) */
} sample;

static int64_t target(const sample* s, int64_t i) { return s->order ? (int64_t)s->order[i] : i; }

static int64_t degree(const sample* s, int64_t i)
{
    const int64_t v = target(s, i);
    return s->csc->indptr[v + 1] - s->csc->indptr[v];
}

/* Where stretches begin: the targets that have the edges E k / STRETCHES. */
static void find_stretches(sample* s)
{
    int64_t edges = 0, k = 0;
    for (int64_t i = 0; i < s->num_nodes && k < STRETCHES; i++) {
        edges += degree(s, i);
        while (k < STRETCHES && edges > parallel_begin(s->num_edges, k, STRETCHES)) s->first[k++] = i;
    }
}

static int by_id(const void* a, const void* b)
{
    const ggnn_node x = *(const ggnn_node*)a, y = *(const ggnn_node*)b;
    return (x > y) - (x < y);
}

/* The sources of up to `room` edges of target i, in the order in which they are read. */
static int64_t read_list(const sample* s, int64_t i, ggnn_node* list, int64_t room)
{
    const int64_t begin = s->csc->indptr[target(s, i)], n = degree(s, i) < room ? degree(s, i) : room;
    for (int64_t k = 0; k < n; k++) {
        const ggnn_node u = s->csc->indices[begin + k];
        const bool known = (uint64_t)u < (uint64_t)s->num_nodes; /* a broken list is no reason to stop: verify names it */
        list[k] = known && s->rank ? s->rank[u] : known ? u : 0;
    }
    if (s->rank) qsort(list, (size_t)n, sizeof *list, by_id);
    return n;
}

static void read_row(model* m, int64_t node, int64_t row_bytes, int64_t page_bytes, bool counted)
{
    const int64_t page = node * row_bytes / page_bytes;
    const bool row = lru_misses(&m->rows, node), walk = lru_misses(&m->pages, page);
    const bool far = walk && lru_misses(&m->tables, page / (LINE / ENTRY));
    if (!counted) return;
    m->count[0] += row;
    m->count[1] += walk;
    m->count[2] += far;
}

static void count_stretch(void* context, int64_t k)
{
    sample* s = context;
    ggnn_node* list = s->list + k * STRETCH;
    const int64_t warm = s->length < STRETCH ? 0 : WARM; /* of few edges all are counted */
    for (int64_t i = s->first[k], done = 0; i < s->num_nodes && done < s->length; i++) {
        const int64_t n = read_list(s, i, list, s->length - done);
        for (int w = 0; w < ORDER_GAIN_WIDTHS; w++)
            for (int64_t j = 0; j < n; j++)
                read_row(&s->of[k][w], (int64_t)list[j], 4 * order_gain_width[w], s->page_bytes, done + j >= warm);
        done += n;
        s->reads[k] += done <= warm ? 0 : done - n < warm ? done - warm : n;
    }
}

/* Empty caches for all stretches, one behind the other. NULL: no memory. */
static int64_t* open_models(sample* s, int64_t cache_bytes, error* why)
{
    int64_t sets[ORDER_GAIN_WIDTHS], all = 0;
    const int64_t tlb = lru_sets(TLB_PAGES);
    for (int w = 0; w < ORDER_GAIN_WIDTHS; w++) all += 2 * (sets[w] = lru_sets(cache_bytes / 4 / order_gain_width[w])) + tlb;
    const size_t bytes = (size_t)(STRETCHES * WAYS * all) * sizeof(int64_t);
    int64_t *tags = memory_new(bytes, "caches of the model", why), *tag = tags;
    if (!tags) return NULL;
    memset(tags, 255, bytes);
    for (int k = 0; k < STRETCHES; k++)
        for (int w = 0; w < ORDER_GAIN_WIDTHS; w++) {
            s->of[k][w] = (model){{tag, sets[w]}, {tag + WAYS * sets[w], sets[w]}, {tag + 2 * WAYS * sets[w], tlb}, {0}};
            tag += WAYS * (2 * sets[w] + tlb);
        }
    return tags;
}

bool order_gain_count(order_misses m[ORDER_GAIN_WIDTHS], const ggnn_csc* csc, int64_t num_nodes, const ggnn_node* rank,
                      const ggnn_node* order, int64_t cache_bytes, error* why)
{
    sample s = {.csc = csc, .num_nodes = num_nodes, .num_edges = csc->indptr[num_nodes], .rank = rank, .order = order,
                .page_bytes = (int64_t)sysconf(_SC_PAGESIZE)};
    s.length = s.num_edges / STRETCHES < STRETCH ? s.num_edges / STRETCHES + 1 : STRETCH;
    int64_t* tags = open_models(&s, cache_bytes, why);
    s.list = tags ? memory_new((size_t)STRETCHES * STRETCH * sizeof *s.list, "sampled lists", why) : NULL;
    if (s.list) {
        find_stretches(&s);
        ggnn_parallel_for(STRETCHES, count_stretch, &s);
    }
    for (int w = 0; w < ORDER_GAIN_WIDTHS; w++) {
        int64_t count[3] = {0}, reads = 0;
        for (int k = 0; k < STRETCHES; k++) {
            reads += s.reads[k];
            for (int i = 0; i < 3; i++) count[i] += s.of[k][w].count[i];
        }
        const double all = reads ? (double)reads : 1;
        m[w] = (order_misses){(double)count[0] / all, (double)count[1] / all, (double)count[2] / all};
    }
    const bool good = s.list != NULL;
    memory_free(tags);
    memory_free(s.list);
    return good;
}

/* ---- time ------------------------------------------------------------------------------------------------------ */

/* What a miss adds, in reads of a line from the second-level cache: fitted to R-MAT by degree and to citation by community, 1 M
   nodes and 33.5 M edges each, at 32 and 128 columns, on two cores of an Intel Xeon. */
static const double FAR_LINE = 1.9, WALK = 4.2, FAR_WALK = 13;

double order_gain_time(const order_misses* m, int64_t row_bytes)
{
    const double lines = (double)row_bytes / LINE;
    return lines * (1 + FAR_LINE * m->rows) + WALK * m->pages + FAR_WALK * m->tables;
}

/* How many of the edges sampled leave each node, LARGEST at most: of every SHARE-th block, of few edges all. */
static void sample_degrees(uint16_t* count, const dataset* d)
{
    const int64_t step = d->num_edges > FEW ? BLOCK * SHARE : BLOCK;
    for (int64_t begin = 0; begin < d->num_edges; begin += step)
        for (int64_t e = begin; e < begin + BLOCK && e < d->num_edges; e++) {
            const ggnn_node u = d->csc.indices[e];
            if ((uint64_t)u < (uint64_t)d->num_nodes && count[u] < LARGEST) count[u]++;
        }
}

static bool lists_rise(const dataset* d)
{
    const int64_t* at = d->csc.indptr;
    bool good = at[0] == 0 && at[d->num_nodes] == d->num_edges;
    for (int64_t v = 0; v < d->num_nodes; v++) good &= at[v] <= at[v + 1];
    return good;
}

/* The order by falling count, then id, and its inverse. */
static bool rank_by_count(ggnn_node* rank, ggnn_node* order, const uint16_t* count, int64_t n, error* why)
{
    int64_t* at = memory_new((LARGEST + 2) * sizeof *at, "places of degrees", why);
    if (!at) return false;
    for (int64_t v = 0; v < n; v++) at[LARGEST - count[v] + 1]++;
    for (int64_t k = 0; k <= LARGEST; k++) at[k + 1] += at[k];
    for (int64_t v = 0; v < n; v++) rank[v] = (ggnn_node)at[LARGEST - count[v]]++;
    for (int64_t v = 0; v < n; v++) order[rank[v]] = (ggnn_node)v;
    memory_free(at);
    return true;
}

bool order_gain_by_degree(double gain[ORDER_GAIN_WIDTHS], const dataset* d, int64_t cache_bytes, error* why)
{
    const size_t n = (size_t)d->num_nodes;
    order_misses now[ORDER_GAIN_WIDTHS], then[ORDER_GAIN_WIDTHS];
    for (int k = 0; k < ORDER_GAIN_WIDTHS; k++) gain[k] = 1;
    if (d->num_nodes * 4 * order_gain_width[ORDER_GAIN_WIDTHS - 1] <= cache_bytes) return true;
    uint16_t* count = memory_new(n * sizeof *count, "out-degrees", why);
    ggnn_node* rank = count ? memory_new(memory_product(n, 2, sizeof *rank), "ranks by degree", why) : NULL;
    bool good = rank != NULL;
    good = good && (lists_rise(d) || dataset_check_graph(d, why)); /* which names the node */
    if (good) sample_degrees(count, d);
    good = good && rank_by_count(rank, rank + n, count, d->num_nodes, why) &&
           order_gain_count(now, &d->csc, d->num_nodes, NULL, NULL, cache_bytes, why) &&
           order_gain_count(then, &d->csc, d->num_nodes, rank, rank + n, cache_bytes, why);
    for (int k = 0; good && k < ORDER_GAIN_WIDTHS; k++)
        gain[k] = order_gain_time(&now[k], 4 * order_gain_width[k]) / order_gain_time(&then[k], 4 * order_gain_width[k]);
    memory_free(count);
    memory_free(rank);
    return good;
}

bool order_gain_here(double gain[ORDER_GAIN_WIDTHS], const dataset* d)
{
    int64_t cache[4];
    error ignored = {""};
    resources_caches(cache);
    return order_gain_by_degree(gain, d, cache[2], &ignored);
}

bool order_gain_hint(char text[ORDER_HINT], const dataset* d)
{
    double gain[ORDER_GAIN_WIDTHS];
    char name[4096];
    if (!order_gain_here(gain, d)) return false;
    if (gain[0] < ORDER_GAIN_LEAST && gain[1] < ORDER_GAIN_LEAST) return false;
    snprintf(text, ORDER_HINT,
             "`ggnn-data reorder %s OUT.ggnn --by degree` would make a sum over all neighbours about %.1f times as fast at %d "
             "features, %.1f times at %d (modelled: docs/DATA.md)",
             printable(name, sizeof name, d->file.path), gain[0], (int)order_gain_width[0], gain[1], (int)order_gain_width[1]);
    return true;
}
