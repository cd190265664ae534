/* The .ggnn container (datasets/ggnn_file.h) and its reading as a data set (datasets/dataset.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "datasets/output.h"
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

/* What a call must give back: descriptors, and the pieces of files of the folder that are mapped. */
typedef struct {
    int descriptors, mappings;
} held;

static held what_is_held(void)
{
    char line[4096];
    held h = {0, 0};
    for (int fd = 0; fd < 256; fd++) h.descriptors += fcntl(fd, F_GETFD) >= 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) h.mappings += strstr(line, folder) != NULL;
    if (maps) fclose(maps);
    return h;
}

/* Memory of another's where some was given back. NULL: it is not to be had there. */
static void* another_at(void* at)
{
    void* memory = mmap(at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == at) return memory;
    if (memory != MAP_FAILED) munmap(memory, 4096);
    return NULL;
}

/* Is it there still? */
static bool gives_back_another(void* memory)
{
    unsigned char in_memory;
    return !memory || (mincore(memory, 4096, &in_memory) == 0 && munmap(memory, 4096) == 0);
}

static void check_held(held before)
{
    const held now = what_is_held();
    CHECK_EQ(now.descriptors, before.descriptors);
    CHECK_EQ(now.mappings, before.mappings);
}

/* Calls of the system, as they come: m msync, w pwrite, f fsync, d that of a folder, r rename, a posix_fallocate, t ftruncate. One of
   them may fail, as on a disk that breaks. */
static struct {
    char called[200];
    int calls;
    char kind; /* 0: none fails */
    int before; /* calls of that kind that do not fail */
    int error; /* 0: pwrite writes 40 bytes */
} disk;

static bool disk_fails(char kind)
{
    if (disk.calls < (int)sizeof disk.called - 1) disk.called[disk.calls++] = kind;
    if (disk.kind != kind || disk.before-- != 0) return false;
    disk.kind = 0;
    errno = disk.error;
    return true;
}

static void disk_starts(char kind, int before, int why)
{
    memset(&disk, 0, sizeof disk);
    disk.kind = kind;
    disk.before = before;
    disk.error = why;
}

