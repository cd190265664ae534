/* ggnn-data partition: which device has which nodes, in a file beside the graph, and what that costs. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/parallel.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/same_file.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/divide.h"
#include "datasets/hotness.h"
#include "datasets/node_array.h"
#include "datasets/part.h"
#include "datasets/plan_file.h"

static const char text[] =
    "Divides the nodes of FILE into parts, and writes the partition to FILE.part.\n"
    "  mincut    few edges between parts: linear deterministic greedy, repeated, then single moves\n"
    "  metis     fewer, where the program was built with METIS; parts have equally many nodes (--balance vertices), or\n"
    "            edges that training samples, counted beforehand (edges, GSplit). Its indices have 32 bits in most builds:\n"
    "            2^31 edges, both directions, are then too many, and an error\n"
    "  hash, mod, range   by id\n"
    "  pagraph   the training nodes alone, by PaGraph's Eq. 1\n"
    "  file      your own: --from OWNER.npy has the part of each node, a vector of int32 or int64 from 0 on. Without --parts\n"
    "            there are as many parts as the largest of them + 1\n"
    "Prints balance, the largest part over the mean; cut, the share of edges whose ends are in two parts (not of\n"
    "pagraph's); replication, in how many parts a node is held on average, when each part holds its training nodes and\n"
    "all that --hops hops of full lists reach from them. What took how long, and by how many threads, is said on standard error:\n"
    "the methods take one, as each choice depends on those before it; replication takes up to a thread per part.\n"
    "--extract writes what each part of pagraph holds as a graph of its own, to FILE.part.0, FILE.part.1 ...: the lists and\n"
    "rows that its training nodes reach, on which a device trains without the others' (ggnn-train --data FILE.part.{r}).";

enum { BY_FILE = DIVIDE_NUM_METHODS };

typedef struct {
    int method, balance; /* a divide_method, or BY_FILE */
    int64_t parts, hops, closure_limit, passes, slack, split, epochs, batch, seed;
    option_list fanout;
    const char *out, *from;
    bool json, extract, parts_given;
} settings;

static const char* method_name(const settings* set) { return set->method == BY_FILE ? "file" : divide_name[set->method]; }

typedef struct { /* of a thread: room for a closure */
    ggnn_node* list;       /* (N) */
    uint8_t *seen, *any;   /* (N) any: nodes of the closures that it has made */
} lane;

typedef struct {
    const settings* set;
    int32_t parts;
    dataset data;
    ggnn_graph graph;
    int32_t* owner;
    ggnn_node* train; /* (N) */
    lane* lane;       /* (lanes) */
    int lanes;
    ggnn_fault fault[GGNN_PARTS_MAX]; /* of a part's closure; what NULL: none */
    int64_t* weight; /* (N) edges counted, or NULL: --balance vertices */
    int64_t weighed[GGNN_PARTS_MAX]; /* their sums by part */
    int64_t num_train, closures_cut;
    int64_t nodes[GGNN_PARTS_MAX], trained[GGNN_PARTS_MAX], held[GGNN_PARTS_MAX];
    int64_t cut, touched; /* edges; nodes that any part holds */
    int64_t lists[GGNN_PARTS_MAX], bytes[GGNN_PARTS_MAX]; /* of extracted parts */
} job;

static bool weigh_if_asked(job* p, error* why)
{
    const settings* set = p->set;
    const size_t n = (size_t)p->data.num_nodes;
    int32_t fanout[GGNN_HOPS_MAX];
    if (set->balance != DIVIDE_EDGES) return true;
    if (p->num_train == 0)
        return error_set(why, "%s: it has no training nodes, whose batches --balance edges counts", p->data.file.path);
    p->weight = memory_new(n * sizeof *p->weight, "edges by node", why);
    if (!p->weight) return false;
    for (int32_t h = 0; h < set->fanout.count; h++) fanout[h] = (int32_t)set->fanout.value[h];
    const ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, set->fanout.count);
    return hotness_weigh(p->weight, &p->graph, &how, p->train, p->num_train, set->batch, (uint64_t)set->seed, set->epochs,
                         p->data.file.path, why);
}

