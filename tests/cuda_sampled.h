// cuda_sampled.h - for tests of ggnn_cuda.cuh: blocks as sampling makes them.
#ifndef CUDA_SAMPLED_H
#define CUDA_SAMPLED_H

#include "tests/cuda_memory.h"
#include "tests/random_graph.h"

// check(b, t) on what sampling makes: both hops of a mini-batch of a graph with a hub, and the whole graph as one
// block, each with its transpose.
template <class F> void for_sampled_and_whole_blocks(F check)
{
    random_graph*     g = random_graph_new(400, 6, 300);
    ggnn_sampling     how = {};
    ggnn_rng          rng = {7, 3, GGNN_PURPOSE_SAMPLE};
    ggnn_node         seeds[20];
    ggnn_batch        batch;
    ggnn_block        whole;
    int64_t           counts[3];
    std::vector<char> memory;
    const auto        with_transpose = [&](const ggnn_block* b) {
        std::vector<char> room(ggnn_block_transpose_bytes(b->num_dst.max, b->num_src.max, b->num_edges.max));
        ggnn_block        t;
        ggnn_block_transpose_init(&t, b->num_dst.max, b->num_src.max, b->num_edges.max, room.data());
        ggnn_block_transpose(&t, b);
        check(b, &t);
    };
    how.num_hops = 2;
    how.fanout[0] = 15, how.fanout[1] = 5;
    for (int i = 0; i < 20; i++)
        seeds[i] = static_cast<ggnn_node>(i); // node 0 is the hub, node 1 has no neighbour
    CHECK_EQ(ggnn_batch_plan(&batch, &g->graph, &how, 20, nullptr), GGNN_OK);
    memory.resize(batch.bytes);
    CHECK_EQ(ggnn_batch_init(&batch, memory.data()), GGNN_OK);
    CHECK_EQ(ggnn_sample(&batch, &g->graph, &rng, seeds, 20), GGNN_OK);
    for (int h = 0; h < 2; h++) with_transpose(&batch.hop[h]);
    std::vector<int32_t> copy(static_cast<size_t>(g->num_edges));
    CHECK_EQ(ggnn_block_whole(&whole, &g->graph, counts, copy.data()), GGNN_OK);
    with_transpose(&whole);
    random_graph_free(g);
}

#endif // CUDA_SAMPLED_H
