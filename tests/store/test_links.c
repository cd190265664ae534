/* Devices that cannot all read each other: what a driver says of their links decides where parts lie, and no read goes where
   there is none. The devices are CPU's with a driver of the test's own. */
#include "tests/elsewhere.h"
#include "tests/fixture.h"
#include "tests/test.h"
#include "trainer/worker.h"

enum { DEVICES = 8, TAKEN_MAX = 20000 };
static const volatile sig_atomic_t never = 0;

/* ==== the driver ================================================================================================ */

static ggnn_topology wires;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const void* memory;
    int32_t number; /* of the device */
} taken[TAKEN_MAX];
static int64_t takes, reached, over_nothing; /* reads that were asked for between two devices, and those without a link */
static int64_t most_bytes;                   /* of a device's parts; 0: no limit */
static void* (*take_plain)(device*, size_t, const char*, error*);

/* Bus b is where device b is. */
static double wired_link(device* d, const char bus[DEVICE_BUS]) { return wires.bandwidth[d->number][atoi(bus)]; }

static void* wired_take(device* d, size_t bytes, const char* what, error* why)
{
    if (most_bytes && (int64_t)bytes > most_bytes && !strcmp(what, "parts of graph and features")) return error_set(why, "%s: no room", what), NULL;
    void* memory = take_plain(d, bytes, what, why);
    pthread_mutex_lock(&lock);
    taken[takes % TAKEN_MAX].memory = memory;
    taken[takes++ % TAKEN_MAX].number = d->number;
    pthread_mutex_unlock(&lock);
    return memory;
}

static bool wired_reach(device* d, const void* memory, error* why)
{
    (void)why;
    pthread_mutex_lock(&lock);
    for (int64_t i = (takes < TAKEN_MAX ? takes : TAKEN_MAX) - 1; i >= 0; i--) /* the last who got it */
        if (taken[i].memory == memory) {
            reached += taken[i].number != d->number;
            over_nothing += wires.bandwidth[d->number][taken[i].number] <= 0;
            break;
        }
    pthread_mutex_unlock(&lock);
    return true;
}

static own_tables wired;
static device* open_wired(int32_t number, error* why)
{
    device* d = device_open_elsewhere(number, why);
    if (!d) return NULL;
    pthread_mutex_lock(&lock);
    if (!take_plain) {
        own_tables_of(&wired, d);
        take_plain = wired.memory.take;
        wired.memory.link = wired_link;
        wired.memory.take = wired_take;
        wired.memory.reach = wired_reach;
    }
    pthread_mutex_unlock(&lock);
    d->ops = &wired.ops;
    d->number = number;
    snprintf(d->bus, sizeof d->bus, "%d", (int)number);
    return d;
}

/* ==== placing =================================================================================================== */

typedef struct {
    comm* c;
    int32_t number;
    links_found found;
    error why;
} asking;

static void* ask_for_links(void* context)
{
    asking* a = context;
    device* d = open_wired(a->number, &a->why);
    memset(&a->found, 1, sizeof a->found);
    if (!d || !links_place(&a->found, GGNN_PLACE_BEST, a->c, d, &a->why)) comm_fail(a->c, &a->why);
    device_close(d);
    return NULL;
}

