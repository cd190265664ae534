/* ggnn-bench as a user runs it, and its JSON reader: ggnn-bench itself compares each answer with a plain loop's. */
#include "bench/read_json.h"
#include "tests/test.h"
#include "tests/tool.h"

static char* read_text(const char* path)
{
    FILE* in = fopen(path, "r");
    char* text;
    long size;
    if (!in) return NULL;
    fseek(in, 0, SEEK_END);
    size = ftell(in);
    fseek(in, 0, SEEK_SET);
    text = (char*)calloc((size_t)size + 1, 1);
    if (fread(text, 1, (size_t)size, in) != (size_t)size) text[0] = 0;
    fclose(in);
    return text;
}

/* Runs with --json to a file in the folder; its text, to be freed, or NULL. */
static char* json_of(const char* arguments)
{
    char line[2048], path[600];
    snprintf(line, sizeof line, "%s --json %s", arguments, folder_path(path, "result.json"));
    remove(path);
    if (!CHECK_EQ(run("", line), 0)) {
        printf("  %s", output("err"));
        return NULL;
    }
    return read_text(path);
}

/* ---- the JSON reader ---------------------------------------------------------------------------------- */

TEST(reader_finds_members_and_elements)
{
    const char* text = " {\"a\": [1, {\"b\": \"x\\\"]}\"}, -2.5e3], \"c\": null, \"ab\": true}\n";
    const char* array = json_member(json_first(text), "a");
    const char* second = json_next(json_begin(array));
    char copy[32];
    CHECK(json_whole(text));
    CHECK(json_number(json_begin(array)) == 1);
    CHECK(json_copy_text(json_member(second, "b"), copy, sizeof copy));
    CHECK_STR(copy, "x\"]}");
    CHECK(json_number(json_next(second)) == -2500);
    CHECK(json_next(json_next(second)) == NULL);
    CHECK(isnan(json_number(json_member(json_first(text), "c"))));
    CHECK(*json_member(json_first(text), "ab") == 't');
    CHECK(json_member(json_first(text), "b") == NULL); /* it is deeper */
    CHECK(json_member(array, "a") == NULL);
    CHECK(json_begin(json_first("[ ]")) == NULL);
}

TEST(reader_refuses_what_is_no_json)
{
    const char* const bad[] = {"",       "{",       "[1,]",   "{\"a\" 1}", "{\"a\":}", "\"x",       "[1 2]",
                               "{} {}",  "[1}",     "nul",    "{a:1}",     "\"\t\"",   "{\"a\":1,}", "-"};
    char deep[300];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK(!json_whole(bad[i]))) printf("  accepted: %s\n", bad[i]);
    memset(deep, '[', 150);
    memset(deep + 150, ']', 149);
    deep[299] = 0;
    CHECK(!json_whole(deep));
}

/* ---- the command line --------------------------------------------------------------------------------- */

TEST(help_lists_names_and_options)
{
    CHECK_EQ(run("", "--help"), 0);
    CHECK(says("out", "usage: ggnn-bench"));
    CHECK(says("out", "roof "));
    CHECK(says("out", "--min-time X"));
    CHECK_EQ(run("", "spmm --help"), 0);
}

TEST(unknown_names_list_the_names)
{
    CHECK_EQ(run("", "rof"), 2);
    CHECK(says("err", "rof: not one of roof"));
    CHECK(says("err", "is roof meant?"));
}

TEST(bad_values_name_the_option_and_the_value)
{
    CHECK_EQ(run("", "roof --reps many"), 2);
    CHECK(says("err", "--reps 'many': not an integer"));
    CHECK_EQ(run("", "roof --reps 0"), 2);
    CHECK(says("err", "--reps 0: must be between 1 and"));
    CHECK_EQ(run("", "roof --min-time -1"), 2);
    CHECK(says("err", "--min-time -1"));
    CHECK_EQ(run("", "roof --type f64"), 2);
    CHECK(says("err", "--type f64: not one of f32|f16"));
    CHECK_EQ(run("", "roof --cold --warm"), 2);
    CHECK(says("err", "--cold and --warm"));
    CHECK_EQ(run("", "roof --check . --once"), 2);
    CHECK_EQ(run("", "roof --nosuch"), 2);
}

TEST(failures_are_said_and_end_in_1)
{
    CHECK_EQ(run("", "roof --json /nowhere/at/all.json"), 1);
    CHECK(says("err", "/nowhere/at/all.json: No such file"));
}

TEST(backends_that_were_not_built_are_named)
{
    CHECK_EQ(run("", "roof --quick --backend cuda"), 1);
    CHECK(says("err", "ggnn-bench-cuda: "));
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* value is the best sample's rate, median lies in the middle, there are as many samples as asked for. */
static void check_timing(const char* at, int samples)
{
    double median = json_number(json_member(at, "median")), least = json_number(json_member(at, "least"));
    int count = 0, below = 0, above = 0;
    for (const char* s = json_begin(json_member(at, "samples")); s; s = json_next(s)) {
        double value = json_number(s);
        count++;
        below += value <= median;
        above += value >= median;
        CHECK(value > 0 && value >= least);
    }
    CHECK(count >= samples);
    CHECK(2 * below >= count && 2 * above >= count);
}

TEST(roofs_are_kept_with_all_samples)
{
    char* text = json_of("roof --quick --reps 6 --min-time 0");
    const char* root = text ? json_first(text) : NULL;
    int count = 0;
    if (!CHECK(text && json_whole(text))) return;
    for (const char* r = json_begin(json_member(root, "roofs")); r; r = json_next(r), count++) {
        double amount = json_number(json_member(r, "amount")), least = json_number(json_member(r, "least"));
        double rate = json_is_text(json_member(r, "unit"), "s") ? least / amount : amount / least;
        check_timing(r, 6);
        CHECK_NEAR(json_number(json_member(r, "value")) / rate, 1, 1e-12);
    }
    CHECK(count >= 14);
    CHECK(json_number(json_member(json_member(root, "machine"), "cores")) >= 1);
    CHECK(json_member(json_member(root, "build"), "flags") != NULL);
    CHECK(json_is_text(json_next(json_begin(json_member(root, "command"))), "roof"));
    free(text);
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    tool_find(argv[0]);
    strcpy(tool + strlen(tool) - strlen("ggnn-data"), "ggnn-bench");
    RUN(reader_finds_members_and_elements);
    RUN(reader_refuses_what_is_no_json);
    RUN(help_lists_names_and_options);
    RUN(unknown_names_list_the_names);
    RUN(bad_values_name_the_option_and_the_value);
    RUN(failures_are_said_and_end_in_1);
    RUN(backends_that_were_not_built_are_named);
    RUN(roofs_are_kept_with_all_samples);
    folder_remove();
    return test_finish();
}
