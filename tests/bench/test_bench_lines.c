/* A run as lines: what ggnn-bench --csv and compact write, and compare and --check read. */
#include "bench/lines.h"

#include "bench/read_json.h"
#include "tests/test.h"
#include "tests/tool.h"

/* In the folder, so that names are short. */
static int bench_says(const char* arguments)
{
    char line[6000];
    snprintf(line, sizeof line, "cd %s && %s/ggnn-bench %s >out 2>err", folder, build, arguments);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_named(const char* name, const char* text)
{
    char path[600];
    write_file(folder_path(path, name), text, strlen(text));
}

#define BEGIN "# ggnn_bench: 1\n"
#define HEADS                                                                                                        \
    "\"git\":\"abc\",\n \"backend\":\"cpu\", \"machine\": {\"cpu\": \"a b\", \"threads\": 2},"                          \
    "\"options\":{\"quick\":false}"
#define RESULT                                                                                                       \
    "{\"bench\":\"spmm\",\"case\":\"sum, \\\"F\\\" 32\",\"threads\":2,\"rival\":false,\"cold\":true,\"unit\":\"edges\"," \
    "\"work\":33554432,\"bytes\":123456.75,\"flops\":0,\"work_per_second\":7,\"roof\":\"rows\",\"roof_size\":128,"     \
    "\"demands\":[{\"roof\":\"copy\",\"size\":0,\"amount\":5},{\"roof\":\"rows\",\"size\":128,\"amount\":6}],"          \
    "\"share\":0.3333333333333333,\"disturbed\":false,\"repeats\":1,\"median\":0.0012345678912,\"least\":0.001,"       \
    "\"most\":12345678.5,\"samples\":[1,2,3]}"
#define FIGURE(case_, row, column, value, more)                                                                      \
    "{\"bench\":\"cache\",\"case\":\"" case_ "\",\"row\":\"" row "\",\"column\":\"" column "\",\"value\":" value \
    ",\"unit\":\"%\",\"label\":\"counted\"" more "}"

static const char whole_json[] =
    "{\"ggnn_bench\":1,\"command\":[\"ggnn-bench\",\"a \\\\ b\"]," HEADS ","
    "\"roofs\":[{\"name\":\"copy\",\"size\":0,\"threads\":2,\"unit\":\"B\",\"value\":3927894550558.889,\"amount\":1,\"measured\":2}],"
    "\"results\":[" RESULT "],"
    "\"ratios\":[{\"bench\":\"spmm\",\"case\":\"sum\",\"threads\":2,\"of\":\"ggnn's\",\"their_case\":\"x\",\"their_threads\":2,"
    "\"ratio\":1.25,\"goal\":null,\"turns\":9,\"lower\":1,\"upper\":1.5}],\"notes\":[],\"figures\":["
    FIGURE("one", "a", "1 %", "0.5", "") "," FIGURE("one", "a", "2 %", "null", "") ","
    FIGURE("one", "#b", "1 %", "-2500", ",\"note\":\"red\"") "," FIGURE("one", "#b", "2 %", "7", "") ","
    FIGURE("one", "c", "1 %", "1", "") "," FIGURE("two", "c", "1 %", "1", "") "],\"failures\":[],\"left\":[]}\n";
static const char whole_lines[] =
    "# ggnn_bench: 1\n# command: [\"ggnn-bench\",\"a \\\\ b\"]\n# git: \"abc\"\n# backend: \"cpu\"\n"
    "# machine: {\"cpu\":\"a b\",\"threads\":2}\n# options: {\"quick\":false}\n# failures: []\n# left: []\n"
    "# roofs\nname,size,threads,unit,value,measured\ncopy,0,2,B,3927894550559,2\n"
    "# results\nbench,case,threads,rival,cold,unit,work,bytes,flops,median,least,most,samples,roof,roof_size,share,disturbed,"
    "demands\nspmm,\"sum, \"\"F\"\" 32\",2,,true,edges,33554432,123456.8,0,0.001234568,0.001,12345678,3,rows,128,0.3333333,,"
    "copy 0;rows 128\n"
    "# ratios\nbench,case,threads,of,ratio,goal,turns,lower,upper\nspmm,sum,2,ggnn's,1.25,,9,1,1.5\n"
    "# figures: [\"cache\",\"one\",\"%\",\"counted\"]\nrow,1 %,2 %\na,0.5,\n\"#b\",-2500 red,7\n"
    "# figures: [\"cache\",\"one\",\"%\",\"counted\"]\nrow,1 %\nc,1\n"
    "# figures: [\"cache\",\"two\",\"%\",\"counted\"]\nrow,1 %\nc,1\n# end\n";

TEST(a_run_becomes_lines_and_the_lines_of_lines_are_the_same)
{
    write_named("a.json", whole_json);
    CHECK_EQ(bench_says("compact a.json --csv a.csv"), 0);
    CHECK_STR(folder_text("a.csv"), whole_lines);
    CHECK_EQ(bench_says("compact a.csv --csv b.csv"), 0);
    CHECK_STR(folder_text("b.csv"), whole_lines);
}

/* The run that lines hold; free() it. */
static char* read_back(const char* lines)
{
    char* text = strdup(lines);
    error why = {""};
    char* json = lines_read("x.csv", text, &why);
    CHECK_STR(why.text, "");
    CHECK(json && json_whole(json));
    free(text);
    return json;
}

TEST(lines_are_read_as_the_json_has_them)
{
    char* json = read_back(whole_lines);
    const char* run = json_begin(json);
    const char* r = json_begin(json_member(run, "results"));
    char text[64];
    CHECK(json_next(run) == NULL);
    CHECK(json_copy_text(json_member(r, "case"), text, sizeof text));
    CHECK_STR(text, "sum, \"F\" 32");
    CHECK(*json_member(r, "rival") == 'f' && *json_member(r, "cold") == 't');
    CHECK_EQ((int)json_number(json_member(r, "line")), 14);
    CHECK_EQ((int)json_number(json_member(r, "sample_count")), 3);
    CHECK(json_member(r, "samples") == NULL);
    const char* d = json_next(json_begin(json_member(r, "demands")));
    CHECK(json_is_text(json_member(d, "roof"), "rows") && json_number(json_member(d, "size")) == 128);
    CHECK(json_is_text(json_member(json_member(run, "machine"), "cpu"), "a b"));
    const char* f = json_next(json_next(json_begin(json_member(run, "figures"))));
    CHECK(json_is_text(json_member(f, "row"), "#b") && json_is_text(json_member(f, "column"), "1 %"));
    CHECK(json_is_text(json_member(f, "note"), "red") && json_number(json_member(f, "value")) == -2500);
    CHECK(json_is_text(json_member(f, "unit"), "%") && json_is_text(json_member(f, "label"), "counted"));
    free(json);
}

/* Columns of in_turns stand where a result of the run has it. */
TEST(what_was_measured_in_turns_has_columns_of_its_own)
{
    char json[2000], lines[2000];
    snprintf(json, sizeof json,
             "{\"ggnn_bench\":1,\"results\":[{\"bench\":\"a\",\"case\":\"x\",\"in_turns\":{\"roof\":\"rows\",\"roof_size\":128,"
             "\"share\":0.25,\"lower\":0.125,\"upper\":0.5,\"turns\":9,\"thrown\":2}},{\"bench\":\"b\",\"case\":\"y\","
             "\"in_turns\":null},{\"bench\":\"c\",\"case\":\"z\",\"in_turns\":{\"roof\":null,\"roof_size\":0,\"share\":null,"
             "\"lower\":null,\"upper\":null,\"turns\":0,\"thrown\":45}}]}");
    snprintf(lines, sizeof lines,
             BEGIN "# results\nbench,case,threads,rival,cold,unit,work,bytes,flops,median,least,most,samples,roof,roof_size,"
                   "share,disturbed,demands,in_turns.roof,in_turns.roof_size,in_turns.share,in_turns.lower,in_turns.upper,"
                   "in_turns.turns,in_turns.thrown\na,x,,,,,,,,,,,,,,,,,rows,128,0.25,0.125,0.5,9,2\nb,y,,,,,,,,,,,,,,,,,,,,,,,\n"
                   "c,z,,,,,,,,,,,,,,,,,,0,,,,0,45\n# end\n");
    write_named("a.json", json);
    CHECK_EQ(bench_says("compact a.json --csv a.csv"), 0);
    CHECK_STR(folder_text("a.csv"), lines);
    CHECK_EQ(bench_says("compact a.csv --csv b.csv"), 0);
    CHECK_STR(folder_text("b.csv"), lines);
    char* back = read_back(lines);
    const char* r = json_begin(json_member(json_begin(back), "results"));
    const char *first = json_member(r, "in_turns"), *third = json_member(json_next(json_next(r)), "in_turns");
    CHECK(json_is_text(json_member(first, "roof"), "rows") && json_number(json_member(first, "upper")) == .5);
    CHECK(*json_member(json_next(r), "in_turns") == 'n');
    CHECK(*json_member(third, "share") == 'n' && json_number(json_member(third, "thrown")) == 45);
    free(back);
    back = read_back(whole_lines);
    CHECK(json_member(json_begin(json_member(json_begin(back), "results")), "in_turns") == NULL);
    free(back);
}

/* Files of both forms say the same where several pairs are compared; of one pair lines have the medians alone. */
TEST(compare_says_the_same_of_json_and_of_its_lines)
{
    static const double median[] = {4, 2, 3.5, 2.25};
    char json[4000], arguments[400], *both[2];
    for (int i = 0; i < 4; i++) {
        snprintf(json, sizeof json,
                 "{\"ggnn_bench\":1," HEADS ",\"roofs\":[{\"name\":\"copy\",\"size\":0,\"threads\":1,\"value\":%g}],"
                 "\"results\":[{\"bench\":\"spmm\",\"case\":\"mean\",\"threads\":1,\"unit\":\"edges\",\"work\":10,"
                 "\"median\":%.17g,\"share\":0.5,\"samples\":[1]},{\"bench\":\"spmm\",\"case\":\"moved\",\"threads\":1,"
                 "\"unit\":\"edges\",\"work\":10,\"median\":%g,\"demands\":[{\"roof\":\"copy\",\"size\":0,\"amount\":1}],"
                 "\"samples\":[2]}]}",
                 i % 2 ? 2. : 1., median[i], median[i]);
        snprintf(arguments, sizeof arguments, "%d.json", i);
        write_named(arguments, json);
        snprintf(arguments, sizeof arguments, "compact %d.json --csv %d.csv", i, i);
        CHECK_EQ(bench_says(arguments), 0);
    }
    for (int lines = 0; lines < 2; lines++) {
        const char* e = lines ? "csv" : "json";
        snprintf(arguments, sizeof arguments, "compare 0.%s 1.%s 2.%s 3.%s --csv c.csv", e, e, e, e);
        CHECK_EQ(bench_says(arguments), 0);
        both[lines] = strdup(folder_text("c.csv"));
    }
    CHECK_STR(both[1], both[0]);
    CHECK(strstr(both[0], "spmm,mean,1,false,edges,3.75,2.125,") != NULL);
    CHECK(strstr(both[0], ",faster\n") && strstr(both[0], ",disturbed\n"));
    CHECK_EQ(bench_says("compare 0.csv 0.json"), 0);
    CHECK(strstr(printed("out"), "differ") == NULL);
    for (int i = 0; i < 2; i++) free(both[i]);
}

TEST(a_run_writes_the_lines_that_its_json_becomes)
{
    char* text = NULL;
    CHECK_EQ(bench_says("softmax gemm --rows 40 --min-time 0 --threads 2 --json r.json --csv r.csv"), 0);
    CHECK_EQ(bench_says("compact r.json --csv s.csv"), 0);
    text = strdup(folder_text("r.csv"));
    CHECK(strstr(text, "\ngemm,") != NULL);
    CHECK_STR(folder_text("s.csv"), text);
    free(text);
}

TEST(of_several_runs_each_says_what_the_one_above_has_otherwise)
{
    write_named("a.json", "{\"ggnn_bench\":1,\"git\":\"x\",\"data\":{\"nodes\":5},\"left\":[]}");
    write_named("b.c.json",
                "{\"ggnn_bench\":1,\"git\":\"x\",\"data\":null,\"figures\":[" FIGURE("one", "a", "1 %", "1", "") "]}");
    write_named("d.json", "{\"ggnn_bench\":1,\"git\":\"y\",\"data\":null}");
    static const char all[] = "# ggnn_bench: 1\n# run: \"a\"\n# git: \"x\"\n# data: {\"nodes\":5}\n# left: []\n# end\n"
                              "# ggnn_bench: 1\n# run: \"b.c\"\n# data: null\n# left: null\n"
                              "# figures: [\"cache\",\"one\",\"%\",\"counted\"]\nrow,1 %\na,1\n# end\n"
                              "# ggnn_bench: 1\n# run: \"d\"\n# git: \"y\"\n# end\n";
    CHECK_EQ(bench_says("compact a.json b.c.json d.json --csv all.csv"), 0);
    CHECK_STR(folder_text("all.csv"), all);
    CHECK_EQ(bench_says("compact all.csv --csv again.csv"), 0); /* runs keep their names */
    CHECK_STR(folder_text("again.csv"), all);
    char* json = read_back(all);
    const char *first = json_begin(json), *second = json_next(first), *third = json_next(second);
    CHECK(json_is_text(json_member(second, "git"), "x") && json_is_text(json_member(third, "git"), "y"));
    CHECK(*json_member(second, "data") == 'n' && json_next(third) == NULL);
    CHECK(json_begin(json_member(second, "figures")) && !json_member(third, "figures"));
    free(json);
    json = read_back(BEGIN "# run: \"a\"\n# end\n" BEGIN "# end\n");
    CHECK(json_is_text(json_member(json_begin(json), "run"), "a"));
    CHECK(*json_member(json_next(json_begin(json)), "run") == 'n'); /* a name is of its run alone */
    free(json);
    CHECK_EQ(bench_says("compare all.csv all.csv"), 1);
    CHECK(prints("err", "all.csv: has more than one run; one is compared with one"));
}

#define NAMES "# results\nbench,case,threads,work,median,unit\n"
TEST(bad_lines_are_named_with_their_file_and_value)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {BEGIN "# git: \"x", "bad.csv: line 2: '# git: \"x': the line has no end: the file was cut"},
        {BEGIN "# git: \"x\"\n", "line 2: '': the file ends before '# end'"},
        {BEGIN "# git: x\n", "line 2: 'x': not a value as JSON has it"},
        {BEGIN "# Git: 1\n# end\n", "line 2: '# Git': not a head: '# name: value'"},
        {BEGIN "# git\n# end\n", "line 2: '# git': neither a table nor a head"},
        {BEGIN "spmm,x\n# end\n", "line 2: 'spmm,x': stands in no table"},
        {BEGIN "# end\nspmm\n", "line 3: 'spmm': a run begins with '# ggnn_bench: 1'"},
        {BEGIN BEGIN "# end\n", "line 2: '# ggnn_bench: ': a run begins before the one above has its end"},
        {BEGIN NAMES "spmm,x,1,10,2\n# end\n", "line 4: 'spmm': 5 values under 6 names"},
        {BEGIN NAMES "spmm,x,1,10,2,edges,7\n# end\n", "line 4: 'spmm': 7 values under 6 names"},
        {BEGIN NAMES "spmm,x,1,10,nan,edges\n# end\n", "line 4: 'nan': not a number"},
        {BEGIN NAMES "spmm,x,1,10,1e999,edges\n# end\n", "line 4: '1e999': not a number"},
        {BEGIN NAMES "spmm,x,1,10,0x10,edges\n# end\n", "line 4: '0x10': not a number"},
        {BEGIN NAMES "spmm,x,1,10,2 s,edges\n# end\n", "line 4: '2 s': not a number"},
        {BEGIN NAMES "spmm,\"x,1,10,2,edges\n# end\n", "line 4: '\"x,1,10,2,edges': a quote has no end"},
        {BEGIN NAMES "spmm,\"x\"y,1,10,2,edges\n# end\n", "line 4: 'y,1,10,2,edges': stands behind a value in quotes"},
        {BEGIN NAMES "spmm,x,1,10,-2,edges\n# end\n", "bad.csv: line 4: \"median\" is -2, not a number above 0"},
        {BEGIN NAMES ",x,1,10,2,edges\n# end\n", "line 4: \"bench\" is null, not a text of at most 63 bytes"},
        {BEGIN NAMES "# end\n# git: 1\n", "line 5: '# git: 1': a run begins with"},
        {BEGIN NAMES "# roofs\nname\n# results\nbench\n# end\n", "line 6: 'results': is there twice"},
        {BEGIN NAMES "# git: 1\n# end\n", "line 4: 'git': stands behind a table"},
        {BEGIN "# results\nbench,speed\n# end\n", "line 3: 'speed': no column of this table"},
        {BEGIN "# results\nbench,bench\n# end\n", "line 3: 'bench': is there twice"},
        {BEGIN "# results\nrival\nyes\n# end\n", "line 4: 'yes': neither true nor nothing"},
        {BEGIN "# results\ndemands\ncopy\n# end\n", "line 4: 'copy': not a roof and its size"},
        {BEGIN "# results\ndemands\ncopy x\n# end\n", "line 4: 'x': not a number"},
        {BEGIN "# figures: [\"a\",\"b\",\"c\"]\n# end\n",
         "line 2: '[\"a\",\"b\",\"c\"]': figures say their bench, case, unit and label"},
        {BEGIN "# figures: [\"a\",\"b\",\"c\",\"d\",\"e\"]\n# end\n", "figures say their bench"},
        {BEGIN "# figures: [\"a\",\"b\",\"c\",\"d\"]\nx,y\n# end\n", "line 3: 'x': figures begin with the column 'row'"},
        {BEGIN "# figures: [\"a\",\"b\",\"c\",\"d\"]\nrow,y\nr,2x\n# end\n",
         "line 4: '2x': not a number, nor one with a word behind it"},
        {BEGIN NAMES "\x1b[2J,x,1,10,2\n# end\n", "line 4: '\\x1b[2J': 5 values"},
        {"# ggnn_bench: null\n# end\n", "bad.csv: not what ggnn-bench --json or --csv wrote"},
        {"# ggnn_rivals: 1\n# end\n", "bad.csv: not what ggnn-bench --json or --csv wrote"}};
    write_named("a.json", whole_json);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_named("bad.csv", bad[i].text);
        CHECK_EQ(bench_says("compare a.json bad.csv"), 1);
        CHECK(prints("err", bad[i].why));
    }
    char path[600];
    write_file(folder_path(path, "bad.csv"), "# ggnn_bench: 1\n\0# end\n", 23);
    CHECK_EQ(bench_says("compare a.json bad.csv"), 1);
    CHECK(prints("err", "bad.csv: not what ggnn-bench"));
}

