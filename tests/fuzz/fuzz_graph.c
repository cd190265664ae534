/* Fuzzes graphs in memory: one that ggnn_graph_validate passes is sampled by every method without a fault; one that it does not
   pass names what is wrong. The input: bytes of N, of a flag for weights, of E, then indptr, indices and weights. */
#include "ggnn.h"
#include "tests/fuzz/fuzz.h"

enum { MOST = 64 };

/* Takes count elements of `size` bytes from the input; zeros where it has ended. */
static void take(void* to, size_t count, size_t size, const uint8_t** data, size_t* left)
{
    size_t bytes = count * size, some = bytes < *left ? bytes : *left;
    memset(to, 0, bytes);
    memcpy(to, *data, some);
    *data += some;
    *left -= some;
}

static void sample(const ggnn_graph* g, ggnn_method method)
{
    const ggnn_rng  rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    const ggnn_node seeds[] = {0, (ggnn_node)(g->num_nodes - 1)};
    ggnn_sampling   how = {method, 2, {3, -1}, 0, GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS, {0, 0, 0}, 0, {0}, {0}};
    ggnn_batch      b;
    if (ggnn_batch_plan(&b, g, &how, 2, NULL) != GGNN_OK) abort();
    if (ggnn_batch_init(&b, malloc(b.bytes)) != GGNN_OK) abort();
    if (ggnn_sample(&b, g, &rng, seeds, 2) != GGNN_OK || ggnn_batch_validate(&b, NULL) != GGNN_OK) abort();
    free(b.workspace);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static int64_t   indptr[MOST + 1];
    static ggnn_node indices[MOST];
    static float     weight[MOST];
    uint8_t          header[3];
    ggnn_fault       fault;
    take(header, 3, 1, &data, &size);
    const int64_t n = header[0] % MOST, edges = header[2] % MOST;
    take(indptr, (size_t)n + 1, sizeof *indptr, &data, &size);
    take(indices, (size_t)edges, sizeof *indices, &data, &size);
    take(weight, (size_t)edges, sizeof *weight, &data, &size);
    ggnn_graph g = ggnn_graph_plain(indptr, indices, header[1] & 1 ? weight : NULL, n, edges);
    if (ggnn_graph_validate(&g, &fault) != GGNN_OK) {
        if (!fault.what) abort();
        return 0;
    }
    for (int method = GGNN_FISHER_YATES; method <= GGNN_WALK && n > 0; method++) sample(&g, (ggnn_method)method);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const int64_t   indptr[] = {0, 2, 4, 7, 8};
    static const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2};
    static const float     weight[] = {1, 2, 0, 3, 1, 1, 4, 0};
    const uint8_t          header[3] = {4, (uint8_t)which, 8};
    size_t                 bytes = sizeof header + sizeof indptr + sizeof indices + sizeof weight;
    if (which > 1 || bytes > room) return 0;
    memcpy(out, header, sizeof header);
    memcpy(out + sizeof header, indptr, sizeof indptr);
    memcpy(out + sizeof header + sizeof indptr, indices, sizeof indices);
    memcpy(out + sizeof header + sizeof indptr + sizeof indices, weight, sizeof weight);
    return bytes;
}
#endif
