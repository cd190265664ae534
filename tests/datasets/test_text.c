/* The tokenizer of all text formats, and the stream under it. */
#include <unistd.h>

#include "datasets/json_stream.h"
#include "datasets/text.h"
#include "tests/archive.h"
#include "tests/folder.h"
#include "tests/test.h"

typedef struct {
    source* in;
    text t;
    error why;
} reader;

static void open_bytes(reader* r, const void* data, size_t size, const char* comments)
{
    char path[600];
    memset(r, 0, sizeof *r);
    write_file(folder_path(path, "text"), data, size);
    r->in = source_open(path, &r->why);
    if (r->in) text_open(&r->t, r->in, comments, &r->why);
}
static void open_string(reader* r, const char* string) { open_bytes(r, string, strlen(string), "#%"); }
static void close_reader(reader* r)
{
    text_close(&r->t);
    source_close(r->in);
}

/* What an attempt to read one integer (or real) from a string says; "" where it succeeds. */
static const char* int_error(const char* string, int64_t* value)
{
    static char message[640];
    reader r;
    open_string(&r, string);
    if (text_next_line(&r.t, &r.why) == 1) text_int(&r.t, value, &r.why);
    snprintf(message, sizeof message, "%s", r.why.text);
    close_reader(&r);
    return message;
}
static const char* real_error(const char* string, double* value)
{
    static char message[640];
    reader r;
    open_string(&r, string);
    if (text_next_line(&r.t, &r.why) == 1) text_real(&r.t, value, &r.why);
    snprintf(message, sizeof message, "%s", r.why.text);
    close_reader(&r);
    return message;
}

TEST(lines_and_fields_separate_by_blanks_tabs_and_commas)
{
    static const char* const same[] = {"1,2,3\n4,5,6\n", "1 2 3\n4 5 6", "1\t2\t3\r\n4\t5\t6\r\n",
                                       "  1 , 2,\t3  \n\n# 7 8 9\n 4 5 6\n%", "\357\273\2771,2,3\n\r\n   \n4,5,6\n"};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++) {
        reader r;
        int64_t value = 0;
        open_string(&r, same[k]);
        for (int64_t line = 0; line < 2; line++) {
            CHECK_EQ(text_next_line(&r.t, &r.why), 1);
            for (int64_t i = 1; i <= 3; i++) {
                CHECK(text_more(&r.t, &r.why));
                CHECK(text_int(&r.t, &value, &r.why));
                CHECK_EQ(value, line * 3 + i);
            }
            CHECK(!text_more(&r.t, &r.why));
        }
        CHECK_EQ(text_next_line(&r.t, &r.why), 0);
        CHECK_STR(r.why.text, "");
        close_reader(&r);
    }
}

TEST(integers_keep_64_bits_and_refuse_one_more)
{
    int64_t v = 0;
    CHECK_STR(int_error("9223372036854775807", &v), "");
    CHECK_EQ(v, INT64_MAX);
    CHECK_STR(int_error("-9223372036854775807\n", &v), "");
    CHECK_EQ(v, -INT64_MAX);
    CHECK_STR(int_error("+12", &v), "");
    CHECK_EQ(v, 12);
    CHECK(strstr(int_error("9223372036854775808", &v),
                 "line 1, byte 1: does not fit 64 bits: \"9223372036854775808\""));
    CHECK(strstr(int_error("99999999999999999999999", &v), "does not fit 64 bits"));
    CHECK(strstr(int_error("18446744073709551617", &v), "does not fit 64 bits")); /* 2^64 + 1 */
    CHECK(strstr(int_error("-9223372036854775808", &v), "does not fit 64 bits: \"-9223372036854775808\""));
    CHECK(strstr(int_error("\357\273\277x", &v), "line 1, byte 4: no number: \"x\"")); /* the mark takes three */
    CHECK(strstr(int_error("# c\n\n  1.5", &v), "line 3, byte 3: no integer: \"1.5\""));
    CHECK(strstr(int_error("1e3", &v), "no integer"));
    CHECK(strstr(int_error("12x", &v), "no number"));
    CHECK(strstr(int_error("-", &v), "no number"));
    CHECK(strstr(int_error(",1", &v), "an empty field"));
    CHECK(strstr(int_error("nan", &v), "no number"));
}

