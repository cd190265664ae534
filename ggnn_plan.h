// ggnn_plan.h - v0.2.0 - what lives where: plans of caches, placement and partition for ggnn.h, in C99
//
// A graph or its features may be larger than a device. This header decides, before training, which rows and
// lists lie in a device's memory, on which device, and which device trains on which nodes. ggnn.h then reads
// them: what is decided here fills a ggnn_layout, its parts and its cache. Host only, for set-up: nothing
// here runs in a training step.
//
// In ONE C or C++ file, with ggnn.h beside it and its implementation in the program:
//     #define GGNN_PLAN_IMPLEMENTATION
//     #include "ggnn_plan.h"
// In all others just include it.
//
// A cache of the rows that training reads most, PreSC's:
//     count what K epochs of sampling read               ggnn_count_epochs
//     rank the nodes by it                               ggnn_rank
//     how many rows fit                                  ggnn_fill_ratio, ggnn_fill_rows
//     layout.cache_row = rank; layout.cached = rows;     and copy row order[i] to the cache's row i
//
// WHAT IT DOES NOT DO
//   It moves no row, measures no time, reads no file, and looks at no machine: what a machine has to say
//   (bytes free, bandwidths, slopes) is an argument. No allocation, no printing, no global state, no threads.
//
// GLOSSARY (and ggnn.h's)
//   hotness    how often a node's row or list is read, or what stands for it
//   order      nodes, hottest first     rank   a node's place in it: order[rank[v]] = v
//   slope      time saved per unit of hit ratio
//   plan       which parts each device stores, and from where it reads the others
//   closure    a part's training nodes, and all nodes that up to L hops of full lists reach from them
//
// OPTIONS: ggnn.h's GGNN_STATIC, GGNN_NODE64, GGNN_ASSERT
//
// CONTENTS (search for the tag; the implementation's are [1i] .. [5i])
//   [1] COUNT   [2] RANK   [3] FILL   [4] PLACE   [5] PARTITION
//
// FUNCTIONS: what each writes (all of it, unless said), what may be NULL, how it fails
//   Each works on the calling thread. Fails with: GGNN_ERROR_..., and no output is to be used then.
//   ggnn_...             writes                                         may be NULL           fails with
//  [1]
//   count_degrees        out, in (N)                                    out, in, fault        ID
//   count_batch          rows, lists (N), added to                      rows, lists           ARGUMENT
//   count_epochs         rows, lists (N), added to; b; seeds            rows, lists           ARGUMENT, ID,
//                                                                                             WEIGHT,
//                                                                                             CAPACITY
//   count_hits           returns the reads                                                    nothing
//  [2]
//   rank, rank_random    rank, order (n)                                                      nothing
//  [3]
//   fill_ratio,          return the number, the bytes                                         nothing
//   fill_rows, fill_auto,
//   fill_parts
//   fill_lists           rank (n), left (parts); returns the number                           nothing
//   fill_slope           returns nanoseconds                                                  nothing
//   fill_dual            row_rank, list_rank (n); returns the numbers                         nothing
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
//   Tang et al. 2024, XGNN (PVLDB 17)                    placement of parts on devices
//   Stanton and Kliot 2012 (KDD), Nishimura and Ugander 2013 (KDD)      streaming partition, repeated
//
// LICENSE: MIT, as ggnn.h; at the end of this file.

#ifndef GGNN_PLAN_H
#define GGNN_PLAN_H
#include "ggnn.h"

#if GGNN_VERSION_NUMBER != 200
#error "ggnn_plan.h 0.2.0 goes with ggnn.h 0.2.0"
#endif

#ifdef GGNN_NODE64 // every function that takes ids, itself or in a struct, so that a mixture does not link
#define ggnn_count_degrees ggnn_count_degrees_node64
#define ggnn_count_batch   ggnn_count_batch_node64
#define ggnn_count_epochs  ggnn_count_epochs_node64
#define ggnn_count_hits    ggnn_count_hits_node64
#define ggnn_rank          ggnn_rank_node64
#define ggnn_rank_random   ggnn_rank_random_node64
#define ggnn_fill_lists    ggnn_fill_lists_node64
#define ggnn_fill_dual     ggnn_fill_dual_node64
#endif

