// test_cuda_spmm.cc - [8] SPARSE of ggnn_cuda.cuh, aggregation: every sum, maximum and factor against ggnn.h,
// bit by bit; backward by atomics within what rounding allows.
#include "ggnn_cuda.cuh"
#include "ggnn_reference.h"
#include "tests/cuda_store.h"
#include "tests/random_block.h"
#include "tests/random_graph.h"

#include <cmath>

static const char SENTINEL = 0x5b;

// ---- matrices on host and device -------------------------------------------------------------------------

template <class T> bool same(T a, T b) { return memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

// rows of `width` elements, `extra` more from row to row, that begin `shift` elements off their alignment;
// the memory ends with the last row's last element, so that reading on is reading wildly.
template <class T> class twin_matrix {
public:
    const int64_t rows, ld;

    twin_matrix(int64_t num_rows, int64_t width, int64_t extra, int64_t shift)
        : rows(num_rows), ld(width + extra), begin(shift),
          values(static_cast<size_t>(rows ? shift + (rows - 1) * ld + width : 0)),
          memory(static_cast<int64_t>(values.size()))
    {
    }
    T* host() { return values.data() + (values.empty() ? 0 : begin); }
    T* device() { return memory.at() + (values.empty() ? 0 : begin); }
    T& at(int64_t i, int64_t j) { return host()[i * ld + j]; }

    void randomise()
    {
        for (T& x : values) x = static_cast<T>(test_uniform());
        send();
    }
    void send() { memory.upload(values.data()); }
    void spoil() // both
    {
        if (!values.empty()) memset(static_cast<void*>(values.data()), SENTINEL, values.size() * sizeof(T));
        memory.fill(SENTINEL);
    }
    // Rows and padding alike; a NaN's payload does not count. allowed: by how much elements (rows, width) may
    // differ.
    bool agrees(const std::vector<double>& allowed = {}) const
    {
        const std::vector<T> got = memory.values();
        const int64_t        width = allowed.empty() ? 0 : static_cast<int64_t>(allowed.size()) / rows;
        for (int64_t i = 0; i < static_cast<int64_t>(got.size()); i++) {
            const int64_t row = (i - begin) / ld, column = (i - begin) % ld;
            const T       x = got[static_cast<size_t>(i)], want = values[static_cast<size_t>(i)];
            if (i >= begin && column < width) {
                const double difference = std::fabs(static_cast<double>(x) - static_cast<double>(want));
                if (!(difference <= allowed[static_cast<size_t>(row * width + column)])) return false;
            } else if (!same(x, want)) {
                return false;
            }
        }
        return true;
    }

private:
    int64_t         begin;
    std::vector<T>  values;
    device_array<T> memory;
};

struct twin_floats { // of edges or nodes; absent: NULL
    std::vector<float>  host;
    device_array<float> device;
    bool                present;

    explicit twin_floats(int64_t n, bool wanted = true) : present(wanted)
    {
        for (int64_t i = 0; i < (wanted ? n : 0); i++) host.push_back(test_uniform());
        device = device_array<float>(host);
    }
    const float* h() const { return present ? host.data() : nullptr; }
    const float* d() const { return present ? device.at() : nullptr; }
};

static random_block* block_of(int64_t num_src, const std::vector<int64_t>& degree)
{
    return random_block_new(static_cast<int64_t>(degree.size()), num_src, degree.data());
}

// ---- sum, mean, max, min
// -----------------------------------------------------------------------------------

struct spmm_case {
    int32_t     width;
    ggnn_reduce how;
    int32_t     heads = 1;
    bool        weighted = false, src = false, dst = false, self = false, arg = false, transposed = false;
    int64_t     extra = 0, shift = 0, slack = 0; // slack: of the block's bounds
    int         alone = 0;                       // the one matrix that is shifted; 0: all of them
    int64_t     shift_of(int matrix) const { return alone && alone != matrix ? 0 : shift; }
    int64_t     other() const { return extra ? extra + 4 : 0; } // of a second matrix: no stride is another's
};

static void check_spmm(const random_block& r, const spmm_case& c, const char* spoil = nullptr)
{
    const ggnn_block&    b = c.transposed ? r.t : r.b;
    const int64_t        dst = *b.num_dst.n, src = *b.num_src.n;
    const device_block   device(b, c.slack);
    twin_matrix<float>   inp(src, c.width, c.extra, c.shift_of(1)), out(dst, c.width, c.other(), c.shift_of(2));
    twin_matrix<int32_t> arg(dst, c.width, 0, c.shift_of(3));
    const twin_floats    weight(r.edges * c.heads, c.weighted), of_src(src, c.src), of_dst(dst, c.dst);
    const twin_floats    of_self(dst < src ? dst : src, c.self);
    const ggnn_scale     scale = {of_src.h(), of_dst.h(), of_self.h()},
                     device_scale = {of_src.d(), of_dst.d(), of_self.d()};
    const bool scaled = c.src || c.dst || c.self;
    inp.randomise();
    for (int64_t i = 0; spoil && i < src * c.width;
         i++) // some infinities and NaNs; rows 0 to 2 hold nothing else
        if (i < 3 * c.width || !test_below(4))
            inp.at(i / c.width, i % c.width) = spoil[test_below(2)] ? NAN : -INFINITY;
    inp.send();
    out.spoil();
    arg.spoil();
    ggnn_spmm(out.host(), out.ld, c.arg ? arg.host() : nullptr, c.how, &b, scaled ? &scale : nullptr,
              weight.h(), c.heads, inp.host(), inp.ld, c.width);
    CHECK_CUDA(ggnn_cuda_spmm(out.device(), out.ld, c.arg ? arg.device() : nullptr, c.how, device.get(),
                              scaled ? &device_scale : nullptr, weight.d(), c.heads, inp.device(), inp.ld,
                              c.width, nullptr));
    CHECK(out.agrees());
    CHECK(arg.agrees());
}

struct back_shifts {
    int64_t dout, dinp, arg;
};
static void check_back_arg(const ggnn_block& forward, const ggnn_block& back, int32_t width, const back_shifts& shift);
static void check_atomic(const random_block& r, const spmm_case& c, bool with_repeats);

// Every width with every operation, bases and pitches of any alignment.
TEST(spmm_has_the_bits_of_ggnn_spmm)
{
    random_block* r = random_block_mixed(40, 30);
    for (int32_t width : {1, 2, 3, 4, 5, 7, 8, 31, 100, 128, 257})
        for (ggnn_reduce how : {GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN}) {
            const bool linear = how == GGNN_SUM || how == GGNN_MEAN;
            spmm_case  c{width, how};
            c.arg = !linear;
            check_spmm(*r, c);
            c.transposed = true;
            c.weighted = true;
            c.extra = test_below(6);
            c.shift = test_below(4);
            c.slack = 7;
            c.src = linear;
            check_spmm(*r, c);
            c.arg = false;
            c.transposed = false;
            c.dst = c.self = linear;
            check_spmm(*r, c);
        }
    random_block_free(r);
}

// What one matrix allows is not what another one does: each alone begins off its alignment.
TEST(each_matrix_alone_may_begin_anywhere)
{
    random_block* r = block_of(20, {0, 3, 300, 1, 7, 2});
    for (int32_t width : {2, 4, 8})
        for (int64_t shift : {1, 2, 3})
            for (int alone = 1; alone <= 3; alone++) {
                spmm_case c{width, alone == 3 ? GGNN_MIN : GGNN_SUM};
                c.shift = shift;
                c.alone = alone;
                c.arg = alone == 3;
                check_spmm(*r, c);
                check_back_arg(r->b, r->t, width, {alone == 1 ? shift : 0, alone == 2 ? shift : 0, alone == 3 ? shift : 0});
                if (alone < 3) check_atomic(*r, c, false);
            }
    random_block_free(r);
}

// Subnormal numbers too: a build that flushes them to zero, as by -use_fast_math, fails here.
TEST(sum_and_mean_have_the_twins_bits)
{
    random_block*      r = random_block_mixed(40, 30);
    const device_block device(r->b);
    twin_matrix<float> inp(r->src, 12, 0, 0), sum(r->dst, 12, 0, 0), mean(r->dst, 12, 0, 0);
    for (int power : {0, -126, -140}) {
        inp.randomise();
        for (int64_t i = 0; i < r->src * 12; i++) inp.at(i / 12, i % 12) = std::ldexp(inp.at(i / 12, i % 12), power);
        inp.send();
        sum.spoil();
        mean.spoil();
        CHECK_EQ(ggnn_sum(sum.host(), &r->b, inp.host(), 12), GGNN_OK);
        CHECK_EQ(ggnn_mean(mean.host(), &r->b, inp.host(), 12), GGNN_OK);
        CHECK_CUDA(ggnn_cuda_sum(sum.device(), device.get(), inp.device(), 12, nullptr));
        CHECK_CUDA(ggnn_cuda_mean(mean.device(), device.get(), inp.device(), 12, nullptr));
        if (!CHECK(sum.agrees() && mean.agrees())) printf("  numbers below 2^%d\n", power);
    }
    random_block_free(r);
}

TEST(factors_apply_in_any_combination)
{
    random_block* r = random_block_mixed(30, 20); // more targets than sources are self terms for
    for (int i = 0; i < 64; i++) {
        spmm_case c{8, i & 1 ? GGNN_MEAN : GGNN_SUM};
        c.src = i & 2;
        c.dst = i & 4;
        c.self = i & 8;
        c.weighted = i & 16;
        c.transposed = i & 32;
        check_spmm(*r, c);
    }
    random_block_free(r);
}

// A sampled block's transpose: four lists are a thread's, all short, all single, or one of them longer; the last
// thread has one to four.
TEST(lists_of_one_edge_are_read_together)
{
    for (int64_t src : {1, 60, 61, 62, 63, 300})
        for (int32_t width : {1, 2, 3, 8, 20}) {
            int64_t degree[40];
            for (int64_t& d : degree) d = test_below(4);
            random_block* r = random_block_new(40, src, degree);
            for (int i = 0; i < 8; i++) {
                spmm_case c{width, GGNN_SUM};
                c.transposed = true;
                c.src = i & 1;
                c.weighted = i & 2;
                c.heads = c.weighted && i & 4 && width % 2 == 0 ? 2 : 1;
                c.slack = i & 4 ? 9 : 0;
                check_spmm(*r, c);
                check_spmm(*r, c, "\1\0");
            }
            random_block_free(r);
        }
}

// A transpose's lists of 5 to some 40 edges: a block finds more of them than it sums at once, and looks a second time.
TEST(lists_of_a_transpose_are_dealt_to_groups)
{
    for (int64_t n : {3000, 9000}) {
        random_block* r = block_of(n, std::vector<int64_t>(static_cast<size_t>(n), 12));
        spmm_case     c{n == 3000 ? 64 : 4, GGNN_SUM};
        c.transposed = true;
        check_spmm(*r, c);
        random_block_free(r);
    }
}

TEST(heads_have_weights_of_their_own)
{
    random_block* r = random_block_mixed(20, 20);
    for (int32_t heads : {1, 2, 3, 8, 16, 17})
        for (int32_t per_head : {1, 2, 3, 4, 8}) {
            spmm_case c{heads * per_head, GGNN_SUM, heads, true};
            check_spmm(*r, c);
            c.transposed = true;
            check_spmm(*r, c);
            c.how = per_head & 1 ? GGNN_MAX : GGNN_MIN;
            c.arg = true;
            check_spmm(*r, c);
        }
    random_block_free(r);
}

// Lists around one, two and more segments, a hub of more segments than a block takes in one round, next to
// empty ones.
TEST(hubs_are_summed_in_segments)
{
    random_block* r = block_of(50, {5000, 0, 255, 256, 257, 512, 513, 1, 700, 4096, 4097, 0});
    for (int32_t width : {1, 3, 4, 10, 64})
        for (ggnn_reduce how : {GGNN_SUM, GGNN_MEAN, GGNN_MAX, GGNN_MIN}) {
            spmm_case c{width, how};
            c.weighted = c.arg = how == GGNN_MAX || how == GGNN_MIN;
            check_spmm(*r, c);
        }
    spmm_case wide{600, GGNN_SUM};
    check_spmm(*r, wide);
    for (ggnn_reduce how : {GGNN_SUM, GGNN_MAX}) { // 33 and 34 segments of 16 chunks: three rounds
        random_block* three = block_of(50, {8400, 2, 8500});
        spmm_case     c{64, how};
        c.arg = how == GGNN_MAX;
        check_spmm(*three, c);
        random_block_free(three);
    }
    spmm_case back{8, GGNN_MEAN}; // source 0 is a hub of the transpose
    back.transposed = back.weighted = back.src = back.self = true;
    check_spmm(*r, back);
    random_block_free(r);
    r = block_of(5, std::vector<int64_t>(300, 300)); // nothing but hubs
    spmm_case many{4, GGNN_SUM};
    check_spmm(*r, many);
    random_block_free(r);
    r = block_of(3, {70000}); // 274 segments for a row of one chunk: two rounds
    check_spmm(*r, many);
    random_block_free(r);
}

// Each block, of 16 in the emulator, looks through 256 lists at a time; one finds long ones in both of
// its rounds.
TEST(long_lists_are_found_among_thousands)
{
    std::vector<int64_t> degree(4200);
    for (size_t v : {5, 21, 37, 4095, 4096, 4101, 4117}) degree[v] = 300;
    random_block* r = block_of(9, degree);
    check_spmm(*r, {4, GGNN_SUM});
    random_block_free(r);
}

// Rows are read four at a time, and all arrays end with what the last edge needs: 256 edges end where only a
// sanitizer sees it, 1024 at the end of a page.
TEST(nothing_is_read_beyond_the_last_edge)
{
    for (const std::vector<int64_t>& degree : {std::vector<int64_t>{61, 64, 64, 64, 3}, {1020, 1, 0, 3}}) {
        random_block* r = block_of(7, degree);
        for (int i = 0; i < 16; i++) {
            spmm_case c{i & 1 ? 4 : 1, i & 2 ? GGNN_MAX : GGNN_SUM};
            c.weighted = i & 4;
            c.transposed = i & 8;
            c.arg = i & 2;
            check_spmm(*r, c);
        }
        random_block_free(r);
    }
}

TEST(maximum_takes_the_first_of_equals_and_no_nan)
{
    random_block* r = block_of(6, {1, 3, 0, 5, 40, 256, 257, 600, 2, 2, 2, 1, 1});
    for (const char* spoil : {"\1\1", "\0\1", "\0\0"}) // NaN, both, minus infinity
        for (int i = 0; i < 8; i++) {
            spmm_case c{i & 1 ? 4 : 3, i & 2 ? GGNN_MAX : GGNN_MIN};
            c.arg = true;
            c.weighted = i & 4;
            check_spmm(*r, c, spoil);
        }
    random_block_free(r);
}

TEST(blocks_may_be_empty_or_have_no_edges)
{
    for (const std::vector<int64_t>& degree : {std::vector<int64_t>{}, {0}, {0, 0, 0, 0, 0}, {1}}) {
        random_block* r = block_of(6, degree);
        for (ggnn_reduce how : {GGNN_SUM, GGNN_MEAN, GGNN_MAX}) {
            spmm_case c{4, how};
            c.arg = how == GGNN_MAX;
            c.slack = 300;
            c.self = how == GGNN_SUM;
            check_spmm(*r, c);
            c.transposed = true;
            check_spmm(*r, c);
        }
        random_block_free(r);
    }
}

TEST(arguments_that_cannot_be_are_refused)
{
    random_block*      r = random_block_mixed(12, 12);
    const device_block b(r->b), t(r->t);
    float*             x = nullptr;
    const ggnn_scale   scale = {reinterpret_cast<float*>(8), nullptr, nullptr};
    const cudaError_t  no = cudaErrorInvalidValue;
    CHECK(ggnn_cuda_spmm(x, 4, nullptr, GGNN_SUM, b.get(), nullptr, nullptr, 2, x, 4, 4, nullptr) == no);
    CHECK(ggnn_cuda_spmm(x, 4, nullptr, GGNN_SUM, b.get(), nullptr, x, 0, x, 4, 4, nullptr) == no);
    CHECK(ggnn_cuda_spmm(x, 5, nullptr, GGNN_SUM, b.get(), nullptr, reinterpret_cast<float*>(8), 2, x, 5, 5,
                         nullptr) == no);
    CHECK(ggnn_cuda_spmm(x, 3, nullptr, GGNN_SUM, b.get(), nullptr, nullptr, 1, x, 4, 4, nullptr) == no);
    CHECK(ggnn_cuda_spmm(x, 4, nullptr, GGNN_SUM, b.get(), nullptr, nullptr, 1, x, 3, 4, nullptr) == no);
    CHECK(ggnn_cuda_spmm(x, 4, nullptr, GGNN_MAX, b.get(), &scale, nullptr, 1, x, 4, 4, nullptr) == no);
    const ggnn_store rows = ggnn_store_plain(nullptr, 36, 4, GGNN_F32);
    CHECK(ggnn_cuda_aggregate(x, 4, GGNN_SUM, b.get(), nullptr, nullptr, 2, &rows, nullptr) == no);
    CHECK(ggnn_cuda_aggregate(x, 4, GGNN_SUM, b.get(), nullptr, reinterpret_cast<float*>(8), 3, &rows, nullptr) == no);
    ggnn_block       two_kinds = *b.get(); // its targets have no rows among the sources
    const ggnn_scale own = {nullptr, nullptr, reinterpret_cast<float*>(8)};
    two_kinds.bipartite = 1;
    CHECK(ggnn_cuda_spmm(x, 4, nullptr, GGNN_SUM, &two_kinds, &own, nullptr, 1, x, 4, 4, nullptr) == no);
    CHECK(ggnn_cuda_aggregate(x, 4, GGNN_SUM, &two_kinds, &own, nullptr, 1, &rows, nullptr) == no);
    CHECK(ggnn_cuda_spmm_back_arg(x, 3, t.get(), b.get(), nullptr, 1, x, 4, nullptr, 4, nullptr) == no);
    CHECK(ggnn_cuda_spmm_atomic(x, 4, b.get(), nullptr, nullptr, 1, x, 3, 4, nullptr) == no);
    random_block_free(r);
}

// ---- backward
// ------------------------------------------------------------------------------------------------

// back: the transpose of forward. Weights, and heads of them, from width 3 on.
static void check_back_arg(const ggnn_block& forward, const ggnn_block& back, int32_t width, const back_shifts& shift)
{
    const int64_t        dst = *forward.num_dst.n, src = *forward.num_src.n;
    const int32_t        heads = width % 2 ? 1 : 2;
    const device_block   b(forward, 3), t(back, 3);
    twin_matrix<float>   inp(src, width, 0, 0), out(dst, width, 0, 0);
    const bool           alone = shift.dout || shift.dinp || shift.arg; // no pitch is odd then
    twin_matrix<float>   dout(dst, width, alone ? 0 : test_below(4), alone ? shift.dout : test_below(3));
    twin_matrix<float>   dinp(src, width, alone ? 0 : test_below(4), shift.dinp);
    twin_matrix<int32_t> arg(dst, width, 0, shift.arg);
    const twin_floats    weight(*forward.num_edges.n * heads, width > 2);
    inp.randomise();
    dout.randomise();
    dinp.spoil();
    ggnn_spmm(out.host(), out.ld, arg.host(), GGNN_MAX, &forward, nullptr, weight.h(), width > 2 ? heads : 1,
              inp.host(), inp.ld, width);
    arg.send();
    ggnn_spmm_back_arg(dinp.host(), dinp.ld, &back, &forward, weight.h(), heads, dout.host(), dout.ld, arg.host(),
                       width);
    CHECK_CUDA(ggnn_cuda_spmm_back_arg(dinp.device(), dinp.ld, t.get(), b.get(), weight.d(), heads, dout.device(),
                                       dout.ld, arg.device(), width, nullptr));
    CHECK(dinp.agrees());
}

// Over a block, and over its transpose, whose edges have the block's weights.
TEST(back_arg_has_the_bits_of_ggnn_spmm_back_arg)
{
    random_block* mixed = random_block_mixed(40, 30);
    random_block* hubs = block_of(4, {2000, 3, 0, 300, 1, 1500});
    for (random_block* r : {mixed, hubs}) {
        std::vector<char> memory(ggnn_block_transpose_bytes(r->src, r->dst, r->edges));
        ggnn_block        again;
        ggnn_block_transpose_init(&again, r->src, r->dst, r->edges, memory.data());
        CHECK_EQ(ggnn_block_transpose(&again, &r->t), GGNN_OK);
        for (int32_t width : {1, 2, 3, 4, 8, 31, 64}) {
            check_back_arg(r->b, r->t, width, {});
            if (width <= 4) check_back_arg(r->t, again, width, {});
        }
    }
    random_block_free(mixed);
    random_block_free(hubs);
}

// A transpose whose edges lie as the block's do needs no numbers of them.
TEST(back_arg_takes_a_transpose_without_numbers)
{
    random_block* r = block_of(300, std::vector<int64_t>(150, 3));
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] = static_cast<int32_t>(e * 2 / 3); // ascending
    ggnn_block_transpose(&r->t, &r->b);
    for (int64_t e = 0; e < r->edges; e++) CHECK_EQ(r->t.edge[e], e);
    r->t.edge = nullptr;
    for (int32_t width : {3, 8}) check_back_arg(r->b, r->t, width, {});
    random_block_free(r);
}

