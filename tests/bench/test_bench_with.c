/* test_bench_with.c - ggnn-bench --with FILE: a partition or a ranking of a user's own, beside the rows of the same one. */
#include "datasets/dataset.h"
#include "datasets/npy.h"
#include "tests/bench_tool.h"

static char own[600];

/* How many figures the row has in all tables whose name begins so, each of which must be that of row `same`: NaN beside P of
   another column. */
static int equal_figures(const char* text, const char* row, const char* same, const char* column)
{
    int found = 0;
    for (const char* f = json_begin(json_member(json_first(text), "figures")); f; f = json_next(f)) {
        char table[100] = "", at[40] = "";
        const char *of = json_member(f, "case"), *in = json_member(f, "column");
        if (!json_is_text(json_member(f, "row"), row)) continue;
        const double value = json_number(json_member(f, "value"));
        if (json_is_text(json_member(f, "label"), "measured")) continue;
        sscanf(of, "\"%99[^\"]", table);
        sscanf(in, "\"%39[^\"]", at);
        if (column && at[0] == 'P' && strcmp(at, column)) {
            CHECK(isnan(value));
            continue;
        }
        if (column && table[0] == 'P') CHECK(strncmp(table, column, strlen(column)) == 0);
        if (!CHECK(value == bench_figure(text, "counted", table, same, at))) printf("  %s, %s\n", table, at);
        found++;
    }
    return found;
}

/* An array of int32, as NumPy saves it. */
static void put_array(const char* path, const int32_t* value, int64_t nodes)
{
    char header[NPY_WRITTEN_MAX];
    const size_t length = npy_write_header(header, "<i4", 1, &nodes);
    FILE* out = fopen(path, "wb");
    CHECK(out && fwrite(header, 1, length, out) == length && fwrite(value, sizeof *value, (size_t)nodes, out) == (size_t)nodes);
    if (out) fclose(out);
}

/* v mod P. */
static void put_owners(int64_t nodes, int parts)
{
    int32_t* owner = malloc((size_t)nodes * sizeof *owner);
    for (int64_t v = 0; v < nodes; v++) owner[v] = (int32_t)(v % parts);
    put_array(own, owner, nodes);
    free(owner);
}

static char* counted(const char* names)
{
    char line[2000];
    snprintf(line, sizeof line, "%s --with %s", names, own);
    return bench_json(line);
}

static bool make_plan(const char* command, const char* options)
{
    char line[2000];
    snprintf(line, sizeof line, "%s %s %s --out %s", command, data, options, own);
    return CHECK_EQ(run("", line), 0);
}

TEST(a_partition_of_ones_own_has_the_figures_of_the_same_partition)
{
    static const struct {
        const char *options, *same, *column; /* options NULL: a .npy array */
        int parts;
    } of[] = {{NULL, "mod", "P = 2", 2}, {"--method mincut --parts 4", "mincut", "P = 4", 4},
              {"--method pagraph --closure-limit 1000 --parts 8", "pagraph", "P = 8", 8}, {NULL, "mod", "P = 8", 8}};
    if (!generate_graph("rmat --nodes 2048 --edges 20000 --train .3")) return;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        if (of[i].options) make_plan("partition", of[i].options);
        else put_owners(2048, of[i].parts);
        char *text = counted("split"), words[100];
        CHECK_EQ(equal_figures(text, "own: mine", of[i].same, of[i].column), 4 + 5 + 6); /* tables by P; by link; of caches */
        snprintf(words, sizeof words, "%s, sampling and splitting", of[i].column);
        CHECK(bench_figure(text, "measured", words, "own: mine", "split") > 0);
        snprintf(words, sizeof words, "own: mine has %d parts: no figure of it where P is another number\n", of[i].parts);
        CHECK(prints("out", words));
        CHECK(json_is_text(json_member(json_member(json_first(text), "options"), "with"), "mine"));
        free(text);
    }
}

TEST(a_ranking_of_ones_own_has_the_figures_of_the_same_policy)
{
    if (!generate_graph("rmat --nodes 2048 --edges 20000 --directed --train .3")) return;
    make_plan("rank", "--by degree");
    char* text = counted("cache");
    CHECK_EQ(equal_figures(text, "own: mine", "degree", NULL), 7 * 5 + 3 * 4); /* samplings by share; by width */
    free(text);
    make_plan("rank", "--by presc --fanout 5,4,3 --batch 128");
    text = counted("cache");
    static const char* const column[] = {"1 %", "5 %", "10 %", "20 %", "50 %", "F 8", "F 16", "F 32", "F 64"};
    for (int i = 0; i < 9; i++) {
        const char* table = i < 5 ? "uniform 5,4,3" : "uniform 5,4,3, by width";
        const double presc = bench_figure(text, "counted", table, "presc", column[i]);
        CHECK_NEAR(bench_figure(text, "counted", table, "own: mine", column[i]), presc, 0);
    }
    free(text);
}

