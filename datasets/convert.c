#include "datasets/convert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/printable.h"
#include "common/unfinished.h"
#include "datasets/arrays.h"
#include "datasets/graph_arrays.h"
#include "datasets/order_gain.h"
#include "datasets/readers.h"
#include "datasets/reorder.h"
#include "datasets/text.h"

/* ---- formats -------------------------------------------------------------------------------------------------- */

typedef struct {
    const char* name; /* as --from takes it */
    bool (*read)(builder* b, const char* in, error* why);
    const char* about;
} format_entry;

static const format_entry formats[] = {
    /* in the order of convert_format */
    {"auto", NULL, "detected"},
    {"npz", read_npz, "npz with node_features, node_labels, edges"},
    {"shchur", read_shchur, "npz with a sparse adjacency matrix"},
    {"scipy", read_scipy, "npz with SciPy's sparse matrix"},
    {"ogb", read_ogb, "OGB csv folder"},
    {"edges", read_edges, "list of edges"},
    {"npy", read_npy, "folder of .npy"},
    {"snap", read_snap, "SNAP list of edges"},
    {"konect", read_konect, "KONECT list of edges"},
    {"mtx", read_mtx, "Matrix Market"},
    {"ogb-binary", read_ogb_binary, "OGB binary folder"},
    {"reddit", read_reddit, "DGL's Reddit"},
    {"graphsaint", read_graphsaint, "GraphSAINT folder"},
    {"igb", read_igb, "IGB folder"},
    {"mag240m", read_mag240m, "MAG240M folder"},
    {"raw", read_raw, "arrays without headers"},
};


