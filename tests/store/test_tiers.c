/* Graph and features that lie in tiers: ggnn-train from end to end, with what it says it read where beside what the
   sampled ids say; the tiers themselves, each with memory of its own. */
#include <pthread.h>
#include <sys/mman.h>

#include "common/memory.h"
#include "common/progress.h"
#include "datasets/hotness.h"
#include "datasets/plan_file.h"
#include "tests/elsewhere.h"
#include "tests/random_graph.h"
#include "tests/train_tool.h"
#include "trainer/batch/loader.h"
#include "trainer/store/device_reads.h"
#include "trainer/store/layer_rows.h"
#include "trainer/store/slopes.h"
#include "trainer/store/tier_plan.h"
#include "trainer/store/tiers.h"
#include "trainer/task.h"

static const char* const policies[] = {"none", "degree", "aligraph", "presc", "optimal", "dual", "random"};
enum { POLICIES = sizeof policies / sizeof *policies };

static const char* const models[] = {"--model sage", "--model gcn --eval sampled", "--model gat --heads 4",
                                     "--model sage --aggregator pool --eval-memory 0", "--model gcn --sampler weighted"};
enum { MODELS = sizeof models / sizeof *models };

static const char common[] = "--fanout 4,3 --hidden 8 --batch 100 --epochs 2";

/* ==== files ===================================================================================================== */

static const float* file_weight; /* (edges) of the next graph that is written; NULL: it has none */

/* A graph of so many nodes whose lists are given, with random features, three classes, every third node to train. */
static void write_graph(const char* path, int64_t nodes, const int64_t* indptr, const ggnn_node* indices, int64_t width,
                        bool half)
{
    ggnn_file_writer w;
    const int64_t offsets = nodes + 1, edges = indptr[nodes], rows[2] = {nodes, width}, splits[2] = {1, nodes};
    CHECK(ggnn_file_create(&w, path));
    memcpy(ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &offsets), indptr, (size_t)offsets * sizeof *indptr);
    ggnn_node* to = ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &edges);
    if (edges) memcpy(to, indices, (size_t)edges * sizeof *indices);
    if (file_weight) memcpy(ggnn_file_reserve(&w, "weight", GGNN_FILE_F32, 1, &edges), file_weight, (size_t)edges * sizeof *file_weight);
    void* feat = ggnn_file_reserve(&w, "feat", half ? GGNN_FILE_F16 : GGNN_FILE_F32, 2, rows);
    for (int64_t i = 0; i < nodes * width; i++) {
        const float x = test_uniform() - .5f;
        if (half) ((uint16_t*)feat)[i] = ggnn_float_to_half(x);
        else ((float*)feat)[i] = x;
    }
    int32_t* label = ggnn_file_reserve(&w, "label", GGNN_FILE_I32, 1, &nodes);
    for (int64_t v = 0; v < nodes; v++) label[v] = (int32_t)(v % 3);
    uint8_t* split = ggnn_file_reserve(&w, "split", GGNN_FILE_U8, 2, splits);
    for (int64_t v = 0; v < nodes; v++) split[v] = (uint8_t)(1 + v / 2 % 3);
    CHECK(ggnn_file_commit(&w));
}

/* 60 nodes that have a list of all; the others have lists of three. */
static void write_hubs(const char* path, int64_t width, bool half)
{
    enum { NODES = 200, HUBS = 2 };
    static int64_t indptr[NODES + 1];
    static ggnn_node indices[NODES * (HUBS + 3)];
    for (int v = 0; v < NODES; v++) {
        const int degree = v < HUBS ? NODES : 3;
        for (int i = 0; i < degree; i++) indices[indptr[v] + i] = (ggnn_node)(v < HUBS ? i : (v * 7 + i * i * 5) % NODES);
        indptr[v + 1] = indptr[v] + degree;
    }
    write_graph(path, NODES, indptr, indices, width, half);
}

/* rmat.ggnn with unlike weights. */
static void weigh_rmat(void)
{
    static float weight[5000];
    for (int e = 0; e < 5000; e++) weight[e] = (float)(1 + e % 7);
    add_weights_to("rmat.ggnn", "weights.ggnn", weight);
}

/* ==== losses ==================================================================================================== */

/* The epochs and the end of a run. */
static void results(const char* log, records* to)
{
    read_log(to, log, NULL);
    int kept = 0;
    for (int i = 0; i < to->count; i++)
        if (strstr(to->line[i], "\"event\":\"epoch\"") || strstr(to->line[i], "\"event\":\"final\""))
            memmove(to->line[kept++], to->line[i], RECORD_MAX);
    to->count = kept;
}

/* Cuts `"key":[value],` out of a line; strings in it may have anything but brackets. */
static void cut_array(char* line, const char* key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    char *from = strstr(line, pattern), *to = from ? strchr(from, ']') : NULL;
    if (to) memmove(from, to, strlen(to) + 1);
}

static bool same_results(const char* options, const char* where)
{
    CHECK_EQ(trainf("%s --log tiers %s", options, where), 0);
    results("tiers", &second);
    if (same_records(&first, &second)) return true;
    printf("  %s %s\n", options, where);
    return false;
}

TEST(losses_do_not_depend_on_what_lies_where)
{
    static const char* const ratios[] = {"0", ".3", "1"};
    for (int m = 0; m < MODELS; m++) {
        char options[400], where[200];
        snprintf(options, sizeof options, "--data %s %s %s", m % 2 ? "rmat.ggnn" : "planted.ggnn", common, models[m]);
        CHECK_EQ(trainf("%s --log resident --threads 2", options), 0);
        results("resident", &first);
        for (int p = m % 2; p < POLICIES; p += 2)
            for (int r = 0; r < 3; r++) {
                const int threads = 1 << (p + r + m) % 3;
                if (p == 0) snprintf(where, sizeof where, "--store-graph %s --store-features %s", ratios[r], ratios[(r + m) % 3]);
                else snprintf(where, sizeof where, "--cache %s --cache-ratio %s --store-graph %s", policies[p], ratios[r], ratios[(p + r) % 3]);
                snprintf(where + strlen(where), sizeof where - strlen(where), " --threads %d%s", threads,
                         p % 3 == 1 ? " --pipeline overlap" : "");
                same_results(options, where);
            }
    }
}

TEST(losses_on_several_devices_do_not_depend_on_what_lies_where)
{
    for (int m = 0; m < MODELS; m++) {
        char options[400], where[200];
        snprintf(options, sizeof options, "--data rmat.ggnn %s %s --devices %d", common, models[m], 2 + m);
        CHECK_EQ(trainf("%s --log resident --threads 2 --store %s", options, m % 2 ? "parts" : "replica"), 0);
        results("resident", &first);
        for (int p = 0; p < POLICIES; p++) {
            snprintf(where, sizeof where, "--cache %s %s --store-graph .%d --store-features .%d --store %s", policies[p],
                     p ? "--cache-ratio .2" : "", 9 - p, 2 + p, (p + m) % 4 ? "auto" : "replica");
            same_results(options, where);
        }
    }
}

/* Three devices of which some sample have the bits of two that do all. */
TEST(every_policy_has_the_same_losses_in_every_pipeline)
{
    static const char* const pipelines[] = {"--devices 2 --pipeline serial", "--devices 2 --pipeline overlap",
                                            "--devices 3 --pipeline factored"};
    static const char* const ratios[] = {"0", ".3", "1"};
    char options[400], where[200];
    CHECK_EQ(trainf("--data rmat.ggnn %s --devices 2 --log resident", common), 0);
    results("resident", &first);
    for (int i = 0; i < 3; i++)
        for (int p = 0; p < POLICIES; p++)
            for (int r = 0; r < 3; r++) {
                snprintf(options, sizeof options, "--data rmat.ggnn %s %s --threads %d", common, pipelines[i], 1 << (p + i + r) % 3);
                if (p == 0) snprintf(where, sizeof where, "--store-graph %s --store-features %s", ratios[(r + i) % 3], ratios[r]);
                else snprintf(where, sizeof where, "--cache %s --cache-ratio %s --store-graph .5 --store-features .%d%s", policies[p],
                              ratios[r], 1 + p, (p + r) % 3 == 2 ? " --topology ring" : "");
                same_results(options, where);
            }
}

/* ==== what is read where ======================================================================================== */

typedef struct { /* a run's options, and what this test makes of them without ggnn_locate */
    config config;
    task task;
    comm comm;
    int32_t P;
    int64_t* hot[TIERS_KINDS][8];  /* by rank: what its batches read */
    ggnn_node* rank[TIERS_KINDS];  /* of the parts */
    ggnn_node* cache[TIERS_KINDS]; /* of one rank's cache */
    int64_t stored[TIERS_KINDS], cached[TIERS_KINDS];
    bool dealt;                    /* lists lie in parts by rank[TIERS_GRAPH], also where all are stored */
    bool moved;                    /* rows lie in parts in another order than a cache's: behind what all caches have */
    bool split, single;            /* --parallel split, by owners of ids modulo P; sampled by ranks in turn */
    int64_t batch;                 /* of an epoch */
    int64_t left;                  /* bytes for a cache of --cache-bytes auto */
    int64_t budget;                /* bytes of a cache */
    tiers_reads rows, lists, list_bytes;
    int64_t from[8];
} oracle;

/* Does rank r read the row, or the list, of node v? In --parallel split each is its owner's. */
static bool reads_it(const oracle* o, int32_t r, tiers_kind kind, int64_t v)
{
    return !o->split || (kind == TIERS_GRAPH && o->single) || v % o->P == r;
}

static struct {
    const oracle* of;
    const int64_t *hot, *over;
    bool ties;
} sorted_by;
static int compare_nodes(const void* a, const void* b)
{
    const ggnn_node u = *(const ggnn_node*)a, v = *(const ggnn_node*)b;
    const int64_t* indptr = sorted_by.of->task.graph.whole.indptr;
    double x = (double)sorted_by.hot[u], y = (double)sorted_by.hot[v];
    if (sorted_by.over) {
        x = sorted_by.over[u] ? x / (double)sorted_by.over[u] : -1;
        y = sorted_by.over[v] ? y / (double)sorted_by.over[v] : -1;
    }
    if (x != y) return x > y ? -1 : 1;
    const int64_t du = indptr[u + 1] - indptr[u], dv = indptr[v + 1] - indptr[v];
    if (sorted_by.ties && du != dv) return du > dv ? -1 : 1;
    return u < v ? -1 : 1;
}

static ggnn_node* ranked(const oracle* o, const int64_t* hot, const int64_t* over, bool ties)
{
    const int64_t N = o->task.graph.num_nodes;
    ggnn_node *nodes = malloc((size_t)N * sizeof *nodes), *rank = malloc((size_t)N * sizeof *rank);
    sorted_by.of = o;
    sorted_by.hot = hot;
    sorted_by.over = over;
    sorted_by.ties = ties;
    for (int64_t v = 0; v < N; v++) nodes[v] = (ggnn_node)v;
    qsort(nodes, (size_t)N, sizeof *nodes, compare_nodes);
    for (int64_t i = 0; i < N; i++) rank[nodes[i]] = (ggnn_node)i;
    free(nodes);
    return rank;
}

typedef void visitor(oracle* o, int32_t r, const ggnn_batch* b);

/* Each slice of rank r of a pass, sampled without tiers. */
static void visit_pass(oracle* o, int32_t r, const loader_pass* pass, bool fused, visitor* see)
{
    error why = {""};
    const config* c = &o->config;
    device* d = device_open_cpu(1, &why);
    loader_plan plan = {.graph = o->task.graph, .features = o->task.features, .labels = o->task.labels, .rank = o->split ? 0 : r,
                        .ranks = o->split ? 1 : o->P, .how = {.method = (ggnn_method)c->sampler, .num_hops = (int32_t)c->layers, .last_hop_global = fused},
                        .batch = c->batch};
    if (plan.batch > o->task.count[SPLIT_TRAIN]) plan.batch = o->task.count[SPLIT_TRAIN];
    for (int h = 0; h < c->layers; h++) plan.how.fanout[h] = c->fanout[h];
    loader* l = loader_create(d, &plan, NULL, &why);
    loader_begin(l, pass, 0);
    o->batch = 0;
    for (const mini_batch* b; (b = batch_take(l, &why)); batch_give(l, b), o->batch++) see(o, r, &b->blocks);
    CHECK_STR(why.text, "");
    loader_free(l);
    device_close(d);
}

/* Of an epoch. */
static void visit(oracle* o, int32_t r, uint32_t epoch, uint32_t purpose, int64_t step, bool fused, visitor* see)
{
    const loader_pass pass = {.ids = o->task.ids[SPLIT_TRAIN], .num_ids = o->task.count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                              .epoch = epoch, .rng = {(uint64_t)o->config.seed, (uint32_t)step, (ggnn_purpose)purpose}};
    visit_pass(o, r, &pass, fused, see);
}

static void count_batch(oracle* o, int32_t r, const ggnn_batch* b)
{
    const ggnn_block* last = &b->hop[b->num_hops - 1];
    for (int h = 0; h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) o->hot[TIERS_GRAPH][r][b->hop[h].id[i]]++;
    for (int64_t i = 0; i < *last->num_src.n; i++) o->hot[TIERS_FEATURES][r][last->id[i]]++;
}

static int64_t batches_of(const oracle* o)
{
    const int64_t all = o->task.count[SPLIT_TRAIN], batch = o->config.batch < all ? o->config.batch : all;
    return (all + batch - 1) / batch;
}

/* What the parts are ranked by; caches too, but those of `optimal`, which each have their own rank's. */
static int64_t* reads_of_all(const oracle* o, tiers_kind kind)
{
    const int64_t N = o->task.graph.num_nodes;
    int64_t* all = calloc((size_t)N, sizeof *all);
    for (int32_t k = 0; k < o->P; k++)
        for (int64_t v = 0; v < N; v++) all[v] += o->hot[kind][k][v];
    return all;
}

/* In the order of `rank`, but what rank r reads first. */
static void put_own_first(const oracle* o, int32_t r, tiers_kind kind, ggnn_node* rank)
{
    const int64_t N = o->task.graph.num_nodes;
    ggnn_node *order = malloc((size_t)N * sizeof *order), next = 0;
    for (int64_t v = 0; v < N; v++) order[rank[v]] = (ggnn_node)v;
    for (int own = 1; own >= 0; own--)
        for (int64_t i = 0; i < N; i++)
            if (reads_it(o, r, kind, order[i]) == own) rank[order[i]] = next++;
    free(order);
}

/* Ranks of the parts, and of rank r's cache. */
static void make_ranks(oracle* o, int32_t r)
{
    const int64_t N = o->task.graph.num_nodes;
    const ggnn_csc* g = &o->task.graph.whole;
    const hotness_policy by = o->config.cache ? (hotness_policy)(o->config.cache - 1) : HOTNESS_DEGREE;
    int64_t *out = calloc((size_t)N, 8), *in = calloc((size_t)N, 8);
    for (int64_t e = 0; e < g->num_edges; e++) out[g->indices[e]]++;
    for (int64_t v = 0; v < N; v++) in[v] = g->indptr[v + 1] - g->indptr[v];
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        if (hotness_is_counted(by)) {
            int64_t* all = reads_of_all(o, (tiers_kind)kind);
            o->rank[kind] = ranked(o, all, NULL, true);
            o->cache[kind] = ranked(o, by == HOTNESS_OPTIMAL && !o->split ? o->hot[kind][r] : all, NULL, true);
            free(all);
        } else if (by == HOTNESS_RANDOM) {
            o->rank[kind] = malloc((size_t)N * sizeof(ggnn_node));
            o->cache[kind] = malloc(2 * (size_t)N * sizeof(ggnn_node));
            ggnn_rank_random(o->rank[kind], o->cache[kind], (uint64_t)o->config.seed, N);
            memcpy(o->cache[kind], o->rank[kind], (size_t)N * sizeof(ggnn_node));
        } else {
            o->rank[kind] = ranked(o, by == HOTNESS_ALIGRAPH ? in : out, by == HOTNESS_ALIGRAPH ? out : NULL, false);
            o->cache[kind] = ranked(o, by == HOTNESS_ALIGRAPH ? in : out, by == HOTNESS_ALIGRAPH ? out : NULL, false);
        }
        put_own_first(o, r, (tiers_kind)kind, o->cache[kind]);
    }
    free(out);
    free(in);
}

static ggnn_sizes sizes_of(const task* t)
{
    return (ggnn_sizes){t->features.pitch, t->graph.whole.indptr, (int64_t)sizeof(ggnn_node) + (t->graph.whole.weight ? 4 : 0), 16};
}

static int64_t list_bytes_of(const task* t, int64_t v)
{
    const ggnn_csc* g = &t->graph.whole;
    return 16 + ((int64_t)sizeof(ggnn_node) + (g->weight ? 4 : 0)) * (g->indptr[v + 1] - g->indptr[v]);
}

typedef struct { /* a row or a list that a dual cache may have */
    int64_t value, bytes; /* density: value / bytes */
    tiers_kind kind;
    ggnn_node id;
} entry;

static int denser(const void* a, const void* b)
{
    const entry *x = a, *y = b;
    const int64_t one = x->value * y->bytes, other = y->value * x->bytes;
    if (one != other) return one > other ? -1 : 1;
    if (x->kind != y->kind) return x->kind == TIERS_FEATURES ? -1 : 1;
    return x->id < y->id ? -1 : 1;
}

/* DUCATI's choice of what rank r may read: all that fits, densest first, where a read is worth its kind's slope over all its reads. */
static void fill_dual(oracle* o, int32_t r, int64_t budget)
{
    const int64_t N = o->task.graph.num_nodes, *given = o->config.slopes;
    const int64_t slope[] = {given[0] || given[1] ? given[0] : 1, given[0] || given[1] ? given[1] : 1};
    int64_t *count[] = {reads_of_all(o, TIERS_GRAPH), reads_of_all(o, TIERS_FEATURES)}, sum[] = {0, 0}, n = 0;
    entry* all = malloc(2 * (size_t)N * sizeof *all);
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int64_t v = 0; v < N; v++) sum[kind] += reads_it(o, r, (tiers_kind)kind, v) ? count[kind][v] : 0;
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int64_t v = 0; v < N; v++) {
            o->cache[kind][v] = (ggnn_node)N;
            if (!slope[kind] || !reads_it(o, r, (tiers_kind)kind, v)) continue;
            all[n++] = (entry){count[kind][v] * slope[kind] * sum[!kind], kind == TIERS_GRAPH ? list_bytes_of(&o->task, v) : o->task.features.pitch,
                               (tiers_kind)kind, (ggnn_node)v};
        }
    qsort(all, (size_t)n, sizeof *all, denser);
    o->cached[TIERS_GRAPH] = o->cached[TIERS_FEATURES] = 0;
    for (int64_t i = 0; i < n; i++) {
        if (all[i].bytes > budget) continue;
        budget -= all[i].bytes;
        o->cache[all[i].kind][all[i].id] = (ggnn_node)o->cached[all[i].kind]++;
    }
    free(all);
    for (int kind = 0; kind < TIERS_KINDS; kind++) free(count[kind]);
}

