// ggnn_cuda.cuh - v0.3.0 - the CUDA twin of ggnn.h: graph sampling and GNN kernels on a GPU
//
// The same functions as ggnn.h, section by section, with the same argument names and the same results:
// integers bit for bit, floats equal or within what each function says. ggnn_cuda_x(..., stream) does what
// ggnn_x(...) does. This text says only what differs; the contracts are ggnn.h's.
//
// In ONE .cu file:
//     #define GGNN_CUDA_IMPLEMENTATION
//     #include "ggnn_cuda.cuh"
// In all others just include it; no -rdc. nvcc 13.0 -O2 compiles the implementation in 35 s per architecture,
// to 5 MB; a file that only calls takes what an empty one does, 1 s. Where no file has the macro the linker
// misses functions of the name ggnn_cuda_x[abi:needs_GGNN_CUDA_IMPLEMENTATION_in_one_file].
// C++17, nvcc 12 or 13, sm_80 and up. Needs the CUDA Toolkit alone: runtime, cuRAND's Philox, CUB.
// ggnn.h's own implementation (GGNN_IMPLEMENTATION in one file) is not needed for the kernels; it is, and
// ggnn_plan.h's too, for ggnn_cuda_dist_open.
//
// HOW ALL FUNCTIONS WORK (but those of [7b], which set up and close, on the host)
//   They put kernels on the caller's stream and return: no allocation, no synchronisation, no other stream;
//   so any of them can be captured in a CUDA graph. They return what the launches returned,
//   cudaErrorInvalidValue for an argument that ggnn.h would refuse, before any launch. (NULL is not refused
//   where the size is on the device: the host does not know it.)
//   Structs (ggnn_graph, ggnn_store, ggnn_block, ggnn_batch) are the host's; the arrays they point to are the
//   device's, and so is *n of every ggnn_count: a size that a kernel computes is read by the next kernel and
//   never by the host. max of a count sizes the grid. n NULL: max is the size.
//   What changes from step to step (seed, step) is read from device memory too: ggnn_rng is passed by device
//   pointer, so that a captured graph can be launched again for the next step.
//   What goes wrong on the device in [4] to [6] (an id out of range, a capacity too small) is written to a
//   status word, the first to come wins, and the work goes on with less: no wild read or write. The host
//   looks when it likes. Functions without a status (the transpose; [7] and on) trust ids, indices and
//   indptr, as ggnn.h's do.
//
// OPTIONS (define before including, the same in every file)
//   GGNN_NO_CURAND   Philox from ggnn.h instead of cuRAND's device header: the same words
//   GGNN_CUDA_UNIQUE_GROUP   lanes that look for one id in a hash table together: 1, 8 or 32; default 1
//   GGNN_CUDA_API    before each function: extern, or static; a visibility for example. With one of your own
//                    the linker's message does not name the macro
//   and those of ggnn.h. With GGNN_STATIC all functions are static: a private copy in each file that has
//   GGNN_CUDA_IMPLEMENTATION, and only such files may include it then. With GGNN_NODE64 all names are in an
//   inline namespace, so that files of both widths share no function
//
// CONTENTS (search for the tag; the implementation's are [1i] .. [9i])
//   [1] BASE   [4] SAMPLE   [5] UNIQUE   [6] BLOCK   [7] STORE   [7b] PEERS: parts on several devices
//   [8] SPARSE   [9] ATTENTION   BEHIND THE API: what kernels of your own need too; [2] RANDOM is there
//   The implementation alone: [4bi] weighted samples, walks, samples by any method   [8bi] backward, factors
//   [8ci] edges   [9bi] backward. [3] is [1i]'s "where a node is", and ggnn.h
//
// FUNCTIONS: the outputs of each (the device's, written whole, unless said), and its launches
//   reports: GGNN_ERROR_..., to a status word. What may be NULL is what may be for the twin in ggnn.h.
//   ggnn_cuda_...        writes                                            launches             reports
//  [4]
//   sample_lists         count (D), or id, position, weight by indptr      1 each, 1 for        ID, WEIGHT
//                                                                          traffic
//   random_walk          visited (D, walks * length)                       1                    ID
//   walk_neighbors       id, visits (D, count), taken (D)                  1                    -
//  [5]
//   unique_init          *seen, the host's; the table                      memsets              -
//   unique_begin         the table                                         1, hash: a memset    -
//   unique_append        list (max_ids), local (n)                         4; without local 3   ID, CAPACITY
//   unique_find          local (n): the local id, or -1                    1                    -
//  [6] L hops
//   batch_plan           *b, the host's: bounds, bytes                     -                    returns it
//   batch_init           *b, the host's; sizes and status in memory        memsets              -
//   batch_new            *b, in memory of cudaMalloc                       memsets              returns it
//   batch_free           *b: zeros                                         -                    -
//   batch_begin,         b: the seeds; one hop                             see [6]              ID, CAPACITY,
//   sample_hop                                                                                  WEIGHT
//   sample               b: seeds and all hops                             3 L + 4, see [6]     the same
//   batch_packed_max     returns the bytes of the largest b                -                    returns 0
//   batch_pack           memory: batch_packed_bytes                        1                    CAPACITY
//   batch_unpack         *b, the host's, in these bytes                    -                    returns it
//   count_batch          rows, lists (N), added to                         1                    -
//   epoch_batch          seeds (batch_size), num_seeds, step (1)           1                    -
//   block_whole          *b, the host's; counts (3), copy (E, with         1                    -
//                        NODE64)
//   block_transpose      t, laid out by _init in memory of _bytes          3, 4 and a memset    -
//  [7]
//   gather, gather_edges,                                                  1, 1 for traffic     -
//   gather_marked        out (n, width)
//   mark                 mark (n)                                          1                    -
//   gather_device,       out (n, width): rows of parts and cache; of the   1, 1 for traffic     -
//   gather_host          host tier
//   permute              out (n, width)                                    1                    -
//   split                gather, scatter (n), bound (parts + 3)            3                    -
//  [7b] on the host
//   local_rank           returns the number of this process                -                    returns -1
//   local_device         *device                                           -                    -
//   link                 fault                                             -                    -
//   peers_join           *p, shared                                        -                    -
//   peers_give_up, peers_lend, peers_lend_lists    shared                  -                    -
//   peers_check, peers_wait, peers_close           fault                   -                    -
//   peers_rows           base (parts), fault                               -                    -
//   peers_lists          part (parts), fault                               -                    -
//   dist_open            d (parts, or 1), shared, fault                     -                    -
//   dist_close           d: zeros, fault                                   -                    -
//  [8]
//   spmm                 out, arg (num_dst, width)                         1                    -
//   spmm_edges           out, arg (num_dst, width)                         1                    -
//   spmm_edges_back      dedge (num_edges, width)                          1                    -
//   sum, mean            out (num_dst, width)                              1                    -
//   aggregate            out (num_dst, width)                              1, 1 or 2 for        -
//                                                                          traffic
//   spmm_back_arg        dinp (num_src, width)                             1                    -
//   spmm_atomic          dinp (num_src, width)                             2                    -
//   scale_mean           inv (num_dst)                                     1                    -
//   gcn_norm             inv_sqrt (N)                                      1                    -
//   scale_gcn            src (num_src), dst, self (num_dst)                1                    -
//   sddmm                out (num_edges, heads)                            1                    -
//   edge_sum             out (num_dst, heads)                              1                    -
//   scale_weights        inv (num_dst)                                     1                    -
//   edge_softmax         out (num_edges, heads)                            1                    -
//   edge_softmax_back    dlogit (num_edges, heads)                         1                    -
//   exp2_array           x (n), in place                                   1                    -
//  [9]
//   scores               el (n, heads)                                     1                    -
//   scores_back          dz (n, width), added to; datt (heads, width /     3                    -
//                        heads); workspace
//   gat                  y->out, y->lse; with vectors y->el, y->er; with   1, 1 with vectors,   -
//                        a term y->own_term                                1 a term
//   gat_back             dz, y->del, y->der; with vectors y->datt_l,       4, 2 with vectors,   -
//                        y->datt_r; with a term y->dterm; y's scratch      1 a term
//
// MEMORY
//   All is the caller's, but that of ggnn_cuda_batch_new and ggnn_cuda_dist_open: as many bytes as a function
//   named _bytes or a comment says, aligned as cudaMalloc's. Outputs overlap nothing, unless it is said.
//
// LICENSE: MIT, at the end of this file.

#ifndef GGNN_CUDA_CUH
#define GGNN_CUDA_CUH

#include "ggnn.h"

#include <cuda_runtime.h>
#ifndef GGNN_NO_CURAND
#include <curand_philox4x32_x.h>
#endif

// The tag is part of a function's name, and so of the linker's message where no file defines the function.
#ifndef GGNN_CUDA_API
#ifdef GGNN_STATIC
#define GGNN_CUDA_API static __attribute__((unused))
#else
#define GGNN_CUDA_API extern __attribute__((abi_tag("needs_GGNN_CUDA_IMPLEMENTATION_in_one_file")))
#endif
#endif

#ifdef GGNN_NODE64
inline namespace ggnn_node64 { // all that is linked has another name then; it is called as ever
#endif

// =============================================================================
// ==== [1] BASE
// =============================================================================

enum { GGNN_CUDA_PARTS_MAX = 64 }; // parts of a layout that is split, or whose traffic is counted

// =============================================================================
// ==== [4] SAMPLE
// =============================================================================
// A draw is a function of (seed, step, purpose, hop, node, number), and no result depends on which thread
// comes first: all is equal to ggnn.h, element by element. Broken lists and ids are reported to status and
// never followed.

// 0 but for WEIGHTED above fanout 1,024: 16 bytes times 2 fanout, for each of at most 128
// lists in work.
GGNN_CUDA_API size_t ggnn_cuda_sample_workspace_bytes(ggnn_method method, int32_t fanout, int64_t max_nodes);

// Samples of D nodes, on the device. Node i has entries [indptr[i], indptr[i+1]) of id, position and weight,
// in the order of ggnn_sample_list's offsets.
typedef struct ggnn_cuda_samples {
    const int64_t* indptr;   // (D + 1) what has no room there is left out; NULL: counts only
    int64_t*       count;    // (D)     overwritten: edges of each node's sample; or NULL
    ggnn_node*     id;       //         overwritten: neighbours
    int64_t*       position; //         overwritten: in the graph's edge order; or NULL
    float*         weight;   //         overwritten: of the edges; or NULL
} ggnn_cuda_samples;

// The lists of D nodes sampled at once, each as by ggnn_sample_list; any method that does not walk. D is the
// size num_nodes.
// Rows of equal length: indptr[i] = i * fanout. Packed rows: counts only, a scan of them into indptr, then a
// call with count NULL. workspace: of ggnn_cuda_sample_workspace_bytes; nothing need be kept in it.
// status: GGNN_ERROR_ID for a node that is out of range or has a broken list (it has no edges) and for a
// neighbour that is (the node takes its place); GGNN_ERROR_WEIGHT for a list with a weight that is negative
// or not finite (no edges).
// One launch for the counts, one for the samples, and one more, where indptr and g->traffic are given, that
// counts the lists (at most GGNN_CUDA_PARTS_MAX parts; so in all that samples). O(degree) for WEIGHTED, whose
// block form sorts its buffer about 1 + ln(degree / fanout) times, and for RESERVOIR, which draws anew for
// every 8,192 slots of fanout (4,096 where the graph has 2^32 edges).
GGNN_CUDA_API cudaError_t ggnn_cuda_sample_lists(const ggnn_cuda_samples* out, const ggnn_graph* g,
                                                 const ggnn_node* nodes, ggnn_count num_nodes,
                                                 ggnn_method method, int32_t fanout, const ggnn_rng* rng,
                                                 int32_t hop, void* workspace, int32_t* status,
                                                 cudaStream_t stream);

// ggnn_random_walk from each of D nodes: visited (D, walks * length), overwritten; how is the host's. One
// launch, a thread a walk. A step from a broken list, or onto an id out of range, is reported
// (GGNN_ERROR_ID) and goes on as from a node without neighbours.
GGNN_CUDA_API cudaError_t ggnn_cuda_random_walk(ggnn_node* visited, const ggnn_graph* g,
                                                const ggnn_walks* how, const ggnn_rng* rng, int32_t hop,
                                                const ggnn_node* nodes, ggnn_count num_nodes, int32_t* status,
                                                cudaStream_t stream);

// 0 to 1,024 visits; above, 16 bytes times count, for each of at most 128 nodes in work.
GGNN_CUDA_API size_t ggnn_cuda_walk_workspace_bytes(int32_t count, int64_t max_nodes);

// ggnn_walk_neighbors for each of D nodes. id, visits and visited have rows of `count` entries; of row i of
// id and visits the first taken[i] are written. visited and id may be the same.
// One launch: to 32 visits a group of lanes a node, in registers; above, a block and two bitonic sorts: to
// 1,024 in shared memory, then in the workspace, at most 128 nodes at once.
GGNN_CUDA_API cudaError_t ggnn_cuda_walk_neighbors(ggnn_node* id, float* visits, int64_t* taken,
                                                   const ggnn_node* visited, int32_t count, int64_t top,
                                                   const ggnn_node* nodes, ggnn_count num_nodes,
                                                   void* workspace, cudaStream_t stream);

// =============================================================================
// ==== [5] UNIQUE
// =============================================================================
// Append-unique: the numbers are ggnn_unique_append's, whatever thread comes first. An id that got no number,
// for want of room, may get none in later appends of the batch either.

typedef struct ggnn_cuda_unique_slot { // 8 bytes, 16 with GGNN_NODE64
    ggnn_node key; // -1: free
    uint32_t  value;
} ggnn_cuda_unique_slot;

typedef struct ggnn_cuda_unique_state {
    int64_t  count; // distinct ids in this batch
    int64_t  base;  // before the append under way
    uint32_t stamp; // of this batch
    uint32_t last;  // of the batch in which something was last appended
} ggnn_cuda_unique_state;

// The host's handle of a table in device memory; a copy of it is the same table. One per batch in flight.
typedef struct ggnn_cuda_unique {
    ggnn_unique_kind        kind;
    int32_t                 group;     // hash: lanes that look for one id together: 1, 8 or 32
    int32_t                 hubs;      // not 0: equal ids of a warp are inserted once
    int64_t                 num_nodes; // ids are < num_nodes
    int64_t                 max_ids;   // distinct ids a batch may have, <= num_nodes
    uint64_t                mask;      // slots - 1 of the hash table
    unsigned long long*     entry;     // direct: (num_nodes) by id, ~stamp << 32 | value
    ggnn_cuda_unique_slot*  slot;      // hash: (mask + 1)
    ggnn_cuda_unique_state* state;     // (1)
} ggnn_cuda_unique;

#ifndef GGNN_CUDA_UNIQUE_GROUP
#define GGNN_CUDA_UNIQUE_GROUP 1
#endif

// Direct: 8 N bytes; entries of earlier batches lose by their stamp, so that it is cleared once in 2^32
// batches. Hash: a power of two >= 2 max_ids slots of 8 bytes (NODE64: 16), cleared by a memset a batch. Take
// the kind from ggnn_unique_choose(num_nodes), or a direct map wherever its memory is at hand: it costs one
// atomic an id. 0: what cannot be: max_ids above INT32_MAX, a direct map of 2^32 - 1 nodes or more.
GGNN_CUDA_API size_t ggnn_cuda_unique_bytes(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids);

// memory: of _bytes, aligned as cudaMalloc's. *seen is the handle. seen->group is GGNN_CUDA_UNIQUE_GROUP, 1
// unless defined: a lane an id has the most ids on their way, and a table at most half full, as these are,
// costs it 2 probes, mostly in one sector; 32, WholeGraph's, is good to a load of .9. seen->hubs is 0; set it
// where many of the ids in a row are equal. Both may be set from batch to batch, and never change a result.
// (Mini-batches insert in the sampling kernel, unless group > 1: then in a launch of its own a hop.)
GGNN_CUDA_API cudaError_t ggnn_cuda_unique_init(ggnn_cuda_unique* seen, ggnn_unique_kind kind,
                                                int64_t num_nodes, int64_t max_ids, void* memory,
                                                cudaStream_t stream);

// Starts a batch. One launch, and the memset of a hash table. The stamp is advanced on the device.
GGNN_CUDA_API cudaError_t ggnn_cuda_unique_begin(const ggnn_cuda_unique* seen, cudaStream_t stream);

// For at most max_n < 2^31 ids.
GGNN_CUDA_API size_t ggnn_cuda_unique_workspace_bytes(int64_t max_n);

// The length of the list is seen->state->count, on the device. An id out of range is reported and counts as
// node 0. Of more than max_ids distinct ids the first ones are kept, reported, and the local id of the others
// is 0 (when they are more than the hash table has slots, which are kept is decided by a race, and each of
// the others has looked at every slot: give max_ids room). list has room for max_ids; local may be the
// memory of id where both are 4 bytes wide. Four launches.
GGNN_CUDA_API cudaError_t ggnn_cuda_unique_append(const ggnn_cuda_unique* seen, ggnn_node* list,
                                                  int32_t* local, const ggnn_node* id, ggnn_count n,
                                                  int32_t* status, void* workspace, cudaStream_t stream);

// ggnn_unique_find of n ids: local (n), which may be the memory of id where both are 4 bytes wide.
// seen->group must be what it was when the batch's ids were appended. One launch.
GGNN_CUDA_API cudaError_t ggnn_cuda_unique_find(const ggnn_cuda_unique* seen, int32_t* local,
                                                const ggnn_node* id, ggnn_count n, cudaStream_t stream);

// =============================================================================
// ==== [6] BLOCK
// =============================================================================
// A mini-batch is a chain of launches whose sizes stay on the device. L hops are 3 L + 4 launches; 3 L + 2
// where the last one is global. (A hash table also takes a memset.) More a hop: methods that weigh 2, and
// that walk 3; all neighbours 1 (with fanout 0 none); a table whose lanes look in groups 1. A step called by
// itself takes 1 more, and relabels.
//
// What does not fit is reported (GGNN_ERROR_CAPACITY) and left out, and the batch stays one that every op may
// run on: the first edges of a hop are kept, the lists of its last targets end early; of its new ids the
// first are kept, and an edge from any other, here and in later hops, comes from source 0, also in neighbor.
// Broken lists are taken as empty, an id out of range in a list as the target's own, in the seeds as node 0:
// GGNN_ERROR_ID.
//
// Integer atomics only. ggnn_block_validate is for downloaded blocks: it has no twin.

// A batch, and the handle of its table: its own, or the one that it shares. table.group and table.hubs may be
// set after _init.
struct ggnn_cuda_batch : ggnn_batch {
    ggnn_cuda_unique table;
    bool             shares;
};

// ggnn_batch_plan. A size past a limit in `how` does not end the batch here: what does not fit is reported
// and left out, as above. GGNN_KEEP_TRANSPOSES is GGNN_ERROR_ARGUMENT: ggnn_cuda_block_transpose makes them.
GGNN_CUDA_API ggnn_status ggnn_cuda_batch_plan(ggnn_cuda_batch* b, const ggnn_graph* g,
                                               const ggnn_sampling* how, int64_t max_seeds,
                                               const ggnn_cuda_unique* shared);

// *b is the host's; its arrays, sizes, status and table lie in memory on the device (of b->bytes, aligned as
// cudaMalloc's). Sizes and status are 0 afterwards; status is never cleared again.
GGNN_CUDA_API cudaError_t ggnn_cuda_batch_init(ggnn_cuda_batch* b, void* memory, cudaStream_t stream);

// ggnn_batch_new, ggnn_batch_free: the memory comes from cudaMalloc, so not while a stream is captured.
GGNN_CUDA_API ggnn_status ggnn_cuda_batch_new(ggnn_cuda_batch* b, const ggnn_graph* g,
                                              const ggnn_sampling* how, int64_t max_seeds,
                                              cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_batch_free(ggnn_cuda_batch* b);

// seeds, *rng and all that g points to are on the device; num_seeds may be, and more than the batch is for
// are left out and reported. Where g->traffic is given, one launch more a hop counts its targets' lists
// (those of WALK its walks do, with none). b->num_hops is the host's: what has been launched.
// ggnn_cuda_sample relabels once; each of its steps, called alone, for itself.
GGNN_CUDA_API cudaError_t ggnn_cuda_batch_begin(ggnn_cuda_batch* b, const ggnn_node* seeds,
                                                ggnn_count num_seeds, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_sample_hop(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                                               cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_sample(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                                           const ggnn_node* seeds, ggnn_count num_seeds, cudaStream_t stream);

// ---- a compact copy ----------------------------------------------------------------

// A batch's sizes are the device's, so the host packs without knowing how many bytes it will be:
//   1. It gives room for the most, ggnn_cuda_batch_packed_max: what one piece of memory a device is for.
//   2. ggnn_cuda_batch_pack, in one launch.
//   3. It copies the first GGNN_CUDA_PACKED_HEADER bytes, and ggnn_cuda_batch_packed_bytes reads there how
//      many all are: so many are put into a queue, or sent to another device, or to ggnn_batch_unpack.
//   4. Where they have arrived, ggnn_cuda_batch_unpack takes their address and the same copy of the header.

constexpr size_t GGNN_CUDA_PACKED_HEADER = (sizeof(ggnni_packed) + GGNNI_LINE - 1) / GGNNI_LINE * GGNNI_LINE;

// Bytes that b takes at most, whatever is sampled. 0: b is not planned.
GGNN_CUDA_API size_t ggnn_cuda_batch_packed_max(const ggnn_cuda_batch* b);

// ggnn_batch_pack: the same bytes, in `room` bytes that the device can write, aligned as cudaMalloc's: its
// own, a peer's or mapped ones of the host. Where the batch takes more than that, GGNN_ERROR_CAPACITY is
// reported, and the header is all that is written.
GGNN_CUDA_API cudaError_t ggnn_cuda_batch_pack(void* memory, size_t room, const ggnn_cuda_batch* b,
                                               cudaStream_t stream);

// How many bytes were packed, or would have been, were there room. header: the host's copy of the first
// GGNN_CUDA_PACKED_HEADER. 0: they are no packed batch's.
GGNN_CUDA_API size_t ggnn_cuda_batch_packed_bytes(const void* header);

// ggnn_batch_unpack on the host alone: memory is the device's, of at least as many bytes as were packed, and
// header the host's copy of the first GGNN_CUDA_PACKED_HEADER. GGNN_ERROR_BLOCK: `bytes` are fewer, or it is
// no such header. b's maxima are its sizes; it has neither table nor status.
GGNN_CUDA_API ggnn_status ggnn_cuda_batch_unpack(ggnn_batch* b, void* memory, size_t bytes,
                                                 const void* header);

// ---- what batches read, counted ----------------------------------------------------

// ggnn_plan.h's ggnn_count_batch, of any batch that lies on the device, an unpacked one too. rows and lists
// are the device's; batches on several streams may be counted at once. One launch. 32 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_count_batch(int64_t* rows, int64_t* lists, const ggnn_batch* b,
                                                cudaStream_t stream);

// Batch i of ggnn_plan.h's ggnn_epochs, whose members these are, by their names: its seeds, how many they
// are, and its random numbers, all of them the device's. Batches [begin, end) of these calls make the counts
// of ggnn_count_epochs:
//     ggnn_cuda_epoch_batch(seeds, num_seeds, step, ids, num_ids, batch_size, rng, first_epoch, i, stream);
//     ggnn_cuda_sample(&b, &g, step, seeds, {num_seeds, batch_size}, stream);
//     ggnn_cuda_count_batch(rows, lists, &b, stream);
// One launch. 32 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_epoch_batch(ggnn_node* seeds,     // (batch_size)
                                                int64_t*   num_seeds, // (1)
                                                ggnn_rng*  step,      // (1)
                                                const ggnn_node* ids, int64_t num_ids, int64_t batch_size,
                                                ggnn_rng rng, uint32_t first_epoch, int64_t i,
                                                cudaStream_t stream);

// ---- whole graph, transpose --------------------------------------------------------

// ggnn_block_whole: counts and copy are the device's. With GGNN_NODE64 a thread an id copies them.
GGNN_CUDA_API cudaError_t ggnn_cuda_block_whole(ggnn_block* b, const ggnn_graph* g, int64_t* counts,
                                                int32_t* copy, cudaStream_t stream);

// Memory for the transpose of a block of at most these sizes. 0: sizes that ggnn.h refuses.
GGNN_CUDA_API size_t ggnn_cuda_block_transpose_bytes(int64_t max_dst, int64_t max_src, int64_t max_edges);

// memory: of _bytes, aligned as cudaMalloc's.
GGNN_CUDA_API cudaError_t ggnn_cuda_block_transpose_init(ggnn_block* t, int64_t max_dst, int64_t max_src,
                                                         int64_t max_edges, void* memory);

// Scratch of ggnn_cuda_block_transpose, for a block of at most max_src sources.
GGNN_CUDA_API size_t ggnn_cuda_block_transpose_workspace_bytes(int64_t max_src);

// Gives every edge any place of its source's list and sorts the lists: the same bits whatever the order. Of
// a block with repeats (GGNN_KEEP_REPEATS) edges need not be counted. The maxima of b are at most t's. A list
// longer than 2048 is sorted by one block in device memory, by about n log2(n)^2 / 4 comparisons of 256
// threads: estimated at 1 ms for a source of 14 thousand edges, 9 ms for one of 100 thousand, which only
// whole graphs have. (A whole graph is transposed once, at set-up.) Three launches; without repeats four and
// a memset.
GGNN_CUDA_API cudaError_t ggnn_cuda_block_transpose(ggnn_block* t, const ggnn_block* b, void* workspace,
                                                    cudaStream_t stream);

// =============================================================================
// ==== [7] STORE
// =============================================================================
// The pointer table, from->base, is the caller's: (parts + 2) pointers in device memory, each of which this
// device can read. They come
//   from its own memory, as they are;
//   from another device, or another process: [7b], PEERS;
//   from the host: cudaHostGetDevicePointer of pinned, mapped memory (cudaHostAlloc, cudaHostRegister).
// The lists of a ggnn_graph, whose part points to a table of ggnn_csc, are shared in the same way. The rows
// must be there, and stay as they are, while others read them.

// ggnn_gather. One launch, and one that counts where from->traffic is given (at most GGNN_CUDA_PARTS_MAX
// parts). The same bits, those of a NaN too. A thread has four rows under way. 40 registers; 48 where
// chunks have 16 bytes, ids 64 bits or elements are converted.
GGNN_CUDA_API cudaError_t ggnn_cuda_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                           const ggnn_node* id, ggnn_count n, cudaStream_t stream);

// ggnn_gather_edges: the same by position. With 32-bit ids 48 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_gather_edges(void* out, int64_t ld_out, ggnn_type as,
                                                 const ggnn_store* from, const int64_t* position,
                                                 ggnn_count n, cudaStream_t stream);

// ggnn_mark. One launch. ggnn_gather_marked: launches as ggnn_cuda_gather; 48 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_mark(int64_t* mark, const ggnn_layout* at, const ggnn_node* id,
                                         ggnn_count n, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_gather_marked(void* out, int64_t ld_out, ggnn_type as,
                                                  const ggnn_store* from, const int64_t* mark, ggnn_count n,
                                                  cudaStream_t stream);

// ggnn_cuda_gather in two halves, for two streams: the rows of parts and cache; those of the host tier. Each
// leaves the other's rows of out as they are. The host tier is read in place, in whole lines of 128 bytes,
// each a request over the bus (PyTorch-Direct, 2021): rows of 480 bytes cost 4.5 of them on average, not
// 6.75. (Rows of 16-bit elements that are not aligned to 4 bytes cost two a line.) `blocks` of 256 threads do
// it: a few fill the bus, and the processors that they leave go on with the step.
GGNN_CUDA_API cudaError_t ggnn_cuda_gather_device(void* out, int64_t ld_out, ggnn_type as,
                                                  const ggnn_store* from, const ggnn_node* id, ggnn_count n,
                                                  cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_gather_host(void* out, int64_t ld_out, ggnn_type as,
                                                const ggnn_store* from, const ggnn_node* id, ggnn_count n,
                                                int32_t blocks, cudaStream_t stream);

// ggnn_permute. One launch, as ggnn_cuda_gather.
GGNN_CUDA_API cudaError_t ggnn_cuda_permute(void* out, int64_t ld_out, const void* inp, int64_t ld_inp,
                                            ggnn_type type, int32_t width, const int32_t* index, ggnn_count n,
                                            cudaStream_t stream);

// Scratch of ggnn_cuda_split for at most max_n ids.
GGNN_CUDA_API size_t ggnn_cuda_split_workspace_bytes(int64_t max_n, int32_t parts);

// ggnn_split, of at most GGNN_CUDA_PARTS_MAX parts. Three launches. 48 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_split(int32_t* gather, int32_t* scatter, int64_t* bound,
                                          const ggnn_layout* at, const ggnn_node* id, ggnn_count n,
                                          void* workspace, cudaStream_t stream);

// =============================================================================
// ==== [7b] PEERS: parts on several devices of a machine, driven by threads or processes
// =============================================================================
// These functions run on the host, at set-up and at the end; [7]'s gather then reads the others' memory. One
// thread that drives all devices needs ggnn_cuda_link alone: every address is good on every device then.
//
// Else a peer is a thread, of one process or of several, with a device; several peers may have the same one.
// Peers meet in host memory that all of them map: ggnn_cuda_peers_bytes of it, zeroed. Threads pass its
// address. Processes call mmap: MAP_SHARED | MAP_ANONYMOUS before fork, or a file of shm_open, set to that
// length by ftruncate and removed once all have joined. (A file that an earlier run has left is not zeroed:
// remove it first. Fork before the first CUDA call.) What a peer lends are loans, numbered by itself. All
// peers, in this order:
//     ggnn_cuda_peers_join    with the device current that it drives, then and in all calls that follow
//     ...                     its parts by cudaMalloc, filled, the stream synchronised
//     ggnn_cuda_peers_lend    a loan: one piece of memory; _lend_lists: a part's lists, four loans
//     ggnn_cuda_peers_wait    till all have come here: everything is lent
//     ggnn_cuda_peers_rows    base of a ggnn_store: for each part the copy that this device is to read;
//     ..._lists               part of a ggnn_graph, in the same way
//     ...                     the work. ggnn_cuda_peers_check, once a step: are all owners alive?
//     ggnn_cuda_peers_close   gives back what was borrowed, returns when nobody reads this peer's memory
//     cudaFree
// A thread of the same process is read at its own addresses, after cudaDeviceEnablePeerAccess; another
// process by cudaIpcOpenMemHandle.
//
// No call waits for a peer that has joined and is gone: a process that was killed, a thread that ended before
// it had closed. Each call that needs it returns cudaErrorIllegalState then, and the fault names it. (A
// robust mutex tells: the thread that joined holds it till it has closed.) The others read no more of what it
// lent, close, and end. A peer that never joins is waited for, until ggnn_cuda_peers_give_up says that it
// will not come. A peer that fails calls ggnn_cuda_peers_close too: the others do not wait for it then. Calls
// also return errors of the CUDA runtime. fault may be NULL; else it is written on success too (what: NULL).

typedef struct ggnn_cuda_fault { // why a call failed
    const char* what;     // NULL: nothing wrong
    int32_t     from, to; // devices: the reader's, and the owner's as its process counts; -1: does not apply
    int32_t     peer;     // the other one; -1: does not apply
} ggnn_cuda_fault;

typedef struct ggnn_cuda_source { // whose copy of a part is read
    int32_t peer; // -1: nobody's, as the part is empty
    int32_t loan;
} ggnn_cuda_source;

typedef struct ggnn_cuda_peers { // a peer, as it sees itself
    void*   shared;
    int32_t peers, self, loans;
    int     device;
} ggnn_cuda_peers;

// The number of this process among those of its machine, as mpirun (Open MPI; MPICH, Intel MPI) or srun put
// it into the environment; 0 where none did; -1: what stands there is no number.
GGNN_CUDA_API int32_t ggnn_cuda_local_rank();

// *device: the one for this process, local rank modulo the devices that it sees. cudaSetDevice is the
// caller's. cudaErrorInvalidValue: the local rank is no number.
GGNN_CUDA_API cudaError_t ggnn_cuda_local_device(int* device);

// Lets each of n devices read the memory of all others. A device may stand there twice. All links are looked
// for first: cudaErrorPeerAccessUnsupported: there is none from fault->from to fault->to, and nothing is
// changed. The current device stays. Links last as long as the process.
GGNN_CUDA_API cudaError_t ggnn_cuda_link(const int* device, int32_t n, ggnn_cuda_fault* fault);

// Bytes of shared memory for `peers` peers, of which each lends up to `loans` pieces; both are at least 1.
GGNN_CUDA_API size_t ggnn_cuda_peers_bytes(int32_t peers, int32_t loans);

// Makes *p peer `self` of [0, peers), with the current device. The thread that joins closes. shared: aligned
// to 64 bytes, the same for all, as are peers and loans. cudaErrorIllegalState: this peer has joined already
// (the memory was not zeroed), or was given up.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_join(ggnn_cuda_peers* p, void* shared, int32_t peers, int32_t self,
                                               int32_t loans);

// For the process that starts the peers: `peer`, of [0, peers), ended before it joined; nobody shall wait for
// it.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_give_up(void* shared, int32_t peer);

// Lends `bytes` bytes from allocation + offset, as loan number `loan` of [0, loans). allocation: what
// cudaMalloc returned, of this peer's device; it stays until ggnn_cuda_peers_close has returned. bytes 0:
// nothing, borrowers get NULL. cudaErrorInvalidValue: no such loan, or not the memory of this device.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_lend(const ggnn_cuda_peers* p, int32_t loan, const void* allocation,
                                               size_t offset, size_t bytes);

// Lends a part's `rows` lists as loans loan .. loan + 3: indptr, first, indices, weight, each an allocation
// of its own; first and weight may be NULL.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_lend_lists(const ggnn_cuda_peers* p, int32_t loan,
                                                     const ggnn_csc* lists, int64_t rows);

// Has everybody who joined closed, or is alive? A microsecond a peer. cudaErrorIllegalState: fault->peer has
// ended, what it lent is not to be read.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_check(const ggnn_cuda_peers* p, ggnn_cuda_fault* fault);

// Returns when every peer has called it as often as this one. Synchronise the streams before that fill what
// is lent. For set-up: some 100 microseconds. cudaErrorIllegalState: fault->peer has ended or closed and will
// not come.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_wait(const ggnn_cuda_peers* p, ggnn_cuda_fault* fault);

// base[i], i < parts: where this device reads part i, of source[i]. base (at.parts + 2) is the host's: set
// the host tier's and the cache's, and send it. Links are enabled where a source needs one, and there alone.
// cudaErrorPeerAccessUnsupported: one is missing, from device fault->from to fault->to of fault->peer.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_rows(const void** base, const ggnn_cuda_peers* p,
                                               const ggnn_cuda_source* source, int32_t parts,
                                               ggnn_cuda_fault* fault);

// The same for the lists that ggnn_cuda_peers_lend_lists lent: source[i].loan is the first of four. A part
// without a source has no lists.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_lists(ggnn_csc* part, const ggnn_cuda_peers* p,
                                                const ggnn_cuda_source* source, int32_t parts,
                                                ggnn_cuda_fault* fault);

// Waits for the device, gives back what was borrowed, then waits till every peer that has joined has closed
// or ended: the memory that this one lent can be freed. Does all of it whatever fails; nothing where *p has
// not joined. cudaErrorIllegalState: fault->peer had ended without closing.
GGNN_CUDA_API cudaError_t ggnn_cuda_peers_close(ggnn_cuda_peers* p, ggnn_cuda_fault* fault);

#ifdef GGNN_PLAN_H
// ---- all of it in one call: XGNN's DistGraph ----------------------------------------
// Declared where ggnn_plan.h is included before this header, and defined where that is so in the file of the
// implementation. The program needs ggnn.h's and ggnn_plan.h's implementations then. What becomes of a data
// set is [6] of ggnn_plan.h: lists and rows of its hottest nodes lie in parts, part p in the memory of device
// p, all others with the host.

typedef struct ggnn_cuda_dist { // a store over devices, as one of them reads it
    ggnn_graph graph;        // for ggnn_cuda_sample; its arrays are this device's, its traffic counts lists
    ggnn_store rows;         // for ggnn_cuda_gather; likewise. A traffic may be set to NULL
    int64_t    part_bytes;   // of this device's memory: its part
    int64_t    table_bytes;  // and its tables: ranks, pointers, counts
    int64_t    copied_bytes; // of pinned memory: arrays of the host tier that could not be pinned in place
    ggnn_cuda_peers peers;   // of a peer: for ggnn_cuda_peers_check, once a step
    int             device;  // from here on for ggnn_cuda_dist_close
    void *          part, *tables, *registered[4], *copy[4];
} ggnn_cuda_dist;

// The store: plans (ggnn_dist_plan), allocates and fills this device's part, makes tables of all parts: it
// makes all calls of the above, from ggnn_cuda_link or _join on. What is sampled and gathered through graph
// and rows has the bits of one array, whatever ratios, ranking and devices. Parts may share a device.
//   One thread for all: device[p] has part p; writes d (parts). shared is NULL. All pairs are linked.
//   Peers, threads or processes: device is NULL. This is peer `self` of from->parts, with the device current;
//   writes d (1), its own. shared: ggnn_cuda_peers_bytes(from->parts, 1) bytes, zeroed. All give the same
//   data, ratios and ranking: a part of another size is an error. All return when the last has opened.
// The data must stay, as it is, until ggnn_cuda_dist_close: where a ratio is below 1 its arrays are pinned in
// place (cudaHostRegister; what the caller has pinned stays so), or copied where that is refused. O(E + N log
// N) on the host, each part over the bus once. Beside the plan 16,384 nodes at a time take host memory.
// A failure leaves nothing behind, and fault->what is its reason. cudaErrorInvalidValue: an argument, in
// ggnn_dist_plan's words. cudaErrorMemoryAllocation. cudaErrorPeerAccessUnsupported: there is no link from
// fault->from to fault->to. cudaErrorIllegalState: fault->peer has ended, or failed. When one peer fails all
// do, but a peer that never comes here is waited for until ggnn_cuda_peers_give_up.
GGNN_CUDA_API cudaError_t ggnn_cuda_dist_open(ggnn_cuda_dist* d, const ggnn_dist_data* from,
                                              const int* device, void* shared, int32_t self,
                                              ggnn_cuda_fault* fault);

// Frees all that d[0 .. n) have, once the devices are done. n is from->parts; 1 of a peer, which waits for
// the others, and fails, as ggnn_cuda_peers_close does. Does all of it whatever fails; nothing where d is
// zeros. The current device stays.
GGNN_CUDA_API cudaError_t ggnn_cuda_dist_close(ggnn_cuda_dist* d, int32_t n, ggnn_cuda_fault* fault);
#endif

// =============================================================================
// ==== [8] SPARSE
// =============================================================================
// Float sums have ggnn.h's order, its rounded products and its bits, but for a NaN's payload. Compile without
// -use_fast_math, which flushes subnormals to zero.

// ggnn_spmm. One launch, no atomics on floats, no workspace. The same bits. 64 registers. ld_inp < 2^30.
GGNN_CUDA_API cudaError_t ggnn_cuda_spmm(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
                                         const ggnn_block* b, const ggnn_scale* scale, const float* weight,
                                         int32_t heads, const float* inp, int64_t ld_inp, int32_t width,
                                         cudaStream_t stream);

// ggnn_sum, ggnn_mean.
GGNN_CUDA_API cudaError_t ggnn_cuda_sum(float* out, const ggnn_block* b, const float* inp, int32_t width,
                                        cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_mean(float* out, const ggnn_block* b, const float* inp, int32_t width,
                                         cudaStream_t stream);

// ggnn_aggregate. One launch: ggnn_cuda_spmm, with rows found by the pointer table; one or two more that
// count where from->traffic is given (at most GGNN_CUDA_PARTS_MAX parts). The same bits. 64 registers; 80
// where elements have 16 bits, ids 64, or weight or scale->src is given.
GGNN_CUDA_API cudaError_t ggnn_cuda_aggregate(float* out, int64_t ld_out, ggnn_reduce how,
                                              const ggnn_block* b, const ggnn_scale* scale,
                                              const float* weight, int32_t heads, const ggnn_store* from,
                                              cudaStream_t stream);

// ggnn_spmm_edges, and its backward of the edges' rows. One launch each, no atomics on floats. The same bits.
// 80 registers; 48. Of the first ld_inp < 2^30.
GGNN_CUDA_API cudaError_t ggnn_cuda_spmm_edges(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
                                               ggnn_message message, const ggnn_block* b,
                                               const ggnn_scale* scale, const float* weight, int32_t heads,
                                               const float* inp, int64_t ld_inp, const float* edge,
                                               int64_t ld_edge, int32_t width, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_spmm_edges_back(float* dedge, int64_t ld_dedge, ggnn_message message,
                                                    const ggnn_block* b, const ggnn_scale* scale,
                                                    const float* weight, int32_t heads, const float* inp,
                                                    int64_t ld_inp, const float* dout, int64_t ld_dout,
                                                    const int32_t* arg, int32_t width, cudaStream_t stream);

// ---- backward of aggregation, factors ----------------------------------------------
// The backward of SUM and MEAN is ggnn_cuda_spmm over the transpose, scale's src and dst swapped (MEAN: src =
// ggnn_cuda_scale_mean's factors); t->edge finds the weights. Here are the others: of MAX and MIN over the
// transpose, of SUM by atomics without one.

// ggnn_spmm_back_arg. One launch, no atomics on floats. The same bits. 64 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t,
                                                  const ggnn_block* b, const float* weight, int32_t heads,
                                                  const float* dout, int64_t ld_dout, const int32_t* arg,
                                                  int32_t width, cudaStream_t stream);

// ggnn_ref_spmm_scatter (ggnn_reference.h) in parallel: the backward of SUM without a transpose, by float
// atomics. Terms of a sum come in any order, so its last bits change from run to run: the sum of n terms errs
// by at most (n - 1) 2^-24 times the sum of their magnitudes, to first order, and so does the reference's.
// Where b->repeats is given, a source that one edge leaves, and which is no target with scale->self, is
// stored, not added to (WholeGraph's way; in sampled blocks most are); a sum of one term has the reference's
// bits. Where terms are added, a GPU takes terms and sums below 2^-126 for 0. Two launches. 48 registers.
GGNN_CUDA_API cudaError_t ggnn_cuda_spmm_atomic(float* dinp, int64_t ld_dinp, const ggnn_block* b,
                                                const ggnn_scale* scale, const float* weight, int32_t heads,
                                                const float* dout, int64_t ld_dout, int32_t width,
                                                cudaStream_t stream);

// ggnn_scale_mean, ggnn_gcn_norm, ggnn_scale_gcn: one launch each. The same bits. 32 registers. What
// g points to is on the device.
GGNN_CUDA_API cudaError_t ggnn_cuda_scale_mean(float* inv, const ggnn_block* b, int with_self,
                                               cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_gcn_norm(float* inv_sqrt, const ggnn_graph* g, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_scale_gcn(float* src, float* dst, float* self, const ggnn_block* b,
                                              const float* inv_sqrt, const ggnn_graph* g,
                                              cudaStream_t stream);

// ---- edges: SDDMM, sums, softmax ---------------------------------------------------

// The bits of ggnn_sddmm: 4 lanes keep a dot's sixteen partial sums, 8 or 16 where rows or heads do not allow
// loads of 16 bytes. One launch.
GGNN_CUDA_API cudaError_t ggnn_cuda_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b,
                                          const float* inp_src, int64_t ld_src, const float* inp_dst,
                                          int64_t ld_dst, int32_t heads, int32_t width, cudaStream_t stream);

// Sums go over lists as ggnn_cuda_spmm does, heads < 2^30; softmax by a thread for each list of at most 256
// edges and head, by a warp for a longer one. No atomics, one launch. The bits of their twins (a NaN for a
// NaN).
GGNN_CUDA_API cudaError_t ggnn_cuda_edge_sum(float* out, const ggnn_block* b, const float* value,
                                             int32_t heads, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_scale_weights(float* inv, const ggnn_block* b, const float* weight,
                                                  cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_edge_softmax(float* out, const ggnn_block* b, const float* logit,
                                                 int32_t heads, cudaStream_t stream);
GGNN_CUDA_API cudaError_t ggnn_cuda_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out,
                                                      const float* dout, int32_t heads, cudaStream_t stream);

// The bits of ggnn_exp2.
GGNN_CUDA_API cudaError_t ggnn_cuda_exp2_array(float* x, ggnn_count n, cudaStream_t stream);

// =============================================================================
// ==== [9] ATTENTION
// =============================================================================
// All give the bits of their twins (a NaN for a NaN). Where ggnn.h takes a number of rows these take a
// ggnn_count. Dropout's seed and step are read from rng, on the device, when a kernel runs; rng NULL: they
// are the layer's.

// 4, 8 or 16 lanes for each row and head; one launch.
GGNN_CUDA_API cudaError_t ggnn_cuda_scores(float* el, const float* z, int64_t ld_z, const float* att,
                                           ggnn_count n, int32_t heads, int32_t width, cudaStream_t stream);

// Three launches: dz, a thread for each row and 1 to 4 columns; datt, a thread for 256 rows, which leaves its
// sums in workspace (for max_rows >= n.max); a block for each 32 columns, which adds these.
GGNN_CUDA_API size_t ggnn_cuda_scores_back_workspace_bytes(int64_t max_rows, int32_t width);
GGNN_CUDA_API cudaError_t ggnn_cuda_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del,
                                                const float* z, int64_t ld_z, const float* att, ggnn_count n,
                                                int32_t heads, int32_t width, void* workspace,
                                                cudaStream_t stream);

// A thread for each target and chunk of columns, 4, 2 or 1 as alignment and a head's width allow, which reads
// a list of up to 8 entries at once; for a target of 256 edges or more a block for 16 chunks, a thread a
// chunk and a segment of 256. One launch; with vectors their scores are one more, with y->term the means of
// its lists, and the kernels are others. Fewer than 2^31 - 1 edges.
GGNN_CUDA_API cudaError_t ggnn_cuda_gat(const ggnn_gat_layer* y, const ggnn_rng* rng, cudaStream_t stream);

// Four launches, no atomics on floats: delta = dout . out and every entry's gradient and coefficient, target
// by target, by 4, 8 or 16 lanes for each head; their sums, der and del; dz, a source's list at a time, with
// the scores' part, as ggnn_cuda_spmm goes over lists. With vectors two more, which read z once for both;
// with y->term one for its gradient. ld_dout < 2^30, fewer than 2^31 - 1 edges.
GGNN_CUDA_API cudaError_t ggnn_cuda_gat_back(float* dz, int64_t ld_dz, const ggnn_block* transpose,
                                             const ggnn_gat_layer* y, const float* dout, int64_t ld_dout,
                                             const ggnn_rng* rng, cudaStream_t stream);

// =============================================================================
// ==== BEHIND THE API: what kernels of one's own need too: launches, sizes, division, random numbers
// =============================================================================

namespace ggnni {

// ---- launches, [1] ---------------------------------------------------------------

// A kernel, after the most registers that it may take (nvcc 13.0, sm_80 and sm_90; a build checks it) and its
// launch bounds: threads a block, and blocks on a multiprocessor where the compiler has to be told.
// Above some: how many loads of 16 bytes their PTX has, in how many of a template's instances: those loads
// are what keeps the memory busy, and a build checks that none becomes four small ones.
#define GGNNI_KERNEL(registers, ...) __global__ void __launch_bounds__(__VA_ARGS__)

enum { THREADS = 256, WARP = 32 };
constexpr unsigned ALL_LANES = 0xffffffffu;

// All launches go through here: <<<>>> is not C++, and one place decides how they are made. No block, no
// launch.
template <class... P, class... A>
inline cudaError_t launch(void (*kernel)(P...), int64_t blocks, int threads, cudaStream_t stream, A... args)
{
    cudaLaunchConfig_t config = {};
    if (blocks <= 0) return cudaSuccess;
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
}

// The first of several launches that failed decides.
inline cudaError_t first_error(cudaError_t a, cudaError_t b) { return a != cudaSuccess ? a : b; }

// Blocks of a kernel that a device holds at once, by the registers and the shared memory that it takes: asked
// for once per thread of the host, as the answer may take longer than a launch.
inline int64_t resident_blocks(const void* kernel, int threads)
{
    static thread_local struct { const void* kernel; int device, threads, blocks; } known[256];
    auto&       k = known[reinterpret_cast<uintptr_t>(kernel) / 16 % 256];
    int         device = -1, processors = 1, blocks = 1;
    cudaError_t error = cudaGetDevice(&device);
    error = first_error(error, cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    if (k.kernel != kernel || k.device != device || k.threads != threads) {
        const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
        error = first_error(error, asked);
        k = {error == cudaSuccess ? kernel : nullptr, device, threads, blocks > 0 ? blocks : 1};
    }
    return int64_t{processors} * k.blocks; // after an error few: the launch will say what is wrong
}

inline int64_t tiles_of(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

// So many tiles of work: block b takes tile b, b + gridDim.x, ... as long as the size on the device has it.
// No more blocks than are resident at once: the rest would begin as those end, and the last run alone.
template <class... P, class... A>
inline cudaError_t launch_tiles(void (*kernel)(P...), int64_t tiles, int threads, cudaStream_t to, A... args)
{
    const int64_t resident = resident_blocks(reinterpret_cast<const void*>(kernel), threads);
    return launch(kernel, tiles < resident ? tiles : resident, threads, to, args...);
}

// A thread an item: the launch, and body(t) for thread t, t + all threads, ... of n.
template <class... P, class... A>
inline cudaError_t launch_items(void (*kernel)(P...), int64_t items, cudaStream_t stream, A... args)
{
    return launch_tiles(kernel, tiles_of(items, THREADS), THREADS, stream, args...);
}
template <class F> __device__ inline void for_items(int64_t n, F body)
{
#pragma unroll 1
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < n;
         t += static_cast<int64_t>(gridDim.x) * THREADS)
        body(t);
}

// ---- sizes, division ---------------------------------------------------------------

__host__ __device__ inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// At least one: for kernels that also do what there is one of.
inline int64_t some(int64_t n) { return n > 0 ? n : 1; }

// A size: on the device where a kernel computed it, never above what the arrays hold.
__device__ inline int64_t size_of(ggnn_count count)
{
    int64_t n = count.n ? *count.n : count.max;
    return n < count.max ? n : count.max;
}

// t / by without a division: exact while t * by < 2^64.
struct divider {
    uint64_t magic;
    int64_t  by;
};
inline divider divide_by(int64_t by)
{
    divider d = {by > 1 ? UINT64_MAX / static_cast<uint64_t>(by) + 1 : 0, by};
    return d;
}
__device__ inline int64_t quotient(int64_t t, divider d)
{
    return d.by > 1 ? static_cast<int64_t>(__umul64hi(static_cast<uint64_t>(t), d.magic)) : t;
}

// ---- random numbers, [2] -----------------------------------------------------------
// ggnn_random, ggnn_draw, ggnn_bounded, ggnn_shuffle and all that decides an integer are ggnn.h's own inline
// functions. Kernels take Philox from cuRAND, whose words are the same, so that a vendor's fix or speed-up of
// it is theirs too.

__device__ inline ggnn_words random_words(const ggnn_rng& rng, int32_t hop, int64_t node, uint32_t block)
{
#ifdef GGNN_NO_CURAND
    return ggnn_random(&rng, hop, node, block);
#else
    uint64_t stream = ggnn_stream(rng.purpose, hop, node);
    uint4    c =
        make_uint4(block, rng.step, static_cast<unsigned>(stream), static_cast<unsigned>(stream >> 32));
    uint4    w = curand_Philox4x32_10(
        c, make_uint2(static_cast<unsigned>(rng.seed), static_cast<unsigned>(rng.seed >> 32)));
    ggnn_words words = {{w.x, w.y, w.z, w.w}};
    return words;
#endif
}

// ggnn_draw without an index into registers, which would put them in local memory.
__device__ inline uint64_t draw_of(const ggnn_words& words, int64_t j)
{
    const uint32_t high = j & 1 ? words.word[2] : words.word[0], low = j & 1 ? words.word[3] : words.word[1];
    return static_cast<uint64_t>(high) << 32 | low;
}

// Draw j of a node's stream, in [0, n). A block of Philox is two draws: lanes that make neighbouring draws
// both compute it, as arithmetic is cheaper than a shuffle here.
__device__ inline int64_t draw_below(const ggnn_rng& rng, int32_t hop, int64_t node, int64_t j, int64_t n)
{
    return ggnn_bounded(draw_of(random_words(rng, hop, node, static_cast<uint32_t>(j / 2)), j), n);
}

// ---- powers of 2, [8] --------------------------------------------------------------

constexpr float LOG2_E = 1.44269504f;

// ggnn_exp2, each operation rounded by itself: the same bits.
__device__ inline float exp2_rounded(float x)
{
    const float magic = 12582912.0f;
    float       shifted = __fadd_rn(x, magic), r = __fsub_rn(x, __fsub_rn(shifted, magic));
    float       p = __fadd_rn(__fmul_rn(0.00015353362f, r), 0.0013398875f);
    p = __fadd_rn(__fmul_rn(p, r), 0.00961843692f);
    p = __fadd_rn(__fmul_rn(p, r), 0.0555033237f);
    p = __fadd_rn(__fmul_rn(p, r), 0.240226477f);
    p = __fadd_rn(__fmul_rn(p, r), 0.693147182f);
    p = __fadd_rn(__fmul_rn(p, r), 1.0f);
    p = __uint_as_float(__float_as_uint(p) + (__float_as_uint(shifted) << 23));
    p = x < 128.0f ? p : INFINITY;
    p = x >= -126.0f ? p : 0.0f;
    return x <= x ? p : x;
}

} // namespace ggnni

#ifdef GGNN_NODE64
} // inline namespace ggnn_node64
#endif

#endif // GGNN_CUDA_CUH

#ifdef GGNN_CUDA_IMPLEMENTATION
#ifndef GGNN_CUDA_IMPLEMENTED
#define GGNN_CUDA_IMPLEMENTED

#include <atomic>
#include <type_traits>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef GGNN_NODE64
inline namespace ggnn_node64 {
#endif

// =============================================================================
// ==== [1i] BASE: status, where a node is, traffic, tile sums, memory
// =============================================================================

namespace ggnni {

// A caller's mistake is an answer, in O(1), before any launch. NULL is one where the host knows that an
// element would be read or written: not where a size is the device's, and may be 0.
#define GGNNI_CUDA_REQUIRE(condition)                                                                        \
    do {                                                                                                     \
        if (!(condition)) return cudaErrorInvalidValue;                                                      \
    } while (0)

inline int64_t known(ggnn_count n) { return n.n ? 0 : n.max; }
inline bool ids_given(const void* id, ggnn_count n) { return n.max >= 0 && (id || known(n) == 0); }
inline bool keys_given(const ggnn_rng* rng, int32_t hop) { return rng && hop >= 0 && hop < GGNN_HOP_NUMBERS; }
inline bool block_given(const ggnn_block* b, bool local) // local: with indices
{
    return b && b->num_dst.max >= 0 && b->num_src.max >= 0 && b->num_edges.max >= 0 &&
           (b->indptr || b->num_dst.max == 0) && (!local || b->indices || b->num_edges.max == 0);
}
inline bool per_edge(const ggnn_block* b, const float* v) { return v || known(b->num_edges) == 0; }
inline bool graph_given(const ggnn_graph* g, int64_t lists) // of which so many are read
{
    return g && (lists == 0 || ggnni_graph_given(g));
}
inline bool alike(ggnn_count a, ggnn_count b) { return a.n || b.n || a.max == b.max; }
inline bool transposed(const ggnn_block* t, const ggnn_block* b) // by the sizes that the host knows
{
    return alike(t->num_dst, b->num_src) && alike(t->num_src, b->num_dst) &&
           alike(t->num_edges, b->num_edges);
}

// Writes down what went wrong, unless something has before.
__device__ inline void report(int32_t* status, ggnn_status what)
{
    if (status) atomicCAS(status, static_cast<int32_t>(GGNN_OK), static_cast<int32_t>(what));
}

__device__ inline uint32_t lowest(uint32_t bits)
{
    return static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1;
}

// ---- where a node is ---------------------------------------------------------

// A layout whose look-up needs no division of 64 bits: that is a call, around which a thread's registers
// would have to be saved.
struct fast_layout {
    const ggnn_node *cache_row, *rank;
    const int64_t*   bound;
    int64_t          cached, stored;
    divider          parts;
};
inline fast_layout layout_of(const ggnn_layout& at)
{
    return {at.cache_row, at.rank, at.bound, at.cached, at.stored, divide_by(at.parts)};
}

__device__ inline bool in_cache(const fast_layout& at, int64_t row)
{
    return static_cast<uint64_t>(row) < static_cast<uint64_t>(at.cached);
}

// Where v is, of rank r, in the parts or in the host tier.
template <class Id>
__device__ inline ggnn_place place_beyond_cache(const fast_layout& at, Id v, int64_t r)
{
    const int32_t parts = static_cast<int32_t>(at.parts.by);
    ggnn_place    place = {0, v};
    if (r >= at.stored) {
        place.slot = parts;
    } else if (at.bound) {
        while (r >= __ldg(at.bound + place.slot + 1)) place.slot++;
        place.row = r - __ldg(at.bound + place.slot);
    } else {
        place.row = quotient(r, at.parts);
        place.slot = static_cast<int32_t>(r - place.row * parts);
    }
    return place;
}

// ggnn_locate, of a node or a position.
template <class Id> __device__ inline ggnn_place place_of(const fast_layout& at, Id v)
{
    const int64_t own = !at.cached ? -1 : at.cache_row ? __ldg(at.cache_row + v) : v;
    if (in_cache(at, own)) return {static_cast<int32_t>(at.parts.by) + 1, own};
    return place_beyond_cache(at, v, at.rank ? __ldg(at.rank + v) : v);
}

// ---- traffic: what is read, by slot ---------------------------------------------

// All rows, those of parts and cache, those of the host tier.
enum tier { ALL_TIERS, DEVICE_TIERS, HOST_TIER };

__device__ inline bool takes(tier wanted, int32_t parts, int32_t slot)
{
    return wanted == ALL_TIERS || (slot == parts) == (wanted == HOST_TIER);
}

template <class Id> struct list_of_ids { // or of positions
    const Id*  id;
    ggnn_count n;

    __device__ int64_t size() const { return size_of(n); }
    __device__ Id      at(int64_t i) const { return id[i]; }
};
using id_list = list_of_ids<ggnn_node>;

struct row_mark {
    int64_t word;
};
struct list_of_marks {
    const int64_t* mark;
    ggnn_count     n;

    __device__ int64_t  size() const { return size_of(n); }
    __device__ row_mark at(int64_t i) const { return {mark[i]}; }
};

struct node_list { // the same, where they may be out of range: those do not count
    const ggnn_node* id;
    ggnn_count       n;
    int64_t          num_nodes;

    __device__ int64_t   size() const { return size_of(n); }
    __device__ ggnn_node at(int64_t i) const { return id[i] < num_nodes ? id[i] : -1; }
};

__device__ inline void add_atomic(int64_t* sum, int64_t more)
{
    atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(more));
}

struct slot_counts { // a block's, in shared memory
    unsigned n[GGNN_CUDA_PARTS_MAX + 2];

    __device__ void begin(int32_t slots)
    {
        if (static_cast<int32_t>(threadIdx.x) < slots) n[threadIdx.x] = 0;
        __syncthreads();
    }
    __device__ void end(int32_t slots, int64_t* traffic)
    {
        __syncthreads();
        if (static_cast<int32_t>(threadIdx.x) < slots && n[threadIdx.x])
            add_atomic(traffic + threadIdx.x, n[threadIdx.x]);
    }
};

// -1: of no row.
template <class Id> __device__ inline int32_t slot_of(const fast_layout& at, Id v)
{
    return v < 0 ? -1 : place_of(at, v).slot;
}
__device__ inline int32_t slot_of(const fast_layout&, row_mark mark)
{
    return mark.word < 0 ? -1 : ggnn_marked(mark.word).slot;
}

// Adds up how many ids each slot has: a kernel of its own, so that the others do not know of counting. The
// first of a warp's lanes with equal slots counts them for its block.
template <class Ids>
static GGNNI_KERNEL(32, THREADS)
    count_slots(Ids ids, fast_layout at, tier wanted, int64_t* traffic)
{
    __shared__ slot_counts count;
    const int32_t          parts = static_cast<int32_t>(at.parts.by);
    const int32_t          thread = static_cast<int32_t>(threadIdx.x);
    const int64_t          n = ids.size();
    count.begin(parts + 2);
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS; first < n;
         first += static_cast<int64_t>(gridDim.x) * THREADS) {
        const auto      v = first + thread < n ? ids.at(first + thread) : decltype(ids.at(0)){-1};
        const int32_t   slot = slot_of(at, v);
        const unsigned  same = __match_any_sync(ALL_LANES, slot);
        if (slot >= 0 && lowest(same) == threadIdx.x % WARP && takes(wanted, parts, slot))
            atomicAdd(count.n + slot, static_cast<unsigned>(__popc(same)));
    }
    count.end(parts + 2, traffic);
}

inline bool can_count(const int64_t* traffic, const ggnn_layout& at)
{
    return !traffic || at.parts <= GGNN_CUDA_PARTS_MAX;
}

// max: at most so many ids.
template <class Ids>
inline cudaError_t count_traffic(const Ids& ids, int64_t max, const ggnn_layout& at, int64_t* traffic,
                                 tier wanted, cudaStream_t stream)
{
    if (!traffic) return cudaSuccess;
    return launch_items(count_slots<Ids>, max, stream, ids, layout_of(at), wanted, traffic);
}

// ---- scans in two kernels ----------------------------------------------------
// One kernel leaves a sum of each tile of items; in the next one a block adds up what comes before its items.
// No block waits for another, and the order of addition is of no account: they are integers.

enum { TILES = 2048 }; // at most: so many sums are added up by a block in a microsecond

// A tile has 2^bits items: least_items at least, a power of two.
inline int tile_bits_of(int64_t capacity, int64_t least_items = THREADS)
{
    int bits = 0;
    while (INT64_C(1) << bits < least_items || tiles_of(capacity, INT64_C(1) << bits) > TILES) bits++;
    return bits;
}

// The sum over a block's threads of mine, in every thread. A barrier.
template <int BLOCK = THREADS> __device__ inline int64_t block_total(int64_t mine)
{
    typedef cub::BlockReduce<int64_t, BLOCK> reduce;
    __shared__ typename reduce::TempStorage  temp;
    __shared__ int64_t                       total;
    mine = reduce(temp).Sum(mine);
    if (threadIdx.x == 0) total = mine;
    __syncthreads();
    mine = total;
    __syncthreads(); // the next call writes total again, and CUB promises no barrier before that
    return mine;
}

// First kernel: sum[t] of each tile of 2^bits items. count(i) is of the items i, i + THREADS, ... of STEP;
// all threads of the block call it together, also with items >= n in the last tile, of which it counts none.
template <int STEP = THREADS, class F>
__device__ void write_tile_sums(int64_t* sum, int bits, int64_t n, F count)
{
    for (int64_t t = blockIdx.x; t << bits < n; t += gridDim.x) {
        int64_t end = least(n, (t + 1) << bits), mine = 0;
#pragma unroll 1
        for (int64_t first = t << bits; first < end; first += STEP) mine += count(first + threadIdx.x);
        mine = block_total(mine);
        if (threadIdx.x == 0) sum[t] = mine;
    }
}

// The same without a kernel of its own, where items come out of other work: sum, zeroed before, of tiles of
// 2^bits items. A warp's lanes call together, item by item ascending, none below `first`: those of the first
// item's tile are one atomic.
__device__ inline void add_to_tiles(int64_t* sum, int bits, int64_t first, int64_t item, int64_t mine)
{
    const int64_t tile = first >> bits;
    if (mine && item >> bits != tile) {
        add_atomic(sum + (item >> bits), mine);
        mine = 0;
    }
    for (int half = WARP / 2; half; half /= 2) mine += __shfl_xor_sync(ALL_LANES, mine, half);
    if (mine && threadIdx.x % WARP == 0) add_atomic(sum + tile, mine);
}

// Second kernel: what comes before item `first`, in every thread: of whole tiles their sums, at most TILES,
// which are under way together; then count(i) of the items from the tile's begin on. A barrier.
template <int BLOCK = THREADS, class F>
__device__ inline int64_t sum_before(const int64_t* sum, int bits, int64_t first, F count)
{
    const int64_t tile = first >> bits;
    int64_t       mine = 0;
#pragma unroll
    for (unsigned k = 0; k < TILES / BLOCK; k++) {
        const unsigned t = threadIdx.x + k * BLOCK;
        mine += t < tile ? sum[t] : 0;
    }
#pragma unroll 2
    for (int64_t i = (tile << bits) + threadIdx.x; i < first; i += BLOCK) mine += count(i);
    return block_total<BLOCK>(mine);
}

// ---- memory; blocks ----------------------------------------------------------

enum { UNIT = 256 }; // bytes: what cudaMalloc's memory starts at, and every array in it

inline size_t round_up(size_t bytes) { return (bytes + UNIT - 1) / UNIT * UNIT; }

// Hands out the next part of memory, or only counts it when base is NULL.
template <class T> inline T* carve(char* base, size_t* used, int64_t count)
{
    return static_cast<T*>(ggnni_carve_by(UNIT, base, used, count, sizeof(T)));
}

} // namespace ggnni

// =============================================================================
// ==== [4i] SAMPLE
// =============================================================================
// A list of at most fanout edges is copied. Of a longer one:
//   Fisher-Yates to fanout 32      a group of lanes a list, a lane a draw, in registers
//   to 1,024, and path doubling    a block of 128 a list, 1 to 8 draws a thread: WholeGraph, Algorithm 1
//   rejection                      a warp (to fanout 32) or a block (to 1,024) a list, a set in shared memory
//   reservoir, greater fanouts     a warp or a block a list, slots in shared memory
//   all; with replacement          a thread an edge; a thread a draw
//   weighted [4bi]                 a warp or a block a list, keeping the least keys so far
//   walks [4bi]                    a thread a walk; then a group of lanes or a block a node
//
// In a mini-batch a hop is one of these kernels, which does three things at once: blocks find out where their
// rows' edges go (place_span), sample, and put what they took into the table of [5i] (insert_edges).

namespace ggnni {

// One hop as a sampling kernel sees it. How many edges each target takes is known, what they are is not.
// Passed by value; what it points to is on the device.
struct hop_job {
    ggnn_graph       g;         // WALK alone uses its traffic: it counts its steps
    fast_layout      at;        // g's
    ggnn_method      method;    //
    int32_t          fanout;    //
    int32_t          hop;       //
    const ggnn_rng*  rng;       //                  read when the kernel runs
    const ggnn_node* target;    // (num_dst)        global ids
    ggnn_count       num_dst;   //
    int64_t*         indptr;    // (num_dst + 1)    target i takes edges [indptr[i], indptr[i+1]): given, or
                                //                  overwritten if count is not NULL
    const int64_t*   count;     // (num_dst)        edges of each target; or NULL
    const int64_t*   tile_sum;  // (TILES)          of count, over tiles of 2^tile_bits targets
    int              tile_bits; //
    int              span;      //                  targets that a block takes together: a power of two
    int64_t*         total;     // (1)              overwritten: indptr[num_dst], where count is given
    ggnn_node*       id;        // (max_edges)      overwritten: neighbours taken
    int64_t*         position;  // (max_edges)      overwritten: in the graph's edge order; or NULL
    float*           weight;    // (max_edges)      overwritten; or NULL
    int64_t          max_edges; //                  edges from there on are not written: capacity
    int32_t*         status;    //                  sticky; or NULL
    ggnn_walks       walk;      //                  WALK
    divider          most;      //                  REPLACEMENT, WALK: edges a target may have; WEIGHTED:
                                //                  pairs of a block's buffer; random_walks: walks of a target
    void*            workspace; //                  of hop_workspace_bytes; WALK: kept from count_hop on
    ggnn_cuda_unique seen;      //                  used if place is not NULL
    uint32_t*        place;     // (max_edges)      overwritten: slots of neighbours in the table; may be the
                                //                  memory of id where that is as wide; or NULL
};
inline hop_job hop_job_of(const ggnn_graph& g, const ggnn_rng* rng, int32_t hop, const ggnn_node* target,
                          ggnn_count num_dst, int32_t* status)
{
    hop_job job = {};
    job.g = g, job.at = layout_of(g.at), job.rng = rng, job.hop = hop;
    job.target = target, job.num_dst = num_dst, job.status = status;
    return job;
}

// Edges that a list of this degree gives, by any method that does not walk; by weight, of so many that have
// some.
__device__ inline int64_t edges_taken(const hop_job& job, int64_t degree)
{
    if (job.fanout < 0 || degree <= 0) return degree > 0 ? degree : 0;
    if (degree > job.fanout || ggnn_method_has(job.method, GGNN_METHOD_REPEATS)) return job.fanout;
    return degree;
}

// ggnn_neighbors of a node; where the node or its list is out of range that is reported, and the list is
// empty. PLAIN: of a graph in one piece, by who wants no positions.
template <bool PLAIN = false>
__device__ inline ggnn_list list_of(const ggnn_graph& g, const fast_layout& at, ggnn_node v, int32_t* status)
{
    ggnn_list list = {nullptr, nullptr, 0, 0};
    if (static_cast<uint64_t>(v) < static_cast<uint64_t>(g.num_nodes)) {
        const ggnn_place place = !PLAIN && g.part ? place_of(at, v) : ggnn_place{0, v};
        const ggnn_csc&  csc = !PLAIN && g.part ? g.part[place.slot] : g.whole;
        const int64_t    begin = csc.indptr[place.row], end = csc.indptr[place.row + 1];
        if (begin >= 0 && begin <= end && end <= csc.num_edges && (PLAIN || end - begin <= g.num_edges)) {
            list.id = csc.indices + begin;
            list.weight = !PLAIN && csc.weight ? csc.weight + begin : nullptr;
            list.degree = end - begin;
            list.position = !PLAIN && csc.first ? csc.first[place.row] : begin;
            return list;
        }
    }
    report(status, GGNN_ERROR_ID);
    return list;
}

// ---- where edges go --------------------------------------------------------------

template <int BLOCK> struct span_memory {
    typename cub::BlockScan<int64_t, BLOCK>::TempStorage scan;
    int64_t                                              at[BLOCK + 1];
};

// Where the edges of a span's targets go: at[r] for target first + r, at[r + 1] for the next. By the whole
// block, and nobody waits for another: each adds up for itself what comes before its span, which costs less
// than a launch between the counts and the sample. Only this block writes these rows of indptr; the one with
// the last target also the end.
template <int BLOCK>
__device__ void place_span(span_memory<BLOCK>& m, const hop_job& job, int64_t first, int64_t num_dst)
{
    const int thread = static_cast<int>(threadIdx.x);
    const int rows = static_cast<int>(least(job.span, num_dst - first));
    int64_t   own = 0, sum = 0, before = 0;
    __syncthreads(); // the span before is done with
    if (job.count) {
        if (thread < rows) own = job.count[first + thread];
        before = sum_before<BLOCK>(job.tile_sum, job.tile_bits, first,
                                   [&](int64_t i) { return job.count[i]; });
        cub::BlockScan<int64_t, BLOCK>(m.scan).ExclusiveSum(own, own, sum);
        own = least(before + own, job.max_edges);
        if (thread < rows) job.indptr[first + thread] = own;
        if (thread == 0 && first + rows == num_dst) {
            job.indptr[num_dst] = *job.total = least(before + sum, job.max_edges);
            if (before + sum > job.max_edges) report(job.status, GGNN_ERROR_CAPACITY);
        }
        if (thread == 0) m.at[rows] = least(before + sum, job.max_edges);
    } else {
        if (thread < rows) own = least(job.indptr[first + thread], job.max_edges);
        if (thread == 0) m.at[rows] = least(job.indptr[first + rows], job.max_edges);
    }
    if (thread < rows) m.at[thread] = own;
    __syncthreads();
}

constexpr uint32_t CANDIDATE = 0x80000000u; // + position
constexpr uint32_t NOWHERE = 0xffffffffu;   // no slot: the table is full

// Puts an id into the table, by one lane; its slot: [5i].
__device__ inline uint32_t insert_id(const ggnn_cuda_unique& seen, ggnn_node id, uint32_t value);

// Puts the ids of edges [from, to) into the table, a thread an edge: the whole block does, which has written
// them before a barrier. place may be the memory of id: an edge's are one thread's here.
template <int BLOCK> __device__ inline void insert_edges(const hop_job& job, int64_t from, int64_t to)
{
    const unsigned lane = threadIdx.x % WARP;
    for (int64_t first = from; first < to; first += BLOCK) {
        const int64_t   e = first + threadIdx.x;
        const ggnn_node id = e < to ? job.id[e] : -1;
        const unsigned  leads = job.seen.hubs ? lowest(__match_any_sync(ALL_LANES, id)) : lane;
        uint32_t        slot = NOWHERE;
        if (leads == lane && id >= 0) slot = insert_id(job.seen, id, CANDIDATE + static_cast<uint32_t>(e));
        if (job.seen.hubs) slot = __shfl_sync(ALL_LANES, slot, static_cast<int>(leads));
        if (e >= to) continue;
        job.place[e] = slot;
        if (slot == NOWHERE) report(job.status, GGNN_ERROR_CAPACITY);
    }
}

// body(first, rows, at) for every span of targets: a block each, in turn. Also without any target where there
// is an end to write.
template <int BLOCK, class F> __device__ inline void for_spans(const hop_job& job, F body)
{
    __shared__ span_memory<BLOCK> memory;
    for (unsigned span = blockIdx.x;; span += gridDim.x) { // (what can be read again needs no registers)
        const int64_t first = static_cast<int64_t>(span) * job.span, num_dst = size_of(job.num_dst);
        if (first >= num_dst && (first || !job.count)) break;
        place_span<BLOCK>(memory, job, first, num_dst);
        body(first, static_cast<int>(least(job.span, num_dst - first)), memory.at);
        if (!job.place) continue;
        __syncthreads();
        insert_edges<BLOCK>(job, memory.at[0], memory.at[least(job.span, size_of(job.num_dst) - first)]);
    }
}

// body(i, at) for every target i, by T threads each; at[0] and at[1] are where its edges go. Where these are
// not whole warps, all come to the body together, also for targets beyond the last, i < 0.
template <int T, int BLOCK = THREADS, class F> __device__ inline void for_rows(const hop_job& job, F body)
{
    for_spans<BLOCK>(job, [&](int64_t first, int rows, const int64_t* at) {
        const int all = T < WARP ? job.span : rows;
#pragma unroll 1
        for (int r = static_cast<int>(threadIdx.x) / T; r < all; r += BLOCK / T)
            body(r < rows ? first + r : -1, at + r);
    });
}

// One target as its threads see it.
struct hop_row {
    ggnn_list list;
    ggnn_node target;
    int64_t   first, end; // its edges are [first, end): nothing is written elsewhere
};

template <bool PLAIN = false>
__device__ inline hop_row row_of(const hop_job& job, int64_t i, const int64_t* at)
{
    const ggnn_node target = job.target[i];
    return {list_of<PLAIN>(job.g, job.at, target, job.status), target, at[0], at[1]};
}

// Writes the row's edge j: entry `offset` of its list. An id out of range is reported and becomes the target.
template <bool PLAIN = false>
__device__ inline void put_edge(const hop_job& job, const hop_row& row, int64_t j, int64_t offset)
{
    int64_t e = row.first + j;
    if (e >= row.end) return;
    ggnn_node id = row.list.id[offset];
    if (static_cast<uint64_t>(id) >= static_cast<uint64_t>(job.g.num_nodes)) {
        report(job.status, GGNN_ERROR_ID);
        id = row.target;
    }
    job.id[e] = id;
    if (PLAIN) return;
    if (job.position) job.position[e] = row.list.position + offset;
    if (job.weight) job.weight[e] = row.list.weight ? row.list.weight[offset] : 1.0f;
}

// Takes the whole list, T threads in turn.
template <int T> __device__ void copy_list(const hop_job& job, const hop_row& row, int lane)
{
#pragma unroll 1
    for (int64_t j = lane; j < row.list.degree; j += T) put_edge(job, row, j, j);
}

// for_rows, but body(row, i, at) is for lists longer than fanout; it reads the row again where keeping it
// takes registers. whole(row) takes the others.
template <int T, int BLOCK = THREADS, class Whole, class F>
__device__ inline void for_long_rows(const hop_job& job, Whole whole, F body)
{
    for_rows<T, BLOCK>(job, [&](int64_t i, const int64_t* at) {
        const hop_row row = row_of(job, i, at);
        if (job.fanout < 0 || row.list.degree <= job.fanout) whole(row);
        else body(row, i, at);
    });
}

// The threads that work on one row: a warp, or the whole block (T = THREADS).
template <int T> struct team {
    int     lane;        // this thread's number in it
    int     slot;        // the team's number in its block
    int64_t first, step; // its rows, where not by for_rows: first, first + step, ...

    __device__ team() : lane(threadIdx.x % T), slot(threadIdx.x / T)
    {
        first = static_cast<int64_t>(blockIdx.x) * (THREADS / T) + slot;
        step = static_cast<int64_t>(gridDim.x) * (THREADS / T);
    }

    // What any of them wrote to memory before, all of them read after.
    __device__ void sync() const
    {
        if constexpr (T == WARP) __syncwarp();
        else __syncthreads();
    }

    // Flags of the lanes below this one; *total: of all.
    __device__ int rank(bool flag, int* total) const
    {
        const unsigned flags = __ballot_sync(ALL_LANES, flag);
        const int      below = __popc(flags & ((1u << threadIdx.x % WARP) - 1));
        *total = __popc(flags);
        if constexpr (T == WARP) return below;
        __shared__ int warp_total[THREADS / WARP];
        int            before = 0;
        if (threadIdx.x % WARP == 0) warp_total[threadIdx.x / WARP] = *total;
        __syncthreads();
        *total = 0;
        for (unsigned w = 0; w < THREADS / WARP; w++) {
            if (w == threadIdx.x / WARP) before = *total;
            *total += warp_total[w];
        }
        __syncthreads();
        return before + below;
    }

    __device__ bool any(bool flag) const
    {
        int total;
        rank(flag, &total);
        return total > 0;
    }
};

// Bitonic sort (Batcher 1968) of n items in the form whose comparisons all put the smaller one first: what is
// missing up to a power of two then counts as greatest and never moves. Two sorted runs become one: pairs
// mirrored about their border, then pairs ever smaller steps apart. order(low, high) swaps two items that are
// not in order. What the team wrote before needs no sync, and all is visible after. O(n log^2 n).
template <int T, class Order> __device__ void sort_items(uint32_t n, const team<T>& us, Order order)
{
    for (uint32_t run = 1; run < n; run *= 2)
        for (uint32_t step = run; step > 0; step /= 2) {
            const uint32_t pairs = ((n + 2 * step - 1) & ~(2 * step - 1)) / 2;
            us.sync();
#pragma unroll 1
            for (uint32_t p = static_cast<uint32_t>(us.lane); p < pairs; p += T) {
                const uint32_t in = p & (step - 1), low = 2 * p - in;
                const uint32_t high = step == run ? low + 2 * (step - in) - 1 : low + step;
                if (high < n) order(low, high);
            }
        }
    us.sync();
}

// ---- Fisher-Yates in registers -------------------------------------------------

// Lane i of a group of G makes draw i. Draw j gives slot n-1-j up. Where earlier draws took that slot, the
// last of them, tail(j), moved the content of slot n-1-tail(j) into it; else tail(j) = j. So following tail
// from j leads to root(j), whose slot n-1-root(j) no draw overwrote. Draw i takes slot r_i itself where no
// earlier draw took it, else what the last of those, prev, moved in: n-1-root(prev). Links lead to smaller
// draws, at most G - 1 of them, so log2 G doublings follow all.
template <int G, class Offset> __device__ Offset fisher_yates_pick(Offset r, Offset n, int lane)
{
    const Offset given_up = n - 1 - static_cast<Offset>(lane);
    int          prev = -1, root = lane;
#pragma unroll
    for (int j = 0; j < G - 1; j++) {
        const Offset other = __shfl_sync(ALL_LANES, r, j, G);
        if (j < lane && other == r) prev = j;
        if (j < lane && other == given_up) root = j;
    }
#pragma unroll
    for (int reach = 1; reach < G; reach *= 2) root = __shfl_sync(ALL_LANES, root, root, G);
    root = __shfl_sync(ALL_LANES, root, prev < 0 ? lane : prev, G);
    return prev < 0 ? r : n - 1 - static_cast<Offset>(root);
}

// G lanes a row, G >= fanout. Rows beyond the last, and rows taken whole, go through the shuffles idly.
// PLAIN: a graph in one piece, without positions and weights.
template <int G, class Offset, bool PLAIN>
GGNNI_KERNEL(64, THREADS, sizeof(Offset) == 8 ? 4 : 5) fisher_yates(const __grid_constant__ hop_job job)
{
    const int lane = threadIdx.x % G;
    for_rows<G>(job, [&](int64_t i, const int64_t* at) {
        const hop_row row = i >= 0 ? row_of<PLAIN>(job, i, at) : hop_row{};
        const Offset  n = static_cast<Offset>(row.list.degree), fanout = static_cast<Offset>(job.fanout);
        Offset        r = 0;
        if (lane < job.fanout && n > fanout)
            r = static_cast<Offset>(draw_below(*job.rng, job.hop, row.target, lane, n - lane));
        r = fisher_yates_pick<G, Offset>(r, n, lane);
        if (n <= fanout) r = static_cast<Offset>(lane);
        if (static_cast<Offset>(lane) < (n < fanout ? n : fanout))
            put_edge<PLAIN>(job, row, lane, static_cast<int64_t>(r));
    });
}

// ---- path doubling ---------------------------------------------------------------

enum { PATH_THREADS = 128 };

// What Algorithm 1 keeps, in shared memory: the sorted draws s and which draw p each was, by rank; and, by
// draw, chain: chain[j] is the draw that last overwrote slot n-1-j, or j. ggnn_ref_path_doubling in
// ggnn_reference.h has the same steps, and says why they give Fisher-Yates.
template <int ITEMS, class Key> struct path_memory {
    using sorter = cub::BlockRadixSort<Key, PATH_THREADS, ITEMS, uint16_t>;
    typename sorter::TempStorage sort;
    Key                          s[PATH_THREADS * ITEMS];
    uint16_t                     p[PATH_THREADS * ITEMS], chain[PATH_THREADS * ITEMS];
};

// Algorithm 1, first half. The block has put m draws into s, and n beyond them, which sorts last: n has the
// bits that the sort looks at. It keeps equal draws in order; then thread t works on entries t, t + 128, ...
template <int ITEMS, class Key> __device__ void path_sort(path_memory<ITEMS, Key>& at, int64_t n)
{
    Key      r[ITEMS];
    uint16_t draw[ITEMS];
    __syncthreads();
    for (int j = 0; j < ITEMS; j++) {
        draw[j] = static_cast<uint16_t>(threadIdx.x * ITEMS + j);
        r[j] = at.s[draw[j]];
    }
    typename path_memory<ITEMS, Key>::sorter(at.sort).SortBlockedToStriped(r, draw, 0, 64 - __clzll(n));
    for (int j = 0; j < ITEMS; j++) {
        const int t = threadIdx.x + j * PATH_THREADS;
        at.s[t] = r[j];
        at.p[t] = draw[j];
        at.chain[t] = static_cast<uint16_t>(t);
    }
    __syncthreads();
}

// Second half: chain, doubled until it leads to the end; complete for all threads when it returns.
template <int ITEMS, class Key> __device__ void path_link(path_memory<ITEMS, Key>& at, int64_t n, int m)
{
#pragma unroll 1
    for (int t = threadIdx.x; t < m; t += PATH_THREADS) { // the last draw of each slot that is given up
        const int64_t up = n - 1 - static_cast<int64_t>(at.s[t]);
        if (up < m && (t + 1 == m || at.s[t + 1] != at.s[t])) at.chain[up] = at.p[t];
    }
    __syncthreads();
#pragma unroll 1
    for (int reach = 1; reach < m; reach *= 2) {
        uint16_t next[ITEMS];
        for (int j = 0; j < ITEMS; j++) next[j] = at.chain[at.chain[threadIdx.x + j * PATH_THREADS]];
        __syncthreads();
        for (int j = 0; j < ITEMS; j++) at.chain[threadIdx.x + j * PATH_THREADS] = next[j];
        __syncthreads();
    }
}

// What draw p[t] takes.
template <int ITEMS, class Key>
__device__ int64_t path_pick(const path_memory<ITEMS, Key>& at, int64_t n, int t)
{
    const bool repeated = t > 0 && at.s[t - 1] == at.s[t];
    return repeated ? n - 1 - at.chain[at.p[t - 1]] : static_cast<int64_t>(at.s[t]);
}

// A block a row, fanout <= 128 * ITEMS.
template <int ITEMS, class Key>
GGNNI_KERNEL(80, PATH_THREADS, ITEMS < 8 ? 8 : 6)
    path_sample(const __grid_constant__ hop_job job)
{
    __shared__ path_memory<ITEMS, Key> memory;
    const auto copy = [&](const hop_row& row) { copy_list<PATH_THREADS>(job, row, threadIdx.x); };
    for_long_rows<PATH_THREADS, PATH_THREADS>(job, copy, [&](const hop_row& row, int64_t i,
                                                             const int64_t* at) {
        const int64_t n = row.list.degree;
#pragma unroll 1
        for (int d = threadIdx.x; d < PATH_THREADS * ITEMS; d += PATH_THREADS)
            memory.s[d] =
                static_cast<Key>(d < job.fanout ? draw_below(*job.rng, job.hop, job.target[i], d, n - d) : n);
        path_sort<ITEMS, Key>(memory, n);
        const hop_row again = row_of(job, i, at);
        path_link<ITEMS, Key>(memory, again.list.degree, job.fanout);
#pragma unroll 1
        for (int t = threadIdx.x; t < job.fanout; t += PATH_THREADS)
            put_edge(job, again, memory.p[t], path_pick<ITEMS, Key>(memory, again.list.degree, t));
        __syncthreads();
    });
}

// ---- rejection -------------------------------------------------------------------

// The slot of a value in a hash set, put there unless it is there already. Slots are never all taken.
template <class Key> __device__ int set_slot(Key* set, int slots, Key value)
{
    const Key none = ~static_cast<Key>(0);
    const Key golden = static_cast<Key>(0x9E3779B97F4A7C15u >> (64 - 8 * sizeof(Key)));
    int       at = static_cast<int>(value * golden >> (8 * sizeof(Key) - 20));
    for (at &= slots - 1;; at = (at + 1) & (slots - 1)) {
        const Key old = atomicCAS(&set[at], none, value);
        if (old == none || old == value) return at;
    }
}

// A team a row. T draws a round: of equal values the earliest draw is kept by atomicMin, whoever put the
// value into the set; draws that stay the earliest are the sample, in their order. Before a round fewer than
// fanout values are in the set, after it fewer than fanout + T: half of the slots (62 % at fanout 1,024).
template <int T, class Key>
GGNNI_KERNEL(48, THREADS, 5) rejection(const __grid_constant__ hop_job job)
{
    constexpr int       SLOTS = T == WARP ? 128 : 2048;
    __shared__ Key      sets[THREADS / T][SLOTS];
    __shared__ unsigned earliest[THREADS / T][SLOTS];
    const team<T>       us;
    const auto          copy = [&](const hop_row& row) { copy_list<T>(job, row, us.lane); };
    for_long_rows<T>(job, copy, [&](const hop_row& row, int64_t, const int64_t*) {
        for (int s = us.lane; s < SLOTS; s += T) {
            sets[us.slot][s] = ~static_cast<Key>(0);
            earliest[us.slot][s] = ~0u;
        }
        us.sync();
        for (int taken = 0, round = 0; taken < job.fanout; round++) {
            const unsigned draw = static_cast<unsigned>(round * T + us.lane);
            const int64_t  value = draw_below(*job.rng, job.hop, row.target, draw, row.list.degree);
            const int      slot = set_slot(sets[us.slot], SLOTS, static_cast<Key>(value));
            int            fresh;
            atomicMin(&earliest[us.slot][slot], draw);
            us.sync();
            const bool first = earliest[us.slot][slot] == draw;
            const int  place = taken + us.rank(first, &fresh);
            if (first && place < job.fanout) put_edge(job, row, place, value);
            taken += fresh;
            us.sync();
        }
    });
}

// ---- reservoir -------------------------------------------------------------------

// A team a row. What the sequential algorithm leaves in a slot is the last index that was written there, and
// that is the greatest: so the order of the writes does not matter. A fanout of more slots than shared memory
// holds is done in passes over ranges of them, each drawing anew.
template <int T, class Slot>
GGNNI_KERNEL(76, THREADS, 3) reservoir(const __grid_constant__ hop_job job)
{
    constexpr int   SLOTS = T == WARP ? 32 : 32768 / sizeof(Slot);
    __shared__ Slot slots[THREADS / T][SLOTS];
    const team<T>   us;
    const auto      copy = [&](const hop_row& row) { copy_list<T>(job, row, us.lane); };
    for_long_rows<T>(job, copy, [&](const hop_row& row, int64_t i, const int64_t* at) {
        const int64_t n = row.list.degree;
        for (int64_t first = 0; first < job.fanout; first += SLOTS) {
            const int64_t count = job.fanout - first < SLOTS ? job.fanout - first : SLOTS;
            for (int s = us.lane; s < count; s += T) slots[us.slot][s] = static_cast<Slot>(first + s);
            us.sync();
#pragma unroll 1
            for (int64_t e = job.fanout + 2 * us.lane; e < n; e += 2 * T) { // a block is two draws
                const int64_t    draw = e - job.fanout;
                const ggnn_words words =
                    random_words(*job.rng, job.hop, job.target[i], static_cast<uint32_t>(draw / 2));
                for (int64_t h = 0; h < 2 && e + h < n; h++) {
                    const int64_t r = ggnn_bounded(draw_of(words, draw + h), e + h + 1) - first;
                    if (r >= 0 && r < count) atomicMax(&slots[us.slot][r], static_cast<Slot>(e + h));
                }
            }
            us.sync();
            const hop_row again = row_of(job, i, at);
#pragma unroll 1
            for (int s = us.lane; s < count; s += T) put_edge(job, again, first + s, slots[us.slot][s]);
            us.sync();
        }
    });
}

// ---- all neighbours; with replacement ------------------------------------------------

// The last of [low, high) of which `holds` is true, as it is of low, and of none behind that one.
template <class I, class F> __device__ inline I last_where(I low, I high, F holds)
{
    while (high - low > 1) {
        const I middle = low + (high - low) / 2;
        if (holds(middle)) low = middle;
        else high = middle;
    }
    return low;
}

// The last of rows [low, high) that begins at or before edge e: the one that has it.
__device__ inline int64_t row_with(const int64_t* indptr, int64_t low, int64_t high, int64_t e)
{
    return last_where(low, high, [&](int64_t row) { return indptr[row] <= e; });
}

// A thread an edge, so that hubs and leaves cost the same; indptr is complete. Two threads find the rows of a
// tile's first and last edge; the others look between them.
static GGNNI_KERNEL(40, THREADS, 6) take_all(const __grid_constant__ hop_job job)
{
    constexpr int      TILE = 4 * THREADS;
    __shared__ int64_t row_at[2];
    const int64_t      num_dst = size_of(job.num_dst);
    if (num_dst <= 0) return;
    const int64_t num_edges = least(job.indptr[num_dst], job.max_edges);
    for (int64_t tile = blockIdx.x * static_cast<int64_t>(TILE); tile < num_edges;
         tile += gridDim.x * static_cast<int64_t>(TILE)) {
        const int64_t last = tile + TILE < num_edges ? tile + TILE - 1 : num_edges - 1;
        if (threadIdx.x < 2)
            row_at[threadIdx.x] = row_with(job.indptr, 0, num_dst, threadIdx.x ? last : tile);
        __syncthreads();
        for (int64_t e = tile + threadIdx.x; e <= last; e += THREADS) {
            const int64_t i = row_with(job.indptr, row_at[0], row_at[1] + 1, e);
            const int64_t at[2] = {job.indptr[i], job.indptr[i + 1]};
            const hop_row row = row_of(job, i, at);
            if (e - row.first < row.list.degree) put_edge(job, row, e - row.first, e - row.first);
        }
        __syncthreads();
        if (job.place) insert_edges<THREADS>(job, tile, last + 1);
    }
}

// A thread a draw: draw t % fanout of the span's target t / fanout.
static GGNNI_KERNEL(48, THREADS, 5) replacement(const __grid_constant__ hop_job job)
{
    for_spans<THREADS>(job, [&](int64_t first, int rows, const int64_t* at) {
#pragma unroll 1
        for (int64_t t = threadIdx.x; t < rows * job.most.by; t += THREADS) {
            const int64_t r = quotient(t, job.most), j = t - r * job.most.by;
            const hop_row row = row_of(job, first + r, at + r);
            if (row.list.degree > 0)
                put_edge(job, row, j, draw_below(*job.rng, job.hop, row.target, j, row.list.degree));
        }
    });
}

// ---- which kernel, by fanout ---------------------------------------------------------

// A kernel of for_spans or for_rows that works on threads / threads_per_row rows of a block at a time. Spans
// are so many rows at least; more, as long as half of the blocks that can be resident have one: to place a
// span costs each thread of a block more than a row does.
inline cudaError_t launch_rows(void (*kernel)(hop_job), int threads, int threads_per_row, hop_job job,
                               cudaStream_t stream)
{
    const int64_t all = resident_blocks(reinterpret_cast<const void*>(kernel), threads);
    job.span = threads / threads_per_row;
    while (job.span < threads && tiles_of(job.num_dst.max, 2 * job.span) >= all / 2) job.span *= 2;
    const int64_t spans = tiles_of(job.num_dst.max, job.span);
    return launch_tiles(kernel, job.count ? some(spans) : spans, threads, stream, job);
}

// A kernel of for_spans to which a row is `most` entries, of which a thread takes one at a time.
inline cudaError_t launch_entries(void (*kernel)(hop_job), int64_t most, hop_job job, cudaStream_t stream)
{
    int threads_per_row = 1;
    while (threads_per_row < THREADS && threads_per_row < most) threads_per_row *= 2;
    job.most = divide_by(most);
    return launch_rows(kernel, THREADS, threads_per_row, job, stream);
}

// The least G that is not below fanout. Key: 32 bits, or 64 where a list can have 2^32 entries.
template <class Key, bool PLAIN, int G = 1>
inline cudaError_t launch_fisher_yates(const hop_job& job, cudaStream_t stream)
{
    if (job.fanout > G) return launch_fisher_yates<Key, PLAIN, G < WARP ? 2 * G : G>(job, stream);
    return launch_rows(fisher_yates<G, Key, PLAIN>, THREADS, G, job, stream);
}

template <class Key, int ITEMS> inline cudaError_t launch_path(const hop_job& job, cudaStream_t stream)
{
    if (job.fanout > ITEMS * PATH_THREADS) return launch_path<Key, ITEMS < 8 ? 2 * ITEMS : 8>(job, stream);
    return launch_rows(path_sample<ITEMS, Key>, PATH_THREADS, PATH_THREADS, job, stream);
}

// The methods that draw without replacement. PLAIN and fewer ITEMS are for keys of 32 bits alone.
template <class Key> inline cudaError_t launch_draws(const hop_job& job, cudaStream_t stream)
{
    constexpr bool NARROW = sizeof(Key) == sizeof(unsigned);
    const bool     small = job.fanout <= WARP;
    void (*kernel)(hop_job) = nullptr;
    if (job.method == GGNN_RESERVOIR || job.fanout > GGNN_FANOUT_MAX) // the others here hold a set
        kernel = small ? reservoir<WARP, Key> : reservoir<THREADS, Key>;
    else if (job.method == GGNN_REJECTION)
        kernel = small ? rejection<WARP, Key> : rejection<THREADS, Key>;
    if (kernel) return launch_rows(kernel, THREADS, small ? +WARP : +THREADS, job, stream);
    if (job.method == GGNN_FISHER_YATES && small)
        return job.g.part || job.position || job.weight ? launch_fisher_yates<Key, false>(job, stream)
                                                        : launch_fisher_yates<Key, NARROW>(job, stream);
    return launch_path<Key, NARROW ? 1 : 8>(job, stream);
}

// The methods whose draws are uniform; fanout is not 0.
inline cudaError_t launch_uniform(const hop_job& job, cudaStream_t stream)
{
    const bool wide = job.g.num_edges > static_cast<int64_t>(UINT32_MAX);
    if (job.fanout < 0)
        return launch_items(take_all, tiles_of(least(job.max_edges, job.g.num_edges), 4), stream, job);
    if (job.method == GGNN_REPLACEMENT) return launch_entries(replacement, job.fanout, job, stream);
    return wide ? launch_draws<unsigned long long>(job, stream) : launch_draws<unsigned>(job, stream);
}

} // namespace ggnni

// =============================================================================
// ==== [4bi] SAMPLE: weighted, walks; a hop by any method
// =============================================================================

namespace ggnni {

// ---- weighted: A-Res ---------------------------------------------------------------

// Sorted by key, then by from. In A-Res the key is that of an edge, as the bits of a double (positive doubles
// compare as their bits do), and from its offset.
struct sort_pair {
    unsigned long long key;
    int64_t            from;
};
constexpr unsigned long long NO_KEY = ~0ull; // after all others

template <int T> __device__ void sort_pairs(sort_pair* p, int64_t kept, const team<T>& us)
{
    sort_items(static_cast<uint32_t>(kept), us, [&](uint32_t low, uint32_t high) {
        const sort_pair a = p[low], b = p[high];
        if (a.key < b.key || (a.key == b.key && a.from <= b.from)) return;
        p[low] = b;
        p[high] = a;
    });
}

__device__ inline float weight_at(const ggnn_list& list, int64_t i)
{
    if (i >= list.degree) return 0.0f;
    return list.weight ? list.weight[i] : 1.0f;
}

// -log2(u) / w of edge i.
__device__ inline unsigned long long edge_key(const ggnn_rng& rng, int32_t hop, ggnn_node target, int64_t i,
                                              float w)
{
    if (!(w > 0.0f)) return NO_KEY;
    const uint64_t draw = draw_of(random_words(rng, hop, target, static_cast<uint32_t>(i / 2)), i);
    const double   key = __ddiv_rn(static_cast<double>(ggnn_neg_log2(draw)), static_cast<double>(w));
    return static_cast<unsigned long long>(__double_as_longlong(key));
}

// Entries of a list that have weight; -1, reported, where one is no weight.
template <int T>
__device__ int64_t count_weighted(const hop_job& job, const ggnn_list& list, const team<T>& us)
{
    int64_t some = 0;
    bool    bad = false;
    for (int64_t base = 0; base < list.degree; base += T) {
        const float w = weight_at(list, base + us.lane);
        int         total;
        us.rank(w > 0.0f, &total);
        some += total;
        bad |= !ggnn_weight_valid(w);
    }
    if (bad) report(job.status, GGNN_ERROR_WEIGHT);
    return us.any(bad) ? -1 : some;
}

// Copies what has weight, in the list's order.
template <int T> __device__ void take_weighted(const hop_job& job, const hop_row& row, const team<T>& us)
{
    if (count_weighted(job, row.list, us) < 0) return;
    for (int64_t base = 0, taken = 0; base < row.list.degree; base += T) {
        const bool some = weight_at(row.list, base + us.lane) > 0.0f;
        int        total;
        const int  place = us.rank(some, &total);
        if (some) put_edge(job, row, taken + place, base + us.lane);
        taken += total;
    }
}

// Lane l of a warp holds the l-th least key so far. Of the edges [base, base + 32), a key a lane, those below
// the last one wanted are put in where they belong (after equal keys, which are of edges before them), one
// after the other, and the lanes above move up by one.
__device__ inline void keep_least(unsigned long long& best, int64_t& from, unsigned long long key,
                                  int64_t base, int fanout)
{
    const int                lane = threadIdx.x % WARP;
    const unsigned long long last = __shfl_sync(ALL_LANES, best, fanout - 1);
    for (unsigned in = __ballot_sync(ALL_LANES, key < last); in; in &= in - 1) {
        const int                source = __ffs(static_cast<int>(in)) - 1;
        const unsigned long long fresh = __shfl_sync(ALL_LANES, key, source);
        const int                place = __popc(__ballot_sync(ALL_LANES, best <= fresh));
        const unsigned long long below = __shfl_up_sync(ALL_LANES, best, 1);
        const int64_t            from_below = __shfl_up_sync(ALL_LANES, from, 1);
        if (lane < place) continue;
        best = lane == place ? fresh : below;
        from = lane == place ? base + source : from_below;
    }
}

// A warp a row, fanout <= 32.
static GGNNI_KERNEL(64, THREADS, 4) weighted_small(const __grid_constant__ hop_job job)
{
    const team<WARP> us;
    const auto       take = [&](const hop_row& row) { take_weighted(job, row, us); };
    for_long_rows<WARP>(job, take, [&](const hop_row& row, int64_t i, const int64_t* at) {
        unsigned long long best = NO_KEY;
        int64_t            from = 0;
        bool               bad = false;
#pragma unroll 1
        for (int64_t base = 0; base < row.list.degree; base += WARP) {
            const float              w = weight_at(row.list, base + us.lane);
            const unsigned long long key = edge_key(*job.rng, job.hop, job.target[i], base + us.lane, w);
            keep_least(best, from, key, base, job.fanout);
            bad |= !ggnn_weight_valid(w);
        }
        if (bad) report(job.status, GGNN_ERROR_WEIGHT);
        if (!us.any(bad) && us.lane < job.fanout && best != NO_KEY)
            put_edge(job, row_of(job, i, at), us.lane, from);
    });
}

constexpr int64_t WEIGHTED_SHARED = 2048; // pairs in shared memory
constexpr int64_t HEAVY_BLOCKS = 128;     // blocks whose pairs are in the workspace

// Pairs of a block's buffer: 2 fanout, so that a round of edges fits behind those kept, and is sorted seldom.
inline int64_t weighted_buffer(int64_t fanout) { return 2 * (fanout < THREADS ? +THREADS : fanout); }

// A block a row. The buffer (job.most.by pairs; SHARED: shared memory) holds the least keys so far, then what
// was found below the last of them since; when a round more might not fit it is sorted, and cut to fanout.
template <bool SHARED>
GGNNI_KERNEL(80, THREADS, sizeof(ggnn_node) == 4 ? 4 : 3) // 64 registers; 80 with 64-bit ids
    weighted_large(const __grid_constant__ hop_job job)
{
    __shared__ sort_pair own[SHARED ? WEIGHTED_SHARED : 1];
    sort_pair* const     pairs = static_cast<sort_pair*>(job.workspace);
    sort_pair* const     best = SHARED ? own : pairs + blockIdx.x * job.most.by;
    const team<THREADS>  us;
    const auto           take = [&](const hop_row& row) { take_weighted(job, row, us); };
    for_long_rows<THREADS>(job, take, [&](const hop_row& row, int64_t i, const int64_t* at) {
        unsigned long long last = NO_KEY;
        int64_t            kept = 0;
        bool               bad = false;
#pragma unroll 1
        for (int64_t base = 0; base < row.list.degree; base += THREADS) {
            const float              w = weight_at(row.list, base + us.lane);
            const unsigned long long key = edge_key(*job.rng, job.hop, job.target[i], base + us.lane, w);
            int                      total;
            if (kept + THREADS > job.most.by) {
                sort_pairs(best, kept, us);
                kept = job.fanout;
                last = best[kept - 1].key;
            }
            const int place = us.rank(key < last, &total);
            if (key < last) best[kept + place] = {key, base + us.lane};
            kept += total;
            bad |= !ggnn_weight_valid(w);
        }
        sort_pairs(best, kept, us);
        if (bad) report(job.status, GGNN_ERROR_WEIGHT);
        const int64_t taken = us.any(bad) ? 0 : least(kept, job.fanout);
        const hop_row again = row_of(job, i, at);
#pragma unroll 1
        for (int64_t j = us.lane; j < taken; j += THREADS) put_edge(job, again, j, best[j].from);
        // (before the next row writes to best, all come through rank's barriers)
    });
}

// ---- walks -------------------------------------------------------------------------

// A thread a walk; into the workspace: (num_dst, walks * length). COUNTS: where traffic is; else it costs
// nothing.
template <bool COUNTS>
GGNNI_KERNEL(48, THREADS, COUNTS ? 5 : 8) random_walks(const __grid_constant__ hop_job job)
{
    [[maybe_unused]] __shared__ slot_counts count;
    [[maybe_unused]] const int32_t          parts = static_cast<int32_t>(job.at.parts.by);
    ggnn_node* const visited = static_cast<ggnn_node*>(job.workspace);
    const int64_t    walks = size_of(job.num_dst) * job.walk.walks;
    ggnn_rng         rng = *job.rng;
    rng.purpose = ggnn_walk_purpose(rng.purpose);
    if constexpr (COUNTS) count.begin(parts + 2);
#pragma unroll 1
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; t < walks;
         t += static_cast<int64_t>(gridDim.x) * THREADS) {
        const int64_t   i = quotient(t, job.most);
        const ggnn_node start = job.target[i];
        ggnn_node       at = start;
        for (int32_t step = 0; step < job.walk.length; step++) {
            const int64_t    block = (t - i * job.walk.walks) * job.walk.length + step;
            const ggnn_words words = random_words(rng, job.hop, start, static_cast<uint32_t>(block));
            const ggnn_list  list = list_of(job.g, job.at, at, job.status);
            ggnn_node        next = -1;
            if (COUNTS && at >= 0 && at < job.g.num_nodes)
                atomicAdd(&count.n[place_of(job.at, at).slot], 1u);
            if (list.degree > 0) {
                next = list.id[ggnn_bounded(draw_of(words, 0), list.degree)];
                if (next < 0 || next >= job.g.num_nodes) {
                    report(job.status, GGNN_ERROR_ID);
                    next = -1;
                }
            }
            visited[t * job.walk.length + step] = next;
            const uint64_t restart = static_cast<uint64_t>(job.walk.restart * 4294967296.0f); // exact
            at = next < 0 || words.word[2] < restart ? start : next;
        }
    }
    if constexpr (COUNTS) count.end(parts + 2, job.g.traffic);
}

struct visit_job {
    ggnn_node*       id;      // (num_nodes, count)
    float*           visits;  // (num_nodes, count)
    int64_t*         taken;   // (num_nodes)
    const ggnn_node* visited; // (num_nodes, count); may be id
    int32_t          count;
    int64_t          top;  // 0 <= top <= count
    const ggnn_node* node; // (num_nodes)
    ggnn_count       num_nodes;
    sort_pair*       workspace; // count a block
};

// G lanes a node, G >= count. The first lane of each id counts its visits; its rank is the number of ids with
// more, or as many and smaller.
template <int G>
GGNNI_KERNEL(32, THREADS) visits_small(const __grid_constant__ visit_job job)
{
    const int     lane = threadIdx.x % G;
    const int64_t num_nodes = size_of(job.num_nodes);
    for (int64_t tile = static_cast<int64_t>(blockIdx.x) * (THREADS / G); tile < num_nodes;
         tile += static_cast<int64_t>(gridDim.x) * (THREADS / G)) {
        const int64_t i = tile + threadIdx.x / G;
        ggnn_node     v = -1;
        int           visits = 0, rank = 0, distinct = 0;
        bool          first = true;
        if (i < num_nodes && lane < job.count) v = job.visited[i * job.count + lane];
        if (v < 0 || v == job.node[i]) first = false;
#pragma unroll 4 // all of them together take twice the registers
        for (int j = 0; j < G; j++) {
            const ggnn_node other = __shfl_sync(ALL_LANES, v, j, G);
            if (other == v && j < lane) first = false;
            visits += other == v;
        }
        if (!first) visits = 0;
#pragma unroll 4
        for (int j = 0; j < G; j++) {
            const ggnn_node other = __shfl_sync(ALL_LANES, v, j, G);
            const int       others = __shfl_sync(ALL_LANES, visits, j, G);
            rank += others > visits || (others == visits && other < v);
            distinct += others > 0;
        }
        __syncwarp(); // id may be visited: read before it is written
        if (i < num_nodes && lane == 0) job.taken[i] = distinct < job.top ? distinct : job.top;
        if (!first || rank >= job.top) continue;
        job.id[i * job.count + rank] = v;
        job.visits[i * job.count + rank] = static_cast<float>(visits);
    }
}

constexpr int32_t VISITS_SHARED = 1024; // pairs in shared memory

// A block a node: sorted by id; then the first visit of each id, by (visits descending, id), and behind these
// the other visits. SHARED: count <= VISITS_SHARED; else any, and the pairs are in the workspace.
template <bool SHARED> GGNNI_KERNEL(40, THREADS) visits_large(const __grid_constant__ visit_job job)
{
    __shared__ sort_pair own[SHARED ? VISITS_SHARED : 1];
    sort_pair* const     p = SHARED ? own : job.workspace + blockIdx.x * job.count;
    const team<THREADS> us;
    const int64_t       num_nodes = size_of(job.num_nodes);
    for (int64_t i = us.first; i < num_nodes; i += us.step) {
        int64_t kept = 0, distinct = 0;
        int     total;
#pragma unroll 1
        for (int64_t base = 0; base < job.count; base += THREADS) {
            const int64_t   t = base + us.lane;
            const ggnn_node v = t < job.count ? job.visited[i * job.count + t] : -1;
            const bool      in = v >= 0 && v != job.node[i];
            const int64_t   place = kept + us.rank(in, &total);
            if (in) p[place] = {static_cast<unsigned long long>(v), 0};
            kept += total;
        }
        sort_pairs(p, kept, us);
#pragma unroll 1
        for (int64_t base = 0; base < kept; base += THREADS) { // from: visits, at the first of each id
            const int64_t t = base + us.lane;
            const auto    key = t < kept ? p[t].key : NO_KEY;
            const bool    first = t < kept && (t == 0 || p[t - 1].key != key);
            const auto    equal = [&](int64_t other) { return p[other].key == key; };
            if (t < kept) p[t].from = first ? last_where(t, kept, equal) + 1 - t : 0;
            us.rank(first, &total);
            distinct += total;
        }
#pragma unroll 1
        for (int64_t t = us.lane; t < kept; t += THREADS) {
            const sort_pair a = p[t];
            p[t] = a.from ? sort_pair{NO_KEY - static_cast<unsigned long long>(a.from),
                                      static_cast<int64_t>(a.key)}
                          : sort_pair{NO_KEY, 0};
        }
        sort_pairs(p, kept, us);
        const int64_t taken = distinct < job.top ? distinct : job.top;
#pragma unroll 1
        for (int64_t t = us.lane; t < taken; t += THREADS) {
            job.id[i * job.count + t] = static_cast<ggnn_node>(p[t].from);
            job.visits[i * job.count + t] = static_cast<float>(NO_KEY - p[t].key);
        }
        if (us.lane == 0) job.taken[i] = taken;
    }
}

// ---- launches ------------------------------------------------------------------------

// Room of `size` pairs for each block that takes them from the workspace.
inline size_t pairs_bytes(int64_t size, int64_t rows)
{
    return static_cast<size_t>(least(rows, HEAVY_BLOCKS) * size) * sizeof(sort_pair);
}

inline cudaError_t launch_weighted(hop_job job, cudaStream_t stream)
{
    job.most.by = weighted_buffer(job.fanout);
    if (job.fanout >= 0 && job.fanout <= WARP) return launch_rows(weighted_small, THREADS, WARP, job, stream);
    if (job.most.by <= WEIGHTED_SHARED)
        return launch_rows(weighted_large<true>, THREADS, THREADS, job, stream);
    job.span = 1;
    const int64_t rows = least(job.num_dst.max, HEAVY_BLOCKS);
    return launch_tiles(weighted_large<false>, job.count ? some(rows) : rows, THREADS, stream, job);
}

// Of a hop's workspace: ids from its start, then visits and pairs at these bytes.
struct walk_memory {
    size_t visits, pairs, bytes;
};
inline walk_memory walk_memory_of(const ggnn_walks& how, int64_t max_nodes)
{
    const int32_t count = how.walks * how.length;
    const size_t  entries = static_cast<size_t>(max_nodes) * static_cast<size_t>(count);
    walk_memory   memory;
    memory.visits = entries * sizeof(ggnn_node);
    memory.pairs = (memory.visits + entries * sizeof(float) + 15) / 16 * 16;
    memory.bytes = memory.pairs + ggnn_cuda_walk_workspace_bytes(count, max_nodes);
    return memory;
}

// Walks, and each target's neighbours by visits, into the workspace; how many into count.
inline cudaError_t count_walks(const hop_job& hop, int64_t* count, cudaStream_t stream)
{
    const walk_memory memory = walk_memory_of(hop.walk, hop.num_dst.max);
    char* const       base = static_cast<char*>(hop.workspace);
    ggnn_node* const  id = reinterpret_cast<ggnn_node*>(base);
    float* const      visits = reinterpret_cast<float*>(base + memory.visits);
    const int32_t     entries = hop.walk.walks * hop.walk.length;
    const cudaError_t walked = ggnn_cuda_random_walk(id, &hop.g, &hop.walk, hop.rng, hop.hop, hop.target,
                                                     hop.num_dst, hop.status, stream);
    return first_error(walked, // before: an argument list has no order
                       ggnn_cuda_walk_neighbors(id, visits, count, id, entries, hop.fanout, hop.target,
                                                hop.num_dst, base + memory.pairs, stream));
}

// A thread a neighbour that count_walks may have left.
static GGNNI_KERNEL(48, THREADS, 5) place_walks(const __grid_constant__ hop_job job)
{
    const int64_t          count = static_cast<int64_t>(job.walk.walks) * job.walk.length;
    const ggnn_node* const id = static_cast<const ggnn_node*>(job.workspace);
    const float* const     visits = reinterpret_cast<const float*>(id + job.num_dst.max * count);
    for_spans<THREADS>(job, [&](int64_t first, int rows, const int64_t* at) {
#pragma unroll 1
        for (int64_t t = threadIdx.x; t < rows * job.most.by; t += THREADS) {
            const int64_t r = quotient(t, job.most), j = t - r * job.most.by, e = at[r] + j;
            if (e >= at[r + 1]) continue;
            job.id[e] = id[(first + r) * count + j];
            if (job.position) job.position[e] = -1;
            if (job.weight) job.weight[e] = visits[(first + r) * count + j];
        }
    });
}

// Edges that targets take, a thread each; a warp where what has weight is counted.
template <int T>
static GGNNI_KERNEL(32, THREADS)
    count_lists(const __grid_constant__ hop_job job, int64_t* count)
{
    const team<T> us;
    const int64_t num_dst = size_of(job.num_dst);
#pragma unroll 1
    for (int64_t i = us.first; i < num_dst; i += us.step) {
        const ggnn_list list = list_of(job.g, job.at, job.target[i], job.status);
        const int64_t   some = T == WARP ? count_weighted(job, list, us) : list.degree;
        if (us.lane == 0) count[i] = edges_taken(job, some);
    }
}

// A hop is two steps, with sums over tiles of the counts between them, or a scan into indptr.
// Edges of each target: count (num_dst), overwritten. Reads the graph's indptr alone, but for methods that
// weigh, which read the weights too, and that walk, which leave in the workspace what sample_hop copies.
inline cudaError_t count_hop(const hop_job& job, int64_t* count, cudaStream_t stream)
{
    const bool    by_warp = ggnn_method_has(job.method, GGNN_METHOD_WEIGHS) && job.fanout != 0;
    const int64_t tiles = tiles_of(job.num_dst.max, THREADS / (by_warp ? +WARP : 1));
    if (ggnn_method_has(job.method, GGNN_METHOD_WALKS)) return count_walks(job, count, stream);
    return launch_tiles(by_warp ? count_lists<WARP> : count_lists<1>, tiles, THREADS, stream, job, count);
}

inline cudaError_t sample_hop(const hop_job& job, cudaStream_t stream)
{
    const int32_t visits = job.walk.walks * job.walk.length;
    if (job.fanout == 0 && !ggnn_method_has(job.method, GGNN_METHOD_WALKS)) return cudaSuccess;
    switch (job.method) {
    case GGNN_FISHER_YATES:
    case GGNN_PATH_DOUBLING:
    case GGNN_REJECTION:
    case GGNN_RESERVOIR:
    case GGNN_REPLACEMENT: return launch_uniform(job, stream);
    case GGNN_WEIGHTED: return launch_weighted(job, stream);
    case GGNN_WALK:
        return launch_entries(place_walks, job.fanout < 0 ? visits : least(job.fanout, visits), job, stream);
    }
    return cudaErrorInvalidValue;
}

inline size_t hop_workspace_bytes(ggnn_method method, int32_t fanout, const ggnn_walks& walk, int64_t max_dst)
{
    if (method == GGNN_WALK) return walk_memory_of(ggnn_walks_or_default(walk), max_dst).bytes;
    if (method != GGNN_WEIGHTED || fanout <= GGNN_FANOUT_MAX) return 0;
    return pairs_bytes(weighted_buffer(fanout), max_dst);
}

} // namespace ggnni

size_t ggnn_cuda_sample_workspace_bytes(ggnn_method method, int32_t fanout, int64_t max_nodes)
{
    if (!ggnni_samples_lists(method) || max_nodes < 0) return 0;
    return ggnni::hop_workspace_bytes(method, fanout, ggnn_walks(), max_nodes);
}

cudaError_t ggnn_cuda_sample_lists(const ggnn_cuda_samples* out, const ggnn_graph* g, const ggnn_node* nodes,
                                   ggnn_count num_nodes, ggnn_method method, int32_t fanout,
                                   const ggnn_rng* rng, int32_t hop, void* workspace, int32_t* status,
                                   cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(out && ggnni::graph_given(g, ggnni::known(num_nodes)));
    GGNNI_CUDA_REQUIRE(ggnni::keys_given(rng, hop) && ggnni::ids_given(nodes, num_nodes));
    GGNNI_CUDA_REQUIRE(ggnni_samples_lists(method) && ggnni::can_count(g->traffic, g->at));
    GGNNI_CUDA_REQUIRE(workspace || !ggnn_cuda_sample_workspace_bytes(method, fanout, num_nodes.max));
    ggnni::hop_job job = ggnni::hop_job_of(*g, rng, hop, nodes, num_nodes, status);
    cudaError_t    counted = cudaSuccess;
    job.method = method;
    job.fanout = fanout;
    job.indptr = const_cast<int64_t*>(out->indptr); // without counts it is read
    job.id = out->id;
    job.position = out->position;
    job.weight = out->weight;
    job.max_edges = INT64_MAX;
    job.workspace = workspace;
    if (out->count) counted = ggnni::count_hop(job, out->count, stream);
    if (!out->indptr) return counted;
    const ggnni::node_list lists = {nodes, num_nodes, g->num_nodes};
    counted = ggnni::first_error(counted, ggnni::sample_hop(job, stream));
    return ggnni::first_error(counted, ggnni::count_traffic(lists, num_nodes.max, g->at, g->traffic,
                                                            ggnni::ALL_TIERS, stream));
}

cudaError_t ggnn_cuda_random_walk(ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* how,
                                  const ggnn_rng* rng, int32_t hop, const ggnn_node* nodes,
                                  ggnn_count num_nodes, int32_t* status, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(how && ggnni::graph_given(g, ggnni::known(num_nodes)));
    GGNNI_CUDA_REQUIRE(ggnni::keys_given(rng, hop) && ggnni::ids_given(nodes, num_nodes));
    GGNNI_CUDA_REQUIRE(ggnn_walks_valid(ggnn_walks_or_default(*how)) && ggnni::can_count(g->traffic, g->at));
    GGNNI_CUDA_REQUIRE(visited || ggnni::known(num_nodes) == 0);
    ggnni::hop_job job = ggnni::hop_job_of(*g, rng, hop, nodes, num_nodes, status);
    job.walk = ggnn_walks_or_default(*how);
    job.most = ggnni::divide_by(job.walk.walks);
    job.workspace = visited;
    return ggnni::launch_items(g->traffic ? ggnni::random_walks<true> : ggnni::random_walks<false>,
                               num_nodes.max * job.walk.walks, stream, job);
}

size_t ggnn_cuda_walk_workspace_bytes(int32_t count, int64_t max_nodes)
{
    return count <= ggnni::VISITS_SHARED || max_nodes < 0 ? 0 : ggnni::pairs_bytes(count, max_nodes);
}

cudaError_t ggnn_cuda_walk_neighbors(ggnn_node* id, float* visits, int64_t* taken, const ggnn_node* visited,
                                     int32_t count, int64_t top, const ggnn_node* nodes, ggnn_count num_nodes,
                                     void* workspace, cudaStream_t stream)
{
    using namespace ggnni;
    const bool any = known(num_nodes) > 0;
    GGNNI_CUDA_REQUIRE(count >= 0 && ids_given(nodes, num_nodes) && (taken || !any));
    GGNNI_CUDA_REQUIRE(!any || count == 0 || (id && visits && visited));
    GGNNI_CUDA_REQUIRE(workspace || !ggnn_cuda_walk_workspace_bytes(count, num_nodes.max));
    const int64_t   most = top < 0 ? count : least(top, count);
    const visit_job job = {id,   visits, taken,     visited, count,
                           most, nodes,  num_nodes, static_cast<sort_pair*>(workspace)};
    const auto      start = [&](void (*kernel)(visit_job), int threads_per_node, int64_t at_once) {
        const int64_t tiles = tiles_of(least(num_nodes.max, at_once), THREADS / threads_per_node);
        return launch_tiles(kernel, tiles, THREADS, stream, job);
    };
    if (count <= 8) return start(visits_small<8>, 8, INT64_MAX);
    if (count <= 16) return start(visits_small<16>, 16, INT64_MAX);
    if (count <= 32) return start(visits_small<32>, 32, INT64_MAX);
    if (count <= VISITS_SHARED) return start(visits_large<true>, THREADS, INT64_MAX);
    return start(visits_large<false>, THREADS, HEAVY_BLOCKS);
}

// =============================================================================
// ==== [5i] UNIQUE
// =============================================================================
// Append-unique in four steps:
//   insert    an input's id gets a slot of the table, which keeps the least position of an input of that id
//   flag      an input is the first of its id where the slot holds its position: a bit an input, a sum a tile
//   number    firsts get numbers by rank: sums of earlier tiles, then bits; the slot takes the number
//   relabel   each input gets the number that its slot holds
// Each is a kernel; but of a mini-batch the sampling kernels insert, and one relabel ends it.
// A slot's value is a number, < 2^31, or 2^31 + a position: a position never displaces a number. Ids are
// looked up once: what the later kernels read are slots. Integer atomics only. An id that got no number, for
// want of room, keeps its position and may get none in later hops either.

namespace ggnni {

// One append, as its kernels see it.
struct unique_job {
    ggnn_cuda_unique seen;
    ggnn_node*       list;     // (limit)  this batch's ids so far, new ones go behind
    int64_t          limit;    //          at most max_ids
    uint32_t*        place;    // (n)      slot of each input; may be the memory of id where that is as wide
    const ggnn_node* id;       // (n)
    ggnn_count       n;        //
    bool             begins;   //          this append begins a batch: n becomes given, n.max at most
    ggnn_count       given;    //
    uint32_t*        flag;     // (n bits, up to a multiple of THREADS)
    int64_t*         tile_sum; // (TILES)
    int              tile_bits;
    int64_t*         next_sum; // (TILES)  zeroed on the way, for add_to_tiles; or NULL
    int32_t*         repeats;  // (limit)  overwritten: 0 for every id in list; or NULL
    int64_t*         length;   // (1)      ids in list after; or NULL
    int32_t*         status;   //
};

__device__ inline uint32_t slot_value(const ggnn_cuda_unique& seen, uint32_t slot)
{
    return *(seen.kind == GGNN_UNIQUE_DIRECT ? reinterpret_cast<const uint32_t*>(seen.entry + slot)
                                             : &seen.slot[slot].value);
}

// ---- insert: a thread an input -------------------------------------------------

// The key that the slot has after trying to give it this one: free, when the caller's.
__device__ inline ggnn_node claim(ggnn_node* key, ggnn_node id)
{
#ifdef GGNN_NODE64
    return static_cast<ggnn_node>(
        atomicCAS(reinterpret_cast<unsigned long long*>(key), ~0ull, static_cast<unsigned long long>(id)));
#else
    return atomicCAS(key, -1, id);
#endif
}

// The slot of one id, that G lanes look for together: bucket after bucket, first a slot that has the id, then
// the first free one. Keys come and never go, and every group tries a bucket's free slots in ascending order,
// so an id cannot get two of them. What a lane reads may be out of date: claim is what decides.
template <int G> __device__ uint32_t find_slot(const ggnn_cuda_unique& seen, ggnn_node id)
{
    uint32_t lane = threadIdx.x % WARP, first = lane / G * G, slots = static_cast<uint32_t>(seen.mask) + 1;
    uint32_t group = G == WARP ? ALL_LANES : ((1u << G % WARP) - 1) << first;
    uint32_t at = static_cast<uint32_t>(ggnn_hash(id, seen.mask)) / G * G;
    for (uint32_t looked = 0; looked < slots; looked += G, at = (at + G) & (slots - 1)) {
        ggnn_node* key = &seen.slot[at + (lane - first)].key;
        ggnn_node  was = __ldcv(key);
        uint32_t   lanes = was == id ? group : 0;
        if (G > 1) lanes = __ballot_sync(group, was == id);
        if (lanes) return at + lowest(lanes) - first;
        lanes = was == -1 ? group : 0;
        if (G > 1) lanes = __ballot_sync(group, was == -1);
        for (; lanes; lanes &= lanes - 1) {
            uint32_t turn = lowest(lanes);
            if (lane == turn) was = claim(key, id);
            ggnn_node now = G > 1 ? __shfl_sync(group, was, static_cast<int>(turn)) : was;
            if (now == -1 || now == id) return at + turn - first;
        }
    }
    return NOWHERE;
}

__device__ inline uint32_t insert_direct(const ggnn_cuda_unique& seen, uint32_t stamp, ggnn_node id,
                                         uint32_t value)
{
    if (id < 0) return NOWHERE;
    atomicMin(&seen.entry[id], static_cast<unsigned long long>(~stamp) << 32 | value);
    return static_cast<uint32_t>(id);
}

// Each lane's id in turn, by the whole group; each lane then puts its own position.
template <int G> __device__ uint32_t insert_hash(const ggnn_cuda_unique& seen, ggnn_node own, uint32_t value)
{
    unsigned lane = threadIdx.x % WARP, first = lane / G * G;
    unsigned group = G == WARP ? ALL_LANES : ((1u << G % WARP) - 1) << first;
    uint32_t mine = NOWHERE;
#pragma unroll 1
    for (unsigned turn = 0; turn < G; turn++) {
        ggnn_node id = G > 1 ? __shfl_sync(group, own, static_cast<int>(first + turn)) : own;
        uint32_t  slot = id < 0 ? NOWHERE : find_slot<G>(seen, id);
        if (lane == first + turn) mine = slot;
    }
    if (mine != NOWHERE) atomicMin(&seen.slot[mine].value, value);
    return mine;
}

// By one lane, whatever the others do: what a sampling kernel calls.
__device__ inline uint32_t insert_id(const ggnn_cuda_unique& seen, ggnn_node id, uint32_t value)
{
    if (seen.kind == GGNN_UNIQUE_DIRECT) return insert_direct(seen, seen.state->stamp, id, value);
    return insert_hash<1>(seen, id, value);
}

// Input e, in range: node 0 in place of what is not.
__device__ inline ggnn_node checked_id(const unique_job& job, uint32_t e)
{
    ggnn_node id = job.id[e];
    if (id >= 0 && id < job.seen.num_nodes) return id;
    report(job.status, GGNN_ERROR_ID);
    return job.seen.num_nodes > 0 ? 0 : -1;
}

// The first append of a batch begins it too, which saves a launch. How many ids it has. A stamp is that of
// the batch before plus one, and entries get its complement, so that those of earlier batches are greater
// than any of this one. What is written here is read by later kernels alone; last is not written, so that all
// blocks come to the same stamp.
__device__ inline uint32_t start_batch(const unique_job& job, uint32_t stamp)
{
    const int64_t given = job.given.n ? *job.given.n : job.given.max;
    const int64_t n = given < 0 ? 0 : least(given, job.n.max);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        if (n != given) report(job.status, GGNN_ERROR_CAPACITY);
        job.seen.state->stamp = stamp;
        job.seen.state->count = 0;
        *job.n.n = n;
    }
    return static_cast<uint32_t>(n);
}

// G = 0: a direct map. Lanes without an input have id -1: warps stay whole. HUBS: of a warp's equal ids the
// lowest lane's, whose position is the least, is inserted, and the others take its slot: an id of which there
// are many costs a warp one atomic, not 32 at one address. Once in 2^32 batches, when stamps start again from
// 0, block 0 clears the map and then inserts all by itself.
template <int G, bool HUBS> GGNNI_KERNEL(32, THREADS) insert_ids(unique_job job)
{
    uint32_t n, stamp, stride = gridDim.x * THREADS, lane = threadIdx.x % WARP, leads = lane;
    stamp = job.begins ? job.seen.state->last + 1 : job.seen.state->stamp;
    n = job.begins ? start_batch(job, stamp) : static_cast<uint32_t>(size_of(job.n));
    if (G == 0 && job.begins && stamp == 0) {
        if (blockIdx.x > 0) return;
        for (int64_t v = threadIdx.x; v < job.seen.num_nodes; v += THREADS) job.seen.entry[v] = ~0ull;
        __syncthreads();
        stride = THREADS;
    }
    for (uint32_t first = blockIdx.x * THREADS; first < n; first += stride) {
        uint32_t  e = first + threadIdx.x, slot;
        ggnn_node id = e < n ? checked_id(job, e) : -1;
        if constexpr (HUBS) leads = lowest(__match_any_sync(ALL_LANES, id));
        if (leads != lane) id = -1;
        if constexpr (G == 0) slot = insert_direct(job.seen, stamp, id, CANDIDATE + e);
        else slot = insert_hash<G>(job.seen, id, CANDIDATE + e);
        if constexpr (HUBS) slot = __shfl_sync(ALL_LANES, slot, static_cast<int>(leads));
        if (e >= n) continue;
        job.place[e] = slot;
        if (slot == NOWHERE) report(job.status, GGNN_ERROR_CAPACITY);
    }
}

// ---- flag: IDS inputs a thread, whose loads are under way together; number: a thread an input ------------

enum { IDS = 4, IDS_A_BLOCK = IDS * THREADS };

static GGNNI_KERNEL(32, THREADS) flag_firsts(unique_job job)
{
    int64_t n = size_of(job.n), thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (thread == 0) { // nobody reads these two here
        job.seen.state->base = job.seen.state->count;
        job.seen.state->last = job.seen.state->stamp;
    }
    for (int64_t t = thread; job.next_sum && t < TILES; t += static_cast<int64_t>(gridDim.x) * THREADS)
        job.next_sum[t] = 0;
    write_tile_sums<IDS_A_BLOCK>(job.tile_sum, job.tile_bits, n, [&](int64_t first) {
        uint32_t slot[IDS], value[IDS];
        int      firsts = 0;
        for (int k = 0; k < IDS; k++)
            slot[k] = first + k * THREADS < n ? job.place[first + k * THREADS] : NOWHERE;
        for (int k = 0; k < IDS; k++) value[k] = slot[k] == NOWHERE ? 0 : slot_value(job.seen, slot[k]);
        for (int k = 0; k < IDS; k++) {
            const int64_t  e = first + k * THREADS;
            const bool     is_first = value[k] == CANDIDATE + static_cast<uint32_t>(e);
            const unsigned bits = __ballot_sync(ALL_LANES, is_first);
            if (threadIdx.x % WARP == 0 && e < n) job.flag[e / WARP] = bits;
            firsts += is_first;
        }
        return firsts;
    });
}

// No other thread has this slot: an id has one first. The id, or -1 where it gets no number.
__device__ inline ggnn_node give_number(const unique_job& job, uint32_t stamp, uint32_t slot, int64_t number)
{
    ggnn_node id = static_cast<ggnn_node>(slot);
    if (number >= job.limit) return -1;
    if (job.seen.kind == GGNN_UNIQUE_DIRECT) {
        job.seen.entry[slot] = static_cast<unsigned long long>(~stamp) << 32 | static_cast<uint32_t>(number);
    } else {
        id = job.seen.slot[slot].key;
        job.seen.slot[slot].value = static_cast<uint32_t>(number);
    }
    job.list[number] = id;
    if (job.repeats) job.repeats[number] = 0;
    return id;
}

struct no_next { // what is done with every id of the list once it has its number: nothing
    static constexpr bool COUNTS = false;
    __device__ void       add(int64_t, int64_t, ggnn_node) const {}
};

// A block has THREADS inputs at a time, 8 words of bits: lane l of each warp looks at word l % 8. What is
// read here is under way while the sums are. The thread of the last input knows how many there are.
// next.add(first, i, id) is called by whole warps, for number i's id, or -1; i >= first.
template <class Next>
GGNNI_KERNEL(48, THREADS) number_firsts(unique_job job, const __grid_constant__ Next next)
{
    constexpr int  WORDS = THREADS / WARP;
    const int64_t  n = size_of(job.n), base = job.seen.state->base;
    const uint32_t stamp = job.seen.state->stamp, lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const int64_t  again = Next::COUNTS || job.repeats ? base : 0;
    // Ids from before: they are in the next frontier too. A thread an id.
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS; first < again;
         first += static_cast<int64_t>(gridDim.x) * THREADS) {
        const int64_t i = first + threadIdx.x;
        if (job.repeats && i < base) job.repeats[i] = 0;
        if constexpr (Next::COUNTS) next.add(i - threadIdx.x % WARP, i, i < base ? job.list[i] : -1);
    }
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS; first == 0 || first < n;
         first += static_cast<int64_t>(gridDim.x) * THREADS) {
        const int64_t  e = first + threadIdx.x, word = first / WARP + lane % WORDS;
        const uint32_t slot = e < n ? job.place[e] : NOWHERE, bits = word * WARP < n ? job.flag[word] : 0;
        int64_t        number = base + sum_before(job.tile_sum, job.tile_bits - 5, first / WARP,
                                                  [&](int64_t w) { return __popc(job.flag[w]); });
        const uint32_t own = __shfl_sync(ALL_LANES, bits, static_cast<int>(warp));
        int            before = lane % WORDS < warp ? __popc(bits) : 0;
        for (int half = WORDS / 2; half; half /= 2) before += __shfl_xor_sync(ALL_LANES, before, half);
        number += before; // the warp's first
        const int64_t mine = number + __popc(own & ((1u << lane) - 1));
        const bool    is_first = own >> lane & 1;
        ggnn_node     id = is_first ? give_number(job, stamp, slot, mine) : -1;
        if constexpr (Next::COUNTS) next.add(number, mine, id);
        if (threadIdx.x == THREADS - 1 && first + THREADS >= n) {
            const int64_t all = mine + is_first;
            if (all > job.limit) report(job.status, GGNN_ERROR_CAPACITY);
            job.seen.state->count = least(all, job.limit);
            if (job.length) *job.length = least(all, job.limit);
        }
    }
}

// ---- relabel: a thread an input, of several appends after the last -------------
// Numbers are final once given, so all hops of a batch are relabelled at once.

struct relabel_part {
    int32_t*       local;    // (n)        in: place; out: local ids
    ggnn_count     n;        //
    const int64_t* length;   //            ids of list that this part may refer to
    ggnn_node*     neighbor; // (n)        list[0] where the id got no number; or NULL
    int32_t*       repeats;  // (length)   added to; or NULL
};

struct relabel_job {
    ggnn_cuda_unique seen;
    const ggnn_node* list;
    int32_t          parts;
    relabel_part     part[GGNN_HOPS_MAX + 1];
};

static GGNNI_KERNEL(32, THREADS) relabel(const __grid_constant__ relabel_job job)
{
    for (int32_t p = 0; p < job.parts; p++) {
        const relabel_part& part = job.part[p];
        int64_t             n = size_of(part.n), length = *part.length;
        for_items(n, [&](int64_t e) {
            uint32_t slot = static_cast<uint32_t>(part.local[e]);
            uint32_t number = slot == NOWHERE ? NOWHERE : slot_value(job.seen, slot);
            bool     fits = number < length;
            int32_t  local = fits ? static_cast<int32_t>(number) : 0;
            part.local[e] = local;
            if (!fits && part.neighbor) part.neighbor[e] = job.list[0];
            if (part.repeats) atomicAdd(&part.repeats[local], 1);
        });
    }
}

// ---- find: a thread an id --------------------------------------------------------

// Its slot's value, as find_slot would find it, but nothing is claimed; NOWHERE: it has none.
__device__ inline uint32_t value_of(const ggnn_cuda_unique& seen, ggnn_node id)
{
    if (seen.kind == GGNN_UNIQUE_DIRECT) {
        const unsigned long long entry = seen.entry[id];
        const bool               now = static_cast<uint32_t>(entry >> 32) == ~seen.state->stamp;
        return now ? static_cast<uint32_t>(entry) : NOWHERE;
    }
    const uint32_t slots = static_cast<uint32_t>(seen.mask) + 1, group = static_cast<uint32_t>(seen.group);
    uint32_t       at = static_cast<uint32_t>(ggnn_hash(id, seen.mask)) / group * group;
    for (uint32_t looked = 0; looked < slots; looked++, at = (at + 1) & (slots - 1)) {
        if (seen.slot[at].key == id) return seen.slot[at].value;
        if (seen.slot[at].key == -1) break;
    }
    return NOWHERE;
}

// An id that was inserted and got no number keeps a position: it is not in the batch.
static GGNNI_KERNEL(32, THREADS)
    find_ids(ggnn_cuda_unique seen, int32_t* local, const ggnn_node* id, ggnn_count n)
{
    for_items(size_of(n), [&](int64_t i) {
        const ggnn_node v = id[i];
        uint32_t        value = NOWHERE;
        if (v >= 0 && v < seen.num_nodes) value = value_of(seen, v);
        local[i] = value < CANDIDATE ? static_cast<int32_t>(value) : -1;
    });
}

// ---- launches --------------------------------------------------------------------

inline int64_t flag_words(int64_t max_n) { return tiles_of(max_n, THREADS) * (THREADS / WARP); }

template <bool HUBS> inline cudaError_t launch_insert(const unique_job& job, cudaStream_t stream)
{
    const int64_t ids = some(job.n.max);
    if (job.seen.kind == GGNN_UNIQUE_DIRECT) return launch_items(insert_ids<0, HUBS>, ids, stream, job);
    if (job.seen.group == 32) return launch_items(insert_ids<32, HUBS>, ids, stream, job);
    if (job.seen.group == 8) return launch_items(insert_ids<8, HUBS>, ids, stream, job);
    if (job.seen.group == 1) return launch_items(insert_ids<1, HUBS>, ids, stream, job);
    return cudaErrorInvalidValue;
}

// All but relabel. inserted: ids have been put into the table.
template <class Next>
inline cudaError_t number_ids(unique_job job, bool inserted, const Next& next, cudaStream_t stream)
{
    job.tile_bits = tile_bits_of(job.n.max, IDS_A_BLOCK);
    cudaError_t error = cudaSuccess;
    if (!inserted && job.seen.hubs) error = launch_insert<true>(job, stream);
    else if (!inserted) error = launch_insert<false>(job, stream);
    if (error == cudaSuccess) error = launch_items(flag_firsts, some(tiles_of(job.n.max, IDS)), stream, job);
    if (error == cudaSuccess) error = launch_items(number_firsts<Next>, some(job.n.max), stream, job, next);
    return error;
}

inline size_t carve_unique(ggnn_cuda_unique* seen, ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids,
                           char* base)
{
    size_t  used = 0;
    int64_t slots = WARP;
    *seen = {};
    seen->kind = kind;
    seen->group = GGNN_CUDA_UNIQUE_GROUP;
    seen->num_nodes = num_nodes;
    seen->max_ids = least(max_ids, num_nodes);
    while (slots < 2 * seen->max_ids && slots < INT64_C(1) << 31) slots *= 2; // a place is less than NOWHERE
    seen->mask = static_cast<uint64_t>(slots) - 1;
    seen->state = carve<ggnn_cuda_unique_state>(base, &used, 1);
    if (kind == GGNN_UNIQUE_DIRECT) seen->entry = carve<unsigned long long>(base, &used, num_nodes);
    else seen->slot = carve<ggnn_cuda_unique_slot>(base, &used, slots);
    return used;
}

inline cudaError_t clear_table(const ggnn_cuda_unique* seen, cudaStream_t stream)
{
    if (seen->kind == GGNN_UNIQUE_HASH)
        return cudaMemsetAsync(seen->slot, 0xff, (seen->mask + 1) * sizeof *seen->slot, stream);
    return cudaMemsetAsync(seen->entry, 0xff, static_cast<size_t>(seen->num_nodes) * sizeof *seen->entry,
                           stream);
}

inline cudaError_t clear_unique(const ggnn_cuda_unique* seen, cudaStream_t stream)
{
    return first_error(cudaMemsetAsync(seen->state, 0, sizeof *seen->state, stream),
                       clear_table(seen, stream));
}

} // namespace ggnni

size_t ggnn_cuda_unique_bytes(ggnn_unique_kind kind, int64_t num_nodes, int64_t max_ids)
{
    ggnn_cuda_unique unused;
    if (num_nodes < 0 || max_ids < 0 || max_ids > INT32_MAX) return 0;
    if (kind != GGNN_UNIQUE_DIRECT && kind != GGNN_UNIQUE_HASH) return 0;
    if (kind == GGNN_UNIQUE_DIRECT && num_nodes >= ggnni::NOWHERE) return 0;
    return ggnni::carve_unique(&unused, kind, num_nodes, max_ids, nullptr);
}

cudaError_t ggnn_cuda_unique_init(ggnn_cuda_unique* seen, ggnn_unique_kind kind, int64_t num_nodes,
                                  int64_t max_ids, void* memory, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(seen && memory && ggnn_cuda_unique_bytes(kind, num_nodes, max_ids));
    ggnni::carve_unique(seen, kind, num_nodes, max_ids, static_cast<char*>(memory));
    return ggnni::clear_unique(seen, stream);
}

cudaError_t ggnn_cuda_unique_begin(const ggnn_cuda_unique* seen, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(seen);
    const bool        hash = seen->kind == GGNN_UNIQUE_HASH;
    const cudaError_t error = hash ? ggnni::clear_table(seen, stream) : cudaSuccess;
    ggnni::unique_job job = {}; // which begins with no id
    job.seen = *seen;
    job.n.n = &seen->state->count;
    job.begins = true;
    return error != cudaSuccess ? error : ggnni::launch_insert<false>(job, stream);
}

size_t ggnn_cuda_unique_workspace_bytes(int64_t max_n)
{
    if (max_n < 0 || max_n > INT32_MAX) return 0;
    return ggnni::round_up(ggnni::TILES * sizeof(int64_t)) + ggnni::round_up(static_cast<size_t>(max_n) * 4) +
           ggnni::round_up(static_cast<size_t>(ggnni::flag_words(max_n)) * 4);
}

cudaError_t ggnn_cuda_unique_append(const ggnn_cuda_unique* seen, ggnn_node* list, int32_t* local,
                                    const ggnn_node* id, ggnn_count n, int32_t* status, void* workspace,
                                    cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(seen && workspace && n.max <= INT32_MAX && ggnni::ids_given(id, n));
    GGNNI_CUDA_REQUIRE(list || seen->max_ids == 0 || ggnni::known(n) == 0);
    size_t            used = 0;
    char*             base = static_cast<char*>(workspace);
    ggnni::unique_job job = {};
    job.seen = *seen;
    job.list = list;
    job.limit = seen->max_ids;
    job.id = id;
    job.n = n;
    job.status = status;
    job.tile_sum = ggnni::carve<int64_t>(base, &used, ggnni::TILES);
    job.flag = ggnni::carve<uint32_t>(base, &used, ggnni::flag_words(n.max));
    job.place = local ? reinterpret_cast<uint32_t*>(local) : ggnni::carve<uint32_t>(base, &used, n.max);
    cudaError_t error = ggnni::number_ids(job, false, ggnni::no_next(), stream);
    if (!local || error != cudaSuccess) return error;
    ggnni::relabel_job after = {};
    after.seen = *seen;
    after.list = list;
    after.parts = 1;
    after.part[0] = {local, n, &seen->state->count, nullptr, nullptr};
    return ggnni::launch_items(ggnni::relabel, ggnni::some(n.max), stream, after);
}

cudaError_t ggnn_cuda_unique_find(const ggnn_cuda_unique* seen, int32_t* local, const ggnn_node* id,
                                  ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(seen && ids_given(id, n) && (local || known(n) == 0));
    return launch_items(find_ids, n.max, stream, *seen, local, id, n);
}

// =============================================================================
// ==== [6i] BLOCK
// =============================================================================
// A mini-batch. The seeds: insert, flag, number, of [5i]. Per hop: a sampling kernel of [4i], flag, number;
// of a last one that is global the sampling kernel is all there is to it. One relabel after all hops. What
// makes a hop so few: numbering counts what the next hop's targets will take, the ids from before and the new
// ones, with sums over tiles of them; the sampling kernel finds from these where its edges go; and it inserts
// what it takes. The counts of methods that weigh or walk are kernels of their own; of all neighbours offsets
// come first (fanout 0: offsets in place of a sample).

namespace ggnni {

struct batch_state {
    int64_t seeds, edges[GGNN_HOPS_MAX], length[GGNN_HOPS_MAX + 1]; // length[h]: ids before hop h
    int64_t tile_sum[TILES], row_sum[TILES]; // of first inputs; of edges that targets take
    int32_t status;
};

// What a batch has on the device beside its arrays: at b->workspace.
struct batch_scratch {
    batch_state* state;
    uint32_t*    flag;   // (most seeds or edges) bits, of [5i]
    int64_t*     count;  // (most targets) edges that each takes
    char*        sample; // of hop_workspace_bytes
};

// A batch whose bounds are known; *used becomes where `sample` begins.
inline batch_scratch scratch_of(const ggnn_batch* b, size_t* used)
{
    char*         base = static_cast<char*>(b->workspace);
    int64_t       inputs = b->num_seeds.max, targets = 0;
    batch_scratch scratch = {carve<batch_state>(base, used, 1), nullptr, nullptr, nullptr};
    for (const ggnn_block& hop : b->hop) {
        inputs = hop.num_edges.max > inputs ? hop.num_edges.max : inputs;
        targets = hop.num_dst.max > targets ? hop.num_dst.max : targets;
    }
    scratch.flag = carve<uint32_t>(base, used, flag_words(inputs));
    scratch.count = carve<int64_t>(base, used, targets);
    scratch.sample = base ? base + *used : nullptr;
    return scratch;
}

// ---- layout ------------------------------------------------------------------

// No list is longer than all edges: a greater fanout asks for no more, but with replacement.
inline int32_t fanout_of(const ggnn_batch* b, int32_t h)
{
    if (ggnn_method_has(b->how.method, GGNN_METHOD_REPEATS)) return b->how.fanout[h];
    return static_cast<int32_t>(least(b->how.fanout[h], b->num_edges));
}

// A batch whose bounds are known. A global hop has no sources but its targets, and shares their count. The
// table comes last.
inline size_t carve_batch(ggnn_cuda_batch* b, char* base)
{
    const ggnn_sampling* how = &b->how;
    size_t               used = 0, sample = 0;
    b->workspace = base;
    batch_scratch scratch = scratch_of(b, &used);
    for (int32_t h = 0; h < how->num_hops; h++) {
        size_t bytes = hop_workspace_bytes(how->method, fanout_of(b, h), how->walk, b->hop[h].num_dst.max);
        sample = bytes > sample ? bytes : sample;
    }
    carve<char>(base, &used, static_cast<int64_t>(sample));
    b->id = carve<ggnn_node>(base, &used, b->max_ids);
    b->seed_local = carve<int32_t>(base, &used, b->num_seeds.max);
    for (int32_t h = 0; h < how->num_hops; h++)
        used = ggnni_carve_hop(&b->hop[h], how, h, UNIT, base, used);
    if (!b->shares)
        used += carve_unique(&b->table, ggnn_unique_choose(b->num_nodes), b->num_nodes, b->max_ids,
                             base ? base + used : nullptr);
    if (!base) return used;
    b->status = &scratch.state->status;
    b->num_seeds.n = &scratch.state->seeds;
    for (int32_t h = 0; h < how->num_hops; h++) {
        b->hop[h].num_dst.n = &scratch.state->length[h];
        b->hop[h].num_src.n = &scratch.state->length[ggnni_is_global(how, h) ? h : h + 1];
        b->hop[h].num_edges.n = &scratch.state->edges[h];
        b->hop[h].id = b->id;
    }
    return used;
}

// ---- edges that targets take ------------------------------------------------------

// Counts of a hop by numbering the ids that are its targets. PLAIN: of a graph in one piece.
template <bool PLAIN> struct next_hop {
    static constexpr bool COUNTS = true;
    hop_job               job;
    int64_t *             count, *sum; // of job, to be written; sum is 0

    __device__ void add(int64_t first, int64_t i, ggnn_node id) const
    {
        int64_t mine = 0;
        if (id >= 0) count[i] = mine = edges_taken(job, list_of<PLAIN>(job.g, job.at, id, job.status).degree);
        add_to_tiles(sum, job.tile_bits, first, i, mine);
    }
};

// next_hop's counts in a kernel of their own: a block a tile of targets. counted: count is filled already.
static GGNNI_KERNEL(32, THREADS)
    count_edges(const __grid_constant__ hop_job job, int64_t* count, int64_t* sum, bool counted)
{
    int64_t n = size_of(job.num_dst);
    write_tile_sums(sum, job.tile_bits, n, [&](int64_t i) {
        if (i >= n) return INT64_C(0);
        if (!counted) count[i] = edges_taken(job, list_of(job.g, job.at, job.target[i], job.status).degree);
        return count[i];
    });
}

// ---- counts to offsets -----------------------------------------------------------

// What a sampling kernel does before it samples.
static GGNNI_KERNEL(40, THREADS) place_rows(const __grid_constant__ hop_job job)
{
    __shared__ span_memory<THREADS> memory;
    const int64_t                   n = size_of(job.num_dst);
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * job.span; first == 0 || first < n;
         first += static_cast<int64_t>(gridDim.x) * job.span)
        place_span<THREADS>(memory, job, first, n);
}

// ---- the chain ------------------------------------------------------------------

// Whether g is of the size that the batch was planned for.
inline bool fits(const ggnn_batch* b, const ggnn_graph* g)
{
    return b->num_nodes == g->num_nodes && b->num_edges == g->num_edges;
}

inline hop_job job_of_hop(const ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng, int32_t h,
                          const batch_scratch& scratch)
{
    const ggnn_block* hop = &b->hop[h];
    hop_job           job = hop_job_of(*g, rng, b->how.first_hop + h, b->id, hop->num_dst, b->status);
    job.method = b->how.method;
    job.fanout = fanout_of(b, h);
    job.indptr = hop->indptr;
    job.count = scratch.count;
    job.tile_sum = scratch.state->row_sum;
    job.tile_bits = tile_bits_of(hop->num_dst.max);
    job.total = hop->num_edges.n;
    job.position = hop->position;
    job.weight = hop->weight;
    job.max_edges = hop->num_edges.max;
    job.walk = b->how.walk;
    job.workspace = scratch.sample;
    job.seen = b->table;
    job.id = hop->neighbor ? hop->neighbor : reinterpret_cast<ggnn_node*>(hop->indices); // to be renumbered
    if (b->table.kind == GGNN_UNIQUE_DIRECT || b->table.group == 1)
        job.place = reinterpret_cast<uint32_t*>(hop->indices);
    return job;
}

inline bool counts_alone(ggnn_method method) // by kernels of its own: the degree does not tell
{
    return ggnn_method_has(method, GGNN_METHOD_WEIGHS | GGNN_METHOD_WALKS);
}

// Numbers what job lists, the targets of hop h, and counts what they take of g there. g NULL: a step called
// by itself.
inline cudaError_t number_targets(const ggnn_cuda_batch* b, const ggnn_graph* g, int32_t h, unique_job job,
                                  bool inserted, const batch_scratch& scratch, cudaStream_t stream)
{
    job.seen = b->table;
    job.list = b->id;
    job.limit = least(b->table.max_ids, h > 0 ? b->hop[h - 1].num_src.max : b->hop[0].num_dst.max);
    job.flag = scratch.flag;
    job.tile_sum = scratch.state->tile_sum;
    job.length = &scratch.state->length[h];
    job.status = b->status;
    if (!g || h == b->how.num_hops || counts_alone(b->how.method))
        return number_ids(job, inserted, no_next(), stream);
    const hop_job next = job_of_hop(b, g, nullptr, h, scratch);
    job.next_sum = scratch.state->row_sum;
    if (g->part) return number_ids(job, inserted, next_hop<false>{next, scratch.count, job.next_sum}, stream);
    return number_ids(job, inserted, next_hop<true>{next, scratch.count, job.next_sum}, stream);
}

// g NULL: a step called by itself.
inline cudaError_t number_seeds(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_node* seeds,
                                ggnn_count num_seeds, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(b && b->workspace && ids_given(seeds, num_seeds));
    GGNNI_CUDA_REQUIRE(!g || (fits(b, g) && graph_given(g, known(num_seeds))));
    GGNNI_CUDA_REQUIRE(num_seeds.n || num_seeds.max <= b->num_seeds.max);
    size_t        used = 0;
    batch_scratch scratch = scratch_of(b, &used);
    unique_job    job = {};
    b->num_hops = 0;
    job.place = reinterpret_cast<uint32_t*>(b->seed_local);
    job.id = seeds;
    job.n = b->num_seeds;
    job.begins = true;
    job.given = num_seeds;
    cudaError_t error = b->table.kind == GGNN_UNIQUE_HASH ? clear_table(&b->table, stream) : cudaSuccess;
    if (error != cudaSuccess) return error;
    return number_targets(b, g, 0, job, false, scratch, stream);
}

// indptr, and the sample itself. counted: numbering the targets has counted what they take.
inline cudaError_t sample_edges(hop_job job, bool counted, const batch_scratch& scratch, cudaStream_t stream)
{
    const bool    alone = counts_alone(job.method), walks = ggnn_method_has(job.method, GGNN_METHOD_WALKS);
    const bool    places = walks || job.fanout > 0 || (alone && job.fanout < 0);
    cudaError_t   error = alone ? count_hop(job, scratch.count, stream) : cudaSuccess;
    if (error == cudaSuccess && !counted)
        error = launch_items(count_edges, some(job.num_dst.max), stream, job, scratch.count,
                             scratch.state->row_sum, alone);
    if (error == cudaSuccess && !places) {
        error = launch_rows(place_rows, THREADS, 1, job, stream);
        job.count = nullptr;
    }
    return error == cudaSuccess ? sample_hop(job, stream) : error;
}

// The next hop. chained: by ggnn_cuda_sample, all of whose hops follow.
inline cudaError_t sample_block(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng, bool chained,
                                cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(b && b->workspace && g && rng && fits(b, g) && can_count(g->traffic, g->at));
    GGNNI_CUDA_REQUIRE(b->num_hops < b->how.num_hops);
    int32_t       h = b->num_hops;
    size_t        used = 0;
    batch_scratch scratch = scratch_of(b, &used);
    hop_job       job = job_of_hop(b, g, rng, h, scratch);
    cudaError_t   error = sample_edges(job, chained && !counts_alone(job.method), scratch, stream);
    b->num_hops = h + 1;
    const id_list targets = {b->id, job.num_dst};
    if (error == cudaSuccess && !ggnn_method_has(job.method, GGNN_METHOD_WALKS))
        error = count_traffic(targets, job.num_dst.max, g->at, g->traffic, ALL_TIERS, stream);
    if (error != cudaSuccess || !b->hop[h].indices) return error;
    unique_job sources = {};
    sources.place = reinterpret_cast<uint32_t*>(b->hop[h].indices);
    sources.id = job.id;
    sources.n = b->hop[h].num_edges;
    sources.repeats = b->hop[h].repeats;
    return number_targets(b, chained ? g : nullptr, h + 1, sources, job.place != nullptr, scratch, stream);
}

// The seeds and all hops; or the last hop.
inline cudaError_t relabel_batch(const ggnn_cuda_batch* b, bool all, cudaStream_t stream)
{
    relabel_job job = {};
    int64_t     most = 0;
    job.seen = b->table;
    job.list = b->id;
    if (all) job.part[job.parts++] = {b->seed_local, b->num_seeds, b->hop[0].num_dst.n, nullptr, nullptr};
    for (int32_t h = all ? 0 : b->num_hops - 1; h < b->num_hops; h++) {
        const ggnn_block* hop = &b->hop[h];
        if (!hop->indices) continue;
        job.part[job.parts++] = {hop->indices, hop->num_edges, hop->num_src.n, hop->neighbor, hop->repeats};
    }
    for (int32_t p = 0; p < job.parts; p++) most = job.part[p].n.max > most ? job.part[p].n.max : most;
    return job.parts ? launch_items(relabel, some(most), stream, job) : cudaSuccess;
}

} // namespace ggnni

ggnn_status ggnn_cuda_batch_plan(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                 int64_t max_seeds, const ggnn_cuda_unique* shared)
{
    if (!b || !g || !how) return GGNN_ERROR_ARGUMENT;
    *b = {};
    ggnn_status status = ggnn_batch_bound(b, g, how, max_seeds);
    if (status != GGNN_OK) return status;
    if (how->keep & GGNN_KEEP_TRANSPOSES)
        return ggnni_fault(&b->fault, GGNN_ERROR_ARGUMENT,
                           "a batch on a device keeps no transposes: ggnn_cuda_block_transpose", -1, -1);
    if (shared && (shared->num_nodes != g->num_nodes || shared->max_ids < b->max_ids))
        return ggnni_fault(&b->fault, GGNN_ERROR_ARGUMENT,
                           "the shared table is for another number of nodes, or for too few ids", -1, -1);
    b->shares = shared != nullptr;
    if (shared) b->table = *shared;
    b->bytes = ggnni::carve_batch(b, nullptr);
    return GGNN_OK;
}

cudaError_t ggnn_cuda_batch_init(ggnn_cuda_batch* b, void* memory, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(b && memory && b->bytes);
    ggnni::carve_batch(b, static_cast<char*>(memory));
    cudaError_t error = cudaMemsetAsync(b->workspace, 0, sizeof(ggnni::batch_state), stream);
    for (int32_t h = 0; h < b->how.num_hops && error == cudaSuccess; h++)
        error = cudaMemsetAsync(b->hop[h].indptr, 0, sizeof(int64_t), stream);
    if (b->shares || error != cudaSuccess) return error;
    return ggnni::clear_unique(&b->table, stream);
}

ggnn_status ggnn_cuda_batch_new(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_sampling* how,
                                int64_t max_seeds, cudaStream_t stream)
{
    void*       memory = nullptr;
    ggnn_status status = ggnn_cuda_batch_plan(b, g, how, max_seeds, nullptr);
    if (status != GGNN_OK) return status;
    if (cudaMalloc(&memory, b->bytes) == cudaSuccess &&
        ggnn_cuda_batch_init(b, memory, stream) == cudaSuccess)
        return GGNN_OK;
    cudaFree(memory);
    return ggnni_fault(&b->fault, GGNN_ERROR_MEMORY, "no memory on the device for the batch", -1, -1);
}
cudaError_t ggnn_cuda_batch_free(ggnn_cuda_batch* b)
{
    const cudaError_t error = b ? cudaFree(b->workspace) : cudaSuccess;
    if (b) *b = {};
    return error;
}

cudaError_t ggnn_cuda_batch_begin(ggnn_cuda_batch* b, const ggnn_node* seeds, ggnn_count num_seeds,
                                  cudaStream_t stream)
{
    cudaError_t error = ggnni::number_seeds(b, nullptr, seeds, num_seeds, stream);
    return error == cudaSuccess ? ggnni::relabel_batch(b, true, stream) : error;
}

cudaError_t ggnn_cuda_sample_hop(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                                 cudaStream_t stream)
{
    cudaError_t error = ggnni::sample_block(b, g, rng, false, stream);
    return error == cudaSuccess ? ggnni::relabel_batch(b, false, stream) : error;
}

cudaError_t ggnn_cuda_sample(ggnn_cuda_batch* b, const ggnn_graph* g, const ggnn_rng* rng,
                             const ggnn_node* seeds, ggnn_count num_seeds, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(g && rng);
    cudaError_t error = ggnni::number_seeds(b, g, seeds, num_seeds, stream);
    while (error == cudaSuccess && b->num_hops < b->how.num_hops)
        error = ggnni::sample_block(b, g, rng, true, stream);
    return error == cudaSuccess ? ggnni::relabel_batch(b, true, stream) : error;
}

// ---- a compact copy ----------------------------------------------------------------

namespace ggnni {

struct piece { // an array, and where it begins in the packed bytes
    const char* from;
    int64_t     begin, bytes;
};

// What each block works out for itself, in shared memory: the header, the copy, and its arrays in order.
struct packing {
    alignas(16) ggnni_packed header;
    ggnn_batch to;
    piece      array[3 + 6 * GGNN_HOPS_MAX];
    int32_t    arrays;

    template <class T> __device__ void add(const T* array_to, const T* from, int64_t count)
    {
        if (!array_to) return;
        const char* base = static_cast<const char*>(to.workspace);
        const char* at = reinterpret_cast<const char*>(array_to);
        array[arrays++] = {reinterpret_cast<const char*>(from), at - base,
                           count * static_cast<int64_t>(sizeof(T))};
    }
    __device__ void plan(const ggnn_batch& b, char* memory)
    {
        ggnni_pack_header(&header, &to, &b, memory);
        arrays = 0;
        add(static_cast<const ggnni_packed*>(to.workspace), &header, 1);
        add(to.id, b.id, to.max_ids);
        add(to.seed_local, b.seed_local, header.seeds);
        for (int32_t h = 0; h < to.num_hops; h++) {
            const ggnn_block &hop = to.hop[h], &from = b.hop[h];
            add(hop.indptr, from.indptr, header.length[h] + 1);
            add(hop.indices, from.indices, header.edges[h]);
            add(hop.neighbor, from.neighbor, header.edges[h]);
            add(hop.position, from.position, header.edges[h]);
            add(hop.weight, from.weight, header.edges[h]);
            add(hop.repeats, from.repeats, header.length[h + 1]);
        }
    }
};

// The 16 bytes at `at` of an array, zeros behind its end. All elements have 4 or 8 bytes.
__device__ inline uint4 packed_chunk(const piece& array, int64_t at)
{
    const int64_t   left = array.bytes - at;
    const uint32_t* word = reinterpret_cast<const uint32_t*>(array.from + at);
    if (left >= 16) return *reinterpret_cast<const uint4*>(word);
    return make_uint4(left > 0 ? word[0] : 0, left > 4 ? word[1] : 0, left > 8 ? word[2] : 0, 0);
}

// A thread 16 bytes of the packed ones. (Its registers are what one thread of a block plans with.)
static GGNNI_KERNEL(72, THREADS)
    pack_batch(const __grid_constant__ ggnn_batch b, char* memory, size_t room)
{
    __shared__ packing s;
    if (threadIdx.x == 0) s.plan(b, memory);
    __syncthreads();
    const bool    fits = s.header.bytes <= room;
    const int64_t end = static_cast<int64_t>(fits ? s.header.bytes : GGNN_CUDA_PACKED_HEADER);
    int32_t       a = 0;
    if (!fits && blockIdx.x == 0 && threadIdx.x == 0) report(b.status, GGNN_ERROR_CAPACITY);
    for (int64_t at = 16 * (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x); at < end;
         at += 16 * (static_cast<int64_t>(gridDim.x) * THREADS)) {
        while (a + 1 < s.arrays && s.array[a + 1].begin <= at) a++;
        *reinterpret_cast<uint4*>(memory + at) = packed_chunk(s.array[a], at - s.array[a].begin);
    }
}

} // namespace ggnni

size_t ggnn_cuda_batch_packed_max(const ggnn_cuda_batch* b)
{
    if (!b || !b->bytes) return 0;
    ggnni_packed header;
    ggnn_batch   most = *b, unused;
    most.num_hops = b->how.num_hops;
    most.num_seeds.n = &most.num_seeds.max;
    for (ggnn_block& hop : most.hop) {
        hop.num_dst.n = &hop.num_dst.max;
        hop.num_src.n = &hop.num_src.max;
        hop.num_edges.n = &hop.num_edges.max;
    }
    ggnni_pack_header(&header, &unused, &most, nullptr);
    return static_cast<size_t>(header.bytes);
}

cudaError_t ggnn_cuda_batch_pack(void* memory, size_t room, const ggnn_cuda_batch* b, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(memory && b && b->workspace && room >= GGNN_CUDA_PACKED_HEADER);
    const int64_t units = static_cast<int64_t>(ggnn_cuda_batch_packed_max(b) / 16); // one at least
    return ggnni::launch_items(ggnni::pack_batch, units, stream, *b, static_cast<char*>(memory), room);
}

size_t ggnn_cuda_batch_packed_bytes(const void* header)
{
    ggnni_packed copy;
    if (!header) return 0;
    memcpy(&copy, header, sizeof copy);
    return ggnni_is_packed(&copy) ? static_cast<size_t>(copy.bytes) : 0;
}

ggnn_status ggnn_cuda_batch_unpack(ggnn_batch* b, void* memory, size_t bytes, const void* header)
{
    if (!b || !memory || !header) return GGNN_ERROR_ARGUMENT;
    const size_t packed = ggnn_cuda_batch_packed_bytes(header);
    ggnni_packed copy;
    memset(b, 0, sizeof *b);
    if (!packed || packed > bytes) return GGNN_ERROR_BLOCK;
    memcpy(&copy, header, sizeof copy);
    ggnni_lay_out_packed(b, &copy, static_cast<char*>(memory));
    return GGNN_OK;
}

// ---- what batches read, counted ----------------------------------------------------

namespace ggnni {

// A thread an id. Ids of a batch differ: atomics are for other batches that are counted meanwhile.
static GGNNI_KERNEL(32, THREADS)
    count_ids(int64_t* rows, int64_t* lists, const __grid_constant__ ggnn_batch b)
{
    for_items(size_of(b.hop[b.num_hops - 1].num_src), [&](int64_t i) {
        const ggnn_node v = __ldg(b.id + i);
        int             hops = 0; // whose targets have v: the last ones, as targets are the next hop's too
        for (int32_t h = b.num_hops; lists && h-- && i < size_of(b.hop[h].num_dst);) hops++;
        if (hops) add_atomic(lists + v, hops);
        if (rows) add_atomic(rows + v, 1);
    });
}

// Ids [first, first + count) in the order of an epoch.
static GGNNI_KERNEL(32, THREADS)
    epoch_batch(ggnn_node* seeds, int64_t* num_seeds, ggnn_rng* step, const ggnn_node* ids, int64_t num_ids,
                ggnn_rng rng, uint32_t epoch, int64_t first, int64_t count)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *num_seeds = count;
        *step = rng;
    }
    for_items(count, [&](int64_t k) {
        seeds[k] = __ldg(ids + ggnn_shuffle(rng.seed, epoch, first + k, num_ids));
    });
}

} // namespace ggnni

cudaError_t ggnn_cuda_count_batch(int64_t* rows, int64_t* lists, const ggnn_batch* b, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(b && b->num_hops >= 1 && !b->how.last_hop_global);
    const int64_t sources = ggnni::some(b->hop[b->num_hops - 1].num_src.max);
    return ggnni::launch_items(ggnni::count_ids, sources, stream, rows, lists, *b);
}

cudaError_t ggnn_cuda_epoch_batch(ggnn_node* seeds, int64_t* num_seeds, ggnn_rng* step, const ggnn_node* ids,
                                  int64_t num_ids, int64_t batch_size, ggnn_rng rng, uint32_t first_epoch,
                                  int64_t i, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(seeds && num_seeds && step && ids && num_ids >= 1 && batch_size >= 1 && i >= 0);
    const int64_t batches = (num_ids - 1) / batch_size + 1, first = i % batches * batch_size;
    const int64_t left = num_ids - first, count = left < batch_size ? left : batch_size;
    rng.step += static_cast<uint32_t>(i);
    return ggnni::launch_items(ggnni::epoch_batch, ggnni::some(count), stream, seeds, num_seeds, step, ids,
                               num_ids, rng, first_epoch + static_cast<uint32_t>(i / batches), first, count);
}

// ---- whole graph, transpose --------------------------------------------------------

namespace ggnni {

// copied: all edges, or none where ids have 32 bits.
static GGNNI_KERNEL(32, THREADS)
    write_whole(int64_t* counts, int64_t nodes, int64_t edges, int32_t* copy, const ggnn_node* id,
                int64_t copied)
{
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (thread < 3) counts[thread] = thread < 2 ? nodes : edges;
    for_items(copied, [&](int64_t e) { copy[e] = static_cast<int32_t>(id[e]); });
}

// Each source's edges, of a block without repeats: left (num_src) was 0. A thread an edge.
static GGNNI_KERNEL(32, THREADS) count_sources(ggnn_block b, int64_t* left)
{
    for_items(size_of(b.num_edges), [&](int64_t e) { add_atomic(left + b.indices[e], 1); });
}

static GGNNI_KERNEL(32, THREADS)
    sum_sources(ggnn_block t, ggnn_block b, int64_t* left, int64_t* tile_sum, int tile_bits)
{
    const int64_t n = size_of(b.num_src);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *t.num_dst.n = n;
        *t.num_src.n = size_of(b.num_dst);
    }
    write_tile_sums(tile_sum, tile_bits, n, [&](int64_t u) {
        if (u >= n) return INT64_C(0);
        if (b.repeats) left[u] = b.repeats[u];
        return left[u];
    });
}

// ---- lists ascending, so that the order of filling leaves no trace --------------------------------

enum { SHORT_ROW = 16, SHARED_ROW = 2048 }; // a thread sorts alone; a block sorts in shared memory

__device__ inline void sort_short(int32_t* edge, int32_t* source, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        int32_t e = edge[i], s = source[i], at = i;
#pragma unroll 1
        for (; at > 0 && edge[at - 1] > e; at--) {
            edge[at] = edge[at - 1];
            source[at] = source[at - 1];
        }
        edge[at] = e;
        source[at] = s;
    }
}

__device__ inline void sort_long(int32_t* edge, int32_t* source, uint32_t n)
{
    sort_items(n, team<THREADS>(), [&](uint32_t low, uint32_t high) {
        const int32_t e = edge[low], s = source[low];
        if (e <= edge[high]) return;
        edge[low] = edge[high];
        source[low] = source[high];
        edge[high] = e;
        source[high] = s;
    });
}

// In shared memory where it fits, else in place. The next row needs no barrier: before and after sort_long a
// cell of copy is one thread's.
__device__ inline void sort_row(int32_t* edge, int32_t* source, uint32_t n)
{
    __shared__ int32_t copy[2][SHARED_ROW];
    if (n > SHARED_ROW) {
        sort_long(edge, source, n);
        return;
    }
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        copy[0][i] = edge[i];
        copy[1][i] = source[i];
    }
    sort_long(copy[0], copy[1], n);
    for (uint32_t i = threadIdx.x; i < n; i += THREADS) {
        edge[i] = copy[0][i];
        source[i] = copy[1][i];
    }
}

// A thread an edge. That of a source which has no other goes where the list is; one of several takes the last
// place that is left, whichever that is now, and who has written the last of them sorts the list: a thread a
// short one, the block a long one. The low half of left counts places down, the high half writes up. A block
// finds the rows of its first and last edge, its threads theirs between them.
static GGNNI_KERNEL(32, THREADS) fill_transpose(ggnn_block t, ggnn_block b, unsigned long long* left)
{
    __shared__ int64_t row[2];
    __shared__ int32_t full[THREADS], lists; // sources whose long lists this block has completed
    const int64_t      n = size_of(b.num_edges), rows = size_of(b.num_dst);
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * THREADS; first < n;
         first += static_cast<int64_t>(gridDim.x) * THREADS) {
        const int64_t e = first + threadIdx.x;
        if (threadIdx.x < 2)
            row[threadIdx.x] =
                row_with(b.indptr, 0, rows, threadIdx.x ? least(n, first + THREADS) - 1 : first);
        if (threadIdx.x == 0) lists = 0;
        __syncthreads();
        if (e < n) {
            const int32_t  u = b.indices[e];
            const int64_t  begin = t.indptr[u];
            const uint32_t length = static_cast<uint32_t>(t.indptr[u + 1] - begin);
            const uint64_t was = length > 1 ? atomicAdd(left + u, ~0ull) : 1; // under way while the row is
            const int64_t  target = row_with(b.indptr, row[0], row[1] + 1, e);
            const int64_t  at = begin + static_cast<uint32_t>(was) - 1;
            t.indices[at] = static_cast<int32_t>(target);
            t.edge[at] = static_cast<int32_t>(e);
            if (length > 1) __threadfence(); // written, before it counts as written
            if (length > 1 && atomicAdd(left + u, 1ull << 32) >> 32 == length - 1) {
                __threadfence(); // all have been, before they are read
                if (length > SHORT_ROW) full[atomicAdd(&lists, 1)] = u;
                else sort_short(t.edge + begin, t.indices + begin, static_cast<int32_t>(length));
            }
        }
        __syncthreads();
        for (int32_t i = 0; i < lists; i++) {
            const int64_t* at = t.indptr + full[i];
            sort_row(t.edge + at[0], t.indices + at[0], static_cast<uint32_t>(at[1] - at[0]));
        }
        __syncthreads(); // before row, full and lists are written again
    }
}

inline size_t carve_transpose(ggnn_block* t, int64_t max_dst, int64_t max_src, int64_t max_edges, char* base)
{
    size_t   used = 0;
    int64_t* counts = carve<int64_t>(base, &used, 3);
    *t = {};
    t->num_dst = {counts, max_src};
    t->num_src = {counts ? counts + 1 : nullptr, max_dst};
    t->num_edges = {counts ? counts + 2 : nullptr, max_edges};
    t->indptr = carve<int64_t>(base, &used, max_src + 1);
    t->indices = carve<int32_t>(base, &used, max_edges);
    t->edge = carve<int32_t>(base, &used, max_edges);
    return used;
}

} // namespace ggnni

cudaError_t ggnn_cuda_block_whole(ggnn_block* b, const ggnn_graph* g, int64_t* counts, int32_t* copy,
                                  cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(b && ggnni_graph_given(g) && !g->part && counts);
    GGNNI_CUDA_REQUIRE(g->num_nodes <= INT32_MAX && g->num_edges <= INT32_MAX);
    GGNNI_CUDA_REQUIRE(g->num_edges == 0 || copy || sizeof(ggnn_node) == sizeof(int32_t));
    const ggnn_csc* csc = &g->whole;
    const int64_t   nodes = g->num_nodes, edges = g->num_edges;
    const bool      copies = sizeof(ggnn_node) > sizeof(int32_t);
    *b = {};
    b->num_dst = {&counts[0], nodes};
    b->num_src = {&counts[1], nodes};
    b->num_edges = {&counts[2], edges};
    b->indptr = const_cast<int64_t*>(csc->indptr); // a block's arrays are read, unless it is written into
    b->weight = const_cast<float*>(csc->weight);
    b->indices = copies ? copy : reinterpret_cast<int32_t*>(const_cast<ggnn_node*>(csc->indices));
    const int64_t copied = copies ? edges : 0;
    return ggnni::launch_items(ggnni::write_whole, ggnni::some(copied), stream, counts, nodes, edges, copy,
                               csc->indices, copied);
}

size_t ggnn_cuda_block_transpose_bytes(int64_t max_dst, int64_t max_src, int64_t max_edges)
{
    ggnn_block unused;
    if (!ggnni_sizes_local(max_dst, max_src, max_edges)) return 0;
    return ggnni::carve_transpose(&unused, max_dst, max_src, max_edges, nullptr);
}

cudaError_t ggnn_cuda_block_transpose_init(ggnn_block* t, int64_t max_dst, int64_t max_src, int64_t max_edges,
                                           void* memory)
{
    GGNNI_CUDA_REQUIRE(t && memory && ggnni_sizes_local(max_dst, max_src, max_edges));
    ggnni::carve_transpose(t, max_dst, max_src, max_edges, static_cast<char*>(memory));
    return cudaSuccess;
}

size_t ggnn_cuda_block_transpose_workspace_bytes(int64_t max_src)
{
    if (!ggnni_sizes_local(0, max_src, 0)) return 0;
    return ggnni::round_up(ggnni::TILES * sizeof(int64_t)) +
           ggnni::round_up(static_cast<size_t>(max_src) * 8);
}

cudaError_t ggnn_cuda_block_transpose(ggnn_block* t, const ggnn_block* b, void* workspace,
                                      cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(t && t->indptr && workspace && block_given(b, true));
    GGNNI_CUDA_REQUIRE(b->num_src.max <= t->num_dst.max && b->num_dst.max <= t->num_src.max);
    GGNNI_CUDA_REQUIRE(b->num_edges.max <= t->num_edges.max);
    size_t        used = 0;
    int64_t*      tile_sum = carve<int64_t>(static_cast<char*>(workspace), &used, TILES);
    int64_t*      left = carve<int64_t>(static_cast<char*>(workspace), &used, b->num_src.max);
    const int64_t sources = b->num_src.max, edges = b->num_edges.max;
    cudaError_t   error = cudaSuccess;
    hop_job       job = {};
    job.num_dst = b->num_src;
    job.indptr = t->indptr;
    job.count = left;
    job.tile_sum = tile_sum;
    job.tile_bits = tile_bits_of(sources);
    job.total = t->num_edges.n;
    job.max_edges = edges;
    t->id = b->id;
    t->bipartite = b->bipartite;
    if (!b->repeats) {
        error = cudaMemsetAsync(left, 0, static_cast<size_t>(sources) * sizeof *left, stream);
        if (error == cudaSuccess) error = launch_items(count_sources, some(edges), stream, *b, left);
    }
    if (error == cudaSuccess)
        error = launch_items(sum_sources, some(sources), stream, *t, *b, left, tile_sum, job.tile_bits);
    if (error == cudaSuccess) error = launch_rows(place_rows, THREADS, 1, job, stream);
    if (error == cudaSuccess)
        error = launch_items(fill_transpose, some(edges), stream, *t, *b,
                             reinterpret_cast<unsigned long long*>(left));
    return error;
}

// =============================================================================
// ==== [7i] STORE
// =============================================================================
// Rows are moved in chunks of 16, 8, 4 or 2 bytes: the widest that divides width, pitches and addresses.
// (Element by element where the addresses of a pointer table, which the host does not know, fall short of
// that.) With C chunks a row, thread t has chunk t % C of the 4 rows from 4 (t / C) on: all lanes work
// whatever the width, with four loads on their way.

namespace ggnni {

// ---- chunks -----------------------------------------------------------------

template <int BYTES>
using word_of = std::conditional_t<
    BYTES == 16, uint4,
    std::conditional_t<BYTES == 8, uint2, std::conditional_t<BYTES == 4, unsigned, unsigned short>>>;

// N elements of a row: one load; one store of at most 16 bytes, or two.
template <class T, int N> struct alignas(sizeof(T) * N) chunk {
    T at[N];
};

template <int N, class T> __device__ inline chunk<T, N> load_chunk(const T* from)
{
    using word = word_of<static_cast<int>(sizeof(T)) * N>;
    static_assert(sizeof(word) == sizeof(chunk<T, N>), "one load has at most 16 bytes");
    chunk<T, N> x;
    word        bits = __ldg(reinterpret_cast<const word*>(from));
    memcpy(&x, &bits, sizeof x);
    return x;
}

// STREAM: the first to leave the cache, which is then for the rows that are read.
template <bool STREAM, class T, int N> __device__ inline void store_chunk(T* to, const chunk<T, N>& x)
{
    constexpr int BYTES = sizeof x < 16 ? static_cast<int>(sizeof x) : 16, WORDS = sizeof x / BYTES;
    using word = word_of<BYTES>;
    word bits[WORDS];
    memcpy(bits, &x, sizeof x);
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
        if (STREAM)
            __stcs(reinterpret_cast<word*>(to) + i, bits[i]);
        else
            reinterpret_cast<word*>(to)[i] = bits[i];
    }
}

// What chunks must divide of a matrix, or-ed: address and pitch, in elements.
inline uint64_t grain_of(const void* start, int64_t ld, ggnn_type type)
{
    return reinterpret_cast<uintptr_t>(start) / static_cast<uint64_t>(ggnn_type_bytes(type)) |
           static_cast<uint64_t>(ld);
}

// Elements of a chunk: the greatest of most, most / 2 .. 1 that divides all that was or-ed.
inline int chunk_elements(uint64_t grain, int most)
{
    while (grain % static_cast<unsigned>(most)) most /= 2;
    return most;
}

// ---- binary16 ---------------------------------------------------------------

// ggnn_half_to_float. Zero and subnormals: 2^-14 * (1 + fraction / 1024) - 2^-14, both exact.
__device__ inline float widen(uint16_t half)
{
    uint32_t bits = (half & 0x7fffu) << 13, sign = (half & 0x8000u) << 16;
    if (bits >= 0x0f800000u)
        bits += 224u << 23; // infinity, NaN
    else if (bits >= 0x00800000u)
        bits += 112u << 23;
    else
        bits = __float_as_uint(__fsub_rn(__uint_as_float(bits + (113u << 23)), __uint_as_float(113u << 23)));
    return __uint_as_float(bits | sign);
}

// The same for rows that are summed: one instruction, which may change a NaN's payload.
__device__ inline float number(uint16_t half)
{
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(half));
#else
    return widen(half);
#endif
}
__device__ inline float number(float x) { return x; }

// ggnn_float_to_half.
__device__ inline uint16_t narrow(float x)
{
    uint32_t bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    if (size > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | (size >> 13 & 0x3ffu));
    if (size >= 0x47800000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (size < 0x38800000u) // adding .5 rounds it to a multiple of 2^-24
        return static_cast<uint16_t>(sign |
                                     (__float_as_uint(__fadd_rn(__uint_as_float(size), 0.5f)) - 0x3f000000u));
    size += 0xfffu + (size >> 13 & 1u) - 0x38000000u; // nearest, ties to even; the exponent's bias is 15
    return static_cast<uint16_t>(sign | size >> 13);
}

__device__ inline void convert_to(float& to, float from) { to = from; }
__device__ inline void convert_to(float& to, uint16_t from) { to = widen(from); }
__device__ inline void convert_to(uint16_t& to, uint16_t from) { to = from; }
__device__ inline void convert_to(uint16_t& to, float from) { to = narrow(from); }
template <class Out, class In, int N> __device__ inline chunk<Out, N> convert(const chunk<In, N>& x)
{
    chunk<Out, N> y;
#pragma unroll
    for (int j = 0; j < N; j++) convert_to(y.at[j], x.at[j]);
    return y;
}

// ---- where rows are ---------------------------------------------------------

enum { IN_FLIGHT = 4 }; // chunks that a thread reads before it uses the first

// The address of the row at a place; NULL where that is of another tier.
__device__ inline const char* row_at(const ggnn_store& from, ggnn_place place, tier wanted)
{
    if (!takes(wanted, from.at.parts, place.slot)) return nullptr;
    const void* start = from.base ? from.base[place.slot] : from.rows;
    return static_cast<const char*>(start) + place.row * from.pitch;
}

// Addresses of rows v[u] of a store; NULL where v[u] is negative or of another tier. Cache rows, then the
// ranks of those that are not cached, then bases are read side by side: one latency each.
template <int U, class Id>
__device__ inline void find_rows(const char* (&row)[U], const ggnn_store& from, const fast_layout& at,
                                 const Id (&v)[U], tier wanted)
{
    Id        r[U]; // the row in the own cache where `cached` has the bit, else the rank
    unsigned  cached = 0;
#pragma unroll
    for (int u = 0; u < U; u++) r[u] = v[u];
    if (!from.base) {
#pragma unroll
        for (int u = 0; u < U; u++)
            row[u] = v[u] >= 0 && wanted != HOST_TIER
                         ? static_cast<const char*>(from.rows) + v[u] * from.pitch
                         : nullptr;
        return;
    }
    if (at.cached) {
#pragma unroll
        for (int u = 0; u < U; u++)
            if (at.cache_row && v[u] >= 0) r[u] = static_cast<Id>(__ldg(at.cache_row + v[u]));
#pragma unroll
        for (int u = 0; u < U; u++) {
            if (v[u] >= 0 && in_cache(at, r[u])) cached |= 1u << u;
            else r[u] = v[u];
        }
    }
    if (at.rank) {
#pragma unroll
        for (int u = 0; u < U; u++)
            if (v[u] >= 0 && !(cached >> u & 1)) r[u] = static_cast<Id>(__ldg(at.rank + v[u]));
    }
#pragma unroll
    for (int u = 0; u < U; u++) {
        row[u] = nullptr;
        if (v[u] < 0) continue;
        const ggnn_place place = cached >> u & 1 ? ggnn_place{from.at.parts + 1, r[u]}
                                                 : place_beyond_cache(at, v[u], r[u]);
        row[u] = row_at(from, place, wanted);
    }
}

// Whether all bases of a store are multiples of `bytes`: a warp's lanes look at one each, and at the next 32.
__device__ inline bool bases_allow(const ggnn_store& from, size_t bytes)
{
    bool bad = !from.base && reinterpret_cast<uintptr_t>(from.rows) % bytes;
    for (int32_t slot = static_cast<int32_t>(threadIdx.x) % WARP; from.base && slot < from.at.parts + 2;
         slot += WARP)
        bad = bad || reinterpret_cast<uintptr_t>(from.base[slot]) % bytes;
    return !__any_sync(ALL_LANES, bad);
}

// Row i is row id[i] of a store: by node, position or index; or where id[i] says, a mark.
template <class Id, bool MARKED = false> struct stored_rows {
    using key = Id;
    using list = std::conditional_t<MARKED, list_of_marks, list_of_ids<Id>>;
    ggnn_store  from;
    fast_layout at;
    const Id*   id;
    tier        wanted;

    // Addresses of rows i, i + 1 ..; NULL from the `left`-th on.
    template <int U> __device__ void find(const char* (&row)[U], int64_t i, int64_t left) const
    {
        Id v[U];
#pragma unroll
        for (int u = 0; u < U; u++) v[u] = u < left ? __ldg(id + i + u) : -1;
        if (!MARKED) find_rows(row, from, at, v, wanted);
#pragma unroll
        for (int u = 0; u < U; u++)
            if (MARKED) row[u] = v[u] < 0 ? nullptr : row_at(from, ggnn_marked(v[u]), wanted);
    }
};
using marked_rows = stored_rows<int64_t, true>;

// ---- copying ----------------------------------------------------------------

// Host memory is read in lines of 128 bytes, each a request over the bus. The k-th unit of a row, in the
// order in which lanes take them: lane 0 begins on a line, the units before that line come last. Rows shorter
// than a line: k itself.
__host__ __device__ inline int32_t line_unit(uint64_t address, int32_t units, int32_t bytes, int32_t k)
{
    int32_t ahead = units * bytes < 128 ? 0 : static_cast<int32_t>(-address % 128) / bytes;
    return k + ahead < units ? k + ahead : k + ahead - units;
}

template <class Rows> struct copy_job {
    Rows       rows;
    void*      out;
    int64_t    ld_out; // in elements
    ggnn_count n;
    int32_t    width;
    divider    units[2]; // of a row: [0] of one element each, [1] of a chunk
};

// Thread t copies unit t % units of IN_FLIGHT neighbouring rows; nobody else writes those. LINES: a row
// counts as a multiple of 32 units, so that a warp reads 32 units of the same row at a time.
template <class In, class Out, int N, bool LINES, class Rows>
__device__ inline void copy_units(const copy_job<Rows>& job)
{
    const divider units = job.units[N > 1];
    const int32_t chunks = job.width / N;
    const int64_t n = size_of(job.n), stride = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;; t += stride) {
        int64_t      i = quotient(t, units);
        int32_t      unit = static_cast<int32_t>(t - i * units.by), column[IN_FLIGHT];
        bool         found[IN_FLIGHT];
        const char*  row[IN_FLIGHT];
        chunk<In, N> x[IN_FLIGHT];
        i *= IN_FLIGHT;
        if (i >= n) break;
        if (LINES && unit >= chunks) continue;
        job.rows.find(row, i, n - i);
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++) {
            found[u] = row[u] != nullptr;
            column[u] = unit * N;
            if (LINES)
                column[u] = N * line_unit(reinterpret_cast<uintptr_t>(row[u]), chunks, sizeof x[u], unit);
            if (found[u]) x[u] = load_chunk<N>(reinterpret_cast<const In*>(row[u]) + column[u]);
        }
#pragma unroll
        for (int u = 0; u < IN_FLIGHT; u++)
            if (found[u])
                store_chunk<true>(static_cast<Out*>(job.out) + (i + u) * job.ld_out + column[u],
                                  convert<Out>(x[u]));
    }
}

// Blocks on a multiprocessor: 40 registers a thread let 6 run; chunks of 16 bytes, 64-bit numbers of rows and
// conversions take 48.
template <class In, class Out, int N, class Rows> constexpr int copy_blocks()
{
    return sizeof(typename Rows::key) == 4 && sizeof(In) == sizeof(Out) && sizeof(In) * N < 16 ? 6 : 5;
}

// 16-byte loads: 20 in 5 instances
template <class In, class Out, int N, bool LINES, class Rows>
static GGNNI_KERNEL(48, THREADS, copy_blocks<In, Out, N, Rows>())
    copy_rows(copy_job<Rows> job)
{
    if (N > 1 && !bases_allow(job.rows.from, sizeof(In) * N))
        copy_units<In, Out, 1, LINES>(job);
    else
        copy_units<In, Out, N, LINES>(job);
}

static GGNNI_KERNEL(32, THREADS)
    mark_rows(int64_t* mark, fast_layout at, const ggnn_node* id, ggnn_count n)
{
    for_items(size_of(n), [&](int64_t i) { mark[i] = ggnn_mark_of(place_of(at, __ldg(id + i))); });
}

// ---- launches ---------------------------------------------------------------

// In chunks of N elements, or the fewer that grain allows. blocks: the grid that reads whole lines.
template <class In, class Out, int N, bool LINES, class Rows>
inline cudaError_t launch_copy(copy_job<Rows>& job, uint64_t grain, int64_t blocks, cudaStream_t stream)
{
    if (N > 1 && grain % N)
        return launch_copy<In, Out, (N > 1 ? N / 2 : 1), LINES>(job, grain, blocks, stream);
    const int32_t units[2] = {job.width, job.width / N};
    for (int i = 0; i < 2; i++) job.units[i] = divide_by(LINES ? tiles_of(units[i], WARP) * WARP : units[i]);
    int64_t tiles = tiles_of(tiles_of(job.n.max, IN_FLIGHT) * job.units[1].by, THREADS);
    if (LINES) tiles = tiles ? blocks : 0;
    return launch_tiles(copy_rows<In, Out, N, LINES, Rows>, tiles, THREADS, stream, job);
}

// The host's tier in whole lines, by so many blocks: 32 lanes have 128 bytes of a line.
template <tier WANTED, class Rows>
inline cudaError_t gather_tier(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                               const typename Rows::key* id, ggnn_count n, cudaStream_t stream,
                               int32_t blocks = 0)
{
    constexpr bool LINES = WANTED == HOST_TIER;
    GGNNI_CUDA_REQUIRE(ggnni_store_given(from, known(n)) && ggnni_type_known(as) && ids_given(id, n));
    GGNNI_CUDA_REQUIRE(can_count(from->traffic, from->at));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(out, ld_out, known(n), from->width));
    const int64_t  pitch = from->pitch / ggnn_type_bytes(from->type); // where a base begins the kernel sees
    uint64_t       grain = grain_of(out, ld_out, as) | static_cast<uint64_t>(from->width);
    copy_job<Rows> job = {{*from, layout_of(from->at), id, WANTED}, out, ld_out, n, from->width, {}};
    cudaError_t    copied;
    grain |= grain_of(from->base ? nullptr : from->rows, pitch, from->type);
    if (from->type == GGNN_F32 && as == GGNN_F32)
        copied = launch_copy<float, float, LINES ? 1 : 4, LINES>(job, grain, blocks, stream);
    else if (from->type == GGNN_F32)
        copied = launch_copy<float, uint16_t, LINES ? 1 : 4, LINES>(job, grain, blocks, stream);
    else if (as == GGNN_F32)
        copied = launch_copy<uint16_t, float, LINES ? 2 : 4, LINES>(job, grain, blocks, stream);
    else
        copied = launch_copy<uint16_t, uint16_t, LINES ? 2 : 8, LINES>(job, grain, blocks, stream);
    const typename Rows::list ids = {id, n};
    return first_error(copied, count_traffic(ids, n.max, from->at, from->traffic, WANTED, stream));
}

} // namespace ggnni

cudaError_t ggnn_cuda_gather(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                             const ggnn_node* id, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    return gather_tier<ALL_TIERS, stored_rows<ggnn_node>>(out, ld_out, as, from, id, n, stream);
}

cudaError_t ggnn_cuda_gather_edges(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                   const int64_t* position, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(from && ggnni_edges_ranked(from));
    return gather_tier<ALL_TIERS, stored_rows<int64_t>>(out, ld_out, as, from, position, n, stream);
}

cudaError_t ggnn_cuda_gather_marked(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                    const int64_t* mark, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    return gather_tier<ALL_TIERS, marked_rows>(out, ld_out, as, from, mark, n, stream);
}

cudaError_t ggnn_cuda_mark(int64_t* mark, const ggnn_layout* at, const ggnn_node* id, ggnn_count n,
                           cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(at && ggnni_slots_marked(at->parts) && ids_given(id, n) && (mark || known(n) == 0));
    return launch_items(mark_rows, n.max, stream, mark, layout_of(*at), id, n);
}

cudaError_t ggnn_cuda_gather_device(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                    const ggnn_node* id, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    return gather_tier<DEVICE_TIERS, stored_rows<ggnn_node>>(out, ld_out, as, from, id, n, stream);
}
cudaError_t ggnn_cuda_gather_host(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                  const ggnn_node* id, ggnn_count n, int32_t blocks, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(blocks > 0);
    using namespace ggnni;
    return gather_tier<HOST_TIER, stored_rows<ggnn_node>>(out, ld_out, as, from, id, n, stream, blocks);
}

cudaError_t ggnn_cuda_permute(void* out, int64_t ld_out, const void* inp, int64_t ld_inp, ggnn_type type,
                              int32_t width, const int32_t* index, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    ggnn_store from = ggnn_store_plain(inp, 0, width, type);
    from.pitch = ld_inp * ggnn_type_bytes(type);
    return gather_tier<ALL_TIERS, stored_rows<int32_t>>(out, ld_out, type, &from, index, n, stream);
}

namespace ggnni {

// ---- split ------------------------------------------------------------------
// A counting sort by slot in tiles of SPLIT_TILE ids: (a) count each tile's ids by slot; (b) sum each slot's
// counts over the tiles before; (c) an id's place is what the slots before have, what the tiles before have
// of its slot, and its rank among those of its tile and slot.

enum {
    SPLIT_ROUNDS = 4,
    SPLIT_TILE = SPLIT_ROUNDS * THREADS,
    SPLIT_WARPS = SPLIT_TILE / WARP,
    SPLIT_SLOTS = GGNN_CUDA_PARTS_MAX + 2
};

struct split_job {
    int32_t *        gather, *scatter;
    int64_t*         bound;
    ggnn_layout      at;
    const ggnn_node* id;
    ggnn_count       n;
    int64_t          max_tiles;
    int32_t*         count; // (slots, max_tiles) ids of a tile; from (b) on: of the slot's tiles before it
    int32_t*         total; // (slots)
};

__device__ inline int32_t slot_of(const split_job& job, int64_t i, int64_t n)
{
    return i < n ? ggnn_locate(&job.at, __ldg(job.id + i)).slot : -1;
}

// (a) A block a tile. 32 registers.
static GGNNI_KERNEL(32, THREADS) split_count(split_job job)
{
    __shared__ int32_t count[SPLIT_SLOTS];
    const int32_t      thread = static_cast<int32_t>(threadIdx.x), slots = job.at.parts + 2;
    const int64_t      n = size_of(job.n);
    for (int64_t tile = blockIdx.x; tile * SPLIT_TILE < n; tile += gridDim.x) {
        if (thread < slots) count[thread] = 0;
        __syncthreads();
        for (int32_t round = 0; round < SPLIT_ROUNDS; round++) {
            int32_t  slot = slot_of(job, tile * SPLIT_TILE + round * THREADS + thread, n);
            unsigned same = __match_any_sync(ALL_LANES, slot);
            if (slot >= 0 && __ffs(static_cast<int>(same)) - 1 == thread % WARP)
                atomicAdd(count + slot, __popc(same));
        }
        __syncthreads();
        if (thread < slots) job.count[thread * job.max_tiles + tile] = count[thread];
    }
}

// (b) A block a slot. 32 registers.
static GGNNI_KERNEL(32, THREADS) split_sum(split_job job)
{
    using scan = cub::BlockScan<int32_t, THREADS>;
    __shared__ typename scan::TempStorage memory;
    const int64_t                         tiles = (size_of(job.n) + SPLIT_TILE - 1) / SPLIT_TILE;
    int32_t*                              count = job.count + blockIdx.x * job.max_tiles;
    int32_t                               before = 0, sum;
    for (int64_t first = 0; first < tiles; first += THREADS) {
        int64_t tile = first + threadIdx.x;
        int32_t own = tile < tiles ? count[tile] : 0;
        scan(memory).ExclusiveSum(own, own, sum);
        if (tile < tiles) count[tile] = before + own;
        before += sum;
        __syncthreads();
    }
    if (threadIdx.x == 0) job.total[blockIdx.x] = before;
}

// (c) A block a tile. A warp's ids of one round and slot are a group: groups are placed in the order of ids,
// and so are ids in a group. 48 registers.
static GGNNI_KERNEL(48, THREADS) split_place(split_job job)
{
    __shared__ int32_t begin[SPLIT_SLOTS], group[SPLIT_WARPS][SPLIT_SLOTS];
    const int32_t      thread = static_cast<int32_t>(threadIdx.x), slots = job.at.parts + 2;
    const int32_t      lane = thread % WARP, warp = thread / WARP;
    const int64_t      n = size_of(job.n);
    if (thread <= slots) {
        int32_t sum = 0;
        for (int32_t slot = 0; slot < thread; slot++) sum += job.total[slot];
        if (thread < slots) begin[thread] = sum;
        if (blockIdx.x == 0) job.bound[thread] = sum;
    }
    for (int64_t tile = blockIdx.x; tile * SPLIT_TILE < n; tile += gridDim.x) {
        int32_t  slot[SPLIT_ROUNDS];
        unsigned same[SPLIT_ROUNDS];
        for (int32_t i = thread; i < SPLIT_WARPS * SPLIT_SLOTS; i += THREADS) (&group[0][0])[i] = 0;
        __syncthreads();
#pragma unroll
        for (int32_t round = 0; round < SPLIT_ROUNDS; round++) {
            slot[round] = slot_of(job, tile * SPLIT_TILE + round * THREADS + thread, n);
            same[round] = __match_any_sync(ALL_LANES, slot[round]);
            if (slot[round] >= 0 && __ffs(static_cast<int>(same[round])) - 1 == lane)
                group[round * (THREADS / WARP) + warp][slot[round]] = __popc(same[round]);
        }
        __syncthreads();
        if (thread < slots) {
            int32_t place = begin[thread] + job.count[thread * job.max_tiles + tile];
            for (int32_t g = 0; g < SPLIT_WARPS; g++) {
                int32_t members = group[g][thread];
                group[g][thread] = place;
                place += members;
            }
        }
        __syncthreads();
#pragma unroll
        for (int32_t round = 0; round < SPLIT_ROUNDS; round++) {
            int64_t i = tile * SPLIT_TILE + round * THREADS + thread;
            if (slot[round] < 0) continue;
            int32_t place = group[round * (THREADS / WARP) + warp][slot[round]] +
                            __popc(same[round] & ((1u << lane) - 1));
            job.gather[place] = static_cast<int32_t>(i);
            job.scatter[i] = place;
        }
        __syncthreads();
    }
}

} // namespace ggnni

size_t ggnn_cuda_split_workspace_bytes(int64_t max_n, int32_t parts)
{
    if (max_n < 0 || parts < 1) return 0;
    return (static_cast<size_t>(ggnni::tiles_of(max_n, ggnni::SPLIT_TILE)) + 1) *
           static_cast<size_t>(parts + 2) * sizeof(int32_t);
}

cudaError_t ggnn_cuda_split(int32_t* gather, int32_t* scatter, int64_t* bound, const ggnn_layout* at,
                            const ggnn_node* id, ggnn_count n, void* workspace, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(at && at->parts >= 1 && at->parts <= GGNN_CUDA_PARTS_MAX && bound && workspace);
    GGNNI_CUDA_REQUIRE(n.max <= INT32_MAX && ids_given(id, n) && (known(n) == 0 || (gather && scatter)));
    int64_t     tiles = tiles_of(n.max, SPLIT_TILE);
    int32_t*    count = static_cast<int32_t*>(workspace);
    int32_t     slots = at->parts + 2;
    split_job   job = {gather, scatter, bound, *at, id, n, tiles, count, count + slots * tiles};
    cudaError_t counted = launch_tiles(split_count, tiles, THREADS, stream, job);
    cudaError_t summed = launch(split_sum, slots, THREADS, stream, job);
    cudaError_t placed = launch_tiles(split_place, some(tiles), THREADS, stream, job);
    return first_error(counted, first_error(summed, placed));
}

// =============================================================================
// ==== [7bi] PEERS
// =============================================================================

namespace ggnni {

// Closed: borrows no more, lends as long as others are joined. Left: its memory may be freed. Gone: by force.
enum peer_state { PEER_AWAITED, PEER_JOINED, PEER_CLOSED, PEER_LEFT, PEER_GONE };

struct peer_loan {
    const char*          start; // in its owner's process; NULL: no bytes
    size_t               offset, bytes;
    cudaIpcMemHandle_t   handle; // of start - offset
    cudaError_t          error;  // why there is none
    std::atomic<int32_t> ready;
};

struct alignas(64) peer_slot {
    pthread_mutex_t      alive; // held by the thread that joined, until it leaves
    std::atomic<int32_t> state;
    std::atomic<int64_t> arrived; // how often at ggnn_cuda_peers_wait
    int64_t              process, started;
    int32_t              device;
    char                 bus[32]; // by which other processes know the device
};

// Shared memory: slots, loans by peer, and by borrower what it has opened of these.
inline peer_slot& slot_of_peer(const ggnn_cuda_peers* p, int32_t peer)
{
    return static_cast<peer_slot*>(p->shared)[peer];
}
inline peer_loan& loan_of(const ggnn_cuda_peers* p, int32_t peer, int32_t loan)
{
    return reinterpret_cast<peer_loan*>(&slot_of_peer(p, p->peers))[peer * p->loans + loan];
}
inline void*& opened_of(const ggnn_cuda_peers* p, int32_t peer, int32_t loan)
{
    const int64_t at = (static_cast<int64_t>(p->self) * p->peers + peer) * p->loans + loan;
    return reinterpret_cast<void**>(&loan_of(p, p->peers, 0))[at];
}

inline cudaError_t peer_fault(ggnn_cuda_fault* fault, cudaError_t error, const char* what = nullptr,
                              int32_t from = -1, int32_t to = -1, int32_t peer = -1)
{
    if (fault) *fault = {error == cudaSuccess ? nullptr : what, from, to, peer};
    return error;
}

// Lets device `from`, the current one, read the memory of device `to`.
inline cudaError_t link_device(int from, int to, bool enable, int32_t peer, ggnn_cuda_fault* fault)
{
    int         can = 1;
    cudaError_t error = from == to ? cudaSuccess : cudaDeviceCanAccessPeer(&can, from, to);
    if (error == cudaSuccess && !can) error = cudaErrorPeerAccessUnsupported;
    if (error == cudaSuccess && from != to && enable) error = cudaDeviceEnablePeerAccess(to, 0);
    if (error == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
        error = cudaSuccess;
    }
    return peer_fault(fault, error,
                      error == cudaErrorPeerAccessUnsupported ? "two devices have no link"
                                                              : "peer access could not be enabled",
                      from, to, peer);
}

// A peer that ended before it left is gone from then on, for all.
inline int32_t state_of_peer(const ggnn_cuda_peers* p, int32_t peer)
{
    peer_slot&    slot = slot_of_peer(p, peer);
    const int32_t state = slot.state.load();
    if ((state != PEER_JOINED && state != PEER_CLOSED) || peer == p->self) return state;
    const int held = pthread_mutex_trylock(&slot.alive);
    if (held == EBUSY) return state;
    if (held == EOWNERDEAD) slot.state = PEER_GONE; // before the unlock: the next trylock may keep the lock
    if (held == EOWNERDEAD || held == 0) pthread_mutex_unlock(&slot.alive);
    return held == ENOTRECOVERABLE ? static_cast<int32_t>(PEER_GONE) : slot.state.load();
}

// An error from state `limit` on.
inline cudaError_t check_peer(const ggnn_cuda_peers* p, int32_t peer, peer_state limit,
                              ggnn_cuda_fault* fault)
{
    const int32_t     state = state_of_peer(p, peer);
    const cudaError_t error = state < limit ? cudaSuccess : cudaErrorIllegalState;
    const char*       what =
        state == PEER_GONE ? "a peer has ended without closing" : "a peer has closed already";
    return peer_fault(fault, error, what, -1, -1, error == cudaSuccess ? -1 : peer);
}

inline void pause_for_peers() // 50 microseconds
{
    const timespec pause = {0, 50000};
    nanosleep(&pause, nullptr);
}

inline int64_t process_start() // beside the id, which another process may have in another container
{
    static const int64_t nanoseconds = [] {
        timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        return static_cast<int64_t>(now.tv_sec) * 1000000000 + now.tv_nsec;
    }();
    return nanoseconds;
}

// Another process's memory: opened once.
inline cudaError_t open_loan(const ggnn_cuda_peers* p, int32_t peer, int32_t loan, ggnn_cuda_fault* fault)
{
    const peer_slot& owner = slot_of_peer(p, peer);
    const peer_loan& lent = loan_of(p, peer, loan);
    void*&           opened = opened_of(p, peer, loan);
    cudaError_t      error = lent.error;
    int              here = -1; // the owner's device, as this process counts
    if (opened) return cudaSuccess;
    if (cudaDeviceGetByPCIBusId(&here, owner.bus) != cudaSuccess) {
        cudaGetLastError(); // not visible here: whether it can be read the next call says
    } else {
        const cudaError_t linked = link_device(p->device, here, true, peer, fault);
        if (linked != cudaSuccess && fault) fault->to = owner.device;
        if (linked != cudaSuccess) return linked;
    }
    if (error == cudaSuccess)
        error = cudaIpcOpenMemHandle(&opened, lent.handle, cudaIpcMemLazyEnablePeerAccess);
    if (error != cudaSuccess) { // it may have ended since it was looked at
        opened = nullptr;
        const cudaError_t there = check_peer(p, peer, PEER_LEFT, fault);
        if (there != cudaSuccess) return there;
    }
    return peer_fault(fault, error, "another process's memory cannot be opened", p->device, owner.device,
                      peer);
}

inline bool has_joined(const ggnn_cuda_peers* p) { return p && p->shared; }

// The address of what a source lends, NULL where that has no bytes.
inline cudaError_t borrow(const void** start, size_t* bytes, const ggnn_cuda_peers* p,
                          ggnn_cuda_source source, ggnn_cuda_fault* fault)
{
    int device = -1;
    *start = nullptr;
    *bytes = 0;
    if (source.peer < 0) return peer_fault(fault, cudaSuccess);
    if (source.peer >= p->peers || source.loan < 0 || source.loan >= p->loans ||
        cudaGetDevice(&device) != cudaSuccess || device != p->device)
        return peer_fault(fault, cudaErrorInvalidValue,
                          "no such peer, no such loan, or not this peer's device", p->device, -1,
                          source.peer);
    const peer_slot&  owner = slot_of_peer(p, source.peer), &own = slot_of_peer(p, p->self);
    const peer_loan&  lent = loan_of(p, source.peer, source.loan);
    const bool        far = owner.process != own.process || owner.started != own.started;
    const cudaError_t there = check_peer(p, source.peer, PEER_LEFT, fault);
    if (there != cudaSuccess) return there;
    if (!lent.ready)
        return peer_fault(fault, cudaErrorIllegalState, "a peer has not lent this", -1, -1, source.peer);
    *bytes = lent.bytes;
    if (!lent.bytes) return cudaSuccess;
    const cudaError_t error = far ? open_loan(p, source.peer, source.loan, fault)
                                  : link_device(p->device, owner.device, true, source.peer, fault);
    if (error == cudaSuccess)
        *start = far ? static_cast<char*>(opened_of(p, source.peer, source.loan)) + lent.offset : lent.start;
    return error;
}

} // namespace ggnni

int32_t ggnn_cuda_local_rank()
{
    for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
        const char* text = getenv(name);
        char*       end = nullptr;
        if (!text) continue;
        const long rank = strtol(text, &end, 10);
        return end == text || *end || rank < 0 || rank > INT32_MAX ? -1 : static_cast<int32_t>(rank);
    }
    return 0;
}

cudaError_t ggnn_cuda_local_device(int* device)
{
    GGNNI_CUDA_REQUIRE(device);
    const int32_t     rank = ggnn_cuda_local_rank();
    int               devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess) return error;
    if (rank < 0) return cudaErrorInvalidValue;
    *device = rank % devices;
    return cudaSuccess;
}

cudaError_t ggnn_cuda_link(const int* device, int32_t n, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(n >= 0 && (device || n == 0));
    int         current = 0;
    cudaError_t error = ggnni::peer_fault(fault, cudaGetDevice(&current), "no device");
    for (int enable = 0; enable < 2; enable++)
        for (int32_t i = 0; i < n && error == cudaSuccess; i++) {
            if (enable) error = cudaSetDevice(device[i]);
            for (int32_t j = 0; j < n && error == cudaSuccess; j++)
                error = ggnni::link_device(device[i], device[j], enable, -1, fault);
        }
    return ggnni::first_error(error, cudaSetDevice(current));
}

size_t ggnn_cuda_peers_bytes(int32_t peers, int32_t loans)
{
    if (peers < 1 || loans < 1) return 0;
    const size_t all = static_cast<size_t>(peers) * static_cast<size_t>(loans);
    return static_cast<size_t>(peers) * sizeof(ggnni::peer_slot) + all * sizeof(ggnni::peer_loan) +
           static_cast<size_t>(peers) * all * sizeof(void*);
}

cudaError_t ggnn_cuda_peers_join(ggnn_cuda_peers* p, void* shared, int32_t peers, int32_t self, int32_t loans)
{
    pthread_mutexattr_t kind;
    GGNNI_CUDA_REQUIRE(p);
    *p = {nullptr, peers, self, loans, 0}; // not joined: _close does nothing
    GGNNI_CUDA_REQUIRE(shared && peers >= 1 && self >= 0 && self < peers && loans >= 1);
    ggnni::peer_slot& slot = static_cast<ggnni::peer_slot*>(shared)[self];
    cudaError_t       error = cudaGetDevice(&p->device);
    if (error == cudaSuccess && slot.state != ggnni::PEER_AWAITED) error = cudaErrorIllegalState;
    if (error == cudaSuccess)
        error = cudaDeviceGetPCIBusId(slot.bus, static_cast<int>(sizeof slot.bus), p->device);
    if (error != cudaSuccess) return error;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&slot.alive, &kind);
    pthread_mutexattr_destroy(&kind);
    pthread_mutex_lock(&slot.alive);
    slot.process = getpid();
    slot.started = ggnni::process_start();
    slot.device = p->device;
    p->shared = shared;
    slot.state = ggnni::PEER_JOINED;
    return cudaSuccess;
}

cudaError_t ggnn_cuda_peers_give_up(void* shared, int32_t peer)
{
    int32_t awaited = ggnni::PEER_AWAITED;
    GGNNI_CUDA_REQUIRE(shared && peer >= 0);
    static_cast<ggnni::peer_slot*>(shared)[peer].state.compare_exchange_strong(awaited, ggnni::PEER_GONE);
    return cudaSuccess;
}

cudaError_t ggnn_cuda_peers_lend(const ggnn_cuda_peers* p, int32_t loan, const void* allocation,
                                 size_t offset, size_t bytes)
{
    cudaPointerAttributes at = {};
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p) && loan >= 0 && loan < p->loans && (allocation || bytes == 0));
    ggnni::peer_loan& lent = ggnni::loan_of(p, p->self, loan);
    lent.offset = offset;
    lent.bytes = bytes;
    if (bytes) {
        cudaError_t error = cudaPointerGetAttributes(&at, allocation);
        if (error != cudaSuccess) return error;
        if (at.type != cudaMemoryTypeDevice || at.device != p->device) return cudaErrorInvalidValue;
        lent.start = static_cast<const char*>(allocation) + offset;
        lent.error = cudaIpcGetMemHandle(&lent.handle, const_cast<void*>(allocation));
        if (lent.error != cudaSuccess) cudaGetLastError(); // threads need no handle
    }
    lent.ready = 1;
    return cudaSuccess;
}

cudaError_t ggnn_cuda_peers_lend_lists(const ggnn_cuda_peers* p, int32_t loan, const ggnn_csc* lists,
                                       int64_t rows)
{
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p) && loan >= 0 && loan <= p->loans - 4 && lists && rows >= 0);
    GGNNI_CUDA_REQUIRE(lists->num_edges >= 0 && (lists->indptr || rows == 0));
    GGNNI_CUDA_REQUIRE(lists->indices || lists->num_edges == 0);
    const void*  array[4] = {lists->indptr, lists->first, lists->indices, lists->weight};
    const size_t n = static_cast<size_t>(rows), edges = static_cast<size_t>(lists->num_edges);
    const size_t bytes[4] = {(n + 1) * sizeof(int64_t), n * sizeof(int64_t), edges * sizeof(ggnn_node),
                             edges * sizeof(float)};
    cudaError_t  error = cudaSuccess;
    for (int32_t i = 0; i < 4 && error == cudaSuccess; i++)
        error = ggnn_cuda_peers_lend(p, loan + i, array[i], 0, array[i] ? bytes[i] : 0);
    return error;
}

cudaError_t ggnn_cuda_peers_check(const ggnn_cuda_peers* p, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p));
    cudaError_t error = ggnni::peer_fault(fault, cudaSuccess);
    for (int32_t peer = 0; peer < p->peers && error == cudaSuccess; peer++)
        error = ggnni::check_peer(p, peer, ggnni::PEER_GONE, fault);
    return error;
}

cudaError_t ggnn_cuda_peers_wait(const ggnn_cuda_peers* p, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p));
    const int64_t turn = ++ggnni::slot_of_peer(p, p->self).arrived;
    for (int32_t missing = 1; missing;) {
        missing = 0;
        for (int32_t peer = 0; peer < p->peers; peer++) {
            const std::atomic<int64_t>& arrived = ggnni::slot_of_peer(p, peer).arrived;
            if (arrived >= turn) continue;
            const cudaError_t error = ggnni::check_peer(p, peer, ggnni::PEER_CLOSED, fault);
            if (error != cudaSuccess && arrived < turn) return error; // else it came before it ended
            missing++;
        }
        if (missing) ggnni::pause_for_peers();
    }
    return ggnni::peer_fault(fault, cudaSuccess);
}

cudaError_t ggnn_cuda_peers_rows(const void** base, const ggnn_cuda_peers* p, const ggnn_cuda_source* source,
                                 int32_t parts, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p) && parts >= 0 && (parts == 0 || (base && source)));
    cudaError_t error = ggnni::peer_fault(fault, cudaSuccess);
    size_t      bytes;
    for (int32_t i = 0; i < parts && error == cudaSuccess; i++)
        error = ggnni::borrow(base + i, &bytes, p, source[i], fault);
    return error;
}

cudaError_t ggnn_cuda_peers_lists(ggnn_csc* part, const ggnn_cuda_peers* p, const ggnn_cuda_source* source,
                                  int32_t parts, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(ggnni::has_joined(p) && parts >= 0 && (parts == 0 || (part && source)));
    cudaError_t error = ggnni::peer_fault(fault, cudaSuccess);
    for (int32_t i = 0; i < parts && error == cudaSuccess; i++) {
        const void* array[4] = {};
        size_t      bytes[4] = {};
        for (int32_t j = 0; j < 4 && error == cudaSuccess; j++)
            error = ggnni::borrow(array + j, bytes + j, p, {source[i].peer, source[i].loan + j}, fault);
        part[i].indptr = static_cast<const int64_t*>(array[0]);
        part[i].first = static_cast<const int64_t*>(array[1]);
        part[i].indices = static_cast<const ggnn_node*>(array[2]);
        part[i].weight = static_cast<const float*>(array[3]);
        part[i].num_edges = static_cast<int64_t>(bytes[2] / sizeof(ggnn_node));
    }
    return error;
}

cudaError_t ggnn_cuda_peers_close(ggnn_cuda_peers* p, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(p);
    cudaError_t error = ggnni::peer_fault(fault, cudaSuccess);
    if (!p->shared) return error;
    error = cudaDeviceSynchronize();
    for (int32_t peer = 0; peer < p->peers; peer++)
        for (int32_t loan = 0; loan < p->loans; loan++) {
            void*& opened = ggnni::opened_of(p, peer, loan);
            if (opened) error = ggnni::first_error(error, cudaIpcCloseMemHandle(opened));
            opened = nullptr;
        }
    ggnni::peer_slot& own = ggnni::slot_of_peer(p, p->self);
    own.state = ggnni::PEER_CLOSED;
    for (int32_t peer = 0; peer < p->peers; peer++) {
        while (ggnni::state_of_peer(p, peer) == ggnni::PEER_JOINED) ggnni::pause_for_peers();
        if (error == cudaSuccess) error = ggnni::check_peer(p, peer, ggnni::PEER_GONE, fault);
    }
    own.state = ggnni::PEER_LEFT;
    pthread_mutex_unlock(&own.alive);
    p->shared = nullptr;
    return error;
}

#ifdef GGNN_PLAN_H
// ---- all of it in one call ---------------------------------------------------------

namespace ggnni {

struct host_memory {
    void* at;
    explicit host_memory(size_t bytes) : at(calloc(bytes ? bytes : 1, 1)) {}
    host_memory(const host_memory&) = delete;
    ~host_memory() { free(at); }
};

template <class T> cudaError_t send_array(const T* to, const void* from, int64_t n)
{
    if (n == 0) return cudaSuccess;
    return cudaMemcpy(const_cast<T*>(to), from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice);
}

constexpr int64_t DIST_STEP = 1 << 14; // nodes

// Lists [i, i + n) of a part, behind `edge` edges; the plan has seen that no list is broken.
inline cudaError_t send_some_lists(const ggnn_csc& to, const ggnn_dist* plan, const ggnn_node* id, int64_t i,
                                   int64_t n, int64_t* edge)
{
    int64_t edges = 0;
    size_t  bytes = 0;
    for (int64_t j = 0; j < n; j++) edges += ggnn_neighbors(&plan->whole, id[j]).degree;
    ggnn_dist_lists(&bytes, nullptr, &plan->whole, n, edges);
    const host_memory way(bytes);
    if (!way.at) return cudaErrorMemoryAllocation;
    const ggnn_csc some = ggnn_dist_lists(nullptr, way.at, &plan->whole, n, edges);
    int64_t*       indptr = const_cast<int64_t*>(some.indptr);
    ggnn_graph_lists(indptr, const_cast<int64_t*>(some.first), const_cast<ggnn_node*>(some.indices),
                     const_cast<float*>(some.weight), &plan->whole, id, n, nullptr);
    for (int64_t j = 0; j <= n; j++) indptr[j] += *edge;
    cudaError_t error = send_array(to.indptr + i, some.indptr, n + 1);
    if (error == cudaSuccess) error = send_array(to.first + i, some.first, n);
    if (error == cudaSuccess) error = send_array(to.indices + *edge, some.indices, edges);
    if (error == cudaSuccess && to.weight) error = send_array(to.weight + *edge, some.weight, edges);
    *edge += edges;
    return error;
}

inline cudaError_t send_some_rows(char* to, const ggnn_dist* plan, const ggnn_node* id, int64_t n)
{
    const ggnn_store& rows = plan->all_rows;
    const int64_t     bytes = n * rows.pitch;
    const host_memory way(static_cast<size_t>(bytes));
    if (!way.at) return cudaErrorMemoryAllocation;
    ggnn_gather(way.at, rows.pitch / ggnn_type_bytes(rows.type), rows.type, &rows, id, n);
    return send_array(to, way.at, bytes);
}

// Part p on the current device, as ggnn_dist_cut lays it out.
inline cudaError_t make_part(ggnn_cuda_dist* d, const ggnn_dist* plan, int32_t p)
{
    const ggnn_dist_part& of = plan->part[p];
    if (of.bytes == 0) return cudaSuccess;
    cudaError_t error = cudaMalloc(&d->part, of.bytes);
    if (error != cudaSuccess) return error;
    d->part_bytes = static_cast<int64_t>(of.bytes);
    const ggnn_csc to = ggnn_dist_lists(nullptr, d->part, &plan->whole, of.lists, of.edges);
    int64_t        edge = 0;
    for (int64_t i = 0, n; i < of.lists && error == cudaSuccess; i += n) {
        n = of.lists - i < DIST_STEP ? of.lists - i : DIST_STEP;
        error = send_some_lists(to, plan, plan->list_id + of.list_at + i, i, n, &edge);
    }
    char* rows = static_cast<char*>(d->part) + of.row_offset;
    for (int64_t i = 0, n; i < of.rows && error == cudaSuccess; i += n) {
        n = of.rows - i < DIST_STEP ? of.rows - i : DIST_STEP;
        error = send_some_rows(rows + i * plan->all_rows.pitch, plan, plan->row_id + of.row_at + i, n);
    }
    return first_error(error, cudaDeviceSynchronize());
}

// Each page is looked at: arrays may share their first and last.
inline bool is_pinned(const void* from, size_t bytes)
{
    enum { PAGE = 4096 };
    cudaPointerAttributes at = {};
    void*                 there = nullptr;
    for (size_t i = 0; i < bytes + PAGE - 1; i += PAGE) {
        const char* byte = static_cast<const char*>(from) + (i < bytes ? i : bytes - 1);
        if (cudaPointerGetAttributes(&at, byte) != cudaSuccess || at.type != cudaMemoryTypeHost) return false;
    }
    return cudaHostGetDevicePointer(&there, const_cast<void*>(from), 0) == cudaSuccess;
}

// Array i of the host tier, pinned where it lies or copied. Returns what is pinned; NULL: no memory.
inline const void* pin_array(ggnn_cuda_dist* d, int i, const void* from, size_t bytes)
{
    const unsigned how = cudaHostRegisterPortable | cudaHostRegisterMapped;
    void*          there = const_cast<void*>(from);
    for (unsigned read_only : {static_cast<unsigned>(cudaHostRegisterReadOnly), 0u}) {
        if (cudaHostRegister(there, bytes, how | read_only) == cudaSuccess) return d->registered[i] = there;
        cudaGetLastError(); // a device that cannot promise not to write
    }
    if (is_pinned(from, bytes)) return from; // by the caller, or by another peer of this process
    cudaGetLastError();
    if (cudaHostAlloc(&d->copy[i], bytes, cudaHostAllocPortable | cudaHostAllocMapped) != cudaSuccess) {
        cudaGetLastError(); // it is told by the caller
        return d->copy[i] = nullptr;
    }
    d->copied_bytes += static_cast<int64_t>(bytes);
    return memcpy(d->copy[i], from, bytes);
}

// host: where the whole arrays are read, pinned: indptr, indices, weight, rows; NULL where they are not.
inline cudaError_t pin_host(const void* (&host)[4], ggnn_cuda_dist* d, const ggnn_dist* plan)
{
    const ggnn_csc& all = plan->whole.whole;
    const int64_t   n = plan->whole.num_nodes, edges = plan->whole.num_edges;
    const bool      lists = plan->graph.at.stored < n, rows = plan->rows.at.stored < n;
    const void*     array[4] = {all.indptr, all.indices, all.weight, plan->all_rows.rows};
    const int64_t   bytes[4] = {(n + 1) * static_cast<int64_t>(sizeof(int64_t)),
                                edges * static_cast<int64_t>(sizeof(ggnn_node)),
                                edges * static_cast<int64_t>(sizeof(float)), n * plan->all_rows.pitch};
    for (int i = 0; i < 4; i++) {
        host[i] = nullptr;
        if (!array[i] || bytes[i] == 0 || !(i == 3 ? rows : lists)) continue;
        host[i] = pin_array(d, i, array[i], static_cast<size_t>(bytes[i]));
        if (!host[i]) return cudaErrorMemoryAllocation;
    }
    return cudaSuccess;
}

// Where the plan's tables and ranks lie on the device, one after the other; without `to`: their bytes alone.
inline cudaError_t place_tables(ggnn_cuda_dist* d, const ggnn_dist* plan, char* to)
{
    const int64_t slots = plan->graph.at.parts + 2, n = plan->whole.num_nodes;
    cudaError_t   error = cudaSuccess;
    int64_t       used = 0;
    const auto    put = [&](auto* from, int64_t count) -> decltype(from) { // NULL: zeros
        char* at = to ? to + used : nullptr;
        used += (count * static_cast<int64_t>(sizeof *from) + 7) / 8 * 8;
        const size_t bytes = static_cast<size_t>(count) * sizeof *from;
        if (to && error == cudaSuccess && from) error = cudaMemcpy(at, from, bytes, cudaMemcpyHostToDevice);
        if (to && error == cudaSuccess && !from) error = cudaMemset(at, 0, bytes);
        return reinterpret_cast<decltype(from)>(at);
    };
    d->graph = plan->graph;
    d->rows = plan->rows;
    d->graph.part = put(plan->graph.part, slots);
    d->rows.base = put(plan->rows.base, slots);
    d->graph.traffic = put(static_cast<int64_t*>(nullptr), slots);
    d->rows.traffic = put(static_cast<int64_t*>(nullptr), slots);
    if (plan->graph.at.rank) d->graph.at.rank = put(plan->graph.at.rank, n);
    if (plan->rows.at.rank && plan->rows.at.rank == plan->graph.at.rank) d->rows.at.rank = d->graph.at.rank;
    else if (plan->rows.at.rank) d->rows.at.rank = put(plan->rows.at.rank, n);
    d->table_bytes = used;
    return error;
}

// The tables of all parts and of the host tier, at the current device's addresses.
inline cudaError_t make_tables(ggnn_cuda_dist* d, ggnn_dist* plan, void* const* part,
                               const void* const (&host)[4])
{
    void*       at[4] = {};
    cudaError_t error = ggnn_dist_open(plan, part) == GGNN_OK ? cudaSuccess : cudaErrorInvalidValue;
    for (int i = 0; i < 4 && error == cudaSuccess; i++)
        if (host[i]) error = cudaHostGetDevicePointer(&at[i], const_cast<void*>(host[i]), 0);
    if (error != cudaSuccess) return error;
    const int32_t slot = plan->graph.at.parts; // its tables lie in the workspace
    const_cast<const void**>(plan->rows.base)[slot] = at[3];
    const_cast<ggnn_csc*>(plan->graph.part)[slot] = {
        static_cast<int64_t*>(at[0]), nullptr, static_cast<ggnn_node*>(at[1]), static_cast<float*>(at[2]),
        plan->whole.num_edges};
    place_tables(d, plan, nullptr);
    error = cudaMalloc(&d->tables, static_cast<size_t>(d->table_bytes));
    if (error == cudaSuccess) error = place_tables(d, plan, static_cast<char*>(d->tables));
    return first_error(error, cudaDeviceSynchronize());
}

// A peer's own part is lent, and all are borrowed: where it reads each.
inline cudaError_t share_parts(void** part, const ggnn_cuda_dist* d, const ggnn_dist* plan,
                               ggnn_cuda_fault* fault)
{
    const ggnn_cuda_peers* p = &d->peers;
    size_t                 bytes = static_cast<size_t>(d->part_bytes);
    cudaError_t            error = ggnn_cuda_peers_lend(p, 0, d->part, 0, bytes);
    peer_fault(fault, error, "a part cannot be lent");
    if (error == cudaSuccess) error = ggnn_cuda_peers_wait(p, fault);
    for (int32_t q = 0; q < p->peers && error == cudaSuccess; q++) {
        const void* start;
        error = borrow(&start, &bytes, p, {q, 0}, fault);
        if (error == cudaSuccess && bytes != plan->part[q].bytes)
            error = peer_fault(fault, cudaErrorInvalidValue,
                               "a peer's part has another size: its data, ratios or ranking differ", -1, -1,
                               q);
        part[q] = const_cast<void*>(start);
    }
    return error;
}

// n devices' parts and tables: of one thread, or of a peer, which has joined.
inline cudaError_t fill_dist(ggnn_cuda_dist* d, int32_t n, const ggnn_dist_data* from, ggnn_cuda_fault* fault)
{
    const bool        alone = !has_joined(&d->peers);
    const host_memory work(ggnn_dist_bytes(from->graph.num_nodes, from->parts));
    ggnn_dist         plan;
    ggnn_fault        why = {};
    const void*       host[4];
    void*             part[GGNN_CUDA_PARTS_MAX] = {};
    cudaError_t       error = cudaSuccess;
    if (!work.at) return peer_fault(fault, cudaErrorMemoryAllocation, "no memory of the host for the plan");
    if (ggnn_dist_plan(&plan, from, work.at, &why) != GGNN_OK)
        return peer_fault(fault, cudaErrorInvalidValue, why.what);
    for (int32_t i = 0; i < n && error == cudaSuccess; i++) {
        error = cudaSetDevice(d[i].device);
        if (error == cudaSuccess) error = make_part(d + i, &plan, alone ? i : d->peers.self);
        peer_fault(fault, error, "a part could not be allocated and filled");
        part[i] = d[i].part;
    }
    if (error == cudaSuccess)
        error = peer_fault(fault, pin_host(host, d, &plan), "the host tier could not be pinned");
    if (error == cudaSuccess && !alone) error = share_parts(part, d, &plan, fault);
    for (int32_t i = 0; i < n && error == cudaSuccess; i++) {
        error = cudaSetDevice(d[i].device);
        if (error == cudaSuccess) error = make_tables(d + i, &plan, part, host);
        peer_fault(fault, error, "the tables of parts could not be made");
    }
    if (error == cudaSuccess && !alone) error = ggnn_cuda_peers_wait(&d->peers, fault); // all have opened
    return error;
}

} // namespace ggnni

cudaError_t ggnn_cuda_dist_open(ggnn_cuda_dist* d, const ggnn_dist_data* from, const int* device,
                                void* shared, int32_t self, ggnn_cuda_fault* fault)
{
    if (!d || !from || (device == nullptr) == (shared == nullptr))
        return ggnni::peer_fault(fault, cudaErrorInvalidValue, "not d, data, and device or shared alone");
    if (from->parts < 1 || from->parts > GGNN_CUDA_PARTS_MAX)
        return ggnni::peer_fault(fault, cudaErrorInvalidValue, "parts are not 1 to GGNN_CUDA_PARTS_MAX");
    const int32_t n = device ? from->parts : 1;
    int           current = 0;
    cudaError_t   error = ggnni::peer_fault(fault, cudaGetDevice(&current), "no device");
    for (int32_t i = 0; i < n; i++) {
        d[i] = {};
        d[i].device = device ? device[i] : current;
    }
    if (error == cudaSuccess && device) error = ggnn_cuda_link(device, n, fault);
    if (error == cudaSuccess && !device)
        error = ggnni::peer_fault(fault, ggnn_cuda_peers_join(&d->peers, shared, from->parts, self, 1),
                                  "no such peer, or it has joined already or was given up");
    if (error == cudaSuccess) error = ggnni::fill_dist(d, n, from, fault);
    if (error != cudaSuccess) {
        cudaGetLastError(); // it is told
        ggnn_cuda_dist_close(d, n, nullptr);
    }
    cudaSetDevice(current);
    return error;
}

cudaError_t ggnn_cuda_dist_close(ggnn_cuda_dist* d, int32_t n, ggnn_cuda_fault* fault)
{
    GGNNI_CUDA_REQUIRE(n >= 0 && (d || n == 0));
    int         current = 0;
    cudaError_t error = ggnni::peer_fault(fault, cudaGetDevice(&current), "no device");
    if (n == 1 && error == cudaSuccess) error = ggnn_cuda_peers_close(&d->peers, fault);
    for (int32_t i = 0; i < n; i++) // all, before any part is freed
        if (d[i].tables && cudaSetDevice(d[i].device) == cudaSuccess)
            error = ggnni::first_error(error, cudaDeviceSynchronize());
    for (int32_t i = 0; i < n; i++) {
        if (d[i].part || d[i].tables) cudaSetDevice(d[i].device);
        error = ggnni::first_error(error, cudaFree(d[i].part));
        error = ggnni::first_error(error, cudaFree(d[i].tables));
        for (void* array : d[i].registered)
            if (array) error = ggnni::first_error(error, cudaHostUnregister(array));
        for (void* array : d[i].copy)
            if (array) error = ggnni::first_error(error, cudaFreeHost(array));
        d[i] = {};
    }
    return ggnni::first_error(error, cudaSetDevice(current));
}
#endif

// =============================================================================
// ==== [8i] SPARSE: sum, mean, maximum and minimum of rows
// =============================================================================
// One kernel, reduce_lists, goes over a block's lists; what is done with the edges of a list is an operation
// that it is given: a sum, a maximum, what MAX sends back, atomic adds, attention. One launch is right for
// any block, though the host knows no degree:
//   lists of at most 256 edges: thread t has chunk t % C of list t / C, edge by edge, four rows under way;
//   of transposes, most of whose lists have one edge: those of at most 4, four lists a thread, the i-th edges
//   of all at once;
//   longer ones: each block looks through those lists that fall to it, up to 16 chunks of columns of each.
//   One of at most 256 edges is then 16 threads' as above; of a longer one a thread sums one chunk over one
//   segment of 256 edges, and the segments' sums are then added in order.
// Where a list's own row is an entry too, edges and itself are counted.

namespace ggnni {

// (One enum: a sum of two warns in C++20.)
enum { SEGMENT = 256, FEW = 4, LANES = 16, LONG_VALUES = THREADS + LANES };

// ---- lists ------------------------------------------------------------------

struct lists { // of a block
    ggnn_count     n;
    const int64_t* indptr;
    divider        chunks[2]; // of a row: [0] of one element each, [1] as wide as they can be
    divider        groups[2]; // of LANES chunks

    // Fewer than 2^31 edges: 32 bits do.
    __device__ int32_t begin(int32_t v) const { return static_cast<int32_t>(__ldg(indptr + v)); }
};

template <int N> using columns = chunk<float, N>;

// An operation is a list_op, a sum if it says nothing else, with
//   part<N>             a segment's result of N columns, made of 4-byte words alone
//   WIDEST              the most elements of a chunk
//   BLOCKS              that a multiprocessor is to have registers for
//   allow(N)            whether chunks of N elements can be read
//   own(v)              1 if list v's first entry is v itself, before its edges
//   reduce              the part of n <= SEGMENT entries, the first being its list's entry `first`; `begin`
//                       is the list's first edge plus `first`
//   join                the part so far, and that of the next segment
//   finish              writes list v's columns, of n entries
//   FEW_EACH            whether few_each does four lists at once, of at most FEW entries each
//   LOOKS               whether a longer list's segments are looked at first: look() gives each its greatest,
//                       and reduce_under, not reduce, gets that of all up to its own: the part's `most`
struct list_op {
    template <int N> using part = columns<N>;
    static constexpr bool FEW_EACH = false, LOOKS = false;
    lists                 l;

    __device__ bool allow(size_t) const { return true; }
    __device__ int32_t own(int32_t) const { return 0; }
    template <int N> __device__ void join(columns<N>& sum, const columns<N>& next) const
    {
#pragma unroll
        for (int j = 0; j < N; j++) sum.at[j] = __fadd_rn(sum.at[j], next.at[j]);
    }
};

template <int N, class Op> __device__ inline void short_lists(const Op& op)
{
    constexpr int TOGETHER = Op::FEW_EACH ? IN_FLIGHT : 1;
    const divider chunks = op.l.chunks[N > 1];
    const int32_t lists = static_cast<int32_t>(size_of(op.l.n));
    for (uint32_t tile = blockIdx.x;; tile += gridDim.x) { // 2^40 chunks are more than memory has
        const int64_t t = static_cast<int64_t>(tile) * THREADS + threadIdx.x;
        const int64_t group = quotient(t, chunks);
        const int32_t v = static_cast<int32_t>(group * TOGETHER);
        const int32_t column = static_cast<int32_t>(t - group * chunks.by) * N;
        if constexpr (Op::FEW_EACH) {
            if (group * TOGETHER >= op.then.written(lists)) return;
            op.template few_each<N>(v, lists, column);
        } else {
            if (group >= lists) return;
            const int32_t begin = op.l.begin(v), n = op.l.begin(v + 1) - begin + op.own(v);
            typename Op::template part<N> result;
            if (n > SEGMENT) continue;
            op.reduce(result, v, column, begin, 0, n);
            op.finish(result, v, column, n);
        }
    }
}

template <class Op> struct long_memory {
    template <int N> using part = typename Op::template part<N>;
    uint32_t word[(sizeof(part<Op::WIDEST>) + 3) / 4][LONG_VALUES]; // of segments; then of the list so far
    float    look[Op::LOOKS ? THREADS : 1];                         // of segments
    int64_t  item[THREADS]; // those of one segment from the front on, longer ones from the end
    int32_t  shorts, longs;

    template <int N> __device__ void put(int32_t at, const part<N>& from)
    {
        constexpr int WORDS = sizeof from / 4; // of an empty part none
#pragma unroll
        for (int i = 0; i < WORDS; i++) memcpy(&word[i][at], reinterpret_cast<const char*>(&from) + 4 * i, 4);
    }
    template <int N> __device__ void get(part<N>& to, int32_t at) const
    {
        constexpr int WORDS = sizeof to / 4;
#pragma unroll
        for (int i = 0; i < WORDS; i++) memcpy(reinterpret_cast<char*>(&to) + 4 * i, &word[i][at], 4);
    }
};

// A thread's share of item = (list, group): a chunk of the group, and segments slot, slot + slots .. of the
// list.
struct long_share {
    int32_t v, begin, n, segments, chunk, slot, slots, lanes;
    bool    works;
};
template <int N, class Op> __device__ inline long_share share_of(const Op& op, int64_t item)
{
    const divider groups = op.l.groups[N > 1];
    const int32_t chunks = static_cast<int32_t>(op.l.chunks[N > 1].by);
    const int32_t thread = static_cast<int32_t>(threadIdx.x);
    long_share    s;
    s.v = static_cast<int32_t>(quotient(item, groups));
    s.begin = op.l.begin(s.v);
    s.n = op.l.begin(s.v + 1) - s.begin + op.own(s.v);
    s.segments = (s.n - 1) / SEGMENT + 1;
    s.lanes = chunks < LANES ? chunks : LANES;
    s.slot = thread / s.lanes;
    s.slots = THREADS / s.lanes;
    s.chunk = static_cast<int32_t>(item - s.v * groups.by) * LANES + thread % s.lanes;
    s.works = s.slot < s.slots && s.chunk < chunks;
    return s;
}

// Items of one segment: as many at once as the block has slots.
template <int N, class Op> __device__ inline void segment_lists(const Op& op, const long_memory<Op>& memory)
{
    for (int32_t i = share_of<N>(op, 0).slot; i < memory.shorts; i += share_of<N>(op, 0).slots) {
        const long_share s = share_of<N>(op, memory.item[i]);
        typename Op::template part<N> result;
        if (!s.works) continue;
        op.reduce(result, s.v, s.chunk * N, s.begin, 0, s.n);
        op.finish(result, s.v, s.chunk * N, s.n);
    }
}

// Leaves the part of a thread's segment of a long list in memory. The whole block comes.
template <int N, class Op>
__device__ inline void long_segment(const Op& op, long_memory<Op>& memory, const long_share& s, int32_t round)
{
    const int32_t thread = static_cast<int32_t>(threadIdx.x), segment = round * s.slots + s.slot;
    const bool    works = s.works && segment < s.segments;
    const auto    over = static_cast<uint32_t>(segment) * SEGMENT, left = s.n - over; // without work: wrap
    const int32_t first = static_cast<int32_t>(over), begin = static_cast<int32_t>(s.begin + over);
    const int32_t n = static_cast<int32_t>(left < SEGMENT ? left : +SEGMENT), column = s.chunk * N;
    typename Op::template part<N> part;
    if constexpr (Op::LOOKS) {
        float most = -INFINITY;
        if (works) memory.look[thread] = op.look(s.v, column, begin, first, n);
        __syncthreads();
        if (!works) return;
        if (round) {
            memory.template get<N>(part, THREADS + thread % s.lanes);
            most = part.most;
        }
        for (int32_t at = thread % s.lanes; at <= thread; at += s.lanes)
            most = memory.look[at] > most ? memory.look[at] : most;
        op.reduce_under(part, most, s.v, column, begin, first, n);
    } else {
        if (!works) return;
        op.reduce(part, s.v, column, begin, first, n);
    }
    memory.template put<N>(thread, part);
}

// An item, by the whole block. Each thread leaves its segment's part; between a round's last two barriers
// those of slot 0 join them in order. Shares are worked out again after a barrier: registers are for rows.
template <int N, class Op> __device__ inline void long_list(const Op& op, long_memory<Op>& memory, int32_t i)
{
    const int32_t thread = static_cast<int32_t>(threadIdx.x);
    for (int32_t round = 0;; round++) {
        typename Op::template part<N> result, part;
        long_share s = share_of<N>(op, memory.item[i]);
        if (round * s.slots >= s.segments) break;
        long_segment<N>(op, memory, s, round);
        __syncthreads();
        s = share_of<N>(op, memory.item[i]);
        if (s.works && s.slot == 0) {
            memory.template get<N>(result, round ? THREADS + thread : thread);
#pragma unroll 1
            for (int32_t slot = round == 0; slot < s.slots && round * s.slots + slot < s.segments; slot++) {
                memory.template get<N>(part, slot * s.lanes + thread);
                op.join(result, part);
            }
            memory.template put<N>(THREADS + thread, result);
            if ((round + 1) * s.slots >= s.segments) op.finish(result, s.v, s.chunk * N, s.n);
        }
        __syncthreads();
    }
}

// What short_lists left. Blocks are dealt items one by one, so that hubs that are neighbours go to different
// blocks.
template <int N, class Op> __device__ inline void long_lists(const Op& op, long_memory<Op>& memory)
{
    const divider groups = op.l.groups[N > 1];
    const int64_t items = size_of(op.l.n) * groups.by;
    for (uint32_t nth = 0; blockIdx.x + static_cast<int64_t>(nth) * gridDim.x < items; nth += THREADS) {
        int64_t item = blockIdx.x + static_cast<int64_t>(nth + threadIdx.x) * gridDim.x;
        int32_t v = static_cast<int32_t>(quotient(item, groups));
        int32_t n = item < items ? op.l.begin(v + 1) - op.l.begin(v) + op.own(v) : 0;
        if (threadIdx.x == 0) memory.shorts = memory.longs = 0;
        if (!__syncthreads_or(n > (Op::FEW_EACH ? FEW : SEGMENT))) continue;
        if (n > SEGMENT) // in any order: they are independent
            memory.item[THREADS - 1 - atomicAdd(&memory.longs, 1)] = item;
        else if (Op::FEW_EACH && n > FEW)
            memory.item[atomicAdd(&memory.shorts, 1)] = item;
        __syncthreads();
        if constexpr (Op::FEW_EACH) segment_lists<N>(op, memory);
        for (int32_t i = 0; i < memory.longs; i++) long_list<N>(op, memory, THREADS - 1 - i);
        __syncthreads();
    }
}

template <int N, class Op> __device__ inline void all_lists(const Op& op, long_memory<Op>& memory)
{
    short_lists<N>(op);
    long_lists<N>(op, memory);
}

// Nobody but its thread writes a chunk of a short list, nobody but slot 0's a chunk of a long one.
// 16-byte loads: 258 in 21 instances
template <class Op, int N> static GGNNI_KERNEL(80, THREADS, Op::BLOCKS) reduce_lists(Op op)
{
    __shared__ long_memory<Op> memory;
    if (N > 1 && !op.allow(N))
        all_lists<1>(op, memory);
    else
        all_lists<N>(op, memory);
}

template <int N, class Op> inline cudaError_t launch_chunks(Op& op, int32_t width, cudaStream_t stream)
{
    for (int i = 0; i < 2; i++) {
        op.l.chunks[i] = divide_by(i ? width / N : width);
        op.l.groups[i] = divide_by(tiles_of(op.l.chunks[i].by, LANES));
    }
    return launch_items(reduce_lists<Op, N>, op.l.n.max * op.l.chunks[1].by, stream, op);
}

// grain: of all matrices. Chunks must divide a head, too.
template <class Op>
inline cudaError_t launch_lists(Op op, const ggnn_block* b, int32_t width, int32_t heads, uint64_t grain,
                                cudaStream_t stream)
{
    op.l.n = b->num_dst;
    op.l.indptr = b->indptr;
    switch (chunk_elements(grain | static_cast<uint64_t>(width / heads), Op::WIDEST)) {
    case 8: return launch_chunks<Op::WIDEST>(op, width, stream);
    case 4: return launch_chunks<4>(op, width, stream);
    case 2: return launch_chunks<2>(op, width, stream);
    default: return launch_chunks<1>(op, width, stream);
    }
}

// ---- what edges name --------------------------------------------------------

struct matrix_rows { // rows by local id
    using element = float;
    using key = int32_t;
    static constexpr int  WIDEST = 4, BLOCKS = 4, BLOCKS_MORE = 4;
    static constexpr bool MESSAGES = false, TRANSPOSES = true;
    const char*           start;
    uint32_t              pitch; // bytes
    const int32_t*        indices;

    __device__ bool allow(size_t) const { return true; }
    __device__ const char* row(int64_t u) const { return start + u * pitch; }
    __device__ const char* row(int32_t u) const // by one instruction
    {
        return start + static_cast<uint64_t>(static_cast<uint32_t>(u)) * pitch;
    }
    __device__ int32_t source(int32_t e, int32_t) const { return __ldg(indices + e); }
    // What the edges from e on name, -1 from the `left`-th on; and where that is.
    template <int U> __device__ void find(key (&u)[U], int32_t e, int32_t left) const
    {
#pragma unroll
        for (int k = 0; k < U; k++) u[k] = k < left ? __ldg(indices + e + k) : -1;
    }
    template <class Key, int U> __device__ void locate(const char* (&row)[U], const Key (&u)[U]) const
    {
#pragma unroll
        for (int k = 0; k < U; k++) row[k] = this->row(u[k]);
    }
    __device__ const char* own(int32_t v) const { return row(v); }
};

struct entry_rows : matrix_rows { // rows by entries: first the lists' own, then the edges'
    using key = int64_t;
    ggnn_count num_own; // indices: the edges' numbers; NULL: 0, 1, ..

    __device__ int64_t source(int32_t e, int32_t own) const
    {
        return int64_t{own} + (indices ? __ldg(indices + e) : e);
    }
    template <int U> __device__ void find(key (&u)[U], int32_t e, int32_t left) const
    {
        const int32_t own = static_cast<int32_t>(size_of(num_own));
#pragma unroll
        for (int k = 0; k < U; k++) u[k] = k < left ? source(e + k, own) : -1;
    }
};

inline matrix_rows rows_of(const float* inp, int64_t ld, const int32_t* indices)
{
    return {reinterpret_cast<const char*>(inp), static_cast<uint32_t>(ld * 4), indices};
}

// Messages: what an edge's row makes of these.
struct message_rows : matrix_rows {
    static constexpr int  BLOCKS = 3, BLOCKS_MORE = 3;
    static constexpr bool MESSAGES = true, TRANSPOSES = false;
    const float*          edge;
    int64_t               ld_edge;
    const int32_t*        number; // of a transpose's edges, or NULL
    ggnn_message          message;

    // The message of edge e, whose source's row is x.
    template <int N> __device__ chunk<float, N> of(const char* x, int32_t e, int32_t column) const
    {
        chunk<float, N> m = load_chunk<N>(edge + (number ? __ldg(number + e) : e) * ld_edge + column), from;
        if (message == GGNN_EDGE_COPY) return m;
        from = load_chunk<N>(reinterpret_cast<const float*>(x) + column);
#pragma unroll
        for (int j = 0; j < N; j++)
            m.at[j] = message == GGNN_EDGE_TIMES ? __fmul_rn(from.at[j], m.at[j])
                                                 : __fadd_rn(from.at[j], m.at[j]);
        return m;
    }
};

// The global id of a block's source or target; ids NULL: the local one.
__device__ inline ggnn_node id_of(const ggnn_node* ids, int64_t i)
{
    return ids ? __ldg(ids + i) : static_cast<ggnn_node>(i);
}

template <class T> struct store_rows { // rows by global id
    using element = T;
    using key = ggnn_node;
    static constexpr int  WIDEST = sizeof(T) == 2 ? 8 : 4, BLOCKS_MORE = 3;
    static constexpr int  BLOCKS = sizeof(T) == 2 || sizeof(ggnn_node) == 8 ? 3 : 4;
    static constexpr bool MESSAGES = false, TRANSPOSES = false;
    ggnn_store            from;
    fast_layout           at;
    const ggnn_node *     neighbor, *id;
    const int32_t*        indices;

    __device__ bool allow(size_t elements) const { return bases_allow(from, elements * sizeof(T)); }
    template <int U> __device__ void find(key (&u)[U], int32_t e, int32_t left) const
    {
#pragma unroll
        for (int k = 0; k < U; k++) {
            u[k] = -1;
            if (k < left)
                u[k] = neighbor ? __ldg(neighbor + e + k) : static_cast<key>(__ldg(indices + e + k));
        }
#pragma unroll
        for (int k = 0; k < U; k++)
            if (k < left && !neighbor) u[k] = id_of(id, u[k]);
    }
    template <int U> __device__ void locate(const char* (&row)[U], const key (&u)[U]) const
    {
        find_rows(row, from, at, u, ALL_TIERS);
    }
    __device__ const char* own(int32_t v) const
    {
        const ggnn_node u[1] = {id_of(id, v)};
        const char*     row[1];
        find_rows(row, from, at, u, ALL_TIERS);
        return row[0];
    }
};

template <int N, class Rows>
__device__ inline chunk<typename Rows::element, N> load_columns(const char* row, int32_t column)
{
    return load_chunk<N>(reinterpret_cast<const typename Rows::element*>(row) + column);
}

// What edge e gives to a sum: columns of the row that it names, or its message.
template <int N, class Rows>
__device__ inline chunk<typename Rows::element, N> load_edge(const Rows& rows, const char* row, int32_t e,
                                                             int32_t column)
{
    if constexpr (Rows::MESSAGES) return rows.template of<N>(row, e, column);
    else return load_columns<N, Rows>(row, column);
}

struct edge_weights {
    const float*   weight; // (num_edges, heads) or NULL: ones
    const int32_t* edge;   // of a transpose, or NULL
    int32_t        heads, per_head;

    // Of edge e, for the head that column belongs to.
    __device__ float of(int32_t e, int32_t column) const
    {
        return weight ? at(number(e), column) : 1.0f;
    }
    __device__ float at(int32_t number, int32_t column) const
    {
        return __ldg(weight + static_cast<int64_t>(number) * heads + head_of(column));
    }
    __device__ int32_t number(int32_t e) const { return edge ? __ldg(edge + e) : e; }
    __device__ int32_t head_of(int32_t column) const { return heads > 1 ? column / per_head : 0; }
};

struct target_count { // of the targets that are sources too
    ggnn_count num_dst, num_src;

    __device__ int64_t size() const
    {
        int64_t dst = size_of(num_dst), src = size_of(num_src);
        return dst < src ? dst : src;
    }
};
inline target_count targets_of(const ggnn_block* b) // all of a global hop, whose sources are not numbered
{
    target_count n = {b->num_dst, b->indices || !b->neighbor ? b->num_src : b->num_dst};
    return n;
}

// ---- sum, mean --------------------------------------------------------------

// What sums and maxima have in common: rows times factors, weight * src.
template <class Rows> struct rows_op : list_op {
    Rows         rows;
    edge_weights weights;
    ggnn_scale   scale; // dst and self: of sums
    float*       out;
    int64_t      ld_out;

    __device__ bool allow(size_t elements) const { return rows.allow(elements); }

    // weight * src of edges at(k), k < U, whose rows are u[k]; -1: none. One branch for all weights: else
    // loads would wait for each other. WEIGHTED: there are weights, of numbers at(k), and no src.
    template <bool WEIGHTED, int U, class At>
    __device__ void load_factors(float (&factor)[U], const typename Rows::key (&u)[U], At at,
                                 int32_t column) const
    {
#pragma unroll
        for (int k = 0; k < U; k++)
            factor[k] = !WEIGHTED && scale.src && u[k] >= 0 ? __ldg(scale.src + u[k]) : 1.0f;
        if (!WEIGHTED && !weights.weight) return;
        const float*   weight = weights.weight + weights.head_of(column);
        const uint64_t heads = static_cast<uint32_t>(weights.heads);
        uint32_t       e[U];
        float          w[U];
#pragma unroll
        for (int k = 0; k < U; k++)
            e[k] = static_cast<uint32_t>(u[k] < 0 ? 0 : WEIGHTED ? at(k) : weights.number(at(k)));
#pragma unroll
        for (int k = 0; k < U; k++)
            w[k] = u[k] >= 0 ? __ldg(weight + e[k] * heads) : 1.0f;
#pragma unroll
        for (int k = 0; k < U; k++) factor[k] = __fmul_rn(w[k], factor[k]);
    }

    // use(x, factor, i): of each edge begin + i in order, i < n, the columns of its row and, with FACTORS,
    // its factor. What edges name is read a turn ahead. own: with WEIGHTED, so many weights come before the
    // edges'.
    template <bool FACTORS, bool WEIGHTED, int N, class Use>
    __device__ void for_rows(int32_t column, int32_t begin, int32_t n, uint32_t own, Use use) const
    {
        typename Rows::key u[IN_FLIGHT];
        rows.find(u, begin, n);
#pragma unroll 1
        for (int32_t i = 0; i < n; i += IN_FLIGHT) {
            const char*                      row[IN_FLIGHT];
            chunk<typename Rows::element, N> x[IN_FLIGHT];
            float                            factor[IN_FLIGHT];
            rows.locate(row, u);
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                if (i + k < n) x[k] = load_edge<N>(rows, row[k], begin + i + k, column);
            const auto at = [&](int k) {
                if constexpr (WEIGHTED) return own + static_cast<uint32_t>(weights.number(begin + i + k));
                else return begin + i + k;
            };
            if (FACTORS) load_factors<WEIGHTED>(factor, u, at, column);
            rows.find(u, begin + i + IN_FLIGHT, n - i - IN_FLIGHT);
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                if (i + k < n) use(x[k], FACTORS ? factor[k] : 1.0f, i + k);
        }
    }
};

// FACTORS: there may be factors.
template <class Rows, bool FACTORS> struct sum_op : rows_op<Rows> {
    using rows_op<Rows>::rows;
    using rows_op<Rows>::scale;
    static constexpr int WIDEST = FACTORS ? 4 : Rows::WIDEST;
    static constexpr int BLOCKS = FACTORS ? Rows::BLOCKS_MORE : Rows::BLOCKS;
    target_count         num_self;
    int32_t              mean;

    template <int N>
    __device__ void reduce(columns<N>& sum, int32_t, int32_t column, int32_t begin, int32_t, int32_t n) const
    {
        sum = {};
        add_edges<false>(sum, column, begin, n);
    }

    template <bool WEIGHTED, int N>
    __device__ void add_edges(columns<N>& sum, int32_t column, int32_t begin, int32_t n,
                              uint32_t own = 0) const
    {
        this->template for_rows<FACTORS, WEIGHTED, N>(
            column, begin, n, own,
            [&](const chunk<typename Rows::element, N>& x, float factor, int32_t) {
#pragma unroll
                for (int j = 0; j < N; j++) {
                    float value = number(x.at[j]);
                    sum.at[j] = __fadd_rn(sum.at[j], FACTORS ? __fmul_rn(factor, value) : value);
                }
            });
    }

    template <int N> __device__ void finish(const columns<N>& sum, int32_t v, int32_t column, int32_t n) const
    {
        const bool                       own = scale.self && v < num_self.size();
        float                            factor = 1.0f, self = own ? __ldg(scale.self + v) : 0.0f;
        chunk<typename Rows::element, N> x = {};
        chunk<float, N>                  y;
        if (n > 0 && scale.dst)
            factor = __ldg(scale.dst + v);
        else if (n > 0 && mean)
            factor = __fdiv_rn(1.0f, static_cast<float>(n));
        if (own) x = load_columns<N, Rows>(rows.own(v), column);
#pragma unroll
        for (int j = 0; j < N; j++) {
            y.at[j] = __fmul_rn(sum.at[j], factor);
            if (own) y.at[j] = __fadd_rn(y.at[j], __fmul_rn(self, number(x.at[j])));
        }
        store_chunk<false>(this->out + v * this->ld_out + column, y);
    }
};

// What becomes of sums over a transpose:
//   FEW_EACH    whether most lists are of at most FEW entries
//   TOGETHER    so many lists' sums are given to apply() at once: of v, v + 1, .. below `end`
//   written()   of so many lists there shall be rows, those beyond the last 0
//   owners()    so many sources have rows of their own: the lists' first entries (OWN), or apply's
//   WEIGHTED    whether every entry has a weight, the own ones first
struct as_it_is {
    using rows = matrix_rows;
    static constexpr int  BLOCKS = 4, TOGETHER = 4;
    static constexpr bool FEW_EACH = true, OWN = false, WEIGHTED = false;

    __device__ int64_t written(int64_t lists) const { return lists; }
    __device__ int32_t owners() const { return 0; }
    template <int N, int U>
    __device__ void apply(chunk<float, N> (&)[U], int32_t, int32_t, int32_t, int32_t) const
    {
    }
};

struct entry_sums : as_it_is { // of entries' rows
    using rows = entry_rows;
    static constexpr int  BLOCKS = 3;
    static constexpr bool OWN = true;
    ggnn_count            num_own;

    __device__ int32_t owners() const { return static_cast<int32_t>(size_of(num_own)); }
};
struct target_sums : entry_sums { // whose lists are as long as a sampler makes them
    static constexpr bool FEW_EACH = false;
};
struct inverse_sums : target_sums { // of 0: 0
    template <int N, int U>
    __device__ void apply(chunk<float, N> (&y)[U], int32_t, int32_t, int32_t, int32_t) const
    {
        static_assert(U == 1, "without FEW_EACH lists come one by one");
#pragma unroll
        for (int j = 0; j < N; j++) {
            const float sum = y[0].at[j];
            y[0].at[j] = sum <= 0.0f && sum >= 0.0f ? 0.0f : __frcp_rn(sum);
        }
    }
};

// The sum over a transpose, without dst, self and mean.
template <class Then> struct back_op : sum_op<typename Then::rows, true> {
    using Rows = typename Then::rows;
    using list_op::l;
    using rows_op<Rows>::rows;
    using rows_op<Rows>::weights;
    using rows_op<Rows>::out;
    using rows_op<Rows>::ld_out;
    static constexpr bool FEW_EACH = Then::FEW_EACH, OWN = Then::OWN, WEIGHTED = Then::WEIGHTED;
    static constexpr int  BLOCKS = Then::BLOCKS;
    Then                  then;

    __device__ int32_t own(int32_t v) const { return OWN && v < then.owners(); }

    // Lists v .. v + 3 together, entry after entry; those of more than FEW are left out. An entry's row and
    // number are read a turn ahead.
    template <int N> __device__ void few_each(int32_t v, int32_t lists, int32_t column) const
    {
        const int32_t   end = static_cast<int32_t>(then.written(lists)), own = then.owners();
        int32_t         e[IN_FLIGHT + 1];
        uint32_t        number[IN_FLIGHT]; // of weights: the own entries come first
        chunk<float, N> sum[IN_FLIGHT] = {};
        typename Rows::key u[IN_FLIGHT];
#pragma unroll
        for (int k = 0; k <= IN_FLIGHT; k++) e[k] = l.begin(v + k < lists ? v + k : lists);
        const auto owns = [&](int k) { return OWN && v + k < own ? 1 : 0; };
        const auto few = [&](int k) { return e[k + 1] - e[k] + owns(k) <= FEW; };
        const auto find = [&](int k, int32_t i) {
            const int32_t edge = e[k] + i - owns(k);
            const bool    has = few(k) & (edge < e[k + 1]);
            u[k] = has ? rows.source(edge, own) : -1;
            if (WEIGHTED)
                number[k] = static_cast<uint32_t>(own) +
                            (has ? static_cast<uint32_t>(weights.number(edge)) : 0);
        };
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k++) {
            if (!owns(k)) find(k, 0);
            else u[k] = few(k) ? v + k : -1, number[k] = static_cast<uint32_t>(v + k);
        }
#pragma unroll 1
        for (int32_t i = 0; (u[0] & u[1] & u[2] & u[3]) >= 0;) { // -1: no edge is left
            chunk<float, N> x[IN_FLIGHT];
            float           factor[IN_FLIGHT];
            uint32_t        in = 0;
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                if (u[k] >= 0) x[k] = load_columns<N, Rows>(rows.row(u[k]), column);
            const auto at = [&](int k) {
                if constexpr (WEIGHTED) return number[k];
                else return e[k] + i;
            };
            this->template load_factors<WEIGHTED>(factor, u, at, column);
            i++;
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
                in |= (u[k] >= 0 ? 1u : 0u) << k;
                find(k, i);
            }
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
#pragma unroll
                for (int j = 0; j < N; j++)
                    if (in >> k & 1) sum[k].at[j] = __fadd_rn(sum[k].at[j], __fmul_rn(factor[k], x[k].at[j]));
            }
        }
        float* to = out + v * ld_out + column;
#pragma unroll
        for (int k = 0; k < IN_FLIGHT; k += Then::TOGETHER) {
            chunk<float, N> y[Then::TOGETHER];
#pragma unroll
            for (int j = 0; j < Then::TOGETHER; j++) y[j] = sum[k + j];
            then.template apply<N>(y, v + k, lists, own, column);
#pragma unroll
            for (int j = 0; j < Then::TOGETHER; j++, to += ld_out)
                if (v + k + j < end && few(k + j)) store_chunk<false>(to, y[j]);
        }
    }

    template <int N>
    __device__ void reduce(columns<N>& sum, int32_t v, int32_t column, int32_t begin, int32_t first,
                           int32_t n) const
    {
        const int32_t own = this->own(v);
        sum = {};
        if constexpr (OWN)
            if (own && first == 0) {
                const chunk<float, N> x = load_columns<N, Rows>(rows.own(v), column);
                const float           weight = WEIGHTED ? weights.at(v, column) : 1.0f;
#pragma unroll
                for (int j = 0; j < N; j++) sum.at[j] = __fadd_rn(0.0f, __fmul_rn(weight, x.at[j]));
            }
        this->template add_edges<WEIGHTED>(sum, column, first ? begin - own : begin, first ? n : n - own,
                                           static_cast<uint32_t>(then.owners()));
    }

    template <int N> __device__ void finish(const columns<N>& sum, int32_t v, int32_t column, int32_t) const
    {
        chunk<float, N> y[1] = {sum};
        then.template apply<N>(y, v, v + 1, then.owners(), column);
        store_chunk<false>(out + v * ld_out + column, y[0]);
    }
};

// ---- maximum, minimum -------------------------------------------------------

template <int N> struct best_columns {
    float   value[N];
    int32_t offset[N]; // of the edge that was taken
};

template <class Rows> struct max_op : rows_op<Rows> {
    template <int N> using part = best_columns<N>;
    static constexpr int WIDEST = Rows::WIDEST, BLOCKS = Rows::BLOCKS_MORE;
    float                sign; // -1: the minimum
    int32_t*             arg;  // or NULL
    int32_t              ld_arg;

    // Of equals the first stays. A NaN gives way to any number: that is what every list begins with.
    template <int N> static __device__ void take(best_columns<N>& best, int j, float value, int32_t offset)
    {
        bool better = value > best.value[j] || (!(best.value[j] <= best.value[j]) && value <= value);
        best.value[j] = better ? value : best.value[j];
        best.offset[j] = better ? offset : best.offset[j];
    }

    template <int N>
    __device__ void reduce(best_columns<N>& best, int32_t, int32_t column, int32_t begin, int32_t first,
                           int32_t n) const
    {
#pragma unroll
        for (int j = 0; j < N; j++) {
            best.value[j] = __uint_as_float(0x7fffffffu);
            best.offset[j] = first;
        }
        this->template for_rows<true, false, N>(
            column, begin, n, 0, [&](const chunk<typename Rows::element, N>& x, float factor, int32_t i) {
#pragma unroll
                for (int j = 0; j < N; j++)
                    take(best, j, __fmul_rn(sign * factor, number(x.at[j])), first + i);
            });
    }

    template <int N> __device__ void join(best_columns<N>& total, const best_columns<N>& next) const
    {
#pragma unroll
        for (int j = 0; j < N; j++) take(total, j, next.value[j], next.offset[j]);
    }

    template <int N>
    __device__ void finish(const best_columns<N>& best, int32_t v, int32_t column, int32_t n) const
    {
        chunk<float, N>   y;
        chunk<int32_t, N> chosen;
#pragma unroll
        for (int j = 0; j < N; j++) {
            y.at[j] = n > 0 ? sign * best.value[j] : 0.0f;
            chosen.at[j] = n > 0 ? best.offset[j] : -1;
        }
        store_chunk<false>(this->out + v * this->ld_out + column, y);
        if (arg) store_chunk<false>(arg + static_cast<int64_t>(v) * ld_arg + column, chosen);
    }
};

// ---- launches ---------------------------------------------------------------

inline ggnn_scale no_scale(const ggnn_scale* scale)
{
    ggnn_scale none = {nullptr, nullptr, nullptr};
    return scale ? *scale : none;
}

// The sum over a transpose, and what `then` makes of it. grain: of all matrices.
template <class Then>
inline cudaError_t launch_back(float* out, int64_t ld_out, const ggnn_block* transpose, const float* src,
                               const edge_weights& weights, const typename Then::rows& rows, int32_t width,
                               const Then& then, uint64_t grain, cudaStream_t stream)
{
    back_op<Then> op = {{{{}, rows, weights, {src, nullptr, nullptr}, out, ld_out}, {}, 0}, then};
    return launch_lists(op, transpose, width, weights.heads, grain, stream);
}

// out = the sums of entries' values over b's lists: first those of `own` lists, then of the edges by number.
template <class Then>
inline cudaError_t launch_entry_sums(float* out, const ggnn_block& b, ggnn_count own, const float* value,
                                     int32_t heads, cudaStream_t stream)
{
    const entry_rows   rows = {rows_of(value, heads, b.edge), own};
    const edge_weights weights = {nullptr, nullptr, 1, heads};
    Then               then = {};
    then.num_own = own;
    const uint64_t grains = grain_of(out, heads, GGNN_F32) | grain_of(value, heads, GGNN_F32);
    return launch_back(out, heads, &b, nullptr, weights, rows, heads, then, grains, stream);
}

// grain: of where the rows are.
template <class Rows>
inline cudaError_t launch_aggregate(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
                                    const ggnn_block* b, const ggnn_scale* scale, const edge_weights& weights,
                                    const Rows& rows, int32_t width, uint64_t grain, cudaStream_t stream)
{
    const int32_t    heads = weights.heads, mean = how == GGNN_MEAN;
    const ggnn_scale factors = no_scale(scale);
    grain |= grain_of(out, ld_out, GGNN_F32);
    if (how == GGNN_MAX || how == GGNN_MIN) {
        float        sign = how == GGNN_MAX ? 1.0f : -1.0f;
        max_op<Rows> op = {{{}, rows, weights, {}, out, ld_out}, sign, arg, width};
        return launch_lists(op, b, width, heads, grain | grain_of(arg, width, GGNN_F32), stream);
    }
    if constexpr (Rows::TRANSPOSES)
        if (b->edge && !mean && !factors.self && !factors.dst)
            return launch_back(out, ld_out, b, factors.src, weights, rows, width, as_it_is{}, grain, stream);
    const sum_op<Rows, true> op = {{{}, rows, weights, factors, out, ld_out}, targets_of(b), mean};
    if (Rows::MESSAGES || weights.weight || factors.src) // (a factor of 1 changes no message)
        return launch_lists(op, b, width, heads, grain, stream);
    const sum_op<Rows, Rows::MESSAGES> alone = {op, op.num_self, mean};
    return launch_lists(alone, b, width, heads, grain, stream);
}

template <class T>
inline cudaError_t launch_aggregate_store(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b,
                                          const ggnn_scale* scale, const edge_weights& weights,
                                          const ggnn_store* from, cudaStream_t stream)
{
    store_rows<T> rows = {*from, layout_of(from->at), b->neighbor, b->id, b->indices};
    return launch_aggregate(out, ld_out, nullptr, how, b, scale, weights, rows, from->width,
                            static_cast<uint64_t>(from->pitch) / sizeof(T), stream);
}

struct edge_ids { // of the rows that a block's edges name
    const ggnn_node *neighbor, *id;
    const int32_t*   indices;
    ggnn_count       num_dst;
    const int64_t*   indptr;

    __device__ int64_t size() const
    {
        int64_t n = size_of(num_dst);
        return n ? indptr[n] : 0;
    }
    __device__ ggnn_node at(int64_t e) const { return neighbor ? neighbor[e] : id_of(id, indices[e]); }
};

struct target_ids {
    const ggnn_node* id;
    target_count     n;

    __device__ int64_t   size() const { return n.size(); }
    __device__ ggnn_node at(int64_t v) const { return id_of(id, v); }
};

} // namespace ggnni

cudaError_t ggnn_cuda_spmm(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how, const ggnn_block* b,
                           const ggnn_scale* scale, const float* weight, int32_t heads, const float* inp,
                           int64_t ld_inp, int32_t width, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(ggnni::block_given(b, true) && ggnni_reduces(how, b, scale, weight, heads, width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(out, ld_out, ggnni::known(b->num_dst), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(inp, ld_inp, ggnni::known(b->num_src), width) && ld_inp < 1 << 30);
    ggnni::matrix_rows  rows = ggnni::rows_of(inp, ld_inp, b->indices);
    ggnni::edge_weights weights = {weight, b->edge, heads, width / heads};
    return ggnni::launch_aggregate(out, ld_out, arg, how, b, scale, weights, rows, width,
                                   ggnni::grain_of(inp, ld_inp, GGNN_F32), stream);
}

cudaError_t ggnn_cuda_spmm_edges(float* out, int64_t ld_out, int32_t* arg, ggnn_reduce how,
                                 ggnn_message message, const ggnn_block* b, const ggnn_scale* scale,
                                 const float* weight, int32_t heads, const float* inp, int64_t ld_inp,
                                 const float* edge, int64_t ld_edge, int32_t width, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, true) && ggnni_reduces(how, b, scale, weight, heads, width));
    GGNNI_CUDA_REQUIRE(ggnni_messages(how, message, scale));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(out, ld_out, known(b->num_dst), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(edge, ld_edge, known(b->num_edges), width));
    if (message == GGNN_EDGE_COPY) inp = edge, ld_inp = ld_edge; // not read
    GGNNI_CUDA_REQUIRE(message == GGNN_EDGE_COPY ||
                       (ggnni_matrix_given(inp, ld_inp, known(b->num_src), width) && ld_inp < 1 << 30));
    edge_weights weights = {weight, b->edge, heads, width / heads};
    message_rows rows = {rows_of(inp, ld_inp, b->indices), edge, ld_edge, b->edge, message};
    return launch_aggregate(out, ld_out, arg, how, b, scale, weights, rows, width,
                            grain_of(inp, ld_inp, GGNN_F32) | grain_of(edge, ld_edge, GGNN_F32), stream);
}

cudaError_t ggnn_cuda_sum(float* out, const ggnn_block* b, const float* inp, int32_t width,
                          cudaStream_t stream)
{
    return ggnn_cuda_spmm(out, width, nullptr, GGNN_SUM, b, nullptr, nullptr, 1, inp, width, width, stream);
}
cudaError_t ggnn_cuda_mean(float* out, const ggnn_block* b, const float* inp, int32_t width,
                           cudaStream_t stream)
{
    return ggnn_cuda_spmm(out, width, nullptr, GGNN_MEAN, b, nullptr, nullptr, 1, inp, width, width, stream);
}

cudaError_t ggnn_cuda_aggregate(float* out, int64_t ld_out, ggnn_reduce how, const ggnn_block* b,
                                const ggnn_scale* scale, const float* weight, int32_t heads,
                                const ggnn_store* from, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, false) && (b->indices || b->neighbor || known(b->num_edges) == 0));
    const bool owns = scale && scale->self && (b->indices || !b->neighbor ? known(b->num_src) : 1) > 0;
    const bool reads = known(b->num_edges) > 0 || (owns && known(b->num_dst) > 0);
    GGNNI_CUDA_REQUIRE(ggnni_store_given(from, reads));
    GGNNI_CUDA_REQUIRE(ggnni_reduces(how, b, scale, weight, heads, from->width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(out, ld_out, known(b->num_dst), from->width));
    GGNNI_CUDA_REQUIRE(can_count(from->traffic, from->at));
    edge_weights weights = {weight, b->edge, heads, from->width / heads};
    edge_ids    edges = {b->neighbor, b->id, b->indices, b->num_dst, b->indptr};
    target_ids  own = {b->id, targets_of(b)};
    cudaError_t done = from->type == GGNN_F32
                           ? launch_aggregate_store<float>(out, ld_out, how, b, scale, weights, from, stream)
                           : launch_aggregate_store<uint16_t>(out, ld_out, how, b, scale, weights, from,
                                                              stream);
    const auto count = [&](const auto& ids, int64_t max) {
        return count_traffic(ids, max, from->at, from->traffic, ALL_TIERS, stream);
    };
    done = first_error(done, count(edges, b->num_edges.max));
    if (!scale || !scale->self) return done;
    return first_error(done, count(own, b->num_dst.max));
}

// =============================================================================
// ==== [8bi] SPARSE: backward of aggregation, factors
// =============================================================================

namespace ggnni {

// ---- what MAX and MIN send back ---------------------------------------------

// Over the transpose, whose lists are a source's edges. A row of dout is read only where it chose this
// source.
struct back_arg_op : list_op {
    static constexpr int WIDEST = 4, BLOCKS = 4;
    const int32_t *      indices, *edge; // of the transpose
    const int64_t*       indptr;         // of the block
    edge_weights         weights;        // of the block
    const float*         dout;
    int64_t              ld_dout;
    const int32_t*       arg;
    int32_t              ld_arg;
    float*               dinp;
    int64_t              ld_dinp;

    template <int N>
    __device__ void reduce(columns<N>& sum, int32_t, int32_t column, int32_t begin, int32_t, int32_t n) const
    {
        sum = {};
#pragma unroll 1
        for (int32_t i = 0; i < n; i += IN_FLIGHT) {
            int32_t           e[IN_FLIGHT], v[IN_FLIGHT], offset[IN_FLIGHT];
            chunk<int32_t, N> chosen[IN_FLIGHT];
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
                if (i + k >= n) continue;
                v[k] = __ldg(indices + begin + i + k);
                e[k] = edge ? __ldg(edge + begin + i + k) : begin + i + k;
            }
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
                if (i + k >= n) continue;
                chosen[k] = load_chunk<N>(arg + static_cast<int64_t>(v[k]) * ld_arg + column);
                offset[k] = e[k] - static_cast<int32_t>(__ldg(indptr + v[k]));
            }
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                if (i + k < n) add_chosen(sum, chosen[k], offset[k], e[k], v[k], column);
        }
    }

    template <int N>
    __device__ void add_chosen(columns<N>& sum, const chunk<int32_t, N>& chosen, int32_t offset, int32_t e,
                               int32_t v, int32_t column) const
    {
        bool any = false;
#pragma unroll
        for (int j = 0; j < N; j++) any = any || chosen.at[j] == offset;
        if (!any) return;
        chunk<float, N> x = load_chunk<N>(dout + v * ld_dout + column);
        float           weight = weights.of(e, column);
#pragma unroll
        for (int j = 0; j < N; j++)
            if (chosen.at[j] == offset) sum.at[j] = __fadd_rn(sum.at[j], __fmul_rn(weight, x.at[j]));
    }

    template <int N> __device__ void finish(const columns<N>& sum, int32_t u, int32_t column, int32_t) const
    {
        store_chunk<false>(dinp + u * ld_dinp + column, sum);
    }
};

// ---- backward of SUM by atomics ---------------------------------------------

// Four or two elements at once from sm_90 on, each atomic for itself.
template <int N> __device__ inline void add_atomic(float* to, const chunk<float, N>& x)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (N == 4)
        atomicAdd(reinterpret_cast<float4*>(to), make_float4(x.at[0], x.at[1], x.at[2], x.at[3]));
    else if constexpr (N == 2)
        atomicAdd(reinterpret_cast<float2*>(to), make_float2(x.at[0], x.at[1]));
    else
        atomicAdd(to, x.at[0]);
#else
#pragma unroll
    for (int j = 0; j < N; j++) atomicAdd(to + j, x.at[j]);
#endif
}

// Over the block itself: a target's gradient is added to its sources' rows, which begin_rows has begun; but
// the row of a source that only one edge leaves, and which is no owner, is written. finish has nothing left
// to do.
template <int N> struct nothing {};

struct atomic_op : list_op {
    template <int N> using part = nothing<N>;
    static constexpr int WIDEST = 4, BLOCKS = 5;
    const int32_t *      indices, *repeats; // repeats or NULL
    edge_weights         weights;
    ggnn_scale           scale;
    target_count         num_self;
    const float*         dout;
    int64_t              ld_dout;
    float*               dinp;
    int64_t              ld_dinp;

    template <int N>
    __device__ void reduce(nothing<N>&, int32_t v, int32_t column, int32_t begin, int32_t, int32_t n) const
    {
        const chunk<float, N> x = load_chunk<N>(dout + v * ld_dout + column);
        const float           dst = scale.dst ? __ldg(scale.dst + v) : 1.0f;
        const int64_t         owners = scale.self ? num_self.size() : 0;
#pragma unroll 1
        for (int32_t i = 0; i < n; i += IN_FLIGHT) {
            int32_t u[IN_FLIGHT];
            bool    once[IN_FLIGHT];
            float   factor[IN_FLIGHT];
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) u[k] = i + k < n ? __ldg(indices + begin + i + k) : -1;
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++) {
                if (u[k] < 0) continue;
                once[k] = u[k] >= owners && repeats && __ldg(repeats + u[k]) == 1;
                factor[k] = scale.src ? __fmul_rn(__ldg(scale.src + u[k]), dst) : dst;
                factor[k] = __fmul_rn(weights.of(begin + i + k, column), factor[k]);
            }
#pragma unroll
            for (int k = 0; k < IN_FLIGHT; k++)
                if (u[k] >= 0) put(dinp + u[k] * ld_dinp + column, x, factor[k], once[k]);
        }
    }

    template <int N> static __device__ void put(float* to, const chunk<float, N>& x, float factor, bool once)
    {
        chunk<float, N> y;
#pragma unroll
        for (int j = 0; j < N; j++)
            y.at[j] = __fadd_rn(0.0f, __fmul_rn(factor, x.at[j])); // a zero's sign is +
        if (once)
            store_chunk<false>(to, y);
        else
            add_atomic(to, y);
    }

    template <int N> __device__ void join(nothing<N>&, const nothing<N>&) const {}
    template <int N> __device__ void finish(const nothing<N>&, int32_t, int32_t, int32_t) const {}
};

// What atomics are added to: a target's gradient as its own source, else zeros. A row that only one edge
// leaves is written, unless it has a gradient already. A thread an element. 32 registers.
static GGNNI_KERNEL(32, THREADS) begin_rows(atomic_op op, ggnn_count n, divider width)
{
    const int64_t owners = op.scale.self ? op.num_self.size() : 0;
    for_items(size_of(n) * width.by, [&](int64_t t) {
        const int64_t u = quotient(t, width), column = t - u * width.by;
        float         own = 0;
        if (u >= owners && op.repeats && op.repeats[u] == 1) return;
        if (u < owners) own = __fmul_rn(op.scale.self[u], op.dout[u * op.ld_dout + column]);
        op.dinp[u * op.ld_dinp + column] = __fadd_rn(0.0f, own); // a zero's sign is +
    });
}

// ---- factors: a thread a node -----------------------------------------------

// 32 registers, as the other two.
static GGNNI_KERNEL(32, THREADS)
    scale_mean(float* inv, ggnn_count num_dst, const int64_t* indptr, int with_self)
{
    for_items(size_of(num_dst), [&](int64_t v) {
        int64_t n = indptr[v + 1] - indptr[v] + (with_self != 0);
        inv[v] = n ? __fdiv_rn(1.0f, static_cast<float>(n)) : 0.0f;
    });
}

static GGNNI_KERNEL(32, THREADS) gcn_norm(float* inv_sqrt, const __grid_constant__ ggnn_graph g)
{
    for_items(g.num_nodes, [&](int64_t v) {
        int64_t degree = ggnn_neighbors(&g, static_cast<ggnn_node>(v)).degree;
        inv_sqrt[v] = __fdiv_rn(1.0f, __fsqrt_rn(static_cast<float>(degree + 1)));
    });
}

struct scale_gcn_job {
    float *          src, *dst, *self; // src or NULL
    ggnn_count       num_src, num_dst;
    const int64_t*   indptr;
    const ggnn_node* id;
    const float*     inv_sqrt;
    ggnn_graph       g;
};

static GGNNI_KERNEL(32, THREADS) scale_gcn(scale_gcn_job job)
{
    const int64_t num_src = job.src ? size_of(job.num_src) : 0, num_dst = size_of(job.num_dst);
    for_items(num_src > num_dst ? num_src : num_dst, [&](int64_t i) {
        ggnn_node id = id_of(job.id, i);
        float     norm = __ldg(job.inv_sqrt + id);
        if (i < num_src) job.src[i] = norm;
        if (i >= num_dst) return;
        int64_t degree = ggnn_neighbors(&job.g, id).degree, sampled = job.indptr[i + 1] - job.indptr[i];
        float   ratio = __fdiv_rn(static_cast<float>(degree), static_cast<float>(sampled));
        job.dst[i] = sampled ? __fmul_rn(ratio, norm) : 0.0f;
        job.self[i] = __fdiv_rn(1.0f, static_cast<float>(degree + 1));
    });
}

} // namespace ggnni

cudaError_t ggnn_cuda_spmm_back_arg(float* dinp, int64_t ld_dinp, const ggnn_block* t, const ggnn_block* b,
                                    const float* weight, int32_t heads, const float* dout, int64_t ld_dout,
                                    const int32_t* arg, int32_t width, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(t, true) && block_given(b, false) && ggnni_heads_given(heads, width));
    GGNNI_CUDA_REQUIRE((arg || known(t->num_edges) == 0) && transposed(t, b));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dinp, ld_dinp, known(t->num_dst), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dout, ld_dout, known(t->num_src), width));
    uint64_t     grain = grain_of(dinp, ld_dinp, GGNN_F32) | grain_of(dout, ld_dout, GGNN_F32);
    edge_weights weights = {weight, b->edge, heads, width / heads};
    back_arg_op  op = {{}, t->indices, t->edge, b->indptr, weights, dout, ld_dout, arg, width, dinp, ld_dinp};
    return launch_lists(op, t, width, heads, grain | grain_of(arg, width, GGNN_F32), stream);
}

cudaError_t ggnn_cuda_spmm_atomic(float* dinp, int64_t ld_dinp, const ggnn_block* b, const ggnn_scale* scale,
                                  const float* weight, int32_t heads, const float* dout, int64_t ld_dout,
                                  int32_t width, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, true) && ggnni_heads_given(heads, width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dinp, ld_dinp, known(b->num_src), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dout, ld_dout, known(b->num_dst), width));
    const uint64_t   grain = grain_of(dinp, ld_dinp, GGNN_F32) | grain_of(dout, ld_dout, GGNN_F32);
    const int64_t    elements = b->num_src.max * width;
    const ggnn_scale factors = no_scale(scale);
    edge_weights     weights = {weight, b->edge, heads, width / heads};
    const atomic_op  op = {{},   b->indices, b->repeats, weights, factors, targets_of(b),
                           dout, ld_dout,    dinp,       ld_dinp};
    cudaError_t      error = launch_items(begin_rows, elements, stream, op, b->num_src, divide_by(width));
    return first_error(error, launch_lists(op, b, width, heads, grain, stream));
}

cudaError_t ggnn_cuda_scale_mean(float* inv, const ggnn_block* b, int with_self, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, false) && (inv || known(b->num_dst) == 0));
    return launch_items(scale_mean, b->num_dst.max, stream, inv, b->num_dst, b->indptr, with_self);
}

cudaError_t ggnn_cuda_gcn_norm(float* inv_sqrt, const ggnn_graph* g, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(ggnni_degrees_given(g) && (inv_sqrt || g->num_nodes == 0));
    ggnn_graph quiet = *g;
    quiet.traffic = nullptr;
    return launch_items(gcn_norm, g->num_nodes, stream, inv_sqrt, quiet);
}

cudaError_t ggnn_cuda_scale_gcn(float* src, float* dst, float* self, const ggnn_block* b,
                                const float* inv_sqrt, const ggnn_graph* g, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, false) && (known(b->num_dst) == 0 || (dst && self && inv_sqrt)));
    GGNNI_CUDA_REQUIRE(g && (known(b->num_dst) == 0 || ggnni_degrees_given(g)));
    GGNNI_CUDA_REQUIRE(!src || known(b->num_src) == 0 || inv_sqrt);
    const int64_t max = src && b->num_src.max > b->num_dst.max ? b->num_src.max : b->num_dst.max;
    scale_gcn_job job = {src, dst, self, b->num_src, b->num_dst, b->indptr, b->id, inv_sqrt, *g};
    job.g.traffic = nullptr;
    return launch_items(scale_gcn, max, stream, job);
}

// =============================================================================
// ==== [8ci] SPARSE: edges: SDDMM, sums, softmax
// =============================================================================

namespace ggnni {

enum { EDGE_TILE = 16 }; // targets whose edges a block goes over together

// Floats of one load: 4, 2 or 1, as all rows of the matrices whose grains are or-ed and a head's width allow.
inline uint64_t grain(const void* start, int64_t ld) { return grain_of(start, ld, GGNN_F32); }
inline int      floats_of(uint64_t grains, int32_t per_head)
{
    return chunk_elements(grains | static_cast<uint64_t>(per_head), 4);
}

__device__ inline int64_t edge_of(const ggnn_block& b, int64_t e) { return b.edge ? __ldg(b.edge + e) : e; }

// Adds the products of U chunks, 16 columns apart, to a lane's partial sums, in order: all are read first.
template <int V, int U>
__device__ inline void dot_chunks(chunk<float, V>& part, const float* x, const float* y)
{
    chunk<float, V> a[U], b[U];
#pragma unroll
    for (int k = 0; k < U; k++) a[k] = load_chunk<V>(x + 16 * k), b[k] = load_chunk<V>(y + 16 * k);
#pragma unroll
    for (int k = 0; k < U; k++) {
#pragma unroll
        for (int c = 0; c < V; c++) part.at[c] = __fadd_rn(part.at[c], __fmul_rn(a[k].at[c], b[k].at[c]));
    }
}

// x . y of a head's columns, by 16 / V neighbouring lanes: lane i has the sums of columns i V .. i V + V - 1,
// 16 further on, and so on: in order, and folded 8, 4, 2, 1, so the C twin's bits. Every lane gets it; whole
// warps come.
template <int V> __device__ inline float dot(const float* x, const float* y, int64_t width)
{
    int32_t         j = static_cast<int32_t>(threadIdx.x) % (16 / V) * V;
    chunk<float, V> part = {};
#pragma unroll 1
    for (; j + 16 < width; j += 32) dot_chunks<V, 2>(part, x + j, y + j);
    if (j < width) dot_chunks<V, 1>(part, x + j, y + j);
#pragma unroll
    for (int half = 8 / V; half; half /= 2) {
#pragma unroll
        for (int c = 0; c < V; c++)
            part.at[c] = __fadd_rn(part.at[c], __shfl_xor_sync(ALL_LANES, part.at[c], half));
    }
#pragma unroll
    for (int half = V / 2; half; half /= 2) {
#pragma unroll
        for (int c = 0; c < half; c++) part.at[c] = __fadd_rn(part.at[c], part.at[c + half]);
    }
    return part.at[0];
}

// body(item, live) for items, by groups of GROUP threads of so many blocks. Warps stay whole: spare groups do
// the last item again, not live, and store nothing.
template <int GROUP, class F>
__device__ inline void for_groups(int64_t items, int64_t block, int64_t blocks, F body)
{
    constexpr int GROUPS = THREADS / GROUP, OF_WARP = WARP / GROUP;
    const int     group = threadIdx.x % WARP / GROUP;
    for (int64_t next = block * GROUPS + threadIdx.x / WARP * OF_WARP; next < items; next += blocks * GROUPS)
        body(min(next + group, items - 1), next + group < items);
}

struct edge_item { // an edge and head; OWN: an entry and head, where target v's first entry is v itself
    int64_t e, v;   // e: among all edges, or among all entries: e - v - 1 is the edge then
    int32_t k, nth; // the head; the place in v's list,
    int32_t n;      // which is so long
    bool    live;   // false: another group has this item, and stores
};

// body(item) for every edge and head, by groups of GROUP threads. A block takes EDGE_TILE targets at a time
// and deals their edges out one by one, so that a hub has a block, not a thread; an edge's target is found by
// halving in the tile's offsets. tile(first, rows) comes before its targets' edges.
template <int GROUP, bool OWN, class F, class T>
__device__ inline void for_edges(const ggnn_block& b, divider heads, F body, T tile)
{
    __shared__ int64_t begin[EDGE_TILE + 1];
    const int64_t      n = size_of(b.num_dst), step = static_cast<int64_t>(gridDim.x) * EDGE_TILE;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * EDGE_TILE; first < n; first += step) {
        const int     rows = static_cast<int>(min(n - first, static_cast<int64_t>(EDGE_TILE)));
        const int64_t row = first + threadIdx.x;
        __syncthreads(); // the tile before is done with
        if (threadIdx.x <= static_cast<unsigned>(rows)) begin[threadIdx.x] = b.indptr[row] + (OWN ? row : 0);
        tile(first, rows);
        __syncthreads();
        for_groups<GROUP>((begin[rows] - begin[0]) * heads.by, 0, 1, [&](int64_t item, bool live) {
            const int64_t nth = quotient(item, heads), e = begin[0] + nth;
            const int     low = last_where(0, rows, [&](int row_of) { return begin[row_of] <= e; });
            const edge_item found = {e, first + low, static_cast<int32_t>(item - nth * heads.by),
                                     static_cast<int32_t>(e - begin[low]),
                                     static_cast<int32_t>(begin[low + 1] - begin[low]), live};
            body(found);
        });
    }
}
template <int GROUP, bool OWN, class F>
__device__ inline void for_edges(const ggnn_block& b, divider heads, F body)
{
    for_edges<GROUP, OWN>(b, heads, body, [](int64_t, int) {});
}

template <class Job> inline cudaError_t launch_edges(void (*kernel)(Job), const Job& s, cudaStream_t stream)
{
    return launch_tiles(kernel, tiles_of(s.b.num_dst.max, EDGE_TILE), THREADS, stream, s);
}

struct sddmm_job {
    ggnn_block   b;
    float*       out;
    const float *x, *y;
    int64_t      ld_x, ld_y;
    divider      heads;
    int64_t      width; // of a head
};

// A group of lanes forms the dot of an edge and head.
// 16-byte loads: 6 in 1 instances
template <int V> static GGNNI_KERNEL(64, THREADS, 4) sddmm_dot(sddmm_job s)
{
    for_edges<16 / V, false>(s.b, s.heads, [&](const edge_item& i) {
        const float* x = s.x + __ldg(s.b.indices + i.e) * s.ld_x + i.k * s.width;
        const float  d = dot<V>(x, s.y + i.v * s.ld_y + i.k * s.width, s.width);
        if (threadIdx.x % (16 / V) == 0 && i.live) s.out[edge_of(s.b, i.e) * s.heads.by + i.k] = d;
    });
}

// A thread an edge and head.
static GGNNI_KERNEL(40, THREADS) sddmm_add(sddmm_job s)
{
    for_edges<1, false>(s.b, s.heads, [&](const edge_item& i) {
        float x = __ldg(s.x + __ldg(s.b.indices + i.e) * s.ld_x + i.k), y = __ldg(s.y + i.v * s.ld_y + i.k);
        if (i.live) s.out[edge_of(s.b, i.e) * s.heads.by + i.k] = __fadd_rn(x, y);
    });
}

struct messages_back_job {
    ggnn_block     b;
    float*         dedge;
    const float *  inp, *dout; // inp NULL: not TIMES
    int64_t        ld_dedge, ld_inp, ld_dout;
    edge_weights   weights;
    ggnn_scale     scale;
    const int32_t* arg; // of MAX, MIN, or NULL
    divider        chunks;
    int32_t        width; // of a row
};

// A thread an edge and chunk.
// 16-byte loads: 3 in 1 instances
template <int V> static GGNNI_KERNEL(48, THREADS) messages_back(messages_back_job s)
{
    for_edges<1, false>(s.b, s.chunks, [&](const edge_item& i) {
        if (!i.live) return;
        const int64_t   e = i.e, v = i.v;
        const int32_t   column = i.k * V, u = __ldg(s.b.indices + e);
        chunk<float, V> g = load_chunk<V>(s.dout + v * s.ld_dout + column);
        const float     src = s.scale.src ? __ldg(s.scale.src + u) : 1.0f;
        const float     dst = s.scale.dst ? __ldg(s.scale.dst + v) : 1.0f;
        const float     f = __fmul_rn(s.weights.of(static_cast<int32_t>(e), column), __fmul_rn(src, dst));
        if (s.inp) {
            const chunk<float, V> x = load_chunk<V>(s.inp + u * s.ld_inp + column);
#pragma unroll
            for (int j = 0; j < V; j++) g.at[j] = __fmul_rn(x.at[j], g.at[j]);
        }
#pragma unroll
        for (int j = 0; j < V; j++) g.at[j] = __fmul_rn(f, g.at[j]);
        if (s.arg) {
            const chunk<int32_t, V> arg = load_chunk<V>(s.arg + v * s.width + column);
#pragma unroll
            for (int j = 0; j < V; j++)
                if (arg.at[j] != i.nth) g.at[j] = 0;
        }
        store_chunk<false>(s.dedge + edge_of(s.b, e) * s.ld_dedge + column, g);
    });
}

struct edges_job {
    ggnn_block   b;
    float*       out; // per edge, or (num_dst, heads)
    const float *x, *y;
    divider      heads;
};

struct edge_list { // of one target and head; segments lane, lane + lanes, ... are this thread's
    int64_t        begin, end;
    const int32_t* edge;
    int64_t        heads, head;
    int            lane, lanes;

    __device__ int64_t at(int64_t i) const { return (edge ? __ldg(edge + i) : i) * heads + head; }
};

__device__ inline edge_list list_of(const edges_job& s, int64_t item, int lane, int lanes)
{
    const int64_t v = quotient(item, s.heads), head = item - v * s.heads.by;
    edge_list     l = {s.b.indptr[v], s.b.indptr[v + 1], s.b.edge, s.heads.by, head, lane, lanes};
    return l;
}

// body(list) for every target and head. A list of one segment is one thread's, and lanes is 1. A longer one
// is its warp's: all 32 lanes come, each for every 32nd segment, so that 8192 edges take as long as 256.
template <class F> __device__ inline void for_lists(const edges_job& s, F body)
{
    const int64_t n = size_of(s.b.num_dst) * s.heads.by;
    const int     lane = threadIdx.x % WARP;
    for_items((n + WARP - 1) / WARP * WARP, [&](int64_t item) { // whole warps
        edge_list l = {};
        if (item < n) l = list_of(s, item, 0, 1);
        const bool shared = l.end - l.begin > SEGMENT;
        if (item < n && !shared) body(l);
        for (unsigned rest = __ballot_sync(ALL_LANES, shared); rest; rest &= rest - 1)
            body(list_of(s, item - lane + __ffs(static_cast<int>(rest)) - 1, lane, WARP));
    });
}

// use(load(i), i) for i in [begin, end), in order, FLIGHT loads at a time while that many are left, then
// IN_FLIGHT. (A load whose use depends on a condition would be made only where it holds, one after another.)
template <int FLIGHT = IN_FLIGHT, class L, class U>
__device__ inline void in_order(int64_t begin, int64_t end, L load, U use)
{
#pragma unroll 1
    for (; begin + FLIGHT <= end; begin += FLIGHT) {
        decltype(load(begin)) x[FLIGHT];
#pragma unroll
        for (int j = 0; j < FLIGHT; j++) x[j] = load(begin + j);
#pragma unroll
        for (int j = 0; j < FLIGHT; j++) use(x[j], begin + j);
    }
    if constexpr (FLIGHT > IN_FLIGHT) in_order(begin, end, load, use);
    else {
#pragma unroll 1
        for (; begin < end; begin++) use(load(begin), begin);
    }
}

// The same for the segments of a list that are this lane's.
template <class L, class U> __device__ inline void own_entries(const edge_list& l, L load, U use)
{
#pragma unroll 1
    for (int64_t begin = l.begin + l.lane * SEGMENT; begin < l.end; begin += l.lanes * SEGMENT)
        in_order(begin, min(begin + SEGMENT, l.end), load, use);
}

// Sum of term(load(i), i) over a list: a segment a lane at a time, then these added in order, and so on. All
// lanes get it; term is called once an entry, by its lane.
template <class L, class T> __device__ inline float list_sum(const edge_list& l, L load, T term)
{
    float total = 0;
#pragma unroll 1
    for (int64_t first = l.begin; first < l.end; first += l.lanes * SEGMENT) {
        const int64_t begin = first + l.lane * SEGMENT;
        float         part = 0;
        in_order(begin, min(begin + SEGMENT, l.end), load,
                 [&](auto x, int64_t i) { part = __fadd_rn(part, term(x, i)); });
        if (l.lanes == 1) return part;
#pragma unroll 1
        for (int j = 0; j < WARP; j++) // segments past the list's end are 0 and change nothing
            total = __fadd_rn(total, __shfl_sync(ALL_LANES, part, j));
    }
    return total;
}

// Three passes over a list: its greatest, the powers and their sum, the division. Each entry is read and
// written by one lane only, so out may be x.
static GGNNI_KERNEL(64, THREADS, 4) edge_softmax(edges_job s)
{
    for_lists(s, [&](const edge_list& l) {
        float most = -INFINITY;
        auto  load = [&](int64_t i) { return s.x[l.at(i)]; };
        own_entries(l, load, [&](float x, int64_t) { most = x > most ? x : most; });
        for (int half = l.lanes / 2; half; half /= 2) {
            float other = __shfl_xor_sync(ALL_LANES, most, half);
            most = other > most ? other : most;
        }
        float sum = list_sum(l, load, [&](float x, int64_t i) {
            float power = exp2_rounded(__fmul_rn(__fsub_rn(x, most), LOG2_E));
            s.out[l.at(i)] = power;
            return power;
        });
        float inv = __frcp_rn(sum);
        own_entries(
            l, [&](int64_t i) { return s.out[l.at(i)]; },
            [&](float power, int64_t i) { s.out[l.at(i)] = __fmul_rn(power, inv); });
    });
}

// Two passes: the sum of x * y, and x * (y - sum). out may be y.
static GGNNI_KERNEL(64, THREADS, 4) edge_softmax_back(edges_job s)
{
    for_lists(s, [&](const edge_list& l) {
        auto  load = [&](int64_t i) { return make_float2(s.x[l.at(i)], s.y[l.at(i)]); };
        float sum = list_sum(l, load, [](float2 xy, int64_t) { return __fmul_rn(xy.x, xy.y); });
        own_entries(l, load,
                    [&](float2 xy, int64_t i) { s.out[l.at(i)] = __fmul_rn(xy.x, __fsub_rn(xy.y, sum)); });
    });
}

inline cudaError_t launch_edge_lists(void (*kernel)(edges_job), const edges_job& s, cudaStream_t stream)
{
    return launch_items(kernel, s.b.num_dst.max * s.heads.by, stream, s);
}

static GGNNI_KERNEL(32, THREADS) exp2_array(float* x, ggnn_count count)
{
    for_items(size_of(count), [&](int64_t i) { x[i] = exp2_rounded(x[i]); });
}

} // namespace ggnni

cudaError_t ggnn_cuda_sddmm(float* out, ggnn_edge_op how, const ggnn_block* b, const float* inp_src,
                            int64_t ld_src, const float* inp_dst, int64_t ld_dst, int32_t heads,
                            int32_t width, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(block_given(b, true) && ggnni_heads_given(heads, width) && width > 0);
    GGNNI_CUDA_REQUIRE(how == GGNN_DOT || (how == GGNN_ADD && width == heads));
    GGNNI_CUDA_REQUIRE(per_edge(b, out) && ggnni_matrix_given(inp_src, ld_src, known(b->num_src), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(inp_dst, ld_dst, known(b->num_dst), width));
    const int32_t per_head = width / heads;
    const int     floats = floats_of(grain(inp_src, ld_src) | grain(inp_dst, ld_dst), per_head);
    sddmm_job     s = {*b, out, inp_src, inp_dst, ld_src, ld_dst, divide_by(heads), per_head};
    auto          kernel = floats == 4 ? sddmm_dot<4> : floats == 2 ? sddmm_dot<2> : sddmm_dot<1>;
    if (how == GGNN_ADD) kernel = sddmm_add;
    return launch_edges(kernel, s, stream);
}

cudaError_t ggnn_cuda_spmm_edges_back(float* dedge, int64_t ld_dedge, ggnn_message message,
                                      const ggnn_block* b, const ggnn_scale* scale, const float* weight,
                                      int32_t heads, const float* inp, int64_t ld_inp, const float* dout,
                                      int64_t ld_dout, const int32_t* arg, int32_t width, cudaStream_t stream)
{
    using namespace ggnni;
    const bool times = message == GGNN_EDGE_TIMES;
    GGNNI_CUDA_REQUIRE(block_given(b, true) && ggnni_heads_given(heads, width) && (heads == 1 || weight));
    GGNNI_CUDA_REQUIRE(ggnni_messages(arg ? GGNN_MAX : GGNN_SUM, message, nullptr));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dedge, ld_dedge, known(b->num_edges), width));
    GGNNI_CUDA_REQUIRE(!times || ggnni_matrix_given(inp, ld_inp, known(b->num_src), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dout, ld_dout, known(b->num_dst), width));
    if (!times) inp = nullptr;
    uint64_t grains = grain(dedge, ld_dedge) | grain(dout, ld_dout) | (inp ? grain(inp, ld_inp) : 0);
    if (arg) grains |= grain(arg, width);
    const int          floats = floats_of(grains, width / heads);
    const edge_weights weights = {weight, b->edge, heads, width / heads};
    messages_back_job  s = {*b,      dedge,   inp,             dout, ld_dedge,                  ld_inp,
                            ld_dout, weights, no_scale(scale), arg,  divide_by(width / floats), width};
    auto kernel = floats == 4 ? messages_back<4> : floats == 2 ? messages_back<2> : messages_back<1>;
    return launch_edges(kernel, s, stream);
}

cudaError_t ggnn_cuda_edge_sum(float* out, const ggnn_block* b, const float* value, int32_t heads,
                               cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(ggnni::block_given(b, false) && heads >= 1 && heads < 1 << 30);
    GGNNI_CUDA_REQUIRE(ggnni::per_edge(b, value) && (out || ggnni::known(b->num_dst) == 0));
    return ggnni::launch_entry_sums<ggnni::target_sums>(out, *b, {}, value, heads, stream);
}
cudaError_t ggnn_cuda_scale_weights(float* inv, const ggnn_block* b, const float* weight, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(ggnni::block_given(b, false) && ggnni::per_edge(b, weight));
    GGNNI_CUDA_REQUIRE(inv || ggnni::known(b->num_dst) == 0);
    return ggnni::launch_entry_sums<ggnni::inverse_sums>(inv, *b, {}, weight, 1, stream);
}
cudaError_t ggnn_cuda_edge_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads,
                                   cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(ggnni::block_given(b, false) && heads >= 1);
    GGNNI_CUDA_REQUIRE(ggnni::per_edge(b, out) && ggnni::per_edge(b, logit));
    ggnni::edges_job s = {*b, out, logit, nullptr, ggnni::divide_by(heads)};
    return ggnni::launch_edge_lists(ggnni::edge_softmax, s, stream);
}
cudaError_t ggnn_cuda_edge_softmax_back(float* dlogit, const ggnn_block* b, const float* out,
                                        const float* dout, int32_t heads, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(ggnni::block_given(b, false) && heads >= 1 && ggnni::per_edge(b, dlogit));
    GGNNI_CUDA_REQUIRE(ggnni::per_edge(b, out) && ggnni::per_edge(b, dout));
    ggnni::edges_job s = {*b, dlogit, out, dout, ggnni::divide_by(heads)};
    return ggnni::launch_edge_lists(ggnni::edge_softmax_back, s, stream);
}

cudaError_t ggnn_cuda_exp2_array(float* x, ggnn_count n, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(n.max >= 0 && (x || known(n) == 0));
    return launch_items(exp2_array, n.max, stream, x, n);
}

// =============================================================================
// ==== [9i] ATTENTION
// =============================================================================
// The bits of the twins: the same powers of 2, sums in the same order, in every segment of 256 entries its
// greatest logit first. That second look at a segment's scores is what the bits cost over an online softmax;
// they are in L1 then.

namespace ggnni {

// ---- scores -------------------------------------------------------------------

struct scores_job {
    float *      el, *er; // (n, heads), (targets, heads)
    const float *z, *att_l, *att_r;
    int64_t      ld_z;
    ggnn_count   n, targets; // targets: of n the first; 0: no er
    divider      heads;
    int64_t      width; // of a head
};

// el[u,k] = z[u, head k] . att_l[k], and of targets er, by a group of lanes each.
// 16-byte loads: 6 in 1 instances
template <int V> static GGNNI_KERNEL(56, THREADS) scores(scores_job s)
{
    const int64_t items = size_of(s.n) * s.heads.by, targets = size_of(s.targets) * s.heads.by;
    for_groups<16 / V>(items, blockIdx.x, gridDim.x, [&](int64_t item, bool live) {
        const int64_t row = quotient(item, s.heads), column = (item - row * s.heads.by) * s.width;
        const float*  z = s.z + row * s.ld_z + column;
        const bool    stores = threadIdx.x % (16 / V) == 0 && live;
#pragma unroll 1
        for (int which = 0; which < (__any_sync(ALL_LANES, item < targets) ? 2 : 1); which++) {
            const float d = dot<V>(z, (which ? s.att_r : s.att_l) + column, s.width);
            if (stores && item < (which ? targets : items)) (which ? s.er : s.el)[item] = d;
        }
    });
}

inline cudaError_t launch_scores(const scores_job& s, cudaStream_t stream)
{
    const uint64_t grains = grain(s.z, s.ld_z) | grain(s.att_l, 0) | grain(s.att_r, 0);
    const int      floats = floats_of(grains, static_cast<int32_t>(s.width));
    const int64_t  tiles = tiles_of(s.n.max * s.heads.by, THREADS * floats / 16);
    auto           kernel = floats == 4 ? scores<4> : floats == 2 ? scores<2> : scores<1>;
    return launch_tiles(kernel, tiles, THREADS, stream, s);
}

// The gradients of one attention vector or two: sums over n rows of del * z, and over the first of them, the
// targets, of der * z. A thread goes down V columns of 256 rows, a segment, which it reads once for both.
struct scores_back_job {
    const float *z, *del, *der, *att;
    float *      datt, *datt_r;
    float *      dz, *partial; // partial: of segments, `apart` floats apart: of n, then of the targets
    int64_t      ld_z, ld_dz, apart;
    ggnn_count   n, targets;
    int32_t      heads, width;     // of a row
    divider      chunks, per_head; // of a row; of a head
};

// Adds what rows [u, end) give to left and, of targets, to right: ROWS at once, then fewer.
template <int V, int ROWS, bool TARGETS>
__device__ inline void vector_sums_rows(const scores_back_job& s, int64_t& u, int64_t end, int64_t head,
                                        int64_t column, chunk<float, V>& left, chunk<float, V>& right)
{
#pragma unroll 1
    for (; u + ROWS <= end; u += ROWS) {
        const int64_t   at = u * s.heads + head;
        chunk<float, V> z[ROWS];
        float           del[ROWS], der[ROWS];
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
            z[j] = load_chunk<V>(s.z + (u + j) * s.ld_z + column);
            del[j] = __ldg(s.del + at + j * s.heads);
            if (TARGETS) der[j] = __ldg(s.der + at + j * s.heads);
        }
#pragma unroll
        for (int j = 0; j < ROWS; j++) {
#pragma unroll
            for (int i = 0; i < V; i++) {
                const float x = z[j].at[i];
                left.at[i] = __fadd_rn(left.at[i], __fmul_rn(del[j], x));
                if (TARGETS) right.at[i] = __fadd_rn(right.at[i], __fmul_rn(der[j], x));
            }
        }
    }
    constexpr int FEWER = ROWS / 4 > 0 ? ROWS / 4 : 1;
    if constexpr (ROWS > 1) vector_sums_rows<V, FEWER, TARGETS>(s, u, end, head, column, left, right);
}

// 16-byte loads: 22 in 1 instances
template <int V> static GGNNI_KERNEL(128, THREADS, 2) vector_sums(scores_back_job s)
{
    constexpr int ROWS = V == 1 ? 32 : 8;
    const int64_t n = size_of(s.n), targets = least(size_of(s.targets), n);
    for_items((n + SEGMENT - 1) / SEGMENT * s.chunks.by, [&](int64_t t) {
        const int64_t   segment = quotient(t, s.chunks), c = t - segment * s.chunks.by, column = c * V;
        const int64_t   head = quotient(c, s.per_head), end = least((segment + 1) * SEGMENT, n);
        chunk<float, V> left = {}, right = {};
        int64_t         u = segment * SEGMENT;
        vector_sums_rows<V, ROWS, true>(s, u, least(end, targets), head, column, left, right);
        vector_sums_rows<V, ROWS, false>(s, u, end, head, column, left, right);
        float* partial = s.partial + segment * s.apart + column;
        store_chunk<false>(partial, left);
        if (s.datt_r) store_chunk<false>(partial + s.width, right);
    });
}

// store(column, part(0, column) + .. + part(segments - 1, column)), one after the other. Too few threads have
// a column for each to wait: a block takes 32 columns, of which each warp fetches 32 segments at a time, and
// the first warp adds all of them.
template <class P, class S>
__device__ inline void join_segments(int64_t columns, int64_t segments, float (&memory)[THREADS][WARP],
                                     P part, S store)
{
    const int64_t lane = threadIdx.x % WARP, own = threadIdx.x - lane, column = blockIdx.x * WARP + lane;
    float         x[WARP], total = 0;
#pragma unroll 1
    for (int64_t first = 0; first < segments; first += THREADS) {
        if (first + own < segments && column < columns) {
#pragma unroll
            for (int k = 0; k < WARP; k++) x[k] = part(least(first + own + k, segments - 1), column);
#pragma unroll
            for (int k = 0; k < WARP; k++) memory[own + k][lane] = x[k];
        }
        __syncthreads();
        if (own == 0 && column < columns)
            in_order<32>(
                0, least(segments - first, THREADS), [&](int64_t i) { return memory[i][lane]; },
                [&](float next, int64_t) { total = __fadd_rn(total, next); });
        __syncthreads();
    }
    if (own == 0 && column < columns) store(column, total);
}

static GGNNI_KERNEL(80, THREADS) add_segments(scores_back_job s)
{
    __shared__ float memory[THREADS][WARP];
    join_segments(
        s.apart, (size_of(s.n) + SEGMENT - 1) / SEGMENT, memory,
        [&](int64_t i, int64_t column) { return __ldg(s.partial + i * s.apart + column); },
        [&](int64_t column, float sum) {
            if (column < s.width) s.datt[column] = sum;
            else s.datt_r[column - s.width] = sum;
        });
}

// dz += del * att. A thread a chunk.
// 16-byte loads: 1 in 1 instances
template <int V> static GGNNI_KERNEL(40, THREADS) add_scores_back(scores_back_job s)
{
    for_items(size_of(s.n) * s.chunks.by, [&](int64_t t) {
        const int64_t         u = quotient(t, s.chunks), c = t - u * s.chunks.by;
        const float           del = __ldg(s.del + (u * s.heads + quotient(c, s.per_head)));
        const chunk<float, V> att = load_chunk<V>(s.att + c * V);
        float*                to = s.dz + u * s.ld_dz + c * V;
        chunk<float, V>       sum = *reinterpret_cast<const chunk<float, V>*>(to);
#pragma unroll
        for (int i = 0; i < V; i++) sum.at[i] = __fadd_rn(sum.at[i], __fmul_rn(del, att.at[i]));
        store_chunk<false>(to, sum);
    });
}

// s: all but apart and divisors; datt_r, the targets' or NULL; dz NULL: not wanted.
inline cudaError_t launch_scores_back(scores_back_job s, cudaStream_t stream)
{
    const uint64_t grains = grain(s.z, s.ld_z) | grain(s.partial, 0) | grain(s.dz, s.ld_dz) | grain(s.att, 0);
    const int      floats = floats_of(grains, s.width / s.heads);
    s.apart = int64_t{s.datt_r ? 2 : 1} * s.width;
    s.chunks = divide_by(s.width / floats), s.per_head = divide_by(s.width / s.heads / floats);
    const int64_t rows = s.n.max * s.chunks.by;
    const int64_t sums = tiles_of(s.n.max, SEGMENT) * s.chunks.by;
    const auto add = floats == 4 ? add_scores_back<4> : floats == 2 ? add_scores_back<2> : add_scores_back<1>;
    const auto sum = floats == 4 ? vector_sums<4> : floats == 2 ? vector_sums<2> : vector_sums<1>;
    cudaError_t error = s.dz ? launch_items(add, rows, stream, s) : cudaSuccess;
    error = first_error(error, launch_items(sum, sums, stream, s));
    return first_error(error, launch(add_segments, tiles_of(s.apart, WARP), THREADS, stream, s));
}

} // namespace ggnni

cudaError_t ggnn_cuda_scores(float* el, const float* z, int64_t ld_z, const float* att, ggnn_count n,
                             int32_t heads, int32_t width, cudaStream_t stream)
{
    GGNNI_CUDA_REQUIRE(n.max >= 0 && ggnni_heads_given(heads, width) && width > 0);
    GGNNI_CUDA_REQUIRE(ggnni::known(n) == 0 || (el && att));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(z, ld_z, ggnni::known(n), width));
    const ggnn_count     none = {};
    const ggnni::divider by = ggnni::divide_by(heads);
    return ggnni::launch_scores({el, nullptr, z, att, nullptr, ld_z, n, none, by, width / heads}, stream);
}

size_t ggnn_cuda_scores_back_workspace_bytes(int64_t max_rows, int32_t width)
{
    if (max_rows < 0 || width < 0) return 0;
    return static_cast<size_t>(ggnni::tiles_of(max_rows, ggnni::SEGMENT)) * static_cast<size_t>(width) *
           sizeof(float);
}
cudaError_t ggnn_cuda_scores_back(float* dz, int64_t ld_dz, float* datt, const float* del, const float* z,
                                  int64_t ld_z, const float* att, ggnn_count n, int32_t heads, int32_t width,
                                  void* workspace, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(n.max >= 0 && ggnni_heads_given(heads, width) && width > 0 && datt);
    GGNNI_CUDA_REQUIRE(known(n) == 0 || (del && att && workspace));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(z, ld_z, known(n), width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dz, ld_dz, known(n), width));
    const ggnn_count none = {};
    float*           partial = static_cast<float*>(workspace);
    scores_back_job  s = {z,     del,   nullptr, att, datt, nullptr, dz,    partial,
                          ld_z,  ld_dz, 0,       n,   none, heads,   width, {},      {}};
    return launch_scores_back(s, stream);
}

namespace ggnni {

// ---- attention: what forward and backward share ---------------------------------

struct attention_dropout {
    const ggnn_rng*  rng;   // on the device, or NULL: given
    ggnn_rng         given; //
    const ggnn_node* id;    // of the block
    int32_t          layer, heads;
    uint32_t         threshold; // 0: none
    float            kept;      // factor of what dropout leaves
};

inline attention_dropout dropout_of(const ggnn_gat_layer& y, const ggnn_rng* rng)
{
    const uint32_t threshold = ggnn_dropout_threshold(y.how.dropout);
    return {rng, y.how.rng, y.block->id, y.how.layer, y.heads, threshold, ggnn_dropout_scale(threshold)};
}

inline bool layer_given(const ggnn_gat_layer* y, const ggnn_rng* rng)
{
    if (!y || !block_given(y->block, true) || y->block->bipartite) return false;
    if (!ggnni_heads_given(y->heads, y->width) || y->width < 1) return false;
    const int64_t targets = known(y->block->num_dst), sources = known(y->block->num_src);
    return ((y->er && y->lse && (y->own_term || !y->term)) || targets == 0) && (y->el || sources == 0) &&
           ggnni_matrix_given(y->z, y->ld_z, sources, y->width) &&
           ggnni_matrix_given(y->out, y->ld_out, targets, y->width) && y->how.slope >= 0.0f &&
           y->how.dropout >= 0.0f && y->how.dropout < 1.0f &&
           y->how.layer >= 0 && y->how.layer < GGNN_HOP_NUMBERS && known(y->block->num_edges) < INT32_MAX &&
           (rng || !(y->how.dropout > 0.0f) || y->how.rng.purpose == GGNN_PURPOSE_ATTENTION_DROPOUT);
}

// Which of entries i & ~7 .. i | 7 of target v's list dropout takes, a bit each: all that is kept of the
// words.
__device__ inline unsigned dropped_entries(const attention_dropout& d, int32_t v, uint32_t i, int32_t head)
{
    const ggnn_rng   rng = d.rng ? *d.rng : d.given;
    const int64_t    node = id_of(d.id, v);
    const uint32_t   block = i / 8 * static_cast<uint32_t>(d.heads) + static_cast<uint32_t>(head);
    const ggnn_words words = random_words(rng, d.layer, node, block);
    unsigned         dropped = 0;
#pragma unroll
    for (int j = 0; j < 8; j++) dropped |= (ggnn_dropout_field(words, j) < d.threshold ? 1u : 0u) << j;
    return dropped;
}
__device__ inline float dropout_factor(const attention_dropout& d, unsigned dropped, uint32_t i)
{
    return dropped >> (i & 7) & 1 ? 0.0f : d.kept;
}

// LeakyReLU(sum) * log2 e.
__device__ inline float logit_of(float sum, float slope)
{
    return __fmul_rn(sum > 0 ? sum : __fmul_rn(slope, sum), LOG2_E);
}

// ggnn_log2 of ggnn.h, operation by operation: log2 of x >= 1.
__device__ inline float log2_rounded(float x)
{
    if (!(x < INFINITY)) return x;
    uint32_t bits = __float_as_uint(x), exponent = (bits - 0x3f3504f3u) >> 23;
    float    m = __uint_as_float(bits - (exponent << 23));
    float    z = __fdiv_rn(__fsub_rn(m, 1.0f), __fadd_rn(m, 1.0f)), zz = __fmul_rn(z, z);
    float    series = __fadd_rn(__fmul_rn(zz, 0.320598898f), 0.412198583f);
    series = __fadd_rn(__fmul_rn(zz, series), 0.577078016f);
    series = __fadd_rn(__fmul_rn(zz, series), 0.961796694f);
    series = __fadd_rn(__fmul_rn(zz, series), 2.885390082f);
    return __fadd_rn(static_cast<float>(exponent), __fmul_rn(z, series));
}

// ---- forward --------------------------------------------------------------------

// A list's sums under its greatest logit.
template <int N> struct power_sums {
    float value[N], sum, most;
};

// A thread has N columns of a target and does for them all that attention does, as if it were alone. The
// threads of a head compute the same logits and powers: arithmetic that a loop over rows in memory has to
// spare, where sharing it would cost shuffles or barriers. Entries: a target itself, then its edges.
template <bool DROP, bool TERM> struct gat_op : list_op {
    template <int N> using part = power_sums<N>;
    static constexpr bool LOOKS = true;
    static constexpr int  WIDEST = 4, BLOCKS = DROP || TERM ? 3 : 4, FEW_ENTRIES = 2 * IN_FLIGHT;
    float *               out, *lse;
    const int32_t *       indices, *edge;
    const float *         z, *el, *er, *term, *own_term;
    int64_t               ld_out, ld_z;
    divider               per_head;
    int32_t               heads;
    float                 slope;
    attention_dropout     drop;

    __device__ int32_t own(int32_t) const { return 1; }

    // Entries [first, end) of a target, as a thread of a head sees them.
    struct entries {
        const int32_t* id; // of entry i: id[i - 1]; of entry 0: v
        const float*   el; // of this head
        int32_t        v, head, edge; // of entry 1
        uint32_t       first, end;
        float          er, own_term;
    };
    __device__ entries entries_of(int32_t v, int32_t column, int32_t begin, int32_t first, int32_t n) const
    {
        const int32_t head = static_cast<int32_t>(quotient(column, per_head));
        const int64_t at = static_cast<int64_t>(v) * heads + head;
        entries       l = {indices + (begin - first), el + head, v, head, begin - first, 0, 0, 0, 0};
        l.first = static_cast<uint32_t>(first), l.end = static_cast<uint32_t>(first + n);
        l.er = __ldg(er + at);
        if (TERM) l.own_term = __ldg(own_term + at);
        return l;
    }

    // The sources and scores of entries i, i + 1, ..; past the last its own again.
    template <int U> __device__ void find(int32_t (&u)[U], const entries& l, uint32_t i) const
    {
#pragma unroll
        for (int j = 0; j < U; j++) {
            const uint32_t at = min(i + j, l.end - 1);
            u[j] = at > 0 ? __ldg(l.id + (at - 1)) : l.v;
        }
    }
    template <int U>
    __device__ void load_scores(float (&score)[U], const int32_t (&u)[U], const entries& l, uint32_t i) const
    {
#pragma unroll
        for (int j = 0; j < U; j++) score[j] = __ldg(l.el + static_cast<int64_t>(u[j]) * heads);
#pragma unroll
        for (int j = 0; TERM && j < U; j += IN_FLIGHT) add_terms(score + j, l, i + j);
    }
    // To IN_FLIGHT scores. One branch for all: else loads wait for each other.
    __device__ void add_terms(float* score, const entries& l, uint32_t i) const
    {
        int32_t e[IN_FLIGHT];
        float   x[IN_FLIGHT];
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++)
            e[j] = l.edge + static_cast<int32_t>(max(min(i + j, l.end - 1), 1u) - 1);
        if (edge && l.end > 1) {
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++) e[j] = __ldg(edge + e[j]);
        }
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++) // of entry 0 anything that is there
            x[j] = __ldg(min(i + j, l.end - 1) ? term + (static_cast<int64_t>(e[j]) * heads + l.head) : l.el);
#pragma unroll
        for (int j = 0; j < IN_FLIGHT; j++)
            score[j] = __fadd_rn(score[j], min(i + j, l.end - 1) ? x[j] : l.own_term);
    }
    __device__ float logit(float score, const entries& l) const
    {
        return logit_of(__fadd_rn(score, l.er), slope);
    }

    // The greatest logit.
    __device__ float greatest(const entries& l) const
    {
        constexpr int U = TERM ? IN_FLIGHT : 4 * IN_FLIGHT;
        float         most = -INFINITY;
#pragma unroll 1
        for (uint32_t i = l.first; i < l.end; i += U) {
            int32_t u[U];
            float   score[U];
            find(u, l, i);
            load_scores(score, u, l, i);
#pragma unroll
            for (int j = 0; j < U; j++) {
                const float x = logit(score[j], l);
                most = x > most ? x : most;
            }
        }
        return most;
    }
    __device__ float look(int32_t v, int32_t column, int32_t begin, int32_t first, int32_t n) const
    {
        return greatest(entries_of(v, column, begin, first, n));
    }

    template <int N, int U>
    __device__ void load_rows(chunk<float, N> (&row)[U], const int32_t (&u)[U], int32_t column) const
    {
#pragma unroll
        for (int j = 0; j < U; j++) row[j] = load_chunk<N>(z + (u[j] * ld_z + column));
    }

    // Adds entry i. Past the last: chosen, not branched on, for a branch would take its load along.
    template <int N>
    __device__ void add(power_sums<N>& sums, const entries& l, uint32_t i, float logit, unsigned dropped,
                        const chunk<float, N>& row) const
    {
        const bool in = i < l.end;
        float      power = exp2_rounded(__fsub_rn(logit, sums.most));
        sums.sum = in ? __fadd_rn(sums.sum, power) : sums.sum;
        if (DROP) power = __fmul_rn(power, dropout_factor(drop, dropped, i));
#pragma unroll
        for (int c = 0; c < N; c++)
            sums.value[c] = in ? __fadd_rn(sums.value[c], __fmul_rn(power, row.at[c])) : sums.value[c];
    }

    // A turn's sources are read beside the rows of the turn before.
    template <int N>
    __device__ void add_all(power_sums<N>& sums, const entries& l, int32_t column, float most) const
    {
        unsigned dropped = 0;
        int32_t  u[IN_FLIGHT];
        sums = {};
        sums.most = most;
        find(u, l, l.first);
#pragma unroll 1
        for (uint32_t i = l.first; i < l.end; i += IN_FLIGHT) {
            float           score[IN_FLIGHT];
            chunk<float, N> row[IN_FLIGHT];
            load_rows(row, u, column);
            load_scores(score, u, l, i);
            find(u, l, i + IN_FLIGHT);
            if (DROP && i % 8 == 0) dropped = dropped_entries(drop, l.v, i, l.head); // a segment begins there
#pragma unroll
            for (int j = 0; j < IN_FLIGHT; j++) add(sums, l, i + j, logit(score[j], l), dropped, row[j]);
        }
    }

    // All of a list of at most FEW_ENTRIES: what it reads of them is read together.
    template <int N> __device__ void add_few(power_sums<N>& sums, const entries& l, int32_t column) const
    {
        const unsigned  dropped = DROP ? dropped_entries(drop, l.v, 0, l.head) : 0;
        int32_t         u[FEW_ENTRIES];
        float           score[FEW_ENTRIES];
        chunk<float, N> row[FEW_ENTRIES];
        find(u, l, 0);
        load_scores(score, u, l, 0);
        load_rows(row, u, column);
        sums = {};
        sums.most = -INFINITY;
#pragma unroll
        for (int j = 0; j < FEW_ENTRIES; j++) {
            score[j] = logit(score[j], l);
            sums.most = score[j] > sums.most ? score[j] : sums.most;
        }
#pragma unroll
        for (int j = 0; j < FEW_ENTRIES; j++) add(sums, l, j, score[j], dropped, row[j]);
    }

    template <int N>
    __device__ void reduce(power_sums<N>& sums, int32_t v, int32_t column, int32_t begin, int32_t first,
                           int32_t n) const
    {
        const entries l = entries_of(v, column, begin, first, n);
        if (n <= FEW_ENTRIES) add_few(sums, l, column);
        else add_all(sums, l, column, greatest(l));
    }
    template <int N>
    __device__ void reduce_under(power_sums<N>& sums, float most, int32_t v, int32_t column, int32_t begin,
                                 int32_t first, int32_t n) const
    {
        add_all(sums, entries_of(v, column, begin, first, n), column, most);
    }

    // total = keep * total + next
    template <int N> __device__ void join(power_sums<N>& total, const power_sums<N>& next) const
    {
        const float keep = exp2_rounded(__fsub_rn(total.most, next.most));
        total.most = next.most; // the greatest of all segments up to it
        total.sum = __fadd_rn(__fmul_rn(total.sum, keep), next.sum);
#pragma unroll
        for (int i = 0; i < N; i++)
            total.value[i] = __fadd_rn(__fmul_rn(total.value[i], keep), next.value[i]);
    }

    template <int N>
    __device__ void finish(const power_sums<N>& sums, int32_t v, int32_t column, int32_t) const
    {
        const int64_t   head = quotient(column, per_head);
        const float     inv = __frcp_rn(sums.sum);
        chunk<float, N> rows;
#pragma unroll
        for (int i = 0; i < N; i++) rows.at[i] = __fmul_rn(sums.value[i], inv);
        store_chunk<false>(out + v * ld_out + column, rows);
        if (column == head * per_head.by)
            lse[static_cast<int64_t>(v) * heads + head] = __fadd_rn(sums.most, log2_rounded(sums.sum));
    }
};

template <bool DROP, bool TERM>
inline cudaError_t launch_gat(const ggnn_gat_layer& y, const attention_dropout& drop, cudaStream_t stream)
{
    const ggnn_block&        b = *y.block;
    const divider            per_head = divide_by(y.width / y.heads);
    const gat_op<DROP, TERM> op = {{},       y.out,   y.lse,       b.indices,  b.edge,   y.z,
                                   y.el,     y.er,    y.term,      y.own_term, y.ld_out, y.ld_z,
                                   per_head, y.heads, y.how.slope, drop};
    return launch_lists(op, &b, y.width, y.heads, grain(y.out, y.ld_out) | grain(y.z, y.ld_z), stream);
}

} // namespace ggnni

cudaError_t ggnn_cuda_gat(const ggnn_gat_layer* y, const ggnn_rng* rng, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(layer_given(y, rng));
    const ggnn_block& b = *y->block;
    scores_job        s = {y->el,     y->er,     y->z,      y->att_l,            y->att_r,
                           y->ld_z,   b.num_src, b.num_dst, divide_by(y->heads), y->width / y->heads};
    cudaError_t       error = cudaSuccess;
    if (!y->att_l) s.el = y->er, s.att_l = y->att_r, s.n = b.num_dst;
    if (!y->att_l || !y->att_r) s.targets = {};
    if (y->att_l || y->att_r) error = launch_scores(s, stream);
    if (y->term && error == cudaSuccess)
        error = ggnn_cuda_spmm_edges(y->own_term, y->heads, nullptr, GGNN_MEAN, GGNN_EDGE_COPY, &b, nullptr,
                                     nullptr, 1, nullptr, 0, y->term, y->heads, y->heads, stream);
    if (error != cudaSuccess) return error;
    const attention_dropout drop = dropout_of(*y, rng);
    auto gat = drop.threshold ? launch_gat<true, false> : launch_gat<false, false>;
    if (y->term) gat = drop.threshold ? launch_gat<true, true> : launch_gat<false, true>;
    return gat(*y, drop, stream);
}

// =============================================================================
// ==== [9bi] ATTENTION: backward
// =============================================================================

namespace ggnni {

// Four steps: the gradient and coefficient of every entry, by targets, whose scores and rows of dout are read
// once; the gradients' sums by target, der, and by source, del; dz, over the transpose, with the scores' part
// in its store; and the gradients of the attention vectors. Formulas: ggnn_gat_back of ggnn.h.

struct gat_back_job {
    ggnn_block        b;
    const float *     z, *el, *er, *lse, *out, *dout, *term, *own_term;
    float*            delta;         // (num_dst, heads): out . dout
    float *           dlogit, *coef; // of entries, the targets' own first: gradients; alpha q
    int64_t           ld_z, ld_out, ld_dout;
    divider           whole; // by 1: an entry's heads are one thread's
    int32_t           heads, width; // of a head
    float             slope;
    attention_dropout drop;
};

// A group of lanes an entry, head after head: dout . z, and what follows from it, after its tile's delta.
// 16-byte loads: 48 in 4 instances
template <int V, bool DROP, bool TERM> static GGNNI_KERNEL(64, THREADS, 4) gat_gradients(gat_back_job s)
{
    const auto find_delta = [&](int64_t first, int rows) {
        for_groups<16 / V>(int64_t{rows} * s.heads, 0, 1, [&](int64_t item, bool live) {
            const int32_t nth = static_cast<int32_t>(item) / s.heads;
            const int64_t v = first + nth, column = (item - nth * s.heads) * s.width;
            const float   d = dot<V>(s.out + v * s.ld_out + column, s.dout + v * s.ld_dout + column, s.width);
            if (threadIdx.x % (16 / V) == 0 && live) s.delta[first * s.heads + item] = d;
        });
    };
    const auto find_gradient = [&](const edge_item& i) {
        const int64_t heads = s.heads, target = i.v * heads, e = i.e - i.v - 1;
        const int64_t u = i.nth ? __ldg(s.b.indices + e) : i.v;
        const int64_t entry = i.nth ? (size_of(s.b.num_dst) + e) * heads : target;
        const float*  term = nullptr;
        if (TERM) term = i.nth ? s.term + edge_of(s.b, e) * heads : s.own_term + target;
        const float *z = s.z + u * s.ld_z, *dout = s.dout + i.v * s.ld_dout;
#pragma unroll 1
        for (int32_t k = 0; k < heads; k++, z += s.width, dout += s.width) {
            const float er = __ldg(s.er + target + k), lse = __ldg(s.lse + target + k);
            const float delta = s.delta[target + k];
            float       el = __ldg(s.el + u * heads + k);
            if (TERM) el = __fadd_rn(el, __ldg(term + k));
            float       d = dot<V>(z, dout, s.width);
            const float logit = logit_of(__fadd_rn(er, el), s.slope);
            const float alpha = exp2_rounded(__fsub_rn(logit, lse));
            float       coef = alpha;
            if (DROP) {
                const uint32_t nth = static_cast<uint32_t>(i.nth);
                const unsigned dropped = dropped_entries(s.drop, static_cast<int32_t>(i.v), nth, k);
                const float    q = dropout_factor(s.drop, dropped, nth);
                d = __fmul_rn(q, d);
                coef = __fmul_rn(alpha, q);
            }
            d = __fmul_rn(alpha, __fsub_rn(d, delta));
            if (!(logit > 0)) d = __fmul_rn(d, s.slope);
            if (i.n == 1) d = 0; // v alone
            if (threadIdx.x % (16 / V) || !i.live) continue;
            s.dlogit[entry + k] = d;
            s.coef[entry + k] = coef;
        }
    };
    for_edges<16 / V, true>(s.b, s.whole, find_gradient, find_delta);
}

// What dz has of the scores: del * att_l, and of targets der * att_r.
struct through_scores : as_it_is {
    static constexpr int  BLOCKS = 3, TOGETHER = 2;
    static constexpr bool OWN = true, WEIGHTED = true;
    const float *         del, *der, *att_l, *att_r; // vectors: or NULL
    ggnn_count            num_own;
    divider               per_head;
    int32_t               heads;

    __device__ int32_t owners() const { return static_cast<int32_t>(size_of(num_own)); }

    template <int N, int U>
    __device__ void apply(chunk<float, N> (&y)[U], int32_t v, int32_t end, int32_t own, int32_t column) const
    {
        const int64_t   at = static_cast<int64_t>(v) * heads + quotient(column, per_head);
        chunk<float, N> l, r;
        float           dl[U], dr[U];
        if (att_l) l = load_chunk<N>(att_l + column);
        if (att_r) r = load_chunk<N>(att_r + column);
#pragma unroll
        for (int k = 0; k < U; k++) dl[k] = att_l && v + k < end ? __ldg(del + (at + k * heads)) : 0.0f;
#pragma unroll
        for (int k = 0; k < U; k++) dr[k] = att_r && v + k < own ? __ldg(der + (at + k * heads)) : 0.0f;
#pragma unroll
        for (int k = 0; k < U; k++) {
#pragma unroll
            for (int j = 0; j < N; j++) {
                if (att_l) y[k].at[j] = __fadd_rn(y[k].at[j], __fmul_rn(dl[k], l.at[j]));
                if (att_r && v + k < own) y[k].at[j] = __fadd_rn(y[k].at[j], __fmul_rn(dr[k], r.at[j]));
            }
        }
    }
};

// The gradient of an edge's term: its own, and its share of its target's.
static GGNNI_KERNEL(40, THREADS) term_gradients(edges_job s)
{
    const float* of_edge = s.x + size_of(s.b.num_dst) * s.heads.by; // entries: the targets' own first
    for_edges<1, false>(s.b, s.heads, [&](const edge_item& i) {
        const float d = __ldg(of_edge + (i.e * s.heads.by + i.k));
        const float all = __ldg(s.x + (i.v * s.heads.by + i.k));
        const float share = __fmul_rn(all, __frcp_rn(static_cast<float>(i.n)));
        if (i.live) s.out[edge_of(s.b, i.e) * s.heads.by + i.k] = __fadd_rn(d, share);
    });
}

template <int V> inline cudaError_t launch_gradients(const gat_back_job& s, cudaStream_t stream)
{
    auto kernel = s.drop.threshold ? gat_gradients<V, true, false> : gat_gradients<V, false, false>;
    if (s.term) kernel = s.drop.threshold ? gat_gradients<V, true, true> : gat_gradients<V, false, true>;
    return launch_edges(kernel, s, stream);
}

} // namespace ggnni

cudaError_t ggnn_cuda_gat_back(float* dz, int64_t ld_dz, const ggnn_block* transpose, const ggnn_gat_layer* y,
                               const float* dout, int64_t ld_dout, const ggnn_rng* rng, cudaStream_t stream)
{
    using namespace ggnni;
    GGNNI_CUDA_REQUIRE(layer_given(y, rng) && block_given(transpose, true));
    GGNNI_CUDA_REQUIRE(transposed(transpose, y->block));
    GGNNI_CUDA_REQUIRE(y->del || known(transpose->num_dst) == 0);
    GGNNI_CUDA_REQUIRE((y->der && y->delta && y->dlogit && y->coef) || known(y->block->num_dst) == 0);
    GGNNI_CUDA_REQUIRE((!y->att_l || y->datt_l) && (!y->att_r || y->datt_r) && (!y->term || y->dterm));
    GGNNI_CUDA_REQUIRE((!y->att_l && !y->att_r) || y->partial);
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dz, ld_dz, known(transpose->num_dst), y->width));
    GGNNI_CUDA_REQUIRE(ggnni_matrix_given(dout, ld_dout, known(y->block->num_dst), y->width));
    GGNNI_CUDA_REQUIRE(ld_dout < 1 << 30);
    const ggnn_block& b = *y->block;
    const int32_t     heads = y->heads, per_head = y->width / heads;
    const uint64_t    grains = grain(dz, ld_dz) | grain(y->z, y->ld_z) | grain(dout, ld_dout);
    const int         floats = floats_of(grains | grain(y->out, y->ld_out), per_head);
    const gat_back_job s = {b,       y->z,         y->el,    y->er,     y->lse,       y->out,  dout,
                            y->term, y->own_term,  y->delta, y->dlogit, y->coef,      y->ld_z, y->ld_out,
                            ld_dout, divide_by(1), heads,    per_head,  y->how.slope, dropout_of(*y, rng)};
    const matrix_rows    rows = rows_of(dout, ld_dout, transpose->indices);
    const edge_weights   weights = {y->coef, transpose->edge, heads, per_head};
    const through_scores then = {{},        y->del,    y->der,              y->att_l,
                                 y->att_r,  b.num_dst, divide_by(per_head), heads};
    ggnn_block           in_order = b; // edges as they are listed
    in_order.edge = nullptr;

    cudaError_t next, error = floats == 4   ? launch_gradients<4>(s, stream)
                              : floats == 2 ? launch_gradients<2>(s, stream)
                                            : launch_gradients<1>(s, stream);
    next = launch_entry_sums<target_sums>(y->der, in_order, b.num_dst, y->dlogit, heads, stream);
    error = first_error(error, next);
    next = launch_entry_sums<entry_sums>(y->del, *transpose, b.num_dst, y->dlogit, heads, stream);
    error = first_error(error, next);
    error = first_error(error, launch_back(dz, ld_dz, transpose, nullptr, weights, rows, y->width, then,
                                           grains | grain(y->att_l, 0) | grain(y->att_r, 0), stream));
    const edges_job terms = {b, y->dterm, y->dlogit, nullptr, divide_by(heads)};
    if (y->term) error = first_error(error, launch_edges(term_gradients, terms, stream));
    scores_back_job sums = {};
    sums.z = y->z, sums.ld_z = y->ld_z, sums.partial = y->partial, sums.heads = heads, sums.width = y->width;
    sums.n = y->att_l ? transpose->num_dst : b.num_dst, sums.del = y->att_l ? y->del : y->der;
    sums.datt = y->att_l ? y->datt_l : y->datt_r;
    if (y->att_l && y->att_r) sums.targets = b.num_dst, sums.der = y->der, sums.datt_r = y->datt_r;
    if (y->att_l || y->att_r) error = first_error(error, launch_scores_back(sums, stream));
    return error;
}

#ifdef GGNN_NODE64
} // inline namespace ggnn_node64
#endif

#endif // GGNN_CUDA_IMPLEMENTED
#endif // GGNN_CUDA_IMPLEMENTATION

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
