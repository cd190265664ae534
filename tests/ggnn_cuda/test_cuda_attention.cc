// Scores and fused graph attention on the device: the bits of their twins in C, forward and backward.
#include "ggnn_cuda.cuh"
#include "tests/cuda_floats.h"
#include "tests/cuda_sampled.h"
#include "tests/random_block.h"

static const int32_t HEADS[] = {1, 2, 3, 4, 8, 16, 17}, PER_HEAD[] = {1, 2, 3, 8, 16, 32, 64, 100};

// ---- scores -------------------------------------------------------------------

// rows of them, read as *n of a count that allows `extra` more.
static bool scores_same(int64_t rows, int32_t heads, int32_t width, alignment a, int64_t extra)
{
    float_rows   z(rows, width, a.pad, a.shift), att(1, width, 0, a.shift), el(rows, heads);
    device_count n(rows, rows + extra);
    ggnn_scores(el.host(), z.host(), z.ld, att.host(), rows, heads, width);
    CHECK_CUDA(ggnn_cuda_scores(el.device(), z.device(), z.ld, att.device(), n.get(), heads, width, nullptr));
    return el.same() && z.same();
}

static bool scores_back_same(int64_t rows, int32_t heads, int32_t width, alignment a, int64_t extra)
{
    float_rows   z(rows, width, a.pad, a.shift), dz(rows, width, 0, a.shift), att(1, width), datt(1, width);
    float_rows   del(rows, heads);
    device_count n(rows, rows + extra);
    device_array<char> workspace(
        static_cast<int64_t>(ggnn_cuda_scores_back_workspace_bytes(rows + extra, width)));
    ggnn_scores_back(dz.host(), dz.ld, datt.host(), del.host(), z.host(), z.ld, att.host(), rows, heads,
                     width);
    CHECK_CUDA(ggnn_cuda_scores_back(dz.device(), dz.ld, datt.device(), del.device(), z.device(), z.ld,
                                     att.device(), n.get(), heads, width, workspace.at(), nullptr));
    return dz.same() && datt.same() && z.same() && del.same();
}

TEST(scores_have_the_same_bits)
{
    int turn = 0;
    for (int32_t heads : HEADS)
        for (int32_t per_head : PER_HEAD)
            for (int i = 0; i < 2; i++, turn++) {
                const alignment a = alignments[turn % 4];
                if (!CHECK(scores_same(9, heads, heads * per_head, a, turn % 3)) ||
                    !CHECK(scores_back_same(9, heads, heads * per_head, a, turn % 3)))
                    printf("  heads %d of %d, alignment %d\n", heads, per_head, turn % 4);
            }
}

// Each matrix alone begins off its alignment: what one allows another one does not.
TEST(scores_take_matrices_of_which_one_alone_is_not_aligned)
{
    for (int32_t per_head : {2, 4, 16})
        for (int64_t shift : {1, 2, 3})
            for (int alone = 0; alone < 4; alone++) {
                const int32_t      width = 2 * per_head;
                const auto         at = [&](int matrix) { return matrix == alone ? shift : 0; };
                float_rows         z(9, width, 0, at(0)), att(1, width, 0, at(1)), dz(9, width, 0, at(2)), el(9, 2), del(9, 2), datt(1, width);
                device_array<float> workspace(width + 3);
                const ggnn_count   n = {nullptr, 9};
                ggnn_scores(el.host(), z.host(), z.ld, att.host(), 9, 2, width);
                CHECK_CUDA(ggnn_cuda_scores(el.device(), z.device(), z.ld, att.device(), n, 2, width, nullptr));
                ggnn_scores_back(dz.host(), dz.ld, datt.host(), del.host(), z.host(), z.ld, att.host(), 9, 2, width);
                CHECK_CUDA(ggnn_cuda_scores_back(dz.device(), dz.ld, datt.device(), del.device(), z.device(), z.ld, att.device(), n, 2, width,
                                                 workspace.at() + at(3), nullptr));
                CHECK(el.same() && dz.same() && datt.same());
            }
}

TEST(scores_take_any_number_of_rows) // segments of 256, and more threads' work than the grid has
{
    for (int64_t rows : {0, 1, 255, 256, 257, 511, 513, 1200}) {
        CHECK(scores_same(rows, 3, 24, alignments[rows % 4], rows % 2 * 300));
        CHECK(scores_back_same(rows, 3, 24, alignments[rows % 4], rows % 2 * 300));
    }
    CHECK(scores_same(5000, 2, 2, alignments[0], 0));
    CHECK(scores_back_same(2600, 8, 800, alignments[3], 0)); // 11 segments of 800 columns
    CHECK(scores_back_same(75300, 3, 33, alignments[1], 0)); // 295 segments, more than are fetched together; columns of two blocks
}

