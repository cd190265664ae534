// SDDMM, edge sums, edge softmax and exp2 on the device: the bits of their twins in C.
#include "ggnn_cuda.cuh"
#include "tests/cuda_floats.h"
#include "tests/cuda_sampled.h"
#include "tests/random_block.h"

static const int32_t HEADS[] = {1, 2, 3, 4, 8, 16, 17}, PER_HEAD[] = {1, 2, 3, 8, 16, 32, 64, 100};

// Lists of the lengths given, from `sources` nodes.
static random_block* block_of(const std::vector<int64_t>& degree, int64_t sources)
{
    return random_block_new(static_cast<int64_t>(degree.size()), sources, degree.data());
}

static random_block* short_lists() { return block_of({0, 1, 2, 5, 7, 15, 3, 0, 30, 4, 1, 0}, 40); }
static random_block* long_lists() { return block_of({255, 0, 256, 257, 1, 600, 512, 513, 3}, 60); }

// ---- exp2 -------------------------------------------------------------------

TEST(exp2_has_the_same_bits)
{
    static const float edges[] = {0,          -0.0f, 1,      -1,          0.5f,          -0.5f,
                                  127.99999f, 128,   -126,   -126.00001f, -127,          1e-40f,
                                  -1e-40f,    1e30f, -1e30f, INFINITY,    -INFINITY,     NAN,
                                  1.5f,       2.5f,  127.5f, -125.5f,     1.1754944e-38f};
    const int64_t      n = 1 << 17, more = 300;
    std::vector<float> x(static_cast<size_t>(n + more));
    for (float& value : x) {
        uint32_t bits = static_cast<uint32_t>(test_random());
        memcpy(&value, &bits, sizeof value);
        if (test_below(2)) value = test_uniform() * 140;
    }
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) x[i] = edges[i];
    device_array<float> d(x);
    device_count        count(n, n + more); // the rest is not touched
    CHECK_CUDA(ggnn_cuda_exp2_array(d.at(), count.get(), nullptr));
    for (int64_t i = 0; i < n; i++) x[static_cast<size_t>(i)] = ggnn_exp2(x[static_cast<size_t>(i)]);
    CHECK_EQ(floats_differ(d.values().data(), x.data(), n + more), 0);
}

// ---- SDDMM ------------------------------------------------------------------

// Rows of sources and targets begin and lie as `a` says. extra: by how much the sizes' bounds exceed them.
static bool sddmm_same(const ggnn_block* b, ggnn_edge_op how, int32_t heads, int32_t width, alignment a,
                       int64_t extra = 0)
{
    device_block sent(*b, extra);
    float_rows   x(*b->num_src.n, width, a.pad, a.shift), y(*b->num_dst.n, width, 0, a.shift);
    float_rows   out(*b->num_edges.n, heads);
    ggnn_sddmm(out.host(), how, b, x.host(), x.ld, y.host(), y.ld, heads, width);
    CHECK_CUDA(ggnn_cuda_sddmm(out.device(), how, sent.get(), x.device(), x.ld, y.device(), y.ld, heads,
                               width, nullptr));
    return out.same();
}

TEST(sddmm_dots_have_the_same_bits)
{
    random_block* r = short_lists();
    int           turn = 0;
    for (int32_t heads : HEADS)
        for (int32_t per_head : PER_HEAD)
            for (int i = 0; i < 2; i++, turn++) {
                const ggnn_block* b = turn % 3 ? &r->b : &r->t;
                if (!CHECK(sddmm_same(b, GGNN_DOT, heads, heads * per_head, alignments[turn % 4], turn % 5)))
                    printf("  heads %d of %d, alignment %d\n", heads, per_head, turn % 4);
            }
    random_block_free(r);
}

// What the sources' rows allow is not what the targets' do: each alone begins off its alignment.
TEST(sddmm_takes_rows_of_which_one_side_alone_is_aligned)
{
    random_block* r = short_lists();
    for (int32_t per_head : {2, 4, 16})
        for (int64_t shift : {1, 2, 3})
            for (int side = 0; side < 2; side++) {
                device_block b(r->b);
                float_rows   x(r->src, 2 * per_head, 0, side ? 0 : shift), y(r->dst, 2 * per_head, 0, side ? shift : 0);
                float_rows   out(r->edges, 2);
                ggnn_sddmm(out.host(), GGNN_DOT, &r->b, x.host(), x.ld, y.host(), y.ld, 2, 2 * per_head);
                CHECK_CUDA(ggnn_cuda_sddmm(out.device(), GGNN_DOT, b.get(), x.device(), x.ld, y.device(), y.ld, 2, 2 * per_head, nullptr));
                CHECK(out.same());
            }
    random_block_free(r);
}

