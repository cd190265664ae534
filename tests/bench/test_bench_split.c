/* test_bench_split.c - what ggnn-bench split counts: a graph by hand, what the papers say on small ones. */
#include "datasets/dataset.h"
#include "tests/bench_tool.h"

static double figure(const char* text, const char* what, const char* row, const char* column)
{
    return bench_figure(text, "counted", what, row, column);
}

static const char* const column[] = {"P = 2", "P = 4", "P = 8"};
static const char reads[] = "data parallel's reads of a store over the parts";

enum { N = 64, RING = 60 };

/* Lists of N nodes, eight features of zeros, one split. */
static void write_graph(const int64_t* indptr, const ggnn_node* indices, const uint8_t* split)
{
    static const int64_t offsets = N + 1, rows[2] = {N, 8}, splits[2] = {1, N};
    static const float features[N * 8];
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, data) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &offsets, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &indptr[N], indices) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, rows, features) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) && ggnn_file_commit(&w));
}

/* 0 and 1 train; 0 <- 2, 1 <- 2, 2 <- 3; a ring of the others, which no batch reaches. Every list is shorter than the
   fanouts 5,4,3. Edges of the batch: 2, 3, 3; of a slice with one seed: 1, 2, 2. By modulo of two parts 0 <- 2 is local, three
   times; hop 0 sends one row, hops 1 and 2 two each. By range part 0 has all. */
static void write_small_graph(void)
{
    int64_t indptr[N + 1] = {0, 1, 2, 3, 3};
    ggnn_node indices[3 + 2 * RING] = {2, 2, 3};
    static const uint8_t split[N] = {1, 1, 2, 3};
    for (int64_t i = 0; i < RING; i++) {
        const ggnn_node left = (ggnn_node)(4 + (i + RING - 1) % RING), right = (ggnn_node)(4 + (i + 1) % RING);
        indptr[5 + i] = indptr[4 + i] + 2;
        indices[3 + 2 * i] = left < right ? left : right;
        indices[4 + 2 * i] = left < right ? right : left;
    }
    write_graph(indptr, indices, split);
}

TEST(figures_of_a_graph_that_can_be_counted_by_hand)
{
    static const char table[] = "P = 2, 256 hidden";
    write_small_graph();
    char* text = bench_json("split");
    for (int i = 0; i < 3; i++) { /* of four or eight slices two have a seed, the others nothing */
        CHECK_NEAR(figure(text, "redundant edges", "data parallel", column[i]), 25, 1e-9);
        CHECK_NEAR(figure(text, "extra input rows", "data parallel", column[i]), 50, 1e-9);
        CHECK_NEAR(figure(text, "redundant edges", "split", column[i]), 0, 0);
        CHECK_NEAR(figure(text, "extra input rows", "split", column[i]), 0, 0);
        CHECK_NEAR(figure(text, "local edges", "range", column[i]), 100, 0);
        CHECK_NEAR(figure(text, "skew of edges", "range", column[i]), 2 << i, 1e-9); /* 8 and nothing */
    }
    CHECK_NEAR(figure(text, "local edges", "mod", "P = 2"), 37.5, 1e-9);
    CHECK_NEAR(figure(text, "local edges", "mod", "P = 4"), 0, 0);
    CHECK_NEAR(figure(text, "skew of edges", "mod", "P = 2"), .5, 1e-9); /* 5 and 3 */
    CHECK_NEAR(figure(text, "skew of edges", "mod", "P = 8"), 3, 1e-9);  /* 3, 3, 2 and five times 0 */
    CHECK_NEAR(figure(text, "skew of input rows", "mod", "P = 2"), 0, 0);
    CHECK_NEAR(figure(text, table, "data parallel", "host: features"), 6 * 32e-6, 1e-12);
    CHECK_NEAR(figure(text, table, "data parallel", "peer: features"), 0, 0);
    CHECK_NEAR(figure(text, table, "mod", "host: features"), 4 * 32e-6, 1e-12);
    CHECK_NEAR(figure(text, table, "mod", "peer: ids"), 5e-6 * sizeof(ggnn_node), 1e-12);
    CHECK_NEAR(figure(text, table, "mod", "peer: features"), 2 * 32e-6, 1e-12);
    CHECK_NEAR(figure(text, table, "mod", "peer: hidden"), 3 * 1024e-6, 1e-12);
    CHECK_NEAR(figure(text, table, "mod", "peer: gradients"), 3 * 1024e-6, 1e-12);
    free(text);
}