// ---- fused attention ------------------------------------------------------------

struct setting {
    int32_t   heads, per_head;
    alignment a;
    float     dropout, slope, spread; // spread of the scores
    bool      ids, rng;               // the block's ids are kept; seed and step on the device
    int64_t   extra;
    int       alone = 0; // the one matrix that is shifted: 1 z, 2 out, 3 dout, 4 dz; 0: all of them
    bool      term = false; // edges have terms
    int64_t   shift_of(int matrix) const { return alone && alone != matrix ? 0 : a.shift; }
};

// Everything a layer has, on both sides.
struct layer {
    layer(const ggnn_block* block, const ggnn_block* transpose, const setting& s)
        : own(named(*block, s.ids)), b(&own), t(transpose), heads(s.heads), width(s.heads * s.per_head),
          sent(own, s.extra), sent_t(*transpose, s.extra), z(*b->num_src.n, width, s.a.pad, s.shift_of(1)),
          out(*b->num_dst.n, width, other(s.a.pad, 4), s.shift_of(2)), dout(*b->num_dst.n, width, 0, s.shift_of(3)),
          dz(*b->num_src.n, width, other(s.a.pad, 8), s.shift_of(4)), el(*b->num_src.n, heads), er(*b->num_dst.n, heads),
          lse(*b->num_dst.n, heads), del(*b->num_src.n, heads), der(*b->num_dst.n, heads), rng(1),
          use_rng(s.rng), use_term(s.term), term(*b->num_edges.n, heads), own_term(*b->num_dst.n, heads), dterm(*b->num_edges.n, heads)
    {
        for (int64_t i = 0; i < *b->num_src.n * heads; i++) el.host()[i] *= s.spread;
        el.upload();
        how.slope = s.slope;
        how.dropout = s.dropout;
        how.layer = 2;
        how.rng = {5, 17, GGNN_PURPOSE_ATTENTION_DROPOUT};
        rng.upload(&how.rng);
    }
    layer(const layer&) = delete; // b is its own
    static int64_t other(int64_t pad, int64_t more) { return pad ? pad + more : 0; } // no stride is another's
    static ggnn_block named(ggnn_block block, bool ids)
    {
        if (!ids) block.id = nullptr;
        return block;
    }
    ggnn_gat_layer on_device() const
    {
        ggnn_gat_layer y = {};
        y.block = sent.get(), y.z = z.device(), y.ld_z = z.ld, y.el = el.device(), y.er = er.device();
        y.out = out.device(), y.ld_out = out.ld, y.lse = lse.device(), y.heads = heads, y.width = width, y.how = how;
        y.del = del.device(), y.der = der.device();
        if (use_term) y.term = term.device(), y.own_term = own_term.device(), y.dterm = dterm.device();
        if (use_rng) y.how.rng = {99, 98, GGNN_PURPOSE_SAMPLE}; // not what is used
        return y;
    }
    cudaError_t forward(cudaStream_t stream = nullptr) const
    {
        const ggnn_gat_layer y = on_device();
        return ggnn_cuda_gat(&y, use_rng ? rng.at() : nullptr, stream);
    }
    cudaError_t backward(void* workspace, cudaStream_t stream = nullptr) const
    {
        ggnn_gat_layer y = on_device();
        const int64_t targets = sent.get()->num_dst.max * heads, edges = sent.get()->num_edges.max * heads;
        y.delta = static_cast<float*>(workspace), y.dlogit = y.delta + targets, y.coef = y.dlogit + targets + edges;
        return ggnn_cuda_gat_back(dz.device(), dz.ld, sent_t.get(), &y, dout.device(), dout.ld,
                                  use_rng ? rng.at() : nullptr, stream);
    }
    ggnn_gat_layer twin()
    {
        ggnn_gat_layer y = {};
        y.block = b, y.z = z.host(), y.ld_z = z.ld, y.el = el.host(), y.er = er.host();
        y.out = out.host(), y.ld_out = out.ld, y.lse = lse.host(), y.heads = heads, y.width = width, y.how = how;
        y.del = del.host(), y.der = der.host();
        if (use_term) y.term = term.host(), y.own_term = own_term.host(), y.dterm = dterm.host();
        return y;
    }
    void forward_twin()
    {
        const ggnn_gat_layer y = twin();
        ggnn_gat(&y);
    }
    void backward_twin()
    {
        std::vector<float> delta(static_cast<size_t>(*b->num_dst.n * heads)),
            dlogit(static_cast<size_t>((*b->num_dst.n + *b->num_edges.n) * heads));
        ggnn_gat_layer y = twin();
        y.delta = delta.data(), y.dlogit = dlogit.data();
        ggnn_gat_back(dz.host(), dz.ld, t, &y, dout.host(), dout.ld);
    }
    device_array<char> workspace() const // bytes of a NaN, so that what is not written would show
    {
        device_array<char> w((3 * sent.get()->num_dst.max + 2 * sent.get()->num_edges.max) * heads *
                             static_cast<int64_t>(sizeof(float)));
        w.fill(0xff);
        return w;
    }
    bool inputs_same() const { return z.same() && el.same() && er.same() && dout.same() && term.same(); }

