/* check.c - --check: this run's shares of its own roofs beside an earlier run's. What lost a tenth is
   measured again, as another program may have been running; what lost it twice is named. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/harness.h"
#include "bench/read_json.h"
#include "bench/run_file.h"
#include "common/memory.h"
#include "common/same_file.h"

static const double LOST = .9;

/* How much a run is like this one: 0 not at all (another backend, other sizes, no times), 1 another machine, 2 this
   kind of processor, 3 with as many threads. */
static int likeness(bench* b, const char* run)
{
    bench_machine m;
    const char* machine = json_member(run, "machine");
    const char* quick = json_member(json_member(run, "options"), "quick");
    bench_machine_of(&m);
    if (!json_is_text(json_member(run, "backend"), b->backend->name) || !json_begin(json_member(run, "results"))) return 0;
    if (!quick || (*quick == 't') != b->o.quick) return 0;
    if (!json_is_text(json_member(machine, "cpu"), m.cpu)) return 1;
    if (!json_is_text(json_member(machine, "device"), b->backend->describe(b))) return 1;
    return json_number(json_member(machine, "threads")) == b->threads ? 3 : 2;
}

/* Does this run write there? */
static bool is_own(const bench* b, const char* path)
{
    return (b->o.json && same_file(b->o.json, path)) || (b->o.csv && same_file(b->o.csv, path));
}

/* Makes the file's run that is most like this one its root, the last among equals; how much it is like it. */
static int choose_run(bench* b, run_file* e)
{
    int most = 0;
    for (const char* run = e->root; run; run = json_next(run)) {
        const int alike = likeness(b, run);
        if (alike < most) continue;
        most = alike;
        e->root = run;
    }
    return most;
}

/* The file itself, or the folder's most like this run, the last one by name among equals. */
static bool find_earlier(bench* b, run_file* best, char* name, size_t size)
{
    struct stat about;
    int most = 0;
    DIR* folder = opendir(b->o.check);
    snprintf(name, size, "%s", b->o.check);
    if (!folder && stat(b->o.check, &about) != 0)
        return error_set(&b->why, "--check %s: %s", b->o.check, strerror(errno));
    if (!folder) {
        if (!run_file_read(best, b->o.check, &b->why)) return false;
        return choose_run(b, best) > 0 ||
               error_set(&b->why, "--check %s: another backend's, not of --quick as this one, or without times", b->o.check);
    }
    for (struct dirent* entry; (entry = readdir(folder)) && !b->why.text[0];) {
        char path[4096];
        run_file e = {NULL, NULL, NULL};
        snprintf(path, sizeof path, "%s/%s", b->o.check, entry->d_name);
        if (!run_file_named(path) || is_own(b, path)) continue;
        int alike = run_file_read(&e, path, &b->why) ? choose_run(b, &e) : 0;
        if (alike > most || (alike && alike == most && strcmp(path, name) > 0)) {
            most = alike;
            run_file_close(best);
            *best = e;
            snprintf(name, size, "%s", path);
        } else {
            run_file_close(&e);
        }
    }
    closedir(folder);
    if (!most)
        error_set(&b->why, "--check %s: no earlier run of this backend and size; --json or --csv FILE writes one",
                  b->o.check);
    return most > 0;
}

static double earlier_share(const run_file* e, const bench_result* r)
{
    for (const char* at = json_begin(json_member(e->root, "results")); at; at = json_next(at))
        if (json_is_text(json_member(at, "bench"), r->entry) &&
            json_is_text(json_member(at, "case"), r->kase.what) &&
            json_number(json_member(at, "threads")) == r->kase.threads)
            return json_number(json_member(at, "share"));
    return NAN;
}

typedef struct {
    const char* entry;
    char what[80];
    int32_t threads;
    double before, share;
} loss;

/* Those of the results that lost a tenth of the earlier share; fills lost (BENCH_RESULTS_MAX), counts the
   compared. */
static int find_losses(bench* b, const run_file* e, loss* lost, int* compared)
{
    const struct bench_state* s = b->state;
    int count = 0;
    *compared = 0;
    for (int32_t i = 0; i < s->num_results; i++) {
        const bench_result* r = &s->result[i];
        if (r->kase.rival || r->roof_seconds <= 0) continue;
        double before = earlier_share(e, r), share = bench_share(r);
        if (isnan(before)) continue;
        ++*compared;
        if (share >= LOST * before) continue;
        lost[count].entry = r->entry;
        snprintf(lost[count].what, sizeof lost[count].what, "%s", r->kase.what);
        lost[count].threads = r->kase.threads;
        lost[count].before = before;
        lost[count++].share = share;
    }
    return count;
}

static const loss* same_loss(const loss* lost, int count, const loss* l)
{
    for (int i = 0; i < count; i++)
        if (strcmp(lost[i].entry, l->entry) == 0 && strcmp(lost[i].what, l->what) == 0 &&
            lost[i].threads == l->threads)
            return &lost[i];
    return NULL;
}

/* Measures the entries with losses again, roofs too. */
static bool measure_again(bench* b, const bench_entry* const* chosen, int count, const loss* lost, int losses)
{
    fprintf(b->state->out, "\n%d lost a tenth of the roof's share; once more:\n", losses);
    bench_forget(b);
    for (int i = 0; i < count; i++) {
        bool wanted = false;
        for (int k = 0; k < losses; k++) wanted = wanted || strcmp(lost[k].entry, chosen[i]->name) == 0;
        b->state->titled = b->state->headed = NULL;
        if (wanted && !bench_run(b, chosen[i])) return false;
    }
    return true;
}

static int compare(bench* b, const bench_entry* const* chosen, int count, const run_file* e, const char* name,
                   loss* first, loss* second)
{
    int compared, ignored, twice = 0, losses = find_losses(b, e, first, &compared), again = 0;
    if (!compared) {
        error_set(&b->why, "--check %s: has none of these cases", name);
        return 1;
    }
    if (losses && !measure_again(b, chosen, count, first, losses)) return 1;
    if (losses) again = find_losses(b, e, second, &ignored);
    fprintf(b->state->out, "\n%s: %d cases compared\n", name, compared);
    for (int i = 0; i < again; i++) {
        const loss *l = &second[i], *before = same_loss(first, losses, l);
        if (!before) continue;
        twice++;
        fprintf(b->state->out, "  LOST %s: %s, %d threads: %.1f %% of the roof, then %.1f and %.1f %%\n",
                l->entry, l->what, (int)l->threads, 100 * l->before, 100 * before->share, 100 * l->share);
    }
    fprintf(b->state->out, "%d lost a tenth or more, twice\n", twice);
    return twice > 0;
}

int bench_check(bench* b, const bench_entry* const* chosen, int count)
{
    run_file e = {NULL, NULL, NULL};
    char name[4096];
    loss* room = memory_new(2 * BENCH_RESULTS_MAX * sizeof *room, "losses", &b->why);
    int status = 1;
    if (room && find_earlier(b, &e, name, sizeof name))
        status = compare(b, chosen, count, &e, name, room, room + BENCH_RESULTS_MAX);
    run_file_close(&e);
    memory_free(room);
    return status;
}
