// ggnn.h - v0.1.0 - graph sampling and GNN kernels in C99
//
// Everything that sample-based training of graph neural networks needs besides the dense part: CSC graphs, neighbour
// samplers without replacement, append-unique, mini-batch blocks, gather from rows spread over parts and host, SpMM,
// SDDMM, edge softmax, fused graph attention - forward and backward. Its twin ggnn_cuda.cuh has the same on a GPU.
//
// In ONE C or C++ file:
//     #define GGNN_IMPLEMENTATION
//     #include "ggnn.h"
// In all others just include it. Link with -lm; -fopenmp is used where the compiler has it on.
//
// A complete program: a triangle 0-1-2 and a tail 3, two neighbours of node 0 and of node 3, mean of their rows.
//     #define GGNN_IMPLEMENTATION
//     #include "ggnn.h"
//     #include <stdio.h>
//     #include <stdlib.h>
//     int main(void)
//     {
//         const int64_t    indptr[]  = {0, 2, 4, 7, 8};                // the in-neighbours of v are
//         const ggnn_node  indices[] = {1, 2, 0, 2, 0, 1, 3, 2};       // indices[indptr[v] .. indptr[v+1])
//         const float      x[]       = {1, 2, 4, 8};                   // one feature a node
//         const ggnn_node  seeds[]   = {0, 3};
//         ggnn_csc         csc       = {indptr, NULL, indices, NULL, 8};
//         ggnn_graph       g         = ggnn_graph_plain(&csc, 4, 8);
//         ggnn_sampling    how       = {GGNN_FISHER_YATES, 1, {2}, 0, 0, 0, 0, 0};
//         ggnn_rng         rng       = {1, 0, GGNN_PURPOSE_SAMPLE};    // seed 1, step 0
//         ggnn_batch       batch;
//         ggnn_unique_kind kind      = ggnn_unique_choose(4);
//         ggnn_unique*     seen      = ggnn_unique_init(malloc(ggnn_unique_bytes(kind, 4, 4)), kind, 4, 4);
//         const void*      base[]    = {x, NULL, NULL};
//         ggnn_store       rows      = ggnn_store_plain(base, 4, 1, GGNN_F32);
//         float            mean[2];
//         ggnn_batch_init(&batch, &g, &how, 2, malloc(ggnn_batch_bytes(&g, &how, 2)));
//         if (ggnn_sample(&batch, seen, &g, &how, &rng, seeds, 2) != GGNN_OK) return 1;
//         ggnn_aggregate(mean, 1, GGNN_MEAN, &batch.hop[0], NULL, &rows, batch.id);
//         printf("%g %g\n", (double)mean[0], (double)mean[1]);          // 3 4
//         return 0;
//     }
//
// WHAT IT DOES NOT DO
//   No dense layers, no optimiser (trainer/ has them), no files (datasets/), no allocation, no printing, no global
//   state, no threads but those of GGNN_PARALLEL_FOR, no renumbering of the caller's nodes.
//
// GLOSSARY
//   N nodes   E edges   D targets (dst) and S sources (src) of a block   F features   H hidden   K heads   P parts
//   CSC        in-neighbour lists: row v holds the sources u of the edges u -> v, whose messages v receives
//   seeds      the nodes whose output is wanted   frontier   the nodes that a hop samples neighbours of
//   block      one hop, bipartite: targets, sources (the targets come first), CSC with local indices
//   fanout     neighbours wanted a node; -1: all
//
// OPTIONS (define before including, the same in every file)
//   GGNN_STATIC            all functions static: private copy in each file that also defines GGNN_IMPLEMENTATION
//   GGNN_NODE64            64-bit global ids (else N < 2^31); files with and without it do not link together
//   GGNN_CACHE_BYTES       last-level cache a thread may count on (32 MiB): chooses the form of ggnn_unique
//   GGNN_ASSERT(c)         checks of preconditions (assert)
//   GGNN_PARALLEL_FOR(n, body, context)   runs body(context, i) for i in [0, n), in any order, and waits
//   GGNN_NO_SIMD           the plain loops only
//
// CONTENTS (search for the tag; the implementation's is [1i] and so on)
//   [1] BASE   [2] RANDOM   [3] GRAPH   [4] SAMPLE   [5] UNIQUE   [6] BLOCK   [7] STORE   [8] SPARSE
//
// PROMISES
//   The same input gives the same bits for any number of threads. Integers equal those of ggnn_cuda.cuh. Random
//   numbers are keyed by (seed, step, purpose, hop, node, draw): a node's sample depends on nothing else.
//   Float sums run in edge order; a row of more than 256 edges is summed in segments of 256 that are added in order.
//   A product in a sum is rounded before it is added: the implementation switches contraction off.
//
// PAPERS
//   Salmon et al. 2011 (Philox)                    Hamilton et al. 2017 (GraphSAGE)      Kipf & Welling 2017 (GCN)
//   Velickovic et al. 2018 (GAT)                   Ying et al. 2018 (PinSAGE walks)      Efraimidis & Spirakis 2006
//   Yang et al. 2022 (WholeGraph: path doubling, append-unique)    Tang et al. 2024 (XGNN: rejection sampler, GGMS)
//
// LICENSE: MIT, at the end of this file.

#ifndef GGNN_H
#define GGNN_H

#include <stddef.h>
#include <stdint.h>

#if defined(GGNN_STATIC) && defined(__GNUC__)
#define GGNN_API static __attribute__((unused))
#elif defined(GGNN_STATIC)
#define GGNN_API static
#elif defined(__cplusplus)
#define GGNN_API extern "C"
#else
#define GGNN_API extern
#endif

// =============================================================================
// ==== [1] BASE: ids, sizes, status, types of elements
// =============================================================================

#ifdef __CUDACC__
#define GGNN_HD static inline __host__ __device__
#else
#define GGNN_HD static inline
#endif

#ifdef GGNN_NODE64
typedef int64_t ggnn_node; // a global id, as in the file; local ids are int32_t in every build
#define GGNN_NODE_MAX INT64_MAX
#define ggnn_sample ggnn_sample_node64 // so that files of different widths do not link
#else
typedef int32_t ggnn_node;
#define GGNN_NODE_MAX INT32_MAX
#endif

// A size that lives with the data (*n; on the device for CUDA), and its bound, known to the host.
typedef struct {
    int64_t* n;
    int64_t  max;
} ggnn_count;