static ggnn_placement placed;
static bool is_placed;

/* By which rank v lies in the parts. */
static int64_t part_rank(const oracle* o, tiers_kind kind, int64_t v)
{
    return o->stored[kind] == o->task.graph.num_nodes && !(o->dealt && kind == TIERS_GRAPH) ? v : o->rank[kind][v];
}

static int32_t source_of(const oracle* o, int32_t r, tiers_kind kind, int64_t v)
{
    const int32_t part = (int32_t)(part_rank(o, kind, v) % o->P);
    return is_placed ? placed.source[r][part] : part;
}

/* The member of `to` that v counts for where caches are not looked at. */
static int64_t* tier_below(const oracle* o, int32_t r, tiers_kind kind, int64_t v, tiers_reads* to)
{
    if (part_rank(o, kind, v) >= o->stored[kind]) return &to->host;
    return source_of(o, r, kind, v) == r ? &to->own : &to->peer;
}

static bool is_cached(const oracle* o, tiers_kind kind, int64_t v) { return o->cache[kind][v] < o->cached[kind]; }

/* The member of `to` that a row or list of v counts for. */
static int64_t* tier_in(const oracle* o, int32_t r, tiers_kind kind, int64_t v, tiers_reads* to)
{
    return is_cached(o, kind, v) ? &to->cache : tier_below(o, r, kind, v, to);
}

static void read_row(oracle* o, int32_t r, int64_t v)
{
    int64_t* to = tier_in(o, r, TIERS_FEATURES, v, &o->rows);
    if (!reads_it(o, r, TIERS_FEATURES, v)) return;
    ++*to;
    if (to == &o->rows.own || to == &o->rows.peer) o->from[source_of(o, r, TIERS_FEATURES, v)]++;
}

/* Of a batch that ranks take turns to sample, one reads the lists. */
static void read_batch(oracle* o, int32_t r, const ggnn_batch* b)
{
    const ggnn_block* last = &b->hop[b->num_hops - 1];
    const bool mine = !o->single || o->batch % o->P == r;
    for (int h = 0; mine && h < b->num_hops; h++)
        for (int64_t i = 0; i < *b->hop[h].num_dst.n; i++) {
            const ggnn_block* hop = &b->hop[h];
            if (!reads_it(o, r, TIERS_GRAPH, hop->id[i])) continue;
            ++*tier_in(o, r, TIERS_GRAPH, hop->id[i], &o->lists);
            *tier_in(o, r, TIERS_GRAPH, hop->id[i], &o->list_bytes) +=
                16 + (int64_t)sizeof(ggnn_node) * (hop->indptr[i + 1] - hop->indptr[i]);
        }
    const bool fused = b->how.last_hop_global;
    const int64_t ids = fused ? *last->num_dst.n : *last->num_src.n;
    for (int64_t i = 0; i < ids; i++) read_row(o, r, last->id[i]);
    for (int64_t e = 0; fused && e < *last->num_edges.n; e++) read_row(o, r, last->neighbor[e]);
}

/* ---- what fits ---- */

/* In --parallel split a part has rows of its device's own nodes. */
static bool is_dealt_by_owner(const oracle* o) { return o->split && o->P > 1; }

/* How many rankings a device keeps, of parts with these: one serves all where no batch is counted; else one of lists, one of
   rows, one of a cache that is ordered otherwise, and two of a dual cache. Rows that begin behind caches have one of their own. */
static int64_t rankings_of(const oracle* o, bool lists, bool rows)
{
    const config* c = &o->config;
    const hotness_policy by = (hotness_policy)(c->cache - 1);
    const bool cache = c->cache != 0, own = cache && o->P > 1 && (by == HOTNESS_OPTIMAL || o->split);
    const bool apart = o->moved && rows;
    if (is_dealt_by_owner(o)) return lists + rows + (cache && by == HOTNESS_DUAL ? 2 : cache);
    if (!cache || !hotness_is_counted(by)) return own ? (lists || rows) + 1 : apart ? 2 : lists || rows || cache;
    if (by == HOTNESS_DUAL) return lists + rows + 2;
    return lists + (own || apart ? rows + cache : rows || cache);
}

/* Those that it needs in the end: what is stored whole needs none, lists that were dealt have one of their own. */
static int64_t rankings_needed(const oracle* o)
{
    const int64_t N = o->task.graph.num_nodes, lists = o->stored[TIERS_GRAPH], rows = o->stored[TIERS_FEATURES];
    const bool dealt = o->dealt && lists > 0;
    return dealt + rankings_of(o, !dealt && lists > 0 && lists < N, rows > 0 && (rows < N || is_dealt_by_owner(o)));
}

/* Of `room` bytes a part: the wanted lists, all by id, or else those that are dealt to parts in the order of what is hot. Returns the
   bytes of the fullest part. */
static int64_t fit_lists(oracle* o, int64_t room)
{
    const int64_t N = o->task.graph.num_nodes, wanted = o->stored[TIERS_GRAPH];
    ggnn_node *order = malloc((size_t)N * sizeof *order), *taken = malloc((size_t)N * sizeof *taken);
    int64_t part[8] = {0}, left[8], most = 0;
    const ggnn_sizes sizes = sizes_of(&o->task);
    for (int64_t v = 0; v < N; v++) order[o->rank[TIERS_GRAPH][v]] = (ggnn_node)v;
    for (int64_t i = 0; i < wanted; i++) part[i % o->P] += list_bytes_of(&o->task, wanted == N ? i : order[i]);
    for (int p = 0; p < o->P; p++) most = part[p] > most ? part[p] : most;
    if (most > room) {
        for (int p = 0; p < o->P; p++) left[p] = room;
        memcpy(taken, o->rank[TIERS_GRAPH], (size_t)N * sizeof *taken);
        o->stored[TIERS_GRAPH] = ggnn_fill_lists(taken, left, o->P, order, &sizes, wanted);
        o->dealt = true;
        memcpy(o->rank[TIERS_GRAPH], taken, (size_t)N * sizeof *taken);
        most = 0;
        for (int p = 0; p < o->P; p++) most = room - left[p] > most ? room - left[p] : most;
    }
    free(order);
    free(taken);
    return most;
}

static int64_t fit_rows(oracle* o, int64_t room)
{
    const int64_t row = o->task.features.pitch, all = (o->stored[TIERS_FEATURES] + o->P - 1) / o->P, each = room / row;
    if (each >= all) return all * row;
    o->stored[TIERS_FEATURES] = each * o->P;
    return each * row;
}

/* held: what rank q caches as well, if it reads it. */
static void keep_cached(oracle* o, int32_t r, int32_t q, tiers_kind kind, const ggnn_node* hot, bool* held)
{
    const int64_t N = o->task.graph.num_nodes;
    oracle of_q = *o;
    for (int k = 0; k < TIERS_KINDS; k++) {
        of_q.cache[k] = malloc((size_t)N * sizeof(ggnn_node));
        memcpy(of_q.cache[k], o->cache[k], (size_t)N * sizeof(ggnn_node));
    }
    if (q != r && o->config.cache == HOTNESS_DUAL + 1) fill_dual(&of_q, q, o->budget);
    if (q != r && o->config.cache == HOTNESS_OPTIMAL + 1 && !o->split) {
        free(of_q.cache[kind]);
        of_q.cache[kind] = ranked(o, o->hot[kind][q], NULL, true);
    }
    if (q != r && o->split && o->config.cache != HOTNESS_DUAL + 1) {
        int64_t reach = 0;
        memcpy(of_q.cache[kind], hot, (size_t)N * sizeof(ggnn_node));
        put_own_first(o, q, kind, of_q.cache[kind]);
        for (int64_t v = 0; v < N; v++) reach += reads_it(o, q, kind, v);
        of_q.cached[kind] = o->budget / o->task.features.pitch < reach ? o->budget / o->task.features.pitch : reach;
    }
    for (int64_t v = 0; v < N; v++) held[v] = held[v] && (is_cached(&of_q, kind, v) || !reads_it(o, q, kind, v));
    for (int k = 0; k < TIERS_KINDS; k++) free(of_q.cache[k]);
}

/* Ranks of nodes in this order: in turn; of rows in --parallel split to each part its owner's next, or the next of the owner with
   most left. */
static void deal(const oracle* o, tiers_kind kind, const ggnn_node* order, ggnn_node* rank)
{
    const int64_t N = o->task.graph.num_nodes;
    bool* taken = calloc((size_t)N, sizeof *taken);
    int64_t left[8] = {0};
    for (int64_t v = 0; v < N; v++) left[v % o->P]++;
    for (int64_t i = 0; i < N; i++) {
        int64_t part = i % o->P, at = 0;
        for (int64_t q = 0; !left[i % o->P] && q < o->P; q++) if (left[q] > left[part]) part = q;
        while (taken[at] || (is_dealt_by_owner(o) && kind == TIERS_FEATURES && order[at] % o->P != part)) at++;
        taken[at] = true;
        left[order[at] % o->P]--;
        rank[order[at]] = (ggnn_node)i;
    }
    free(taken);
}

/* The order of what is hot, but what all caches have at its end. Is it another one than the parts'? */
static bool put_cached_last(oracle* o, int32_t r, tiers_kind kind, const ggnn_node* hot)
{
    const int64_t N = o->task.graph.num_nodes;
    ggnn_node *order = malloc((size_t)N * sizeof *order), *rank = malloc((size_t)N * sizeof *rank);
    ggnn_node* late = malloc((size_t)N * sizeof *late);
    int64_t next = 0;
    bool *held = malloc((size_t)N * sizeof *held), moved;
    memset(held, 1, (size_t)N * sizeof *held);
    for (int32_t q = 0; q < o->P; q++) keep_cached(o, r, q, kind, hot, held);
    for (int64_t v = 0; v < N; v++) order[hot[v]] = (ggnn_node)v;
    for (int64_t i = 0; i < N; i++) if (!held[order[i]]) late[next++] = order[i];
    for (int64_t i = 0; i < N; i++) if (held[order[i]]) late[next++] = order[i];
    deal(o, kind, late, rank);
    free(late);
    moved = memcmp(rank, o->rank[kind], (size_t)N * sizeof *rank) != 0;
    if (moved) memcpy(o->rank[kind], rank, (size_t)N * sizeof *rank);
    if (moved && kind == TIERS_FEATURES) o->moved = true;
    free(order);
    free(rank);
    free(held);
    return moved;
}

static void fill_cache(oracle* o, int32_t r, int64_t bytes)
{
    const int64_t row = o->task.features.pitch;
    int64_t reach = 0;
    for (int64_t v = 0; v < o->task.graph.num_nodes; v++) reach += reads_it(o, r, TIERS_FEATURES, v);
    o->budget = bytes;
    o->cached[TIERS_GRAPH] = o->cached[TIERS_FEATURES] = 0;
    if (o->config.cache) o->cached[TIERS_FEATURES] = bytes / row < reach ? bytes / row : reach;
    if (o->config.cache == HOTNESS_DUAL + 1) fill_dual(o, r, bytes);
}

/* What is stored and cached: what is asked for, and of --device-memory what is left of it. */
static void fit(oracle* o, int32_t r)
{
    const config* c = &o->config;
    const int64_t N = o->task.graph.num_nodes, row = o->task.features.pitch;
    const hotness_policy by = (hotness_policy)(c->cache - 1);
    const bool caches = c->cache != 0;
    int64_t all = N * row, given = 0, used;
    for (int64_t v = 0; v < N; v++) all += list_bytes_of(&o->task, v);
    if (caches && c->cache_bytes >= 0) given = c->cache_bytes;
    else if (caches && !c->cache_auto) given = by == HOTNESS_DUAL ? (int64_t)(c->cache_ratio * (double)all) : row * (int64_t)(c->cache_ratio * (double)N + 1e-9);
    int64_t kept = rankings_of(o, c->store_graph > 0, c->store_features > 0), needed = 0;
    ggnn_node *hot[TIERS_KINDS], *lists = malloc((size_t)N * sizeof *lists); /* the order before any list is dealt */
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        hot[kind] = malloc((size_t)N * sizeof **hot);
        memcpy(hot[kind], o->rank[kind], (size_t)N * sizeof **hot);
    }
    memcpy(lists, hot[TIERS_GRAPH], (size_t)N * sizeof *lists);
    if (is_dealt_by_owner(o)) {
        ggnn_node* order = malloc((size_t)N * sizeof *order);
        for (int64_t v = 0; v < N; v++) order[hot[TIERS_FEATURES][v]] = (ggnn_node)v;
        deal(o, TIERS_FEATURES, order, o->rank[TIERS_FEATURES]);
        free(order);
    }
    for (int turn = 0, again = 1; again; turn++) {
        memcpy(o->rank[TIERS_GRAPH], lists, (size_t)N * sizeof *lists);
        o->stored[TIERS_GRAPH] = (int64_t)(c->store_graph * (double)N + 1e-9);
        o->stored[TIERS_FEATURES] = (int64_t)(c->store_features * (double)N + 1e-9);
        o->dealt = false;
        if (c->device_memory) {
            const int64_t taken = c->reserve_bytes + kept * N * (int64_t)sizeof(ggnn_node);
            const int64_t room = c->device_memory > taken ? c->device_memory - taken : 0, copies = is_placed ? placed.most : 1;
            const int64_t part = (room > given ? room - given : 0) / copies;
            used = c->prefer ? fit_rows(o, part) : fit_lists(o, part);
            used += c->prefer ? fit_lists(o, part - used) : fit_rows(o, part - used);
            o->left = room - copies * used;
            needed = rankings_needed(o);
        }
        fill_cache(o, r, c->cache_auto ? o->left : given);
        again = needed > kept;
        kept = again ? needed : kept;
        for (int kind = 0; caches && turn < 4 && kind < TIERS_KINDS; kind++) {
            const int64_t stored = o->stored[kind];
            ggnn_node* dealt = kind == TIERS_GRAPH ? o->rank[kind] : NULL; /* the parts' order is what `lists` has */
            if (stored == 0 || stored == N || (kind == TIERS_GRAPH && by != HOTNESS_DUAL)) continue;
            if (dealt) o->rank[kind] = lists;
            again |= put_cached_last(o, r, (tiers_kind)kind, hot[kind]);
            if (dealt) o->rank[kind] = dealt;
        }
    }
    for (int kind = 0; kind < TIERS_KINDS; kind++) free(hot[kind]);
    free(lists);
}

static int64_t logged(const char* group, const char* member, int32_t r) { return logged_in(&second, group, member, r); }

static void check_by_tier(const records* log, const char* group, int32_t r, const tiers_reads* expected)
{
    const int before = test_errors;
    CHECK_EQ(logged_in(log, group, "cache", r), expected->cache);
    CHECK_EQ(logged_in(log, group, "own", r), expected->own);
    CHECK_EQ(logged_in(log, group, "peer", r), expected->peer);
    CHECK_EQ(logged_in(log, group, "host", r), expected->host);
    if (test_errors > before) printf("  of %s\n", group);
}

/* What lies where, nodes and bytes; and what the program says of what did not fit. */
static void check_placed(oracle* o, int32_t r)
{
    static records log;
    static const char* const groups[] = {"lists", "rows", "list_bytes", "row_bytes"};
    const int64_t N = o->task.graph.num_nodes;
    tiers_reads sum[4] = {{0}};
    const config* c = &o->config;
    read_log(&log, "reads", "tiers");
    CHECK_EQ(log.count, c->tiers);
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int64_t v = 0; v < N; v++) {
            const int64_t bytes = kind == TIERS_GRAPH ? list_bytes_of(&o->task, v) : o->task.features.pitch;
            ++*tier_below(o, r, (tiers_kind)kind, v, &sum[kind]);
            *tier_below(o, r, (tiers_kind)kind, v, &sum[2 + kind]) += bytes;
            if (!is_cached(o, (tiers_kind)kind, v)) continue;
            sum[kind].cache++;
            sum[2 + kind].cache += bytes;
        }
    for (int i = 0; c->tiers && i < 4; i++) check_by_tier(&log, groups[i], r, &sum[i]);
    if (r > 0) return;
    char text[300], amount[16];
    const int64_t lists = (int64_t)(c->store_graph * (double)N + 1e-9), rows = (int64_t)(c->store_features * (double)N + 1e-9);
    const bool less = o->stored[TIERS_GRAPH] < lists || o->stored[TIERS_FEATURES] < rows;
    snprintf(text, sizeof text, "\n--store-graph %g, --store-features %g: %lld of %lld lists and %lld of %lld rows are stored, as the device has "
             "no room for more (--reserve-bytes %lld stay free)\n", c->store_graph, c->store_features, (long long)o->stored[TIERS_GRAPH],
             (long long)lists, (long long)o->stored[TIERS_FEATURES], (long long)rows, (long long)c->reserve_bytes);
    CHECK(less ? says(text) : strstr(output, "no room for more") == NULL);
    snprintf(text, sizeof text, "\n--cache-bytes auto: %sB\n", progress_amount(amount, (double)o->left));
    CHECK(c->cache_auto ? says(text) : strstr(output, "--cache-bytes auto") == NULL);
}

/* Rows of --eval sampled: after each epoch of --eval-every and after the last what validates, and once what tests. */
static void check_evaluated(oracle* o, int32_t r, bool fused)
{
    const config* c = &o->config;
    const tiers_reads rows = o->rows;
    tiers_reads lists = o->lists, bytes = o->list_bytes;
    o->rows = (tiers_reads){0};
    for (int64_t e = 1; c->eval_every && e <= c->epochs + 1; e++) {
        const int part = e > c->epochs ? SPLIT_TEST : SPLIT_VAL;
        const loader_pass pass = {.ids = o->task.ids[part], .num_ids = o->task.count[part], .rng = {(uint64_t)c->seed, 0, GGNN_PURPOSE_EVALUATE}};
        if (part == SPLIT_TEST || e % c->eval_every == 0 || e == c->epochs) visit_pass(o, r, &pass, fused, read_batch);
    }
    check_by_tier(&second, "evaluation_rows", r, &o->rows);
    o->rows = rows;
    o->lists = lists;
    o->list_bytes = bytes;
}

static void check_rank(oracle* o, int32_t r, const char* options)
{
    const int before = test_errors;
    const tiers_reads* expected[] = {&o->rows, &o->lists, &o->list_bytes};
    static const char* const groups[] = {"rows", "lists", "list_bytes"};
    const int64_t row = o->task.features.pitch;
    for (int i = 0; i < 3; i++) check_by_tier(&second, groups[i], r, expected[i]);
    check_by_tier(&second, "bytes", r, &(tiers_reads){row * o->rows.cache, row * o->rows.own, row * o->rows.peer, row * o->rows.host});
    check_placed(o, r);
    const char* from = strstr(second.line[second.count - 1], "\"rows_from\":[");
    for (int32_t k = 0; from && k <= r; k++) from = strchr(from + (k ? 1 : strlen("\"rows_from\":[")), '[');
    for (int32_t k = 0; k < o->P; k++) {
        CHECK_EQ(from ? strtoll(from + 1, NULL, 10) : -1, o->from[k]);
        from = from ? strpbrk(from + 1, ",]") : NULL;
    }
    if (test_errors > before) printf("  rank %d of %d: %s\n", (int)r, (int)o->P, options);
}

