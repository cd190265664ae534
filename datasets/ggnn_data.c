/* ggnn-data: makes, reads, checks and exports .ggnn files. This is the dispatch; each command has its own file. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/bus_error.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/convert.h"

static const command_entry commands[] = {
    {"generate", generate_main, "make a synthetic graph: planted, citation, rmat, grid, star, path, karate"},
    {"convert", convert_main, "read a graph in another format: npz, OGB, edge lists, .npy, SNAP, Matrix Market"},
    {"info", info_main, "what a file holds"},
    {"verify", verify_main, "check all of a file: checksums, structure, values"},
    {"stats", stats_main, "degrees, components, homophily"},
    {"sample", sample_main, "sample a mini-batch and print it, with the algorithms' own arrays if wanted"},
    {"export", export_main, "write as CSV, Matrix Market or .npy"},
    {"rank", rank_main, "rank nodes: which rows and lists are worth keeping near"},
    {"reorder", reorder_main, "number the nodes by a ranking: another graph, hottest first"},
    {"preprocess", preprocess_main, "add the first layer's sums over all neighbours to a file"},
    {"place", place_main, "place parts on devices for a topology: which device stores and reads what"},
    {"partition", partition_main, "divide the nodes among devices: min-cut, hash, mod, range, PaGraph's"},
    {NULL, NULL, NULL},
};

static void print_help(FILE* out)
{
    fprintf(out, "usage: ggnn-data COMMAND ...\n\n");
    command_print(commands, out);
    fprintf(out, "\nggnn-data COMMAND --help says more; --version names the version.\n");
}

int main(int argc, char** argv)
{
    error why = {""};
    standard_open();
    bus_error_catch();
    command_program = "ggnn-data";
    program_arguments = argv;
    signal(SIGXFSZ, SIG_IGN); /* a file past a limit is an error with a message, as on a full disk */
    if (argc < 2) {
        print_help(stderr);
        return EXIT_WRONG_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
    }
    if (options_version(command_program, argc, argv)) return standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
    const int status = command_run(commands, argc - 1, argv + 1);
    if (status >= 0) return status;
    print_help(stderr);
    return EXIT_WRONG_USAGE;
}
