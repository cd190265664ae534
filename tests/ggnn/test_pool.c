/* test_pool.c - what a vendor puts in place of ggnn.h's own: ops called by the threads of a pool open no OpenMP team beside it, by
   the two ways that ggnn.h names; pieces in any order; memory by GGNN_MALLOC and GGNN_FREE. */
#include <stdint.h>
#include <stdlib.h>
static void serial(int64_t n, void (*body)(void*, int64_t), void* context)
{
    for (int64_t i = 0; i < n; i++) body(context, i);
}
static void openmp(int64_t n, void (*body)(void*, int64_t), void* context) /* as ggnn.h's */
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < n; i++) body(context, i);
}
static void backwards(int64_t n, void (*body)(void*, int64_t), void* context)
{
    while (n-- > 0) body(context, n);
}
static int by_backwards;
static int by_openmp; /* the header's own loop, in threads that have asked for a team of one */
#define GGNN_PARALLEL_FOR(n, body, context) \
    (by_openmp ? openmp(n, body, context) : by_backwards ? backwards(n, body, context) : serial(n, body, context))
static int    pieces_given, pieces_back, none_left; /* of memory */
static size_t bytes_given;
static void*  give(size_t bytes)
{
    if (none_left) return NULL;
    pieces_given++;
    return malloc(bytes_given = bytes);
}
static void take_back(void* memory)
{
    pieces_back += memory != NULL;
    free(memory);
}
#define GGNN_MALLOC(bytes) give(bytes)
#define GGNN_FREE(memory)  take_back(memory)
#define GGNN_STATIC
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include "ggnn_reference.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"
#include <dirent.h>
#include <pthread.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { POOL = 3, ROWS = 20000, WIDTH = 16 };

static pthread_barrier_t worked, counted;
static float             table[ROWS * WIDTH];

static int threads_now(void) /* -1: not Linux */
{
    DIR* folder = opendir("/proc/self/task");
    int  n = -2; /* . and .. */
    if (!folder) return -1;
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static void* pool_thread(void* given)
{
    float*               out = (float*)given;
    static const int32_t index[ROWS];
#ifdef _OPENMP
    if (by_openmp) omp_set_num_threads(1);
#endif
    ggnn_permute(out, WIDTH, table, WIDTH, GGNN_F32, WIDTH, index, ROWS); /* many pieces */
    pthread_barrier_wait(&worked);
    pthread_barrier_wait(&counted);
    return NULL;
}

static void ops_in_pool_threads_add_no_thread(void)
{
    pthread_t thread[POOL];
    float*    out[POOL];
    int       before = threads_now(), during;
    if (before < 0) SKIP("no /proc");
    for (int64_t i = 0; i < WIDTH; i++) table[i] = (float)i + 1;
    pthread_barrier_init(&worked, NULL, POOL + 1);
    pthread_barrier_init(&counted, NULL, POOL + 1);
    for (int i = 0; i < POOL; i++) {
        out[i] = (float*)calloc((size_t)ROWS * WIDTH, sizeof(float));
        pthread_create(&thread[i], NULL, pool_thread, out[i]);
    }
    pthread_barrier_wait(&worked);
    during = threads_now();
    pthread_barrier_wait(&counted);
    for (int i = 0; i < POOL; i++) {
        pthread_join(thread[i], NULL);
        CHECK(out[i][(ROWS - 1) * WIDTH + 3] == 4.0f);
        free(out[i]);
    }
    CHECK_EQ(during, before + POOL);
}

TEST(a_loop_of_ones_own_opens_no_team_in_a_pool_thread)
{
    by_openmp = 0;
    ops_in_pool_threads_add_no_thread();
}

TEST(a_pool_thread_that_asks_for_a_team_of_one_opens_none)
{
    by_openmp = 1;
    ops_in_pool_threads_add_no_thread();
}

/* All of a batch is one piece of memory, of as many bytes as it says; an error names that there is none. */
TEST(a_batch_takes_its_memory_where_it_is_told_to)
{
    random_graph*   g = random_graph_new(300, 5, 40);
    const int32_t   fanout[] = {4, 3};
    const ggnn_rng  rng = {1, 2, GGNN_PURPOSE_SAMPLE};
    const ggnn_node seeds[] = {7, 0, 150};
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_WEIGHTED, fanout, 2);
    ggnn_batch      b;
    how.keep = GGNN_KEEP_ALL;
    pieces_given = pieces_back = 0;
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 3), GGNN_OK);
    CHECK(pieces_given == 1 && bytes_given == b.bytes);
    for (int again = 0; again < 3; again++) CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 3), GGNN_OK);
    CHECK(pieces_given == 1 && pieces_back == 0); /* no op allocates */
    ggnn_batch_free(&b);
    CHECK_EQ(pieces_back, 1);
    ggnn_batch_free(&b);
    CHECK_EQ(pieces_back, 1);
    none_left = 1;
    memset(&b, 0x5a, sizeof b);
    CHECK_EQ(ggnn_batch_new(&b, &g->graph, &how, 3), GGNN_ERROR_MEMORY);
    CHECK(b.fault.what && strstr(b.fault.what, "memory") && b.fault.node == -1 && b.fault.edge == -1 && b.fault.hop == -1);
    CHECK_EQ(ggnn_sample(&b, &g->graph, &rng, seeds, 3), GGNN_ERROR_ARGUMENT);
    ggnn_batch_free(&b);
    none_left = 0;
    CHECK(pieces_given == 1 && pieces_back == 1);
    random_graph_free(g);
}

