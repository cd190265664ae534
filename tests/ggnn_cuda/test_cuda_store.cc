// test_cuda_store.cc - [7] STORE of ggnn_cuda.cuh against ggnn.h: rows from any layout, the host tier by
// whole lines, split and permute.
#define GGNN_CUDA_IMPLEMENTATION
#include "ggnn_cuda.cuh"
#include "tests/cuda_store.h"

static const int32_t widths[] = {1, 2, 3, 4, 5, 7, 8, 31, 100, 128, 257, 600};
static const char    SENTINEL = 0x5b;

static std::vector<ggnn_node> random_ids(int64_t n, int64_t below)
{
    std::vector<ggnn_node> id;
    for (int64_t i = 0; i < n; i++) id.push_back(static_cast<ggnn_node>(test_below(below)));
    return id;
}

// ---- gather ---------------------------------------------------------------------------------------------

template <class Id> // ids, or positions
using gather_function = cudaError_t(void*, int64_t, ggnn_type, const ggnn_store*, const Id*, ggnn_count,
                                    cudaStream_t);

static cudaError_t gather_in_halves(void* out, int64_t ld_out, ggnn_type as, const ggnn_store* from,
                                    const ggnn_node* id, ggnn_count n, cudaStream_t stream)
{
    cudaError_t error = ggnn_cuda_gather_device(out, ld_out, as, from, id, n, stream);
    return ggnni::first_error(error, ggnn_cuda_gather_host(out, ld_out, as, from, id, n, 2, stream));
}

// Gathers n ids, of which the device knows and the host only that they are at most `max`, to a matrix that
// begins `shift` elements off its alignment, and compares all of it: rows, padding and what is beyond.
template <class Id>
static void check_gather(const twin_store& store, gather_function<Id>* gather, ggnn_type as,
                         const std::vector<ggnn_node>& id, int64_t max, int64_t ld, int64_t shift)
{
    const int64_t           n = static_cast<int64_t>(id.size()), size = ggnn_type_bytes(as);
    const int64_t           bytes = (shift + max * ld) * size;
    std::vector<char>       want(static_cast<size_t>(bytes), SENTINEL);
    device_array<char>      out(bytes);
    device_array<Id>        device_id(std::vector<Id>(id.begin(), id.end()));
    device_count            count(n, max);
    out.fill(SENTINEL);
    ggnn_gather(want.data() + shift * size, ld, as, &store.host, id.data(), n);
    CHECK_CUDA(gather(out.at() + shift * size, ld, as, &store.device, device_id.at(), count.get(), nullptr));
    CHECK(out.values() == want);
}

template <class Id> static void check_layouts(gather_function<Id>* gather)
{
    for (int32_t width : widths)
        for (int types = 0; types < 4; types++) {
            ggnn_type type = types & 1 ? GGNN_F16 : GGNN_F32, as = types & 2 ? GGNN_F16 : GGNN_F32;
            for (store_shape shape : layouts_of(23, width, type)) {
                shape.extra = test_below(5);
                shape.shift += test_below(3);
                twin_store store(shape);
                store.count_traffic();
                check_gather(store, gather, as, random_ids(1 + test_below(9), 23), 9, width + test_below(4),
                             test_below(4));
                CHECK(store.traffic_agrees());
            }
        }
}

TEST(gather_reads_any_layout_and_counts_where) { check_layouts(ggnn_cuda_gather); }
TEST(edge_rows_are_read_by_position_in_any_layout) { check_layouts(ggnn_cuda_gather_edges); }

// By marks, which one device makes of its tables: the reader's layout has none.
static cudaError_t gather_by_marks(void* out, int64_t ld, ggnn_type as, const ggnn_store* from, const ggnn_node* id, ggnn_count n,
                                   cudaStream_t stream)
{
    device_array<int64_t> mark(n.max);
    ggnn_store            bare = *from;
    bare.at = {nullptr, 0, nullptr, nullptr, 0, from->at.parts};
    const cudaError_t e = ggnn_cuda_mark(mark.at(), &from->at, id, n, stream);
    return e != cudaSuccess ? e : ggnn_cuda_gather_marked(out, ld, as, &bare, mark.at(), n, stream);
}

TEST(marked_rows_are_read_without_tables) { check_layouts(gather_by_marks); }
TEST(device_and_host_halves_make_one_gather) { check_layouts(gather_in_halves); }