// =============================================================================
// ==== [1] COUNT: how often rows and lists are read
// =============================================================================
// A count is an int64_t a node. Nothing here clears one: counts of several calls add up. Divide by the epochs
// for a mean; the ranking does not care.

// Out-degrees (PaGraph's hotness: how many lists have the node) and in-degrees (the length of its own list)
// of any graph, in parts or not. AliGraph's hotness is in / out. Overwrites both. O(N + E). GGNN_ERROR_ID: a
// broken list, or an id outside [0, N) (fault names the list's node).
GGNN_API ggnn_status ggnn_count_degrees(int64_t*          out, // (num_nodes) or NULL
                                        int64_t*          in,  // (num_nodes) or NULL
                                        const ggnn_graph* g, ggnn_fault* fault);

// What one mini-batch reads, added: 1 to rows[v] for each input node v, that is each source of the last hop
// (PreSC); 1 to lists[v] for each hop that v is a target of (DUCATI). O(ids). The batch has no global last
// hop: GGNN_ERROR_ARGUMENT.
GGNN_API ggnn_status ggnn_count_batch(int64_t*          rows,  // (N) added to; or NULL
                                      int64_t*          lists, // (N) added to; or NULL
                                      const ggnn_batch* b);

// Epochs of mini-batches. Epoch e of them takes its seeds as training does, seed i of the epoch being
// ids[ggnn_shuffle(rng.seed, first_epoch + e, i, num_ids)], batch_size a batch, the last one shorter.
// PreSC#K: purpose GGNN_PURPOSE_PRESAMPLE, first_epoch GGNN_PRESAMPLE_EPOCH, so that neither the samples nor
// the order are those of training. The optimal oracle counts the very epochs that are measured: training's
// purpose, epoch and step.
typedef struct {
    const ggnn_node* ids; // (num_ids) the training nodes
    int64_t          num_ids, batch_size;
    ggnn_rng         rng; // of the first batch: each next batch is a step more
    uint32_t         first_epoch;
} ggnn_epochs;

#define GGNN_PRESAMPLE_EPOCH 0x80000000u

// Batches of an epoch.
GGNN_HD int64_t ggnn_epoch_batches(const ggnn_epochs* of)
{
    return of->num_ids / of->batch_size + (of->num_ids % of->batch_size != 0);
}

// Samples batches [begin, end), counted through all epochs, and counts what they read (ggnn_count_batch). K
// epochs are batches [0, K * ggnn_epoch_batches). Several threads may each count batches of their own, with a
// batch and counts of their own, which then add up to the same. Fails as ggnn_sample does, and b->bad names
// the node. O(edges sampled).
GGNN_API ggnn_status ggnn_count_epochs(int64_t*           rows,  // (N) added to; or NULL
                                       int64_t*           lists, // (N) added to; or NULL
                                       ggnn_batch*        b,     // planned for batch_size seeds, and laid out
                                       const ggnn_graph*  g,
                                       const ggnn_epochs* of,
                                       int64_t begin, int64_t end,
                                       ggnn_node* seeds); // (batch_size) workspace

// The reads that a cache of the ranks below `cached` takes: the sum of their counts. Over the sum of all
// counts it is the hit ratio.
GGNN_API int64_t ggnn_count_hits(const int64_t* count, const ggnn_node* rank, int64_t cached, int64_t n);

// =============================================================================
// ==== [2] RANK: hottest first
// =============================================================================

// What nodes are ranked by: falling hot[v] / over[v]; equal ones by falling length of their lists, where
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
typedef struct {
    const int64_t* hot;    // (n) >= 0
    const int64_t* over;   // (n) >= 0, or NULL: ones. A node with 0 comes after all others: nobody reads it
    const int64_t* indptr; // (n + 1) or NULL
} ggnn_hotness;

// O(n log n) comparisons. n <= GGNN_NODE_MAX.
GGNN_API void ggnn_rank(ggnn_node*          rank,  // (n) overwritten
                        ggnn_node*          order, // (n) overwritten
                        const ggnn_hotness* by, int64_t n);

// A random order, keyed by the seed alone.
GGNN_API void ggnn_rank_random(ggnn_node* rank, ggnn_node* order, uint64_t seed, int64_t n);

// =============================================================================
// ==== [3] FILL: how much fits
// =============================================================================

