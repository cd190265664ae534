/* test_order.c - orders of the nodes, `convert --reorder`, and the hint that says where an order pays. */
#ifdef _OPENMP
#include <omp.h>
#endif
#include "datasets/dataset.h"
#include "datasets/order.h"
#include "datasets/order_gain.h"
#include "tests/random_graph.h"
#include "tests/test.h"
#include "tests/tool.h"

static void set_threads(int threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

/* ==== orders ==================================================================================================== */

/* Node v's number by the definition: how many nodes come before. key (n): the higher, the earlier; equal ones by id. */
static void by_hand(ggnn_node* rank, const int64_t* key, int64_t n)
{
    for (int64_t v = 0; v < n; v++) {
        rank[v] = 0;
        for (int64_t u = 0; u < n; u++) rank[v] += key[u] > key[v] || (key[u] == key[v] && u < v);
    }
}

static bool is_permutation(const ggnn_node* rank, int64_t n)
{
    char* seen = calloc(1, (size_t)n + 1);
    bool good = true;
    for (int64_t v = 0; v < n; v++) {
        good = good && rank[v] >= 0 && rank[v] < n && !seen[rank[v]];
        if (good) seen[rank[v]] = 1;
    }
    free(seen);
    return good;
}

/* 8: under half of the average ... 1: from 16 times on, 0: from 32 times on. */
static int64_t group_by_hand(int64_t degree, int64_t nodes, int64_t edges)
{
    int64_t group = 0;
    for (int64_t times = 64; times > 1 && degree * nodes * 2 < edges * times; times /= 2) group++;
    return group < 7 ? group : 7;
}

TEST(degrees_and_groups_are_their_definitions)
{
    error why = {""};
    test_seed(1);
    for (int i = 0; i < 20; i++) {
        random_graph* g = random_graph_new(2 + test_below(400), 1 + test_below(9), 200);
        const size_t n = (size_t)g->num_nodes;
        int64_t *degree = calloc(n, sizeof *degree), last = 0;
        ggnn_node *rank = calloc(n, sizeof *rank), *hand = calloc(n, sizeof *hand), *node = calloc(n, sizeof *node);
        for (int64_t e = 0; e < g->num_edges; e++) { /* a few nodes have most edges */
            const int64_t some = 1 + test_below(1 + test_below(g->num_nodes));
            g->indices[e] = (ggnn_node)((test_below(1 + test_below(some)) * 7 + 5) % g->num_nodes);
            degree[g->indices[e]]++;
        }
        by_hand(hand, degree, g->num_nodes);
        CHECK(order_nodes(rank, ORDER_DEGREE, &g->graph, "g", &why) && memcmp(rank, hand, n * sizeof *rank) == 0);
        CHECK(order_nodes(rank, ORDER_GROUPED, &g->graph, "g", &why) && is_permutation(rank, g->num_nodes));
        for (size_t v = 0; v < n; v++) node[rank[v]] = (ggnn_node)v;
        for (size_t k = 0; k < n; k++) {
            const int64_t group = group_by_hand(degree[node[k]], g->num_nodes, g->num_edges);
            CHECK(group >= last);
            last = group;
        }
        CHECK(order_nodes(rank, ORDER_COMMUNITY, &g->graph, "g", &why) && is_permutation(rank, g->num_nodes));
        free(degree);
        free(rank);
        free(hand);
        free(node);
        random_graph_free(g);
    }
}

/* Cliques of `size` nodes, node v in clique v % cliques. */
static random_graph* cliques_of(int64_t cliques, int64_t size)
{
    random_graph* g = random_graph_new(2, 1, 0);
    const int64_t n = cliques * size;
    g->num_nodes = n;
    g->num_edges = n * (size - 1);
    g->indptr = realloc(g->indptr, (size_t)(n + 1) * sizeof *g->indptr);
    g->indices = realloc(g->indices, (size_t)(g->num_edges + 1) * sizeof *g->indices);
    int64_t e = 0;
    for (int64_t v = 0; v < n; v++) {
        g->indptr[v] = e;
        for (int64_t u = v % cliques; u < n; u += cliques)
            if (u != v) g->indices[e++] = (ggnn_node)u;
    }
    g->indptr[n] = e;
    g->graph = ggnn_graph_plain(g->indptr, g->indices, NULL, n, e);
    return g;
}

TEST(a_community_lies_in_one_piece)
{
    error why = {""};
    for (int64_t cliques = 1; cliques < 8; cliques += 2) {
        random_graph* g = cliques_of(cliques, 20);
        ggnn_node* rank = calloc((size_t)g->num_nodes, sizeof *rank);
        for (int by = ORDER_GROUPED; by <= ORDER_COMMUNITY; by++) {
            CHECK(order_nodes(rank, (order_method)by, &g->graph, "g", &why) && is_permutation(rank, g->num_nodes));
            for (int64_t v = 0; v < g->num_nodes; v++) CHECK_EQ(rank[v] / 20, rank[v % cliques] / 20);
        }
        free(rank);
        random_graph_free(g);
    }
}

/* Leaves 0 .. 9998 of node 9999 take its label until 8,192 have it; the others come first, as their labels are less. */
TEST(a_community_has_8192_nodes_at_most)
{
    enum { N = 10000 };
    static int64_t indptr[N + 1];
    static ggnn_node indices[2 * N], rank[N];
    error why = {""};
    for (int64_t v = 0; v < N - 1; v++) {
        indptr[v + 1] = v + 1;
        indices[v] = N - 1;
        indices[N - 1 + v] = (ggnn_node)v;
    }
    indptr[N] = 2 * (N - 1);
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, N, 2 * (N - 1));
    CHECK(order_nodes(rank, ORDER_COMMUNITY, &g, "g", &why));
    CHECK_EQ(rank[0], N - 8192);
    CHECK_EQ(rank[8190], N - 2);
    CHECK_EQ(rank[8191], 0);
    CHECK_EQ(rank[N - 1], N - 1);
}

