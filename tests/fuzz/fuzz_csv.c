/* Fuzzes lists of edges and OGB's csv: an input that begins with a form feed is a folder, each of its files behind
   a form feed. */
#include "tests/fuzz/fuzz_convert.h"

static const char* const ogb_files[] = {"fuzz/raw/num-node-list.csv", "fuzz/raw/num-edge-list.csv",
                                        "fuzz/raw/edge.csv",          "fuzz/raw/node-feat.csv",
                                        "fuzz/raw/node-label.csv",    "fuzz/split/time/train.csv",
                                        "fuzz/split/time/valid.csv",  "fuzz/split/time/test.csv",
                                        "fuzz/raw/edge-feat.csv"};
enum { NUM_OGB_FILES = sizeof ogb_files / sizeof ogb_files[0] };

static void parse_ogb(const uint8_t* data, size_t size)
{
    size_t at = 1;
    fuzz_folder();
    make_folder("fuzz");
    make_folder("fuzz/raw");
    make_folder("fuzz/split");
    make_folder("fuzz/split/time");
    for (int k = 0; k < NUM_OGB_FILES; k++) {
        char path[600];
        const uint8_t* end = at < size ? memchr(data + at, '\f', size - at) : NULL;
        size_t length = at >= size ? 0 : end ? (size_t)(end - data) - at : size - at;
        write_file(folder_path(path, ogb_files[k]), data + (at < size ? at : 0), length);
        if (k == NUM_OGB_FILES - 1 && at >= size) remove(path); /* it may be missing */
        at += length + 1;
    }
    fuzz_convert("fuzz", &(convert_options){.format = FORMAT_OGB});
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    if (size && data[0] == '\f')
        parse_ogb(data, size);
    else {
        fuzz_file("fuzz.csv", FORMAT_EDGES, data, size);
        fuzz_convert("fuzz.csv", &(convert_options){.format = FORMAT_EDGES, .columns = COLUMNS_FEATURES, .memory = 64 << 20});
        fuzz_convert("fuzz.csv", &(convert_options){.format = FORMAT_EDGES, .columns = COLUMNS_WEIGHT_FEATURES, .direction = DIRECTION_BOTH,
                                                    .half = true, .memory = 64 << 20});
    }
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static void put_model_file(bytes* b, const char* path)
{
    char whole[600], chunk[4096];
    FILE* in = fopen(folder_path(whole, path), "rb");
    put(b, "\f", 1);
    for (size_t got; in && (got = fread(chunk, 1, sizeof chunk, in)) > 0;) put(b, chunk, got);
    if (in) fclose(in);
}

static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    const model* m = fuzz_model();
    bytes b = {0};
    if (which > 8) return 0;
    fuzz_folder();
    if (which > 6) { /* 7: columns of features; 8: weights before them */
        put_edge_columns(&b, m, ",", 0, which > 7, true);
        return fuzz_give(b, out, room);
    }
    if (which == 0 || which == 6) {
        model_ogb(m, "fuzz", false);
        if (which) model_ogb_rows(m, "fuzz", false);
        for (int k = 0; k < NUM_OGB_FILES - !which; k++) put_model_file(&b, ogb_files[k]);
        return fuzz_give(b, out, room);
    }
    if (which & 1) put_string(&b, "src,dst,weight\n# a comment\n");
    put_edge_lines(&b, m, which & 2 ? "," : "\t ", 0, which & 1);
#ifdef HAVE_ZLIB
    if (which > 3) {
        bytes packed = gzip_bytes(b.data, b.size);
        drop(&b);
        b = packed;
    }
#endif
    return fuzz_give(b, out, room);
}
#endif
