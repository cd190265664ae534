#include "datasets/convert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/options.h"
#include "datasets/arrays.h"
#include "datasets/readers.h"
#include "datasets/text.h"

/* ---- formats --------------------------------------------------------------------------------------------------------- */

typedef struct {
    const char* name; /* as --from takes it */
    bool (*read)(builder* b, const char* in, error* why);
    const char* about;
} format_entry;

static const format_entry formats[] = { /* in the order of convert_format */
    {"auto", NULL, "detected"},
    {"npz", read_npz, "npz with node_features, node_labels, edges"},
    {"shchur", read_shchur, "npz with a sparse adjacency matrix"},
    {"ogb", read_ogb, "OGB csv folder"},
    {"edges", read_edges, "list of edges"},
    {"npy", read_npy, "folder of .npy"},
    {"snap", read_snap, "SNAP list of edges"},
    {"konect", read_konect, "KONECT list of edges"},
    {"mtx", read_mtx, "Matrix Market"},
    {"ogb-binary", NULL, "OGB binary folder (papers100M)"},
    {"reddit", NULL, "DGL's Reddit"},
    {"graphsaint", NULL, "GraphSAINT folder"},
};

const char* convert_format_name(convert_format format) { return formats[format].name; }

static bool is_folder(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool holds(const char* folder, const char* name)
{
    char path[4096];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && access(path, F_OK) == 0;
}

static bool detect_folder(convert_format* format, const char* in, error* why)
{
    *format = holds(in, "raw/edge.csv.gz") || holds(in, "raw/edge.csv")                            ? FORMAT_OGB
              : holds(in, "raw/data.npz")                                                          ? FORMAT_OGB_BINARY
              : holds(in, "reddit_data.npz")                                                       ? FORMAT_REDDIT
              : holds(in, "adj_full.npz")                                                          ? FORMAT_GRAPHSAINT
              : holds(in, "indptr.npy") || holds(in, "edge_index.npy") || holds(in, "edges.npy") ? FORMAT_NPY
                                                                                                   : FORMAT_AUTO;
    return *format || error_set(why, "%s: a folder of no known format: neither raw/edge.csv.gz (OGB) nor indptr.npy, "
                                     "edge_index.npy or edges.npy is in it", in);
}

static bool detect_archive(convert_format* format, const char* in, error* why)
{
    array_set set;
    char there[256];
    if (!arrays_open(&set, in, why)) return false;
    *format = arrays_have(&set, "adj_indptr")                                                                       ? FORMAT_SHCHUR
              : arrays_have(&set, "edges") || arrays_have(&set, "edge_index") || arrays_have(&set, "indptr")        ? FORMAT_NPZ
                                                                                                                    : FORMAT_AUTO;
    arrays_list(&set, there, sizeof there);
    arrays_close(&set);
    return *format || error_set(why, "%s: arrays of no known format: neither edges, edge_index, indptr nor adj_indptr is among %s", in, there);
}

static bool detect_text(convert_format* format, const char* in, error* why)
{
    char head[64] = "";
    const char* slash = strrchr(in, '/');
    source* s = source_open(in, why);
    text t = {0};
    bool ok = s && text_open(&t, s, "#%", why) && text_first_comment(&t, head, sizeof head, why);
    text_close(&t);
    source_close(s);
    *format = strncmp(head, "%%MatrixMarket", 14) == 0                                ? FORMAT_MTX
              : head[0] == '%' || strncmp(slash ? slash + 1 : in, "out.", 4) == 0     ? FORMAT_KONECT
              : head[0] == '#'                                                        ? FORMAT_SNAP
                                                                                      : FORMAT_EDGES;
    return ok;
}

bool convert_detect(convert_format* format, const char* in, error* why)
{
    char magic[4] = "";
    if (is_folder(in)) return detect_folder(format, in, why);
    int64_t bytes = source_file_bytes(in, why);
    if (bytes < 0) return false;
    if (bytes == 0) return error_set(why, "%s: is empty", in);
    if (bytes >= 4 && !source_peek(in, 0, magic, 4, "its first bytes", why)) return false;
    return memcmp(magic, "PK", 2) == 0 ? detect_archive(format, in, why) : detect_text(format, in, why);
}

/* ---- conversion ------------------------------------------------------------------------------------------------------ */

bool convert(const char* in, const char* out, const convert_options* how, error* why)
{
    convert_format format = how->format;
    builder b;
    if (format == FORMAT_AUTO && !convert_detect(&format, in, why)) return false;
    if (!formats[format].read)
        return error_set(why, "%s: %s: this format is known, but not supported yet", in, formats[format].about);
    if (how->report) fprintf(how->report, "reading    %s as %s (%s)\n", in, formats[format].name, formats[format].about);
    if (!builder_open(&b, in, out, how, why)) return false;
    bool ok = formats[format].read(&b, in, why) && builder_finish(&b, why);
    builder_close(&b);
    return ok;
}

/* ---- the command ----------------------------------------------------------------------------------------------------- */

/* "65:10:25", percents of the nodes that have a label. */
static bool parse_split(convert_options* how, const char* given, error* why)
{
    double percent[3], sum = 0;
    int used = 0;
    if (sscanf(given, "%lf:%lf:%lf%n", &percent[0], &percent[1], &percent[2], &used) != 3 || given[used])
        return error_set(why, "--split %s: three percentages are expected, train:val:test, 65:10:25", given);
    for (int k = 0; k < 3; k++) {
        if (!(percent[k] >= 0 && percent[k] <= 100)) return error_set(why, "--split %s: percentages are 0 to 100", given);
        how->share[k] = percent[k] / 100;
        sum += percent[k];
    }
    how->split = true;
    return sum <= 100 + 1e-9 || error_set(why, "--split %s: adds up to %g %%", given, sum);
}

/* "uniform", "degree", "degree:.01": how training nodes are chosen, and their share in place of the split's. */
static bool parse_train(convert_options* how, const char* given, error* why)
{
    const char* colon = strchr(given, ':');
    size_t length = colon ? (size_t)(colon - given) : strlen(given);
    bool degree = length == 6 && strncmp(given, "degree", 6) == 0;
    if (!degree && !(length == 7 && strncmp(given, "uniform", 7) == 0))
        return error_set(why, "--train %s: uniform or degree is expected, degree:.01 for one node in a hundred", given);
    how->train = degree ? TRAIN_DEGREE : TRAIN_UNIFORM;
    if (colon && !options_real("--train", colon + 1, 0, 1, &how->share[0], why)) return false;
    if (how->share[0] + how->share[1] + how->share[2] > 1 + 1e-9)
        return error_set(why, "--train %s: with --split's val and test that is more than all nodes", given);
    return true;
}

static const char usage[] =
    "usage: ggnn-data convert IN OUT.ggnn [options]\n"
    "Reads a graph in another format and writes a .ggnn file, whole or not at all. Every neighbour list is sorted by id.\n"
    "Formats (--from), and what is usual for each, unless an option says otherwise:\n"
    "  npz     node_features, node_labels, edges (E,2), masks: undirected, each edge listed once (Platonov et al.)\n"
    "  shchur  npz with adj_indptr, adj_indices, adj_shape, attr_*, labels: undirected, self-loops dropped\n"
    "  ogb     folder with raw/edge.csv.gz ...: directed as is; ogbn-products needs --undirected\n"
    "  edges   src,dst[,weight] by commas, tabs or spaces, names in line 1 or not: directed as is\n"
    "  npy     folder with indptr + indices (in-neighbours), edge_index (2,E) or edges (E,2); feat, label, split or\n"
    "          train, val, test as masks or ids: directed as is\n"
    "  snap    '#' comments, src dst: directed as is\n"
    "  konect  '%' comments, from 1: as its first line says; weights only where it says so\n"
    "  mtx     Matrix Market, from 1: general directed as is, symmetric undirected\n"
    "Text may be gzipped. Ids that are not 0 .. N-1 are compacted in ascending order and kept as external_id.\n"
    "Duplicate edges are dropped (the first stays), self-loops kept.\n";

typedef struct { /* options as the command line has them */
    bool undirected, directed;
    const char *split, *train;
} command;

static bool settle(convert_options* how, const command* given, error* why)
{
    if (given->undirected && given->directed) return error_set(why, "--undirected and --directed exclude each other");
    if (given->undirected) how->direction = DIRECTION_BOTH;
    if (given->directed) how->direction = DIRECTION_AS_IS;
    if (given->split && !parse_split(how, given->split, why)) return false;
    if (!given->split && (given->train || how->classes) && !parse_split(how, "65:10:25", why)) return false;
    return !given->train || parse_train(how, given->train, why);
}

int convert_main(int argc, char** argv)
{
    convert_options how = {.report = stdout};
    command given = {0};
    int format = FORMAT_AUTO, loops = LOOPS_AUTO, arguments = 0;
    int64_t seed = 1;
    const char* path[2] = {"", ""};
    error why = {""};
    const option table[] = {
        {"from", OPTION_CHOICE, &format, 0, 0, CONVERT_FORMATS, "Format of IN.", NULL},
        {"undirected", OPTION_FLAG, &given.undirected, 0, 0, NULL, "Add the reverse of every edge that has none.", NULL},
        {"directed", OPTION_FLAG, &given.directed, 0, 0, NULL, "Take edges as they are, whatever is usual.", NULL},
        {"keep-duplicates", OPTION_FLAG, &how.keep_duplicates, 0, 0, NULL, "Keep edges that occur more than once.", NULL},
        {"self-loops", OPTION_CHOICE, &loops, 0, 0, "auto|keep|drop|add", "add: one where a node has none.", NULL},
        {"drop-weights", OPTION_FLAG, &how.drop_weights, 0, 0, NULL, "Leave edge weights out.", NULL},
        {"nodes", OPTION_INT, &how.num_nodes, 0, 2.8e14, "N", "Of a bare edge list: ids are 0 to N-1 and stay; 0: compact them.", NULL},
        {"row-normalise", OPTION_FLAG, &how.row_normalise, 0, 0, NULL, "Divide each row of features by the sum of its absolute values.", NULL},
        {"fp16", OPTION_FLAG, &how.half, 0, 0, NULL, "Store features as 16-bit floats.", NULL},
        {"random-features", OPTION_INT, &how.random_features, 0, 1 << 24, "F", "Give a bare graph F features, uniform in [-1, 1).", NULL},
        {"classes", OPTION_INT, &how.classes, 0, 1 << 20, "C", "Give a bare graph random labels of C classes.", NULL},
        {"split", OPTION_TEXT, &given.split, 0, 0, "A:B:C", "Split labelled nodes at random: percent train, val, test; in place of the format's.", NULL},
        {"train", OPTION_TEXT, &given.train, 0, 0, "HOW[:SHARE]", "Training nodes: uniform, or degree for the highest in-degrees; degree:.01 takes 1 %.", NULL},
        {"seed", OPTION_INT, &seed, 0, 9e18, "N", "Of everything random.", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL},
    };
    options_result result = options_parse(table, argc, argv, path, &arguments, 2, 2, &why);
    if (result == OPTIONS_HELP) {
        fputs(usage, stdout);
        options_help(table, stdout);
        return 0;
    }
    how.format = (convert_format)format;
    how.loops = (convert_loops)loops;
    how.seed = (uint64_t)seed;
    if (result == OPTIONS_WRONG || !settle(&how, &given, &why)) {
        fprintf(stderr, "ggnn-data: convert: %s\n", why.text);
        return 2;
    }
    if (convert(path[0], path[1], &how, &why)) return 0;
    fflush(stdout);
    fprintf(stderr, "ggnn-data: %s\n", why.text);
    return 1;
}