#define GGNN_STATUS_LIST(X)                                                                                            \
    X(GGNN_OK, "ok")                                                                                                   \
    X(GGNN_ERROR_ARGUMENT, "an argument is out of range")                                                              \
    X(GGNN_ERROR_ID, "a node id or a row of indptr is out of range")                                                   \
    X(GGNN_ERROR_WEIGHT, "an edge weight is negative or not finite")                                                   \
    X(GGNN_ERROR_CAPACITY, "a result does not fit its buffer")                                                         \
    X(GGNN_ERROR_BLOCK, "a block contradicts itself")
typedef enum {
#define GGNN_X(name, text) name,
    GGNN_STATUS_LIST(GGNN_X)
#undef GGNN_X
} ggnn_status;

// A constant English sentence for a status, never NULL.
GGNN_API const char* ggnn_status_string(ggnn_status status);

typedef enum { GGNN_F32, GGNN_F16 } ggnn_type; // of the elements of stored rows; F16 is IEEE binary16 in a uint16_t

GGNN_HD int64_t ggnn_type_bytes(ggnn_type type) { return type == GGNN_F32 ? 4 : 2; }

// binary16 to binary32: exact. Subnormals, infinities and NaN payloads are kept.
GGNN_API float ggnn_half_to_float(uint16_t half);
// binary32 to binary16: rounded to nearest even; too large becomes infinity; NaN stays NaN.
GGNN_API uint16_t ggnn_float_to_half(float value);

