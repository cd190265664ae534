/* test_bench_store.c - rows, lists and requests that ggnn-bench store counts, beside an oracle that samples by itself and
   asks of every read where the text of bench/bench_store.c says that it lies. */
#include "datasets/dataset.h"
#include "ggnn_plan.h"
#include "tests/bench_tool.h"

enum { SEED = 1, SETTINGS = 6, DEVICES_MAX = 16, LIST = 16, ROW = 8 * 4, EDGE = (int)sizeof(ggnn_node) };
enum { OWN, PEER, HOST, TIERS };
static const char *const setting[SETTINGS] = {"base", "+ topology store", "+ feature store", "+ set sampler", "+ placement", "CliqueOpt"},
                  *const tier[TIERS] = {"own", "peer", "host"};

typedef struct {
    dataset set;
    ggnn_graph graph;
    ggnn_node* train;
    int64_t num_train;
    int32_t devices, num_hops, fanout[GGNN_HOPS_MAX];
    int64_t batch; /* of a device */
    ggnn_placement cliques, best;
} world;

/* Looks at every batch of an epoch of device `me`. */
typedef void looker(void* context, const world* w, int32_t me, const ggnn_batch* b, const ggnn_rng* rng);
static void sample_epoch(const world* w, int32_t me, bool before, looker* look, void* context)
{
    ggnn_sampling how = ggnn_sampling_plain(GGNN_REJECTION, w->fanout, w->num_hops);
    const int64_t all = w->batch * w->devices < w->num_train ? w->batch * w->devices : w->num_train;
    ggnn_node seeds[128];
    ggnn_batch b;
    how.keep = GGNN_KEEP_POSITIONS;
    CHECK(ggnn_batch_plan(&b, &w->graph, &how, w->batch, NULL) == GGNN_OK);
    void* memory = malloc(b.bytes);
    ggnn_batch_init(&b, memory);
    for (int64_t i = 0; i * all < w->num_train; i++) {
        const ggnn_rng rng = {SEED, (uint32_t)i, before ? GGNN_PURPOSE_PRESAMPLE : GGNN_PURPOSE_SAMPLE};
        const int64_t now = w->num_train - i * all < all ? w->num_train - i * all : all;
        const int64_t slice = (now + w->devices - 1) / w->devices;
        int64_t n = 0;
        for (int64_t k = me * slice; k < (me + 1) * slice && k < now; k++)
            seeds[n++] = w->train[ggnn_shuffle(SEED, before ? GGNN_PRESAMPLE_EPOCH : 0, i * all + k, w->num_train)];
        CHECK(ggnn_sample(&b, &w->graph, &rng, seeds, n) == GGNN_OK);
        look(context, w, me, &b, &rng);
    }
    free(memory);
}

/* ---- what is hot, and where it lies ------------------------------------------------------------------------------- */

typedef struct {
    int64_t *rows, *lists; /* (N) reads by all devices before training */
    ggnn_node *row_order, *list_order;
} hotness;

static void count_reads(void* context, const world* w, int32_t me, const ggnn_batch* b, const ggnn_rng* rng)
{
    hotness* hot = context;
    (void)w, (void)me, (void)rng;
    for (int64_t i = 0; i < *b->hop[w->num_hops - 1].num_src.n; i++) hot->rows[b->id[i]]++;
    for (int h = 0; h < w->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) hot->lists[b->id[i]]++;
}

static const int64_t *by_count, *by_indptr; /* of qsort */
static int hotter(const void* x, const void* y)
{
    const ggnn_node a = *(const ggnn_node*)x, b = *(const ggnn_node*)y;
    const int64_t p = by_indptr[a + 1] - by_indptr[a], q = by_indptr[b + 1] - by_indptr[b];
    if (by_count[a] != by_count[b]) return by_count[a] > by_count[b] ? -1 : 1;
    if (p != q) return p > q ? -1 : 1;
    return a < b ? -1 : 1;
}
static ggnn_node* order_by(const world* w, const int64_t* count)
{
    ggnn_node* order = malloc((size_t)w->set.num_nodes * sizeof *order);
    for (int64_t v = 0; v < w->set.num_nodes; v++) order[v] = (ggnn_node)v;
    by_count = count;
    by_indptr = w->set.csc.indptr;
    qsort(order, (size_t)w->set.num_nodes, sizeof *order, hotter);
    return order;
}