static double of_store(const char* text, const char* table, const char* row, const char* column)
{
    return bench_figure(text, strcmp(table, "time") ? "counted" : "modelled", table, row, column);
}

/* In place of the ranking in `own` that in which its last row is the hottest. */
static void reverse_ranking(int64_t nodes)
{
    int32_t* score = malloc((size_t)nodes * sizeof *score);
    char scores[700], options[1000];
    ggnn_file f;
    if (!CHECK(ggnn_file_open(&f, own))) return;
    const ggnn_node* rank = ggnn_file_data(&f, ggnn_file_find(&f, "rank_rows"));
    for (int64_t v = 0; v < nodes; v++) score[v] = (int32_t)rank[v];
    ggnn_file_close(&f);
    put_array(folder_path(scores, "scores.npy"), score, nodes);
    snprintf(options, sizeof options, "--by file --from %s", scores);
    make_plan("rank", options);
    free(score);
}

/* One device reads before training what rank counts: the same order of rows and of lists, which are two orders. In its reverse
   a device has rows that are read least, and more lists, as those are short. Lists come first: of 60 KB they take all, of 125 KB
   all of them lie there, and some rows. */
TEST(a_store_is_filled_in_the_order_of_the_ranking)
{
    static const struct {
        const char *table, *row, *column;
    } at[] = {{"rows", "base", "own"}, {"rows", "base", "host"}, {"lists", "base", "own"}, {"lists", "base", "host"},
              {"kept", "base", "lists"}, {"kept", "base", "rows"}, {"rows", "+ placement", "host"}, {"lists", "+ placement", "host"},
              {"rows", "CliqueOpt", "own"}, {"lists", "CliqueOpt", "own"}, {"time", "base", "both"}, {"time", "CliqueOpt", "both"}};
    if (!generate_graph("rmat --nodes 2048 --edges 20000 --directed --train .3")) return;
    for (int i = 0; i < 2; i++) {
        char line[100];
        const char* all_lists = sizeof(ggnn_node) == 8 ? "205K" : "125K"; /* and some rows */
        snprintf(line, sizeof line, "store --topology none --devices 1 --device-memory %s", i ? all_lists : "60K");
        char* usual = bench_json(line);
        make_plan("rank", "--by presc --sampler rejection --fanout 5,4,3 --batch 128");
        char* same = counted(line);
        CHECK(prints("out", "nodes are ranked by own: mine\n"));
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            CHECK_NEAR(of_store(same, at[k].table, at[k].row, at[k].column),
                       of_store(usual, at[k].table, at[k].row, at[k].column), 0);
        reverse_ranking(2048);
        char* reverse = counted(line);
        CHECK(of_store(usual, i ? "rows" : "lists", "base", "host") > 0);
        if (i) CHECK(of_store(reverse, "rows", "base", "own") < .5 * of_store(usual, "rows", "base", "own"));
        else CHECK(of_store(reverse, "kept", "base", "lists") > 2 * of_store(usual, "kept", "base", "lists"));
        free(usual);
        free(same);
        free(reverse);
    }
}

/* A file that fits one of the names is taken by that one alone. */
TEST(names_that_take_another_kind_run_without_it)
{
    if (!generate_graph("rmat --nodes 512 --edges 4000 --train .3")) return;
    put_owners(512, 4);
    char *text = counted("cache split"), *usual = bench_json("cache split");
    for (int i = 0; i < 2; i++) {
        CHECK(bench_figure(i ? usual : text, "counted", "uniform 2", "degree", "10 %") > 0);
        CHECK_EQ(equal_figures(i ? usual : text, "own: mine", "mod", "P = 4"), i ? 0 : 4 + 5 + 6);
    }
    CHECK(json_member(json_member(json_first(usual), "options"), "with") && !strstr(usual, "own: "));
    free(text);
    free(usual);
    make_plan("rank", "--by random");
    text = counted("cache split");
    CHECK_EQ(equal_figures(text, "own: mine", "own: mine", NULL), 7 * 5 + 3 * 4);
    CHECK(bench_figure(text, "counted", "local edges", "mod", "P = 2") > 0);
    free(text);
}

