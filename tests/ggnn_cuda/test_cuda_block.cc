// test_cuda_block.cc - [6] BLOCK of ggnn_cuda.cuh: mini-batches equal to ggnn_sample's in every array, by
// steps and in a graph that is launched again; capacities that are too small; damaged graphs; the whole
// graph; transposes.
#include "ggnn_cuda.cuh"
#include "ggnn_plan.h"
#include "tests/cuda_memory.h"
#include "tests/methods.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"

#include <algorithm>
#include <memory>
#include <numeric>

static const ggnn_rng the_rng = {42, 7, GGNN_PURPOSE_SAMPLE};

struct form { // of the table
    ggnn_unique_kind kind;
    int32_t          group, hubs;

    bool fused() const { return kind == GGNN_UNIQUE_DIRECT || group == 1; } // into sampling
};
static const form forms[] = {{GGNN_UNIQUE_DIRECT, 32, 0}, {GGNN_UNIQUE_HASH, 32, 0},
                             {GGNN_UNIQUE_HASH, 8, 0},    {GGNN_UNIQUE_HASH, 1, 0},
                             {GGNN_UNIQUE_DIRECT, 1, 1},  {GGNN_UNIQUE_HASH, 1, 1}};

template <class T> static std::vector<T> fetch(const T* from, int64_t n)
{
    std::vector<T> to(n);
    if (n > 0)
        CHECK_CUDA(cudaMemcpy(to.data(), from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

// ---- graphs on both sides --------------------------------------------------------

// The lists of one part, on the host and on the device.
struct part_lists {
    std::vector<int64_t>    indptr = {0}, first;
    std::vector<ggnn_node>  indices;
    std::vector<float>      weight;
    device_array<int64_t>   device_indptr, device_first;
    device_array<ggnn_node> device_indices;
    device_array<float>     device_weight;

    void add(const random_graph* g, int64_t v)
    {
        first.push_back(g->indptr[v]);
        indices.insert(indices.end(), g->indices + g->indptr[v], g->indices + g->indptr[v + 1]);
        weight.insert(weight.end(), g->weight + g->indptr[v], g->weight + g->indptr[v + 1]);
        indptr.push_back(static_cast<int64_t>(indices.size()));
    }
    ggnn_csc host() const
    {
        return {indptr.data(), first.data(), indices.data(), weight.data(),
                static_cast<int64_t>(indices.size())};
    }
    ggnn_csc device()
    {
        device_indptr = device_array<int64_t>(indptr);
        device_first = device_array<int64_t>(first);
        device_indices = device_array<ggnn_node>(indices);
        device_weight = device_array<float>(weight);
        return {device_indptr.at(), device_first.at(), device_indices.at(), device_weight.at(),
                static_cast<int64_t>(indices.size())};
    }
};

// The same graph twice. parts 0: plain; else over that many parts, host tier and cache, by random ranks.
class both_graphs {
public:
    both_graphs(const random_graph* g, int32_t parts) : host(g->graph), device(g->graph)
    {
        if (parts > 0) spread(g, parts);
        else place_plain(g);
    }
    ggnn_graph host, device;

private:
    void place_plain(const random_graph* g)
    {
        lists.resize(1);
        for (int64_t v = 0; v < g->num_nodes; v++) lists[0].add(g, v);
        device.whole = lists[0].device();
        device.whole.first = nullptr;
    }
    void spread(const random_graph* g, int32_t parts)
    {
        const int64_t N = g->num_nodes;
        std::vector<int64_t> node(N), cached(N); // by rank, by cache row
        for (std::vector<ggnn_node>* order : {&rank, &cache_row}) {
            order->resize(N);
            std::iota(order->begin(), order->end(), 0);
            for (int64_t i = N; i-- > 1;) std::swap((*order)[i], (*order)[test_below(i + 1)]);
        }
        host.at = {cache_row.data(), N / 5, rank.data(), nullptr, N * 3 / 4, parts};
        for (int64_t v = 0; v < N; v++) node[rank[v]] = v;
        for (int64_t v = 0; v < N; v++) cached[cache_row[v]] = v;
        lists.resize(parts + 2);
        for (int64_t r = 0; r < host.at.stored; r++) lists[r % parts].add(g, node[r]); // cached ones too
        for (int64_t v = 0; v < N; v++) lists[parts].add(g, v);
        for (int64_t r = 0; r < host.at.cached; r++) lists[parts + 1].add(g, cached[r]);
        std::vector<ggnn_csc> sent;
        for (part_lists& part : lists) {
            host_csc.push_back(part.host());
            sent.push_back(part.device());
        }
        host.part = host_csc.data();
        device.whole = {};
        device_csc = device_array<ggnn_csc>(sent);
        device.part = device_csc.at();
        device_rank = device_array<ggnn_node>(rank);
        device_cache_row = device_array<ggnn_node>(cache_row);
        device.at = host.at;
        device.at.rank = device_rank.at();
        device.at.cache_row = device_cache_row.at();
    }
    std::vector<part_lists> lists;
    std::vector<ggnn_csc>   host_csc;
    std::vector<ggnn_node>  rank, cache_row;
    device_array<ggnn_node> device_rank, device_cache_row;
    device_array<ggnn_csc>  device_csc;
};

// How another device sees a graph over parts: parts and host tier are the same, the lists in its cache are others.
class other_device {
public:
    other_device(const random_graph* g, const both_graphs& shared, int64_t cached)
        : host(shared.host), device(shared.device), row(g->num_nodes)
    {
        const size_t           slots = static_cast<size_t>(host.at.parts) + 2;
        std::vector<ggnn_csc>  sent = fetch(shared.device.part, static_cast<int64_t>(slots));
        std::vector<ggnn_node> node(row.size());
        std::iota(node.begin(), node.end(), 0);
        for (size_t i = node.size(); i-- > 1;) std::swap(node[i], node[test_below(static_cast<int64_t>(i) + 1)]);
        for (size_t r = 0; r < node.size(); r++) row[node[r]] = static_cast<ggnn_node>(r);
        for (int64_t r = 0; r < cached; r++) lists.add(g, node[r]);
        csc.assign(shared.host.part, shared.host.part + slots);
        csc.back() = lists.host();
        sent.back() = lists.device();
        device_csc = device_array<ggnn_csc>(sent);
        device_row = device_array<ggnn_node>(row);
        host.part = csc.data();
        device.part = device_csc.at();
        host.at.cached = device.at.cached = cached;
        host.at.cache_row = row.data();
        device.at.cache_row = device_row.at();
    }
    ggnn_graph host, device;

private:
    part_lists              lists;
    std::vector<ggnn_csc>   csc;
    std::vector<ggnn_node>  row;
    device_array<ggnn_csc>  device_csc;
    device_array<ggnn_node> device_row;
};

// ---- batches on both sides ---------------------------------------------------------

// A batch of the device, with all it needs.
class device_batch {
public:
    // A table of its own where it would have this form anyway, else a shared one.
    device_batch(const ggnn_graph& g, const ggnn_sampling& how, int64_t max_seeds, form f) : rng(&the_rng, 1)
    {
        ggnn_cuda_unique seen = {};
        CHECK_EQ(ggnn_cuda_batch_plan(&b, &g, &how, max_seeds, nullptr), GGNN_OK);
        if (f.kind != ggnn_unique_choose(g.num_nodes)) {
            table = device_array<char>(static_cast<int64_t>(ggnn_cuda_unique_bytes(f.kind, g.num_nodes, b.max_ids)));
            CHECK_CUDA(ggnn_cuda_unique_init(&seen, f.kind, g.num_nodes, b.max_ids, table.at(), nullptr));
            CHECK_EQ(ggnn_cuda_batch_plan(&b, &g, &how, max_seeds, &seen), GGNN_OK);
        }
        memory = device_array<char>(static_cast<int64_t>(b.bytes));
        memory.fill(0xa5);
        CHECK_CUDA(ggnn_cuda_batch_init(&b, memory.at(), nullptr));
        b.table.group = f.group;
        b.table.hubs = f.hubs;
    }
    int reported() const { return fetch(b.status, 1)[0]; }

    // num: the seeds' number, known to the host where max is negative, else to the device, with that bound
    void sample(const ggnn_graph& g, const std::vector<ggnn_node>& seeds, int64_t max = -1)
    {
        const int64_t           n = static_cast<int64_t>(seeds.size());
        device_array<ggnn_node> given(seeds);
        device_count            count(n, max);
        const ggnn_count        known = {nullptr, n};
        CHECK_CUDA(ggnn_cuda_sample(&b, &g, rng.at(), given.at(), max < 0 ? known : count.get(), nullptr));
        CHECK_CUDA(cudaDeviceSynchronize());
    }

    ggnn_cuda_batch        b;
    device_array<char>     memory, table;
    device_array<ggnn_rng> rng;
};

// The twin of it.
class host_batch {
public:
    host_batch(const ggnn_graph& g, const ggnn_sampling& how, int64_t max_seeds)
    {
        CHECK_EQ(ggnn_batch_plan(&b, &g, &how, max_seeds, nullptr), GGNN_OK);
        memory.resize(b.bytes);
        CHECK_EQ(ggnn_batch_init(&b, memory.data()), GGNN_OK);
    }
    void sample(const ggnn_graph& g, const std::vector<ggnn_node>& seeds, const ggnn_rng& rng = the_rng)
    {
        CHECK_EQ(ggnn_sample(&b, &g, &rng, seeds.data(), static_cast<int64_t>(seeds.size())),
                 GGNN_OK);
    }
    ggnn_batch b;

private:
    std::vector<char> memory;
};

static int64_t size_on_device(ggnn_count count) { return fetch(count.n, 1)[0]; }

// The device's array, as far as it is in use, holds what the host's does; or neither is there.
template <class T> static void check_array(const T* device, const T* host, int64_t n, const char* what)
{
    if (!CHECK_EQ(device == nullptr, host == nullptr) || !host || n == 0) return;
    const std::vector<T> got = fetch(device, n);
    const int64_t        at = std::mismatch(got.begin(), got.end(), host).first - got.begin();
    if (!CHECK_EQ(at, n)) printf("  %s[%" PRId64 "] of %" PRId64 "\n", what, at, n);
}

static void check_block(const ggnn_block& device, const ggnn_block& host)
{
    const int64_t edges = *host.num_edges.n;
    if (!CHECK_EQ(size_on_device(device.num_dst), *host.num_dst.n)) return;
    if (!CHECK_EQ(size_on_device(device.num_src), *host.num_src.n)) return;
    if (!CHECK_EQ(size_on_device(device.num_edges), edges)) return;
    check_array(device.id, host.id, std::max(*host.num_dst.n, *host.num_src.n), "id");
    check_array(device.indptr, host.indptr, *host.num_dst.n + 1, "indptr");
    check_array(device.indices, host.indices, edges, "indices");
    check_array(device.neighbor, host.neighbor, edges, "neighbor");
    check_array(device.position, host.position, edges, "position");
    check_array(device.weight, host.weight, edges, "weight");
    check_array(device.repeats, host.repeats, *host.num_src.n, "repeats");
    check_array(device.edge, host.edge, edges, "edge");
}

static void check_batch(const ggnn_batch& device, const ggnn_batch& host)
{
    CHECK_EQ(device.num_hops, host.num_hops);
    if (!CHECK_EQ(size_on_device(device.num_seeds), *host.num_seeds.n)) return;
    check_array(device.seed_local, host.seed_local, *host.num_seeds.n, "seed_local");
    check_array(device.id, host.id, *host.hop[host.num_hops - 1].num_src.n, "id");
    for (int32_t h = 0; h < host.num_hops; h++) check_block(device.hop[h], host.hop[h]);
}

// A batch that any op may run on: every hop passes ggnn_block_validate, and names agree with numbers.
static void check_consistent(const ggnn_batch& b, int64_t num_nodes)
{
    const int64_t          seeds = size_on_device(b.num_seeds);
    std::vector<ggnn_node> id = fetch(b.id, size_on_device(b.hop[b.num_hops - 1].num_src));
    CHECK(seeds >= 0 && seeds <= b.num_seeds.max);
    for (int32_t local : fetch(b.seed_local, seeds))
        CHECK(local >= 0 && local < size_on_device(b.hop[0].num_dst));
    for (ggnn_node v : id) CHECK(v >= 0 && v < num_nodes);
    for (int32_t h = 0; h < b.num_hops; h++) {
        ggnn_block hop = b.hop[h];
        int64_t    dst = size_on_device(hop.num_dst), src = size_on_device(hop.num_src),
                edges = size_on_device(hop.num_edges);
        auto       indptr = fetch(hop.indptr, dst + 1);
        auto       indices = fetch(hop.indices, hop.indices ? edges : 0);
        auto       neighbor = fetch(hop.neighbor, hop.neighbor ? edges : 0);
        auto       repeats = fetch(hop.repeats, hop.repeats ? src : 0);
        ggnn_fault fault = {};
        hop.num_dst.n = &dst;
        hop.num_src.n = &src;
        hop.num_edges.n = &edges;
        hop.id = id.data();
        hop.indptr = indptr.data();
        if (hop.indices) hop.indices = indices.data();
        if (hop.neighbor) hop.neighbor = neighbor.data();
        if (edges == 0 && !hop.indices) hop.indices = indices.data();
        if (!CHECK_EQ(ggnn_block_validate(&hop, num_nodes, &fault), GGNN_OK)) printf("  %s\n", fault.what);
        if (!indices.empty() && !neighbor.empty())
            for (int64_t e = 0; e < edges; e++) CHECK_EQ(id[indices[e]], neighbor[e]);
        for (int32_t u : indices)
            if (hop.repeats) repeats[u]--;
        for (int32_t left : repeats) CHECK_EQ(left, 0);
    }
}

// ---- what is asked for ----------------------------------------------------------------

struct owned_graph { // frees it
    explicit owned_graph(random_graph* g) : g(g) {}
    ~owned_graph() { random_graph_free(g); }
    owned_graph(const owned_graph&) = delete;
    owned_graph&  operator=(const owned_graph&) = delete;
    random_graph* g;
};

static ggnn_sampling sampling(ggnn_method method, std::vector<int32_t> fanout, int32_t keep = 0,
                              int32_t global = 0)
{
    ggnn_sampling how = {};
    how.method = method;
    how.num_hops = static_cast<int32_t>(fanout.size());
    std::copy(fanout.begin(), fanout.end(), how.fanout);
    how.keep = keep;
    how.last_hop_global = global;
    how.walk = {4, 3, .5f};
    return how;
}

static const std::vector<ggnn_method> methods = methods_without(0);

static const int32_t keep_all =
    GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS;

static ggnn_sampling random_sampling(ggnn_method method)
{
    static const int32_t fanouts[] = {0, -1, 1, 2, 3, 5, 10, 40};
    std::vector<int32_t> fanout(1 + test_below(4));
    for (int32_t& k : fanout) k = fanouts[test_below(8)];
    ggnn_sampling how = sampling(method, fanout, static_cast<int32_t>(test_below(16)),
                                 static_cast<int32_t>(test_below(3) == 0));
    if (test_below(2)) how.walk = {}; // PinSAGE's
    how.first_hop = test_below(2) ? static_cast<int32_t>(test_below(250)) : 0;
    return how;
}

static std::vector<ggnn_node> random_seeds(int64_t n, int64_t num_nodes)
{
    std::vector<ggnn_node> seeds(n);
    for (ggnn_node& v : seeds) v = static_cast<ggnn_node>(test_below(num_nodes));
    return seeds;
}

// ---- mini-batches -------------------------------------------------------------------

TEST(batches_equal_the_twins)
{
    owned_graph own(random_graph_new(150, 4, 120));
    both_graphs g(own.g, 0);
    for (ggnn_method method : methods)
        for (int trial = 0; trial < trials(12); trial++) {
            const ggnn_sampling how = random_sampling(method);
            device_batch        d(g.device, how, 40, forms[trial % std::size(forms)]);
            host_batch          h(g.host, how, 40);
            for (int batch = 0; batch < 4; batch++) { // the same table
                const auto seeds = random_seeds(test_below(41), 150);
                d.sample(g.device, seeds, batch % 2 ? 40 : -1);
                h.sample(g.host, seeds);
                check_batch(d.b, h.b);
                CHECK_EQ(d.reported(), GGNN_OK);
            }
        }
}

TEST(fanouts_above_all_edges_take_whole_lists)
{
    owned_graph own(random_graph_new(60, 4, 20));
    both_graphs g(own.g, 0);
    for (ggnn_method method : methods) {
        if (method_has(method, GGNN_METHOD_REPEATS)) continue;
        const ggnn_sampling how = sampling(method, {2, INT32_MAX}, keep_all);
        device_batch        d(g.device, how, 10, forms[3]);
        host_batch          h(g.host, how, 10);
        const auto          seeds = random_seeds(10, 60);
        d.sample(g.device, seeds);
        h.sample(g.host, seeds);
        check_batch(d.b, h.b);
    }
}

// One list has all edges of the graph: around their number a fanout takes one less, or all of them.
TEST(a_list_of_all_edges_is_taken_whole)
{
    static const int64_t   indptr[] = {0, 0, 5, 5, 5};
    static const ggnn_node indices[] = {3, 0, 2, 3, 0};
    static const float     weight[] = {1, 2, 3, 4, 5};
    random_graph           hub = {4, 5, const_cast<int64_t*>(indptr), const_cast<ggnn_node*>(indices), const_cast<float*>(weight), {}};
    hub.graph = ggnn_graph_plain(indptr, indices, weight, 4, 5);
    both_graphs g(&hub, 0);
    for (ggnn_method method : methods)
        for (int32_t fanout : {4, 5, 6}) {
            const ggnn_sampling how = sampling(method, {fanout}, keep_all);
            device_batch        d(g.device, how, 4, forms[3]);
            host_batch          h(g.host, how, 4);
            d.sample(g.device, {1, 0});
            h.sample(g.host, {1, 0});
            check_batch(d.b, h.b);
        }
}

// With replacement a fanout may be greater than the number of all edges.
TEST(fanouts_above_all_edges_draw_as_often_with_replacement)
{
    owned_graph         own(random_graph_new(9, 1, 3));
    both_graphs         g(own.g, 0);
    const int32_t       edges = static_cast<int32_t>(own.g->num_edges);
    for (int32_t fanout : {edges - 1, edges, edges + 1, 5 * edges}) {
        const ggnn_sampling how = sampling(GGNN_REPLACEMENT, {fanout, 2}, keep_all);
        device_batch        d(g.device, how, 9, forms[3]);
        host_batch          h(g.host, how, 9);
        const auto          seeds = random_seeds(9, 9);
        d.sample(g.device, seeds);
        h.sample(g.host, seeds);
        check_batch(d.b, h.b);
        CHECK_EQ(d.reported(), GGNN_OK);
    }
}

static void check_packed(const device_batch& d, const host_batch& h);

// As many hops as there may be, the last of the 256 that have keys, and all that a hop may keep: sampled, packed, counted.
TEST(batches_of_eight_hops_are_sampled_packed_and_counted)
{
    enum { N = 400, HOPS = GGNN_HOPS_MAX };
    owned_graph own(random_graph_new(N, 3, 40));
    both_graphs g(own.g, 0);
    for (int32_t global = 0; global < 2; global++)
        for (form f : {forms[2], forms[3]}) {
            ggnn_sampling how = sampling(GGNN_RESERVOIR, std::vector<int32_t>(HOPS, 1), keep_all, global);
            how.first_hop = 256 - HOPS;
            device_batch d(g.device, how, 10, f);
            host_batch   h(g.host, how, 10);
            const auto   seeds = random_seeds(10, N);
            d.sample(g.device, seeds);
            h.sample(g.host, seeds);
            check_batch(d.b, h.b);
            check_packed(d, h);
            CHECK_EQ(d.reported(), GGNN_OK);
            if (global) continue;
            std::vector<int64_t>  rows(N), lists(N);
            device_array<int64_t> device_rows(rows), device_lists(lists);
            ggnn_count_batch(rows.data(), lists.data(), &h.b);
            CHECK_CUDA(ggnn_cuda_count_batch(device_rows.at(), device_lists.at(), &d.b, nullptr));
            CHECK(device_rows.values() == rows);
            CHECK(device_lists.values() == lists);
        }
}

// Scratch is for the hop that needs most of it: here the first.
TEST(a_first_hop_that_needs_most_scratch_has_it)
{
    owned_graph own(random_graph_new(300, 2, 1300));
    both_graphs g(own.g, 0);
    for (const std::vector<int32_t>& fanout : {std::vector<int32_t>{1200, 2}, {1200, 0}, {2, 1200}}) {
        const ggnn_sampling          how = sampling(GGNN_WEIGHTED, fanout, keep_all);
        device_batch                 d(g.device, how, 2, forms[3]);
        host_batch                   h(g.host, how, 2);
        const std::vector<ggnn_node> seeds = {0, 5};
        d.sample(g.device, seeds);
        h.sample(g.host, seeds);
        check_batch(d.b, h.b);
        CHECK_EQ(d.reported(), GGNN_OK);
    }
}

// More tiles of targets than a block has threads; then a batch with few of them in the same scratch.
TEST(batches_have_more_tiles_than_a_block_has_threads)
{
    const int64_t          nodes = 70001;
    std::vector<int64_t>   indptr(nodes + 1);
    std::vector<ggnn_node> indices, seeds(nodes);
    for (int64_t v = 0; v < nodes; v++) {
        for (int64_t k = 0; v % 997 < 2 && k <= v % 5; k++) indices.push_back(static_cast<ggnn_node>(test_below(nodes)));
        indptr[v + 1] = static_cast<int64_t>(indices.size());
        seeds[v] = static_cast<ggnn_node>(nodes - 1 - v);
    }
    const int64_t                 edges = indptr[nodes];
    const device_array<int64_t>   device_indptr(indptr);
    const device_array<ggnn_node> device_indices(indices);
    const ggnn_graph on_host = ggnn_graph_plain(indptr.data(), indices.data(), nullptr, nodes, edges);
    const ggnn_graph on_device = ggnn_graph_plain(device_indptr.at(), device_indices.at(), nullptr, nodes, edges);
    for (ggnn_method method : {GGNN_PATH_DOUBLING, GGNN_FISHER_YATES}) { // of blocks of 128 threads, of 256
        const ggnn_sampling how = sampling(method, {2, 1});
        const int64_t       n = method == GGNN_PATH_DOUBLING ? 34000 : nodes;
        device_batch        d(on_device, how, n, forms[0]);
        host_batch          h(on_host, how, n);
        const std::vector<ggnn_node> some(seeds.begin(), seeds.begin() + n);
        d.sample(on_device, some);
        h.sample(on_host, some);
        check_batch(d.b, h.b);
    }
    ggnn_sampling how = sampling(GGNN_FISHER_YATES, {2, 1});
    host_batch    h(on_host, how, nodes);
    how.max_edges[0] = 20; // so few edges are numbered by one block, which clears all sums of the next hop
    device_batch few(on_device, how, nodes, forms[0]);
    few.sample(on_device, seeds);
    CHECK_EQ(few.reported(), GGNN_ERROR_CAPACITY);
    few.sample(on_device, {0, 1});
    h.sample(on_host, {0, 1});
    check_batch(few.b, h.b);
}

// A row's edges fill several rounds of a block of 128 threads; of whole lists there are more than a grid takes at once.
TEST(batches_whose_rows_have_more_edges_than_a_block_has_threads)
{
    owned_graph own(random_graph_new(900, 250, 800));
    both_graphs g(own.g, 0);
    const auto  seeds = random_seeds(130, 900);
    for (ggnn_method method : methods)
        for (int32_t fanout : {300, -1}) {
            if (fanout < 0 && method != GGNN_FISHER_YATES) continue;
            for (int i : {0, 3}) {
                ggnn_sampling how = sampling(method, {fanout}, keep_all);
                how.walk = {100, 4, .25f};
                const int64_t n = fanout < 0 ? 130 : 3;
                device_batch  d(g.device, how, n, forms[i]);
                host_batch    h(g.host, how, n);
                const std::vector<ggnn_node> some(seeds.begin(), seeds.begin() + n);
                d.sample(g.device, some);
                h.sample(g.host, some);
                CHECK(fanout > 0 || size_on_device(d.b.hop[0].num_edges) > 16384);
                check_batch(d.b, h.b);
            }
        }
}

TEST(batches_of_a_graph_over_parts_equal_the_twins)
{
    owned_graph own(random_graph_new(200, 5, 100));
    for (int32_t parts = 1; parts <= 3; parts++) {
        both_graphs         g(own.g, parts);
        const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, -1, 2}, keep_all);
        device_batch        d(g.device, how, 30, forms[parts]);
        host_batch          h(g.host, how, 30);
        const auto          seeds = random_seeds(30, 200);
        d.sample(g.device, seeds);
        h.sample(g.host, seeds);
        check_batch(d.b, h.b);
        CHECK_EQ(d.reported(), GGNN_OK);
    }
}

// Seeds, targets and edges around a tile; more tiles than blocks (16 run at once in the emulator).
TEST(devices_with_caches_of_their_own_sample_the_same_batches)
{
    enum { DEVICES = 4 };
    owned_graph                                own(random_graph_new(150, 6, 60));
    both_graphs                                shared(own.g, DEVICES);
    std::vector<std::unique_ptr<other_device>> devices;
    for (int64_t d = 0; d < DEVICES; d++) // the first has no cache
        devices.push_back(std::make_unique<other_device>(own.g, shared, d * 17));
    for (ggnn_method method : methods) {
        const ggnn_sampling how = sampling(method, {4, 3}, keep_all);
        const auto          seeds = random_seeds(20, 150);
        host_batch          plain(own.g->graph, how, 20);
        plain.sample(own.g->graph, seeds);
        for (const auto& view : devices) {
            std::vector<int64_t>  read(DEVICES + 2), zeros(DEVICES + 2);
            device_array<int64_t> device_read(zeros);
            device_batch          d(view->device, how, 20, forms[test_below(std::size(forms))]);
            host_batch            h(view->host, how, 20);
            ggnn_graph            host = view->host, device = view->device;
            host.traffic = read.data();
            device.traffic = device_read.at();
            d.sample(device, seeds);
            h.sample(host, seeds);
            check_batch(d.b, plain.b);
            check_batch(d.b, h.b);
            CHECK(read == device_read.values());
        }
    }
}

TEST(sizes_around_a_tile) // of hops whose offsets come with the sample, and before it
{
    owned_graph own(random_graph_new(6000, 3, 4500));
    both_graphs g(own.g, 0);
    for (const std::vector<int32_t>& fanout : {std::vector<int32_t>{1, -1}, {-1, 1}})
        for (form f : {forms[0], forms[3]}) {
            const ggnn_sampling how = sampling(GGNN_FISHER_YATES, fanout, keep_all);
            device_batch        d(g.device, how, 5000, f);
            host_batch          h(g.host, how, 5000);
            for (int64_t n : {0, 1, 255, 256, 257, 4096, 5000}) {
                if (few_trials() && n != 257 && n != 4096) continue;
                std::vector<ggnn_node> seeds;
                for (int64_t v = 0; v < n; v++)
                    seeds.push_back(static_cast<ggnn_node>(v * 5 % 6000)); // node 0 is a hub
                d.sample(g.device, seeds, 5000);
                h.sample(g.host, seeds);
                check_batch(d.b, h.b);
            }
            CHECK_EQ(d.reported(), GGNN_OK);
        }
}

TEST(equal_seeds_isolated_nodes_and_self_loops)
{
    // 0 <- 0, 0, 1; 1 <- nothing; 2 <- 2; 3 <- 1, 3
    static const int64_t   indptr[] = {0, 3, 3, 4, 6};
    static const ggnn_node indices[] = {0, 0, 1, 2, 1, 3};
    static const float     weight[] = {1, 1, 1, 1, 1, 1};
    random_graph           plain = {4,
                                    6,
                                    const_cast<int64_t*>(indptr),
                                    const_cast<ggnn_node*>(indices),
                                    const_cast<float*>(weight),
                                    {}};
    plain.graph = ggnn_graph_plain(indptr, indices, weight, 4, 6);
    both_graphs g(&plain, 0);
    for (form f : forms)
        for (const std::vector<ggnn_node>& seeds :
             {std::vector<ggnn_node>{3, 3, 3}, std::vector<ggnn_node>{1},
              std::vector<ggnn_node>{2, 0, 2, 1, 0}}) {
            const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {-1, 1, 2}, keep_all);
            device_batch        d(g.device, how, 5, f);
            host_batch          h(g.host, how, 5);
            d.sample(g.device, seeds);
            h.sample(g.host, seeds);
            check_batch(d.b, h.b);
        }
}

