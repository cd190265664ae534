/* test_plan_tool.c - ggnn-data rank, place, partition, and the files that they write. */
#include "datasets/plan_file.h"
#include "datasets/topology.h"
#include "tests/test.h"
#include "tests/tool.h"

static char graph[600], other[600], made[600], topology[600];

static char* with(char* line, const char* format, const char* a, const char* b)
{
    snprintf(line, 2000, format, a, b);
    return line;
}
static int tool_on(const char* command, const char* options) /* on the graph */
{
    char line[4000];
    snprintf(line, sizeof line, "%s %s %s", command, graph, options);
    return run("", line);
}
static void put(const char* path, const char* text) { write_file(path, text, strlen(text)); }

static void make_graphs(void)
{
    char line[2000];
    folder_path(graph, "graph.ggnn");
    folder_path(other, "other.ggnn");
    folder_path(made, "made.ggnn");
    folder_path(topology, "topology");
    CHECK_EQ(run("", with(line, "generate citation %s --nodes 4000 --edges 32000 --features 8%s", graph, "")), 0);
    CHECK_EQ(run("", with(line, "generate citation %s --nodes 4000 --edges 32000 --features 8 --seed 2%s", other, "")), 0);
}

/* ---- place ----------------------------------------------------------------------------------------------------- */

/* As a DGX-1V prints it, with network cards, a header that is underlined, affinities and a legend. */
static const char smi[] =
    "\t\033[4mGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\tmlx5_0\tmlx5_1\tCPU Affinity\tNUMA Affinity\033[0m\n"
    "GPU0\t X \tNV1\tNV1\tNV2\tNV2\tSYS\tSYS\tSYS\tPIX\tPHB\t0-19,40-59\t0\n"
    "GPU1\tNV1\t X \tNV2\tNV1\tSYS\tNV2\tSYS\tSYS\tPIX\tPHB\t0-19,40-59\t0\n"
    "GPU2\tNV1\tNV2\t X \tNV2\tSYS\tSYS\tNV1\tSYS\tPHB\tPIX\t0-19,40-59\t0\n"
    "GPU3\tNV2\tNV1\tNV2\t X \tSYS\tSYS\tSYS\tNV1\tPHB\tPIX\t0-19,40-59\t0\n"
    "GPU4\tNV2\tSYS\tSYS\tSYS\t X \tNV1\tNV1\tNV2\tSYS\tSYS\t20-39,60-79\t1\n"
    "GPU5\tSYS\tNV2\tSYS\tSYS\tNV1\t X \tNV2\tNV1\tSYS\tSYS\t20-39,60-79\t1\n"
    "GPU6\tSYS\tSYS\tNV1\tSYS\tNV1\tNV2\t X \tNV2\tSYS\tSYS\t20-39,60-79\t1\n"
    "GPU7\tSYS\tSYS\tSYS\tNV1\tNV2\tNV1\tNV2\t X \tSYS\tSYS\t20-39,60-79\t1\n"
    "mlx5_0\tPIX\tPIX\tPHB\tPHB\tSYS\tSYS\tSYS\tSYS\t X \tPHB\n"
    "mlx5_1\tPHB\tPHB\tPIX\tPIX\tSYS\tSYS\tSYS\tSYS\tPHB\t X \n\n"
    "Legend:\n\n  X    = Self\n  SYS  = Connection traversing PCIe as well as the SMP interconnect between NUMA nodes\n";

TEST(nvidia_smis_table_is_read_as_it_is)
{
    ggnn_topology t, dgx;
    error why = {""};
    put(topology, smi);
    CHECK(topology_read(&t, topology, 0, &why));
    CHECK(topology_read(&dgx, "dgx-1v", 0, &why));
    CHECK_EQ(t.devices, 8);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) CHECK(t.bandwidth[i][j] == dgx.bandwidth[i][j]);
    put(topology, "     GPU0 GPU1 GPU2 CPU Affinity\nGPU0 X NV12 PIX 0-7\nGPU1 NV12 X PHB 0-7\nGPU2 PXB NODE X 0-7\n");
    CHECK(topology_read(&t, topology, 3, &why));
    CHECK(t.bandwidth[0][1] == 300 && t.bandwidth[0][2] == 12 && t.bandwidth[1][2] == 0 && t.bandwidth[2][0] == 12);
}