TEST(gather_takes_the_widest_chunks_that_fit) // and the one element where only the bases do not allow them
{
    for (int32_t width : {2, 4, 8, 16})
        for (int64_t shift : {0, 1, 2, 4})
            for (int types = 0; types < 4; types++) {
                store_shape shape{40, width, types & 1 ? GGNN_F16 : GGNN_F32};
                shape.parts = 2;
                shape.shift = shift;
                twin_store store(shape);
                check_gather(store, ggnn_cuda_gather, types & 2 ? GGNN_F16 : GGNN_F32, random_ids(33, 40), 40,
                             width, 0);
            }
}

// A warp's lanes look at 32 bases, then at the rest: part 35 of 40, the host tier or the cache begins one float off.
TEST(one_base_of_many_may_be_off_its_alignment)
{
    enum { PARTS = 40, ROWS = 10, WIDTH = 8, PITCH = (ROWS + 1) * WIDTH, BASES = PARTS + 2, NODES = PARTS * ROWS + ROWS };
    for (int off : {35, PARTS + 0, PARTS + 1}) {
        std::vector<float>       table(BASES * PITCH + NODES * WIDTH + 1), want(200 * WIDTH);
        std::vector<const void*> base(BASES), device_base(BASES);
        for (float& x : table) x = test_uniform();
        device_array<float> device_table(table);
        for (int p = 0; p < BASES; p++) {
            const int at = (p == PARTS ? BASES + 0 : p) * PITCH + (p == off); // the host tier has every node's row
            base[static_cast<size_t>(p)] = &table[static_cast<size_t>(at)];
            device_base[static_cast<size_t>(p)] = device_table.at() + at;
        }
        const std::vector<ggnn_node> id = random_ids(200, NODES);
        device_array<ggnn_node>      device_id(id);
        device_array<const void*>    bases(device_base);
        device_array<float>          out(200 * WIDTH);
        device_count                 n(200, 200);
        ggnn_store                   host = {};
        host.width = WIDTH;
        host.pitch = WIDTH * sizeof(float);
        host.at = {nullptr, ROWS, nullptr, nullptr, PARTS * ROWS, PARTS};
        ggnn_store device = host;
        host.base = base.data();
        device.base = bases.at();
        ggnn_gather(want.data(), WIDTH, GGNN_F32, &host, id.data(), 200);
        CHECK_CUDA(ggnn_cuda_gather(out.at(), WIDTH, GGNN_F32, &device, device_id.at(), n.get(), nullptr));
        CHECK(out.values() == want);
    }
}

// A plain array that begins anywhere, as a section of a larger one does: chunks are as wide as its address allows (the
// emulator faults, as a GPU does, where they are wider).
TEST(a_plain_store_may_begin_off_any_alignment)
{
    for (int32_t width : {2, 4, 8})
        for (int64_t shift : {0, 1, 2, 3, 4})
            for (ggnn_type type : {GGNN_F32, GGNN_F16}) {
                const int64_t                size = ggnn_type_bytes(type);
                const std::vector<ggnn_node> id = random_ids(50, 30);
                std::vector<char>            table(static_cast<size_t>((30 * width + shift) * size)), want(static_cast<size_t>(50 * width * size));
                for (char& c : table) c = static_cast<char>(test_below(60));
                const device_array<char>      rows(table);
                const device_array<ggnn_node> device_id(id);
                device_array<char>            out(static_cast<int64_t>(want.size()));
                const ggnn_store              host = ggnn_store_plain(table.data() + shift * size, 30, width, type);
                const ggnn_store              device = ggnn_store_plain(rows.at() + shift * size, 30, width, type);
                ggnn_gather(want.data(), width, type, &host, id.data(), 50);
                CHECK_CUDA(ggnn_cuda_gather(out.at(), width, type, &device, device_id.at(), {nullptr, 50}, nullptr));
                CHECK(out.values() == want);
            }
}

// The most parts that are counted, and one more.
TEST(traffic_of_as_many_parts_as_can_be_counted)
{
    store_shape shape{200, 4};
    shape.parts = GGNN_CUDA_PARTS_MAX;
    shape.cached = 20;
    shape.stored = 150;
    twin_store store(shape);
    store.count_traffic();
    check_gather(store, ggnn_cuda_gather, GGNN_F32, random_ids(900, 200), 900, 4, 0);
    CHECK(store.traffic_agrees());
    store.device.at.parts++;
    device_array<float>     out(4);
    device_array<ggnn_node> id(random_ids(1, 1));
    CHECK_EQ(ggnn_cuda_gather(out.at(), 4, GGNN_F32, &store.device, id.at(), {nullptr, 1}, nullptr), cudaErrorInvalidValue);
}

