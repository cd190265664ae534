/* Training nodes divided among ranks (--partition pagraph): whose they are, what batches of them reach, and what each
   rank's cache then holds; ggnn-train from end to end. */
#include "common/memory.h"
#include "datasets/plan_file.h"
#include "tests/random_graph.h"
#include "tests/train_tool.h"
#include "trainer/batch/loader.h"
#include "trainer/ranks/comm.h"
#include "trainer/store/division.h"
#include "trainer/task.h"

/* ==== parts ===================================================================================================== */

typedef struct {
    random_graph* g;
    ggnn_node* ids;
    int64_t num_ids;
    division d;
} scene;

/* Every third node of 90 or so trains. */
static scene scene_new(int32_t parts, int32_t hops, int64_t limit)
{
    scene s = {.g = random_graph_new(80 + test_below(40), 2, 20)};
    error why = {""};
    s.ids = malloc((size_t)s.g->num_nodes * sizeof *s.ids);
    for (int64_t v = test_below(3); v < s.g->num_nodes; v += 3) s.ids[s.num_ids++] = (ggnn_node)v;
    const division_how how = {s.ids, s.num_ids, parts, hops, limit, NULL, NULL};
    CHECK(division_open(&s.d, &s.g->graph, &how, &why));
    CHECK_STR(why.text, "");
    return s;
}

static void scene_free(scene* s)
{
    division_close(&s->d);
    random_graph_free(s->g);
    free(s->ids);
}

TEST(each_training_node_has_one_owner_and_larger_parts_come_first)
{
    for (int i = 0; i < 60; i++) {
        const int32_t parts = 2 + (int32_t)test_below(9);
        scene s = scene_new(parts, (int32_t)test_below(3), 1000);
        int64_t at = 0;
        for (int32_t p = 0; p < parts; p++) {
            CHECK_EQ(s.d.trained[p], s.num_ids / parts + (p < s.num_ids % parts));
            for (int64_t k = 0; k < s.d.trained[p]; k++, at++) {
                CHECK_EQ(s.d.owner[s.d.ids[at]], p);
                CHECK(k == 0 || s.d.ids[at] > s.d.ids[at - 1]);
            }
        }
        CHECK_EQ(at, s.num_ids);
        scene_free(&s);
    }
}

/* Reached within so many steps backward along edges. */
static int64_t reach(const scene* s, int32_t part, uint8_t* inside)
{
    const int64_t N = s->g->num_nodes;
    int64_t count = 0;
    for (int64_t v = 0; v < N; v++) inside[v] = s->d.owner[v] == part;
    for (int32_t hop = 1; hop <= s->d.hops; hop++)
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = s->g->indptr[v]; inside[v] && inside[v] <= hop && e < s->g->indptr[v + 1]; e++)
                if (!inside[s->g->indices[e]]) inside[s->g->indices[e]] = (uint8_t)(hop + 1);
    for (int64_t v = 0; v < N; v++) count += inside[v] != 0;
    return count;
}

TEST(a_closure_is_what_batches_of_a_part_can_reach)
{
    for (int i = 0; i < 40; i++) {
        scene s = scene_new(2 + (int32_t)test_below(4), (int32_t)test_below(4), i % 2 ? 1000 : 4);
        ggnn_node* list = malloc((size_t)s.g->num_nodes * sizeof *list);
        uint8_t inside[200], anywhere[200] = {0};
        error why = {""};
        int64_t inner, sum = 0, touched = 0;
        for (int32_t p = 0; p < s.d.parts; p++) {
            const int64_t count = reach(&s, p, inside);
            CHECK_EQ(s.d.held[p], count);
            CHECK_EQ(division_closure(&s.d, &s.g->graph, p, list, &inner, &why), count);
            for (int64_t k = 0; k < count; k++) CHECK(inside[list[k]] && (k < inner) == (inside[list[k]] <= s.d.hops));
            sum += count;
            for (int64_t v = 0; v < s.g->num_nodes; v++) anywhere[v] |= inside[v];
        }
        for (int64_t v = 0; v < s.g->num_nodes; v++) touched += anywhere[v] != 0;
        CHECK_NEAR(division_replication(&s.d), (double)sum / (double)touched, 1e-12);
        CHECK_NEAR(division_balance(&s.d), (double)s.d.trained[0] * s.d.parts / (double)s.num_ids, 1e-12);
        if (i % 2 || s.d.hops == 0) CHECK_EQ(s.d.cut, 0);
        else if (s.d.hops > 1) CHECK(s.d.cut > 0);
        free(list);
        scene_free(&s);
    }
}

/* A list that the division itself did not read, as one from a file reads none. */
TEST(a_closure_names_the_node_whose_list_is_broken)
{
    scene s = scene_new(2, 2, 1000);
    ggnn_node* list = malloc((size_t)s.g->num_nodes * sizeof *list);
    error why = {""};
    int64_t inner = 5;
    const ggnn_node v = s.d.ids[0];
    char begin[100];
    for (int64_t e = s.g->indptr[v]; e < s.g->indptr[v + 1]; e++) s.g->indices[e] = (ggnn_node)s.g->num_nodes;
    CHECK(s.g->indptr[v] < s.g->indptr[v + 1]);
    CHECK_EQ(division_closure(&s.d, &s.g->graph, 0, list, &inner, &why), -1);
    snprintf(begin, sizeof begin, "--partition pagraph: node %lld: ", (long long)v);
    CHECK(inner == 0 && !strncmp(why.text, begin, strlen(begin)) && strstr(why.text, "(ggnn-data verify checks the whole file)"));
    free(list);
    scene_free(&s);
}

/* ==== batches =================================================================================================== */

static loader* open_loader(device* d, const scene* s, int32_t rank, int64_t batch, const int32_t* label, error* why)
{
    const loader_plan plan = {.graph = s->g->graph, .features = {.width = 1}, .labels = {label, NULL}, .batch = batch,
                              .rank = rank, .ranks = s->d.parts, .how = {.num_hops = 1, .fanout = {2}}};
    return loader_create(d, &plan, NULL, why);
}

/* All batches of an epoch: every seed once, by its owner, none in more steps than the others; the divisor of the loss is
   that of all slices of a step together. */
