/* ggnn-data sample: one mini-batch, printed for people or as JSON; --trace adds the arrays inside the algorithms. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/sibling.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/dataset.h"
#include "datasets/sample_device.h"
#include "ggnn_reference.h"

static const char tables[] = "auto|direct|hash";

typedef struct {
    option_list seeds, fanout;
    int64_t seed, step, walks, length;
    double restart;
    int sampler, table, backend;
    bool json, trace, last_hop_global;
} settings;

typedef struct { /* everything that is printed */
    const settings* set;
    dataset data;
    ggnn_graph graph;
    ggnn_sampling how;
    ggnn_rng rng;
    ggnn_batch batch;
    ggnn_unique_kind kind;
    ggnn_unique* seen;
    ggnn_node* seed_ids;
    void* memory;
} job;

/* ---- printing one array either way ---------------------------------------------------------------------------------- */

/* j NULL: as text. */
static void print_ints(json* j, const char* name, const void* values, size_t width, int64_t n)
{
    if (j) json_begin_array(j, name);
    else printf("    %-8s", name);
    for (int64_t i = 0; i < n; i++) {
        int64_t value = width == 8 ? ((const int64_t*)values)[i] : ((const int32_t*)values)[i];
        if (j) json_int(j, NULL, value);
        else printf(" %4" PRId64, value);
    }
    if (j) json_end_array(j);
    else printf("\n");
}

static void print_floats(json* j, const char* name, const float* values, int64_t n)
{
    json_begin_array(j, name);
    for (int64_t i = 0; i < n; i++) json_float(j, NULL, values[i]);
    json_end_array(j);
}

/* ---- the batch ------------------------------------------------------------------------------------------------------ */

static void print_hop_json(json* j, const ggnn_block* hop)
{
    int64_t edges = *hop->num_edges.n;
    json_begin_object(j, NULL);
    json_int(j, "num_dst", *hop->num_dst.n);
    json_int(j, "num_src", *hop->num_src.n);
    json_int(j, "num_edges", edges);
    print_ints(j, "indptr", hop->indptr, sizeof *hop->indptr, *hop->num_dst.n + 1);
    if (hop->indices) print_ints(j, "indices", hop->indices, sizeof *hop->indices, edges);
    print_ints(j, "neighbor", hop->neighbor, sizeof *hop->neighbor, edges);
    print_ints(j, "position", hop->position, sizeof *hop->position, edges);
    print_floats(j, "weight", hop->weight, edges);
    if (hop->repeats) print_ints(j, "repeats", hop->repeats, sizeof *hop->repeats, *hop->num_src.n);
    json_end_object(j);
}

static void print_hop_table(const ggnn_batch* b, int32_t h, const char* about)
{
    const ggnn_block* hop = &b->hop[h];
    printf("\nhop %" PRId32 ": %" PRId64 " targets, %" PRId64 " sources, %" PRId64 " edges\n", h, *hop->num_dst.n,
           *hop->num_src.n, *hop->num_edges.n);
    printf("  local      node  sampled: node(local)@position%s\n", about);
    for (int64_t v = 0; v < *hop->num_dst.n; v++) {
        printf("  %5" PRId64 " %9" PRId64 " ", v, (int64_t)b->id[v]);
        for (int64_t e = hop->indptr[v]; e < hop->indptr[v + 1]; e++) {
            printf(" %" PRId64, (int64_t)hop->neighbor[e]);
            if (hop->indices) printf("(%" PRId32 ")", hop->indices[e]);
            if (hop->position[e] >= 0) printf("@%" PRId64, hop->position[e]);
            else printf("*%g", (double)hop->weight[e]);
        }
        printf("\n");
    }
}

/* ---- --trace: inside the samplers ------------------------------------------------------------------------------------ */

enum { TRACE_MAX = 4096 }; /* draws and the like of one list; what is longer is left out */

static void print_round(void* context, int32_t round, const ggnn_ref_path* work, int32_t m)
{
    json* j = context;
    char name[32];
    if (round == 0) {
        print_ints(j, "s", work->s, sizeof *work->s, m);
        print_ints(j, "p", work->p, sizeof *work->p, m);
        print_ints(j, "q", work->q, sizeof *work->q, m);
    }
    snprintf(name, sizeof name, "chain%" PRId32, round);
    print_ints(j, name, work->chain, sizeof *work->chain, m);
}