/* The same graph. A batch of one seed has no second slice, three rows. In one hop the batch has 2 edges and rows 0, 1, 2; the slices 1
   and 1, with two rows each. In two hops 2 + 3 edges and four rows; 1 + 2 and 1 + 2, three rows each. A list of one neighbour is the
   same at any fanout. */
TEST(fanout_and_batch_are_those_asked_for)
{
    static const struct {
        const char* arguments;
        double edges, rows, loaded; /* redundant, extra; rows of a batch, data parallel */
    } of[] = {{"split --fanout 9", 0, 100. / 3, 4},
              {"split --fanout 9,1", 20, 50, 6},
              {"split --fanout 1,9,2 --batch 2", 25, 50, 6},
              {"split --batch 1", 0, 0, 3},
              {"split --fanout 2 --batch 1", 0, 0, 2}};
    write_small_graph();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char* text = bench_json(of[k].arguments);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(figure(text, "redundant edges", "data parallel", column[i]), of[k].edges, 1e-9);
            CHECK_NEAR(figure(text, "extra input rows", "data parallel", column[i]), of[k].rows, 1e-9);
        }
        CHECK_NEAR(figure(text, "P = 2, 256 hidden", "data parallel", "host: features"), of[k].loaded * 32e-6, 1e-12);
        free(text);
    }
}

/* Of a text with "figures": them alone, to be compared, up to the times, which come last. */
static char* figures_of(char* text)
{
    const char* from = json_member(json_first(text), "figures");
    const size_t length = CHECK(from) ? (size_t)(json_after(from) - from) : 0;
    memmove(text, from ? from : text, length);
    text[length] = 0;
    char* times = strstr(text, ", sampling and splitting");
    if (times) *times = 0;
    return text;
}

static void same_figures(const char* usual, const char* asked, const char* quick)
{
    char *a = figures_of(bench_json_sized(usual, quick)), *b = figures_of(bench_json_sized(asked, quick));
    CHECK(strlen(a) > 100);
    if (!CHECK(strcmp(a, b) == 0)) printf("  %s, %s\n", asked, quick);
    free(a);
    free(b);
}

TEST(without_fanout_and_batch_they_are_the_usual_ones)
{
    if (!generate_graph("planted --nodes 6000 --edges 30000 --classes 3 --train .8")) return;
    same_figures("split", "split --fanout 15,10,5 --batch 4096", "");
    same_figures("store", "store --fanout 15,10,5 --batch 1024", "");
    same_figures("scale", "scale --fanout 15,10,5 --batch 1024", "");
    same_figures("split", "split --fanout 5,4,3 --batch 512", "--quick");
    same_figures("store", "store --fanout 5,4,3 --batch 128", "--quick");
    same_figures("scale", "scale --fanout 5,4,3", "--quick");
    same_figures("cache", "cache --batch 128", "--quick");
}

TEST(fanout_and_batch_are_recorded_and_a_batch_has_seeds_for_all)
{
    write_small_graph(); /* two nodes train */
    char *asked = bench_json("split --fanout 7,3 --batch 2"), *usual = bench_json("split"), line[2000];
    const char *options = json_member(json_first(asked), "options"), *hop = json_begin(json_member(options, "fanout"));
    CHECK(hop && json_number(hop) == 7 && json_number(json_next(hop)) == 3 && !json_next(json_next(hop)));
    CHECK_EQ(json_number(json_member(options, "batch")), 2);
    options = json_member(json_first(usual), "options");
    CHECK(json_member(options, "fanout") && !json_begin(json_member(options, "fanout")));
    CHECK_EQ(json_number(json_member(options, "batch")), 0);
    for (const char* name = "cache\0store\0split\0scale\0"; *name; name += strlen(name) + 1) {
        snprintf(line, sizeof line, "%s %s --quick --data %s --batch 3 >%s/out 2>%s/err", bench_tool, name, data, folder, folder);
        CHECK_EQ(WEXITSTATUS(system(line)), 1);
        CHECK(prints("err", "--batch 3: ") && prints("err", "has 2 training nodes"));
    }
    free(asked);
    free(usual);
}