    ggnn_block             own;
    const ggnn_block *     b, *t;
    int32_t                heads, width;
    device_block           sent, sent_t;
    float_rows             z, out, dout, dz, el, er, lse, del, der;
    device_array<ggnn_rng> rng;
    bool                   use_rng, use_term;
    float_rows             term, own_term, dterm;
    ggnn_attention         how = {};
};

static bool layer_same(layer& l)
{
    device_array<char> workspace = l.workspace();
    l.forward_twin();
    l.backward_twin();
    CHECK_CUDA(l.forward());
    CHECK_CUDA(l.backward(workspace.at()));
    return CHECK(l.out.same()) & CHECK(l.lse.same()) & CHECK(l.dz.same()) & CHECK(l.del.same()) &
           CHECK(l.der.same()) & CHECK(l.own_term.same()) & CHECK(l.dterm.same()) & CHECK(l.inputs_same());
}

static void check_layer(const ggnn_block* b, const ggnn_block* t, const setting& s)
{
    layer l(b, t, s);
    if (!layer_same(l))
        printf("  heads %d of %d, pad %d, dropout %g\n", s.heads, s.per_head, (int)s.a.pad, s.dropout);
}

static random_block* block_of(const std::vector<int64_t>& degree, int64_t sources)
{
    return random_block_new(static_cast<int64_t>(degree.size()), sources, degree.data());
}

// After a test has chosen the edges' sources itself.
static void transpose_again(random_block* r)
{
    ggnn_block_transpose(&r->t, &r->b);
}

TEST(each_matrix_of_a_layer_alone_may_begin_anywhere)
{
    random_block* r = block_of({0, 1, 3, 300, 5}, 12);
    for (int32_t per_head : {2, 4, 16})
        for (int64_t shift : {1, 2, 3})
            for (int alone = 1; alone <= 4; alone++) {
                setting s = {2, per_head, {0, shift}, 0, 0.2f, 2, true, false, 0};
                s.alone = alone;
                check_layer(&r->b, &r->t, s);
            }
    random_block_free(r);
}

// A graph's transpose as the block, whose edges have numbers of another: attention has nothing of theirs.
TEST(a_transpose_may_be_the_block)
{
    std::vector<int64_t> degree(60, 2);
    degree[7] = 300;
    degree[8] = 0;
    random_block*     r = block_of(degree, 60);
    std::vector<char> memory(ggnn_block_transpose_bytes(60, 60, r->edges));
    ggnn_block        again;
    ggnn_block_transpose_init(&again, 60, 60, r->edges, memory.data());
    CHECK_EQ(ggnn_block_transpose(&again, &r->t), GGNN_OK);
    for (int i = 0; i < 4; i++) {
        setting s = {1 + i, 8, alignments[i], i % 2 ? 0.4f : 0.0f, 0.2f, 3, i < 2, i == 1, i};
        check_layer(&r->t, &again, s);
        s.term = true; // which lie by the numbers
        check_layer(&r->t, &again, s);
    }
    random_block_free(r);
}

