#include "trainer/task.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/same_file.h"
#include "datasets/hotness.h"
#include "datasets/part.h"
#include "datasets/preprocess.h"

int32_t task_class(const task* t, int64_t v)
{
    return t->labels.label ? t->labels.label[v] : t->labels.target[v] >= 0.5f;
}

/* Real targets must be probabilities, as one logit's loss is that of a coin. */
static bool check_targets(const task* t, error* why)
{
    const float* target = t->set.target;
    for (int64_t v = 0; v < t->set.num_nodes; v++)
        if (target[v] < 0 || target[v] > 1)
            return error_set(why, "%s: node %lld has target %g: only targets within 0 and 1 can be trained on",
                             t->set.file.path, (long long)v, (double)target[v]);
    return true;
}

static bool set_loss(task* t, const config* c, error* why)
{
    const char* path = t->set.file.path;
    if (!t->set.label && !t->set.target) return error_set(why, "%s: it has no labels (section 'label')", path);
    if (!dataset_count(&t->set, why)) return false;
    if (t->set.target && !check_targets(t, why)) return false;
    t->labels = (net_labels){t->set.label, t->set.label ? NULL : t->set.target};
    t->classes = t->labels.label ? t->set.num_classes : 2;
    bool binary = c->loss == LOSS_BCE || (c->loss == LOSS_AUTO && t->classes <= 2);
    if (c->loss == LOSS_CE && !t->labels.label)
        return error_set(why, "--loss ce: %s has real targets, no classes", path);
    if (binary && t->classes > 2) return error_set(why, "--loss bce: %s has %d classes", path, (int)t->classes);
    if (t->classes < 2) t->classes = 2; /* of one class that is all there is */
    t->outputs = binary ? 1 : t->classes;
    return true;
}

static bool set_splits(task* t, const config* c, error* why)
{
    const uint8_t* split = dataset_split(&t->set, (int32_t)c->split, t->count, why);
    if (!split) return false;
    for (int part = SPLIT_TRAIN; part <= SPLIT_TEST; part++) {
        size_t bytes = memory_product((size_t)t->count[part], sizeof(ggnn_node), 1);
        t->ids[part] = memory_new(bytes, "ids of a split", why);
        if (!t->ids[part]) return false;
        dataset_split_ids(&t->set, (int32_t)c->split, part, t->ids[part]);
        for (int64_t i = 0; i < t->count[part]; i++) t->labelled[part] += label_known(&t->labels, t->ids[part][i]);
    }
    if (t->labelled[SPLIT_TRAIN] > 0) return true;
    if (t->count[SPLIT_TRAIN] == 0)
        return error_set(why, "%s: split %d has no training nodes", t->set.file.path, (int)c->split);
    return error_set(why, "%s: split %d has %lld training nodes, none of which has a label", t->set.file.path,
                     (int)c->split, (long long)t->count[SPLIT_TRAIN]);
}

/* In full batch every node is a seed: a copy of the labels that only training nodes have. */
static bool mask_labels(task* t, error* why)
{
    int64_t n = t->set.num_nodes;
    t->masked = memory_new(memory_product((size_t)n, 4, 1), "labels of training nodes", why);
    if (!t->masked) return false;
    for (int64_t v = 0; v < n; v++) {
        if (t->labels.label) ((int32_t*)t->masked)[v] = -1;
        else ((float*)t->masked)[v] = NAN;
    }
    for (int64_t i = 0; i < t->count[SPLIT_TRAIN]; i++) {
        int64_t v = (int64_t)t->ids[SPLIT_TRAIN][i];
        if (t->labels.label) ((int32_t*)t->masked)[v] = t->labels.label[v];
        else ((float*)t->masked)[v] = t->labels.target[v];
    }
    t->trained = (net_labels){t->labels.label ? t->masked : NULL, t->labels.label ? NULL : t->masked};
    return true;
}

