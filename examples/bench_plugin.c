/* bench_plugin.c - an SpMM and a gather of one's own, for ggnn-bench: bench/plugin.h says the rules.

       cc -O3 -fPIC -shared -fopenmp -I. -o mine.so examples/bench_plugin.c
       build/ggnn-bench --plugin mine.so */
#include <string.h>

#include "bench/plugin.h"

static int32_t spmm(const bench_spmm_job* j)
{
    if (j->weight) return BENCH_PLUGIN_NONE; /* unweighted sums and means alone */
#pragma omp parallel for schedule(dynamic, 64) num_threads(j->where.threads)
    for (int64_t v = 0; v < j->lists.targets; v++) {
        const int64_t begin = j->lists.indptr[v], end = j->lists.indptr[v + 1];
        const float   factor = j->mean && end > begin ? 1.0f / (float)(end - begin) : 1.0f;
        float*        out = j->out + v * j->width;
        memset(out, 0, (size_t)j->width * sizeof *out);
        for (int64_t e = begin; e < end; e++) {
            const float* row = j->inp + (int64_t)j->lists.indices[e] * j->width;
            for (int32_t c = 0; c < j->width; c++) out[c] += row[c];
        }
        for (int32_t c = 0; c < j->width; c++) out[c] *= factor;
    }
    return 0;
}

static int32_t gather(const bench_gather_job* j)
{
#pragma omp parallel for num_threads(j->where.threads)
    for (int64_t i = 0; i < j->n; i++)
        memcpy(j->out + i * j->width, j->table + (int64_t)j->id[i] * j->width, (size_t)j->width * sizeof *j->out);
    return 0;
}

/* One sum per column, not one per 256 edges as ggnn has it: the bits differ. */
const bench_plugin ggnn_bench_plugin = {BENCH_PLUGIN_VERSION, 0, "mine", 1e-5, spmm, NULL, gather, NULL, NULL};
