#include "bench/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_size(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

void bench_sort(double* x, int32_t n) { qsort(x, (size_t)n, sizeof *x, by_size); }

double bench_quantile(const double* sorted, int32_t n, double q)
{
    const double place = q * (n - 1);
    const int32_t at = (int32_t)place;
    const double part = place - at;
    return at + 1 < n ? (1 - part) * sorted[at] + part * sorted[at + 1] : sorted[at];
}

/* ==== roofs ============================================================================================= */

bool bench_is_latency(const bench_roof_kind* kind) { return strcmp(kind->unit, "s") == 0; }

double bench_roof_value_of(const bench_roof_kind* kind, double amount, double seconds)
{
    return bench_is_latency(kind) ? seconds / amount : amount / seconds;
}

double bench_seconds_at(const bench_roof_kind* kind, double value, double amount)
{
    return bench_is_latency(kind) ? amount * value : amount / value;
}

/* 11 / 10 has no exact double: whole numbers that are exactly so far apart are told. */
bool bench_roof_moved(double one, double other) { return 10 * fmax(one, other) >= 11 * fmin(one, other); }

double bench_least_seconds(const bench_case* c, const double seconds[BENCH_DEMANDS], int* which)
{
    double largest = 0, sum = 0;
    *which = -1;
    for (int i = 0; i < BENCH_DEMANDS; i++) {
        sum += seconds[i];
        if (seconds[i] <= largest) continue;
        largest = seconds[i];
        *which = i;
    }
    return c->add ? sum : largest;
}

/* ==== turns ============================================================================================= */

void bench_turns_add(bench_turn_list* t, const bench_turn* x)
{
    double seconds[BENCH_DEMANDS] = {0};
    bool moved = false;
    int which;
    for (int i = 0; i < BENCH_DEMANDS; i++) {
        if (!t->kind[i]) continue;
        moved = moved || bench_roof_moved(x->before[i], x->after[i]);
        seconds[i] = bench_seconds_at(t->kind[i], (x->before[i] + x->after[i]) / 2, t->kase->demand[i].amount);
    }
    t->thrown += moved;
    if (moved) return;
    for (int i = 0; i < BENCH_DEMANDS; i++) t->seconds[i] += seconds[i];
    t->share[t->count++] = bench_least_seconds(t->kase, seconds, &which) / x->ours;
}

bench_in_turns bench_turns_find(const bench_turn_list* t)
{
    bench_in_turns v = {.share = NAN, .lower = NAN, .upper = NAN, .turns = t->count, .thrown = t->thrown};
    double sorted[BENCH_SAMPLES_MAX];
    int which;
    if (t->count == 0) return v;
    memcpy(sorted, t->share, (size_t)t->count * sizeof *sorted);
    bench_sort(sorted, t->count);
    v.share = bench_quantile(sorted, t->count, .5);
    v.lower = bench_quantile(sorted, t->count, .25);
    v.upper = bench_quantile(sorted, t->count, .75);
    bench_least_seconds(t->kase, t->seconds, &which); /* over all turns, as in some another one may have ruled */
    v.roof = t->kase->demand[which].roof;
    v.roof_size = t->kase->demand[which].size;
    return v;
}
