// test_cuda_sample.cc - [4] SAMPLE of ggnn_cuda.cuh: every method against ggnn.h, element by element.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include "ggnn_reference.h"
#include "tests/cuda_memory.h"
#include "tests/methods.h"
#include "tests/test.h"

#include <algorithm>
#include <cmath>
#include <thread>
#ifdef SIMT_SHIM
#include <sys/mman.h>
#endif

static const ggnn_rng    rng = {0x123456789abcdef0u, 77, GGNN_PURPOSE_SAMPLE};
static const int32_t     HOP = 3;
static const std::vector<ggnn_method> methods = methods_without(GGNN_METHOD_WALKS);
static const std::vector<int32_t> fanouts = {0,  1,   2,   5,   16,   31,   32,   33,  64,
                                             100, 128, 129, 1000, 1024, 1025, 3000, -1};
static const std::vector<int32_t> few_fanouts = {0, 1, 5, 32, 64, 129, 1024, 1025, -1}; // for each kernel, bounds

// ---- a graph on host and device, its lists in any layout --------------------

enum layout_kind { PLAIN, MODULO, BOUND }; // the latter two: ranks, a cache, three parts and a host tier

struct part_lists { // of one slot, on the host, then on the device
    std::vector<int64_t>    indptr{0}, first;
    std::vector<ggnn_node>  indices;
    std::vector<float>      weight;
    device_array<int64_t>   device_indptr, device_first;
    device_array<ggnn_node> device_indices;
    device_array<float>     device_weight;
};

class twin_graph
{
public:
    ggnn_graph             host = {}, device = {};
    std::vector<int64_t>   indptr{0};
    std::vector<ggnn_node> indices;
    std::vector<float>     weight; // empty: none

    // degree[v] random neighbours; of weighted graphs a fifth of the weights are 0.
    explicit twin_graph(const std::vector<int64_t>& degree, bool weighted = false)
    {
        const int64_t n = static_cast<int64_t>(degree.size());
        for (int64_t d : degree) indptr.push_back(indptr.back() + d);
        for (int64_t e = 0; e < indptr.back(); e++) indices.push_back(static_cast<ggnn_node>(test_below(n)));
        for (int64_t e = 0; weighted && e < indptr.back(); e++)
            weight.push_back(test_below(5) ? static_cast<float>(1 + test_below(1000)) * 0.25f : 0.0f);
    }

    int64_t num_nodes() const { return static_cast<int64_t>(indptr.size()) - 1; }

    // To be called when all of the above is as wanted.
    void spread(layout_kind kind)
    {
        const int64_t n = num_nodes();
        host = ggnn_graph_plain(nullptr, nullptr, nullptr, n, indptr.back());
        if (kind != PLAIN) {
            for (int64_t v = 0; v < n; v++) rank.push_back(static_cast<ggnn_node>((v * 7 + 3) % n));
            for (int64_t v = 0; v < n; v++) cache_row.push_back(static_cast<ggnn_node>(ggnn_shuffle(2, 0, v, n)));
            host.at.cache_row = cache_row.data();
            host.at.parts = 3;
            host.at.cached = n / 10;
            host.at.stored = n * 2 / 3;
            bound = {0, n / 5, n / 5, host.at.stored}; // the second part is empty
            host.at.rank = rank.data();
            if (kind == BOUND) host.at.bound = bound.data();
        }
        part = std::vector<part_lists>(static_cast<size_t>(host.at.parts) + 2);
        place();
        for (part_lists& p : part)
            host_csc.push_back({p.indptr.data(), p.first.data(), p.indices.data(),
                                weight.empty() ? nullptr : p.weight.data(),
                                static_cast<int64_t>(p.indices.size())});
        if (kind == PLAIN) host.whole = host_csc[0];
        else host.part = host_csc.data();
        send();
    }

    // Do the arrays on the device hold what was sent?
    bool is_as_sent() const
    {
        bool same = true;
        for (const part_lists& p : part)
            same = same && p.device_indptr.values() == p.indptr && p.device_first.values() == p.first &&
                   p.device_indices.values() == p.indices && p.device_weight.values() == p.weight;
        return same;
    }

    void break_list(ggnn_node v, int64_t end) // of a plain graph
    {
        part[0].indptr[v + 1] = end;
        part[0].device_indptr.upload(part[0].indptr.data());
    }

private:
    std::vector<ggnn_node>  rank, cache_row;
    std::vector<int64_t>    bound;
    std::vector<part_lists> part;
    std::vector<ggnn_csc>   host_csc;
    device_array<ggnn_csc>  device_csc;
    device_array<ggnn_node> device_rank, device_cache_row;
    device_array<int64_t>   device_bound;

    // The parts in the order of ranks, the cache in that of its own rows, the host tier whole, by id.
    void place()
    {
        std::vector<ggnn_node> order(static_cast<size_t>(num_nodes())), cache = order;
        ggnn_layout            uncached = host.at;
        uncached.cached = 0;
        for (ggnn_node v = 0; v < num_nodes(); v++) order[rank.empty() ? v : rank[v]] = v;
        for (ggnn_node v = 0; v < num_nodes(); v++) cache[cache_row.empty() ? v : cache_row[v]] = v;
        for (ggnn_node v : order) {
            const int32_t slot = ggnn_locate(&uncached, v).slot;
            if (slot < host.at.parts) append(part[slot], v);
        }
        for (ggnn_node v = 0; v < num_nodes(); v++) append(part[host.at.parts], v);
        for (int64_t r = 0; r < host.at.cached; r++) append(part.back(), cache[r]);
    }

    void append(part_lists& p, ggnn_node v) const
    {
        p.first.push_back(indptr[v]);
        for (int64_t e = indptr[v]; e < indptr[v + 1]; e++) {
            p.indices.push_back(indices[e]);
            if (!weight.empty()) p.weight.push_back(weight[e]);
        }
        p.indptr.push_back(static_cast<int64_t>(p.indices.size()));
    }

    void send()
    {
        std::vector<ggnn_csc> csc;
        for (part_lists& p : part) {
            p.device_indptr = device_array<int64_t>(p.indptr);
            p.device_first = device_array<int64_t>(p.first);
            p.device_indices = device_array<ggnn_node>(p.indices);
            p.device_weight = device_array<float>(p.weight);
            csc.push_back({p.device_indptr.at(), p.device_first.at(), p.device_indices.at(),
                           p.device_weight.at(), static_cast<int64_t>(p.indices.size())});
        }
        device_csc = device_array<ggnn_csc>(csc);
        device_rank = device_array<ggnn_node>(rank);
        device_bound = device_array<int64_t>(bound);
        device = host;
        if (host.part) device.part = device_csc.at();
        else device.whole = csc[0];
        device_cache_row = device_array<ggnn_node>(cache_row);
        device.at.cache_row = device_cache_row.at();
        device.at.rank = device_rank.at();
        device.at.bound = host.at.bound ? device_bound.at() : nullptr;
    }
};

// ---- what ggnn.h says -------------------------------------------------------

struct edges_of {
    std::vector<int64_t>   count, indptr{0}, position;
    std::vector<ggnn_node> id;
    std::vector<float>     weight;
    ggnn_status            status = GGNN_OK; // the first that any list has; the device may meet another first

    int64_t total() const { return indptr.back(); }
};

static edges_of expected(const ggnn_graph& g, const std::vector<ggnn_node>& targets, ggnn_method method,
                         int32_t fanout)
{
    edges_of             want;
    std::vector<int64_t> offset;
    std::vector<char>    workspace(ggnn_sample_workspace_bytes(method, fanout < 0 ? 1 : fanout) + 1);
    for (ggnn_node v : targets) {
        ggnn_list list = {nullptr, nullptr, -1, 0};
        int64_t   taken;
        if (v >= 0 && v < g.num_nodes) list = ggnn_neighbors(&g, v);
        if (list.degree < 0) want.status = GGNN_ERROR_ID;
        offset.resize(static_cast<size_t>(std::max<int64_t>(fanout < 0 ? list.degree : fanout, 1)));
        taken = ggnn_sample_list(offset.data(), &list, method, fanout, &rng, HOP, v, workspace.data());
        if (taken == -1) want.status = GGNN_ERROR_WEIGHT; // -2: no node, and no list of it
        for (int64_t j = 0; j < taken; j++) {
            ggnn_node u = list.id[offset[j]];
            if (u < 0 || u >= g.num_nodes) {
                want.status = GGNN_ERROR_ID;
                u = v;
            }
            want.id.push_back(u);
            want.position.push_back(list.position + offset[j]);
            want.weight.push_back(list.weight ? list.weight[offset[j]] : 1.0f);
        }
        want.count.push_back(std::max<int64_t>(taken, 0));
        want.indptr.push_back(static_cast<int64_t>(want.id.size()));
    }
    return want;
}