/* Decimal text is rounded once, as strtod does, whichever way it takes. */
TEST(reals_equal_strtod_to_the_bit)
{
    double v = 0;
    test_seed(5);
    for (int i = 0; i < 3000; i++) {
        char digits[64];
        double exact = ldexp((double)(int64_t)test_random(), (int)test_below(120) - 100);
        snprintf(digits, sizeof digits,
                 i % 4 == 0   ? "%.17g"
                 : i % 4 == 1 ? "%.6f"
                 : i % 4 == 2 ? "%.3e"
                              : "%g",
                 exact);
        CHECK_STR(real_error(digits, &v), "");
        exact = strtod(digits, NULL);
        if (!CHECK(memcmp(&exact, &v, sizeof v) == 0)) printf("    %s\n", digits);
    }
    static const char* const special[] = {"0",
                                          "-0",
                                          ".5",
                                          "5.",
                                          "1e22",
                                          "1e23",
                                          "9007199254740993",
                                          "9007199254740993e-3",
                                          "4.9e-324",
                                          "123456789012345678901234567890",
                                          "1e400",
                                          "1e4294967297",
                                          "1e-4294967297",
                                          "-1e-400",
                                          "inf",
                                          "-Infinity",
                                          "+INF",
                                          "+1.5",
                                          "1E5",
                                          "-2.5E-3",
                                          "+.5E+2",
                                          "00000000000000000000001",
                                          "9007199254740992",
                                          "9223372036854775807",
                                          "18446744073709551616",
                                          "1e-22",
                                          "1e-23",
                                          "0e999"};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        double exact = strtod(special[i], NULL);
        CHECK_STR(real_error(special[i], &v), "");
        if (!CHECK(memcmp(&exact, &v, sizeof v) == 0)) printf("    %s\n", special[i]);
    }
    CHECK_STR(real_error("nan", &v), "");
    CHECK(isnan(v));
}

TEST(reals_refuse_what_is_no_decimal_number)
{
    static const char* const bad[] = {"0x10", "-0x1p3", "1e", "1e+",   "e5",    "--1",  "1.2.3",
                                      "\v5",  "five",   ".",  "1_000", "\"1\"", "\f\n7", "0X10", "+0X1P3",
                                      "nan(1)", "-NAN()"};
    double v = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (!CHECK(strstr(real_error(bad[i], &v), "no number")))
            printf("    %s: %s\n", bad[i], real_error(bad[i], &v));
}

TEST(fields_are_bounded)
{
    char digits[TEXT_FIELD_MAX + 20];
    double v = 0;
    for (int n = TEXT_FIELD_MAX - 2; n <= TEXT_FIELD_MAX + 10; n++) {
        memset(digits, '0', sizeof digits);
        digits[0] = '1';
        digits[1] = '.';
        digits[n] = 0;
        CHECK_EQ(*real_error(digits, &v) == 0, n <= TEXT_FIELD_MAX);
        reader r;
        memset(digits, '0', (size_t)n);
        open_string(&r, digits);
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        CHECK_EQ(text_skip(&r.t, &r.why), n <= TEXT_FIELD_MAX);
        CHECK(n <= TEXT_FIELD_MAX || strstr(r.why.text, "line 1, byte 1: too long: \"0000"));
        close_reader(&r);
        open_string(&r, digits);
        int64_t whole = 1;
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        CHECK_EQ(text_int(&r.t, &whole, &r.why), n <= TEXT_FIELD_MAX);
        CHECK(n <= TEXT_FIELD_MAX || strstr(r.why.text, "line 1, byte 1: too long for a number: \"0000"));
        close_reader(&r);
    }
}

/* Of a field that is wrong 40 bytes are shown, up to a comma or the line's end; what no terminal shows is '?'. */
TEST(an_error_shows_the_beginning_of_its_field)
{
    static const struct {
        const char *line, *shown;
    } of[] = {{"x", "\"x\""},
              {"x,y", "\"x\""},
              {"x y\n", "\"x y\""},
              {"x\r\n", "\"x\""},
              {"\001\177\200x", "\"???x\""},
              {"~ !", "\"~ !\""},
              {"abcdefghijabcdefghijabcdefghijabcdefghij", "\"abcdefghijabcdefghijabcdefghijabcdefghij\""},
              {"abcdefghijabcdefghijabcdefghijabcdefghijX", "\"abcdefghijabcdefghijabcdefghijabcdefghij\""}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int64_t v;
        char words[100];
        snprintf(words, sizeof words, ": line 1, byte 1: no number: %s", of[k].shown);
        const char* said = int_error(of[k].line, &v);
        if (!CHECK(strlen(said) > strlen(words) && strcmp(said + strlen(said) - strlen(words), words) == 0)) printf("    %s\n", said);
    }
}

/* A zero byte begins no comment, and ends no line. */
TEST(a_byte_of_zero_is_text_as_any_other)
{
    static const char lines[] = "1 2\n\0 3 4\n5\0006\n";
    reader r;
    int64_t v;
    open_bytes(&r, lines, sizeof lines - 1, "#%");
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    CHECK_EQ(r.t.line, 2);
    CHECK(!text_int(&r.t, &v, &r.why) && strstr(r.why.text, "line 2, byte 1: no number: \"? 3 4\""));
    r.why.text[0] = 0;
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    CHECK(!text_int(&r.t, &v, &r.why) && strstr(r.why.text, "line 3, byte 1: no number: \"5?6\""));
    close_reader(&r);
}

/* A comma that ends the last field of a line takes none of the next one's. */
TEST(every_line_begins_anew)
{
    reader r;
    int64_t v = 0;
    open_string(&r, "1,2\n,3\n4,\n,5");
    for (int line = 0; line < 4; line++) {
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        if (line % 2 == 0) CHECK(text_int(&r.t, &v, &r.why) && v == (line ? 4 : 1));
        if (line == 0) CHECK(text_int(&r.t, &v, &r.why) && v == 2 && !text_more(&r.t, &r.why));
        if (line == 2) CHECK(text_more(&r.t, &r.why));
        if (line == 0) continue;
        CHECK(!text_int(&r.t, &v, &r.why));
        CHECK(strstr(r.why.text, line == 1 ? "line 2, byte 1: an empty field" : line == 2 ? "line 3, byte 3: the line ends" : "line 4, byte 1: an empty field"));
        r.why.text[0] = 0;
    }
    close_reader(&r);
}