// High and low 64 bits of a * b.
GGNN_HD uint64_t ggnn_mul_high(uint64_t a, uint64_t b)
{
    uint64_t low = (a & 0xffffffffu) * (b & 0xffffffffu);
    uint64_t mid = (a >> 32) * (b & 0xffffffffu) + (low >> 32);
    uint64_t mid2 = (a & 0xffffffffu) * (b >> 32) + (mid & 0xffffffffu);
    return (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
}

// =============================================================================
// ==== [2] RANDOM: Philox4x32-10 keyed by what is drawn, never by who draws
// =============================================================================
// Counter words: block, step, node low 32, purpose:8 | hop:8 | node high 16. Key: the seed. These are cuRAND's words of
// curand_init(seed, purpose << 56 | hop << 48 | node, (uint64_t)step << 34 | word), block = word / 4.
// step < 2^30, node < 2^48. Draw j is words 2j (high) and 2j + 1 (low) of its stream. Salmon et al. 2011.

typedef enum {
    GGNN_PURPOSE_SAMPLE,            // draw j: Fisher-Yates, rejection, replacement: the j-th; reservoir: index - fanout;
    GGNN_PURPOSE_EVALUATE,          //         A-Res: the edge's offset in its list. The same for the next two
    GGNN_PURPOSE_PRESAMPLE,         // pre-sampling for cache policies: never sees training's own draws
    GGNN_PURPOSE_WALK,              // block walk * length + step: words 0, 1 the neighbour, word 2 the restart
    GGNN_PURPOSE_EPOCH,             // epoch order
    GGNN_PURPOSE_WEIGHTS,           // initial weights
    GGNN_PURPOSE_DROPOUT,           // hop = layer, block = column / 8, 16-bit field column % 8
    GGNN_PURPOSE_ATTENTION_DROPOUT, // hop = layer, block = (edge in row / 8) * heads + head, 16-bit field edge % 8
    GGNN_PURPOSE_GENERATE           // synthetic graphs
} ggnn_purpose;

typedef struct { // all the state there is
    uint64_t seed;
    uint32_t step; // the mini-batch since the start of training; dropout and samplers differ from step to step
    uint32_t purpose;
} ggnn_rng;

typedef struct {
    uint32_t word[4];
} ggnn_words;

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

// Which stream: hop < 256 (or the layer), node a global id.
GGNN_HD uint64_t ggnn_stream(uint32_t purpose, int32_t hop, int64_t node)
{
    return (uint64_t)purpose << 56 | (uint64_t)(uint32_t)hop << 48 | (uint64_t)node;
}
GGNN_HD ggnn_words ggnn_random(const ggnn_rng* rng, int32_t hop, int64_t node, uint32_t block)
{
    return ggnn_philox(rng->seed, ggnn_stream(rng->purpose, hop, node), (uint64_t)rng->step << 32 | block);
}

// Draw j of a stream whose block j / 2 is given: 64 random bits.
GGNN_HD uint64_t ggnn_draw(ggnn_words block, int64_t j)
{
    return j & 1 ? (uint64_t)block.word[2] << 32 | block.word[3] : (uint64_t)block.word[0] << 32 | block.word[1];
}
// A draw brought into [0, n): the high product, biased by less than n / 2^64.
GGNN_HD int64_t ggnn_bounded(uint64_t draw, int64_t n) { return (int64_t)ggnn_mul_high(draw, (uint64_t)n); }

GGNN_HD int64_t ggnn_draw_below(const ggnn_rng* rng, int32_t hop, int64_t node, int64_t j, int64_t n)
{
    return ggnn_bounded(ggnn_draw(ggnn_random(rng, hop, node, (uint32_t)(j / 2)), j), n);
}

// A word as a float in [0, 1): 24 bits, exact.
GGNN_HD float ggnn_uniform(uint32_t word) { return (float)(word >> 8) * (1.0f / 16777216.0f); }

// Dropout: one block holds eight 16-bit fields, low half of each word first. An element is dropped when its field is
// < threshold = round(65536 p), and kept ones are multiplied by ggnn_dropout_scale(threshold), so that the mean is kept.
GGNN_HD uint32_t ggnn_dropout_field(ggnn_words block, int64_t i)
{
    return block.word[(i & 7) >> 1] >> (i & 1 ? 16 : 0) & 0xffffu;
}
GGNN_HD uint32_t ggnn_dropout_threshold(float p) { return (uint32_t)(p * 65536.0f + 0.5f); }
GGNN_HD float    ggnn_dropout_scale(uint32_t threshold) { return 65536.0f / (float)(65536u - threshold); }

// -log2((draw + 1) / 2^64) with 40 fractional bits, truncated, integers only: so the same on every machine. In [0, 64 * 2^40].
GGNN_HD uint64_t ggnn_neg_log2(uint64_t draw)
{
    uint64_t m = draw + 1, fraction = 0;
    int      exponent = 63;
    if (m == 0) return 0; // u = 1
    while (!(m >> 63)) {
        m <<= 1;
        exponent--;
    }
    for (int bit = 0; bit < 40; bit++) { // m in [1, 2) with 63 fractional bits: squaring it doubles its logarithm
        m = ggnn_mul_high(m, m);         // [1, 4) with 62
        fraction = fraction << 1 | m >> 63;
        if (!(m >> 63)) m <<= 1;
    }
    return ((uint64_t)64 << 40) - ((uint64_t)exponent << 40 | fraction);
}

// The i-th element of a keyed permutation of [0, n): an epoch's order with no sort and no buffer. Six Feistel rounds
// over the least even number of bits (8 at least) that holds n; values >= n walk on along their cycle.
GGNN_HD int64_t ggnn_shuffle(uint64_t seed, uint32_t epoch, int64_t i, int64_t n)
{
    ggnn_rng rng = {seed, epoch, GGNN_PURPOSE_EPOCH};
    int      half = 4;
    while (half < 31 && (uint64_t)n > (uint64_t)1 << 2 * half) half++;
    uint64_t mask = ((uint64_t)1 << half) - 1, x = (uint64_t)i;
    do {
        for (uint32_t round = 0; round < 6; round++)
            x = (x & mask) << half | ((x >> half ^ ggnn_random(&rng, 0, (int64_t)(x & mask), round).word[0]) & mask);
    } while (x >= (uint64_t)n);
    return (int64_t)x;
}

// =============================================================================
// ==== [3] GRAPH: where rows live; CSC over parts; building one from edges
// =============================================================================

// ---- where row v of anything lives, as one device sees it -------------------
// Ranks order the nodes, hottest first. Ranks < cached are in this device's own cache, ranks < stored in one of the
// parts, the others in the host tier. Plain memory: {NULL, NULL, 0, N, 1}.
typedef struct {
    const ggnn_node* rank;   // (N) or NULL: the rank of v is v
    const int64_t*   bound;  // (parts + 1) part p has ranks [bound[p], bound[p+1]); NULL: part r % parts, row r / parts
    int64_t          cached; // rows of the own cache
    int64_t          stored; // ranks in the parts; the host tier has rank - stored
    int32_t          parts;  // >= 1
} ggnn_layout;

typedef struct {
    int32_t slot; // < parts: that part; parts: host tier; parts + 1: own cache
    int64_t row;
} ggnn_place;

// O(1); O(parts) with bound. v must be in [0, N).
GGNN_HD ggnn_place ggnn_locate(const ggnn_layout* at, int64_t v)
{
    int64_t    r = at->rank ? (int64_t)at->rank[v] : v;
    ggnn_place place;
    if (r < at->cached) {
        place.slot = at->parts + 1;
        place.row = r;
    } else if (r >= at->stored) {
        place.slot = at->parts;
        place.row = r - at->stored;
    } else if (at->bound) {
        place.slot = 0;
        while (r >= at->bound[place.slot + 1]) place.slot++;
        place.row = r - at->bound[place.slot];
    } else {
        place.slot = (int32_t)(r % at->parts);
        place.row = r / at->parts;
    }
    return place;
}

typedef struct { // the neighbour lists of one part (or of the host tier, or of the cache)
    const int64_t*   indptr;    // (rows + 1) list i is [indptr[i], indptr[i+1])
    const int64_t*   first;     // (rows) position of the list in the whole graph's edge order; NULL: indptr itself
    const ggnn_node* indices;   // (num_edges) sources, global ids
    const float*     weight;    // (num_edges) or NULL: ones
    int64_t          num_edges; // of this part: a list that claims more is an error, not a wild read
} ggnn_csc;

typedef struct {
    ggnn_layout     at;
    const ggnn_csc* part; // (parts + 2) by slot; slots without rows are never read; (1) in a plain graph
    int64_t         num_nodes, num_edges;
    int64_t*        traffic; // (parts + 2) lists read by slot, added up; NULL: not counted. One thread a counter
} ggnn_graph;

// All lists in one CSC. csc must outlive the graph.
GGNN_HD ggnn_graph ggnn_graph_plain(const ggnn_csc* csc, int64_t num_nodes, int64_t num_edges)
{
    ggnn_graph g = {{0, 0, 0, 0, 1}, 0, 0, 0, 0};
    g.at.stored = num_nodes;
    g.part = csc;
    g.num_nodes = num_nodes;
    g.num_edges = num_edges;
    return g;
}

typedef struct { // the in-neighbours of one node: the only way in which a sampler reads a graph
    const ggnn_node* id;       // (degree) not checked: the sampler checks what it takes
    const float*     weight;   // (degree) or NULL
    int64_t          degree;   // -1: indptr is broken at this node
    int64_t          position; // of id[0] in the whole graph's edge order
} ggnn_list;

// XGNN's accessor: hides part, host tier and cache. v must be in [0, N).
GGNN_HD ggnn_list ggnn_neighbors(const ggnn_graph* g, ggnn_node v)
{
    ggnn_place      place = ggnn_locate(&g->at, v);
    const ggnn_csc* csc = &g->part[place.slot];
    int64_t         begin = csc->indptr[place.row], end = csc->indptr[place.row + 1];
    ggnn_list       list = {0, 0, -1, 0};
    if (g->traffic) g->traffic[place.slot]++;
    if (begin < 0 || begin > end || end > csc->num_edges) return list;
    list.id = csc->indices + begin;
    list.weight = csc->weight ? csc->weight + begin : 0;
    list.degree = end - begin;
    list.position = csc->first ? csc->first[place.row] : begin;
    return list;
}

// The first thing wrong with an input, for a message: "indptr decreases at node 17".
typedef struct {
    const char* what; // NULL: nothing wrong
    int64_t     node; // -1: does not apply
    int64_t     edge; // position, -1: does not apply
} ggnn_fault;

// Checks everything that is promised of a graph: layout consistent, every list inside its part and with first (if given)
// continuing, ids in [0, N), weights finite and >= 0, degrees adding up to num_edges. O(N + E), stops at the first
// fault, which is the least (node, edge) whatever the number of threads. Cannot fail itself.
GGNN_API ggnn_status ggnn_graph_validate(const ggnn_graph* g, ggnn_fault* fault);

// ---- building: plain CSC in the caller's arrays -------------------------------
typedef struct {
    int64_t    num_nodes, num_edges;
    int64_t*   indptr;   // (num_nodes + 1)
    ggnn_node* indices;  // (num_edges)
    float*     weight;   // (num_edges) or NULL
    int64_t*   position; // (num_edges) or NULL: which input edge this is; -1: added here
} ggnn_lists;

// Lists from edges src[e] -> dst[e]: list v holds, in input order, the sources of the edges into v (stable).
// out: num_nodes, num_edges and the arrays are given, and filled; weight and position where not NULL (weight NULL on
// input: ones). O(N + E) a piece of targets, no workspace. GGNN_ERROR_ID: an id outside [0, num_nodes) (nothing is read
// or written out of bounds; out is undefined, fault names the edge). out must not overlap the input.
GGNN_API ggnn_status ggnn_graph_from_coo(ggnn_lists* out, const ggnn_node* src, const ggnn_node* dst, const float* weight,
                                         ggnn_fault* fault);

// Lists of out-neighbours: edge u -> v becomes v -> u. Each list comes sorted by id; of duplicates the earlier list
// position first. Transposing twice sorts every list, stably. position: as in's, or the index in `in` where that is NULL.
// As ggnn_graph_from_coo otherwise.
GGNN_API ggnn_status ggnn_graph_transpose(ggnn_lists* out, const ggnn_lists* in, ggnn_fault* fault);

// Sorts every list by id, stably, in place; weights and positions go along. O(E log degree).
GGNN_API size_t ggnn_graph_sort_workspace_bytes(const ggnn_lists* lists);
GGNN_API void   ggnn_graph_sort(ggnn_lists* lists, void* workspace);

typedef enum { // for ggnn_graph_simplify, combined with |
    GGNN_DROP_DUPLICATES = 1, // keep the first of equal ids
    GGNN_DROP_SELF_LOOPS = 2,
    GGNN_ADD_SELF_LOOPS = 4 // one where a list has none: weight 1, position -1, in id order
} ggnn_simplify;

// out's lists are in's, merged by id with reverse's when that is given (in's transpose: the symmetrised graph; self-loops
// are taken from `in` alone, so that they are not doubled), then changed as `how` says. Input lists must be sorted by id.
// Of equal ids in's come first. Where out->indices is NULL only indptr and num_edges are computed: call it twice, with
// the arrays allocated in between. O(N + E), parallel by rows. out must not overlap the input.
GGNN_API void ggnn_graph_simplify(ggnn_lists* out, const ggnn_lists* in, const ggnn_lists* reverse, int how);

// Renames node v to rank[v] (a permutation of [0, N)), lists and ids; edges keep their order in a list (sort them
// after, if wanted). GGNN_ERROR_ID: rank is not a permutation; fault names the node. seen: N bytes of workspace.
GGNN_API ggnn_status ggnn_graph_reorder(ggnn_lists* out, const ggnn_lists* in, const ggnn_node* rank, void* seen,
                                        ggnn_fault* fault);

// Edges that leave each node: out_degree (num_nodes). In-degrees are differences of indptr. ids must be in range.
GGNN_API void ggnn_graph_out_degrees(int64_t* out_degree, const ggnn_lists* lists);

// =============================================================================
// ==== [4] SAMPLE: neighbours of one node; random walks
// =============================================================================
// Every method is a function of (list, fanout, rng, hop, node). fanout < 0 takes the whole list, 0 nothing; a list of
// at most fanout edges is taken whole, in order (not by REPLACEMENT and WALK). Above GGNN_FANOUT_MAX, Fisher-Yates,
// path doubling and rejection return the reservoir's sample, as their sets would no longer fit a GPU's shared memory.

typedef enum {
    GGNN_FISHER_YATES,  // draw r_i in [0, N-1-i]; take the content of slot r_i; slot r_i gets that of slot N-1-i
    GGNN_PATH_DOUBLING, // the same result by a parallel algorithm: WholeGraph, Algorithm 1
    GGNN_REJECTION,     // the first k distinct values of the node's draws in [0, N), in order of drawing: XGNN
    GGNN_RESERVOIR,     // slot s holds s; for i = k..N-1 draw r in [0, i]; r < k: slot r gets i. O(degree)
    GGNN_WEIGHTED,      // A-Res: the k least -log2(u)/w, ascending, ties to the smaller offset; weight 0 never. O(degree)
    GGNN_REPLACEMENT,   // fanout independent draws in [0, N)
    GGNN_WALK           // PinSAGE: the fanout most visited nodes of random walks; weights are the visits
} ggnn_method;

enum { GGNN_FANOUT_MAX = 1024 };

// Least scratch for one call of ggnn_sample_list at this fanout and degree.
GGNN_API size_t ggnn_sample_workspace_bytes(ggnn_method method, int64_t fanout);

// Samples one list. offset (min(fanout, degree), or fanout for REPLACEMENT) gets offsets into the list. Returns how many
// were taken, or -1 when WEIGHTED meets a weight that is negative or not finite. Any method but WALK.
// Expected O(fanout) but where the method says otherwise; REJECTION draws N (H(N) - H(N-k)) times.
GGNN_API int64_t ggnn_sample_list(int64_t* offset, const ggnn_list* list, ggnn_method method, int64_t fanout,
                                  const ggnn_rng* rng, int32_t hop, ggnn_node node, void* workspace);

// WholeGraph's Algorithm 1 laid open, for those who study it: m draws r[i] in [0, n - 1 - i], m <= n, m <= GGNN_FANOUT_MAX.
// offset[i] is what sequential Fisher-Yates takes at draw i. The arrays of `work` are left as the algorithm had them;
// after sorting (round 0) and after each doubling round watch(context, round, work, m) is called, unless NULL.
typedef struct {
    int64_t s[GGNN_FANOUT_MAX];     // the draws, sorted (equal ones in draw order)
    int32_t p[GGNN_FANOUT_MAX];     // which draw s[i] was
    int32_t q[GGNN_FANOUT_MAX];     // the inverse: draw i is s[q[i]]
    int32_t chain[GGNN_FANOUT_MAX]; // slot n-1-i was last overwritten by draw chain[i] (i: never), then doubled
} ggnn_path;
GGNN_API void ggnn_path_doubling(int64_t* offset, ggnn_path* work, const int64_t* r, int64_t n, int32_t m,
                                 void (*watch)(void* context, int32_t round, const ggnn_path* work, int32_t m), void* context);

typedef struct {
    int32_t walks, length; // from each start; PinSAGE's defaults 4 and 3
    float   restart;       // chance, after each step, to go on from the start again; default .5
} ggnn_walks;

// Random walks along in-edges: visited (walks, length) by start node `node`; step s of walk w moves to a uniform
// neighbour of where the walk is, or, when that has none, notes -1 and goes on from the start. After a step the walk
// returns to the start with chance `restart`. GGNN_ERROR_ID: broken list or id (*bad names the node).
GGNN_API ggnn_status ggnn_random_walk(ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* how,
                                      const ggnn_rng* rng, int32_t hop, ggnn_node node, ggnn_node* bad);

// PinSAGE neighbours from visited nodes (count of them, -1 ignored, `node` itself ignored): the `top` most visited
// (all when top < 0), ordered by falling visits, ties by smaller id. visited is overwritten. Returns how many.
GGNN_API int64_t ggnn_walk_neighbors(ggnn_node* id, float* visits, ggnn_node* visited, int64_t count, int64_t top, ggnn_node node);

// =============================================================================
// ==== [5] UNIQUE: append-unique by order of first occurrence
// =============================================================================
// A table from global id to local id, in the caller's memory, that lives from batch to batch and is never cleared: an
// entry is valid when it lies in the current batch's range of values, [base, base + count). One per batch in flight.
// The kind never changes a result. WholeGraph section 4.3, with ids by first occurrence in place of by race.

typedef enum { GGNN_UNIQUE_DIRECT, GGNN_UNIQUE_HASH } ggnn_unique_kind;

typedef struct ggnn_unique { // read it to learn, change it never
    ggnn_unique_kind kind;
    int64_t          num_nodes; // ids are < num_nodes
    int64_t          max_ids;   // distinct ids a batch may have
    uint64_t         mask;      // slots - 1 of the hash table
    uint32_t         base;      // local id = value - base, valid when < count
    uint32_t         count;     // distinct ids in this batch
    uint32_t*        value;     // direct: (num_nodes); hash: (mask + 1)
    ggnn_node*       key;       // hash: (mask + 1)
} ggnn_unique;

// Direct map while two of them fit the cache: 4 N <= GGNN_CACHE_BYTES / 2; else hash.
GGNN_API ggnn_unique_kind ggnn_unique_choose(int64_t num_nodes);
// Direct: 4 N bytes; hash: 8 (NODE64: 12) bytes a slot, a power of two >= 2 max_ids slots. max_ids < 2^31.
GGNN_API size_t ggnn_unique_bytes(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids);
// The object at the start of memory (64-byte aligned; of _bytes), cleared, ready. NULL when memory is NULL.
GGNN_API ggnn_unique* ggnn_unique_init(void* memory, ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids);
// Starts a batch: forgets all ids. O(1), but for one clearing every 2^31 ids.
GGNN_API void ggnn_unique_begin(ggnn_unique* seen);

// Looks up n ids; new ones are appended to list in order of first occurrence. list is this batch's list so far
// (seen->count entries). local (n) gets the local id of each (NULL: not wanted). GGNN_ERROR_ID: an id outside [0, N);
// GGNN_ERROR_CAPACITY: more than max_ids distinct; *bad is the index of the first such input; what came before is done.
// Serial; O(n) expected; prefetches. id must not overlap list; local may be the same memory as id where both are 4 bytes wide.
GGNN_API ggnn_status ggnn_unique_append(ggnn_unique* seen, ggnn_node* list, int32_t* local, const ggnn_node* id, int64_t n,
                                        int64_t* bad);

// =============================================================================
// ==== [6] BLOCK: one hop, and a mini-batch of hops
// =============================================================================
// A hop is a bipartite block: targets [0, num_dst), sources [0, num_src), of which the first num_dst are the targets.
// All hops of a batch share one list of global ids: the targets and sources of hop h are its first num_dst and num_src
// entries. Hop 0 is the seeds' own; training's layer l of L runs on hop L - 1 - l. Sources and edges number < 2^31.

typedef struct {
    ggnn_count num_dst, num_src, num_edges;
    int64_t*   indptr;   // (num_dst + 1)
    int32_t*   indices;  // (num_edges) local sources; NULL in a global last hop
    ggnn_node* neighbor; // (num_edges) the same as global ids, or NULL
    int64_t*   position; // (num_edges) in the graph's edge order, or NULL; -1: not an edge (walks)
    float*     weight;   // (num_edges) of the edge, or visits of a walk, or NULL
    int32_t*   repeats;  // (num_src) edges that leave each source (how often it was sampled), or NULL
    int32_t*   edge;     // (num_edges) in a transpose: the edge's index in the original; NULL: the edge itself
} ggnn_block;

enum { GGNN_HOPS_MAX = 8 };

typedef enum { // what a batch keeps of each hop, combined with |
    GGNN_KEEP_NEIGHBORS = 1,
    GGNN_KEEP_POSITIONS = 2,
    GGNN_KEEP_WEIGHTS = 4,
    GGNN_KEEP_REPEATS = 8
} ggnn_keep;

typedef struct { // zero-initialise; only method, num_hops and fanout are needed
    ggnn_method method;
    int32_t     num_hops;
    int32_t     fanout[GGNN_HOPS_MAX]; // from the seeds outward; -1: all, 0: none
    int32_t     last_hop_global;       // 1: the last hop gets neighbor instead of indices, its sources are not numbered
    int32_t     keep;
    ggnn_walks  walk; // GGNN_WALK
} ggnn_sampling;

typedef struct {
    ggnn_node* id;         // (sources of the last hop) global ids; the distinct seeds first
    int32_t*   seed_local; // (seeds given) local id of each: equal seeds share one
    ggnn_count num_seeds;  // as given, duplicates included
    int32_t    num_hops;   // sampled so far
    ggnn_block hop[GGNN_HOPS_MAX];
    void*      workspace; // of one node's sample
    int32_t*   status;    // sticky ggnn_status of the CUDA twin; unused here
    ggnn_node  bad;       // after an error: the node it was met at
} ggnn_batch;

// Memory for a batch of at most max_seeds seeds: bounds by fanout, N and E. 0: the batch cannot be (sources or edges
// could reach 2^31, hops outside 1..8, fanout above E, negative walks). Most of a large bound is never touched.
GGNN_API size_t ggnn_batch_bytes(const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds);
// Lays the batch out in memory (64-byte aligned, of ggnn_batch_bytes). GGNN_ERROR_ARGUMENT where that is 0 or NULL.
GGNN_API ggnn_status ggnn_batch_init(ggnn_batch* b, const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds, void* memory);

// A mini-batch: the seeds, then every hop. seen must be for N nodes and at least the batch's sources
// (ggnn_batch_max_ids). Runs on the calling thread: prepare several batches at once on several threads, each with a
// batch, a ggnn_unique (and, when traffic is counted, a ggnn_graph) of its own. O(edges sampled). On an error b->bad
// names the node and the batch is empty.
GGNN_API ggnn_status ggnn_sample(ggnn_batch* b, ggnn_unique* seen, const ggnn_graph* g, const ggnn_sampling* how,
                                 const ggnn_rng* rng, const ggnn_node* seeds, int64_t num_seeds);
// The same in steps, for split training: the seeds (distinct ones numbered by first occurrence), then one hop a call.
GGNN_API ggnn_status ggnn_batch_begin(ggnn_batch* b, ggnn_unique* seen, const ggnn_graph* g, const ggnn_node* seeds, int64_t num_seeds);
GGNN_API ggnn_status ggnn_sample_hop(ggnn_batch* b, ggnn_unique* seen, const ggnn_graph* g, const ggnn_sampling* how, const ggnn_rng* rng);
// Distinct ids that a batch may number: what ggnn_unique needs.
GGNN_API int64_t ggnn_batch_max_ids(const ggnn_graph* g, const ggnn_sampling* how, int64_t max_seeds);

// The whole graph as one block (full batch): num_nodes targets = sources, indices alias a plain 32-bit graph;
// with GGNN_NODE64 they are copied into copy (num_edges). counts (3) is memory for the sizes. GGNN_ERROR_ARGUMENT: the
// graph is not plain, or has 2^31 nodes or edges. weight and indptr alias too.
GGNN_API ggnn_status ggnn_block_whole(ggnn_block* b, const ggnn_graph* g, int64_t* counts, int32_t* copy);

// The transpose: sources become targets, ascending edge order within a list, edge = index in b. Backward is the same
// op on it. _init lays t out in memory for any block within the given maxima. No workspace; O(num_src + num_edges).
// b must have indices.
GGNN_API size_t ggnn_block_transpose_bytes(int64_t max_dst, int64_t max_src, int64_t max_edges);
GGNN_API void   ggnn_block_transpose_init(ggnn_block* t, int64_t max_dst, int64_t max_src, int64_t max_edges, void* memory);
GGNN_API void   ggnn_block_transpose(ggnn_block* t, const ggnn_block* b);

// Checks all that the ops rely on: indptr from 0, not decreasing, ending at num_edges; indices < num_src; num_dst <=
// num_src unless it is a transpose; sizes within max. num_nodes bounds neighbor where given.
GGNN_API ggnn_status ggnn_block_validate(const ggnn_block* b, int64_t num_nodes, ggnn_fault* fault);

// =============================================================================
// ==== [7] STORE: fixed-width rows over parts, host tier and cache
// =============================================================================

typedef struct { // node features, edge features (by CSC position), hidden rows
    ggnn_layout        at;
    int32_t            width;   // elements in a row
    ggnn_type          type;
    const void* const* base;    // (parts + 2) by slot, as this device reads it; NULL where a slot has no rows
    int64_t            pitch;   // bytes from row to row, >= width * ggnn_type_bytes(type)
    int64_t*           traffic; // (parts + 2) rows read by slot, added up; NULL: not counted
} ggnn_store;

// num_rows rows in one array: base[0]. base (3 entries, the last two unused) must outlive the store.
GGNN_HD ggnn_store ggnn_store_plain(const void* const* base, int64_t num_rows, int32_t width, ggnn_type type)
{
    ggnn_store s = {{0, 0, 0, 0, 1}, 0, GGNN_F32, 0, 0, 0};
    s.at.stored = num_rows;
    s.width = width;
    s.type = type;
    s.base = base;
    s.pitch = width * ggnn_type_bytes(type);
    return s;
}

// Address of row v: what peers, host and cache have in common.
GGNN_HD const void* ggnn_row(const ggnn_store* s, int64_t v)
{
    ggnn_place place = ggnn_locate(&s->at, v);
    return (const char*)s->base[place.slot] + place.row * s->pitch;
}

// Rows by pointer table: out[i,:] = row id[i], converted to `as`. ids must be in range. O(n * width), one pass, parallel
// by rows. out (n, width), ld_out >= width in elements of `as`, overwritten; padding beyond width is not written.
GGNN_API void ggnn_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from, const ggnn_node* id, int64_t n);

