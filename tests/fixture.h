/* fixture.h - for tests: a small task and nets that learn it.
       fixture_of(graph, width, classes)  a graph with features and labels: a task, and a net's data
       fixture_new()                      one of NODES nodes, WIDTH features and CLASSES classes
       config_of(words, "--model gcn")    the configuration of some options of ggnn-train
       find_kinds(kinds, false)           every model with each of its aggregators;
       kind_config(), kind_sampling()     a net of one, and how its batches are sampled */
#ifndef FIXTURE_H
#define FIXTURE_H
#include "tests/random_graph.h"
#include "trainer/worker.h"

/* ==== a task ========================================================================================= */

enum { NODES = 700, WIDTH = 12, CLASSES = 5 };

typedef struct {
    random_graph* graph;
    int32_t width;
    float* features; /* (num_nodes, width): a node's class, in noise */
    int32_t* label;
    float* target;   /* real labels, 0, 1/2 and 1, for nets of one output; no part of the task */
    ggnn_node* ids;  /* the nodes that train */
    task task;
    net_data data;   /* the task's graph, features and labels */
} fixture;

/* Of a graph, which is then its own. Two nodes in three train, every seventh node has no label. */
static inline fixture* fixture_of(random_graph* graph, int32_t width, int32_t classes)
{
    const int64_t nodes = graph->num_nodes;
    fixture* f = (fixture*)calloc(1, sizeof *f);
    task* t = &f->task;
    f->graph = graph;
    f->width = width;
    f->features = (float*)malloc((size_t)(nodes * width) * sizeof *f->features);
    f->label = (int32_t*)malloc((size_t)nodes * sizeof *f->label);
    f->target = (float*)malloc((size_t)nodes * sizeof *f->target);
    f->ids = (ggnn_node*)malloc((size_t)nodes * sizeof *f->ids);
    for (int64_t v = 0; v < nodes; v++) {
        f->label[v] = v % 7 == 3 ? -1 : (int32_t)(v % classes);
        f->target[v] = v % 7 == 3 ? NAN : (float)(v % 3) / 2;
        for (int32_t j = 0; j < width; j++)
            f->features[v * width + j] = test_uniform() - .5f + (float)(j == v % classes);
        if (v % 3) f->ids[t->count[SPLIT_TRAIN]++] = (ggnn_node)v;
    }
    t->set.num_nodes = nodes;
    t->graph = graph->graph;
    t->features = ggnn_store_plain(f->features, nodes, width, GGNN_F32);
    t->labels.label = t->trained.label = f->label;
    t->classes = t->outputs = classes;
    t->ids[SPLIT_TRAIN] = f->ids;
    f->data.graph = &t->graph;
    f->data.features = &t->features;
    f->data.labels = t->labels;
    return f;
}

static inline fixture* fixture_new(void)
{
    return fixture_of(random_graph_new(NODES, 6, 90), WIDTH, CLASSES);
}

static inline void fixture_free(fixture* f)
{
    random_graph_free(f->graph);
    free(f->features);
    free(f->label);
    free(f->target);
    free(f->ids);
    free(f);
}

/* The configuration of these options of ggnn-train; its texts are in `words`. */
static inline config config_of(char words[400], const char* options)
{
    static config c; /* stays: the fanout_text of what is returned points into it until the next call */
    error why = {""};
    char* argv[40] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    static const char usual[] = "--data none --layers 2 --hidden 16 --eval-every 0 --lr .01 --seed 9";
    CHECK(snprintf(words, 400, "%s %s", usual, options) < 400);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why));
    CHECK_STR(why.text, "");
    return c;
}

/* ==== nets =========================================================================================== */

enum { KINDS_MAX = 24 };

typedef struct {
    char name[40]; /* "sage pool" */
    net_model model;
    net_aggregator aggregator;
} net_kind;

/* The next of "a|b|c" into name; what follows it, or NULL. */
static inline const char* next_name(char name[16], const char* names)
{
    const int length = (int)strcspn(names, "|");
    snprintf(name, 16, "%.*s", length, names);
    return names[length] ? names + length + 1 : NULL;
}

/* Every model, GraphSAGE with each aggregator, in the order of their lists: those that need visits, of which
   a whole graph has none, or all others. Returns how many. */
static inline int find_kinds(net_kind kinds[KINDS_MAX], bool with_visits)
{
    char model[16], aggregator[16];
    int m = 0, count = 0;
    for (const char* at = NET_MODELS; at; m++) {
        const char* next = NET_AGGREGATORS;
        at = next_name(model, at);
        for (int a = 0; next && (a == 0 || m == NET_SAGE); a++) {
            net_kind* k = &kinds[count];
            next = next_name(aggregator, next);
            k->model = (net_model)m;
            k->aggregator = (net_aggregator)a;
            if (m == NET_SAGE) snprintf(k->name, sizeof k->name, "%s %s", model, aggregator);
            else snprintf(k->name, sizeof k->name, "%s", model);
            count += net_has(k->model, k->aggregator, NET_VISITS) == with_visits;
        }
    }
    return count;
}

static inline net_config kind_config(const net_kind* k, int32_t layers, int32_t hidden, int32_t outputs)
{
    net_config c;
    memset(&c, 0, sizeof c);
    c.model = k->model;
    c.aggregator = k->aggregator;
    c.layers = layers;
    c.hidden = hidden;
    c.outputs = outputs;
    c.heads = 3;
    c.out_heads = 2;
    c.seed = 5;
    return c;
}

/* With visits, without neighbours, or plain, as the model needs it: 3 neighbours per seed, one more from hop
   to hop. */
static inline ggnn_sampling kind_sampling(const net_config* c, bool last_hop_global)
{
    const bool visits = net_has(c->model, c->aggregator, NET_VISITS);
    const bool alone = net_has(c->model, c->aggregator, NET_ALONE);
    ggnn_sampling how;
    memset(&how, 0, sizeof how);
    how.method = visits ? GGNN_WALK : GGNN_FISHER_YATES;
    if (visits) how.keep = GGNN_KEEP_WEIGHTS;
    how.num_hops = c->layers;
    how.last_hop_global = last_hop_global;
    for (int32_t h = 0; h < c->layers; h++) how.fanout[h] = alone ? 0 : 3 + h;
    return how;
}
#endif
