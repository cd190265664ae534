#include "trainer/batch/loader.h"

#include <stdio.h>

#include "common/memory.h"
#include "common/progress.h"
#include "trainer/batch/ring.h"

enum { MEASURED = 4, SLACK = 2, GUESS = 1 << 16 }; /* batches; levels above them; ids and edges before that */

struct loader {
    ring ring;
    slot** now;      /* (slots) those ordered together */
    loader_order* claimed; /* (slots) orders of a source, those from `next` on, modulo slots */
    int64_t claims;        /* where the orders of `claimed` end */
    const batch_ops* ops; /* the device's */
    int64_t batches; /* of the pass */
    int64_t next;    /* batch to hand out next */
    int64_t ordered; /* batch to order next */
    batch_sizes usual; /* on a tight device */
    int level;         /* of bucket.h, at which slots are laid out */
    loader_cost cost;
};

/* ==== room ====================================================================================================== */

/* but_taken: a slot that is taken is closed when it is given back. */
static void close_slots(loader* l, bool but_taken)
{
    l->ops->ring_close(&l->ring);
    for (int32_t i = l->ring.slots - 1; l->ring.slot && i >= 0; i--) {
        slot* s = l->ring.slot[i];
        l->ring.slot[i] = NULL;
        if (s && but_taken && s->state == SLOT_TAKEN) s->replaced = true;
        else if (s) l->ops->slot_close(&l->ring, s);
    }
}

static bool open_slots(loader* l, error* why)
{
    l->ring.room = bucket_sizes(&l->usual, l->level);
    if (!l->ops->ring_open(&l->ring, why)) return false;
    for (int32_t i = 0; i < l->ring.slots; i++) {
        l->ring.slot[i] = l->ops->slot_open(&l->ring, why);
        if (!l->ring.slot[i]) return false;
    }
    return true;
}

/* What was ordered is ordered again. */
static bool lay_out_again(loader* l, int level, error* why)
{
    close_slots(l, true);
    l->level = level;
    l->ordered = l->next;
    return open_slots(l, why);
}

static bool open_loader(loader* l, const batch_sizes* room, error* why)
{
    for (int32_t h = 0; h <= GGNN_HOPS_MAX; h++) l->usual.ids[h] = GUESS;
    for (int32_t h = 0; h < GGNN_HOPS_MAX; h++) l->usual.edges[h] = GUESS;
    if (room) l->usual = *room;
    l->ops->ring_size(&l->ring);
    l->ring.slot = memory_new(2 * (size_t)l->ring.slots * sizeof *l->ring.slot, "the loader's slots", why);
    if (!l->ring.slot) return false;
    l->now = l->ring.slot + l->ring.slots;
    l->claimed = memory_new((size_t)l->ring.slots * sizeof *l->claimed, "the loader's orders", why);
    return l->claimed && open_slots(l, why);
}

loader* loader_create(device* d, const loader_plan* plan, const batch_sizes* room, error* why)
{
    loader* l = memory_new(sizeof *l, "the loader", why);
    if (!l) return NULL;
    l->ops = d->ops->batches;
    l->ring.device = d;
    l->ring.plan = *plan;
    if (plan->ranks < 1) l->ring.plan.ranks = 1;
    const int32_t least = plan->slices && plan->slices < l->ring.plan.ranks ? plan->slices : l->ring.plan.ranks;
    l->ring.seeds = (plan->batch + least - 1) / least;
    if (open_loader(l, room, why)) return l;
    loader_free(l);
    return NULL;
}

void loader_free(loader* l)
{
    if (!l) return;
    close_slots(l, false);
    memory_free(l->claimed);
    memory_free(l->ring.slot);
    memory_free(l);
}

const ggnn_batch* loader_shape(const loader* l) { return &l->ring.slot[0]->shape; }
loader_cost loader_cost_of(const loader* l) { return l->cost; }

bool loader_measure(loader* l, const loader_pass* pass, error* why)
{
    batch_sizes most = {{0}, {0}};
    const mini_batch* b;
    if (!l->ring.device->tight) return true;
    loader_begin(l, pass, 0);
    for (int64_t i = 0; i < MEASURED && i < l->batches; i++) {
        if (!(b = batch_take(l, why))) return false;
        bucket_include(&most, &((const slot*)b)->sizes);
        batch_give(l, b);
    }
    l->usual = most;
    l->cost = (loader_cost){0};
    return lay_out_again(l, SLACK, why);
}

/* ==== passes ==================================================================================================== */

