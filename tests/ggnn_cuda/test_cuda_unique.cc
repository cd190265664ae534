// test_cuda_unique.cc - [5] UNIQUE of ggnn_cuda.cuh: the same numbers as ggnn_unique_append's, for every form
// of the table; tables that are full, ids that are out of range, stamps that start again.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include "tests/cuda_memory.h"

#include <algorithm>
#include <memory>

struct form {
    ggnn_unique_kind kind;
    int32_t          group, hubs;
};
static const form forms[] = {
    {GGNN_UNIQUE_DIRECT, 1, 0}, {GGNN_UNIQUE_HASH, 32, 0}, {GGNN_UNIQUE_HASH, 8, 0},
    {GGNN_UNIQUE_HASH, 1, 0},   {GGNN_UNIQUE_DIRECT, 1, 1}, {GGNN_UNIQUE_HASH, 32, 1},
    {GGNN_UNIQUE_HASH, 8, 1},   {GGNN_UNIQUE_HASH, 1, 1}};

// A table on the device, a list of the ids in it, and what an append may need.
class table {
public:
    table(form f, int64_t num_nodes, int64_t max_ids, int64_t max_n)
        : memory(static_cast<int64_t>(ggnn_cuda_unique_bytes(f.kind, num_nodes, max_ids))), list(max_ids),
          workspace(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(max_n))), status(1), max_n(max_n)
    {
        CHECK_CUDA(ggnn_cuda_unique_init(&seen, f.kind, num_nodes, max_ids, memory.at(), nullptr));
        seen.group = f.group;
        seen.hubs = f.hubs;
        status.fill(0);
    }

    void begin() { CHECK_CUDA(ggnn_cuda_unique_begin(&seen, nullptr)); }

    // The local ids; the size is known to the device, its bound to the host.
    std::vector<int32_t> append(const std::vector<ggnn_node>& id)
    {
        const int64_t           n = static_cast<int64_t>(id.size());
        device_array<ggnn_node> given(id);
        device_array<int32_t>   local(n);
        device_count            count(n, max_n);
        CHECK_CUDA(ggnn_cuda_unique_append(&seen, list.at(), local.at(), given.at(), count.get(), status.at(),
                                           workspace.at(), nullptr));
        return local.values();
    }

    // the size known to the device
    std::vector<int32_t> find(const std::vector<ggnn_node>& id) const
    {
        const int64_t           n = static_cast<int64_t>(id.size());
        device_array<ggnn_node> given(id);
        device_array<int32_t>   local(n);
        device_count            count(n, n + 300);
        CHECK_CUDA(ggnn_cuda_unique_find(&seen, local.at(), given.at(), count.get(), nullptr));
        return local.values();
    }

    int64_t length() const
    {
        ggnn_cuda_unique_state state;
        CHECK_CUDA(cudaMemcpy(&state, seen.state, sizeof state, cudaMemcpyDeviceToHost));
        return state.count;
    }
    std::vector<ggnn_node> ids() const { return list.values(length()); }
    int reported() const { return status.values()[0]; }

    ggnn_cuda_unique seen;

private:
    device_array<char>      memory;
    device_array<ggnn_node> list;
    device_array<char>      workspace;
    device_array<int32_t>   status;
    int64_t                 max_n;
};

// The twin.
class host_table {
public:
    host_table(int64_t num_nodes, int64_t max_ids)
        : memory(ggnn_unique_bytes(GGNN_UNIQUE_HASH, num_nodes, max_ids)),
          list(static_cast<size_t>(max_ids) + 1),
          seen(ggnn_unique_init(memory.data(), GGNN_UNIQUE_HASH, num_nodes, max_ids))
    {
    }
    void begin() { ggnn_unique_begin(seen); }

    std::vector<int32_t> append(const std::vector<ggnn_node>& id, ggnn_status expected = GGNN_OK)
    {
        std::vector<int32_t> local(id.size());
        int64_t              bad;
        CHECK_EQ(ggnn_unique_append(seen, list.data(), local.data(), id.data(),
                                    static_cast<int64_t>(id.size()), &bad),
                 expected);
        return local;
    }
    std::vector<int32_t> find(const std::vector<ggnn_node>& id) const
    {
        std::vector<int32_t> local;
        for (ggnn_node v : id) local.push_back(ggnn_unique_find(seen, v));
        return local;
    }
    std::vector<ggnn_node> ids() const { return {list.begin(), list.begin() + seen->count}; }

private:
    std::vector<char>      memory;
    std::vector<ggnn_node> list;
    ggnn_unique*           seen;
};

