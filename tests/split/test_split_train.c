/* test_split_train.c - --parallel split over threads: P ranks compute one mini-batch, beside one device that computes it alone.
   What users see of it is in test_devices.c; its lists are in test_split.c. */
#include "tests/elsewhere.h"
#include "tests/split_crew.h"

static bool run(outcome* to, const config* c, const task* t, int32_t ranks, error* why)
{
    crew k = {.c = c, .t = t, .ranks = ranks, .to = to};
    return crew_run(&k, why);
}

static const char* const models[] = {
    "--model gcn --fanout 5,4 --dropout .4",
    "--model sage --fanout 4,3,2 --layers 3 --dropout .4 --norm layer --residual",
    "--model sage --aggregator gcn --fanout 5,4 --sampler weighted",
    "--model sage --aggregator pool --fanout 5,4 --dropout .4 --input-dropout .2",
    "--model gat --fanout 5,4 --dropout .4 --attention-dropout .3 --residual",
    "--model gat --fanout 4,3,2 --layers 3 --heads 2 --out-heads 3 --attention-dropout .3",
    "--aggregator importance --dropout .4",
    "--model mlp --fanout 1,1 --dropout .4",
};
enum { MODELS = sizeof models / sizeof *models };

static const int32_t parts[] = {1, 2, 4, 8};
static const owned_kind kinds[] = {BY_HASH, BY_UNEQUAL_RANGE, BY_MAP, BY_MODULO, BY_RANGE}; /* two of them with empty parts */

static void compare_model(fixture* f, int m, outcome* one, outcome* now)
{
    char words[400], options[400];
    error why = {""};
    snprintf(options, sizeof options, "%s --batch 58", models[m]);
    config c = config_of(words, options);
    CHECK(run(one, &c, &f->task, 1, &why));
    for (int i = 0; i < 8; i++) {
        static const char* const form[] = {"single", "cooperative"};
        const int32_t P = parts[i / 2];
        owned* by = crew_owners(f, kinds[(m + i) % 5], P);
        snprintf(options, sizeof options, "%s --batch 58 --parallel split --split-sampling %s", models[m], form[i % 2]);
        c = config_of(words, options);
        int before = test_errors;
        CHECK(run(now, &c, &f->task, P, &why));
        CHECK_STR(why.text, "");
        crew_compare(one, now, 0);
        CHECK(P == 1 || kinds[(m + i) % 5] != BY_HASH || now->most_targets < now->targets);
        if (test_errors > before) printf("  %s, %d parts\n", options, (int)P);
        owned_free(by);
    }
}

TEST(parts_of_a_batch_give_the_logits_of_one_device)
{
    fixture* f = fixture_new();
    outcome *one = malloc(sizeof *one), *now = malloc(sizeof *now);
    for (int m = 0; m < MODELS; m++) compare_model(f, m, one, now);
    free(one);
    free(now);
    fixture_free(f);
}

/* Two runs, and runs whose rows lie elsewhere. */
TEST(parts_give_the_same_bits_again_and_from_any_store)
{
    static const char* const also[] = {"", "--store parts", "--gather exchange", "--store shards --owners hash", "--pipeline overlap",
                                       "--pipeline overlap --store parts", "--store shards --owners partition --cache degree --cache-ratio .3"};
    fixture* f = fixture_new();
    outcome *first = malloc(sizeof *first), *again = malloc(sizeof *again);
    for (int m = 0; m < MODELS; m++) {
        owned* by = crew_owners(f, BY_MAP, 4);
        for (int i = 0; i < 7; i++) {
            char words[400], options[400];
            error why = {""};
            snprintf(options, sizeof options, "%s --batch 58 --parallel split --split-sampling %s %s", models[m],
                     m % 2 ? "single" : "cooperative", also[i]);
            config c = config_of(words, options);
            CHECK(run(i ? again : first, &c, &f->task, 4, &why));
            if (!i) continue;
            CHECK(first->peers == 4 && again->peers == (i == 2 ? 0 : 4)); /* who read rows of layers where they lie */
            again->peers = first->peers;
            if (!CHECK(!memcmp(first, again, sizeof *first))) printf("  %s\n", options);
        }
        owned_free(by);
    }
    free(first);
    free(again);
    fixture_free(f);
}

