// Inference over all nodes: layer by layer, all neighbours, some nodes at a time. Each row is computed once.
//   cc -I. examples/inference.c -lm && ./a.out
//   prints  1000 nodes, 2 layers; node 123: 1.9375, the bits of a mini-batch of 73 rows
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
enum { N = 1000, DEGREE = 8, D = 4, LAYERS = 2, CHUNK = 64 };
static int64_t   indptr[N + 1];
static ggnn_node indices[N * DEGREE];
static float     x[N * D], rows[LAYERS][N * D]; // rows[l]: of all nodes, after layer l
static const float w[LAYERS] = {.5f, 2};        // a matrix per layer, in a real net

static void finish(float* h, int64_t n, int l) // h W, then ReLU
{
    for (int64_t i = 0; i < n * D; i++) h[i] = h[i] * w[l] > 0 ? h[i] * w[l] : 0;
}

int main(void)
{
    const int32_t full[LAYERS] = {-1, -1}; // all neighbours
    for (int e = 0; e < N * DEGREE; e++) indices[e] = (e * 37 + e / DEGREE) % N;
    for (int v = 0; v <= N; v++) indptr[v] = v * DEGREE;
    for (int i = 0; i < N * D; i++) x[i] = (float)(i * 7 % 13) - 4;
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, N * DEGREE);
    const ggnn_rng   rng = {1, 0, GGNN_PURPOSE_EVALUATE};
    ggnn_sampling    how = ggnn_sampling_plain(GGNN_FISHER_YATES, full, 1); // one hop: the layer's
    ggnn_batch       batch;
    ggnn_node        seeds[CHUNK];
    how.last_hop_global = 1; // neighbours keep their ids, by which the rows below are read
    if (ggnn_batch_new(&batch, &g, &how, CHUNK) != GGNN_OK) return 1;
    for (int l = 0; l < LAYERS; l++) {
        const ggnn_store below = ggnn_store_plain(l ? rows[l - 1] : x, N, D, GGNN_F32);
        for (int first = 0; first < N; first += CHUNK) {
            const int n = N - first < CHUNK ? N - first : CHUNK;
            for (int i = 0; i < n; i++) seeds[i] = first + i;
            if (ggnn_sample(&batch, &g, &rng, seeds, n) != GGNN_OK) return 1;
            ggnn_aggregate(rows[l] + first * D, D, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &below);
            finish(rows[l] + first * D, n, l);
        }
    }
    ggnn_batch_free(&batch);

    // The same node by a mini-batch of two hops, which computes its neighbours' rows again for each batch.
    const ggnn_node  one[] = {123};
    const ggnn_store features = ggnn_store_plain(x, N, D, GGNN_F32);
    static float     h[N * D], out[D];
    how = ggnn_sampling_plain(GGNN_FISHER_YATES, full, LAYERS);
    if (ggnn_batch_new(&batch, &g, &how, 1) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, one, 1) != GGNN_OK) return 1;
    ggnn_aggregate(h, D, GGNN_MEAN, &batch.hop[1], NULL, NULL, 1, &features); // layer 0: hop 1
    finish(h, *batch.hop[1].num_dst.n, 0);
    ggnn_mean(out, &batch.hop[0], h, D);
    finish(out, 1, 1);
    printf("%d nodes, %d layers; node 123: %g, %s a mini-batch of %d rows\n", N, LAYERS, (double)out[0],
           memcmp(out, rows[1] + 123 * D, sizeof out) == 0 ? "the bits of" : "NOT the bits of",
           (int)*batch.hop[1].num_src.n);
    ggnn_batch_free(&batch);
    return 0;
}
