// vendor.c - the program on ggnn.h's first page: cc -I.. vendor.c -lm && ./a.out   prints "3 4.5".
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
int main(void)
{
    const int64_t   indptr[]  = {0, 2, 4, 7, 8};              // the in-neighbours of v are
    const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2};     // indices[indptr[v] .. indptr[v+1])
    const float     x[]       = {1, 2, 4, 8};                 // one feature per node
    const ggnn_node seeds[]   = {0, 2};
    const int32_t   fanout[]  = {2};                          // one hop: two neighbours per node
    ggnn_graph      g         = ggnn_graph_plain(indptr, indices, NULL, 4, 8);
    ggnn_store      rows      = ggnn_store_plain(x, 4, 1, GGNN_F32);
    ggnn_sampling   how       = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_rng        rng       = {1, 0, GGNN_PURPOSE_SAMPLE};  // seed 1, step 0
    ggnn_batch      batch;
    float           mean[2];
    if (ggnn_batch_new(&batch, &g, &how, 2) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, seeds, 2) != GGNN_OK) return 1;
    ggnn_aggregate(mean, 1, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows);
    printf("%g %g\n", (double)mean[0], (double)mean[1]);      // 3 4.5
    ggnn_batch_free(&batch);
    return 0;
}
