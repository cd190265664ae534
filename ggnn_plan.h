// ggnn_plan.h - v0.3.0 - what lives where: plans of caches, placement and partition for ggnn.h, in C99
//
// A graph or its features may be larger than a device. This header decides, before training, which rows and
// lists lie in a device's memory, on which device, and which device trains on which nodes. ggnn.h then reads
// them: its decisions fill a ggnn_layout, its parts and its cache. Host only, for set-up: nothing
// here runs in a training step.
//
// In ONE C or C++ file, with ggnn.h beside it and its implementation in the program:
//     #define GGNN_PLAN_IMPLEMENTATION
//     #include "ggnn_plan.h"
// In all others just include it.
//
// A cache of the rows that training reads most, PreSC's:
//     count the reads of K epochs of sampling            ggnn_count_epochs
//     rank the nodes by it                               ggnn_rank
//     how many rows fit                                  ggnn_fill_ratio, ggnn_fill_rows
//     layout.cache_row = rank; layout.cached = rows;     and copy row order[i] to the cache's row i
//
// WHAT IT DOES NOT DO
//   It moves no row but in [6], measures no time, reads no file, and looks at no machine: the figures of a
//   machine (bytes free, bandwidths, slopes) are arguments. No allocation, no printing, no global state, no
//   threads but ggnn_gather's in [6].
//
// GLOSSARY (and ggnn.h's)
//   hotness    the number of times that a node's row or list is read, or an estimate of it
//   order      nodes, hottest first     rank   a node's place in it: order[rank[v]] = v
//   slope      time saved per unit of hit ratio
//   plan       which parts each device stores, and from where it reads the others
//   closure    a part's training nodes, and all nodes that up to L hops of full lists reach from them
//
// OPTIONS: ggnn.h's GGNN_STATIC, GGNN_NODE64
//
// CONTENTS (search for the tag; the implementation's are [1i] .. [6i])
//   [1] COUNT   [2] RANK   [3] FILL   [4] PLACE   [5] PARTITION   [6] DIST
//
// FUNCTIONS: the outputs of each (written whole, unless said), arguments that may be NULL, errors
//   Each works on the calling thread. Fails with: GGNN_ERROR_...; the outputs are undefined then. A caller's
//   mistake is GGNN_ERROR_ARGUMENT of every function with a status, and 0 of those that return a number or a
//   struct (ggnn.h, [1]).
//   ggnn_...             writes                                         may be NULL           fails with
//  [1]
//   count_degrees        out, in (N)                                    out, in, fault        ID
//   count_batch          rows, lists (N), added to                      rows, lists           ARGUMENT
//   count_epochs         rows, lists (N), added to; b; seeds            rows, lists           ARGUMENT, ID,
//                                                                                             WEIGHT,
//                                                                                             CAPACITY
//   count_hits           returns the reads                                                    -
//  [2]
//   rank, rank_random    rank, order (n)                                                      -
//  [3]
//   fill_ratio,          return the number, the bytes                                         -
//   fill_rows, fill_auto
//   fill_lists           rank (n), left (parts); returns the number                           -
//   fill_parts           taken (n), left (parts); returns ranks,      taken                   -
//                        numbers and bytes
//   fill_slope           returns nanoseconds                                                  -
//   fill_dual            row_rank, list_rank (n); returns the numbers                         -
//  [4]
//   topology_named       t                                                                    ARGUMENT
//   topology_validate    fault (1)                                      fault                 ARGUMENT
//   place_parts          plan                                           fault                 ARGUMENT
//   place_sources        plan: source, most, copies, bandwidth          fault                 ARGUMENT
//  [5]
//   partition_ids        owner (n)                                                            -
//   partition_mincut     owner, workspace (N)                           fault                 ARGUMENT, ID
//   partition_pagraph    owner (N), cut (1); workspace:                 fault                 ARGUMENT, ID
//                        _workspace_bytes
//   partition_closure    list (N at most), bound (hops + 2); seen       fault                 ID
//   partition_cut        cut (1)                                        fault                 ID
//  [6]
//   dist_bytes           returns bytes                                                        returns 0
//   dist_plan            d, in workspace of dist_bytes                  fault                 ARGUMENT, ID
//   dist_lists           returns the arrays; bytes (1)                  bytes, memory         -
//   dist_cut             memory (part[p].bytes)                         fault                 ARGUMENT, ID
//   dist_open            d: graph, rows                                                       ARGUMENT
//
// MEMORY
//   The caller's, all of it, aligned as malloc's. Outputs overlap nothing. The stack: less than 100 KiB.
//
// PROMISES
//   A plan is integers made from integers: the same counts, bytes and slopes give the same plan on every
//   machine. Where fractions are compared, 128-bit products are. Bandwidths are doubles and are only divided
//   by small integers and compared. A search ends by a count of plans, never by time.
//
// PAPERS
//   Lin et al. 2020, PaGraph (SoCC)                      cache by out-degree, its size, partition (Eq. 1)
//   Zhu et al. 2019, AliGraph (PVLDB 12)                 importance: a ratio of degrees
//   Yang et al. 2022, GNNLab (EuroSys)                   PreSC: hotness by pre-sampling
//   Zhang et al. 2023, DUCATI (SIGMOD)                   one budget over lists and rows
//   Tang et al. 2024, XGNN (PVLDB 17)                    placement of parts on devices, DistGraph
//   Stanton and Kliot 2012 (KDD), Nishimura and Ugander 2013 (KDD)      streaming partition, repeated
//
// LICENSE: MIT, at the end of ggnn.h.

// C's casts and its null pointers, where C++ warns of them.
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#ifndef GGNN_PLAN_H
#define GGNN_PLAN_H
#include "ggnn.h"

#if defined(GGNN_PLAN_IMPLEMENTATION) && defined(__FAST_MATH__)
#error "ggnn_plan.h's implementation needs IEEE arithmetic: no -ffast-math"
#endif
#if GGNN_VERSION_NUMBER != 300
#error "ggnn_plan.h 0.3.0 goes with ggnn.h 0.3.0"
#endif

#ifdef __cplusplus
extern "C" { // as ggnn.h's functions
#endif

// =============================================================================
// ==== [1] COUNT: how often rows and lists are read
// =============================================================================
// A count is one int64_t per node. No function here clears it: counts of several calls add up. Divide by the
// epochs for a mean; the ranking is the same.

// Out-degrees (PaGraph's hotness: how many lists have the node) and in-degrees (the length of its own list)
// of any graph, in parts or not. AliGraph's hotness is in / out. Overwrites both. O(N + E). GGNN_ERROR_ID: a
// broken list, or an id outside [0, N) (fault names the list's node).
GGNN_API ggnn_status ggnn_count_degrees(int64_t*          out, // (num_nodes) or NULL
                                        int64_t*          in,  // (num_nodes) or NULL
                                        const ggnn_graph* g, ggnn_fault* fault);

// The reads of one mini-batch, added: 1 to rows[v] for each input node v, that is each source of the last hop
// (PreSC); 1 to lists[v] for each hop that v is a target of (DUCATI). O(ids). The batch has no global last
// hop: GGNN_ERROR_ARGUMENT.
GGNN_API ggnn_status ggnn_count_batch(int64_t*          rows,  // (N) added to; or NULL
                                      int64_t*          lists, // (N) added to; or NULL
                                      const ggnn_batch* b);

// Epochs of mini-batches. Epoch e of them takes its seeds as training does, seed i of the epoch being
// ids[ggnn_shuffle(rng.seed, first_epoch + e, i, num_ids)], batch_size per batch, the last one shorter.
// PreSC#K: purpose GGNN_PURPOSE_PRESAMPLE, first_epoch GGNN_PRESAMPLE_EPOCH, so that neither the samples nor
// the order are those of training. The optimal oracle counts the very epochs that are measured: training's
// purpose, epoch and step.
typedef struct ggnn_epochs {
    const ggnn_node* ids; // (num_ids) the training nodes
    int64_t          num_ids, batch_size;
    ggnn_rng         rng; // of the first batch; step grows by 1 per batch
    uint32_t         first_epoch;
} ggnn_epochs;

#define GGNN_PRESAMPLE_EPOCH 0x80000000u

// Batches per epoch. num_ids >= 0, batch_size >= 1.
GGNN_HD int64_t ggnn_epoch_batches(const ggnn_epochs* of)
{
    return of->num_ids / of->batch_size + (of->num_ids % of->batch_size != 0);
}

// Samples batches [begin, end), counted through all epochs, and counts their reads (ggnn_count_batch). K
// epochs are batches [0, K * ggnn_epoch_batches). Several threads may each count batches of their own, with a
// batch and counts of their own, which then add up to the same. Fails as ggnn_sample does, and b->fault names
// the node. O(edges sampled). On a device: ggnn_cuda_epoch_batch, ggnn_cuda_count_batch of ggnn_cuda.cuh.
GGNN_API ggnn_status ggnn_count_epochs(int64_t*           rows,  // (N) added to; or NULL
                                       int64_t*           lists, // (N) added to; or NULL
                                       ggnn_batch*        b,     // planned for batch_size seeds, and laid out
                                       const ggnn_graph*  g,
                                       const ggnn_epochs* of,
                                       int64_t begin, int64_t end,
                                       ggnn_node* seeds); // (batch_size) workspace

// The reads that a cache of the ranks below `cached` takes: the sum of their counts. Over the sum of all
// counts it is the hit ratio. O(n).
GGNN_API int64_t ggnn_count_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n);

// =============================================================================
// ==== [2] RANK: hottest first
// =============================================================================

// The order of a ranking: falling hot[v] / over[v]; equal ones by falling length of their lists, where
// indptr is given; then by rising id.
//   policy                 hot                        over          indptr
//   degree (PaGraph)       out-degree                 NULL          NULL
//   AliGraph               in-degree                  out-degree    NULL
//   PreSC#K                rows of K epochs           NULL          the graph's
//   optimal                rows of the epochs measured  NULL        the graph's
//   random                 ggnn_rank_random
//   dual (DUCATI)          ggnn_fill_dual ranks, as it fills
// A topology is ranked by `lists`, features by `rows`. A rank for all devices lays out the parts; each device
// may rank its own cache by its own counts.
typedef struct ggnn_hotness {
    const int64_t* hot;    // (n) >= 0; without over of either sign
    const int64_t* over;   // (n) >= 0, or NULL: ones. A node with 0 comes after all others: nobody reads it
    const int64_t* indptr; // (n + 1) or NULL
} ggnn_hotness;

// O(n log n) comparisons. n <= GGNN_NODE_MAX.
GGNN_API ggnn_status ggnn_rank(ggnn_node*          rank,  // (n) overwritten
                        ggnn_node*          order, // (n) overwritten
                        const ggnn_hotness* by, int64_t n);

// A random order, keyed by the seed alone. O(n).
GGNN_API ggnn_status ggnn_rank_random(ggnn_node* rank, ggnn_node* order, uint64_t seed, int64_t n);

// =============================================================================
// ==== [3] FILL: how much fits
// =============================================================================
// O(1), unless said.

// The first floor(ratio * n) of n. A product that misses an integer by its rounding alone (.29 * 100) counts
// as that integer. Below 0 and NaN: 0; above 1: n.
GGNN_API int64_t ggnn_fill_ratio(double ratio, int64_t n);

// Rows of row_bytes that fit into bytes: at most n, none where bytes is negative.
GGNN_API int64_t ggnn_fill_rows(int64_t bytes, int64_t row_bytes, int64_t n);

// Bytes for a cache after the first mini-batch (PaGraph): total - peak - reserve, never negative. All three
// are >= 0.
GGNN_API int64_t ggnn_fill_auto(int64_t total, int64_t peak, int64_t reserve);

// Bytes per row, per edge and per list.
typedef struct ggnn_sizes {
    int64_t        row;    // of a feature row, padding included; >= 1
    const int64_t* indptr; // (N + 1) of the whole graph
    int64_t        edge;   // of an edge in a list: its id, its weight; >= 0
    int64_t        list;   // of a list beside its edges; >= 1
} ggnn_sizes;

// What a list or a row takes on a device: of a list its ids, its weights, and two entries, of indptr and of
// first; of a row the store's pitch (NULL: no rows; 4 stands in for them).
GGNN_HD ggnn_sizes ggnn_sizes_of(const ggnn_graph* g, const ggnn_store* rows)
{
    ggnn_sizes of = {4, g->whole.indptr, (int64_t)sizeof(ggnn_node), 2 * (int64_t)sizeof(int64_t)};
    if (rows) of.row = rows->pitch;
    if (g->whole.weight) of.edge += (int64_t)sizeof(float);
    return of;
}

// The bytes of list v. v must be in [0, N).
GGNN_HD int64_t ggnn_list_bytes(const ggnn_sizes* of, int64_t v)
{
    return (of->indptr[v + 1] - of->indptr[v]) * of->edge + of->list;
}

// Lists by bytes. Goes through order, takes each list that fits and skips each that does not, so that a hub
// larger than a budget costs no other list its place. Rank i is of part i % parts: each round of lists has
// one for each part. The largest of a round goes to the part with most room, and so on, so that parts fill up
// evenly. Lists that are no whole round go to parts 0, 1, ... in turn, where they fit. Those taken have ranks
// 0, 1, ..., round by round; the others the ranks after, in order. Returns how many were taken:
// layout.stored, or with parts = 1 layout.cached. O(n min(parts, GGNN_PARTS_MAX)): a round is of
// GGNN_PARTS_MAX parts at most.
GGNN_API int64_t ggnn_fill_lists(ggnn_node*       rank,  // (n) overwritten; not order
                                 int64_t*         left,  // (parts) bytes of each part, then the bytes left
                                 int32_t          parts,
                                 const ggnn_node* order, // (n)
                                 const ggnn_sizes* of, int64_t n);