/* Ranks whose devices have memory of their own sample there, and have what they sampled and were sent in it. */
TEST(parts_give_the_same_bits_on_devices_of_their_own_memory)
{
    static const char* const also[] = {"", "--gather exchange", "--split-sampling single", "--store parts"};
    fixture* f = fixture_new();
    outcome *first = malloc(sizeof *first), *again = malloc(sizeof *again);
    for (int m = 0; m <= MODELS; m++) {
        char words[400], options[400];
        error why = {""};
        owned* by = crew_owners(f, kinds[m % 5], 3);
        snprintf(options, sizeof options, "%s --batch 58 --parallel split %s", m < MODELS ? models[m] : "--model sage --fanout 5,4 --split-partial", also[m % 4]);
        const config c = config_of(words, options);
        crew k = {.c = &c, .t = &f->task, .ranks = 3, .open = device_open_elsewhere, .to = again};
        CHECK(run(first, &c, &f->task, 3, &why) && crew_run(&k, &why));
        CHECK_STR(why.text, "");
        if (!CHECK(!memcmp(first, again, sizeof *first))) printf("  %s\n", options);
        owned_free(by);
    }
    free(first);
    free(again);
    fixture_free(f);
}

static int64_t sources[2]; /* of all ranks: of all hops; of the input layer's */

static bool count_sources(crew* k, worker* w, const mini_batch* b, error* why)
{
    (void)why;
    pthread_mutex_lock(&k->lock);
    for (int32_t h = 0; h < b->blocks.num_hops; h++) {
        const int64_t n = device_size(w->device, b->blocks.hop[h].num_src);
        sources[0] += n;
        if (h == b->blocks.num_hops - 1) sources[1] += n;
    }
    pthread_mutex_unlock(&k->lock);
    return true;
}

/* A layer's rows come to each reader once, and their gradients go back once; input rows have none. What a layer makes of its input
   comes instead: of GAT z and the scores, whose gradients the reader adds to those of z. Own rows are counted as well. */
TEST(a_row_moves_once_a_layer_each_way)
{
    static const struct {
        const char* model;
        int forward, backward; /* arrays that move */
        bool input;            /* gradients of the first layer's come back, too */
    } way[] = {{"--model gcn", 1, 1, false}, {"--model sage", 1, 1, false}, {"--model sage --aggregator pool", 1, 1, true},
               {"--model gat --attention-dropout .3", 2, 1, true}};
    fixture* f = fixture_new();
    outcome* now = malloc(sizeof *now);
    owned* by = crew_owners(f, BY_HASH, 4);
    for (int i = 0; i < 8; i++) {
        char words[400], options[400];
        error why = {""};
        snprintf(options, sizeof options, "%s --fanout 5,4 --batch 58 --parallel split %s", way[i / 2].model, i % 2 ? "--gather exchange" : "");
        const config c = config_of(words, options);
        crew k = {.c = &c, .t = &f->task, .ranks = 4, .to = now, .also = count_sources};
        sources[0] = sources[1] = 0;
        CHECK(crew_run(&k, &why));
        const int64_t back = way[i / 2].input ? sources[0] : sources[0] - sources[1];
        if (!CHECK_EQ(now->own + now->peer, way[i / 2].forward * sources[0] + way[i / 2].backward * back)) printf("  %s\n", options);
        CHECK(now->own > 0 && now->peer > now->own);
    }
    owned_free(by);
    free(now);
    fixture_free(f);
}

static struct { /* what all ranks' blocks call for */
    const owned* by;
    bool    sums; /* a row for each target and owner of its sources; else a row for each source */
    int64_t own, peer, bytes;
} called;