/* Has every section that training reads the checksum of the file's table? Reads them all. */
static bool verify(task* t, const config* c, error* why)
{
    ggnn_file* f = &t->set.file;
    const char* const read[] = {"indptr", "indices", "label", "split", c->preprocess ? "pre_feat" : "feat",
                                c->preprocess ? "pre_of" : NULL, config_reads_weights(c) ? "weight" : NULL,
                                c->edge_features ? "edge_feat" : NULL, "part_of", "part_id", "part_degree", "part_held", "owner"};
    for (size_t i = 0; i < sizeof read / sizeof *read; i++) {
        const ggnn_file_section* s = read[i] ? ggnn_file_find(f, read[i]) : NULL;
        if (s && !ggnn_file_check(f, s)) return error_set(why, "--verify: %s", f->error);
    }
    return true;
}

static int64_t sampled_hops(const config* c) { return config_has(c, NET_ALONE) ? 0 : c->layers - (c->preprocess ? 1 : 0); }

/* ==== a part of a graph ========================================================================================= */

typedef struct {
    bool set;
    const char *how, *why;
} obstacle;

/* Options that read what a part does not have. */
static bool check_options(const task* t, const config* c, error* why)
{
    const dataset_part* p = &t->set.part;
    if (c->predicts)
        return error_set(why, "%s: it has part %d of %d of a graph alone; predict needs the whole graph", t->set.file.path, (int)p->number,
                         (int)p->parts);
    const bool others = c->store == STORE_PARTS || c->store == STORE_SHARDS || c->gather == GATHER_EXCHANGE;
    const obstacle cannot[] = {
        {c->partition != PARTITION_PAGRAPH || c->parallel == PARALLEL_SPLIT, "by --partition pagraph alone",
         "a device has no other part's nodes"},
        {c->partition_file != NULL, "without --partition-file", "the part says whose nodes are whose"},
        {c->shuffle != SHUFFLE_LOCAL, "by --shuffle local alone", "a device's batches would have other parts' training nodes"},
        {c->preprocess, "without --preprocess", "it has no sums of the first layer"},
        {others, "without --store parts, shards and --gather exchange", "devices have nothing for each other"},
        {c->topology != NULL, "without --topology", "there are no parts to place"},
        {c->tiers && c->store_features > 0, "with --cache or --store-features 0 in tiers",
         "what no cache has of its rows stays in the host's memory"},
        {c->slopes_measured, "without --slopes measure", "it caches any node"}};
    for (size_t i = 0; i < sizeof cannot / sizeof *cannot; i++)
        if (cannot[i].set)
            return error_set(why, "%s: part %d of %d of a graph trains %s: %s", t->set.file.path, (int)p->number, (int)p->parts,
                             cannot[i].how, cannot[i].why);
    if (sampled_hops(c) <= p->hops) return true;
    return error_set(why, "%s: it has %d hops around its training nodes, and --layers %d samples %d: ggnn-data partition --extract --hops %d",
                     t->set.file.path, (int)p->hops, (int)c->layers, (int)sampled_hops(c), (int)sampled_hops(c));
}

/* GCN's factors are of the whole graph. */
static bool open_degrees(task* t, const config* c, error* why)
{
    const int64_t n = t->set.num_nodes;
    if (!config_has(c, NET_BY_DEGREE)) return true;
    t->lengths = memory_new(memory_product((size_t)n + 1, sizeof *t->lengths, 1), "degrees of nodes", why);
    if (!t->lengths) return false;
    part_degrees(t->lengths, &t->set, t->row);
    t->degrees = ggnn_graph_plain(t->lengths, NULL, NULL, n, t->lengths[n]);
    return true;
}

static bool open_part(task* t, const config* c, error* why)
{
    if (!t->set.part.parts) return true;
    if (!check_options(t, c, why)) return false;
    t->row = memory_new(memory_product((size_t)t->set.num_nodes, sizeof *t->row, 1), "rows by node", why);
    if (!t->row || !part_check(&t->set, t->row, why)) return false;
    t->features = part_features(&t->set, t->row, t->base);
    return open_degrees(t, c, why);
}