// GGMS (XGNN): what P devices store together, each `copies` of the P parts: of lists and of rows the first so
// many of an order, hottest first, or as many of them as fit. ggnn-train, its --explain and ggnn-bench store
// all ask this function: part by part, by each list's own bytes.
typedef struct ggnn_parts {
    const ggnn_sizes* of;
    const ggnn_node*  list_rank;    // (n) the order of lists, and
    const ggnn_node*  list_order;   // (n) its nodes: order[rank[v]] = v. Both may be NULL where lists is 0
    const ggnn_node*  row_rank;     // (n) the order of rows; NULL: that of ids
    int64_t           lists, rows;  // wanted: the first so many, in [0, n]
    int64_t           device_bytes; // of each device for its parts; INT64_MAX: no limit; negative: 0
    int32_t           parts, copies; // P >= 1; parts that a device stores at most (ggnn_placement.most) >= 1
    int32_t           features_first; // not 0: rows take the bytes that they need first; else lists do
} ggnn_parts;
typedef struct ggnn_parts_fill {
    const ggnn_node *list_rank, *row_rank; // layout.rank of each kind; NULL: v itself
    int64_t lists, rows;                   // layout.stored: ranks below it are in parts, rank h in part h % P
    int64_t list_bytes, row_bytes;         // of `copies` parts as full as the fullest: a device has no more
} ggnn_parts_fill;

// A part has floor(device_bytes / copies). The kind that comes first takes what it needs of each part, the
// other what the fullest part leaves. Wanted lists are dealt to the parts in turn: all n of them by id, fewer
// by list_rank. Where they do not fit so, ggnn_fill_lists deals those of them that do. All parts have as many
// rows: all that are wanted, or as many as fit. No part has more bytes than its room. What lies in turn by
// id, and a kind of which nothing is stored, has rank NULL. A caller's mistake: all 0. O(n + P), and
// ggnn_fill_lists where it is called. Tang et al. 2024, part by part in place of its totals.
GGNN_API ggnn_parts_fill ggnn_fill_parts(
    ggnn_node*        taken, // (n) ranks, where ggnn_fill_lists deals lists; NULL: device_bytes is INT64_MAX
    int64_t*          left,  // (parts) workspace
    const ggnn_parts* from, int64_t n);

// DUCATI's slope: the line of least squares through n times (ms) at n hit ratios; its negated slope, in
// nanoseconds per unit of hit ratio, rounded. 0 where the slope has the wrong sign, or is not defined: fewer
// than two ratios, or no number. Take the times with caches of random entries (ggnn_rank_random). O(n).
GGNN_API int64_t ggnn_fill_slope(const double* hit, const double* ms, int64_t n);

// DUCATI: one budget over rows and lists. The value density of a row is count / (sum of counts) * slope /
// bytes, that of a list likewise. Entries are taken in falling density; one that does not fit is skipped.
// Equal densities: rows first, then the smaller id. A slope of 0 leaves all entries of its kind out. Both
// slopes 0: both count as 1, so that frequency per byte decides. (Slope / sum is kept to 32 bits.) An entry
// whose count is negative is never taken: this device may not read it.
typedef struct ggnn_dual { // the input of DUCATI's allocation
    const int64_t*    rows;  // (n) counts, below 2^32
    const int64_t*    lists; // (n) counts, below 2^32
    int64_t           row_slope, list_slope; // nanoseconds per unit of hit ratio, >= 0
    const ggnn_sizes* of;
    int64_t           budget; // bytes; negative: 0
} ggnn_dual;
typedef struct ggnn_dual_fill {
    int64_t rows, lists;           // cached: ranks below these
    int64_t row_bytes, list_bytes; // taken, no more than the budget
} ggnn_dual_fill;
// O(n log n) comparisons.
GGNN_API ggnn_dual_fill ggnn_fill_dual(ggnn_node*       row_rank,  // (n) overwritten
                                       ggnn_node*       list_rank, // (n) overwritten
                                       const ggnn_dual* from, int64_t n,
                                       ggnn_node* workspace); // (2 n)

// =============================================================================
// ==== [4] PLACE: which parts each device stores, and where it reads the others
// =============================================================================
// XGNN. P devices share P parts of equal size; device i stores at least part i. Each device must be able to
// read every part: from its own memory, or from a device that it has a link to. Its links decide how many
// parts it has to store.

enum { GGNN_DEVICES_MAX = 16 };

typedef struct ggnn_topology {
    int32_t devices; // P
    double  bandwidth[GGNN_DEVICES_MAX][GGNN_DEVICES_MAX]; // [i][j]: of i reading j's memory, in any unit;
                                                           // 0: it cannot. [i][i], its own memory: > 0
} ggnn_topology;

// Machines by name, GB/s: "dgx-1v" (8 V100, numbered as nvidia-smi does), "dgx-a100" (NVSwitch), "pcie-pairs"
// (0-1, 2-3, ... share a switch), "ring", "none" (no links). The first `devices` of it; 0: 8. All but the
// first may have up to 16. GGNN_ERROR_ARGUMENT: no such name, or not so many devices.
GGNN_API ggnn_status ggnn_topology_named(ggnn_topology* t, const char* name, int32_t devices);

// GGNN_ERROR_ARGUMENT: devices outside [1, 16], an entry that is negative or not finite, a diagonal of 0;
// fault names it, node its row and edge its column. A link of one direction is allowed.
GGNN_API ggnn_status ggnn_topology_validate(const ggnn_topology* t, ggnn_fault* fault);

typedef GGNN_ENUM {
    GGNN_PLACE_BEST,   // PRUNED over numberings of the devices (all for P <= 7, else the first 5,040 in
                       // lexicographic order), then EXACT from there. Of max_plans a quarter is for the
                       // caller's numbering, half for the others, and the rest for EXACT
    GGNN_PLACE_PRUNED, // XGNN's search. Device by device, each part that the device cannot read goes to one
                       // of those that it can read (or itself): to the one with the fewest parts, of these
                       // the one with most readers that lack the part, of these one that lacks it itself;
                       // all that tie are tried. Depends on the numbering
    GGNN_PLACE_EXACT,  // branch and bound: fewest parts on the fullest device, then the largest bandwidth,
                       // then fewest copies, then the first in order: where two plans differ first, device by
                       // device and part by part, the one that stores the part
    GGNN_PLACE_CLIQUE  // disjoint cliques, each of which holds everything; the smallest as large as can be
} ggnn_place_rule;

typedef struct ggnn_placement {
    int32_t  devices;
    uint16_t stores[GGNN_DEVICES_MAX];                  // bit p of [i]: device i stores part p
    int8_t   source[GGNN_DEVICES_MAX][GGNN_DEVICES_MAX]; // [i][p]: the device that i reads part p from
    int32_t  most;                                      // parts on the fullest device
    int32_t  copies;                                    // parts stored by all devices together
    double   bandwidth; // least, over devices i and those they read: bandwidth[i][j] / parts read from j
    int64_t  plans;     // examined; EXACT counts partial ones too
    int32_t  complete;  // 0: the search was cut at max_plans. 1: it was not; of BEST and EXACT: the plan is
                        // proven best (BEST's perhaps not the first of equal ones)
} ggnn_placement;

// Plans that a rule examines where max_plans is 0. The default rule answers within a second then, at P = 16.
#define GGNN_PLANS_DEFAULT 16384

// Finds a plan. Ends when max_plans (>= 1; 0: the default) are examined, whatever the rule: never by time. A
// plan costs O(P^6) at most. No rule gives a worse plan than the first that it completes.
// GGNN_ERROR_ARGUMENT: as ggnn_topology_validate, or max_plans is negative.
GGNN_API ggnn_status ggnn_place_parts(ggnn_placement* plan, const ggnn_topology* t, ggnn_place_rule rule,
                                      int64_t max_plans, ggnn_fault* fault);

// Fills source, most, copies and bandwidth of a plan whose devices and stores are given: for each device the
// sources that make its least bandwidth / parts largest; of equal choices the lexicographically smallest.
// O(P^6). GGNN_ERROR_ARGUMENT: a device cannot read some part (fault: node the device, edge the part), or the
// plan has another number of devices than the topology.
GGNN_API ggnn_status ggnn_place_sources(ggnn_placement* plan, const ggnn_topology* t, ggnn_fault* fault);

// =============================================================================
// ==== [5] PARTITION: which device has which nodes
// =============================================================================
// owner (N): the part of each node, in [0, parts); 1 <= parts <= GGNN_PARTS_MAX. By GGNN_OWNER_MAP,
// ggnn_layout_owners makes a layout of it.

enum { GGNN_PARTS_MAX = 64 };

// owner[v] = ggnn_owner_of(v, how, ..): by range, modulo or hash, not by map. O(n).
GGNN_API ggnn_status ggnn_partition_ids(int32_t* owner, ggnn_owner how, int32_t parts, int64_t n);

// Few edges between parts, no part larger than ceil(N (100 + slack) / (100 parts)). Linear deterministic
// greedy (Stanton and Kliot): nodes come in breadth-first order; each goes to the part with most of its
// neighbours, times the room left there. Repeated `passes` times with the assignment before (Nishimura and
// Ugander). Then nodes move, one at a time, while that cuts fewer edges. It sees only the lists: where edges
// have no reverse, give it the symmetrised ones (ggnn_graph_simplify). O(passes (N + E)). GGNN_ERROR_ID: a
// broken list or id (fault names the list's node); GGNN_ERROR_ARGUMENT: parts, passes < 1, slack outside
// [0, 10000].
GGNN_API ggnn_status ggnn_partition_mincut(int32_t* owner, const ggnn_graph* g, int32_t parts, int32_t passes,
                                           int32_t    slack,     // %
                                           ggnn_node* workspace, // (N)
                                           ggnn_fault* fault);

// PaGraph's partition of the training nodes, Eq. 1. Each training node v, in the order given, goes to the
// part i with the largest
//   (|TV_i and IN_L(v)| + 1) (|TV| / parts - |TV_i|) / (|PV_i| + 1)
// TV_i: the training nodes that part i has so far. IN_L(v): the nodes that up to L hops of full lists reach
// from v. PV_i: all nodes that part i has so far, its training nodes and their IN_L. Compared as
// cross-products; equal ones: the part with fewest training nodes, then the first. Sizes differ by one at
// most. IN_L(v) grows fast with L: after closure_limit nodes, in breadth-first order, it is cut.
typedef struct ggnn_pagraph {
    const ggnn_node* ids;           // (num_ids) the training nodes, each once
    int64_t          num_ids;
    int32_t          parts, hops;   // L >= 0
    int64_t          closure_limit; // >= 0
} ggnn_pagraph;
GGNN_API size_t ggnn_partition_pagraph_workspace_bytes(int64_t num_nodes);
// O(edges of all closures). GGNN_ERROR_ID: a broken list, an id outside [0, N), a training node given twice
// (fault names the node); GGNN_ERROR_ARGUMENT: parts, hops or limit out of range.
GGNN_API ggnn_status ggnn_partition_pagraph(int32_t* owner, // (N) -1: no training node
                                            int64_t* cut,   // (1) training nodes whose IN_L was cut
                                            const ggnn_graph* g, const ggnn_pagraph* how, void* workspace,
                                            ggnn_fault* fault);

// The nodes of a part: its training nodes and all nodes that up to `hops` hops of full lists reach from them.
// A node of hop h < hops needs its list, one of hop `hops` only its row: edges to it carry no message to a
// training node. O(N + edges of the part). GGNN_ERROR_ID: as above.
GGNN_API ggnn_status ggnn_partition_closure(ggnn_node* list,  // (N) the nodes, training nodes first, by hop
                                            int64_t*   bound, // (hops + 2) hop h: [bound[h], bound[h+1])
                                            const ggnn_graph* g, const int32_t* owner, int32_t part,
                                            const ggnn_node* ids, int64_t num_ids, // the training nodes
                                            int32_t hops,
                                            void* seen, // N bytes of workspace
                                            ggnn_fault* fault);

// Edges whose ends have different owners. O(N + E). GGNN_ERROR_ID: as above.
GGNN_API ggnn_status ggnn_partition_cut(int64_t* cut, const ggnn_graph* g, const int32_t* owner,
                                        ggnn_fault* fault);

// =============================================================================
// ==== [6] DIST: a graph and its features over devices (XGNN's DistGraph)
// =============================================================================
// DistGraph(data set, graph ratio, feature ratio), Tang et al. 2024: the lists and the rows of the hottest
// nodes lie in P parts, one per device; all others stay with the host. Every device reads all of it through
// one graph and one store. The rank of a node decides: rank h lies in part h % P, as row h / P.
//
// On GPUs ggnn_cuda_dist_open ([7b] of ggnn_cuda.cuh) is the one call: it plans, allocates, cuts and maps. On
// a CPU all memory is the caller's, so that there are three:
//     ggnn_dist_plan   what lies where, and the bytes of each part
//     ggnn_dist_cut    writes a part into its memory; threads or processes each write their own
//     ggnn_dist_open   d->graph and d->rows, over all parts, once every part's memory is known
// Each process makes its own plan, of the same data; then part p is the same in all. Reads give what one
// array holds, bit for bit: a batch's samples and rows do not depend on ratios, ranks or parts.

