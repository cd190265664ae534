/* elementwise.c - what is done element by element or along a row: bias, norm, activation, dropout, their gradients.

   Threads divide rows. Sums over rows - the gradients of bias, gamma, beta - are those of segments of 256 rows, added
   in order, as all long sums here. Loops are plain, for the compiler to vectorise: the Makefile asks for it, and
   allows it to compute both sides of a choice, which is five times as fast. Those of an epilogue and of dropout are
   compiled for AVX2 and AVX-512, too, with the same bits: a sum along a row is sixteen partial sums of every 16th
   element on each level, and no multiply-add is fused. */
#include <math.h>
#include <string.h>

#include "trainer/cpu/cpu.h"
#include "trainer/cpu/gemm.h"
#include "trainer/cpu/parallel.h"
#include "trainer/device/pieces.h"

enum { PIECE = 16384, SEGMENT = NET_SEGMENT }; /* elements a piece; rows a partial sum */
#define LOG2_E 1.44269504f
#define NORM_EPSILON 1e-5f

static int64_t bytes_of(mat a) { return mat_rows(a) * a.cols * (int64_t)sizeof(float); }

/* IN_LEVELS(x) defines x: x_plain, compiled for each instruction set, of which the level of the products takes one.
   What x_plain calls in this file is INLINED, to be compiled with it. */
#if defined(__GNUC__) && defined(__x86_64__)
#define INLINED static inline __attribute__((always_inline))
#define IN_LEVEL(x, level, set)                                                                                        \
    __attribute__((target(set))) static void x##_##level(void* context, int64_t begin, int64_t end)                   \
    {                                                                                                                  \
        x##_plain(context, begin, end);                                                                                \
    }
#define IN_LEVELS(x)                                                                                                   \
    IN_LEVEL(x, avx2, "avx2")                                                                                          \
    IN_LEVEL(x, avx512, "avx2,avx512f")                                                                                \
    static void x(void* context, int64_t begin, int64_t end)                                                           \
    {                                                                                                                  \
        const gemm_level level = gemm_used();                                                                          \
        if (level == GEMM_AVX512) x##_avx512(context, begin, end);                                                     \
        else if (level == GEMM_AVX2) x##_avx2(context, begin, end);                                                    \
        else x##_plain(context, begin, end);                                                                           \
    }
