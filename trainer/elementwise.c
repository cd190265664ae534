/* elementwise.c - what is done element by element or along a row: bias, norm, activation, dropout, their gradients.

   Forward divides rows among threads. Backward divides columns, so that the sums over rows - of a bias, gamma, beta -
   add in row order whatever the threads: in segments of 256 rows, as all long sums here. Loops are plain, for the
   compiler to vectorise (the Makefile asks for it). */
#include <math.h>
#include <string.h>

#include "trainer/ops_cpu.h"
#include "trainer/parallel.h"

enum { PIECE = 16384, SEGMENT = 256, STRIP = 64 }; /* elements a piece, rows a partial sum, columns a column sum */
#define LOG2_E 1.44269504f
#define NORM_EPSILON 1e-5f

static int64_t bytes_of(mat a) { return mat_rows(a) * a.cols * (int64_t)sizeof(float); }
static float*  row_of(mat a, int64_t i) { return a.v + i * a.ld; }

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

static dropout dropout_of(const net* n, uint32_t threshold, int32_t l)
{
    ggnn_rng rng = {n->config.seed, n->step, GGNN_PURPOSE_DROPOUT};
    return (dropout){rng, n->id, l, threshold, ggnn_dropout_scale(threshold)};
}

/* factor[i] = 0 where column 8 block + i of row i is dropped, else the scale that keeps the mean. */
static void factors(float factor[8], const dropout* d, int64_t row, int32_t block)
{
    ggnn_words words = ggnn_random(&d->rng, d->layer, d->id[row], (uint32_t)block);
    for (int i = 0; i < 8; i++) factor[i] = ggnn_dropout_field(words, i) < d->threshold ? 0 : d->scale;
}

static bool all_zero(const float* v, int32_t count)
{
    uint32_t bits[8] = {0}, any = 0;
    memcpy(bits, v, (size_t)count * sizeof *v);
    for (int i = 0; i < 8; i++) any |= bits[i] << 1; /* but for the sign */
    return any == 0;
}

static void drop_row(float* v, int32_t cols, const dropout* d, int64_t row)
{
    float factor[8];
    for (int32_t j = 0; j < cols; j += 8) {
        int32_t count = cols - j < 8 ? cols - j : 8;
        if (all_zero(v + j, count)) continue; /* words of a bag: most are, and zero stays zero */
        factors(factor, d, row, j / 8);
        for (int32_t i = 0; i < count; i++) v[j + i] *= factor[i];
    }
}

typedef struct {
    mat x;
    dropout drop;
} drop_job;

static void drop_rows(void* context, int64_t begin, int64_t end)
{
    drop_job* job = context;
    for (int64_t i = begin; i < end; i++) drop_row(row_of(job->x, i), job->x.cols, &job->drop, i);
}