TEST(gather_stops_at_the_count_on_the_device)
{
    store_shape shape{50, 4};
    twin_store  store(shape);
    for (int64_t n :
         {0, 1, 3, 4, 5, 1023, 1024, 1025, 2048}) // 1024 rows of 4 floats are a block's first tile
        check_gather(store, ggnn_cuda_gather, GGNN_F32, random_ids(n, 50), 2048, 4, 0);
    store.count_traffic();
    check_gather(store, ggnn_cuda_gather, GGNN_F32, random_ids(70000, 50), 70000, 4,
                 0); // more than one tile a block
    CHECK(store.traffic_agrees());
    check_gather(store, gather_in_halves, GGNN_F32, random_ids(0, 50), 0, 4, 0);
}

TEST(gather_leaves_the_other_tier_alone)
{
    store_shape shape{64, 6};
    shape.parts = 2;
    shape.cached = 4;
    shape.stored = 40;
    twin_store                   store(shape);
    const std::vector<ggnn_node> id = random_ids(200, 64);
    device_array<ggnn_node>      device_id(id);
    device_count                 n(200, 200);
    std::vector<float>           all(200 * 6);
    device_array<float>          device_rows(200 * 6), host_rows(200 * 6);
    device_rows.fill(SENTINEL);
    host_rows.fill(SENTINEL);
    store.count_traffic();
    ggnn_gather(all.data(), 6, GGNN_F32, &store.host, id.data(), 200);
    CHECK_CUDA(ggnn_cuda_gather_device(device_rows.at(), 6, GGNN_F32, &store.device, device_id.at(), n.get(),
                                       nullptr));
    CHECK_CUDA(ggnn_cuda_gather_host(host_rows.at(), 6, GGNN_F32, &store.device, device_id.at(), n.get(), 1,
                                     nullptr));
    const std::vector<float> a = device_rows.values(), b = host_rows.values();
    const float              none = b[0] == all[0] ? a[0] : b[0]; // the sentinel as a float
    for (size_t i = 0; i < all.size(); i++) {
        const bool on_host = id[i / 6] >= 40; // the cache has rows below 4
        CHECK((on_host ? b : a)[i] == all[i]);
        CHECK(memcmp(&(on_host ? a : b)[i], &none, 4) == 0);
    }
    CHECK(store.traffic_agrees()); // each row once, by ids of several warps
}

TEST(a_plain_store_has_no_host_tier)
{
    twin_store                   store(store_shape{64, 6});
    const std::vector<ggnn_node> id = random_ids(200, 64);
    device_array<ggnn_node>      device_id(id);
    device_count                 n(200, 200);
    std::vector<float>           all(200 * 6);
    device_array<float>          rows(200 * 6);
    ggnn_store                   plain = store.device;
    device_array<float>          array(64 * 6);
    std::vector<float>           table(64 * 6);
    for (int64_t v = 0; v < 64; v++) memcpy(&table[static_cast<size_t>(v) * 6], ggnn_row(&store.host, v), 24);
    array.upload(table.data());
    plain.base = nullptr;
    plain.rows = array.at();
    rows.fill(SENTINEL);
    const std::vector<float> before = rows.values();
    ggnn_gather(all.data(), 6, GGNN_F32, &store.host, id.data(), 200);
    CHECK_CUDA(ggnn_cuda_gather_host(rows.at(), 6, GGNN_F32, &plain, device_id.at(), n.get(), 1, nullptr));
    CHECK(memcmp(rows.values().data(), before.data(), 200 * 6 * 4) == 0);
    CHECK_CUDA(ggnn_cuda_gather_device(rows.at(), 6, GGNN_F32, &plain, device_id.at(), n.get(), nullptr));
    CHECK(rows.values() == all);
}

