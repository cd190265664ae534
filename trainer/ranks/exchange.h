/* exchange.h - rows that other ranks have, by an all-to-all: for devices that cannot read each other's memory, and for
   machines. It is the other gather beside that through a table of parts (ggnn.h, section [7]), and gives the same rows.

   Each rank owns a part of the rows. To read rows by id, all ranks together
       split their ids by owner, and tell each owner how many it is asked for, and which;
       gather what they are asked for, each from its own part;
       send it back, where it is put in the order of the ids.
   So the calls that say "all ranks" are made by all of them in the same order, also by one that needs no row. Rows that a rank
   has in a cache of its own are asked of no one. */
#ifndef TRAINER_EXCHANGE_H
#define TRAINER_EXCHANGE_H
#include "trainer/ranks/comm.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct exchange exchange;

typedef struct {
    comm*      over;
    ggnn_store from;     /* all rows: one array of the host's, which exchange_create alone reads */
    int64_t    num_rows;
    ggnn_owner owners;   /* by range, modulo or hash */
    const int32_t* owner; /* (num_rows) parts, which exchange_create alone reads; NULL: by `owners` */
    bool       machines; /* the rows are there once, over all ranks; else once over the ranks of each machine */
    const ggnn_node* cache_rank; /* (num_rows) in the order of this rank's cache; NULL: v itself */
    int64_t    cached;   /* cache ranks below it lie in the cache; other ranks may have other caches */
} exchange_plan;

/* Takes this rank's part. No rank waits for another. NULL on failure; exchange_free(NULL) is fine. */
exchange* exchange_create(device* d, const exchange_plan* plan, error* why);
void      exchange_free(exchange* x);

/* Rows as they are stored: all but those of the own part and the cache are out of reach. */
const ggnn_store* exchange_stored(const exchange* x);

/* All ranks. out[i,:] = row id[i] as floats, as ggnn_gather gives it; n < 2^31. id, out (n, ld_out) and its padding are
   the device's. False where a rank has failed. */
bool exchange_rows(exchange* x, float* out, int64_t ld_out, const ggnn_node* id, int64_t n, error* why);

/* All ranks. A store that has the rows of these ids, by id, and no others, until the next call; of ids [first, first + n).
   The ids are distinct. NULL on failure. */
const ggnn_store* exchange_some(exchange* x, const ggnn_node* id, int64_t n, error* why);
const ggnn_store* exchange_range(exchange* x, int64_t first, int64_t n, error* why);

typedef struct { /* of this rank, since exchange_create */
    int64_t cache, own, peer; /* rows that it read, by where they lay */
    int64_t messages, bytes;  /* that it sent to other ranks: counts, ids and rows */
} exchange_cost;
exchange_cost exchange_cost_of(const exchange* x);

#ifdef __cplusplus
}
#endif
#endif