typedef struct ggnn_dist_data {
    ggnn_graph       graph;         // all lists, in one CSC (ggnn_graph_plain) in the host's memory
    ggnn_store       rows;          // N rows in one array (ggnn_store_plain) there; zeros: no features
    double           graph_ratio;   // of the N lists, those that lie in parts; in [0, 1]
    double           feature_ratio; // of the N rows
    const ggnn_node* rank;          // (N) a permutation, 0 the hottest (ggnn_rank); NULL: by out-degree
    int32_t          by_id;         // not 0: v has rank v (ggnn_graph_reorder), no table; rank is NULL
    int32_t          parts;         // P, in [1, GGNN_PARTS_MAX]; may be more than N
} ggnn_dist_data;

typedef struct ggnn_dist_part { // what part p holds
    int64_t lists, edges, rows;
    int64_t list_at, row_at; // in list_id, row_id: where its nodes begin
    size_t  row_offset;      // bytes before its rows; its lists (ggnn_dist_lists) lie before them
    size_t  bytes;           // in all; 0: it is empty
} ggnn_dist_part;

typedef struct ggnn_dist {
    ggnn_graph            graph;    // what devices read: at is its layout; traffic is NULL, yours to set
    ggnn_store            rows;     // and its own
    const ggnn_dist_part* part;     // (parts)
    const ggnn_node *     list_id;  // (graph.at.stored) the nodes of lists: part 0's, in order, part 1's, ...
    const ggnn_node *     row_id;   // (rows.at.stored)  of rows, likewise
    ggnn_graph            whole;    // the data's
    ggnn_store            all_rows;
    void*                 tables;   // in the workspace
} ggnn_dist;

// Bytes of the workspace of ggnn_dist_plan: 24 N, 40 N with 64-bit ids, and the tables. 0: out of range.
GGNN_API size_t ggnn_dist_bytes(int64_t num_nodes, int32_t parts);

// Plans. *d points into the workspace and to the data: both outlive it. Of lists the first ggnn_fill_ratio
// (graph_ratio, N) lie in parts, of rows likewise; where all do, they lie in turn by id, without a table
// (ggnn_fill_parts). The host tier is the data itself. O(E + N log N) by degree, else O(N). GGNN_ERROR_ID:
// rank is no permutation, or a part's list is broken; fault names the node. Weights are not looked at, nor ids where
// rank or by_id is given: see ggnn_graph_validate.
GGNN_API ggnn_status ggnn_dist_plan(ggnn_dist* d, const ggnn_dist_data* from, void* workspace,
                                    ggnn_fault* fault);

// How n lists with `edges` edges lie in one piece of memory: indptr (n + 1), first (n), indices, and weight
// (edges) where `whole` has weights, each at a multiple of 128 bytes from `memory`. *bytes: up to the end of
// the last one. memory NULL: the bytes alone. O(1).
GGNN_API ggnn_csc ggnn_dist_lists(size_t* bytes, void* memory, const ggnn_graph* whole, int64_t n,
                                  int64_t edges);

// Writes part `part`: its lists, then its rows, of the data's pitch; padding behind a row is not written.
// memory: part[part].bytes bytes. O(bytes); rows by GGNN_PARALLEL_FOR. GGNN_ERROR_ID: a list is broken.
GGNN_API ggnn_status ggnn_dist_cut(void* memory, const ggnn_dist* d, int32_t part, ggnn_fault* fault);

// Makes d->graph and d->rows, from where part p lies: memory[p], as the reader addresses it (no part is
// touched); any value where a part has no bytes. O(parts). Call it again where parts have moved.
GGNN_API ggnn_status ggnn_dist_open(ggnn_dist* d, void* const* memory);

#ifdef __cplusplus
} // extern "C"
#endif

#if defined(GGNN_NODE64) && !defined(GGNN_STATIC) // as in ggnn.h: a mixture of widths does not link
GGNNI_WIDE(ggnn_count_degrees) GGNNI_WIDE(ggnn_count_batch) GGNNI_WIDE(ggnn_count_epochs)
GGNNI_WIDE(ggnn_count_hits) GGNNI_WIDE(ggnn_rank) GGNNI_WIDE(ggnn_rank_random) GGNNI_WIDE(ggnn_fill_lists)
GGNNI_WIDE(ggnn_fill_parts) GGNNI_WIDE(ggnn_fill_dual) GGNNI_WIDE(ggnn_partition_ids)
GGNNI_WIDE(ggnn_partition_mincut)
GGNNI_WIDE(ggnn_partition_pagraph_workspace_bytes) GGNNI_WIDE(ggnn_partition_pagraph)
GGNNI_WIDE(ggnn_partition_closure) GGNNI_WIDE(ggnn_partition_cut)
GGNNI_WIDE(ggnn_dist_bytes) GGNNI_WIDE(ggnn_dist_plan) GGNNI_WIDE(ggnn_dist_lists) GGNNI_WIDE(ggnn_dist_cut)
GGNNI_WIDE(ggnn_dist_open)
#endif

#endif // GGNN_PLAN_H

#ifdef GGNN_PLAN_IMPLEMENTATION
#ifndef GGNN_PLAN_IMPLEMENTED
#define GGNN_PLAN_IMPLEMENTED

// =============================================================================
// ==== [1i] COUNT
// =============================================================================

GGNN_API ggnn_status ggnn_count_degrees(int64_t* out, int64_t* in, const ggnn_graph* g, ggnn_fault* fault)
{
    if (!g || g->num_nodes < 0) return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no graph", -1, -1);
    if (out) memset(out, 0, (size_t)g->num_nodes * sizeof *out);
    for (int64_t v = 0; v < g->num_nodes; v++) {
        const ggnn_list list = ggnn_neighbors(g, (ggnn_node)v);
        if (list.degree < 0) return ggnni_fault(fault, GGNN_ERROR_ID, "indptr is broken", v, -1);
        if (in) in[v] = list.degree;
        for (int64_t i = 0; i < list.degree; i++) {
            if ((uint64_t)list.id[i] >= (uint64_t)g->num_nodes)
                return ggnni_fault(fault, GGNN_ERROR_ID, "an id is outside [0, num_nodes)", v, -1);
            if (out) out[list.id[i]]++;
        }
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

GGNN_API ggnn_status ggnn_count_batch(int64_t* rows, int64_t* lists, const ggnn_batch* b)
{
    if (!b || !b->num_seeds.n) return GGNN_ERROR_ARGUMENT;
    if (b->num_hops < 1 || b->how.last_hop_global) return GGNN_ERROR_ARGUMENT;
    for (int32_t h = 0; lists && h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) lists[b->hop[h].id[i]]++;
    for (int64_t i = 0; rows && i < *b->hop[b->num_hops - 1].num_src.n; i++)
        rows[b->hop[b->num_hops - 1].id[i]]++;
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_count_epochs(int64_t* rows, int64_t* lists, ggnn_batch* b, const ggnn_graph* g,
                                       const ggnn_epochs* of, int64_t begin, int64_t end, ggnn_node* seeds)
{
    if (!b || !g || !of || of->batch_size < 1 || begin < 0 || end < begin) return GGNN_ERROR_ARGUMENT;
    if (begin < end && (of->num_ids < 1 || !of->ids || !seeds)) return GGNN_ERROR_ARGUMENT;
    const int64_t batches = ggnn_epoch_batches(of);
    for (int64_t i = begin; i < end; i++) {
        const int64_t  first = i % batches * of->batch_size, left = of->num_ids - first;
        const int64_t  count = left < of->batch_size ? left : of->batch_size;
        const uint32_t epoch = of->first_epoch + (uint32_t)(i / batches);
        ggnn_rng       rng = of->rng;
        ggnn_status    status;
        rng.step += (uint32_t)i;
        for (int64_t k = 0; k < count; k++)
            seeds[k] = of->ids[ggnn_shuffle(of->rng.seed, epoch, first + k, of->num_ids)];
        status = ggnn_sample(b, g, &rng, seeds, count);
        if (status == GGNN_OK) status = ggnn_count_batch(rows, lists, b);
        if (status != GGNN_OK) return status;
    }
    return GGNN_OK;
}

GGNN_API int64_t ggnn_count_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n)
{
    if (n < 0 || (n && (!count || !rank))) return 0;
    int64_t hits = 0;
    for (int64_t v = 0; v < n; v++)
        if (rank[v] < cached) hits += count[v];
    return hits;
}

// =============================================================================
// ==== [2i] RANK
// =============================================================================

typedef struct { // a product of two 64-bit numbers
    uint64_t high, low;
} ggnni_wide;

static ggnni_wide ggnni_product(uint64_t a, uint64_t b)
{
    ggnni_wide product = {ggnn_mul_high(a, b), a * b};
    return product;
}

static int ggnni_wide_compare(ggnni_wide a, ggnni_wide b) // -1, 0, 1
{
    if (a.high != b.high) return a.high < b.high ? -1 : 1;
    return a.low < b.low ? -1 : a.low > b.low;
}

// a / a_over against b / b_over: as cross-products.
static int ggnni_fraction_compare(int64_t a, int64_t a_over, int64_t b, int64_t b_over)
{
    return ggnni_wide_compare(ggnni_product((uint64_t)a, (uint64_t)b_over),
                              ggnni_product((uint64_t)b, (uint64_t)a_over));
}

// Does b come before a, which has the smaller id?
typedef int ggnni_before(const void* context, ggnn_node b, ggnn_node a);

// Merges runs of doubling length from one buffer into the other; the last pass writes order. Stable over ids,
// so that equal nodes stay by id.
static void ggnni_rank_sort(ggnn_node* order, ggnn_node* other, int64_t n, ggnni_before* before,
                            const void* context)
{
    ggnn_node *from = order, *to = other, *swap;
    for (int64_t width = 1; width < n; width *= 2) {
        swap = from;
        from = to;
        to = swap;
    }
    for (int64_t v = 0; v < n; v++) from[v] = (ggnn_node)v;
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * width) {
            const int64_t middle = begin + width < n ? begin + width : n;
            const int64_t end = middle + width < n ? middle + width : n;
            int64_t       a = begin, b = middle;
            for (int64_t i = begin; i < end; i++) {
                const int second = a == middle || (b < end && before(context, from[b], from[a]));
                to[i] = second ? from[b++] : from[a++];
            }
        }
        swap = from;
        from = to;
        to = swap;
    }
}

static int ggnni_hotter(const void* context, ggnn_node b, ggnn_node a)
{
    const ggnn_hotness* by = (const ggnn_hotness*)context;
    int                 hotter = 0;
    if (!by->over) hotter = by->hot[b] < by->hot[a] ? -1 : by->hot[b] > by->hot[a];
    else if (by->over[a] && by->over[b])
        hotter = ggnni_fraction_compare(by->hot[b], by->over[b], by->hot[a], by->over[a]);
    else hotter = (by->over[b] != 0) - (by->over[a] != 0);
    if (hotter || !by->indptr) return hotter > 0;
    return by->indptr[b + 1] - by->indptr[b] > by->indptr[a + 1] - by->indptr[a];
}

static void ggnni_rank_invert(ggnn_node* rank, const ggnn_node* order, int64_t n)
{
    for (int64_t i = 0; i < n; i++) rank[order[i]] = (ggnn_node)i;
}

