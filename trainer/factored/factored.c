#include "trainer/factored/factored.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/device/ops.h"

/* Pieces are kept for two batches in turn: none is overwritten before all trainers have come to the end of the batch
   after its own, so have added it up. */
struct factored {
    int32_t ranks, slices, wanted; /* samplers, 0: by times */
    queue* queue;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool failed, stopped;
    int32_t begun;            /* ranks that have begun this pass */
    int64_t batch, batches;   /* the one that trains, and where they end */
    int64_t round;            /* batches done so far, of all passes */
    int32_t samplers;         /* at the beginning of the pass */
    int32_t trainers, arrived, joining;
    bool    publish;          /* rank 0 is to give its state to the ranks that joined */
    int64_t published;        /* the last round in which rank 0 gave its state */
    int64_t made, used;       /* slices sampled; trained on: in the passes so far */
    double  making, taking;    /* seconds of sampling; of training: in the passes so far */
    int64_t count;            /* parameters */
    float  *piece, *state;    /* (2, slices, count); value, gradient, moments (4, count) */
    int64_t updates;
    double  *loss;            /* (2, slices) */
    int64_t *known;           /* (2, slices) */
};

int32_t factored_slices(int32_t ranks) { return ranks > 2 ? ranks - 1 : 1; }

int32_t factored_samplers(int32_t ranks, double sample_seconds, double train_seconds)
{
    const double all = sample_seconds + train_seconds;
    int32_t samplers = all > 0 ? (int32_t)ceil(ranks * sample_seconds / all) : ranks / 2;
    if (samplers > ranks - 1) samplers = ranks - 1;
    return samplers < 1 && ranks > 1 ? 1 : samplers;
}

/* Room for the slices of two batches, and for one more in each device's hands. */
factored* factored_create(int32_t ranks, int32_t samplers, error* why)
{
    factored* f = memory_new(sizeof *f, "the queue between devices", why);
    if (!f) return NULL;
    f->ranks = ranks;
    f->slices = factored_slices(ranks);
    f->wanted = samplers;
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->changed, NULL);
    f->queue = queue_create(2 * f->slices + ranks, why);
    if (f->queue) return f;
    factored_free(f);
    return NULL;
}

void factored_free(factored* f)
{
    if (!f) return;
    queue_free(f->queue);
    memory_free(f->piece);
    memory_free(f->state);
    memory_free(f->loss);
    memory_free(f->known);
    pthread_cond_destroy(&f->changed);
    pthread_mutex_destroy(&f->lock);
    memory_free(f);
}

void factored_fail(factored* f)
{
    pthread_mutex_lock(&f->lock);
    f->failed = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    queue_close(f->queue);
}

queue_counts factored_counts(factored* f) { return queue_counts_of(f->queue); }

/* False once a rank has failed: then with what it said. */
static bool all_good(factored_rank* r, error* why)
{
    pthread_mutex_lock(&r->of->lock);
    const bool failed = r->of->failed;
    pthread_mutex_unlock(&r->of->lock);
    return !failed || (comm_barrier(r->comm, why) && error_set(why, "another device has failed"));
}

/* ==== opening, closing ========================================================================================== */

static bool take_shared(factored* f, int64_t count, error* why)
{
    static const char what[] = "gradients of slices";
    const size_t pieces = 2 * (size_t)f->slices, bytes = memory_product((size_t)count, sizeof(float), 1);
    if (f->count) return true;
    if (!f->piece) f->piece = memory_new(memory_product(pieces, bytes, 1), what, why);
    if (!f->state) f->state = memory_new(memory_product(4, bytes, 1), what, why);
    if (!f->loss) f->loss = memory_new(pieces * sizeof *f->loss, what, why);
    if (!f->known) f->known = memory_new(pieces * sizeof *f->known, what, why);
    if (!f->piece || !f->state || !f->loss || !f->known) return false;
    f->count = count;
    return true;
}

static bool next_order(void* context, loader_order* o);