// Stable split of ids by owner (the slot of ggnn_locate): slot s gets ids gather[bound[s] .. bound[s+1]), and id i
// lies at scatter[i]: gather[scatter[i]] == i. bound (parts + 3). The first part of the all-to-all gather and of GSplit.
GGNN_API void ggnn_split(int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at, const ggnn_node* id, int64_t n);
// out[i,:] = inp[index[i],:]: the other part. (n, width) rows of `type`.
GGNN_API void ggnn_permute(void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type, int32_t width,
                           const int32_t* index, int64_t n);

// =============================================================================
// ==== [8] SPARSE: aggregation, SDDMM, edge softmax, graph attention
// =============================================================================
// All take a block (or its transpose) and dense row-major matrices with ld_ elements from row to row, and write every
// element of their outputs' rows. Precondition: ggnn_block_validate. None can fail; none allocates. Per-edge inputs
// and outputs are indexed by block->edge where that is given (a transpose), so that forward and backward share arrays.
// Columns are split evenly over K heads: heads must divide width.

typedef enum { GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN } ggnn_reduce;

// Factors of a linear aggregation: out[v] = dst[v] * sum over u in N(v) of (src[u] * inp[u]) + self[v] * inp[v].
// Any may be NULL: no dst or src factor, no self term. The transpose of this map swaps src and dst and keeps self, so
// GCN, GraphSAGE's mean and gcn aggregators, and all their backwards are one call each.
typedef struct {
    const float* src;  // (num_src); in ggnn_aggregate (N) by global id
    const float* dst;  // (num_dst); replaces MEAN's 1/|N(v)| where given
    const float* self; // (min(num_dst, num_src)): rows beyond it (in a transpose) have no self term
} ggnn_scale;

