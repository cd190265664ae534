/* test_worker.c - workers, and the ring that feeds them: many workers train as one does; when and where batches are
   prepared changes no bit; a batch is its taker's until it is given back. */
#include <pthread.h>

#include "common/memory.h"
#include "common/progress.h"
#include "tests/elsewhere.h"
#include "tests/fixture.h"
#include "tests/owners.h"
#include "trainer/ranks/comm.h"
#include "trainer/batch/ring.h"
#include "trainer/net/layers.h"
#include "trainer/agree.h"
#include "trainer/explain.h"
#include "trainer/training.h"

enum { STEPS = 27 /* three passes of nine batches */, WORKERS_MAX = 8, ELSEWHERE = -1 /* threads: one, of a device with memory of its own */ };

static const volatile sig_atomic_t never = 0;

/* ==== P workers, a thread each ================================================================================== */

typedef struct { /* of a run */
    int32_t workers;
    int64_t count;           /* parameters */
    double loss[STEPS];      /* of each step, as worker 0 has it, */
    int64_t known[STEPS];    /* and labelled rows so far */
    float value[8192];       /* in the end, as worker 0 has them */
    bool same;               /* and all others */
    long allocations;        /* in all steps */
    tiers_reads rows[WORKERS_MAX], lists[WORKERS_MAX]; /* of each worker */
    int64_t steps[WORKERS_MAX]; /* of each worker, and what it ended with */
    error why[WORKERS_MAX];
    queue_counts queue;      /* of a factored run */
} history;

typedef struct { /* what happens to a run; -1: to none, never */
    int32_t fails;
    int64_t fails_at, stops_at; /* steps */
} event;
static const event nothing = {-1, -1, -1};

typedef struct { /* what the threads of a run share */
    const config* c;
    const task* t;
    int threads; /* of each */
    worker worker[WORKERS_MAX];
    comm comm[WORKERS_MAX];
    factored* factored; /* NULL: another pipeline */
    volatile sig_atomic_t stop;
    event event;
    history* trace;
} crew;

typedef struct {
    crew* crew;
    int32_t rank;
} member;

static bool take_step(crew* k, int32_t rank, int64_t step)
{
    worker* w = &k->worker[rank];
    error* why = &k->trace->why[rank];
    if (rank == k->event.fails && step >= k->event.fails_at) return error_set(why, "this one fails");
    if (rank == 0 && step == k->event.stops_at) k->stop = 1;
    if (!worker_compute(w, step, why) || !worker_reduce(w, why)) return false;
    worker_update(w, .01f);
    net_losses losses;
    worker_losses(w, true, &losses, why);
    if (rank != 0) return true;
    k->trace->loss[step] = losses.last;
    k->trace->known[step] = losses.rows;
    return true;
}

/* The pass of these steps. One that samples first trains from a later step on. */
static bool begin_pass(crew* k, int32_t rank, int64_t epoch, int64_t* step)
{
    worker* w = &k->worker[rank];
    int64_t batch = 0;
    if (!worker_begin(w, epoch, &batch, &k->trace->why[rank])) return false;
    *step += batch;
    return true;
}

/* false: some worker failed, and all say why. */
static bool take_steps(crew* k, int32_t rank)
{
    worker* w = &k->worker[rank];
    int64_t* step = &k->trace->steps[rank];
    for (int64_t epoch = 0; *step < STEPS && !w->comm->stopped; epoch++) {
        const int64_t after = (epoch + 1) * w->batches, end = after < STEPS ? after : STEPS;
        if (!begin_pass(k, rank, epoch, step)) return false;
        for (; *step < end && !w->comm->stopped; ++*step)
            if (!take_step(k, rank, *step)) return false;
        worker_end(w);
    }
    return true;
}

static void* run_worker(void* context)
{
    member* m = context;
    crew* k = m->crew;
    worker* w = &k->worker[m->rank];
    comm* c = &k->comm[m->rank];
    error* why = &k->trace->why[m->rank];
    device* d = k->threads == ELSEWHERE ? device_open_elsewhere(m->rank, why) : device_open_cpu(k->threads, why);
    bool opened = d && worker_open(w, k->c, k->t, d, c, why);
    if (!opened || (k->factored && !worker_share(w, k->factored, why))) comm_fail(c, why);
    comm_barrier(c, why);
    long before = memory_calls();
    comm_barrier(c, why);
    if (why->text[0] || !take_steps(k, m->rank)) {
        worker_fail(w);
        comm_fail(c, why);
    }
    comm_barrier(c, why);
    if (m->rank == 0) k->trace->allocations = memory_calls() - before;
    return NULL;
}

static history run_with(const config* c, const task* t, int32_t workers, int threads, event what)
{
    static crew k;
    error why = {""};
    history result = {.workers = workers, .same = true};
    member m[WORKERS_MAX];
    pthread_t thread[WORKERS_MAX];
    memset(&k, 0, sizeof k);
    k.c = c;
    k.t = t;
    k.threads = threads;
    k.trace = &result;
    k.event = what;
    CHECK(comm_open_threads(k.comm, workers, &k.stop, &why));
    if (c->pipeline == PIPELINE_FACTORED) k.factored = factored_create(workers, (int32_t)c->samplers, &why);
    for (int32_t r = 0; r < workers; r++) {
        m[r] = (member){&k, r};
        CHECK_EQ(pthread_create(&thread[r], NULL, run_worker, &m[r]), 0);
    }
    for (int32_t r = 0; r < workers; r++) pthread_join(thread[r], NULL);
    net_state s = net_state_of(k.worker[0].net);
    size_t bytes = (size_t)s.count * sizeof *s.value;
    result.count = s.count;
    if (CHECK(bytes <= sizeof result.value)) memcpy(result.value, s.value, bytes);
    for (int32_t r = 0; r < workers; r++)
        result.same = result.same && !memcmp(s.value, net_state_of(k.worker[r].net).value, bytes);
    if (k.factored) result.queue = factored_counts(k.factored);
    for (int32_t r = 0; r < workers; r++) {
        result.rows[r] = tiers_counted(k.worker[r].tiers, TIERS_FEATURES).read;
        result.lists[r] = tiers_counted(k.worker[r].tiers, TIERS_GRAPH).read;
        worker_close(&k.worker[r]);
    }
    comm_close_threads(k.comm, workers);
    factored_free(k.factored);
    return result;
}

static history run(const config* c, const task* t, int32_t workers, int threads)
{
    history result = run_with(c, t, workers, threads, nothing);
    for (int32_t r = 0; r < workers; r++) CHECK_STR(result.why[r].text, "");
    return result;
}

static bool same_bits(const history* a, const history* b)
{
    return a->count == b->count && !memcmp(a->loss, b->loss, sizeof a->loss) &&
           !memcmp(a->value, b->value, (size_t)a->count * sizeof *a->value);
}

static const char* const models[] = {
    "--model gcn --fanout 5,4 --dropout .4",
    "--model sage --fanout 5,4 --dropout .4 --norm layer",
    "--model sage --aggregator pool --fanout 5,4 --dropout .4 --input-dropout .2",
    "--model gat --fanout 5,4 --dropout .4 --attention-dropout .3 --residual",
    "--aggregator importance --dropout .4",
    "--model mlp --fanout 1,1 --dropout .4",
};
enum { MODELS = sizeof models / sizeof *models };

/* A gradient of a whole batch and the sum of its slices' differ by rounding, of some 1e-7 a step: after 20 steps losses
   near 1 by less than 1e-6. 466 training nodes in batches of 58: the last has two seeds, for two of four workers. */
TEST(four_workers_train_as_one_does)
{
    fixture* f = fixture_new();
    int64_t labelled = 0;
    for (int64_t i = 0; i < f->task.count[SPLIT_TRAIN]; i++) labelled += label_known(&f->task.labels, f->ids[i]);
    for (int i = 0; i < MODELS; i++) {
        char words[400], options[400];
        snprintf(options, sizeof options, "%s --batch 58", models[i]);
        config c = config_of(words, options);
        history one = run(&c, &f->task, 1, 2), four = run(&c, &f->task, 4, 1), again = run(&c, &f->task, 4, 2);
        int before = test_errors;
        for (int s = 0; s < STEPS; s++) CHECK_NEAR(four.loss[s], one.loss[s], 1e-6 * fabs(one.loss[s]));
        CHECK(one.loss[STEPS - 1] < one.loss[0]);
        CHECK_EQ(one.known[2 * 9 - 1], 2 * labelled); /* two epochs of nine batches */
        CHECK_EQ(four.known[2 * 9 - 1], 2 * labelled);
        CHECK(four.same && again.same);
        CHECK(same_bits(&four, &again));
        CHECK_EQ(four.allocations, 0);
        CHECK_EQ(one.allocations, 0);
        if (test_errors > before) printf("  %s\n", models[i]);
    }
    fixture_free(f);
}

TEST(batches_prepared_beside_training_change_no_bit)
{
    fixture* f = fixture_new();
    for (int i = 0; i < MODELS; i++) {
        char words[400], options[400];
        snprintf(options, sizeof options, "%s --batch 58", models[i]);
        config c = config_of(words, options);
        history serial = run(&c, &f->task, 1, 2);
        c.pipeline = PIPELINE_OVERLAP;
        for (int threads = 1; threads < 4; threads++) {
            history overlap = run(&c, &f->task, 1, threads);
            if (!CHECK(same_bits(&serial, &overlap))) printf("  %s, %d threads\n", models[i], threads);
        }
        history four = run(&c, &f->task, 4, 1);
        CHECK_NEAR(four.loss[STEPS - 1], serial.loss[STEPS - 1], 1e-6 * fabs(serial.loss[STEPS - 1]));
    }
    fixture_free(f);
}

/* ==== samplers and trainers ===================================================================================== */