/* Draws 0 .. of a target as its method bounds them, until it has its m of n entries. Returns how many; above TRACE_MAX
   they are not kept. */
static int64_t list_draws(int64_t draw[TRACE_MAX], const ggnn_rng* rng, ggnn_method method, int32_t h, ggnn_node v,
                          int64_t n, int64_t m)
{
    bool shrinks = false, grows = false;
    int64_t draws = m, distinct = 0;
    switch (method) {
    case GGNN_FISHER_YATES:
    case GGNN_PATH_DOUBLING: shrinks = true; break;
    case GGNN_RESERVOIR: grows = true; draws = n - m; break;
    case GGNN_REJECTION:
    case GGNN_REPLACEMENT: break; /* each in [0, n) */
    case GGNN_WEIGHTED:
    case GGNN_WALK: return 0; /* keys and walks are printed in their place */
    }
    if (draws > TRACE_MAX) return draws;
    for (int64_t i = 0; method == GGNN_REJECTION ? distinct < m && i < TRACE_MAX : i < draws; i++) {
        int64_t before = 0;
        draw[i] = ggnn_draw_below(rng, h, v, i, shrinks ? n - i : grows ? m + i + 1 : n);
        while (before < i && draw[before] != draw[i]) before++;
        distinct += before == i;
        if (method == GGNN_REJECTION) draws = distinct < m ? TRACE_MAX + 1 : i + 1;
    }
    return draws;
}

/* A-Res: the keys -log2(u) / w of the list's entries, of which the least are taken; infinite for weight 0. */
static void print_keys(json* j, const ggnn_rng* rng, int32_t h, ggnn_node v, const ggnn_list* list)
{
    if (j) json_begin_array(j, "key");
    else printf("    %-8s", "key");
    for (int64_t i = 0; i < list->degree; i++) {
        uint64_t draw = ggnn_draw(ggnn_random(rng, h, v, (uint32_t)(i / 2)), i);
        double key = (double)ggnn_neg_log2(draw) / 1099511627776.0 / (list->weight ? (double)list->weight[i] : 1.0);
        if (j) json_real(j, NULL, key);
        else printf(" %4.2f", key);
    }
    if (j) json_end_array(j);
    else printf("\n");
}

static void print_walks(const job* w, json* j, int32_t h, ggnn_node v)
{
    static ggnn_node visited[TRACE_MAX];
    int64_t steps = w->set->walks * w->set->length;
    ggnn_node bad;
    if (steps > TRACE_MAX) return;
    ggnn_random_walk(visited, &w->graph, &w->how.walk, &w->rng, h, v, &bad);
    print_ints(j, "visited", visited, sizeof *visited, steps);
}

/* What the draws made of a list: path doubling's arrays by round, and the offsets taken. */
static void print_offsets(const job* w, json* j, int32_t h, ggnn_node v, const ggnn_list* list, const int64_t* draw)
{
    static int64_t offset[TRACE_MAX];
    static ggnn_ref_path work;
    static char workspace[1 << 20];
    int64_t m = w->how.fanout[h];
    if (m > TRACE_MAX || ggnn_sample_workspace_bytes(w->how.method, m) > sizeof workspace) return;
    if (w->how.method == GGNN_PATH_DOUBLING && m <= GGNN_FANOUT_MAX)
        ggnn_ref_path_doubling(offset, &work, draw, list->degree, (int32_t)m, print_round, j);
    m = ggnn_sample_list(offset, list, w->how.method, m, &w->rng, h, v, workspace);
    print_ints(j, "offset", offset, sizeof *offset, m);
}

static void begin_target(json* j, int32_t h, ggnn_node v, int64_t degree, bool whole)
{
    if (!j) {
        printf("  hop %" PRId32 ", node %" PRId64 ", degree %" PRId64 "%s\n", h, (int64_t)v, degree, whole ? ": taken whole" : "");
        return;
    }
    json_begin_object(j, NULL);
    json_int(j, "hop", h);
    json_int(j, "node", v);
    json_int(j, "degree", degree);
    json_bool(j, "whole", whole);
}

