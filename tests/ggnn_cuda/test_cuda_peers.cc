// test_cuda_peers.cc - [7b] PEERS of ggnn_cuda.cuh: parts that threads and processes lend each other hold one array's rows
// and lists; links that are missing and peers that died are errors that name them. On a machine with one GPU all peers have
// the same one; the emulator has eight.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include "tests/cuda_peers.h"
#include "tests/owners.h"

#include <algorithm>
#include <chrono>
#include <signal.h>
#include <thread>

enum { NODES = 150, WIDTH = 6, SEEDS = 24, LOANS = 6, ROWS = 0, LISTS = 1, COPY = 5 };

static int devices()
{
    int n = 0;
    return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

static int last_device() { return devices() > 2 ? 2 : devices() - 1; } // of the first three

// Whether `what` went wrong as expected.
static bool failed_with(cudaError_t error, cudaError_t expected, const ggnn_cuda_fault& fault, int32_t peer, const char* what = nullptr)
{
    return error == expected && fault.what && fault.peer == peer && (!what || strcmp(fault.what, what) == 0);
}
static const char *const ENDED = "a peer has ended without closing", *const CLOSED = "a peer has closed already",
                  *const NO_LINK = "two devices have no link";

// ---- the world: a graph and rows that every process makes anew --------------------------------------------

struct world {
    random_graph* g;
    float         table[NODES * WIDTH];
    owned*        o;
    ggnn_node     seeds[SEEDS];
    ggnn_batch    whole; // the host's batch of the whole graph

    world(int kind, int32_t parts)
    {
        const ggnn_rng    rng = draws();
        ggnn_sampling     how = sampling();
        const uint64_t    kept = test_state;
        test_state = static_cast<uint64_t>(kind * OWNED_PARTS + parts);
        g = random_graph_new(NODES, 4, 30);
        for (float& x : table) x = test_uniform();
        o = owned_by(static_cast<owned_kind>(kind), parts, g, table, WIDTH);
        for (ggnn_node& v : seeds) v = static_cast<ggnn_node>(test_below(NODES));
        test_state = kept;
        ggnn_batch_plan(&whole, &g->graph, &how, SEEDS, nullptr);
        ggnn_batch_init(&whole, owned_new(static_cast<int64_t>(whole.bytes)));
        ggnn_sample(&whole, &g->graph, &rng, seeds, SEEDS);
    }
    world(const world&) = delete;
    ~world()
    {
        free(whole.workspace);
        owned_free(o);
        random_graph_free(g);
    }
    static ggnn_sampling sampling()
    {
        const int32_t fanout[] = {3, 2};
        ggnn_sampling how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 2);
        how.keep = GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS;
        return how;
    }
    static ggnn_rng draws() { return {5, 2, GGNN_PURPOSE_SAMPLE}; }
};

// ---- what a peer does: lends its part, reads all --------------------------------------------------------------

enum { LEAD = 8 }; // rows do not begin where their allocation does

struct lent_part { // in this peer's device
    device_array<float>     rows, weight;
    device_array<int64_t>   indptr, first;
    device_array<ggnn_node> indices;

    lent_part(const owned* o, int32_t p)
        : rows(led(static_cast<const float*>(o->base[p]), o->rows[p] * WIDTH)), weight(o->part[p].weight, o->part[p].num_edges),
          indptr(o->part[p].indptr, o->rows[p] + 1), first(o->part[p].first, o->rows[p]),
          indices(o->part[p].indices, o->part[p].num_edges)
    {
    }
    cudaError_t lend(const ggnn_cuda_peers* p) const
    {
        const ggnn_csc lists = {indptr.at(), first.at(), indices.at(), weight.at(), indices.count()};
        const size_t   bytes = static_cast<size_t>(rows.count() - LEAD) * sizeof(float);
        cudaError_t    error = ggnn_cuda_peers_lend(p, ROWS, rows.at(), LEAD * sizeof(float), bytes);
        return ggnni::first_error(error, ggnn_cuda_peers_lend_lists(p, LISTS, &lists, indptr.count() - 1));
    }
    static std::vector<float> led(const float* from, int64_t n)
    {
        std::vector<float> all(static_cast<size_t>(LEAD + n), -1.0f);
        if (n) memcpy(&all[LEAD], from, static_cast<size_t>(n) * sizeof(float));
        return all;
    }
};

class pinned_copy { // the host tier, as a device reads it
public:
    template <class T> const T* add(const T* from, int64_t n)
    {
        void* to = nullptr;
        if (cudaMallocHost(&to, static_cast<size_t>(n) * sizeof(T)) != cudaSuccess) return nullptr;
        memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
        all.push_back(to);
        return static_cast<const T*>(to);
    }
    pinned_copy() = default;
    pinned_copy(const pinned_copy&) = delete;
    ~pinned_copy()
    {
        for (void* p : all) cudaFreeHost(p);
    }

private:
    std::vector<void*> all;
};

static bool same_traffic(const world& w, const device_array<int64_t>& lists, const device_array<int64_t>& rows)
{
    int64_t want_lists[OWNED_PARTS + 2] = {}, want_rows[OWNED_PARTS + 2] = {};
    for (int h = 0; h < 2; h++) owned_count(w.o, want_lists, w.whole.id, *w.whole.hop[h].num_dst.n);
    owned_count(w.o, want_rows, w.whole.id, *w.whole.hop[1].num_src.n);
    return same(lists, want_lists, w.o->parts + 2) && same(rows, want_rows, w.o->parts + 2);
}