static std::vector<ggnn_node> random_ids(int64_t n, int64_t distinct)
{
    std::vector<ggnn_node> id(n);
    for (ggnn_node& v : id) v = static_cast<ggnn_node>(test_below(distinct));
    return id;
}

TEST(append_numbers_as_the_twin_does)
{
    static const int64_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 600, 1000};
    for (form f : forms) {
        const int64_t N = 400;
        table         t(f, N, N, 1000);
        host_table    twin(N, N);
        for (int batch = 0; batch < 12; batch++) { // the same table
            t.begin();
            twin.begin();
            for (int call = 0; call < 3; call++) {
                const auto id = random_ids(sizes[test_below(10)], 1 + test_below(N));
                CHECK(t.append(id) == twin.append(id));
                CHECK(t.ids() == twin.ids());
            }
        }
        CHECK_EQ(t.reported(), GGNN_OK);
    }
}

TEST(find_knows_the_ids_of_this_batch_alone)
{
    const int64_t          N = 416; // a direct map of so many fills its memory: there is nothing behind it
    std::vector<ggnn_node> all = {-1, static_cast<ggnn_node>(N), GGNN_NODE_MAX};
    for (int64_t v = 0; v < N; v++) all.push_back(static_cast<ggnn_node>(v));
    for (form f : forms) {
        table      t(f, N, N, 1000);
        host_table twin(N, N);
        CHECK(t.find(all) == std::vector<int32_t>(all.size(), -1)); // before the first batch
        for (int batch = 0; batch < 5; batch++) {
            t.begin();
            twin.begin();
            const uint64_t third = ~static_cast<uint64_t>(batch + 1) << 32 | 3; // before the first entry: as if -1 had a number
            if (t.seen.entry) CHECK_CUDA(cudaMemcpy(t.seen.entry - 1, &third, sizeof third, cudaMemcpyHostToDevice));
            CHECK(t.find(all) == twin.find(all)); // none
            for (int call = 0; call < 3; call++) {
                const auto id = random_ids(1 + test_below(200), 1 + test_below(N));
                t.append(id);
                twin.append(id);
                CHECK(t.find(all) == twin.find(all));
            }
        }
    }
}

// More ids than the threads that run at once; chains that go on from the last slot to the first; a table without a free slot.
TEST(find_takes_any_number_of_ids_in_tables_of_any_load)
{
    for (form f : forms) {
        std::vector<ggnn_node> all;
        table                  t(f, 9000, 9000, 9000);
        host_table             twin(9000, 9000);
        t.begin();
        twin.begin();
        for (int64_t v = 0; v < 9000; v++) all.push_back(static_cast<ggnn_node>(v));
        const auto id = random_ids(5000, 9000);
        t.append(id);
        twin.append(id);
        CHECK(t.find(all) == twin.find(all));
        if (f.kind == GGNN_UNIQUE_DIRECT) continue;
        for (int64_t load : {40, 63, 64}) { // of 64 slots
            table      small(f, 9000, 9000, 100);
            host_table other(9000, 9000);
            small.seen.mask = 63;
            small.begin();
            other.begin();
            std::vector<ggnn_node> some = all; // any of them: neighbours' hashes do not meet
            for (size_t i = 0; i < 64; i++) std::swap(some[i], some[i + static_cast<size_t>(test_below(9000 - static_cast<int64_t>(i)))]);
            some.resize(static_cast<size_t>(load));
            small.append(some);
            other.append(some);
            CHECK(small.find(all) == other.find(all));
            CHECK_EQ(small.reported(), GGNN_OK);
        }
    }
}

TEST(find_leaves_out_what_had_no_room)
{
    for (form f : forms) {
        table      t(f, 100, 10, 100);
        const auto found = [&] { return t.find({7, 3, 8, 1, 90}); };
        t.begin();
        t.append({7, 3, 7, 20, 21, 22, 23, 24, 25, 26, 1, 8, 90, 99});
        CHECK_EQ(t.reported(), GGNN_ERROR_CAPACITY);
        CHECK(found() == std::vector<int32_t>({0, 1, -1, 9, -1}));
        t.append({31, 3}); // nor has the first input of another append
        CHECK(t.find({31, 3}) == std::vector<int32_t>({-1, 1}));
    }
}

