/* The .ggnn container (datasets/ggnn_file.h) and its reading as a data set (datasets/dataset.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "tests/test.h"

static char folder[256], target[512];

/* ---- helpers -------------------------------------------------------------------------------------------------- */

static void fill_i64(int64_t* out, int64_t first, int64_t n)
{
    for (int64_t i = 0; i < n; i++) out[i] = first + i;
}

/* The sections that most tests use: 5 nodes in a ring, features, labels, one split. marker tells two files apart. */
static bool write_sample(const char* path, float marker)
{
    static const uint8_t split[5] = {1, 1, 2, 3, 0};
    static const int32_t label[5] = {0, 2, 1, -1, 0};
    const int64_t nodes1 = 6, nodes = 5, feat[2] = {5, 3}, splits[2] = {1, 5};
    ggnn_file_writer w;
    bool good = ggnn_file_create(&w, path);
    int64_t* indptr = ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &nodes1);
    ggnn_node* indices = ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &nodes);
    float* x = ggnn_file_reserve(&w, "feat", GGNN_FILE_F32, 2, feat);
    if (!good || !indptr || !indices || !x) return false;
    fill_i64(indptr, 0, 6);
    for (int v = 0; v < 5; v++) indices[v] = (ggnn_node)((v + 1) % 5);
    for (int i = 0; i < 15; i++) x[i] = marker + (float)i;
    return ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label) &&
           ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) && ggnn_file_commit(&w);
}

/* The file's bytes in memory, aligned as a mapping is. */
static unsigned char* slurp(const char* path, int64_t* bytes)
{
    FILE* in = fopen(path, "rb");
    unsigned char* data;
    fseek(in, 0, SEEK_END);
    *bytes = ftell(in);
    rewind(in);
    data = malloc((size_t)*bytes + 64);
    if (fread(data, 1, (size_t)*bytes, in) != (size_t)*bytes) *bytes = 0;
    fclose(in);
    return data;
}

static void spill(const char* path, const void* data, int64_t bytes)
{
    FILE* out = fopen(path, "wb");
    if (fwrite(data, 1, (size_t)bytes, out) != (size_t)bytes) abort();
    fclose(out);
}

static bool opens(const void* data, int64_t bytes, ggnn_file* f)
{
    return ggnn_file_open_memory(f, "MEMORY", data, bytes);
}

/* Recomputes the table's CRC, so that what is wrong behind it is found by the checks of the fields. */
static void sign_table(unsigned char* file)
{
    uint32_t sections, crc;
    memcpy(&sections, file + 12, 4);
    crc = ggnn_file_crc32c(ggnn_file_crc32c(0, file, 28), file + 32, 80 * (int64_t)sections);
    memcpy(file + 28, &crc, 4);
}

static int num_temporaries(void)
{
    char command[600];
    int count = -1;
    FILE* list;
    snprintf(command, sizeof command, "ls -A %s | grep -c tmp", folder);
    list = popen(command, "r");
    if (fscanf(list, "%d", &count) != 1) count = -1;
    pclose(list);
    return count;
}

/* ---- CRC ------------------------------------------------------------------------------------------------------ */

TEST(crc32c_has_the_known_values_both_ways)
{
    unsigned char zeros[32] = {0}, ones[32], up[32];
    memset(ones, 255, sizeof ones);
    for (int i = 0; i < 32; i++) up[i] = (unsigned char)i;
    for (int way = 0; way < 2; way++) { /* RFC 3720, B.4 */
        uint32_t (*crc)(uint32_t, const void*, int64_t) = way ? ggnn_file_crc32c_plain : ggnn_file_crc32c;
        CHECK_EQ(crc(0, "123456789", 9), 0xE3069283u);
        CHECK_EQ(crc(0, zeros, 32), 0x8A9136AAu);
        CHECK_EQ(crc(0, ones, 32), 0x62A8AB43u);
        CHECK_EQ(crc(0, up, 32), 0x46DD794Eu);
        CHECK_EQ(crc(0, NULL, 0), 0);
    }
}

TEST(crc32c_by_table_and_by_instruction_agree_at_every_length_and_in_pieces)
{
    unsigned char data[5000];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (unsigned char)test_random();
    for (int64_t n = 0; n < 5000; n += n < 64 ? 1 : 61) {
        int64_t cut = test_below(n + 1);
        uint32_t whole = ggnn_file_crc32c(7, data, n);
        CHECK_EQ(ggnn_file_crc32c_plain(7, data, n), whole);
        CHECK_EQ(ggnn_file_crc32c(ggnn_file_crc32c_plain(7, data, cut), data + cut, n - cut), whole);
    }
}

/* ---- good files ----------------------------------------------------------------------------------------------- */

TEST(a_file_reads_back_as_written)
{
    ggnn_file f;
    const ggnn_file_section* feat;
    CHECK(write_sample(target, 10));
    if (!CHECK(ggnn_file_open(&f, target))) return;
    CHECK(ggnn_file_verify(&f));
    CHECK_EQ(f.num_sections, 5);
    feat = ggnn_file_need(&f, "feat", GGNN_FILE_F32, 2);
    CHECK_EQ(feat->dim[0], 5);
    CHECK_EQ(feat->dim[1], 3);
    CHECK_EQ((uintptr_t)ggnn_file_data(&f, feat) % GGNN_FILE_ALIGN, 0);
    CHECK_EQ(((const float*)ggnn_file_data(&f, feat))[14], 24);
    CHECK(ggnn_file_find(&f, "weight") == NULL);
    CHECK(ggnn_file_data(&f, NULL) == NULL);
    CHECK(ggnn_file_graph_crc(&f) >= 0);
    CHECK(ggnn_file_need(&f, "feat", GGNN_FILE_F16, 2) == NULL);
    CHECK(strstr(f.error, "feat") && strstr(f.error, "f32") && strstr(f.error, "f16"));
    CHECK_EQ(num_temporaries(), 0);
    ggnn_file_close(&f);
    ggnn_file_close(&f);
}