static void check_epoch(const scene* s, device* d, int64_t batch, uint32_t epoch)
{
    error why = {""};
    int32_t label[200];
    int64_t steps = -1, known[200] = {0}, counted[200] = {0};
    int seen[200] = {0};
    loader_pass pass = {.ids = s->d.ids, .num_ids = s->num_ids, .parts = s->d.parts, .shuffled = true, .epoch = epoch,
                        .keyed = true, .rng = {7, 0, GGNN_PURPOSE_SAMPLE}};
    for (int64_t v = 0; v < s->g->num_nodes; v++) label[v] = v % 5 ? 1 : -1;
    for (int32_t r = 0; r < s->d.parts; r++) {
        loader* l = open_loader(d, s, r, batch, label, &why);
        int64_t step = 0;
        loader_begin(l, &pass, 0);
        for (const mini_batch* b; (b = batch_take(l, &why)); step++, batch_give(l, b)) {
            const int64_t seeds = *b->blocks.num_seeds.n;
            CHECK(seeds <= (batch + s->d.parts - 1) / s->d.parts);
            for (int64_t k = 0; k < seeds; k++) {
                const ggnn_node v = b->blocks.id[b->blocks.seed_local[k]];
                CHECK_EQ(s->d.owner[v], r);
                seen[v]++;
                counted[step] += label[v] >= 0;
            }
            if (r == 0) known[step] = *b->known.n;
            CHECK_EQ(*b->known.n, known[step]);
        }
        if (r == 0) steps = step;
        CHECK_EQ(step, steps);
        loader_free(l);
    }
    CHECK_STR(why.text, "");
    CHECK_EQ(steps, (s->num_ids + batch - 1) / batch);
    for (int64_t i = 0; i < steps; i++) CHECK_EQ(known[i], counted[i]);
    for (int64_t v = 0; v < s->g->num_nodes; v++) CHECK_EQ(seen[v], s->d.owner[v] >= 0);
}

TEST(each_rank_draws_its_own_training_nodes_in_as_many_steps_as_the_others)
{
    static const int64_t batches[] = {1, 3, 7, 10, 16, 100};
    error why = {""};
    for (int i = 0; i < 24; i++) {
        device* d = device_open_cpu(1 + i % 3, &why);
        scene s = scene_new(2 + (int32_t)test_below(6), 1, 1000);
        const int64_t batch = batches[i % 6] < s.num_ids ? batches[i % 6] : s.num_ids;
        check_epoch(&s, d, batch, (uint32_t)i);
        scene_free(&s);
        device_close(d);
    }
}

TEST(an_epoch_draws_another_order_than_the_one_before)
{
    scene s = scene_new(3, 1, 1000);
    int64_t moved = 0;
    loader_pass pass = {.ids = s.d.ids, .num_ids = s.num_ids, .parts = 3, .shuffled = true, .rng = {7, 0, GGNN_PURPOSE_SAMPLE}};
    loader_pass next = pass;
    next.epoch = 1;
    for (int64_t i = 0; i < s.num_ids; i++) moved += loader_seed(&pass, i) != loader_seed(&next, i);
    CHECK(moved > s.num_ids / 2);
    scene_free(&s);
}

/* ==== runs ====================================================================================================== */

static const char local[] = "--data planted.ggnn --partition pagraph --fanout 4,3 --hidden 16 --batch 50 --epochs 2";

TEST(losses_depend_on_nothing_but_the_division)
{
    static const char* const how[] = {"--threads 1", "--threads 4 --pipeline overlap", "--cache degree --cache-ratio .2",
                                      "--store parts --threads 2", "--gather exchange", "--cache dual --cache-ratio .1 --store-features .5"};
    CHECK_EQ(trainf("%s --devices 4 --log a", local), 0);
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        CHECK_EQ(trainf("%s --devices 4 %s --log b", local, how[i]), 0);
        read_log(&first, "a", "epoch");
        read_log(&second, "b", "epoch");
        if (!CHECK(same_records(&first, &second))) printf("  %s\n", how[i]);
    }
    CHECK_EQ(trainf("%s --devices 3 --log b", local), 0);
    CHECK(last_number("a", "epoch", "loss") != last_number("b", "epoch", "loss"));
}

TEST(global_batches_are_those_without_a_partition)
{
    CHECK_EQ(trainf("%s --devices 4 --shuffle global --cache degree --cache-ratio .2 --log a", local), 0);
    CHECK_EQ(train("--data planted.ggnn --fanout 4,3 --hidden 16 --batch 50 --epochs 2 --devices 4 --log b"), 0);
    read_log(&first, "a", "epoch");
    read_log(&second, "b", "epoch");
    CHECK(same_records(&first, &second));
}

/* Last steps have fewer seeds than ranks: some have none. */
TEST(a_slice_without_seeds_holds_up_no_one)
{
    CHECK_EQ(train("--data planted.ggnn --partition pagraph --devices 3 --fanout 2,2 --hidden 4 --batch 2 --epochs 1 --log a"), 0);
    CHECK_EQ(trainf("--data planted.ggnn --partition pagraph --devices 7 --fanout 2,2 --hidden 4 --batch 59 --epochs 2 --log a"), 0);
    CHECK(last_number("a", "epoch", "loss") > 0);
}

/* ==== caches ==================================================================================================== */

