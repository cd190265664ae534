/* The helpers that the tools share: options, JSON, progress. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/input.h"
#include "common/json.h"
#include "common/options.h"
#include "common/parallel.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/resources.h"
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
    static char copy[512];
    char* argv[40] = {copy};
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
    check_wrong("in --flag=", "--flag=: takes no value");
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

/* Also where the value is wrong, and where it is the default. */
TEST(an_option_is_given_whatever_its_kind_and_value)
{
    static const option_kind kind[] = {OPTION_FLAG, OPTION_INT, OPTION_REAL, OPTION_BYTES, OPTION_TEXT, OPTION_CHOICE, OPTION_LIST};
    static const char *const values[] = {"", "=0", "=0", "=0", "=", "=a", "=0"}, *const wrong[] = {"=1", "=x", "=x", "=x", NULL, "=x", "=x"};
    for (int k = 0; k < 7; k++)
        for (int bad = 0; bad < (wrong[k] ? 2 : 1); bad++) {
            bool given[3] = {false, false, false};
            union {
                bool flag;
                int choice;
                int64_t number;
                double real;
                const char* text;
                option_list list;
            } value[3];
            memset(value, 0, sizeof value);
            const option three[] = {{"first", kind[k], &value[0], 0, 0, "a|b", "help", &given[0]},
                                    {"second", kind[k], &value[1], 0, 0, "a|b", "help", &given[1]},
                                    {"third", kind[k], &value[2], 0, 0, "a|b", "help", &given[2]},
                                    {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
            char word[40], program[] = "program", *argv[] = {program, word, NULL};
            why.text[0] = 0;
            snprintf(word, sizeof word, "--second%s", bad ? wrong[k] : values[k]);
            CHECK_EQ(options_parse(three, 2, argv, argument, &num_arguments, 0, 0, &why), bad ? OPTIONS_WRONG : OPTIONS_GOOD);
            CHECK(given[1] == !(bad && kind[k] == OPTION_FLAG) && !given[0] && !given[2]);
        }
}

TEST(the_last_of_repeated_options_counts_whatever_its_kind)
{
    CHECK_EQ(parse("in --fanout 1,2,3 --bytes 1K --model gat --text a --real .5 --free=7 --flag --flag "
                   "--fanout=8,9 --bytes 2M --model=sage --text b --real .25 --free -7"), OPTIONS_GOOD);
    CHECK(got.list.count == 2 && got.list.value[0] == 8 && got.list.value[1] == 9);
    CHECK(got.bytes == 2 << 20 && got.choice == 1 && got.real == .25 && got.number == -7 && got.flag);
    CHECK_STR(got.text, "b");
    CHECK(parse("in --model gat --model gcn") == OPTIONS_GOOD && got.choice == 0); /* the first of three */
}

TEST(two_dashes_end_the_options_once)
{
    static const char* const line[] = {"-- -- -x", "-- --help -h", "in -- --number=x", "--text -- - -- --"};
    static const char* const wanted[][2] = {{"--", "-x"}, {"--help", "-h"}, {"in", "--number=x"}, {"-", "--"}};
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(parse(line[i]), OPTIONS_GOOD);
        CHECK_EQ(num_arguments, 2);
        for (int k = 0; k < 2; k++) CHECK_STR(argument[k], wanted[i][k]);
    }
    CHECK_STR(got.text, "--"); /* a value is the next word, whatever it is */
}

/* The line that they stand on has 255 characters: the second name fills it, or is one too long. */
TEST(names_that_a_dash_may_mean_fill_their_line_to_its_end)
{
    static char first[101], second[160];
    char* argv[] = {(char[]){"tool"}, (char[]){"-a"}};
    const option three[] = {{first, OPTION_FLAG, &got.flag, 0, 0, NULL, "x", NULL}, {second, OPTION_FLAG, &got.flag, 0, 0, NULL, "x", NULL},
                            {"a", OPTION_FLAG, &got.flag, 0, 0, NULL, "x", NULL}, {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    memset(first, 'a', 100);
    for (int length = 148; length <= 151; length++) {
        char wanted[640];
        int count;
        memset(second, 'b', sizeof second);
        second[0] = 'a';
        second[length] = 0;
        CHECK_EQ(options_parse(three, 2, argv, argument, &count, 0, 2, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
        snprintf(wanted, sizeof wanted, "-a: options begin with two dashes; is one of --%s, --%s meant?", first, length <= 149 ? second : "a");
        CHECK_STR(why.text, wanted);
    }
}

/* Of more names than a line holds as many as fit, each whole; options that help does not list are not among them. */
TEST(options_that_a_dash_may_mean_are_named_whole)
{
    enum { NAMES = 30 };
    static char name[NAMES][32];
    option many[NAMES + 1];
    char* argv[] = {(char[]){"tool"}, (char[]){"-a"}};
    int count, named = 0;
    memset(many, 0, sizeof many);
    for (int i = 0; i < NAMES; i++) {
        snprintf(name[i], sizeof name[i], "a-name-of-%02d", i);
        many[i] = (option){name[i], OPTION_FLAG, &got.flag, 0, 0, NULL, i % 3 == 1 ? NULL : "listed", NULL};
    }
    CHECK_EQ(options_parse(many, 2, argv, argument, &count, 0, 2, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK(strncmp(why.text, "-a: options begin with two dashes; is one of --a-name-of-00, --a-name-of-02, --a-name-of-03, ", 90) == 0);
    for (const char* at = why.text; (at = strstr(at, "--a-name-of-")); at += 14, named++)
        CHECK(at[14] == ',' || strcmp(at + 14, " meant?") == 0);
    CHECK_EQ(named, 16); /* 14 characters, and 16 of each after it, of 256 */
    CHECK(strstr(why.text, "-01") == NULL && strcmp(why.text + strlen(why.text) - 7, " meant?") == 0);
}

TEST(wrong_numbers_of_arguments_are_said)
{
    char* argv[] = {(char[]){"tool"}, (char[]){"a"}, (char[]){"b"}};
    int count;
    CHECK_EQ(options_parse(table, 3, argv, argument, &count, 3, 4, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "3 arguments expected, 2 given");
    CHECK_EQ(options_parse(table, 1, argv, argument, &count, 1, 4, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "1 argument expected, 0 given");
    CHECK_EQ(options_parse(table, 3, argv, argument, &count, 0, 1, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "'b': one argument too many");
    CHECK_EQ(options_parse(table, 3, argv, argument, &count, 0, 0, memset(&why, 0, sizeof why)), OPTIONS_WRONG);
    CHECK_STR(why.text, "'a': only options are expected, --NAME VALUE");
    CHECK_EQ(options_parse(table, 3, argv, argument, &count, 2, 2, memset(&why, 0, sizeof why)), OPTIONS_GOOD);
    CHECK_EQ(count, 2);
}

/* Texts and what they are: a number of bytes, or the error behind the option and the text. */
TEST(amounts_of_bytes_have_suffixes_and_fractions)
{
    static const struct {
        const char* text;
        int64_t bytes;
        const char* error;
    } of[] = {{"0", 0, NULL},
              {"512", 512, NULL},
              {"1e3", 1000, NULL},
              {"1.5", 1, NULL},
              {"1K", 1 << 10, NULL},
              {"3KB", 3 << 10, NULL},
              {"3KiB", 3 << 10, NULL},
              {"1.5K", 1536, NULL},
              {".0009K", 0, NULL},
              {".5M", 1 << 19, NULL},
              {"2MB", 2 << 20, NULL},
              {"1.5GiB", (int64_t)3 << 29, NULL},
              {"2T", (int64_t)2 << 40, NULL},
              {"9e18", 9000000000000000000, NULL},
              {"", 0, "'': not a number of bytes"},
              {"K", 0, "'K': not a number of bytes"},
              {" 1", 0, "' 1': not a number of bytes"},
              {"\v1", 0, "'\\x0b1': not a number of bytes"},
              {"nan", 0, "'nan': not a number of bytes"},
              {"inf", 0, "'inf': not a number of bytes"},
              {"1k", 0, "'1k': not a number of bytes (512, 64M, 1.5G)"},
              {"1B", 0, "'1B': not a number of bytes (512, 64M, 1.5G)"},
              {"1P", 0, "'1P': not a number of bytes (512, 64M, 1.5G)"},
              {"1 K", 0, "'1 K': not a number of bytes (512, 64M, 1.5G)"},
              {"1Ki", 0, "'1Ki': not a number of bytes (512, 64M, 1.5G)"},
              {"1KBs", 0, "'1KBs': not a number of bytes (512, 64M, 1.5G)"},
              {"1KK", 0, "'1KK': not a number of bytes (512, 64M, 1.5G)"},
              {"-1", 0, "-1: does not fit 63 bits"},
              {"-.5K", 0, "-.5K: does not fit 63 bits"},
              {"1e19", 0, "1e19: does not fit 63 bits"},
              {"8388608T", 0, "8388608T: does not fit 63 bits"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char words[100];
        int64_t bytes = -7;
        error fault = {""};
        CHECK_EQ(options_bytes("--size", of[i].text, 0, 0, &bytes, &fault), !of[i].error);
        CHECK_EQ(bytes, of[i].error ? -7 : of[i].bytes);
        snprintf(words, sizeof words, "--size %s", of[i].error ? of[i].error : "");
        CHECK_STR(fault.text, of[i].error ? words : "");
    }
}

static bool takes(option_kind kind, const char* text, double low, double high, double wanted, const char* message)
{
    int64_t number = 0;
    double real = 0;
    error fault = {""};
    const bool good = kind == OPTION_INT     ? options_int("--n", text, low, high, &number, &fault)
                      : kind == OPTION_BYTES ? options_bytes("--n", text, low, high, &number, &fault)
                                             : options_real("--n", text, low, high, &real, &fault);
    const bool right = good == !message &&
        (good ? (kind == OPTION_REAL ? real : (double)number) == wanted : strcmp(fault.text, message) == 0);
    if (!right) printf("  %s: %g, %g; %s\n", text, (double)number, real, fault.text);
    return right;
}

TEST(numbers_are_taken_up_to_both_ends_of_their_range)
{
    static const option_kind kinds[] = {OPTION_INT, OPTION_BYTES, OPTION_REAL};
    for (int k = 0; k < 3; k++) {
        CHECK(takes(kinds[k], "3", 3, 9, 3, NULL) && takes(kinds[k], "9", 3, 9, 9, NULL) && takes(kinds[k], "+4", 3, 9, 4, NULL));
        CHECK(takes(kinds[k], "2", 3, 9, 0, "--n 2: must be between 3 and 9") &&
              takes(kinds[k], "10", 3, 9, 0, "--n 10: must be between 3 and 9"));
        CHECK(takes(kinds[k], "6", 0, 5, 0, "--n 6: must be between 0 and 5") && takes(kinds[k], "0", 0, 5, 0, NULL));
        CHECK(takes(kinds[k], "1", 1, 1, 1, NULL) && takes(kinds[k], "1000000", 0, 0, 1e6, NULL));
    }
    for (int k = 0; k < 3; k += 2) {
        CHECK(takes(kinds[k], "-5", -5, 0, -5, NULL) && takes(kinds[k], "0", -5, 0, 0, NULL) &&
              takes(kinds[k], "-1000000", 0, 0, -1e6, NULL));
        CHECK(takes(kinds[k], "1", -5, 0, 0, "--n 1: must be between -5 and 0") &&
              takes(kinds[k], "-6", -5, 0, 0, "--n -6: must be between -5 and 0"));
    }
    CHECK(takes(OPTION_BYTES, "1K", 1024, 2048, 1024, NULL) && takes(OPTION_BYTES, "2K", 1024, 2048, 2048, NULL));
    CHECK(takes(OPTION_BYTES, "3K", 1024, 2048, 0, "--n 3K: must be between 1024 and 2048"));
    CHECK(takes(OPTION_REAL, "0.25", .25, 1e300, .25, NULL) &&
          takes(OPTION_REAL, "0.2", .25, 1e300, 0, "--n 0.2: must be between 0.25 and 1e+300"));
    CHECK(takes(OPTION_REAL, "1e400", 0, 0, 0, "--n '1e400': not a finite number") &&
          takes(OPTION_REAL, "1e-3x", 0, 0, 0, "--n '1e-3x': not a finite number"));
    CHECK(takes(OPTION_INT, "9223372036854775807", 0, 0, 9223372036854775807., NULL));
    CHECK(takes(OPTION_INT, "9223372036854775808", 0, 0, 0, "--n 9223372036854775808: does not fit 64 bits"));
    CHECK(takes(OPTION_INT, "-9223372036854775809", 0, 0, 0, "--n -9223372036854775809: does not fit 64 bits"));
    CHECK(takes(OPTION_INT, "0x5", 0, 0, 0, "--n '0x5': not an integer") && takes(OPTION_INT, "1.0", 0, 0, 0, "--n '1.0': not an integer"));
    CHECK(takes(OPTION_INT, "007", 0, 0, 7, NULL) && takes(OPTION_INT, "5 ", 0, 0, 0, "--n '5 ': not an integer"));
    for (const char* blank = " \t\n\v\f\r"; *blank; blank++) {
        const char text[] = {*blank, '5', 0};
        int64_t number;
        double real;
        CHECK(!options_int("--n", text, 0, 0, &number, &(error){""}) && !options_real("--n", text, 0, 0, &real, &(error){""}));
        CHECK(!options_bytes("--n", text, 0, 0, &number, &(error){""}));
    }
}

TEST(values_of_a_list_are_told_from_one_another)
{
    static const struct {
        const char *text, *error;
    } of[] = {{"0000000000000000000000000000005,2", NULL}, /* 31 characters */
              {"00000000000000000000000000000005", "--l 00000000000000000000000000000005: not integers with commas between"},
              {"1,", "--l '': not an integer"},
              {",1", "--l '': not an integer"},
              {"1, 2", "--l ' 2': not an integer"},
              {"5;2", "--l '5;2': not an integer"},
              {"5,10", "--l 10: must be between 0 and 9"},
              {"5,-1", "--l -1: must be between 0 and 9"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        static option_list list;
        error fault = {""};
        CHECK_EQ(options_ints("--l", of[i].text, 0, 9, &list, &fault), !of[i].error);
        CHECK_STR(fault.text, of[i].error ? of[i].error : "");
        if (!of[i].error) CHECK(list.count == 2 && list.value[0] == 5 && list.value[1] == 2);
    }
    CHECK_EQ(options_choice("cpu|cuda|cuda-emulated", "cuda"), 1);
    CHECK_EQ(options_choice("cpu|cuda|cuda-emulated", "cuda-emulated"), 2);
    CHECK(options_choice("cpu|cuda", "cud") == -1 && options_choice("cpu|cuda", "cuda-") == -1 && options_choice("cpu|cuda", "") == -1);
    CHECK_EQ(options_choice("cpu|cuda", "cpu|cuda"), -1);
}

/* Of words of up to five letters one may be wrong, of longer ones a third; three letters may be a beginning. */
TEST(names_that_are_near_enough_are_meant)
{
    static const char names[] = "fanout|epochs|lr|trace|hidden|seed|train";
    static const struct {
        const char *word, *name;
    } of[] = {{"fanout", "fanout"}, {"fanuot", "fanout"}, {"fnaotu", "fanout"}, {"xanoux", "fanout"}, {"xxnoux", NULL},
              {"epoch", "epochs"},  {"epo", "epochs"},    {"ep", NULL},         {"lrr", "lr"},        {"rl", NULL},
              {"l", "lr"},          {"xr", NULL},         {"tra", "trace"},     {"tr", NULL},         {"hidxxn", "hidden"},
              {"hidxxx", NULL},     {"sead", "seed"},     {"saad", NULL},       {"trai", "train"},    {"", NULL},
              {"eed", NULL},        {"sed", "seed"},      {"epochsss", "epochs"}, {"epochssss", "epochs"}, {"epochssssss", NULL}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char nearest[64] = "";
        const bool near = options_nearest(names, of[i].word, nearest);
        if (!CHECK(near == (of[i].name != NULL)) || (near && !CHECK_STR(nearest, of[i].name))) printf("  %s: %s\n", of[i].word, nearest);
    }
    char nearest[64], longest[65];
    memset(longest, 'x', 64);
    longest[64] = 0;
    CHECK(!options_nearest(longest, longest, nearest)); /* of 64 letters */
    CHECK(options_nearest(longest + 1, longest + 1, nearest) && strcmp(nearest, longest + 1) == 0);
    memset(nearest, 0, sizeof nearest);
    CHECK(!options_nearest(longest, "xxx", nearest) && !nearest[0]); /* the name alone is too long, or the word alone */
    char word[400];
    memset(word, 's', sizeof word);
    for (int length = 399; length > 60; length -= length > 66 ? 111 : 1) {
        word[length] = 0;
        CHECK(!options_nearest("gcn|sage|sss", word, nearest) && !nearest[0]);
    }
    for (int last = 0; last < 2; last++) /* an option's name is cut to what a suggestion has room for */
        check_wrong(last ? "in --fanouttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttttt 3" : "in --hel",
                    ": no such option");
    CHECK(strstr(why.text, "meant") == NULL && strlen(why.text) == 2 + 63 + strlen(": no such option"));
}

/* Every kind with its default, or without where that is none; words that fill a line; a name as wide as its column. */
TEST(help_is_a_table_of_two_columns)
{
    static const char wanted[] =
        "  --flag                    a flag\n"
        "  --count N                 a number [42]\n"
        "  --size BYTES              an amount [1048576]\n"
        "  --cache BYTES             an amount that need not be\n"
        "  --most COUNT              up to its end [9]\n"
        "  --share X                 a share [0.25]\n"
        "  --real X                  of any size [-1]\n"
        "  --text TEXT               words [a b]\n"
        "  --name FILE               a name\n"
        "  --fanout N,N,...          a list [15,-1,10]\n"
        "  --list N,N,...            an empty list\n"
        "  --model gcn|sage|gat      one of three [gat]\n"
        "  --width-of-a-name12345 12 fits\n"
        "  --width-of-a-name123456 12\n"
        "                            does not fit\n"
        "  --long N                  0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456\n"
        "                            0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n"
        "                            012345678 and so on [3]\n";
    bool flag = true;
    int64_t count = 42, size = 1 << 20, none = -1, most = 9, three = 3, seven = 7;
    double share = .25, real = -1;
    const char *text = "a b", *name = NULL;
    int choice = 2;
    option_list list = {3, {15, -1, 10}}, empty = {0, {0}};
    const option every[] = {
        {"flag", OPTION_FLAG, &flag, 0, 0, NULL, "a flag", NULL},
        {"hidden", OPTION_INT, &seven, 0, 0, NULL, NULL, NULL},
        {"count", OPTION_INT, &count, 1, 100, NULL, "a number", NULL},
        {"size", OPTION_BYTES, &size, 0, 9e18, NULL, "an amount", NULL},
        {"cache", OPTION_BYTES, &none, 0, 9e18, NULL, "an amount that need not be", NULL},
        {"most", OPTION_INT, &most, 0, 9, "COUNT", "up to its end", NULL},
        {"share", OPTION_REAL, &share, .25, 1, NULL, "a share", NULL},
        {"real", OPTION_REAL, &real, 0, 0, NULL, "of any size", NULL},
        {"text", OPTION_TEXT, &text, 0, 0, NULL, "words", NULL},
        {"name", OPTION_TEXT, &name, 0, 0, "FILE", "a name", NULL},
        {"fanout", OPTION_LIST, &list, -1, 99, NULL, "a list", NULL},
        {"list", OPTION_LIST, &empty, 0, 0, NULL, "an empty list", NULL},
        {"model", OPTION_CHOICE, &choice, 0, 0, "gcn|sage|gat", "one of three", NULL},
        {"width-of-a-name12345", OPTION_TEXT, &name, 0, 0, "12", "fits", NULL},
        {"width-of-a-name123456", OPTION_TEXT, &name, 0, 0, "12", "does not fit", NULL},
        {"long", OPTION_INT, &three, 0, 9, NULL,
         "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456 "
         "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 012345678 and so on", NULL},
        {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    char printed[4096];
    FILE* out = tmpfile();
    options_help(every, out);
    rewind(out);
    printed[fread(printed, 1, sizeof printed - 1, out)] = 0;
    fclose(out);
    CHECK_STR(printed, wanted);
}

/* A default has 255 characters at most. Of choices none may be the default. */
TEST(help_cuts_a_default_that_is_too_long)
{
    static option_list list = {OPTION_LIST_MAX, {0}};
    static char name[401], values[32 * OPTION_LIST_MAX] = "";
    const char* text = name;
    int none = -1;
    const option three[] = {{"fanout", OPTION_LIST, &list, 0, 0, NULL, "x", NULL}, {"text", OPTION_TEXT, &text, 0, 0, NULL, "x", NULL},
                            {"model", OPTION_CHOICE, &none, 0, 0, "gcn|sage", "x", NULL}, {NULL, OPTION_FLAG, NULL, 0, 0, NULL, NULL, NULL}};
    memset(name, 'n', 400);
    for (int i = 0; i < OPTION_LIST_MAX; i++) {
        list.value[i] = INT64_MAX - i;
        sprintf(values + strlen(values), "%s%lld", i ? "," : "", (long long)list.value[i]);
    }
    char printed[4096], wanted[1000];
    FILE* out = tmpfile();
    options_help(three, out);
    rewind(out);
    printed[fread(printed, 1, sizeof printed - 1, out)] = 0;
    fclose(out);
    snprintf(wanted, sizeof wanted, "%-28sx\n%28s[%.253s\n%-28sx\n%28s[%.253s\n%-28sx\n", "  --fanout N,N,...", "", values, "  --text TEXT", "", name,
             "  --model gcn|sage");
    CHECK_STR(printed, wanted);
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
    memset(&j, 'x', sizeof j);
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

static FILE* written;
static json writing;
static void begin_json(bool indent)
{
    written = tmpfile();
    json_start(&writing, written, indent);
}
static void check_written(const char* wanted)
{
    char text[1024];
    rewind(written);
    text[fread(text, 1, sizeof text - 1, written)] = 0;
    fclose(written);
    CHECK_STR(text, wanted);
}

TEST(json_nests_arrays_and_objects_in_each_other)
{
    static const char* const wanted[] = {
        "{\"m\":[[1,2],[],[3]],\"after\":4,\"o\":{},\"p\":{\"x\":null,\"y\":[]},\"q\":[\"a\",true,{},5]}\n",
        "{\n  \"m\": [\n    [1, 2],\n    [],\n    [3]\n  ],\n  \"after\": 4,\n  \"o\": {},\n  \"p\": {\n    \"x\": null,\n    \"y\": []\n  },\n"
        "  \"q\": [\"a\", true,\n    {}, 5\n  ]\n}\n"};
    for (int indent = 0; indent < 2; indent++) {
        json* j = &writing;
        begin_json(indent);
        json_begin_object(j, NULL);
        json_begin_array(j, "m");
        for (int i = 0, value = 1; i < 3; i++) {
            json_begin_array(j, NULL);
            for (int k = 0; k < 2 - i % 2 * 2 - i / 2; k++) json_int(j, NULL, value++);
            json_end_array(j);
        }
        json_end_array(j);
        json_int(j, "after", 4);
        json_begin_object(j, "o");
        json_end_object(j);
        json_begin_object(j, "p");
        json_null(j, "x");
        json_begin_array(j, "y");
        json_end_array(j);
        json_end_object(j);
        json_begin_array(j, "q");
        json_string(j, NULL, "a");
        json_bool(j, NULL, true);
        json_begin_object(j, NULL);
        json_end_object(j);
        json_int(j, NULL, 5);
        json_end_array(j);
        json_end_object(j);
        check_written(wanted[indent]);
    }
}

/* As deep as it may be. What would be deeper ends the program, which writes nothing behind its levels. */
TEST(json_nests_up_to_its_depth)
{
    char wanted[200] = "";
    int status;
    begin_json(false);
    for (int i = 0; i < JSON_DEPTH; i++) json_begin_array(&writing, NULL);
    json_string(&writing, NULL, "\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
    fflush(stdout);
    fflush(written);
    const pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(SIGABRT, SIG_DFL);
        json_begin_array(&writing, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    for (int i = 0; i < JSON_DEPTH; i++) json_end_array(&writing);
    for (int i = 0; i < JSON_DEPTH; i++) strcat(wanted, "[");
    strcat(wanted, "\"\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
    for (int i = 0; i < JSON_DEPTH; i++) strcat(wanted, "]");
    check_written(strcat(wanted, "\n"));
}

/* Every byte, alone between two letters. */
TEST(json_escapes_what_a_string_may_not_hold)
{
    for (int byte = 1; byte < 256; byte++) {
        const char text[] = {'a', (char)byte, 'b', 0};
        char wanted[32];
        if (byte == '"' || byte == '\\') snprintf(wanted, sizeof wanted, "\"a\\%cb\"", byte);
        else if (byte == '\n' || byte == '\t') snprintf(wanted, sizeof wanted, "\"a\\%cb\"", byte == '\n' ? 'n' : 't');
        else if (byte < 0x20 || byte == 0x7f) snprintf(wanted, sizeof wanted, "\"a\\u%04xb\"", (unsigned)byte);
        else if (byte > 0x7f) strcpy(wanted, "\"a\\ufffdb\"");
        else snprintf(wanted, sizeof wanted, "\"a%cb\"", byte);
        begin_json(byte % 2);
        json_string(&writing, NULL, text);
        check_written(wanted);
    }
}

TEST(json_reals_have_as_many_digits_as_they_need)
{
    static const struct {
        double value;
        const char* text;
    } of[] = {{0, "0"}, {-0.0, "-0"}, {1, "1"}, {-2.5, "-2.5"}, {100, "1e+02"}, {12345, "12345"}, {1e22, "1e+22"},
              {.1 + .2, "0.30000000000000004"},
              {4.9406564584124654e-324, "5e-324"}, {1.7976931348623157e308, "1.7976931348623157e+308"}, {-INFINITY, "null"}, {NAN, "null"}};
    char text[64];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        real_as_text(text, of[i].value, false);
        text[strcspn(text, "\n")] = 0;
        CHECK_STR(text, of[i].text);
    }
}

/* ---- text of strangers ---------------------------------------------------------------------------------------- */

/* UTF-8 of a code point, by RFC 3629's table. */
static int encode(unsigned char p[5], unsigned code)
{
    const int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (int i = length - 1; i > 0; i--, code >>= 6) p[i] = (unsigned char)(0x80 | (code & 0x3F));
    p[0] = (unsigned char)(lead[length] | code);
    p[length] = 0;
    return length;
}

/* All that there are; and of words of bytes at the ends of the table's ranges those alone that are one of them. */
TEST(utf8_is_every_code_point_and_nothing_else)
{
    static const unsigned char edge[] = {0, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF};
    unsigned char p[5];
    for (unsigned code = 1; code < 0x110000; code++) {
        const int length = encode(p, code);
        if (!CHECK(utf8_length((const char*)p) == (code >= 0xD800 && code < 0xE000 ? 0 : length))) break;
    }
    for (int lead = 0x80; lead < 256; lead++)
        for (int i = 0; i < 1000; i++) {
            const unsigned char word[] = {(unsigned char)lead, edge[i / 100], edge[i / 10 % 10], edge[i % 10], 0};
            const int length = utf8_length((const char*)word);
            unsigned char again[5];
            unsigned code = (unsigned)lead & (length == 2 ? 0x1Fu : length == 3 ? 0x0Fu : 0x07u);
            for (int k = 1; k < length; k++) code = code << 6 | (word[k] & 0x3F);
            const bool is_one = (lead >= 0xC2 && lead < 0xF5) && length > 1 && encode(again, code) == length &&
                memcmp(again, word, (size_t)length) == 0;
            CHECK_EQ(length > 0, is_one && !(code >= 0xD800 && code < 0xE000) && code < 0x110000);
        }
}

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

/* All of the first blocks: alone, before a letter, at a text's end, between two. */
TEST(every_control_character_is_shown_wherever_it_stands)
{
    for (unsigned code = 1; code < 0x300; code++) {
        const bool control = code < 0x20 || (code >= 0x7F && code < 0xA0);
        unsigned char p[5];
        char shown[20] = "";
        const int length = encode(p, code);
        for (int i = 0; i < length; i++) sprintf(shown + strlen(shown), control ? "\\x%02x" : "%c", p[i]);
        for (int form = 0; form < 4; form++) {
            char text[16], wanted[24];
            snprintf(text, sizeof text, "%s%s%s", form & 1 ? "a" : "", (const char*)p, form & 2 ? "b" : "");
            snprintf(wanted, sizeof wanted, "%s%s%s", form & 1 ? "a" : "", shown, form & 2 ? "b" : "");
            check_printable(text, wanted);
        }
    }
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
    static const char* const character[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}; /* of 2, 3, 4 bytes */
    for (int shift = 0; shift < 24; shift++) { /* characters stay whole wherever the cut falls */
        char again[sizeof first.text];
        const size_t bytes = (size_t)shift / 8 + 2;
        for (size_t i = 0; i + bytes < sizeof name; i += bytes) memcpy(name + i, character[bytes - 2], bytes + 1);
        first.text[0] = 0;
        error_set(&first, "%.*s%s%.*s", shift % 4, "abc", name, shift / 4 % 2, "d");
        CHECK_STR(printable(again, sizeof again, first.text), first.text);
    }
}

/* Whole up to 639 bytes. Of more, the first 199 and the last 432. */
TEST(an_error_that_does_not_fit_loses_its_middle_alone)
{
    static const int lengths[] = {1, 199, 200, 432, 638, 639, 640, 641, 8190, 8191};
    struct {
        error fault;
        char behind[8];
    } is;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const int length = lengths[i];
        char text[8200], wanted[8200];
        for (int k = 0; k < length; k++) text[k] = (char)('!' + k % 89);
        text[length] = 0;
        is.fault.text[0] = 0;
        memset(is.behind, 7, sizeof is.behind);
        CHECK(!error_set(&is.fault, "%s", text));
        if (length < 640) strcpy(wanted, text);
        else snprintf(wanted, sizeof wanted, "%.199s ... %s", text, text + length - 432);
        CHECK_STR(is.fault.text, wanted);
        for (int k = 0; k < 8; k++) CHECK_EQ(is.behind[k], 7);
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
    static const struct {
        double amount;
        const char* text;
    } of[] = {{1, "1"}, {.5, "0.5"}, {12.345, "12.3"}, {999.4, "999"}, {1000, "1.00 k"}, {9.9949e3, "9.99 k"}, {99700, "99.7 k"},
              {99949, "99.9 k"},
              {999499, "999 k"}, {999500, "1.00 M"}, {1e9, "1.00 G"}, {5.55e12, "5.55 T"}, {1e15, "1.00 P"}, {123e15, "123 P"},
                  {2e18, "2000 P"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) CHECK_STR(progress_amount(text, of[i].amount), of[i].text);
    char bytes[24];
    CHECK_STR(resources_bytes(bytes, 0), "0 B");
    CHECK_STR(resources_bytes(bytes, 999), "999 B");
    CHECK_STR(resources_bytes(bytes, 1000), "1.00 kB");
    CHECK_STR(resources_bytes(bytes, 1615685872), "1.62 GB");
    CHECK_STR(resources_bytes(bytes, INT64_MAX), "9223 PB");
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
    check_time(9.91, "9.9 s");
    check_time(9.96, "10 s");
    check_time(59, "59 s");
    check_time(59.6, "1:00");
    check_time(75, "1:15");
    check_time(3599, "59:59");
    check_time(3599.6, "1:00:00");
    check_time(2 * 3600 + 3 * 60 + 4, "2:03:04");
}

/* Of a step that began so long ago that no wait changes a digit. */
TEST(what_was_done_is_said_with_its_unit_and_rate)
{
    static const struct {
        const char* unit;
        int64_t done;
        const char* said;
    } of[] = {{"edges", 5120000, "reading: 5.12 M edges in 277:46:40 (5.12 edges/s)\n"},
              {"edges", 512, "reading: 512 edges in 277:46:40 (0.000512 edges/s)\n"},
              {"B", 60000000000, "reading: 60.0 GB in 277:46:40 (60.0 kB/s)\n"},
              {"B", 0, "reading: 0 B in 277:46:40 (0 B/s)\n"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[256];
        progress p;
        progress_begin(&p, "reading", of[i].unit, 0);
        p.start -= 1e6;
        catch_errors();
        progress_end(&p, of[i].done, true);
        errors_as_text(text);
        CHECK_STR(text, of[i].said);
    }
}

/* Judged where two looks at the clock are near enough to each other. */
TEST(a_bar_is_drawn_at_most_ten_times_a_second)
{
    for (int late = 0; late < 2; late++)
        for (int tries = 0; tries < 100; tries++) {
            progress p = {.terminal = true, .drawn = progress_seconds() - (late ? .101 : .09)};
            const double before = progress_seconds();
            const bool due = progress_is_due(&p);
            if (progress_seconds() - p.drawn > (late ? .11 : .0999)) continue;
            CHECK(before >= p.drawn && due == (late == 1));
            break;
        }
}

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

TEST(pieces_are_whole_in_order_and_almost_equal)
{
    static const int64_t many[] = {0, 1, 5, 64, 65, 1000, (int64_t)1 << 62};
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        for (int64_t pieces = 1; pieces <= 256; pieces += pieces < 8 ? 1 : 31) {
            const int64_t n = many[i], least = n / pieces;
            CHECK(parallel_begin(n, 0, pieces) == 0 && parallel_begin(n, pieces, pieces) == n);
            for (int64_t k = 0; k < pieces; k++)
                CHECK_EQ(parallel_begin(n, k + 1, pieces) - parallel_begin(n, k, pieces), least + (k < n % pieces));
        }
    CHECK(parallel_pieces(0, 10) == 1 && parallel_pieces(19, 10) == 1 && parallel_pieces(20, 10) == 2 && parallel_pieces(2559, 10) == 255);
    CHECK(parallel_pieces(2560, 10) == 256 && parallel_pieces(2570, 10) == 256 && parallel_pieces((int64_t)1 << 62, 1) == 256);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

TEST(an_input_is_a_file_and_nothing_else)
{
    char path[600], gone[600], words[700], text[8];
    int64_t bytes = -1;
    error refused = {""};
    write_file(folder_path(path, "input"), "12345", 5);
    FILE* in = input_stream(path, &bytes, &refused);
    CHECK(in && bytes == 5 && fread(text, 1, 8, in) == 5 && memcmp(text, "12345", 5) == 0);
    if (in) fclose(in);
    CHECK_EQ(truncate(path, (off_t)5 << 30), 0); /* a hole: it takes no room */
    const int large = input_open(path, &bytes, &refused);
    CHECK(large >= 0 && bytes == INT64_C(5) << 30);
    close(large);
    CHECK_EQ(truncate(path, 5), 0);
    bytes = 5;
    const char* const wrong[][2] = {{folder, "is a folder, a file is needed"},
                                    {"/dev/null", "is a device or a socket, a file is needed"},
                                    {folder_path(gone, "gone"), "No such file or directory"},
                                    {strcat(path, "/x"), "Not a directory"}};
    const int open_before = open_descriptors();
    for (int i = 0; i < 4; i++) {
        refused.text[0] = 0;
        CHECK(input_stream(wrong[i][0], &bytes, &refused) == NULL);
        snprintf(words, sizeof words, "%s: %s", wrong[i][0], wrong[i][1]);
        CHECK_STR(refused.text, words);
        CHECK_EQ(bytes, 5);
    }
    CHECK_EQ(open_descriptors(), open_before);
}

TEST(names_are_the_same_only_where_their_files_are)
{
    char made[600], again[600], gone[600], loop[600], line[700];
    error fault = {""};
    write_file(folder_path(made, "there"), "x", 1);
    CHECK_EQ(link(made, folder_path(again, "hard")), 0);
    CHECK(same_file(made, again) && same_file(again, made) && same_file(made, made));
    folder_path(gone, "not there");
    CHECK(same_file(gone, gone) && !same_file(gone, made) && !same_file(made, gone));
    CHECK(!same_file(NULL, made) && !same_file(made, NULL) && !same_file(NULL, NULL));
    CHECK_EQ(symlink("loop", folder_path(loop, "loop")), 0);
    CHECK(!same_file(loop, loop)); /* nothing can be written there */
    CHECK(same_file("/not there", "//not there") && same_file("/./not there", "/not there") && !same_file("/not there", "/nor there"));
    CHECK(same_file("not there", "./not there") && !same_file("/no folder/x", "/no folder/x"));
    const file_read read[] = {{NULL, "nothing"}, {gone, "what is gone"}, {again, "the data"}};
    CHECK(same_file_as_none("--log", NULL, read, 3, &fault) && same_file_as_none("--log", loop, read, 3, &fault));
    CHECK(same_file_as_none("--log", made, read, 2, &fault) && !fault.text[0]);
    CHECK(!same_file_as_none("--log", made, read, 3, &fault));
    snprintf(line, sizeof line, "--log %s: that is the data", made);
    CHECK_STR(fault.text, line);
}

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

/* A chain of links is followed as far as writing to it would follow it. */
TEST(links_are_followed_as_far_as_the_system_does)
{
    enum { MOST = 42 };
    char here[PATH_MAX], link[2][40], name[40];
    const int before = open(".", O_RDONLY);
    CHECK(realpath(folder, here) != NULL && chdir(here) == 0);
    for (int i = 1; i <= MOST; i++) { /* of i links to what is not there */
        snprintf(link[0], sizeof link[0], "chain%d", i);
        snprintf(name, sizeof name, i == 1 ? "end" : "chain%d", i - 1);
        CHECK_EQ(symlink(name, link[0]), 0);
    }
    for (int i = 1; i <= MOST; i++) {
        snprintf(link[0], sizeof link[0], "chain%d", i);
        snprintf(link[1], sizeof link[1], "./chain%d", i);
        const int fd = open(link[0], O_WRONLY | O_CREAT, 0600);
        if (fd >= 0) close(fd);
        if (fd >= 0) CHECK_EQ(unlink("end"), 0);
        CHECK_EQ(same_file(link[0], "end"), fd >= 0);
        CHECK_EQ(same_file(link[0], link[1]), fd >= 0);
    }
    CHECK_EQ(fchdir(before), 0);
    close(before);
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

/* What is drawn of a step that began ten seconds ago, on a terminal that does not say how wide it is: 80 columns. */
static void check_drawn(int64_t total, int64_t done, const char* unit, const char* note, const char* wanted)
{
    char text[2048];
    int master = posix_openpt(O_RDWR | O_NOCTTY), keep = dup(STDERR_FILENO), slave;
    size_t length = 0;
    progress p;
    CHECK(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    fflush(stderr);
    dup2(slave, STDERR_FILENO);
    memset(&p, 'x', sizeof p); /* what another step left */
    progress_begin(&p, "reading", unit, total);
    CHECK(!progress_is_due(&p));
    p.start -= 1e6; /* so long that no wait changes a digit */
    p.drawn -= 1;
    CHECK(progress_is_due(&p));
    if (note[0]) progress_note(&p, "%s", note);
    progress_update(&p, done);
    CHECK(!progress_is_due(&p));
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    close(slave);
    while (length < sizeof text - 1 && read(master, text + length, 1) == 1) length++;
    close(master);
    text[length] = 0;
    CHECK_STR(text, wanted);
}

TEST(a_bar_has_an_end_and_without_a_total_there_is_none)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0) SKIP("no pseudo-terminal");
    close(master);
    check_drawn(1000000, 0, "edges", "", "\rreading  0 edges  0 edges/s  \033[K");
    check_drawn(4000000, 3000000, "e", "n", "\rreading [##################------]  75%  3.00 M e  3 e/s  92:35:33 left  n\033[K");
    check_drawn(4000000, 4000000, "edges", "n", "\rreading [########################] 100%  4.00 M edges  4 edges/s  0.0 s left  n\033[K");
    check_drawn(4000000, 8000000, "B", "n", "\rreading [########################] 200%  8.00 MB  8 B/s  0.0 s left  n\033[K");
    check_drawn(0, 8000000, "B", "loss 3", "\rreading  8.00 MB  8 B/s  loss 3\033[K");
    check_drawn(0, 0, "B", "0123456789012345678901234567890123456789012345678901234567890123456789",
                "\rreading  0 B  0 B/s  0123456789012345678901234567890123456789012345678901234567\033[K");
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
    RUN(an_option_is_given_whatever_its_kind_and_value);
    RUN(the_last_of_repeated_options_counts_whatever_its_kind);
    RUN(two_dashes_end_the_options_once);
    RUN(options_that_a_dash_may_mean_are_named_whole);
    RUN(names_that_a_dash_may_mean_fill_their_line_to_its_end);
    RUN(wrong_numbers_of_arguments_are_said);
    RUN(amounts_of_bytes_have_suffixes_and_fractions);
    RUN(numbers_are_taken_up_to_both_ends_of_their_range);
    RUN(values_of_a_list_are_told_from_one_another);
    RUN(names_that_are_near_enough_are_meant);
    RUN(help_is_a_table_of_two_columns);
    RUN(help_cuts_a_default_that_is_too_long);
    RUN(help_lists_every_option_with_its_default);
    RUN(json_is_written_on_a_line_or_indented);
    RUN(json_numbers_read_back_equal_and_are_short);
    RUN(json_nests_arrays_and_objects_in_each_other);
    RUN(json_nests_up_to_its_depth);
    RUN(json_escapes_what_a_string_may_not_hold);
    RUN(json_reals_have_as_many_digits_as_they_need);
    RUN(utf8_is_every_code_point_and_nothing_else);
    RUN(printable_text_shows_control_characters_and_bytes_that_are_not_utf8);
    RUN(every_control_character_is_shown_wherever_it_stands);
    RUN(printable_text_is_cut_between_characters);
    RUN(errors_are_printable_and_keep_the_first_cause);
    RUN(an_error_that_does_not_fit_loses_its_middle_alone);
    RUN(amounts_have_three_digits_and_a_prefix);
    RUN(a_time_is_seconds_minutes_or_hours);
    RUN(what_was_done_is_said_with_its_unit_and_rate);
    RUN(a_bar_is_drawn_at_most_ten_times_a_second);
    RUN(pieces_are_whole_in_order_and_almost_equal);
    RUN(an_input_is_a_file_and_nothing_else);
    RUN(names_are_the_same_only_where_their_files_are);
    RUN(an_input_that_is_a_pipe_is_refused_at_once);
    RUN(names_of_one_new_file_are_the_same_by_links_too);
    RUN(links_are_followed_as_far_as_the_system_does);
    RUN(a_word_with_two_letters_swapped_is_known);
    RUN(files_of_one_number_on_two_file_systems_are_two_files);
    RUN(progress_elsewhere_than_on_a_terminal_is_one_line_at_most);
    RUN(progress_on_a_terminal_is_a_bar_that_fits);
    RUN(a_bar_has_an_end_and_without_a_total_there_is_none);
    folder_remove();
    return test_finish();
}
