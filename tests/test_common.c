/* The helpers that the tools share: options, JSON, progress. */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/input.h"
#include "common/json.h"
#include "common/options.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/same_file.h"
#include "tests/folder.h"
#include "tests/test.h"

/* ---- options -------------------------------------------------------------------------------------------------- */

static struct {
    bool flag, given;
    int64_t number, bytes;
    double real;
    const char* text;
    int choice;
    option_list list;
} got;

static const option table[] = {
    {"flag", OPTION_FLAG, &got.flag, 0, 0, NULL, "a flag", NULL},
    {"number", OPTION_INT, &got.number, 1, 100, "N", "a number", &got.given},
    {"free", OPTION_INT, &got.number, 0, 0, "N", "without limits", NULL},
    {"bytes", OPTION_BYTES, &got.bytes, 0, 9e18, "BYTES", "an amount", NULL},
    {"real", OPTION_REAL, &got.real, 0, .999, "X", "a share", NULL},
    {"seed", OPTION_INT, &got.number, 0, 9e18, "N", "any of many", NULL},
    {"backend", OPTION_CHOICE, &got.choice, 0, 0, "cpu|cuda|cuda-emulated", "where", NULL},
    {"text", OPTION_TEXT, &got.text, 0, 0, "FILE", "a name", NULL},
    {"model", OPTION_CHOICE, &got.choice, 0, 0, "gcn|sage|gat", "which one", NULL},
    {"fanout", OPTION_LIST, &got.list, -1, 1000, NULL, "how many", NULL},
    {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL},
};

static const char* argument[4];
static int num_arguments;
static error why;

static options_result parse(const char* line)
{
    static char copy[256];
    char* argv[16] = {copy};
    int argc = 1;
    memset(&got, 0, sizeof got);
    memset(&why, 0, sizeof why);
    snprintf(copy, sizeof copy, "tool %s", line);
    for (char* word = strtok(copy, " "); word; word = strtok(NULL, " ")) argv[argc++ - 1] = word;
    return options_parse(table, argc - 1, argv, argument, &num_arguments, 1, 2, &why);
}

TEST(options_take_values_with_and_without_an_equals_sign)
{
    CHECK_EQ(parse("in --number 7 --real=.5 --flag --text a=b out --model gat --fanout=15,-1,5 --bytes 3M"),
             OPTIONS_GOOD);
    CHECK_EQ(num_arguments, 2);
    CHECK_STR(argument[0], "in");
    CHECK_STR(argument[1], "out");
    CHECK(got.flag && got.given);
    CHECK_EQ(got.number, 7);
    CHECK_EQ(got.bytes, 3 << 20);
    CHECK(got.real == .5);
    CHECK_STR(got.text, "a=b");
    CHECK_EQ(got.choice, 2);
    CHECK_EQ(got.list.count, 3);
    CHECK_EQ(got.list.value[1], -1);
    CHECK_EQ(parse("in --number 7 --number 9"), OPTIONS_GOOD); /* the last time counts */
    CHECK_EQ(got.number, 9);
    CHECK_EQ(parse("-- --flag"), OPTIONS_GOOD);
    CHECK_STR(argument[0], "--flag");
    CHECK_EQ(parse("- --text --flag"), OPTIONS_GOOD); /* a value may look like an option */
    CHECK_STR(got.text, "--flag");
    CHECK_EQ(parse("in --free -9223372036854775808"), OPTIONS_GOOD);
    CHECK(got.number == INT64_MIN);
}

static void check_wrong(const char* line, const char* message)
{
    CHECK_EQ(parse(line), OPTIONS_WRONG);
    if (!CHECK(strstr(why.text, message) != NULL)) printf("  %s: %s\n", line, why.text);
}