GGNN_API ggnn_status ggnn_rank(ggnn_node* rank, ggnn_node* order, const ggnn_hotness* by, int64_t n)
{
    if (n < 0 || n > GGNN_NODE_MAX || (n && (!rank || !order || !by || !by->hot))) return GGNN_ERROR_ARGUMENT;
    ggnni_rank_sort(order, rank, n, ggnni_hotter, by);
    ggnni_rank_invert(rank, order, n);
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_rank_random(ggnn_node* rank, ggnn_node* order, uint64_t seed, int64_t n)
{
    if (n < 0 || n > GGNN_NODE_MAX || (n && (!rank || !order))) return GGNN_ERROR_ARGUMENT;
    // a key of its own: that of training's epochs would put the first batches' nodes first
    const ggnn_rng rng = {seed, GGNN_PRESAMPLE_EPOCH >> 2, GGNN_PURPOSE_PRESAMPLE};
    const uint64_t key = ggnn_draw(ggnn_random(&rng, 255, 0, 0), 0);
    for (int64_t i = 0; i < n; i++) order[i] = (ggnn_node)ggnn_shuffle(key, GGNN_PRESAMPLE_EPOCH, i, n);
    ggnni_rank_invert(rank, order, n);
    return GGNN_OK;
}

// =============================================================================
// ==== [3i] FILL
// =============================================================================

GGNN_API int64_t ggnn_fill_ratio(double ratio, int64_t n)
{
    const double rounding = 1.0 + 1.0 / (1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0); // 4 ulps
    double       nodes;
    if (!(ratio > 0) || n <= 0) return 0;
    if (ratio >= 1) return n;
    nodes = ratio * (double)n * rounding;
    return nodes < (double)n ? (int64_t)nodes : n; // of 2^50 nodes the rounding is a node
}

GGNN_API int64_t ggnn_fill_rows(int64_t bytes, int64_t row_bytes, int64_t n)
{
    const int64_t rows = bytes > 0 && row_bytes > 0 ? bytes / row_bytes : 0;
    if (n <= 0) return 0;
    return rows < n ? rows : n;
}

GGNN_API int64_t ggnn_fill_auto(int64_t total, int64_t peak, int64_t reserve)
{
    if (total < 0 || peak < 0 || reserve < 0) return 0;
    if (peak >= total || reserve >= total - peak) return 0;
    return total - peak - reserve;
}

// Nodes that were not taken (-1) get the ranks after the `taken`, in order.
static void ggnni_fill_others(ggnn_node* rank, const ggnn_node* order, int64_t taken, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (rank[order[i]] < 0) rank[order[i]] = (ggnn_node)taken++;
}

typedef struct { // of a part its room, of a list its bytes
    int64_t bytes, number;
} ggnni_round;

// Keeps n entries by falling bytes.
static void ggnni_round_insert(ggnni_round* sorted, int32_t n, int64_t bytes, int64_t number)
{
    for (; n > 0 && sorted[n - 1].bytes < bytes; n--) sorted[n] = sorted[n - 1];
    sorted[n].bytes = bytes;
    sorted[n].number = number;
}

// Does a list fit beside n others? Where any way does, the largest in the part with most room does.
static int ggnni_round_fits(const ggnni_round* room, const ggnni_round* list, int32_t n, int64_t bytes)
{
    for (; n > 0 && list[n - 1].bytes < bytes; n--)
        if (list[n - 1].bytes > room[n].bytes) return 0;
    return bytes <= room[n].bytes;
}

// A list for each of `parts` parts, of those from order[begin] on. Returns where the next round begins; -1:
// there are too few that fit, and none is taken.
static int64_t ggnni_fill_round(ggnn_node* rank, int64_t* left, int32_t parts, const ggnn_node* order,
                                int64_t begin, int64_t n, const ggnn_sizes* of, int64_t taken)
{
    ggnni_round room[GGNN_PARTS_MAX], list[GGNN_PARTS_MAX];
    int32_t     lists = 0;
    for (int32_t p = 0; p < parts; p++) ggnni_round_insert(room, p, left[p], p);
    for (; begin < n && lists < parts; begin++) {
        const int64_t bytes = ggnn_list_bytes(of, order[begin]);
        if (!ggnni_round_fits(room, list, lists, bytes)) continue;
        ggnni_round_insert(list, lists++, bytes, order[begin]);
    }
    if (lists < parts) return -1;
    for (int32_t i = 0; i < parts; i++) {
        left[room[i].number] -= list[i].bytes;
        rank[list[i].number] = (ggnn_node)(taken + room[i].number);
    }
    return begin;
}

GGNN_API int64_t ggnn_fill_lists(ggnn_node* rank, int64_t* left, int32_t parts, const ggnn_node* order,
                                 const ggnn_sizes* of, int64_t n)
{
    if (n < 0 || parts < 1 || !left || (n && (!rank || !order || !of || !of->indptr))) return 0;
    int64_t taken = 0, i = 0;
    int32_t part = 0; // taken % parts
    for (int64_t k = 0; k < n; k++) rank[order[k]] = -1;
    for (;;) {
        const int32_t round = parts - part < GGNN_PARTS_MAX ? parts - part : GGNN_PARTS_MAX;
        const int64_t next = ggnni_fill_round(rank, left + part, round, order, i, n, of, taken);
        if (next < 0) break;
        i = next;
        taken += round;
        part = part + round < parts ? part + round : 0;
    }
    for (; i < n; i++) { // no round: never so many that a part has two
        const int64_t bytes = ggnn_list_bytes(of, order[i]);
        if (bytes > left[part]) continue;
        left[part++] -= bytes;
        rank[order[i]] = (ggnn_node)taken++;
    }
    ggnni_fill_others(rank, order, taken, n);
    return taken;
}

// Bytes of the fullest part where the wanted lists are dealt in turn. Parts of unlike lists are not even.
static int64_t ggnni_parts_fullest(int64_t* part, const ggnn_parts* from, int64_t n)
{
    int64_t most = 0;
    memset(part, 0, (size_t)from->parts * sizeof *part);
    for (int64_t i = 0; i < from->lists; i++) {
        int64_t* of = &part[i % from->parts];
        *of += ggnn_list_bytes(from->of, from->lists == n ? i : from->list_order[i]);
        if (*of > most) most = *of;
    }
    return most;
}

// Lists in parts of `room` bytes.
static void ggnni_parts_lists(ggnn_parts_fill* fill, ggnn_node* taken, int64_t* left, const ggnn_parts* from,
                              int64_t room, int64_t n)
{
    int64_t least = room;
    fill->lists = from->lists;
    fill->list_bytes = ggnni_parts_fullest(left, from, n);
    fill->list_rank = from->lists > 0 && from->lists < n ? from->list_rank : NULL;
    if (fill->list_bytes <= room) return;
    memcpy(taken, from->list_rank, (size_t)n * sizeof *taken);
    for (int32_t p = 0; p < from->parts; p++) left[p] = room;
    fill->lists = ggnn_fill_lists(taken, left, from->parts, from->list_order, from->of, from->lists);
    fill->list_rank = fill->lists ? taken : NULL;
    for (int32_t p = 0; p < from->parts; p++)
        if (left[p] < least) least = left[p];
    fill->list_bytes = room - least;
}

static void ggnni_parts_rows(ggnn_parts_fill* fill, const ggnn_parts* from, int64_t room, int64_t n)
{
    const int64_t all = from->rows / from->parts + (from->rows % from->parts != 0);
    const int64_t each = ggnn_fill_rows(room, from->of->row, all);
    fill->rows = each == all ? from->rows : each * from->parts;
    fill->row_bytes = each * from->of->row;
    fill->row_rank = fill->rows > 0 && fill->rows < n ? from->row_rank : NULL;
}

static int ggnni_parts_wanted(const ggnn_parts* from, int64_t n)
{
    if (!from || !from->of || n < 0 || from->parts < 1 || from->copies < 1) return 0;
    if (from->lists < 0 || from->lists > n || from->rows < 0 || from->rows > n) return 0;
    return from->lists == 0 || (from->of->indptr && from->list_rank && from->list_order);
}

GGNN_API ggnn_parts_fill ggnn_fill_parts(ggnn_node* taken, int64_t* left, const ggnn_parts* from, int64_t n)
{
    ggnn_parts_fill fill = {NULL, NULL, 0, 0, 0, 0};
    int64_t         room;
    if (!left || !ggnni_parts_wanted(from, n)) return fill;
    if (!taken && from->lists && from->device_bytes < INT64_MAX) return fill;
    room = from->device_bytes > 0 ? from->device_bytes / from->copies : 0;
    if (from->features_first) ggnni_parts_rows(&fill, from, room, n);
    ggnni_parts_lists(&fill, taken, left, from, room - fill.row_bytes, n);
    if (!from->features_first) ggnni_parts_rows(&fill, from, room - fill.list_bytes, n);
    fill.list_bytes *= from->copies;
    fill.row_bytes *= from->copies;
    return fill;
}

GGNN_API int64_t ggnn_fill_slope(const double* hit, const double* ms, int64_t n)
{
    if (n < 2 || !hit || !ms) return 0;
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, slope;
    int    differ = 0; // equal ratios may differ from their mean, by its rounding
    for (int64_t i = 0; i < n; i++) {
        differ |= hit[i] < hit[0] || hit[i] > hit[0];
        mean_x += hit[i] / (double)n;
        mean_y += ms[i] / (double)n;
    }
    if (!differ) return 0;
    for (int64_t i = 0; i < n; i++) {
        xx += (hit[i] - mean_x) * (hit[i] - mean_x);
        xy += (hit[i] - mean_x) * (ms[i] - mean_y);
    }
    slope = xx > 0 ? -xy / xx * 1e6 : 0; // ms to ns
    if (!(slope > 0)) return 0;
    return slope < 9e15 ? (int64_t)(slope + .5) : (int64_t)9e15;
}

typedef struct { // DUCATI's densities: value of a count of each kind, below 2^32
    const ggnn_dual* from;
    uint64_t         row, list;
} ggnni_densities;

static int64_t ggnni_dual_count(const int64_t* count, int64_t v) { return count[v] > 0 ? count[v] : 0; }

static int ggnni_dual_row_first(const void* context, ggnn_node b, ggnn_node a)
{
    const ggnn_dual* from = (const ggnn_dual*)context;
    return ggnni_dual_count(from->rows, b) > ggnni_dual_count(from->rows, a);
}

static int ggnni_dual_list_first(const void* context, ggnn_node b, ggnn_node a)
{
    const ggnn_dual* from = (const ggnn_dual*)context;
    return ggnni_fraction_compare(ggnni_dual_count(from->lists, b), ggnn_list_bytes(from->of, b),
                                  ggnni_dual_count(from->lists, a), ggnn_list_bytes(from->of, a)) > 0;
}

static uint64_t ggnni_dual_sum(const int64_t* count, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t v = 0; v < n; v++) sum += (uint64_t)ggnni_dual_count(count, v);
    return sum ? sum : 1;
}

// slope / sum of either kind, brought to a common denominator; both shifted until they have 32 bits.
static ggnni_densities ggnni_dual_densities(const ggnn_dual* from, int64_t n)
{
    const uint64_t  both = from->row_slope == 0 && from->list_slope == 0;
    ggnni_wide      row = ggnni_product((uint64_t)from->row_slope + both, ggnni_dual_sum(from->lists, n));
    ggnni_wide      list = ggnni_product((uint64_t)from->list_slope + both, ggnni_dual_sum(from->rows, n));
    ggnni_densities d = {from, 0, 0};
    const int       some_row = (row.high | row.low) != 0, some_list = (list.high | list.low) != 0;
    while (row.high || list.high || row.low >> 32 || list.low >> 32) {
        row.low = row.low >> 1 | row.high << 63;
        list.low = list.low >> 1 | list.high << 63;
        row.high >>= 1;
        list.high >>= 1;
    }
    d.row = row.low ? row.low : (uint64_t)some_row;
    d.list = list.low ? list.low : (uint64_t)some_list;
    return d;
}

static int ggnni_dual_list_is_denser(const ggnni_densities* d, ggnn_node row, ggnn_node list)
{
    const ggnn_sizes* of = d->from->of;
    const uint64_t    list_value = (uint64_t)ggnni_dual_count(d->from->lists, list) * d->list;
    const uint64_t    row_value = (uint64_t)ggnni_dual_count(d->from->rows, row) * d->row;
    return ggnni_wide_compare(ggnni_product(list_value, (uint64_t)of->row),
                              ggnni_product(row_value, (uint64_t)ggnn_list_bytes(of, list))) > 0;
}

GGNN_API ggnn_dual_fill ggnn_fill_dual(ggnn_node* row_rank, ggnn_node* list_rank, const ggnn_dual* from,
                                       int64_t n, ggnn_node* workspace)
{
    ggnn_node *     row_order = workspace, *list_order;
    ggnn_dual_fill  fill = {0, 0, 0, 0};
    ggnni_densities d;
    int64_t         left, row, list;
    if (n <= 0 || !row_rank || !list_rank || !workspace || !from || !from->rows || !from->lists) return fill;
    if (!from->of || !from->of->indptr || from->row_slope < 0 || from->list_slope < 0) return fill;
    list_order = workspace + n;
    d = ggnni_dual_densities(from, n);
    left = from->budget > 0 ? from->budget : 0;
    row = d.row ? 0 : n, list = d.list ? 0 : n;
    ggnni_rank_sort(row_order, row_rank, n, ggnni_dual_row_first, from);
    ggnni_rank_sort(list_order, list_rank, n, ggnni_dual_list_first, from);
    for (int64_t v = 0; v < n; v++) row_rank[v] = list_rank[v] = -1;
    while (row < n || list < n) { // both orders fall in density
        if (row == n || (list < n && ggnni_dual_list_is_denser(&d, row_order[row], list_order[list]))) {
            const ggnn_node v = list_order[list++];
            const int64_t   bytes = ggnn_list_bytes(from->of, v);
            if (from->lists[v] < 0 || bytes > left) continue;
            left -= bytes;
            fill.list_bytes += bytes;
            list_rank[v] = (ggnn_node)fill.lists++;
        } else {
            const ggnn_node v = row_order[row++];
            if (from->rows[v] < 0 || from->of->row > left) continue;
            left -= from->of->row;
            fill.row_bytes += from->of->row;
            row_rank[v] = (ggnn_node)fill.rows++;
        }
    }
    ggnni_fill_others(row_rank, row_order, fill.rows, n);
    ggnni_fill_others(list_rank, list_order, fill.lists, n);
    return fill;
}

// =============================================================================
// ==== [4i] PLACE
// =============================================================================

// ---- topologies -------------------------------------------------------------

static void ggnni_topology_link(ggnn_topology* t, int32_t i, int32_t j, double bandwidth)
{
    if (i >= t->devices || j >= t->devices) return;
    t->bandwidth[i][j] = t->bandwidth[j][i] = bandwidth;
}

GGNN_API ggnn_status ggnn_topology_named(ggnn_topology* t, const char* name, int32_t devices)
{
    if (!t || !name) return GGNN_ERROR_ARGUMENT;
    static const int8_t two[8][2] = {{0, 3}, {0, 4}, {1, 2}, {1, 5}, {2, 3}, {4, 7}, {5, 6}, {6, 7}};
    static const int8_t one[8][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 6}, {3, 7}, {4, 5}, {4, 6}, {5, 7}};
    const int           dgx1 = strcmp(name, "dgx-1v") == 0, a100 = strcmp(name, "dgx-a100") == 0;
    const int           pairs = strcmp(name, "pcie-pairs") == 0, ring = strcmp(name, "ring") == 0;
    const int32_t       P = devices ? devices : 8;
    if (!dgx1 && !a100 && !pairs && !ring && strcmp(name, "none") != 0) return GGNN_ERROR_ARGUMENT;
    if (P < 1 || P > (dgx1 ? 8 : GGNN_DEVICES_MAX)) return GGNN_ERROR_ARGUMENT;
    memset(t, 0, sizeof *t);
    t->devices = P;
    for (int32_t l = 0; dgx1 && l < 8; l++) { // two NVLinks of 25 GB/s, or one
        ggnni_topology_link(t, two[l][0], two[l][1], 50);
        ggnni_topology_link(t, one[l][0], one[l][1], 25);
    }
    for (int32_t i = 0; i < P; i++) {
        for (int32_t j = 0; a100 && j < i; j++) ggnni_topology_link(t, i, j, 300);
        if (pairs && i % 2) ggnni_topology_link(t, i - 1, i, 12);
        if (ring && P > 1) ggnni_topology_link(t, i, (i + 1) % P, 50);
        t->bandwidth[i][i] = a100 ? 1555 : 700;
    }
    return GGNN_OK;
}