// ---- what the device says ---------------------------------------------------

template <class T>
static void check_equal(const std::vector<T>& got, const std::vector<T>& want, size_t n, const char* what,
                        ggnn_method method, int32_t fanout)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            CHECK(got[i] == want[i]);
            if (test_errors > 8) return;
            printf("    %s, method %d, fanout %d: entry %zu of %zu is %g, not %g\n", what, method, fanout, i,
                   n, static_cast<double>(got[i]), static_cast<double>(want[i]));
            return;
        }
}

// Counts, then samples into arrays with a few elements more, which must stay as they were. more: by how much
// the host's bound of D exceeds it.
static void compare(const twin_graph& g, const std::vector<ggnn_node>& targets, ggnn_method method,
                    int32_t fanout, int64_t more = 0)
{
    const int64_t           n = static_cast<int64_t>(targets.size()), slack = 3;
    const edges_of          want = expected(g.host, targets, method, fanout);
    device_array<ggnn_node> nodes(targets), id(want.total() + slack);
    device_array<int64_t>   indptr(want.indptr), position(want.total() + slack), count(n + slack);
    device_array<float>     weight(want.total() + slack);
    device_array<ggnn_rng>  key(&rng, 1);
    device_array<int32_t>   status(1);
    device_count            size(n, n + more);
    device_array<char>      workspace(
             static_cast<int64_t>(ggnn_cuda_sample_workspace_bytes(method, fanout, n + more)));
    id.fill(0x5b);
    position.fill(0x5b);
    weight.fill(0x5b);
    count.fill(0x5b);
    status.fill(0);
    const ggnn_cuda_samples counts = {nullptr, count.at(), nullptr, nullptr, nullptr};
    const ggnn_cuda_samples samples = {indptr.at(), nullptr, id.at(), position.at(), weight.at()};
    CHECK_CUDA(ggnn_cuda_sample_lists(&counts, &g.device, nodes.at(),
                                      size.get(), method, fanout, key.at(), HOP, workspace.at(), status.at(),
                                      nullptr));
    check_equal(count.values(), want.count, want.count.size(), "count", method, fanout);
    if (fanout > 0 || (fanout < 0 && method_has(method, GGNN_METHOD_WEIGHS))) status.fill(0); // all that is wrong is reported again
    CHECK_CUDA(ggnn_cuda_sample_lists(&samples, &g.device, nodes.at(), size.get(), method, fanout, key.at(), HOP, workspace.at(),
                                      status.at(), nullptr));
    check_equal(id.values(), want.id, want.id.size(), "id", method, fanout);
    check_equal(position.values(), want.position, want.id.size(), "position", method, fanout);
    check_equal(weight.values(), want.weight, want.id.size(), "weight", method, fanout);
    for (int64_t i = 0; i < slack; i++) {
        CHECK_EQ(position.values()[want.total() + i], 0x5b5b5b5b5b5b5b5b);
        CHECK_EQ(count.values()[n + i], 0x5b5b5b5b5b5b5b5b);
    }
    CHECK_EQ(status.values()[0], want.status);
    for (bool placed : {false, true}) { // ids alone, which Fisher-Yates has an instance for, and with positions
        if (method != GGNN_FISHER_YATES) break;
        const ggnn_cuda_samples fewer = {indptr.at(), nullptr, id.at(), placed ? position.at() : nullptr, nullptr};
        id.fill(0x5b);
        position.fill(0x5b);
        if (fanout > 0) status.fill(0);
        CHECK_CUDA(ggnn_cuda_sample_lists(&fewer, &g.device, nodes.at(), size.get(), method, fanout, key.at(), HOP, workspace.at(),
                                          status.at(), nullptr));
        check_equal(id.values(), want.id, want.id.size(), "id", method, fanout);
        if (placed) check_equal(position.values(), want.position, want.id.size(), "position", method, fanout);
        CHECK_EQ(status.values()[0], want.status);
    }
}

// Shuffled, so that what lies side by side in the graph does not in the hop.
static std::vector<ggnn_node> shuffled(std::vector<ggnn_node> v)
{
    for (size_t i = v.size(); i > 1; i--) std::swap(v[i - 1], v[test_below(static_cast<int64_t>(i))]);
    return v;
}

static std::vector<ggnn_node> all_nodes(int64_t n)
{
    std::vector<ggnn_node> v(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i++) v[i] = static_cast<ggnn_node>(i);
    return shuffled(v);
}

// ---- the methods ------------------------------------------------------------

// Degrees around every fanout, none, and a hub.
static std::vector<int64_t> telling_degrees()
{
    std::vector<int64_t> degree = {0, 5003, 0, 3, 7};
    for (int32_t f : fanouts)
        for (int64_t d : {f - 1, f, f + 1, 2 * f})
            if (f > 0) degree.push_back(d);
    return degree;
}

// Those of the graph's nodes that are telling for a fanout.
static std::vector<ggnn_node> telling_nodes(const twin_graph& g, int32_t fanout)
{
    std::vector<ggnn_node> v;
    for (ggnn_node u = 0; u < g.num_nodes(); u++) {
        int64_t d = g.indptr[u + 1] - g.indptr[u];
        if (fanout < 0 || d < 8 || d == 5003 || (d >= fanout - 1 && d <= fanout + 1) || d == 2 * fanout)
            v.push_back(u);
    }
    return shuffled(v);
}

TEST(every_method_equals_ggnn_h_at_every_fanout)
{
    for (bool weighted : {false, true}) {
        twin_graph g(telling_degrees(), weighted);
        g.spread(PLAIN);
        for (ggnn_method method : methods)
            for (int32_t fanout : few_trials() ? few_fanouts : fanouts)
                if (!weighted || method_has(method, GGNN_METHOD_WEIGHS) || fanout == 5)
                    compare(g, telling_nodes(g, fanout), method, fanout);
    }
}

static void compare_neighbors(int32_t count, int64_t top, int64_t range, int64_t n, bool in_place);

// Every fanout to 40, and those around each size of a kernel beyond, of lists around it.
TEST(methods_that_share_a_row_among_threads_take_every_fanout)
{
    std::vector<int64_t> degree;
    for (int64_t d = 0; d < 45; d++) degree.push_back(d);
    for (int64_t d : {255, 256, 257, 258, 299, 300, 385, 511, 512, 513, 514, 1300}) degree.push_back(d);
    twin_graph g(degree, true);
    g.spread(PLAIN);
    for (ggnn_method method : methods) {
        for (int32_t fanout = 0; fanout <= 40; fanout += few_trials() ? 3 : 1) {
            std::vector<ggnn_node> near; // lists of one entry less, as many and more
            for (int64_t v = 0; v < 45; v++)
                if (v >= fanout - 1 && v <= fanout + 3) near.push_back(static_cast<ggnn_node>(v));
            compare(g, near, method, fanout);
        }
        for (int32_t fanout : {127, 130, 255, 256, 257, 300, 384, 511, 512, 513}) {
            std::vector<ggnn_node> far;
            for (int64_t v = 45; v < g.num_nodes(); v++)
                if (degree[v] >= fanout - 1 && (degree[v] <= fanout + 1 || v + 1 == g.num_nodes())) far.push_back(static_cast<ggnn_node>(v));
            compare(g, far, method, fanout);
        }
    }
}

