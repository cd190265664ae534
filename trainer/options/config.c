#include "trainer/options/config.h"

#include <stddef.h>
#include <string.h>

#include "common/printable.h"
#include "common/same_file.h"
#include "common/sibling.h"
#include "datasets/dataset.h"
#include "datasets/hotness.h"
#include "trainer/ranks/comm.h"
#include "trainer/options/config_rules.h"
#include "trainer/device/device.h"

/* What else there is to know of an option. */
enum {
    SAME = 1,      /* shapes the training: kept by a checkpoint, where it is not given the checkpoint's, and must not differ */
    DEFAULT = 2,   /* kept, and the checkpoint's where it is not given; may differ unless the schedule is the cosine */
    ALIKE = 4,     /* ranks must have it alike, as they must all that is kept */
    KEPT = SAME | DEFAULT,
    OWNERS = 8,    /* in --parallel split it says who owns which node, on which no batch depends: not kept then */
    TIERS = 16,    /* says where graph and features lie: given, it makes a plan of tiers */
    NO_RESULT = 32, /* no loss, score or weight depends on it */
    TRAINS = 64,    /* of training alone: predict does not take it. What is kept it takes as --resume does */
    PREDICTS = 128, /* of predict alone */
    OPEN = 256      /* kept, and predict's own where it is given */
};

typedef struct {
    const char* group; /* a heading of the help: starts a new group */
    int marks;
    size_t at;         /* in config */
    const char* usual; /* the default, as it would be given; 0: nothing, 0, the first choice */
    option o;          /* without the pointers */
} entry;