// One input more than all tiles hold that have as many items as a block has threads.
TEST(a_tile_grows_with_the_first_input_that_needs_it)
{
    const int64_t          most = static_cast<int64_t>(ggnni::TILES) * ggnni::THREADS;
    table                  t(forms[0], 1000, 1000, most + 1);
    host_table             twin(1000, 1000);
    std::vector<ggnn_node> id(static_cast<size_t>(most + 1), 7);
    id[100] = 5;
    id.back() = 9; // the only one of the last tile
    t.begin();
    twin.begin();
    CHECK(t.append(id) == twin.append(id));
    CHECK(t.ids() == twin.ids());
    for (int64_t items : {1, 4}) {
        CHECK_EQ(1 << ggnni::tile_bits_of(items * most, items * ggnni::THREADS), items * ggnni::THREADS);
        CHECK_EQ(1 << ggnni::tile_bits_of(items * most + 1), 2 * items * ggnni::THREADS);
        CHECK_EQ(1 << ggnni::tile_bits_of(0, items * ggnni::THREADS), items * ggnni::THREADS);
    }
}

// More tiles than blocks, and tiles of more than one step: 16 blocks run at once in the emulator, and a bound
// of three million makes tiles of 2048.
TEST(blocks_take_tile_after_tile)
{
    for (form f : {forms[0], forms[3]})
        for (int64_t max_n : {INT64_C(9000), INT64_C(3000000)}) {
            table      t(f, 20000, 20000, max_n);
            host_table twin(20000, 20000);
            for (int64_t n : {INT64_C(2047), INT64_C(2048), INT64_C(2049), INT64_C(9000)}) {
                const auto id = random_ids(n, 20000);
                t.begin();
                twin.begin();
                CHECK(t.append(id) == twin.append(id));
                CHECK(t.ids() == twin.ids());
            }
        }
}

static __global__ void __launch_bounds__(ggnni::THREADS)
    test_sum_before(int64_t* to, const int64_t* sum, const int64_t* count)
{
    const int64_t first = 321 * static_cast<int64_t>(blockIdx.x);
    const int64_t all = ggnni::sum_before(sum, 8, first, [&](int64_t i) { return count[i]; });
    if (threadIdx.x == blockIdx.x % ggnni::THREADS) to[blockIdx.x] = all;
}

// On a device that runs many blocks at once a block adds up as many sums, and the items of a tile before its own.
TEST(a_block_adds_up_all_sums_before_its_tile)
{
    const int64_t         items = static_cast<int64_t>(ggnni::TILES) << 8, blocks = items / 321 + 1;
    std::vector<int64_t>  count(items), sum(ggnni::TILES), want;
    device_array<int64_t> to(blocks);
    int64_t               before = 0;
    for (int64_t i = 0; i < items; i++) {
        if (i % 321 == 0) want.push_back(before);
        sum[i >> 8] += count[i] = test_below(1000);
        before += count[i];
    }
    device_array<int64_t> sums(sum), counts(count);
    CHECK_CUDA(ggnni::launch(test_sum_before, blocks, ggnni::THREADS, nullptr, to.at(), sums.at(), counts.at()));
    CHECK(to.values() == want);
}

TEST(append_handles_nothing_all_equal_and_the_greatest_ids)
{
    for (form f : forms) {
        const int64_t   N = f.kind == GGNN_UNIQUE_DIRECT ? 1000 : static_cast<int64_t>(GGNN_NODE_MAX);
        const ggnn_node top = static_cast<ggnn_node>(N - 1);
        table           t(f, N, 40, 300);
        host_table      twin(N, 40);
        t.begin();
        twin.begin();
        CHECK(t.append({}).empty());
        CHECK_EQ(t.length(), 0);
        CHECK(t.append(std::vector<ggnn_node>(300, top)) == std::vector<int32_t>(300, 0));
        CHECK_EQ(t.length(), 1);
        twin.append({top});
        std::vector<ggnn_node> id;
        for (int i = 0; i < 300; i++) id.push_back(static_cast<ggnn_node>(top - i * 7 % 40));
        CHECK(t.append(id) == twin.append(id)); // exactly full
        CHECK(t.ids() == twin.ids());
        CHECK_EQ(t.length(), 40);
        CHECK_EQ(t.reported(), GGNN_OK);
    }
}

