/* compare.c - reads pairs of files, matches their cases, and says of each how B's rate of work stands to A's. */
#include "bench/compare.h"

#include <math.h>
#include <string.h>

#include "bench/read_json.h"
#include "common/printable.h"

static const double SAME = .02; /* a ratio within 2 % of 1 */

/* ==== reading =========================================================================================== */

static int32_t count_of(const char* array)
{
    int32_t count = 0;
    for (const char* at = json_begin(array); at; at = json_next(at)) count++;
    return count;
}

/* The member as it stands in the file, cut where it is long. */
static const char* raw(char text[64], const char* value)
{
    char all[48];
    const char* end = value ? json_after(value) : NULL;
    if (!end || *value == '{') return strcpy(text, end ? "an object" : "missing");
    const bool whole = end - value < (int)sizeof all;
    snprintf(all, sizeof all, "%.*s%s", (int)(whole ? end - value : 44), value, whole ? "" : "...");
    return printable(text, 64, all);
}

/* at: the object, which has its line where it was read from lines. */
static bool bad_member(const compare_run* r, const char* list, int32_t i, const char* at, const char* key, const char* value,
                       const char* wanted, error* why)
{
    char text[64];
    const double line = json_number(json_member(at, "line"));
    if (line > 0) return error_set(why, "%s: line %.0f: \"%s\" is %s, not %s", r->path, line, key, raw(text, value), wanted);
    return error_set(why, "%s: %s %d: \"%s\" is %s, not %s", r->path, list, (int)i + 1, key, raw(text, value), wanted);
}

static bool read_text(const compare_run* r, const char* list, int32_t i, const char* at, const char* key, char* text,
                      size_t size, error* why)
{
    char copy[256], wanted[64];
    const char* value = json_member(at, key);
    snprintf(wanted, sizeof wanted, "a text of at most %zu bytes", size - 1);
    if (!json_copy_text(value, copy, size)) return bad_member(r, list, i, at, key, value, wanted, why);
    printable(text, size, copy);
    return true;
}

static bool is_positive(double x) { return x > 0 && isfinite(x); }

static bool read_positive(const compare_run* r, const char* list, int32_t i, const char* at, const char* key, double* x,
                          error* why)
{
    const char* value = json_member(at, key);
    *x = json_number(value);
    return is_positive(*x) || bad_member(r, list, i, at, key, value, "a number above 0", why);
}

/* None in files that were made smaller. */
static bool read_samples(const compare_run* r, int32_t i, compare_result* y, error* why)
{
    const char* all = json_member(y->at, "samples");
    if (!all) return true;
    y->samples = json_begin(all);
    y->count = count_of(all);
    if (y->count < 1 || y->count > BENCH_SAMPLES_MAX)
        return bad_member(r, "result", i, y->at, "samples", all, "a list of 1 to 1000", why);
    for (const char* s = y->samples; s; s = json_next(s))
        if (!is_positive(json_number(s))) return bad_member(r, "result", i, y->at, "samples", s, "seconds above 0", why);
    return true;
}

static bool read_result(const compare_run* r, int32_t i, const char* at, error* why)
{
    compare_result* y = &r->result[i];
    const char* rival = json_member(at, "rival");
    double threads;
    y->at = at;
    if (!read_text(r, "result", i, at, "bench", y->bench, sizeof y->bench, why) ||
        !read_text(r, "result", i, at, "case", y->what, sizeof y->what, why) ||
        !read_text(r, "result", i, at, "unit", y->unit, sizeof y->unit, why) ||
        !read_positive(r, "result", i, at, "threads", &threads, why) ||
        !read_positive(r, "result", i, at, "work", &y->work, why) ||
        !read_positive(r, "result", i, at, "median", &y->median, why))
        return false;
    if (threads > 1e6) return bad_member(r, "result", i, at, "threads", json_member(at, "threads"), "a number of threads", why);
    y->threads = (int32_t)threads;
    y->rival = rival && *rival == 't';
    y->share = json_number(json_member(at, "share"));
    return read_samples(r, i, y, why);
}