GGNN_API ggnn_status ggnn_topology_validate(const ggnn_topology* t, ggnn_fault* fault)
{
    if (!t) return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no topology", -1, -1);
    if (t->devices < 1 || t->devices > GGNN_DEVICES_MAX)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the number of devices is outside [1, 16]", -1, -1);
    for (int32_t i = 0; i < t->devices; i++)
        for (int32_t j = 0; j < t->devices; j++) {
            uint64_t bits; // looked at, as -ffinite-math-only takes every number for finite
            memcpy(&bits, &t->bandwidth[i][j], sizeof bits);
            if (bits >= (uint64_t)0x7ff << 52 && bits != (uint64_t)1 << 63)
                return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "a bandwidth is negative or not finite", i, j);
            if (i == j && !(t->bandwidth[i][j] > 0))
                return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "a device cannot read its own memory", i, j);
        }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

static int32_t ggnni_bits(uint32_t set)
{
    int32_t n = 0;
    for (; set; set &= set - 1) n++;
    return n;
}

typedef struct { // who can read whom, itself included
    int32_t  P;
    uint32_t reads[GGNN_DEVICES_MAX];   // by reader: the devices that it can read
    uint32_t readers[GGNN_DEVICES_MAX]; // by device: those that can read it
} ggnni_links;

static ggnni_links ggnni_links_of(const ggnn_topology* t)
{
    ggnni_links l;
    memset(&l, 0, sizeof l);
    l.P = t->devices;
    for (int32_t i = 0; i < l.P; i++)
        for (int32_t j = 0; j < l.P; j++)
            if (t->bandwidth[i][j] > 0) {
                l.reads[i] |= 1u << j;
                l.readers[j] |= 1u << i;
            }
    return l;
}

// ---- the sources of one device ----------------------------------------------
// Which device to read each part from, so that the least bandwidth / parts read is largest: parts are matched
// to devices, of which each takes as many as leave it the bandwidth that is asked for.

typedef struct {
    int32_t       P;
    const double* bandwidth;                // (P) of the links of this device
    uint32_t      holders[GGNN_DEVICES_MAX]; // by part: devices that it may be read from
    int32_t       room[GGNN_DEVICES_MAX], load[GGNN_DEVICES_MAX];
    int8_t        source[GGNN_DEVICES_MAX]; // by part; -1: not matched
    int32_t       failed; // the part that could not be matched,
    uint32_t      tried;  // and the devices, all full, that were tried for it
} ggnni_match;

// Finds a source for a part, moving others away where their devices have room elsewhere (Kuhn).
static int ggnni_match_part(ggnni_match* m, int32_t part, uint32_t* tried)
{
    for (int32_t j = 0; j < m->P; j++) {
        int found;
        if (!(m->holders[part] & ~*tried & 1u << j)) continue;
        *tried |= 1u << j;
        found = m->load[j] < m->room[j];
        if (found) m->load[j]++;
        for (int32_t q = 0; !found && q < m->P; q++)
            found = m->source[q] == j && q != part && ggnni_match_part(m, q, tried);
        if (found) {
            m->source[part] = (int8_t)j;
            return 1;
        }
    }
    return 0;
}

// Can all parts be read at this bandwidth, or more (strictly: more)?
static int ggnni_match_all(ggnni_match* m, double least, int strictly)
{
    for (int32_t j = 0; j < m->P; j++) {
        const double b = m->bandwidth[j];
        int32_t      k = least > 0 && b / least < m->P ? (int32_t)(b / least) + 1 : m->P;
        while (k > 0 && (strictly ? b / k <= least : b / k < least)) k--;
        m->room[j] = k;
        m->load[j] = 0;
    }
    for (int32_t p = 0; p < m->P; p++) m->source[p] = -1;
    for (int32_t p = 0; p < m->P; p++) {
        m->failed = p;
        m->tried = 0;
        if (!ggnni_match_part(m, p, &m->tried)) return 0;
    }
    return 1;
}

static void ggnni_match_begin(ggnni_match* m, const ggnn_topology* t, const ggnni_links* links,
                              int32_t device, const uint32_t* holders)
{
    m->P = t->devices;
    m->bandwidth = t->bandwidth[device];
    for (int32_t p = 0; p < m->P; p++) m->holders[p] = holders[p] & links->reads[device];
}

// The largest bandwidth; -1 where it is below `least`.
static double ggnni_match_best(ggnni_match* m, double least)
{
    if (!ggnni_match_all(m, least, 0)) return -1;
    do {
        least = m->bandwidth[m->source[0]] / m->load[m->source[0]];
        for (int32_t p = 1; p < m->P; p++) {
            const double b = m->bandwidth[m->source[p]] / m->load[m->source[p]];
            if (b < least) least = b;
        }
    } while (ggnni_match_all(m, least, 1));
    return least;
}

// The bandwidth of a plan's worst device; -1 where it is below `least`, or a part cannot be read. holders:
// by part, the devices that store it.
static double ggnni_plan_bandwidth(const ggnn_topology* t, const ggnni_links* links, const uint32_t* holders,
                                   double least)
{
    double      worst = -1;
    ggnni_match m;
    for (int32_t i = 0; i < t->devices; i++) {
        ggnni_match_begin(&m, t, links, i, holders);
        if (i && ggnni_match_all(&m, worst, 0)) continue;
        worst = ggnni_match_best(&m, least);
        if (worst < 0) return -1;
    }
    return worst;
}

static void ggnni_plan_holders(uint32_t* holders, const ggnn_placement* plan)
{
    for (int32_t p = 0; p < plan->devices; p++) {
        holders[p] = 0;
        for (int32_t i = 0; i < plan->devices; i++)
            if (plan->stores[i] >> p & 1) holders[p] |= 1u << i;
    }
}

static void ggnni_plan_count(ggnn_placement* plan)
{
    plan->most = plan->copies = 0;
    for (int32_t i = 0; i < plan->devices; i++) {
        const int32_t stored = ggnni_bits(plan->stores[i]);
        plan->copies += stored;
        if (stored > plan->most) plan->most = stored;
    }
}

GGNN_API ggnn_status ggnn_place_sources(ggnn_placement* plan, const ggnn_topology* t, ggnn_fault* fault)
{
    ggnn_status status = ggnn_topology_validate(t, fault);
    ggnni_links links;
    uint32_t    holders[GGNN_DEVICES_MAX];
    ggnni_match m;
    if (status != GGNN_OK) return status;
    if (!plan || plan->devices != t->devices)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the plan is not for the devices of the topology", -1,
                           -1);
    links = ggnni_links_of(t);
    ggnni_plan_holders(holders, plan);
    ggnni_plan_count(plan);
    for (int32_t i = 0; i < plan->devices; i++) {
        double least;
        for (int32_t p = 0; p < plan->devices; p++)
            if (!(holders[p] & links.reads[i]))
                return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "a device cannot read a part", i, p);
        ggnni_match_begin(&m, t, &links, i, holders);
        least = ggnni_match_best(&m, 0);
        if (i == 0 || least < plan->bandwidth) plan->bandwidth = least;
        for (int32_t p = 0; p < plan->devices; p++) { // each part from the first device that leaves a way
            const uint32_t from = m.holders[p];
            for (int32_t j = 0; j < plan->devices; j++) {
                m.holders[p] = from & 1u << j;
                if (m.holders[p] && ggnni_match_all(&m, least, 0)) break;
            }
        }
        for (int32_t p = 0; p < plan->devices; p++) plan->source[i][p] = m.source[p];
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// ---- what all searches share ------------------------------------------------

typedef struct {
    const ggnn_topology* t;
    ggnni_links          links;   // of t
    ggnni_links          own;     // in the numbering that is searched
    int8_t device[GGNN_DEVICES_MAX]; // the caller's number of each device of that numbering
    int32_t  published;           // keep the first of plans with equal bandwidth, as XGNN does
    int64_t  max_plans;           // examined in all, when the search under way ends
    int32_t  stopped;             // it ended there
    int32_t  limit;               // EXACT: parts that a device may store
    int32_t  found;               // EXACT: the first of the best plans
    uint32_t holders[GGNN_DEVICES_MAX];  // by part: devices that store it
    uint32_t possible[GGNN_DEVICES_MAX]; // EXACT: those, and those not yet decided
    int32_t  stored[GGNN_DEVICES_MAX];   // parts on each device
    int32_t  copies;
    ggnn_placement best;          // stores, most (0: none yet), copies, bandwidth, plans
} ggnni_search;

// Each device stores its own part and nothing else.
static void ggnni_search_begin(ggnni_search* s)
{
    s->copies = s->own.P;
    for (int32_t i = 0; i < s->own.P; i++) {
        s->holders[i] = 1u << i;
        s->possible[i] = (1u << s->own.P) - 1;
        s->stored[i] = 1;
    }
}

// Of two plans equal otherwise: at the first place where they differ, a stores and b does not.
static int ggnni_plan_first(const ggnn_placement* a, const ggnn_placement* b)
{
    for (int32_t i = 0; i < a->devices; i++) {
        const uint32_t differ = (uint32_t)a->stores[i] ^ b->stores[i];
        if (differ) return (a->stores[i] & (differ & (0u - differ))) != 0;
    }
    return 0;
}

// A complete plan, in the numbering searched. Keeps it if it is better than the best.
static int ggnni_search_offer(ggnni_search* s)
{
    const int32_t  P = s->own.P;
    uint32_t       holders[GGNN_DEVICES_MAX];
    ggnn_placement plan;
    memset(&plan, 0, sizeof plan);
    plan.devices = P;
    plan.plans = s->best.plans;
    for (int32_t i = 0; i < P; i++)
        for (int32_t p = 0; p < P; p++)
            if (s->holders[p] >> i & 1) plan.stores[s->device[i]] |= (uint16_t)(1u << s->device[p]);
    ggnni_plan_holders(holders, &plan);
    ggnni_plan_count(&plan);
    if (s->best.most && plan.most > s->best.most) return 0;
    plan.bandwidth = ggnni_plan_bandwidth(s->t, &s->links, holders,
                                          plan.most == s->best.most ? s->best.bandwidth : 0);
    if (plan.bandwidth < 0) return 0;
    if (plan.most == s->best.most && plan.bandwidth <= s->best.bandwidth) {
        if (s->published || plan.copies > s->best.copies) return 0;
        if (plan.copies == s->best.copies && !ggnni_plan_first(&plan, &s->best)) return 0;
    }
    s->best = plan;
    return 1;
}

// No plan has fewer parts on its fullest device: the parts that a device reads are on it and its neighbours.
static int32_t ggnni_bound_most(const ggnni_links* l)
{
    int32_t most = 1;
    for (int32_t i = 0; i < l->P; i++) {
        const int32_t linked = ggnni_bits(l->reads[i]);
        if ((l->P + linked - 1) / linked > most) most = (l->P + linked - 1) / linked;
    }
    return most;
}

// Is no plan better than the best (but for the order of equal ones)? Each device reads at most `most` parts
// from each other; and the P parts of P neighbourhoods are copies, each in as many as it has readers.
static int ggnni_search_at_bound(const ggnni_search* s)
{
    const int32_t P = s->links.P, most = s->best.most;
    int32_t       readers = 1;
    double        bandwidth = -1;
    if (most != ggnni_bound_most(&s->links)) return 0;
    for (int32_t i = 0; i < P; i++) {
        const double* from = s->t->bandwidth[i];
        double        largest = 0;
        if (ggnni_bits(s->links.readers[i]) > readers) readers = ggnni_bits(s->links.readers[i]);
        for (int32_t k = 0; k < P * P; k++) { // the values that a device's bandwidth may have
            const double value = from[k % P] / (k / P + 1);
            int32_t      parts = 0;
            if (value <= largest) continue;
            for (int32_t j = 0; j < P; j++) {
                int32_t room = 0;
                while (room < most && from[j] / (room + 1) >= value) room++;
                parts += room;
            }
            if (parts >= P) largest = value;
        }
        if (bandwidth < 0 || largest < bandwidth) bandwidth = largest;
    }
    return s->best.bandwidth >= bandwidth && (s->best.copies == P || s->best.copies * readers <= P * P);
}

// ---- XGNN's search ----------------------------------------------------------

// The devices that are equally good at storing the part that device g lacks.
static uint32_t ggnni_pruned_candidates(const ggnni_search* s, int32_t g, int32_t part)
{
    uint32_t lacking = 0, tied = 0;
    int32_t  least = INT32_MAX;
    for (int32_t d = 0; d < s->own.P; d++)
        if (!(s->own.reads[d] & s->holders[part])) lacking |= 1u << d;
    for (int32_t c = 0; c < s->own.P; c++) {
        int32_t key;
        if (!(s->own.reads[g] >> c & 1)) continue;
        key = s->stored[c] << 16 | (32 - ggnni_bits(s->own.readers[c] & lacking)) << 1 | !(lacking >> c & 1);
        if (key < least) tied = 0;
        if (key <= least) tied |= 1u << c;
        if (key < least) least = key;
    }
    return tied;
}

