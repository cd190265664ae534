/* bench_limit.c - how fast a kernel can be that is for one width and one machine, as a plug-in for ggnn-bench.

       cc -O3 -march=native -fPIC -shared -fopenmp -I. -o limit.so examples/bench_limit.c
       build/ggnn-bench spmm sddmm gat gather --plugin limit.so

   ggnn's loops take any width, type, stride and instruction set, and add in an order that is fixed. Here nothing is
   but one width per loop, the widest registers that the compiler was told of, multiply-adds that round once, and sums
   in whatever order is fast. Rows to come are asked for ahead. What ggnn takes beside these is the price of its
   options; bench/results/README.md has the shares. */
#include <math.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE__
#include <immintrin.h>
#endif

#include "bench/plugin.h"

#if defined(__AVX512F__)
enum { V = 16 }; /* floats of a register */
#elif defined(__AVX__)
enum { V = 8 };
#else
enum { V = 4 };
#endif
typedef float   vec __attribute__((vector_size(4 * V), aligned(4), may_alias));
typedef int32_t lanes __attribute__((vector_size(4 * V), aligned(4), may_alias));
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 32")

INLINE vec  load(const float* p) { return *(const vec*)(const void*)p; }
INLINE void store(float* p, vec x) { *(vec*)(void*)p = x; }
INLINE void prefetch(const float* row, int width)
{
    UNROLL
    for (int j = 0; j < width; j += 16) __builtin_prefetch(row + j);
}

INLINE vec larger(vec a, vec b)
{
    const lanes a_is = a > b;
    return (vec)(((lanes)a & a_is) | ((lanes)b & ~a_is));
}

/* Lane j of the result: the sum, the largest, of lanes j, j + 4, j + 8 .. */
#if defined(__AVX512F__)
INLINE vec halves(vec a) { return __builtin_shufflevector(a, a, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7); }
INLINE vec fours(vec a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11); }
INLINE vec total(vec a) { return a += halves(a), a + fours(a); }
INLINE vec largest(vec a) { return a = larger(a, halves(a)), larger(a, fours(a)); }
#elif defined(__AVX__)
INLINE vec fours(vec a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3); }
INLINE vec total(vec a) { return a + fours(a); }
INLINE vec largest(vec a) { return larger(a, fours(a)); }
#else
INLINE vec total(vec a) { return a; }
INLINE vec largest(vec a) { return a; }
#endif

/* The first list v with indptr[v] + v >= wanted: pieces of equally many lists and edges. */
static int64_t piece(const bench_lists* l, int64_t i, int64_t pieces)
{
    const int64_t wanted = (l->edges + l->targets) * i / pieces;
    int64_t       low = 0, high = l->targets;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (l->indptr[middle] + middle < wanted) low = middle + 1;
        else high = middle;
    }
    return i == pieces ? l->targets : low;
}

/* list(job, v) for each list v, on all threads. */
#define EACH_LIST(job, list)                                                                     \
    do {                                                                                         \
        const bench_lists* const l = &(job)->lists;                                              \
        const int64_t            pieces = 64 * (int64_t)(job)->where.threads;                    \
        _Pragma("omp parallel for schedule(dynamic, 1) num_threads((job)->where.threads)")       \
        for (int64_t i = 0; i < pieces; i++)                                                     \
            for (int64_t v = piece(l, i, pieces), end = piece(l, i + 1, pieces); v < end; v++)   \
                list(job, v);                                                                    \
    } while (0)

/* The source of edge e; past the last edge that of the last: a loop asks for rows that far ahead. */
INLINE int64_t source(const bench_lists* l, int64_t e) { return l->indices[e < l->edges ? e : l->edges - 1]; }

enum { EDGES_AHEAD = 64, ROWS_AHEAD = 16 }; /* of short rows, and of those of 128 columns */

/* ---- spmm: sums in registers, one multiplication at the end ---- */

