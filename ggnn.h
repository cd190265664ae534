// ggnn.h - v0.3.0 - graph sampling and GNN kernels in C99
//
// Everything that sample-based training of graph neural networks needs besides the dense part: CSC graphs,
// neighbour samplers without replacement, append-unique, mini-batch blocks, gather from rows spread over
// parts and host, SpMM, SDDMM, edge softmax, fused graph attention - forward and backward.
//
// Read examples/train.c, a trainer in one file, and ggnn_reference.h, the same operations as the loops of
// their formulas, before this file. Beside it: ggnn_cuda.cuh, the same as CUDA kernels. ggnn_plan.h, what
// lies in which memory: caches, placement, partition. datasets/ggnn_file.h, files. examples/attention.c, one
// layer of attention.
//
// In ONE C or C++ file:
//     #define GGNN_IMPLEMENTATION
//     #include "ggnn.h"
// In all others just include it. Link with -lm; -fopenmp is used where the compiler has it on.
// gcc and clang; Linux on x86-64 and aarch64, Windows by MinGW; MSVC and macOS are not tested. gcc 12 -O2
// compiles the implementation in 5 s, to 150 KB on x86-64; the include alone takes 20 ms.
//
// A complete program: the mean of up to two sampled neighbours' rows, for nodes 0 and 2 of a small graph.
// cc -I. program.c -lm
//     #define GGNN_IMPLEMENTATION
//     #include "ggnn.h"
//     #include <stdio.h>
//     int main(void)
//     {
//         const int64_t   indptr[]  = {0, 2, 4, 7, 8};              // the in-neighbours of v are
//         const ggnn_node indices[] = {1, 2, 0, 2, 0, 1, 3, 2};     // indices[indptr[v] .. indptr[v+1])
//         const float     x[]       = {1, 2, 4, 8};                 // one feature per node
//         const ggnn_node seeds[]   = {0, 2};
//         const int32_t   fanout[]  = {2};                          // one hop: two neighbours per node
//         ggnn_graph      g         = ggnn_graph_plain(indptr, indices, NULL, 4, 8);
//         ggnn_store      rows      = ggnn_store_plain(x, 4, 1, GGNN_F32);
//         ggnn_sampling   how       = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
//         ggnn_rng        rng       = {1, 0, GGNN_PURPOSE_SAMPLE};  // seed 1, step 0
//         ggnn_batch      batch;
//         float           mean[2];
//         if (ggnn_batch_new(&batch, &g, &how, 2) != GGNN_OK) return 1;
//         if (ggnn_sample(&batch, &g, &rng, seeds, 2) != GGNN_OK) return 1;
//         ggnn_aggregate(mean, 1, GGNN_MEAN, &batch.hop[0], NULL, NULL, 1, &rows);
//         printf("%g %g\n", (double)mean[0], (double)mean[1]);      // 3 4.5
//         ggnn_batch_free(&batch);
//         return 0;
//     }
//
// WHAT IT DOES NOT DO
//   No dense layers, no optimiser (trainer/ has them), no files (datasets/), no printing, no global state, no
//   allocation but that of ggnn_batch_new, no threads but those of GGNN_PARALLEL_FOR, no renumbering of the
//   caller's nodes.
//
// GLOSSARY
//   N nodes   E edges   K heads   N(v) the neighbours of v: its list   dst targets, src sources of a block
//   CSC        in-neighbour lists: row v holds the sources u of the edges u -> v, whose messages v receives
//   seeds      the nodes whose output is wanted
//   block      one hop, bipartite: targets, sources (the targets come first), CSC with local indices
//   fanout     neighbours wanted per node; -1: all
//   degree     length of a node's list
//   offset     an edge's place in its node's list
//   position   an edge's place in the edge order of the whole graph
//   edge       an edge's place in the edge order of its block
//   part, host tier, cache   where rows live: memory of one of several devices, of the host, of this device
//   rank       a node's place in the order in which rows are laid out     owner   the part that has its row
//   traffic    rows or lists read, counted by where they live
//
// OPTIONS (define before including, the same in every file)
//   GGNN_STATIC          all functions static: a private copy in each file that has GGNN_IMPLEMENTATION, and
//                        only such files may include it then
//   GGNN_NODE64          64-bit global ids (else N < 2^31), in all files of a program or in none. Functions
//                        that take ids, directly or in a struct, are named ggnn_x_node64 then, so that a
//                        mixture does not link
//   GGNN_MALLOC(bytes), GGNN_FREE(memory)   the allocator of ggnn_batch_new and _free (malloc, free): both,
//                        or neither
//   GGNN_CACHE_BYTES     bytes of last-level cache per thread (32 MiB): they decide the kind of ggnn_unique
//   GGNN_ASSERT(c)       checks of ggnn.h itself (assert). A caller's mistake is GGNN_ERROR_ARGUMENT
//   GGNN_PARALLEL_FOR(n, body, context)   a statement that runs void body(void* context, int64_t i) for i in
//                        [0, n), n an int64_t, in any order, and waits (OpenMP's; serial where that is off,
//                        and in a parallel region). Threads of your own pool are in no parallel region: each
//                        opens an OpenMP team when it calls an op. Define it as your pool's, or GGNN_SERIAL
//   GGNN_THREADS         how many threads that loop has (1): work is cut into 64 pieces or 8 a thread
//   GGNN_SERIAL          each op runs on the thread that calls it: GGNN_PARALLEL_FOR is a plain loop
//   GGNN_NO_SIMD         the plain loops only
//   GGNN_SIMD_LEVEL()    the highest level to use: 0 plain loops, 1 vectors of 16 bytes, 2 AVX2, 3 AVX-512
//                        (3; tests use less)
//   GGNN_API             before each function: extern, or static; __declspec(dllexport) for example. The
//                        functions are extern "C" in C++ whatever it says
//   GGNN_HEADER          this file's name where it is not "ggnn.h" and the compiler has no __FILE_NAME__: it
//                        includes its own vector loops
//
// CONTENTS (search for the tag; the implementation's are [1i] .. [9i])
//   [1] BASE   [2] RANDOM   [3] GRAPH   [4] SAMPLE   [5] UNIQUE   [6] BLOCK   [7] STORE   [8] SPARSE
//   [9] ATTENTION   BEHIND THE API: what the other headers share
//   [10i] HOT LOOPS: the few loops written over vector registers, compiled once per instruction set
//
// FUNCTIONS: the outputs of each (written whole, unless said), arguments that may be NULL, threads, errors
//   P: by GGNN_PARALLEL_FOR. 1: the calling thread alone; other threads may call it with their own data.
//   Fails with: GGNN_ERROR_...; the outputs are undefined then. A caller's mistake is GGNN_ERROR_ARGUMENT
//   of every function that returns a status ([1]). May be NULL always: fault; a ggnn_lists' weight, position.
//   ggnn_...             writes                                         may be NULL           fails with
//  [1]
//   status_string        returns a sentence, never NULL                                    1  -
//   parallel_for         nothing                                        context            P  -
//   half_to_float, float_to_half: return the value                                         1  -
//  [2]
//   random_nodes         word (nodes)                                                      1  -
//   dropout_fields       field (8 blocks)                                                  1  -
//   neg_log2_fast        returns the value                                                 1  -
//  [3]
//   graph_validate       fault (1)                                                         P  ID, WEIGHT
//   layout_owners        at, rank (N), bound (parts + 1)                rank, bound, owner 1  ARGUMENT, ID
//                                                                       by how
//   layout_nodes         id (as many as it returns)                     id (counts)        1  returns -2
//   graph_lists          indptr (n + 1), first (n), indices, weight     first, indices     1  ID
//                        (indptr[n])                                    (counts), weight
//   graph_from_coo       out: indptr (N + 1), the others (E)            weight             P  ID
//   graph_transpose      out: as above                                                     P  ID
//   graph_sort           lists, in place; workspace: _workspace_bytes                      P  -
//   graph_simplify       out: as above, once indices are given          out's indices      P  -
//                                                                       (counts); reverse
//   graph_reorder        out: as above; seen (N bytes)                                     P  ID
//   graph_out_degrees    out_degree (N)                                                    1  -
//  [4]
//   sample_list          offset (min(fanout, degree)); workspace:                          1  returns -1: a
//                        sample_workspace_bytes                                               weight; -2
//   sample_lists         offset, bound (n + 1); workspace: the same                        1  WEIGHT
//   random_walk          visited (walks, length), bad (1)                                  1  ID
//   walk_neighbors       id, visits (min(top, count)); workspace (16 count bytes)          1  returns -2
//  [5]
//   unique_init          returns the table, in memory of unique_bytes   memory             1  returns NULL
//   unique_begin         seen                                                              1  -
//   unique_append        list (max_ids), local (n), bad (1)             local              1  ID, CAPACITY
//   unique_find          returns the local id, or -1                                       1  -
//  [6]
//   batch_new            b, in memory of its own                                           1  MEMORY
//   batch_free           b: zeros                                       b                  1  -
//   batch_plan           b: bounds, bytes                               shared             1  -
//   batch_init           b, in memory of b->bytes                                          1  -
//   sample, batch_begin, b: the seeds and all hops; the seeds; one hop                     1  ID, WEIGHT,
//   sample_hop                                                                                CAPACITY
//   batch_pack           memory: batch_packed_bytes                                        1  -
//   batch_unpack         b, in these bytes                                                 1  BLOCK
//   block_whole          b, counts (3), copy (E, with NODE64)           copy, with 32-bit  1  -
//                                                                       ids
//   block_transpose      t, laid out by _init in memory of _bytes                          P  -
//   batch_validate       fault (1)                                                         1  BLOCK, ID
//   block_validate       fault (1)                                                         1  BLOCK, ID
//  [7]
//   gather, gather_edges, gather_marked: out (n, width)                                    P  -
//   mark                 mark (n)                                                          P  -
//   split                gather, scatter (n), bound (parts + 3)                            1  -
//   permute              out (n, width)                                                    P  -
//  [8]
//   spmm                 out, arg (num_dst, width)                      arg, scale, weight P  -
//   spmm_edges           out, arg (num_dst, width)                      arg, scale,        P  -
//                                                                       weight, inp
//   spmm_edges_back      dedge (num_edges, width)                       scale, weight,     P  -
//                                                                       inp, arg
//   sum, mean            out (num_dst, width)                                              P  -
//   spmm_back_arg        dinp (num_src, width)                          weight             P  -
//   scale_mean           inv (num_dst)                                                     1  -
//   scale_weights        inv (num_dst)                                                     P  -
//   gcn_norm             inv_sqrt (N)                                                      P  -
//   scale_gcn            src (num_src), dst, self (num_dst)             src                1  -
//   aggregate            out (num_dst, width)                           scale, weight      P  -
//   sddmm, edge_softmax  out (num_edges, heads)                                            P  -
//   edge_sum             out (num_dst, heads)                                              P  -
//   edge_softmax_back    dlogit (num_edges, heads)                                         P  -
//   exp2, log2           return the value                                                  1  -
//   exp2_array           x (n), in place                                                   1  -
//  [9]
//   scores               el (n, heads)                                                     P  -
//   scores_back          dz (n, width), added to; datt (heads, width / heads)              P  -
//   gat                  y->out (num_dst, width), y->lse (num_dst,      y->att_l, att_r,   P  -
//                        heads); with vectors y->el, y->er; with a      term
//                        term y->own_term
//   gat_back             dz (num_src, width), y->del (num_src, heads),  y->att_l, att_r,   P  -
//                        y->der (num_dst, heads); with vectors          term
//                        y->datt_l, y->datt_r; with a term y->dterm;
//                        y's scratch
//
// MEMORY
//   No op allocates: ggnn_batch_new alone does. All other memory is the caller's: as many bytes as a function
//   named _bytes or a comment says, aligned as malloc's.
//   Outputs overlap nothing, unless it is said. The stack: less than 100 KiB per thread.
//
// PROMISES
//   The same input gives the same bits for any number of threads and on any instruction set (a NaN is a NaN:
//   which one is the processor's choice). Random numbers are keyed by (seed, step, purpose, hop, node, draw):
//   a node's sample depends on nothing else.
//   Float sums run in edge order; a row of more than 256 edges is summed in segments of 256, added in order.
//   A product in a sum is rounded before it is added: the implementation switches contraction off (in gcc and
//   clang; clang's -ffp-contract=fast overrules it), the parts of -ffast-math too, and refuses -ffast-math
//   itself. The file that holds it may set floating-point pragmas of its own below the include.
//   A caller that flushes subnormals, or does not round to nearest, gets other bits, the same for any number
//   of threads: the caller's mode (MXCSR, FPCR) holds on every thread.
//
// PAPERS
//   Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3            Philox
//   Yang et al. 2022, WholeGraph (SC)                    path doubling, append-unique, rows over parts
//   Tang et al. 2024, XGNN (PVLDB 17)                    rejection sampling, one accessor over all memories
//   Efraimidis & Spirakis 2006, Weighted random sampling with a reservoir      A-Res
//   Ying et al. 2018, PinSAGE (KDD)                      neighbours by random walks
//   Polisetty et al. 2023, GSplit                        one mini-batch split by owner
//   Kipf & Welling 2017, GCN (ICLR)                      Hamilton et al. 2017, GraphSAGE (NeurIPS)
//   Velickovic et al. 2018, Graph attention networks (ICLR)
//
// LICENSE: MIT, at the end of this file.

// C's casts and its null pointers, where C++ warns of them.
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#ifndef GGNN_H
#define GGNN_H
#define GGNN_VERSION "0.3.0"
#define GGNN_VERSION_NUMBER 300 // major * 10000 + minor * 100 + patch

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef GGNN_API
#if defined(GGNN_STATIC) && defined(__GNUC__)
#define GGNN_API static __attribute__((unused))
#elif defined(GGNN_STATIC)
#define GGNN_API static
#else
#define GGNN_API extern
#endif
#endif
// Not left to GGNN_API: C++'s names would not tell the widths of ids apart (see "64-bit ids").
#ifdef __cplusplus
extern "C" {
#endif

// ==== [1] BASE: ids, sizes, status, types of elements ======================================================

#ifdef __CUDACC__
#define GGNN_HD static inline __host__ __device__
#else
#define GGNN_HD static inline
#endif

#ifdef GGNN_NODE64
typedef int64_t ggnn_node; // a global id, as in the file; local ids are int32_t in every build
#define GGNN_NODE_MAX INT64_MAX
#else
typedef int32_t ggnn_node;
#define GGNN_NODE_MAX INT32_MAX
#endif

// A size that lives with the data (*n; on the device for CUDA), and its bound, known to the host.
typedef struct ggnn_count {
    int64_t* n;
    int64_t  max;
} ggnn_count;

// In C++, too, any number may stand where an enumerator belongs, and is refused. (A purpose is a uint32_t.)
#ifdef __cplusplus
#define GGNN_ENUM enum : int
#else
#define GGNN_ENUM enum
#endif

#define GGNN_STATUS_LIST(X)                                                                         \
    X(GGNN_OK, "ok")                                                                                \
    X(GGNN_ERROR_ARGUMENT, "an argument is out of range")                                           \
    X(GGNN_ERROR_ID, "a node id or a row of indptr is out of range")                                \
    X(GGNN_ERROR_WEIGHT, "an edge weight is negative or not finite")                                \
    X(GGNN_ERROR_CAPACITY, "a result does not fit its buffer")                                      \
    X(GGNN_ERROR_BLOCK, "a block contradicts itself")                                               \
    X(GGNN_ERROR_MEMORY, "no memory is left")
typedef GGNN_ENUM {
#define GGNN_X(name, text) name,
    GGNN_STATUS_LIST(GGNN_X)
#undef GGNN_X
} ggnn_status;

// A caller's mistake - an enumerator that there is not, a size out of range, NULL where an element would be
// read or written - is GGNN_ERROR_ARGUMENT, in O(1), before anything is read or written. A function that
// returns a number says which one means that. What lies inside arrays is checked by the _validate functions.
// Inline functions check nothing: their comments say what must hold.

// A constant English sentence for a status, never NULL.
GGNN_API const char* ggnn_status_string(ggnn_status status);

// Runs body(context, i) for i in [0, n), in any order, and waits: GGNN_PARALLEL_FOR, the loop of all ops. By
// OpenMP each thread begins with its own part of [0, n), as in each loop before, so that its caches and its
// memory have what it wrote there; then it takes pieces of other parts. Serial in a parallel region.
GGNN_API void ggnn_parallel_for(int64_t n, void (*body)(void* context, int64_t i), void* context);

typedef GGNN_ENUM { GGNN_F32, GGNN_F16 } ggnn_type; // of stored rows; F16: IEEE binary16 bits

// Bytes of an element. type must be one of the two.
GGNN_HD int64_t ggnn_type_bytes(ggnn_type type) { return type == GGNN_F32 ? 4 : 2; }

// binary16 to binary32: exact. Subnormals, infinities and NaN payloads are kept.
GGNN_API float ggnn_half_to_float(uint16_t half);
// binary32 to binary16: rounded to nearest even; too large becomes infinity; NaN stays NaN.
GGNN_API uint16_t ggnn_float_to_half(float value);

// High and low 64 bits of a * b.
GGNN_HD uint64_t ggnn_mul_high(uint64_t a, uint64_t b);

// ==== [2] RANDOM: Philox4x32-10 keyed by what is drawn, never by who draws =================================
// Counter words: block, step, node low 32, purpose:8 | hop:8 | node high 16. Key: the seed. These are
// cuRAND's words of curand_init(seed, purpose << 56 | hop << 48 | node, (uint64_t)step << 34 | word), block =
// word / 4, for steps below 2^30. node is in [0, 2^48). Draw j of a stream: words 2j (high), 2j + 1 (low).

// The purpose of a draw. SAMPLE, EVALUATE and PRESAMPLE draw alike: draw j is the j-th of the node; for the
// reservoir j = offset - fanout, for A-Res j = offset.
typedef enum {
    GGNN_PURPOSE_SAMPLE,            // neighbours, in training
    GGNN_PURPOSE_EVALUATE,          // in evaluation
    GGNN_PURPOSE_PRESAMPLE,         // before training, for cache policies: never sees training's own draws
    GGNN_PURPOSE_WALK,              // see ggnn_walk_purpose
    GGNN_PURPOSE_EPOCH,             // epoch order
    GGNN_PURPOSE_WEIGHTS,           // initial weights
    GGNN_PURPOSE_DROPOUT,           // hop = layer, block = column / 8, 16-bit field column % 8
    GGNN_PURPOSE_ATTENTION_DROPOUT, // hop = layer, block = (edge in row / 8) * heads + head
    GGNN_PURPOSE_GENERATE           // synthetic graphs
} ggnn_purpose;

typedef struct ggnn_rng { // all the state there is
    uint64_t seed;    //
    uint32_t step;    // mini-batches since the start of training: each samples and drops out afresh
    uint32_t purpose; // a ggnn_purpose; to sample: SAMPLE, EVALUATE or PRESAMPLE, which is not checked
} ggnn_rng;

typedef struct ggnn_words { uint32_t word[4]; } ggnn_words;

// A walk's words, of their own for each of the three purposes that it may serve (3, 19 and 35): of block
// walk * length + step, words 0 and 1 choose the neighbour, 2 whether to restart.
GGNN_HD uint32_t ggnn_walk_purpose(uint32_t purpose) { return (uint32_t)GGNN_PURPOSE_WALK | purpose << 4; }

// The four words of one Philox block; counter = (block low, block high, stream low, stream high).
GGNN_HD ggnn_words ggnn_philox(uint64_t key, uint64_t stream, uint64_t block)
{
    uint32_t   k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    ggnn_words c = {{(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)}};
    for (int round = 0; round < 10; round++) {
        uint64_t p = (uint64_t)0xD2511F53u * c.word[0], q = (uint64_t)0xCD9E8D57u * c.word[2];
        c.word[0] = (uint32_t)(q >> 32) ^ c.word[1] ^ k0;
        c.word[1] = (uint32_t)q;
        c.word[2] = (uint32_t)(p >> 32) ^ c.word[3] ^ k1;
        c.word[3] = (uint32_t)p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

enum { GGNN_HOP_NUMBERS = 256 };
typedef char ggnni_hop_numbers_are_256[GGNN_HOP_NUMBERS == 256 ? 1 : -1]; // as a fault's sentence says

// hop (or the layer) in [0, GGNN_HOP_NUMBERS), node a global id: also of ggnn_random and ggnn_draw_below.
GGNN_HD uint64_t ggnn_stream(uint32_t purpose, int32_t hop, int64_t node)
{
    return (uint64_t)purpose << 56 | (uint64_t)(uint32_t)hop << 48 | (uint64_t)node;
}
GGNN_HD ggnn_words ggnn_random(const ggnn_rng* rng, int32_t hop, int64_t node, uint32_t block)
{
    return ggnn_philox(rng->seed, ggnn_stream(rng->purpose, hop, node), (uint64_t)rng->step << 32 | block);
}

// One block per node, by the widest vectors there are: word[i] = ggnn_random(rng, hop, first + i, block) for
// i in [0, nodes). first + nodes <= 2^48.
GGNN_API ggnn_status ggnn_random_nodes(ggnn_words* word, const ggnn_rng* rng, int32_t hop, int64_t first,
                                       int64_t nodes, uint32_t block);

// Draw j >= 0 of a stream whose block j / 2 is given: 64 random bits. A stream has 2^33 draws. Lists of more
// edges than that, sampled by RESERVOIR or WEIGHTED, use them again.
GGNN_HD uint64_t ggnn_draw(ggnn_words block, int64_t j)
{
    return (uint64_t)block.word[2 * (j & 1)] << 32 | block.word[2 * (j & 1) + 1];
}
// A draw brought into [0, n), n >= 1: the high product, biased by less than n / 2^64.
GGNN_HD int64_t ggnn_bounded(uint64_t draw, int64_t n) { return (int64_t)ggnn_mul_high(draw, (uint64_t)n); }

// Draw j >= 0 of a node at a hop, brought into [0, n), n >= 1.
GGNN_HD int64_t ggnn_draw_below(const ggnn_rng* rng, int32_t hop, int64_t node, int64_t j, int64_t n)
{
    return ggnn_bounded(ggnn_draw(ggnn_random(rng, hop, node, (uint32_t)(j / 2)), j), n);
}

// A word as a float in [0, 1): 24 bits, exact.
GGNN_HD float ggnn_uniform(uint32_t word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

// Dropout: one block holds eight 16-bit fields, low half of each word first. An element is dropped when its
// field is < threshold = round(65536 p), and kept ones are multiplied by ggnn_dropout_scale(threshold).
GGNN_HD uint32_t ggnn_dropout_field(ggnn_words block, int64_t i)
{
    return block.word[(i & 7) >> 1] >> (i & 1 ? 16 : 0) & 0xffffu;
}
// p in [0, 1).
GGNN_HD uint32_t ggnn_dropout_threshold(float p) { return (uint32_t)(p * 65536.0f + 0.5f); }
// threshold < 65536, as of p < 1 - 2^-17.
GGNN_HD float ggnn_dropout_scale(uint32_t threshold) { return 65536.0f / (float)(65536u - threshold); }
// The fields of a row, eight per block, by the widest vectors there are: field[8 b + i] =
// ggnn_dropout_field(ggnn_random(rng, hop, node, first + b), i) for b in [0, blocks), i in [0, 8).
GGNN_API ggnn_status ggnn_dropout_fields(uint16_t* field, const ggnn_rng* rng, int32_t hop, int64_t node,
                                         uint32_t first, int64_t blocks);

// -log2((draw + 1) / 2^64) in [0, 64 * 2^40]: 40 fractional bits, truncated. The same on every machine.
GGNN_HD uint64_t ggnn_neg_log2(uint64_t draw);
// ggnn_neg_log2, the same bits, several times as fast on a CPU.
GGNN_API uint64_t ggnn_neg_log2_fast(uint64_t draw);

// The i-th element, i in [0, n), of a keyed permutation of [0, n): an epoch's order with no sort and no
// buffer. n >= 1: with n = 0 it does not end. Six Feistel rounds over the least even number of bits (8 at
// least) that holds n; values >= n walk on along their cycle.
GGNN_HD int64_t ggnn_shuffle(uint64_t seed, uint32_t epoch, int64_t i, int64_t n);

// ==== [3] GRAPH: where rows live, and owners; CSC over parts; building one from edges ======================

// ---- where row v of anything lives, as one device sees it -------------------
// A look-up asks three places in turn. Plain memory: {NULL, 0, NULL, NULL, N, 1}.
//   1. This device's own cache. Each device may cache other rows.
//   2. The parts: memory spread over all devices. They share one order of the nodes, hottest first.
//   3. The host tier: the whole array by id. A mapped file can serve as it is.
typedef struct ggnn_layout {
    const ggnn_node* cache_row; // (N) the row of v in the own cache, where that is in [0, cached); any other
                                // value: not cached. A ranking serves as it is. NULL: v itself
    int64_t          cached;    // rows of the own cache; 0: none
    const ggnn_node* rank;      // (N) the rank of v in the order of the parts; NULL: v itself
    const int64_t*   bound;     // (parts + 1) part p has ranks [bound[p], bound[p+1]); NULL: part r % parts
    int64_t          stored;    // ranks < stored lie in the parts
    int32_t          parts;     // in [1, 2^31 - 4]
} ggnn_layout;

typedef struct ggnn_place {
    int32_t slot; // < parts: that part; parts: host tier; parts + 1: own cache
    int64_t row;  // host tier: v
} ggnn_place;

// O(1); O(parts) with bound. v must be in [0, N).
GGNN_HD ggnn_place ggnn_locate(const ggnn_layout* at, int64_t v);

// A place in one word, for who reads the row without the layout's tables: slot < 2^23, row < 2^40.
#define GGNN_MARK_ROW_BITS 40
GGNN_HD int64_t ggnn_mark_of(ggnn_place place)
{
    return (int64_t)place.slot << GGNN_MARK_ROW_BITS | place.row;
}
GGNN_HD ggnn_place ggnn_marked(int64_t mark)
{
    const int64_t rows = (int64_t)1 << GGNN_MARK_ROW_BITS;
    ggnn_place    place = {(int32_t)(mark >> GGNN_MARK_ROW_BITS), mark & (rows - 1)};
    return place;
}

typedef struct ggnn_csc { // neighbour lists in one piece of memory
    const int64_t*   indptr;    // (rows + 1) list i is [indptr[i], indptr[i+1])
    const int64_t*   first;     // (rows) the list's position in the whole graph's edge order; NULL: indptr's
    const ggnn_node* indices;   // (num_edges) sources, global ids
    const float*     weight;    // (num_edges) or NULL: ones
    int64_t          num_edges; // of this piece: a list that claims more is an error, not a wild read
} ggnn_csc;

typedef struct ggnn_graph {
    int64_t         num_nodes, num_edges;
    ggnn_csc        whole;   // all lists, where part is NULL
    const ggnn_csc* part;    // (parts + 2) by slot; slots without rows are never read. The host tier's
                             // (part[at.parts]) is the whole graph, list v at row v
    ggnn_layout     at;      // of part
    int64_t*        traffic; // (parts + 2) or NULL: lists read are added by slot, [p]: of part p. The caller
                             // zeroes it. Threads that call at the same time need one array each
} ggnn_graph;

// A graph in one CSC: list v is indices[indptr[v] .. indptr[v+1]). weight NULL: ones. Nothing is copied.
GGNN_HD ggnn_graph ggnn_graph_plain(const int64_t* indptr, const ggnn_node* indices, const float* weight,
                                    int64_t num_nodes, int64_t num_edges);

// Weights are finite and not negative. By their bits: -ffinite-math-only takes every number for finite.
GGNN_HD int ggnn_weight_valid(float w);

typedef struct ggnn_list { // the in-neighbours of one node: the only way in which a sampler reads a graph
    const ggnn_node* id;       // (degree) not checked: the sampler checks those that it takes
    const float*     weight;   // (degree) or NULL
    int64_t          degree;   // -1: indptr is broken at this node
    int64_t          position; // of id[0] in the whole graph's edge order
} ggnn_list;

// XGNN's accessor: hides part, host tier and cache. v must be in [0, N).
GGNN_HD ggnn_list ggnn_neighbors(const ggnn_graph* g, ggnn_node v);

// The first thing wrong with an input, for a message: "node 17: indptr decreases".
typedef struct ggnn_fault {
    const char* what; // NULL: nothing wrong
    int64_t     node; // -1: does not apply
    int64_t     edge; // position, -1: does not apply
    int32_t     hop;  // of a batch, -1: does not apply
} ggnn_fault;

// Checks all that the functions here rely on in a graph: layout consistent, every list inside its part and
// with first (if given) continuing, ids in [0, N), weights finite and >= 0, degrees adding up to num_edges.
// O(N + E), stops at the first fault, which is the least (node, edge) whatever the number of threads.
GGNN_API ggnn_status ggnn_graph_validate(const ggnn_graph* g, ggnn_fault* fault);

// ---- owners: which part has a row ----------------------------------------------
typedef GGNN_ENUM { // v in [0, N), its row in its part
    GGNN_OWNER_RANGE,  // parts of equal length, the first N % parts one row longer; rows in order of ids
    GGNN_OWNER_MODULO, // part v % parts, row v / parts
    GGNN_OWNER_HASH,   // part ggnn_owner_hash(v, parts); rows in order of ids
    GGNN_OWNER_MAP     // part owner[v]; rows in order of ids
} ggnn_owner;

// splitmix64's mix: one to one, of any x.
GGNN_HD uint64_t ggnn_mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

// The part of v by hash: v mixed, spread over [0, parts). parts >= 1.
GGNN_HD int32_t ggnn_owner_hash(int64_t v, int32_t parts)
{
    return (int32_t)ggnn_mul_high(ggnn_mix((uint64_t)v + 0x9E3779B97F4A7C15u), (uint64_t)parts);
}
// The part of v by any rule: v in [0, num_rows), parts >= 1. owner: by map alone, else NULL.
GGNN_HD int32_t ggnn_owner_of(int64_t v, ggnn_owner how, const int32_t* owner, int64_t num_rows,
                              int32_t parts);

// *at: num_rows rows over parts >= 1, no cache. It points to rank and bound, which must outlive it; for a
// device send both and point there. O(N). Parts may be empty. Ranges of other lengths need no call: set bound
// and parts, stored = bound[parts].
// GGNN_ERROR_ARGUMENT: a size is out of range; by hash and map that is more than GGNN_NODE_MAX rows, by range
// and modulo none (edge rows: ggnn_gather_edges). GGNN_ERROR_ID: an owner is; fault names the node.
GGNN_API ggnn_status ggnn_layout_owners(
    ggnn_layout*   at,
    ggnn_node*     rank,  // (num_rows)   by hash and map; NULL otherwise
    int64_t*       bound, // (parts + 1)  by range, hash and map: part p has bound[p + 1] - bound[p] rows
    ggnn_owner     how,
    const int32_t* owner, // (num_rows)   by map, in [0, parts]; parts: in the host tier alone. NULL otherwise
    int64_t num_rows, int32_t parts, ggnn_fault* fault);

// The nodes whose rows are in part `part`, in the order of its rows; returns how many. id NULL: counts alone.
// part = at->parts + 1: those of the own cache. -2: part, parts or num_rows is out of range. O(N). The
// rows of a part: ggnn_gather(rows, width, type, &whole, id, n).
GGNN_API int64_t ggnn_layout_nodes(ggnn_node* id, const ggnn_layout* at, int64_t num_rows, int32_t part);

// The lists of n nodes, one after the other: a part of a graph. id in [0, num_nodes). Where indices is NULL
// only indptr is written: call it twice, with the arrays allocated in between. GGNN_ERROR_ID: a list is
// broken; fault names the node. Reads count as traffic.
GGNN_API ggnn_status ggnn_graph_lists(
    int64_t*   indptr,  // (n + 1)
    int64_t*   first,   // (n)          positions in the whole graph's edge order; or NULL
    ggnn_node* indices, // (indptr[n])  or NULL
    float*     weight,  // (indptr[n])  ones where the graph has none; or NULL
    const ggnn_graph* from, const ggnn_node* id, int64_t n, ggnn_fault* fault);

// ---- building: plain CSC in the caller's arrays -------------------------------
typedef struct ggnn_lists {
    int64_t    num_nodes, num_edges;
    int64_t*   indptr;   // (num_nodes + 1)
    ggnn_node* indices;  // (num_edges)
    float*     weight;   // (num_edges) or NULL
    int64_t*   position; // (num_edges) or NULL: which input edge this is; -1: added here
} ggnn_lists;

// The graph that built lists are. They must outlive it.
GGNN_HD ggnn_graph ggnn_graph_from_lists(const ggnn_lists* lists)
{
    return ggnn_graph_plain(lists->indptr, lists->indices, lists->weight, lists->num_nodes, lists->num_edges);
}

// Lists from edges src[e] -> dst[e]: list v holds, in input order, the sources of the edges into v (stable).
// out: num_nodes, num_edges and the arrays are given, and filled; weight and position where not NULL (weight
// NULL on input: ones). O(N + E) per piece of targets, no workspace. GGNN_ERROR_ID: an id outside [0,
// num_nodes) (nothing is read or written out of bounds; out is undefined, fault names the edge).
GGNN_API ggnn_status ggnn_graph_from_coo(ggnn_lists* out, const ggnn_node* src, const ggnn_node* dst,
                                         const float* weight, ggnn_fault* fault);

// Lists of out-neighbours: edge u -> v becomes v -> u. Each list comes sorted by id; of duplicates the
// earlier list position first. Transposing twice sorts every list, stably. position: as in's, or the index in
// `in` where that is NULL. GGNN_ERROR_ID also: indptr does not rise from 0 to num_edges (fault: the node).
GGNN_API ggnn_status ggnn_graph_transpose(ggnn_lists* out, const ggnn_lists* in, ggnn_fault* fault);

// Sorts every list by id, stably, in place; weights and positions go along. O(E log degree).
GGNN_API size_t ggnn_graph_sort_workspace_bytes(const ggnn_lists* lists);
GGNN_API ggnn_status ggnn_graph_sort(ggnn_lists* lists, void* workspace);

typedef GGNN_ENUM { // for ggnn_graph_simplify, combined with |
    GGNN_DROP_DUPLICATES = 1, // keep the first of equal ids
    GGNN_DROP_SELF_LOOPS = 2,
    GGNN_ADD_SELF_LOOPS = 4 // one where a list has none: weight 1, position -1, in id order
} ggnn_simplify;

// out's lists are in's, merged by id with reverse's when that is given (in's transpose: the symmetrised
// graph; self-loops are taken from `in` alone, so that they are not doubled), then changed as `how` says.
// Input lists must be sorted by id. Of equal ids in's come first. Where out->indices is NULL only indptr and
// num_edges are computed: call it twice, with the arrays allocated in between. O(N + E), parallel by rows.
GGNN_API ggnn_status ggnn_graph_simplify(ggnn_lists* out, const ggnn_lists* in, const ggnn_lists* reverse,
                                         int how);

// Renames node v to rank[v] (a permutation of [0, N)), lists and ids; edges keep their order in a list (sort
// them after, if wanted). GGNN_ERROR_ID: rank is not a permutation, indptr does not rise from 0 to num_edges
// (fault names the node), an id is out of range (the edge). seen: N bytes of workspace.
GGNN_API ggnn_status ggnn_graph_reorder(ggnn_lists* out, const ggnn_lists* in, const ggnn_node* rank,
                                        void* seen, ggnn_fault* fault);

// Edges that leave each node: out_degree (num_nodes). In-degrees are differences of indptr. Ids in range.
GGNN_API ggnn_status ggnn_graph_out_degrees(int64_t* out_degree, const ggnn_lists* lists);

// ==== [4] SAMPLE: neighbours of one node; random walks =====================================================
// Every method is a function of (list, fanout, rng, hop, node). Of a list of n edges it takes m = fanout:
// fanout < 0 takes the whole list, 0 nothing; n <= m takes the whole list too, in order (not by methods that
// repeat or walk). One that weighs leaves edges of weight 0 out, of a whole list too. Above GGNN_FANOUT_MAX
// those that hold a set return the reservoir's sample, as it would no longer fit a GPU's shared memory.
//
//   FISHER_YATES    for i < m draw r_i in [0, n-1-i] and take the offset in slot r_i; the offset in slot
//                   n-1-i moves there, and draw i gives that slot up. Slot s holds s at first
//   PATH_DOUBLING   the same result; on CUDA by WholeGraph's parallel Algorithm 1 (ggnn_reference.h)
//   REJECTION       the first m distinct of the node's draws in [0, n), as drawn: XGNN
//   RESERVOIR       m slots, s holds s; for i = m..n-1 draw r in [0, i]; r < m: slot r gets i. O(n)
//   WEIGHTED        A-Res: the m least -log2(u)/w, ascending; weight 0 never. O(n)
//   REPLACEMENT     m independent draws in [0, n)
//   WALK            PinSAGE: the m most visited nodes of random walks; weights are the visits

// What code asks about a method, rather than which one it is; combined with |
typedef GGNN_ENUM {
    GGNN_METHOD_HOLDS_SET = 1, // of what it drew: above GGNN_FANOUT_MAX its sample is RESERVOIR's
    GGNN_METHOD_SCANS = 2,     // looks at every edge of a list, at any fanout
    GGNN_METHOD_WEIGHS = 4,    // edges' weights decide: a bad one is GGNN_ERROR_WEIGHT, 0 is never taken
    GGNN_METHOD_REPEATS = 8,   // with replacement: takes m of any list that has an edge, some more than once
    GGNN_METHOD_WALKS = 16     // takes nodes from anywhere, not edges of a list: they have no position
} ggnn_method_trait;

// The methods: X(enumerator, number, name in options, traits). Packed batches and programs in other languages
// keep the number, so it never changes: a new method takes the next one. Loops run to GGNN_NUM_METHODS.
#define GGNN_METHODS(X)                                                                       \
    X(GGNN_FISHER_YATES, 0, "fisher-yates", GGNN_METHOD_HOLDS_SET)                            \
    X(GGNN_PATH_DOUBLING, 1, "path-doubling", GGNN_METHOD_HOLDS_SET)                          \
    X(GGNN_REJECTION, 2, "rejection", GGNN_METHOD_HOLDS_SET)                                  \
    X(GGNN_RESERVOIR, 3, "reservoir", GGNN_METHOD_SCANS)                                      \
    X(GGNN_WEIGHTED, 4, "weighted", GGNN_METHOD_SCANS | GGNN_METHOD_WEIGHS)                   \
    X(GGNN_REPLACEMENT, 5, "replacement", GGNN_METHOD_REPEATS)                                \
    X(GGNN_WALK, 6, "walk", GGNN_METHOD_WALKS)
#define GGNNI_NUMBER(method, number, name, traits) method = number,
#define GGNNI_ONE(method, number, name, traits) + 1
#define GGNNI_BAR_NAME(method, number, name, traits) "|" name
typedef GGNN_ENUM { GGNN_METHODS(GGNNI_NUMBER) } ggnn_method;
enum { GGNN_NUM_METHODS = 0 GGNN_METHODS(GGNNI_ONE) };
#define GGNN_METHOD_NAMES (&GGNN_METHODS(GGNNI_BAR_NAME)[1]) // "fisher-yates|path-doubling|..."

GGNN_HD const char* ggnn_method_name(ggnn_method method);    // NULL: there is no such method
GGNN_HD int ggnn_method_has(ggnn_method method, int traits); // one of them? 0 where there is no such method

enum { GGNN_FANOUT_MAX = 1024 };

// Least scratch for one call of ggnn_sample_list at this fanout. 0 also where there is no such method.
GGNN_API size_t ggnn_sample_workspace_bytes(ggnn_method method, int64_t fanout);

// Samples one list. offset gets offsets into the list; it has room for min(fanout, degree) of them (fanout <
// 0: degree; a method that repeats: fanout). Returns how many were taken; -1: one that weighs met a weight
// that is negative or not finite; -2: an argument is out of range. Any method that does not walk. Expected
// O(m) but for those that scan; REJECTION draws about n ln(n / (n - m)) times.
GGNN_API int64_t ggnn_sample_list(int64_t* offset, const ggnn_list* list, ggnn_method method, int64_t fanout,
                                  const ggnn_rng* rng, int32_t hop, ggnn_node node, void* workspace);

// n lists at once, with the same offsets: list i's are offset[bound[i] .. bound[i + 1]), and key[i] is its
// node, in [0, 2^48). offset has room for what each may take. By FISHER_YATES and PATH_DOUBLING, of
// fanouts up to 32, 16 lists are drawn side by side. GGNN_ERROR_WEIGHT: of list i where bound[i + 1] is -1.
GGNN_API ggnn_status ggnn_sample_lists(int64_t* offset, int64_t* bound, const ggnn_list* list,
                                       const int64_t* key, int64_t n, ggnn_method method, int64_t fanout,
                                       const ggnn_rng* rng, int32_t hop, void* workspace);

typedef struct ggnn_walks {
    int32_t walks, length; // from each start
    float   restart;       // chance, after each step, to go on from the start again
} ggnn_walks;

// {0, 0, 0} means PinSAGE's defaults, {4, 3, .5}, to each function that takes a ggnn_walks.
GGNN_HD ggnn_walks ggnn_walks_or_default(ggnn_walks how);

// walks and length >= 0, their product < 2^31, restart in [0, 1]?
GGNN_HD int ggnn_walks_valid(ggnn_walks how);

// Random walks along in-edges: visited (walks, length) by start node `node`; step s of walk w moves to a
// uniform neighbour of where the walk is, or, when that has none, notes -1 and goes on from the start. After
// a step the walk returns to the start with chance `restart`. GGNN_ERROR_ARGUMENT: how is not valid.
// GGNN_ERROR_ID: the start, a list or an id is out of range (*bad names the node).
GGNN_API ggnn_status ggnn_random_walk(ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* how,
                                      const ggnn_rng* rng, int32_t hop, ggnn_node node, ggnn_node* bad);

// PinSAGE neighbours from `count` visited nodes (-1 and `node` itself are ignored): the `top` most visited
// (all when top < 0), by falling visits, ties by smaller id. Returns how many: id and visits have room for
// min(top, count), or count; -2: an argument is out of range. workspace: 16 bytes a visit. id may be visited.
GGNN_API int64_t ggnn_walk_neighbors(ggnn_node* id, float* visits, const ggnn_node* visited, int64_t count,
                                     int64_t top, ggnn_node node, void* workspace);

// ==== [5] UNIQUE: append-unique by order of first occurrence ===============================================
// A table from global id to local id, in the caller's memory, that lives from batch to batch and is never
// cleared: an entry is valid when it lies in the current batch's range of values, [base, base + count). One
// per batch in flight. The kind never changes a result. WholeGraph 4.3, ids by first occurrence, no race.

typedef GGNN_ENUM { GGNN_UNIQUE_DIRECT, GGNN_UNIQUE_HASH } ggnn_unique_kind;

typedef struct ggnn_unique { // to be read; only the functions of this section change it
    ggnn_unique_kind kind;
    int64_t          num_nodes; // ids are < num_nodes
    int64_t          max_ids;   // distinct ids a batch may have, <= num_nodes
    uint64_t         mask;      // slots - 1 of the hash table
    uint32_t         base;      // local id = value - base, valid when < count
    uint32_t         count;     // distinct ids in this batch
    uint32_t*        value;     // direct: (num_nodes) by id
    struct ggnn_unique_slot* slot; // hash: (mask + 1)
} ggnn_unique;
typedef struct ggnn_unique_slot { ggnn_node key; uint32_t value; } ggnn_unique_slot;

// The first slot that an id probes: Fibonacci hashing. The bits taken, from 20 on, depend on all lower bits
// of the id. (Ids that differ above those only would share a slot.)
GGNN_HD uint64_t ggnn_hash(ggnn_node id, uint64_t mask)
{
    return (uint64_t)id * 0x9E3779B97F4A7C15u >> 20 & mask;
}

#ifndef GGNN_CACHE_BYTES
#define GGNN_CACHE_BYTES (32 << 20)
#endif
// Direct map while two of them fit the cache: 4 N <= GGNN_CACHE_BYTES / 2; else hash.
GGNN_HD ggnn_unique_kind ggnn_unique_choose(int64_t num_nodes)
{
    return num_nodes <= (GGNN_CACHE_BYTES) / 8 ? GGNN_UNIQUE_DIRECT : GGNN_UNIQUE_HASH;
}
// Direct: 4 N bytes, N <= 2^48; hash: 8 (NODE64: 16) bytes per slot, a power of two >= 2 max_ids slots.
// max_ids < 2^31; above num_nodes it counts as num_nodes.
GGNN_API size_t ggnn_unique_bytes(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids);
// The object at the start of memory (of _bytes; aligned as malloc's, best to 64), cleared. NULL: no memory.
GGNN_API ggnn_unique* ggnn_unique_init(void* memory, ggnn_unique_kind kind, int64_t num_nodes,
                                       int64_t max_ids);
// Starts a batch: forgets all ids. O(1), but for one clearing every 2^31 ids.
GGNN_API ggnn_status ggnn_unique_begin(ggnn_unique* seen);

// Looks up n ids and appends new ones to list in order of first occurrence. list holds the ids of this batch
// so far (seen->count). It needs room for max_ids, or for one more than it will hold: an entry past its end
// may be written. local (n) gets the local id of each (NULL: not wanted). GGNN_ERROR_ID: an id outside [0,
// N); GGNN_ERROR_CAPACITY: more than max_ids distinct; *bad is the index of the first such input;
// those before it are done. Serial; O(n) expected; prefetches. id must not overlap list; local may be the
// same memory as id where both are 4 bytes wide.
GGNN_API ggnn_status ggnn_unique_append(ggnn_unique* seen, ggnn_node* list, int32_t* local,
                                        const ggnn_node* id, int64_t n, int64_t* bad);

// The local id of a global one in this batch; -1: it has none, or is outside [0, N). O(1) expected.
GGNN_API int32_t ggnn_unique_find(const ggnn_unique* seen, ggnn_node id);

// ==== [6] BLOCK: one hop, and a mini-batch of hops =========================================================
// A hop is a bipartite block: targets [0, num_dst), sources [0, num_src), of which the first num_dst are the
// targets. A block names its ids: targets and sources share one numbering, and so does the transpose. All
// hops of a batch share one list of them: the targets and sources of hop h are its first num_dst and num_src
// entries, and the targets of hop h + 1 are all sources of hop h. Hop 0 is the seeds' own; training's layer l
// of L runs on hop L - 1 - l. Sizes are read as *block.num_src.n; < 2^31 sources and edges.

typedef struct ggnn_block {
    ggnn_count num_dst, num_src, num_edges;
    ggnn_node* id;       // (max(num_src, num_dst)) global ids by local id; NULL: they are the same
    int64_t*   indptr;   // (num_dst + 1)
    int32_t*   indices;  // (num_edges) local sources; NULL in a global last hop
    ggnn_node* neighbor; // (num_edges) the same as global ids, or NULL
    int64_t*   position; // (num_edges) in the graph's edge order, or NULL; -1: not an edge (walks)
    float*     weight;   // (num_edges) of the edge, or visits of a walk, or NULL
    int32_t*   repeats;  // (num_src) edges that leave each source (how often it was sampled), or NULL
    int32_t*   edge;     // (num_edges) in a transpose: the edge's index in the original; or NULL
    int32_t    bipartite; // 1: targets and sources are of two kinds (users, items), each with a numbering of
                          // its own, and there may be fewer sources than targets. id is NULL then, neighbor
                          // has the sources' ids. No op may add a target's own row: no scale.self, no
                          // ggnn_gat (GGNN_ERROR_ARGUMENT). The caller sets it; 0 in the blocks of a batch
} ggnn_block;

enum { GGNN_HOPS_MAX = 8 };
typedef char ggnni_hops_are_8[GGNN_HOPS_MAX == 8 ? 1 : -1]; // as a fault's sentence says

typedef GGNN_ENUM { // the arrays that a batch keeps of each hop, combined with |
    GGNN_KEEP_NEIGHBORS = 1,
    GGNN_KEEP_POSITIONS = 2,
    GGNN_KEEP_WEIGHTS = 4,
    GGNN_KEEP_REPEATS = 8,
    GGNN_KEEP_TRANSPOSES = 16, // of each hop but a global one, in batch.back: for backward. Not packed
    GGNN_KEEP_ALL = GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS |
                    GGNN_KEEP_TRANSPOSES
} ggnn_keep;

typedef struct ggnn_sampling { // how a batch is sampled. Zero-initialise; method, num_hops, fanout are needed
    ggnn_method method;
    int32_t     num_hops;
    int32_t     fanout[GGNN_HOPS_MAX]; // from the seeds outward; -1: all, 0: none
    int32_t     last_hop_global;       // 1: the last hop keeps global ids: neighbor, not indices
    int32_t     keep;
    ggnn_walks  walk;      // GGNN_WALK; {0, 0, 0}: PinSAGE's
    int32_t     first_hop; // hop number of hop[0], by which its draws are keyed. A batch of one hop samples
                           // any targets at any hop number: its seeds are the targets
    // Limits per hop, where the worst case takes too much memory; 0: no limit, the worst case.
    int64_t max_src[GGNN_HOPS_MAX];   // sources, targets included
    int64_t max_edges[GGNN_HOPS_MAX]; //
} ggnn_sampling;

// All else 0. Of fanout (num_hops) at most GGNN_HOPS_MAX are read: who plans a batch refuses more hops.
GGNN_HD ggnn_sampling ggnn_sampling_plain(ggnn_method method, const int32_t* fanout, int32_t num_hops);

typedef struct ggnn_batch {
    ggnn_sampling how;                  // the batch's own copy
    int64_t       num_nodes, num_edges; // of the graph that it is for
    size_t        bytes;                // of the memory that it takes
    int64_t       max_ids;              // distinct ids that it may number; a shared table holds as many
    ggnn_node*    id;         // (sources of the last hop) global ids; the distinct seeds first
    int32_t*      seed_local; // (seeds given) local id of each: equal seeds share one
    ggnn_count    num_seeds;  // as given, duplicates included
    int32_t       num_hops;   // sampled so far
    ggnn_block    hop[GGNN_HOPS_MAX];
    ggnn_block    back[GGNN_HOPS_MAX]; // their transposes, with GGNN_KEEP_TRANSPOSES
    ggnn_unique*  shared;    // the table that it shares; NULL: it has its own
    ggnn_unique*  seen;      // its table, once it lies in memory; both unused by the CUDA twin
    void*         workspace; // sizes, and scratch of the sampler
    int32_t*      status;    // sticky ggnn_status of the CUDA twin; unused here
    ggnn_fault    fault;     // after an error: its cause, node and hop
} ggnn_batch;

// The bounds by which both headers plan a batch: sets how, num_nodes, num_edges, max_ids, each size's max.
// Targets are distinct: edges without replacement are at most all the graph's. Fails as ggnn_batch_new.
GGNN_HD ggnn_status ggnn_batch_bound(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                     int64_t max_seeds);

// A batch of at most max_seeds seeds in memory of its own, from GGNN_MALLOC; _free gives it back. The bound
// of every size is worked out from N, E, fanout and the limits in `how`. GGNN_ERROR_ARGUMENT: the batch
// cannot be, and b->fault says why: an argument is out of range, or a hop's sources or edges could reach 2^31
// (a limit in `how` prevents that). GGNN_ERROR_MEMORY: no memory is left. These two functions alone allocate:
// no op does. Most of a large bound is never touched. A batch of zeros, so a freed one, may be freed.
GGNN_API ggnn_status ggnn_batch_new(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                    int64_t max_seeds);
GGNN_API void        ggnn_batch_free(ggnn_batch* b);

// The same in the caller's memory, step 1 of 2: works out every bound, and b->bytes. Of g only N and E are
// read; how is copied. shared: a table that batches use in turn, for N nodes and at least b->max_ids ids;
// NULL: the batch gets a table of its own, of the kind that ggnn_unique_choose says. Fails as ggnn_batch_new.
GGNN_API ggnn_status ggnn_batch_plan(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                     int64_t max_seeds, ggnn_unique* shared);
// Step 2 of 2: lays the batch, and its own table, out in memory of b->bytes, aligned as malloc's (to 64 bytes
// is best). A copy that is laid out again has a table of its own. GGNN_ERROR_ARGUMENT: b was not planned.
GGNN_API ggnn_status ggnn_batch_init(ggnn_batch* b, void* memory);

// A mini-batch: the seeds, then every hop. g has the N and E that the batch was planned for, else
// GGNN_ERROR_ARGUMENT. Runs on the calling thread. Several threads prepare several batches at once, each with
// a batch, its table (and, when traffic is counted, a ggnn_graph) of its own. O(edges sampled). On an error
// b->fault names node and hop, and the batch is empty. GGNN_ERROR_CAPACITY: a limit in `how` is exceeded, a
// shared table is too small, or lists overlap.
GGNN_API ggnn_status ggnn_sample(ggnn_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                                 const ggnn_node* seeds, int64_t num_seeds);
// The same in steps: the seeds (distinct ones numbered by first occurrence), then one hop per call.
GGNN_API ggnn_status ggnn_batch_begin(ggnn_batch* b, const ggnn_node* seeds, int64_t num_seeds);
GGNN_API ggnn_status ggnn_sample_hop(ggnn_batch* b, const ggnn_graph* g, const ggnn_rng* rng);

// A compact copy: a batch of exactly its size in one piece of memory without an address in it, for a queue
// or for sending. _pack writes _packed_bytes bytes, aligned as malloc's: the same batch, the same bytes, on
// the CPU and by the CUDA twin. _unpack makes *b a batch whose
// arrays lie in these bytes, wherever they have been moved; it is for reading, its maxima are its sizes, and
// it has no table. GGNN_ERROR_BLOCK: _pack did not write these bytes, or wrote ids of another width, or
// bytes are missing. The arrays themselves are not checked: ggnn_batch_validate does that. O(bytes).
GGNN_API size_t      ggnn_batch_packed_bytes(const ggnn_batch* b);
GGNN_API ggnn_status ggnn_batch_pack(void* memory, const ggnn_batch* b);
GGNN_API ggnn_status ggnn_batch_unpack(ggnn_batch* b, void* memory, size_t bytes);

// Checks the claims of an unpacked batch: every hop as ggnn_block_validate does, hops that follow one
// another, seed_local in [0, distinct seeds), repeats as often as each source is an edge's. O(bytes).
// GGNN_ERROR_BLOCK, GGNN_ERROR_ID: fault names the hop, and in `node` the target, source or seed.
GGNN_API ggnn_status ggnn_batch_validate(const ggnn_batch* b, ggnn_fault* fault);

// The whole graph as one block (full batch): num_nodes targets = sources, indices alias a plain 32-bit graph;
// with GGNN_NODE64 they are copied into copy (num_edges). counts (3) is memory for the sizes. id is NULL.
// GGNN_ERROR_ARGUMENT: the graph is not plain, or has 2^31 nodes or edges. weight and indptr alias too.
GGNN_API ggnn_status ggnn_block_whole(ggnn_block* b, const ggnn_graph* g, int64_t* counts, int32_t* copy);

// The transpose: sources become targets, ascending edge order within a list, edge = index in b. Backward is
// the same op on it. _init lays t out in memory for any block within the maxima, each < 2^31. t->id is b's.
// O(num_src + num_edges), in up to 16 pieces of sources, each of which reads all edges twice. No workspace.
GGNN_API size_t ggnn_block_transpose_bytes(int64_t max_dst, int64_t max_src, int64_t max_edges);
GGNN_API ggnn_status ggnn_block_transpose_init(ggnn_block* t, int64_t max_dst, int64_t max_src,
                                               int64_t max_edges, void* memory);
GGNN_API ggnn_status ggnn_block_transpose(ggnn_block* t, const ggnn_block* b);

// Checks all that the ops rely on, except that edge is a permutation: indptr from 0, not decreasing, ending
// at num_edges; indices < num_src; edge < num_edges; num_dst <= num_src unless it is a transpose or
// bipartite; sizes within max; id and neighbor, where given, in [0, num_nodes); id NULL where bipartite.
GGNN_API ggnn_status ggnn_block_validate(const ggnn_block* b, int64_t num_nodes, ggnn_fault* fault);

// ==== [7] STORE: fixed-width rows over parts, host tier and cache ==========================================

typedef struct ggnn_store { // node features, edge features (by position), hidden rows
    int32_t            width; // elements in a row
    ggnn_type          type;
    int64_t            pitch; // bytes from row to row, >= width elements, a whole number of them
    const void*        rows;  // all rows, where base is NULL
    const void* const* base;  // (parts + 2) by slot, as this device reads it; NULL where a slot has no rows.
                              // The host tier's (base[at.parts]) is the whole array, row v at row v
    ggnn_layout        at;    // of base
    int64_t*           traffic; // (parts + 2) or NULL: rows read are added by slot, as in ggnn_graph
} ggnn_store;

// num_rows rows in one array, which must outlive the store.
GGNN_HD ggnn_store ggnn_store_plain(const void* rows, int64_t num_rows, int32_t width, ggnn_type type);

// The address of row v, in a part, the host tier or the cache. v must be in [0, N).
GGNN_HD const void* ggnn_row(const ggnn_store* s, int64_t v);

// Rows by pointer table: out[i,:] = row id[i], converted to `as`. ids must be in range. O(n * width),
// parallel by rows. out (n, width), ld_out >= width in elements of `as`; padding beyond width is not written.
GGNN_API ggnn_status ggnn_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                 const ggnn_node* id, int64_t n);
// The same of edge rows, row p that of the edge at position p: out[i,:] = row position[i] (block->position).
// A walk's edges have position -1, and no row: not in range. Of 2^31 rows or more: a layout's rank and
// cache_row are ggnn_nodes, so that with 32-bit ids such rows lie by ranges or by modulo, and a cache holds
// the first ones; else, where more than GGNN_NODE_MAX are ranked or cached by row, GGNN_ERROR_ARGUMENT.
GGNN_API ggnn_status ggnn_gather_edges(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                       const int64_t* position, int64_t n);

// ggnn_gather in two steps, for a device that samples and another one that trains (GNNLab, 2022): the first
// looks rows up and sends their marks with the batch; the second reads them. mark[i] = ggnn_mark_of the place
// of id[i] as the READER's layout has it; at->parts < 2^23 - 1. ids must be in range. O(n), parallel by ids.
GGNN_API ggnn_status ggnn_mark(int64_t* mark, const ggnn_layout* at, const ggnn_node* id, int64_t n);
// out[i,:] = the row that mark[i] names, as ggnn_gather, and counted so. Of from->at parts alone is read: its
// tables may be NULL. Each mark must name a row that is there.
GGNN_API ggnn_status ggnn_gather_marked(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                        const int64_t* mark, int64_t n);

// Stable split of n < 2^31 ids by owner (the slot of ggnn_locate): slot s gets the ids whose indices are
// gather[bound[s] .. bound[s+1]), and id i lies at scatter[i]: gather[scatter[i]] == i. bound (parts + 3).
// The first part of the all-to-all gather and of GSplit. Serial, O(n); with bound O(n parts).
GGNN_API ggnn_status ggnn_split(int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at,
                                const ggnn_node* id, int64_t n);
// out[i,:] = inp[index[i],:]: the other part. n rows of `type`; index gather packs them by owner, index
// scatter puts them back in order. out must not overlap inp.
GGNN_API ggnn_status ggnn_permute(void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type,
                                  int32_t width, const int32_t* index, int64_t n);

// ==== [8] SPARSE: aggregation, SDDMM, edge softmax =========================================================
// All take a block (or its transpose) and dense row-major matrices with ld_ elements from row to row, and
// write every element of their outputs' rows. Preconditions: ggnn_block_validate, and local indices (all but
// ggnn_aggregate). A wrong argument is GGNN_ERROR_ARGUMENT; no function fails otherwise, none allocates.
// Per-edge inputs and outputs are indexed by block->edge where that is given (a transpose), so that forward
// and backward share arrays. A block's own weights (block->weight) count only where they are passed as
// `weight`. Columns are split evenly over K heads: heads must divide width.

typedef GGNN_ENUM { GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN } ggnn_reduce;

// Factors of a linear aggregation:
//   out[v] = dst[v] * sum over u in N(v) of (src[u] * inp[u]) + self[v] * inp[v]
// Any may be NULL: no dst or src factor, no self term. The transpose of this map swaps src and dst and keeps
// self, so GCN, GraphSAGE's mean and gcn aggregators, and all their backwards are one call each.
typedef struct ggnn_scale {
    const float* src;  // (num_src); in ggnn_aggregate (N) by global id
    const float* dst;  // (num_dst); replaces MEAN's 1/|N(v)| where given
    const float* self; // (min(num_dst, num_src)): rows beyond it (in a transpose) have no self term. NULL
                       // for a bipartite block
} ggnn_scale;

// Sparse-dense product over a block: out[v,:] = reduce over e = (u, v) of weight[e, head] * inp[u,:], scaled.
//   MEAN multiplies by 1/|N(v)|, rounded first. Empty N(v): 0 (arg -1). MAX and MIN take the first of equal
//   values, NaN only where all are NaN; they allow weight but no scale.
// Backward of the dense input: SUM on the transpose with scale.src and scale.dst swapped (MEAN: src =
// 1/|N(v)|, ggnn_scale_mean); of MAX, MIN: ggnn_spmm_back_arg. O(E * width). out must not overlap inp.
GGNN_API ggnn_status ggnn_spmm(
    float*            out,    // (num_dst, width)  overwritten
    int64_t           ld_out, //
    int32_t*          arg,    // (num_dst, width)  MAX, MIN: offset in the list; or NULL
    ggnn_reduce       how,    //
    const ggnn_block* b,      //
    const ggnn_scale* scale,  //                   or NULL
    const float*      weight, // (num_edges, heads) or NULL: ones
    int32_t           heads,  //                   of weight; 1 when that is NULL
    const float*      inp,    // (num_src, width)
    int64_t           ld_inp, //
    int32_t           width);

// The common cases: no factors, no weights, rows one behind the other.
GGNN_API ggnn_status ggnn_sum(float* out, const ggnn_block* b, const float* inp, int32_t width);
GGNN_API ggnn_status ggnn_mean(float* out, const ggnn_block* b, const float* inp, int32_t width);

// Backward of MAX, MIN over the transpose t of b: dinp[u,:] = sum over e = (u, v) of weight[e] * dout[v,:]
// where e was chosen, i.e. arg[v,:] is its offset in b's list of v.
GGNN_API ggnn_status ggnn_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t,
                                        const ggnn_block* b, const float* weight, int32_t heads,
                                        const float* dout, int64_t ld_dout, const int32_t* arg,
                                        int32_t width);

typedef GGNN_ENUM { GGNN_EDGE_COPY, GGNN_EDGE_TIMES, GGNN_EDGE_PLUS } ggnn_message;

// ggnn_spmm with a row for each edge: out[v,:] = reduce over e = (u, v) of weight[e, head] * m[e,:], scaled.
//   The message m[e,:] is edge[e,:] (COPY: inp may be NULL), inp[u,:] * edge[e,:] (TIMES) or inp[u,:] +
//   edge[e,:] (PLUS), rounded. edge: what ggnn_gather_edges gathers by block->position, or any (E, width).
//   MAX and MIN take COPY and PLUS. scale.self adds inp[v,:] times it: not with COPY.
// Backward of inp: TIMES, SUM: this call on the transpose, with dout in place of inp and scale's src and dst
// swapped. PLUS: that of ggnn_spmm, ggnn_spmm_back_arg. Of edge: ggnn_spmm_edges_back. O(E * width).
GGNN_API ggnn_status ggnn_spmm_edges(
    float*            out,     // (num_dst, width)   overwritten
    int64_t           ld_out,  //
    int32_t*          arg,     // (num_dst, width)   MAX, MIN: offset in the list; or NULL
    ggnn_reduce       how,     //
    ggnn_message      message, //
    const ggnn_block* b,       //                    in a transpose b->edge finds an edge's row
    const ggnn_scale* scale,   //                    or NULL
    const float*      weight,  // (num_edges, heads) or NULL: ones
    int32_t           heads,   //                    of weight; 1 when that is NULL
    const float*      inp,     // (num_src, width)   not read for COPY
    int64_t           ld_inp,  //
    const float*      edge,    // (num_edges, width)
    int64_t           ld_edge, //
    int32_t           width);

// Its backward, of edges' rows: dedge[e,:] = (weight[e, head] * (src[u] * dst[v])) * g for e = (u, v), with
// g = dout[v,:] (COPY, PLUS) or inp[u,:] * dout[v,:] (TIMES); products are rounded; scale.self is not read.
// MEAN: dst = 1/|N(v)|, ggnn_scale_mean. MAX, MIN: forward's arg; columns that did not take e are 0.
GGNN_API ggnn_status ggnn_spmm_edges_back(
    float*            dedge,    // (num_edges, width) overwritten
    int64_t           ld_dedge, //
    ggnn_message      message,  //
    const ggnn_block* b,        //                    not its transpose
    const ggnn_scale* scale,    //                    or NULL
    const float*      weight,   // (num_edges, heads) or NULL: ones
    int32_t           heads,    //                    of weight; 1 when that is NULL
    const float*      inp,      // (num_src, width)   TIMES
    int64_t           ld_inp,   //
    const float*      dout,     // (num_dst, width)
    int64_t           ld_dout,  //
    const int32_t*    arg,      // (num_dst, width)   of MAX, MIN; NULL otherwise
    int32_t           width);

// 1 / |N(v)| for each target, 0 where that is empty; with_self: 1 / (|N(v)| + 1), as GraphSAGE-GCN's.
GGNN_API ggnn_status ggnn_scale_mean(float* inv, const ggnn_block* b, int with_self);

// 1 / the sum of weight (num_edges) over N(v) for each target, 0 where that sum is 0: with it as scale.dst,
// MEAN is the mean weighted by `weight`. PinSAGE's importance: `weight` are the visits of GGNN_WALK.
GGNN_API ggnn_status ggnn_scale_weights(float* inv, const ggnn_block* b, const float* weight);

// GCN under sampling, Kipf & Welling 2017: the factors of a SUM. src[u] = 1/sqrt(d_u) (num_src), d =
// in-degree in the graph + 1; dst[v] = degree/sampled * 1/sqrt(d_v) (num_dst), so that the neighbour sum is
// unbiased where every edge is as likely to be sampled (not by WEIGHTED or WALK); self[v] = 1/d_v (num_dst).
// With full fanout this is exactly their layer. `self` adds v itself, beside a self-loop in its list.
// inv_sqrt (N): 1/sqrt(d) by global id, of ggnn_gcn_norm; src may be NULL (input layer: pass inv_sqrt on).
GGNN_API ggnn_status ggnn_gcn_norm(float* inv_sqrt, const ggnn_graph* g);
GGNN_API ggnn_status ggnn_scale_gcn(float* src, float* dst, float* self, const ggnn_block* b,
                                    const float* inv_sqrt, const ggnn_graph* g);

// The input layer in one pass, no gathered copy: ggnn_spmm over rows read straight from a store by global id
// (b->neighbor, else b->id[b->indices]). fp16 rows are converted as they are read. scale.src is by global id;
// weight and heads as in ggnn_spmm. Same bits as gather, then spmm.
GGNN_API ggnn_status ggnn_aggregate(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b,
                                    const ggnn_scale* scale, const float* weight, int32_t heads,
                                    const ggnn_store* from);

typedef GGNN_ENUM { GGNN_DOT, GGNN_ADD } ggnn_edge_op;

// Sampled dense-dense product: for e = (u, v), DOT: out[e,k] = inp_src[u, head k] . inp_dst[v, head k]; ADD:
// out[e,k] = inp_src[u,k] + inp_dst[v,k] (width = heads). A dot keeps 16 strided partial sums, folded 8, 4,
// 2, 1. Backward of DOT: ggnn_spmm with weight = dout (on the transpose for inp_src); of ADD: ggnn_edge_sum.
// It is also the backward of ggnn_spmm's edge weights (inp_dst = dout, scaled by the caller for MEAN).
GGNN_API ggnn_status ggnn_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b, const float* inp_src,
                                int64_t ld_src, const float* inp_dst, int64_t ld_dst, int32_t heads,
                                int32_t width);

// out[v,k] = sum over the edges e of v of value[e,k]. out (num_dst, heads).
GGNN_API ggnn_status ggnn_edge_sum(float* out, const ggnn_block* b, const float* value, int32_t heads);

// Softmax over each target's edges, per head: out[e,k] (num_edges, heads); may be in place. Nothing over an
// empty list. Fast where edges lie as they are listed (b->edge NULL) and heads divides 16. Backward:
// dlogit = out * (dout - sum over the list of out * dout); may be in place of dout.
GGNN_API ggnn_status ggnn_edge_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads);
GGNN_API ggnn_status ggnn_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out,
                                            const float* dout, int32_t heads);

// 2^x, the same bits on every machine; relative error < 2e-7; 0 below -126, +inf from 128 on, NaN for NaN.
GGNN_API float ggnn_exp2(float x);
// log2 of x >= 1, our own: the same bits on every machine; absolute error < 3e-7; +inf for +inf, NaN for NaN.
GGNN_API float ggnn_log2(float x);
// x[i] = ggnn_exp2(x[i]), by the widest vectors there are.
GGNN_API ggnn_status ggnn_exp2_array(float* x, int64_t n);

// ==== [9] ATTENTION: scores, fused graph attention =========================================================

typedef struct ggnn_attention {      // zero-initialise: LeakyReLU 0, no dropout
    float    slope;   // of LeakyReLU, >= 0: GAT uses .2
    float    dropout; // of attention coefficients; 0: none
    int32_t  layer;   // keys the dropout field, with rng and the target's global id
    ggnn_rng rng;     // purpose GGNN_PURPOSE_ATTENTION_DROPOUT
} ggnn_attention;

// Per-head scores el[u,k] = z[u, head k] . att[k,:] of n rows: el (n, heads), att (heads, width / heads).
// Backward adds del (x) att to dz and overwrites datt with the sum of del * z over rows, in order, by 256.
GGNN_API ggnn_status ggnn_scores(float* el, const float* z, int64_t ld_z, const float* att, int64_t n,
                                 int32_t heads, int32_t width);
GGNN_API ggnn_status ggnn_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del, const float* z,
                                      int64_t ld_z, const float* att, int64_t n, int32_t heads,
                                      int32_t width);

typedef struct ggnn_gat_layer { // one layer of fused attention. Zero-initialise
    const ggnn_block* block;  //                         with indices
    const float*      z;      // (num_src, width)
    int64_t           ld_z;   //
    float*            el;     // (num_src, heads)        z . att_l: written by forward; att_l NULL: given
    float*            er;     // (num_dst, heads)        the same of the targets and att_r
    float*            out;    // (num_dst, width)        written by forward
    int64_t           ld_out; //
    float*            lse;    // (num_dst, heads)        written by forward: log2 of the sum of e^l
    int32_t           heads;  //
    int32_t           width;  //                         of z and out
    ggnn_attention    how;
    const float*      att_l;  // (heads, width / heads)  attention vectors of sources and
    const float*      att_r;  //                         of targets; or NULL
    const float* term;        // (num_edges, heads)      addend of each edge's score; or NULL
    float*       own_term;    // (num_dst, heads)        the target's own: written by forward; not with NULL
    // Backward alone.
    float* datt_l; // (heads, width / heads)        their gradients, overwritten; not with vectors NULL
    float* datt_r; //
    float* del;    // (num_src, heads)              gradients of el and er, overwritten
    float* der;    // (num_dst, heads)
    float* dterm;  // (num_edges, heads)            the gradient of term, overwritten; not with term NULL
    float* delta;  // (num_dst, heads)              scratch: dout . out
    float* dlogit; // (num_dst + num_edges, heads)  scratch: gradients of el[u] + er[v], entry by entry
    float* coef;   // (num_dst + num_edges, heads)  scratch of the CUDA twin: alpha q; unused here
    float* partial; // (2 (num_src / 256 + 1), width)  the same, with vectors
} ggnn_gat_layer;

// Fused graph attention, Velickovic et al. 2018, with no (E, width) buffer: target v attends to itself and
// its list, per head:
//   l[u] = LeakyReLU(el[u] + er[v]),  alpha = softmax of l over {v} and N(v),  out[v,:] = sum alpha[u] z[u,:]
// Entry 0 of the row is v itself, entry 1 + i its i-th neighbour: that order sums and keys dropout (which
// acts on alpha after the softmax); a self-loop in the list counts once more (PyG's GATConv takes these out
// first: GGNN_DROP_SELF_LOOPS). By segments of 256 entries, with a running maximum; all is rounded, as here:
//   L[u] = LeakyReLU(el[u] + er[v]) * log2 e,  most = the greatest L so far,  p[u] = ggnn_exp2(L[u] - most)
//   sum = sum * keep + (p of the segment, added up),  out = out * keep + (p[u] * q[u]) * z[u], added up
// keep = ggnn_exp2(most of the segments before - most); q[u] is dropout's factor, 1 without. At the end out
// is multiplied by 1 / sum; lse = most + log2(sum). Where vectors are given, ggnn_scores makes el, er first.
// With term, el[u] + term[e] stands for el[u], e being the entry's edge (as in PyG's GATConv(edge_dim): there
// term is the edge's row times W_e, by the heads' att_e; GSplit's w_e). The target's own is the mean of its
// list's, 0 of an empty list (PyG's fill_value = "mean": linear, so the mean of the rows gives the same), a
// ggnn_spmm_edges of MEAN and COPY: O(E heads) more.
GGNN_API ggnn_status ggnn_gat(const ggnn_gat_layer* y);

// Its backward, deterministic. Per head, L and q as in forward:
//   alpha[u] = ggnn_exp2(L[u] - lse[v]),  delta[v] = dout[v] . out[v]
//   d[u] = alpha[u] * (q[u] * (dout[v] . z[u]) - delta[v]), times slope where L[u] is not > 0
//   d[v] = 0 where v's list is empty: the softmax over one entry is 1 whatever its score is
//   dz[u] = sum of (alpha[u] * q[u]) * dout[v],  del[u] = sum of d[u],  der[v] = sum of d
// Each operation is rounded, in this order. Dots are those of GGNN_DOT. Sums over the targets of u begin with
// u itself where it is one, then go by the transpose; those of der begin with v itself, then go by the list:
// in segments of 256 entries, added in order. Where the vectors are given, the gradients by el and er follow:
//   ggnn_scores_back(dz, .., datt_l, del, z, .., att_l, num_src, ..)
//   ggnn_scores_back(dz, .., datt_r, der, z, .., att_r, num_dst, ..)
// With term, dterm[e] = d of e's entry + d[v] * (1 / |N(v)|): what the mean had of e goes back to it.
// GGNN_ERROR_ARGUMENT is mostly one of these: the batch kept no transposes; a scratch array is NULL, or with
// term own_term or dterm; with dropout, how.rng.purpose is not GGNN_PURPOSE_ATTENTION_DROPOUT.
GGNN_API ggnn_status ggnn_gat_back(
    float*                dz,        // (num_src, width)  overwritten
    int64_t               ld_dz,     //
    const ggnn_block*     transpose, //                   of y->block: batch.back[h], kept by
                                     //                   GGNN_KEEP_TRANSPOSES, or by ggnn_block_transpose
    const ggnn_gat_layer* y,         //                   as forward left it
    const float*          dout,      // (num_dst, width)
    int64_t               ld_dout);

// ==== BEHIND THE API: what the other headers share. Nothing here is for callers ===========================

#ifdef __cplusplus
} // extern "C"
#endif

// ---- 64-bit ids ----------------------------------------------------------------
// For the linker, every function that takes ids, itself or in a struct, is named ggnn_x_node64: a mixture
// of widths does not link. The pragma renames no function that has C++'s linkage.

#if defined(GGNN_NODE64) && !defined(GGNN_STATIC)
#define GGNNI_QUOTED(text) #text
#define GGNNI_WIDE(name)   _Pragma(GGNNI_QUOTED(redefine_extname name name##_node64))
GGNNI_WIDE(ggnn_graph_validate) GGNNI_WIDE(ggnn_layout_owners) GGNNI_WIDE(ggnn_layout_nodes)
GGNNI_WIDE(ggnn_graph_lists) GGNNI_WIDE(ggnn_graph_from_coo) GGNNI_WIDE(ggnn_graph_transpose)
GGNNI_WIDE(ggnn_graph_sort_workspace_bytes) GGNNI_WIDE(ggnn_graph_sort) GGNNI_WIDE(ggnn_graph_simplify)
GGNNI_WIDE(ggnn_graph_reorder) GGNNI_WIDE(ggnn_graph_out_degrees) GGNNI_WIDE(ggnn_sample_list)
GGNNI_WIDE(ggnn_sample_lists) GGNNI_WIDE(ggnn_random_walk) GGNNI_WIDE(ggnn_walk_neighbors)
GGNNI_WIDE(ggnn_unique_bytes) GGNNI_WIDE(ggnn_unique_init) GGNNI_WIDE(ggnn_unique_begin)
GGNNI_WIDE(ggnn_unique_append) GGNNI_WIDE(ggnn_unique_find) GGNNI_WIDE(ggnn_batch_new)
GGNNI_WIDE(ggnn_batch_free) GGNNI_WIDE(ggnn_batch_plan) GGNNI_WIDE(ggnn_batch_packed_bytes)
GGNNI_WIDE(ggnn_batch_pack) GGNNI_WIDE(ggnn_batch_unpack) GGNNI_WIDE(ggnn_batch_validate)
GGNNI_WIDE(ggnn_batch_init) GGNNI_WIDE(ggnn_sample) GGNNI_WIDE(ggnn_batch_begin) GGNNI_WIDE(ggnn_sample_hop)
GGNNI_WIDE(ggnn_block_whole) GGNNI_WIDE(ggnn_block_transpose_init) GGNNI_WIDE(ggnn_block_transpose)
GGNNI_WIDE(ggnn_block_validate) GGNNI_WIDE(ggnn_gather) GGNNI_WIDE(ggnn_gather_edges) GGNNI_WIDE(ggnn_mark)
GGNNI_WIDE(ggnn_split) GGNNI_WIDE(ggnn_gather_marked) GGNNI_WIDE(ggnn_spmm) GGNNI_WIDE(ggnn_sum)
GGNNI_WIDE(ggnn_mean) GGNNI_WIDE(ggnn_spmm_back_arg) GGNNI_WIDE(ggnn_scale_mean)
GGNNI_WIDE(ggnn_scale_weights) GGNNI_WIDE(ggnn_gcn_norm) GGNNI_WIDE(ggnn_scale_gcn) GGNNI_WIDE(ggnn_aggregate)
GGNNI_WIDE(ggnn_sddmm) GGNNI_WIDE(ggnn_edge_sum) GGNNI_WIDE(ggnn_edge_softmax) GGNNI_WIDE(ggnn_spmm_edges)
GGNNI_WIDE(ggnn_spmm_edges_back) GGNNI_WIDE(ggnn_edge_softmax_back) GGNNI_WIDE(ggnn_gat)
GGNNI_WIDE(ggnn_gat_back)
#endif

// ---- the longer inline functions -------------------------------------------------

GGNN_HD uint64_t ggnn_mul_high(uint64_t a, uint64_t b)
{
#ifdef __CUDA_ARCH__
    return __umul64hi(a, b);
#else
    uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
    uint64_t mid = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
    uint64_t mid2 = (a & 0xffffffffu) * (b >> 32) + (mid & 0xffffffffu);
    return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
#endif
}

GGNN_HD uint64_t ggnn_neg_log2(uint64_t draw)
{
    uint64_t m = draw + 1, fraction = 0;
    int      exponent = 63;
    if (m == 0) return 0; // u = 1
    for (; !(m >> 63); m <<= 1) exponent--;
    for (int bit = 0; bit < 40; bit++) { // m in [1, 2), 63 fractional bits: squaring doubles its log
        m = ggnn_mul_high(m, m);         // [1, 4) with 62
        fraction = fraction << 1 | m >> 63;
        if (!(m >> 63)) m <<= 1;
    }
    return ((uint64_t)64 << 40) - ((uint64_t)exponent << 40 | fraction);
}

GGNN_HD int64_t ggnn_shuffle(uint64_t seed, uint32_t epoch, int64_t i, int64_t n)
{
    ggnn_rng rng = {seed, epoch, GGNN_PURPOSE_EPOCH};
    int      half = 4;
    while (half < 31 && (uint64_t)n > (uint64_t)1 << 2 * half) half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = (uint64_t)i;
    do {
        for (uint32_t round = 0; round < 6; round++)
            x = (x & mask) << half |
                ((x >> half ^ ggnn_random(&rng, 0, (int64_t)(x & mask), round).word[0]) & mask);
    } while (x >= (uint64_t)n);
    return (int64_t)x;
}

GGNN_HD ggnn_place ggnn_locate(const ggnn_layout* at, int64_t v)
{
    ggnn_place place;
    if (at->cached) {
        place.slot = at->parts + 1;
        place.row = at->cache_row ? (int64_t)at->cache_row[v] : v;
        if ((uint64_t)place.row < (uint64_t)at->cached) return place;
    }
    const int64_t r = at->rank ? (int64_t)at->rank[v] : v;
    if (r >= at->stored) {
        place.slot = at->parts;
        place.row = v;
    } else if (at->bound) {
        place.slot = 0;
        while (r >= at->bound[place.slot + 1]) place.slot++;
        place.row = r - at->bound[place.slot];
    } else if (at->parts == 1) { // needs no division
        place.slot = 0;
        place.row = r;
    } else {
        place.slot = (int32_t)(r % at->parts);
        place.row = r / at->parts;
    }
    return place;
}

GGNN_HD int32_t ggnn_owner_of(int64_t v, ggnn_owner how, const int32_t* owner, int64_t num_rows,
                              int32_t parts)
{
    if (how == GGNN_OWNER_MAP) return owner[v];
    if (how == GGNN_OWNER_HASH) return ggnn_owner_hash(v, parts);
    if (how == GGNN_OWNER_MODULO) return (int32_t)(v % parts);
    // rows of a range, of all longer ranges
    const int64_t each = num_rows / parts, longer = num_rows % parts * (each + 1);
    return (int32_t)(v < longer ? v / (each + 1) : num_rows % parts + (v - longer) / each);
}

GGNN_HD ggnn_graph ggnn_graph_plain(const int64_t* indptr, const ggnn_node* indices, const float* weight,
                                    int64_t num_nodes, int64_t num_edges)
{
    const ggnn_csc    whole = {indptr, 0, indices, weight, num_edges};
    const ggnn_layout at = {0, 0, 0, 0, num_nodes, 1};
    const ggnn_graph  g = {num_nodes, num_edges, whole, 0, at, 0};
    return g;
}

GGNN_HD int ggnn_weight_valid(float w)
{
    uint32_t bits;
    memcpy(&bits, &w, sizeof bits);
    return bits < 0x7f800000u || bits == 0x80000000u; // below infinity, or -0
}

GGNN_HD ggnn_list ggnn_neighbors(const ggnn_graph* g, ggnn_node v)
{
    ggnn_place      place = {0, v};
    const ggnn_csc* csc = &g->whole;
    ggnn_list       list = {0, 0, -1, 0};
    if (g->part) {
        place = ggnn_locate(&g->at, v);
        csc = &g->part[place.slot];
    }
    const int64_t begin = csc->indptr[place.row], end = csc->indptr[place.row + 1];
    if (g->traffic) g->traffic[place.slot]++;
    if (begin < 0 || begin > end || end > csc->num_edges) return list;
    list.degree = end - begin;
    list.id = list.degree ? csc->indices + begin : 0; // a graph without edges may have no array of them
    list.weight = csc->weight && list.degree ? csc->weight + begin : 0;
    list.position = csc->first ? csc->first[place.row] : begin;
    return list;
}

GGNN_HD ggnn_store ggnn_store_plain(const void* rows, int64_t num_rows, int32_t width, ggnn_type type)
{
    const ggnn_layout at = {0, 0, 0, 0, num_rows, 1};
    const ggnn_store  s = {width, type, width * ggnn_type_bytes(type), rows, 0, at, 0};
    return s;
}

GGNN_HD const void* ggnn_row(const ggnn_store* s, int64_t v)
{
    if (!s->base) return (const char*)s->rows + v * s->pitch;
    const ggnn_place place = ggnn_locate(&s->at, v);
    return (const char*)s->base[place.slot] + place.row * s->pitch;
}

GGNN_HD ggnn_walks ggnn_walks_or_default(ggnn_walks how)
{
    const ggnn_walks pinsage = {4, 3, 0.5f};
    return how.walks == 0 && how.length == 0 && how.restart >= 0.0f && how.restart <= 0.0f ? pinsage : how;
}

GGNN_HD int ggnn_walks_valid(ggnn_walks how)
{
    return how.walks >= 0 && how.length >= 0 && (int64_t)how.walks * how.length <= INT32_MAX &&
           how.restart >= 0.0f && how.restart <= 1.0f;
}

GGNN_HD const char* ggnn_method_name(ggnn_method method)
{
    switch (method) {
#define GGNN_X(method, number, name, traits) case method: return name;
        GGNN_METHODS(GGNN_X)
#undef GGNN_X
    }
    return 0;
}

GGNN_HD int ggnn_method_has(ggnn_method method, int traits)
{
    switch (method) {
#define GGNN_X(method, number, name, own) case method: return ((own) & traits) != 0;
        GGNN_METHODS(GGNN_X)
#undef GGNN_X
    }
    return 0;
}

GGNN_HD ggnn_sampling ggnn_sampling_plain(ggnn_method method, const int32_t* fanout, int32_t num_hops)
{
    ggnn_sampling how = {method, num_hops, {0}, 0, 0, {0, 0, 0}, 0, {0}, {0}};
    for (int32_t h = 0; h < num_hops && h < GGNN_HOPS_MAX; h++) how.fanout[h] = fanout[h];
    return how;
}

// ---- checks of arguments -------------------------------------------------------
// NULL is a mistake only where an element would be read or written.

GGNN_HD int ggnni_type_known(ggnn_type type) { return (uint32_t)type <= GGNN_F16; }
GGNN_HD int ggnni_method_known(ggnn_method method) { return (uint32_t)method < GGNN_NUM_METHODS; }
GGNN_HD int ggnni_samples_lists(ggnn_method method) // by ggnn_sample_list
{
    return ggnni_method_known(method) && !ggnn_method_has(method, GGNN_METHOD_WALKS);
}
GGNN_HD int ggnni_walks(const ggnn_sampling* how) { return ggnn_method_has(how->method, GGNN_METHOD_WALKS); }
GGNN_HD int ggnni_node_given(int64_t v) { return (uint64_t)v >> 48 == 0; } // a stream has 48 bits for it
GGNN_HD int ggnni_sizes_local(int64_t dst, int64_t src, int64_t edges) // of int32_t numbers
{
    return dst >= 0 && dst <= INT32_MAX && src >= 0 && src <= INT32_MAX && edges >= 0 && edges <= INT32_MAX;
}
GGNN_HD int ggnni_parts_given(int32_t parts) { return parts >= 1 && parts <= INT32_MAX - 3; }
GGNN_HD int ggnni_slots_marked(int32_t parts) { return parts >= 1 && parts < (1 << 23) - 1; }
GGNN_HD int ggnni_degrees_given(const ggnn_graph* g)
{
    if (!g || g->num_nodes < 0 || g->num_edges < 0) return 0;
    if (g->part) return ggnni_parts_given(g->at.parts);
    return g->num_nodes == 0 || g->whole.indptr;
}
GGNN_HD int ggnni_graph_given(const ggnn_graph* g)
{
    if (!ggnni_degrees_given(g)) return 0;
    return g->part || g->num_nodes == 0 || g->whole.indices || g->whole.num_edges <= 0;
}
GGNN_HD int ggnni_store_given(const ggnn_store* s, int64_t rows) // of which so many are read
{
    if (!s || !ggnni_type_known(s->type) || s->width < 0) return 0;
    if (s->pitch < s->width * ggnn_type_bytes(s->type) || s->pitch % ggnn_type_bytes(s->type)) return 0;
    if (s->base) return ggnni_parts_given(s->at.parts);
    return rows == 0 || s->width == 0 || s->rows;
}
// Of edge rows: numbers that are ggnn_nodes hold all that they are to name.
GGNN_HD int ggnni_edges_ranked(const ggnn_store* s)
{
    const ggnn_layout* at = &s->at;
    if (!s->base) return 1;
    return (!at->rank || at->stored <= GGNN_NODE_MAX) && (!at->cache_row || at->cached <= GGNN_NODE_MAX);
}
GGNN_HD int ggnni_matrix_given(const void* v, int64_t ld, int64_t rows, int32_t width)
{
    return width >= 0 && ld >= width && (v || rows <= 0 || width == 0);
}
GGNN_HD int ggnni_heads_given(int32_t heads, int32_t width)
{
    return heads >= 1 && width >= 0 && width % heads == 0;
}
GGNN_HD int ggnni_reduces(ggnn_reduce how, const ggnn_block* b, const ggnn_scale* scale, const float* weight,
                          int32_t heads, int32_t width)
{
    const int scaled = scale && (scale->src || scale->dst || scale->self);
    return (uint32_t)how <= GGNN_MIN && (how < GGNN_MAX || !scaled) && ggnni_heads_given(heads, width) &&
           (heads == 1 || weight) && !(b->bipartite && scale && scale->self);
}

// What ggnn_spmm_edges allows beside that.
GGNN_HD int ggnni_messages(ggnn_reduce how, ggnn_message message, const ggnn_scale* scale)
{
    return (uint32_t)message <= GGNN_EDGE_PLUS && (how < GGNN_MAX || message != GGNN_EDGE_TIMES) &&
           (message != GGNN_EDGE_COPY || !scale || !scale->self);
}

// ---- faults --------------------------------------------------------------------

// Returns status. fault may be NULL; the hop of a batch's is set after.
GGNN_HD ggnn_status ggnni_fault(ggnn_fault* fault, ggnn_status status, const char* what, int64_t node,
                                int64_t edge)
{
    const ggnn_fault found = {what, node, edge, -1};
    if (fault) *fault = found;
    return status;
}

// ---- what will be read ---------------------------------------------------------

// Into the second-level cache: a core can wait for more lines there than in its first. (Measured on Zen 4:
// random rows of 128 bytes come 1.7 to 2.4 times as fast from memory as with locality 3; from caches, as
// fast.) Into the first, for [10i], where 256 bytes or more of a row are summed at once, and on Intel: a Xeon
// takes 1.1 to 1.2 times as long through the second, a Zen 4 as long.
#if defined(__GNUC__)
#define GGNNI_PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define GGNNI_PREFETCH(address) ((void)(address))
#endif
#define GGNNI_PREFETCH_FIRST(address) __builtin_prefetch(address)
#if defined(__x86_64__)
#define GGNNI_FIRST(bytes) ((bytes) >= 256 || __builtin_cpu_is("intel"))
#else
#define GGNNI_FIRST(bytes) ((bytes) >= 256)
#endif

// ---- how batches and packed batches lie in memory ------------------------------

enum { GGNNI_LINE = 64 }; // a cache line: what an array of ggnn.h's starts at

// Hands out the next count * size bytes of memory, in whole units, or only counts them where base is NULL.
GGNN_HD void* ggnni_carve_by(size_t unit, char* base, size_t* used, int64_t count, size_t size)
{
    void* at = base ? base + *used : 0;
    *used += ((size_t)count * size + unit - 1) / unit * unit;
    return at;
}

GGNN_HD int ggnni_is_global(const ggnn_sampling* how, int32_t h)
{
    return how->last_hop_global && h + 1 == how->num_hops;
}

// Hop h of a batch: its arrays, of the max of its sizes.
GGNN_HD size_t ggnni_carve_hop(ggnn_block* hop, const ggnn_sampling* how, int32_t h, size_t unit, char* base,
                               size_t used)
{
    const int     global = ggnni_is_global(how, h);
    const int64_t edges = hop->num_edges.max;
    // ids need an array of their own, or become indices in place
    const int ids = global || how->keep & GGNN_KEEP_NEIGHBORS || sizeof(ggnn_node) > sizeof(int32_t);
    hop->indptr = (int64_t*)ggnni_carve_by(unit, base, &used, hop->num_dst.max + 1, sizeof *hop->indptr);
    if (!global) hop->indices = (int32_t*)ggnni_carve_by(unit, base, &used, edges, sizeof *hop->indices);
    if (ids) hop->neighbor = (ggnn_node*)ggnni_carve_by(unit, base, &used, edges, sizeof *hop->neighbor);
    if (how->keep & GGNN_KEEP_POSITIONS)
        hop->position = (int64_t*)ggnni_carve_by(unit, base, &used, edges, sizeof *hop->position);
    if (how->keep & GGNN_KEEP_WEIGHTS)
        hop->weight = (float*)ggnni_carve_by(unit, base, &used, edges, sizeof *hop->weight);
    if (how->keep & GGNN_KEEP_REPEATS && !global)
        hop->repeats = (int32_t*)ggnni_carve_by(unit, base, &used, hop->num_src.max, sizeof *hop->repeats);
    return used;
}

#define GGNNI_PACKED (UINT64_C(0x6767706163006600) + sizeof(ggnn_node)) // what packed bytes begin with

typedef struct { // the first of the packed bytes; no padding
    uint64_t      magic, bytes;
    ggnn_sampling how;
    int64_t       num_nodes, num_edges, num_hops;
    int64_t       seeds, edges[GGNN_HOPS_MAX], length[GGNN_HOPS_MAX + 1]; // length[h]: ids before hop h
} ggnni_packed;

// Makes *b the batch whose bytes begin with *header and lie at base. Its arrays follow the header in the
// order in which they are handed out here. base NULL: they are only counted.
GGNN_HD size_t ggnni_lay_out_packed(ggnn_batch* b, const ggnni_packed* header, char* base)
{
    ggnni_packed* there = (ggnni_packed*)(void*)base; // what its sizes point into
    size_t        used = 0;
    memset(b, 0, sizeof *b);
    b->how = header->how, b->num_nodes = header->num_nodes, b->num_edges = header->num_edges;
    b->workspace = ggnni_carve_by(GGNNI_LINE, base, &used, 1, sizeof *header);
    b->max_ids = header->length[header->num_hops];
    b->num_hops = (int32_t)header->num_hops;
    b->num_seeds.n = base ? &there->seeds : 0, b->num_seeds.max = header->seeds;
    b->id = (ggnn_node*)ggnni_carve_by(GGNNI_LINE, base, &used, b->max_ids, sizeof *b->id);
    b->seed_local = (int32_t*)ggnni_carve_by(GGNNI_LINE, base, &used, header->seeds, sizeof *b->seed_local);
    // of a batch without hops too
    b->hop[0].num_dst.n = base ? there->length : 0, b->hop[0].num_dst.max = header->length[0];
    for (int32_t h = 0; h < b->num_hops; h++) {
        ggnn_block* hop = &b->hop[h];
        hop->id = b->id;
        hop->num_dst.n = base ? &there->length[h] : 0, hop->num_dst.max = header->length[h];
        hop->num_src.n = base ? &there->length[h + 1] : 0, hop->num_src.max = header->length[h + 1];
        hop->num_edges.n = base ? &there->edges[h] : 0, hop->num_edges.max = header->edges[h];
        used = ggnni_carve_hop(hop, &b->how, h, GGNNI_LINE, base, used);
    }
    return b->bytes = used;
}

// Fills the header of b's packed bytes, and lays them out at base.
GGNN_HD void ggnni_pack_header(ggnni_packed* header, ggnn_batch* to, const ggnn_batch* b, char* base)
{
    memset(header, 0, sizeof *header);
    header->magic = GGNNI_PACKED;
    header->how = b->how;
    header->how.keep &= ~GGNN_KEEP_TRANSPOSES;
    header->num_nodes = b->num_nodes, header->num_edges = b->num_edges, header->num_hops = b->num_hops;
    header->seeds = *b->num_seeds.n;
    header->length[0] = *b->hop[0].num_dst.n;
    for (int32_t h = 0; h < b->num_hops; h++) {
        header->edges[h] = *b->hop[h].num_edges.n;
        header->length[h + 1] = *b->hop[h].num_src.n;
    }
    header->bytes = ggnni_lay_out_packed(to, header, base);
}

// Whether a batch can lie as the header says, in so many bytes.
GGNN_HD int ggnni_is_packed(const ggnni_packed* header)
{
    ggnn_batch unused;
    if (header->magic != GGNNI_PACKED || header->num_hops < 0 || header->num_hops > GGNN_HOPS_MAX) return 0;
    if (header->seeds < 0 || header->seeds > INT32_MAX) return 0;
    if (header->length[0] < 0 || header->length[0] > INT32_MAX) return 0;
    for (int64_t h = 0; h < header->num_hops; h++)
        if (header->edges[h] < 0 || header->edges[h] > INT32_MAX ||
            header->length[h + 1] < header->length[h] || header->length[h + 1] > INT32_MAX)
            return 0;
    return ggnni_lay_out_packed(&unused, header, 0) == header->bytes;
}

// ---- planning a batch ----------------------------------------------------------

// The first thing wrong with how a batch is to be sampled; NULL: nothing.
GGNN_HD const char* ggnni_sampling_fault(const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds)
{
    if (g->num_nodes < 0 || g->num_edges < 0) return "the graph has a negative size";
    if (how->num_hops < 1 || how->num_hops > GGNN_HOPS_MAX) return "num_hops is outside [1, 8]";
    if (max_seeds < 0 || max_seeds > INT32_MAX) return "max_seeds is outside [0, 2^31)";
    if (!ggnni_method_known(how->method)) return "there is no such method";
    if (how->first_hop < 0 || how->first_hop > GGNN_HOP_NUMBERS - how->num_hops)
        return "a hop number is outside [0, 256)";
    if (how->keep & ~GGNN_KEEP_ALL) return "keep has an unknown flag";
    if (ggnni_walks(how) && !ggnn_walks_valid(ggnn_walks_or_default(how->walk)))
        return "walks, their length or restart are out of range";
    return 0;
}

// The max of hop h, whose targets are the sources of the hop before; what is wrong with it, or NULL.
GGNN_HD const char* ggnni_bound_hop(ggnn_batch* b, int32_t h)
{
    const ggnn_sampling* how = &b->how;
    ggnn_block*          hop = &b->hop[h];
    const int64_t        seeds = b->num_seeds.max < b->num_nodes ? b->num_seeds.max : b->num_nodes;
    const int64_t        dst = h ? b->hop[h - 1].num_src.max : seeds, fanout = how->fanout[h];
    int64_t              all = b->num_edges, edges, src;
    if (how->max_src[h] < 0 || how->max_edges[h] < 0) return "max_src or max_edges is negative";
    if (ggnni_walks(how)) all = dst * how->walk.walks * how->walk.length;
    edges = fanout < 0 ? all : dst * fanout;
    if (edges > all && (!ggnn_method_has(how->method, GGNN_METHOD_REPEATS) || fanout < 0)) edges = all;
    if (how->max_edges[h] && edges > how->max_edges[h]) edges = how->max_edges[h];
    if (edges > INT32_MAX) return "a hop may have 2^31 edges or more: max_edges allows less";
    src = dst + edges < b->num_nodes ? dst + edges : b->num_nodes;
    if (ggnni_is_global(how, h)) src = dst;
    if (how->max_src[h] && src > how->max_src[h]) src = how->max_src[h] > dst ? how->max_src[h] : dst;
    if (src > INT32_MAX) return "a hop may have 2^31 sources or more: max_src allows less";
    hop->num_dst.max = dst, hop->num_src.max = src, hop->num_edges.max = edges;
    b->max_ids = src;
    return 0;
}

GGNN_HD ggnn_status ggnn_batch_bound(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                     int64_t max_seeds)
{
    const char* what = ggnni_sampling_fault(g, how, max_seeds);
    int32_t     h = -1;
    if (!what) {
        b->how = *how;
        b->how.walk = ggnn_walks_or_default(how->walk);
        b->num_nodes = g->num_nodes, b->num_edges = g->num_edges;
        b->num_seeds.max = max_seeds;
        while (!what && h + 1 < how->num_hops) what = ggnni_bound_hop(b, ++h);
    }
    ggnni_fault(&b->fault, what ? GGNN_ERROR_ARGUMENT : GGNN_OK, what, -1, -1);
    if (what) b->fault.hop = h;
    return what ? GGNN_ERROR_ARGUMENT : GGNN_OK;
}

#endif // GGNN_H

#ifdef GGNN_IMPLEMENTATION
#ifndef GGNN_IMPLEMENTED
#define GGNN_IMPLEMENTED

#include <math.h>

#ifndef GGNN_ASSERT
#include <assert.h>
#define GGNN_ASSERT(condition) assert(condition)
#endif
#if !defined(GGNN_MALLOC) && !defined(GGNN_FREE)
#include <stdlib.h>
#define GGNN_MALLOC(bytes) malloc(bytes)
#define GGNN_FREE(memory) free(memory)
#elif !defined(GGNN_MALLOC) || !defined(GGNN_FREE)
#error "define both GGNN_MALLOC and GGNN_FREE, or neither"
#endif
#ifndef GGNN_SIMD_LEVEL
#define GGNN_SIMD_LEVEL() 3
#endif
#if !defined(GGNN_HEADER) && defined(__FILE_NAME__)
#define GGNN_HEADER __FILE_NAME__
#elif !defined(GGNN_HEADER)
#define GGNN_HEADER "ggnn.h"
#endif

#if defined(__FAST_MATH__) ||                                                                                \
    (defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ > 0 && __FLT_EVAL_METHOD__ < 16)
#error "ggnn.h's implementation needs IEEE arithmetic: no -ffast-math, no x87"
#endif
#if SIZE_MAX < UINT64_MAX
#error "ggnn.h needs 64-bit sizes"
#endif

// Sums in the order written, NaN and infinity known, a product rounded before it is added: whatever the
// compiler's flags. (float_control switches contraction on, so it comes first.)
#if defined(__clang__)
#pragma float_control(precise, on, push)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#ifdef __NVCC__ // it hands the next two on to GCC, and warns that it does not know them itself
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675
#endif
#pragma GCC optimize("no-unsafe-math-optimizations", "no-associative-math", "no-reciprocal-math")
#pragma GCC optimize("no-finite-math-only", "signed-zeros", "fp-contract=off")
#ifdef __NVCC__
#pragma nv_diagnostic pop
#endif
#endif

// ==== [1i] BASE ===========================================================================================

static int64_t ggnni_min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ggnni_max(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct { int64_t begin, end; } ggnni_range;

// Piece i of n things.
static ggnni_range ggnni_cut(int64_t n, int64_t i, int64_t pieces)
{
    ggnni_range range = {n / pieces * i + ggnni_min(n % pieces, i),
                         n / pieces * (i + 1) + ggnni_min(n % pieces, i + 1)};
    return range;
}

enum { GGNNI_PARTS = 64 }; // that ggnn_parallel_for has at most: of each thread one
#if defined(_OPENMP) && !defined(GGNN_SERIAL) && !defined(GGNN_PARALLEL_FOR)
#include <omp.h>
#define GGNNI_OPENMP
#define GGNN_THREADS (omp_in_parallel() ? 1 : omp_get_max_threads())
#endif
GGNN_API void ggnn_parallel_for(int64_t n, void (*body)(void* context, int64_t i), void* context)
{
#ifdef GGNN_PARALLEL_FOR
    GGNN_PARALLEL_FOR(n, body, context);
#else
#ifdef GGNNI_OPENMP
    if (n > 1 && !omp_in_parallel()) {
        struct { int64_t taken, line[15]; } part[GGNNI_PARTS]; // two lines each, as processors fetch them
        for (int64_t p = 0; p < ggnni_min(omp_get_max_threads(), GGNNI_PARTS); p++) part[p].taken = 0;
#pragma omp parallel
        {
            const int64_t threads = omp_get_num_threads(), parts = ggnni_min(threads, GGNNI_PARTS);
            const int64_t own = omp_get_thread_num() * parts / threads;
            for (int64_t p = own, i; p < own + parts; p++) {
                const ggnni_range all = ggnni_cut(n, p % parts, parts);
                for (;; body(context, all.begin + i)) {
#pragma omp atomic read
                    i = part[p % parts].taken; // a part that is done stays in all caches
                    if (i >= all.end - all.begin) break;
#pragma omp atomic capture
                    i = part[p % parts].taken++;
                    if (i >= all.end - all.begin) break;
                }
            }
        }
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++) body(context, i);
#endif
}
#ifndef GGNN_PARALLEL_FOR
#define GGNN_PARALLEL_FOR(n, body, context) ggnn_parallel_for(n, body, context)
#endif
#ifndef GGNN_THREADS
#define GGNN_THREADS 1
#endif

// What the calling thread set in its floating-point unit counts in all pieces: rounding, subnormals flushed
// to zero. A pool's threads keep what they began with otherwise, and bits would depend on who computes them.
#if defined(__GNUC__) && defined(__x86_64__)
// without the flags of what has happened
static uint64_t ggnni_float_mode(void) { return __builtin_ia32_stmxcsr() & ~63u; }
static void     ggnni_set_float_mode(uint64_t mode) { __builtin_ia32_ldmxcsr((uint32_t)mode); }
#elif defined(__GNUC__) && defined(__aarch64__)
static uint64_t ggnni_float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static void ggnni_set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#else
static uint64_t ggnni_float_mode(void) { return 0; }
static void     ggnni_set_float_mode(uint64_t mode) { (void)mode; }
#endif

// A caller's mistake is an answer, in O(1), before anything is read or written; with NDEBUG too.
#define GGNNI_REQUIRE(condition)                                                                             \
    do {                                                                                                     \
        if (!(condition)) return GGNN_ERROR_ARGUMENT;                                                        \
    } while (0)

static int ggnni_keys(const ggnn_rng* rng, int32_t hop, int64_t n)
{
    return n >= 0 && hop >= 0 && hop < GGNN_HOP_NUMBERS && (n == 0 || rng);
}
static int ggnni_lists_given(const ggnn_lists* lists)
{
    return lists && lists->num_nodes >= 0 && lists->num_nodes <= GGNN_NODE_MAX && lists->num_edges >= 0 &&
           lists->indptr && (lists->indices || lists->num_edges == 0);
}
static int ggnni_block_given(const ggnn_block* b, int local) // local: with indices
{
    return b && b->num_dst.n && b->num_src.n && b->num_edges.n && (b->indptr || *b->num_dst.n == 0) &&
           (!local || b->indices || *b->num_edges.n == 0);
}
static int ggnni_per_edge(const ggnn_block* b, const float* v) { return v || *b->num_edges.n == 0; }
static int ggnni_transposed(const ggnn_block* t, const ggnn_block* b) // by its sizes
{
    return *t->num_dst.n == *b->num_src.n && *t->num_src.n == *b->num_dst.n &&
           *t->num_edges.n == *b->num_edges.n;
}

// How many pieces to cut `work` into: of at least `grain` each, so that starting a thread pays.
static int64_t ggnni_pieces(int64_t work, int64_t grain)
{
    return ggnni_max(1, ggnni_min(ggnni_max(64, 8 * GGNN_THREADS), work / grain));
}

// The edges of all lists: a block without targets may have no indptr.
static int64_t ggnni_edges_of(const ggnn_block* b) { return *b->num_dst.n ? b->indptr[*b->num_dst.n] : 0; }

// A block's lists are cut where rows + edges are even, so that no piece has too many hubs or empty lists.
static int64_t ggnni_work(const ggnn_block* b) { return *b->num_dst.n + ggnni_edges_of(b); }

// The first v with indptr[v] + v >= work, or, `lists` 0, indptr[v] >= work; num_dst: none is.
static int64_t ggnni_list_at(const ggnn_block* b, int64_t work, int lists)
{
    int64_t low = 0, high = *b->num_dst.n;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (b->indptr[middle] + lists * middle < work) low = middle + 1;
        else high = middle;
    }
    return low;
}
static int64_t ggnni_list_pieces(const ggnn_block* b, int32_t width)
{
    return ggnni_pieces(ggnni_work(b) * ((int64_t)width + 4), 1 << 14);
}

// The first list of `hub` edges or more from v on; num_dst: there is none. Such hold a multiple of `hub`.
static int64_t ggnni_next_hub(const ggnn_block* b, int64_t v, int64_t hub)
{
    for (; hub < INT64_MAX && v < *b->num_dst.n; v++) {
        v = ggnni_list_at(b, (b->indptr[v] + v) / hub * hub + hub + 1, 1) - 1;
        if (b->indptr[v + 1] - b->indptr[v] >= hub) return v;
    }
    return *b->num_dst.n;
}

// What is done to things [begin, end). No two write the same element, so results do not depend on the pieces.
typedef void ggnni_body(void* context, int64_t begin, int64_t end);

typedef struct {
    ggnni_body*       body;
    void*             context;
    int64_t           n, pieces;
    const ggnn_block* lists; // n is their work; NULL: things
    uint64_t          mode;
} ggnni_job;

static ggnni_range ggnni_job_piece(const ggnni_job* job, int64_t i)
{
    ggnni_range all = ggnni_cut(job->n, i, job->pieces);
    if (!job->lists) return all;
    all.begin = ggnni_list_at(job->lists, all.begin, 1), all.end = ggnni_list_at(job->lists, all.end, 1);
    return all;
}

static void ggnni_run_piece(void* context, int64_t i)
{
    const ggnni_job* job = (const ggnni_job*)context;
    const uint64_t   own = ggnni_float_mode();
    ggnni_range      all = ggnni_job_piece(job, i);
    if (own != job->mode) ggnni_set_float_mode(job->mode);
    job->body(job->context, all.begin, all.end);
    if (own != job->mode) ggnni_set_float_mode(own);
}

static void ggnni_run(int64_t n, int64_t pieces, ggnni_body* body, void* context)
{
    ggnni_job job = {body, context, n, pieces, NULL, ggnni_float_mode()};
    GGNN_PARALLEL_FOR(pieces, ggnni_run_piece, &job);
}

// Over the lists of b, whose edges have `width` columns.
static void ggnni_run_lists(const ggnn_block* b, int32_t width, ggnni_body* body, void* context)
{
    ggnni_job job = {body, context, ggnni_work(b), ggnni_list_pieces(b, width), b, ggnni_float_mode()};
    GGNN_PARALLEL_FOR(job.pieces, ggnni_run_piece, &job);
}

// Over its edges, where no sum is over a list.
static void ggnni_run_edges(const ggnn_block* b, int32_t width, ggnni_body* body, void* context)
{
    const int64_t edges = ggnni_edges_of(b);
    ggnni_run(edges, ggnni_pieces(edges * ((int64_t)width + 4), 1 << 14), body, context);
}

#if defined(__GNUC__)
#define GGNNI_INLINE static inline __attribute__((always_inline))
#define GGNNI_PREFETCHES GGNNI_INLINE // GCC drops calls that only prefetch
// A hot loop begins alike in every program: placed by chance, append-unique is up to 15 % slower, MAX and
// gather 8 %. Apart, its registers are not its caller's either.
#define GGNNI_HOT   static __attribute__((aligned(64)))
#define GGNNI_APART static __attribute__((noinline, aligned(64)))
#else
#define GGNNI_INLINE     static inline
#define GGNNI_PREFETCHES static
#define GGNNI_HOT        static
#define GGNNI_APART      static
#endif

// May rows like this one begin or end within a line?
static int ggnni_off_lines(const char* row, int64_t bytes)
{
    return ((uintptr_t)row | (uintptr_t)bytes) % 64 != 0;
}

GGNN_API const char* ggnn_status_string(ggnn_status status)
{
    switch (status) {
#define GGNN_X(name, text) case name: return text;
        GGNN_STATUS_LIST(GGNN_X)
#undef GGNN_X
    }
    return "unknown status";
}

GGNN_API float ggnn_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu,
             bits;
    float    value;
    if (exponent == 31) {
        bits = sign | 0x7f800000u | fraction << 13;
    } else if (exponent) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else { // zero or subnormal: fraction * 2^-24, exact in binary32
        value = (float)fraction * (1.0f / 16777216.0f);
        return sign ? -value : value;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

GGNN_API uint16_t ggnn_float_to_half(float value)
{
    uint32_t bits, rounded;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    // NaN, made quiet
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u); // 65536 and more
    // below 2^-14: the float unit rounds it, as a multiple of 2^-24, when .5 is added
    if (magnitude < 0x38800000u) {
        float shifted;
        memcpy(&shifted, &magnitude, sizeof shifted);
        shifted += 0.5f;
        memcpy(&rounded, &shifted, sizeof rounded);
        return (uint16_t)(sign | (rounded - 0x3f000000u));
    }
    rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u); // rebias; nearest, ties to even
    return (uint16_t)(sign | rounded >> 13);
}

// ==== [2i] RANDOM =========================================================================================

// The logarithm of m = draw + 1 from a series in double: y in [1, 2) is m without its exponent, log2(y) =
// 1/2 + 2 / ln 2 * atanh(t) where t = (y - sqrt 2) / (y + sqrt 2), |t| < .172. In units of 2^-52 the terms
// from t^19 on make 2, the conversion to double 2, all other roundings less than 4. Where the sum is within
// 16 such units of a multiple of 2^-40 (one draw of 128) the definition is asked; for draws below 2^53, too.
GGNN_API uint64_t ggnn_neg_log2_fast(uint64_t draw)
{
    const double root = 1.4142135623730951, scale = 2.8853900817779268; // sqrt 2, 2 / ln 2
    const int64_t one = (int64_t)1 << 52;
    if (draw >> 53 == 0 || draw == UINT64_MAX) return ggnn_neg_log2(draw);
    double  y = (double)(int64_t)((draw + 1) >> 1);
    int64_t bits;
    memcpy(&bits, &y, sizeof bits);
    const int64_t exponent = (bits >> 52) - 1022;
    bits = (bits & (one - 1)) | (int64_t)1023 << 52;
    memcpy(&y, &bits, sizeof bits);
    const double t = (y - root) / (y + root), s = t * t, s4 = s * s * (s * s);
    double sum = (1.0 / 9 + 1.0 / 11 * s) + s * s * (1.0 / 13 + 1.0 / 15 * s) + s4 * (1.0 / 17);
    sum = (1.0 + 1.0 / 3 * s) + s * s * (1.0 / 5 + 1.0 / 7 * s) + s4 * sum;
    const int64_t fraction = (int64_t)((0.5 + scale * (t * sum)) * (double)one);
    if (((fraction + 16) & 4095) < 32) return ggnn_neg_log2(draw);
    return ((uint64_t)64 << 40) - (((uint64_t)exponent << 40) + (uint64_t)(fraction >> 12));
}

// ==== [3i] GRAPH ==========================================================================================

// ---- a stable counting sort of edges by key ---------------------------------
// Each piece owns a range of keys and reads all edges: parallel, stable and with no workspace, at the price
// of reading the keys once a piece: 16 at most, two a thread. Rows of edges come as CSC lists; a COO is one.

typedef struct {
    const void*      key;  // by edge: ggnn_node, or int32_t where wide is 0
    int              wide; // bytes of a key are 8
    const ggnn_node* value; // by edge; NULL: the row
    const int64_t*   row;   // (num_rows + 1)
    int64_t          num_rows, num_keys;
    int              filling; // second pass
    const float*     weight_in;
    const int64_t*   position_in; // NULL: the edge's index
    int64_t*         indptr;      // (num_keys + 1) out, as all below; NULL: not wanted
    ggnn_node*       node;
    int32_t *        local, *edge;
    float*           weight;
    int64_t*         position;
} ggnni_sort;

static int64_t ggnni_key(const ggnni_sort* s, int64_t e)
{
    return s->wide ? ((const int64_t*)s->key)[e] : ((const int32_t*)s->key)[e];
}

typedef struct { int64_t n, edge[256], row[256], key[256]; } ggnni_found_edges; // of a piece, in input order

// Appends those of edges [e, end) of a row whose key is in [first, last), without a branch to mispredict.
static int64_t ggnni_sort_find(ggnni_found_edges* found, const ggnni_sort* s, int64_t row, int64_t e,
                               int64_t end, int64_t first, int64_t last)
{
    int64_t n = found->n;
    end = ggnni_min(end, e + 256 - n);
    for (; e < end; e++) {
        int64_t k = ggnni_key(s, e);
        found->edge[n] = e, found->row[n] = row, found->key[n] = k;
        n += (k >= first) & (k < last);
    }
    found->n = n;
    return e;
}

static void ggnni_sort_place(const ggnni_sort* s, int64_t from, int64_t row, int64_t to)
{
    ggnn_node value = s->value ? s->value[from] : (ggnn_node)row;
    if (s->node) s->node[to] = value;
    if (s->local) s->local[to] = (int32_t)value;
    if (s->edge) s->edge[to] = (int32_t)from;
    if (s->weight) s->weight[to] = s->weight_in ? s->weight_in[from] : 1.0f;
    if (s->position) s->position[to] = s->position_in ? s->position_in[from] : from;
}

// Counts the edges found (indptr[k + 1] = edges of key k), or puts them in place (indptr[k] = cursor of k).
static void ggnni_sort_flush(ggnni_found_edges* found, const ggnni_sort* s)
{
    for (int64_t i = 0; i < found->n; i++) {
        if (s->filling) ggnni_sort_place(s, found->edge[i], found->row[i], s->indptr[found->key[i]]++);
        else s->indptr[found->key[i] + 1]++;
    }
    found->n = 0;
}

static void ggnni_sort_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_sort* s = (const ggnni_sort*)context;
    ggnni_found_edges found;
    found.n = 0;
    if (!s->filling) memset(s->indptr + 1 + begin, 0, (size_t)(end - begin) * sizeof *s->indptr);
    for (int64_t row = 0; row < s->num_rows; row++)
        for (int64_t e = s->row[row]; e < s->row[row + 1];) {
            e = ggnni_sort_find(&found, s, row, e, s->row[row + 1], begin, end);
            if (found.n == 256) ggnni_sort_flush(&found, s);
        }
    ggnni_sort_flush(&found, s);
}

static void ggnni_prefix_sum(int64_t* indptr, int64_t n) // counts at [1, n] become ends
{
    indptr[0] = 0;
    for (int64_t i = 0; i < n; i++) indptr[i + 1] += indptr[i];
}

static void ggnni_sort_run(ggnni_sort* s)
{
    int64_t pieces = ggnni_min(2 * ggnni_min(8, GGNN_THREADS), ggnni_pieces(s->row[s->num_rows], 1 << 14));
    s->filling = 0;
    ggnni_run(s->num_keys, pieces, ggnni_sort_piece, s);
    ggnni_prefix_sum(s->indptr, s->num_keys);
    s->filling = 1;
    ggnni_run(s->num_keys, pieces, ggnni_sort_piece, s);
    // each cursor stands at its list's end
    memmove(s->indptr + 1, s->indptr, (size_t)s->num_keys * sizeof *s->indptr);
    s->indptr[0] = 0;
}

// ---- checking ---------------------------------------------------------------

typedef struct { ggnn_status status; ggnn_fault fault; } ggnni_found; // one piece's first fault

typedef struct {
    const ggnn_graph* g;
    const ggnn_node*  id; // for ggnni_check_ids
    int64_t           n, num_nodes, pieces;
    ggnni_found       found[64];
} ggnni_check;

static ggnn_status ggnni_check_run(ggnni_check* check, int64_t work, ggnni_body* body, ggnn_fault* fault)
{
    check->pieces = ggnni_min(64, ggnni_pieces(work, 1 << 14));
    GGNN_ASSERT(check->pieces <= (int64_t)(sizeof check->found / sizeof check->found[0]));
    ggnni_run(check->pieces, check->pieces, body, check); // of one piece each
    for (int64_t i = 0; i < check->pieces; i++) { // pieces are in node order, so the first found is the least
        const ggnni_found* found = &check->found[i];
        if (found->status != GGNN_OK)
            return ggnni_fault(fault, found->status, found->fault.what, found->fault.node, found->fault.edge);
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

static void ggnni_check_ids_piece(void* context, int64_t piece, int64_t end)
{
    ggnni_check* check = (ggnni_check*)context;
    ggnni_found* found = &check->found[piece];
    ggnni_range  ids = ggnni_cut(check->n, end - 1, check->pieces); // the only one
    found->status = GGNN_OK;
    for (int64_t e = ids.begin; e < ids.end && found->status == GGNN_OK; e++)
        if (check->id[e] < 0 || check->id[e] >= check->num_nodes)
            found->status =
                ggnni_fault(&found->fault, GGNN_ERROR_ID, "an id is outside [0, num_nodes)", -1, e);
}

static ggnn_status ggnni_check_ids(const ggnn_node* id, int64_t n, int64_t num_nodes, ggnn_fault* fault)
{
    ggnni_check check;
    check.id = id, check.n = n, check.num_nodes = num_nodes;
    return ggnni_check_run(&check, n, ggnni_check_ids_piece, fault);
}

// Does every number in [0, n) stand once among number[0 .. count), whatever else stands there? No memory:
// what stands there must add up, mixed, to what should. One wrong one is found; several escape once in 2^64.
static int ggnni_each_once(const ggnn_node* number, int64_t count, int64_t n)
{
    uint64_t sum = 0;
    int64_t  found = 0;
    for (int64_t i = 0; i < count; i++)
        if ((uint64_t)number[i] < (uint64_t)n) {
            sum += ggnn_mix((uint64_t)number[i]);
            found++;
        }
    for (int64_t i = 0; i < n; i++) sum -= ggnn_mix((uint64_t)i);
    return found == n && sum == 0;
}

static ggnn_status ggnni_check_built(const ggnn_lists* lists, ggnn_fault* fault)
{
    const int64_t* indptr = lists->indptr;
    if (indptr[0] != 0) return ggnni_fault(fault, GGNN_ERROR_ID, "indptr does not begin with 0", 0, -1);
    for (int64_t v = 0; v < lists->num_nodes; v++)
        if (indptr[v] > indptr[v + 1]) return ggnni_fault(fault, GGNN_ERROR_ID, "indptr decreases", v, -1);
    if (indptr[lists->num_nodes] != lists->num_edges)
        return ggnni_fault(fault, GGNN_ERROR_ID, "indptr does not end with num_edges", -1, -1);
    return ggnni_check_ids(lists->indices, lists->num_edges, lists->num_nodes, fault);
}

static ggnn_status ggnni_check_layout(const ggnn_layout* at, int64_t num_rows, ggnn_fault* fault)
{
    if (!ggnni_parts_given(at->parts) || at->cached < 0 || at->cached > num_rows || at->stored < 0 ||
        at->stored > num_rows)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "layout: parts, cached or stored out of range", -1,
                           -1);
    for (int32_t p = 0; at->bound && p < at->parts; p++)
        if (at->bound[0] != 0 || at->bound[p] > at->bound[p + 1] || at->bound[at->parts] != at->stored)
            return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "layout: bound does not rise from 0 to stored", -1,
                               -1);
    for (int64_t v = 0; at->rank && v < num_rows; v++)
        if (at->rank[v] < 0 || at->rank[v] >= num_rows)
            return ggnni_fault(fault, GGNN_ERROR_ID, "layout: a rank is outside [0, num_nodes)", v, -1);
    if (at->rank && !ggnni_each_once(at->rank, num_rows, num_rows))
        return ggnni_fault(fault, GGNN_ERROR_ID, "layout: rank is not a permutation", -1, -1);
    if (at->cache_row && !ggnni_each_once(at->cache_row, num_rows, at->cached))
        return ggnni_fault(fault, GGNN_ERROR_ID, "layout: a cached row has no node, or two", -1, -1);
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

static ggnn_status ggnni_check_list(const ggnn_list* list, int64_t num_nodes, int64_t v, ggnn_fault* fault)
{
    for (int64_t i = 0, e = list->position; i < list->degree; i++, e++) {
        if (list->id[i] < 0 || list->id[i] >= num_nodes)
            return ggnni_fault(fault, GGNN_ERROR_ID, "a neighbour's id is outside [0, num_nodes)", v, e);
        if (list->weight && !ggnn_weight_valid(list->weight[i]))
            return ggnni_fault(fault, GGNN_ERROR_WEIGHT, "a weight is negative or not finite", v, e);
    }
    return GGNN_OK;
}

static void ggnni_check_lists_piece(void* context, int64_t piece, int64_t end)
{
    ggnni_check* check = (ggnni_check*)context;
    ggnni_found* found = &check->found[piece];
    ggnn_graph   g = *check->g;
    ggnni_range  nodes = ggnni_cut(check->n, end - 1, check->pieces); // the only one
    g.traffic = NULL; // checking is not traffic
    found->status = GGNN_OK;
    for (int64_t v = nodes.begin; v < nodes.end && found->status == GGNN_OK; v++) {
        ggnn_list list = ggnn_neighbors(&g, (ggnn_node)v);
        found->status = ggnni_check_list(&list, g.num_nodes, v, &found->fault);
    }
}

// The first fault of indptr and of positions; *edges: the degrees before it, added up. Where nobody gave
// positions, they are known of lists that lie in id order.
static ggnn_fault ggnni_check_indptr(const ggnn_graph* g, int64_t* edges)
{
    ggnn_graph quiet = *g;
    ggnn_fault broken = {NULL, -1, -1, -1};
    int        in_order = g->at.parts == 1 && !g->at.rank; // part 0's lists
    quiet.traffic = NULL;
    *edges = 0;
    for (int64_t v = 0; v < g->num_nodes && !broken.what; v++) {
        ggnn_place place = ggnn_locate(&g->at, (ggnn_node)v);
        ggnn_list  list = ggnn_neighbors(&quiet, (ggnn_node)v);
        int        known = !g->part || g->part[place.slot].first || place.slot == g->at.parts ||
                    (place.slot == 0 && in_order);
        if (list.degree < 0)
            ggnni_fault(&broken, GGNN_ERROR_ID, "indptr decreases or leaves its part", v, -1);
        else if (known && list.position != *edges)
            ggnni_fault(&broken, GGNN_ERROR_ID, "the list does not begin where the last ended", v, -1);
        else *edges += list.degree;
    }
    if (!broken.what && *edges != g->num_edges)
        ggnni_fault(&broken, GGNN_ERROR_ID, "degrees do not add up to num_edges", -1, *edges);
    return broken;
}

GGNN_API ggnn_status ggnn_graph_validate(const ggnn_graph* g, ggnn_fault* fault)
{
    if (!g) return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no graph", -1, -1);
    if (g->num_nodes < 0 || g->num_edges < 0 || g->num_nodes > GGNN_NODE_MAX)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the number of nodes or edges is out of range", -1,
                           -1);
    ggnn_status status = ggnni_check_layout(&g->at, g->num_nodes, fault);
    if (status != GGNN_OK) return status;
    if (!ggnni_graph_given(g))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array of the graph is NULL", -1, -1);
    int64_t          edges; // indptr first: the lists before its first fault are safe to read
    const ggnn_fault broken = ggnni_check_indptr(g, &edges);
    ggnn_fault       in_list;
    ggnni_check      check;
    check.g = g, check.n = broken.node >= 0 ? broken.node : g->num_nodes;
    status = ggnni_check_run(&check, check.n + edges, ggnni_check_lists_piece, &in_list);
    if (in_list.what) return ggnni_fault(fault, status, in_list.what, in_list.node, in_list.edge);
    return ggnni_fault(fault, broken.what ? GGNN_ERROR_ID : GGNN_OK, broken.what, broken.node, broken.edge);
}

// ---- owners -----------------------------------------------------------------

// Ranks by a counting sort: bound[p + 1] counts part p's rows, then is where its next row goes, last its end.
static ggnn_status ggnni_rank_by_owner(ggnn_layout* at, ggnn_node* rank, int64_t* bound, ggnn_owner how,
                                       const int32_t* owner, int64_t num_rows, ggnn_fault* fault)
{
    for (int64_t v = 0; v < num_rows; v++) {
        int32_t p = ggnn_owner_of(v, how, owner, num_rows, at->parts);
        if (p < 0 || p > at->parts)
            return ggnni_fault(fault, GGNN_ERROR_ID, "an owner is outside [0, parts]", v, -1);
        if (p < at->parts) bound[p + 1]++;
    }
    ggnni_prefix_sum(bound, at->parts);
    int64_t host = at->stored = bound[at->parts]; // rank of the next row that no part has
    for (int32_t p = at->parts; p > 0; p--) bound[p] = bound[p - 1];
    for (int64_t v = 0; v < num_rows; v++) {
        int32_t p = ggnn_owner_of(v, how, owner, num_rows, at->parts);
        rank[v] = (ggnn_node)(p < at->parts ? bound[p + 1]++ : host++);
    }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_layout_owners(ggnn_layout* at, ggnn_node* rank, int64_t* bound, ggnn_owner how,
                                        const int32_t* owner, int64_t num_rows, int32_t parts,
                                        ggnn_fault* fault)
{
    ggnn_status status = GGNN_OK;
    const int ranked = how == GGNN_OWNER_HASH || how == GGNN_OWNER_MAP;
    if (!ggnni_parts_given(parts) || num_rows < 0 || (ranked && num_rows > GGNN_NODE_MAX) ||
        (uint32_t)how > GGNN_OWNER_MAP)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "how, parts or the number of rows is out of range", -1,
                           -1);
    if (!at || (how != GGNN_OWNER_MODULO && !bound) || (ranked && num_rows && !rank) ||
        (how == GGNN_OWNER_MAP && num_rows && !owner))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array is NULL", -1, -1);
    memset(at, 0, sizeof *at);
    at->stored = num_rows, at->parts = parts;
    if (how != GGNN_OWNER_MODULO) at->bound = bound;
    if (ranked) at->rank = rank;
    for (int32_t p = 0; at->bound && p <= parts; p++)
        bound[p] = ranked ? 0 : ggnni_cut(num_rows, p, parts).begin;
    if (ranked) status = ggnni_rank_by_owner(at, rank, bound, how, owner, num_rows, fault);
    return status == GGNN_OK ? ggnni_fault(fault, GGNN_OK, NULL, -1, -1) : status;
}

GGNN_API int64_t ggnn_layout_nodes(ggnn_node* id, const ggnn_layout* at, int64_t num_rows, int32_t part)
{
    if (!at || !ggnni_parts_given(at->parts) || num_rows < 0 || part < 0 || part > at->parts + 1 ||
        part == at->parts)
        return -2; // (the host tier, parts, is the whole array)
    ggnn_layout shared = *at;
    int64_t     n = 0;
    if (part < at->parts) shared.cached = 0; // what is cached lies in a part too
    for (int64_t v = 0; v < num_rows; v++) {
        ggnn_place place = ggnn_locate(&shared, v);
        if (place.slot != part) continue;
        if (id) id[place.row] = (ggnn_node)v;
        n++;
    }
    return n;
}

GGNN_API ggnn_status ggnn_graph_lists(int64_t* indptr, int64_t* first, ggnn_node* indices, float* weight,
                                      const ggnn_graph* from, const ggnn_node* id, int64_t n,
                                      ggnn_fault* fault)
{
    if (!indptr || n < 0 || (n && (!id || !(indices ? ggnni_graph_given(from) : ggnni_degrees_given(from)))))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array is NULL or a size negative", -1, -1);
    indptr[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        ggnn_list list = ggnn_neighbors(from, id[i]);
        int64_t   begin = indptr[i];
        if (list.degree < 0)
            return ggnni_fault(fault, GGNN_ERROR_ID, "indptr decreases or leaves its part", id[i], -1);
        indptr[i + 1] = begin + list.degree;
        if (!indices) continue;
        if (first) first[i] = list.position;
        for (int64_t j = 0; j < list.degree; j++) {
            indices[begin + j] = list.id[j];
            if (weight) weight[begin + j] = list.weight ? list.weight[j] : 1;
        }
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// ---- building ---------------------------------------------------------------

GGNN_API ggnn_status ggnn_graph_from_coo(ggnn_lists* out, const ggnn_node* src, const ggnn_node* dst,
                                         const float* weight, ggnn_fault* fault)
{
    if (!ggnni_lists_given(out) || (out->num_edges && (!src || !dst)))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array is NULL or a size out of range", -1, -1);
    const int64_t row[2] = {0, out->num_edges};
    ggnni_sort    sort;
    ggnn_status   status = ggnni_check_ids(src, out->num_edges, out->num_nodes, fault);
    if (status == GGNN_OK) status = ggnni_check_ids(dst, out->num_edges, out->num_nodes, fault);
    if (status != GGNN_OK) return status;
    memset(&sort, 0, sizeof sort);
    sort.key = dst, sort.wide = sizeof *dst == 8, sort.value = src, sort.weight_in = weight;
    sort.row = row, sort.num_rows = 1, sort.num_keys = out->num_nodes;
    sort.indptr = out->indptr, sort.node = out->indices;
    sort.weight = out->weight, sort.position = out->position;
    ggnni_sort_run(&sort);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_graph_transpose(ggnn_lists* out, const ggnn_lists* in, ggnn_fault* fault)
{
    if (!ggnni_lists_given(in) || !out || !out->indptr || (in->num_edges && !out->indices))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array is NULL or a size out of range", -1, -1);
    ggnni_sort  sort;
    ggnn_status status = ggnni_check_built(in, fault);
    if (status != GGNN_OK) return status;
    out->num_nodes = in->num_nodes, out->num_edges = in->num_edges;
    memset(&sort, 0, sizeof sort);
    sort.key = in->indices, sort.wide = sizeof *in->indices == 8;
    sort.weight_in = in->weight, sort.position_in = in->position;
    sort.row = in->indptr, sort.num_rows = sort.num_keys = in->num_nodes;
    sort.indptr = out->indptr, sort.node = out->indices;
    sort.weight = out->weight, sort.position = out->position;
    ggnni_sort_run(&sort);
    return GGNN_OK;
}

// A key and where it came from: no two pairs are equal, so that any sort of pairs is stable.
typedef struct { int64_t key, from; } ggnni_pair;

static int ggnni_less(ggnni_pair a, ggnni_pair b)
{
    return a.key < b.key || (a.key == b.key && a.from < b.from);
}

// Lets the pair at the root sink to its place in the max-heap at[0..n).
static void ggnni_sink(ggnni_pair* at, int64_t root, int64_t n)
{
    ggnni_pair pair = at[root];
    for (int64_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && ggnni_less(at[child], at[child + 1])) child++;
        if (!ggnni_less(pair, at[child])) break;
        at[root] = at[child];
    }
    at[root] = pair;
}

// Ascending. Insertion while short, as most lists are; else heapsort: no recursion, no bad case.
static void ggnni_sort_pairs(ggnni_pair* at, int64_t n)
{
    if (n <= 24) {
        for (int64_t i = 1; i < n; i++) {
            ggnni_pair pair = at[i];
            int64_t    j = i;
            for (; j > 0 && ggnni_less(pair, at[j - 1]); j--) at[j] = at[j - 1];
            at[j] = pair;
        }
        return;
    }
    for (int64_t root = n / 2; root-- > 0;) ggnni_sink(at, root, n);
    for (int64_t end = n; --end > 0;) {
        ggnni_pair greatest = at[0];
        at[0] = at[end];
        at[end] = greatest;
        ggnni_sink(at, 0, end);
    }
}

typedef struct {
    ggnn_lists*       out;
    const ggnn_lists *in, *reverse;
    const ggnn_node*  rank;
    ggnni_pair*       pairs; // (num_edges)
    int               how;
} ggnni_lists_job;

static void ggnni_sort_list(ggnn_lists* lists, int64_t begin, int64_t n, ggnni_pair* pair)
{
    ggnn_node* id = lists->indices + begin;
    int64_t    sorted = 1;
    while (sorted < n && id[sorted - 1] <= id[sorted]) sorted++;
    if (sorted >= n) return;
    for (int64_t i = 0; i < n; i++) pair[i].key = id[i], pair[i].from = begin + i;
    ggnni_sort_pairs(pair, n);
    for (int64_t i = 0; i < n; i++) id[i] = (ggnn_node)pair[i].key;
    if (lists->weight) { // the keys are written: their place takes the weights on their way
        for (int64_t i = 0; i < n; i++) memcpy(&pair[i].key, &lists->weight[pair[i].from], sizeof(float));
        for (int64_t i = 0; i < n; i++) memcpy(&lists->weight[begin + i], &pair[i].key, sizeof(float));
    }
    if (lists->position) {
        for (int64_t i = 0; i < n; i++) pair[i].from = lists->position[pair[i].from];
        for (int64_t i = 0; i < n; i++) lists->position[begin + i] = pair[i].from;
    }
}

static void ggnni_sort_lists_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_lists_job* job = (const ggnni_lists_job*)context;
    ggnn_lists*            lists = job->out;
    for (int64_t v = begin; v < end; v++)
        ggnni_sort_list(lists, lists->indptr[v], lists->indptr[v + 1] - lists->indptr[v],
                        job->pairs + lists->indptr[v]);
}

GGNN_API size_t ggnn_graph_sort_workspace_bytes(const ggnn_lists* lists)
{
    if (!ggnni_lists_given(lists)) return 0;
    return (size_t)lists->num_edges * sizeof(ggnni_pair);
}

GGNN_API ggnn_status ggnn_graph_sort(ggnn_lists* lists, void* workspace)
{
    GGNNI_REQUIRE(ggnni_lists_given(lists) && (workspace || lists->num_edges == 0));
    ggnni_lists_job job = {lists, NULL, NULL, NULL, (ggnni_pair*)workspace, 0};
    ggnni_run(lists->num_nodes, ggnni_pieces(lists->num_edges, 1 << 12), ggnni_sort_lists_piece, &job);
    return GGNN_OK;
}

static void ggnni_put(ggnn_lists* out, int64_t at, ggnn_node id, float weight, int64_t position)
{
    if (!out->indices) return; // only counting
    out->indices[at] = id;
    if (out->weight) out->weight[at] = weight;
    if (out->position) out->position[at] = position;
}

static void ggnni_put_edge(ggnn_lists* out, int64_t at, const ggnn_lists* from, int64_t e)
{
    ggnni_put(out, at, from->indices[e], from->weight ? from->weight[e] : 1.0f,
              from->position ? from->position[e] : e);
}

// Row v merged and filtered into out from `at` on; returns how many.
static int64_t ggnni_simplify_row(ggnn_lists* out, int64_t at, const ggnn_lists* in,
                                  const ggnn_lists* reverse, int64_t v, int how)
{
    int64_t i = in->indptr[v], i_end = in->indptr[v + 1], begin = at;
    int64_t j = reverse ? reverse->indptr[v] : 0, j_end = reverse ? reverse->indptr[v + 1] : 0, last = -1;
    int     wants_loop = how & GGNN_ADD_SELF_LOOPS;
    while (i < i_end || j < j_end) {
        int               first = i < i_end && (j >= j_end || in->indices[i] <= reverse->indices[j]);
        const ggnn_lists* from = first ? in : reverse;
        int64_t           e = first ? i++ : j++, id = from->indices[e];
        if (id == v && (!first || how & GGNN_DROP_SELF_LOOPS)) continue;
        if (id == last && how & GGNN_DROP_DUPLICATES) continue;
        if (wants_loop && id >= v) {
            if (id > v) ggnni_put(out, at++, (ggnn_node)v, 1.0f, -1);
            wants_loop = 0;
        }
        ggnni_put_edge(out, at++, from, e);
        last = id;
    }
    if (wants_loop) ggnni_put(out, at++, (ggnn_node)v, 1.0f, -1);
    return at - begin;
}

// Where out has indices they are written, by its indptr; else indptr[v + 1] counts row v.
static void ggnni_simplify_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_lists_job* job = (const ggnni_lists_job*)context;
    for (int64_t v = begin; v < end; v++) {
        const int64_t at = job->out->indices ? job->out->indptr[v] : 0;
        const int64_t n = ggnni_simplify_row(job->out, at, job->in, job->reverse, v, job->how);
        if (!job->out->indices) job->out->indptr[v + 1] = n;
    }
}

GGNN_API ggnn_status ggnn_graph_simplify(ggnn_lists* out, const ggnn_lists* in, const ggnn_lists* reverse,
                                         int how)
{
    GGNNI_REQUIRE(out && out->indptr && ggnni_lists_given(in) && (!reverse || ggnni_lists_given(reverse)));
    GGNNI_REQUIRE(!reverse || reverse->num_nodes == in->num_nodes);
    GGNNI_REQUIRE((how & ~(GGNN_DROP_DUPLICATES | GGNN_DROP_SELF_LOOPS | GGNN_ADD_SELF_LOOPS)) == 0);
    ggnn_lists      counted = {0, 0, out->indptr, NULL, NULL, NULL};
    ggnni_lists_job job = {&counted, in, reverse, NULL, NULL, how};
    const int64_t   pieces = ggnni_pieces(in->num_nodes + in->num_edges, 1 << 14);
    ggnni_run(in->num_nodes, pieces, ggnni_simplify_piece, &job);
    ggnni_prefix_sum(out->indptr, in->num_nodes);
    out->num_nodes = in->num_nodes, out->num_edges = out->indptr[in->num_nodes];
    job.out = out;
    if (out->indices) ggnni_run(in->num_nodes, pieces, ggnni_simplify_piece, &job);
    return GGNN_OK;
}

static void ggnni_reorder_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_lists_job* job = (const ggnni_lists_job*)context;
    const ggnn_lists*      in = job->in;
    for (int64_t v = begin; v < end; v++) {
        int64_t to = job->out->indptr[job->rank[v]];
        for (int64_t e = in->indptr[v]; e < in->indptr[v + 1]; e++, to++) {
            ggnni_put_edge(job->out, to, in, e);
            job->out->indices[to] = job->rank[in->indices[e]];
        }
    }
}

GGNN_API ggnn_status ggnn_graph_reorder(ggnn_lists* out, const ggnn_lists* in, const ggnn_node* rank,
                                        void* seen, ggnn_fault* fault)
{
    if (!ggnni_lists_given(in) || !out || !out->indptr || (in->num_edges && !out->indices))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "an array is NULL or a size out of range", -1, -1);
    if (in->num_nodes && (!rank || !seen))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "rank or seen is NULL", -1, -1);
    ggnni_lists_job job = {out, in, NULL, rank, NULL, 0};
    unsigned char*  taken = (unsigned char*)seen;
    ggnn_status     status = ggnni_check_built(in, fault);
    if (status != GGNN_OK) return status;
    if (seen) memset(seen, 0, (size_t)in->num_nodes);
    for (int64_t v = 0; v < in->num_nodes; v++) {
        if (rank[v] < 0 || rank[v] >= in->num_nodes || taken[rank[v]]++)
            return ggnni_fault(fault, GGNN_ERROR_ID, "rank is not a permutation", v, -1);
        out->indptr[rank[v] + 1] = in->indptr[v + 1] - in->indptr[v];
    }
    ggnni_prefix_sum(out->indptr, in->num_nodes);
    out->num_nodes = in->num_nodes, out->num_edges = in->num_edges;
    ggnni_run(in->num_nodes, ggnni_pieces(in->num_nodes + in->num_edges, 1 << 14), ggnni_reorder_piece, &job);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_graph_out_degrees(int64_t* out_degree, const ggnn_lists* lists)
{
    GGNNI_REQUIRE(ggnni_lists_given(lists) && (out_degree || lists->num_nodes == 0));
    for (int64_t v = 0; v < lists->num_nodes; v++) out_degree[v] = 0;
    for (int64_t e = 0; e < lists->num_edges; e++) out_degree[lists->indices[e]]++;
    return GGNN_OK;
}

// ==== [4i] SAMPLE =========================================================================================
// Each method writes offsets into a list of n edges, m of them, 0 < m < n (REPLACEMENT: any m).

// The draws of one node: remembers the block that holds the current draw.
typedef struct {
    const ggnn_rng* rng;
    int32_t         hop;
    int64_t         node;
    ggnn_words      words;
} ggnni_draws;

static int64_t ggnni_next(ggnni_draws* draws, int64_t j, int64_t n) // draw j in [0, n); j = 0, 1, 2, ...
{
    if (!(j & 1)) draws->words = ggnn_random(draws->rng, draws->hop, draws->node, (uint32_t)(j / 2));
    return ggnn_bounded(ggnn_draw(draws->words, j), n);
}

// A small hash table from slot to content, for an array of n entries of which m differ from the identity.
typedef struct { int64_t slot, content; } ggnni_entry; // slot -1: free

static int64_t ggnni_table_size(int64_t m) // a power of two, at most half full
{
    int64_t size = 4;
    while (size < 2 * m) size *= 2;
    return size;
}

static ggnni_entry* ggnni_table_find(ggnni_entry* table, int64_t size, int64_t slot)
{
    uint64_t at = (uint64_t)slot * 0x9E3779B97F4A7C15u >> 32;
    while (table[at & (uint64_t)(size - 1)].slot >= 0 && table[at & (uint64_t)(size - 1)].slot != slot) at++;
    return &table[at & (uint64_t)(size - 1)];
}

static ggnni_entry* ggnni_table_clear(void* workspace, int64_t size)
{
    ggnni_entry* table = (ggnni_entry*)workspace;
    for (int64_t i = 0; i < size; i++) table[i].slot = -1;
    return table;
}

// The specification: an array of n slots, slot s holding s. Draw i takes what lies in slot r_i and moves the
// content of the last slot still in play, n - 1 - i, into it.
static void ggnni_fisher_yates(int64_t* offset, int64_t n, int64_t m, ggnni_draws draws, void* workspace)
{
    int64_t      size = ggnni_table_size(m);
    ggnni_entry* table = ggnni_table_clear(workspace, size);
    for (int64_t i = 0; i < m; i++) {
        int64_t      r = ggnni_next(&draws, i, n - i);
        ggnni_entry *taken = ggnni_table_find(table, size, r), *last;
        offset[i] = taken->slot < 0 ? r : taken->content;
        taken->slot = r;
        last = ggnni_table_find(table, size, n - 1 - i);
        // (last may be taken itself: never looked at again)
        if (last != taken) taken->content = last->slot < 0 ? n - 1 - i : last->content;
    }
}

enum { GGNNI_LANES = 16, GGNNI_LANE_FANOUT = 32 }; // nodes sampled side by side; the greatest fanout done so

// Fisher-Yates for GGNNI_LANES nodes, as fast as this machine can: [10i] has the form with vectors.
//   offset (m) rows of lanes: overwritten   stream, n: of each lane; 0 < m < n < 2^32, m <= GGNNI_LANE_FANOUT
static void ggnni_lanes(uint32_t (*offset)[GGNNI_LANES], uint64_t key, const uint64_t* stream, uint64_t step,
                        const uint64_t* n, int32_t m);

// One node after the other: the plain form.
static void ggnni_lanes_plain(uint32_t (*offset)[GGNNI_LANES], uint64_t key, const uint64_t* stream,
                              uint64_t step, const uint64_t* n, int32_t m)
{
    ggnni_entry workspace[4 * GGNNI_LANE_FANOUT];
    int64_t     one[GGNNI_LANE_FANOUT];
    for (int lane = 0; lane < GGNNI_LANES; lane++) {
        ggnn_rng    rng = {key, (uint32_t)step, (uint32_t)(stream[lane] >> 56)};
        ggnni_draws draws = {&rng, (int32_t)(stream[lane] >> 48 & 255),
                             (int64_t)(stream[lane] & 0xffffffffffffu), {{0, 0, 0, 0}}};
        ggnni_fisher_yates(one, (int64_t)n[lane], m, draws, workspace);
        for (int32_t i = 0; i < m; i++) offset[i][lane] = (uint32_t)one[i];
    }
}

// Draws in turn; a value seen before is passed over.
static void ggnni_rejection(int64_t* offset, int64_t n, int64_t m, ggnni_draws draws, void* workspace)
{
    int64_t      size = ggnni_table_size(m), taken = 0;
    ggnni_entry* table = ggnni_table_clear(workspace, size);
    for (int64_t j = 0; taken < m; j++) {
        int64_t      r = ggnni_next(&draws, j, n);
        ggnni_entry* entry = ggnni_table_find(table, size, r);
        if (entry->slot >= 0) continue;
        entry->slot = r;
        offset[taken++] = r;
    }
}

static void ggnni_reservoir(int64_t* offset, int64_t n, int64_t m, ggnni_draws draws)
{
    for (int64_t s = 0; s < m; s++) offset[s] = s;
    for (int64_t i = m; i < n; i++) {
        int64_t r = ggnni_next(&draws, i - m, i + 1);
        if (r < m) offset[r] = i;
    }
}

static void ggnni_replacement(int64_t* offset, int64_t n, int64_t m, ggnni_draws draws)
{
    for (int64_t i = 0; i < m; i++) offset[i] = ggnni_next(&draws, i, n);
}

// A-Res: an edge's key is -log2(u) / w; the m least win. A max-heap holds the best so far; positive doubles
// compare as their bits do, so it is a heap of ggnni_pair.
static int64_t ggnni_weighted(int64_t* offset, const ggnn_list* list, int64_t m, ggnni_draws draws,
                              void* workspace)
{
    ggnni_pair* heap = (ggnni_pair*)workspace;
    int64_t     kept = 0;
    for (int64_t i = 0; i < list->degree; i++) {
        float      w = list->weight ? list->weight[i] : 1.0f;
        ggnni_pair pair = {0, i};
        if (!ggnn_weight_valid(w)) return -1;
        if (i % 2 == 0) draws.words = ggnn_random(draws.rng, draws.hop, draws.node, (uint32_t)(i / 2));
        if (!(w > 0.0f)) continue;
        const double key = (double)ggnn_neg_log2_fast(ggnn_draw(draws.words, i)) / (double)w;
        memcpy(&pair.key, &key, sizeof key);
        if (kept < m) {
            heap[kept++] = pair;
            if (kept == m)
                for (int64_t root = m / 2; root-- > 0;) ggnni_sink(heap, root, m);
        } else if (ggnni_less(pair, heap[0])) {
            heap[0] = pair;
            ggnni_sink(heap, 0, m);
        }
    }
    ggnni_sort_pairs(heap, kept);
    for (int64_t i = 0; i < kept; i++) offset[i] = heap[i].from;
    return kept;
}

// The whole list in order; of a weighted one, what has weight.
static int64_t ggnni_take_all(int64_t* offset, const ggnn_list* list, int only_weighted)
{
    int64_t taken = 0;
    for (int64_t i = 0; i < list->degree; i++) {
        float w = only_weighted && list->weight ? list->weight[i] : 1.0f;
        if (!ggnn_weight_valid(w)) return -1;
        if (w > 0.0f) offset[taken++] = i;
    }
    return taken;
}

GGNN_API size_t ggnn_sample_workspace_bytes(ggnn_method method, int64_t fanout)
{
    const int64_t m = ggnni_min(ggnni_max(fanout, 0), GGNN_FANOUT_MAX);
    switch (method) {
    case GGNN_FISHER_YATES:
    case GGNN_PATH_DOUBLING:
    case GGNN_REJECTION: return (size_t)ggnni_table_size(m) * sizeof(ggnni_entry);
    case GGNN_WEIGHTED: return (size_t)ggnni_max(fanout, 0) * sizeof(ggnni_pair);
    case GGNN_RESERVOIR:
    case GGNN_REPLACEMENT:
    case GGNN_WALK: break;
    }
    return 0;
}

// One list that has an edge, fanout not 0; node: any number below 2^48.
static int64_t ggnni_sample_one(int64_t* offset, const ggnn_list* list, ggnn_method method, int64_t fanout,
                                const ggnn_rng* rng, int32_t hop, int64_t node, void* workspace)
{
    const ggnni_draws draws = {rng, hop, node, {{0, 0, 0, 0}}};
    const int64_t     n = list->degree;
    if (fanout < 0 || (n <= fanout && !ggnn_method_has(method, GGNN_METHOD_REPEATS)))
        return ggnni_take_all(offset, list, ggnn_method_has(method, GGNN_METHOD_WEIGHS));
    if (fanout > GGNN_FANOUT_MAX && ggnn_method_has(method, GGNN_METHOD_HOLDS_SET)) method = GGNN_RESERVOIR;
    switch (method) {
    case GGNN_FISHER_YATES:
    case GGNN_PATH_DOUBLING: ggnni_fisher_yates(offset, n, fanout, draws, workspace); break;
    case GGNN_REJECTION: ggnni_rejection(offset, n, fanout, draws, workspace); break;
    case GGNN_RESERVOIR: ggnni_reservoir(offset, n, fanout, draws); break;
    case GGNN_WEIGHTED: return ggnni_weighted(offset, list, fanout, draws, workspace);
    case GGNN_REPLACEMENT: ggnni_replacement(offset, n, fanout, draws); break;
    case GGNN_WALK: break; // takes no edges of a list
    }
    return fanout;
}

GGNN_API int64_t ggnn_sample_list(int64_t* offset, const ggnn_list* list, ggnn_method method, int64_t fanout,
                                  const ggnn_rng* rng, int32_t hop, ggnn_node node, void* workspace)
{
    if (!list || !ggnni_samples_lists(method) || hop < 0 || hop > 255 || !ggnni_node_given(node)) return -2;
    if (fanout == 0 || list->degree <= 0) return 0;
    if (!offset || !rng || (!workspace && ggnn_sample_workspace_bytes(method, fanout))) return -2;
    return ggnni_sample_one(offset, list, method, fanout, rng, hop, node, workspace);
}

// The longest list that is sampled side by side with others; -1: none.
static int64_t ggnni_lane_max(ggnn_method method, int64_t fanout)
{
    const int by_slots = method == GGNN_FISHER_YATES || method == GGNN_PATH_DOUBLING;
    return by_slots && fanout > 0 && fanout <= GGNNI_LANE_FANOUT ? (int64_t)UINT32_MAX : -1;
}

// Draws the lists member[0 .. count) side by side, to where their offsets belong. Idle lanes do the first.
static void ggnni_sample_lanes(int64_t* offset, const int64_t* bound, const ggnn_list* list,
                               const int64_t* key, const int64_t* member, int32_t count, int32_t m,
                               const ggnn_rng* rng, int32_t hop)
{
    uint32_t lanes[GGNNI_LANE_FANOUT][GGNNI_LANES];
    uint64_t stream[GGNNI_LANES], n[GGNNI_LANES];
    for (int32_t lane = 0; lane < GGNNI_LANES; lane++) {
        const int64_t i = member[lane < count ? lane : 0];
        stream[lane] = ggnn_stream(rng->purpose, hop, key[i]);
        n[lane] = (uint64_t)list[i].degree;
    }
    ggnni_lanes(lanes, rng->seed, stream, rng->step, n, m);
    for (int32_t lane = 0; lane < count; lane++)
        for (int32_t j = 0; j < m; j++) offset[bound[member[lane]] + j] = lanes[j][lane];
}

GGNN_API ggnn_status ggnn_sample_lists(int64_t* offset, int64_t* bound, const ggnn_list* list,
                                       const int64_t* key, int64_t n, ggnn_method method, int64_t fanout,
                                       const ggnn_rng* rng, int32_t hop, void* workspace)
{
    const int64_t lane_max = ggnni_lane_max(method, fanout);
    int64_t       member[GGNNI_LANES];
    int32_t       count = 0;
    GGNNI_REQUIRE(bound && ggnni_samples_lists(method) && ggnni_keys(rng, hop, n));
    GGNNI_REQUIRE(n == 0 || (list && key && (fanout == 0 || offset)));
    GGNNI_REQUIRE(n == 0 || workspace || !ggnn_sample_workspace_bytes(method, fanout));
    bound[0] = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t degree = list[i].degree;
        int64_t       taken = 0;
        if (degree > fanout && degree <= lane_max) {
            member[count++] = i;
            taken = fanout;
        } else if (fanout != 0 && degree > 0) {
            taken =
                ggnni_sample_one(offset + bound[i], &list[i], method, fanout, rng, hop, key[i], workspace);
        }
        bound[i + 1] = taken < 0 ? -1 : bound[i] + taken;
        if (taken < 0) return GGNN_ERROR_WEIGHT;
        if (count < GGNNI_LANES && (count == 0 || i + 1 < n)) continue;
        ggnni_sample_lanes(offset, bound, list, key, member, count, (int32_t)fanout, rng, hop);
        count = 0;
    }
    return GGNN_OK;
}

// ---- walks ------------------------------------------------------------------

GGNN_API ggnn_status ggnn_random_walk(ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* how,
                                      const ggnn_rng* rng, int32_t hop, ggnn_node node, ggnn_node* bad)
{
    GGNNI_REQUIRE(ggnni_graph_given(g) && how && ggnni_keys(rng, hop, 1) && bad);
    const ggnn_walks walks = ggnn_walks_or_default(*how);
    const uint64_t   restart = (uint64_t)((double)walks.restart * 4294967296.0);
    ggnn_rng         own = *rng;
    GGNNI_REQUIRE(ggnn_walks_valid(walks) && (visited || walks.walks * walks.length == 0));
    if (node < 0 || node >= g->num_nodes) {
        *bad = node;
        return GGNN_ERROR_ID;
    }
    own.purpose = ggnn_walk_purpose(rng->purpose);
    for (int32_t walk = 0; walk < walks.walks; walk++) {
        ggnn_node at = node;
        for (int32_t step = 0; step < walks.length; step++) {
            uint32_t   block = (uint32_t)walk * (uint32_t)walks.length + (uint32_t)step;
            ggnn_words words = ggnn_random(&own, hop, node, block);
            ggnn_list  list = ggnn_neighbors(g, at);
            ggnn_node  next = list.degree > 0 ? list.id[ggnn_bounded(ggnn_draw(words, 0), list.degree)] : -1;
            if (list.degree < 0 || (list.degree > 0 && (next < 0 || next >= g->num_nodes))) {
                *bad = at;
                return GGNN_ERROR_ID;
            }
            visited[block] = next;
            at = next < 0 || words.word[2] < restart ? node : next;
        }
    }
    return GGNN_OK;
}

GGNN_API int64_t ggnn_walk_neighbors(ggnn_node* id, float* visits, const ggnn_node* visited, int64_t count,
                                     int64_t top, ggnn_node node, void* workspace)
{
    if (count < 0 || (count && (!id || !visits || !visited || !workspace))) return -2;
    ggnni_pair* pair = (ggnni_pair*)workspace;
    int64_t     n = 0, distinct = 0;
    for (int64_t i = 0; i < count; i++) {
        if (visited[i] < 0 || visited[i] == node) continue;
        pair[n].key = visited[i], pair[n].from = n;
        n++;
    }
    ggnni_sort_pairs(pair, n); // equal ids side by side
    for (int64_t i = 0, run; i < n; i = run) {
        for (run = i + 1; run < n && pair[run].key == pair[i].key; run++) {}
        pair[distinct].from = pair[i].key;
        pair[distinct++].key = -(run - i); // most visits first, then the smaller id
    }
    ggnni_sort_pairs(pair, distinct);
    if (top < 0 || top > distinct) top = distinct;
    for (int64_t i = 0; i < top; i++) {
        id[i] = (ggnn_node)pair[i].from;
        visits[i] = (float)-pair[i].key;
    }
    return top;
}

// ==== [5i] UNIQUE =========================================================================================

static size_t ggnni_round_up(size_t bytes) { return (bytes + GGNNI_LINE - 1) / GGNNI_LINE * GGNNI_LINE; }

static int64_t ggnni_unique_slots(int64_t max_ids)
{
    int64_t slots = 16;
    while (slots < 2 * max_ids) slots *= 2;
    return slots;
}

static size_t ggnni_unique_table_bytes(const ggnn_unique* seen)
{
    return seen->kind == GGNN_UNIQUE_DIRECT ? (size_t)seen->num_nodes * sizeof *seen->value
                                            : (size_t)(seen->mask + 1) * sizeof *seen->slot;
}

static void ggnni_unique_describe(ggnn_unique* seen, ggnn_unique_kind kind, int64_t num_nodes,
                                  int64_t max_ids)
{
    memset(seen, 0, sizeof *seen);
    seen->kind = kind, seen->num_nodes = num_nodes;
    seen->max_ids = ggnni_min(max_ids, num_nodes);
    seen->mask = (uint64_t)ggnni_unique_slots(seen->max_ids) - 1;
}

GGNN_API size_t ggnn_unique_bytes(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids)
{
    if ((uint32_t)kind > GGNN_UNIQUE_HASH || num_nodes < 0) return 0;
    if (kind == GGNN_UNIQUE_DIRECT && num_nodes > (int64_t)1 << 48) return 0;
    if (max_ids < 0 || ggnni_min(max_ids, num_nodes) > INT32_MAX) return 0;
    ggnn_unique seen;
    ggnni_unique_describe(&seen, kind, num_nodes, max_ids);
    return ggnni_round_up(sizeof seen) + ggnni_round_up(ggnni_unique_table_bytes(&seen));
}

GGNN_API ggnn_unique* ggnn_unique_init(void* memory, ggnn_unique_kind kind, int64_t num_nodes,
                                       int64_t max_ids)
{
    ggnn_unique* seen = (ggnn_unique*)memory;
    if (!memory || ggnn_unique_bytes(kind, num_nodes, max_ids) == 0) return NULL;
    char* table = (char*)memory + ggnni_round_up(sizeof *seen);
    ggnni_unique_describe(seen, kind, num_nodes, max_ids);
    if (kind == GGNN_UNIQUE_DIRECT) seen->value = (uint32_t*)(void*)table;
    else seen->slot = (ggnn_unique_slot*)(void*)table;
    memset(table, 0, ggnni_unique_table_bytes(seen));
    seen->base = 1; // an entry of 0 lies 2^32 - 1 above it: in no batch
    return seen;
}

GGNN_API ggnn_status ggnn_unique_begin(ggnn_unique* seen)
{
    GGNNI_REQUIRE(seen);
    seen->base += seen->count; // what was in this batch now lies below the base, so 2^32 - something above it
    seen->count = 0;
    if (seen->base > UINT32_MAX / 2) {
        memset(seen->value ? (void*)seen->value : (void*)seen->slot, 0, ggnni_unique_table_bytes(seen));
        seen->base = 1;
    }
    return GGNN_OK;
}

enum { GGNNI_IDS_AT_ONCE = 32 }; // checked and prefetched together, while those before wait to be numbered

static int ggnni_unique_in_range(const ggnn_unique* seen, ggnn_node id)
{
    return (uint64_t)id < (uint64_t)seen->num_nodes;
}

// How many of n ids, from the first, are in range. Usually all are: one branch for all of them.
static int64_t ggnni_unique_count_valid(const ggnn_unique* seen, const ggnn_node* id, int64_t n)
{
    int     valid = 1;
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) valid &= ggnni_unique_in_range(seen, id[i]);
    if (valid) return n;
    while (ggnni_unique_in_range(seen, id[first])) first++;
    return first;
}

GGNNI_PREFETCHES void ggnni_unique_prefetch(const ggnn_unique* seen, const ggnn_node* id, int64_t n)
{
    if (seen->value)
        for (int64_t i = 0; i < n; i++) GGNNI_PREFETCH(&seen->value[id[i]]);
    else
        for (int64_t i = 0; i < n; i++) GGNNI_PREFETCH(&seen->slot[ggnn_hash(id[i], seen->mask)]);
}

// Local ids of n ids, all in range, with room for all of them. The count stays in a register: in memory, each
// id would wait for the id before. No branch on "new": which ids are new is hard to predict. So what is known
// is written again, and the list gets a guess past its end, which counts only when the id is new.
GGNNI_APART void ggnni_unique_direct(ggnn_unique* seen, ggnn_node* list, int32_t* local,
                                     const ggnn_node* id, int64_t n)
{
    uint32_t *value = seen->value, base = seen->base, count = seen->count;
    for (int64_t i = 0; i < n; i++) {
        uint32_t known = value[id[i]] - base, at = known < count ? known : count;
        list[count] = id[i];
        value[id[i]] = base + at;
        count += known >= count;
        if (local) local[i] = (int32_t)at;
    }
    seen->count = count;
}

// The slot of an id, or the free one where it would be: of no batch, or of an earlier one. Slots of other ids
// of this batch are passed over. One comparison of two answers: which of them ends the search is hard to
// predict. The first slot stands apart: gcc lays the loop out better, and append-unique is 4 % faster.
static inline uint64_t ggnni_unique_probe(const ggnn_unique_slot* slot, uint64_t mask, uint32_t base,
                                          uint32_t count, ggnn_node wanted)
{
    uint64_t at = ggnn_hash(wanted, mask);
    if ((slot[at].value - base < count) <= (slot[at].key == wanted)) return at;
    do at = (at + 1) & mask;
    while ((slot[at].value - base < count) > (slot[at].key == wanted));
    return at;
}

GGNNI_APART void ggnni_unique_hash(ggnn_unique* seen, ggnn_node* list, int32_t* local,
                                   const ggnn_node* id, int64_t n)
{
    ggnn_unique_slot* slot = seen->slot;
    uint64_t          mask = seen->mask;
    uint32_t          base = seen->base, count = seen->count;
    for (int64_t i = 0; i < n; i++) {
        ggnn_node         wanted = id[i];
        ggnn_unique_slot* own = &slot[ggnni_unique_probe(slot, mask, base, count, wanted)];
        uint32_t          known = own->value - base, at = known < count ? known : count;
        own->key = wanted;
        own->value = base + at;
        list[count] = wanted;
        count += known >= count;
        if (local) local[i] = (int32_t)at;
    }
    seen->count = count;
}

GGNN_API int32_t ggnn_unique_find(const ggnn_unique* seen, ggnn_node id)
{
    if (!seen || !ggnni_unique_in_range(seen, id)) return -1;
    const ggnn_unique_slot* slot = seen->slot;
    const uint32_t          base = seen->base, count = seen->count;
    const uint32_t          value =
        seen->value ? seen->value[id] : slot[ggnni_unique_probe(slot, seen->mask, base, count, id)].value;
    return value - base < count ? (int32_t)(value - base) : -1;
}

// Numbers n ids in range up to the first new one past `limit`; how many. At once as many as have room if new.
static int64_t ggnni_unique_number(ggnn_unique* seen, ggnn_node* list, int32_t* local, const ggnn_node* id,
                                   int64_t n, int64_t limit)
{
    int64_t done = 0;
    while (done < n) {
        const int64_t some = ggnni_min(n - done, limit - (int64_t)seen->count);
        int32_t*      to = local ? local + done : NULL;
        if (some > 0) {
            if (seen->value) ggnni_unique_direct(seen, list, to, id + done, some);
            else ggnni_unique_hash(seen, list, to, id + done, some);
            done += some;
            continue;
        }
        const int32_t at = ggnn_unique_find(seen, id[done]);
        if (at < 0) break;
        if (to) *to = at;
        done++;
    }
    return done;
}

GGNN_API ggnn_status ggnn_unique_append(ggnn_unique* seen, ggnn_node* list, int32_t* local,
                                        const ggnn_node* id, int64_t n, int64_t* bad)
{
    GGNNI_REQUIRE(seen && n >= 0 && bad && (n == 0 || (list && id)));
    int64_t valid = ggnni_unique_count_valid(seen, id, ggnni_min(n, GGNNI_IDS_AT_ONCE));
    ggnni_unique_prefetch(seen, id, valid);
    for (int64_t begin = 0, end, next; begin < n; begin = end, valid = next) {
        end = ggnni_min(n, begin + GGNNI_IDS_AT_ONCE);
        next = ggnni_unique_count_valid(seen, id + end, ggnni_min(n - end, GGNNI_IDS_AT_ONCE));
        ggnni_unique_prefetch(seen, id + end, next);
        int32_t*      to = local ? local + begin : NULL;
        const int64_t done = ggnni_unique_number(seen, list, to, id + begin, valid, seen->max_ids);
        if (done == end - begin) continue;
        *bad = begin + done;
        return done < valid ? GGNN_ERROR_CAPACITY : GGNN_ERROR_ID;
    }
    return GGNN_OK;
}

// ==== [6i] BLOCK ==========================================================================================

// Targets sampled together, in groups of lanes: their lists' lines are fetched at once.
enum { GGNNI_GROUPS = 2, GGNNI_TARGETS = GGNNI_GROUPS * GGNNI_LANES };

// Scratch that one tile of targets, or one target of great fanout, needs.
typedef struct {
    int64_t*   offset[2]; // sampled offsets of two tiles, target after target
    void*      sample;    // ggnn_sample_list's
    ggnn_node* visited;   // of walks
    float*     visits;
} ggnni_scratch;

// Targets in a tile: one where it may draw many offsets.
static int64_t ggnni_tile_width(ggnn_method method, int64_t fanout)
{
    return ggnn_method_has(method, GGNN_METHOD_WEIGHS) || fanout > GGNN_FANOUT_MAX ? 1 : GGNNI_TARGETS;
}

// Offsets that a tile may draw. By weight whole lists are drawn too; else they are taken as they are.
static int64_t ggnni_tile_offsets(const ggnn_batch* b)
{
    const int by_weight = ggnn_method_has(b->how.method, GGNN_METHOD_WEIGHS);
    int64_t   most = 1;
    for (int32_t h = 0; h < b->how.num_hops; h++) {
        int64_t m = b->how.fanout[h], edges = b->hop[h].num_edges.max;
        int64_t width = ggnni_tile_width(b->how.method, m);
        if (m < 0) m = by_weight ? edges : 0;
        most = ggnni_max(most, width * (width == 1 ? ggnni_min(m, edges) : m));
    }
    return most;
}

typedef struct { // at the start of a batch's workspace
    ggnni_scratch scratch;
    int64_t       seeds, edges[GGNN_HOPS_MAX], length[GGNN_HOPS_MAX + 1]; // length[h]: ids before hop h
} ggnni_batch_state;

static void* ggnni_carve(char* base, size_t* used, int64_t count, size_t size)
{
    return ggnni_carve_by(GGNNI_LINE, base, used, count, size);
}

static size_t ggnni_carve_scratch(ggnni_scratch* scratch, const ggnn_batch* b, char* base, size_t used)
{
    const ggnn_sampling* how = &b->how;
    const int            walks = ggnni_walks(how);
    size_t               sample = 0;
    memset(scratch, 0, sizeof *scratch);
    if (walks) {
        int64_t visits = (int64_t)how->walk.walks * how->walk.length;
        scratch->visited = (ggnn_node*)ggnni_carve(base, &used, visits, sizeof *scratch->visited);
        scratch->visits = (float*)ggnni_carve(base, &used, visits, sizeof *scratch->visits);
        sample = (size_t)visits * sizeof(ggnni_pair);
    }
    for (int i = 0; i < 2 && !walks; i++)
        scratch->offset[i] = (int64_t*)ggnni_carve(base, &used, ggnni_tile_offsets(b), sizeof(int64_t));
    for (int32_t h = 0; h < how->num_hops && !walks; h++) {
        size_t bytes = ggnn_sample_workspace_bytes(how->method,
                                                   ggnni_min(how->fanout[h], b->hop[h].num_edges.max));
        sample = bytes > sample ? bytes : sample;
    }
    scratch->sample = ggnni_carve(base, &used, (int64_t)sample, 1);
    return used;
}

// The transpose of hop h, where it is kept.
static size_t ggnni_carve_back(ggnn_batch* b, int32_t h, char* base, size_t used)
{
    const ggnn_block* hop = &b->hop[h];
    const int64_t     dst = hop->num_dst.max, src = hop->num_src.max, edges = hop->num_edges.max;
    if (!(b->how.keep & GGNN_KEEP_TRANSPOSES) || ggnni_is_global(&b->how, h)) return used;
    if (base) ggnn_block_transpose_init(&b->back[h], dst, src, edges, base + used);
    return used + ggnn_block_transpose_bytes(dst, src, edges);
}

// A batch whose bounds are known. The table comes last.
static size_t ggnni_carve_batch(ggnn_batch* b, char* base)
{
    size_t             used = 0;
    ggnni_scratch      scratch;
    ggnni_batch_state* state = (ggnni_batch_state*)ggnni_carve(base, &used, 1, sizeof *state);
    ggnn_unique_kind   kind = ggnn_unique_choose(b->num_nodes);
    b->workspace = state;
    b->id = (ggnn_node*)ggnni_carve(base, &used, b->max_ids + 1, sizeof *b->id);
    b->seed_local = (int32_t*)ggnni_carve(base, &used, b->num_seeds.max, sizeof *b->seed_local);
    for (int32_t h = 0; h < b->how.num_hops; h++)
        used = ggnni_carve_hop(&b->hop[h], &b->how, h, GGNNI_LINE, base, used);
    for (int32_t h = 0; h < b->how.num_hops; h++) used = ggnni_carve_back(b, h, base, used);
    used = ggnni_carve_scratch(&scratch, b, base, used);
    if (base) state->scratch = scratch;
    b->seen = b->shared;
    if (b->shared) return used;
    if (base) b->seen = ggnn_unique_init(base + used, kind, b->num_nodes, b->max_ids);
    return used + ggnn_unique_bytes(kind, b->num_nodes, b->max_ids);
}

GGNN_API ggnn_status ggnn_batch_plan(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                     int64_t max_seeds, ggnn_unique* shared)
{
    GGNNI_REQUIRE(b && g && how);
    memset(b, 0, sizeof *b);
    const ggnn_status status = ggnn_batch_bound(b, g, how, max_seeds);
    if (status != GGNN_OK) return status;
    if (shared && (shared->num_nodes != g->num_nodes || shared->max_ids < b->max_ids))
        return ggnni_fault(&b->fault, GGNN_ERROR_ARGUMENT,
                           "the shared table is for another number of nodes, or for too few ids", -1, -1);
    b->shared = shared, b->bytes = ggnni_carve_batch(b, NULL);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_batch_new(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                    int64_t max_seeds)
{
    const ggnn_status status = ggnn_batch_plan(b, g, how, max_seeds, NULL);
    if (status != GGNN_OK) return status;
    void* memory = GGNN_MALLOC(b->bytes);
    if (memory) return ggnn_batch_init(b, memory);
    return ggnni_fault(&b->fault, GGNN_ERROR_MEMORY, "no memory for the batch", -1, -1);
}

GGNN_API void ggnn_batch_free(ggnn_batch* b)
{
    if (!b) return;
    GGNN_FREE(b->workspace);
    memset(b, 0, sizeof *b);
}

// By _init or by _unpack, which gives it no table.
static int ggnni_is_laid_out(const ggnn_batch* b) { return b && b->num_seeds.n; }
static int ggnni_takes_samples(const ggnn_batch* b) { return ggnni_is_laid_out(b) && b->seen; }

static void ggnni_batch_empty(ggnn_batch* b)
{
    ggnni_batch_state* state = (ggnni_batch_state*)b->workspace;
    state->seeds = 0;
    memset(state->edges, 0, sizeof state->edges);
    memset(state->length, 0, sizeof state->length);
    b->num_hops = 0;
    for (int32_t h = 0; h < b->how.num_hops; h++) {
        ggnn_block* back = &b->back[h];
        b->hop[h].indptr[0] = 0;
        if (back->indptr) back->indptr[0] = *back->num_dst.n = *back->num_src.n = *back->num_edges.n = 0;
    }
}

GGNN_API ggnn_status ggnn_batch_init(ggnn_batch* b, void* memory)
{
    ggnni_batch_state* state = (ggnni_batch_state*)memory;
    GGNNI_REQUIRE(memory && b && b->bytes && (b->seen || !ggnni_is_laid_out(b))); // not one that was unpacked
    ggnni_carve_batch(b, (char*)memory);
    b->num_seeds.n = &state->seeds;
    for (int32_t h = 0; h < b->how.num_hops; h++) {
        b->hop[h].num_dst.n = &state->length[h], b->hop[h].num_src.n = &state->length[h + 1];
        b->hop[h].num_edges.n = &state->edges[h], b->hop[h].id = b->id;
    }
    ggnni_batch_empty(b);
    return GGNN_OK;
}

// The batch becomes empty; its fault says at which node, and at which hop it was (-1: among the seeds).
static ggnn_status ggnni_batch_fail(ggnn_batch* b, ggnn_status status, ggnn_node bad, int32_t hop)
{
    ggnni_batch_empty(b);
    ggnni_fault(&b->fault, status, ggnn_status_string(status), bad, -1);
    b->fault.hop = hop;
    return status;
}

GGNN_API ggnn_status ggnn_batch_begin(ggnn_batch* b, const ggnn_node* seeds, int64_t num_seeds)
{
    GGNNI_REQUIRE(ggnni_takes_samples(b) && num_seeds >= 0 && (seeds || num_seeds == 0));
    ggnni_batch_state* state = (ggnni_batch_state*)b->workspace;
    int64_t            bad = 0;
    ggnni_batch_empty(b);
    if (num_seeds > b->num_seeds.max) return ggnni_batch_fail(b, GGNN_ERROR_CAPACITY, -1, -1);
    ggnn_unique_begin(b->seen);
    const ggnn_status status = ggnn_unique_append(b->seen, b->id, b->seed_local, seeds, num_seeds, &bad);
    if (status != GGNN_OK) return ggnni_batch_fail(b, status, seeds[bad], -1);
    state->seeds = num_seeds, state->length[0] = b->seen->count;
    return GGNN_OK;
}

// ---- one hop, a tile of targets after the other --------------------------------

// what ggnn_neighbors will read: two numbers of indptr, which may lie in two lines
GGNNI_PREFETCHES void ggnni_list_prefetch(const ggnn_graph* g, ggnn_node v)
{
    ggnn_place      place = {0, v};
    const ggnn_csc* csc = &g->whole;
    if (g->part) {
        place = ggnn_locate(&g->at, v);
        csc = &g->part[place.slot];
    }
    GGNNI_PREFETCH(&csc->indptr[place.row]);
    GGNNI_PREFETCH(&csc->indptr[place.row + 1]);
}

typedef struct {
    ggnn_block*          hop;
    const ggnn_graph*    g;
    const ggnn_sampling* how;
    const ggnn_rng*      rng;
    ggnni_scratch*       scratch;
    ggnn_node*           ids; // where neighbours' ids go: hop->neighbor, or hop->indices, renumbered in place
    int64_t              fanout;
    int32_t              number;              // of the hop: keys its draws
    int64_t              whole_max, lane_max; // longest list taken as it is, sampled in a lane; -1: none
} ggnni_hop;

static int64_t ggnni_whole_max(const ggnn_sampling* how, int64_t fanout)
{
    if (ggnn_method_has(how->method, GGNN_METHOD_WEIGHS)) return -1; // leaves out what has no weight
    if (fanout < 0) return INT64_MAX;
    return ggnn_method_has(how->method, GGNN_METHOD_REPEATS) ? -1 : fanout;
}

// One tile of targets. In the pipeline of a hop tile t is drawn, then tile t-1 is fetched, then tile t-2
// numbered: what a stage loads was prefetched by the one before.
typedef struct {
    int64_t   first, n;
    int64_t*  offset; // of targets with lane -1, in turn
    ggnn_list list[GGNNI_TARGETS];
    int64_t   taken[GGNNI_TARGETS];
    int32_t   lane[GGNNI_TARGETS]; // sampled as lane % GGNNI_LANES of group lane / GGNNI_LANES; -1: not
    uint32_t  lanes[GGNNI_GROUPS][GGNNI_LANE_FANOUT][GGNNI_LANES];
} ggnni_tile;

// Draws the lanes that were gathered, and prefetches what they drew. Idle lanes repeat a harmless one.
static void ggnni_draw_lanes(const ggnni_hop* at, ggnni_tile* tile, const ggnn_node* target,
                             const int32_t* member, int32_t group, int32_t count)
{
    uint64_t stream[GGNNI_LANES], n[GGNNI_LANES];
    int32_t  m = (int32_t)at->fanout;
    for (int32_t lane = 0; lane < GGNNI_LANES; lane++) {
        int32_t i = member[lane < count ? lane : 0];
        stream[lane] = ggnn_stream(at->rng->purpose, at->number, target[i]);
        n[lane] = (uint64_t)tile->list[i].degree;
        if (lane < count) tile->lane[i] = group * GGNNI_LANES + lane;
    }
    ggnni_lanes(tile->lanes[group], at->rng->seed, stream, at->rng->step, n, m);
    for (int32_t i = 0; i < m; i++)
        for (int32_t lane = 0; lane < count; lane++)
            GGNNI_PREFETCH(&tile->list[member[lane]].id[tile->lanes[group][i][lane]]);
}

static ggnn_status ggnni_draw_one(const ggnni_hop* at, ggnni_tile* tile, ggnn_node target, int64_t i,
                                  int64_t* offset)
{
    const ggnn_list* list = &tile->list[i];
    int64_t          most = at->fanout < 0 ? list->degree : at->fanout;
    if (!ggnn_method_has(at->how->method, GGNN_METHOD_REPEATS)) most = ggnni_min(most, list->degree);
    if (list->degree == 0) most = 0;
    if (most > at->hop->num_edges.max) return GGNN_ERROR_CAPACITY; // no room for the offsets either
    tile->taken[i] = ggnn_sample_list(offset, list, at->how->method, at->fanout, at->rng, at->number, target,
                                      at->scratch->sample);
    for (int64_t j = 0; j < tile->taken[i]; j++) GGNNI_PREFETCH(&list->id[offset[j]]);
    return tile->taken[i] < 0 ? GGNN_ERROR_WEIGHT : GGNN_OK;
}

// Stage 1: what each target takes of its list.
static ggnn_status ggnni_draw_tile(const ggnni_hop* at, ggnni_tile* tile, const ggnn_node* target,
                                   ggnn_node* bad)
{
    int32_t  member[GGNNI_LANES], count = 0, group = 0;
    int64_t* offset = tile->offset;
    for (int64_t i = 0; i < tile->n; i++) {
        ggnn_list* list = &tile->list[i];
        *list = ggnn_neighbors(at->g, target[i]);
        *bad = target[i];
        tile->lane[i] = -1;
        if (list->degree < 0 || list->degree > at->g->num_edges) return GGNN_ERROR_ID;
        if (list->degree <= at->whole_max) {
            tile->taken[i] = list->degree; // needs no offsets
            if (list->degree) GGNNI_PREFETCH(list->id); // few: in one line or two
            if (list->degree) GGNNI_PREFETCH(list->id + list->degree - 1);
        } else if (list->degree <= at->lane_max) {
            tile->taken[i] = at->fanout;
            member[count++] = (int32_t)i;
            if (count < GGNNI_LANES) continue;
            ggnni_draw_lanes(at, tile, target, member, group++, count);
            count = 0;
        } else {
            ggnn_status status = ggnni_draw_one(at, tile, target[i], i, offset);
            if (status != GGNN_OK) return status;
            offset += tile->taken[i];
        }
    }
    if (count) ggnni_draw_lanes(at, tile, target, member, group, count);
    return GGNN_OK;
}

// Stage 2: reads the ids taken, positions and weights where wanted; counts the valid ones from the first on.
static ggnn_status ggnni_fetch_tile(const ggnni_hop* at, const ggnni_tile* tile, const ggnn_unique* seen,
                                    const ggnn_node* target, int64_t* valid, ggnn_node* bad)
{
    const int64_t* offset = tile->offset;
    int64_t        begin = at->hop->indptr[tile->first], edges = begin;
    for (int64_t i = 0; i < tile->n; i++) {
        const ggnn_list* list = &tile->list[i];
        int              whole = list->degree <= at->whole_max;
        int32_t          lane = tile->lane[i];
        *bad = target[i];
        if (tile->taken[i] > at->hop->num_edges.max - edges) return GGNN_ERROR_CAPACITY;
        for (int64_t j = 0; j < tile->taken[i]; j++, edges++) {
            int64_t from = whole      ? j
                           : lane < 0 ? offset[j]
                                      : (int64_t)tile->lanes[lane / GGNNI_LANES][j][lane % GGNNI_LANES];
            at->ids[edges] = list->id[from];
            if (at->hop->position) at->hop->position[edges] = list->position + from;
            if (at->hop->weight) at->hop->weight[edges] = list->weight ? list->weight[from] : 1.0f;
        }
        if (!whole && lane < 0) offset += tile->taken[i];
        at->hop->indptr[tile->first + i + 1] = edges;
    }
    *valid = ggnni_unique_count_valid(seen, at->ids + begin, edges - begin);
    if (at->hop->indices) ggnni_unique_prefetch(seen, at->ids + begin, *valid);
    return GGNN_OK;
}

static ggnn_status ggnni_walk_target(const ggnni_hop* at, ggnn_node target, int64_t i, ggnn_node* bad)
{
    int64_t edges = at->hop->indptr[i], visits = (int64_t)at->how->walk.walks * at->how->walk.length, taken;
    float*      count = at->scratch->visits;
    ggnn_status status =
        ggnn_random_walk(at->scratch->visited, at->g, &at->how->walk, at->rng, at->number, target, bad);
    if (status != GGNN_OK) return status;
    taken = ggnn_walk_neighbors(at->scratch->visited, count, at->scratch->visited, visits, at->fanout, target,
                                at->scratch->sample);
    *bad = target;
    if (taken > at->hop->num_edges.max - edges) return GGNN_ERROR_CAPACITY;
    memcpy(at->ids + edges, at->scratch->visited, (size_t)taken * sizeof *at->ids);
    if (at->hop->weight) memcpy(at->hop->weight + edges, count, (size_t)taken * sizeof *count);
    for (int64_t j = 0; at->hop->position && j < taken; j++) at->hop->position[edges + j] = -1;
    at->hop->indptr[i + 1] = edges + taken;
    return GGNN_OK;
}

static void ggnni_count_repeats(ggnn_block* hop)
{
    memset(hop->repeats, 0, (size_t)*hop->num_src.n * sizeof *hop->repeats);
    for (int64_t e = 0; e < *hop->num_edges.n; e++) hop->repeats[hop->indices[e]]++;
}

// Stage 3: numbers the neighbours of targets [first, first + n), of which the first so many are valid ids; a
// global hop keeps its ids, and only an error is told.
static ggnn_status ggnni_number_tile(ggnn_batch* b, const ggnni_hop* at, int64_t first, int64_t n,
                                     int64_t valid, ggnn_node* bad)
{
    const int64_t* indptr = at->hop->indptr;
    int64_t        begin = indptr[first], done = valid, i = first;
    int64_t        limit = ggnni_min(b->seen->max_ids, at->hop->num_src.max);
    if (at->hop->indices)
        done = ggnni_unique_number(b->seen, b->id, at->hop->indices + begin, at->ids + begin, valid, limit);
    if (done == indptr[first + n] - begin) return GGNN_OK;
    while (indptr[i + 1] <= begin + done) i++;
    *bad = b->id[i];
    return done < valid ? GGNN_ERROR_CAPACITY : GGNN_ERROR_ID;
}

static ggnn_status ggnni_walk_targets(ggnn_batch* b, const ggnni_hop* at, int64_t num_dst, ggnn_node* bad)
{
    ggnn_status status = GGNN_OK;
    for (int64_t i = 0; i < num_dst && status == GGNN_OK; i++) {
        const int64_t* edge = at->hop->indptr + i;
        status = ggnni_walk_target(at, b->id[i], i, bad);
        if (status != GGNN_OK) return status;
        const int64_t valid = ggnni_unique_count_valid(b->seen, at->ids + edge[0], edge[1] - edge[0]);
        status = ggnni_number_tile(b, at, i, 1, valid, bad);
    }
    return status;
}

// The pipeline over tiles. A fanout too great for the scratch of a tile takes tiles of one target.
static ggnn_status ggnni_sample_tiles(ggnn_batch* b, const ggnni_hop* at, int64_t num_dst, ggnn_node* bad)
{
    ggnni_tile  tile[2];
    int64_t     width = ggnni_tile_width(at->how->method, at->fanout), tiles = (num_dst + width - 1) / width;
    int64_t     valid[2]; // of tile t: valid[t % 2], until it is numbered
    ggnn_status status = GGNN_OK;
    tile[0].offset = at->scratch->offset[0], tile[1].offset = at->scratch->offset[1];
    for (int64_t t = 0; t < tiles + 2 && status == GGNN_OK; t++) {
        for (int64_t i = (t + 1) * width; i < ggnni_min(num_dst, (t + 2) * width); i++)
            ggnni_list_prefetch(at->g, b->id[i]);
        if (t < tiles) {
            tile[t % 2].first = t * width;
            tile[t % 2].n = ggnni_min(width, num_dst - t * width);
            status = ggnni_draw_tile(at, &tile[t % 2], b->id + t * width, bad);
        }
        if (t > 0 && t <= tiles && status == GGNN_OK)
            status = ggnni_fetch_tile(at, &tile[(t - 1) % 2], b->seen, b->id + (t - 1) * width,
                                      &valid[(t - 1) % 2], bad);
        if (t > 1 && status == GGNN_OK) {
            const int64_t first = (t - 2) * width, n = ggnni_min(width, num_dst - first);
            status = ggnni_number_tile(b, at, first, n, valid[t % 2], bad);
        }
    }
    return status;
}

GGNN_API ggnn_status ggnn_sample_hop(ggnn_batch* b, const ggnn_graph* g, const ggnn_rng* rng)
{
    GGNNI_REQUIRE(ggnni_takes_samples(b) && g && rng);
    ggnni_batch_state* state = (ggnni_batch_state*)b->workspace;
    ggnni_hop          at = {NULL, g, &b->how, rng, NULL, NULL, 0, 0, 0, 0};
    const int32_t      h = b->num_hops;
    const int64_t      num_dst = state->length[h];
    ggnn_node          bad = -1;
    if (h >= b->how.num_hops || g->num_nodes != b->num_nodes || g->num_edges != b->num_edges ||
        (num_dst > 0 && !ggnni_graph_given(g)))
        return ggnni_batch_fail(b, GGNN_ERROR_ARGUMENT, -1, h);
    at.hop = &b->hop[h], at.scratch = &state->scratch;
    at.ids = at.hop->neighbor ? at.hop->neighbor : (ggnn_node*)(void*)at.hop->indices;
    at.fanout = b->how.fanout[h], at.number = b->how.first_hop + h;
    at.whole_max = ggnni_whole_max(&b->how, at.fanout);
    at.lane_max = ggnni_lane_max(b->how.method, at.fanout);
    at.hop->indptr[0] = 0;
    const ggnn_status status = ggnni_walks(&b->how) ? ggnni_walk_targets(b, &at, num_dst, &bad)
                                                    : ggnni_sample_tiles(b, &at, num_dst, &bad);
    if (status != GGNN_OK) return ggnni_batch_fail(b, status, bad, h);
    state->edges[h] = at.hop->indptr[num_dst];
    state->length[h + 1] = b->seen->count;
    b->num_hops = h + 1;
    if (at.hop->repeats) ggnni_count_repeats(at.hop);
    if (b->back[h].indptr) return ggnn_block_transpose(&b->back[h], at.hop);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_sample(ggnn_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                                 const ggnn_node* seeds, int64_t num_seeds)
{
    ggnn_status status = g && rng ? ggnn_batch_begin(b, seeds, num_seeds) : GGNN_ERROR_ARGUMENT;
    while (status == GGNN_OK && b->num_hops < b->how.num_hops) status = ggnn_sample_hop(b, g, rng);
    return status;
}

// ---- a compact copy ---------------------------------------------------------------

GGNN_API size_t ggnn_batch_packed_bytes(const ggnn_batch* b)
{
    ggnni_packed header;
    ggnn_batch   unused;
    if (!ggnni_is_laid_out(b)) return 0;
    ggnni_pack_header(&header, &unused, b, NULL);
    return (size_t)header.bytes;
}

// An array, and zeros up to the next one.
static void ggnni_copy(void* to, const void* from, int64_t count, size_t size)
{
    const size_t bytes = (size_t)count * size;
    if (!to) return;
    if (bytes) memcpy(to, from, bytes);
    memset((char*)to + bytes, 0, ggnni_round_up(bytes) - bytes);
}

GGNN_API ggnn_status ggnn_batch_pack(void* memory, const ggnn_batch* b)
{
    GGNNI_REQUIRE(memory && ggnni_is_laid_out(b));
    ggnni_packed header;
    ggnn_batch   to;
    ggnni_pack_header(&header, &to, b, (char*)memory);
    ggnni_copy(memory, &header, 1, sizeof header);
    ggnni_copy(to.id, b->id, to.max_ids, sizeof *to.id);
    ggnni_copy(to.seed_local, b->seed_local, header.seeds, sizeof *to.seed_local);
    for (int32_t h = 0; h < b->num_hops; h++) {
        ggnn_block*       hop = &to.hop[h];
        const ggnn_block* from = &b->hop[h];
        int64_t           edges = header.edges[h];
        ggnni_copy(hop->indptr, from->indptr, header.length[h] + 1, sizeof *hop->indptr);
        ggnni_copy(hop->indices, from->indices, edges, sizeof *hop->indices);
        ggnni_copy(hop->neighbor, from->neighbor, edges, sizeof *hop->neighbor);
        ggnni_copy(hop->position, from->position, edges, sizeof *hop->position);
        ggnni_copy(hop->weight, from->weight, edges, sizeof *hop->weight);
        ggnni_copy(hop->repeats, from->repeats, header.length[h + 1], sizeof *hop->repeats);
    }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_batch_unpack(ggnn_batch* b, void* memory, size_t bytes)
{
    const ggnni_packed* header = (const ggnni_packed*)memory;
    GGNNI_REQUIRE(b && memory);
    memset(b, 0, sizeof *b);
    if (bytes < sizeof *header || !ggnni_is_packed(header) || header->bytes != bytes) return GGNN_ERROR_BLOCK;
    ggnni_lay_out_packed(b, header, (char*)memory);
    return GGNN_OK;
}

// ---- whole graph, transpose, validate -------------------------------------------

// For a block that is read only: its arrays are written where it is sampled or transposed into.
static void* ggnni_unconst(const void* array)
{
    void* same;
    memcpy(&same, &array, sizeof same);
    return same;
}

GGNN_API ggnn_status ggnn_block_whole(ggnn_block* b, const ggnn_graph* g, int64_t* counts, int32_t* copy)
{
    GGNNI_REQUIRE(b && ggnni_graph_given(g) && !g->part && counts);
    GGNNI_REQUIRE(g->num_nodes <= INT32_MAX && g->num_edges <= INT32_MAX);
    GGNNI_REQUIRE(g->num_edges == 0 || copy || sizeof(ggnn_node) == sizeof(int32_t));
    const ggnn_csc* csc = &g->whole;
    memset(b, 0, sizeof *b);
    counts[0] = counts[1] = g->num_nodes, counts[2] = g->num_edges;
    b->num_dst.n = &counts[0], b->num_src.n = &counts[1], b->num_edges.n = &counts[2];
    b->num_dst.max = b->num_src.max = g->num_nodes, b->num_edges.max = g->num_edges;
    b->indptr = (int64_t*)ggnni_unconst(csc->indptr);
    b->weight = (float*)ggnni_unconst(csc->weight);
#ifdef GGNN_NODE64
    for (int64_t e = 0; e < g->num_edges; e++) copy[e] = (int32_t)csc->indices[e];
    b->indices = copy;
#else
    (void)copy;
    b->indices = (int32_t*)ggnni_unconst(csc->indices);
#endif
    return GGNN_OK;
}

GGNN_API size_t ggnn_block_transpose_bytes(int64_t max_dst, int64_t max_src, int64_t max_edges)
{
    if (!ggnni_sizes_local(max_dst, max_src, max_edges)) return 0;
    return ggnni_round_up(3 * sizeof(int64_t)) + ggnni_round_up((size_t)(max_src + 1) * sizeof(int64_t)) +
           2 * ggnni_round_up((size_t)max_edges * sizeof(int32_t));
}

GGNN_API ggnn_status ggnn_block_transpose_init(ggnn_block* t, int64_t max_dst, int64_t max_src,
                                               int64_t max_edges, void* memory)
{
    GGNNI_REQUIRE(t && memory && ggnni_sizes_local(max_dst, max_src, max_edges));
    size_t   used = 0;
    int64_t* counts = (int64_t*)ggnni_carve((char*)memory, &used, 3, sizeof *counts);
    memset(t, 0, sizeof *t);
    t->num_dst.n = &counts[0], t->num_src.n = &counts[1], t->num_edges.n = &counts[2];
    t->num_dst.max = max_src, t->num_src.max = max_dst, t->num_edges.max = max_edges;
    t->indptr = (int64_t*)ggnni_carve((char*)memory, &used, max_src + 1, sizeof *t->indptr);
    t->indices = (int32_t*)ggnni_carve((char*)memory, &used, max_edges, sizeof *t->indices);
    t->edge = (int32_t*)ggnni_carve((char*)memory, &used, max_edges, sizeof *t->edge);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_block_transpose(ggnn_block* t, const ggnn_block* b)
{
    ggnni_sort sort;
    GGNNI_REQUIRE(t && t->indptr && ggnni_block_given(b, 1));
    GGNNI_REQUIRE(*b->num_src.n <= t->num_dst.max && *b->num_dst.n <= t->num_src.max);
    GGNNI_REQUIRE(*b->num_edges.n <= t->num_edges.max);
    *t->num_dst.n = *b->num_src.n, *t->num_src.n = *b->num_dst.n, *t->num_edges.n = *b->num_edges.n;
    t->id = b->id, t->bipartite = b->bipartite;
    memset(&sort, 0, sizeof sort);
    sort.key = b->indices, sort.row = b->indptr;
    sort.num_rows = *b->num_dst.n, sort.num_keys = *b->num_src.n;
    sort.indptr = t->indptr, sort.local = t->indices, sort.edge = t->edge;
    ggnni_sort_run(&sort);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_block_validate(const ggnn_block* b, int64_t num_nodes, ggnn_fault* fault)
{
    if (!b || !b->num_dst.n || !b->num_src.n || !b->num_edges.n || !b->indptr)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no block, or one without sizes", -1, -1);
    const int64_t dst = *b->num_dst.n, src = *b->num_src.n, edges = *b->num_edges.n;
    if (dst < 0 || dst > b->num_dst.max || src < 0 || src > b->num_src.max || edges < 0 ||
        edges > b->num_edges.max)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a size is outside its bound", -1, -1);
    if (b->bipartite && b->id)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a bipartite block has one list of ids for two kinds", -1,
                           -1);
    if (!b->edge && !b->bipartite && b->indices && src < dst)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "fewer sources than targets", -1, -1);
    if (b->indptr[0] != 0) return ggnni_fault(fault, GGNN_ERROR_BLOCK, "indptr does not begin with 0", 0, -1);
    for (int64_t v = 0; v < dst; v++)
        if (b->indptr[v] > b->indptr[v + 1] || b->indptr[v + 1] > edges)
            return ggnni_fault(fault, GGNN_ERROR_BLOCK, "indptr decreases or leaves the edges", v, -1);
    if (b->indptr[dst] != edges)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "indptr does not end with the edges", dst, -1);
    for (int64_t v = 0; v < dst; v++)
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++) {
            if (b->indices && (b->indices[e] < 0 || b->indices[e] >= src))
                return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a local source is out of range", v, e);
            if (b->neighbor && (b->neighbor[e] < 0 || b->neighbor[e] >= num_nodes))
                return ggnni_fault(fault, GGNN_ERROR_ID, "a neighbour's id is out of range", v, e);
            if (b->edge && (b->edge[e] < 0 || b->edge[e] >= edges))
                return ggnni_fault(fault, GGNN_ERROR_BLOCK, "an original edge is out of range", v, e);
        }
    if (!b->indices && !b->neighbor && edges)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "neither indices nor neighbor", -1, -1);
    for (int64_t i = 0; b->id && i < ggnni_max(src, dst); i++)
        if (b->id[i] < 0 || b->id[i] >= num_nodes)
            return ggnni_fault(fault, GGNN_ERROR_ID, "a source's or target's id is out of range", i, -1);
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// Edges per source, compared as by ggnni_each_once: what repeats and indices say must add up, mixed, alike.
static ggnn_status ggnni_check_repeats(const ggnn_block* hop, ggnn_fault* fault)
{
    uint64_t difference = 0;
    for (int64_t u = 0; u < *hop->num_src.n; u++) {
        if (hop->repeats[u] < 0)
            return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a source's repeats are negative", u, -1);
        difference += (uint64_t)hop->repeats[u] * ggnn_mix((uint64_t)u + 1);
    }
    for (int64_t e = 0; e < *hop->num_edges.n; e++) difference -= ggnn_mix((uint64_t)hop->indices[e] + 1);
    if (difference)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "repeats are not the edges of the sources", -1, -1);
    return GGNN_OK;
}

static ggnn_status ggnni_check_hop(const ggnn_batch* b, int32_t h, ggnn_fault* fault)
{
    const ggnn_block* hop = &b->hop[h];
    ggnn_status       status = ggnn_block_validate(hop, b->num_nodes, fault);
    if (status != GGNN_OK) return status;
    if (!ggnni_is_global(&b->how, h) && !hop->indices)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a hop has no indices", -1, -1);
    if (h > 0 && *hop->num_dst.n != *b->hop[h - 1].num_src.n)
        return ggnni_fault(fault, GGNN_ERROR_BLOCK, "targets are not the sources of the hop before", -1, -1);
    return hop->repeats ? ggnni_check_repeats(hop, fault) : GGNN_OK;
}

GGNN_API ggnn_status ggnn_batch_validate(const ggnn_batch* b, ggnn_fault* fault)
{
    if (!ggnni_is_laid_out(b) || b->num_hops < 0 || b->num_hops > b->how.num_hops)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no batch in memory", -1, -1);
    const int64_t distinct = *b->hop[0].num_dst.n;
    for (int64_t i = 0; i < *b->num_seeds.n; i++)
        if (b->seed_local[i] < 0 || b->seed_local[i] >= distinct)
            return ggnni_fault(fault, GGNN_ERROR_BLOCK, "a seed's local id is out of range", i, -1);
    for (int32_t h = 0; h < b->num_hops; h++) {
        const ggnn_status status = ggnni_check_hop(b, h, fault);
        if (status == GGNN_OK) continue;
        if (fault) fault->hop = h;
        return status;
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// ==== [7i] STORE, and the loops that run over rows ========================================================

// A row is read to be copied, summed, compared or multiplied. A few loops do that. They are the only hot code
// of this section and the next: written plainly here, and once more in vectors in [10i].

// ---- the loops: plain -----------------------------------------------------------

enum { // of [7] to [9]; one enum, as C++20 warns of a product of two
    GGNNI_SEGMENT = 256,   // entries whose sum is formed before it is added to the row's
    GGNNI_HEADS = 16,      // heads handled in one pass: bounds the memory of a segment's coefficients
    GGNNI_STREAMED_COLUMNS = 2048, // of rows that are made to be streamed
    // Rows to prefetch ahead of the one in use: up to 16 KiB of them, of sums 8, no more than 32, hide the
    // latency of memory (measured; 64 short rows take a third longer).
    GGNNI_ROWS_AHEAD = 32
};

// Entries of the next segment where `left` are left.
static int32_t ggnni_segment_length(int64_t left) { return (int32_t)ggnni_min(left, GGNNI_SEGMENT); }

typedef struct { // n rows that one loop runs over, `heads` times `width` columns of each
    const char*        base;   // of row i: base + index[i] * pitch,
    int64_t            pitch;  //
    const int32_t*     index;  // (n, and `ahead` more to be prefetched)
    const char* const* row;    // or, not NULL, row[i]: (n, and `ahead` more)
    ggnn_type          type;   // of their elements; F32 where there is an index
    const float*       coef;   // of row i for head k: coef[i * stride + k]; NULL: ones
    int64_t            stride; //
    const int64_t*     indptr; // sums, dots: `lists` lists, of row indptr[0] the first; NULL: one of n rows
    int64_t            ld;     // the next list's out, or x, is so many floats behind
    const char* const* chosen; // sums: chosen[i][j] = offset[i], or row i's element j counts nothing; or NULL
    const int32_t*     offset; //
    const float*       keep;   // sums of one list: what out[] of head k is worth beside its sum; or NULL
    const float*       factor; // sums: of list l and head k, [l * heads + k]; NULL: ones
    int32_t            lists, n, ahead, heads, width;
} ggnni_rows;

typedef struct { // j: a column of head k
    // out[j] = factor[k] * (keep[k] * out[j] + sum over i, in order, of coef[i, k] * row[i][j]), list by list
    void (*sum)(float* out, const ggnni_rows* r);
    // out[j] = greatest of sign * coef[i, k] * row[i][j], times sign; arg[j] = first + i. first > 0: goes on.
    void (*max)(float* out, int32_t* arg, const ggnni_rows* r, int32_t first, float sign);
    // out[i, k] = row[i] . x of its list, of head k; by index, no coef
    void (*dot)(float* out, const float* x, const ggnni_rows* r);
    // out[j] = keep * out[j] + factor * x[j]; x NULL: keep * out[j]
    void (*blend)(float* out, float keep, float factor, const void* x, ggnn_type type, int32_t width);
    // Of n numbers, a multiple of 16, lane i % 16 having one of the other arguments' numbers:
    // x[i] = ggnn_exp2(x[i] - less)
    void (*exp2)(float* x, int64_t n, const float* less);
    // x[i] = LeakyReLU(x[i] + add) * log2 e; most: the greatest of these and of itself
    void (*leaky)(float* x, int64_t n, const float* add, float slope, float* most);
    // ggnn_half_to_float
    void (*widen)(float* out, const uint16_t* half, int64_t n);
    // memcpy of 16-byte pieces, by stores that pass the caches by; GGNNI_STREAMED() before others may read
    void (*stream)(char* out, const char* row, int64_t bytes);
    // ggnn_edge_softmax of a list of n edges that lie side by side, heads a divisor of 16; NULL: has none.
    // Of x so many numbers may be read.
    void (*softmax)(float* out, const float* x, int64_t n, int32_t heads, int64_t readable);
    // draws of Fisher-Yates for several nodes side by side, [4i]
    void (*lanes)(uint32_t (*offset)[GGNNI_LANES], uint64_t key, const uint64_t* stream, uint64_t step,
                  const uint64_t* n, int32_t m);
    // ggnn_philox n times: word (n) of 16 bytes, the i-th of block + i, or of stream + i where by_stream
    void (*words)(void* word, uint64_t key, uint64_t stream, uint64_t step, uint32_t block, int by_stream,
                  int64_t n);
} ggnni_loops;

static float ggnni_load(const void* row, ggnn_type type, int32_t j)
{
    return type == GGNN_F32 ? ((const float*)row)[j] : ggnn_half_to_float(((const uint16_t*)row)[j]);
}

GGNNI_INLINE const char* ggnni_row_of(const ggnni_rows* r, int64_t i)
{
    return r->row ? r->row[i] : r->base + r->index[i] * r->pitch;
}

static int32_t ggnni_list_length(const ggnni_rows* r, int64_t list)
{
    return r->indptr ? (int32_t)(r->indptr[list + 1] - r->indptr[list]) : r->n;
}

// coef[i, k] * row[i][j] of the column j of all heads.
static float ggnni_term(const ggnni_rows* r, int32_t i, int32_t j)
{
    const float x = ggnni_load(ggnni_row_of(r, i), r->type, j);
    return r->coef ? r->coef[i * r->stride + j / r->width] * x : x;
}

static void ggnni_sum_plain(float* out, const ggnni_rows* r)
{
    for (int32_t l = 0, begin = 0, end; l < r->lists; l++, begin = end, out += r->ld) {
        end = begin + ggnni_list_length(r, l);
        for (int32_t j = 0; j < r->heads * r->width; j++) {
            float sum = 0;
            for (int32_t i = begin; i < end; i++)
                if (!r->chosen || ((const int32_t*)(const void*)r->chosen[i])[j] == r->offset[i])
                    sum += ggnni_term(r, i, j);
            if (r->keep) sum += r->keep[j / r->width] * out[j];
            out[j] = r->factor ? sum * r->factor[l * r->heads + j / r->width] : sum;
        }
    }
}

static void ggnni_max_plain(float* out, int32_t* arg, const ggnni_rows* r, int32_t first, float sign)
{
    for (int32_t j = 0; j < r->heads * r->width; j++) {
        float   best = first ? sign * out[j] : 0;
        int32_t best_i = first && arg ? arg[j] : 0;
        for (int32_t i = 0; i < r->n; i++) {
            const float x = sign * ggnni_term(r, i, j);
            // a NaN gives way to any number
            if (first + i == 0 || x > best || (!(best <= best) && x <= x)) {
                best = x;
                best_i = first + i;
            }
        }
        out[j] = sign * best;
        if (arg) arg[j] = best_i;
    }
}

// 16 partial sums, of a head's columns 0, 16, 32 .., of 1, 17, 33 .., as vectors of any width can do alike.
static void ggnni_dot_plain(float* out, const float* x, const ggnni_rows* r)
{
    for (int32_t l = 0, i = 0, end = 0; l < r->lists; l++, x += r->ld)
        for (end += ggnni_list_length(r, l); i < end; i++)
            for (int32_t k = 0; k < r->heads; k++) {
                float part[16] = {0};
                for (int32_t j = k * r->width; j < (k + 1) * r->width; j++)
                    part[(j - k * r->width) & 15] += ggnni_load(ggnni_row_of(r, i), r->type, j) * x[j];
                for (int32_t half = 8; half; half /= 2)
                    for (int32_t j = 0; j < half; j++) part[j] += part[j + half];
                *out++ = part[0];
            }
}

static void ggnni_blend_plain(float* out, float keep, float factor, const void* x, ggnn_type type,
                              int32_t width)
{
    for (int32_t j = 0; j < width; j++) out[j] *= keep;
    for (int32_t j = 0; j < width && x; j++) out[j] += factor * ggnni_load(x, type, j);
}

// 2^x = 2^n * 2^r, n the nearest integer: adding 1.5 * 2^23 leaves it in the low bits of the sum. 2^r, |r| <=
// 1/2, is 1 + r * (a polynomial of degree 5, by least squares reweighted to equal relative errors, 2e-8).
GGNN_API float ggnn_exp2(float x)
{
    const float magic = 12582912.0f;
    float       shifted = x + magic, r = x - (shifted - magic), p;
    uint32_t    n, bits;
    if (!(x >= -126.0f)) return x <= x ? 0.0f : x;
    if (x >= 128.0f) return INFINITY;
    p = 0.00015353362f * r + 0.0013398875f;
    p = p * r + 0.00961843692f;
    p = p * r + 0.0555033237f;
    p = p * r + 0.240226477f;
    p = p * r + 0.693147182f;
    p = p * r + 1.0f;
    memcpy(&n, &shifted, sizeof n);
    memcpy(&bits, &p, sizeof bits);
    bits += n << 23; // what magic itself has there is shifted out
    memcpy(&p, &bits, sizeof p);
    return p;
}

static void ggnni_exp2_plain(float* x, int64_t n, const float* less)
{
    for (int64_t i = 0; i < n; i++) x[i] = ggnn_exp2(x[i] - less[i % 16]);
}

static const float ggnni_log2_e = 1.44269504f;

static void ggnni_leaky_plain(float* x, int64_t n, const float* add, float slope, float* most)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = x[i] + add[i % 16];
        x[i] = (sum > 0 ? sum : slope * sum) * ggnni_log2_e;
        if (x[i] > most[i % 16]) most[i % 16] = x[i];
    }
}

static const float ggnni_zeros[16] = {0};
static const float ggnni_ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int32_t ggnni_places[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Sixteen lanes that are heads 0 .. heads - 1, a power of two, again and again: as the first of each head is.
GGNNI_INLINE void ggnni_repeat_heads(float lane[16], int32_t heads)
{
    for (; heads < 4; heads *= 2)
        for (int32_t k = 0; k < heads; k++) lane[heads + k] = lane[k];
    for (int32_t k = heads; k < 16; k += 4) memcpy(lane + k, lane + k - heads, 4 * sizeof *lane);
}

// The first lane of each head becomes the greatest of all of its.
GGNNI_INLINE void ggnni_fold_greatest(float lane[16], int32_t heads)
{
    for (int32_t half = 8; half >= heads; half /= 2)
        for (int32_t k = 0; k < half; k++) lane[k] = lane[k + half] > lane[k] ? lane[k + half] : lane[k];
}

// Of a segment of n edges' numbers, heads side by side: total = keep * total + their sum, in edge order.
GGNNI_INLINE void ggnni_sum_heads(float* total, const float* keep, const float* x, int64_t n, int32_t heads)
{
    for (int32_t k = 0, most; k < heads; k += most) {
        float part[4] = {0};
        most = heads < 4 ? 1 : 4;
        if (most == 4)
            for (int64_t e = 0; e < n; e++)
                for (int32_t j = 0; j < 4; j++) part[j] += x[e * heads + k + j];
        else
            for (int64_t e = 0; e < n; e++) part[0] += x[e * heads + k];
        for (int32_t j = k; j < k + most; j++) total[j] = keep[j] * total[j] + part[j - k];
    }
}

static void ggnni_widen_plain(float* out, const uint16_t* half, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = ggnn_half_to_float(half[i]);
}

static void ggnni_stream_plain(char* out, const char* row, int64_t bytes) { memcpy(out, row, (size_t)bytes); }

static void ggnni_words_plain(void* word, uint64_t key, uint64_t stream, uint64_t step, uint32_t block,
                              int by_stream, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        ggnn_words one = by_stream ? ggnn_philox(key, stream + (uint64_t)i, step << 32 | block)
                                   : ggnn_philox(key, stream, step << 32 | (block + (uint32_t)i));
        memcpy((char*)word + i * (int64_t)sizeof one, &one, sizeof one);
    }
}

static const ggnni_loops ggnni_plain = {
    ggnni_sum_plain, ggnni_max_plain, ggnni_dot_plain, ggnni_blend_plain, ggnni_exp2_plain,
    ggnni_leaky_plain, ggnni_widen_plain, ggnni_stream_plain, NULL, ggnni_lanes_plain, ggnni_words_plain};

// ---- the loops: in vectors --------------------------------------------------------
// Written once, in [10i]; compiled here for each instruction set, whatever the caller's compiler flags are.

#if !defined(GGNN_NO_SIMD) && !defined(__CUDACC__) &&                                                        \
    (defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)) &&                                          \
    defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define GGNNI_SIMD
#ifdef __x86_64__
#include <immintrin.h>
#endif
// gcc for Windows does not align the stack for registers of 32 bytes (its bug 54412).
#if defined(__x86_64__) && (!defined(_WIN32) || defined(__clang__))
#define GGNNI_AVX
#endif
#ifdef __clang__
#define GGNNI_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GGNNI_UNROLL _Pragma("GCC unroll 16")
#endif
#define ggnni_sum_1 ggnni_sum_plain
#define ggnni_max_1 ggnni_max_plain
#define ggnni_blend_1 ggnni_blend_plain
#define ggnni_words_1 ggnni_words_plain
#define ggnni_widen_1 ggnni_widen_plain

#define GGNN_SIMD_WIDTH 4
#define GGNN_SIMD_NARROWER 1
#include GGNN_HEADER
#if !defined(GGNNI_LOOPS_VERSION) || GGNNI_LOOPS_VERSION != GGNN_VERSION_NUMBER
#error "GGNN_HEADER names another version of ggnn.h: define it as this file's name"
#endif

#ifdef GGNNI_AVX
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define GGNN_SIMD_WIDTH 8
#define GGNN_SIMD_NARROWER 4
#include GGNN_HEADER
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx2,avx512f,avx512dq,avx512bw,avx512vl"))),             \
                             apply_to = function)
#else
#pragma GCC target("avx2,avx512f,avx512dq,avx512bw,avx512vl")
#endif
#define GGNN_SIMD_WIDTH 16
#define GGNN_SIMD_NARROWER 8
#include GGNN_HEADER
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
#endif // GGNNI_SIMD
#if defined(GGNNI_SIMD) && defined(__x86_64__)
#define GGNNI_STREAMED() _mm_sfence()
#else
#define GGNNI_STREAMED() ((void)0)
#endif

// The best that the machine and GGNN_SIMD_LEVEL allow; asked at an op's entry: no state is set up.
static const ggnni_loops* ggnni_choose_loops(void)
{
#ifdef GGNNI_SIMD
    int ggnni_level = GGNN_SIMD_LEVEL();
#ifdef GGNNI_AVX
    if (ggnni_level >= 3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &ggnni_loops_16;
    if (ggnni_level >= 2 && __builtin_cpu_supports("avx2")) return &ggnni_loops_8;
#endif
    if (ggnni_level >= 1) return &ggnni_loops_4;
#endif
    return &ggnni_plain;
}

static void ggnni_lanes(uint32_t (*offset)[GGNNI_LANES], uint64_t key, const uint64_t* stream, uint64_t step,
                        const uint64_t* n, int32_t m)
{
    ggnni_choose_loops()->lanes(offset, key, stream, step, n, m);
}

GGNN_API ggnn_status ggnn_random_nodes(ggnn_words* word, const ggnn_rng* rng, int32_t hop, int64_t first,
                                       int64_t nodes, uint32_t block)
{
    GGNNI_REQUIRE(ggnni_keys(rng, hop, nodes) && (nodes == 0 || word));
    GGNNI_REQUIRE(ggnni_node_given(first) && nodes <= ((int64_t)1 << 48) - first);
    if (nodes == 0) return GGNN_OK;
    ggnni_choose_loops()->words(word, rng->seed, ggnn_stream(rng->purpose, hop, first), rng->step, block, 1,
                                nodes);
    return GGNN_OK;
}

// The fields are the words' bytes, as they lie where the least comes first.
GGNN_API ggnn_status ggnn_dropout_fields(uint16_t* field, const ggnn_rng* rng, int32_t hop, int64_t node,
                                         uint32_t first, int64_t blocks)
{
    GGNNI_REQUIRE(ggnni_keys(rng, hop, blocks) && ggnni_node_given(node) && (blocks == 0 || field));
    if (blocks == 0) return GGNN_OK;
    ggnni_choose_loops()->words(field, rng->seed, ggnn_stream(rng->purpose, hop, node), rng->step, first, 0,
                                blocks);
// (A compiler that does not say which comes first is taken for one of a little-endian machine.)
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int64_t i = 0; i < 8 * blocks; i += 2) {
        uint16_t high = field[i];
        field[i] = field[i + 1];
        field[i + 1] = high;
    }
#endif
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_exp2_array(float* x, int64_t n)
{
    GGNNI_REQUIRE(n >= 0 && (n == 0 || x));
    ggnni_choose_loops()->exp2(x, n & ~15, ggnni_zeros);
    ggnni_exp2_plain(x + (n & ~15), n & 15, ggnni_zeros);
    return GGNN_OK;
}

// ---- rows by pointer table ---------------------------------------------------------

// Rows are read from slots in an order that depends on the ids alone, so counting apart from copying gives
// the same counts for any number of threads, with no atomics; who counts pays for the second look-up.
static void ggnni_count_row(const ggnn_store* from, int64_t v)
{
    from->traffic[ggnn_locate(&from->at, v).slot]++;
}

static void ggnni_narrow(uint16_t* half, const float* row, int32_t width)
{
    for (int32_t j = 0; j < width; j++) half[j] = ggnn_float_to_half(row[j]);
}

static int32_t ggnni_rows_ahead(int64_t row_bytes)
{
    return (int32_t)ggnni_max(4, ggnni_min(GGNNI_ROWS_AHEAD, 16384 / (row_bytes + 1)));
}

// Each line of it; a row that does not begin with a line may end in one more.
GGNNI_PREFETCHES void ggnni_prefetch_row(const char* row, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i += 64) GGNNI_PREFETCH(row + i);
    if (ggnni_off_lines(row, bytes)) GGNNI_PREFETCH(row + bytes - 1);
}

enum { GGNNI_CACHES_KEEP = 8 << 20 }; // bytes of rows that caches are to keep for who reads them next

// Whether n rows are to be written by ggnni_loops.stream: more than that, and of 16-byte pieces.
static int ggnni_past_caches(const void* out, int64_t pitch, int64_t n, int64_t row_bytes)
{
    return n * pitch > GGNNI_CACHES_KEEP &&
           ((uintptr_t)out | (uintptr_t)pitch | (uintptr_t)row_bytes) % 16 == 0;
}

typedef struct {
    char*              out;
    int64_t            pitch_out;
    ggnn_type          as;
    const ggnn_store*  from;
    const ggnn_node*   id;
    const int64_t*     position; // of edges, in place of id
    const int64_t*     mark;     // in place of both
    int                past_caches;
    const ggnni_loops* loops;
} ggnni_gather;

enum { GGNNI_BY_ID, GGNNI_BY_POSITION, GGNNI_BY_MARK };

GGNNI_INLINE const char* ggnni_gathered_row(const ggnni_gather* s, int64_t i, int by)
{
    if (by == GGNNI_BY_ID) return (const char*)ggnn_row(s->from, s->id[i]);
    if (by == GGNNI_BY_POSITION) return (const char*)ggnn_row(s->from, s->position[i]);
    ggnn_place at = ggnn_marked(s->mark[i]);
    return (const char*)(s->from->base ? s->from->base[at.slot] : s->from->rows) + at.row * s->from->pitch;
}

GGNNI_INLINE void ggnni_gather_row(const ggnni_gather* s, char* out, const char* row)
{
    int64_t bytes = s->from->width * ggnn_type_bytes(s->from->type);
    if (s->as != s->from->type && s->as == GGNN_F32)
        s->loops->widen((float*)(void*)out, (const uint16_t*)(const void*)row, s->from->width);
    else if (s->as != s->from->type)
        ggnni_narrow((uint16_t*)(void*)out, (const float*)(const void*)row, s->from->width);
    else if (s->past_caches) s->loops->stream(out, row, bytes);
    else memcpy(out, row, (size_t)bytes);
}

// by: a constant, so that there are three loops without a branch per row.
GGNNI_INLINE void ggnni_gather_piece_by(const ggnni_gather* s, int64_t begin, int64_t end, int by)
{
    int64_t     bytes = s->from->width * ggnn_type_bytes(s->from->type), ahead = ggnni_rows_ahead(bytes);
    const char* row[GGNNI_ROWS_AHEAD]; // a ring
    for (int64_t i = begin - ahead; i < end; i++) {
        const char*  now = i < begin ? NULL : row[i & (GGNNI_ROWS_AHEAD - 1)]; // next may take its place
        const char** next = &row[(i + ahead) & (GGNNI_ROWS_AHEAD - 1)];
        if (i + ahead < end) {
            *next = ggnni_gathered_row(s, i + ahead, by);
            ggnni_prefetch_row(*next, bytes);
        }
        if (now) ggnni_gather_row(s, s->out + i * s->pitch_out, now);
    }
    GGNNI_STREAMED();
}

GGNNI_HOT void ggnni_gather_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_gather* s = (const ggnni_gather*)context;
    if (s->mark) ggnni_gather_piece_by(s, begin, end, GGNNI_BY_MARK);
    else if (s->position) ggnni_gather_piece_by(s, begin, end, GGNNI_BY_POSITION);
    else ggnni_gather_piece_by(s, begin, end, GGNNI_BY_ID);
}

// By id, by position or by mark: the others are NULL.
static ggnn_status ggnni_gather_rows(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                     const ggnn_node* id, const int64_t* position, const int64_t* mark,
                                     int64_t n)
{
    GGNNI_REQUIRE(n >= 0 && ggnni_store_given(from, n) && ggnni_type_known(as));
    GGNNI_REQUIRE(n == 0 || id || position || mark);
    GGNNI_REQUIRE(ggnni_matrix_given(out, ld_out, n, from->width));
    ggnni_gather s = {(char*)out, ld_out * ggnn_type_bytes(as), as, from, id, position, mark, 0,
                      ggnni_choose_loops()};
    s.past_caches = ggnni_past_caches(out, s.pitch_out, n, from->width * ggnn_type_bytes(from->type));
    ggnni_run(n, ggnni_pieces(n * s.pitch_out, 1 << 15), ggnni_gather_piece, &s);
    if (from->traffic)
        for (int64_t i = 0; i < n; i++) {
            if (mark) from->traffic[ggnn_marked(mark[i]).slot]++;
            else ggnni_count_row(from, position ? position[i] : (int64_t)id[i]);
        }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                 const ggnn_node* id, int64_t n)
{
    return ggnni_gather_rows(out, ld_out, as, from, id, NULL, NULL, n);
}

GGNN_API ggnn_status ggnn_gather_edges(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                       const int64_t* position, int64_t n)
{
    GGNNI_REQUIRE(from && ggnni_edges_ranked(from));
    return ggnni_gather_rows(out, ld_out, as, from, NULL, position, NULL, n);
}

GGNN_API ggnn_status ggnn_gather_marked(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                        const int64_t* mark, int64_t n)
{
    return ggnni_gather_rows(out, ld_out, as, from, NULL, NULL, mark, n);
}

typedef struct {
    int64_t*           mark;
    const ggnn_layout* at;
    const ggnn_node*   id;
} ggnni_marks;

static void ggnni_mark_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_marks* s = (const ggnni_marks*)context;
    for (int64_t i = begin; i < end; i++)
        s->mark[i] = ggnn_mark_of(ggnn_locate(s->at, (int64_t)s->id[i]));
}

GGNN_API ggnn_status ggnn_mark(int64_t* mark, const ggnn_layout* at, const ggnn_node* id, int64_t n)
{
    GGNNI_REQUIRE(at && ggnni_slots_marked(at->parts) && n >= 0 && (n == 0 || (mark && id)));
    ggnni_marks s = {mark, at, id};
    ggnni_run(n, ggnni_pieces(n, 1 << 12), ggnni_mark_piece, &s);
    return GGNN_OK;
}

// A counting sort by owner. While ids are placed, bound[s] is where slot s's next id goes: at last its end.
GGNN_API ggnn_status ggnn_split(int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at,
                                const ggnn_node* id, int64_t n)
{
    GGNNI_REQUIRE(at && ggnni_parts_given(at->parts) && bound && n >= 0 && n <= INT32_MAX);
    GGNNI_REQUIRE((n == 0 || (gather && scatter && id)));
    int32_t slots = at->parts + 2;
    memset(bound, 0, ((size_t)slots + 1) * sizeof *bound);
    for (int64_t i = 0; i < n; i++) bound[ggnn_locate(at, id[i]).slot + 1]++;
    ggnni_prefix_sum(bound, slots);
    for (int64_t i = 0; i < n; i++) {
        int64_t place = bound[ggnn_locate(at, id[i]).slot]++;
        gather[place] = (int32_t)i;
        scatter[i] = (int32_t)place;
    }
    for (int32_t s = slots; s > 0; s--) bound[s] = bound[s - 1];
    bound[0] = 0;
    return GGNN_OK;
}

typedef struct {
    char*          out;
    const char*    inp;
    int64_t        pitch_out, pitch_inp, bytes;
    const int32_t* index;
} ggnni_permute;

static void ggnni_permute_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_permute* s = (const ggnni_permute*)context;
    for (int64_t i = begin; i < end; i++)
        memcpy(s->out + i * s->pitch_out, s->inp + s->index[i] * s->pitch_inp, (size_t)s->bytes);
}

GGNN_API ggnn_status ggnn_permute(void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type,
                                  int32_t width, const int32_t* index, int64_t n)
{
    GGNNI_REQUIRE(n >= 0 && ggnni_type_known(type) && (n == 0 || index));
    GGNNI_REQUIRE(ggnni_matrix_given(out, ld_out, n, width) && ggnni_matrix_given(inp, ld_inp, n, width));
    int64_t       size = ggnn_type_bytes(type);
    ggnni_permute s = {(char*)out, (const char*)inp, ld_out * size, ld_inp * size, width * size, index};
    ggnni_run(n, ggnni_pieces(n * s.bytes, 1 << 15), ggnni_permute_piece, &s);
    return GGNN_OK;
}

// ==== [8i] SPARSE =========================================================================================

// How all the ops work. A target's list is cut into segments of 256 entries; short lists share one. A reader
// says where the rows are that a segment's entries name - in a matrix or in a store, and those of the lists
// to come, for prefetching - and one of the loops of [7i] runs over them: sum, max, dot. The loops know
// nothing of blocks, so there are few of them, and every op that sums rows sums them alike.

// ---- sums in segments -------------------------------------------------------------

typedef struct { float total, part; int32_t n; } ggnni_sum; // of single numbers

static void ggnni_add(ggnni_sum* s, float x)
{
    if (s->n == GGNNI_SEGMENT) {
        s->total += s->part;
        s->part = 0;
        s->n = 0;
    }
    s->part += x;
    s->n++;
}
static float ggnni_total(const ggnni_sum* s) { return s->total + s->part; }

// ---- lists ----------------------------------------------------------------------------

static int64_t ggnni_edge(const ggnn_block* b, int64_t e) { return b->edge ? b->edge[e] : e; }

// Where rows are: u at base + u * pitch, or in a store by global id.
typedef struct {
    const char*       base;
    int64_t           pitch;
    const ggnn_store* from; // NULL: base
    int64_t           byte; // of its rows, where a pass begins
} ggnni_source;

static ggnni_source ggnni_matrix(const float* v, int64_t ld)
{
    ggnni_source s = {(const char*)v, ld * (int64_t)sizeof *v, NULL, 0};
    return s;
}

static ggnni_rows ggnni_rows_of(ggnni_source from, ggnn_type type, int32_t heads, int32_t width)
{
    ggnni_rows rows;
    memset(&rows, 0, sizeof rows);
    rows.base = from.base, rows.pitch = from.pitch, rows.type = type;
    rows.lists = 1, rows.heads = heads, rows.width = width;
    return rows;
}

// Global ids: of a local id; of the source of edge e.
static int64_t ggnni_id(const ggnn_block* b, int64_t i) { return b->id ? (int64_t)b->id[i] : i; }
static int64_t ggnni_source_id(const ggnn_block* b, int64_t e)
{
    return b->neighbor ? (int64_t)b->neighbor[e] : ggnni_id(b, b->indices[e]);
}

// Reads lists in order, by segments. Of a matrix, a list of a row below with_self begins with the row itself.
typedef struct {
    const ggnn_block* b;
    ggnni_source      source;
    const float*      factor; // of a store's rows by global id: prefetched with them; or NULL
    int64_t           with_self, edges; // edges in all
    int32_t           ahead;
    int32_t           own[GGNNI_SEGMENT + GGNNI_ROWS_AHEAD]; // a first segment: a row itself, its list, more
    const char*       row[GGNNI_SEGMENT + GGNNI_ROWS_AHEAD]; // addresses of a store's
} ggnni_reader;

static void ggnni_reader_init(ggnni_reader* r, const ggnn_block* b, ggnni_source source, int64_t with_self,
                              int64_t row_bytes)
{
    r->b = b, r->source = source, r->factor = NULL, r->with_self = with_self;
    r->edges = ggnni_edges_of(b), r->ahead = ggnni_rows_ahead(2 * row_bytes);
}

// The addresses of a store's rows: of n edges from e on. What the factors of their ids need is fetched, too.
GGNNI_APART const char* const* ggnni_take(ggnni_reader* r, int64_t e, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t id = ggnni_source_id(r->b, e + i);
        r->row[i] = (const char*)ggnn_row(r->source.from, id) + r->source.byte;
        if (r->factor) GGNNI_PREFETCH(&r->factor[id]);
    }
    return r->row;
}

// As many whole lists from v on as make a segment, `most` at most; a longer list is alone, in segments.
GGNNI_INLINE int32_t ggnni_some_lists(ggnni_rows* rows, const ggnni_reader* r, int64_t v, int64_t most)
{
    const int64_t* indptr = r->b->indptr + v;
    int32_t        lists = 0;
    while (lists < most && indptr[lists + 1] - indptr[0] <= GGNNI_SEGMENT) lists++;
    rows->indptr = lists ? indptr : NULL;
    return rows->lists = lists ? lists : 1;
}

// The segment of the lists from v on, from entry `first` on; 0: none is left.
GGNNI_INLINE int ggnni_segment(ggnni_rows* rows, ggnni_reader* r, int64_t v, int64_t first)
{
    const int64_t self = v < r->with_self, e = r->b->indptr[v] + first - self;
    const int64_t left = r->b->indptr[v + rows->lists] - e;
    if (left <= 0) return 0;
    rows->n = ggnni_segment_length(left);
    rows->ahead = (int32_t)ggnni_min(r->ahead, r->edges - e - rows->n);
    if (r->source.from) rows->row = ggnni_take(r, e, rows->n + rows->ahead);
    else rows->index = first < self ? r->own : r->b->indices + e;
    if (first >= self) return 1;
    r->own[0] = (int32_t)v;
    const int32_t others = rows->n - 1 + rows->ahead;
    if (others > 0) memcpy(r->own + 1, r->b->indices + e + 1, (size_t)others * sizeof *r->own);
    return 1;
}

// ---- aggregation ------------------------------------------------------------------------

typedef struct {
    float*             out;
    int64_t            ld_out;
    int32_t*           arg;
    int64_t            ld_arg;
    ggnn_reduce        how;
    const ggnn_block*  b;
    ggnn_scale         scale;
    const float*       weight;
    int32_t            stride, heads, width; // of weight; of this pass; of a head
    ggnni_source       source;
    ggnn_type          type;
    const ggnn_block*  forward; // backward of MAX, MIN: b is its transpose, and
    const int32_t*     chosen;  // the arg that it left, of ld_arg
    ggnni_source       edge;    // rows of edges, of messages
    ggnn_message       message; //
    ggnni_body*        body;    // ggnni_spmm_piece, ggnni_messages_piece
    int64_t            hub;     // lists of so many edges are ggnni_reduce_hubs'
    const ggnni_loops* loops;
} ggnni_spmm;

// The edge of which e of b is a copy, as weights are indexed.
static int64_t ggnni_weighted_edge(const ggnni_spmm* s, int64_t e)
{
    e = ggnni_edge(s->b, e);
    return s->forward ? ggnni_edge(s->forward, e) : e;
}

// Coefficients of a segment's edges, weight * src: where they lie, or in buffer; NULL for ones.
GGNNI_INLINE const float* ggnni_coefficients(const ggnni_spmm* s, float* buffer, int64_t begin, int32_t n,
                                             int64_t* stride)
{
    *stride = s->stride;
    if (!s->scale.src && !s->weight) return NULL;
    if (!s->scale.src && !s->b->edge && !s->forward) return s->weight + begin * s->stride;
    *stride = s->heads;
    for (int32_t i = 0; i < n; i++) {
        int64_t      e = begin + i;
        const float* weight = s->weight ? s->weight + ggnni_weighted_edge(s, e) * s->stride : NULL;
        float        src = 1;
        if (s->scale.src) src = s->scale.src[s->source.from ? ggnni_source_id(s->b, e) : s->b->indices[e]];
        for (int32_t k = 0; k < s->heads; k++) buffer[i * s->heads + k] = weight ? weight[k] * src : src;
    }
    return buffer;
}

// The greatest of a segment's rows, list by list; of a list without any 0, and no edge.
static void ggnni_max_lists(const ggnni_spmm* s, float* out, int32_t* arg, const ggnni_rows* rows,
                            int64_t first)
{
    const int32_t columns = s->heads * s->width;
    ggnni_rows    list = *rows;
    for (int32_t l = 0; l < rows->lists; l++, out += rows->ld, arg += arg ? s->ld_arg : 0) {
        list.n = ggnni_list_length(rows, l);
        if (list.n == 0) {
            memset(out, 0, (size_t)columns * sizeof *out);
            if (arg) memset(arg, 0xff, (size_t)columns * sizeof *arg);
            continue;
        }
        s->loops->max(out, arg, &list, (int32_t)first, s->how == GGNN_MAX ? 1.0f : -1.0f);
        if (list.row) list.row += list.n;
        else list.index += list.n;
        if (list.coef) list.coef += list.n * list.stride;
    }
}

// Goes on with the sums or the greatest of `first` entries by a segment's rows, of the lists from v on.
static void ggnni_reduce_rows(const ggnni_spmm* s, float* out, int32_t* arg, ggnni_rows* rows,
                              int64_t v, int64_t first)
{
    const int64_t* indptr = s->b->indptr + v;
    float          factor[GGNNI_SEGMENT * GGNNI_HEADS]; // of whole lists; an empty one's is nobody's
    rows->keep = first ? ggnni_ones : NULL;
    rows->factor = NULL;
    if ((s->scale.dst || s->how == GGNN_MEAN) && first + rows->n == indptr[rows->lists] - indptr[0]) {
        for (int32_t l = 0; l < rows->lists; l++) {
            const int64_t n = indptr[l + 1] - indptr[l];
            const float   one = n == 0 ? 1.0f : s->scale.dst ? s->scale.dst[v + l] : 1.0f / (float)n;
            for (int32_t k = 0; k < rows->heads; k++) factor[l * rows->heads + k] = one;
        }
        rows->factor = factor;
    }
    if (s->how == GGNN_MAX || s->how == GGNN_MIN) ggnni_max_lists(s, out, arg, rows, first);
    else s->loops->sum(out, rows);
}

// What the targets of a segment say they chose, and the offsets by which they would name its source.
static void ggnni_choose(const char** number, int32_t* offset, const ggnni_spmm* s, int64_t e, int32_t n)
{
    for (int32_t i = 0; i < n; i++, e++) {
        int64_t v = s->b->indices[e];
        number[i] = (const char*)(s->chosen + v * s->ld_arg);
        offset[i] = (int32_t)(ggnni_edge(s->b, e) - s->forward->indptr[v]);
    }
}

// Targets that are sources too: all of a global hop, whose sources are not numbered.
static int64_t ggnni_own_rows(const ggnn_block* b)
{
    const int numbered = b->indices || !b->neighbor; // (a block without edges may have neither)
    return numbered ? ggnni_min(*b->num_dst.n, *b->num_src.n) : *b->num_dst.n;
}

// The target's own row, which scale.self adds; NULL: none.
static const char* ggnni_own_row(const ggnni_spmm* s, int64_t v)
{
    if (!s->scale.self || v >= ggnni_own_rows(s->b)) return NULL;
    return s->source.from ? (const char*)ggnn_row(s->source.from, ggnni_id(s->b, v)) + s->source.byte
                          : s->source.base + v * s->source.pitch;
}

// In a store own rows lie anywhere; in a matrix one behind the other, which needs no hint.
GGNNI_PREFETCHES void ggnni_prefetch_own_row(const ggnni_spmm* s, int64_t v)
{
    const char* own = s->source.from && v < *s->b->num_dst.n ? ggnni_own_row(s, v) : NULL;
    if (own) ggnni_prefetch_row(own, (int64_t)s->width * ggnn_type_bytes(s->type));
}

GGNNI_INLINE void ggnni_add_own(const ggnni_spmm* s, float* out, int64_t v)
{
    const char* own = ggnni_own_row(s, v);
    if (own) s->loops->blend(out, 1.0f, s->scale.self[v], own, s->type, s->heads * s->width);
}

static void ggnni_spmm_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_spmm* s = (const ggnni_spmm*)context;
    const int32_t     width = s->heads * s->width;
    ggnni_rows        rows = ggnni_rows_of(s->source, s->type, s->heads, s->width);
    float             coef[GGNNI_SEGMENT * GGNNI_HEADS], made[GGNNI_STREAMED_COLUMNS]; // to be streamed
    ggnni_reader      reader;
    const char*       number[GGNNI_SEGMENT]; // for ggnni_choose
    int32_t           offset[GGNNI_SEGMENT]; //
    const int         past_caches = width <= GGNNI_STREAMED_COLUMNS &&
                            ggnni_past_caches(s->out, s->ld_out * 4, *s->b->num_dst.n, width * 4);
    const int64_t     most = past_caches ? GGNNI_STREAMED_COLUMNS / width : GGNNI_SEGMENT; // lists at a time
    ggnni_reader_init(&reader, s->b, s->source, 0, width * ggnn_type_bytes(s->type));
    if (s->source.from) reader.factor = s->scale.src;
    rows.ld = past_caches ? width : s->ld_out;
    if (s->chosen) rows.chosen = number, rows.offset = offset;
    for (int64_t v = begin, some; v < end; v += some) {
        float* to = s->out + v * s->ld_out, *out = past_caches ? made : to;
        some = ggnni_some_lists(&rows, &reader, v, ggnni_min(most, end - v));
        if (s->b->indptr[v + 1] - s->b->indptr[v] >= s->hub) continue;
        for (int64_t l = 0; l < some; l++) ggnni_prefetch_own_row(s, v + some + l);
        int64_t first = rows.n = 0; // of lists that are all empty
        do {
            const int64_t e = s->b->indptr[v] + first;
            ggnni_segment(&rows, &reader, v, first);
            rows.coef = ggnni_coefficients(s, coef, e, rows.n, &rows.stride);
            if (s->chosen) ggnni_choose(number, offset, s, e, rows.n);
            ggnni_reduce_rows(s, out, s->arg ? s->arg + v * s->ld_arg : NULL, &rows, v, first);
        } while ((first += rows.n) < s->b->indptr[v + some] - s->b->indptr[v]);
        for (int64_t l = 0; l < some; l++, out += rows.ld, to += s->ld_out) {
            ggnni_add_own(s, out, v + l);
            if (past_caches) s->loops->stream((char*)to, (const char*)out, width * 4);
        }
    }
    GGNNI_STREAMED();
}

// A list makes a piece two fifths longer at most; a thread has eight or more. Of longer ones, hubs, segments
// are reduced side by side, each as if it were a list, and joined in order.
static int64_t ggnni_hub(const ggnn_block* b, int32_t width, int64_t most_pieces)
{
    const int64_t pieces = ggnni_min(ggnni_list_pieces(b, width), most_pieces);
    return pieces == 1 ? INT64_MAX : ggnni_max(4 * GGNNI_SEGMENT, 2 * ggnni_work(b) / (5 * pieces));
}

// The greatest of segments join those before them, as if list v's entries were seen one by one.
static void ggnni_join_greatest(const ggnni_spmm* s, int64_t v, const ggnni_spmm* segments)
{
    const float sign = s->how == GGNN_MAX ? 1.0f : -1.0f, *x = segments->out;
    float*      out = s->out + v * s->ld_out;
    for (int64_t i = 0, at = 0; i < *segments->b->num_dst.n; i++) {
        const int64_t first = segments->b->indptr[i] - s->b->indptr[v];
        for (int64_t j = 0; j < s->heads * s->width; j++, at++) {
            if (first > 0 && (x[at] * sign <= out[j] * sign || !(x[at] <= x[at]))) continue;
            out[j] = x[at];
            if (s->arg) s->arg[v * s->ld_arg + j] = (int32_t)first + segments->arg[at];
        }
    }
}

// Where a hub's edges cost up to nine times others': lists that would keep eight and more threads waiting.
static int64_t ggnni_costly_hub(const ggnn_block* b, int32_t width)
{
    const int64_t hub = GGNN_THREADS < 8 ? INT64_MAX : ggnni_hub(b, width, GGNN_THREADS);
    return ggnni_max(hub, (1 << 16) / (width + 4));
}

static void ggnni_reduce_hubs(ggnni_spmm* s, float* sum, int32_t* arg, int64_t room)
{
    const int32_t width = s->heads * s->width, greatest = s->how == GGNN_MAX || s->how == GGNN_MIN;
    const int64_t half = room / 2, most = (greatest ? half : room) / width; // an arg for each of the greatest
    const int64_t dst = *s->b->num_dst.n, hub = most < 16 ? INT64_MAX : ggnni_hub(s->b, width, INT64_MAX);
    int64_t       indptr[GGNNI_SEGMENT + 1], n;
    ggnn_block    segments = *s->b;
    ggnni_spmm    pass = *s;
    s->hub = hub, pass.hub = INT64_MAX;
    segments.indptr = indptr, segments.num_dst.n = &n;
    pass.b = &segments, pass.out = sum, pass.ld_out = width;
    pass.arg = s->arg ? arg + half : NULL, pass.ld_arg = width;
    pass.how = greatest ? s->how : GGNN_SUM, pass.scale.dst = pass.scale.self = NULL;
    for (int64_t v = ggnni_next_hub(s->b, 0, hub); v < dst; v = ggnni_next_hub(s->b, v + 1, hub)) {
        const int64_t edges = s->b->indptr[v + 1] - s->b->indptr[v];
        const float   mean = s->how == GGNN_MEAN ? 1.0f / (float)edges : 1.0f;
        float*        out = s->out + v * s->ld_out;
        for (int64_t first = 0; first < edges; first = indptr[n] - s->b->indptr[v]) {
            indptr[0] = s->b->indptr[v] + first;
            for (n = 0; n < ggnni_min(most, GGNNI_SEGMENT) && indptr[n] < s->b->indptr[v + 1]; n++)
                indptr[n + 1] = ggnni_min(indptr[n] + GGNNI_SEGMENT, s->b->indptr[v + 1]);
            ggnni_run(n, n, s->body, &pass);
            if (greatest) ggnni_join_greatest(s, v, &pass);
            else if (first == 0) memcpy(out, sum, (size_t)width * sizeof *out);
            for (int64_t i = first == 0; i < n && !greatest; i++)
                s->loops->blend(out, 1.0f, 1.0f, sum + i * width, GGNN_F32, width);
        }
        s->loops->blend(out, s->scale.dst ? s->scale.dst[v] : mean, 0.0f, NULL, GGNN_F32, width);
        ggnni_add_own(s, out, v);
    }
}

GGNNI_APART void ggnni_hubs_of_rows(ggnni_spmm* s)
{
    union { float sum[1 << 13]; int32_t arg[1 << 13]; } of;
    ggnni_reduce_hubs(s, of.sum, of.arg, 1 << 13);
}
GGNNI_APART void ggnni_hubs_of_messages(ggnni_spmm* s) // their pieces take more of the stack
{
    union { float sum[1 << 12]; int32_t arg[1 << 12]; } of;
    ggnni_reduce_hubs(s, of.sum, of.arg, 1 << 12);
}

// GGNNI_HEADS heads at a time.
static void ggnni_spmm_run(const ggnni_spmm* s, int32_t heads, int32_t width)
{
    int32_t per_head = width / heads;
    if (width == 0) return; // no columns, and perhaps no memory for them
    for (int32_t k = 0; k < heads; k += GGNNI_HEADS) {
        int32_t    first = k * per_head;
        int64_t    byte = first * ggnn_type_bytes(s->type);
        ggnni_spmm pass = *s;
        pass.stride = heads, pass.width = per_head, pass.out += first;
        pass.heads = (int32_t)ggnni_min(heads - k, GGNNI_HEADS);
        if (s->arg) pass.arg += first;
        if (s->chosen) pass.chosen += first;
        if (s->weight) pass.weight += k;
        if (s->source.from) pass.source.byte = byte;
        else if (s->source.base) pass.source.base += byte;
        if (s->edge.base) pass.edge.base += byte;
        pass.loops = ggnni_choose_loops();
        if (s->edge.base) ggnni_hubs_of_messages(&pass);
        else ggnni_hubs_of_rows(&pass);
        ggnni_run_lists(s->b, pass.heads * per_head, pass.body, &pass);
    }
}

static ggnni_spmm ggnni_spmm_of(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b,
                                const ggnn_scale* scale, const float* weight)
{
    ggnni_spmm s;
    memset(&s, 0, sizeof s);
    s.out = out, s.ld_out = ld_out, s.how = how, s.b = b, s.weight = weight;
    if (scale) s.scale = *scale;
    s.type = GGNN_F32, s.body = ggnni_spmm_piece;
    return s;
}

GGNN_API ggnn_status ggnn_spmm(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how, const ggnn_block* b,
                               const ggnn_scale* scale, const float* weight, int32_t heads, const float* inp,
                               int64_t ld_inp, int32_t width)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 1) && ggnni_reduces(how, b, scale, weight, heads, width));
    GGNNI_REQUIRE(ggnni_matrix_given(out, ld_out, *b->num_dst.n, width));
    GGNNI_REQUIRE(ggnni_matrix_given(inp, ld_inp, *b->num_src.n, width));
    ggnni_spmm s = ggnni_spmm_of(out, ld_out, how, b, scale, weight);
    s.arg = arg, s.ld_arg = width, s.source = ggnni_matrix(inp, ld_inp);
    ggnni_spmm_run(&s, heads, width);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_sum(float* out, const ggnn_block* b, const float* inp, int32_t width)
{
    return ggnn_spmm(out, width, NULL, GGNN_SUM, b, NULL, NULL, 1, inp, width, width);
}

GGNN_API ggnn_status ggnn_mean(float* out, const ggnn_block* b, const float* inp, int32_t width)
{
    return ggnn_spmm(out, width, NULL, GGNN_MEAN, b, NULL, NULL, 1, inp, width, width);
}

GGNN_API ggnn_status ggnn_aggregate(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b,
                                    const ggnn_scale* scale, const float* weight, int32_t heads,
                                    const ggnn_store* from)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && (b->indices || b->neighbor || *b->num_edges.n == 0));
    GGNNI_REQUIRE(ggnni_store_given(from, *b->num_edges.n + (scale && scale->self ? ggnni_own_rows(b) : 0)));
    GGNNI_REQUIRE(ggnni_reduces(how, b, scale, weight, heads, from->width));
    GGNNI_REQUIRE(ggnni_matrix_given(out, ld_out, *b->num_dst.n, from->width));
    ggnni_spmm s = ggnni_spmm_of(out, ld_out, how, b, scale, weight);
    s.source.from = from, s.type = from->type;
    ggnni_spmm_run(&s, heads, from->width);
    if (from->traffic) {
        const int64_t own = s.scale.self ? ggnni_own_rows(b) : 0, edges = ggnni_edges_of(b);
        for (int64_t e = 0; e < edges; e++) ggnni_count_row(from, ggnni_source_id(b, e));
        for (int64_t v = 0; v < own; v++) ggnni_count_row(from, ggnni_id(b, v));
    }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t,
                                        const ggnn_block* b, const float* weight, int32_t heads,
                                        const float* dout, int64_t ld_dout, const int32_t* arg, int32_t width)
{
    GGNNI_REQUIRE(ggnni_block_given(t, 1) && ggnni_block_given(b, 0) && ggnni_heads_given(heads, width));
    GGNNI_REQUIRE((arg || *t->num_edges.n == 0) && ggnni_transposed(t, b));
    GGNNI_REQUIRE(ggnni_matrix_given(dinp, ld_dinp, *t->num_dst.n, width));
    GGNNI_REQUIRE(ggnni_matrix_given(dout, ld_dout, *t->num_src.n, width));
    ggnni_spmm s = ggnni_spmm_of(dinp, ld_dinp, GGNN_SUM, t, NULL, weight);
    s.forward = b, s.chosen = arg, s.ld_arg = width, s.source = ggnni_matrix(dout, ld_dout);
    ggnni_spmm_run(&s, heads, width);
    return GGNN_OK;
}

// ---- messages: rows of edges -----------------------------------------------------------------
// Messages of a segment are made in strips of columns, and the loops run over these; a copy's are there.

enum { GGNNI_STRIP = 32 }; // 32 KiB of messages

typedef struct {
    float       made[GGNNI_SEGMENT][GGNNI_STRIP];
    const char* row[GGNNI_SEGMENT];
} ggnni_strip;

// `column` of row i of a matrix.
static const float* ggnni_row_at(const ggnni_source* s, int64_t i, int32_t column)
{
    return (const float*)(const void*)(s->base + i * s->pitch) + column;
}

GGNNI_HOT void ggnni_make_strip(ggnni_strip* strip, const ggnni_spmm* s, int64_t begin, int32_t n,
                                int32_t column, int32_t width)
{
    for (int32_t i = 0; i < n; i++) {
        const float* y = ggnni_row_at(&s->edge, ggnni_edge(s->b, begin + i), column);
        float*       to = strip->made[i];
        strip->row[i] = (const char*)(s->message == GGNN_EDGE_COPY ? y : to);
        if (s->message == GGNN_EDGE_COPY) continue;
        const float* x = ggnni_row_at(&s->source, s->b->indices[begin + i], column);
        if (s->message == GGNN_EDGE_TIMES)
            for (int32_t j = 0; j < width; j++) to[j] = x[j] * y[j];
        else
            for (int32_t j = 0; j < width; j++) to[j] = x[j] + y[j];
    }
}

// A segment of list v: n messages from edge `begin` on, which is the list's edge `first`.
static void ggnni_reduce_messages(const ggnni_spmm* s, ggnni_strip* strip, int64_t v, int64_t begin,
                                  int64_t first, int32_t n)
{
    const int32_t most = s->message == GGNN_EDGE_COPY ? s->width : GGNNI_STRIP;
    float         buffer[GGNNI_SEGMENT * GGNNI_HEADS];
    ggnni_rows    rows = ggnni_rows_of(s->edge, GGNN_F32, 1, 0);
    const float*  coef = ggnni_coefficients(s, buffer, begin, n, &rows.stride);
    rows.row = strip->row, rows.n = n;
    for (int32_t c = 0, end; c < s->heads * s->width; c = end) {
        const int32_t k = c / s->width;
        float*        out = s->out + v * s->ld_out + c;
        end = (int32_t)ggnni_min(c + most, (k + 1) * s->width);
        rows.coef = coef ? coef + k : NULL, rows.width = end - c;
        ggnni_make_strip(strip, s, begin, n, c, rows.width);
        ggnni_reduce_rows(s, out, s->arg ? s->arg + v * s->ld_arg + c : NULL, &rows, v, first);
    }
}

static void ggnni_messages_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_spmm* s = (const ggnni_spmm*)context;
    const size_t      row = (size_t)(s->heads * s->width) * sizeof(float);
    ggnni_strip       strip;
    for (int64_t v = begin; v < end; v++) {
        const int64_t e = s->b->indptr[v], n = s->b->indptr[v + 1] - e;
        if (n >= s->hub) continue;
        if (n == 0) memset(s->out + v * s->ld_out, 0, row);
        if (n == 0 && s->arg) memset(s->arg + v * s->ld_arg, 0xff, row);
        for (int64_t first = 0; first < n; first += GGNNI_SEGMENT)
            ggnni_reduce_messages(s, &strip, v, e + first, first, ggnni_segment_length(n - first));
        ggnni_add_own(s, s->out + v * s->ld_out, v);
    }
}

GGNN_API ggnn_status ggnn_spmm_edges(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
                                     ggnn_message message, const ggnn_block* b, const ggnn_scale* scale,
                                     const float* weight, int32_t heads, const float* inp, int64_t ld_inp,
                                     const float* edge, int64_t ld_edge, int32_t width)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 1) && ggnni_reduces(how, b, scale, weight, heads, width));
    GGNNI_REQUIRE(ggnni_messages(how, message, scale));
    GGNNI_REQUIRE(ggnni_matrix_given(out, ld_out, *b->num_dst.n, width));
    GGNNI_REQUIRE(message == GGNN_EDGE_COPY || ggnni_matrix_given(inp, ld_inp, *b->num_src.n, width));
    GGNNI_REQUIRE(ggnni_matrix_given(edge, ld_edge, *b->num_edges.n, width));
    ggnni_spmm s = ggnni_spmm_of(out, ld_out, how, b, scale, weight);
    s.arg = arg, s.ld_arg = width;
    if (message != GGNN_EDGE_COPY) s.source = ggnni_matrix(inp, ld_inp);
    s.edge = ggnni_matrix(edge, ld_edge), s.message = message, s.body = ggnni_messages_piece;
    ggnni_spmm_run(&s, heads, width);
    return GGNN_OK;
}

// Edge e of target v, the one at `offset` of its list. (s->edge: dout; s->out: dedge.)
GGNNI_HOT void ggnni_edge_back(const ggnni_spmm* s, int64_t v, int64_t e, int32_t offset)
{
    const int32_t  u = s->b->indices[e], all = s->heads * s->width;
    const int64_t  at = ggnni_edge(s->b, e);
    const float    factor = (s->scale.src ? s->scale.src[u] : 1.0f) * (s->scale.dst ? s->scale.dst[v] : 1.0f);
    const float *  dout = ggnni_row_at(&s->edge, v, 0), *inp = ggnni_row_at(&s->source, u, 0);
    const int32_t* arg = s->chosen ? s->chosen + v * s->ld_arg : NULL;
    float*         out = s->out + at * s->ld_out;
    for (int32_t k = 0; k < s->heads; k++) {
        const float   f = (s->weight ? s->weight[at * s->heads + k] : 1.0f) * factor;
        const int32_t first = k * s->width, end = first + s->width;
        if (s->message == GGNN_EDGE_TIMES)
            for (int32_t j = first; j < end; j++) out[j] = f * (inp[j] * dout[j]);
        else
            for (int32_t j = first; j < end; j++) out[j] = f * dout[j];
    }
    for (int32_t j = 0; arg && j < all; j++)
        if (arg[j] != offset) out[j] = 0;
}

static void ggnni_edges_back_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_spmm* s = (const ggnni_spmm*)context;
    for (int64_t e = begin, v = ggnni_list_at(s->b, e + 1, 0) - 1; e < end; e++) {
        while (s->b->indptr[v + 1] <= e) v++;
        ggnni_edge_back(s, v, e, (int32_t)(e - s->b->indptr[v]));
    }
}

GGNN_API ggnn_status ggnn_spmm_edges_back(float* dedge, int64_t ld_dedge, ggnn_message message,
                                          const ggnn_block* b, const ggnn_scale* scale, const float* weight,
                                          int32_t heads, const float* inp, int64_t ld_inp, const float* dout,
                                          int64_t ld_dout, const int32_t* arg, int32_t width)
{
    const ggnn_reduce how = arg ? GGNN_MAX : GGNN_SUM;
    GGNNI_REQUIRE(ggnni_block_given(b, 1) && ggnni_heads_given(heads, width) && (heads == 1 || weight));
    GGNNI_REQUIRE(ggnni_messages(how, message, NULL));
    GGNNI_REQUIRE(ggnni_matrix_given(dedge, ld_dedge, *b->num_edges.n, width));
    GGNNI_REQUIRE(message != GGNN_EDGE_TIMES || ggnni_matrix_given(inp, ld_inp, *b->num_src.n, width));
    GGNNI_REQUIRE(ggnni_matrix_given(dout, ld_dout, *b->num_dst.n, width));
    ggnni_spmm s = ggnni_spmm_of(dedge, ld_dedge, GGNN_SUM, b, scale, weight);
    s.heads = heads, s.width = width / heads, s.chosen = arg, s.ld_arg = width;
    s.message = message, s.edge = ggnni_matrix(dout, ld_dout);
    s.source = message == GGNN_EDGE_TIMES ? ggnni_matrix(inp, ld_inp) : ggnni_matrix(dout, 0); // not read
    ggnni_run_edges(b, width, ggnni_edges_back_piece, &s);
    return GGNN_OK;
}

// ---- factors -------------------------------------------------------------------------------

GGNN_API ggnn_status ggnn_scale_mean(float* inv, const ggnn_block* b, int with_self)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && (inv || *b->num_dst.n == 0));
    for (int64_t v = 0; v < *b->num_dst.n; v++) {
        int64_t n = b->indptr[v + 1] - b->indptr[v] + (with_self != 0);
        inv[v] = n ? 1.0f / (float)n : 0.0f;
    }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_scale_weights(float* inv, const ggnn_block* b, const float* weight)
{
    GGNNI_REQUIRE(ggnn_edge_sum(inv, b, weight, 1) == GGNN_OK);
    for (int64_t v = 0; v < *b->num_dst.n; v++)
        inv[v] = inv[v] <= 0.0f && inv[v] >= 0.0f ? 0.0f : 1.0f / inv[v];
    return GGNN_OK;
}

typedef struct { float* inv_sqrt; ggnn_graph g; } ggnni_gcn_norm;

static void ggnni_gcn_norm_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_gcn_norm* s = (const ggnni_gcn_norm*)context;
    for (int64_t v = begin; v < end; v++) {
        // sqrtf in double, to the bit: clang's float_control does not reach calls; a fast sqrtf estimates
        float d = (float)(ggnn_neighbors(&s->g, (ggnn_node)v).degree + 1);
        s->inv_sqrt[v] = 1.0f / (float)sqrt((double)d);
    }
}

GGNN_API ggnn_status ggnn_gcn_norm(float* inv_sqrt, const ggnn_graph* g)
{
    GGNNI_REQUIRE(ggnni_degrees_given(g) && (inv_sqrt || g->num_nodes == 0));
    ggnni_gcn_norm s = {inv_sqrt, *g};
    s.g.traffic = NULL; // set-up, not a batch
    ggnni_run(g->num_nodes, ggnni_pieces(g->num_nodes, 1 << 12), ggnni_gcn_norm_piece, &s);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_scale_gcn(float* src, float* dst, float* self, const ggnn_block* b,
                                    const float* inv_sqrt, const ggnn_graph* g)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && (*b->num_dst.n == 0 || (dst && self && inv_sqrt)));
    GGNNI_REQUIRE(g && (*b->num_dst.n == 0 || ggnni_degrees_given(g)));
    GGNNI_REQUIRE(!src || *b->num_src.n == 0 || inv_sqrt);
    ggnn_graph quiet = *g;
    quiet.traffic = NULL; // degrees, no lists
    for (int64_t u = 0; src && u < *b->num_src.n; u++) src[u] = inv_sqrt[ggnni_id(b, u)];
    for (int64_t v = 0; v < *b->num_dst.n; v++) {
        int64_t id = ggnni_id(b, v), sampled = b->indptr[v + 1] - b->indptr[v];
        int64_t degree = ggnn_neighbors(&quiet, (ggnn_node)id).degree;
        dst[v] = sampled ? (float)degree / (float)sampled * inv_sqrt[id] : 0.0f;
        self[v] = 1.0f / (float)(degree + 1);
    }
    return GGNN_OK;
}

// ---- edges: dot, add, sum, softmax ------------------------------------------------------------

typedef struct {
    float*             out; // per edge, or (num_dst, heads)
    const ggnn_block*  b;
    const float *      x, *y;
    int64_t            ld_x, ld_y;
    int32_t            heads, width; // of a head
    const ggnni_loops* loops;
    int64_t            hub, own; // edges of lists that pieces leave out; a list's own values, ggnni_edge_sum
} ggnni_edges;

// The dots of a segment's edges from e on, which do not lie side by side: head by head.
static void ggnni_dots_apart(const ggnni_edges* s, ggnni_rows rows, const float* y, int64_t e)
{
    float dots[GGNNI_SEGMENT];
    rows.heads = 1;
    for (int32_t k = 0; k < s->heads; k++, rows.base += s->width * (int64_t)sizeof *dots) {
        s->loops->dot(dots, y + k * s->width, &rows);
        for (int32_t i = 0; i < rows.n; i++) s->out[ggnni_edge(s->b, e + i) * s->heads + k] = dots[i];
    }
}

// Of edges [begin, end): a piece may begin and end within a list.
static void ggnni_sddmm_dot(void* context, int64_t begin, int64_t end)
{
    const ggnni_edges* s = (const ggnni_edges*)context;
    const int64_t *    indptr = s->b->indptr, last = ggnni_list_at(s->b, end + 1, 0) - 1;
    ggnni_rows         rows = ggnni_rows_of(ggnni_matrix(s->x, s->ld_x), GGNN_F32, s->heads, s->width);
    ggnni_reader       reader;
    ggnni_reader_init(&reader, s->b, ggnni_matrix(s->x, s->ld_x), 0,
                      s->heads * s->width * (int64_t)sizeof(float));
    rows.ld = s->ld_y;
    for (int64_t e = begin, v = ggnni_list_at(s->b, e + 1, 0) - 1; e < end; e += rows.n) {
        while (indptr[v + 1] <= e) v++;
        ggnni_some_lists(&rows, &reader, v, e > indptr[v] ? 0 : last - v); // lists before it end by `end`
        ggnni_segment(&rows, &reader, v, e - indptr[v]);
        rows.n = (int32_t)ggnni_min(rows.n, end - e);
        if (s->b->edge) ggnni_dots_apart(s, rows, s->y + v * s->ld_y, e);
        else s->loops->dot(s->out + e * s->heads, s->y + v * s->ld_y, &rows);
    }
}

GGNNI_HOT void ggnni_sddmm_add(void* context, int64_t begin, int64_t end)
{
    const ggnni_edges* s = (const ggnni_edges*)context;
    for (int64_t e = begin, v = ggnni_list_at(s->b, e + 1, 0) - 1; e < end; e++) {
        while (s->b->indptr[v + 1] <= e) v++;
        const float *x = s->x + s->b->indices[e] * s->ld_x, *y = s->y + v * s->ld_y;
        float*       out = s->out + ggnni_edge(s->b, e) * s->heads;
        for (int32_t k = 0; k < s->heads; k++) out[k] = x[k] + y[k];
    }
}

GGNN_API ggnn_status ggnn_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b, const float* inp_src,
                                int64_t ld_src, const float* inp_dst, int64_t ld_dst, int32_t heads,
                                int32_t width)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 1) && ggnni_heads_given(heads, width) && width > 0);
    GGNNI_REQUIRE((uint32_t)how <= GGNN_ADD && (how == GGNN_DOT || width == heads) && ggnni_per_edge(b, out));
    GGNNI_REQUIRE(ggnni_matrix_given(inp_src, ld_src, *b->num_src.n, width));
    GGNNI_REQUIRE(ggnni_matrix_given(inp_dst, ld_dst, *b->num_dst.n, width));
    const int32_t per_head = width / heads;
    ggnni_edges   s = {out, b, inp_src, inp_dst, ld_src, ld_dst, heads, per_head, ggnni_choose_loops(), 0, 0};
    ggnni_run_edges(b, width, how == GGNN_DOT ? ggnni_sddmm_dot : ggnni_sddmm_add, &s);
    return GGNN_OK;
}

// The sum of x[e, k], or of x[e, k] * y[e, k], over edges [begin, end).
GGNNI_INLINE float ggnni_sum_values(const ggnn_block* b, const float* x, const float* y, int64_t begin,
                                    int64_t end, int32_t heads, int32_t k)
{
    ggnni_sum sum = {0, 0, 0};
    for (int64_t e = begin; e < end; e++) {
        const int64_t at = ggnni_edge(b, e) * heads + k;
        ggnni_add(&sum, y ? x[at] * y[at] : x[at]);
    }
    return ggnni_total(&sum);
}

// out[k]: these sums, or the greatest, of a hub's edges by all threads.
static void ggnni_reduce_values(float* out, ggnn_reduce how, const ggnn_block* b, const float* x,
                                const float* y, int64_t begin, int64_t end, int32_t heads)
{
    int64_t    indptr[2] = {begin, end}, one = 1;
    ggnn_block list = *b;
    list.indptr = indptr, list.num_dst.n = &one;
    ggnni_spmm s = ggnni_spmm_of(out, heads, how, &list, NULL, y);
    s.edge = ggnni_matrix(x, heads), s.message = GGNN_EDGE_COPY, s.body = ggnni_messages_piece;
    ggnni_spmm_run(&s, y ? heads : 1, heads);
}

static void ggnni_edge_sum_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_edges* s = (const ggnni_edges*)context;
    for (int64_t v = begin; v < end; v++) {
        const int64_t first = s->b->indptr[v] + v * s->own, past = s->b->indptr[v + 1] + (v + 1) * s->own;
        for (int32_t k = 0; k < s->heads && past - first - s->own < s->hub; k++)
            s->out[v * s->heads + k] = ggnni_sum_values(s->b, s->x, NULL, first, past, s->heads, k);
    }
}

// own 1: values are the edges' and, before those of each list, one of its target.
static void ggnni_edge_sum(float* out, const ggnn_block* b, const float* x, int32_t heads, int64_t own)
{
    const int64_t hub = heads < 4 ? ggnni_costly_hub(b, heads) : ggnni_hub(b, heads, INT64_MAX);
    ggnni_edges   s = {out, b, x, NULL, 0, 0, heads, 1, NULL, hub, own};
    for (int64_t v = 0; (v = ggnni_next_hub(b, v, s.hub)) < *b->num_dst.n; v++)
        ggnni_reduce_values(out + v * heads, GGNN_SUM, b, x, NULL, b->indptr[v] + v * own,
                            b->indptr[v + 1] + (v + 1) * own, heads);
    ggnni_run_lists(b, heads, ggnni_edge_sum_piece, &s);
}

GGNN_API ggnn_status ggnn_edge_sum(float* out, const ggnn_block* b, const float* value, int32_t heads)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && heads >= 1 && ggnni_per_edge(b, value));
    GGNNI_REQUIRE((out || *b->num_dst.n == 0));
    ggnni_edge_sum(out, b, value, heads, 0);
    return GGNN_OK;
}

// Of head k and edges [begin, end): 2^((x - most) log2 e).
static void ggnni_softmax_powers(const ggnni_edges* s, int64_t begin, int64_t end, int32_t k, float most)
{
    float power[GGNNI_SEGMENT] = {0};
    for (int64_t e = begin, n; e < end; e += n) {
        n = ggnni_segment_length(end - e);
        for (int64_t i = 0; i < n; i++)
            power[i] = (s->x[ggnni_edge(s->b, e + i) * s->heads + k] - most) * ggnni_log2_e;
        s->loops->exp2(power, (n + 15) & ~15, ggnni_zeros);
        for (int64_t i = 0; i < n; i++) s->out[ggnni_edge(s->b, e + i) * s->heads + k] = power[i];
    }
}
// Powers become coefficients: inv is 1 over their sum.
static void ggnni_softmax_scale(const ggnni_edges* s, int64_t begin, int64_t end, int32_t k, float inv)
{
    for (int64_t e = begin; e < end; e++) s->out[ggnni_edge(s->b, e) * s->heads + k] *= inv;
}
// The gradient of logits; sum is that of out * dout over the whole list.
GGNNI_INLINE void ggnni_softmax_gradient(const ggnni_edges* s, int64_t begin, int64_t end, int32_t k,
                                         float sum)
{
    for (int64_t e = begin; e < end; e++) {
        int64_t at = ggnni_edge(s->b, e) * s->heads + k;
        s->out[at] = s->x[at] * (s->y[at] - sum);
    }
}

// Head k of a list, forward or backward. ([10i]: all heads at once, forward.)
static void ggnni_softmax_list(const ggnni_edges* s, int64_t begin, int64_t end, int32_t k)
{
    float most = -INFINITY;
    if (s->y) {
        const float sum = ggnni_sum_values(s->b, s->x, s->y, begin, end, s->heads, k);
        ggnni_softmax_gradient(s, begin, end, k, sum);
        return;
    }
    for (int64_t e = begin; e < end; e++) {
        float x = s->x[ggnni_edge(s->b, e) * s->heads + k];
        if (x > most) most = x;
    }
    ggnni_softmax_powers(s, begin, end, k, most);
    const float sum = ggnni_sum_values(s->b, s->out, NULL, begin, end, s->heads, k);
    ggnni_softmax_scale(s, begin, end, k, 1.0f / sum);
}

static void ggnni_softmax_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_edges* s = (const ggnni_edges*)context;
    const int          in_turn = !s->y && s->loops->softmax && !s->b->edge && 16 % s->heads == 0;
    for (int64_t v = begin; v < end; v++) {
        const int64_t first = s->b->indptr[v], past = s->b->indptr[v + 1], at = first * s->heads;
        if (first == past || past - first >= s->hub) continue;
        for (int32_t k = 0; k < s->heads && !in_turn; k++) ggnni_softmax_list(s, first, past, k);
        const int64_t readable = s->b->indptr[end] * s->heads - at;
        if (in_turn) s->loops->softmax(s->out + at, s->x + at, past - first, s->heads, readable);
    }
}

typedef struct {
    const ggnni_edges* s;
    int64_t            first; // of the hub's edges
    float              x[64]; // of heads; with more, hubs are left whole
    void (*step)(const ggnni_edges* s, int64_t begin, int64_t end, int32_t k, float x);
} ggnni_softmax_hub;

// As many edges at a time as stay in the cache from head to head.
static void ggnni_softmax_hub_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_softmax_hub* h = (const ggnni_softmax_hub*)context;
    for (int64_t e = h->first + begin, past; e < h->first + end; e = past) {
        past = ggnni_min(e + GGNNI_SEGMENT, h->first + end);
        for (int32_t k = 0; k < h->s->heads; k++) h->step(h->s, e, past, k, h->x[k]);
    }
}

static void ggnni_softmax_run(ggnni_edges* s, int32_t width)
{
    const int32_t     heads = s->heads;
    ggnni_softmax_hub h;
    h.s = s, s->hub = heads > (int32_t)(sizeof h.x / sizeof *h.x) ? INT64_MAX : ggnni_costly_hub(s->b, width);
    for (int64_t v = 0; (v = ggnni_next_hub(s->b, v, s->hub)) < *s->b->num_dst.n; v++) {
        const int64_t end = s->b->indptr[v + 1], n = end - s->b->indptr[v];
        h.first = end - n;
        if (!s->y) {
            ggnni_reduce_values(h.x, GGNN_MAX, s->b, s->x, NULL, h.first, end, heads);
            h.step = ggnni_softmax_powers;
            ggnni_run(n, ggnni_pieces(n, GGNNI_SEGMENT), ggnni_softmax_hub_piece, &h);
            ggnni_reduce_values(h.x, GGNN_SUM, s->b, s->out, NULL, h.first, end, heads);
            for (int32_t k = 0; k < heads; k++) h.x[k] = 1.0f / h.x[k];
        } else
            ggnni_reduce_values(h.x, GGNN_SUM, s->b, s->x, s->y, h.first, end, heads);
        h.step = s->y ? ggnni_softmax_gradient : ggnni_softmax_scale;
        ggnni_run(n, ggnni_pieces(n, GGNNI_SEGMENT), ggnni_softmax_hub_piece, &h);
    }
    ggnni_run_lists(s->b, width, ggnni_softmax_piece, s);
}

GGNN_API ggnn_status ggnn_edge_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && heads > 0 && ggnni_per_edge(b, out) && ggnni_per_edge(b, logit));
    ggnni_edges s = {out, b, logit, NULL, 0, 0, heads, 1, ggnni_choose_loops(), 0, 0};
    ggnni_softmax_run(&s, 4 * heads);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out,
                                            const float* dout, int32_t heads)
{
    GGNNI_REQUIRE(ggnni_block_given(b, 0) && heads >= 1 && ggnni_per_edge(b, dlogit));
    GGNNI_REQUIRE(ggnni_per_edge(b, out) && ggnni_per_edge(b, dout));
    ggnni_edges s = {dlogit, b, out, dout, 0, 0, heads, 1, ggnni_choose_loops(), 0, 0};
    ggnni_softmax_run(&s, 2 * heads);
    return GGNN_OK;
}

// ==== [9i] ATTENTION ======================================================================================

typedef struct {
    float *            el, *dz, *datt;
    const float *      z, *att, *del;
    int64_t            ld_z, ld_dz, n;
    int32_t            heads, width; // of a head
    const ggnni_loops* loops;
} ggnni_scores;

static ggnni_rows ggnni_rows_in_turn(const ggnni_scores* s, int32_t* index, int32_t heads, int32_t width)
{
    ggnni_rows rows = ggnni_rows_of(ggnni_matrix(s->z, s->ld_z), GGNN_F32, heads, width);
    for (int32_t i = 0; i < GGNNI_SEGMENT; i++) index[i] = i;
    rows.index = index;
    return rows;
}

static void ggnni_scores_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_scores* s = (const ggnni_scores*)context;
    int32_t             in_turn[GGNNI_SEGMENT];
    ggnni_rows          rows = ggnni_rows_in_turn(s, in_turn, s->heads, s->width);
    for (int64_t u = begin; u < end; u += rows.n) {
        rows.base = (const char*)(s->z + u * s->ld_z);
        rows.n = ggnni_segment_length(end - u);
        s->loops->dot(s->el + u * s->heads, s->att, &rows);
    }
}

GGNN_API ggnn_status ggnn_scores(float* el, const float* z, int64_t ld_z, const float* att, int64_t n,
                                 int32_t heads, int32_t width)
{
    GGNNI_REQUIRE(n >= 0 && ggnni_heads_given(heads, width) && width > 0 && (n == 0 || (el && att)));
    GGNNI_REQUIRE(ggnni_matrix_given(z, ld_z, n, width));
    ggnni_scores s = {el, NULL, NULL, z, att, NULL, ld_z, 0, n, heads, width / heads, ggnni_choose_loops()};
    ggnni_run(n, ggnni_pieces(n * width, 1 << 14), ggnni_scores_piece, &s);
    return GGNN_OK;
}

static void ggnni_scores_dz(void* context, int64_t begin, int64_t end)
{
    const ggnni_scores* s = (const ggnni_scores*)context;
    for (int64_t u = begin; u < end; u++)
        for (int32_t k = 0; k < s->heads; k++)
            s->loops->blend(s->dz + u * s->ld_dz + k * s->width, 1.0f, s->del[u * s->heads + k],
                            s->att + k * s->width, GGNN_F32, s->width);
}

// Columns whose sums over all rows are one thread's: a fourth, in lines, as narrow layers are divided too.
static int32_t ggnni_stripe(int32_t n) { return (int32_t)ggnni_min(64, ggnni_max(16, n / 64 * 16)); }
static int64_t ggnni_stripes(int32_t n) { return (n + ggnni_stripe(n) - 1) / ggnni_stripe(n); }

// A stripe of datt, over all rows in order, segment by segment: threads divide outputs, never a sum.
static void ggnni_scores_datt(void* context, int64_t piece, int64_t past)
{
    const ggnni_scores* s = (const ggnni_scores*)context;
    int32_t             columns = s->heads * s->width, stripe = ggnni_stripe(columns);
    int32_t             first = (int32_t)piece * stripe, end = (int32_t)ggnni_min(past * stripe, columns);
    int32_t             in_turn[GGNNI_SEGMENT];
    ggnni_rows          rows = ggnni_rows_in_turn(s, in_turn, 1, 0);
    memset(s->datt + first, 0, (size_t)(end - first) * sizeof *s->datt);
    rows.stride = s->heads, rows.keep = ggnni_ones;
    for (int64_t u = 0; u < s->n; u += rows.n) {
        rows.n = ggnni_segment_length(s->n - u);
        for (int32_t c = first; c < end; c += rows.width) { // head by head
            const int32_t k = c / s->width;
            rows.base = (const char*)(s->z + u * s->ld_z + c);
            rows.width = (int32_t)ggnni_min((k + 1) * s->width, end) - c;
            rows.coef = s->del + u * s->heads + k;
            s->loops->sum(s->datt + c, &rows);
        }
    }
}

GGNN_API ggnn_status ggnn_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del, const float* z,
                                      int64_t ld_z, const float* att, int64_t n, int32_t heads, int32_t width)
{
    GGNNI_REQUIRE(n >= 0 && ggnni_heads_given(heads, width) && width > 0 && datt && (n == 0 || (del && att)));
    GGNNI_REQUIRE(ggnni_matrix_given(z, ld_z, n, width) && ggnni_matrix_given(dz, ld_dz, n, width));
    const ggnni_loops* loops = ggnni_choose_loops();
    ggnni_scores       s = {NULL, dz, datt, z, att, del, ld_z, ld_dz, n, heads, width / heads, loops};
    ggnni_run(n, ggnni_pieces(n * width, 1 << 14), ggnni_scores_dz, &s);
    ggnni_run(ggnni_stripes(width), ggnni_stripes(width), ggnni_scores_datt, &s);
    return GGNN_OK;
}

// log2 of x >= 1, our own for the same bits everywhere: 2 / ln 2 * artanh((m - 1) / (m + 1)) of the mantissa
// m in [sqrt 1/2, sqrt 2), whose series ends after z^9 / 9; and the exponent.
GGNN_API float ggnn_log2(float x)
{
    uint32_t bits, exponent;
    float    m;
    if (!(x < INFINITY)) return x;
    memcpy(&bits, &x, sizeof bits);
    exponent = (bits - 0x3f3504f3u) >> 23; // 0x3f3504f3: sqrt 1/2
    bits -= exponent << 23;
    memcpy(&m, &bits, sizeof m);
    const float z = (m - 1.0f) / (m + 1.0f), zz = z * z;
    float       series = zz * 0.320598898f + 0.412198583f;
    series = zz * series + 0.577078016f;
    series = zz * series + 0.961796694f;
    series = zz * series + 2.885390082f;
    return (float)exponent + z * series;
}

typedef struct {
    ggnn_gat_layer     y;
    float*             dz;             // backward
    const float*       dout;           //
    int64_t            ld_dz, ld_dout; //
    const ggnn_block * b, *t;          // y.block, its transpose
    int32_t            head, pass;     // heads [head, head + pass) of y.heads
    int32_t            lanes;          // of an entry's coefficients: pass, or the next power of two
    int32_t            width;          // of a head
    uint32_t           threshold;      // of dropout,
    float              kept;           // and the factor of what it leaves
    int64_t            hub;            // edges of lists that are ggnni_gat_hubs' or _back_hubs'
    const ggnni_loops* loops;
} ggnni_gat;

static int ggnni_gat_given(const ggnn_gat_layer* y)
{
    return y && ggnni_block_given(y->block, 1) && !y->block->bipartite &&
           ggnni_heads_given(y->heads, y->width) && y->width > 0 &&
           (y->er || *y->block->num_dst.n == 0) && (y->el || *y->block->num_src.n == 0) &&
           (y->lse || *y->block->num_dst.n == 0) && (!y->term || y->own_term || *y->block->num_dst.n == 0) &&
           ggnni_matrix_given(y->z, y->ld_z, *y->block->num_src.n, y->width) &&
           ggnni_matrix_given(y->out, y->ld_out, *y->block->num_dst.n, y->width) && y->how.slope >= 0.0f &&
           y->how.dropout >= 0.0f && y->how.dropout < 1.0f &&
           y->how.layer >= 0 && y->how.layer < GGNN_HOP_NUMBERS &&
           (!(y->how.dropout > 0.0f) || y->how.rng.purpose == GGNN_PURPOSE_ATTENTION_DROPOUT);
}

static ggnni_gat ggnni_gat_of(const ggnn_gat_layer* y)
{
    ggnni_gat s;
    memset(&s, 0, sizeof s);
    s.y = *y, s.b = y->block, s.width = y->width / y->heads, s.hub = INT64_MAX;
    s.threshold = ggnn_dropout_threshold(y->how.dropout), s.kept = ggnn_dropout_scale(s.threshold);
    s.loops = ggnni_choose_loops();
    return s;
}

// The dropout fields of entries i & ~7 .. i | 7 of target v's list, eight a head.
static void ggnni_gat_fields(const ggnni_gat* s, uint16_t* field, int64_t v, int64_t i)
{
    ggnn_dropout_fields(field, &s->y.how.rng, s->y.how.layer, ggnni_id(s->b, v),
                        (uint32_t)(i / 8 * s->y.heads + s->head), s->pass);
}

// Clears the coefficients that dropout takes, n entries of target v from `first` on, and scales the others.
static void ggnni_gat_drop(const ggnni_gat* s, float* coef, int64_t v, int64_t first, int32_t n)
{
    uint16_t field[8 * GGNNI_HEADS];
    for (int32_t i = 0; i < n; i++) { // a segment begins at a multiple of 8
        if (i % 8 == 0) ggnni_gat_fields(s, field, v, first + i);
        for (int32_t k = 0; k < s->pass; k++)
            coef[i * s->lanes + k] *= field[8 * k + i % 8] < s->threshold ? 0.0f : s->kept;
    }
}

// The terms of entry i of target v, from head s->head on.
static const float* ggnni_gat_terms(const ggnni_gat* s, int64_t v, int64_t i)
{
    if (i == 0) return s->y.own_term + v * s->y.heads + s->head;
    return s->y.term + ggnni_edge(s->b, s->b->indptr[v] + i - 1) * s->y.heads + s->head;
}

// el of a segment's entries side by side; -infinity in what is left of a vector. Those of edges from e + 64
// on are prefetched, where `left` edges are there from e on. pass, lanes: constants of 4.
GGNNI_INLINE void ggnni_gat_collect(const ggnni_gat* s, float* x, const ggnni_rows* rows,
                                    int64_t e, int64_t left, int32_t pass, int32_t lanes)
{
    const float*   el = s->y.el + s->head;
    const int64_t  n = rows->n, pitch = s->y.heads;
    for (int64_t i = 0, k; i < n; i++) {
        const float* from = el + rows->index[i] * pitch;
        if (i + 64 < left) GGNNI_PREFETCH(el + s->b->indices[e + i + 64] * pitch);
        for (k = 0; k + 4 <= pass; k += 4) memcpy(x + i * lanes + k, from + k, 4 * sizeof *x);
        for (; k < lanes; k++) x[i * lanes + k] = k < pass ? from[k] : -INFINITY;
    }
    for (int64_t i = n * lanes; i % 16; i++) x[i] = -INFINITY;
}

// Coefficients of a segment's entries as powers 2^(logit - most), `lanes` an entry, most raised to theirs;
// keep[k]: what the row's earlier sums are worth under the new maximum.
static void ggnni_gat_powers(const ggnni_gat* s, float* power, float* most, float* keep, const float* er,
                             const ggnni_rows* rows, int64_t v, int64_t first)
{
    const int64_t n = ((int64_t)rows->n * s->lanes + 15) & ~15;
    const int64_t e = s->b->indptr[v] + first, left = s->b->indptr[*s->b->num_dst.n] - e;
    float         before[16];
    memcpy(before, most, sizeof before);
    if (s->pass == 4) ggnni_gat_collect(s, power, rows, e, left, 4, 4);
    else ggnni_gat_collect(s, power, rows, e, left, s->pass, s->lanes);
    for (int32_t i = 0; s->y.term && i < rows->n; i++)
        for (int32_t k = 0; k < s->pass; k++) power[i * s->lanes + k] += ggnni_gat_terms(s, v, first + i)[k];
    s->loops->leaky(power, n, er, s->y.how.slope, most);
    ggnni_fold_greatest(most, s->lanes);
    ggnni_repeat_heads(most, s->lanes);
    for (int32_t k = 0; k < s->lanes; k++) keep[k] = first ? ggnn_exp2(before[k] - most[k]) : 1.0f;
    s->loops->exp2(power, n, most);
}

typedef struct { // of target v's entries before `first`; of a hub's segment: of those from `first` on
    int64_t v, first;
    float   er[16], most[16], sum[16];
    float*  out;   // NULL: only the greatest are looked for
    int     alone; // a hub's segment, to be joined to those before
} ggnni_gat_sums;

static void ggnni_gat_begin(const ggnni_gat* s, ggnni_gat_sums* at, int64_t v)
{
    const float* er = s->y.er + v * s->y.heads + s->head;
    at->v = v, at->first = at->alone = 0, at->out = s->y.out + v * s->y.ld_out + s->head * s->width;
    for (int32_t k = 0; k < 16; k++) at->most[k] = -INFINITY, at->sum[k] = 0;
    for (int32_t k = 0; k < s->lanes; k++) at->er[k] = k < s->pass ? er[k] : 0;
    ggnni_repeat_heads(at->er, s->lanes);
}

// The segment of v's entries from `first` on, of which entry 0 is v; 0: none is left.
GGNNI_INLINE int ggnni_gat_segment(const ggnni_gat* s, ggnni_reader* reader, ggnni_rows* rows,
                                   ggnni_gat_sums* at)
{
    float power[GGNNI_HEADS * GGNNI_SEGMENT], keep[16], inv[16];
    rows->coef = power, rows->stride = s->lanes;
    if (!ggnni_segment(rows, reader, at->v, at->first)) return 0;
    ggnni_gat_powers(s, power, at->most, keep, at->er, rows, at->v, at->first);
    if (!at->out) return 1;
    ggnni_sum_heads(at->sum, keep, power, rows->n, s->lanes);
    for (int32_t k = 0; k < s->pass; k++) inv[k] = 1.0f / at->sum[k];
    if (s->threshold) ggnni_gat_drop(s, power, at->v, at->first, rows->n);
    rows->keep = at->first && !at->alone ? keep : NULL;
    at->first += rows->n;
    rows->factor = s->b->indptr[at->v] + at->first > s->b->indptr[at->v + 1] && !at->alone ? inv : NULL;
    s->loops->sum(at->out, rows);
    return 1;
}

static void ggnni_gat_end(const ggnni_gat* s, const ggnni_gat_sums* at)
{
    float* lse = s->y.lse + at->v * s->y.heads + s->head;
    for (int32_t k = 0; k < s->pass; k++) lse[k] = at->most[k] + ggnn_log2(at->sum[k]);
}

// Of the pass's columns of z, or, over the transpose, of dout; a target's list begins with itself.
static ggnni_rows ggnni_gat_reader(const ggnni_gat* s, ggnni_reader* reader, const ggnn_block* b)
{
    const ggnni_source from = b == s->t ? ggnni_matrix(s->dout + s->head * s->width, s->ld_dout)
                                        : ggnni_matrix(s->y.z + s->head * s->width, s->y.ld_z);
    ggnni_reader_init(reader, b, from, *s->b->num_dst.n, s->pass * s->width * (int64_t)sizeof(float));
    return ggnni_rows_of(from, GGNN_F32, s->pass, s->width);
}

static void ggnni_gat_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_gat* s = (const ggnni_gat*)context;
    ggnni_reader     reader;
    ggnni_gat_sums   at;
    ggnni_rows       rows = ggnni_gat_reader(s, &reader, s->b);
    for (int64_t v = begin; v < end; v++) {
        if (s->b->indptr[v + 1] - s->b->indptr[v] >= s->hub) continue;
        ggnni_gat_begin(s, &at, v);
        while (ggnni_gat_segment(s, &reader, &rows, &at)) continue;
        ggnni_gat_end(s, &at);
    }
}

typedef struct {
    const ggnni_gat* s;
    ggnni_gat_sums   of[64]; // segments
} ggnni_gat_hub;

static void ggnni_gat_hub_piece(void* context, int64_t i, int64_t end)
{
    ggnni_gat_hub* hub = (ggnni_gat_hub*)context;
    ggnni_reader   reader;
    ggnni_rows     rows = ggnni_gat_reader(hub->s, &reader, hub->s->b);
    for (; i < end; i++) ggnni_gat_segment(hub->s, &reader, &rows, &hub->of[i]);
}

// The greatest of each segment, then its sums under the greatest so far: scores are computed twice.
GGNNI_APART void ggnni_gat_hubs(ggnni_gat* s)
{
    const int32_t  width = s->pass * s->width, none = 0;
    const int64_t  most = ggnni_min((1 << 13) / width, 64), dst = *s->b->num_dst.n;
    float          out[1 << 13], keep[16];
    ggnni_gat_hub  hub;
    ggnni_gat_sums all, *of = hub.of;
    ggnni_rows     rows = ggnni_rows_of(ggnni_matrix(out, width), GGNN_F32, s->pass, s->width);
    hub.s = s, rows.n = 1, rows.index = &none;
    s->hub = ggnni_hub(s->b, s->pass * (s->width + 8), most < 16 || GGNN_THREADS == 1 ? 1 : 8 * GGNN_THREADS);
    for (int64_t v = ggnni_next_hub(s->b, 0, s->hub); v < dst; v = ggnni_next_hub(s->b, v + 1, s->hub)) {
        const int64_t edges = s->b->indptr[v + 1] - s->b->indptr[v];
        ggnni_gat_begin(s, &all, v);
        for (int64_t n = 0; all.first <= edges; all.first += n * GGNNI_SEGMENT) {
            for (n = 0; n < most && all.first + n * GGNNI_SEGMENT <= edges; n++)
                of[n] = all, of[n].first += n * GGNNI_SEGMENT, of[n].out = NULL, of[n].alone = 1;
            ggnni_run(n, n, ggnni_gat_hub_piece, &hub);
            for (int64_t i = 0; i < n; i++) {
                for (int32_t k = 0; i && k < 16; k++)
                    if (of[i - 1].most[k] > of[i].most[k]) of[i].most[k] = of[i - 1].most[k];
                memset(of[i].sum, 0, sizeof of[i].sum);
                of[i].out = out + i * width;
            }
            ggnni_run(n, n, ggnni_gat_hub_piece, &hub);
            for (int64_t i = 0; i < n; i++) {
                for (int32_t k = 0; k < s->lanes; k++) keep[k] = ggnn_exp2(all.most[k] - of[i].most[k]);
                rows.keep = all.first + i ? keep : NULL, rows.base = (const char*)of[i].out;
                s->loops->sum(all.out, &rows);
                ggnni_sum_heads(all.sum, rows.keep ? keep : ggnni_ones, of[i].sum, 1, s->lanes);
                memcpy(all.most, of[i].most, sizeof all.most);
            }
        }
        for (int32_t k = 0; k < s->pass; k++)
            s->loops->blend(all.out + k * s->width, 1.0f / all.sum[k], 0.0f, NULL, GGNN_F32, s->width);
        ggnni_gat_end(s, &all);
    }
}

// Logits are kept times log2 e, so alpha = 2^(logit - lse). The gradient of logit i of a list with
// coefficients alpha_i and dropout factors q_i is
//   alpha_i (q_i dout . z_i - sum over j of alpha_j q_j dout . z_j); the sum is dout . out: delta.
// Times LeakyReLU's slope it is that of el[u] + er[v]: this is what dlogit holds. Of v alone it is q times
// dout . z less dout . (q z), which cancel but for their roundings: Adam would make whole steps of these.
// Lists are gone over by source, in the transpose: dz and del are then sums of a row of their own; der is a
// sum over b's lists of what was left in dlogit, where target v's, itself first, begin at indptr[v] + v.

static void ggnni_gat_delta(void* context, int64_t begin, int64_t end)
{
    const ggnni_gat* s = (const ggnni_gat*)context;
    const int64_t    first = s->head * s->width;
    ggnni_rows       rows = ggnni_rows_of(ggnni_matrix(NULL, 0), GGNN_F32, s->pass, s->width);
    rows.n = 1, rows.index = ggnni_places;
    for (int64_t v = begin; v < end; v++) {
        rows.base = (const char*)(s->y.out + v * s->y.ld_out + first);
        s->loops->dot(s->y.delta + v * s->y.heads + s->head, s->dout + v * s->ld_dout + first, &rows);
    }
}

// Gradients of the terms of edges: an edge's own, and its share of its target's.
static void ggnni_gat_dterm(void* context, int64_t begin, int64_t end)
{
    const ggnni_gat* s = (const ggnni_gat*)context;
    const int32_t    heads = s->y.heads;
    for (int64_t e = begin, v = ggnni_list_at(s->b, e + 1, 0) - 1; e < end; e++) {
        while (s->b->indptr[v + 1] <= e) v++;
        const int64_t first = s->b->indptr[v];
        const float * d = s->y.dlogit + (e + v + 1) * heads, *own = s->y.dlogit + (first + v) * heads;
        const float   inv = 1.0f / (float)(s->b->indptr[v + 1] - first);
        for (int32_t k = 0; k < heads; k++) s->y.dterm[ggnni_edge(s->b, e) * heads + k] = d[k] + own[k] * inv;
    }
}

// Fetches what is looked up of the target of entry e of the transpose.
GGNNI_PREFETCHES void ggnni_gat_back_prefetch(const ggnni_gat* s, int64_t e)
{
    int64_t v = s->t->indices[e], at = v * s->y.heads + s->head;
    GGNNI_PREFETCH(&s->b->indptr[v]);
    GGNNI_PREFETCH(&s->y.er[at]);
    GGNNI_PREFETCH(&s->y.lse[at]);
    GGNNI_PREFETCH(&s->y.delta[at]);
}

// Entries [first, first + n) of source u: coefficients alpha q into coef, gradients into dlogit and del; dots
// holds dout . z of each. All have an entry's heads side by side, no gap, so that short lists fill a vector.
static void ggnni_gat_back_segment(const ggnni_gat* s, int64_t u, int64_t first, int32_t n, const float* dots,
                                   float* coef, ggnni_sum* del)
{
    int64_t self = u < *s->b->num_dst.n, begin = s->t->indptr[u] + first - self;
    int64_t at[GGNNI_SEGMENT], slot[GGNNI_SEGMENT], last = ggnni_edges_of(s->t) - 1;
    float   logit[GGNNI_HEADS * GGNNI_SEGMENT], alpha[GGNNI_HEADS * GGNNI_SEGMENT];
    const float* el = s->y.el + u * s->y.heads + s->head;
    float        most[16] = {0}; // nobody asks for it
    uint16_t     field[8 * GGNNI_HEADS];
    int32_t      all = s->pass * n, padded = (all + 15) & ~15; // a vector's multiple: no rest
    int32_t      alone = first < self && s->b->indptr[u] == s->b->indptr[u + 1]; // 1: entry 0 is all
    for (int32_t i = 0; i < n; i++) {
        int64_t v = first + i < self ? u : s->t->indices[begin + i];
        int64_t entry = first + i < self ? 0 : ggnni_edge(s->t, begin + i) + 1 - s->b->indptr[v];
        const float* term = s->y.term ? ggnni_gat_terms(s, v, entry) : NULL;
        slot[i] = (v + s->b->indptr[v] + entry) * s->y.heads + s->head;
        at[i] = v * s->y.heads + s->head;
        if (first + i >= self) ggnni_gat_back_prefetch(s, ggnni_min(begin + i + GGNNI_ROWS_AHEAD, last));
        for (int32_t k = 0; k < s->pass; k++) {
            logit[i * s->pass + k] = s->y.er[at[i] + k] + (term ? el[k] + term[k] : el[k]);
            alpha[i * s->pass + k] = s->y.lse[at[i] + k];
        }
        if (!s->threshold) continue;
        ggnni_gat_fields(s, field, v, entry);
        for (int32_t k = 0; k < s->pass; k++)
            coef[i * s->pass + k] = field[8 * k + entry % 8] < s->threshold ? 0.0f : s->kept;
    }
    for (int32_t j = all; j < padded; j++) logit[j] = alpha[j] = -INFINITY;
    s->loops->leaky(logit, padded, ggnni_zeros, s->y.how.slope, most); // er and el are added already
    for (int32_t j = 0; j < all; j++) alpha[j] = logit[j] - alpha[j];
    s->loops->exp2(alpha, padded, ggnni_zeros);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < s->pass; k++) {
            const int32_t j = i * s->pass + k;
            float         q = s->threshold ? coef[j] : 1.0f, a = alpha[j];
            float         d = a * (q * dots[j] - s->y.delta[at[i] + k]);
            if (!(logit[j] > 0)) d *= s->y.how.slope;
            if (i < alone) d = 0;
            coef[j] = a * q;
            s->y.dlogit[slot[i] + k] = d;
            ggnni_add(&del[k], d);
        }
}

// What reaches dz by the scores el is added while dz is in the cache; a hub's at last.
static void ggnni_gat_back_el(const ggnni_gat* s, float* dz, const float* del)
{
    for (int32_t k = 0, w = s->width; k < s->pass; k++)
        s->loops->blend(dz + k * w, 1.0f, del[k], s->y.att_l + (s->head + k) * w, GGNN_F32, w);
}

// Entries of source u, of segments that begin in [first, end): their sums dz and del.
static void ggnni_gat_back_entries(const ggnni_gat* s, ggnni_reader* reader, ggnni_rows* rows, int64_t u,
                                   int64_t first, int64_t end, float* dz, float* del)
{
    float        dots[GGNNI_HEADS * GGNNI_SEGMENT], coef[GGNNI_HEADS * GGNNI_SEGMENT];
    const float* z = s->y.z + u * s->y.ld_z + s->head * s->width;
    ggnni_sum    sum[GGNNI_HEADS];
    rows->coef = coef, rows->stride = s->pass;
    memset(sum, 0, (size_t)s->pass * sizeof *sum);
    memset(dz, 0, (size_t)(s->pass * s->width) * sizeof *dz); // of a list without entries
    for (int64_t i = first; i < end && ggnni_segment(rows, reader, u, i); i += rows->n) {
        s->loops->dot(dots, z, rows);
        ggnni_gat_back_segment(s, u, i, rows->n, dots, coef, sum);
        rows->ahead = 0; // they are in the cache now
        rows->keep = i > first ? ggnni_ones : NULL;
        s->loops->sum(dz, rows);
    }
    for (int32_t k = 0; k < s->pass; k++) del[k] = ggnni_total(&sum[k]);
    if (s->y.att_l && end == INT64_MAX) ggnni_gat_back_el(s, dz, del);
}

static void ggnni_gat_back_piece(void* context, int64_t begin, int64_t end)
{
    const ggnni_gat* s = (const ggnni_gat*)context;
    ggnni_reader     reader;
    ggnni_rows       rows = ggnni_gat_reader(s, &reader, s->t);
    for (int64_t u = begin; u < end; u++)
        if (s->t->indptr[u + 1] - s->t->indptr[u] < s->hub)
            ggnni_gat_back_entries(s, &reader, &rows, u, 0, INT64_MAX,
                                   s->dz + u * s->ld_dz + s->head * s->width,
                                   s->y.del + u * s->y.heads + s->head);
}

typedef struct {
    const ggnni_gat* s;
    int64_t          u, first;      // entry of the first of its segments
    float            sums[1 << 12]; // dz, del of each
} ggnni_gat_back_hub;

static void ggnni_gat_back_hub_piece(void* context, int64_t i, int64_t end)
{
    ggnni_gat_back_hub* h = (ggnni_gat_back_hub*)context;
    const int32_t       width = h->s->pass * h->s->width, room = width + h->s->pass;
    ggnni_reader        reader;
    ggnni_rows          rows = ggnni_gat_reader(h->s, &reader, h->s->t);
    for (; i < end; i++) {
        const int64_t first = h->first + i * GGNNI_SEGMENT;
        float*        dz = h->sums + i * room;
        ggnni_gat_back_entries(h->s, &reader, &rows, h->u, first, first + 1, dz, dz + width);
    }
}

GGNNI_APART void ggnni_gat_back_hubs(ggnni_gat* s)
{
    const int32_t      width = s->pass * s->width, room = width + s->pass;
    const int64_t      most = (1 << 12) / room, self = *s->b->num_dst.n;
    ggnni_gat_back_hub h;
    h.s = s, s->hub = most < 16 ? INT64_MAX : ggnni_hub(s->t, s->pass * (s->width + 8), INT64_MAX);
    for (int64_t u = 0; (u = ggnni_next_hub(s->t, u, s->hub)) < *s->t->num_dst.n; u++) {
        const int64_t entries = s->t->indptr[u + 1] - s->t->indptr[u] + (u < self);
        float *dz = s->dz + u * s->ld_dz + s->head * s->width, *del = s->y.del + u * s->y.heads + s->head;
        memset(dz, 0, (size_t)width * sizeof *dz);
        memset(del, 0, (size_t)s->pass * sizeof *del);
        for (int64_t n = h.first = 0; h.first < entries; h.first += n * GGNNI_SEGMENT) {
            h.u = u, n = ggnni_min(most, (entries - h.first + GGNNI_SEGMENT - 1) / GGNNI_SEGMENT);
            ggnni_run(n, n, ggnni_gat_back_hub_piece, &h);
            for (int64_t i = 0; i < n; i++) {
                s->loops->blend(dz, 1.0f, 1.0f, h.sums + i * room, GGNN_F32, width);
                s->loops->blend(del, 1.0f, 1.0f, h.sums + i * room + width, GGNN_F32, s->pass);
            }
        }
        if (s->y.att_l) ggnni_gat_back_el(s, dz, del);
    }
}

// Runs body over pieces of b's lists, for GGNNI_HEADS heads at a time.
static void ggnni_gat_run(ggnni_gat* s, ggnni_body* body, const ggnn_block* b)
{
    for (s->head = 0; s->head < s->y.heads; s->head += GGNNI_HEADS) {
        s->pass = (int32_t)ggnni_min(s->y.heads - s->head, GGNNI_HEADS);
        for (s->lanes = 1; s->lanes < s->pass;) s->lanes *= 2;
        if (body == ggnni_gat_piece) ggnni_gat_hubs(s);
        if (body == ggnni_gat_back_piece) ggnni_gat_back_hubs(s);
        ggnni_run_lists(b, s->pass * (s->width + 8), body, s);
    }
}

GGNN_API ggnn_status ggnn_gat(const ggnn_gat_layer* y)
{
    GGNNI_REQUIRE(ggnni_gat_given(y));
    ggnni_gat     s = ggnni_gat_of(y);
    const int64_t dst = *y->block->num_dst.n, src = *y->block->num_src.n;
    if (y->att_l) ggnn_scores(y->el, y->z, y->ld_z, y->att_l, src, y->heads, y->width);
    if (y->att_r) ggnn_scores(y->er, y->z, y->ld_z, y->att_r, dst, y->heads, y->width);
    if (y->term)
        ggnn_spmm_edges(y->own_term, y->heads, NULL, GGNN_MEAN, GGNN_EDGE_COPY, y->block, NULL, NULL, 1, NULL,
                        0, y->term, y->heads, y->heads);
    ggnni_gat_run(&s, ggnni_gat_piece, y->block);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_gat_back(float* dz, int64_t ld_dz, const ggnn_block* transpose,
                                   const ggnn_gat_layer* y, const float* dout, int64_t ld_dout)
{
    GGNNI_REQUIRE(ggnni_gat_given(y) && ggnni_block_given(transpose, 1));
    GGNNI_REQUIRE(ggnni_transposed(transpose, y->block));
    const int64_t dst = *y->block->num_dst.n, src = *transpose->num_dst.n;
    GGNNI_REQUIRE((src == 0 || y->del) && (dst == 0 || (y->der && y->delta && y->dlogit)));
    GGNNI_REQUIRE((!y->att_l || y->datt_l) && (!y->att_r || y->datt_r) && (!y->term || y->dterm));
    GGNNI_REQUIRE(ggnni_matrix_given(dz, ld_dz, src, y->width));
    GGNNI_REQUIRE(ggnni_matrix_given(dout, ld_dout, dst, y->width));
    ggnni_gat s = ggnni_gat_of(y);
    s.dz = dz, s.ld_dz = ld_dz, s.t = transpose, s.dout = dout, s.ld_dout = ld_dout;
    ggnni_gat_run(&s, ggnni_gat_delta, y->block);
    ggnni_gat_run(&s, ggnni_gat_back_piece, transpose);
    ggnn_block entries = *y->block; // dlogit is by them, not by the numbers of edges
    entries.edge = NULL;
    ggnni_edge_sum(y->der, &entries, y->dlogit, y->heads, 1);
    if (y->term) ggnni_run_edges(y->block, y->heads, ggnni_gat_dterm, &s);
    ggnni_scores l = {NULL, NULL, y->datt_l, y->z, y->att_l, y->del, y->ld_z,
                      0,    src,  y->heads, s.width, s.loops};
    if (y->att_l) ggnni_run(ggnni_stripes(y->width), ggnni_stripes(y->width), ggnni_scores_datt, &l);
    if (y->att_r)
        ggnn_scores_back(dz, ld_dz, y->datt_r, y->der, y->z, y->ld_z, y->att_r, dst, y->heads, y->width);
    return GGNN_OK;
}

#if defined(__clang__)
#pragma float_control(pop)
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif // GGNN_IMPLEMENTED
#endif // GGNN_IMPLEMENTATION

// ==== [10i] HOT LOOPS, in vectors of GGNN_SIMD_WIDTH floats ===============================================
// [7i] includes this file again for widths 4, 8 and 16, each compiled for the instruction set that has such
// registers (vectors wider than the registers would go through memory). The plain loops of [7i] say what
// these do, and tests compare them bit by bit. Nothing is read past a row: its last vector is moved to end
// with it, some columns are computed twice. (softmax: `readable`.) Narrower rows go to narrower loops.

#ifdef GGNN_SIMD_WIDTH
#undef GGNNI_LOOPS_VERSION
#define GGNNI_LOOPS_VERSION 300 // GGNN_VERSION_NUMBER of this file, whose API part may be another's
#define GGNNI_JOIN2(name, width) name##_##width
#define GGNNI_JOIN(name, width) GGNNI_JOIN2(name, width)
#define GGNNI_V(name) GGNNI_JOIN(name, GGNN_SIMD_WIDTH)           // this width's
#define GGNNI_NARROWER(name) GGNNI_JOIN(name, GGNN_SIMD_NARROWER) // the next narrower one's

typedef float    GGNNI_V(ggnni_float) __attribute__((vector_size(4 * GGNN_SIMD_WIDTH)));
typedef int32_t  GGNNI_V(ggnni_int) __attribute__((vector_size(4 * GGNN_SIMD_WIDTH)));
typedef uint32_t GGNNI_V(ggnni_bits) __attribute__((vector_size(4 * GGNN_SIMD_WIDTH)));
typedef float    GGNNI_V(ggnni_float_at)
    __attribute__((vector_size(4 * GGNN_SIMD_WIDTH), aligned(4), may_alias));
typedef int32_t GGNNI_V(ggnni_int_at)
    __attribute__((vector_size(4 * GGNN_SIMD_WIDTH), aligned(4), may_alias));
typedef uint16_t GGNNI_V(ggnni_half_at)
    __attribute__((vector_size(2 * GGNN_SIMD_WIDTH), aligned(2), may_alias));
#define GGNNI_F GGNNI_V(ggnni_float)
#define GGNNI_I GGNNI_V(ggnni_int)
#define GGNNI_B GGNNI_V(ggnni_bits)

GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_select)(GGNNI_I mask, GGNNI_F yes, GGNNI_F no)
{
    return (GGNNI_F)((mask & (GGNNI_I)yes) | (~mask & (GGNNI_I)no));
}

// ggnn_half_to_float.
GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_load_half)(const char* row)
{
    GGNNI_B half = __builtin_convertvector(*(const GGNNI_V(ggnni_half_at)*)(const void*)row, GGNNI_B),
            size = half & 0x7fffu;
    GGNNI_B normal = (size << 13) + (112u << 23), infinite = normal + (112u << 23);
    GGNNI_F value = __builtin_convertvector((GGNNI_I)size, GGNNI_F) * (1.0f / 16777216.0f);
    value = GGNNI_V(ggnni_select)((GGNNI_I)size >= 0x400, (GGNNI_F)normal, value);
    value = GGNNI_V(ggnni_select)((GGNNI_I)size >= 0x7c00, (GGNNI_F)infinite, value);
    return (GGNNI_F)((GGNNI_B)value | (half & 0x8000u) << 16);
}

GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_load)(const char* row, ggnn_type type, int64_t column)
{
    if (type == GGNN_F16) return GGNNI_V(ggnni_load_half)(row + 2 * column);
    return *(const GGNNI_V(ggnni_float_at)*)(const void*)(row + 4 * column);
}

GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_lane_load)(const float* lanes, int vector)
{
    return GGNNI_V(ggnni_load)((const char*)lanes, GGNN_F32, vector * GGNN_SIMD_WIDTH);
}

GGNNI_INLINE void GGNNI_V(ggnni_store)(float* out, GGNNI_F x) { *(GGNNI_V(ggnni_float_at)*)out = x; }

// Where the `count` vectors of a group of `left` columns begin. Only those past two thirds can meet the row's
// end, as a group is the least that holds what is left: the others' places are known when this is compiled.
GGNNI_INLINE void GGNNI_V(ggnni_columns)(int64_t* at, int count, int32_t left)
{
    GGNNI_UNROLL
    for (int j = 0; j < count; j++) {
        at[j] = j * GGNN_SIMD_WIDTH;
        if (j >= count * 2 / 3 && at[j] > left - GGNN_SIMD_WIDTH) at[j] = left - GGNN_SIMD_WIDTH;
    }
}

// How many vectors the next group has: as few as hold what is left, `most` at most, one of the counts that
// have a loop; never so many that less than a vector is left: the next would go back into these columns.
GGNNI_INLINE int GGNNI_V(ggnni_group)(int32_t left, int most)
{
    const int32_t count = (left + GGNN_SIMD_WIDTH - 1) / GGNN_SIMD_WIDTH;
    if (count <= 12 && most == 16) most = 8;
    if (count > most) return left >= (most + 1) * GGNN_SIMD_WIDTH ? most : most == 4 ? 2 : 6;
    if (most == 4) return count <= 2 ? count : 4;
    return count <= 4 ? count : count <= 6 ? 6 : most;
}

// Columns of head k from c on: `count` vectors; heads of `per` vectors each, or, 0, of this head alone. Their
// sums stay in registers from the first row to the last; their columns of the rows to come are prefetched.
GGNNI_INLINE void GGNNI_V(ggnni_sum_group)(float* out, const ggnni_rows* r, int32_t k, int32_t c, int count,
                                           int per, ggnn_type type, int by_index, int weighted, int chosen)
{
    const int64_t  size = type == GGNN_F16 ? 2 : 4, begin = (k * r->width + c) * size;
    const int64_t  stride = r->coef ? r->stride : 0, pitch = r->pitch, ahead = r->ahead;
    const int      first = GGNNI_FIRST(count * GGNN_SIMD_WIDTH * size);
    const int32_t* index = r->index;
    const char*    base = by_index ? r->base + begin : NULL;
    const float*   coef = r->coef ? r->coef + k : ggnni_ones;
    GGNNI_F        sum[16], zero = {0};
    int64_t        at[16];
    const int      off_lines = r->n > 0 && ggnni_off_lines(ggnni_row_of(r, 0), r->heads * r->width * size);
    GGNNI_V(ggnni_columns)(at, count, per ? count * GGNN_SIMD_WIDTH : r->width - c);
    const int64_t last = (at[count - 1] + GGNN_SIMD_WIDTH) * size - 1; // byte of the group
    out += k * r->width + c;
    __asm__("" : "+r"(base)); // one address, not an addition per term of it in the loop
    for (int64_t l = 0, i = 0, end = 0; l < r->lists; l++, out += r->ld) {
        GGNNI_UNROLL
        for (int j = 0; j < count; j++) sum[j] = zero;
        for (end += ggnni_list_length(r, l); i < end; i++) {
            const char* row = by_index ? base + index[i] * pitch : r->row[i] + begin;
            const char* next = by_index ? base + index[i + ahead] * pitch : r->row[i + ahead] + begin;
            GGNNI_UNROLL
            for (int j = 0; j < count; j += 16 / GGNN_SIMD_WIDTH)
                if (first) GGNNI_PREFETCH_FIRST(next + at[j] * size);
                else GGNNI_PREFETCH(next + at[j] * size);
            if (off_lines) GGNNI_PREFETCH(next + last);
            GGNNI_UNROLL
            for (int j = 0; j < count; j++) {
                GGNNI_F x = GGNNI_V(ggnni_load)(row, type, at[j]);
                if (weighted) x *= coef[per ? j / per : 0];
                if (chosen) {
                    const void* number = r->chosen[i] + begin + at[j] * size;
                    x = (GGNNI_F)((GGNNI_I)x & (*(const GGNNI_V(ggnni_int_at)*)number == r->offset[i]));
                }
                sum[j] += x;
            }
            if (weighted) coef += stride;
        }
        if (r->keep)
            GGNNI_UNROLL
            for (int j = 0; j < count; j++)
                sum[j] += GGNNI_V(ggnni_lane_load)(out + at[j], 0) * r->keep[k + (per ? j / per : 0)];
        if (r->factor)
            GGNNI_UNROLL
            for (int j = 0; j < count; j++) sum[j] *= r->factor[l * r->heads + k + (per ? j / per : 0)];
        GGNNI_UNROLL
        for (int j = 0; j < count; j++) GGNNI_V(ggnni_store)(out + at[j], sum[j]);
    }
}

#define GGNNI_SUM_GROUP(count)                                                                               \
    GGNNI_V(ggnni_sum_group)(out, r, k, c, count, 0, type, by_index, weighted, chosen)
GGNNI_INLINE void GGNNI_V(ggnni_sum_typed)(float* out, const ggnni_rows* r, int32_t k, ggnn_type type,
                                           int most, int by_index, int weighted, int chosen)
{
    for (; k < r->heads; k++)
        for (int32_t c = 0, count; c < r->width; c += count * GGNN_SIMD_WIDTH) {
            count = GGNNI_V(ggnni_group)(r->width - c, most);
            switch (count) {
            case 1: GGNNI_SUM_GROUP(1); break;
            case 2: GGNNI_SUM_GROUP(2); break;
            case 3: if (most > 4) GGNNI_SUM_GROUP(3); break;
            case 4: GGNNI_SUM_GROUP(4); break;
            case 6: if (most > 4) GGNNI_SUM_GROUP(6); break;
            case 8: if (most > 4) GGNNI_SUM_GROUP(8); break;
            default: if (most > 8) GGNNI_SUM_GROUP(16); break;
            }
        }
}

// Each kind of rows apart: what one keeps in registers costs the others nothing.
#define GGNNI_SUM_OF(name, ...)                                                                              \
    GGNNI_APART void GGNNI_V(name)(float* out, const ggnni_rows* r, int32_t k)                               \
    { GGNNI_V(ggnni_sum_typed)(out, r, k, __VA_ARGS__); }
GGNNI_SUM_OF(ggnni_sum_halves, GGNN_F16, 4, 0, 1, 0)
GGNNI_SUM_OF(ggnni_sum_at, GGNN_F32, 4, 0, 1, 0)
GGNNI_SUM_OF(ggnni_sum_ones, GGNN_F32, GGNN_SIMD_WIDTH == 16 ? 16 : 8, 1, 0, 0) // half the registers
GGNNI_SUM_OF(ggnni_sum_weighted, GGNN_F32, GGNN_SIMD_WIDTH == 16 ? 16 : 8, 1, 1, 0)
GGNNI_SUM_OF(ggnni_sum_chosen, GGNN_F32, 4, 1, 1, 1)

// Of heads that are whole vectors several at once.
GGNNI_APART void GGNNI_V(ggnni_sum_several)(float* out, const ggnni_rows* r)
{
    int32_t k = 0;
#define GGNNI_HEADS_OF(vectors, at_once)                                                                     \
    for (; r->width == vectors * GGNN_SIMD_WIDTH && k + at_once <= r->heads; k += at_once)                   \
        GGNNI_V(ggnni_sum_group)(out, r, k, 0, vectors * at_once, vectors, GGNN_F32, 1, 1, 0)
    GGNNI_HEADS_OF(1, 4);
    GGNNI_HEADS_OF(2, 4);
    GGNNI_HEADS_OF(4, 2);
#undef GGNNI_HEADS_OF
    if (k < r->heads) GGNNI_V(ggnni_sum_weighted)(out, r, k);
}

GGNNI_HOT void GGNNI_V(ggnni_sum)(float* out, const ggnni_rows* r)
{
    if (r->width < GGNN_SIMD_WIDTH) GGNNI_NARROWER(ggnni_sum)(out, r);
    else if (r->chosen) GGNNI_V(ggnni_sum_chosen)(out, r, 0);
    else if (r->type == GGNN_F16) GGNNI_V(ggnni_sum_halves)(out, r, 0);
    else if (r->row) GGNNI_V(ggnni_sum_at)(out, r, 0);
    else if (!r->coef) GGNNI_V(ggnni_sum_ones)(out, r, 0);
    else if (r->heads > 1) GGNNI_V(ggnni_sum_several)(out, r);
    else GGNNI_V(ggnni_sum_weighted)(out, r, 0);
}

GGNNI_INLINE void GGNNI_V(ggnni_max_group)(float* out, int32_t* arg, const ggnni_rows* r, int32_t first,
                                           float sign, int32_t k, int32_t c, int count, ggnn_type type)
{
    const int64_t size = type == GGNN_F16 ? 2 : 4, begin = (k * r->width + c) * size;
    GGNNI_F       best[4];
    GGNNI_I       best_i[4], zero = {0};
    int64_t       at[4];
    const int     off_lines = ggnni_off_lines(ggnni_row_of(r, 0), r->heads * r->width * size);
    GGNNI_V(ggnni_columns)(at, count, r->width - c);
    const int64_t last = (at[count - 1] + GGNN_SIMD_WIDTH) * size - 1; // byte of the group
    out += k * r->width + c;
    if (arg) arg += k * r->width + c;
    GGNNI_UNROLL
    for (int j = 0; j < count; j++) {
        float coef = sign * (r->coef ? r->coef[k] : 1.0f);
        best[j] = first ? GGNNI_V(ggnni_load)((const char*)out, GGNN_F32, at[j]) * sign
                        : GGNNI_V(ggnni_load)(ggnni_row_of(r, 0) + begin, type, at[j]) * coef;
        best_i[j] = zero;
        if (first && arg) best_i[j] = *(GGNNI_V(ggnni_int_at)*)(arg + at[j]);
    }
    for (int32_t i = first == 0; i < r->n; i++) {
        const char *row = ggnni_row_of(r, i) + begin, *next = ggnni_row_of(r, i + r->ahead) + begin;
        float       coef = sign * (r->coef ? r->coef[i * r->stride + k] : 1.0f);
        GGNNI_UNROLL
        for (int j = 0; j < count; j += 16 / GGNN_SIMD_WIDTH) GGNNI_PREFETCH(next + at[j] * size);
        if (off_lines) GGNNI_PREFETCH(next + last);
        GGNNI_UNROLL
        for (int j = 0; j < count; j++) {
            GGNNI_F x = GGNNI_V(ggnni_load)(row, type, at[j]) * coef;
            GGNNI_I better = ~(x <= best[j]) & (x <= x); // greater, or the first that is no NaN
            best[j] = GGNNI_V(ggnni_select)(better, x, best[j]);
            best_i[j] = (better & (zero + (first + i))) | (~better & best_i[j]);
        }
    }
    GGNNI_UNROLL
    for (int j = 0; j < count; j++) {
        GGNNI_V(ggnni_store)(out + at[j], best[j] * sign);
        if (arg) *(GGNNI_V(ggnni_int_at)*)(arg + at[j]) = best_i[j];
    }
}

GGNNI_HOT void GGNNI_V(ggnni_max)(float* out, int32_t* arg, const ggnni_rows* r, int32_t first, float sign)
{
    if (r->width < GGNN_SIMD_WIDTH) GGNNI_NARROWER(ggnni_max)(out, arg, r, first, sign);
    else for (int32_t k = 0; k < r->heads; k++)
        for (int32_t c = 0, count; c < r->width; c += count * GGNN_SIMD_WIDTH) {
            count = GGNNI_V(ggnni_group)(r->width - c, 4);
            switch (count + (r->type == GGNN_F16 ? 4 : 0)) {
            case 1: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 1, GGNN_F32); break;
            case 2: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 2, GGNN_F32); break;
            case 4: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 4, GGNN_F32); break;
            case 5: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 1, GGNN_F16); break;
            case 6: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 2, GGNN_F16); break;
            default: GGNNI_V(ggnni_max_group)(out, arg, r, first, sign, k, c, 4, GGNN_F16); break;
            }
        }
}

// The sixteen partial sums in registers while whole sixteens last, then in memory; vectors of four fold them.
GGNNI_INLINE float GGNNI_V(ggnni_dot_row)(const char* row, const char* next, const float* x, int32_t width,
                                           int first)
{
    enum { VECTORS = 16 / GGNN_SIMD_WIDTH };
    float         part[16];
    ggnni_float_4 a, b;
    GGNNI_F       sum[VECTORS], zero = {0};
    int32_t       j = 0;
    GGNNI_UNROLL
    for (int v = 0; v < VECTORS; v++) sum[v] = zero;
    for (; j + 16 <= width; j += 16) {
        if (first) GGNNI_PREFETCH_FIRST(next + 4 * j);
        else GGNNI_PREFETCH(next + 4 * j);
        GGNNI_UNROLL
        for (int v = 0; v < VECTORS; v++)
            sum[v] += GGNNI_V(ggnni_load)(row, GGNN_F32, j + v * GGNN_SIMD_WIDTH) *
                      GGNNI_V(ggnni_load)((const char*)x, GGNN_F32, j + v * GGNN_SIMD_WIDTH);
    }
    if (j < width) GGNNI_PREFETCH(next + 4 * width - 1);
    GGNNI_UNROLL
    for (int v = 0; v < VECTORS; v++) GGNNI_V(ggnni_store)(part + v * GGNN_SIMD_WIDTH, sum[v]);
    for (; j + 4 <= width; j += 4)
        *(ggnni_float_at_4*)(part + j % 16) +=
            *(const ggnni_float_at_4*)(const void*)(row + 4 * j) * *(const ggnni_float_at_4*)(x + j);
    for (; j < width; j++) part[j % 16] += ((const float*)(const void*)row)[j] * x[j];
    a = *(ggnni_float_at_4*)part + *(ggnni_float_at_4*)(part + 8);
    b = *(ggnni_float_at_4*)(part + 4) + *(ggnni_float_at_4*)(part + 12);
    a += b;
    return (a[0] + a[2]) + (a[1] + a[3]);
}

// heads and width: constants where they are met most.
GGNNI_INLINE void GGNNI_V(ggnni_dot_rows)(float* out, const float* x, const ggnni_rows* r, int32_t heads,
                                          int32_t width)
{
    const int32_t *index = r->index, *index_ahead = index + r->ahead;
    const int64_t  pitch = r->pitch, bytes = heads * width * (int64_t)sizeof *x;
    const int      off_lines = ggnni_off_lines(ggnni_row_of(r, 0), bytes), first = GGNNI_FIRST(bytes);
    for (int32_t l = 0, i = 0, end = 0; l < r->lists; l++, x += r->ld)
        for (end += ggnni_list_length(r, l); i < end; i++) {
            const char *row = r->base + index[i] * pitch, *next = r->base + index_ahead[i] * pitch;
            if (off_lines) GGNNI_PREFETCH(next + bytes - 1);
            for (int32_t k = 0; k < heads * width; k += width)
                *out++ = GGNNI_V(ggnni_dot_row)(row + 4 * k, next + 4 * k, x + k, width, first);
        }
}

GGNNI_APART void GGNNI_V(ggnni_dot_32)(float* out, const float* x, const ggnni_rows* r)
{
    if (r->heads == 1) GGNNI_V(ggnni_dot_rows)(out, x, r, 1, 32);
    else GGNNI_V(ggnni_dot_rows)(out, x, r, r->heads, 32);
}

GGNNI_HOT void GGNNI_V(ggnni_dot)(float* out, const float* x, const ggnni_rows* r)
{
    if (r->width == 32) GGNNI_V(ggnni_dot_32)(out, x, r);
    else GGNNI_V(ggnni_dot_rows)(out, x, r, r->heads, r->width);
}

// Rests first: narrow code that GCC calls while wide registers are in use is slow (softmax was, five times).
GGNNI_HOT void GGNNI_V(ggnni_blend)(float* out, float keep, float factor, const void* x, ggnn_type type,
                                 int32_t width)
{
    const int32_t whole = width / GGNN_SIMD_WIDTH * GGNN_SIMD_WIDTH;
    const void*   rest = x ? (const char*)x + whole * ggnn_type_bytes(type) : NULL;
    if (whole < width) GGNNI_NARROWER(ggnni_blend)(out + whole, keep, factor, rest, type, width - whole);
    for (int32_t j = 0; j < whole; j += GGNN_SIMD_WIDTH) {
        GGNNI_F sum = GGNNI_V(ggnni_load)((const char*)out, GGNN_F32, j) * keep;
        if (x) sum += GGNNI_V(ggnni_load)((const char*)x, type, j) * factor;
        GGNNI_V(ggnni_store)(out + j, sum);
    }
}

// ggnn_exp2.
GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_power)(GGNNI_F x)
{
    const GGNNI_F zero = {0}, infinity = zero + INFINITY;
    GGNNI_F       shifted = x + 12582912.0f, r = x - (shifted - 12582912.0f), p;
    p = r * 0.00015353362f + 0.0013398875f;
    p = p * r + 0.00961843692f;
    p = p * r + 0.0555033237f;
    p = p * r + 0.240226477f;
    p = p * r + 0.693147182f;
    p = p * r + 1.0f;
    p = (GGNNI_F)((GGNNI_B)p + ((GGNNI_B)shifted << 23));
    p = GGNNI_V(ggnni_select)(x < -126.0f, zero, p);
    p = GGNNI_V(ggnni_select)(x >= 128.0f, infinity, p);
    return GGNNI_V(ggnni_select)(x != x, x, p);
}

GGNNI_HOT void GGNNI_V(ggnni_exp2)(float* x, int64_t n, const float* less)
{
    for (int64_t i = 0; i < n; i += GGNN_SIMD_WIDTH) {
        GGNNI_F much = GGNNI_V(ggnni_lane_load)(x + i, 0) - GGNNI_V(ggnni_lane_load)(less + i % 16, 0);
        GGNNI_V(ggnni_store)(x + i, GGNNI_V(ggnni_power)(much));
    }
}

// Lane i: lane[i % heads], put together in registers: a vector would wait until its parts are in the cache.
GGNNI_INLINE GGNNI_F GGNNI_V(ggnni_repeat)(const float* lane, int32_t heads, int vector)
{
    GGNNI_F all = {0};
    GGNNI_UNROLL
    for (int i = 0; i < GGNN_SIMD_WIDTH; i++) all[i] = lane[(vector * GGNN_SIMD_WIDTH + i) & (heads - 1)];
    return all;
}

// The first n < 16 of a vector of 16 numbers.
GGNNI_INLINE void GGNNI_V(ggnni_put_rest)(float* out, const GGNNI_F* x, int64_t n)
{
    float tail[GGNN_SIMD_WIDTH];
    for (; n >= GGNN_SIMD_WIDTH; n -= GGNN_SIMD_WIDTH, x++, out += GGNN_SIMD_WIDTH)
        GGNNI_V(ggnni_store)(out, *x);
    GGNNI_V(ggnni_store)(tail, *x);
    memcpy(out, tail, (size_t)n * sizeof *out);
}

GGNNI_HOT void GGNNI_V(ggnni_softmax)(float* out, const float* x, int64_t n, int32_t heads, int64_t readable)
{
    enum { VECTORS = 16 / GGNN_SIMD_WIDTH };
    const int64_t count = n * heads, whole = count / 16 * 16;
    float         lane[16], tail[16] = {0};
    GGNNI_F       most[VECTORS], scale[VECTORS], rest[VECTORS], zero = {0};
    const float*  from = x + whole;
    if (whole + 16 > readable) from = (const float*)memcpy(tail, from, (size_t)(count - whole) * sizeof *x);
    for (int v = 0; v < VECTORS; v++) {
        const GGNNI_I at = *(const GGNNI_V(ggnni_int_at)*)(const void*)(ggnni_places + v * GGNN_SIMD_WIDTH);
        rest[v] = GGNNI_V(ggnni_lane_load)(from, v);
        rest[v] = most[v] = GGNNI_V(ggnni_select)(at < (int32_t)(count - whole), rest[v], zero - INFINITY);
    }
    for (int64_t i = 0; i < whole; i += 16)
        GGNNI_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            GGNNI_F value = GGNNI_V(ggnni_lane_load)(x + i, v);
            most[v] = GGNNI_V(ggnni_select)(value > most[v], value, most[v]);
        }
    for (int v = 0; v < VECTORS; v++) GGNNI_V(ggnni_store)(lane + v * GGNN_SIMD_WIDTH, most[v]);
    ggnni_fold_greatest(lane, heads);
    for (int v = 0; v < VECTORS; v++) {
        most[v] = GGNNI_V(ggnni_repeat)(lane, heads, v);
        rest[v] = GGNNI_V(ggnni_power)((rest[v] - most[v]) * ggnni_log2_e);
    }
    for (int64_t i = 0; i < whole; i += 16)
        GGNNI_UNROLL
        for (int v = 0; v < VECTORS; v++) {
            GGNNI_F value = GGNNI_V(ggnni_lane_load)(x + i, v) - most[v];
            GGNNI_V(ggnni_store)(out + i + v * GGNN_SIMD_WIDTH, GGNNI_V(ggnni_power)(value * ggnni_log2_e));
        }
    GGNNI_V(ggnni_put_rest)(out + whole, rest, count - whole);
    for (int32_t k = 0; k < heads; k++) lane[k] = 0;
    for (int64_t e = 0; e < n; e += GGNNI_SEGMENT)
        ggnni_sum_heads(lane, ggnni_ones, out + e * heads, ggnni_segment_length(n - e), heads);
    for (int32_t k = 0; k < heads; k++) lane[k] = 1.0f / lane[k];
    for (int v = 0; v < VECTORS; v++) scale[v] = GGNNI_V(ggnni_repeat)(lane, heads, v), rest[v] *= scale[v];
    for (int64_t i = 0; i < whole; i += 16)
        GGNNI_UNROLL
        for (int v = 0; v < VECTORS; v++)
            GGNNI_V(ggnni_store)
            (out + i + v * GGNN_SIMD_WIDTH, GGNNI_V(ggnni_lane_load)(out + i, v) * scale[v]);
    GGNNI_V(ggnni_put_rest)(out + whole, rest, count - whole);
}

GGNNI_HOT void GGNNI_V(ggnni_leaky)(float* x, int64_t n, const float* add, float slope, float* most)
{
    const GGNNI_F zero = {0};
    for (int v = 0; v < 16 / GGNN_SIMD_WIDTH; v++) {
        const GGNNI_F plus = GGNNI_V(ggnni_lane_load)(add, v);
        GGNNI_F       greatest = GGNNI_V(ggnni_lane_load)(most, v);
        for (int64_t i = v * GGNN_SIMD_WIDTH; i < n; i += 16) {
            GGNNI_F sum = GGNNI_V(ggnni_lane_load)(x + i, 0) + plus;
            GGNNI_F logit = GGNNI_V(ggnni_select)(sum > zero, sum, sum * slope) * ggnni_log2_e;
            GGNNI_V(ggnni_store)(x + i, logit);
            greatest = GGNNI_V(ggnni_select)(logit > greatest, logit, greatest);
        }
        GGNNI_V(ggnni_store)(most + v * GGNN_SIMD_WIDTH, greatest);
    }
}

GGNNI_HOT void GGNNI_V(ggnni_widen)(float* out, const uint16_t* half, int64_t n)
{
    int64_t i = 0;
    for (; i + GGNN_SIMD_WIDTH <= n; i += GGNN_SIMD_WIDTH)
        GGNNI_V(ggnni_store)(out + i, GGNNI_V(ggnni_load)((const char*)half, GGNN_F16, i));
    if (i < n) GGNNI_NARROWER(ggnni_widen)(out + i, half + i, n - i);
}

#if defined(__x86_64__)
#if GGNN_SIMD_WIDTH == 4
GGNNI_INLINE void ggnni_stream_piece(char* out, const char* row)
{
    _mm_stream_ps((float*)(void*)out, _mm_loadu_ps((const float*)(const void*)row));
}
#endif
GGNNI_INLINE void GGNNI_V(ggnni_stream_line)(char* out, const char* row)
{
#if GGNN_SIMD_WIDTH == 16
    _mm512_stream_si512((__m512i*)(void*)out, _mm512_loadu_si512(row));
#else
    for (int j = 0; j < 64; j += 16) ggnni_stream_piece(out + j, row + j);
#endif
}
#endif

// Whole lines; a row's ends, in lines shared with its neighbours, by 16 bytes, which store buffers join.
GGNNI_HOT void GGNNI_V(ggnni_stream)(char* out, const char* row, int64_t bytes)
{
#if defined(__x86_64__)
    int64_t i = 0;
    for (; i < bytes && (uintptr_t)(out + i) % 64; i += 16) ggnni_stream_piece(out + i, row + i);
    for (; i + 64 <= bytes; i += 64) GGNNI_V(ggnni_stream_line)(out + i, row + i);
    for (; i < bytes; i += 16) ggnni_stream_piece(out + i, row + i);
#else
    memcpy(out, row, (size_t)bytes);
#endif
}

// ---- sampling in lanes: Philox and Fisher-Yates for several nodes side by side ------

typedef uint64_t GGNNI_V(ggnni_u64) __attribute__((vector_size(4 * GGNN_SIMD_WIDTH), aligned(8), may_alias));
typedef uint32_t GGNNI_V(ggnni_u32) __attribute__((vector_size(4 * GGNN_SIMD_WIDTH), aligned(4), may_alias));
typedef uint32_t GGNNI_V(ggnni_half_u32)
    __attribute__((vector_size(2 * GGNN_SIMD_WIDTH), aligned(4), may_alias));

// The product of the low halves of 64-bit lanes: one instruction, which compilers do not find in plain C.
GGNNI_INLINE GGNNI_V(ggnni_u64) GGNNI_V(ggnni_mul)(GGNNI_V(ggnni_u64) a, GGNNI_V(ggnni_u64) b)
{
#if defined(__x86_64__) && GGNN_SIMD_WIDTH == 16
    return (GGNNI_V(ggnni_u64))_mm512_maskz_mul_epu32(0xff, (__m512i)a, (__m512i)b); // gcc warns of the plain
#elif defined(__x86_64__) && GGNN_SIMD_WIDTH == 8
    return (GGNNI_V(ggnni_u64))_mm256_mul_epu32((__m256i)a, (__m256i)b);
#elif defined(__x86_64__)
    return (GGNNI_V(ggnni_u64))_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
    return (a & 0xffffffffu) * (b & 0xffffffffu);
#endif
}

// ggnn_philox for the streams and blocks of some lanes, a 64-bit lane each. Words are in the low halves; the
// high halves hold what is left of products and keys, and nobody looks at them.
GGNNI_INLINE void GGNNI_V(ggnni_philox)(GGNNI_V(ggnni_u64) word[4], uint64_t key, GGNNI_V(ggnni_u64) stream,
                                        uint64_t step, GGNNI_V(ggnni_u64) block)
{
    const GGNNI_V(ggnni_u64) zero = {0}, m0 = zero + 0xD2511F53u, m1 = zero + 0xCD9E8D57u;
    GGNNI_V(ggnni_u64) a = block, b = zero + step, c = stream, d = stream >> 32;
    GGNNI_V(ggnni_u64) k0 = zero + key, k1 = zero + (key >> 32);
    for (int round = 0; round < 10; round++) {
        GGNNI_V(ggnni_u64) p = GGNNI_V(ggnni_mul)(a, m0), q = GGNNI_V(ggnni_mul)(c, m1);
        a = (q >> 32) ^ b ^ k0;
        c = (p >> 32) ^ d ^ k1;
        b = q;
        d = p;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    word[0] = a, word[1] = b, word[2] = c, word[3] = d;
}

// Draws 0 .. m-1 of each lane as Fisher-Yates bounds them: draw i in [0, n - i).
GGNNI_INLINE void GGNNI_V(ggnni_lane_draws)(uint32_t (*draw)[GGNNI_LANES], uint64_t key,
                                            const uint64_t* stream, uint64_t step, const uint64_t* n,
                                            int32_t m)
{
    enum { WIDTH = GGNN_SIMD_WIDTH / 2 };
    typedef GGNNI_V(ggnni_u64) vec;
    for (int32_t i = 0; i < m; i += 2)
        for (int lane = 0; lane < GGNNI_LANES; lane += WIDTH) {
            vec word[4], block = {0}, bound = *(const vec*)(n + lane) - (uint64_t)i;
            block += (uint64_t)(i / 2);
            GGNNI_V(ggnni_philox)(word, key, *(const vec*)(stream + lane), step, block);
            for (int32_t half = 0; half < 2 && i + half < m; half++) { // high product of 64 by 32 bits
                vec low = GGNNI_V(ggnni_mul)(word[2 * half + 1], bound) >> 32;
                vec draws = (GGNNI_V(ggnni_mul)(word[2 * half], bound) + low) >> 32;
                *(GGNNI_V(ggnni_half_u32)*)(draw[i + half] + lane) =
                    __builtin_convertvector(draws, GGNNI_V(ggnni_half_u32));
                bound -= 1;
            }
        }
}

// ggnni_lanes_plain for all nodes at once.
// No table: what lies in slot r_i was moved there by the last draw j < i with r_j = r_i, or is r_i itself.
GGNNI_HOT void GGNNI_V(ggnni_lanes)(uint32_t (*offset)[GGNNI_LANES], uint64_t key, const uint64_t* stream,
                                 uint64_t step, const uint64_t* n, int32_t m)
{
    enum { WIDTH = GGNN_SIMD_WIDTH };
    typedef GGNNI_V(ggnni_u32) vec;
    uint32_t draw[GGNNI_LANE_FANOUT][GGNNI_LANES], moved[GGNNI_LANE_FANOUT][GGNNI_LANES], slots[GGNNI_LANES];
    GGNNI_V(ggnni_lane_draws)(draw, key, stream, step, n, m);
    for (int lane = 0; lane < GGNNI_LANES; lane++) slots[lane] = (uint32_t)n[lane];
    for (int lane = 0; lane < GGNNI_LANES; lane += WIDTH) {
        vec last = *(const vec*)(slots + lane);
        for (int32_t i = 0; i < m; i++) {
            vec r = *(const vec*)(draw[i] + lane), taken = r, moves;
            last -= 1; // slot n - 1 - i: its content moves to slot r
            moves = last;
            for (int32_t j = 0; j < i; j++) {
                vec at = *(const vec*)(draw[j] + lane), content = *(const vec*)(moved[j] + lane);
                vec hit = (vec)(at == r), hit_last = (vec)(at == last);
                taken = (content & hit) | (taken & ~hit);
                moves = (content & hit_last) | (moves & ~hit_last);
            }
            *(vec*)(moved[i] + lane) = moves;
            *(vec*)(offset[i] + lane) = taken;
        }
    }
}

// ggnni_words_plain, a block a lane. What is left takes a whole vector too, which costs no more than a
// quarter of it in narrower ones; those do less than that.
GGNNI_HOT void GGNNI_V(ggnni_words)(void* word, uint64_t key, uint64_t stream, uint64_t step, uint32_t block,
                                 int by_stream, int64_t n)
{
    enum { WIDTH = GGNN_SIMD_WIDTH / 2 };
    const uint64_t streams_step = by_stream ? WIDTH : 0, blocks_step = by_stream ? 0 : WIDTH;
    GGNNI_V(ggnni_u64) zero = {0}, lane = {0}, streams, blocks;
    int64_t done = 0;
    for (int i = 0; i < WIDTH; i++) lane[i] = (uint64_t)i; // folds to a constant
    streams = (by_stream ? lane : zero) + stream;
    blocks = (by_stream ? zero : lane) + block;
    for (; n - done > (WIDTH + 3) / 4; done += WIDTH, streams += streams_step, blocks += blocks_step) {
        const int lanes = n - done < WIDTH ? (int)(n - done) : WIDTH;
        GGNNI_V(ggnni_u64) w[4], low, high;
        GGNNI_V(ggnni_philox)(w, key, streams, step, blocks);
        low = (w[0] & 0xffffffffu) | w[1] << 32;
        high = (w[2] & 0xffffffffu) | w[3] << 32;
        for (int i = 0; i < lanes; i++) {
            const uint64_t half[2] = {low[i], high[i]};
            memcpy((char*)word + 16 * (done + i), half, sizeof half);
        }
    }
    if (done >= n) return;
    if (by_stream) stream += (uint64_t)done;
    else block += (uint32_t)done;
    GGNNI_NARROWER(ggnni_words)((char*)word + 16 * done, key, stream, step, block, by_stream, n - done);
}

static const ggnni_loops GGNNI_V(ggnni_loops) = {
    GGNNI_V(ggnni_sum),   GGNNI_V(ggnni_max),   GGNNI_V(ggnni_dot),
    GGNNI_V(ggnni_blend), GGNNI_V(ggnni_exp2),       GGNNI_V(ggnni_leaky), GGNNI_V(ggnni_widen),
    GGNNI_V(ggnni_stream), GGNNI_V(ggnni_softmax), GGNNI_V(ggnni_lanes), GGNNI_V(ggnni_words)};

#undef GGNNI_JOIN2
#undef GGNNI_JOIN
#undef GGNNI_V
#undef GGNNI_NARROWER
#undef GGNNI_F
#undef GGNNI_I
#undef GGNNI_B
#undef GGNN_SIMD_WIDTH
#undef GGNN_SIMD_NARROWER
#endif // GGNN_SIMD_WIDTH

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* LICENSE
MIT License

Copyright (c) 2026 The ggnn authors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.
*/