int msync(void* at, size_t bytes, int flags)
{
    if (disk_fails(flags == MS_SYNC ? 'm' : '?')) return -1;
    return (int)syscall(SYS_msync, at, bytes, flags);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at)
{
    if (disk_fails('w')) {
        if (errno) return -1;
        bytes = 40;
    }
    return syscall(SYS_pwrite64, fd, data, bytes, at);
}
int fsync(int fd)
{
    struct stat status;
    if (disk_fails(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'd' : 'f')) return -1;
    return (int)syscall(SYS_fsync, fd);
}
int rename(const char* from, const char* to)
{
    if (disk_fails('r')) return -1;
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int ftruncate(int fd, off_t bytes)
{
    if (disk_fails('t')) return -1;
    return (int)syscall(SYS_ftruncate, fd, bytes);
}
int posix_fallocate(int fd, off_t begin, off_t bytes)
{
    if (disk_fails('a')) return errno;
    if (syscall(SYS_fallocate, fd, 0, begin, bytes) == 0) return 0;
    if (errno != EOPNOTSUPP) return errno;
    return syscall(SYS_ftruncate, fd, begin + bytes) == 0 ? 0 : errno;
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

TEST(types_have_their_names_and_sizes)
{
    static const char* const name[] = {"unknown", "u8", "i32", "i64", "f16", "f32", "f64", "sparse-rows", "unknown", "unknown"};
    static const int64_t bytes[] = {0, 1, 4, 8, 2, 4, 8, 0, 0, 0};
    for (uint32_t type = 0; type < 10; type++) {
        CHECK_STR(ggnn_file_type_name(type < 9 ? type : UINT32_MAX), name[type]);
        CHECK_EQ(ggnn_file_type_bytes(type < 9 ? type : UINT32_MAX), bytes[type]);
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
    for (int times = 0; times < 2; times++) {
        ggnn_file_close(&f);
        CHECK(!f.base && !f.section && !f.num_sections && !ggnn_file_find(&f, "feat"));
    }
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

/* Its section has a type and a number of dimensions; what asks for others gets nothing, and is told what is there. */
TEST(a_section_is_had_with_its_type_and_dimensions_alone)
{
    static const struct {
        const char* name;
        uint32_t type;
        int32_t dims;
    } is[] = {{"indptr", GGNN_FILE_I64, 1}, {"feat", GGNN_FILE_F32, 2}, {"split", GGNN_FILE_U8, 2}};
    ggnn_file f;
    CHECK(write_sample(target, 1) && ggnn_file_open(&f, target));
    for (int i = 0; i < 3; i++)
        for (uint32_t type = 0; type < 9; type++)
            for (int32_t dims = 0; dims < 6; dims++) {
                const bool right = type == is[i].type && dims == is[i].dims;
                char words[64];
                f.error[0] = 0;
                CHECK(ggnn_file_need(&f, is[i].name, (ggnn_file_type)type, dims) == (right ? ggnn_file_find(&f, is[i].name) : NULL));
                snprintf(words, sizeof words, "%s with %d dimensions, not %s with %d", ggnn_file_type_name(is[i].type), (int)is[i].dims,
                         ggnn_file_type_name(type), (int)dims);
                CHECK(right ? !f.error[0] : strstr(f.error, words) != NULL);
            }
    f.error[0] = 0;
    CHECK(!ggnn_file_need(&f, "fea", GGNN_FILE_F32, 2) && strstr(f.error, "it has no section 'fea'"));
    CHECK(!ggnn_file_need(&f, "spl", GGNN_FILE_U8, 2) && strstr(f.error, "it has no section 'fea'")); /* the first cause stays */
    ggnn_file_close(&f);
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
    const uint32_t pair[2] = {ggnn_file_find(&f, "indptr")->crc, ggnn_file_find(&f, "indices")->crc};
    CHECK_EQ(two, ggnn_file_crc32c(0, pair, 8)); /* rankings have it, also those of before */
    ggnn_file_close(&f);
    f.num_sections = 0;
    CHECK_EQ(ggnn_file_graph_crc(&f), -1);
    for (int lists = 0; lists < 2; lists++) { /* half a graph is none */
        CHECK(ggnn_file_create(&w, target) && ggnn_file_reserve(&w, lists ? "indptr" : "indices", GGNN_FILE_I64, 1, &n) && ggnn_file_commit(&w));
        CHECK(ggnn_file_open(&f, target));
        CHECK_EQ(ggnn_file_graph_crc(&f), -1);
        ggnn_file_close(&f);
    }
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

/* Sections of one to four dimensions; any may shrink, and again, before the next: each is what was kept of it. */
TEST(sections_shrink_in_any_order_and_none_grows)
{
    enum { SECTIONS = 6 };
    const held before = what_is_held();
    test_seed(6);
    for (int round = 0; round < 12; round++) {
        int64_t rows[SECTIONS], dim[SECTIONS][4];
        ggnn_file_writer w;
        ggnn_file f;
        CHECK(ggnn_file_create(&w, target));
        for (int i = 0; i < SECTIONS; i++) {
            const char name[2] = {(char)('a' + i), 0};
            int64_t row = 1;
            for (int d = 0; d < 4; d++) dim[i][d] = d == 0 ? test_below(3000) : 1 + test_below(4);
            rows[i] = dim[i][0];
            for (int d = 1; d < 1 + i % 4; d++) row *= dim[i][d];
            uint8_t* x = ggnn_file_reserve(&w, name, GGNN_FILE_U8, 1 + i % 4, dim[i]);
            if (!CHECK(x != NULL)) break;
            for (int64_t k = 0; k < rows[i] * row; k++) CHECK(x[k] == 0), x[k] = (uint8_t)(1 + (k + i) % 251);
            for (int64_t times = test_below(3); times > 0; times--) {
                rows[i] = test_below(4) ? test_below(rows[i] + 1) : rows[i];
                CHECK(ggnn_file_shrink(&w, rows[i]));
            }
        }
        CHECK(ggnn_file_commit(&w) && ggnn_file_open(&f, target));
        if (!CHECK(ggnn_file_verify(&f))) printf("  %s\n", f.error);
        for (int i = 0; i < SECTIONS; i++) {
            const ggnn_file_section* s = &f.section[i];
            const uint8_t* x = ggnn_file_data(&f, s);
            CHECK_EQ(s->dim[0], rows[i]);
            for (int64_t k = 0; k < s->bytes; k++) CHECK(x[k] == (uint8_t)(1 + (k + i) % 251));
        }
        ggnn_file_close(&f);
        check_held(before);
    }
    for (int64_t pages = 0; pages < 4; pages++) { /* a page more than is kept, at most; whole pages take no other */
        const int64_t four = 4 * 4096;
        ggnn_file_writer w;
        ggnn_file f;
        CHECK(ggnn_file_create(&w, target) && ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &four) && ggnn_file_shrink(&w, pages * 4096));
        CHECK(ggnn_file_commit(&w) && ggnn_file_open(&f, target));
        CHECK_EQ(f.bytes, GGNN_FILE_DATA + (pages ? pages : 1) * 4096);
        ggnn_file_close(&f);
        check_held(before);
    }
    for (int wrong = 0; wrong < 3; wrong++) {
        const int64_t five = 5, to = wrong == 0 ? 6 : wrong == 1 ? -1 : 0;
        ggnn_file_writer w;
        CHECK(ggnn_file_create(&w, target));
        if (wrong < 2) CHECK(ggnn_file_reserve(&w, "a", GGNN_FILE_F32, 1, &five) != NULL);
        CHECK(!ggnn_file_shrink(&w, to) && strstr(w.error, "cannot shrink") && !ggnn_file_shrink(&w, 0) && !ggnn_file_commit(&w));
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

/* It has no bytes that could be another's, wherever the table says that they are. */
TEST(an_empty_section_may_lie_within_another)
{
    const int64_t none = 0, many = 2048;
    int32_t value[2048];
    int64_t bytes, within = GGNN_FILE_DATA + 4096;
    unsigned char* data;
    ggnn_file_writer w;
    ggnn_file f;
    memset(value, 0x77, sizeof value);
    CHECK(ggnn_file_create(&w, target));
    CHECK(ggnn_file_append(&w, "a", GGNN_FILE_I32, 1, &many, value));
    CHECK(ggnn_file_append(&w, "b", GGNN_FILE_I32, 1, &none, value));
    CHECK(ggnn_file_commit(&w));
    data = slurp(target, &bytes);
    memcpy(data + 32 + 80 + offsetof(ggnn_file_section, offset), &within, sizeof within);
    sign_table(data);
    CHECK(opens(data, bytes, &f) && ggnn_file_verify(&f));
    CHECK(unlink(target) == 0);
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
    CHECK(!ggnn_file_open(&f, "/dev/null"));
    CHECK(strstr(f.error, "is a device or a socket, a file is needed") != NULL);
    CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
    alarm(60); /* nobody writes into the pipe */
    CHECK(!ggnn_file_open(&f, path));
    alarm(0);
    CHECK(strstr(f.error, "is a pipe, a file is needed") != NULL);
    CHECK(unlink(path) == 0);
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
    if (!CHECK(opens(data, bytes, &f) && ggnn_file_verify(&f))) printf("  %s\n", f.error);
    data[bytes - 1] ^= 1;
    CHECK(opens(data, bytes, &f) && !ggnn_file_verify(&f));
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

/* Is an entry all that the format asks for? Numbers below 2^53 are exact as doubles. */
static bool is_section(const ggnn_file_section* s, double file_bytes)
{
    double bytes = (double)ggnn_file_type_bytes(s->type);
    size_t length = 0;
    while (length < 15 && (unsigned char)s->name[length] > 32 && (unsigned char)s->name[length] < 127) length++;
    if (!length || s->num_dims < 1 || s->num_dims > 4 || s->zero || s->bytes < 0) return false;
    for (; length < 16; length++)
        if (s->name[length]) return false;
    for (uint32_t i = 0; i < 4; i++) {
        if (s->dim[i] < 0 || (i >= s->num_dims && s->dim[i])) return false;
        if (i < s->num_dims) bytes *= (double)s->dim[i];
    }
    if (ggnn_file_type_bytes(s->type) && bytes != (double)s->bytes) return false;
    return s->offset >= 8192 && s->offset % 4096 == 0 && (double)s->offset + (double)s->bytes <= file_bytes;
}

static bool are_sections(const ggnn_file_section* s, int n, double file_bytes)
{
    for (int i = 0; i < n; i++) {
        if (!is_section(&s[i], file_bytes)) return false;
        for (int j = 0; j < i; j++) {
            const bool apart = !s[i].bytes || !s[j].bytes || s[i].offset + s[i].bytes <= s[j].offset || s[j].offset + s[j].bytes <= s[i].offset;
            if (!apart || strcmp(s[i].name, s[j].name) == 0) return false;
        }
    }
    return true;
}

/* Tables of four sections in a file of six pages, up to three numbers of them exchanged for ones just within a bound and just beyond. */
TEST(a_table_opens_exactly_when_it_is_what_the_format_says)
{
    enum { SECTIONS = 4, BYTES = 6 * 4096 };
    static const int64_t numbers[] = {0, 1, 2, 3, 4, 5, -1, 4095, 4096, 4097, 8191, 8192, 12288, 12289, 16384, BYTES - 4096, BYTES - 1, BYTES,
                                      BYTES + 4096, INT64_MAX, INT64_MIN, INT64_MAX / 4 + 2, ((int64_t)1 << 62) + 1, 4096 - BYTES};
    static const ggnn_file_section first[SECTIONS] = {{"a", GGNN_FILE_U8, 1, {4097, 0, 0, 0}, 8192, 4097, 0, 0},
                                                      {"bb", GGNN_FILE_I64, 2, {256, 2, 0, 0}, 16384, 4096, 0, 0},
                                                      {"fifteen-letters", 77, 4, {1, 2, 3, 4}, 20480, 4096, 0, 0},
                                                      {"none", GGNN_FILE_F16, 3, {5, 0, 7, 0}, 8192, 0, 0, 0}};
    uint64_t bytes[BYTES / 8];
    int good = 0;
    ggnn_file f;
    CHECK(write_sample(target, 3));
    int64_t length;
    unsigned char *sample = slurp(target, &length), *data = (unsigned char*)bytes;
    const int64_t size = BYTES;
    const uint32_t sections = SECTIONS;
    memset(data, 0, BYTES);
    memcpy(data, sample, 32);
    memcpy(data + 12, &sections, 4);
    memcpy(data + 16, &size, 8);
    free(sample);
    test_seed(7);
    for (int round = 0; round < 30000; round++) {
        ggnn_file_section s[SECTIONS];
        memcpy(s, first, sizeof s);
        for (int64_t changes = round ? 1 + test_below(3) : 0; changes > 0; changes--) {
            ggnn_file_section* at = &s[test_below(SECTIONS)];
            const int64_t number = numbers[test_below((int64_t)(sizeof numbers / sizeof *numbers))], what = test_below(12);
            if (what < 2) at->offset = test_below(2) ? number : 4096 * test_below(8);
            if (what == 2) at->bytes = number;
            if (what == 3) at->type = (uint32_t)test_below(9);
            if (what == 4) at->num_dims = (uint32_t)(test_below(9) ? test_below(6) : number);
            if (what == 5) at->dim[test_below(4)] = number;
            if (what == 6) at->zero = (uint32_t)test_below(2);
            if (what == 7) at->name[test_below(16)] = (char)test_below(256);
            if (what == 8) memcpy(at->name, s[test_below(SECTIONS)].name, 16);
            if (what > 8) { /* of an array of bytes its size alone */
                at->type = what == 9 ? 77 : GGNN_FILE_U8;
                at->num_dims = 1;
                memset(at->dim, 0, sizeof at->dim);
                at->dim[0] = at->bytes = number;
            }
        }
        memcpy(data + 32, s, sizeof s);
        sign_table(data);
        const bool want = are_sections(s, SECTIONS, BYTES);
        if (!CHECK_EQ(opens(data, BYTES, &f), want)) printf("  round %d: %s\n", round, f.error);
        if (!want) CHECK(strstr(f.error, "MEMORY: section") == f.error && !f.num_sections);
        good += want;
    }
    CHECK(good > 1000 && good < 29000);
}

/* What is behind the table's CRC all the same: the length in pages, the version, no sections at all. */
TEST(a_header_opens_exactly_when_it_is_what_the_format_says)
{
    static const int64_t more[] = {0, 1, 4095, 4096, 4097, 8192};
    static const uint32_t versions[] = {0, 1, 2, UINT32_MAX};
    int64_t bytes;
    ggnn_file f;
    CHECK(write_sample(target, 3));
    unsigned char* data = slurp(target, &bytes);
    data = realloc(data, (size_t)bytes + 8192);
    memset(data + bytes, 0, 8192);
    for (int i = 0; i < 6; i++) {
        const int64_t length = bytes + more[i];
        memcpy(data + 16, &length, 8);
        sign_table(data);
        CHECK_EQ(opens(data, length, &f), more[i] % 4096 == 0);
        if (more[i] % 4096) CHECK(strstr(f.error, "MEMORY: damaged: ") == f.error);
        else CHECK(ggnn_file_verify(&f));
    }
    for (int i = 0; i < 4; i++) {
        memcpy(data + 8, &versions[i], 4);
        sign_table(data);
        CHECK_EQ(opens(data, bytes + 8192, &f), versions[i] == 1);
        CHECK(versions[i] == 1 || strstr(f.error, "this program reads version 1"));
    }
    const uint32_t none = 0, version = 1;
    const int64_t table = 8192;
    memset(data + 8, 0, 8184);
    memcpy(data + 8, &version, 4);
    memcpy(data + 12, &none, 4);
    memcpy(data + 16, &table, 8);
    sign_table(data);
    CHECK(opens(data, table, &f) && ggnn_file_verify(&f) && f.num_sections == 0);
    free(data);
}

TEST(what_is_opened_is_given_back_whether_it_opens_or_not)
{
    const held before = what_is_held();
    int64_t bytes;
    char path[600];
    ggnn_file f;
    CHECK(write_sample(target, 3));
    unsigned char* data = slurp(target, &bytes);
    snprintf(path, sizeof path, "%s/other.ggnn", folder);
    for (int i = 0; i < 6; i++) {
        data[i == 1 ? 0 : i == 2 ? 9 : i == 3 ? 40 : 8200] ^= 1; /* nothing, its magic, its version, its table, its arrays, or less of it */
        if (i > 0) spill(path, data, i == 5 ? 8192 : bytes);
        data[i == 1 ? 0 : i == 2 ? 9 : i == 3 ? 40 : 8200] ^= 1;
        CHECK_EQ(ggnn_file_open(&f, i ? path : target), i == 0 || i == 4);
        if (i == 0 || i == 4) CHECK(what_is_held().mappings > before.mappings || access("/proc/self/maps", R_OK) != 0);
        else CHECK(f.error[0] && !f.base && !f.num_sections);
        ggnn_file_close(&f);
        check_held(before);
        ggnn_file_close(&f);
        check_held(before);
    }
    CHECK(!ggnn_file_open(&f, folder));
    check_held(before);
    unlink(path);
    free(data);
}

/* What is said of a file of two sections, "a" of 5 bytes and "bb" of 2 x 3 f32, whole: every number of it. */
TEST(errors_have_all_their_numbers)
{
    static const uint8_t five[5] = {1, 2, 3, 4, 5};
    static const float six[6] = {1, 2, 3, 4, 5, 6};
    const int64_t dim[3] = {5, 2, 3};
    static const struct {
        int64_t at, bytes; /* what is changed, and the file's length then */
        uint32_t to; /* and what it becomes; signed where the table or the header is wrong behind its CRC */
        bool sign;
        const char* says;
    } wrong[] = {
        {0, 16384, 0, false, "not a .ggnn file (ggnn-data convert makes one): no magic bytes at offset 0"},
        {8, 16384, 3, false, "version 3 at offset 8: this program reads version 1"},
        {12, 16384, 200, false, "200 sections at offset 12: at most 100 fit"},
        {20480, 12288, 0, false, "truncated: 12288 bytes, where offset 16 says 16384"},
        {20480, 4096, 0, false, "truncated: 4096 bytes, shorter than the section table's 8192"},
        {20480, 20480, 0, false, "damaged, or more than one file: 20480 bytes, where offset 16 says 16384"},
        {24, 16384, 9, true, "damaged: the reserved word at offset 24 is 9, the length 16384"},
        {112, 16384, 0, true, "section 1: its name at offset 112 is not 1 to 15 printable characters and zeros"},
        {140, 16384, 0x80000000, true, "section 'bb' (entry at offset 112): negative dimension: type f32, 2 dimensions -9223372036854775806 x 3 x 0 x 0, "
                                       "24 bytes at offset 12288 of 16384"},
        {132, 16384, 4, true, "section 'bb' (entry at offset 112): number of bytes is not the product of its dimensions: type f32, 4 dimensions 2 x 3 x 0 x 0, "
                              "24 bytes at offset 12288 of 16384"},
        {112, 16384, 'a', true, "section 'a' is there twice, entries at offsets 32 and 112"},
        {168, 16384, 8192, true, "sections 'a' (5 bytes at offset 8192) and 'bb' (24 at 8192) overlap"},
        {200, 16384, 7, false, "damaged: byte 07 at offset 200, between sections"},
        {8197, 16384, 0xFE, false, "damaged: byte fe at offset 8197, between sections"},
        {16000, 16384, 0x10, false, "damaged: byte 10 at offset 16000, between sections"}};
    char text[700];
    int64_t bytes;
    uint32_t crc, signed_crc;
    ggnn_file_writer w;
    ggnn_file f;
    CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "a", GGNN_FILE_U8, 1, dim, five) &&
          ggnn_file_append(&w, "bb", GGNN_FILE_F32, 2, dim + 1, six) && ggnn_file_commit(&w));
    unsigned char *good = slurp(target, &bytes), *data = malloc(20484);
    CHECK_EQ(bytes, 16384);
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong + 1; i++) {
        const bool known = i < sizeof wrong / sizeof *wrong, table = i == sizeof wrong / sizeof *wrong;
        memset(data, 0, 20484);
        memcpy(data, good, 16384);
        if (known) {
            memcpy(data + wrong[i].at, &wrong[i].to, 4);
            if (wrong[i].sign) sign_table(data);
            snprintf(text, sizeof text, "MEMORY: %s", wrong[i].says);
        } else if (table) {
            data[40] ^= 1;
            memcpy(&signed_crc, data + 28, 4);
            crc = ggnn_file_crc32c(ggnn_file_crc32c(0, data, 28), data + 32, 160);
            snprintf(text, sizeof text, "MEMORY: damaged section table (offsets 0 to 192): its CRC-32C is %08lx, where offset 28 says %08lx", (unsigned long)crc,
                     (unsigned long)signed_crc);
        } else {
            data[12290] ^= 1;
            crc = ggnn_file_crc32c(0, data + 12288, 24);
            memcpy(&signed_crc, data + 184, 4);
            snprintf(text, sizeof text, "MEMORY: damaged section 'bb' (24 bytes at offset 12288): its CRC-32C is %08lx, where the table says %08lx",
                     (unsigned long)crc, (unsigned long)signed_crc);
        }
        CHECK(!(opens(data, known ? wrong[i].bytes : 16384, &f) && ggnn_file_verify(&f)));
        CHECK_STR(f.error, text);
    }
    CHECK(opens(good, bytes, &f) && !ggnn_file_need(&f, "bb", GGNN_FILE_I32, 1));
    CHECK_STR(f.error, "MEMORY: section 'bb' at offset 12288 is f32 with 2 dimensions, not i32 with 1");
    free(data);
    free(good);
    CHECK(write_sample(target, 3));
    data = slurp(target, &bytes);
    memcpy(data + 32 + 3 * 80, data + 32 + 2 * 80, 16); /* the fourth is called as the third */
    sign_table(data);
    CHECK(!opens(data, bytes, &f));
    CHECK_STR(f.error, "MEMORY: section 'feat' is there twice, entries at offsets 192 and 272");
    free(data);
    for (int i = 0; i < 5; i++) { /* of a writer */
        static const char* const says[] = {"section 'a' cannot shrink from 5 to 6 rows", "no section can be called 'b c' or have type 5 and 1 dimensions",
                                           "section 'a' is written twice", "section 'b' would be larger than a file can be: 9223372036854775807 rows",
                                           "section 'b' would be larger than a file can be: 4611686018427387903 rows"};
        const int64_t most = i == 3 ? INT64_MAX : INT64_MAX / 2;
        CHECK(ggnn_file_create(&w, target) && ggnn_file_append(&w, "a", GGNN_FILE_U8, 1, dim, five));
        CHECK(i == 0   ? !ggnn_file_shrink(&w, 6)
              : i == 1 ? !ggnn_file_reserve(&w, "b c", GGNN_FILE_F32, 1, dim)
              : i == 2 ? !ggnn_file_reserve(&w, "a", GGNN_FILE_F32, 1, dim)
                       : !ggnn_file_reserve(&w, "b", i == 3 ? GGNN_FILE_F32 : GGNN_FILE_U8, 1, &most));
        snprintf(text, sizeof text, "%s: %s", target, says[i]);
        CHECK_STR(w.error, text);
        ggnn_file_abort(&w);
    }
}

/* A path of any length: what is wrong stands at the end, what it is about at the beginning. */
TEST(errors_of_long_paths_are_cut_in_the_middle)
{
    static const char why[] = ": cannot open: No such file or directory";
    char path[1501];
    ggnn_file f;
    for (int i = 0; i < 1500; i++) path[i] = i % 2 ? '/' : 'x';
    for (int length = 1; length <= 1500; length += length < 500 || length > 700 ? 37 : 1) {
        path[length] = 0;
        CHECK(!ggnn_file_open(&f, path));
        const size_t said = strlen(f.error);
        if (!CHECK(said < sizeof f.error && said >= sizeof why)) break;
        CHECK_STR(f.error + said - strlen(why), why);
        CHECK(memcmp(f.error, path, (size_t)(length < 200 ? length : 200)) == 0);
        CHECK(!strstr(f.error, " ... ") || said == 200 + 5 + 430);
        CHECK((strstr(f.error, " ... ") == NULL) == ((size_t)length + strlen(why) < sizeof f.error));
        path[length] = length % 2 ? '/' : 'x';
    }
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
    const int64_t one = 1, minus = -1, huge[2] = {INT64_MAX / 2, 16}, below[4] = {2, -1, 0, -1};
    const held before = what_is_held();
    char name[32];
    struct stat status;
    ggnn_file_writer w;
    unlink(target);
    for (int wrong = 0; wrong < 9; wrong++) {
        CHECK(ggnn_file_create(&w, target));
        CHECK(ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &one) != NULL);
        if (wrong == 0) CHECK(!ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &one));
        if (wrong == 1) CHECK(!ggnn_file_reserve(&w, "sixteen_letters_", GGNN_FILE_U8, 1, &one));
        if (wrong == 2) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_U8, 1, &minus));
        if (wrong == 3) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_F64, 2, huge));
        if (wrong == 4) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_SPARSE_ROWS, 1, &one));
        if (wrong == 5) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_U8, 5, &one));
        if (wrong >= 7) CHECK(!ggnn_file_reserve(&w, "b", GGNN_FILE_U8, wrong == 7 ? 3 : 2, wrong == 7 ? below : below + 2));
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
    CHECK(ggnn_file_create(&w, target) && ggnn_file_commit(&w) && !ggnn_file_commit(&w)); /* a second time, and after abort */
    CHECK(strstr(w.error, "nothing to commit") != NULL && unlink(target) == 0);
    CHECK(ggnn_file_create(&w, target));
    ggnn_file_abort(&w);
    CHECK(!ggnn_file_commit(&w) && strstr(w.error, "nothing to commit") != NULL && access(target, F_OK) != 0);
    CHECK(!ggnn_file_create(&w, "/nonexistent/x.ggnn"));
    CHECK(!ggnn_file_commit(&w) && strstr(w.error, "/nonexistent/x.ggnn: cannot create: No such file") != NULL);
    CHECK(!ggnn_file_create(&w, folder));
    CHECK(strstr(w.error, "is a folder, no file can be put there") != NULL);
    ggnn_file_abort(&w); /* which has no file to close */
    check_held(before);
}