TEST(steps_give_what_the_whole_does)
{
    owned_graph             own(random_graph_new(150, 4, 60));
    both_graphs             g(own.g, 0);
    const ggnn_sampling     how = sampling(GGNN_FISHER_YATES, {3, 4, 2}, keep_all, 1);
    device_batch            d(g.device, how, 20, forms[3]);
    host_batch              h(g.host, how, 20);
    const auto              seeds = random_seeds(20, 150);
    device_array<ggnn_node> given(seeds);
    h.sample(g.host, seeds);
    CHECK_CUDA(ggnn_cuda_batch_begin(&d.b, given.at(), {nullptr, 20}, nullptr));
    CHECK_EQ(d.b.num_hops, 0);
    CHECK_EQ(size_on_device(d.b.hop[0].num_dst), *h.b.hop[0].num_dst.n);
    check_array(d.b.seed_local, h.b.seed_local, 20, "seed_local");
    for (int32_t hop = 0; hop < 3; hop++) {
        CHECK_CUDA(ggnn_cuda_sample_hop(&d.b, &g.device, d.rng.at(), nullptr));
        check_block(d.b.hop[hop], h.b.hop[hop]); // complete at once
    }
    check_batch(d.b, h.b);
    CHECK_EQ(ggnn_cuda_sample_hop(&d.b, &g.device, d.rng.at(), nullptr),
             cudaErrorInvalidValue);
}