TEST(attention_has_the_same_bits)
{
    random_block* r = block_of({0, 1, 2, 5, 7, 8, 3, 0, 17, 4, 1, 0}, 20);
    int           turn = 0;
    for (int32_t heads : HEADS)
        for (int32_t per_head : PER_HEAD)
            for (int i = 0; i < trials(2); i++, turn++) {
                setting s = {heads,
                             per_head,
                             alignments[turn % 4],
                             turn % 3 ? 0.0f : 0.4f,
                             turn % 5 ? 0.2f : 0.0f,
                             4,
                             turn % 2 == 0,
                             turn % 7 < 3,
                             turn % 3};
                check_layer(&r->b, &r->t, s);
            }
    random_block_free(r);
}

// Targets that attend to themselves alone, which 16, 8 and 4 lanes take and a source's long list begins with.
TEST(the_scores_of_a_node_alone_have_no_gradient)
{
    random_block* r = block_of({0, 0, 0, 0, 600}, 5);
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] = static_cast<int32_t>(2 + e % 2);
    transpose_again(r);
    for (int32_t heads : {1, 4, 17})
        for (int i = 0; i < 8; i++) {
            setting s = {heads, i % 2 ? 8 : 3, alignments[i / 2], static_cast<float>(i % 4) * 0.3f, 0.2f, 2, true, false, 0};
            layer   l(&r->b, &r->t, s);
            layer_same(l);
            for (int64_t k = 0; k < 4 * heads; k++) CHECK(l.der.host()[k] == 0);
            for (int64_t k = 0; k < 2 * heads; k++) CHECK(l.del.host()[k] == 0);
        }
    random_block_free(r);
}

// Of every width of a load, with dropout and without: empty lists, of one entry, of more than a segment.
TEST(terms_of_edges_have_the_twins_bits)
{
    random_block* r = block_of({0, 1, 2, 5, 300, 0, 17, 4, 600, 8}, 12);
    int           turn = 0;
    for (int32_t heads : {1, 3, 4, 17})
        for (int32_t per_head : {1, 2, 8, 36})
            for (int i = 0; i < 2; i++, turn++) {
                setting s = {heads, per_head, alignments[turn % 4], i ? 0.4f : 0.0f, 0.2f, 3, turn % 3 == 0, turn % 5 == 0, turn % 3, 0, true};
                check_layer(&r->b, &r->t, s);
            }
    random_block_free(r);
    r = block_of({0, 0, 0}, 5); // no edge at all
    check_layer(&r->b, &r->t, {2, 4, alignments[0], 0, 0.2f, 3, true, false, 0, 0, true});
    random_block_free(r);
}

TEST(dropout_is_keyed_by_entry_and_head)
{
    random_block* r = block_of({0, 1, 6, 7, 8, 9, 15, 16, 40, 260}, 50);
    for (int32_t heads : HEADS)
        for (int i = 0; i < 4; i++) {
            setting s = {heads, 4, alignments[i], 0.1f + 0.2f * static_cast<float>(i), 0.2f, 2, i % 2 == 0,
                         i < 2, i};
            check_layer(&r->b, &r->t, s);
        }
    random_block_free(r);
}

TEST(long_lists_are_summed_in_segments)
{
    random_block* r =
        block_of({255, 0, 256, 257, 1, 600, 511, 512, 254}, 12); // entries are one more; sources repeat
    for (int32_t heads : {1, 4, 17})
        for (int32_t per_head : {1, 3, 16, 64})
            for (int i = 0; i < trials(2); i++) {
                setting s = {heads, per_head, alignments[i * 2], i ? 0.5f : 0.0f, 0.2f, 8, i == 0, false, 2};
                check_layer(&r->b, &r->t, s);
            }
    random_block_free(r);
}

// More segments than a block has at once: 16, of rows of 16 chunks and more. Two of three edges leave source 0.
TEST(hubs_of_thousands_have_the_same_bits)
{
    static const int32_t per_head[] = {64, 40, 130, 5};
    random_block*        r = block_of({2, 0, 4500, 1, 900, 300}, 50);
    for (int64_t e = 0; e < r->edges; e++)
        if (e % 3) r->b.indices[e] = 0;
    transpose_again(r);
    for (int i = 0; i < 4; i++) {
        setting s = {i + 1, per_head[i], alignments[i], i % 2 ? 0.3f : 0.0f, 0.2f, 3, true, false, 0};
        check_layer(&r->b, &r->t, s);
    }
    random_block_free(r);
}