TEST(unknown_sections_and_types_are_skipped)
{
    int64_t bytes, five = 5;
    uint32_t type = 77;
    unsigned char* data;
    ggnn_file_writer w;
    ggnn_file f;
    dataset d;
    error why = {""};
    CHECK(write_sample(target, 0));
    CHECK(ggnn_file_open(&f, target));
    CHECK(ggnn_file_create(&w, target));
    for (int32_t i = 0; i < f.num_sections; i++) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    CHECK(ggnn_file_reserve(&w, "from_the_future", GGNN_FILE_F64, 1, &five) != NULL);
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    CHECK(dataset_open(&d, target, &why));
    dataset_close(&d);
    data = slurp(target, &bytes);
    memcpy(data + 32 + 5 * 80 + 16, &type, 4);
    sign_table(data);
    CHECK(opens(data, bytes, &f));
    CHECK(ggnn_file_verify(&f));
    CHECK_EQ(f.num_sections, 6);
    CHECK_STR(ggnn_file_type_name(f.section[5].type), "unknown");
    free(data);
}

TEST(the_graph_crc_is_the_graphs_and_nothing_elses)
{
    ggnn_file f;
    int64_t one, two, n = 6;
    ggnn_file_writer w;
    CHECK(write_sample(target, 0) && ggnn_file_open(&f, target));
    one = ggnn_file_graph_crc(&f);
    ggnn_file_close(&f);
    CHECK(write_sample(target, 99) && ggnn_file_open(&f, target)); /* other features */
    CHECK_EQ(ggnn_file_graph_crc(&f), one);
    CHECK(ggnn_file_create(&w, target));
    fill_i64(ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &n), 0, 6);
    n = 5;
    CHECK(ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &n) != NULL); /* other neighbours */
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
    CHECK(ggnn_file_open(&f, target));
    two = ggnn_file_graph_crc(&f);
    CHECK(two >= 0 && two != one);
    ggnn_file_close(&f);
    f.num_sections = 0;
    CHECK_EQ(ggnn_file_graph_crc(&f), -1);
}

TEST(empty_sections_have_an_address_and_take_no_bytes)
{
    const int64_t none = 0, wide[2] = {0, INT64_MAX};
    ggnn_file_writer w;
    ggnn_file f;
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_reserve(&w, "a", GGNN_FILE_F32, 1, &none) != NULL);
    CHECK(ggnn_file_reserve(&w, "b", GGNN_FILE_F32, 2, wide) != NULL);
    CHECK(ggnn_file_commit(&w) && ggnn_file_open(&f, target) && ggnn_file_verify(&f));
    CHECK_EQ(ggnn_file_find(&f, "b")->bytes, 0);
    ggnn_file_close(&f);
}

TEST(the_last_section_shrinks_and_others_follow_it)
{
    for (int64_t rows = 0; rows <= 5000; rows += rows < 1000 ? 333 : 1024) {
        const int64_t dim[2] = {5000, 3}, seven = 7;
        ggnn_file_writer w;
        ggnn_file f;
        int32_t* x;
        CHECK(ggnn_file_create(&w, target));
        x = ggnn_file_reserve(&w, "x", GGNN_FILE_I32, 2, dim);
        for (int i = 0; i < 15000; i++) x[i] = i + 1;
        CHECK(ggnn_file_shrink(&w, rows));
        fill_i64(ggnn_file_reserve(&w, "y", GGNN_FILE_I64, 1, &seven), 100, 7);
        CHECK(ggnn_file_commit(&w));
        if (!CHECK(ggnn_file_open(&f, target) && ggnn_file_verify(&f))) printf("%s\n", f.error);
        CHECK_EQ(ggnn_file_find(&f, "x")->dim[0], rows);
        if (rows) CHECK_EQ(((const int32_t*)ggnn_file_data(&f, ggnn_file_find(&f, "x")))[3 * rows - 1], 3 * rows);
        CHECK_EQ(((const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "y")))[6], 106);
        CHECK(f.bytes < 8192 + 12 * rows + 2 * 4096 + 4096);
        ggnn_file_close(&f);
    }
}

/* ---- damaged files -------------------------------------------------------------------------------------------- */

TEST(every_flipped_byte_is_found)
{
    int64_t bytes;
    unsigned char* data;
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    for (int64_t at = 0; at < bytes; at += at < GGNN_FILE_DATA ? 1 : 5) {
        unsigned char flip = (unsigned char)(1 << test_below(8));
        ggnn_file f;
        bool good;
        data[at] ^= flip;
        good = opens(data, bytes, &f) && ggnn_file_verify(&f);
        if (!CHECK(!good)) printf("  offset %lld\n", (long long)at);
        CHECK(strstr(f.error, "MEMORY: ") == f.error && strstr(f.error, "offset"));
        data[at] ^= flip;
    }
    free(data);
}

/* An empty section ends no gap: section a has 4 bytes at 8192, b none, and b's page is zero up to the file's end. */
TEST(a_flipped_byte_in_an_empty_sections_page_is_found)
{
    enum { at = GGNN_FILE_DATA + 4096 + 100 };
    const int64_t none = 0, one = 1;
    const int32_t seven = 7;
    int64_t bytes;
    unsigned char* data;
    ggnn_file_writer w;
    ggnn_file f;
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_append(&w, "a", GGNN_FILE_I32, 1, &one, &seven));
    CHECK(ggnn_file_append(&w, "b", GGNN_FILE_I32, 1, &none, &seven));
    CHECK(ggnn_file_commit(&w));
    data = slurp(target, &bytes);
    if (CHECK(bytes > at && opens(data, bytes, &f) && ggnn_file_verify(&f))) {
        CHECK_EQ(data[at], 0);
        data[at] = 1;
        CHECK(opens(data, bytes, &f) && !ggnn_file_verify(&f));
        CHECK(strstr(f.error, "12388") != NULL); /* 8192 + 4096 + 100 */
    }
    free(data);
}

