// Rows in halves: half the memory. They are read as they lie, and summed in float.
//   cc -I. examples/half.c -lm && ./a.out
//   prints  6 bytes a row; 0.1 is 0.0999756; means 500.05 1000.1 1500.15; 70000 is inf
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
enum { N = 4, D = 3, E = 8 };
int main(void)
{
    const int64_t   indptr[] = {0, 2, 4, 7, 8};
    const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2}, seeds[] = {0, 3};
    const float     x[N * D] = {1, 2, 3, .1f, .2f, .3f, 1000, 2000, 3000, 4, 5, 70000};
    const int32_t   fanout[] = {2};
    uint16_t        half[N * D]; // IEEE binary16: 11 bits of precision, up to 65504
    for (int i = 0; i < N * D; i++) half[i] = ggnn_float_to_half(x[i]); // to nearest even; 70000: infinity
    ggnn_graph    g = ggnn_graph_plain(indptr, indices, NULL, N, E);
    ggnn_store    rows = ggnn_store_plain(half, N, D, GGNN_F16);
    ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_rng      rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_batch    batch;
    float         mean[2 * D], wide[N * D];
    uint16_t      packed[N * D];
    if (ggnn_batch_new(&batch, &g, &how, 2) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, seeds, 2) != GGNN_OK) return 1;
    // An op on the store converts each element as it reads it. No float copy is made.
    if (ggnn_aggregate(mean, D, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows) != GGNN_OK) return 1;
    // gather converts to the type that you ask for: floats for a matrix product, halves to send on.
    const int64_t n = *batch.hop[0].num_src.n;
    if (ggnn_gather(wide, D, GGNN_F32, &rows, batch.id, n) != GGNN_OK) return 1;
    if (ggnn_gather(packed, D, GGNN_F16, &rows, batch.id, n) != GGNN_OK) return 1;
    for (int64_t i = 0; i < n * D; i++)
        if (ggnn_half_to_float(packed[i]) < wide[i] || ggnn_half_to_float(packed[i]) > wide[i]) return 1;
    printf("%d bytes a row; 0.1 is %.7f; means %g %g %g; 70000 is %g\n", D * (int)sizeof *half,
           (double)ggnn_half_to_float(half[D]), (double)mean[0], (double)mean[1], (double)mean[2],
           (double)ggnn_half_to_float(half[N * D - 1]));
    ggnn_batch_free(&batch);
    return 0;
}
