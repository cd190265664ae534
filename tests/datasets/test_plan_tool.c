/* test_plan_tool.c - ggnn-data rank, place, partition, and the files that they write. */
#include "datasets/plan_file.h"
#include "datasets/topology.h"
#include "tests/archive.h"
#include "tests/random_graph.h"
#include "tests/test.h"
#include "tests/tool.h"

static char graph[600], other[600], made[600], topology[600], own[600];

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
static void put_text(const char* path, const char* text) { write_file(path, text, strlen(text)); }

/* The shortest text that reads back equal. */
static const char* shortest(double value)
{
    static char text[4][40];
    static int next;
    char* of = text[next++ % 4];
    int digits = 1;
    do snprintf(of, sizeof text[0], "%.*g", digits, value);
    while (digits++ < 17 && strtod(of, NULL) != value);
    return of;
}

static void make_graphs(void)
{
    char line[2000];
    folder_path(graph, "graph.ggnn");
    folder_path(other, "other.ggnn");
    folder_path(made, "made.ggnn");
    folder_path(topology, "topology");
    folder_path(own, "own.npy");
    CHECK_EQ(run("", with(line, "generate citation %s --nodes 4000 --edges 32000 --features 8%s", graph, "")), 0);
    CHECK_EQ(run("", with(line, "generate citation %s --nodes 4000 --edges 32000 --features 8 --seed 2%s", other, "")), 0);
}

/* A .npy file of `count` elements of 4 or 8 bytes, integers or the bits of floats; type ">i4": the larger bytes first. */
static void put_array(const char* path, const char* type, const int64_t* value, int64_t count)
{
    const int size = type[2] - '0';
    char shape[30];
    bytes data = {0};
    snprintf(shape, sizeof shape, "%lld,", (long long)count);
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < size; k++)
            put_number(&data, (uint64_t)value[i] >> 8 * (type[0] == '>' ? size - 1 - k : k) & 255, 1);
    bytes file = npy_of(type, shape, false, data.data, data.size);
    write_file(path, file.data, file.size);
    drop(&data);
    drop(&file);
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
    put_text(topology, smi);
    CHECK(topology_read(&t, topology, 0, &why));
    CHECK(topology_read(&dgx, "dgx-1v", 0, &why));
    CHECK_EQ(t.devices, 8);
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++) CHECK(t.bandwidth[i][j] == dgx.bandwidth[i][j]);
    put_text(topology, "     GPU0 GPU1 GPU2 CPU Affinity\nGPU0 X NV12 PIX 0-7\nGPU1 NV12 X PHB 0-7\nGPU2 PXB NODE X 0-7\n");
    CHECK(topology_read(&t, topology, 3, &why));
    CHECK(t.bandwidth[0][1] == 300 && t.bandwidth[0][2] == 12 && t.bandwidth[1][2] == 0 && t.bandwidth[2][0] == 12);
}

static void refuses(const char* text, const char* words)
{
    ggnn_topology t;
    error why = {""};
    put_text(topology, text);
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
    CHECK(prints("err", "holds zeros"));
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
            put_text(topology, form ? matrix : table);
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
    CHECK(prints("out", "2 parts on the fullest, 16 copies"));
    CHECK(prints("out", "least bandwidth 25 (modelled), 121 plans examined, complete"));
    CHECK(prints("out", "     2   6  1  2  3  2  0  3  1   2 4\n"));
    CHECK_EQ(run("", "place dgx-1v --rule pruned --json"), 0);
    CHECK(prints("out", "\"bandwidth\": 25"));
    CHECK(prints("out", "\"plans\": 121"));
    CHECK(prints("out", "\"complete\": true"));
    CHECK(prints("out", "\"parts\": [\n    [0, 5],"));
    CHECK(prints("out", "\"sources\": [\n    [0, 4, 2, 3, 4, 0, 3, 1],"));
    CHECK_EQ(run("", "place pcie-pairs --devices 16 --rule pruned --plans 100 --json"), 0);
    CHECK(prints("out", "\"complete\": false"));
    CHECK_EQ(run("", "place dgx-1v --device-list 0,1,4,5 --json"), 0); /* a ring */
    CHECK(prints("out", "\"most\": 2"));
    put_text(topology, "700 50 0\n0 700,50\n0 0 700\n"); /* one way */
    CHECK_EQ(run("", with(line, "place %s --json%s", topology, "")), 0);
    put_text(topology, smi);
    CHECK_EQ(run("", with(line, "place %s --devices 4%s", topology, "")), 1);
    CHECK(prints("err", "a topology of 8 devices, not of 4"));
}

TEST(devices_of_a_list_keep_who_reads_whom)
{
    static const int64_t list[] = {2, 0};
    ggnn_topology t;
    error why = {""};
    put_text(topology, "9 1 2\n3 8 4\n5 6 7\n");
    CHECK(topology_read(&t, topology, 0, &why) && topology_keep(&t, list, 2, &why));
    CHECK_EQ(t.devices, 2);
    CHECK(t.bandwidth[0][0] == 7 && t.bandwidth[0][1] == 5 && t.bandwidth[1][0] == 2 && t.bandwidth[1][1] == 9);
    for (int i = 0; i < 2; i++) { /* those of what is kept have new numbers */
        const int64_t beyond[] = {0, i ? 2 : -1};
        char wanted[100];
        why.text[0] = 0;
        CHECK(!topology_keep(&t, beyond, 2, &why));
        snprintf(wanted, sizeof wanted, "device %d: the topology has devices 0 to 1", (int)beyond[1]);
        CHECK_STR(why.text, wanted);
        CHECK(t.devices == 2 && t.bandwidth[0][1] == 5);
    }
}

TEST(place_refuses_what_cannot_be_meant)
{
    CHECK_EQ(run("", "place"), 2);
    CHECK_EQ(run("", "place dgx-1v --rule greedy"), 2);
    CHECK_EQ(run("", "place dgx-1v --plans 0"), 2);
    CHECK_EQ(run("", "place ring --devices 17"), 2);
    CHECK_EQ(run("", "place dgx-1v --device-list 0,8"), 2);
    CHECK(prints("err", "device 8: the topology has devices 0 to 7"));
    CHECK_EQ(run("", "place dgx-1v --device-list 1,1"), 2);
    CHECK_EQ(run("", "place dgx-1v --devices 9"), 1);
    CHECK_EQ(run("", "place no_such_file"), 1);
}

/* All that place prints of a plan: where its rows are narrow, and where they are wide. */
static void expect_plan(const ggnn_placement* p, const char* from, const char* rule, bool json)
{
    const int P = p->devices;
    expect(NULL);
    if (json) expect("{\n  \"topology\": \"%s\",\n  \"rule\": \"%s\",\n  \"devices\": %d,\n  \"parts\": [\n", from, rule, P);
    else expect("%s: %d devices, %d part%s on the fullest, %d copies in all\nleast bandwidth %g (modelled), %lld plans examined, %s\n\n", from, P, p->most,
                p->most == 1 ? "" : "s", p->copies, p->bandwidth, (long long)p->plans, p->complete ? "complete"
                    : "not complete: --plans allows more");
    for (int form = 0; json && form < 2; form++) {
        for (int i = 0; i < P; i++) {
            bool first = true;
            expect("    [");
            for (int k = 0; k < P; k++) {
                if (form == 0 && !(p->stores[i] >> k & 1)) continue;
                expect("%s%d", first ? "" : ", ", form ? p->source[i][k] : k);
                first = false;
            }
            expect("]%s\n", i + 1 < P ? "," : "");
        }
        expect(form ? "  ],\n" : "  ],\n  \"sources\": [\n");
    }
    if (json) expect("  \"most\": %d,\n  \"copies\": %d,\n  \"bandwidth\": %s,\n  \"plans\": %lld,\n  \"complete\": %s\n}\n",
                     p->most, p->copies,
                     shortest(p->bandwidth), (long long)p->plans, p->complete ? "true" : "false");
    if (!json) expect("device  reads part 0 .. %d from%*s  stores\n", P - 1, P > 8 ? 3 * (P - 8) : 0, "");
    for (int i = 0; !json && i < P; i++) {
        char row[100];
        int used = snprintf(row, sizeof row, "%6d ", i);
        for (int k = 0; k < P; k++) used += snprintf(row + used, sizeof row - (size_t)used, " %2d", p->source[i][k]);
        expect("%-*s", P > 8 ? 9 + 3 * P : 33, row);
        for (int k = 0; k < P; k++)
            if (p->stores[i] >> k & 1) expect(" %d", k);
        expect("\n");
    }
}

TEST(place_prints_the_plan_that_the_library_makes)
{
    static const char* const rules[] = {"best", "pruned", "exact", "clique"};
    static const struct {
        const char* name;
        int devices;
        int64_t plans;
    } of[] = {{"dgx-1v", 0, 0}, {"dgx-1v", 6, 0}, {"dgx-a100", 16, 100}, {"pcie-pairs", 9, 50}, {"pcie-pairs", 8, 0},
              {"ring", 1, 0}, {"ring", 7, 300}, {"none", 2, 0}, {"none", 11, 20}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int json = 0; json < 2; json++) {
            const int rule = (int)(i + (size_t)json) % 4;
            ggnn_topology t;
            ggnn_placement plan;
            char line[200], devices[40] = "", plans[40] = "";
            CHECK(ggnn_topology_named(&t, of[i].name, of[i].devices) == GGNN_OK &&
                  ggnn_place_parts(&plan, &t, (ggnn_place_rule)rule, of[i].plans, NULL) == GGNN_OK);
            if (of[i].devices) snprintf(devices, sizeof devices, "--devices %d", of[i].devices);
            if (of[i].plans) snprintf(plans, sizeof plans, "--plans %lld", (long long)of[i].plans);
            snprintf(line, sizeof line, "place %s %s %s %s%s %s", of[i].name, devices, plans, rule ? "--rule " : "", rule
                     ? rules[rule] : "", json ? "--json" : "");
            CHECK_EQ(run("", line), 0);
            expect_plan(&plan, of[i].name, rules[rule], json);
            if (!CHECK(prints_what_is_expected())) printf("  %s\n", line);
        }
}

/* Kept are the devices of a list, of a topology by name or of a file, in its order. */
TEST(place_keeps_the_devices_of_a_list)
{
    static const int64_t list[] = {5, 0, 4, 1, 7};
    ggnn_topology t;
    ggnn_placement plan;
    error why = {""};
    char line[2000];
    CHECK(topology_read(&t, "dgx-1v", 0, &why) && topology_keep(&t, list, 5, &why) &&
          ggnn_place_parts(&plan, &t, GGNN_PLACE_BEST, 0, NULL) == GGNN_OK);
    CHECK_EQ(run("", "place dgx-1v --device-list 3,2 --device-list=5,0,4,1,7 --json"), 0);
    expect_plan(&plan, "dgx-1v", "best", true);
    CHECK(prints_what_is_expected());
    put_text(topology, smi);
    CHECK_EQ(run("", with(line, "place %s --devices 8 --device-list 5,0,4,1,7 --json%s", topology, "")), 0);
    expect_plan(&plan, topology, "best", true);
    CHECK(prints_what_is_expected());
    CHECK_EQ(run("", "place none --devices 16 --device-list 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15 --json"), 0);
    CHECK(prints("out", "\"devices\": 16,"));
    CHECK_EQ(run("", "place none --devices 16 --device-list 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,0"), 2);
    CHECK_STR(printed("err"), "ggnn-data: place: --device-list: more than 16 devices\n");
    CHECK_EQ(run("", "place none --devices 3 --device-list 2,0,2"), 2);
    CHECK_STR(printed("err"), "ggnn-data: place: device 2 is listed twice\n");
    CHECK_EQ(run("", "place none --devices 3 --device-list 2,3"), 2);
    CHECK_STR(printed("err"), "ggnn-data: place: device 3: the topology has devices 0 to 2\n");
    CHECK_EQ(run("", "place dgx-1v --devices 9"), 1);
    CHECK_STR(printed("err"), "ggnn-data: dgx-1v: it has no 9 devices\n");
    CHECK_EQ(run("", with(line, "place %s --devices 9%s", topology, "")), 1);
    CHECK(prints("err", "a topology of 8 devices, not of 9: is it another machine's?\n"));
}

