/* test_queue.c - the queue between devices that sample and devices that train: every slice is made once and used once, in
   order, and no more are on their way than it is for; how many devices sample. */
#include <pthread.h>

#include "common/memory.h"
#include "tests/test.h"
#include "trainer/factored/factored.h"

enum { SLICES = 600, MAKERS = 3, USERS = 2 };

typedef struct {
    queue* q;
    device* device;
    int64_t limit;       /* users take below it */
    int made[SLICES], used[SLICES];
    int out_of_order, damaged;
    int64_t now, most; /* on their way */
    pthread_mutex_t lock;
} scene;

static void linger(uint64_t* state)
{
    volatile uint64_t x = *state = *state * 6364136223846793005u + 1442695040888963407u;
    for (uint64_t i = x >> 54; i > 0; i--) x = x + i;
}

static void* make(void* context)
{
    scene* s = context;
    error why = {""};
    uint64_t state = (uint64_t)(uintptr_t)&why;
    for (int64_t j; (j = queue_claim(s->q, true)) >= 0;) {
        packed_batch* to = queue_room(s->q, j, s->device, sizeof j * (size_t)(1 + j % 7), &why);
        const int64_t now = __atomic_add_fetch(&s->now, 1, __ATOMIC_RELAXED);
        linger(&state);
        pthread_mutex_lock(&s->lock);
        if (now > s->most) s->most = now;
        pthread_mutex_unlock(&s->lock);
        *(int64_t*)to->memory = j;
        to->known = j + 1;
        __atomic_add_fetch(&s->made[j], 1, __ATOMIC_RELAXED);
        queue_put(s->q, j);
    }
    return NULL;
}

static void* use(void* context)
{
    scene* s = context;
    uint64_t state = (uint64_t)(uintptr_t)&state;
    for (int64_t j, last = -1; (j = queue_take(s->q, s->limit, true)) >= 0; last = j) {
        const packed_batch* from = queue_at(s->q, j);
        const bool whole = *(const int64_t*)from->memory == j && from->known == j + 1;
        linger(&state);
        pthread_mutex_lock(&s->lock);
        s->used[j]++;
        s->out_of_order += j <= last;
        s->damaged += !whole;
        pthread_mutex_unlock(&s->lock);
        __atomic_sub_fetch(&s->now, 1, __ATOMIC_RELAXED);
        queue_give(s->q, j);
    }
    return NULL;
}

