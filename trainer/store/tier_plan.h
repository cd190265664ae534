/* tier_plan.h - which nodes' lists and rows lie in which tier: from options, graph and memory to a tiers_plan (tiers.h),
   by the rules of ggnn_plan.h. Set-up only. All ranks make the same calls.

       tier_plan_open(&p, ...);      // nothing is in a device's memory yet
       tier_plan_order(&p, ...);     // what is hot, and in which order
       ... a first mini-batch, where tier_plan_asks_peak: what it takes of the device is its peak
       tier_plan_fill(&p, peak, why);
       source.plan = &p.plan;        // for tiers_open; p must outlive the view

   The parts' order is that of all ranks together. So is a cache's, as a rank may get any node in a batch. Where it has training
   nodes of its own (--partition pagraph), and by `optimal`, a cache's order is that of its own rank's batches. Same options, same plan, on
   every machine and backend, but for what memory is free; of counted policies (presc, dual, optimal) on as many devices.
   Parts that store all of a kind store it by id, as order has no meaning then. Parts that store a share of a kind hold the hottest
   of what not every device has cached.

   With --partition pagraph and a part for each rank (--store replica) a part is of the closure of its rank's training nodes, too: the lists that
   their batches read, and the rows. With --partition pagraph a cache is of the closure of its rank's training nodes: by degree, counted over the lists
   that its batches read; by counted policies in the order of what it read itself; by others in their order. With --parallel split, where a row is read by its owner alone, a
   cache is of its rank's own nodes, in the order of all ranks together; of lists as well, but where ranks take turns to
   sample whole batches. */
#ifndef TRAINER_TIER_PLAN_H
#define TRAINER_TIER_PLAN_H
#include "datasets/plan_file.h"
#include "trainer/store/slopes.h"
#include "trainer/store/tier_wants.h"
#include "trainer/store/tiers.h"

enum { TIER_NOTES_MAX = 6, TIER_RANKS_MAX = 40 };

typedef struct { /* all zeros: there is no plan */
    tiers_plan plan;
    tier_options options;
    tier_data    data;
    comm*    comm;   /* NULL: a supposed plan, of which no other rank is asked */
    int64_t  nodes;
    ggnn_sizes sizes;
    int32_t  parts;
    int32_t  sharers; /* ranks that have this device */
    int64_t  total;  /* bytes of the device that count; INT64_MAX: there is no limit */
    int64_t  within[TIERS_KINDS]; /* nodes that its part may have: all, or those of the closure, which come first in its order */
    int64_t  reach[TIERS_KINDS]; /* nodes that the cache may have: all, or those whose list or row this rank may read */
    bool     peaks;  /* the device has memory of its own */
    ranking  file;
    int64_t  from_file[TIERS_KINDS]; /* ranks below these are cached, as a dual file says */
    ggnn_placement placement;
    ggnn_topology  links;                     /* of --topology; of no devices without */
    int64_t* count[TIERS_KINDS];              /* (N) what this rank's batches read; NULL: not counted */
    const ggnn_node* of_parts[TIERS_KINDS];   /* (N) ranks that order the parts of all devices */
    const ggnn_node* hot[TIERS_KINDS];        /* (N) the same, hottest first: of_parts before caches are looked at */
    const ggnn_node* of_cache[TIERS_KINDS];   /* (N) ranks that order this device's cache */
    int64_t  kept;                            /* bytes of the rankings that room is left for on the device */
    int64_t  left;                            /* bytes of this device, once filled, that nothing is planned for; where a limit is known */
    ggnn_node* memory[TIER_RANKS_MAX];        /* of ranks */
    int32_t opened;                           /* those of them that tier_plan_fill finds */
    slopes_times slopes;                      /* of --slopes measure, where `measured` */
    bool measured;
    const char* counted;                      /* where reads were counted: "host", "device"; NULL: nowhere */
    comm_shared shared;                       /* ranks that all threads of a process share */
    ggnn_node* work;                          /* (2 N) */
    char note[TIER_NOTES_MAX][200];           /* what the user is to know */
    int notes;                                /* those of them that tier_plan_fill found */
} tier_plan;

/* over: the ranks whose devices share parts; NULL: each has one of its own. False on failure; tier_plan_close is due all the same. */
bool tier_plan_open(tier_plan* p, const tier_options* options, const tier_data* data, comm* with, comm* over, device* d, error* why);

/* how: how training samples. there: the data as a device reads it that counts what batches read, where that is to be counted; NULL:
   the host's threads do. The counts are the same. Where the device cannot, the host does, and a note says so. */
bool tier_plan_order(tier_plan* p, const ggnn_sampling* how, const tiers_view* there, error* why);
bool tier_plan_asks_peak(const tier_plan* p);
int64_t tier_plan_room(const tier_plan* p, int64_t peak); /* bytes beside that peak; 1 GiB where no limit is known */
void tier_plan_take_slopes(tier_plan* p); /* p->slopes, in place of the options' */
bool tier_plan_fill(tier_plan* p, int64_t peak, error* why);
bool tier_plan_take_roles(tier_plan* p, int32_t samplers, error* why); /* to be filled again, with so many samplers */
int64_t tier_plan_rankings(const tier_plan* p); /* bytes of the rankings that the filled tiers keep, each once */

int64_t tier_plan_beside(const tier_plan* p);   /* bytes of rows of edges, of ends of arrays and of tables that tiers take too */

/* How many ranks share this one's device, as those of one machine and number do: sets p->sharers. All ranks call it.
   tier_plan_open does. */
bool tier_plan_meet(tier_plan* p, comm* with, device* d, error* why);

/* This rank's share of its device, and no more than `most` (--device-memory; 0: all of it). */
int64_t tier_plan_total(const tier_plan* p, int64_t most, device* d);

typedef struct { /* what is known before a run */
    int64_t nodes;
    ggnn_sizes sizes;
    int32_t parts;
    const ggnn_placement* placement; /* NULL: device i has part i */
    int64_t total;                   /* bytes of a device for lists, rows and rankings; INT64_MAX: no limit */
    bool    peaks;                   /* the device has memory of its own */
    const ggnn_node* rank[TIERS_KINDS];  /* (nodes) the order of the parts */
    const ggnn_node* cached;         /* (nodes) the order of the rows in a cache; not of dual */
    int64_t* count[TIERS_KINDS];     /* (nodes) what all ranks' batches read; of --cache dual */
} tier_known;

/* What a run would place with these options, which name no ranking: opens a plan and fills it, by the very rules of the others.
   For --explain. It asks no rank and no device. What `from` points to must outlive it. */
bool tier_plan_suppose(tier_plan* p, const tier_options* options, const tier_known* from, error* why);

/* Adds to the notes, where there is room. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void tier_plan_note(tier_plan* p, const char* format, ...);

void tier_plan_close(tier_plan* p); /* all zeros is fine */

/* Bytes of so many rankings of N nodes on a device. */
static inline int64_t tier_plan_rank_bytes(int64_t nodes, int64_t rankings) { return rankings * nodes * (int64_t)sizeof(ggnn_node); }
#endif