bool factored_open(factored_rank* r, factored* f, comm* c, net* n, loader* l, error* why)
{
    const int64_t count = net_state_of(n).count;
    *r = (factored_rank){.of = f, .comm = c, .device = net_device(n), .net = n, .loader = l};
    r->source = (loader_source){next_order, r};
    pthread_mutex_lock(&f->lock);
    const bool good = take_shared(f, count, why);
    pthread_mutex_unlock(&f->lock);
    if (!good || r->device->host_memory) return good;
    r->room = device_new(r->device, memory_product((size_t)f->slices, (size_t)count, sizeof(float)), "gradients of slices", why);
    return r->room != NULL;
}

void factored_close(factored_rank* r)
{
    if (r->of) queue_free_rooms(r->of->queue, r->device);
    if (r->room) device_free(r->device, r->room);
    memset(r, 0, sizeof *r);
}

/* ==== a pass ==================================================================================================== */

/* By what was wanted, or by the times of the passes so far. */
static int32_t samplers_of(const factored* f)
{
    const double t_s = f->made && f->used ? f->making / (double)f->made : 0;
    const double t_t = f->made && f->used ? f->taking / (double)f->used : 0;
    return f->wanted ? f->wanted : factored_samplers(f->ranks, t_s, t_t);
}

/* Once every rank has ended the pass, its times are all there, and the same for each. */
bool factored_fix(factored* f, comm* c, int32_t* samplers, error* why)
{
    if (!comm_barrier(c, why)) return false;
    *samplers = samplers_of(f);
    if (!comm_barrier(c, why)) return false;
    if (c->local == 0) f->wanted = *samplers;
    return comm_barrier(c, why);
}

static void begin_pass(factored* f, int64_t first, int64_t batches)
{
    f->samplers = samplers_of(f);
    f->trainers = f->ranks - f->samplers;
    f->arrived = f->joining = 0;
    f->publish = false;
    f->batch = first;
    f->batches = batches;
    queue_begin(f->queue, first * f->slices, batches * f->slices);
}

static double to_extract(const loader* l) { return loader_cost_of(l).mark + loader_cost_of(l).extract; }

/* Whoever comes first after the barrier begins it for all: no one is in the pass before any more. */
bool factored_begin(factored_rank* r, const loader_pass* pass, int64_t first, int64_t batches, error* why)
{
    factored* f = r->of;
    loader_pass shared = *pass;
    if (!comm_barrier(r->comm, why)) return false;
    pthread_mutex_lock(&f->lock);
    if (f->begun++ == 0) begin_pass(f, first, batches);
    if (f->begun == f->ranks) f->begun = 0;
    r->samples = r->comm->rank >= f->ranks - f->samplers;
    pthread_mutex_unlock(&f->lock);
    r->batch = first;
    r->next = r->ahead = -1;
    r->ordered = 0;
    r->made = r->used = 0;
    r->making = r->taking = 0;
    r->train = net_profile_of(r->net)->train;
    r->extract = to_extract(r->loader);
    shared.source = &r->source;
    loader_begin(r->loader, &shared, 0);
    return true;
}

/* What a slice takes to train on: both stages on a CPU; the longer one where they overlap. */
void factored_end(factored_rank* r)
{
    factored* f = r->of;
    const double train = net_profile_of(r->net)->train - r->train;
    const double extract = to_extract(r->loader) - r->extract;
    if (r->device->overlaps) r->taking = train > extract ? train : extract;
    pthread_mutex_lock(&f->lock);
    f->made += r->made;
    f->used += r->used;
    f->making += r->making;
    f->taking += r->taking;
    pthread_mutex_unlock(&f->lock);
    r->sampled += r->made;
    r->trained += r->used;
}

