/* harness.h - what the harness keeps of a run: for its own files, main and the check. */
#ifndef BENCH_HARNESS_H
#define BENCH_HARNESS_H
#include <stdio.h>

#include "bench/bench.h"
#include "bench/turns.h"
#include "common/json.h"
#include "common/progress.h"
#include "datasets/dataset.h"

typedef struct {
    const bench_roof_kind* kind;
    int64_t size;
    int32_t threads;
    double amount;        /* of a run, in the kind's unit */
    double value;         /* amount a second; of unit "s": seconds */
    int32_t measured;     /* how often: this is the best */
    bench_result timing;
} bench_roof_value;

typedef struct { /* theirs / ours */
    int32_t ours, theirs; /* places in result */
    char of_what[64];
    double ratio, goal;
    int32_t turns;       /* whose median `ratio` is; 0: of the two medians */
    double lower, upper; /* quartiles of the turns' */
} bench_ratio_value;

typedef struct {
    int32_t result;
    char name[32], unit[16];
    double value;
} bench_note_value;

typedef struct { /* a row of a table */
    const char* entry;
    bench_table table;
    char row[80];
    double value[BENCH_COLUMNS];
    char note[BENCH_COLUMNS][8]; /* "": none */
} bench_figure_row;

enum { BENCH_ENTRIES_MAX = 64 };
typedef struct {
    const char* entry;
    error why;
} bench_failure;

typedef struct {
    void (*undo)(void*);
    void* context;
} bench_undo;

struct bench_state {
    bench_result* result; /* (BENCH_RESULTS_MAX) */
    bench_roof_value roof[BENCH_ROOFS_MAX];
    bench_ratio_value ratio[BENCH_RESULTS_MAX];
    bench_note_value note[BENCH_RESULTS_MAX];
    bench_figure_row figure[BENCH_FIGURES_MAX];
    int32_t num_results, num_roofs, num_ratios, num_notes, num_figures, num_checks;
    bench_undo undo[1000];
    int32_t num_undo;
    const char* titled; /* the entry whose heading is printed */
    const char* headed; /* the entry whose columns of times have a heading */
    progress bar;
    char where[40];          /* what the bar says */
    int64_t entries_done;    /* of those chosen */
    const bench_entry* const* chosen;
    int32_t num_chosen;
    bench_failure failure[BENCH_ENTRIES_MAX];
    int32_t num_failures;
    struct bench_data* data; /* graph.c's */
    void (*close_data)(struct bench_data*);
    const bench_graph* graph; /* what it gives out; NULL: not opened */
    FILE* out;               /* the table's: standard output but in tests */
    char* flushed;           /* the CPU's evict */
    int flushes;
};

bool bench_open(bench* b);             /* after the options; false: b->why */
bool bench_run(bench* b, const bench_entry* e);

/* Runs `count` entries, BENCH_ENTRIES_MAX at most. One that fails is named on standard error at once, and those after it run
   all the same. After each, the files of --json and --csv are written again, whole. False: one has failed, or a file
   (b->why). */
bool bench_run_all(bench* b, const bench_entry* const* chosen, int count, int argc, char** argv);
bool bench_is_cold(const bench* b, const bench_case* c); /* --cold and --warm overrule the case */
double bench_share(const bench_result* r);              /* of the roof; NaN: none rules */
void bench_forget(bench* b);           /* results, roofs and ratios so far: for a second look */
void bench_close(bench* b);

/* What turns are made of. */
double bench_time_of(bench* b, const bench_case* c, int64_t repeats); /* seconds of one of so many runs; -1: b->why */
void bench_use_threads(int32_t threads);
void bench_show_where(bench* b, const char* what); /* in the bar */
int64_t bench_least_turns(const bench* b);         /* BENCH_TURNS, or --reps where that is more */
bench_roof_value* bench_find_roof(bench* b, const char* name, int64_t size, int32_t threads); /* NULL: it was not measured */

/* take_turns.c: fills r->in_turns where the case demands roofs. r has its samples. False: b->why */
bool bench_take_turns(bench* b, bench_result* r);

/* graph.c: whether --fanout and --batch, where given, are for this name: one that counts batches; scale counts those of a user's
   graph, of three hops. False: why. */
bool bench_takes_batches(const bench_options* o, const bench_entry* e, error* why);

/* graph.c: the file behind bench_graph_of; NULL: b->why */
const dataset* bench_dataset_of(bench* b);

/* output.c */
const char* bench_time_text(char text[24], double seconds); /* "152.1 ms": four digits and a unit */
const char* bench_base_name(const char* path); /* a file's name without its folders, which say nothing on another machine */
void bench_print_result(bench* b, const bench_result* r);
void bench_print_ratio(bench* b, const bench_ratio_value* r);
void bench_print_note(bench* b, const bench_note_value* n);
void bench_print_figures(bench* b, const bench_figure_row* r, bool first);
void bench_print_roof(bench* b, const bench_roof_value* r);
bool bench_can_write(const char* path, error* why); /* before minutes are spent; NULL: no file is wanted */
bool bench_write_json(bench* b, int argc, char** argv); /* puts a whole file in the place of the one before */
bool bench_write_csv(bench* b, int argc, char** argv);  /* likewise, as lines: lines.h */
bool bench_write_markdown(bench* b); /* figures alone, a table each */

/* machine.c: what the figures hold for */
typedef struct {
    char cpu[128], compiler[128], os[128], date[32];
    int64_t cores, cache[4], memory; /* cache[1..3]: bytes of a level, 0: not known */
} bench_machine;
void bench_machine_of(bench_machine* m);
void bench_machine_json(bench* b, const bench_machine* m, json* j);
extern const char bench_flags[], bench_git[];

/* check.c: 0 nothing lost, 1 something, or it could not be told (b->why) */
int bench_check(bench* b, const bench_entry* const* chosen, int count);
#endif