TEST(graphs_of_no_node_one_node_and_no_edge_have_orders)
{
    static const int64_t zeros[101];
    error why = {""};
    for (int by = ORDER_DEGREE; by < ORDER_NUM_METHODS; by++)
        for (int64_t n = 0; n <= 100; n += n ? 99 : 1) {
            const ggnn_graph g = ggnn_graph_plain(zeros, NULL, NULL, n, 0);
            ggnn_node rank[100];
            CHECK(order_nodes(rank, (order_method)by, &g, "g", &why));
            for (int64_t v = 0; v < n; v++) CHECK_EQ(rank[v], v);
        }
}

TEST(a_broken_list_is_an_error_of_every_order)
{
    static const int64_t indptr[] = {0, 1, 2};
    static const ggnn_node indices[] = {1, 2};
    const ggnn_graph g = ggnn_graph_plain(indptr, indices, NULL, 2, 2);
    for (int by = ORDER_DEGREE; by < ORDER_NUM_METHODS; by++) {
        ggnn_node rank[2];
        error why = {""};
        CHECK(!order_nodes(rank, (order_method)by, &g, "g", &why) && strstr(why.text, "g: node 1"));
    }
}

/* ==== the model ================================================================================================= */

/* Every node once: each row misses, each page of a stretch once, and each line of eight pages. */
TEST(misses_of_rows_that_are_read_once_are_counted_by_hand)
{
    enum { N = 4000, PIECES = 8, PAGE = 4096 };
    static int64_t indptr[N + 1];
    static ggnn_node indices[N];
    order_misses m[ORDER_GAIN_WIDTHS];
    error why = {""};
    if (sysconf(_SC_PAGESIZE) != PAGE) SKIP("pages are not of 4096 bytes");
    for (int64_t v = 0; v < N; v++) {
        indptr[v + 1] = v + 1;
        indices[v] = (ggnn_node)v;
    }
    const ggnn_csc csc = {.indptr = indptr, .indices = indices, .num_edges = N};
    CHECK(order_gain_count(m, &csc, N, NULL, NULL, 1 << 20, &why));
    for (int w = 0; w < ORDER_GAIN_WIDTHS; w++) {
        int64_t pages = 0, lines = 0, rows = 0;
        for (int64_t k = 0; k < PIECES; k++) {
            const int64_t first = k * (N / PIECES), last = first + N / PIECES < N ? first + N / PIECES : N - 1;
            const int64_t row = 4 * order_gain_width[w];
            rows += last - first + 1;
            pages += last * row / PAGE - first * row / PAGE + 1;
            lines += last * row / PAGE / 8 - first * row / PAGE / 8 + 1;
        }
        CHECK_NEAR(m[w].rows, 1, 0);
        CHECK_NEAR(m[w].pages, (double)pages / (double)rows, 1e-12);
        CHECK_NEAR(m[w].tables, (double)lines / (double)rows, 1e-12);
    }
}