/* Begins a step, whose line says by how many threads. */
static void begin_step(progress* step, char what[64], const char* name, int threads, const char* unit)
{
    snprintf(what, 64, "%s (%d thread%s)", name, threads, threads == 1 ? "" : "s");
    progress_begin(step, what, unit, 0);
}

static bool divide(job* p, error* why)
{
    const settings* set = p->set;
    const divide_how how = {(divide_method)set->method, p->parts, (int32_t)set->passes, (int32_t)set->slack,
                            (int32_t)set->hops, set->closure_limit, p->num_train, p->train, p->weight, p->data.file.path};
    char what[64];
    progress step;
    begin_step(&step, what, divide_name[set->method], 1, "nodes");
    const bool good = divide_nodes(p->owner, &p->closures_cut, &p->graph, &how, why);
    progress_end(&step, set->method == DIVIDE_PAGRAPH ? p->num_train : p->data.num_nodes, good);
    return good;
}

/* Before all else, as the file may say how many parts there are. */
static bool read_owners(job* p, error* why)
{
    char what[64];
    progress step;
    begin_step(&step, what, method_name(p->set), 1, "nodes");
    if (!p->set->parts_given) p->parts = 0;
    const bool good = node_owners(p->owner, &p->parts, p->set->from, p->data.num_nodes, why);
    progress_end(&step, p->data.num_nodes, good);
    return good;
}

static bool open_lanes(job* p, error* why)
{
    const size_t n = (size_t)p->data.num_nodes;
    p->lanes = parallel_lanes() < p->parts ? parallel_lanes() : p->parts;
    p->lane = memory_new((size_t)p->lanes * sizeof *p->lane, "nodes of parts", why);
    for (int i = 0; p->lane && i < p->lanes; i++) {
        lane* l = &p->lane[i];
        l->list = memory_new(n * sizeof *l->list, "nodes of a part", why);
        l->seen = l->list ? memory_new(n, "marks of nodes", why) : NULL;
        l->any = l->seen ? memory_new(n, "marks of nodes", why) : NULL;
        if (!l->any) return false;
    }
    return p->lane != NULL;
}

static void close_lanes(job* p)
{
    for (int i = 0; p->lane && i < p->lanes; i++) {
        memory_free(p->lane[i].list);
        memory_free(p->lane[i].seen);
        memory_free(p->lane[i].any);
    }
    memory_free(p->lane);
}

/* The part's nodes into the list of l: returns how many of them, the first, have lists that are read. -1: p->fault says why. */
static int64_t close_part(job* p, lane* l, const int32_t* owner, int32_t part, int64_t* held)
{
    const int32_t hops = (int32_t)p->set->hops;
    int64_t bound[GGNN_HOPS_MAX + 2];
    if (ggnn_partition_closure(l->list, bound, &p->graph, owner, part, p->train, p->num_train, hops, l->seen,
                               &p->fault[part]) != GGNN_OK) return -1;
    *held = bound[hops + 1];
    return bound[hops];
}

/* Of every lanes-th part, from that number on. */
static void hold_some(void* context, int64_t first)
{
    job* p = context;
    lane* l = &p->lane[first];
    for (int64_t part = first; part < p->parts; part += p->lanes) {
        if (close_part(p, l, p->owner, (int32_t)part, &p->held[part]) < 0) return;
        for (int64_t i = 0; i < p->held[part]; i++) l->any[l->list[i]] = 1;
    }
}