TEST(wrong_options_name_option_and_value)
{
    check_wrong("in --number", "--number: needs a value");
    check_wrong("in --number seven", "--number 'seven': not an integer");
    check_wrong("in --number 7x", "--number '7x': not an integer");
    check_wrong("in --number=", "--number '': not an integer");
    check_wrong("in --number 101", "--number 101: must be between 1 and 100");
    check_wrong("in --number 0", "--number 0: must be between");
    check_wrong("in --free 99999999999999999999", "does not fit 64 bits");
    check_wrong("in --real 1.5", "--real 1.5: must be between 0 and 0.999");
    check_wrong("in --real -1e-3", "--real -1e-3: must be between 0 and 0.999");
    check_wrong("in --seed -1", "--seed -1: must be between 0 and 9000000000000000000");
    check_wrong("in --seed 9223372036854775807",
                "--seed 9223372036854775807: must be between 0 and 9000000000000000000");
    check_wrong("in --real nan", "--real 'nan': not a finite number");
    check_wrong("in --real inf", "not a finite number");
    check_wrong("in --bytes 5Q", "--bytes '5Q'");
    check_wrong("in --bytes -5", "--bytes -5");
    check_wrong("in --flag=1", "--flag=1: takes no value");
    check_wrong("in --model gtn", "--model gtn: not one of gcn|sage|gat; is gcn meant?");
    check_wrong("in --model transformer", "--model transformer: not one of gcn|sage|gat");
    check_wrong("in --fanout 3,,4", "--fanout '': not an integer");
    check_wrong("in --fanout 3,2000", "--fanout 2000: must be between -1 and 1000");
    check_wrong("in --fanuot 3", "--fanuot: no such option; is --fanout meant?");
    check_wrong("in --num 3", "--num: no such option; is --number meant?");
    check_wrong("in --zzzzzz", "--zzzzzz: no such option");
    check_wrong("in -n 3", "-n: options begin with two dashes");
    check_wrong("a b c", "'c': one argument too many");
    check_wrong("--flag", "1 argument expected, 0 given");
    CHECK(strstr(why.text, "meant") == NULL);
}

TEST(suggestions_mean_what_was_asked_for)
{
    check_wrong("in --backend gpu", "--backend gpu: not one of cpu|cuda|cuda-emulated; is cuda meant?");
    check_wrong("in --backend cdua", "is cuda meant?");
    check_wrong("in --backend cup", "is cpu meant?");
    check_wrong("in --backend tpu", "--backend tpu: not one of cpu|cuda|cuda-emulated");
    CHECK(strstr(why.text, "meant") == NULL);
}

TEST(lists_and_amounts_are_taken_up_to_their_limits)
{
    char text[2 * (OPTION_LIST_MAX + 1)] = "";
    option_list list[2]; /* the second is what a value too many would go to */
    error fault = {""};
    for (int i = 0; i < OPTION_LIST_MAX; i++) strcat(text, i ? ",1" : "1");
    CHECK(options_ints("--list", text, 0, 9, list, &fault) && list[0].count == OPTION_LIST_MAX);
    strcat(text, ",1");
    CHECK(!options_ints("--list", text, 0, 9, list, &fault));
    CHECK_STR(fault.text, "--list: more than 1024 values");
    CHECK(parse("in --bytes 2T") == OPTIONS_GOOD && got.bytes == (int64_t)2 << 40);
}