static bool read_roof(const compare_run* r, int32_t i, const char* at, error* why)
{
    compare_roof* y = &r->roof[i];
    y->size = json_number(json_member(at, "size"));
    y->threads = json_number(json_member(at, "threads"));
    return read_text(r, "roof", i, at, "name", y->name, sizeof y->name, why) &&
           read_positive(r, "roof", i, at, "value", &y->value, why);
}

static void close_run(void* context) { run_file_close(&((compare_run*)context)->file); }

static bool read_run(bench* b, compare_run* r, const char* path)
{
    int32_t i = 0;
    r->path = path;
    const bool read = run_file_read(&r->file, path, &b->why);
    if (!bench_defer(b, close_run, r) || !read) return false;
    if (json_next(r->file.root)) return error_set(&b->why, "%s: has more than one run; one is compared with one", path);
    const char *results = json_member(r->file.root, "results"), *roofs = json_member(r->file.root, "roofs");
    r->num_results = count_of(results);
    r->num_roofs = count_of(roofs);
    if (r->num_results > BENCH_RESULTS_MAX || r->num_roofs > BENCH_ROOFS_MAX)
        return error_set(&b->why, "%s: %d results and %d roofs, of which there are at most %d and %d", path,
                         (int)r->num_results, (int)r->num_roofs, BENCH_RESULTS_MAX, BENCH_ROOFS_MAX);
    r->result = bench_new(b, (size_t)r->num_results * sizeof *r->result, "results");
    r->roof = bench_new(b, (size_t)r->num_roofs * sizeof *r->roof, "roofs");
    if (!r->result || !r->roof) return false;
    for (const char* at = json_begin(results); at; at = json_next(at))
        if (!read_result(r, i++, at, &b->why)) return false;
    i = 0;
    for (const char* at = json_begin(roofs); at; at = json_next(at))
        if (!read_roof(r, i++, at, &b->why)) return false;
    return true;
}

/* ==== what files differ in ============================================================================== */

static void add_difference(comparison* c, const compare_run* r, const char* group, const char* key, const char* first,
                           const char* here)
{
    char name[64] = "";
    compare_difference d = {.run = r};
    raw(d.first, first);
    raw(d.here, here);
    if (json_same(first, here) || c->num_differences == COMPARE_DIFFERENCES_MAX) return;
    if (key) json_copy_text(key, name, sizeof name);
    snprintf(d.what, sizeof d.what, "%s%s", group, key ? "." : "");
    printable(d.what + strlen(d.what), sizeof d.what - strlen(d.what), name);
    c->difference[c->num_differences++] = d;
}

/* Members of either file's object, those that both have once; whole values where one of them is no object. */
static void find_differences(comparison* c, const compare_run* r, const char* group)
{
    const char *first = json_member(c->run[0].file.root, group), *here = json_member(r->file.root, group);
    if (!first || !here || *first != '{' || *here != '{') {
        add_difference(c, r, group, NULL, first, here);
        return;
    }
    for (int side = 0; side < 2; side++)
        for (const char* key = json_first_key(side ? here : first); key; key = json_next(json_value(key))) {
            char name[64];
            if (!json_copy_text(key, name, sizeof name)) continue;
            const char *one = json_member(first, name), *two = json_member(here, name);
            if (!side || !one) add_difference(c, r, group, key, one, two);
        }
}

/* ==== matching ========================================================================================== */

static bool is_same_case(const compare_result* x, const compare_result* y)
{
    return x->threads == y->threads && strcmp(x->what, y->what) == 0 && strcmp(x->bench, y->bench) == 0;
}

static compare_case* find_case(const comparison* c, const compare_result* y)
{
    for (int32_t i = 0; i < c->num_cases; i++)
        if (is_same_case(compare_any(&c->kase[i]), y)) return &c->kase[i];
    return NULL;
}

static const compare_result* find_result(const compare_run* r, const compare_result* like)
{
    for (int32_t i = 0; i < r->num_results; i++)
        if (is_same_case(&r->result[i], like)) return &r->result[i];
    return NULL;
}

/* The run whose result this is. */
static const char* path_of(const comparison* c, const compare_result* y)
{
    int32_t i = 0;
    while (y < c->run[i].result || y >= c->run[i].result + c->run[i].num_results) i++;
    return c->run[i].path;
}