// More nodes than threads run at once, and a node's list is read once: by slot what the layout says.
TEST(lists_that_are_sampled_are_counted_where_they_lie)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 97; i++) degree.push_back(test_below(9));
    for (layout_kind kind : {PLAIN, MODULO, BOUND}) {
        twin_graph g(degree, true);
        g.spread(kind);
        for (ggnn_method method : methods)
            for (int64_t n : {0, 1, 97, 5000}) {
                if (n > 97 && method != methods[test_below(static_cast<int64_t>(methods.size()))]) continue;
                std::vector<ggnn_node> nodes;
                for (int64_t i = 0; i < n; i++) nodes.push_back(static_cast<ggnn_node>(test_below(97)));
                if (n == 97) nodes[3] = 97, nodes[50] = -1, nodes[96] = GGNN_NODE_MAX; // no list, so none is read
                const size_t            slots = static_cast<size_t>(g.host.at.parts) + 2;
                const edges_of          want = expected(g.host, nodes, method, 3);
                std::vector<int64_t>    read(slots, 40);
                device_array<int64_t>   traffic(read), indptr(want.indptr), count(n);
                device_array<ggnn_node> node(nodes), id(want.total() + 1);
                device_array<ggnn_rng>  key(&rng, 1);
                device_array<int32_t>   status(1);
                device_count            size(n, n + 9);
                ggnn_graph              counted = g.device;
                counted.traffic = traffic.at();
                status.fill(0);
                const ggnn_cuda_samples counts = {nullptr, count.at(), nullptr, nullptr, nullptr};
                const ggnn_cuda_samples samples = {indptr.at(), count.at(), id.at(), nullptr, nullptr};
                CHECK_CUDA(ggnn_cuda_sample_lists(&counts, &counted, node.at(), size.get(), method, 3, key.at(), HOP, nullptr, status.at(), nullptr));
                CHECK(traffic.values() == read); // a count alone is no sample
                CHECK(count.values() == want.count);
                CHECK_CUDA(ggnn_cuda_sample_lists(&samples, &counted, node.at(), size.get(), method, 3, key.at(), HOP, nullptr, status.at(), nullptr));
                for (ggnn_node v : nodes)
                    if (v >= 0 && v < 97) read[static_cast<size_t>(ggnn_locate(&g.host.at, v).slot)]++;
                CHECK(traffic.values() == read);
                CHECK(count.values() == want.count);
                check_equal(id.values(), want.id, want.id.size(), "id", method, 3);
                counted.at.parts = GGNN_CUDA_PARTS_MAX + 1; // too many to be counted
                CHECK_EQ(ggnn_cuda_sample_lists(&samples, &counted, node.at(), size.get(), method, 3, key.at(), HOP, nullptr, status.at(), nullptr),
                         cudaErrorInvalidValue);
            }
    }
}

// 16 bytes times the power of two that holds twice the fanout, or the visits, for each of at most 128 nodes; nothing below.
TEST(workspaces_have_the_sizes_that_are_told)
{
    const auto sample = [](ggnn_method method, int32_t fanout, int64_t n) {
        return static_cast<int64_t>(ggnn_cuda_sample_workspace_bytes(method, fanout, n));
    };
    const auto walk = [](int32_t count, int64_t n) { return static_cast<int64_t>(ggnn_cuda_walk_workspace_bytes(count, n)); };
    for (ggnn_method method : methods)
        for (int32_t fanout : {-1, 0, 1, 1023, 1024, 1025, 2048, 2049, 5000})
            for (int64_t n : {0, 1, 127, 128, 129, 100000})
                CHECK_EQ(sample(method, fanout, n), method == GGNN_WEIGHTED && fanout > 1024 ? 16 * 2 * fanout * std::min<int64_t>(n, 128) : 0);
    CHECK_EQ(sample(GGNN_WALK, 5, 10), 0);
    for (ggnn_walks how : {ggnn_walks{1, 1, 0.5f}, {205, 5, 0.5f}, {0, 3, 0.5f}, {0, 0, 0.0f}}) // odd numbers of visits: numbers and pairs are where they may be
        for (int64_t n : {1, 2, 3, 5}) {
            const ggnn_walks         walks = ggnn_walks_or_default(how);
            const ggnni::walk_memory at = ggnni::walk_memory_of(walks, n);
            const size_t             visits = static_cast<size_t>(n * walks.walks * walks.length);
            CHECK(at.visits % sizeof(float) == 0 && at.visits >= visits * sizeof(ggnn_node));
            CHECK(at.pairs % 16 == 0 && at.pairs >= at.visits + visits * sizeof(float));
            CHECK_EQ(static_cast<int64_t>(at.bytes - at.pairs), walk(walks.walks * walks.length, n));
            CHECK_EQ(ggnni::hop_workspace_bytes(GGNN_WALK, 5, how, n), at.bytes);
        }
    for (int32_t count : {0, 1, 1024, 1025, 2048, 2049})
        for (int64_t n : {0, 1, 127, 128, 129, 100000}) CHECK_EQ(walk(count, n), count > 1024 ? 16 * count * std::min<int64_t>(n, 128) : 0);
    twin_graph              g({3, 4});
    device_array<ggnn_node> nodes(std::vector<ggnn_node>{0, 1}), id(10);
    device_array<int64_t>   indptr(std::vector<int64_t>{0, 5, 10});
    device_array<ggnn_rng>  key(&rng, 1);
    const ggnn_cuda_samples samples = {indptr.at(), nullptr, id.at(), nullptr, nullptr};
    g.spread(PLAIN);
    for (int32_t fanout : {1024, 1025}) // of which the second needs one
        CHECK_EQ(ggnn_cuda_sample_lists(&samples, &g.device, nodes.at(), {nullptr, 2}, GGNN_WEIGHTED, fanout, key.at(), HOP, nullptr, nullptr, nullptr),
                 fanout == 1024 ? cudaSuccess : cudaErrorInvalidValue);
}

#ifdef SIMT_SHIM
// A workspace is for 128 lists at a time, whatever number of blocks the device can run.
TEST(a_large_device_has_no_more_lists_in_work_than_the_workspace_is_for)
{
    std::vector<int64_t>   degree(132, 2);
    std::vector<ggnn_node> in_order;
    for (int64_t v = 0; v < 132; v++) in_order.push_back(static_cast<ggnn_node>(v));
    for (size_t v = 126; v < 132; v++) degree[v] = 1030;
    twin_graph g(degree, true);
    simt_set_processors(40);
    g.spread(PLAIN);
    compare(g, in_order, GGNN_WEIGHTED, 1025);
    compare_neighbors(1025, 3, 20, 132, false);
    simt_set_processors(0);
}
#endif

TEST(sampling_leaves_the_graph_as_it_is)
{
    for (layout_kind kind : {PLAIN, MODULO}) {
        twin_graph g(telling_degrees(), true);
        g.spread(kind);
        for (ggnn_method method : methods)
            for (int32_t fanout : {5, 129}) compare(g, telling_nodes(g, fanout), method, fanout);
        CHECK(g.is_as_sent());
    }
}

// Where a list could have 2^32 entries offsets have 64 bits: other instances of the same kernels.
TEST(long_offsets_give_the_same_samples)
{
    twin_graph g(telling_degrees());
    g.spread(PLAIN);
    g.device.num_edges = static_cast<int64_t>(1) << 33;
    for (ggnn_method method : methods)
        for (int32_t fanout : {1, 2, 3, 7, 16, 32, 33, 200, 1024, 1025, 3000})
            if (!method_has(method, GGNN_METHOD_WEIGHS | GGNN_METHOD_REPEATS)) compare(g, telling_nodes(g, fanout), method, fanout);
}

// One list of about 2^32 zeros, the last whose offsets have 32 bits and the first that has longer ones among them, in memory
// that is never touched but where it is sampled.
TEST(lists_of_more_than_32_bits_are_sampled_over_their_whole_length)
{
#ifdef SIMT_SHIM
    const int64_t most = (static_cast<int64_t>(1) << 32) + 5;
    void*         zeros = mmap(nullptr, static_cast<size_t>(most) * sizeof(ggnn_node), PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) SKIP("no address space for 2^32 ids");
    twin_graph g({0, 0});
    g.spread(PLAIN);
    for (int64_t degree : {most - 6, most - 5, most}) {
        std::vector<int64_t>  indptr = {0, degree, degree};
        device_array<int64_t> device_indptr(indptr);
        g.host = ggnn_graph_plain(indptr.data(), static_cast<ggnn_node*>(zeros), nullptr, 2, degree);
        const ggnn_csc lists = {device_indptr.at(), nullptr, static_cast<ggnn_node*>(zeros), nullptr, degree};
        const device_array<ggnn_csc> part(&lists, 1); // through a table, as the emulator refuses host addresses
        g.device = ggnn_graph_plain(nullptr, nullptr, nullptr, 2, degree);
        g.device.part = part.at();
        for (ggnn_method method : {GGNN_FISHER_YATES, GGNN_PATH_DOUBLING, GGNN_REJECTION, GGNN_REPLACEMENT})
            for (int32_t fanout : {5, 32, 1000}) compare(g, {0, 1}, method, fanout);
    }
    munmap(zeros, static_cast<size_t>(most) * sizeof(ggnn_node));
#else
    SKIP("needs 16 GiB of zeros on the device");
#endif
}

TEST(kernels_go_on_where_there_are_more_rows_than_resident_blocks)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 2500; i++) degree.push_back(test_below(14));
    degree[234] = 700;
    twin_graph g(degree, true);
    g.spread(PLAIN);
    for (ggnn_method method : methods)
        for (int32_t fanout : {1, 3, 10, 32, 40, -1})
            if (!few_trials() || (fanout != 1 && fanout != 32))
                compare(g, all_nodes(fanout < 0 ? 2500 : trials(2500)), method, fanout, 100);
    std::vector<ggnn_node> heavy; // the kernels of greater fanouts, many long lists
    for (int i = 0; i < trials(70); i++) heavy.push_back(234);
    for (ggnn_method method : methods) compare(g, heavy, method, 300);
}

