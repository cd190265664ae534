/* .npy arrays and the zip archives that hold them. */
#include "common/memory.h"
#include "datasets/arrays.h"
#include "datasets/zip_writer.h"
#include "ggnn.h"
#include "tests/archive.h"
#include "tests/folder.h"
#include "tests/test.h"

/* ---- .npy ----------------------------------------------------------------------------------------------------- */

/* Opens bytes as a .npy file; what is wrong with its header is in why. */
static source* open_npy(const bytes* file, npy_header* h, error* why)
{
    char path[600];
    why->text[0] = 0;
    write_file(folder_path(path, "a.npy"), file->data, file->size);
    source* s = source_open(path, why);
    if (s && npy_read_header(h, s, why)) return s;
    source_close(s);
    return NULL;
}

/* One array of each type holding 0, 1 and a large value, in both byte orders. */
TEST(every_type_reads_as_floats_and_integers)
{
    static const struct {
        const char* type;
        uint64_t large;
        double value;
    } types[] = {{"b1", 1, 1},
                 {"i1", 0x80, -128},
                 {"u1", 0x80, 128},
                 {"i2", 0x8001, -32767},
                 {"u2", 0x8001, 32769},
                 {"i4", 0x80000000, -2147483648.0},
                 {"u4", 0xFFFFFFFF, 4294967295.0},
                 {"i8", 0xFFFFFFFFFFFFFF85, -123},
                 {"u8", 0x4000000000000000, 4611686018427387904.0},
                 {"f2", 0xFBFF, -65504},
                 {"f4", 0xC2F60000, -123},
                 {"f8", 0x43E0000000000000 - (1u << 11), 9223372036852678656.0}};
    for (size_t k = 0; k < 2 * sizeof types / sizeof types[0]; k++) {
        const char* type = types[k / 2].type;
        int size = type[1] - '0', big = k % 2;
        uint64_t one = type[0] != 'f' ? 1 : size == 2 ? 0x3C00 : size == 4 ? 0x3F800000 : 0x3FF0000000000000;
        uint64_t element[3] = {0, one, types[k / 2].large};
        bytes data = {0};
        char descr[8];
        npy_header h;
        error why = {""};
        float f[3];
        double d[3];
        int64_t i[3];
        for (int e = 0; e < 3; e++)
            for (int byte = 0; byte < size; byte++)
                put_number(&data, element[e] >> 8 * (big ? size - 1 - byte : byte) & 255, 1);
        snprintf(descr, sizeof descr, "%c%s", size == 1 ? '|' : big ? '>' : '<', type);
        bytes file = npy_of(descr, "3,", false, data.data, data.size);
        source* s = open_npy(&file, &h, &why);
        CHECK(s && npy_read_floats(f, 3, &h, s, &why) && f[0] == 0 && f[1] == 1 && f[2] == (float)types[k / 2].value);
        source_close(s);
        s = open_npy(&file, &h, &why);
        CHECK(s && npy_read_doubles(d, 3, &h, s, &why) && d[0] == 0 && d[1] == 1 && d[2] == types[k / 2].value);
        source_close(s);
        s = open_npy(&file, &h, &why);
        CHECK(s && npy_read_ints(i, 3, &h, s, 0, &why) && i[0] == 0 && i[1] == 1 &&
              i[2] == (int64_t)types[k / 2].value);
        CHECK_STR(why.text, "");
        source_close(s);
        drop(&data);
        drop(&file);
    }
}

TEST(headers_of_all_versions_and_spellings_are_read)
{
    static const char* const good[] = {"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                                       "{\"shape\":(2,3),\"descr\":\"<f4\",\"fortran_order\":True}",
                                       "{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L)}",
                                       " { 'shape' : ( 2 , 3 , ) , 'fortran_order' : True , 'descr' : '<f4' } "};
    for (int version = 1; version <= 3; version++)
        for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
            bytes file = {0};
            npy_header h;
            error why;
            npy_header_of(&file, version, good[k]);
            put(&file, "012345678901234567890123", 24);
            source* s = open_npy(&file, &h, &why);
            CHECK_STR(why.text, "");
            if (CHECK(s))
                CHECK(h.fortran && h.num_dims == 2 && h.shape[0] == 2 && h.shape[1] == 3 && h.count == 6 &&
                      h.kind == 'f' && h.size == 4);
            source_close(s);
            drop(&file);
        }
}

TEST(headers_that_lie_are_refused)
{
    static const struct {
        const char *dictionary, *message;
    } bad[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (7,), }", "shape needs 156"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }", "shape needs"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", "more elements than"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", "too large"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-6,), }", "a number >= 0"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,2,3), }", "more than 4"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (3,), }", "pickled"},
        {"{'descr': '<U6', 'fortran_order': False, 'shape': (1,), }", "'<U6'"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (3,), }", "'<c8'"},
        {"{'descr': '<f3', 'fortran_order': False, 'shape': (8,), }", "'<f3'"},
        {"{'descr': '|f4', 'fortran_order': False, 'shape': (6,), }", "'|f4'"},
        {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (6,), }", "named columns"},
        {"{'descr': '<f4', 'shape': (6,), }", "missing"},
        {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (6,), }", "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}", "unknown key"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 6}", "no tuple"},
        {"{'descr': '<f4", "short string"},
        {"", "no dictionary"},
        {"{", "short string"},
        {"['descr']", "no dictionary at \"['descr']"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (6,), }", "':' is missing at \"'<f4'"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (6,), }", "',' or '}' is missing at \"'fortran_order'"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "the shape is damaged at \"3)"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,), }", "a number >= 0 is expected at \",)"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (x,), }", "a number >= 0 is expected at \"x,)"},
        {"{'fortran_order': False, 'shape': (6,), }", "descr, fortran_order or shape is missing"},
        {"{'descr': '<f4', 'fortran_order': False, }", "descr, fortran_order or shape is missing"},
        {"{'descr': '<f4', 'fortran_order': 'False', 'shape': (6,), }", "True or False is expected at \"'False'"},
        {"{'descr': \"<f4', 'fortran_order': False, 'shape': (6,), }", "a short string is expected"},
        {"{'descr': '<f4 and so on and on', 'fortran_order': False, 'shape': (6,), }", "a short string is expected"},
        {"{'descr of many things': '<f4', 'fortran_order': False, 'shape': (6,), }", "a short string is expected"},
        {"{'fifteen letters': '<f4', 'fortran_order': False, 'shape': (6,), }", "an unknown key at \" '<f4'"},
        {"{'sixteen letters.': '<f4', 'fortran_order': False, 'shape': (6,), }", "a short string is expected at \"'sixteen"},
        {"{'descr': '<f4 of 15 chars', 'fortran_order': False, 'shape': (6,), }", "elements of type '<f4 of 15 chars'; bool"},
        {"{'descr': '<f4 of 16 chars.', 'fortran_order': False, 'shape': (6,), }", "a short string is expected at \"'<f4 of 16"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808, 0), }", "a number that is too large"},
        {"{'descr': '', 'fortran_order': False, 'shape': (6,), }", "elements of type ''; bool, integers and floats of up to 8 bytes are read"},
        {"{'descr': '<', 'fortran_order': False, 'shape': (6,), }", "elements of type '<'; bool"},
        {"{'descr': '<f', 'fortran_order': False, 'shape': (6,), }", "elements of type '<f'; bool"},
        {"{'descr': 'f4', 'fortran_order': False, 'shape': (6,), }", "elements of type 'f4'; bool"},
        {"{'descr': '<f44', 'fortran_order': False, 'shape': (6,), }", "elements of type '<f44'; bool"},
        {"{'descr': '<f0', 'fortran_order': False, 'shape': (6,), }", "elements of type '<f0'; bool"},
        {"{'descr': '<f9', 'fortran_order': False, 'shape': (6,), }", "elements of type '<f9'; bool"},
        {"{'descr': '|f1', 'fortran_order': False, 'shape': (24,), }", "elements of type '|f1'; bool"},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (8,), }", "elements of type '<i3'; bool"},
        {"{'descr': '<u6', 'fortran_order': False, 'shape': (4,), }", "elements of type '<u6'; bool"},
        {"{'descr': '<b2', 'fortran_order': False, 'shape': (12,), }", "elements of type '<b2'; bool"},
        {"{'descr': '|i2', 'fortran_order': False, 'shape': (12,), }", "elements of type '|i2'; bool"},
        {"{'descr': '<M8', 'fortran_order': False, 'shape': (3,), }", "elements of type '<M8'; bool"},
        {"{'descr': '|S4', 'fortran_order': False, 'shape': (6,), }", "elements of type '|S4'; bool"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }", "the shape holds more elements than a file can"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (4611686018427387904,), }", "the shape holds more elements than a file can"},
        {"{'descr': '|i1', 'fortran_order': False, 'shape': (4611686018427387903,), }", "but its shape needs 46116860184273880"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (3037000500, 3037000500, 2), }", "the shape holds more elements than a file can"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        bytes file = {0};
        npy_header h;
        error why;
        npy_header_of(&file, 1, bad[k].dictionary);
        put(&file, "01234567890123456789012", 24);
        CHECK(!open_npy(&file, &h, &why));
        if (!CHECK(strstr(why.text, bad[k].message) && strstr(why.text, "a.npy")))
            printf("    %s -> %s\n", bad[k].dictionary, why.text);
        drop(&file);
    }
}

