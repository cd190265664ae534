/* ggnn-data rank: the order in which rows and lists are worth keeping near, in a file beside the graph. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/printable.h"
#include "common/same_file.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/hotness.h"
#include "datasets/node_array.h"
#include "datasets/plan_file.h"

static const char text[] =
    "Ranks the nodes of FILE, hottest first, and writes the ranking to FILE.rank: for feature rows and for neighbour\n"
    "lists.\n"
    "  degree    by out-degree (PaGraph)\n"
    "  aligraph  by in-degree over out-degree; nodes without out-edges last\n"
    "  presc     by how often K epochs of sampling before training read them (GNNLab, PreSC#K)\n"
    "  optimal   by how often training's own first K epochs do, with this seed, fanout and batch\n"
    "  dual      as presc, and fills --cache-bytes with what saves most time a byte (DUCATI), by --slopes\n"
    "  random    at random\n"
    "  file      by your own scores: --from SCORE.npy has one per node, a vector of int32, int64, float32 or float64. The\n"
    "            highest is the hottest, equal ones go by id. An order of ids is a score, too: in NumPy,\n"
    "            score[order] = -arange(N)\n"
    "presc, optimal and dual print what share of the reads counted the hottest nodes take.";

enum { BY_FILE = HOTNESS_NUM_POLICIES };

typedef struct {
    int by, sampler; /* a hotness_policy, or BY_FILE */
    int64_t epochs, batch, split, seed, cache_bytes;
    option_list fanout, slopes;
    const char *out, *from;
    bool json;
} settings;

static const char* policy_name(const settings* set) { return set->by == BY_FILE ? "file" : hotness_name[set->by]; }

typedef struct {
    const settings* set;
    dataset data;
    ggnn_graph graph;
    int64_t *rows, *lists;             /* (N) what they are ranked by; aligraph: in-degrees over out-degrees; file: keys */
    ggnn_node *rank_rows, *rank_lists; /* (N) */
    ggnn_node* work;                   /* (2 N) */
    ggnn_dual_fill fill;
} job;

static bool is_counted(const settings* set) { return hotness_is_counted((hotness_policy)set->by); } /* not BY_FILE */

/* ---- counting --------------------------------------------------------------------------------------------------- */

static bool count_degrees(job* r, error* why)
{
    ggnn_fault fault;
    int64_t* out = r->set->by == HOTNESS_ALIGRAPH ? r->lists : r->rows;
    if (ggnn_count_degrees(out, r->set->by == HOTNESS_ALIGRAPH ? r->rows : NULL, &r->graph, &fault) == GGNN_OK) return true;
    return dataset_graph_fails(r->data.file.path, &fault, why);
}

static bool count_reads(job* r, error* why)
{
    const settings* set = r->set;
    int32_t fanout[GGNN_HOPS_MAX];
    int64_t count[4];
    for (int32_t h = 0; h < set->fanout.count; h++) fanout[h] = (int32_t)set->fanout.value[h];
    const ggnn_sampling how = ggnn_sampling_plain((ggnn_method)set->sampler, fanout, set->fanout.count);
    if (!dataset_split(&r->data, (int32_t)set->split, count, why)) return false;
    if (count[SPLIT_TRAIN] == 0) return error_set(why, "%s: split %" PRId64 " has no training node", r->data.file.path, set->split);
    ggnn_node* ids = memory_new((size_t)count[SPLIT_TRAIN] * sizeof *ids, "training nodes", why);
    if (!ids) return false;
    dataset_split_ids(&r->data, (int32_t)set->split, SPLIT_TRAIN, ids);
    const ggnn_epochs of = hotness_epochs((hotness_policy)set->by, ids, count[SPLIT_TRAIN], set->batch, (uint64_t)set->seed);
    bool good = hotness_count(r->rows, r->lists, &r->graph, &how, &of, set->epochs, r->data.file.path, why);
    memory_free(ids);
    return good;
}

static bool count(job* r, error* why)
{
    if (is_counted(r->set)) return count_reads(r, why);
    if (r->set->by == BY_FILE) return node_scores(r->rows, r->set->from, r->data.num_nodes, why);
    return r->set->by == HOTNESS_RANDOM || count_degrees(r, why);
}

/* ---- ranking ---------------------------------------------------------------------------------------------------- */