// Sparse-dense product over a block: out[v,:] = reduce over e = (u, v) of weight[e, head] * inp[u,:], scaled.
//   MEAN multiplies by 1/|N(v)|, rounded first. Empty N(v): 0 (arg -1). MAX and MIN take the first of equal values, NaN
//   only where all are NaN; they allow weight but no scale.
// Backward of the dense input: SUM on the transpose with scale.src and scale.dst swapped (MEAN: src = 1/|N(v)|,
// ggnn_scale_mean); of MAX, MIN: ggnn_spmm_back_arg. O(E * width). out must not overlap inp.
GGNN_API void ggnn_spmm(float*            out,    // (num_dst, width)  overwritten
                        int64_t           ld_out, //
                        int32_t*          arg,    // (num_dst, width)  MAX, MIN: edge's offset in its list; or NULL
                        ggnn_reduce       how,    //
                        const ggnn_block* b,      //
                        const ggnn_scale* scale,  //                   or NULL
                        const float*      weight, // (num_edges, heads) or NULL: ones
                        int32_t           heads,  //                   of weight; 1 when that is NULL
                        const float*      inp,    // (num_src, width)
                        int64_t           ld_inp, //
                        int32_t           width);

// Backward of MAX, MIN over the transpose t of b: dinp[u,:] = sum over e = (u, v) of weight[e] * dout[v,:] where e was
// chosen. b gives each edge's offset in its list.
GGNN_API void ggnn_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t, const ggnn_block* b, const float* weight,
                                 int32_t heads, const float* dout, int64_t ld_dout, const int32_t* arg, int32_t width);