// The first floor(ratio * n) of n. A product that misses an integer by its rounding alone (.29 * 100) counts
// as that integer. Below 0 and NaN: 0; above 1: n.
GGNN_API int64_t ggnn_fill_ratio(double ratio, int64_t n);

// Rows of row_bytes that fit into bytes: at most n, none where bytes is negative.
GGNN_API int64_t ggnn_fill_rows(int64_t bytes, int64_t row_bytes, int64_t n);

// Bytes for a cache after the first mini-batch (PaGraph): total - peak - reserve, never negative. All three
// are >= 0.
GGNN_API int64_t ggnn_fill_auto(int64_t total, int64_t peak, int64_t reserve);

// GGMS (XGNN): what P devices of device_bytes each store of a topology and of features, when every device
// stores `copies` of the P parts. A part has device_bytes / copies, P of them have the whole. What is placed
// first takes what it needs, the other what is left.
typedef struct {
    int64_t topology, features; // bytes stored, no more than there are
} ggnn_share;
GGNN_API ggnn_share ggnn_fill_parts(int64_t device_bytes, int32_t parts, int32_t copies,
                                    int64_t topology_bytes, int64_t feature_bytes, int features_first);

// Bytes of what is placed.
typedef struct {
    int64_t        row;    // of a feature row, padding included; >= 1
    const int64_t* indptr; // (N + 1) of the whole graph
    int64_t        edge;   // of an edge in a list: its id, its weight; >= 0
    int64_t        list;   // of a list beside its edges: its entry of indptr, 8 (and of first, 8); >= 1
} ggnn_sizes;

GGNN_HD int64_t ggnn_list_bytes(const ggnn_sizes* of, int64_t v)
{
    return (of->indptr[v + 1] - of->indptr[v]) * of->edge + of->list;
}

// Lists by bytes. Goes through order once, takes each list that fits and skips each that does not, so that a
// hub larger than a budget costs no other list its place. The i-th list taken goes to part i % parts: it fits
// where that part has room. Those taken get ranks 0, 1, ... as taken, the others the ranks after, in order.
// Returns how many were taken: layout.stored, or with parts = 1 layout.cached. O(n).
GGNN_API int64_t ggnn_fill_lists(ggnn_node*       rank,  // (n) overwritten; not order
                                 int64_t*         left,  // (parts) bytes of each part; what is left of them
                                 int32_t          parts,
                                 const ggnn_node* order, // (n)
                                 const ggnn_sizes* of, int64_t n);

// DUCATI's slope: the line of least squares through n times (ms) at n hit ratios; its negated slope, in
// nanoseconds per unit of hit ratio, rounded. 0 where the slope has the wrong sign, or is not defined: fewer
// than two ratios, or no number. Take the times with caches of random entries (ggnn_rank_random).
GGNN_API int64_t ggnn_fill_slope(const double* hit, const double* ms, int64_t n);

// DUCATI: one budget over rows and lists. The value density of a row is count / (sum of counts) * slope /
// bytes, that of a list likewise. Entries are taken in falling density; one that does not fit is skipped.
// Equal densities: rows first, then the smaller id. A slope of 0 leaves all entries of its kind out. Both
// slopes 0: both count as 1, so that frequency per byte decides. (Slope / sum is kept to 32 bits.)
typedef struct { // what DUCATI's allocation is made from
    const int64_t*    rows;  // (n) counts, [0, 2^32)
    const int64_t*    lists; // (n) counts, [0, 2^32)
    int64_t           row_slope, list_slope; // nanoseconds per unit of hit ratio, >= 0
    const ggnn_sizes* of;
    int64_t           budget; // bytes; negative: 0
} ggnn_dual;
typedef struct {
    int64_t rows, lists;           // cached: ranks below these
    int64_t row_bytes, list_bytes; // taken, no more than the budget
} ggnn_dual_fill;
// O(n log n) comparisons.
GGNN_API ggnn_dual_fill ggnn_fill_dual(ggnn_node*       row_rank,  // (n) overwritten
                                       ggnn_node*       list_rank, // (n) overwritten
                                       const ggnn_dual* from, int64_t n,
                                       ggnn_node* workspace); // (2 n)

#endif // GGNN_PLAN_H

