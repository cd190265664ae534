// graph.cuh - graphs, blocks, rows and ids made on the device: the same for a seed, on a GPU and in the
// emulator.
#ifndef BENCH_CUDA_GRAPH_CUH
#define BENCH_CUDA_GRAPH_CUH
#include <cmath>

#include <cub/device/device_scan.cuh>

#include "bench/cuda/common.cuh"

namespace gpu {

// ---- kernels ----------------------------------------------------------------------------------------------

constexpr int      QUANTILES = 4096;
constexpr int64_t  COMMUNITY = 2000;
constexpr uint64_t HERE = UINT64_C(0xd999999a); // 85 % of 2^32

__device__ inline int64_t first_item() { return static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; }
__device__ inline int64_t all_threads() { return static_cast<int64_t>(gridDim.x) * THREADS; }

__global__ void __launch_bounds__(THREADS)
    draw_degrees(int64_t* degree, const int32_t* quantile, int64_t n, ggnn_rng rng)
{
    for (int64_t v = first_item(); v <= n;
         v += all_threads()) // one more, so that the scan of them ends with their sum
        degree[v] = v < n ? quantile[ggnni::random_words(rng, 0, v, 0).word[0] % QUANTILES] : 0;
}

// Below n, x * x / n rather than x: low ids are drawn more often, id 0 most.
__device__ inline int64_t skewed(uint32_t x, int64_t n)
{
    const uint64_t square = static_cast<uint64_t>(x) * x >> 32;
    return static_cast<int64_t>(square * static_cast<uint64_t>(n) >> 32);
}

// A warp a list. Two words an edge: whose community, and which node of it.
__global__ void __launch_bounds__(THREADS)
    draw_neighbors(ggnn_node* indices, float* weight, const int64_t* indptr, int64_t n, ggnn_rng rng)
{
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int64_t v = first_item() / 32; v < n; v += all_threads() / 32) {
        const int64_t begin = indptr[v], degree = indptr[v + 1] - begin, home = v / COMMUNITY * COMMUNITY;
        for (int64_t j = lane; j < degree; j += 32) {
            const ggnn_words w = ggnni::random_words(rng, 1, v, static_cast<uint32_t>(j));
            const int64_t    size = n - home < COMMUNITY ? n - home : COMMUNITY;
            const bool       here = w.word[0] < HERE;
            indices[begin + j] =
                static_cast<ggnn_node>(here ? home + skewed(w.word[1], size) : skewed(w.word[1], n));
            if (weight) weight[begin + j] = static_cast<float>(1 + (w.word[2] >> 24));
        }
    }
}

// Adds up in *faults what no graph may have.
__global__ void __launch_bounds__(THREADS) check_lists(unsigned long long* faults, const int64_t* indptr,
                                                       const ggnn_node* indices, int64_t n, int64_t edges)
{
    for (int64_t v = first_item(); v <= n; v += all_threads()) {
        const bool wrong = v == 0 ? indptr[0] != 0 : indptr[v] < indptr[v - 1] || indptr[v] > edges;
        if (wrong || (v == n && indptr[n] != edges)) atomicAdd(faults, 1ull);
    }
    for (int64_t e = first_item(); e < edges; e += all_threads())
        if (indices[e] < 0 || indices[e] >= n) atomicAdd(faults, 1ull);
}

__global__ void __launch_bounds__(THREADS) make_rows(float* x, int64_t n, uint64_t seed)
{
    for (int64_t i = first_item(); i < n; i += all_threads()) {
        uint64_t z = (seed << 40) + static_cast<uint64_t>(i + 1) * 0x9E3779B97F4A7C15u; // splitmix64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        x[i] = static_cast<float>(z >> 40) * (1.0f / 8388608.0f) - 1.0f;
    }
}

__global__ void __launch_bounds__(THREADS)
    shuffled_ids(ggnn_node* id, int64_t n, int64_t below, uint64_t seed)
{
    for (int64_t i = first_item(); i < n; i += all_threads())
        id[i] = static_cast<ggnn_node>(ggnn_shuffle(seed, 0, i, below));
}

template <class T>
__global__ void __launch_bounds__(THREADS) draw_ids(T* id, int64_t n, int64_t below, ggnn_rng rng)
{
    for (int64_t i = first_item(); i < n; i += all_threads())
        id[i] = static_cast<T>(ggnni::draw_below(rng, 3, i, 0, below));
}

__global__ void __launch_bounds__(THREADS) count_repeats(int32_t* repeats, const int32_t* source, int64_t n)
{
    for (int64_t i = first_item(); i < n; i += all_threads()) atomicAdd(repeats + source[i], 1);
}

