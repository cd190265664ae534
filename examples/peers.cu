// peers.cu - rows over the memory of several GPUs, which each of them reads in place: by one process a GPU, then by one
// process for all. The C functions, of which it needs ggnn_layout_owners and ggnn_gather, are compiled as C. On GPUs, from
// the project's folder:
//   cc -O2 -I. -c common/ggnn.c && nvcc -std=c++17 -arch=native -I. examples/peers.cu ggnn.o -o peers -lm && ./peers 4
// Without a GPU, on the emulator, which has 2 devices where SIMT_DEVICES does not say how many (one line):
//   g++ -std=c++17 -g -ffp-contract=off -D_GNU_SOURCE -Isimt -I. -x c++ examples/peers.cu
//       -x none simt/simt_*.cc ggnn.o -o peers -lm -pthread && SIMT_DEVICES=4 ./peers 4
//   prints  4 processes, 4 parts: each read 64 rows; its own were 12 12 25 15
//   prints  1 process, 4 parts: each read 64 rows; its own were 12 12 25 15
// With fewer GPUs than parts, several parts lie on one.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include <stdio.h>
#include <stdlib.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <vector>

enum { N = 64, WIDTH = 4, LOANS = 1 };

static void check(cudaError_t error, const ggnn_cuda_fault* fault = nullptr)
{
    if (error == cudaSuccess) return;
    if (fault && fault->what)
        fprintf(stderr, "%s: %s (peer %d, devices %d and %d)\n", cudaGetErrorString(error), fault->what, fault->peer,
                fault->from, fault->to);
    else
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
    exit(1);
}