// How far each element may be from ggnn_ref_spmm_scatter's: the sum of n rounded terms errs, in any order, by at
// most (n - 1) 2^-24 of the sum of their magnitudes, to first order. One term: not at all.
static std::vector<double> tolerance(const ggnn_block& b, const ggnn_scale& scale, const float* weight,
                                     int32_t heads, const float* dout, int64_t ld, int32_t width)
{
    const int64_t        dst = *b.num_dst.n, src = *b.num_src.n;
    std::vector<double>  size(static_cast<size_t>(src * width));
    std::vector<int64_t> terms(static_cast<size_t>(src));
    auto                 add = [&](int64_t u, int64_t v, int64_t e, double factor) {
        terms[static_cast<size_t>(u)]++;
        for (int32_t j = 0; j < width; j++) {
            const double w = weight && e >= 0 ? weight[e * heads + j / (width / heads)] : 1.0;
            size[static_cast<size_t>(u * width + j)] += std::fabs(w * factor * dout[v * ld + j]);
        }
    };
    for (int64_t v = 0; v < dst; v++) {
        for (int64_t e = b.indptr[v]; e < b.indptr[v + 1]; e++) {
            const int64_t u = b.indices[e];
            add(u, v, b.edge ? b.edge[e] : e, (scale.src ? scale.src[u] : 1.0) * (scale.dst ? scale.dst[v] : 1.0));
        }
        if (scale.self && v < src) add(v, v, -1, scale.self[v]);
    }
    for (size_t i = 0; i < size.size(); i++) {
        const int64_t n = terms[i / static_cast<size_t>(width)];
        size[i] *= n > 1 ? 2.0 * static_cast<double>(n - 1) * std::ldexp(1.0, -24) * 1.001 : 0.0;
    }
    return size;
}