/* N devices have the bits of N - 1 that each compute a slice, however many of them sample; two have those of one. */
static void compare_factored(const fixture* f, config* c, int32_t devices)
{
    c->pipeline = PIPELINE_SERIAL;
    c->samplers = 0;
    const history slices = run(c, &f->task, devices - 1, 1);
    c->pipeline = PIPELINE_FACTORED;
    for (c->samplers = 0; c->samplers < devices; c->samplers += devices > 3 ? 2 : 1) {
        const history now = run(c, &f->task, devices, 1 + devices % 2);
        const int64_t all = STEPS * (devices - 1);
        if (!CHECK(same_bits(&slices, &now) && now.same)) printf("  %d devices, %d samplers\n", (int)devices, (int)c->samplers);
        CHECK(!memcmp(slices.known, now.known, sizeof now.known)); /* no batch is lost, none is repeated */
        CHECK(now.queue.claimed == all && now.queue.taken == all && now.queue.given == all);
        CHECK(now.queue.most <= 2 * (devices - 1) + devices);
    }
}

TEST(devices_that_sample_for_others_change_no_bit)
{
    static const int32_t devices[] = {2, 3, 6};
    fixture* f = fixture_new();
    for (int i = 0; i < MODELS; i++)
        for (int d = i % 2; d < 3; d += 2) {
            char words[400], options[400];
            snprintf(options, sizeof options, "%s --batch 58 %s", models[i], i % 2 ? "--store parts" : "");
            config c = config_of(words, options);
            int before = test_errors;
            compare_factored(f, &c, devices[d]);
            if (test_errors > before) printf("  %s\n", models[i]);
        }
    fixture_free(f);
}

/* Replicas, parts, rows by exchange, samplers and trainers: with memory of their own, devices have the bits of those without. */
TEST(devices_of_their_own_memory_train_as_those_that_share_the_hosts)
{
    static const char* const how[] = {"--store replica", "--store parts --owners hash", "--gather exchange", "--pipeline factored",
                                      "--pipeline factored --store parts", "--store-graph .4 --store-features .3 --cache dual --cache-ratio .2",
                                      "--store shards --owners modulo", "--gather exchange --cache presc --cache-ratio .3"};
    fixture* f = fixture_new();
    for (int i = 0; i < 8; i++) {
        char words[400], options[400];
        snprintf(options, sizeof options, "%s --batch 58 %s", models[i % (MODELS - 1)], how[i]);
        config c = config_of(words, options);
        c.samplers = i == 3; /* else by times */
        const history host = run(&c, &f->task, 3, 1), own = run(&c, &f->task, 3, ELSEWHERE);
        const int before = test_errors;
        CHECK(same_bits(&host, &own) && own.same);
        CHECK(!memcmp(host.known, own.known, sizeof own.known));
        if (test_errors > before) printf("  %s\n", options);
    }
    fixture_free(f);
}

/* Rank 0 trains from the beginning, rank 1 does or joins. Others wait for slices, for room, for trainers. */
TEST(a_trainer_that_fails_ends_all)
{
    int failed = 0;
    fixture* f = fixture_new();
    for (int i = 0; i < 8; i++) {
        char words[400], message[64];
        config c = config_of(words, "--model sage --fanout 5,4 --batch 58 --pipeline factored");
        const event what = {i % 2, i / 2 * 5, -1};
        c.samplers = i % 3;
        snprintf(message, sizeof message, "rank %d: this one fails", i % 2);
        const history now = run_with(&c, &f->task, 3, 1, what);
        const bool trained = i % 2 == 0 || now.why[1].text[0]; /* rank 1 may have sampled to the end of the run */
        for (int32_t r = 0; r < 3; r++) CHECK_STR(now.why[r].text, !trained ? "" : r == i % 2 ? "this one fails" : message);
        CHECK(now.queue.most <= 2 * 2 + 3);
        failed += trained;
    }
    CHECK(failed > 4);
    fixture_free(f);
}

TEST(a_sampler_that_fails_ends_all)
{
    fixture* f = fixture_new();
    for (int64_t e = 0; e < f->graph->num_edges; e++)
        if (e % 300 == 0) f->graph->indices[e] = NODES + 5;
    for (int32_t samplers = 1; samplers < 4; samplers++) {
        char words[400];
        config c = config_of(words, "--model sage --fanout 5,4 --batch 58 --pipeline factored");
        c.samplers = samplers;
        const history now = run_with(&c, &f->task, 4, 1, nothing);
        for (int32_t r = 0; r < 4; r++) CHECK(strstr(now.why[r].text, "sampling the neighbours of node ") != NULL);
        CHECK(strncmp(now.why[0].text, "rank ", 5) == 0);
    }
    fixture_free(f);
}

/* In the first batches of a pass, in its last one, and when all samplers have come over. */
TEST(devices_that_are_stopped_leave_after_the_same_step)
{
    fixture* f = fixture_new();
    for (int64_t at = 0; at < STEPS; at++) {
        char words[400];
        config c = config_of(words, "--model sage --fanout 5,4 --batch 58 --pipeline factored");
        c.samplers = at % 4;
        const history now = run_with(&c, &f->task, 4, 1, (event){-1, -1, at});
        for (int32_t r = 0; r < 4; r++) CHECK_EQ(now.steps[r], at + 1);
        for (int32_t r = 0; r < 4; r++) CHECK_STR(now.why[r].text, "");
    }
    fixture_free(f);
}

/* ==== parts of graph and features =============================================================================== */

static bool owns(int owners, int64_t v, int32_t rank, int32_t ranks)
{
    const int64_t longer = NODES % ranks, each = NODES / ranks; /* the first ranks have a node more */
    const int64_t begin = each * rank + (rank < longer ? rank : longer);
    if (owners == GGNN_OWNER_MODULO) return v % ranks == rank;
    if (owners == GGNN_OWNER_HASH) return owned_by_hash(v, ranks) == rank;
    return v >= begin && v < begin + each + (rank < longer);
}

static void count_read(tiers_reads* reads, int owners, int64_t v, int32_t rank, int32_t ranks)
{
    *(owns(owners, v, rank, ranks) ? &reads->own : &reads->peer) += 1;
}

/* What a worker will read in STEPS steps, from the ids of its slices as a loader without parts samples them. fused: its
   layers read the rows of neighbours from the store, edge by edge, and those of the targets. */
static void predict(tiers_reads* rows, tiers_reads* lists, const fixture* f, const config* c, int32_t rank, int32_t ranks,
                    bool fused)
{
    error why = {""};
    device* d = device_open_cpu(1, &why);
    loader_plan plan = {.graph = f->task.graph, .features = f->task.features, .labels = f->task.labels,
                        .how = {.method = (ggnn_method)c->sampler, .num_hops = 2, .fanout = {c->fanout[0], c->fanout[1]}, .last_hop_global = fused},
                        .batch = c->batch, .rank = rank, .ranks = ranks};
    loader* l = loader_create(d, &plan, NULL, &why);
    const mini_batch* b;
    for (int64_t step = 0, epoch = 0; step < STEPS; epoch++) {
        loader_pass pass = {.ids = f->ids, .num_ids = f->task.count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                            .epoch = (uint32_t)epoch, .rng = {(uint64_t)c->seed, (uint32_t)step, GGNN_PURPOSE_SAMPLE}};
        loader_begin(l, &pass, 0);
        for (; step < STEPS && (b = batch_take(l, &why)); step++) {
            const ggnn_block* last = &b->blocks.hop[1];
            for (int h = 0; h < 2; h++)
                for (int64_t i = 0; i < *b->blocks.hop[h].num_dst.n; i++)
                    count_read(lists, c->owners, b->blocks.hop[h].id[i], rank, ranks);
            const int64_t ids = fused ? *last->num_dst.n : *last->num_src.n;
            for (int64_t i = 0; i < ids; i++) count_read(rows, c->owners, last->id[i], rank, ranks);
            for (int64_t e = 0; fused && e < *last->num_edges.n; e++) count_read(rows, c->owners, last->neighbor[e], rank, ranks);
            batch_give(l, b);
        }
    }
    CHECK_STR(why.text, "");
    loader_free(l);
    device_close(d);
}

/* auto: a map where it is no larger, or fits into what is left; it cannot be of too many nodes. */
TEST(the_kind_of_a_table_is_what_is_asked_for_or_what_there_is_room_for)
{
    static const struct { int which; int64_t room, direct, hash; ggnn_unique_kind kind; } of[] = {
        {UNIQUE_AUTO, 70, 100, 30, GGNN_UNIQUE_DIRECT}, {UNIQUE_AUTO, 69, 100, 30, GGNN_UNIQUE_HASH}, {UNIQUE_AUTO, 0, 30, 30, GGNN_UNIQUE_DIRECT},
        {UNIQUE_AUTO, -5, 20, 30, GGNN_UNIQUE_DIRECT}, {UNIQUE_AUTO, INT64_MAX, 0, 30, GGNN_UNIQUE_HASH}, {UNIQUE_DIRECT, 0, 100, 30, GGNN_UNIQUE_DIRECT},
        {UNIQUE_HASH, 500, 10, 30, GGNN_UNIQUE_HASH}, {UNIQUE_COOPERATIVE, 500, 10, 30, GGNN_UNIQUE_HASH}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const device_unique u = {.which = of[i].which, .room = of[i].room};
        CHECK_EQ(device_unique_kind(&u, of[i].direct, of[i].hash), of[i].kind);
    }
}