template <class T> static T* send(const T* from, int64_t n) // to the current device
{
    void* p = nullptr;
    check(cudaMalloc(&p, static_cast<size_t>(n) * sizeof(T)));
    check(cudaMemcpy(p, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
    return static_cast<T*>(p);
}

// Owners by hash: every process works out the same layout.
struct spread {
    std::vector<float>     table; // (N, WIDTH) what the rows must be
    std::vector<ggnn_node> rank;
    std::vector<int64_t>   bound;
    ggnn_layout            at;

    explicit spread(int32_t parts) : rank(N), bound(static_cast<size_t>(parts) + 1)
    {
        for (int i = 0; i < N * WIDTH; i++) table.push_back(static_cast<float>(i));
        if (ggnn_layout_owners(&at, rank.data(), bound.data(), GGNN_OWNER_HASH, nullptr, N, parts, nullptr) != GGNN_OK)
            exit(1);
    }
    int64_t rows(int32_t p) const { return ggnn_layout_nodes(nullptr, &at, N, p); }
    void    print(const char* who) const
    {
        printf("%s, %d parts: each read %d rows; its own were", who, at.parts, N);
        for (int32_t p = 0; p < at.parts; p++) printf(" %lld", static_cast<long long>(rows(p)));
        printf("\n");
    }

    // Part p's rows, on the current device. An empty part has no memory.
    float* send_part(int32_t p) const
    {
        const ggnn_store       whole = ggnn_store_plain(table.data(), N, WIDTH, GGNN_F32);
        std::vector<ggnn_node> id(static_cast<size_t>(rows(p)));
        std::vector<float>     part(id.size() * WIDTH);
        ggnn_layout_nodes(id.data(), &at, N, p);
        ggnn_gather(part.data(), WIDTH, GGNN_F32, &whole, id.data(), rows(p));
        return part.empty() ? nullptr : send(part.data(), static_cast<int64_t>(part.size()));
    }
};

// All rows, gathered by the current device through its table: are they right, and read where they should be?
static void gather_all(const spread& all, std::vector<const void*> base)
{
    const int32_t          parts = all.at.parts;
    std::vector<ggnn_node> id(N);
    std::vector<float>     out(N * WIDTH);
    std::vector<int64_t>   read(static_cast<size_t>(parts) + 2, 0);
    for (int v = 0; v < N; v++) id[static_cast<size_t>(v)] = static_cast<ggnn_node>(N - 1 - v);
    base.resize(static_cast<size_t>(parts) + 2, nullptr); // no host tier, no cache
    const void** table = send(base.data(), parts + 2);
    ggnn_node *  rank = send(all.rank.data(), N), *ids = send(id.data(), N);
    int64_t *    bound = send(all.bound.data(), parts + 1), *traffic = send(read.data(), parts + 2);
    float*       rows = send(out.data(), N * WIDTH);
    ggnn_store   from = {WIDTH, GGNN_F32, WIDTH * sizeof(float), nullptr, table, all.at, traffic};
    from.at.rank = rank; // the layout's arrays, where the device can read them
    from.at.bound = bound;
    check(ggnn_cuda_gather(rows, WIDTH, GGNN_F32, &from, ids, {nullptr, N}, nullptr));
    check(cudaMemcpy(out.data(), rows, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    check(cudaMemcpy(read.data(), traffic, read.size() * sizeof(int64_t), cudaMemcpyDeviceToHost));
    for (int v = 0; v < N; v++)
        for (int j = 0; j < WIDTH; j++)
            if (out[static_cast<size_t>(v * WIDTH + j)] != all.table[static_cast<size_t>((N - 1 - v) * WIDTH + j)]) {
                fprintf(stderr, "row %d is wrong\n", N - 1 - v);
                exit(1);
            }
    for (void* p : {static_cast<void*>(table), static_cast<void*>(rank), static_cast<void*>(ids),
                    static_cast<void*>(bound), static_cast<void*>(traffic), static_cast<void*>(rows)})
        check(cudaFree(p));
    for (int32_t p = 0; p < parts; p++)
        if (read[static_cast<size_t>(p)] != all.rows(p)) exit(1);
}

// One thread drives all devices: once they are linked, every address is good on all of them.
static void in_one_process(int32_t parts)
{
    const spread             all(parts);
    std::vector<int>         device;
    std::vector<const void*> base;
    ggnn_cuda_fault          fault;
    int                      devices = 0;
    check(cudaGetDeviceCount(&devices));
    for (int32_t p = 0; p < parts; p++) device.push_back(p % devices);
    check(ggnn_cuda_link(device.data(), parts, &fault), &fault);
    for (int d : device) {
        check(cudaSetDevice(d));
        base.push_back(all.send_part(static_cast<int32_t>(base.size())));
        check(cudaDeviceSynchronize());
    }
    for (int d : device) {
        check(cudaSetDevice(d));
        gather_all(all, base);
    }
    for (const void* p : base) check(cudaFree(const_cast<void*>(p)));
    all.print("1 process");
}

// What each process does. `shared`: memory that all of them map.
static void as_peer(void* shared, int32_t peers, int32_t self)
{
    const spread                  all(peers);
    std::vector<const void*>      base(static_cast<size_t>(peers));
    std::vector<ggnn_cuda_source> source;
    ggnn_cuda_peers               p;
    ggnn_cuda_fault               fault;
    int                           devices = 0;
    check(cudaGetDeviceCount(&devices)); // under mpirun or srun: ggnn_cuda_local_device
    check(cudaSetDevice(self % devices));
    check(ggnn_cuda_peers_join(&p, shared, peers, self, LOANS));
    float* part = all.send_part(self);
    check(cudaDeviceSynchronize());
    check(ggnn_cuda_peers_lend(&p, 0, part, 0, static_cast<size_t>(all.rows(self)) * WIDTH * sizeof(float)));
    check(ggnn_cuda_peers_wait(&p, &fault), &fault); // all have lent
    for (int32_t q = 0; q < peers; q++) source.push_back({q, 0}); // part q is peer q's loan 0
    check(ggnn_cuda_peers_rows(base.data(), &p, source.data(), peers, &fault), &fault);
    gather_all(all, base);
    check(ggnn_cuda_peers_check(&p, &fault), &fault); // who trains asks this once a step
    check(ggnn_cuda_peers_close(&p, &fault), &fault); // nobody reads our part any more
    check(cudaFree(part));
}

// A process a peer, made before the first call of CUDA. Under mpirun they are there: they map a file of shm_open.
static bool in_processes(int32_t peers)
{
    const size_t       bytes = ggnn_cuda_peers_bytes(peers, LOANS);
    std::vector<pid_t> child;
    bool               good = true;
    void*              shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); // zeros
    if (shared == MAP_FAILED) return false;
    for (int32_t self = 0; self < peers; self++) {
        child.push_back(fork());
        if (child.back() != 0) continue;
        as_peer(shared, peers, self);
        exit(0);
    }
    for (int32_t ended = 0; ended < peers; ended++) {
        int         status = 0;
        const pid_t who = wait(&status);
        good = good && status == 0;
        for (int32_t self = 0; self < peers; self++) // perhaps before it joined: then nobody else knows
            if (child[static_cast<size_t>(self)] == who) ggnn_cuda_peers_give_up(shared, self);
    }
    munmap(shared, bytes);
    if (good) spread(peers).print((std::to_string(peers) + " processes").c_str());
    return good;
}

int main(int argc, char** argv)
{
    const int32_t peers = argc > 1 ? atoi(argv[1]) : 4;
    if (peers < 1 || peers > GGNN_CUDA_PARTS_MAX) {
        fprintf(stderr, "usage: peers [1 .. %d]\n", static_cast<int>(GGNN_CUDA_PARTS_MAX));
        return 2;
    }
    if (!in_processes(peers)) return 1;
    in_one_process(peers);
    return 0;
}