static void check_atomic(const random_block& r, const spmm_case& c, bool with_repeats)
{
    ggnn_block           block = c.transposed ? r.t : r.b;
    const int64_t        dst = *block.num_dst.n, src = *block.num_src.n;
    std::vector<int32_t> repeats(static_cast<size_t>(src));
    for (int64_t e = 0; e < r.edges; e++) repeats[static_cast<size_t>(block.indices[e])]++;
    if (with_repeats) block.repeats = repeats.data();
    const device_block device(block, c.slack);
    twin_matrix<float> dout(dst, c.width, c.extra, c.shift_of(1)), dinp(src, c.width, c.other(), c.shift_of(2));
    const twin_floats  weight(r.edges * c.heads, c.weighted), of_src(src, c.src), of_dst(dst, c.dst);
    const twin_floats  of_self(dst < src ? dst : src, c.self);
    const ggnn_scale   scale = {of_src.h(), of_dst.h(), of_self.h()},
                     device_scale = {of_src.d(), of_dst.d(), of_self.d()};
    dout.randomise();
    dinp.spoil();
    ggnn_ref_spmm_scatter(dinp.host(), dinp.ld, &block, &scale, weight.h(), c.heads, dout.host(), dout.ld, c.width);
    CHECK_CUDA(ggnn_cuda_spmm_atomic(dinp.device(), dinp.ld, device.get(), &device_scale, weight.d(), c.heads,
                                     dout.device(), dout.ld, c.width, nullptr));
    CHECK(dinp.agrees(tolerance(block, scale, weight.h(), c.heads, dout.host(), dout.ld, c.width)));
}

