// elementwise.cuh - the CUDA twins of elementwise.c, loss.c and optimiser.c of ../cpu: kernels, without their launches.
//
// Every float operation is rounded by itself, in the C twin's order, so that all but the loss (its logarithms and
// sums, in double) have its bits. Threads divide elements or rows; a sum over rows is one thread's, of 256 rows, and these sums
// are added in order, as everywhere. Nothing here is written by two threads but the count of known labels, an integer.
#ifndef TRAINER_CUDA_ELEMENTWISE_CUH
#define TRAINER_CUDA_ELEMENTWISE_CUH

#include "ggnn_cuda.cuh"
#include "trainer/batch/ring.h"
#include "trainer/net/layers.h"

namespace train {

using ggnni::ALL_LANES;
using ggnni::block_total;
using ggnni::divide_by;
using ggnni::divider;
using ggnni::exp2_rounded;
using ggnni::first_error;
using ggnni::for_items;
using ggnni::grain_of;
using ggnni::in_order;
using ggnni::launch;
using ggnni::launch_items;
using ggnni::launch_tiles;
using ggnni::least;
using ggnni::LOG2_E;
using ggnni::quotient;
using ggnni::random_words;
using ggnni::size_of;
using ggnni::THREADS;
using ggnni::tiles_of;
using ggnni::WARP;

enum { FIELDS = 8, ROW_LANES = 16, ROWS = NET_SEGMENT }; // columns of a Philox block; lanes of a row's sum

// Structs that are passed to kernels have no padding: the emulator takes every word that looks like one of the host's
// addresses for one.
struct dense { // a mat whose elements are on the device
    float*     v;
    int64_t    ld, cols;
    ggnn_count rows;
};

// What changes from step to step. A kernel's arguments are frozen in a graph, so the graph's kernels read it here, and
// one, which is in no graph, writes it: its arguments are the numbers themselves, and no copy has to be waited for.
struct step_state {
    ggnn_rng           dropout, attention;
    net_losses         losses;
    int64_t            labelled; // of the whole graph, while they are counted
};

static GGNNI_KERNEL(40, WARP) advance(step_state* at, uint64_t seed, uint32_t step)
{
    if (threadIdx.x) return;
    at->dropout = {seed, step, GGNN_PURPOSE_DROPOUT};
    at->attention = {seed, step, GGNN_PURPOSE_ATTENTION_DROPOUT};
}

// ==== ids ==================================================================================================

static GGNNI_KERNEL(40, THREADS) range(ggnn_node* out, int64_t first, int64_t n)
{
    for_items(n, [&](int64_t i) { out[i] = static_cast<ggnn_node>(first + i); });
}

static GGNNI_KERNEL(40, THREADS)
    index_by_id(int32_t* indices, const ggnn_node* id, ggnn_count n, int32_t first)
{
    for_items(size_of(n), [&](int64_t e) { indices[e] = first + static_cast<int32_t>(id[e]); });
}

// ==== copies and sums: a thread an element =================================================================

static GGNNI_KERNEL(40, THREADS) copy_matrix(dense out, dense a, divider cols)
{
    for_items(size_of(out.rows) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        out.v[i * out.ld + j] = a.v[i * a.ld + j];
    });
}

static GGNNI_KERNEL(40, THREADS) add_matrix(dense out, dense a, divider cols)
{
    for_items(size_of(a.rows) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        out.v[i * out.ld + j] = __fadd_rn(out.v[i * out.ld + j], a.v[i * a.ld + j]);
    });
}

static GGNNI_KERNEL(40, THREADS) number(ggnn_node* place, const ggnn_node* id, int64_t n)
{
    for_items(n, [&](int64_t i) { place[id[i]] = static_cast<ggnn_node>(i); });
}

static GGNNI_KERNEL(40, THREADS) sum_pieces(float* out, const float* piece, int32_t pieces, int64_t n)
{
    for_items(n, [&](int64_t i) {
        float sum = piece[i];
        for (int32_t r = 1; r < pieces; r++) sum = __fadd_rn(sum, piece[r * n + i]);
        out[i] = sum;
    });
}