enum { FROM_HOST = -1, CACHED = -2 }; /* or a part */
typedef struct {
    const ggnn_placement* placement;
    int32_t *list, *row; /* (N) where it lies */
} plan;

typedef struct { /* a part and its room, or a list by its place in the order */
    int64_t bytes, number;
} sized;
static int larger(const void* x, const void* y)
{
    const sized *a = x, *b = y;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return a->number < b->number ? -1 : 1;
}

static int64_t list_bytes(const hotness* hot, int64_t i)
{
    const ggnn_node v = hot->list_order[i];
    return (by_indptr[v + 1] - by_indptr[v]) * EDGE + LIST;
}

/* A round: the hottest lists from *next on that fit when the largest has the part with most room, and so on. */
static bool put_round(const world* w, const hotness* hot, int32_t* at, int64_t* left, int32_t parts, int64_t* next)
{
    sized room[DEVICES_MAX], list[DEVICES_MAX + 1] = {{0, 0}};
    int64_t i = *next;
    int32_t lists = 0;
    for (int32_t p = 0; p < parts; p++) room[p] = (sized){left[p], p};
    qsort(room, (size_t)parts, sizeof *room, larger);
    for (; i < w->set.num_nodes && lists < parts; i++) {
        sized with[DEVICES_MAX + 1];
        bool fits = true;
        memcpy(with, list, sizeof with);
        with[lists] = (sized){list_bytes(hot, i), i};
        qsort(with, (size_t)lists + 1, sizeof *with, larger);
        for (int32_t k = 0; k <= lists; k++) fits = fits && with[k].bytes <= room[k].bytes;
        if (!fits) continue;
        memcpy(list, with, sizeof with);
        lists++;
    }
    for (int32_t k = 0; lists == parts && k < parts; k++) {
        at[hot->list_order[list[k].number]] = (int32_t)room[k].number;
        left[room[k].number] -= list[k].bytes;
    }
    *next = lists == parts ? i : *next;
    return lists == parts;
}

/* The hottest lists that `room` bytes of each of `parts` hold, in rounds, the last ones in turn; all by id where that fits. Returns
   the bytes of the fullest part. */
static int64_t put_lists(const world* w, const hotness* hot, int32_t* at, int64_t room, int32_t parts)
{
    int64_t left[DEVICES_MAX], by_id[DEVICES_MAX] = {0}, next = 0, most = 0;
    int32_t p = 0;
    for (int64_t v = 0; v < w->set.num_nodes; v++) {
        at[v] = (int32_t)(v % parts);
        by_id[at[v]] += (w->set.csc.indptr[v + 1] - w->set.csc.indptr[v]) * EDGE + LIST;
    }
    for (int32_t k = 0; k < parts; k++) most = by_id[k] > most ? by_id[k] : most;
    if (most <= room) return most;
    for (int32_t k = 0; k < parts; k++) left[k] = room;
    for (int64_t v = 0; v < w->set.num_nodes; v++) at[v] = FROM_HOST;
    while (put_round(w, hot, at, left, parts, &next)) {}
    for (; next < w->set.num_nodes; next++) {
        if (list_bytes(hot, next) > left[p]) continue;
        left[p] -= list_bytes(hot, next);
        at[hot->list_order[next]] = p++;
        p %= parts;
    }
    most = 0;
    for (int32_t k = 0; k < parts; k++) most = room - left[k] > most ? room - left[k] : most;
    return most;
}

/* What a device has to have for the placement to hold all: of lists by id. */
static int64_t memory_for_all(const world* w)
{
    int64_t part[DEVICES_MAX] = {0}, most = 0;
    for (int64_t v = 0; v < w->set.num_nodes; v++) part[v % w->devices] += (w->set.csc.indptr[v + 1] - w->set.csc.indptr[v]) * EDGE + LIST;
    for (int32_t p = 0; p < w->devices; p++) most = part[p] > most ? part[p] : most;
    return w->best.most * (most + (w->set.num_nodes + w->devices - 1) / w->devices * ROW);
}

