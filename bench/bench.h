/* bench.h - the contract between ggnn-bench's harness and what it measures, on any backend.

   A name on the command line is a bench_entry: a function that sets its data up and hands the harness one
   bench_case after another. The harness times it, finds the roof that rules it, prints and keeps the result:

       static bool bench_spmm(bench* b)
       {
           float* out = bench_new(b, bytes, "the output");        // freed when the entry returns
           if (!out) return false;                                // b->why is set
           bench_case c = {.what = "mean, F 128", .run = run_mean, .context = &mine, .work = edges,
                           .unit = "edges", .bytes = least,
                           .demand = {{"copy", 0, least}, {"rows-cached", 512, 512 * edges}}};
           const bench_result* ours = bench_measure(b, &c);
           const bench_result* plain = bench_measure(b, &d);      // d.rival = true
           if (plain && !bench_near(b, "a mean", out, other, n, 1e-5)) return false;
           return bench_ratio(b, ours, plain, "the plain loop", 4.0);
       }

   ROOFS. A backend lists what its machine can be asked for: {"copy", "B"}, {"rows", "B"}, {"madd", "FLOP"}.
   A roof is measured in the same run, when it is first needed, and kept by (name, size, threads). A case
   demands amounts of roofs; each gives a least time, amount / roof; the largest rules (add: their sum), and
   the share of the roof is that least time over the median. Where that is over 110 %, the roof that rules is measured
   again, twice at most, and the best stands. So a share can be compared between runs, and a
   demand must be something that no version of the operation can do without. With --turns a case and its roofs are then
   run by turns, and the share in turns is of what the roofs gave beside it.

   MEMORY. bench_new and bench_defer undo themselves, last first, when the entry returns. */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"
#include "common/options.h"
#include "ggnn.h"
#include "trainer/net/net.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { BENCH_DEMANDS = 4, BENCH_SAMPLES_MAX = 1000, BENCH_RESULTS_MAX = 2000, BENCH_ROOFS_MAX = 200,
       BENCH_FIGURES_MAX = 1000 };

typedef struct { /* the command line */
    const char *data, *json, *csv, *markdown, *check, *plugin;
    double  limit;                 /* seconds of a plug-in's call */
    const char* inputs;            /* of scale; NULL: the program's own */
    const char* with;              /* of cache, store and split: with.h; NULL: none */
    bool    quick, once, alone;
    bool    turns;                 /* each case in turns with its roofs, too */
    bool    own;                   /* --rows: a user's own sizes in place of the graph */
    int64_t rows, degree, sources; /* of the user's block; sources 0: as many as rows */
    int64_t features, heads;       /* 0: the entry's usual ones */
    int     type;                  /* ggnn_type of stored rows; -1: the usual one */
    int     backend;               /* of sibling.h */
    int64_t devices, memory;       /* of store; 0: of the topology; bytes of a device, -1: what a placement of all takes */
    const char* topology;          /* NULL: DGX-1V */
    bool    sweep;                 /* store: on 1, 2, 4 and 8 devices */
    option_list fanout;            /* of batches that are counted; empty: the usual one */
    int64_t batch;                 /* their seeds; 0: the usual ones */
    bool    cold, warm;
    int64_t reps, threads;         /* reps: samples at least; threads 0: all */
    double  min_time;              /* seconds that a case is sampled for, at least */
} bench_options;

typedef struct bench bench;

/* ---- a case -------------------------------------------------------------------------------------------- */

typedef struct {
    const char* roof;   /* NULL ends the list; one that the backend has not is passed over */
    int64_t     size;   /* the roof's parameter: bytes of a row; or 0 */
    double      amount; /* in the roof's unit */
} bench_demand;

typedef struct bench_case {
    char        what[80];          /* unique within the entry, together with threads: "mean, F 128" */
    int32_t     threads;           /* 0: all of b->threads */
    void (*run)(void* context);    /* what is timed. On a device: puts its work on the backend's stream */
    void (*before)(void* context); /* before each sample, not timed; or NULL. A sample is one run then */
    void*       context;
    double      work;              /* of a run, in `unit`s: "edges" */
    const char* unit;
    double      bytes, flops;      /* least: each input read once, each output written once */
    bench_demand demand[BENCH_DEMANDS];
    bool        add;               /* the demands follow one another, so their times add up */
    bool        cold;              /* usually with empty caches, as each run has new data in earnest */
    bool        rival;             /* what ours is compared with: left out by --once, --alone and --rows */
    bool        warmed;            /* no first run that does not count: the entry has seen to it */
} bench_case;

