/* Fuzzes topologies, matrices and nvidia-smi's tables: what is read has a plan, what is not has a message. */
#include "datasets/topology.h"
#include "tests/folder.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char path[600];
    error why = {""};
    ggnn_topology t;
    ggnn_placement plan;
    if (!folder[0]) {
        folder_make();
        atexit(folder_remove);
    }
    write_file(folder_path(path, "topology"), data, size);
    if (!topology_read(&t, path, 0, &why)) {
        if (!why.text[0]) abort();
        return 0;
    }
    for (int rule = GGNN_PLACE_BEST; rule <= GGNN_PLACE_CLIQUE; rule++)
        if (ggnn_place_parts(&plan, &t, (ggnn_place_rule)rule, 20, NULL) != GGNN_OK) abort();
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static size_t fuzz_seed(int which, uint8_t* out, size_t room)
{
    static const char* const text[] = {"700 50 0\n50 700 25\n0 25 700\n", "# one way\n1,2\n0,1\n",
                                       ("\t\033[4mGPU0\tGPU1\tGPU2\tNIC0\tCPU Affinity\033[0m\nGPU0\t X \tNV1\tSYS\tPIX\t0-19\n"
                                       "GPU1\tNV1\t X \tPHB\tSYS\t0-19\nGPU2\tNODE\tNV12\t X \tPXB\t0-19\nNIC0\tPIX\tSYS\tPXB\t X \n")};
    if (which >= (int)(sizeof text / sizeof text[0]) || strlen(text[which]) > room) return 0;
    memcpy(out, text[which], strlen(text[which]));
    return strlen(text[which]);
}
#endif