typedef struct {
    int64_t hot; /* lists of the part's batches that have the node */
    ggnn_node id;
} hotness;
static int hotter(const void* a, const void* b)
{
    const hotness *x = a, *y = b;
    if (x->hot != y->hot) return x->hot > y->hot ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* Which nodes a cache of so many has: of those in reach of rank r, the ones in most lists of nodes within one hop. */
static int64_t cached_by_hand(const task* t, const division* d, int32_t r, int64_t size, uint8_t* cached)
{
    const ggnn_csc* g = &t->graph.whole;
    const int64_t N = t->graph.num_nodes;
    hotness* all = calloc((size_t)N, sizeof *all);
    uint8_t* hop = calloc((size_t)N, 1); /* 1: a training node, 2: a neighbour, 3: one of these */
    for (int64_t v = 0; v < N; v++) hop[v] = d->owner[v] == r;
    for (int h = 1; h < 3; h++)
        for (int64_t v = 0; v < N; v++)
            for (int64_t e = g->indptr[v]; hop[v] == h && e < g->indptr[v + 1]; e++)
                if (!hop[g->indices[e]]) hop[g->indices[e]] = (uint8_t)(h + 1);
    int64_t held = 0;
    for (int64_t v = 0; v < N; v++) {
        all[v].id = (ggnn_node)v;
        held += hop[v] > 0;
        for (int64_t e = g->indptr[v]; (hop[v] == 1 || hop[v] == 2) && e < g->indptr[v + 1]; e++) all[g->indices[e]].hot++;
    }
    for (int64_t v = 0; v < N; v++)
        if (!hop[v]) all[v].hot = -1;
    qsort(all, (size_t)N, sizeof *all, hotter);
    if (size > held) size = held;
    for (int64_t i = 0; i < N; i++) cached[all[i].id] = i < size;
    free(hop);
    free(all);
    return size;
}

static bool globally; /* by --shuffle global: slices of the batches that there are without a partition */

/* The rows that rank r's batches of an epoch read, added to count. */
static void count_rows(const task* t, const division* d, int32_t r, int64_t batch, uint32_t epoch, int64_t* count)
{
    error why = {""};
    device* cpu = device_open_cpu(1, &why);
    const loader_plan plan = {.graph = t->graph, .features = t->features, .labels = t->labels, .rank = r, .ranks = d->parts,
                              .batch = batch, .how = {.num_hops = 2, .fanout = {4, 3}}};
    loader* l = loader_create(cpu, &plan, NULL, &why);
    const int64_t steps = (d->num_ids + batch - 1) / batch;
    const bool before = epoch >= GGNN_PRESAMPLE_EPOCH;
    const loader_pass pass = {.ids = globally ? t->ids[SPLIT_TRAIN] : d->ids, .num_ids = d->num_ids, .parts = globally ? 0 : d->parts,
                              .shuffled = true, .keyed = true, .epoch = epoch,
                              .rng = {1, (uint32_t)(epoch % GGNN_PRESAMPLE_EPOCH * steps), before ? GGNN_PURPOSE_PRESAMPLE : GGNN_PURPOSE_SAMPLE}};
    loader_begin(l, &pass, 0);
    for (const mini_batch* b; (b = batch_take(l, &why)); batch_give(l, b))
        for (int64_t i = 0; i < *b->blocks.hop[1].num_src.n; i++) count[b->blocks.id[i]]++;
    CHECK_STR(why.text, "");
    loader_free(l);
    device_close(cpu);
}

/* Those that it finds in its cache in two epochs, and all. */
static void count_hits(const task* t, const division* d, int32_t r, int64_t batch, const uint8_t* cached, int64_t* hits, int64_t* reads)
{
    int64_t count[3000] = {0};
    for (uint32_t epoch = 0; epoch < 2; epoch++) count_rows(t, d, r, batch, epoch, count);
    for (int v = 0; v < 3000; v++) {
        *hits += cached[v] ? count[v] : 0;
        *reads += count[v];
    }
}

/* On a citation graph, P = 4, caches of a tenth of all rows: counted by hand, said by the log, and more than the caches of
   as many devices that all train on everything. */
TEST(four_ranks_caches_hold_their_closures_hottest_and_hit_more_than_one_order_for_all)
{
    static const char run[] = "--data cites.ggnn --devices 4 --fanout 4,3 --hidden 8 --batch 100 --epochs 2 --eval-every 0";
    static task t;
    static config c;
    error why = {""};
    division d = {0};
    uint8_t cached[3000];
    char* words[] = {"ggnn-train", "--data", "cites.ggnn"};
    int64_t all_hits = 0, all_reads = 0;
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why))) return;
    const division_how how = {t.ids[SPLIT_TRAIN], t.count[SPLIT_TRAIN], 4, 2, 100000, NULL, NULL};
    CHECK(division_open(&d, &t.graph, &how, &why));
    CHECK_EQ(trainf("%s --partition pagraph --cache degree --cache-ratio .1 --log a", run), 0);
    CHECK(says("partition: ") && says("replication ") && says("), counted\n"));
    for (int32_t r = 0; r < 4; r++) {
        int64_t hits = 0, reads = 0, size = cached_by_hand(&t, &d, r, 300, cached);
        count_hits(&t, &d, r, 100, cached, &hits, &reads);
        read_log(&first, "a", "partition");
        CHECK_EQ(element(first.line[0], "", "trained", r), d.trained[r]);
        CHECK_EQ(element(first.line[0], "", "held", r), d.held[r]);
        CHECK_NEAR(number(first.line[0], "replication"), division_replication(&d), 1e-9);
        CHECK_NEAR(number(first.line[0], "balance"), (double)((d.num_ids + 3) / 4) * 4 / (double)d.num_ids, 1e-12);
        CHECK_EQ(number(first.line[0], "crc"), d.crc);
        read_log(&first, "a", "tiers");
        CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), size);
        read_log(&first, "a", "ranks");
        CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), hits);
        CHECK_EQ(element(first.line[0], "\"rows\":{", "host", r), reads - hits);
        all_hits += hits;
        all_reads += reads;
    }
    CHECK_EQ(trainf("%s --cache degree --cache-ratio .1 --log b", run), 0);
    read_log(&first, "b", "ranks");
    int64_t one_hits = 0, one_reads = 0;
    for (int r = 0; r < 4; r++) {
        one_hits += (int64_t)element(first.line[0], "\"rows\":{", "cache", r);
        one_reads += (int64_t)element(first.line[0], "\"rows\":{", "cache", r) + (int64_t)element(first.line[0], "\"rows\":{", "host", r);
    }
    const double own = 100. * (double)all_hits / (double)all_reads, one = 100. * (double)one_hits / (double)one_reads;
    printf("  hits of %.1f %% with the partition (balance %.3f, replication %.2f), %.1f %% with one order for all\n", own,
           division_balance(&d), division_replication(&d), one);
    CHECK(own > one + 10);
    division_close(&d);
    task_close(&t);
}

static int64_t counted[3000];
static const int64_t* starts; /* of lists */
static int more_often(const void* a, const void* b)
{
    const ggnn_node u = *(const ggnn_node*)a, v = *(const ggnn_node*)b;
    const int64_t longer = (starts[v + 1] - starts[v]) - (starts[u + 1] - starts[u]);
    if (counted[u] != counted[v]) return counted[u] > counted[v] ? -1 : 1;
    return longer ? (longer > 0 ? 1 : -1) : u < v ? -1 : 1;
}

/* What it read in an epoch before training, of its own nodes' batches, by itself. */
TEST(a_rank_with_training_nodes_of_its_own_caches_what_it_reads_itself)
{
    static task t;
    static config c;
    error why = {""};
    division d = {0};
    char* words[] = {"ggnn-train", "--data", "cites.ggnn"};
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why)) || !CHECK_EQ(t.graph.num_nodes, 3000)) return;
    const division_how how = {t.ids[SPLIT_TRAIN], t.count[SPLIT_TRAIN], 4, 2, 100000, NULL, NULL};
    CHECK(division_open(&d, &t.graph, &how, &why));
    starts = t.graph.whole.indptr;
    for (int i = 0; i < 8; i++) {
        ggnn_node node[3000], list[3000];
        uint8_t cached[3000] = {0};
        int64_t hits = 0, reads = 0, inner, in_reach[3000] = {0};
        const int32_t r = i % 4;
        globally = i > 3;
        if (r == 0)
            CHECK_EQ(trainf("--data cites.ggnn --devices 4 --fanout 4,3 --hidden 8 --batch 100 --epochs 2 --eval-every 0 --partition pagraph "
                            "--cache presc --cache-ratio .05 --log a %s", globally ? "--shuffle global" : ""), 0);
        read_log(&first, "a", "ranks");
        memset(counted, 0, sizeof counted);
        count_rows(&t, &d, r, 100, GGNN_PRESAMPLE_EPOCH, counted);
        const int64_t reach = division_closure(&d, &t.graph, r, list, &inner, &why);
        for (int64_t k = 0; k < reach; k++) in_reach[list[k]] = 1;
        for (int v = 0; v < 3000; v++) { /* of others a slice of all nodes may be, but no cache has them */
            CHECK(globally || in_reach[v] || !counted[v]);
            counted[v] = in_reach[v] ? counted[v] : -1;
            node[v] = (ggnn_node)v;
        }
        qsort(node, 3000, sizeof *node, more_often);
        for (int k = 0; k < 150; k++) cached[node[k]] = 1;
        CHECK(counted[node[149]] > 0);
        count_hits(&t, &d, r, 100, cached, &hits, &reads);
        if (!CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), hits)) printf("  rank %d, %s\n", (int)r, globally ? "global" : "local");
        CHECK_EQ(element(first.line[0], "\"rows\":{", "host", r), reads - hits);
    }
    globally = false;
    division_close(&d);
    task_close(&t);
}

