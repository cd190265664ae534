// A caller's mistake is cudaErrorInvalidValue (a size of 0, where a function gives a size), and no kernel runs: as
// test_arguments.c does with ggnn.h. What would be written lies on the device, and must stay as it is.
#include "ggnn_cuda.cuh"
#include "tests/cuda_memory.h"
#include "tests/methods.h"

#include <functional>
#include <thread>

enum { NODES = 4, EDGES = 5, DST = 2, SRC = 4, WIDTH = 8, HEADS = 2, CANVAS = 1 << 14 };

struct canvas { // what no refused call may write
    device_array<char> memory;

    canvas() : memory(std::vector<char>(CANVAS, 0x5a)) {}
    float*     f() { return reinterpret_cast<float*>(memory.at()); }
    int32_t*   i32() { return reinterpret_cast<int32_t*>(memory.at()); }
    int64_t*   i64() { return reinterpret_cast<int64_t*>(memory.at()); }
    ggnn_node* id() { return reinterpret_cast<ggnn_node*>(memory.at()); }
    ~canvas()
    {
        bool kept = true;
        for (char byte : memory.values()) kept = kept && byte == 0x5a;
        CHECK(kept);
    }
};

#define REFUSED(call) CHECK_EQ(static_cast<int64_t>(call), static_cast<int64_t>(cudaErrorInvalidValue))
#define NONE(call)    CHECK_EQ(static_cast<int64_t>(call), INT64_C(0))

static const int64_t   INDPTR[] = {0, 2, 4, 5, 5};
static const ggnn_node INDICES[] = {1, 2, 0, 3, 2}, IDS[] = {0, 1, 2, 3};
static const int32_t   LOCAL[] = {1, 2, 0, 3};
static const float     NUMBERS[SRC * WIDTH] = {1, 2, 3, 4};

// A graph, a block of two targets, and arrays to read, all on the device.
struct inputs {
    device_array<int64_t>   indptr{INDPTR, NODES + 1};
    device_array<ggnn_node> indices{INDICES, EDGES}, id{IDS, NODES};
    device_array<int32_t>   local{LOCAL, SRC};
    device_array<int64_t>   position{std::vector<int64_t>{1, 0}};
    device_array<float>     number{NUMBERS, SRC * WIDTH};
    device_array<ggnn_rng>  rng{std::vector<ggnn_rng>{{1, 2, GGNN_PURPOSE_SAMPLE}}};
    ggnn_graph              g = ggnn_graph_plain(indptr.at(), indices.at(), nullptr, NODES, EDGES);
    ggnn_store              store = ggnn_store_plain(number.at(), NODES, WIDTH, GGNN_F32);
    ggnn_block              b = {}, t = {}; // and what has the sizes of its transpose
    ggnn_count              n = {nullptr, 2}, negative = {nullptr, -1}, none = {nullptr, 0};

    inputs()
    {
        b.num_dst = {nullptr, DST};
        b.num_src = {nullptr, SRC};
        b.num_edges = {nullptr, 4};
        b.indptr = indptr.at();
        b.indices = local.at();
        t = b;
        t.num_dst = b.num_src;
        t.num_src = b.num_dst;
    }
};

static const int32_t WRONG_PARTS[] = {0, -5, INT32_MAX - 2};

// What the graph lacks, or which parts it cannot have; each is refused where the host knows that a list is read.
static std::vector<ggnn_graph> graphs_that_lack_an_array(const inputs& in)
{
    std::vector<ggnn_graph> wrong(5, in.g);
    wrong[0].whole.indptr = nullptr;
    wrong[1].whole.indices = nullptr;
    for (int i = 0; i < 3; i++) {
        wrong[2 + i].part = &in.g.whole; // of the host: it is not read
        wrong[2 + i].at.parts = WRONG_PARTS[i];
    }
    return wrong;
}

TEST(tables)
{
    canvas           out;
    inputs           in;
    ggnn_cuda_unique seen;
    const auto       kind = static_cast<ggnn_unique_kind>(5);
    NONE(ggnn_cuda_unique_bytes(kind, NODES, 4));
    NONE(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, -1, 4));
    NONE(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, NODES, -1));
    NONE(ggnn_cuda_unique_workspace_bytes(-1));
    REFUSED(ggnn_cuda_unique_init(&seen, kind, NODES, 4, out.f(), nullptr));
    REFUSED(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, 4, nullptr, nullptr));
    REFUSED(ggnn_cuda_unique_init(nullptr, GGNN_UNIQUE_HASH, NODES, 4, out.f(), nullptr));
    device_array<char> memory(static_cast<int64_t>(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, NODES, 4)));
    device_array<char> work(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(2)));
    CHECK_CUDA(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, 4, memory.at(), nullptr));
    REFUSED(ggnn_cuda_unique_begin(nullptr, nullptr));
    const auto append = [&](const ggnn_cuda_unique* table, ggnn_node* list, const ggnn_node* id, ggnn_count n,
                            void* workspace) {
        return ggnn_cuda_unique_append(table, list, nullptr, id, n, nullptr, workspace, nullptr);
    };
    REFUSED(append(nullptr, out.id(), in.id.at(), in.n, work.at()));
    REFUSED(append(&seen, nullptr, in.id.at(), in.n, work.at()));
    REFUSED(append(&seen, out.id(), nullptr, in.n, work.at()));
    REFUSED(append(&seen, out.id(), in.id.at(), in.negative, work.at()));
    REFUSED(append(&seen, out.id(), in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_unique_find(nullptr, out.i32(), in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_unique_find(&seen, nullptr, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_unique_find(&seen, out.i32(), nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_unique_find(&seen, out.i32(), in.id.at(), in.negative, nullptr));
    CHECK_CUDA(ggnn_cuda_unique_find(&seen, nullptr, nullptr, in.none, nullptr));
}

TEST(samples_and_walks)
{
    canvas     out;
    inputs     in;
    ggnn_walks how = {2, 3, 0.5f}, wrong = {2, 3, 2.0f};
    const ggnn_cuda_samples to = {nullptr, out.i64(), nullptr, nullptr, nullptr};
    const auto sample = [&](const ggnn_cuda_samples* samples, const ggnn_graph* g, const ggnn_node* nodes,
                            ggnn_count n, int method, const ggnn_rng* rng, int32_t hop) {
        return ggnn_cuda_sample_lists(samples, g, nodes, n, static_cast<ggnn_method>(method), 2, rng, hop,
                                      nullptr, nullptr, nullptr);
    };
    REFUSED(sample(nullptr, &in.g, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), 0));
    REFUSED(sample(&to, nullptr, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, nullptr, in.n, GGNN_RESERVOIR, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.negative, GGNN_RESERVOIR, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, GGNN_WALK, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, 77, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, -1, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, GGNN_RESERVOIR, nullptr, 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), 256));
    for (const ggnn_graph& wrong : graphs_that_lack_an_array(in)) {
        REFUSED(sample(&to, &wrong, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), 0));
        REFUSED(ggnn_cuda_random_walk(out.id(), &wrong, &how, in.rng.at(), 0, in.id.at(), in.n, nullptr, nullptr));
        if (wrong.part || !wrong.whole.indptr) { // of a graph without ids the degrees are there
            REFUSED(ggnn_cuda_gcn_norm(out.f(), &wrong, nullptr));
            REFUSED(ggnn_cuda_scale_gcn(nullptr, out.f(), out.f() + 64, &in.b, in.number.at(), &wrong, nullptr));
        }
        ggnn_block whole;
        REFUSED(ggnn_cuda_block_whole(&whole, &wrong, out.i64(), out.i32() + 100, nullptr));
    }
    NONE(ggnn_cuda_sample_workspace_bytes(static_cast<ggnn_method>(77), 2000, 4));
    NONE(ggnn_cuda_sample_workspace_bytes(GGNN_WEIGHTED, 2000, -1));
    const auto walk = [&](ggnn_node* visited, const ggnn_graph* g, const ggnn_walks* walks,
                          const ggnn_rng* rng, int32_t hop, const ggnn_node* nodes, ggnn_count n) {
        return ggnn_cuda_random_walk(visited, g, walks, rng, hop, nodes, n, nullptr, nullptr);
    };
    REFUSED(walk(nullptr, &in.g, &how, in.rng.at(), 0, in.id.at(), in.n));
    REFUSED(walk(out.id(), nullptr, &how, in.rng.at(), 0, in.id.at(), in.n));
    REFUSED(walk(out.id(), &in.g, nullptr, in.rng.at(), 0, in.id.at(), in.n));
    REFUSED(walk(out.id(), &in.g, &wrong, in.rng.at(), 0, in.id.at(), in.n));
    REFUSED(walk(out.id(), &in.g, &how, nullptr, 0, in.id.at(), in.n));
    REFUSED(walk(out.id(), &in.g, &how, in.rng.at(), -1, in.id.at(), in.n));
    REFUSED(walk(out.id(), &in.g, &how, in.rng.at(), 0, nullptr, in.n));
    REFUSED(walk(out.id(), &in.g, &how, in.rng.at(), 0, in.id.at(), in.negative));
    REFUSED(walk(out.id(), &in.g, &how, in.rng.at(), 256, in.id.at(), in.n));
    ggnn_graph crowded = in.g; // more parts than are counted
    crowded.traffic = out.i64() + 200, crowded.at.parts = GGNN_CUDA_PARTS_MAX + 1;
    REFUSED(walk(out.id(), &crowded, &how, in.rng.at(), 0, in.id.at(), in.n));
    REFUSED(sample(&to, &crowded, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), 0));
    REFUSED(sample(&to, &in.g, in.id.at(), in.n, GGNN_RESERVOIR, in.rng.at(), -1));
    const auto visit = [&](ggnn_node* id, float* visits, int64_t* taken, int32_t count, ggnn_count n) {
        return ggnn_cuda_walk_neighbors(id, visits, taken, in.indices.at(), count, 2, in.id.at(), n, nullptr,
                                        nullptr);
    };
    REFUSED(visit(nullptr, out.f(), out.i64() + 100, 2, in.n));
    REFUSED(visit(out.id(), nullptr, out.i64() + 100, 2, in.n));
    REFUSED(ggnn_cuda_walk_neighbors(out.id(), out.f(), out.i64() + 100, nullptr, 2, 2, in.id.at(), in.n, nullptr, nullptr));
    REFUSED(ggnn_cuda_walk_neighbors(out.id(), out.f(), out.i64() + 100, in.indices.at(), 2, 2, nullptr, in.n, nullptr, nullptr));
    REFUSED(visit(out.id(), out.f(), nullptr, 2, in.n));
    REFUSED(visit(out.id(), out.f(), out.i64() + 100, -2, in.n));
    REFUSED(visit(out.id(), out.f(), out.i64() + 100, 2, in.negative));
    REFUSED(visit(out.id(), out.f(), out.i64() + 100, 2000, in.n)); // needs a workspace
    NONE(ggnn_cuda_walk_workspace_bytes(-1, 4));
    NONE(ggnn_cuda_walk_workspace_bytes(2000, -4));
}