#define AT(field) offsetof(config, field)
#define HUGE_INT 9e18
static const entry table[] = {
    {"Data", 0, AT(data), 0, {"data", OPTION_TEXT, 0, 0, 0, "FILE", "The .ggnn file; made by ggnn-data. {r} stands "
        "for a device's number: each has a part of the graph then (ggnn-data partition --extract), which is --partition pagraph.", 0}},
    {0, NO_RESULT, AT(verify), 0, {"verify", OPTION_FLAG, 0, 0, 0, 0,
        "Before training, compare the parts of --data that it reads with the file's checksums: each process reads them once. "
        "Not given: damaged rows train on unnoticed; only the file's table is checked.", 0}},
    {0, SAME | OPEN, AT(split), 0, {"split", OPTION_INT, 0, 0, 1e9, 0, "Which of the file's splits, from 0.", 0}},
    {0, SAME, AT(loss), 0, {"loss", OPTION_CHOICE, 0, 0, 0, "auto|ce|bce",
        "Cross-entropy, or binary with one logit; auto: bce for two classes and for real targets.", 0}},

    {"Model", SAME, AT(model), "sage", {"model", OPTION_CHOICE, 0, 0, 0, NET_MODELS, "mlp looks at no neighbour.", 0}},
    {0, SAME, AT(aggregator), 0, {"aggregator", OPTION_CHOICE, 0, 0, 0, NET_AGGREGATORS,
        "GraphSAGE's; importance is PinSAGE's: a mean weighted by the visits of --sampler walk, which it turns on, with "
        "--eval sampled.", 0}},
    {0, SAME, AT(layers), "3", {"layers", OPTION_INT, 0, 1, NET_LAYERS_MAX, 0, "As many as --fanout has values.", 0}},
    {0, SAME, AT(edge_features), 0, {"edge-features", OPTION_FLAG, 0, 0, 0, 0,
        "Of --data's section edge_feat, read in every layer: GraphSAGE's mean is of [neighbour | features of the edge], GAT's score has a "
        "term of them (PyG's edge_dim).", 0}},
    {0, SAME, AT(hidden), "256", {"hidden", OPTION_INT, 0, 1, 1 << 16, 0, "Total width of a hidden layer.", 0}},
    {0, SAME, AT(heads), "4", {"heads", OPTION_INT, 0, 1, 1024, 0, "GAT: of a hidden layer; they divide --hidden.", 0}},
    {0, SAME, AT(out_heads), "1", {"out-heads", OPTION_INT, 0, 1, 1024, 0, "GAT: of the last layer, averaged.", 0}},
    {0, SAME, AT(residual), 0, {"residual", OPTION_FLAG, 0, 0, 0, 0, "Add a layer's input to its output.", 0}},
    {0, SAME, AT(norm), 0, {"norm", OPTION_CHOICE, 0, 0, 0, "none|layer", "Normalise hidden layers.", 0}},
    {0, SAME, AT(dropout), "0.5", {"dropout", OPTION_REAL, 0, 0, .999, 0, "On the output of hidden layers.", 0}},
    {0, SAME, AT(input_dropout), 0, {"input-dropout", OPTION_REAL, 0, 0, .999, 0, "On the features.", 0}},
    {0, SAME, AT(attention_dropout), 0, {"attention-dropout", OPTION_REAL, 0, 0, .999, 0, "GAT: on coefficients.", 0}},

    {"Mini-batches", SAME, AT(fanout_text), 0, {"fanout", OPTION_TEXT, 0, 0, 0, "N,N,...",
        "Neighbours sampled a node, one value a layer, from the seeds outward; -1: all. -1 alone or full: the whole "
        "graph is one batch, nothing is sampled. Not given: 15,10,5,5,... for --layers; sampler walk: 5, the most visited.", 0}},
    {0, SAME, AT(preprocess), 0, {"preprocess", OPTION_FLAG, 0, 0, 0, 0,
        "Start at the second layer, from what ggnn-data preprocess put into --data: a value of --fanout less than --layers.", 0}},
    {0, SAME, AT(sampler), 0, {"sampler", OPTION_CHOICE, 0, 0, 0, GGNN_METHOD_NAMES,
        "How they are chosen; weighted alone looks at the edges' weights (where there are none, all are equal).", 0}},
    {0, SAME, AT(batch), "1024", {"batch", OPTION_INT, 0, 1, 1 << 24, 0, "Seeds a mini-batch.", 0}},
    {0, SAME, AT(walks), "4", {"walks", OPTION_INT, 0, 1, 1024, 0, "Sampler walk: walks from a node.", 0}},
    {0, SAME, AT(walk_length), "3", {"walk-length", OPTION_INT, 0, 1, 1024, 0, "Sampler walk: steps of a walk.", 0}},
    {0, SAME, AT(walk_restart), "0.5", {"walk-restart", OPTION_REAL, 0, 0, 1, 0, "Sampler walk: chance to go home.", 0}},

    {"Optimisation", DEFAULT, AT(epochs), "10", {"epochs", OPTION_INT, 0, 0, 1 << 24, 0, "Passes over training nodes.", 0}},
    {0, SAME, AT(lr), "3e-3", {"lr", OPTION_REAL, 0, 0, 1e6, 0, "Learning rate.", 0}},
    {0, SAME, AT(schedule), 0, {"lr-schedule", OPTION_CHOICE, 0, 0, 0, "constant|cosine|step",
        "cosine: falls to 0 over --epochs; step: times --lr-decay every --lr-step epochs.", 0}},
    {0, SAME, AT(lr_step), "30", {"lr-step", OPTION_INT, 0, 1, 1 << 24, 0, "Epochs between reductions.", 0}},
    {0, SAME, AT(lr_decay), "0.1", {"lr-decay", OPTION_REAL, 0, 0, 1, 0, "Factor of a reduction.", 0}},
    {0, SAME, AT(warmup), 0, {"warmup", OPTION_INT, 0, 0, 1 << 30, 0, "Steps over which the rate rises from 0.", 0}},
    {0, SAME, AT(optimizer), 0, {"optimizer", OPTION_CHOICE, 0, 0, 0, NET_OPTIMIZERS, "Adam or AdamW.", 0}},
    {0, SAME, AT(weight_decay), 0, {"weight-decay", OPTION_REAL, 0, 0, 1e6, 0,
        "adam: added to the gradient (L2); adamw: decoupled.", 0}},
    {0, SAME, AT(patience), 0, {"patience", OPTION_INT, 0, 0, 1 << 24, 0,
        "Stop after that many evaluations without a better validation loss; 0: never.", 0}},

    {"Evaluation", SAME | OPEN, AT(eval), 0, {"eval", OPTION_CHOICE, 0, 0, 0, "full|sampled",
        "full: all neighbours, a layer at a time over all nodes; of graphs of fewer than 2^31 edges.", 0}},
    {0, SAME, AT(eval_every), "1", {"eval-every", OPTION_INT, 0, 0, 1 << 24, 0,
        "Epochs between looks at the validation loss; 0: no evaluation at all.", 0}},
    {0, ALIKE | NO_RESULT, AT(eval_memory), "4G", {"eval-memory", OPTION_BYTES, 0, 0, HUGE_INT, 0,
        "If the rows between layers, 8 N hidden bytes (more only where GAT's last layer or pool's features are wider "
        "than hidden), are more, full evaluation keeps them in an unlinked file beside --save, --out or --data.", 0}},

    {"Machine", SAME, AT(seed), "1", {"seed", OPTION_INT, 0, 0, HUGE_INT, 0, "Of everything random.", 0}},
    {0, NO_RESULT, AT(threads), 0, {"threads", OPTION_INT, 0, 0, 4096, 0,
        "Of the CPU, over all --devices; 0: all.", 0}},
    {0, SAME, AT(gemm), 0, {"gemm", OPTION_CHOICE, 0, 0, 0, "builtin|blas", "Whose matrix products.", 0}},
    {0, SAME, AT(dense_features), 0, {"dense-features", OPTION_FLAG, 0, 0, 0, 0,
        "Multiply features with their zeros too. Else, on the CPU, a whole graph's are multiplied without where over "
        "nine in ten are 0 and the model only multiplies them: GCN, GAT, MLP.", 0}},
    {0, ALIKE, AT(backend), 0, {"backend", OPTION_CHOICE, 0, 0, 0, SIBLING_BACKENDS, "Where it runs.", 0}},
    {0, ALIKE, AT(precision), 0, {"precision", OPTION_CHOICE, 0, 0, 0, "fp32|tf32",
        "CUDA: what matrix products round their factors to.", 0}},
    {0, 0, AT(pipeline), 0, {"pipeline", OPTION_CHOICE, 0, 0, 0, "auto|serial|overlap|factored",
        "serial: batches are prepared, then trained on; overlap: the next ones while one trains. auto: serial on the "
        "CPU, where all threads do each in turn, and with --parallel split, overlap with CUDA. Neither changes a result. factored: some of "
        "--devices sample for the others (below).", 0}},
    {0, ALIKE | NO_RESULT, AT(unique), 0, {"unique", OPTION_CHOICE, 0, 0, 0, DEVICE_UNIQUES,
        "How a batch finds the ids that it has: a map of all nodes (CUDA: 8 bytes each, CPU: 4), or a hash table of the batch's; "
        "cooperative (CUDA): in that a warp looks for an id. auto: CUDA: the map, where the device has room for it beside what "
        "is planned; CPU: where the cache has.", 0}},

    {"Several devices", 0, AT(devices), "1", {"devices", OPTION_INT, 0, 1, CONFIG_DEVICES_MAX, 0,
        "Train together: each computes a slice of every --batch, gradients are added in their order. A thread each. With "
        "--pipeline factored slices are one fewer, and go to whichever device is free; one device alternates.", 0}},
    {0, NO_RESULT | TRAINS, AT(samplers), 0, {"samplers", OPTION_INT, 0, 0, CONFIG_DEVICES_MAX, 0,
        "--pipeline factored: so many devices sample until an epoch is sampled, then train as well; 0: by the measured "
        "times of both, from the second epoch on.", 0}},
    {0, 0, AT(device_list), 0, {"device-list", OPTION_TEXT, 0, 0, 0, "N,N,...",
        "CUDA: on which of the machine's devices, as CUDA numbers them; one may be named again. Not given: each in turn.",
        0}},
    {0, ALIKE | TRAINS, AT(parallel), 0, {"parallel", OPTION_CHOICE, 0, 0, 0, "data|split",
        "data: the seeds of a batch are cut into slices, a device each. split: each layer of one batch is, by owner of its nodes, "
        "so that nothing is computed or loaded twice (GSplit).", 0}},
    {0, ALIKE | TRAINS, AT(split_sampling), "cooperative", {"split-sampling", OPTION_CHOICE, 0, 0, 0, "single|cooperative",
        "split: devices take turns to sample a whole batch, which is then split; or each samples the nodes that it owns. Results "
        "differ by rounding.", 0}},
    {0, ALIKE | TRAINS, AT(split_partial), 0, {"split-partial", OPTION_FLAG, 0, 0, 0, 0,
        "split, GraphSAGE's mean: owners send sums over their own neighbours of a node rather than each neighbour's row. Sums in "
        "another order: results differ by rounding.", 0}},
    {0, ALIKE | NO_RESULT, AT(store), 0, {"store", OPTION_CHOICE, 0, 0, 0, "auto|parts|replica|shards",
        "Graph and features: once over the devices of a machine, each having a part, or all of it for each. auto: "
        "replica on the CPU, where it is the mapped file, and parts on CUDA. shards: features once over the devices of "
        "all machines, the graph for each.", 0}},
    {0, ALIKE | NO_RESULT, AT(gather), 0, {"gather", OPTION_CHOICE, 0, 0, 0, "pointer|exchange",
        "How rows of other parts are read: where they lie, or sent by their devices on demand, which needs no links. Then "
        "each device has the whole graph, and a part of the features alone. shards have no other way. split: rows of layers, too; "
        "those that cannot be read are sent.", 0}},
    {0, ALIKE | NO_RESULT, AT(owners), 0, {"owners", OPTION_CHOICE, 0, 0, 0, "range|modulo|hash|partition",
        "Which nodes a part has: a range of ids, every P-th, by a hash of the id; partition: rows that are sent lie as --partition or "
        "--partition-file says, with the device that computes or trains on them.", 0}},
    {0, SAME | OWNERS, AT(partition), 0, {"partition", OPTION_CHOICE, 0, 0, 0, "none|" DIVIDE_METHODS,
        "split: which device owns which node (ggnn-data partition --help); not given: mincut. data: pagraph alone: each device has "
        "training nodes of its own, whose neighbourhoods overlap (PaGraph, Eq. 1), and its --cache, and all that it stores with --store "
        "replica, is of what these reach.", 0}},
    {0, ALIKE | TRAINS, AT(balance), 0, {"balance", OPTION_CHOICE, 0, 0, 0, DIVIDE_BALANCES,
        "split, --partition metis: devices own equally many nodes, or nodes of which --presample-epochs before training compute "
        "equally many edges.", 0}},
    {0, TRAINS, AT(partition_file), 0, {"partition-file", OPTION_TEXT, 0, 0, 0, "FILE",
        "From ggnn-data partition, as many parts as there are devices: of split, by any --method; else that of --partition pagraph.", 0}},
    {0, SAME | OWNERS, AT(closure_limit), "100000", {"closure-limit", OPTION_INT, 0, 0, 2147483647, 0,
        "--partition pagraph: nodes around a training node that are looked at to choose its device.", 0}},
    {0, SAME, AT(shuffle), 0, {"shuffle", OPTION_CHOICE, 0, 0, 0, "global|local",
        "local: a device's seeds are its own training nodes, so that batches depend on --partition and on how many devices "
        "there are; global: batches are those without. Not given: local with --partition pagraph.", 0}},
    {0, ALIKE | NO_RESULT, AT(comm), 0, {"comm", OPTION_CHOICE, 0, 0, 0, "auto|own|nccl",
        "CUDA: what carries gradients and rows from device to device. own: threads copy them, processes pass them through "
        "memory of the host; nccl: NCCL, which wants a device for each. auto: nccl between processes, where it can, else "
        "own.", 0}},

    {"Tiers: where graph and features lie", ALIKE | TIERS | NO_RESULT, AT(store_graph), "1", {"store-graph", OPTION_REAL, 0, 0, 1, 0,
        "The share of nodes whose neighbour lists lie in the devices' memory, hottest first; the others' are read from the "
        "host, by CUDA in pinned memory. Not given: all, with --cache dual none.", 0}},
    {0, ALIKE | TIERS | NO_RESULT, AT(store_features), "1", {"store-features", OPTION_REAL, 0, 0, 1, 0,
        "The same of rows of features. Not given: all, with a --cache none.", 0}},
    {0, ALIKE | TIERS | NO_RESULT, AT(store_edges), 0, {"store-edges", OPTION_REAL, 0, 0, 1, 0,
        "The share of --edge-features whose rows lie in the devices' memory: the first ones behind those of --cache-edges, in the order of "
        "the lists, which after ggnn-data reorder is hottest first. They come before lists and rows in --device-memory.", 0}},
    {0, ALIKE | TIERS | NO_RESULT, AT(cache_edges), 0, {"cache-edges", OPTION_REAL, 0, 0, 1, 0,
        "The share of --edge-features whose rows each device keeps for itself, the first ones.", 0}},
    {0, ALIKE | NO_RESULT, AT(prefer), 0, {"prefer", OPTION_CHOICE, 0, 0, 0, "graph|features",
        "What is stored first where --device-memory has no room for both.", 0}},
    {0, ALIKE | TIERS | NO_RESULT, AT(cache), 0, {"cache", OPTION_CHOICE, 0, 0, 0, "none|" HOTNESS_POLICIES,
        "Rows of features that each device keeps for itself, by what makes a node hot (ggnn-data rank --help); dual: lists "
        "too, by what saves most time a byte. Shares of --store-... are ordered alike, without a cache by degree.", 0}},
    {0, ALIKE | NO_RESULT, AT(cache_ratio), 0, {"cache-ratio", OPTION_REAL, 0, 0, 1, 0,
        "The cache's share of all rows; of dual: of all bytes of rows and lists.", 0}},
    {0, ALIKE | NO_RESULT, AT(cache_bytes_text), 0, {"cache-bytes", OPTION_TEXT, 0, 0, 0, "BYTES|auto",
        "The cache in bytes; auto: what --device-memory, or the device, has left after the first mini-batch, less "
        "--reserve-bytes.", 0}},
    {0, ALIKE | NO_RESULT, AT(reserve_bytes), "1G", {"reserve-bytes", OPTION_BYTES, 0, 0, HUGE_INT, 0,
        "Memory of a device that stays free.", 0}},
    {0, ALIKE | TIERS | NO_RESULT, AT(device_memory), 0, {"device-memory", OPTION_BYTES, 0, 0, HUGE_INT, 0,
        "Bytes of each device that may be used in all; what is stored is cut to it. 0: as many as there are.", 0}},
    {0, ALIKE | NO_RESULT, AT(host_share), ".2", {"host-share", OPTION_REAL, 0, 0, 1, 0,
        "CUDA: the share of a device's processors that read the host's rows for a batch, in whole lines of 128 bytes: a few fill "
        "the link, and the others go on with the step. 0: all of them, and rows as they come.", 0}},
    {0, ALIKE | NO_RESULT, AT(slopes_text), "0,0", {"slopes", OPTION_TEXT, 0, 0, 0, "A,F|measure",
        "dual: nanoseconds saved if all lists, and all rows, were cached; 0,0: by frequency a byte; measure: by the clock of "
        "the first device, before training, which prints them.", 0}},
    {0, ALIKE, AT(presample_epochs), "1", {"presample-epochs", OPTION_INT, 0, 1, 10000, 0,
        "presc, dual: epochs sampled before training, to count what they read; optimal: training's own first.", 0}},
    {0, TIERS | NO_RESULT, AT(ranking), 0, {"ranking", OPTION_TEXT, 0, 0, 0, "FILE",
        "The order of rows and lists, from ggnn-data rank; else it is made here.", 0}},
    {0, TIERS | NO_RESULT, AT(topology), 0, {"topology", OPTION_TEXT, 0, 0, 0, "FILE|NAME",
        "Which device reads which others' memory, for --devices up to 16: as of ggnn-data place. Then a device stores "
        "the parts that its links call for. Without: all links of a CPU, and of GPUs those that the driver says.", 0}},
    {0, ALIKE | NO_RESULT, AT(placement), 0, {"placement", OPTION_CHOICE, 0, 0, 0, "best|pruned|exact|clique",
        "How parts are placed on a --topology, or the driver's links (ggnn-data place --help).", 0}},

    {"Files and reports", NO_RESULT | TRAINS, AT(save), 0, {"save", OPTION_TEXT, 0, 0, 0, "FILE",
        "Checkpoint: written at the end, when interrupted, and every --save-every epochs.", 0}},
    {0, ALIKE | NO_RESULT | TRAINS, AT(save_every), "1", {"save-every", OPTION_INT, 0, 0, 1 << 24, 0, "Epochs between two; 0: none.", 0}},
    {0, ALIKE | NO_RESULT | TRAINS, AT(save_steps), 0, {"save-steps", OPTION_INT, 0, 0, 1 << 30, 0,
        "And every so many mini-batches; 0: not.", 0}},
    {0, TRAINS, AT(resume), 0, {"resume", OPTION_TEXT, 0, 0, 0, "FILE",
        "Go on from a checkpoint, bit for bit; name --data too, and --save to go on saving. What it fixes: below.", 0}},
    {0, NO_RESULT | TRAINS, AT(log), 0, {"log", OPTION_TEXT, 0, 0, 0, "FILE",
        "JSON lines (trainer/report.h has the schema); with --resume appended to, a torn last line cut off.", 0}},
    {0, NO_RESULT | TRAINS, AT(profile), 0, {"profile", OPTION_FLAG, 0, 0, 0, 0,
        "Print where time and, on the CPU, bytes went. CUDA: waits for every operation, so nothing overlaps.", 0}},
    {0, NO_RESULT | TRAINS, AT(trace_step), 0, {"trace-step", OPTION_INT, 0, 0, 1 << 30, "N",
        "Print the N-th step, counted from 1 over all epochs as the log's \"step\" is: blocks, rows of each layer, GAT's "
        "coefficients, loss, gradients, update. Tables of 40 rows and 8 columns at most; --log gets the same arrays in full "
        "precision. For a small graph and --hidden; CPU, one device.", 0}},
    {0, TRAINS, AT(explain), 0, {"explain", OPTION_FLAG, 0, 0, 0, 0,
        "Train an epoch, or --epochs, without evaluation; then print what lies where, what was read from where, how long each "
        "stage took, and which of the settings above would be fastest with --device-memory and --links.", 0}},
    {0, NO_RESULT | TRAINS, AT(links_text), "1500,50,12", {"links", OPTION_TEXT, 0, 0, 0, "OWN,PEER,HOST",
        "explain: GB/s at which a device reads its own memory, another device's (with --topology: its links'), the host's.", 0}},

    {"Predictions", PREDICTS, AT(resume), 0, {"load", OPTION_TEXT, 0, 0, 0, "FILE",
        "The checkpoint. Its weights of the best epoch are taken, those of the test score that training printed, and all options that shape "
        "a network.", 0}},
    {0, PREDICTS, AT(out), 0, {"out", OPTION_TEXT, 0, 0, 0, "FILE",
        "NAME.npy or NAME.csv; row i is of the i-th node asked for. .npy: (rows, width) of float, of classes (rows) of int32. .csv: a "
        "node's id in --data, its external id and its name where --data has them, then its numbers. Complete, or what was there before stays.", 0}},
    {0, PREDICTS, AT(nodes), 0, {"nodes", OPTION_TEXT, 0, 0, 0, "train|val|test|FILE",
        "Whose rows: a part of --split of --data; or a .npy of ids, in any order, as often as they are there. Not given: all nodes.", 0}},
    {0, ALIKE | PREDICTS, AT(layer), 0, {"layer", OPTION_INT, 0, 1, NET_LAYERS_MAX, 0,
        "The output of that layer, from 1, which is --hidden wide (after activation and norm). Not given: the last one's, the logits.", 0}},
    {0, ALIKE | PREDICTS, AT(write), 0, {"write", OPTION_CHOICE, 0, 0, 0, "logits|classes",
        "classes: the one of the largest logit, the first of several; of a single logit 1 where it is above 0, else 0.", 0}},
};
enum { ENTRIES = sizeof table / sizeof table[0] };