/* No cache has what its rank cannot reach. */
TEST(a_cache_ends_where_the_closure_ends)
{
    static const char* const policies[] = {"degree", "aligraph", "presc", "optimal", "random", "dual"};
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(trainf("--data cites.ggnn --partition pagraph --devices 4 --fanout 4,3 --hidden 8 --batch 100 --epochs 1 --eval-every 0 "
                        "--cache %s --cache-ratio 1 --log a", policies[i]), 0);
        for (int r = 0; r < 4; r++) {
            read_log(&first, "a", "partition");
            const double held = element(first.line[0], "", "held", r);
            read_log(&first, "a", "tiers");
            CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), held);
            CHECK_EQ(element(first.line[0], "\"lists\":{", "cache", r), i == 5 ? held : 0);
            read_log(&first, "a", "ranks");
            CHECK_EQ(element(first.line[0], "\"rows\":{", "host", r), 0);
            if (i == 5) CHECK_EQ(element(first.line[0], "\"lists\":{", "host", r), 0);
        }
    }
}

/* The order of a file made by hand is kept inside the closure, whatever the policy's name; what a dual file caches ends there, too. */
TEST(a_ranking_from_a_file_ends_at_the_closure_in_its_own_order)
{
    static const char run[] = "--data cites.ggnn --partition pagraph --devices 4 --fanout 4,3 --hidden 8 --batch 100 --epochs 1 --eval-every 0";
    CHECK_EQ(finish(start("ggnn-data", "rank cites.ggnn --by random --out random.rank")), 0);
    CHECK_EQ(finish(start("ggnn-data", "rank cites.ggnn --by dual --cache-bytes 100M --fanout 4,3 --out dual.rank")), 0);
    dataset d;
    ranking made;
    error why = {""};
    if (!CHECK(dataset_open(&d, "cites.ggnn", &why) && ranking_open(&made, "random.rank", &d, &why))) return;
    CHECK(ranking_write("hand.rank", &d, "hand", made.rows, made.lists, NULL, NULL, &why));
    ranking_close(&made);
    dataset_close(&d);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("%s --cache %s --cache-ratio .1 --ranking %s.rank --log %s", run, i ? "random" : "degree", i ? "random" : "hand", i ? "b" : "a"), 0);
        read_log(i ? &second : &first, i ? "b" : "a", "ranks");
    }
    for (int r = 0; r < 4; r++)
        CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), element(second.line[0], "\"rows\":{", "cache", r));
    CHECK_EQ(trainf("%s --cache dual --ranking dual.rank --log a", run), 0);
    read_log(&first, "a", "partition");
    read_log(&second, "a", "tiers");
    for (int r = 0; r < 4; r++) {
        CHECK_EQ(element(second.line[0], "\"rows\":{", "cache", r), element(first.line[0], "", "held", r));
        CHECK_EQ(element(second.line[0], "\"lists\":{", "cache", r), element(first.line[0], "", "held", r));
    }
}

/* Whoever owns a list, a rank that samples whole batches reads it; of rows, and of lists where parts are sampled, it reads its own. */
TEST(a_files_lists_end_where_a_rank_of_a_split_reads_no_more)
{
    static const char run[] = "--data cites.ggnn --devices 2 --parallel split --fanout 4,3 --hidden 8 --batch 100 --epochs 1 --eval-every 0";
    CHECK_EQ(finish(start("ggnn-data", "rank cites.ggnn --by dual --cache-bytes 100M --fanout 4,3 --out turns.rank")), 0);
    for (int single = 0; single < 2; single++) {
        CHECK_EQ(trainf("%s --cache dual --ranking turns.rank --split-sampling %s --log turns", run, single ? "single" : "cooperative"), 0);
        read_log(&first, "turns", "tiers");
        CHECK_EQ(first.count, 1);
        double owned[2];
        for (int r = 0; r < 2; r++) {
            owned[r] = element(first.line[0], "\"rows\":{", "cache", r);
            CHECK(owned[r] > 0);
            CHECK_EQ(element(first.line[0], "\"lists\":{", "cache", r), single ? 3000 : owned[r]);
        }
        CHECK_EQ(owned[0] + owned[1], 3000);
    }
}

/* How many rows of each node whole batches read in some epochs. */
static void count_whole(const task* t, hotness* all, uint32_t epochs)
{
    error why = {""};
    device* cpu = device_open_cpu(1, &why);
    const loader_plan plan = {.graph = t->graph, .features = t->features, .labels = t->labels, .batch = 100,
                              .how = {.num_hops = 2, .fanout = {4, 3}}};
    loader* l = loader_create(cpu, &plan, NULL, &why);
    loader_pass pass = {.ids = t->ids[SPLIT_TRAIN], .num_ids = t->count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                        .rng = {1, 0, GGNN_PURPOSE_SAMPLE}};
    for (; pass.epoch < epochs; pass.epoch++) {
        loader_begin(l, &pass, 0);
        for (const mini_batch* b; (b = batch_take(l, &why)); batch_give(l, b), pass.rng.step++)
            for (int64_t i = 0; i < *b->blocks.hop[1].num_src.n; i++) all[b->blocks.id[i]].hot++;
    }
    CHECK_STR(why.text, "");
    loader_free(l);
    device_close(cpu);
}

/* --parallel split: a rank reads rows that it owns alone, so its cache has the hottest of these. Those that the training itself
   reads most are known by hand. */