static bool is_folder(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool holds(const char* folder, const char* name)
{
    char path[SOURCE_PATH];
    error ignored = {""};
    return find_file(path, folder, name, &ignored);
}

static bool detect_folder(convert_format* format, const char* in, error* why)
{
    static const struct { /* of several the first one tells */
        const char* file;
        convert_format format;
    } sign[] = {{"raw/edge.csv.gz", FORMAT_OGB},
                {"raw/edge.csv", FORMAT_OGB},
                {"raw/data.npz", FORMAT_OGB_BINARY},
                {"reddit_data.npz", FORMAT_REDDIT},
                {"adj_full.npz", FORMAT_GRAPHSAINT},
                {"processed/paper__cites__paper/edge_index.npy", FORMAT_IGB},
                {"processed/paper___cites___paper/edge_index.npy", FORMAT_MAG240M},
                {"row_ptr.npy", FORMAT_NPY},
                {"indptr.npy", FORMAT_NPY},
                {"edge_index.npy", FORMAT_NPY},
                {"edges.npy", FORMAT_NPY},
                {"data.npz", FORMAT_OGB_BINARY}};
    char names[200] = "";
    bool said[sizeof formats / sizeof *formats] = {false};
    for (size_t k = 0; k < sizeof sign / sizeof *sign; k++) {
        *format = sign[k].format;
        if (holds(in, sign[k].file)) return true;
        if (!said[*format]) snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", k ? ", " : "", formats[*format].name);
        said[*format] = true;
    }
    return error_set(why, "%s: a folder of no known format: none of the files is in it by which %s are known (ggnn-data convert --help lists "
                          "them)", in, names);
}

/* torch.save's archives hold one. */
static void check_members(const zip_archive* z, const char* in, error* why)
{
    for (int64_t i = 0; i < z->num_members; i++) {
        size_t length = strlen(z->member[i].name);
        if (length >= 4 && strcmp(z->member[i].name + length - 4, ".pkl") == 0) refuse_pickle(in, "", why);
    }
}

static bool detect_archive(convert_format* format, const char* in, error* why)
{
    array_set set;
    char there[256];
    if (!arrays_open(&set, in, why)) return false;
    *format = arrays_have(&set, "format") && arrays_have(&set, "shape") ? FORMAT_SCIPY /* has indptr, too */
              : arrays_have(&set, "adj_indptr") ? FORMAT_SHCHUR
              : arrays_have(&set, "edges") || arrays_have(&set, "edge_index") || arrays_have(&set, "indptr") || arrays_have(&set, "row_ptr")
                  ? FORMAT_NPZ
                  : FORMAT_AUTO;
    arrays_list(&set, there, sizeof there);
    if (!*format) check_members(&set.zip, in, why);
    arrays_close(&set);
    return *format ||
           error_set(why,
                     "%s: arrays of no known format: neither edges, edge_index, indptr, row_ptr, adj_indptr nor format and shape are among %s",
                     in, there);
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
    *format = strncmp(head, "%%MatrixMarket", 14) == 0 ? FORMAT_MTX
              : head[0] == '%' || strncmp(slash ? slash + 1 : in, "out.", 4) == 0 ? FORMAT_KONECT
              : head[0] == '#' ? FORMAT_SNAP
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
    if (memcmp(magic, "\x89GGN", 4) == 0) return error_set(why, "%s: is a .ggnn file already", in);
    if (magic[0] == '\x80' && magic[1] >= 2 && magic[1] <= 5) return refuse_pickle(in, "", why); /* the second byte: its protocol */
    return memcmp(magic, "PK", 2) == 0 ? detect_archive(format, in, why) : detect_text(format, in, why);
}

/* ---- features of edges ---------------------------------------------------------------------------------------- */

/* Do the options that say where they come from go together, and with the format? */
static bool check_edge_features(const convert_options* how, convert_format format, const char* in, error* why)
{
    const bool lists = format == FORMAT_EDGES || format == FORMAT_SNAP || format == FORMAT_KONECT;
    const bool columns = how->columns == COLUMNS_FEATURES || how->columns == COLUMNS_WEIGHT_FEATURES;
    if (how->columns != COLUMNS_AUTO && !lists)
        return error_set(why, "%s: --edge-columns is for lists of edges (edges, snap, konect), this is %s", in, formats[format].name);
    if ((how->edge_features != NULL) + columns + how->drop_edge_features > 1)
        return error_set(why, "%s: features of edges come from one place: of --edge-features, --edge-columns features and "
                              "--drop-edge-features one can be", in);
    return true;
}

/* ---- names ---------------------------------------------------------------------------------------------------- */

static bool check_names(const convert_options* how, convert_format format, const char* in, error* why)
{
    const bool named = how->ids == IDS_NAMES;
    if ((named || how->header != HEADER_AUTO) && format != FORMAT_EDGES && format != FORMAT_SNAP)
        return error_set(why, "%s: --ids names and --header are for lists of edges (edges, snap), this is %s", in, formats[format].name);
    if (named && how->header == HEADER_AUTO)
        return error_set(why, "%s: --ids names: line 1 may name columns or be an edge, which is not to be guessed: --header yes or no", in);
    if (named && (how->num_nodes || how->features || how->labels || how->split_file))
        return error_set(why, "%s: --nodes, --features, --labels and --split FILE go by the numbers of nodes, and names have none before they "
                              "are read (--ids names)", in);
    return true;
}

/* ---- conversion ----------------------------------------------------------------------------------------------- */

static bool convert_as_is(const char* in, const char* out, const convert_options* how, error* why)
{
    convert_format format = how->format;
    char shown[4096];
    builder b;
    if (how->raw && format == FORMAT_AUTO) format = FORMAT_RAW;
    if ((how->raw != NULL) != (format == FORMAT_RAW))
        return error_set(why, "%s: %s", in, how->raw ? "--raw says what is read: no other --from goes with it" : "--from raw needs --raw, which names the arrays");
    if (format == FORMAT_AUTO && !convert_detect(&format, in, why)) return false;
    if (!check_edge_features(how, format, in, why)) return false;
    if (!check_names(how, format, in, why)) return false;
    if (how->report)
        fprintf(how->report, "reading    %s as %s (%s)\n", printable(shown, sizeof shown, in), formats[format].name,
                formats[format].about);
    if (how->report) fflush(how->report); /* before any error, also in one file with it */
    if (!builder_open(&b, in, out, how, why)) return false;
    bool ok = formats[format].read(&b, in, why) && read_nodes(&b, NULL, NULL, NULL, NULL, why) && builder_finish(&b, why);
    builder_close(&b);
    return ok;
}

/* Says where another order would pay. What cannot be counted gets no hint. */
static void hint_at_order(const char* out, FILE* report)
{
    char sentence[ORDER_HINT];
    dataset d;
    error ignored = {""};
    if (dataset_open(&d, out, &ignored) && order_gain_hint(sentence, &d)) fprintf(report, "hint       %s\n", sentence);
    dataset_close(&d);
}

/* The graph at `from` to out, in the order asked for. */
static bool reorder(const char* from, const char* out, const convert_options* how, error* why)
{
    dataset d;
    bool good = dataset_open(&d, from, why);
    ggnn_node* rank = good ? memory_new((size_t)d.num_nodes * sizeof *rank, "ranks", why) : NULL;
    const ggnn_graph g = dataset_graph(&d);
    good = rank && order_nodes(rank, how->reorder, &g, out, why) && reorder_write(out, &d, rank, why);
    if (good && how->report) fprintf(how->report, "reordered  by %s\n", order_name[how->reorder]);
    memory_free(rank);
    dataset_close(&d);
    return good;
}

/* By way of a file in a folder of its own beside out. */
static bool convert_reordered(const char* in, const char* out, const convert_options* how, error* why)
{
    char folder[SOURCE_PATH], between[SOURCE_PATH + 16];
    if (snprintf(folder, sizeof folder, "%s.XXXXXX", out) >= (int)sizeof folder)
        return error_set(why, "%s: is too long a name", out);
    unfinished_expect();
    const bool made = mkdtemp(folder) != NULL;
    unfinished_add(made ? folder : NULL);
    if (!made) return error_set(why, "%s: cannot create a folder beside it: %s", out, strerror(errno));
    snprintf(between, sizeof between, "%s/as-is.ggnn", folder);
    const bool good = convert_as_is(in, between, how, why) && reorder(between, out, how, why);
    unlink(between);
    rmdir(folder);
    return good;
}

bool convert(const char* in, const char* out, const convert_options* how, error* why)
{
    if (how->reorder) return convert_reordered(in, out, how, why);
    if (!convert_as_is(in, out, how, why)) return false;
    if (how->report) hint_at_order(out, how->report);
    return true;
}