// The plain twin of the backward of SUM: a serial scatter over b's edges in order, dinp zeroed first. For tests, reading
// and benches; the same sums in another order.
GGNN_API void ggnn_spmm_scatter(float* dinp, int64_t ld_dinp, const ggnn_block* b, const ggnn_scale* scale, const float* weight,
                                int32_t heads, const float* dout, int64_t ld_dout, int32_t width);

// 1 / |N(v)| for each target, 0 where that is empty; with_self: 1 / (|N(v)| + 1) (GraphSAGE's gcn aggregator).
GGNN_API void ggnn_scale_mean(float* inv, const ggnn_block* b, int with_self);

// GCN under sampling, Kipf & Welling 2017: src[u] = 1/sqrt(d_u), d = in-degree in the graph + 1;
// dst[v] = degree/sampled * 1/sqrt(d_v), so that the neighbour sum is unbiased; self[v] = 1/d_v. Full fanout is exactly
// theirs. inv_sqrt (N) holds 1/sqrt(d) by global id, from ggnn_gcn_norm; id is the batch's list; src may be NULL
// (input layer: pass inv_sqrt itself to ggnn_aggregate).
GGNN_API void ggnn_gcn_norm(float* inv_sqrt, const ggnn_graph* g);
GGNN_API void ggnn_scale_gcn(float* src, float* dst, float* self, const ggnn_block* b, const ggnn_node* id,
                             const float* inv_sqrt, const ggnn_graph* g);