TEST(a_word_with_one_dash_says_which_option_is_meant)
{
    const char* out = NULL;
    const option short_table[] = {{"of", OPTION_TEXT, &out, 0, 0, NULL, "of", NULL},
                                  {"out", OPTION_TEXT, &out, 0, 0, "FILE", "where to", NULL},
                                  {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    char* argv[] = {(char[]){"tool"}, (char[]){"-o"}, (char[]){"x"}};
    int count;
    CHECK_EQ(options_parse(short_table, 3, argv, argument, &count, 0, 2, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "-o: options begin with two dashes; is --out meant?");
    CHECK_EQ(options_parse(short_table + 2, 3, argv, argument, &count, 0, 2, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "-o: options begin with two dashes, and there is no --out");
    check_wrong("in -n 3", "-n: options begin with two dashes; is --number meant?");
    check_wrong("in -f 3", "-f: options begin with two dashes; is one of --flag, --free, --fanout meant?");
    check_wrong("in -number=3", "-number=3: options begin with two dashes; is --number meant?");
    check_wrong("in -nubmer 3", "-nubmer: options begin with two dashes; is --number meant?");
    check_wrong("in -q", "-q: options begin with two dashes");
    CHECK(strstr(why.text, "meant") == NULL);
}

TEST(help_lists_every_option_with_its_default)
{
    char text[4096];
    FILE* out = tmpfile();
    size_t length;
    memset(&got, 0, sizeof got);
    got.number = 42;
    got.choice = 1;
    got.real = -1; /* outside its limits: not given, not shown */
    got.list.count = 2;
    got.list.value[0] = 15;
    got.list.value[1] = 10;
    options_help(table, out);
    rewind(out);
    length = fread(text, 1, sizeof text - 1, out);
    text[length] = 0;
    fclose(out);
    for (const option* o = table; o->name; o++) CHECK(strstr(text, o->name) != NULL && strstr(text, o->help) != NULL);
    CHECK(strstr(text, "[42]") && strstr(text, "[sage]") && strstr(text, "[15,10]"));
    CHECK(!strstr(text, "[-1]") && !strstr(text, " \n"));
    CHECK_EQ(parse("--number nonsense --help"), OPTIONS_WRONG);
    CHECK_EQ(parse("--help --number nonsense"), OPTIONS_HELP);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

static void write_all(json* j)
{
    json_begin_object(j, NULL);
    json_string(j, "a", "q\"b\\c\n\t\x01\x7f\xff\xc3\xa9");
    json_begin_array(j, "b");
    json_int(j, NULL, INT64_MIN);
    json_int(j, NULL, 2);
    json_end_array(j);
    json_begin_array(j, "c");
    json_end_array(j);
    json_begin_array(j, "d");
    json_begin_object(j, NULL);
    json_bool(j, "t", true);
    json_end_object(j);
    json_end_array(j);
    json_null(j, "n");
    json_string(j, "s", NULL);
    json_end_object(j);
}

static void check_json(bool indent, const char* wanted)
{
    char text[1024];
    FILE* out = tmpfile();
    json j;
    json_start(&j, out, indent);
    write_all(&j);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = 0;
    fclose(out);
    CHECK_STR(text, wanted);
}

TEST(json_is_written_on_a_line_or_indented)
{
    check_json(false, "{\"a\":\"q\\\"b\\\\c\\n\\t\\u0001\\u007f\\ufffd\xc3\xa9\",\"b\":[-9223372036854775808,2],\"c\":[],"
                      "\"d\":[{\"t\":true}],\"n\":null,\"s\":null}\n");
    check_json(true,
               "{\n  \"a\": \"q\\\"b\\\\c\\n\\t\\u0001\\u007f\\ufffd\xc3\xa9\",\n  \"b\": [-9223372036854775808, 2],\n"
               "  \"c\": [],\n  \"d\": [\n    {\n      \"t\": true\n    }\n  ],\n  \"n\": null,\n  \"s\": null\n}\n");
}

static void real_as_text(char text[64], double value, bool as_float)
{
    FILE* out = tmpfile();
    json j;
    json_start(&j, out, false);
    if (as_float)
        json_float(&j, NULL, (float)value);
    else
        json_real(&j, NULL, value);
    rewind(out);
    text[fread(text, 1, 63, out)] = 0;
    fclose(out);
}

TEST(json_numbers_read_back_equal_and_are_short)
{
    char text[64];
    real_as_text(text, .1, false);
    CHECK_STR(text, "0.1");
    real_as_text(text, .1, true);
    CHECK_STR(text, "0.1");
    real_as_text(text, 1e300 * 1e300, false);
    CHECK_STR(text, "null");
    real_as_text(text, NAN, true);
    CHECK_STR(text, "null");
    for (int i = 0; i < 300; i++) {
        uint64_t bits = test_random();
        double value;
        memcpy(&value, &bits, 8);
        if (!isfinite(value)) continue;
        real_as_text(text, value, false);
        CHECK(strtod(text, NULL) == value);
        float narrow;
        memcpy(&narrow, &bits, 4);
        if (!isfinite(narrow)) continue;
        real_as_text(text, (double)narrow, true);
        CHECK(strtof(text, NULL) == narrow);
    }
}

/* ---- text of strangers ---------------------------------------------------------------------------------------- */

static void check_printable(const char* text, const char* wanted)
{
    char out[64];
    CHECK_STR(printable(out, sizeof out, text), wanted);
}

TEST(printable_text_shows_control_characters_and_bytes_that_are_not_utf8)
{
    check_printable("", "");
    check_printable("a b\\c~", "a b\\c~");
    check_printable("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    check_printable("\x1b[2J\r\n\t\x7f", "\\x1b[2J\\x0d\\x0a\\x09\\x7f");
    check_printable("\xc2\x9b"
                    "31m", "\\xc2\\x9b31m");                            /* CSI as one character of C1 */
    check_printable("\xc2\xa0", "\xc2\xa0");                       /* the first after C1 */
    check_printable("\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"); /* the first and last of their lengths */
    check_printable("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"); /* and those beside them: overlong, beyond U+10FFFF */
    check_printable("\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf");
    check_printable("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80");
    check_printable("\xf5\x80\x80\x80\xf6\x80\x80\x80", "\\xf5\\x80\\x80\\x80\\xf6\\x80\\x80\\x80"); /* no character begins so */
    check_printable("\xff\xc3", "\\xff\\xc3");                     /* no UTF-8; cut off */
    check_printable("\xc0\xaf\xed\xa0\x80", "\\xc0\\xaf\\xed\\xa0\\x80"); /* overlong; a surrogate */
}

TEST(printable_text_is_cut_between_characters)
{
    char out[8];
    CHECK_STR(printable(out, 4, "abcd"), "abc");
    CHECK_STR(printable(out, 4, "ab\xc3\xa9"), "ab");
    CHECK_STR(printable(out, 5, "ab\xc3\xa9"), "ab\xc3\xa9");
    CHECK_STR(printable(out, 5, "a\x1b"), "a");
    CHECK_STR(printable(out, 6, "a\x1b"), "a\\x1b");
    CHECK_STR(printable(out, 1, "a"), "");
}

TEST(errors_are_printable_and_keep_the_first_cause)
{
    error first = {""};
    char name[2048];
    memset(name, 0x1b, sizeof name - 1);
    name[sizeof name - 1] = 0;
    CHECK(!error_set(&first, "%s: line %d\n", "a\x1b[1mb\xff", 3));
    CHECK_STR(first.text, "a\\x1b[1mb\\xff: line 3\\x0a");
    CHECK(!error_set(&first, "second"));
    CHECK(strstr(first.text, "second") == NULL);
    first.text[0] = 0;
    error_set(&first, "%s: the reason", name);
    CHECK(strncmp(first.text, "\\x1b\\x1b", 8) == 0 && strstr(first.text, " ... "));
    CHECK_STR(first.text + strlen(first.text) - 16, "\\x1b: the reason");
    CHECK(strlen(first.text) < sizeof first.text && strlen(first.text) > sizeof first.text - 20);
    first.text[0] = 0;
    for (size_t i = 0; i + 2 < sizeof name; i += 2) memcpy(name + i, "\xc3\xa9", 2);
    for (int shift = 0; shift < 4; shift++) { /* characters stay whole wherever the cut falls */
        char again[sizeof first.text];
        first.text[0] = 0;
        error_set(&first, "%.*s%s%.*s", shift, "abc", name, shift / 2, "d");
        CHECK_STR(printable(again, sizeof again, first.text), first.text);
    }
}

/* ---- progress ------------------------------------------------------------------------------------------------- */

TEST(amounts_have_three_digits_and_a_prefix)
{
    char text[16];
    CHECK_STR(progress_amount(text, 0), "0");
    CHECK_STR(progress_amount(text, 512), "512");
    CHECK_STR(progress_amount(text, 999), "999");
    CHECK_STR(progress_amount(text, 999.6), "1.00 k");
    CHECK_STR(progress_amount(text, 1615685872), "1.62 G");
    CHECK_STR(progress_amount(text, 61859140), "61.9 M");
    CHECK_STR(progress_amount(text, 123456), "123 k");
    CHECK_STR(progress_amount(text, 9994), "9.99 k");
    CHECK_STR(progress_amount(text, 9996), "10.0 k");
    CHECK_STR(progress_amount(text, 99960), "100 k");
}

/* What goes to standard error between the two calls becomes a text. */
static FILE* errors;
static int standard_error;
static void catch_errors(void)
{
    errors = tmpfile();
    standard_error = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(errors), STDERR_FILENO);
}
static void errors_as_text(char text[256])
{
    fflush(stderr);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    rewind(errors);
    text[fread(text, 1, 255, errors)] = 0;
    fclose(errors);
}

/* What is printed at the end of a step that began so many seconds ago. */
static void check_time(double seconds, const char* wanted)
{
    char text[256], words[40];
    progress p;
    progress_begin(&p, "counting", "things", 0);
    p.start -= seconds;
    catch_errors();
    progress_end(&p, 10, true);
    errors_as_text(text);
    snprintf(words, sizeof words, " in %s (", wanted);
    if (!CHECK(strstr(text, words) != NULL)) printf("  %s", text);
}

TEST(a_time_is_seconds_minutes_or_hours)
{
    check_time(2.51, "2.5 s");
    check_time(59, "59 s");
    check_time(75, "1:15");
    check_time(3599, "59:59");
    check_time(2 * 3600 + 3 * 60 + 4, "2:03:04");
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* A pipe that nobody writes to would be waited for. */
TEST(an_input_that_is_a_pipe_is_refused_at_once)
{
    char path[600], words[700];
    int64_t bytes;
    error refused = {""};
    CHECK_EQ(mkfifo(folder_path(path, "pipe"), 0600), 0);
    alarm(10);
    CHECK_EQ(input_open(path, &bytes, &refused), -1);
    alarm(0);
    snprintf(words, sizeof words, "%s: is a pipe, a file is needed (write to one first)", path);
    CHECK_STR(refused.text, words);
}

/* Links to what is not there yet: what is written through them becomes one file. */
TEST(names_of_one_new_file_are_the_same_by_links_too)
{
    char made[600], other[600], relative[600], absolute[600], twice[600];
    CHECK_EQ(mkdir(folder_path(other, "inner"), 0700), 0);
    folder_path(made, "inner/new");
    folder_path(other, "inner/other");
    CHECK_EQ(symlink("new", folder_path(relative, "inner/relative")), 0);
    CHECK_EQ(symlink(made, folder_path(absolute, "absolute")), 0);
    CHECK_EQ(symlink("inner/relative", folder_path(twice, "twice")), 0);
    const char* const link[] = {relative, absolute, twice};
    for (int i = 0; i < 3; i++) {
        CHECK(same_file(link[i], made) && same_file(made, link[i]) && same_file(link[i], link[(i + 1) % 3]));
        CHECK(!same_file(link[i], other));
    }
}

/* Two neighbours changed are one slip, wherever they stand; a word of four letters may have one. */
TEST(a_word_with_two_letters_swapped_is_known)
{
    static const char* const word[] = {"asge", "sgae", "saeg"};
    char nearest[64];
    for (int i = 0; i < 3; i++) CHECK(options_nearest("gcn|sage|mlp", word[i], nearest) && strcmp(nearest, "sage") == 0);
    CHECK(!options_nearest("gcn|sage|mlp", "gsea", nearest)); /* two pairs */
}

/* The roots of /proc and /sys have the number 1, each of its own file system. */
TEST(files_of_one_number_on_two_file_systems_are_two_files)
{
    struct stat proc, sys;
    if (stat("/proc", &proc) != 0 || stat("/sys", &sys) != 0 || proc.st_dev == sys.st_dev || proc.st_ino != sys.st_ino)
        SKIP("/proc and /sys do not have one number");
    CHECK(!same_file("/proc", "/sys") && same_file("/proc", "/proc/../proc"));
}

/* Standard error goes to a file, which is no terminal: one line at the end, or nothing. */
TEST(progress_elsewhere_than_on_a_terminal_is_one_line_at_most)
{
    for (int say = 0; say < 2; say++) {
        char text[256];
        progress p;
        catch_errors();
        progress_begin(&p, "counting", "things", 1000);
        progress_note(&p, "note %d", 1);
        for (int i = 0; i < 1000; i++) progress_update(&p, i);
        progress_end(&p, 1000, say);
        errors_as_text(text);
        if (!say)
            CHECK_STR(text, "");
        else
            CHECK(strncmp(text, "counting: 1.00 k things in ", 27) == 0 &&
                  strchr(text, '\n') == text + strlen(text) - 1);
    }
}

/* Standard error is a terminal 60 columns wide: the bar fits it, shows share, rate, time left, and is erased. */
TEST(progress_on_a_terminal_is_a_bar_that_fits)
{
    const struct winsize size = {24, 60, 0, 0};
    char text[2048];
    int master = posix_openpt(O_RDWR | O_NOCTTY), keep = dup(STDERR_FILENO), slave;
    size_t length = 0;
    progress p;
    if (master < 0 || grantpt(master) || unlockpt(master)) SKIP("no pseudo-terminal");
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    ioctl(slave, TIOCSWINSZ, &size);
    fflush(stderr);
    dup2(slave, STDERR_FILENO);
    progress_begin(&p, "reading", "edges", 1000);
    progress_note(&p, "a note that is far too long for the line");
    usleep(120000);
    progress_update(&p, 500);
    progress_update(&p, 501); /* too soon: not drawn */
    progress_end(&p, 1000, false);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(slave);
    while (length < sizeof text - 1 && read(master, text + length, 1) == 1) length++; /* it may come in pieces */
    close(master);
    text[length] = 0;
    CHECK(strstr(text, "\rreading [############------------]  50%  500 edges") == text);
    CHECK(strstr(text, "501") == NULL);
    CHECK(length > 4 && strcmp(text + length - 4, "\r\033[K") == 0);
    CHECK_EQ(strcspn(text + 1, "\033"), 59);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(1);
    folder_make();
    RUN(options_take_values_with_and_without_an_equals_sign);
    RUN(wrong_options_name_option_and_value);
    RUN(suggestions_mean_what_was_asked_for);
    RUN(lists_and_amounts_are_taken_up_to_their_limits);
    RUN(a_word_with_one_dash_says_which_option_is_meant);
    RUN(help_lists_every_option_with_its_default);
    RUN(json_is_written_on_a_line_or_indented);
    RUN(json_numbers_read_back_equal_and_are_short);
    RUN(printable_text_shows_control_characters_and_bytes_that_are_not_utf8);
    RUN(printable_text_is_cut_between_characters);
    RUN(errors_are_printable_and_keep_the_first_cause);
    RUN(amounts_have_three_digits_and_a_prefix);
    RUN(a_time_is_seconds_minutes_or_hours);
    RUN(an_input_that_is_a_pipe_is_refused_at_once);
    RUN(names_of_one_new_file_are_the_same_by_links_too);
    RUN(a_word_with_two_letters_swapped_is_known);
    RUN(files_of_one_number_on_two_file_systems_are_two_files);
    RUN(progress_elsewhere_than_on_a_terminal_is_one_line_at_most);
    RUN(progress_on_a_terminal_is_a_bar_that_fits);
    folder_remove();
    return test_finish();
}