/* A sampler claims as many as its loader samples at once. A trainer orders what it has taken, then one ahead. */
static bool next_order(void* context, loader_order* o)
{
    factored_rank* r = context;
    factored* f = r->of;
    const int64_t behind = (r->batch + 1) * f->slices, end = f->batches * f->slices;
    int64_t number = r->next;
    r->next = -1;
    if (number < 0 && r->samples) number = queue_claim(f->queue, false);
    else if (number < 0 && r->device->overlaps && !r->device->serial && behind < end && queue_is_past(f->queue, behind))
        number = r->ahead = queue_take(f->queue, behind + f->slices, false);
    if (number < 0) return false;
    r->ordered += r->samples;
    *o = (loader_order){number / f->slices, (int32_t)(number % f->slices), f->slices,
                        r->samples ? NULL : queue_at(f->queue, number), r->samples};
    return true;
}

static int64_t number_of(const factored* f, const mini_batch* b)
{
    const loader_order o = batch_order(b);
    return o.batch * f->slices + o.slice;
}

/* Ends the batch once all trainers are done with it, and with the last one all samplers have come too. Locked. */
static void end_batch(factored* f, const comm* c)
{
    const bool last = f->batch + 1 == f->batches;
    if (f->arrived < f->trainers || (last && f->trainers + f->joining < f->ranks)) return;
    f->arrived = 0;
    f->batch++;
    f->round++;
    f->publish = f->joining > 0;
    f->trainers += f->joining;
    f->joining = 0;
    f->stopped = f->stopped || __atomic_load_n(c->stop, __ATOMIC_RELAXED);
    if (f->stopped) queue_close(f->queue);
    pthread_cond_broadcast(&f->changed);
}

/* ==== samplers ================================================================================================== */

/* The next slice that is ordered goes into the queue. */
static bool sample_slice(factored_rank* r, error* why)
{
    queue* q = r->of->queue;
    const double start = progress_seconds();
    const mini_batch* b = batch_take(r->loader, why);
    if (!b) return false;
    const int64_t number = number_of(r->of, b);
    packed_batch* to = queue_room(q, number, r->device, batch_packed_bytes(r->loader, b), why);
    if (!to) return false;
    batch_pack(r->loader, b, to);
    batch_give(r->loader, b);
    if (r->device->failed.text[0]) return error_set(why, "%s", r->device->failed.text);
    queue_put(q, number);
    r->ordered--;
    r->made++;
    r->making += progress_seconds() - start;
    return true;
}

/* Waits to become a trainer, with the state that rank 0 has then. */
static bool join(factored_rank* r, error* why)
{
    factored* f = r->of;
    const double start = progress_seconds();
    pthread_mutex_lock(&f->lock);
    const int64_t round = f->round;
    if (f->batch < f->batches && !f->stopped) {
        f->joining++;
        end_batch(f, r->comm);
        while (!f->failed && !f->stopped && f->round == round) pthread_cond_wait(&f->changed, &f->lock);
        while (!f->failed && !f->stopped && f->published != f->round) pthread_cond_wait(&f->changed, &f->lock);
    }
    r->batch = f->batch;
    r->samples = false;
    if (f->stopped) comm_heard_stop(r->comm);
    const bool joined = !f->failed && !f->stopped && f->round > round;
    pthread_mutex_unlock(&f->lock);
    r->waited += progress_seconds() - start;
    if (joined) {
        const net_state mine = net_state_of(r->net);
        device_upload(r->device, mine.value, f->state, 4 * (size_t)f->count * sizeof *f->state);
        *mine.updates = f->updates;
    }
    return all_good(r, why);
}

bool factored_sample(factored_rank* r, int64_t* batch, error* why)
{
    queue* q = r->of->queue;
    *batch = r->batch;
    if (!r->samples || r->comm->stopped) return true;
    for (;;) {
        const double start = progress_seconds();
        if (!r->ordered) r->next = queue_claim(q, true);
        r->waited += progress_seconds() - start;
        if (!r->ordered && r->next < 0) break;
        if (!sample_slice(r, why)) return false;
    }
    const bool good = join(r, why);
    *batch = r->batch;
    return good;
}

/* ==== trainers ================================================================================================== */

static float* piece_of(const factored* f, int64_t batch, int64_t slice)
{
    return f->piece + (batch % 2 * f->slices + slice) * f->count;
}