TEST(backward_by_atomics_errs_by_rounding_alone)
{
    random_block* mixed = random_block_mixed(40, 30);
    random_block* sparse = block_of(200, std::vector<int64_t>(50, 2)); // most sources have one edge, or none
    random_block* hubs = block_of(9, {3000, 0, 300});
    random_block* wide = block_of(1000, std::vector<int64_t>(900, 1)); // more elements than threads run at once
    for (random_block* r : {mixed, sparse, hubs, wide})
        for (int i = 0; i < 32; i += r == wide ? 13 : 1) {
            spmm_case c{i & 1 ? 12 : 5, GGNN_SUM};
            c.heads = i & 1 ? 3 : 1;
            c.weighted = i & 1;
            c.src = i & 2;
            c.dst = c.self = i & 4;
            c.shift = i & 8 ? 0 : test_below(4);
            c.extra = i & 8 ? 4 : test_below(3);
            c.slack = 5;
            check_atomic(*r, c, i & 16);
            c.transposed = true; // whose edges have the block's weights
            if (r == mixed || r == sparse) check_atomic(*r, c, i & 16);
        }
    random_block_free(mixed);
    random_block_free(sparse);
    random_block_free(hubs);
    random_block_free(wide);
}

// A product that is -0 is stored as 0, as C's sum from 0 has it.
TEST(a_zero_that_atomics_write_is_positive)
{
    const float           minus[] = {-1.0f, -2.0f, -3.0f, -4.0f}, zero[] = {0, 0, 0, 0, 0, 0, 0, 0};
    const int32_t         sources[] = {1, 0, 2, 2}, times[] = {1, 1, 2};
    const int64_t         begins[] = {0, 2, 4};
    device_array<int32_t> indices(sources, 4), repeats(times, 3);
    device_array<int64_t> indptr(begins, 3);
    device_array<float>   weight(minus, 4), dout(zero, 8), dinp(12);
    ggnn_block            b = {};
    b.num_dst.max = 2, b.num_src.max = 3, b.num_edges.max = 4;
    b.indptr = indptr.at(), b.indices = indices.at();
    for (int32_t* given : {static_cast<int32_t*>(nullptr), repeats.at()}) {
        b.repeats = given;
        dinp.fill(SENTINEL);
        CHECK_CUDA(ggnn_cuda_spmm_atomic(dinp.at(), 4, &b, nullptr, weight.at(), 1, dout.at(), 4, 4, nullptr));
        for (float x : dinp.values()) CHECK(x == 0 && !std::signbit(x));
    }
}