TEST(a_part_of_a_batch_has_the_hottest_of_its_own_rows_in_its_cache)
{
    static const char* const form[] = {"cooperative", "single"};
    static task t;
    static config c;
    enum { SIZE = 90, P = 4 };
    error why = {""};
    hotness all[3000];
    char* words[] = {"ggnn-train", "--data", "cites.ggnn"};
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why)) || !CHECK_EQ(t.graph.num_nodes, 3000)) return;
    for (int i = 0; i < 4; i++) { /* in two epochs each rank has a batch to count, in three the first ranks have one more */
        const int epochs = 2 + i / 2;
        for (int v = 0; v < 3000; v++) all[v] = (hotness){0, (ggnn_node)v};
        count_whole(&t, all, (uint32_t)epochs);
        qsort(all, 3000, sizeof *all, hotter);
        CHECK_EQ(trainf("--data cites.ggnn --fanout 4,3 --hidden 8 --batch 100 --eval-every 0 --devices 4 --parallel split --partition mod --epochs %d "
                        "--presample-epochs %d --cache optimal --cache-ratio .03 --log a --split-sampling %s", epochs, epochs, form[i % 2]), 0);
        read_log(&first, "a", "ranks");
        for (int r = 0; r < P; r++) {
            int64_t hits = 0, reads = 0, cached = 0;
            for (int v = 0; v < 3000; v++) {
                if (all[v].id % P != r) continue;
                if (cached++ < SIZE) hits += all[v].hot;
                reads += all[v].hot;
            }
            CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), hits);
            CHECK_EQ(element(first.line[0], "\"rows\":{", "host", r), reads - hits);
            CHECK(0 < hits && hits < reads);
        }
        CHECK_EQ(trainf("--data cites.ggnn --fanout 4,3 --hidden 8 --batch 100 --eval-every 0 --devices 4 --parallel split --partition mod --epochs 1 "
                        "--cache %s --cache-ratio 1 --log a --split-sampling %s", i / 2 ? "dual" : i % 2 ? "degree" : "presc", form[i % 2]), 0);
        for (int r = 0; r < P; r++) { /* and ends where they end */
            read_log(&first, "a", "tiers");
            CHECK_EQ(element(first.line[0], "\"rows\":{", "cache", r), 3000 / P);
            if (i / 2) CHECK_EQ(element(first.line[0], "\"lists\":{", "cache", r), i % 2 ? 3000 : 3000 / P);
            read_log(&first, "a", "ranks");
            CHECK_EQ(element(first.line[0], "\"rows\":{", "host", r), 0);
        }
    }
    task_close(&t);
}

TEST(closures_that_are_cut_are_said)
{
    CHECK_EQ(trainf("%s --devices 2 --closure-limit 20 --log a", local), 0);
    CHECK(says("training nodes reach more than 20 nodes: --closure-limit cut them"));
    CHECK(last_number("a", "partition", "closures_cut") > 0 && last_number("a", "partition", "closure_limit") == 20);
    CHECK_EQ(trainf("%s --devices 2 --log a", local), 0);
    CHECK(last_number("a", "partition", "closures_cut") == 0 && !strstr(output, "--closure-limit"));
}

/* ==== checkpoints =============================================================================================== */

TEST(a_run_goes_on_bit_for_bit_on_as_many_devices_and_on_others_not_at_all)
{
    CHECK_EQ(trainf("%s --epochs 4 --devices 3 --log whole", local), 0);
    CHECK_EQ(trainf("%s --devices 3 --log part --save c", local), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 2 --epochs 4"), 1);
    CHECK(says("--shuffle local: c was trained on 3 devices, here are 2: other devices have other batches; resume it with --devices 3"));
    CHECK_EQ(train("--data planted.ggnn --resume c --epochs 4"), 2);
    CHECK(says("--partition pagraph: divides training nodes among --devices, here is one"));
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --partition none"), 2);
    CHECK(says("--partition none contradicts c"));
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --shuffle global"), 2);
    CHECK(says("--shuffle global contradicts c"));
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --closure-limit 20"), 2);
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --epochs 4 --log part"), 0);
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(same_records(&first, &second));
    CHECK_EQ(trainf("%s --epochs 4 --devices 3 --shuffle global --log whole", local), 0);
    CHECK_EQ(trainf("%s --devices 3 --shuffle global --log part --save c", local), 0);
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --epochs 4 --log part"), 0); /* --shuffle is the checkpoint's */
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(same_records(&first, &second));
}

/* Within an epoch: stopped as soon as the first of every three steps is saved. */
TEST(an_interrupted_run_goes_on_within_an_epoch)
{
    int status = 130;
    remove("c");
    CHECK_EQ(trainf("%s --epochs 30 --devices 2 --log whole", local), 0);
    pid_t child = start("ggnn-train", "--data planted.ggnn --partition pagraph --fanout 4,3 --hidden 16 --batch 50 --epochs 30 --devices 2 "
                                      "--log part --save c --save-steps 3");
    for (int i = 0; i < 2000 && access("c", F_OK) != 0; i++) nap(.002);
    kill(child, SIGINT);
    status = finish(child);
    CHECK(status == 130 || status == 0); /* 0: it was faster */
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 2 --log part"), 0);
    read_log(&first, "whole", "epoch");
    read_log(&second, "part", "epoch");
    CHECK(same_records(&first, &second));
}

/* A checkpoint whose section 'division' is of another partition. */
TEST(another_partition_is_refused)
{
    ggnn_file f;
    ggnn_file_writer w;
    unsigned long long crc = 0;
    char message[200];
    CHECK_EQ(trainf("%s --devices 2 --save c", local), 0);
    CHECK(ggnn_file_open(&f, "c") && ggnn_file_create(&w, "d"));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        char* data = ggnn_file_reserve(&w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
        if (strcmp(s->name, "division") != 0) continue;
        crc = (unsigned long long)((int64_t*)(void*)data)[1];
        ((int64_t*)(void*)data)[1] ^= 1;
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    CHECK_EQ(train("--data planted.ggnn --resume d --devices 2 --epochs 3"), 1);
    snprintf(message, sizeof message, "--partition pagraph: d was trained on another partition (checksum %08llx) than this one (checksum %08llx)\n", crc ^ 1, crc);
    CHECK(says(message));
}

/* ==== partitions from files ===================================================================================== */

TEST(a_file_of_ggnn_data_divides_as_the_program_does_by_itself)
{
    finish(start("ggnn-data", "partition planted.ggnn --parts 3 --method pagraph --hops 2 --out p.part"));
    CHECK_EQ(trainf("%s --devices 3 --cache degree --cache-ratio .1 --log here", local), 0);
    CHECK_EQ(trainf("%s --devices 3 --cache degree --cache-ratio .1 --partition-file p.part --log file --save c", local), 0);
    read_log(&first, "here", NULL);
    CHECK_EQ(last_number("here", "partition", "closure_limit"), 100000);
    CHECK_EQ(last_number("file", "partition", "closure_limit"), 0); /* nobody looked at closures */
    read_log(&first, "here", NULL);
    read_log(&second, "file", NULL);
    for (int i = 0; i < first.count; i++) cut(first.line[i], "closure_limit");
    for (int i = 0; i < second.count; i++) cut(second.line[i], "closure_limit");
    CHECK(same_records(&first, &second));
    CHECK_EQ(train("--data planted.ggnn --resume c --devices 3 --epochs 3"), 0); /* and so may take the place of it */
}

/* owner (N): training node i goes to part of(i), others to part 0. Whose file, and what opening it then says. */
static bool opens(const task* t, int32_t parts, int32_t (*of)(int64_t i), division* d, error* why)
{
    int32_t* owner = calloc((size_t)t->graph.num_nodes, sizeof *owner);
    const division_how how = {t->ids[SPLIT_TRAIN], t->count[SPLIT_TRAIN], parts, 2, 100000, "own.part", &t->set};
    why->text[0] = 0;
    for (int64_t i = 0; i < how.num_ids; i++) owner[how.ids[i]] = of(i);
    CHECK(partition_write("own.part", &t->set, "test", owner, parts, why));
    free(owner);
    return division_open(d, &t->graph, &how, why);
}

static int32_t in_turn(int64_t i) { return (int32_t)(2 - i % 3); }
static int64_t changed; /* this training node and the one before it change places */
static int32_t in_turn_but(int64_t i) { return i == changed ? in_turn(i - 1) : i == changed - 1 ? in_turn(i + 1) : in_turn(i); }
static int32_t uneven(int64_t i) { return i < 2 ? 2 : (int32_t)(i % 2); }
static int32_t two_least(int64_t i) { return i < 4 ? (int32_t)(1 + i % 2) : i % 3 ? 3 : 0; }
static int32_t one_without(int64_t i) { return i == 5 ? -1 : (int32_t)(i % 3); }

/* --parallel split: by the defaults of ggnn-data partition, whose file has the same owners. */
TEST(owners_of_a_split_are_those_that_ggnn_data_makes)
{
    static const char run[] = "--data cites.ggnn --devices 4 --parallel split --fanout 4,3 --hidden 8 --batch 100 --epochs 0";
    CHECK_EQ(finish(start("ggnn-data", "partition cites.ggnn --method mincut --parts 4 --out cites.mincut")), 0);
    CHECK_EQ(trainf("%s --log a", run), 0);
    read_log(&first, "a", "owners");
    CHECK_EQ(trainf("%s --partition-file cites.mincut --log b", run), 0);
    read_log(&second, "b", "owners");
    CHECK(first.count == 1 && second.count == 1);
    CHECK(number(first.line[0], "crc") > 0);
    CHECK_EQ(number(first.line[0], "crc"), number(second.line[0], "crc"));
}

/* A preprocessed layer samples nothing, an MLP has no hops: what a device holds, as the log says it. */
/* By the checksum of all nodes' owners: two files that differ in the last node alone have two. */
TEST(owners_are_told_apart_by_every_node)
{
    double crc[2];
    CHECK_EQ(finish(start("ggnn-data", "partition cites.ggnn --method mod --parts 2 --out last.a")), 0);
    const int32_t other = 0;
    poison_of("last.a", "last.b", "owner", 2999, &other, sizeof other); /* part 1 has it in the other file */
    for (int i = 0; i < 2; i++) {
        ggnn_file f;
        if (!CHECK(ggnn_file_open(&f, i ? "last.b" : "last.a"))) return;
        CHECK_EQ(trainf("--data cites.ggnn --fanout 2,2 --hidden 4 --epochs 1 --eval-every 0 --devices 2 --parallel split --partition-file last.%c --log a",
                        i ? 'b' : 'a'), 0);
        crc[i] = last_number("a", "owners", "crc");
        CHECK_EQ(crc[i], ggnn_file_crc32c(0, ggnn_file_data(&f, ggnn_file_find(&f, "owner")), 3000 * 4));
        ggnn_file_close(&f);
    }
    CHECK(fabs(crc[0] - crc[1]) > 0);
}

TEST(sixty_four_devices_divide_the_nodes)
{
    static const char* const how[] = {"--partition pagraph", "--parallel split --partition mod"};
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("--data cites.ggnn --fanout 2,2 --hidden 4 --epochs 1 --eval-every 0 --devices 64 --threads 2 %s --log a", how[i]), 0);
        CHECK_EQ(last_number("a", i ? "owners" : "partition", "parts"), 64);
    }
}

