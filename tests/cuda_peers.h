// cuda_peers.h - for tests of [7b] of ggnn_cuda.cuh: memory that peers share, peers that are processes, and whether a batch of a
// device is the host's.
#ifndef CUDA_PEERS_H
#define CUDA_PEERS_H
#include "ggnn_cuda.cuh"
#include "tests/cuda_memory.h"

#include <string>
#include <sys/mman.h>
#include <sys/wait.h>

template <class T> static bool same(const device_array<T>& got, const T* want, int64_t n)
{
    const std::vector<T> values = got.values(n);
    return n == 0 || memcmp(values.data(), want, static_cast<size_t>(n) * sizeof(T)) == 0;
}
template <class T> static bool same(const T* device, const T* want, int64_t n)
{
    std::vector<T> values(static_cast<size_t>(n));
    if (n && cudaMemcpy(values.data(), device, values.size() * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
        return false;
    return n == 0 || memcmp(values.data(), want, values.size() * sizeof(T)) == 0;
}

// Every array of every hop. A block without weights or positions has none on either side.
static inline bool same_batch(const ggnn_batch& want, const ggnn_cuda_batch& got, int hops)
{
    bool equal = true;
    for (int h = 0; h < hops; h++) {
        const ggnn_block &w = want.hop[h], &g = got.hop[h];
        const int64_t     edges = *w.num_edges.n;
        equal = equal && same(g.num_edges.n, w.num_edges.n, 1) && same(g.num_src.n, w.num_src.n, 1) &&
                same(g.indptr, w.indptr, *w.num_dst.n + 1) && same(g.indices, w.indices, edges) &&
                (!w.position == !g.position) && (!w.weight == !g.weight) &&
                (!w.position || same(g.position, w.position, edges)) && (!w.weight || same(g.weight, w.weight, edges));
    }
    return equal && same(got.id, want.id, *want.hop[hops - 1].num_src.n);
}

class peers_memory { // a file without a name, which child processes have by its number
public:
    void* at = nullptr;
    int   file;

    peers_memory(int32_t peers, int32_t loans) : name(tmpfile()), file_bytes(ggnn_cuda_peers_bytes(peers, loans))
    {
        file = fileno(name);
        if (CHECK(ftruncate(file, static_cast<off_t>(file_bytes)) == 0)) at = map(file, peers, loans);
    }
    peers_memory(const peers_memory&) = delete;
    ~peers_memory()
    {
        munmap(at, file_bytes);
        fclose(name);
    }
    static void* map(int file, int32_t peers, int32_t loans)
    {
        return mmap(nullptr, ggnn_cuda_peers_bytes(peers, loans), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    }

private:
    FILE*  name;
    size_t file_bytes;
};

// Starts this program as another process: --peer FILE WHAT PEERS SELF.
static inline pid_t start(const peers_memory& shared, const std::string& what, int32_t peers, int32_t self)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "peer", "--peer", std::to_string(shared.file).c_str(), what.c_str(),
              std::to_string(peers).c_str(), std::to_string(self).c_str(), nullptr);
        _exit(127);
    }
    return child;
}
static inline int status_of(pid_t child)
{
    int status = -1;
    if (waitpid(child, &status, 0) != child) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
#endif
