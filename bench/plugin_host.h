/* plugin_host.h - how ggnn-bench holds a plug-in (plugin.h): in a process of its own that another one watches, with memory
   that it cannot harm, one call at a time. */
#ifndef BENCH_PLUGIN_HOST_H
#define BENCH_PLUGIN_HOST_H
#include "bench/bench.h"
#include "bench/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arrays that kernels see --------------------------------------------------------------------------- */

typedef struct {
    const char* name; /* a member of the job: "out" */
    bool   output;
    size_t bytes;
    void*  host; /* where the bench fills an input, and finds an output after `fetch` */
    void*  seen; /* the same array as kernels see it */
    void*  own;  /* the backend's */
} plugin_array;

typedef struct plugin_host { /* a backend's side */
    int32_t cuda;             /* bench_plugin.cuda */
    const bench_plugin* ours; /* ggnn's own kernels, as a plug-in */
    void* (*stream)(void);    /* bench_where.stream */
    /* False: b->why. take: host and seen, until the entry returns or is released. freeze: kernels now see the input as the host
       filled it. spoil: an output is full of NaNs, and of -1. fetch: after all work so far. harm: what a kernel did to an input, or beside the
       array; NULL: nothing, or b->why has an error. */
    bool (*take)(bench* b, plugin_array* a);
    bool (*freeze)(bench* b, plugin_array* a);
    bool (*spoil)(bench* b, plugin_array* a);
    bool (*fetch)(bench* b, plugin_array* a);
    const char* (*harm)(bench* b, const plugin_array* a);
} plugin_host;
extern const plugin_host plugin_cpu;
extern const bench_plugin plugin_ours; /* on the host: bench_plugin.c */

/* ---- the plug-in --------------------------------------------------------------------------------------- */

typedef enum { PLUGIN_SPMM, PLUGIN_SDDMM, PLUGIN_GATHER, PLUGIN_SAMPLE, PLUGIN_GAT, PLUGIN_KERNELS } plugin_kernel;
typedef union {
    bench_where      where; /* each of them begins with it */
    bench_spmm_job   spmm;
    bench_sddmm_job  sddmm;
    bench_gather_job gather;
    bench_sample_job sample;
    bench_gat_job    gat;
} plugin_job;

/* Before a thread is started, a device opened: goes on in a new process (true), which ends with this one, and in which the
   plug-in is opened. This one waits for it: false, and *status is the status that it ended with, or 1 after a message: a call
   of the plug-in ended it, or took longer than `limit` seconds. */
bool plugin_watch(double limit, int* status);

/* Opens o.plugin, and puts its kernels in the place of the backend's entries. False: b->why. */
bool plugin_open(bench* b);
const bench_plugin* plugin_opened(void);

/* A kernel's call, watched. `what` names the case. The kernel must be there. */
bool    plugin_has(const bench_plugin* p, plugin_kernel k);
int32_t plugin_call(const bench_plugin* p, plugin_kernel k, const plugin_job* job, const char* what);

void plugin_settled(void); /* all that the calls gave to a device is done */

extern const bench_entry plugin_entries[PLUGIN_KERNELS]; /* by plugin_kernel: bench_plugin.c */

#ifdef __cplusplus
}
#endif
#endif
