/* test_bench_split.c - what ggnn-bench split counts: a graph by hand, what the papers say on small ones. */
#include "datasets/dataset.h"
#include "tests/bench_tool.h"

static double figure(const char* text, const char* what, const char* row, const char* column)
{
    return bench_figure(text, "counted", what, row, column);
}

enum { N = 64, RING = 60, E = 3 + 2 * RING };

/* 0 and 1 train; 0 <- 2, 1 <- 2, 2 <- 3; a ring of the others, which no batch reaches. Every list is shorter than the
   fanouts 5,4,3. Edges of the batch: 2, 3, 3; of a slice with one seed: 1, 2, 2. By modulo of two parts 0 <- 2 is local, three
   times; hop 0 sends one row, hops 1 and 2 two each. */
static void write_graph(void)
{
    static const int64_t nodes = N, offsets = N + 1, edges = E, rows[2] = {N, 8}, splits[2] = {1, N};
    int64_t indptr[N + 1] = {0, 1, 2, 3, 3};
    ggnn_node indices[E] = {2, 2, 3};
    uint8_t split[N] = {1, 1, 2, 3};
    float features[N * 8] = {0};
    int32_t label[N] = {0, 1};
    ggnn_file_writer w;
    for (int64_t i = 0; i < RING; i++) {
        const ggnn_node left = (ggnn_node)(4 + (i + RING - 1) % RING), right = (ggnn_node)(4 + (i + 1) % RING);
        indptr[5 + i] = indptr[4 + i] + 2;
        indices[3 + 2 * i] = left < right ? left : right;
        indices[4 + 2 * i] = left < right ? right : left;
    }
    CHECK(ggnn_file_create(&w, data) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &offsets, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, rows, features) &&
          ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) && ggnn_file_commit(&w));
}

TEST(figures_of_a_graph_that_can_be_counted_by_hand)
{
    static const char* const column[] = {"P = 2", "P = 4", "P = 8"};
    static const char table[] = "P = 2, 256 hidden";
    write_graph();
    char* text = bench_json("split");
    for (int i = 0; i < 3; i++) { /* of four or eight slices two have a seed, the others nothing */
        CHECK_NEAR(figure(text, "redundant edges", "data parallel", column[i]), 25, 1e-9);
        CHECK_NEAR(figure(text, "extra input rows", "data parallel", column[i]), 50, 1e-9);
        CHECK_NEAR(figure(text, "redundant edges", "split", column[i]), 0, 0);
        CHECK_NEAR(figure(text, "extra input rows", "split", column[i]), 0, 0);
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

/* Quiver: rows that lie over P devices by id are remote P - 1 times for each time that they are local. Modulo leaves one of
   P edges local, min-cut more. */
static char* counted_over_parts(const char* how)
{
    static const char* const column[] = {"P = 2", "P = 4", "P = 8"};
    static const char reads[] = "data parallel's reads of a store over the parts";
    if (!generate_graph(how)) return calloc(1, 1);
    char* text = bench_json("split");
    for (int i = 0; i < 3; i++) {
        const int parts = 2 << i;
        CHECK_NEAR(figure(text, reads, "mod", column[i]), parts - 1, .05 * (parts - 1));
        CHECK_NEAR(figure(text, reads, "hash", column[i]), parts - 1, .05 * (parts - 1));
        CHECK_NEAR(figure(text, "local edges", "mod", column[i]), 100. / parts, 2);
        CHECK(figure(text, "local edges", "mincut", column[i]) > 130. / parts);
    }
    return text;
}

/* The figures of the first run. */
TEST(data_parallel_repeats_work_and_min_cut_keeps_edges_local)
{
    static const struct {
        const char* graph;
        double edges, rows, local; /* P = 4: redundant edges, extra rows, local edges by min-cut */
    } expected[] = {{"citation --nodes 40000 --edges 320000", 64, 105.1, 78.73},
                    {"planted --nodes 40000 --edges 640000 --train .05", 11.46, 57.09, 47.67},
                    {"rmat --nodes 32768 --edges 1000000 --train .05", 42.61, 107.3, 68.16}};
    for (int i = 0; i < 3; i++) {
        char* text = counted_over_parts(expected[i].graph);
        CHECK_NEAR(figure(text, "redundant edges", "data parallel", "P = 4"), expected[i].edges, .1);
        CHECK_NEAR(figure(text, "extra input rows", "data parallel", "P = 4"), expected[i].rows, .1);
        CHECK_NEAR(figure(text, "local edges", "mincut", "P = 4"), expected[i].local, .1);
        free(text);
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find(argv[0]);
    RUN(figures_of_a_graph_that_can_be_counted_by_hand);
    RUN_SLOW(data_parallel_repeats_work_and_min_cut_keeps_edges_local);
    folder_remove();
    return test_finish();
}
