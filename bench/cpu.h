/* cpu.h - the CPU backend's entries, and what several of them share. */
#ifndef BENCH_CPU_H
#define BENCH_CPU_H
#include "bench/bench.h"
#include "bench/flops.h"

extern const bench_roof_kind cpu_roofs[]; /* roof.c */
int64_t cpu_last_cache(void);             /* bytes */
bool bench_roofs(bench* b);
bool bench_random_words(bench* b); /* bench_sample.c */
bool bench_sample(bench* b);
bool bench_unique(bench* b);  /* bench_unique.c */
bool bench_batches(bench* b); /* bench_batch.c: "block" */
bool bench_gather(bench* b);  /* bench_gather.c */
bool bench_spmm(bench* b);    /* bench_spmm.c */
bool bench_backward(bench* b);
bool bench_sddmm(bench* b); /* bench_edge.c */
bool bench_softmax(bench* b);
bool bench_gat(bench* b);     /* bench_gat.c */
bool bench_gemm(bench* b);    /* bench_gemm.c */
bool bench_threads(bench* b); /* bench_threads.c */
bool bench_growth(bench* b);

/* ---- mini-batches: cpu_batch.c ------------------------------------------------------------------------- */

typedef struct { /* what a thread needs to sample batch after batch */
    ggnn_graph graph;
    ggnn_rng rng; /* step: the batch's number */
    ggnn_batch batch;
    const ggnn_node* seeds; /* (num_seeds) */
    int64_t num_seeds;
    ggnn_status status; /* the first one that is not good */
} cpu_batch;

/* Room for batches of at most num_seeds seeds. The seeds are the caller's. */
bool cpu_batch_open(bench* b, cpu_batch* s, const ggnn_graph* g, const ggnn_sampling* how,
                    const ggnn_node* seeds, int64_t num_seeds, ggnn_unique_kind kind);
void cpu_batch_sample(cpu_batch* s); /* the batch of s->rng.step */

/* The sampling of a run: fanout 15,10,5, or small, or --fanout; all batches have `batch` seeds. */
ggnn_sampling cpu_sampling(const bench_graph* g);

/* Ids of training nodes (own sizes: of all nodes), shuffled; at least `least` of them, else b->why. */
const ggnn_node* cpu_seeds(bench* b, const bench_graph* g, int64_t least, int64_t* count);

/* Cache lines of offsets and of edges that a batch must read, each once: the least that sampling costs. -1: b->why. */
double cpu_batch_lines(bench* b, const cpu_batch* like);

/* These lines, and a local id and an id of each edge of the batch that s holds. */
double cpu_batch_bytes(const cpu_batch* s, double lines);

/* ---- append-unique: bench_unique.c --------------------------------------------------------------------- */

/* Least bytes: ids in, `local` ids and the list of those found out, lines of the table: the map of all nodes, or of 32 bytes an
   id found, in each of so many batches. */
double cpu_unique_bytes(double ids, double local, double found, double nodes, int batches, ggnn_unique_kind kind);

/* ---- demands of sparse operations: cpu_demand.c -------------------------------------------------------- */

void cpu_demand(bench_case* c, bench_demand d); /* one more */
/* c->bytes from and to memory; nothing where they stay in caches from run to run. */
void cpu_stream(bench_case* c);

/* Of an operation that reads a row of `width` floats for each edge of the block and writes `out` bytes: bytes
   by the minimal model, the operations of `what` (flops.h), and three roofs. Each row that is used comes from
   memory once where all of them fill more than the last cache; every edge's row comes from a cache; `edge_bytes`
   an edge and the rest are streamed. A block may be the transpose of what `what` goes over backward. False: b->why. */
bool cpu_demand_rows(bench* b, bench_case* c, const ggnn_block* block, flops_of what, int32_t width, int32_t heads,
                     double out, double edge_bytes);

/* `bytes` of random rows of a table from the cache that holds it: a core's own, or the last one (and the part
   of a larger table that is in use at a time). */
bench_demand cpu_touch(double table, int64_t row, double bytes);

/* The graph of the run as one block; counts is the block's memory. False: b->why. */
bool cpu_whole_graph(bench* b, ggnn_block* block, int64_t counts[3]);

/* The same, or with sizes of the user's own a block of these. */
bool cpu_block_of_run(bench* b, ggnn_block* block, int64_t counts[3]);
#endif