// A third round: from 8192 entries on, of rows of 16 chunks and more.
TEST(hubs_of_three_rounds_have_the_same_bits)
{
    random_block* r = block_of({2, 9000, 1}, 50);
    for (int64_t e = 0; e < r->edges; e++)
        if (e % 3) r->b.indices[e] = 0;
    transpose_again(r);
    check_layer(&r->b, &r->t, {1, 68, alignments[0], 0.3f, 0.2f, 3, true, false, 0});
    check_layer(&r->b, &r->t, {2, 32, alignments[0], 0.0f, 0.2f, 3, true, false, 0});
    check_layer(&r->b, &r->t, {2, 32, alignments[0], 0.0f, 0.2f, 3, true, false, 0, 0, true});
    random_block_free(r);
}

TEST(sources_have_lists_around_a_segment)
{
    static const int edges[] = {254, 255, 256, 257, 0, 511, 512, 513};
    static const int source[] = {0, 1, 2, 3, 4, 2592, 2593, 2594}; // those below 2560 are targets, too
    random_block*    r = block_of(std::vector<int64_t>(2560, 1), 2600);
    int              next = 0;
    for (int64_t e = 0; e < r->edges; e++) r->b.indices[e] = 2599;
    for (int i = 0; i < 8; i++)
        for (int e = 0; e < edges[i]; e++) r->b.indices[next++] = source[i];
    transpose_again(r);
    for (int i = 0; i < 2; i++) {
        setting s = {2, i ? 3 : 16, alignments[i], i ? 0.3f : 0.0f, 0.2f, 3, true, false, 0};
        check_layer(&r->b, &r->t, s);
    }
    random_block_free(r);
}

// Each block, of 16 in the emulator, looks through 256 lists at a time; one finds long ones in both of
// its rounds, forward and backward.
TEST(long_lists_are_found_among_thousands)
{
    std::vector<int64_t> degree(4200);
    for (size_t v : {5, 21, 37, 4095, 4096, 4101, 4117}) degree[v] = 300;
    random_block* r = block_of(degree, 4200);
    for (int64_t e = 0; e < r->edges; e++)
        if (e % 3) r->b.indices[e] = e % 3 == 1 ? 5 : 4101;
    transpose_again(r);
    check_layer(&r->b, &r->t, {1, 1, alignments[0], 0, 0.2f, 3, true, false, 0});
    random_block_free(r);
}

// From segment to segment, and from the 16 that a block has at once to the next, by more than powers can
// hold: every source has a segment of its own.
TEST(the_running_maximum_rises_and_falls)
{
    random_block* r = block_of({4700, 4700, 1000, 0}, 20);
    for (int i = 0; i < 4700; i++) r->b.indices[i] = i / 256, r->b.indices[4700 + i] = 18 - i / 256;
    transpose_again(r);
    setting s = {3, 24, alignments[0], 0, 0.2f, 0, true, false, 0};
    layer   l(&r->b, &r->t, s);
    for (int u = 0; u < 20; u++) {
        float* el = l.el.host() + 3 * u;
        el[0] = static_cast<float>(u) * 20, el[1] = static_cast<float>(u) * -0.7f;
        el[2] = u % 2 ? 60.0f : -60.0f;
    }
    l.el.upload();
    layer_same(l);
    random_block_free(r);
}

// Once, at the first entry of a segment: head k's at segment k, those that begin a round among them. So little that what
// came before still counts.
TEST(the_running_maximum_rises_at_each_segment)
{
    random_block* r = block_of({4700}, 19);
    for (int i = 0; i < 4700; i++) r->b.indices[i] = (i + 1) / 256; // entry 0 is the target itself
    transpose_again(r);
    setting s = {19, 1, alignments[0], 0, 0.2f, 0, true, false, 0};
    layer   l(&r->b, &r->t, s);
    for (int u = 0; u < 19; u++)
        for (int k = 0; k < 19; k++) l.el.host()[19 * u + k] = u < k ? 2.0f : 3.5f;
    l.el.upload();
    l.forward_twin();
    CHECK_CUDA(l.forward());
    CHECK(l.out.same() && l.lse.same());
    random_block_free(r);
}