/* 1 to 15 characters that can be seen, of a type with a size, of 1 to 4 dimensions. */
TEST(a_writer_takes_the_names_types_and_dimensions_of_the_format)
{
    const int64_t dim[5] = {1, 1, 1, 1, 1};
    const held before = what_is_held();
    static const char letter[] = {0, 1, '\n', 31, ' ', '!', '/', '~', 127, (char)128, (char)255};
    for (int i = 0; i < 11 + 4 + 9 + 7; i++) {
        char name[20] = "name";
        uint32_t type = GGNN_FILE_U8;
        int32_t dims = 1;
        ggnn_file_writer w;
        bool good;
        if (i < 11) {
            name[2] = letter[i];
            good = i == 0 || (i > 4 && i < 8);
        } else if (i < 15) {
            static const int length[] = {0, 1, 15, 16};
            memset(name, 'n', 17);
            name[length[i - 11]] = 0;
            good = i == 12 || i == 13;
        } else if (i < 24) {
            type = (uint32_t)(i - 15);
            good = type > 0 && type < GGNN_FILE_SPARSE_ROWS;
        } else {
            dims = i - 25;
            good = dims > 0 && dims < 5;
        }
        CHECK(ggnn_file_create(&w, target));
        if (!CHECK_EQ(ggnn_file_reserve(&w, name, (ggnn_file_type)type, dims, dim) != NULL, good)) printf("  '%s' %d\n", name, i);
        CHECK(good ? !w.error[0] : strstr(w.error, "no section can be called") != NULL);
        ggnn_file_abort(&w);
    }
    check_held(before);
    CHECK_EQ(num_temporaries(), 0);
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

/* Writes a section of 8 pages of which 2 are kept, and one of marker. NULL, or what failed. */
static const char* rewrite(float marker)
{
    static char why[640];
    const int64_t rows = 8192, one = 1;
    ggnn_file_writer w;
    if (ggnn_file_create(&w, target) && ggnn_file_reserve(&w, "rows", GGNN_FILE_F32, 1, &rows)) ggnn_file_shrink(&w, 2048);
    ggnn_file_append(&w, "feat", GGNN_FILE_F32, 1, &one, &marker);
    const bool good = ggnn_file_commit(&w);
    strcpy(why, w.error);
    const int next = open("/dev/null", O_RDONLY); /* may have the number that the writer had */
    ggnn_file_abort(&w);
    CHECK(fcntl(next, F_GETFD) >= 0);
    close(next);
    CHECK_EQ(good, !why[0]);
    return why[0] ? why : NULL;
}

static float target_marker(void);

/* All arrays, then the table, then all that the file has, then its name, then its folder. */
TEST(a_commit_is_on_the_disk_before_it_has_its_name)
{
    disk_starts(0, 0, 0);
    CHECK(write_sample(target, 2));
    CHECK_STR(disk.called, "aaaaaammmmmwfrd");
    disk_starts(0, 0, 0);
    CHECK(rewrite(3) == NULL);
    CHECK_STR(disk.called, "aatammwfrd");
    const int64_t one = 1;
    ggnn_file_writer w;
    disk_starts(0, 0, 0);
    CHECK(ggnn_file_create(&w, target) && ggnn_file_reserve(&w, "x", GGNN_FILE_F32, 1, &one));
    ggnn_file_abort(&w);
    CHECK_STR(disk.called, "aa"); /* what is given up is not written */
}

/* Every call of the system that may fail, the first and the last of its kind. */
TEST(whatever_call_fails_the_old_file_stays_and_nothing_else)
{
    static const struct {
        char kind;
        int calls; /* that rewrite makes */
        const char* words;
    } call[] = {{'a', 3, "no room for"}, {'t', 1, "cannot shorten"}, {'m', 2, "cannot write section"}, {'w', 1, "cannot write the section table"},
                {'f', 1, "cannot write"}, {'r', 1, "cannot rename"}, {'d', 1, "cannot sync its directory"}};
    const held before = what_is_held();
    float old = 5, new = 6;
    CHECK(write_sample(target, old));
    for (int i = 0; i < 7; i++)
        for (int k = 0; k <= call[i].calls; k++, new++) {
            const bool fails = k < call[i].calls;
            disk_starts(call[i].kind, k, EIO);
            const char* why = rewrite(new);
            if (fails && call[i].kind == 'r') CHECK(strstr(why, ".0.tmp to it: ") != NULL);
            CHECK(fails ? why && strncmp(why, target, strlen(target)) == 0 && strstr(why, call[i].words) && strstr(why, "Input/output error") : !why);
            if (!fails || call[i].kind == 'd') old = new; /* it has its name before its folder is written */
            CHECK_EQ(target_marker(), old);
            CHECK_EQ(num_temporaries(), 0);
            check_held(before);
        }
    disk_starts('a', 0, ENOSPC);
    ggnn_file_writer w;
    CHECK(!ggnn_file_create(&w, target) && strstr(w.error, "no room for the section table: No space left"));
    CHECK_EQ(num_temporaries(), 0); /* nothing is left to be given up */
    check_held(before);
    ggnn_file_abort(&w);
    disk_starts(0, 0, 0);
}

/* A call that was interrupted is made again, a table that is written in part goes on, and some folders cannot be synced. */
TEST(calls_that_are_interrupted_or_done_in_part_are_finished)
{
    static const struct {
        char kind;
        int error;
    } odd[] = {{'a', EINTR}, {'w', EINTR}, {'w', 0}, {'d', EINVAL}};
    for (int i = 0; i < 4; i++) {
        disk_starts(odd[i].kind, 0, odd[i].error);
        CHECK(rewrite((float)(i + 7)) == NULL);
        CHECK_EQ(target_marker(), i + 7);
    }
    disk_starts(0, 0, 0);
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

/* One number as an output: a file, or a folder with a file `x`. */
static const char* put_output(const char* path, output_kind kind, int number)
{
    static error why;
    output o;
    why.text[0] = 0;
    if (!output_open(&o, path, kind, &why)) return why.text;
    const bool begun = output_begin(&o, kind == OUTPUT_FOLDER ? "x" : NULL, 1);
    if (begun) fprintf(o.stream, "%d", number);
    const bool good = output_finish(&o, begun && output_end(&o));
    CHECK_EQ(good, !why.text[0]);
    return why.text;
}

static int number_in(const char* path)
{
    int number = -1;
    FILE* f = fopen(path, "r");
    if (f && fscanf(f, "%d", &number) != 1) number = -1;
    if (f) fclose(f);
    return number;
}

TEST(an_output_is_on_the_disk_before_and_after_it_has_its_name)
{
    const held before = what_is_held();
    char path[700], inside[800];
    snprintf(path, sizeof path, "%s/a folder", folder);
    snprintf(inside, sizeof inside, "%s/x", path);
    for (int k = 0; k < 2; k++) {
        const char *out = k ? path : target, *file = k ? inside : target, *calls = k ? "fdrd" : "frd";
        disk_starts(0, 0, 0);
        CHECK_STR(put_output(out, k ? OUTPUT_FOLDER : OUTPUT_FILE, 1), "");
        CHECK_STR(disk.called, calls);
        CHECK_EQ(number_in(file), 1);
        for (size_t i = 0; i < strlen(calls); i++) {
            unlink(file);
            disk_starts(calls[i], k && i == 3, EIO);
            CHECK(strstr(put_output(out, k ? OUTPUT_FOLDER : OUTPUT_FILE, 2), "Input/output error"));
            CHECK_EQ(number_in(file), i + 1 == strlen(calls) ? 2 : -1); /* it has its name before its folder is written */
            CHECK_EQ(num_temporaries(), 0);
        }
    }
    disk_starts(0, 0, 0);
    CHECK(unlink(target) == 0 && unlink(inside) == 0 && rmdir(path) == 0);
    CHECK_EQ(what_is_held().descriptors, before.descriptors);
}

TEST(what_killed_outputs_left_is_removed_and_what_is_being_written_stays)
{
    char stale[700];
    error why = {""};
    output first, second;
    snprintf(stale, sizeof stale, "%s.123.0.tmp", target);
    spill(stale, "x", 1);
    CHECK_STR(put_output(target, OUTPUT_FILE, 3), "");
    CHECK_EQ(num_temporaries(), 0);
    CHECK(output_open(&first, target, OUTPUT_FILE, &why) && output_begin(&first, NULL, 1) && fputs("4", first.stream) >= 0 && output_end(&first));
    CHECK(output_open(&second, target, OUTPUT_FILE, &why)); /* looks for what nobody writes */
    CHECK(output_finish(&first, true) && number_in(target) == 4);
    output_finish(&second, false);
    CHECK(!why.text[0] && num_temporaries() == 0 && number_in(target) == 4);
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
    static ggnn_file_writer many[12];
    for (int i = 0; i < 12; i++) { /* each has its number, and is no child's */
        char name[4096];
        ggnn_file_temporary(name, target, i);
        CHECK(ggnn_file_create(&many[i], target));
        CHECK_STR(many[i].temporary, name);
        CHECK(fcntl(many[i].fd, F_GETFD) & FD_CLOEXEC);
    }
    for (int i = 0; i < 12; i++) ggnn_file_abort(&many[i]);
    CHECK_EQ(num_temporaries(), 0);
}

/* The next call of flock: what another writer does first, and whether that one has the lock; or no call can lock a file. */
static void (*before_flock)(void);
static bool other_has_lock, no_locks;
int flock(int fd, int operation)
{
    void (*other_does)(void) = before_flock;
    before_flock = NULL;
    if (other_does) other_does();
    if (no_locks) errno = ENOLCK;
    if (no_locks) return -1;
    if (!other_has_lock) return (int)syscall(SYS_flock, fd, operation);
    other_has_lock = false;
    errno = EWOULDBLOCK;
    return -1;
}

/* Another writer has locked the new file before its own did, and is about to remove it as stale. */
TEST(a_writer_whose_new_file_is_taken_for_stale_takes_the_next_number)
{
    const held before = what_is_held();
    char name[2][4096];
    ggnn_file_writer w;
    for (int i = 0; i < 2; i++) ggnn_file_temporary(name[i], target, i);
    other_has_lock = true;
    CHECK(ggnn_file_create(&w, target));
    CHECK_STR(w.temporary, name[1]);
    unlink(name[0]);
    CHECK(ggnn_file_commit(&w));
    check_held(before);
    CHECK_EQ(num_temporaries(), 0);
}

/* A link under its temporary name is not followed, though to nothing; a file that cannot be locked is no other writer's. */
TEST(a_writer_without_locks_or_with_a_link_in_its_way_writes_all_the_same)
{
    char name[4096], other[700];
    ggnn_file_writer w;
    no_locks = true;
    ggnn_file_temporary(name, target, 0);
    CHECK(ggnn_file_create(&w, target));
    CHECK_STR(w.temporary, name);
    CHECK(ggnn_file_commit(&w));
    no_locks = false;
    snprintf(other, sizeof other, "%s/other", folder);
    CHECK(symlink("other", name) == 0 && ggnn_file_create(&w, target));
    ggnn_file_temporary(name, target, 1);
    CHECK_STR(w.temporary, name);
    CHECK(ggnn_file_commit(&w) && access(other, F_OK) != 0);
    ggnn_file_temporary(name, target, 0);
    CHECK(unlink(name) == 0 && num_temporaries() == 0);
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
    static const struct {
        const char* end;
        bool stale;
    } name[] = {{".123.0.tmp", true}, {".7.0.tmp", true}, {".4194304.12.tmp", true}, {".v2.tmp", false}, {".2024.tmp", false}, {".1.2.3.tmp", false},
                {"..1.tmp", false}, {".1..tmp", false}, {".1.0.tmpx", false}, {".1.0.tm", false}, {"x1.0.tmp", false}, {".1.0", false},
                {".a.0.tmp", false}, {".1.b.tmp", false}, {".1.0.tmp.1.0.tmp", false}};
    char path[700], other[700], link[700], fifo[700];
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s%s", target, name[i].end);
        spill(path, "x", 1);
    }
    CHECK(write_sample(target, 2));
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        snprintf(path, sizeof path, "%s%s", target, name[i].end);
        if (!CHECK_EQ(access(path, F_OK) != 0, name[i].stale)) printf("  %s\n", path);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s.1.0.tmp", target); /* a link, a folder and a pipe are no files of a writer */
    snprintf(link, sizeof link, "%s.2.0.tmp", target);
    snprintf(fifo, sizeof fifo, "%s.3.0.tmp", target);
    snprintf(other, sizeof other, "%s/other", folder);
    spill(other, "x", 1);
    CHECK(mkdir(path, 0777) == 0 && symlink(other, link) == 0 && mkfifo(fifo, 0600) == 0);
    CHECK(write_sample(target, 2));
    CHECK(access(other, F_OK) == 0 && unlink(link) == 0 && rmdir(path) == 0 && unlink(other) == 0 && unlink(fifo) == 0);
    snprintf(link, sizeof link, "%s/a link", folder); /* what is stale lies beside the file that a link names */
    snprintf(other, sizeof other, "%s/a link.1.0.tmp", folder);
    spill(path, "x", 1);
    spill(other, "x", 1);
    CHECK(symlink(target, link) == 0 && write_sample(link, 2));
    CHECK(access(path, F_OK) != 0 && access(other, F_OK) == 0 && unlink(other) == 0 && unlink(link) == 0);
}

/* The folder that is looked through, and each file that is tried. */
TEST(looking_for_stale_files_holds_nothing)
{
    const held before = what_is_held();
    char path[700];
    ggnn_file_writer living;
    CHECK(ggnn_file_create(&living, target));
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s.%d.0.tmp", target, i + 1);
        spill(path, "x", 1);
    }
    CHECK(write_sample(target, 2));
    CHECK_EQ(num_temporaries(), 1);
    ggnn_file_abort(&living);
    check_held(before);
    CHECK_EQ(num_temporaries(), 0);
}