INLINE void sum(const bench_spmm_job* job, int64_t v, int width, int ahead, const float* weight)
{
    const int64_t begin = job->lists.indptr[v], end = job->lists.indptr[v + 1];
    const float   factor = job->mean && end > begin ? 1.0f / (float)(end - begin) : 1.0f;
    vec           out[128 / V];
    UNROLL
    for (int j = 0; j < width / V; j++) out[j] = (vec){0};
    for (int64_t e = begin; e < end; e++) {
        const float* row = job->inp + job->lists.indices[e] * (int64_t)width;
        prefetch(job->inp + source(&job->lists, e + ahead) * width, width);
        UNROLL
        for (int j = 0; j < width / V; j++) {
            if (weight) out[j] += load(row + j * V) * weight[e];
            else out[j] += load(row + j * V);
        }
    }
    UNROLL
    for (int j = 0; j < width / V; j++) store(job->out + v * width + j * V, out[j] * factor);
}
INLINE void sum_32(const bench_spmm_job* job, int64_t v) { sum(job, v, 32, EDGES_AHEAD, NULL); }
INLINE void sum_128(const bench_spmm_job* job, int64_t v) { sum(job, v, 128, ROWS_AHEAD, NULL); }
INLINE void weigh_32(const bench_spmm_job* job, int64_t v) { sum(job, v, 32, EDGES_AHEAD, job->weight); }
INLINE void weigh_128(const bench_spmm_job* job, int64_t v) { sum(job, v, 128, ROWS_AHEAD, job->weight); }

static int32_t spmm(const bench_spmm_job* job)
{
    if (job->width != 32 && job->width != 128) return BENCH_PLUGIN_NONE;
    if (job->width == 32 && job->weight) EACH_LIST(job, weigh_32);
    else if (job->width == 32) EACH_LIST(job, sum_32);
    else if (job->weight) EACH_LIST(job, weigh_128);
    else EACH_LIST(job, sum_128);
    return 0;
}

/* ---- sddmm: the target's row stays in registers ---- */

INLINE void dot_32(const bench_sddmm_job* job, int64_t v)
{
    vec own[32 / V];
    UNROLL
    for (int j = 0; j < 32 / V; j++) own[j] = load(job->dst + v * 32 + j * V);
    for (int64_t e = job->lists.indptr[v]; e < job->lists.indptr[v + 1]; e++) {
        const float* row = job->src + job->lists.indices[e] * INT64_C(32);
        vec          products = {0};
        prefetch(job->src + source(&job->lists, e + EDGES_AHEAD) * 32, 32);
        UNROLL
        for (int j = 0; j < 32 / V; j++) products += own[j] * load(row + j * V);
        products = total(products);
        job->out[e] = (products[0] + products[1]) + (products[2] + products[3]);
    }
}

static int32_t sddmm(const bench_sddmm_job* job)
{
    if (job->width != 32) return BENCH_PLUGIN_NONE;
    EACH_LIST(job, dot_32);
    return 0;
}

/* ---- gather: rows past the caches ---- */

INLINE void copy_row(float* out, const float* row, int32_t width)
{
#ifdef __SSE__
    int32_t j = 0;
    for (; j < width && (uintptr_t)(out + j) % (4 * V) != 0; j += 4) _mm_stream_ps(out + j, _mm_loadu_ps(row + j));
#if defined(__AVX512F__)
    for (; j + V <= width; j += V) _mm512_stream_ps(out + j, _mm512_loadu_ps(row + j));
#elif defined(__AVX__)
    for (; j + V <= width; j += V) _mm256_stream_ps(out + j, _mm256_loadu_ps(row + j));
#endif
    for (; j < width; j += 4) _mm_stream_ps(out + j, _mm_loadu_ps(row + j));
#else
    memcpy(out, row, (size_t)width * sizeof *out);
#endif
}

static int32_t gather(const bench_gather_job* job)
{
    const int32_t width = job->width;
    if (width % 4 != 0 || (uintptr_t)job->out % 16 != 0) return BENCH_PLUGIN_NONE;
#pragma omp parallel for schedule(static) num_threads(job->where.threads)
    for (int64_t i = 0; i < job->n; i++) {
        const float* next = job->table + job->id[i + ROWS_AHEAD < job->n ? i + ROWS_AHEAD : i] * (int64_t)width;
        prefetch(next, width);
        __builtin_prefetch(next + width - 1);
        copy_row(job->out + i * width, job->table + job->id[i] * (int64_t)width, width);
    }
    return 0;
}