/* Evaluation of the whole graph reads every list; of sampled batches what validation and test nodes reach. */
static bool check_evaluation(const task* t, const config* c, error* why)
{
    static const char* const what[] = {NULL, NULL, "its validation nodes", "its test nodes"};
    const int64_t n = t->set.num_nodes;
    bool good = true;
    if (!t->set.part.parts || !c->eval_every) return true;
    if (c->eval == EVAL_FULL) {
        ggnn_node* all = memory_new(memory_product((size_t)n, sizeof *all, 1), "all nodes", why);
        for (int64_t v = 0; all && v < n; v++) all[v] = (ggnn_node)v;
        good = all && part_reaches(&t->set, t->row, all, n, 1, "full evaluations (--eval-every 0: none)", why);
        memory_free(all);
    }
    for (int part = SPLIT_VAL; c->eval != EVAL_FULL && good && part <= SPLIT_TEST; part++)
        good = part_reaches(&t->set, t->row, t->ids[part], t->count[part], (int32_t)sampled_hops(c), what[part], why);
    return good;
}

bool task_is_of(const task* t, int32_t rank, error* why)
{
    const dataset_part* p = &t->set.part;
    return !p->parts || p->number == rank ||
           error_set(why, "%s: it is part %d of %d, and device %d trains on part %d: name the files by their numbers, as in --data FILE.part.{r}",
                     t->set.file.path, (int)p->number, (int)p->parts, (int)rank, (int)rank);
}

static bool open_edges(task* t, error* why)
{
    t->edges = dataset_edge_features(&t->set);
    return t->edges.rows || error_set(why, "--edge-features: %s has no features of edges (section 'edge_feat')", t->set.file.path);
}

/* ==== opening =================================================================================================== */

/* c->data with the rank's number for {r}; it may not be what is written. */
static bool set_path(task* t, const config* c, int32_t rank, error* why)
{
    const char* at = strstr(c->data, CONFIG_RANK);
    if (!at) return true;
    const size_t bytes = strlen(c->data) + 16;
    t->path = memory_new(bytes, "the name of a part", why);
    if (!t->path) return false;
    snprintf(t->path, bytes, "%.*s%d%s", (int)(at - c->data), c->data, (int)rank, at + strlen(CONFIG_RANK));
    const file_read read = {t->path, "the data"};
    return same_file_as_none("--save", c->save, &read, 1, why) && same_file_as_none("--log", c->log, &read, 1, why);
}

bool task_open(task* t, const config* c, error* why) { return task_open_part(t, c, 0, why); }

/* The data set with its graph and features, of nodes and edges. task_close is due after a failure. */
static bool open_data(task* t, const config* c, int32_t rank, error* why)
{
    memset(t, 0, sizeof *t);
    if (!set_path(t, c, rank, why) || !dataset_open_any(&t->set, t->path ? t->path : c->data, why)) return false;
    t->graph = dataset_graph(&t->set);
    t->features = dataset_features(&t->set);
    const preprocess_model first = c->model == NET_GCN ? PREPROCESS_GCN : PREPROCESS_SAGE;
    bool good = (!c->verify || verify(t, c, why)) && open_part(t, c, why);
    if (good && !t->set.feat.rows) good = error_set(why, "%s: it has no features (section 'feat'); ggnn-data convert --random-features F gives some", t->set.file.path);
    good = good && (!c->edge_features || open_edges(t, why));
    return good && (!c->preprocess || preprocess_rows(&t->set, first, &t->features, why));
}

bool task_open_part(task* t, const config* c, int32_t rank, error* why)
{
    bool good = open_data(t, c, rank, why) && set_loss(t, c, why) && set_splits(t, c, why) && check_evaluation(t, c, why);
    t->trained = t->labels;
    if (c->full_batch) good = good && dataset_check_graph(&t->set, why) && mask_labels(t, why); /* no sampler will look */
    if (!good) task_close(t);
    return good;
}

/* Has the network an output for each class that the data knows? */
static bool check_classes(task* t, const config* c, int32_t outputs, error* why)
{
    const int32_t classes = outputs == 1 ? 2 : outputs;
    if (!dataset_count(&t->set, why)) return false;
    if (t->set.target && outputs > 1)
        return error_set(why, "%s was trained on %d classes; %s has real targets", c->resume, (int)outputs, t->set.file.path);
    return t->set.num_classes <= classes || error_set(why, "%s was trained on %d classes; %s has %d", c->resume, (int)classes,
                                                      t->set.file.path, (int)t->set.num_classes);
}