/* Cliques with a cache of `share` of the rows on each device, before parts of the others. */
static plan plan_opt(const world* w, const hotness* hot, double share, int64_t memory)
{
    const int64_t n = w->set.num_nodes, copies = w->cliques.most, parts = w->devices;
    const plan p = {&w->cliques, malloc((size_t)n * 4), malloc((size_t)n * 4)};
    const int64_t wanted = (int64_t)(share * (double)n + 1e-9), cached = wanted * ROW < memory ? wanted : memory / ROW;
    const int64_t room = (memory - cached * ROW) / copies, lists = put_lists(w, hot, p.list, room, (int32_t)parts);
    int64_t rows = (room - lists) / ROW * parts;
    if (rows > n) rows = n;
    for (int64_t i = 0; i < n; i++) {
        const int64_t behind = i - cached;
        p.row[hot->row_order[i]] = i < cached ? CACHED : behind < rows ? (int32_t)((rows == n ? hot->row_order[i] : behind) % parts) : FROM_HOST;
    }
    return p;
}

/* Settings 0 and 1 have a cache of rows in what lists leave. */
static plan plan_of(const world* w, const hotness* hot, int which, int64_t memory)
{
    const int64_t n = w->set.num_nodes;
    const plan p = {which == 4 ? &w->best : &w->cliques, malloc((size_t)n * 4), malloc((size_t)n * 4)};
    const int64_t copies = which == 0 ? 1 : p.placement->most, parts = which == 0 ? 1 : w->devices, room = memory / copies;
    const int64_t lists = put_lists(w, hot, p.list, room, (int32_t)parts);
    int64_t rows = which <= 1 ? (memory - copies * lists) / ROW : (room - lists) / ROW * parts;
    if (rows > n) rows = n;
    for (int64_t v = 0; which == 0 && v < n; v++)
        if (p.list[v] == 0) p.list[v] = CACHED;
    for (int64_t i = 0; i < n; i++)
        p.row[hot->row_order[i]] = i >= rows ? FROM_HOST : which <= 1 ? CACHED : (int32_t)(i % parts);
    for (int64_t v = 0; which >= 2 && rows == n && v < n; v++) p.row[v] = (int32_t)(v % parts);
    return p;
}

/* ---- every read --------------------------------------------------------------------------------------------------- */

typedef struct {
    plan plan[SETTINGS];
    int64_t rows[SETTINGS][TIERS], lists[SETTINGS][TIERS], requests[3][SETTINGS][TIERS];
} reads;

static int tier_at(const plan* p, int32_t at, int32_t me)
{
    if (at == CACHED) return OWN;
    if (at == FROM_HOST) return HOST;
    return p->placement->source[me][at] == me ? OWN : PEER;
}

/* Distinct sectors among the positions that are marked, in windows of 32 from `from` on. */
static int64_t sectors(const bool* read, int64_t first, int64_t from, int64_t to)
{
    int64_t count = 0, last = -1;
    for (int64_t i = from; i < to; i++) {
        const int64_t sector = (first + i) * EDGE / 32;
        if ((i - from) % 32 == 0) last = -1;
        if (!read[i]) continue;
        count += sector != last;
        last = sector;
    }
    return count;
}

static void count_list(const world* w, const ggnn_batch* b, const ggnn_rng* rng, int32_t h, int64_t i, int64_t requests[3])
{
    const ggnn_node v = b->id[i];
    const int64_t first = w->set.csc.indptr[v], degree = w->set.csc.indptr[v + 1] - first, m = degree < w->fanout[h] ? degree : w->fanout[h];
    bool* read = calloc((size_t)degree + 1, 1);
    for (int64_t e = b->hop[h].indptr[i]; e < b->hop[h].indptr[i + 1]; e++) { /* what was sampled lies where it is said to */
        const int64_t at = b->hop[h].position[e];
        CHECK(at >= first && at < first + degree && !read[at - first]);
        CHECK_EQ(w->set.csc.indices[at], b->id[b->hop[h].indices[e]]);
        read[at - first] = true;
    }
    int64_t last = -1; /* fewer than 32 slots: one look */
    for (int64_t k = 0; k < degree; k++)
        if (read[k] && (first + k) * EDGE / 32 != last) {
            last = (first + k) * EDGE / 32;
            requests[2]++;
        }
    for (int64_t k = 0; k < degree; k++) read[k] = k < m || ggnn_draw_below(rng, h, v, k - m, k + 1) < m;
    for (int64_t k = 0; k < degree; k++) requests[0] += read[k];
    requests[1] += sectors(read, first, 0, m) + sectors(read, first, m, degree);
    free(read);
}

