/* queue.h - a bounded queue of packed slices, between the devices that sample and those that train (factored.h).

   Slices are numbered. Number j lies in entry j % bound of the queue, and its owners follow each other:

       claimed   by who samples it: queue_claim; queue_room gives the entry's memory
       ready     the queue's: queue_put
       taken     by who trains on it: queue_take, in the order of the numbers
       free      again: queue_give; then number j + bound may be claimed

   So there are never more than `bound` slices on their way, no slice is made twice, and none is lost. Who samples waits
   where the queue is full; who trains, where the next slice is not ready. Threads of one process use it. */
#ifndef TRAINER_QUEUE_H
#define TRAINER_QUEUE_H
#include "trainer/batch/loader.h"

typedef struct queue queue;

queue* queue_create(int32_t bound, error* why); /* NULL on failure */
void   queue_free(queue* q);                    /* NULL is fine; after queue_free_rooms */
void   queue_free_rooms(queue* q, device* d);   /* when no one uses it, but to free them; d: any device of the kind that took them */

/* Slices [first, end) are to be made; while no one uses it. */
void queue_begin(queue* q, int64_t first, int64_t end);

/* From now on nothing can be claimed or taken, and no one waits. Until queue_begin. */
void queue_close(queue* q);

/* The next slice to be sampled. -1: all are claimed, or it is closed; without wait also where the queue is full. */
int64_t queue_claim(queue* q, bool wait);

/* The entry of a slice that is claimed, with room for at least so many bytes; d is the caller's. NULL on failure. */
packed_batch* queue_room(queue* q, int64_t slice, device* d, size_t bytes, error* why);
void          queue_put(queue* q, int64_t slice);

/* The next slice to be trained on, below `limit`. -1: the next one is not below, or it is closed; without wait also where
   it is not ready. */
int64_t             queue_take(queue* q, int64_t limit, bool wait);
const packed_batch* queue_at(const queue* q, int64_t slice); /* of one that is taken */
void                queue_give(queue* q, int64_t slice);

/* Have all slices below `limit` been taken? */
bool queue_is_past(queue* q, int64_t limit);

typedef struct { /* since queue_create */
    int64_t claimed, taken, given;
    int64_t most; /* entries that were not free at once */
} queue_counts;
queue_counts queue_counts_of(queue* q);
#endif