// Samples and gathers through tables of pointers: the bits of the whole arrays, read where the owners are.
static bool reads_all(const world& w, const void** base, ggnn_csc* part)
{
    const int32_t parts = w.o->parts;
    const int64_t n = *w.whole.hop[1].num_src.n;
    pinned_copy   host;
    base[parts] = host.add(w.table, NODES * WIDTH);
    part[parts] = {host.add(w.g->indptr, NODES + 1), nullptr, host.add(w.g->indices, w.g->num_edges),
                   host.add(w.g->weight, w.g->num_edges), w.g->num_edges};
    base[parts + 1] = nullptr;
    part[parts + 1] = {nullptr, nullptr, nullptr, nullptr, 0};
    device_array<const void*> bases(base, parts + 2);
    device_array<ggnn_csc>    lists(part, parts + 2);
    device_array<ggnn_node>   rank(w.o->rank, w.o->at.rank ? NODES : 0), seeds(w.seeds, SEEDS);
    device_array<int64_t>     bound(w.o->bound, parts + 1), list_traffic(parts + 2), row_traffic(parts + 2);
    device_array<ggnn_rng>    rng(std::vector<ggnn_rng>{world::draws()});
    device_array<float>       out(n * WIDTH);
    ggnn_graph                g = w.g->graph;
    ggnn_store                from = {WIDTH, GGNN_F32, WIDTH * 4, nullptr, bases.at(), w.o->at, row_traffic.at()};
    ggnn_sampling             how = world::sampling();
    ggnn_cuda_batch           batch;
    list_traffic.fill(0);
    row_traffic.fill(0);
    from.at.rank = rank.at();
    from.at.bound = w.o->at.bound ? bound.at() : nullptr;
    g.whole = {};
    g.part = lists.at();
    g.at = from.at;
    g.traffic = list_traffic.at();
    if (ggnn_cuda_batch_plan(&batch, &g, &how, SEEDS, nullptr) != GGNN_OK) return false;
    device_array<char> memory(static_cast<int64_t>(batch.bytes));
    cudaError_t        error = ggnn_cuda_batch_init(&batch, memory.at(), nullptr);
    error = ggnni::first_error(error, ggnn_cuda_sample(&batch, &g, rng.at(), seeds.at(), {nullptr, SEEDS}, nullptr));
    error = ggnni::first_error(error, ggnn_cuda_gather(out.at(), WIDTH, GGNN_F32, &from, batch.id, batch.hop[1].num_src, nullptr));
    if (ggnni::first_error(error, cudaDeviceSynchronize()) != cudaSuccess || !same_batch(w.whole, batch, 2)) return false;
    std::vector<float> want(static_cast<size_t>(n * WIDTH));
    for (int64_t i = 0; i < n; i++) memcpy(&want[static_cast<size_t>(i * WIDTH)], w.table + w.whole.id[i] * WIDTH, WIDTH * 4);
    return same(out, want.data(), n * WIDTH) && same_traffic(w, list_traffic, row_traffic);
}

// One peer from joining to closing.
static bool lives_as_peer(const world& w, void* shared, int32_t self)
{
    const int32_t    parts = w.o->parts;
    ggnn_cuda_peers  p;
    ggnn_cuda_fault  fault = {};
    ggnn_cuda_source source[OWNED_PARTS], lists[OWNED_PARTS];
    const void*      base[OWNED_PARTS + 2];
    ggnn_csc         part[OWNED_PARTS + 2];
    bool             good = cudaSetDevice(self % devices()) == cudaSuccess;
    lent_part        own(w.o, self);
    for (int32_t q = 0; q < parts; q++) source[q] = {q, ROWS}, lists[q] = {q, LISTS};
    good = good && ggnn_cuda_peers_join(&p, shared, parts, self, LOANS) == cudaSuccess && own.lend(&p) == cudaSuccess;
    good = good && ggnn_cuda_peers_wait(&p, &fault) == cudaSuccess;
    good = good && ggnn_cuda_peers_rows(base, &p, source, parts, &fault) == cudaSuccess;
    const void* again[OWNED_PARTS + 2]; // what is borrowed once more lies where it did
    good = good && ggnn_cuda_peers_rows(again, &p, source, parts, &fault) == cudaSuccess && std::equal(base, base + parts, again);
    good = good && ggnn_cuda_peers_lists(part, &p, lists, parts, &fault) == cudaSuccess;
    for (int32_t q = 0; good && q < parts; q++) good = part[q].num_edges == w.o->part[q].num_edges;
    good = good && reads_all(w, base, part) && ggnn_cuda_peers_check(&p, &fault) == cudaSuccess;
    if (fault.what) printf("  peer %d: %s (peer %d, devices %d, %d)\n", self, fault.what, fault.peer, fault.from, fault.to);
    return (ggnn_cuda_peers_close(&p, &fault) == cudaSuccess) && good;
}

struct shared_memory : peers_memory {
    shared_memory() : peers_memory(OWNED_PARTS, LOANS) {}
    static void* map(int file) { return peers_memory::map(file, OWNED_PARTS, LOANS); }
};

// ---- tests ----------------------------------------------------------------------------------------------------

TEST(parts_of_threads_hold_the_rows_and_lists_of_one_array)
{
    for (int kind = 0; kind < OWNED_KINDS; kind++)
        for (int32_t parts = 1; parts <= OWNED_PARTS; parts += few_trials() ? 3 : 1) {
            world                    w(kind, parts);
            shared_memory            shared;
            std::vector<std::thread> threads;
            bool                     good[OWNED_PARTS] = {};
            for (int32_t self = 0; self < parts; self++)
                threads.emplace_back([&, self] { good[self] = lives_as_peer(w, shared.at, self); });
            for (std::thread& t : threads) t.join();
            for (int32_t self = 0; self < parts; self++)
                if (!CHECK(good[self])) printf("  owners of kind %d, peer %d of %d\n", kind, self, parts);
        }
}

