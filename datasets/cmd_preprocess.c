/* ggnn-data preprocess: the first layer's sums over all neighbours, into the file. */
#include <inttypes.h>

#include "common/json.h"
#include "common/printable.h"
#include "common/same_file.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/preprocess.h"

static const char text[] =
    "Adds to FILE what a network's first layer sums over ALL neighbours of each node, so that ggnn-train --preprocess\n"
    "starts at the second layer and samples a hop less (PaGraph).\n"
    "  gcn   a row a node: its own and its neighbours' rows by GCN's factors\n"
    "  sage  two rows' width a node: its own row, and the mean of its neighbours'\n"
    "FILE takes its new form whole or not at all: without --out it is replaced. It has the features twice or three times\n"
    "then: fp32. What is copied is checked: a damaged section is an error.";

int preprocess_main(int argc, char** argv)
{
    int model = PREPROCESS_SAGE;
    bool as_json = false;
    const char* out = NULL;
    const option table[] = {
        {"model", OPTION_CHOICE, &model, 0, 0, PREPROCESS_MODELS, "whose first layer", NULL},
        {"out", OPTION_TEXT, &out, 0, 0, "FILE", "write there and leave FILE as it is", NULL},
        {"json", OPTION_FLAG, &as_json, 0, 0, NULL, "print JSON", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[1];
    char name[4096];
    int num_arguments, exit_code;
    dataset d;
    error why = {""};
    if (!command_begin("preprocess FILE [options]", text, table, argc, argv, argument, &num_arguments, 1, 1, &exit_code))
        return exit_code;
    const file_read read = {argument[0], "FILE, which --out leaves as it is"};
    if (!same_file_as_none("--out", out, &read, 1, &why)) return command_refused("preprocess", &why);
    if (!out) out = argument[0];
    bool good = dataset_open(&d, argument[0], &why) && preprocess_write(out, &d, (preprocess_model)model, &why);
    const int64_t width = good ? preprocess_width(&d, (preprocess_model)model) : 0;
    if (good && as_json) {
        json j;
        json_start(&j, stdout, true);
        json_begin_object(&j, NULL);
        json_string(&j, "file", out);
        json_string(&j, "model", model == PREPROCESS_GCN ? "gcn" : "sage");
        json_int(&j, "num_nodes", d.num_nodes);
        json_int(&j, "width", width);
        json_int(&j, "bytes", d.num_nodes * width * (int64_t)sizeof(float));
        json_end_object(&j);
    } else if (good) {
        printf("%s: %" PRId64 " rows of %" PRId64 ", the first layer of %s over all neighbours\n", printable(name, sizeof name, out),
               d.num_nodes, width, model == PREPROCESS_GCN ? "gcn" : "sage");
    }
    dataset_close(&d);
    return good && standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
}