__global__ void __launch_bounds__(THREADS) equal_lists(int64_t* indptr, int64_t rows, int64_t degree)
{
    for (int64_t v = first_item(); v <= rows; v += all_threads()) indptr[v] = v * degree;
}

// ==== degrees ==============================================================================================

// Quantiles of a Pareto distribution with density exponent 2.5, scaled to the mean: half of the mean and more
// at the median, 140 times it at the last. That is near ogbn-products' own.
std::vector<int32_t> degrees(double mean, int64_t nodes)
{
    std::vector<int32_t> q(QUANTILES);
    std::vector<double>  shape(QUANTILES);
    double               sum = 0;
    for (int i = 0; i < QUANTILES; i++)
        sum += shape[i] = std::pow((QUANTILES - i - .5) / QUANTILES, -2.0 / 3);
    for (int i = 0; i < QUANTILES; i++) {
        double degree = mean * QUANTILES * shape[i] / sum + .5;
        q[i] =
            static_cast<int32_t>(degree < static_cast<double>(nodes) ? degree : static_cast<double>(nodes));
    }
    return q;
}

bool scan(bench* b, int64_t* indptr, const int64_t* degree, int64_t n)
{
    size_t bytes = 0;
    if (!good(b, cub::DeviceScan::ExclusiveSum(nullptr, bytes, degree, indptr, n, stream()), "a scan"))
        return false;
    void* room = take(b, static_cast<int64_t>(bytes), "room for a scan");
    return room && good(b, cub::DeviceScan::ExclusiveSum(room, bytes, degree, indptr, n, stream()), "a scan");
}

bool check_graph(bench* b, const made_graph& g)
{
    unsigned long long* faults = make<unsigned long long>(b, 1, "a count");
    const int64_t       edges = g.graph.num_edges;
    if (!faults || !good(b,
                         launch_items(check_lists, edges, stream(), faults, g.graph.whole.indptr,
                                      g.graph.whole.indices, g.graph.num_nodes, edges),
                         "a graph"))
        return false;
    const unsigned long long found = fetch(b, faults, 1)[0];
    return found == 0 || error_set(&b->why, "%s: the graph that was made has %llu faults", b->entry, found);
}

double made_graph::edges_of(int32_t fanout) const
{
    double sum = 0;
    for (int32_t n : quantile) sum += n < fanout || fanout < 0 ? n : fanout;
    return sum / QUANTILES;
}

double made_graph::atoms_of(int32_t fanout) const
{
    double sum = 0;
    for (int32_t n : quantile) {
        const double all =
            n * static_cast<double>(sizeof(ggnn_node)) / 64 + (n ? 1 - sizeof(ggnn_node) / 64.0 : 0);
        const double taken = n < fanout || fanout < 0 ? n : fanout;
        sum += taken >= n || all <= 1 ? all : all * (1 - std::pow(1 - 1 / all, taken));
    }
    return sum / QUANTILES;
}

bool make_graph(bench* b, made_graph* g, int64_t nodes, double mean, bool weighted, uint64_t seed)
{
    const ggnn_rng rng = {seed, 0, GGNN_PURPOSE_GENERATE};
    g->quantile = degrees(mean, nodes);
    int64_t *degree = make<int64_t>(b, nodes + 1, "degrees"),
            *indptr = make<int64_t>(b, nodes + 1, "offsets");
    const int32_t* quantile = send(b, g->quantile.data(), QUANTILES, "quantiles of degrees");
    if (!degree || !indptr || !quantile) return false;
    cudaError_t e =
        launch_items(draw_degrees, nodes + 1, stream(), degree, quantile, nodes, rng);
    if (!good(b, e, "degrees") || !scan(b, indptr, degree, nodes + 1)) return false;
    const int64_t edges = fetch(b, indptr + nodes, 1)[0];
    ggnn_node*    indices = make<ggnn_node>(b, edges, "a graph's edges");
    float*        weight = weighted ? make<float>(b, edges, "a graph's weights") : nullptr;
    if (!indices || (weighted && !weight)) return false;
    e = launch_items(draw_neighbors, nodes * 32, stream(), indices, weight,
                     static_cast<const int64_t*>(indptr), nodes, rng);
    g->graph = ggnn_graph_plain(indptr, indices, weight, nodes, edges);
    return good(b, e, "a graph") && check_graph(b, *g);
}