TEST(parts_of_processes_hold_the_rows_and_lists_of_one_array)
{
    const int32_t of_kind[OWNED_KINDS] = {2, 3, 4, 2, 3, 8};
    for (int kind = 0; kind < OWNED_KINDS; kind += few_trials() ? 3 : 1) {
        shared_memory      shared;
        std::vector<pid_t> child;
        for (int32_t self = 0; self < of_kind[kind]; self++)
            child.push_back(start(shared, "lives" + std::to_string(kind), of_kind[kind], self));
        for (pid_t c : child) CHECK_EQ(status_of(c), 0);
    }
}

// A process with two threads beside one with a thread: addresses here, IPC there.
TEST(threads_and_processes_may_be_peers_of_each_other)
{
    world         w(BY_HASH, 3);
    shared_memory shared;
    bool          good[2] = {};
    const pid_t   child = start(shared, "lives" + std::to_string(BY_HASH), 3, 2);
    std::thread   threads[2];
    for (int self = 0; self < 2; self++)
        threads[self] = std::thread([&, self] { good[self] = lives_as_peer(w, shared.at, self); });
    for (std::thread& t : threads) t.join();
    CHECK(good[0] && good[1]);
    CHECK_EQ(status_of(child), 0);
}

#ifdef SIMT_SHIM
// Two pairs of devices, each pair linked: every pair has both parts, and reads its own copies.
static bool reads_its_pair(void* shared, int32_t self)
{
    ggnn_cuda_peers     p;
    ggnn_cuda_fault     fault = {};
    const int32_t       pair = self / 2 * 2, other = 2 - pair;
    const void*         base[2];
    cudaSetDevice(self);
    device_array<float>    mine(std::vector<float>(8, static_cast<float>(self)));
    const ggnn_cuda_source near[] = {{pair, COPY}, {pair + 1, COPY}}, far[] = {{pair, COPY}, {other, COPY}};
    bool good = ggnn_cuda_peers_join(&p, shared, 4, self, LOANS) == cudaSuccess &&
                ggnn_cuda_peers_lend(&p, COPY, mine.at(), 4, 28) == cudaSuccess &&
                ggnn_cuda_peers_wait(&p, &fault) == cudaSuccess && ggnn_cuda_peers_rows(base, &p, near, 2, &fault) == cudaSuccess;
    good = good && static_cast<const char*>(base[self % 2]) == reinterpret_cast<char*>(mine.at()) + 4;
    good = good && failed_with(ggnn_cuda_peers_rows(base, &p, far, 2, &fault), cudaErrorPeerAccessUnsupported, fault, other);
    good = good && fault.from == self && fault.to == other;
    return ggnn_cuda_peers_close(&p, &fault) == cudaSuccess && good;
}
TEST(sources_need_only_the_links_that_they_use)
{
    if (devices() < 4) SKIP("fewer than four devices");
    shared_memory shared;
    bool          good[4] = {};
    std::thread   threads[4];
    for (int a = 0; a < 2; a++)
        for (int b = 2; b < 4; b++) simt_link(a, b, false);
    for (int self = 0; self < 4; self++)
        threads[self] = std::thread([&, self] { good[self] = reads_its_pair(shared.at, self); });
    for (std::thread& t : threads) t.join();
    CHECK(good[0] && good[1] && good[2] && good[3]);
    for (int a = 0; a < 2; a++)
        for (int b = 2; b < 4; b++) simt_link(a, b, true);
}

TEST(devices_are_linked_all_or_none)
{
    if (devices() < 8) SKIP("fewer than eight devices");
    const int       all[] = {5, 6, 6, 7};
    ggnn_cuda_fault fault;
    int             device = -1;
    CHECK_EQ(cudaSetDevice(5), cudaSuccess);
    cudaDeviceDisablePeerAccess(6); // where another test has enabled it
    cudaGetLastError();
    CHECK_EQ(cudaSetDevice(2), cudaSuccess);
    simt_link(5, 7, false);
    CHECK(failed_with(ggnn_cuda_link(all, 4, &fault), cudaErrorPeerAccessUnsupported, fault, -1, NO_LINK));
    CHECK(fault.from == 5 && fault.to == 7);
    CHECK_EQ(cudaSetDevice(5), cudaSuccess);
    CHECK_EQ(cudaDeviceDisablePeerAccess(6), cudaErrorPeerAccessNotEnabled);
    CHECK_EQ(cudaSetDevice(2), cudaSuccess);
    simt_link(5, 7, true);
    cudaGetLastError();
    CHECK_EQ(ggnn_cuda_link(all, 4, &fault), cudaSuccess);
    CHECK(fault.what == nullptr && cudaPeekAtLastError() == cudaSuccess); // though 5 and 6 have been linked twice
    const int unknown[] = {5, 99};
    CHECK(failed_with(ggnn_cuda_link(unknown, 2, &fault), cudaErrorInvalidDevice, fault, -1, "peer access could not be enabled"));
    CHECK(fault.from == 5 && fault.to == 99);
    CHECK(cudaGetDevice(&device) == cudaSuccess && device == 2);
    CHECK_EQ(cudaSetDevice(7), cudaSuccess);
    CHECK_EQ(cudaDeviceEnablePeerAccess(5, 0), cudaErrorPeerAccessAlreadyEnabled);
    CHECK_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(a_missing_link_between_processes_is_named)
{
    if (devices() < 2) SKIP("one device");
    shared_memory shared;
    const pid_t   child[] = {start(shared, "unlinked", 2, 0), start(shared, "unlinked", 2, 1)};
    for (pid_t c : child) CHECK_EQ(status_of(c), 0);
}

// The pointer of another device's part, without a link, in a store's table.
TEST(a_read_over_a_missing_link_traps)
{
    if (devices() < 2) SKIP("one device");
    shared_memory shared;
    int           out[2];
    char          text[2048] = "";
    if (!CHECK(pipe(out) == 0)) return;
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        setenv("SIMT_LINKS", "none", 1);
        execl("/proc/self/exe", "peer", "--peer", "0", "trap", "1", "0", nullptr);
        _exit(127);
    }
    close(out[1]);
    for (ssize_t got = 1, n = 0; got > 0 && n < 2000; n += got) got = read(out[0], text + n, 2000 - static_cast<size_t>(n));
    close(out[0]);
    CHECK_EQ(status_of(child), 97);
    if (!CHECK(strstr(text, "memory of device 1: device 0 has no peer access to it, nor a link to device 1"))) printf("%s", text);
}
static int reads_without_a_link()
{
    const ggnn_node         ids[] = {0, 1};
    device_array<float>     near(4), out(2);
    device_array<ggnn_node> id(ids, 2);
    cudaSetDevice(1);
    device_array<float> far(4);
    cudaSetDevice(0);
    device_array<const void*> base(std::vector<const void*>{near.at(), far.at(), nullptr, nullptr});
    ggnn_store                from = {1, GGNN_F32, 4, nullptr, base.at(), {nullptr, 0, nullptr, nullptr, 4, 2}, nullptr};
    ggnn_cuda_gather(out.at(), 1, GGNN_F32, &from, id.at(), {nullptr, 2}, nullptr);
    return cudaDeviceSynchronize() == cudaSuccess;
}
#else
TEST(sources_need_only_the_links_that_they_use) { SKIP("only the emulator's links can be taken away"); }
TEST(devices_are_linked_all_or_none) { SKIP("only the emulator's links can be taken away"); }
TEST(a_missing_link_between_processes_is_named) { SKIP("only the emulator's links can be taken away"); }
TEST(a_read_over_a_missing_link_traps) { SKIP("only the emulator's links can be taken away"); }
static int reads_without_a_link() { return 1; }
#endif