int64_t loader_batches(const loader* l, const loader_pass* pass)
{
    return (pass->num_ids + l->ring.plan.batch - 1) / l->ring.plan.batch;
}

int64_t loader_batch(const loader* l) { return l->ring.plan.batch; }

void loader_begin(loader* l, const loader_pass* pass, int64_t first)
{
    for (int32_t i = 0; i < l->ring.slots; i++) {
        slot* s = l->ring.slot[i];
        if (s->state == SLOT_ORDERED) l->ops->wait(&l->ring, s);
        s->state = SLOT_FREE;
    }
    l->ring.pass = *pass;
    l->batches = pass->source ? INT64_MAX : loader_batches(l, pass);
    l->next = l->ordered = l->claims = first;
}

loader_slice loader_slice_of(const loader_pass* pass, int64_t batch, int64_t i, int32_t rank, int32_t ranks)
{
    loader_slice s = {.global_from = i * batch, .rng = pass->rng};
    int64_t left = pass->num_ids - s.global_from;
    s.global_seeds = left < batch ? left : batch;
    int64_t each = (s.global_seeds + ranks - 1) / ranks, before = rank * each;
    if (pass->parts > 1) {
        before = (rank + ranks - s.global_from % ranks) % ranks; /* to the batch's first seed of this rank */
        each = before < s.global_seeds ? (s.global_seeds - before + ranks - 1) / ranks : 0;
        s.step = ranks;
    } else s.step = 1;
    if (before > s.global_seeds) before = s.global_seeds;
    s.from = s.global_from + before;
    s.seeds = s.global_seeds - before < each ? s.global_seeds - before : each;
    if (pass->keyed) s.rng.step += (uint32_t)i;
    return s;
}

ggnn_status loader_sample_slice(ggnn_batch* b, ggnn_node* seeds, const ggnn_graph* g, const loader_pass* pass, int64_t batch,
                                int64_t i, int32_t rank, int32_t ranks)
{
    const int64_t batches = (pass->num_ids + batch - 1) / batch;
    loader_pass now = *pass;
    now.epoch += (uint32_t)(i / batches);
    now.rng.step += (uint32_t)i;
    now.keyed = false;
    const loader_slice s = loader_slice_of(&now, batch, i % batches, rank, ranks);
    for (int64_t k = 0; k < s.seeds; k++) seeds[k] = loader_slice_seed(&now, &s, k);
    return ggnn_sample(b, g, &s.rng, seeds, s.seeds);
}

bool loader_next_whole(void* turns, loader_order* order)
{
    loader_turns* t = turns;
    if (t->around) t->next %= t->batches;
    if (t->next >= t->batches) return false;
    *order = (loader_order){t->next, 0, 1, NULL, true};
    t->next += t->step;
    return true;
}

static int32_t free_slots(const loader* l)
{
    int32_t count = 0;
    for (int32_t i = 0; i < l->ring.slots; i++) count += l->ring.slot[i]->state == SLOT_FREE;
    return count;
}

/* The order after those that slots have. Those of a source are kept until they are handed out, as slots may be laid out
   anew. */
static bool next_order(loader* l, loader_order* o)
{
    const loader_source* from = l->ring.pass.source;
    loader_order* claimed = &l->claimed[l->ordered % l->ring.slots];
    if (l->ordered >= l->batches) return false;
    *o = (loader_order){l->ordered, l->ring.plan.rank, l->ring.plan.ranks, NULL, false};
    if (!from) return true;
    if (l->ordered == l->claims && !from->next(from->context, claimed)) return false;
    if (l->ordered == l->claims) l->claims++;
    *o = *claimed;
    return true;
}

/* The next batches of the pass, one for each free slot. */
static void order(loader* l)
{
    int32_t count = 0;
    for (int32_t i = 0; i < l->ring.slots; i++) {
        slot* s = l->ring.slot[i];
        if (s->state != SLOT_FREE) continue;
        if (!next_order(l, &s->order)) break;
        s->state = SLOT_ORDERED;
        s->number = l->ordered++;
        s->slice = loader_slice_of(&l->ring.pass, l->ring.plan.batch, s->order.batch, s->order.slice, s->order.slices);
        l->now[count++] = s;
    }
    if (count) l->ops->prepare(&l->ring, l->now, count);
}

static slot* find(loader* l, int64_t number)
{
    for (int32_t i = 0; i < l->ring.slots; i++)
        if (l->ring.slot[i]->state == SLOT_ORDERED && l->ring.slot[i]->number == number) return l->ring.slot[i];
    return NULL;
}