static int last_first;
static void is_last(void* context, int64_t i)
{
    *(int64_t*)context -= 1;
    last_first += *(int64_t*)context == i;
}

/* The last piece first: the same bits, and the first of several faults. */
TEST(pieces_may_run_in_any_order)
{
    enum { DST = 4000, SRC = 5000, COLUMNS = 24 };
    int64_t* degree = (int64_t*)malloc(DST * sizeof *degree);
    float *  out = (float*)malloc(DST * COLUMNS * 4), *want = (float*)malloc(DST * COLUMNS * 4);
    for (int64_t v = 0; v < DST; v++) degree[v] = v % 11;
    degree[77] = 3000;
    random_block* r = random_block_new(DST, SRC, degree);
    float *       x = test_floats(SRC * COLUMNS), *weight = test_floats(r->edges * 2);
    ggnn_ref_spmm(want, COLUMNS, NULL, GGNN_MEAN, &r->b, NULL, weight, 2, x, COLUMNS, COLUMNS);
    int32_t *t_indices = (int32_t*)malloc((size_t)r->edges * 4), *t_edge = (int32_t*)malloc((size_t)r->edges * 4);
    memcpy(t_indices, r->t.indices, (size_t)r->edges * 4);
    memcpy(t_edge, r->t.edge, (size_t)r->edges * 4);
    by_openmp = 0;
    by_backwards = 1;
    CHECK_EQ(ggnn_spmm(out, COLUMNS, NULL, GGNN_MEAN, &r->b, NULL, weight, 2, x, COLUMNS, COLUMNS), GGNN_OK);
    CHECK(memcmp(out, want, DST * COLUMNS * 4) == 0);
    memset(r->t.indices, 0x5a, (size_t)r->edges * 4);
    CHECK_EQ(ggnn_block_transpose(&r->t, &r->b), GGNN_OK);
    CHECK(memcmp(r->t.indices, t_indices, (size_t)r->edges * 4) == 0 && memcmp(r->t.edge, t_edge, (size_t)r->edges * 4) == 0);
    random_graph* g = random_graph_new(20000, 5, 40);
    ggnn_fault    fault;
    g->indices[g->num_edges - 3] = g->indices[50000] = g->indices[20010] = -1;
    CHECK_EQ(ggnn_graph_validate(&g->graph, &fault), GGNN_ERROR_ID);
    CHECK_EQ(fault.edge, 20010);
    int64_t left = 10;
    ggnn_parallel_for(10, is_last, &left);
    CHECK_EQ(last_first, 10);
    by_backwards = 0;
    random_graph_free(g);
    random_block_free(r);
    void* all[] = {degree, out, want, x, weight, t_indices, t_edge};
    for (int i = 0; i < 7; i++) free(all[i]);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(a_loop_of_ones_own_opens_no_team_in_a_pool_thread);
    RUN(a_pool_thread_that_asks_for_a_team_of_one_opens_none);
    RUN(a_batch_takes_its_memory_where_it_is_told_to);
    RUN(pieces_may_run_in_any_order);
    return test_finish();
}