TEST(a_closure_has_a_hop_for_each_layer_that_samples)
{
    static const char* const options[] = {"--layers 2 --fanout 4,3", "--layers 3 --fanout 4,3 --preprocess", "--layers 2 --fanout 4 --preprocess",
                                          "--layers 2 --fanout 1,1 --model mlp"};
    static const int hops[] = {2, 2, 1, 0};
    double held[4];
    CHECK_EQ(finish(start("ggnn-data", "preprocess cites.ggnn --model sage --out pre.ggnn")), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(trainf("--data pre.ggnn --partition pagraph --devices 4 --hidden 4 --epochs 0 --eval-every 0 --log a %s", options[i]), 0);
        read_log(&first, "a", "partition");
        CHECK_EQ(number(first.line[0], "hops"), hops[i]);
        held[i] = element(first.line[0], "", "held", 0);
    }
    CHECK(held[0] == held[1] && held[1] > held[2] && held[2] > held[3]);
    CHECK_EQ(held[3], element(first.line[0], "", "trained", 0));
}

/* Of the largest and the smallest part each place is tried. */
TEST(the_least_and_most_nodes_of_a_device_are_said)
{
    static const int64_t nodes[][3] = {{700, 1600, 700}, {1600, 800, 600}, {600, 800, 1600}, {800, 600, 1600}};
    static int32_t owner[3000];
    char line[80];
    for (int i = 0; i < 4; i++) {
        const int64_t *n = nodes[i], most = 1600, least = i ? 600 : 700;
        dataset of;
        error why = {""};
        for (int v = 0; v < 3000; v++) owner[v] = v % 30 < n[0] / 100 ? 0 : v % 30 < (n[0] + n[1]) / 100 ? 1 : 2;
        CHECK(dataset_open(&of, "cites.ggnn", &why) && partition_write("wide.part", &of, "test", owner, 3, &why));
        dataset_close(&of);
        CHECK_EQ(train("--data cites.ggnn --devices 3 --parallel split --partition-file wide.part --fanout 4,3 --hidden 4 --epochs 0 --log a"), 0);
        snprintf(line, sizeof line, "owners by wide.part: %d to %d nodes a device\n", (int)least, (int)most);
        CHECK(says(line));
        read_log(&first, "a", "owners");
        CHECK_EQ(number(first.line[0], "most"), most);
        for (int p = 0; p < 3; p++) CHECK_EQ(element(first.line[0], "", "nodes", p), n[p]);
    }
}