static bool measure(job* p, error* why)
{
    const int64_t n = p->data.num_nodes;
    char what[64];
    progress step;
    int64_t held = 0;
    for (int64_t v = 0; v < n; v++)
        if (p->owner[v] >= 0) p->nodes[p->owner[v]]++;
    for (int64_t v = 0; p->weight && v < n; v++) p->weighed[p->owner[v]] += p->weight[v];
    for (int64_t i = 0; i < p->num_train; i++) p->trained[p->owner[p->train[i]]]++;
    begin_step(&step, what, "closures", p->lanes, "nodes");
    ggnn_parallel_for(p->lanes, hold_some, p);
    for (int32_t part = 0; part < p->parts; part++) {
        if (p->fault[part].what) {
            progress_end(&step, held, false);
            return dataset_graph_fails(p->data.file.path, &p->fault[part], why);
        }
        held += p->held[part];
    }
    progress_end(&step, held, true);
    for (int64_t v = 0; v < n; v++) {
        bool any = false;
        for (int i = 0; i < p->lanes; i++) any = any || p->lane[i].any[v];
        p->touched += any;
    }
    ggnn_fault fault;
    return ggnn_partition_cut(&p->cut, &p->graph, p->owner, &fault) == GGNN_OK || dataset_graph_fails(p->data.file.path, &fault, why);
}

static double largest_over_mean(const int64_t* size, int64_t parts)
{
    int64_t most = 0, all = 0;
    for (int64_t p = 0; p < parts; p++) {
        all += size[p];
        if (size[p] > most) most = size[p];
    }
    return all ? (double)(most * parts) / (double)all : 1;
}

static void json_sizes(json* j, const char* key, const int64_t* size, int64_t parts)
{
    json_begin_array(j, key);
    for (int64_t p = 0; p < parts; p++) json_int(j, NULL, size[p]);
    json_end_array(j);
}

static void print_parts(const job* p, const char* path)
{
    for (int64_t i = 0; i < p->parts; i++)
        printf("%s.%" PRId64 ": %" PRId64 " rows, %" PRId64 " lists of %" PRId64 ", %" PRId64 " bytes\n", path, i, p->held[i],
               p->lists[i], p->data.num_nodes, p->bytes[i]);
}

static void report(const job* p, const char* out)
{
    const settings* set = p->set;
    const double cut = p->data.num_edges ? (double)p->cut / (double)p->data.num_edges : 0;
    double replication = 0;
    char path[4096];
    json j;
    for (int64_t i = 0; i < p->parts; i++) replication += (double)p->held[i];
    if (p->touched) replication /= (double)p->touched;
    if (set->json) {
        json_start(&j, stdout, true);
        json_begin_object(&j, NULL);
        json_string(&j, "file", out);
        json_string(&j, "method", method_name(set));
        json_sizes(&j, "nodes", p->nodes, p->parts);
        json_sizes(&j, "trained", p->trained, p->parts);
        json_sizes(&j, "held", p->held, p->parts);
        json_real(&j, "balance", largest_over_mean(p->nodes, p->parts));
        json_real(&j, "trained_balance", largest_over_mean(p->trained, p->parts));
        if (p->weight) json_real(&j, "edge_balance", largest_over_mean(p->weighed, p->parts));
        json_real(&j, "replication", replication);
        if (set->method == DIVIDE_PAGRAPH) json_null(&j, "cut");
        else json_real(&j, "cut", cut);
        json_int(&j, "closures_cut", p->closures_cut);
        if (set->extract) json_sizes(&j, "lists", p->lists, p->parts);
        if (set->extract) json_sizes(&j, "bytes", p->bytes, p->parts);
        json_end_object(&j);
        return;
    }
    printf("%s: %d parts by %s\n", printable(path, sizeof path, out), (int)p->parts, method_name(set));
    printf("  part      nodes   training       held\n");
    for (int64_t i = 0; i < p->parts; i++)
        printf("%6" PRId64 " %10" PRId64 " %10" PRId64 " %10" PRId64 "\n", i, p->nodes[i], p->trained[i], p->held[i]);
    printf("balance %.3f (training %.3f), replication %.3f", largest_over_mean(p->nodes, p->parts),
           largest_over_mean(p->trained, p->parts), replication);
    if (p->weight) printf(", of sampled edges %.3f", largest_over_mean(p->weighed, p->parts));
    if (set->method != DIVIDE_PAGRAPH) printf(", cut %.2f%%", 100 * cut);
    printf(" (counted)\n");
    if (set->extract) print_parts(p, path);
    if (p->closures_cut)
        printf("%" PRId64 " training nodes reach more than %" PRId64 " nodes: --closure-limit cut them in the scores\n",
               p->closures_cut, set->closure_limit);
}