static void refuses(const char* text, const char* words)
{
    ggnn_topology t;
    error why = {""};
    put(topology, text);
    CHECK(!topology_read(&t, topology, 0, &why));
    if (!CHECK(strstr(why.text, words) != NULL)) printf("  says: %s\n", why.text);
}

TEST(what_is_no_topology_is_refused_by_line_and_word)
{
    char wide[200] = "", line[2000];
    for (int i = 0; i < 17; i++) strcat(wide, "1 ");
    refuses("", "no line with a word");
    refuses("# nothing\n\n", "no line with a word");
    refuses("700 50\n50 x\n", "line 2: not a number: \"x\"");
    refuses("700 50\n50 700 1\n", "line 2: 3 numbers, the first row has 2");
    refuses("700 50\n", "line 1: 1 rows for 2 columns");
    refuses("700 50\n50 700\n1 2\n", "line 3: a row more");
    refuses("700 -1\n50 700\n", "row 0, column 1 (from 0): a bandwidth is negative");
    refuses("700 50\n# a comment\nnan 700\n", "row 1, column 0 (from 0): a bandwidth is negative or not finite");
    refuses("700 50\n50 0\n", "row 1, column 1 (from 0): a device cannot read its own memory");
    refuses(wide, "line 1: more than 16 devices");
    refuses("GPU0 GPU1\nGPU0 X NV2\nGPU1 QPI X\n", "line 3: not a link that nvidia-smi names: \"QPI\"");
    refuses("GPU0 GPU1\nGPU0 X NV2\n", "1 rows for 2 devices");
    refuses("GPU0 GPU1\nGPU0 X\n", "line 2: not a link");
    write_file(topology, "1 2\n\0 4\n", 8);
    CHECK_EQ(run("", with(line, "place %s%s", topology, "")), 1);
    CHECK(says("err", "holds zeros"));
}

/* Device 0 reads device 15 over two links, and 15 reads 0 over none. */
TEST(a_topology_has_up_to_sixteen_devices)
{
    for (int devices = 16; devices <= 17; devices++) {
        char table[4096] = "", matrix[4096] = "";
        ggnn_topology t;
        for (int i = 0; i < devices; i++) sprintf(table + strlen(table), "GPU%d%s", i, i + 1 < devices ? " " : "\n");
        for (int i = 0; i < devices; i++) {
            sprintf(table + strlen(table), "GPU%d", i);
            for (int j = 0; j < devices; j++) {
                strcat(table, i == j ? " X" : i == 0 && j == 15 ? " NV2" : " SYS");
                strcat(matrix, i == j ? " 700" : i == 0 && j == 15 ? " 50" : " 0");
            }
            strcat(table, "\n");
            strcat(matrix, "\n");
        }
        for (int form = 0; form < 2; form++) {
            error why = {""};
            put(topology, form ? matrix : table);
            CHECK_EQ(topology_read(&t, topology, 0, &why), devices == 16);
            if (devices == 16) CHECK(t.devices == 16 && t.bandwidth[0][15] == 50 && t.bandwidth[15][0] == 0 && t.bandwidth[15][15] == 700);
            else CHECK(strstr(why.text, "line 1: more than 16 devices"));
        }
    }
}

TEST(place_prints_plans_for_people_and_as_json)
{
    char line[2000];
    CHECK_EQ(run("", "place dgx-1v --rule pruned"), 0);
    CHECK(says("out", "2 parts on the fullest, 16 copies"));
    CHECK(says("out", "least bandwidth 25 (modelled), 121 plans examined, complete"));
    CHECK(says("out", "     2   6  1  2  3  2  0  3  1   2 4\n"));
    CHECK_EQ(run("", "place dgx-1v --rule pruned --json"), 0);
    CHECK(says("out", "\"bandwidth\": 25"));
    CHECK(says("out", "\"plans\": 121"));
    CHECK(says("out", "\"complete\": true"));
    CHECK(says("out", "\"parts\": [\n    [0, 5],"));
    CHECK(says("out", "\"sources\": [\n    [0, 4, 2, 3, 4, 0, 3, 1],"));
    CHECK_EQ(run("", "place pcie-pairs --devices 16 --rule pruned --plans 100 --json"), 0);
    CHECK(says("out", "\"complete\": false"));
    CHECK_EQ(run("", "place dgx-1v --device-list 0,1,4,5 --json"), 0); /* a ring */
    CHECK(says("out", "\"most\": 2"));
    put(topology, "700 50 0\n0 700,50\n0 0 700\n"); /* one way */
    CHECK_EQ(run("", with(line, "place %s --json%s", topology, "")), 0);
    put(topology, smi);
    CHECK_EQ(run("", with(line, "place %s --devices 4%s", topology, "")), 1);
    CHECK(says("err", "a topology of 8 devices, not of 4"));
}