/* The first comment is that of line 1 alone, cut to the room there is; the line is read as a comment after it. */
TEST(the_first_comment_is_that_of_line_1)
{
    static const struct {
        const char *text, *comment;
        int64_t line; /* of the first field */
    } of[] = {{"# abc\n1\n", "# abc", 2}, {"%abc\r\n\n1\n", "%abc", 3}, {"1 # abc\n", "", 1},       {"\n# abc\n1\n", "", 3}, {" # abc\n1\n", "", 2},
              {"\357\273\277#x\n1", "#x", 2}, {"\357\273\2771\n", "", 1},     {"#0123456789\n1", "#0123456", 2}, {"#\n1", "#", 2}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        reader r;
        char head[9] = "before";
        int64_t v = 0;
        open_string(&r, of[k].text);
        CHECK(text_first_comment(&r.t, head, sizeof head, &r.why));
        CHECK_STR(head, of[k].comment);
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        CHECK(text_int(&r.t, &v, &r.why) && v == 1);
        CHECK_EQ(r.t.line, of[k].line);
        close_reader(&r);
    }
}

TEST(words_are_told_from_numbers)
{
    static const char* const number[] = {"0", "9", "-1", "+2", ".5", "-.5", ",1", "-", "5x"};
    static const char* const word[] = {"a", "_", "\"1\"", "-a", "+x", "nan", "Z", "\200"};
    for (size_t k = 0; k < sizeof number / sizeof *number + sizeof word / sizeof *word; k++) {
        const bool is = k >= sizeof number / sizeof *number;
        reader r;
        open_string(&r, is ? word[k - sizeof number / sizeof *number] : number[k]);
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        if (!CHECK_EQ(text_is_word(&r.t, &r.why), is)) printf("    %zu\n", k);
        close_reader(&r);
    }
}

/* Lines of every length around the buffer's end, and comments longer than the buffer: the numbers must come out
   whole, and an error must name its byte. */
TEST(windows_slide_over_fields_lines_and_comments)
{
    size_t room = 700 << 10;
    char* data = malloc(room);
    int64_t total = 0;
    for (size_t shift = 0; shift < 12; shift++) {
        size_t n = 0;
        data[n++] = '#';
        memset(data + n, 'c', (300u << 10) + shift);
        n += (300u << 10) + shift;
        data[n++] = '\n';
        for (total = 0; n < room - 40; total++)
            n += (size_t)sprintf(data + n, "%lld , %lld\n", (long long)total, (long long)-total);
        n += (size_t)sprintf(data + n, "7 x\n");
        reader r;
        int64_t a = 0, b = 0, seen = 0;
        open_bytes(&r, data, n, "#");
        while (text_next_line(&r.t, &r.why) == 1 && text_int(&r.t, &a, &r.why) && text_int(&r.t, &b, &r.why)) {
            if (a != seen || b != -seen) break;
            seen++;
        }
        CHECK_EQ(seen, total);
        char expected[100];
        snprintf(expected, sizeof expected, "line %lld, byte 3: no number: \"x\"", (long long)total + 2);
        CHECK(strstr(r.why.text, expected));
        close_reader(&r);
    }
    free(data);
}

/* A line of a megabyte: its fields are numbered by bytes from its beginning, which has left the buffer. */
TEST(errors_name_the_byte_of_a_long_line)
{
    size_t size = 1 << 20;
    char* data = malloc(size + 8);
    for (size_t i = 0; i < size; i++) data[i] = i % 2 ? ',' : (char)('0' + i / 2 % 10);
    memcpy(data + size, "x\n", 3);
    reader r;
    int64_t v, seen = 0;
    open_bytes(&r, data, size + 2, "");
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    while (text_int(&r.t, &v, &r.why)) seen += v == seen % 10;
    CHECK_EQ(seen, size / 2);
    CHECK(strstr(r.why.text, "line 1, byte 1048577: no number: \"x\""));
    close_reader(&r);
    free(data);
}

TEST(empty_fields_and_short_lines_are_named)
{
    reader r;
    int64_t v;
    open_string(&r, "1,,2\n3\n");
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    CHECK(text_int(&r.t, &v, &r.why));
    CHECK(!text_int(&r.t, &v, &r.why));
    CHECK(strstr(r.why.text, "line 1, byte 3: an empty field"));
    r.why.text[0] = 0;
    CHECK_EQ(text_next_line(&r.t, &r.why), 1);
    CHECK(text_int(&r.t, &v, &r.why) && v == 3);
    CHECK(!text_int(&r.t, &v, &r.why));
    CHECK(strstr(r.why.text, "line 2, byte 2: the line ends"));
    close_reader(&r);
}