TEST(a_files_parts_are_taken_as_they_are_or_refused)
{
    static const int32_t place[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}; /* larger parts first, equal ones in their order */
    static task t;
    static config c;
    error why = {""};
    division d = {0};
    char* words[] = {"ggnn-train", "--data", "cites.ggnn"};
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why))) return;
    const int64_t n = t.count[SPLIT_TRAIN];
    CHECK(opens(&t, 3, in_turn, &d, &why));
    CHECK_STR(why.text, "");
    int64_t trained = 0;
    for (int64_t i = 0; i < n; i++) CHECK_EQ(d.owner[t.ids[SPLIT_TRAIN][i]], place[n % 3][in_turn(i)]);
    for (int64_t v = 0; v < t.graph.num_nodes; v++) trained += d.owner[v] >= 0;
    CHECK_EQ(trained, n);
    const uint32_t crc = d.crc;
    division_close(&d);
    for (changed = 1; changed < n; changed += n - 2) { /* the first two, the last two: a checkpoint tells them apart */
        CHECK(opens(&t, 3, in_turn_but, &d, &why) && d.crc != crc);
        division_close(&d);
    }
    CHECK(!opens(&t, 3, uneven, &d, &why));
    CHECK(strstr(why.text, "own.part: part 0 has ") && strstr(why.text, "part 2 has 2: devices train on as many each"));
    division_close(&d);
    CHECK(!opens(&t, 4, two_least, &d, &why)); /* of equal ones the first */
    CHECK(strstr(why.text, "own.part: part 3 has ") && strstr(why.text, "part 1 has 2: devices train on as many each"));
    division_close(&d);
    CHECK(!opens(&t, 3, one_without, &d, &why));
    CHECK(strstr(why.text, "has no part: it was made for other training nodes"));
    division_close(&d);
    task_close(&t);
}

TEST(a_file_that_does_not_fit_is_an_error_that_says_why)
{
    finish(start("ggnn-data", "partition planted.ggnn --parts 3 --method pagraph --out p.part"));
    finish(start("ggnn-data", "partition karate.ggnn --parts 2 --method pagraph --out k.part"));
    CHECK_EQ(train("--data planted.ggnn --devices 3 --partition-file p.part"), 2);
    CHECK(says("--partition-file p.part: needs --partition pagraph"));
    CHECK_EQ(train("--data planted.ggnn --devices 3 --partition pagraph --partition-file p.part --closure-limit 9"), 2);
    CHECK(says("--closure-limit 9: --partition-file says whose nodes are whose"));
    CHECK_EQ(train("--data planted.ggnn --devices 2 --partition pagraph --partition-file p.part --fanout 3,3"), 1);
    CHECK(says("p.part: it has 3 parts, here are 2 devices: give it --devices 3, or make one by ggnn-data partition --parts 2"));
    CHECK_EQ(train("--data planted.ggnn --devices 2 --partition pagraph --partition-file k.part --fanout 3,3"), 1);
    CHECK(says("k.part: it belongs to another graph"));
    CHECK_EQ(train("--data planted.ggnn --devices 2 --partition pagraph --partition-file none.part --fanout 3,3"), 1);
    CHECK(says("none.part"));
}

/* ==== what a device stores ====================================================================================== */

/* Nodes whose rows and whose lists two hops of part `part` read: breadth first over the arrays of the file. */
static void reach_by_hand(const dataset* d, const int32_t* owner, int32_t part, int64_t rows_lists[2], int64_t* edges)
{
    const int64_t n = d->num_nodes;
    uint8_t* hops = calloc((size_t)n, 1); /* left, and one: 0 is not reached */
    rows_lists[0] = rows_lists[1] = *edges = 0;
    for (int64_t v = 0; v < n; v++) hops[v] = d->split[v] == SPLIT_TRAIN && owner[v] == part ? 3 : 0;
    for (int left = 3; left > 1; left--)
        for (int64_t v = 0; v < n; v++)
            for (int64_t e = d->csc.indptr[v]; hops[v] == left && e < d->csc.indptr[v + 1]; e++)
                if (hops[d->csc.indices[e]] < left - 1) hops[d->csc.indices[e]] = (uint8_t)(left - 1);
    for (int64_t v = 0; v < n; v++) {
        rows_lists[0] += hops[v] > 0;
        rows_lists[1] += hops[v] > 1;
        if (hops[v] > 1) *edges += d->csc.indptr[v + 1] - d->csc.indptr[v];
    }
    free(hops);
}

TEST(a_replica_has_the_lists_and_rows_of_its_closure_and_nothing_else)
{
    static const char run[] = "--data cites.ggnn --devices 3 --partition pagraph --partition-file cites.part --fanout 4,3 --hidden 8 --batch 100 --epochs 2";
    static const char* const more[] = {"", "--model gcn --eval sampled", "--cache degree --cache-ratio .1", "--cache presc --cache-ratio .05 --store-features 1"};
    dataset d;
    partition p;
    error why = {""};
    CHECK_EQ(finish(start("ggnn-data", "partition cites.ggnn --method pagraph --parts 3 --hops 2 --out cites.part")), 0);
    if (!CHECK(dataset_open(&d, "cites.ggnn", &why) && partition_open(&p, "cites.part", &d, &why))) return;
    int64_t trained[3] = {0}, most = 0;
    for (int64_t v = 0; v < d.num_nodes; v++)
        if (p.owner[v] >= 0) trained[p.owner[v]]++;
    for (int i = 0; i < 3; i++) most = trained[i] > most ? trained[i] : most;
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        CHECK_EQ(trainf("%s %s --save c", run, more[i]), 0);
        CHECK_EQ(trainf("%s %s --store replica --log l --save d", run, more[i]), 0);
        CHECK_EQ(shell("cmp c d"), 0);
        read_log(&first, "l", "tiers");
        read_log(&second, "l", "ranks");
        if (!CHECK(first.count == 1 && second.count == 1)) return;
        for (int32_t at = 0, large = 1; large >= 0; large--)
            for (int32_t part = 0; part < 3; part++) {
                int64_t count[2], edges;
                if ((trained[part] == most) != large) continue;
                reach_by_hand(&d, p.owner, part, count, &edges);
                const bool rows = i != 2;
                bool good = CHECK_EQ(element(first.line[0], "\"lists\":", "own", at), count[1]) &&
                            CHECK_EQ(element(first.line[0], "\"list_bytes\":", "own", at), 16 * count[1] + (int64_t)sizeof(ggnn_node) * edges) &&
                            CHECK_EQ(element(first.line[0], "\"rows\":", "own", at), rows ? count[0] : 0);
                good = good && CHECK_EQ(element(second.line[0], "\"lists\":", "host", at), 0) &&
                       CHECK(!rows || element(second.line[0], "\"rows\":", "host", at) == 0) &&
                       CHECK(element(second.line[0], "\"lists\":", "own", at) > 0);
                if (!good) printf("  %s: device %d\n", more[i], (int)at);
                at++;
            }
    }
    partition_close(&p);
    dataset_close(&d);
    CHECK_EQ(trainf("%s --store replica --shuffle global --log l", run), 0); /* any node may be read */
    read_log(&first, "l", "tiers");
    CHECK_EQ(first.count, 0);
}

/* The list of node 0 has all nodes, that of any other has the next one: the closures of the training nodes 0 and 1. One device stores
   all rows, and the other two. */