TEST(a_file_that_was_cut_anywhere_is_refused)
{
    for (size_t n = sizeof BEGIN; n + 1 < sizeof whole_lines; n++) {
        char* text = strndup(whole_lines, n);
        error why = {""};
        if (!CHECK(lines_read("x.csv", text, &why) == NULL && strstr(why.text, "x.csv: line "))) printf("  cut at %zu\n", n);
        free(text);
    }
}

/* Whatever a byte turns into, what is read is whole JSON, or an error. */
TEST(damaged_files_are_errors_or_whole)
{
    static const char bytes[] = ",\"#\n\\ :;[]{}x0-\x01\xff";
    int taken = 0, refused = 0;
    for (size_t at = 0; at + 1 < sizeof whole_lines; at++)
        for (const char* b = bytes; *b; b++) {
            char* text = strdup(whole_lines);
            error why = {""};
            text[at] = *b;
            char* json = lines_read("x.csv", text, &why);
            if (json) CHECK(json_whole(json));
            else CHECK(strstr(why.text, "x.csv: ") != NULL);
            taken += json != NULL;
            refused += json == NULL;
            free(json);
            free(text);
        }
    CHECK(taken > 1000 && refused > 1000);
}

TEST(compact_refuses_wrong_usage_and_leaves_what_was_there)
{
    static const struct {
        const char *line, *why;
    } bad[] = {{"compact", "compact: wants files, and --csv FILE to write"},
               {"compact a.json", "compact: wants files, and --csv FILE to write"},
               {"compact --csv c.csv", "compact: wants files, and --csv FILE to write"},
               {"compact a.json --csv c.csv --quick", "compact takes files and --csv: --quick: no such option"},
               {"compact a.json --csv c.csv --json d.json", "compact takes files and --csv: --json: no such option"},
               {"compact a.json --csv ./a.json", "--csv ./a.json: that is a file that is read"}};
    write_named("a.json", whole_json);
    write_named("c.csv", "kept");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(bench_says(bad[i].line), 2);
        CHECK(prints("err", bad[i].why));
    }
    write_named("bad.json", "{}");
    CHECK_EQ(bench_says("compact a.json bad.json --csv c.csv"), 1);
    CHECK(prints("err", "bad.json: not what ggnn-bench"));
    CHECK_STR(folder_text("c.csv"), "kept");
    CHECK_EQ(bench_says("compact nowhere.json --csv c.csv"), 1);
    CHECK_EQ(bench_says("--help"), 0);
    CHECK(prints("out", "ggnn-bench compact A.json [B.json ...] --csv FILE"));
    for (int n = 1; n <= 6; n++) {
        char line[6000];
        snprintf(line, sizeof line, "cd %s && GGNN_TEST_FAIL_ALLOCATION=%d %s/ggnn-bench compact a.json --csv c.csv >out 2>err",
                 folder, n, build);
        if (system(line) != 0) CHECK(prints("err", "out of memory"));
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    tool_find();
    RUN(a_run_becomes_lines_and_the_lines_of_lines_are_the_same);
    RUN(lines_are_read_as_the_json_has_them);
    RUN(what_was_measured_in_turns_has_columns_of_its_own);
    RUN(compare_says_the_same_of_json_and_of_its_lines);
    RUN(a_run_writes_the_lines_that_its_json_becomes);
    RUN(of_several_runs_each_says_what_the_one_above_has_otherwise);
    RUN(bad_lines_are_named_with_their_file_and_value);
    RUN(a_file_that_was_cut_anywhere_is_refused);
    RUN(damaged_files_are_errors_or_whole);
    RUN(compact_refuses_wrong_usage_and_leaves_what_was_there);
    folder_remove();
    return test_finish();
}