#ifdef GGNN_PLAN_IMPLEMENTATION
#ifndef GGNN_PLAN_IMPLEMENTED
#define GGNN_PLAN_IMPLEMENTED

#ifndef GGNN_ASSERT
#include <assert.h>
#define GGNN_ASSERT(condition) assert(condition)
#endif

// =============================================================================
// ==== [1i] COUNT
// =============================================================================

static ggnn_status ggnni_plan_fault(ggnn_fault* fault, ggnn_status status, const char* what, int64_t node)
{
    ggnni_hop_fault(fault, status, what, -1);
    if (fault) fault->node = node;
    return status;
}

GGNN_API ggnn_status ggnn_count_degrees(int64_t* out, int64_t* in, const ggnn_graph* g, ggnn_fault* fault)
{
    if (out) memset(out, 0, (size_t)g->num_nodes * sizeof *out);
    for (int64_t v = 0; v < g->num_nodes; v++) {
        const ggnn_list list = ggnn_neighbors(g, (ggnn_node)v);
        if (list.degree < 0) return ggnni_plan_fault(fault, GGNN_ERROR_ID, "indptr is broken", v);
        if (in) in[v] = list.degree;
        for (int64_t i = 0; out && i < list.degree; i++) {
            if ((uint64_t)list.id[i] >= (uint64_t)g->num_nodes)
                return ggnni_plan_fault(fault, GGNN_ERROR_ID, "an id is outside [0, num_nodes)", v);
            out[list.id[i]]++;
        }
    }
    return ggnni_plan_fault(fault, GGNN_OK, NULL, -1);
}