TEST(a_flip_in_the_data_names_section_and_offset)
{
    int64_t bytes;
    unsigned char* data;
    ggnn_file f;
    char where[32];
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    CHECK(opens(data, bytes, &f));
    snprintf(where, sizeof where, "offset %lld", (long long)ggnn_file_find(&f, "feat")->offset);
    data[ggnn_file_find(&f, "feat")->offset + 17] ^= 4;
    CHECK(opens(data, bytes, &f)); /* opening reads no array */
    CHECK(!ggnn_file_verify(&f));
    CHECK(strstr(f.error, "'feat'") && strstr(f.error, where));
    free(data);
}

TEST(a_damaged_section_is_not_copied)
{
    int64_t bytes;
    unsigned char* data;
    ggnn_file f;
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    CHECK(opens(data, bytes, &f));
    data[ggnn_file_find(&f, "feat")->offset + 17] ^= 4;
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        const bool good = strcmp(s->name, "feat") != 0;
        ggnn_file_writer w;
        CHECK(ggnn_file_create(&w, target));
        CHECK_EQ(ggnn_file_copy(&w, &f, s), good);
        CHECK(good || strstr(w.error, "MEMORY: damaged section 'feat'"));
        CHECK_EQ(ggnn_file_commit(&w), good);
        ggnn_file_abort(&w);
    }
    free(data);
}

TEST(every_truncation_and_every_tail_is_found)
{
    int64_t bytes;
    unsigned char* data;
    char path[600];
    ggnn_file f;
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    data = realloc(data, (size_t)bytes + 8192);
    memset(data + bytes, 0, 8192);
    for (int64_t n = 0; n <= bytes + 8192; n += n < 40 || n % 4096 >= 4095 || n % 4096 <= 1 ? 1
                                                : n % 4096 < 3000                           ? 997
                                                                                            : 1)
        CHECK_EQ(opens(data, n, &f), n == bytes);
    snprintf(path, sizeof path, "%s/cut.ggnn", folder);
    for (int64_t n = 0; n < bytes; n += 4096) {
        spill(path, data, n);
        CHECK(!ggnn_file_open(&f, path));
        CHECK(strstr(f.error, "cut.ggnn") != NULL);
        ggnn_file_close(&f);
    }
    free(data);
}

TEST(foreign_and_missing_files_are_named)
{
    static const char* const foreign[] = {"", "PK\3\4 npz", "\x93NUMPY", "0 1\n1 2\n", "\x1f\x8b\x08 gz"};
    char path[600];
    ggnn_file f;
    snprintf(path, sizeof path, "%s/foreign", folder);
    for (int i = 0; i < 5; i++) {
        spill(path, foreign[i], (int64_t)strlen(foreign[i]));
        CHECK(!ggnn_file_open(&f, path));
        CHECK(strstr(f.error, "not a .ggnn file") != NULL);
    }
    CHECK(!ggnn_file_open(&f, "/nonexistent/x.ggnn"));
    CHECK(strstr(f.error, "/nonexistent/x.ggnn: cannot open") != NULL);
    CHECK(!ggnn_file_open(&f, folder));
    CHECK(strstr(f.error, "is a folder, a file is needed") != NULL);
}

/* One field of the signed table made wrong: where, how many bytes, what, and a word of the message. */
static void check_wrong_field(const unsigned char* good, int64_t bytes, int64_t at, int width, int64_t value,
                              const char* word)
{
    unsigned char* data = malloc((size_t)bytes);
    ggnn_file f;
    memcpy(data, good, (size_t)bytes);
    memcpy(data + at, &value, (size_t)width);
    sign_table(data);
    CHECK(!opens(data, bytes, &f));
    if (!CHECK(strstr(f.error, word) != NULL)) printf("  %s\n", f.error);
    free(data);
}

/* The file with the entries of its table in the order from the last to the first. */
static void check_opens_turned(int sections)
{
    int64_t bytes;
    unsigned char entry[80], *data = slurp(target, &bytes);
    ggnn_file f;
    for (unsigned char *a = data + 32, *b = a + 80 * (sections - 1); a < b; a += 80, b -= 80) {
        memcpy(entry, a, 80);
        memcpy(a, b, 80);
        memcpy(b, entry, 80);
    }
    sign_table(data);
    if (!CHECK(opens(data, bytes, &f))) printf("  %s\n", f.error);
    free(data);
}

/* The table has no order, and arrays may touch: those of a page each do. */
TEST(sections_in_falling_order_of_their_places_are_read)
{
    static const float values[1024];
    const int64_t page = 1024;
    ggnn_file_writer w;
    CHECK(write_sample(target, 3));
    check_opens_turned(5);
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "one", GGNN_FILE_F32, 1, &page, values) &&
          ggnn_file_append(&w, "two", GGNN_FILE_F32, 1, &page, values) && ggnn_file_commit(&w));
    check_opens_turned(2);
}