/* Each slot has a table of that kind, of the bytes of ggnn_unique_bytes; batches are the same, and nothing stays. */
TEST(tables_of_either_kind_give_the_same_batches)
{
    enum { SLOTS = 3, SEEDS = 40 };
    static const int which[] = {UNIQUE_AUTO, UNIQUE_DIRECT, UNIQUE_HASH};
    ggnn_node kept[4 * SEEDS * 30] = {0};
    int64_t most = 0;
    fixture* f = fixture_new();
    for (int i = 0; i < 3; i++) {
        error why = {""};
        device* d = device_open_cpu(SLOTS, &why);
        d->unique.which = which[i];
        const ggnn_unique_kind kind = i == 2 ? GGNN_UNIQUE_HASH : GGNN_UNIQUE_DIRECT; /* 700 nodes fit the cache */
        const loader_plan plan = {.graph = f->task.graph, .batch = SEEDS, .how = {.num_hops = 2, .fanout = {5, 4}}};
        const loader_pass pass = {.num_ids = 4 * SEEDS, .shuffled = true, .keyed = true, .rng = {5, 0, GGNN_PURPOSE_SAMPLE}};
        loader* l = loader_create(d, &plan, NULL, &why);
        const mini_batch* b;
        CHECK_EQ(d->unique.bytes[kind], d->threads * (int64_t)ggnn_unique_bytes(kind, NODES, loader_shape(l)->max_ids));
        CHECK_EQ(d->unique.bytes[!kind], 0);
        int64_t n = 0;
        for (loader_begin(l, &pass, 0); (b = batch_take(l, &why)); batch_give(l, b)) {
            const int64_t ids = *b->blocks.hop[1].num_src.n;
            for (int64_t k = 0; k < ids; k++, n++) CHECK(i == 0 ? (kept[n] = b->blocks.id[k]) >= 0 : n < most && kept[n] == b->blocks.id[k]);
        }
        CHECK(n > 4 * SEEDS && (i == 0 || n == most));
        most = n;
        CHECK_STR(why.text, "");
        loader_free(l);
        CHECK(d->unique.bytes[0] == 0 && d->unique.bytes[1] == 0);
        device_close(d);
    }
    fixture_free(f);
}

/* 700 nodes over up to eight devices: parts of unequal length. */
TEST(parts_train_as_replicas_do_and_are_read_as_the_sampled_ids_say)
{
    static const struct {
        const char* options;
        bool fused;
    } kind[] = {{"--model gat --fanout 5,4", false}, {"--model sage --fanout 5,4", true},
                {"--model sage --fanout 5,4 --input-dropout .2", false}};
    fixture* f = fixture_new();
    for (int i = 0; i < 3; i++)
        for (int32_t P = 2; P <= WORKERS_MAX; P += 3) {
            char words[400], options[400];
            snprintf(options, sizeof options, "%s --batch 58", kind[i].options);
            config c = config_of(words, options);
            history replica = run(&c, &f->task, P, 1);
            c.store = STORE_PARTS;
            c.owners = (int)(P + i) % 3;
            history parts = run(&c, &f->task, P, 1 + P % 2);
            CHECK(same_bits(&replica, &parts));
            for (int32_t r = 0; r < P; r++) {
                tiers_reads rows = {0}, lists = {0};
                predict(&rows, &lists, f, &c, r, P, kind[i].fused);
                CHECK_EQ(parts.rows[r].own, rows.own);
                CHECK_EQ(parts.rows[r].peer, rows.peer);
                CHECK_EQ(parts.rows[r].host, 0);
                if (P % 2 == 0) { /* one thread: it prepares no batch that no one takes */
                    CHECK_EQ(parts.lists[r].own, lists.own);
                    CHECK_EQ(parts.lists[r].peer, lists.peer);
                }
                CHECK_EQ(replica.rows[r].own + replica.rows[r].peer, 0);
            }
        }
    fixture_free(f);
}

/* Rows are sent, each source of a batch once; lists are every worker's own. */
TEST(rows_by_exchange_train_as_replicas_do_and_are_as_many_as_the_sampled_ids_say)
{
    fixture* f = fixture_new();
    for (int i = 0; i < MODELS - 1; i++)
        for (int32_t P = 2; P <= WORKERS_MAX; P += 3) {
            char words[400], options[400];
            snprintf(options, sizeof options, "%s --batch 58 --pipeline %s", models[i], i % 2 ? "overlap" : "serial");
            config c = config_of(words, options);
            history replica = run(&c, &f->task, P, 1);
            c.gather = GATHER_EXCHANGE;
            c.owners = (int)(P + i) % 3;
            history sent = run(&c, &f->task, P, 1 + P % 2);
            CHECK(sent.same && same_bits(&replica, &sent));
            for (int32_t r = 0; r < P; r++) {
                tiers_reads rows = {0}, lists = {0};
                predict(&rows, &lists, f, &c, r, P, false);
                CHECK_EQ(sent.rows[r].own, rows.own);
                CHECK_EQ(sent.rows[r].peer, rows.peer);
                CHECK_EQ(sent.lists[r].own + sent.lists[r].peer, 0);
            }
        }
    fixture_free(f);
}

/* ==== the ring ================================================================================================== */

typedef struct {
    device* device;
    loader* loader;
    loader_pass pass;
} stream;

static stream stream_of(const fixture* f, int threads, loader_plan plan)
{
    error why = {""};
    stream s = {.pass = {.ids = f->ids, .num_ids = f->task.count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                         .rng = {4, 0, GGNN_PURPOSE_SAMPLE}}};
    plan.graph = f->task.graph;
    plan.features = f->task.features;
    plan.labels = f->task.labels;
    plan.how.num_hops = 2;
    plan.how.fanout[0] = plan.how.fanout[1] = 4;
    s.device = device_open_cpu(threads, &why);
    s.loader = loader_create(s.device, &plan, NULL, &why);
    CHECK(s.loader != NULL);
    loader_begin(s.loader, &s.pass, 0);
    return s;
}

static void stream_close(stream* s)
{
    loader_free(s->loader);
    device_close(s->device);
}

/* Slices in rank order are the batch, each knows how many of the whole one are labelled, and samples are those of the
   whole one. */
static void compare_slices(const fixture* f, int64_t batch, int32_t ranks)
{
    error why = {""};
    stream whole = stream_of(f, 1, (loader_plan){.batch = batch}), part[WORKERS_MAX];
    for (int32_t r = 0; r < ranks; r++)
        part[r] = stream_of(f, 1, (loader_plan){.batch = batch, .rank = r, .ranks = ranks});
    const mini_batch *b, *p;
    while ((b = batch_take(whole.loader, &why))) {
        const ggnn_block* all = &b->blocks.hop[0];
        int64_t at = 0, known = 0;
        for (int32_t r = 0; r < ranks && (p = batch_take(part[r].loader, &why)); r++) {
            const ggnn_block* mine = &p->blocks.hop[0];
            CHECK_EQ(*p->known.n, *b->known.n);
            for (int64_t i = 0; i < *mine->num_dst.n; i++, at++) {
                CHECK_EQ(p->blocks.id[i], b->blocks.id[at]);
                known += label_known(&f->task.labels, p->blocks.id[i]);
                int64_t degree = mine->indptr[i + 1] - mine->indptr[i];
                CHECK_EQ(degree, all->indptr[at + 1] - all->indptr[at]);
                for (int64_t k = 0; k < degree; k++)
                    CHECK_EQ(p->blocks.id[mine->indices[mine->indptr[i] + k]],
                             b->blocks.id[all->indices[all->indptr[at] + k]]);
            }
            batch_give(part[r].loader, p);
        }
        CHECK_EQ(at, *all->num_dst.n);
        CHECK_EQ(known, *b->known.n);
        batch_give(whole.loader, b);
    }
    CHECK_STR(why.text, "");
    stream_close(&whole);
    for (int32_t r = 0; r < ranks; r++) stream_close(&part[r]);
}

TEST(slices_are_the_batch_cut_in_rank_order)
{
    fixture* f = fixture_new();
    for (int32_t ranks = 1; ranks <= WORKERS_MAX; ranks++) {
        compare_slices(f, 58, ranks);
        compare_slices(f, f->task.count[SPLIT_TRAIN], ranks); /* the others have several hundred seeds */
    }
    fixture_free(f);
}

/* Held while later ones are prepared and taken, given back in another order than they came. By turns all are taken, and half of
   them: then later batches lie in the slots before. */
TEST(a_batch_is_its_takers_until_it_is_given_back)
{
    fixture* f = fixture_new();
    for (int overlap = 0; overlap < 2; overlap++) {
        error why = {""};
        loader_plan plan = {.batch = 20, .overlap = overlap, .extract = true};
        stream held = stream_of(f, 3, plan), other = stream_of(f, 1, (loader_plan){.batch = 20});
        const mini_batch *b[6], *expected;
        int64_t batches = loader_batches(other.loader, &other.pass);
        const int64_t threads = held.device->threads, slots = threads * (1 + overlap); /* 3 threads, 1 without OpenMP */
        int64_t at_once = slots;
        for (int64_t i = 0; i + at_once <= batches; i += at_once, at_once = at_once == slots ? threads : slots) {
            for (int k = 0; k < at_once; k++) CHECK((b[k] = batch_take(held.loader, &why)) != NULL);
            for (int k = 0; k < at_once; k++) {
                expected = batch_take(other.loader, &why);
                int64_t sources = *expected->blocks.hop[1].num_src.n;
                CHECK_EQ(*b[k]->blocks.hop[1].num_src.n, sources);
                CHECK(!memcmp(b[k]->blocks.id, expected->blocks.id, (size_t)sources * sizeof(ggnn_node)));
                for (int64_t v = 0; v < sources; v++)
                    CHECK(!memcmp(b[k]->rows + v * b[k]->ld_rows, f->features + b[k]->blocks.id[v] * WIDTH,
                                  WIDTH * sizeof(float)));
                batch_give(other.loader, expected);
            }
            for (int64_t k = at_once; k > 0; k--) batch_give(held.loader, b[k % at_once]);
        }
        CHECK_STR(why.text, "");
        stream_close(&held);
        stream_close(&other);
    }
    fixture_free(f);
}

