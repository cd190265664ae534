/* ggnn-train export: the weights of a checkpoint, by the names and shapes of PyTorch. */
#include <string.h>

#include "common/same_file.h"
#include "trainer/saved/commands.h"
#include "trainer/saved/weights_file.h"

/* All that is wanted of the checkpoint at path: what w and its tensors say, and c their options. */
static bool read_weights(weights* w, weight_tensor tensor[WEIGHTS_MAX], config* c, ggnn_file* f, bool last, error* why)
{
    net_param param[NET_PARAMS_MAX];
    int32_t count;
    int64_t floats;
    const int64_t* crc = checkpoint_need(f, "graph_crc", GGNN_FILE_I64, 1, why);
    if (!crc || !checkpoint_state(f, &w->at, why) || !checkpoint_params(f, param, &count, &floats, why) ||
        !weights_plan(c, f->path, param, count, tensor, &w->tensors, why))
        return false;
    w->options = c;
    w->tensor = tensor;
    w->best = !last && w->at.has_best;
    w->graph_crc = *crc;
    w->values = checkpoint_need(f, w->best ? "best" : "value", GGNN_FILE_F32, floats, why);
    return w->values != NULL;
}

static bool export_weights(const char* path, const char* out, bool last, error* why)
{
    static config c;
    ggnn_file f;
    weights w;
    weight_tensor tensor[WEIGHTS_MAX];
    size_t length;
    const char* options = checkpoint_open(&f, path, &length, why);
    const bool good = options && config_inherit(&c, path, options, length, why) && read_weights(&w, tensor, &c, &f, last, why) &&
                      weights_write(out, (weights_format)weights_format_of(out), &w, why);
    ggnn_file_close(&f);
    return good;
}

int saved_export_main(int argc, char** argv)
{
    bool last = false;
    const option table[] = {
        {"last", OPTION_FLAG, &last, 0, 0, NULL, "the weights after the last step, not those of the least validation loss", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const char* argument[2];
    int num_arguments, exit_code;
    error why = {""};
    if (!command_begin("export F.ckpt W.npz|W.safetensors [options]",
                       "Writes the weights of a checkpoint for PyTorch, by the names and shapes of PyG's layers: convs.0.lin_l.weight. Those of\n"
                       "the epoch of the least validation loss; where no epoch was evaluated, those after the last step.\n"
                       "docs/TRAINING.md lists the names.",
                       table, argc, argv, argument, &num_arguments, 2, 2, &exit_code))
        return exit_code;
    if (weights_format_of(argument[1]) < 0) error_set(&why, "%s: the name ends neither in .npz nor in .safetensors", argument[1]);
    else if (same_file(argument[0], argument[1])) error_set(&why, "%s: the checkpoint and the weights are one file", argument[1]);
    if (why.text[0]) return command_refused("export", &why);
    return export_weights(argument[0], argument[1], last, &why) ? EXIT_GOOD : command_failed(&why);
}
