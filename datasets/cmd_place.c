/* ggnn-data place: which parts of a graph each device stores, and where it reads the others. */
#include <inttypes.h>
#include <string.h>

#include "common/json.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/topology.h"

static const char text[] =
    "Places P parts of a graph, or of its features, on P devices (XGNN), so that each device can read every part from\n"
    "its own memory or over a link. TOPOLOGY is one of " TOPOLOGY_NAMES ", a file with what\n"
    "`nvidia-smi topo -m` prints, or a file with a matrix: row i, column j is the bandwidth of device i reading device\n"
    "j's memory, 0 where it cannot. Rules:\n"
    "  best     XGNN's search over numberings of the devices, then the exact search\n"
    "  pruned   XGNN's search as published\n"
    "  exact    fewest parts on the fullest device, then the largest bandwidth, then fewest copies\n"
    "  clique   disjoint cliques, each of which holds everything";

static const char rules[] = "best|pruned|exact|clique"; /* ggnn_place_rule */

static void print_plan(const ggnn_placement* plan, const char* from)
{
    printf("%s: %d devices, %d part%s on the fullest, %d copies in all\n", from, plan->devices, plan->most,
           plan->most == 1 ? "" : "s", plan->copies);
    printf("least bandwidth %g (modelled), %" PRId64 " plans examined, %s\n\n", plan->bandwidth, plan->plans,
           plan->complete ? "complete" : "not complete: --plans allows more");
    printf("device  reads part 0 .. %d from%*s  stores\n", plan->devices - 1, plan->devices < 8 ? 0 : 3 * plan->devices - 24, "");
    for (int32_t i = 0; i < plan->devices; i++) {
        printf("%6d ", i);
        for (int32_t p = 0; p < plan->devices; p++) printf(" %2d", plan->source[i][p]);
        printf("%*s", plan->devices < 8 ? 26 - 3 * plan->devices : 2, "");
        for (int32_t p = 0; p < plan->devices; p++)
            if (plan->stores[i] >> p & 1) printf(" %d", p);
        printf("\n");
    }
}

static void json_plan(const ggnn_placement* plan, const char* from, const char* rule)
{
    json j;
    json_start(&j, stdout, true);
    json_begin_object(&j, NULL);
    json_string(&j, "topology", from);
    json_string(&j, "rule", rule);
    json_int(&j, "devices", plan->devices);
    json_begin_array(&j, "parts"); /* by device: those that it stores */
    for (int32_t i = 0; i < plan->devices; i++) {
        json_begin_array(&j, NULL);
        for (int32_t p = 0; p < plan->devices; p++)
            if (plan->stores[i] >> p & 1) json_int(&j, NULL, p);
        json_end_array(&j);
    }
    json_end_array(&j);
    json_begin_array(&j, "sources"); /* by device, by part: the device that it is read from */
    for (int32_t i = 0; i < plan->devices; i++) {
        json_begin_array(&j, NULL);
        for (int32_t p = 0; p < plan->devices; p++) json_int(&j, NULL, plan->source[i][p]);
        json_end_array(&j);
    }
    json_end_array(&j);
    json_int(&j, "most", plan->most);
    json_int(&j, "copies", plan->copies);
    json_real(&j, "bandwidth", plan->bandwidth);
    json_int(&j, "plans", plan->plans);
    json_bool(&j, "complete", plan->complete != 0);
    json_end_object(&j);
}

int place_main(int argc, char** argv)
{
    static const char* const name[] = {"best", "pruned", "exact", "clique"};
    int64_t plans = GGNN_PLANS_DEFAULT, devices = 0;
    option_list list = {0, {0}};
    bool as_json = false, listed = false;
    int rule = GGNN_PLACE_BEST;
    const option table[] = {
        {"rule", OPTION_CHOICE, &rule, 0, 0, rules, "how to search", NULL},
        {"plans", OPTION_INT, &plans, 1, 9e15, "N", "plans that the search may examine", NULL},
        {"devices", OPTION_INT, &devices, 1, GGNN_DEVICES_MAX, "P", "of a topology by name: so many; of a file: it must have so many; default: 8, or the file's", NULL},
        {"device-list", OPTION_LIST, &list, 0, GGNN_DEVICES_MAX - 1, "I,J,...", "these devices alone, in this order", &listed},
        {"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[1];
    int num_arguments, exit_code;
    ggnn_topology t;
    ggnn_placement plan;
    ggnn_fault fault;
    error why = {""};
    if (!command_begin("place TOPOLOGY [options]", text, table, argc, argv, argument, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    if (!topology_read(&t, argument[0], (int32_t)devices, &why)) return command_failed(&why);
    if (listed && (list.count > GGNN_DEVICES_MAX || !topology_keep(&t, list.value, list.count, &why))) {
        error_set(&why, "--device-list: more than 16 devices");
        return command_refused("place", &why);
    }
    if (ggnn_place_parts(&plan, &t, (ggnn_place_rule)rule, plans, &fault) != GGNN_OK) {
        error_set(&why, "%s: %s", argument[0], fault.what);
        return command_failed(&why);
    }
    if (as_json) json_plan(&plan, argument[0], name[rule]);
    else print_plan(&plan, argument[0]);
    return standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
}