/* hubs: R-MAT of which most rows of 128 columns miss in any core's second-level cache */
static char graph[600], made[600], hubs[600];

/* Made once. */
static void make_hubs(void)
{
    char line[2000];
    if (access(folder_path(hubs, "hubs.ggnn"), F_OK) == 0) return;
    snprintf(line, sizeof line, "generate rmat %s --nodes 300000 --edges 1800000 --features 1", hubs);
    CHECK_EQ(run("", line), 0);
}

static bool gain_of(double gain[ORDER_GAIN_WIDTHS], const char* path, int64_t cache)
{
    dataset d;
    error why = {""};
    const bool good = dataset_open(&d, path, &why) && order_gain_by_degree(gain, &d, cache, &why);
    dataset_close(&d);
    return CHECK(good);
}

TEST(the_model_promises_where_hubs_are_far_apart_and_not_where_they_are_not)
{
    double gain[ORDER_GAIN_WIDTHS], again[ORDER_GAIN_WIDTHS];
    char line[2000];
    make_hubs();
    if (!gain_of(gain, hubs, 1 << 20)) return;
    CHECK(gain[1] > ORDER_GAIN_LEAST && gain[1] < 2.5);
    set_threads(3);
    CHECK(gain_of(again, hubs, 1 << 20) && memcmp(gain, again, sizeof gain) == 0);
    set_threads(1);
    CHECK(gain_of(gain, hubs, 1 << 20) && memcmp(gain, again, sizeof gain) == 0);
    CHECK(gain_of(gain, hubs, 1 << 30) && gain[0] == 1 && gain[1] == 1); /* all rows fit */
    snprintf(line, sizeof line, "reorder %s %s --by degree", hubs, made);
    CHECK_EQ(run("", line), 0);
    CHECK(gain_of(gain, made, 1 << 20) && gain[0] < 1.05 && gain[1] < 1.05); /* it is in that order */
    snprintf(line, sizeof line, "generate grid %s --nodes 60000", graph);
    CHECK_EQ(run("", line), 0);
    CHECK(gain_of(gain, graph, 1 << 20) && gain[0] < 1.05 && gain[1] < 1.05);
}

/* ==== the commands ============================================================================================== */

TEST(info_and_convert_hint_where_it_pays_and_are_silent_where_not)
{
    char line[3000], list[700], words[900];
    make_hubs();
    snprintf(line, sizeof line, "info %s", hubs);
    CHECK_EQ(run("", line), 0);
    snprintf(words, sizeof words,
             "hint             `ggnn-data reorder %s OUT.ggnn --by degree` would make a sum over all neighbours about 1.",
             hubs);
    CHECK(prints("out", words));
    snprintf(line, sizeof line, "reorder %s %s --by degree", hubs, made);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "info %s", made);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "old ids          kept, section old_id") && !strstr(printed("out"), "hint"));
    snprintf(line, sizeof line, "export %s %s --format npy", hubs, folder_path(list, "arrays"));
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "convert %s %s", list, made);
    CHECK_EQ(run("", line), 0);
    snprintf(words, sizeof words, "hint       `ggnn-data reorder %s OUT.ggnn --by degree`", made);
    CHECK(prints("out", words));
    snprintf(line, sizeof line, "convert %s %s --reorder degree", list, made);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "reordered  by degree\n") && !strstr(printed("out"), "hint "));
    snprintf(line, sizeof line, "generate karate %s", graph);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "info %s", graph);
    CHECK_EQ(run("", line), 0);
    CHECK(!strstr(printed("out"), "hint"));
}

