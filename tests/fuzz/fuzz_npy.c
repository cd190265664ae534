/* Fuzzes .npy headers and elements: a folder whose only array is the input. */
#include "tests/fuzz/fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600];
    fuzz_folder();
    make_folder("fuzz");
    write_file(folder_path(path, "fuzz/edge_index.npy"), data, size);
    fuzz_convert("fuzz", &(convert_options){.format = FORMAT_NPY, .keep_duplicates = true});
    return 0;
}

#ifndef FUZZ_LIBFUZZER
/* edge_index (2, E) of every type. */
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const type[] = {"<i8", ">i4", "|u1", "<f4", "<f2", ">f8", "|b1", "<u8"};
    if (which >= 8) return 0;
    size_t size = (size_t)(type[which][2] - '0'), count = 16;
    uint8_t data[8 * 16] = {0};
    for (size_t i = 0; i < count && which < 3; i++)
        data[i * size + (which == 1 ? size - 1 : 0)] = (uint8_t)(i * 7 % 11);
    return fuzz_give(npy_of(type[which], "2, 8", which % 2, data, count * size), out, room);
}
#endif