/* The words of nvidia-smi, blanks of all kinds, lines that end as on Windows, comments behind rows; lines without a word. */
TEST(a_topologys_words_and_blanks_are_those_of_its_format)
{
    static const struct {
        const char* text;
        double far; /* device 0 reading device 1 */
    } of[] = {{"GPU0 GPU1\r\nGPU0 X NV100\r\nGPU1 NV1 X\r\n", 2500}, {"\tGPU0\tGPU1\n\nGPU0\tX\tNV12\nGPU1\tNV12\tX", 300},
              {"GPU0 GPU1\nGPU0 X PIX\nGPU1 SYS X\n", 12},
              {"GPU0 GPU1\nGPU0 X PXB\nGPU1 SYS X\n", 12}, {"GPU0 GPU1\nGPU0 X PHB\nGPU1 SYS X\n", 0},
                  {"GPU0 GPU1\nGPU0 X NODE\nGPU1 SYS X\n", 0},
              {"GPU0 GPU1\nGPU0 X SOC\nGPU1 SYS X\n", 0}, {"GPU0 GPU1\nGPU0 X NV0\nGPU1 SYS X\n", 0},
                  {"GPU10 mlx5_0 GPU11\nmlx5_0 PIX X PIX\nGPU10 X PIX NV2\nGPU11 NV2 PIX X\n", 50},
              {"# a machine\n\n 700,50\n,50 , 700,\n  # its end\n", 50}, {"700\t.5e1\r\n5 700\r\n\r\n", 5},
                  {"\033[1m700 \033[4m7\033[0m\n1 700\033[", 7}};
    static const struct {
        const char *text, *words;
    } wrong[] = {{"GPU0 GPU1\nGPU0 X NV\nGPU1 NV1 X\n", "line 2: not a link that nvidia-smi names: \"NV\""},
                 {"GPU0 GPU1\nGPU0 X NV1000\nGPU1 NV1 X\n", "line 2: not a link that nvidia-smi names: \"NV1000\""},
                 {"GPU0 GPU1\nGPU0 X NV1x\nGPU1 NV1 X\n", "line 2: not a link that nvidia-smi names: \"NV1x\""},
                 {"GPU0 GPU1\nGPU0 X nv1\nGPU1 NV1 X\n", "line 2: not a link that nvidia-smi names: \"nv1\""},
                 {"GPU0 GPU1\nGPU0 X NV1\n\nGPU1 NV1\n", "line 4: not a link that nvidia-smi names: \"\""},
                 {"GPU0 GPU1\nGPU0 X NV1\nNIC0 X X\n\n", "line 4: 1 rows for 2 devices"},
                 {"GPU0 GPU1\nGPU0 X NV1\nGPU1 NV1 SYS\n", "row 1, column 1 (from 0): a device cannot read its own memory"},
                 {"GPU 1\n2 3\n", "line 1: not a number: \"GPU\""},
                 {"GPU0x 1\n2 3\n", "line 1: not a number: \"GPU0x\""},
                 {"700 1\n\n# x\n2 3z\n", "line 4: not a number: \"3z\""},
                 {"700 1\n2\n", "line 2: 1 numbers, the first row has 2"},
                 {"700 1 2\n1 700 2\n", "line 2: 2 rows for 3 columns"},
                 {"700 inf\n1 700\n", "row 0, column 1 (from 0): a bandwidth is negative or not finite"}};
    ggnn_topology t;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        error why = {""};
        put_text(topology, of[i].text);
        if (!CHECK(topology_read(&t, topology, 2, &why)) ||
            !CHECK(t.devices == 2 && t.bandwidth[0][1] == of[i].far)) printf("  %s: %s\n", of[i].text, why.text);
        CHECK(t.bandwidth[0][0] == 700 && t.bandwidth[1][1] == 700);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) refuses(wrong[i].text, wrong[i].words);
    for (int words = 255; words <= 2000; words += words < 258 ? 1 : 871) { /* of a line's words 256 count */
        static char many[16000];
        error why = {""};
        strcpy(many, "GPU0");
        for (int i = 2; i < words; i++) strcat(many, " x");
        strcat(many, " GPU1\nGPU0 X");
        for (int i = 2; i < words; i++) strcat(many, " x");
        strcat(many, " NV2\nGPU1 NV4");
        for (int i = 2; i < words; i++) strcat(many, " x");
        put_text(topology, strcat(many, " X\n"));
        CHECK_EQ(topology_read(&t, topology, 0, &why), words < 256 || words > 256);
        if (words == 255) CHECK(t.devices == 2 && t.bandwidth[0][1] == 50 && t.bandwidth[1][0] == 100);
        if (words > 256) CHECK_EQ(t.devices, 1);
    }
    char* large = malloc((1 << 20) + 2);
    for (int more = 0; more < 2; more++) { /* a comment of a mebibyte, or a byte more */
        error why = {""};
        memset(large, '#', (1 << 20) + 1);
        memcpy(large, "700 5\n6 700\n", 12);
        write_file(topology, large, (size_t)(1 << 20) + (size_t)more);
        CHECK_EQ(topology_read(&t, topology, 0, &why), !more);
        CHECK(!more || strstr(why.text, "more than 1048576 bytes are no topology"));
    }
    free(large);
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
        memset(&r, 'x', sizeof r);
        CHECK(ranking_open(&r, path, &d, &why));
        CHECK(r.cached == NULL);
        ranking_close(&r);
    }
    CHECK(!ranking_open(&r, path, &wrong, &why));
    snprintf(line, sizeof line, "%s: it belongs to another graph: that has CRC %08llx, %s has %08llx", path,
             (unsigned long long)ggnn_file_graph_crc(&d.file), other, (unsigned long long)ggnn_file_graph_crc(&wrong.file));
    CHECK_STR(why.text, line);
    CHECK_EQ(run("", with(line, "verify %s%s", graph, "")), 0); /* the graph is as it was */
    CHECK_EQ(tool_on("rank", "--by dual --fanout 5,5 --cache-bytes 20K --slopes 1000,1000"), 0);
    CHECK(prints("out", "fit 20480 bytes"));
    CHECK(ranking_open(&r, path, &d, &(error){""}));
    CHECK(r.cached && r.cached[0] > 0 && r.cached[1] > 0);
    ranking_close(&r);
    dataset_close(&d);
    dataset_close(&wrong);
}

TEST(a_ranking_has_the_same_bytes_on_any_number_of_threads)
{
    static const char* const by[] = {"presc", "optimal", "dual --cache-bytes 20K"};
    static const int threads[] = {1, 2, 3, 5};
    static unsigned char content[2][1 << 17];
    for (int i = 0; i < 3; i++) {
        size_t size[2] = {0, 0};
        for (int t = 0; t < 4; t++) {
            char before[40], line[2000];
            snprintf(before, sizeof before, "OMP_NUM_THREADS=%d", threads[t]);
            snprintf(line, sizeof line, "rank %s --fanout 5,5 --batch 16 --presample-epochs 3 --by %s --out %s", graph, by[i], made);
            CHECK_EQ(run(before, line), 0);
            FILE* f = fopen(made, "rb");
            size[t > 0] = f ? fread(content[t > 0], 1, sizeof *content, f) : 0;
            if (f) fclose(f);
            CHECK(size[t > 0] == size[0] && memcmp(content[0], content[t > 0], size[0]) == 0);
        }
        CHECK(size[0] > 2 * 4000 * sizeof(ggnn_node) && size[0] < sizeof *content);
    }
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
    CHECK(ranking_write(made, &d, "test", rank, rank, cached, NULL, &why) && ranking_open(&r, made, &d, &why));
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
    CHECK(ranking_write(made, &d, "test", rank, rank, cached, NULL, &why));
    CHECK(!ranking_open(&r, made, &d, &why));
    CHECK(strstr(why.text, "cached"));
    rank[3] = 2;
    why.text[0] = 0;
    CHECK(ranking_write(made, &d, "test", rank, rank, NULL, NULL, &why));
    CHECK(!ranking_open(&r, made, &d, &why));
    CHECK(strstr(why.text, "node 3 has rank 2, which is another node's"));
    rank[3] = (ggnn_node)d.num_nodes;
    why.text[0] = 0;
    CHECK(ranking_write(made, &d, "test", rank, rank, NULL, NULL, &why));
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
    CHECK(prints("err", "--cache-bytes"));
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(tool_on("rank", i ? "--slopes 1,2,3" : "--by dual --cache-bytes 1M --slopes 1"), 2);
        CHECK_STR(printed("err"), "ggnn-data: rank: --slopes: two numbers, A,F\n");
        CHECK_EQ(tool_on(i ? "partition --method mod" : "rank", "--fanout 1,1,1,1,1,1,1,1,1"), 2);
        CHECK(prints("err", ": --fanout: more than 8 hops\n"));
        CHECK_EQ(tool_on(i ? "partition --method mod" : "rank", "--fanout 1,1,1,1,1,1,1,1"), 0);
    }
    CHECK_EQ(tool_on("rank", with(line, "--out %s%s", graph, "")), 2);
    CHECK_EQ(tool_on("rank", "--split 7"), 1);
    CHECK_EQ(tool_on("partition", "--parts 65"), 2);
    CHECK_EQ(tool_on("partition", "--method mincut --balance edges"), 2);
    CHECK(prints("err", "--balance edges: --method mincut weighs no nodes; metis does"));
    CHECK_EQ(tool_on("partition", "--fanout 1,1,1,1,1,1,1,1,1"), 2);
    CHECK_EQ(tool_on("partition", with(line, "--out %s%s", graph, "")), 2);
    CHECK_EQ(tool_on("rank", "--by file"), 2);
    CHECK_STR(printed("err"), "ggnn-data: rank: --by file reads --from FILE.npy: give it\n");
    CHECK_EQ(tool_on("rank", "--by degree --from own.npy"), 2);
    CHECK_STR(printed("err"), "ggnn-data: rank: --from own.npy: --by degree reads no file\n");
    put_text(own, "mine");
    CHECK_EQ(tool_on("rank", with(line, "--by file --from %s --out %s", own, own)), 2);
    CHECK(prints("err", ": that is what --from reads\n"));
    CHECK_EQ(tool_on("partition", "--method file"), 2);
    CHECK_STR(printed("err"), "ggnn-data: partition: --method file reads --from FILE.npy: give it\n");
    CHECK_EQ(tool_on("partition", "--method mod --from own.npy"), 2);
    CHECK_STR(printed("err"), "ggnn-data: partition: --from own.npy: --method mod reads no file\n");
    put_text(own, "mine");
    CHECK_EQ(tool_on("partition", with(line, "--method file --from %s --out %s", own, own)), 2);
    CHECK(prints("err", ": that is what --from reads\n"));
    CHECK_STR(folder_text("own.npy"), "mine");
    CHECK_EQ(tool_on("partition", with(line, "--method file --from %s --balance edges%s", own, "")), 2);
    CHECK(prints("err", "--balance edges: --method file weighs no nodes"));
    CHECK_EQ(tool_on("partition", with(line, "--method file --from %s --extract%s", own, "")), 2);
    CHECK(prints("err", "--extract: --method file divides all nodes"));
    CHECK_EQ(run("", with(line, "generate path %s%s", made, "")), 0);
    CHECK_EQ(run("", with(line, "partition %s --method pagraph%s", made, "")), 1);
    CHECK(prints("err", "no training nodes"));
    CHECK_EQ(run("", with(line, "partition %s --method mincut%s", made, "")), 0); /* it needs none */
    CHECK(prints("out", "replication 0.000, cut "));
    CHECK(prints("out", "% (counted)\n"));
}

