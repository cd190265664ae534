/* harness.c - timing, roofs, comparison of answers, memory of an entry. */
#include "bench/harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/memory.h"

static const double SHARE_MOST = 1.1;
enum { ROOF_MEASURED = 3 }; /* times, at most */

/* ==== memory ============================================================================================ */

bool bench_defer(bench* b, void (*undo)(void* context), void* context)
{
    struct bench_state* s = b->state;
    if (s->num_undo == sizeof s->undo / sizeof *s->undo) {
        undo(context);
        return error_set(&b->why, "%s: takes more than %d things", b->entry, s->num_undo);
    }
    s->undo[s->num_undo].undo = undo;
    s->undo[s->num_undo++].context = context;
    return true;
}

void* bench_new(bench* b, size_t bytes, const char* what)
{
    void* memory = memory_new(bytes, what, &b->why);
    return memory && bench_defer(b, memory_free, memory) ? memory : NULL;
}

int32_t bench_mark(const bench* b) { return b->state->num_undo; }

void bench_release(bench* b, int32_t mark)
{
    struct bench_state* s = b->state;
    while (s->num_undo > mark) {
        bench_undo* u = &s->undo[--s->num_undo];
        u->undo(u->context);
    }
}

bool bench_open(bench* b)
{
    b->state = memory_new(sizeof *b->state, "the harness", &b->why);
    if (!b->state) return false;
    b->state->out = stdout;
    b->state->result = memory_new(BENCH_RESULTS_MAX * sizeof *b->state->result, "results", &b->why);
    return b->state->result != NULL;
}

void bench_forget(bench* b)
{
    struct bench_state* s = b->state;
    for (int32_t i = 0; i < s->num_results; i++) memory_free(s->result[i].sample);
    for (int32_t i = 0; i < s->num_roofs; i++) memory_free(s->roof[i].timing.sample);
    s->num_results = s->num_roofs = s->num_ratios = s->num_notes = s->num_figures = s->num_checks = 0;
}

void bench_close(bench* b)
{
    if (!b->state) return;
    bench_release(b, 0);
    if (b->state->data) b->state->close_data(b->state->data);
    if (b->state->result) bench_forget(b);
    memory_free(b->state->flushed);
    memory_free(b->state->result);
    memory_free(b->state);
    b->state = NULL;
}

bool bench_run(bench* b, const bench_entry* e)
{
    b->entry = e->name;
    bool good = e->run(b) && !b->why.text[0];
    bench_release(b, 0);
    b->state->entries_done++;
    return good;
}

/* Keeps what went wrong, and says it without the entry's name twice. */
static void keep_failure(bench* b)
{
    struct bench_state* s = b->state;
    bench_failure* f = &s->failure[s->num_failures++];
    const size_t name = strlen(b->entry);
    const bool named = strncmp(b->why.text, b->entry, name) == 0 && strncmp(b->why.text + name, ": ", 2) == 0;
    f->entry = b->entry;
    f->why.text[0] = 0;
    error_set(&f->why, "%s", b->why.text[0] ? b->why.text + (named ? name + 2 : 0) : "failed without a message");
    b->why.text[0] = 0;
    progress_end(&s->bar, 0, false);
    fprintf(stderr, "ggnn-bench: %s: %s\n", f->entry, f->why.text);
}

bool bench_run_all(bench* b, const bench_entry* const* chosen, int count, int argc, char** argv)
{
    struct bench_state* s = b->state;
    s->chosen = chosen;
    s->num_chosen = count;
    progress_begin(&s->bar, "bench", "names", count);
    for (int i = 0; i < count; i++) {
        if (!bench_run(b, chosen[i])) keep_failure(b);
        if (b->o.json && !bench_write_json(b, argc, argv)) break;
        if (b->o.csv && !bench_write_csv(b, argc, argv)) break;
    }
    progress_end(&s->bar, 0, false);
    return s->num_failures == 0 && !b->why.text[0];
}

/* ==== timing ============================================================================================ */

void bench_use_threads(int32_t threads)
{
#ifdef _OPENMP
    omp_set_num_threads(threads);
#else
    (void)threads;
#endif
}

bool bench_is_cold(const bench* b, const bench_case* c) { return !b->o.warm && (b->o.cold || c->cold); }

double bench_time_of(bench* b, const bench_case* c, int64_t repeats)
{
    if (c->before) c->before(c->context);
    if (bench_is_cold(b, c)) b->backend->evict(b);
    double seconds = b->backend->seconds(b, c, repeats);
    return b->why.text[0] ? -1 : seconds / (double)repeats;
}

void bench_show_where(bench* b, const char* what)
{
    struct bench_state* s = b->state;
    snprintf(s->where, sizeof s->where, "%s: %.30s", b->entry, what);
    s->bar.what = s->where;
    progress_update(&s->bar, s->entries_done);
}