#ifdef SIMT_SHIM
// Spans grow to the rows that a block has threads before there are more of them than blocks: so few blocks, asked for by a
// thread that has not asked before.
TEST(a_block_places_one_span_of_rows_after_another)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 1300; i++) degree.push_back(test_below(14));
    twin_graph g(degree, true);
    g.spread(PLAIN);
    simt_set_occupancy(1);
    std::thread([&] {
        for (ggnn_method method : methods)
            for (int32_t fanout : {3, 32, -1}) compare(g, all_nodes(1300), method, fanout, 100);
    }).join();
    simt_set_occupancy(0);
}
#endif

TEST(sizes_at_the_edges_of_tiles_and_bounds)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 600; i++) degree.push_back(3 + i % 9);
    twin_graph g(degree, true);
    g.spread(PLAIN);
    for (ggnn_method method : methods)
        for (int64_t n : {0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 255, 256, 257})
            compare(g, all_nodes(n), method, 4, n % 3);
}

TEST(a_size_above_its_bound_is_cut_to_it)
{
    twin_graph g(std::vector<int64_t>(20, 6));
    g.spread(PLAIN);
    const std::vector<ggnn_node> targets = all_nodes(12);
    const edges_of               want = expected(g.host, targets, GGNN_FISHER_YATES, 4);
    device_array<ggnn_node>      nodes(targets), id(48);
    device_array<int64_t>        indptr(want.indptr), count(13);
    device_array<ggnn_rng>       key(&rng, 1);
    device_count                 size(13, 12);
    count.fill(0x5b);
    const ggnn_cuda_samples samples = {indptr.at(), count.at(), id.at(), nullptr, nullptr};
    CHECK_CUDA(ggnn_cuda_sample_lists(&samples, &g.device, nodes.at(), size.get(), GGNN_FISHER_YATES, 4, key.at(), HOP, nullptr,
                                      nullptr, nullptr));
    check_equal(id.values(), want.id, 48, "id", GGNN_FISHER_YATES, 4);
    CHECK_EQ(count.values()[12], 0x5b5b5b5b5b5b5b5b);
}

TEST(graphs_over_parts_host_and_cache_give_the_same_samples)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 97; i++) degree.push_back(i == 50 ? 3500 : test_below(90));
    for (layout_kind kind : {MODULO, BOUND}) {
        if (few_trials() && kind == MODULO) continue;
        twin_graph g(degree, true);
        g.spread(kind);
        for (ggnn_method method : methods)
            for (int32_t fanout : {4, 20, 50, 1030, -1})
                if (!few_trials() || fanout != 20) compare(g, all_nodes(97), method, fanout);
    }
}

// ---- limits of single kernels -----------------------------------------------

TEST(reservoirs_of_more_slots_than_shared_memory_take_several_passes)
{
    twin_graph g({20000, 9000, 8193});
    g.spread(PLAIN);
    for (int32_t fanout : {8191, 8192, 8193, 9000}) compare(g, all_nodes(3), GGNN_RESERVOIR, fanout);
    g.device.num_edges = static_cast<int64_t>(1) << 33; // 4,096 slots
    for (int32_t fanout : {4095, 4096, 4097, 9000}) compare(g, all_nodes(3), GGNN_FISHER_YATES, fanout);
}

// Weights that grow with the position make almost every edge a candidate: buffers fill again and again.
TEST(weighted_buffers_that_fill_are_sorted_and_go_on)
{
    twin_graph g({513, 2100, 4000, 6000}, true);
    for (int64_t v = 0; v < 4; v++)
        for (int64_t e = g.indptr[v]; e < g.indptr[v + 1]; e++)
            g.weight[e] = std::ldexp(1.0f, static_cast<int>(e - g.indptr[v]) / 32 - 100);
    g.spread(PLAIN);
    for (int32_t fanout : {1, 31, 32, 33, 256, 257, 500, 1024, 1025, 2000, 3000})
        compare(g, {0, 1, 2, 3}, GGNN_WEIGHTED, fanout); // the last has the end of the workspace
}

TEST(equal_weights_give_the_samples_of_ggnn_h)
{
    for (float w : {0.75f, 3.0e38f, 1.0e-45f}) {
        twin_graph g({500, 64, 3000}, true);
        std::fill(g.weight.begin(), g.weight.end(), w);
        g.spread(PLAIN);
        for (int32_t fanout : {1, 20, 32, 60, 1100}) compare(g, all_nodes(3), GGNN_WEIGHTED, fanout);
    }
}

// Equal keys, which draws hardly ever give: keys given to what a warp keeps, and to the sort of a block.
static __global__ void __launch_bounds__(ggnni::WARP)
    test_given_keys(int64_t* from, const unsigned long long* key, int64_t n, int fanout)
{
    unsigned long long best = ggnni::NO_KEY;
    int64_t            mine = -1;
    for (int64_t base = 0; base < n; base += ggnni::WARP)
        ggnni::keep_least(best, mine, base + threadIdx.x < n ? key[base + threadIdx.x] : ggnni::NO_KEY, base,
                          fanout);
    from[threadIdx.x] = mine;
}

static __global__ void __launch_bounds__(ggnni::THREADS) test_given_pairs(ggnni::sort_pair* p, int64_t n)
{
    ggnni::sort_pairs(p, n, ggnni::team<ggnni::THREADS>());
}

TEST(of_equal_keys_the_smaller_position_wins)
{
    for (int64_t n : {1, 2, 31, 32, 33, 64, 100, 500, 1000}) {
        std::vector<unsigned long long> key;
        std::vector<ggnni::sort_pair>   pair;
        std::vector<int64_t>            order;
        for (int64_t i = 0; i < n; i++) {
            key.push_back(static_cast<unsigned long long>(test_below(6)));
            pair.push_back({key.back(), (i * 7919) % n}); // in any order
            order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return key[a] < key[b]; });
        device_array<unsigned long long> keys(key);
        device_array<int64_t>            from(32);
        for (int fanout : {1, 7, 31, 32}) {
            CHECK_CUDA(
                ggnni::launch(test_given_keys, 1, ggnni::WARP, nullptr, from.at(), keys.at(), n, fanout));
            check_equal(from.values(), order, static_cast<size_t>(std::min<int64_t>(fanout, n)), "kept",
                        GGNN_WEIGHTED, fanout);
        }
        pair.resize(1024);
        device_array<ggnni::sort_pair> pairs(pair);
        pair.resize(static_cast<size_t>(n));
        CHECK_CUDA(ggnni::launch(test_given_pairs, 1, ggnni::THREADS, nullptr, pairs.at(), n));
        std::sort(pair.begin(), pair.end(), [](const ggnni::sort_pair& a, const ggnni::sort_pair& b) {
            return a.key != b.key ? a.key < b.key : a.from < b.from;
        });
        const std::vector<ggnni::sort_pair> got = pairs.values();
        for (size_t i = 0; i < pair.size(); i++)
            CHECK(got[i].key == pair[i].key && got[i].from == pair[i].from);
    }
}

TEST(lists_without_enough_weight_give_what_they_have)
{
    twin_graph g({0, 400, 400, 400, 3000, 20}, true);
    for (size_t e = 0; e < g.weight.size(); e++) g.weight[e] = e % 37 == 5 ? 2.0f : 0.0f;
    std::fill(g.weight.begin(), g.weight.begin() + 400, 0.0f);
    g.spread(PLAIN);
    for (int32_t fanout : {1, 5, 30, 32, 50, 1025, 3000, -1}) compare(g, all_nodes(6), GGNN_WEIGHTED, fanout);
}

// ---- damaged input ----------------------------------------------------------

TEST(a_weight_that_is_none_is_reported_and_its_list_left_out)
{
    const float bad[] = {-1.0f, NAN, INFINITY, -INFINITY};
    for (float w : bad)
        for (int64_t at : {0, 40, 99}) {
            twin_graph g({100, 100, 1500, 3}, true);
            g.weight[100 + static_cast<size_t>(at)] = w;
            g.weight[200 + 1400] = w;
            g.spread(PLAIN);
            for (int32_t fanout : {0, 4, 32, 60, 200, 1030, -1}) {
                compare(g, all_nodes(4), GGNN_WEIGHTED, fanout);
                compare(g, {0, 3}, GGNN_WEIGHTED, fanout);
            }
            compare(g, all_nodes(4), GGNN_FISHER_YATES, 4); // which does not look at weights
        }
}