static option bound_to(const config* c, const entry* e)
{
    option o = e->o;
    o.value = (char*)(uintptr_t)c + e->at;
    return o;
}

static void set_defaults(config* c)
{
    error none = {""};
    memset(c, 0, sizeof *c);
    for (int i = 0; i < ENTRIES; i++) {
        const option o = bound_to(c, &table[i]);
        if (table[i].usual) options_set(&o, table[i].usual, &none);
    }
}

/* The table as options.h takes it, over the fields of c. */
static void bind(config* c, option bound[ENTRIES + 1])
{
    memset(bound, 0, (ENTRIES + 1) * sizeof *bound);
    for (int i = 0; i < ENTRIES; i++) {
        bound[i] = bound_to(c, &table[i]);
        bound[i].given = &c->given[i];
    }
}

/* "--data --threads ...": the options of training that have these marks alone, of those in `of`. */
static void print_marked(int of, int marks)
{
    for (int i = 0, column = 1; i < ENTRIES; i++) {
        if ((table[i].marks & of) != marks || table[i].marks & PREDICTS) continue;
        column += 3 + (int)strlen(table[i].o.name);
        printf("%s--%s", column > 100 ? "\n  " : " ", table[i].o.name);
        if (column > 100) column = 5 + (int)strlen(table[i].o.name);
    }
}