// The input layer in one pass, no gathered copy: ggnn_spmm over rows read straight from a store by global id (b->neighbor,
// else id[b->indices]); id (num_src, or num_dst in a global hop) is the batch's list, whose first num_dst are the
// targets. fp16 rows are converted as they are read. scale.src is by global id. Same bits as gather, then spmm.
GGNN_API void ggnn_aggregate(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b, const ggnn_scale* scale,
                             const ggnn_store* from, const ggnn_node* id);

typedef enum { GGNN_DOT, GGNN_ADD } ggnn_edge_op;

// Sampled dense-dense product: for e = (u, v), DOT: out[e,k] = inp_src[u, head k] . inp_dst[v, head k];
// ADD: out[e,k] = inp_src[u,k] + inp_dst[v,k] (width = heads). A dot keeps 16 strided partial sums, folded 8, 4, 2, 1.
// Backward of DOT: ggnn_spmm with weight = dout (on the transpose for inp_src); of ADD: ggnn_edge_sum.
// It is also the backward of ggnn_spmm's edge weights (inp_dst = dout, scaled by the caller for MEAN).
GGNN_API void ggnn_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b, const float* inp_src, int64_t ld_src,
                         const float* inp_dst, int64_t ld_dst, int32_t heads, int32_t width);

// out[v,k] = sum over the edges e of v of value[e,k]. out (num_dst, heads).
GGNN_API void ggnn_edge_sum(float* out, const ggnn_block* b, const float* value, int32_t heads);

// Softmax over each target's edges, per head: out[e,k] (num_edges, heads); may be in place. Nothing over an empty list.
// Backward: dlogit = out * (dout - sum over the list of out * dout); may be in place of dout.
GGNN_API void ggnn_edge_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads);
GGNN_API void ggnn_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out, const float* dout, int32_t heads);

// 2^x, our own: the same bits on every machine and in every instruction set; relative error < 2e-7; 0 below -126, +inf
// from 128 on, NaN for NaN.
GGNN_API float ggnn_exp2(float x);

typedef struct {             // zero-initialise: LeakyReLU 0, no dropout
    float            slope;  // of LeakyReLU: GAT uses .2
    float            dropout;// of attention coefficients; 0: none
    int32_t          layer;  // keys the dropout field, with rng and the target's global id
    ggnn_rng         rng;    // purpose GGNN_PURPOSE_ATTENTION_DROPOUT
    const ggnn_node* id;     // (num_dst) global ids of the targets; NULL: they are 0, 1, ...
} ggnn_attention;

// Per-head scores el[u,k] = z[u, head k] . att[k,:] of n rows: el (n, heads), att (heads, width / heads).
// Backward adds del (x) att to dz and overwrites datt with sum over rows, in row order, of del * z.
GGNN_API void ggnn_scores(float* el, const float* z, int64_t ld_z, const float* att, int64_t n, int32_t heads, int32_t width);
GGNN_API void ggnn_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del, const float* z, int64_t ld_z,
                               const float* att, int64_t n, int32_t heads, int32_t width);

