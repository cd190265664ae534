/* ggnn-train export: the weights of a checkpoint, by the names and shapes of PyTorch. */
#include "common/same_file.h"
#include "trainer/saved/commands.h"
#include "trainer/saved/saved.h"
#include "trainer/saved/weights_file.h"

static bool export_weights(const char* path, const char* out, bool last, error* why)
{
    static saved s;
    bool good = saved_open(&s, path, why);
    if (good) {
        weights w = {.options = &s.options, .tensor = s.tensor, .tensors = s.tensors, .best = !last && s.at.has_best, .at = s.at, .graph_crc = s.graph_crc};
        w.values = checkpoint_need(&s.file, w.best ? "best" : "value", GGNN_FILE_F32, s.floats, why);
        good = w.values && weights_write(out, (weights_format)weights_format_of(out), &w, why);
    }
    saved_close(&s);
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