#else
#define INLINED static inline
#define IN_LEVELS(x)                                                                                                   \
    static void x(void* context, int64_t begin, int64_t end) { x##_plain(context, begin, end); }
#endif

INLINED float* row_of(mat a, int64_t i) { return a.v + i * a.ld; }

static void for_rows(mat a, void (*body)(void* context, int64_t begin, int64_t end), void* context)
{
    parallel_for(mat_rows(a), 1 + PIECE / a.cols, body, context);
}

/* ==== dropout ================================================================================================== */

typedef struct { /* of one layer's input in this step */
    ggnn_rng rng;
    const ggnn_node* id;
    int32_t layer;
    uint32_t threshold;
    float scale;
} dropout;

static dropout dropout_of(const net* n, const ggnn_node* id, uint32_t threshold, int32_t l)
{
    ggnn_rng rng = {n->config.seed, n->step, GGNN_PURPOSE_DROPOUT};
    return (dropout){rng, id, l, threshold, ggnn_dropout_scale(threshold)};
}

/* v = v * scale where its field says keep, else 0. */
INLINED void drop_row(float* restrict v, int32_t cols, const dropout* d, int64_t row)
{
    enum { FIELDS = 512 };
    uint16_t field[FIELDS];
    for (int32_t first = 0; first < cols; first += FIELDS) {
        float* restrict part = v + first;
        int32_t count = cols - first < FIELDS ? cols - first : FIELDS, threshold = (int32_t)d->threshold;
        float scale = d->scale;
        ggnn_dropout_fields(field, &d->rng, d->layer, d->id[row], (uint32_t)first / 8, (count + 7) / 8);
        for (int32_t j = 0; j < count; j++) part[j] = field[j] < threshold ? 0 : part[j] * scale;
    }
}

typedef struct {
    mat x;
    dropout drop;
} drop_job;

INLINED void drop_rows_plain(void* context, int64_t begin, int64_t end)
{
    drop_job* job = context;
    for (int64_t i = begin; i < end; i++) drop_row(row_of(job->x, i), job->x.cols, &job->drop, i);
}
IN_LEVELS(drop_rows)

void cpu_drop(net* n, mat x, const ggnn_node* id, uint32_t threshold, int32_t l)
{
    double start = cpu_start();
    drop_job job = {x, dropout_of(n, id, threshold, l)};
    for_rows(x, drop_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, 2 * bytes_of(x));
}

/* ==== copies and sums of matrices ============================================================================== */

typedef struct {
    mat out, a;
    int32_t heads;
} pair_job;

static void copy_rows(void* context, int64_t begin, int64_t end)
{
    pair_job* job = context;
    size_t bytes = (size_t)job->out.cols * sizeof(float);
    for (int64_t i = begin; i < end; i++) memcpy(row_of(job->out, i), row_of(job->a, i), bytes);
}

void cpu_copy(mat out, mat x)
{
    pair_job job = {out, x, 1};
    for_rows(out, copy_rows, &job);
}

static void add_rows(void* context, int64_t begin, int64_t end)
{
    pair_job* job = context;
    for (int64_t i = begin; i < end; i++) {
        float* restrict out = row_of(job->out, i);
        const float* restrict a = row_of(job->a, i);
        for (int32_t j = 0; j < job->a.cols; j++) out[j] += a[j];
    }
}

typedef struct {
    float* out;
    const float* piece;
    int32_t pieces;
    int64_t n;
} pieces_job;

static void sum_range(void* context, int64_t begin, int64_t end)
{
    pieces_job* job = context;
    pieces_sum(job->out, job->piece, job->pieces, job->n, begin, end);
}

void cpu_sum_pieces(device* d, float* out, const float* piece, int32_t pieces, int64_t n)
{
    (void)d;
    pieces_job job = {out, piece, pieces, n};
    parallel_for(n, PIECE, sum_range, &job);
}

void cpu_add(net* n, mat out, mat a)
{
    double start = cpu_start();
    pair_job job = {out, a, 1};
    for_rows(a, add_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, 3 * bytes_of(a));
}

static void clear_rows(void* context, int64_t begin, int64_t end)
{
    const mat out = *(mat*)context;
    for (int64_t i = begin; i < end; i++) memset(row_of(out, i), 0, (size_t)out.cols * sizeof(float));
}

void cpu_clear(net* n, mat out)
{
    double start = cpu_start();
    for_rows(out, clear_rows, &out);
    cpu_stop(n, NET_ELEMENTWISE, start, bytes_of(out));
}

static void mean_heads_rows(void* context, int64_t begin, int64_t end)
{
    pair_job* job = context;
    int32_t cols = job->out.cols;
    float inverse = 1.0f / (float)job->heads;
    for (int64_t i = begin; i < end; i++) {
        float* restrict out = row_of(job->out, i);
        const float* restrict a = row_of(job->a, i);
        memcpy(out, a, (size_t)cols * sizeof *out);
        for (int32_t k = 1; k < job->heads; k++)
            for (int32_t j = 0; j < cols; j++) out[j] += a[k * cols + j];
        for (int32_t j = 0; j < cols; j++) out[j] *= inverse;
    }
}

void cpu_mean_heads(net* n, mat out, mat a, int32_t heads)
{
    double start = cpu_start();
    pair_job job = {out, a, heads};
    for_rows(out, mean_heads_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, bytes_of(out) + bytes_of(a));
}

static void mean_heads_back_rows(void* context, int64_t begin, int64_t end)
{
    pair_job* job = context;
    int32_t cols = job->a.cols;
    float inverse = 1.0f / (float)job->heads;
    for (int64_t i = begin; i < end; i++)
        for (int32_t k = 0; k < job->heads; k++)
            for (int32_t j = 0; j < cols; j++) row_of(job->out, i)[k * cols + j] = row_of(job->a, i)[j] * inverse;
}

void cpu_mean_heads_back(net* n, mat da, mat dout, int32_t heads)
{
    double start = cpu_start();
    pair_job job = {da, dout, heads};
    for_rows(da, mean_heads_back_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, bytes_of(da) + bytes_of(dout));
}

/* ==== forward: bias, norm, activation, dropout, a row at a time ================================================ */

typedef struct {
    mat h, x, dh, sums; /* x: forward; the last two: backward */
    const epilogue* e;
    dropout drop;
} finish_job;

/* Sum of v[j], and of v[j] * w[j]: 16 strided partial sums, folded 8, 4, 2, 1, as ggnn.h's dot. */
INLINED float fold(float part[16])
{
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; i++) part[i] += part[i + width];
    return part[0];
}
INLINED float sum(const float* v, int32_t cols)
{
    float part[16] = {0};
    int32_t j = 0;
    for (; j + 16 <= cols; j += 16)
        for (int i = 0; i < 16; i++) part[i] += v[j + i];
    for (int i = 0; j + i < cols; i++) part[i] += v[j + i];
    return fold(part);
}
INLINED float dot(const float* v, const float* w, int32_t cols)
{
    float part[16] = {0};
    int32_t j = 0;
    for (; j + 16 <= cols; j += 16)
        for (int i = 0; i < 16; i++) part[i] += v[j + i] * w[j + i];
    for (int i = 0; j + i < cols; i++) part[i] += v[j + i] * w[j + i];
    return fold(part);
}

