// gather.cuh - rows by id from tables on the device: widths, sizes, parts, halves; and the gather of a
// distributed-memory system beside it, which splits ids by owner, gathers and puts back in order.
#ifndef BENCH_CUDA_GATHER_CUH
#define BENCH_CUDA_GATHER_CUH
#include "bench/cuda/common.cuh"

namespace gathers {

using namespace gpu;

constexpr int64_t GiB = int64_t{1} << 30;

struct rows_table { // memory that is read as rows of any width, and where they go
    char*      at;
    int64_t    bytes;
    ggnn_node* id;
    char*      out;
    int64_t    most; // rows gathered at once
};

bool open_table(bench* b, rows_table* t)
{
    t->most = pick(b, 4 << 20, 1 << 18, 64);
    t->id = make<ggnn_node>(b, t->most, "ids");
    t->out = static_cast<char*>(take(b, t->most * 1024, "gathered rows"));
    t->bytes = pick(b, 60 * GiB, GiB, 1 << 16);
    if (t->bytes > free_bytes()) t->bytes = free_bytes() / 1024 * 1024;
    t->at = static_cast<char*>(take(b, t->bytes, "a table of rows"));
    return t->id && t->out && t->at && fill(b, reinterpret_cast<float*>(t->at), t->bytes / 4, 1);
}

struct shape {
    int64_t   table, row, count; // bytes, bytes, rows gathered
    int32_t   parts;
    ggnn_type type, as;
};

int64_t rows_of(const rows_table& t, const shape& s)
{
    const int64_t bytes = s.table < t.bytes ? s.table : t.bytes, rows = bytes / s.row / s.parts * s.parts;
    return rows < INT32_MAX ? rows : INT32_MAX / s.parts * s.parts;
}

// Part p of P is the p-th piece of the table; the owner of a row is its id modulo P.
bool open_store(bench* b, ggnn_store* store, const rows_table& t, const shape& s)
{
    const int64_t            rows = rows_of(t, s), width = s.row / ggnn_type_bytes(s.type);
    std::vector<const void*> base(static_cast<size_t>(s.parts) + 2);
    for (int32_t p = 0; p < s.parts; p++) base[p] = t.at + p * (rows / s.parts) * s.row;
    *store = {};
    store->at = {nullptr, 0, nullptr, nullptr, rows, s.parts};
    store->width = static_cast<int32_t>(width);
    store->type = s.type;
    store->pitch = s.row;
    store->base = send(b, base.data(), s.parts + 2, "bases of parts");
    return store->base != nullptr;
}

const char* roof_of(const rows_table& t, const shape& s)
{
    const int64_t bytes = s.table < t.bytes ? s.table : t.bytes;
    return bytes > 8 * GiB          ? "rows-60g"
           : bytes > GiB            ? "rows-8g"
           : bytes > 2 * l2_bytes() ? "rows"
                                    : "rows-l2";
}

void add_demands(bench_case* c, const rows_table& t, const shape& s, int64_t n)
{
    const double count = static_cast<double>(n), id = sizeof(ggnn_node);
    const double out = static_cast<double>(s.row / ggnn_type_bytes(s.type) * ggnn_type_bytes(s.as));
    c->work = count;
    c->unit = "rows";
    c->cold = true; // the same rows again would come from the cache
    c->bytes = count * (id + static_cast<double>(s.row) + out);
    demand(c, "copy", 0, count * (id + 64 * atoms(s.row) + out));
    if (s.row % 16 == 0) demand(c, roof_of(t, s), s.row, count * static_cast<double>(s.row));
}

const bench_result* measure_gather(bench* b, const rows_table& t, const shape& s)
{
    ggnn_store    store;
    const int64_t n = s.count < rows_of(t, s) ? s.count : rows_of(t, s), ld = s.row / ggnn_type_bytes(s.type);
    if (!open_store(b, &store, t, s) || !distinct_ids(b, t.id, n, rows_of(t, s), 4)) return nullptr;
    bench_case c = case_of(b, [=] {
        return ggnn_cuda_gather(t.out, ld, s.as, &store, t.id, {nullptr, n}, stream());
    });
    name(&c, "%lld B x %lld of %.3g GB, %d part%s%s", static_cast<long long>(s.row),
         static_cast<long long>(n), 1e-9 * static_cast<double>(rows_of(t, s) * s.row), s.parts,
         s.parts > 1 ? "s" : "",
         s.type == GGNN_F32 ? ""
         : s.as == GGNN_F32 ? ", f16 to f32"
                            : ", f16");
    add_demands(&c, t, s, n);
    return bench_measure(b, &c);
}

// ==== the other gather =====================================================================================

struct buckets {
    rows_table t;
    ggnn_store store;
    int64_t    n, row;
    int32_t *  gather, *scatter;
    int64_t*   bound;
    ggnn_node* packed;
    char*      between;
    void*      workspace;