// Bounds that grids of 32 bits would not hold; 64 rows are there.
TEST(bounds_may_be_2_to_the_31)
{
    const int64_t most = INT32_MAX;
    random_block* r = block_of(std::vector<int64_t>(64, 3), 64);
    for (int i = 0; i < 2; i++) { // an even number of columns and of heads, or 32 bits would do by chance
        setting s = {2, 4, alignments[i], i ? 0.3f : 0.0f, 0.2f, 3, true, false, most - 64, 0, i == 0};
        layer   l(&r->b, &r->t, s);
        ggnn_gat_layer      y = l.on_device();
        device_array<float> delta(64 * 2), dlogit((64 + r->edges) * 2), coef((64 + r->edges) * 2);
        y.delta = delta.at(), y.dlogit = dlogit.at(), y.coef = coef.at();
        l.forward_twin();
        l.backward_twin();
        CHECK_CUDA(ggnn_cuda_gat(&y, nullptr, nullptr));
        CHECK_CUDA(ggnn_cuda_gat_back(l.dz.device(), l.dz.ld, l.sent_t.get(), &y, l.dout.device(), l.dout.ld, nullptr, nullptr));
        CHECK(l.out.same() && l.lse.same() && l.dz.same() && l.del.same() && l.der.same() && l.dterm.same());
    }
    CHECK(scores_same(64, 2, 8, alignments[0], most - 64));
    float_rows          z(64, 2048), dz(64, 2048), att(1, 2048), datt(1, 2048), del(64, 1);
    device_count        n(64, most);
    device_array<float> partial(2048); // of the only segment
    ggnn_scores_back(dz.host(), 2048, datt.host(), del.host(), z.host(), 2048, att.host(), 64, 1, 2048);
    CHECK_CUDA(ggnn_cuda_scores_back(dz.device(), 2048, datt.device(), del.device(), z.device(), 2048, att.device(), n.get(), 1,
                                     2048, partial.at(), nullptr));
    CHECK(dz.same() && datt.same());
    random_block_free(r);
}

// A source whose scores and rows lie further off than 32 bits count: what it gives is what a near one with the same gives.
TEST(sources_may_be_2_to_the_29)
{
#ifdef SIMT_SHIM
    const int32_t        far = (1 << 29) + 1;
    far_zeros<float>     z(INT64_C(4) * (far + 1)), el(INT64_C(4) * (far + 1));
    device_array<float>  er(std::vector<float>{0.1f, 0.2f, 0.3f, 0.4f}), out(8), lse(8);
    device_array<int32_t> indices(std::vector<int32_t>{1, far});
    if (!z.at() || !el.at()) SKIP("no address space for 2^31 floats");
    for (int64_t j = 0; j < 4; j++) {
        z.at()[4 + j] = z.at()[INT64_C(4) * far + j] = static_cast<float>(j + 1);
        el.at()[4 + j] = el.at()[INT64_C(4) * far + j] = 0.5f * static_cast<float>(j);
    }
    device_array<int64_t> indptr(std::vector<int64_t>{0, 1});
    for (int i = 0; i < 2; i++) {
        ggnn_block     b = {};
        ggnn_gat_layer y = {};
        b.num_dst.max = b.num_edges.max = 1, b.num_src.max = far + INT64_C(1);
        b.indptr = indptr.at(), b.indices = indices.at() + i;
        y.block = &b, y.z = z.at(), y.ld_z = 4, y.el = el.at(), y.er = er.at(), y.heads = y.width = 4;
        y.out = out.at() + 4 * i, y.ld_out = 4, y.lse = lse.at() + 4 * i, y.how.slope = 0.2f;
        CHECK_CUDA(ggnn_cuda_gat(&y, nullptr, nullptr));
    }
    const std::vector<float> rows = out.values(), sums = lse.values();
    for (size_t j = 0; j < 4; j++) CHECK(rows[j] > 0 && rows[j] == rows[4 + j] && sums[j] > 0 && sums[j] == sums[4 + j]);
#else
    SKIP("needs 16 GiB of zeros on the device");
#endif
}

TEST(infinite_logits_and_nan_spread_alike)
{
    static const float extremes[] = {INFINITY, -INFINITY, NAN, 1e30f, -1e30f};
    random_block*      r = block_of({0, 1, 3, 9, 300, 20, 0, 2}, 60);
    for (int round = 0; round < 20; round++) {
        setting s = {2, 5, alignments[round % 4], round % 2 ? 0.3f : 0.0f, 0.2f, 4, false, false, 1};
        layer   l(&r->b, &r->t, s);
        for (int64_t i = 0; i < r->src * 2; i++)
            if (test_below(40) == 0) l.el.host()[i] = extremes[test_below(5)];
        l.z.host()[test_below(r->src * 10)] = extremes[test_below(5)];
        l.el.upload();
        l.z.upload();
        layer_same(l);
    }
    random_block_free(r);
}

