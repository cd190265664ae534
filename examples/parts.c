// parts.c - rows over three parts and a host array, on a CPU: cc -I.. parts.c -lm && ./a.out
//   prints  rows read: 1 of part 0, 1 of part 1, 2 of part 2, 1 of the host; all as in one array
// Eight nodes. A map says which part owns a node, or that it stays in the host array alone. Parts are cut out of the
// whole, a store and a graph over them are made, and a mini-batch is sampled and gathered through both.
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 8, E = 16, WIDTH = 2, PARTS = 3, HOST = PARTS };

static const int64_t   indptr[N + 1] = {0, 2, 4, 6, 8, 10, 12, 14, 16}; // v hears of v + 1 and v + 3
static const ggnn_node indices[E] = {1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 0, 7, 1, 0, 2};
static const float     x[N * WIDTH] = {0, .5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4, 4.5f, 5, 5.5f, 6, 6.5f, 7, 7.5f};
static const int32_t   owner[N] = {0, 2, HOST, 1, 2, 0, HOST, 1}; // of each node

static void* fresh(int64_t bytes)
{
    void* p = malloc((size_t)(bytes > 0 ? bytes : 1)); // a part may be empty
    if (!p) exit(1);
    return p;
}
static void check(ggnn_status status, const ggnn_fault* fault)
{
    if (status == GGNN_OK) return;
    fprintf(stderr, "%s: %s (node %lld)\n", ggnn_status_string(status), fault->what, (long long)fault->node);
    exit(1);
}

// The rows and lists that part p owns.
static void cut(const void** base, ggnn_csc* part, const ggnn_layout* at, const ggnn_graph* g, const ggnn_store* whole,
                int32_t p)
{
    const int64_t n = ggnn_layout_nodes(NULL, at, N, p);
    ggnn_node*    id = (ggnn_node*)fresh(n * (int64_t)sizeof *id);
    int64_t*      begin = (int64_t*)fresh((n + 1) * 8);
    int64_t*      first = (int64_t*)fresh(n * 8);
    float*        rows = (float*)fresh(n * whole->pitch);
    ggnn_node*    list;
    ggnn_fault    fault;
    ggnn_layout_nodes(id, at, N, p);
    ggnn_gather(rows, WIDTH, GGNN_F32, whole, id, n);
    check(ggnn_graph_lists(begin, NULL, NULL, NULL, g, id, n, &fault), &fault); // counts
    list = (ggnn_node*)fresh(begin[n] * (int64_t)sizeof *list);
    check(ggnn_graph_lists(begin, first, list, NULL, g, id, n, &fault), &fault);
    base[p] = rows;
    part[p].indptr = begin;
    part[p].first = first;
    part[p].indices = list;
    part[p].num_edges = begin[n];
    free(id);
}

int main(void)
{
    const ggnn_node seeds[] = {0, 3};
    const int32_t   fanout[] = {-1}; // all neighbours
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, N, E), split = g;
    ggnn_store      whole = ggnn_store_plain(x, N, WIDTH, GGNN_F32), rows = whole;
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_rng        rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_csc        part[PARTS + 2] = {{NULL, NULL, NULL, NULL, 0}}; // by slot: the parts, the host, a cache of our own
    const void*     base[PARTS + 2] = {NULL};
    int64_t         bound[PARTS + 1], read[PARTS + 2] = {0};
    ggnn_node       rank[N];
    ggnn_layout     at;
    ggnn_batch      batch;
    ggnn_fault      fault;
    float           out[N * WIDTH];
    check(ggnn_layout_owners(&at, rank, bound, GGNN_OWNER_MAP, owner, N, PARTS, &fault), &fault);
    for (int32_t p = 0; p < PARTS; p++) cut(base, part, &at, &g, &whole, p);
    base[HOST] = x; // the host's is the whole array
    part[HOST] = g.whole;
    rows.base = base;
    rows.at = at;
    rows.traffic = read;
    split.part = part;
    split.at = at;
    check(ggnn_graph_validate(&split, &fault), &fault);

    check(ggnn_batch_new(&batch, &split, &how, 2), &batch.fault);
    if (ggnn_sample(&batch, &split, &rng, seeds, 2) != GGNN_OK) return 1;
    const int64_t n = *batch.hop[0].num_src.n; // the seeds and what they hear of
    ggnn_gather(out, WIDTH, GGNN_F32, &rows, batch.id, n);
    for (int64_t i = 0; i < n; i++)
        if (memcmp(out + i * WIDTH, x + batch.id[i] * WIDTH, WIDTH * sizeof *x) != 0) return 1;
    printf("rows read: %lld of part 0, %lld of part 1, %lld of part 2, %lld of the host; all as in one array\n",
           (long long)read[0], (long long)read[1], (long long)read[2], (long long)read[HOST]);

    for (int32_t p = 0; p < PARTS; p++) {
        free((void*)(uintptr_t)base[p]);
        free((void*)(uintptr_t)part[p].indptr);
        free((void*)(uintptr_t)part[p].first);
        free((void*)(uintptr_t)part[p].indices);
    }
    ggnn_batch_free(&batch);
    return 0;
}