TEST(sddmm_adds_scores)
{
    random_block* r = short_lists();
    for (int32_t heads : HEADS) {
        CHECK(sddmm_same(&r->b, GGNN_ADD, heads, heads, alignments[heads % 4], heads % 3));
        CHECK(sddmm_same(&r->t, GGNN_ADD, heads, heads, alignments[heads % 4]));
    }
    random_block_free(r);
}

TEST(sddmm_goes_over_hubs)
{
    random_block *r = long_lists(), *hub = block_of({2, 0, 5000, 1}, 50);
    for (int how = 0; how < 2; how++)
        for (int32_t heads : {1, 4}) {
            int32_t width = how ? heads : heads * 16;
            CHECK(sddmm_same(&r->b, how ? GGNN_ADD : GGNN_DOT, heads, width, alignments[0]));
            CHECK(sddmm_same(&r->t, how ? GGNN_ADD : GGNN_DOT, heads, width, alignments[2]));
            CHECK(sddmm_same(&hub->b, how ? GGNN_ADD : GGNN_DOT, heads, width, alignments[3]));
        }
    random_block_free(r);
    random_block_free(hub);
}

TEST(sddmm_takes_any_number_of_targets) // tiles of 16, and more of them than the grid has blocks
{
    for (int64_t targets : {0, 1, 15, 16, 17, 33, 700}) {
        std::vector<int64_t> degree(static_cast<size_t>(targets));
        for (int64_t& d : degree) d = test_below(4);
        random_block* r = block_of(degree, targets + 1);
        CHECK(sddmm_same(&r->b, GGNN_DOT, 3, 12, alignments[targets % 4], targets % 2));
        CHECK(sddmm_same(&r->b, GGNN_ADD, 3, 3, alignments[targets % 4], targets % 2));
        random_block_free(r);
    }
}

// ---- sums and softmax -------------------------------------------------------

typedef enum { WEIGHTS, SUM, SOFTMAX, SOFTMAX_IN_PLACE, BACK, BACK_IN_PLACE } list_op; // WEIGHTS: of one head

// Numbers that softmax must survive; most are ordinary.
static void put_extremes(float* x, int64_t n)
{
    static const float extremes[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f, 88.0f, -0.0f};
    for (int64_t i = 0; i < n; i++)
        if (test_below(9) == 0) x[i] = extremes[test_below(7)];
}

static void run_twin(list_op op, const ggnn_block* b, float_rows& x, float_rows& y, float_rows& out,
                     int32_t heads)
{
    switch (op) {
    case WEIGHTS: ggnn_scale_weights(out.host(), b, x.host()); break;
    case SUM: ggnn_edge_sum(out.host(), b, x.host(), heads); break;
    case SOFTMAX: ggnn_edge_softmax(out.host(), b, x.host(), heads); break;
    case SOFTMAX_IN_PLACE: ggnn_edge_softmax(x.host(), b, x.host(), heads); break;
    case BACK: ggnn_edge_softmax_back(out.host(), b, x.host(), y.host(), heads); break;
    default: ggnn_edge_softmax_back(y.host(), b, x.host(), y.host(), heads);
    }
}

static cudaError_t run_device(list_op op, const ggnn_block* b, const float_rows& x, const float_rows& y,
                              const float_rows& out, int32_t heads)
{
    switch (op) {
    case WEIGHTS: return ggnn_cuda_scale_weights(out.device(), b, x.device(), nullptr);
    case SUM: return ggnn_cuda_edge_sum(out.device(), b, x.device(), heads, nullptr);
    case SOFTMAX: return ggnn_cuda_edge_softmax(out.device(), b, x.device(), heads, nullptr);
    case SOFTMAX_IN_PLACE: return ggnn_cuda_edge_softmax(x.device(), b, x.device(), heads, nullptr);
    case BACK: return ggnn_cuda_edge_softmax_back(out.device(), b, x.device(), y.device(), heads, nullptr);
    default: return ggnn_cuda_edge_softmax_back(y.device(), b, x.device(), y.device(), heads, nullptr);
    }
}

static bool list_op_same(const ggnn_block* b, list_op op, int32_t heads, bool extremes = false,
                         int64_t extra = 0)
{
    if (op == WEIGHTS) heads = 1;
    device_block sent(*b, extra);
    float_rows   x(*b->num_edges.n, heads), y(*b->num_edges.n, heads);
    float_rows   out(op <= SUM ? *b->num_dst.n : *b->num_edges.n, heads);
    if (extremes) put_extremes(x.host(), *b->num_edges.n * heads);
    x.upload();
    run_twin(op, b, x, y, out, heads);
    CHECK_CUDA(run_device(op, sent.get(), x, y, out, heads));
    return x.same() && y.same() && out.same();
}

static void check_list_ops(const random_block* r, int32_t heads, int64_t extra)
{
    for (int op = WEIGHTS; op <= BACK_IN_PLACE; op++) {
        bool extremes = test_below(2);
        if (!CHECK(list_op_same(&r->b, static_cast<list_op>(op), heads, extremes, extra)) ||
            !CHECK(list_op_same(&r->t, static_cast<list_op>(op), heads, extremes, extra)))
            printf("  op %d, heads %d\n", op, heads);
    }
}