TEST(sizes_of_batches_are_refused_where_none_are_counted_or_they_cannot_be)
{
    static const struct {
        const char *arguments, *says;
    } wrong[] = {{"--quick --data none split --fanout \"\"", "--fanout"},
                 {"--quick --data none split --fanout 5,", "--fanout"},
                 {"--quick --data none split --fanout 5,0", "--fanout 0: must be between 1 and"},
                 {"--quick --data none split --fanout 5,-1", "--fanout -1: must be between 1 and"},
                 {"--quick --data none split --fanout 5,many", "--fanout 'many': not an integer"},
                 {"--quick --data none split --fanout 9999999", "--fanout 9999999: must be between 1 and"},
                 {"--quick --data none split --fanout 1,1,1,1,1,1,1,1,1", "--fanout: 9 hops, at most 8"},
                 {"--quick --data none cache --batch 0", "--batch 0: must be between 1 and"},
                 {"--quick --data none store --batch -5", "--batch -5: must be between 1 and"},
                 {"--quick --data none store --batch 5.5", "--batch '5.5': not an integer"},
                 {"--quick scale --batch 5", "--batch: scale counts batches of --data FILE"},
                 {"--quick --data none scale --fanout 5,5", "--fanout: 2 hops, scale's batches have 3"},
                 {"--quick --data none spmm --fanout 5", "--fanout: spmm counts no batches; cache, store, split and scale do"},
                 {"--quick --data none cache block --batch 5", "--batch: block counts no batches"},
                 {"--quick --data none --batch 5", "counts no batches"}};
    char line[2000];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(line, sizeof line, "%s %s >%s/out 2>%s/err", bench_tool, wrong[i].arguments, folder, folder);
        const int status = system(line);
        CHECK_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 2);
        if (!CHECK(prints("err", wrong[i].says))) printf("  %s\n", printed("err"));
    }
}

/* 27 nodes, the first of which train: v <- 3 v, 3 v + 1, 3 v + 2 modulo 27, so that three hops reach all from each (de Bruijn).
   A slice with a seed reads all rows, and no draw matters. The others have no edges. */
static void write_de_bruijn_graph(int train)
{
    enum { ALL = 27 };
    int64_t indptr[N + 1] = {0};
    ggnn_node indices[3 * ALL];
    uint8_t split[N] = {0};
    for (int v = 0; v < N; v++) indptr[v + 1] = 3 * (v < ALL ? v + 1 : ALL);
    for (int e = 0; e < 3 * ALL; e++) indices[e] = (ggnn_node)(e % ALL);
    memset(split, 1, (size_t)train);
    write_graph(indptr, indices, split);
}

/* Quiver: of rows that lie over P devices P - 1 are remote for each local one, whatever the partition. */
TEST(where_slices_read_all_rows_p_minus_1_are_remote_to_a_local_one)
{
    static const char* const way[] = {"mod", "hash", "range", "pagraph", "mincut"};
    write_de_bruijn_graph(24);
    char* text = bench_json("split");
    for (int i = 0; i < 3; i++) {
        const int parts = 2 << i;
        for (int w = 0; w < 5; w++) CHECK_NEAR(figure(text, reads, way[w], column[i]), parts - 1, 1e-12);
        CHECK_NEAR(figure(text, "extra input rows", "data parallel", column[i]), 100 * (parts - 1), 1e-12);
    }
    free(text);
}

/* GSplit's Table 1, on the graph of 27 nodes: 24 seeds, whose slices each read all rows once, by ranks 0 to 26. 10 % of 64 rows are 6,
   25 % are 16. By modulo of two parts, part 0 owns 14 of them and part 1 13; by range part 0 all of them, for two, and 16 and 11 for four. */