/* A run that does not count, and how many runs a sample has: short ones are repeated within one, so that a look at the clock
   costs nothing beside them. */
static bool begin_samples(bench* b, bench_result* r)
{
    const bench_case* c = &r->kase;
    bool alone = bench_is_cold(b, c) || c->before || b->o.once || c->warmed;
    double each = 0;
    r->sample = memory_new(BENCH_SAMPLES_MAX * sizeof *r->sample, "samples", &b->why);
    if (!r->sample) return false;
    bench_use_threads(c->threads);
    if (!b->o.once && !c->warmed) each = bench_time_of(b, c, 1);
    if (each < 0) return false;
    r->repeats = alone ? 1 : (int64_t)ceil(fmin(1e6, b->o.min_time / (double)b->o.reps / fmax(each, 1e-9)));
    if (r->repeats < 1) r->repeats = 1;
    return true;
}

static bool add_sample(bench* b, bench_result* r)
{
    bench_show_where(b, r->kase.what);
    const double each = bench_time_of(b, &r->kase, r->repeats);
    if (each < 0) return false;
    r->sample[r->count++] = each;
    return true;
}

/* Are `least` samples there, and min_time's worth? */
static bool has_samples(const bench* b, const bench_result* r, int64_t least, double begun)
{
    if (b->o.once) return r->count == 1;
    return r->count >= least && (r->count == BENCH_SAMPLES_MAX || progress_seconds() - begun >= b->o.min_time);
}

/* Fills r->sample: o.reps samples or min_time's worth, whichever is more. */
static bool take_samples(bench* b, bench_result* r)
{
    const double begun = progress_seconds();
    bool good = begin_samples(b, r);
    while (good && !has_samples(b, r, b->o.reps, begun)) good = add_sample(b, r);
    return good;
}

static void find_median(bench_result* r)
{
    double sorted[BENCH_SAMPLES_MAX];
    int32_t n = r->count;
    memcpy(sorted, r->sample, (size_t)n * sizeof *sorted);
    bench_sort(sorted, n);
    r->median = bench_quantile(sorted, n, .5);
    r->least = sorted[0];
    r->most = sorted[n - 1];
}

/* ==== roofs ============================================================================================= */

static const bench_roof_kind* roof_kind(const bench* b, const char* name)
{
    for (const bench_roof_kind* k = b->backend->roofs; k->name; k++)
        if (strcmp(k->name, name) == 0) return k;
    return NULL;
}

bench_roof_value* bench_find_roof(bench* b, const char* name, int64_t size, int32_t threads)
{
    struct bench_state* s = b->state;
    for (int32_t i = 0; i < s->num_roofs; i++)
        if (strcmp(s->roof[i].kind->name, name) == 0 && s->roof[i].size == size &&
            s->roof[i].threads == threads)
            return &s->roof[i];
    return NULL;
}

/* Fills and prints v. */
static bool measure_roof(bench* b, const bench_roof_kind* kind, int64_t size, int32_t threads, bench_roof_value* v)
{
    int32_t mark = b->state->num_undo;
    memset(v, 0, sizeof *v);
    v->kind = kind;
    v->size = size;
    v->threads = v->timing.kase.threads = threads;
    bool good = kind->open(b, &v->timing.kase, size) && take_samples(b, &v->timing);
    bench_release(b, mark);
    if (!good) {
        memory_free(v->timing.sample);
        return false;
    }
    find_median(&v->timing);
    v->amount = v->timing.kase.work;
    v->value = bench_roof_value_of(kind, v->amount, v->timing.least);
    v->measured = 1;
    bench_print_roof(b, v);
    return true;
}

static bench_roof_value* add_roof(bench* b, const bench_roof_kind* kind, int64_t size, int32_t threads)
{
    struct bench_state* s = b->state;
    if (s->num_roofs == BENCH_ROOFS_MAX) {
        error_set(&b->why, "more than %d roofs", BENCH_ROOFS_MAX);
        return NULL;
    }
    return measure_roof(b, kind, size, threads, &s->roof[s->num_roofs]) ? &s->roof[s->num_roofs++] : NULL;
}

/* The better of what it was and a new measurement. */
static bool measure_again(bench* b, bench_roof_value* v)
{
    bench_roof_value other;
    const int32_t measured = v->measured + 1;
    if (!measure_roof(b, v->kind, v->size, v->threads, &other)) return false;
    if (bench_is_latency(v->kind) ? other.value < v->value : other.value > v->value) {
        const bench_roof_value worse = *v;
        *v = other;
        other = worse;
    }
    memory_free(other.timing.sample);
    v->measured = measured;
    return true;
}