TEST(columns_are_counted_without_reading)
{
    static const struct {
        const char* line;
        int columns;
    } cases[] = {{"1", 1}, {"1 2", 2}, {"1,2,3\n", 3}, {" 1 , 2 \n", 2}, {"1,,2", 3}, {"1 2 3 4 5 6", 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        reader r;
        int columns = 0;
        int64_t v = 0;
        open_string(&r, cases[i].line);
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        CHECK(text_columns(&r.t, 3, &columns, &r.why));
        CHECK_EQ(columns, cases[i].columns);
        CHECK(text_int(&r.t, &v, &r.why) && v == 1);
        close_reader(&r);
    }
}

/* A comment leaves ever less of a line of the longest fields in the buffer of 256 KiB. */
TEST(columns_are_counted_across_the_end_of_the_buffer)
{
    enum { ROOM = 256 << 10, LINE = 3 * (TEXT_FIELD_MAX + 1) };
    static char data[ROOM + LINE];
    for (size_t inside = 0; inside <= LINE; inside += 16) {
        reader r;
        int columns = 0;
        const size_t line = ROOM - inside;
        memset(data, '0', line + LINE);
        data[0] = '#';
        data[line - 1] = '\n';
        for (size_t k = 1; k <= 3; k++) data[line + k * (TEXT_FIELD_MAX + 1) - 1] = k < 3 ? ',' : '\n';
        open_bytes(&r, data, line + LINE, "#");
        CHECK_EQ(text_next_line(&r.t, &r.why), 1);
        CHECK(text_columns(&r.t, 3, &columns, &r.why));
        CHECK_EQ(columns, 3);
        close_reader(&r);
    }
}

/* Blanks of any number, in front of a field, between two, and behind the last; files that end where the buffer of 256 KiB does. */
TEST(blanks_and_ends_may_lie_where_the_buffer_ends)
{
    enum { ROOM = 256 << 10 };
    static char data[2 * ROOM + 64];
    for (int place = 0; place < 3; place++)
        for (int64_t blanks = ROOM - 3; blanks < 2 * ROOM + 3; blanks += blanks % ROOM == 2 ? ROOM - 5 : 1) {
            size_t n = 0;
            reader r;
            int64_t a = 0, b = 0, c = 0;
            for (int k = 0; k < 3; k++) {
                if (k == place) memset(data + n, k == 1 ? '\t' : ' ', (size_t)blanks), n += (size_t)blanks;
                if (k < 2) n += (size_t)sprintf(data + n, k ? "22" : "1 ");
            }
            n += (size_t)sprintf(data + n, "\n333");
            open_bytes(&r, data, n, "#");
            CHECK_EQ(text_next_line(&r.t, &r.why), 1);
            CHECK(text_int(&r.t, &a, &r.why) && text_more(&r.t, &r.why) && text_int(&r.t, &b, &r.why) && !text_more(&r.t, &r.why));
            CHECK_EQ(text_next_line(&r.t, &r.why), 1);
            CHECK(text_int(&r.t, &c, &r.why));
            CHECK_EQ(text_next_line(&r.t, &r.why), 0);
            CHECK(a == 1 && b == 22 && c == 333 && r.t.line == 2);
            close_reader(&r);
        }
    for (size_t size = ROOM - 3; size <= ROOM + 3; size++) { /* the last number has its last digit there */
        reader r;
        int64_t value = 0, seen = 0, sum = 0;
        for (size_t i = 0; i < size; i++) data[i] = i % 8 == 7 ? '\n' : '1';
        open_bytes(&r, data, size, "#");
        for (; text_next_line(&r.t, &r.why) == 1 && text_int(&r.t, &value, &r.why); seen++) sum += value;
        CHECK_EQ(seen, (size + 7) / 8);
        int64_t last = 0;
        for (size_t i = size / 8 * 8; i < size; i++) last = 10 * last + 1;
        CHECK_EQ(sum, (int64_t)(size / 8) * 1111111 + last);
        CHECK_STR(r.why.text, "");
        close_reader(&r);
    }
}

#ifdef HAVE_ZLIB
/* The bytes that a file, or the same file gzipped in one or two streams, gives. */
static void check_unpacks(const bytes* packed, const uint8_t* data, size_t size)
{
    char path[600];
    error why = {""};
    uint8_t* out = malloc(size + 1);
    write_file(folder_path(path, "packed"), packed->data, packed->size);
    source* s = source_open(path, &why);
    int64_t got = s ? source_read(s, out, (int64_t)size + 1, &why) : -1;
    CHECK_EQ(got, size);
    CHECK(got == (int64_t)size && memcmp(out, data, size) == 0);
    CHECK_STR(why.text, "");
    source_close(s);
    free(out);
}
#endif

TEST(gzip_streams_follow_one_another_and_truncation_is_found)
{
#ifndef HAVE_ZLIB
    char path[600];
    error why = {""};
    write_file(folder_path(path, "packed"), "\x1f\x8b\x08", 3);
    CHECK(!source_open(path, &why));
    CHECK(strstr(why.text, "zlib"));
#else
    static uint8_t data[70000];
    test_seed(6);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)("0123456789\n"[test_below(11)]);
    bytes one = gzip_bytes(data, sizeof data), two = gzip_bytes(data, 1000),
          rest = gzip_bytes(data + 1000, sizeof data - 1000);
    put(&two, rest.data, rest.size);
    check_unpacks(&one, data, sizeof data);
    check_unpacks(&two, data, sizeof data);
    put_number(&two, 0, 8);
    check_unpacks(&two, data, sizeof data); /* zeros behind it are padding */
    for (size_t cut = 0; cut < one.size; cut += cut < 40 || cut > one.size - 40 ? 1 : 997) {
        char path[600];
        error why = {""};
        write_file(folder_path(path, "packed"), one.data, cut);
        source* s = source_open(path, &why);
        uint8_t* out = malloc(sizeof data);
        int64_t got = s ? source_read(s, out, sizeof data, &why) : -1;
        if (cut >= 2) CHECK(got == -1 && strstr(why.text, "packed: compressed data"));
        source_close(s);
        free(out);
    }
    drop(&one);
    drop(&two);
    drop(&rest);
#endif
}