// Waits until a process is dead, and leaves it a zombie, as an owner's own parent may.
static bool died(pid_t child)
{
    siginfo_t info = {};
    return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0 && info.si_code == CLD_KILLED;
}

// Peer 1 is killed with its loan open; peer 2, a process, and this one, peer 0, see it at their next call.
TEST(a_killed_owner_is_an_error_at_the_next_call)
{
    shared_memory          shared;
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault = {};
    const void*            base[1];
    const ggnn_cuda_source killed[] = {{1, COPY}};
    device_array<float>    mine(4);
    const pid_t            victim = start(shared, "victim", 3, 1), other = start(shared, "survivor", 3, 2);
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 3, 0, LOANS));
    CHECK_CUDA(ggnn_cuda_peers_lend(&p, COPY, mine.at(), 0, 16));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, killed, 1, &fault));
    CHECK_CUDA(ggnn_cuda_peers_check(&p, &fault));
    CHECK_EQ(kill(victim, SIGKILL), 0);
    CHECK(died(victim));
    CHECK(failed_with(ggnn_cuda_peers_check(&p, &fault), cudaErrorIllegalState, fault, 1, ENDED));
    CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, killed, 1, &fault), cudaErrorIllegalState, fault, 1, ENDED));
    CHECK(failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1));
    CHECK_EQ(status_of(victim), 128 + SIGKILL);
    CHECK(failed_with(ggnn_cuda_peers_close(&p, &fault), cudaErrorIllegalState, fault, 1));
    CHECK_EQ(status_of(other), 0);
}

// Its exit status within 20 s; -1: it is still there, and is killed.
static int status_in_time(pid_t child)
{
    int status = 0;
    for (int i = 0; i < 10000; i++) {
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
        for (int j = 0; j < 20; j++) ggnni::pause_for_peers();
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

TEST(a_kill_at_any_moment_leaves_nobody_waiting)
{
    double whole = 0; // seconds of a round without a kill, which is the first: on a GPU contexts take most of them
    for (int round = -1; round < trials(16); round++) {
        shared_memory shared;
        pid_t         child[3];
        const int     victim = static_cast<int>(test_below(3));
        const auto    begin = std::chrono::steady_clock::now();
        const auto    seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
        for (int self = 0; self < 3; self++) child[self] = start(shared, "lives" + std::to_string(BY_RANGE), 3, self);
        if (round < 0) {
            for (int self = 0; self < 3; self++) CHECK_EQ(status_of(child[self]), 0);
            whole = seconds();
            continue;
        }
        const double moment = whole * 1e-3 * static_cast<double>(test_below(1000));
        while (seconds() < moment) ggnni::pause_for_peers();
        kill(child[victim], SIGKILL);
        const int ended = status_of(child[victim]);
        ggnn_cuda_peers_give_up(shared.at, victim);
        for (int self = 0; self < 3; self++) {
            if (self == victim) continue;
            const int status = status_in_time(child[self]);
            if (!CHECK(ended ? status == 0 || status == 1 : status == 0)) printf("  round %d, peer %d: %d\n", round, self, status);
        }
    }
}

TEST(a_thread_that_ends_without_closing_is_an_error)
{
    shared_memory   shared;
    ggnn_cuda_peers p;
    ggnn_cuda_fault fault = {};
    bool            joined = false;
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 2, 0, LOANS));
    std::thread([&] {
        ggnn_cuda_peers other;
        joined = ggnn_cuda_peers_join(&other, shared.at, 2, 1, LOANS) == cudaSuccess;
    }).join();
    CHECK(joined);
    CHECK(failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1));
    CHECK(failed_with(ggnn_cuda_peers_close(&p, &fault), cudaErrorIllegalState, fault, 1));
}

