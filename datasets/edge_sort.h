/* edge_sort.h - more edges than memory holds, sorted by target, then by source, then as they came.

   Edges go into one buffer. A full buffer is sorted, a stripe a thread, and each stripe is written as a run: front to
   back, by the differences of neighbours, 4 to 5 bytes an edge where ids are below 2^25. What is in the buffer at the
   end stays there. edge_sorter_scan merges the runs, on all threads and as often as it is called. Nothing is read or
   written out of order, and no list is too long: a run does not know of lists.
   The result depends on the edges alone: not on memory, threads, or how edges were handed over. */
#ifndef DATASETS_EDGE_SORT_H
#define DATASETS_EDGE_SORT_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/error.h"

typedef struct {
    int64_t dst, src;
    bool reverse; /* the reverse of an edge: after the edges themselves between the same two nodes */
    float weight;
    int64_t number; /* of the edge as it was read, from 0; its reverse has the same one */
} sorted_edge;

typedef struct { /* where a reader may begin: every few thousand edges of a run */
    int64_t dst;
    int64_t offset; /* in the scratch file */
} edge_restart;

typedef struct {
    const uint64_t* record; /* in memory; NULL: in the scratch file, from restart[0].offset */
    int64_t count;
    edge_restart* restart;
} edge_run;

typedef struct { /* what may be asked of a sorter; zeros are valid but for path and memory */
    const char* path;  /* the output: scratch lies beside it, without a name */
    int64_t memory;    /* bytes for the buffer; at least EDGE_SORT_LEAST */
    int64_t expected;  /* edges at most, where that is known: the buffer is not larger; 0: not known */
    int64_t num_nodes; /* ids are below; 0: not known */
    bool weighted, both;
    bool numbered; /* edges keep their numbers, which are below the edges added. Not with weights */
} edge_sorter_options;
enum { EDGE_SORT_LEAST = 1 << 20 };

typedef struct {
    edge_sorter_options how;
    int words;        /* of a record: 1 packed, 2 packed and weighted or numbered, 3 for ids of 2^31 and more */
    uint64_t* buffer; /* (room, words) */
    int64_t room, count;
    int64_t added;   /* edges in all */
    int64_t largest; /* id so far; -1: none */
    edge_run* run;   /* (num_runs) in the order in which their edges came */
    int64_t num_runs, max_runs;
    void* mapped; /* the scratch file, for reading */
    int fd;       /* of scratch; -1: none was needed */
    int64_t end;  /* where the next run may begin in scratch: runs lie apart, between them is nothing */
    int64_t written;
    int64_t* bound; /* (num_pieces + 1) piece p of a scan: the targets in [bound[p], bound[p + 1]); of the last, INT64_MAX too */
    int64_t num_pieces;
    void* reading; /* a merge's memory, one a thread */
} edge_sorter;

bool edge_sorter_open(edge_sorter* s, const edge_sorter_options* how, error* why);
void edge_sorter_close(edge_sorter* s); /* harmless after a failure and after itself */

/* Bytes of scratch that so many edges will take at most; 0 where they fit the buffer. */
int64_t edge_sorter_scratch_bytes(const edge_sorter_options* how, int64_t edges);

/* Sees that there is room for most edges (at most EDGE_SORT_BATCH) and returns the place of the first; -1 on failure.
   edge_sorter_put fills places, from any thread; edge_sorter_end takes the first count of them. largest: of their
   ids. */
enum { EDGE_SORT_BATCH = 1 << 15 };
int64_t edge_sorter_begin(edge_sorter* s, int64_t most, int64_t largest, error* why);
static inline void edge_sorter_put(edge_sorter* s, int64_t place, const sorted_edge* e);
void edge_sorter_end(edge_sorter* s, int64_t count);

/* Ends adding for now and prepares scans. More edges may be added after it, and then it is called again. */
bool edge_sorter_finish(edge_sorter* s, error* why);

/* A piece's edges in order. Returns how many are at *record, 0 at the end. */
typedef struct edge_stream edge_stream;
int64_t edge_stream_next(edge_stream* in, const uint64_t** record);

/* Calls body for every piece, on all threads, after edge_sorter_finish. what: the progress bar's. walk: one piece after
   the other, by the caller. */
typedef void edge_body(void* context, int64_t piece, edge_stream* in);
void edge_sorter_scan(edge_sorter* s, const char* what, edge_body* body, void* context);
void edge_sorter_walk(edge_sorter* s, const char* what, edge_body* body, void* context);

/* The record at r as an edge. */
static inline sorted_edge edge_sorter_edge(const edge_sorter* s, const uint64_t* r);

/* Sorts (count, words) in place, by the first word, then the second, ... In place, O(bytes of a record) a record. */
void edge_sort_records(uint64_t* record, int64_t count, int words);

/* ---- records -------------------------------------------------------------------------------------------------- */

/* The last word of those with weights is the place in the buffer, then the weight's bits: all differ, so that edges
   stay as they came. Numbers differ by themselves. */
static inline uint64_t edge_sort_tail(int64_t place, float weight)
{
    uint32_t bits;
    memcpy(&bits, &weight, sizeof bits);
    return (uint64_t)place << 32 | bits;
}

static inline void edge_sorter_put(edge_sorter* s, int64_t place, const sorted_edge* e)
{
    uint64_t *r = s->buffer + place * s->words, from = (uint64_t)e->src << 1 | e->reverse;
    if (s->words < 3) {
        r[0] = (uint64_t)e->dst << 32 | from;
    } else {
        r[0] = (uint64_t)e->dst;
        r[1] = from;
    }
    if (s->words > 1) r[s->words - 1] = s->how.numbered ? (uint64_t)e->number : edge_sort_tail(place, e->weight);
}

static inline sorted_edge edge_sorter_edge(const edge_sorter* s, const uint64_t* r)
{
    bool packed = s->words < 3;
    uint64_t from = packed ? (uint32_t)r[0] : r[1];
    sorted_edge e = {(int64_t)(packed ? r[0] >> 32 : r[0]), (int64_t)(from >> 1), from & 1, 1, 0};
    if (s->how.numbered) e.number = (int64_t)r[s->words - 1];
    if (s->how.weighted) {
        uint32_t bits = (uint32_t)r[s->words - 1];
        memcpy(&e.weight, &bits, sizeof bits);
    }
    return e;
}
#endif
