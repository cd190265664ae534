/* The tokenizer of all text formats, and the stream under it. */
#include <unistd.h>

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
                                          "-Infinity"};
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
                                      "\v5",  "five",   ".",  "1_000", "\"1\"", "\f\n7"};
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

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(lines_and_fields_separate_by_blanks_tabs_and_commas);
    RUN(integers_keep_64_bits_and_refuse_one_more);
    RUN(reals_equal_strtod_to_the_bit);
    RUN(reals_refuse_what_is_no_decimal_number);
    RUN(fields_are_bounded);
    RUN(windows_slide_over_fields_lines_and_comments);
    RUN(errors_name_the_byte_of_a_long_line);
    RUN(empty_fields_and_short_lines_are_named);
    RUN(columns_are_counted_without_reading);
    RUN(columns_are_counted_across_the_end_of_the_buffer);
    RUN(gzip_streams_follow_one_another_and_truncation_is_found);
    folder_remove();
    return test_finish();
}
