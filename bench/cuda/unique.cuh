// unique.cuh - numbering of ids by first occurrence, beside numbering by sorting; transposes of blocks,
// beside a radix sort of their edges. Both rivals are CUB's, with sizes that the host knows.
#ifndef BENCH_CUDA_UNIQUE_CUH
#define BENCH_CUDA_UNIQUE_CUH
#include <cstdio>

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_scan.cuh>

#include "bench/cuda/common.cuh"

namespace numbers {

using namespace gpu;

__device__ inline int64_t first_item() { return static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; }
__device__ inline int64_t all_threads() { return static_cast<int64_t>(gridDim.x) * THREADS; }

int bits_of(int64_t n) // of numbers below n
{
    int bits = 1;
    while ((n - 1) >> bits) bits++;
    return bits;
}

// ==== ids ==================================================================================================

// Id i is an earlier one again with the given chance, of 2^32: any, or always the first (a hub).
__global__ void __launch_bounds__(THREADS)
    make_ids(ggnn_node* id, int64_t n, int64_t nodes, uint64_t chance, int hub, ggnn_rng rng)
{
    for (int64_t i = first_item(); i < n; i += all_threads()) {
        const ggnn_words w = ggnni::random_words(rng, 4, i, 0);
        const bool       again = w.word[0] < chance;
        const int64_t    j = !again ? i
                             : hub  ? 0
                                    : static_cast<int64_t>(static_cast<uint64_t>(w.word[1]) * i >> 32);
        id[i] = static_cast<ggnn_node>(ggnn_shuffle(3, 0, j, nodes));
    }
}

// ==== numbering by sorting =================================================================================

__global__ void __launch_bounds__(THREADS) count_up(int32_t* x, int64_t n)
{
    for (int64_t i = first_item(); i < n; i += all_threads()) x[i] = static_cast<int32_t>(i);
}
// Of equal ids, which the sort leaves in the order of their positions, the first begins a run: it is where
// the id first occurs.
__global__ void __launch_bounds__(THREADS)
    mark_runs(int32_t* begins, int32_t* first, const ggnn_node* id, const int32_t* position, int64_t n)
{
    for (int64_t i = first_item(); i < n; i += all_threads())
        begins[i] = first[position[i]] = i == 0 || id[i] != id[i - 1];
}
// runs: begins, summed; rank: first, summed before each position.
__global__ void __launch_bounds__(THREADS)
    number_runs(int32_t* number, ggnn_node* list, const int32_t* begins, const int32_t* runs,
                const int32_t* rank, const ggnn_node* id, const int32_t* position, int64_t n)
{
    for (int64_t i = first_item(); i < n; i += all_threads())
        if (begins[i]) {
            number[runs[i] - 1] = rank[position[i]];
            list[rank[position[i]]] = id[i];
        }
}
__global__ void __launch_bounds__(THREADS)
    spread_numbers(int32_t* local, const int32_t* number, const int32_t* runs, const int32_t* position,
                   int64_t n)
{
    for (int64_t i = first_item(); i < n; i += all_threads()) local[position[i]] = number[runs[i] - 1];
}

struct sorting {
    int64_t    n;
    int        bits;
    ggnn_node *sorted, *list;
    int32_t *  up, *position, *begins, *first, *runs, *rank, *number, *local;
    void*      room;
    size_t     bytes;

    cudaError_t run(const ggnn_node* id)
    {
        cudaStream_t on = stream();
        size_t       most = bytes;
        cudaError_t e = cub::DeviceRadixSort::SortPairs(room, most, id, sorted, up, position, n, 0, bits, on);
        if (e == cudaSuccess) e = launch_items(mark_runs, n, on, begins, first, sorted, position, n);
        if (e == cudaSuccess) e = cub::DeviceScan::InclusiveSum(room, most, begins, runs, n, on);
        if (e == cudaSuccess) e = cub::DeviceScan::ExclusiveSum(room, most, first, rank, n, on);
        if (e == cudaSuccess)
            e = launch_items(number_runs, n, on, number, list, begins, runs, rank, sorted, position, n);
        return e == cudaSuccess ? launch_items(spread_numbers, n, on, local, number, runs, position, n) : e;
    }
};

bool open_sorting(bench* b, sorting* s, int64_t n, int64_t nodes)
{
    size_t sort = 0, sum = 0;
    *s = {};
    s->n = n;
    s->bits = bits_of(nodes);
    s->sorted = make<ggnn_node>(b, n, "sorted ids");
    s->list = make<ggnn_node>(b, n, "a list of ids");
    for (int32_t** x :
         {&s->up, &s->position, &s->begins, &s->first, &s->runs, &s->rank, &s->number, &s->local})
        if (!(*x = make<int32_t>(b, n, "numbers of a sort"))) return false;
    if (!s->sorted || !s->list) return false;
    cudaError_t e = cub::DeviceRadixSort::SortPairs(nullptr, sort, s->sorted, s->sorted, s->up, s->position,
                                                    n, 0, s->bits);
    if (e == cudaSuccess) e = cub::DeviceScan::InclusiveSum(nullptr, sum, s->first, s->rank, n);
    s->bytes = sort > sum ? sort : sum;
    s->room = take(b, static_cast<int64_t>(s->bytes), "room for a sort");
    return s->room &&
           good(b, ggnni::first_error(e, launch_items(count_up, n, stream(), s->up, n)),
                "a sort");
}

// ==== ours =================================================================================================

struct numbering {
    int64_t          n;
    ggnn_cuda_unique seen;
    ggnn_node*       list;
    int32_t *        local, *status;
    void*            workspace;

