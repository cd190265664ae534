#include "trainer/batch/queue.h"

#include <pthread.h>

#include "common/memory.h"

typedef enum { ENTRY_FREE, ENTRY_CLAIMED, ENTRY_READY, ENTRY_TAKEN } entry_state;
typedef struct {
    packed_batch packed;
    size_t room;
    entry_state state;
} entry;

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed;
    int64_t claimed, taken, end; /* the next slices, and where they end */
    int64_t used;                /* entries that are not free */
    queue_counts counts;
    int32_t bound;
    entry entry[];
};

static entry* entry_of(queue* q, int64_t slice) { return &q->entry[slice % q->bound]; }

queue* queue_create(int32_t bound, error* why)
{
    queue* q = memory_new(sizeof *q + (size_t)bound * sizeof *q->entry, "the queue of batches", why);
    if (!q) return NULL;
    q->bound = bound;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->changed, NULL);
    return q;
}

void queue_free(queue* q)
{
    if (!q) return;
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    memory_free(q);
}

void queue_free_rooms(queue* q, device* d)
{
    pthread_mutex_lock(&q->lock);
    for (int32_t i = 0; i < q->bound; i++) {
        if (q->entry[i].packed.memory) device_free_host(d, q->entry[i].packed.memory);
        q->entry[i].packed.memory = NULL;
        q->entry[i].room = 0;
    }
    pthread_mutex_unlock(&q->lock);
}

void queue_begin(queue* q, int64_t first, int64_t end)
{
    pthread_mutex_lock(&q->lock);
    for (int32_t i = 0; i < q->bound; i++) q->entry[i].state = ENTRY_FREE;
    q->claimed = q->taken = first;
    q->end = end;
    q->used = 0;
    q->closed = false;
    pthread_mutex_unlock(&q->lock);
}

void queue_close(queue* q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

int64_t queue_claim(queue* q, bool wait)
{
    int64_t slice = -1;
    pthread_mutex_lock(&q->lock);
    while (wait && !q->closed && q->claimed < q->end && entry_of(q, q->claimed)->state != ENTRY_FREE)
        pthread_cond_wait(&q->changed, &q->lock);
    if (!q->closed && q->claimed < q->end && entry_of(q, q->claimed)->state == ENTRY_FREE) {
        slice = q->claimed++;
        entry_of(q, slice)->state = ENTRY_CLAIMED;
        q->counts.claimed++;
        if (++q->used > q->counts.most) q->counts.most = q->used;
    }
    pthread_mutex_unlock(&q->lock);
    return slice;
}

/* A quarter more than is asked for, as batches differ a little. */
packed_batch* queue_room(queue* q, int64_t slice, device* d, size_t bytes, error* why)
{
    entry* e = entry_of(q, slice);
    if (bytes <= e->room) return &e->packed;
    if (e->packed.memory) device_free_host(d, e->packed.memory);
    e->room = bytes + bytes / 4;
    e->packed.memory = device_new_host(d, e->room, "a batch in the queue", why);
    if (e->packed.memory) return &e->packed;
    e->room = 0;
    return NULL;
}

static void hand_on(queue* q, int64_t slice, entry_state state)
{
    pthread_mutex_lock(&q->lock);
    entry_of(q, slice)->state = state;
    q->counts.given += state == ENTRY_FREE;
    q->used -= state == ENTRY_FREE;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

void queue_put(queue* q, int64_t slice) { hand_on(q, slice, ENTRY_READY); }
void queue_give(queue* q, int64_t slice) { hand_on(q, slice, ENTRY_FREE); }

int64_t queue_take(queue* q, int64_t limit, bool wait)
{
    int64_t slice = -1;
    pthread_mutex_lock(&q->lock);
    while (wait && !q->closed && q->taken < limit && entry_of(q, q->taken)->state != ENTRY_READY)
        pthread_cond_wait(&q->changed, &q->lock);
    if (!q->closed && q->taken < limit && entry_of(q, q->taken)->state == ENTRY_READY) {
        slice = q->taken++;
        entry_of(q, slice)->state = ENTRY_TAKEN;
        q->counts.taken++;
        pthread_cond_broadcast(&q->changed); /* others wait for the limit to be reached */
    }
    pthread_mutex_unlock(&q->lock);
    return slice;
}

const packed_batch* queue_at(const queue* q, int64_t slice) { return &q->entry[slice % q->bound].packed; }

bool queue_is_past(queue* q, int64_t limit)
{
    pthread_mutex_lock(&q->lock);
    const bool past = q->taken >= limit;
    pthread_mutex_unlock(&q->lock);
    return past;
}

queue_counts queue_counts_of(queue* q)
{
    pthread_mutex_lock(&q->lock);
    const queue_counts counts = q->counts;
    pthread_mutex_unlock(&q->lock);
    return counts;
}