double bench_roof(bench* b, const char* name, int64_t size, int32_t threads)
{
    const bench_roof_kind* kind = roof_kind(b, name);
    bench_roof_value* v = bench_find_roof(b, name, size, threads);
    if (b->o.once || b->o.alone || !kind) return 0;
    if (!v) v = add_roof(b, kind, size, threads);
    return v ? v->value : 0;
}

/* Which demand takes longest at its roof, and how long the case takes at least. */
static void find_ruling(bench* b, bench_result* r)
{
    double seconds[BENCH_DEMANDS] = {0};
    int which;
    for (int i = 0; i < BENCH_DEMANDS && r->kase.demand[i].roof; i++) {
        const bench_demand* d = &r->kase.demand[i];
        const double roof = bench_roof(b, d->roof, d->size, r->kase.threads);
        if (roof > 0) seconds[i] = bench_seconds_at(roof_kind(b, d->roof), roof, d->amount);
    }
    r->roof_seconds = bench_least_seconds(&r->kase, seconds, &which);
    r->roof = which < 0 ? NULL : r->kase.demand[which].roof;
    r->roof_size = which < 0 ? 0 : r->kase.demand[which].size;
}

double bench_share(const bench_result* r) { return r->roof_seconds > 0 ? r->roof_seconds / r->median : NAN; }

/* A share over 110 %: the roof may have been measured while another program ran. Earlier cases keep their shares. */
static bool settle_share(bench* b, bench_result* r)
{
    find_ruling(b, r); /* of two cases in turns the first may have raised a roof */
    while (bench_share(r) > SHARE_MOST) {
        bench_roof_value* v = bench_find_roof(b, r->roof, r->roof_size, r->kase.threads);
        if (v->measured == ROOF_MEASURED) break;
        if (!measure_again(b, v)) return false;
        find_ruling(b, r);
    }
    r->disturbed = bench_share(r) > SHARE_MOST;
    return !b->why.text[0];
}

/* ==== cases ============================================================================================= */

/* The next result, without samples yet. NULL: b->why. */
static bench_result* begin_result(bench* b, const bench_case* c, int32_t place)
{
    bench_result* r = &b->state->result[place];
    if (place >= BENCH_RESULTS_MAX) {
        error_set(&b->why, "more than %d results", BENCH_RESULTS_MAX);
        return NULL;
    }
    memset(r, 0, sizeof *r);
    r->entry = b->entry;
    r->kase = *c;
    if (r->kase.threads == 0) r->kase.threads = b->threads;
    find_ruling(b, r);
    return b->why.text[0] ? NULL : r;
}

/* Keeps it, where its samples were good. */
static bool end_result(bench* b, bench_result* r, bool good)
{
    if (good) find_median(r);
    good = good && settle_share(b, r);
    if (good && b->o.turns && !r->kase.rival) good = bench_take_turns(b, r);
    bench_use_threads(b->threads); /* a roof's were others */
    if (!good) {
        memory_free(r->sample);
        r->sample = NULL;
        return false;
    }
    b->state->num_results++;
    bench_print_result(b, r);
    return true;
}

const bench_result* bench_measure(bench* b, const bench_case* c)
{
    if (c->rival && (b->o.once || b->o.alone || b->o.own)) return NULL;
    bench_result* r = begin_result(b, c, b->state->num_results);
    if (!r) return NULL;
    return end_result(b, r, take_samples(b, r)) ? r : NULL;
}

/* The median of the turns' ratios, and their quartiles. */
static void find_turns(bench_ratio_value* v, const bench_result* ours, const bench_result* theirs)
{
    double ratio[BENCH_SAMPLES_MAX];
    const int32_t n = v->turns = ours->count;
    for (int32_t i = 0; i < n; i++) ratio[i] = ours->kase.work / ours->sample[i] / (theirs->kase.work / theirs->sample[i]);
    bench_sort(ratio, n);
    v->ratio = bench_quantile(ratio, n, .5);
    v->lower = bench_quantile(ratio, n, .25);
    v->upper = bench_quantile(ratio, n, .75);
}

/* Both or none; without theirs, ours. */
static bool end_turns(bench* b, bench_result* ours, bench_result* theirs, const char* of_what, bool good)
{
    struct bench_state* s = b->state;
    bench_ratio_value* v = &s->ratio[s->num_ratios];
    good = end_result(b, ours, good);
    if (!theirs || !end_result(b, theirs, good)) return good;
    if (s->num_ratios == BENCH_RESULTS_MAX) return true;
    memset(v, 0, sizeof *v);
    v->ours = (int32_t)(ours - s->result);
    v->theirs = (int32_t)(theirs - s->result);
    snprintf(v->of_what, sizeof v->of_what, "%s", of_what);
    find_turns(v, ours, theirs);
    s->num_ratios++;
    bench_print_ratio(b, v);
    return true;
}

