/* Fuzzes the .ggnn container: whatever the bytes, opening and verifying end, and what opens can be read in full. */
#include <unistd.h>

#include "datasets/ggnn_file.h"
#include "tests/fuzz/fuzz.h"

static void parse(const uint8_t* memory, size_t size)
{
    static volatile uint8_t sink;
    ggnn_file f;
    if (!ggnn_file_open_memory(&f, "fuzz", memory, (int64_t)size)) return;
    for (int32_t i = 0; i < f.num_sections; i++) {
        const uint8_t* data = ggnn_file_data(&f, &f.section[i]);
        if (f.section[i].bytes) sink = (uint8_t)(data[0] + data[f.section[i].bytes - 1]);
        if (ggnn_file_find(&f, f.section[i].name) != &f.section[i]) abort();
    }
    (void)ggnn_file_need(&f, "feat", GGNN_FILE_F32, 2);
    (void)ggnn_file_graph_crc(&f);
    (void)ggnn_file_verify(&f);
    (void)sink;
}

/* Parses the bytes as they are, then with table and length signed, so that the checks behind the CRC are reached. */
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    int64_t bytes = (int64_t)size;
    uint32_t sections, crc;
    uint8_t* copy;
    parse(data, size);
    if (size < GGNN_FILE_DATA) return 0;
    copy = malloc(size);
    memcpy(copy, data, size);
    memcpy(copy + 16, &bytes, 8);
    memcpy(&sections, copy + 12, 4);
    crc = ggnn_file_crc32c(0, copy, 28);
    crc = ggnn_file_crc32c(crc, copy + 32, sections > GGNN_FILE_MAX_SECTIONS ? 0 : 80 * (int64_t)sections);
    memcpy(copy + 28, &crc, 4);
    parse(copy, size);
    free(copy);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
/* Files with 0 to 5 sections of every type. */
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    char path[4096];
    const int64_t dim[4] = {6, 3, 2, 1};
    size_t size;
    ggnn_file_writer w;
    FILE* in;
    int fd;
    snprintf(path, sizeof path, "%s/ggnn-fuzz-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    if (which > 5 || (fd = mkstemp(path)) < 0) return 0;
    close(fd);
    ggnn_file_create(&w, path);
    for (int i = 0; i < which; i++) {
        static const char* const name[] = {"indptr", "indices", "feat", "label", "split"};
        ggnn_file_reserve(&w, name[i], (ggnn_file_type)(i + 2), i % 4 + 1, dim);
    }
    if (!ggnn_file_commit(&w) || !(in = fopen(path, "rb"))) return 0;
    size = fread(out, 1, room, in);
    fclose(in);
    unlink(path);
    return size;
}
#endif