/* Of the batches taken so far, whatever else is prepared: edges by hop, and what a hop reads and writes. */
TEST(a_loaders_costs_are_those_of_the_batches_taken)
{
    fixture* f = fixture_new();
    for (int i = 0; i < 8; i++) {
        error why = {""};
        loader_plan plan = {.batch = 40, .overlap = i % 2, .extract = i / 2 % 2, .rank = i / 4, .ranks = 1 + i / 4};
        plan.how.last_hop_global = i == 0;
        stream s = stream_of(f, 3, plan);
        int64_t edges = 0, bytes = 0;
        loader_cost cost = loader_cost_of(s.loader);
        CHECK(cost.edges == 0 && cost.bytes == 0 && cost.grown == 0);
        for (int pass = 0; pass < 2; pass++, loader_begin(s.loader, &s.pass, 3))
            for (const mini_batch* b; (b = batch_take(s.loader, &why)); batch_give(s.loader, b)) {
                for (int h = 0; h < 2; h++) {
                    const ggnn_block* hop = &b->blocks.hop[h];
                    const int64_t here = hop->indptr[*hop->num_dst.n];
                    edges += here;
                    bytes += here * 2 * (int64_t)sizeof(ggnn_node) + *hop->num_dst.n * 24;
                }
                cost = loader_cost_of(s.loader);
                CHECK_EQ(cost.edges, edges);
                CHECK_EQ(cost.bytes, bytes);
                CHECK_EQ(cost.grown, 0);
                CHECK(cost.seconds >= 0 && cost.sample > 0 && cost.copy <= 0 && (cost.extract > 0) == plan.extract);
            }
        CHECK_STR(why.text, "");
        stream_close(&s);
    }
    fixture_free(f);
}

typedef struct { /* batch 0 to be sampled, then as it was packed, then batch 1 to be sampled, and once more without its rows */
    const packed_batch* packed;
    int given;
} four_orders;

static bool next_of_four(void* context, loader_order* order)
{
    four_orders* o = context;
    if (o->given == 4) return false;
    *order = (loader_order){o->given / 2, 0, 1, o->given == 1 ? o->packed : NULL, o->given == 3};
    o->given++;
    return true;
}

/* An unpacked batch is the one that was packed. It costs no edges, no bytes and no time of sampling, whatever its slot had
   before; only an unpacked one costs time of copying, and only one with rows that of these. */
TEST(an_unpacked_batch_is_the_one_that_was_packed_and_costs_no_samples)
{
    fixture* f = fixture_new();
    for (int extract = 0; extract < 2; extract++) {
        error why = {""};
        packed_batch packed = {0};
        four_orders orders = {&packed, 0};
        const loader_source source = {next_of_four, &orders};
        stream s = stream_of(f, 1, (loader_plan){.batch = 40, .extract = extract});
        s.pass.source = &source;
        loader_begin(s.loader, &s.pass, 0);
        const mini_batch* b = batch_take(s.loader, &why);
        const loader_cost sampled = loader_cost_of(s.loader);
        const int64_t n = *b->blocks.hop[1].num_src.n, known = *b->known.n;
        ggnn_node* ids = malloc((size_t)n * sizeof *ids);
        memcpy(ids, b->blocks.id, (size_t)n * sizeof *ids);
        packed.bytes = batch_packed_bytes(s.loader, b);
        packed.memory = device_new_host(s.device, packed.bytes, "a packed batch", &why);
        batch_pack(s.loader, b, &packed);
        batch_give(s.loader, b);
        const loader_cost packing = loader_cost_of(s.loader);
        b = batch_take(s.loader, &why);
        const loader_cost unpacking = loader_cost_of(s.loader);
        CHECK(sampled.edges > 0 && sampled.bytes > 0 && sampled.sample > 0 && sampled.copy <= 0 && (sampled.extract > 0) == extract);
        CHECK(packing.copy > 0 && unpacking.copy > packing.copy && unpacking.sample <= sampled.sample);
        CHECK((unpacking.extract > sampled.extract) == extract);
        CHECK(loader_cost_of(s.loader).edges == sampled.edges && loader_cost_of(s.loader).bytes == sampled.bytes);
        CHECK(*b->blocks.hop[1].num_src.n == n && *b->known.n == known && !memcmp(b->blocks.id, ids, (size_t)n * sizeof *ids));
        for (int64_t v = 0; extract && v < n; v++)
            CHECK(!memcmp(b->rows + v * b->ld_rows, f->features + ids[v] * WIDTH, WIDTH * sizeof(float)));
        batch_give(s.loader, b);
        b = batch_take(s.loader, &why);
        const int64_t edges = *b->blocks.hop[0].num_edges.n + *b->blocks.hop[1].num_edges.n;
        const loader_cost again = loader_cost_of(s.loader);
        CHECK_EQ(again.edges, sampled.edges + edges);
        CHECK(again.sample > sampled.sample && again.copy <= unpacking.copy && (again.extract > unpacking.extract) == extract);
        batch_give(s.loader, b);
        b = batch_take(s.loader, &why);
        const loader_cost bare = loader_cost_of(s.loader);
        CHECK_EQ(bare.edges, sampled.edges + 2 * edges);
        CHECK(bare.sample > again.sample && bare.copy <= again.copy && bare.extract <= again.extract && bare.mark <= again.mark);
        batch_give(s.loader, b);
        CHECK(!batch_take(s.loader, &why));
        CHECK_STR(why.text, "");
        free(ids);
        device_free_host(s.device, packed.memory);
        stream_close(&s);
    }
    fixture_free(f);
}

/* By the place of their list; what walks visit are no edges of a list. */
TEST(edges_that_are_sampled_are_counted_but_not_those_of_walks)
{
    fixture* f = fixture_new();
    for (int walk = 0; walk < 2; walk++) {
        error why = {""};
        int64_t lists[8] = {0}, edges[8] = {0}, sampled = 0, read = 0, counted = 0;
        device* d = device_open_cpu(2, &why);
        loader_plan plan = {.graph = f->task.graph, .features = f->task.features, .labels = f->task.labels, .batch = 58, .edges_read = edges,
                            .how = {.method = walk ? GGNN_WALK : GGNN_FISHER_YATES, .num_hops = 2, .fanout = {4, 4}, .walk = {4, 3, .5f}}};
        const loader_pass pass = {.ids = f->ids, .num_ids = f->task.count[SPLIT_TRAIN], .rng = {4, 0, GGNN_PURPOSE_SAMPLE}};
        plan.graph.traffic = lists;
        loader* l = loader_create(d, &plan, NULL, &why);
        loader_begin(l, &pass, 0);
        for (const mini_batch* b; (b = batch_take(l, &why)); batch_give(l, b))
            for (int h = 0; h < 2; h++) sampled += *b->blocks.hop[h].num_edges.n;
        for (int k = 0; k < 8; k++) read += lists[k], counted += edges[k];
        CHECK(sampled > 0 && read > 0);
        CHECK_EQ(counted, walk ? 0 : sampled);
        CHECK_STR(why.text, "");
        loader_free(l);
        device_close(d);
    }
    fixture_free(f);
}

TEST(a_pass_may_begin_anew_while_batches_are_prepared)
{
    fixture* f = fixture_new();
    error why = {""};
    stream s = stream_of(f, 3, (loader_plan){.batch = 20, .overlap = true});
    ggnn_node first[20];
    for (int times = 0; times < 50; times++) {
        const mini_batch* b = batch_take(s.loader, &why);
        if (!CHECK(b != NULL)) break;
        if (times == 0) memcpy(first, b->blocks.id, sizeof first);
        CHECK(!memcmp(first, b->blocks.id, sizeof first));
        batch_give(s.loader, b);
        loader_begin(s.loader, &s.pass, 0);
    }
    stream_close(&s);
    fixture_free(f);
}

TEST(asking_for_a_batch_while_all_slots_are_taken_is_an_error)
{
    fixture* f = fixture_new();
    error why = {""};
    stream s = stream_of(f, 2, (loader_plan){.batch = 20});
    const mini_batch *a = batch_take(s.loader, &why), *b = a;
    for (int32_t i = 1; i < s.device->threads; i++) b = batch_take(s.loader, &why);
    CHECK(a && b);
    CHECK(!batch_take(s.loader, &why));
    CHECK(strstr(why.text, "all others are in use") != NULL);
    why.text[0] = 0;
    batch_give(s.loader, a);
    CHECK(batch_take(s.loader, &why) == a);
    stream_close(&s);
    s = stream_of(f, 3, (loader_plan){.batch = 20, .overlap = true}); /* two slots per thread, of which there is one without OpenMP */
    for (int32_t i = 0; i < 2 * s.device->threads; i++) CHECK(batch_take(s.loader, &why) != NULL);
    CHECK_STR(why.text, "");
    CHECK(!batch_take(s.loader, &why) && strstr(why.text, "all others are in use"));
    stream_close(&s);
    fixture_free(f);
}

TEST(a_list_that_is_broken_is_an_error_however_batches_are_prepared)
{
    fixture* f = fixture_new();
    for (int64_t e = 0; e < f->graph->num_edges; e++)
        if (e % 40 == 0) f->graph->indices[e] = NODES + 5;
    for (int overlap = 0; overlap < 2; overlap++) {
        error why = {""};
        const mini_batch* b;
        stream s = stream_of(f, 3, (loader_plan){.batch = 58, .overlap = overlap});
        while ((b = batch_take(s.loader, &why))) batch_give(s.loader, b);
        CHECK(strstr(why.text, "sampling the neighbours of node ") != NULL);
        why.text[0] = 0;
        CHECK(!batch_take(s.loader, &why)); /* that was the end of the pass */
        CHECK_STR(why.text, "");
        stream_close(&s);
    }
    fixture_free(f);
    for (int k = 0; k < 4; k++) { /* the first node and the last one are named as well */
        char begin[100];
        error why = {""};
        const ggnn_node v = k / 2 ? NODES - 1 : 0;
        f = fixture_new();
        f->ids[0] = v;
        const int64_t* indptr = f->task.graph.whole.indptr;
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) f->graph->indices[e] = NODES;
        CHECK(indptr[v + 1] > indptr[v]);
        f->task.count[SPLIT_TRAIN] = 1;
        stream s = stream_of(f, 2, (loader_plan){.batch = 58, .overlap = k % 2});
        CHECK(!batch_take(s.loader, &why));
        snprintf(begin, sizeof begin, "sampling the neighbours of node %d: ", (int)v);
        if (!CHECK(!strncmp(why.text, begin, strlen(begin)))) printf("  %s\n", why.text);
        stream_close(&s);
        fixture_free(f);
    }
}