TEST(devices_of_a_list_keep_who_reads_whom)
{
    static const int64_t list[] = {2, 0};
    ggnn_topology t;
    error why = {""};
    put(topology, "9 1 2\n3 8 4\n5 6 7\n");
    CHECK(topology_read(&t, topology, 0, &why) && topology_keep(&t, list, 2, &why));
    CHECK_EQ(t.devices, 2);
    CHECK(t.bandwidth[0][0] == 7 && t.bandwidth[0][1] == 5 && t.bandwidth[1][0] == 2 && t.bandwidth[1][1] == 9);
}

TEST(place_refuses_what_cannot_be_meant)
{
    CHECK_EQ(run("", "place"), 2);
    CHECK_EQ(run("", "place dgx-1v --rule greedy"), 2);
    CHECK_EQ(run("", "place dgx-1v --plans 0"), 2);
    CHECK_EQ(run("", "place ring --devices 17"), 2);
    CHECK_EQ(run("", "place dgx-1v --device-list 0,8"), 2);
    CHECK(says("err", "device 8: the topology has devices 0 to 7"));
    CHECK_EQ(run("", "place dgx-1v --device-list 1,1"), 2);
    CHECK_EQ(run("", "place dgx-1v --devices 9"), 1);
    CHECK_EQ(run("", "place no_such_file"), 1);
}

/* ---- rank ------------------------------------------------------------------------------------------------------ */

TEST(every_policy_writes_a_ranking_that_opens_beside_its_graph_alone)
{
    static const char* const by[] = {"degree", "aligraph", "presc", "optimal", "random"};
    dataset d, wrong;
    ranking r;
    error why = {""};
    char line[2000], path[700];
    snprintf(path, sizeof path, "%s.rank", graph);
    CHECK(dataset_open(&d, graph, &why) && dataset_open(&wrong, other, &why));
    for (int i = 0; i < 5; i++) {
        CHECK_EQ(tool_on("rank", with(line, "--fanout 5,5 --batch 64 --by %s%s", by[i], "")), 0);
        CHECK(ranking_open(&r, path, &d, &why));
        CHECK(r.cached == NULL);
        ranking_close(&r);
    }
    CHECK(!ranking_open(&r, path, &wrong, &why));
    CHECK(strstr(why.text, "another graph") && strstr(why.text, "other.ggnn"));
    CHECK_EQ(run("", with(line, "verify %s%s", graph, "")), 0); /* the graph is as it was */
    CHECK_EQ(tool_on("rank", "--by dual --fanout 5,5 --cache-bytes 20K --slopes 1000,1000"), 0);
    CHECK(says("out", "fit 20480 bytes"));
    CHECK(ranking_open(&r, path, &d, &(error){""}));
    CHECK(r.cached && r.cached[0] > 0 && r.cached[1] > 0);
    ranking_close(&r);
    dataset_close(&d);
    dataset_close(&wrong);
}

TEST(the_degree_ranking_is_that_of_the_graphs_degrees)
{
    dataset d;
    ranking r;
    error why = {""};
    char line[2000];
    CHECK_EQ(tool_on("rank", with(line, "--by degree --out %s%s", made, "")), 0);
    CHECK(dataset_open(&d, graph, &why) && ranking_open(&r, made, &d, &why));
    int64_t* out = calloc((size_t)d.num_nodes, sizeof *out);
    ggnn_node* at = calloc((size_t)d.num_nodes, sizeof *at);
    for (int64_t e = 0; e < d.num_edges; e++) out[d.csc.indices[e]]++;
    for (int64_t v = 0; v < d.num_nodes; v++) at[r.rows[v]] = (ggnn_node)v;
    for (int64_t i = 1; i < d.num_nodes; i++)
        CHECK(out[at[i - 1]] > out[at[i]] || (out[at[i - 1]] == out[at[i]] && at[i - 1] < at[i]));
    free(out);
    free(at);
    ranking_close(&r);
    dataset_close(&d);
}