/* Is it an option that the help of this command lists? predict takes those of a checkpoint, but does not list them. */
static bool is_listed(const config* c, const entry* e)
{
    if (!c->predicts) return !(e->marks & PREDICTS);
    return !(e->marks & TRAINS) && (!(e->marks & KEPT) || e->marks & OPEN);
}

static void print_groups(config* c)
{
    option bound[ENTRIES + 1], group[ENTRIES + 1];
    bind(c, bound);
    for (int i = 0, end; i < ENTRIES; i = end) {
        int count = 0;
        memset(group, 0, sizeof group);
        for (end = i; end < ENTRIES && (end == i || !table[end].group); end++)
            if (is_listed(c, &table[end])) group[count++] = bound[end];
        if (!count) continue;
        printf("\n%s\n", table[i].group);
        options_help(group, stdout);
    }
}

static void print_predict_help(config* c)
{
    printf("Usage: ggnn-train predict --load FILE.ckpt --data FILE --out FILE.npy|FILE.csv [options]\n\n"
           "Writes what a trained network says of nodes: logits, classes, or a layer's output (embeddings). --data may be\n"
           "another graph than that of training, with as many features a node; it needs no labels and no splits.\n"
           "Options take a value after a blank or '='; defaults in brackets.\n");
    print_groups(c);
    printf("\nAll other options are the checkpoint's: one that is given and contradicts it is an error. --eval and --split\n"
           "are the checkpoint's where they are not given.\n"
           "\nMemory: the --eval-memory of full evaluation; 4 bytes a node asked for, and 24 where ids of --nodes do not rise\n"
           "(64-bit ids: 8, 32); 4,096 rows of each device. Rows go to the disk as they come; those of .csv lie in an\n"
           "unlinked file beside --out until all have. After --fanout full the whole graph is one batch, as in training.\n"
           "\nExit status: 0 done, 1 failure, 2 wrong usage, 130 interrupted (--out is as it was).\n");
}

