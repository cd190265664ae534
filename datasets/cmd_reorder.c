/* ggnn-data reorder: the same graph with its nodes numbered by a ranking, hottest first. */
#include <inttypes.h>
#include <stdio.h>

#include "common/json.h"
#include "common/memory.h"
#include "common/printable.h"
#include "common/same_file.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/order.h"
#include "datasets/plan_file.h"
#include "datasets/reorder.h"

static const char text[] =
    "Writes FILE's graph to OUT with node v called rank[v], by the ranking in FILE.rank (ggnn-data rank) or, --by, in an\n"
    "order that makes sums over all neighbours fast:\n"
    ORDER_ABOUT
    "What lies near is then the first rows and lists, and a look-up needs no table. Ids are other ids: samples, dropout and\n"
    "training order differ from FILE's. external_id keeps what each node was called: its old id, or its old external id;\n"
    "names stay with their nodes. old_id keeps its number, by which ggnn-train predict takes and writes nodes. Lists are\n"
    "sorted by id. A damaged section of FILE is an error.";

/* Either option belongs to a ranking. */
static bool settings_agree(int by, const char* path, int of, error* why)
{
    return !by || (!path && !of) ||
           error_set(why, "--by %s computes an order: --ranking and --of are for one of a file", order_name[by]);
}

/* The number of each node, by the ranking r or, `made`, computed. NULL: an error. */
static const ggnn_node* find_rank(const dataset* d, order_method by, const char* path, bool lists, ranking* r,
                                  ggnn_node** made, error* why)
{
    const ggnn_graph g = dataset_graph(d);
    if (by == ORDER_NONE) return !ranking_open(r, path, d, why) ? NULL : lists ? r->lists : r->rows;
    *made = memory_new((size_t)d->num_nodes * sizeof **made, "ranks", why);
    return *made && order_nodes(*made, by, &g, d->file.path, why) ? *made : NULL;
}

int reorder_main(int argc, char** argv)
{
    const char* path = NULL;
    int by = 0, of = 0;
    bool as_json = false;
    const option table[] = {
        {"by", OPTION_CHOICE, &by, 0, 0, "ranking|" ORDER_METHODS, "the order: a ranking's, or one that is computed", NULL},
        {"ranking", OPTION_TEXT, &path, 0, 0, "FILE", "the ranking; default: FILE.rank", NULL},
        {"of", OPTION_CHOICE, &of, 0, 0, "rows|lists", "which of its two orders", NULL},
        {"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[2];
    char beside[4096], name[4096];
    int num_arguments, exit_code;
    dataset d = {.num_nodes = 0};
    ranking r = {.rows = NULL};
    const ggnn_node* rank = NULL;
    ggnn_node* made = NULL;
    error why = {""};
    json j;
    if (!command_begin("reorder FILE OUT [options]", text, table, argc, argv, argument, &num_arguments, 2, 2, &exit_code))
        return exit_code;
    if (!settings_agree(by, path, of, &why)) return command_refused("reorder", &why);
    snprintf(beside, sizeof beside, "%s.rank", argument[0]);
    if (!path && !by) path = beside;
    if (same_file(argument[1], argument[0]) || same_file(argument[1], path)) {
        error_set(&why, "OUT %s: that is an input", argument[1]);
        return command_refused("reorder", &why);
    }
    const bool good = dataset_open(&d, argument[0], &why) &&
                      (rank = find_rank(&d, (order_method)by, path, of, &r, &made, &why)) &&
                      dataset_check_sections(&d, false, &why) && reorder_write(argument[1], &d, rank, &why);
    if (good && as_json) {
        json_start(&j, stdout, true);
        json_begin_object(&j, NULL);
        json_string(&j, "file", argument[1]);
        json_int(&j, "num_nodes", d.num_nodes);
        json_int(&j, "num_edges", d.num_edges);
        json_end_object(&j);
    } else if (good) {
        printf("%s: %" PRId64 " nodes in the order of their %s, %" PRId64 " edges\n",
               printable(name, sizeof name, argument[1]), d.num_nodes,
               by == ORDER_DEGREE    ? "degrees"
               : by == ORDER_GROUPED ? "groups"
               : by                  ? "communities"
               : of ? "lists" : "rows", d.num_edges);
    }
    memory_free(made);
    ranking_close(&r);
    dataset_close(&d);
    return good && standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
}
