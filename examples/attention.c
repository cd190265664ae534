// One layer of graph attention on a sampled mini-batch, forward and backward: 9 calls of ggnn.h.
//   cc -I. examples/attention.c -lm && ./a.out
//   prints  out[0] 7.18, dz[0] 0.02, datt_l[0] 23
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>
enum { HEADS = 2, WIDTH = 4 };
static float* floats(int64_t n) { return (float*)calloc((size_t)n, sizeof(float)); }
int main(void)
{
    const int64_t   indptr[]  = {0, 2, 4, 7, 8}; // the in-neighbours of v are indices[indptr[v] .. indptr[v+1])
    const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2}, seeds[] = {0, 3};
    const float     x[4 * WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 8, 7, 6, 5, 4, 3, 2}; // a row per node
    const float     att_l[WIDTH] = {.1f, .2f, .3f, .4f}, att_r[WIDTH] = {.4f, .3f, .2f, .1f};
    const int32_t   fanout[] = {2};
    ggnn_graph      g = ggnn_graph_plain(indptr, indices, NULL, 4, 8);         // 1
    ggnn_store      rows = ggnn_store_plain(x, 4, WIDTH, GGNN_F32);            // 2
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);   // 3
    ggnn_rng        rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_batch      batch;
    ggnn_gat_layer  y;
    how.keep = GGNN_KEEP_TRANSPOSES;
    if (ggnn_batch_new(&batch, &g, &how, 2) != GGNN_OK) return 1;              // 4
    if (ggnn_sample(&batch, &g, &rng, seeds, 2) != GGNN_OK) return 1;          // 5
    const ggnn_block* hop = &batch.hop[0];
    const int64_t     dst = *hop->num_dst.n, src = *hop->num_src.n, edges = *hop->num_edges.n;
    float *           z = floats(src * WIDTH), *dz = floats(src * WIDTH), *dout = floats(dst * WIDTH);
    memset(&y, 0, sizeof y);
    y.block = hop, y.z = z, y.ld_z = WIDTH, y.out = floats(dst * WIDTH), y.ld_out = WIDTH, y.lse = floats(dst * HEADS);
    y.el = floats(src * HEADS), y.er = floats(dst * HEADS), y.heads = HEADS, y.width = WIDTH, y.how.slope = .2f;
    y.att_l = att_l, y.att_r = att_r, y.datt_l = floats(WIDTH), y.datt_r = floats(WIDTH);
    y.del = floats(src * HEADS), y.der = floats(dst * HEADS), y.delta = floats(dst * HEADS), y.dlogit = floats((dst + edges) * HEADS);
    for (int64_t i = 0; i < dst * WIDTH; i++) dout[i] = 1; // the loss is the sum of the outputs,
    dout[0] = 2;                                           // the first one counted twice
    ggnn_gather(z, WIDTH, GGNN_F32, &rows, batch.id, src);                     // 6: z = x; a net has z = x W
    if (ggnn_gat(&y) != GGNN_OK) return 1;                                     // 7
    if (ggnn_gat_back(dz, WIDTH, &batch.back[0], &y, dout, WIDTH) != GGNN_OK) return 1; // 8
    printf("out[0] %.2f, dz[0] %.2f, datt_l[0] %.2g\n", (double)y.out[0], (double)dz[0], (double)y.datt_l[0]);
    float* all[] = {z, dz, dout, y.out, y.lse, y.el, y.er, y.datt_l, y.datt_r, y.del, y.der, y.delta, y.dlogit};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    ggnn_batch_free(&batch);                                                   // 9
    return 0;
}