static void print_help(config* c)
{
    printf("Usage: ggnn-train --data FILE [options]\n       ggnn-train COMMAND ...     (the last lines list the commands)\n\n"
           "Trains a graph neural network on a .ggnn file and prints its test score at the epoch of the least\n"
           "validation loss. Options take a value after a blank or '='; defaults in brackets.\n");
    print_groups(c);
    printf("\nA checkpoint fixes graph, features, labels, splits, the weights that --sampler weighted reads, what\n"
           "--preprocess reads, and all options but these, which may differ when it is resumed:\n ");
    print_marked(KEPT, 0);
    printf("\nMay differ unless the schedule is cosine's, and is the checkpoint's where it is not given:\n ");
    print_marked(KEPT, DEFAULT);
    printf("\nChanges no result, whatever its value:\n ");
    print_marked(NO_RESULT, NO_RESULT);
    printf("\n");
    printf("\nExit status: 0 done, 1 failure, 2 wrong usage, 130 interrupted (and saved, with --save).\n"
           "--version names the version.\n");
}

/* Is all there that cannot be done without, and nothing of the other command? */
static bool check_given(const config* c, error* why)
{
    const struct {
        const char *name, *value;
    } needed[] = {{"--data FILE", c->data}, {"--load FILE.ckpt", c->resume}, {"--out FILE.npy", c->out}};
    for (int i = 0; i < ENTRIES; i++) {
        if (!c->given[i] || !(table[i].marks & (c->predicts ? TRAINS : PREDICTS))) continue;
        return error_set(why, "--%s: %s", table[i].o.name, c->predicts ? "an option of training, which ggnn-train predict does not take"
                                                                      : "an option of ggnn-train predict alone");
    }
    for (int i = 0; i < (c->predicts ? 3 : 1); i++)
        if (!needed[i].value) return error_set(why, "%s: missing (%s--help lists the options)", needed[i].name, c->predicts ? "predict " : "");
    return true;
}

options_result config_parse(config* c, int argc, char** argv, error* why)
{
    option bound[ENTRIES + 1];
    int arguments;
    const bool predicts = argc > 1 && strcmp(argv[1], "predict") == 0;
    set_defaults(c);
    bind(c, bound);
    options_result result = options_parse(bound, argc - predicts, argv + predicts, NULL, &arguments, 0, 0, why);
    if (result == OPTIONS_HELP) set_defaults(c);
    c->predicts = predicts;
    if (result == OPTIONS_HELP) (predicts ? print_predict_help : print_help)(c);
    if (c->fanout_text && strcmp(c->fanout_text, "-1") == 0) c->fanout_text = "full";
    return result == OPTIONS_GOOD && !check_given(c, why) ? OPTIONS_WRONG : result;
}