/* How one target's neighbours were found: the draws (A-Res: keys; walks: nodes visited) and what came of them. */
static void trace_target(const job* w, json* j, int32_t h, ggnn_node v)
{
    static int64_t draw[TRACE_MAX];
    ggnn_list list = ggnn_neighbors(&w->graph, v);
    int64_t m = w->how.fanout[h], n = list.degree, draws = n; /* A-Res has a key an entry */
    ggnn_method method = w->how.method;
    bool walks = ggnn_method_has(method, GGNN_METHOD_WALKS), repeats = ggnn_method_has(method, GGNN_METHOD_REPEATS);
    bool whole = !walks && m != 0 && (m < 0 || (n <= m && !repeats));
    if (m > GGNN_FANOUT_MAX && ggnn_method_has(method, GGNN_METHOD_HOLDS_SET)) method = GGNN_RESERVOIR;
    begin_target(j, h, v, n, whole);
    if (walks) {
        print_walks(w, j, h, v);
    } else if (!whole && m > 0 && n > 0) {
        if (method != GGNN_WEIGHTED) draws = list_draws(draw, &w->rng, method, h, v, n, m);
        if (draws <= TRACE_MAX && method == GGNN_WEIGHTED) print_keys(j, &w->rng, h, v, &list);
        else if (draws <= TRACE_MAX) print_ints(j, "draw", draw, sizeof *draw, draws);
        if (draws <= TRACE_MAX) print_offsets(w, j, h, v, &list, draw);
    }
    if (j) json_end_object(j);
}

/* Where in append-unique's input (the seeds, then each hop's neighbours) a local id came first. */
static int64_t first_position(const ggnn_batch* b, int64_t local)
{
    int64_t before = *b->num_seeds.n;
    for (int64_t i = 0; i < before; i++)
        if (b->seed_local[i] == local) return i;
    for (int32_t h = 0; h < b->num_hops; h++) {
        const ggnn_block* hop = &b->hop[h];
        for (int64_t e = 0; hop->indices && e < *hop->num_edges.n; e++)
            if (hop->indices[e] == local) return before + e;
        before += *hop->num_edges.n;
    }
    return -1;
}

/* The table of append-unique as the batch left it: for each id its position in the input, and in the hash table the slot
   it hashes to (home) and the one it found free. */
static void trace_table(const job* w, json* j)
{
    const ggnn_unique* seen = w->seen;
    if (j) json_begin_array(j, "table");
    else printf("\n%s\n  local      node first at%s\n", seen->slot ? "hash table" : "direct map", seen->slot ? "    home    slot" : "");
    for (int64_t i = 0; i < seen->count; i++) {
        ggnn_node id = w->batch.id[i];
        int64_t position = first_position(&w->batch, i);
        uint64_t home = ggnn_hash(id, seen->mask), slot = home;
        while (seen->slot && seen->slot[slot].value - seen->base != (uint32_t)i) slot = (slot + 1) & seen->mask;
        if (j) {
            json_begin_object(j, NULL);
            json_int(j, "local", i);
            json_int(j, "node", id);
            json_int(j, "first", position);
            if (seen->slot) json_int(j, "home", (int64_t)home);
            if (seen->slot) json_int(j, "slot", (int64_t)slot);
            json_end_object(j);
        } else {
            printf("  %5" PRId64 " %9" PRId64 " %8" PRId64, i, (int64_t)id, position);
            if (seen->slot) printf(" %7" PRIu64 " %7" PRIu64, home, slot);
            printf("\n");
        }
    }
    if (j) json_end_array(j);
}

static void trace(const job* w, json* j)
{
    if (j) json_begin_array(j, "trace");
    else printf("\ndraws, and what the sampler made of them\n");
    for (int32_t h = 0; h < w->batch.num_hops; h++)
        for (int64_t v = 0; v < *w->batch.hop[h].num_dst.n; v++) trace_target(w, j, h, w->batch.id[v]);
    if (j) json_end_array(j);
    trace_table(w, j);
}

