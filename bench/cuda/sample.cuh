// sample.cuh - one hop's lists by every method, and walks, on a graph of ogbn-products' size.
#ifndef BENCH_CUDA_SAMPLE_CUH
#define BENCH_CUDA_SAMPLE_CUH
#include "bench/cuda/common.cuh"

namespace samples {

using namespace gpu;

#define GGNN_X(method, number, name, traits) method,
const ggnn_method methods[] = {GGNN_METHODS(GGNN_X)};
#undef GGNN_X
bool of_lists(ggnn_method method) { return !ggnn_method_has(method, GGNN_METHOD_WALKS); }

// Lists of `rows` nodes at a time. What is sampled changes from run to run, or the cache would hold it:
// `sets` sets of nodes take turns.
struct hop {
    const made_graph* g;
    int64_t           rows, sets, turn;
    int32_t           fanout;
    ggnn_method       method;
    ggnn_node *       nodes, *id; // (sets, rows), (rows, fanout)
    ggnn_rng*         rng;        // (sets)
    int64_t *         indptr, *count;
    int32_t*          status;
    void*             workspace;

    cudaError_t run(int64_t* counts)
    {
        const int64_t set = turn++ % sets;
        const ggnn_cuda_samples out = {indptr, counts, id, nullptr, nullptr};
        return ggnn_cuda_sample_lists(&out, &g->graph, nodes + set * rows, {nullptr, rows}, method, fanout,
                                      rng + set, 0, workspace, status, stream());
    }
};

bool open_hop(bench* b, hop* h, const made_graph& g, int64_t rows, int32_t fanout, ggnn_method method)
{
    const int64_t         ids = pick(b, 4 << 20, 1 << 20, 1 << 10);
    std::vector<ggnn_rng> rng;
    std::vector<int64_t>  indptr;
    *h = {};
    h->g = &g;
    h->rows = rows;
    h->sets = ids / rows > 1 ? ids / rows : 1;
    h->fanout = fanout;
    h->method = method;
    for (int64_t i = 0; i < h->sets; i++) rng.push_back({9, static_cast<uint32_t>(i), GGNN_PURPOSE_SAMPLE});
    for (int64_t i = 0; i <= rows; i++) indptr.push_back(i * fanout);
    h->nodes = make<ggnn_node>(b, h->sets * rows, "nodes to sample");
    h->id = make<ggnn_node>(b, rows * fanout, "sampled neighbours");
    h->rng = send(b, rng.data(), h->sets, "random numbers");
    h->indptr = send(b, indptr.data(), rows + 1, "offsets");
    h->count = make<int64_t>(b, rows, "counts");
    h->status = make<int32_t>(b, 1, "a status");
    h->workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_sample_workspace_bytes(method, fanout, rows)), "a workspace");
    if (!h->nodes || !h->id || !h->rng || !h->indptr || !h->count || !h->status || !h->workspace)
        return false;
    return random_ids(b, h->nodes, h->sets * rows, g.graph.num_nodes, 1);
}

bool status_good(bench* b, const int32_t* status)
{
    const int32_t s = fetch(b, status, 1)[0];
    return s == GGNN_OK
               ? !b->why.text[0]
               : error_set(&b->why, "%s: %s", b->entry, ggnn_status_string(static_cast<ggnn_status>(s)));
}

// ==== answers ==============================================================================================

// The C twin's lists of the first set.
std::vector<ggnn_node> plain_lists(const host_graph& g, const std::vector<ggnn_node>& nodes, int64_t rows,
                                   int32_t fanout, ggnn_method method)
{
    const ggnn_rng         rng = {9, 0, GGNN_PURPOSE_SAMPLE};
    std::vector<ggnn_node> id(static_cast<size_t>(rows * fanout));
    std::vector<int64_t>   offset(static_cast<size_t>(fanout));
    std::vector<char>      workspace(ggnn_sample_workspace_bytes(method, fanout) + 1);
    for (int64_t i = 0; i < rows; i++) {
        const ggnn_list list = ggnn_neighbors(&g.graph, nodes[i]);
        const int64_t   taken =
            ggnn_sample_list(offset.data(), &list, method, fanout, &rng, 0, nodes[i], workspace.data());
        for (int64_t j = 0; j < taken; j++) id[i * fanout + j] = list.id[offset[j]];
    }
    return id;
}

bool check_lists(bench* b)
{
    made_graph g;
    host_graph host;
    if (!make_graph(b, &g, EMULATED ? 500 : 5000, 20, true, 3) || !fetch_graph(b, &host, g)) return false;
    for (ggnn_method m : methods)
        for (int32_t fanout : {5, 40}) {
            if (!of_lists(m)) continue;
            const char*   name = ggnn_method_name(m);
            hop           h;
            const int64_t rows = EMULATED ? 20 : 1000;
            if (!open_hop(b, &h, g, rows, fanout, m) || !good(b, h.run(nullptr), name)) return false;
            auto ours = fetch(b, h.id, rows * fanout),
                 theirs = plain_lists(host, fetch(b, h.nodes, rows), rows, fanout, m);
            if (!status_good(b, h.status) ||
                !bench_equal(b, name, ours.data(), theirs.data(), ours.size() * sizeof ours[0]))
                return false;
        }
    return true;
}