    cudaError_t run(const ggnn_node* id)
    {
        cudaError_t e = ggnn_cuda_unique_begin(&seen, stream());
        return ggnni::first_error(
            e, ggnn_cuda_unique_append(&seen, list, local, id, {nullptr, n}, status, workspace, stream()));
    }
};

struct form {
    ggnn_unique_kind kind;
    int32_t          group;
    const char*      name;
};
const form forms[] = {{GGNN_UNIQUE_DIRECT, 32, "direct"},
                      {GGNN_UNIQUE_HASH, 1, "hash 1"},
                      {GGNN_UNIQUE_HASH, 8, "hash 8"},
                      {GGNN_UNIQUE_HASH, 32, "hash 32"}};

bool open_numbering(bench* b, numbering* s, int64_t n, int64_t nodes, const form& f)
{
    s->n = n;
    s->list = make<ggnn_node>(b, n, "a list of ids");
    s->local = make<int32_t>(b, n, "local ids");
    s->status = make<int32_t>(b, 1, "a status");
    s->workspace = take(b, static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(n)), "a workspace");
    void* table = take(b, static_cast<int64_t>(ggnn_cuda_unique_bytes(f.kind, nodes, n)), "a table of ids");
    if (!s->list || !s->local || !s->status || !s->workspace || !table) return false;
    cudaError_t e = ggnn_cuda_unique_init(&s->seen, f.kind, nodes, n, table, stream());
    s->seen.group = f.group;
    return good(b, e, "a table of ids");
}

// The largest table that roofs have and that is no larger than this one: a demand asks for no more than is
// needed.
int64_t table_roof(int64_t bytes)
{
    return bytes >= int64_t{2} << 30 ? int64_t{2} << 30 : bytes >= 64 << 20 ? 64 << 20 : 4 << 20;
}

// Least: an atomic for each distinct id; ids read, lists and numbers written.
const bench_result* measure_form(bench* b, const ggnn_node* id, int64_t n, int64_t nodes, const form& f,
                                 const char* what, std::vector<int32_t>* local, int64_t* distinct)
{
    const scratch mine(b);
    numbering*    s = own(b, new numbering());
    size_t        launches = 0;
    if (!s || !open_numbering(b, s, n, nodes, f)) return nullptr;
    work w = captured(
        b, [=] { return s->run(id); }, &launches);
    if (!w || !good(b, w(), "numbering")) return nullptr;
    *local = fetch(b, s->local, n);
    *distinct = fetch(b, &s->seen.state->count, 1)[0];
    bench_case c = case_of(b, w);
    name(&c, "%s, %s", f.name, what);
    const double  d = static_cast<double>(*distinct), node = sizeof(ggnn_node);
    const bool    direct = f.kind == GGNN_UNIQUE_DIRECT;
    const int64_t table =
        direct ? nodes * 8
               : static_cast<int64_t>(s->seen.mask + 1) * static_cast<int64_t>(sizeof(ggnn_cuda_unique_slot));
    c.work = static_cast<double>(n);
    c.unit = "ids";
    c.bytes = c.work * (node + 4) + d * (node + 8) + (direct ? 0 : static_cast<double>(table));
    demand(&c, direct ? "min64" : "cas", table_roof(table), d);
    demand(&c, "copy", 0, c.bytes);
    demand(&c, "graph-node", 0, static_cast<double>(launches));
    return bench_measure(b, &c);
}