TEST(a_peer_that_closes_or_is_given_up_is_not_waited_for)
{
    shared_memory   shared;
    ggnn_cuda_peers        p, other;
    ggnn_cuda_fault        fault = {};
    const ggnn_cuda_source left[] = {{0, COPY}};
    const void*            base[1];
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 3, 0, LOANS));
    ggnn_cuda_peers_give_up(shared.at, 1);
    CHECK(failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1));
    CHECK_EQ(ggnn_cuda_peers_join(&other, shared.at, 3, 1, LOANS), cudaErrorIllegalState);
    CHECK(failed_with(ggnn_cuda_peers_close(&p, &fault), cudaErrorIllegalState, fault, 1));
    CHECK(ggnn_cuda_peers_close(&p, &fault) == cudaSuccess && !fault.what); // once more: nothing
    CHECK_EQ(ggnn_cuda_peers_join(&p, shared.at, 3, 0, LOANS), cudaErrorIllegalState);
    std::thread([&] {
        CHECK_CUDA(ggnn_cuda_peers_join(&other, shared.at, 3, 2, LOANS));
        CHECK(failed_with(ggnn_cuda_peers_check(&other, &fault), cudaErrorIllegalState, fault, 1));
        CHECK(failed_with(ggnn_cuda_peers_rows(base, &other, left, 1, &fault), cudaErrorIllegalState, fault, 0, CLOSED));
        CHECK(failed_with(ggnn_cuda_peers_wait(&other, &fault), cudaErrorIllegalState, fault, 1));
        CHECK(failed_with(ggnn_cuda_peers_wait(&other, &fault), cudaErrorIllegalState, fault, 0)); // it came but once
        ggnn_cuda_peers_close(&other, nullptr);
    }).join();
}

// A peer that has closed lends on, till the others have closed: killed in between it is as gone as another one.
TEST(a_peer_that_is_killed_while_it_closes_is_an_error)
{
    shared_memory          shared;
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault = {};
    const void*            base[1];
    const ggnn_cuda_source source[] = {{1, COPY}};
    const pid_t            child = start(shared, "lender", 2, 1);
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 2, 0, LOANS));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    while (ggnni::slot_of_peer(&p, 1).state != ggnni::PEER_CLOSED) ggnni::pause_for_peers();
    CHECK_CUDA(ggnn_cuda_peers_check(&p, &fault));
    CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, source, 1, &fault));
    CHECK(base[0] != nullptr);
    CHECK(failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1, CLOSED)); // it will not come
    CHECK_EQ(kill(child, SIGKILL), 0);
    CHECK(died(child));
    CHECK(failed_with(ggnn_cuda_peers_check(&p, &fault), cudaErrorIllegalState, fault, 1, ENDED));
    CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, source, 1, &fault), cudaErrorIllegalState, fault, 1, ENDED));
    CHECK(failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1, ENDED));
    CHECK_EQ(status_of(child), 128 + SIGKILL);
    CHECK(failed_with(ggnn_cuda_peers_close(&p, &fault), cudaErrorIllegalState, fault, 1, ENDED));
}

// A process is another one if its id or its start is (containers have ids of their own), and may count devices otherwise or
// have one that this one does not see: what it has written about itself is changed here.
TEST(another_process_is_known_by_id_or_start_and_names_its_device)
{
    shared_memory          shared;
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault = {};
    const void*            base[1];
    const ggnn_cuda_source rows[] = {{1, ROWS}}, lists[] = {{1, LISTS}}, copy[] = {{1, COPY}};
    const pid_t            child = start(shared, "lender", 2, 1);
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 2, 0, LOANS));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    ggnni::peer_slot &far = ggnni::slot_of_peer(&p, 1), &own = ggnni::slot_of_peer(&p, 0);
    const int64_t     process = far.process, started = far.started;
    const auto        opened = [&](int32_t loan) { return static_cast<const void*>(ggnni::opened_of(&p, 1, loan)); };
    far.process = own.process;
    CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, rows, 1, &fault));
    CHECK(base[0] && base[0] == opened(ROWS));
    far.process = process;
    far.started = own.started;
    CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, lists, 1, &fault));
    CHECK(base[0] && base[0] == opened(LISTS));
    far.started = started;
    CHECK_EQ(far.device, last_device());
    far.device = 5;
    ggnni::loan_of(&p, 1, COPY).error = cudaErrorInvalidResourceHandle;
    CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, copy, 1, &fault), cudaErrorInvalidResourceHandle, fault, 1,
                      "another process's memory cannot be opened"));
    CHECK(fault.from == p.device && fault.to == 5 && base[0] == nullptr && opened(COPY) == nullptr);
    ggnni::loan_of(&p, 1, COPY).error = cudaSuccess;
#ifdef SIMT_SHIM
    if (devices() > 2) {
        simt_link(0, 2, false);
        CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, copy, 1, &fault), cudaErrorPeerAccessUnsupported, fault, 1, NO_LINK));
        CHECK(fault.from == 0 && fault.to == 5); // as its process counts
        simt_link(0, 2, true);
    }
#endif
    cudaGetLastError();
    strcpy(far.bus, "0000:63:00.0"); // no device here
    CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, copy, 1, &fault));
    CHECK(base[0] && base[0] == opened(COPY) && cudaPeekAtLastError() == cudaSuccess);
    void* const borrowed[] = {const_cast<void*>(opened(ROWS)), const_cast<void*>(opened(LISTS)), const_cast<void*>(opened(COPY))};
    CHECK_CUDA(ggnn_cuda_peers_close(&p, &fault));
#ifdef SIMT_SHIM
    for (void* given_back : borrowed) CHECK(cudaIpcCloseMemHandle(given_back) != cudaSuccess); // all are given back
    cudaGetLastError();
#else
    (void)borrowed;
#endif
    CHECK_EQ(status_of(child), 0);
}