TEST(batches)
{
    canvas             out;
    inputs             in;
    const int32_t      fanout[] = {2};
    ggnn_sampling      how = ggnn_sampling_plain(GGNN_FISHER_YATES, fanout, 1);
    ggnn_cuda_batch    b;
    ggnn_batch         u;
    std::vector<char>  header(GGNN_CUDA_PACKED_HEADER, 0);
    const ggnn_rng     rng = {1, 2, 3};
    CHECK_EQ(ggnn_cuda_batch_plan(nullptr, &in.g, &how, 2, nullptr), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_plan(&b, nullptr, &how, 2, nullptr), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_plan(&b, &in.g, nullptr, 2, nullptr), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_plan(&b, &in.g, &how, 2, nullptr), GGNN_OK);
    REFUSED(ggnn_cuda_batch_init(nullptr, out.f(), nullptr));
    REFUSED(ggnn_cuda_batch_init(&b, nullptr, nullptr));
    REFUSED(ggnn_cuda_sample(&b, &in.g, in.rng.at(), in.id.at(), in.n, nullptr)); // planned only
    REFUSED(ggnn_cuda_batch_begin(&b, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample_hop(&b, &in.g, in.rng.at(), nullptr));
    REFUSED(ggnn_cuda_batch_pack(out.f(), CANVAS, &b, nullptr));
    const ggnn_cuda_batch unplanned = {};
    NONE(ggnn_cuda_batch_packed_max(nullptr));
    NONE(ggnn_cuda_batch_packed_max(&unplanned));
    CHECK_EQ(ggnn_cuda_batch_new(&b, &in.g, &how, 2, nullptr), GGNN_OK);
    REFUSED(ggnn_cuda_sample(nullptr, &in.g, in.rng.at(), in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample(&b, nullptr, in.rng.at(), in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample(&b, &in.g, nullptr, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample(&b, &in.g, in.rng.at(), nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_sample(&b, &in.g, in.rng.at(), in.id.at(), in.negative, nullptr));
    REFUSED(ggnn_cuda_batch_begin(nullptr, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample_hop(nullptr, &in.g, in.rng.at(), nullptr));
    CHECK_CUDA(ggnn_cuda_batch_begin(&b, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_sample_hop(&b, nullptr, in.rng.at(), nullptr));
    REFUSED(ggnn_cuda_sample_hop(&b, &in.g, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_sample_hop(&b, &in.g, in.rng.at(), nullptr));
    REFUSED(ggnn_cuda_sample_hop(&b, &in.g, in.rng.at(), nullptr)); // all hops are there
    REFUSED(ggnn_cuda_sample(&b, &in.g, nullptr, in.id.at(), in.n, nullptr));
    for (const ggnn_graph& wrong : graphs_that_lack_an_array(in))
        REFUSED(ggnn_cuda_sample(&b, &wrong, in.rng.at(), in.id.at(), in.n, nullptr));
    CHECK_EQ(b.num_hops, 1); // what is refused begins nothing
    REFUSED(ggnn_cuda_batch_pack(nullptr, CANVAS, &b, nullptr));
    REFUSED(ggnn_cuda_batch_pack(out.f(), CANVAS, nullptr, nullptr));
    REFUSED(ggnn_cuda_batch_pack(out.f(), GGNN_CUDA_PACKED_HEADER - 1, &b, nullptr));
    NONE(ggnn_cuda_batch_packed_bytes(nullptr));
    CHECK_EQ(ggnn_cuda_batch_unpack(nullptr, out.f(), CANVAS, header.data()), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_unpack(&u, nullptr, CANVAS, header.data()), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_unpack(&u, out.f(), CANVAS, nullptr), GGNN_ERROR_ARGUMENT);
    CHECK_EQ(ggnn_cuda_batch_unpack(&u, out.f(), CANVAS, header.data()), GGNN_ERROR_BLOCK);
    REFUSED(ggnn_cuda_count_batch(out.i64(), nullptr, nullptr, nullptr));
    const auto epoch = [&](ggnn_node* seeds, const ggnn_node* ids, int64_t num_ids, int64_t size, int64_t i) {
        ggnn_rng* step = reinterpret_cast<ggnn_rng*>(out.i64() + 20);
        return ggnn_cuda_epoch_batch(seeds, out.i64() + 10, step, ids, num_ids, size, rng, 0, i, nullptr);
    };
    REFUSED(epoch(nullptr, in.id.at(), 4, 2, 0));
    REFUSED(epoch(out.id(), nullptr, 4, 2, 0));
    REFUSED(epoch(out.id(), in.id.at(), 0, 2, 0));
    REFUSED(epoch(out.id(), in.id.at(), 4, 0, 0));
    REFUSED(epoch(out.id(), in.id.at(), 4, 2, -1));
    ggnn_rng* step = reinterpret_cast<ggnn_rng*>(out.i64() + 20);
    REFUSED(ggnn_cuda_epoch_batch(out.id(), nullptr, step, in.id.at(), 4, 2, rng, 0, 0, nullptr));
    REFUSED(ggnn_cuda_epoch_batch(out.id(), out.i64() + 10, nullptr, in.id.at(), 4, 2, rng, 0, 0, nullptr));
    CHECK_CUDA(ggnn_cuda_batch_free(&b));
    CHECK_CUDA(ggnn_cuda_batch_free(nullptr));
}

TEST(blocks)
{
    canvas     out;
    inputs     in;
    ggnn_block t = {}, no_lists = in.b, negative = in.b;
    ggnn_graph many = in.g;
    many.num_nodes = INT64_C(1) << 31;
    no_lists.indptr = nullptr;
    negative.num_src.max = -1;
    t.num_dst.max = t.num_src.max = t.num_edges.max = 9;
    REFUSED(ggnn_cuda_block_whole(nullptr, &in.g, out.i64(), out.i32() + 100, nullptr));
    REFUSED(ggnn_cuda_block_whole(&t, nullptr, out.i64(), out.i32() + 100, nullptr));
    REFUSED(ggnn_cuda_block_whole(&t, &in.g, nullptr, out.i32() + 100, nullptr));
    REFUSED(ggnn_cuda_block_whole(&t, &many, out.i64(), out.i32() + 100, nullptr));
    many.num_nodes = -1;
    REFUSED(ggnn_cuda_block_whole(&t, &many, out.i64(), out.i32() + 100, nullptr));
    for (int64_t edges : {INT64_C(1) << 31, INT64_C(-1)}) {
        many = in.g;
        many.num_edges = edges;
        REFUSED(ggnn_cuda_block_whole(&t, &many, out.i64(), out.i32() + 100, nullptr));
    }
    NONE(ggnn_cuda_block_transpose_bytes(-1, SRC, 4));
    NONE(ggnn_cuda_block_transpose_bytes(DST, -1, 4));
    NONE(ggnn_cuda_block_transpose_bytes(DST, SRC, -1));
    NONE(ggnn_cuda_block_transpose_workspace_bytes(-1));
    for (int64_t large : {INT64_C(1) << 31, INT64_MAX}) { // local ids and edges are numbers of 31 bits
        NONE(ggnn_cuda_block_transpose_bytes(large, SRC, 4));
        NONE(ggnn_cuda_block_transpose_bytes(DST, large, 4));
        NONE(ggnn_cuda_block_transpose_bytes(DST, SRC, large));
        NONE(ggnn_cuda_block_transpose_workspace_bytes(large));
        REFUSED(ggnn_cuda_block_transpose_init(&t, large, SRC, 4, out.f()));
        REFUSED(ggnn_cuda_block_transpose_init(&t, DST, large, 4, out.f()));
        REFUSED(ggnn_cuda_block_transpose_init(&t, DST, SRC, large, out.f()));
    }
    REFUSED(ggnn_cuda_block_transpose_init(nullptr, DST, SRC, 4, out.f()));
    REFUSED(ggnn_cuda_block_transpose_init(&t, DST, SRC, 4, nullptr));
    REFUSED(ggnn_cuda_block_transpose_init(&t, DST, -1, 4, out.f()));
    REFUSED(ggnn_cuda_block_transpose_init(&t, -1, SRC, 4, out.f()));
    REFUSED(ggnn_cuda_block_transpose_init(&t, DST, SRC, -1, out.f()));
    device_array<char> room(static_cast<int64_t>(ggnn_cuda_block_transpose_workspace_bytes(SRC))); // all that a call needs
    char* const        work = room.at();
    REFUSED(ggnn_cuda_block_transpose(&t, &in.b, work, nullptr)); // not initialised
    CHECK_CUDA(ggnn_cuda_block_transpose_init(&t, DST, SRC, 4, out.f()));
    REFUSED(ggnn_cuda_block_transpose(nullptr, &in.b, work, nullptr));
    REFUSED(ggnn_cuda_block_transpose(&t, nullptr, work, nullptr));
    REFUSED(ggnn_cuda_block_transpose(&t, &in.b, nullptr, nullptr));
    REFUSED(ggnn_cuda_block_transpose(&t, &no_lists, work, nullptr));
    REFUSED(ggnn_cuda_block_transpose(&t, &negative, work, nullptr));
    for (ggnn_count ggnn_block::*size : {&ggnn_block::num_dst, &ggnn_block::num_src, &ggnn_block::num_edges}) {
        ggnn_block wrong = in.b;
        (wrong.*size).max = -1;
        REFUSED(ggnn_cuda_block_transpose(&t, &wrong, work, nullptr));
    }
    t.num_edges.max = 3;
    REFUSED(ggnn_cuda_block_transpose(&t, &in.b, work, nullptr));
}

TEST(rows)
{
    canvas      out;
    inputs      in;
    ggnn_store  empty = in.store, unknown = in.store;
    ggnn_layout at = {nullptr, 0, nullptr, nullptr, NODES, 2}, no_parts = at;
    const auto  type = static_cast<ggnn_type>(7);
    empty.rows = nullptr;
    unknown.type = type;
    no_parts.parts = 0;
    const auto gather = [&](void* to, int64_t ld, ggnn_type as, const ggnn_store* from, const ggnn_node* id,
                            ggnn_count n) { return ggnn_cuda_gather(to, ld, as, from, id, n, nullptr); };
    REFUSED(gather(nullptr, WIDTH, GGNN_F32, &in.store, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH - 1, GGNN_F32, &in.store, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH, type, &in.store, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH, GGNN_F32, nullptr, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH, GGNN_F32, &empty, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH, GGNN_F32, &unknown, in.id.at(), in.n));
    REFUSED(gather(out.f(), WIDTH, GGNN_F32, &in.store, nullptr, in.n));
    REFUSED(gather(out.f(), WIDTH, GGNN_F32, &in.store, in.id.at(), in.negative));
    CHECK_CUDA(gather(nullptr, WIDTH, GGNN_F32, &empty, nullptr, in.none));
    const void*             base[4] = {}; // of the host: it is not read
    std::vector<ggnn_store> wrong(6, in.store);
    wrong[0].pitch = 4 * WIDTH - 4, wrong[1].pitch = -4 * WIDTH, wrong[2].pitch = 4 * WIDTH + 2;
    for (int i = 0; i < 3; i++) wrong[3 + i].base = base, wrong[3 + i].at.parts = WRONG_PARTS[i];
    for (const ggnn_store& from : wrong) {
        REFUSED(gather(out.f(), WIDTH, GGNN_F32, &from, in.id.at(), in.n));
        REFUSED(ggnn_cuda_aggregate(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, nullptr, 1, &from, nullptr));
    }
    REFUSED(ggnn_cuda_gather_device(nullptr, WIDTH, GGNN_F32, &in.store, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_gather_host(out.f(), WIDTH, GGNN_F32, &in.store, in.id.at(), in.n, 0, nullptr));
    const int64_t* position = in.position.at();
    REFUSED(ggnn_cuda_gather_edges(nullptr, WIDTH, GGNN_F32, &in.store, position, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_edges(out.f(), WIDTH, GGNN_F32, nullptr, position, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_edges(out.f(), WIDTH, GGNN_F32, &in.store, nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_edges(out.f(), WIDTH, GGNN_F32, &in.store, position, in.negative, nullptr));
    REFUSED(ggnn_cuda_gather_marked(nullptr, WIDTH, GGNN_F32, &in.store, position, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_marked(out.f(), WIDTH, GGNN_F32, nullptr, position, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_marked(out.f(), WIDTH, GGNN_F32, &in.store, nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_gather_marked(out.f(), WIDTH, GGNN_F32, &in.store, position, in.negative, nullptr));
    ggnn_layout many = in.store.at;
    REFUSED(ggnn_cuda_mark(nullptr, &many, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_mark(out.i64(), nullptr, in.id.at(), in.n, nullptr));
    REFUSED(ggnn_cuda_mark(out.i64(), &many, nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_mark(out.i64(), &many, in.id.at(), in.negative, nullptr));
    many.parts = (1 << 23) - 1;
    REFUSED(ggnn_cuda_mark(out.i64(), &many, in.id.at(), in.n, nullptr));
    const auto permute = [&](void* to, int64_t ld, const void* from, ggnn_type as, int32_t width,
                             const int32_t* index, ggnn_count n) {
        return ggnn_cuda_permute(to, ld, from, WIDTH, as, width, index, n, nullptr);
    };
    REFUSED(permute(nullptr, WIDTH, in.number.at(), GGNN_F32, WIDTH, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH - 1, in.number.at(), GGNN_F32, WIDTH, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH, nullptr, GGNN_F32, WIDTH, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH, in.number.at(), type, WIDTH, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH + 1, in.number.at(), GGNN_F32, WIDTH + 1, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH, in.number.at(), GGNN_F32, -1, in.local.at(), in.n));
    REFUSED(permute(out.f(), WIDTH, in.number.at(), GGNN_F32, WIDTH, nullptr, in.n));
    REFUSED(permute(out.f(), WIDTH, in.number.at(), GGNN_F32, WIDTH, in.local.at(), in.negative));
    const auto split = [&](int32_t* to, int64_t* bound, const ggnn_layout* layout, const ggnn_node* id,
                           ggnn_count n, void* work) {
        return ggnn_cuda_split(to, out.i32() + 100, bound, layout, id, n, work, nullptr);
    };
    char* work = out.memory.at() + CANVAS / 2;
    REFUSED(split(nullptr, out.i64() + 200, &at, in.id.at(), in.n, work));
    REFUSED(split(out.i32(), nullptr, &at, in.id.at(), in.n, work));
    REFUSED(split(out.i32(), out.i64() + 200, nullptr, in.id.at(), in.n, work));
    REFUSED(split(out.i32(), out.i64() + 200, &no_parts, in.id.at(), in.n, work));
    REFUSED(split(out.i32(), out.i64() + 200, &at, nullptr, in.n, work));
    REFUSED(split(out.i32(), out.i64() + 200, &at, in.id.at(), in.negative, work));
    REFUSED(split(out.i32(), out.i64() + 200, &at, in.id.at(), in.n, nullptr));
    ggnn_layout      most = at;
    const ggnn_count too_many = {nullptr, INT64_C(1) << 31};
    most.parts = GGNN_CUDA_PARTS_MAX + 1;
    REFUSED(split(out.i32(), out.i64() + 200, &most, in.id.at(), in.n, work));
    REFUSED(split(out.i32(), out.i64() + 200, &at, in.id.at(), too_many, work));
    REFUSED(ggnn_cuda_split(out.i32(), nullptr, out.i64() + 200, &at, in.id.at(), in.n, work, nullptr));
    NONE(ggnn_cuda_split_workspace_bytes(-1, 2));
    NONE(ggnn_cuda_split_workspace_bytes(2, 0));
}

TEST(sums)
{
    canvas       out;
    inputs       in;
    const float* x = in.number.at();
    ggnn_block   no_sources = in.b;
    ggnn_scale   scale = {x, nullptr, nullptr};
    ggnn_store   empty = in.store;
    empty.rows = nullptr;
    no_sources.indices = nullptr;
    const auto spmm = [&](float* to, int64_t ld, int how, const ggnn_block* b, const ggnn_scale* s,
                          const float* weight, int32_t heads, const float* inp, int32_t width) {
        return ggnn_cuda_spmm(to, ld, nullptr, static_cast<ggnn_reduce>(how), b, s, weight, heads, inp, WIDTH,
                              width, nullptr);
    };
    REFUSED(spmm(nullptr, WIDTH, GGNN_SUM, &in.b, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH - 1, GGNN_SUM, &in.b, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, 4, &in.b, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, -1, &in.b, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, nullptr, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &no_sources, nullptr, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_MAX, &in.b, &scale, nullptr, 1, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, nullptr, 2, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, x, 3, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, x, 0, x, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, nullptr, 1, nullptr, WIDTH));
    REFUSED(spmm(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr, nullptr, 1, x, -1));
    const auto messages = [&](float* to, int how, int message, const ggnn_block* b, const ggnn_scale* s, int32_t heads, const float* inp, const float* edge) {
        return ggnn_cuda_spmm_edges(to, WIDTH, nullptr, static_cast<ggnn_reduce>(how), static_cast<ggnn_message>(message), b, s, nullptr, heads, inp, WIDTH, edge, WIDTH, WIDTH, nullptr);
    };
    const ggnn_scale self = {nullptr, nullptr, x};
    const float*     made = out.f() + 4 * WIDTH; // rows of edges
    REFUSED(messages(nullptr, GGNN_SUM, GGNN_EDGE_PLUS, &in.b, nullptr, 1, x, made));
    REFUSED(messages(out.f(), 4, GGNN_EDGE_PLUS, &in.b, nullptr, 1, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, 3, &in.b, nullptr, 1, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_PLUS, nullptr, nullptr, 1, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_PLUS, &no_sources, nullptr, 1, x, made));
    REFUSED(messages(out.f(), GGNN_MAX, GGNN_EDGE_TIMES, &in.b, nullptr, 1, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_COPY, &in.b, &self, 1, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_PLUS, &in.b, nullptr, 2, x, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_PLUS, &in.b, nullptr, 1, nullptr, made));
    REFUSED(messages(out.f(), GGNN_SUM, GGNN_EDGE_COPY, &in.b, nullptr, 1, nullptr, nullptr));
    const auto messages_back = [&](float* to, int message, const ggnn_block* b, int32_t heads, const float* inp, const float* dout, const int32_t* arg) {
        return ggnn_cuda_spmm_edges_back(to, WIDTH, static_cast<ggnn_message>(message), b, nullptr, nullptr, heads, inp, WIDTH, dout, WIDTH, arg, WIDTH, nullptr);
    };
    REFUSED(messages_back(nullptr, GGNN_EDGE_PLUS, &in.b, 1, nullptr, x, nullptr));
    REFUSED(messages_back(out.f(), 3, &in.b, 1, x, x, nullptr));
    REFUSED(messages_back(out.f(), GGNN_EDGE_PLUS, &no_sources, 1, nullptr, x, nullptr));
    REFUSED(messages_back(out.f(), GGNN_EDGE_TIMES, &in.b, 1, nullptr, x, nullptr));
    REFUSED(messages_back(out.f(), GGNN_EDGE_TIMES, &in.b, 1, x, x, in.local.at()));
    REFUSED(messages_back(out.f(), GGNN_EDGE_PLUS, &in.b, 1, nullptr, nullptr, nullptr));
    REFUSED(messages_back(out.f(), GGNN_EDGE_PLUS, &in.b, 2, nullptr, x, nullptr));
    REFUSED(ggnn_cuda_sum(out.f(), nullptr, x, WIDTH, nullptr));
    REFUSED(ggnn_cuda_mean(nullptr, &in.b, x, WIDTH, nullptr));
    const auto fuse = [&](float* to, int64_t ld, int how, const ggnn_block* b, const ggnn_store* from) {
        return ggnn_cuda_aggregate(to, ld, static_cast<ggnn_reduce>(how), b, nullptr, nullptr, 1, from,
                                   nullptr);
    };
    REFUSED(fuse(nullptr, WIDTH, GGNN_SUM, &in.b, &in.store));
    REFUSED(fuse(out.f(), WIDTH - 1, GGNN_SUM, &in.b, &in.store));
    REFUSED(fuse(out.f(), WIDTH, 4, &in.b, &in.store));
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, nullptr, &in.store));
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, &no_sources, &in.store));
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, &in.b, nullptr));
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, &in.b, &empty));
    ggnn_block edgeless = in.b; // own rows are read all the same, where there are any
    ggnn_scale own = {nullptr, nullptr, x};
    edgeless.num_edges = in.none;
    REFUSED(ggnn_cuda_aggregate(out.f(), WIDTH, GGNN_SUM, &edgeless, &own, nullptr, 1, &empty, nullptr));
    empty.width = 0;
    CHECK_CUDA(ggnn_cuda_aggregate(out.f(), 0, GGNN_SUM, &edgeless, &own, nullptr, 1, &empty, nullptr));
    empty.width = WIDTH;
    ggnn_block global = edgeless, neither = edgeless; // all targets of a global hop have own rows, of none of no sources
    global.indices = neither.indices = nullptr;
    global.neighbor = in.id.at();
    global.num_src = neither.num_src = in.none;
    const device_array<int64_t> no_lists(std::vector<int64_t>(DST + 1));
    const device_array<float>   zeros(DST * WIDTH);
    neither.indptr = no_lists.at();
    REFUSED(ggnn_cuda_aggregate(out.f(), WIDTH, GGNN_SUM, &global, &own, nullptr, 1, &empty, nullptr));
    CHECK_CUDA(ggnn_cuda_aggregate(zeros.at(), WIDTH, GGNN_SUM, &neither, &own, nullptr, 1, &empty, nullptr));
    CHECK(zeros.values() == std::vector<float>(DST * WIDTH));
    ggnn_store crowded = in.store, unknown = in.store; // more parts than are counted
    crowded.traffic = out.i64() + 200, crowded.at.parts = GGNN_CUDA_PARTS_MAX + 1;
    unknown.type = static_cast<ggnn_type>(7);
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, &in.b, &crowded));
    REFUSED(fuse(out.f(), WIDTH, GGNN_SUM, &in.b, &unknown));
    ggnn_block no_indices = in.t;
    no_indices.indices = nullptr;
    const auto back = [&](float* to, const ggnn_block* t, const ggnn_block* b, int32_t heads,
                          const float* dout, const int32_t* arg) {
        return ggnn_cuda_spmm_back_arg(to, WIDTH, t, b, nullptr, heads, dout, WIDTH, arg, WIDTH, nullptr);
    };
    REFUSED(back(nullptr, &in.t, &in.b, 1, x, in.local.at()));
    REFUSED(back(out.f(), nullptr, &in.b, 1, x, in.local.at()));
    REFUSED(back(out.f(), &in.t, nullptr, 1, x, in.local.at()));
    REFUSED(back(out.f(), &in.t, &in.b, 3, x, in.local.at()));
    REFUSED(back(out.f(), &in.t, &in.b, 1, nullptr, in.local.at()));
    REFUSED(back(out.f(), &in.t, &in.b, 1, x, nullptr));
    REFUSED(ggnn_cuda_spmm_back_arg(out.f(), WIDTH - 1, &in.t, &in.b, nullptr, 1, x, WIDTH, in.local.at(), WIDTH, nullptr));
    REFUSED(ggnn_cuda_spmm_back_arg(out.f(), WIDTH, &in.t, &in.b, nullptr, 1, x, WIDTH - 1, in.local.at(), WIDTH, nullptr));
    REFUSED(ggnn_cuda_spmm_back_arg(out.f(), WIDTH, &no_indices, &in.b, nullptr, 1, x, WIDTH, in.local.at(), WIDTH, nullptr));
    for (ggnn_count ggnn_block::*size : {&ggnn_block::num_dst, &ggnn_block::num_src, &ggnn_block::num_edges}) {
        ggnn_block other = in.t; // the transpose of another block
        (other.*size).max--;
        REFUSED(back(out.f(), &other, &in.b, 1, x, in.local.at()));
    }
    const auto atomic = [&](const ggnn_block* b, int64_t ld, int32_t heads, const float* dout, int64_t ld_dout, int32_t width) {
        return ggnn_cuda_spmm_atomic(out.f(), ld, b, nullptr, nullptr, heads, dout, ld_dout, width, nullptr);
    };
    REFUSED(atomic(&no_sources, WIDTH, 1, x, WIDTH, WIDTH));
    REFUSED(atomic(&in.b, WIDTH - 1, 1, x, WIDTH, WIDTH));
    REFUSED(atomic(&in.b, WIDTH, 0, x, WIDTH, WIDTH));
    REFUSED(atomic(&in.b, WIDTH, 3, x, WIDTH, WIDTH));
    REFUSED(atomic(&in.b, WIDTH, 1, nullptr, WIDTH, WIDTH));
    REFUSED(atomic(&in.b, WIDTH, 1, x, WIDTH - 1, WIDTH));
    REFUSED(atomic(&in.b, WIDTH, 1, x, WIDTH, -1));
    REFUSED(ggnn_cuda_spmm_atomic(nullptr, WIDTH, &in.b, nullptr, nullptr, 1, x, WIDTH, WIDTH, nullptr));
    REFUSED(ggnn_cuda_spmm_atomic(out.f(), WIDTH, nullptr, nullptr, nullptr, 1, x, WIDTH, WIDTH, nullptr));
    REFUSED(ggnn_cuda_scale_mean(nullptr, &in.b, 0, nullptr));
    REFUSED(ggnn_cuda_scale_mean(out.f(), nullptr, 0, nullptr));
    REFUSED(ggnn_cuda_gcn_norm(nullptr, &in.g, nullptr));
    REFUSED(ggnn_cuda_gcn_norm(out.f(), nullptr, nullptr));
    REFUSED(ggnn_cuda_scale_gcn(nullptr, nullptr, out.f(), &in.b, x, &in.g, nullptr));
    REFUSED(ggnn_cuda_scale_gcn(nullptr, out.f(), nullptr, &in.b, x, &in.g, nullptr));
    REFUSED(ggnn_cuda_scale_gcn(nullptr, out.f(), out.f() + 100, nullptr, x, &in.g, nullptr));
    REFUSED(ggnn_cuda_scale_gcn(nullptr, out.f(), out.f() + 100, &in.b, nullptr, &in.g, nullptr));
    REFUSED(ggnn_cuda_scale_gcn(nullptr, out.f(), out.f() + 100, &in.b, x, nullptr, nullptr));
    edgeless.num_dst = in.none; // its sources are read all the same
    REFUSED(ggnn_cuda_scale_gcn(out.f(), nullptr, nullptr, &edgeless, nullptr, &in.g, nullptr));
}

TEST(edges)
{
    canvas       out;
    inputs       in;
    const float* x = in.number.at();
    const auto   sddmm = [&](float* to, int how, const ggnn_block* b, const float* src, const float* dst,
                           int32_t heads, int32_t width) {
        return ggnn_cuda_sddmm(to, static_cast<ggnn_edge_op>(how), b, src, WIDTH, dst, WIDTH, heads, width,
                               nullptr);
    };
    REFUSED(sddmm(nullptr, GGNN_DOT, &in.b, x, x, 1, WIDTH));
    REFUSED(sddmm(out.f(), 2, &in.b, x, x, 1, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_ADD, &in.b, x, x, 1, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_DOT, nullptr, x, x, 1, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_DOT, &in.b, nullptr, x, 1, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_DOT, &in.b, x, nullptr, 1, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_DOT, &in.b, x, x, 3, WIDTH));
    REFUSED(sddmm(out.f(), GGNN_DOT, &in.b, x, x, 1, WIDTH + 1));
    REFUSED(sddmm(out.f(), GGNN_DOT, &in.b, x, x, 1, 0));
    REFUSED(ggnn_cuda_edge_sum(nullptr, &in.b, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_sum(out.f(), nullptr, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_sum(out.f(), &in.b, nullptr, 1, nullptr));
    REFUSED(ggnn_cuda_edge_sum(out.f(), &in.b, x, 0, nullptr));
    REFUSED(ggnn_cuda_edge_sum(out.f(), &in.b, x, 1 << 30, nullptr));
    REFUSED(ggnn_cuda_scale_weights(nullptr, &in.b, x, nullptr));
    REFUSED(ggnn_cuda_scale_weights(out.f(), nullptr, x, nullptr));
    REFUSED(ggnn_cuda_scale_weights(out.f(), &in.b, nullptr, nullptr));
    REFUSED(ggnn_cuda_edge_softmax(nullptr, &in.b, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax(out.f(), nullptr, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax(out.f(), &in.b, nullptr, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax(out.f(), &in.b, x, 0, nullptr));
    REFUSED(ggnn_cuda_edge_softmax_back(nullptr, &in.b, x, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax_back(out.f(), nullptr, x, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax_back(out.f(), &in.b, nullptr, x, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax_back(out.f(), &in.b, x, nullptr, 1, nullptr));
    REFUSED(ggnn_cuda_edge_softmax_back(out.f(), &in.b, x, x, 0, nullptr));
    REFUSED(ggnn_cuda_exp2_array(nullptr, in.n, nullptr));
    REFUSED(ggnn_cuda_exp2_array(out.f(), in.negative, nullptr));
    CHECK_CUDA(ggnn_cuda_exp2_array(nullptr, in.none, nullptr));
}

TEST(attention)
{
    canvas       out;
    inputs       in;
    const float* x = in.number.at();
    const auto   scores = [&](float* el, const float* z, int64_t ld, const float* att, ggnn_count n,
                            int32_t heads, int32_t width) {
        return ggnn_cuda_scores(el, z, ld, att, n, heads, width, nullptr);
    };
    REFUSED(scores(nullptr, x, WIDTH, x, in.n, HEADS, WIDTH));
    REFUSED(scores(out.f(), nullptr, WIDTH, x, in.n, HEADS, WIDTH));
    REFUSED(scores(out.f(), x, WIDTH - 1, x, in.n, HEADS, WIDTH));
    REFUSED(scores(out.f(), x, WIDTH, nullptr, in.n, HEADS, WIDTH));
    REFUSED(scores(out.f(), x, WIDTH, x, in.negative, HEADS, WIDTH));
    REFUSED(scores(out.f(), x, WIDTH, x, in.n, 3, WIDTH));
    REFUSED(scores(out.f(), x, WIDTH, x, in.n, HEADS, 0));
    const auto back = [&](float* dz, float* datt, const float* del, const float* z, const float* att,
                          ggnn_count n, int32_t heads, void* work) {
        return ggnn_cuda_scores_back(dz, WIDTH, datt, del, z, WIDTH, att, n, heads, WIDTH, work, nullptr);
    };
    float *to = out.f(), *also = out.f() + 200, *work = out.f() + 400;
    REFUSED(back(nullptr, also, x, x, x, in.n, HEADS, work));
    REFUSED(back(to, nullptr, x, x, x, in.n, HEADS, work));
    REFUSED(back(to, also, nullptr, x, x, in.n, HEADS, work));
    REFUSED(back(to, also, x, nullptr, x, in.n, HEADS, work));
    REFUSED(back(to, also, x, x, nullptr, in.n, HEADS, work));
    REFUSED(back(to, also, x, x, x, in.negative, HEADS, work));
    REFUSED(back(to, also, x, x, x, in.n, 0, work));
    REFUSED(back(to, also, x, x, x, in.n, HEADS, nullptr));
    for (int which = 0; which < 2; which++)
        REFUSED(ggnn_cuda_scores_back(to, WIDTH - which, also, x, x, WIDTH - 1 + which, x, in.n, HEADS, WIDTH, work, nullptr));
    REFUSED(back(to, also, x, x, x, in.n, 3, work));
    REFUSED(ggnn_cuda_scores_back(to, WIDTH, also, x, x, WIDTH, x, in.n, HEADS, 0, work, nullptr));
    NONE(ggnn_cuda_scores_back_workspace_bytes(-1, WIDTH));
    for (int64_t rows : {0, 1, 256, 257, 1000}) // a sum for each 256 rows
        CHECK_EQ(static_cast<int64_t>(ggnn_cuda_scores_back_workspace_bytes(rows, WIDTH)), (rows + 255) / 256 * WIDTH * 4);
    NONE(ggnn_cuda_scores_back_workspace_bytes(4, -1));
}

// A layer that lacks one thing after another.
TEST(layers)
{
    canvas         out;
    inputs         in;
    float*         x = in.number.at();
    ggnn_gat_layer good = {};
    good.block = &in.b;
    good.z = x, good.ld_z = WIDTH, good.heads = HEADS, good.width = WIDTH;
    good.how.slope = 0.2f;
    good.how.rng = {1, 2, GGNN_PURPOSE_ATTENTION_DROPOUT};
    good.el = x, good.er = x;
    good.out = out.f(), good.ld_out = WIDTH, good.lse = out.f() + 100;
    good.del = out.f() + 200, good.der = out.f() + 300, good.delta = out.f() + 400;
    good.dlogit = out.f() + 500, good.coef = out.f() + 600;
    const auto wrong = [&](void (*spoil)(ggnn_gat_layer*)) {
        ggnn_gat_layer y = good;
        spoil(&y);
        REFUSED(ggnn_cuda_gat(&y, nullptr, nullptr));
        REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, &in.t, &y, x, WIDTH, nullptr, nullptr));
    };
    wrong([](ggnn_gat_layer* y) { y->block = nullptr; });
    wrong([](ggnn_gat_layer* y) { /* a target's entries are counted in 32 bits */
        static ggnn_block most;
        most = *y->block;
        most.num_edges = {nullptr, INT32_MAX};
        y->block = &most;
    });
    wrong([](ggnn_gat_layer* y) { y->z = nullptr; });
    wrong([](ggnn_gat_layer* y) { y->ld_z = WIDTH - 1; });
    wrong([](ggnn_gat_layer* y) { y->out = nullptr; });
    wrong([](ggnn_gat_layer* y) { y->ld_out = WIDTH - 1; });
    wrong([](ggnn_gat_layer* y) { y->el = nullptr; });
    wrong([](ggnn_gat_layer* y) { y->er = nullptr; });
    wrong([](ggnn_gat_layer* y) { y->lse = nullptr; });
    wrong([](ggnn_gat_layer* y) { y->term = y->z, y->dterm = y->delta; });
    wrong([](ggnn_gat_layer* y) { y->heads = 3; });
    wrong([](ggnn_gat_layer* y) { y->heads = 0; });
    wrong([](ggnn_gat_layer* y) { y->width = 0; });
    wrong([](ggnn_gat_layer* y) { y->how.layer = 256; });
    wrong([](ggnn_gat_layer* y) { y->how.layer = -1; });
    wrong([](ggnn_gat_layer* y) { y->how.slope = -0.1f; });
    wrong([](ggnn_gat_layer* y) { y->how.dropout = 1.0f; });
    wrong([](ggnn_gat_layer* y) { y->how.dropout = NAN; });
    wrong([](ggnn_gat_layer* y) { y->how.dropout = -0.1f; });
    wrong([](ggnn_gat_layer* y) { y->how.slope = NAN; });
    wrong([](ggnn_gat_layer* y) { y->how.dropout = 0.5f, y->how.rng.purpose = 0; });
    REFUSED(ggnn_cuda_gat(nullptr, nullptr, nullptr));
    const auto back = [&](void (*spoil)(ggnn_gat_layer*)) {
        ggnn_gat_layer y = good;
        spoil(&y);
        REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, &in.t, &y, x, WIDTH, nullptr, nullptr));
    };
    back([](ggnn_gat_layer* y) { y->del = nullptr; });
    back([](ggnn_gat_layer* y) { y->der = nullptr; });
    back([](ggnn_gat_layer* y) { y->delta = nullptr; });
    back([](ggnn_gat_layer* y) { y->dlogit = nullptr; });
    back([](ggnn_gat_layer* y) { y->coef = nullptr; });
    back([](ggnn_gat_layer* y) { y->att_l = y->z, y->partial = y->delta; });
    back([](ggnn_gat_layer* y) { y->att_r = y->z, y->datt_r = y->delta; });
    back([](ggnn_gat_layer* y) { y->term = y->z, y->own_term = y->lse; });
    REFUSED(ggnn_cuda_gat_back(nullptr, WIDTH, &in.t, &good, x, WIDTH, nullptr, nullptr));
    REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH - 1, &in.t, &good, x, WIDTH, nullptr, nullptr));
    REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, nullptr, &good, x, WIDTH, nullptr, nullptr));
    REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, &in.t, &good, nullptr, WIDTH, nullptr, nullptr));
    REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, &in.t, &good, x, WIDTH - 1, nullptr, nullptr));
    for (ggnn_count ggnn_block::*size : {&ggnn_block::num_dst, &ggnn_block::num_src, &ggnn_block::num_edges}) {
        ggnn_block other = in.t; // the transpose of another block
        (other.*size).max--;
        REFUSED(ggnn_cuda_gat_back(out.f() + 800, WIDTH, &other, &good, x, WIDTH, nullptr, nullptr));
    }
}

// NULL is refused where the host knows that an element would be read or written: of a size that it knows to be 0 nothing
// needs an array, and the last layer and loan that there may be are good.
// The host does not know the size, so it refuses no NULL.
TEST(nothing_of_a_size_that_turns_out_0_needs_an_array)
{
    inputs                  in;
    const device_count      on_device(0, 4);
    const ggnn_count        none = on_device.get();
    const ggnn_cuda_samples nothing = {};
    const ggnn_rng*         rng = in.rng.at();
    ggnn_walks              how = {2, 3, 0.5f};
    ggnn_cuda_unique        seen;
    device_array<char>      table(static_cast<int64_t>(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, NODES, NODES)));
    device_array<char>      work(static_cast<int64_t>(ggnn_cuda_unique_workspace_bytes(4)));
    ggnn_store              rows = ggnn_store_plain(nullptr, NODES, WIDTH, GGNN_F32);
    CHECK_CUDA(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, NODES, table.at(), nullptr));
    CHECK_CUDA(ggnn_cuda_unique_append(&seen, nullptr, nullptr, nullptr, none, nullptr, work.at(), nullptr));
    CHECK_CUDA(ggnn_cuda_unique_find(&seen, nullptr, nullptr, none, nullptr));
    CHECK_CUDA(ggnn_cuda_sample_lists(&nothing, &in.g, nullptr, none, GGNN_REJECTION, 2, rng, 0, nullptr, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_random_walk(nullptr, &in.g, &how, rng, 0, nullptr, none, nullptr, nullptr));
    for (int32_t count : {2, 100}) CHECK_CUDA(ggnn_cuda_walk_neighbors(nullptr, nullptr, nullptr, nullptr, count, 2, nullptr, none, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_gather(nullptr, WIDTH, GGNN_F32, &rows, nullptr, none, nullptr));
    CHECK_CUDA(ggnn_cuda_permute(nullptr, WIDTH, nullptr, WIDTH, GGNN_F16, WIDTH, nullptr, none, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
}

TEST(nothing_of_a_known_size_0_needs_an_array)
{
    inputs                in;
    const ggnn_block      none = {};
    const ggnn_graph      empty = ggnn_graph_plain(nullptr, nullptr, nullptr, 0, 0);
    const ggnn_count      zero = in.none;
    const ggnn_rng*       rng = in.rng.at();
    ggnn_walks            how = {2, 3, 0.5f};
    ggnn_store            rows = ggnn_store_plain(nullptr, NODES, WIDTH, GGNN_F32);
    const ggnn_layout     at = {nullptr, 0, nullptr, nullptr, NODES, 2};
    device_array<float>   column(WIDTH);
    device_array<int64_t> counts(9);
    for (int reduce = GGNN_SUM; reduce <= GGNN_MIN; reduce++) {
        CHECK_CUDA(ggnn_cuda_spmm(nullptr, WIDTH, nullptr, static_cast<ggnn_reduce>(reduce), &none, nullptr, nullptr, 1, nullptr, WIDTH, WIDTH, nullptr));
        CHECK_CUDA(ggnn_cuda_aggregate(nullptr, WIDTH, static_cast<ggnn_reduce>(reduce), &none, nullptr, nullptr, 1, &rows, nullptr));
    }
    CHECK_CUDA(ggnn_cuda_sum(nullptr, &none, nullptr, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_mean(nullptr, &none, nullptr, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_spmm_back_arg(nullptr, WIDTH, &none, &none, nullptr, 1, nullptr, WIDTH, nullptr, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_spmm_atomic(nullptr, WIDTH, &none, nullptr, nullptr, 1, nullptr, WIDTH, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_scale_mean(nullptr, &none, 1, nullptr));
    CHECK_CUDA(ggnn_cuda_gcn_norm(nullptr, &empty, nullptr));
    CHECK_CUDA(ggnn_cuda_scale_gcn(nullptr, nullptr, nullptr, &none, nullptr, &empty, nullptr));
    CHECK_CUDA(ggnn_cuda_sddmm(nullptr, GGNN_DOT, &none, nullptr, WIDTH, nullptr, WIDTH, HEADS, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_sddmm(nullptr, GGNN_ADD, &none, nullptr, HEADS, nullptr, HEADS, HEADS, HEADS, nullptr));
    CHECK_CUDA(ggnn_cuda_edge_sum(nullptr, &none, nullptr, 1, nullptr));
    CHECK_CUDA(ggnn_cuda_scale_weights(nullptr, &none, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_edge_softmax(nullptr, &none, nullptr, 1, nullptr));
    CHECK_CUDA(ggnn_cuda_edge_softmax_back(nullptr, &none, nullptr, nullptr, 1, nullptr));
    CHECK_CUDA(ggnn_cuda_scores(nullptr, nullptr, WIDTH, nullptr, zero, HEADS, WIDTH, nullptr));
    CHECK_CUDA(ggnn_cuda_scores_back(nullptr, WIDTH, column.at(), nullptr, nullptr, WIDTH, nullptr, zero, HEADS, WIDTH, nullptr, nullptr));
    CHECK(column.values() == std::vector<float>(WIDTH)); // a sum of no rows
    ggnn_gat_layer layer = {};
    layer.block = &none, layer.heads = HEADS, layer.width = layer.ld_z = layer.ld_out = WIDTH, layer.how.layer = 255;
    CHECK_CUDA(ggnn_cuda_gat(&layer, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_gat_back(nullptr, WIDTH, &none, &layer, nullptr, WIDTH, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_permute(nullptr, WIDTH, nullptr, WIDTH, GGNN_F16, WIDTH, nullptr, zero, nullptr));
    device_array<char> work(static_cast<int64_t>(ggnn_cuda_split_workspace_bytes(0, 2)) + (1 << 15));
    CHECK_CUDA(ggnn_cuda_split(nullptr, nullptr, counts.at(), &at, nullptr, zero, work.at(), nullptr));
    CHECK(counts.values(5) == std::vector<int64_t>(5));
    const ggnn_cuda_samples nothing = {};
    CHECK_CUDA(ggnn_cuda_sample_lists(&nothing, &in.g, nullptr, zero, GGNN_REJECTION, 2, rng, 255, nullptr, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_random_walk(nullptr, &in.g, &how, rng, 255, nullptr, zero, nullptr, nullptr));
    CHECK_CUDA(ggnn_cuda_walk_neighbors(nullptr, nullptr, nullptr, nullptr, 2, 2, nullptr, zero, nullptr, nullptr));
    counts.fill(0x5a);
    CHECK_CUDA(ggnn_cuda_walk_neighbors(nullptr, nullptr, counts.at(), nullptr, 0, 2, in.id.at(), in.n, nullptr, nullptr)); // no visit of two nodes
    CHECK(counts.values(3) == std::vector<int64_t>({0, 0, 0x5a5a5a5a5a5a5a5a}));
    for (int64_t most : {0, 4}) { // a table that may have no id needs no list either
        ggnn_cuda_unique      seen;
        device_array<char>    table(static_cast<int64_t>(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, NODES, most)));
        device_array<int32_t> status(1);
        status.fill(0);
        CHECK_CUDA(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, most, table.at(), nullptr));
        CHECK_CUDA(ggnn_cuda_unique_begin(&seen, nullptr));
        CHECK_CUDA(ggnn_cuda_unique_append(&seen, nullptr, nullptr, nullptr, zero, status.at(), work.at(), nullptr));
        CHECK_EQ(status.values()[0], GGNN_OK);
        if (most) continue;
        CHECK_CUDA(ggnn_cuda_unique_append(&seen, nullptr, nullptr, in.id.at(), in.n, status.at(), work.at(), nullptr));
        CHECK_EQ(status.values()[0], GGNN_ERROR_CAPACITY);
    }
    ggnn_block         t, b;
    device_array<char> memory(static_cast<int64_t>(ggnn_cuda_block_transpose_bytes(0, 0, 0)));
    CHECK_CUDA(ggnn_cuda_block_transpose_init(&t, 0, 0, 0, memory.at()));
    CHECK_CUDA(ggnn_cuda_block_transpose(&t, &none, work.at(), nullptr));
    CHECK_CUDA(ggnn_cuda_block_whole(&b, &empty, counts.at(), nullptr, nullptr));
    CHECK(counts.values(3) == std::vector<int64_t>(3));
}

// The shared memory is the host's, so the canvas is: one peer with two loans joins, and then asks for nonsense.
TEST(peers)
{
    canvas                     out;
    inputs                     in;
    alignas(64) char           shared[4096] = {};
    const void*                base[2] = {&base, &base};
    ggnn_csc                   part[2] = {};
    const ggnn_cuda_source     source[2] = {{-1, 0}, {-1, 0}};
    const ggnn_csc             lists = {in.indptr.at(), nullptr, in.indices.at(), nullptr, EDGES};
    ggnn_cuda_peers            p = {}, apart = {};
    NONE(ggnn_cuda_peers_bytes(0, 1));
    NONE(ggnn_cuda_peers_bytes(1, 0));
    NONE(ggnn_cuda_peers_bytes(-1, -1));
    REFUSED(ggnn_cuda_local_device(nullptr));
    REFUSED(ggnn_cuda_link(nullptr, 1, nullptr));
    REFUSED(ggnn_cuda_link(nullptr, -1, nullptr));
    CHECK_EQ(ggnn_cuda_link(nullptr, 0, nullptr), cudaSuccess);
    REFUSED(ggnn_cuda_peers_give_up(nullptr, 0));
    REFUSED(ggnn_cuda_peers_give_up(shared, -1));
    REFUSED(ggnn_cuda_peers_join(nullptr, shared, 1, 0, 2));
    REFUSED(ggnn_cuda_peers_join(&apart, nullptr, 1, 0, 2));
    REFUSED(ggnn_cuda_peers_join(&apart, shared, 1, 1, 2));
    REFUSED(ggnn_cuda_peers_join(&apart, shared, 0, 0, 2));
    REFUSED(ggnn_cuda_peers_join(&apart, shared, 1, -1, 2));
    REFUSED(ggnn_cuda_peers_join(&apart, shared, 1, 0, 0));
    for (char byte : shared) CHECK_EQ(byte, 0);
    CHECK(ggnn_cuda_peers_bytes(1, 4) <= sizeof shared);
    CHECK_EQ(ggnn_cuda_peers_join(&p, shared, 1, 0, 4), cudaSuccess);
    for (const ggnn_cuda_peers* who : {static_cast<const ggnn_cuda_peers*>(nullptr), static_cast<const ggnn_cuda_peers*>(&apart)}) {
        REFUSED(ggnn_cuda_peers_lend(who, 0, in.indptr.at(), 0, 8)); // apart has not joined
        REFUSED(ggnn_cuda_peers_lend_lists(who, 0, &lists, NODES));
        REFUSED(ggnn_cuda_peers_check(who, nullptr));
        REFUSED(ggnn_cuda_peers_wait(who, nullptr));
        REFUSED(ggnn_cuda_peers_rows(base, who, source, 2, nullptr));
        REFUSED(ggnn_cuda_peers_lists(part, who, source, 2, nullptr));
    }
    REFUSED(ggnn_cuda_peers_lend(&p, -1, in.indptr.at(), 0, 8));
    REFUSED(ggnn_cuda_peers_lend(&p, 4, in.indptr.at(), 0, 8));
    REFUSED(ggnn_cuda_peers_lend(&p, 0, nullptr, 0, 8));
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 1, &lists, NODES)); // four loans
    REFUSED(ggnn_cuda_peers_lend_lists(&p, -1, &lists, NODES));
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, nullptr, NODES));
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, &lists, -1));
    ggnn_csc no_begins = lists, no_ids = lists, no_number = lists;
    const int64_t on_host[NODES] = {};
    ggnn_csc      hosts = lists; // an array that cannot be lent between others that can
    hosts.first = on_host;
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, &hosts, NODES));
    no_begins.indptr = nullptr, no_ids.indices = nullptr, no_number.num_edges = -1;
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, &no_begins, NODES));
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, &no_ids, NODES));
    REFUSED(ggnn_cuda_peers_lend_lists(&p, 0, &no_number, NODES));
    REFUSED(ggnn_cuda_peers_rows(nullptr, &p, source, 2, nullptr));
    REFUSED(ggnn_cuda_peers_rows(base, &p, nullptr, 2, nullptr));
    REFUSED(ggnn_cuda_peers_rows(base, &p, source, -1, nullptr));
    REFUSED(ggnn_cuda_peers_lists(nullptr, &p, source, 2, nullptr));
    REFUSED(ggnn_cuda_peers_lists(part, &p, nullptr, 2, nullptr));
    REFUSED(ggnn_cuda_peers_lists(part, &p, source, -1, nullptr));
    CHECK(base[0] == &base && base[1] == &base);
    CHECK_EQ(ggnn_cuda_peers_rows(nullptr, &p, nullptr, 0, nullptr), cudaSuccess);
    CHECK_EQ(ggnn_cuda_peers_lend_lists(&p, 0, &lists, NODES), cudaSuccess);
    CHECK_EQ(ggnn_cuda_peers_lend(&p, 3, in.indptr.at(), 0, 8), cudaSuccess); // the last
    REFUSED(ggnn_cuda_peers_close(nullptr, nullptr));
    CHECK_EQ(ggnn_cuda_peers_close(&apart, nullptr), cudaSuccess);
    CHECK_EQ(ggnn_cuda_peers_close(&p, nullptr), cudaSuccess);
}