/* The next batch as it was sampled, however that went; NULL: an error that is no business of the sample's. */
static slot* wait_for_next(loader* l, error* why)
{
    const device* d = l->ring.device;
    for (;;) {
        if (free_slots(l) >= l->ring.group || l->ordered == l->next) order(l);
        slot* s = find(l, l->next);
        if (!s && l->ring.pass.source && free_slots(l)) return NULL;
        if (!s) error_set(why, "a mini-batch is asked for while all others are in use");
        else l->ops->wait(&l->ring, s);
        if (d->failed.text[0]) error_set(why, "%s", d->failed.text);
        if (why->text[0]) return NULL;
        if (s->status != GGNN_ERROR_CAPACITY || l->level >= BUCKET_MOST) return s;
        l->cost.grown++;
        if (!lay_out_again(l, l->level + BUCKET_DOUBLE, why)) return NULL;
    }
}

static void fail(loader* l, const slot* s, error* why)
{
    char node[40] = "";
    const int64_t bad = s->batch.blocks.fault.node;
    if (bad >= 0) snprintf(node, sizeof node, " of node %lld", (long long)bad);
    error_set(why, "sampling the neighbours%s: %s (ggnn-data verify checks the whole file)", node,
              ggnn_status_string(s->status));
    l->next = l->batches;
}

/* On the stream that the net works on. */
static bool exchange_batch(loader* l, slot* s, error* why)
{
    const loader_plan* plan = &l->ring.plan;
    const ggnn_count ids = s->shape.hop[plan->how.num_hops - 1].num_src;
    if (!plan->extract || !plan->exchange || s->order.bare) return true;
    const double start = progress_seconds();
    bool good = exchange_rows(plan->exchange, s->batch.rows, s->batch.ld_rows, s->shape.id, device_size(l->ring.device, ids), why);
    s->extracting = progress_seconds() - start;
    return good;
}

const mini_batch* batch_take(loader* l, error* why)
{
    double start = progress_seconds();
    if (l->next >= l->batches) return NULL;
    slot* s = wait_for_next(l, why);
    const bool good = s && (s->status != GGNN_OK || exchange_batch(l, s, why));
    l->cost.seconds += progress_seconds() - start;
    if (!good) return NULL;
    l->cost.edges += s->edges;
    l->cost.bytes += s->bytes;
    l->cost.sample += s->sampling;
    l->cost.copy += s->copying;
    l->cost.mark += s->marking;
    l->cost.extract += s->extracting;
    l->cost.marked += s->rows_marked;
    if (s->status != GGNN_OK) {
        fail(l, s, why);
        return NULL;
    }
    if (l->ring.device->tight) {
        batch_sizes bound = bucket_sizes(&l->usual, bucket_level(&l->usual, &s->sizes));
        s->batch.blocks = bucket_view(&s->shape, &bound);
    }
    s->state = SLOT_TAKEN;
    l->next++;
    return &s->batch;
}

loader_order batch_order(const mini_batch* b) { return ((const slot*)b)->order; }

void batch_count(loader* l, const mini_batch* b, int64_t* rows, int64_t* lists) { l->ops->count(&l->ring, (const slot*)b, rows, lists); }

/* Marks begin behind the blocks. */
static size_t marks_at(size_t blocks) { return (blocks + sizeof(int64_t) - 1) / sizeof(int64_t) * sizeof(int64_t); }

size_t batch_packed_bytes(loader* l, const mini_batch* b)
{
    const size_t blocks = l->ops->packed_bytes(&l->ring, (const slot*)b);
    if (!l->ring.plan.marks.parts) return blocks;
    return marks_at(blocks) + (size_t)l->ops->rows(&l->ring, (const slot*)b) * sizeof(int64_t);
}

void batch_pack(loader* l, const mini_batch* b, packed_batch* to)
{
    const double start = progress_seconds();
    to->bytes = l->ops->packed_bytes(&l->ring, (const slot*)b);
    to->marks = l->ring.plan.marks.parts ? (int64_t*)(void*)((char*)to->memory + marks_at(to->bytes)) : NULL;
    l->ops->pack(&l->ring, (slot*)b, to);
    const double packed = progress_seconds();
    if (to->marks) l->ops->mark(&l->ring, (slot*)b, to->marks);
    l->cost.copy += packed - start;
    l->cost.mark += progress_seconds() - packed;
}

void batch_give(loader* l, const mini_batch* b)
{
    slot* s = (slot*)b; /* of which the batch is the first member */
    s->state = SLOT_FREE;
    if (s->replaced) l->ops->slot_close(&l->ring, s);
}