/* Ba, Kiros & Hinton 2016: normed = (h - mean) / sqrt(variance + epsilon); h = normed * gamma + beta. */
INLINED void normalise(float* restrict h, float* restrict normed, float* inv_deviation, const epilogue* e,
                      int32_t cols)
{
    const float *gamma = e->gamma.v.v, *beta = e->beta.v.v;
    float mean = sum(h, cols) / (float)cols;
    for (int32_t j = 0; j < cols; j++) normed[j] = h[j] - mean;
    *inv_deviation = 1.0f / sqrtf(dot(normed, normed, cols) / (float)cols + NORM_EPSILON);
    for (int32_t j = 0; j < cols; j++) normed[j] *= *inv_deviation;
    for (int32_t j = 0; j < cols; j++) h[j] = normed[j] * gamma[j] + beta[j];
}

/* ELU: exp(h) - 1 below 0. */
INLINED void elu(float* restrict h, int32_t cols)
{
    enum { PART = 256 };
    float power[PART];
    for (int32_t first = 0; first < cols; first += PART) {
        float* restrict part = h + first;
        int32_t count = cols - first < PART ? cols - first : PART;
        for (int32_t j = 0; j < count; j++) power[j] = part[j] * LOG2_E;
        ggnn_exp2_array(power, count);
        for (int32_t j = 0; j < count; j++) part[j] = part[j] < 0 ? power[j] - 1 : part[j];
    }
}

INLINED void activate(float* restrict h, int32_t cols, activation act)
{
    if (act == ACTIVATION_RELU)
        for (int32_t j = 0; j < cols; j++) h[j] = h[j] < 0 ? 0 : h[j]; /* NaN stays */
    if (act == ACTIVATION_ELU) elu(h, cols);
}

INLINED void finish_rows_plain(void* context, int64_t begin, int64_t end)
{
    finish_job* job = context;
    const epilogue* e = job->e;
    const float* bias = e->bias.v.v;
    int32_t cols = job->h.cols;
    for (int64_t i = begin; i < end; i++) {
        float* h = row_of(job->h, i);
        const float* x = row_of(job->x, i);
        for (int32_t j = 0; j < cols; j++) h[j] = x[j] + bias[j];
        if (e->gamma.v.v) normalise(h, row_of(e->normed, i), &e->inv_deviation[i], e, cols);
        activate(h, cols, e->act);
        if (e->threshold) drop_row(h, cols, &job->drop, i);
    }
}
IN_LEVELS(finish_rows)

static finish_job finish_of(const net* n, mat h, mat x, const epilogue* e)
{
    return (finish_job){.h = h, .x = x, .e = e, .drop = dropout_of(n, e->id, e->threshold, e->layer)};
}

void cpu_finish(net* n, mat h, mat x, const epilogue* e)
{
    double start = cpu_start();
    finish_job job = finish_of(n, h, x, e);
    for_rows(h, finish_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, (e->gamma.v.v ? 3 : 2) * bytes_of(h));
}

/* Rows are finished while they are in a core's cache: memory sees h once. */
void cpu_multiply_finish(net* n, mat h, mat a, mat w, const epilogue* e)
{
    if (a.sparse || n->config.blas) {
        cpu_gemm(n, h, a, false, w, false, 0);
        cpu_finish(n, h, h, e);
        return;
    }
    double start = cpu_start();
    finish_job job = finish_of(n, h, h, e);
    gemm_finish(h.v, h.ld, a.v, a.ld, w.v, w.ld, mat_rows(h), h.cols, a.cols, n->workspace, finish_rows, &job);
    n->profile.flops[n->backward] += 2 * mat_rows(h) * h.cols * a.cols;
    cpu_stop(n, NET_GEMM, start, bytes_of(a) + bytes_of(w) + (e->gamma.v.v ? 2 : 1) * bytes_of(h));
}