/* With METIS few edges are cut, fewer than by hash; without it there is a message, and no other method's result. */
TEST(metis_divides_or_says_that_it_is_not_there)
{
    char line[2000];
    remove(made);
    const int code = tool_on("partition", with(line, "--method metis --json --out %s%s", made, ""));
    if (code != 0) {
        CHECK_EQ(code, 1);
        CHECK(prints("err", "built without METIS"));
        CHECK(access(made, F_OK) != 0);
        SKIP("METIS is not there");
    }
    const char* cut = strstr(printed("out"), "\"cut\": ");
    if (CHECK(cut != NULL)) CHECK(atof(cut + 7) < .4); /* hash: .75 */
    CHECK_EQ(tool_on("partition", "--method metis --parts 1"), 0);
}

static double json_value(const char* key)
{
    const char* at = strstr(printed("out"), key);
    return CHECK(at != NULL) ? atof(at + strlen(key)) : NAN;
}

/* The training set is local: equally many nodes leave a part with most of what is sampled. */
TEST(metis_balances_sampled_edges_where_it_is_asked_to)
{
    static const char edges[] = "--method metis --balance edges --fanout 5,5 --batch 64 --json";
    char line[2000];
    int code = tool_on("partition", edges);
    if (code != 0) {
        CHECK(prints("err", "built without METIS"));
        SKIP("METIS is not there");
    }
    CHECK(json_value("\"edge_balance\": ") < 1.06);
    const double balance = json_value("\"balance\": ");
    CHECK_EQ(tool_on("partition", "--method metis --balance vertices --json"), 0);
    CHECK(strstr(printed("out"), "edge_balance") == NULL);
    CHECK(json_value("\"balance\": ") < 1.06 && balance > 1.06);
    CHECK_EQ(tool_on("partition", "--method metis --balance edges --fanout 5,5 --batch 64 --presample-epochs 3 --seed 4"), 0);
    CHECK(prints("out", "of sampled edges 1.0"));
    CHECK_EQ(run("", with(line, "generate path %s%s", made, "")), 0);
    CHECK_EQ(run("", with(line, "partition %s --method metis --balance edges%s", made, "")), 1);
    CHECK(prints("err", "no training nodes"));
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
    CHECK(prints("out", "4000 nodes in the order of their rows, 32000 edges"));
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
    CHECK(prints("err", "another graph"));
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
    CHECK(dataset_open(&d, made, &why) && ranking_write(rank_path, &d, "test", full_rank, full_rank, NULL, NULL, &why));
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
        CHECK(prints("err", words) && access(out, F_OK) != 0 && temporaries() == 0);
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
    CHECK(prints("out", "\"trained\": [1, 1]") && prints("out", "\"held\": [3, 2]"));
    CHECK_EQ(run("", with(line, "partition %s --method range --parts 2 --hops 1 --split 2 --json%s", made, "")), 0);
    CHECK(prints("out", "\"trained\": [2, 0]") && prints("out", "\"held\": [3, 0]"));
    CHECK(prints("out", "\"trained_balance\": 2,"));
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

/* A list: its two entries, and of each edge an id and a weight. All lists fit. */
TEST(dual_counts_the_bytes_of_weighted_lists)
{
    char line[2000], path[700], words[64];
    make_full(path);
    CHECK_EQ(run("", with(line, "rank %s --by dual --fanout 5 --split 2 --cache-bytes 1M --json%s", made, "")), 0);
    snprintf(words, sizeof words, "\"list_bytes\": %d,", (int)(FULL_N * 16 + FULL_E * (sizeof(ggnn_node) + 4)));
    CHECK(prints("out", words));
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
        CHECK(prints("out", "balance 1."));
        CHECK(prints("out", "replication "));
        CHECK((strstr(printed("out"), "cut ") != NULL) == (i < 4));
        CHECK(partition_open(&p, path, &d, &why));
        CHECK_EQ(p.parts, 3);
        for (int64_t v = 0; v < d.num_nodes; v++) none += p.owner[v] < 0;
        CHECK((none > 0) == (i == 4));
        partition_close(&p);
        CHECK_EQ(tool_on("partition", with(line, "--parts 3 --method %s --json%s", method[i], "")), 0);
        CHECK(prints("out", "\"replication\": "));
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
    CHECK(prints("out", "--closure-limit cut them"));
    CHECK_EQ(run("", with(line, "generate star %s/one.ggnn --nodes 10 --classes 2 --train .1%s", folder, "")), 0); /* one node trains */
    for (int limit = 1; limit < 12; limit += 10) {
        CHECK_EQ(run("", with(line, limit > 1 ? "partition %s/one.ggnn --method pagraph --hops 2 --closure-limit 11%s"
                                              : "partition %s/one.ggnn --method pagraph --hops 2 --closure-limit 1%s", folder, "")), 0);
        CHECK((strstr(printed("out"), "\n1 training nodes reach more than 1 nodes: --closure-limit cut them in the scores\n") != NULL) == (limit == 1));
        CHECK((strstr(printed("out"), "closure-limit") != NULL) == (limit == 1));
    }
    CHECK(!partition_open(&p, path, &wrong, &why));
    CHECK(strstr(why.text, "another graph"));
    dataset_close(&d);
    dataset_close(&wrong);
}

/* ---- all that is printed and written, against the loops of its definition ----------------------------------------- */

enum { MANY = 70 };

/* Other features, with weights or without, labels or none: three graphs. Split 0 trains a third, split 1 every fifth of 1 to 4. */
static void make_random(int form)
{
    static const int64_t rows = MANY + 1, nodes = MANY, splits[2] = {2, MANY};
    const int64_t wide[2] = {MANY, form == 1 ? 3 : 5};
    uint8_t split[2 * MANY];
    uint16_t half[3 * MANY];
    float value[5 * MANY], target[MANY];
    int64_t name[MANY];
    ggnn_file_writer w;
    test_state = 77 + (uint64_t)form;
    random_graph* r = random_graph_new(MANY, 3, 25);
    for (int v = 0; v < 2 * MANY; v++) split[v] = (uint8_t)(v < MANY ? test_below(3) : v % 5 ? (v - MANY) % 3 + 1 : 0);
    for (int i = 0; i < 3 * MANY; i++) half[i] = (uint16_t)(i * 7);
    for (int i = 0; i < 5 * MANY; i++) value[i] = (float)i / 4;
    for (int v = 0; v < MANY; v++) target[v] = v % 3 ? (float)v : NAN;
    for (int v = 0; v < MANY; v++) name[v] = 1000 - 3 * v;
    CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, r->indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &r->num_edges, r->indices) &&
              ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split));
    if (form) CHECK(ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &r->num_edges, r->weight));
    if (form == 1) CHECK(ggnn_file_append(&w, "feat", GGNN_FILE_F16, 2, wide, half) &&
                         ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &nodes, target));
    const int64_t wide_edges[2] = {r->num_edges, form + 1}; /* an edge's: its ends */
    uint16_t* ends = calloc((size_t)(r->num_edges * 3) + 1, 2);
    float* far = calloc((size_t)(r->num_edges * 3) + 1, sizeof *far);
    for (int64_t v = 0; v < MANY; v++)
        for (int64_t i = r->indptr[v] * (form + 1); i < r->indptr[v + 1] * (form + 1); i++) {
            far[i] = (float)(v * MANY + r->indices[i / (form + 1)] + 10000 * (i % (form + 1)));
            ends[i] = (uint16_t)(i % 2 ? v : r->indices[i / (form + 1)]);
        }
    if (form) CHECK(ggnn_file_append(&w, "edge_feat", form == 1 ? GGNN_FILE_F16 : GGNN_FILE_F32, 2, wide_edges, form == 1 ? (const void*)ends : far));
    free(ends);
    free(far);
    if (form == 2) CHECK(ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, wide, value) &&
                         ggnn_file_append(&w, "external_id", GGNN_FILE_I64, 1, &nodes, name));
    CHECK(ggnn_file_commit(&w));
    random_graph_free(r);
}

static int64_t training(const dataset* d, int32_t split, ggnn_node ids[MANY])
{
    int64_t n = 0;
    for (int v = 0; v < MANY; v++)
        if (d->split[split * MANY + v] == SPLIT_TRAIN) ids[n++] = (ggnn_node)v;
    return n;
}

typedef struct { /* what epochs read: rows, lists, edges computed, by node */
    int64_t rows[MANY], lists[MANY], edges[MANY];
} reads;

static void count_reads(reads* of, const dataset* d, const ggnn_sampling* how, int32_t split, int64_t batch, uint64_t seed,
                        int64_t epochs, bool training_itself)
{
    const ggnn_graph g = dataset_graph(d);
    ggnn_node ids[MANY], seeds[MANY];
    const int64_t n = training(d, split, ids);
    ggnn_rng rng = {seed, 0, training_itself ? GGNN_PURPOSE_SAMPLE : GGNN_PURPOSE_PRESAMPLE};
    ggnn_batch b;
    memset(of, 0, sizeof *of);
    CHECK_EQ(ggnn_batch_new(&b, &g, how, n), GGNN_OK);
    for (int64_t e = 0; e < epochs; e++)
        for (int64_t first = 0; first < n; first += batch, rng.step++) {
            int64_t count = 0;
            for (; count < batch && first + count < n; count++)
                seeds[count] = ids[ggnn_shuffle(seed, (uint32_t)e + (training_itself ? 0 : GGNN_PRESAMPLE_EPOCH), first + count, n)];
            CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds, count), GGNN_OK);
            for (int32_t h = 0; h < b.num_hops; h++)
                for (int64_t i = 0; i < *b.hop[h].num_dst.n; i++) {
                    of->lists[b.id[i]]++;
                    of->edges[b.id[i]] += b.hop[h].indptr[i + 1] - b.hop[h].indptr[i];
                }
            for (int64_t i = 0; i < *b.hop[b.num_hops - 1].num_src.n; i++) of->rows[b.id[i]]++;
        }
    ggnn_batch_free(&b);
}

/* rank by falling hot / over, ties by falling second, then by id. */
static void rank_of(ggnn_node rank[MANY], const int64_t* hot, const int64_t* over, const int64_t* second)
{
    for (int v = 0; v < MANY; v++) {
        rank[v] = 0;
        for (int u = 0; u < MANY; u++) {
            const int64_t a = hot[u] * (over ? over[v] : 1), b = hot[v] * (over ? over[u] : 1);
            const bool last_u = over && over[u] == 0, last_v = over && over[v] == 0;
            if (last_u != last_v) rank[v] += last_v;
            else if (!last_u && a != b) rank[v] += a > b;
            else if (second && second[u] != second[v]) rank[v] += second[u] > second[v];
            else rank[v] += u < v;
        }
    }
}

typedef struct {
    const char *options, *by;
    ggnn_method method;
    int32_t hops, fanout[3], split;
    int64_t epochs, batch;
    uint64_t seed;
    int64_t cache, slope_lists, slope_rows;
} rank_line;

