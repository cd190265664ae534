/* Fuzzes npz: zip directories, deflate, .npy headers, and arrays that contradict each other. */
#include "datasets/zip.h"
#include "tests/fuzz/fuzz_convert.h"

/* Makes the CRC of every stored member right, so that changed arrays are read to their end. */
static void sign(uint8_t* data, size_t size, const zip_archive* z)
{
    size_t at = (size_t)z->directory;
    for (int64_t i = 0; i < z->num_members && at + 46 <= size; i++) {
        const zip_member* m = &z->member[i];
        const uint8_t *local = data + m->header, *entry = data + at;
        size_t begin = (size_t)m->header + 30 + local[26] + 256u * local[27] + local[28] + 256u * local[29];
        if (m->method != 0 || begin > size || (size_t)m->bytes > size - begin) return;
        uint32_t crc = crc32_more(0, data + begin, (size_t)m->bytes);
        for (int k = 0; k < 4; k++) data[at + 16 + (size_t)k] = (uint8_t)(crc >> 8 * k);
        at += 46 + entry[28] + 256u * entry[29] + entry[30] + 256u * entry[31] + entry[32] + 256u * entry[33];
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600];
    zip_archive z;
    error why = {""};
    fuzz_file("fuzz.npz", FORMAT_AUTO, data, size);
    if (!zip_open(&z, folder_path(path, "fuzz.npz"), &why)) return 0;
    uint8_t* copy = malloc(size);
    memcpy(copy, data, size);
    sign(copy, size, &z);
    zip_close(&z);
    fuzz_file("fuzz.npz", FORMAT_AUTO, copy, size);
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