typedef struct { /* of a case in turns with its roofs; turns and thrown 0: it had none */
    const char* roof;           /* that rules, over all turns; NULL: none counts */
    int64_t     roof_size;
    double      share, lower, upper; /* the median of the turns' shares, and their quartiles; NaN: none counts */
    int32_t     turns, thrown;       /* that count; in which a roof moved by 10 % or more */
} bench_in_turns;

typedef struct {
    const char* entry;
    bench_case  kase;
    int32_t     count;        /* samples: seconds of one run each, in the order taken */
    int64_t     repeats;      /* runs in a sample */
    double*     sample;
    double      median, least, most;
    const char* roof;         /* the roof that rules; NULL: none was demanded, or measured */
    int64_t     roof_size;
    double      roof_seconds; /* the least time by the roof (add: by all roofs) */
    bool        disturbed;    /* the share stayed over 110 %, however often the roof was measured */
    bench_in_turns in_turns;
} bench_result;

/* Measures, prints a line, keeps the result until the program ends. NULL: an error (b->why), or a rival that
   is left out. */
const bench_result* bench_measure(bench* b, const bench_case* c);

/* Prints and keeps the ratio of the two rates of work as "4.1x the plain loop"; goal: what the design asks
   for, 0: nothing. Either may be NULL: then nothing is said. False only after an error. */
bool bench_ratio(bench* b, const bench_result* ours, const bench_result* theirs, const char* of_what,
                 double goal);

/* Measures two cases of the same work in turns, a run of the first and a run of the second, BENCH_TURNS of each at least: what
   else the machine does then meets both. After the last turn `check` looks at the answers of the first case, by its context;
   false: b->why, and no time is kept. Else prints and keeps both, and the median and the quartiles of the turns' ratios as
   "1.1x ggnn's". --once: the first case alone, once. */
enum { BENCH_TURNS = 9 };
bool bench_turns(bench* b, const bench_case* ours, const bench_case* theirs, const char* of_what, bool (*check)(void* context));

/* Prints and keeps a number beside a result: a stage's seconds, a count. Unit "s" is printed as a time. */
void bench_note(bench* b, const bench_result* r, const char* name, double value, const char* unit);

/* A line that stands by no result: why there is none. Printed, not kept. */
void bench_say(bench* b, const char* text);

/* Figures beside results, such as hit rates: rows of a table that has columns. Prints and keeps a row; the heading
   comes before the first row of each `what`. */
enum { BENCH_COLUMNS = 9 };
typedef struct {
    const char* label; /* "counted", "modelled", or "measured": made of a result's time */
    char what[80];     /* "uniform 15,10,5" */
    const char* unit;
    int32_t columns;
    char column[BENCH_COLUMNS][16];
} bench_table;
bool bench_figures(bench* b, const bench_table* t, const char* row, const double* value);

/* The same with a word of at most 7 letters beside each value, or "": what bounds it. "red": it misses what it should be, and is
   bold in --markdown. A value that is not finite is printed as "-". */
bool bench_figures_noted(bench* b, const bench_table* t, const char* row, const double* value, const char* const* note);

/* Answers are compared within the bench: a wrong one fails the run. near: |a - b| <= tolerance * max |b|. In
   the host's memory. */
bool bench_equal(bench* b, const char* what, const void* ours, const void* theirs, size_t bytes);
bool bench_near(bench* b, const char* what, const float* ours, const float* theirs, int64_t n,
                double tolerance);

/* ---- roofs --------------------------------------------------------------------------------------------- */

typedef struct {
    const char *name, *unit, *what; /* unit of an amount: "B", "FLOP", "lines". "s": a latency */
    /* fills run, context and work (the amount of a run; of a latency: how many are in it). c->threads is
       given. What it takes by bench_new is given back as soon as the roof is measured. False: b->why */
    bool (*open)(bench* b, bench_case* c, int64_t size);
} bench_roof_kind;

/* The best sample's amount a second; of unit "s": seconds. 0 with --once and --alone, or where the backend has none. */
double bench_roof(bench* b, const char* name, int64_t size, int32_t threads);

