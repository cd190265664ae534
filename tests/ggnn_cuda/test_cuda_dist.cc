// test_cuda_dist.cc - a store over devices in one call ([7b] of ggnn_cuda.cuh, by [6] of ggnn_plan.h): each device reads the
// rows and samples the batches of one array, from where the plan puts them; a failure is one of all, and leaves nothing.
#include "ggnn_plan.h"
#include "ggnn_cuda.cuh"
#include "tests/cuda_peers.h"
#include "tests/random_graph.h"

#include <signal.h>
#include <thread>

enum { WIDTH = 5, PARTS = 8, SEEDS = 20, HOPS = 2, NO_NODES = 39, MANY = 40, CASES = 43 };

static int devices()
{
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

// ---- a data set, which every process makes anew from its number ---------------------------------------------------

struct world {
    random_graph*          g;
    std::vector<float>     table;
    std::vector<ggnn_node> rank;
    std::vector<char>      workspace;
    ggnn_dist_data         from = {};
    ggnn_dist              plan = {};

    explicit world(int number, int32_t parts = 0)
    {
        static const double ratio[] = {0, 1, .3, .61, .05};
        const uint64_t      kept = test_state;
        test_state = static_cast<uint64_t>(number) * 77 + 5;
        const int64_t pitch = WIDTH + test_below(2) * 3, small = test_below(4) == 0;
        const int64_t n = number == NO_NODES ? 0 : number >= MANY ? 20000 : small ? 1 + test_below(9) : 50 + test_below(200);
        g = random_graph_new(n, n > 1 ? 3 : 0, n > 1 ? 30 : 0);
        for (int64_t i = 0; i < n * pitch; i++) table.push_back(test_uniform());
        from.graph = g->graph;
        if (test_below(2)) from.graph.whole.weight = nullptr;
        from.rows = ggnn_store_plain(table.data(), n, WIDTH, GGNN_F32);
        from.rows.pitch = pitch * 4;
        from.graph_ratio = ratio[number % 5];
        from.feature_ratio = number >= MANY ? .9 : ratio[number / 5 % 5];
        from.parts = parts ? parts : 1 + static_cast<int32_t>(test_below(PARTS));
        if (number >= MANY) from.parts = 1; // a part of more nodes than are sent at a time
        rank.resize(static_cast<size_t>(n));
        std::vector<ggnn_node> order(rank.size());
        ggnn_rank_random(rank.data(), order.data(), 3, n);
        if (number % 3 == 1) from.rank = rank.data();
        from.by_id = number % 3 == 2;
        workspace.resize(ggnn_dist_bytes(n, from.parts));
        CHECK_EQ(ggnn_dist_plan(&plan, &from, workspace.data(), nullptr), GGNN_OK);
        test_state = kept;
    }
    world(const world&) = delete;
    ~world() { random_graph_free(g); }
};

// ---- what a device reads -------------------------------------------------------------------------------------------

static bool same_counts(const int64_t* device, const ggnn_layout& at, const std::vector<ggnn_node>& read)
{
    std::vector<int64_t> want(static_cast<size_t>(at.parts) + 2, 0);
    for (ggnn_node v : read) want[static_cast<size_t>(ggnn_locate(&at, v).slot)]++;
    return same(device, want.data(), at.parts + 2);
}

static bool reads_rows(const world& w, const ggnn_cuda_dist& d)
{
    const int64_t          n = w.g->num_nodes;
    std::vector<ggnn_node> id;
    std::vector<float>     want;
    for (int64_t v = n - 1; v >= 0; v--) id.push_back(static_cast<ggnn_node>(v));
    for (ggnn_node v : id)
        for (int64_t j = 0; j < WIDTH; j++) want.push_back(w.table[static_cast<size_t>(v * w.from.rows.pitch / 4 + j)]);
    device_array<ggnn_node> ids(id);
    device_array<float>     out(n * WIDTH);
    return ggnn_cuda_gather(out.at(), WIDTH, GGNN_F32, &d.rows, ids.at(), {nullptr, n}, nullptr) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess && same(out, want.data(), n * WIDTH) && same_counts(d.rows.traffic, w.plan.rows.at, id);
}

static bool samples(const world& w, const ggnn_cuda_dist& d, int32_t fan)
{
    const int32_t          fanout[HOPS] = {fan, fan};
    const ggnn_rng         rng = {5, 2, GGNN_PURPOSE_SAMPLE};
    ggnn_sampling          how = ggnn_sampling_plain(w.from.graph.whole.weight ? GGNN_WEIGHTED : GGNN_FISHER_YATES, fanout, HOPS);
    std::vector<ggnn_node> seed, read;
    ggnn_batch             whole;
    ggnn_cuda_batch        batch;
    for (int i = 0; i < SEEDS; i++) seed.push_back(static_cast<ggnn_node>(i * 7 % w.g->num_nodes));
    how.keep = GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS;
    if (ggnn_batch_new(&whole, &w.from.graph, &how, SEEDS) != GGNN_OK) return false;
    bool good = ggnn_sample(&whole, &w.from.graph, &rng, seed.data(), SEEDS) == GGNN_OK;
    for (int h = 0; h < HOPS; h++) read.insert(read.end(), whole.id, whole.id + *whole.hop[h].num_dst.n);
    good = good && ggnn_cuda_batch_plan(&batch, &d.graph, &how, SEEDS, nullptr) == GGNN_OK;
    device_array<char>      memory(static_cast<int64_t>(batch.bytes));
    device_array<ggnn_node> seeds(seed);
    device_array<ggnn_rng>  key(std::vector<ggnn_rng>{rng});
    good = good && cudaMemset(d.graph.traffic, 0, static_cast<size_t>(w.from.parts + 2) * 8) == cudaSuccess;
    good = good && ggnn_cuda_batch_init(&batch, memory.at(), nullptr) == cudaSuccess &&
           ggnn_cuda_sample(&batch, &d.graph, key.at(), seeds.at(), {nullptr, SEEDS}, nullptr) == cudaSuccess &&
           cudaDeviceSynchronize() == cudaSuccess && same_batch(whole, batch, HOPS) && same_counts(d.graph.traffic, w.plan.graph.at, read);
    ggnn_batch_free(&whole);
    return good;
}

// Part p's device, which is current.
static bool reads_all(const world& w, const ggnn_cuda_dist& d, int32_t p)
{
    if (!CHECK_EQ(d.part_bytes, w.plan.part[p].bytes)) return false;
    if (w.g->num_nodes == 0) return true;
    return CHECK(reads_rows(w, d)) && CHECK(samples(w, d, 3)) && CHECK(samples(w, d, -1));
}

static bool failed_with(cudaError_t error, cudaError_t expected, const ggnn_cuda_fault& fault, const char* what)
{
    return CHECK_EQ(error, expected) && CHECK_STR(fault.what ? fault.what : "", what);
}

// One peer from opening to closing.
static bool lives_as_peer(const world& w, void* shared, int32_t self)
{
    ggnn_cuda_dist  d;
    ggnn_cuda_fault fault = {"of before", 7, 7, 7};
    bool            good = cudaSetDevice(self % devices()) == cudaSuccess;
    good = good && ggnn_cuda_dist_open(&d, &w.from, nullptr, shared, self, &fault) == cudaSuccess && !fault.what;
    if (!good) printf("  peer %d: %s\n", self, fault.what ? fault.what : "failed");
    good = good && reads_all(w, d, self) && ggnn_cuda_peers_check(&d.peers, &fault) == cudaSuccess;
    return ggnn_cuda_dist_close(&d, 1, &fault) == cudaSuccess && !fault.what && good;
}

// ---- tests -----------------------------------------------------------------------------------------------------------

static std::vector<int> some_devices(int32_t parts, int of)
{
    std::vector<int> device;
    for (int32_t p = 0; p < parts; p++) device.push_back(p % of);
    return device;
}

TEST(one_thread_reads_one_array_on_each_device)
{
    for (int number = 0; number < CASES; number += few_trials() ? 3 : 1) {
        const world                 w(number);
        const int32_t               parts = w.from.parts;
        const std::vector<int>      device = some_devices(parts, number % 4 ? devices() : 1); // several parts lie on one
        std::vector<ggnn_cuda_dist> d(static_cast<size_t>(parts));
        ggnn_cuda_fault             fault;
        int                         current = -1;
        const int                   before = test_errors;
        CHECK_CUDA(cudaSetDevice(0));
        CHECK_CUDA(ggnn_cuda_dist_open(d.data(), &w.from, device.data(), nullptr, 0, &fault));
        CHECK(cudaGetDevice(&current) == cudaSuccess && current == 0 && !fault.what);
        for (int32_t p = 0; p < parts && test_errors == before; p++) {
            CHECK_CUDA(cudaSetDevice(device[static_cast<size_t>(p)]));
            reads_all(w, d[static_cast<size_t>(p)], p);
        }
        CHECK_CUDA(cudaSetDevice(0));
        CHECK_CUDA(ggnn_cuda_dist_close(d.data(), parts, &fault));
        CHECK_CUDA(ggnn_cuda_dist_close(d.data(), parts, nullptr)); // once more: nothing
        CHECK(cudaGetDevice(&current) == cudaSuccess && current == 0);
        if (test_errors > before) printf("  data set %d, %d parts\n", number, parts);
    }
}

TEST(threads_read_one_array_on_each_device)
{
    for (int number = 0; number < MANY; number += few_trials() ? 7 : 2) {
        const world              w(number);
        peers_memory             shared(w.from.parts, 1);
        std::vector<std::thread> threads;
        bool                     good[PARTS] = {};
        for (int32_t self = 0; self < w.from.parts; self++)
            threads.emplace_back([&, self] { good[self] = lives_as_peer(w, shared.at, self); });
        for (std::thread& t : threads) t.join();
        for (int32_t self = 0; self < w.from.parts; self++)
            if (!CHECK(good[self])) printf("  data set %d, peer %d of %d\n", number, self, w.from.parts);
    }
}

TEST(processes_read_one_array_on_each_device)
{
    for (int number : {2, 6, 13, 18, static_cast<int>(NO_NODES)}) {
        const int32_t      parts = number == 18 ? PARTS : 3;
        peers_memory       shared(parts, 1);
        std::vector<pid_t> child;
        for (int32_t self = 0; self < parts; self++) child.push_back(start(shared, "lives" + std::to_string(number), parts, self));
        for (pid_t c : child) CHECK_EQ(status_of(c), 0);
    }
}

// Peers that give other ratios, other numbers of parts, or no ratio at all: all hear of it.
TEST(peers_that_differ_or_fail_end_all_of_them)
{
    for (int broken = 0; broken < 2; broken++) {
        world                    w(12, 3), other(12, 3);
        peers_memory             shared(3, 1);
        std::vector<std::thread> threads;
        cudaError_t              error[3];
        ggnn_cuda_fault          fault[3] = {};
        other.from.feature_ratio = broken ? 1.5 : .9;
        for (int32_t self = 0; self < 3; self++)
            threads.emplace_back([&, self] {
                ggnn_cuda_dist d;
                cudaSetDevice(self % devices());
                error[self] = ggnn_cuda_dist_open(&d, self == 1 ? &other.from : &w.from, nullptr, shared.at, self, &fault[self]);
                CHECK(!d.part && !d.tables && !d.peers.shared);
            });
        for (std::thread& t : threads) t.join();
        if (broken) failed_with(error[1], cudaErrorInvalidValue, fault[1], "a ratio is outside [0, 1]");
        for (int32_t self = 0; self < 3; self++) {
            CHECK(error[self] != cudaSuccess && fault[self].what);
            if (broken && self != 1) CHECK(error[self] == cudaErrorIllegalState && fault[self].peer == 1);
        }
        if (!broken) failed_with(error[1], cudaErrorInvalidValue, fault[1], "a peer's part has another size: its data, ratios or ranking differ");
    }
}

// A process that is killed while the others open or read: they are told, and end.
TEST(a_killed_peer_is_an_error_of_the_others)
{
    const world     w(12, 2);
    peers_memory    shared(2, 1);
    ggnn_cuda_dist  d;
    ggnn_cuda_fault fault;
    const pid_t     child = start(shared, "victim12", 2, 1);
    CHECK_CUDA(cudaSetDevice(0));
    if (CHECK_CUDA(ggnn_cuda_dist_open(&d, &w.from, nullptr, shared.at, 0, &fault))) {
        CHECK_EQ(status_of(child), 128 + SIGKILL);
        failed_with(ggnn_cuda_peers_check(&d.peers, &fault), cudaErrorIllegalState, fault, "a peer has ended without closing");
        CHECK_EQ(ggnn_cuda_dist_close(&d, 1, &fault), cudaErrorIllegalState);
        CHECK_EQ(fault.peer, 1);
    }
    peers_memory again(2, 1);
    ggnn_cuda_peers_give_up(again.at, 1);
    CHECK_EQ(ggnn_cuda_dist_open(&d, &w.from, nullptr, again.at, 0, &fault), cudaErrorIllegalState);
    CHECK_EQ(fault.peer, 1);
}

// Arrays that cannot be pinned are copied; those that the caller has pinned stay so.
TEST(the_host_tier_is_pinned_in_place_or_copied)
{
    const world     w(22, 2); // some of both kinds
    const int       device[] = {0, 0};
    ggnn_cuda_dist  d[2];
    const int64_t   bytes = w.g->num_nodes * w.from.rows.pitch;
    void* const     rows = const_cast<float*>(w.table.data());
    CHECK_CUDA(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, nullptr));
    CHECK(d[0].registered[3] == rows && d[0].copied_bytes == 0 && !d[1].registered[3]);
    CHECK_CUDA(ggnn_cuda_dist_close(d, 2, nullptr));
    CHECK_CUDA(cudaHostRegister(rows, static_cast<size_t>(bytes), cudaHostRegisterMapped)); // it was given back
    CHECK_CUDA(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, nullptr));
    CHECK(!d[0].registered[3] && d[0].registered[0] && d[0].copied_bytes == 0);
    CHECK(reads_all(w, d[0], 0) && reads_all(w, d[1], 1));
    CHECK_CUDA(ggnn_cuda_dist_close(d, 2, nullptr));
    CHECK_CUDA(cudaHostUnregister(rows));
