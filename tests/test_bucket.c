/* test_bucket.c - sizes of mini-batches on a device: trainer/bucket.h. */
#include "trainer/bucket.h"
#include "tests/test.h"

#include <stdbool.h>
#include <string.h>

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

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(23);
    RUN(the_level_is_the_least_that_holds_a_batch);
    RUN(four_levels_double);
    RUN(what_never_fits_has_the_last_level);
    RUN(the_larger_of_each_is_included);
    RUN(a_view_lowers_bounds_and_nothing_else);
    return test_finish();
}