// ---- every call, once ---------------------------------------------------------------------------------------

// Memory for outputs, which are compared, or for scratch and tables, which are not.
struct arena {
    enum { BYTES = 1 << 19 };
    device_array<char> memory{BYTES};
    size_t             used = 0;

    template <class T> T* take(int64_t n)
    {
        T* at = reinterpret_cast<T*>(memory.at() + used);
        used += (static_cast<size_t>(n) * sizeof(T) + 255) / 256 * 256;
        CHECK(used <= BYTES);
        return at;
    }
};

struct step { // a function of the header, with arguments that it takes
    const char*                              name;
    std::function<cudaError_t(cudaStream_t)> call;
};

// Each function that launches, in an order in which one may need what those before it left.
struct every_call {
    inputs               in;
    arena                out, scratch;
    device_array<int64_t> traffic{std::vector<int64_t>(8)};
    ggnn_graph           counted = in.g;
    ggnn_store           stored = in.store, tiers = in.store;
    device_array<const void*> base{std::vector<const void*>{in.number.at(), in.number.at(), in.number.at()}};
    ggnn_layout          at = {nullptr, 0, nullptr, nullptr, NODES, 2};
    ggnn_scale           scale = {in.number.at(), in.number.at(), in.number.at()};
    ggnn_walks           how = {2, 3, 0.5f};
    ggnn_cuda_unique     seen;
    ggnn_cuda_batch      batch, weighted, whole, entire;
    ggnn_block           t = {}, all = {};
    ggnn_gat_layer       layer = {}, termed = {};
    std::vector<step>    steps;