#ifdef SIMT_SHIM
    CHECK_CUDA(cudaHostRegister(rows, static_cast<size_t>(bytes) / 2, cudaHostRegisterMapped)); // of two arrays, one page
    CHECK_CUDA(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, nullptr));
    CHECK_EQ(d[0].copied_bytes, bytes);
    CHECK(reads_all(w, d[0], 0));
    CHECK_CUDA(ggnn_cuda_dist_close(d, 2, nullptr));
    CHECK_CUDA(cudaHostUnregister(rows));
    const size_t before = simt_live_allocations();
    simt_refuse_pinning(true);
    CHECK_CUDA(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, nullptr));
    const ggnn_csc& all = w.from.graph.whole;
    CHECK_EQ(d[0].copied_bytes, bytes + (w.g->num_nodes + 1) * 8 + w.g->num_edges * static_cast<int64_t>(sizeof(ggnn_node) + (all.weight ? 4 : 0)));
    CHECK(reads_all(w, d[0], 0) && reads_all(w, d[1], 1));
    CHECK_CUDA(ggnn_cuda_dist_close(d, 2, nullptr));
    simt_refuse_pinning(false);
    CHECK_EQ(simt_live_allocations(), before);
#endif
}

TEST(ratios_of_one_pin_nothing_and_by_id_needs_no_table)
{
    const world    w(6); // both ratios are 1
    const int      device[PARTS] = {};
    ggnn_cuda_dist d[PARTS];
    CHECK_CUDA(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, nullptr));
    const int64_t slots = w.from.parts + 2, tables = slots * static_cast<int64_t>(sizeof(ggnn_csc) + 3 * 8);
    for (void* array : d[0].registered) CHECK(!array);
    CHECK(d[0].table_bytes == tables && !d[0].graph.at.rank && !d[0].rows.at.rank);
    CHECK_CUDA(ggnn_cuda_dist_close(d, w.from.parts, nullptr));
    const world half(12, 3); // by degree: one table for both kinds
    CHECK_CUDA(ggnn_cuda_dist_open(d, &half.from, device, nullptr, 0, nullptr));
    CHECK_EQ(d[0].table_bytes, 5 * static_cast<int64_t>(sizeof(ggnn_csc) + 24) + (half.g->num_nodes * static_cast<int64_t>(sizeof(ggnn_node)) + 7) / 8 * 8);
    CHECK(d[0].graph.at.rank && d[0].graph.at.rank == d[0].rows.at.rank);
    CHECK_CUDA(ggnn_cuda_dist_close(d, 3, nullptr));
}

