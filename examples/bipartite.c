// Users and items: two kinds of nodes, each numbered from 0. A user's row is the mean of his items' rows.
//   cc -I. examples/bipartite.c -lm && ./a.out
//   prints  users: 2.5 2 0 2.5 3; gradients of items: 1 1.5 1.5; a sampled user: 4
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>
enum { USERS = 5, ITEMS = 3, EDGES = 7 };
int main(void)
{
    int64_t size[] = {USERS, ITEMS, EDGES}, indptr[] = {0, 2, 3, 3, 5, 7}; // user v bought the items
    int32_t item[] = {0, 2, 1, 2, 0, 1, 2};                                // item[indptr[v] .. indptr[v + 1])
    const float x[ITEMS] = {1, 2, 4}, dout[USERS] = {1, 1, 1, 1, 1};       // items' rows; users' gradients
    float       out[USERS], inv[USERS], dx[ITEMS];
    ggnn_fault  fault;
    ggnn_block  b, back;
    memset(&b, 0, sizeof b);
    b.num_dst.n = &size[0], b.num_dst.max = USERS; // targets
    b.num_src.n = &size[1], b.num_src.max = ITEMS; // sources
    b.num_edges.n = &size[2], b.num_edges.max = EDGES;
    b.indptr = indptr, b.indices = item;
    b.bipartite = 1; // targets are not the first sources, and there may be fewer sources
    if (ggnn_block_validate(&b, ITEMS, &fault) != GGNN_OK) return puts(fault.what);
    ggnn_mean(out, &b, x, 1);
    printf("users:");
    for (int v = 0; v < USERS; v++) printf(" %g", (double)out[v]);

    // Backward: items receive from users along the transpose, each user's gradient times 1 / its items.
    void* memory = malloc(ggnn_block_transpose_bytes(USERS, ITEMS, EDGES));
    if (ggnn_block_transpose_init(&back, USERS, ITEMS, EDGES, memory) != GGNN_OK) return 1;
    const ggnn_scale swapped = {inv, NULL, NULL};
    ggnn_block_transpose(&back, &b);
    ggnn_scale_mean(inv, &b, 0);
    ggnn_spmm(dx, 1, NULL, GGNN_SUM, &back, &swapped, NULL, 1, dout, 1, 1);
    printf("; gradients of items: %g %g %g; ", (double)dx[0], (double)dx[1], (double)dx[2]);

    // Sampled: one hop whose sources keep their ids (last_hop_global), so that they may be of another kind.
    // The graph's N is the larger of both numbers, here users'. With more items, indptr ends in empty lists.
    ggnn_node id[EDGES];
    for (int e = 0; e < EDGES; e++) id[e] = item[e];
    const int32_t   fanout[] = {1};
    const ggnn_node seeds[] = {4};
    const ggnn_rng  rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_graph      bought = ggnn_graph_plain(indptr, id, NULL, USERS, EDGES);
    ggnn_store      rows = ggnn_store_plain(x, ITEMS, 1, GGNN_F32);
    ggnn_sampling   how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_batch      batch;
    how.last_hop_global = 1;
    if (ggnn_batch_new(&batch, &bought, &how, 1) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &bought, &rng, seeds, 1) != GGNN_OK) return 1;
    ggnn_aggregate(out, 1, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows);
    printf("a sampled user: %g\n", (double)out[0]);
    ggnn_batch_free(&batch);
    free(memory);
    return 0;
}