static void refused(const char* arguments, int status, const char* says)
{
    char line[3000];
    snprintf(line, sizeof line, "%s --quick --data %s %s >%s/out 2>%s/err", bench_tool, data, arguments, folder, folder);
    const int code = system(line);
    CHECK_EQ(WIFEXITED(code) ? WEXITSTATUS(code) : -1, status);
    if (!CHECK(prints("err", says))) printf("  %s\n", arguments);
}

TEST(files_that_fit_no_name_are_refused)
{
    char line[2000], with[700];
    if (!generate_graph("rmat --nodes 512 --edges 4000 --train .3")) return;
    snprintf(with, sizeof with, "--with %s", own);
    const char* const names[] = {"spmm", "scale", "split gather", ""};
    const char* const says[] = {"--with: spmm takes no partition and no ranking; split, cache and store do",
                                "--with: scale takes no", "--with: gather takes no", "takes no partition and no ranking"};
    for (int i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "%s %s", names[i], with);
        refused(line, 2, says[i]);
    }
    snprintf(line, sizeof line, "split %s --json %s", with, own);
    make_plan("partition", "--method mod --parts 3");
    refused(line, 2, "that is what --with reads");
    snprintf(line, sizeof line, "split %s", with);
    refused(line, 1, "mine: it has 3 parts; split counts 2, 4 and 8");
    make_plan("partition", "--method mod --parts 1");
    refused(line, 1, "mine: it has 1 part; split counts 2, 4 and 8");
    make_plan("partition", "--method mod --parts 4");
    snprintf(line, sizeof line, "cache store %s", with);
    refused(line, 1, "mine: it is a partition, which split takes");
    put_owners(512, 4);
    refused(line, 1, "mine: it is a partition, which split takes");
    make_plan("rank", "--by degree");
    snprintf(line, sizeof line, "split %s", with);
    refused(line, 1, "mine: it is a ranking, which cache and store take");
}

/* Of another graph, of another number of nodes, cut, empty, text, a graph, floats, missing. */
TEST(files_that_are_no_plan_of_the_graph_are_refused)
{
    char line[2000], scores[NPY_WRITTEN_MAX + 4], path[700];
    const int64_t one = 1;
    snprintf(line, sizeof line, "split --with %s", own);
    if (!generate_graph("rmat --nodes 1024 --edges 4000 --train .3")) return;
    make_plan("partition", "--method mod --parts 4");
    make_plan("rank", "--by degree");
    char* ranking = folder_path(path, "ranking");
    CHECK_EQ(rename(own, ranking), 0);
    make_plan("partition", "--method mod --parts 4");
    if (!generate_graph("rmat --nodes 512 --edges 4000 --train .3")) return;
    refused(line, 1, "mine: it belongs to another graph");
    write_file(own, "\x89GGNN\r\n\x1a more", 13);
    refused(line, 1, "mine: ");
    put_owners(513, 4);
    refused(line, 1, "mine: 513 owners; the graph has 512 nodes");
    put_owners(512, 65);
    refused(line, 1, "mine: element 64: owner 64 is outside [0, 64)");
    write_file(own, "\x93NUMPY", 6);
    refused(line, 1, "mine: ");
    write_file(own, "", 0);
    refused(line, 1, "mine: file ends inside its first byte");
    write_file(own, "0 1 2 3\n", 8);
    refused(line, 1, "mine: neither a file of ggnn-data partition or rank nor a .npy array");
    memset(scores, 0, sizeof scores);
    write_file(own, scores, npy_write_header(scores, "<f4", 1, &one) + 4);
    refused(line, 1, "mine: owners are integers; of scores ggnn-data rank --by file makes a ranking");
    snprintf(line, sizeof line, "split --with %s", data);
    refused(line, 1, "data.ggnn: neither a partition nor a ranking, which ggnn-data partition and rank write");
    refused("split --with /nonexistent/x", 1, "/nonexistent/x: ");
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "%s --with %s", i ? "cache" : "store", ranking);
        refused(line, 1, "ranking: it belongs to another graph");
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    bench_tool_find();
    folder_path(own, "mine");
    RUN(a_partition_of_ones_own_has_the_figures_of_the_same_partition);
    RUN(a_ranking_of_ones_own_has_the_figures_of_the_same_policy);
    RUN(a_store_is_filled_in_the_order_of_the_ranking);
    RUN(names_that_take_another_kind_run_without_it);
    RUN(files_that_fit_no_name_are_refused);
    RUN(files_that_are_no_plan_of_the_graph_are_refused);
    folder_remove();
    return test_finish();
}