/* Runs ggnn-train, and compares what each rank says that it read with the oracle. */
static void check_reads(const char* options)
{
    static oracle o;
    char words[600], *argv[60] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    error why = {""};
    CHECK_EQ(trainf("%s --log reads", options), 0);
    read_log(&second, "reads", "ranks");
    CHECK_EQ(second.count, 1);
    memset(&o, 0, sizeof o);
    snprintf(words, sizeof words, "%s", options);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    CHECK(config_parse(&o.config, argc, argv, &why) == OPTIONS_GOOD && config_finish(&o.config, &why));
    CHECK(task_open(&o.task, &o.config, &why));
    const config* c = &o.config;
    const int64_t N = o.task.graph.num_nodes, batches = batches_of(&o);
    const hotness_policy by = (hotness_policy)(c->cache - 1);
    o.P = (int32_t)c->devices;
    o.split = c->parallel == PARALLEL_SPLIT && o.P > 1;
    o.single = o.split && c->split_sampling == SPLIT_SINGLE;
    for (int32_t r = 0; r < o.P; r++) {
        for (int kind = 0; kind < TIERS_KINDS; kind++) o.hot[kind][r] = calloc((size_t)N, sizeof(int64_t));
        for (int64_t e = 0; hotness_is_counted(by) && (!o.split || !r) && e < c->presample_epochs; e++)
            visit(&o, r, (uint32_t)e + (by == HOTNESS_OPTIMAL ? 0 : GGNN_PRESAMPLE_EPOCH),
                  by == HOTNESS_OPTIMAL ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_PRESAMPLE, e * batches, false, count_batch);
    }
    for (int32_t r = 0; r < o.P; r++) {
        make_ranks(&o, r);
        fit(&o, r);
        o.rows = o.lists = o.list_bytes = (tiers_reads){0};
        memset(o.from, 0, sizeof o.from);
        for (int64_t e = 0; e < c->epochs; e++) {
            const bool whole = o.P == 1 && o.stored[TIERS_FEATURES] == N && !o.cached[TIERS_FEATURES];
            visit(&o, r, (uint32_t)e, GGNN_PURPOSE_SAMPLE, e * batches, whole, read_batch);
        }
        check_rank(&o, r, options);
        if (c->eval == EVAL_SAMPLED && !o.split) check_evaluated(&o, r, o.P == 1 && o.stored[TIERS_FEATURES] == N && !o.cached[TIERS_FEATURES]);
        for (int kind = 0; kind < TIERS_KINDS; kind++) {
            free(o.rank[kind]);
            free(o.cache[kind]);
        }
    }
    for (int32_t r = 0; r < o.P; r++)
        for (int kind = 0; kind < TIERS_KINDS; kind++) free(o.hot[kind][r]);
    task_close(&o.task);
}

TEST(rows_and_lists_by_tier_are_what_the_sampled_ids_say)
{
    for (int p = 0; p < POLICIES; p++)
        for (int i = 0; i < 4; i++) {
            static const char* const stores[] = {"", "--store-graph .4", "--store-features .25 --store-graph 0",
                                                 "--store-features 1 --store-graph .7"};
            char options[600];
            snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s --eval-every %d --cache %s %s %s %s --device-memory 1G "
                                              "--reserve-bytes 0", common, i % 2, policies[p], p ? "--cache-ratio .2" : "", stores[i],
                     p == 5 && i == 1 ? "--slopes 3,1000" : p == 3 ? "--presample-epochs 3" : "");
            check_reads(options);
        }
}

TEST(rows_by_device_are_what_the_sampled_ids_say)
{
    for (int i = 0; i < 2 * POLICIES; i++) { /* of broad rows those that all caches have take more than a ranking */
        char options[600];
        const int p = i % POLICIES;
        snprintf(options, sizeof options, "--data %s --layers 2 %s --cache %s %s --store-graph .%d --store-features .%d "
                                          "--devices %d --eval sampled --eval-every %d", i < POLICIES ? "rmat.ggnn" : "broad.ggnn", common, policies[p],
                 p ? "--cache-ratio .1" : "", 9 - p, 1 + p, i < POLICIES ? 2 + p : 2 + p % 2, p % 3);
        check_reads(options);
    }
}

/* Its batches are a sample of the same nodes as all others': together they are P times as many. */
TEST(a_rank_that_may_get_any_node_caches_what_all_ranks_read)
{
    static const char* const policy[] = {"presc", "dual", "optimal"};
    for (int i = 0; i < 12; i++) {
        char options[600];
        snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s --cache %s --cache-ratio .1 --devices %d --presample-epochs %d "
                                          "--store-graph .%d", common, policy[i % 3], 1 + 2 * (i / 3), 1 + i % 2, i / 3);
        check_reads(options);
    }
}

/* Where memory is short: what is preferred first, what parts leave to caches, and rankings beside them. */
TEST(what_fits_into_a_devices_memory_lies_where_rules_put_it)
{
    static const char* const stores[] = {"--store-graph 1 --store-features 1", "--store-graph .6 --store-features 0",
                                         "--store-graph 0 --store-features .9 --prefer features", "--store-graph .8 --store-features .7"};
    static const char* const sizes[] = {"--cache-bytes auto", "--cache-bytes 1500", "--cache-ratio .0437"};
    for (int i = 0; i < 44; i++) {
        char options[600];
        const int p = i % POLICIES, devices = 1 + i % 4, memory = (6 + 5 * (i % 5) + i / 7) * 250 * (int)sizeof(ggnn_node);
        if ((is_placed = devices == 4 && i % 3 < 2)) {
            ggnn_topology t;
            ggnn_fault fault;
            CHECK_EQ(ggnn_topology_named(&t, "pcie-pairs", devices), GGNN_OK);
            CHECK(ggnn_place_parts(&placed, &t, GGNN_PLACE_BEST, 0, &fault) == GGNN_OK && placed.most == 2);
        }
        snprintf(options, sizeof options, "--data %s --layers 2 %s --eval-every 0 --cache %s %s %s --devices %d --device-memory %d --reserve-bytes %d%s",
                 i % 5 == 4 ? "weights.ggnn" : "rmat.ggnn", common, policies[p], p ? sizes[i / 7 % 3] : "", stores[(p + i / 7) % 4], devices, memory,
                 i % 3 ? 0 : 1234, is_placed ? " --topology pcie-pairs" : "");
        check_reads(options);
    }
    is_placed = false;
}

/* --parallel split: rows are read by those who own their nodes; lists too, or by ranks that sample whole batches in turn. */
TEST(parts_of_a_batch_read_rows_and_lists_as_the_sampled_ids_say)
{
    static const char* const how[] = {"--store-graph .7 --store-features .4", "--cache-ratio .2", "--cache-ratio .4 --store-graph .5 --store-features .3",
                                      "--cache-bytes auto --device-memory 30K --reserve-bytes 0 --store-features .3"};
    for (int i = 0; i < 28; i++) {
        char options[600];
        const int p = i % POLICIES, h = p ? 1 + i / 7 % 3 : 0;
        snprintf(options, sizeof options, "--data %s --layers 2 %s --eval-every 0 --devices %d --parallel split --partition mod --split-sampling %s "
                 "--cache %s %s %s", i % 4 == 3 ? "weights.ggnn" : "rmat.ggnn", common, 2 + i % 3, i / 7 % 2 ? "single" : "cooperative", policies[p],
                 i == 7 || i == 14 ? "--store parts" : how[h],
                 p == 5 && i > 7 ? "--slopes 5,300" : i % 3 && p >= 3 && p <= 5 ? "--presample-epochs 2" : "");
        check_reads(options);
    }
}

/* A step of a walk reads a list, and no edge of it is counted. */
TEST(lists_of_walks_count_16_bytes_each)
{
    CHECK_EQ(trainf("--data rmat.ggnn --layers 2 %s --eval sampled --eval-every 0 --sampler walk --store-graph .5 --cache dual --cache-ratio .1 "
                    "--devices 2 --log reads", common), 0);
    read_log(&second, "reads", "ranks");
    for (int r = 0; r < 2; r++)
        for (const char* const* tier = (const char* const[]){"cache", "own", "peer", "host", NULL}; *tier; tier++) {
            CHECK(logged("lists", *tier, r) > 0);
            CHECK_EQ(logged("list_bytes", *tier, r), 16 * logged("lists", *tier, r));
        }
}

TEST(a_dual_cache_of_a_million_nodes_changes_no_loss)
{
    static const char options[] = "--data large.ggnn --fanout 5,5 --hidden 8 --epochs 1 --eval sampled";
    finish(start("ggnn-data", "generate citation large.ggnn --nodes 1000000 --edges 8000000 --features 32"));
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    same_results(options, "--cache dual --cache-bytes 64M");
    read_log(&second, "tiers", "tiers");
    const int64_t bytes = logged("row_bytes", "cache", 0) + logged("list_bytes", "cache", 0);
    CHECK(bytes > (64 << 20) - 1000 && bytes <= 64 << 20);
    CHECK(logged("rows", "cache", 0) > 0 && logged("lists", "cache", 0) > 0);
    unlink("large.ggnn");
}

/* ==== placement ================================================================================================= */

TEST(devices_read_parts_from_where_each_rule_places_them)
{
    static const char* const rules[] = {"best", "pruned", "exact", "clique"};
    static const char* const machines[] = {"dgx-1v", "pcie-pairs", "none", "ring"};
    char options[600];
    snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s --devices 8", common);
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    for (int rule = 0; rule < 4; rule++)
        for (int m = 0; m < (rule ? 2 : 4); m++) {
            ggnn_topology t;
            ggnn_fault fault;
            char all[900];
            CHECK_EQ(ggnn_topology_named(&t, machines[m], 8), GGNN_OK);
            CHECK_EQ(ggnn_place_parts(&placed, &t, (ggnn_place_rule)rule, 0, &fault), GGNN_OK);
            is_placed = true;
            snprintf(all, sizeof all, "%s --topology %s --placement %s --store-graph .8 --store-features .6 --cache presc "
                                      "--cache-ratio .05", options, machines[m], rules[rule]);
            check_reads(all);
            is_placed = false;
            results("reads", &second);
            if (!same_records(&first, &second)) printf("  %s\n", all);
        }
    CHECK_EQ(trainf("%s --topology dgx-1v --devices 3 --log tiers", options), 0);
    FILE* other = fopen("other.txt", "w"); /* of a machine with two devices */
    fputs("700 25\n25 700\n", other);
    fclose(other);
    CHECK_EQ(trainf("%s --topology other.txt", options), 1);
    CHECK(says("other.txt"));
    CHECK_EQ(trainf("%s --topology other.txt --devices 2", options), 0);
    CHECK_EQ(trainf("%s --topology none/such", options), 1);
    CHECK(says("none/such"));
    CHECK_EQ(trainf("%s --topology ring --devices 17", options), 1);
    CHECK(says("--topology ring: of 16 devices at most, here are 17"));
}

/* ==== memory ==================================================================================================== */

typedef struct {
    tiers* tiers;
    const tiers_view* view;
    tiers_source from;
    tiers_plan plan;
    task task;
    ggnn_node *rank, *cache_rank;
    device* device;
} scene;

/* A third of the nodes in the cache, a third in the part, by id; those at the front of both in the cache. */
static void open_scene(scene* s)
{
    error why = {""};
    config c;
    char* argv[] = {(char*)(uintptr_t) "ggnn-train", (char*)(uintptr_t) "--data", (char*)(uintptr_t) "planted.ggnn"};
    memset(s, 0, sizeof *s);
    CHECK(config_parse(&c, 3, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&s->task, &c, &why));
    const int64_t N = s->task.graph.num_nodes;
    s->rank = malloc((size_t)N * sizeof *s->rank);
    s->cache_rank = malloc((size_t)N * sizeof *s->rank);
    for (int64_t v = 0; v < N; v++) {
        s->rank[v] = (ggnn_node)((v + N - N / 6) % N);
        s->cache_rank[v] = (ggnn_node)v;
    }
    for (int kind = 0; kind < TIERS_KINDS; kind++) s->plan.share[kind] = (tiers_share){s->rank, N / 3, s->cache_rank, N / 3};
    s->from = (tiers_source){.graph = s->task.graph, .features = s->task.features, .labels = s->task.labels, .plan = &s->plan};
    s->device = device_open_cpu(1, &why);
    CHECK(tiers_open(&s->tiers, s->device, &s->from, &why));
    s->view = tiers_view_of(s->tiers);
    CHECK_STR(why.text, "");
}

static void close_scene(scene* s)
{
    tiers_close(s->tiers);
    device_close(s->device);
    task_close(&s->task);
    free(s->rank);
    free(s->cache_rank);
}

/* 0: own cache, 1: own part, 2: host. */
static int tier_of(const scene* s, int64_t v)
{
    const int64_t N = s->task.graph.num_nodes;
    return v < N / 3 ? 0 : v >= N / 6 && v < N / 6 + N / 3 ? 1 : 2;
}

enum { TIERS = 3, PAGE = 4096 };

/* Takes away whole pages of a tier's memory, as of the kind that is asked for. */
static void protect(const scene* s, int tier, int kind)
{
    const ggnn_csc* g = &s->task.graph.whole;
    const int64_t N = s->task.graph.num_nodes;
    const void* start[] = {g->indptr, g->indices, s->task.features.rows};
    const size_t bytes[] = {(size_t)(N + 1) * 8, (size_t)g->num_edges * sizeof(ggnn_node), (size_t)(N * s->task.features.pitch)};
    for (int i = 0; tier == 2 && i < 3; i++)
        if ((i < 2) == (kind == TIERS_GRAPH))
            CHECK_EQ(mprotect((void*)(uintptr_t)start[i], (bytes[i] + PAGE - 1) / PAGE * PAGE, PROT_NONE), 0);
    if (tier == 2) return;
    const int from = tier == 0 ? 2 : 0; /* of one part: the part, the host, the cache */
    const ggnn_csc* lists = &s->view->graph.part[from];
    const char* begin = kind == TIERS_GRAPH ? (const char*)lists->indptr : s->view->features.base[from];
    const char* end = kind == TIERS_GRAPH ? (const char*)(lists->indices + lists->num_edges) : begin + N / 3 * s->view->features.pitch;
    CHECK((uintptr_t)begin % PAGE == 0);
    CHECK_EQ(mprotect((void*)(uintptr_t)begin, ((size_t)(end - begin) + PAGE - 1) / PAGE * PAGE, PROT_NONE), 0);
}

/* In a process of its own, with only `left` of a kind's tiers readable: does it read the rows or lists of the nodes of
   `tier`? */
static bool can_read(const scene* s, int kind, int tier, int left)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        for (int t = 0; t < TIERS; t++)
            if (t != left) protect(s, t, kind);
        volatile int64_t sum = 0;
        for (int64_t v = 0; v < s->task.graph.num_nodes; v++) {
            if (tier_of(s, v) != tier) continue;
            const ggnn_list list = kind == TIERS_GRAPH ? ggnn_neighbors(&s->view->graph, (ggnn_node)v) : (ggnn_list){0};
            for (int64_t i = 0; i < list.degree; i++) sum += list.id[i];
            if (kind == TIERS_FEATURES) sum += *(const volatile int32_t*)ggnn_row(&s->view->features, v);
        }
        (void)sum;
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(every_tier_is_an_allocation_of_its_own)
{
    scene s;
    open_scene(&s);
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int tier = 0; tier < TIERS; tier++)
            for (int left = 0; left < TIERS; left++) CHECK_EQ(can_read(&s, kind, tier, left), tier == left);
    close_scene(&s);
}

TEST(all_rows_and_lists_are_those_of_the_whole_arrays)
{
    scene s;
    open_scene(&s);
    for (int64_t v = 0; v < s.task.graph.num_nodes; v++) {
        const ggnn_list a = ggnn_neighbors(&s.view->graph, (ggnn_node)v), b = ggnn_neighbors(&s.task.graph, (ggnn_node)v);
        CHECK(a.degree == b.degree && a.position == b.position && !memcmp(a.id, b.id, (size_t)a.degree * sizeof *a.id));
        CHECK(!memcmp(ggnn_row(&s.view->features, v), ggnn_row(&s.task.features, v), (size_t)s.task.features.pitch));
    }
    const int64_t N = s.task.graph.num_nodes, row = s.task.features.pitch;
    const tiers_count rows = tiers_counted(s.tiers, TIERS_FEATURES), lists = tiers_counted(s.tiers, TIERS_GRAPH);
    CHECK(rows.placed.cache == N / 3 && rows.placed.own == N / 3 && rows.placed.peer == 0 && rows.placed.host == N - N / 3);
    CHECK(rows.placed_bytes.cache == N / 3 * row && rows.placed_bytes.host == (N - N / 3) * row);
    CHECK(lists.read.cache == N / 3 && lists.read.own == N / 6 && lists.read.host == N - N / 2);
    s.view->edges_read[0] = s.view->edges_read[1] = s.view->edges_read[2] = 7; /* of part, host and cache */
    const tiers_reads edges = tiers_counted(s.tiers, TIERS_GRAPH).read_bytes;
    const int64_t seven = 7 * (int64_t)sizeof(ggnn_node);
    CHECK(edges.cache == 16 * (N / 3) + seven && edges.own == 16 * (N / 6) + seven && edges.peer == 0 && edges.host == 16 * (N - N / 2) + seven);
    int64_t from[GGNN_DEVICES_MAX];
    tiers_rows_from(s.tiers, from);
    CHECK_EQ(from[0], rows.read.own);
    tiers_start_counting(s.tiers);
    tiers_rows_from(s.tiers, from);
    CHECK_EQ(from[0], 0);
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        const tiers_count now = tiers_counted(s.tiers, (tiers_kind)kind), before = kind == TIERS_GRAPH ? lists : rows;
        const tiers_reads zero = {0, 0, 0, 0};
        CHECK(!memcmp(&now.read, &zero, sizeof zero) && !memcmp(&now.read_bytes, &zero, sizeof zero));
        CHECK(!memcmp(&now.placed, &before.placed, sizeof zero) && !memcmp(&now.placed_bytes, &before.placed_bytes, sizeof zero));
    }
    close_scene(&s);
}