TEST(any_number_of_targets_is_served)
{
    for (int64_t targets : {0, 1, 2, 63, 64, 65, 400}) {
        std::vector<int64_t> degree(static_cast<size_t>(targets));
        for (int64_t& d : degree) d = test_below(5);
        random_block* r = block_of(degree, targets + 40);
        setting s = {4, 16, alignments[0], targets % 2 ? 0.5f : 0.0f, 0.2f, 4, true, true, targets % 3 * 50};
        check_layer(&r->b, &r->t, s);
        s.per_head = 3;
        check_layer(&r->b, &r->t, s);
        random_block_free(r);
    }
}

// ---- blocks that sampling makes ---------------------------------------------------

TEST(sampled_and_whole_blocks_give_the_same_bits)
{
    for_sampled_and_whole_blocks([](const ggnn_block* b, const ggnn_block* t) {
        for (int i = 0; i < 4; i++) {
            setting s = {1 + i, 8, alignments[i], i % 2 ? 0.6f : 0.0f, 0.2f, 3, i < 2, i == 1, i};
            check_layer(b, t, s);
            s.term = true;
            check_layer(b, t, s);
        }
    });
}

// ---- capture, refusals ----------------------------------------------------------------

TEST(a_captured_graph_takes_the_step_from_the_device)
{
    random_block*      r = block_of({0, 3, 12, 40, 7, 300}, 50);
    setting            s = {4, 16, alignments[0], 0.5f, 0.2f, 3, true, true, 0};
    layer              l(&r->b, &r->t, s);
    device_array<char> workspace = l.workspace();
    cudaStream_t       stream;
    cudaGraph_t        graph;
    cudaGraphExec_t    ready;
    std::vector<float> before(l.out.host(), l.out.host() + r->dst * l.out.ld);
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK_CUDA(l.forward(stream));
    CHECK_CUDA(l.backward(workspace.at(), stream));
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    for (uint32_t step = 17; step < 20; step++) {
        l.how.rng.step = step;
        l.rng.upload(&l.how.rng);
        CHECK_CUDA(cudaGraphLaunch(ready, stream));
        CHECK_CUDA(cudaStreamSynchronize(stream));
        l.forward_twin();
        l.backward_twin();
        CHECK(l.out.same() && l.dz.same() && l.del.same() && l.der.same());
        CHECK(floats_differ(l.out.host(), before.data(), r->dst * l.out.ld) >
              0); // another step, other coefficients
        before.assign(l.out.host(), l.out.host() + r->dst * l.out.ld);
    }
    CHECK_CUDA(cudaGraphExecDestroy(ready));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
    random_block_free(r);
}

// ggnn_gat and its backward with the vectors inside the layer: the twin's bits, of rows of more than a segment too.
TEST(a_layer_with_its_vectors_scores_by_itself)
{
    std::vector<int64_t> degree(301, 3); // two segments of targets and three of sources, whose last rows are not eight
    random_block*        r = block_of(degree, 603);
    for (int turn = 0; turn < 12; turn++) {
        const bool    left = turn / 4 != 1, right = turn / 4 != 2; // both vectors, or one: the other scores are given
        const int32_t heads = turn % 2 ? 4 : 1;
        setting       s = {heads, 16, alignments[turn % 4], turn % 4 > 1 ? 0.4f : 0.0f, 0.2f, 3, true, turn % 4 > 1, 0};
        layer         l(&r->b, &r->t, s);
        float_rows    att_l(1, l.width), att_r(1, l.width), datt_l(1, l.width), datt_r(1, l.width);
        ggnn_gat_layer y = l.on_device(), twin = l.twin();
        device_array<float> partial(2 * (r->src / 256 + 1) * l.width), delta(r->dst * heads), dlogit((r->dst + r->edges) * heads);
        device_array<float> coef((r->dst + r->edges) * heads);
        std::vector<float>  host_delta(static_cast<size_t>(r->dst * heads)), host_dlogit(static_cast<size_t>((r->dst + r->edges) * heads));
        const ggnn_rng* rng = l.use_rng ? l.rng.at() : nullptr;
        if (left) y.att_l = att_l.device(), y.datt_l = datt_l.device(), twin.att_l = att_l.host(), twin.datt_l = datt_l.host();
        if (right) y.att_r = att_r.device(), y.datt_r = datt_r.device(), twin.att_r = att_r.host(), twin.datt_r = datt_r.host();
        y.delta = delta.at(), y.dlogit = dlogit.at(), y.coef = coef.at(), y.partial = partial.at();
        twin.delta = host_delta.data(), twin.dlogit = host_dlogit.data();
        CHECK_EQ(ggnn_gat(&twin), GGNN_OK);
        CHECK_EQ(ggnn_gat_back(l.dz.host(), l.dz.ld, &r->t, &twin, l.dout.host(), l.dout.ld), GGNN_OK);
        CHECK_CUDA(ggnn_cuda_gat(&y, rng, nullptr));
        CHECK_CUDA(ggnn_cuda_gat_back(l.dz.device(), l.dz.ld, l.sent_t.get(), &y, l.dout.device(), l.dout.ld, rng, nullptr));
        CHECK(l.el.same() && l.er.same() && l.out.same() && l.lse.same());
        CHECK(l.dz.same() && l.del.same() && l.der.same() && datt_l.same() && datt_r.same());
        y.partial = nullptr;
        CHECK(ggnn_cuda_gat_back(l.dz.device(), l.dz.ld, l.sent_t.get(), &y, l.dout.device(), l.dout.ld, rng, nullptr) ==
              cudaErrorInvalidValue);
    }
    random_block_free(r);
}