// Goes on from (device, part) = step / P, step % P. A plan that already has more parts on a device than the
// best counts as examined.
static void ggnni_pruned(ggnni_search* s, int32_t step)
{
    const int32_t P = s->own.P;
    uint32_t      tied;
    while (step < P * P && s->own.reads[step / P] & s->holders[step % P]) step++;
    if (step == P * P) {
        s->best.plans++;
        ggnni_search_offer(s);
        return;
    }
    tied = ggnni_pruned_candidates(s, step / P, step % P);
    for (int32_t c = 0; c < P; c++) {
        if (!(tied >> c & 1)) continue;
        if (s->best.plans >= s->max_plans) {
            s->stopped = 1;
            return;
        }
        if (s->best.most && s->stored[c] == s->best.most) {
            s->best.plans++;
            continue;
        }
        s->holders[step % P] |= 1u << c;
        s->stored[c]++;
        ggnni_pruned(s, step + 1);
        s->stored[c]--;
        s->holders[step % P] &= ~(1u << c);
    }
}

// The search in a numbering: device[i] is the caller's number of device i.
static void ggnni_pruned_numbered(ggnni_search* s, int64_t max_plans)
{
    s->own.P = s->links.P;
    for (int32_t i = 0; i < s->own.P; i++) {
        s->own.reads[i] = s->own.readers[i] = 0;
        for (int32_t j = 0; j < s->own.P; j++) {
            s->own.reads[i] |= (s->links.reads[s->device[i]] >> s->device[j] & 1) << j;
            s->own.readers[i] |= (s->links.readers[s->device[i]] >> s->device[j] & 1) << j;
        }
    }
    s->max_plans = max_plans;
    ggnni_search_begin(s);
    ggnni_pruned(s, 0);
}

static void ggnni_numbers(int8_t* device, int32_t P)
{
    for (int32_t i = 0; i < P; i++) device[i] = (int8_t)i;
}

// The lexicographically next numbering; 0: it was the last.
static int ggnni_numbers_next(int8_t* device, int32_t P)
{
    int32_t i = P - 2, j = P - 1;
    int8_t  swap;
    while (i >= 0 && device[i] > device[i + 1]) i--;
    if (i < 0) return 0;
    while (device[j] < device[i]) j--;
    swap = device[i];
    device[i] = device[j];
    device[j] = swap;
    for (i = i + 1, j = P - 1; i < j; i++, j--) {
        swap = device[i];
        device[i] = device[j];
        device[j] = swap;
    }
    return 1;
}

// ---- branch and bound -------------------------------------------------------
// Two searches, under a limit of parts on a device. The first adds what a device misses until all can read
// at the bandwidth wanted; it finds the least copies at the largest bandwidth. The second goes through plans
// in their order, to find the first of those equal.

typedef struct { // one of these parts must be added to one of these devices
    uint32_t parts, devices;
} ggnni_need;

static int ggnni_may_add(const ggnni_search* s, int32_t part, int32_t device)
{
    const uint32_t bit = 1u << device;
    return s->stored[device] < s->limit && (s->possible[part] & ~s->holders[part] & bit) != 0;
}

// May device d still read all parts at the bandwidth wanted? Parts that it lacks need room on those it reads.
static int ggnni_exact_hopes(const ggnni_search* s, int32_t d, double wanted, int strictly)
{
    int32_t     lacks = 0, room = 0;
    ggnni_match m;
    for (int32_t i = 0; i < s->own.P; i++) {
        lacks += !(s->own.reads[d] & s->holders[i]);
        if (s->own.reads[d] >> i & 1) room += s->limit - s->stored[i];
    }
    ggnni_match_begin(&m, s->t, &s->own, d, s->possible);
    return lacks <= room && ggnni_match_all(&m, wanted, strictly);
}

// What device d misses, and in how many ways it may be added: by Hall, a part among those that compete for
// devices which are full must become readable elsewhere. -1: it misses nothing.
static int32_t ggnni_exact_misses(const ggnni_search* s, int32_t d, double wanted, int strictly,
                                  ggnni_need* need)
{
    int32_t     ways = 0;
    ggnni_match m;
    ggnni_match_begin(&m, s->t, &s->own, d, s->holders);
    if (ggnni_match_all(&m, wanted, strictly)) return -1;
    need->parts = need->devices = 0;
    for (int32_t p = 0; p < s->own.P; p++)
        if (p == m.failed || (m.source[p] >= 0 && m.tried >> m.source[p] & 1)) need->parts |= 1u << p;
    for (int32_t j = 0; j < s->own.P; j++)
        if (s->own.reads[d] & ~m.tried & 1u << j && m.room[j] > 0) need->devices |= 1u << j;
    for (int32_t p = 0; p < s->own.P; p++)
        for (int32_t j = 0; j < s->own.P; j++)
            ways += need->parts >> p & need->devices >> j & 1 && ggnni_may_add(s, p, j);
    return ways;
}

// 1: a plan better than the best; 0: what must be added, of all devices the need with the fewest ways;
// -1: this becomes no better plan.
static int ggnni_exact_state(const ggnni_search* s, ggnni_need* need)
{
    const int    equal = s->best.most == s->limit; // else any plan is better
    const double wanted = equal ? s->best.bandwidth : 0;
    int32_t      fewest = INT32_MAX;
    ggnni_need   of_one;
    int          missing = 0;
    for (int32_t d = 0; d < s->own.P && !missing; d++)
        missing = ggnni_exact_misses(s, d, wanted, equal && s->copies >= s->best.copies, &of_one) >= 0;
    if (!missing) return 1;
    for (int32_t d = 0; d < s->own.P; d++) { // at least one copy more
        const int     strictly = equal && s->copies + 1 >= s->best.copies;
        const int32_t ways = ggnni_exact_misses(s, d, wanted, strictly, &of_one);
        if (ways < 0) continue;
        if (ways == 0 || !ggnni_exact_hopes(s, d, wanted, strictly)) return -1;
        if (ways < fewest) {
            fewest = ways;
            *need = of_one;
        }
    }
    return 0;
}

static void ggnni_exact(ggnni_search* s)
{
    ggnni_need need = {0, 0};
    uint32_t   possible[GGNN_DEVICES_MAX];
    int        state;
    if (s->best.plans >= s->max_plans) s->stopped = 1;
    if (s->stopped) return;
    s->best.plans++;
    while ((state = ggnni_exact_state(s, &need)) > 0)
        if (!ggnni_search_offer(s)) return;
    if (state < 0) return;
    memcpy(possible, s->possible, sizeof possible);
    for (int32_t stored = 1; stored < s->limit; stored++) // least filled devices first
        for (int32_t cell = 0; cell < s->own.P * s->own.P && !s->stopped; cell++) {
            const int32_t part = cell / s->own.P, device = cell % s->own.P;
            if (!(need.parts >> part & need.devices >> device & 1)) continue;
            if (s->stored[device] != stored || !ggnni_may_add(s, part, device)) continue;
            s->holders[part] |= 1u << device;
            s->stored[device]++;
            s->copies++;
            ggnni_exact(s);
            s->copies--;
            s->stored[device]--;
            s->holders[part] &= ~(1u << device);
            s->possible[part] &= ~(1u << device); // the others do without it
        }
    memcpy(s->possible, possible, sizeof possible);
}

// Decides whether device step / P stores part step % P, first that it does.
static void ggnni_exact_first(ggnni_search* s, int32_t step)
{
    const int32_t P = s->own.P, g = step / P, part = step % P;
    int           hopes = 1;
    if (s->best.plans >= s->max_plans) s->stopped = 1;
    if (s->stopped || s->found) return;
    s->best.plans++;
    if (step == P * P) {
        ggnni_search_offer(s);
        s->found = 1;
        return;
    }
    if (part == g) {
        ggnni_exact_first(s, step + 1);
        return;
    }
    if (s->stored[g] < s->limit && s->copies < s->best.copies) {
        s->holders[part] |= 1u << g;
        s->stored[g]++;
        s->copies++;
        ggnni_exact_first(s, step + 1);
        s->copies--;
        s->stored[g]--;
        s->holders[part] &= ~(1u << g);
    }
    s->possible[part] &= ~(1u << g);
    for (int32_t d = 0; d < P && hopes; d++)
        hopes = !(s->own.readers[g] >> d & 1) || ggnni_exact_hopes(s, d, s->best.bandwidth, 0);
    if (hopes) ggnni_exact_first(s, step + 1);
    s->possible[part] |= 1u << g;
}

// From the best so far. Searches with as few parts on a device as there may be, then with one more: the first
// limit under which there is a plan is the least.
static void ggnni_exact_from_best(ggnni_search* s, int64_t max_plans, int first)
{
    s->max_plans = max_plans;
    s->own = s->links;
    s->stopped = s->found = 0;
    ggnni_numbers(s->device, s->own.P);
    for (s->limit = ggnni_bound_most(&s->links); s->limit <= s->best.most && !s->stopped; s->limit++) {
        ggnni_search_begin(s);
        ggnni_exact(s);
    }
    s->limit = s->best.most;
    ggnni_search_begin(s);
    if (first && !s->stopped) ggnni_exact_first(s, 0);
}

// ---- the rules --------------------------------------------------------------

// A quarter of the plans for the caller's numbering, half for all others, what is left for the exact search.
static void ggnni_place_best(ggnni_search* s, int64_t max_plans, int exact)
{
    const int64_t numberings = 5040, others = max_plans / 4 + max_plans / 2;
    ggnni_pruned_numbered(s, max_plans / 4 > 1 ? max_plans / 4 : 1);
    for (int64_t i = 1; i < numberings && s->best.plans < others; i++) {
        if (ggnni_search_at_bound(s) || !ggnni_numbers_next(s->device, s->links.P)) break;
        ggnni_pruned_numbered(s, s->best.plans + 1 + (others - s->best.plans) / (numberings - i));
    }
    s->stopped = 0;
    if (exact || !ggnni_search_at_bound(s)) ggnni_exact_from_best(s, max_plans, exact);
}

typedef struct { // cliques that hold each device once
    uint32_t clique[GGNN_DEVICES_MAX], best[GGNN_DEVICES_MAX];
    int32_t  count, best_count, least; // least: size of the best's smallest
} ggnni_cliques;

static int ggnni_is_clique(const ggnni_links* l, uint32_t set)
{
    for (int32_t i = 0; i < l->P; i++)
        if (set >> i & 1 && (set & ~(l->reads[i] & l->readers[i]))) return 0;
    return 1;
}

// Splits `rest` into cliques; the first device of it gets the largest first.
static void ggnni_cliques_split(ggnni_cliques* c, ggnni_search* s, uint32_t rest, int32_t smallest)
{
    const uint32_t first = rest & (0u - rest);
    uint32_t       linked;
    int32_t        i = 0, tried = 0;
    if (!rest) {
        s->best.plans++;
        memcpy(c->best, c->clique, sizeof c->best);
        c->best_count = c->count;
        c->least = smallest;
        return;
    }
    while (!(first >> i & 1)) i++;
    linked = s->links.reads[i] & s->links.readers[i] & rest & ~first;
    for (int32_t size = ggnni_bits(linked) + 1; size > c->least; size--) {
        uint32_t set = 0;
        do { // all subsets of linked
            if (ggnni_bits(set) + 1 == size && ggnni_is_clique(&s->links, set | first)) {
                if (c->best_count && s->best.plans >= s->max_plans) s->stopped = 1;
                if (s->stopped) return;
                tried++;
                c->clique[c->count++] = set | first;
                ggnni_cliques_split(c, s, rest & ~(set | first), size < smallest ? size : smallest);
                c->count--;
                if (c->least >= smallest || size <= c->least) break;
            }
            set = (set - linked) & linked;
        } while (set);
        if (c->least >= smallest) return;
    }
    s->best.plans += tried == 0; // a dead end
}

// Members store their own parts; the others go, in order, to the member with the fewest. Reads stay within.
static ggnn_topology ggnni_place_cliques(ggnni_search* s)
{
    ggnni_cliques c;
    ggnn_topology within = *s->t;
    memset(&c, 0, sizeof c);
    ggnni_cliques_split(&c, s, (1u << s->links.P) - 1, s->links.P);
    for (int32_t k = 0; k < c.best_count; k++) {
        const uint32_t set = c.best[k];
        for (int32_t i = 0; i < s->links.P; i++) {
            if (!(set >> i & 1)) continue;
            s->best.stores[i] = (uint16_t)(1u << i);
            for (int32_t j = 0; j < s->links.P; j++)
                if (!(set >> j & 1)) within.bandwidth[i][j] = 0;
        }
        for (int32_t p = 0; p < s->links.P; p++) {
            int32_t to = -1, fewest = INT32_MAX;
            if (set >> p & 1) continue;
            for (int32_t i = 0; i < s->links.P; i++)
                if (set >> i & 1 && ggnni_bits(s->best.stores[i]) < fewest) {
                    fewest = ggnni_bits(s->best.stores[i]);
                    to = i;
                }
            s->best.stores[to] = (uint16_t)(s->best.stores[to] | 1u << p);
        }
    }
    return within;
}

