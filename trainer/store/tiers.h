/* tiers.h - where the bytes of a data set live, as one device sees them. No other file knows: it makes the graph and
   the store that a loader and a net read.

   The room store/: what lies in which memory, decided once at set-up, and the view of it that all others read through.

   REPLICA: each device has all of graph and features in its own memory, which on a CPU is the file as it is mapped.
   EXCHANGE: each has the graph whole, as a replica, and a part of the rows; the others' come by exchange.h, but for those of a
   plan's own cache.
   PARTS: the ranks of a machine have them once. Each fills the part of the nodes that it owns, and reads all
   through tables of the parts' addresses (ggnn_layout, ggnn.h, sections [3] and [7]). Each has labels and ids whole. On a
   CPU parts lie in shared memory; on CUDA in the device's own, which the others of the machine read over links.
   A PLAN says of lists of neighbours, and of rows of features, which nodes' lie where. A look-up asks
     the own cache   of this device alone, in its memory: nodes of its choice
     the parts       in the devices' memory together: rank h, hottest 0, is row h / parts of part h % parts. A device
                     has one part, or those that a placement gives it, and reads the others from the devices that the
                     placement names. By role samplers have the parts of lists, and trainers those of rows
     the host tier   the whole arrays by id. On a CPU that is the file as it is mapped; CUDA reads pinned memory over a
                     link, without a copy in the device's (device_pin)
   Rows of edges lie by position: a cache has the first ones, parts the next ones by ranges, with the devices that have parts of
   rows; without a plan parts have all.
   All that is read is counted by where it lay. Own cache, own parts and host tier are allocations of their own; what is
   read from none has no address. What lies in one piece in the device's memory, or what a plan does not split, has no
   tables. P devices open a view each over the same source. */
#ifndef TRAINER_TIERS_H
#define TRAINER_TIERS_H
#include "datasets/ggnn_file.h"
#include "ggnn_plan.h"
#include "trainer/batch/batch.h"
#include "trainer/ranks/comm.h"
#include "trainer/ranks/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TIERS_LISTS = 4 };

/* Lists of neighbours and rows, of nodes; rows of edges, which lie by position and follow no hotness. */
typedef enum { TIERS_GRAPH, TIERS_FEATURES, TIERS_KINDS, TIERS_EDGES = TIERS_KINDS, TIERS_ALL } tiers_kind;

typedef struct { /* of one kind, as one device has it. Arrays are the host's and outlive the views */
    const ggnn_node* rank;       /* (N) in the order of the parts, alike for all devices; NULL: v itself */
    int64_t stored;              /* ranks below it lie in parts, the others in the host tier alone */
    const ggnn_node* cache_rank; /* (N) in the order of this device's cache */
    int64_t cached;              /* cache ranks below it lie in the own cache */
} tiers_share;

typedef struct { /* devices of the machine */
    int32_t first, count; /* [first, first + count) */
} tiers_devices;

/* Of `devices` those that read one kind in training, where the last `samplers` of them sample for the others: the samplers read
   lists, the trainers rows. 0 samplers: each reads both. */
static inline tiers_devices tiers_readers(tiers_kind kind, int32_t devices, int32_t samplers)
{
    const tiers_devices sample = {devices - samplers, samplers}, train = {0, devices - samplers};
    return kind == TIERS_GRAPH && samplers ? sample : train;
}

typedef struct {
    tiers_share share[TIERS_KINDS];
    int64_t edges_cached, edges_stored; /* rows of edges: the first ones in each own cache; behind them those that parts have */
    const ggnn_placement* placement; /* of as many parts as devices; NULL: the i-th of those that store parts has part i */
} tiers_plan;

typedef struct { /* the host's arrays; must outlive the views */
    ggnn_graph graph;    /* plain */
    ggnn_store features; /* plain; or of a part of the nodes, the others having no rows: one part, in an array (part_features). Without
                            `over`; a plan stores none of them, caches what is there, and its host tier is that array */
    ggnn_store edges;    /* plain, rows of edges by position; rows NULL: none are read */
    net_labels labels;   /* (num_nodes) */
    const ggnn_node* ids[TIERS_LISTS]; /* (count[i]) lists of nodes that passes go over; NULL: there is none */
    int64_t count[TIERS_LISTS];
    comm* over; /* parts over its ranks of this machine; NULL: one part, this device's */
    const tiers_plan* plan; /* NULL: parts have all, the host tier nothing. With `exchange` its cache of rows alone counts */
    const ggnn_placement* placement; /* without a plan, of as many parts as devices; NULL: as of a plan */
    int32_t samplers; /* parts by role: those of each kind lie with its readers (tiers_readers); without a placement. 0: with all */
    ggnn_owner owners; /* of nodes: range, modulo or hash */
    const ggnn_layout* owned; /* --parallel split, --owners partition: whose node each is, of all ranks; NULL: by `owners` */
    bool marks;        /* ranks sample for others: who samples marks rows as who trains has them; with `over` */
    bool exchange;     /* rows by exchange, in parts over all ranks where `machines` is set */
    bool machines;
} tiers_source;

