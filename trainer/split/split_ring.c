#include "trainer/split/split_ring.h"

#include <pthread.h>
#include <string.h>

#include "common/memory.h"
#include "common/progress.h"

enum { SLOTS = 2 };
enum { FREE, READY, TAKEN }; /* a slot */

struct split_ring {
    device* device;
    split_plan plan;
    split_loader* slot[SLOTS];
    int32_t slots;
    ggnn_batch shape;
    split_cost cost;    /* of the batches taken; `seconds`: in split_ring_take */

    int64_t next, end;  /* batch to hand out; batches of the pass */
    int64_t made;       /* batch to be made next */

    /* of a ring that makes them ahead */
    device*   beside;
    loader*   whole;    /* single: samples whole batches there */
    comm      line;
    pthread_t thread;
    bool      runs, quit;
    bool      joined;   /* there is a line, by which other ranks may wait for this one */
    bool      broken;   /* this rank has failed */
    pthread_mutex_t lock; /* of quit, broken, made, next, end, state and `failed` */
    pthread_cond_t  changed;
    int     state[SLOTS];
    error   failed;     /* of the thread */
    bool    own;        /* it failed here, not at another rank */
};

/* ==== the thread ================================================================================================ */

/* Waits for a batch to make; false: none will be. Locked. */
static bool wait_for_order(split_ring* r)
{
    while (!r->quit && !r->broken && (r->made >= r->end || r->state[r->made % SLOTS] != FREE)) pthread_cond_wait(&r->changed, &r->lock);
    return !r->quit && !r->broken;
}

/* Others' threads may be in a call, or wait for an order: those of a run that has failed all come here. Locked. */
static void leave_line(split_ring* r, const error* why)
{
    r->own = !r->line.failed.text[0] && why->text[0];
    if (why->text[0]) r->failed = *why;
    else error_set(&r->failed, "the run has ended");
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    comm_fail(&r->line, why);
    pthread_mutex_lock(&r->lock);
}

