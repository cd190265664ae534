/* op_bits.h - digests of what every function of ggnn.h and ggnn_plan.h writes and returns on the inputs of
   tests/ggnn/test_bits.c, which prints the digest of a line that differs. */
#ifndef OP_BITS_H
#define OP_BITS_H
#include <stdint.h>

#define OP_BITS(X) \
    X(status_string, 0xe26fbfb4201d9fb3) \
    X(parallel_for, 0x699f828ec999c33d) \
    X(half_to_float, 0xe807313cf2399f45) \
    X(float_to_half, 0xe1bb29ca77432822) \
    X(random_nodes, 0x0b5348386859bdb8) \
    X(dropout_fields, 0xf2fb0f9d3b63f718) \
    X(neg_log2_fast, 0x858be8e43e1d108d) \
    X(graph_validate, 0x1874363e6f574e39) \
    X(layout_owners, 0x3224584b987fb288) \
    X(layout_nodes, 0x9a63afaf90c934e6) \
    X(graph_lists, 0x6e2fc605e5ce46f5) \
    X(graph_from_coo, 0xab70dc89fe55cd6f) \
    X(graph_transpose, 0x244d104c17db8b75) \
    X(graph_sort, 0x3e867afdd2d9aa54) \
    X(graph_simplify, 0x4b6e5a95a5a2941a) \
    X(graph_reorder, 0xf7cb47b620779982) \
    X(graph_out_degrees, 0x986fb3b606fa746c) \
    X(sample_lists, 0xc4f1a71efae20beb) \
    X(random_walk, 0x4933f98fe46cd4da) \
    X(walk_neighbors, 0x09a9114eeabac100) \
    X(unique_init, 0x368b8a265b834b7a) \
    X(unique_begin, 0xa813baf0195b87d0) \
    X(unique_append, 0x8febafe4b33d1fbb) \
    X(unique_find, 0xa2d12b4f62105ed5) \
    X(batch_new, 0xd166cdddb4397d32) \
    X(batch_plan, 0x75ed739bdc0a6d93) \
    X(batch_init, 0x4cc1a4cb14d35def) \
    X(batch_begin, 0x99d7aa64ff4e100f) \
    X(sample_hop, 0x3f3680495cdca16c) \
    X(batch_unpack, 0x2f932ccdeb595a30) \
    X(batch_validate, 0xbe4eb4111dd4263f) \
    X(block_whole, 0xb8aa341197baa77b) \
    X(block_transpose_init, 0x88a5656c5241b7d5) \
    X(block_transpose, 0x312aecd3d3ac3bac) \
    X(block_validate, 0xa20c3d2a04b34f23) \
    X(gather, 0xa08bbf7ea853db99) \
    X(gather_edges, 0xd53478602585dfee) \
    X(mark, 0x7104bf2508c3e3b5) \
    X(gather_marked, 0xd53478602585dfee) \
    X(split, 0x63e54d4979730204) \
    X(permute, 0x4eb1fa9de39649b4) \
    X(spmm, 0x57142f8b37fd13c5) \
    X(sum, 0x4533451e7faf0fdb) \
    X(mean, 0xb88337375082a2ea) \
    X(spmm_back_arg, 0x4728dbdd88bc91ea) \
    X(spmm_edges, 0xdea78e1465aa6a75) \
    X(spmm_edges_back, 0xbd86f527d2b99584) \
    X(scale_mean, 0xe8dc5ee3915684fb) \
    X(scale_weights, 0x03395238a94758e0) \
    X(gcn_norm, 0x13f92d29dc7ebb58) \
    X(scale_gcn, 0x9b752fe87d65ba49) \
    X(aggregate, 0xcfe3c806185868bc) \
    X(sddmm, 0x534a895fe87abe1d) \
    X(edge_sum, 0x229a37daa564a012) \
    X(edge_softmax, 0x90aa8684a3b89870) \
    X(edge_softmax_back, 0x5b3888cd990831d6) \
    X(exp2, 0x7ae9f6e7d787f40b) \
    X(log2, 0xe9bcec95d5e3d447) \
    X(exp2_array, 0x4d05f664a74c6135) \
    X(scores, 0xf0b17aeaec44db44) \
    X(scores_back, 0x7525c56df1937e16) \
    X(gat, 0x505f02f8bb70e2a1) \
    X(gat_back, 0xa28bbafd0a34921e) \
    X(count_degrees, 0x92fb6dbd225f8627) \
    X(count_batch, 0x62ed2710e9c8b4f8) \
    X(count_epochs, 0x1abbf4c309b1bbd9) \
    X(count_hits, 0xa2613f1f38a79e05) \
    X(rank, 0x0d4ad175f0c208d1) \
    X(rank_random, 0xf195e53d86030990) \
    X(fill_ratio, 0xb64744ac645c7b42) \
    X(fill_rows, 0xca673d5693f6ea16) \
    X(fill_auto, 0x0b82fe9a33a57bfb) \
    X(fill_lists, 0xdcb017f52799e59c) \
    X(fill_parts, 0x31172e5b5655289f) \
    X(fill_slope, 0xf21da500c83f7da4) \
    X(fill_dual, 0x249a3d7bdac1ee60) \
    X(topology_named, 0xad9d2ba5e4dce1c2) \
    X(topology_validate, 0x247336cbd7438bf3) \
    X(place_parts, 0x151a0ef95d8c1218) \
    X(place_sources, 0xd06754565322fbc8) \
    X(partition_ids, 0x2bbd3445daa12354) \
    X(partition_mincut, 0xb6b2809652ac1bdc) \
    X(partition_pagraph, 0x4ce9d77a82d3cb34) \
    X(partition_closure, 0x127ba91050fdaf09) \
    X(partition_cut, 0xe97ac3633a288a96) \
    X(dist_plan, 0x071503deafb70063) \
    X(dist_cut, 0xb7d80032338e458c) \
    X(dist_open, 0xa493c44a8d29d83d)

#ifdef GGNN_NODE64 /* bytes that have the width of ids in them */
#define OP_BITS_NARROW(X)
#else
#define OP_BITS_NARROW(X) \
    X(batch_pack, 0xb06620b0fe6896a1) \
    X(dist_lists, 0x199cc5969354564a)
#endif

/* of a method, by its number: ggnn_sample_list, ggnn_sample */
static const uint64_t method_bits[GGNN_NUM_METHODS][2] = {
    {0x686cca331a77dfd2, 0x7d84151aadf41c01}, // fisher-yates
    {0x686cca331a77dfd2, 0x7d84151aadf41c01}, // path-doubling
    {0xfb7c3f70e0e043bb, 0x3ca0788d29307ef4}, // rejection
    {0x2d5f7abe398fd163, 0xb77045e2bdb66b7f}, // reservoir
    {0xf3ab29ab85cf8af0, 0xd61a4fc50b1a665f}, // weighted
    {0xb210af3280561cca, 0x2ac5bafb5f65d442}, // replacement
    {0xa7cbea29d94a0266, 0x98c5d7b60aa0da30}, // walk
};
#endif