// Fused graph attention, Velickovic et al. 2018, with no (E, width) buffer: target v attends to itself and its list,
//   l[u] = LeakyReLU(el[u] + er[v]),  alpha = softmax of l over {v} and N(v),  out[v,:] = sum alpha[u] * z[u,:]
// per head. Edge 0 of the row is v itself, edge 1 + i its i-th neighbour: that order sums and keys dropout (which acts on
// alpha after the softmax). One pass, running maximum over chunks of 256 edges.
GGNN_API void ggnn_gat(float*                out,    // (num_dst, width)  overwritten
                       int64_t               ld_out, //
                       float*                lse,    // (num_dst, heads)  overwritten: log2 of the sum of 2^(l log2 e)
                       const ggnn_block*     b,      //                   indices given
                       const float*          z,      // (num_src, width)
                       int64_t               ld_z,   //
                       const float*          el,     // (num_src, heads)
                       const float*          er,     // (num_dst, heads)
                       int32_t               heads,  //
                       int32_t               width,  //
                       const ggnn_attention* how);

// Its backward over the transpose t, one pass, deterministic. alpha is computed again from lse. workspace holds the
// gradient of each logit.
GGNN_API size_t ggnn_gat_back_workspace_bytes(int64_t num_dst, int64_t num_edges, int32_t heads);
GGNN_API void   ggnn_gat_back(float*                dz,        // (num_src, width)  overwritten; without the share of el, er
                              int64_t               ld_dz,     //
                              float*                del,       // (num_src, heads)  overwritten
                              float*                der,       // (num_dst, heads)  overwritten
                              const ggnn_block*     t,         //                   transpose of b
                              const ggnn_block*     b,         //
                              const float*          z,         // (num_src, width)
                              int64_t               ld_z,      //
                              const float*          el,        // (num_src, heads)
                              const float*          er,        // (num_dst, heads)
                              const float*          out,       // (num_dst, width)  of ggnn_gat
                              int64_t               ld_out,    //
                              const float*          lse,       // (num_dst, heads)  of ggnn_gat
                              const float*          dout,      // (num_dst, width)
                              int64_t               ld_dout,   //
                              int32_t               heads,     //
                              int32_t               width,     //
                              const ggnn_attention* how,       //                   as forward
                              void*                 workspace);

#endif // GGNN_H

#ifdef GGNN_IMPLEMENTATION
#ifndef GGNN_IMPLEMENTED
#define GGNN_IMPLEMENTED

#include <math.h>
#include <string.h>

#ifndef GGNN_ASSERT
#include <assert.h>
#define GGNN_ASSERT(condition) assert(condition)
#endif
#ifndef GGNN_CACHE_BYTES
#define GGNN_CACHE_BYTES (32 << 20)
#endif

// A product is rounded before it is added, whatever the compiler's default.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#endif

// =============================================================================
// ==== [1i] BASE
// =============================================================================

// Runs body(context, i) for i in [0, n). Pieces never depend on the number of threads, and no two write the same
// element, so neither do results. Serial inside a parallel region: a batch a thread is the outer loop there.
typedef void ggnni_body(void* context, int64_t i);

#ifndef GGNN_PARALLEL_FOR
#ifdef _OPENMP
#include <omp.h>
#endif
#define GGNN_PARALLEL_FOR(n, body, context) ggnni_parallel_for(n, body, context)
static void ggnni_parallel_for(int64_t n, ggnni_body* body, void* context)
{
#ifdef _OPENMP
    if (n > 1 && !omp_in_parallel()) {
#pragma omp parallel for schedule(dynamic, 1)
        for (int64_t i = 0; i < n; i++) body(context, i);
        return;
    }
#endif
    for (int64_t i = 0; i < n; i++) body(context, i);
}
#endif

static int64_t ggnni_min(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ggnni_max(int64_t a, int64_t b) { return a > b ? a : b; }

// How many pieces to cut `work` into: at least `grain` each, 64 at most; and where piece i of n things begins.
static int64_t ggnni_pieces(int64_t work, int64_t grain) { return ggnni_max(1, ggnni_min(64, work / grain)); }
static int64_t ggnni_begin(int64_t n, int64_t i, int64_t pieces) { return n / pieces * i + ggnni_min(n % pieces, i); }

#if defined(__GNUC__)
#define GGNNI_PREFETCH(address) __builtin_prefetch(address)
#else
#define GGNNI_PREFETCH(address) ((void)(address))
#endif

GGNN_API const char* ggnn_status_string(ggnn_status status)
{
    switch (status) {
#define GGNN_X(name, text)                                                                                             \
    case name: return text;
        GGNN_STATUS_LIST(GGNN_X)
#undef GGNN_X
    }
    return "unknown status";
}

GGNN_API float ggnn_half_to_float(uint16_t half)
{
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu, bits;
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
    uint32_t bits, magnitude, rounded;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000u;
    magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (magnitude >> 13 & 0x3ffu)); // NaN, made quiet
    if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u); // 65536 and more
    if (magnitude < 0x38800000u) { // below 2^-14: the float unit rounds it, as a multiple of 2^-24, when .5 is added
        float shifted;
        memcpy(&shifted, &magnitude, sizeof shifted);
        shifted += 0.5f;
        memcpy(&rounded, &shifted, sizeof rounded);
        return (uint16_t)(sign | (rounded - 0x3f000000u));
    }
    rounded = magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u); // rebias; nearest, ties to even
    return (uint16_t)(sign | rounded >> 13);
}

// =============================================================================
// ==== [3i] GRAPH
// =============================================================================

// =============================================================================
// ==== [4i] SAMPLE
// =============================================================================

// =============================================================================
// ==== [5i] UNIQUE
// =============================================================================

// =============================================================================
// ==== [6i] BLOCK
// =============================================================================

// =============================================================================
// ==== [7i] STORE
// =============================================================================

// =============================================================================
// ==== [8i] SPARSE
// =============================================================================

#if defined(__clang__)
#pragma STDC FP_CONTRACT DEFAULT
#elif defined(__GNUC__)
#pragma GCC pop_options
#endif

#endif // GGNN_IMPLEMENTED
#endif // GGNN_IMPLEMENTATION

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
