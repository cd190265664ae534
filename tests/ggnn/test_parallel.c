/* test_parallel.c - ggnn_parallel_for by OpenMP: each piece once; a thread takes its own part, in order, and helps others when that is
   done. Pieces wait for each other, so that counts do not depend on the machine; who waits for ten seconds waits no longer. */
#include <sched.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "ggnn.h"
#include "tests/test.h"

enum { PIECES = 1000, EACH = 8 };

static struct {
    int     times[PIECES], thread[PIECES];
    int64_t order[PIECES]; /* as they were begun */
    int64_t begun, n;
    int     threads;
    double  started;
} run;

#ifdef _OPENMP
static int load(const int* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }

/* Lets others run; 0: ten seconds have passed since the start, and nobody waits any longer. */
static int wait_more(void)
{
    sched_yield();
    return omp_get_wtime() < run.started + 10;
}
#endif

static void count(int64_t i)
{
    run.order[__atomic_fetch_add(&run.begun, 1, __ATOMIC_RELAXED)] = i;
    __atomic_fetch_add(&run.times[i], 1, __ATOMIC_RELAXED);
#ifdef _OPENMP
    run.thread[i] = omp_get_thread_num();
#endif
}

static void start(int64_t n, int threads)
{
    memset(&run, 0, sizeof run);
    run.n = n;
    run.threads = threads;
#ifdef _OPENMP
    run.started = omp_get_wtime();
    omp_set_dynamic(0);
    omp_set_num_threads(threads);
#endif
}

static void once(void* context, int64_t i)
{
    CHECK(context == &run && i >= 0 && i < run.n);
    count(i);
}

TEST(each_piece_runs_once)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 7, 63, 64, 65, PIECES};
    static const int     threads[] = {1, 2, 3, 9, 64, 70, 130};
    for (int t = 0; t < 7; t++)
        for (int s = 0; s < 9; s++) {
            start(sizes[s], threads[t]);
            ggnn_parallel_for(sizes[s], once, &run);
            CHECK_EQ(run.begun, sizes[s]);
            for (int64_t i = 0; i < sizes[s]; i++) CHECK_EQ(run.times[i], 1);
        }
}

#ifdef _OPENMP
static int given(int threads) /* whether OpenMP gives so many */
{
    int sum = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    sum++;
    return sum == threads;
}

/* Of 13 threads' pieces, EACH for each, the j-th of a part waits until that of all parts has begun: nobody can be done early. */
static void in_step(void* context, int64_t i)
{
    (void)context;
    count(i);
    for (int t = 0; t < run.threads; t++)
        while (load(&run.times[t * EACH + i % EACH]) == 0 && wait_more()) continue;
}

TEST(a_thread_takes_its_own_part_in_order_in_every_loop)
{
    if (!given(13)) SKIP("OpenMP gives fewer threads");
    for (int again = 0; again < 2; again++) {
        start(13 * EACH, 13);
        ggnn_parallel_for(13 * EACH, in_step, NULL);
        CHECK(wait_more());
        for (int i = 0; i < 13 * EACH; i++) CHECK_EQ(run.thread[i], i / EACH);
    }
}

/* Where there are more threads than the loop has parts, neighbours share one. (Who is done may take the last piece of another part.) */
TEST(more_threads_than_parts_share_them)
{
    if (!given(128)) SKIP("OpenMP gives fewer threads");
    start(64 * EACH, 64);
    omp_set_num_threads(128);
    ggnn_parallel_for(64 * EACH, in_step, NULL);
    CHECK(wait_more());
    for (int i = 0; i < 64 * EACH; i++) CHECK(run.thread[i] / 2 == i / EACH || i % EACH == EACH - 1);
}

/* 100 pieces are parts of 34, 33 and 33. The first ends when all have begun: others take what is left of its part. */
static void first_waits(void* context, int64_t i)
{
    (void)context;
    count(i);
    if (i != 0 && i != 34 && i != 67) return;
    for (int part = 0; part < 3; part++)
        while (load(&run.times[part ? 1 + 33 * part : 0]) == 0 && wait_more()) continue;
    while (i == 0 && __atomic_load_n(&run.begun, __ATOMIC_RELAXED) < run.n && wait_more()) continue;
}

TEST(who_is_done_helps_the_others)
{
    if (!given(3)) SKIP("OpenMP gives fewer threads");
    start(100, 3);
    ggnn_parallel_for(100, first_waits, NULL);
    CHECK(wait_more());
    CHECK_EQ(run.begun, 100);
    for (int i = 0; i < 100; i++) CHECK(run.times[i] == 1 && (run.thread[i] == 0) == (i == 0));
}

TEST(it_is_serial_in_a_parallel_region)
{
    int wrong = 0;
    start(PIECES, 3);
#pragma omp parallel num_threads(3) reduction(+ : wrong)
    if (omp_get_thread_num() == 1) {
        ggnn_parallel_for(PIECES, once, &run);
        for (int64_t i = 0; i < PIECES; i++) wrong += run.order[i] != i || run.thread[i] != 1;
    }
    CHECK(wrong == 0 && run.begun == PIECES);
}
#else
TEST(it_is_a_plain_loop)
{
    start(PIECES, 1);
    ggnn_parallel_for(PIECES, once, &run);
    for (int64_t i = 0; i < PIECES; i++) CHECK_EQ(run.order[i], i);
}
#endif

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(each_piece_runs_once);
#ifdef _OPENMP
    RUN(a_thread_takes_its_own_part_in_order_in_every_loop);
    RUN(more_threads_than_parts_share_them);
    RUN(who_is_done_helps_the_others);
    RUN(it_is_serial_in_a_parallel_region);
#else
    RUN(it_is_a_plain_loop);
#endif
    return test_finish();
}