static bool count_calls(crew* k, worker* w, const mini_batch* b, error* why)
{
    const int32_t hops = b->blocks.num_hops, rank = w->comm->rank;
    (void)why;
    pthread_mutex_lock(&k->lock);
    for (int32_t h = 0; h < hops; h++) {
        const ggnn_block* hop = &b->blocks.hop[h];
        const int64_t dst = device_size(w->device, hop->num_dst), src = device_size(w->device, hop->num_src);
        const int64_t row = 4 * (h == hops - 1 ? WIDTH : k->c->hidden), ways = h == hops - 1 ? 1 : 2; /* input rows have no gradients */
        int64_t from[OWNED_PARTS] = {0};
        for (int64_t i = 0; !called.sums && i < src; i++) from[called.by->owner[hop->id[i]]]++;
        for (int64_t i = 0; called.sums && i < dst; i++) {
            bool asked[OWNED_PARTS] = {false};
            for (int64_t e = hop->indptr[i]; e < hop->indptr[i + 1]; e++) asked[called.by->owner[hop->id[hop->indices[e]]]] = true;
            for (int32_t q = 0; q < k->ranks; q++) from[q] += asked[q];
        }
        for (int32_t q = 0; q < k->ranks; q++) {
            *(q == rank ? &called.own : &called.peer) += ways * from[q];
            called.bytes += q == rank ? 0 : ways * row * from[q];
        }
    }
    pthread_mutex_unlock(&k->lock);
    return true;
}

/* Own rows, peers' and their bytes: of sources, or of sums, of which each owner of a target's neighbours sends one. */
TEST(rows_that_move_are_those_that_the_blocks_call_for)
{
    static const char* const how[] = {"", "--gather exchange", "--split-sampling single", "--split-sampling single --gather exchange"};
    static const char* const nets[] = {"--model sage --fanout 5,4", "--model gcn --fanout -1,2,3 --layers 3", "--model sage --fanout 5,4 --split-partial",
                                       "--model sage --fanout 0,-1,3 --layers 3 --split-partial"};
    fixture* f = fixture_new();
    outcome* now = malloc(sizeof *now);
    for (int i = 0; i < 16; i++) {
        char words[400], options[400];
        error why = {""};
        owned* by = crew_owners(f, kinds[i % 5], 2 + i % 4);
        snprintf(options, sizeof options, "%s --batch 58 --parallel split %s", nets[i / 4], how[i % 4]);
        const config c = config_of(words, options);
        crew k = {.c = &c, .t = &f->task, .ranks = 2 + i % 4, .to = now, .also = count_calls};
        memset(&called, 0, sizeof called);
        called.by = by;
        called.sums = i >= 8;
        CHECK(crew_run(&k, &why));
        CHECK_STR(why.text, "");
        CHECK_EQ(now->own, called.own);
        CHECK_EQ(now->peer, called.peer);
        if (!CHECK_EQ(now->bytes, called.bytes)) printf("  %s\n", options);
        CHECK(called.own > 0);
        owned_free(by);
    }
    free(now);
    fixture_free(f);
}

static bool look_at_the_clock(crew* k, worker* w, const mini_batch* b, error* why)
{
    const net_profile* p = net_profile_of(w->net);
    (void)b, (void)why;
    pthread_mutex_lock(&k->lock);
    sources[0] += p->seconds[0][NET_SHUFFLE] > 0;
    sources[1] += p->seconds[1][NET_SHUFFLE] > 0;
    pthread_mutex_unlock(&k->lock);
    return true;
}