/* Ranks of so many machines ask; rank r has device `number[r]`. */
static void ask_all(asking* a, int32_t ranks, int32_t machines, const int32_t* number)
{
    static comm c[COMM_RANKS_MAX];
    pthread_t thread[GGNN_DEVICES_MAX + 1];
    error why = {""};
    CHECK(comm_open_threads(c, ranks, &never, &why));
    for (int32_t r = 0; r < ranks; r++) {
        c[r].machines = machines;
        c[r].locals = ranks / machines;
        c[r].machine = r / c[r].locals;
        c[r].local = r % c[r].locals;
        a[r].c = &c[r];
        a[r].number = number ? number[r] : r;
        a[r].why.text[0] = 0;
        CHECK_EQ(pthread_create(&thread[r], NULL, ask_for_links, &a[r]), 0);
    }
    for (int32_t r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    for (int32_t r = 0; r < ranks; r++) CHECK_STR(a[r].why.text, "");
    comm_close_threads(c, ranks);
}

static bool same_placement(const ggnn_placement* a, const ggnn_placement* b)
{
    bool same = a->devices == b->devices && a->most == b->most && a->copies == b->copies;
    for (int32_t i = 0; same && i < a->devices; i++)
        same = a->stores[i] == b->stores[i] && !memcmp(a->source[i], b->source[i], (size_t)a->devices);
    return same;
}

TEST(parts_are_placed_for_the_links_that_the_driver_says)
{
    static const struct {
        const char* name;
        int32_t devices, missing, from, to;
    } of[] = {{"dgx-1v", 8, 24, 0, 5}, {"dgx-1v", 4, 0, 0, 0}, {"dgx-1v", 5, 6, 0, 5}, {"dgx-a100", 8, 0, 0, 0},
              {"ring", 5, 10, 0, 2}, {"pcie-pairs", 3, 4, 0, 2}, {"none", 2, 2, 0, 1}, {"none", 1, 0, 0, 0}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        static asking a[DEVICES];
        ggnn_placement best;
        ggnn_fault fault;
        CHECK_EQ(ggnn_topology_named(&wires, of[i].name, of[i].devices), GGNN_OK);
        CHECK_EQ(ggnn_place_parts(&best, &wires, GGNN_PLACE_BEST, 0, &fault), GGNN_OK);
        ask_all(a, of[i].devices, 1, NULL);
        int32_t missing = 0, from = 0, to = 0;
        for (int32_t p = of[i].devices * of[i].devices - 1; p >= 0; p--) {
            if (wires.bandwidth[p / of[i].devices][p % of[i].devices] > 0) continue;
            missing++;
            from = p / of[i].devices;
            to = p % of[i].devices;
        }
        for (int32_t r = 0; r < of[i].devices; r++) {
            const links_found* l = &a[r].found;
            CHECK_EQ(l->missing, missing);
            CHECK_EQ(l->from, from);
            CHECK_EQ(l->to, to);
            CHECK(!missing || same_placement(&l->placement, &best));
        }
        if (of[i].devices != 5) CHECK_EQ(missing, of[i].missing);
    }
}

/* Ranks stand in any order, and two of them may have one device. */
TEST(links_are_those_of_the_devices_that_ranks_have)
{
    static const int32_t number[] = {3, 0, 0, 1}; /* of pcie-pairs: 0 and 1 alone are linked */
    asking a[4];
    CHECK_EQ(ggnn_topology_named(&wires, "pcie-pairs", 4), GGNN_OK);
    ask_all(a, 4, 1, number);
    for (int r = 0; r < 4; r++) {
        CHECK_EQ(a[r].found.missing, 6);
        CHECK(a[r].found.from == 0 && a[r].found.to == 1);
        CHECK_EQ(a[r].found.placement.stores[0], 15);
        CHECK(a[r].found.placement.most == 4);
    }
}

/* Two machines of two devices: the second one's have no link, so that none is taken for there. */
TEST(machines_that_differ_place_for_the_links_that_all_have)
{
    static const int32_t number[] = {0, 1, 2, 4};
    asking a[4];
    CHECK_EQ(ggnn_topology_named(&wires, "pcie-pairs", 5), GGNN_OK);
    ask_all(a, 4, 2, number);
    for (int r = 0; r < 4; r++) {
        CHECK_EQ(a[r].found.missing, 2);
        CHECK_EQ(a[r].found.placement.devices, 2);
        CHECK(a[r].found.placement.stores[0] == 3 && a[r].found.placement.stores[1] == 3);
    }
}

TEST(of_more_devices_than_a_placement_has_nothing_is_asked)
{
    static asking a[GGNN_DEVICES_MAX + 1];
    ask_all(a, GGNN_DEVICES_MAX + 1, 1, NULL);
    for (int r = 0; r <= GGNN_DEVICES_MAX; r++) CHECK_EQ(a[r].found.missing, 0);
}

/* ==== training ================================================================================================== */

typedef struct {
    const config* c;
    const task* t;
    comm* comm;
    int32_t number;
    worker worker;
    double loss;
    error why;
} member;

static void* train_one(void* context)
{
    member* m = context;
    int64_t first = 0;
    net_losses losses;
    error ignored = {""};
    device* d = open_wired(m->number, &m->why);
    bool good = d && worker_open(&m->worker, m->c, m->t, d, m->comm, &m->why) && worker_begin(&m->worker, 0, &first, &m->why);
    for (int s = 0; good && s < 2; s++) {
        good = worker_compute(&m->worker, s, &m->why) && worker_reduce(&m->worker, &m->why);
        if (good) worker_update(&m->worker, .01f);
    }
    if (good && worker_losses(&m->worker, true, &losses, &m->why)) m->loss = losses.last;
    if (!good) comm_fail(m->comm, &m->why);
    comm_barrier(m->comm, &ignored);
    return NULL;
}

/* m stays open. */
static void train_all(member* m, comm* c, const config* with, const task* t, int32_t ranks)
{
    pthread_t thread[DEVICES];
    error why = {""};
    memset(m, 0, (size_t)ranks * sizeof *m);
    takes = reached = over_nothing = 0;
    CHECK(comm_open_threads(c, ranks, &never, &why));
    for (int32_t r = 0; r < ranks; r++) {
        m[r] = (member){.c = with, .t = t, .comm = &c[r], .number = r};
        CHECK_EQ(pthread_create(&thread[r], NULL, train_one, &m[r]), 0);
    }
    for (int32_t r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
}

static void close_all(member* m, comm* c, int32_t ranks)
{
    for (int32_t r = 0; r < ranks; r++) worker_close(&m[r].worker);
    comm_close_threads(c, ranks);
}

/* Each part is read from a device that has it, over a link; losses are those of devices that all read each other. */
TEST(no_device_reads_over_a_link_that_is_missing)
{
    static const char* const options[] = {"--store parts", "--store parts --owners hash", "--store-graph .7 --store-features .6",
                                          "--store-graph .5 --store-features .4 --cache presc --cache-ratio .2"};
    static const char* const names[] = {"dgx-a100", "dgx-1v", "ring", "pcie-pairs", "none"};
    static member m[DEVICES];
    comm c[DEVICES];
    char words[400];
    fixture* f = fixture_new();
    for (size_t o = 0; o < sizeof options / sizeof *options; o++) {
        char line[200];
        snprintf(line, sizeof line, "--fanout 4,3 --batch 64 %s", options[o]);
        const config with = config_of(words, line);
        double loss = 0;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            CHECK_EQ(ggnn_topology_named(&wires, names[i], DEVICES), GGNN_OK);
            train_all(m, c, &with, &f->task, DEVICES);
            int32_t most = 0;
            for (int32_t r = 0; r < DEVICES; r++) {
                const ggnn_placement* p = worker_plan(&m[r].worker)->plan.placement;
                CHECK_STR(m[r].why.text, "");
                CHECK((p != NULL) == (i > 0));
                most = p ? p->most : 1;
                CHECK((worker_plan(&m[r].worker)->note[0][0] != 0) == (p != NULL));
                const tiers_count rows = tiers_counted(m[r].worker.tiers, TIERS_FEATURES), lists = tiers_counted(m[r].worker.tiers, TIERS_GRAPH);
                CHECK(strcmp(names[i], "none") ? lists.read.peer > 0 : lists.read.peer + rows.read.peer == 0);
            }
            if (i == 0) loss = m[0].loss;
            CHECK(m[0].loss > 0 && m[0].loss == loss);
            CHECK(i == 4 ? most == DEVICES && reached == 0 : most < DEVICES && reached > 0);
            if (!CHECK_EQ(over_nothing, 0)) printf("  %s, %s\n", options[o], names[i]);
            close_all(m, c, DEVICES);
        }
    }
    fixture_free(f);
}

/* By owners of any kind, of parts that a placement gives: what each has, and what all have of each node. */
TEST(bytes_of_a_device_are_those_of_all_parts_that_it_stores)
{
    fixture* f = fixture_new();
    tiers_source from = {.graph = f->task.graph, .features = f->task.features, .owners = GGNN_OWNER_MODULO};
    ggnn_placement placed;
    ggnn_fault fault;
    CHECK_EQ(ggnn_topology_named(&wires, "ring", 6), GGNN_OK);
    CHECK_EQ(ggnn_place_parts(&placed, &wires, GGNN_PLACE_BEST, 0, &fault), GGNN_OK);
    int64_t own[6];
    for (int32_t p = 0; p < 6; p++) own[p] = tiers_bytes(&from, p, 6);
    const int64_t fixed = NODES * (int64_t)sizeof(int32_t); /* labels */
    from.placement = &placed;
    for (int32_t i = 0; i < 6; i++) {
        int64_t sum = fixed, parts = 0;
        for (int32_t p = 0; p < 6; p++)
            if (placed.stores[i] >> p & 1) {
                sum += own[p] - fixed;
                parts++;
            }
        const int64_t bytes = tiers_bytes(&from, i, 6);
        CHECK(parts > 0 && bytes <= sum && bytes > sum - 6 * 256 * parts); /* of arrays' ends, which each part has by itself */
    }
    CHECK(placed.most > 1);
    fixture_free(f);
}

/* Where devices have no room for the parts that the links call for, the error says so. */
TEST(where_no_placement_fits_the_error_names_the_links)
{
    static member m[2];
    comm c[2];
    char words[400];
    fixture* f = fixture_new();
    const config with = config_of(words, "--fanout 4,3 --batch 64 --store parts");
    const ggnn_graph* g = &f->task.graph;
    const int64_t whole = g->num_nodes * (f->task.features.pitch + 16) + g->num_edges * (int64_t)sizeof(ggnn_node);
    CHECK_EQ(ggnn_topology_named(&wires, "none", 2), GGNN_OK);
    most_bytes = whole * 3 / 4; /* room for half of all */
    train_all(m, c, &with, &f->task, 2);
    CHECK(strstr(m[0].why.text, "no room; a device stores up to 2 of 2 parts, as device 0 has no link to device 1 (--gather exchange needs no link)") != NULL);
    close_all(m, c, 2);
    CHECK_EQ(ggnn_topology_named(&wires, "dgx-a100", 2), GGNN_OK);
    train_all(m, c, &with, &f->task, 2);
    CHECK_STR(m[0].why.text, "");
    close_all(m, c, 2);
    most_bytes = 0;
    fixture_free(f);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    test_seed(51);
    RUN(parts_are_placed_for_the_links_that_the_driver_says);
    RUN(links_are_those_of_the_devices_that_ranks_have);
    RUN(machines_that_differ_place_for_the_links_that_all_have);
    RUN(of_more_devices_than_a_placement_has_nothing_is_asked);
    RUN(no_device_reads_over_a_link_that_is_missing);
    RUN(bytes_of_a_device_are_those_of_all_parts_that_it_stores);
    RUN(where_no_placement_fits_the_error_names_the_links);
    return test_finish();
}