void cpu_drop(net* n, mat x, uint32_t threshold, int32_t l)
{
    double start = cpu_start();
    drop_job job = {x, dropout_of(n, threshold, l)};
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

void cpu_add(net* n, mat out, mat a)
{
    double start = cpu_start();
    pair_job job = {out, a, 1};
    for_rows(a, add_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, 3 * bytes_of(a));
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
    mat h, dh; /* dh: backward */
    const epilogue* e;
    dropout drop;
} finish_job;

/* Sum of v[j], and of v[j] * w[j]: 16 strided partial sums, folded 8, 4, 2, 1, as ggnn.h's dot. */
static float fold(float part[16])
{
    for (int width = 8; width > 0; width /= 2)
        for (int i = 0; i < width; i++) part[i] += part[i + width];
    return part[0];
}
static float sum(const float* v, int32_t cols)
{
    float part[16] = {0};
    int32_t j = 0;
    for (; j + 16 <= cols; j += 16)
        for (int i = 0; i < 16; i++) part[i] += v[j + i];
    for (int i = 0; j + i < cols; i++) part[i] += v[j + i];
    return fold(part);
}
static float dot(const float* v, const float* w, int32_t cols)
{
    float part[16] = {0};
    int32_t j = 0;
    for (; j + 16 <= cols; j += 16)
        for (int i = 0; i < 16; i++) part[i] += v[j + i] * w[j + i];
    for (int i = 0; j + i < cols; i++) part[i] += v[j + i] * w[j + i];
    return fold(part);
}

/* Ba, Kiros & Hinton 2016: normed = (h - mean) / sqrt(variance + epsilon); h = normed * gamma + beta. */
static void normalise(float* restrict h, float* restrict normed, float* inv_deviation, const epilogue* e,
                      int32_t cols)
{
    const float *gamma = e->gamma.v.v, *beta = e->beta.v.v;
    float mean = sum(h, cols) / (float)cols;
    for (int32_t j = 0; j < cols; j++) normed[j] = h[j] - mean;
    *inv_deviation = 1.0f / sqrtf(dot(normed, normed, cols) / (float)cols + NORM_EPSILON);
    for (int32_t j = 0; j < cols; j++) normed[j] *= *inv_deviation;
    for (int32_t j = 0; j < cols; j++) h[j] = normed[j] * gamma[j] + beta[j];
}

static void activate(float* h, int32_t cols, activation act)
{
    if (act == ACTIVATION_RELU)
        for (int32_t j = 0; j < cols; j++) h[j] = h[j] < 0 ? 0 : h[j]; /* NaN stays */
    if (act == ACTIVATION_ELU)
        for (int32_t j = 0; j < cols; j++)
            if (h[j] < 0) h[j] = ggnn_exp2(h[j] * LOG2_E) - 1;
}

static void finish_rows(void* context, int64_t begin, int64_t end)
{
    finish_job* job = context;
    const epilogue* e = job->e;
    const float* bias = e->bias.v.v;
    int32_t cols = job->h.cols;
    for (int64_t i = begin; i < end; i++) {
        float* h = row_of(job->h, i);
        for (int32_t j = 0; j < cols; j++) h[j] += bias[j];
        if (e->gamma.v.v) normalise(h, row_of(e->normed, i), &e->inv_deviation[i], e, cols);
        activate(h, cols, e->act);
        if (e->threshold) drop_row(h, cols, &job->drop, i);
    }
}

void cpu_finish(net* n, mat h, const epilogue* e)
{
    double start = cpu_start();
    finish_job job = {h, h, e, dropout_of(n, e->threshold, e->layer)};
    for_rows(h, finish_rows, &job);
    cpu_stop(n, NET_ELEMENTWISE, start, (e->gamma.v.v ? 3 : 2) * bytes_of(h));
}

/* ==== backward ================================================================================================= */
/* No mask is stored: relu's output is positive exactly where it was kept, and ELU's is drawn again. */

/* dh through dropout and activation, columns [j, j + cols) of row i, in place. */
static void activate_back(const finish_job* job, int64_t i, int32_t first, int32_t cols)
{
    const epilogue* e = job->e;
    const float* restrict h = row_of(job->h, i) + first;
    float* restrict dh = row_of(job->dh, i) + first;
    float factor[8], scale = job->drop.scale, inverse = 1.0f / scale;
    if (e->act == ACTIVATION_RELU)
        for (int32_t j = 0; j < cols; j++) dh[j] = h[j] > 0 ? dh[j] * scale : 0;
    if (e->act == ACTIVATION_ELU) /* its derivative is exp(x) = ELU(x) + 1 below 0 */
        for (int32_t j = 0; j < cols; j++) dh[j] = h[j] < 0 ? dh[j] * (h[j] * inverse + 1) : dh[j];
    if (e->act == ACTIVATION_RELU || !e->threshold) return;
    for (int32_t j = 0; j < cols; j++) {
        if (j % 8 == 0) factors(factor, &job->drop, i, (first + j) / 8);
        dh[j] *= factor[j % 8];
    }
}

/* The sums over rows of one strip of columns: total += part after each segment of rows. */
typedef struct {
    float part[STRIP], total[STRIP];
} column_sum;

static void end_of_segment(column_sum* s)
{
    for (int j = 0; j < STRIP; j++) s->total[j] += s->part[j];
    memset(s->part, 0, sizeof s->part);
}

/* dh through dropout and activation; dbeta = its column sums, dgamma = those of it times normed. */
static void activate_back_columns(void* context, int64_t begin, int64_t end)
{
    finish_job* job = context;
    const epilogue* e = job->e;
    column_sum beta = {{0}, {0}}, gamma = {{0}, {0}};
    int32_t first = (int32_t)begin, cols = (int32_t)(end - begin);
    for (int64_t i = 0, rows = mat_rows(job->h); i < rows; i++) {
        const float* dh = row_of(job->dh, i) + first;
        activate_back(job, i, first, cols);
        for (int32_t j = 0; j < cols; j++) beta.part[j] += dh[j];
        if (e->gamma.v.v) {
            const float* normed = row_of(e->normed, i) + first;
            for (int32_t j = 0; j < cols; j++) gamma.part[j] += dh[j] * normed[j];
        }
        if (i % SEGMENT == SEGMENT - 1 || i == rows - 1) {
            end_of_segment(&beta);
            end_of_segment(&gamma);
        }
    }
    /* without a norm that sum is the bias's gradient */
    memcpy((e->gamma.v.v ? e->beta.d.v : e->bias.d.v) + first, beta.total, (size_t)cols * sizeof(float));
    if (e->gamma.v.v) memcpy(e->gamma.d.v + first, gamma.total, (size_t)cols * sizeof(float));
}

/* With g = dh * gamma: dh = (g - mean(g) - normed * mean(g * normed)) / deviation. */
static void normalise_back_rows(void* context, int64_t begin, int64_t end)
{
    finish_job* job = context;
    const epilogue* e = job->e;
    int32_t cols = job->h.cols;
    for (int64_t i = begin; i < end; i++) {
        float* restrict g = row_of(job->dh, i);
        const float *restrict normed = row_of(e->normed, i), *gamma = e->gamma.v.v;
        float inv_deviation = e->inv_deviation[i];
        for (int32_t j = 0; j < cols; j++) g[j] *= gamma[j];
        float mean = sum(g, cols) / (float)cols, slope = dot(g, normed, cols) / (float)cols;
        for (int32_t j = 0; j < cols; j++) g[j] = (g[j] - mean - normed[j] * slope) * inv_deviation;
    }
}

static void bias_columns(void* context, int64_t begin, int64_t end)
{
    finish_job* job = context;
    column_sum bias = {{0}, {0}};
    int32_t cols = (int32_t)(end - begin);
    for (int64_t i = 0, rows = mat_rows(job->h); i < rows; i++) {
        const float* dh = row_of(job->dh, i) + begin;
        for (int32_t j = 0; j < cols; j++) bias.part[j] += dh[j];
        if (i % SEGMENT == SEGMENT - 1 || i == rows - 1) end_of_segment(&bias);
    }
    memcpy(job->e->bias.d.v + begin, bias.total, (size_t)cols * sizeof(float));
}

void cpu_finish_back(net* n, mat dh, mat h, const epilogue* e)
{
    double start = cpu_start();
    finish_job job = {h, dh, e, dropout_of(n, e->threshold, e->layer)};
    parallel_for(h.cols, STRIP, activate_back_columns, &job);
    if (e->gamma.v.v) {
        for_rows(h, normalise_back_rows, &job);
        parallel_for(h.cols, STRIP, bias_columns, &job);
    }
    cpu_stop(n, NET_ELEMENTWISE, start, (e->gamma.v.v ? 8 : 3) * bytes_of(h));
}