bool measure_ids(bench* b, const ggnn_node* id, int64_t n, int64_t nodes, const char* what)
{
    const scratch        mine(b);
    const bench_result * best = nullptr, *r;
    std::vector<int32_t> local, other;
    int64_t              distinct = 0, again = 0;
    for (const form& f : forms) {
        if (!(r = measure_form(b, id, n, nodes, f, what, best ? &other : &local, best ? &again : &distinct)))
            return false;
        if (best && (again != distinct ||
                     !bench_equal(b, f.name, other.data(), local.data(), local.size() * sizeof local[0])))
            return error_set(&b->why, "unique: %s counts other ids than the direct map", f.name);
        if (!best || r->median < best->median) best = r;
    }
    sorting* s = own(b, new sorting());
    if (!s || !open_sorting(b, s, n, nodes)) return false;
    bench_case c = case_of(b, [=] { return s->run(id); });
    name(&c, "sorting, %s", what);
    c.bytes = best->kase.bytes;
    c.work = static_cast<double>(n);
    c.unit = "ids";
    c.rival = true;
    const bench_result* theirs = bench_measure(b, &c);
    if (theirs) other = fetch(b, s->local, n);
    if (theirs && !bench_equal(b, "a number", local.data(), other.data(), local.size() * sizeof local[0]))
        return false;
    return bench_ratio(b, best, theirs, "numbering by sorting", 2);
}

// ==== answers ==============================================================================================

bool same_numbers(bench* b, const ggnn_node* id, int64_t n, int64_t nodes)
{
    const scratch          mine(b);
    std::vector<ggnn_node> host = fetch(b, id, n), list(static_cast<size_t>(n));
    std::vector<int32_t>   local(static_cast<size_t>(n));
    int64_t                bad = 0;
    void* memory = bench_new(b, ggnn_unique_bytes(GGNN_UNIQUE_HASH, nodes, n), "a table of ids");
    if (!memory) return false;
    ggnn_unique* seen = ggnn_unique_init(memory, GGNN_UNIQUE_HASH, nodes, n);
    ggnn_unique_begin(seen);
    if (ggnn_unique_append(seen, list.data(), local.data(), host.data(), n, &bad) != GGNN_OK)
        return error_set(&b->why, "unique: the C twin fails");
    for (const form& f : forms) {
        numbering s = {};
        if (!open_numbering(b, &s, n, nodes, f) || !good(b, s.run(id), f.name)) return false;
        std::vector<int32_t>   ours = fetch(b, s.local, n);
        std::vector<ggnn_node> names = fetch(b, s.list, seen->count);
        if (!bench_equal(b, f.name, ours.data(), local.data(), ours.size() * sizeof ours[0]) ||
            !bench_equal(b, "a list of ids", names.data(), list.data(), names.size() * sizeof names[0]))
            return false;
    }
    return true;
}

bool unique(bench* b)
{
    static const struct {
        uint64_t    chance;
        int         hub;
        const char* name;
    } repeats[] = {{0, 0, "none again"},
                   {UINT64_C(0x4ccccccd), 0, "30 % again"},
                   {UINT64_C(0xe6666666), 0, "90 % again"},
                   {UINT64_C(0x4ccccccd), 1, "30 % a hub"}};
    const int64_t sizes[] = {10000, 100000, 1000000, 16000000}, most = pick(b, 16000000, 1000000, 200);
    ggnn_node*    id = make<ggnn_node>(b, most, "ids");
    for (int64_t size : sizes)
        for (const auto& r : repeats) {
            const ggnn_rng rng = {1, 0, GGNN_PURPOSE_GENERATE};
            const int64_t  n = size > most ? most : size, nodes = 4 * n > 2449029 ? 4 * n
                                                                  : EMULATED      ? 4 * n
                                                                                  : 2449029;
            char           what[40];
            if ((size > most && !EMULATED) || (EMULATED && size != sizes[0])) continue;
            if (!id ||
                !good(b,
                      launch_items(make_ids, n, stream(), id, n, nodes, r.chance, r.hub, rng),
                      "ids"))
                return false;
            snprintf(what, sizeof what, "%lld ids, %s", static_cast<long long>(n), r.name);
            if (size == sizes[0] && !same_numbers(b, id, n, nodes)) return false;
            if (!measure_ids(b, id, n, nodes, what)) return false;
        }
    return true;
}

// ==== transposes ===========================================================================================

