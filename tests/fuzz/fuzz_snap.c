/* Fuzzes SNAP's lists of edges. */
#include "tests/fuzz/fuzz_convert.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    fuzz_file("fuzz.txt", FORMAT_SNAP, data, size);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const head[] = {"# Nodes: 40 Edges: 30\n# FromNodeId\tToNodeId\n", ""};
    bytes b = {0};
    if (which >= (int)(sizeof head / sizeof head[0])) return 0;
    put_string(&b, head[which]);
    put_edge_lines(&b, fuzz_model(), " ", 0, false);
    return fuzz_give(b, out, room);
}
#endif