TEST(a_batch_in_memory_of_its_own_is_the_twins_and_given_back)
{
    owned_graph           own(random_graph_new(300, 3, 50));
    both_graphs            g(own.g, 0);
    ggnn_sampling          how = sampling(GGNN_FISHER_YATES, {3, 2});
    const auto             seeds = random_seeds(4, 300);
    device_array<ggnn_node> sent(seeds);
    device_array<ggnn_rng>  key(&the_rng, 1);
    ggnn_cuda_batch        b;
    ggnn_batch             twin;
    how.keep = GGNN_KEEP_TRANSPOSES; // of which only the C twin is capable
    CHECK_EQ(ggnn_cuda_batch_new(&b, &g.host, &how, 4, nullptr), GGNN_ERROR_ARGUMENT);
    CHECK(b.fault.what && strstr(b.fault.what, "transposes"));
    how.keep = 0;
    CHECK_EQ(ggnn_cuda_batch_new(&b, &g.host, &how, 4, nullptr), GGNN_OK);
    CHECK_EQ(ggnn_batch_new(&twin, &g.host, &how, 4), GGNN_OK);
    CHECK_CUDA(ggnn_cuda_sample(&b, &g.device, key.at(), sent.at(), {nullptr, 4}, nullptr));
    CHECK_EQ(ggnn_sample(&twin, &g.host, &the_rng, seeds.data(), 4), GGNN_OK);
    check_batch(b, twin);
    ggnn_batch_free(&twin);
    CHECK_CUDA(ggnn_cuda_batch_free(&b));
    CHECK(b.workspace == nullptr);
    CHECK_CUDA(ggnn_cuda_batch_free(&b));
    CHECK_CUDA(ggnn_cuda_batch_free(nullptr));
}