#ifdef HAVE_ZLIB
/* Each stream ends somewhere else in the reader's 64 KiB, and headers lie across its ends. What is no stream behind one is damage. */
TEST(thousands_of_gzip_streams_are_one)
{
    static uint8_t data[5000];
    bytes all = {0};
    for (size_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)('a' + i % 26);
        bytes one = gzip_bytes(&data[i], 1);
        put(&all, one.data, one.size);
        drop(&one);
    }
    CHECK(all.size > 96 << 10);
    check_unpacks(&all, data, sizeof data);
    const size_t whole = all.size;
    for (int k = 0; k < 3; k++) { /* zeros that fill the buffer; no zero; zeros and more */
        all.size = whole;
        for (int i = 0; k != 1 && i < 70000; i++) put(&all, "", 1);
        if (k) put(&all, "rest", 4);
        if (k == 0) check_unpacks(&all, data, sizeof data);
        if (k == 0) continue;
        char path[600];
        error why = {""};
        uint8_t out[sizeof data + 1];
        write_file(folder_path(path, "packed"), all.data, all.size);
        source* s = source_open(path, &why);
        CHECK_EQ(source_read(s, out, sizeof out, &why), -1);
        CHECK(strstr(why.text, "packed: compressed data damaged near byte"));
        source_close(s);
    }
    drop(&all);
}
#endif

/* What was there when the file was opened, and is not when it is read; and parts that never were. */
TEST(a_file_that_became_shorter_is_an_error_at_its_end)
{
    enum { SIZE = 200000 };
    static char data[SIZE], out[SIZE];
    char path[600];
    source_part part = {path, "inside", 1000, 5000, 5000, SOURCE_STORED, 0};
    static const int64_t wrong[][2] = {{-1, 10}, {0, -1}, {SIZE + 1, 0}, {SIZE - 10, 11}, {0, SIZE + 1}, {1, INT64_MAX}};
    error why = {""};
    for (int k = 0; k < SIZE; k++) data[k] = (char)('a' + k % 26);
    write_file(folder_path(path, "shorter"), data, SIZE);
    source* s = source_open(path, &why);
    CHECK(s && source_length(s) == SIZE && source_total(s) == SIZE && source_taken(s) == 0);
    CHECK(source_read_all(s, out, 100, "the test", &why) && memcmp(out, data, 100) == 0);
    CHECK(truncate(path, 150000) == 0);
    CHECK_EQ(source_read(s, out, SIZE, &why), -1);
    CHECK(strstr(why.text, "/shorter: file ends at byte 150000, 200000 expected"));
    source_close(s);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        write_file(path, data, SIZE);
        part.offset = wrong[k][0];
        part.packed_bytes = part.bytes = wrong[k][1];
        why.text[0] = 0;
        CHECK(!source_open_part(&part, &why) && strstr(why.text, "/shorter: member inside: file is shorter than its members"));
    }
    static const int64_t right[][2] = {{SIZE, 0}, {0, SIZE}, {SIZE - 10, 10}};
    for (size_t k = 0; k < sizeof right / sizeof *right; k++) {
        part.offset = right[k][0];
        part.packed_bytes = part.bytes = right[k][1];
        part.crc = crc32_more(0, data + part.offset, (size_t)part.bytes);
        why.text[0] = 0;
        s = source_open_part(&part, &why);
        if (!CHECK(s != NULL)) continue;
        CHECK(source_taken(s) == 0 && source_read_all(s, out, part.bytes, "the part", &why) && source_at_end(s, "the part", &why));
        CHECK(memcmp(out, data + part.offset, (size_t)part.bytes) == 0 && source_taken(s) == part.bytes);
        source_close(s);
    }
    why.text[0] = 0;
    CHECK(source_peek(path, SIZE - 4, out, 4, "the last", &why) && memcmp(out, data + SIZE - 4, 4) == 0);
    CHECK(!source_peek(path, SIZE - 4, out, 5, "the last", &why));
    CHECK(strstr(why.text, "/shorter: file ends inside the last, at byte 200000"));
    why.text[0] = 0;
    CHECK_EQ(source_file_bytes(path, &why), SIZE);
    s = source_open(path, &why);
    CHECK(source_read_all(s, out, SIZE - 5, "the most", &why) && !source_at_end(s, "the most", &why) && strstr(why.text, "/shorter: more bytes after the most"));
    why.text[0] = 0;
    CHECK(!source_read_all(s, out, 9, "the rest", &why) && strstr(why.text, "/shorter: ends inside the rest: 4 bytes of 9"));
    why.text[0] = 0;
    CHECK(source_at_end(s, "all", &why) && source_taken(s) == SIZE);
    source_close(s);
}