static void print_json(const job* w)
{
    const ggnn_batch* b = &w->batch;
    int64_t ids = *b->hop[b->num_hops - 1].num_src.n;
    json j;
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    print_ints(&j, "seeds", w->seed_ids, sizeof *w->seed_ids, *b->num_seeds.n);
    print_ints(&j, "seed_local", b->seed_local, sizeof *b->seed_local, *b->num_seeds.n);
    print_ints(&j, "id", b->id, sizeof *b->id, ids);
    json_begin_array(&j, "hops");
    for (int32_t h = 0; h < b->num_hops; h++) print_hop_json(&j, &b->hop[h]);
    json_end_array(&j);
    if (w->set->trace) trace(w, &j);
    json_end_object(&j);
}

static void print_table(const job* w)
{
    print_ints(NULL, "seeds", w->seed_ids, sizeof *w->seed_ids, *w->batch.num_seeds.n);
    print_ints(NULL, "local", w->batch.seed_local, sizeof *w->batch.seed_local, *w->batch.num_seeds.n);
    for (int32_t h = 0; h < w->batch.num_hops; h++)
        print_hop_table(&w->batch, h, ggnn_method_has(w->how.method, GGNN_METHOD_WALKS) ? " or *visits" : "");
    if (w->set->trace) trace(w, NULL);
}

/* ---- the work ------------------------------------------------------------------------------------------------------- */

static bool allocate(job* w, error* why)
{
    const settings* set = w->set;
    int64_t seeds = set->seeds.count, ids, nodes = w->graph.num_nodes;
    ggnn_unique_kind kind = set->table == 1 ? GGNN_UNIQUE_DIRECT : GGNN_UNIQUE_HASH;
    if (set->table == 0) kind = ggnn_unique_choose(nodes);
    if (ggnn_batch_plan(&w->batch, &w->graph, &w->how, seeds, NULL) != GGNN_OK)
        return error_set(why, "--fanout: %" PRId64 " seeds: %s", seeds, w->batch.fault.what);
    ids = w->batch.max_ids;
    if (!(w->seen = memory_new(ggnn_unique_bytes(kind, nodes, ids), "append-unique's table", why))) return false;
    if (!(w->seed_ids = memory_new((size_t)seeds * sizeof *w->seed_ids, "the seeds", why))) return false;
    ggnn_unique_init(w->seen, kind, nodes, ids);
    w->kind = kind;
    ggnn_batch_plan(&w->batch, &w->graph, &w->how, seeds, w->seen);
    if (!(w->memory = memory_new(w->batch.bytes, "the mini-batch", why))) return false;
    return ggnn_batch_init(&w->batch, w->memory) == GGNN_OK;
}

static bool sample(job* w, error* why)
{
    const settings* set = w->set;
    ggnn_status status;
    w->graph = dataset_graph(&w->data);
    w->how.method = (ggnn_method)set->sampler;
    w->how.num_hops = set->fanout.count;
    w->how.last_hop_global = set->last_hop_global;
    w->how.keep = GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS;
    w->how.walk.walks = (int32_t)set->walks;
    w->how.walk.length = (int32_t)set->length;
    w->how.walk.restart = (float)set->restart;
    w->rng.seed = (uint64_t)set->seed;
    w->rng.step = (uint32_t)set->step;
    for (int32_t h = 0; h < set->fanout.count; h++) w->how.fanout[h] = (int32_t)set->fanout.value[h];
    if (!allocate(w, why)) return false;
    for (int32_t i = 0; i < set->seeds.count; i++) {
        if (set->seeds.value[i] >= w->graph.num_nodes)
            return error_set(why, "--seeds: node %" PRId64 " is not in [0, %" PRId64 ")", set->seeds.value[i], w->graph.num_nodes);
        w->seed_ids[i] = (ggnn_node)set->seeds.value[i];
    }
    status = ggnn_sample(&w->batch, &w->graph, &w->rng, w->seed_ids, set->seeds.count);
    if (status != GGNN_OK)
        return error_set(why, "%s: node %" PRId64 ": %s (ggnn-data verify checks the whole file)", w->data.file.path,
                         (int64_t)w->batch.fault.node, ggnn_status_string(status));
    if (set->backend == SIBLING_CPU) return true; /* a device's batch takes its place; the trace is still this one's */
    return sample_on_device(&w->batch, &w->graph, &w->how, &w->rng, w->seed_ids, set->seeds.count, w->kind, why);
}