// Bounds that grids of 32 bits would not hold, of 40 rows; chunks are even, or 32 bits would do by chance.
TEST(bounds_may_be_2_to_the_31)
{
    random_block* r = block_of(40, std::vector<int64_t>(40, 3));
    for (ggnn_reduce how : {GGNN_SUM, GGNN_MEAN, GGNN_MAX}) {
        spmm_case c{8, how};
        c.arg = how == GGNN_MAX;
        c.slack = INT32_MAX - 40;
        check_spmm(*r, c);
        if (how == GGNN_SUM) check_atomic(*r, c, false);
    }
    random_block_free(r);
}

// Rows, weights, edges and targets further apart than 32 bits count.
TEST(operands_may_be_far_apart)
{
#ifdef SIMT_SHIM
    const int64_t          ld = (INT64_C(1) << 30) - 4, far = (INT64_C(1) << 29) + 1;
    const far_zeros<float> inp(3 * ld), out(3 * ld), weight(4 * far + 4), dout(4 * far + 4);
    const far_zeros<int32_t> arg(4 * far + 4);
    const far_zeros<int64_t> begins(far + 2);
    if (!inp.at() || !out.at() || !weight.at() || !dout.at() || !arg.at() || !begins.at()) SKIP("no address space for 2^33 floats");
    device_array<int64_t> indptr(std::vector<int64_t>{0, 1, 2});
    device_array<int32_t> indices(std::vector<int32_t>{2, 0}), edge(std::vector<int32_t>{static_cast<int32_t>(far), 0});
    ggnn_block            b = {};
    b.num_dst.max = b.num_edges.max = 2, b.num_src.max = 3;
    b.indptr = indptr.at(), b.indices = indices.at(), b.edge = edge.at();
    for (int64_t j = 0; j < 4; j++) {
        inp.at()[j] = static_cast<float>(j + 1), inp.at()[ld + j] = static_cast<float>(j + 5), inp.at()[2 * ld + j] = static_cast<float>(j + 9);
        weight.at()[j] = static_cast<float>(j + 2), weight.at()[4 * far + j] = static_cast<float>(j + 7);
        dout.at()[4 * far + j] = static_cast<float>(j + 3);
    }
    for (ggnn_reduce how : {GGNN_SUM, GGNN_MAX}) {
        CHECK_CUDA(ggnn_cuda_spmm(out.at(), ld, nullptr, how, &b, nullptr, weight.at(), 4, inp.at(), ld, 4, nullptr));
        CHECK_CUDA(cudaDeviceSynchronize());
        for (int64_t j = 0; j < 4; j++) {
            CHECK(out.at()[j] == inp.at()[2 * ld + j] * weight.at()[4 * far + j]);
            CHECK(out.at()[ld + j] == inp.at()[j] * weight.at()[j]);
            out.at()[j] = out.at()[ld + j] = 0;
        }
    }
    CHECK_CUDA(ggnn_cuda_spmm_atomic(out.at(), ld, &b, nullptr, weight.at(), 4, inp.at(), ld, 4, nullptr));
    CHECK_CUDA(cudaDeviceSynchronize());
    for (int64_t j = 0; j < 4; j++) {
        CHECK(out.at()[2 * ld + j] == inp.at()[j] * weight.at()[4 * far + j]);
        CHECK(out.at()[j] == inp.at()[ld + j] * weight.at()[j]);
    }
    CHECK(ggnn_cuda_spmm(out.at(), ld, nullptr, GGNN_SUM, &b, nullptr, nullptr, 1, inp.at(), ld + 4, 4, nullptr) ==
          cudaErrorInvalidValue);
    // Back from target `far`, whose only edge is edge 0 and gave the maximum of each column.
    device_array<int32_t> target(std::vector<int32_t>{static_cast<int32_t>(far)});
    device_array<float>   dinp(4);
    ggnn_block            forward = {}, back = {};
    forward.num_dst.max = far + 1, forward.num_src.max = forward.num_edges.max = 1;
    forward.indptr = begins.at();
    back.num_dst.max = back.num_edges.max = 1, back.num_src.max = far + 1;
    back.indptr = indptr.at(), back.indices = target.at();
    CHECK_CUDA(ggnn_cuda_spmm_back_arg(dinp.at(), 4, &back, &forward, nullptr, 1, dout.at(), 4, arg.at(), 4, nullptr));
    CHECK(dinp.values() == std::vector<float>({3, 4, 5, 6}));
#else
    SKIP("needs 50 GiB of zeros on the device");
#endif
}