static double percent(const int64_t* count, const ggnn_node* rank, double share)
{
    int64_t hits = 0, all = 0;
    for (int v = 0; v < MANY; v++) {
        all += count[v];
        if (rank[v] < (int)(share * MANY + 1e-9)) hits += count[v];
    }
    return all ? 100. * (double)hits / (double)all : 0;
}

/* Rank of rows and of lists, and what a budget takes. */
static void rank_by_hand(const rank_line* l, const dataset* d, reads* of, ggnn_node rows[MANY], ggnn_node lists[MANY], ggnn_dual_fill* fill)
{
    const int64_t* indptr = d->csc.indptr;
    int64_t in[MANY], out[MANY] = {0};
    ggnn_node order[2 * MANY];
    ggnn_sampling how = {.method = l->method, .num_hops = l->hops};
    memcpy(how.fanout, l->fanout, sizeof l->fanout);
    for (int v = 0; v < MANY; v++) in[v] = indptr[v + 1] - indptr[v];
    for (int64_t e = 0; e < d->num_edges; e++) out[d->csc.indices[e]]++;
    count_reads(of, d, &how, l->split, l->batch, l->seed, l->epochs, l->by[0] == 'o');
    if (l->by[0] == 'd' && l->by[1] == 'u') {
        const ggnn_sizes sizes = {d->feat.rows ? d->feat.width * (d->feat.type == GGNN_F16 ? 2 : 4) : 4, indptr,
                                  (int64_t)sizeof(ggnn_node) + (d->csc.weight ? 4 : 0), 16};
        const ggnn_dual dual = {of->rows, of->lists, d->feat.rows ? l->slope_rows : 0, l->slope_lists, &sizes, l->cache};
        *fill = ggnn_fill_dual(rows, lists, &dual, MANY, order);
        return;
    }
    if (l->by[0] == 'd') rank_of(rows, out, NULL, NULL);
    else if (l->by[0] == 'a') rank_of(rows, in, out, NULL);
    else if (l->by[0] == 'r') ggnn_rank_random(rows, order, l->seed, MANY);
    else rank_of(rows, of->rows, NULL, in);
    if (l->by[0] == 'p' || l->by[0] == 'o') rank_of(lists, of->lists, NULL, in);
    else memcpy(lists, rows, MANY * sizeof *lists);
}

static void expect_ranking(const rank_line* l, const reads* of, const ggnn_node* rows, const ggnn_node* lists,
                           const ggnn_dual_fill* fill, const char* file, bool json)
{
    static const double share[] = {.01, .05, .1, .2, .5};
    const bool dual = strcmp(l->by, "dual") == 0, counted = dual || l->by[0] == 'p' || l->by[0] == 'o';
    expect(NULL);
    if (json) expect("{\n  \"file\": \"%s\",\n  \"by\": \"%s\",\n  \"num_nodes\": %d,\n", file, l->by, MANY);
    else expect("%s: %d nodes ranked by %s\n", file, MANY, l->by);
    if (dual && json) expect("  \"rows\": %lld,\n  \"lists\": %lld,\n  \"row_bytes\": %lld,\n  \"list_bytes\": %lld,\n",
                             (long long)fill->rows, (long long)fill->lists,
                             (long long)fill->row_bytes, (long long)fill->list_bytes);
    if (dual && !json && l->slope_lists + l->slope_rows == 0) expect("both slopes are 0: by frequency per byte\n");
    if (dual && !json) expect("%lld rows (%lld bytes) and %lld lists (%lld bytes) fit %lld bytes\n", (long long)fill->rows,
                              (long long)fill->row_bytes,
                              (long long)fill->lists, (long long)fill->list_bytes, (long long)l->cache);
    if (json) expect("  \"hits\": [%s", counted ? "\n" : "");
    for (int i = 0; counted && i < 5; i++) {
        const double r = percent(of->rows, rows, share[i]), t = percent(of->lists, lists, share[i]);
        if (json) expect("    {\n      \"share\": %s,\n      \"rows\": %s,\n      \"lists\": %s\n    }%s\n", shortest(share[i]),
                         shortest(r), shortest(t), i < 4 ? "," : "");
        else expect("the hottest %2.0f%%: %5.1f%% of the rows read, %5.1f%% of the lists (counted)\n", 100 * share[i], r, t);
    }
    if (json) expect("%s]\n}\n", counted ? "  " : "");
}

