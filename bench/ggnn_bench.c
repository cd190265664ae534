/* ggnn_bench.c - measures what this machine gives, then every operation against it. */
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "bench/compact.h"
#include "bench/compare.h"
#include "bench/plugin_host.h"
#include "bench/with.h"
#include "common/bus_error.h"
#include "common/options.h"
#include "common/same_file.h"
#include "common/sibling.h"
#include "common/standard.h"
#include "datasets/topology.h"

enum { STATUS_DONE = 0, STATUS_FAILURE = 1, STATUS_USAGE = 2 };

static const char text[] = "usage: ggnn-bench [NAME ...] [options]\n"
                           "       ggnn-bench compare A.json B.json [A2.json B2.json ...] [--json FILE] [--csv FILE]\n"
                           "       ggnn-bench compact A.json [B.json ...] --csv FILE\n\n"
                           "Measures what the machine gives (its roofs), then ggnn's operations: time, work "
                           "and bytes a second, the share of\n"
                           "the roof that rules, and how much faster than a plain version of the same, whose "
                           "answer must be the same. All\n"
                           "names without one: some eight minutes on two cores; --quick: half a minute.\n\n";

static void help(const bench* b, const option* table)
{
    fputs(text, stdout);
    for (const bench_entry* e = b->backend->entries; e->name; e++)
        printf("  %-12s %s%s\n", e->name, e->what, e->asked ? " (only where named)" : "");
    printf("  %-12s %s\n", "compare", "how fast the second of two files of --json or --csv is beside the first, case by case");
    printf("  %-12s %s\n", "compact", "runs of files of --json as lines, without samples, in one file");
    printf("\nOther backends have others: a name that one does not know lists them.\n\n");
    options_help(table, stdout);
    printf(
        "\nA name that fails stops no other. Exit codes: 0 done, 1 failure, a wrong answer or, with --check, something lost; 2 wrong usage.\n"
        "--version names the version.\n");
}

/* Nothing that is read is written over, and nothing that is written. */
static bool check_outputs(const bench_options* o, const file_read* input, int inputs, error* why)
{
    const char *name[] = {"--json", "--markdown", "--csv"}, *path[] = {o->json, o->markdown, o->csv};
    for (int i = 0; i < 3; i++) {
        if (!same_file_as_none(name[i], path[i], input, inputs, why)) return false;
        for (int k = 0; k < i; k++)
            if (same_file(path[i], path[k])) return error_set(why, "%s %s: %s writes there", name[i], path[i], name[k]);
    }
    return true;
}

static bool check_names(const bench_options* o, error* why)
{
    const file_read input[] = {{o->data, "the data"}, {o->inputs, "what --inputs reads"}, {o->topology, "the topology"},
                               {o->with, "what --with reads"}, {o->check, "what --check reads"}, {o->plugin, "the plug-in"}};
    return check_outputs(o, input, 6, why);
}

static bool is_word(const char* word, const char* const* name, int names) { return names > 0 && strcmp(name[0], word) == 0; }