#ifdef SIMT_SHIM
TEST(a_batch_that_has_no_memory_is_an_error_and_leaves_none)
{
    owned_graph         own(random_graph_new(300, 3, 50));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, 2});
    const size_t        before = simt_live_allocations();
    ggnn_cuda_batch     b;
    simt_fail_allocation(1);
    CHECK_EQ(ggnn_cuda_batch_new(&b, &g.host, &how, 4, nullptr), GGNN_ERROR_MEMORY);
    simt_fail_allocation(0);
    cudaGetLastError();
    CHECK_STR(b.fault.what, "no memory on the device for the batch");
    CHECK_EQ(b.fault.hop, -1);
    CHECK_EQ(simt_live_allocations(), before);
    cudaStream_t stream; // what is launched first is refused: the memory is given back
    cudaGraph_t  graph = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(cudaStreamSynchronize(stream) != cudaSuccess);
    CHECK_EQ(ggnn_cuda_batch_new(&b, &g.host, &how, 4, stream), GGNN_ERROR_MEMORY);
    CHECK(cudaStreamEndCapture(stream, &graph) != cudaSuccess);
    cudaGetLastError();
    CHECK_CUDA(cudaStreamDestroy(stream));
    CHECK_EQ(simt_live_allocations(), before);
}
#endif

// A batch is planned for a size of graph, and a table that it shares must be for as many nodes and ids.
TEST(a_graph_or_a_table_of_another_size_is_refused)
{
    owned_graph             own(random_graph_new(200, 4, 20));
    both_graphs             g(own.g, 0);
    const ggnn_sampling     how = sampling(GGNN_FISHER_YATES, {3, 2});
    device_batch            d(g.device, how, 10, forms[0]);
    device_array<ggnn_node> seeds(random_seeds(10, 200));
    ggnn_graph              other[2] = {g.device, g.device};
    other[0].num_nodes--;
    other[1].num_edges--;
    for (const ggnn_graph& wrong : other) {
        CHECK_CUDA(ggnn_cuda_sample(&d.b, &g.device, d.rng.at(), seeds.at(), {nullptr, 10}, nullptr));
        CHECK_EQ(ggnn_cuda_sample(&d.b, &wrong, d.rng.at(), seeds.at(), {nullptr, 10}, nullptr), cudaErrorInvalidValue);
        CHECK_EQ(d.b.num_hops, 2); // before anything is begun: the batch is as it was
        CHECK_CUDA(ggnn_cuda_batch_begin(&d.b, seeds.at(), {nullptr, 10}, nullptr));
        CHECK_EQ(ggnn_cuda_sample_hop(&d.b, &wrong, d.rng.at(), nullptr), cudaErrorInvalidValue);
        CHECK_EQ(d.b.num_hops, 0);
    }
    for (ggnn_unique_kind kind : {GGNN_UNIQUE_DIRECT, GGNN_UNIQUE_HASH})
        for (int64_t nodes : {199, 200, 201})
            for (int64_t ids : {d.b.max_ids - 1, d.b.max_ids, d.b.max_ids + 1}) {
                ggnn_cuda_unique   seen;
                ggnn_cuda_batch    b;
                device_array<char> memory(static_cast<int64_t>(ggnn_cuda_unique_bytes(kind, nodes, ids)));
                CHECK_CUDA(ggnn_cuda_unique_init(&seen, kind, nodes, ids, memory.at(), nullptr));
                const bool fits = nodes == 200 && ids >= d.b.max_ids;
                CHECK_EQ(ggnn_cuda_batch_plan(&b, &g.host, &how, 10, &seen), fits ? GGNN_OK : GGNN_ERROR_ARGUMENT);
                if (fits) CHECK(b.shares && b.table.state == seen.state && b.bytes < d.b.bytes);
                else CHECK_STR(b.fault.what, "the shared table is for another number of nodes, or for too few ids");
            }
}

// A table may hold a batch already when another one is set up that shares it.
TEST(a_batch_that_comes_to_share_a_table_leaves_it_as_it_is)
{
    enum { N = 200 };
    owned_graph         own(random_graph_new(N, 4, 20));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, 2});
    for (form f : forms) {
        device_batch    d(g.device, how, 10, f);
        ggnn_cuda_batch other;
        d.sample(g.device, random_seeds(10, N));
        const std::vector<ggnn_node> id = fetch(d.b.id, size_on_device(d.b.hop[1].num_src));
        std::vector<int32_t>         numbers(id.size());
        std::iota(numbers.begin(), numbers.end(), 0);
        CHECK_EQ(ggnn_cuda_batch_plan(&other, &g.host, &how, 10, &d.b.table), GGNN_OK);
        device_array<char>      memory(static_cast<int64_t>(other.bytes));
        device_array<ggnn_node> given(id);
        device_array<int32_t>   local(given.count());
        CHECK_CUDA(ggnn_cuda_batch_init(&other, memory.at(), nullptr));
        CHECK_CUDA(ggnn_cuda_unique_find(&d.b.table, local.at(), given.at(), {nullptr, given.count()}, nullptr));
        CHECK(local.values() == numbers);
    }
}

// ---- bounds and capacities ------------------------------------------------------------

TEST(bounds_are_the_twins)
{
    owned_graph        own(random_graph_new(300, 3, 50));
    device_array<char> some(1 << 20);
    for (int trial = 0; trial < 300; trial++) {
        ggnn_graph    g = own.g->graph;
        ggnn_sampling how = random_sampling(methods[test_below(7)]);
        int64_t       max_seeds = test_below(500) - 5;
        if (test_below(20) == 0) how.num_hops = static_cast<int32_t>(test_below(10));
        if (test_below(20) == 0) how.walk.walks = -1;
        if (test_below(20) == 0) how.fanout[0] = INT32_MAX;
        if (test_below(10) == 0) g.num_edges = g.num_nodes = (INT64_C(1) << 31) - 1 + test_below(2);
        ggnn_batch      want;
        ggnn_cuda_batch got;
        const bool      can = ggnn_batch_plan(&want, &g, &how, max_seeds, nullptr) == GGNN_OK;
        if (!CHECK_EQ(ggnn_cuda_batch_plan(&got, &g, &how, max_seeds, nullptr) == GGNN_OK, can)) return;
        if (!can) {
            CHECK(got.fault.what && strcmp(got.fault.what, want.fault.what) == 0 && got.fault.hop == want.fault.hop);
            CHECK_EQ(ggnn_cuda_batch_init(&got, some.at(), nullptr), cudaErrorInvalidValue);
            continue;
        }
        if (g.num_nodes > 1000) continue; // only the question whether it can be
        device_batch d(g, how, max_seeds, forms[3]);
        CHECK_EQ(d.b.max_ids, want.max_ids);
        CHECK_EQ(d.b.num_seeds.max, want.num_seeds.max);
        for (int32_t h = 0; h < how.num_hops; h++) {
            CHECK_EQ(d.b.hop[h].num_dst.max, want.hop[h].num_dst.max);
            CHECK_EQ(d.b.hop[h].num_src.max, want.hop[h].num_src.max);
            CHECK_EQ(d.b.hop[h].num_edges.max, want.hop[h].num_edges.max);
            CHECK_EQ(size_on_device(d.b.hop[h].num_dst), 0);
            CHECK_EQ(fetch(d.b.hop[h].indptr, 1)[0], 0);
        }
        CHECK_EQ(d.reported(), GGNN_OK);
    }
}

// Hop 0 of the twin, of which at most `edges` edges and `src` sources fit.
static void check_first_hop_cut(const ggnn_batch& device, const ggnn_batch& host, int64_t edges, int64_t src)
{
    const ggnn_block &d = device.hop[0], &h = host.hop[0];
    const int64_t     kept = std::min(*h.num_edges.n, edges), dst = *h.num_dst.n;
    int64_t           length = dst; // of the list that the kept edges make
    const auto        indptr = fetch(d.indptr, dst + 1);
    const auto        indices = fetch(d.indices, kept);
    CHECK_EQ(size_on_device(d.num_edges), kept);
    for (int64_t i = 0; i <= dst; i++) CHECK_EQ(indptr[i], std::min(h.indptr[i], kept));
    for (int64_t e = 0; e < kept; e++) {
        const int32_t want = h.indices[e] < src ? h.indices[e] : 0;
        length = std::max<int64_t>(length, h.indices[e] + 1);
        CHECK_EQ(indices[e], want);
    }
    CHECK_EQ(size_on_device(d.num_src), std::min(length, src));
    check_array(device.id, host.id, std::min(length, src), "id");
}

static void check_lowered_capacities(int32_t first_fanout)
{
    owned_graph         own(random_graph_new(400, 6, 90));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {first_fanout, 4, -1}, keep_all);
    ggnn_sampling       less = how;
    const auto          seeds = random_seeds(60, 400);
    host_batch          h(g.host, how, 60);
    h.sample(g.host, seeds);
    const int64_t edges = *h.b.hop[0].num_edges.n, src = *h.b.hop[0].num_src.n, dst = *h.b.hop[0].num_dst.n;
    for (form f : forms)
        for (int64_t room : {INT64_C(1), edges / 2, edges - 1, edges, edges + 1}) {
            if (few_trials() && room != edges / 2) continue;
            less.max_edges[0] = room;
            device_batch d(g.device, less, 60, f);
            CHECK_EQ(d.b.hop[0].num_edges.max, room);
            d.sample(g.device, seeds);
            CHECK_EQ(d.reported(), room < edges ? GGNN_ERROR_CAPACITY : GGNN_OK);
            check_first_hop_cut(d.b, h.b, room, INT64_MAX);
            check_consistent(d.b, 400);
            if (room >= edges) check_batch(d.b, h.b);
        }
    less = how;
    for (form f : forms)
        for (int64_t room : {INT64_C(1), dst + 3, src - 1, src, src + 1}) {
            if (few_trials() && room != dst + 3) continue;
            less.max_src[0] = room;
            const int64_t most = std::max<int64_t>(room, 60); // never below what the seeds may be
            device_batch  d(g.device, less, 60, f);
            CHECK_EQ(d.b.hop[0].num_src.max, most);
            d.sample(g.device, seeds);
            CHECK_EQ(d.reported(), most < src ? GGNN_ERROR_CAPACITY : GGNN_OK);
            check_first_hop_cut(d.b, h.b, INT64_MAX, most);
            check_consistent(d.b, 400);
            if (room >= src) check_batch(d.b, h.b);
        }
}
TEST(lowered_capacities_keep_what_comes_first)
{
    check_lowered_capacities(5);
    check_lowered_capacities(-1);
}

