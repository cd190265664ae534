/* Fuzzes --raw: what stands before the first zero byte or line says what the rest is, a file called f. */
#include "tests/fuzz/fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600], spec[1024];
    size_t length = 0;
    while (length < size && length < sizeof spec - 1 && data[length] && data[length] != '\n') length++;
    if (length == size) return 0;
    for (size_t i = 0; i < length; i++) spec[i] = data[i] == '/' ? '.' : (char)data[i]; /* no file elsewhere */
    spec[length] = 0;
    fuzz_folder();
    make_folder("fuzz");
    write_file(folder_path(path, "fuzz/f"), data + length + 1, size - length - 1);
    fuzz_convert("fuzz", &(convert_options){.raw = spec, .memory = 64 << 20});
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const spec[] = {"edges=f:u8", "edge_index=f:i8 label=f:i8", "indptr=f:u8 indices=f:u8", "row_ptr=f:u16 col_idx=f:u8 feat=f:f16:1",
                                       "edges=f:i64 feat=f:f32:1 split=f:u8:16", "edges=f:f64", "edges=f:bool weight=f:f32 train=f:bool edge_feat=f:f16:2",
                                       "edges=f"};
    static const uint8_t rest[] = {0, 0, 1, 0, 1, 0, 2, 0, 2, 0, 0, 0, 1, 0, 0, 0};
    bytes b = {0};
    if (which >= 8) return 0;
    put_string(&b, spec[which]);
    put_string(&b, "\n");
    put(&b, rest, sizeof rest);
    return fuzz_give(b, out, room);
}
#endif