TEST(lists_are_reduced_to_the_same_bits)
{
    random_block* r = short_lists();
    for (int32_t heads : HEADS)
        for (int i = 0; i < 3; i++) check_list_ops(r, heads, i);
    random_block_free(r);
}

TEST(long_lists_are_reduced_in_segments)
{
    random_block* r = long_lists();
    for (int32_t heads : {1, 4, 17}) check_list_ops(r, heads, heads % 4);
    random_block_free(r);
}

TEST(hubs_are_reduced_by_a_warp) // 5000: 20 segments; 9000: two rounds of the warp's 32
{
    random_block* r = block_of({1, 5000, 0, 9000, 256, 8192, 8193}, 70);
    check_list_ops(r, 1, 0);
    check_list_ops(r, 2, 5);
    random_block_free(r);
}

// A bound that grids of 32 bits would not hold, of 33 targets; heads are even, or 32 bits would do by chance.
TEST(bounds_may_be_2_to_the_31)
{
    random_block* r = block_of(std::vector<int64_t>(33, 3), 40);
    const int64_t more = INT32_MAX - 33;
    CHECK(sddmm_same(&r->b, GGNN_DOT, 2, 12, alignments[0], more));
    CHECK(sddmm_same(&r->b, GGNN_ADD, 2, 2, alignments[0], more));
    for (int op = WEIGHTS; op <= BACK_IN_PLACE; op++) CHECK(list_op_same(&r->b, static_cast<list_op>(op), 2, false, more));
    random_block_free(r);
}

TEST(any_number_of_lists_is_reduced)
{
    for (int64_t targets : {0, 1, 31, 32, 33, 255, 256, 257, 5000}) {
        std::vector<int64_t> degree(static_cast<size_t>(targets));
        for (int64_t& d : degree) d = targets < 1000 ? test_below(4) : test_below(2);
        random_block* r = block_of(degree, targets + 1);
        for (int op = WEIGHTS; op <= BACK; op++)
            CHECK(list_op_same(&r->b, static_cast<list_op>(op), 1 + static_cast<int32_t>(targets % 3), false,
                               targets % 2));
        random_block_free(r);
    }
}

// ---- blocks that sampling makes -----------------------------------------------

static void check_block(const ggnn_block* b)
{
    CHECK(sddmm_same(b, GGNN_DOT, 2, 16, alignments[0]));
    CHECK(sddmm_same(b, GGNN_ADD, 2, 2, alignments[0]));
    for (int op = WEIGHTS; op <= BACK_IN_PLACE; op++) CHECK(list_op_same(b, static_cast<list_op>(op), 2));
}

TEST(sampled_and_whole_blocks_give_the_same_bits)
{
    for_sampled_and_whole_blocks([](const ggnn_block* b, const ggnn_block* t) {
        check_block(b);
        check_block(t);
    });
}

TEST(a_block_without_edges_writes_sums_alone)
{
    random_block* r = block_of({0, 0, 0, 0, 0}, 5);
    check_list_ops(r, 3, 2);
    CHECK(sddmm_same(&r->b, GGNN_DOT, 2, 8, alignments[0], 1));
    random_block_free(r);
}

TEST(wrong_arguments_are_refused)
{
    random_block* r = short_lists();
    device_block  b(r->b);
    float_rows    x(r->src, 6), out(r->edges, 3);
    CHECK(ggnn_cuda_sddmm(out.device(), GGNN_DOT, b.get(), x.device(), 6, x.device(), 6, 4, 6, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_sddmm(out.device(), GGNN_ADD, b.get(), x.device(), 6, x.device(), 6, 3, 6, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_edge_sum(out.device(), b.get(), x.device(), 0, nullptr) == cudaErrorInvalidValue);
    CHECK(out.same());
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(31);
    if (!device_present()) return finish_without_device();
    RUN(exp2_has_the_same_bits);
    RUN(sddmm_dots_have_the_same_bits);
    RUN(sddmm_takes_rows_of_which_one_side_alone_is_aligned);
    RUN(sddmm_adds_scores);
    RUN(sddmm_goes_over_hubs);
    RUN(sddmm_takes_any_number_of_targets);
    RUN(lists_are_reduced_to_the_same_bits);
    RUN(long_lists_are_reduced_in_segments);
    RUN(hubs_are_reduced_by_a_warp);
    RUN(bounds_may_be_2_to_the_31);
    RUN(any_number_of_lists_is_reduced);
    RUN(sampled_and_whole_blocks_give_the_same_bits);
    RUN(a_block_without_edges_writes_sums_alone);
    RUN(wrong_arguments_are_refused);
    return test_finish();
}
