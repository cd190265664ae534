/* ggnn-data convert: its options and its help. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/same_file.h"
#include "common/standard.h"
#include "datasets/commands.h"
#include "datasets/convert.h"

/* "65:10:25", percents of the nodes that have a label. */
static bool parse_split(convert_options* how, const char* given, error* why)
{
    double percent[3], sum = 0;
    int used = 0;
    if (sscanf(given, "%lf:%lf:%lf%n", &percent[0], &percent[1], &percent[2], &used) != 3 || given[used])
        return error_set(why, "--split %s: three percentages are expected, train:val:test, 65:10:25", given);
    for (int k = 0; k < 3; k++) {
        if (!(percent[k] >= 0 && percent[k] <= 100))
            return error_set(why, "--split %s: percentages are 0 to 100", given);
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
        return error_set(why, "--train %s: uniform or degree is expected, degree:.01 for one node in a hundred",
                         given);
    how->train = degree ? TRAIN_DEGREE : TRAIN_UNIFORM;
    if (colon && !options_real("--train", colon + 1, 0, 1, &how->share[0], why)) return false;
    if (how->share[0] + how->share[1] + how->share[2] > 1 + 1e-9)
        return error_set(why, "--train %s: with --split's val and test that is more than all nodes", given);
    return true;
}

static const char usage[] = "convert IN OUT.ggnn [options]";
static const char about[] =
    "Reads a graph in another format and writes a .ggnn file, whole or not at all. Every neighbour list is sorted by "
    "id.\n"
    "Formats, and what is usual for each unless an option says otherwise:\n"
    "  npz     node_features, node_labels, edges (E,2), masks: undirected, each edge listed once (Platonov et al.)\n"
    "  shchur  npz with adj_indptr, adj_indices, adj_shape, attr_*, labels: undirected, self-loops dropped\n"
    "  scipy   npz with a sparse matrix A (scipy.sparse.save_npz: csr, csc, coo): A[i,j] is the edge i -> j, data its\n"
    "          weight; directed as is; A is square\n"
    "  ogb     folder with raw/edge.csv.gz ...: directed as is; ogbn-products needs --undirected\n"
    "  ogb-binary  folder with raw/data.npz and raw/node-label.npz (ogbn-papers100M): directed as is; split_dict.pt is a pickle\n"
    "          and is not read: train.csv, valid.csv and test.csv have to stand there\n"
    "  graphsaint  folder with adj_full.npz, feats.npy, class_map.json, role.json: directed as is, as both directions are in\n"
    "          it; the matrix's data are no weights; features stay as they are, where GraphSAINT standardises them\n"
    "  reddit  DGL's folder with reddit_data.npz and reddit_graph.npz (or reddit_self_loop_graph.npz): the same\n"
    "  edges   src,dst[,weight] by commas, tabs or spaces: directed as is. Line 1 may name the columns: src, source,\n"
    "          from, head, row, u, dst, target, to, tail, col, v, node, id, weight and the like (id_1, FromNodeId).\n"
    "          --edge-columns says what other columns are\n"
    "  npy     folder with indptr + indices (in-neighbours), row_ptr + col_idx (out-neighbours), edge_index or edges:\n"
    "          (2,E) or (E,2) by shape, (2,2) by name, as edge_index is (2,E) and edges (E,2); feat (16-bit floats stay\n"
    "          such), label, train, val, test as masks (bools, bytes, floats) or lists of ids: directed as is\n"
    "  snap    '#' comments, src dst: directed as is\n"
    "  konect  '%' comments, ids from 1: directed or not as its first line says; weights where it says so\n"
    "  mtx     Matrix Market, ids from 1: general directed as is, symmetric undirected\n"
    "  igb     folder with processed/paper__cites__paper: as is; labels node_label_19.npy (or --labels); the first 60 %\n"
    "          of the nodes train, 20 % validate, as in its loader, whose loops are --self-loops add\n"
    "  mag240m folder with processed/paper___cites___paper: as is; rows of 16 bits; labelled papers up to 2018 train, of\n"
    "          2019 validate, of later years test\n"
    "  raw     arrays without headers in the folder IN: --raw \"indptr=F:i64 indices=F:i32 feat=F:f16:128 label=G.npy\",\n"
    "          KEY=FILE:TYPE[:WIDTH] for each, or KEY=FILE.npy, without blanks. Types: bool i8 u8 i16 u16 i32 u32 i64 u64\n"
    "          f16 f32 f64, little-endian. Keys: as of npy, and weight, edge_feat, split, external_id\n"
    "Features of edges come from edge_attr, edge_features or edge_feat of npz and npy, from OGB's raw/edge-feat, from columns\n"
    "of a list (--edge-columns), or from a .npy beside any format (--edge-features): a row of each edge, in the order in which\n"
    "IN has them. An edge and the reverse that --undirected adds have one row; of duplicates the first one's row stays, with\n"
    "--keep-duplicates every one's; a self-loop that is dropped takes its row along.\n"
    "Text may be gzipped. Ids that are not 0 .. N-1 are compacted in ascending order and kept as external_id.\n"
    "With --ids names nodes are called by text, up to 256 bytes without blanks, commas and quotes that begin with no # or\n"
    "%: numbered as it comes, line by line, source before target, and kept as external_name. Half of --memory holds it.\n"
    "Duplicate edges are dropped (the first stays), self-loops kept.\n"
    "A node has one class, or one real target: files with several labels a node (multi-label) are refused. No pickle is read.";

typedef struct { /* options as the command line has them */
    bool undirected, directed;
    const char *split, *train;
} command;

static bool settle(convert_options* how, const command* given, error* why)
{
    if (how->no_features && how->features) return error_set(why, "--no-features and --features exclude each other");
    if (how->random_features && how->features) return error_set(why, "--random-features and --features exclude each other");
    if (how->classes && how->labels) return error_set(why, "--classes and --labels exclude each other");
    if (given->undirected && given->directed) return error_set(why, "--undirected and --directed exclude each other");
    if (how->half && how->wide) return error_set(why, "--fp16 and --fp32 exclude each other");
    if (given->undirected) how->direction = DIRECTION_BOTH;
    if (given->directed) how->direction = DIRECTION_AS_IS;
    const size_t length = given->split ? strlen(given->split) : 0;
    if (length > 4 && strcmp(given->split + length - 4, ".npy") == 0) {
        how->split_file = given->split;
        return (!given->train && !how->classes) || error_set(why, "--split %s: --train and --classes make splits of their own", given->split);
    }
    if (given->split && !parse_split(how, given->split, why)) return false;
    if (!given->split && (given->train || how->classes) && !parse_split(how, "65:10:25", why)) return false;
    return !given->train || parse_train(how, given->train, why);
}

/* Would OUT replace a file of the folder IN that holds the graph? A .ggnn file there is none of them. */
static bool is_part_of(const char* in, const char* out)
{
    char folder[PATH_MAX], file[PATH_MAX];
    size_t length = strlen(out);
    if (!realpath(in, folder) || !realpath(out, file) || (length > 5 && !strcmp(out + length - 5, ".ggnn"))) return false;
    length = folder[1] ? strlen(folder) : 0; /* "/": all names begin so */
    return strncmp(file, folder, length) == 0 && file[length] == '/';
}

int convert_main(int argc, char** argv)
{
    convert_options how = {.report = stdout};
    command given = {0};
    int format = FORMAT_AUTO, loops = LOOPS_AUTO, columns = COLUMNS_AUTO, ids = IDS_NUMBERS, header = HEADER_AUTO, arguments = 0, exit_code;
    int reorder = ORDER_NONE;
    int64_t seed = 1;
    const char* path[2] = {"", ""};
    error why = {""};
    const option table[] = {
        {"from", OPTION_CHOICE, &format, 0, 0, CONVERT_FORMATS, "format of IN", NULL},
        {"undirected", OPTION_FLAG, &given.undirected, 0, 0, NULL, "add the reverse of every edge that has none",
         NULL},
        {"directed", OPTION_FLAG, &given.directed, 0, 0, NULL, "take edges as they are, whatever is usual", NULL},
        {"keep-duplicates", OPTION_FLAG, &how.keep_duplicates, 0, 0, NULL, "keep edges that occur more than once",
         NULL},
        {"self-loops", OPTION_CHOICE, &loops, 0, 0, "auto|keep|drop|add", "add: one where a node has none", NULL},
        {"drop-weights", OPTION_FLAG, &how.drop_weights, 0, 0, NULL, "leave edge weights out", NULL},
        {"edge-columns", OPTION_CHOICE, &columns, 0, 0, CONVERT_COLUMNS,
         "edges, snap, konect: what stands behind source and target; auto: a third column as is usual for the format", NULL},
        {"edge-features", OPTION_TEXT, &how.edge_features, 0, 0, "FILE.npy",
         "features of edges, (edges, width), in place of the format's", NULL},
        {"drop-edge-features", OPTION_FLAG, &how.drop_edge_features, 0, 0, NULL, "leave features of edges out", NULL},
        {"no-features", OPTION_FLAG, &how.no_features, 0, 0, NULL, "leave features of nodes out: they are not read", NULL},
        {"ids", OPTION_CHOICE, &ids, 0, 0, "numbers|names", "edges, snap: what stands for a node; names need --header", NULL},
        {"header", OPTION_CHOICE, &header, 0, 0, "auto|yes|no",
         "edges, snap: does line 1 name columns? auto, of numbers: where it is one of the names above", NULL},
        {"nodes", OPTION_INT, &how.num_nodes, 0, 2.8e14, "N",
         "of a bare edge list: ids are 0 to N-1 and stay; 0: compact them", NULL},
        {"row-normalise", OPTION_FLAG, &how.row_normalise, 0, 0, NULL,
         "divide each row of features by the sum of its absolute values", NULL},
        {"fp16", OPTION_FLAG, &how.half, 0, 0, NULL, "store features of nodes and edges as 16-bit floats", NULL},
        {"fp32", OPTION_FLAG, &how.wide, 0, 0, NULL, "store them as 32-bit floats, also where IN has 16-bit ones, which stay as they are else", NULL},
        {"random-features", OPTION_INT, &how.random_features, 0, 1 << 24, "F",
         "give a bare graph F features, uniform in [-1, 1)", NULL},
        {"classes", OPTION_INT, &how.classes, 0, 1 << 20, "C", "give a bare graph random labels of C classes", NULL},
        {"features", OPTION_TEXT, &how.features, 0, 0, "FILE.npy",
         "features of nodes, (nodes, width), in place of the format's: row v is node v's; ids are not compacted", NULL},
        {"labels", OPTION_TEXT, &how.labels, 0, 0, "FILE.npy", "labels, (nodes), in place of the format's", NULL},
        {"split", OPTION_TEXT, &given.split, 0, 0, "A:B:C|FILE.npy",
         "split labelled nodes at random: percent train, val, test; in place of the format's. FILE.npy: (nodes) or (splits, nodes), "
         "0 none, 1 train, 2 val, 3 test", NULL},
        {"raw", OPTION_TEXT, &how.raw, 0, 0, "ARRAYS", "what arrays without headers in the folder IN are: see above", NULL},
        {"train", OPTION_TEXT, &given.train, 0, 0, "HOW[:SHARE]",
         "training nodes: uniform, or degree for the highest in-degrees; degree:.01 takes 1 %", NULL},
        {"reorder", OPTION_CHOICE, &reorder, 0, 0, "none|" ORDER_METHODS,
         "number nodes by what makes sums over all neighbours fast, as ggnn-data reorder --by", NULL},
        {"seed", OPTION_INT, &seed, 0, 9e18, "N", "of everything random", NULL},
        {"memory", OPTION_BYTES, &how.memory, 1 << 20, 9e18, "BYTES",
         "to work in: more edges are sorted on the disk; default: 3/4 of what the machine has available", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL},
    };
    if (!command_begin(usage, about, table, argc, argv, path, &arguments, 2, 2, &exit_code)) return exit_code;
    how.format = (convert_format)format;
    how.loops = (convert_loops)loops;
    how.columns = (convert_columns)columns;
    how.ids = (convert_ids)ids;
    how.header = (convert_header)header;
    how.reorder = (order_method)reorder;
    how.seed = (uint64_t)seed;
    if (same_file(path[0], path[1])) error_set(&why, "%s: IN and OUT are one file", path[1]);
    if (is_part_of(path[0], path[1])) error_set(&why, "%s: OUT is a file of IN", path[1]);
    if (how.edge_features && same_file(how.edge_features, path[1])) error_set(&why, "%s: OUT has the features of edges", path[1]);
    bool settled = !why.text[0] && settle(&how, &given, &why);
    for (int k = 0; k < 3; k++) {
        const char* beside = k == 0 ? how.features : k == 1 ? how.labels : how.split_file;
        if (beside && same_file(beside, path[1])) settled = error_set(&why, "%s: OUT is read, too", path[1]);
    }
    if (!settled) return command_refused("convert", &why);
    return convert(path[0], path[1], &how, &why) && standard_flush(&why) ? EXIT_GOOD : command_failed(&why);
}