    void plan(ggnn_cuda_batch* b, ggnn_method method, int32_t fanout, const ggnn_cuda_unique* shared)
    {
        ggnn_sampling sampling = {};
        sampling.method = method;
        sampling.num_hops = 2;
        sampling.fanout[0] = sampling.fanout[1] = fanout;
        sampling.walk = how;
        sampling.keep = GGNN_KEEP_NEIGHBORS | GGNN_KEEP_POSITIONS | GGNN_KEEP_WEIGHTS | GGNN_KEEP_REPEATS;
        CHECK_EQ(ggnn_cuda_batch_plan(b, &in.g, &sampling, 2, shared), GGNN_OK);
    }
    every_call()
    {
        using S = cudaStream_t;
        const float*      x = in.number.at();
        const ggnn_node*  id = in.id.at();
        const ggnn_count  n = in.n;
        const ggnn_rng*   rng = in.rng.at();
        const auto        add = [&](const char* name, std::function<cudaError_t(S)> call) { steps.push_back({name, call}); };
        counted.traffic = stored.traffic = tiers.traffic = traffic.at();
        tiers.rows = nullptr, tiers.base = base.at(), tiers.at.stored = 2;
        char*    table = scratch.take<char>(static_cast<int64_t>(ggnn_cuda_unique_bytes(GGNN_UNIQUE_HASH, NODES, NODES)));
        char*    work = scratch.take<char>(1 << 17);
        int32_t* status = out.take<int32_t>(1);
        add("status", [=](S s) { return cudaMemsetAsync(status, 0, sizeof *status, s); });
        {
            ggnn_node* list = out.take<ggnn_node>(NODES);
            int32_t *  local = out.take<int32_t>(2), *found = out.take<int32_t>(2);
            CHECK_CUDA(ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, NODES, table, nullptr)); // the handle
            add("unique_init", [=](S s) { return ggnn_cuda_unique_init(&seen, GGNN_UNIQUE_HASH, NODES, NODES, table, s); });
            add("unique_begin", [=](S s) { return ggnn_cuda_unique_begin(&seen, s); });
            add("unique_append", [=](S s) { return ggnn_cuda_unique_append(&seen, list, local, id, n, status, work, s); });
            add("unique_find", [=](S s) { return ggnn_cuda_unique_find(&seen, found, id, n, s); });
        }
        for (ggnn_method method : methods_without(GGNN_METHOD_WALKS))
            for (int32_t fanout : {-1, 1, 40, 1100}) {
                if (fanout < 0 && method_has(method, GGNN_METHOD_REPEATS)) continue;
                const ggnn_cuda_samples to = {in.indptr.at(), out.take<int64_t>(2), out.take<ggnn_node>(EDGES), nullptr, nullptr};
                add("sample_lists", [=](S s) {
                    return ggnn_cuda_sample_lists(&to, &counted, id, n, method, fanout, rng, 0, work, status, s);
                });
            }
        ggnn_node* visited = out.take<ggnn_node>(2 * 2000);
        add("random_walk", [=](S s) { return ggnn_cuda_random_walk(visited, &counted, &how, rng, 0, id, n, status, s); });
        for (int32_t count : {6, 40, 1025}) {
            ggnn_node* to = out.take<ggnn_node>(2 * count);
            float*     visits = out.take<float>(2 * count);
            int64_t*   taken = out.take<int64_t>(2);
            add("visited", [=](S s) { return cudaMemsetAsync(visited, 1, 2 * 2000 * sizeof *visited, s); });
            add("walk_neighbors", [=](S s) { return ggnn_cuda_walk_neighbors(to, visits, taken, visited, count, 2, id, n, work, s); });
        }
        ggnn_cuda_unique* const table_of_batches = &seen;
        plan(&batch, GGNN_FISHER_YATES, 2, table_of_batches);
        plan(&weighted, GGNN_WEIGHTED, -1, nullptr);
        plan(&whole, GGNN_WALK, 2, nullptr);
        plan(&entire, GGNN_RESERVOIR, -1, nullptr);
        for (ggnn_cuda_batch* b : {&batch, &weighted, &whole, &entire}) {
            char* memory = scratch.take<char>(static_cast<int64_t>(b->bytes));
            char* packed = out.take<char>(static_cast<int64_t>(ggnn_cuda_batch_packed_max(b)));
            CHECK_CUDA(ggnn_cuda_batch_init(b, memory, nullptr));
            add("batch_init", [=](S s) { return ggnn_cuda_batch_init(b, memory, s); });
            add("batch_begin", [=](S s) { return ggnn_cuda_batch_begin(b, id, n, s); });
            add("sample_hop", [=](S s) { return ggnn_cuda_sample_hop(b, &counted, rng, s); });
            add("sample", [=](S s) { return ggnn_cuda_sample(b, &counted, rng, id, n, s); });
            add("batch_pack", [=](S s) { return ggnn_cuda_batch_pack(packed, ggnn_cuda_batch_packed_max(b), b, s); });
        }
        int64_t *rows = out.take<int64_t>(NODES), *lists = out.take<int64_t>(NODES), *counts = out.take<int64_t>(3);
        add("rows", [=](S s) { return cudaMemsetAsync(rows, 0, NODES * sizeof *rows, s); });
        add("lists", [=](S s) { return cudaMemsetAsync(lists, 0, NODES * sizeof *lists, s); });
        add("count_batch", [=](S s) { return ggnn_cuda_count_batch(rows, lists, &batch, s); });
        ggnn_node* seeds = out.take<ggnn_node>(3);
        ggnn_rng*  drawn = out.take<ggnn_rng>(1);
        add("epoch_batch", [=](S s) { return ggnn_cuda_epoch_batch(seeds, counts, drawn, id, NODES, 3, {1, 2, 3}, 4, 5, s); });
        add("block_whole", [=](S s) { return ggnn_cuda_block_whole(&all, &in.g, counts, out_copy(), s); });
        copy = out.take<int32_t>(EDGES);
        char* transposed = out.take<char>(static_cast<int64_t>(ggnn_cuda_block_transpose_bytes(DST, SRC, 4)));
        CHECK_CUDA(ggnn_cuda_block_transpose_init(&t, DST, SRC, 4, transposed));
        add("block_transpose", [=](S s) { return ggnn_cuda_block_transpose(&t, &in.b, work, s); });
        const auto matrix = [&](int64_t height) { return out.take<float>(height * WIDTH); };
        for (ggnn_type as : {GGNN_F32, GGNN_F16}) {
            float *a = matrix(2), *b = matrix(2), *c = matrix(2), *d = matrix(2);
            const int32_t* index = in.local.at();
            add("gather", [=](S s) { return ggnn_cuda_gather(a, WIDTH, as, &stored, id, n, s); });
            add("gather_device", [=](S s) { return ggnn_cuda_gather_device(b, WIDTH, as, &tiers, id, n, s); });
            add("gather_host", [=](S s) { return ggnn_cuda_gather_host(c, WIDTH, as, &tiers, id + 2, n, 1, s); });
            float*         e = matrix(2);
            const int64_t* position = in.position.at();
            add("gather_edges", [=](S s) { return ggnn_cuda_gather_edges(e, WIDTH, as, &stored, position, n, s); });
            float*   f = matrix(2);
            int64_t* mark = out.take<int64_t>(2);
            add("mark", [=](S s) { return ggnn_cuda_mark(mark, &tiers.at, id, n, s); });
            add("gather_marked", [=](S s) { return ggnn_cuda_gather_marked(f, WIDTH, as, &stored, position, n, s); });
            add("permute", [=](S s) { return ggnn_cuda_permute(d, WIDTH, x, WIDTH, as, WIDTH, index, n, s); });
        }
        int32_t *gather = out.take<int32_t>(2), *scatter = out.take<int32_t>(2);
        int64_t* bound = out.take<int64_t>(5);
        add("split", [=](S s) { return ggnn_cuda_split(gather, scatter, bound, &at, id, n, work, s); });
        int32_t* arg = out.take<int32_t>(DST * WIDTH);
        for (ggnn_reduce reduce : {GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN}) {
            const bool linear = reduce == GGNN_SUM || reduce == GGNN_MEAN;
            float *    a = matrix(DST), *b = matrix(DST);
            add("spmm", [=](S s) {
                return ggnn_cuda_spmm(a, WIDTH, linear ? nullptr : arg, reduce, &in.b, linear ? &scale : nullptr, x, 1, x, WIDTH, WIDTH, s);
            });
            float *c = matrix(DST), *d = matrix(4);
            add("spmm_edges", [=](S s) {
                return ggnn_cuda_spmm_edges(c, WIDTH, linear ? nullptr : arg, reduce, GGNN_EDGE_PLUS, &in.b, linear ? &scale : nullptr, x, 1, x, WIDTH, x, WIDTH, WIDTH, s);
            });
            add("spmm_edges_back", [=](S s) {
                return ggnn_cuda_spmm_edges_back(d, WIDTH, GGNN_EDGE_COPY, &in.b, &scale, x, 1, nullptr, WIDTH, x, WIDTH, linear ? nullptr : arg, WIDTH, s);
            });
            add("aggregate", [=](S s) {
                return ggnn_cuda_aggregate(b, WIDTH, reduce, &in.b, linear ? &scale : nullptr, nullptr, 1, &stored, s);
            });
        }
        float *sum = matrix(DST), *mean = matrix(DST), *back = matrix(SRC), *atomic = matrix(SRC), *norm = out.take<float>(NODES);
        float *src = out.take<float>(SRC), *dst = out.take<float>(DST), *self = out.take<float>(DST), *inverse = out.take<float>(DST);
        add("sum", [=](S s) { return ggnn_cuda_sum(sum, &in.b, x, WIDTH, s); });
        add("mean", [=](S s) { return ggnn_cuda_mean(mean, &in.b, x, WIDTH, s); });
        add("spmm_back_arg", [=](S s) {
            return ggnn_cuda_spmm_back_arg(back, WIDTH, &t, &in.b, nullptr, 1, x, WIDTH, arg, WIDTH, s);
        });
        add("spmm_atomic", [=](S s) { return ggnn_cuda_spmm_atomic(atomic, WIDTH, &in.b, &scale, nullptr, 1, x, WIDTH, WIDTH, s); });
        add("scale_mean", [=](S s) { return ggnn_cuda_scale_mean(inverse, &in.b, 1, s); });
        add("gcn_norm", [=](S s) { return ggnn_cuda_gcn_norm(norm, &counted, s); });
        add("scale_gcn", [=](S s) { return ggnn_cuda_scale_gcn(src, dst, self, &in.b, norm, &counted, s); });
        float* edges[5];
        for (float*& e : edges) e = out.take<float>(4 * HEADS);
        float* per_target = out.take<float>(DST * HEADS);
        add("sddmm", [=](S s) { return ggnn_cuda_sddmm(edges[0], GGNN_DOT, &in.b, x, WIDTH, x, WIDTH, HEADS, WIDTH, s); });
        add("sddmm_add", [=](S s) { return ggnn_cuda_sddmm(edges[1], GGNN_ADD, &in.b, x, WIDTH, x, WIDTH, HEADS, HEADS, s); });
        add("edge_sum", [=](S s) { return ggnn_cuda_edge_sum(per_target, &in.b, edges[1], HEADS, s); });
        add("scale_weights", [=](S s) { return ggnn_cuda_scale_weights(inverse, &in.b, x, s); });
        add("edge_softmax", [=](S s) { return ggnn_cuda_edge_softmax(edges[2], &in.b, edges[1], HEADS, s); });
        add("edge_softmax_back", [=](S s) {
            return ggnn_cuda_edge_softmax_back(edges[3], &in.b, edges[2], edges[0], HEADS, s);
        });
        add("powers", [=](S s) { return cudaMemsetAsync(edges[4], 0x3f, 4 * HEADS * sizeof(float), s); });
        add("exp2_array", [=](S s) { return ggnn_cuda_exp2_array(edges[4], {nullptr, 4 * HEADS}, s); });
        float *el = out.take<float>(SRC * HEADS), *er = out.take<float>(DST * HEADS), *dz = matrix(SRC), *datt = matrix(1), *partial = matrix(SRC);
        add("scores", [=](S s) { return ggnn_cuda_scores(el, x, WIDTH, x, {nullptr, SRC}, HEADS, WIDTH, s); });
        add("gradient", [=](S s) { return cudaMemsetAsync(dz, 0, SRC * WIDTH * sizeof(float), s); });
        add("scores_back", [=](S s) {
            return ggnn_cuda_scores_back(dz, WIDTH, datt, el, x, WIDTH, x, {nullptr, SRC}, HEADS, WIDTH, partial, s);
        });
        layer.block = &in.b, layer.z = const_cast<float*>(x), layer.ld_z = WIDTH, layer.heads = HEADS, layer.width = WIDTH;
        layer.how.slope = 0.2f, layer.how.dropout = 0.3f;
        layer.how.rng = {1, 2, GGNN_PURPOSE_ATTENTION_DROPOUT};
        layer.el = el, layer.er = er, layer.out = matrix(DST), layer.ld_out = WIDTH, layer.lse = out.take<float>(DST * HEADS);
        layer.del = out.take<float>(SRC * HEADS), layer.der = out.take<float>(DST * HEADS);
        layer.delta = out.take<float>(DST * HEADS), layer.dlogit = out.take<float>((DST + 4) * HEADS);
        layer.coef = out.take<float>((DST + 4) * HEADS);
        layer.att_l = layer.att_r = const_cast<float*>(x);
        layer.datt_l = matrix(1), layer.datt_r = matrix(1), layer.partial = matrix(SRC);
        float* gradient = matrix(SRC);
        add("gat", [=](S s) { return ggnn_cuda_gat(&layer, nullptr, s); });
        add("gat_back", [=](S s) { return ggnn_cuda_gat_back(gradient, WIDTH, &t, &layer, x, WIDTH, nullptr, s); });
        termed = layer, termed.att_l = termed.att_r = nullptr, termed.term = x, termed.own_term = out.take<float>(DST * HEADS);
        termed.out = matrix(DST), termed.lse = out.take<float>(DST * HEADS), termed.dterm = out.take<float>(4 * HEADS);
        termed.del = out.take<float>(SRC * HEADS), termed.der = out.take<float>(DST * HEADS);
        termed.delta = out.take<float>(DST * HEADS), termed.dlogit = out.take<float>((DST + 4) * HEADS);
        termed.coef = out.take<float>((DST + 4) * HEADS);
        float* termed_gradient = matrix(SRC);
        add("gat of terms", [=](S s) { return ggnn_cuda_gat(&termed, nullptr, s); });
        add("gat_back of terms", [=](S s) { return ggnn_cuda_gat_back(termed_gradient, WIDTH, &t, &termed, x, WIDTH, nullptr, s); });
    }
    int32_t* copy = nullptr;
    int32_t* out_copy() const { return copy; }

    // All of them, in order.
    void run(cudaStream_t stream)
    {
        for (const step& each : steps)
            if (!CHECK_CUDA(each.call(stream))) printf("  %s\n", each.name);
    }
    std::vector<char> written()
    {
        std::vector<char> all_of_it = out.memory.values(static_cast<int64_t>(out.used));
        const auto        counts = traffic.values();
        all_of_it.insert(all_of_it.end(), reinterpret_cast<const char*>(counts.data()), reinterpret_cast<const char*>(counts.data() + counts.size()));
        return all_of_it;
    }
    void clear()
    {
        out.memory.fill(0x5a);
        scratch.memory.fill(0x5a);
        traffic.fill(0);
    }
};