/* Of all lists, and of all rows, by own part, other devices and host; a cache has some of them once more. */
TEST(bytes_of_own_peers_and_host_are_those_of_the_data)
{
    static const char* const store[] = {"--store-graph .5 --store-features .5", "--store-graph .3 --store-features 0 --cache degree --cache-ratio .2",
                                        "--store-graph 1 --store-features .9", "--store-graph .7 --store-features .2 --topology ring"};
    scene s;
    char options[400];
    open_scene(&s);
    const int64_t N = s.task.graph.num_nodes, E = s.task.graph.num_edges, row = s.task.features.pitch;
    for (int i = 0; i < 4; i++) {
        snprintf(options, sizeof options, "--data planted.ggnn --layers 2 %s --log tiers --devices 3 %s", common, store[i]);
        CHECK_EQ(trainf("%s", options), 0);
        read_log(&second, "tiers", "tiers");
        for (int r = 0; r < 3; r++) {
            CHECK_EQ(logged("rows", "own", r) + logged("rows", "peer", r) + logged("rows", "host", r), N);
            CHECK_EQ(logged("lists", "own", r) + logged("lists", "peer", r) + logged("lists", "host", r), N);
            CHECK_EQ(logged("row_bytes", "own", r) + logged("row_bytes", "peer", r) + logged("row_bytes", "host", r), N * row);
            CHECK_EQ(logged("list_bytes", "own", r) + logged("list_bytes", "peer", r) + logged("list_bytes", "host", r),
                     E * (int64_t)sizeof(ggnn_node) + 16 * N);
            CHECK(logged("lists", "peer", r) > 0 && (logged("list_bytes", "host", r) > 0) == (i != 2));
        }
    }
    close_scene(&s);
}

/* Where lists lie in parts and caches, a weighted sample is that of the plain graph; and weights take room. */
TEST(weights_lie_beside_their_lists)
{
    enum { NODES = 300, DEGREE = 12 };
    static const char* const where[] = {"--store-graph .5", "--store-graph .3 --devices 2", "--store-graph 0 --cache dual --cache-ratio .5",
                                        "--store-graph .4 --cache dual --cache-ratio .3 --devices 3"};
    static int64_t indptr[NODES + 1];
    static ggnn_node indices[NODES * DEGREE];
    static float weight[NODES * DEGREE];
    for (int v = 0; v < NODES; v++) {
        indptr[v + 1] = indptr[v] + DEGREE;
        for (int i = 0; i < DEGREE; i++) {
            indices[indptr[v] + i] = (ggnn_node)((v * 7 + i * i * 5 + i) % NODES);
            weight[indptr[v] + i] = i < 4 ? 100 : .01f;
        }
    }
    file_weight = weight;
    write_graph("weighted.ggnn", NODES, indptr, indices, 4, false);
    file_weight = NULL;
    for (int i = 0; i < 4; i++) {
        char options[400];
        const char* devices = strstr(where[i], "--devices");
        snprintf(options, sizeof options, "--data weighted.ggnn --layers 2 --sampler weighted %s %s", common, devices ? devices : "");
        CHECK_EQ(trainf("%s --log resident", options), 0);
        results("resident", &first);
        snprintf(options, sizeof options, "--data weighted.ggnn --layers 2 --sampler weighted %s", common);
        same_results(options, where[i]);
        read_log(&second, "tiers", "tiers");
        CHECK_EQ(logged("list_bytes", "own", 0) + logged("list_bytes", "peer", 0) + logged("list_bytes", "host", 0),
                 NODES * (DEGREE * ((int64_t)sizeof(ggnn_node) + 4) + 16));
    }
}

/* As many devices as a topology may have. */
TEST(sixteen_devices_say_from_which_of_them_rows_came)
{
    CHECK_EQ(trainf("--data planted.ggnn --layers 2 %s --devices 16 --store-features 1 --store-graph 0 --topology ring --placement pruned --log tiers", common), 0);
    read_log(&second, "tiers", "ranks");
    const char* line = second.line[second.count - 1];
    const char* from = strstr(line, "\"rows_from\":[[");
    int64_t sum = 0;
    for (int d = 0; from && d < 16; d++) {
        from = d ? strchr(from, ',') + 1 : from + strlen("\"rows_from\":[[");
        sum += strtoll(from, NULL, 10);
    }
    CHECK_EQ(sum, logged("rows", "own", 0) + logged("rows", "peer", 0));
    CHECK(sum > 0);
    CHECK_EQ(trainf("--data planted.ggnn --layers 2 %s --devices 17 --store parts --log tiers", common), 0); /* and one more */
    read_log(&second, "tiers", "ranks");
    line = second.line[second.count - 1];
    from = strstr(line, "\"rows_from\":[[");
    CHECK(from && strspn(from + strlen("\"rows_from\":[["), "0,") == 31);
    CHECK(logged("rows", "own", 0) > 0 && logged("rows", "peer", 16) > 0);
}

/* What no node is read from has no address, and what is not split has no tables. */
TEST(what_is_unused_is_not_there)
{
    error why = {""};
    scene s;
    open_scene(&s);
    tiers_close(s.tiers);
    const int64_t N = s.task.graph.num_nodes;
    s.plan.share[TIERS_GRAPH] = (tiers_share){NULL, N, NULL, 0};
    s.plan.share[TIERS_FEATURES] = (tiers_share){NULL, 0, s.cache_rank, N};
    CHECK(tiers_open(&s.tiers, s.device, &s.from, &why));
    s.view = tiers_view_of(s.tiers);
    CHECK(!s.view->graph.part && s.view->graph.whole.indices == s.task.graph.whole.indices);
    CHECK(s.view->features.base[0] == NULL && s.view->features.base[1] == NULL && s.view->features.base[2] != NULL);
    tiers_close(s.tiers);
    s.from.plan = NULL;
    CHECK(tiers_open(&s.tiers, s.device, &s.from, &why));
    s.view = tiers_view_of(s.tiers);
    CHECK(!s.view->edges_read && !s.view->graph.traffic && !s.view->features.traffic && s.view->local);
    close_scene(&s);
}

/* Machines of two ranks each. Rows are sent by all ranks or by those of a machine, and then every rank has all lists. */
TEST(parts_by_owner_are_told_of_lists_and_of_rows)
{
    static const volatile sig_atomic_t never = 0;
    for (int i = 0; i < 3; i++) { /* a replica, exchange in a machine, over machines */
        error why = {""};
        scene s;
        comm c;
        tiers* t;
        open_scene(&s);
        comm_open_alone(&c, &never);
        c.ranks = 6;
        c.locals = 2;
        c.machines = 3;
        const tiers_source from = {.graph = s.from.graph, .features = s.from.features, .over = i ? &c : NULL, .exchange = i > 0, .machines = i == 2};
        CHECK(tiers_open(&t, s.device, &from, &why)); /* waits for no rank */
        CHECK_EQ(tiers_parts(t, TIERS_GRAPH), 1);
        CHECK_EQ(tiers_parts(t, TIERS_FEATURES), i == 0 ? 1 : i == 1 ? 2 : 6);
        tiers_close(t);
        close_scene(&s);
    }
}

static int64_t in_lines(int64_t bytes) { return (bytes + 127) / 128 * 128; }

/* Lists of so many nodes and edges: offsets, first edges, ids, weights, each from a line of 128 bytes on. */
static int64_t arrays_of(const tiers_source* from, int64_t nodes, int64_t edges)
{
    const int64_t ids = edges * (int64_t)sizeof(ggnn_node), before = in_lines(8 * (nodes + 1)) + in_lines(8 * nodes);
    return from->graph.whole.weight ? before + in_lines(ids) + 4 * edges : before + ids;
}

static bool owns(ggnn_owner by, int64_t v, int64_t N, int32_t part, int32_t parts)
{
    if (part < 0 || part >= parts) return false;
    const int64_t begin = part * (N / parts) + (part < N % parts ? part : N % parts), end = begin + N / parts + (part < N % parts);
    if (by == GGNN_OWNER_RANGE) return v >= begin && v < end; /* first ranges are longer */
    return part == (by == GGNN_OWNER_HASH ? ggnn_owner_hash(v, parts) : (int32_t)(v % parts));
}

/* By role the last `samplers` devices own lists, the others rows; of hash owners there is a rank for each kind. */
static int64_t bytes_by_role(const task* t, const tiers_source* from, int32_t part, int32_t parts, int32_t samplers)
{
    const int64_t N = t->graph.num_nodes, *indptr = t->graph.whole.indptr;
    int64_t lists = 0, rows = 0, edges = 0;
    for (int64_t v = 0; v < N; v++) {
        const bool list = owns(from->owners, v, N, samplers ? part - (parts - samplers) : part, samplers ? samplers : parts);
        lists += list;
        edges += list ? indptr[v + 1] - indptr[v] : 0;
        rows += owns(from->owners, v, N, part, parts - samplers);
    }
    int64_t bytes = rows * t->features.pitch + 4 * N + 60 * (int64_t)sizeof(ggnn_node);
    bytes += from->exchange ? arrays_of(from, N, t->graph.num_edges) : arrays_of(from, lists, edges);
    if (parts > 1 && from->owners == GGNN_OWNER_HASH) bytes += (samplers ? 2 : 1) * N * (int64_t)sizeof(ggnn_node);
    const int64_t E = t->graph.num_edges, by = parts - samplers;
    if (from->edges.rows && from->exchange) bytes += E * from->edges.pitch;
    else if (from->edges.rows && part < by) bytes += (E / by * (part + 1) + E % by * (part + 1) / by - E / by * part - E % by * part / by) * from->edges.pitch;
    return bytes;
}

/* What a device needs at least, as ggnn-train asks before it takes any: its nodes by owner; of rows that are sent all lists; labels
   and the ids of passes whole, and a rank of each node where owners are by hash. */
