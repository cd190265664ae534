/* ggnn-bench compare: files by hand, whose ratios are known. */
#include <math.h>

#include "bench/read_json.h"
#include "tests/test.h"
#include "tests/tool.h"

typedef struct {
    const char *what, *unit;
    int threads;
    double work, median;
    const char *samples, *more; /* "1,2"; other members, with their comma */
} made;

static const char usual_head[] = "\"backend\":\"cpu\",\"machine\":{\"cpu\":\"x\"},\"options\":{\"quick\":false},\"data\":null";

static void write_run(const char* name, const char* head, const char* roofs, const made* m, int count)
{
    char path[600];
    FILE* out = fopen(folder_path(path, name), "w");
    fprintf(out, "{\"ggnn_bench\":1,%s,\"roofs\":[%s],\"results\":[", head, roofs);
    for (int i = 0; i < count; i++)
        fprintf(out,
                "%s{\"bench\":\"spmm\",\"case\":\"%s\",\"threads\":%d,\"unit\":\"%s\",\"work\":%g,\"median\":%.17g,"
                "\"samples\":[%s]%s}",
                i ? "," : "", m[i].what, m[i].threads, m[i].unit, m[i].work, m[i].median, m[i].samples,
                m[i].more ? m[i].more : "");
    fprintf(out, "]}\n");
    fclose(out);
}

