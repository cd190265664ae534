// Link prediction: pairs of nodes, linked ones and random ones. A pair's score is the product of their rows.
//   cc -I. examples/links.c -lm && ./a.out
//   prints  6 pairs of 5 nodes, 6 rows read, loss 0.7171, dx[0] -0.0106
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
enum { N = 6, E = 12, D = 2, LINKS = 3, PAIRS = 2 * LINKS };
int main(void)
{
    const int64_t   indptr[] = {0, 2, 4, 6, 8, 10, 12}; // a ring: v hears of its two neighbours
    const ggnn_node indices[E] = {1, 5, 0, 2, 1, 3, 2, 4, 3, 5, 4, 0};
    const ggnn_node link[LINKS][2] = {{0, 1}, {2, 3}, {3, 4}};
    const float     x[N * D] = {1, 0, .5f, .5f, 0, 1, 0, 1, .5f, .5f, 1, 0};
    const int32_t   fanout[] = {2};
    const ggnn_rng  rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_node       seeds[2 * PAIRS]; // two per pair; a node may occur often
    for (int i = 0; i < LINKS; i++) {
        seeds[2 * i] = seeds[2 * (LINKS + i)] = link[i][0];
        seeds[2 * i + 1] = link[i][1];
        // A negative: any node. Hop 255 keys draws that the sampler does not use. Here some may be links.
        seeds[2 * (LINKS + i) + 1] = (ggnn_node)ggnn_draw_below(&rng, 255, link[i][0], i, N);
    }
    ggnn_graph    g = ggnn_graph_plain(indptr, indices, NULL, N, E);
    ggnn_store    rows = ggnn_store_plain(x, N, D, GGNN_F32);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_batch    batch;
    how.keep = GGNN_KEEP_TRANSPOSES;
    if (ggnn_batch_new(&batch, &g, &how, 2 * PAIRS) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, seeds, 2 * PAIRS) != GGNN_OK) return 1;
    const ggnn_block* hop = &batch.hop[0];
    const int64_t     distinct = *hop->num_dst.n, src = *hop->num_src.n;
    float             h[N * D], dh[N * D] = {0}, dx[N * D], inv[N], loss = 0;
    ggnn_aggregate(h, D, GGNN_MEAN, hop, NULL, NULL, 1, &rows); // a row per distinct seed: your net's output
    for (int i = 0; i < PAIRS; i++) {
        const int32_t a = batch.seed_local[2 * i], b = batch.seed_local[2 * i + 1]; // their rows
        const float   score = h[a * D] * h[b * D] + h[a * D + 1] * h[b * D + 1], wanted = i < LINKS ? 1 : 0;
        const float   p = 1 / (1 + expf(-score)), d = (p - wanted) / (float)PAIRS; // of the score
        loss -= logf(i < LINKS ? p : 1 - p) / (float)PAIRS;
        for (int j = 0; j < D; j++) dh[a * D + j] += d * h[b * D + j], dh[b * D + j] += d * h[a * D + j];
    }
    const ggnn_scale swapped = {inv, NULL, NULL};
    ggnn_scale_mean(inv, hop, 0);
    ggnn_spmm(dx, D, NULL, GGNN_SUM, &batch.back[0], &swapped, NULL, 1, dh, D, D); // of the rows read
    printf("%d pairs of %d nodes, %d rows read, loss %.4f, dx[0] %.4f\n", PAIRS, (int)distinct, (int)src,
           (double)loss, (double)dx[0]);
    ggnn_batch_free(&batch);
    return 0;
}