static const char* const method[] = {"degree", "grouped", "community"};

/* Weighted edges with ids far apart, features of nodes and edges, labels, a split. */
static void write_list(const char* path)
{
    FILE* out = fopen(path, "w");
    for (int i = 0; i < 6000; i++)
        fprintf(out, "%lld,%lld,%d\n", 7 + 3 * (long long)test_below(1 + test_below(900)), 7 + 3 * (long long)test_below(900),
                i % 9);
    fclose(out);
}

TEST(convert_and_reorder_in_one_go_write_the_same_bytes)
{
    char list[700], between[700], line[4000], path[700];
    test_seed(8);
    write_list(folder_path(list, "list.csv"));
    for (int k = 0; k < 3; k++) {
        static const char* const how = "--undirected --random-features 3 --classes 4";
        snprintf(line, sizeof line, "convert %s %s %s", list, folder_path(between, "between.ggnn"), how);
        CHECK_EQ(run("", line), 0);
        snprintf(line, sizeof line, "reorder %s %s --by %s", between, made, method[k]);
        CHECK_EQ(run("", line), 0);
        snprintf(line, sizeof line, "convert %s %s %s --reorder %s", list, folder_path(path, "one.ggnn"), how, method[k]);
        CHECK_EQ(run(k ? "OMP_NUM_THREADS=3" : "OMP_NUM_THREADS=1", line), 0);
        snprintf(line, sizeof line, "cmp %s %s", made, path);
        CHECK_EQ(system(line), 0);
        snprintf(line, sizeof line, "verify %s", path);
        CHECK_EQ(run("", line), 0);
        CHECK_EQ(temporaries(), 0);
        snprintf(line, sizeof line, "[ -z \"$(ls -d %s.*/ 2>/dev/null)\" ]", path); /* no folder */
        CHECK_EQ(system(line), 0);
    }
}

TEST(the_order_of_a_ranking_by_degree_is_the_same_file)
{
    char line[3000], other[700];
    snprintf(line, sizeof line, "generate rmat %s --nodes 3000 --edges 30000 --edge-features 2", graph);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "rank %s --by degree", graph);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "reorder %s %s", graph, made);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "reorder %s %s --by degree", graph, folder_path(other, "other.ggnn"));
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "3000 nodes in the order of their degrees, 30000 edges"));
    snprintf(line, sizeof line, "cmp %s %s", made, other);
    CHECK_EQ(system(line), 0);
    snprintf(line, sizeof line, "reorder %s %s --by degree --of lists", graph, other);
    CHECK_EQ(run("", line), 2);
    snprintf(line, sizeof line, "reorder %s %s --by community --ranking %s", graph, other, made);
    CHECK_EQ(run("", line), 2);
    CHECK(prints("err", "--by community computes an order: --ranking and --of are for one of a file"));
}

/* old_id of twice reordered graphs is the first graph's number. */
TEST(old_ids_are_those_before_the_first_reorder)
{
    char line[3000], twice[700];
    dataset d, new;
    error why = {""};
    snprintf(line, sizeof line, "generate rmat %s --nodes 2000 --edges 20000 --features 3", graph);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "reorder %s %s --by community", graph, made);
    CHECK_EQ(run("", line), 0);
    snprintf(line, sizeof line, "reorder %s %s --by grouped", made, folder_path(twice, "twice.ggnn"));
    CHECK_EQ(run("", line), 0);
    if (!CHECK(dataset_open(&d, graph, &why) && dataset_open(&new, twice, &why) && new.old_id)) return;
    for (int64_t v = 0; v < new.num_nodes; v++) {
        const int64_t was = new.old_id[v];
        CHECK(memcmp((const float*)new.feat.rows + 3 * v, (const float*)d.feat.rows + 3 * was, 3 * sizeof(float)) == 0);
        CHECK_EQ(new.csc.indptr[v + 1] - new.csc.indptr[v], d.csc.indptr[was + 1] - d.csc.indptr[was]);
        for (int64_t e = new.csc.indptr[v]; e < new.csc.indptr[v + 1]; e++) {
            int64_t at = d.csc.indptr[was];
            while (at < d.csc.indptr[was + 1] && d.csc.indices[at] != new.old_id[new.csc.indices[e]]) at++;
            CHECK(at < d.csc.indptr[was + 1]);
        }
    }
    dataset_close(&d);
    dataset_close(&new);
}