// Slots, loans and what borrowers opened, for each peer, fill the shared memory without a gap.
TEST(shared_memory_has_a_place_for_everything)
{
    alignas(64) static char memory[1 << 16];
    for (int32_t peers : {1, 2, 3, 8})
        for (int32_t loans : {1, 5, 16}) {
            ggnn_cuda_peers                      p = {memory, peers, 0, loans, 0};
            std::vector<std::pair<char*, size_t>> places;
            const auto add = [&](auto& place) { places.emplace_back(reinterpret_cast<char*>(&place), sizeof place); };
            for (int32_t peer = 0; peer < peers; peer++) {
                add(ggnni::slot_of_peer(&p, peer));
                for (int32_t loan = 0; loan < loans; loan++) {
                    add(ggnni::loan_of(&p, peer, loan));
                    for (p.self = 0; p.self < peers; p.self++) add(ggnni::opened_of(&p, peer, loan));
                    p.self = 0;
                }
            }
            std::sort(places.begin(), places.end());
            char* end = memory;
            for (const auto& place : places) {
                CHECK(place.first == end);
                end = place.first + place.second;
            }
            CHECK_EQ(end - memory, static_cast<int64_t>(ggnn_cuda_peers_bytes(peers, loans)));
        }
}

// What an earlier call has written does not stay: no call that succeeds leaves a fault.
TEST(a_call_that_succeeds_writes_that_nothing_is_wrong)
{
    shared_memory          shared;
    ggnn_cuda_peers        p;
    const void*            base[1];
    ggnn_csc               part[1];
    device_array<float>    mine(4);
    const ggnn_cuda_source source[] = {{0, 0}}, nobody[] = {{-1, 0}};
    const int              device = 0;
    const auto             clean = [](auto call) {
        ggnn_cuda_fault fault = {"of before", 7, 7, 7};
        return call(&fault) == cudaSuccess && !fault.what;
    };
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 1, 0, LOANS));
    CHECK_CUDA(ggnn_cuda_peers_lend(&p, 0, mine.at() + 1, 0, 4)); // no handle for others: threads need none
    CHECK_EQ(cudaPeekAtLastError(), cudaSuccess);
    for (int32_t loan = 1; loan < 4; loan++) CHECK_CUDA(ggnn_cuda_peers_lend(&p, loan, nullptr, 0, 0));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_link(nullptr, 0, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_link(&device, 1, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_wait(&p, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_check(&p, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_rows(base, &p, source, 1, f); }));
    CHECK(base[0] == mine.at() + 1);
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_rows(base, &p, nobody, 1, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_rows(base, &p, source, 0, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_lists(part, &p, source, 1, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_lists(part, &p, source, 0, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_close(&p, f); }));
    CHECK(clean([&](ggnn_cuda_fault* f) { return ggnn_cuda_peers_close(&p, f); })); // once more
}

// So that what was lent can be freed, whatever stream still reads it. (Kernels are behind the host where they are lazy.)
TEST(closing_waits_for_the_device)
{
    shared_memory       shared;
    ggnn_cuda_peers     p;
    cudaStream_t        stream;
    device_array<float> x(std::vector<float>(256, 1.0f));
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 1, 0, LOANS));
    CHECK_CUDA(ggnn_cuda_exp2_array(x.at(), {nullptr, 256}, stream));
    CHECK_CUDA(ggnn_cuda_peers_close(&p, nullptr));
    CHECK_EQ(cudaStreamQuery(stream), cudaSuccess);
    CHECK(x.values() == std::vector<float>(256, 2.0f));
    CHECK_CUDA(cudaStreamDestroy(stream));
}

TEST(owners_close_after_their_borrowers)
{
    shared_memory     shared;
    std::atomic<bool> gave_back{false};
    bool              right = false;
    std::thread       owner([&] {
        ggnn_cuda_peers     p;
        device_array<float> mine(4);
        bool good = ggnn_cuda_peers_join(&p, shared.at, 2, 0, LOANS) == cudaSuccess &&
                    ggnn_cuda_peers_lend(&p, COPY, mine.at(), 0, 16) == cudaSuccess && ggnn_cuda_peers_wait(&p, nullptr) == cudaSuccess;
        right = ggnn_cuda_peers_close(&p, nullptr) == cudaSuccess && good && gave_back;
    });
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault;
    const ggnn_cuda_source source[] = {{0, COPY}};
    const void*            base[1];
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 2, 1, LOANS));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    if (ggnn_cuda_peers_rows(base, &p, source, 1, &fault) == cudaSuccess) CHECK(base[0] != nullptr);
    for (int i = 0; i < 200; i++) ggnni::pause_for_peers();
    gave_back = true;
    CHECK_CUDA(ggnn_cuda_peers_close(&p, &fault));
    owner.join();
    CHECK(right);
}

