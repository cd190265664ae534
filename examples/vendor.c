// vendor.c - the program on ggnn.h's first page: cc -I.. vendor.c -lm && ./a.out   prints "3 4".
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const int64_t    indptr[]  = {0, 2, 4, 7, 8};                // the in-neighbours of v are
    const ggnn_node  indices[] = {1, 2, 0, 2, 0, 1, 3, 2};       // indices[indptr[v] .. indptr[v+1])
    const float      x[]       = {1, 2, 4, 8};                   // one feature a node
    const ggnn_node  seeds[]   = {0, 3};
    ggnn_graph       g         = ggnn_graph_plain(indptr, indices, NULL, 4, 8);
    ggnn_sampling    how       = {GGNN_FISHER_YATES, 1, {2}, 0, 0, {0, 0, 0}};
    ggnn_rng         rng       = {1, 0, GGNN_PURPOSE_SAMPLE};    // seed 1, step 0
    ggnn_batch       batch;
    ggnn_unique_kind kind      = ggnn_unique_choose(4);
    ggnn_unique*     seen      = ggnn_unique_init(malloc(ggnn_unique_bytes(kind, 4, 4)), kind, 4, 4);
    ggnn_store       rows      = ggnn_store_plain(x, 4, 1, GGNN_F32);
    float            mean[2];
    ggnn_batch_init(&batch, &g, &how, 2, malloc(ggnn_batch_bytes(&g, &how, 2)));
    if (ggnn_sample(&batch, seen, &g, &how, &rng, seeds, 2) != GGNN_OK) return 1;
    ggnn_aggregate(mean, 1, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows);
    printf("%g %g\n", (double)mean[0], (double)mean[1]);          // 3 4
    return 0;
}