TEST(rank_prints_and_writes_what_epochs_read)
{
    static const rank_line lines[] = {
        {"", "presc", GGNN_FISHER_YATES, 3, {15, 10, 5}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by optimal --presample-epochs 3 --fanout 2,1 --batch 4 --seed 4294967305 --split 1", "optimal", GGNN_FISHER_YATES, 2, {2, 1},
         1, 3, 4, (UINT64_C(1) << 32) + 9, 0, 0, 0},
        {"--sampler weighted --fanout 3 --batch 5 --presample-epochs 2", "presc", GGNN_WEIGHTED, 1, {3}, 0, 2, 5, 1, 0, 0, 0},
        {"--by presc --sampler replacement --fanout 2,2 --seed 0 --batch 1", "presc", GGNN_REPLACEMENT, 2, {2, 2}, 0, 1, 1, 0, 0, 0, 0},
        {"--by optimal --sampler walk --fanout 2,3", "optimal", GGNN_WALK, 2, {2, 3}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by optimal --sampler reservoir --fanout=-1,0", "optimal", GGNN_RESERVOIR, 2, {-1, 0}, 0, 1, 1024, 1, 0, 0, 0},
        {"--sampler rejection --fanout 2", "presc", GGNN_REJECTION, 1, {2}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by dual --cache-bytes 300 --fanout 3,2", "dual", GGNN_FISHER_YATES, 2, {3, 2}, 0, 1, 1024, 1, 300, 0, 0},
        {"--by dual --cache-bytes .5K --slopes 1000,0 --fanout 3,2", "dual", GGNN_FISHER_YATES, 2, {3, 2}, 0, 1, 1024, 1, 512, 1000, 0},
        {"--by dual --cache-bytes 333 --slopes=0,1000 --fanout 3,2 --split 1", "dual", GGNN_FISHER_YATES, 2, {3, 2}, 1, 1, 1024,
         1, 333, 0, 1000},
        {"--by dual --cache-bytes 1KiB --slopes 9,2 --slopes 4294967303,8589934595 --batch 3 --presample-epochs 2 --seed 5", "dual",
         GGNN_FISHER_YATES, 3, {15, 10, 5}, 0, 2, 3, 5, 1024, (INT64_C(1) << 32) + 7, (INT64_C(1) << 33) + 3},
        {"--by dual --cache-bytes 4G --fanout 2", "dual", GGNN_FISHER_YATES, 1, {2}, 0, 1, 1024, 1, INT64_C(1) << 32, 0, 0},
        {"--by dual --cache-bytes 0", "dual", GGNN_FISHER_YATES, 3, {15, 10, 5}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by degree --cache-bytes 9", "degree", GGNN_FISHER_YATES, 1, {1}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by aligraph", "aligraph", GGNN_FISHER_YATES, 1, {1}, 0, 1, 1024, 1, 0, 0, 0},
        {"--by random --seed 4294967301", "random", GGNN_FISHER_YATES, 1, {1}, 0, 1, 1024, (UINT64_C(1) << 32) + 5, 0, 0, 0}};
    for (size_t i = 0; i < 2 * sizeof lines / sizeof *lines; i++) { /* as text, as JSON */
        const rank_line* l = &lines[i / 2];
        ggnn_node rows[MANY], lists[MANY];
        ggnn_dual_fill fill = {0, 0, 0, 0};
        reads of;
        dataset d;
        ranking r;
        error why = {""};
        char line[2000], path[700];
        snprintf(path, sizeof path, "%s.%s", made, i % 3 ? "rank" : "other");
        make_random((int)(i + i / 6) % 3);
        if (!CHECK(dataset_open(&d, made, &why))) return;
        rank_by_hand(l, &d, &of, rows, lists, &fill);
        snprintf(line, sizeof line, "rank %s %s %s%s %s", made, l->options, i % 3 ? "" : "--out ", i % 3 ? "" : path, i % 2
                 ? "--json" : "");
        CHECK_EQ(run("", line), 0);
        expect_ranking(l, &of, rows, lists, &fill, path, i % 2);
        bool good = CHECK(prints_what_is_expected()) && CHECK(ranking_open(&r, path, &d, &why));
        if (good) {
            const ggnn_file_section* by = ggnn_file_find(&r.file, "made_by");
            good = CHECK(memcmp(r.rows, rows, sizeof rows) == 0) && CHECK(memcmp(r.lists, lists, sizeof lists) == 0) &&
                   CHECK(by && by->dim[0] == (int64_t)strlen(l->by) && memcmp(ggnn_file_data(&r.file, by), l->by, strlen(l->by)) == 0) &&
                   CHECK_EQ(r.cached != NULL, strcmp(l->by, "dual") == 0) &&
                       CHECK(!r.cached || (r.cached[0] == fill.rows && r.cached[1] == fill.lists));
            ranking_close(&r);
        }
        if (!good) printf("  %s\n", line);
        dataset_close(&d);
    }
}

/* ---- and by scores of a user's own */

typedef struct { /* node v's: an integer, or a float's bits */
    int64_t bits;
    double real;
} score;

static score score_of(const char* type, int v)
{
    static const int64_t large = INT64_C(1) << 60;
    const int64_t whole[] = {0, -1, 1, INT64_MAX, INT64_MIN, large, large + 1, -large - 1};
    static const int32_t narrow[] = {0, -1, 1, INT32_MAX, INT32_MIN, 1 << 24, (1 << 24) + 1, -77};
    static const double real[] = {0, -0., 1, 1 + 0x1p-52, -1, -1 - 0x1p-52, INFINITY, -INFINITY, 0x1p-1074, -0x1p-1074, 1e300};
    static const float single[] = {0, -0.f, 1, 1 + 0x1p-23f, -1, -1 - 0x1p-23f, INFINITY, -INFINITY, 0x1p-149f, -0x1p-149f,
                                   1e30f};
    const int at = v * v + v / 3, eleventh = at % 11;
    score s = {type[2] == '8' ? whole[at % 8] : narrow[at % 8], 0};
    if (type[1] == 'i') return s;
    s.real = type[2] == '8' ? real[eleventh] : (double)single[eleventh];
    if (type[2] == '8') memcpy(&s.bits, &real[eleventh], 8);
    else memcpy(&s.bits, &single[eleventh], 4);
    return s;
}

/* All bits of a score count; equal ones, 0 and -0, go by id. */
TEST(a_ranking_by_scores_has_their_order_whatever_their_type)
{
    static const char* const types[] = {"<i4", "<i8", "<f4", "<f8", ">i4", ">i8", ">f4", ">f8"};
    for (int i = 0; i < 16; i++) {
        const char* type = types[i / 2];
        int64_t bits[MANY];
        ggnn_node rank[MANY];
        char line[2000], path[700];
        dataset d;
        ranking r;
        error why = {""};
        make_random(i % 3);
        for (int v = 0; v < MANY; v++) {
            const score mine = score_of(type, v);
            bits[v] = mine.bits;
            rank[v] = 0;
            for (int u = 0; u < MANY; u++) {
                const score his = score_of(type, u);
                const bool more = type[1] == 'f' ? his.real > mine.real : his.bits > mine.bits;
                const bool less = type[1] == 'f' ? his.real < mine.real : his.bits < mine.bits;
                rank[v] += more || (!less && u < v);
            }
        }
        put_array(own, type, bits, MANY);
        snprintf(path, sizeof path, "%s.rank", made);
        snprintf(line, sizeof line, "rank %s --by file --from %s%s", made, own, i % 2 ? " --json" : "");
        CHECK_EQ(run("", line), 0);
        expect(NULL);
        if (i % 2) expect("{\n  \"file\": \"%s\",\n  \"by\": \"file\",\n  \"num_nodes\": %d,\n  \"hits\": []\n}\n", path, MANY);
        else expect("%s: %d nodes ranked by file\n", path, MANY);
        CHECK(prints_what_is_expected());
        CHECK(dataset_open(&d, made, &why) && ranking_open(&r, path, &d, &why));
        if (!CHECK(memcmp(r.rows, rank, sizeof rank) == 0 && memcmp(r.lists, rank, sizeof rank) == 0)) printf("  %s\n", type);
        CHECK(strcmp(r.made_by, "file") == 0 && !r.cached);
        ranking_close(&r);
        dataset_close(&d);
    }
}

TEST(scores_that_are_none_are_refused_by_index_and_value)
{
    static const struct {
        const char *type, *shape;
        int64_t at, bits;
        const char* words; /* behind the file's name */
    } of[] = {{"<f8", "70,", 69, INT64_C(0x7FF8000000000000), ": element 69: nan is no score\n"},
              {"<f4", "70,", 3, 0xFFC00000, ": element 3: nan is no score\n"},
              {"<f4", "69,", 0, 0, ": 69 scores; the graph has 70 nodes\n"},
              {"<f8", "71,", 0, 0, ": 71 scores; the graph has 70 nodes\n"},
              {"<f8", "70, 1", 0, 0, ": shape (70, 1); one dimension, a number per node, is expected\n"},
              {"<f2", "70,", 0, 0, ": elements of type 'f2'; scores are int32, int64, float32 or float64\n"},
              {"<u8", "70,", 0, 0, ": elements of type 'u8'; scores are int32, int64, float32 or float64\n"}};
    char line[2000], path[700], words[900];
    folder_path(path, "not made");
    make_random(0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const int width = of[i].type[2] - '0';
        bytes data = {0};
        for (int k = 0; k < atoi(of[i].shape); k++) put_number(&data, k == of[i].at ? (uint64_t)of[i].bits : 0, width);
        bytes file = npy_of(of[i].type, of[i].shape, false, data.data, data.size);
        write_file(own, file.data, file.size);
        snprintf(line, sizeof line, "rank %s --by file --from %s --out '%s'", made, own, path);
        snprintf(words, sizeof words, "ggnn-data: %s%s", own, of[i].words);
        CHECK_EQ(run("", line), 1);
        if (!CHECK(prints("err", words)) || !CHECK(access(path, F_OK) != 0 && temporaries() == 0)) printf("  %s\n", of[i].type);
        drop(&data);
        drop(&file);
    }
}

/* More than are read at once: the last wrong one has its own index, and the order is that of all. */
TEST(arrays_longer_than_a_piece_are_read_to_their_end)
{
    static int64_t value[4000];
    dataset d;
    ranking r;
    partition p;
    error why = {""};
    char line[2000], path[700];
    for (int v = 0; v < 4000; v++) value[v] = v % 7;
    put_array(own, "<i8", value, 4000);
    CHECK_EQ(tool_on("partition", with(line, "--method file --from %s --out %s", own, made)), 0);
    CHECK(dataset_open(&d, graph, &why) && partition_open(&p, made, &d, &why));
    CHECK_EQ(p.parts, 7);
    for (int v = 0; v < 4000; v++) CHECK_EQ(p.owner[v], v % 7);
    partition_close(&p);
    for (int form = 0; form < 2; form++) {
        for (int v = 0; v < 4000; v++) {
            const double real = v / 2.;
            value[v] = v;
            if (form) memcpy(&value[v], &real, 8);
        }
        put_array(own, form ? "<f8" : "<i8", value, 4000);
        CHECK_EQ(tool_on("rank", with(line, "--by file --from %s --out %s", own, made)), 0);
        CHECK(ranking_open(&r, made, &d, &why));
        for (int v = 0; v < 4000; v++) CHECK_EQ(r.rows[v], 3999 - v);
        ranking_close(&r);
    }
    value[3998] = INT64_C(0x7FF8000000000000);
    put_array(own, "<f8", value, 4000);
    CHECK_EQ(tool_on("rank", with(line, "--by file --from %s --out %s", own, folder_path(path, "not-made"))), 1);
    CHECK(prints("err", ": element 3998: nan is no score\n"));
    dataset_close(&d);
}

/* ---- partitions likewise */

/* Nodes that up to so many hops reach from the training nodes of a part. */
static int64_t held_by(bool in[MANY], const dataset* d, const int32_t* owner, int part, const ggnn_node* ids, int64_t num_ids, int hops)
{
    int64_t held = 0;
    memset(in, 0, MANY);
    for (int64_t i = 0; i < num_ids; i++) in[ids[i]] = owner[ids[i]] == part;
    for (int h = 0; h < hops; h++) {
        bool next[MANY];
        memcpy(next, in, MANY);
        for (int v = 0; v < MANY; v++)
            for (int64_t e = d->csc.indptr[v]; in[v] && e < d->csc.indptr[v + 1]; e++) next[d->csc.indices[e]] = true;
        memcpy(in, next, MANY);
    }
    for (int v = 0; v < MANY; v++) held += in[v];
    return held;
}

static double over_mean(const int64_t* size, int parts)
{
    int64_t most = 0, all = 0;
    for (int p = 0; p < parts; p++) {
        most = size[p] > most ? size[p] : most;
        all += size[p];
    }
    return all ? (double)(most * parts) / (double)all : 1;
}

static void expect_sizes(const char* key, const int64_t* size, int parts)
{
    expect("  \"%s\": [", key);
    for (int p = 0; p < parts; p++) expect("%s%lld", p ? ", " : "", (long long)size[p]);
    expect("],\n");
}

typedef struct {
    const char *options, *method;
    int parts, hops, split, passes, slack;
    int64_t limit;
    int64_t epochs, batch, seed; /* of --balance edges; epochs 0: not asked for */
} part_line;

static void expect_partition(const part_line* l, const dataset* d, const int32_t* owner, int64_t cut_closures, const reads* of,
                             const char* file, bool json)
{
    int64_t nodes[64] = {0}, trained[64] = {0}, held[64] = {0}, weighed[64] = {0}, cut = 0, touched = 0, all = 0;
    ggnn_node ids[MANY];
    bool in[MANY], any[MANY] = {false};
    const int64_t num_ids = training(d, l->split, ids);
    const bool pagraph = strcmp(l->method, "pagraph") == 0;
    for (int v = 0; v < MANY; v++) {
        if (owner[v] >= 0) nodes[owner[v]]++;
        if (l->epochs) weighed[owner[v]] += of->edges[v];
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v + 1]; e++) cut += owner[v] != owner[d->csc.indices[e]];
    }
    for (int64_t i = 0; i < num_ids; i++) trained[owner[ids[i]]]++;
    for (int p = 0; p < l->parts; p++) {
        all += held[p] = held_by(in, d, owner, p, ids, num_ids, l->hops);
        for (int v = 0; v < MANY; v++) any[v] = any[v] || in[v];
    }
    for (int v = 0; v < MANY; v++) touched += any[v];
    const double balance = over_mean(nodes, l->parts), of_trained = over_mean(trained, l->parts), of_edges = over_mean(weighed, l->parts);
    const double replication = (double)all / (double)touched, share = (double)cut / (double)d->num_edges;
    expect(NULL);
    if (json) {
        expect("{\n  \"file\": \"%s\",\n  \"method\": \"%s\",\n", file, l->method);
        expect_sizes("nodes", nodes, l->parts);
        expect_sizes("trained", trained, l->parts);
        expect_sizes("held", held, l->parts);
        expect("  \"balance\": %s,\n  \"trained_balance\": %s,\n", shortest(balance), shortest(of_trained));
        if (l->epochs) expect("  \"edge_balance\": %s,\n", shortest(of_edges));
        expect("  \"replication\": %s,\n  \"cut\": %s,\n  \"closures_cut\": %lld\n}\n", shortest(replication), pagraph ? "null"
               : shortest(share), (long long)cut_closures);
        return;
    }
    expect("%s: %d parts by %s\n  part      nodes   training       held\n", file, l->parts, l->method);
    for (int p = 0; p < l->parts; p++) expect("%6d %10lld %10lld %10lld\n", p, (long long)nodes[p], (long long)trained[p],
                                              (long long)held[p]);
    expect("balance %.3f (training %.3f), replication %.3f", balance, of_trained, replication);
    if (l->epochs) expect(", of sampled edges %.3f", of_edges);
    if (!pagraph) expect(", cut %.2f%%", 100 * share);
    expect(" (counted)\n");
    if (cut_closures) expect("%lld training nodes reach more than %lld nodes: --closure-limit cut them in the scores\n",
                             (long long)cut_closures, (long long)l->limit);
}

/* Both directions of every edge once, no self-loops, in order. */
static ggnn_graph both_ways(const dataset* d, int64_t indptr[MANY + 1], ggnn_node indices[MANY * MANY])
{
    static bool joined[MANY][MANY];
    int64_t n = 0;
    memset(joined, 0, sizeof joined);
    for (int v = 0; v < MANY; v++)
        for (int64_t e = d->csc.indptr[v]; e < d->csc.indptr[v
                                                             + 1]; e++) joined[v][d->csc.indices[e]] = joined[d->csc.indices[e]][v] = true;
    indptr[0] = 0;
    for (int v = 0; v < MANY; v++) {
        for (int u = 0; u < MANY; u++)
            if (u != v && joined[v][u]) indices[n++] = (ggnn_node)u;
        indptr[v + 1] = n;
    }
    return ggnn_graph_plain(indptr, indices, NULL, MANY, n);
}

/* A partition that no method of the program makes: by the squares of ids. */
static void divide_by_squares(int32_t owner[MANY], int32_t parts, const char* type)
{
    int64_t wide[MANY];
    for (int v = 0; v < MANY; v++) wide[v] = owner[v] = v == 0 ? parts - 1 : v * v % parts;
    put_array(own, type, wide, MANY);
}

static void divide_by_hand(int32_t owner[MANY], int64_t* closures, const part_line* l, const dataset* d)
{
    static char work[1 << 16];
    static ggnn_node indices[MANY * MANY];
    const ggnn_graph g = dataset_graph(d);
    int64_t indptr[MANY + 1];
    ggnn_node ids[MANY];
    *closures = 0;
    if (l->method[0] == 'p') {
        const ggnn_pagraph how = {ids, training(d, l->split, ids), l->parts, l->hops, l->limit};
        CHECK(ggnn_partition_pagraph_workspace_bytes(MANY) <= sizeof work &&
              ggnn_partition_pagraph(owner, closures, &g, &how, work, NULL) == GGNN_OK);
    } else if (strcmp(l->method, "mincut") == 0) {
        const ggnn_graph both = both_ways(d, indptr, indices);
        CHECK_EQ(ggnn_partition_mincut(owner, &both, l->parts, l->passes, l->slack, ids, NULL), GGNN_OK);
    } else {
        const ggnn_owner how = l->method[0] == 'h' ? GGNN_OWNER_HASH : l->method[0] == 'm' ? GGNN_OWNER_MODULO : GGNN_OWNER_RANGE;
        CHECK_EQ(ggnn_partition_ids(owner, how, l->parts, MANY), GGNN_OK);
    }
}