enum { PART_NAME = PLAN_FILE_NAME + 16 };
static void part_name(char path[PART_NAME], const settings* set, int32_t part) { snprintf(path, PART_NAME, "%s.%d", set->out, (int)part); }

/* Parts as devices take them: a file each, larger parts first (divide_larger_first). */
static bool extract(job* p, error* why)
{
    const int32_t parts = p->parts;
    int32_t place[GGNN_PARTS_MAX];
    int64_t all[GGNN_PARTS_MAX + 1] = {0}, bytes = 0;
    char path[PART_NAME];
    progress step;
    if (!p->set->extract) return true;
    divide_larger_first(p->owner, place, p->data.num_nodes, parts);
    for (int32_t i = 0; i < parts; i++) all[place[i]] = p->held[i];
    all[parts] = p->touched;
    progress_begin(&step, "parts", "B", 0);
    for (int32_t i = 0; i < parts; i++) {
        part_plan plan = {&p->data, p->owner, i, parts, (int32_t)p->set->hops, p->lane->list, 0, 0, all};
        part_name(path, p->set, i);
        p->lists[i] = plan.inner = close_part(p, p->lane, p->owner, i, &plan.held);
        if (!part_write(path, &plan, &p->bytes[i], why)) {
            progress_end(&step, bytes, false);
            return false;
        }
        progress_update(&step, bytes += p->bytes[i]);
    }
    progress_end(&step, bytes, true);
    for (int32_t i = 0; i < parts; i++) p->held[i] = all[i];
    memset(p->nodes, 0, sizeof p->nodes);
    for (int64_t i = 0; i < p->num_train; i++) p->nodes[p->owner[p->train[i]]]++;
    memcpy(p->trained, p->nodes, sizeof p->trained);
    return true;
}

static bool make(job* p, error* why)
{
    const size_t n = (size_t)p->data.num_nodes;
    int64_t count[4] = {0, 0, 0, 0};
    p->owner = memory_new(n * sizeof *p->owner, "owners", why);
    p->train = memory_new(n * sizeof *p->train, "training nodes", why);
    const bool by_file = p->set->method == BY_FILE;
    if (!p->owner || !p->train || (by_file && !read_owners(p, why)) || !open_lanes(p, why)) return false;
    if (p->data.num_splits && !dataset_split(&p->data, (int32_t)p->set->split, count, why)) return false;
    if (p->data.num_splits) p->num_train = dataset_split_ids(&p->data, (int32_t)p->set->split, SPLIT_TRAIN, p->train);
    if (p->set->extract && !dataset_check_sections(&p->data, false, why)) return false;
    return weigh_if_asked(p, why) && (by_file || divide(p, why)) && measure(p, why) && extract(p, why) &&
           partition_write(p->set->out, &p->data, method_name(p->set), p->owner, p->parts, why);
}

/* Nothing that is read is written over. */
static bool names_differ(const settings* set, const char* graph, error* why)
{
    const file_read read = {set->from, "what --from reads"};
    char path[PART_NAME];
    if (!same_file_as_none("--out", set->out, &read, 1, why)) return false;
    for (int32_t i = 0; set->extract && i < set->parts; i++) {
        part_name(path, set, i);
        if (same_file(path, graph)) return error_set(why, "--out %s: part %d would be %s, the graph itself", set->out, (int)i, path);
    }
    return true;
}

