// Ids of 64 bits: keys of a database, up to 10^12, become the nodes of a graph, and come back.
//   cc -I. examples/wide.c -lm && ./a.out
//   prints  4 nodes; sampled of key 5: 4294967301 777777777777
#define GGNN_NODE64 // in each file of the program: ggnn_node is int64_t
#define GGNN_IMPLEMENTATION
#include "ggnn.h"
#include <stdio.h>
#include <stdlib.h>
enum { EDGES = 5, MOST = 2 * EDGES }; // nodes: two new ones per edge at most
static const int64_t KEYS = INT64_C(1000000000001); // keys are below it
int main(void)
{
    const ggnn_node from[EDGES] = {999999999999, 5, 777777777777, 5, 4294967301}; // an edge: from -> to
    const ggnn_node to[EDGES] = {5, 777777777777, 5, 4294967301, 5};              // 4294967301 is 2^32 + 5
    ggnn_node       key[MOST + 1], src[EDGES], dst[EDGES], indices[EDGES];         // key: of each node
    int32_t         local[EDGES];
    int64_t         indptr[MOST + 1], bad;
    // A table of its own size, not of KEYS entries.
    void*        table = malloc(ggnn_unique_bytes(GGNN_UNIQUE_HASH, KEYS, MOST));
    ggnn_unique* seen = ggnn_unique_init(table, GGNN_UNIQUE_HASH, KEYS, MOST);
    if (!seen || ggnn_unique_append(seen, key, local, to, EDGES, &bad) != GGNN_OK) return 1;
    for (int e = 0; e < EDGES; e++) dst[e] = local[e]; // in a block local ids are int32_t, in every build
    if (ggnn_unique_append(seen, key, local, from, EDGES, &bad) != GGNN_OK) return 1;
    for (int e = 0; e < EDGES; e++) src[e] = local[e];
    const int64_t n = seen->count;
    ggnn_lists    lists = {n, EDGES, indptr, indices, NULL, NULL};
    if (ggnn_graph_from_coo(&lists, src, dst, NULL, NULL) != GGNN_OK) return 1;

    const ggnn_graph g = ggnn_graph_from_lists(&lists);
    const ggnn_node  seeds[] = {ggnn_unique_find(seen, 5)};
    const int32_t    fanout[] = {2};
    ggnn_sampling    how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    const ggnn_rng   rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    ggnn_batch       batch;
    if (ggnn_batch_new(&batch, &g, &how, 1) != GGNN_OK) return 1;
    if (ggnn_sample(&batch, &g, &rng, seeds, 1) != GGNN_OK) return 1;
    printf("%d nodes; sampled of key 5:", (int)n);
    for (int64_t i = 1; i < *batch.hop[0].num_src.n; i++) printf(" %lld", (long long)key[batch.id[i]]);
    puts("");
    ggnn_batch_free(&batch);
    free(table);
    return 0;
}
