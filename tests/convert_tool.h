/* convert_tool.h - a graph of graph_files.h is converted, or refused, in the test's own folder. */
#ifndef CONVERT_TOOL_H
#define CONVERT_TOOL_H
#include "common/memory.h"
#include "datasets/convert.h"
#include "datasets/dataset.h"
#include "tests/graph_files.h"

/* Converts folder/name and opens the result; false, with the message printed, on failure. */
static inline bool converted(dataset* d, const char* name, const convert_options* how)
{
    char in[600], out[600];
    error why = {""};
    bool ok = convert(folder_path(in, name), folder_path(out, "out.ggnn"), how, &why) && dataset_open(d, out, &why) &&
              ggnn_file_verify(&d->file);
    if (!ok) printf("    %s: %s\n", name, why.text);
    return CHECK(ok);
}

/* The message of a conversion that must fail, and leave nothing. */
static inline const char* refused(const char* name, const convert_options* how)
{
    static error why;
    char in[600], out[600];
    const int open_before = open_descriptors();
    why.text[0] = 0;
    remove(folder_path(out, "none.ggnn"));
    CHECK(!convert(folder_path(in, name), out, how, &why));
    CHECK(why.text[0] && access(out, F_OK) != 0 && temporaries() == 0 && open_descriptors() == open_before);
    return why.text;
}

enum { DAMAGED = 600 };
/* Damage number i of DAMAGED to a file: the first half are cut short, of the others `flips` bits are turned. */
static inline void write_damaged(const char* path, const bytes* file, int i, int flips)
{
    bytes bad = {0};
    put(&bad, file->data, i < DAMAGED / 2 ? (size_t)test_below((int64_t)file->size) : file->size);
    for (int k = 0; k < flips && i >= DAMAGED / 2; k++) bad.data[test_below((int64_t)bad.size)] ^= (uint8_t)(1 << test_below(8));
    write_file(path, bad.data, bad.size);
    drop(&bad);
}

static inline void check_reported(const char* name, const char* words, bool wanted)
{
    char text[4096];
    dataset d;
    convert_options how = {.report = tmpfile()};
    if (converted(&d, name, &how)) {
        rewind(how.report);
        text[fread(text, 1, sizeof text - 1, how.report)] = 0;
        if (!CHECK((strstr(text, words) != NULL) == wanted)) printf("    %s says: %s\n", name, text);
        dataset_close(&d);
    }
    fclose(how.report);
}

static inline bool same_files(const char* a, const char* b)
{
    FILE* file[2] = {fopen(a, "rb"), fopen(b, "rb")};
    bool same = file[0] && file[1];
    for (int c = 0; same && c != EOF;) same = (c = getc(file[0])) == getc(file[1]);
    for (int k = 0; k < 2; k++)
        if (file[k]) fclose(file[k]);
    return same;
}

/* Each allocation of a conversion fails, one at a time: an error, and nothing is left. */
static inline void allocations_may_fail(const char* name, const convert_options* how)
{
    char in[600], out[600];
    const int open_before = open_descriptors();
    long n = 1;
    folder_path(in, name);
    folder_path(out, "alloc.ggnn");
    remove(out);
    for (;; n++) {
        char number[24];
        error why = {""};
        snprintf(number, sizeof number, "%ld", memory_calls() + n);
        setenv("GGNN_TEST_FAIL_ALLOCATION", number, 1);
        bool ok = convert(in, out, how, &why);
        unsetenv("GGNN_TEST_FAIL_ALLOCATION");
        if (ok) break;
        if (CHECK(strstr(why.text, "out of memory")) && CHECK(access(out, F_OK) != 0)) continue;
        printf("    %s, allocation %ld: %s\n", name, n, why.text);
        break; /* it would fail for ever */
    }
    CHECK_EQ(temporaries(), 0);
    CHECK_EQ(open_descriptors(), open_before);
    CHECK(n > 3); /* it was told to fail, and did */
}
#endif