/* ---- gat: four heads of 32 columns, in one pass with a maximum that runs along ---- */

enum { HEADS = 4, COLUMNS = 32, WIDTH = HEADS * COLUMNS, SEGMENT = 256 };

/* e to the x for x <= 0; relative error below 3e-7. */
INLINE vec power(vec x)
{
    const vec   zero = {0};
    const vec   shifted = larger(x, zero - 87.0f) * 1.44269504f + 12582912.0f;
    const lanes n = (lanes)shifted;
    const vec   whole = shifted - 12582912.0f, r = larger(x, zero - 87.0f) - whole * 0.693359375f + whole * 2.12194440e-4f;
    vec         p = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + .5f;
    p = p * r * r + r + 1.0f;
    return (vec)((lanes)p + (n << 23));
}

INLINE void weigh_heads(vec* out, const float* row, const float* alpha)
{
    UNROLL
    for (int j = 0; j < WIDTH / V; j++) out[j] += load(row + j * V) * alpha[j * V / COLUMNS];
}

INLINE void attend(const bench_gat_job* job, int64_t v)
{
    const bench_lists* l = &job->lists;
    const vec          none = (vec){0} - 1e30f;
    vec                out[WIDTH / V], sum_of = {0}, most = none, er;
    float              alpha[(SEGMENT + V) * HEADS];
    for (int j = 0; j < V; j++) alpha[j] = job->er[v * HEADS + j % HEADS];
    er = load(alpha);
    UNROLL
    for (int j = 0; j < WIDTH / V; j++) out[j] = (vec){0};
    for (int64_t begin = l->indptr[v] - 1; begin < l->indptr[v + 1]; begin += SEGMENT) { /* entry -1: the node itself */
        const int n = (int)(l->indptr[v + 1] - begin < SEGMENT ? l->indptr[v + 1] - begin : SEGMENT), own = begin < l->indptr[v];
        const int padded = (n * HEADS + V - 1) / V * V;
        vec       above = most, rest;
        if (own) memcpy(alpha, job->el + v * HEADS, HEADS * sizeof *alpha);
        for (int i = own; i < n; i++) {
            __builtin_prefetch(job->el + source(l, begin + i + EDGES_AHEAD) * HEADS);
            memcpy(alpha + i * HEADS, job->el + (int64_t)l->indices[begin + i] * HEADS, HEADS * sizeof *alpha);
        }
        for (int j = n * HEADS; j < padded; j++) alpha[j] = -1e30f;
        for (int j = 0; j < padded; j += V) {
            vec score = load(alpha + j) + er;
            score = larger(score, score * job->slope);
            store(alpha + j, score);
            above = larger(above, score);
        }
        above = largest(above);
        rest = power(most - above);
        most = above;
        sum_of *= rest;
        UNROLL
        for (int j = 0; j < WIDTH / V; j++) out[j] *= rest[j * V / COLUMNS];
        for (int j = 0; j < padded; j += V) {
            const vec one = power(load(alpha + j) - most);
            store(alpha + j, one);
            sum_of += one;
        }
        for (int j = n * HEADS; j < padded; j++) sum_of[j % V] -= alpha[j];
        if (own) weigh_heads(out, job->z + v * WIDTH, alpha);
        for (int i = own; i < n; i++) {
            prefetch(job->z + source(l, begin + i + ROWS_AHEAD) * WIDTH, WIDTH);
            weigh_heads(out, job->z + (int64_t)l->indices[begin + i] * WIDTH, alpha + i * HEADS);
        }
    }
    sum_of = total(sum_of);
    UNROLL
    for (int j = 0; j < WIDTH / V; j++) store(job->out + v * WIDTH + j * V, out[j] * (1.0f / sum_of[j * V / COLUMNS]));
}

static int32_t gat(const bench_gat_job* job)
{
    if (job->heads != HEADS || job->width != WIDTH) return BENCH_PLUGIN_NONE;
    EACH_LIST(job, attend);
    return 0;
}

const bench_plugin ggnn_bench_plugin = {BENCH_PLUGIN_VERSION, 0, "limit", 1e-4, spmm, sddmm, gather, NULL, gat};