/* Of any epoch, whether its pass is keyed or not: that of a loader which begins there. */
TEST(a_slice_sampled_without_a_loader_is_that_of_the_loader)
{
    fixture* f = fixture_new();
    const int64_t n = f->task.count[SPLIT_TRAIN], size = 59, batches = (n + size - 1) / size;
    for (int keyed = 0; keyed < 2; keyed++)
        for (int32_t rank = 0; rank < 3; rank++) {
            error why = {""};
            ggnn_batch own;
            ggnn_node seeds[64];
            stream s = stream_of(f, 2, (loader_plan){.batch = size, .rank = rank, .ranks = 3});
            const loader_pass from = s.pass;
            loader_pass first = from;
            first.keyed = keyed;
            const ggnn_sampling how = loader_shape(s.loader)->how;
            CHECK_EQ(ggnn_batch_plan(&own, &f->task.graph, &how, (size + 2) / 3, NULL), GGNN_OK);
            void* memory = malloc(own.bytes);
            ggnn_batch_init(&own, memory);
            for (int64_t i = 0; i < 2 * batches; i++) {
                if (i % batches == 0) {
                    s.pass = from;
                    s.pass.epoch += (uint32_t)(i / batches);
                    s.pass.rng.step += (uint32_t)i;
                    loader_begin(s.loader, &s.pass, 0);
                }
                const mini_batch* b = batch_take(s.loader, &why);
                CHECK_EQ(loader_sample_slice(&own, seeds, &f->task.graph, &first, size, i, rank, 3), GGNN_OK);
                if (!CHECK(b != NULL)) break;
                const int64_t ids = *b->blocks.hop[1].num_src.n;
                const bool good = *own.hop[1].num_src.n == ids && *own.hop[0].num_dst.n == *b->blocks.hop[0].num_dst.n;
                if (!CHECK(good && !memcmp(own.id, b->blocks.id, (size_t)ids * sizeof *own.id))) printf("  keyed %d, rank %d, batch %d\n", keyed, (int)rank, (int)i);
                batch_give(s.loader, b);
            }
            free(memory);
            stream_close(&s);
        }
    fixture_free(f);
}

/* ==== what a device has room for ================================================================================= */

static own_tables limited; /* a CPU's, of a device that has so many bytes */
static int64_t room_given;
static int64_t limited_room(device* d) { return (void)d, room_given; }

typedef struct {
    const config* c;
    const task* t;
    comm* comm;
    int32_t number; /* of the device */
    worker worker;
    error why;
} opening;

static void* open_one(void* context)
{
    opening* o = context;
    error ignored = {""};
    device* d = device_open_cpu(1, &o->why);
    d->ops = &limited.ops;
    d->number = o->number;
    if (!worker_open(&o->worker, o->c, o->t, d, o->comm, &o->why)) comm_fail(o->comm, &o->why);
    comm_barrier(o->comm, &ignored);
    return NULL;
}

static int64_t room_of_map; /* of a device that was opened last, for its first rank's direct map of ids */

/* All ranks open, or all say `refused`. */
static void check_opens(const config* c, const task* t, int32_t ranks, bool shared, const char* refused)
{
    static opening o[WORKERS_MAX];
    comm of[WORKERS_MAX];
    pthread_t thread[WORKERS_MAX];
    error why = {""};
    memset(o, 0, sizeof o);
    if (ranks > 1) CHECK(comm_open_threads(of, ranks, &never, &why));
    else comm_open_alone(of, &never);
    for (int32_t r = 0; r < ranks; r++) {
        o[r].c = c, o[r].t = t, o[r].comm = &of[r], o[r].number = shared ? 0 : r;
        CHECK_EQ(pthread_create(&thread[r], NULL, open_one, &o[r]), 0);
    }
    for (int32_t r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    for (int32_t r = 0; r < ranks; r++) {
        CHECK_STR(o[r].why.text, refused);
        if (r == 0 && o[r].worker.device) room_of_map = o[r].worker.device->unique.room;
        worker_close(&o[r].worker);
    }
    if (ranks > 1) comm_close_threads(of, ranks);
}

typedef struct { int64_t needs, rows, by_parts; } device_need; /* rows: of evaluation, in needs, too */

/* The first device without room, and what would help, by what each needs. */
static const char* refusal(char text[200], const device_need* of, int32_t devices)
{
    char needs[16], has[16];
    text[0] = 0;
    for (int32_t k = 0; k < devices && !text[0]; k++)
        if (of[k].needs > room_given)
            snprintf(text, 200, "device %d needs %sB at least, has %sB: try %s", (int)k, progress_amount(needs, (double)of[k].needs),
                     progress_amount(has, (double)room_given), of[k].needs - of[k].rows <= room_given ? "--eval sampled"
                     : of[k].by_parts <= room_given ? "--store parts" : "more devices with --store parts, and --eval sampled");
    return text;
}

/* Of one device of its own each, or of one for all; graph and features whole, or a part in each rank; with rows between layers
   and without. To the byte: what is just enough, and a byte less, for all, without these rows, and by parts. */
TEST(a_device_without_room_is_refused_with_what_would_help)
{
    fixture* f = fixture_new();
    tiers_source from = {.graph = f->task.graph, .features = f->task.features, .labels = f->task.trained};
    from.ids[SPLIT_TRAIN] = f->ids;
    from.count[SPLIT_TRAIN] = f->task.count[SPLIT_TRAIN];
    error why = {""};
    device* d = device_open_cpu(1, &why);
    own_tables_of(&limited, d);
    limited.memory.room = limited_room;
    device_close(d);
    for (int i = 0; i < 16; i++) {
        const int32_t ranks = i & 1 ? 3 : 1, devices = i & 2 ? 1 : ranks;
        char words[400], text[200];
        config c = config_of(words, "--model sage --fanout 3,3 --batch 58");
        c.store = i & 4 ? STORE_PARTS : STORE_REPLICA;
        c.eval_every = i & 8 ? 1 : 0;
        device_need of[WORKERS_MAX] = {{0, 0, 0}};
        for (int32_t r = 0; r < ranks; r++) {
            const int64_t part = tiers_bytes(&from, r, ranks), rows = c.eval_every ? NODES * 16 * (int64_t)sizeof(float) : 0;
            device_need* k = &of[devices > 1 ? r : 0];
            k->needs += (c.store == STORE_PARTS ? part : tiers_bytes(&from, 0, 1)) + rows;
            k->rows += rows;
            k->by_parts += part + rows;
        }
        for (int32_t k = 0; k < devices; k++)
            for (int which = 0; which < 8; which++) {
                const int64_t limit[] = {of[k].needs, of[k].needs - of[k].rows, of[k].by_parts, of[k].needs + 5000};
                room_given = limit[which / 2] - which % 2;
                const char* refused = refusal(text, of, devices);
                check_opens(&c, &f->task, ranks, devices < ranks, refused);
                if (!refused[0]) CHECK_EQ(room_of_map, (room_given - of[0].needs) / 4 / (ranks / devices)); /* a quarter of what is left */
            }
    }
    fixture_free(f);
}

/* Machines of two devices of one number: rows are over the devices of all machines, the graph is on each. Each part counts by its
   rank among all; the two of a machine and number share what that has. */
TEST(shards_need_room_by_all_machines_and_have_it_by_their_own)
{
    fixture* f = fixture_new();
    char words[400], needs[16], has[16], refused[200];
    error why = {""};
    const config c = config_of(words, "--model sage --fanout 3,3 --batch 58 --store shards --owners modulo");
    tiers_source from = {.graph = f->task.graph, .features = f->task.features, .labels = f->task.trained};
    from.ids[SPLIT_TRAIN] = f->ids;
    from.count[SPLIT_TRAIN] = f->task.count[SPLIT_TRAIN];
    from.owners = (ggnn_owner)c.owners;
    from.machines = from.exchange = true;
    device* d = device_open_cpu(1, &why);
    own_tables_of(&limited, d);
    limited.memory.room = limited_room;
    device_close(d);
    for (int together = 0; together < 2; together++) {
        opening o[4];
        comm of[4];
        pthread_t thread[4];
        const int64_t first = tiers_bytes(&from, 0, 4), both = first + (together ? tiers_bytes(&from, 1, 4) : 0);
        room_given = both - 1;
        snprintf(refused, sizeof refused, "device 0 needs %sB at least, has %sB: try more devices with --store parts, and --eval sampled",
                 progress_amount(needs, (double)both), progress_amount(has, (double)room_given));
        memset(o, 0, sizeof o);
        CHECK(comm_open_threads(of, 4, &never, &why));
        for (int32_t r = 0; r < 4; r++) {
            of[r].machines = 2;
            of[r].machine = r / 2;
            of[r].local = r % 2;
            of[r].locals = 2;
            o[r].c = &c, o[r].t = &f->task, o[r].comm = &of[r], o[r].number = together ? 0 : r % 2;
            CHECK_EQ(pthread_create(&thread[r], NULL, open_one, &o[r]), 0);
        }
        for (int32_t r = 0; r < 4; r++) pthread_join(thread[r], NULL);
        for (int32_t r = 0; r < 4; r++) {
            CHECK_STR(o[r].why.text, refused);
            worker_close(&o[r].worker);
        }
        comm_close_threads(of, 4);
    }
    fixture_free(f);
}

/* Two matrices of rows between three layers or more, one of two, none of one, or one and the widest that is transformed; at
   most --eval-memory bytes. */
TEST(rows_between_layers_are_a_devices_up_to_eval_memory)
{
    static const struct {
        net_model model;
        net_aggregator aggregator;
        int32_t layers, columns; /* of 16 hidden ones, 12 features, 4 heads of 5 outputs */
    } of[] = {{NET_SAGE, NET_MEAN, 1, 0}, {NET_SAGE, NET_MEAN, 2, 16}, {NET_SAGE, NET_MEAN, 3, 32}, {NET_GCN, 0, 8, 32},
              {NET_GAT, 0, 1, 20}, {NET_GAT, 0, 2, 36}, {NET_GAT, 0, 3, 36}, {NET_SAGE, NET_POOL, 1, 12}, {NET_SAGE, NET_POOL, 4, 32}};
    fixture* f = fixture_new();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char words[400];
        config c = config_of(words, "--eval-every 1");
        const net_config network = {.model = of[i].model, .aggregator = of[i].aggregator, .layers = of[i].layers, .hidden = 16, .outputs = CLASSES, .out_heads = 4};
        const int64_t bytes = of[i].columns * NODES * (int64_t)sizeof(float);
        c.layers = of[i].layers;
        c.eval_memory = bytes;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), bytes);
        c.eval_memory = bytes - 1;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), 0);
        c.eval_memory = bytes + 1;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), bytes);
        c.eval = EVAL_SAMPLED;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), 0);
        c.eval = EVAL_FULL;
        c.full_batch = true;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), 0);
        c.full_batch = false;
        c.eval_every = 0;
        CHECK_EQ(evaluation_bytes(&c, &f->task, &network), 0);
    }
    fixture_free(f);
}