static GGNNI_KERNEL(40, THREADS) zero_matrix(dense out, divider cols)
{
    for_items(size_of(out.rows) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        out.v[i * out.ld + j] = 0;
    });
}

// Of one part, in which no index occurs twice.
static GGNNI_KERNEL(40, THREADS) sum_rows(dense out, const float* inp, const int32_t* index, int64_t n, divider cols)
{
    for_items(n * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        float*        to = out.v + index[i] * out.ld + j;
        *to = __fadd_rn(*to, inp[t]);
    });
}

static GGNNI_KERNEL(40, THREADS) mean_heads(dense out, dense a, int32_t heads, divider cols)
{
    const float inverse = __frcp_rn(static_cast<float>(heads));
    for_items(size_of(out.rows) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        const float*  from = a.v + i * a.ld + j;
        float         sum = from[0];
#pragma unroll 1
        for (int32_t k = 1; k < heads; k++) sum = __fadd_rn(sum, from[k * cols.by]);
        out.v[i * out.ld + j] = heads > 1 ? __fmul_rn(sum, inverse) : sum;
    });
}

static GGNNI_KERNEL(40, THREADS) mean_heads_back(dense da, dense dout, int32_t heads, divider cols)
{
    const float inverse = __frcp_rn(static_cast<float>(heads));
    for_items(size_of(da.rows) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        const float   d = __fmul_rn(dout.v[i * dout.ld + j], inverse);
#pragma unroll 1
        for (int32_t k = 0; k < heads; k++) da.v[i * da.ld + k * cols.by + j] = d;
    });
}

// Rows from the count to the bound = 0: a product over rows then has zeros to add.
__device__ inline void clear_tail(const dense& a, const divider& cols)
{
    const int64_t first = size_of(a.rows);
    for_items((a.rows.max - first) * cols.by, [&](int64_t t) {
        const int64_t i = quotient(t, cols), j = t - i * cols.by;
        a.v[(first + i) * a.ld + j] = 0;
    });
}

static GGNNI_KERNEL(40, THREADS) zero_tail(dense a, divider cols) { clear_tail(a, cols); }

// ==== bias, activation, dropout: a thread 8 columns of a row ===============================================

struct dropout {
    const ggnn_rng*  rng;
    const ggnn_node* id;
    int32_t          layer;
    uint32_t         threshold; // 0: none
    float            scale;
    activation       act; // before dropout
};

// x[k] = x[k] * scale where field k of the row's block says keep, else 0.
__device__ inline void drop(float (&x)[FIELDS], const dropout& d, int64_t row, int64_t part)
{
    const ggnn_words words = random_words(*d.rng, d.layer, d.id[row], static_cast<uint32_t>(part));
#pragma unroll
    for (int k = 0; k < FIELDS; k++)
        x[k] = ggnn_dropout_field(words, k) < d.threshold ? 0 : __fmul_rn(x[k], d.scale);
}

// V = 4: the row and its width allow float4.
template <int V> __device__ inline void load_part(float (&x)[FIELDS], const float* row, int64_t first, int64_t cols)
{
#pragma unroll
    for (int k = 0; k < FIELDS; k += V) {
        if (first + k >= cols) {
#pragma unroll
            for (int i = 0; i < V; i++) x[k + i] = 0;
        } else if constexpr (V == 4) {
            const float4 four = *reinterpret_cast<const float4*>(row + first + k);
            x[k] = four.x;
            x[k + 1] = four.y;
            x[k + 2] = four.z;
            x[k + 3] = four.w;
        } else {
            x[k] = row[first + k];
        }
    }
}
template <int V> __device__ inline void store_part(float* row, int64_t first, int64_t cols, const float (&x)[FIELDS])
{
#pragma unroll
    for (int k = 0; k < FIELDS; k += V) {
        if (first + k >= cols) continue;
        if constexpr (V == 4)
            *reinterpret_cast<float4*>(row + first + k) = make_float4(x[k], x[k + 1], x[k + 2], x[k + 3]);
        else row[first + k] = x[k];
    }
}