// A bound that a grid of 32 bits would not hold, of 20 rows; and rows further apart than 32 bits count.
TEST(rows_may_be_many_and_far_apart)
{
    twin_store                    store(store_shape{64, 32});
    const std::vector<ggnn_node>  id = random_ids(20, 64);
    const device_array<ggnn_node> device_id(id);
    const device_count            n(20, INT32_MAX);
    std::vector<float>            want(20 * 32);
    device_array<float>           out(20 * 32);
    ggnn_gather(want.data(), 32, GGNN_F32, &store.host, id.data(), 20);
    CHECK_CUDA(ggnn_cuda_gather(out.at(), 32, GGNN_F32, &store.device, device_id.at(), n.get(), nullptr));
    CHECK(out.values() == want);
#ifdef SIMT_SHIM
    const int64_t                   pitch = (INT64_C(1) << 32) + 16, ld = pitch / 4, ld_out = (INT64_C(1) << 32) + 4;
    const far_zeros<float>          from(2 * ld), to(2 * ld_out);
    const device_array<ggnn_node>   swapped(std::vector<ggnn_node>{1, 0});
    const device_array<int32_t>     index(std::vector<int32_t>{1, 0});
    if (!from.at() || !to.at()) SKIP("no address space for 2^34 floats");
    const device_array<const void*> base(std::vector<const void*>{from.at(), nullptr, nullptr});
    const ggnn_layout               one = {nullptr, 0, nullptr, nullptr, 2, 1};
    const ggnn_store plain = {4, GGNN_F32, pitch, from.at(), nullptr, one, nullptr}, table = {4, GGNN_F32, pitch, nullptr, base.at(), one, nullptr};
    for (int64_t j = 0; j < 4; j++) from.at()[j] = static_cast<float>(j + 1), from.at()[ld + j] = static_cast<float>(j + 5);
    for (int how = 0; how < 3; how++) {
        for (int64_t j = 0; j < 4; j++) to.at()[j] = to.at()[ld_out + j] = 0;
        if (how < 2)
            CHECK_CUDA(ggnn_cuda_gather(to.at(), ld_out, GGNN_F32, how ? &table : &plain, swapped.at(), {nullptr, 2}, nullptr));
        else
            CHECK_CUDA(ggnn_cuda_permute(to.at(), ld_out, from.at(), ld, GGNN_F32, 4, index.at(), {nullptr, 2}, nullptr));
        CHECK_CUDA(cudaDeviceSynchronize());
        for (int64_t j = 0; j < 4; j++) CHECK(to.at()[j] == from.at()[ld + j] && to.at()[ld_out + j] == from.at()[j]);
    }
#endif
}

// Parts by ranges and by modulo of 2^32 rows and more; more are ranked than a rank of 32 bits can name.
TEST(edge_rows_may_be_more_than_ids)
{
    const int64_t                   most = (INT64_C(1) << 32) + 5, cut = most - 9, parts = 65536, rows = most / parts + 1;
    const std::vector<int64_t>      near_end = {most - 1, cut, most - 3, cut + 1, most - 1}, spread = {most - 2, 3, most - 2 - parts};
    const device_array<int64_t>     position(near_end), far(spread), bound(std::vector<int64_t>{0, cut, most});
    const std::vector<float>        few = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const device_array<float>       table(few);
    std::vector<float>              many(static_cast<size_t>(rows));
    for (float& x : many) x = test_uniform();
    const device_array<float>       part(many);
    const device_array<const void*> base(std::vector<const void*>{nullptr, table.at(), nullptr, nullptr});
    const device_array<const void*> bases(std::vector<const void*>(static_cast<size_t>(parts + 2), part.at()));
    device_array<float>             out(5);
    ggnn_store s = {1, GGNN_F32, 4, nullptr, base.at(), {nullptr, 0, nullptr, bound.at(), most, 2}, nullptr};
    CHECK_CUDA(ggnn_cuda_gather_edges(out.at(), 1, GGNN_F32, &s, position.at(), {nullptr, 5}, nullptr));
    for (size_t i = 0; i < 5; i++) CHECK(out.values()[i] == few[static_cast<size_t>(near_end[i] - cut)]);
    s.base = bases.at(), s.at.bound = nullptr, s.at.parts = static_cast<int32_t>(parts);
    CHECK_CUDA(ggnn_cuda_gather_edges(out.at(), 1, GGNN_F32, &s, far.at(), {nullptr, 3}, nullptr));
    for (size_t i = 0; i < 3; i++) CHECK(out.values()[i] == many[static_cast<size_t>(spread[i] / parts)]);
    const device_array<ggnn_node> number(std::vector<ggnn_node>{0});
    s.at.rank = number.at(), s.at.stored = INT64_C(1) << 31;
    CHECK((ggnn_cuda_gather_edges(out.at(), 1, GGNN_F32, &s, far.at(), {nullptr, 0}, nullptr) == cudaSuccess) == (sizeof(ggnn_node) == 8));
    s.at.stored = INT32_MAX;
    CHECK_CUDA(ggnn_cuda_gather_edges(out.at(), 1, GGNN_F32, &s, far.at(), {nullptr, 0}, nullptr));
}