/* ==== values as text ============================================================================================ */

static void value_text(const config* c, const entry* e, char* text, size_t size)
{
    const option o = bound_to(c, e);
    options_text(&o, text, size);
}

static bool is_set(const config* c, const entry* e)
{
    const void* value = (const char*)c + e->at;
    if (e->o.kind == OPTION_FLAG) return *(const bool*)value;
    return e->o.kind != OPTION_TEXT || *(const char* const*)value;
}

/* Does a checkpoint of this training have it? */
static bool is_kept(const config* c, const entry* e)
{
    return (e->marks & KEPT) && !(e->marks & OWNERS && c->parallel == PARALLEL_SPLIT);
}

void config_print_resume(const config* c, FILE* out)
{
    static const char* const name[] = {"--data ", " --resume ", " --save "};
    const char* const file[] = {c->data, c->save, c->save};
    for (int i = 0; i < 3; i++) {
        fputs(name[i], out);
        printable_word(out, file[i]);
    }
    for (int i = 0; i < ENTRIES; i++) {
        const entry* e = &table[i];
        char text[256];
        bool named = e->at == AT(data) || e->at == AT(save) || e->at == AT(resume);
        if (is_kept(c, e) || named || !c->given[i]) continue;
        fprintf(out, " --%s", e->o.name);
        if (e->o.kind == OPTION_FLAG) continue;
        fputc(' ', out);
        value_text(c, e, text, sizeof text);
        printable_word(out, e->o.kind == OPTION_TEXT ? *(const char* const*)((const char*)c + e->at) : text);
    }
}

bool config_has(const config* c, int traits) { return net_has((net_model)c->model, (net_aggregator)c->aggregator, traits); }

static bool looks_alone(const config* c) { return config_has(c, NET_ALONE); }

bool config_reads_weights(const config* c)
{
    return ggnn_method_has((ggnn_method)c->sampler, GGNN_METHOD_WEIGHS) && !c->full_batch && !looks_alone(c);
}

bool config_walks(const config* c) { return ggnn_method_has((ggnn_method)c->sampler, GGNN_METHOD_WALKS); }

bool config_counts_visits(const config* c) { return config_has(c, NET_VISITS); }

static size_t write_option(const config* c, const entry* e, char* text)
{
    char value[256];
    value_text(c, e, value, sizeof value);
    if (e->o.kind == OPTION_FLAG) return (size_t)sprintf(text, "--%s\n", e->o.name);
    return (size_t)sprintf(text, "--%s=%s\n", e->o.name, value);
}

size_t config_text(const config* c, char text[CONFIG_TEXT_MAX])
{
    size_t used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        if (is_kept(c, &table[i]) && is_set(c, &table[i])) used += write_option(c, &table[i], text + used);
    }
    return used;
}

size_t config_common_text(const config* c, char text[CONFIG_TEXT_MAX])
{
    size_t used = 0;
    for (int i = 0; i < ENTRIES; i++) {
        if (!(table[i].marks & ALIKE) && !is_kept(c, &table[i])) continue;
        const bool off = table[i].o.kind == OPTION_FLAG && !is_set(c, &table[i]);
        used += off ? (size_t)sprintf(text + used, "no --%s\n", table[i].o.name) : write_option(c, &table[i], text + used);
    }
    used += (size_t)sprintf(text + used, "%s\n", c->save ? "--save" : "no --save");
    return used;
}

void config_json(const config* c, json* j, const char* key)
{
    json_begin_object(j, key);
    for (int i = 0; i < ENTRIES; i++) {
        const void* value = (const char*)c + table[i].at;
        const char* name = table[i].o.name;
        char text[256];
        if (!(table[i].marks & KEPT)) continue;
        value_text(c, &table[i], text, sizeof text);
        switch (table[i].o.kind) {
        case OPTION_FLAG:
            json_bool(j, name, *(const bool*)value);
            break;
        case OPTION_REAL:
            json_real(j, name, *(const double*)value);
            break;
        case OPTION_CHOICE:
        case OPTION_TEXT:
            json_string(j, name, text);
            break;
        default:
            json_int(j, name, *(const int64_t*)value);
        }
    }
    json_end_object(j);
}

/* ==== a checkpoint's options ==================================================================================== */

/* The checkpoint's options as a config of their own; its text is copied to c->inherited, which keeps it. */
static bool read_inherited(config* c, config* was, const char* path, const char* text, size_t length, error* why)
{
    option bound[ENTRIES + 1];
    char* word[ENTRIES + 2] = {"ggnn-train"};
    int words = 1, arguments;
    error inner = {""};
    if (length >= CONFIG_TEXT_MAX) return error_set(why, "%s: its options are %zu bytes long", path, length);
    memcpy(c->inherited, text, length);
    c->inherited[length] = 0;
    for (char* at = strtok(c->inherited, "\n"); at; at = strtok(NULL, "\n")) {
        if (words > ENTRIES) return error_set(why, "%s: it has more options than there are", path);
        word[words++] = at;
    }
    set_defaults(was);
    bind(was, bound);
    if (options_parse(bound, words, word, NULL, &arguments, 0, 0, &inner) != OPTIONS_GOOD)
        return error_set(why, "%s: its options are not those of this program: %s", path, inner.text);
    return true;
}

static size_t value_bytes(option_kind kind)
{
    switch (kind) {
    case OPTION_FLAG: return sizeof(bool);
    case OPTION_REAL: return sizeof(double);
    case OPTION_TEXT: return sizeof(const char*);
    case OPTION_CHOICE: return sizeof(int);
    default: return sizeof(int64_t);
    }
}