/* ---- backends ------------------------------------------------------------------------------------------ */

typedef struct {
    const char* name;      /* on the command line */
    const char* what;      /* for --help and the heading */
    bool (*run)(bench* b); /* false: b->why */
    bool sized;            /* takes --rows and the other sizes of a user's own */
    bool asked;            /* counts batches: runs only where it is named, takes --fanout and --batch */
} bench_entry;

typedef struct bench_backend {
    const char* name;             /* as of --backend */
    const bench_entry* entries;   /* name NULL ends; in the order of a whole run */
    const bench_roof_kind* roofs; /* name NULL ends */
    /* seconds that `repeats` runs of the case took, all their work done; by events where there are such */
    double (*seconds)(bench* b, const bench_case* c, int64_t repeats);
    void (*evict)(bench* b);          /* leaves nothing of the case in caches */
    const char* (*describe)(bench* b); /* the device: "H200, driver .., runtime .."; "" on the CPU */
    device* (*device)(bench* b);      /* a new one for nets, which device_close ends; NULL: b->why */
    const struct plugin_host* plugins; /* of plugin_host.h */
} bench_backend;

extern const bench_backend bench_cpu;

/* The CUDA backend, or the emulator's. The pointer is NULL in ggnn-bench itself: sibling.h starts the program
   that has it. */
typedef const bench_backend* bench_opener(error* why);
extern bench_opener* const bench_open_cuda;

struct bench {
    bench_options        o;
    const bench_backend* backend;
    const char*          entry;   /* the running one's name */
    int32_t              threads; /* all that may be used */
    error                why;
    struct bench_state*  state;   /* the harness's */
};

/* ---- memory and data ----------------------------------------------------------------------------------- */

void* bench_new(bench* b, size_t bytes, const char* what); /* the host's, zeroed; NULL: b->why */
bool  bench_defer(bench* b, void (*undo)(void* context), void* context); /* false: b->why, and is undone */

/* For entries that need much: gives back now what came after the mark. */
int32_t bench_mark(const bench* b);
void    bench_release(bench* b, int32_t mark);

typedef struct { /* the graph of the run: --data, or R-MAT made on first use beside the program */
    const char* path;
    ggnn_graph  graph;      /* plain */
    ggnn_store  features;   /* plain */
    const ggnn_node* train; /* (num_train) ids of training nodes, ascending */
    int64_t num_train;
    int32_t num_hops, fanout[GGNN_HOPS_MAX]; /* of batches and nets: 15,10,5, 1024, 256, small with --quick; */
    int64_t batch, hidden;                   /* or of --fanout, --batch */
} bench_graph;
const bench_graph* bench_graph_of(bench* b); /* opened once; in the host's memory; NULL: b->why */

/* A uniform random block: `rows` targets of `degree` edges each, from `sources` nodes; the host's memory. */
bool bench_block(bench* b, ggnn_block* block, int64_t rows, int64_t degree, int64_t sources);

void bench_fill(float* x, int64_t n, uint64_t seed); /* [-1, 1), by all threads */
static inline uint64_t bench_random(uint64_t* state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Entries that any backend may list: the trainer's own code, on the backend's device. bench_train.c */
bool bench_step(bench* b);
bool bench_epoch(bench* b);

/* Hit rates of cache policies, counted on the host: the same for every backend. bench_cache.c */
bool bench_cache(bench* b);

/* XGNN's factor analysis, counted likewise. bench_store.c */
bool bench_store(bench* b);

/* Split parallelism beside data parallel, counted on the host. bench_split.c */
bool bench_split(bench* b);

/* Epochs on 1 to 256 devices by scale_model.h, beside what papers published. bench_scale.c */
bool bench_scale(bench* b);

/* NCCL-tests' of an all-to-all: S the bytes that one device receives, own ones with them; time until the last one has all. */
#define BENCH_BANDWIDTHS "algorithm: S / time, bus: that x (P - 1) / P"

/* Rows over parts, gathered through pointers, by exchange, over NCCL, and from the host's memory, and random reads of 4 to
   4,096 bytes, on any backend: bench_peer.c.
   devices: of CUDA, over which the parts are spread; 0: the CPU's. */
bool bench_peer(bench* b, int32_t devices);

#ifdef __cplusplus
}
#endif
#endif