GGNN_API ggnn_status ggnn_count_batch(int64_t* rows, int64_t* lists, const ggnn_batch* b)
{
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

GGNN_API void ggnn_rank(ggnn_node* rank, ggnn_node* order, const ggnn_hotness* by, int64_t n)
{
    ggnni_rank_sort(order, rank, n, ggnni_hotter, by);
    ggnni_rank_invert(rank, order, n);
}

GGNN_API void ggnn_rank_random(ggnn_node* rank, ggnn_node* order, uint64_t seed, int64_t n)
{
    // a key of its own: that of training's epochs would put the first batches' nodes first
    const ggnn_rng rng = {seed, GGNN_PRESAMPLE_EPOCH >> 2, GGNN_PURPOSE_PRESAMPLE};
    const uint64_t key = ggnn_draw(ggnn_random(&rng, 255, 0, 0), 0);
    for (int64_t i = 0; i < n; i++) order[i] = (ggnn_node)ggnn_shuffle(key, GGNN_PRESAMPLE_EPOCH, i, n);
    ggnni_rank_invert(rank, order, n);
}

// =============================================================================
// ==== [3i] FILL
// =============================================================================

GGNN_API int64_t ggnn_fill_ratio(double ratio, int64_t n)
{
    const double rounding = 1.0 + 1.0 / (1024.0 * 1024.0 * 1024.0 * 1024.0 * 1024.0); // 4 ulps
    if (!(ratio > 0)) return 0;
    if (ratio >= 1) return n;
    return (int64_t)(ratio * (double)n * rounding);
}

GGNN_API int64_t ggnn_fill_rows(int64_t bytes, int64_t row_bytes, int64_t n)
{
    const int64_t rows = bytes > 0 ? bytes / row_bytes : 0;
    return rows < n ? rows : n;
}

GGNN_API int64_t ggnn_fill_auto(int64_t total, int64_t peak, int64_t reserve)
{
    if (peak >= total || reserve >= total - peak) return 0;
    return total - peak - reserve;
}

GGNN_API ggnn_share ggnn_fill_parts(int64_t device_bytes, int32_t parts, int32_t copies,
                                    int64_t topology_bytes, int64_t feature_bytes, int features_first)
{
    const int64_t room = device_bytes > 0 ? device_bytes / copies * parts : 0;
    const int64_t wanted = features_first ? feature_bytes : topology_bytes;
    const int64_t other = features_first ? topology_bytes : feature_bytes;
    const int64_t first = wanted < room ? wanted : room;
    const int64_t second = other < room - first ? other : room - first;
    ggnn_share    share = {first, second};
    if (features_first) {
        share.topology = second;
        share.features = first;
    }
    return share;
}

// Who was not taken (-1) gets the ranks after the `taken`, in order.
static void ggnni_fill_others(ggnn_node* rank, const ggnn_node* order, int64_t taken, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (rank[order[i]] < 0) rank[order[i]] = (ggnn_node)taken++;
}

GGNN_API int64_t ggnn_fill_lists(ggnn_node* rank, int64_t* left, int32_t parts, const ggnn_node* order,
                                 const ggnn_sizes* of, int64_t n)
{
    int64_t taken = 0;
    int32_t part = 0; // taken % parts
    for (int64_t i = 0; i < n; i++) {
        const int64_t bytes = ggnn_list_bytes(of, order[i]);
        rank[order[i]] = -1;
        if (bytes > left[part]) continue;
        left[part] -= bytes;
        rank[order[i]] = (ggnn_node)taken++;
        part = part + 1 < parts ? part + 1 : 0;
    }
    ggnni_fill_others(rank, order, taken, n);
    return taken;
}

GGNN_API int64_t ggnn_fill_slope(const double* hit, const double* ms, int64_t n)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0, slope;
    for (int64_t i = 0; i < n; i++) {
        mean_x += hit[i] / (double)n;
        mean_y += ms[i] / (double)n;
    }
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

static int ggnni_dual_row_first(const void* context, ggnn_node b, ggnn_node a)
{
    const ggnn_dual* from = (const ggnn_dual*)context;
    return from->rows[b] > from->rows[a];
}

static int ggnni_dual_list_first(const void* context, ggnn_node b, ggnn_node a)
{
    const ggnn_dual* from = (const ggnn_dual*)context;
    return ggnni_fraction_compare(from->lists[b], ggnn_list_bytes(from->of, b), from->lists[a],
                                  ggnn_list_bytes(from->of, a)) > 0;
}

static uint64_t ggnni_dual_sum(const int64_t* count, int64_t n)
{
    uint64_t sum = 0;
    for (int64_t v = 0; v < n; v++) {
        GGNN_ASSERT(count[v] >= 0 && count[v] <= (int64_t)0xffffffff);
        sum += (uint64_t)count[v];
    }
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
    const uint64_t    list_value = (uint64_t)d->from->lists[list] * d->list;
    const uint64_t    row_value = (uint64_t)d->from->rows[row] * d->row;
    return ggnni_wide_compare(ggnni_product(list_value, (uint64_t)of->row),
                              ggnni_product(row_value, (uint64_t)ggnn_list_bytes(of, list))) > 0;
}

GGNN_API ggnn_dual_fill ggnn_fill_dual(ggnn_node* row_rank, ggnn_node* list_rank, const ggnn_dual* from,
                                       int64_t n, ggnn_node* workspace)
{
    ggnn_node *           row_order = workspace, *list_order = workspace + n;
    const ggnni_densities d = ggnni_dual_densities(from, n);
    int64_t               left = from->budget > 0 ? from->budget : 0;
    int64_t               row = d.row ? 0 : n, list = d.list ? 0 : n;
    ggnn_dual_fill        fill = {0, 0, 0, 0};
    ggnni_rank_sort(row_order, row_rank, n, ggnni_dual_row_first, from);
    ggnni_rank_sort(list_order, list_rank, n, ggnni_dual_list_first, from);
    for (int64_t v = 0; v < n; v++) row_rank[v] = list_rank[v] = -1;
    while (row < n || list < n) { // both orders fall in density
        if (row == n || (list < n && ggnni_dual_list_is_denser(&d, row_order[row], list_order[list]))) {
            const ggnn_node v = list_order[list++];
            const int64_t   bytes = ggnn_list_bytes(from->of, v);
            if (bytes > left) continue;
            left -= bytes;
            fill.list_bytes += bytes;
            list_rank[v] = (ggnn_node)fill.lists++;
        } else {
            const ggnn_node v = row_order[row++];
            if (from->of->row > left) continue;
            left -= from->of->row;
            fill.row_bytes += from->of->row;
            row_rank[v] = (ggnn_node)fill.rows++;
        }
    }
    ggnni_fill_others(row_rank, row_order, fill.rows, n);
    ggnni_fill_others(list_rank, list_order, fill.lists, n);
    return fill;
}

#endif // GGNN_PLAN_IMPLEMENTED
#endif // GGNN_PLAN_IMPLEMENTATION

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