static bool add_result(comparison* c, int32_t run, const compare_result* y, error* why)
{
    compare_case* k = find_case(c, y);
    const int32_t side = run % 2, turn = run / 2;
    if (!k) {
        k = &c->kase[c->num_cases++];
        k->last[0] = k->last[1] = -1;
    } else if (k->last[side] == turn) {
        return error_set(why, "%s: %s: %s, %d threads: is there twice", c->run[run].path, y->bench, y->what, (int)y->threads);
    } else if (strcmp(compare_any(k)->unit, y->unit) != 0) {
        return error_set(why, "%s: %s, %d threads: counts %s in %s and %s in %s", y->bench, y->what, (int)y->threads,
                         compare_any(k)->unit, path_of(c, compare_any(k)), y->unit, c->run[run].path);
    }
    if (!side && !k->a) k->a = y;
    if (side && !k->b) k->b = y;
    k->last[side] = turn;
    return true;
}

/* ==== figures of a case ================================================================================= */

static double roof_of(const compare_run* r, const char* name, double size, double threads)
{
    for (int32_t i = 0; i < r->num_roofs; i++)
        if (strcmp(r->roof[i].name, name) == 0 && r->roof[i].size == size && r->roof[i].threads == threads)
            return r->roof[i].value;
    return NAN;
}

/* pair: A's run and B's. One that a file lacks moved by nothing. */
static bool roof_moved(const compare_run* pair, const char* roof, const char* size, int32_t threads)
{
    char name[48];
    if (!json_copy_text(roof, name, sizeof name)) return false;
    const double a = roof_of(&pair[0], name, json_number(size), threads),
                 b = roof_of(&pair[1], name, json_number(size), threads);
    return !isnan(a) && !isnan(b) && bench_roof_moved(a, b);
}

/* The roof that rules, and all that the case demands (which files before 0.3.0 do not name). */
static bool roofs_moved(const compare_run* pair, const compare_result* y)
{
    if (roof_moved(pair, json_member(y->at, "roof"), json_member(y->at, "roof_size"), y->threads)) return true;
    for (const char* d = json_begin(json_member(y->at, "demands")); d; d = json_next(d))
        if (roof_moved(pair, json_member(d, "roof"), json_member(d, "size"), y->threads)) return true;
    return false;
}

static double rate_ratio(const compare_result* a, const compare_result* b, double seconds_a, double seconds_b)
{
    return (b->work / seconds_b) / (a->work / seconds_a);
}

/* The ratios of a turn: one of medians, or where it is the only turn one of each sample that both have. */
static void add_turn(compare_case* k, const compare_result* a, const compare_result* b, bool only)
{
    const char *x = a->samples, *y = b->samples;
    if (!only || !x || !y) k->ratio[k->turns++] = rate_ratio(a, b, a->median, b->median);
    for (; only && x && y; x = json_next(x), y = json_next(y))
        k->ratio[k->turns++] = rate_ratio(a, b, json_number(x), json_number(y));
}

/* Of those that are numbers; NaN: none is. Sorts them. */
static double median_of(double* x, int32_t n)
{
    int32_t numbers = 0;
    for (int32_t i = 0; i < n; i++)
        if (!isnan(x[i])) x[numbers++] = x[i];
    if (!numbers) return NAN;
    bench_sort(x, numbers);
    return bench_quantile(x, numbers, .5);
}

static void find_spread(compare_case* k, bool moved)
{
    double sorted[BENCH_SAMPLES_MAX];
    memcpy(sorted, k->ratio, (size_t)k->turns * sizeof *sorted);
    bench_sort(sorted, k->turns);
    k->middle = bench_quantile(sorted, k->turns, .5);
    k->lower = bench_quantile(sorted, k->turns, .25);
    k->upper = bench_quantile(sorted, k->turns, .75);
    k->least = sorted[0];
    k->most = sorted[k->turns - 1];
    k->verdict = k->lower > 1 + SAME ? COMPARE_FASTER : k->upper < 1 - SAME ? COMPARE_SLOWER : COMPARE_SAME;
    if (moved) k->verdict = COMPARE_DISTURBED;
}

