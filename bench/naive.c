#include "bench/naive.h"

#include <math.h>
#include <string.h>

#ifdef _OPENMP
#define PARALLEL_ROWS _Pragma("omp parallel for schedule(dynamic, 64)")
#else
#define PARALLEL_ROWS
#endif

/* ==== sampling ========================================================================================== */

/* What slot s holds: s, unless it was overwritten; the last of its entries counts. */
static int64_t slot_holds(const int64_t* slot, const int64_t* held, int64_t written, int64_t s)
{
    for (int64_t i = written - 1; i >= 0; i--)
        if (slot[i] == s) return held[i];
    return s;
}

int64_t naive_hop(int64_t* indptr, ggnn_node* neighbor, const ggnn_graph* g, const ggnn_rng* rng, int32_t hop,
                  int64_t fanout, const ggnn_node* target, int64_t n)
{
    int64_t slot[64], held[64], edges = 0;
    ggnn_words words = {{0, 0, 0, 0}};
    for (int64_t v = 0; v < n; v++) {
        ggnn_list list = ggnn_neighbors(g, target[v]);
        indptr[v] = edges;
        if (list.degree <= fanout) {
            for (int64_t i = 0; i < list.degree; i++) neighbor[edges++] = list.id[i];
            continue;
        }
        for (int64_t i = 0; i < fanout; i++) {
            if (i % 2 == 0) words = ggnn_random(rng, hop, target[v], (uint32_t)(i / 2)); /* two draws */
            int64_t r = ggnn_bounded(ggnn_draw(words, i), list.degree - i);
            neighbor[edges++] = list.id[slot_holds(slot, held, i, r)];
            held[i] = slot_holds(slot, held, i, list.degree - 1 - i);
            slot[i] = r;
        }
    }
    indptr[n] = edges;
    return edges;
}

int64_t naive_append(naive_slot* table, uint64_t mask, ggnn_node* list, int64_t count, int32_t* local,
                     const ggnn_node* id, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = ggnn_hash(id[i], mask);
        while (table[at].key && table[at].key != (int64_t)id[i] + 1) at = (at + 1) & mask;
        if (!table[at].key) {
            table[at].key = (int64_t)id[i] + 1;
            table[at].value = count;
            list[count++] = id[i];
        }
        if (local) local[i] = (int32_t)table[at].value;
    }
    return count;
}

void naive_gather(float* out, const ggnn_store* from, const ggnn_node* id, int64_t n)
{
    size_t bytes = (size_t)from->width * sizeof *out;
    PARALLEL_ROWS
    for (int64_t i = 0; i < n; i++) memcpy(out + i * from->width, ggnn_row(from, id[i]), bytes);
}

/* ==== sparse ============================================================================================ */

void naive_spmm(float* out, const ggnn_block* b, const float* weight, int32_t heads, const float* inp,
                int32_t width, int mean)
{
    int64_t rows = *b->num_dst.n;
    int32_t part = width / heads;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++) {
        float* sum = out + v * width;
        int64_t begin = b->indptr[v], end = b->indptr[v + 1];
        memset(sum, 0, (size_t)width * sizeof *sum);
        for (int64_t e = begin; e < end; e++) {
            const float* row = inp + (int64_t)b->indices[e] * width;
            if (weight)
                for (int32_t k = 0; k < heads; k++)
                    for (int32_t j = k * part; j < (k + 1) * part; j++)
                        sum[j] += weight[e * heads + k] * row[j];
            else
                for (int32_t j = 0; j < width; j++) sum[j] += row[j];
        }
        if (mean && end > begin)
            for (int32_t j = 0; j < width; j++) sum[j] *= 1.0f / (float)(end - begin);
    }
}

static float dot(const float* a, const float* b, int32_t n)
{
    float sum = 0;
    for (int32_t j = 0; j < n; j++) sum += a[j] * b[j];
    return sum;
}

void naive_sddmm(float* out, const ggnn_block* b, const float* src, const float* dst, int32_t heads,
                 int32_t width)
{
    int64_t rows = *b->num_dst.n;
    int32_t part = width / heads;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++)
        for (int64_t e = b->indptr[v]; e < b->indptr[v + 1]; e++)
            for (int32_t k = 0; k < heads; k++)
                out[e * heads + k] =
                    dot(src + (int64_t)b->indices[e] * width + k * part, dst + v * width + k * part, part);
}

/* Of entries value[0], value[heads], ..: n of them. */
static void softmax(float* value, int64_t n, int32_t heads)
{
    float largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) largest = fmaxf(largest, value[i * heads]);
    for (int64_t i = 0; i < n; i++) sum += value[i * heads] = expf(value[i * heads] - largest);
    for (int64_t i = 0; i < n; i++) value[i * heads] /= sum;
}

void naive_softmax(float* out, const ggnn_block* b, const float* logit, int32_t heads)
{
    int64_t rows = *b->num_dst.n;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++) {
        int64_t begin = b->indptr[v], n = b->indptr[v + 1] - begin;
        memcpy(out + begin * heads, logit + begin * heads, (size_t)(n * heads) * sizeof *out);
        for (int32_t k = 0; k < heads; k++) softmax(out + begin * heads + k, n, heads);
    }
}

