/* turns.h - the arithmetic of what was measured, and none of the measuring: quantiles, the time that a case's demands take at its
   roofs, and the share of its roofs that a case reaches in turns. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H
#include "bench/bench.h"

/* The place q of the way from the least to the most of n >= 1 sorted numbers, in proportion between two: .5 the median,
   .25 and .75 the quartiles. */
void bench_sort(double* x, int32_t n);
double bench_quantile(const double* sorted, int32_t n, double q);

/* ---- roofs --------------------------------------------------------------------------------------------- */

bool bench_is_latency(const bench_roof_kind* kind);
double bench_roof_value_of(const bench_roof_kind* kind, double amount, double seconds); /* amount a second; of a latency seconds */
double bench_seconds_at(const bench_roof_kind* kind, double value, double amount);      /* that an amount takes at that value */
bool bench_roof_moved(double one, double other); /* by 10 % or more: then the machine changed, whichever value was first */

/* The least time of a case whose demand i takes seconds[i], 0 where no roof says: the longest rules; with `add` one follows
   the other. *which: the place of the longest; -1: there is none. */
double bench_least_seconds(const bench_case* c, const double seconds[BENCH_DEMANDS], int* which);

/* ---- turns --------------------------------------------------------------------------------------------- */

typedef struct {
    double before[BENCH_DEMANDS], after[BENCH_DEMANDS]; /* values of the demanded roofs */
    double ours;                                        /* seconds of a run between them */
} bench_turn;

typedef struct { /* zeroed, but for the first two */
    const bench_case* kase;
    const bench_roof_kind* kind[BENCH_DEMANDS]; /* of each demand; NULL: no roof */
    double share[BENCH_SAMPLES_MAX];            /* (count) of the turns that count */
    double seconds[BENCH_DEMANDS];              /* that each demand takes in all of them */
    int32_t count, thrown;
} bench_turn_list;

/* Throws it away where a roof moved. Else its share is the least time at the means of both values, over ours. t->count is
   below BENCH_SAMPLES_MAX. */
void bench_turns_add(bench_turn_list* t, const bench_turn* x);

bench_in_turns bench_turns_find(const bench_turn_list* t);
#endif