TEST(what_cannot_be_lent_or_borrowed_is_refused)
{
    shared_memory       shared;
    ggnn_cuda_peers     p;
    ggnn_cuda_fault     fault;
    device_array<float> mine(4);
    float               host[4];
    const void*         base[1];
    CHECK_EQ(ggnn_cuda_peers_join(&p, nullptr, 1, 0, 1), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_peers_join(&p, shared.at, 2, 2, 1), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_peers_join(&p, shared.at, 2, -1, 1), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_peers_join(&p, shared.at, 1, 0, 0), cudaErrorInvalidValue);
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 1, 0, 2));
    CHECK_EQ(ggnn_cuda_peers_lend(&p, 2, mine.at(), 0, 16), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_peers_lend(&p, -1, mine.at(), 0, 16), cudaErrorInvalidValue);
    CHECK_EQ(ggnn_cuda_peers_lend(&p, 0, host, 0, 16), cudaErrorInvalidValue);
    CHECK_CUDA(ggnn_cuda_peers_lend(&p, 0, nullptr, 0, 0));
    const ggnn_cuda_source nothing[] = {{0, 0}}, nobody[] = {{-1, 7}}, not_lent[] = {{0, 1}}, no_peer[] = {{1, 0}}, no_loan[] = {{0, 2}}, before[] = {{0, -1}};
    for (const ggnn_cuda_source* source : {nothing, nobody}) {
        base[0] = host;
        CHECK_CUDA(ggnn_cuda_peers_rows(base, &p, source, 1, &fault));
        CHECK(base[0] == nullptr && fault.what == nullptr);
    }
    CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, not_lent, 1, &fault), cudaErrorIllegalState, fault, 0));
    CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, no_peer, 1, &fault), cudaErrorInvalidValue, fault, 1));
    for (const ggnn_cuda_source* source : {no_loan, before})
        CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, source, 1, &fault), cudaErrorInvalidValue, fault, 0));
    CHECK(fault.from == p.device && fault.to == -1); // the reader's device; of no owner's
    const ggnn_cuda_source then[] = {{0, 1}, {0, 0}}, lists[] = {{0, 0}, {-1, 0}}; // what comes after an error does not mend it
    const char*            not_yet = "a peer has not lent this";
    const void*            bases[2];
    ggnn_csc               part[2];
    CHECK(failed_with(ggnn_cuda_peers_rows(bases, &p, then, 2, &fault), cudaErrorIllegalState, fault, 0, not_yet));
    CHECK(failed_with(ggnn_cuda_peers_lists(part, &p, lists, 2, &fault), cudaErrorIllegalState, fault, 0, not_yet));
    if (devices() > 1) {
        CHECK_CUDA(cudaSetDevice(1));
        CHECK(failed_with(ggnn_cuda_peers_rows(base, &p, nothing, 1, &fault), cudaErrorInvalidValue, fault, 0));
        device_array<float> far(4);
        CHECK_EQ(ggnn_cuda_peers_lend(&p, 1, far.at(), 0, 16), cudaErrorInvalidValue);
        CHECK_CUDA(cudaSetDevice(0));
    }
    CHECK_CUDA(ggnn_cuda_peers_close(&p, &fault));
}

// Without positions and weights, without edges, without rows; and of nobody.
TEST(lists_are_lent_with_what_they_have)
{
    shared_memory           shared;
    ggnn_cuda_peers         p;
    ggnn_cuda_fault         fault = {};
    device_array<int64_t>   indptr(std::vector<int64_t>{0, 2, 5}), first(std::vector<int64_t>{7, 9});
    device_array<ggnn_node> indices(std::vector<ggnn_node>{1, 2, 3, 4, 5});
    device_array<float>     weight(std::vector<float>{1, 2, 3, 4, 5});
    const ggnn_csc          all = {indptr.at(), first.at(), indices.at(), weight.at(), 5}, bare = {indptr.at(), nullptr, indices.at(), nullptr, 5},
                            empty = {indptr.at(), nullptr, nullptr, nullptr, 0}, none = {};
    const ggnn_cuda_source  source[] = {{0, 0}, {0, 4}, {-1, 3}, {0, 8}, {0, 12}};
    ggnn_csc                part[6];
    memset(part, 0x5a, sizeof part);
    CHECK_CUDA(ggnn_cuda_peers_join(&p, shared.at, 1, 0, 16));
    CHECK_EQ(ggnn_cuda_peers_lend_lists(&p, 13, &all, 2), cudaErrorInvalidValue); // the fourth has no room: none is lent
    CHECK(!ggnni::loan_of(&p, 0, 13).ready);
    CHECK_CUDA(ggnn_cuda_peers_lend_lists(&p, 0, &all, 2));
    CHECK_CUDA(ggnn_cuda_peers_lend_lists(&p, 4, &bare, 2));
    CHECK_CUDA(ggnn_cuda_peers_lend_lists(&p, 8, &empty, 0));
    CHECK_CUDA(ggnn_cuda_peers_lend_lists(&p, 12, &none, 0));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    CHECK_CUDA(ggnn_cuda_peers_lists(part, &p, source, 5, &fault));
    const ggnn_csc* const want[] = {&all, &bare, &none, &empty, &none};
    for (int i = 0; i < 5; i++) {
        CHECK(part[i].indptr == want[i]->indptr && part[i].first == want[i]->first && part[i].indices == want[i]->indices);
        CHECK(part[i].weight == want[i]->weight && part[i].num_edges == want[i]->num_edges);
    }
    CHECK_EQ(part[5].num_edges, 0x5a5a5a5a5a5a5a5a);
    CHECK(fault.what == nullptr && fault.peer == -1 && fault.from == -1 && fault.to == -1);
    ggnn_cuda_peers_give_up(shared.at, 0); // who has joined is not given up
    CHECK_CUDA(ggnn_cuda_peers_check(&p, &fault));
    CHECK_CUDA(ggnn_cuda_peers_wait(&p, &fault));
    CHECK_CUDA(ggnn_cuda_peers_close(&p, &fault));
}

TEST(the_launcher_says_which_device)
{
    const char* names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};
    int         device = -1;
    for (const char* name : names) unsetenv(name);
    CHECK_EQ(ggnn_cuda_local_rank(), 0);
    for (int i = 2; i >= 0; i--) { // those of mpirun come before those of srun, in which it may run
        setenv(names[i], std::to_string(i + 3).c_str(), 1);
        CHECK_EQ(ggnn_cuda_local_rank(), i + 3);
        CHECK_CUDA(ggnn_cuda_local_device(&device));
        CHECK_EQ(device, (i + 3) % devices());
    }
    for (const char* text : {"17", "017", "+17", " 17"}) { // a decimal number; more processes than devices
        setenv(names[0], text, 1);
        CHECK_EQ(ggnn_cuda_local_rank(), 17);
        CHECK_CUDA(ggnn_cuda_local_device(&device));
        CHECK_EQ(device, 17 % devices());
    }
    setenv(names[0], "0", 1); // the first that is one, and the last
    CHECK_EQ(ggnn_cuda_local_rank(), 0);
    setenv(names[0], "2147483647", 1);
    CHECK_EQ(ggnn_cuda_local_rank(), INT32_MAX);
    for (const char* bad : {"", " ", "x", "1x", "0x1", "1 ", "-1", "-2", "-2147483648", "-4294967295", "-4294967296", "2147483648", "4294967296", "99999999999"}) {
        setenv(names[0], bad, 1);
        CHECK_EQ(ggnn_cuda_local_rank(), -1);
        CHECK_EQ(ggnn_cuda_local_device(&device), cudaErrorInvalidValue);
    }
    for (const char* name : names) unsetenv(name);
}