// As the header says: no other stream than the caller's, no allocation, no wait. A capture would refuse the default
// stream, and what went elsewhere would have been done when it ends.
TEST(every_call_goes_on_the_callers_stream_and_can_be_captured)
{
    every_call        calls;
    cudaStream_t      stream;
    cudaGraph_t       graph;
    cudaGraphExec_t   ready;
    calls.clear();
    const std::vector<char> before = calls.written();
    calls.run(nullptr);
    CHECK_CUDA(cudaDeviceSynchronize());
    const std::vector<char> want = calls.written();
    CHECK(want != before);
    calls.clear();
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
#ifdef SIMT_SHIM
    const simt_statistics at_first = simt_get_statistics();
#endif
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    calls.run(stream);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
#ifdef SIMT_SHIM
    CHECK_EQ(simt_get_statistics().allocations, at_first.allocations);
    CHECK_EQ(simt_get_statistics().synchronizations, at_first.synchronizations);
    CHECK_EQ(simt_get_statistics().launches, at_first.launches);
#endif
    CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(calls.written() == before);
    for (int launch = 0; launch < 2; launch++) { // again: what one call leaves does not change the next one
        calls.clear();
        CHECK_CUDA(cudaGraphLaunch(ready, stream));
        CHECK_CUDA(cudaStreamSynchronize(stream));
        CHECK(calls.written() == want);
    }
    CHECK_CUDA(cudaGraphExecDestroy(ready));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
}