TEST(what_exceeds_max_ids_is_reported_and_gets_local_id_0)
{
    for (form f : forms)
        for (int64_t most : {0, 60, 99, 100, 101}) {
            table      t(f, 300, most, 500);
            host_table twin(300, 300);
            t.begin();
            twin.begin();
            std::vector<ggnn_node> id = random_ids(500, 100);
            for (int i = 0; i < 100; i++) id[test_below(500)] = static_cast<ggnn_node>(i);
            for (int i = 0; i < 100; i++) id.push_back(static_cast<ggnn_node>(i)); // all 100 occur
            id.erase(id.begin(), id.begin() + 100);
            std::vector<int32_t>   want = twin.append(id);
            std::vector<ggnn_node> list = twin.ids();
            for (int32_t& v : want)
                if (v >= most) v = 0;
            list.resize(std::min<int64_t>(most, 100));
            CHECK(t.append(id) == want);
            CHECK(t.ids() == list);
            CHECK_EQ(t.reported(), most < 100 ? GGNN_ERROR_CAPACITY : GGNN_OK);
        }
}

// Hash tables nearly full, full, and with more ids than slots.
TEST(a_hash_table_works_until_it_is_full_and_says_so)
{
    for (form f : {forms[1], forms[2], forms[3]})
        for (int64_t distinct : {58, 64, 65, 200}) {
            table      t(f, 100000, 10000, 600);
            host_table twin(100000, 10000);
            t.seen.mask = 63; // 64 slots in place of 32,768
            t.begin();
            twin.begin();
            std::vector<ggnn_node> id;
            for (int64_t i = 0; i < 600; i++)
                id.push_back(static_cast<ggnn_node>(test_below(distinct) * 311));
            for (int64_t i = 0; i < distinct; i++) id[2 * i] = static_cast<ggnn_node>(i * 311);
            const auto local = t.append(id);
            const auto list = t.ids();
            if (distinct <= 64) {
                CHECK(local == twin.append(id));
                CHECK(list == twin.ids());
                for (ggnn_node& v : id) v += 1000; // the next batch: every slot is free again
                t.begin();
                twin.begin();
                CHECK(t.append(id) == twin.append(id));
                CHECK(t.ids() == twin.ids());
                CHECK_EQ(t.reported(), GGNN_OK);
                continue;
            }
            CHECK_EQ(t.reported(), GGNN_ERROR_CAPACITY);
            CHECK_EQ(static_cast<int64_t>(list.size()), 64);
            int64_t wrong = 0; // all that has a number other than 0 has the right one
            for (size_t i = 0; i < id.size(); i++)
                wrong += local[i] < 0 || local[i] >= 64 || (local[i] > 0 && list[local[i]] != id[i]);
            CHECK_EQ(wrong, 0);
        }
}

TEST(an_id_out_of_range_is_reported_and_counts_as_node_0)
{
    for (form f : forms)
        for (ggnn_node bad :
             {ggnn_node(-1), ggnn_node(1000), std::numeric_limits<ggnn_node>::min(), GGNN_NODE_MAX}) {
            table t(f, 1000, 100, 100);
            t.begin();
            CHECK(t.append({5, 7, bad, 5, bad, 9}) == (std::vector<int32_t>{0, 1, 2, 0, 2, 3}));
            CHECK(t.ids() == (std::vector<ggnn_node>{5, 7, 0, 9}));
            CHECK_EQ(t.reported(), GGNN_ERROR_ID);
        }
    for (form f : forms) {
        table none(f, 0, 0, 10); // no node at all
        none.begin();
        CHECK(none.append({3, 4, 0, -1}) == (std::vector<int32_t>{0, 0, 0, 0}));
        CHECK_EQ(none.length(), 0);
        CHECK_EQ(none.reported(), GGNN_ERROR_ID);
    }
}

