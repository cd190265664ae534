/* ggnn-bench --plugin as a user runs it: a right plug-in is timed; whatever a wrong one does is a message and no time. */
#include "ggnn.h"
#include "tests/test.h"
#include "tests/tool.h"

static char wrong[700]; /* bad_plugin.so */

static bool on_cuda; /* the emulator's */

/* Runs with bad_plugin.so, which does `fault`. */
static int bench(const char* fault, const char* arguments)
{
    char before[128], line[2048];
    snprintf(before, sizeof before, "GGNN_TEST_PLUGIN='%s' OMP_WAIT_POLICY=passive", fault);
    snprintf(line, sizeof line, "--plugin %s%s --quick --rows 300 --degree 8 --features 4 %s", wrong,
             on_cuda ? ".cuda --backend cuda-emulated" : "", arguments);
    return run(before, line);
}

/* It fails with these words, the rest of the line after the case, and no line of a time. */
static void fails(const char* kernel, const char* fault, const char* words)
{
    if (!CHECK_EQ(bench(fault, kernel), 1) || !CHECK(prints("err", words)) || !CHECK(!strstr(printed("out"), ": bad ")))
        printf("  %s %s\n", kernel, fault);
}

TEST(a_right_plug_in_is_timed_in_turns)
{
    static const char* const line[] = {"  mean, F 4: bad ", "  dot, F 4: bad ", "  300 rows, F 4: bad ", "  300 seeds, fanout 8: bad ",
                                       "  4 heads of 1: bad "};
    char example[4300];
    CHECK_EQ(bench("", "spmm gat --min-time 0"), 0); /* nine turns, though --reps is 5 */
    CHECK(prints("out", line[0]) && prints("out", line[4]) && prints("out", "x ggnn's in 9 turns (half of them "));
    CHECK_EQ(bench("", "--once"), 0);
    for (int i = 0; i < 5; i++) CHECK(prints("out", line[i]));
    CHECK(!strstr(printed("out"), " turns (") && !strstr(printed("out"), "  mean, F 4 "));
    snprintf(example, sizeof example, "--plugin %s/bench_plugin.so --quick --rows 300 --once", build);
    CHECK_EQ(run("", example), 0); /* examples/bench_plugin.c */
    CHECK(prints("out", "  mean, F 32: mine ") && prints("out", "  300 rows, F 32: mine "));
}

/* examples/bench_limit.c has two widths, and gives the right answers at both. */
TEST(the_limits_kernels_are_right)
{
    static const char* const words[] = {"  mean, F 32: limit ",  "  mean, F 128: limit ",    "  dot, F 32: limit ",
                                        "  300 rows, F 32: limit ", "  300 rows, F 128: limit ", "  4 heads of 32: limit "};
    char narrow[4300], wide[4400];
    snprintf(narrow, sizeof narrow, "spmm sddmm gather gat --plugin %s/bench_limit.so --quick --rows 300 --once", build);
    CHECK_EQ(run("", narrow), 0);
    for (int i = 0; i < 6; i++) CHECK(i == 1 || i == 4 || prints("out", words[i]));
    snprintf(wide, sizeof wide, "spmm gather --plugin %s/bench_limit.so --quick --rows 300 --once --features 128", build);
    CHECK_EQ(run("", wide), 0);
    CHECK(prints("out", words[1]) && prints("out", words[4]));
}

/* Bytes by the minimal model: rows in and out, and an id; two offsets, a count, a seed, edges and sources. */
TEST(bytes_are_those_of_a_gather_and_of_a_sample)
{
    char line[700], path[600];
    const double node = (double)sizeof(ggnn_node);
    const char* at;
    snprintf(line, sizeof line, "gather sample --once --json %s", folder_path(path, "plugin.json"));
    CHECK_EQ(bench("", line), 0);
    output = read_text(output, path);
    if (!CHECK((at = strstr(output, "\"bytes\": ")))) return;
    CHECK_NEAR(strtod(at + 9, NULL), 300 * (2 * 4 * 4 + node), 0);
    if (!CHECK((at = strstr(at + 9, "\"bytes\": ")))) return;
    CHECK_NEAR(strtod(at + 9, NULL), 300 * (16 + 8 + node + 8 * (4 + node)), 0);
}

TEST(a_wrong_answer_has_no_time)
{
    static const char* const kernel[] = {"spmm", "sddmm", "gather", "gat"};
    for (int i = 0; i < 4; i++) fails(kernel[i], "wrong", ", small: out[");
    fails("spmm", "nan", "out[0] is nan (a NaN, or not written), should be ");
    fails("spmm", "wrong later", "bad: mean, F 4: out[");
    fails("spmm", "idle later", " (a NaN, or not written), should be ");
    fails("spmm", "short later", "bad: mean, F 4: out[1196] is ");
    fails("spmm", "error", "bad: sum, F 1, small: returns error 7");
}