TEST(a_ranking_may_cache_the_rows_and_lists_of_all_nodes)
{
    dataset d;
    ranking r;
    error why = {""};
    CHECK(dataset_open(&d, graph, &why));
    ggnn_node* rank = calloc((size_t)d.num_nodes, sizeof *rank);
    const int64_t cached[2] = {d.num_nodes, d.num_nodes};
    for (int64_t v = 0; v < d.num_nodes; v++) rank[v] = (ggnn_node)v;
    CHECK(ranking_write(made, &d, "test", rank, rank, cached, &why) && ranking_open(&r, made, &d, &why));
    CHECK(r.cached && r.cached[0] == d.num_nodes && r.cached[1] == d.num_nodes);
    ranking_close(&r);
    free(rank);
    dataset_close(&d);
}

TEST(rankings_that_are_broken_are_refused)
{
    dataset d;
    ranking r;
    error why = {""};
    CHECK(dataset_open(&d, graph, &why));
    ggnn_node* rank = calloc((size_t)d.num_nodes, sizeof *rank);
    const int64_t cached[2] = {0, d.num_nodes + 1};
    for (int64_t v = 0; v < d.num_nodes; v++) rank[v] = (ggnn_node)v;
    CHECK(ranking_write(made, &d, "test", rank, rank, cached, &why));
    CHECK(!ranking_open(&r, made, &d, &why));
    CHECK(strstr(why.text, "cached"));
    rank[3] = 2;
    why.text[0] = 0;
    CHECK(ranking_write(made, &d, "test", rank, rank, NULL, &why));
    CHECK(!ranking_open(&r, made, &d, &why));
    CHECK(strstr(why.text, "node 3 has rank 2, which is another node's"));
    rank[3] = (ggnn_node)d.num_nodes;
    why.text[0] = 0;
    CHECK(ranking_write(made, &d, "test", rank, rank, NULL, &why));
    CHECK(!ranking_open(&r, made, &d, &why));
    CHECK(strstr(why.text, "outside [0, N)"));
    why.text[0] = 0;
    CHECK(!ranking_open(&r, graph, &d, &why)); /* a graph is no ranking */
    free(rank);
    dataset_close(&d);
}

TEST(rank_and_partition_refuse_what_cannot_be_meant)
{
    char line[2000];
    CHECK_EQ(tool_on("rank", "--by hotness"), 2);
    CHECK_EQ(tool_on("rank", "--by dual"), 2);
    CHECK(says("err", "--cache-bytes"));
    CHECK_EQ(tool_on("rank", "--by dual --cache-bytes 1M --slopes 1"), 2);
    CHECK_EQ(tool_on("rank", "--fanout 1,1,1,1,1,1,1,1,1"), 2);
    CHECK_EQ(tool_on("rank", with(line, "--out %s%s", graph, "")), 2);
    CHECK_EQ(tool_on("rank", "--split 7"), 1);
    CHECK_EQ(tool_on("partition", "--parts 65"), 2);
    CHECK_EQ(tool_on("partition", "--method mincut --balance edges"), 2);
    CHECK(says("err", "--balance edges: --method mincut weighs no nodes; metis does"));
    CHECK_EQ(tool_on("partition", "--fanout 1,1,1,1,1,1,1,1,1"), 2);
    CHECK_EQ(tool_on("partition", with(line, "--out %s%s", graph, "")), 2);
    CHECK_EQ(run("", with(line, "generate path %s%s", made, "")), 0);
    CHECK_EQ(run("", with(line, "partition %s --method pagraph%s", made, "")), 1);
    CHECK(says("err", "no training nodes"));
    CHECK_EQ(run("", with(line, "partition %s --method mincut%s", made, "")), 0); /* it needs none */
    CHECK(says("out", "replication 0.000, cut "));
    CHECK(says("out", "% (counted)\n"));
}