/* Numbers, lists and tables of up to 4 dimensions; some of no element. */
TEST(shapes_of_up_to_four_dimensions_are_read)
{
    static const struct {
        const char* shape;
        int dims;
        int64_t of[4], count;
    } shapes[] = {{"()", 0, {0}, 1},
                  {"(1,)", 1, {1}, 1},
                  {"(0,)", 1, {0}, 0},
                  {"(3)", 1, {3}, 3},
                  {"(2, 3)", 2, {2, 3}, 6},
                  {"(0, 3)", 2, {0, 3}, 0},
                  {"(9223372036854775799, 0)", 2, {9223372036854775799, 0}, 0},
                  {"(1, 2, 3)", 3, {1, 2, 3}, 6},
                  {"(2, 1, 3, 2)", 4, {2, 1, 3, 2}, 12},
                  {"(2, 1, 0, 2)", 4, {2, 1, 0, 2}, 0}};
    for (size_t k = 0; k < 2 * sizeof shapes / sizeof *shapes; k++) {
        char dictionary[200];
        bytes file = {0};
        npy_header h;
        error why;
        const int64_t* of = shapes[k / 2].of;
        snprintf(dictionary, sizeof dictionary, "{'descr': '=i2', 'fortran_order': %s, 'shape': %s, }", k % 2 ? "True" : "False", shapes[k / 2].shape);
        npy_header_of(&file, 1, dictionary);
        for (int64_t i = 0; i < shapes[k / 2].count; i++) put_number(&file, (uint64_t)i, 2);
        source* s = open_npy(&file, &h, &why);
        if (CHECK(s)) {
            CHECK(h.num_dims == shapes[k / 2].dims && h.count == shapes[k / 2].count && h.kind == 'i' && h.size == 2 && !h.swapped);
            CHECK_EQ(h.fortran, k % 2 && h.num_dims > 1);
            for (int i = 0; i < h.num_dims; i++) CHECK_EQ(h.shape[i], of[i]);
            int64_t value[12];
            CHECK(npy_read_ints(value, h.count, &h, s, 0, &why) && source_at_end(s, "the test", &why));
            for (int64_t i = 0; i < h.count; i++) CHECK_EQ(value[i], i);
        } else
            printf("    %s: %s\n", shapes[k / 2].shape, why.text);
        source_close(s);
        drop(&file);
    }
}