static void find_figures(const comparison* c, compare_case* k)
{
    double time[2][COMPARE_FILES_MAX], share[2][COMPARE_FILES_MAX];
    int32_t turns = 0;
    bool moved = false;
    k->verdict = COMPARE_ALONE;
    for (int32_t i = 0; i < c->pairs; i++) {
        const compare_run* pair = &c->run[2 * i];
        const compare_result *x = find_result(&pair[0], compare_any(k)), *y = find_result(&pair[1], compare_any(k));
        if (!x || !y) continue;
        time[0][turns] = x->median;
        time[1][turns] = y->median;
        share[0][turns] = x->share;
        share[1][turns++] = y->share;
        moved = moved || roofs_moved(pair, x) || roofs_moved(pair, y);
        add_turn(k, x, y, c->pairs == 1);
    }
    k->median_a = median_of(time[0], turns);
    k->median_b = median_of(time[1], turns);
    k->share_a = median_of(share[0], turns);
    k->share_b = median_of(share[1], turns);
    if (turns) find_spread(k, moved);
}

/* Room for as many ratios as a case can have, then all figures. */
static bool find_all_figures(bench* b, comparison* c)
{
    int32_t most = c->pairs;
    for (int32_t i = 0; c->pairs == 1 && i < c->run[0].num_results; i++)
        if (c->run[0].result[i].count > most) most = c->run[0].result[i].count;
    double* ratio = bench_new(b, (size_t)c->num_cases * (size_t)most * sizeof *ratio, "ratios");
    for (int32_t k = 0; ratio && k < c->num_cases; k++) {
        c->kase[k].ratio = ratio + (int64_t)k * most;
        find_figures(c, &c->kase[k]);
    }
    return ratio != NULL;
}

bool compare_open(bench* b, comparison* c, const char* const* path, int paths)
{
    static const char* const group[] = {"backend", "machine", "options", "data"};
    int32_t results = 0;
    memset(c, 0, sizeof *c);
    c->pairs = paths / 2;
    c->run = bench_new(b, (size_t)paths * sizeof *c->run, "files");
    c->difference = bench_new(b, COMPARE_DIFFERENCES_MAX * sizeof *c->difference, "differences");
    if (!c->run || !c->difference) return false;
    for (int i = 0; i < paths; i++) {
        if (!read_run(b, &c->run[i], path[i])) return false;
        results += c->run[i].num_results;
        for (int k = 0; k < 4; k++) find_differences(c, &c->run[i], group[k]);
    }
    if (!(c->kase = bench_new(b, (size_t)results * sizeof *c->kase, "cases"))) return false;
    for (int i = 0; i < paths; i++)
        for (int32_t k = 0; k < c->run[i].num_results; k++)
            if (!add_result(c, i, &c->run[i].result[k], &b->why)) return false;
    return find_all_figures(b, c);
}

/* ==== all cases together ================================================================================ */

const char* compare_word(const compare_case* k)
{
    static const char* const word[] = {"same", "faster", "slower", "disturbed"};
    if (k->verdict != COMPARE_ALONE) return word[k->verdict];
    return !k->b ? "only A" : !k->a ? "only B" : "never in one turn";
}

compare_counts compare_count(const comparison* c)
{
    compare_counts n = {0, {0}, 0};
    for (int32_t i = 0; i < c->num_cases; i++) {
        const compare_case* k = &c->kase[i];
        if (k->verdict == COMPARE_ALONE) continue;
        n.rivals += k->a->rival;
        n.compared += !k->a->rival;
        n.count[k->verdict] += !k->a->rival;
    }
    return n;
}

double compare_mean(const comparison* c, const char* entry, int32_t* cases)
{
    double sum = 0;
    *cases = 0;
    for (int32_t i = 0; i < c->num_cases; i++) {
        const compare_case* k = &c->kase[i];
        if (k->verdict >= COMPARE_DISTURBED || k->a->rival || strcmp(k->a->bench, entry) != 0) continue;
        sum += log(k->middle);
        ++*cases;
    }
    return *cases ? exp(sum / *cases) : NAN;
}

bool compare_is_first(const comparison* c, int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (strcmp(compare_any(&c->kase[k])->bench, compare_any(&c->kase[i])->bench) == 0) return false;
    return true;
}