TEST(a_size_above_its_bound_is_cut_and_local_ids_need_not_be_wanted)
{
    table                   t(forms[0], 100, 100, 256);
    device_array<ggnn_node> id(random_ids(300, 100)), list(100);
    device_array<char>      workspace(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(256)));
    device_count            n(300, 256);
    host_table              twin(100, 100);
    t.begin();
    CHECK_CUDA(ggnn_cuda_unique_append(&t.seen, list.at(), nullptr, id.at(), n.get(), nullptr, workspace.at(),
                                       nullptr));
    twin.append(id.values(256));
    CHECK_EQ(t.length(), static_cast<int64_t>(twin.ids().size()));
    CHECK(list.values(t.length()) == twin.ids());
    device_count          most(256, INT32_MAX); // the last bound that may be
    device_array<int32_t> local(256);
    t.begin();
    CHECK_CUDA(ggnn_cuda_unique_append(&t.seen, list.at(), local.at(), id.at(), most.get(), nullptr, workspace.at(), nullptr));
    CHECK(list.values(t.length()) == twin.ids());
    const ggnn_count too_many = {nullptr, INT64_C(1) << 31};
    CHECK_EQ(ggnn_cuda_unique_append(&t.seen, list.at(), nullptr, id.at(), too_many, nullptr, workspace.at(),
                                     nullptr),
             cudaErrorInvalidValue);
}

#ifndef GGNN_NODE64
TEST(local_ids_may_overwrite_the_ids)
{
    for (form f : forms) {
        table                   t(f, 500, 500, 700);
        host_table              twin(500, 500);
        const auto              id = random_ids(700, 500);
        device_array<ggnn_node> both(id), list(500);
        device_array<char>      workspace(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(700)));
        t.begin();
        CHECK_CUDA(ggnn_cuda_unique_append(&t.seen, list.at(), both.at(), both.at(), {nullptr, 700}, nullptr,
                                           workspace.at(), nullptr));
        CHECK(both.values() == twin.append(id));
    }
}
#endif

// Batches around the one whose stamp is 0: entries of the batches before would win against it, were they
// left.
TEST(the_table_survives_the_wrap_of_its_stamps)
{
    enum { NODES = 5000 };
    for (form f : forms) {
        table                  t(f, NODES, NODES, NODES); // more than threads run at once
        host_table             twin(NODES, NODES);
        ggnn_cuda_unique_state state = {};
        state.last = UINT32_MAX - 3;
        CHECK_CUDA(cudaMemcpy(t.seen.state, &state, sizeof state, cudaMemcpyHostToDevice));
        for (int batch = 0; batch < 7; batch++) {
            const auto id = random_ids(NODES, NODES), more = random_ids(300, NODES);
            t.begin();
            if (batch == 3) t.begin(); // an empty batch changes nothing
            twin.begin();
            CHECK(t.append(id) == twin.append(id));
            CHECK(t.append(more) == twin.append(more)); // to the same batch, that of stamp 0, too
            CHECK(t.ids() == twin.ids());
        }
        CHECK_CUDA(cudaMemcpy(&state, t.seen.state, sizeof state, cudaMemcpyDeviceToHost));
        CHECK_EQ(state.last, 3);
    }
}

TEST(what_cannot_be_has_no_size)
{
    const int64_t nodes = INT64_C(1) << 32;
    CHECK_EQ(ggnn_cuda_unique_bytes(GGNN_UNIQUE_DIRECT, nodes, 10), 0);
    CHECK_EQ(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, 100, -1), 0);
    CHECK_EQ(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, -1, 100), 0);
    CHECK_EQ(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, nodes, nodes), 0);
    CHECK(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, nodes, 100) < 10000);
    ggnn_cuda_unique seen;
    CHECK_EQ(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, 10, 10, nullptr, nullptr), cudaErrorInvalidValue);
    table                   t({GGNN_UNIQUE_HASH, 7, 0}, 10, 10, 10); // no such group
    device_array<ggnn_node> id(random_ids(1, 10)), list(10);
    device_array<char>      workspace(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(1)));
    CHECK_EQ(ggnn_cuda_unique_append(&t.seen, list.at(), nullptr, id.at(), {nullptr, 1}, nullptr, workspace.at(), nullptr),
             cudaErrorInvalidValue);
}

