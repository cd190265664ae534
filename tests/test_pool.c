/* test_pool.c - ops called by the threads of a vendor's own pool: no OpenMP team beside it, by the two ways that ggnn.h names. */
#include <stdint.h>
static void serial(int64_t n, void (*body)(void*, int64_t), void* context)
{
    for (int64_t i = 0; i < n; i++) body(context, i);
}
static void openmp(int64_t n, void (*body)(void*, int64_t), void* context) /* as ggnn.h's */
{
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t i = 0; i < n; i++) body(context, i);
}
static int by_openmp; /* the header's own loop, in threads that have asked for a team of one */
#define GGNN_PARALLEL_FOR(n, body, context) (by_openmp ? openmp(n, body, context) : serial(n, body, context))
#define GGNN_STATIC
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include "tests/test.h"
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

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(a_loop_of_ones_own_opens_no_team_in_a_pool_thread);
    RUN(a_pool_thread_that_asks_for_a_team_of_one_opens_none);
    return test_finish();
}