#ifdef SIMT_SHIM
// Peer 1 reads both others, which have no link: it fails with them.
TEST(a_store_that_one_peer_cannot_read_is_open_to_none)
{
    const world              w(12, 3);
    peers_memory             shared(3, 1);
    std::vector<std::thread> threads;
    cudaError_t              error[3];
    ggnn_cuda_fault          fault[3] = {};
    simt_link(3, 5, false);
    for (int32_t self = 0; self < 3; self++)
        threads.emplace_back([&, self] {
            ggnn_cuda_dist d;
            cudaSetDevice(3 + self);
            error[self] = ggnn_cuda_dist_open(&d, &w.from, nullptr, shared.at, self, &fault[self]);
        });
    for (std::thread& t : threads) t.join();
    simt_link(3, 5, true);
    CHECK(error[1] == cudaErrorIllegalState && fault[1].peer != 1 && fault[1].peer >= 0);
    CHECK(error[0] == cudaErrorPeerAccessUnsupported || error[2] == cudaErrorPeerAccessUnsupported);
    CHECK(error[0] != cudaSuccess && error[2] != cudaSuccess);
}

TEST(whatever_allocation_or_link_fails_nothing_is_left)
{
    const world     w(12, 3);
    const int       device[] = {0, 1, 2};
    ggnn_cuda_dist  d[3];
    ggnn_cuda_fault fault;
    const size_t    before = simt_live_allocations();
    int             failures = 0;
    for (;; failures++) {
        simt_fail_allocation(failures + 1);
        const cudaError_t error = ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, &fault);
        simt_fail_allocation(0);
        if (error == cudaSuccess) break;
        CHECK(error == cudaErrorMemoryAllocation && fault.what && cudaPeekAtLastError() == cudaSuccess);
        CHECK_EQ(simt_live_allocations(), before);
    }
    CHECK_EQ(failures, 6); // a part and the tables of each
    CHECK_CUDA(ggnn_cuda_dist_close(d, 3, &fault));
    CHECK_EQ(simt_live_allocations(), before);
    simt_link(3, 5, false);
    const int apart[] = {3, 4, 5};
    failed_with(ggnn_cuda_dist_open(d, &w.from, apart, nullptr, 0, &fault), cudaErrorPeerAccessUnsupported, fault, "two devices have no link");
    CHECK(fault.from == 3 && fault.to == 5);
    CHECK_EQ(simt_live_allocations(), before);
    simt_link(3, 5, true);
}
#endif

