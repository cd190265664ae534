/* Fuzzes packed batches: bytes that unpack and pass ggnn_batch_validate are read by the ops without a fault. */
#include "ggnn.h"
#include "tests/fuzz/fuzz.h"

/* What a consumer does with a hop: reads ids, sums rows over it, transposes it. */
static void use_hop(const ggnn_batch* b, const ggnn_block* hop)
{
    const int64_t dst = *hop->num_dst.n, src = *hop->num_src.n, edges = *hop->num_edges.n;
    float *       x = calloc((size_t)src + 1, sizeof *x), *y = calloc((size_t)dst + 1, sizeof *y);
    void*         memory = malloc(ggnn_block_transpose_bytes(dst, src, edges));
    ggnn_block    t;
    if (!x || !y || !memory) abort();
    if (ggnn_spmm(y, 1, NULL, GGNN_MEAN, hop, NULL, hop->weight, 1, x, 1, 1) != GGNN_OK) abort();
    ggnn_block_transpose_init(&t, dst, src, edges, memory);
    if (ggnn_block_transpose(&t, hop) != GGNN_OK || ggnn_block_validate(&t, b->num_nodes, NULL) != GGNN_OK) abort();
    for (int64_t i = 0; hop->repeats && i < src; i++)
        if (hop->repeats[i] != t.indptr[i + 1] - t.indptr[i]) abort();
    free(x);
    free(y);
    free(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    ggnn_batch b;
    ggnn_fault fault;
    void*      memory = malloc(size ? size : 1); /* aligned */
    memcpy(memory, data, size);
    if (ggnn_batch_unpack(&b, memory, size) == GGNN_OK && ggnn_batch_validate(&b, &fault) == GGNN_OK) {
        for (int64_t i = 0; i < *b.num_seeds.n; i++)
            if (b.id[b.seed_local[i]] >= b.num_nodes) abort();
        for (int32_t h = 0; h < b.num_hops; h++)
            if (b.hop[h].indices) use_hop(&b, &b.hop[h]);
    }
    free(memory);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const int64_t   indptr[] = {0, 2, 4, 7, 8};
    static const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2};
    const ggnn_rng         rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    const ggnn_node        seeds[] = {0, 3, 0};
    ggnn_graph             g = ggnn_graph_plain(indptr, indices, NULL, 4, 8);
    ggnn_sampling          how = {GGNN_FISHER_YATES, 2, {2, 2}, which & 1, which / 2 * 5, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch             b;
    if (which >= 8 || ggnn_batch_plan(&b, &g, &how, 3, NULL) != GGNN_OK) return 0;
    ggnn_batch_init(&b, malloc(b.bytes));
    ggnn_sample(&b, &g, &rng, seeds, 3);
    size_t bytes = ggnn_batch_packed_bytes(&b);
    if (bytes <= room) ggnn_batch_pack(out, &b);
    free(b.workspace);
    return bytes <= room ? bytes : 0;
}
#endif