TEST(a_sample_is_one_and_even)
{
    fails("sample", "few", "should be ");
    fails("sample", "twice", "times, in the seed's list ");
    fails("sample", "stranger", "in the seed's list 0 times");
    fails("sample", "first", "neighbours 0 and 1 are drawn together 20000 times, of even draws 3030");
    fails("sample", "run", "are drawn together ");
    fails("sample", "constant", "another `random` gives the same sample");
}

TEST(memory_that_is_not_its_own_is_told)
{
    fails("spmm", "before", "before the begin of `out`");
    fails("spmm", "past", "past the end of `out`");
    fails("spmm", "input", "spmm: sum, F 1, small: writes to its input `inp`");
    fails("spmm", "indices", "writes to its input `indices`");
}

TEST(a_plug_in_that_ends_ends_in_1)
{
    fails("spmm", "crash", "spmm: sum, F 1, small: crashes: Segmentation fault");
    fails("spmm", "abort", "crashes: Aborted");
    fails("spmm", "exit", "spmm: sum, F 1, small: ends the program with status 0");
    fails("spmm --limit .2", "hang", "hangs: was ended after 0.2 s (--limit)");
    fails("spmm", "crash at once", "bad_plugin.so: crashes: Aborted");
}

TEST(a_job_that_is_left_out_is_said)
{
    CHECK_EQ(bench("none", "spmm"), 0);
    CHECK(prints("out", "mean, F 4: bad leaves it out"));
}

TEST(what_is_no_plug_in_is_refused)
{
    char line[800];
    CHECK_EQ(run("", "--plugin nowhere.so"), 1);
    CHECK(prints("err", "--plugin nowhere.so: No such file"));
    snprintf(line, sizeof line, "--plugin %s", tool);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "ggnn-bench: --plugin ") && prints("err", "ggnn-bench: "));
    snprintf(line, sizeof line, "--plugin %.680s.old", wrong);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "is of version 0 of bench/plugin.h, this program of "));
    CHECK_EQ(bench("", "block"), 2);
    CHECK(prints("err", "block: not one of spmm|sddmm|gather|sample|gat"));
    CHECK_EQ(run("", "--limit 3"), 2);
    CHECK(prints("err", "--limit is of --plugin, which is not given"));
    CHECK_EQ(bench("", "--check x.json"), 2);
    snprintf(line, sizeof line, "--json %s", wrong);
    CHECK_EQ(bench("", line), 2);
    CHECK(prints("err", "--json"));
}

TEST(plug_ins_of_a_device)
{
    char program[4200];
    snprintf(program, sizeof program, "%s/ggnn-bench-emulated", build);
    if (access(program, X_OK) != 0) SKIP("make emulated builds the program that this test runs");
    on_cuda = true;
    CHECK_EQ(bench("", "--min-time 0 --rows 100"), 0);
    CHECK(prints("out", "  mean, F 4: bad ") && prints("out", "  100 seeds, fanout 8: bad "));
    CHECK(prints("out", "  dot, F 4: bad ") && prints("out", "  100 rows, F 4: bad ") && prints("out", "  4 heads of 1: bad "));
    fails("spmm", "wrong", ", small: out[");
    fails("gat", "wrong", ", small: out[");
    fails("spmm", "before", "writes before the begin of `out`");
    fails("spmm", "past", "writes past the end of `out`");
    fails("spmm", "input", "writes to its input `inp`");
    fails("spmm", "exit", "spmm: sum, F 1, small: ends the program with status 0");
    fails("sample", "first", "are drawn together ");
    fails("spmm --limit .2", "hang", "hangs: was ended after 0.2 s (--limit)");
    on_cuda = false;
    CHECK_EQ(bench("", "--backend cuda-emulated"), 1);
    CHECK(prints("err", "its arrays are the host's; --backend cuda-emulated has others"));
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    tool_find();
    snprintf(wrong, sizeof wrong, "%.600s/tests/bad_plugin.so", build);
    strcpy(tool + strlen(tool) - strlen("ggnn-data"), "ggnn-bench");
    RUN(a_right_plug_in_is_timed_in_turns);
    RUN(the_limits_kernels_are_right);
    RUN(bytes_are_those_of_a_gather_and_of_a_sample);
    RUN(a_wrong_answer_has_no_time);
    RUN(a_sample_is_one_and_even);
    RUN(memory_that_is_not_its_own_is_told);
    RUN(a_plug_in_that_ends_ends_in_1);
    RUN(a_job_that_is_left_out_is_said);
    RUN(what_is_no_plug_in_is_refused);
    RUN(plug_ins_of_a_device);
    return test_finish();
}