TEST(wrong_arguments_are_refused)
{
    random_block* r = block_of({0, 3, 12}, 20);
    setting       s = {4, 16, alignments[0], 0, 0.2f, 3, true, true, 0};
    layer         l(&r->b, &r->t, s);
    layer         heads(&r->b, &r->t, s), ld(&r->b, &r->t, s), p(&r->b, &r->t, s);
    ggnn_count    n = {nullptr, r->src};
    heads.heads = 5;
    ld.z.ld = 63;
    p.how.dropout = 1;
    for (layer* wrong : {&heads, &ld, &p}) {
        CHECK(wrong->forward() == cudaErrorInvalidValue);
        CHECK(wrong->backward(nullptr) == cudaErrorInvalidValue);
        CHECK(wrong->out.same() && wrong->lse.same() && wrong->dz.same() && wrong->der.same());
    }
    ggnn_gat_layer y = l.on_device();
    ggnn_block     two_kinds = *y.block; // its targets have no rows among the sources
    two_kinds.bipartite = 1;
    y.block = &two_kinds;
    CHECK(ggnn_cuda_gat(&y, nullptr, nullptr) == cudaErrorInvalidValue);
    CHECK(ggnn_cuda_scores(l.el.device(), l.z.device(), 63, l.er.device(), n, 4, 64, nullptr) ==
          cudaErrorInvalidValue);
    CHECK(ggnn_cuda_scores_back(l.dz.device(), 64, l.er.device(), l.el.device(), l.z.device(), 64,
                                l.er.device(), n, 5, 64, nullptr, nullptr) == cudaErrorInvalidValue);
    CHECK(l.el.same() && l.dz.same());
    random_block_free(r);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(37);
    if (!device_present()) return finish_without_device();
    RUN(scores_have_the_same_bits);
    RUN(scores_take_matrices_of_which_one_alone_is_not_aligned);
    RUN(scores_take_any_number_of_rows);
    RUN(each_matrix_of_a_layer_alone_may_begin_anywhere);
    RUN(a_transpose_may_be_the_block);
    RUN(attention_has_the_same_bits);
    RUN(the_scores_of_a_node_alone_have_no_gradient);
    RUN(terms_of_edges_have_the_twins_bits);
    RUN(dropout_is_keyed_by_entry_and_head);
    RUN_SLOW(long_lists_are_summed_in_segments);
    RUN(hubs_of_thousands_have_the_same_bits);
    RUN(hubs_of_three_rounds_have_the_same_bits);
    RUN(sources_have_lists_around_a_segment);
    RUN(long_lists_are_found_among_thousands);
    RUN(the_running_maximum_rises_and_falls);
    RUN(the_running_maximum_rises_at_each_segment);
    RUN(bounds_may_be_2_to_the_31);
    RUN(sources_may_be_2_to_the_29);
    RUN(infinite_logits_and_nan_spread_alike);
    RUN(any_number_of_targets_is_served);
    RUN(sampled_and_whole_blocks_give_the_same_bits);
    RUN(a_captured_graph_takes_the_step_from_the_device);
    RUN(a_layer_with_its_vectors_scores_by_itself);
    RUN(wrong_arguments_are_refused);
    return test_finish();
}