/* ---- targets -------------------------------------------------------------------------------------------------- */

static void check_no_target(const char* path, const char* words)
{
    char to[4096], why[640] = "of another call";
    CHECK(!ggnn_file_target(to, path, why));
    if (!CHECK(strstr(why, words) != NULL)) printf("  %s\n", why);
}

TEST(what_cannot_be_the_name_of_a_file_is_said)
{
    char path[4097], to[4096], why[640] = "of another call";
    memset(path, '/', sizeof path - 1); /* any number of slashes is one */
    strcpy(path + 4032 - 9, "/new-file");
    CHECK(ggnn_file_target(to, path, why) && !why[0]);
    CHECK_STR(to, path);
    strcpy(path + 4032 - 9, "//new-file");
    check_no_target(path, "output path is too long");
    check_no_target("", "output path is empty");
    check_no_target(folder, "is a folder, no file can be put there");
    check_no_target("/dev/null", "is a device or a socket, no file can be put there");
    snprintf(path, sizeof path, "%s/new", target);
    CHECK(write_sample(target, 2));
    check_no_target(path, "cannot write: Not a directory");
    const int fd = open(target, O_RDWR);
    snprintf(path, sizeof path, "/dev/fd/%d", fd);
    if (access(path, F_OK) == 0) check_no_target(path, "is an open descriptor, the name of a file is needed");
    close(fd);
}