static void look_up(void* context, const world* w, int32_t me, const ggnn_batch* b, const ggnn_rng* rng)
{
    reads* r = context;
    for (int64_t i = 0; i < *b->hop[w->num_hops - 1].num_src.n; i++)
        for (int s = 0; s < SETTINGS; s++) r->rows[s][tier_at(&r->plan[s], r->plan[s].row[b->id[i]], me)]++;
    for (int32_t h = 0; h < w->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) {
            int64_t requests[3] = {0, 0, 0};
            count_list(w, b, rng, h, i, requests);
            for (int s = 0; s < SETTINGS; s++) {
                const int t = tier_at(&r->plan[s], r->plan[s].list[b->id[i]], me);
                r->lists[s][t]++;
                for (int k = 0; k < 3; k++) r->requests[k][s][t] += requests[k];
            }
        }
}

static void compare(const char* text, const reads* r)
{
    static const char* const sampler[] = {"reservoir, a thread a list", "reservoir, a warp a list", "set, a warp a list"};
    int64_t all[2] = {0, 0};
    for (int s = 0; s < SETTINGS; s++) {
        int64_t sum[2] = {0, 0};
        for (int t = 0; t < TIERS; t++) {
            CHECK_NEAR(bench_figure(text, "counted", "rows", setting[s], tier[t]), (double)r->rows[s][t], 0);
            CHECK_NEAR(bench_figure(text, "counted", "lists", setting[s], tier[t]), (double)r->lists[s][t], 0);
            CHECK_NEAR(bench_figure(text, "counted", "row bytes", setting[s], tier[t]), (double)(ROW * r->rows[s][t]), 0);
            CHECK_NEAR(bench_figure(text, "counted", "list bytes", setting[s], tier[t]),
                       (double)(32 * r->requests[s < 3 ? 1 : 2][s][t]), 0);
            sum[0] += r->rows[s][t];
            sum[1] += r->lists[s][t];
        }
        if (s == 0) memcpy(all, sum, sizeof all);
        CHECK(sum[0] == all[0] && sum[1] == all[1] && sum[0] > 0);
        CHECK_NEAR(bench_figure(text, "counted", "rows", setting[s], "all"), (double)all[0], 0);
        CHECK_NEAR(bench_figure(text, "counted", "lists", setting[s], "all"), (double)all[1], 0);
        CHECK(bench_figure(text, "modelled", "time", setting[s], "both") > 0);
    }
    for (int k = 0; k < 3; k++)
        for (int t = 0; t < TIERS; t++)
            CHECK_NEAR(bench_figure(text, "counted", "samplers", sampler[k], tier[t]), (double)r->requests[k][3][t], 0);
}

static world open_world(const char* topology, int32_t devices)
{
    world w = {.devices = devices, .num_hops = 3, .fanout = {5, 4, 3}, .batch = 128};
    ggnn_topology links;
    error why = {""};
    CHECK(dataset_open(&w.set, data, &why));
    w.graph = dataset_graph(&w.set);
    w.train = malloc((size_t)w.set.num_nodes * sizeof *w.train);
    w.num_train = dataset_split_ids(&w.set, 0, SPLIT_TRAIN, w.train);
    CHECK(ggnn_topology_named(&links, topology, devices) == GGNN_OK);
    CHECK(ggnn_place_parts(&w.cliques, &links, GGNN_PLACE_CLIQUE, 0, NULL) == GGNN_OK);
    CHECK(ggnn_place_parts(&w.best, &links, GGNN_PLACE_BEST, 0, NULL) == GGNN_OK);
    return w;
}

