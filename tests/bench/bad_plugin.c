/* bad_plugin.c - a plug-in that does what the environment's GGNN_TEST_PLUGIN says, for test_bench_plugin. Without, it is right.
   BAD_CUDA=1: of the emulator's device, whose memory is the host's. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/plugin.h"

static bool wants(const char* fault)
{
    const char* given = getenv("GGNN_TEST_PLUGIN");
    return given && strcmp(given, fault) == 0;
}

/* What ends a call, of whichever kernel. */
static int32_t misbehave(void)
{
    if (wants("crash")) raise(SIGSEGV);
    if (wants("exit")) exit(0);
    if (wants("abort")) abort();
    while (wants("hang")) usleep(1000);
    return wants("error") ? 7 : wants("none") ? BENCH_PLUGIN_NONE : 0;
}

static int32_t spmm(const bench_spmm_job* j)
{
    static int calls, timed;
    const bench_lists* l = &j->lists;
    timed += l->targets == 300; /* the test's --rows: a check, then turns */
    if (timed > 1 && wants("idle later")) return 0;
    for (int64_t v = 0; v < l->targets - (timed > 1 && wants("short later")); v++)
        for (int32_t c = 0; c < j->width; c++) {
            float sum = 0;
            for (int64_t e = l->indptr[v]; e < l->indptr[v + 1]; e++)
                sum += (j->weight ? j->weight[e] : 1) * j->inp[(int64_t)l->indices[e] * j->width + c];
            if (j->mean && l->indptr[v + 1] > l->indptr[v]) sum /= (float)(l->indptr[v + 1] - l->indptr[v]);
            j->out[v * j->width + c] = sum;
        }
    const int64_t last = l->targets * j->width - 1;
    if (wants("wrong")) j->out[last] += 1;
    if (wants("wrong later") && ++calls > 20) j->out[last] += 1;
    if (wants("nan")) j->out[0] = nanf("");
    if (wants("before")) j->out[-1] = 0;
    if (wants("past")) j->out[last + 1] = 0;
    if (wants("input")) ((float*)(uintptr_t)j->inp)[0] = 0;
    if (wants("indices")) ((int32_t*)(uintptr_t)l->indices)[0] = 0;
    return misbehave();
}

static int32_t sddmm(const bench_sddmm_job* j)
{
    for (int64_t v = 0; v < j->lists.targets; v++)
        for (int64_t e = j->lists.indptr[v]; e < j->lists.indptr[v + 1]; e++) {
            float sum = 0;
            for (int32_t c = 0; c < j->width; c++)
                sum += j->src[(int64_t)j->lists.indices[e] * j->width + c] * j->dst[v * j->width + c];
            j->out[e] = sum;
        }
    if (wants("wrong")) j->out[0] = -j->out[0] + 1;
    return 0;
}

static int32_t gather(const bench_gather_job* j)
{
    for (int64_t i = 0; i < j->n; i++)
        memcpy(j->out + i * j->width, j->table + (int64_t)j->id[i] * j->width, (size_t)j->width * sizeof *j->out);
    if (wants("wrong")) j->out[j->n * j->width - 1] *= 1.001f;
    return 0;
}

/* The first `taken` of a shuffled list, but where it should do wrong. */
static int32_t sample(const bench_sample_job* j)
{
    uint64_t state = 88172645463325252u + (wants("constant") ? 0 : j->random);
    for (int64_t i = 0; i < j->n; i++) {
        const int64_t begin = j->lists.indptr[j->seed[i]], degree = j->lists.indptr[j->seed[i] + 1] - begin;
        const int64_t taken = degree < j->fanout ? degree : j->fanout;
        bench_node* to = j->source + i * j->fanout;
        int32_t list[1 << 16];
        if (degree > 1 << 16) return BENCH_PLUGIN_NONE;
        if (degree) memcpy(list, j->lists.indices + begin, (size_t)degree * sizeof *list);
        for (int64_t k = 0; k < taken; k++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            int64_t at = k + (int64_t)(state % (uint64_t)(degree - k));
            if (wants("first")) at = k;
            const int32_t u = list[at];
            list[at] = list[k];
            list[k] = u;
            to[k] = u;
        }
        if (wants("run") && degree > taken) { /* neighbours that follow one another: single ones are even, pairs are not */
            const int64_t from = (int64_t)(state % (uint64_t)degree);
            for (int64_t k = 0; k < taken; k++) to[k] = j->lists.indices[begin + (from + k) % degree];
        }
        if (wants("twice") && taken > 1) to[1] = to[0];
        if (wants("stranger") && taken) to[0] = (bench_node)(j->lists.sources - 1 - to[0]);
        j->count[i] = taken - (wants("few") && taken > 1);
    }
    return 0;
}

static int32_t gat(const bench_gat_job* j)
{
    const int32_t d = j->width / j->heads;
    for (int64_t v = 0; v < j->lists.targets; v++)
        for (int32_t k = 0; k < j->heads; k++) {
            float total = 0, *out = j->out + v * j->width + k * d;
            memset(out, 0, (size_t)d * sizeof *out);
            for (int64_t e = j->lists.indptr[v] - 1; e < j->lists.indptr[v + 1]; e++) {
                const int64_t u = e < j->lists.indptr[v] ? v : j->lists.indices[e];
                const float s = j->el[u * j->heads + k] + j->er[v * j->heads + k], a = expf(s > 0 ? s : j->slope * s);
                total += a;
                for (int32_t c = 0; c < d; c++) out[c] += a * j->z[u * j->width + k * d + c];
            }
            for (int32_t c = 0; c < d; c++) out[c] /= wants("wrong") ? total + 1 : total;
        }
    return 0;
}

#ifndef BAD_VERSION
#define BAD_VERSION BENCH_PLUGIN_VERSION
#endif
#ifndef BAD_CUDA
#define BAD_CUDA 0
#endif
const bench_plugin ggnn_bench_plugin = {BAD_VERSION, BAD_CUDA, "bad", 1e-4, spmm, sddmm, gather, sample, gat};

/* When it is loaded. */
__attribute__((constructor)) static void load(void)
{
    if (wants("crash at once")) abort();
}