static void rank_all(job* r)
{
    const int64_t n = r->data.num_nodes;
    const bool has_rows = r->data.feat.rows != NULL;
    const ggnn_store rows = dataset_features(&r->data);
    const ggnn_sizes sizes = ggnn_sizes_of(&r->graph, has_rows ? &rows : NULL);
    const int64_t feature_slope = has_rows ? r->set->slopes.value[1] : 0;
    const ggnn_dual dual = {r->rows, r->lists, feature_slope, r->set->slopes.value[0], &sizes, r->set->cache_bytes};
    if (r->set->by == HOTNESS_DUAL) {
        r->fill = ggnn_fill_dual(r->rank_rows, r->rank_lists, &dual, n, r->work);
        return;
    }
    const hotness_policy by = r->set->by == BY_FILE ? HOTNESS_DEGREE : (hotness_policy)r->set->by; /* both: by value, then id */
    const int64_t* indptr = r->graph.whole.indptr;
    hotness_rank(r->rank_rows, r->work, by, r->rows, r->lists, indptr, (uint64_t)r->set->seed, n);
    if (is_counted(r->set)) hotness_rank(r->rank_lists, r->work, by, r->lists, NULL, indptr, 0, n);
    else memcpy(r->rank_lists, r->rank_rows, (size_t)n * sizeof *r->rank_rows);
}

/* ---- what is said ------------------------------------------------------------------------------------------------ */

static double hit_rate(const int64_t* count, const ggnn_node* rank, double share, int64_t n)
{
    return hotness_hits(count, rank, ggnn_fill_ratio(share, n), n);
}