/* Rows that move take time of forward, gradients of backward: of all steps but the first, when none has moved. */
TEST(the_time_of_rows_that_move_is_that_of_their_half_of_the_step)
{
    static const char* const nets[] = {"--model gcn", "--model sage --split-partial", "--model gat"};
    fixture* f = fixture_new();
    outcome* now = malloc(sizeof *now);
    owned* by = crew_owners(f, BY_MODULO, 2);
    for (int i = 0; i < 3; i++) {
        char words[400], options[400];
        error why = {""};
        snprintf(options, sizeof options, "%s --fanout 5,4 --batch 58 --parallel split", nets[i]);
        const config c = config_of(words, options);
        crew k = {.c = &c, .t = &f->task, .ranks = 2, .to = now, .also = look_at_the_clock};
        sources[0] = sources[1] = 0;
        CHECK(crew_run(&k, &why));
        CHECK_EQ(sources[0], 2 * (STEPS - 1));
        CHECK_EQ(sources[1], 2 * (STEPS - 1));
    }
    owned_free(by);
    free(now);
    fixture_free(f);
}

/* Owners send sums over their own neighbours: the same but for rounding. A mean of four terms or a sum of NODES differs by
   some units in the last place of its terms; layers pass that on. */
TEST(sums_in_parts_differ_by_rounding_alone)
{
    static const char* const sage[] = {"--fanout 5,4 --dropout .4", "--fanout 4,3,2 --layers 3 --dropout .4 --norm layer --residual",
                                       "--fanout -1,-1 --input-dropout .3", "--fanout 6 --layers 1"};
    fixture* f = fixture_new();
    outcome *one = malloc(sizeof *one), *now = malloc(sizeof *now), *again = malloc(sizeof *again);
    for (int m = 0; m < 4; m++) {
        char words[400], options[400];
        error why = {""};
        snprintf(options, sizeof options, "--model sage --batch 58 %s", sage[m]);
        config c = config_of(words, options);
        CHECK(run(one, &c, &f->task, 1, &why));
        for (int i = 0; i < 8; i++) {
            owned* by = crew_owners(f, kinds[(m + i) % 5], parts[i / 2]);
            float differs = 0, most = 0;
            snprintf(options, sizeof options, "--model sage --batch 58 %s --parallel split --split-partial --split-sampling %s", sage[m],
                     i % 2 ? "single" : "cooperative");
            c = config_of(words, options);
            CHECK(run(now, &c, &f->task, parts[i / 2], &why) && run(again, &c, &f->task, parts[i / 2], &why));
            CHECK_STR(why.text, "");
            CHECK(!memcmp(now->grad, again->grad, sizeof now->grad));
            CHECK_EQ(now->rows, one->rows);
            for (int s = 0; s < STEPS; s++) {
                for (int v = 0; v < NODES; v++)
                    for (int j = 0; j < CLASSES; j++) {
                        differs = fmaxf(differs, fabsf(now->logits[s][v][j] - one->logits[s][v][j]));
                        most = fmaxf(most, fabsf(one->logits[s][v][j]));
                    }
                CHECK_NEAR(now->loss[s], one->loss[s], 1e-6 * fabs(one->loss[s]));
                CHECK(crew_difference(now, one, s) <= crew_tolerance(one, s));
            }
            if (!CHECK(differs <= most * 32 / 16777216.0f)) printf("  %s, %d parts: %g of %g\n", options, (int)parts[i / 2], (double)differs, (double)most);
            owned_free(by);
        }
    }
    free(one);
    free(now);
    free(again);
    fixture_free(f);
}

static device* open_tight(int32_t rank, error* why)
{
    device* d = device_open_cpu(1, why);
    (void)rank;
    if (d) d->tight = true;
    return d;
}

/* The most that rank r's hop h has needed so far, and its bounds after the batch before: targets, sources, edges. */
static struct { int64_t need[3], had[3]; } shape[RANKS_MAX][GGNN_HOPS_MAX];