struct finish_job {
    dense        h, x; // x: what h is made of; backward: dh, in place
    const float* bias; // NULL: added before
    dropout      drop;
    divider      parts; // of a row
};

template <int V> GGNNI_KERNEL(40, THREADS) drop_rows(const __grid_constant__ finish_job s)
{
    for_items(size_of(s.h.rows) * s.parts.by, [&](int64_t t) {
        const int64_t i = quotient(t, s.parts), part = t - i * s.parts.by;
        float         x[FIELDS];
        load_part<V>(x, s.h.v + i * s.h.ld, part * FIELDS, s.h.cols);
        drop(x, s.drop, i, part);
        store_part<V>(s.h.v + i * s.h.ld, part * FIELDS, s.h.cols, x);
    });
}

__device__ inline float activate(float x, activation act)
{
    if (act == ACTIVATION_RELU) return x < 0 ? 0 : x; // NaN stays
    if (act == ACTIVATION_ELU && x < 0) return __fsub_rn(exp2_rounded(__fmul_rn(x, LOG2_E)), 1.0f);
    return x;
}

template <int V> GGNNI_KERNEL(40, THREADS) finish(const __grid_constant__ finish_job s)
{
    for_items(size_of(s.h.rows) * s.parts.by, [&](int64_t t) {
        const int64_t i = quotient(t, s.parts), part = t - i * s.parts.by;
        float         x[FIELDS];
        load_part<V>(x, s.x.v + i * s.x.ld, part * FIELDS, s.h.cols);
        if (s.bias) {
            float b[FIELDS];
            load_part<1>(b, s.bias, part * FIELDS, s.h.cols); // parameters lie without gaps: unaligned
#pragma unroll
            for (int k = 0; k < FIELDS; k++) x[k] = __fadd_rn(x[k], b[k]);
        }
#pragma unroll
        for (int k = 0; k < FIELDS; k++) x[k] = activate(x[k], s.drop.act);
        if (s.drop.threshold) drop(x, s.drop, i, part);
        store_part<V>(s.h.v + i * s.h.ld, part * FIELDS, s.h.cols, x);
    });
}

// dh through dropout and activation; 0 from the count to the bound. relu's output is positive exactly where it was
// kept; ELU's mask is drawn again, and its derivative below 0 is ELU(x) + 1.
template <int V> GGNNI_KERNEL(40, THREADS) finish_back(const __grid_constant__ finish_job s)
{
    const int64_t rows = size_of(s.h.rows);
    const float   scale = s.drop.scale, inverse = __frcp_rn(scale);
    for_items(s.h.rows.max * s.parts.by, [&](int64_t t) {
        const int64_t i = quotient(t, s.parts), part = t - i * s.parts.by;
        float         d[FIELDS] = {}, h[FIELDS];
        if (i < rows) {
            load_part<V>(d, s.x.v + i * s.x.ld, part * FIELDS, s.h.cols);
            load_part<V>(h, s.h.v + i * s.h.ld, part * FIELDS, s.h.cols);
#pragma unroll
            for (int k = 0; k < FIELDS; k++) {
                if (s.drop.act == ACTIVATION_RELU) d[k] = h[k] > 0 ? __fmul_rn(d[k], scale) : 0;
                if (s.drop.act == ACTIVATION_ELU && h[k] < 0)
                    d[k] = __fmul_rn(d[k], __fadd_rn(__fmul_rn(h[k], inverse), 1.0f));
            }
            if (s.drop.act != ACTIVATION_RELU && s.drop.threshold) drop(d, s.drop, i, part);
        }
        store_part<V>(s.x.v + i * s.x.ld, part * FIELDS, s.h.cols, d);
    });
}

// Means of rows, and left of each the target's own row, which is read before the list's rows and written after them, so that
// no one waits for it.
struct own_and_mean : ggnni::sum_op<ggnni::matrix_rows, false> {
    using sums = ggnni::sum_op<ggnni::matrix_rows, false>;
    float *left, *inv; // left's rows are as far apart as the means; (D) the means' factors, or NULL

