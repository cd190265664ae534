/* ggnn-data generate: synthetic graphs. */
#include <inttypes.h>
#include <math.h>

#include "common/json.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/generate.h"

static const char text[] =
    "Writes a synthetic graph. KIND is one of (nodes, directed edges, features, classes by default)\n"
    "  planted   equal communities that edges prefer; noisy features; classes = communities (20000, 400000, 32, 8)\n"
    "  citation  papers in time order, 16 fields of which one has labels: a localised training set\n"
    "            (100000, 1200000, 64, 16)\n"
    "  rmat      R-MAT .57 .19 .19 .05, ids shuffled; label: the commonest group among a node's neighbours\n"
    "            (65536, 1048576, 64, 16)\n"
    "  grid, star, path    by nodes alone; features and labels on request, labels as of rmat (10000, 1000, 1000)\n"
    "  karate    Zachary's club: 34 nodes, 78 edges in both directions, two factions, the identity as features\n"
    "Every edge is there in both directions (--directed: in one), none twice, none from a node to itself. The same\n"
    "options give the same file. What the best rule that sees a node's own features alone would reach is printed beside.";

static void print_report(const generate_options* how, const char* out, const generate_report* r, double seconds)
{
    char path[4096];
    printf("%s: %" PRId64 " nodes, %" PRId64 " directed edges, %" PRId64 " features, %" PRId64 " classes, %.1f s\n",
           printable(path, sizeof path, out), r->num_nodes, r->num_edges, r->num_features, r->num_classes, seconds);
    if (r->num_edge_features) printf("edges: %" PRId64 " features each\n", r->num_edge_features);
    if (how->classes)
        printf("split: %" PRId64 " train, %" PRId64 " val, %" PRId64 " test, %" PRId64 " none\n",
               r->count[SPLIT_TRAIN], r->count[SPLIT_VAL], r->count[SPLIT_TEST], r->count[SPLIT_NONE]);
    if (!isnan(r->features_only))
        printf("best features-only rule: %.2f%% test accuracy (nearest class mean, over %" PRId64 " test nodes)\n",
               100 * r->features_only, r->judged);
}

static void json_report(const generate_options* how, const char* out, const generate_report* r, double seconds)
{
    static const char* const part[4] = {"none", "train", "val", "test"};
    json j;
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    json_string(&j, "file", out);
    json_int(&j, "seed", (int64_t)how->seed);
    json_int(&j, "num_nodes", r->num_nodes);
    json_int(&j, "num_edges", r->num_edges);
    json_int(&j, "num_features", r->num_features);
    json_int(&j, "num_edge_features", r->num_edge_features);
    json_int(&j, "num_classes", r->num_classes);
    json_begin_object(&j, "split");
    for (int i = 0; i < 4; i++) json_int(&j, part[i], r->count[i]);
    json_end_object(&j);
    json_real(&j, "features_only_accuracy", r->features_only);
    json_real(&j, "seconds", seconds);
    json_end_object(&j);
}

int generate_main(int argc, char** argv)
{
    generate_options how = {KIND_PLANTED, 1, -1, -1, -1, -1, .5, -1, 0, stderr, false, 0, 0, TRAIN_EVENLY};
    int64_t seed = 1;
    int train_by = TRAIN_EVENLY;
    bool as_json = false;
    const option table[] = {
        {"seed", OPTION_INT, &seed, 0, 9e18, "N", "which of the many graphs of this kind", NULL},
        {"nodes", OPTION_INT, &how.nodes, 1, 2147483647, "N", "number of nodes", NULL},
        {"edges", OPTION_INT, &how.edges, 0, 9e15, "N", "number of directed edges in the file, even unless --directed", NULL},
        {"directed", OPTION_FLAG, &how.directed, 0, 0, NULL,
         "planted, citation, rmat: edges one way; of citation a paper receives from those that it cites", NULL},
        {"train", OPTION_REAL, &how.train, 1e-9, 1, "X",
         "share of the labelled nodes that train; default: .5, of citation .78", NULL},
        {"train-by", OPTION_CHOICE, &train_by, 0, 0, GENERATE_TRAIN_BY,
         "proportional: those that train are drawn in proportion to in-degree; not of citation, karate", NULL},
        {"features", OPTION_INT, &how.features, 0, DATASET_MAX_WIDTH, "N", "features a node", NULL},
        {"edge-features", OPTION_INT, &how.edge_features, 0, DATASET_MAX_WIDTH, "F",
         "features an edge, of the group of the node that it comes from", NULL},
        {"classes", OPTION_INT, &how.classes, 0, DATASET_MAX_CLASSES, "N", "classes", NULL},
        {"homophily", OPTION_REAL, &how.homophily, 0, 1, "X", "planted: chance that an edge stays in its community",
         NULL},
        {"separation", OPTION_REAL, &how.separation, 0, 1e6, "X",
         "how far class means lie from 0, in units of the noise; 1.5 or 4 by kind", NULL},
        {"memory", OPTION_BYTES, &how.memory, 1 << 20, 9e18, "BYTES",
         "to work in: more edges are sorted on the disk; default: 3/4 of what the machine has available", NULL},
        {"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[2];
    int num_arguments, exit_code, kind;
    error why = {""};
    generate_report report;
    double start = progress_seconds();
    if (!command_begin("generate KIND OUT [options]", text, table, argc, argv, argument, &num_arguments, 2, 2,
                       &exit_code))
        return exit_code;
    kind = options_choice(GENERATE_KINDS, argument[0]);
    how.kind = (generate_kind)kind;
    how.seed = (uint64_t)seed;
    how.train_by = (generate_train_by)train_by;
    if (kind < 0) {
        char nearest[64];
        bool near = options_nearest(GENERATE_KINDS, argument[0], nearest);
        error_set(&why, "%s: not one of " GENERATE_KINDS "%s%s", argument[0], near ? "; is meant: " : "",
                  near ? nearest : "");
        return command_refused("generate", &why);
    }
    if (!generate_complete(&how, &why)) return command_refused("generate", &why);
    if (!generate(argument[1], &how, &report, &why)) return command_failed(&why);
    if (as_json)
        json_report(&how, argument[1], &report, progress_seconds() - start);
    else
        print_report(&how, argument[1], &report, progress_seconds() - start);
    return standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
}