TEST(absurd_tables_with_a_good_crc_are_refused)
{
    enum { name = 0, type = 16, num_dims = 20, dim = 24, offset = 56, size = 64, zero = 76 };
    int64_t bytes;
    unsigned char* data;
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    for (int64_t i = 0, at = 32; i < 5; i++, at += 80) {
        check_wrong_field(data, bytes, at + name, 1, 0, "name");
        check_wrong_field(data, bytes, at + name, 1, '\n', "name");
        check_wrong_field(data, bytes, at + name + 15, 1, 'x', "name");
        check_wrong_field(data, bytes, at + type, 4, i == 4 ? GGNN_FILE_F64 : GGNN_FILE_U8, "product");
        check_wrong_field(data, bytes, at + num_dims, 4, 0, "dimensions");
        check_wrong_field(data, bytes, at + num_dims, 4, 5, "dimensions");
        check_wrong_field(data, bytes, at + num_dims, 4, 0xFFFFFFFF, "dimensions");
        check_wrong_field(data, bytes, at + dim, 8, -1, "negative dimension");
        check_wrong_field(data, bytes, at + dim, 8, INT64_MAX, "product");
        check_wrong_field(data, bytes, at + dim, 8, INT64_MAX / 4 + 2, "product");
        check_wrong_field(data, bytes, at + dim, 8, 4, "product");
        check_wrong_field(data, bytes, at + dim + 16, 8, 1, "unused dimension");
        check_wrong_field(data, bytes, at + offset, 8, 4096, "within the section table");
        check_wrong_field(data, bytes, at + offset, 8, -4096, "within the section table");
        check_wrong_field(data, bytes, at + offset, 8, 8193, "multiple of 4096");
        check_wrong_field(data, bytes, at + offset, 8, bytes, "pass the end");
        check_wrong_field(data, bytes, at + offset, 8, INT64_MAX / 4096 * 4096, "pass the end");
        check_wrong_field(data, bytes, at + size, 8, INT64_MAX, "product");
        check_wrong_field(data, bytes, at + zero, 4, 1, "reserved");
        if (i) check_wrong_field(data, bytes, at + offset, 8, 8192, "overlap");
        if (i) check_wrong_field(data, bytes, at + name, 8, 0x727470646E69, "twice"); /* "indptr" */
    }
    /* 4 x (2^62 + 5) bytes are the label's 20 where 64 bits wrap */
    check_wrong_field(data, bytes, 32 + 3 * 80 + dim, 8, ((int64_t)1 << 62) + 5, "product");
    check_wrong_field(data, bytes, 8, 4, 2, "version 2");
    check_wrong_field(data, bytes, 12, 4, 101, "101 sections");
    check_wrong_field(data, bytes, 16, 8, bytes + 4096, "truncated");
    check_wrong_field(data, bytes, 24, 4, 1, "reserved");
    free(data);
}

TEST(a_refused_file_has_no_sections)
{
    const int64_t one = 1, past = 1 << 20;
    const int32_t seven = 7;
    int64_t bytes;
    unsigned char* data;
    ggnn_file_writer w;
    ggnn_file f;
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_append(&w, "a", GGNN_FILE_I32, 1, &one, &seven) && ggnn_file_commit(&w));
    data = slurp(target, &bytes);
    CHECK_EQ(bytes, 12288);
    CHECK(opens(data, bytes, &f) && ggnn_file_find(&f, "a") != NULL);
    memcpy(data + 32 + 56, &past, 8); /* the section's offset */
    sign_table(data);
    CHECK(!opens(data, bytes, &f));
    CHECK(ggnn_file_find(&f, "a") == NULL);
    free(data);
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

TEST(a_writer_refuses_what_no_file_can_hold)
{
    const int64_t one = 1, minus = -1, huge[2] = {INT64_MAX / 2, 16};
    char name[32];
    struct stat status;
    ggnn_file_writer w;
    unlink(target);
    for (int wrong = 0; wrong < 7; wrong++) {
        CHECK(ggnn_file_create(&w, target));
        CHECK(ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &one) != NULL);
        if (wrong == 0) CHECK(!ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &one));
        if (wrong == 1) CHECK(!ggnn_file_reserve(&w, "sixteen_letters_", GGNN_FILE_U8, 1, &one));
        if (wrong == 2) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_U8, 1, &minus));
        if (wrong == 3) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_F64, 2, huge));
        if (wrong == 4) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_SPARSE_ROWS, 1, &one));
        if (wrong == 5) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_U8, 5, &one));
        for (int i = 1; wrong == 6 && i <= GGNN_FILE_MAX_SECTIONS; i++) {
            snprintf(name, sizeof name, "s%d", i);
            CHECK_EQ(ggnn_file_reserve(&w, name, GGNN_FILE_U8, 1, &one) != NULL, i < GGNN_FILE_MAX_SECTIONS);
        }
        CHECK(w.error[0] != 0);
        CHECK(!ggnn_file_reserve(&w, "late", GGNN_FILE_U8, 1, &one)); /* the error stays */
        CHECK(!ggnn_file_commit(&w));
        CHECK(stat(target, &status) != 0 && errno == ENOENT);
        CHECK_EQ(num_temporaries(), 0);
        ggnn_file_abort(&w);
    }
    CHECK(!ggnn_file_create(&w, "/nonexistent/x.ggnn"));
    CHECK(!ggnn_file_commit(&w) && strstr(w.error, "/nonexistent/x.ggnn: cannot create") != NULL);
    CHECK(!ggnn_file_create(&w, folder));
    CHECK(strstr(w.error, "is a folder, no file can be put there") != NULL);
}

TEST(a_hundred_sections_fit)
{
    ggnn_file_writer w;
    ggnn_file f;
    CHECK(ggnn_file_create(&w, target));
    for (int i = 0; i < GGNN_FILE_MAX_SECTIONS; i++) {
        const int64_t one = 1, value = 1000 + i;
        char name[32];
        snprintf(name, sizeof name, "section-%d", i);
        CHECK(ggnn_file_append(&w, name, GGNN_FILE_I64, 1, &one, &value));
    }
    CHECK(ggnn_file_commit(&w));
    CHECK(ggnn_file_open(&f, target) && ggnn_file_verify(&f));
    CHECK_EQ(*(const int64_t*)ggnn_file_data(&f, ggnn_file_find(&f, "section-99")), 1099);
    ggnn_file_close(&f);
}