    template <int N>
    __device__ void reduce(ggnni::columns<N>& sum, int32_t v, int32_t column, int32_t begin, int32_t first, int32_t n) const
    {
        ggnni::chunk<float, N> x = {};
        if (first == 0) x = ggnni::load_columns<N, ggnni::matrix_rows>(rows.own(v), column);
        sums::reduce(sum, v, column, begin, first, n);
        if (first == 0) ggnni::store_chunk<false>(left + v * ld_out + column, x);
    }

    template <int N> __device__ void finish(const ggnni::columns<N>& sum, int32_t v, int32_t column, int32_t n) const
    {
        const float            inverse = n ? __fdiv_rn(1.0f, static_cast<float>(n)) : 0.0f;
        ggnni::chunk<float, N> y;
#pragma unroll
        for (int j = 0; j < N; j++) y.at[j] = __fmul_rn(sum.at[j], inverse);
        ggnni::store_chunk<false>(out + v * ld_out + column, y);
        if (inv && column == 0) inv[v] = inverse;
    }
};

// A layer's gradient of its input, which is summed over a transpose (ggnn_cuda.cuh, [8i]), before it is written: times the
// factors of its rows, with rows of its own, through the activation and dropout of the layer before; 0 from the count
// to the bound.
struct through_layer : ggnni::as_it_is {
    static constexpr int BLOCKS = 3, TOGETHER = 1;
    const float *        dst, *self; // or NULL: ones
    const float *        own, *gate; // anything that can be read, 0 apart, where num_own is 0 and where nothing opens
    int64_t              ld_own, ld_gate, bound;
    ggnn_count           num_own;
    float                scale;
    int32_t              opens; // 0: no layer before

    __device__ int64_t written(int64_t) const { return bound; }
    __device__ int32_t owners() const { return static_cast<int32_t>(size_of(num_own)); }

    // Rows of one's own and of the gate are read together, without a branch. relu's output is positive exactly where it was
    // kept.
    template <int N, int U> __device__ void apply(ggnni::chunk<float, N> (&y)[U], int32_t v, int32_t end, int32_t owners, int32_t column) const
    {
        ggnni::chunk<float, N> h[U], x[U];
        float                  by[U], own_by[U];
#pragma unroll
        for (int k = 0; k < U; k++) x[k] = ggnni::load_chunk<N>(own + least(v + k, num_own.max - 1) * ld_own + column);
#pragma unroll
        for (int k = 0; k < U; k++) h[k] = ggnni::load_chunk<N>(gate + least(v + k, bound - 1) * ld_gate + column);
#pragma unroll
        for (int k = 0; k < U; k++) by[k] = dst && v + k < end ? __ldg(dst + v + k) : 1.0f;
#pragma unroll
        for (int k = 0; k < U; k++) own_by[k] = self && v + k < owners ? __ldg(self + v + k) : 1.0f;
#pragma unroll
        for (int k = 0; k < U; k++) {
#pragma unroll
            for (int j = 0; j < N; j++) {
                float sum = __fmul_rn(y[k].at[j], by[k]);
                if (v + k < owners) sum = __fadd_rn(sum, __fmul_rn(own_by[k], x[k].at[j]));
                y[k].at[j] = !opens || h[k].at[j] > 0 ? __fmul_rn(sum, scale) : 0;
            }
        }
    }
};

// ==== layer norm: 16 lanes a row ===========================================================================
// Lane i sums columns i, i + 16, ..., and the lanes' sums are folded 8, 4, 2, 1, as in elementwise.c.

struct norm_job {
    dense        h; // forward: h; backward: dh
    const float *x, *bias, *gamma, *beta; // x: forward, what h is made of
    float*       normed;
    int64_t      ld_x, ld_normed;
    float*       inv_deviation;
};

__device__ inline float fold(float part)
{
#pragma unroll
    for (int width = ROW_LANES / 2; width > 0; width /= 2)
        part = __fadd_rn(part, __shfl_down_sync(ALL_LANES, part, width, ROW_LANES));
    return __shfl_sync(ALL_LANES, part, 0, ROW_LANES);
}