bool config_inherit(config* c, const char* path, const char* text, size_t length, error* why)
{
    config was;
    if (!read_inherited(c, &was, path, text, length, why)) return false;
    for (int i = 0; i < ENTRIES; i++) {
        const entry* e = &table[i];
        char now_text[256], was_text[256];
        if (!is_kept(c, e)) continue;
        if (!c->given[i]) {
            memcpy((char*)c + e->at, (char*)&was + e->at, value_bytes(e->o.kind));
            continue;
        }
        value_text(c, e, now_text, sizeof now_text);
        value_text(&was, e, was_text, sizeof was_text);
        if (c->predicts && e->marks & OPEN) continue;
        bool fixed = (e->marks & SAME) || c->predicts || was.schedule == SCHEDULE_COSINE; /* which --epochs has a part in */
        if (fixed && strcmp(now_text, was_text) != 0)
            return error_set(why, "--%s %s contradicts %s, which was trained with --%s %s", e->o.name, now_text, path,
                             e->o.name, was_text[0] ? was_text : "not given");
    }
    return true;
}

/* ==== values together =========================================================================================== */

/* Layers that have a fanout: a preprocessed one needs none. */
static int32_t sampled_layers(const config* c) { return (int32_t)c->layers - (c->preprocess ? 1 : 0); }

/* In full and plainly, so that a checkpoint knows it: "15,10". */
static void write_fanout(config* c)
{
    size_t used = 0;
    for (int32_t i = 0; i < sampled_layers(c); i++)
        used += (size_t)sprintf(c->plain_fanout + used, "%s%d", i ? "," : "", (int)c->fanout[i]);
    c->fanout_text = used ? c->plain_fanout : NULL;
}

static bool is_given(const config* c, size_t at)
{
    bool given = false;
    for (int i = 0; i < ENTRIES; i++) given = given || (table[i].at == at && c->given[i]);
    return given;
}

/* Fills c->fanout and c->full_batch, and layers where only the fanouts say how many. */
static bool set_fanout(config* c, error* why)
{
    static const int32_t usual[NET_LAYERS_MAX] = {15, 10, 5, 5, 5, 5, 5, 5}, visited[] = {5, 5, 5, 5, 5, 5, 5, 5};
    option_list list;
    const bool layers_given = is_given(c, AT(layers));
    memcpy(c->fanout, config_walks(c) ? visited : usual, sizeof usual);
    if (c->preprocess) c->fanout[c->layers - 1] = 0;
    if (!c->fanout_text) {
        write_fanout(c);
        return true;
    }
    c->full_batch = strcmp(c->fanout_text, "full") == 0;
    if (c->full_batch) return true;
    if (!options_ints("--fanout", c->fanout_text, -1, INT32_MAX, &list, why)) return false;
    const int32_t more = c->preprocess ? 1 : 0;
    if (list.count > NET_LAYERS_MAX - more)
        return error_set(why, "--fanout %s: at most %d values", c->fanout_text, NET_LAYERS_MAX - more);
    if (!layers_given && !c->resume) c->layers = list.count + more;
    if (list.count != sampled_layers(c))
        return error_set(why, "--fanout %s: %d values for --layers %d%s", c->fanout_text, (int)list.count, (int)c->layers,
                         more ? ", the first of which --preprocess samples nothing for" : "");
    for (int32_t i = 0; i < list.count; i++) c->fanout[i] = (int32_t)list.value[i];
    if (more) c->fanout[list.count] = 0;
    write_fanout(c);
    return true;
}

/* Without --devices it says how many there are. */
static bool set_device_list(config* c, error* why)
{
    option_list list;
    if (!c->device_list) return true;
    if (!options_ints("--device-list", c->device_list, 0, 1 << 16, &list, why)) return false;
    if (list.count > CONFIG_DEVICES_MAX)
        return error_set(why, "--device-list %s: at most %d devices", c->device_list, CONFIG_DEVICES_MAX);
    for (int32_t i = 0; i < list.count; i++) c->device[i] = (int32_t)list.value[i];
    c->listed = list.count;
    if (comm_under_mpi()) return true;
    if (!is_given(c, AT(devices))) c->devices = list.count;
    if (c->devices == list.count) return true;
    return error_set(why, "--device-list %s: %d devices for --devices %d", c->device_list, (int)list.count, (int)c->devices);
}

/* How large the cache is: by one of two options, or by the ranking's file. */
static bool set_cache_size(config* c, error* why)
{
    const char* bytes = c->cache_bytes_text;
    c->cache_bytes = -1;
    c->cache_auto = bytes && strcmp(bytes, "auto") == 0;
    return !bytes || c->cache_auto || options_bytes("--cache-bytes", bytes, 0, HUGE_INT, &c->cache_bytes, why);
}

/* So many numbers with commas between; what: "two numbers, A,F". */
static bool read_numbers(int64_t* to, int32_t count, const char* name, const char* text, double low, double high, const char* what, error* why)
{
    option_list list;
    if (!options_ints(name, text, low, high, &list, why)) return false;
    if (list.count != count) return error_set(why, "%s %s: %s", name, text, what);
    memcpy(to, list.value, (size_t)count * sizeof *to);
    return true;
}

/* Does option i make a plan of tiers? A choice's first, --cache none, does not. */
static bool makes_tiers(const config* c, int i)
{
    const void* value = (const char*)c + table[i].at;
    return (table[i].marks & TIERS) && c->given[i] && (table[i].o.kind != OPTION_CHOICE || *(const int*)value);
}

static bool set_tiers(config* c, error* why)
{
    c->tiers = false;
    for (int i = 0; i < ENTRIES; i++) c->tiers = c->tiers || makes_tiers(c, i);
    if (!is_given(c, AT(store_features)) && c->cache != CACHE_NONE) c->store_features = 0;
    if (!is_given(c, AT(store_graph)) && c->cache == HOTNESS_DUAL + 1) c->store_graph = 0;
    c->slopes_measured = strcmp(c->slopes_text, "measure") == 0;
    return set_cache_size(c, why) &&
           (c->slopes_measured || read_numbers(c->slopes, 2, "--slopes", c->slopes_text, 0, 9e15, "two numbers, A,F, or measure", why)) &&
           read_numbers(c->links, 3, "--links", c->links_text, 1, 1000000, "three numbers, OWN,PEER,HOST in GB/s", why);
}