GGNN_API ggnn_status ggnn_place_parts(ggnn_placement* plan, const ggnn_topology* t, ggnn_place_rule rule,
                                      int64_t max_plans, ggnn_fault* fault)
{
    if (!plan) return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no room for a plan", -1, -1);
    ggnn_topology within;
    ggnni_search  s;
    ggnn_status   status = ggnn_topology_validate(t, fault);
    if (status != GGNN_OK) return status;
    if (max_plans < 0 || rule < GGNN_PLACE_BEST || rule > GGNN_PLACE_CLIQUE)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "there is no such rule or number of plans", -1, -1);
    if (max_plans == 0) max_plans = GGNN_PLANS_DEFAULT;
    memset(&s, 0, sizeof s);
    s.t = t;
    s.links = ggnni_links_of(t);
    s.max_plans = max_plans;
    s.best.devices = t->devices;
    ggnni_numbers(s.device, t->devices);
    if (rule == GGNN_PLACE_CLIQUE) {
        within = ggnni_place_cliques(&s);
        t = &within;
    } else if (rule == GGNN_PLACE_PRUNED) {
        s.published = 1;
        ggnni_pruned_numbered(&s, max_plans);
    } else {
        ggnni_place_best(&s, max_plans, rule == GGNN_PLACE_EXACT);
    }
    *plan = s.best;
    plan->complete = !s.stopped;
    return ggnn_place_sources(plan, t, fault);
}

// =============================================================================
// ==== [5i] PARTITION
// =============================================================================

GGNN_API ggnn_status ggnn_partition_ids(int32_t* owner, ggnn_owner how, int32_t parts, int64_t n)
{
    if (parts < 1 || n < 0 || (n && !owner) || (uint32_t)how >= GGNN_OWNER_MAP) return GGNN_ERROR_ARGUMENT;
    for (int64_t v = 0; v < n; v++) owner[v] = ggnn_owner_of(v, how, NULL, n, parts);
    return GGNN_OK;
}

// The list of v, checked. degree -1: it is broken, or has an id outside [0, N).
static ggnn_list ggnni_partition_list(const ggnn_graph* g, ggnn_node v)
{
    ggnn_list list = ggnn_neighbors(g, v);
    uint64_t  wrong = 0;
    for (int64_t i = 0; i < list.degree; i++) wrong |= (uint64_t)list.id[i] >= (uint64_t)g->num_nodes;
    if (wrong) list.degree = -1;
    return list;
}

static ggnn_status ggnni_partition_fault(ggnn_fault* fault, int64_t v)
{
    return ggnni_fault(fault, GGNN_ERROR_ID, "a list is broken, or an id is outside [0, num_nodes)", v, -1);
}

static ggnn_status ggnni_partition_refuse(ggnn_fault* fault)
{
    return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "parts, hops, passes, slack or limit is out of range",
                       -1, -1);
}

// ---- mincut -----------------------------------------------------------------

// Breadth-first over lists, from the least node not reached, and so on. Leaves owner at -1. Returns the first
// node whose list is broken, or -1.
static int64_t ggnni_mincut_order(ggnn_node* order, int32_t* owner, const ggnn_graph* g)
{
    int64_t head = 0, tail = 0;
    for (int64_t v = 0; v < g->num_nodes; v++) owner[v] = -2;
    for (int64_t start = 0; start < g->num_nodes; start++) {
        if (owner[start] == -1) continue;
        owner[start] = -1;
        order[tail++] = (ggnn_node)start;
        while (head < tail) {
            const ggnn_node v = order[head++];
            const ggnn_list list = ggnni_partition_list(g, v);
            if (list.degree < 0) return v;
            for (int64_t i = 0; i < list.degree; i++)
                if (owner[list.id[i]] != -1) {
                    owner[list.id[i]] = -1;
                    order[tail++] = list.id[i];
                }
        }
    }
    return -1;
}

// Neighbours of v by part. self-loops and nodes without a part do not count.
static void ggnni_mincut_count(int64_t* count, const ggnn_graph* g, const int32_t* owner, ggnn_node v,
                               int32_t parts)
{
    const ggnn_list list = ggnn_neighbors(g, v);
    memset(count, 0, (size_t)parts * sizeof *count);
    for (int64_t i = 0; i < list.degree; i++)
        if (list.id[i] != v && owner[list.id[i]] >= 0) count[owner[list.id[i]]]++;
}

// One pass of linear deterministic greedy. Loads start at nothing, neighbours where they were or now are.
static void ggnni_mincut_stream(int32_t* owner, const ggnn_graph* g, const ggnn_node* order, int32_t parts,
                                int64_t room)
{
    int64_t load[GGNN_PARTS_MAX] = {0}, count[GGNN_PARTS_MAX];
    for (int64_t i = 0; i < g->num_nodes; i++) {
        int32_t    best = -1;
        ggnni_wide most = {0, 0};
        ggnni_mincut_count(count, g, owner, order[i], parts);
        for (int32_t p = 0; p < parts; p++) {
            const ggnni_wide score = ggnni_product((uint64_t)count[p], (uint64_t)(room - load[p]));
            const int        more = ggnni_wide_compare(score, most);
            if (load[p] == room) continue;
            if (best < 0 || more > 0 || (more == 0 && load[p] < load[best])) {
                best = p;
                most = score;
            }
        }
        owner[order[i]] = best;
        load[best]++;
    }
}

// Moves nodes to the part with most neighbours, where it has room and more than their own. Returns how many.
static int64_t ggnni_mincut_refine(int32_t* owner, const ggnn_graph* g, const ggnn_node* order, int32_t parts,
                                   int64_t room)
{
    int64_t load[GGNN_PARTS_MAX] = {0}, count[GGNN_PARTS_MAX], moved = 0;
    for (int64_t v = 0; v < g->num_nodes; v++) load[owner[v]]++;
    for (int64_t i = 0; i < g->num_nodes; i++) {
        const int32_t from = owner[order[i]];
        int32_t       best = from;
        ggnni_mincut_count(count, g, owner, order[i], parts);
        for (int32_t p = 0; p < parts; p++)
            if (count[p] > count[best] && load[p] < room) best = p;
        if (best == from) continue;
        owner[order[i]] = best;
        load[from]--;
        load[best]++;
        moved++;
    }
    return moved;
}