/* memory: of a device, per cent of the whole graph; -1: the usual, what the placement of all takes. */
static void compare_world(const char* topology, int32_t devices, int64_t percent, bool asked)
{
    world w = open_world(topology, devices);
    const char* sizes = asked ? " --fanout 7,2 --batch 50" : "";
    if (asked) w.num_hops = 2, w.fanout[0] = 7, w.fanout[1] = 2, w.batch = 50;
    const int64_t n = w.set.num_nodes, lists = w.set.num_edges * EDGE + n * LIST;
    const size_t bytes = (size_t)n * 8;
    int64_t memory = (lists + n * ROW) * percent / 100;
    char arguments[200];
    hotness hot = {calloc(bytes, 1), calloc(bytes, 1), NULL, NULL};
    reads* r = calloc(1, sizeof *r);
    snprintf(arguments, sizeof arguments, "store --topology %s --devices %d --device-memory %lld%s", topology, (int)devices, (long long)memory,
             sizes);
    if (percent < 0) {
        memory = memory_for_all(&w);
        snprintf(arguments, sizeof arguments, "store --topology %s --devices %d%s", topology, (int)devices, sizes);
    }
    char* text = bench_json(arguments);
    for (int32_t me = 0; me < devices; me++) sample_epoch(&w, me, true, count_reads, &hot);
    hot.row_order = order_by(&w, hot.rows);
    hot.list_order = order_by(&w, hot.lists);
    for (int s = 0; s < 5; s++) r->plan[s] = plan_of(&w, &hot, s, memory);
    r->plan[5] = plan_opt(&w, &hot, bench_figure(text, "counted", "share", "CliqueOpt", "cached") / 100, memory);
    for (int32_t me = 0; me < devices; me++) sample_epoch(&w, me, false, look_up, r);
    compare(text, r);
    for (int s = 0; s < SETTINGS; s++) {
        free(r->plan[s].list);
        free(r->plan[s].row);
    }
    free(r);
    free(hot.rows);
    free(hot.lists);
    free(hot.row_order);
    free(hot.list_order);
    free(w.train);
    free(text);
    dataset_close(&w.set);
}

TEST(rows_and_lists_by_own_peer_and_host_are_those_of_every_read)
{
    if (!generate_graph("rmat --nodes 2048 --edges 30000 --directed --train .4")) return;
    compare_world("dgx-1v", 6, -1, false); /* cliques of 3 parts a device, placed 2 */
    compare_world("dgx-1v", 6, 20, false); /* a device holds most lists, no more */
    compare_world("ring", 5, 60, false);   /* all lists, a part of the rows */
    compare_world("none", 3, 100, false);
    compare_world("dgx-a100", 4, 2, false);
    compare_world("dgx-1v", 8, 0, false);
    compare_world("ring", 1, -1, false);
    compare_world("dgx-1v", 6, 20, true);
    compare_world("ring", 5, -1, true);
    compare_world("pcie-pairs", 4, 55, false); /* links as slow as the host: a large cache beside parts */
}

TEST(each_piece_of_the_store_takes_reads_from_the_host_or_requests_from_links)
{
    double host[SETTINGS], bytes[SETTINGS], time[SETTINGS];
    if (!generate_graph("citation --nodes 20000 --edges 160000")) return;
    char* text = bench_json("store --topology dgx-1v");
    for (int s = 0; s < SETTINGS; s++) {
        host[s] = bench_figure(text, "counted", "rows", setting[s], "host");
        bytes[s] = bench_figure(text, "counted", "list bytes", setting[s], "all");
        time[s] = bench_figure(text, "modelled", "time", setting[s], "both");
        CHECK(bench_figure(text, "counted", "memory", setting[s], "lists") + bench_figure(text, "counted", "memory", setting[s], "rows") <=
              bench_figure(text, "counted", "memory", setting[s], "room"));
    }
    CHECK(host[0] > host[1] && host[1] > host[2] && host[2] == 0 && host[4] == 0);
    CHECK(bytes[2] == bytes[0] && bytes[3] < .9 * bytes[2] && bytes[4] == bytes[3]);
    CHECK(time[4] < time[3] && time[3] < time[2] && time[2] < time[0]);
    CHECK_NEAR(bench_figure(text, "counted", "kept", "+ placement", "rows"), 100, 0);
    CHECK(host[5] > 0 && bytes[5] == bytes[3] && time[5] <= time[3]); /* a share of nothing is the cliques' store */
    free(text);
}