__global__ void tell_blocks(int* blocks)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *blocks = static_cast<int>(gridDim.x);
}

static int blocks_of(int64_t tiles, int threads)
{
    device_array<int> blocks(std::vector<int>{0});
    CHECK_CUDA(ggnni::launch_tiles(tell_blocks, tiles, threads, nullptr, blocks.at()));
    return blocks.values()[0];
}

// Blocks that a device holds of the kernel, which the emulator takes to be `occupancy` a multiprocessor. Each thread of the
// host asks for itself, and once.
TEST(a_grid_has_no_more_blocks_than_are_resident)
{
    for (int occupancy : {5, 3})
        std::thread([=] {
            int processors = 0, each[2] = {0, 0};
#ifdef SIMT_SHIM
            simt_set_occupancy(occupancy);
#endif
            for (int i = 0; i < 2; i++)
                CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each[i], tell_blocks, i ? 1024 : 256, 0));
            CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
#ifdef SIMT_SHIM
            CHECK(each[0] == occupancy && each[1] == 2);
#endif
            CHECK_EQ(blocks_of(1000000, 1024), processors * each[1]);
            CHECK_EQ(blocks_of(1000000, 256), processors * each[0]);
            CHECK_EQ(blocks_of(processors * each[0] + 1, 256), processors * each[0]);
            CHECK_EQ(blocks_of(processors * each[0] - 1, 256), processors * each[0] - 1);
            CHECK_EQ(blocks_of(0, 256), 0);
#ifdef SIMT_SHIM
            simt_set_processors(7);
            simt_set_occupancy(1);
            CHECK_EQ(blocks_of(1000000, 256), 7 * each[0]);
            simt_set_processors(0);
#endif
        }).join();