TEST(broken_lists_and_nodes_out_of_range_have_no_edges)
{
    const ggnn_node            far = GGNN_NODE_MAX;
    std::vector<ggnn_node>     targets = {0, -1, 3, 60, far, 5, -far, 7};
    const std::vector<int64_t> ends = {-1, 0, 1 << 30};
    for (int64_t end : ends) {
        twin_graph g(std::vector<int64_t>(60, 50));
        g.spread(PLAIN);
        g.break_list(4, end); // the lists of 4 and 5
        for (ggnn_method method : methods)
            for (int32_t fanout : {0, 3, 40, 1030, -1}) {
                compare(g, {3, 4, 5, 6}, method, fanout);
                compare(g, targets, method, fanout);
                compare(g, {0, 1, 2, 6}, method, fanout);
            }
    }
}

// Arrays that go on behind the last node, and behind the last edge of what they are said to hold.
TEST(what_lies_behind_the_last_node_and_edge_is_not_read)
{
    twin_graph g(std::vector<int64_t>(60, 50));
    for (ggnn_node& u : g.indices) u %= 59;
    g.spread(PLAIN);
    g.host.num_nodes = g.device.num_nodes = 59;
    for (int64_t edges : {60 * 50, 58 * 50 - 1}) { // the latter: the list of 57 ends an edge further
        g.host.whole.num_edges = g.device.whole.num_edges = edges;
        for (ggnn_method method : methods)
            for (int32_t fanout : {0, 3, -1})
                for (ggnn_node v : {56, 57, 58, 59}) compare(g, {v, 0}, method, fanout);
    }
}

TEST(a_list_longer_than_the_graph_is_broken)
{
    twin_graph g({5, 30, 6});
    g.spread(PLAIN);
    g.device.num_edges = 29;
    device_array<ggnn_node> nodes(std::vector<ggnn_node>{0, 1, 2});
    device_array<ggnn_rng>  key(&rng, 1);
    device_array<int32_t>   status(1);
    device_array<int64_t>   count(3);
    status.fill(0);
    const ggnn_cuda_samples counts = {nullptr, count.at(), nullptr, nullptr, nullptr};
    CHECK_CUDA(ggnn_cuda_sample_lists(&counts, &g.device, nodes.at(), {nullptr, 3}, GGNN_RESERVOIR, 4, key.at(), HOP, nullptr, status.at(),
                                      nullptr));
    check_equal(count.values(), {4, 0, 4}, 3, "count", GGNN_RESERVOIR, 4);
    CHECK_EQ(status.values()[0], GGNN_ERROR_ID);
}

TEST(neighbours_out_of_range_become_the_target)
{
    const ggnn_node bad[] = {-1, 60, GGNN_NODE_MAX, -GGNN_NODE_MAX};
    for (ggnn_node id : bad) {
        twin_graph g(std::vector<int64_t>(60, 50));
        for (size_t e = 0; e < g.indices.size(); e += 10) g.indices[e] = id;
        g.spread(PLAIN);
        for (ggnn_method method : methods)
            for (int32_t fanout : {30, 40, 1030, -1})
                if (!few_trials() || id == -1) compare(g, all_nodes(60), method, fanout);
    }
}

// Rows that end before the sample does, and a capacity that ends before the rows do.
TEST(nothing_is_written_where_there_is_no_room)
{
    std::vector<int64_t> degree(40, 2000);
    for (int i = 0; i < 40; i += 3) degree[i] = 5;
    twin_graph                 g(degree, true);
    const std::vector<int64_t> widths = {3, 0, 17, 4};
    g.spread(PLAIN);
    for (ggnn_method method : methods)
        for (int32_t fanout : {6, 20, 50, 1030, -1}) {
            const std::vector<ggnn_node> targets = all_nodes(40);
            const edges_of               want = expected(g.host, targets, method, fanout);
            std::vector<int64_t>         indptr{0};
            std::vector<ggnn_node>       id;
            for (size_t i = 0; i < 40; i++)
                indptr.push_back(indptr.back() + std::min(want.count[i], widths[i % 4]));
            const int64_t           total = indptr.back(), capacity = total * 2 / 3;
            device_array<ggnn_node> nodes(targets), got(total);
            device_array<int64_t>   starts(indptr);
            device_array<ggnn_rng>  key(&rng, 1);
            device_array<char>      workspace(
                     static_cast<int64_t>(ggnn_cuda_sample_workspace_bytes(method, fanout, 40)));
            ggnni::hop_job job = {};
            for (size_t i = 0; i < 40; i++)
                for (int64_t j = 0; j < indptr[i + 1] - indptr[i]; j++)
                    id.push_back(want.id[want.indptr[i] + j]);
            job.g = g.device;
            job.method = method;
            job.fanout = fanout;
            job.hop = HOP;
            job.rng = key.at();
            job.target = nodes.at();
            job.num_dst.max = 40;
            job.indptr = starts.at();
            job.id = got.at();
            job.max_edges = capacity;
            job.workspace = workspace.at();
            got.fill(0x5b);
            CHECK_CUDA(ggnni::sample_hop(job, nullptr));
            check_equal(got.values(), id, static_cast<size_t>(capacity), "id", method, fanout);
            for (int64_t e = capacity; e < total; e++) CHECK_EQ(got.values()[e] & 0xff, 0x5b);
        }
}

TEST(no_node_has_no_row_wherever_rows_would_begin)
{
    twin_graph g({4, 9});
    g.spread(PLAIN);
    device_array<ggnn_node> nodes(std::vector<ggnn_node>{0, 1}), id(8);
    device_array<int64_t>   starts(std::vector<int64_t>{5, 8}), position(8);
    device_array<ggnn_rng>  key(&rng, 1);
    device_count            none(0, 2);
    position.fill(0x5b);
    for (ggnn_method method : methods)
        for (int32_t fanout : {3, 40, -1}) {
            const ggnn_cuda_samples samples = {starts.at(), nullptr, id.at(), position.at(), nullptr};
            CHECK_CUDA(ggnn_cuda_sample_lists(&samples, &g.device, nodes.at(), none.get(), method, fanout, key.at(), HOP, nullptr, nullptr, nullptr));
            CHECK(position.values() == std::vector<int64_t>(8, 0x5b5b5b5b5b5b5b5b));
        }
}

// Rows of one length, some with more room than they need: beyond count[i] nothing is written.
TEST(rows_of_equal_length_need_no_scan)
{
    twin_graph g({0, 4, 9, 100, 800, 64, 3000}, true);
    for (size_t e = 0; e < g.weight.size(); e++) g.weight[e] = e % 11 == 5 ? 2.0f : 0.0f;
    g.weight[g.indptr[3] + 70] = g.weight[g.indptr[4] + 70] = -1.0f; // lists 3 and 4 have no sample by weight
    g.spread(PLAIN);
    for (ggnn_method method : methods)
        for (int32_t fanout : {5, 30, 50, 200, 1040, -1}) {
            const std::vector<ggnn_node> targets = all_nodes(7);
            const edges_of               want = expected(g.host, targets, method, fanout);
            const int64_t                width = (fanout < 0 ? 3000 : fanout) + 2;
            std::vector<int64_t>         indptr;
            for (int64_t i = 0; i <= 7; i++) indptr.push_back(i * width);
            device_array<ggnn_node> nodes(targets), id(7 * width);
            device_array<int64_t>   starts(indptr), count(7), position(7 * width);
            device_array<ggnn_rng>  key(&rng, 1);
            device_array<char>      workspace(
                     static_cast<int64_t>(ggnn_cuda_sample_workspace_bytes(method, fanout, 7)));
            position.fill(0x5b);
            const ggnn_cuda_samples samples = {starts.at(), count.at(), id.at(), position.at(), nullptr};
            CHECK_CUDA(ggnn_cuda_sample_lists(&samples, &g.device, nodes.at(), {nullptr, 7}, method, fanout, key.at(),
                                              HOP, workspace.at(), nullptr, nullptr));
            check_equal(count.values(), want.count, 7, "count", method, fanout);
            const std::vector<int64_t> got = position.values();
            for (int64_t i = 0; i < 7; i++)
                for (int64_t j = 0; j < width; j++)
                    CHECK_EQ(got[i * width + j], j < want.count[i]
                                                     ? want.position[want.indptr[static_cast<size_t>(i)] + j]
                                                     : 0x5b5b5b5b5b5b5b5b);
        }
}

