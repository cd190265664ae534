/* test_bucket.c - sizes of mini-batches on a device: trainer/batch/bucket.h; and the room that a loader gives them, on one that is tight. */
#include "trainer/batch/bucket.h"
#include "tests/test.h"

#include <stdbool.h>
#include <string.h>

#include "trainer/batch/ring.h"

static batch_sizes random_sizes(int64_t below)
{
    batch_sizes s;
    for (int h = 0; h <= GGNN_HOPS_MAX; h++) s.ids[h] = test_below(below);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) s.edges[h] = test_below(below);
    return s;
}

static bool holds(const batch_sizes* room, const batch_sizes* is)
{
    bool good = true;
    for (int h = 0; h <= GGNN_HOPS_MAX; h++) good = good && is->ids[h] <= room->ids[h];
    for (int h = 0; h < GGNN_HOPS_MAX; h++) good = good && is->edges[h] <= room->edges[h];
    return good;
}

TEST(the_level_is_the_least_that_holds_a_batch)
{
    int seen = 0;
    for (int i = 0; i < 2000; i++) {
        batch_sizes usual = random_sizes(1 + test_below(100000)), is = random_sizes(1 + test_below(100000));
        int level = bucket_level(&usual, &is);
        batch_sizes room = bucket_sizes(&usual, level), less = bucket_sizes(&usual, level - 1);
        CHECK(level >= BUCKET_LEAST && level < BUCKET_MOST);
        CHECK(holds(&room, &is));
        if (level > BUCKET_LEAST) CHECK(!holds(&less, &is));
        seen += level > BUCKET_LEAST;
        CHECK(bucket_level(&usual, &usual) <= 0);
    }
    CHECK(seen > 1000);
}

TEST(four_levels_double)
{
    batch_sizes usual = random_sizes(1 << 20);
    usual.ids[3] = 0;
    batch_sizes twice = bucket_sizes(&usual, BUCKET_DOUBLE), half = bucket_sizes(&usual, -BUCKET_DOUBLE);
    batch_sizes same = bucket_sizes(&usual, 0);
    CHECK_EQ(same.ids[3], 1); /* so that doubling gets somewhere */
    CHECK_EQ(twice.ids[3], 2);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        CHECK_EQ(same.edges[h], usual.edges[h] > 0 ? usual.edges[h] : 1);
        CHECK_EQ(twice.edges[h], 2 * same.edges[h]);
        CHECK_EQ(half.edges[h], (same.edges[h] + 1) / 2);
    }
}

TEST(what_never_fits_has_the_last_level)
{
    batch_sizes usual = random_sizes(100), huge = usual;
    huge.edges[1] = INT64_MAX;
    CHECK_EQ(bucket_level(&usual, &huge), BUCKET_MOST);
    usual.ids[0] = INT64_MAX / 4; /* sizes end at 4 x 10^18 */
    for (int level = BUCKET_LEAST; level <= BUCKET_MOST; level++) {
        const batch_sizes size = bucket_sizes(&usual, level);
        for (int h = 0; h <= GGNN_HOPS_MAX; h++) CHECK(size.ids[h] > 0 && size.ids[h] <= (int64_t)4e18);
        for (int h = 0; h < GGNN_HOPS_MAX; h++) CHECK(size.edges[h] > 0 && size.edges[h] <= (int64_t)4e18);
        CHECK_EQ(size.ids[0] == (int64_t)4e18, level >= 4);
    }
}

TEST(the_larger_of_each_is_included)
{
    batch_sizes a = random_sizes(100), b = random_sizes(100), all = a;
    bucket_include(&all, &b);
    for (int h = 0; h <= GGNN_HOPS_MAX; h++) CHECK_EQ(all.ids[h], a.ids[h] > b.ids[h] ? a.ids[h] : b.ids[h]);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) CHECK_EQ(all.edges[h], a.edges[h] > b.edges[h] ? a.edges[h] : b.edges[h]);
}

