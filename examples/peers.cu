// peers.cu - XGNN's DistGraph: a graph and its features over several GPUs and the host, by one call. A process per GPU
// samples and reads through it, then one process for all GPUs: the CPU's bits. On GPUs, from the project's folder:
//   cc -O2 -I. -c common/ggnn.c common/ggnn_plan.c &&
//       nvcc -std=c++17 -arch=native -I. examples/peers.cu ggnn.o ggnn_plan.o -o peers -lm && ./peers 4
// Without a GPU, on the emulator, which has 2 devices where SIMT_DEVICES does not say how many (one line):
//   g++ -std=c++17 -g -ffp-contract=off -D_GNU_SOURCE -Isimt -I. -x c++ examples/peers.cu
//       -x none simt/simt_*.cc ggnn.o ggnn_plan.o -o peers -lm -pthread && SIMT_DEVICES=4 ./peers 4
//   prints  processes 4: each sampled 128 edges; rows read: 26 26 22 30 in parts, 24 of the host
//   prints  processes 1: each sampled 128 edges; rows read: 26 26 22 30 in parts, 24 of the host
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_plan.h" // first: ggnn_cuda.cuh has ggnn_cuda_dist_open then
#include "ggnn_cuda.cuh"
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
enum { N = 64, E = 3 * N, WIDTH = 3, PARTS_MAX = GGNN_CUDA_PARTS_MAX };

static void check(bool good, ggnn_cuda_fault why = {"a call failed, or a GPU has other bits than the CPU", -1, -1, -1})
{
    if (!good) exit((fprintf(stderr, "%s (peer %d, devices %d and %d)\n", why.what, why.peer, why.from, why.to), 1));
}

// Two neighbours of each node are sampled, and their rows' means formed, by the current device and by the CPU.
static void use(const ggnn_cuda_dist& d, const ggnn_dist_data& from, int processes) // 0: prints nothing
{
    struct arrays { ggnn_node seed[N]; ggnn_rng rng; float gpu[N * WIDTH], cpu[N * WIDTH]; }* a = nullptr;
    const int32_t   fanout[] = {2};
    const auto      how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    int64_t         read[PARTS_MAX + 2]; // of each part, of the host
    ggnn_batch      cpu;
    ggnn_cuda_batch gpu;
    check(!cudaMallocManaged(&a, sizeof *a)); // at one address of host and device
    for (int v = 0; v < N; v++) a->seed[v] = v;
    a->rng = {1, 0, GGNN_PURPOSE_SAMPLE};
    check(!ggnn_cuda_batch_new(&gpu, &d.graph, &how, N, nullptr));
    check(!ggnn_cuda_sample(&gpu, &d.graph, &a->rng, a->seed, {nullptr, N}, nullptr));
    check(!ggnn_cuda_aggregate(a->gpu, WIDTH, GGNN_MEAN, &gpu.hop[0], nullptr, nullptr, 1, &d.rows, nullptr));
    check(!cudaMemcpy(read, d.rows.traffic, sizeof *read * (size_t(from.parts) + 1), cudaMemcpyDeviceToHost));
    check(!ggnn_batch_new(&cpu, &from.graph, &how, N) && !ggnn_sample(&cpu, &from.graph, &a->rng, a->seed, N));
    ggnn_aggregate(a->cpu, WIDTH, GGNN_MEAN, &cpu.hop[0], nullptr, nullptr, 1, &from.rows);
    check(memcmp(a->gpu, a->cpu, sizeof a->cpu) == 0);
    if (processes) printf("processes %d: each sampled %d edges; rows read:", processes, int(*cpu.hop[0].num_edges.n));
    for (int p = 0; processes && p < from.parts; p++) printf(" %d", int(read[p]));
    if (processes) printf(" in parts, %d of the host\n", int(read[from.parts]));
    ggnn_batch_free(&cpu), check(!ggnn_cuda_batch_free(&gpu) && !cudaFree(a));
}

// Peer `self`, a process (mpirun's: shared is a file of shm_open) or a thread; shared NULL: one thread for all devices.
static int run(const ggnn_dist_data& from, void* shared, int self)
{
    ggnn_cuda_dist  d[PARTS_MAX]; // a peer has one
    ggnn_cuda_fault why;
    int             device[PARTS_MAX], devices = 0, n = shared ? 1 : from.parts;
    check(!cudaGetDeviceCount(&devices) && !cudaSetDevice(self % devices)); // mpirun: ggnn_cuda_local_device
    for (int p = 0; p < from.parts; p++) device[p] = p % devices; // several parts may lie on one
    check(!ggnn_cuda_dist_open(d, &from, shared ? nullptr : device, shared, self, &why), why);
    for (int i = 0; i < n; i++) check(!cudaSetDevice(d[i].device)), use(d[i], from, self + i ? 0 : from.parts - n + 1);
    check(!shared || !ggnn_cuda_peers_check(&d[0].peers, &why), why); // who trains asks this once a step
    return check(!ggnn_cuda_dist_close(d, n, &why), why), 0;
}

int main(int argc, char** argv)
{
    static int64_t   indptr[N + 1]; // v hears of v, v / 2, v / 4: small ids are hot
    static ggnn_node indices[E];
    static float     x[N * WIDTH];
    const int        parts = argc > 1 ? atoi(argv[1]) : 4;
    int              child[PARTS_MAX], who, status, failed = 0;
    check(parts >= 1 && parts <= PARTS_MAX, {"usage: peers [1 .. 64]", -1, -1, -1});
    for (int i = 0; i < E; i++) indices[i] = (i / 3) >> (i % 3), indptr[i / 3 + 1] = i + 1, x[i] = float(i);
    const auto     graph = ggnn_graph_plain(indptr, indices, nullptr, N, E);
    ggnn_dist_data from = {graph, ggnn_store_plain(x, N, WIDTH, GGNN_F32), .5, .5, nullptr, 0, parts};
    void* room = mmap(0, ggnn_cuda_peers_bytes(parts, 1), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int self = 0; self < parts; self++) // before the first call of CUDA
        if ((child[self] = fork()) == 0) return run(from, room, self);
    while ((who = wait(&status)) > 0)
        for (int self = 0; self < parts; self++) // perhaps it ended before it joined: then nobody else knows
            if (child[self] == who) failed |= status, ggnn_cuda_peers_give_up(room, self);
    return failed ? 1 : run(from, nullptr, 0);
}