/* All dimensions, from a single number on, with the longest of sizes; the data begin at a multiple of 64 and are read back. */
TEST(a_header_that_is_written_is_read_back)
{
    static const int64_t shape[] = {3, 1, 2, 1};
    static const float data[] = {1, 2, 3, 4, 5, 6};
    char header[NPY_WRITTEN_MAX];
    for (int32_t dims = 0; dims <= NPY_MAX_DIMS; dims++) {
        const int64_t count = dims == 0 ? 1 : dims < 3 ? 3 : 6;
        bytes file = {0};
        npy_header h;
        error why = {""};
        float back[6];
        const size_t length = npy_write_header(header, "<f4", dims, shape);
        CHECK_EQ(length % 64, 0);
        if (dims == 1) CHECK(memcmp(header + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ", 58) == 0); /* a tuple */
        put(&file, header, length);
        put(&file, data, (size_t)count * sizeof *data);
        source* s = open_npy(&file, &h, &why);
        CHECK(s && h.kind == 'f' && h.size == 4 && !h.swapped && !h.fortran && h.num_dims == dims && h.count == count);
        for (int32_t i = 0; i < dims && s; i++) CHECK_EQ(h.shape[i], shape[i]);
        CHECK(s && npy_read_floats(back, count, &h, s, &why) && memcmp(back, data, (size_t)count * sizeof *back) == 0);
        source_close(s);
        drop(&file);
    }
    const int64_t most[] = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    CHECK_EQ(npy_write_header(header, "|S1000000000", NPY_MAX_DIMS, most), 192);
    CHECK(header[191] == '\n' && memcmp(header, "\x93NUMPY\1\0\xb6\0{'descr': '|S1000000000', ", 34) == 0);
}

/* Written by hand: what stands before the dictionary. */
TEST(prefixes_that_are_not_numpys_are_refused)
{
    static const char good[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }\n";
    static const struct {
        const char* magic;
        int version, minor, width;
        uint32_t bytes; /* 0: those of the dictionary */
        const char* message;
    } of[] = {{"\x93NUMPY", 0, 0, 2, 0, "a.npy: .npy version 0.0; 1, 2 and 3 are read"},
              {"\x93NUMPY", 4, 1, 4, 0, "a.npy: .npy version 4.1; 1, 2 and 3 are read"},
              {"\x93NUMPX", 1, 0, 2, 0, "a.npy: no .npy array (it does not begin with \\x93NUMPY)"},
              {"\x93NUMPY", 2, 0, 4, 65537, "a.npy: a .npy header of 65537 bytes"},
              {"\x93NUMPY", 3, 0, 4, 0xFFFFFFFF, "a.npy: a .npy header of 4294967295 bytes"},
              {"\x93NUMPY", 2, 0, 4, 65536, "a.npy: ends inside the .npy header: 58 bytes of 65536"},
              {"\x93NUMPY", 1, 0, 2, 59, "a.npy: ends inside the .npy header: 58 bytes of 59"},
              {"\x93NUMPY", 1, 0, 2, 0, ""},
              {"\x93NUMPY", 1, 7, 2, 0, ""},
              {"\x93NUMPY", 3, 0, 4, 0, ""}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        bytes file = {0};
        npy_header h;
        error why;
        put(&file, of[k].magic, 6);
        put_number(&file, (uint64_t)of[k].version, 1);
        put_number(&file, (uint64_t)of[k].minor, 1);
        put_number(&file, of[k].bytes ? of[k].bytes : sizeof good - 1, of[k].width);
        put(&file, good, sizeof good - 1);
        source* s = open_npy(&file, &h, &why);
        CHECK_EQ(s != NULL, !of[k].message[0]);
        if (!CHECK(strstr(why.text, of[k].message))) printf("    %s\n", why.text);
        source_close(s);
        drop(&file);
    }
}

TEST(one_text_is_read_whole)
{
    static const struct {
        const char *type, *shape, *data;
        size_t size;
        const char *text, *message;
    } of[] = {{"|S3", "", "csr", 3, "csr", ""},
              {"|S8", "1,", "abcdefgh", 8, "abcdefgh", ""},
              {"|S5", "", "ab\0\0\0", 5, "ab", ""},
              {"<S1", "", "a", 1, "a", ""},
              {"<U2", "", "a\0\0\0b\0\0\0", 8, "ab", ""},
              {">U2", "", "\0\0\0a\0\0\0b", 8, "ab", ""},
              {"<U3", "", "a\0\0\0\0\0\0\0b\0\0\0", 12, "a", ""},
              {"<U2", "", "a\1\0\0b\0\0\1", 8, "??", ""},
              {"<U4", "", "a\1\0\0b\0\1\0c\0\0\1\200\0\0\0", 16, "????", ""},
              {">U4", "", "\1\0\0a\0\1\0b\0\0\1c\0\0\0\200", 16, "????", ""},
              {"|S2", "", "\200z", 2, "?z", ""},
              {"|S2", "2,", "abcd", 4, "", "a.npy: 2 texts; one is expected"},
              {"|S2", "0,", "", 0, "", "a.npy: 0 texts; one is expected"},
              {"|S9", "", "abcdefghi", 9, "", "elements of type '|S9'; a text of up to 8 characters is expected"},
              {"|S0", "", "", 0, "", "elements of type '|S0'; a text of up to 8 characters is expected"},
              {"<f4", "", "abcd", 4, "", "elements of type '<f4'; a text of up to 8 characters is expected"},
              {"|S3", "", "cs", 2, "", "shape needs"},
              {"|S3", "", "csrx", 4, "", "shape needs"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char path[600], text[NPY_TEXT + 1] = "";
        error why = {""};
        bytes file = npy_of(of[k].type, of[k].shape, false, of[k].data, of[k].size);
        write_file(folder_path(path, "a.npy"), file.data, file.size);
        drop(&file);
        source* s = source_open(path, &why);
        CHECK_EQ(npy_read_text(text, s, &why), !of[k].message[0]);
        if (of[k].message[0]) CHECK(strstr(why.text, of[k].message));
        else CHECK_STR(text, of[k].text);
        source_close(s);
    }
}

TEST(integers_of_floats_must_be_whole)
{
    static const struct {
        double value;
        const char* message;
    } cases[] = {{2.5, "element 1: 2.5 is no"},
                 {NAN, "element 1: nan is no"},
                 {1e19, "no 64-bit"},
                 {-9223372036854775808.0, "no 64-bit"},
                 {INFINITY, "no 64-bit"}};
    npy_header h;
    error why;
    int64_t out[2];
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double data[2] = {-3, cases[k].value};
        bytes file = npy_of("<f8", "2,", false, data, sizeof data);
        source* s = open_npy(&file, &h, &why);
        CHECK(s && !npy_read_ints(out, 2, &h, s, 0, &why));
        CHECK(strstr(why.text, cases[k].message));
        CHECK_EQ(out[0], -3);
        source_close(s);
        drop(&file);
    }
    uint64_t large = 0x8000000000000000;
    bytes file = npy_of("<u8", "1,", false, &large, 8);
    source* s = open_npy(&file, &h, &why);
    CHECK(s && !npy_read_ints(out, 1, &h, s, 0, &why) && strstr(why.text, "9223372036854775808"));
    source_close(s);
    drop(&file);
    large--;
    file = npy_of("<u8", "1,", false, &large, 8);
    s = open_npy(&file, &h, &why);
    CHECK(s && npy_read_ints(out, 1, &h, s, 0, &why) && out[0] == INT64_MAX);
    source_close(s);
    drop(&file);
}

/* 4,096 of these elements are read at a time. */
TEST(an_element_that_is_no_integer_is_named_wherever_it_stands)
{
    enum { N = 9000 };
    static const int64_t place[] = {0, 4095, 4096, 8999};
    for (int k = 0; k < 4; k++) {
        static double data[N];
        static int64_t out[N];
        char expected[40];
        npy_header h;
        error why;
        data[place[k]] = .5;
        bytes file = npy_of("<f8", "9000,", false, data, sizeof data);
        data[place[k]] = 0;
        source* s = open_npy(&file, &h, &why);
        CHECK(s && !npy_read_ints(out, N, &h, s, 100, &why));
        snprintf(expected, sizeof expected, "element %lld: 0.5 is no", (long long)(100 + place[k]));
        CHECK(strstr(why.text, expected));
        source_close(s);
        drop(&file);
    }
}

/* Halfway between two floats and one more, which a double has no room for: by way of a double they would be rounded to even. */
TEST(integers_of_64_bits_are_rounded_once)
{
    static const uint64_t halfway[] = {((uint64_t)1 << 63) + ((uint64_t)1 << 39) + 1, ((uint64_t)1 << 62) + ((uint64_t)1 << 38) + 1};
    static const float above[] = {9223373136366403584.f, 4611686568183201792.f};
    for (int k = 0; k < 2; k++) {
        npy_header h;
        error why;
        float out = 0;
        bytes file = npy_of(k ? "<i8" : "<u8", "1,", false, &halfway[k], 8);
        source* s = open_npy(&file, &h, &why);
        CHECK(s && npy_read_floats(&out, 1, &h, s, &why) && out == above[k]);
        source_close(s);
        drop(&file);
    }
}

/* ---- zip ------------------------------------------------------------------------------------------------------ */

static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";

static bytes archive_by(zip_maker z, bool deflated)
{
    zip_add(&z, "first", letters, 10);
    z.deflated = deflated;
    zip_add(&z, "second", letters, sizeof letters);
    zip_add(&z, "empty", "", 0);
    return zip_end(&z);
}

static bytes small_archive(bool deflated, bool zip64) { return archive_by((zip_maker){.zip64 = zip64}, deflated); }

/* The member's bytes, or -1 and a message. */
static int64_t read_member(const bytes* file, const char* name, char out[256], error* why)
{
    char path[600];
    zip_archive z;
    why->text[0] = 0;
    write_file(folder_path(path, "a.zip"), file->data, file->size);
    if (!zip_open(&z, path, why)) return -1;
    const zip_member* m = zip_find(&z, name);
    source* s = m ? zip_member_open(&z, m, why) : NULL;
    int64_t got = s ? source_read(s, out, 256, why) : -1;
    if (s && got >= 0 && !source_at_end(s, "the test", why)) got = -1;
    source_close(s);
    zip_close(&z);
    return got;
}

TEST(members_stored_deflated_and_zip64_are_read)
{
    for (int k = 0; k < 4; k++) {
        char out[256];
        error why;
        bytes file = small_archive(k & 1, k >> 1);
        CHECK_EQ(read_member(&file, "first", out, &why), 10);
        CHECK(memcmp(out, letters, 10) == 0);
#ifndef HAVE_ZLIB
        if (k & 1) {
            CHECK_EQ(read_member(&file, "second", out, &why), -1);
            CHECK(strstr(why.text, "zlib") && strstr(why.text, "second"));
            drop(&file);
            continue;
        }
#endif
        CHECK_EQ(read_member(&file, "second", out, &why), sizeof letters);
        CHECK(memcmp(out, letters, sizeof letters) == 0);
        CHECK_EQ(read_member(&file, "empty", out, &why), 0);
        CHECK_STR(why.text, "");
        CHECK_EQ(read_member(&file, "absent", out, &why), -1);
        drop(&file);
    }
}

static void check_letters(const bytes* file)
{
    char out[256];
    error why;
    CHECK_EQ(read_member(file, "second", out, &why), sizeof letters);
    CHECK(memcmp(out, letters, sizeof letters) == 0);
    CHECK_STR(why.text, "");
}

TEST(extra_fields_of_zip64_are_found_behind_others_and_hold_offsets)
{
    for (int k = 0; k < 8; k++) {
        bytes file = archive_by((zip_maker){.zip64 = k & 1, .far = k & 2, .stamped = k & 4}, false);
        check_letters(&file);
        drop(&file);
    }
}

/* Writers of zip64 mark the fields alone that do not fit: any one of them sends the reader to the larger record. */
TEST(each_field_of_the_end_that_is_all_ones_is_read_from_zip64s)
{
    for (int wide = 0; wide < 3; wide++) {
        bytes file = small_archive(false, true);
        uint8_t *end = file.data + file.size - 22, *end64 = end - 20 - 56;
        for (int k = 0; k < 2 && wide != 0; k++) memcpy(end + 8 + 2 * k, end64 + 24 + 8 * k, 2); /* members */
        if (wide != 1) memcpy(end + 12, end64 + 40, 4);                                           /* bytes */
        if (wide != 2) memcpy(end + 16, end64 + 48, 4);                                           /* offset */
        check_letters(&file);
        drop(&file);
    }
}

/* The comment holds an end record whose own comment would reach past the end of the file. */
TEST(an_archive_may_end_with_a_comment)
{
    static const size_t length[] = {1, 21, 22, 300, 6554, 65535};
    for (size_t k = 0; k < sizeof length / sizeof length[0]; k++) {
        bytes file = small_archive(false, false), comment = {0};
        put_number(&comment, 0x06054B50, 4);
        for (int i = 0; i < 8; i++) put_number(&comment, 0, 2);
        put_number(&comment, 0xFFFF, 2);
        while (comment.size < length[k]) put(&comment, letters, 26);
        file.data[file.size - 2] = (uint8_t)(length[k] & 255);
        file.data[file.size - 1] = (uint8_t)(length[k] >> 8);
        put(&file, comment.data, length[k]);
        check_letters(&file);
        drop(&comment);
        drop(&file);
    }
}

/* Cut anywhere, an archive is refused: its directory is at its end. */
TEST(truncated_archives_are_refused_at_every_length)
{
    for (int k = 0; k < 4; k += 2) {
        bytes whole = small_archive(false, k);
        for (size_t cut = 0; cut < whole.size; cut++) {
            char out[256];
            error why;
            bytes file = {whole.data, cut, cut};
            if (!CHECK_EQ(read_member(&file, "second", out, &why), -1) || !CHECK(strstr(why.text, "a.zip")))
                printf("    length %zu\n", cut);
        }
        drop(&whole);
    }
}

/* A flipped bit is found, or it is in a field that says nothing about the bytes (versions, times, attributes, another
   member): then the bytes are right. */
TEST(flipped_bits_are_found_or_harmless)
{
    for (int k = 0; k < 4; k++) {
        bytes file = small_archive(k & 1, k >> 1);
        int found = 0, bits = 0;
#ifndef HAVE_ZLIB
        if (k & 1) {
            drop(&file);
            continue;
        }
#endif
        for (size_t bit = 0; bit < 8 * file.size; bit++) {
            char out[256];
            error why;
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int64_t got = read_member(&file, "second", out, &why);
            bits++;
            if (got < 0)
                found++;
            else if (!CHECK(got == (int64_t)sizeof letters && memcmp(out, letters, sizeof letters) == 0))
                printf("    bit %zu\n", bit);
            file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        CHECK(found > bits / 3);
        drop(&file);
    }
}

/* Overwrites the 4-byte field at an offset into the last member's directory entry, counted from the end record. */
static bytes with_field(size_t entry, size_t at, uint64_t value, int width)
{
    bytes file = small_archive(false, false);
    size_t names[3] = {5, 6, 5}, place = file.size - 22;
    for (size_t i = 3; i-- > entry;) place -= 46 + names[i];
    for (int i = 0; i < width; i++) file.data[place + at + (size_t)i] = (uint8_t)(value >> 8 * i);
    return file;
}

TEST(absurd_directories_are_refused)
{
    static const struct {
        size_t entry, at;
        uint64_t value;
        int width;
        const char* message;
    } bad[] = {{1, 20, 0x7FFFFFFF, 4, "reach past the directory"},
               {1, 42, 0x7FFFFFFF, 4, "reach past the directory"},
               {1, 42, 0, 4, "overlap"},
               {1, 24, 80, 4, "stored, but"},
               {1, 8, 1, 2, "encrypted"},
               {1, 10, 12, 2, "packed by method 12"},
               {1, 42, 7, 4, "overlap"},
               {0, 28, 0xFFFF, 2, "damaged"},
               {1, 16, 1, 4, "CRC-32"},
               {2, 0, 1, 4, "damaged"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        char out[256];
        error why;
        bytes file = with_field(bad[k].entry, bad[k].at, bad[k].value, bad[k].width);
        CHECK_EQ(read_member(&file, "second", out, &why), -1);
        if (!CHECK(strstr(why.text, bad[k].message))) printf("    %zu: %s\n", k, why.text);
        drop(&file);
    }
    bytes bomb = with_field(1, 24, 0x7FFFFFFF, 4); /* deflated to 2 GiB from 79 bytes */
    char out[256];
    error why;
    size_t place = bomb.size - 22 - 51 - 52;
    bomb.data[place + 10] = 8;
    CHECK_EQ(read_member(&bomb, "second", out, &why), -1);
    CHECK(strstr(why.text, "cannot unpack to 2147483647"));
    drop(&bomb);
}

/* Where the parts of small_archive(false, zip64) begin. */
typedef struct {
    size_t local[3], entry[3], end64, locator, end;
} places;

static places places_of(const bytes* file, bool zip64)
{
    static const size_t name[3] = {5, 6, 5}, size[3] = {10, sizeof letters, 0};
    const size_t extra = zip64 ? 20 : 0;
    places p = {{0}, {0}, 0, 0, file->size - 22};
    size_t at = 0;
    for (int i = 0; i < 3; i++) {
        p.local[i] = at;
        at += 30 + name[i] + extra + size[i];
    }
    for (int i = 0; i < 3; i++) {
        p.entry[i] = at;
        at += 46 + name[i] + extra;
    }
    p.end64 = at;
    p.locator = at + (zip64 ? 56 : 0);
    return p;
}

/* Fields that say nothing about the bytes that are read, one of which is wrong: the archive is not what it was. */
TEST(damage_of_an_archive_that_spares_its_bytes_is_refused)
{
    enum { LOCAL, ENTRY, END, END64, LOCATOR };
    static const struct {
        int part, member;
        bool zip64;
        size_t at;
        uint64_t value;
        int width;
        const char* message;
    } bad[] = {{LOCAL, 1, false, 0, 0x04034B51, 4, "member second: damaged header at byte 45"},
               {LOCAL, 0, false, 3, 5, 1, "member first: damaged header at byte 0"},
               {LOCAL, 2, false, 30, 'E', 1, "member empty: damaged header at byte"},
               {LOCAL, 1, false, 35, 'D', 1, "member second: damaged header at byte 45"},
               {LOCAL, 1, false, 26, 5, 2, "member second: damaged header at byte 45"},
               {LOCAL, 1, false, 26, 7, 2, "member second: damaged header at byte 45"},
               {LOCAL, 1, false, 28, 0xFFFF, 2, "member second: damaged header at byte 45"},
               {LOCAL, 1, false, 28, 60, 2, "member second: damaged header at byte 45"},
               {LOCAL, 2, false, 28, 1, 2, "member empty: damaged header at byte"},
               {ENTRY, 0, false, 0, 0x02014B51, 4, "entry 0 of the directory is damaged"},
               {ENTRY, 2, false, 30, 1, 2, "entry 2 of the directory is damaged"},
               {ENTRY, 2, false, 32, 1, 2, "entry 2 of the directory is damaged"},
               {ENTRY, 1, false, 46, 'S', 1, "member Second: damaged header at byte 45"},
               {ENTRY, 0, false, 20, 11, 4, "member first: stored, but 11 bytes are said to be 10"},
               {ENTRY, 0, false, 42, 1, 4, "member first: damaged header at byte 1"},
               {END, 0, false, 10, 2, 2, "the directory's 2 members take 103 of its 154 bytes"},
               {END, 0, false, 10, 4, 2, "a directory of 4 members in 154 bytes"},
               {END, 0, false, 12, 155, 4, "a directory of 3 members in 155 bytes"},
               {END, 0, false, 12, 153, 4, "entry 2 of the directory is damaged"},
               {END, 0, false, 16, 0x7FFFFFFF, 4, "a directory of 3 members in 154 bytes at 2147483647"},
               {END, 0, false, 20, 1, 2, "no zip archive, or a truncated one"},
               {END, 0, false, 0, 0x06054B51, 4, "no zip archive, or a truncated one"},
               {END, 0, false, 16, 0xFFFFFFFF, 4, "damaged zip64 locator"},
               {END, 0, false, 12, 0xFFFFFFFF, 4, "damaged zip64 locator"},
               {END, 0, false, 10, 0xFFFF, 2, "a directory of 65535 members in 154 bytes"},
               {ENTRY, 1, true, 52 + 2, 15, 2, "member second: 4294967295 bytes at"},
               {ENTRY, 1, true, 52 + 2, 17, 2, "member second: 4294967295 bytes at"},
               {ENTRY, 2, false, 16, 1, 4, NULL}, /* it is in the member's bytes, of which there is none */
               {END64, 0, true, 0, 0x06064B51, 4, "no zip64 end record"},
               {END64, 0, true, 32, (uint64_t)1 << 40, 8, "a directory of 1099511627776 members"},
               {END64, 0, true, 40, (uint64_t)1 << 63, 8, "a directory of 3 members in 9223372036854775808 bytes"},
               {END64, 0, true, 48, UINT64_MAX, 8, "bytes at 18446744073709551615"},
               {END64, 0, true, 40, 1, 8, "a directory of 3 members in 1 bytes"},
               {LOCATOR, 0, true, 0, 0x07064B51, 4, "damaged zip64 locator"},
               {LOCATOR, 0, true, 8, (uint64_t)1 << 62, 8, "damaged zip64 locator"},
               {LOCATOR, 0, true, 8, UINT64_MAX, 8, "damaged zip64 locator"},
               {LOCATOR, 0, true, 8, 0, 8, "byte 0: no zip64 end record"},
               {ENTRY, 1, true, 52 + 4, (uint64_t)1 << 63, 8, "member second: a size or offset of 9223372036854775808 bytes"},
               {ENTRY, 1, true, 52 + 4, UINT64_MAX, 8, "member second: a size or offset of 18446744073709551615 bytes"},
               {ENTRY, 1, true, 52 + 12, (uint64_t)1 << 62, 8, "member second: a size or offset of 4611686018427387904 bytes"},
               {ENTRY, 1, true, 52 + 12, ((uint64_t)1 << 62) - 1, 8, "member second: 4611686018427387903 bytes at"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        char out[256];
        error why;
        bytes file = small_archive(false, bad[k].zip64);
        const places p = places_of(&file, bad[k].zip64);
        size_t at = bad[k].at;
        at += bad[k].part == LOCAL ? p.local[bad[k].member] : bad[k].part == ENTRY ? p.entry[bad[k].member] : bad[k].part == END ? p.end : bad[k].part == END64 ? p.end64 : p.locator;
        for (int i = 0; i < bad[k].width; i++) file.data[at + (size_t)i] = (uint8_t)(bad[k].value >> 8 * i);
        if (bad[k].message) CHECK_EQ(read_member(&file, "second", out, &why), -1); /* whichever member the damage is in */
        else CHECK_EQ(read_member(&file, "empty", out, &why), -1);
        if (!CHECK(strstr(why.text, bad[k].message ? bad[k].message : "member empty: CRC-32 is 00000000, the archive says 00000001") && strstr(why.text, "a.zip: ")))
            printf("    %zu: %s\n", k, why.text);
        drop(&file);
    }
}

/* The directory may list members in another order than they lie in, and twice by one name: the first counts. */
TEST(a_directory_may_be_in_any_order)
{
    bytes file = small_archive(false, false);
    const places p = places_of(&file, false);
    bytes turned = {0};
    char out[256];
    error why;
    put(&turned, file.data, p.entry[0]);
    put(&turned, file.data + p.entry[2], 46 + 5);
    put(&turned, file.data + p.entry[1], 46 + 6);
    put(&turned, file.data + p.entry[0], 46 + 5);
    put(&turned, file.data + p.end, 22);
    CHECK_EQ(turned.size, file.size);
    check_letters(&turned);
    CHECK_EQ(read_member(&turned, "first", out, &why), 10);
    turned.data[p.entry[0] + 42] = 45; /* "empty" lies where "second" does */
    turned.data[p.entry[0] + 43] = 0;
    CHECK_EQ(read_member(&turned, "second", out, &why), -1);
    CHECK(strstr(why.text, "a.zip: members ") && strstr(why.text, " overlap"));
    drop(&turned);
    drop(&file);
}

/* Python writes no zip64 records for as many members as two bytes can count: the number is all ones, and no mark. */
TEST(an_archive_of_65535_members_need_not_be_zip64)
{
    zip_maker z = {0};
    char out[256];
    error why;
    for (int k = 0; k < 65535; k++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", k);
        zip_add(&z, name, letters, (size_t)k % 27);
    }
    bytes file = zip_end(&z);
    CHECK_EQ(read_member(&file, "m65534", out, &why), 65534 % 27);
    drop(&file);
}

/* Nothing lies between members without a name: the second begins where the first ends, the last ends where the directory begins. */
TEST(members_may_touch_each_other_and_the_directory)
{
    for (size_t last = 0; last < 6; last += 5)
        for (int beyond = 0; beyond < 3; beyond++) { /* not; the first by a byte; the last */
            zip_maker z = {0};
            char out[256];
            error why;
            zip_add(&z, "", letters, 10);
            zip_add(&z, "second", letters, sizeof letters);
            zip_add(&z, "", letters, last);
            bytes file = zip_end(&z);
            const size_t entry = file.size - 22 - (beyond == 1 ? 46 + 52 + 46 : 46);
            for (int k = 20; k < 28 && beyond; k += 4) file.data[entry + (size_t)k]++;
            if (beyond) CHECK_EQ(read_member(&file, "second", out, &why), -1);
            else check_letters(&file);
            if (beyond) CHECK(strstr(why.text, beyond == 1 ? "a.zip: members  and second overlap" : last ? "a.zip: member : 6 bytes at 155 reach past the directory at 190" : "a.zip: member : 1 bytes at 155 reach past the directory at 185"));
            else CHECK_EQ(read_member(&file, "", out, &why), 10);
            drop(&file);
        }
}

/* Of a member's flags the first alone, encrypted, stands in the way: sizes may stand behind the bytes, names may be UTF-8. */
TEST(flags_that_change_no_byte_are_passed_over)
{
    static const uint64_t flags[] = {2, 4, 8, 0x800, 0x80E};
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        bytes file = with_field(1, 8, flags[k], 2);
        check_letters(&file);
        drop(&file);
    }
}

TEST(the_smallest_archive_has_no_member)
{
    zip_maker z = {0};
    bytes file = zip_end(&z);
    char out[256];
    error why;
    CHECK_EQ(file.size, 22);
    CHECK_EQ(read_member(&file, "second", out, &why), -1);
    CHECK_STR(why.text, "");
    file.size--;
    CHECK_EQ(read_member(&file, "second", out, &why), -1);
    CHECK(strstr(why.text, "a.zip: no zip archive: 21 bytes"));
    drop(&file);
}

/* A hole in a file: there are as many bytes as the directory is said to have. */
TEST(a_directory_takes_64_MiB_at_most)
{
    for (int64_t more = 0; more < 2; more++) {
        const int64_t size = ((int64_t)64 << 20) + more;
        bytes end = {0};
        char path[600], words[100];
        zip_archive z;
        error why = {""};
        put_number(&end, 0x06054B50, 4);
        put_number(&end, 0, 8);
        put_number(&end, (uint64_t)size, 4);
        put_number(&end, 0, 6);
        write_file(folder_path(path, "hole.zip"), "", 0);
        FILE* f = fopen(path, "r+b");
        CHECK(f && fseek(f, (long)size, SEEK_SET) == 0 && fwrite(end.data, 1, end.size, f) == end.size && fclose(f) == 0);
        CHECK(!zip_open(&z, path, &why));
        snprintf(words, sizeof words, more ? "a directory of 0 members in %lld bytes at 0" : "the directory's 0 members take 0 of its %lld bytes", (long long)size);
        if (!CHECK(strstr(why.text, words))) printf("    %s\n", why.text);
        remove(path);
        drop(&end);
    }
}

/* What zeros deflate to is a thousandth: 1,032 times is the most, one byte more is a lie. */
TEST(a_member_unpacks_to_1032_times_its_size_at_most)
{
    for (int more = 0; more < 2; more++) {
        char out[256];
        error why;
        bytes file = with_field(1, 24, 79 * 1032 + 1031 + (uint64_t)more, 4);
        file.data[file.size - 22 - 51 - 52 + 10] = 8;
        CHECK_EQ(read_member(&file, "first", out, &why), more ? -1 : 10);
        CHECK(!more || strstr(why.text, "member second: 79 bytes cannot unpack to 82560"));
        drop(&file);
    }
}

TEST(members_that_unpack_to_more_or_less_than_declared_are_refused)
{
#ifndef HAVE_ZLIB
    SKIP("no zlib");
#else
    for (int change = -3; change <= 3; change++) {
        char out[256];
        error why;
        bytes file = small_archive(true, false);
        size_t place = file.size - 22 - 51 - 52;
        file.data[place + 24] = (uint8_t)(file.data[place + 24] + change);
        int64_t got = read_member(&file, "second", out, &why);
        CHECK_EQ(got, change ? -1 : (int64_t)sizeof letters);
        if (change) CHECK(strstr(why.text, change < 0 ? "holds more than" : "the archive declares"));
        drop(&file);
    }
#endif
}

/* Deflated in two stored blocks, which end where a reader of 64 KiB at a time has nothing left. */
TEST(packed_data_that_end_before_their_member_are_refused)
{
#ifndef HAVE_ZLIB
    SKIP("no zlib");
#else
    enum { PACKED = 64 << 10, FIRST = PACKED - 2 * 5 - 5 };
    static const uint8_t data[FIRST + 5];
    for (int more = 0; more < 3; more++) {
        zip_maker z = {.deflated = true};
        bytes packed = {0};
        error why = {""};
        char path[600];
        zip_archive archive;
        for (int last = 0; last < 2; last++) {
            const unsigned size = last ? 5 : FIRST;
            put_number(&packed, (uint64_t)last, 1);
            put_number(&packed, size, 2);
            put_number(&packed, 0xFFFF - size, 2);
            put(&packed, data, size);
        }
        CHECK_EQ(packed.size, PACKED);
        put(&packed, letters, (size_t)more);
        zip_add_packed(&z, "long", packed, data, sizeof data);
        bytes file = zip_end(&z);
        write_file(folder_path(path, "a.zip"), file.data, file.size);
        drop(&file);
        if (!CHECK(zip_open(&archive, path, &why))) return;
        uint8_t* out = malloc(sizeof data + 1);
        source* s = zip_member_open(&archive, zip_find(&archive, "long"), &why);
        CHECK_EQ(s ? source_read(s, out, sizeof data + 1, &why) : -2, more ? -1 : (int64_t)sizeof data);
        if (more) CHECK(strstr(why.text, "compressed data end before"));
        free(out);
        source_close(s);
        zip_close(&archive);
    }
#endif
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Is the first member stored? */
static bool zip_stored(const bytes* all) { return all->data[8] == 0; }

TEST(a_checksum_is_moved_by_as_many_bytes_as_follow)
{
    static uint8_t data[3000], zeros[1 << 17];
    test_seed(9);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_below(256);
    for (int i = 0; i < 200; i++) {
        const size_t cut = (size_t)test_below(sizeof data + 1), end = cut + (size_t)test_below((int64_t)(sizeof data - cut) + 1);
        CHECK_EQ(crc32_move(crc32_more(0, data, cut), (int64_t)(end - cut)) ^ crc32_more(0, data + cut, end - cut), crc32_more(0, data, end));
    }
    CHECK_EQ(crc32_move(crc32_more(0, data, 3), sizeof zeros) ^ crc32_more(0, zeros, sizeof zeros), crc32_more(crc32_more(0, data, 3), zeros, sizeof zeros));
    CHECK_EQ(crc32_move(7, 0), 7);
}

/* One stream reads to where the other one skips to, whatever each has buffered by then; of a deflated member the other inflates all. */
TEST(two_streams_of_a_member_have_its_checksum_together)
{
    enum { BUFFER = 32 << 10, MOST = 4 * BUFFER };
    static uint8_t data[MOST], read[MOST];
    static const int64_t sizes[] = {2, 100, BUFFER - 1, BUFFER, BUFFER + 1, 2 * BUFFER + 5, MOST}, steps[] = {1 << 10, 5000, BUFFER, MOST};
    char path[600];
    test_seed(10);
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_below(4);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int i = 0; i < 24; i++) {
            const int64_t size = sizes[k], cut = i % 4 == 3 ? (i % 8 == 3 ? 0 : size) : test_below(size + 1), head = i % 3 ? smaller(cut, test_below(100)) : 0;
            const int64_t changed = i < 8 ? -1 : test_below(size), step = steps[i / 4 % 4];
            error why = {""};
#ifdef HAVE_ZLIB
            zip_maker z = {.deflated = i % 2};
#else
            zip_maker z = {0};
#endif
            zip_archive archive;
            zip_add(&z, "m", data, (size_t)size);
            bytes all = zip_end(&z);
            const bool stored = zip_stored(&all);
            if (changed >= 0 && !stored) {
                drop(&all);
                continue;
            }
            if (changed >= 0) all.data[31 + changed] ^= 1; /* behind the local header and a name of one letter */
            write_file(folder_path(path, "two.zip"), all.data, all.size);
            drop(&all);
            if (!CHECK(zip_open(&archive, path, &why))) continue;
            source *first = zip_member_open(&archive, &archive.member[0], &why), *second = zip_member_open(&archive, &archive.member[0], &why);
            bool ok = source_read_all(second, read, head, "the head", &why) && source_skip(second, cut - head, "the rest", &why);
            for (int64_t at = 0; at < cut && ok; at += step) ok = source_read_all(first, read + at, smaller(step, cut - at), "a piece", &why);
            for (int64_t at = cut; at < size && ok; at += step) ok = source_read_all(second, read + at, smaller(step, size - at), "a piece", &why);
            ok = ok && source_at_end(second, "the member", &why) && source_join(first, second, &why);
            if (!CHECK_EQ(ok, changed < 0)) printf("    %lld of %lld, changed %lld: %s\n", (long long)cut, (long long)size, (long long)changed, why.text);
            if (ok) CHECK(memcmp(read, data, (size_t)size) == 0);
            else CHECK(strstr(why.text, "two.zip: member m: CRC-32 is"));
            source_close(first);
            source_close(second);
            zip_close(&archive);
        }
}

TEST(what_is_skipped_ends_where_the_data_do)
{
    char path[600];
    error why = {""};
    uint8_t byte = 0;
    write_file(folder_path(path, "ten"), "0123456789", 10);
    source* s = source_open(path, &why);
    CHECK(source_read_all(s, &byte, 1, "a byte", &why) && source_skip(s, 7, "seven", &why) && source_read_all(s, &byte, 1, "a byte", &why) && byte == '8');
    CHECK(source_skip(s, 1, "the last", &why) && source_at_end(s, "all", &why) && source_skip(s, 0, "nothing", &why));
    CHECK(!source_skip(s, 1, "one more", &why) && strstr(why.text, "ten: ends inside one more: 0 bytes of 1"));
    source_close(s);
}

/* ---- zip, written --------------------------------------------------------------------------------------------- */

enum { WRITTEN = 300 }; /* members, so that the directory grows: number k has k bytes behind a head of one */

static bool write_archive(const char* path, uint64_t far, error* why)
{
    static char data[WRITTEN];
    zip_writer z;
    FILE* to = fopen(path, "wb");
    bool good = to != NULL;
    for (int i = 0; i < WRITTEN; i++) data[i] = (char)(i * 7);
    zip_writer_begin(&z, to, why);
    if (far) z.far = far;
    for (int k = 0; k < WRITTEN && good; k++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", k);
        good = zip_writer_add(&z, name, "h", 1, data, (size_t)k);
    }
    zip_writer_end(&z);
    return to && fclose(to) == 0 && good;
}

static void check_written(const char* path)
{
    zip_archive z;
    error why = {""};
    if (!CHECK(zip_open(&z, path, &why))) {
        printf("  %s\n", why.text);
        return;
    }
    CHECK_EQ(z.num_members, WRITTEN);
    for (int k = 0; k < WRITTEN; k++) {
        char name[16], out[WRITTEN + 2];
        snprintf(name, sizeof name, "m%d", k);
        source* s = zip_find(&z, name) ? zip_member_open(&z, zip_find(&z, name), &why) : NULL;
        CHECK(s && source_read(s, out, sizeof out, &why) == k + 1 && source_at_end(s, "the test", &why) && out[0] == 'h');
        for (int i = 0; i < k; i++) CHECK(out[i + 1] == (char)(i * 7));
        source_close(s);
    }
    zip_close(&z);
}

/* Where sizes alone, sizes and some offsets, or all numbers but those of the first members are zip64's, and where none is. */
static const uint64_t far_from[] = {0, 20000, 200, 60, 1};

TEST(an_archive_that_is_written_is_read_back_with_zip64_from_any_size_on)
{
    char path[600];
    for (size_t i = 0; i < sizeof far_from / sizeof *far_from; i++) {
        error why = {""};
        CHECK(write_archive(folder_path(path, "w.zip"), far_from[i], &why));
        check_written(path);
    }
}

TEST(an_archive_that_is_written_is_read_by_pythons_zipfile)
{
    char path[600], name[16], line[1400];
    if (system("python3 -c 'import zipfile' 2>/dev/null") != 0) SKIP("python3 is not installed");
    for (size_t i = 0; i < sizeof far_from / sizeof *far_from; i++) {
        error why = {""};
        snprintf(name, sizeof name, "w%d.zip", (int)i);
        CHECK(write_archive(folder_path(path, name), far_from[i], &why));
    }
    snprintf(line, sizeof line, "python3 -c 'import sys, zipfile as z\nfor name in sys.argv[1:]:\n a = z.ZipFile(name); assert a.testzip() is None\n "
             "assert all(a.read(\"m%%d\" %% k) == b\"h\" + bytes(7 * i %% 256 for i in range(k)) for k in range(%d))' %s/w[0-9].zip", WRITTEN, folder);
    CHECK_EQ(system(line), 0);
}

/* By the sizes alone: without far members there are none of zip64's records, which simple readers do not know. */
TEST(an_archive_that_is_written_has_zip64s_records_where_they_are_needed_alone)
{
    char path[600];
    int64_t plain = WRITTEN * (30 + 46) + 22; /* headers and entries, the end */
    for (int k = 0; k < WRITTEN; k++) plain += 2 * (k < 10 ? 2 : k < 100 ? 3 : 4) + 1 + k; /* names, heads and data */
    for (size_t i = 0; i < sizeof far_from / sizeof *far_from; i++) {
        error why = {""};
        int64_t length = plain, at = 0;
        CHECK(write_archive(folder_path(path, "w.zip"), far_from[i], &why));
        for (int64_t k = 0; k < WRITTEN && far_from[i]; k++) {
            const int64_t far = (int64_t)far_from[i];
            const int64_t sizes = k + 1 >= far ? 16 : 0, header = at >= far ? 8 : 0;
            length += (sizes ? 4 + sizes : 0) + (sizes + header ? 4 + sizes + header : 0);
            at += 30 + (k < 10 ? 2 : k < 100 ? 3 : 4) + 1 + k + (sizes ? 4 + sizes : 0);
        }
        CHECK_EQ(source_file_bytes(path, &why), length + (far_from[i] ? 56 + 20 : 0));
        unsigned char date[4];
        CHECK(source_peek(path, 10, date, 4, "the test", &why) && memcmp(date, "\0\0\x21\0", 4) == 0); /* 1980-01-01, always */
    }
}

TEST(a_directory_that_gets_no_memory_is_an_error)
{
    char path[600], number[32];
    bool failed = true;
    for (long n = 1; failed && n < 40; n++) {
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + n);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        failed = !write_archive(folder_path(path, "w.zip"), 0, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (failed) CHECK(strstr(why.text, "the archive's directory"));
        else CHECK(n > 3); /* as often as it grows */
    }
    CHECK(!failed);
}

TEST(crc32_is_that_of_zip)
{
    CHECK_EQ(crc32_more(0, "123456789", 9), 0xCBF43926);
    for (size_t cut = 0; cut <= sizeof letters; cut++)
        CHECK_EQ(crc32_more(crc32_more(0, letters, cut), letters + cut, sizeof letters - cut),
                 crc32_more(0, letters, sizeof letters));
    unsigned char data[100];
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < sizeof data; i++) { /* bit by bit, of every length */
        CHECK_EQ(crc32_more(0, data, i), (uint32_t)~crc);
        data[i] = (unsigned char)test_random();
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(every_type_reads_as_floats_and_integers);
    RUN(headers_of_all_versions_and_spellings_are_read);
    RUN(headers_that_lie_are_refused);
    RUN(shapes_of_up_to_four_dimensions_are_read);
    RUN(a_header_that_is_written_is_read_back);
    RUN(prefixes_that_are_not_numpys_are_refused);
    RUN(one_text_is_read_whole);
    RUN(integers_of_floats_must_be_whole);
    RUN(an_element_that_is_no_integer_is_named_wherever_it_stands);
    RUN(integers_of_64_bits_are_rounded_once);
    RUN(members_stored_deflated_and_zip64_are_read);
    RUN(extra_fields_of_zip64_are_found_behind_others_and_hold_offsets);
    RUN(each_field_of_the_end_that_is_all_ones_is_read_from_zip64s);
    RUN(an_archive_may_end_with_a_comment);
    RUN(truncated_archives_are_refused_at_every_length);
    RUN(flipped_bits_are_found_or_harmless);
    RUN(absurd_directories_are_refused);
    RUN(damage_of_an_archive_that_spares_its_bytes_is_refused);
    RUN(a_directory_may_be_in_any_order);
    RUN_SLOW(an_archive_of_65535_members_need_not_be_zip64);
    RUN(members_may_touch_each_other_and_the_directory);
    RUN(flags_that_change_no_byte_are_passed_over);
    RUN(the_smallest_archive_has_no_member);
    RUN(a_directory_takes_64_MiB_at_most);
    RUN(a_member_unpacks_to_1032_times_its_size_at_most);
    RUN(members_that_unpack_to_more_or_less_than_declared_are_refused);
    RUN(packed_data_that_end_before_their_member_are_refused);
    RUN(an_archive_that_is_written_is_read_back_with_zip64_from_any_size_on);
    RUN(an_archive_that_is_written_is_read_by_pythons_zipfile);
    RUN(an_archive_that_is_written_has_zip64s_records_where_they_are_needed_alone);
    RUN(a_directory_that_gets_no_memory_is_an_error);
    RUN(crc32_is_that_of_zip);
    RUN(a_checksum_is_moved_by_as_many_bytes_as_follow);
    RUN(two_streams_of_a_member_have_its_checksum_together);
    RUN(what_is_skipped_ends_where_the_data_do);
    folder_remove();
    return test_finish();
}