static scene* scene_new(int32_t bound)
{
    error why = {""};
    scene* s = calloc(1, sizeof *s);
    s->q = queue_create(bound, &why);
    s->device = device_open_cpu(1, &why);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void scene_free(scene* s)
{
    queue_free_rooms(s->q, s->device);
    queue_free(s->q);
    device_close(s->device);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

TEST(every_slice_is_made_and_used_once_and_no_more_are_on_their_way_than_the_bound)
{
    static const int32_t bounds[] = {1, 2, 7};
    for (int b = 0; b < 3; b++) {
        scene* s = scene_new(bounds[b]);
        pthread_t thread[MAKERS + USERS];
        const int64_t first = 100;
        queue_begin(s->q, first, SLICES);
        s->limit = SLICES;
        for (int i = 0; i < MAKERS + USERS; i++) CHECK_EQ(pthread_create(&thread[i], NULL, i < MAKERS ? make : use, s), 0);
        for (int i = 0; i < MAKERS + USERS; i++) pthread_join(thread[i], NULL);
        for (int64_t j = 0; j < SLICES; j++) CHECK(s->made[j] == (j >= first) && s->used[j] == (j >= first));
        const queue_counts n = queue_counts_of(s->q);
        CHECK_EQ(s->out_of_order + s->damaged, 0);
        CHECK(n.claimed == SLICES - first && n.taken == SLICES - first && n.given == SLICES - first);
        CHECK(s->most > 0 && n.most > 0);
        CHECK(s->most <= bounds[b] && n.most <= bounds[b]);
        scene_free(s);
    }
}

TEST(a_slice_has_one_owner_after_the_other)
{
    error why = {""};
    scene* s = scene_new(2);
    queue_begin(s->q, 0, 5);
    CHECK_EQ(queue_take(s->q, 5, false), -1); /* none is ready */
    CHECK_EQ(queue_claim(s->q, false), 0);
    CHECK_EQ(queue_claim(s->q, false), 1);
    CHECK_EQ(queue_claim(s->q, false), -1); /* full */
    CHECK(queue_room(s->q, 1, s->device, 8, &why) && queue_room(s->q, 0, s->device, 8, &why));
    queue_put(s->q, 1);
    CHECK_EQ(queue_take(s->q, 5, false), -1); /* 0 comes first */
    queue_put(s->q, 0);
    CHECK_EQ(queue_take(s->q, 1, true), 0);
    CHECK_EQ(queue_take(s->q, 1, true), -1); /* 1 is not below, and no one waits for it */
    CHECK(queue_is_past(s->q, 1) && !queue_is_past(s->q, 2));
    CHECK_EQ(queue_claim(s->q, false), -1); /* taken is not free */
    queue_give(s->q, 0);
    CHECK_EQ(queue_claim(s->q, false), 2);
    CHECK_EQ(queue_counts_of(s->q).most, 2);
    queue_close(s->q);
    CHECK_EQ(queue_claim(s->q, true), -1);
    CHECK_EQ(queue_take(s->q, 5, true), -1);
    queue_begin(s->q, 3, 3);
    CHECK_EQ(queue_claim(s->q, true), -1); /* there are none */
    scene_free(s);
}

TEST(closing_a_queue_ends_all_waiting)
{
    scene* s = scene_new(2);
    pthread_t thread[2];
    queue_begin(s->q, 0, SLICES);
    CHECK_EQ(pthread_create(&thread[0], NULL, make, s), 0); /* waits once two are claimed */
    s->limit = 0;
    while (queue_counts_of(s->q).claimed < 2) {}
    queue_close(s->q);
    pthread_join(thread[0], NULL);
    queue_begin(s->q, 0, SLICES);
    s->limit = SLICES;
    CHECK_EQ(pthread_create(&thread[1], NULL, use, s), 0); /* waits for the first one */
    queue_close(s->q);
    pthread_join(thread[1], NULL);
    CHECK_EQ(queue_counts_of(s->q).taken, 0);
    scene_free(s);
}

/* N_s = ceil(N t_s / (t_s + t_t)), from 1 to N - 1. */
TEST(the_number_of_samplers_follows_from_the_times)
{
    CHECK_EQ(factored_samplers(8, 1, 1), 4);
    CHECK_EQ(factored_samplers(8, 1, 3), 2);
    CHECK_EQ(factored_samplers(8, 1, 2.9), 3);
    CHECK_EQ(factored_samplers(8, 3, 1), 6);
    CHECK_EQ(factored_samplers(8, 0, 1), 1);
    CHECK_EQ(factored_samplers(8, 1, 0), 7);
    CHECK_EQ(factored_samplers(8, 0, 0), 4); /* not measured: half */
    CHECK_EQ(factored_samplers(2, 1, 1000), 1);
    CHECK_EQ(factored_samplers(2, 1000, 1), 1);
    CHECK_EQ(factored_samplers(3, 0, 0), 1);
    CHECK(factored_slices(1) == 1 && factored_slices(2) == 1 && factored_slices(3) == 2 && factored_slices(8) == 7);
}

/* Entries are claimed, ready and taken when it is closed. */
TEST(a_pass_that_was_broken_off_leaves_nothing_to_the_next)
{
    enum { BOUND = 3 };
    error why = {""};
    queue* q = queue_create(BOUND, &why);
    queue_begin(q, 0, 10);
    for (int64_t i = 0; i < BOUND; i++) CHECK_EQ(queue_claim(q, false), i);
    CHECK_EQ(queue_claim(q, false), -1); /* it is full */
    queue_put(q, 0);
    queue_put(q, 1);
    CHECK_EQ(queue_take(q, 10, false), 0);
    queue_close(q);
    CHECK_EQ(queue_take(q, 10, true), -1);
    queue_begin(q, 5, 7);
    CHECK_EQ(queue_take(q, 7, false), -1); /* nothing is ready */
    CHECK_EQ(queue_claim(q, false), 5);
    CHECK_EQ(queue_claim(q, false), 6);
    CHECK_EQ(queue_claim(q, false), -1); /* that was the last */
    const queue_counts counts = queue_counts_of(q);
    CHECK_EQ(counts.claimed, BOUND + 2);
    CHECK_EQ(counts.most, BOUND);
    queue_free(q);
}

/* Whoever asks for room after all rooms were freed, or after one that could not be had, gets new memory. */
TEST(rooms_of_a_queue_may_be_freed_and_asked_for_again)
{
    error why = {""};
    scene* s = scene_new(2);
    for (int times = 0; times < 3; times++) {
        for (int64_t slice = 0; slice < 4; slice++) {
            const size_t bytes = (size_t)(100 - 10 * times + slice);
            packed_batch* room = queue_room(s->q, slice, s->device, bytes, &why);
            if (!CHECK(room && room->memory && room == queue_at(s->q, slice + 2))) continue;
            memset(room->memory, 7, bytes);
        }
        if (times == 1) {
            CHECK(!queue_room(s->q, 1, s->device, SIZE_MAX / 2, &why));
            CHECK(strstr(why.text, "a batch in the queue") != NULL);
            why.text[0] = 0;
        } else queue_free_rooms(s->q, s->device);
    }
    CHECK_STR(why.text, "");
    scene_free(s);
}

/* A room that grows has a quarter more than is asked for. */
TEST(rooms_of_the_queue_grow_by_a_quarter)
{
    static const size_t bytes[] = {1000, 1250, 7, 1251, 1563, 1564};
    error why = {""};
    device* d = device_open_cpu(1, &why);
    queue* q = queue_create(2, &why);
    queue_begin(q, 0, 2);
    long calls = memory_calls();
    for (int i = 0; i < 6; i++) {
        packed_batch* room = queue_room(q, 1, d, bytes[i], &why);
        if (!CHECK(room && room->memory)) break;
        memset(room->memory, i, bytes[i]);
        const bool grew = i == 0 || i == 3 || i == 5;
        CHECK_EQ(memory_calls() - calls, grew);
        calls = memory_calls();
    }
    queue_free_rooms(q, d);
    queue_free(q);
    device_close(d);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(every_slice_is_made_and_used_once_and_no_more_are_on_their_way_than_the_bound);
    RUN(a_slice_has_one_owner_after_the_other);
    RUN(closing_a_queue_ends_all_waiting);
    RUN(the_number_of_samplers_follows_from_the_times);
    RUN(a_pass_that_was_broken_off_leaves_nothing_to_the_next);
    RUN(rooms_of_a_queue_may_be_freed_and_asked_for_again);
    RUN(rooms_of_the_queue_grow_by_a_quarter);
    return test_finish();
}