TEST(any_capacities_leave_a_consistent_batch)
{
    owned_graph own(random_graph_new(300, 5, 200));
    both_graphs g(own.g, 0);
    int         cut = 0;
    for (int trial = 0; trial < trials(40); trial++) {
        ggnn_sampling how = random_sampling(methods[trial % 7]);
        for (int32_t h = 0; h < how.num_hops; h++) {
            how.max_edges[h] = test_below(3) ? 1 + test_below(300) : 0;
            how.max_src[h] = test_below(3) ? 1 + test_below(300) : 0;
        }
        device_batch d(g.device, how, 40, forms[trial % std::size(forms)]);
        if (trial % 5 == 0) d.b.table.max_ids = 30; // a table for fewer ids than the batch has room for
        for (int batch = 0; batch < 2; batch++) {
            d.sample(g.device, random_seeds(40, 300));
            if (d.reported() == GGNN_OK) d.sample(g.device, random_seeds(40, 300));
            check_consistent(d.b, 300);
        }
        CHECK(d.reported() == GGNN_OK || d.reported() == GGNN_ERROR_CAPACITY);
        cut += d.reported() != GGNN_OK;
    }
    CHECK(cut > trials(40) / 4 && cut < trials(40));
}

TEST(more_seeds_than_there_is_room_for)
{
    owned_graph         own(random_graph_new(100, 3, 10));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {2}, keep_all);
    for (int64_t n : {19, 20, 21, 100}) {
        device_batch d(g.device, how, 20, forms[0]);
        host_batch   h(g.host, how, 20);
        auto         seeds = random_seeds(n, 100);
        d.sample(g.device, seeds, 100); // the host's bound is greater than the batch's
        seeds.resize(std::min<int64_t>(n, 20));
        h.sample(g.host, seeds);
        check_batch(d.b, h.b);
        CHECK_EQ(d.reported(), n > 20 ? GGNN_ERROR_CAPACITY : GGNN_OK);
    }
    device_batch negative(g.device, how, 20, forms[0]); // known to the device alone: none, and that is reported
    device_count            fewer(-7, 20);
    device_array<ggnn_node> any(random_seeds(20, 100));
    CHECK_CUDA(ggnn_cuda_sample(&negative.b, &g.device, negative.rng.at(), any.at(), fewer.get(), nullptr));
    CHECK_EQ(size_on_device(negative.b.num_seeds), 0);
    CHECK_EQ(size_on_device(negative.b.hop[0].num_src), 0);
    CHECK_EQ(negative.reported(), GGNN_ERROR_CAPACITY);
    device_batch            d(g.device, how, 20, forms[0]);
    device_array<ggnn_node> seeds(random_seeds(21, 100));
    for (int64_t n : {-1, 21}) // known to the host: refused
        CHECK_EQ(ggnn_cuda_batch_begin(&d.b, seeds.at(), {nullptr, n}, nullptr),
                 cudaErrorInvalidValue);
}

// ---- damage ------------------------------------------------------------------------------

TEST(damaged_input_is_reported_and_leaves_a_consistent_batch)
{
    for (int damage = 0; damage < 7; damage++)
        for (const form& f : forms) {
            owned_graph            own(random_graph_new(200, 5, 50));
            std::vector<ggnn_node> seeds = random_seeds(40, 200);
            int64_t*               row = &own.g->indptr[100];
            switch (damage) {
            case 0: seeds[17] = -1; break;
            case 1: seeds[17] = 200; break;
            case 2: *row = -5; break;
            case 3: *row = own.g->num_edges + 1; break;
            case 4: *row = INT64_MIN; break;
            case 5:
                for (int64_t e = 0; e < own.g->num_edges; e += 3) own.g->indices[e] = -1;
                break;
            default:
                for (int64_t e = 0; e < own.g->num_edges; e += 3) own.g->indices[e] = GGNN_NODE_MAX;
            }
            seeds[20] = 99;
            seeds[21] = 100;
            device_array<int64_t>   indptr(own.g->indptr, 201);
            device_array<ggnn_node> indices(own.g->indices, own.g->num_edges);
            const ggnn_graph g = ggnn_graph_plain(indptr.at(), indices.at(), nullptr, 200, own.g->num_edges);
            for (ggnn_method method : methods) {
                if (method != GGNN_FISHER_YATES && &f - forms != damage % 6) continue;
                const ggnn_sampling how = sampling(method, {4, 3, method_has(method, GGNN_METHOD_REPEATS) ? 2 : -1}, keep_all);
                device_batch        d(g, how, 40, f);
                d.sample(g, seeds);
                CHECK_EQ(d.reported(), GGNN_ERROR_ID);
                check_consistent(d.b, 200);
            }
        }
}

// ---- without the host --------------------------------------------------------------------

// Lists read, by slot: what the twin adds up, over several batches.
// ---- a compact copy -----------------------------------------------------------------

static std::vector<char> packed_by_twin(const ggnn_batch& b)
{
    std::vector<char> packed(ggnn_batch_packed_bytes(&b), 0x5a);
    ggnn_batch_pack(packed.data(), &b);
    return packed;
}

// d packed into room for the most, its bytes put where there is room for no more, and unpacked there.
static void check_packed(const device_batch& d, const host_batch& h)
{
    const std::vector<char> want = packed_by_twin(h.b);
    const size_t            most = ggnn_cuda_batch_packed_max(&d.b);
    device_array<char>      room(static_cast<int64_t>(most));
    ggnn_cuda_batch         begun = d.b;
    begun.num_hops = 0;
    CHECK_EQ(ggnn_cuda_batch_packed_max(&begun), most); // told before any hop is sampled
    room.fill(0xa5);
    CHECK_CUDA(ggnn_cuda_batch_pack(room.at(), most, &d.b, nullptr));
    const std::vector<char> header = fetch(room.at(), GGNN_CUDA_PACKED_HEADER);
    const size_t            bytes = ggnn_cuda_batch_packed_bytes(header.data());
    if (!CHECK_EQ(bytes, want.size()) || !CHECK(bytes <= most)) return;
    std::vector<char> got = fetch(room.at(), static_cast<int64_t>(bytes));
    CHECK(got == want);
    for (char rest : fetch(room.at() + bytes, static_cast<int64_t>(most - bytes))) CHECK_EQ(rest, '\xa5');
    device_array<char> exact(got);
    ggnn_batch         b;
    room.fill(0x5a);
    CHECK_EQ(ggnn_cuda_batch_unpack(&b, exact.at(), bytes - 1, header.data()), GGNN_ERROR_BLOCK);
    CHECK_EQ(ggnn_cuda_batch_unpack(&b, exact.at(), bytes, header.data()), GGNN_OK);
    if (h.b.num_hops) check_batch(b, h.b);
    for (int32_t hop = 0; hop < b.num_hops; hop++) CHECK_EQ(b.hop[hop].num_edges.max, *h.b.hop[hop].num_edges.n);
    CHECK_EQ(ggnn_batch_unpack(&b, got.data(), bytes), GGNN_OK); // on the host
    CHECK(packed_by_twin(b) == want);
}

TEST(packed_batches_have_the_twins_bytes)
{
    owned_graph own(random_graph_new(150, 4, 120));
    both_graphs g(own.g, 0);
    for (ggnn_method method : methods)
        for (int trial = 0; trial < trials(12); trial++) {
            const ggnn_sampling how = random_sampling(method);
            device_batch        d(g.device, how, 40, forms[trial % std::size(forms)]);
            host_batch          h(g.host, how, 40);
            for (int64_t n : {test_below(41), INT64_C(0)}) {
                const auto seeds = random_seeds(n, 150);
                d.sample(g.device, seeds);
                h.sample(g.host, seeds);
                check_packed(d, h);
            }
            CHECK_EQ(d.reported(), GGNN_OK);
        }
}

TEST(batches_larger_than_a_grid_and_without_hops_are_packed)
{
    owned_graph             own(random_graph_new(3000, 12, 120));
    both_graphs             g(own.g, 0);
    const ggnn_sampling     how = sampling(GGNN_RESERVOIR, {10, 10}, keep_all);
    device_batch            d(g.device, how, 300, forms[0]);
    host_batch              h(g.host, how, 300);
    const auto              seeds = random_seeds(300, 3000);
    device_array<ggnn_node> given(seeds);
    d.sample(g.device, seeds);
    h.sample(g.host, seeds);
    check_packed(d, h);
    CHECK_CUDA(ggnn_cuda_batch_begin(&d.b, given.at(), {nullptr, 300}, nullptr));
    CHECK_EQ(ggnn_batch_begin(&h.b, seeds.data(), 300), GGNN_OK);
    check_packed(d, h);
}