// ---- aggregation from a store
// ----------------------------------------------------------------------------------

struct aggregate_case {
    ggnn_reduce how;
    bool    global = false, src = false, dst = false, self = false; // global: neighbours' ids, no local ones
    bool    named = true;                                           // the block has ids
    bool    transposed = false;                                     // its edges have the block's weights
    bool    both = false;                                           // local ids and neighbours'
    int32_t heads = 0;                                              // of weights; 0: none
    int64_t extra = 0, shift = 0;
};

static void check_aggregate(random_block* r, const twin_store& store, const aggregate_case& c)
{
    std::vector<ggnn_node> neighbor;
    ggnn_block             b = c.transposed ? r->t : r->b;
    const int64_t          dst = *b.num_dst.n, src = *b.num_src.n;
    for (int64_t e = 0; e < r->edges; e++) neighbor.push_back(r->id[b.indices[e]]);
    if (c.global || c.both) b.neighbor = neighbor.data();
    if (c.global) b.indices = nullptr;
    if (!c.named) b.id = nullptr;
    const device_block device(b, 5);
    const int64_t      own = c.global || dst < src ? dst : src;
    const twin_floats  weight(r->edges * c.heads, c.heads > 0);
    const twin_floats  of_src(r->num_nodes, c.src), of_dst(dst, c.dst), of_self(own, c.self);
    const ggnn_scale   scale = {of_src.h(), of_dst.h(), of_self.h()},
                     device_scale = {of_src.d(), of_dst.d(), of_self.d()};
    const bool         scaled = c.src || c.dst || c.self;
    const int32_t      heads = c.heads ? c.heads : 1;
    twin_matrix<float> out(dst, store.host.width, c.extra, c.shift);
    out.spoil();
    ggnn_aggregate(out.host(), out.ld, c.how, &b, scaled ? &scale : nullptr, weight.h(), heads,
                   &store.host);
    CHECK_CUDA(ggnn_cuda_aggregate(out.device(), out.ld, c.how, device.get(),
                                   scaled ? &device_scale : nullptr, weight.d(), heads, &store.device,
                                   nullptr));
    CHECK(out.agrees());
}

static void check_aggregates(random_block* r, const store_shape& shape)
{
    twin_store store(shape);
    for (int i = 0; i < 8; i++) {
        const ggnn_reduce how = static_cast<ggnn_reduce>(i & 3);
        const bool        linear = how == GGNN_SUM || how == GGNN_MEAN, scaled = linear && i & 4;
        aggregate_case    c{how, (i & 4) != 0, scaled, scaled && how == GGNN_SUM, scaled};
        c.extra = test_below(4);
        c.shift = test_below(2) ? 0 : test_below(4);
        c.named = test_below(3) > 0;
        c.transposed = test_below(2);
        c.both = test_below(3) == 0;
        c.global = c.global && !c.both;
        c.self = c.self && test_below(3) > 0;
        c.heads = static_cast<int32_t>(test_below(3)); // none, one, or a chunk of columns each
        if (c.heads == 2) c.heads = shape.width % 4 ? shape.width : shape.width / 4;
        store.count_traffic();
        check_aggregate(r, store, c);
        CHECK(store.traffic_agrees());
    }
}

TEST(aggregate_reads_any_layout_and_counts_where)
{
    random_block* r = block_of(40, {0, 1, 2, 5, 7, 15, 3, 300, 4, 0, 9, 1});
    for (int32_t width : {1, 2, 3, 4, 8, 31, 100})
        for (ggnn_type type : {GGNN_F32, GGNN_F16})
            for (store_shape shape : layouts_of(r->num_nodes, width, type)) {
                if (few_trials() && width != 3 && width != 100) continue;
                shape.extra = test_below(3) ? 0 : test_below(5);
                check_aggregates(r, shape);
            }
    random_block_free(r);
}

TEST(aggregate_sums_hubs_in_segments)
{
    random_block* r = block_of(60, {2000, 255, 256, 257, 513, 0, 700});
    for (ggnn_type type : {GGNN_F32, GGNN_F16})
        for (int32_t width : {8, 257})
            if (!few_trials() || (width == 8) == (type == GGNN_F32)) check_aggregates(r, {r->num_nodes, width, type});
    random_block_free(r);
}

TEST(aggregate_of_nothing_is_zero)
{
    for (const std::vector<int64_t>& degree : {std::vector<int64_t>{}, {0, 0, 0}}) {
        random_block* r = block_of(5, degree);
        check_aggregates(r, {r->num_nodes, 4});
        random_block_free(r);
    }
}

TEST(a_plain_store_may_begin_off_any_alignment)
{
    random_block*      r = block_of(40, {1, 2, 5, 0, 9});
    const device_block b(r->b);
    for (int64_t shift : {0, 1, 2, 3, 4})
        for (ggnn_type type : {GGNN_F32, GGNN_F16}) {
            const int64_t            size = ggnn_type_bytes(type);
            std::vector<char>        table(static_cast<size_t>((r->num_nodes * 8 + shift) * size));
            for (char& c : table) c = static_cast<char>(test_below(60));
            const device_array<char> rows(table);
            const ggnn_store         host = ggnn_store_plain(table.data() + shift * size, r->num_nodes, 8, type);
            const ggnn_store         device = ggnn_store_plain(rows.at() + shift * size, r->num_nodes, 8, type);
            twin_matrix<float>       out(*r->b.num_dst.n, 8, 0, 0);
            out.spoil();
            ggnn_aggregate(out.host(), out.ld, GGNN_SUM, &r->b, nullptr, nullptr, 1, &host);
            CHECK_CUDA(ggnn_cuda_aggregate(out.device(), out.ld, GGNN_SUM, b.get(), nullptr, nullptr, 1, &device, nullptr));
            CHECK(out.agrees());
        }
    random_block_free(r);
}