/* Edges of the fullest chunk of `chunk` nodes, of all nodes in a row. */
static int64_t fullest_chunk(const ggnn_graph* g, int64_t chunk)
{
    const int64_t* indptr = g->whole.indptr;
    int64_t most = 0;
    for (int64_t from = 0; from < g->num_nodes; from += chunk) {
        const int64_t end = from + chunk < g->num_nodes ? from + chunk : g->num_nodes;
        if (indptr[end] - indptr[from] > most) most = indptr[end] - indptr[from];
    }
    return most;
}

/* 4,096 nodes; on a tight device half as many as often as lists of two chunks, and once more as indices, are above a quarter of
   --eval-memory, but 64 at least. */
TEST(evaluation_has_chunks_whose_lists_are_a_quarter_of_its_memory)
{
    enum { MANY = 9000 };
    fixture* f = fixture_new();
    random_graph* g = random_graph_new(MANY, 3, 20);
    float* rows = calloc(MANY * WIDTH, sizeof *rows);
    const int64_t edge = 2 * (int64_t)sizeof(ggnn_node) + 4;
    comm alone;
    comm_open_alone(&alone, &never);
    f->task.graph = g->graph;
    f->task.features = ggnn_store_plain(rows, MANY, WIDTH, GGNN_F32);
    f->task.set.num_nodes = MANY;
    for (int tight = 0; tight < 2; tight++)
        for (int64_t chunk = 8192; chunk >= 16; chunk /= 2)
            for (int less = 0; less < 2; less++) {
                char words[400];
                error why = {""};
                tiers* t;
                config c = config_of(words, "--model sage --fanout 3,3 --eval-every 1");
                device* d = device_open_cpu(1, &why);
                const tiers_source from = {.graph = f->task.graph, .features = f->task.features};
                net_config network = {.device = d, .model = NET_SAGE, .aggregator = NET_MEAN, .layers = 2, .hidden = 16, .outputs = CLASSES};
                d->tight = tight;
                CHECK(tiers_open(&t, d, &from, &why));
                c.eval_memory = 4 * edge * fullest_chunk(&g->graph, chunk) - less;
                int64_t should = 4096;
                while (tight && should > 64 && edge * fullest_chunk(&g->graph, should) > c.eval_memory / 4) should /= 2;
                evaluation* e = evaluation_create(&c, &f->task, tiers_view_of(t), &network, NULL, &alone, &why);
                if (CHECK(e != NULL)) CHECK_EQ(evaluation_chunk(e)->blocks->hop[0].num_dst.max, should);
                else printf("  %s\n", why.text);
                evaluation_free(e);
                tiers_close(t);
                device_close(d);
            }
    free(rows);
    random_graph_free(g);
    fixture_free(f);
}

static batch_sizes room_seen; /* of the last ring that opened a slot */
static slot* see_room(ring* r, error* why)
{
    room_seen = r->room;
    device* plain = device_open_cpu(1, why);
    slot* s = plain->ops->batches->slot_open(r, why);
    device_close(plain);
    return s;
}

/* By plain loops over what is evaluated: all nodes for all layers but the last, and the nodes of either part for that. A list of
   sources is there where rows are exchanged. */
TEST(chunks_of_a_tight_device_have_room_for_the_fullest_and_its_sources)
{
    enum { MANY = 9000, HUBS = 70 };
    static const struct { net_model model; net_aggregator aggregator; bool preprocessed; } of[] = {
        {NET_SAGE, NET_MEAN, false}, {NET_SAGE, NET_MEAN, true}, {NET_SAGE, NET_POOL, false}, {NET_GAT, 0, false}, {NET_MLP, 0, false}};
    fixture* f = fixture_new();
    random_graph* g = random_graph_new(MANY, 3, 20);
    float* rows = calloc(MANY * WIDTH, sizeof *rows);
    static ggnn_node few[HUBS], hubs[HUBS];
    device* plain = device_open_cpu(1, &(error){""});
    comm alone;
    comm_open_alone(&alone, &never);
    own_tables_of(&limited, plain);
    limited.batches.slot_open = see_room;
    device_close(plain);
    const int64_t* indptr = g->graph.whole.indptr;
    int32_t found[2] = {0, 0};
    for (int64_t v = 0; v < MANY && (found[0] < HUBS || found[1] < HUBS); v++) {
        const bool hub = indptr[v + 1] - indptr[v] > 3;
        if (found[hub] < HUBS) (hub ? hubs : few)[found[hub]++] = (ggnn_node)v;
    }
    CHECK(found[0] == HUBS && found[1] == HUBS);
    f->task.graph = g->graph;
    f->task.features = ggnn_store_plain(rows, MANY, WIDTH, GGNN_F32);
    f->task.set.num_nodes = MANY;
    for (int i = 0; i < 5 * 2 * 2 * 2 * 2; i++) {
        char words[400];
        error why = {""};
        tiers* t;
        const int kind = i / 16, layers = 1 + i % 2, exchanged = i / 2 % 2, hub_part = i / 4 % 2 ? SPLIT_TEST : SPLIT_VAL;
        config c = config_of(words, "--model sage --fanout 3,3 --eval-every 1");
        device* d = device_open_cpu(1, &why);
        const tiers_source from = {.graph = f->task.graph, .features = f->task.features};
        net_config network = {.device = d, .model = of[kind].model, .aggregator = of[kind].aggregator, .preprocessed = of[kind].preprocessed,
                              .layers = layers, .hidden = 16, .outputs = CLASSES, .heads = 2, .out_heads = 2};
        d->tight = true;
        d->ops = &limited.ops;
        CHECK(tiers_open(&t, d, &from, &why));
        c.layers = layers;
        for (int part = SPLIT_VAL; part <= SPLIT_TEST; part++) {
            f->task.ids[part] = part == hub_part ? hubs : few;
            f->task.count[part] = HUBS;
        }
        c.eval_memory = i / 8 % 2 ? (int64_t)1 << 30 : 1;
        const bool looks = network.model != NET_MLP && !(network.preprocessed && layers == 1);
        const int64_t chunk = looks && c.eval_memory == 1 ? 64 : 4096;
        int64_t most = layers > 1 ? fullest_chunk(&g->graph, chunk) : 0;
        for (int64_t k = 0, edges = 0; k < HUBS; k++) {
            edges = (k % chunk ? edges : 0) + indptr[hubs[k] + 1] - indptr[hubs[k]];
            if (edges > most) most = edges;
        }
        tiers_view view = *tiers_view_of(t);
        if (exchanged) view.exchange = (exchange*)(void*)&alone; /* which is not called */
        memset(&room_seen, 0, sizeof room_seen);
        evaluation* e = evaluation_create(&c, &f->task, &view, &network, NULL, &alone, &why);
        const bool numbered = exchanged && !net_transformed(&network, WIDTH);
        const bool good = CHECK(e != NULL) & CHECK_EQ(room_seen.ids[0], chunk) & CHECK_EQ(room_seen.edges[0], looks ? most : 1) &
                          CHECK_EQ(room_seen.ids[1], !numbered ? chunk : chunk + most < MANY ? chunk + most : MANY);
        if (!good) printf("  case %d: model %d, %d layers, chunk %d: %s\n", i, (int)network.model, layers, (int)chunk, why.text);
        evaluation_free(e);
        tiers_close(t);
        device_close(d);
    }
    free(rows);
    random_graph_free(g);
    fixture_free(f);
}

static bool copies; /* in place of the host's memory */
static const void* pin_here(device* d, const void* host, size_t bytes, const char* what, bool* copied, error* why)
{
    (void)d, (void)bytes, (void)what, (void)why;
    *copied = *copied || copies;
    return host;
}

TEST(a_copy_of_the_hosts_memory_is_said_where_one_is_made)
{
    fixture* f = fixture_new();
    device* plain = device_open_cpu(1, &(error){""});
    own_tables_of(&limited, plain);
    limited.memory.pin = pin_here;
    device_close(plain);
    for (int i = 0; i < 2; i++) {
        char words[400];
        error why = {""};
        comm alone;
        worker w;
        const config c = config_of(words, "--model sage --fanout 3,3 --batch 58 --store-features .5");
        device* d = device_open_cpu(1, &why);
        comm_open_alone(&alone, &never);
        d->ops = &limited.ops;
        copies = i;
        CHECK(worker_open(&w, &c, &f->task, d, &alone, &why));
        CHECK_STR(w.planned.note[0], i ? "the host's memory cannot be pinned where it is: a pinned copy is read" : "");
        worker_close(&w);
    }
    fixture_free(f);
}

