// Two types of edges: papers cite papers, and share authors. A layer adds a mean per type, as R-GCN does.
//   cc -I. examples/relations.c -lm && ./a.out
//   prints  3 and 3 edges, 5 sources, out 326 47
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>
enum { N = 6, TYPES = 2, SEEDS = 2, FANOUT = 2, EDGES = SEEDS * FANOUT };
// A graph per type, over the same nodes.
static const int64_t   indptr[TYPES][N + 1] = {{0, 3, 5, 6, 8, 9, 9}, {0, 1, 1, 4, 5, 6, 6}};
static const ggnn_node cites[] = {1, 2, 3, 0, 4, 5, 1, 2, 0}, shares[] = {5, 0, 1, 4, 3, 2};
int main(void)
{
    const float     x[N] = {1, 2, 4, 8, 16, 32}, weight[TYPES] = {1, 10}; // a matrix per type, in a real net
    const ggnn_node seeds[SEEDS] = {0, 2};
    const ggnn_rng  rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_graph      g[TYPES] = {ggnn_graph_plain(indptr[0], cites, NULL, N, 9),
                                ggnn_graph_plain(indptr[1], shares, NULL, N, 6)};
    ggnn_store      rows = ggnn_store_plain(x, N, 1, GGNN_F32);
    ggnn_node       id[SEEDS + TYPES * EDGES + 1], neighbor[EDGES];
    int32_t         local[SEEDS], indices[TYPES][EDGES];
    int64_t         begin[TYPES][SEEDS + 1], edges[TYPES], offset[FANOUT], targets = SEEDS, sources, bad;
    ggnn_block      block[TYPES];
    float           z[N], mean[SEEDS], out[SEEDS] = {0, 0};
    // One numbering for both types: the seeds first, then each new source.
    void*        table = malloc(ggnn_unique_bytes(GGNN_UNIQUE_HASH, N, N));
    void*        scratch = malloc(ggnn_sample_workspace_bytes(GGNN_FISHER_YATES, FANOUT));
    ggnn_unique* seen = ggnn_unique_init(table, GGNN_UNIQUE_HASH, N, N);
    if (!seen || ggnn_unique_append(seen, id, local, seeds, SEEDS, &bad) != GGNN_OK) return 1;
    memset(block, 0, sizeof block);
    for (int r = 0; r < TYPES; r++) {
        edges[r] = begin[r][0] = 0;
        for (int v = 0; v < SEEDS; v++) {
            const ggnn_list list = ggnn_neighbors(&g[r], seeds[v]);
            // The hop number keys the draws: each type has one of its own (with L layers: layer * TYPES + r).
            const int64_t m =
                ggnn_sample_list(offset, &list, GGNN_FISHER_YATES, FANOUT, &rng, r, seeds[v], scratch);
            if (m < 0) return 1;
            for (int64_t i = 0; i < m; i++) neighbor[edges[r]++] = list.id[offset[i]];
            begin[r][v + 1] = edges[r];
        }
        if (ggnn_unique_append(seen, id, indices[r], neighbor, edges[r], &bad) != GGNN_OK) return 1;
        block[r].num_dst.n = &targets, block[r].num_dst.max = SEEDS, block[r].num_src.n = &sources;
        block[r].num_src.max = N, block[r].num_edges.n = &edges[r], block[r].num_edges.max = EDGES;
        block[r].id = id, block[r].indptr = begin[r], block[r].indices = indices[r];
    }
    sources = seen->count;
    ggnn_gather(z, 1, GGNN_F32, &rows, id, sources); // once, for all types
    for (int r = 0; r < TYPES; r++) {
        if (ggnn_block_validate(&block[r], N, NULL) != GGNN_OK) return 1;
        ggnn_mean(mean, &block[r], z, 1);
        for (int v = 0; v < SEEDS; v++) out[v] += mean[v] * weight[r];
    }
    printf("%d and %d edges, %d sources, out %g %g\n", (int)edges[0], (int)edges[1], (int)sources,
           (double)out[0], (double)out[1]);
    free(table), free(scratch);
    return 0;
}