/* With METIS few edges are cut, fewer than by hash; without it there is a message, and no other method's result. */
TEST(metis_divides_or_says_that_it_is_not_there)
{
    char line[2000];
    remove(made);
    const int code = tool_on("partition", with(line, "--method metis --json --out %s%s", made, ""));
    if (code != 0) {
        CHECK_EQ(code, 1);
        CHECK(says("err", "built without METIS"));
        CHECK(access(made, F_OK) != 0);
        SKIP("METIS is not there");
    }
    const char* cut = strstr(output("out"), "\"cut\": ");
    if (CHECK(cut != NULL)) CHECK(atof(cut + 7) < .4); /* hash: .75 */
    CHECK_EQ(tool_on("partition", "--method metis --parts 1"), 0);
}

static double json_value(const char* key)
{
    const char* at = strstr(output("out"), key);
    return CHECK(at != NULL) ? atof(at + strlen(key)) : NAN;
}

/* The training set is local: equally many nodes leave a part with most of what is sampled. */
TEST(metis_balances_sampled_edges_where_it_is_asked_to)
{
    static const char edges[] = "--method metis --balance edges --fanout 5,5 --batch 64 --json";
    char line[2000];
    int code = tool_on("partition", edges);
    if (code != 0) {
        CHECK(says("err", "built without METIS"));
        SKIP("METIS is not there");
    }
    CHECK(json_value("\"edge_balance\": ") < 1.06);
    const double balance = json_value("\"balance\": ");
    CHECK_EQ(tool_on("partition", "--method metis --balance vertices --json"), 0);
    CHECK(strstr(output("out"), "edge_balance") == NULL);
    CHECK(json_value("\"balance\": ") < 1.06 && balance > 1.06);
    CHECK_EQ(tool_on("partition", "--method metis --balance edges --fanout 5,5 --batch 64 --presample-epochs 3 --seed 4"), 0);
    CHECK(says("out", "of sampled edges 1.0"));
    CHECK_EQ(run("", with(line, "generate path %s%s", made, "")), 0);
    CHECK_EQ(run("", with(line, "partition %s --method metis --balance edges%s", made, "")), 1);
    CHECK(says("err", "no training nodes"));
}

/* ---- reorder --------------------------------------------------------------------------------------------------- */

/* Edge u -> v of the old graph is rank[u] -> rank[v] of the new one, and every row went along. */
TEST(a_reordered_graph_is_the_same_graph_with_other_numbers)
{
    dataset d, new;
    ranking r;
    error why = {""};
    char line[2000], path[700];
    snprintf(path, sizeof path, "%s.rank", graph);
    CHECK_EQ(tool_on("rank", "--by presc --fanout 5,5 --batch 64"), 0);
    CHECK_EQ(tool_on("reorder", made), 0);
    CHECK(says("out", "4000 nodes in the order of their rows, 32000 edges"));
    CHECK_EQ(run("", with(line, "verify %s%s", made, "")), 0);
    if (!CHECK(dataset_open(&d, graph, &why) && dataset_open(&new, made, &why) && ranking_open(&r, path, &d, &why))) return;
    CHECK_EQ(new.num_edges, d.num_edges);
    for (int64_t v = 0; v < d.num_nodes; v++) {
        const int64_t to = r.rows[v], begin = new.csc.indptr[to], end = new.csc.indptr[to + 1];
        uint64_t old_sum = 0, new_sum = 0; /* lists as sets: sorted anew */
        CHECK_EQ(end - begin, d.csc.indptr[v + 1] - d.csc.indptr[v]);
        for (int64_t e = begin; e < end; e++) {
            CHECK(e == begin || new.csc.indices[e - 1] <= new.csc.indices[e]);
            new_sum += ggnn_philox(1, (uint64_t)new.csc.indices[e], 0).word[0];
        }
        for (int64_t e = d.csc.indptr[v]; e < d.csc.indptr[v + 1]; e++)
            old_sum += ggnn_philox(1, (uint64_t)r.rows[d.csc.indices[e]], 0).word[0];
        CHECK(old_sum == new_sum);
        CHECK_EQ(new.external_id[to], v);
        CHECK_EQ(new.label[to], d.label[v]);
        CHECK_EQ(new.split[to], d.split[v]);
        CHECK(memcmp((const float*)new.feat.rows + to * 8, (const float*)d.feat.rows + v * 8, 8 * sizeof(float)) == 0);
    }
    dataset_close(&new);
    dataset_close(&d);
    ranking_close(&r);
    CHECK_EQ(tool_on("reorder", graph), 2);
    CHECK_EQ(tool_on("reorder", path), 2);
    snprintf(line, sizeof line, "reorder %s %s --ranking %s", other, made, path);
    CHECK_EQ(run("", line), 1);
    CHECK(says("err", "another graph"));
}