TEST(caches_take_what_lies_on_a_device_and_leave_the_rest_to_peers_and_host)
{
    static const struct {
        const char *table, *row;
        double host[3], peer[3]; /* rows of 32 bytes; of a split peers do not depend on caches */
    } of[] = {{"P = 2, caches, 256 hidden", "own caches", {2 * 27, 2 * 21, 2 * 11}, {0, 0, 0}},
              {"P = 4, caches, 256 hidden", "own caches", {4 * 27, 4 * 21, 4 * 11}, {0, 0, 0}},
              {"P = 2, caches, 256 hidden", "shared caches", {2 * 27, 2 * 15, 0}, {0, 6 + 6, 13 + 14}},
              {"P = 4, caches, 256 hidden", "shared caches", {4 * 27, 4 * 3, 0}, {0, 3 * 24, 3 * 27}},
              {"P = 8, caches, 256 hidden", "shared caches", {8 * 27, 0, 0}, {0, 7 * 27, 7 * 27}},
              {"P = 2, caches, 256 hidden", "mod", {27, 8 + 7, 0}, {-1, -1, -1}},
              {"P = 4, caches, 256 hidden", "mod", {27, 1 + 1 + 1, 0}, {-1, -1, -1}},
              {"P = 8, caches, 256 hidden", "mod", {27, 0, 0}, {-1, -1, -1}},
              {"P = 2, caches, 256 hidden", "range", {27, 21, 11}, {0, 0, 0}},
              {"P = 4, caches, 256 hidden", "range", {27, 10 + 5, 0}, {-1, -1, -1}}};
    static const char* const link[] = {"peer: ids", "peer: features", "peer: hidden", "peer: gradients"};
    write_de_bruijn_graph(24);
    char* text = bench_json("split");
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const char parts = of[k].table[4];
        char plain[] = "P = ?, 256 hidden";
        plain[4] = parts;
        for (int c = 0; c < 3; c++) {
            static const char* const host[] = {"host, 0 %", "host, 10 %", "host, 25 %"}, *const peer[] = {"peer, 0 %", "peer, 10 %", "peer, 25 %"};
            double peers = of[k].peer[c] * 32e-6;
            for (int l = 0; of[k].peer[c] < 0 && l < 4; l++) peers = (l ? peers : 0) + figure(text, plain, of[k].row, link[l]);
            CHECK(of[k].peer[c] >= 0 || peers > 0);
            CHECK_NEAR(figure(text, of[k].table, of[k].row, host[c]), of[k].host[c] * 32e-6, 1e-12);
            CHECK_NEAR(figure(text, of[k].table, of[k].row, peer[c]), peers, 1e-10);
        }
    }
    free(text);
}

/* 27 seeds: 14 and 13; 7, 7, 7, 6; six times 4, then 3, then none. */
TEST(slices_of_a_batch_are_those_that_the_trainer_cuts)
{
    static const double slices[] = {2, 4, 7}, own[] = {27, 27, 24}; /* nodes of devices that have a slice */
    write_de_bruijn_graph(27);
    char *text = bench_json("split"), *scale = bench_json("scale");
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(figure(text, "extra input rows", "data parallel", column[i]), 100 * (slices[i] - 1), 1e-12);
        CHECK_NEAR(figure(scale, "extra input rows", "counted", column[i]), 100 * (slices[i] - 1), 1e-12);
        CHECK_NEAR(figure(text, reads, "mod", column[i]), slices[i] * 27 / own[i] - 1, 1e-12);
    }
    free(scale);
    free(text);
}

typedef struct {
    const char* graph;
    double edges, rows; /* redundant, extra */
    struct {
        double local, edge_skew, row_skew, features, hidden; /* MB a batch */
    } mod, mincut;
    double metis_local, metis_skew, metis_edges_local, metis_edges_skew;
    double cached[3]; /* MB from the host with 10 % caches of own, shared, of min-cut's parts */
} shape;

/* Figures of P = 4, as counted once by the trainer's slices. They are the same on every machine; METIS's are its release's. */
static const shape shapes[] = {
    {"citation --nodes 40000 --edges 320000",
     64.0019669604, 105.097773256,
     {24.4979599431, 0.0993846358553, 0.0629211849221, 0.19428, 5.341696},
     {78.730247332, 0.783576826018, 0.293843409111, 0.063096, 1.752064},
     91.25, 2.92, 79.75, 0.0832, {0.15252, 0.048088, 0.039808}},
    {"planted --nodes 40000 --edges 640000 --classes 16 --train .05",
     11.2905743634, 57.1699977202,
     {25.0320015819, 0.0445961339031, 0.00855928814582, 0.732552, 10.398976},
     {51.222824673, 0.195736056966, 0.191284877642, 0.495072, 6.825472},
     60.27, 0.0389, 57.48, 0.113, {1.151792, 0.708384, 0.470112}},
    {"rmat --nodes 32768 --edges 1000000 --train .05",
     42.607548738, 107.310131323,
     {25.0582687409, 0.0969523290145, 0.0633358532273, 0.1348, 3.34848},
     {68.1626827109, 2.67305253118, 2.45018242388, 0.065728, 1.745664},
     47.34, 1.82, 35.11, 0.178, {0.138024, 0.020544, 0.039184}},
};