TEST(partition_prints_and_writes_what_its_method_gives)
{
    static const part_line lines[] = {
        {"", "mincut", 4, 2, 0, 10, 5, 100000, 0, 0, 0},
        {"--parts 7 --passes 1 --slack 30 --hops 0 --split 1", "mincut", 7, 0, 1, 1, 30, 100000, 0, 0, 0},
        {"--parts 2 --passes 3 --slack 0 --hops 8 --method mincut", "mincut", 2, 8, 0, 3, 0, 100000, 0, 0, 0},
        {"--parts 1 --hops 1", "mincut", 1, 1, 0, 10, 5, 100000, 0, 0, 0},
        {"--method hash --parts 5 --hops 3", "hash", 5, 3, 0, 10, 5, 100000, 0, 0, 0},
        {"--method mod --parts 3", "mod", 3, 2, 0, 10, 5, 100000, 0, 0, 0},
        {"--method range --parts 64 --split 1", "range", 64, 2, 1, 10, 5, 100000, 0, 0, 0},
        {"--method pagraph", "pagraph", 4, 2, 0, 10, 5, 100000, 0, 0, 0},
        {"--method pagraph --parts 3 --hops 1 --split 1 --closure-limit 4", "pagraph", 3, 1, 1, 10, 5, 4, 0, 0, 0},
        {"--method pagraph --parts 2 --hops 3 --closure-limit 0", "pagraph", 2, 3, 0, 10, 5, 0, 0, 0, 0},
        {"--method file --parts 6 --hops 3", "file", 6, 3, 0, 10, 5, 100000, 0, 0, 0},
        {"--method file --split 1", "file", 5, 2, 1, 10, 5, 100000, 0, 0, 0},
        {"--method file", "file", 64, 2, 0, 10, 5, 100000, 0, 0, 0},
        {"--method metis --parts 3", "metis", 3, 2, 0, 10, 5, 100000, 0, 0, 0},
        {"--method metis --balance edges --fanout 3,2", "metis", 4, 2, 0, 10, 5, 100000, 10, 1024, 1},
        {"--method metis --balance edges --fanout 3,2 --presample-epochs 2 --batch 4 --seed 4294967304 --split 1 --parts 2", "metis", 2, 2,
         1, 10, 5, 100000, 2, 4, (INT64_C(1) << 32) + 8}};
    const ggnn_sampling how = {.method = GGNN_FISHER_YATES, .num_hops = 2, .fanout = {3, 2}};
    const bool has_metis = tool_on("partition", "--method metis --parts 1") == 0;
    for (size_t i = 0; i < 2 * sizeof lines / sizeof *lines; i++) {
        const part_line* l = &lines[i / 2];
        const bool metis = strcmp(l->method, "metis") == 0, file = strcmp(l->method, "file") == 0;
        int32_t owner[MANY];
        int64_t closures = 0;
        dataset d;
        partition p;
        reads of;
        error why = {""};
        char line[2000], path[700];
        if (metis && !has_metis) continue;
        make_random((int)(i + i / 6) % 3);
        if (!CHECK(dataset_open(&d, made, &why))) return;
        snprintf(path, sizeof path, "%s.%s", made, i % 3 ? "part" : "other");
        if (file) divide_by_squares(owner, l->parts, i % 4 == 0 ? "<i4" : i % 4 == 1 ? "<i8" : i % 4 == 2 ? ">i4" : ">i8");
        snprintf(line, sizeof line, "partition %s %s %s%s %s%s %s", made, l->options, file ? "--from " : "", file ? own : "",
                 i % 3 ? "" : "--out ", i % 3 ? "" : path, i % 2 ? "--json" : "");
        bool good = CHECK_EQ(run("", line), 0) && CHECK(partition_open(&p, path, &d, &why));
        if (good) {
            const ggnn_file_section* by = ggnn_file_find(&p.file, "made_by");
            if (metis) memcpy(owner, p.owner, sizeof owner);
            else if (!file) divide_by_hand(owner, &closures, l, &d);
            if (l->epochs) count_reads(&of, &d, &how, l->split, l->batch, (uint64_t)l->seed, l->epochs, false);
            expect_partition(l, &d, owner, closures, &of, path, i % 2);
            good = CHECK(prints_what_is_expected()) && CHECK_EQ(p.parts, l->parts) && CHECK(memcmp(p.owner, owner, sizeof owner) == 0) &&
                   CHECK(by && by->dim[0] == (int64_t)strlen(l->method) &&
                         memcmp(ggnn_file_data(&p.file, by), l->method, strlen(l->method)) == 0);
            partition_close(&p);
        }
        if (!good) printf("  %s\n", line);
        dataset_close(&d);
    }
}

/* Whatever is wrong with a file of owners: the file, and of an element its index and value. */
TEST(owners_that_are_none_are_refused_by_index_and_value)
{
    static const struct {
        const char *type, *shape, *parts;
        int64_t at, value;
        const char* words; /* behind the file's name; NULL: it is taken */
    } of[] = {{"<i8", "70,", "", 69, 63, NULL},
              {"<i8", "70,", "--parts 3", 69, 2, NULL},
              {"<i8", "70,", "--parts 3", 69, 3, ": element 69: owner 3 is outside [0, 3)\n"},
              {"<i4", "70,", "", 69, 64, ": element 69: owner 64 is outside [0, 64), the most parts that there may be\n"},
              {"<i4", "70,", "--parts 64", 0, -1, ": element 0: owner -1 is outside [0, 64)\n"},
              {">i4", "70,", "--parts 2", 33, 7, ": element 33: owner 7 is outside [0, 2)\n"},
              {"<i8", "70,", "", 2, (INT64_C(1) << 32) + 1, ": element 2: owner 4294967297 is outside [0, 64)"},
              {"<i8", "70,", "", 2, INT64_MIN, ": element 2: owner -9223372036854775808 is outside [0, 64)"},
              {"<i4", "69,", "", 0, 0, ": 69 owners; the graph has 70 nodes\n"},
              {"<i4", "71,", "", 0, 0, ": 71 owners; the graph has 70 nodes\n"},
              {"<i4", "0,", "", 0, 0, ": 0 owners; the graph has 70 nodes\n"},
              {"<i4", "70, 1", "", 0, 0, ": shape (70, 1); one dimension, a number per node, is expected\n"},
              {"<i4", "1, 70", "", 0, 0, ": shape (1, 70); one dimension"},
              {"<i4", "", "", 0, 0, ": shape (); one dimension"},
              {"<i2", "70,", "", 0, 0, ": elements of type 'i2'; owners are int32 or int64\n"},
              {"<u4", "70,", "", 0, 0, ": elements of type 'u4'; owners are int32 or int64\n"},
              {"<f4", "70,", "", 0, 0, ": elements of type 'f4'; owners are int32 or int64\n"},
              {"<i9", "70,", "", 0, 0, ": elements of type '<i9'; bool, integers"}};
    char line[2000], path[700], words[900];
    folder_path(path, "not made");
    make_random(0);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        bytes data = {0};
        const int width = of[i].type[2] - '0', rows = of[i].shape[0] ? atoi(of[i].shape) : 1;
        const int count = strchr(of[i].shape, ' ') ? 70 : rows;
        for (int k = 0; k < count; k++) {
            uint64_t value = k == of[i].at ? (uint64_t)of[i].value : 0;
            for (int byte = 0; byte < width; byte++)
                put_number(&data, byte > 7 ? 0 : value >> 8 * (of[i].type[0] == '>' ? width - 1 - byte : byte) & 255, 1);
        }
        bytes file = npy_of(of[i].type, of[i].shape, false, data.data, data.size);
        write_file(own, file.data, file.size);
        snprintf(line, sizeof line, "partition %s --method file --from %s %s --out '%s'", made, own, of[i].parts, path);
        snprintf(words, sizeof words, "ggnn-data: %s%s", own, of[i].words ? of[i].words : "");
        CHECK_EQ(run("", line), of[i].words ? 1 : 0);
        if (!CHECK(!of[i].words || strstr(printed("err"), words)) || !CHECK_EQ(access(path, F_OK) == 0, !of[i].words))
            printf("  %s: %s", line, printed("err"));
        CHECK_EQ(temporaries(), 0);
        remove(path);
        drop(&data);
        drop(&file);
    }
}

/* A file that ends too early, that goes on, that is no array, that is not there, or that is a pipe. */
TEST(a_file_of_owners_is_whole)
{
    static const struct {
        int more;
        const char* words;
    } of[] = {{-1, ": 407 bytes, but its shape needs 408 (truncated?)\n"}, {-280, ": 128 bytes, but its shape needs 408"},
              {4, ": 412 bytes, but its shape needs 408"}, {-400, ""}, {-408, ""}};
    static const int64_t owner[MANY];
    char line[2000], words[900];
    bytes all = {0};
    make_random(0);
    put_array(own, "<i4", owner, MANY);
    put_file_bytes(&all, own);
    put(&all, "more", 4);
    if (!CHECK_EQ(all.size, 412)) return;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        write_file(own, all.data, (size_t)(408 + of[i].more));
        snprintf(words, sizeof words, "ggnn-data: %s%s", own, of[i].words);
        CHECK_EQ(run("", with(line, "partition %s --method file --from %s", made, own)), 1);
        CHECK(prints("err", words));
    }
    CHECK_EQ(run("", with(line, "partition %s --method file --from %s", made, made)), 1);
    CHECK(prints("err", "no .npy array"));
    CHECK_EQ(run("", with(line, "partition %s --method file --from %s/missing.npy", made, folder)), 1);
    CHECK(prints("err", "missing.npy: "));
    remove(own);
    CHECK_EQ(mkfifo(own, 0600), 0);
    CHECK_EQ(run("timeout 20", with(line, "partition %s --method file --from %s", made, own)), 1);
    remove(own);
    drop(&all);
}

/* ---- reorder likewise: each section's rows, of whatever type, by the order of rows or of lists */