enum { FULL_N = 5, FULL_E = 6, FULL_SPLITS = 3 };
static const int64_t full_indptr[] = {0, 2, 3, 3, 5, 6};
static const ggnn_node full_indices[] = {1, 4, 0, 0, 2, 3}, full_rank[] = {4, 2, 0, 1, 3};
static const float full_weight[] = {0, 10, 20, 30, 40, 50};
static const int32_t full_label[] = {3, 1, 2, -1, 0};
static const uint8_t full_split[FULL_SPLITS][FULL_N] = {{1, 2, 3, 0, 1}, {3, 3, 1, 0, 2}, {0, 1, 1, 0, 3}};

/* A graph with every section that reorder copies, and MADE.rank beside it. */
static void make_full(char rank_path[700])
{
    static const int64_t rows = FULL_N + 1, nodes = FULL_N, edges = FULL_E, one = 1, wide[2] = {FULL_N, 2}, dim[2] = {FULL_E, 1},
                         splits[2] = {FULL_SPLITS, FULL_N}, name[] = {700, 50, -3, 8, 9};
    float feat[FULL_N * 2], edge_feat[FULL_E];
    const double rule = .5;
    ggnn_file_writer w;
    dataset d;
    error why = {""};
    for (int i = 0; i < FULL_N * 2; i++) feat[i] = (float)i;
    for (int e = 0; e < FULL_E; e++) edge_feat[e] = 100 + full_weight[e];
    CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, full_indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, full_indices) &&
          ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &edges, full_weight) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, wide, feat) &&
          ggnn_file_append(&w, "edge_feat", GGNN_FILE_F32, 2, dim, edge_feat) &&
          ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, full_label) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, full_split) &&
          ggnn_file_append(&w, "external_id", GGNN_FILE_I64, 1, &nodes, name) &&
          ggnn_file_append(&w, "features_only", GGNN_FILE_F64, 1, &one, &rule) && ggnn_file_commit(&w));
    snprintf(rank_path, 700, "%s.rank", made);
    CHECK(dataset_open(&d, made, &why) && ranking_write(rank_path, &d, "test", full_rank, full_rank, NULL, &why));
    dataset_close(&d);
}

/* Weights and edge features follow their edges; features, labels, splits and names their nodes. */
TEST(rows_of_edges_and_nodes_follow_them)
{
    dataset d, new;
    error why = {""};
    char line[2000], path[700], out[700];
    make_full(path);
    snprintf(out, sizeof out, "%s.new", made);
    CHECK_EQ(run("", with(line, "reorder %s %s --of lists --json", made, out)), 0);
    if (!CHECK(dataset_open(&d, made, &why) && dataset_open(&new, out, &why))) return;
    for (int64_t v = 0; v < FULL_N; v++) {
        const int64_t to = full_rank[v];
        for (int64_t e = full_indptr[v]; e < full_indptr[v + 1]; e++) {
            int64_t at = new.csc.indptr[to];
            while (at < new.csc.indptr[to + 1] && new.csc.indices[at] != full_rank[full_indices[e]]) at++;
            if (!CHECK(at < new.csc.indptr[to + 1])) continue;
            CHECK(new.csc.weight[at] == full_weight[e]);
            CHECK(((const float*)new.edge_feat.rows)[at] == 100 + full_weight[e]);
        }
        CHECK(memcmp((const float*)new.feat.rows + to * 2, (const float*)d.feat.rows + v * 2, 2 * sizeof(float)) == 0);
        CHECK_EQ(new.label[to], full_label[v]);
        CHECK_EQ(new.external_id[to], d.external_id[v]);
        for (int64_t s = 0; s < FULL_SPLITS; s++) CHECK_EQ(new.split[s * FULL_N + to], full_split[s][v]);
    }
    CHECK_EQ(new.num_splits, FULL_SPLITS);
    CHECK(ggnn_file_find(&new.file, "features_only") != NULL);
    dataset_close(&d);
    dataset_close(&new);
}

