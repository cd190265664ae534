/* ggnn-data stats: what the graph is like. */
#include <inttypes.h>

#include "common/json.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/statistics.h"

static double share(int64_t part, int64_t whole) { return whole ? (double)part / (double)whole : 0; }

/* The degrees of a bin, "4..7". */
static const char* bin_name(int32_t bin, char text[48])
{
    int64_t low = bin ? (int64_t)1 << (bin - 1) : 0;
    if (bin < 2)
        snprintf(text, 48, "%" PRId64, low);
    else
        snprintf(text, 48, "%" PRId64 "..%" PRId64, low, 2 * (low - 1) + 1);
    return text;
}

static void print_degrees(const char* name, const degree_statistics* s)
{
    printf("%-20s min %" PRId64 ", median %" PRId64 ", mean %.2f, 90%% %" PRId64 ", 99%% %" PRId64 ", max %" PRId64
           "; zero: %" PRId64 " nodes\n",
           name, s->least, s->median, s->mean, s->p90, s->p99, s->most, s->zero);
}

static void print_histogram(const degree_statistics* s, int64_t num_nodes)
{
    printf("\nin-degree           nodes\n");
    for (int32_t bin = 0; bin < s->num_bins; bin++) {
        char name[48];
        int length = (int)(40 * share(s->bin[bin], num_nodes) + .5);
        printf("  %-16s %10" PRId64 "  %5.1f%%  %.*s\n", bin_name(bin, name), s->bin[bin],
               100 * share(s->bin[bin], num_nodes), length, "########################################");
    }
}

static void print_statistics(const dataset* d, const graph_statistics* s)
{
    printf("%-20s %" PRId64 "\n%-20s %" PRId64 ", %s\n", "nodes", s->num_nodes, "edges", s->num_edges,
           s->one_way ? "directed" : "undirected: each has its reverse");
    if (s->one_way)
        printf("%-20s %" PRId64 " (%.1f%%)\n", "without reverse", s->one_way, 100 * share(s->one_way, s->num_edges));
    print_degrees("in-degree", &s->in);
    print_degrees("out-degree", &s->out);
    printf("%-20s %" PRId64 " (%.1f%%)\n", "isolated nodes", s->isolated, 100 * share(s->isolated, s->num_nodes));
    printf("%-20s %" PRId64 "\n%-20s %" PRId64 "\n", "self-loops", s->self_loops, "duplicate edges", s->duplicates);
    printf("%-20s %s\n", "lists", s->sorted ? "sorted by id" : "not sorted");
    printf("%-20s %" PRId64 ", the largest with %" PRId64 " nodes (%.1f%%)\n", "components", s->components,
           s->largest_component, 100 * share(s->largest_component, s->num_nodes));
    if (d->label) {
        printf("%-20s %" PRId64 " nodes in %" PRId32 " classes:", "labelled", s->labelled, d->num_classes);
        for (int32_t c = 0; c < d->num_classes && c < 20; c++) printf(" %" PRId64, s->class_size[c]);
        printf("%s\n", d->num_classes > 20 ? " ..." : "");
        printf("%-20s edge %.4f, node %.4f, adjusted %.4f (over %" PRId64 " edges)\n", "homophily", s->edge_homophily,
               s->node_homophily, s->adjusted_homophily, s->labelled_edges);
    }
    print_histogram(&s->in, s->num_nodes);
}

static void json_degrees(json* j, const char* key, const degree_statistics* s)
{
    json_begin_object(j, key);
    json_int(j, "min", s->least);
    json_int(j, "median", s->median);
    json_real(j, "mean", s->mean);
    json_int(j, "p90", s->p90);
    json_int(j, "p99", s->p99);
    json_int(j, "max", s->most);
    json_int(j, "zero", s->zero);
    json_begin_array(j, "bins"); /* degree 0, 1, 2..3, 4..7, ... */
    for (int32_t bin = 0; bin < s->num_bins; bin++) json_int(j, NULL, s->bin[bin]);
    json_end_array(j);
    json_end_object(j);
}

static void json_statistics(const dataset* d, const graph_statistics* s)
{
    json j;
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    json_string(&j, "file", d->file.path);
    json_int(&j, "num_nodes", s->num_nodes);
    json_int(&j, "num_edges", s->num_edges);
    json_int(&j, "one_way_edges", s->one_way);
    json_degrees(&j, "in_degree", &s->in);
    json_degrees(&j, "out_degree", &s->out);
    json_int(&j, "isolated_nodes", s->isolated);
    json_int(&j, "self_loops", s->self_loops);
    json_int(&j, "duplicate_edges", s->duplicates);
    json_bool(&j, "sorted", s->sorted);
    json_int(&j, "components", s->components);
    json_int(&j, "largest_component", s->largest_component);
    if (d->label) {
        json_int(&j, "labelled_nodes", s->labelled);
        json_int(&j, "labelled_edges", s->labelled_edges);
        json_real(&j, "edge_homophily", s->edge_homophily);
        json_real(&j, "node_homophily", s->node_homophily);
        json_real(&j, "adjusted_homophily", s->adjusted_homophily);
        json_begin_array(&j, "class_sizes");
        for (int32_t c = 0; c < d->num_classes; c++) json_int(&j, NULL, s->class_size[c]);
        json_end_array(&j);
    }
    json_end_object(&j);
}

int stats_main(int argc, char** argv)
{
    bool as_json = false, good;
    const option table[] = {{"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
                            {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* path;
    int num_arguments, exit_code;
    error why = {""};
    dataset d;
    graph_statistics s;
    if (!command_begin("stats FILE [options]", "Prints degrees, components, homophily, self-loops, duplicates.",
                       table, argc, argv, &path, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    good = dataset_open(&d, path, &why) && statistics_compute(&s, &d, &why);
    if (good) {
        if (as_json)
            json_statistics(&d, &s);
        else
            print_statistics(&d, &s);
        statistics_free(&s);
        good = standard_flush(&why);
    }
    dataset_close(&d);
    return good ? EXIT_GOOD : command_failed(&why);
}
