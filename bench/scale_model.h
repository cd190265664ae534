/* scale_model.h - what an epoch of training would take on 1 to 256 devices: the arithmetic behind ggnn-bench scale. Edges and
   rows of a batch are counted, links and kernels are stated or measured elsewhere; here they are only multiplied, divided
   and added. Nothing looks at a machine, so that the same input gives the same answer anywhere. docs/SCALE.md has the
   model in words.

   All amounts are doubles: bytes, GB (1e9 bytes), GB/s, seconds. Devices are numbered machine by machine. */
#ifndef BENCH_SCALE_MODEL_H
#define BENCH_SCALE_MODEL_H
#include <stdbool.h>
#include <stdint.h>

enum { SCALE_NAME = 32, SCALE_HOPS = 3, SCALE_POINTS = 12 };

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* A batch of so many seeds, by million nodes of the graph; the rest is a seed's share. Hop 0 is the seeds' own. */
typedef struct {
    double seeds;
    double edges[SCALE_HOPS]; /* sampled in hop h */
    double nodes[SCALE_HOPS]; /* distinct sources of hop h: the next hop's targets; of the last: input rows */
} scale_point;

typedef struct { /* of rows read, the share that a cache of the hottest rows takes */
    double cached, hits;
} scale_hits;

typedef struct {
    char name[SCALE_NAME];
    double nodes, edges, features, bytes, classes, train; /* bytes: of an element of a feature row */
    double batch, hidden;                                 /* seeds of a device; width of hidden layers */
    double tables;                                        /* 0: it is there for published figures alone */
    int32_t points, hit_points;
    scale_point point[SCALE_POINTS]; /* seeds ascending */
    scale_hits hit[SCALE_POINTS];    /* cached ascending; 0 and 1 are known */
} scale_graph;

typedef struct { /* machines of one kind, and the devices in them */
    char name[SCALE_NAME];
    double devices;              /* of one machine */
    double tables;               /* 0: it is there for published figures alone */
    double memory, room;         /* GB of a device; of it for graph and features */
    double host_memory;          /* GB of a machine */
    double stream, random;       /* GB/s of a device's memory: in order; random pieces of 64 bytes */
    double dense;                /* GFLOP/s of matrix products */
    double step;                 /* seconds of a step that no size changes: starts of kernels */
    double peer_each, peer;      /* GB/s of one link to another device; of all links of a device together */
    double reach;                /* share of them that transfers reach */
    double host, uplinks;        /* GB/s of a device's link to the host; how many such links a machine has */
    double host_all;             /* GB/s of the host's memory, for all devices */
    double net;                  /* GB/s of a machine's network, one way */
    double peer_latency, net_latency; /* seconds of one message */
} scale_machine;

typedef struct { /* of a batch split over parts, and of shards. Of 4 parts, where nothing else is said */
    double remote; /* share of edges whose source another part owns */
    double skew;   /* (most - least) / mean, of parts' edges */
} scale_split;

/* ---- choices ----------------------------------------------------------------------------------------------------- */

typedef enum { SCALE_DATA, SCALE_SPLIT, SCALE_PARALLELISMS } scale_parallelism;

typedef enum {
    SCALE_REPLICA, /* each device has all */
    SCALE_PARTS,   /* a machine's devices have the hottest rows in parts, its host has all. Of a split: each device has the
                      hottest rows that it owns, its machine's host the others that are owned there */
    SCALE_CACHE,   /* each device has a cache of the hottest rows, the host has all */
    SCALE_SHARDS,  /* as SCALE_CACHE, but hosts have shares of the rows; the others' come by network */
    SCALE_LOCAL,   /* as SCALE_SHARDS, with shards by min-cut, and seeds that train where they lie */
    SCALE_STORES
} scale_store;
typedef enum { SCALE_SAGE, SCALE_GCN, SCALE_GAT, SCALE_GNNS } scale_gnn;
enum { SCALE_HEADS = 4 }; /* of GAT: of hidden / 4 columns each; of the last layer of all classes each, averaged */
extern const char* const scale_parallelism_name[SCALE_PARALLELISMS];
extern const char* const scale_store_name[SCALE_STORES];
extern const char* const scale_gnn_name[SCALE_GNNS]; /* as ggnn-train's --model */

typedef struct { /* what trains on what */
    const scale_graph* graph;
    const scale_machine* machine;
    const scale_split* split;
    scale_parallelism parallelism;
    scale_store store;
    int32_t devices;
    scale_gnn gnn;
} scale_case;

/* ---- what comes out ---------------------------------------------------------------------------------------------- */