TEST(what_is_no_store_is_refused_with_its_reason)
{
    static const char* const which = "not d, data, and device or shared alone";
    world           w(12, 3);
    const int       device[] = {0, 0, 0};
    ggnn_cuda_dist  d[3];
    ggnn_cuda_fault fault;
    peers_memory    shared(3, 1);
    failed_with(ggnn_cuda_dist_open(nullptr, &w.from, device, nullptr, 0, &fault), cudaErrorInvalidValue, fault, which);
    failed_with(ggnn_cuda_dist_open(d, nullptr, device, nullptr, 0, &fault), cudaErrorInvalidValue, fault, which);
    failed_with(ggnn_cuda_dist_open(d, &w.from, nullptr, nullptr, 0, &fault), cudaErrorInvalidValue, fault, which);
    failed_with(ggnn_cuda_dist_open(d, &w.from, device, shared.at, 0, &fault), cudaErrorInvalidValue, fault, which);
    failed_with(ggnn_cuda_dist_open(d, &w.from, nullptr, shared.at, 3, &fault), cudaErrorInvalidValue, fault,
                "no such peer, or it has joined already or was given up");
    CHECK_EQ(ggnn_cuda_dist_open(d, &w.from, nullptr, shared.at, -1, nullptr), cudaErrorInvalidValue);
    for (int32_t parts : {0, static_cast<int32_t>(GGNN_CUDA_PARTS_MAX) + 1}) {
        w.from.parts = parts;
        failed_with(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, &fault), cudaErrorInvalidValue, fault, "parts are not 1 to GGNN_CUDA_PARTS_MAX");
    }
    w.from.parts = 3;
    w.from.graph_ratio = -1;
    failed_with(ggnn_cuda_dist_open(d, &w.from, device, nullptr, 0, &fault), cudaErrorInvalidValue, fault, "a ratio is outside [0, 1]");
    CHECK_EQ(ggnn_cuda_dist_close(nullptr, 1, nullptr), cudaErrorInvalidValue);
    CHECK_CUDA(ggnn_cuda_dist_close(nullptr, 0, &fault));
    CHECK_EQ(cudaPeekAtLastError(), cudaSuccess);
}