TEST(reorder_writes_every_section_by_the_order_asked_for)
{
    static const char* const of_nodes[] = {"feat", "label", "external_id"};
    for (int i = 0; i < 6; i++) {
        ggnn_node rank[2][MANY];
        dataset d, new;
        error why = {""};
        char line[3000], out[700], beside[700];
        make_random(i % 3);
        snprintf(out, sizeof out, "%s.new", made);
        snprintf(beside, sizeof beside, "%s.%s", made, i < 3 ? "rank" : "else");
        if (!CHECK(dataset_open(&d, made, &why))) return;
        for (int v = 0; v < MANY; v++) {
            rank[0][v] = (ggnn_node)(v * 11 % MANY);
            rank[1][v] = (ggnn_node)((v * 3 + 5) % MANY);
        }
        CHECK(ranking_write(beside, &d, "test", rank[0], rank[1], NULL, NULL, &why));
        const ggnn_node* by = rank[i % 2];
        snprintf(line, sizeof line, "reorder %s %s %s%s %s %s", made, out, i < 3 ? "" : "--ranking ", i < 3 ? "" : beside,
                 i % 2 ? "--of lists" : i ? "--of rows" : "", i % 4 < 2 ? "" : "--json");
        CHECK_EQ(run("", line), 0);
        expect(NULL);
        if (i % 4 < 2) expect("%s: %d nodes in the order of their %s, %lld edges\n", out, MANY, i % 2 ? "lists" : "rows",
                              (long long)d.num_edges);
        else expect("{\n  \"file\": \"%s\",\n  \"num_nodes\": %d,\n  \"num_edges\": %lld\n}\n", out, MANY, (long long)d.num_edges);
        CHECK(prints_what_is_expected());
        if (!CHECK(dataset_open(&new, out, &why))) return;
        CHECK_EQ(new.file.num_sections, d.file.num_sections + 1 + !d.external_id);
        for (int v = 0; v < MANY; v++) {
            const int64_t to = by[v], begin = d.csc.indptr[v], n = d.csc.indptr[v + 1] - begin, there = new.csc.indptr[to];
            if (!CHECK_EQ(new.csc.indptr[to + 1] - there, n)) break;
            for (int64_t e = 0; e < n; e++) { /* edges with their weights, as sets */
                int old_count = 0, new_count = 0;
                for (int64_t k = 0; k < n; k++) {
                    const float w = d.csc.weight ? d.csc.weight[begin + e] : 0;
                    old_count += d.csc.indices[begin + k] == d.csc.indices[begin + e] && (!d.csc.weight || d.csc.weight[begin + k] == w);
                    new_count += new.csc.indices[there + k] == by[d.csc.indices[begin + e]] &&
                        (!d.csc.weight || new.csc.weight[there + k] == w);
                }
                CHECK_EQ(new_count, old_count);
                CHECK(e == 0 || new.csc.indices[there + e - 1] <= new.csc.indices[there + e]);
            }
            const char *rows = d.edge_feat.rows, *moved = new.edge_feat.rows;
            const size_t edge = i % 3 == 1 ? 4 : 12; /* two halves, three floats, which say the edge's ends */
            CHECK((rows != NULL) == (i % 3 > 0) && (moved != NULL) == (i % 3 > 0) && new.edge_feat.width == d.edge_feat.width &&
                  new.edge_feat.type == d.edge_feat.type);
            for (int64_t e = 0; rows && moved && e < n; e++) {
                int64_t at = 0;
                while (at < n && new.csc.indices[there + at] != by[d.csc.indices[begin + e]]) at++;
                CHECK(at < n && memcmp(rows + edge * (size_t)(begin + e), moved + edge * (size_t)(there + at), edge) == 0);
            }
            for (int k = 0; k < 3; k++) {
                const ggnn_file_section *was = ggnn_file_find(&d.file, of_nodes[k]), *is = ggnn_file_find(&new.file, of_nodes[k]);
                if (!was) continue;
                const size_t width = (size_t)was->bytes / MANY;
                CHECK(is && is->type == was->type && is->bytes == was->bytes &&
                      memcmp((const char*)ggnn_file_data(&new.file, is) + (size_t)to * width,
                             (const char*)ggnn_file_data(&d.file, was) + (size_t)v * width, width) == 0);
            }
            if (!d.external_id) CHECK_EQ(new.external_id[to], v);
            CHECK_EQ(new.old_id[to], v);
            for (int s = 0; s < 2; s++) CHECK_EQ(new.split[s * MANY + to], d.split[s * MANY + v]);
        }
        dataset_close(&d);
        dataset_close(&new);
        snprintf(line, sizeof line, "reorder %s %s --ranking %s", made, beside, beside);
        CHECK_EQ(run("", line), 2);
        snprintf(line, sizeof line, "ggnn-data: reorder: OUT %s: that is an input\n", beside);
        CHECK_STR(printed("err"), line);
    }
}

/* ---- plan files that are wrong ----------------------------------------------------------------------------------- */

static void refused(const char* path, const dataset* d, bool of_ranking, const char* words)
{
    ranking r;
    partition p;
    error why = {""};
    char whole[1400];
    CHECK(of_ranking ? !ranking_open(&r, path, d, &why) : !partition_open(&p, path, d, &why));
    CHECK(of_ranking ? !r.rows && !r.lists && !r.cached && !r.file.base : !p.owner && !p.file.base);
    snprintf(whole, sizeof whole, "%s: %s", path, words);
    CHECK_STR(why.text, words ? whole : "");
    for (int i = 0; i < 2; i++) { /* after a failure, and once more */
        if (of_ranking) ranking_close(&r);
        else partition_close(&p);
    }
}

static void ranking_is(const dataset* d, int section, int64_t at, int64_t value, const char* words)
{
    ggnn_node rank[2][MANY];
    int64_t cached[2] = {MANY, 0};
    error why = {""};
    ranking r;
    char path[700];
    snprintf(path, sizeof path, "%s.rank", made);
    for (int v = 0; v < MANY; v++) rank[0][v] = rank[1][v] = (ggnn_node)v;
    if (section < 2) rank[section][at] = (ggnn_node)value;
    else cached[at] = value;
    CHECK(ranking_write(path, d, "test", rank[0], rank[1], cached, NULL, &why));
    if (words) refused(path, d, true, words);
    else CHECK(ranking_open(&r, path, d, &why));
    if (!words) ranking_close(&r);
}

static void partition_is(const dataset* d, int64_t at, int32_t value, int32_t parts, const char* words)
{
    int32_t owner[MANY] = {0};
    error why = {""};
    partition p;
    char path[700];
    snprintf(path, sizeof path, "%s.part", made);
    owner[at] = value;
    CHECK(partition_write(path, d, "test", owner, parts, &why));
    if (words) refused(path, d, false, words);
    else if (CHECK(partition_open(&p, path, d, &why))) CHECK_EQ(p.parts, parts);
    if (!words) partition_close(&p);
}

/* A file of the sections of either, each as long as said; -1: not there. */
static void sections_are(const dataset* d, const int64_t length[5], bool wide, const char* words)
{
    static const char* const name[2][5] = {{"graph_crc", "rank_rows", "rank_lists", "cached", "x"},
                                           {"graph_crc", "parts", "owner", "x", "y"}};
    const int64_t crc = ggnn_file_graph_crc(&d->file), one[2] = {1, 1};
    ggnn_node rank[MANY + 1];
    int64_t zero[MANY + 1] = {0};
    int32_t owner[MANY + 1] = {0};
    ggnn_file_writer w;
    char path[700], whole[1400];
    const bool of_ranking = length[4] == 0;
    snprintf(path, sizeof path, "%s.wrong", made);
    for (int v = 0; v <= MANY; v++) rank[v] = (ggnn_node)v;
    CHECK(ggnn_file_create(&w, path));
    for (int i = 0; i < 4; i++) {
        const bool nodes = of_ranking ? i == 1 || i == 2 : i == 2;
        const void* data = i == 0 ? (const void*)&crc : !nodes ? (i == 1 ? one : zero) : of_ranking
            ? (const void*)rank : owner;
        if (length[i] < 0) continue;
        const int64_t n = length[i];
        CHECK(ggnn_file_append(&w, name[!of_ranking][i], nodes
                               ? (of_ranking ? DATASET_NODE : wide ? GGNN_FILE_F32 : GGNN_FILE_I32) : GGNN_FILE_I64, 1, &n,
                                   i == 0 && n > 1 ? zero : data));
    }
    CHECK(ggnn_file_commit(&w));
    snprintf(whole, sizeof whole, "%s: %s", path, words);
    ranking r;
    partition p;
    error why = {""};
    CHECK(of_ranking ? !ranking_open(&r, path, d, &why) : !partition_open(&p, path, d, &why));
    if (!CHECK(strstr(why.text, whole) == why.text)) printf("  %s\n", why.text);
}

TEST(plan_files_that_are_wrong_are_refused_and_those_at_the_ends_are_not)
{
    dataset d;
    error why = {""};
    make_random(0);
    if (!CHECK(dataset_open(&d, made, &why))) return;
    ranking_is(&d, 0, 3, 3, NULL);
    ranking_is(&d, 2, 1, MANY, NULL);
    ranking_is(&d, 2, 0, 0, NULL);
    ranking_is(&d, 0, 69, -1, "section 'rank_rows': node 69 has rank -1, which is outside [0, N)");
    ranking_is(&d, 0, 0, MANY, "section 'rank_rows': node 0 has rank 70, which is outside [0, N)");
    ranking_is(&d, 0, 69, 0, "section 'rank_rows': node 69 has rank 0, which is another node's");
    ranking_is(&d, 1, 5, 4, "section 'rank_lists': node 5 has rank 4, which is another node's");
    ranking_is(&d, 1, 0, -7, "section 'rank_lists': node 0 has rank -7, which is outside [0, N)");
    for (int i = 0; i < 2; i++) {
        ranking_is(&d, 2, i, -1, "section 'cached': more rows or lists than nodes");
        ranking_is(&d, 2, i, MANY + 1, "section 'cached': more rows or lists than nodes");
    }
    partition_is(&d, 0, 0, 1, NULL);
    partition_is(&d, 69, 63, 64, NULL);
    partition_is(&d, 69, -1, 1, NULL);
    partition_is(&d, 0, 0, 0, "0 parts, not 1 to 64");
    partition_is(&d, 0, 0, 65, "65 parts, not 1 to 64");
    partition_is(&d, 0, 0, -1, "-1 parts, not 1 to 64");
    partition_is(&d, 69, 3, 3, "section 'owner': node 69 is part 3's, of 3");
    partition_is(&d, 0, -2, 3, "section 'owner': node 0 is part -2's, of 3");
    sections_are(&d, (int64_t[]){2, MANY, MANY, -1, 0}, false, "section 'graph_crc' has 2 entries, not 1");
    sections_are(&d, (int64_t[]){1, MANY + 1, MANY, -1, 0}, false, "section 'rank_rows' has 71 entries, not 70");
    sections_are(&d, (int64_t[]){1, MANY, MANY - 1, -1, 0}, false, "section 'rank_lists' has 69 entries, not 70");
    sections_are(&d, (int64_t[]){1, MANY, MANY, 3, 0}, false, "section 'cached' has 3 entries, not 2");
    sections_are(&d, (int64_t[]){-1, MANY, MANY, -1, 0}, false, "it has no section 'graph_crc'");
    sections_are(&d, (int64_t[]){1, MANY, -1, -1, 0}, false, "it has no section 'rank_lists'");
    sections_are(&d, (int64_t[]){1, 2, MANY, -1, 1}, false, "section 'parts' has 2 entries, not 1");
    sections_are(&d, (int64_t[]){1, 1, MANY + 1, -1, 1}, false, "section 'owner' has 71 entries, not 70");
    sections_are(&d, (int64_t[]){1, 1, MANY, -1, 1}, true, "section 'owner' at offset");
    sections_are(&d, (int64_t[]){1, -1, MANY, -1, 1}, false, "it has no section 'parts'");
    dataset_close(&d);
}

/* Where a plan goes: beside the graph, by a name that must fit, and never over it. */
TEST(a_plan_is_written_beside_its_graph_or_where_it_is_asked_for)
{
    char beside[PLAN_FILE_NAME], graph_name[PLAN_FILE_NAME + 10];
    for (int length = PLAN_FILE_NAME - 8; length <= PLAN_FILE_NAME; length++) {
        const char *out = NULL, *given = "elsewhere";
        error why = {""};
        memset(graph_name, 'g', sizeof graph_name);
        graph_name[length] = 0;
        CHECK_EQ(plan_file_name(&out, beside, graph_name, "rank", &why), length + 5 < PLAN_FILE_NAME);
        if (length + 5 < PLAN_FILE_NAME) CHECK(out == beside && strncmp(out, graph_name, (size_t)length) == 0 &&
                                               strcmp(out + length, ".rank") == 0);
        else CHECK(strstr(why.text, ": the name is too long for one with .rank"));
        why.text[0] = 0;
        CHECK(plan_file_name(&given, beside, graph_name, "rank", &why));
        CHECK_STR(given, "elsewhere");
    }
    const char* itself = graph;
    error why = {""};
    char words[700];
    CHECK(!plan_file_name(&itself, beside, graph, "part", &why));
    snprintf(words, sizeof words, "--out %s: that is the graph itself", graph);
    CHECK_STR(why.text, words);
    char line[2000];
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(run("", with(line, i ? "rank %s --by degree --out /nonexistent/x%s" : "partition %s --out /nonexistent/x%s",
                              graph, "")), 1);
        CHECK(prints("err", "ggnn-data: /nonexistent/x: cannot create") && !printed("out")[0]);
    }
}