TEST(a_packed_batch_without_room_is_its_header)
{
    owned_graph         own(random_graph_new(150, 4, 120));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, 2}, keep_all);
    device_batch        d(g.device, how, 40, forms[0]);
    ggnn_batch          b;
    d.sample(g.device, random_seeds(40, 150));
    device_array<char> room(static_cast<int64_t>(ggnn_cuda_batch_packed_max(&d.b)));
    const auto         pack = [&](size_t bytes) { return ggnn_cuda_batch_pack(room.at(), bytes, &d.b, nullptr); };
    CHECK_CUDA(pack(ggnn_cuda_batch_packed_max(&d.b)));
    const auto   header = fetch(room.at(), GGNN_CUDA_PACKED_HEADER);
    const size_t bytes = ggnn_cuda_batch_packed_bytes(header.data());
    CHECK_CUDA(pack(bytes)); // just enough
    CHECK_EQ(d.reported(), GGNN_OK);
    room.fill(0xa5);
    CHECK_CUDA(pack(bytes - 1));
    CHECK_EQ(d.reported(), GGNN_ERROR_CAPACITY);
    CHECK(fetch(room.at(), GGNN_CUDA_PACKED_HEADER) == header); // which tells how much is needed
    for (char rest : fetch(room.at() + GGNN_CUDA_PACKED_HEADER, room.count() - static_cast<int64_t>(GGNN_CUDA_PACKED_HEADER))) CHECK_EQ(rest, '\xa5');
    CHECK_EQ(ggnn_cuda_batch_unpack(&b, room.at(), bytes - 1, header.data()), GGNN_ERROR_BLOCK);
    CHECK_EQ(pack(GGNN_CUDA_PACKED_HEADER - 1), cudaErrorInvalidValue);
    room.fill(0xa5);
    CHECK_CUDA(pack(GGNN_CUDA_PACKED_HEADER)); // room for nothing else
    CHECK(fetch(room.at(), GGNN_CUDA_PACKED_HEADER) == header);
    for (size_t at = 0; at < 16; at++) { // what says that it was packed, and how many bytes
        std::vector<char> damaged = header;
        damaged[at] ^= 1;
        CHECK_EQ(ggnn_cuda_batch_packed_bytes(damaged.data()), 0);
        CHECK_EQ(ggnn_cuda_batch_unpack(&b, room.at(), bytes, damaged.data()), GGNN_ERROR_BLOCK);
    }
}

TEST(traffic_of_batches_is_the_twins)
{
    owned_graph own(random_graph_new(200, 5, 100));
    for (ggnn_method method : methods)
        for (int32_t parts : {0, 3}) {
            if (few_trials() && parts == 0) continue;
            both_graphs           g(own.g, parts);
            const ggnn_sampling   how = sampling(method, {3, method_has(method, GGNN_METHOD_REPEATS) ? 2 : -1, 0, 2});
            const int64_t         slots = g.host.at.parts + 2;
            std::vector<int64_t>  wanted(slots);
            device_array<int64_t> counted(slots);
            device_batch          d(g.device, how, 40, forms[0]);
            host_batch            h(g.host, how, 40);
            counted.fill(0);
            g.host.traffic = wanted.data();
            g.device.traffic = counted.at();
            for (int batch = 0; batch < 2; batch++) {
                const auto seeds = random_seeds(40, 200);
                d.sample(g.device, seeds);
                h.sample(g.host, seeds);
            }
            CHECK(counted.values() == wanted);
            g.device.at.parts = GGNN_CUDA_PARTS_MAX + 1;
            CHECK_CUDA(ggnn_cuda_batch_begin(&d.b, d.b.id, {nullptr, 0}, nullptr));
            CHECK_EQ(ggnn_cuda_sample_hop(&d.b, &g.device, d.rng.at(), nullptr), cudaErrorInvalidValue);
        }
}

// Two epochs and a batch more: the counts of ggnn_count_epochs, added to what is there.
static void count_two_epochs(int64_t num_ids, std::initializer_list<ggnn_method> methods)
{
    enum { N = 300, BATCH = 16 };
    owned_graph            own(random_graph_new(N, 6, 50));
    both_graphs            g(own.g, 0);
    std::vector<ggnn_node> ids, workspace(BATCH);
    const int64_t          batches = 2 * ((num_ids + BATCH - 1) / BATCH) + 1;
    for (ggnn_node i = 0; i < num_ids; i++) ids.push_back(3 * i);
    const device_array<ggnn_node> device_ids(ids);
    const ggnn_epochs of = {ids.data(), num_ids, BATCH, {7, 5, GGNN_PURPOSE_PRESAMPLE}, GGNN_PRESAMPLE_EPOCH};
    for (ggnn_method method : methods) {
        const ggnn_sampling    how = sampling(method, {4, 3, 2});
        std::vector<int64_t>   rows(N, 40), lists(N, 50);
        device_array<int64_t>  device_rows(rows), device_lists(lists), num_seeds(1);
        device_array<ggnn_rng> step(1);
        device_array<ggnn_node> seeds(BATCH);
        device_batch           d(g.device, how, BATCH, forms[0]);
        host_batch             h(g.host, how, BATCH);
        CHECK_EQ(ggnn_count_epochs(rows.data(), lists.data(), &h.b, &g.host, &of, 0, batches, workspace.data()), GGNN_OK);
        for (int64_t i = 0; i < batches; i++) {
            CHECK_CUDA(ggnn_cuda_epoch_batch(seeds.at(), num_seeds.at(), step.at(), device_ids.at(), num_ids, BATCH, of.rng,
                                             of.first_epoch, i, nullptr));
            CHECK_CUDA(ggnn_cuda_sample(&d.b, &g.device, step.at(), seeds.at(), {num_seeds.at(), BATCH}, nullptr));
            CHECK_CUDA(ggnn_cuda_count_batch(device_rows.at(), i % 2 ? nullptr : device_lists.at(), &d.b, nullptr));
            if (i % 2) CHECK_CUDA(ggnn_cuda_count_batch(nullptr, device_lists.at(), &d.b, nullptr));
        }
        CHECK_EQ(d.reported(), GGNN_OK);
        CHECK(device_rows.values() == rows);
        CHECK(device_lists.values() == lists);
    }
}

// The last batch of each epoch is short.
TEST(reads_counted_on_the_device_are_those_of_ggnn_plan) { count_two_epochs(100, {GGNN_FISHER_YATES, GGNN_WEIGHTED, GGNN_WALK}); }
TEST(an_epoch_that_its_batches_divide_has_no_empty_one) { count_two_epochs(96, {GGNN_FISHER_YATES}); }

// More seeds, and more sources, than threads run at once; counts of several batches in one array.
TEST(large_batches_are_drawn_and_counted)
{
    enum { N = 9000, BATCH = 5000 };
    owned_graph                  own(random_graph_new(N, 2, 50));
    both_graphs                  g(own.g, 0);
    const ggnn_sampling          how = sampling(GGNN_FISHER_YATES, {1, 1});
    const std::vector<ggnn_node> ids = random_seeds(N, N);
    const device_array<ggnn_node> device_ids(ids);
    const ggnn_epochs             of = {ids.data(), N, BATCH, {7, 5, GGNN_PURPOSE_PRESAMPLE}, GGNN_PRESAMPLE_EPOCH};
    std::vector<int64_t>          rows(N), lists(N);
    device_array<int64_t>         device_rows(rows), device_lists(lists), num_seeds(1);
    device_array<ggnn_rng>        step(1);
    device_array<ggnn_node>       seeds(BATCH);
    std::vector<ggnn_node>        workspace(BATCH);
    device_batch                  d(g.device, how, BATCH, forms[0]);
    host_batch                    h(g.host, how, BATCH);
    CHECK_EQ(ggnn_count_epochs(rows.data(), lists.data(), &h.b, &g.host, &of, 0, 3, workspace.data()), GGNN_OK);
    for (int64_t i = 0; i < 3; i++) {
        const int64_t first = i % 2 * BATCH, count = std::min<int64_t>(N - first, BATCH);
        CHECK_CUDA(ggnn_cuda_epoch_batch(seeds.at(), num_seeds.at(), step.at(), device_ids.at(), N, BATCH, of.rng, of.first_epoch, i, nullptr));
        const std::vector<ggnn_node> drawn = seeds.values(count);
        const ggnn_rng               keyed = step.values()[0];
        int64_t                      wrong = 0;
        for (int64_t k = 0; k < count; k++)
            wrong += drawn[k] != ids[ggnn_shuffle(7, of.first_epoch + static_cast<uint32_t>(i / 2), first + k, N)];
        CHECK_EQ(wrong, 0);
        CHECK_EQ(num_seeds.values()[0], count);
        CHECK(keyed.seed == 7 && keyed.step == 5 + i && keyed.purpose == GGNN_PURPOSE_PRESAMPLE);
        CHECK_CUDA(ggnn_cuda_sample(&d.b, &g.device, step.at(), seeds.at(), {num_seeds.at(), BATCH}, nullptr));
        CHECK_CUDA(ggnn_cuda_count_batch(device_rows.at(), device_lists.at(), &d.b, nullptr));
    }
    CHECK(device_rows.values() == rows);
    CHECK(device_lists.values() == lists);
}

TEST(counting_refuses_what_has_no_input_layer)
{
    owned_graph           own(random_graph_new(30, 4, 10));
    both_graphs           g(own.g, 0);
    device_array<int64_t> rows(30);
    device_batch          global(g.device, sampling(GGNN_FISHER_YATES, {2, 2}, 0, 1), 4, forms[0]);
    device_batch          empty(g.device, sampling(GGNN_FISHER_YATES, {2}), 4, forms[0]);
    global.sample(g.device, random_seeds(4, 30));
    CHECK_EQ(ggnn_cuda_count_batch(rows.at(), nullptr, &global.b, nullptr), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_count_batch(rows.at(), nullptr, &empty.b, nullptr), cudaErrorInvalidValue);
    const auto batch = [](int64_t ids, int64_t size, int64_t i) {
        return ggnn_cuda_epoch_batch(nullptr, nullptr, nullptr, nullptr, ids, size, the_rng, 0, i, nullptr);
    };
    CHECK(batch(0, 4, 0) == cudaErrorInvalidValue && batch(4, 0, 0) == cudaErrorInvalidValue &&
          batch(4, 4, -1) == cudaErrorInvalidValue);
}

TEST(batches_survive_the_wrap_of_stamps)
{
    owned_graph         own(random_graph_new(700, 4, 300));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, 2}, keep_all);
    for (form f : forms) {
        device_batch           d(g.device, how, 600, f);
        host_batch             h(g.host, how, 600);
        ggnn_cuda_unique_state state = {};
        state.last = UINT32_MAX - 2;
        CHECK_CUDA(cudaMemcpy(d.b.table.state, &state, sizeof state, cudaMemcpyHostToDevice));
        for (int batch = 0; batch < 5; batch++) {
            const auto seeds = random_seeds(batch == 3 ? 0 : 600, 700);
            d.sample(g.device, seeds);
            h.sample(g.host, seeds);
            check_batch(d.b, h.b);
        }
        CHECK_EQ(fetch(d.b.table.state, 1)[0].last, 2);
    }
}