// A NaN from rows of 16 bits stays one, infinities and subnormals count.
TEST(aggregate_takes_halves_of_every_kind)
{
    random_block* r = block_of(6, {1, 2, 3, 4, 9});
    store_shape   shape{r->num_nodes, 8, GGNN_F16};
    twin_store    store(shape);
    for (int64_t v = 0; v < r->num_nodes; v++)
        for (int32_t j = 0; j < 8; j++)
            store.set(v, j,
                      v % 4   ? std::ldexp(1.0f + static_cast<float>(j), -24 + static_cast<int>(v))
                      : j & 1 ? NAN
                              : INFINITY);
    store.send();
    for (ggnn_reduce how : {GGNN_SUM, GGNN_MAX, GGNN_MIN}) check_aggregate(r, store, aggregate_case{how});
    random_block_free(r);
}

// ---- factors
// -------------------------------------------------------------------------------------------------------

TEST(factors_have_the_bits_of_c)
{
    for (int64_t nodes : {1, 255, 256, 257, 900, 5000}) { // the last: more than threads run at once
        random_graph*                g = random_graph_new(nodes, 6, 300);
        const device_array<int64_t>  indptr(g->indptr, nodes + 1);
        ggnn_graph                   graph = ggnn_graph_plain(indptr.at(), nullptr, nullptr, nodes, g->num_edges);
        const std::vector<int64_t>   nothing(3);
        const device_array<int64_t>  traffic(nothing); // degrees are no reads of lists
        std::vector<float>           norm(static_cast<size_t>(nodes));
        device_array<float>          device_norm(nodes);
        graph.traffic = traffic.at();
        ggnn_gcn_norm(norm.data(), &g->graph);
        CHECK_CUDA(ggnn_cuda_gcn_norm(device_norm.at(), &graph, nullptr));
        CHECK(device_norm.values() == norm);

        std::vector<int64_t> degree; // sampled: none of some
        for (int64_t v = 0; v < nodes; v++) degree.push_back(test_below(4));
        random_block*                 r = block_of(nodes + 3, degree);
        for (int64_t u = 0; u < r->src; u++) r->id[u] = static_cast<ggnn_node>(test_below(nodes));
        const device_block            b(r->b, 9);
        twin_matrix<float>            src(1, r->src, 0, 0), dst(1, r->dst, 0, 0), self(1, r->dst, 0, 0);
        for (bool with_src : {true, false}) {
            src.spoil();
            dst.spoil();
            self.spoil();
            ggnn_block sent = *b.get();
            if (!with_src) r->b.id = sent.id = nullptr; // targets are all nodes: ids are local ones
            ggnn_scale_gcn(with_src ? src.host() : nullptr, dst.host(), self.host(), &r->b, norm.data(),
                           &g->graph);
            CHECK_CUDA(ggnn_cuda_scale_gcn(with_src ? src.device() : nullptr, dst.device(), self.device(),
                                           &sent, device_norm.at(), &graph, nullptr));
            CHECK(src.agrees());
            CHECK(dst.agrees());
            CHECK(self.agrees());
            const int with_self = with_src ? 2 : 0; // whatever is not 0
            ggnn_scale_mean(dst.host(), &r->b, with_self);
            CHECK_CUDA(ggnn_cuda_scale_mean(dst.device(), b.get(), with_self, nullptr));
            CHECK(dst.agrees());
        }
        CHECK(traffic.values() == nothing);
        random_block_free(r);
        random_graph_free(g);
    }
}

// More targets than sources, none of either: whichever is the more decides how far threads go.
TEST(factors_of_more_targets_than_sources)
{
    random_graph*               g = random_graph_new(300, 6, 300);
    const device_array<int64_t> indptr(g->indptr, 301);
    const ggnn_graph            graph = ggnn_graph_plain(indptr.at(), nullptr, nullptr, 300, g->num_edges);
    std::vector<float>          norm(300);
    ggnn_gcn_norm(norm.data(), &g->graph);
    const device_array<float> device_norm(norm);
    const int64_t             sizes[][2] = {{5, 0}, {3, 9}, {90, 4}}; // sources, targets
    for (const auto& size : sizes) {
        random_block*      r = block_of(size[0], std::vector<int64_t>(static_cast<size_t>(size[1]), 2));
        const device_block b(r->b);
        twin_matrix<float> src(1, size[0], 0, 0), dst(1, size[1], 0, 0), self(1, size[1], 0, 0);
        src.spoil();
        dst.spoil();
        self.spoil();
        ggnn_scale_gcn(src.host(), dst.host(), self.host(), &r->b, norm.data(), &g->graph);
        CHECK_CUDA(ggnn_cuda_scale_gcn(src.device(), dst.device(), self.device(), b.get(), device_norm.at(), &graph, nullptr));
        CHECK(src.agrees() && dst.agrees() && self.agrees());
        random_block_free(r);
    }
    random_graph_free(g);
}

// ---- a captured graph
// ---------------------------------------------------------------------------------------------