/* A byte of each section in turn: it would get a good CRC. */
TEST(a_damaged_section_is_not_reordered)
{
    ggnn_file f;
    char line[4000], path[700], out[710], damaged[710], words[64];
    make_full(path);
    snprintf(out, sizeof out, "%s.new", made);
    snprintf(damaged, sizeof damaged, "%s.damaged", made);
    CHECK(ggnn_file_open(&f, made));
    unsigned char* whole = malloc((size_t)f.bytes);
    memcpy(whole, f.base, (size_t)f.bytes);
    CHECK_EQ(f.num_sections, 9);
    for (int32_t i = 0; i < f.num_sections; i++) {
        const int64_t at = f.section[i].offset + f.section[i].bytes / 2;
        whole[at] ^= 1;
        write_file(damaged, whole, (size_t)f.bytes);
        whole[at] ^= 1;
        remove(out);
        snprintf(line, sizeof line, "reorder %s %s --ranking %s", damaged, out, path);
        CHECK_EQ(run("", line), 1);
        snprintf(words, sizeof words, "damaged section '%s'", f.section[i].name);
        CHECK(says("err", words) && access(out, F_OK) != 0 && temporaries() == 0);
    }
    free(whole);
    ggnn_file_close(&f);
}

/* By hand: in-lists 0: 1, 4; 1: 0; 3: 0, 2; 4: 3. Split 0 trains 0 and 4, split 1 node 2, split 2 nodes 1 and 2. */
TEST(rank_and_partition_take_the_split_that_is_asked_for)
{
    dataset d;
    ranking r;
    error why = {""};
    char line[2000], path[700];
    make_full(path);
    CHECK_EQ(run("", with(line, "partition %s --method range --parts 2 --hops 1 --json%s", made, "")), 0);
    CHECK(says("out", "\"trained\": [1, 1]") && says("out", "\"held\": [3, 2]"));
    CHECK_EQ(run("", with(line, "partition %s --method range --parts 2 --hops 1 --split 2 --json%s", made, "")), 0);
    CHECK(says("out", "\"trained\": [2, 0]") && says("out", "\"held\": [3, 0]"));
    CHECK(says("out", "\"trained_balance\": 2,"));
    CHECK_EQ(run("", with(line, "rank %s --by presc --fanout 5 --split 1%s", made, "")), 0);
    CHECK(dataset_open(&d, made, &why) && ranking_open(&r, path, &d, &why));
    CHECK(r.rows[2] == 0 && r.lists[2] == 0);
    ranking_close(&r);
    CHECK_EQ(run("", with(line, "rank %s --by presc --fanout 5 --split 2%s", made, "")), 0);
    CHECK(ranking_open(&r, path, &d, &why));
    CHECK(r.rows[0] < 3 && r.rows[1] < 3 && r.rows[2] < 3 && r.lists[1] < 2 && r.lists[2] < 2);
    ranking_close(&r);
    dataset_close(&d);
}

/* A list: its offset, and of each edge an id and a weight. All lists fit. */
TEST(dual_counts_the_bytes_of_weighted_lists)
{
    char line[2000], path[700], words[64];
    make_full(path);
    CHECK_EQ(run("", with(line, "rank %s --by dual --fanout 5 --split 2 --cache-bytes 1M --json%s", made, "")), 0);
    snprintf(words, sizeof words, "\"list_bytes\": %d,", (int)(FULL_N * 8 + FULL_E * (sizeof(ggnn_node) + 4)));
    CHECK(says("out", words));
}

/* ---- partition ------------------------------------------------------------------------------------------------- */