TEST(a_view_lowers_bounds_and_nothing_else)
{
    ggnn_batch b, back;
    int64_t size = 5;
    batch_sizes bound = random_sizes(50);
    memset(&b, 0, sizeof b);
    b.num_hops = 3;
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        b.hop[h].num_dst = (ggnn_count){&size, 25};
        b.hop[h].num_src = (ggnn_count){&size, 30};
        b.hop[h].num_edges = (ggnn_count){&size, 20};
        b.hop[h].indptr = &size + 1;
    }
    ggnn_batch view = back = bucket_view(&b, &bound);
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        CHECK_EQ(view.hop[h].num_dst.max, bound.ids[h] < 25 ? bound.ids[h] : 25);
        CHECK_EQ(view.hop[h].num_src.max, bound.ids[h + 1] < 30 ? bound.ids[h + 1] : 30);
        CHECK_EQ(view.hop[h].num_edges.max, bound.edges[h] < 20 ? bound.edges[h] : 20);
        back.hop[h].num_dst.max = 25;
        back.hop[h].num_src.max = 30;
        back.hop[h].num_edges.max = 20;
    }
    CHECK(memcmp(&back, &b, sizeof b) == 0);
}

/* ==== a loader of a tight device ================================================================================ */

/* A backend of two slots that samples nothing: it says what each batch needs, and whether there is room. */
enum { BATCHES = 12 };
static batch_sizes needs[BATCHES];
static int slots_open;

static void fake_ring_size(ring* r) { r->slots = 2, r->group = 1; }
static bool fake_ring_open(ring* r, error* why) { return (void)r, (void)why, true; }
static void fake_ring_close(ring* r) { (void)r; }
static void fake_prepare(ring* r, slot* const* slots, int32_t count) { (void)r, (void)slots, (void)count; }

static slot* fake_slot_open(ring* r, error* why)
{
    slot* s = calloc(1, sizeof *s);
    (void)why;
    slots_open++;
    for (int h = 0; h < GGNN_HOPS_MAX; h++) {
        s->shape.hop[h].num_dst.max = r->room.ids[h];
        s->shape.hop[h].num_src.max = r->room.ids[h + 1];
        s->shape.hop[h].num_edges.max = r->room.edges[h];
    }
    s->batch.blocks.fault.node = -1;
    return s;
}

static void fake_slot_close(ring* r, slot* s)
{
    (void)r;
    slots_open--;
    free(s);
}

static void fake_wait(ring* r, slot* s)
{
    s->sizes = needs[s->order.batch];
    s->status = holds(&r->room, &s->sizes) ? GGNN_OK : GGNN_ERROR_CAPACITY;
    s->edges = 1000, s->bytes = 1;
    s->sampling = s->copying = s->marking = s->extracting = 1;
}

static bool has_shape(const ggnn_batch* b, const batch_sizes* room)
{
    bool good = true;
    for (int h = 0; h < GGNN_HOPS_MAX; h++)
        good = good && b->hop[h].num_dst.max == room->ids[h] && b->hop[h].num_src.max == room->ids[h + 1] && b->hop[h].num_edges.max == room->edges[h];
    return good;
}

/* The most that the first four batches need times 2^(level/4), rounded up. */
static batch_sizes room_of_four(int level)
{
    batch_sizes room = {{0}, {0}};
    for (int i = 0; i < 4; i++)
        for (int h = 0; h <= GGNN_HOPS_MAX; h++) {
            if (needs[i].ids[h] > room.ids[h]) room.ids[h] = needs[i].ids[h];
            if (h < GGNN_HOPS_MAX && needs[i].edges[h] > room.edges[h]) room.edges[h] = needs[i].edges[h];
        }
    for (int h = 0; h <= GGNN_HOPS_MAX; h++) room.ids[h] = (int64_t)ceil((double)room.ids[h] * exp2(level / 4.));
    for (int h = 0; h < GGNN_HOPS_MAX; h++) room.edges[h] = (int64_t)ceil((double)room.edges[h] * exp2(level / 4.));
    return room;
}

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }

/* At first 2^16 of each. Then room for the first four batches, two levels above the largest; twice that as often as one needs more,
   and at last an error. What was measured is in no cost. */