/* A stored part is read within its bounds, and its CRC is that of all of it, however it is read. */
TEST(a_part_is_read_to_its_end_whatever_is_asked_for_at_a_time)
{
    enum { SIZE = 150000, AT = 777, BYTES = 140000 };
    static char data[SIZE], out[BYTES + 1];
    static const int64_t step[] = {1, 1000, 32767, 32768, 32769, 65536, BYTES - 1, BYTES, BYTES + 1};
    char path[600];
    test_seed(7);
    for (int k = 0; k < SIZE; k++) data[k] = (char)test_random();
    write_file(folder_path(path, "parts"), data, SIZE);
    for (size_t k = 0; k < 3 * sizeof step / sizeof *step; k++) { /* good, a CRC that differs, a length that does */
        error why = {""};
        source_part part = {path, "inside", AT, BYTES, BYTES, SOURCE_STORED, crc32_more(0, data + AT, BYTES) ^ (k % 3 == 1)};
        int64_t done = 0, got = 0;
        if (k % 3 == 2) part.bytes = BYTES + 1;
        source* s = source_open_part(&part, &why);
        if (!CHECK(s && source_length(s) == part.bytes && source_total(s) == BYTES)) continue;
        CHECK_STR(source_name(s) + strlen(source_name(s)) - 21, "/parts: member inside");
        while ((got = source_read(s, out + done, step[k / 3] < BYTES + 1 - done ? step[k / 3] : BYTES + 1 - done, &why)) > 0) done += got;
        CHECK_EQ(got, k % 3 ? -1 : 0);
        if (k % 3 == 0) CHECK(done == BYTES && memcmp(out, data + AT, BYTES) == 0 && !why.text[0]);
        if (k % 3 == 1) CHECK(strstr(why.text, "/parts: member inside: CRC-32 is ") && strstr(why.text, ": damaged data"));
        if (k % 3 == 2) CHECK(strstr(why.text, "/parts: member inside: holds 140000 bytes, the archive declares 140001"));
        source_close(s);
    }
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

static bool open_json(json_stream* j, const void* data, size_t size, error* why)
{
    char path[600];
    write_file(folder_path(path, "text.json"), data, size);
    return json_stream_open(j, path, why);
}

/* What an attempt to read [NUMBER] says; "" where it succeeds. */
static const char* number_error(const char* number, int64_t* value)
{
    static char message[640];
    char whole[400];
    json_stream j;
    error why = {""};
    int length = snprintf(whole, sizeof whole, "[%s]", number);
    if (open_json(&j, whole, (size_t)length, &why) && json_stream_begin(&j, '[', &why) && json_stream_element(&j, &why) == 1 &&
        json_stream_int(&j, value, &why) && json_stream_element(&j, &why) == 0)
        json_stream_end(&j, &why);
    json_stream_close(&j);
    snprintf(message, sizeof message, "%s", why.text);
    return message;
}

TEST(whole_numbers_of_json_keep_64_bits_and_its_grammar)
{
    static const struct {
        const char *text, *message; /* NULL: value */
        int64_t value;
    } of[] = {{"0", NULL, 0}, {"-0", NULL, 0}, {"7", NULL, 7}, {"-10", NULL, -10}, {"\t 3 \r\n", NULL, 3},
              {"9223372036854775807", NULL, INT64_MAX}, {"-9223372036854775807", NULL, -INT64_MAX},
              {"9223372036854775808", "byte 2: does not fit 64 bits: \"9223372036854775808]\"", 0}, {"-9223372036854775808", "does not fit 64 bits", 0},
              {"00", "no number of JSON: it begins with 0: \"00]\"", 0}, {"-01", "it begins with 0: \"-01]\"", 0}, {"0x1", "no number: \"0x1]\"", 0},
              {"1.0", "no whole number: \"1.0]\"", 0}, {"1e3", "no whole number", 0}, {"1E3", "no whole number", 0}, {"-", "a whole number is expected: \"-]\"", 0},
              {"+1", "a whole number is expected: \"+1]\"", 0}, {".5", "a whole number is expected", 0}, {"NaN", "a whole number is expected: \"NaN]\"", 0},
              {"Infinity", "a whole number is expected", 0}, {"true", "a whole number is expected", 0}, {"--1", "a whole number is expected", 0},
              {"1_0", "no number: \"1_0]\"", 0}, {"1\"", "no number", 0}, {"1}", "',' or ']' is expected: \"}]\"", 0}, {"1 2", "byte 4: ',' or ']' is expected: \"2]\"", 0},
              {",1", "a whole number is expected", 0}, {"1]", "byte 4: more behind the end of the JSON text: \"]\"", 0}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        int64_t value = -77;
        const char* message = number_error(of[k].text, &value);
        if (!CHECK(of[k].message ? strstr(message, of[k].message) != NULL : !message[0] && value == of[k].value)) printf("    %s: %s\n", of[k].text, message);
    }
    char zeros[300];
    memset(zeros, '0', 299);
    zeros[299] = 0;
    int64_t value;
    CHECK(strstr(number_error(zeros, &value), "it begins with 0"));
}

/* What an attempt to read {KEY: 5} says, the key into found; "" where it succeeds. */
static const char* key_error(const char* written, char found[JSON_STREAM_KEY + 4])
{
    static char message[640];
    char whole[600];
    json_stream j;
    error why = {""};
    int64_t value = 0;
    int length = snprintf(whole, sizeof whole, "{%s: 5}", written);
    if (open_json(&j, whole, (size_t)length, &why) && json_stream_begin(&j, '{', &why) && json_stream_key(&j, found, &why) == 1 &&
        json_stream_peek(&j, &why) == '5' && json_stream_int(&j, &value, &why) && json_stream_key(&j, (char[JSON_STREAM_KEY + 4]){0}, &why) == 0)
        json_stream_end(&j, &why);
    json_stream_close(&j);
    CHECK_EQ(value, why.text[0] ? 0 : 5);
    snprintf(message, sizeof message, "%s", why.text);
    return message;
}

TEST(keys_of_json_have_escapes_and_utf8)
{
    static const struct {
        const char *written, *key, *message;
    } of[] = {{"\"\"", "", NULL}, {"\"tr\"", "tr", NULL}, {" \"a b\" ", "a b", NULL}, {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", NULL},
              {"\"\\u0041\\u00e9\\u20AC\"", "A\303\251\342\202\254", NULL}, {"\"\\ud83d\\uDE00x\"", "\360\237\230\200x", NULL},
              {"\"\\u07ff\\u0800\\uffff\\u007f\\u0080\"", "\337\277\340\240\200\357\277\277\177\302\200", NULL},
              {"\"\\uD800\\uDC00\\uDBFF\\uDFFF\"", "\360\220\200\200\364\217\277\277", NULL}, {"\"\303\251\177\"", "\303\251\177", NULL},
              {"\"\\x\"", NULL, "no escape of JSON"}, {"\"\\u00g0\"", NULL, "no escape"}, {"\"\\u004\"", NULL, "no escape"}, {"\"\\u0000\"", NULL, "no escape"},
              {"\"\\ud83d\"", NULL, "no escape"}, {"\"\\ud83dx\"", NULL, "no escape"}, {"\"\\ud83d\\n\"", NULL, "no escape"}, {"\"\\ud83d\\u0041\"", NULL, "no escape"},
              {"\"\\ude00\"", NULL, "no escape"}, {"\"\\U0041\"", NULL, "no escape"}, {"\"\\", NULL, "no escape"},
              {"\"\300\200\"", NULL, "no UTF-8"}, {"\"\355\240\200\"", NULL, "no UTF-8"}, {"\"\377\"", NULL, "no UTF-8"}, {"\"a\tb\"", NULL, "a control character in a string"},
              {"\"a\nb\"", NULL, "a control character in a string: \"\"a\""}, {"\"a\037\"", NULL, "a control character"}, {"\"a", NULL, "byte 2: the JSON text ends in a string: \"\"a: 5}\""},
              {"'a'", NULL, "a key, in quotes, is expected: \"'a': 5}\""}, {"a", NULL, "a key, in quotes, is expected"}, {"\"a\" 1", NULL, "':' is expected behind a key: \"1: 5}\""},
              {"\"a\",", NULL, "':' is expected behind a key"}, {",\"a\"", NULL, "a key, in quotes, is expected: \"\""}};
    char key[JSON_STREAM_KEY + 4], written[JSON_STREAM_KEY + 40];
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const char* message = key_error(of[k].written, key);
        if (!CHECK(of[k].message ? strstr(message, of[k].message) != NULL : !message[0] && strcmp(key, of[k].key) == 0))
            printf("    %s: %s\n", of[k].written, message);
    }
    for (int length = JSON_STREAM_KEY - 12; length < JSON_STREAM_KEY + 20; length++) /* as written, with its first quote; the last letter takes twelve */
        for (int last = 1; last <= 12; last += 11) {
            memset(written, 'k', (size_t)length);
            written[0] = '"';
            if (last == 12) memcpy(written + length - 12, "\\ud83d\\ude00", 12);
            memcpy(written + length, "\"", 2);
            const char* message = key_error(written, key);
            const bool fits = length - last <= JSON_STREAM_KEY;
            if (!CHECK(fits ? !message[0] && (int)strlen(key) == length - 1 - (last == 12 ? 8 : 0) : strstr(message, "a key of more than 240 bytes") != NULL))
                printf("    %d, %d: %s\n", length, last, message);
        }
}

/* A zero byte is no end: it is an error wherever it stands. */
TEST(a_zero_byte_is_no_json)
{
    static const char with[] = "{\"a\":7}";
    for (size_t at = 0; at < sizeof with; at++) {
        char whole[sizeof with], key[JSON_STREAM_KEY + 4];
        json_stream j;
        error why = {""};
        int64_t value;
        memcpy(whole, with, sizeof with);
        whole[at] = 0;
        bool good = open_json(&j, whole, sizeof with, &why) && json_stream_begin(&j, '{', &why) && json_stream_key(&j, key, &why) == 1 &&
                    json_stream_peek(&j, &why) && json_stream_int(&j, &value, &why) && json_stream_key(&j, key, &why) == 0 && json_stream_end(&j, &why);
        if (!CHECK(!good && why.text[0])) printf("    at %zu\n", at);
        json_stream_close(&j);
    }
}

/* Two megabytes of an object of arrays, wherever the buffer ends in them; then cut at each of some hundred bytes. */
TEST(json_of_megabytes_is_read_by_a_window)
{
    enum { ROOM = 2 << 20, KEYS = 30000 };
    static char data[ROOM + 100];
    for (int shift = 0; shift < 8; shift++) {
        size_t n = 0;
        json_stream j;
        error why = {""};
        char key[JSON_STREAM_KEY + 4], expected[20];
        int64_t value, keys = 0, elements = 0;
        bool good = true;
        n += (size_t)sprintf(data, "%*s{", shift, "");
        for (int k = 0; k < KEYS; k++)
            n += (size_t)sprintf(data + n, "%s\"%d\" :\n [%d,  %d%s]", k ? ",\n" : "", k, k, -k, k % 2 ? ", 5 " : "");
        n += (size_t)sprintf(data + n, "} \n");
        CHECK(n > 3 * (256 << 10) && n < ROOM);
        CHECK(open_json(&j, data, n, &why) && json_stream_begin(&j, '{', &why));
        for (; json_stream_key(&j, key, &why) == 1 && good; keys++) {
            snprintf(expected, sizeof expected, "%lld", (long long)keys);
            good = strcmp(key, expected) == 0 && json_stream_peek(&j, &why) == '[' && json_stream_begin(&j, '[', &why);
            for (elements = 0; good && json_stream_element(&j, &why) == 1; elements++)
                good = json_stream_int(&j, &value, &why) && value == (elements == 0 ? keys : elements == 1 ? -keys : 5);
            good = good && elements == 2 + keys % 2;
        }
        CHECK(good && keys == KEYS && json_stream_end(&j, &why) && j.t.line == 2 * KEYS + 1);
        CHECK_STR(why.text, "");
        json_stream_close(&j);
    }
    json_stream j;
    error why = {""};
    memset(data, ' ', 300 << 10);
    memcpy(data + (300 << 10) - 3, "[7,", 3);
    CHECK(open_json(&j, data, 300 << 10, &why) && json_stream_begin(&j, '[', &why) && json_stream_element(&j, &why) == 1);
    int64_t value = 0;
    CHECK(json_stream_int(&j, &value, &why) && value == 7 && json_stream_element(&j, &why) == 1 && !json_stream_int(&j, &value, &why));
    CHECK(strstr(why.text, "line 1, byte 307201: the JSON text ends too early: \"\""));
    json_stream_close(&j);
}

TEST(a_path_that_is_too_long_is_refused)
{
    static char deep[SOURCE_PATH], path[SOURCE_PATH];
    error why = {""};
    memset(deep, 'a', SOURCE_PATH - 4);
    CHECK(path_in(path, deep, "bc", &why) && strlen(path) == SOURCE_PATH - 1 && strcmp(path + SOURCE_PATH - 5, "a/bc") == 0);
    CHECK(!path_in(path, deep, "bcd", &why) && strstr(why.text, ": path is too long"));
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(lines_and_fields_separate_by_blanks_tabs_and_commas);
    RUN(integers_keep_64_bits_and_refuse_one_more);
    RUN(reals_equal_strtod_to_the_bit);
    RUN(reals_refuse_what_is_no_decimal_number);
    RUN(fields_are_bounded);
    RUN(an_error_shows_the_beginning_of_its_field);
    RUN(a_byte_of_zero_is_text_as_any_other);
    RUN(every_line_begins_anew);
    RUN(the_first_comment_is_that_of_line_1);
    RUN(words_are_told_from_numbers);
    RUN(windows_slide_over_fields_lines_and_comments);
    RUN(errors_name_the_byte_of_a_long_line);
    RUN(empty_fields_and_short_lines_are_named);
    RUN(columns_are_counted_without_reading);
    RUN(columns_are_counted_across_the_end_of_the_buffer);
    RUN(blanks_and_ends_may_lie_where_the_buffer_ends);
    RUN(gzip_streams_follow_one_another_and_truncation_is_found);
#ifdef HAVE_ZLIB
    RUN(thousands_of_gzip_streams_are_one);
#endif
    RUN(a_file_that_became_shorter_is_an_error_at_its_end);
    RUN(a_part_is_read_to_its_end_whatever_is_asked_for_at_a_time);
    RUN(whole_numbers_of_json_keep_64_bits_and_its_grammar);
    RUN(keys_of_json_have_escapes_and_utf8);
    RUN(a_zero_byte_is_no_json);
    RUN(json_of_megabytes_is_read_by_a_window);
    RUN(a_path_that_is_too_long_is_refused);
    folder_remove();
    return test_finish();
}