/* A full disk is an error and not a signal: here a limit on the size of files stands for it. */
TEST(no_room_is_an_error_and_leaves_the_old_file)
{
    int status = -1;
    CHECK(write_sample(target, 5));
    fflush(stdout);
    if (fork() == 0) {
        const struct rlimit limit = {1 << 20, 1 << 20};
        const int64_t dim = 1 << 20;
        ggnn_file_writer w;
        bool good;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        good = ggnn_file_create(&w, target) && !ggnn_file_reserve(&w, "x", GGNN_FILE_I64, 1, &dim) &&
               strstr(w.error, "no room for section 'x', 8388608 bytes") && !ggnn_file_commit(&w);
        _exit(good ? 0 : 1);
    }
    wait(&status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_EQ(num_temporaries(), 0);
}

/* The marker of the target, 0 where it is not whole. */
static float target_marker(void)
{
    ggnn_file f;
    float marker = 0;
    if (ggnn_file_open(&f, target) && ggnn_file_verify(&f))
        marker = *(const float*)ggnn_file_data(&f, ggnn_file_find(&f, "feat"));
    ggnn_file_close(&f);
    return marker;
}

/* The child rewrites the target without end; the parent kills it at some moment, and reads meanwhile. */
TEST(kill_9_at_any_moment_leaves_the_old_file_or_the_new_one)
{
    CHECK(write_sample(target, 1));
    for (int trial = 0; trial < 30; trial++) {
        int status;
        pid_t child;
        fflush(stdout);
        child = fork();
        if (child == 0)
            for (int i = 0;; i++) write_sample(target, (float)(i % 3 + 1));
        for (int look = 0; look < 4; look++) {
            usleep((useconds_t)test_below(3000));
            CHECK(target_marker() > 0);
        }
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        CHECK(WIFSIGNALED(status));
        CHECK(target_marker() > 0);
    }
    CHECK(write_sample(target, 9)); /* the next writer clears what the killed ones left */
    CHECK_EQ(target_marker(), 9);
    CHECK_EQ(num_temporaries(), 0);
}

TEST(a_writer_leaves_the_temporaries_of_the_living_alone_and_the_last_commit_counts)
{
    const int64_t one = 1;
    ggnn_file_writer first, second;
    ggnn_file f;
    CHECK(ggnn_file_create(&first, target) && ggnn_file_create(&second, target));
    CHECK_EQ(num_temporaries(), 2);
    CHECK(ggnn_file_reserve(&first, "first", GGNN_FILE_U8, 1, &one) && ggnn_file_commit(&first));
    CHECK(ggnn_file_reserve(&second, "second", GGNN_FILE_U8, 1, &one) && ggnn_file_commit(&second));
    CHECK(ggnn_file_open(&f, target) && ggnn_file_find(&f, "second"));
    CHECK_EQ(num_temporaries(), 0);
    ggnn_file_close(&f);
}

/* The next call of flock: what another writer does first, and whether that one has the lock. */
static void (*before_flock)(void);
static bool other_has_lock;
int flock(int fd, int operation)
{
    void (*other_does)(void) = before_flock;
    before_flock = NULL;
    if (other_does) other_does();
    if (!other_has_lock) return (int)syscall(SYS_flock, fd, operation);
    other_has_lock = false;
    errno = EWOULDBLOCK;
    return -1;
}

/* Another writer has locked the new file before its own did, and is about to remove it as stale. */
TEST(a_writer_whose_new_file_is_taken_for_stale_takes_the_next_number)
{
    char name[2][4096];
    ggnn_file_writer w;
    for (int i = 0; i < 2; i++) ggnn_file_temporary(name[i], target, i);
    other_has_lock = true;
    CHECK(ggnn_file_create(&w, target));
    CHECK_STR(w.temporary, name[1]);
    unlink(name[0]);
    CHECK(ggnn_file_commit(&w));
    CHECK_EQ(num_temporaries(), 0);
}

static ggnn_file_writer saving;
static void save_and_begin_again(void) { CHECK(ggnn_file_commit(&saving) && ggnn_file_create(&saving, target)); }

/* It opens a file that is still being written, and looks whether that one is locked when it has got its name. */
TEST(a_writer_that_looks_for_stale_files_removes_no_later_file_of_the_same_name)
{
    ggnn_file_writer w;
    CHECK(ggnn_file_create(&saving, target));
    before_flock = save_and_begin_again;
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_commit(&saving));
    CHECK(ggnn_file_commit(&w));
    CHECK_EQ(num_temporaries(), 0);
}

TEST(a_stale_temporary_is_cleared_and_a_neighbour_with_a_like_name_is_not)
{
    static const char* const end[] = {"123.0", "7.0", "4194304.12"};
    char stale[700], neighbour[700];
    snprintf(neighbour, sizeof neighbour, "%s.v2.tmp", target);
    for (int i = 0; i < 3; i++) {
        snprintf(stale, sizeof stale, "%s.%s.tmp", target, end[i]);
        spill(stale, "x", 1);
        spill(neighbour, "x", 1);
        CHECK(write_sample(target, 2));
        CHECK(access(stale, F_OK) != 0);
        CHECK(access(neighbour, F_OK) == 0);
        unlink(neighbour);
    }
}

TEST(a_name_of_255_bytes_is_written_and_a_longer_one_refused_before_the_work)
{
    char path[700], stale[700];
    ggnn_file_writer w;
    int folder_bytes = snprintf(path, sizeof path, "%s/", folder);
    memset(path + folder_bytes, 'n', 256);
    path[folder_bytes + 256] = 0;
    CHECK(!ggnn_file_create(&w, path) && strstr(w.error, "File name too long"));
    path[folder_bytes + 255] = 0;
    snprintf(stale, sizeof stale, "%.*s.123.0.tmp", folder_bytes + 200, path);
    spill(stale, "x", 1);
    CHECK(write_sample(path, 5));
    CHECK(access(stale, F_OK) != 0);
    CHECK(unlink(path) == 0 && num_temporaries() == 0);
}

TEST(a_name_without_a_folder_is_written_in_the_current_one)
{
    char back[4096];
    CHECK(getcwd(back, sizeof back) && chdir(folder) == 0);
    CHECK(write_sample("bare.ggnn", 4));
    CHECK(access("bare.ggnn", R_OK) == 0 && num_temporaries() == 0);
    CHECK(unlink("bare.ggnn") == 0 && chdir(back) == 0);
}

