/* Fuzzes npz: zip directories, deflate, .npy headers, and arrays that contradict each other. */
#include "tests/fuzz/fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_file("fuzz.npz", FORMAT_AUTO, data, size);
    uint8_t* copy = fuzz_signed("fuzz.npz", data, size);
    if (copy) fuzz_file("fuzz.npz", FORMAT_AUTO, copy, size);
    free(copy);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
enum { KINDS = 13 };
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    const model* m = fuzz_model();
#ifndef HAVE_ZLIB
    if (which >= KINDS) return 0;
#endif
    static const char* const scipy[] = {"csr", "csc", "coo", "coords"};
    bool deflated = which >= KINDS;
    int kind = which % KINDS;
    if (which >= 2 * KINDS) return 0;
    if (kind == KINDS - 1) {
        zip_maker z = {.deflated = deflated};
        array_sink to = {&z, NULL};
        put_model(&to, m, EDGES_INDEX, false);
        put_edge_features(&to, m, "edge_attr", ORDER_LIST, false);
        return fuzz_give(zip_end(&z), out, room);
    }
    if (kind >= 8) return fuzz_give(model_scipy_bytes(m, scipy[kind - 8], deflated), out, room);
    if (kind >= 6) return fuzz_give(model_shchur_bytes(m, kind == 6, deflated), out, room);
    return fuzz_give(model_npz_bytes(m, (edge_layout)(kind / 2), kind % 2, deflated), out, room);
}
#endif