TEST(slots_have_room_for_the_first_batches_and_grow)
{
    static const batch_ops batches = {fake_ring_size, fake_ring_open, fake_ring_close, fake_slot_open, fake_slot_close, fake_prepare, fake_wait, NULL, NULL, NULL, NULL, NULL};
    static const struct ops fake = {.batches = &batches};
    device d = {.ops = &fake, .tight = true};
    const loader_plan plan = {.batch = 10, .how = {.num_hops = 2}, .ranks = 1};
    const loader_pass pass = {.num_ids = 10 * BATCHES - 3};
    const loader_cost none = {0};
    const mini_batch* b;
    error why = {""};
    loader_cost cost;
    for (int first = 0; first < 5; first++) { /* the largest of the first four; or none is, and the fifth needs more */
        loader* l = loader_create(&d, &plan, NULL, &why);
        if (!CHECK(l != NULL)) return;
        for (int i = 0; i < BATCHES; i++) {
            needs[i] = random_sizes(1000);
            for (int h = 0; h <= GGNN_HOPS_MAX; h++) needs[i].ids[h] += i == first ? 1000 : 1;
            for (int h = 0; h < GGNN_HOPS_MAX; h++) needs[i].edges[h] += i == first ? 1000 : 1;
        }
        batch_sizes room = {{0}, {0}};
        for (int h = 0; h <= GGNN_HOPS_MAX; h++) room.ids[h] = 1 << 16;
        for (int h = 0; h < GGNN_HOPS_MAX; h++) room.edges[h] = 1 << 16;
        CHECK(has_shape(loader_shape(l), &room));
        CHECK(loader_measure(l, &pass, &why));
        cost = loader_cost_of(l);
        CHECK(memcmp(&cost, &none, sizeof cost) == 0);
        room = room_of_four(2);
        CHECK(has_shape(loader_shape(l), &room));
        for (int i = 4; i < BATCHES; i++) needs[i] = needs[i % 4];
        if (first == 4) needs[4] = room_of_four(1);
        needs[7] = room_of_four(2); /* just enough */
        needs[8] = room_of_four(2);
        needs[8].edges[3]++; /* too many */
        loader_begin(l, &pass, 0);
        int taken = 0, level = 2;
        for (; (b = batch_take(l, &why)); taken++) {
            if (taken == 8) level += 4;
            room = room_of_four(level);
            CHECK(has_shape(loader_shape(l), &room));
            const batch_sizes usual = room_of_four(0), bound = bucket_sizes(&usual, bucket_level(&usual, &needs[taken]));
            for (int h = 0; h < GGNN_HOPS_MAX; h++) {
                CHECK_EQ(b->blocks.hop[h].num_dst.max, lesser(bound.ids[h], room.ids[h]));
                CHECK_EQ(b->blocks.hop[h].num_edges.max, lesser(bound.edges[h], room.edges[h]));
            }
            batch_give(l, b);
            cost = loader_cost_of(l);
            CHECK_EQ(cost.grown, taken >= 8);
            CHECK(cost.edges == 1000 * (taken + 1) && cost.bytes == taken + 1);
            CHECK_NEAR(cost.sample + cost.copy + cost.mark + cost.extract, 4 * (taken + 1), 1e-9);
        }
        CHECK_EQ(taken, BATCHES);
        CHECK_STR(why.text, "");
        needs[2].ids[1] = INT64_MAX; /* no room is enough */
        loader_begin(l, &pass, 0);
        for (taken = 0; (b = batch_take(l, &why)); taken++) batch_give(l, b);
        CHECK_EQ(taken, 2);
        CHECK_EQ(loader_cost_of(l).grown, 1 + 31); /* levels 6 to 130 */
        CHECK(strncmp(why.text, "sampling the neighbours: ", 25) == 0 && strstr(why.text, ggnn_status_string(GGNN_ERROR_CAPACITY)));
        why.text[0] = 0;
        loader_free(l);
        CHECK_EQ(slots_open, 0);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(23);
    RUN(the_level_is_the_least_that_holds_a_batch);
    RUN(four_levels_double);
    RUN(what_never_fits_has_the_last_level);
    RUN(the_larger_of_each_is_included);
    RUN(a_view_lowers_bounds_and_nothing_else);
    RUN(slots_have_room_for_the_first_batches_and_grow);
    return test_finish();
}