TEST(bytes_of_a_part_are_those_of_its_nodes)
{
    static const char* const data[] = {"rmat.ggnn", "weights.ggnn", "karate.ggnn"};
    for (int i = 0; i < 3 * 3 * 2 * 4; i++) {
        error why = {""};
        config c;
        task t;
        char* argv[] = {(char*)(uintptr_t) "ggnn-train", (char*)(uintptr_t) "--data", (char*)(uintptr_t)data[i % 3]};
        const int32_t parts = (const int32_t[]){1, 2, 5, 16}[i / 18];
        if (!CHECK(config_parse(&c, 3, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
        tiers_source from = {.graph = t.graph, .features = t.features, .count = {0, 10, 20, 30}, .owners = (ggnn_owner)(i / 3 % 3),
                             .exchange = i / 9 % 2};
        if (i % 2) from.edges = ggnn_store_plain(t.features.rows, t.graph.num_edges, 1 + i % 5, GGNN_F16); /* nobody reads them */
        for (int32_t part = 0; part < parts; part++)
            for (int32_t samplers = 0; samplers < (from.exchange ? 1 : parts); samplers += 1 + parts / 5) {
                from.samplers = samplers;
                const int64_t bytes = bytes_by_role(&t, &from, part, parts, samplers);
                if (!CHECK_EQ(tiers_bytes(&from, part, parts), bytes))
                    printf("  %s, part %d of %d, %d sample\n", data[i % 3], (int)part, (int)parts, (int)samplers);
                if (!from.exchange || parts == 1) continue;
                tiers_plan plan = {.share[TIERS_FEATURES].cached = 7}; /* in the order of ids, and in one that is a table */
                tiers_source cached = from;
                cached.plan = &plan;
                CHECK_EQ(tiers_bytes(&cached, part, parts), bytes + 7 * t.features.pitch);
                plan.share[TIERS_FEATURES].cache_rank = t.graph.whole.indices;
                CHECK_EQ(tiers_bytes(&cached, part, parts), bytes + 7 * t.features.pitch + t.graph.num_nodes * (int64_t)sizeof(ggnn_node));
            }
        task_close(&t);
    }
}

/* ==== a device of its own memory ================================================================================ */

enum { MANY = 33000, MANY_WIDTH = 3, MANY_EDGES = 2 * MANY, EDGE_WIDTH = 2 };
typedef struct { /* lists of none to four, and rows; what reads them are the nodes' ids */
    int64_t indptr[MANY + 1];
    ggnn_node indices[MANY_EDGES], rank[MANY], cache_rank[MANY], ids[2][10];
    float weight[MANY_EDGES], rows[MANY * MANY_WIDTH], edge_rows[MANY_EDGES * EDGE_WIDTH];
    int32_t label[MANY];
} many;

static many* many_new(void)
{
    many* m = calloc(1, sizeof *m);
    for (int64_t v = 0; v < MANY; v++) {
        m->indptr[v + 1] = m->indptr[v] + v % 5;
        m->rank[v] = (ggnn_node)(v * 7 % MANY);
        m->cache_rank[v] = (ggnn_node)(MANY - 1 - v * 13 % MANY);
        m->label[v] = (int32_t)(v % 11);
        for (int j = 0; j < MANY_WIDTH; j++) m->rows[v * MANY_WIDTH + j] = (float)(v * MANY_WIDTH + j);
    }
    for (int64_t e = 0; e < m->indptr[MANY]; e++) {
        m->indices[e] = (ggnn_node)(e * 13 % MANY);
        m->weight[e] = (float)e;
        for (int j = 0; j < EDGE_WIDTH; j++) m->edge_rows[e * EDGE_WIDTH + j] = (float)(e * EDGE_WIDTH - j);
    }
    CHECK_EQ(m->indptr[MANY], MANY_EDGES);
    for (int i = 0; i < 20; i++) m->ids[i / 10][i % 10] = (ggnn_node)(i * 3);
    return m;
}

/* Each edge's row, by position. */
static void check_edges(const many* m, const tiers_view* t)
{
    float* rows = malloc(sizeof m->edge_rows);
    int64_t* position = malloc(MANY_EDGES * sizeof *position);
    for (int64_t e = 0; e < MANY_EDGES; e++) position[e] = e;
    CHECK_EQ(ggnn_gather_edges(rows, EDGE_WIDTH, GGNN_F32, &t->edges, position, MANY_EDGES), GGNN_OK);
    CHECK(memcmp(rows, m->edge_rows, sizeof m->edge_rows) == 0);
    free(rows);
    free(position);
}

/* Nothing of the host's is there, but what no other tier has; all else is as it is on the host. */
static void check_view(const many* m, const tiers_source* from, const tiers* opened)
{
    const tiers_view* t = tiers_view_of(opened);
    int64_t wrong = 0;
    float* rows = malloc(sizeof m->rows);
    ggnn_node* id = malloc(MANY * sizeof *id);
    for (int64_t v = 0; v < MANY; v++) {
        const ggnn_list a = ggnn_neighbors(&t->graph, (ggnn_node)v), b = ggnn_neighbors(&from->graph, (ggnn_node)v);
        wrong += a.degree != b.degree || a.position != b.position || (a.weight == NULL) != (b.weight == NULL);
        for (int64_t i = 0; a.degree == b.degree && i < b.degree; i++)
            wrong += a.id[i] != b.id[i] || (a.weight && b.weight && a.weight[i] != b.weight[i]);
        id[v] = (ggnn_node)v;
    }
    ggnn_gather(rows, MANY_WIDTH, GGNN_F32, &t->features, id, MANY);
    wrong += memcmp(rows, m->rows, sizeof m->rows) != 0;
    check_edges(m, t);
    free(rows);
    free(id);
    CHECK_EQ(wrong, 0);
    CHECK(t->labels.label != m->label && !memcmp(t->labels.label, m->label, sizeof m->label) && !t->labels.target);
    CHECK(t->ids[1] == t->ids[3] && t->ids[1] != m->ids[0] && !memcmp(t->ids[1], m->ids[0], sizeof m->ids[0]));
    CHECK(!t->ids[0] && t->ids[2] != t->ids[1] && !memcmp(t->ids[2], m->ids[1], sizeof m->ids[1]));
    CHECK(tiers_host_graph(opened, &from->graph) == &from->graph && tiers_device_graph(opened) == &t->graph);
}

typedef struct {
    const many* m;
    tiers_source from;
    comm* c;
    error why;
} owner;

/* Stands for another process's view; d->bytes counts what was lent. */
static bool lend_counted(device* d, void* memory, char handle[DEVICE_HANDLE], error* why)
{
    (void)memory, (void)why;
    memset(handle, 0, DEVICE_HANDLE);
    d->bytes++;
    return true;
}

static void* open_part_of(void* context)
{
    owner* o = context;
    tiers* t;
    device* d = device_open_elsewhere(0, &o->why);
    own_tables own;
    own_tables_of(&own, d);
    own.memory.lend = lend_counted;
    d->ops = &own.ops;
    o->c->one_process = false;
    o->from.over = o->c;
    const bool good = tiers_open(&t, d, &o->from, &o->why);
    if (!good) comm_fail(o->c, &o->why);
    if (good) check_view(o->m, &o->from, t);
    CHECK_EQ(d->bytes, 1); /* lists and rows together: two loans could lie in one block of the driver's */
    for (int kind = 0; good && kind < TIERS_ALL; kind++) {
        const tiers_count n = tiers_counted(t, (tiers_kind)kind);
        const int64_t all = kind == TIERS_EDGES ? MANY_EDGES : MANY;
        if (kind == TIERS_EDGES) CHECK_EQ(n.read.own, all / 3); /* equal ranges */
        CHECK(n.read.own > 0 && n.read.own + n.read.peer == all && n.placed.own == n.read.own && n.placed.peer == n.read.peer);
    }
    comm_barrier(o->c, &o->why); /* nobody reads any more */
    tiers_close(t);
    device_close(d);
    return NULL;
}

/* Parts and caches are sent by 16,384 nodes at a time: of fewer, as many, one more, and of several such pieces. */
TEST(a_device_of_its_own_memory_gets_all_lists_rows_and_weights)
{
    static const int64_t sizes[] = {0, 1, 16383, 16384, 16385, 32768, 32769, MANY};
    static const volatile sig_atomic_t never = 0;
    many* m = many_new();
    for (int i = 0; i < 12; i++) {
        error why = {""};
        device* d = device_open_elsewhere(0, &why);
        const int64_t part = sizes[i % 8], cached = sizes[i * 3 % 8];
        const tiers_share share = {i % 3 ? m->rank : NULL, part, m->cache_rank, cached};
        const int64_t edges_cached = 2 * cached, edges_stored = part + edges_cached < MANY_EDGES ? part : MANY_EDGES - edges_cached;
        const tiers_plan plan = {{share, share}, edges_cached, edges_stored, NULL};
        tiers_source from = {.graph = ggnn_graph_plain(m->indptr, m->indices, (i + 1) / 2 % 2 ? m->weight : NULL, MANY, m->indptr[MANY]),
                             .features = ggnn_store_plain(m->rows, MANY, MANY_WIDTH, GGNN_F32), .labels = {.label = m->label},
                             .edges = ggnn_store_plain(m->edge_rows, MANY_EDGES, EDGE_WIDTH, GGNN_F32),
                             .ids = {NULL, m->ids[0], m->ids[1], m->ids[0]}, .count = {0, 10, 10, 10}, .plan = i < 8 ? &plan : NULL};
        if (i < 9) {
            tiers* t;
            CHECK(tiers_open(&t, d, &from, &why));
            CHECK_STR(why.text, "");
            check_view(m, &from, t);
            for (int kind = 0; i < 8 && kind < TIERS_KINDS; kind++) {
                const tiers_count n = tiers_counted(t, (tiers_kind)kind);
                CHECK(n.placed.cache == cached && n.placed.own == part && n.placed.host == MANY - part && n.placed.peer == 0);
                CHECK(n.read.cache == cached && n.read.cache + n.read.own + n.read.host == MANY);
                if (kind) CHECK(n.placed_bytes.cache == cached * 12 && n.placed_bytes.own == part * 12 && n.placed_bytes.host == (MANY - part) * 12);
            }
            const tiers_count e = tiers_counted(t, TIERS_EDGES);
            if (i < 8) CHECK(e.placed.cache == edges_cached && e.placed.own == edges_stored && e.placed.host == MANY_EDGES - edges_stored && !e.placed.peer);
            if (i < 8) CHECK(e.read.cache == edges_cached && e.read.own == edges_stored && e.read.host == MANY_EDGES - edges_cached - edges_stored);
            if (i < 8) CHECK(e.placed_bytes.own == 8 * edges_stored && e.placed_bytes.host == 8 * e.placed.host && e.read_bytes.host == 8 * e.read.host);
            tiers_start_counting(t);
            CHECK_EQ(tiers_counted(t, TIERS_EDGES).read.cache + tiers_counted(t, TIERS_EDGES).read.own, 0);
            CHECK_EQ(tiers_counted(t, TIERS_GRAPH).read.cache + tiers_counted(t, TIERS_FEATURES).read.own, 0);
            tiers_close(t);
        } else { /* by each kind of owners, over three devices */
            comm c[3];
            owner o[3];
            pthread_t thread[3];
            CHECK(comm_open_threads(c, 3, &never, &why));
            from.owners = (ggnn_owner)(i - 9);
            for (int r = 0; r < 3; r++) {
                o[r] = (owner){.m = m, .from = from, .c = &c[r]};
                CHECK_EQ(pthread_create(&thread[r], NULL, open_part_of, &o[r]), 0);
            }
            for (int r = 0; r < 3; r++) pthread_join(thread[r], NULL);
            for (int r = 0; r < 3; r++) CHECK_STR(o[r].why.text, "");
            comm_close_threads(c, 3);
        }
        device_close(d);
    }
    free(m);
}

/* ==== room for rows ============================================================================================= */

typedef struct {
    comm* c;
    size_t bytes, most;
    const char* beside;
    int64_t wrong;
    bool in_file, opened;
    char path[300]; /* of the file */
    error why;
} guest;

/* All ranks use one room: each fills its share, and finds the others'. */
static void* use_room(void* context)
{
    guest* g = context;
    comm* c = g->c;
    layer_rows room = {0};
    char link[64];
    device* d = device_open_cpu(1, &g->why);
    const size_t begin = g->bytes * (size_t)c->rank / (size_t)c->ranks, end = g->bytes * ((size_t)c->rank + 1) / (size_t)c->ranks;
    unsigned char* at = layer_rows_open(&room, d, c, g->bytes, g->most, g->beside, &g->why);
    g->opened = at != NULL;
    if (!at) comm_fail(c, &g->why);
    for (size_t i = 0; at && i < g->bytes; i++) g->wrong += at[i] != 0;
    bool good = at && comm_barrier(c, &g->why);
    for (size_t i = begin; good && i < end; i++) at[i] = (unsigned char)(c->rank + 1);
    good = good && comm_barrier(c, &g->why);
    for (int32_t r = 0; good && r < c->ranks; r++)
        for (size_t i = g->bytes * (size_t)r / (size_t)c->ranks; i < g->bytes * ((size_t)r + 1) / (size_t)c->ranks; i++) g->wrong += at[i] != r + 1;
    g->in_file = room.file.fd >= 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", room.file.fd);
    if (g->in_file && readlink(link, g->path, sizeof g->path - 1) < 0) g->path[0] = 0;
    CHECK(!at || layer_rows_is_one(&room));
    comm_barrier(c, &g->why); /* while the file is open */
    layer_rows_close(&room);
    device_close(d);
    return NULL;
}

static void use_rooms(int32_t ranks, size_t bytes, size_t most, const char* beside, guest g[3])
{
    static const volatile sig_atomic_t never = 0;
    pthread_t thread[3];
    comm c[3];
    error why = {""};
    if (ranks == 1) comm_open_alone(&c[0], &never);
    else CHECK(comm_open_threads(c, ranks, &never, &why));
    for (int32_t r = 0; r < ranks; r++) {
        g[r] = (guest){.c = &c[r], .bytes = bytes, .most = most, .beside = beside};
        CHECK_EQ(pthread_create(&thread[r], NULL, use_room, &g[r]), 0);
    }
    for (int32_t r = 0; r < ranks; r++) pthread_join(thread[r], NULL);
    if (ranks > 1) comm_close_threads(c, ranks);
}

/* Devices have a room each: rows of every rank come to all others', where `spread` says whose are which. */
static void* spread_rows(void* context)
{
    guest* g = context;
    comm* c = g->c;
    layer_rows room = {0};
    const int64_t bound[] = {0, 5, 5, 12}; /* the second rank has none */
    device* d = device_open_elsewhere(0, &g->why);
    float* at = layer_rows_open(&room, d, c, 12 * 8, g->most, "rooms/data", &g->why);
    g->opened = at != NULL;
    for (int64_t i = 2 * bound[c->rank]; at && i < 2 * bound[c->rank + 1]; i++) at[i] = (float)(1 + i);
    CHECK((room.host_memory != NULL) == (g->most < 12 * 8));
    bool good = at && layer_rows_spread(&room, at, bound, 8, &g->why);
    for (int64_t i = 0; good && i < 24; i++) g->wrong += at[i] != (float)(1 + i);
    comm_barrier(c, &g->why);
    layer_rows_close(&room);
    device_close(d);
    return NULL;
}

TEST(rows_between_layers_come_to_every_devices_room)
{
    static const volatile sig_atomic_t never = 0;
    for (int i = 0; i < 2; i++) {
        guest g[3];
        comm c[3];
        pthread_t thread[3];
        error why = {""};
        CHECK(comm_open_threads(c, 3, &never, &why));
        for (int32_t r = 0; r < 3; r++) {
            g[r] = (guest){.c = &c[r], .most = 12 * 8 - (size_t)i};
            CHECK_EQ(pthread_create(&thread[r], NULL, spread_rows, &g[r]), 0);
        }
        for (int32_t r = 0; r < 3; r++) pthread_join(thread[r], NULL);
        for (int32_t r = 0; r < 3; r++) CHECK(g[r].opened && g[r].wrong == 0 && !g[r].why.text[0]);
        comm_close_threads(c, 3);
    }
}

/* Machines have a room each, here a file: a rank writes its rows there, and gets others' from other machines. */
static void* spread_over_machines(void* context)
{
    guest* g = context;
    comm* c = g->c;
    layer_rows room = {0};
    const int64_t bound[] = {0, 5, 5, 12, 13, 20, 22};
    device* d = device_open_cpu(1, &g->why);
    float* at = layer_rows_open(&room, d, c, 22 * 8, 0, "rooms/data", &g->why);
    g->opened = at != NULL;
    for (int64_t i = 2 * bound[c->rank]; at && i < 2 * bound[c->rank + 1]; i++) at[i] = (float)(1 + i);
    bool good = at && layer_rows_spread(&room, at, bound, 8, &g->why) && comm_barrier(c, &g->why);
    for (int64_t i = 0; good && i < 44; i++) g->wrong += at[i] != (float)(1 + i);
    comm_barrier(c, &g->why);
    layer_rows_close(&room);
    device_close(d);
    return NULL;
}

TEST(rows_between_layers_come_to_each_machines_room_however_many_ranks_it_has)
{
    static const volatile sig_atomic_t never = 0;
    static const int32_t size[][4] = {{2, 1, 3, 0}, {1, 5, 0, 0}, {4, 2, 0, 0}, {3, 3, 0, 0}};
    CHECK(mkdir("rooms", 0777) == 0 || errno == EEXIST);
    for (int i = 0; i < 4; i++) {
        guest g[6];
        comm c[6];
        pthread_t thread[6];
        error why = {""};
        CHECK(comm_open_threads(c, 6, &never, &why));
        for (int32_t r = 0, machine = 0, least = 0; r < 6; r++) {
            if (r == least + size[i][machine]) least = r, machine++;
            c[r].machines = 3 - !size[i][2];
            c[r].machine = machine;
            c[r].local = r - least;
            c[r].locals = size[i][machine];
            g[r] = (guest){.c = &c[r]};
            CHECK_EQ(pthread_create(&thread[r], NULL, spread_over_machines, &g[r]), 0);
        }
        for (int32_t r = 0; r < 6; r++) pthread_join(thread[r], NULL);
        for (int32_t r = 0; r < 6; r++)
            if (!CHECK(g[r].opened && g[r].wrong == 0 && !g[r].why.text[0])) printf("  %d, rank %d: %s\n", i, (int)r, g[r].why.text);
        comm_close_threads(c, 6);
    }
    CHECK_EQ(rmdir("rooms"), 0);
}

/* In memory up to `most`, to the byte; beyond in a file of the first rank's, beside the one that is named. */
TEST(rows_beyond_what_evaluation_may_take_lie_in_one_file_of_all_ranks)
{
    static const size_t bytes[] = {0, 1, 9999, 10000, 10001, 30000};
    CHECK(mkdir("rooms", 0777) == 0 || errno == EEXIST);
    for (int32_t ranks = 1; ranks <= 3; ranks++)
        for (int i = 0; i < 7; i++) {
            guest g[3];
            const bool none = i == 6; /* no such folder */
            use_rooms(ranks, bytes[none ? 4 : i], 10000, none ? "no/such/file" : "rooms/data", g);
            for (int32_t r = 0; r < ranks; r++) {
                CHECK_EQ(g[r].opened, !none);
                CHECK_EQ(g[r].wrong, 0);
                if (none) CHECK(strstr(g[r].why.text, "evaluation beyond --eval-memory 10000: ") && strstr(g[r].why.text, "no/such/file"));
                else CHECK_STR(g[r].why.text, "");
                CHECK_EQ(g[r].in_file, !none && bytes[i] > 10000 && r == 0);
                if (g[r].in_file) CHECK(strstr(g[r].path, "/rooms/") != NULL);
            }
        }
    CHECK_EQ(rmdir("rooms"), 0); /* no file has stayed */
}

/* ==== edge cases ================================================================================================ */

TEST(rows_of_any_width_lie_in_tiers)
{
    static const int widths[] = {1, 3, 100, 128, 602};
    for (int i = 0; i < 10; i++) {
        char options[400], where[200];
        write_hubs("wide.ggnn", widths[i / 2], i % 2);
        snprintf(options, sizeof options, "--data wide.ggnn --layers 2 %s %s", common, models[i % MODELS]);
        CHECK_EQ(trainf("%s --log resident", options), 0);
        results("resident", &first);
        snprintf(where, sizeof where, "--cache dual --cache-bytes %d --store-features .4", 3000 + widths[i / 2] * 40);
        same_results(options, where);
        same_results(options, "--store-features .3 --store-graph .5 --devices 1");
    }
}

/* A hub's list takes more than a budget: others are cached and stored in its place. */
TEST(budgets_of_nothing_one_row_and_everything)
{
    static const char* const budgets[] = {"0", "63", "64", "65", "500", "1G"};
    write_hubs("hubs.ggnn", 16, false);
    char options[400], where[200];
    snprintf(options, sizeof options, "--data hubs.ggnn --layers 2 %s", common);
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    for (int b = 0; b < 6; b++) {
        static const int rows[] = {0, 0, 1, 1, 7, 200};
        snprintf(where, sizeof where, "--cache degree --cache-bytes %s", budgets[b]);
        same_results(options, where);
        read_log(&second, "tiers", "tiers");
        CHECK_EQ(logged("rows", "cache", 0), rows[b]);
        snprintf(where, sizeof where, "--cache dual --cache-bytes %s", budgets[b]);
        same_results(options, where);
        read_log(&second, "tiers", "tiers");
        const int64_t bytes = logged("row_bytes", "cache", 0) + logged("list_bytes", "cache", 0);
        CHECK(b == 5 ? logged("lists", "cache", 0) == 200 : bytes <= atoi(budgets[b]));
        CHECK(b != 4 || logged("lists", "cache", 0) > 5); /* a hub's has 816 bytes */
    }
    for (int budget = 1; budget < 600; budget += 499) {
        snprintf(where, sizeof where, "--device-memory %d --reserve-bytes 0 --prefer %s",
                 budget + 200 * (int)sizeof(ggnn_node), budget < 9 ? "features" : "graph");
        same_results(options, where);
        read_log(&second, "tiers", "tiers");
        CHECK(logged("row_bytes", "own", 0) + logged("list_bytes", "own", 0) <= budget);
        CHECK(budget < 9 || logged("lists", "own", 0) > 5);
    }
}

/* A hub has two in three bytes of all lists: its part is the fullest, and no larger than a device's memory, less a ranking where lists
   do not lie in the order of ids, which is that of degrees here. */
TEST(no_part_is_larger_than_a_device)
{
    static const int kilobytes[] = {12, 16, 20, 24, 30, 40, 60};
    char options[400], where[200];
    int whole = 0;
    finish(start("ggnn-data", "generate star star.ggnn --nodes 3000 --features 1 --classes 3"));
    snprintf(options, sizeof options, "--data star.ggnn --layers 2 %s --devices 4", common);
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    for (int i = 0; i < 28; i++) {
        const int64_t memory = kilobytes[i / 4] * 250 * (int64_t)sizeof(ggnn_node), ranks = 3000 * (int64_t)sizeof(ggnn_node);
        snprintf(where, sizeof where, "--device-memory %lld --reserve-bytes 0 --prefer %s%s", (long long)memory,
                 i & 1 ? "features" : "graph", i & 2 ? " --topology ring" : "");
        same_results(options, where);
        read_log(&second, "tiers", "tiers");
        for (int r = 0; r < 4; r++) {
            const int64_t taken = logged("row_bytes", "own", r) + logged("list_bytes", "own", r);
            const int64_t kept = logged("lists", "host", r) && logged("lists", "own", r) ? ranks : 0;
            if (!CHECK(taken <= memory - kept)) printf("  %s: device %d has %lld\n", where, r, (long long)taken);
        }
        whole += logged("lists", "host", 0) == 0;
    }
    CHECK(whole >= 3 && whole < 14);
}

/* Parts, cache and rankings together, where each device stores two parts of four, and where the cache's bytes are given. */
TEST(parts_and_cache_share_a_devices_memory)
{
    static const char* const cache[] = {"auto --store-features .3", "auto --store-graph .5", "4000 --store-features .5", "4000"};
    for (int i = 0; i < 24; i++) {
        const int64_t memory = (12 + 4 * (i / 8)) * 250 * (int64_t)sizeof(ggnn_node), ranks = 2 * 600 * (int64_t)sizeof(ggnn_node);
        CHECK_EQ(trainf("--data planted.ggnn --layers 2 %s --devices 4 --cache degree --cache-bytes %s --device-memory %lld --reserve-bytes 0 "
                        "--log tiers%s", common, cache[i % 4], (long long)memory, i & 4 ? " --topology ring" : ""), 0);
        read_log(&second, "tiers", "tiers");
        for (int r = 0; r < 4; r++) {
            const int64_t cached = logged("row_bytes", "cache", r), own = logged("row_bytes", "own", r) + logged("list_bytes", "own", r);
            if (!CHECK(cached + own <= memory - ranks / 2)) printf("  %d: device %d has %lld and %lld of %lld\n", i, r, (long long)cached, (long long)own, (long long)memory);
            CHECK(i % 4 < 2 || cached == 4000 / 64 * 64);
        }
    }
}

/* Every fourth list is long: by id one of four parts had them all. Dealt by length they are even, and all fit. */
TEST(lists_that_do_not_fit_by_id_are_dealt_by_hotness)
{
    enum { NODES = 200 };
    static int64_t indptr[NODES + 1];
    static ggnn_node indices[NODES * 100];
    char options[400], where[200];
    for (int v = 0; v < NODES; v++) {
        const int degree = v % 4 ? 1 : 100;
        for (int i = 0; i < degree; i++) indices[indptr[v] + i] = (ggnn_node)(i * 2 % NODES + (v < 4 * i) % 2);
        indptr[v + 1] = indptr[v] + degree;
    }
    write_graph("fourth.ggnn", NODES, indptr, indices, 1, false);
    snprintf(options, sizeof options, "--data fourth.ggnn --layers 2 %s --devices 4", common);
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    const int64_t id = (int64_t)sizeof(ggnn_node), ranks = 3 * NODES * id, all = indptr[NODES] * id + NODES * 16;
    snprintf(where, sizeof where, "--device-memory %lld --reserve-bytes 0 --cache presc --cache-ratio .01", (long long)(ranks + all / 4 + 1000 * id));
    same_results(options, where);
    read_log(&second, "tiers", "tiers");
    CHECK_EQ(logged("lists", "host", 0), 0);
    for (int r = 0; r < 4; r++) CHECK(logged("lists", "own", r) == NODES / 4 && logged("list_bytes", "own", r) <= all / 4 + 1000 * id);
    CHECK(2 * logged("list_bytes", "own", 0) < all);
    read_log(&second, "tiers", "ranks");
    CHECK(logged("lists", "own", 0) > 0 && logged("lists", "peer", 0) > 0 && logged("lists", "host", 0) == 0);
}

TEST(a_graph_of_isolated_nodes_lies_in_tiers)
{
    static const int64_t indptr[31];
    char options[400], where[200];
    write_graph("alone.ggnn", 30, indptr, NULL, 4, false);
    for (int m = 0; m < MODELS; m++) {
        snprintf(options, sizeof options, "--data alone.ggnn --layers 2 %s %s", common, models[m]);
        CHECK_EQ(trainf("%s --log resident", options), 0);
        results("resident", &first);
        for (int p = 0; p < POLICIES; p++) {
            snprintf(where, sizeof where, "--cache %s %s --store-graph .5 --store-features .%d", policies[p],
                     p ? "--cache-ratio .3" : "", p);
            same_results(options, where);
        }
    }
}

/* ==== rankings from a file ====================================================================================== */

typedef struct {
    const config* config;
    const task*   task;
    comm*    c;
    int64_t  peak;
    tier_plan plan;
    error why;
} planner;

static bool open_plan(planner* p, device* d)
{
    const ggnn_sampling how = config_sampling(p->config);
    const tier_options options = config_tiers(p->config);
    const tier_data data = task_tiers(p->task);
    return tier_plan_open(&p->plan, &options, &data, p->c, p->c, d, &p->why) && tier_plan_order(&p->plan, &how, NULL, &p->why);
}

static void* plan_one(void* context)
{
    planner* p = context;
    device* d = device_open_cpu(1, &p->why);
    const bool good = open_plan(p, d) && tier_plan_fill(&p->plan, p->peak, &p->why);
    if (!good) comm_fail(p->c, &p->why);
    device_close(d);
    return NULL;
}

TEST(a_ranking_from_a_file_places_as_the_trainers_own)
{
    static const char* const by[] = {"degree", "presc", "dual"};
    char options[400];
    snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s", common);
    for (int i = 0; i < 3; i++) {
        char line[400];
        snprintf(line, sizeof line, "rank rmat.ggnn --by %s --fanout 4,3 --batch 100 --out r --cache-bytes 5000", by[i]);
        CHECK_EQ(finish(start("ggnn-data", line)), 0);
        if (i < 2) {
            CHECK_EQ(trainf("%s --cache %s --cache-ratio .2 --store-graph .5 --log own", options, by[i]), 0);
            CHECK_EQ(trainf("%s --cache %s --cache-ratio .2 --store-graph .5 --ranking r --log file", options, by[i]), 0);
            read_log(&first, "own", NULL);
            read_log(&second, "file", NULL);
            leave_out(&first, "counted"); /* here: the file was counted before */
            leave_out(&second, "counted");
            CHECK(same_records(&first, &second));
            continue;
        }
        CHECK_EQ(trainf("%s --cache dual --ranking r --log file", options), 0);
        read_log(&second, "file", "tiers");
        CHECK(logged("rows", "cache", 0) > 0 && logged("lists", "cache", 0) > 0);
        CHECK_EQ(trainf("%s --cache dual --cache-bytes 4K --ranking r", options), 2);
        CHECK(says("with --cache dual --ranking says how much is cached; leave out one of them"));
    }
    CHECK_EQ(finish(start("ggnn-data", "rank rmat.ggnn --by degree --out r")), 0);
    CHECK_EQ(trainf("%s --cache dual --ranking r", options), 1);
    CHECK(says("r does not say how much is cached"));
    CHECK_EQ(trainf("--data planted.ggnn %s --ranking r", common), 1);
    CHECK(says("r: it belongs to another graph"));
}

/* A file says by which policy it was made; one made by hand says another word, or none. */
TEST(a_ranking_goes_with_the_policy_that_made_it)
{
    static const char* const by[] = {"degree", "aligraph", "presc", "optimal", "dual", "random"};
    char options[400], line[400], words[200];
    dataset d;
    ranking r;
    error why = {""};
    snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s --epochs 1 --eval-every 0", common);
    for (int made = 0; made < 6; made++) {
        snprintf(line, sizeof line, "rank rmat.ggnn --by %s --fanout 4,3 --batch 100 --out made --cache-bytes 5000", by[made]);
        CHECK_EQ(finish(start("ggnn-data", line)), 0);
        for (int i = 0; i < 6; i++) {
            const bool fits = i == made, sized = i == 4; /* dual: by the file */
            if (sized && made != 4) continue; /* that file says no size */
            CHECK_EQ(trainf("%s --cache %s %s --ranking made", options, by[i], sized ? "" : "--cache-ratio .2"), fits ? 0 : 1);
            snprintf(words, sizeof words, "--cache %s: made was made by %s; give --cache %s, or another ranking", by[i], by[made], by[made]);
            CHECK(fits || says(words));
        }
        CHECK_EQ(trainf("%s --store-graph .5 --ranking made", options), 0); /* parts alone take any order */
    }
    if (!CHECK(dataset_open(&d, "rmat.ggnn", &why) && ranking_open(&r, "made", &d, &why))) return;
    CHECK_STR(r.made_by, "random");
    static char long_word[1 << 20];
    static const char* const words_of[] = {"hand", "", "degrees", "a word of thirty-two letters....", long_word};
    memset(long_word, 'd', sizeof long_word - 1);
    for (int i = 0; i < 5; i++) {
        CHECK(ranking_write("hand", &d, words_of[i], r.rows, r.lists, NULL, NULL, &why));
        CHECK_EQ(trainf("%s --cache degree --cache-ratio .2 --ranking hand", options), 0);
    }
    ranking_close(&r);
    dataset_close(&d);
}

/* A ranking made by hand: node 0 first, then the others from the last on. */
static void turn_all_but_the_first(const char* graph, const char* path)
{
    dataset d;
    error why = {""};
    if (!CHECK(dataset_open(&d, graph, &why))) return;
    ggnn_node* rank = calloc((size_t)d.num_nodes, sizeof *rank);
    for (int64_t v = 1; v < d.num_nodes; v++) rank[v] = (ggnn_node)(d.num_nodes - v);
    CHECK(ranking_write(path, &d, "hand", rank, rank, NULL, NULL, &why));
    free(rank);
    dataset_close(&d);
}

/* After `reorder` the hottest are the first: no table of ranks is kept but of rows that begin behind the cache, and what lies where is
   the same. */
TEST(a_ranking_that_is_the_order_of_ids_takes_no_room)
{
    char options[400];
    for (int turn = 0; turn < 3; turn++) { /* 2: all but the first node in another order */
        const bool ordered = turn == 1;
        static const volatile sig_atomic_t never = 0;
        char line[] = "--data ordered.ggnn --layers 2 --fanout 4,3 --cache degree --cache-ratio .2 --store-graph .5 --store-features .3 --ranking ordered.ggnn.rank";
        char* argv[40] = {(char*)(uintptr_t) "ggnn-train"};
        int argc = 1;
        config c;
        task t;
        comm one;
        planner p;
        error why = {""};
        if (turn < 2) CHECK_EQ(finish(start("ggnn-data", ordered ? "rank rmat.ggnn --by degree --out rmat.ggnn.rank" : "generate rmat ordered.ggnn --nodes 700 --edges 4000 --features 6 --classes 4")), 0);
        if (ordered) CHECK_EQ(finish(start("ggnn-data", "reorder rmat.ggnn ordered.ggnn")), 0);
        if (turn < 2) CHECK_EQ(finish(start("ggnn-data", "rank ordered.ggnn --by degree")), 0);
        else turn_all_but_the_first("ordered.ggnn", "ordered.ggnn.rank");
        for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (!CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
        CHECK(comm_open_threads(&one, 1, &never, &why));
        p = (planner){.config = &c, .task = &t, .c = &one};
        plan_one(&p);
        CHECK_STR(p.why.text, "");
        CHECK((p.plan.plan.share[TIERS_GRAPH].rank == NULL) == ordered);
        CHECK(p.plan.plan.share[TIERS_FEATURES].rank != NULL);
        CHECK((p.plan.plan.share[TIERS_FEATURES].cache_rank == NULL) == ordered);
        CHECK_EQ(tier_plan_rankings(&p.plan), (ordered ? 1 : 3) * t.graph.num_nodes * (int64_t)sizeof(ggnn_node)); /* of lists, of rows */
        tier_plan_close(&p.plan);
        comm_close_threads(&one, 1);
        task_close(&t);
    }
    snprintf(options, sizeof options, "--data ordered.ggnn --layers 2 %s", common);
    CHECK_EQ(trainf("%s --log resident", options), 0);
    results("resident", &first);
    same_results(options, "--cache degree --cache-ratio .2 --store-graph .5 --store-features .3");
}

/* A budget is filled by the same rule, with the same bytes, before training and in it. */
TEST(a_dual_ranking_places_what_the_trainers_own_budget_places)
{
    static const char* const value[] = {"0,0", "3000,2000", "1,0"};
    static const int budget[] = {1000, 5000, 40000};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            char line[400], options[400];
            snprintf(line, sizeof line, "rank rmat.ggnn --by dual --fanout 4,3 --batch 100 --seed 1 --out r --cache-bytes %d --slopes %s", budget[k], value[i]);
            CHECK_EQ(finish(start("ggnn-data", line)), 0);
            snprintf(options, sizeof options, "--data rmat.ggnn --layers 2 %s --cache dual", common);
            CHECK_EQ(trainf("%s --seed 1 --cache-bytes %d --slopes %s --log own", options, budget[k], value[i]), 0);
            CHECK_EQ(trainf("%s --seed 1 --ranking r --log file", options), 0);
            read_log(&first, "own", "epoch"); /* with its reads of each tier */
            read_log(&second, "file", "epoch");
            CHECK(same_records(&first, &second));
            read_log(&first, "own", "tiers");
            read_log(&second, "file", "tiers");
            static const char* const of[] = {"rows", "row_bytes", "lists", "list_bytes"};
            for (int m = 0; m < 4; m++) CHECK_EQ(logged(of[m], "cache", 0), logged_in(&first, of[m], "cache", 0));
            const int64_t cached = logged("row_bytes", "cache", 0) + logged("list_bytes", "cache", 0);
            CHECK(cached > 0 && cached <= budget[k]);
        }
}

/* A dual file of 0.2 names no budget: it was filled with lists of 8 bytes beside their edges. */
TEST(of_a_dual_file_of_0_2_the_entries_that_no_longer_fit_are_left_out)
{
    dataset d;
    ranking r;
    error why = {""};
    char words[300];
    CHECK_EQ(finish(start("ggnn-data", "rank rmat.ggnn --by dual --fanout 4,3 --out r --cache-bytes 9000")), 0);
    if (!CHECK(dataset_open(&d, "rmat.ggnn", &why) && ranking_open(&r, "r", &d, &why))) return;
    CHECK(r.budget && *r.budget == 9000);
    int64_t budget = r.cached[0] * 24, rows = r.cached[0], lists = r.cached[1]; /* rows of 6 floats */
    for (int64_t v = 0; v < d.num_nodes; v++)
        if (r.lists[v] < lists) budget += 8 + (d.csc.indptr[v + 1] - d.csc.indptr[v]) * (int64_t)sizeof(ggnn_node);
    CHECK(ranking_write("old", &d, "dual", r.rows, r.lists, r.cached, NULL, &why));
    ranking_close(&r);
    dataset_close(&d);
    CHECK_EQ(trainf("--data rmat.ggnn --layers 2 %s --cache dual --ranking old --log file", common), 0);
    read_log(&second, "file", "tiers");
    const int64_t kept = logged("row_bytes", "cache", 0) + logged("list_bytes", "cache", 0);
    CHECK(kept <= budget && kept > budget - 200); /* a row and a list are less */
    CHECK(logged("rows", "cache", 0) < rows && logged("lists", "cache", 0) < lists);
    snprintf(words, sizeof words, "--ranking old: %lld of its %lld rows and %lld of its %lld lists are cached: all would take more than the %lld bytes that it was made for",
             (long long)logged("rows", "cache", 0), (long long)rows, (long long)logged("lists", "cache", 0), (long long)lists, (long long)budget);
    CHECK(says(words));
}

/* ==== slopes ==================================================================================================== */

/* Of a graph whose rows are long and whose batches are few edges. */
static slopes_times measure_slopes(const task* t, int64_t room)
{
    error why = {""};
    slopes_times s;
    device* d = device_open_cpu(1, &why);
    tiers_source from = {.graph = t->graph, .features = t->features, .labels = t->labels};
    from.ids[2] = t->ids[SPLIT_TRAIN];
    from.count[2] = t->count[SPLIT_TRAIN];
    const slopes_plan plan = {.from = &from, .how = {.num_hops = 2, .fanout = {2, 2}}, .list = 2, .batch = 20, .rank = 1, .ranks = 2,
                              .room = room, .pass = {.num_ids = t->count[SPLIT_TRAIN], .shuffled = true, .keyed = true,
                                                     .rng = {3, 0, GGNN_PURPOSE_SAMPLE}}};
    device_enter(d);
    CHECK(slopes_measure(&s, d, &plan, &why));
    CHECK_STR(why.text, "");
    device_close(d);
    return s;
}

TEST(slopes_are_those_of_times_with_random_caches)
{
    static task t;
    static config c;
    error why = {""};
    char* words[] = {"ggnn-train", "--data", "wide.ggnn"};
    finish(start("ggnn-data", "generate planted wide.ggnn --nodes 1500 --edges 9000 --classes 3 --features 1000"));
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why))) return;
    const int64_t all = 1500 * (4000 + 16) + 9000 * (int64_t)sizeof(ggnn_node);
    const slopes_times whole = measure_slopes(&t, all), some = measure_slopes(&t, all / 3), none = measure_slopes(&t, 100);
    CHECK_EQ(whole.bytes[SLOPES_SIZES - 1], all);
    CHECK(some.bytes[SLOPES_SIZES - 1] <= all / 3 && some.bytes[SLOPES_SIZES - 1] > all / 3 - 10000);
    CHECK_EQ(none.bytes[SLOPES_SIZES - 1], 0);
    ggnn_node rank[1500], order[1500];
    ggnn_rank_random(rank, order, 3, 1500);
    for (int i = 0; i < SLOPES_SIZES; i++) { /* a node at least, where there is room for one */
        int64_t bytes = 0;
        for (int k = 0; k < (i ? 1500 * i / (SLOPES_SIZES - 1) : 1); k++) bytes += 4000 + list_bytes_of(&t, order[k]);
        CHECK_EQ(whole.bytes[i], bytes);
        if (i == 0) CHECK(some.bytes[0] == bytes && none.bytes[0] == 0);
    }
    for (int kind = 0; kind < TIERS_KINDS; kind++) {
        for (int i = 0; i < SLOPES_SIZES; i++) { /* shares of the reads, near those of the nodes */
            CHECK_NEAR(whole.hit[kind][i], i / (double)(SLOPES_SIZES - 1), .1);
            CHECK_NEAR(some.hit[kind][i], i / (double)(SLOPES_SIZES - 1) / 3, .1);
            CHECK_EQ(none.hit[kind][i], 0);
            CHECK(whole.ms[kind][i] > 0);
        }
        const slopes_fit *fit = &whole.fit[kind], *flat = &none.fit[kind];
        CHECK_EQ(fit->line > 0 ? fit->line : 0, ggnn_fill_slope(whole.hit[kind], whole.ms[kind], SLOPES_SIZES));
        CHECK_EQ(fit->clear, (double)fit->line > 2 * fit->error);
        CHECK_EQ(slopes_of(&whole, (tiers_kind)kind), fit->clear ? fit->line : 0);
        CHECK(slopes_of(&none, (tiers_kind)kind) == 0 && flat->line == 0 && isnan(flat->error) && isnan(flat->explained) && !flat->clear);
    }
    CHECK(whole.ms[TIERS_FEATURES][4] > whole.ms[TIERS_GRAPH][4]); /* 4,000 bytes a row, two edges a list */
    static float ones[9000];
    for (int e = 0; e < 9000; e++) ones[e] = 1;
    t.graph.whole.weight = ones; /* they take room beside the ids */
    const slopes_times weighted = measure_slopes(&t, all + (int64_t)sizeof ones), most = measure_slopes(&t, all / 3);
    CHECK_EQ(weighted.bytes[SLOPES_SIZES - 1], all + (int64_t)sizeof ones);
    CHECK(most.bytes[SLOPES_SIZES - 1] <= all / 3 && most.bytes[SLOPES_SIZES - 1] > all / 3 - 10000);
    t.graph.whole.weight = NULL;
    task_close(&t);
}