/* Of whoever may read, write, or run it. */
TEST(a_file_takes_the_permissions_of_the_one_whose_place_it_takes)
{
    static const mode_t mode[] = {0777, 0750, 0604};
    struct stat status;
    for (int i = 0; i < 3; i++) {
        CHECK(write_sample(target, 2));
        CHECK(chmod(target, mode[i]) == 0 && write_sample(target, 3));
        CHECK(stat(target, &status) == 0);
        CHECK_EQ(status.st_mode & 0777, mode[i]);
    }
}

/* ---- scratch -------------------------------------------------------------------------------------------------- */

TEST(scratch_keeps_its_contents_when_resized_and_has_no_name)
{
    ggnn_file_scratch s;
    CHECK(ggnn_file_scratch_open(&s, target, 10));
    CHECK_EQ(num_temporaries(), 0);
    memset(s.data, 'a', 10);
    CHECK(ggnn_file_scratch_resize(&s, 1 << 20));
    CHECK_EQ(((char*)s.data)[9], 'a');
    CHECK_EQ(((char*)s.data)[10], 0);
    memset(s.data, 'b', 1 << 20);
    CHECK(ggnn_file_scratch_resize(&s, 5000));
    CHECK(ggnn_file_scratch_resize(&s, 20000)); /* what comes back is zero */
    CHECK_EQ(((char*)s.data)[4999], 'b');
    for (int i = 5000; i < 20000; i++) CHECK_EQ(((char*)s.data)[i], 0);
    CHECK(ggnn_file_scratch_resize(&s, 5000));
    CHECK(ggnn_file_scratch_resize(&s, 4999)); /* within a page, too */
    CHECK(ggnn_file_scratch_resize(&s, 5010));
    CHECK_EQ(((char*)s.data)[4998], 'b');
    for (int i = 4999; i < 5010; i++) CHECK_EQ(((char*)s.data)[i], 0);
    memset(s.data, 'b', 5000);
    CHECK(!ggnn_file_scratch_resize(&s, INT64_MAX));
    CHECK(s.error[0] && ((char*)s.data)[4999] == 'b'); /* a failure keeps the old */
    ggnn_file_scratch_close(&s);
    ggnn_file_scratch_close(&s);
    CHECK(!ggnn_file_scratch_open(&s, "/nonexistent/x", 10));
    ggnn_file_scratch_close(&s);
}

/* ---- data sets ------------------------------------------------------------------------------------------------ */

TEST(a_dataset_has_shapes_classes_and_splits)
{
    dataset d;
    error why = {""};
    int64_t count[4];
    ggnn_graph graph;
    ggnn_store features;
    ggnn_node ids[2];
    const uint8_t* split;
    CHECK(write_sample(target, 1));
    if (!CHECK(dataset_open(&d, target, &why))) return;
    CHECK_EQ(d.num_nodes, 5);
    CHECK_EQ(d.num_edges, 5);
    CHECK_EQ(d.feat.width, 3);
    CHECK_EQ(d.feat.type, GGNN_F32);
    CHECK(d.csc.weight == NULL && d.edge_feat.rows == NULL && d.target == NULL && d.external_id == NULL);
    CHECK(dataset_count(&d, &why));
    CHECK_EQ(d.num_classes, 3);
    features = dataset_features(&d);
    CHECK_EQ(((const float*)ggnn_row(&features, 4))[2], 15);
    graph = dataset_graph(&d);
    CHECK_EQ(*ggnn_neighbors(&graph, 4).id, 0);
    split = dataset_split(&d, 0, count, &why);
    CHECK(split == d.split);
    CHECK_EQ(count[SPLIT_TRAIN], 2);
    CHECK_EQ(count[SPLIT_VAL], 1);
    CHECK_EQ(count[SPLIT_TEST], 1);
    CHECK_EQ(count[SPLIT_NONE], 1);
    CHECK_EQ(dataset_split_ids(&d, 0, SPLIT_TRAIN, ids), 2);
    CHECK(ids[0] == 0 && ids[1] == 1);
    CHECK(dataset_split(&d, 1, count, &why) == NULL);
    CHECK(strstr(why.text, "1 splits, number 1") != NULL);
    dataset_close(&d);
    dataset_close(&d);
}

/* Writes a graph of 5 nodes and 4 edges and one further section, and expects the data set to be refused. */
static void check_refused(const char* name, ggnn_file_type type, int32_t num_dims, int64_t a, int64_t b,
                          const char* word)
{
    const int64_t nodes1 = 6, edges = 4, dim[2] = {a, b};
    ggnn_file_writer w;
    dataset d;
    error why = {""};
    bool refused;
    CHECK(ggnn_file_create(&w, target));
    if (strcmp(name, "indptr") != 0) CHECK(ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &nodes1) != NULL);
    if (strcmp(name, "indices") != 0) CHECK(ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &edges) != NULL);
    if (num_dims) CHECK(ggnn_file_reserve(&w, name, type, num_dims, dim) != NULL);
    CHECK(ggnn_file_commit(&w));
    refused = !dataset_open(&d, target, &why);
    CHECK(refused);
    if (!CHECK(strstr(why.text, name) && strstr(why.text, word))) printf("  %s: %s\n", name, why.text);
    dataset_close(&d);
}