typedef struct { /* by where it lies: the own cache, a part of this device, a part of another one, the host tier */
    int64_t cache, own, peer, host;
} tiers_reads;

typedef struct { /* of one kind: the one counter of log, reports and benches */
    tiers_reads placed, placed_bytes; /* what lies there, once each, as this device reads it; host: what no part has */
    tiers_reads read, read_bytes;     /* through the view since it was opened or tiers_start_counting. Bytes of a list:
                                         16, and an id for each edge that was sampled of it; none for edges of walks */
} tiers_count;

typedef struct { /* what a loader and a net read. What it points to is memory of the device */
    device*    device;
    ggnn_graph graph;
    ggnn_store features;
    ggnn_store edges;    /* rows of edges */
    net_labels labels;
    const ggnn_node* ids[TIERS_LISTS];
    ggnn_layout marks;     /* of loader_plan: `features` as the machine's first device has them. No parts: no one marks */
    bool       reads_marks; /* this device has them so, too */
    int64_t*   edges_read; /* (graph.at.parts + 2) for loader_plan; NULL: no one counts */
    exchange*  exchange;   /* by which rows are read, all but those of `features`; NULL: they are all there */
    bool       local;      /* every row of features is in the device's own memory: reading one twice costs no link */
    bool       copied;     /* memory of the host could not be pinned where it is: there is a pinned copy */
} tiers_view;

typedef struct tiers tiers;

/* All ranks of from->over call it. On failure false; tiers_close(*t) is due all the same, once the other ranks know of the
   failure. Of parts tiers_close is called when no rank of this process reads any more; for ranks of other processes it
   waits. */
bool tiers_open(tiers** t, device* d, const tiers_source* from, error* why);
void tiers_close(tiers* t); /* NULL is fine */

const tiers_view* tiers_view_of(const tiers* t);

/* The graph as the host samples from it: through the view, and counted; or, where that is not memory of the host's, the file's
   own. And as a device of other memory does; NULL: there is none. */
const ggnn_graph* tiers_host_graph(const tiers* t, const ggnn_graph* file);
const ggnn_graph* tiers_device_graph(const tiers* t);

/* Without a plan: over how many parts, by owner, the lists or the rows lie. */
int32_t tiers_parts(const tiers* t, tiers_kind kind);

/* Bytes of the data, as the view of part number `part` of `parts` has them; of a replica: 0 of 1. Not of a plan. */
int64_t tiers_bytes(const tiers_source* from, int32_t part, int32_t parts);

/* What a plan of so many parts, of which a device stores so many, takes of a device at most beside lists, rows and rankings: the ends
   of arrays, the space that aligns them, and tables. */
int64_t tiers_overhead(int32_t parts, int32_t stored);

/* What lies where and what was read through this view; of a replica without a plan zeros, as no one counts. A loader adds
   what it read when a batch is taken. No work may be under way on the device where counting starts anew. */
tiers_count tiers_counted(const tiers* t, tiers_kind kind);
void        tiers_start_counting(tiers* t);

/* --parallel split: the part, of `parts` on the machine of `over`, that has node v: its owner's, or of another machine's node the one
   whose turn it is. */
int32_t tiers_owner(const ggnn_layout* owned, const comm* over, int64_t v, int32_t parts);

/* Where one kind of a plan lies, of so many parts. */
static inline ggnn_layout tiers_layout(const tiers_share* s, int32_t parts)
{
    const ggnn_layout at = {s->cache_rank, s->cached, s->rank, NULL, s->stored, parts};
    return at;
}

/* Of count[v] reads of each of N nodes, how many go to each slot of a layout: parts, host tier, own cache. */
void tiers_by_slot(int64_t* slot,        /* (parts + 2) overwritten */
                   const ggnn_layout* at,
                   const int64_t* count, /* (nodes) NULL: ones */
                   int64_t nodes);

/* The same before anything is read, from a plan whose parts lie with all devices: of count[v] reads of each of N nodes by device `me` of so many
   devices, how many go where. from (devices): those of parts, by the device that they are read from, added to; or NULL. What
   --explain and ggnn-bench store predict. */
tiers_reads tiers_plan_reads(const tiers_plan* plan, tiers_kind kind, const int64_t* count, int64_t nodes, int32_t me,
                             int32_t devices, int64_t* from);

/* Rows of features that were read from parts, by the device of the machine that they were read from; of machines with
   more devices zeros. */
void tiers_rows_from(const tiers* t, int64_t from[GGNN_DEVICES_MAX]);

/* Bytes of so many rows. What was read more: now than before. */
tiers_reads tiers_row_bytes(const tiers* t, tiers_kind kind, tiers_reads rows); /* not of lists */
tiers_reads tiers_reads_since(tiers_reads now, tiers_reads before);
tiers_reads tiers_reads_sum(tiers_reads a, tiers_reads b);

#ifdef __cplusplus
}
#endif
#endif
