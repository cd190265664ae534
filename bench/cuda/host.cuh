// host.cuh - rows of the host's memory: read in place (UVA, zero copy), by lines or as they come, or
// gathered by the CPU and copied; and with the hottest part of them on the device.
#ifndef BENCH_CUDA_HOST_CUH
#define BENCH_CUDA_HOST_CUH
#include <cstring>

#include "bench/cuda/common.cuh"
#include "common/parallel.h"

namespace hosts {

using namespace gpu;

struct tiers { // rows below `stored` on the device too, all on the host
    int64_t                  rows, stored, n;
    int32_t                  width;
    ggnn_store               store, plain; // plain: the rows as the C twin reads them
    std::vector<const void*> base;
    ggnn_node*               id;
    std::vector<ggnn_node>   host_id;
    char *                   pinned, *staged; // all rows; (n, width) where the CPU gathers them
    float*                   out;
};

// A share `hits` of the ids lie on the device.
__global__ void __launch_bounds__(THREADS)
    draw_tiers(ggnn_node* id, int64_t n, int64_t stored, int64_t rows, uint64_t hits, ggnn_rng rng)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < n; i += all) {
        const ggnn_words w = ggnni::random_words(rng, 5, i, 0);
        const uint64_t   from = static_cast<uint64_t>(stored), left = static_cast<uint64_t>(rows - stored);
        id[i] = static_cast<ggnn_node>(w.word[0] < hits ? w.word[1] * from >> 32
                                                        : from + (w.word[1] * left >> 32));
    }
}

bool open_tiers(bench* b, tiers* t, int64_t row, double hits)
{
    const ggnn_rng rng = {1, 0, GGNN_PURPOSE_GENERATE};
    const int64_t  bytes = pick(b, int64_t{1} << 30, 128 << 20, 1 << 14);
    t->rows = bytes / row;
    t->stored = t->rows / 4;
    t->n = pick(b, 200000, 50000, 40);
    t->width = static_cast<int32_t>(row / 4);
    float*        device_rows = make<float>(b, t->stored * t->width, "rows of the device");
    float*        between = make<float>(b, t->rows * t->width, "rows of the host");
    t->pinned = static_cast<char*>(take_pinned(b, t->rows * row, "rows of the host"));
    t->staged = static_cast<char*>(take_pinned(b, t->n * row, "gathered rows"));
    t->id = make<ggnn_node>(b, t->n, "ids");
    t->out = make<float>(b, t->n * t->width, "gathered rows");
    if (!device_rows || !between || !t->pinned || !t->staged || !t->id || !t->out) return false;
    if (!fill(b, between, t->rows * t->width, 1) || !copy(b, t->pinned, between, t->rows * row) ||
        !copy(b, device_rows, between, t->stored * row) ||
        !good(b,
              launch_items(draw_tiers, t->n, stream(), t->id, t->n, t->stored, t->rows,
                           static_cast<uint64_t>(hits * 4294967296.0), rng),
              "ids"))
        return false;
    t->host_id = fetch(b, t->id, t->n);
    t->base = {device_rows, t->pinned, nullptr};
    t->store = {};
    t->store.at = {nullptr, 0, nullptr, nullptr, t->stored, 1};
    t->store.width = t->width;
    t->store.pitch = row;
    t->plain = ggnn_store_plain(t->pinned, t->rows, t->width, GGNN_F32);
    t->store.base = send(b, t->base.data(), 3, "bases");
    return t->store.base != nullptr;
}

// ==== ways to do it ========================================================================================

cudaError_t in_place(const tiers& t) // whole rows, by all processors
{
    return ggnn_cuda_gather(t.out, t.width, GGNN_F32, &t.store, t.id, {nullptr, t.n}, stream());
}
cudaError_t by_lines(const tiers& t,
                     int32_t      blocks) // the host's rows in lines of 128 bytes, by so many blocks
{
    cudaError_t e =
        ggnn_cuda_gather_device(t.out, t.width, GGNN_F32, &t.store, t.id, {nullptr, t.n}, stream());
    return e == cudaSuccess ? ggnn_cuda_gather_host(t.out, t.width, GGNN_F32, &t.store, t.id, {nullptr, t.n},
                                                    blocks, stream())
                            : e;
}
cudaError_t by_the_cpu(const tiers& t) // all threads of the CPU, then one copy
{
    cudaError_t e = cudaStreamSynchronize(stream()); // the copy before reads what is now overwritten
    ggnn_gather(t.staged, t.width, GGNN_F32, &t.plain, t.host_id.data(), t.n);
    if (e != cudaSuccess) return e;
    return cudaMemcpyAsync(t.out, t.staged, static_cast<size_t>(t.n * t.width) * 4, cudaMemcpyHostToDevice,
                           stream());
}

