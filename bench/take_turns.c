/* take_turns.c - --turns: a case between looks at its roofs. On a machine that others share the speed moves within seconds: a
   roof that was measured with the first case says little beside the tenth. */
#include <math.h>
#include <string.h>

#include "bench/harness.h"

static const double ROOF_SECONDS = .05; /* of a sample of a roof, at most */
static const double FIRST_SECONDS = .2; /* a longer run would hardly be shorter with caches full of its own data */
enum { TRIES = 5 };                     /* of each turn that should count, at most */

typedef struct {
    bench_turn_list of;
    bench_case roof[BENCH_DEMANDS]; /* opened; of demands that have a kind */
    int64_t repeats[BENCH_DEMANDS]; /* runs in a sample */
    double each[BENCH_DEMANDS];     /* seconds of a run when the roof was measured */
} taken;

/* A burst may be faster than what the machine sustains: a roof is looked at for as long as a sample of ours takes. */
static int64_t repeats_of(const bench* b, const bench_result* r, const bench_case* roof, double each)
{
    const double wanted = fmin(ROOF_SECONDS, r->median * (double)r->repeats);
    if (bench_is_cold(b, roof)) return 1; /* a second run would find full caches */
    return (int64_t)fmax(1, fmin(1e6, ceil(wanted / fmax(each, 1e-9))));
}

/* The roofs that r demands and the run has measured. None: t->of.kind is empty. */
static bool open_roofs(bench* b, const bench_result* r, taken* t)
{
    t->of.kase = &r->kase;
    for (int i = 0; i < BENCH_DEMANDS && r->kase.demand[i].roof; i++) {
        const bench_demand* d = &r->kase.demand[i];
        const bench_roof_value* v = bench_find_roof(b, d->roof, d->size, r->kase.threads);
        if (!v || d->amount <= 0) continue;
        t->roof[i].threads = r->kase.threads;
        if (!v->kind->open(b, &t->roof[i], d->size)) return false;
        t->of.kind[i] = v->kind;
        t->each[i] = v->timing.median;
        t->repeats[i] = repeats_of(b, r, &t->roof[i], t->each[i]);
        snprintf(t->roof[i].what, sizeof t->roof[i].what, "%s", d->roof);
    }
    return true;
}

static bool has_roofs(const taken* t)
{
    bool found = false;
    for (int i = 0; i < BENCH_DEMANDS; i++) found = found || t->of.kind[i];
    return found;
}

/* Seconds of a run; each: what they were before. What ran in between has left the caches with its own, so a short run has one
   before it that does not count, but where the case has none in its usual samples. */
static double sample(bench* b, const bench_case* c, int64_t repeats, double each)
{
    const bool first = each < FIRST_SECONDS && !bench_is_cold(b, c) && !c->before && !c->warmed;
    bench_show_where(b, c->what);
    if (first && bench_time_of(b, c, 1) < 0) return -1;
    return bench_time_of(b, c, repeats);
}

static bool look(bench* b, const taken* t, double value[BENCH_DEMANDS])
{
    for (int i = 0; i < BENCH_DEMANDS; i++) {
        if (!t->of.kind[i]) continue;
        const double seconds = sample(b, &t->roof[i], t->repeats[i], t->each[i]);
        if (seconds < 0) return false;
        value[i] = bench_roof_value_of(t->of.kind[i], t->roof[i].work, seconds);
    }
    return true;
}

/* Enough that count, and min_time's worth; or so many tries that a quieter machine is wanted. */
static bool has_turns(const bench* b, const bench_turn_list* t, double begun)
{
    const int64_t least = bench_least_turns(b);
    if (t->count + t->thrown == TRIES * least) return true;
    return t->count >= least && (t->count == BENCH_SAMPLES_MAX || progress_seconds() - begun >= b->o.min_time);
}

/* The look after a turn is the look before the next one. */
static bool take(bench* b, const bench_result* r, taken* t)
{
    const double begun = progress_seconds();
    bench_turn x = {{0}, {0}, 0};
    bool good = look(b, t, x.before);
    while (good && !has_turns(b, &t->of, begun)) {
        x.ours = sample(b, &r->kase, r->repeats, r->median);
        good = x.ours >= 0 && look(b, t, x.after);
        if (good) bench_turns_add(&t->of, &x);
        memcpy(x.before, x.after, sizeof x.before);
    }
    return good;
}

bool bench_take_turns(bench* b, bench_result* r)
{
    const int32_t mark = bench_mark(b);
    taken* t = bench_new(b, sizeof *t, "turns");
    bool good = t && open_roofs(b, r, t);
    if (good && has_roofs(t)) {
        bench_use_threads(r->kase.threads);
        good = take(b, r, t);
        if (good) r->in_turns = bench_turns_find(&t->of);
    }
    bench_release(b, mark);
    return good;
}