// A capacity for which a tile has 512 targets, and hubs that all lists name.
TEST(tiles_of_more_targets_than_a_block_has_threads)
{
    const int64_t                nodes = 600000;
    std::vector<int64_t>         indptr(nodes + 1);
    std::vector<ggnn_node>       indices;
    for (int64_t v = 0; v < nodes; v++) {
        for (int64_t k = 0; v < 3000 && k < v % 7; k++)
            indices.push_back(static_cast<ggnn_node>(k < 3 ? k : test_below(nodes)));
        indptr[v + 1] = static_cast<int64_t>(indices.size());
    }
    device_array<int64_t>   device_indptr(indptr);
    device_array<ggnn_node> device_indices(indices);
    const int64_t           edges = indptr[nodes];
    const ggnn_graph on_host = ggnn_graph_plain(indptr.data(), indices.data(), nullptr, nodes, edges);
    const ggnn_graph on_device = ggnn_graph_plain(device_indptr.at(), device_indices.at(), nullptr, nodes, edges);
    std::vector<ggnn_node> seeds(3000);
    std::iota(seeds.begin(), seeds.end(), 0);
    for (ggnn_method method : methods)
        for (int i : {0, 3}) {
            if (method_has(method, GGNN_METHOD_WALKS)) continue; // whose scratch is for all that might be
            if (few_trials() && method % 2 == i % 2) continue;
            const form          f = forms[i];
            const ggnn_sampling how = sampling(method, {4, 2});
            device_batch        d(on_device, how, nodes, f);
            host_batch          h(on_host, how, nodes);
            d.sample(on_device, seeds, nodes);
            h.sample(on_host, seeds);
            check_batch(d.b, h.b);
        }
}

#ifdef SIMT_SHIM
// As [6] says.
static uint64_t launches_of(const ggnn_sampling& how, form f)
{
    uint64_t n = 3 + 1; // seeds, relabel
    for (int32_t h = 0; h < how.num_hops; h++) {
        const bool walks = method_has(how.method, GGNN_METHOD_WALKS), weighs = method_has(how.method, GGNN_METHOD_WEIGHS);
        const bool global = how.last_hop_global && h + 1 == how.num_hops;
        if (walks || how.fanout[h] != 0) n++; // the sample
        if (walks) n += 3;                    // walks, visits, sums
        if (weighs) n += 2;                   // counts, sums
        if (!walks && (weighs ? how.fanout[h] == 0 : how.fanout[h] <= 0)) n++; // offsets
        if (!global) n += 2 + !f.fused();
    }
    return n;
}

TEST(a_batch_neither_waits_nor_allocates_and_takes_few_launches)
{
    owned_graph             own(random_graph_new(150, 4, 60));
    both_graphs             g(own.g, 0);
    device_array<ggnn_node> seeds(random_seeds(20, 150));
    for (ggnn_method method : methods)
        for (form f : forms)
            for (int32_t global = 0; global < trials(2); global++) {
                if (few_trials() && f.group == 8) continue;
                const bool          all = !method_has(method, GGNN_METHOD_REPEATS) && f.group == 32;
                const ggnn_sampling how = sampling(method, {3, all ? -1 : f.group == 8 ? 0 : 4, 2}, keep_all, global);
                device_batch        d(g.device, how, 20, f);
                CHECK_CUDA(cudaDeviceSynchronize());
                const simt_statistics before = simt_get_statistics();
                CHECK_CUDA(ggnn_cuda_sample(&d.b, &g.device, d.rng.at(), seeds.at(),
                                            {nullptr, 20}, nullptr));
                const simt_statistics after = simt_get_statistics();
                CHECK_EQ(after.allocations, before.allocations);
                CHECK_EQ(after.synchronizations, before.synchronizations);
                CHECK_CUDA(cudaDeviceSynchronize());
                CHECK_EQ(simt_get_statistics().launches - before.launches, launches_of(how, f));
                if (method == GGNN_FISHER_YATES && f.fused() && !all)
                    CHECK_EQ(launches_of(how, f), static_cast<uint64_t>(global ? 3 * 3 + 2 : 3 * 3 + 4));
            }
}
#endif

// Captured once: each launch of the graph reads the step, the seeds and their number anew.
TEST(a_captured_batch_samples_afresh_at_every_launch)
{
    owned_graph         own(random_graph_new(150, 4, 60));
    both_graphs         g(own.g, 0);
    const ggnn_sampling how = sampling(GGNN_FISHER_YATES, {3, 4, 2}, keep_all);
    for (form f : forms) {
        device_batch            d(g.device, how, 20, f);
        host_batch              h(g.host, how, 20);
        device_array<ggnn_node> seeds(20);
        device_array<int64_t>   count(1);
        cudaStream_t            stream;
        cudaGraph_t             graph;
        cudaGraphExec_t         ready;
        CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        CHECK_CUDA(ggnn_cuda_sample(&d.b, &g.device, d.rng.at(), seeds.at(), {count.at(), 20},
                                    stream));
        CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
        CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
        for (int launch = 0; launch < 6; launch++) {
            const int64_t  n = launch == 2 ? 0 : 1 + test_below(20);
            const auto     given = random_seeds(20, 150);
            const ggnn_rng rng = {42, static_cast<uint32_t>(100 + launch), GGNN_PURPOSE_SAMPLE};
            seeds.upload(given.data());
            count.upload(&n);
            d.rng.upload(&rng);
            CHECK_CUDA(cudaGraphLaunch(ready, stream));
            CHECK_CUDA(cudaStreamSynchronize(stream));
            h.sample(g.host, {given.begin(), given.begin() + n}, rng);
            check_batch(d.b, h.b);
        }
        CHECK_EQ(d.reported(), GGNN_OK);
        CHECK_CUDA(cudaGraphExecDestroy(ready));
        CHECK_CUDA(cudaGraphDestroy(graph));
        CHECK_CUDA(cudaStreamDestroy(stream));
    }
}

// ---- whole graph ---------------------------------------------------------------------------