static void report(const job* r, const char* out)
{
    static const double shares[] = {.01, .05, .1, .2, .5};
    const int64_t n = r->data.num_nodes;
    char path[4096];
    json j;
    if (r->set->json) {
        json_start(&j, stdout, true);
        json_begin_object(&j, NULL);
        json_string(&j, "file", out);
        json_string(&j, "by", policy_name(r->set));
        json_int(&j, "num_nodes", n);
        if (r->set->by == HOTNESS_DUAL) {
            json_int(&j, "rows", r->fill.rows);
            json_int(&j, "lists", r->fill.lists);
            json_int(&j, "row_bytes", r->fill.row_bytes);
            json_int(&j, "list_bytes", r->fill.list_bytes);
        }
        json_begin_array(&j, "hits"); /* counted reads of rows and lists, %, by the share kept */
        for (int i = 0; is_counted(r->set) && i < 5; i++) {
            json_begin_object(&j, NULL);
            json_real(&j, "share", shares[i]);
            json_real(&j, "rows", hit_rate(r->rows, r->rank_rows, shares[i], n));
            json_real(&j, "lists", hit_rate(r->lists, r->rank_lists, shares[i], n));
            json_end_object(&j);
        }
        json_end_array(&j);
        json_end_object(&j);
        return;
    }
    printf("%s: %" PRId64 " nodes ranked by %s\n", printable(path, sizeof path, out), n, policy_name(r->set));
    if (r->set->by == HOTNESS_DUAL) {
        if (r->set->slopes.value[0] == 0 && r->set->slopes.value[1] == 0) printf("both slopes are 0: by frequency per byte\n");
        printf("%" PRId64 " rows (%" PRId64 " bytes) and %" PRId64 " lists (%" PRId64 " bytes) fit %" PRId64 " bytes\n",
               r->fill.rows, r->fill.row_bytes, r->fill.lists, r->fill.list_bytes, r->set->cache_bytes);
    }
    for (int i = 0; is_counted(r->set) && i < 5; i++)
        printf("the hottest %2.0f%%: %5.1f%% of the rows read, %5.1f%% of the lists (counted)\n", 100 * shares[i],
               hit_rate(r->rows, r->rank_rows, shares[i], n), hit_rate(r->lists, r->rank_lists, shares[i], n));
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static bool make(job* r, const char* out, error* why)
{
    const size_t n = (size_t)r->data.num_nodes;
    r->rows = memory_new(n * sizeof *r->rows, "counts", why);
    r->lists = memory_new(n * sizeof *r->lists, "counts", why);
    r->rank_rows = memory_new(n * sizeof *r->rank_rows, "ranks", why);
    r->rank_lists = memory_new(n * sizeof *r->rank_lists, "ranks", why);
    r->work = memory_new(2 * n * sizeof *r->work, "orders", why);
    if (!r->rows || !r->lists || !r->rank_rows || !r->rank_lists || !r->work) return false;
    if (!count(r, why)) return false;
    rank_all(r);
    const int64_t cached[2] = {r->fill.rows, r->fill.lists};
    const bool fills = r->set->by == HOTNESS_DUAL;
    return ranking_write(out, &r->data, policy_name(r->set), r->rank_rows, r->rank_lists, fills ? cached : NULL,
                         fills ? &r->set->cache_bytes : NULL, why);
}

static bool settings_agree(const settings* set, error* why)
{
    if (set->fanout.count > GGNN_HOPS_MAX) return error_set(why, "--fanout: more than %d hops", GGNN_HOPS_MAX);
    if (set->slopes.count != 2) return error_set(why, "--slopes: two numbers, A,F");
    if (set->by == HOTNESS_DUAL && set->cache_bytes < 0) return error_set(why, "--by dual fills --cache-bytes N: give it");
    if (set->by == BY_FILE && !set->from) return error_set(why, "--by file reads --from FILE.npy: give it");
    if (set->by != BY_FILE && set->from) return error_set(why, "--from %s: --by %s reads no file", set->from, policy_name(set));
    return true;
}

static bool run(const settings* set, const char* path, error* why)
{
    job r = {.set = set};
    if (!dataset_open(&r.data, path, why)) return false;
    r.graph = dataset_graph(&r.data);
    const bool good = make(&r, set->out, why);
    if (good) report(&r, set->out);
    memory_free(r.rows);
    memory_free(r.lists);
    memory_free(r.rank_rows);
    memory_free(r.rank_lists);
    memory_free(r.work);
    dataset_close(&r.data);
    return good && standard_flush(why);
}

int rank_main(int argc, char** argv)
{
    settings set = {HOTNESS_PRESC, 0, 1, 1024, 0, 1, -1, {3, {15, 10, 5}}, {2, {0, 0}}, NULL, NULL, false};
    const option table[] = {
        {"by", OPTION_CHOICE, &set.by, 0, 0, HOTNESS_POLICIES "|file", "what makes a node hot", NULL},
        {"from", OPTION_TEXT, &set.from, 0, 0, "FILE", "file: a .npy array, the score of each node", NULL},
        {"presample-epochs", OPTION_INT, &set.epochs, 1, 10000, "K", "epochs that are counted", NULL},
        {"fanout", OPTION_LIST, &set.fanout, -1, 1 << 20, "N,N,...", "neighbours a hop, from the seeds outward; default: 15,10,5", NULL},
        {"sampler", OPTION_CHOICE, &set.sampler, 0, 0, GGNN_METHOD_NAMES, "how neighbours are drawn", NULL},
        {"batch", OPTION_INT, &set.batch, 1, 1 << 24, "N", "seeds of a mini-batch", NULL},
        {"split", OPTION_INT, &set.split, 0, 999, "K", "which split's training nodes", NULL},
        {"seed", OPTION_INT, &set.seed, 0, 9e18, "N", "of order and samples", NULL},
        {"cache-bytes", OPTION_BYTES, &set.cache_bytes, 0, 9e18, "BYTES", "dual: what rows and lists share", NULL},
        {"slopes", OPTION_LIST, &set.slopes, 0, 9e15, "A,F", "dual: nanoseconds that all lists and all rows being cached would save; 0,0: by frequency per byte", NULL},
        {"out", OPTION_TEXT, &set.out, 0, 0, "FILE", "where to write; default: FILE.rank", NULL},
        {"json", OPTION_FLAG, &set.json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[1];
    char beside[PLAN_FILE_NAME];
    int num_arguments, exit_code;
    error why = {""};
    if (!command_begin("rank FILE [options]", text, table, argc, argv, argument, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    const file_read read = {set.from, "what --from reads"};
    if (!settings_agree(&set, &why) || !plan_file_name(&set.out, beside, argument[0], "rank", &why) ||
        !same_file_as_none("--out", set.out, &read, 1, &why)) return command_refused("rank", &why);
    return run(&set, argument[0], &why) ? EXIT_GOOD : command_failed(&why);
}