/* Forty links are followed, by folders of their own and whether or not there is a file at the end; one more is not. */
TEST(up_to_forty_links_are_followed)
{
    char link[700], to[700], got[4096], why[640];
    for (int there = 0; there < 2; there++)
        for (int i = 0; i <= 40; i++) {
            snprintf(link, sizeof link, "%s/link-%d", folder, i);
            snprintf(to, sizeof to, i ? "link-%d" : "end", i - 1);
            CHECK(there || symlink(to, link) == 0);
            if (i == 0 && there) spill(target, "x", 1);
            if (i < 40) {
                snprintf(to, sizeof to, "%s/end", folder);
                CHECK(ggnn_file_target(got, link, why) && !why[0]);
                CHECK_STR(got, to);
                if (there && i == 0) spill(to, "x", 1);
            } else CHECK(!ggnn_file_target(got, link, why) && strncmp(why, link, strlen(link)) == 0 && strstr(why, "cannot follow the link: Too many levels"));
        }
    for (int i = 0; i <= 40; i++) {
        snprintf(link, sizeof link, "%s/link-%d", folder, i);
        CHECK(unlink(link) == 0);
    }
    unlink(to);
    snprintf(to, sizeof to, "%s/sub", folder); /* a link in another folder that says where from the root */
    snprintf(link, sizeof link, "%s/sub/link", folder);
    CHECK(mkdir(to, 0777) == 0 && symlink("/nonexistent", link) == 0 && ggnn_file_target(got, link, why));
    CHECK_STR(got, "/nonexistent");
    CHECK(unlink(link) == 0 && rmdir(to) == 0);
    for (int longer = 0; longer < 2; longer++) { /* the whole name leaves room for a temporary one, or is too long by a byte */
        char name[4096];
        const size_t room = 4096 - 64 - strlen(folder) - 1 + (size_t)longer;
        snprintf(link, sizeof link, "%s/link", folder);
        memset(name, '/', room);
        memcpy(name, "./", 2);
        strcpy(name + room - 4, "/end");
        CHECK(symlink(name, link) == 0);
        errno = 0;
        CHECK_EQ(ggnn_file_target(got, link, why), !longer);
        CHECK(longer ? strstr(why, "cannot follow the link: File name too long") != NULL : strlen(got) == 4096 - 64 && strcmp(got + 4096 - 64 - 4, "/end") == 0);
        CHECK(unlink(link) == 0);
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
    spill("bare.ggnn.123.0.tmp", "x", 1); /* what a killed writer left there */
    CHECK(write_sample("bare.ggnn", 4));
    CHECK(access("bare.ggnn", R_OK) == 0 && num_temporaries() == 0);
    CHECK(access("bare.ggnn.123.0.tmp", F_OK) != 0);
    CHECK(unlink("bare.ggnn") == 0 && chdir(back) == 0);
}

/* Of whoever may read, write, or run it. */
TEST(a_file_takes_the_permissions_of_the_one_whose_place_it_takes)
{
    static const mode_t mode[] = {0777, 0750, 0604, 04711}, mask[] = {0, 022, 027};
    struct stat status;
    for (int i = 0; i < 3; i++) { /* a new one: what the mask leaves of reading and writing for all */
        const mode_t before = umask(mask[i]);
        unlink(target);
        CHECK(write_sample(target, 2) && stat(target, &status) == 0);
        umask(before);
        CHECK_EQ(status.st_mode & 07777, 0666 & ~mask[i]);
    }
    for (int i = 0; i < 4; i++) {
        CHECK(write_sample(target, 2));
        CHECK(chmod(target, mode[i]) == 0 && write_sample(target, 3));
        CHECK(stat(target, &status) == 0);
        CHECK_EQ(status.st_mode & 07777, mode[i] & 0777);
    }
}

/* A program may have no standard input: the first file that it opens is number 0 then. */
TEST(a_file_may_have_descriptor_0)
{
    const int input = fcntl(0, F_DUPFD_CLOEXEC, 3);
    ggnn_file f;
    ggnn_file_writer w;
    ggnn_file_scratch s;
    close(0);
    const held before = what_is_held();
    CHECK(write_sample(target, 5));
    CHECK(ggnn_file_open(&f, target) && ggnn_file_verify(&f));
    ggnn_file_close(&f);
    check_held(before);
    CHECK(ggnn_file_create(&w, target) && w.fd == 0);
    ggnn_file_abort(&w);
    check_held(before);
    CHECK(ggnn_file_scratch_open(&s, target, 10) && s.fd == 0);
    ggnn_file_scratch_close(&s);
    check_held(before);
    if (input >= 0) CHECK(dup2(input, 0) == 0 && close(input) == 0);
    CHECK_EQ(num_temporaries(), 0);
}

TEST(what_is_closed_is_not_given_back_again)
{
    const int64_t bytes = 4096;
    ggnn_file_writer w;
    ggnn_file_scratch s;
    CHECK(ggnn_file_create(&w, target));
    void* const array = ggnn_file_reserve(&w, "a", GGNN_FILE_U8, 1, &bytes);
    CHECK(array != NULL && ggnn_file_commit(&w));
    void* another = another_at(array);
    ggnn_file_abort(&w);
    CHECK(gives_back_another(another));
    CHECK(ggnn_file_scratch_open(&s, target, bytes));
    void* const data = s.data;
    ggnn_file_scratch_close(&s);
    another = another_at(data);
    ggnn_file_scratch_close(&s);
    CHECK(gives_back_another(another));
}

/* ---- scratch -------------------------------------------------------------------------------------------------- */

TEST(scratch_keeps_its_contents_when_resized_and_has_no_name)
{
    ggnn_file_scratch s;
    memset(&s, 0x5a, sizeof s); /* whatever is there */
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
    CHECK(strstr(s.error, "scratch of 9223372036854775807 bytes") && ((char*)s.data)[4999] == 'b'); /* a failure keeps the old */
    CHECK(!ggnn_file_scratch_resize(&s, INT64_MAX / 2 + 1) && strstr(s.error, "scratch of 4611686018427387904 bytes"));
    CHECK(fcntl(s.fd, F_GETFD) & FD_CLOEXEC);
    ggnn_file_scratch_close(&s);
    const int next = open("/dev/null", O_RDONLY); /* may have the number that it had */
    ggnn_file_scratch_close(&s);
    CHECK(fcntl(next, F_GETFD) >= 0);
    close(next);
    CHECK(!ggnn_file_scratch_open(&s, "/nonexistent/x", 10));
    ggnn_file_scratch_close(&s);
    const held before = what_is_held();
    CHECK(!ggnn_file_scratch_open(&s, folder, 10) && strstr(s.error, "is a folder"));
    ggnn_file_scratch_close(&s); /* which has no file to close */
    check_held(before);
}

/* Its file has no name; in a listing of the folder it was there, so that it takes the folder's disk. */
TEST(scratch_lies_beside_the_file_that_a_link_names)
{
    const held before = what_is_held();
    char link[600], deep[600], to[700], proc[64], where[4096] = "";
    ggnn_file_scratch s;
    snprintf(link, sizeof link, "%s/link", folder);
    snprintf(deep, sizeof deep, "%s/deep", folder);
    snprintf(to, sizeof to, "%s/deep/file", folder);
    CHECK(mkdir(deep, 0777) == 0 && symlink("deep/file", link) == 0);
    CHECK(ggnn_file_scratch_open(&s, link, 0));
    CHECK(s.data != NULL && s.bytes == 0 && !s.error[0]);
    snprintf(proc, sizeof proc, "/proc/self/fd/%d", s.fd);
    if (readlink(proc, where, sizeof where - 1) > 0) CHECK(strncmp(where, to, strlen(to)) == 0);
    for (int i = 0; i < 3; i++) { /* a failure keeps what there is, and says why once */
        disk_starts(i == 1 ? 'a' : 0, 0, ENOSPC);
        CHECK_EQ(ggnn_file_scratch_resize(&s, i == 0 ? 5000 : i == 1 ? 50000 : 6000), i != 1);
        CHECK(i == 1 ? strstr(s.error, "no room for 50000 bytes of scratch beside it: No space left") != NULL : !s.error[0]);
        if (i == 0) memset(s.data, 'c', 5000);
        CHECK_EQ(s.bytes, i < 2 ? 5000 : 6000);
        CHECK(((char*)s.data)[0] == 'c' && ((char*)s.data)[4999] == 'c');
    }
    for (int i = 5000; i < 6000; i++) CHECK_EQ(((char*)s.data)[i], 0);
    CHECK(!ggnn_file_scratch_resize(&s, -1) && strstr(s.error, "scratch of -1 bytes"));
    ggnn_file_scratch_close(&s);
    check_held(before);
    disk_starts('a', 0, ENOSPC);
    CHECK(!ggnn_file_scratch_open(&s, link, 10));
    disk_starts(0, 0, 0);
    check_held(before);
    CHECK(rmdir(deep) == 0 && unlink(link) == 0); /* nothing is left in it */
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
    RUN(types_have_their_names_and_sizes);
    RUN(a_file_reads_back_as_written);
    RUN(unknown_sections_and_types_are_skipped);
    RUN(a_section_is_had_with_its_type_and_dimensions_alone);
    RUN(the_graph_crc_is_the_graphs_and_nothing_elses);
    RUN(empty_sections_have_an_address_and_take_no_bytes);
    RUN(the_last_section_shrinks_and_others_follow_it);
    RUN(sections_shrink_in_any_order_and_none_grows);
    RUN(every_flipped_byte_is_found);
    RUN(an_empty_section_may_lie_within_another);
    RUN(a_flipped_byte_in_an_empty_sections_page_is_found);
    RUN(a_flip_in_the_data_names_section_and_offset);
    RUN(a_damaged_section_is_not_copied);
    RUN(every_truncation_and_every_tail_is_found);
    RUN(foreign_and_missing_files_are_named);
    RUN(sections_in_falling_order_of_their_places_are_read);
    RUN(absurd_tables_with_a_good_crc_are_refused);
    RUN(a_table_opens_exactly_when_it_is_what_the_format_says);
    RUN(a_header_opens_exactly_when_it_is_what_the_format_says);
    RUN(what_is_opened_is_given_back_whether_it_opens_or_not);
    RUN(errors_have_all_their_numbers);
    RUN(errors_of_long_paths_are_cut_in_the_middle);
    RUN(a_refused_file_has_no_sections);
    RUN(a_writer_refuses_what_no_file_can_hold);
    RUN(a_writer_takes_the_names_types_and_dimensions_of_the_format);
    RUN(a_hundred_sections_fit);
    RUN(no_room_is_an_error_and_leaves_the_old_file);
    RUN(a_commit_is_on_the_disk_before_it_has_its_name);
    RUN(whatever_call_fails_the_old_file_stays_and_nothing_else);
    RUN(calls_that_are_interrupted_or_done_in_part_are_finished);
    RUN(kill_9_at_any_moment_leaves_the_old_file_or_the_new_one);
    RUN(a_writer_leaves_the_temporaries_of_the_living_alone_and_the_last_commit_counts);
    RUN(an_output_is_on_the_disk_before_and_after_it_has_its_name);
    RUN(what_killed_outputs_left_is_removed_and_what_is_being_written_stays);
    RUN(a_writer_whose_new_file_is_taken_for_stale_takes_the_next_number);
    RUN(a_writer_without_locks_or_with_a_link_in_its_way_writes_all_the_same);
    RUN(a_writer_that_looks_for_stale_files_removes_no_later_file_of_the_same_name);
    RUN(a_stale_temporary_is_cleared_and_a_neighbour_with_a_like_name_is_not);
    RUN(looking_for_stale_files_holds_nothing);
    RUN(what_cannot_be_the_name_of_a_file_is_said);
    RUN(up_to_forty_links_are_followed);
    RUN(a_name_of_255_bytes_is_written_and_a_longer_one_refused_before_the_work);
    RUN(a_name_without_a_folder_is_written_in_the_current_one);
    RUN(a_file_takes_the_permissions_of_the_one_whose_place_it_takes);
    RUN(a_file_may_have_descriptor_0);
    RUN(what_is_closed_is_not_given_back_again);
    RUN(scratch_keeps_its_contents_when_resized_and_has_no_name);
    RUN(scratch_lies_beside_the_file_that_a_link_names);
    RUN(a_dataset_has_shapes_classes_and_splits);
    RUN(sections_that_do_not_fit_each_other_are_refused);
    RUN(a_dataset_may_have_a_thousand_splits_and_features_of_both_kinds);
    RUN(labels_and_splits_out_of_range_name_the_node);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) return 2;
    return test_finish();
}