bool fetch_graph(bench* b, host_graph* to, const made_graph& g)
{
    const ggnn_csc& csc = g.graph.whole;
    to->indptr = fetch(b, csc.indptr, g.graph.num_nodes + 1);
    to->indices = fetch(b, csc.indices, g.graph.num_edges);
    if (csc.weight) to->weight = fetch(b, csc.weight, g.graph.num_edges);
    to->graph = ggnn_graph_plain(to->indptr.data(), to->indices.data(), csc.weight ? to->weight.data() : nullptr,
                                 g.graph.num_nodes, g.graph.num_edges);
    ggnn_fault  fault = {};
    ggnn_status status = b->why.text[0] ? GGNN_OK : ggnn_graph_validate(&to->graph, &fault);
    return !b->why.text[0] &&
           (status == GGNN_OK || error_set(&b->why, "%s: the graph that was made: %s", b->entry, fault.what));
}

bool make_block(bench* b, ggnn_block* block, int64_t rows, int64_t degree, int64_t sources)
{
    const ggnn_rng rng = {7, 0, GGNN_PURPOSE_GENERATE};
    const int64_t  edges = rows * degree, sizes[] = {rows, sources, edges};
    *block = {};
    int64_t* counts = send(b, sizes, 3, "sizes of a block");
    block->indptr = make<int64_t>(b, rows + 1, "offsets of a block");
    block->indices = make<int32_t>(b, edges, "edges of a block");
    block->repeats = make<int32_t>(b, sources, "edges of sources");
    if (!counts || !block->indptr || !block->indices || !block->repeats) return false;
    block->num_dst = {counts, rows};
    block->num_src = {counts + 1, sources};
    block->num_edges = {counts + 2, edges};
    cudaError_t e = launch_items(equal_lists, rows + 1, stream(), block->indptr, rows, degree);
    if (e == cudaSuccess)
        e = launch_items(draw_ids<int32_t>, edges, stream(), block->indices, edges, sources, rng);
    if (e == cudaSuccess)
        e = launch_items(count_repeats, edges, stream(), block->repeats,
                         static_cast<const int32_t*>(block->indices), edges);
    return good(b, e, "a block");
}

bool fetch_block(bench* b, host_block* to, const ggnn_block& from)
{
    const int64_t* const size[] = {from.num_dst.n, from.num_src.n, from.num_edges.n};
    for (int i = 0; i < 3; i++) to->counts[i] = fetch(b, size[i], 1)[0];
    to->block = {};
    to->block.num_dst = {&to->counts[0], to->counts[0]};
    to->block.num_src = {&to->counts[1], to->counts[1]};
    to->block.num_edges = {&to->counts[2], to->counts[2]};
    to->indptr = fetch(b, from.indptr, to->counts[0] + 1);
    to->block.indptr = to->indptr.data();
    if (from.indices) to->indices = fetch(b, from.indices, to->counts[2]);
    if (from.edge) to->edge = fetch(b, from.edge, to->counts[2]);
    if (from.neighbor) to->neighbor = fetch(b, from.neighbor, to->counts[2]);
    to->block.indices = from.indices ? to->indices.data() : nullptr;
    to->block.edge = from.edge ? to->edge.data() : nullptr;
    to->block.neighbor = from.neighbor ? to->neighbor.data() : nullptr;
    return !b->why.text[0];
}

bool fill(bench* b, float* x, int64_t n, uint64_t seed)
{
    return good(b, launch_items(make_rows, n, stream(), x, n, seed), "rows");
}

bool distinct_ids(bench* b, ggnn_node* id, int64_t n, int64_t below, uint64_t seed)
{
    if (n > below)
        return error_set(&b->why, "%s: %lld distinct ids below %lld", b->entry, static_cast<long long>(n),
                         static_cast<long long>(below));
    return good(b, launch_items(shuffled_ids, n, stream(), id, n, below, seed), "ids");
}

bool random_ids(bench* b, ggnn_node* id, int64_t n, int64_t below, uint64_t seed)
{
    const ggnn_rng rng = {seed, 0, GGNN_PURPOSE_GENERATE};
    return good(b, launch_items(draw_ids<ggnn_node>, n, stream(), id, n, below, rng), "ids");
}

bool make_store(bench* b, made_store* s, int64_t rows, int32_t width, uint64_t seed)
{
    s->table = make<float>(b, rows * width, "a table of rows");
    if (!s->table || !fill(b, s->table, rows * width, seed)) return false;
    s->store = ggnn_store_plain(s->table, rows, width, GGNN_F32);
    return true;
}

} // namespace gpu
#endif