/* The same slices of the first eight batches, with the draws that come before training: whether batches are keyed in the pass
   does not matter, as each draw has its own step. */
static void count_reads(const task* t, int64_t* rows, int64_t* lists)
{
    const ggnn_sampling how = {.num_hops = 2, .fanout = {2, 2}};
    loader_pass pass = {.ids = t->ids[SPLIT_TRAIN], .num_ids = t->count[SPLIT_TRAIN], .shuffled = true,
                        .rng = {3, 0, GGNN_PURPOSE_PRESAMPLE}};
    ggnn_batch b;
    ggnn_node seeds[10];
    CHECK(ggnn_batch_plan(&b, &t->graph, &how, 10, NULL) == GGNN_OK);
    void* memory = malloc(b.bytes);
    ggnn_batch_init(&b, memory);
    for (int64_t i = 0; i < 8; i++) {
        pass.keyed = i % 2;
        CHECK(loader_sample_slice(&b, seeds, &t->graph, &pass, 20, i, 1, 2) == GGNN_OK);
        CHECK(ggnn_count_batch(rows, lists, &b) == GGNN_OK);
    }
    free(memory);
}

TEST(hit_ratios_of_slopes_are_those_of_the_sampled_ids)
{
    enum { N = 1500 };
    static task t;
    static config c;
    static int64_t reads[TIERS_KINDS][N];
    ggnn_node order[2 * N];
    error why = {""};
    char* words[] = {"ggnn-train", "--data", "wide.ggnn"};
    finish(start("ggnn-data", "generate planted wide.ggnn --nodes 1500 --edges 9000 --classes 3 --features 10"));
    CHECK_EQ(config_parse(&c, 3, words, &why), OPTIONS_GOOD);
    if (!CHECK(task_open(&t, &c, &why))) return;
    const slopes_times s = measure_slopes(&t, N * (40 + 16) + 9000 * (int64_t)sizeof(ggnn_node));
    count_reads(&t, reads[TIERS_FEATURES], reads[TIERS_GRAPH]);
    ggnn_rank_random(order, order + N, 3, N);
    for (int kind = 0; kind < TIERS_KINDS; kind++)
        for (int i = 0; i < SLOPES_SIZES; i++) {
            int64_t hits = 0, all = 0;
            for (int v = 0; v < N; v++) {
                all += reads[kind][v];
                if (order[v] < (i ? N * i / (SLOPES_SIZES - 1) : 1)) hits += reads[kind][v];
            }
            CHECK_NEAR(s.hit[kind][i], (double)hits / (double)all, 1e-12);
        }
    task_close(&t);
}

TEST(a_slopes_time_is_that_of_an_epoch_by_the_fastest_turn_but_the_first)
{
    for (int least = 1; least < SLOPES_TURNS; least++) {
        double seconds[SLOPES_TURNS] = {.001, .02, .03, .05, .04};
        seconds[least] = .01;
        CHECK_NEAR(slopes_epoch(seconds, 8, 8), 10, 1e-12);
        CHECK_NEAR(slopes_epoch(seconds, 8, 100), 125, 1e-12);
        CHECK_NEAR(slopes_epoch(seconds, 3, 3), 10, 1e-12);
    }
}

/* By hand. Through three points at 0, .5 and 1 goes a line of slope last - first; the middle 3 m above it leaves residuals -m, 2 m, -m,
   and a standard error of sqrt(6 m^2 / 1 / .5) = 3.4641 m. */
