/* Fuzzes Matrix Market. */
#include "tests/fuzz/fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_file("fuzz.mtx", FORMAT_MTX, data, size);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const head[] = {"%%MatrixMarket matrix coordinate real general\n% c\n40 40 30\n",
                                       "%%MatrixMarket matrix coordinate integer symmetric\n40 40 30\n"};
    bytes b = {0};
    if (which >= (int)(sizeof head / sizeof head[0])) return 0;
    put_string(&b, head[which]);
    put_edge_lines(&b, fuzz_model(), " ", 1, true);
    return fuzz_give(b, out, room);
}
#endif