// ==== speed ================================================================================================

// Least bytes: of each node its id, where its list begins and ends, the pieces of the list that hold what is
// taken - all weights where they decide - and what is written.
bool measure_hop(bench* b, const made_graph& g, int64_t rows, int32_t fanout, ggnn_method m)
{
    const scratch mine(b);
    const double  id = sizeof(ggnn_node), D = static_cast<double>(rows);
    hop*          h = own(b, new hop());
    if (!h || !open_hop(b, h, g, rows, fanout, m) || !good(b, h->run(h->count), ggnn_method_name(m)))
        return false;
    double edges = 0;
    for (int64_t n : fetch(b, h->count, rows)) edges += static_cast<double>(n);
    bench_case c = case_of(b, [h] { return h->run(nullptr); });
    name(&c, "%s, %lld nodes, fanout %d", ggnn_method_name(m), static_cast<long long>(rows),
         static_cast<int>(fanout));
    const double weights = ggnn_method_has(m, GGNN_METHOD_WEIGHS) ? D * g.edges_of(-1) * 4 : 0;
    const double lists = D * (1 + g.atoms_of(fanout)) * 64;
    c.work = edges;
    c.unit = "edges";
    c.bytes = lists + weights + D * (id + 8) + edges * id;
    demand(&c, "rows", 64, lists);
    demand(&c, "copy", 0, weights + D * (id + 8) + edges * id);
    return bench_measure(b, &c) && status_good(b, h->status);
}

bool measure_walks(bench* b, const made_graph& g, int64_t rows, int32_t walks, int32_t length)
{
    static const ggnn_rng rng = {9, 0, GGNN_PURPOSE_WALK};
    const ggnn_walks      how = {walks, length, .5f};
    const int32_t         visits = walks * length;
    ggnn_node *           nodes = make<ggnn_node>(b, rows, "nodes to walk from"),
              *visited = make<ggnn_node>(b, rows * visits, "visits");
    ggnn_rng* at = send(b, &rng, 1, "random numbers");
    float*    count = make<float>(b, rows * visits, "counts of visits");
    int64_t*  taken = make<int64_t>(b, rows, "counts");
    int32_t*  status = make<int32_t>(b, 1, "a status");
    void*     workspace =
        take(b, static_cast<int64_t>(ggnn_cuda_walk_workspace_bytes(visits, rows)), "a workspace");
    if (!nodes || !visited || !at || !count || !taken || !status || !workspace) return false;
    if (!random_ids(b, nodes, rows, g.graph.num_nodes, 2)) return false;
    bench_case c = case_of(b, [=, &g] {
        cudaError_t e =
            ggnn_cuda_random_walk(visited, &g.graph, &how, at, 0, nodes, {nullptr, rows}, status, stream());
        return ggnni::first_error(e, ggnn_cuda_walk_neighbors(visited, count, taken, visited, visits, 5,
                                                              nodes, {nullptr, rows}, workspace, stream()));
    });
    name(&c, "walks %d x %d and their top 5, %lld nodes", walks, length, static_cast<long long>(rows));
    c.work = static_cast<double>(rows * visits);
    c.unit = "steps";
    c.bytes = c.work * (64 + 64 + 2 * sizeof(ggnn_node));
    c.cold = true;
    demand(&c, "rows", 64, c.work * 64); // a step back to the start finds its offsets in the cache
    return bench_measure(b, &c) && status_good(b, status);
}

bool sample(bench* b)
{
    const int64_t nodes = pick(b, 2449029, 200000, 500);
    const int64_t rows[] = {pick(b, 1000, 1000, 20), pick(b, 14000, 14000, 40), pick(b, 130000, 60000, 60)};
    made_graph    g;
    if (!check_lists(b) || !make_graph(b, &g, nodes, EMULATED ? 10 : 50.5, true, 1)) return false;
    for (int64_t D : rows)
        for (int32_t k : {5, 10, 15, 30})
            if (!measure_hop(b, g, D, k, GGNN_FISHER_YATES)) return false;
    for (ggnn_method m : methods)
        if (m != GGNN_FISHER_YATES && of_lists(m) && !measure_hop(b, g, rows[1], 15, m)) return false;
    for (int32_t k : {64, 256, 1024})
        if ((!EMULATED || k == 64) && !measure_hop(b, g, rows[0], k, GGNN_PATH_DOUBLING)) return false;
    return measure_walks(b, g, rows[1], 4, 3) && measure_walks(b, g, rows[0], 10, 3);
}

} // namespace samples
#endif