TEST(old_ids_that_are_no_permutation_are_found)
{
    static const int64_t indptr[] = {0, 1, 2, 2}, rows = 4, nodes = 3, edges = 2;
    static const ggnn_node indices[] = {1, 0};
    static const int64_t old[][3] = {{2, 0, 2}, {0, 3, 1}, {0, -1, 1}, {2, 0, 1}};
    for (int i = 0; i < 4; i++) {
        char line[1000];
        ggnn_file_writer w;
        CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
              ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices) &&
              ggnn_file_append(&w, "old_id", GGNN_FILE_I64, 1, &nodes, old[i]) &&
              ggnn_file_commit(&w));
        snprintf(line, sizeof line, "verify %s", made);
        CHECK_EQ(run("", line), i < 3);
        if (i < 3) CHECK(strstr(printed("out"), "section 'old_id'") || prints("err", "section 'old_id'"));
    }
}

/* A list that ends in nonsense: OUT stays as it was, and nothing stays beside it. */
TEST(a_conversion_that_fails_leaves_nothing)
{
    char list[700], line[3000];
    write_file(folder_path(list, "bad.csv"), "1,2\n2,3\n3,x\n", 12);
    write_file(made, "old", 3);
    snprintf(line, sizeof line, "convert %s %s --reorder grouped", list, made);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "bad.csv"));
    CHECK_STR(folder_text("made.ggnn"), "old");
    CHECK_EQ(temporaries(), 0);
    snprintf(line, sizeof line, "[ -z \"$(ls -d %s.*/ 2>/dev/null)\" ]", made);
    CHECK_EQ(system(line), 0);
    for (int n = 1, status = 1; status && n < 400; n++) { /* the n-th allocation fails */
        char before[100];
        write_file(list, "1,2\n2,3\n3,1\n", 12);
        snprintf(before, sizeof before, "GGNN_TEST_FAIL_ALLOCATION=%d", n);
        snprintf(line, sizeof line, "convert %s %s --reorder grouped", list, made);
        status = run(before, line);
        CHECK_EQ(temporaries(), 0);
        CHECK(status == 0 || (status == 1 && strcmp(folder_text("made.ggnn"), "old") == 0));
    }
    snprintf(line, sizeof line, "verify %s", made);
    CHECK_EQ(run("", line), 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    folder_path(graph, "graph.ggnn");
    folder_path(made, "made.ggnn");
    RUN(degrees_and_groups_are_their_definitions);
    RUN(a_community_lies_in_one_piece);
    RUN(a_community_has_8192_nodes_at_most);
    RUN(graphs_of_no_node_one_node_and_no_edge_have_orders);
    RUN(a_broken_list_is_an_error_of_every_order);
    RUN(misses_of_rows_that_are_read_once_are_counted_by_hand);
    RUN_SLOW(the_model_promises_where_hubs_are_far_apart_and_not_where_they_are_not);
    RUN_SLOW(info_and_convert_hint_where_it_pays_and_are_silent_where_not);
    RUN(convert_and_reorder_in_one_go_write_the_same_bytes);
    RUN(the_order_of_a_ranking_by_degree_is_the_same_file);
    RUN(old_ids_are_those_before_the_first_reorder);
    RUN(old_ids_that_are_no_permutation_are_found);
    RUN(a_conversion_that_fails_leaves_nothing);
    folder_remove();
    return test_finish();
}
