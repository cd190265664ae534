/* task_fixture.h - for tests: a small task, and the configuration of some options of ggnn-train. */
#ifndef TASK_FIXTURE_H
#define TASK_FIXTURE_H
#include "tests/owners.h"
#include "trainer/worker.h"

enum { NODES = 700, WIDTH = 12, CLASSES = 5 };

typedef struct {
    random_graph* graph;
    float features[NODES * WIDTH];
    int32_t label[NODES];
    ggnn_node ids[NODES];
    task task;
} fixture;

/* Two nodes in three train, every seventh node has no label. */
static inline fixture* fixture_new(void)
{
    fixture* f = (fixture*)calloc(1, sizeof *f);
    task* t = &f->task;
    f->graph = random_graph_new(NODES, 6, 90);
    for (int v = 0; v < NODES; v++) {
        f->label[v] = v % 7 == 3 ? -1 : v % CLASSES;
        for (int j = 0; j < WIDTH; j++) f->features[v * WIDTH + j] = test_uniform() - .5f + (float)(j == v % CLASSES);
        if (v % 3) f->ids[t->count[SPLIT_TRAIN]++] = (ggnn_node)v;
    }
    t->set.num_nodes = NODES;
    t->graph = f->graph->graph;
    t->features = ggnn_store_plain(f->features, NODES, WIDTH, GGNN_F32);
    t->labels.label = t->trained.label = f->label;
    t->classes = t->outputs = CLASSES;
    t->ids[SPLIT_TRAIN] = f->ids;
    return f;
}

static inline void fixture_free(fixture* f)
{
    random_graph_free(f->graph);
    free(f);
}

/* The configuration of these options of ggnn-train; its texts are in `words`. */
static inline config config_of(char words[400], const char* options)
{
    static config c; /* stays: the fanout_text of what is returned points into it until the next call */
    error why = {""};
    char* argv[40] = {(char*)(uintptr_t) "ggnn-train"};
    int argc = 1;
    const int length = snprintf(words, 400, "--data none --layers 2 --hidden 16 --eval-every 0 --lr .01 --seed 9 %s", options);
    CHECK(length < 400);
    for (char* word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    CHECK(config_parse(&c, argc, argv, &why) == OPTIONS_GOOD && config_finish(&c, &why));
    CHECK_STR(why.text, "");
    return c;
}
#endif