/* ==== backward ================================================================================================= */

/* dh of row i through dropout and activation. No mask is stored: relu's output is positive exactly where it was kept,
   and ELU's is drawn again; its derivative below 0 is exp(x) = ELU(x) + 1. */
INLINED void activate_back(const finish_job* job, int64_t i)
{
    const epilogue* e = job->e;
    const float* restrict h = row_of(job->h, i);
    float* restrict dh = row_of(job->dh, i);
    float scale = job->drop.scale, inverse = 1.0f / scale;
    int32_t cols = job->h.cols;
    if (e->act == ACTIVATION_RELU)
        for (int32_t j = 0; j < cols; j++) dh[j] = h[j] > 0 ? dh[j] * scale : 0;
    if (e->act == ACTIVATION_ELU)
        for (int32_t j = 0; j < cols; j++) dh[j] = h[j] < 0 ? dh[j] * (h[j] * inverse + 1) : dh[j];
    if (e->act != ACTIVATION_RELU && e->threshold) drop_row(dh, cols, &job->drop, i);
}

/* dh of the norm's output becomes that of its input: with g = dh * gamma,
   (g - mean(g) - normed * mean(g * normed)) / deviation. */
INLINED void normalise_back(float* restrict dh, const float* restrict normed, float inv_deviation,
                           const float* restrict gamma, int32_t cols)
{
    for (int32_t j = 0; j < cols; j++) dh[j] *= gamma[j];
    float mean = sum(dh, cols) / (float)cols, slope = dot(dh, normed, cols) / (float)cols;
    for (int32_t j = 0; j < cols; j++) dh[j] = (dh[j] - mean - normed[j] * slope) * inv_deviation;
}

INLINED void add_to(float* restrict to, const float* restrict v, int32_t cols)
{
    for (int32_t j = 0; j < cols; j++) to[j] += v[j];
}
INLINED void add_products_to(float* restrict to, const float* restrict v, const float* restrict w, int32_t cols)
{
    for (int32_t j = 0; j < cols; j++) to[j] += v[j] * w[j];
}

/* One segment of rows, which leaves its column sums in three rows of job->sums: of the bias, gamma and beta. */
INLINED void finish_back_segment_plain(void* context, int64_t segment, int64_t end)
{
    finish_job* job = context;
    const epilogue* e = job->e;
    int32_t cols = job->h.cols;
    for (; segment < end; segment++) {
        float *bias = row_of(job->sums, 3 * segment), *gamma = bias + job->sums.ld, *beta = gamma + job->sums.ld;
        int64_t rows = mat_rows(job->h), first = segment * SEGMENT;
        for (int k = 0; k < 3; k++) memset(bias + k * job->sums.ld, 0, (size_t)cols * sizeof *bias);
        for (int64_t i = first; i < rows && i < first + SEGMENT; i++) {
            float* dh = row_of(job->dh, i);
            activate_back(job, i);
            if (e->gamma.v.v) {
                const float* normed = row_of(e->normed, i);
                add_to(beta, dh, cols);
                add_products_to(gamma, dh, normed, cols);
                normalise_back(dh, normed, e->inv_deviation[i], e->gamma.v.v, cols);
            }
            add_to(bias, dh, cols);
        }
    }
}
IN_LEVELS(finish_back_segment)

/* d = the segments' sums, in order. */
static void add_segments(mat d, mat sums, int64_t segments, int which)
{
    memset(d.v, 0, (size_t)d.cols * sizeof *d.v);
    for (int64_t s = 0; s < segments; s++) add_to(d.v, row_of(sums, 3 * s + which), d.cols);
}

void cpu_finish_back(net* n, mat dh, mat h, const epilogue* e)
{
    double start = cpu_start();
    finish_job job = {.h = h, .dh = dh, .sums = n->column_sums, .e = e, .drop = dropout_of(n, e->id, e->threshold, e->layer)};
    int64_t segments = (mat_rows(h) + SEGMENT - 1) / SEGMENT;
    parallel_for(segments, 1, finish_back_segment, &job);
    add_segments(e->bias.d, job.sums, segments, 0);
    if (e->gamma.v.v) add_segments(e->gamma.d, job.sums, segments, 1);
    if (e->gamma.v.v) add_segments(e->beta.d, job.sums, segments, 2);
    cpu_stop(n, NET_ELEMENTWISE, start, (e->gamma.v.v ? 4 : 3) * bytes_of(h));
}