TEST(arguments_that_ggnn_h_would_refuse_are_refused)
{
    twin_graph g({3, 4});
    g.spread(PLAIN);
    const ggnn_walks negative = {-1, 3, 0.5f}, long_walks = {1 << 16, 1 << 16, 0.5f}, chance = {1, 1, 1.5f};
    const ggnn_count        two = {nullptr, 2}, none = {nullptr, -1};
    const ggnn_cuda_samples nothing = {};
    CHECK_EQ(ggnn_cuda_sample_lists(&nothing, &g.device, nullptr, two,
                                    GGNN_WALK, 4, nullptr, 0, nullptr, nullptr, nullptr),
             cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_sample_lists(&nothing, &g.device, nullptr, none,
                                    GGNN_FISHER_YATES, 4, nullptr, 0, nullptr, nullptr, nullptr),
             cudaErrorInvalidValue);
    for (const ggnn_walks* how : {&negative, &long_walks, &chance})
        CHECK_EQ(ggnn_cuda_random_walk(nullptr, &g.device, how, nullptr, 0, nullptr, two, nullptr, nullptr),
                 cudaErrorInvalidValue);
    CHECK_EQ(
        ggnn_cuda_walk_neighbors(nullptr, nullptr, nullptr, nullptr, -1, 3, nullptr, two, nullptr, nullptr),
        cudaErrorInvalidValue);
}

// ---- path doubling on given draws -------------------------------------------

template <int ITEMS, class Key>
static __global__ void __launch_bounds__(ggnni::PATH_THREADS)
    test_given_draws(int64_t* offset, const int64_t* r, int64_t n, int32_t m)
{
    __shared__ ggnni::path_memory<ITEMS, Key> memory;
    for (int d = static_cast<int>(threadIdx.x); d < ggnni::PATH_THREADS * ITEMS; d += ggnni::PATH_THREADS)
        memory.s[d] = static_cast<Key>(d < m ? r[d] : n);
    ggnni::path_sort<ITEMS, Key>(memory, n);
    ggnni::path_link<ITEMS, Key>(memory, n, m);
    for (int t = static_cast<int>(threadIdx.x); t < m; t += ggnni::PATH_THREADS)
        offset[memory.p[t]] = ggnni::path_pick<ITEMS, Key>(memory, n, t);
}

static void check_path(const std::vector<int64_t>& r, int64_t n)
{
    static ggnn_ref_path      work;
    const int32_t         m = static_cast<int32_t>(r.size());
    std::vector<int64_t>  want(r.size());
    device_array<int64_t> draws(r), offset(m);
    void (*kernel)(int64_t*, const int64_t*, int64_t, int32_t) = test_given_draws<8, unsigned>;
    if (m <= 128) kernel = test_given_draws<1, unsigned>;
    else if (m <= 256) kernel = test_given_draws<2, unsigned>;
    else if (m <= 512) kernel = test_given_draws<4, unsigned>;
    if (n > static_cast<int64_t>(UINT32_MAX)) kernel = test_given_draws<8, unsigned long long>;
    ggnn_ref_path_doubling(want.data(), &work, r.data(), n, m, nullptr, nullptr);
    CHECK_CUDA(ggnni::launch(kernel, 1, ggnni::PATH_THREADS, nullptr, offset.at(), draws.at(), n, m));
    check_equal(offset.values(), want, want.size(), "offset", GGNN_PATH_DOUBLING, m);
}

// The same for Fisher-Yates in registers: one warp, all of whose groups have these draws.
template <int G, class Offset>
static __global__ void __launch_bounds__(ggnni::WARP)
    test_given_lanes(int64_t* offset, const int64_t* r, int64_t n, int32_t m)
{
    const int    lane = static_cast<int>(threadIdx.x % G);
    const Offset mine = static_cast<Offset>(lane < m ? r[lane] : 0);
    const Offset pick = ggnni::fisher_yates_pick<G, Offset>(mine, static_cast<Offset>(n), lane);
    if (lane < m)
        offset[threadIdx.x / G * static_cast<unsigned>(m) + static_cast<unsigned>(lane)] =
            static_cast<int64_t>(pick);
}

template <int G> static void check_lanes(const std::vector<int64_t>& r, int64_t n)
{
    const int32_t         m = static_cast<int32_t>(r.size());
    std::vector<int64_t>  want(r.size());
    device_array<int64_t> draws(r), offset(m * (32 / G));
    static ggnn_ref_path      work;
    ggnn_ref_path_doubling(want.data(), &work, r.data(), n, m, nullptr, nullptr);
    for (size_t copies = want.size(); copies > 0 && want.size() < copies * (32 / G);)
        want.push_back(want[want.size() - copies]);
    CHECK_CUDA(
        ggnni::launch(test_given_lanes<G, unsigned>, 1, ggnni::WARP, nullptr, offset.at(), draws.at(), n, m));
    check_equal(offset.values(), want, want.size(), "offset", GGNN_FISHER_YATES, m);
    CHECK_CUDA(ggnni::launch(test_given_lanes<G, unsigned long long>, 1, ggnni::WARP, nullptr, offset.at(),
                             draws.at(), n, m));
    check_equal(offset.values(), want, want.size(), "offset of 64 bits", GGNN_FISHER_YATES, m);
}

// r_i = n-2-i links each draw to the one before, and r_(m-1) = n-m looks up the end of that chain: the vector
// that needs all rounds.
static std::vector<int64_t> longest_chain(int32_t m, int64_t n)
{
    std::vector<int64_t> r;
    for (int32_t i = 0; i < m; i++) r.push_back(i < m - 1 ? n - 2 - i : n - m);
    return r;
}

TEST(fisher_yates_in_registers_follows_the_longest_chains)
{
    for (int32_t m = 1; m <= 32; m++) {
        const std::vector<int64_t> r = longest_chain(m, 2 * m);
        if (m <= 1) check_lanes<1>(r, 2 * m);
        if (m <= 2) check_lanes<2>(r, 2 * m);
        if (m <= 4) check_lanes<4>(r, 2 * m);
        if (m <= 8) check_lanes<8>(r, 2 * m);
        if (m <= 16) check_lanes<16>(r, 2 * m);
        check_lanes<32>(r, 2 * m);
    }
}

TEST(path_doubling_follows_the_longest_chains)
{
    for (int32_t m : {1,   2,   3,   4,   5,   8,   16,  31,  32,   33,   64,  127,
                      128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024})
        for (int64_t n : {static_cast<int64_t>(2 * m), (static_cast<int64_t>(1) << 40) + 5})
            check_path(longest_chain(m, n), n);
}

TEST(path_doubling_of_equal_and_of_dense_draws)
{
    for (int32_t m : {2, 5, 33, 128, 200, 600, 1024}) {
        check_path(std::vector<int64_t>(static_cast<size_t>(m), 0), m);     // always slot 0
        check_path(std::vector<int64_t>(static_cast<size_t>(m), m), 2 * m); // the last slot that stays
        for (int64_t n : {static_cast<int64_t>(m), static_cast<int64_t>(m) + 1, static_cast<int64_t>(3 * m),
                          static_cast<int64_t>(UINT32_MAX)}) {
            std::vector<int64_t> r;
            for (int32_t i = 0; i < m; i++) r.push_back(test_below(n - i));
            check_path(r, n);
        }
    }
}

// What lies behind the sorted draws of a full block has the bits of the greatest one: it is not a draw.
TEST(path_doubling_of_as_many_draws_as_threads_ends_at_the_last)
{
    const int64_t        greatest = 101 << 16 | 100, n = greatest + 101;
    std::vector<int64_t> r;
    for (int i = 0; i < 128; i++) r.push_back(1 + test_below(greatest - 1));
    r[100] = r[101] = 0; // the first two in order; the slot that draw 100 gives up
    r[50] = greatest;    // was overwritten by draw 50
    check_path(r, n);
}

// ---- walks ------------------------------------------------------------------

static void compare_walks(const twin_graph& g, const std::vector<ggnn_node>& nodes, ggnn_walks how,
                          ggnn_purpose purpose = GGNN_PURPOSE_SAMPLE)
{
    const ggnn_rng          own = {rng.seed, rng.step, static_cast<uint32_t>(purpose)};
    const ggnn_walks        walks = ggnn_walks_or_default(how);
    const int64_t           visits = walks.walks * walks.length, n = static_cast<int64_t>(nodes.size());
    std::vector<ggnn_node>  want(static_cast<size_t>(n * visits));
    device_array<ggnn_node> start(nodes), visited(n * visits + 1);
    device_array<ggnn_rng>  key(&own, 1);
    device_array<int32_t>   status(1);
    device_count            size(n, n + 5);
    ggnn_node               bad;
    visited.fill(0x5b);
    status.fill(0);
    for (int64_t i = 0; i < n; i++)
        CHECK_EQ(ggnn_random_walk(want.data() + i * visits, &g.host, &how, &own, HOP, nodes[i], &bad),
                 GGNN_OK);
    CHECK_CUDA(ggnn_cuda_random_walk(visited.at(), &g.device, &how, key.at(), HOP, start.at(), size.get(),
                                     status.at(), nullptr));
    check_equal(visited.values(), want, want.size(), "visited", GGNN_WALK, how.walks);
    CHECK_EQ(visited.values().back() & 0xff, 0x5b);
    CHECK_EQ(status.values()[0], GGNN_OK);
}