GGNN_API ggnn_status ggnn_partition_mincut(int32_t* owner, const ggnn_graph* g, int32_t parts, int32_t passes,
                                           int32_t slack, ggnn_node* workspace, ggnn_fault* fault)
{
    int64_t n, room, broken;
    if (!g || g->num_nodes < 0 || (g->num_nodes && (!owner || !workspace)))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the graph or an array is NULL", -1, -1);
    n = g->num_nodes;
    if (parts < 1 || parts > GGNN_PARTS_MAX || passes < 1 || slack < 0 || slack > 10000)
        return ggnni_partition_refuse(fault);
    room = (n * (100 + slack) + 100 * parts - 1) / (100 * parts);
    broken = ggnni_mincut_order(workspace, owner, g);
    if (broken >= 0) return ggnni_partition_fault(fault, broken);
    for (int32_t i = 0; i < passes; i++) ggnni_mincut_stream(owner, g, workspace, parts, room);
    for (int32_t i = 0; i < passes; i++)
        if (ggnni_mincut_refine(owner, g, workspace, parts, room) == 0) break;
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// ---- PaGraph ----------------------------------------------------------------

typedef struct {
    const ggnn_graph*   g;
    const ggnn_pagraph* how;
    int32_t*            owner;
    uint64_t*           held;  // (N) bit p: part p has the node
    ggnn_node*          list;  // (N) the closure of a training node, breadth first, itself first
    ggnn_node*          stamp; // (N) number of the training node that reached it last, from 1
    int64_t             trained[GGNN_PARTS_MAX], size[GGNN_PARTS_MAX]; // |TV_i|, |PV_i|
    int64_t             broken; // a node whose list is, or -1
    int                 cut;
} ggnni_pagraph;

// Nodes of IN_L of training node number `number`, and itself.
static int64_t ggnni_pagraph_closure(ggnni_pagraph* s, int64_t number)
{
    int64_t begin = 0, count = 1;
    s->cut = 0;
    s->list[0] = s->how->ids[number];
    s->stamp[s->list[0]] = (ggnn_node)(number + 1);
    for (int32_t hop = 0; hop < s->how->hops && begin < count; hop++) {
        const int64_t end = count;
        for (; begin < end; begin++) {
            const ggnn_list list = ggnni_partition_list(s->g, s->list[begin]);
            if (list.degree < 0) s->broken = s->list[begin];
            for (int64_t i = 0; i < list.degree; i++) {
                const ggnn_node u = list.id[i];
                if (s->stamp[u] == (ggnn_node)(number + 1)) continue;
                if (count > s->how->closure_limit) {
                    s->cut = 1;
                    return count;
                }
                s->stamp[u] = (ggnn_node)(number + 1);
                s->list[count++] = u;
            }
        }
    }
    return count;
}

// The part with the largest score, of those that are not full.
static int32_t ggnni_pagraph_choose(const ggnni_pagraph* s, int64_t count)
{
    const int64_t train = s->how->num_ids, floor = train / s->how->parts, larger = train % s->how->parts;
    int64_t       common[GGNN_PARTS_MAX] = {0}, at_ceiling = 0;
    int32_t       best = -1;
    for (int64_t i = 1; i < count; i++)
        if (s->owner[s->list[i]] >= 0) common[s->owner[s->list[i]]]++;
    for (int32_t p = 0; p < s->how->parts; p++) at_ceiling += s->trained[p] > floor;
    for (int32_t p = 0; p < s->how->parts; p++) {
        int order = 1;
        if (s->trained[p] > floor || (s->trained[p] == floor && at_ceiling == larger)) continue;
        if (best >= 0)
            order = ggnni_fraction_compare((common[p] + 1) * (train - s->how->parts * s->trained[p]),
                                           s->size[p] + 1,
                                           (common[best] + 1) * (train - s->how->parts * s->trained[best]),
                                           s->size[best] + 1);
        if (order > 0 || (order == 0 && s->trained[p] < s->trained[best])) best = p;
    }
    return best;
}

GGNN_API size_t ggnn_partition_pagraph_workspace_bytes(int64_t num_nodes)
{
    if (num_nodes < 0) return 0;
    return (size_t)num_nodes * (sizeof(uint64_t) + 2 * sizeof(ggnn_node));
}

GGNN_API ggnn_status ggnn_partition_pagraph(int32_t* owner, int64_t* cut, const ggnn_graph* g,
                                            const ggnn_pagraph* how, void* workspace, ggnn_fault* fault)
{
    int64_t       n;
    ggnni_pagraph s;
    if (!g || g->num_nodes < 0 || !how || !cut || (g->num_nodes && (!owner || !workspace)))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the graph or an array is NULL", -1, -1);
    n = g->num_nodes;
    if (how->num_ids < 0 || (how->num_ids && !how->ids)) return ggnni_partition_refuse(fault);
    if (how->parts < 1 || how->parts > GGNN_PARTS_MAX || how->hops < 0 || how->closure_limit < 0)
        return ggnni_partition_refuse(fault);
    memset(&s, 0, sizeof s);
    s.g = g;
    s.how = how;
    s.owner = owner;
    s.held = (uint64_t*)workspace;
    s.list = (ggnn_node*)(s.held + n);
    s.stamp = s.list + n;
    s.broken = -1;
    if (n) memset(workspace, 0, ggnn_partition_pagraph_workspace_bytes(n));
    for (int64_t v = 0; v < n; v++) owner[v] = -1;
    for (int64_t t = *cut = 0; t < how->num_ids; t++) {
        int64_t count;
        int32_t part;
        if ((uint64_t)how->ids[t] >= (uint64_t)n || owner[how->ids[t]] >= 0)
            return ggnni_fault(fault, GGNN_ERROR_ID, "a training node is no node, or is given twice",
                               how->ids[t], -1);
        count = ggnni_pagraph_closure(&s, t);
        if (s.broken >= 0) return ggnni_partition_fault(fault, s.broken);
        *cut += s.cut;
        part = ggnni_pagraph_choose(&s, count);
        owner[how->ids[t]] = part;
        s.trained[part]++;
        for (int64_t i = 0; i < count; i++) {
            s.size[part] += !(s.held[s.list[i]] >> part & 1);
            s.held[s.list[i]] |= (uint64_t)1 << part;
        }
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// ---- what a partition means -------------------------------------------------

GGNN_API ggnn_status ggnn_partition_closure(ggnn_node* list, int64_t* bound, const ggnn_graph* g,
                                            const int32_t* owner, int32_t part, const ggnn_node* ids,
                                            int64_t num_ids, int32_t hops, void* seen, ggnn_fault* fault)
{
    uint8_t* reached = (uint8_t*)seen;
    int64_t  count = 0;
    if (!g || g->num_nodes < 0 || !bound || (g->num_nodes && (!list || !owner || !seen)))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the graph or an array is NULL", -1, -1);
    if (hops < 0 || num_ids < 0 || (num_ids && !ids)) return ggnni_partition_refuse(fault);
    if (g->num_nodes) memset(reached, 0, (size_t)g->num_nodes);
    for (int64_t i = 0; i < num_ids; i++) {
        if ((uint64_t)ids[i] >= (uint64_t)g->num_nodes) return ggnni_partition_fault(fault, ids[i]);
        if (owner[ids[i]] != part || reached[ids[i]]) continue;
        reached[ids[i]] = 1;
        list[count++] = ids[i];
    }
    bound[0] = 0;
    bound[1] = count;
    for (int32_t hop = 0; hop < hops; hop++) {
        for (int64_t i = bound[hop]; i < bound[hop + 1]; i++) {
            const ggnn_list next_to = ggnni_partition_list(g, list[i]);
            if (next_to.degree < 0) return ggnni_partition_fault(fault, list[i]);
            for (int64_t e = 0; e < next_to.degree; e++)
                if (!reached[next_to.id[e]]) {
                    reached[next_to.id[e]] = 1;
                    list[count++] = next_to.id[e];
                }
        }
        bound[hop + 2] = count;
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

GGNN_API ggnn_status ggnn_partition_cut(int64_t* cut, const ggnn_graph* g, const int32_t* owner,
                                        ggnn_fault* fault)
{
    if (!cut || !g || g->num_nodes < 0 || (g->num_nodes && !owner))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "the graph or an array is NULL", -1, -1);
    *cut = 0;
    for (int64_t v = 0; v < g->num_nodes; v++) {
        const ggnn_list list = ggnni_partition_list(g, (ggnn_node)v);
        if (list.degree < 0) return ggnni_partition_fault(fault, v);
        for (int64_t i = 0; i < list.degree; i++) *cut += owner[list.id[i]] != owner[v];
    }
    return ggnni_fault(fault, GGNN_OK, NULL, -1, -1);
}

// =============================================================================
// ==== [6i] DIST
// =============================================================================

typedef struct { // the workspace of a plan
    ggnn_csc*       lists; // (parts + 2)
    const void**    base;  // (parts + 2)
    ggnn_dist_part* part;  // (parts)
    int64_t *       left, *degree;                   // (parts), (N)
    ggnn_node *     rank, *order, *list_id, *row_id; // (N)
} ggnni_dist_space;

static ggnni_dist_space ggnni_dist_space_at(void* memory, int64_t num_nodes, int32_t parts)
{
    ggnni_dist_space s;
    s.lists = (ggnn_csc*)memory;
    s.base = (const void**)(void*)(s.lists + parts + 2);
    s.part = (ggnn_dist_part*)(void*)(s.base + parts + 2);
    s.left = (int64_t*)(void*)(s.part + parts);
    s.degree = s.left + parts;
    s.rank = (ggnn_node*)(void*)(s.degree + num_nodes);
    s.order = s.rank + num_nodes;
    s.list_id = s.order + num_nodes;
    s.row_id = s.list_id + num_nodes;
    return s;
}

GGNN_API size_t ggnn_dist_bytes(int64_t num_nodes, int32_t parts)
{
    const size_t n = (size_t)num_nodes, P = (size_t)parts;
    if (num_nodes < 0 || num_nodes > GGNN_NODE_MAX || parts < 1 || parts > GGNN_PARTS_MAX) return 0;
    return (P + 2) * (sizeof(ggnn_csc) + sizeof(void*)) + P * (sizeof(ggnn_dist_part) + sizeof(int64_t)) +
           n * (sizeof(int64_t) + 4 * sizeof(ggnn_node));
}

static ggnn_status ggnni_dist_given(const ggnn_dist_data* from, ggnn_fault* fault)
{
    const char* what = NULL;
    if (!from || !ggnni_graph_given(&from->graph) || from->graph.part ||
        from->graph.num_nodes > GGNN_NODE_MAX)
        what = "the graph is not one CSC in the host's memory";
    else if (!ggnni_store_given(&from->rows, from->graph.num_nodes) || from->rows.base)
        what = "the features are not one array in the host's memory";
    else if (from->parts < 1 || from->parts > GGNN_PARTS_MAX) what = "parts are not 1 to GGNN_PARTS_MAX";
    else if (!(from->graph_ratio >= 0 && from->graph_ratio <= 1) ||
             !(from->feature_ratio >= 0 && from->feature_ratio <= 1))
        what = "a ratio is outside [0, 1]";
    else if (from->rank && from->by_id) what = "rank is given, and by_id too";
    return ggnni_fault(fault, what ? GGNN_ERROR_ARGUMENT : GGNN_OK, what, -1, -1);
}

// rank and order: the caller's, that of ids, or by out-degree.
static ggnn_status ggnni_dist_rank(const ggnni_dist_space* s, const ggnn_dist_data* from, ggnn_fault* fault)
{
    const int64_t n = from->graph.num_nodes;
    ggnn_hotness  by;
    ggnn_status   status;
    memset(&by, 0, sizeof by);
    by.hot = s->degree;
    if (from->rank || from->by_id) {
        for (int64_t v = 0; v < n; v++) s->order[v] = -1;
        for (int64_t v = 0; v < n; v++) {
            const ggnn_node r = from->by_id ? (ggnn_node)v : from->rank[v];
            if (r < 0 || r >= n || s->order[r] >= 0)
                return ggnni_fault(fault, GGNN_ERROR_ID, "rank is no permutation of the nodes", v, -1);
            s->order[r] = (ggnn_node)v;
            s->rank[v] = r;
        }
        return GGNN_OK;
    }
    status = ggnn_count_degrees(s->degree, NULL, &from->graph, fault);
    return status == GGNN_OK ? ggnn_rank(s->rank, s->order, &by, n) : status;
}

// The layouts of both kinds: what ggnn_fill_parts stores where all that is wanted fits.
static void ggnni_dist_lay_out(ggnn_dist* d, const ggnni_dist_space* s, const ggnn_dist_data* from)
{
    const int64_t    n = from->graph.num_nodes;
    const ggnn_sizes of = ggnn_sizes_of(&from->graph, from->rows.pitch ? &from->rows : NULL);
    ggnn_parts       wanted;
    ggnn_parts_fill  fill;
    memset(&wanted, 0, sizeof wanted);
    wanted.of = &of;
    wanted.list_rank = wanted.row_rank = s->rank;
    wanted.list_order = s->order;
    wanted.lists = ggnn_fill_ratio(from->graph_ratio, n);
    wanted.rows = from->rows.pitch ? ggnn_fill_ratio(from->feature_ratio, n) : 0;
    wanted.device_bytes = INT64_MAX;
    wanted.parts = from->parts;
    wanted.copies = 1;
    fill = ggnn_fill_parts(NULL, s->left, &wanted, n);
    d->graph.at.parts = d->rows.at.parts = from->parts;
    d->graph.at.stored = fill.lists;
    d->rows.at.stored = fill.rows;
    if (from->by_id) return;
    d->graph.at.rank = fill.list_rank;
    d->rows.at.rank = fill.row_rank;
}

// What each part holds.
static ggnn_status ggnni_dist_count(const ggnn_dist* d, const ggnni_dist_space* s, ggnn_fault* fault)
{
    const int32_t P = d->graph.at.parts;
    int64_t       list = 0, row = 0;
    memset(s->part, 0, (size_t)P * sizeof *s->part);
    for (int64_t v = 0; v < d->whole.num_nodes; v++) {
        const ggnn_place at = ggnn_locate(&d->graph.at, v), row_at = ggnn_locate(&d->rows.at, v);
        const int64_t    degree = at.slot < P ? ggnn_neighbors(&d->whole, (ggnn_node)v).degree : 0;
        if (degree < 0)
            return ggnni_fault(fault, GGNN_ERROR_ID, "indptr decreases or leaves its part", v, -1);
        if (at.slot < P) s->part[at.slot].lists++;
        if (at.slot < P) s->part[at.slot].edges += degree;
        if (row_at.slot < P) s->part[row_at.slot].rows++;
    }
    for (int32_t p = 0; p < P; p++) {
        ggnn_dist_part* of = &s->part[p];
        of->list_at = list;
        of->row_at = row;
        list += of->lists;
        row += of->rows;
        if (of->lists) ggnn_dist_lists(&of->bytes, NULL, &d->whole, of->lists, of->edges);
        of->row_offset = of->bytes = (of->bytes + 127) / 128 * 128;
        of->bytes += (size_t)of->rows * (size_t)d->all_rows.pitch;
    }
    return GGNN_OK;
}

// The nodes of each part, in the order of its rows.
static void ggnni_dist_ids(const ggnn_dist* d, const ggnni_dist_space* s)
{
    const int32_t P = d->graph.at.parts;
    for (int64_t v = 0; v < d->whole.num_nodes; v++) {
        const ggnn_place list = ggnn_locate(&d->graph.at, v), row = ggnn_locate(&d->rows.at, v);
        if (list.slot < P) s->list_id[s->part[list.slot].list_at + list.row] = (ggnn_node)v;
        if (row.slot < P) s->row_id[s->part[row.slot].row_at + row.row] = (ggnn_node)v;
    }
}

GGNN_API ggnn_status ggnn_dist_plan(ggnn_dist* d, const ggnn_dist_data* from, void* workspace,
                                    ggnn_fault* fault)
{
    ggnni_dist_space s;
    ggnn_status      status = ggnni_dist_given(from, fault);
    if (status != GGNN_OK) return status;
    if (!d || !workspace)
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "d or the workspace is NULL", -1, -1);
    s = ggnni_dist_space_at(workspace, from->graph.num_nodes, from->parts);
    memset(d, 0, sizeof *d);
    status = ggnni_dist_rank(&s, from, fault);
    if (status != GGNN_OK) return status;
    d->whole = from->graph;
    d->whole.traffic = NULL;
    d->all_rows = from->rows;
    d->all_rows.traffic = NULL;
    d->graph.num_nodes = from->graph.num_nodes;
    d->graph.num_edges = from->graph.num_edges;
    d->rows.width = from->rows.width;
    d->rows.type = from->rows.type;
    d->rows.pitch = from->rows.pitch;
    ggnni_dist_lay_out(d, &s, from);
    status = ggnni_dist_count(d, &s, fault);
    if (status != GGNN_OK) return status;
    ggnni_dist_ids(d, &s);
    d->part = s.part;
    d->list_id = s.list_id;
    d->row_id = s.row_id;
    d->graph.part = s.lists;
    d->rows.base = s.base;
    d->tables = workspace;
    return GGNN_OK;
}

static size_t ggnni_dist_place(size_t* used, int64_t n, size_t size)
{
    const size_t at = (*used + 127) / 128 * 128;
    *used = at + (size_t)n * size;
    return at;
}

GGNN_API ggnn_csc ggnn_dist_lists(size_t* bytes, void* memory, const ggnn_graph* whole, int64_t n,
                                  int64_t edges)
{
    size_t       used = 0;
    char*        start = (char*)memory;
    const size_t indptr = ggnni_dist_place(&used, n + 1, sizeof(int64_t));
    const size_t first = ggnni_dist_place(&used, n, sizeof(int64_t));
    const size_t indices = ggnni_dist_place(&used, edges, sizeof(ggnn_node));
    const size_t weight = whole->whole.weight ? ggnni_dist_place(&used, edges, sizeof(float)) : 0;
    ggnn_csc     lists;
    memset(&lists, 0, sizeof lists);
    if (bytes) *bytes = used;
    if (!start) return lists;
    lists.indptr = (const int64_t*)(const void*)(start + indptr);
    lists.first = (const int64_t*)(const void*)(start + first);
    lists.indices = (const ggnn_node*)(const void*)(start + indices);
    if (weight) lists.weight = (const float*)(const void*)(start + weight);
    lists.num_edges = edges;
    return lists;
}

GGNN_API ggnn_status ggnn_dist_cut(void* memory, const ggnn_dist* d, int32_t part, ggnn_fault* fault)
{
    ggnn_status status = GGNN_OK;
    if (!d || !d->part || part < 0 || part >= d->graph.at.parts || (!memory && d->part[part].bytes))
        return ggnni_fault(fault, GGNN_ERROR_ARGUMENT, "no plan, no such part or no memory", -1, -1);
    const ggnn_dist_part* of = &d->part[part];
    if (of->lists) {
        const ggnn_csc to = ggnn_dist_lists(NULL, memory, &d->whole, of->lists, of->edges);
        status = ggnn_graph_lists((int64_t*)(uintptr_t)to.indptr, (int64_t*)(uintptr_t)to.first,
                                  (ggnn_node*)(uintptr_t)to.indices, (float*)(uintptr_t)to.weight, &d->whole,
                                  d->list_id + of->list_at, of->lists, fault);
    }
    if (status != GGNN_OK) return status;
    if (of->rows) {
        const ggnn_store* rows = &d->all_rows;
        status = ggnn_gather((char*)memory + of->row_offset, rows->pitch / ggnn_type_bytes(rows->type),
                             rows->type, rows, d->row_id + of->row_at, of->rows);
    }
    return ggnni_fault(fault, status, NULL, -1, -1);
}

GGNN_API ggnn_status ggnn_dist_open(ggnn_dist* d, void* const* memory)
{
    if (!d || !d->tables || !memory) return GGNN_ERROR_ARGUMENT;
    const int32_t P = d->graph.at.parts;
    const ggnni_dist_space s = ggnni_dist_space_at(d->tables, d->whole.num_nodes, P);
    memset(s.lists, 0, ((size_t)P + 2) * sizeof *s.lists);
    for (int32_t p = 0; p < P + 2; p++) s.base[p] = NULL;
    for (int32_t p = 0; p < P; p++) {
        const ggnn_dist_part* of = &s.part[p];
        if (of->bytes && !memory[p]) return GGNN_ERROR_ARGUMENT;
        if (of->lists) s.lists[p] = ggnn_dist_lists(NULL, memory[p], &d->whole, of->lists, of->edges);
        if (of->rows) s.base[p] = (char*)memory[p] + of->row_offset;
    }
    s.lists[P] = d->whole.whole; // the host tier
    s.base[P] = d->all_rows.rows;
    return GGNN_OK;
}

#endif // GGNN_PLAN_IMPLEMENTED
#endif // GGNN_PLAN_IMPLEMENTATION

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