TEST(arguments_that_cannot_be_are_refused)
{
    store_shape shape{4, 6};
    twin_store  store(shape);
    ggnn_count  none = {nullptr, 0};
    ggnn_layout wide = {nullptr, 0, nullptr, nullptr, 4, GGNN_CUDA_PARTS_MAX + 1};
    CHECK(ggnn_cuda_gather(nullptr, 5, GGNN_F32, &store.device, nullptr, none, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_gather_host(nullptr, 6, GGNN_F32, &store.device, nullptr, none, 0, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_permute(nullptr, 6, nullptr, 5, GGNN_F32, 6, nullptr, none, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_permute(nullptr, 5, nullptr, 6, GGNN_F32, 6, nullptr, none, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_split(nullptr, nullptr, nullptr, &wide, nullptr, none, nullptr, nullptr) ==
          cudaErrorInvalidValue);
    store.device.traffic = reinterpret_cast<int64_t*>(8);
    store.device.at.parts = GGNN_CUDA_PARTS_MAX + 1;
    CHECK(ggnn_cuda_gather(nullptr, 6, GGNN_F32, &store.device, nullptr, none, nullptr) ==
          cudaErrorInvalidValue);
}

// ---- places, halves ---------------------------------------------------------------------------------------

static __global__ void locate_all(ggnni::fast_layout at, int64_t n, ggnn_place* place)
{
    int64_t v = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (v < n) place[v] = ggnni::place_of(at, static_cast<ggnn_node>(v));
}

TEST(places_are_those_of_ggnn_locate)
{
    const int64_t            bound[] = {0, 10, 10, 60, 75};
    device_array<int64_t>    device_bound(bound, 5);
    device_array<ggnn_place> place(100);
    std::vector<ggnn_node>   rank, cache_row;
    for (int64_t v = 0; v < 100; v++) {
        rank.push_back(static_cast<ggnn_node>(ggnn_shuffle(1, 0, v, 100)));
        cache_row.push_back(static_cast<ggnn_node>(v % 3 ? ggnn_shuffle(1, 1, v, 100) : -1));
    }
    device_array<ggnn_node> device_rank(rank), device_cache_row(cache_row);
    for (bool ranked : {false, true})
    for (int32_t parts : {1, 2, 3, 4, 7})
        for (int64_t cached : {0, 20})
            for (int ranges = 0; ranges < (parts == 4 ? 2 : 1); ranges++) {
                ggnn_layout at = {nullptr, cached, nullptr, ranges ? bound : nullptr, 75, parts}, device = at;
                if (ranges) device.bound = device_bound.at();
                if (ranked) {
                    at.rank = rank.data(), at.cache_row = cache_row.data();
                    device.rank = device_rank.at(), device.cache_row = device_cache_row.at();
                }
                CHECK_CUDA(ggnni::launch(locate_all, 1, 128, nullptr, ggnni::layout_of(device), 100, place.at()));
                std::vector<ggnn_place> got = place.values();
                for (int64_t r = 0; r < 100; r++) {
                    ggnn_place want = ggnn_locate(&at, r);
                    CHECK_EQ(got[static_cast<size_t>(r)].slot, want.slot);
                    CHECK_EQ(got[static_cast<size_t>(r)].row, want.row);
                }
            }
}

static __global__ void convert_halves(float* wide, float* value)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    wide[i] = ggnni::widen(static_cast<uint16_t>(i));
    value[i] = ggnni::number(static_cast<uint16_t>(i));
}
static __global__ void convert_floats(const float* x, int64_t n, uint16_t* half)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) half[i] = ggnni::narrow(x[i]);
}

TEST(halves_and_floats_convert_as_in_c)
{
    device_array<float> wide(65536), value(65536);
    CHECK_CUDA(ggnni::launch(convert_halves, 256, 256, nullptr, wide.at(), value.at()));
    const std::vector<float> got = wide.values(), number = value.values();
    std::vector<float>       x;
    for (unsigned i = 0; i < 65536; i++) {
        float want = ggnn_half_to_float(static_cast<uint16_t>(i));
        CHECK(memcmp(&want, &got[i], 4) == 0);
        CHECK(number[i] == want || (number[i] != number[i] && want != want));
        for (int near = 0; near < 6; near++) { // around every half, and around the middle between two
            uint32_t bits;
            memcpy(&bits, &want, 4);
            bits += static_cast<uint32_t>(near % 3 - 1) + (near < 3 ? 0 : 0x1000u);
            x.push_back(0);
            memcpy(&x.back(), &bits, 4);
        }
    }
    device_array<float>    device_x(x);
    device_array<uint16_t> half(device_x.count());
    CHECK_CUDA(ggnni::launch(convert_floats, ggnni::tiles_of(half.count(), 256), 256, nullptr,
                             static_cast<const float*>(device_x.at()), half.count(), half.at()));
    const std::vector<uint16_t> narrow = half.values();
    for (size_t i = 0; i < x.size(); i++) CHECK_EQ(narrow[i], ggnn_float_to_half(x[i]));
}

// ---- the host tier by whole lines -----------------------------------------------------------------------

TEST(lines_take_every_unit_of_a_row_once)
{
    for (int32_t bytes : {4, 2})
        for (int32_t row = 4; row <= 4096; row += 4) {
            const int32_t units = row / bytes, begin = bytes * static_cast<int32_t>(test_below(128 / bytes));
            std::vector<char> taken(static_cast<size_t>(units));
            for (int32_t k = 0; k < units; k++) {
                int32_t unit = ggnni::line_unit(static_cast<uint64_t>(begin), units, bytes, k);
                if (!CHECK(unit >= 0 && unit < units)) continue; // no access leaves the row
                CHECK(!taken[static_cast<size_t>(unit)]);
                taken[static_cast<size_t>(unit)] = 1;
                if (row < 128) CHECK_EQ(unit, k);
                if (row >= 128 && k == 0) CHECK_EQ((begin + unit * bytes) % 128, 0);
            }
        }
}

#ifdef SIMT_SHIM
// A warp reads a row of floats as zero copy does, lane by lane, or shifted to whole lines.
static __global__ void read_row(const float* row, int32_t width, bool shifted)
{
    for (int32_t k = static_cast<int32_t>(threadIdx.x); k < width; k += 32)
        __ldg(row + (shifted ? ggnni::line_unit(reinterpret_cast<uintptr_t>(row), width, 4, k) : k));
}

static int64_t lines_read(const float* row, int32_t width, bool shifted)
{
    simt_count_begin();
    CHECK_CUDA(ggnni::launch(read_row, 1, 32, nullptr, row, width, shifted));
    CHECK_CUDA(cudaDeviceSynchronize());
    return static_cast<int64_t>(simt_count_end().lines);
}

TEST(shifted_lanes_read_fewer_lines) // PyTorch-Direct: rows of 480 bytes by index mod 4, and of 512 bytes
{
    static const int64_t naive[] = {4, 8, 8, 7}, shifted[] = {4, 5, 5, 4};
    device_array<float>  rows(4 * 120 + 256);
    for (int64_t i = 0; i < 4; i++) {
        CHECK_EQ(lines_read(rows.at() + i * 120, 120, false), naive[i]);
        CHECK_EQ(lines_read(rows.at() + i * 120, 120, true), shifted[i]);
    }
    CHECK_EQ(lines_read(rows.at(), 128, true), 4);
    CHECK_EQ(lines_read(rows.at() + 16, 128, false), 8);
    CHECK_EQ(lines_read(rows.at() + 16, 128, true), 5);
}

// The gather itself: out's rows lie as the store's do, so that rows are read and written in as many lines;
// each of a row's warps also reads four ids, a line each time.
static int64_t lines_gathered(int32_t width, int64_t shift, ggnn_type type = GGNN_F32)
{
    store_shape shape{4, width, type};
    shape.stored = 0;
    shape.shift = shift;
    twin_store              store(shape);
    const ggnn_node         id[] = {0, 1, 2, 3};
    device_array<ggnn_node> device_id(id, 4);
    const int64_t           size = ggnn_type_bytes(type), together = size == 2 && shift % 2 == 0 ? 2 : 1; // elements of a lane
    device_array<char>      out((4 * width + shift) * size);
    device_count            n(4, 4);
    simt_count_begin();
    CHECK_CUDA(ggnn_cuda_gather_host(out.at() + shift * size, width, type, &store.device, device_id.at(), n.get(), 1, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    int64_t lines = static_cast<int64_t>(simt_count_end().lines), warps = (width / together + 31) / 32;
    return (lines - 4 * warps) / 2;
}

TEST(host_tier_is_read_in_whole_lines)
{
    CHECK_EQ(lines_gathered(120, 0), 4 + 5 + 5 + 4);
    CHECK_EQ(lines_gathered(128, 0), 4 * 4);
    CHECK_EQ(lines_gathered(128, 16), 4 * 5);
    CHECK_EQ(lines_gathered(240, 0, GGNN_F16), 4 + 5 + 5 + 4); // halves by twos
    CHECK_EQ(lines_gathered(256, 32, GGNN_F16), 4 * 5);
    CHECK_EQ(lines_gathered(256, 1, GGNN_F16), 4 * 9); // but not from an odd one on
}
#else
TEST(shifted_lanes_read_fewer_lines) { SKIP("requests are counted by the emulator alone"); }
TEST(host_tier_is_read_in_whole_lines) { SKIP("requests are counted by the emulator alone"); }
#endif

// ---- split, permute
// -----------------------------------------------------------------------------------------

static void check_split(const ggnn_layout& host, const ggnn_layout& device, int64_t nodes, int64_t n,
                        int64_t max)
{
    const size_t                 slots = static_cast<size_t>(host.parts) + 2, size = static_cast<size_t>(n);
    const std::vector<ggnn_node> id = random_ids(n, nodes);
    std::vector<int32_t>         gather(size), scatter(size);
    std::vector<int64_t>         bound(slots + 1);
    device_array<int32_t>        out_gather(n), out_scatter(n);
    device_array<int64_t>        out_bound(static_cast<int64_t>(slots) + 1);
    device_array<ggnn_node>      device_id(id);
    device_array<char> workspace(static_cast<int64_t>(ggnn_cuda_split_workspace_bytes(max, host.parts)));
    device_count       count(n, max);
    ggnn_split(gather.data(), scatter.data(), bound.data(), &host, id.data(), n);
    CHECK_CUDA(ggnn_cuda_split(out_gather.at(), out_scatter.at(), out_bound.at(), &device, device_id.at(),
                               count.get(), workspace.at(), nullptr));
    CHECK(out_gather.values() == gather);
    CHECK(out_scatter.values() == scatter);
    CHECK(out_bound.values() == bound);
}

TEST(split_is_ggnn_split)
{
    for (const store_shape& shape : layouts_of(100, 1, GGNN_F32)) {
        twin_store store(shape);
        for (int64_t n : {0, 1, 31, 33, 256, 1023, 1024, 1025, 3000})
            check_split(store.host.at, store.device.at, 100, n, n + test_below(2000));
    }
    ggnn_layout most = {nullptr, 10, nullptr, nullptr, 900, GGNN_CUDA_PARTS_MAX};
    check_split(most, most, 1000, 5000, 5000);
    check_split(most, most, 1000, 40000, 40000); // more tiles than blocks
    ggnn_layout one = {nullptr, 0, nullptr, nullptr, 0, 1};
    check_split(one, one, 10, 2000, 600000); // more tiles of capacity than there are ids for
}

TEST(a_split_of_no_id_has_empty_slots)
{
    for (const store_shape& shape : layouts_of(100, 1, GGNN_F32)) {
        twin_store store(shape);
        check_split(store.host.at, store.device.at, 100, 0, 0); // no room for any either
    }
}

// More tiles than a block has threads, without the 260,000 ids that they would take.
TEST(split_adds_up_any_number_of_tiles)
{
    const int64_t        tiles = 700, slots = 3;
    std::vector<int32_t> count, before, total;
    for (int64_t i = 0; i < slots * tiles; i++) {
        if (i % tiles == 0) total.push_back(0);
        count.push_back(static_cast<int32_t>(test_below(1025)));
        before.push_back(total.back());
        total.back() += count.back();
    }
    device_array<int32_t> device_sums(count), device_total(slots);
    device_count          n(tiles * ggnni::SPLIT_TILE - 5, tiles * ggnni::SPLIT_TILE);
    ggnni::split_job      job = {};
    job.n = n.get();
    job.max_tiles = tiles;
    job.count = device_sums.at();
    job.total = device_total.at();
    CHECK_CUDA(ggnni::launch(ggnni::split_sum, slots, ggnni::THREADS, nullptr, job));
    CHECK(device_sums.values() == before);
    CHECK(device_total.values() == total);
}

TEST(split_gives_the_indices_of_gsplit)
{
    const ggnn_node            id[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    const std::vector<int32_t> want_gather = {0, 4, 1, 5, 2, 6, 3, 7},
                               want_scatter = {0, 2, 4, 6, 1, 3, 5, 7};
    ggnn_layout             at = {nullptr, 0, nullptr, nullptr, 8, 4};
    device_array<ggnn_node> device_id(id, 8);
    device_array<int32_t>   gather(8), scatter(8);
    device_array<int64_t>   bound(7);
    device_array<char>      workspace(static_cast<int64_t>(ggnn_cuda_split_workspace_bytes(8, 4)));
    device_count            n(8, 8);
    CHECK_CUDA(ggnn_cuda_split(gather.at(), scatter.at(), bound.at(), &at, device_id.at(), n.get(),
                               workspace.at(), nullptr));
    CHECK(gather.values() == want_gather);
    CHECK(scatter.values() == want_scatter);
}

// Either matrix alone begins off its alignment.
TEST(one_matrix_alone_may_be_off_its_alignment)
{
    for (int32_t width : {2, 4, 8})
        for (int64_t shift : {1, 2, 3, 4})
            for (ggnn_type type : {GGNN_F32, GGNN_F16})
                for (int side = 0; side < 3; side++) { // what permute reads, what it writes, what gather writes
                    const int64_t                 size = ggnn_type_bytes(type), from = side == 0 ? shift : 0, to = side == 0 ? 0 : shift;
                    std::vector<char>             inp(static_cast<size_t>((30 * width + from) * size)), want(static_cast<size_t>((20 * width + to) * size), SENTINEL);
                    std::vector<int32_t>          index;
                    const std::vector<ggnn_node>  id = random_ids(20, 30);
                    for (char& c : inp) c = static_cast<char>(test_below(60));
                    for (ggnn_node v : id) index.push_back(static_cast<int32_t>(v));
                    const device_array<char>      device_inp(inp);
                    const device_array<int32_t>   device_index(index);
                    const device_array<ggnn_node> device_id(id);
                    device_array<char>            out(static_cast<int64_t>(want.size()));
                    const ggnn_store              rows = ggnn_store_plain(device_inp.at(), 30, width, type);
                    out.fill(SENTINEL);
                    ggnn_permute(want.data() + to * size, width, inp.data() + from * size, width, type, width, index.data(), 20);
                    if (side < 2)
                        CHECK_CUDA(ggnn_cuda_permute(out.at() + to * size, width, device_inp.at() + from * size, width, type, width,
                                                     device_index.at(), {nullptr, 20}, nullptr));
                    else
                        CHECK_CUDA(ggnn_cuda_gather(out.at() + to * size, width, type, &rows, device_id.at(), {nullptr, 20}, nullptr));
                    CHECK(out.values() == want);
                }
}

TEST(permute_moves_rows_of_both_types)
{
    for (int32_t width : widths)
        for (int64_t size : {4, 2}) {
            const int64_t ld_inp = width + test_below(5), ld_out = width + test_below(5), n = test_below(30),
                          off = test_below(2);
            std::vector<char>    inp(static_cast<size_t>(size * ld_inp * 30));
            std::vector<int32_t> index;
            for (char& c : inp) c = static_cast<char>(test_below(256));
            for (int64_t i = 0; i < n; i++) index.push_back(static_cast<int32_t>(test_below(30)));
            std::vector<char>     want(static_cast<size_t>(size * (ld_out * 30 + off)), SENTINEL);
            device_array<char>    out(static_cast<int64_t>(want.size())), device_inp(inp);
            device_array<int32_t> device_index(index);
            device_count          count(n, 30);
            const ggnn_type       type = size == 4 ? GGNN_F32 : GGNN_F16;
            out.fill(SENTINEL);
            ggnn_permute(want.data() + off * size, ld_out, inp.data(), ld_inp, type, width, index.data(), n);
            CHECK_CUDA(ggnn_cuda_permute(out.at() + off * size, ld_out, device_inp.at(), ld_inp, type, width,
                                         device_index.at(), count.get(), nullptr));
            CHECK(out.values() == want);
        }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(7);
    if (!device_present()) return finish_without_device();
    RUN(gather_reads_any_layout_and_counts_where);
    RUN(edge_rows_are_read_by_position_in_any_layout);
    RUN(marked_rows_are_read_without_tables);
    RUN(edge_rows_may_be_more_than_ids);
    RUN(device_and_host_halves_make_one_gather);
    RUN(gather_takes_the_widest_chunks_that_fit);
    RUN(one_base_of_many_may_be_off_its_alignment);
    RUN(a_plain_store_may_begin_off_any_alignment);
    RUN(traffic_of_as_many_parts_as_can_be_counted);
    RUN(gather_stops_at_the_count_on_the_device);
    RUN(gather_leaves_the_other_tier_alone);
    RUN(a_plain_store_has_no_host_tier);
    RUN(rows_may_be_many_and_far_apart);
    RUN(arguments_that_cannot_be_are_refused);
    RUN(places_are_those_of_ggnn_locate);
    RUN(halves_and_floats_convert_as_in_c);
    RUN(lines_take_every_unit_of_a_row_once);
    RUN(shifted_lanes_read_fewer_lines);
    RUN(host_tier_is_read_in_whole_lines);
    RUN(split_is_ggnn_split);
    RUN(a_split_of_no_id_has_empty_slots);
    RUN(split_adds_up_any_number_of_tiles);
    RUN(split_gives_the_indices_of_gsplit);
    RUN(permute_moves_rows_of_both_types);
    RUN(one_matrix_alone_may_be_off_its_alignment);
    return test_finish();
}
