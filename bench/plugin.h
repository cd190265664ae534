/* plugin.h - kernels of your own in ggnn-bench: on its inputs, checked, and timed in turns with ggnn's.

       cc -O3 -fPIC -shared -I. -o mine.so examples/bench_plugin.c
       build/ggnn-bench --plugin mine.so                      every kernel that it has
       build/ggnn-bench spmm --plugin mine.so --features 64   one, at a width of your own

   A plug-in is a shared library with one symbol, `ggnn_bench_plugin`, of the type below. This file is all that it
   includes: plain C, and C++.

   A KERNEL takes a job: read-only inputs, and outputs that it fills. It returns 0; BENCH_PLUGIN_NONE where the job is not for
   it, such as one with weights: that case is left out; or any other number, which is an error. It may use
   job->where.threads threads. Matrices are row-major and dense, floats have 32 bits. Outputs hold garbage before the call.

   A CHECK comes first, on small inputs with empty lists, long lists and odd widths, beside ggnn_reference.h; then on the
   inputs of the bench, before and after the turns. Every float must be within `tolerance` times the largest of its output, of
   0 the same to the bit. A sample must be one, and all of its subsets equally likely: by a chi-square test. The bench
   ends with a message, and without a time, where a kernel
       returns a wrong number, a NaN or an error
       writes to an input, or beside its output (pages around each array forbid it; on CUDA known bytes do)
       crashes, ends the program, or takes longer than --limit seconds

   A TURN is a run of ggnn's kernel and one of yours, nine turns at least. The line after both has the median of the ratios
   and the half of them in the middle.

   ON CUDA (`cuda` 1, --backend cuda) arrays are the device's, and kernels put their work on job->where.stream, a
   cudaStream_t. They may allocate in their first run. examples/bench_plugin.cu is one. */
#ifndef BENCH_PLUGIN_H
#define BENCH_PLUGIN_H
#include <stdint.h>

/* Another version of this file, or of ids, is refused. */
#ifdef GGNN_NODE64 /* as the program was built */
typedef int64_t bench_node;
enum { BENCH_PLUGIN_VERSION = 164 };
#else
typedef int32_t bench_node;
enum { BENCH_PLUGIN_VERSION = 132 };
#endif

enum { BENCH_PLUGIN_NONE = -1 }; /* what a kernel returns where the job is not for it */

typedef struct {
    int32_t threads; /* of the host */
    void*   stream;  /* a cudaStream_t; NULL on the host */
} bench_where;

typedef struct { /* list v, of target v, is indices[indptr[v]] to indices[indptr[v + 1] - 1]: sources, repeats among them */
    int64_t        targets, sources, edges;
    const int64_t* indptr;  /* (targets + 1) */
    const int32_t* indices; /* (edges) in [0, sources) */
} bench_lists;

typedef struct { /* out[v] = sum over the edges e = (u, v) of weight[e] * inp[u] */
    bench_where  where;
    bench_lists  lists;
    int32_t      width;
    int32_t      mean;   /* 1: over the length of the list; an empty one gives 0 */
    const float* weight; /* (edges); NULL: all 1. Never with mean */
    const float* inp;    /* (sources, width) */
    float*       out;    /* (targets, width) */
} bench_spmm_job;

typedef struct { /* out[e] = src[u] . dst[v] for each edge e = (u, v) */
    bench_where  where;
    bench_lists  lists;
    int32_t      width;
    const float *src, *dst; /* (sources, width), (targets, width) */
    float*       out;       /* (edges) */
} bench_sddmm_job;

typedef struct { /* out[i] = table[id[i]] */
    bench_where       where;
    int64_t           n, rows;
    int32_t           width;
    const bench_node* id;    /* (n) in [0, rows) */
    const float*      table; /* (rows, width) */
    float*            out;   /* (n, width) */
} bench_gather_job;

typedef struct { /* of each seed's list `fanout` edges without replacement, or all of a shorter one, in any order */
    bench_where       where;
    bench_lists       lists;
    int64_t           n;
    const bench_node* seed;   /* (n) targets */
    int32_t           fanout;
    uint32_t          random; /* another number, another sample */
    int64_t*          count;  /* (n) out: how many */
    bench_node*       source; /* (n, fanout) out: their sources; what a row has behind them is nobody's */
} bench_sample_job;

typedef struct { /* graph attention, a head's columns side by side: out[v] = sum of alpha * z[u] over u = v itself and v's list;
                    alpha is the softmax, over the same, of s > 0 ? s : slope * s, where s = el[u] + er[v] */
    bench_where  where;
    bench_lists  lists; /* sources >= targets: target v is source v */
    int32_t      heads, width; /* width: of all heads; a multiple of heads */
    float        slope;
    const float* z;        /* (sources, width) */
    const float *el, *er;  /* (sources, heads), (targets, heads) */
    float*       out;      /* (targets, width) */
    float*       scratch;  /* (targets, heads) to be used, or not */
} bench_gat_job;

typedef struct {
    int32_t     version;   /* BENCH_PLUGIN_VERSION */
    int32_t     cuda;      /* 0: arrays of the host; 1: of a CUDA device */
    const char* name;      /* as the table calls it: "mine" */
    double      tolerance; /* of floats, above */
    int32_t (*spmm)(const bench_spmm_job* job); /* a kernel that there is none of is NULL */
    int32_t (*sddmm)(const bench_sddmm_job* job);
    int32_t (*gather)(const bench_gather_job* job);
    int32_t (*sample)(const bench_sample_job* job);
    int32_t (*gat)(const bench_gat_job* job);
} bench_plugin;

#ifdef __cplusplus
extern "C"
#else
extern
#endif
    const bench_plugin ggnn_bench_plugin;
#endif