static void* make_batches(void* context)
{
    split_ring* r = context;
    error why = {""};
    bool good = true;
    device_enter(r->beside);
    pthread_mutex_lock(&r->lock);
    while (good && wait_for_order(r)) {
        const int64_t number = r->made;
        pthread_mutex_unlock(&r->lock);
        good = split_loader_take(r->slot[number % SLOTS], number, &why) != NULL;
        pthread_mutex_lock(&r->lock);
        if (!good) break;
        r->state[number % SLOTS] = READY;
        r->made++;
        pthread_cond_broadcast(&r->changed);
    }
    if (!good || r->broken) leave_line(r, &why);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ==== opening, closing ========================================================================================== */

static bool open_ahead(split_ring* r, const loader_plan* whole_plan, error* why)
{
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->beside = device_twin(r->device, why);
    if (!r->beside || !(r->joined = comm_branch(&r->line, r->plan.over, why))) return false;
    if (r->plan.whole && !(r->whole = loader_create(r->beside, whole_plan, NULL, why))) return false;
    r->plan.whole = r->whole;
    r->plan.line = &r->line;
    return true;
}

bool split_ring_open(split_ring** opened, device* d, const split_plan* plan, const loader_plan* whole_plan, bool ahead, error* why)
{
    split_ring* r = *opened = memory_new(sizeof *r, "batches of --parallel split", why);
    if (!r) return false;
    r->device = d;
    r->plan = *plan;
    r->slots = ahead ? SLOTS : 1;
    bool good = !ahead || open_ahead(r, whole_plan, why);
    for (int32_t i = 0; good && i < r->slots; i++) {
        r->slot[i] = split_loader_create(ahead ? r->beside : d, &r->plan, why);
        good = r->slot[i] != NULL;
    }
    if (good) r->shape = *split_loader_shape(r->slot[0]);
    if (good && ahead) good = r->runs = pthread_create(&r->thread, NULL, make_batches, r) == 0;
    return good || why->text[0] ? good : error_set(why, "a thread that makes batches ahead cannot be started");
}

void split_ring_fail(split_ring* r)
{
    if (!r || !r->runs) return;
    pthread_mutex_lock(&r->lock);
    r->broken = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

/* Every rank's thread makes as many batches as slots allow, so that none leaves another one in a call. */
void split_ring_end(split_ring* r)
{
    if (r->slots == 1) return;
    pthread_mutex_lock(&r->lock);
    int64_t all = r->next;
    for (int i = 0; i < SLOTS; i++) all += r->state[i] != TAKEN;
    all = all < r->end ? all : r->end;
    while (!r->failed.text[0] && r->made < all) pthread_cond_wait(&r->changed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

void split_ring_rest(split_ring* r)
{
    if (!r || !r->joined) return;
    const bool failed = r->plan.over->failed.text[0];
    if (failed) split_ring_fail(r);
    else split_ring_end(r);
    if (r->runs) {
        pthread_mutex_lock(&r->lock);
        r->quit = true;
        pthread_cond_broadcast(&r->changed);
        pthread_mutex_unlock(&r->lock);
        pthread_join(r->thread, NULL);
    } else if (failed) comm_fail(&r->line, &r->plan.over->failed); /* in place of the thread that could not begin */
    r->runs = r->joined = false;
}

void split_ring_free(split_ring* r)
{
    if (!r) return;
    for (int32_t i = 0; i < r->slots; i++) split_loader_free(r->slot[i]);
    loader_free(r->whole);
    comm_close_branch(&r->line);
    if (r->slots > 1) {
        device_close(r->beside);
        pthread_cond_destroy(&r->changed);
        pthread_mutex_destroy(&r->lock);
    }
    memory_free(r);
}

/* ==== batches =================================================================================================== */

/* No thread makes a batch now (split_ring_end). */
bool split_ring_begin(split_ring* r, const loader_pass* pass, const ggnn_node* device_ids, int64_t first, error* why)
{
    const int64_t batches = (pass->num_ids + r->plan.batch - 1) / r->plan.batch;
    for (int32_t i = 0; i < r->slots; i++)
        if (!split_loader_meet(r->slot[i], r->device, why)) return false;
    if (r->slots > 1) pthread_mutex_lock(&r->lock);
    for (int32_t i = 0; i < r->slots; i++) {
        split_loader_begin(r->slot[i], pass);
        r->state[i] = FREE;
    }
    if (r->plan.whole) split_loader_begin_whole(r->slot[0], pass, device_ids, first);
    r->next = r->made = first;
    r->end = batches;
    if (r->slots == 1) return true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return true;
}

/* The thread's batch, once it is there. Another rank's failure is heard from that rank, as any failure is. */
static split_loader* wait_for_batch(split_ring* r, error* why)
{
    split_loader* ready = r->slot[r->next % SLOTS];
    device_settle(r->device); /* the batch before is trained on: its slot may be filled again */
    pthread_mutex_lock(&r->lock);
    for (int i = 0; i < SLOTS; i++)
        if (r->state[i] == TAKEN) r->state[i] = FREE;
    pthread_cond_broadcast(&r->changed);
    while (!r->failed.text[0] && r->state[r->next % SLOTS] != READY) pthread_cond_wait(&r->changed, &r->lock);
    const bool good = r->state[r->next % SLOTS] == READY;
    const bool own = r->own;
    const error failed = r->failed;
    if (good) r->state[r->next % SLOTS] = TAKEN;
    pthread_mutex_unlock(&r->lock);
    if (good) return ready;
    if (own || comm_barrier(r->plan.over, why)) error_set(why, "%s", failed.text);
    return NULL;
}

static void include(ggnn_batch* to, const ggnn_batch* from)
{
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) {
        int64_t* const most[] = {&to->hop[h].num_dst.max, &to->hop[h].num_src.max, &to->hop[h].num_edges.max};
        const int64_t its[] = {from->hop[h].num_dst.max, from->hop[h].num_src.max, from->hop[h].num_edges.max};
        for (int i = 0; i < 3; i++) *most[i] = its[i] > *most[i] ? its[i] : *most[i];
    }
}

/* Of the slot's last batch. */
static void add_cost(split_ring* r, split_loader* l)
{
    const split_cost of = split_loader_take_cost(l);
    r->cost.batches.sample += of.batches.sample;
    r->cost.batches.extract += of.batches.extract;
    r->cost.batches.edges += of.batches.edges;
    r->cost.batches.bytes += of.batches.bytes;
    r->cost.targets += of.targets;
    r->cost.rows += of.rows;
}

const mini_batch* split_ring_take(split_ring* r, error* why)
{
    const double start = progress_seconds(), waited = r->plan.over->cost.waited;
    split_loader* l = r->slots > 1 ? wait_for_batch(r, why) : r->slot[0];
    const mini_batch* b = !l ? NULL : r->slots > 1 ? split_loader_batch(l) : split_loader_take(l, r->next, why);
    r->cost.batches.seconds += progress_seconds() - start - (r->plan.over->cost.waited - waited);
    if (!b) return NULL;
    add_cost(r, l);
    include(&r->shape, split_loader_shape(l));
    r->next++;
    return b;
}

const ggnn_batch* split_ring_shape(const split_ring* r) { return &r->shape; }

/* ==== costs ===================================================================================================== */

split_cost split_ring_cost(const split_ring* r)
{
    split_cost cost = r->cost;
    for (int32_t i = 0; i < r->slots; i++) {
        const shuffle_cost moved = split_loader_cost(r->slot[i]).moved;
        cost.moved.own += moved.own;
        cost.moved.peer += moved.peer;
        cost.moved.bytes += moved.bytes;
    }
    return cost;
}

int64_t split_ring_sent(const split_ring* r) { return r->line.cost.bytes; }
int64_t split_ring_bytes(const split_ring* r) { return r->beside ? r->beside->most_bytes : 0; }