bool task_open_asked(task* t, const config* c, int32_t outputs, error* why)
{
    bool good = open_data(t, c, 0, why) && check_classes(t, c, outputs, why);
    if (c->full_batch) good = good && dataset_check_graph(&t->set, why); /* no sampler will look */
    t->outputs = outputs;
    t->classes = outputs == 1 ? 2 : outputs;
    if (!good) task_close(t);
    return good;
}

void task_ask(task* t, ggnn_node* ids, int64_t count)
{
    t->ids[TASK_ASKED] = ids;
    t->count[TASK_ASKED] = count;
}

/* As ggnn-data partition by its defaults, but for --presample-epochs. */
static bool find_owners(task* t, const config* c, int32_t ranks, error* why)
{
    divide_how how = {.by = c->partition ? (divide_method)(c->partition - 1) : DIVIDE_MINCUT, .parts = ranks, .passes = 10,
                      .slack = 5, .hops = (int32_t)sampled_hops(c), .closure_limit = c->closure_limit,
                      .num_train = t->count[SPLIT_TRAIN], .train = t->ids[SPLIT_TRAIN], .path = t->set.file.path};
    int64_t* weight = NULL;
    if (c->balance == DIVIDE_EDGES) {
        weight = memory_new(memory_product((size_t)t->set.num_nodes, sizeof *weight, 1), "edges by node", why);
        const ggnn_sampling sampled = config_sampling(c);
        if (!weight || !hotness_weigh(weight, &t->graph, &sampled, how.train, how.num_train, c->batch, (uint64_t)c->seed,
                                      c->presample_epochs, how.path, why)) {
            memory_free(weight);
            return false;
        }
        how.weight = weight;
    }
    const bool good = owners_open(&t->owners, &t->graph, &how, c->partition_file, &t->set, why);
    memory_free(weight);
    return good;
}

bool task_divide(task* t, const config* c, int32_t ranks, error* why)
{
    if (c->parallel == PARALLEL_SPLIT) return find_owners(t, c, ranks, why);
    if (c->partition != PARTITION_PAGRAPH) return true;
    const division_how how = {t->ids[SPLIT_TRAIN], t->count[SPLIT_TRAIN], ranks, (int32_t)sampled_hops(c), c->closure_limit,
                              c->partition_file, &t->set};
    if (t->set.part.parts) return division_open_part(&t->division, &how, why);
    if (!division_open(&t->division, &t->graph, &how, why)) return false;
    return c->owners != GGNN_OWNER_MAP || owners_around(&t->owners, &t->graph, &t->division, &t->set, why);
}

void task_close(task* t)
{
    owners_close(&t->owners);
    division_close(&t->division);
    for (int part = 0; part < 4; part++) memory_free(t->ids[part]);
    memory_free(t->masked);
    memory_free(t->row);
    memory_free(t->lengths);
    dataset_close(&t->set);
    memory_free(t->path);
    memset(t, 0, sizeof *t);
}

bool task_keeps_closures(const task* t, const config* c)
{
    return t->division.parts && c->shuffle == SHUFFLE_LOCAL && (c->store == STORE_REPLICA || t->set.part.parts);
}

bool task_plans_tiers(const task* t, const config* c) { return c->tiers || (task_keeps_closures(t, c) && !t->set.part.parts); }

tier_data task_tiers(const task* t)
{
    return (tier_data){.set = &t->set, .graph = t->graph, .features = t->features, .edges = t->edges, .train = t->ids[SPLIT_TRAIN],
                       .num_train = t->count[SPLIT_TRAIN], .divided = &t->division, .owners = t->owners.at};
}

bool task_blame_features(const task* t, error* why)
{
    const dataset_rows* feat = &t->set.feat;
    const ggnn_store features = t->row ? t->features : dataset_features(&t->set); /* as they were before any preprocessing */
    for (int64_t v = 0; v < t->set.num_nodes; v++) {
        if (t->row && t->row[v] >= t->set.part.num_rows) continue;
        const void* row = ggnn_row(&features, v);
        for (int32_t j = 0; j < feat->width; j++) {
            float x = feat->type == GGNN_F32 ? ((const float*)row)[j] : ggnn_half_to_float(((const uint16_t*)row)[j]);
            if (!isfinite(x))
                return error_set(why, "%s: feature %d of node %lld is %g", t->set.file.path, (int)j, (long long)v,
                                 (double)x);
        }
    }
    return true;
}