static bool sample_file(const char* path, const settings* set, error* why)
{
    job w;
    bool good;
    memset(&w, 0, sizeof w);
    w.set = set;
    if (!dataset_open(&w.data, path, why)) return false;
    if (ggnn_method_has((ggnn_method)set->sampler, GGNN_METHOD_WEIGHS) && !w.data.csc.weight) {
        error warning = {""};
        error_set(&warning, "--sampler %s: %s has no edge weights (section 'weight'): all neighbours are as likely",
                  ggnn_method_name((ggnn_method)set->sampler), path);
        command_warns(&warning);
    }
    good = sample(&w, why);
    if (good && set->json) print_json(&w);
    else if (good) print_table(&w);
    memory_free(w.memory);
    memory_free(w.seen);
    memory_free(w.seed_ids);
    dataset_close(&w.data);
    return good && standard_flush(why);
}

int sample_main(int argc, char** argv)
{
    static settings set = {.seed = 1, .walks = 4, .length = 3, .restart = .5};
    const option table[] = {
        {"seeds", OPTION_LIST, &set.seeds, 0, 9e15, "LIST", "the nodes whose neighbourhood is wanted, 0,5,7", NULL},
        {"fanout", OPTION_LIST, &set.fanout, -1, INT32_MAX, "LIST", "neighbours a node, hop by hop from the seeds; -1: all", NULL},
        {"sampler", OPTION_CHOICE, &set.sampler, 0, 0, GGNN_METHOD_NAMES, "how neighbours are drawn", NULL},
        {"seed", OPTION_INT, &set.seed, 0, 9e15, "N", "of the random numbers", NULL},
        {"step", OPTION_INT, &set.step, 0, (1 << 30) - 1, "N", "which mini-batch: other steps draw other neighbours", NULL},
        {"walks", OPTION_INT, &set.walks, 1, 1 << 15, "N", "sampler walk: walks from each node", NULL},
        {"length", OPTION_INT, &set.length, 1, 1 << 15, "N", "sampler walk: steps a walk", NULL},
        {"restart", OPTION_REAL, &set.restart, 0, 1, "P", "sampler walk: chance to go on from the start", NULL},
        {"last-hop-global", OPTION_FLAG, &set.last_hop_global, 0, 0, NULL, "do not number the last hop's sources", NULL},
        {"table", OPTION_CHOICE, &set.table, 0, 0, tables, "form of append-unique; never changes the result", NULL},
        {"backend", OPTION_CHOICE, &set.backend, 0, 0, SIBLING_BACKENDS, "where it runs; never changes the result", NULL},
        {"trace", OPTION_FLAG, &set.trace, 0, 0, NULL, "show the draws, what became of them, and append-unique's table", NULL},
        {"json", OPTION_FLAG, &set.json, 0, 0, NULL, "print JSON", NULL},
        {0}};
    const char* path;
    int files = 0, exit_code;
    error why = {""};
    if (!command_begin("sample FILE --seeds LIST --fanout LIST [options]",
                       "Samples one mini-batch as training would and prints its hops: for each target its sampled neighbours, as\n"
                       "node(local id)@position in the graph's edge order. Local ids number nodes by first occurrence, the seeds first.\n"
                       "--trace shows the draws and the arrays that WholeGraph's Algorithm 1 has (s: draws sorted, p: which draw each\n"
                       "is, q: its inverse, chain: who overwrote the slot that draw i gives up, round by round), the offsets taken in\n"
                       "each list, and where each id came first in append-unique's input: the seeds, then the edges, hop by hop.",
                       table, argc, argv, &path, &files, 1, 1, &exit_code))
        return exit_code;
    if (!set.seeds.count || !set.fanout.count || set.fanout.count > GGNN_HOPS_MAX) {
        error_set(&why, "--seeds and --fanout are needed, the latter for 1 to %d hops", GGNN_HOPS_MAX);
        return command_refused("sample", &why);
    }
    if (set.backend != SIBLING_CPU && !sample_on_device) {
        sibling_run(set.backend, program_arguments, &why);
        return command_failed(&why);
    }
    return sample_file(path, &set, &why) ? EXIT_GOOD : command_failed(&why);
}