// ---- this program as another process ---------------------------------------------------------------------------

static int dies_or_survives(void* shared, int32_t self, bool survives)
{
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault = {};
    const void*            base[1];
    const ggnn_cuda_source source[] = {{survives ? 1 : 0, COPY}};
    device_array<float>    mine(4);
    if (ggnn_cuda_peers_join(&p, shared, 3, self, LOANS) != cudaSuccess) return 2;
    if (ggnn_cuda_peers_lend(&p, COPY, mine.at(), 0, 16) != cudaSuccess) return 3;
    if (ggnn_cuda_peers_wait(&p, &fault) != cudaSuccess) return 4;
    const cudaError_t opened = ggnn_cuda_peers_rows(base, &p, source, 1, &fault);
    if (opened != cudaSuccess && opened != cudaErrorIllegalState) return 5; // it may be dead already
    while (!survives) pause(); // until it is killed
    if (!failed_with(ggnn_cuda_peers_wait(&p, &fault), cudaErrorIllegalState, fault, 1)) return 6;
    return failed_with(ggnn_cuda_peers_close(&p, &fault), cudaErrorIllegalState, fault, 1) ? 0 : 7;
}

static int lends_and_closes(void* shared, int32_t self)
{
    ggnn_cuda_peers p;
    if (cudaSetDevice(last_device()) != cudaSuccess) return 2;
    device_array<float> mine[3] = {device_array<float>(4), device_array<float>(4), device_array<float>(4)};
    if (ggnn_cuda_peers_join(&p, shared, 2, self, LOANS) != cudaSuccess) return 3;
    for (int i = 0; i < 3; i++)
        if (ggnn_cuda_peers_lend(&p, i == 0 ? ROWS : i == 1 ? LISTS : COPY, mine[i].at(), 0, 16) != cudaSuccess) return 4;
    if (ggnn_cuda_peers_wait(&p, nullptr) != cudaSuccess) return 5;
    return ggnn_cuda_peers_close(&p, nullptr) == cudaSuccess ? 0 : 6;
}

static int finds_no_link(void* shared, int32_t self)
{
    ggnn_cuda_peers        p;
    ggnn_cuda_fault        fault = {};
    const void*            base[1];
    const ggnn_cuda_source source[] = {{1 - self, COPY}};
    setenv("SIMT_LINKS", "none", 1);
    if (cudaSetDevice(self) != cudaSuccess) return 2;
    device_array<float> mine(4);
    bool good = ggnn_cuda_peers_join(&p, shared, 2, self, LOANS) == cudaSuccess &&
                ggnn_cuda_peers_lend(&p, COPY, mine.at(), 0, 16) == cudaSuccess && ggnn_cuda_peers_wait(&p, &fault) == cudaSuccess;
    good = good && failed_with(ggnn_cuda_peers_rows(base, &p, source, 1, &fault), cudaErrorPeerAccessUnsupported, fault, 1 - self) &&
           fault.from == self && fault.to == 1 - self;
    return ggnn_cuda_peers_close(&p, nullptr) == cudaSuccess && good ? 0 : 3;
}

static int be_peer(char** argument)
{
    void*             shared = shared_memory::map(atoi(argument[0]));
    const std::string what = argument[1];
    const int32_t     peers = atoi(argument[2]), self = atoi(argument[3]);
    if (what == "trap") return reads_without_a_link();
    if (what == "victim" || what == "survivor") return dies_or_survives(shared, self, what == "survivor");
    if (what == "unlinked") return finds_no_link(shared, self);
    if (what == "lender") return lends_and_closes(shared, self);
    world w(atoi(what.c_str() + 5), peers); // lives and the kind
    return lives_as_peer(w, shared, self) && !test_errors ? 0 : 1;
}

int main(int argc, char** argv)
{
    setenv("SIMT_DEVICES", "8", 0);
    test_current = "peers";
    if (argc == 6 && strcmp(argv[1], "--peer") == 0) return be_peer(argv + 2);
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(7);
    if (!device_present()) return finish_without_device();
    RUN(parts_of_threads_hold_the_rows_and_lists_of_one_array);
    RUN(parts_of_processes_hold_the_rows_and_lists_of_one_array);
    RUN(threads_and_processes_may_be_peers_of_each_other);
    RUN(sources_need_only_the_links_that_they_use);
    RUN(devices_are_linked_all_or_none);
    RUN(a_missing_link_between_processes_is_named);
    RUN(a_read_over_a_missing_link_traps);
    RUN(a_killed_owner_is_an_error_at_the_next_call);
    RUN(a_kill_at_any_moment_leaves_nobody_waiting);
    RUN(a_thread_that_ends_without_closing_is_an_error);
    RUN(a_peer_that_closes_or_is_given_up_is_not_waited_for);
    RUN(a_peer_that_is_killed_while_it_closes_is_an_error);
    RUN(another_process_is_known_by_id_or_start_and_names_its_device);
    RUN(shared_memory_has_a_place_for_everything);
    RUN(a_call_that_succeeds_writes_that_nothing_is_wrong);
    RUN(closing_waits_for_the_device);
    RUN(owners_close_after_their_borrowers);
    RUN(what_cannot_be_lent_or_borrowed_is_refused);
    RUN(lists_are_lent_with_what_they_have);
    RUN(the_launcher_says_which_device);
    return test_finish();
}
