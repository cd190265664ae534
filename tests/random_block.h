/* random_block.h - blocks for tests, made by hand: lists of the lengths asked for; and their transposes. */
#ifndef RANDOM_BLOCK_H
#define RANDOM_BLOCK_H
#include "ggnn.h"
#include "tests/test.h"

typedef struct {
    int64_t    dst, src, edges; /* the sizes that the counts point to */
    ggnn_block b, t;            /* and its transpose */
    void*      transposed;      /* t's memory */
    ggnn_node* id;              /* (max(src, dst)) of both blocks: distinct global ids below num_nodes */
    int64_t    num_nodes;
} random_block;

static inline void* test_memory(int64_t bytes)
{
    void* p = malloc((size_t)(bytes > 0 ? bytes : 1));
    if (!p) abort();
    return p;
}

static inline float* test_floats(int64_t n) /* random in [-1, 1) */
{
    float* x = (float*)test_memory(n * (int64_t)sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = test_uniform();
    return x;
}

/* degree (num_dst) gives the lengths of the lists; ids are random, so sources repeat; a tenth of the edges leave source 0. */
static inline random_block* random_block_new(int64_t num_dst, int64_t num_src, const int64_t* degree)
{
    random_block* r = (random_block*)test_memory(sizeof *r);
    memset(r, 0, sizeof *r);
    r->dst = num_dst;
    r->src = num_src;
    r->b.indptr = (int64_t*)test_memory((num_dst + 1) * 8);
    r->b.indptr[0] = 0;
    for (int64_t v = 0; v < num_dst; v++) r->b.indptr[v + 1] = r->b.indptr[v] + degree[v];
    r->edges = r->b.indptr[num_dst];
    r->b.indices = (int32_t*)test_memory(r->edges * 4);
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] = test_below(10) ? (int32_t)test_below(num_src) : 0;
    ggnn_count dst = {&r->dst, num_dst}, src = {&r->src, num_src}, edges = {&r->edges, r->edges};
    r->b.num_dst = dst;
    r->b.num_src = src;
    r->b.num_edges = edges;
    r->transposed = test_memory((int64_t)ggnn_block_transpose_bytes(num_dst, num_src, r->edges));
    ggnn_block_transpose_init(&r->t, num_dst, num_src, r->edges, r->transposed);
    ggnn_block_transpose(&r->t, &r->b);
    int64_t ids = num_src > num_dst ? num_src : num_dst;
    r->num_nodes = 3 * ids;
    r->id = r->b.id = r->t.id = (ggnn_node*)test_memory(ids * (int64_t)sizeof *r->id);
    for (int64_t u = 0; u < ids; u++) r->id[u] = (ggnn_node)(3 * u + test_below(3));
    return r;
}

/* Lists of every kind: empty, short, around one and two segments. */
static inline random_block* random_block_mixed(int64_t num_dst, int64_t num_src)
{
    static const int64_t kinds[] = {0, 1, 2, 5, 7, 15, 255, 256, 257, 513, 0, 3};
    int64_t*             degree = (int64_t*)test_memory(num_dst * 8);
    for (int64_t v = 0; v < num_dst; v++) degree[v] = v < 12 ? kinds[v] : test_below(9);
    random_block* r = random_block_new(num_dst, num_src, degree);
    free(degree);
    return r;
}

static inline void random_block_free(random_block* r)
{
    free(r->b.indptr);
    free(r->b.indices);
    free(r->transposed);
    free(r->id);
    free(r);
}
#endif