/* Memory is taken for what there is, not for what --batch allows. */
TEST(a_batch_is_no_larger_than_all_training_nodes)
{
    static const char* const batch[] = {"1", "58", "16777216"};
    fixture* f = fixture_new();
    comm alone;
    comm_open_alone(&alone, &never);
    for (int i = 0; i < 3; i++) {
        char words[400], options[100];
        error why = {""};
        worker w;
        snprintf(options, sizeof options, "--model sage --fanout 3,3 --batch %s", batch[i]);
        const config c = config_of(words, options);
        CHECK(worker_open(&w, &c, &f->task, device_open_cpu(1, &why), &alone, &why));
        CHECK_EQ(loader_batch(w.loader), i < 2 ? c.batch : f->task.count[SPLIT_TRAIN]);
        worker_close(&w);
    }
    fixture_free(f);
}

/* By the training's own options: its batches, those of rank 2 of three, and the memory that it leaves beside two rankings. */
TEST(slopes_are_measured_with_the_trainings_batches_in_what_it_leaves_of_the_device)
{
    static const char* const options[] = {"--fanout 5,4 --batch 58", "--fanout 3,7 --batch 100000 --sampler reservoir --device-memory 50000 --reserve-bytes 777",
                                          "--fanout 2,2 --device-memory 6000 --reserve-bytes 0"};
    fixture* f = fixture_new();
    const int64_t n = f->task.count[SPLIT_TRAIN], rankings = 3 * NODES * (int64_t)sizeof(ggnn_node);
    for (int i = 0; i < 3; i++) {
        char words[400], line[300];
        error why = {""};
        worker w;
        comm alone, three[3];
        comm_open_alone(&alone, &never);
        snprintf(line, sizeof line, "--cache dual --cache-ratio .1 --store-graph .5 --slopes measure %s", options[i]);
        const config c = config_of(words, line);
        const tiers_source from = {.graph = f->task.graph};
        CHECK(worker_open(&w, &c, &f->task, device_open_cpu(1, &why), &alone, &why));
        CHECK(comm_open_threads(three, 3, &never, &why));
        w.comm = &three[2];
        const slopes_plan plan = worker_slopes_plan(&w, &c, &f->task, &from, 123);
        w.comm = &alone;
        const int64_t left = i ? c.device_memory - c.reserve_bytes - rankings - 123 : 0;
        CHECK_EQ(plan.room, i ? left > 0 ? left : 0 : 1 << 30);
        CHECK(plan.from == &from && plan.list == SPLIT_TRAIN && plan.rank == 2 && plan.ranks == 3);
        CHECK_EQ(plan.batch, c.batch < n ? c.batch : n);
        CHECK(plan.how.num_hops == 2 && plan.how.fanout[0] == c.fanout[0] && plan.how.fanout[1] == c.fanout[1] && (int)plan.how.method == c.sampler);
        CHECK(plan.pass.num_ids == n && plan.pass.shuffled && plan.pass.keyed && plan.pass.epoch == 0 && plan.pass.parts == 0 && !plan.pass.source);
        CHECK(plan.pass.rng.seed == 9 && plan.pass.rng.step == 0);
        comm_close_threads(three, 3);
        worker_close(&w);
    }
    fixture_free(f);
}

/* A quarter more than is asked for, and where it is until more is; of a device and of the host. */
TEST(memory_that_grows_does_so_by_a_quarter)
{
    static const size_t sizes[] = {0, 1, 64, 65, 1000, 1314, 1315, 7};
    error why = {""};
    device* d = device_open_cpu(1, &why);
    for (int host = 0; host < 2; host++) {
        device_growing g = {NULL, 0};
        size_t room = 0;
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const bool fits = g.memory && sizes[i] <= room;
            const long before = memory_calls();
            unsigned char* at = device_grow(host ? NULL : d, &g, sizes[i], "growing", &why);
            CHECK_EQ(memory_calls() - before, !fits);
            if (!fits) room = sizes[i] + sizes[i] / 4 + 64;
            CHECK(at && at == g.memory);
            CHECK_EQ(g.bytes, room);
            if (at) memset(at, 7, room);
        }
        for (int most = 0; most < 3; most++) { /* a quarter more would be too many, or few again */
            const size_t sizes_that_cannot_be[] = {SIZE_MAX / 2 + 1, SIZE_MAX / 5 * 4 + 1, SIZE_MAX - 1};
            CHECK(!device_grow(host ? NULL : d, &g, sizes_that_cannot_be[most], "growing", &why));
            CHECK(strstr(why.text, "out of memory") != NULL && strstr(why.text, "growing") != NULL);
            CHECK(!g.memory);
            why.text[0] = 0;
        }
        CHECK(device_grow(host ? NULL : d, &g, 3, "growing", &why) != NULL);
        CHECK_EQ(g.bytes, 67);
        device_free_growing(host ? NULL : d, &g);
        CHECK(!g.memory);
    }
    device_close(d);
}