// As the header says: 8 N bytes, or twice as many slots as ids, up to a power of two; a scratch of 4 bytes an input and a bit;
// what the state and sums of tiles take.
TEST(tables_and_workspaces_have_the_sizes_that_are_told)
{
    const auto bytes = [](ggnn_unique_kind kind, int64_t nodes, int64_t ids) {
        return static_cast<int64_t>(ggnn_cuda_unique_bytes(kind, nodes, ids));
    };
    const int64_t state = 256, slot = sizeof(ggnn_cuda_unique_slot), last = (INT64_C(1) << 32) - 2;
    CHECK_EQ(slot, sizeof(ggnn_node) == 4 ? 8 : 16);
    for (int64_t nodes : {0, 1, 32, 33, 1000, 4096}) {
        CHECK_EQ(bytes(GGNN_UNIQUE_DIRECT, nodes, 10), state + (8 * nodes + 255) / 256 * 256);
        CHECK_EQ(bytes(GGNN_UNIQUE_DIRECT, nodes, 1 << 20), bytes(GGNN_UNIQUE_DIRECT, nodes, 10));
        CHECK_EQ(bytes(GGNN_UNIQUE_HASH, nodes, 1 << 20), bytes(GGNN_UNIQUE_HASH, nodes, nodes)); // no more ids than nodes
    }
    for (int64_t ids : {0, 1, 15, 16, 17, 32, 33, 512, 513, 5000}) {
        int64_t slots = 32;
        while (slots < 2 * ids) slots *= 2;
        CHECK_EQ(bytes(GGNN_UNIQUE_HASH, 100000, ids), state + slots * slot);
        ggnn_cuda_unique   seen = {};
        device_array<char> memory(bytes(GGNN_UNIQUE_HASH, 100000, ids));
        memory.fill(0x5a);
        CHECK_CUDA(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, 100000, ids, memory.at(), nullptr));
        CHECK_EQ(static_cast<int64_t>(seen.mask), slots - 1);
        CHECK_EQ(seen.max_ids, ids);
        CHECK_EQ(seen.num_nodes, 100000);
        CHECK_EQ(seen.hubs, 0);
        CHECK_EQ(seen.group, GGNN_CUDA_UNIQUE_GROUP);
        ggnn_cuda_unique_state now;
        CHECK_CUDA(cudaMemcpy(&now, seen.state, sizeof now, cudaMemcpyDeviceToHost));
        CHECK(now.count == 0 && now.base == 0 && now.stamp == 0 && now.last == 0);
    }
    CHECK(bytes(GGNN_UNIQUE_DIRECT, last, 10) > 8 * last);
    CHECK_EQ(bytes(GGNN_UNIQUE_DIRECT, last + 1, 10), 0);
    CHECK_EQ(bytes(GGNN_UNIQUE_HASH, last + 1, INT32_MAX), state + (INT64_C(1) << 31) * slot); // a place is less than NOWHERE
    CHECK_EQ(bytes(GGNN_UNIQUE_HASH, last + 1, INT64_C(1) << 31), 0);
    for (int64_t n : {0, 1, 256, 257, 100000, INT32_MAX}) {
        const int64_t words = (n + 255) / 256 * 8, sums = 2048 * 8;
        CHECK_EQ(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(n)),
                 sums + (4 * n + 255) / 256 * 256 + (4 * words + 255) / 256 * 256);
    }
    CHECK_EQ(ggnn_cuda_unique_workspace_bytes(INT64_C(1) << 31), 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!device_present()) return finish_without_device();
    test_seed(51);
    RUN(append_numbers_as_the_twin_does);
    RUN(find_knows_the_ids_of_this_batch_alone);
    RUN(find_takes_any_number_of_ids_in_tables_of_any_load);
    RUN(find_leaves_out_what_had_no_room);
    if (!few_trials()) RUN(a_tile_grows_with_the_first_input_that_needs_it);
    RUN(blocks_take_tile_after_tile);
    RUN(a_block_adds_up_all_sums_before_its_tile);
    RUN(append_handles_nothing_all_equal_and_the_greatest_ids);
    RUN(what_exceeds_max_ids_is_reported_and_gets_local_id_0);
    RUN(a_hash_table_works_until_it_is_full_and_says_so);
    RUN(an_id_out_of_range_is_reported_and_counts_as_node_0);
    RUN(a_size_above_its_bound_is_cut_and_local_ids_need_not_be_wanted);
#ifndef GGNN_NODE64
    RUN(local_ids_may_overwrite_the_ids);
#endif
    RUN(the_table_survives_the_wrap_of_its_stamps);
    RUN(what_cannot_be_has_no_size);
    RUN(tables_and_workspaces_have_the_sizes_that_are_told);
    return test_finish();
}