bool same_transpose(bench* b, const ggnn_block& block, const ggnn_block& t)
{
    host_block plain, ours;
    ggnn_block theirs;
    if (!fetch_block(b, &plain, block) || !fetch_block(b, &ours, t)) return false;
    const int64_t D = plain.counts[0], S = plain.counts[1], E = plain.counts[2];
    void*         memory = bench_new(b, ggnn_block_transpose_bytes(D, S, E), "a transpose");
    if (!memory) return false;
    ggnn_block_transpose_init(&theirs, D, S, E, memory);
    ggnn_block_transpose(&theirs, &plain.block);
    return bench_equal(b, "offsets", ours.block.indptr, theirs.indptr,
                       static_cast<size_t>(S + 1) * sizeof(int64_t)) &&
           bench_equal(b, "targets", ours.block.indices, theirs.indices,
                       static_cast<size_t>(E) * sizeof(int32_t)) &&
           bench_equal(b, "edges", ours.block.edge, theirs.edge, static_cast<size_t>(E) * sizeof(int32_t));
}

const bench_result* measure_sort(bench* b, const ggnn_block& block, int32_t** edge)
{
    const int64_t  E = block.num_edges.max;
    const int      bits = bits_of(block.num_src.max);
    int32_t *      sorted = make<int32_t>(b, E, "sorted edges"), *up = make<int32_t>(b, E, "edges");
    const int32_t* from = block.indices;
    size_t         bytes = 0;
    *edge = make<int32_t>(b, E, "edges");
    if (!sorted || !up || !*edge) return nullptr;
    cudaError_t e = cub::DeviceRadixSort::SortPairs(nullptr, bytes, from, sorted, up, *edge, E, 0, bits);
    void*       room = take(b, static_cast<int64_t>(bytes), "room for a sort");
    if (!room ||
        !good(b, ggnni::first_error(e, launch_items(count_up, E, stream(), up, E)), "a sort"))
        return nullptr;
    int32_t*   to = *edge;
    bench_case c = case_of(b, [=] {
        size_t most = bytes;
        return cub::DeviceRadixSort::SortPairs(room, most, from, sorted, up, to, E, 0, bits, stream());
    });
    name(&c, "radix sort of %lld edges alone", static_cast<long long>(E));
    c.work = static_cast<double>(E);
    c.bytes = 16 * c.work; // a key and a value, in and out
    c.unit = "edges";
    c.rival = true;
    return bench_measure(b, &c);
}

bool measure_transpose(bench* b, int64_t edges)
{
    const scratch mine(b);
    const int64_t D = edges / 10, S = edges * 8 / 10;
    ggnn_block    block, t;
    int32_t*      sorted = nullptr;
    size_t        launches = 0;
    void* memory = take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_bytes(D, S, edges)), "a transpose");
    void* workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_block_transpose_workspace_bytes(S)), "a workspace");
    if (!memory || !workspace || !make_block(b, &block, D, 10, S)) return false;
    ggnn_cuda_block_transpose_init(&t, D, S, D * 10, memory);
    work w = captured(
        b, [=]() mutable { return ggnn_cuda_block_transpose(&t, &block, workspace, stream()); }, &launches);
    if (!w || !good(b, w(), "a transpose")) return false;
    if (edges <= 10000 && !same_transpose(b, block, t)) return false;
    bench_case c = case_of(b, w);
    name(&c, "%lld edges, %d launches", static_cast<long long>(edges), static_cast<int>(launches));
    c.work = static_cast<double>(D * 10);
    c.unit = "edges";
    c.bytes = c.work * 12 + 8.0 * static_cast<double>(S + D);
    demand(&c, "copy", 0, c.bytes);
    demand(&c, "graph-node", 0, static_cast<double>(launches));
    const bench_result *ours = bench_measure(b, &c), *theirs = measure_sort(b, block, &sorted);
    if (theirs) {
        auto x = fetch(b, t.edge, D * 10), y = fetch(b, sorted, D * 10);
        if (!bench_equal(b, "an edge", x.data(), y.data(), x.size() * sizeof x[0])) return false;
    }
    return bench_ratio(b, ours, theirs, "CUB's radix sort", 0);
}

bool transpose(bench* b)
{
    for (int64_t edges : {10000, 136000, 1000000, 16000000})
        if (edges <= pick(b, 16000000, 1000000, 0) && !measure_transpose(b, edges)) return false;
    return !EMULATED || measure_transpose(b, 300);
}

} // namespace numbers
#endif