// body(row, width of it: 0 for lanes without a row), all lanes of a warp together.
template <class F> __device__ inline void for_rows(const dense& a, F body)
{
    const int64_t n = size_of(a.rows);
    for (int64_t tile = static_cast<int64_t>(blockIdx.x) * (THREADS / ROW_LANES); tile < n;
         tile += static_cast<int64_t>(gridDim.x) * (THREADS / ROW_LANES)) {
        const int64_t i = tile + threadIdx.x / ROW_LANES;
        body(i, i < n ? static_cast<int32_t>(a.cols) : 0);
    }
}

static GGNNI_KERNEL(40, THREADS) normalise(const __grid_constant__ norm_job s)
{
    const float epsilon = 1e-5f, cols = static_cast<float>(s.h.cols);
    const int   lane = threadIdx.x % ROW_LANES;
    for_rows(s.h, [&](int64_t i, int32_t width) {
        const float* x = s.x + i * s.ld_x;
        float *      h = s.h.v + i * s.h.ld, *normed = s.normed + i * s.ld_normed, part = 0, squares = 0;
#pragma unroll 1
        for (int32_t j = lane; j < width; j += ROW_LANES) {
            h[j] = __fadd_rn(x[j], s.bias[j]);
            part = __fadd_rn(part, h[j]);
        }
        const float mean = __fdiv_rn(fold(part), cols);
#pragma unroll 1
        for (int32_t j = lane; j < width; j += ROW_LANES) {
            normed[j] = __fsub_rn(h[j], mean);
            squares = __fadd_rn(squares, __fmul_rn(normed[j], normed[j]));
        }
        const float variance = __fdiv_rn(fold(squares), cols), inv = __frcp_rn(__fsqrt_rn(__fadd_rn(variance, epsilon)));
        if (width && lane == 0) s.inv_deviation[i] = inv;
#pragma unroll 1
        for (int32_t j = lane; j < width; j += ROW_LANES) {
            normed[j] = __fmul_rn(normed[j], inv);
            h[j] = __fadd_rn(__fmul_rn(normed[j], s.gamma[j]), s.beta[j]);
        }
    });
}

static GGNNI_KERNEL(40, THREADS) normalise_back(const __grid_constant__ norm_job s)
{
    const float cols = static_cast<float>(s.h.cols);
    const int   lane = threadIdx.x % ROW_LANES;
    for_rows(s.h, [&](int64_t i, int32_t width) {
        float *      dh = s.h.v + i * s.h.ld, part = 0, products = 0;
        const float* normed = s.normed + i * s.ld_normed;
#pragma unroll 1
        for (int32_t j = lane; j < width; j += ROW_LANES) {
            dh[j] = __fmul_rn(dh[j], s.gamma[j]);
            part = __fadd_rn(part, dh[j]);
            products = __fadd_rn(products, __fmul_rn(dh[j], normed[j]));
        }
        const float mean = __fdiv_rn(fold(part), cols);
        const float slope = __fdiv_rn(fold(products), cols), inv = width ? s.inv_deviation[i] : 0;
#pragma unroll 1
        for (int32_t j = lane; j < width; j += ROW_LANES)
            dh[j] = __fmul_rn(__fsub_rn(__fsub_rn(dh[j], mean), __fmul_rn(normed[j], slope)), inv);
    });
}

// ==== sums over rows: a thread 256 rows of a column, then a block 32 columns ===============================

__device__ inline int64_t segments_of(int64_t rows) { return (rows + ROWS - 1) / ROWS; }

// term(begin) + ... + term(end - 1), one after the other. Too few threads do this to wait for each.
template <class T> __device__ inline float sum_of(int64_t begin, int64_t end, T term)
{
    float sum = 0;
    in_order<32>(begin, end, term, [&](float x, int64_t) { sum = __fadd_rn(sum, x); });
    return sum;
}