TEST(partitions_are_written_beside_the_graph_and_their_figures_printed)
{
    static const char* const method[] = {"mincut", "hash", "mod", "range", "pagraph"};
    dataset d, wrong;
    partition p;
    error why = {""};
    char line[2000], path[700];
    snprintf(path, sizeof path, "%s.part", graph);
    CHECK(dataset_open(&d, graph, &why) && dataset_open(&wrong, other, &why));
    for (int i = 0; i < 5; i++) {
        int64_t none = 0;
        CHECK_EQ(tool_on("partition", with(line, "--parts 3 --method %s%s", method[i], "")), 0);
        CHECK(says("out", "balance 1."));
        CHECK(says("out", "replication "));
        CHECK((strstr(output("out"), "cut ") != NULL) == (i < 4));
        CHECK(partition_open(&p, path, &d, &why));
        CHECK_EQ(p.parts, 3);
        for (int64_t v = 0; v < d.num_nodes; v++) none += p.owner[v] < 0;
        CHECK((none > 0) == (i == 4));
        partition_close(&p);
        CHECK_EQ(tool_on("partition", with(line, "--parts 3 --method %s --json%s", method[i], "")), 0);
        CHECK(says("out", "\"replication\": "));
    }
    int32_t* owner = malloc((size_t)d.num_nodes * sizeof *owner);
    CHECK(partition_open(&p, path, &d, &why) && partition_read(owner, path, &d, 3, &why));
    CHECK(memcmp(owner, p.owner, (size_t)d.num_nodes * sizeof *owner) == 0);
    CHECK(!partition_read(owner, path, &d, 4, &why));
    CHECK(strstr(why.text, "it has 3 parts, here are 4 devices: give it --devices 3, or make one by ggnn-data partition --parts 4"));
    why.text[0] = 0;
    partition_close(&p);
    free(owner);
    CHECK_EQ(tool_on("partition", "--method pagraph --closure-limit 3"), 0);
    CHECK(says("out", "--closure-limit cut them"));
    CHECK(!partition_open(&p, path, &wrong, &why));
    CHECK(strstr(why.text, "another graph"));
    dataset_close(&d);
    dataset_close(&wrong);
}

TEST(every_allocation_may_fail)
{
    static const char* const command[] = {"rank --fanout 3,3", "partition --method mincut", "partition --method pagraph", "place",
                                         "reorder", "partition --method metis --balance edges --fanout 3,3"};
    const int commands = tool_on("partition", "--method metis") == 0 ? 6 : 5;
    put(topology, "700\n");
    for (int c = 0; c < commands; c++) {
        int n = 1, code = 1;
        for (; n < 60 && code != 0; n++) {
            char before[100], line[2000];
            snprintf(before, sizeof before, "GGNN_TEST_FAIL_ALLOCATION=%d", n);
            snprintf(line, sizeof line, c < 3 || c == 5 ? "%s %s --out %s" : c == 3 ? "%s %s" : "%s %s %s", command[c], c == 3 ? topology : graph, made);
            remove(made);
            code = run(before, line);
            CHECK(code == 0 || (code == 1 && access(made, F_OK) != 0 && says("err", "memory")));
            CHECK_EQ(temporaries(), 0);
        }
        CHECK(n > 2 && n < 60);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find(argv[0]);
    folder_make();
    make_graphs();
    RUN(nvidia_smis_table_is_read_as_it_is);
    RUN(what_is_no_topology_is_refused_by_line_and_word);
    RUN(a_topology_has_up_to_sixteen_devices);
    RUN(place_prints_plans_for_people_and_as_json);
    RUN(devices_of_a_list_keep_who_reads_whom);
    RUN(place_refuses_what_cannot_be_meant);
    RUN(every_policy_writes_a_ranking_that_opens_beside_its_graph_alone);
    RUN(the_degree_ranking_is_that_of_the_graphs_degrees);
    RUN(a_ranking_may_cache_the_rows_and_lists_of_all_nodes);
    RUN(rankings_that_are_broken_are_refused);
    RUN(a_reordered_graph_is_the_same_graph_with_other_numbers);
    RUN(rows_of_edges_and_nodes_follow_them);
    RUN(a_damaged_section_is_not_reordered);
    RUN(rank_and_partition_take_the_split_that_is_asked_for);
    RUN(dual_counts_the_bytes_of_weighted_lists);
    RUN(metis_divides_or_says_that_it_is_not_there);
    RUN(metis_balances_sampled_edges_where_it_is_asked_to);
    RUN(rank_and_partition_refuse_what_cannot_be_meant);
    RUN(partitions_are_written_beside_the_graph_and_their_figures_printed);
    RUN(every_allocation_may_fail);
    folder_remove();
    return test_finish();
}