/* compare and compact measure nothing: they refuse the options of measuring. name: the word, then files. */
static bool parse_files(bench* b, int argc, char** argv, const char** name, int* names)
{
    const option table[] = {{"json", OPTION_TEXT, &b->o.json, 0, 0, "FILE", NULL, NULL},
                            {"csv", OPTION_TEXT, &b->o.csv, 0, 0, "FILE", NULL, NULL},
                            {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    const bool pairs = is_word("compare", name, *names);
    const option* own = pairs ? table : table + 1;
    file_read input[COMPARE_FILES_MAX];
    error why = {""};
    b->o.json = b->o.csv = NULL;
    if (options_parse(own, argc, argv, name, names, 0, COMPARE_FILES_MAX, &why) != OPTIONS_GOOD)
        return error_set(&b->why, "%s takes files%s and --csv: %s", name[0], pairs ? ", --json" : "", why.text);
    const int files = *names - 1;
    const char* plural = files == 1 ? "" : "s";
    if (pairs && (files < 2 || files % 2))
        return error_set(&b->why, "compare: %d file%s: pairs are wanted, A.json B.json", files, plural);
    if (!pairs && (files < 1 || !b->o.csv)) return error_set(&b->why, "compact: wants files, and --csv FILE to write");
    const char* what = pairs ? "a file that is compared" : "a file that is read";
    for (int i = 0; i < files; i++) input[i] = (file_read){name[1 + i], what};
    return check_outputs(&b->o, input, files, &b->why);
}

static bool is_of_files(const char* const* name, int names)
{
    return is_word("compare", name, names) || is_word("compact", name, names);
}

static options_result parse(bench* b, int argc, char** argv, const char** name, int* names)
{
    bench_options* o = &b->o;
    int type = -1;
    o->reps = 5;
    o->min_time = .3;
    o->limit = 60;
    o->degree = 15;
    o->memory = -1;
    bool timed = false, limited = false;
    const option table[] = {
        {"data", OPTION_TEXT, &o->data, 0, 0, "FILE",
         "graph with features and a split; else R-MAT, 1 M nodes, 32 M edges, "
         "128 features, made on first use beside the program",
         NULL},
        {"json", OPTION_TEXT, &o->json, 0, 0, "FILE", "write all samples, and what they hold for: whole again after each name", NULL},
        {"csv", OPTION_TEXT, &o->csv, 0, 0, "FILE", "write the same as lines, without samples: whole again after each name",
         NULL},
        {"markdown", OPTION_TEXT, &o->markdown, 0, 0, "FILE", "write the tables of counted and modelled figures", NULL},
        {"inputs", OPTION_TEXT, &o->inputs, 0, 0, "FILE", "of scale: graphs, machines and links like bench/scale_inputs.csv", NULL},
        {"check", OPTION_TEXT, &o->check, 0, 0, "PATH",
         "compare shares of the roofs with this earlier file of --json or --csv, or the "
         "folder's one of a machine like this; what lost 10 % is measured again and named",
         NULL},
        {"plugin", OPTION_TEXT, &o->plugin, 0, 0, "FILE.so",
         "kernels of your own (bench/plugin.h): checked, then timed in turns with ggnn's. Names are spmm, sddmm, gather, sample, gat", NULL},
        {"limit", OPTION_REAL, &o->limit, .001, 1e6, "X", "seconds that a call of the plug-in may take", &limited},
        {"quick", OPTION_FLAG, &o->quick, 0, 0, NULL, "small graphs, short samples", NULL},
        {"backend", OPTION_CHOICE, &o->backend, 0, 0, SIBLING_BACKENDS, "where it runs", NULL},
        {"threads", OPTION_INT, &o->threads, 0, 1024, "N", "threads of the CPU; 0: all", NULL},
        {"rows", OPTION_INT, &o->rows, 1, 2147483647, "N",
         "your own sizes: a random block of N targets in place of the "
         "graph, or N ids, rows, seeds",
         &o->own},
        {"degree", OPTION_INT, &o->degree, 1, 1e6, "N", "its edges a target, or the fanout", NULL},
        {"sources", OPTION_INT, &o->sources, 0, 2147483647, "N", "its sources; 0: as many as rows", NULL},
        {"features", OPTION_INT, &o->features, 0, 1 << 20, "N", "columns; 0: the usual ones", NULL},
        {"heads", OPTION_INT, &o->heads, 0, 1024, "N", "attention heads; 0: the usual ones", NULL},
        {"type", OPTION_CHOICE, &type, 0, 0, "f32|f16", "of stored rows", NULL},
        {"devices", OPTION_INT, &o->devices, 0, 256, "P", "of store, 16 at most, and of scale's bounds; 0: 8, or the topology file's", NULL},
        {"topology", OPTION_TEXT, &o->topology, 0, 0, "TOPOLOGY",
         "of store: " TOPOLOGY_NAMES ", or a file (ggnn-data place --help); else dgx-1v", NULL},
        {"device-memory", OPTION_BYTES, &o->memory, 0, 9e18, "N",
         "of store: bytes of a device for graph and features; else what the placement of all takes", NULL},
        {"sweep", OPTION_FLAG, &o->sweep, 0, 0, NULL, "of store: 1, 2, 4 and 8 devices of one memory, each beside the others", NULL},
        {"fanout", OPTION_LIST, &o->fanout, 1, 1 << 20, "N,N,...",
         "of cache, store, split, scale --data: neighbours a hop, from the seeds outward, 8 hops at most, of scale 3; else 15,10,5, and of "
         "cache others too", NULL},
        {"batch", OPTION_INT, &o->batch, 1, 1 << 24, "N",
         "of cache, store, split, scale --data: seeds of a device, of split those of all; else 1024, of split 4096. "
         "scale counts batches of N, too", NULL},
        {"with", OPTION_TEXT, &o->with, 0, 0, "FILE",
         "of split: a partition of your own (ggnn-data partition, or a .npy array of owners), a row more; of cache: a ranking "
         "(ggnn-data rank), a row more; of store: it ranks the nodes", NULL},
        {"cold", OPTION_FLAG, &o->cold, 0, 0, NULL, "empty caches before each run", NULL},
        {"warm", OPTION_FLAG, &o->warm, 0, 0, NULL, "never do; else mini-batches are cold, whole graphs warm",
         NULL},
        {"reps", OPTION_INT, &o->reps, 1, BENCH_SAMPLES_MAX, "N", "samples a case, at least", NULL},
        {"min-time", OPTION_REAL, &o->min_time, 0, 1e6, "X", "seconds a case is sampled for, at least",
         &timed},
        {"turns", OPTION_FLAG, &o->turns, 0, 0, NULL,
         "measure each case in turns with its roofs, too: each roof, ours, each roof again. A roof runs as long as a sample "
         "of ours, up to 50 ms; a turn in which a roof moved by 10 % does not count", NULL},
        {"alone", OPTION_FLAG, &o->alone, 0, 0, NULL,
         "ours, with neither roofs nor plain versions: for files in turns (bench/order.py)", NULL},
        {"once", OPTION_FLAG, &o->once, 0, 0, NULL, "run each case once and nothing else: for perf and ncu",
         NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            help(b, table); /* before parsing, while the table holds the defaults */
            return OPTIONS_HELP;
        }
    options_result result = options_parse(table, argc, argv, name, names, 0, BENCH_ENTRIES_MAX, &b->why);
    if (result == OPTIONS_GOOD && is_of_files(name, *names))
        return parse_files(b, argc, argv, name, names) ? result : OPTIONS_WRONG;
    if (o->quick && !timed) o->min_time = .01;
    o->type = type;
    if (o->cold && o->warm) error_set(&b->why, "--cold and --warm contradict each other");
    if (o->check && (o->once || o->alone || o->own))
        error_set(&b->why, "--check measures as the earlier run did: no --once, no --alone, no --rows");
    if (o->turns && (o->once || o->alone)) error_set(&b->why, "--turns measures roofs beside each case: no --once, no --alone");
    if (o->turns && o->plugin)
        error_set(&b->why, "--turns is of ggnn and its roofs; a plug-in is in turns with ggnn: no --plugin");
    if (limited && !o->plugin) error_set(&b->why, "--limit is of --plugin, which is not given");
    if (o->check && o->plugin) error_set(&b->why, "--check knows no plug-ins: no --plugin");
    check_names(o, &b->why);
    return b->why.text[0] ? OPTIONS_WRONG : result;
}

/* The entries that the names stand for, in the order of the table; all usual ones without a name. */
static int choose(bench* b, const char* const* name, int names, const bench_entry** chosen)
{
    char all[1024] = "", nearest[64];
    int count = 0;
    size_t used = 0;
    for (const bench_entry* e = b->backend->entries; e->name; e++)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", used ? "|" : "", e->name);
    for (int i = 0; i < names; i++)
        if (options_choice(all, name[i]) < 0) {
            bool near = options_nearest(all, name[i], nearest);
            error_set(&b->why, "%s: not one of %s%s%s%s", name[i], all, near ? "; is " : "",
                      near ? nearest : "", near ? " meant?" : "");
            return 0;
        }
    for (const bench_entry* e = b->backend->entries; e->name; e++) {
        bool wanted = names == 0 && (e->sized || !b->o.own) && !e->asked;
        for (int i = 0; i < names; i++) wanted = wanted || strcmp(name[i], e->name) == 0;
        if (wanted && b->o.own && !e->sized) {
            error_set(&b->why, "--rows: %s has no sizes of your own", e->name);
            return 0;
        }
        if (wanted && (!bench_takes_batches(&b->o, e, &b->why) || !with_takes(&b->o, e, &b->why))) return 0;
        if (wanted && b->o.devices > GGNN_DEVICES_MAX && strcmp(e->name, "store") == 0) {
            error_set(&b->why, "--devices %lld: store plans for at most %d", (long long)b->o.devices, GGNN_DEVICES_MAX);
            return 0;
        }
        if (wanted && count < BENCH_ENTRIES_MAX) chosen[count++] = e;
    }
    return count;
}

static void print_machine(bench* b)
{
    bench_machine m;
    char memory[16], cache[16];
    bench_machine_of(&m);
    printf("ggnn-bench: %s, %d of %d cores, last cache %sB, memory %sB; %s%s%s; %s\n",
           m.cpu[0] ? m.cpu : "processor", (int)b->threads, (int)m.cores,
           progress_amount(cache, (double)m.cache[3]), progress_amount(memory, (double)m.memory), m.compiler,
           b->backend->describe(b)[0] ? "; " : "", b->backend->describe(b),
           bench_git[0] ? bench_git : "no version known");
}

static bool open_backend(bench* b, char** argv)
{
    static const char* const name[] = {"cpu", "cuda", "cuda-emulated"};
    if (b->o.backend == SIBLING_CPU) return true;
    if (!bench_open_cuda) {
        sibling_run(b->o.backend, argv, &b->why);
        return false;
    }
    b->backend = bench_open_cuda(&b->why);
    if (!b->backend || strcmp(b->backend->name, name[b->o.backend]) == 0) return b->backend != NULL;
    return error_set(&b->why, "--backend %s: this program has %s", name[b->o.backend], b->backend->name);
}

static void count_threads(bench* b)
{
    b->threads = 1;
#ifdef _OPENMP
    b->threads = b->o.threads ? (int32_t)b->o.threads : omp_get_max_threads();
    omp_set_num_threads(b->threads);
#endif
}

static int run(bench* b, const bench_entry* const* chosen, int count, int argc, char** argv)
{
    if (!bench_open(b) || !with_fits(b, chosen, count)) return STATUS_FAILURE;
    if (!bench_can_write(b->o.json, &b->why) || !bench_can_write(b->o.csv, &b->why) ||
        !bench_can_write(b->o.markdown, &b->why))
        return STATUS_FAILURE;
    print_machine(b);
    bool good = bench_run_all(b, chosen, count, argc, argv);
    if (b->o.markdown && !b->why.text[0]) good = bench_write_markdown(b) && good;
    if (b->o.check && !b->why.text[0]) good = bench_check(b, chosen, count) == 0 && good;
    return good ? STATUS_DONE : STATUS_FAILURE;
}

static int read_files(bench* b, const char* word, const char* const* path, int paths)
{
    comparison c;
    if (!bench_open(b)) return STATUS_FAILURE;
    if (strcmp(word, "compact") == 0) return compact_write(b, path, paths) ? STATUS_DONE : STATUS_FAILURE;
    if (!compare_open(b, &c, path, paths)) return STATUS_FAILURE;
    compare_print(b, &c);
    return compare_write(b, &c) ? STATUS_DONE : STATUS_FAILURE;
}

int main(int argc, char** argv)
{
    static bench b;
    const char* name[BENCH_ENTRIES_MAX];
    const bench_entry* chosen[BENCH_ENTRIES_MAX];
    int names, count = 0, status = STATUS_DONE;
    standard_open();
    bus_error_catch();
    b.backend = &bench_cpu;
    options_result result = OPTIONS_HELP;
    if (!options_version("ggnn-bench", argc, argv)) result = parse(&b, argc, argv, name, &names);
    const bool here = b.o.backend == SIBLING_CPU || bench_open_cuda; /* else another program takes over */
    if (result == OPTIONS_GOOD && b.o.plugin && here && !plugin_watch(b.o.limit, &status)) return status;
    if (result == OPTIONS_WRONG) status = STATUS_USAGE;
    else if (result == OPTIONS_GOOD && is_of_files(name, names)) status = read_files(&b, name[0], name + 1, names - 1);
    else if (result == OPTIONS_GOOD && (!open_backend(&b, argv) || (b.o.plugin && !plugin_open(&b)))) status = STATUS_FAILURE;
    else if (result == OPTIONS_GOOD && !(count = choose(&b, name, names, chosen))) status = STATUS_USAGE;
    if (count) {
        count_threads(&b);
        status = run(&b, chosen, count, argc, argv);
    }
    bench_close(&b);
    standard_flush(&b.why);
    if (b.why.text[0]) {
        fprintf(stderr, "ggnn-bench: %s\n", b.why.text);
        if (status == STATUS_USAGE)
            fprintf(stderr, "usage: ggnn-bench [NAME ...] [options]     (--help says more)\n");
        if (status == STATUS_DONE) status = STATUS_FAILURE;
    }
    return status;
}