#ifdef SIMT_SHIM
    simt_set_occupancy(0);
#endif
}

// In a capture that has become invalid no launch is taken: each function says so.
TEST(what_a_launch_returns_every_call_returns)
{
    every_call   calls;
    cudaStream_t stream;
    cudaGraph_t  graph = nullptr;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    calls.clear();
    calls.run(nullptr);
    CHECK_CUDA(cudaDeviceSynchronize());
    const std::vector<char> before = calls.written();
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaStreamSynchronize(stream) != cudaSuccess); // which a capture forbids
    for (const step& each : calls.steps)
        if (!CHECK(each.call(stream) != cudaSuccess)) printf("  %s\n", each.name);
    CHECK(cudaStreamEndCapture(stream, &graph) != cudaSuccess && !graph);
    cudaGetLastError();
    CHECK(calls.written() == before);
    CHECK_CUDA(cudaStreamDestroy(stream));
}

#ifdef SIMT_SHIM
// Of each call's kernels and memsets one is refused, the first, the second and so on: that is what the call returns.
TEST(whichever_launch_of_a_call_fails_the_call_says_so)
{
    every_call calls;
    calls.clear();
    calls.run(nullptr);
    for (size_t i = 0; i < calls.steps.size(); i++) {
        long n = 0;
        do {
            if (i > 0) calls.steps[i - 1].call(nullptr); // begins what this one goes on with
            simt_fail_launch(++n);
            const cudaError_t error = calls.steps[i].call(nullptr);
            const bool        refused = simt_fail_launch(0) == 0;
            if (!CHECK_EQ(error, refused ? cudaErrorInvalidConfiguration : cudaSuccess)) printf("  %s, launch %ld\n", calls.steps[i].name, n);
            if (!refused) break;
        } while (n < 100);
        CHECK(n > 1 && n < 100);
    }
    cudaGetLastError();
    CHECK_CUDA(cudaDeviceSynchronize());
}
#endif

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    if (!device_present()) return finish_without_device();
    RUN(tables);
    RUN(samples_and_walks);
    RUN(batches);
    RUN(blocks);
    RUN(rows);
    RUN(sums);
    RUN(edges);
    RUN(attention);
    RUN(nothing_of_a_size_that_turns_out_0_needs_an_array);
    RUN(nothing_of_a_known_size_0_needs_an_array);
    RUN(layers);
    RUN(peers);
    RUN(a_grid_has_no_more_blocks_than_are_resident);
    RUN(every_call_goes_on_the_callers_stream_and_can_be_captured);
    RUN(what_a_launch_returns_every_call_returns);
#ifdef SIMT_SHIM
    RUN(whichever_launch_of_a_call_fails_the_call_says_so);
#endif
    return test_finish();
}