static bool settings_agree(const settings* set, error* why)
{
    if (set->fanout.count > GGNN_HOPS_MAX) return error_set(why, "--fanout: more than %d hops", GGNN_HOPS_MAX);
    if (set->balance == DIVIDE_EDGES && set->method != DIVIDE_METIS)
        return error_set(why, "--balance edges: --method %s weighs no nodes; metis does", method_name(set));
    if (set->extract && set->method != DIVIDE_PAGRAPH)
        return error_set(why, "--extract: --method %s divides all nodes; pagraph's parts have training nodes, and all that these reach",
                         method_name(set));
    if (set->method == BY_FILE && !set->from) return error_set(why, "--method file reads --from FILE.npy: give it");
    if (set->method != BY_FILE && set->from)
        return error_set(why, "--from %s: --method %s reads no file", set->from, method_name(set));
    return true;
}

static bool run(const settings* set, const char* path, error* why)
{
    job p = {.set = set, .parts = (int32_t)set->parts};
    if (!dataset_open(&p.data, path, why)) return false;
    p.graph = dataset_graph(&p.data);
    const bool good = make(&p, why);
    if (good) report(&p, set->out);
    memory_free(p.owner);
    memory_free(p.train);
    close_lanes(&p);
    memory_free(p.weight);
    dataset_close(&p.data);
    return good && standard_flush(why);
}

int partition_main(int argc, char** argv)
{
    settings set = {DIVIDE_MINCUT, DIVIDE_VERTICES, 4, 2, 100000, 10, 5, 0, 10, 1024, 1, {3, {15, 10, 5}},
                    NULL, NULL, false, false, false};
    const option table[] = {
        {"parts", OPTION_INT, &set.parts, 1, GGNN_PARTS_MAX, "P",
         "into how many; without it --method file takes the largest number + 1", &set.parts_given},
        {"method", OPTION_CHOICE, &set.method, 0, 0, DIVIDE_METHODS "|file", "how to divide", NULL},
        {"from", OPTION_TEXT, &set.from, 0, 0, "FILE", "file: a .npy array, the part of each node", NULL},
        {"balance", OPTION_CHOICE, &set.balance, 0, 0, DIVIDE_BALANCES, "metis: what parts have equally many of", NULL},
        {"presample-epochs", OPTION_INT, &set.epochs, 1, 10000, "K", "--balance edges: epochs that are counted", NULL},
        {"fanout", OPTION_LIST, &set.fanout, -1, 1 << 20, "N,N,...", "--balance edges: neighbours a hop", NULL},
        {"batch", OPTION_INT, &set.batch, 1, 1 << 24, "N", "--balance edges: seeds of a mini-batch", NULL},
        {"seed", OPTION_INT, &set.seed, 0, 9e18, "N", "--balance edges: of order and samples", NULL},
        {"hops", OPTION_INT, &set.hops, 0, GGNN_HOPS_MAX, "L", "hops that a part holds around its training nodes", NULL},
        {"closure-limit", OPTION_INT, &set.closure_limit, 0, 2147483647, "N", "pagraph: nodes around a training node that its score looks at", NULL},
        {"passes", OPTION_INT, &set.passes, 1, 1000, "N", "mincut: how often to go through all nodes", NULL},
        {"slack", OPTION_INT, &set.slack, 0, 10000, "PERCENT", "mincut: how much a part may exceed the mean", NULL},
        {"split", OPTION_INT, &set.split, 0, 999, "K", "which split's training nodes", NULL},
        {"out", OPTION_TEXT, &set.out, 0, 0, "FILE", "where to write; default: FILE.part", NULL},
        {"extract", OPTION_FLAG, &set.extract, 0, 0, NULL, "pagraph: write each part as a graph of its own, to OUT.0, OUT.1 ...", NULL},
        {"json", OPTION_FLAG, &set.json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[1];
    char beside[PLAN_FILE_NAME];
    int num_arguments, exit_code;
    error why = {""};
    if (!command_begin("partition FILE [options]", text, table, argc, argv, argument, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    if (!settings_agree(&set, &why) || !plan_file_name(&set.out, beside, argument[0], "part", &why) ||
        !names_differ(&set, argument[0], &why)) return command_refused("partition", &why);
    return run(&set, argument[0], &why) ? EXIT_GOOD : command_failed(&why);
}