    cudaError_t run();
};

__global__ void __launch_bounds__(THREADS)
    pack_ids(ggnn_node* packed, const ggnn_node* id, const int32_t* gather, int64_t n)
{
    const int64_t all = static_cast<int64_t>(gridDim.x) * THREADS;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < n; i += all)
        packed[i] = id[gather[i]];
}

// Split by owner, pack the ids, gather packed rows, put them back. One device: what would be sent stays here.
cudaError_t buckets::run()
{
    const int64_t width = row / 4;
    cudaError_t   e =
        ggnn_cuda_split(gather, scatter, bound, &store.at, t.id, {nullptr, n}, workspace, stream());
    if (e == cudaSuccess)
        e = launch_items(pack_ids, n, stream(), packed, t.id, static_cast<const int32_t*>(gather), n);
    if (e == cudaSuccess)
        e = ggnn_cuda_gather(between, width, GGNN_F32, &store, packed, {nullptr, n}, stream());
    return e == cudaSuccess ? ggnn_cuda_permute(t.out, width, between, width, GGNN_F32,
                                                static_cast<int32_t>(width), scatter, {nullptr, n}, stream())
                            : e;
}

bool open_buckets(bench* b, buckets* k, const rows_table& t, const shape& s)
{
    k->t = t;
    k->n = s.count < rows_of(t, s) ? s.count : rows_of(t, s);
    k->row = s.row;
    k->gather = make<int32_t>(b, k->n, "a split");
    k->scatter = make<int32_t>(b, k->n, "a split");
    k->bound = make<int64_t>(b, s.parts + 3, "bounds of a split");
    k->packed = make<ggnn_node>(b, k->n, "packed ids");
    k->between = static_cast<char*>(take(b, k->n * s.row, "packed rows"));
    k->workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_split_workspace_bytes(k->n, s.parts)), "a workspace");
    return k->gather && k->scatter && k->bound && k->packed && k->between && k->workspace &&
           open_store(b, &k->store, t, s) && distinct_ids(b, t.id, k->n, rows_of(t, s), 4);
}

bool measure_buckets(bench* b, const rows_table& t, const shape& s)
{
    const scratch       mine(b);
    buckets*            k = own(b, new buckets());
    const bench_result* pointer = measure_gather(b, t, s);
    if (!pointer || !k || !open_buckets(b, k, t, s)) return false;
    const int64_t some = (k->n < 1000 ? k->n : 1000) * s.row;
    auto          ours = fetch(b, t.out, some);
    bench_case    c = case_of(b, [k] { return k->run(); });
    name(&c, "split, gather, permute: %lld B, %d parts", static_cast<long long>(s.row), s.parts);
    add_demands(&c, t, s, k->n);
    c.rival = true;
    const bench_result* two = bench_measure(b, &c);
    auto                theirs = fetch(b, t.out, some);
    return bench_equal(b, "a row", ours.data(), theirs.data(), ours.size()) &&
           bench_ratio(b, pointer, two, "split, gather, permute", 0);
}