TEST(a_closure_of_all_nodes_beside_a_small_one)
{
    enum { N = 60 };
    static const char* const more[] = {"--cache degree --cache-ratio .1 --store-features 1", "--cache dual --cache-bytes 200 --store-features .5"};
    const char* const run = "--data l.ggnn --devices 2 --partition pagraph --fanout 3 --hidden 4 --batch 2 --epochs 1 --eval-every 0";
    FILE* f = fopen("l.csv", "w");
    for (int v = 1; f && v < N; v++) fprintf(f, "%d,0\n%d,%d\n", v, v % (N - 1) + 1, v);
    CHECK(f && fclose(f) == 0);
    CHECK_EQ(finish(start("ggnn-data", "convert l.csv l.ggnn --from edges --random-features 4 --classes 2 --train degree:.04")), 0);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("%s %s --save c", run, more[i]), 0);
        CHECK_EQ(trainf("%s %s --store replica --log l --save d", run, more[i]), 0);
        CHECK_EQ(shell("cmp c d"), 0);
        read_log(&first, "l", "tiers");
        if (!CHECK_EQ(first.count, 1)) return;
        CHECK_EQ(element(first.line[0], "\"rows\":", "own", 0), i ? N / 2 : N);
        CHECK_EQ(element(first.line[0], "\"rows\":", "own", 1), 2);
    }
}

/* ==== errors ==================================================================================================== */

TEST(a_partition_where_it_cannot_be_is_an_error_that_says_why)
{
    static const char* const wrong[][2] = {
        {"--partition pagraph", "--partition pagraph: divides training nodes among --devices, here is one"},
        {"--devices 2 --shuffle local", "--shuffle local: needs --partition pagraph"},
        {"--devices 2 --closure-limit 5", "--closure-limit 5: needs --partition pagraph"},
        {"--devices 2 --partition pagraph --fanout full", "--partition pagraph: with --fanout full"},
        {"--devices 3 --partition pagraph --pipeline factored", "--partition pagraph: with --pipeline factored"},
        {"--devices 2 --partition pagraph --explain", "--partition pagraph: --explain compares"},
        {"--devices 2 --partition pagraph --sampler walk", "--partition pagraph: --sampler walk leaves"},
        {"--devices 2 --partition pagraph --aggregator importance", "--partition pagraph: --sampler walk leaves"}};
    ggnn_node broken = 1000;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(trainf("--data karate.ggnn %s", wrong[i][0]), 2);
        CHECK(says(wrong[i][1]));
    }
    CHECK_EQ(train("--data karate.ggnn --devices 30 --partition pagraph"), 1);
    CHECK(says("training nodes are fewer than 30 devices"));
    CHECK_EQ(train("--data planted.ggnn --devices 65 --partition pagraph"), 1);
    CHECK(says("--partition pagraph: 64 parts at most, here are 65 devices"));
    poison("poisoned.ggnn", "indices", 60, &broken, sizeof broken);
    CHECK_EQ(train("--data poisoned.ggnn --devices 2 --partition pagraph --fanout 3,3"), 1);
    CHECK(says("--partition pagraph: node ") && says("ggnn-data verify"));
}

TEST(a_division_survives_any_failing_allocation)
{
    int status = 1;
    for (int n = 1; status == 1 && n < 1000; n++) {
        char text[24];
        snprintf(text, sizeof text, "%d", n);
        fail_allocation = text;
        status = train("--data karate.ggnn --fanout 3,2 --hidden 4 --epochs 1 --devices 2 --partition pagraph --cache degree --cache-ratio .2");
        fail_allocation = NULL;
        if (status == 1) CHECK(says("out of memory"));
    }
    CHECK_EQ(status, 0);
}

TEST(processes_have_the_training_nodes_of_threads)
{
    const char* ci = getenv("CI");
    const bool mpi = comm_mpi_name() && system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") == 0;
    CHECK(mpi || !ci || strcmp(ci, "true") != 0);
    if (!mpi) SKIP("no Open MPI");
    CHECK_EQ(trainf("%s --devices 2 --cache degree --cache-ratio .1 --log threads", local), 0);
    CHECK_EQ(shell("export ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 OMPI_MCA_mpi_yield_when_idle=1; exec timeout -k 5 120 mpirun --oversubscribe "
                   "--allow-run-as-root -n 2 $train %s --threads 1 --cache degree --cache-ratio .1 --log processes </dev/null", local), 0);
    read_log(&first, "threads", NULL);
    read_log(&second, "processes", NULL);
    CHECK(same_records(&first, &second));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(37);
    RUN(each_training_node_has_one_owner_and_larger_parts_come_first);
    RUN(a_closure_is_what_batches_of_a_part_can_reach);
    RUN(a_closure_names_the_node_whose_list_is_broken);
    RUN(each_rank_draws_its_own_training_nodes_in_as_many_steps_as_the_others);
    RUN(an_epoch_draws_another_order_than_the_one_before);
    if (!train_tool_begin()) return 1;
    finish(start("ggnn-data", "generate citation cites.ggnn --nodes 3000 --edges 24000 --features 16"));
    RUN(losses_depend_on_nothing_but_the_division);
    RUN(global_batches_are_those_without_a_partition);
    RUN(a_slice_without_seeds_holds_up_no_one);
    RUN(four_ranks_caches_hold_their_closures_hottest_and_hit_more_than_one_order_for_all);
    RUN(a_rank_with_training_nodes_of_its_own_caches_what_it_reads_itself);
    RUN(a_cache_ends_where_the_closure_ends);
    RUN(a_ranking_from_a_file_ends_at_the_closure_in_its_own_order);
    RUN(a_files_lists_end_where_a_rank_of_a_split_reads_no_more);
    RUN(a_part_of_a_batch_has_the_hottest_of_its_own_rows_in_its_cache);
    RUN(closures_that_are_cut_are_said);
    RUN(a_run_goes_on_bit_for_bit_on_as_many_devices_and_on_others_not_at_all);
    RUN(an_interrupted_run_goes_on_within_an_epoch);
    RUN(another_partition_is_refused);
    RUN(a_file_of_ggnn_data_divides_as_the_program_does_by_itself);
    RUN(owners_of_a_split_are_those_that_ggnn_data_makes);
    RUN(owners_are_told_apart_by_every_node);
    RUN(sixty_four_devices_divide_the_nodes);
    RUN(a_closure_has_a_hop_for_each_layer_that_samples);
    RUN(the_least_and_most_nodes_of_a_device_are_said);
    RUN(a_files_parts_are_taken_as_they_are_or_refused);
    RUN(a_file_that_does_not_fit_is_an_error_that_says_why);
    RUN(a_replica_has_the_lists_and_rows_of_its_closure_and_nothing_else);
    RUN(a_closure_of_all_nodes_beside_a_small_one);
    RUN(a_partition_where_it_cannot_be_is_an_error_that_says_why);
    RUN_SLOW(a_division_survives_any_failing_allocation);
    RUN(processes_have_the_training_nodes_of_threads);
    folder_remove();
    return test_finish();
}
