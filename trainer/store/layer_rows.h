/* layer_rows.h - the rows that evaluation leaves between layers: an array of all nodes, of which each device, or on a CPU
   each machine, has one copy. */
#ifndef TRAINER_LAYER_ROWS_H
#define TRAINER_LAYER_ROWS_H
#include "datasets/ggnn_file.h"
#include "trainer/ranks/comm.h"

typedef struct { /* a rank: which of the copies it uses, as the how-manieth of how many */
    int32_t copy, user, users;
} layer_rows_user;

typedef struct { /* all zeros: not open */
    device* device;
    comm*   comm;
    void *memory, *host_memory;
    comm_shared shared;
    ggnn_file_scratch file; /* this rank's own file */
    void*  mapped;          /* another rank's file; NULL: none */
    size_t bytes;
    layer_rows_user* user; /* (ranks) where there are several copies; NULL: one */
    comm_piece* piece;     /* (2 ranks) */
} layer_rows;

/* Zeroed bytes: in the device's memory, where they are at most `most` and there is room; else of a CPU in an unnamed file in
   the folder of `beside`, of others in pinned memory of the host, a copy each. On a CPU the ranks of a machine share one
   copy. All ranks of c call it. NULL on failure. */
void* layer_rows_open(layer_rows* r, device* d, comm* c, size_t bytes, size_t most, const char* beside, error* why);
void  layer_rows_close(layer_rows* r);

/* Rank k has filled rows [bound[k], bound[k + 1]) of `rows`, a place in its copy: they go to the other copies, to each
   once. All ranks call it. Those who share a copy have the rows after the next call of comm.h. Where there is one copy
   it does nothing, and no one waits. */
bool layer_rows_spread(layer_rows* r, void* rows, const int64_t* bound, size_t row_bytes, error* why);
static inline bool layer_rows_is_one(const layer_rows* r) { return !r->user; }
#endif