static int be_peer(char** argument)
{
    const std::string what = argument[1];
    const int32_t     parts = atoi(argument[2]), self = atoi(argument[3]);
    void*             shared = peers_memory::map(atoi(argument[0]), parts, 1);
    const bool        dies = what[0] == 'v';
    const world       w(atoi(what.c_str() + (dies ? 6 : 5)), parts);
    ggnn_cuda_dist    d;
    if (!dies) return lives_as_peer(w, shared, self) && !test_errors ? 0 : 1;
    if (ggnn_cuda_dist_open(&d, &w.from, nullptr, shared, self, nullptr) == cudaSuccess) raise(SIGKILL);
    return 2;
}

int main(int argc, char** argv)
{
    setenv("SIMT_DEVICES", "8", 0);
    test_current = "dist";
    if (argc == 6 && strcmp(argv[1], "--peer") == 0) return be_peer(argv + 2);
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(7);
    if (!device_present()) return finish_without_device();
    RUN(one_thread_reads_one_array_on_each_device);
    RUN(threads_read_one_array_on_each_device);
    RUN(processes_read_one_array_on_each_device);
    RUN(peers_that_differ_or_fail_end_all_of_them);
    RUN(a_killed_peer_is_an_error_of_the_others);
    RUN(the_host_tier_is_pinned_in_place_or_copied);
    RUN(ratios_of_one_pin_nothing_and_by_id_needs_no_table);
#ifdef SIMT_SHIM
    RUN(a_store_that_one_peer_cannot_read_is_open_to_none);
    RUN(whatever_allocation_or_link_fails_nothing_is_left);
#endif
    RUN(what_is_no_store_is_refused_with_its_reason);
    return test_finish();
}