/* In the folder, so that names are short. */
static int compare(const char* arguments)
{
    char line[6000];
    snprintf(line, sizeof line, "cd %s && %s/ggnn-bench compare %s >out 2>err", folder, build, arguments);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The i-th case that `--json c.json` has in the list. */
static const char* case_of(const char* list, int i)
{
    static char* text;
    char path[600];
    text = read_text(text, folder_path(path, "c.json"));
    const char* at = json_begin(json_member(json_first(text), list));
    while (at && i--) at = json_next(at);
    return at;
}

static void check_numbers(const char* at, const char* names, const double* value)
{
    char copy[400], *rest = copy;
    snprintf(copy, sizeof copy, "%s", names);
    for (char* name; (name = strtok_r(rest, " ", &rest)); value++)
        if (!CHECK_NEAR(json_number(json_member(at, name)), *value, 1e-12)) printf("  %s\n", name);
}

static int summary(const char* name)
{
    char path[600], *text = read_text(NULL, folder_path(path, "c.json"));
    const int value = (int)json_number(json_member(json_first(text), name));
    free(text);
    return value;
}

static const char figures[] = "median_a median_b ratio lower_quartile upper_quartile least most";

TEST(ratios_of_one_pair_are_those_of_its_samples_in_the_order_taken)
{
    const made a = {"mean, F 32", "edges", 2, 10, 2, "1, 2, 3, 2, 4", NULL};
    const made b = {"mean, F 32", "edges", 2, 20, 5, "1, 8, 6, 1", NULL};
    const double wanted[] = {2, 5, 1.5, .875, 2.5, .5, 4};
    write_run("a.json", usual_head, "", &a, 1);
    write_run("b.json", usual_head, "", &b, 1);
    CHECK_EQ(compare("a.json b.json --json c.json --csv c.csv"), 0);
    const char* k = case_of("cases", 0);
    check_numbers(k, figures, wanted); /* ratios 2, .5, 1, 4 */
    CHECK_NEAR(json_number(json_begin(json_member(k, "turns"))), 2, 1e-12);
    CHECK_NEAR(json_number(json_next(json_begin(json_member(k, "turns")))), .5, 1e-12);
    CHECK(json_is_text(json_member(k, "verdict"), "same"));
    CHECK(prints("out", "  mean, F 32                                  2    2.000 s    5.000 s    1.500     0.875 - 2.500  "
                        "   0.500 - 4.000     4       -       -  same\n"));
    CHECK_STR(strchr(folder_text("c.csv"), '\n') + 1, "spmm,\"mean, F 32\",2,false,edges,2,5,1.5,0.875,2.5,0.5,4,,,4,same\n");
}

TEST(without_samples_the_medians_are_the_only_turn)
{
    const made a = {"mean", "edges", 2, 10, 2, "", NULL};
    char path[600];
    write_run("a.json", usual_head, "", &a, 1);
    char* text = read_text(NULL, folder_path(path, "a.json"));
    memcpy(strstr(text, "\"samples\""), "\"nothing\"", 9);
    write_file(path, text, strlen(text));
    free(text);
    CHECK_EQ(compare("a.json a.json --json c.json"), 0);
    CHECK_NEAR(json_number(json_begin(json_member(case_of("cases", 0), "turns"))), 1, 1e-12);
}

/* Three turns; the second has no such case on one side. */
TEST(ratios_of_several_pairs_are_of_their_medians)
{
    const made one = {"mean", "edges", 1, 10, 4, "1", ",\"share\":0.5"};
    const made two = {"mean", "edges", 1, 10, 2, "1", ",\"share\":0.75"};
    const made three = {"mean", "edges", 1, 30, 3, "9", ",\"share\":0.25"}, other = {"sum", "edges", 1, 10, 2, "1", NULL};
    const double wanted[] = {4, 2.5, 3, 2.5, 3.5, 2, 4};
    write_run("a.json", usual_head, "", &one, 1);
    write_run("b.json", usual_head, "", &two, 1);
    write_run("d.json", usual_head, "", &other, 1);
    write_run("e.json", usual_head, "", &three, 1);
    CHECK_EQ(compare("a.json b.json a.json d.json a.json e.json --json c.json"), 0);
    check_numbers(case_of("cases", 0), figures, wanted);
    check_numbers(case_of("cases", 0), "share_a share_b", (double[]){.5, .5});
    CHECK(json_is_text(json_member(case_of("alone", 0), "verdict"), "only B"));
    CHECK_EQ(compare("a.json d.json d.json b.json --json c.json"), 0);
    CHECK(json_is_text(json_member(case_of("alone", 0), "verdict"), "never in one turn"));
    CHECK(case_of("cases", 0) == NULL);
}

/* Four samples: the lower quartile lies at three quarters of the first two. */
TEST(a_word_says_whether_a_quartile_is_beyond_two_per_cent)
{
    static const struct {
        const char *samples, *word; /* of B, beside 1, 1, 1, 1 */
    } row[] = {{"0.9,0.9,0.9,0.9", "faster"}, {"0.985,0.985,0.985,0.985", "same"}, {"0.5,0.5,1,1", "same"},
               {"0.5,0.5,0.5,1.02", "faster"}, {"1.1,1.1,1.1,1.1", "slower"}, {"1.015,1.015,1.015,1.015", "same"},
               {"1,1,2,2", "same"}, {"2,2,2,0.98", "slower"}};
    const made a = {"mean", "edges", 1, 10, 1, "1,1,1,1", NULL};
    write_run("a.json", usual_head, "", &a, 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const made b = {"mean", "edges", 1, 10, 1, row[i].samples, NULL};
        write_run("b.json", usual_head, "", &b, 1);
        CHECK_EQ(compare("a.json b.json --json c.json"), 0);
        if (!CHECK(json_is_text(json_member(case_of("cases", 0), "verdict"), row[i].word))) printf("  %s\n", row[i].samples);
    }
}

#define ROOF(name, size, threads, value) \
    "{\"name\":\"" name "\",\"size\":" #size ",\"threads\":" #threads ",\"value\":" #value "}"
#define RULED \
    ",\"roof\":\"rows\",\"roof_size\":128,\"demands\":[{\"roof\":\"copy\",\"size\":0},{\"roof\":\"rows\",\"size\":128}]"

TEST(a_case_is_disturbed_where_a_roof_that_it_demands_moved_by_a_tenth)
{
    static const struct {
        const char *roofs, *word;
    } row[] = {{ROOF("rows", 128, 2, 1000) "," ROOF("copy", 0, 2, 50), "faster"},
               {ROOF("rows", 128, 2, 1099) "," ROOF("copy", 0, 2, 54.9), "faster"},
               {ROOF("rows", 128, 2, 1100), "disturbed"},
               {ROOF("rows", 128, 2, 909), "disturbed"},
               {ROOF("copy", 0, 2, 55), "disturbed"},
               {ROOF("rows", 64, 2, 2000) "," ROOF("rows", 128, 1, 2000) "," ROOF("madd", 0, 2, 2000), "faster"}};
    const made a = {"mean", "edges", 2, 10, 1, "1,1", RULED}, b = {"mean", "edges", 2, 10, .5, "0.5,0.5", RULED};
    const made ruled = {"mean", "edges", 2, 10, .5, "0.5,0.5", ",\"roof\":\"madd\",\"roof_size\":0"};
    write_run("a.json", usual_head, ROOF("rows", 128, 2, 1000) "," ROOF("copy", 0, 2, 50) "," ROOF("madd", 0, 2, 7), &a, 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        write_run("b.json", usual_head, row[i].roofs, &b, 1);
        CHECK_EQ(compare("a.json b.json --json c.json"), 0);
        if (!CHECK(json_is_text(json_member(case_of("cases", 0), "verdict"), row[i].word))) printf("  %s\n", row[i].roofs);
    }
    write_run("b.json", usual_head, ROOF("madd", 0, 2, 8), &ruled, 1); /* what rules B's alone */
    CHECK_EQ(compare("a.json b.json --json c.json"), 0);
    CHECK(json_is_text(json_member(case_of("cases", 0), "verdict"), "disturbed"));
}

TEST(the_summary_leaves_out_rivals_and_what_was_disturbed)
{
    const char rival[] = ",\"rival\":true", moved[] = ",\"roof\":\"copy\",\"roof_size\":0";
    const made a[] = {{"one", "edges", 1, 8, 1, "1", NULL}, {"two", "edges", 1, 8, 1, "1", NULL},
                      {"plain", "edges", 1, 8, 1, "1", rival}, {"moved", "edges", 1, 8, 1, "1", moved},
                      {"even", "edges", 1, 8, 1, "1", NULL}};
    const made b[] = {{"one", "edges", 1, 8, .125, "0.125", NULL}, {"two", "edges", 1, 8, 8, "8", NULL},
                      {"plain", "edges", 1, 8, 100, "100", rival}, {"moved", "edges", 1, 8, 100, "100", moved},
                      {"even", "edges", 1, 64, 1, "1", NULL}};
    write_run("a.json", usual_head, ROOF("copy", 0, 1, 1), a, 5);
    write_run("b.json", usual_head, ROOF("copy", 0, 1, 2), b, 5);
    CHECK_EQ(compare("a.json b.json --json c.json"), 0);
    CHECK_EQ(summary("compared"), 4);
    CHECK_EQ(summary("faster"), 2);
    CHECK_EQ(summary("slower"), 1);
    CHECK_EQ(summary("same"), 0);
    CHECK_EQ(summary("disturbed"), 1);
    CHECK_EQ(summary("rivals"), 1);
    CHECK_NEAR(json_number(json_member(case_of("benches", 0), "geometric_mean")), 2, 1e-12); /* of 8, 1/8, 8 */
    CHECK(prints("out", "4 cases compared: 2 faster, 1 slower, 0 the same, 1 disturbed; 1 rivals are in no count\n"));
    CHECK(prints("out", "  spmm                2.000  geometric mean of 3\n"));
}

TEST(cases_of_one_side_are_named_ten_at_most)
{
    made a[13];
    char what[13][8];
    for (int i = 0; i < 13; i++) {
        snprintf(what[i], sizeof what[i], "case %c", 'a' + i);
        a[i] = (made){what[i], "edges", 1, 8, 1, "1", NULL};
    }
    write_run("a.json", usual_head, "", a, 12);
    write_run("b.json", usual_head, "", a + 12, 1);
    CHECK_EQ(compare("a.json b.json --csv c.csv"), 0);
    CHECK(prints("out", "  only A: spmm: case j, 1 threads\n  and 3 more that one side lacks\n"));
    CHECK(strstr(printed("out"), "case k") == NULL);
    CHECK(strstr(folder_text("c.csv"), "spmm,case m,1,false,edges,,,,,,,,,,0,only B\n") != NULL);
    a[12].threads = 3;
    a[0].threads = 2; /* threads are part of the name */
    write_run("b.json", usual_head, "", a, 1);
    CHECK_EQ(compare("a.json b.json"), 0);
    CHECK(prints("out", "0 cases compared"));
}

TEST(what_files_differ_in_is_said)
{
    const made a = {"mean", "edges", 1, 10, 1, "1", NULL};
    write_run("a.json", usual_head, "", &a, 1);
    const char other[] =
        "\"backend\":\"cuda\",\"machine\":{\"cpu\":\"x\"},\"options\":{\"quick\":true,\"batch\":7},\"data\":{\"nodes\":5}";
    write_run("b.json", other, "", &a, 1);
    CHECK_EQ(compare("a.json b.json"), 0);
    CHECK(prints("out", "a.json and b.json differ: backend \"cpu\", \"cuda\"; options.quick false, true; "
                        "options.batch missing, 7; data null, an object\n"));
    CHECK_EQ(compare("a.json a.json"), 0);
    CHECK(strstr(printed("out"), "differ") == NULL);
}

TEST(another_unit_or_a_case_twice_is_an_error)
{
    const made a[] = {{"mean", "edges", 1, 10, 1, "1", NULL}, {"mean", "edges", 1, 10, 1, "1", NULL}};
    const made b = {"mean", "rows", 1, 10, 1, "1", NULL};
    write_run("a.json", usual_head, "", a, 1);
    write_run("b.json", usual_head, "", &b, 1);
    CHECK_EQ(compare("a.json b.json"), 1);
    CHECK(prints("err", "ggnn-bench: spmm: mean, 1 threads: counts edges in a.json and rows in b.json\n"));
    write_run("b.json", usual_head, "", a, 2);
    CHECK_EQ(compare("a.json b.json"), 1);
    CHECK(prints("err", "b.json: spmm: mean, 1 threads: is there twice"));
}

TEST(files_that_are_none_of_ggnn_bench_are_refused_by_name_and_value)
{
#define RESULT(rest) \
    "{\"ggnn_bench\":1,\"results\":[{\"bench\":\"spmm\",\"case\":\"x\",\"unit\":\"rows\",\"threads\":1," rest "}]}"
    static const struct {
        const char *text, *why;
    } bad[] = {{"", "bad.json: not what ggnn-bench --json or --csv wrote"},
               {"{\"ggnn_bench\":1,\"results\":[", "bad.json: not what ggnn-bench --json or --csv wrote"},
               {"{\"ggnn_bench_compare\":1}", "bad.json: not what ggnn-bench --json or --csv wrote"},
               {"{\"ggnn_bench\":1,\"results\":[7]}",
                "bad.json: result 1: \"bench\" is missing, not a text of at most 63 bytes"},
               {RESULT("\"work\":0"), "result 1: \"work\" is 0, not a number above 0"},
               {RESULT("\"work\":1e999"), "result 1: \"work\" is 1e999, not a number above 0"},
               {RESULT("\"work\":1,\"median\":\"\x1b[2J\""), "not what ggnn-bench"},
               {RESULT("\"work\":1,\"median\":\"\x7f\""), "\"median\" is \"\\x7f\", not a number above 0"},
               {RESULT("\"work\":1,\"median\":1,\"samples\":[]"), "\"samples\" is [], not a list of 1 to 1000"},
               {RESULT("\"work\":1,\"median\":1,\"samples\":[1,-2]"), "\"samples\" is -2, not seconds above 0"},
               {"{\"ggnn_bench\":1,\"roofs\":[{\"name\":\"copy\",\"value\":null}]}",
                "roof 1: \"value\" is null, not a number above 0"}};
    const made a = {"mean", "edges", 1, 10, 1, "1", NULL};
    char path[600];
    write_run("a.json", usual_head, "", &a, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_file(folder_path(path, "bad.json"), bad[i].text, strlen(bad[i].text));
        CHECK_EQ(compare("a.json bad.json"), 1);
        CHECK(prints("err", bad[i].why));
    }
    CHECK_EQ(compare("a.json nowhere.json"), 1);
    CHECK(prints("err", "nowhere.json: No such file"));
    write_file(folder_path(path, "bad.json"), "{\"ggnn_bench\":1}\n\0more", 22);
    CHECK_EQ(compare("a.json bad.json"), 1);
    for (int n = 1; n <= 8; n++) {
        char line[6000];
        snprintf(line, sizeof line, "cd %s && GGNN_TEST_FAIL_ALLOCATION=%d %s/ggnn-bench compare a.json a.json >out 2>err",
                 folder, n, build);
        CHECK(system(line) != 0);
        CHECK(prints("err", "out of memory"));
    }
}

TEST(wrong_usage_and_files_that_would_be_written_over_are_refused)
{
    static const struct {
        const char *line, *why;
    } bad[] = {{"", "compare: 0 files: pairs are wanted"},
               {"a.json", "compare: 1 file: pairs are wanted"},
               {"a.json a.json a.json", "compare: 3 files: pairs are wanted"},
               {"a.json a.json --quick", "compare takes files, --json and --csv: --quick: no such option"},
               {"a.json a.json --csv ./a.json", "--csv ./a.json: that is a file that is compared"},
               {"a.json a.json --json c.json --csv ./c.json", "--csv ./c.json: --json writes there"}};
    const made a = {"mean", "edges", 1, 10, 1, "1", NULL};
    write_run("a.json", usual_head, "", &a, 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK_EQ(compare(bad[i].line), 2);
        CHECK(prints("err", bad[i].why));
    }
    CHECK_EQ(compare("a.json a.json --json /nowhere/c.json"), 1);
    CHECK(prints("err", "/nowhere/c.json: No such file"));
    CHECK_EQ(compare("--help"), 0);
    CHECK(prints("out", "ggnn-bench compare A.json B.json"));
}

/* What a run writes can be compared; every demand's roof is named. */
TEST(a_run_beside_itself_is_the_same)
{
    char line[6000], path[600];
    snprintf(line, sizeof line,
             "cd %s && OMP_WAIT_POLICY=passive %s/ggnn-bench softmax gemm --rows 50 --min-time 0 --threads 2 --json r.json "
             ">out 2>err",
             folder, build);
    CHECK_EQ(system(line), 0);
    CHECK_EQ(compare("r.json r.json --json c.json"), 0);
    CHECK(summary("compared") >= 2);
    CHECK_EQ(summary("same"), summary("compared"));
    char* text = read_text(NULL, folder_path(path, "r.json"));
    int demands = 0;
    for (const char* r = json_begin(json_member(json_first(text), "results")); r; r = json_next(r))
        for (const char* d = json_begin(json_member(r, "demands")); d; d = json_next(d)) {
            demands += json_is_text(json_member(d, "roof"), "madd") &&
                       json_number(json_member(d, "amount")) == json_number(json_member(r, "flops"));
        }
    CHECK(demands >= 1);
    free(text);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    tool_find();
    RUN(ratios_of_one_pair_are_those_of_its_samples_in_the_order_taken);
    RUN(without_samples_the_medians_are_the_only_turn);
    RUN(ratios_of_several_pairs_are_of_their_medians);
    RUN(a_word_says_whether_a_quartile_is_beyond_two_per_cent);
    RUN(a_case_is_disturbed_where_a_roof_that_it_demands_moved_by_a_tenth);
    RUN(the_summary_leaves_out_rivals_and_what_was_disturbed);
    RUN(cases_of_one_side_are_named_ten_at_most);
    RUN(what_files_differ_in_is_said);
    RUN(another_unit_or_a_case_twice_is_an_error);
    RUN(files_that_are_none_of_ggnn_bench_are_refused_by_name_and_value);
    RUN(wrong_usage_and_files_that_would_be_written_over_are_refused);
    RUN(a_run_beside_itself_is_the_same);
    folder_remove();
    return test_finish();
}
