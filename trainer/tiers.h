/* tiers.h - where the bytes of a data set live, as one device sees them. No other file knows: it makes the graph and
   the store that a loader and a net read, and the room for rows between layers.

   REPLICA: each device has all of graph and features in its own memory, which on a CPU is the file as it is mapped.
   EXCHANGE: each has the graph whole, as a replica, and a part of the rows; the others' come by exchange.h.
   PARTS: the ranks of a machine have them once. Each fills the part of the nodes that it owns, and reads all
   through tables of the parts' addresses (ggnn_layout, ggnn.h, sections [3] and [7]). Each has labels and ids whole. On a
   CPU parts lie in shared memory; on CUDA in the device's own, which the others of the machine read over links.
   P devices open a view each over the same source. */
#ifndef TRAINER_TIERS_H
#define TRAINER_TIERS_H
#include "datasets/ggnn_file.h"
#include "trainer/batch.h"
#include "trainer/comm.h"
#include "trainer/exchange.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TIERS_LISTS = 4 };

typedef struct { /* the host's arrays; must outlive the views */
    ggnn_graph graph;    /* plain, as are */
    ggnn_store features;
    net_labels labels;   /* (num_nodes) */
    const ggnn_node* ids[TIERS_LISTS]; /* (count[i]) lists of nodes that passes go over; NULL: there is none */
    int64_t count[TIERS_LISTS];
    comm* over; /* parts over its ranks of this machine; NULL: a replica */
    ggnn_owner owners; /* of nodes: range, modulo or hash */
    bool exchange;     /* rows by exchange, in parts over all ranks where `machines` is set */
    bool machines;
} tiers_source;

typedef struct { /* what a rank read, by where it lay */
    int64_t own, peer, host;
} tiers_reads;

typedef struct { /* what they point to is memory of the device */
    device*    device;
    ggnn_graph graph;
    ggnn_store features;
    net_labels labels;
    const ggnn_node* ids[TIERS_LISTS];
    bool  local;  /* every row of features is in the device's own memory: reading one twice costs no link */
    exchange* exchange; /* by which rows are read, all but those of `features`; NULL: they are all there */
    void* memory[9]; /* what was sent */

    comm* over;         /* of parts: all below is nothing for a replica */
    comm_shared shared; /* a CPU's parts; */
    void* part;         /* another device's own, */
    void** borrowed;    /* (locals) and those of other processes; NULL: in this one */
    void* tables;       /* that graph and features point to, and the counts of what was read; */
    void* host_tables;  /* as they were made */
} tiers;

/* All ranks of from->over call it. On failure false; tiers_close is harmless then. Of parts it is called when no rank of
   this process reads any more; for ranks of other processes it waits. */
bool tiers_open(tiers* t, device* d, const tiers_source* from, error* why);
void tiers_close(tiers* t);

/* Bytes of the data, as the view of part number `part` of `parts` has them; of a replica: 0 of 1. */
int64_t tiers_bytes(const tiers_source* from, int32_t part, int32_t parts);

/* Rows of features and lists of neighbours that were read through this view so far; of a replica zeros, as no one counts.
   A loader adds what it read when a batch is taken. */
tiers_reads tiers_rows_read(const tiers* t);
tiers_reads tiers_lists_read(const tiers* t);

/* Room for rows that evaluation leaves between layers, zeroed. In the device's memory, where `bytes` are at most `most`;
   else in an unnamed file in the folder of `beside`, where the device reads the host's memory. On a CPU the ranks of a
   machine share one room. All ranks of c call it. NULL on failure. */
typedef struct { /* a rank: which of the rooms it uses, as the how-manieth of how many */
    int32_t room, user, users;
} tiers_user;
typedef struct { /* all zeros: not open */
    device* device;
    comm*   comm;
    void*   memory;
    comm_shared shared;
    ggnn_file_scratch file; /* this rank's own; */
    void*  mapped;          /* or another one's */
    size_t bytes;
    tiers_user* user;  /* (ranks) where there are several rooms; NULL: one */
    comm_piece* piece; /* (2 ranks) */
} tiers_room;
void* tiers_room_open(tiers_room* r, device* d, comm* c, size_t bytes, size_t most, const char* beside, error* why);
void  tiers_room_close(tiers_room* r);

/* Rank k has filled rows [bound[k], bound[k + 1]) of `rows`, a place in the room: they go to the other rooms, to each
   once. All ranks call it. Those who share a room have the rows after the next call of comm.h. Where there is one room
   it does nothing, and no one waits. */
bool tiers_room_spread(tiers_room* r, void* rows, const int64_t* bound, size_t row_bytes, error* why);
static inline bool tiers_room_is_one(const tiers_room* r) { return !r->user; }

#ifdef __cplusplus
}
#endif
#endif