/* What a step waits for, one after the other. */
typedef enum {
    SCALE_SAMPLE,  /* random reads of the device's own memory: lists, the table of ids */
    SCALE_MEMORY,  /* reads of the device's own memory in order: rows that it has, aggregation, activations */
    SCALE_DENSE,   /* matrix products */
    SCALE_PEER,    /* links between devices of a machine */
    SCALE_HOST,    /* the link to the host */
    SCALE_NETWORK, /* the machine's network */
    SCALE_FIXED,   /* starts of kernels, and of messages */
    SCALE_RESOURCES
} scale_resource;
extern const char* const scale_resource_name[SCALE_RESOURCES];

typedef struct { /* where a device reads rows of features: shares that sum to 1 */
    bool possible; /* false: it does not fit, or is no choice */
    double own, peer, host, net;
} scale_reads;

typedef struct { /* of the slowest device */
    bool possible;
    double steps;
    double seconds[SCALE_RESOURCES], total; /* of an epoch */
    double loading;                         /* of it for rows over links */
    double own_bytes;                       /* bytes of input rows read of a device's own memory, per epoch */
} scale_epoch;

/* A batch of `seeds` seeds: points of the graph joined by power laws, the first and last ones' shares of a seed kept below and
   their law kept above, where no hop has more nodes than the graph. Entries are of the batch, not of a seed. */
scale_point scale_batch(const scale_graph* g, double seeds);

/* Of rows read, the share that a cache of a share of the rows takes; straight lines between the points. */
double scale_hits_of(const scale_graph* g, double cached);

double scale_graph_bytes(const scale_graph* g);   /* lists: 8 bytes a node, 4 an edge */
double scale_feature_bytes(const scale_graph* g);

/* Whether the choice is one: shards need two machines, parts and a split two devices, and a split reads where rows are owned. */
bool scale_applies(const scale_case* c);
scale_reads scale_reads_of(const scale_case* c); /* not possible where it does not apply */
scale_epoch scale_epoch_of(const scale_case* c);
double scale_overlapped(const scale_epoch* e);    /* seconds where rows of the next batch are loaded beside the step */
scale_resource scale_bound(const scale_epoch* e); /* the resource that takes most of the epoch */

/* Seconds in which `devices` devices add up `bytes` of gradients: around a ring of machines, and within each. */
typedef struct {
    double peer, net, fixed;
} scale_reduction;
scale_reduction scale_reduce(const scale_machine* m, double bytes, int32_t devices);
double scale_gradient_bytes(const scale_graph* g, scale_gnn gnn);

/* ---- beside published figures ------------------------------------------------------------------------------------ */

/* overlap: loading runs beside computing, of whatever else is compared, too. */

/* How many times faster `after` machines are than `before` in training an epoch of GraphSAGE that takes `seconds` on the latter,
   a step of each being one batch a device. */
double scale_machines_speedup(const scale_graph* g, const scale_machine* m, double seconds, int32_t before, int32_t after);

/* Extraction with a store, from extraction with a cache on each device: the bytes follow from the time that the cache takes.
   parts: GB/s at which the slowest device reads all P parts, of the bytes that it reads from one; P: how many. */
double scale_extraction(const scale_machine* m, double seconds, double hits_before, double hits_after, double parts,
                        int32_t devices);

/* Extraction with a cache on one device, from that with another cache: the hosts' link is this device's alone. */
double scale_cached(const scale_machine* m, double seconds, double hits_before, double hits_after);

/* An epoch of devices that sample for the others, of which a batch is on its way to each: the slower of both kinds. Seconds are
   those of one device that does all of it; the others extract at once, over the links to the host that there are. */
typedef struct {
    double sampling, extraction, training; /* seconds */
    double hits;
    int32_t samplers, devices;
} scale_stages;
double scale_factored(const scale_machine* m, const scale_stages* s, bool overlap);

/* Seconds of a step of GraphSAGE on one device, which reads of the host all rows and lists that its caches have not. */
double scale_cached_step(const scale_graph* g, const scale_machine* m, double row_hits, double list_hits, bool overlap);

/* Steps with one cache of rows, of a share of them, beside steps with two of the same memory: `bytes` of it have lists, which
   take `list_hits` of their reads. share 0: beside no cache. memory: in shares of the rows. */
double scale_dual_speedup(const scale_graph* g, const scale_machine* m, double share, double memory, double bytes,
                          double list_hits, bool overlap);

/* How many times what computing takes loading all rows takes, where a cache that takes `less` of it makes training `faster`
   times as fast. The one without a cache does not overlap. */
double scale_load(double faster, double less, bool overlap);

/* P devices beside one, where loading all rows takes `load` times what computing takes, and a cache takes the rest. */
double scale_cache_speedup(double load, double hits_one, double hits_each, int32_t devices, bool overlap);

/* Edges that `devices` devices compute with `seeds` seeds each, over those of one batch of all. */
double scale_redundancy(const scale_graph* g, double seeds, int32_t devices);

/* (predicted - published) / published; red: by more than a quarter. */
double scale_error(double predicted, double published);
bool scale_red(double error);
#endif
