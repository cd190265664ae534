/* compare.h - ggnn-bench compare A.json B.json ...: what --json or --csv wrote, beside each other. A pair of files is a turn,
   which gives a ratio of each case: B's rate of work over A's. Of one pair the samples are the turns,
   where both files have them. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H
#include "bench/harness.h"
#include "bench/run_file.h"

enum { COMPARE_FILES_MAX = BENCH_ENTRIES_MAX };

typedef struct {
    char name[48];
    double size, threads, value;
} compare_roof;

typedef struct { /* a result of a file */
    char bench[64], what[128], unit[32];
    int32_t threads;
    bool rival;
    double work, median, share; /* share NaN: no roof */
    const char *at, *samples;   /* its object, and the first of `count` */
    int32_t count;
} compare_result;

typedef struct {
    const char* path;
    run_file file;
    compare_result* result;
    compare_roof* roof;
    int32_t num_results, num_roofs;
} compare_run;

typedef enum { COMPARE_SAME, COMPARE_FASTER, COMPARE_SLOWER, COMPARE_DISTURBED, COMPARE_ALONE } compare_verdict;

typedef struct {
    const compare_result *a, *b; /* the first of its kind on each side; NULL: none */
    int32_t last[2];             /* turn in which the side had it last */
    int32_t turns;               /* that both sides have */
    double* ratio;               /* (turns) in their order */
    double median_a, median_b, share_a, share_b; /* medians of the files' */
    double middle, lower, upper, least, most;    /* of the ratios */
    compare_verdict verdict;
} compare_case;

typedef struct { /* what a file has in another way than the first one */
    const compare_run* run;
    char what[96], first[64], here[64];
} compare_difference;

enum { COMPARE_DIFFERENCES_MAX = 1000 };
typedef struct {
    compare_run* run; /* A, B, A, B, ... */
    int32_t pairs;
    compare_case* kase;
    int32_t num_cases;
    compare_difference* difference;
    int32_t num_differences;
} comparison;

/* Reads and compares; all is b's memory. False: b->why names file and place. */
bool compare_open(bench* b, comparison* c, const char* const* path, int paths);

static inline const compare_result* compare_any(const compare_case* k) { return k->a ? k->a : k->b; }

/* "faster"; of a case that no turn has on both sides: which side has it. */
const char* compare_word(const compare_case* k);

typedef struct { /* of those on both sides, rivals left out */
    int32_t compared, count[COMPARE_ALONE], rivals;
} compare_counts;
compare_counts compare_count(const comparison* c);

/* The geometric mean of the ratios of a bench's cases that are no rivals and were not disturbed, and their number. */
double compare_mean(const comparison* c, const char* entry, int32_t* cases);

/* The first case of its bench: where that is named. */
bool compare_is_first(const comparison* c, int32_t i);

/* compare_output.c */
void compare_print(bench* b, const comparison* c);
bool compare_write(bench* b, const comparison* c); /* --json, --csv */
#endif