cudaError_t by_the_cpu_alone(const tiers& t) // which computes on them: nothing crosses the bus
{
    ggnn_gather(t.staged, t.width, GGNN_F32, &t.plain, t.host_id.data(), t.n);
    return cudaSuccess;
}

// What was gathered, on the device or in `staged`.
bool same_rows(bench* b, const tiers& t, const char* what, bool staged)
{
    std::vector<float> theirs(static_cast<size_t>(t.n * t.width)), ours(theirs.size());
    if (staged) memcpy(ours.data(), t.staged, ours.size() * sizeof(float));
    else ours = fetch(b, t.out, t.n * t.width);
    ggnn_gather(theirs.data(), t.width, GGNN_F32, &t.plain, t.host_id.data(), t.n);
    return bench_equal(b, what, ours.data(), theirs.data(), theirs.size() * sizeof(float)) &&
           good(b, cudaMemsetAsync(t.out, 0, theirs.size() * sizeof(float), stream()), "rows");
}

// Least: the host's rows over the bus, the device's through its memory, and all written.
const bench_result* measure(bench* b, const tiers& t, const char* how, double hits, bool rival, work w,
                            bool staged = false)
{
    double       missed = 0;
    const double row = static_cast<double>(t.store.pitch), n = static_cast<double>(t.n);
    for (ggnn_node v : t.host_id) missed += v >= t.stored;
    bench_case c = case_of(b, std::move(w));
    name(&c, "%s, %d B, %.0f %% on the device", how, static_cast<int>(t.store.pitch), 100 * hits);
    c.work = n;
    c.unit = "rows";
    c.bytes = 2 * n * row;
    c.rival = rival;
    c.cold = true;
    if (rival)
        c.threads = 0; // all of the CPU
    else
        demand(&c, "host-copy", 0, missed * row);
    if (!rival) demand(&c, "copy", 0, (2 * n - missed) * row);
    const bench_result* r = bench_measure(b, &c);
    return r && same_rows(b, t, how, staged) ? r : nullptr;
}

bool measure_tiers(bench* b, int64_t row, double hits, bool all_ways)
{
    const scratch mine(b);
    tiers*        t = own(b, new tiers());
    if (!t || !open_tiers(b, t, row, hits)) return false;
    const bench_result* lines = nullptr;
    for (int32_t blocks : {8, 24, 96})
        if (all_ways || blocks == 24) {
            char how[32];
            snprintf(how, sizeof how, "by lines, %d blocks", blocks);
            const bench_result* r = measure(b, *t, how, hits, false, [=] { return by_lines(*t, blocks); });
            if (!r) return false;
            if (!lines || r->median < lines->median) lines = r;
        }
    const bench_result* whole = measure(b, *t, "in place", hits, false, [=] { return in_place(*t); });
    if (!whole || !bench_ratio(b, lines, whole, "rows as they come", 0)) return false;
    if (all_ways && hits == 0) {
        const bench_result* cpu =
            measure(b, *t, "by the CPU and copied", hits, true, [=] { return by_the_cpu(*t); });
        if (!cpu || !bench_ratio(b, lines, cpu, "gathering by the CPU", 0)) return false;
        const work alone = [=] { return by_the_cpu_alone(*t); };
        if (!measure(b, *t, "by the CPU alone", hits, true, alone, true)) return false;
    }
    return !b->why.text[0];
}

bool uva(bench* b)
{
    for (int64_t row : {400, 512, 1024, 1028, 1032, 1036, 1040, 1044})
        if ((!EMULATED || row < 600) && !measure_tiers(b, row, 0, row == 512)) return false;
    for (double hits : {.5, .9, .99})
        if (!measure_tiers(b, 400, hits, false)) return false;
    return measure_tiers(b, 400, 1, false);
}

} // namespace hosts
#endif