static void near_figure(const char* text, const char* what, const char* row, const char* at, double expected)
{
    const double value = figure(text, what, row, at);
    if (!CHECK_NEAR(value, expected, 1e-10 * fabs(expected))) printf("  %s, %s, %s: %.12g\n", what, row, at, value);
}

static void figures_are_as_recorded(const char* text, const shape* s)
{
    static const char table[] = "P = 4, 256 hidden";
    near_figure(text, "redundant edges", "data parallel", "P = 4", s->edges);
    near_figure(text, "extra input rows", "data parallel", "P = 4", s->rows);
    for (int k = 0; k < 3; k++) {
        static const char* const row[] = {"own caches", "shared caches", "mincut"};
        near_figure(text, "P = 4, caches, 256 hidden", row[k], "host, 10 %", s->cached[k]);
    }
    for (int k = 0; k < 2; k++) {
        const char* row = k ? "mincut" : "mod";
        near_figure(text, "local edges", row, "P = 4", k ? s->mincut.local : s->mod.local);
        near_figure(text, "skew of edges", row, "P = 4", k ? s->mincut.edge_skew : s->mod.edge_skew);
        near_figure(text, "skew of input rows", row, "P = 4", k ? s->mincut.row_skew : s->mod.row_skew);
        near_figure(text, table, row, "peer: features", k ? s->mincut.features : s->mod.features);
        near_figure(text, table, row, "peer: hidden", k ? s->mincut.hidden : s->mod.hidden);
    }
}

/* What holds of any graph: modulo and hash leave one of P edges local, min-cut more; a store over the parts, Quiver. */
static void figures_are_plausible(const char* text)
{
    for (int i = 0; i < 3; i++) {
        const int parts = 2 << i;
        CHECK_NEAR(figure(text, reads, "mod", column[i]), parts - 1, .05 * (parts - 1));
        CHECK_NEAR(figure(text, reads, "hash", column[i]), parts - 1, .05 * (parts - 1));
        CHECK_NEAR(figure(text, "local edges", "mod", column[i]), 100. / parts, 2);
        CHECK_NEAR(figure(text, "local edges", "hash", column[i]), 100. / parts, 2);
        CHECK(figure(text, "local edges", "mincut", column[i]) > 130. / parts);
    }
}

/* Of another release of METIS three points are allowed. Where equally many nodes are unequal work, weights are for. */
static void metis_is_as_recorded(const char* text, const shape* s)
{
    CHECK_NEAR(figure(text, "local edges", "metis", "P = 4"), s->metis_local, 3);
    CHECK_NEAR(figure(text, "skew of edges", "metis", "P = 4"), s->metis_skew, .05 + .1 * s->metis_skew);
    CHECK_NEAR(figure(text, "local edges", "metis, edges", "P = 4"), s->metis_edges_local, 3);
    CHECK_NEAR(figure(text, "skew of edges", "metis, edges", "P = 4"), s->metis_edges_skew, .1);
    for (int i = 0; i < 3 && s->metis_skew > 1; i++)
        CHECK(figure(text, "skew of edges", "metis, edges", column[i]) < .3 * figure(text, "skew of edges", "metis", column[i]));
}

TEST(three_shapes_of_graphs_give_the_figures_recorded)
{
    bool metis = false;
    for (int i = 0; i < 3; i++) {
        if (!generate_graph(shapes[i].graph)) return;
        char* text = bench_json("split");
        figures_are_as_recorded(text, &shapes[i]);
        figures_are_plausible(text);
        metis = strstr(text, "\"metis\"") != NULL;
        if (metis) metis_is_as_recorded(text, &shapes[i]);
        free(text);
    }
    if (!metis) printf("  without METIS\n");
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    RUN(figures_of_a_graph_that_can_be_counted_by_hand);
    RUN(fanout_and_batch_are_those_asked_for);
    RUN_SLOW(without_fanout_and_batch_they_are_the_usual_ones);
    RUN(fanout_and_batch_are_recorded_and_a_batch_has_seeds_for_all);
    RUN(sizes_of_batches_are_refused_where_none_are_counted_or_they_cannot_be);
    RUN(where_slices_read_all_rows_p_minus_1_are_remote_to_a_local_one);
    RUN(caches_take_what_lies_on_a_device_and_leave_the_rest_to_peers_and_host);
    RUN(slices_of_a_batch_are_those_that_the_trainer_cuts);
    RUN_SLOW(three_shapes_of_graphs_give_the_figures_recorded);
    folder_remove();
    return test_finish();
}