TEST(walks_equal_ggnn_hs)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 300; i++) degree.push_back(test_below(6));
    for (layout_kind kind : {PLAIN, MODULO, BOUND}) {
        twin_graph g(degree);
        g.spread(kind);
        for (float restart : {0.0f, 0.4f, 1.0f})
            for (int32_t walks : {1, 3, 4})
                for (int32_t length : {1, 3, 10}) compare_walks(g, all_nodes(300), {walks, length, restart});
        compare_walks(g, all_nodes(300), {40, 2, 0.5f}); // more walks than resident threads
        compare_walks(g, all_nodes(300), {0, 3, 0.5f});
        compare_walks(g, all_nodes(300), {0, 0, 0.0f}); // PinSAGE's
        compare_walks(g, all_nodes(300), {4, 3, 0.5f}, GGNN_PURPOSE_EVALUATE);
        compare_walks(g, {}, {4, 3, 0.5f});
    }
}

// A chance that equals one of the words drawn: that step does not restart.
TEST(walks_restart_below_the_chance_and_not_at_it)
{
    twin_graph g(std::vector<int64_t>(300, 3));
    ggnn_rng   walk = rng;
    int        found = 0;
    g.spread(PLAIN);
    walk.purpose = GGNN_PURPOSE_WALK;
    for (ggnn_node v = 0; v < 300; v++)
        for (uint32_t block = 0; block < 40; block += 2) {
            const uint32_t word = ggnn_random(&walk, HOP, v, block).word[2];
            if (word % 256 || found++ > 2) continue; // no float
            compare_walks(g, {v}, {20, 2, static_cast<float>(word) / 4294967296.0f});
        }
    CHECK(found > 0);
}

// Nodes that the graph does not have: no step, an error, and none of their lists is counted.
TEST(walks_from_nodes_out_of_range_are_none)
{
    for (layout_kind kind : {MODULO, BOUND}) {
        twin_graph g(std::vector<int64_t>(97, 3));
        g.spread(kind);
        const std::vector<ggnn_node> nodes = {5, -1, 97, 96, GGNN_NODE_MAX, -GGNN_NODE_MAX, 0};
        const ggnn_walks             how = {3, 4, 0.2f};
        const ggnn_rng               own = {rng.seed, rng.step, GGNN_PURPOSE_SAMPLE};
        const size_t                 slots = static_cast<size_t>(g.host.at.parts) + 2;
        std::vector<int64_t>         read(slots, 7);
        std::vector<ggnn_node>       want(12 * nodes.size(), -1);
        device_array<int64_t>        traffic(read);
        device_array<ggnn_node>      start(nodes), visited(static_cast<int64_t>(want.size()));
        device_array<ggnn_rng>       key(&own, 1);
        device_array<int32_t>        status(1);
        ggnn_graph                   host = g.host, device = g.device;
        ggnn_node                    bad;
        host.traffic = read.data();
        device.traffic = traffic.at();
        status.fill(0);
        for (size_t i = 0; i < nodes.size(); i++)
            if (nodes[i] >= 0 && nodes[i] < 97)
                CHECK_EQ(ggnn_random_walk(want.data() + 12 * i, &host, &how, &own, 255, nodes[i], &bad), GGNN_OK);
        CHECK_CUDA(ggnn_cuda_random_walk(visited.at(), &device, &how, key.at(), 255, start.at(), {nullptr, static_cast<int64_t>(nodes.size())},
                                         status.at(), nullptr)); // 255: the last hop that has a key
        CHECK(visited.values() == want);
        CHECK_EQ(status.values()[0], GGNN_ERROR_ID);
        CHECK(traffic.values() == read);
    }
}

// What has no neighbours (node 1), a broken list (2, 3) or neighbours out of range (4) sends the walk back to
// its start.
TEST(walks_report_what_is_broken_and_go_on)
{
    for (int what = 0; what < 2; what++) {
        twin_graph       g({4, 0, 1, 1, 2, 2});
        const ggnn_walks how = {50, 4, 0.0f};
        for (int64_t e = 0; e < 4; e++) g.indices[e] = static_cast<ggnn_node>(e + 1);
        g.indices[6] = what ? 6 : 5;
        g.indices[7] = what ? -7 : 5;
        g.indices[8] = g.indices[9] = 0;
        g.spread(PLAIN);
        if (!what) g.break_list(2, -1);
        device_array<ggnn_node> start(std::vector<ggnn_node>{0}), visited(200);
        device_array<ggnn_rng>  key(&rng, 1);
        device_array<int32_t>   status(1);
        status.fill(0);
        CHECK_CUDA(ggnn_cuda_random_walk(visited.at(), &g.device, &how, key.at(), HOP, start.at(),
                                         {nullptr, 1}, status.at(), nullptr));
        CHECK_EQ(status.values()[0], GGNN_ERROR_ID);
        const std::vector<ggnn_node> v = visited.values();
        for (size_t w = 0; w < 50; w++) {
            ggnn_node at = 0;
            for (size_t s = 0; s < 4; s++) {
                const ggnn_node next = v[4 * w + s];
                const bool      stuck = at == 1 || (what ? at == 4 : at == 2 || at == 3);
                if (stuck) CHECK_EQ(next, -1);
                else CHECK(at == 0 ? next >= 1 && next <= 4 : next >= 0 && next < 6);
                at = next < 0 ? 0 : next;
            }
        }
    }
}

// Rows of visited nodes out of few or of many, with ends of walks (-1) and the node itself between them. In a
// third of the rows two ids have most of the visits.
static void compare_neighbors(int32_t count, int64_t top, int64_t range, int64_t n, bool in_place)
{
    std::vector<ggnn_node> nodes, visited, want_id(static_cast<size_t>(count) + 1);
    std::vector<float>     want_visits(static_cast<size_t>(count) + 1);
    std::vector<char>      scratch(static_cast<size_t>(count) * 16 + 16);
    const int64_t          last = sizeof(ggnn_node) == 8 ? (static_cast<int64_t>(1) << 48) - 2 : INT32_MAX;
    for (int64_t i = 0; i < n; i++) {
        const int64_t base = i % 2 ? last - range + 1 : 0; // ids up to the greatest
        nodes.push_back(static_cast<ggnn_node>(base + test_below(range)));
        for (int32_t j = 0; j < count; j++) {
            const int64_t what = test_below(20);
            int64_t       v = base + test_below(range);
            if (i % 3 == 0 && what >= 2) v = what < 14 ? base : what < 19 ? base + range / 2 : v; // uneven
            if (what == 0) v = -1;
            if (what == 1) v = nodes.back();
            visited.push_back(static_cast<ggnn_node>(v));
        }
    }
    device_array<ggnn_node>  node(nodes), given(visited), apart(n * count);
    device_array<float>      visits(n * count);
    device_array<int64_t>    taken(n);
    device_array<char>       workspace(static_cast<int64_t>(ggnn_cuda_walk_workspace_bytes(count, n)));
    device_count             size(n, n);
    device_array<ggnn_node>& id = in_place ? given : apart;
    apart.fill(0x5b); // rows are not written to their ends
    visits.fill(0x5b);
    CHECK_CUDA(ggnn_cuda_walk_neighbors(id.at(), visits.at(), taken.at(), given.at(), count, top, node.at(),
                                        size.get(), workspace.at(), nullptr));
    const std::vector<ggnn_node> got_id = id.values();
    const std::vector<float>     got_visits = visits.values();
    const std::vector<int64_t>   got = taken.values();
    for (int64_t i = 0; i < n; i++) {
        const size_t  row = static_cast<size_t>(i * count);
        const int64_t want = ggnn_walk_neighbors(want_id.data(), want_visits.data(), visited.data() + row,
                                                 count, top, nodes[i], scratch.data());
        bool          same = CHECK_EQ(got[i], want);
        for (size_t j = 0; same && j < static_cast<size_t>(want); j++)
            same = got_id[row + j] == want_id[j] && got_visits[row + j] == want_visits[j];
        for (size_t j = static_cast<size_t>(want); same && j < static_cast<size_t>(count); j++) { // no more is written
            uint32_t bits;
            memcpy(&bits, &got_visits[row + j], sizeof bits);
            same = bits == 0x5b5b5b5b && (in_place ? got_id[row + j] == visited[row + j] : (got_id[row + j] & 0xff) == 0x5b);
        }
        if (!CHECK(same))
            printf("    count %d, top %d, range %d, node %d\n", count, static_cast<int>(top),
                   static_cast<int>(range), static_cast<int>(i));
    }
}