static bool look_at_shape(crew* k, worker* w, const mini_batch* b, error* why)
{
    (void)k, (void)why;
    const ggnn_batch* most = split_ring_shape(w->split);
    for (int32_t h = 0; h < b->blocks.num_hops; h++) {
        const ggnn_block *block = &b->blocks.hop[h], *sums = &b->shuffle->hop[h].sums.block;
        const int64_t need[3][3] = {
            {*block->num_dst.n, sums->num_dst.n ? *sums->num_dst.n : 0, 0},
            {*block->num_src.n, b->shuffle->hop[h].rows, sums->num_dst.n ? *sums->num_dst.n : 0},
            {*block->num_edges.n, sums->num_dst.n ? *sums->num_edges.n : 0, 0}};
        const int64_t bound[3] = {most->hop[h].num_dst.max, most->hop[h].num_src.max, most->hop[h].num_edges.max};
        for (int i = 0; i < 3; i++) {
            int64_t *so_far = &shape[w->comm->rank][h].need[i], *had = &shape[w->comm->rank][h].had[i], now = 1;
            for (int j = 0; j < 3; j++) now = need[i][j] > now ? need[i][j] : now;
            if (now > *so_far) *so_far = now;
            CHECK(bound[i] >= now && bound[i] <= *so_far + *so_far / 4);
            if (now <= *had) CHECK_EQ(bound[i], *had);
            *had = bound[i];
        }
    }
    return true;
}

/* Of targets, sources and edges, of blocks and of partial sums; a quarter more than a batch needs, until one needs more. */
TEST(bounds_on_a_tight_device_follow_what_batches_need)
{
    static const char* const how[] = {"--fanout 4,3,2 --layers 3", "--fanout 4,3 --model gat", "--fanout 4,3 --split-partial", "--fanout -1,-1 --split-partial"};
    fixture* f = fixture_new();
    outcome *first = malloc(sizeof *first), *again = malloc(sizeof *again);
    for (int i = 0; i < 8; i++) {
        char words[400], options[400];
        error why = {""};
        owned* by = crew_owners(f, i < 4 ? BY_UNEQUAL_RANGE : BY_HASH, 3);
        snprintf(options, sizeof options, "--batch 58 --parallel split %s", how[i % 4]);
        const config c = config_of(words, options);
        crew k = {.c = &c, .t = &f->task, .ranks = 3, .open = open_tight, .also = look_at_shape, .to = again};
        memset(shape, 0, sizeof shape);
        CHECK(run(first, &c, &f->task, 3, &why) && crew_run(&k, &why));
        CHECK_STR(why.text, "");
        if (!CHECK(!memcmp(first, again, sizeof *first))) printf("  %s\n", options);
        owned_free(by);
    }
    free(first);
    free(again);
    fixture_free(f);
}

/* ==== faults ======================================================================================================== */

/* A list that is damaged belongs to one part, which names its node; all ranks end. */
TEST(a_damaged_list_ends_all_ranks)
{
    fixture* f = fixture_new();
    for (int64_t e = 0; e < f->graph->num_edges; e++)
        if (e % 300 == 0) f->graph->indices[e] = NODES + 5;
    outcome* now = malloc(sizeof *now);
    owned* by = crew_owners(f, BY_HASH, 3);
    for (int i = 0; i < 4; i++) {
        char words[400], options[400];
        error why = {""};
        snprintf(options, sizeof options, "--fanout -1,-1 --batch 200 --parallel split --split-sampling %s --pipeline %s",
                 i % 2 ? "single" : "cooperative", i < 2 ? "serial" : "overlap");
        config c = config_of(words, options);
        CHECK(!run(now, &c, &f->task, 3, &why));
        CHECK(strstr(why.text, "node ") && strstr(why.text, "id"));
    }
    owned_free(by);
    free(now);
    fixture_free(f);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(57);
    RUN(parts_of_a_batch_give_the_logits_of_one_device);
    RUN(parts_give_the_same_bits_again_and_from_any_store);
    RUN(parts_give_the_same_bits_on_devices_of_their_own_memory);
    RUN(a_row_moves_once_a_layer_each_way);
    RUN(rows_that_move_are_those_that_the_blocks_call_for);
    RUN(the_time_of_rows_that_move_is_that_of_their_half_of_the_step);
    RUN(sums_in_parts_differ_by_rounding_alone);
    RUN(bounds_on_a_tight_device_follow_what_batches_need);
    RUN(a_damaged_list_ends_all_ranks);
    return test_finish();
}
