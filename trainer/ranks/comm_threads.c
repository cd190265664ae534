/* comm_threads.c - ranks that are threads of one process: each says where its pieces are, and each copies what it gets. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "trainer/ranks/comm_engine.h"

typedef struct {
    comm_transfer transfer; /* of this call */
    error failed;
    char name[32];
} seat;

/* What the threads share. Words are of two kinds of calls, even and odd ones, so that a rank which has met the others may
   say the next word while a slower one still reads. It can say none after that one before all have come to it. */
typedef struct {
    int32_t ranks, come;
    int32_t users; /* of a branch: ranks that have not closed it */
    int32_t alarm; /* 1: a rank raised it */
    int64_t round; /* barriers so far */
    pthread_mutex_t lock;
    pthread_cond_t all_came;
    comm_word* word; /* (2, ranks) */
    seat seat[];
} table;

static void wait_for_all(table* t)
{
    pthread_mutex_lock(&t->lock);
    const int64_t round = t->round;
    if (++t->come == t->ranks) {
        t->come = 0;
        t->round++;
        pthread_cond_broadcast(&t->all_came);
    }
    while (t->round == round) pthread_cond_wait(&t->all_came, &t->lock);
    pthread_mutex_unlock(&t->lock);
}

static const comm_word* meet(comm* c, const comm_word* mine, const comm_transfer* transfer, const error* failed, error* why)
{
    table* t = c->own;
    comm_word* word = t->word + (c->cost.calls & 1) * t->ranks;
    (void)why;
    word[c->rank] = *mine;
    if (transfer) t->seat[c->rank].transfer = *transfer;
    if (failed) t->seat[c->rank].failed = *failed;
    wait_for_all(t);
    return word;
}

static void reason(comm* c, int32_t rank, error* failed)
{
    const table* t = c->own;
    *failed = t->seat[rank].failed;
}

static bool move(comm* c, const comm_transfer* mine, error* why)
{
    table* t = c->own;
    bool good = true;
    for (int32_t i = 1; i < t->ranks && good; i++) {
        const int32_t r = (c->rank + i) % t->ranks; /* not all read from one rank at a time */
        const comm_transfer* its = &t->seat[r].transfer;
        const comm_piece from = its->from_piece[c->rank], to = mine->to_piece[r];
        const size_t bytes = comm_bytes(mine, to);
        good = comm_bytes(its, from) == bytes;
        if (!good) error_set(why, "%s sends %zu bytes where %zu are taken", t->seat[r].name, comm_bytes(its, from), bytes);
        else if (mine->device) device_fetch(mine->device, mine->to + comm_offset(mine, to), its->from + comm_offset(its, from), bytes);
        else if (bytes) memcpy(mine->to + comm_offset(mine, to), its->from + comm_offset(its, from), bytes);
    }
    if (mine->device) device_settle(mine->device);
    wait_for_all(t);
    return good;
}

static void raise_alarm(comm* c) { __atomic_store_n(&((table*)c->own)->alarm, 1, __ATOMIC_RELEASE); }
static bool alarmed(comm* c) { return __atomic_load_n(&((const table*)c->own)->alarm, __ATOMIC_ACQUIRE); }

/* ==== shared memory: a part goes when the last rank has given it back ============================================ */

typedef struct {
    int32_t users;
    void* memory;
    size_t bytes;
} holding;

static holding* holding_new(size_t bytes, int32_t users, const char* what, error* why)
{
    holding* h = memory_new(sizeof *h, what, why);
    if (!h) return NULL;
    *h = (holding){users, memory_new(bytes, what, why), bytes};
    if (h->memory) return h;
    memory_free(h);
    return NULL;
}

static void leave(holding* h)
{
    if (__atomic_sub_fetch(&h->users, 1, __ATOMIC_ACQ_REL) > 0) return;
    memory_free(h->memory);
    memory_free(h);
}

static bool share(comm* c, comm_shared* s, const char* what, error* why)
{
    holding** all = memory_new((size_t)c->ranks * sizeof *all, what, why);
    if (!all) return false;
    holding* mine = all[c->rank] = holding_new(s->bytes[c->rank], c->ranks, what, why);
    if (!mine || !comm_gather_each(c, all, sizeof *all, why)) {
        if (mine) mine->users = 1; /* no other rank knows it */
        if (mine) leave(mine);
        memory_free(all);
        return false;
    }
    s->own = all;
    for (int32_t r = 0; r < c->ranks; r++) s->part[r] = all[r]->memory, s->bytes[r] = all[r]->bytes;
    return true;
}

static void give_back(comm* c, comm_shared* s)
{
    holding** all = s->own;
    for (int32_t r = 0; r < c->ranks; r++) leave(all[r]);
    memory_free(all);
}

/* ==== opening, closing ========================================================================================== */

static bool   branch(comm* to, comm* c, error* why);
static void   close_branch(comm* c);
static const comm_engine threads_engine = {false, meet, reason, move, share, give_back, branch, close_branch, raise_alarm, alarmed};

static table* table_new(int32_t ranks, error* why)
{
    table* t = memory_new(sizeof *t + (size_t)ranks * sizeof *t->seat, "what ranks share", why);
    if (!t) return NULL;
    t->ranks = t->users = ranks;
    t->word = memory_new(2 * (size_t)ranks * sizeof *t->word, "what ranks share", why);
    if (!t->word) {
        memory_free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->all_came, NULL);
    return t;
}

static void table_free(table* t)
{
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->all_came);
    memory_free(t->word);
    memory_free(t);
}

static void open_rank(comm* c, table* t, int32_t rank, const volatile sig_atomic_t* stop)
{
    snprintf(t->seat[rank].name, sizeof t->seat[rank].name, "rank %d", (int)rank);
    comm_open_alone(c, stop);
    c->rank = c->local = rank;
    c->ranks = c->locals = t->ranks;
    c->name = t->seat[rank].name;
    c->own = t;
    c->engine = &threads_engine;
}

bool comm_open_threads(comm c[], int32_t ranks, const volatile sig_atomic_t* stop, error* why)
{
    memset(c, 0, (size_t)ranks * sizeof *c);
    if (ranks > COMM_RANKS_MAX) return error_set(why, "%d ranks: at most %d work together", (int)ranks, COMM_RANKS_MAX);
    table* t = table_new(ranks, why);
    if (!t) return false;
    for (int32_t r = 0; r < ranks; r++) open_rank(&c[r], t, r, stop);
    return true;
}

void comm_close_threads(comm c[], int32_t ranks)
{
    table* t = c[0].own;
    if (!t) return;
    table_free(t);
    memset(c, 0, (size_t)ranks * sizeof *c);
}

/* Rank 0 makes it, and tells the others where it is; the last one to close it frees it. */
static bool branch(comm* to, comm* c, error* why)
{
    table** made = memory_new((size_t)c->ranks * sizeof *made, "what ranks share", why);
    bool good = made && (c->rank > 0 || (made[0] = table_new(c->ranks, why)));
    if (good && !comm_gather_each(c, made, sizeof *made, why)) {
        if (c->rank == 0) table_free(made[0]);
        good = false;
    }
    if (good) open_rank(to, made[0], c->rank, c->stop);
    memory_free(made);
    return good;
}

static void close_branch(comm* c)
{
    table* t = c->own;
    if (__atomic_sub_fetch(&t->users, 1, __ATOMIC_ACQ_REL) == 0) table_free(t);
}
