/* loads.c - loads the two libraries of the package side by side, and samples by each: loads libggnn32.so libggnn64.so */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    int64_t num_dst, num_src, num_edges;
    const int64_t* indptr;
    const void* indices;
    const float* weight;
    const int64_t* time;
    int64_t src, dst;
} relation;

static int samples(const char* path, const void* indices, const void* seed)
{
    static const int64_t indptr[] = {0, 2, 3, 3}, num_nodes[] = {3}, num_seeds[] = {1};
    const relation one = {3, 3, 3, indptr, indices, NULL, NULL, 0, 0};
    const int32_t fanout[] = {-1, -1};
    int64_t nodes[3] = {0}, edges[3] = {0};
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) return puts(dlerror()), 0;
    void* (*make)(int32_t, const int64_t*, const void*, int32_t, const relation*, int32_t, int32_t, int32_t, int32_t) = dlsym(library, "ggnn_py_sampler_new");
    int (*sample)(void*, uint64_t, uint32_t, int32_t, const int32_t*, const int64_t*, const void* const*, const void*, int64_t*, int64_t*) =
        dlsym(library, "ggnn_py_sample");
    void* sampler = make ? make(1, num_nodes, NULL, 1, &one, 0, 0, 0, 0) : NULL;
    if (!sampler || sample(sampler, 1, 0, 2, fanout, num_seeds, &seed, NULL, nodes, edges) != 0) return 0;
    printf("%s: %d, %d nodes, %d edges\n", path, (int)nodes[1], (int)nodes[2], (int)edges[2]);
    return nodes[0] == 1 && nodes[1] == 3 && nodes[2] == 3 && edges[1] == 2 && edges[2] == 3;
}

int main(int argc, char** argv)
{
    static const int32_t narrow[] = {1, 2, 0}, narrow_seed = 0; /* node 0 has 1 and 2, node 1 has 0 */
    static const int64_t wide[] = {1, 2, 0}, wide_seed = 0;
    return argc != 3 || !samples(argv[1], narrow, &narrow_seed) || !samples(argv[2], wide, &wide_seed);
}