TEST(the_whole_graph_is_one_block)
{
    owned_graph           own(random_graph_new(120, 4, 30));
    both_graphs           g(own.g, 0), spread(own.g, 2);
    device_array<int64_t> counts(3);
    device_array<int32_t> copy(own.g->num_edges);
    std::vector<int32_t>  host_copy(static_cast<size_t>(own.g->num_edges));
    int64_t               host_counts[3];
    ggnn_block            d, h;
    CHECK_EQ(ggnn_block_whole(&h, &g.host, host_counts, host_copy.data()), GGNN_OK);
    CHECK_CUDA(ggnn_cuda_block_whole(&d, &g.device, counts.at(), copy.at(), nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    check_block(d, h);
    CHECK_EQ(d.num_dst.max, 120);
    CHECK_EQ(d.num_edges.max, own.g->num_edges);
    CHECK(d.indptr == g.device.whole.indptr && d.weight == g.device.whole.weight);
    CHECK_EQ(ggnn_cuda_block_whole(&d, &spread.device, counts.at(), copy.at(), nullptr),
             cudaErrorInvalidValue);
    g.device.num_edges = INT64_C(1) << 31;
    CHECK_EQ(ggnn_cuda_block_whole(&d, &g.device, counts.at(), copy.at(), nullptr),
             cudaErrorInvalidValue);
}

// Sizes to INT32_MAX: of such a graph nothing is read here but what it is called.
TEST(the_largest_graph_is_one_block)
{
    device_array<int64_t>   counts(3), indptr(1);
    device_array<int32_t>   copy(1);
    device_array<ggnn_node> indices(1);
    for (int64_t edges : {INT64_C(1), sizeof(ggnn_node) == 4 ? INT64_C(0) + INT32_MAX : INT64_C(1)}) {
        ggnn_graph g = ggnn_graph_plain(indptr.at(), indices.at(), nullptr, INT32_MAX, edges);
        ggnn_block b = {};
        indices.fill(0);
        CHECK_CUDA(ggnn_cuda_block_whole(&b, &g, counts.at(), copy.at(), nullptr));
        CHECK(counts.values() == std::vector<int64_t>({INT32_MAX, INT32_MAX, edges}));
        CHECK(b.num_dst.max == INT32_MAX && b.num_src.max == INT32_MAX && b.num_edges.max == edges && !b.edge && !b.id && !b.bipartite);
        g.num_nodes++;
        CHECK_EQ(ggnn_cuda_block_whole(&b, &g, counts.at(), copy.at(), nullptr), cudaErrorInvalidValue);
        g.num_nodes--;
        g.num_edges = INT64_C(1) << 31;
        CHECK_EQ(ggnn_cuda_block_whole(&b, &g, counts.at(), copy.at(), nullptr), cudaErrorInvalidValue);
    }
}

// ---- transposes ----------------------------------------------------------------------------

// The transpose of a block on the device.
class device_transpose {
public:
    explicit device_transpose(const ggnn_block& b)
        : memory(static_cast<int64_t>(
              ggnn_cuda_block_transpose_bytes(b.num_dst.max, b.num_src.max, b.num_edges.max))),
          workspace(static_cast<int64_t>(ggnn_cuda_block_transpose_workspace_bytes(b.num_src.max)))
    {
        ggnn_cuda_block_transpose_init(&t, b.num_dst.max, b.num_src.max, b.num_edges.max, memory.at());
        run(b);
    }
    void run(const ggnn_block& b)
    {
        memory.fill(0xa5);
        CHECK_CUDA(ggnn_cuda_block_transpose(&t, &b, workspace.at(), nullptr));
        CHECK_CUDA(cudaDeviceSynchronize());
    }
    ggnn_block t;

    device_array<char> memory, workspace;
};

// Edges of each source, as a batch that keeps repeats has them.
static std::vector<int32_t> repeats_of(const ggnn_block& b)
{
    std::vector<int32_t> repeats(static_cast<size_t>(*b.num_src.n) + 1);
    for (int64_t e = 0; e < *b.num_edges.n; e++) repeats[b.indices[e]]++;
    return repeats;
}

TEST(transposes_equal_those_made_by_hand)
{
    for (int64_t extra : {0, 700, 1100000}) // bounds above the sizes; of tiles of 1024 rows
        for (bool counted : {false, true}) {
            random_block*        r = random_block_mixed(400, 300);
            std::vector<int32_t> repeats = repeats_of(r->b);
            r->b.repeats = counted ? repeats.data() : nullptr;
            device_block     b(r->b, extra);
            device_transpose t(*b.get());
            check_block(t.t, r->t);
            t.run(*b.get()); // the same memory again
            check_block(t.t, r->t);
            CHECK(t.t.bipartite == 0 && t.t.id == b.get()->id);
            ggnn_block two_kinds = *b.get();
            two_kinds.bipartite = 1;
            two_kinds.id = nullptr;
            t.run(two_kinds);
            CHECK(t.t.bipartite == 1 && !t.t.id);
            CHECK_EQ(size_on_device(t.t.num_edges), r->edges);
            r->b.repeats = nullptr;
            random_block_free(r);
        }
}

#ifdef SIMT_SHIM
TEST(a_transpose_takes_few_launches)
{
    random_block*        r = random_block_mixed(40, 30);
    std::vector<int32_t> repeats = repeats_of(r->b);
    for (bool counted : {false, true}) {
        r->b.repeats = counted ? repeats.data() : nullptr;
        device_block     b(r->b);
        device_transpose t(*b.get());
        const uint64_t   before = simt_get_statistics().launches;
        t.run(*b.get());
        CHECK_EQ(simt_get_statistics().launches - before, counted ? 3 : 4);
    }
    r->b.repeats = nullptr;
    random_block_free(r);
}
#endif

// Tiles of 1024 rows, of which a block places 256, all of them with edges; some of the rows in the next tile.
TEST(transposes_of_four_rounds_a_tile_equal_those_made_by_hand)
{
    for (int64_t num_src : {600, 1000, 2500}) {
        random_block*    r = random_block_mixed(900, num_src);
        device_block     b(r->b, 1100000);
        device_transpose t(*b.get());
        check_block(t.t, r->t);
        random_block_free(r);
    }
}

TEST(a_transpose_without_sources_has_its_sizes_and_an_end)
{
    const int64_t    degree[3] = {0, 0, 0};
    random_block*    r = random_block_new(3, 0, degree);
    device_block     b(r->b);
    device_transpose t(*b.get());
    check_block(t.t, r->t);
    CHECK_EQ(fetch(t.t.indptr, 1)[0], 0);
    random_block_free(r);
}

// As many sources as fill 256 bytes of offsets or of counts, one less and one more: arrays lie side by side in their memory.
TEST(transposes_of_any_number_of_sources_have_room)
{
    for (int64_t num_src : {1, 31, 32, 33, 64, 65}) {
        random_block*    r = random_block_mixed(16, num_src);
        device_block     b(r->b);
        device_transpose t(*b.get());
        check_block(t.t, r->t);
        CHECK_EQ(t.t.num_dst.max, num_src);
        CHECK_EQ(t.t.num_src.max, 16);
        CHECK_EQ(t.t.num_edges.max, r->edges);
        CHECK(reinterpret_cast<char*>(t.t.edge + r->edges) <= t.memory.at() + t.memory.count());
        CHECK(reinterpret_cast<char*>(t.t.indptr + num_src + 1) <= reinterpret_cast<char*>(t.t.indices));
        random_block_free(r);
    }
}

// Sources of every number of edges around those at which another way of sorting begins; some in the first
// rows that a block sorts, some in the next.
TEST(transposed_lists_of_any_length_ascend)
{
    static const int64_t leave[] = {0,   1,   2,   15,  16,   17,   31,   32,   33,
                                    255, 256, 257, 800, 2047, 2048, 2049, 4097, 5000};
    const int64_t        num_src = 5000, num_dst = 900;
    std::vector<int32_t> source;
    for (int64_t i = 0; i < 18; i++)
        source.insert(source.end(), static_cast<size_t>(leave[i]),
                      static_cast<int32_t>(i % 2 ? i : 4096 + i));
    for (size_t i = source.size(); i-- > 1;)
        std::swap(source[i], source[test_below(static_cast<int64_t>(i) + 1)]);
    std::vector<int64_t> degree(num_dst, 0);
    for (size_t e = 0; e < source.size(); e++) degree[test_below(5) ? test_below(num_dst) : 3]++;
    random_block* r = random_block_new(num_dst, num_src, degree.data());
    std::copy(source.begin(), source.end(), r->b.indices);
    ggnn_block_transpose(&r->t, &r->b);
    std::vector<int32_t> repeats = repeats_of(r->b);
    for (bool counted : {false, true}) {
        r->b.repeats = counted ? repeats.data() : nullptr;
        device_block     b(r->b);
        device_transpose t(*b.get());
        check_block(t.t, r->t);
    }
    r->b.repeats = nullptr;
    random_block_free(r);
}

TEST(transposes_of_sampled_and_of_whole_blocks_equal_the_twins)
{
    owned_graph           own(random_graph_new(3000, 4, 2500));
    both_graphs           g(own.g, 0);
    const ggnn_sampling   how = sampling(GGNN_FISHER_YATES, {4, 5});
    device_batch          d(g.device, how, 500, forms[0]);
    host_batch            h(g.host, how, 500);
    device_array<int64_t> counts(3);
    device_array<int32_t> copy(own.g->num_edges);
    ggnn_block            whole;
    for (int64_t n : {0, 1, 500}) {
        const auto seeds = random_seeds(n, 3000);
        d.sample(g.device, seeds);
        h.sample(g.host, seeds);
        for (int hop = 0; hop < 2; hop++) {
            const ggnn_block& from = h.b.hop[hop];
            std::vector<char> memory(
                ggnn_block_transpose_bytes(from.num_dst.max, from.num_src.max, from.num_edges.max));
            ggnn_block twin;
            ggnn_block_transpose_init(&twin, from.num_dst.max, from.num_src.max, from.num_edges.max,
                                      memory.data());
            ggnn_block_transpose(&twin, &from);
            check_block(device_transpose(d.b.hop[hop]).t, twin);
        }
    }
    CHECK_CUDA(ggnn_cuda_block_whole(&whole, &g.device, counts.at(), copy.at(), nullptr));
    device_transpose t(whole);
    device_transpose back(t.t); // lists of sources, ascending: a stable sort of each list of the graph
    CHECK_EQ(size_on_device(back.t.num_edges), own.g->num_edges);
    const auto edge = fetch(t.t.edge, own.g->num_edges), indices = fetch(t.t.indices, own.g->num_edges);
    const auto indptr = fetch(t.t.indptr, 3001);
    for (int64_t u = 0; u < 3000; u++)
        for (int64_t i = indptr[u]; i < indptr[u + 1]; i++) {
            const int32_t e = edge[i], v = indices[i];
            CHECK(own.g->indices[e] == u && own.g->indptr[v] <= e && e < own.g->indptr[v + 1]);
            CHECK(i == indptr[u] || edge[i - 1] < e);
        }
    check_array(back.t.indptr, own.g->indptr, 3001, "indptr");
}

TEST(transposes_that_cannot_be_are_refused)
{
    random_block*    r = random_block_mixed(40, 30);
    device_block     b(r->b);
    device_transpose t(*b.get());
    ggnn_block       wider = *b.get();
    wider.num_src.max++;
    CHECK_EQ(ggnn_cuda_block_transpose(&t.t, &wider, t.workspace.at(), nullptr), cudaErrorInvalidValue);
    wider = *b.get();
    wider.num_edges.max++;
    CHECK_EQ(ggnn_cuda_block_transpose(&t.t, &wider, t.workspace.at(), nullptr), cudaErrorInvalidValue);
    wider = *b.get();
    wider.num_dst.max++;
    CHECK_EQ(ggnn_cuda_block_transpose(&t.t, &wider, t.workspace.at(), nullptr), cudaErrorInvalidValue);
    wider = *b.get();
    wider.indices = nullptr;
    CHECK_EQ(ggnn_cuda_block_transpose(&t.t, &wider, t.workspace.at(), nullptr), cudaErrorInvalidValue);
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!device_present()) return finish_without_device();
    test_seed(61);
    RUN(batches_equal_the_twins);
    RUN(fanouts_above_all_edges_take_whole_lists);
    RUN(a_list_of_all_edges_is_taken_whole);
    RUN(fanouts_above_all_edges_draw_as_often_with_replacement);
    RUN(batches_of_eight_hops_are_sampled_packed_and_counted);
    RUN(a_first_hop_that_needs_most_scratch_has_it);
    if (!few_trials()) RUN(batches_have_more_tiles_than_a_block_has_threads);
    RUN(batches_whose_rows_have_more_edges_than_a_block_has_threads);
    RUN(batches_of_a_graph_over_parts_equal_the_twins);
    RUN(devices_with_caches_of_their_own_sample_the_same_batches);
    RUN(sizes_around_a_tile);
    RUN(equal_seeds_isolated_nodes_and_self_loops);
    RUN(steps_give_what_the_whole_does);
    RUN(a_batch_in_memory_of_its_own_is_the_twins_and_given_back);
#ifdef SIMT_SHIM
    RUN(a_batch_that_has_no_memory_is_an_error_and_leaves_none);
#endif
    RUN(a_graph_or_a_table_of_another_size_is_refused);
    RUN(a_batch_that_comes_to_share_a_table_leaves_it_as_it_is);
    RUN(bounds_are_the_twins);
    RUN(lowered_capacities_keep_what_comes_first);
    RUN(any_capacities_leave_a_consistent_batch);
    RUN(more_seeds_than_there_is_room_for);
    RUN(damaged_input_is_reported_and_leaves_a_consistent_batch);
    RUN(packed_batches_have_the_twins_bytes);
    RUN(batches_larger_than_a_grid_and_without_hops_are_packed);
    RUN(a_packed_batch_without_room_is_its_header);
    RUN(traffic_of_batches_is_the_twins);
    RUN(reads_counted_on_the_device_are_those_of_ggnn_plan);
    RUN(an_epoch_that_its_batches_divide_has_no_empty_one);
    RUN(large_batches_are_drawn_and_counted);
    RUN(counting_refuses_what_has_no_input_layer);
    RUN(batches_survive_the_wrap_of_stamps);
    RUN_SLOW(tiles_of_more_targets_than_a_block_has_threads);
#ifdef SIMT_SHIM
    RUN(a_batch_neither_waits_nor_allocates_and_takes_few_launches);
#endif
    RUN(a_captured_batch_samples_afresh_at_every_launch);
    RUN(the_whole_graph_is_one_block);
    RUN(the_largest_graph_is_one_block);
    RUN(transposes_equal_those_made_by_hand);
#ifdef SIMT_SHIM
    RUN(a_transpose_takes_few_launches);
#endif
    RUN(transposes_of_four_rounds_a_tile_equal_those_made_by_hand);
    RUN(a_transpose_without_sources_has_its_sizes_and_an_end);
    RUN(transposes_of_any_number_of_sources_have_room);
    RUN(transposed_lists_of_any_length_ascend);
    RUN(transposes_of_sampled_and_of_whole_blocks_equal_the_twins);
    RUN(transposes_that_cannot_be_are_refused);
    return test_finish();
}
