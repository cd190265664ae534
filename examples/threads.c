// Threads of your own: each prepares mini-batches and uses them. The ops open no threads beside them.
//   cc -I. examples/threads.c -lm -lpthread && ./a.out      or with -fopenmp: the same
//   prints  64 batches on 4 threads: sum 31840.8, as on one thread
// Without GGNN_SERIAL, but with -fopenmp, each of the four threads opens an OpenMP team when it calls an op.
#define GGNN_SERIAL // each op runs on the thread that calls it
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <pthread.h>
#include <stdio.h>
enum { N = 1000, DEGREE = 20, BATCHES = 64, SEEDS = 8, THREADS = 4 };
static int64_t    indptr[N + 1];
static ggnn_node  indices[N * DEGREE];
static float      x[N], result[BATCHES]; // a thread writes the results of its own batches
static ggnn_graph graph; // all threads read it,
static ggnn_store rows;  // and these
typedef struct {
    int       first, step, failed; // batches first, first + step, ..
    pthread_t thread;
} share;

static void* work(void* context)
{
    share*        own = (share*)context;
    const int32_t fanout[] = {4};
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_batch    batch; // one per thread: sampling writes into it alone
    own->failed = ggnn_batch_new(&batch, &graph, &how, SEEDS) != GGNN_OK;
    for (int b = own->first; b < BATCHES && !own->failed; b += own->step) {
        const ggnn_rng rng = {1, (uint32_t)b, GGNN_PURPOSE_SAMPLE}; // keyed by the batch, not by the thread
        ggnn_node      seeds[SEEDS];
        float          mean[SEEDS];
        for (int i = 0; i < SEEDS; i++) seeds[i] = (b * SEEDS + i) % N;
        own->failed = ggnn_sample(&batch, &graph, &rng, seeds, SEEDS) != GGNN_OK;
        if (!own->failed) ggnn_aggregate(mean, 1, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows);
        for (int i = 0; i < SEEDS && !own->failed; i++) result[b] += mean[i];
    }
    ggnn_batch_free(&batch);
    return NULL;
}

int main(void)
{
    share one = {0, 1, 0, 0}, all[THREADS];
    float serial[BATCHES], sum = 0;
    for (int v = 0; v < N; v++) x[v] = (float)(v % 128);
    for (int e = 0; e < N * DEGREE; e++) indices[e] = (e * 7 + e / DEGREE) % N;
    for (int v = 0; v <= N; v++) indptr[v] = v * DEGREE;
    graph = ggnn_graph_plain(indptr, indices, NULL, N, N * DEGREE);
    rows = ggnn_store_plain(x, N, 1, GGNN_F32);
    work(&one);
    memcpy(serial, result, sizeof result), memset(result, 0, sizeof result);
    for (int t = 0; t < THREADS; t++) all[t].first = t, all[t].step = THREADS;
    for (int t = 0; t < THREADS; t++)
        if (pthread_create(&all[t].thread, NULL, work, &all[t]) != 0) return 1;
    for (int t = 0; t < THREADS; t++) pthread_join(all[t].thread, NULL), one.failed |= all[t].failed;
    for (int b = 0; b < BATCHES; b++) sum += result[b];
    printf("%d batches on %d threads: sum %g, %s\n", BATCHES, THREADS, (double)sum,
           one.failed || memcmp(serial, result, sizeof result) != 0 ? "WRONG" : "as on one thread");
    return 0;
}