/* ==== attention ========================================================================================= */

static float leaky(float x, float slope) { return x > 0 ? x : slope * x; }

/* The source of entry i of target v, whose entry 0 is itself. */
static int64_t source(const ggnn_block* b, int64_t v, int64_t i)
{
    return i ? b->indices[b->indptr[v] + i - 1] : v;
}
static int64_t entries(const ggnn_block* b, int64_t v) { return b->indptr[v + 1] - b->indptr[v] + 1; }

static void gat_scores(float* alpha, const ggnn_block* b, const float* el, const float* er, int32_t heads,
                       float slope)
{
    int64_t rows = *b->num_dst.n;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++)
        for (int64_t i = 0; i < entries(b, v); i++)
            for (int32_t k = 0; k < heads; k++)
                alpha[(b->indptr[v] + v + i) * heads + k] =
                    leaky(el[source(b, v, i) * heads + k] + er[v * heads + k], slope);
}

static void gat_softmax(float* alpha, const ggnn_block* b, int32_t heads)
{
    int64_t rows = *b->num_dst.n;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++)
        for (int32_t k = 0; k < heads; k++)
            softmax(alpha + (b->indptr[v] + v) * heads + k, entries(b, v), heads);
}

static void gat_sum(float* out, const float* alpha, const ggnn_block* b, const float* z, int32_t heads,
                    int32_t width)
{
    int64_t rows = *b->num_dst.n;
    int32_t part = width / heads;
    PARALLEL_ROWS
    for (int64_t v = 0; v < rows; v++) {
        float* sum = out + v * width;
        memset(sum, 0, (size_t)width * sizeof *sum);
        for (int64_t i = 0; i < entries(b, v); i++) {
            const float *row = z + source(b, v, i) * width, *a = alpha + (b->indptr[v] + v + i) * heads;
            for (int32_t k = 0; k < heads; k++)
                for (int32_t j = k * part; j < (k + 1) * part; j++) sum[j] += a[k] * row[j];
        }
    }
}

void naive_gat(float* out, float* alpha, const ggnn_block* b, const float* z, const float* el,
               const float* er, int32_t heads, int32_t width, float slope)
{
    gat_scores(alpha, b, el, er, heads, slope);
    gat_softmax(alpha, b, heads);
    gat_sum(out, alpha, b, z, heads, width);
}

/* One target, one head: dalpha[i] = z[u] . dout[v], dl = alpha (dalpha - sum alpha dalpha), then to its
   sources. */
static void gat_back_row(float* dz, float* del, float* der, const float* alpha, const ggnn_block* b,
                         int64_t v, const float* z, const float* el, const float* er, const float* dout,
                         int32_t heads, int32_t k, int32_t width, float slope)
{
    int32_t part = width / heads;
    const float *a = alpha + (b->indptr[v] + v) * heads + k, *dv = dout + v * width + k * part;
    float mean = 0;
    for (int64_t i = 0; i < entries(b, v); i++)
        mean += a[i * heads] * dot(z + source(b, v, i) * width + k * part, dv, part);
    for (int64_t i = 0; i < entries(b, v); i++) {
        int64_t u = source(b, v, i);
        float dl = a[i * heads] * (dot(z + u * width + k * part, dv, part) - mean);
        if (el[u * heads + k] + er[v * heads + k] <= 0) dl *= slope;
        del[u * heads + k] += dl;
        der[v * heads + k] += dl;
        for (int32_t j = 0; j < part; j++) dz[u * width + k * part + j] += a[i * heads] * dv[j];
    }
}

void naive_gat_back(float* dz, float* del, float* der, const float* alpha, const ggnn_block* b,
                    const float* z, const float* el, const float* er, const float* dout, int32_t heads,
                    int32_t width, float slope)
{
    size_t src = (size_t)*b->num_src.n, dst = (size_t)*b->num_dst.n;
    memset(dz, 0, src * (size_t)width * sizeof *dz);
    memset(del, 0, src * (size_t)heads * sizeof *del);
    memset(der, 0, dst * (size_t)heads * sizeof *der);
    for (int64_t v = 0; v < (int64_t)dst; v++)
        for (int32_t k = 0; k < heads; k++)
            gat_back_row(dz, del, der, alpha, b, v, z, el, er, dout, heads, k, width, slope);
}

/* ==== dense ============================================================================================= */

void naive_gemm(float* c, const float* a, int at, const float* b, int64_t m, int64_t n, int64_t k)
{
    PARALLEL_ROWS
    for (int64_t i = 0; i < m; i++) {
        memset(c + i * n, 0, (size_t)n * sizeof *c);
        for (int64_t p = 0; p < k; p++) {
            float x = at ? a[p * m + i] : a[i * k + p];
            for (int64_t j = 0; j < n; j++) c[i * n + j] += x * b[p * n + j];
        }
    }
}