/* What follows from some options for others that were not given. */
static void set_others(config* c)
{
    if (c->explain && !is_given(c, AT(epochs))) c->epochs = 1;
    if (c->explain) c->eval_every = 0;
    const bool parts = strstr(c->data, CONFIG_RANK) && c->parallel == PARALLEL_DATA;
    if (parts && !is_given(c, AT(partition)) && !c->resume) c->partition = PARTITION_PAGRAPH;
    if (config_counts_visits(c)) {
        if (!is_given(c, AT(sampler))) c->sampler = GGNN_WALK;
        if (!is_given(c, AT(eval))) c->eval = EVAL_SAMPLED;
    }
    if (c->parallel == PARALLEL_SPLIT) {
        if (c->partition == PARTITION_NONE && !is_given(c, AT(partition)) && !c->partition_file) c->partition = 1 + DIVIDE_MINCUT;
    } else if (c->partition == PARTITION_PAGRAPH && !is_given(c, AT(shuffle)) && !c->resume) c->shuffle = SHUFFLE_LOCAL;
}

/* A prediction has no training nodes that could be whose, and evaluates whatever training did. */
static bool set_prediction(config* c, error* why)
{
    static const char* const part[] = {"", "train", "val", "test"};
    if (!c->predicts) return true;
    c->eval_every = 1;
    c->partition = PARTITION_NONE;
    c->shuffle = SHUFFLE_GLOBAL;
    for (int k = SPLIT_TRAIN; k <= SPLIT_TEST; k++)
        if (c->nodes && strcmp(c->nodes, part[k]) == 0) c->nodes_of = k;
    const size_t length = strlen(c->out);
    const char* ending = length < 4 ? "" : c->out + length - 4;
    c->out_csv = strcmp(ending, ".csv") == 0;
    if (!c->out_csv && strcmp(ending, ".npy") != 0) return error_set(why, "--out %s: its name has to end in .npy or .csv", c->out);
    if (c->layer > c->layers) return error_set(why, "--layer %d: %s has %d layers", (int)c->layer, c->resume, (int)c->layers);
    return !strstr(c->data, CONFIG_RANK) || error_set(why, "--data %s: predict reads a whole graph, not a part for each device", c->data);
}

/* What depends on this build, on the processes, or on how much a number is. */
static bool check_others(const config* c, error* why)
{
    if (c->preprocess && !config_has(c, NET_SUMMED))
        return error_set(why, "--preprocess: this model has no sums that can be made before training");
    if (config_has(c, NET_HEADS) && c->hidden % c->heads != 0)
        return error_set(why, "--heads %d does not divide --hidden %d", (int)c->heads, (int)c->hidden);
    if (c->gemm && !device_cpu_has_blas()) return error_set(why, "--gemm blas: this build has no BLAS");
    if (comm_under_mpi() && is_given(c, AT(devices)))
        return error_set(why, "--devices %d: mpirun started this program, each of its processes is one device", (int)c->devices);
    if (comm_under_mpi() && c->pipeline == PIPELINE_FACTORED)
        return error_set(why, "--pipeline factored: its devices are threads of one process: --devices N, without mpirun");
    if (c->samplers && c->samplers >= c->devices)
        return error_set(why, "--samplers %d: one of --devices %d has to train at least", (int)c->samplers, (int)c->devices);
    return comm_under_mpi() || config_check_ranks(c, (int32_t)c->devices, why);
}

/* Nothing that is read is written over; a checkpoint alone may take its own place. */
static bool check_names(const config* c, error* why)
{
    const file_read input[] = {{c->data, "the data"}, {c->ranking, "the ranking"}, {c->partition_file, "the partition"},
                               {c->topology, "the topology"}, {c->resume, c->predicts ? "the checkpoint of --load" : "the checkpoint of --resume"},
                               {c->nodes_of ? NULL : c->nodes, "the file of --nodes"}};
    if (!same_file_as_none("--save", c->save, input, 4, why) || !same_file_as_none("--log", c->log, input, 5, why)) return false;
    if (!same_file_as_none("--out", c->out, input, 6, why)) return false;
    return !same_file(c->log, c->save) || error_set(why, "--log %s: --save writes there", c->log);
}

/* An option as rules ask for it; of "tiers" the first that makes a plan of them. */
static void look(config_option* to, const void* of, const char* name)
{
    const config* c = of;
    const bool tiers = strcmp(name, "tiers") == 0;
    int i = 0;
    memset(to, 0, sizeof *to);
    while (i < ENTRIES && !(tiers ? makes_tiers(c, i) : strcmp(table[i].o.name, name) == 0)) i++;
    if (i == ENTRIES) return;
    to->name = table[i].o.name;
    to->flag = table[i].o.kind == OPTION_FLAG;
    to->on = to->flag ? is_set(c, &table[i]) : c->given[i];
    to->origin = !c->given[i] && is_kept(c, &table[i]) ? c->resume : NULL;
    value_text(c, &table[i], to->value, sizeof to->value);
}

bool config_finish(config* c, error* why)
{
    set_others(c);
    return set_prediction(c, why) && set_fanout(c, why) && set_tiers(c, why) && set_device_list(c, why) && config_check_rules(look, c, why) &&
           check_others(c, why) && check_names(c, why);
}

bool config_check_ranks(const config* c, int32_t ranks, error* why)
{
    if (c->trace_step && ranks > 1)
        return error_set(why, "--trace-step %d: prints a step of one device, here are %d", (int)c->trace_step, (int)ranks);
    if (c->full_batch && ranks > 1)
        return error_set(why, "--fanout full: one device computes the whole graph, here are %d; --fanout -1,-1,.., a value "
                              "a layer, takes all neighbours of each --batch", (int)ranks);
    if (c->partition == PARTITION_PAGRAPH && c->parallel == PARALLEL_DATA && ranks < 2)
        return error_set(why, "--partition pagraph: divides training nodes among --devices, here is one");
    return true;
}