int64_t bench_least_turns(const bench* b) { return b->o.reps < BENCH_TURNS ? BENCH_TURNS : b->o.reps; }

bool bench_turns(bench* b, const bench_case* ours, const bench_case* theirs, const char* of_what, bool (*check)(void* context))
{
    const int32_t place = b->state->num_results;
    const int64_t least = bench_least_turns(b);
    bench_result *x = begin_result(b, ours, place), *y = NULL;
    if (!x || (!b->o.once && !(y = begin_result(b, theirs, place + 1)))) return false;
    const double begun = progress_seconds();
    bool good = begin_samples(b, x) && (!y || begin_samples(b, y));
    while (good && !has_samples(b, x, least, begun)) good = add_sample(b, x) && (!y || add_sample(b, y));
    bench_use_threads(b->threads);
    return end_turns(b, x, y, of_what, good && check(ours->context));
}

bool bench_ratio(bench* b, const bench_result* ours, const bench_result* theirs, const char* of_what,
                 double goal)
{
    struct bench_state* s = b->state;
    bench_ratio_value* v = &s->ratio[s->num_ratios];
    if (b->why.text[0]) return false;
    if (!ours || !theirs || s->num_ratios == BENCH_RESULTS_MAX) return true;
    memset(v, 0, sizeof *v);
    v->ours = (int32_t)(ours - s->result);
    v->theirs = (int32_t)(theirs - s->result);
    snprintf(v->of_what, sizeof v->of_what, "%s", of_what);
    v->ratio = (ours->kase.work / ours->median) / (theirs->kase.work / theirs->median);
    v->goal = goal;
    s->num_ratios++;
    bench_print_ratio(b, v);
    return true;
}

void bench_note(bench* b, const bench_result* r, const char* name, double value, const char* unit)
{
    struct bench_state* s = b->state;
    bench_note_value* n = &s->note[s->num_notes];
    if (!r || s->num_notes == BENCH_RESULTS_MAX) return;
    n->result = (int32_t)(r - s->result);
    snprintf(n->name, sizeof n->name, "%s", name);
    snprintf(n->unit, sizeof n->unit, "%s", unit);
    n->value = value;
    s->num_notes++;
    bench_print_note(b, n);
}

bool bench_figures_noted(bench* b, const bench_table* t, const char* row, const double* value, const char* const* note)
{
    struct bench_state* s = b->state;
    bench_figure_row* r = &s->figure[s->num_figures];
    if (s->num_figures == BENCH_FIGURES_MAX) return error_set(&b->why, "more than %d rows of figures", BENCH_FIGURES_MAX);
    const bool first = s->num_figures == 0 || r[-1].entry != b->entry || strcmp(r[-1].table.what, t->what) != 0;
    r->entry = b->entry;
    r->table = *t;
    snprintf(r->row, sizeof r->row, "%s", row);
    memcpy(r->value, value, (size_t)t->columns * sizeof *value);
    memset(r->note, 0, sizeof r->note);
    for (int32_t i = 0; note && i < t->columns; i++) snprintf(r->note[i], sizeof r->note[i], "%s", note[i]);
    s->num_figures++;
    bench_print_figures(b, r, first);
    return true;
}

bool bench_figures(bench* b, const bench_table* t, const char* row, const double* value)
{
    return bench_figures_noted(b, t, row, value, NULL);
}

/* ==== answers =========================================================================================== */

bool bench_equal(bench* b, const char* what, const void* ours, const void* theirs, size_t bytes)
{
    const unsigned char *x = ours, *y = theirs;
    size_t i = 0;
    b->state->num_checks++;
    if (memcmp(x, y, bytes) == 0) return true;
    while (x[i] == y[i]) i++;
    return error_set(&b->why, "%s: wrong answer: %s differs from the plain loop's at byte %zu of %zu",
                     b->entry, what, i, bytes);
}

bool bench_near(bench* b, const char* what, const float* ours, const float* theirs, int64_t n,
                double tolerance)
{
    double largest = 0;
    b->state->num_checks++;
    for (int64_t i = 0; i < n; i++) largest = fmax(largest, fabs((double)theirs[i]));
    for (int64_t i = 0; i < n; i++)
        if (!(fabs((double)ours[i] - (double)theirs[i]) <= tolerance * largest))
            return error_set(&b->why,
                             "%s: wrong answer: %s[%lld] is %.9g, the plain loop's %.9g (of at most %g)",
                             b->entry, what, (long long)i, (double)ours[i], (double)theirs[i], largest);
    return true;
}