/* Where links are slow, a cache of a device's own is worth more than parts; where all rows are in parts of fast links, least. */
TEST(cliqueopt_takes_the_share_with_the_least_time)
{
    if (!generate_graph("citation --nodes 20000 --edges 160000")) return;
    char* slow = bench_json("store --topology pcie-pairs --devices 4");
    char* fast = bench_json("store --topology dgx-a100 --devices 4");
    CHECK(bench_figure(slow, "counted", "share", "CliqueOpt", "cached") > bench_figure(fast, "counted", "share", "CliqueOpt", "cached"));
    for (int i = 0; i < 2; i++)
        CHECK(bench_figure(i ? fast : slow, "modelled", "time", "CliqueOpt", "both") <= bench_figure(i ? fast : slow, "modelled", "time", "+ set sampler", "both"));
    CHECK(bench_figure(slow, "modelled", "time", "CliqueOpt", "both") < .9 * bench_figure(slow, "modelled", "time", "+ set sampler", "both"));
    free(slow);
    free(fast);
}

/* A sweep's figures are those of a run by itself with as many devices of that memory. */
TEST(a_sweep_has_the_figures_of_each_number_of_devices)
{
    static const char* const memory[] = {"lists", "rows", "room"};
    if (!generate_graph("rmat --nodes 4096 --edges 60000 --directed --train .4")) return;
    for (int given = 0; given < 2; given++) {
        char* all = bench_json(given ? "store --sweep --device-memory 100K" : "store --sweep");
        const double room = bench_figure(all, "counted", "memory by devices", "8 devices", "room");
        for (int P = 1; P <= 8; P *= 2) {
            char row[32], line[100];
            snprintf(row, sizeof row, "%d device%s", P, P > 1 ? "s" : "");
            snprintf(line, sizeof line, "store --devices %d --device-memory %.0f", P, room);
            if (!given && P == 8) snprintf(line, sizeof line, "store");
            char* one = bench_json(line);
            for (int k = 0; k < 3; k++) {
                CHECK_NEAR(bench_figure(all, "counted", "memory by devices", row, memory[k]), bench_figure(one, "counted", "memory", "+ placement", memory[k]), 0);
                CHECK_NEAR(bench_figure(all, "counted", "rows by devices", row, tier[k]), bench_figure(one, "counted", "rows", "+ placement", tier[k]), 0);
                if (k < 2) CHECK_NEAR(bench_figure(all, "counted", "kept by devices", row, memory[k]), bench_figure(one, "counted", "kept", "+ placement", memory[k]), 0);
            }
            static const char* const of[][2] = {{"base", "base"}, {"cliques", "+ set sampler"}, {"placement", "+ placement"}, {"CliqueOpt", "CliqueOpt"}};
            for (int k = 0; k < 4; k++)
                CHECK_NEAR(bench_figure(all, "modelled", "time by devices", row, of[k][0]), bench_figure(one, "modelled", "time", of[k][1], "both"), 0);
            free(one);
        }
        double kept[2] = {0}; /* lists come first */
        for (int k = 0; k < 4; k++) kept[k / 2] += bench_figure(all, "counted", "kept by devices", k / 2 ? "8 devices" : "1 device", memory[k % 2]);
        CHECK(kept[1] > kept[0]);
        free(all);
    }
}

TEST(wrong_topologies_and_devices_are_refused)
{
    static const struct {
        const char *arguments, *says;
        int status;
    } wrong[] = {{"--topology dgx-1v --devices 9", "9", 1},
                 {"--topology no-such-file", "no-such-file", 1},
                 {"--devices 17", "--devices", 2},
                 {"--sweep --devices 4", "without --devices", 1},
                 {"--sweep --topology no-such-file", "by name, not no-such-file", 1},
                 {"--device-memory -1", "--device-memory", 2}};
    char line[2000];
    if (!generate_graph("citation --nodes 2000 --edges 8000")) return;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "%s store --quick --data %s %s >%s/out 2>%s/err", bench_tool, data, wrong[i].arguments, folder, folder);
        const int status = system(line);
        CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, wrong[i].status);
        CHECK(prints("err", wrong[i].says));
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    RUN(rows_and_lists_by_own_peer_and_host_are_those_of_every_read);
    RUN(each_piece_of_the_store_takes_reads_from_the_host_or_requests_from_links);
    RUN(cliqueopt_takes_the_share_with_the_least_time);
    RUN(a_sweep_has_the_figures_of_each_number_of_devices);
    RUN(wrong_topologies_and_devices_are_refused);
    folder_remove();
    return test_finish();
}