// ==== answers ==============================================================================================

bool check_gather(bench* b, const rows_table& t, const shape& s)
{
    ggnn_store    store;
    const int64_t rows = rows_of(t, s), n = 50 < rows ? 50 : rows, width = s.row / ggnn_type_bytes(s.type);
    const size_t  out = static_cast<size_t>(n * width * ggnn_type_bytes(s.as));
    if (!open_store(b, &store, t, s) || !distinct_ids(b, t.id, n, rows, 5)) return false;
    if (!good(b, ggnn_cuda_gather(t.out, width, s.as, &store, t.id, {nullptr, n}, stream()), "gather"))
        return false;
    auto              table = fetch(b, t.at, rows * s.row), ours = fetch(b, t.out, static_cast<int64_t>(out));
    auto              id = fetch(b, t.id, n);
    std::vector<char> theirs(out);
    std::vector<const void*> base(static_cast<size_t>(s.parts) + 2);
    for (int32_t p = 0; p < s.parts; p++) base[p] = table.data() + p * (rows / s.parts) * s.row;
    store.base = base.data();
    ggnn_gather(theirs.data(), width, s.as, &store, id.data(), n);
    return bench_equal(b, "a row", ours.data(), theirs.data(), out);
}

bool check_gathers(bench* b, const rows_table& t)
{
    for (int64_t row : {32, 400, 1024})
        for (int32_t parts : {1, 4})
            if (!check_gather(b, t, {1 << 16, row, 0, parts, GGNN_F32, GGNN_F32})) return false;
    return check_gather(b, t, {1 << 16, 256, 0, 1, GGNN_F16, GGNN_F32}) &&
           check_gather(b, t, {1 << 16, 256, 0, 1, GGNN_F16, GGNN_F16});
}

bool gather(bench* b)
{
    rows_table t;
    if (!open_table(b, &t) || !check_gathers(b, t)) return false;
    const int64_t few = t.most < 100000 ? t.most : 100000;
    for (int64_t table : {GiB, 8 * GiB, 60 * GiB})
        for (int64_t row : {64, 128, 256, 400, 512, 1024}) {
            if ((EMULATED || b->o.quick) && table > GiB) continue;
            if (EMULATED && row != 64 && row != 400) continue;
            if (few < t.most && !measure_gather(b, t, {table, row, few, 1, GGNN_F32, GGNN_F32})) return false;
            if (!measure_gather(b, t, {table, row, t.most, 1, GGNN_F32, GGNN_F32})) return false;
        }
    for (int32_t parts : {4, 8})
        if (!measure_gather(b, t, {8 * GiB, 400, t.most, parts, GGNN_F32, GGNN_F32})) return false;
    return measure_gather(b, t, {8 * GiB, 256, t.most, 1, GGNN_F16, GGNN_F32}) &&
           measure_gather(b, t, {8 * GiB, 256, t.most, 1, GGNN_F16, GGNN_F16});
}

// Another device's memory: a chain of loads, and segments of 16 bytes to 4 KiB.
bool links(bench* b)
{
    if (gpu::peer() < 0) return true;
    roof(b, "chase-peer", 512 << 20);
    for (int64_t bytes = 16; bytes <= 4096; bytes *= 4)
        if (!b->why.text[0]) roof(b, "rows-peer", bytes);
    return !b->why.text[0];
}

// Several parts on one device: the cost of the table and of the split, without that of a link. Then parts of the usual
// graph's features, on all devices that are linked.
bool peer(bench* b)
{
    rows_table t;
    if (!links(b) || !open_table(b, &t)) return false;
    for (int64_t row : {4, 64, 512})
        for (int32_t parts : {4, 8})
            if (!measure_buckets(b, t, {8 * GiB, row, t.most, parts, GGNN_F32, GGNN_F32})) return false;
    return bench_peer(b, linked_devices());
}

} // namespace gathers
#endif