// What is launched again sees the sizes and arrays of then: nothing but pointers and bounds was captured.
TEST(captured_work_follows_the_sizes_on_the_device)
{
    random_block*      r = random_block_mixed(30, 20);
    const device_block b(r->b, 3);
    twin_matrix<float> inp(r->src, 8, 0, 0), out(r->dst, 8, 0, 0);
    cudaStream_t       stream;
    cudaGraph_t        graph;
    cudaGraphExec_t    ready;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK_CUDA(ggnn_cuda_spmm(out.device(), 8, nullptr, GGNN_MEAN, b.get(), nullptr, nullptr, 1, inp.device(),
                              8, 8, stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    for (int64_t n : {r->dst, r->dst / 2}) {
        inp.randomise();
        out.spoil();
        CHECK_CUDA(cudaMemcpy(b.get()->num_dst.n, &n, sizeof n, cudaMemcpyHostToDevice));
        CHECK_CUDA(cudaDeviceSynchronize()); // the stream does not wait for the default one
        CHECK_CUDA(cudaGraphLaunch(ready, stream));
        CHECK_CUDA(cudaStreamSynchronize(stream));
        r->b.num_dst.n = &n;
        ggnn_spmm(out.host(), 8, nullptr, GGNN_MEAN, &r->b, nullptr, nullptr, 1, inp.host(), 8, 8);
        CHECK(out.agrees());
    }
    CHECK_CUDA(cudaGraphExecDestroy(ready));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
    random_block_free(r);
}

// ---- messages: rows of edges -----------------------------------------------------------------------------

struct message_case {
    int32_t      width;
    ggnn_reduce  how;
    ggnn_message message;
    int32_t      heads = 0; // 0: no weights
    int          scaled = 0;
    bool         transposed = false;
    int64_t      extra = 0, shift = 0;
};

// Forward, and the gradient of the edges' rows; of MAX and MIN by what was chosen.
static void check_messages(const random_block& r, const message_case& c)
{
    const ggnn_block&    b = c.transposed ? r.t : r.b;
    const int64_t        dst = *b.num_dst.n, src = *b.num_src.n;
    const device_block   device(b, 0);
    const bool           copies = c.message == GGNN_EDGE_COPY, chooses = c.how >= GGNN_MAX;
    const int32_t        heads = c.heads ? c.heads : 1;
    twin_matrix<float>   inp(src, c.width, c.extra, c.shift), out(dst, c.width, c.extra, c.shift);
    twin_matrix<float>   edge(r.edges, c.width, c.extra, 0), dedge(r.edges, c.width, c.extra, 0), dout(dst, c.width, 0, 0);
    twin_matrix<int32_t> arg(dst, c.width, 0, c.shift);
    const twin_floats    weight(r.edges * heads, c.heads > 0), of_src(src, c.scaled & 1), of_dst(dst, c.scaled & 2);
    const twin_floats    of_self(dst < src ? dst : src, c.scaled & 4 && !copies);
    const ggnn_scale     host_scale = {of_src.h(), of_dst.h(), of_self.h()}, scale = {of_src.d(), of_dst.d(), of_self.d()};
    inp.randomise(), edge.randomise(), dout.randomise();
    out.spoil(), dedge.spoil(), arg.spoil();
    CHECK(ggnn_spmm_edges(out.host(), out.ld, chooses ? arg.host() : nullptr, c.how, c.message, &b, &host_scale, weight.h(), heads,
                          copies ? nullptr : inp.host(), inp.ld, edge.host(), edge.ld, c.width) == GGNN_OK);
    CHECK_CUDA(ggnn_cuda_spmm_edges(out.device(), out.ld, chooses ? arg.device() : nullptr, c.how, c.message, device.get(), &scale, weight.d(), heads,
                                    copies ? nullptr : inp.device(), inp.ld, edge.device(), edge.ld, c.width, nullptr));
    CHECK(out.agrees());
    CHECK(arg.agrees());
    CHECK(ggnn_spmm_edges_back(dedge.host(), dedge.ld, c.message, &b, &host_scale, weight.h(), heads, copies ? nullptr : inp.host(), inp.ld, dout.host(), dout.ld,
                               chooses ? arg.host() : nullptr, c.width) == GGNN_OK);
    CHECK_CUDA(ggnn_cuda_spmm_edges_back(dedge.device(), dedge.ld, c.message, device.get(), &scale, weight.d(), heads, copies ? nullptr : inp.device(), inp.ld, dout.device(), dout.ld,
                                         chooses ? arg.device() : nullptr, c.width, nullptr));
    CHECK(dedge.agrees());
}

TEST(messages_of_edges_have_the_twins_bits)
{
    random_block* mixed = random_block_mixed(20, 40);
    for (int how = GGNN_SUM; how <= GGNN_MIN; how++)
        for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++)
            for (int32_t per_head : {1, 2, 4, 7, 12}) {
                message_case c{per_head, static_cast<ggnn_reduce>(how), static_cast<ggnn_message>(message)};
                if (how >= GGNN_MAX && message == GGNN_EDGE_TIMES) continue;
                check_messages(*mixed, c);
                c.heads = 1 + per_head % 3, c.width *= c.heads, c.transposed = per_head % 2, c.extra = 4, c.shift = per_head % 4;
                if (how < GGNN_MAX) c.scaled = 1 + static_cast<int>(test_below(7));
                check_messages(*mixed, c);
            }
    random_block_free(mixed);
}

TEST(messages_of_hubs_are_summed_in_segments)
{
    random_block* hubs = block_of(30, {5000, 0, 300, 2});
    for (int message = GGNN_EDGE_COPY; message <= GGNN_EDGE_PLUS; message++)
        for (ggnn_reduce how : {GGNN_SUM, GGNN_MAX})
            if (how == GGNN_SUM || message != GGNN_EDGE_TIMES) check_messages(*hubs, message_case{20, how, static_cast<ggnn_message>(message), 2});
    random_block_free(hubs);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : nullptr;
    test_seed(7);
    if (!device_present()) return finish_without_device();
    RUN(spmm_has_the_bits_of_ggnn_spmm);
    RUN(each_matrix_alone_may_begin_anywhere);
    RUN(sum_and_mean_have_the_twins_bits);
    RUN(factors_apply_in_any_combination);
    RUN(lists_of_one_edge_are_read_together);
    RUN(lists_of_a_transpose_are_dealt_to_groups);
    RUN(heads_have_weights_of_their_own);
    RUN(hubs_are_summed_in_segments);
    RUN(messages_of_edges_have_the_twins_bits);
    RUN(messages_of_hubs_are_summed_in_segments);
    RUN(long_lists_are_found_among_thousands);
    RUN(nothing_is_read_beyond_the_last_edge);
    RUN(maximum_takes_the_first_of_equals_and_no_nan);
    RUN(blocks_may_be_empty_or_have_no_edges);
    RUN(arguments_that_cannot_be_are_refused);
    RUN(back_arg_has_the_bits_of_ggnn_spmm_back_arg);
    RUN(back_arg_takes_a_transpose_without_numbers);
    RUN(backward_by_atomics_errs_by_rounding_alone);
    RUN(a_zero_that_atomics_write_is_positive);
    RUN(bounds_may_be_2_to_the_31);
    RUN(operands_may_be_far_apart);
    RUN(aggregate_reads_any_layout_and_counts_where);
    RUN(aggregate_sums_hubs_in_segments);
    RUN(aggregate_of_nothing_is_zero);
    RUN(a_plain_store_may_begin_off_any_alignment);
    RUN(aggregate_takes_halves_of_every_kind);
    RUN(factors_have_the_bits_of_c);
    RUN(factors_of_more_targets_than_sources);
    RUN(captured_work_follows_the_sizes_on_the_device);
    return test_finish();
}
