/* Fuzzes lists of edges whose ids are names. What comes out has good names, and none twice. */
#include "datasets/names.h"
#include "tests/fuzz/fuzz_convert.h"

static void check_names(void)
{
    char out[600];
    error why = {""};
    dataset d;
    names all;
    if (!dataset_open(&d, folder_path(out, "out.ggnn"), &why)) return;
    if (!d.name || !dataset_check_names(&d, &why) || !names_open(&all, INT64_MAX, &why)) abort();
    for (int64_t v = 0; v < d.num_nodes; v++)
        if (names_number(&all, d.name + d.name_at[v], d.name_at[v + 1] - d.name_at[v], &why) != v) abort();
    names_close(&all);
    dataset_close(&d);
}

/* The first byte: how it is read. */
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600];
    if (size < 1) return 0;
    const convert_options how = {.format = data[0] & 1 ? FORMAT_SNAP : FORMAT_EDGES,
                                 .ids = IDS_NAMES,
                                 .header = data[0] & 2 ? HEADER_YES : HEADER_NO,
                                 .columns = (convert_columns)(data[0] >> 2 & 3),
                                 .direction = data[0] & 16 ? DIRECTION_BOTH : DIRECTION_AS_IS,
                                 .memory = data[0] & 32 ? 1 << 20 : 64 << 20};
    fuzz_folder();
    write_file(folder_path(path, "fuzz.txt"), data + 1, size - 1);
    remove(folder_path(path, "out.ggnn"));
    fuzz_convert("fuzz.txt", &how);
    check_names();
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const text[] = {"\1a b\nb c\n", "\2src,dst\nalice,bob\nbob,carol\n", "\0# x\n1,a,2.5\na,1,3\n", "\20a\tb\r\nb\tb\r\n", "\10a b 1 2\nb c 3 4\n"};
    bytes b = {0};
    if (which >= 5) return 0;
    put(&b, text[which], which == 2 ? 19 : strlen(text[which]));
    return fuzz_give(b, out, room);
}
#endif