TEST(sections_that_do_not_fit_each_other_are_refused)
{
    const ggnn_file_type other = DATASET_NODE == GGNN_FILE_I32 ? GGNN_FILE_I64 : GGNN_FILE_I32;
    check_refused("indptr", GGNN_FILE_I64, 0, 0, 0, "no section");
    check_refused("indices", GGNN_FILE_I64, 0, 0, 0, "no section");
    check_refused("indptr", GGNN_FILE_I64, 1, 0, 0, "(N + 1)");
    check_refused("indptr", GGNN_FILE_I32, 1, 6, 0, "not i64");
    check_refused("indptr", GGNN_FILE_I64, 2, 6, 1, "not i64");
    check_refused("indices", GGNN_FILE_F32, 1, 4, 0, "i32 or i64 (E)");
    check_refused("indices", other, 1, 4, 0, DATASET_NODE == GGNN_FILE_I32 ? "make NODE64=1" : "plain `make`");
    check_refused("weight", GGNN_FILE_F32, 1, 3, 0, "f32 (3), not f32 (E)");
    check_refused("weight", GGNN_FILE_F64, 1, 4, 0, "f64 (4), not f32 (E)");
    check_refused("feat", GGNN_FILE_F32, 2, 6, 2, "(N, F)");
    check_refused("feat", GGNN_FILE_F32, 1, 5, 2, "(N, F)");
    check_refused("feat", GGNN_FILE_U8, 2, 5, 2, "(N, F)");
    check_refused("feat", GGNN_FILE_F16, 2, 5, (1 << 24) + 1, "wide");
    check_refused("edge_feat", GGNN_FILE_F32, 2, 5, 2, "(E, F)");
    check_refused("label", GGNN_FILE_I64, 1, 5, 0, "i32 or f32 (N)");
    check_refused("label", GGNN_FILE_I32, 1, 4, 0, "i32 or f32 (N)");
    check_refused("split", GGNN_FILE_U8, 1, 5, 0, "(S, N)");
    check_refused("split", GGNN_FILE_U8, 2, 5, 1, "(S, N)");
    check_refused("split", GGNN_FILE_U8, 2, 1001, 5, "(S, N)");
    check_refused("external_id", GGNN_FILE_I32, 1, 5, 0, "i64 (N)");
    check_refused("external_id", GGNN_FILE_I64, 1, 4, 0, "' at offset 16384 is i64 (4), not i64 (N) for N = 5, E = 4");
    check_refused("external_id", GGNN_FILE_I64, 2, 5, 1, "is i64 (5, 1), not i64 (N) for N = 5, E = 4");
    check_refused("indices", DATASET_NODE, 2, 4, 1, "(4, 1), not i32 or i64 (E) for N = 5, E = 4");
    check_refused("indptr", GGNN_FILE_I64, 1, 0, 0, "is i64 (0), not i64 (N + 1) for N = -1");
    check_refused("weight", GGNN_FILE_F32, 2, 4, 1, "is f32 (4, 1), not f32 (E)");
    check_refused("weight", GGNN_FILE_F32, 1, 5, 0, "is f32 (5), not f32 (E) for N = 5, E = 4");
    check_refused("feat", GGNN_FILE_F16, 2, 4, 2, "is f16 (4, 2), not f32 or f16 (N, F) for N = 5, E = 4");
    check_refused("feat", GGNN_FILE_I32, 2, 5, 2, "is i32 (5, 2), not f32 or f16 (N, F)");
    check_refused("feat", GGNN_FILE_F32, 2, 5, 0, "is 0 wide, not 1 to 16777216");
    check_refused("edge_feat", GGNN_FILE_F32, 1, 4, 0, "is f32 (4), not f32 or f16 (E, F)");
    check_refused("edge_feat", GGNN_FILE_F64, 2, 4, 1, "is f64 (4, 1), not f32 or f16 (E, F)");
    check_refused("label", GGNN_FILE_F32, 1, 6, 0, "is f32 (6), not i32 or f32 (N)");
    check_refused("label", GGNN_FILE_I32, 2, 5, 1, "is i32 (5, 1), not i32 or f32 (N)");
    check_refused("label", GGNN_FILE_F32, 2, 5, 1, "is f32 (5, 1), not i32 or f32 (N)");
    check_refused("split", GGNN_FILE_I32, 2, 1, 5, "is i32 (1, 5), not u8 (S, N), S up to 1000,");
    check_refused("split", GGNN_FILE_U8, 2, 1, 6, "is u8 (1, 6), not u8 (S, N)");
    check_refused("split", GGNN_FILE_U8, 2, 1, 4, "is u8 (1, 4), not u8 (S, N)");
}

/* The largest that there may be, of two nodes and three edges; each row of each section is where it should be. */
TEST(a_dataset_may_have_a_thousand_splits_and_features_of_both_kinds)
{
    enum { SPLITS = 1000 };
    static const int64_t indptr[] = {0, 2, 3}, name[] = {-5, INT64_MAX}, three = 3, two = 2, splits[2] = {SPLITS, 2}, feat[2] = {2, 2}, edge_feat[2] = {3, 1};
    static const ggnn_node indices[] = {0, 1, 0};
    static const float weight[] = {1, 2, 3}, target_of[] = {NAN, 2.5f}, of_edge[] = {7, 8, 9};
    static const uint16_t half[] = {0x3C00, 0x4000, 0x4200, 0x4400};
    static uint8_t split[SPLITS][2];
    ggnn_file_writer w;
    dataset d;
    error why = {""};
    int64_t count[4];
    ggnn_node ids[2];
    split[SPLITS - 1][0] = SPLIT_TEST;
    split[SPLITS - 1][1] = SPLIT_VAL;
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "indptr", GGNN_FILE_I64, 1, &three, indptr) &&
          ggnn_file_append(&w, "indices", DATASET_NODE, 1, &three, indices) && ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &three, weight) &&
          ggnn_file_append(&w, "feat", GGNN_FILE_F16, 2, feat, half) && ggnn_file_append(&w, "edge_feat", GGNN_FILE_F32, 2, edge_feat, of_edge) &&
          ggnn_file_append(&w, "label", GGNN_FILE_F32, 1, &two, target_of) && ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split) &&
          ggnn_file_append(&w, "external_id", GGNN_FILE_I64, 1, &two, name) && ggnn_file_commit(&w));
    if (!CHECK(dataset_open(&d, target, &why))) return;
    const ggnn_store rows = dataset_features(&d), edges = dataset_edge_features(&d);
    const ggnn_graph graph = dataset_graph(&d);
    CHECK(d.num_nodes == 2 && d.num_edges == 3 && d.num_splits == SPLITS && !d.label && d.target[1] == 2.5f && d.external_id[1] == INT64_MAX);
    CHECK(d.feat.type == GGNN_F16 && d.feat.width == 2 && d.edge_feat.type == GGNN_F32 && d.edge_feat.width == 1);
    CHECK(((const uint16_t*)ggnn_row(&rows, 1))[1] == 0x4400 && *(const float*)ggnn_row(&edges, 2) == 9);
    CHECK(ggnn_neighbors(&graph, 0).degree == 2 && ggnn_neighbors(&graph, 1).weight[0] == 3 && dataset_check_graph(&d, &why));
    CHECK(dataset_count(&d, &why) && d.num_classes == 0);
    CHECK(dataset_split(&d, SPLITS - 1, count, &why) && count[SPLIT_TEST] == 1 && count[SPLIT_VAL] == 1 && count[SPLIT_TRAIN] == 0 && count[SPLIT_NONE] == 0);
    CHECK(dataset_split_ids(&d, SPLITS - 1, SPLIT_TEST, ids) == 1 && ids[0] == 0 && dataset_split_ids(&d, SPLITS - 1, SPLIT_VAL, ids) == 1 && ids[0] == 1);
    CHECK(dataset_split_ids(&d, SPLITS - 2, SPLIT_VAL, ids) == 0 && dataset_split_ids(&d, 0, SPLIT_NONE, ids) == 2);
    CHECK(!dataset_split(&d, SPLITS, count, &why) && strstr(why.text, "it has 1000 splits, number 1000 (from 0) is not one"));
    why.text[0] = 0;
    CHECK(!dataset_split(&d, -1, count, &why) && strstr(why.text, "it has 1000 splits, number -1 (from 0) is not one"));
    dataset_close(&d);
    CHECK(!d.csc.indptr && !d.num_nodes && !d.split);
}