/* Edge 2 of node 1 leads nowhere. Whoever meets it names the node. */
TEST(a_broken_list_is_named_by_whichever_command_meets_it)
{
    static const int64_t indptr[] = {0, 1, 3, 4}, rows = 4, edges = 4, splits[2] = {1, 3}, wide[2] = {3, 1};
    static const ggnn_node indices[] = {1, 0, 3, 1};
    static const uint8_t split[] = {SPLIT_TRAIN, SPLIT_TRAIN, SPLIT_NONE};
    static const float feat[3] = {1, 2, 3};
    static const struct {
        const char *command, *after, *words;
    } of[] = {{"rank", "--by degree", "node 1: "}, {"rank", "--by aligraph", "node 1: "}, {"rank", "--by presc --fanout 5", "node 1: "},
              {"rank", "--by dual --cache-bytes 9 --fanout 5", "node 1: "}, {"partition", "--method mincut", "node 1: "}, {"partition", "--method hash", "node 1: "},
              {"partition", "--method pagraph", "node 1: "}, {"partition", "--method range --hops 0", "node 1: "},
                  {"sample", "--seeds 0,1 --fanout 2", "node 1: "},
              {"stats", "", "node 1, edge 2"}, {"preprocess", "--out", "node 1, edge 2"}, {"reorder", "", "node 1, edge 2"}};
    char line[2000], path[700];
    dataset d;
    error why = {""};
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices) && ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, wide, feat) &&
          ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) && ggnn_file_commit(&w));
    snprintf(path, sizeof path, "%s.rank", made);
    const ggnn_node rank[] = {2, 0, 1};
    CHECK(dataset_open(&d, made, &why) && ranking_write(path, &d, "test", rank, rank, NULL, NULL, &why));
    dataset_close(&d);
    folder_path(path, "not made");
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const bool writes = strchr("rp", of[i].command[0]) != NULL;
        if (strcmp(of[i].command, "reorder")) snprintf(line, sizeof line, "%s %s %s %s%s%s%s", of[i].command, made, of[i].after,
                                                       writes && i < 8 ? "--out " : "", writes ? "'" : "", writes ? path : "",
                                                           writes ? "'" : "");
        else snprintf(line, sizeof line, "reorder %s '%s'", made, path);
        CHECK_EQ(run("", line), 1);
        CHECK(!strstr(printed("err"), "node -1")); /* a folder may be called ggnn-test-1... */
        if (!CHECK(prints("err", of[i].words)) || !CHECK(prints("err", made)) ||
            !CHECK(access(path, F_OK) != 0 && temporaries() == 0)) printf("  %s\n", line);
    }
}

/* Splits that are not there or train nobody; what no memory could hold. Each command's status, and its message behind the file's name. */
TEST(a_split_that_trains_nobody_and_batches_without_end_are_refused)
{
    static const int64_t indptr[] = {0, 1, 2}, rows = 3, edges = 2, splits[2] = {2, 2};
    static const ggnn_node indices[] = {1, 0};
    static const uint8_t split[] = {SPLIT_TRAIN, SPLIT_TEST, SPLIT_VAL, SPLIT_NONE};
    static const struct {
        const char* command;
        bool with; /* splits */
        const char* words; /* NULL: it does */
    } of[] = {{"rank %s --by degree --split 9", true, NULL},
              {"rank %s --split 0", true, NULL},
              {"rank %s --split 1", true, ": split 1 has no training node\n"},
              {"rank %s --by optimal --split 2", true, ": it has 2 splits, number 2 (from 0) is not one\n"},
              {"rank %s --by dual --cache-bytes 9", false, ": it has 0 splits, number 0 (from 0) is not one\n"},
              {"partition %s --split 1", true, NULL},
              {"partition %s --split 2", true, ": it has 2 splits, number 2 (from 0) is not one\n"},
              {"partition %s --split 2", false, NULL},
              {"partition %s --method pagraph --split 1", true, ": it has no training nodes, which pagraph divides\n"},
              {"partition %s --method metis --balance edges --split 1", true,
               ": it has no training nodes, whose batches --balance edges counts\n"},
              {"partition %s --method metis --balance edges", false, ": it has no training nodes, whose batches --balance edges counts\n"},
              {"rank %s --fanout 1048576,1048576 --sampler replacement", true,
               "--fanout, --batch: a hop may have 2^31 edges or more"}, /* of 4,000 nodes */
              {"sample %s --seeds 0 --fanout 1048576,1048576 --sampler replacement", true,
               "--fanout: 1 seeds: a hop may have 2^31 edges or more"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char line[2000], words[900] = "";
        ggnn_file_writer w;
        CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &rows, indptr) &&
              ggnn_file_append(&w, "indices", DATASET_NODE, 1, &edges, indices) &&
              (!of[i].with || ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split)) && ggnn_file_commit(&w));
        snprintf(line, sizeof line, of[i].command, strstr(of[i].command, "1048576") ? graph : made);
        CHECK_EQ(run("", line), of[i].words ? 1 : 0);
        if (of[i].words) snprintf(words, sizeof words, "ggnn-data: %s%s", of[i].words[0] == ':' ? made : "", of[i].words);
        if (!CHECK(of[i].words ? strncmp(printed("err"), words, strlen(words)) == 0 : !strstr(printed("err"), "ggnn-data"))) printf("  %s: %s", line,
                printed("err"));
    }
}

TEST(plans_of_a_graph_without_nodes_are_empty)
{
    static const int64_t indptr[] = {0}, one = 1, none = 0, wide[2] = {0, 3};
    char line[2000], path[700];
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&w, made) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &one, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &none, indptr) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F32, 2, wide, indptr) && ggnn_file_commit(&w));
    CHECK_EQ(run("", with(line, "rank %s --by aligraph --json%s", made, "")), 0);
    expect(NULL);
    expect("{\n  \"file\": \"%s.rank\",\n  \"by\": \"aligraph\",\n  \"num_nodes\": 0,\n  \"hits\": []\n}\n", made);
    CHECK(prints_what_is_expected());
    snprintf(path, sizeof path, "%s.new", made);
    CHECK_EQ(run("", with(line, "reorder %s %s", made, path)), 0);
    expect(NULL);
    expect("%s: 0 nodes in the order of their rows, 0 edges\n", path);
    CHECK(prints_what_is_expected());
    static const char* const method[] = {"mincut", "hash", "mod", "range"};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(run("", with(line, "partition %s --parts 2 --method %s", made, method[i])), 0);
        expect(NULL);
        expect("%s.part: 2 parts by %s\n  part      nodes   training       held\n     0          0          0          0\n     1          0          0          0\n"
               "balance 1.000 (training 1.000), replication 0.000, cut 0.00%% (counted)\n", made, method[i]);
        CHECK(prints_what_is_expected());
    }
    CHECK_EQ(run("", with(line, "preprocess %s --model gcn%s", made, "")), 0);
    expect(NULL);
    expect("%s: 0 rows of 3, the first layer of gcn over all neighbours\n", made);
    CHECK(prints_what_is_expected());
}

TEST(a_report_that_cannot_be_written_is_an_error)
{
    static const char* const command[] = {"info", "stats", "verify", "place none", "rank --by degree", "partition --method mod",
                                          "sample --seeds 0 --fanout 2",
                                         "reorder --json", "preprocess --out"};
    for (int i = 0; i < 18; i++) {
        char line[4000], new[700];
        int status;
        snprintf(new, sizeof new, "%s.full", made);
        snprintf(line, sizeof line, "%s %s %s %s %s >/dev/full 2>%s/err", tool, command[i / 2], i / 2 == 8 ? new : "", i / 2 == 3
                 ? "" : graph,
                 i % 2 ? "--json" : i / 2 == 7 ? new : "", folder);
        if (i / 2 == 7) snprintf(line, sizeof line, "%s reorder %s %s %s >/dev/full 2>%s/err", tool, graph, new, i % 2 ? "--json"
                                 : "", folder);
        status = system(line);
        CHECK_EQ(WEXITSTATUS(status), 1);
        const char* complaint = strstr(printed("err"), "ggnn-data: "); /* behind what took how long */
        if (!CHECK_STR(complaint ? complaint : "", "ggnn-data: cannot write to standard output: No space left on device\n")) printf("  %s\n", line);
    }
}

TEST(every_allocation_may_fail)
{
    char by_file[700], by_score[700];
    const char* const command[] = {"rank --fanout 3,3", "partition --method mincut", "partition --method pagraph", by_file,
                                   by_score, "place", "reorder", "partition --method metis --balance edges --fanout 3,3"};
    const int commands = tool_on("partition", "--method metis") == 0 ? 8 : 7;
    static const int64_t owner[4000];
    put_array(own, "<i8", owner, 4000);
    snprintf(by_file, sizeof by_file, "partition --method file --from %s", own);
    snprintf(by_score, sizeof by_score, "rank --by file --from %s", own);
    put_text(topology, "700\n");
    for (int c = 0; c < commands; c++) {
        int n = 1, code = 1;
        for (; n < 60 && code != 0; n++) {
            char before[100], line[2000];
            snprintf(before, sizeof before, "GGNN_TEST_FAIL_ALLOCATION=%d", n);
            snprintf(line, sizeof line, c < 5 || c == 7 ? "%s %s --out %s" : c == 5 ? "%s %s" : "%s %s %s", command[c],
                     c == 5 ? topology : graph, made);
            remove(made);
            code = run(before, line);
            CHECK(code == 0 || (code == 1 && access(made, F_OK) != 0 && prints("err", "memory")));
            CHECK_EQ(temporaries(), 0);
        }
        CHECK(n > 2 && n < 60);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    tool_find();
    folder_make();
    make_graphs();
    RUN(nvidia_smis_table_is_read_as_it_is);
    RUN(what_is_no_topology_is_refused_by_line_and_word);
    RUN(a_topology_has_up_to_sixteen_devices);
    RUN(place_prints_plans_for_people_and_as_json);
    RUN(place_prints_the_plan_that_the_library_makes);
    RUN(place_keeps_the_devices_of_a_list);
    RUN(a_topologys_words_and_blanks_are_those_of_its_format);
    RUN(devices_of_a_list_keep_who_reads_whom);
    RUN(place_refuses_what_cannot_be_meant);
    RUN(every_policy_writes_a_ranking_that_opens_beside_its_graph_alone);
    RUN(a_ranking_has_the_same_bytes_on_any_number_of_threads);
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
    RUN(rank_prints_and_writes_what_epochs_read);
    RUN(a_ranking_by_scores_has_their_order_whatever_their_type);
    RUN(scores_that_are_none_are_refused_by_index_and_value);
    RUN(arrays_longer_than_a_piece_are_read_to_their_end);
    RUN(partition_prints_and_writes_what_its_method_gives);
    RUN(owners_that_are_none_are_refused_by_index_and_value);
    RUN(a_file_of_owners_is_whole);
    RUN(reorder_writes_every_section_by_the_order_asked_for);
    RUN(plan_files_that_are_wrong_are_refused_and_those_at_the_ends_are_not);
    RUN(a_plan_is_written_beside_its_graph_or_where_it_is_asked_for);
    RUN(a_broken_list_is_named_by_whichever_command_meets_it);
    RUN(a_split_that_trains_nobody_and_batches_without_end_are_refused);
    RUN(plans_of_a_graph_without_nodes_are_empty);
    RUN(a_report_that_cannot_be_written_is_an_error);
    RUN(every_allocation_may_fail);
    folder_remove();
    return test_finish();
}