// Rows 3 s + which of sums: of dh, or with `normed` of dh * normed and in the next row of dh.
static GGNNI_KERNEL(80, THREADS, 3)
    column_sums(dense sums, int which, dense dh, const float* normed, int64_t ld_normed, divider cols)
{
    const int64_t n = size_of(dh.rows);
    for_items(segments_of(n) * cols.by, [&](int64_t t) {
        const int64_t s = quotient(t, cols), j = t - s * cols.by, begin = s * ROWS, end = least(n, begin + ROWS);
        const auto    element = [&](int64_t i) { return __ldg(dh.v + i * dh.ld + j); };
        float*        to = sums.v + (3 * s + which) * sums.ld + j;
        if (normed) {
            *to = sum_of(begin, end, [&](int64_t i) { return __fmul_rn(element(i), __ldg(normed + i * ld_normed + j)); });
            to += sums.ld;
        }
        *to = sum_of(begin, end, element);
    });
}

static GGNNI_KERNEL(80, THREADS) add_column_sums(dense d, dense sums, int which, ggnn_count rows)
{
    __shared__ float memory[THREADS][WARP];
    ggnni::join_segments(
        d.cols, segments_of(size_of(rows)), memory,
        [&](int64_t s, int64_t j) { return __ldg(sums.v + (3 * s + which) * sums.ld + j); },
        [&](int64_t j, float sum) { d.v[j] = sum; });
}

// ==== loss: 16 lanes a row =================================================================================

struct loss_job {
    dense            d, x;
    net_labels       labels;
    const ggnn_node* id;
    double*          row_loss;
    ggnn_count       known; // of the global batch
    net_sums*        sums;
    divider          cols;
};

// *known += the labelled ones of nodes first(0) .. first(n - 1).
template <class F>
__device__ inline void count_labels(int64_t* known, const net_labels& labels, int64_t n, F node)
{
    int64_t mine = 0;
    for_items(n, [&](int64_t i) { mine += label_known(&labels, node(i)); });
    mine = block_total(mine);
    using word = unsigned long long;
    if (threadIdx.x == 0) atomicAdd(reinterpret_cast<word*>(known), static_cast<word>(mine));
}

static GGNNI_KERNEL(40, THREADS)
    count_known(int64_t* known, const __grid_constant__ net_labels labels, int64_t n)
{
    count_labels(known, labels, n, [](int64_t v) { return static_cast<ggnn_node>(v); });
}

// body(x, j) of this lane's columns of a row, four read together, by all lanes: beyond the last column it comes again.
template <class F> __device__ inline void for_columns(const float* row, int64_t columns, F body)
{
    constexpr int TOGETHER = 4;
#pragma unroll 1
    for (int64_t first = 0; first < columns; first += TOGETHER * ROW_LANES) {
        const int64_t j = first + threadIdx.x % ROW_LANES;
        float         x[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) x[k] = __ldg(row + least(j + k * ROW_LANES, columns - 1));
#pragma unroll
        for (int k = 0; k < TOGETHER; k++) body(x[k], j + k * ROW_LANES);
    }
}

// softmax(x)[j] = power(x[j]) / total; the powers are added in the order of columns, whichever lanes have them.
struct softmax {
    float most, total;

    __device__ float power(float x) const { return exp2_rounded(__fmul_rn(__fsub_rn(x, most), LOG2_E)); }
};

__device__ inline softmax softmax_of(const float* x, int64_t classes)
{
    softmax s = {__ldg(x), 0};
    for_columns(x, classes, [&](float v, int64_t) { s.most = v > s.most ? v : s.most; });
#pragma unroll
    for (int width = ROW_LANES / 2; width > 0; width /= 2) {
        const float other = __shfl_xor_sync(ALL_LANES, s.most, width, ROW_LANES);
        s.most = other > s.most ? other : s.most;
    }
    for_columns(x, classes, [&](float v, int64_t j) {
        const float power = j < classes ? s.power(v) : 0;
#pragma unroll
        for (int k = 0; k < ROW_LANES; k++) s.total = __fadd_rn(s.total, __shfl_sync(ALL_LANES, power, k, ROW_LANES));
    });
    return s;
}