TEST(labels_and_splits_out_of_range_name_the_node)
{
    const int64_t nodes1 = 6, none = 0, nodes = 5, splits[2] = {2, 5};
    static const int32_t label[5] = {0, 1, -2, 0, 0};
    static const uint8_t split[10] = {0, 1, 2, 3, 0, 0, 0, 0, 4, 0};
    ggnn_file_writer w;
    dataset d;
    error why = {""};
    int64_t count[4];
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_reserve(&w, "indptr", GGNN_FILE_I64, 1, &nodes1) != NULL);
    CHECK(ggnn_file_reserve(&w, "indices", DATASET_NODE, 1, &none) != NULL);
    CHECK(ggnn_file_append(&w, "label", GGNN_FILE_I32, 1, &nodes, label));
    CHECK(ggnn_file_append(&w, "split", GGNN_FILE_U8, 2, splits, split));
    CHECK(ggnn_file_commit(&w) && dataset_open(&d, target, &why));
    CHECK(!dataset_count(&d, &why));
    CHECK(strstr(why.text, "node 2 has label -2") != NULL);
    why.text[0] = 0;
    CHECK(dataset_split(&d, 0, count, &why) != NULL);
    CHECK(dataset_split(&d, 1, count, &why) == NULL);
    CHECK(strstr(why.text, "node 3 has value 4 in split 1") != NULL);
    dataset_close(&d);
}

int main(int argc, char** argv)
{
    char command[600];
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(1);
    snprintf(folder, sizeof folder, "%s/ggnn-test-file-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (!mkdtemp(folder)) return 2;
    snprintf(target, sizeof target, "%s/a.ggnn", folder);
    RUN(crc32c_has_the_known_values_both_ways);
    RUN(crc32c_by_table_and_by_instruction_agree_at_every_length_and_in_pieces);
    RUN(a_file_reads_back_as_written);
    RUN(unknown_sections_and_types_are_skipped);
    RUN(the_graph_crc_is_the_graphs_and_nothing_elses);
    RUN(empty_sections_have_an_address_and_take_no_bytes);
    RUN(the_last_section_shrinks_and_others_follow_it);
    RUN(every_flipped_byte_is_found);
    RUN(a_flipped_byte_in_an_empty_sections_page_is_found);
    RUN(a_flip_in_the_data_names_section_and_offset);
    RUN(a_damaged_section_is_not_copied);
    RUN(every_truncation_and_every_tail_is_found);
    RUN(foreign_and_missing_files_are_named);
    RUN(sections_in_falling_order_of_their_places_are_read);
    RUN(absurd_tables_with_a_good_crc_are_refused);
    RUN(a_refused_file_has_no_sections);
    RUN(a_writer_refuses_what_no_file_can_hold);
    RUN(a_hundred_sections_fit);
    RUN(no_room_is_an_error_and_leaves_the_old_file);
    RUN(kill_9_at_any_moment_leaves_the_old_file_or_the_new_one);
    RUN(a_writer_leaves_the_temporaries_of_the_living_alone_and_the_last_commit_counts);
    RUN(a_writer_whose_new_file_is_taken_for_stale_takes_the_next_number);
    RUN(a_writer_that_looks_for_stale_files_removes_no_later_file_of_the_same_name);
    RUN(a_stale_temporary_is_cleared_and_a_neighbour_with_a_like_name_is_not);
    RUN(a_name_of_255_bytes_is_written_and_a_longer_one_refused_before_the_work);
    RUN(a_name_without_a_folder_is_written_in_the_current_one);
    RUN(a_file_takes_the_permissions_of_the_one_whose_place_it_takes);
    RUN(scratch_keeps_its_contents_when_resized_and_has_no_name);
    RUN(a_dataset_has_shapes_classes_and_splits);
    RUN(sections_that_do_not_fit_each_other_are_refused);
    RUN(a_dataset_may_have_a_thousand_splits_and_features_of_both_kinds);
    RUN(labels_and_splits_out_of_range_name_the_node);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 2;
    return test_finish();
}