TEST(neighbours_by_visits_equal_ggnn_hs)
{
    for (int32_t count :
         {0, 1, 7, 8, 9, 12, 16, 17, 31, 32, 33, 100, 128, 256, 257, 700, 1000, 1024, 1025, 3000})
        for (int64_t range : {1, 5, 2000})
            for (int64_t top : {-1, 0, 1, 5, 40})
                if (!few_trials() || top < 0 || top == 5) compare_neighbors(count, top, range, 5, test_below(2));
    for (int32_t count : {8, 9, 32, 33, 256, 257, 1024, 1025, 2048}) { // one id has all visits, the greatest
        device_array<ggnn_node> node(std::vector<ggnn_node>{0}), visited(std::vector<ggnn_node>(static_cast<size_t>(count), GGNN_NODE_MAX - 1)), id(count);
        device_array<float>     visits(count);
        device_array<int64_t>   taken(1);
        device_array<char>      workspace(static_cast<int64_t>(ggnn_cuda_walk_workspace_bytes(count, 1)));
        if (sizeof(ggnn_node) == 8) visited = device_array<ggnn_node>(std::vector<ggnn_node>(static_cast<size_t>(count), static_cast<ggnn_node>((INT64_C(1) << 48) - 2)));
        CHECK_CUDA(ggnn_cuda_walk_neighbors(id.at(), visits.at(), taken.at(), visited.at(), count, -1, node.at(), {nullptr, 1}, workspace.at(), nullptr));
        CHECK_EQ(taken.values()[0], 1);
        CHECK_EQ(id.values(1)[0], visited.values(1)[0]);
        CHECK(visits.values(1)[0] == static_cast<float>(count));
    }
    compare_neighbors(12, 5, 4, 700, true); // more nodes than resident blocks have groups
    compare_neighbors(40, 5, 10, 50, true);
    compare_neighbors(1030, 5, 100, 20, true);
}

// count_hop and sample_hop with WALK, against ggnn_random_walk and ggnn_walk_neighbors.
static void compare_walk_hop(const twin_graph& g, ggnn_walks how, int32_t fanout)
{
    const int64_t                n = g.num_nodes(), count = how.walks * how.length;
    std::vector<ggnn_node>       visited(static_cast<size_t>(count) + 1), id;
    std::vector<float>           visits(static_cast<size_t>(count) + 1), weight;
    std::vector<int64_t>         taken, indptr{0};
    std::vector<char>            scratch(static_cast<size_t>(count) * 16 + 16);
    ggnn_node                    bad;
    const std::vector<ggnn_node> targets = all_nodes(n);
    for (ggnn_node v : targets) {
        CHECK_EQ(ggnn_random_walk(visited.data(), &g.host, &how, &rng, HOP, v, &bad), GGNN_OK);
        taken.push_back(ggnn_walk_neighbors(visited.data(), visits.data(), visited.data(), count, fanout, v,
                                            scratch.data()));
        id.insert(id.end(), visited.begin(), visited.begin() + taken.back());
        weight.insert(weight.end(), visits.begin(), visits.begin() + taken.back());
        indptr.push_back(static_cast<int64_t>(id.size()));
    }
    device_array<ggnn_node> nodes(targets), got(indptr.back() + 2);
    device_array<int64_t>   counts(n), starts(indptr), position(indptr.back() + 2);
    device_array<float>     got_weight(indptr.back() + 2);
    device_array<ggnn_rng>  key(&rng, 1);
    device_array<char>      workspace(
             static_cast<int64_t>(ggnni::hop_workspace_bytes(GGNN_WALK, fanout, how, n + 4)));
    device_count   size(n, n + 4);
    ggnni::hop_job job = {};
    job.g = g.device;
    job.method = GGNN_WALK;
    job.fanout = fanout;
    job.hop = HOP;
    job.rng = key.at();
    job.target = nodes.at();
    job.num_dst = size.get();
    job.indptr = starts.at();
    job.id = got.at();
    job.position = position.at();
    job.weight = got_weight.at();
    job.max_edges = indptr.back();
    job.walk = how;
    job.workspace = workspace.at();
    got.fill(0x5b);
    position.fill(0x5b);
    got_weight.fill(0x5b);
    CHECK_CUDA(ggnni::count_hop(job, counts.at(), nullptr));
    CHECK_CUDA(ggnni::sample_hop(job, nullptr));
    check_equal(counts.values(), taken, taken.size(), "count", GGNN_WALK, fanout);
    check_equal(got.values(), id, id.size(), "id", GGNN_WALK, fanout);
    check_equal(got_weight.values(), weight, weight.size(), "visits", GGNN_WALK, fanout);
    check_equal(position.values(), std::vector<int64_t>(id.size(), -1), id.size(), "position", GGNN_WALK,
                fanout);
    CHECK_EQ(got.values().back() & 0xff, 0x5b);
}

TEST(a_hop_of_walks_equals_ggnn_hs)
{
    std::vector<int64_t> degree;
    for (int i = 0; i < 60; i++) degree.push_back(i == 9 ? 300 : test_below(8));
    for (layout_kind kind : {PLAIN, BOUND}) {
        if (few_trials() && kind == PLAIN) continue;
        twin_graph g(degree);
        g.spread(kind);
        for (int32_t fanout : {-1, 0, 1, 5, 100}) {
            compare_walk_hop(g, {4, 3, 0.5f}, fanout);
            if (!few_trials() || fanout == 5) compare_walk_hop(g, {20, 5, 0.2f}, fanout);
        }
        compare_walk_hop(g, {300, 4, 0.2f}, 10); // in the workspace
        compare_walk_hop(g, {0, 4, 0.2f}, 10);
    }
    for (int nodes : {63, 64, 65}) { // as many bits as an id needs, and one
        twin_graph around(std::vector<int64_t>(static_cast<size_t>(nodes), 3));
        for (size_t e = 0; e < around.indices.size(); e++)
            if (e % 2) around.indices[e] = static_cast<ggnn_node>(nodes - 1);
        around.spread(PLAIN);
        for (int32_t walks : {4, 20, 90, 300}) compare_walk_hop(around, {walks, 4, 0.2f}, 9);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(20);
    if (!device_present()) return finish_without_device();
    RUN(every_method_equals_ggnn_h_at_every_fanout);
    RUN(methods_that_share_a_row_among_threads_take_every_fanout);
    RUN(lists_that_are_sampled_are_counted_where_they_lie);
    RUN(workspaces_have_the_sizes_that_are_told);
#ifdef SIMT_SHIM
    if (!few_trials()) RUN(a_large_device_has_no_more_lists_in_work_than_the_workspace_is_for);
#endif
    RUN(sampling_leaves_the_graph_as_it_is);
    RUN(long_offsets_give_the_same_samples);
    RUN(lists_of_more_than_32_bits_are_sampled_over_their_whole_length);
    RUN_SLOW(kernels_go_on_where_there_are_more_rows_than_resident_blocks);
#ifdef SIMT_SHIM
    RUN(a_block_places_one_span_of_rows_after_another);
#endif
    RUN(sizes_at_the_edges_of_tiles_and_bounds);
    RUN(a_size_above_its_bound_is_cut_to_it);
    RUN(graphs_over_parts_host_and_cache_give_the_same_samples);
    RUN(reservoirs_of_more_slots_than_shared_memory_take_several_passes);
    RUN(weighted_buffers_that_fill_are_sorted_and_go_on);
    RUN(equal_weights_give_the_samples_of_ggnn_h);
    RUN(of_equal_keys_the_smaller_position_wins);
    RUN(lists_without_enough_weight_give_what_they_have);
    RUN(a_weight_that_is_none_is_reported_and_its_list_left_out);
    RUN(broken_lists_and_nodes_out_of_range_have_no_edges);
    RUN(what_lies_behind_the_last_node_and_edge_is_not_read);
    RUN(a_list_longer_than_the_graph_is_broken);
    RUN(neighbours_out_of_range_become_the_target);
    RUN(nothing_is_written_where_there_is_no_room);
    RUN(no_node_has_no_row_wherever_rows_would_begin);
    RUN(rows_of_equal_length_need_no_scan);
    RUN(arguments_that_ggnn_h_would_refuse_are_refused);
    RUN(fisher_yates_in_registers_follows_the_longest_chains);
    RUN(path_doubling_follows_the_longest_chains);
    RUN(path_doubling_of_equal_and_of_dense_draws);
    RUN(path_doubling_of_as_many_draws_as_threads_ends_at_the_last);
    RUN(walks_equal_ggnn_hs);
    RUN(walks_restart_below_the_chance_and_not_at_it);
    RUN(walks_from_nodes_out_of_range_are_none);
    RUN(walks_report_what_is_broken_and_go_on);
    RUN(neighbours_by_visits_equal_ggnn_hs);
    RUN(a_hop_of_walks_equals_ggnn_hs);
    return test_finish();
}