TEST(opening_a_worker_survives_any_failing_allocation)
{
    fixture* f = fixture_new();
    char words[400];
    config c = config_of(words, "--model gat --fanout 3,3 --batch 20 --pipeline overlap");
    comm alone;
    comm_open_alone(&alone, &never);
    for (long i = 1; i < 200; i++) {
        char number[24];
        error why = {""};
        worker w;
        device* d = device_open_cpu(2, &why);
        snprintf(number, sizeof number, "%ld", memory_calls() + i);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        bool good = worker_open(&w, &c, &f->task, d, &alone, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        worker_close(&w);
        CHECK(good == !strstr(why.text, "out of memory"));
        if (good) {
            CHECK(i > 8);
            break;
        }
    }
    fixture_free(f);
}

/* ==== what evaluation costs ===================================================================================== */

typedef struct { /* of a training */
    net_profile net;
    loader_cost batches;
    counted_cost apart;
    int64_t steps, parameters;
    double loss;
} costs;

static costs train_with(const fixture* f, const char* options)
{
    char words[400];
    const config c = config_of(words, options);
    comm alone;
    training t;
    error why = {""};
    comm_open_alone(&alone, &never);
    CHECK(training_open(&t, &c, &f->task, device_open_cpu(1, &why), &alone, NULL, NULL, NULL, &why));
    alone.cost = (comm_cost){.bytes = 5000, .seconds = 1000, .waited = 2000}; /* what was before is no part of it */
    CHECK(training_run(&t, &why));
    CHECK(t.all[0].sent == 0 && t.all[0].comm >= 0 && t.all[0].comm < 500 && t.all[0].waited >= 0 && t.all[0].waited < 500);
    CHECK_STR(why.text, "");
    const worker_costs of = worker_costs_of(&t.worker);
    const costs all = {*of.net, of.batches, *of.evaluation, t.steps, net_state_of(t.worker.net).count, t.at.best_loss};
    CHECK(t.all[0].evaluation == all.apart.seconds && t.all[0].seconds > all.apart.seconds && t.all[0].train == all.net.train);
    training_close(&t);
    return all;
}

/* Products of one layer over all nodes, and of the last over those of the split: twice the validation nodes, once those of the test. */
static int64_t evaluated_products(const fixture* f, int32_t in, bool beside)
{
    const int64_t last = 2 * f->task.count[SPLIT_VAL] + f->task.count[SPLIT_TEST], wide = beside ? 2 : 1;
    return 2 * (3 * (int64_t)NODES * wide * in * 16 + last * wide * 16 * CLASSES);
}

/* However often and however it evaluates, a training's own costs are those without an evaluation. */
TEST(what_counted_costs_is_counted_apart_from_training)
{
    static const struct {
        const char* options;
        bool full, beside; /* evaluation by layers; GraphSAGE's two weights */
    } kind[] = {{"--model sage --fanout 5,4", true, true}, {"--model sage --fanout 5,4 --eval sampled", false, true}, {"--model gcn --fanout 5,4", true, false},
                {"--model gat --fanout 5,4 --eval sampled --pipeline overlap", false, false}, {"--model sage --aggregator pool --fanout 5,4", false, true},
                {"--model gcn --fanout full", false, false}, {"--model mlp --fanout 1,1 --input-dropout .3", true, false}};
    fixture* f = fixture_new();
    ggnn_node ids[2][NODES];
    for (int v = 0; v < NODES; v += 3) {
        const int part = v % 9 ? SPLIT_VAL : SPLIT_TEST;
        ids[part - SPLIT_VAL][f->task.count[part]++] = (ggnn_node)v;
    }
    f->task.ids[SPLIT_VAL] = ids[0];
    f->task.ids[SPLIT_TEST] = ids[1];
    for (size_t i = 0; i < sizeof kind / sizeof *kind; i++) {
        char options[300];
        snprintf(options, sizeof options, "%s --batch 150 --epochs 2 --eval-every 0", kind[i].options);
        const costs plain = train_with(f, options);
        snprintf(options, sizeof options, "%s --batch 150 --epochs 2 --eval-every 1", kind[i].options);
        const costs with = train_with(f, options);
        int before = test_errors;
        CHECK(with.steps == plain.steps && with.steps == (strstr(kind[i].options, "full") ? 2 : 2 * 4) && with.loss > 0);
        for (int half = 0; half < 2; half++)
            for (int s = 0; s < NET_NUM_STAGES; s++) {
                CHECK_EQ(with.net.bytes[half][s] - with.apart.net.bytes[half][s], plain.net.bytes[half][s]);
                CHECK(with.apart.net.seconds[half][s] <= with.net.seconds[half][s] && (half == 0 || with.apart.net.bytes[half][s] == 0));
                CHECK(plain.apart.net.bytes[half][s] == 0 && plain.apart.net.seconds[half][s] == 0);
            }
        CHECK_EQ(with.net.flops[0] - with.apart.net.flops[0], plain.net.flops[0]);
        CHECK_EQ(with.net.flops[1], plain.net.flops[1]);
        CHECK_EQ(with.batches.bytes, plain.batches.bytes);
        CHECK(with.apart.net.flops[0] > 0 && with.apart.net.flops[1] == 0 && plain.apart.net.flops[0] == 0 && with.apart.seconds > 0 && plain.apart.seconds == 0);
        CHECK_EQ(with.apart.loader.bytes > 0, strstr(kind[i].options, "--eval sampled") != NULL);
        CHECK(with.batches.sample >= 0 && with.batches.seconds >= 0 && with.apart.loader.sample >= 0 && with.apart.loader.seconds >= 0);
        CHECK_EQ(with.net.bytes[1][NET_OPTIMIZER], 28 * with.parameters * with.steps);
        if (kind[i].full) CHECK_EQ(with.apart.net.flops[0], evaluated_products(f, WIDTH, kind[i].beside));
        if (test_errors > before) printf("  %s\n", kind[i].options);
    }
    fixture_free(f);
}

/* A source of orders: whole batches, every third from the second on, to the end of the pass or around. */
TEST(whole_batches_come_in_turn_once_or_around)
{
    static const int64_t once[] = {1, 4, 7, -1, -1}, around[] = {1, 4, 7, 2, 5};
    for (int i = 0; i < 2; i++) {
        loader_turns turns = {1, 3, 8, i};
        for (int k = 0; k < 5; k++) {
            const int64_t expected = (i ? around : once)[k];
            loader_order order = {-1, -1, -1, &(packed_batch){0}, false};
            CHECK_EQ(loader_next_whole(&turns, &order), expected >= 0);
            CHECK_EQ(order.batch, expected);
            if (expected >= 0) CHECK(order.slice == 0 && order.slices == 1 && !order.packed && order.bare);
        }
    }
}

/* Of a device of its own what all but graph and features took at most is left out, of --device-memory too; and who shares the machine. */
TEST(explain_counts_what_else_a_device_holds)
{
    static const struct { int64_t room, limit, most, other, reserve; } of[] = { /* most: bytes at most beside the data */
        {1000000, 0, -10, 0, 0}, {1000000, 0, 5000, 5000, 0}, {1000000, 0, 5000, 5000, 700}, {1000000, 900000, 5000, 5000, 700}, {900000, 1000000, 1, 1, 0},
        {INT64_MAX, 900000, 5000, 0, 700}, {4000, 0, 5000, 5000, 0}};
    fixture* f = fixture_new();
    device* plain = device_open_cpu(1, &(error){""});
    own_tables_of(&limited, plain);
    limited.memory.room = limited_room;
    device_close(plain);
    for (size_t k = 0; k < 2 * (sizeof of / sizeof *of); k++) { /* first without rankings */
        char words[400];
        const size_t i = k / 2;
        config c = config_of(words, k % 2 ? "--model sage --fanout 5,4 --batch 150 --explain --cache degree --cache-ratio .1"
                                          : "--model sage --fanout 5,4 --batch 150 --explain");
        comm alone;
        training t;
        error why = {""};
        explanation e;
        device* d = device_open_cpu(1, &why);
        comm_open_alone(&alone, &never);
        d->ops = &limited.ops;
        room_given = INT64_MAX;
        CHECK(training_open(&t, &c, &f->task, d, &alone, NULL, NULL, NULL, &why) && training_run(&t, &why));
        room_given = of[i].room;
        const int64_t data = NODES * f->task.features.pitch + f->task.graph.num_edges * (int64_t)sizeof(ggnn_node) + 16 * NODES;
        t.all[0].rows.placed_bytes = (tiers_reads){NODES * f->task.features.pitch - 100, 100, 5, 7};
        t.all[0].lists.placed_bytes = (tiers_reads){60, data - NODES * f->task.features.pitch - 60, 9, 11};
        const int64_t rankings = tier_plan_rankings(&t.worker.planned); /* which each setting counts by itself */
        CHECK_EQ(rankings > 0, k % 2);
        d->most_bytes = data + rankings + of[i].most;
        d->bytes = data;
        c.device_memory = of[i].limit;
        c.reserve_bytes = of[i].reserve;
        alone.locals = 1 + (int32_t)i % 3;
        CHECK(explain(&e, &t, &why));
        CHECK_STR(why.text, "");
        const int64_t all = of[i].limit && of[i].limit < of[i].room ? of[i].limit : of[i].room, left = all - of[i].other - of[i].reserve;
        CHECK_EQ(e.given.memory, left > 0 ? left : 0);
        CHECK_EQ(e.given.devices, alone.locals);
        alone.locals = 1;
        training_close(&t);
    }
    fixture_free(f);
}

typedef struct {
    comm* c;
    const task* t;
    bool other; /* says so instead */
    bool good;
    error why;
} agreeing;

static void* agree_on_version(void* context)
{
    agreeing* a = context;
    static const config c = {.data = "the data"};
    static const ggnn_file none;
    a->good = a->other ? comm_same(a->c, "version 7", &a->why) : agree_on_inputs(a->c, &c, a->t, &none, &a->why);
    return NULL;
}

TEST(ranks_compare_versions_and_widths_of_ids_first)
{
    fixture* f = fixture_new();
    char is[80], words[200];
    snprintf(is, sizeof is, "version %s, %d-bit ids", GGNN_VERSION, sizeof(ggnn_node) == 8 ? 64 : 32);
    for (int other = 0; other < 2; other++) {
        comm c[2];
        agreeing a[2];
        pthread_t thread[2];
        error why = {""};
        CHECK(comm_open_threads(c, 2, &never, &why));
        for (int r = 0; r < 2; r++) {
            a[r] = (agreeing){.c = &c[r], .t = &f->task, .other = r == other};
            CHECK_EQ(pthread_create(&thread[r], NULL, agree_on_version, &a[r]), 0);
        }
        snprintf(words, sizeof words, "rank 1: %s; rank 0: %s", other ? "version 7" : is, other ? is : "version 7");
        for (int r = 0; r < 2; r++) {
            pthread_join(thread[r], NULL);
            CHECK(!a[r].good);
            CHECK_STR(a[r].why.text, words);
        }
        comm_close_threads(c, 2);
    }
    fixture_free(f);
}

/* Where nine in ten are 0, unless all are asked for. The same losses but for rounding. */
TEST(features_lose_their_zeros_unless_dense_ones_are_asked_for)
{
    fixture* f = fixture_new();
    int64_t entries = 0;
    for (int i = 0; i < NODES * WIDTH; i++) {
        if (i % 17) f->features[i] = 0;
        entries += f->features[i] != 0;
    }
    const costs few = train_with(f, "--model mlp --fanout full --epochs 2"), all = train_with(f, "--model mlp --fanout full --epochs 2 --dense-features");
    CHECK_EQ(all.net.flops[0] - few.net.flops[0], 2 * 2 * 16 * (NODES * WIDTH - entries)); /* of each epoch's first product */
    CHECK_EQ(all.net.flops[1] - few.net.flops[1], 2 * 2 * 16 * (NODES * WIDTH - entries));
    fixture_free(f);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(21);
    RUN(four_workers_train_as_one_does);
    RUN(batches_prepared_beside_training_change_no_bit);
    RUN(devices_that_sample_for_others_change_no_bit);
    RUN(devices_of_their_own_memory_train_as_those_that_share_the_hosts);
    RUN(a_trainer_that_fails_ends_all);
    RUN(a_sampler_that_fails_ends_all);
    RUN(devices_that_are_stopped_leave_after_the_same_step);
    RUN(the_kind_of_a_table_is_what_is_asked_for_or_what_there_is_room_for);
    RUN(tables_of_either_kind_give_the_same_batches);
    RUN(parts_train_as_replicas_do_and_are_read_as_the_sampled_ids_say);
    RUN(rows_by_exchange_train_as_replicas_do_and_are_as_many_as_the_sampled_ids_say);
    RUN(slices_are_the_batch_cut_in_rank_order);
    RUN(a_batch_is_its_takers_until_it_is_given_back);
    RUN(a_loaders_costs_are_those_of_the_batches_taken);
    RUN(an_unpacked_batch_is_the_one_that_was_packed_and_costs_no_samples);
    RUN(edges_that_are_sampled_are_counted_but_not_those_of_walks);
    RUN(a_pass_may_begin_anew_while_batches_are_prepared);
    RUN(asking_for_a_batch_while_all_slots_are_taken_is_an_error);
    RUN(a_list_that_is_broken_is_an_error_however_batches_are_prepared);
    RUN(a_slice_sampled_without_a_loader_is_that_of_the_loader);
    RUN(a_device_without_room_is_refused_with_what_would_help);
    RUN(shards_need_room_by_all_machines_and_have_it_by_their_own);
    RUN(rows_between_layers_are_a_devices_up_to_eval_memory);
    RUN(a_copy_of_the_hosts_memory_is_said_where_one_is_made);
    RUN(a_batch_is_no_larger_than_all_training_nodes);
    RUN(slopes_are_measured_with_the_trainings_batches_in_what_it_leaves_of_the_device);
    RUN(memory_that_grows_does_so_by_a_quarter);
    RUN(opening_a_worker_survives_any_failing_allocation);
    RUN(evaluation_has_chunks_whose_lists_are_a_quarter_of_its_memory);
    RUN(chunks_of_a_tight_device_have_room_for_the_fullest_and_its_sources);
    RUN(whole_batches_come_in_turn_once_or_around);
    RUN(explain_counts_what_else_a_device_holds);
    RUN(ranks_compare_versions_and_widths_of_ids_first);
    RUN(what_counted_costs_is_counted_apart_from_training);
    RUN(features_lose_their_zeros_unless_dense_ones_are_asked_for);
    return test_finish();
}
