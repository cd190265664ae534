// A thread pool of your own runs the pieces of each op: GGNN_PARALLEL_FOR is its loop.
//   cc -I. examples/pool.c -lm -lpthread && ./a.out
//   prints  the pool ran 64 pieces; each mean is 49999.5
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
typedef void pool_body(void* context, int64_t i);
static void pool_for(int64_t n, pool_body* body, void* context);
#define GGNN_PARALLEL_FOR(n, body, context) pool_for(n, body, context)
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of all that follows
static pthread_cond_t  begun = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static pool_body*      run; // of the loop that runs: its body,
static void*           its; // context,
static int64_t         pieces, next, left; // pieces, the next one, the unfinished ones
static int             ran, stop;          // pieces of all loops; at the end
static void take_pieces(void) // holds the lock, but not while a piece runs
{
    while (next < pieces) {
        const int64_t i = next++;
        pthread_mutex_unlock(&lock);
        run(its, i);
        pthread_mutex_lock(&lock);
        if (ran++, --left == 0) pthread_cond_signal(&done);
    }
}
static void* worker(void* unused)
{
    for (pthread_mutex_lock(&lock), take_pieces(); !stop; take_pieces()) pthread_cond_wait(&begun, &lock);
    return pthread_mutex_unlock(&lock), unused;
}
static void pool_for(int64_t n, pool_body* body, void* context) // one caller at a time; it works, too
{
    pthread_mutex_lock(&lock);
    run = body, its = context, next = 0, pieces = left = n, pthread_cond_broadcast(&begun);
    for (take_pieces(); left;) pthread_cond_wait(&done, &lock);
    pthread_mutex_unlock(&lock);
}
int main(void)
{
    enum { N = 100000, WORKERS = 3 };
    static float     x[N], mean[N];
    static int64_t   indptr[N + 1], counts[3], same;
    static ggnn_node indices[2 * N];
    pthread_t        thread[WORKERS];
    ggnn_block       block;
    for (int v = 0; v < N; v++) x[v] = (float)v, indptr[v + 1] = 2 * v + 2;
    for (int v = 0; v < N; v++) indices[2 * v] = v, indices[2 * v + 1] = N - 1 - v; // what v hears of
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, 2 * N);
    for (int t = 0; t < WORKERS; t++)
        if (pthread_create(&thread[t], NULL, worker, NULL) != 0) return 1;
    if (ggnn_block_whole(&block, &g, counts, NULL) != GGNN_OK) return 1;
    if (ggnn_mean(mean, &block, x, 1) != GGNN_OK) return 1; // the op: the pool runs its pieces
    pthread_mutex_lock(&lock), stop = 1, pthread_mutex_unlock(&lock), pthread_cond_broadcast(&begun);
    for (int t = 0; t < WORKERS; t++) pthread_join(thread[t], NULL);
    for (int v = 0; v < N; v++) same += memcmp(&mean[v], mean, sizeof *mean) == 0;
    printf("the pool ran %d pieces; %s mean is %.1f\n", ran, same == N ? "each" : "NOT each", (double)*mean);
    return 0;
}