TEST(a_line_through_times_is_told_from_noise_by_its_standard_error)
{
    static const struct {
        double hit[SLOPES_SIZES], ms[SLOPES_SIZES];
        int n;
        int64_t line;
        double error, explained; /* milliseconds; -1: there is none */
        bool clear;
    } of[] = {{{0, .25, .5, .75, 1}, {10, 8, 6, 4, 2}, 5, 8000000, 0, 1, true},
              {{0, .5, 1}, {2, 6, 10}, 3, -8000000, 0, 1, false}, /* a cache that costs */
              {{0, .5, 1}, {9, 6, 1}, 3, 8000000, 1.154700538, 48. / 49, true},
              {{0, .5, 1}, {5, 8, 4}, 3, 1000000, 4.041451884, 3. / 52, false},
              {{0, .5, 1}, {8.5, 8, 1.5}, 3, 7000000, 3.464101615, 24.5 / 30.5, true}, /* twice 3.464 is 6.928 */
              {{0, .5, 1}, {8.45, 8, 1.55}, 3, 6900000, 3.464101615, 23.805 / 29.805, false},
              {{0, 0, 1}, {4, 6, 1}, 3, 4000000, 1.732050808, 32. / 38, true}, /* two at one ratio */
              {{0, .5, 1}, {3, 3, 3}, 3, 0, 0, -1, false},
              {{.1, .1, .1}, {9, 6, 1}, 3, 0, -1, -1, false},
              {{0, 1}, {9, 1}, 2, 0, -1, -1, false}, /* no residual: nothing says how far off the line may be */
              {{.5, .5}, {9, 1}, 2, 0, -1, -1, false},
              {{.5}, {9}, 1, 0, -1, -1, false},
              {{0}, {0}, 0, 0, -1, -1, false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const slopes_fit fit = slopes_line(of[i].hit, of[i].ms, of[i].n);
        const bool good = CHECK_EQ(fit.line, of[i].line) & CHECK_EQ(fit.clear, of[i].clear) &
                          CHECK(of[i].error < 0 ? isnan(fit.error) : fabs(fit.error - 1e6 * of[i].error) < 1) &
                          CHECK(of[i].explained < 0 ? isnan(fit.explained) : fabs(fit.explained - of[i].explained) < 1e-9);
        if (!good) printf("  case %zu: %lld, %g, %g\n", i, (long long)fit.line, fit.error, fit.explained);
    }
}

/* Which kind's slope is clear decides what is used, and what is said. */
TEST(slopes_that_are_noise_are_said_and_count_as_0)
{
    static const char* const said[] = {"what lists and rows save cannot be told from noise (not above twice its standard error): 0,0 in its place, as without --slopes",
                                       "what rows save cannot be told from noise (not above twice its standard error): 0 in its place, so that none is cached",
                                       "what lists save cannot be told from noise (not above twice its standard error): 0 in its place, so that none is cached", ""};
    for (int clear = 0; clear < 4; clear++) {
        tier_plan p;
        char line[300];
        memset(&p, 0, sizeof p);
        p.slopes.fit[TIERS_GRAPH] = (slopes_fit){5, 1, .5, clear & 1};
        p.slopes.fit[TIERS_FEATURES] = (slopes_fit){7, 1, .5, clear >> 1};
        tier_plan_take_slopes(&p);
        CHECK(p.measured && p.options.slopes[0] == (clear & 1 ? 5 : 0) && p.options.slopes[1] == (clear >> 1 ? 7 : 0));
        snprintf(line, sizeof line, "--slopes %d,%d (measured on device 0: nanoseconds an epoch that all lists, and all rows, being cached would save)",
                 clear & 1 ? 5 : 0, clear >> 1 ? 7 : 0);
        CHECK_STR(p.note[0], line);
        snprintf(line, sizeof line, "%s%s", said[clear][0] ? "--slopes measure: " : "", said[clear]);
        CHECK_STR(p.note[1], line);
    }
}

TEST(measured_slopes_are_said_and_give_the_same_plan_again)
{
    for (int devices = 1; devices < 4; devices++) {
        char options[400], again[100];
        snprintf(options, sizeof options, "--data rmat.ggnn %s --devices %d --cache dual --cache-ratio .3", common, devices);
        CHECK_EQ(trainf("%s --log tiers --slopes measure", options), 0);
        const char* said = strstr(output, "--slopes ");
        if (!CHECK(said != NULL)) continue;
        CHECK(says(" (measured on device 0: nanoseconds an epoch that all lists, and all rows, being cached would save)"));
        CHECK(says("times of lists an epoch (measured): ") && says("times of rows an epoch (measured): "));
        snprintf(again, sizeof again, "%.*s", (int)strcspn(said + 9, " ") + 9, said);
        read_log(&first, "tiers", NULL);
        CHECK_EQ(trainf("%s --log tiers %s", options, again), 0);
        read_log(&second, "tiers", NULL);
        int found = 0;
        for (int i = 0; i < first.count; i++) {
            char* measured = strstr(first.line[i], ",\"slopes\":{\"lists\":{\"hits\":[");
            if (measured) strcpy(measured, "}\n"); /* the last of the record */
            found += measured != NULL;
            cut_array(first.line[i], "notes");
        }
        CHECK_EQ(found, 1);
        for (int i = 0; i < second.count; i++) cut_array(second.line[i], "notes");
        CHECK(same_records(&first, &second));
    }
}

/* Seeds by which no cache that is timed has a training node, whose lists alone are read: these lists save nothing, whatever
   times are. The first number of --slopes is theirs. */
TEST(lists_that_no_cache_has_save_nothing)
{
    enum { N = 34 };
    config c;
    task t;
    error why = {""};
    char* words[] = {"ggnn-train", "--data", "karate.ggnn"};
    if (!CHECK(config_parse(&c, 3, words, &why) == OPTIONS_GOOD && task_open(&t, &c, &why))) return;
    int runs = 0;
    for (int seed = 1; runs < 8 && seed < 200; seed++) {
        ggnn_node rank[N], order[N], least = N;
        ggnn_rank_random(rank, order, (uint64_t)seed, N);
        for (int64_t i = 0; i < t.count[SPLIT_TRAIN]; i++)
            if (rank[t.ids[SPLIT_TRAIN][i]] < least) least = rank[t.ids[SPLIT_TRAIN][i]];
        if (least < 2500 / (t.features.pitch + 16)) continue; /* as many as there is room for */
        runs++;
        CHECK_EQ(trainf("--data karate.ggnn --layers 1 --fanout 40 --hidden 4 --epochs 1 --eval-every 0 --threads 1 --seed %d --cache dual --cache-ratio .1 "
                        "--slopes measure --device-memory %d --reserve-bytes 0", seed, 2500 + 2 * N * (int)sizeof(ggnn_node)), 0);
        CHECK(says("--slopes 0,"));
    }
    CHECK_EQ(runs, 8);
    task_close(&t);
}

/* ==== options =================================================================================================== */

TEST(options_that_do_not_go_together_are_errors_that_say_what_to_do)
{
    static const char* const wrong[][2] = {
        {"--fanout full --store-graph .5", "--store-graph 0.5: with --fanout full the whole graph is one batch, which lies in the device's "
                                           "memory, not in tiers; --fanout -1,-1,.."},
        {"--fanout full --cache degree --cache-ratio .5", "--cache degree: with --fanout full the whole graph"},
        {"--cache degree", "--cache degree: needs --cache-ratio or --cache-bytes"},
        {"--cache-ratio .1", "--cache-ratio 0.1: needs --cache"},
        {"--cache presc --cache-ratio .1 --cache-bytes 5", "give one of them"},
        {"--cache presc --cache-bytes auto", "needs --device-memory other than 0, as a CPU has no memory of a device's"},
        {"--cache presc --cache-bytes some", "--cache-bytes 'some': not a number of bytes"},
        {"--cache dual --cache-ratio .1 --slopes 3", "--slopes 3: two numbers"},
        {"--cache presc --cache-ratio .1 --slopes measure", "--slopes measure: needs --cache dual"},
        {"--cache dual --ranking r --slopes measure", "--slopes measure: --ranking says what is cached"},
        {"--store-graph 1.5", "--store-graph 1.5: must be between 0 and 1"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(trainf("--data karate.ggnn --epochs 1 %s", wrong[i][0]), 2);
        if (!says(wrong[i][1])) CHECK_STR(output, wrong[i][1]);
    }
}

TEST(what_lies_where_is_said)
{
    char options[400];
    snprintf(options, sizeof options, "--data planted.ggnn --layers 2 %s --log tiers", common);
    CHECK_EQ(trainf("%s --cache dual --cache-ratio .5", options), 0);
    CHECK(says("both slopes are 0, so that frequency a byte decides"));
    CHECK_EQ(trainf("%s --cache dual --cache-ratio .5 --slopes 0,7", options), 0);
    read_log(&second, "tiers", "tiers");
    CHECK(logged("rows", "cache", 0) > 0 && logged("lists", "cache", 0) == 0);
    CHECK_EQ(trainf("%s --cache dual --cache-ratio .5 --slopes 7,0", options), 0);
    read_log(&second, "tiers", "tiers");
    CHECK(logged("rows", "cache", 0) == 0 && logged("lists", "cache", 0) > 0);
    /* 600 rows of 64 bytes; a ranking takes 2,400 */
    CHECK_EQ(trainf("%s --cache random --cache-bytes auto --device-memory 20000 --reserve-bytes 5000 --store-graph 0", options), 0);
    CHECK(says("--cache-bytes auto: 1")); /* 12.6 kB, of wide ids 10.2 */
    read_log(&second, "tiers", "tiers");
    CHECK_EQ(logged("rows", "cache", 0), (20000 - 5000 - 600 * (int)sizeof(ggnn_node)) / 64);
    CHECK_EQ(trainf("%s --cache random --cache-bytes auto --device-memory 1000 --store-graph 0", options), 0);
    read_log(&second, "tiers", "tiers");
    CHECK_EQ(logged("rows", "cache", 0), 0);
    CHECK_EQ(trainf("%s --device-memory 50000 --reserve-bytes 0", options), 0);
    CHECK(says("as the device has no room for more (--reserve-bytes"));
}

/* 512 rows of 64 bytes and lists of 600 nodes: the one that is preferred is stored whole. */
TEST(what_is_preferred_is_stored_first)
{
    for (int features = 0; features < 2; features++) {
        CHECK_EQ(trainf("--data planted.ggnn --layers 2 %s --log tiers --device-memory %d --reserve-bytes 0 --prefer %s", common,
                        15000 * (int)sizeof(ggnn_node), features ? "features" : "graph"), 0);
        read_log(&second, "tiers", "tiers");
        const int64_t rows = logged("rows", "own", 0), lists = logged("lists", "own", 0);
        CHECK(features ? rows == 600 && lists > 0 && lists < 600 : lists == 600 && rows > 0 && rows < 600);
    }
}

/* Parts leave to a cache the rows and lists that a file says, beside three rankings: of lists, of rows, of rows behind the cache. */
TEST(parts_leave_room_for_what_a_file_caches)
{
    const int64_t rankings = 3 * 700 * (int64_t)sizeof(ggnn_node), row = 24, room = 9000;
    finish(start("ggnn-data", "rank rmat.ggnn --by dual --cache-bytes 5000 --fanout 4,3 --out dual.rank"));
    CHECK_EQ(trainf("--data rmat.ggnn --layers 2 %s --cache dual --ranking dual.rank --store-graph 0 --store-features 1 --device-memory %lld "
                    "--reserve-bytes 0 --log tiers", common, (long long)(rankings + room)), 0);
    read_log(&second, "tiers", "tiers");
    const int64_t rows = logged("rows", "cache", 0), lists = logged("lists", "cache", 0);
    CHECK(rows > 10 && lists > 10 && rows != lists);
    CHECK_EQ(logged("row_bytes", "cache", 0), rows * row);
    const int64_t cached = rows * row + logged("list_bytes", "cache", 0);
    CHECK(cached > rows * row && cached <= 5000);
    CHECK_EQ(logged("rows", "own", 0), (room - cached) / row);
}

/* 600 nodes, of which three ranks own 100, 200 and 300. */
static bool divide_unevenly(task* t, const config* c, error* why)
{
    int32_t* of = malloc(600 * sizeof *of);
    for (int v = 0; v < 600; v++) of[v] = v < 100 ? 0 : v < 300 ? 1 : 2;
    const bool good = partition_write("uneven.part", &t->set, "test", of, 3, why) && task_divide(t, c, 3, why);
    free(of);
    return good;
}

TEST(a_part_whose_owner_has_no_more_rows_gets_those_of_the_largest)
{
    static const volatile sig_atomic_t never = 0;
    static planner p[3];
    char line[] = "--data planted.ggnn --layers 2 --devices 3 --parallel split --partition-file uneven.part --store-graph 1 --store-features 1";
    char* argv[40] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    config c;
    task t;
    comm all[3];
    pthread_t thread[3];
    error why = {""};
    for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    if (!CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
    if (!CHECK(divide_unevenly(&t, &c, &why) && comm_open_threads(all, 3, &never, &why))) return;
    for (int r = 0; r < 3; r++) {
        p[r] = (planner){.config = &c, .task = &t, .c = &all[r]};
        CHECK_EQ(pthread_create(&thread[r], NULL, plan_one, &p[r]), 0);
    }
    for (int r = 0; r < 3; r++) pthread_join(thread[r], NULL);
    for (int r = 0; r < 3; r++) {
        const tiers_share* rows = &p[r].plan.plan.share[TIERS_FEATURES];
        ggnn_node node[600], left[] = {100, 200, 300};
        CHECK_STR(p[r].why.text, "");
        CHECK_EQ(rows->stored, 600);
        if (!CHECK(rows->rank != NULL)) continue;
        for (ggnn_node v = 0; v < 600; v++) node[rows->rank[v]] = v;
        for (int i = 0; i < 600; i++) {
            const int largest = left[2] > left[1] ? 2 : 1; /* rank 0 is the first that has none left */
            const int its = node[i] < 100 ? 0 : node[i] < 300 ? 1 : 2;
            CHECK_EQ(its, left[i % 3] ? i % 3 : largest);
            left[its]--;
        }
    }
    for (int r = 0; r < 3; r++) tier_plan_close(&p[r].plan);
    comm_close_threads(all, 3);
    task_close(&t);
}

/* Seven ranks, of which this machine has 2, 3 and 4: these own their parts; nodes of others lie in turn. */
TEST(parts_of_a_split_are_their_owners_on_any_machine)
{
    static const volatile sig_atomic_t never = 0;
    static const int32_t part[] = {0, 1, 0, 1, 2, 2, 0};
    scene s;
    comm c;
    open_scene(&s);
    comm_open_alone(&c, &never);
    c.ranks = 7;
    c.locals = 3;
    c.rank = 3;
    c.local = 1;
    const int64_t N = s.from.graph.num_nodes;
    const ggnn_layout owned = {NULL, 0, NULL, NULL, N, 7}; /* node v is rank v % 7's */
    const tiers_source by_id = {.graph = s.from.graph, .features = s.from.features, .over = &c, .owners = GGNN_OWNER_MODULO};
    tiers_source from = by_id;
    int64_t nodes[3] = {0, 0, 0}, all = 0, plain = 0;
    from.owned = &owned;
    for (int64_t v = 0; v < N; v++) {
        CHECK_EQ(tiers_owner(&owned, &c, v, 3), part[v % 7]);
        nodes[part[v % 7]]++;
    }
    CHECK(nodes[0] > nodes[1]);
    for (int32_t p = 0; p < 3; p++) {
        all += tiers_bytes(&from, p, 3);
        plain += tiers_bytes(&by_id, p, 3);
    }
    const int64_t rankings = 3 * N * (int64_t)sizeof(ggnn_node), ends = 3 * 1024; /* where an array of a part ends */
    CHECK(all - plain > rankings - ends && all - plain < rankings + ends);
    from.exchange = from.machines = true; /* shards: all ranks' own */
    const int64_t one = tiers_bytes(&from, 1, 7), last = tiers_bytes(&from, 6, 7);
    CHECK_EQ(one - last, ((N - 2) / 7 - (N - 7) / 7) * from.features.pitch);
    close_scene(&s);
}

/* By ranges of 600 nodes three owners have 200 each, which lie in turn where ids are dealt. */
TEST(all_rows_of_a_part_are_its_owners)
{
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(trainf("--data planted.ggnn --layers 2 %s --devices 3 --parallel split --partition range --eval-every 0 --log tiers %s", common,
                        i ? "--store-graph 1 --store-features 1" : "--store parts"), 0);
        read_log(&second, "tiers", "ranks");
        for (int r = 0; r < 3; r++) {
            CHECK(logged("rows", "own", r) > 0 && logged("lists", "own", r) > 0);
            CHECK_EQ(logged("rows", "peer", r), 0);
            CHECK_EQ(logged("lists", "peer", r) > 0, i); /* lists of tiers are dealt by their bytes */
        }
    }
}

/* What batches take of devices differs: parts are those for which all have room, and what one has more is its cache's. */
TEST(parts_are_what_all_devices_have_room_for_and_a_cache_what_its_own_has_left)
{
    static const char* const options[] = {"--cache degree --cache-bytes auto --store-graph .3 --store-features .3", "--cache degree --cache-bytes 1000",
                                          "--store-graph .9", "--cache degree --cache-bytes auto --prefer features --store-features .2 --store-graph .2"};
    static const volatile sig_atomic_t never = 0;
    static planner p[3][3];
    for (int i = 0; i < 4; i++) {
        char line[300], *argv[40] = {(char*)(uintptr_t) "ggnn-train"};
        int argc = 1;
        config c;
        task t;
        error why = {""};
        snprintf(line, sizeof line, "--data rmat.ggnn --layers 2 --devices 3 --device-memory %d --reserve-bytes 100 %s",
                 3100 + (700 + 2250) * (int)sizeof(ggnn_node), options[i]); /* 9,000 bytes beside the greatest peak and a ranking */
        for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (!CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
        tiers_share even[TIERS_KINDS] = {{0}}; /* where all have the same room */
        const int64_t row = t.features.pitch, peaks[3][3] = {{3000, 3000, 3000}, {3000 - 9 * row, 3000, 3000 - 2 * row}, {0, 3000, 30000}};
        for (int k = 0; k < 3; k++) {
            comm all[3];
            pthread_t thread[3];
            CHECK(comm_open_threads(all, 3, &never, &why));
            for (int r = 0; r < 3; r++) {
                p[k][r] = (planner){.config = &c, .task = &t, .c = &all[r], .peak = peaks[k][r]};
                CHECK_EQ(pthread_create(&thread[r], NULL, plan_one, &p[k][r]), 0);
            }
            for (int r = 0; r < 3; r++) pthread_join(thread[r], NULL);
            for (int r = 0; r < 3; r++) {
                const tiers_share* rows = &p[k][r].plan.plan.share[TIERS_FEATURES];
                const int64_t lists = p[k][r].plan.plan.share[TIERS_GRAPH].stored, more = k == 1 ? (3000 - peaks[1][r]) / row : 0;
                CHECK_STR(p[k][r].why.text, "");
                if (k + r == 0) memcpy(even, p[0][0].plan.plan.share, sizeof even);
                CHECK_EQ(rows->stored, k == 2 ? 0 : even[TIERS_FEATURES].stored);
                CHECK_EQ(lists, k == 2 ? 0 : even[TIERS_GRAPH].stored);
                if (i % 3) CHECK_EQ(rows->cached, i == 1 ? 1000 / row : 0);
                else if (k < 2) CHECK_EQ(rows->cached, even[TIERS_FEATURES].cached + more);
                else CHECK_EQ(rows->cached, r == 2 ? 0 : ggnn_fill_rows(tier_plan_room(&p[k][r].plan, peaks[2][r]), row, t.graph.num_nodes));
                CHECK(k == 2 || (lists > 0 && rows->stored + lists < 2 * t.graph.num_nodes));
            }
            for (int r = 0; r < 3; r++) tier_plan_close(&p[k][r].plan);
            comm_close_threads(all, 3);
        }
        task_close(&t);
    }
}

static own_tables limited; /* a CPU's, of a device of a megabyte */
static int64_t limited_room(device* d) { return (void)d, 1000000; }

typedef struct {
    planner of;
    int32_t number;
    int64_t total;
} sharer;

static void* plan_share(void* context)
{
    sharer* s = context;
    planner* p = &s->of;
    device* d = device_open_cpu(1, &p->why);
    d->ops = &limited.ops;
    d->number = s->number;
    if (!open_plan(p, d)) comm_fail(p->c, &p->why);
    CHECK(tier_plan_asks_peak(&p->plan));
    s->total = p->plan.total;
    device_close(d);
    return NULL;
}

/* Counts what caches and parts take. */
static void* take_counted(device* d, size_t bytes, const char* what, error* why)
{
    if (!strncmp(what, "the cache of", 12) || !strncmp(what, "parts of graph", 14)) d->bytes += (int64_t)bytes;
    return elsewhere_tables.memory.take(d, bytes, what, why);
}

static int64_t longest_list(const ggnn_graph* g)
{
    int64_t most = 0;
    for (int64_t v = 0; v < g->num_nodes; v++) {
        const int64_t degree = g->whole.indptr[v + 1] - g->whole.indptr[v];
        most = degree > most ? degree : most;
    }
    return 16 + most * (int64_t)sizeof(ggnn_node);
}

/* Tiers of a device with memory of its own, that a planner filled with so many bytes for them. */
static void* open_planned(void* context)
{
    planner* p = context;
    const config* c = p->config;
    const task* from_task = p->task;
    device* d = device_open_elsewhere(0, &p->why);
    own_tables own; /* not the host's memory, and a megabyte of it */
    tiers* t = NULL;
    own_tables_of(&own, d);
    own.memory.room = limited_room;
    own.memory.take = take_counted;
    d->ops = &own.ops;
    bool good = open_plan(p, d) && tier_plan_fill(&p->plan, p->peak, &p->why);
    const tiers_source from = {.graph = from_task->graph, .features = from_task->features, .labels = from_task->trained, .over = p->c,
                               .plan = &p->plan.plan};
    good = good && tiers_open(&t, d, &from, &p->why);
    if (!good) comm_fail(p->c, &p->why);
    int64_t entries = tier_plan_rankings(&p->plan), cached = 0;
    const int64_t bytes = entries + d->bytes;
    for (int kind = 0; good && kind < TIERS_KINDS; kind++) {
        const tiers_reads there = tiers_counted(t, (tiers_kind)kind).placed_bytes;
        entries += there.cache + there.own;
        cached += there.cache;
    }
    const int64_t total = p->plan.total - p->peak;
    CHECK((cached > 0) == (c->cache != CACHE_NONE));
    CHECK(bytes <= total && bytes > entries);
    CHECK(entries > total - 5000 - 2 * 700 * (int64_t)sizeof(ggnn_node)); /* a list, a row, the space that aligns arrays; rankings not needed in the end */
    const int64_t left = total - p->plan.kept - tier_plan_beside(&p->plan) - (entries - tier_plan_rankings(&p->plan));
    CHECK(p->plan.left <= left && p->plan.left >= left - longest_list(&from_task->graph)); /* a part counts as large as the largest */
    int said = 0;
    for (int i = 0; i < TIER_NOTES_MAX; i++) said += strstr(p->plan.note[i], "are stored") != NULL;
    CHECK_EQ(said, 1); /* once, however often it was placed */
    if (test_errors) printf("  %lld bytes, %lld of entries, have %lld\n", (long long)bytes, (long long)entries, (long long)total);
    comm_barrier(p->c, &p->why);
    tiers_close(t);
    tier_plan_close(&p->plan);
    device_close(d);
    return NULL;
}

/* What `of` says, by samples without a loader; each count begins at 3. */
static void count_on_host(const device_reads* of, int64_t* rows, int64_t* lists)
{
    const int64_t N = of->graph.num_nodes, batches = (of->pass.num_ids + of->batch - 1) / of->batch * of->epochs;
    ggnn_node seeds[64];
    ggnn_batch b;
    for (int64_t v = 0; v < N; v++) rows[v] = lists[v] = 3;
    CHECK_EQ(ggnn_batch_new(&b, &of->graph, &of->how, of->batch), GGNN_OK);
    for (int64_t i = of->whole ? of->rank : 0; i < batches; i += of->whole ? of->ranks : 1) {
        CHECK_EQ(loader_sample_slice(&b, seeds, &of->graph, &of->pass, of->batch, i, of->whole ? 0 : of->rank, of->whole ? 1 : of->ranks), GGNN_OK);
        CHECK_EQ(ggnn_count_batch(rows, lists, &b), GGNN_OK);
    }
    ggnn_batch_free(&b);
}

/* 225 of 300 nodes train, in six batches of 40: of 4 ranks that count whole ones in turn each has others in the next epoch. */
TEST(a_loader_counts_what_samples_without_one_read)
{
    enum { N = 300, TRAIN = 225 };
    static int64_t reads[2][2 * N];
    ggnn_node ids[TRAIN];
    random_graph* g = random_graph_new(N, 5, 20);
    error why = {""};
    device* d = device_open_cpu(2, &why);
    for (int i = 0; i < TRAIN; i++) ids[i] = (ggnn_node)(N - 1 - i);
    for (int i = 0; i < 12; i++) {
        const device_reads of = {.graph = g->graph, .how = {.num_hops = 2, .fanout = {3, 2}}, .batch = 40, .epochs = 1 + i % 3, .ranks = i % 2 ? 4 : 1,
                                 .rank = i % 2 ? i / 2 % 4 : 0, .whole = i % 4 == 3, .total = 0,
                                 .pass = {.ids = ids, .num_ids = TRAIN, .shuffled = true, .epoch = 70, .parts = i % 4 == 1 ? 4 : 0,
                                          .rng = {5, 1000, GGNN_PURPOSE_PRESAMPLE}}};
        count_on_host(&of, reads[0], reads[0] + N);
        for (int v = 0; v < 2 * N; v++) reads[1][v] = 3;
        CHECK(device_reads_count(reads[1], reads[1] + N, d, &of, &why));
        if (!CHECK(!memcmp(reads[0], reads[1], sizeof reads[0]))) printf("  %d\n", i);
        device_reads less = of;
        less.total = -1; /* a CPU takes nothing of a device's memory */
        CHECK(!device_reads_count(reads[1], reads[1] + N, d, &less, &why));
        CHECK_STR(why.text, "the device has no room for them");
        CHECK(!memcmp(reads[0], reads[1], sizeof reads[0]));
        why.text[0] = 0;
    }
    device_close(d);
    random_graph_free(g);
}

/* By a ranking, by a cache of its own or none: parts take what is left, and all of it with its tables is within the limit. */
TEST(parts_and_caches_take_no_more_than_a_device_has)
{
    static const char* const options[] = {"--cache dual --ranking dual.rank", "--cache dual --cache-bytes 9000", ""};
    static const volatile sig_atomic_t never = 0;
    finish(start("ggnn-data", "rank rmat.ggnn --by dual --cache-bytes 9000 --fanout 4,3 --slopes 1,1 --out dual.rank"));
    for (int i = 0; i < 6; i++) {
        const int devices = i < 3 ? 1 : 3;
        char line[300], *argv[40] = {(char*)(uintptr_t) "ggnn-train"};
        int argc = 1;
        config c;
        task t;
        comm all[3];
        planner p[3];
        pthread_t thread[3];
        error why = {""};
        snprintf(line, sizeof line, "--data rmat.ggnn --layers 2 --fanout 4,3 --devices %d --device-memory %d --reserve-bytes 0 --store-graph 1 --store-features 1 %s",
                 devices, devices > 1 && !*options[i % 3] ? 15000 : 32000, options[i % 3]);
        for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (!CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
        CHECK(comm_open_threads(all, devices, &never, &why));
        for (int r = 0; r < devices; r++) {
            all[r].machine = r; /* a device each */
            p[r] = (planner){.config = &c, .task = &t, .c = &all[r], .peak = 1000};
            CHECK_EQ(pthread_create(&thread[r], NULL, open_planned, &p[r]), 0);
        }
        for (int r = 0; r < devices; r++) pthread_join(thread[r], NULL);
        for (int r = 0; r < devices; r++) CHECK_STR(p[r].why.text, "");
        comm_close_threads(all, devices);
        task_close(&t);
    }
}

/* A device is one of its machine, by its number: there another machine's of that number has nothing of it. */
TEST(ranks_of_one_machine_and_number_share_a_device)
{
    static const volatile sig_atomic_t never = 0;
    static const struct { int32_t machine[4], number[4], sharers[4]; } of[] = {
        {{0, 0, 0, 0}, {0, 0, 0, 0}, {4, 4, 4, 4}}, {{0, 0, 1, 1}, {0, 0, 0, 0}, {2, 2, 2, 2}}, {{0, 0, 1, 1}, {0, 1, 0, 1}, {1, 1, 1, 1}}, {{0, 0, 0, 1}, {2, 0, 2, 2}, {2, 1, 2, 1}}};
    static sharer s[4];
    device* plain = device_open_cpu(1, &(error){""});
    own_tables_of(&limited, plain);
    limited.memory.room = limited_room;
    device_close(plain);
    for (int i = 0; i < 8; i++) {
        char line[] = "--data rmat.ggnn --layers 2 --devices 4 --cache degree --cache-bytes 1000 --device-memory 300000", *argv[40] = {(char*)(uintptr_t) "ggnn-train"};
        int argc = 1;
        config c;
        task t;
        comm all[4];
        pthread_t thread[4];
        error why = {""};
        if (i < 4) *strstr(line, " --device-memory") = 0;
        for (char* word = strtok(line, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
        if (!CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why) && task_open(&t, &c, &why))) return;
        CHECK(comm_open_threads(all, 4, &never, &why));
        for (int r = 0; r < 4; r++) {
            all[r].machine = of[i % 4].machine[r];
            s[r] = (sharer){.of = {.config = &c, .task = &t, .c = &all[r]}, .number = of[i % 4].number[r]};
            CHECK_EQ(pthread_create(&thread[r], NULL, plan_share, &s[r]), 0);
        }
        for (int r = 0; r < 4; r++) pthread_join(thread[r], NULL);
        for (int r = 0; r < 4; r++) {
            const int64_t share = 1000000 / of[i % 4].sharers[r];
            CHECK_STR(s[r].of.why.text, "");
            CHECK_EQ(s[r].total, i < 4 || share < 300000 ? share : 300000);
        }
        for (int r = 0; r < 4; r++) tier_plan_close(&s[r].of.plan);
        comm_close_threads(all, 4);
        task_close(&t);
    }
}

/* A plan has room for so many, of so many bytes. */
TEST(notes_of_a_plan_are_kept_in_order_until_there_is_no_room)
{
    static tier_plan p;
    char word[300];
    memset(&p, 0, sizeof p);
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    for (int i = 0; i < TIER_NOTES_MAX + 2; i++) tier_plan_note(&p, "%d %s", i, i == 1 ? word : "note");
    for (int i = 0; i < TIER_NOTES_MAX; i++) {
        char expected[400];
        snprintf(expected, sizeof expected, "%d %.197s", i, i == 1 ? word : "note");
        CHECK_STR(p.note[i], expected);
    }
    const tier_plan none = {.parts = 0};
    CHECK(!memcmp(&p, &none, offsetof(tier_plan, note)));
}

/* Whatever reads a damaged list before the first step names its node, once. */
TEST(a_damaged_list_is_named_by_whatever_reads_it_first)
{
    static const char* const run[][2] = {
        {"--fanout -1,-1 --cache presc --cache-ratio .1", "sampling the neighbours of node 1: a node id or a row of indptr is out of range"},
        {"--fanout -1,-1 --parallel split --devices 2 --cache optimal --cache-ratio .1 --partition mod",
         "sampling the neighbours of node 1: a node id or a row of indptr is out of range"},
        {"--fanout 1,1 --cache degree --cache-ratio .1", "the neighbours of node 1: an id is outside [0, num_nodes)"},
        {"--fanout 1,1 --cache aligraph --cache-ratio .1 --devices 3", "the neighbours of node 1: an id is outside [0, num_nodes)"},
        {"--fanout 0,0 --explain", "the neighbours of node 1: an id is outside [0, num_nodes)"},
        {"--fanout 1,1 --partition pagraph --devices 2", "--partition pagraph: node 1: a list is broken, or an id is outside [0, num_nodes)"},
        {"--fanout 1,1 --parallel split --devices 2 --partition pagraph", "poisoned.ggnn: node 1: a list is broken, or an id is outside [0, num_nodes)"},
        {"--fanout 1,1 --parallel split --devices 2", "poisoned.ggnn: node 1: "}};
    const ggnn_node wrong = 34; /* the first that there is not, at entry 20: node 1 has those from 16 to 24 */
    poison("poisoned.ggnn", "indices", 20, &wrong, sizeof wrong);
    for (size_t i = 0; i < sizeof run / sizeof *run; i++) {
        CHECK_EQ(trainf("--data poisoned.ggnn --hidden 4 --epochs 1 --eval-every 0 --threads 2 %s", run[i][0]), 1);
        CHECK(says(run[i][1]));
        CHECK(i > 5 || says(" (ggnn-data verify checks the whole file)\n"));
        const char* once = strstr(output, "ggnn-train: ");
        CHECK(once && !strstr(once + 1, "ggnn-train: "));
    }
    ggnn_file f;
    if (!CHECK(ggnn_file_open(&f, "planted.ggnn"))) return;
    const int64_t* indptr = ggnn_file_data(&f, ggnn_file_find(&f, "indptr"));
    for (int64_t v = 100; v < 600; v += 80) { /* batches are counted side by side: whichever meets it */
        const ggnn_node none = 600;
        char words[100];
        poison_of("planted.ggnn", "poisoned.ggnn", "indices", indptr[v] + 2, &none, sizeof none);
        CHECK_EQ(train("--data poisoned.ggnn --hidden 4 --epochs 1 --eval-every 0 --threads 3 --batch 2 --fanout 6,5 --cache presc --cache-ratio .1"), 1);
        snprintf(words, sizeof words, "sampling the neighbours of node %d: ", (int)v);
        CHECK(says(words));
    }
    ggnn_file_close(&f);
}

TEST(opening_tiers_survives_any_failing_allocation)
{
    int status = 1;
    for (int n = 1; status == 1 && n < 1000; n++) {
        char number[24];
        snprintf(number, sizeof number, "%d", n);
        fail_allocation = number;
        status = train("--data karate.ggnn --fanout 4,3 --hidden 4 --epochs 1 --devices 2 --cache dual --cache-ratio .2 "
                       "--slopes measure --store-graph .5 --store-features .5 --topology ring --device-memory 5000 --reserve-bytes 0");
        fail_allocation = NULL;
        if (status == 1) CHECK(strstr(output, "out of memory") != NULL);
    }
    CHECK_EQ(status, 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(41);
    if (!train_tool_begin()) return 1;
    finish(start("ggnn-data", "generate rmat rmat.ggnn --nodes 700 --edges 5000 --classes 5 --features 6 --directed --train .4"));
    finish(start("ggnn-data", "generate rmat broad.ggnn --nodes 700 --edges 5000 --classes 5 --features 90 --directed --train .4"));
    weigh_rmat();
    RUN_SLOW(losses_do_not_depend_on_what_lies_where);
    RUN_SLOW(losses_on_several_devices_do_not_depend_on_what_lies_where);
    RUN(every_policy_has_the_same_losses_in_every_pipeline);
    RUN_SLOW(a_dual_cache_of_a_million_nodes_changes_no_loss);
    RUN(rows_and_lists_by_tier_are_what_the_sampled_ids_say);
    RUN(a_rank_that_may_get_any_node_caches_what_all_ranks_read);
    RUN(rows_by_device_are_what_the_sampled_ids_say);
    RUN(what_fits_into_a_devices_memory_lies_where_rules_put_it);
    RUN(parts_of_a_batch_read_rows_and_lists_as_the_sampled_ids_say);
    RUN(lists_of_walks_count_16_bytes_each);
    RUN_SLOW(devices_read_parts_from_where_each_rule_places_them);
    RUN(every_tier_is_an_allocation_of_its_own);
    RUN(all_rows_and_lists_are_those_of_the_whole_arrays);
    RUN(bytes_of_own_peers_and_host_are_those_of_the_data);
    RUN(weights_lie_beside_their_lists);
    RUN(bytes_of_a_part_are_those_of_its_nodes);
    RUN(a_device_of_its_own_memory_gets_all_lists_rows_and_weights);
    RUN(rows_between_layers_come_to_every_devices_room);
    RUN(rows_between_layers_come_to_each_machines_room_however_many_ranks_it_has);
    RUN(rows_beyond_what_evaluation_may_take_lie_in_one_file_of_all_ranks);
    RUN(sixteen_devices_say_from_which_of_them_rows_came);
    RUN(what_is_unused_is_not_there);
    RUN(parts_by_owner_are_told_of_lists_and_of_rows);
    RUN(rows_of_any_width_lie_in_tiers);
    RUN(budgets_of_nothing_one_row_and_everything);
    RUN(no_part_is_larger_than_a_device);
    RUN_SLOW(parts_and_cache_share_a_devices_memory);
    RUN(lists_that_do_not_fit_by_id_are_dealt_by_hotness);
    RUN(a_graph_of_isolated_nodes_lies_in_tiers);
    RUN(a_ranking_from_a_file_places_as_the_trainers_own);
    RUN(a_ranking_goes_with_the_policy_that_made_it);
    RUN(a_ranking_that_is_the_order_of_ids_takes_no_room);
    RUN(a_dual_ranking_places_what_the_trainers_own_budget_places);
    RUN(of_a_dual_file_of_0_2_the_entries_that_no_longer_fit_are_left_out);
    RUN(slopes_are_those_of_times_with_random_caches);
    RUN(hit_ratios_of_slopes_are_those_of_the_sampled_ids);
    RUN(a_slopes_time_is_that_of_an_epoch_by_the_fastest_turn_but_the_first);
    RUN(a_line_through_times_is_told_from_noise_by_its_standard_error);
    RUN(slopes_that_are_noise_are_said_and_count_as_0);
    RUN(measured_slopes_are_said_and_give_the_same_plan_again);
    RUN(lists_that_no_cache_has_save_nothing);
    RUN(options_that_do_not_go_together_are_errors_that_say_what_to_do);
    RUN(what_lies_where_is_said);
    RUN(what_is_preferred_is_stored_first);
    RUN(parts_leave_room_for_what_a_file_caches);
    RUN(a_loader_counts_what_samples_without_one_read);
    RUN(parts_and_caches_take_no_more_than_a_device_has);
    RUN(ranks_of_one_machine_and_number_share_a_device);
    RUN(a_part_whose_owner_has_no_more_rows_gets_those_of_the_largest);
    RUN(parts_of_a_split_are_their_owners_on_any_machine);
    RUN(all_rows_of_a_part_are_its_owners);
    RUN(parts_are_what_all_devices_have_room_for_and_a_cache_what_its_own_has_left);
    RUN(notes_of_a_plan_are_kept_in_order_until_there_is_no_room);
    RUN(a_damaged_list_is_named_by_whatever_reads_it_first);
    RUN_SLOW(opening_tiers_survives_any_failing_allocation);
    folder_remove();
    return test_finish();
}