// By the lanes of a row, or with width 0 by those without one, which go along and write nothing. A label's lane writes the loss.
__device__ inline void class_loss(const loss_job& s, int64_t i, int32_t width, float weight)
{
    const int32_t label = s.labels.label ? s.labels.label[s.id[i]] : -1, lane = threadIdx.x % ROW_LANES;
    const float*  x = s.x.v + i * s.x.ld;
    float *       d = s.d.v + i * s.d.ld, at_label = 0;
    const softmax all = softmax_of(x, s.x.cols);
    for_columns(x, s.x.cols, [&](float at, int64_t j) {
        const float p = __fdiv_rn(all.power(at), all.total), g = j == label ? __fsub_rn(p, 1.0f) : p;
        if (j == label) at_label = at;
        if (j < width) d[j] = label < 0 ? 0 : __fmul_rn(g, weight);
    });
    if (width == 0 || lane != (label < 0 ? 0 : label % ROW_LANES)) return;
    const double below = static_cast<double>(at_label) - static_cast<double>(all.most);
    s.row_loss[i] = label < 0 ? 0 : log(static_cast<double>(all.total)) - below;
}

__device__ inline void binary_loss(const loss_job& s, int64_t i, float weight)
{
    const int64_t v = s.id[i];
    const float   x = s.x.v[i * s.x.ld], e = exp2_rounded(__fmul_rn(-fabsf(x), LOG2_E));
    float*        d = s.d.v + i * s.d.ld;
    *d = 0;
    s.row_loss[i] = 0;
    if (!label_known(&s.labels, s.id[i])) return;
    const float target = s.labels.label ? static_cast<float>(s.labels.label[v]) : s.labels.target[v];
    *d = __fmul_rn(__fsub_rn(__fdiv_rn(x < 0 ? e : 1.0f, __fadd_rn(1.0f, e)), target), weight);
    s.row_loss[i] = log1p(static_cast<double>(e)) + static_cast<double>(x > 0 ? x : 0) -
                    static_cast<double>(target) * static_cast<double>(x);
}

static GGNNI_KERNEL(40, THREADS) loss_rows(const __grid_constant__ loss_job s)
{
    const int64_t known = size_of(s.known), last = size_of(s.x.rows) - 1;
    const float   weight = known ? __frcp_rn(static_cast<float>(known)) : 0;
    for_rows(s.x, [&](int64_t i, int32_t width) {
        if (s.x.cols > 1) class_loss(s, least(i, last), width, weight);
        else if (width && threadIdx.x % ROW_LANES == 0) binary_loss(s, i, weight);
    });
    clear_tail(s.d, s.cols); // no activation follows, in whose backward that is done elsewhere
}

// One block: thread t adds rows t, t + 256, ..., thread 0 their sums, in order.
static GGNNI_KERNEL(40, THREADS) sum_losses(const __grid_constant__ loss_job s)
{
    __shared__ double part[THREADS];
    const int64_t     n = size_of(s.x.rows);
    double            sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += THREADS) sum += s.row_loss[i];
    part[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x) return;
    sum = 0;
    for (int t = 0; t < THREADS; t++) sum += part[t];
    *s.sums = {sum, size_of(s.known)};
}

// ==== Adam, AdamW: a thread a parameter ====================================================================

static GGNNI_KERNEL(40, THREADS) update(net_state s, step_state* at, const net_sums* sums, adam a)
{
    const float beta1 = 0.9f, rest1 = 0.1f, beta2 = 0.999f, rest2 = 0.001f, epsilon = 1e-8f;
    if (blockIdx.x == 0 && threadIdx.x == 0) losses_add(&at->losses, at->dropout.step, sums);
    for_items(s.count, [&](int64_t i) {
        const float p = s.value[i], g = __fadd_rn(s.grad[i], __fmul_rn(a.l2, p));
        const float m = __fadd_rn(__fmul_rn(beta1, s.m[i]), __fmul_rn(rest1, g));
        const float v = __fadd_rn(__fmul_rn(beta2, s.v[i]), __fmul_rn(__fmul_rn(rest2, g), g));
        const float up = __fmul_rn(a.rate, __fmul_rn(m, a.inv_correction1));
        const float down = __fadd_rn(__fsqrt_rn(__fmul_rn(v, a.inv_correction2)), epsilon);
        s.m[i] = m;
        s.v[i] = v;
        s.value[i] = __fsub_rn(__fmul_rn(a.keep, p), __fdiv_rn(up, down));
    });
}

} // namespace train
#endif