/* The gradient of a slice is put where all trainers find it. */
static void leave_piece(factored_rank* r, const loader_order* o)
{
    factored* f = r->of;
    const net_partial mine = net_partial_of(r->net);
    const int64_t at = o->batch % 2 * f->slices + o->slice;
    double loss = 0;
    if (r->alone) return;
    device_download(r->device, piece_of(f, o->batch, o->slice), mine.grad, (size_t)f->count * sizeof *mine.grad);
    f->loss[at] = *(const double*)device_read(r->device, &loss, &mine.sums->loss, sizeof loss);
    f->known[at] = o->packed->known;
}

static bool train_slice(factored_rank* r, error* why)
{
    const double start = progress_seconds();
    const mini_batch* b = batch_take(r->loader, why);
    if (!b) return false;
    const loader_order o = batch_order(b);
    if (!net_fit(r->net, loader_shape(r->loader), why)) return false;
    net_compute(r->net, b, r->step);
    leave_piece(r, &o);
    batch_give(r->loader, b);
    queue_give(r->of->queue, number_of(r->of, b));
    r->used++;
    r->taking += progress_seconds() - start;
    return true;
}

bool factored_compute(factored_rank* r, uint32_t step, error* why)
{
    factored* f = r->of;
    const int64_t behind = (r->batch + 1) * f->slices;
    pthread_mutex_lock(&f->lock);
    r->alone = f->slices == 1 && f->trainers == 1;
    pthread_mutex_unlock(&f->lock);
    r->step = step;
    for (;;) {
        const double start = progress_seconds();
        if (r->ahead >= behind) break;
        if (r->ahead < 0) r->next = queue_take(f->queue, behind, true);
        r->waited += progress_seconds() - start;
        if (r->ahead < 0 && r->next < 0) break;
        r->ahead = -1;
        if (!train_slice(r, why)) return false;
    }
    return all_good(r, why);
}

/* The sum, in the order of slices, becomes this net's gradient. */
static void add_pieces(factored_rank* r)
{
    factored* f = r->of;
    device* d = r->device;
    const net_partial mine = net_partial_of(r->net);
    const int64_t at = r->batch % 2 * f->slices;
    float* from = piece_of(f, r->batch, 0);
    net_sums sums = {f->loss[at], f->known[at]};
    for (int32_t p = 1; p < f->slices; p++) sums.loss += f->loss[at + p];
    float* here = r->room;
    if (here) device_fetch(d, here, from, (size_t)f->slices * (size_t)f->count * sizeof *here);
    d->ops->rows->sum_pieces(d, mine.grad, here ? here : from, f->slices, f->count);
    net_take_sums(r->net, r->step, &sums);
    device_settle(d);
}

bool factored_reduce(factored_rank* r, error* why)
{
    factored* f = r->of;
    const double start = progress_seconds();
    pthread_mutex_lock(&f->lock);
    const int64_t round = f->round;
    f->arrived++;
    end_batch(f, r->comm);
    while (!f->failed && f->round == round) pthread_cond_wait(&f->changed, &f->lock);
    if (f->stopped) comm_heard_stop(r->comm);
    pthread_mutex_unlock(&f->lock);
    r->waited += progress_seconds() - start;
    if (!all_good(r, why)) return false;
    if (!r->alone) add_pieces(r);
    r->batch++;
    return !r->device->failed.text[0] || error_set(why, "%s", r->device->failed.text);
}

void factored_updated(factored_rank* r)
{
    factored* f = r->of;
    const net_state mine = net_state_of(r->net);
    pthread_mutex_lock(&f->lock);
    const bool publish = r->comm->rank == 0 && f->publish;
    pthread_mutex_unlock(&f->lock);
    if (!publish) return;
    device_download(r->device, f->state, mine.value, 4 * (size_t)f->count * sizeof *f->state);
    f->updates = *mine.updates;
    pthread_mutex_lock(&f->lock);
    f->publish = false;
    f->published = f->round;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
}
