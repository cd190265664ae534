/* ggnn-bench as a user runs it, and its JSON reader: ggnn-bench itself compares each answer with a plain
   loop's. */
#include "bench/balance.h"
#include "bench/harness.h"
#include "bench/read_json.h"
#include "bench/touch.h"
#include "tests/test.h"
#include "tests/tool.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static char* read_all(const char* path)
{
    FILE* in = fopen(path, "r");
    char* text;
    long size;
    if (!in) return NULL;
    fseek(in, 0, SEEK_END);
    size = ftell(in);
    fseek(in, 0, SEEK_SET);
    text = (char*)calloc((size_t)size + 1, 1);
    if (fread(text, 1, (size_t)size, in) != (size_t)size) text[0] = 0;
    fclose(in);
    return text;
}

/* Runs with --json to a file in the folder; its text, to be freed, or NULL. */
static char* json_of(const char* arguments)
{
    char line[2048], path[600];
    snprintf(line, sizeof line, "%s --json %s", arguments, folder_path(path, "result.json"));
    remove(path);
    if (!CHECK_EQ(run("OMP_WAIT_POLICY=passive", line), 0)) {
        printf("  %s", printed("err"));
        return NULL;
    }
    return read_all(path);
}

/* ---- the JSON reader ---------------------------------------------------------------------------------- */

TEST(reader_finds_members_and_elements)
{
    const char* text = " {\"a\": [1, {\"b\": \"x\\\"]}\"}, -2.5e3], \"c\": null, \"ab\": true}\n";
    const char* array = json_member(json_first(text), "a");
    const char* second = json_next(json_begin(array));
    char copy[32];
    CHECK(json_whole(text));
    CHECK(json_number(json_begin(array)) == 1);
    CHECK(json_copy_text(json_member(second, "b"), copy, sizeof copy));
    CHECK_STR(copy, "x\"]}");
    CHECK(json_number(json_next(second)) == -2500);
    CHECK(json_next(json_next(second)) == NULL);
    CHECK(isnan(json_number(json_member(json_first(text), "c"))));
    CHECK(*json_member(json_first(text), "ab") == 't');
    CHECK(json_member(json_first(text), "b") == NULL); /* it is deeper */
    CHECK(json_member(array, "a") == NULL);
    CHECK(json_begin(json_first("[ ]")) == NULL);
    CHECK(json_first_key(json_first("{ }")) == NULL && json_first_key(array) == NULL);
    const char* key = json_first_key(json_first(text));
    CHECK(json_is_text(key, "a") && json_value(key) == array);
    key = json_next(json_value(key));
    CHECK(json_is_text(key, "c") && *json_value(key) == 'n');
    CHECK(json_next(json_value(json_next(json_value(key)))) == NULL);
    CHECK(!json_copy_text(array, copy, sizeof copy) && !json_copy_text(json_first("\"123\""), copy, 3));
    CHECK(json_copy_text(json_first("\"123\""), copy, 4));
    CHECK_STR(copy, "123");
}

TEST(reader_refuses_what_is_no_json)
{
    const char* const bad[] = {"",      "{",   "[1,]", "{\"a\" 1}", "{\"a\":}", "\"x",        "[1 2]",
                               "{} {}", "[1}", "nul",  "{a:1}",     "\"\t\"",   "{\"a\":1,}", "-"};
    char deep[300];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!CHECK(!json_whole(bad[i]))) printf("  accepted: %s\n", bad[i]);
    memset(deep, '[', 150);
    memset(deep + 150, ']', 149);
    deep[299] = 0;
    CHECK(!json_whole(deep));
}

/* ---- the command line --------------------------------------------------------------------------------- */

TEST(help_lists_names_and_options)
{
    CHECK_EQ(run("", "--help"), 0);
    CHECK(prints("out", "usage: ggnn-bench"));
    CHECK(prints("out", "roof "));
    CHECK(prints("out", "--min-time X") && prints("out", "--fanout N,N,...") && prints("out", "--batch N"));
    CHECK_EQ(run("", "spmm --help"), 0);
}

TEST(unknown_names_list_the_names)
{
    CHECK_EQ(run("", "rof"), 2);
    CHECK(prints("err", "rof: not one of roof"));
    CHECK(prints("err", "is roof meant?"));
}

TEST(bad_values_name_the_option_and_the_value)
{
    CHECK_EQ(run("", "roof --reps many"), 2);
    CHECK(prints("err", "--reps 'many': not an integer"));
    CHECK_EQ(run("", "roof --reps 0"), 2);
    CHECK(prints("err", "--reps 0: must be between 1 and"));
    CHECK_EQ(run("", "roof --min-time -1"), 2);
    CHECK(prints("err", "--min-time -1"));
    CHECK_EQ(run("", "roof --type f64"), 2);
    CHECK(prints("err", "--type f64: not one of f32|f16"));
    CHECK_EQ(run("", "roof --cold --warm"), 2);
    CHECK(prints("err", "--cold and --warm"));
    CHECK_EQ(run("", "roof --check . --once"), 2);
    CHECK_EQ(run("", "roof --check . --alone"), 2);
    CHECK_EQ(run("", "gemm --turns --once"), 2);
    CHECK(prints("err", "--turns measures roofs beside each case: no --once, no --alone"));
    CHECK_EQ(run("", "gemm --turns --alone"), 2);
    CHECK_EQ(run("", "gemm --turns --plugin mine.so"), 2);
    CHECK(prints("err", "--turns is of ggnn and its roofs; a plug-in is in turns with ggnn: no --plugin"));
    CHECK_EQ(run("", "roof --nosuch"), 2);
}

TEST(failures_are_said_and_end_in_1)
{
    CHECK_EQ(run("", "roof --json /nowhere/at/all.json"), 1);
    CHECK(prints("err", "/nowhere/at/all.json: No such file"));
    CHECK_EQ(run("", "roof --csv /nowhere/at/all.csv"), 1);
    CHECK(prints("err", "/nowhere/at/all.csv: No such file"));
    char pipe[600], line[700];
    CHECK(mkfifo(folder_path(pipe, "pipe"), 0600) == 0);
    snprintf(line, sizeof line, "roof --json %s", pipe);
    CHECK_EQ(run("timeout -k 5 20", line), 1); /* it would wait for a reader */
    CHECK(prints("err", "is a pipe, no file can be put there"));
}

TEST(backends_that_were_not_built_are_named)
{
    CHECK_EQ(run("", "roof --quick --backend cuda"), 1);
    CHECK(prints("err", "ggnn-bench-cuda: "));
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* value is the best sample's rate, median lies in the middle, there are as many samples as asked for. */
static void check_timing(const char* at, int samples)
{
    double median = json_number(json_member(at, "median")), least = json_number(json_member(at, "least"));
    int count = 0, below = 0, above = 0;
    for (const char* s = json_begin(json_member(at, "samples")); s; s = json_next(s)) {
        double value = json_number(s);
        count++;
        below += value <= median;
        above += value >= median;
        CHECK(value > 0 && value >= least);
    }
    CHECK(count >= samples);
    CHECK(2 * below >= count && 2 * above >= count);
}

TEST(roofs_are_kept_with_all_samples)
{
    char* text = json_of("roof --quick --reps 6 --min-time 0");
    const char* root = text ? json_first(text) : NULL;
    int count = 0;
    if (!CHECK(text && json_whole(text))) return;
    for (const char* r = json_begin(json_member(root, "roofs")); r; r = json_next(r), count++) {
        double amount = json_number(json_member(r, "amount")), least = json_number(json_member(r, "least"));
        double rate = json_is_text(json_member(r, "unit"), "s") ? least / amount : amount / least;
        check_timing(r, 6);
        CHECK_NEAR(json_number(json_member(r, "value")) / rate, 1, 1e-12);
    }
    CHECK(count >= 14);
    CHECK(json_number(json_member(json_member(root, "machine"), "cores")) >= 1);
    CHECK(json_member(json_member(root, "build"), "flags") != NULL);
    CHECK(json_is_text(json_next(json_begin(json_member(root, "command"))), "roof"));
    free(text);
}

/* A small graph with features, so that a whole run takes a moment. */
static char graph[600];
static void make_graph(void)
{
    char line[800];
    snprintf(line, sizeof line, "generate planted %s --nodes 3000 --edges 30000 --features 24 --classes 4",
             folder_path(graph, "graph.ggnn"));
    if (run("", line) != 0) printf("  %s", printed("err"));
}

static int count_of(const char* array)
{
    int count = 0;
    for (const char* at = json_begin(array); at; at = json_next(at)) count++;
    return count;
}

/* Is what a result says of its roof what the roofs say? */
static void check_share(const char* root, const char* r)
{
    const char* name = json_member(r, "roof");
    double seconds = json_number(json_member(r, "roof_seconds")),
           share = json_number(json_member(r, "share"));
    char roof[64];
    int found = 0;
    if (!json_copy_text(name, roof, sizeof roof)) return;
    for (const char* at = json_begin(json_member(root, "roofs")); at; at = json_next(at))
        found += json_is_text(json_member(at, "name"), roof) &&
                 json_number(json_member(at, "size")) == json_number(json_member(r, "roof_size")) &&
                 json_number(json_member(at, "threads")) == json_number(json_member(r, "threads"));
    CHECK_EQ(found, 1);
    CHECK_NEAR(share * json_number(json_member(r, "median")) / seconds, 1, 1e-9);
}

/* No two results of a run may be taken for one another. */
static void check_names(const char* results)
{
    for (const char* a = json_begin(results); a; a = json_next(a))
        for (const char* c = json_next(a); c; c = json_next(c)) {
            char entry[64], what[128];
            if (!json_copy_text(json_member(a, "bench"), entry, sizeof entry) ||
                !json_copy_text(json_member(a, "case"), what, sizeof what))
                continue;
            if (!json_is_text(json_member(c, "bench"), entry) || !json_is_text(json_member(c, "case"), what))
                continue;
            if (!CHECK(json_number(json_member(a, "threads")) != json_number(json_member(c, "threads"))))
                printf("  twice: %s: %s\n", entry, what);
        }
}

/* Bytes everywhere; operations where floats are computed, and nowhere else. */
static void check_least(const char* r, const char* entry)
{
    static const char* const floats = "spmm|sddmm|softmax|gat|backward|gemm|step|epoch";
    char what[128];
    CHECK(json_copy_text(json_member(r, "case"), what, sizeof what));
    const bool within = strncmp(what, "SpMM", 4) == 0 || strncmp(what, "edge softmax", 12) == 0 || strncmp(what, "A B", 3) == 0;
    const bool several = strcmp(entry, "threads") == 0 || strcmp(entry, "growth") == 0;
    const double wanted = several ? within : options_choice(floats, entry) >= 0, is = json_number(json_member(r, "flops"));
    bool good = CHECK(json_number(json_member(r, "bytes")) > 0) & CHECK((is > 0) == (wanted > 0)) & CHECK(is >= 0);
    if (!good) printf("  %s: %s\n", entry, what);
}

/* Edges of list v of 2^17: a star's, those of a power law, and 32 each. */
static int64_t edges_of_list(int kind, int64_t v)
{
    if (kind == 0) return v == 5 ? 4000000 : 1;
    return kind == 1 ? (int64_t)(4e5 / pow((double)(v + 1), .7)) : 32;
}

/* A hub's list is cut: else one of 64 threads had 62 times the mean of the star's work. */
TEST(operations_give_many_threads_even_work)
{
    enum { LISTS = 1 << 17 };
    int64_t* indptr = malloc((LISTS + 1) * sizeof *indptr);
    for (int kind = 0; kind < 3; kind++) {
        indptr[0] = 0;
        for (int64_t v = 0; v < LISTS; v++) indptr[v + 1] = indptr[v] + edges_of_list(kind, v);
        int32_t* indices = calloc((size_t)indptr[LISTS], sizeof *indices);
        for (int op = BALANCE_SUM; op <= BALANCE_SOFTMAX_BACK; op++) {
            CHECK_EQ(balance_counted((balance_of)op, indptr, indices, LISTS, LISTS, 32, 1), 1);
            for (int32_t threads = op < BALANCE_SOFTMAX ? 2 : 8; threads <= 64; threads *= 2) { /* fewer leave softmax's hubs whole */
                const double is = balance_counted((balance_of)op, indptr, indices, LISTS, LISTS, 32, threads);
                if (!CHECK(is >= 1 && is <= 1.1)) printf("  kind %d, operation %d, %d threads: %g\n", kind, op, (int)threads, is);
            }
        }
        free(indices);
    }
    free(indptr);
}

/* Page i is written by thread i % 3, then used by thread (i + i / used) % 3; every page past `pages` has no writer or no user. */
static double pages_used(volatile char* page, int64_t size, int pages, int used)
{
    for (int use = 0; use < 2; use++) {
        if (use) touch_users();
        else touch_writers();
#ifdef _OPENMP
#pragma omp parallel for schedule(static, 1) num_threads(3)
#endif
        for (int thread = 0; thread < 3; thread++)
            for (int i = 0; i < pages; i++)
                if ((use ? i + i / used : i) % 3 == thread) page[i * size + i % size] = 1;
        page[(pages + use) * size] = 1;
    }
    return touch_share();
}

TEST(pages_are_counted_by_who_writes_and_who_uses_them)
{
    const int64_t size = sysconf(_SC_PAGESIZE);
#ifdef _OPENMP
    int given = 0;
    omp_set_dynamic(0);
#pragma omp parallel num_threads(3) reduction(+ : given)
    given++;
    if (given != 3) SKIP("OpenMP gives fewer than three threads");
#endif
    char* page = touch_new(32 * (size_t)size);
    if (!page) SKIP("no system that tells");
    touch_writers();
    touch_users();
    CHECK(touch_share() == -1 && page[31 * size] == 0);
#ifdef _OPENMP
    CHECK(pages_used(page, size, 30, 30) == 1 && pages_used(page, size, 30, 15) == .5 && pages_used(page, size, 30, 10) == 1. / 3);
#else
    CHECK(pages_used(page, size, 30, 10) == 1);
#endif
    CHECK(pages_used(page, size, 0, 1) == -1);
    touch_free();
}

TEST(every_entry_is_measured_and_its_answers_compared)
{
    static const struct {
        const char* name;
        int results, ratios, checks; /* at least */
    } entry[] = {{"random", 2, 1, 1},  {"sample", 10, 3, 6},  {"unique", 9, 6, 12}, {"block", 4, 2, 7},
                 {"gather", 12, 8, 4}, {"spmm", 9, 3, 4},     {"sddmm", 5, 3, 2},   {"softmax", 4, 2, 2},
                 {"gat", 7, 4, 5},     {"backward", 4, 2, 2}, {"gemm", 12, 6, 6},   {"step", 3, 0, 0},
                 {"epoch", 3, 0, 0},   {"threads", 4, 0, 0},  {"growth", 8, 0, 0},  {"peer", 6, 4, 4}};
    for (size_t i = 0; i < sizeof entry / sizeof *entry; i++) {
        char line[800];
        snprintf(line, sizeof line, "%s --quick --data %s --threads 2 --min-time 0", entry[i].name, graph);
        char* text = json_of(line);
        const char* root = text ? json_first(text) : NULL;
        const char* results = json_member(root, "results");
        if (!CHECK(text && json_whole(text))) continue;
        bool good = CHECK(count_of(results) >= entry[i].results) &
                    CHECK(count_of(json_member(root, "ratios")) >= entry[i].ratios) &
                    CHECK(json_number(json_member(root, "checks")) >= entry[i].checks);
        for (const char* r = json_begin(results); r; r = json_next(r)) {
            check_timing(r, 5);
            check_share(root, r);
            check_least(r, entry[i].name);
            CHECK(json_number(json_member(r, "work")) > 0);
            CHECK(json_is_text(json_member(r, "bench"), entry[i].name));
        }
        check_names(results);
        if (!good)
            printf("  %s: %d results, %d ratios, %g checks\n", entry[i].name, count_of(results),
                   count_of(json_member(root, "ratios")), json_number(json_member(root, "checks")));
        free(text);
    }
}

/* Samples of ours, as many as asked for, beside no roof and no rival. */
TEST(alone_measures_ours_without_roofs_and_plain_versions)
{
    char line[2000], path[700];
    snprintf(line, sizeof line, "spmm gather sddmm --quick --alone --data %s --reps 4 --min-time 0 --json %s", graph,
             folder_path(path, "alone.json"));
    CHECK_EQ(run("", line), 0);
    const char* text = folder_text("alone.json");
    CHECK(strstr(text, "\"roofs\": []") && !strstr(text, "\"rival\": true") && strstr(text, "\"case\": \"mean, graph, F 32\""));
    snprintf(line, sizeof line, "spmm --quick --alone --features 40 --data %s --reps 1 --min-time 0", graph);
    CHECK_EQ(run("", line), 0);
    CHECK(prints("out", "mean, graph, F 40 ") && prints("out", "input hop"));
    CHECK(!strstr(printed("out"), "weighted") && !strstr(printed("out"), "F 32 "));
    text = folder_text("alone.json");
    CHECK(!strstr(text, "\"repeats\": 0") && strstr(text, "input hop from the store") && strstr(text, "\"ratios\": []"));
}

TEST(own_sizes_run_once_and_alone)
{
    static const char* const line[] = {"spmm --rows 500 --degree 4 --features 24 --heads 3",
                                       "spmm --rows 500 --degree 4 --sources 2000 --cold",
                                       "gather --rows 500 --features 30 --type f16",
                                       "sddmm --rows 300 --degree 3 --features 12 --heads 4",
                                       "softmax --rows 300 --heads 2",
                                       "gat --rows 300 --sources 400 --heads 2 --features 8",
                                       "backward --rows 300 --features 16",
                                       "gemm --rows 300 --features 40",
                                       "unique --rows 900 --sources 100",
                                       "sample --rows 64 --degree 9",
                                       "block --rows 64 --degree 3"};
    for (size_t i = 0; i < sizeof line / sizeof *line; i++) {
        char all[900];
        snprintf(all, sizeof all, "%s --once --data %s", line[i], graph);
        char* text = json_of(all);
        const char* root = text ? json_first(text) : NULL;
        if (!CHECK(text && json_whole(text))) continue;
        CHECK(count_of(json_member(root, "results")) >= 1);
        CHECK_EQ(count_of(json_member(root, "roofs")), 0);
        CHECK_EQ(count_of(json_member(root, "ratios")), 0);
        for (const char* r = json_begin(json_member(root, "results")); r; r = json_next(r))
            CHECK_EQ(count_of(json_member(r, "samples")), 1);
        free(text);
    }
    CHECK_EQ(run("", "step --rows 5"), 2);
    CHECK(prints("err", "step has no sizes of your own"));
    CHECK_EQ(run("", "spmm --rows 500 --features 10 --heads 3"), 1);
    CHECK(prints("err", "--heads 3: must divide --features 10"));
    CHECK_EQ(run("", "spmm --rows 2000000000 --degree 100000"), 1);
    CHECK(prints("err", "a block has less than 2^31"));
}

/* E edges, D targets, F columns, K heads, by README.md's table. */
TEST(operations_are_counted_by_their_formula)
{
    enum { D = 300, E = 4 * D, F = 24, K = 3 };
    static const struct {
        const char *name, *begins; /* of the case */
        double flops;
    } row[] = {{"spmm", "mean", E * F + D * F},
               {"spmm --heads 3", "weighted sum", 2 * E * F},
               {"sddmm --heads 3", "dot", 2 * E * F},
               {"softmax --heads 3", "heads 3", 5 * E * K},
               {"gat --heads 3", "own block forward", (E + D) * (6 * K + 2 * F) + D * F},
               {"gat --heads 3", "last hop backward", (E + D) * (9 * K + 4 * F) + 2 * D * F},
               {"backward", "mean", 2 * E * F},
               {"gemm", "A B", 2. * D * F * 256}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char line[800], what[128];
        snprintf(line, sizeof line, "%s --rows %d --degree 4 --sources 700 --features %d --once", row[i].name, D, F);
        char* text = json_of(line);
        bool found = false;
        for (const char* r = json_begin(json_member(text ? json_first(text) : NULL, "results")); r; r = json_next(r)) {
            if (!json_copy_text(json_member(r, "case"), what, sizeof what)) continue;
            if (strncmp(what, row[i].begins, strlen(row[i].begins)) != 0) continue;
            found = true;
            if (!CHECK_NEAR(json_number(json_member(r, "flops")), row[i].flops, 0)) printf("  %s: %s\n", row[i].name, what);
        }
        CHECK(found);
        free(text);
    }
}

TEST(without_memory_it_says_so)
{
    for (int n = 1; n <= 61; n += test_is("--quick") ? 30 : 4) {
        char before[64], line[800];
        snprintf(before, sizeof before, "GGNN_TEST_FAIL_ALLOCATION=%d", n);
        snprintf(line, sizeof line, "unique gather --quick --data %s --threads 1 --reps 1 --min-time 0",
                 graph);
        CHECK_EQ(run(before, line), 1);
        CHECK(prints("err", "out of memory"));
    }
}

TEST(data_that_cannot_be_used_is_named)
{
    char path[600], line[800];
    CHECK_EQ(run("", "sample --data /nowhere.ggnn"), 1);
    CHECK(prints("err", "/nowhere.ggnn"));
    write_file(folder_path(path, "bad.ggnn"), "nonsense", 8);
    snprintf(line, sizeof line, "sample --data %s", path);
    CHECK_EQ(run("", line), 1);
    CHECK(prints("err", "bad.ggnn"));
    /* what needs no graph is measured all the same */
    char both[2000], some[600];
    snprintf(both, sizeof both, "sample random --quick --min-time 0 --data %s --json %s", path, folder_path(some, "some.json"));
    CHECK_EQ(run("", both), 1);
    CHECK(prints("err", "ggnn-bench: sample: "));
    char* text = read_all(some);
    const char* root = text ? json_first(text) : NULL;
    CHECK(count_of(json_member(root, "results")) >= 2);
    CHECK_EQ(count_of(json_member(root, "failures")), 1);
    free(text);
}

/* ---- the harness, with a clock that says what the test wants ------------------------------------------- */

static const double* script; /* seconds of the next samples */
static int asked;
static int64_t most_repeats; /* in a sample */
static double scripted(bench* b, const bench_case* c, int64_t repeats)
{
    (void)b;
    c->run(c->context);
    asked++;
    if (repeats > most_repeats) most_repeats = repeats;
    return *script++ * (double)repeats;
}
static int evicted;
static void count_evictions(bench* b)
{
    (void)b;
    evicted++;
}
static const char* no_device(bench* b)
{
    (void)b;
    return "scripted";
}
static void run_nothing(void* context) { (void)context; }
static bool open_roof(bench* b, bench_case* c, int64_t size)
{
    (void)b;
    c->run = run_nothing;
    c->work = size ? (double)size : 1000;
    return true;
}
static int cases = 1; /* of the entry */
static bool rivals;   /* its second case is what ours is compared with */
static bool scripted_entry(bench* b)
{
    bench_case c = {
        .what = "a case", .run = run_nothing, .work = 10, .unit = "edges", .demand = {{"units", 0, 1000}}};
    if (!bench_measure(b, &c)) return false;
    snprintf(c.what, sizeof c.what, "another case");
    c.rival = rivals;
    return cases == 1 || bench_measure(b, &c) != NULL;
}
static const bench_roof_kind scripted_roofs[] = {
    {"units", "units", "", open_roof}, {"delay", "s", "", open_roof}, {NULL, NULL, NULL, NULL}};
static const bench_entry scripted_entries[] = {{"scripted", "a test", scripted_entry, false, false},
                                               {NULL, NULL, NULL, false, false}};
static const bench_backend scripted_backend = {
    "scripted", scripted_entries, scripted_roofs, scripted, count_evictions, no_device, NULL, NULL};

static void begin(bench* b, const double* seconds)
{
    memset(b, 0, sizeof *b);
    b->backend = &scripted_backend;
    b->entry = "scripted";
    b->o.reps = 5;
    b->threads = 2;
    script = seconds;
    asked = evicted = 0;
    most_repeats = 0;
    CHECK(bench_open(b));
    b->state->out = fopen("/dev/null", "w");
}
static void finish_bench(bench* b)
{
    fclose(b->state->out);
    bench_close(b);
}

/* One run that does not count, then five samples, for the roof first. */
static const double usual[] = {9, .5, .4, .6, .5, .5, 9, .9, .8, 1.0, .85, .8};

static bool agrees(void* context) { return *(const bool*)context; }

/* Nine turns after a run of each that does not count: theirs takes 1 to 9 times as long. A wrong answer leaves nothing. */
TEST(turns_have_a_run_of_each_and_the_median_of_their_ratios)
{
    static const double turn[] = {50, 60, 2, 18, 1, 1, 1, 5, 1, 3, 2, 8, 1, 2, 1, 7, 3, 18, 1, 8};
    for (int good = 1; good >= 0; good--) {
        bool right = good;
        bench b;
        begin(&b, turn);
        bench_case ours = {.what = "mine", .run = run_nothing, .context = &right, .work = 10, .unit = "edges"}, theirs = ours;
        snprintf(theirs.what, sizeof theirs.what, "theirs");
        CHECK_EQ(bench_turns(&b, &ours, &theirs, "theirs", agrees), right);
        CHECK_EQ(asked, 20);
        CHECK(b.state->num_results == 2 * good && b.state->num_ratios == good);
        const bench_ratio_value* v = b.state->ratio;
        if (good) CHECK(v->ours == 0 && v->theirs == 1 && v->turns == 9);
        if (good) CHECK(v->ratio > 4.999 && v->ratio < 5.001 && v->lower > 2.999 && v->lower < 3.001 && v->upper > 6.999 && v->upper < 7.001);
        finish_bench(&b);
    }
}

TEST(share_is_the_roofs_least_time_over_the_median)
{
    bench b;
    begin(&b, usual);
    CHECK(scripted_entry(&b));
    const bench_result* r = &b.state->result[0];
    CHECK_EQ(b.state->num_roofs, 1);
    CHECK_NEAR(b.state->roof[0].value, 1000 / .4, 1e-9); /* the best sample */
    CHECK_NEAR(r->median, .85, 1e-12);
    CHECK_NEAR(r->least, .8, 1e-12);
    CHECK_NEAR(r->most, 1.0, 1e-12);
    CHECK_NEAR(r->roof_seconds, .4, 1e-12);
    CHECK_EQ(r->count, 5);
    CHECK_EQ(asked, 12);
    finish_bench(&b);
}

/* Of six samples the median lies between two, the least rules a roof, and a ratio is of medians. */
static const char figures_csv[] =
    "# results\nbench,case,threads,rival,cold,unit,work,bytes,flops,median,least,most,samples,roof,roof_size,share,disturbed,"
    "demands\n"
    "scripted,ours,2,,,edges,10,20,40,4,1,13,6,delay,0,0.5,,delay 0\n"
    "scripted,\"theirs, \"\"plain\"\"\",1,true,true,edges,10,0,0,8,6,9,6,,0,,,\n"
    "# ratios\nbench,case,threads,of,ratio,goal,turns,lower,upper\nscripted,ours,2,theirs,2,,0,,\n# end\n";
TEST(figures_are_those_of_the_samples_and_of_the_case)
{
    static const double seconds[] = {9, 4, 2, 3, 5, 6, 7, 9, 1, 2, 3, 5, 8, 13, 9, 6, 7, 8, 8, 9, 9};
    char path[600], lines[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    begin(&b, seconds);
    b.o.reps = 6;
    b.o.json = folder_path(path, "figures.json");
    bench_case c = {.what = "ours", .run = run_nothing, .work = 10, .unit = "edges", .bytes = 20, .flops = 40, .demand = {{"delay", 0, 1000}}};
    bench_case d = {.what = "theirs, \"plain\"", .threads = 1, .run = run_nothing, .work = 10, .unit = "edges"};
    d.cold = d.rival = true;
    const bench_result *ours = bench_measure(&b, &c), *theirs = bench_measure(&b, &d);
    CHECK(bench_ratio(&b, ours, theirs, "theirs", 0) && bench_write_json(&b, 1, arguments));
    b.o.csv = folder_path(lines, "figures.csv");
    CHECK(bench_write_csv(&b, 1, arguments));
    CHECK_STR(strstr(folder_text("figures.csv"), "# results"), figures_csv);
    CHECK_NEAR(b.state->roof[0].value, 2.0 / 1000, 1e-15);
    CHECK_NEAR(ours->roof_seconds, 2, 1e-12);
    CHECK_NEAR(ours->median, 4, 1e-12);
    CHECK_NEAR(b.state->ratio[0].ratio, 2, 1e-12);
    char* text = read_all(path);
    const char* r = json_begin(json_member(json_first(text), "results"));
    static const struct {
        const char* name;
        double value;
    } wanted[] = {{"work", 10}, {"bytes", 20}, {"flops", 40}, {"work_per_second", 2.5}, {"bytes_per_second", 5},
                  {"flops_per_second", 10}, {"share", .5},
                  {"median", 4}, {"least", 1}, {"most", 13}, {"roof_seconds", 2}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!CHECK_NEAR(json_number(json_member(r, wanted[i].name)), wanted[i].value, 1e-12)) printf("  %s\n", wanted[i].name);
    free(text);
    finish_bench(&b);
    remove(path);
    remove(lines);
}

/* A roof, then two cases that demand 1000 of it. */
static void measure_two(bench* b, const double* seconds, const char* roof)
{
    bench_case c = {.what = "first", .run = run_nothing, .work = 10, .unit = "edges", .demand = {{roof, 0, 1000}}};
    begin(b, seconds);
    CHECK(bench_measure(b, &c) != NULL);
    snprintf(c.what, sizeof c.what, "second");
    CHECK(bench_measure(b, &c) != NULL);
    CHECK_EQ(b->state->num_roofs, 1);
}

TEST(a_share_over_110_per_cent_measures_its_roof_again)
{
    static const double better[] = {9, 1, 1, 1, 1, 1, 9, 2,  2,  2,  2,  2,  9, .8, .8, .8, .8, .8,
                                    9, .9, .9, .9, .9, .9, 9, .5, .5, .5, .5, .5};
    static const double once[] = {9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, .8, .8, .8, .8, .8, 9, .8, .8, .8, .8, .8};
    static const double near[] = {9, 1.09, 1.09, 1.09, 1.09, 1.09, 9, 2, 2, 2, 2, 2, 9, 1, 1, 1, 1, 1};
    bench b;
    measure_two(&b, better, "units");
    CHECK_EQ(asked, 30);
    CHECK_NEAR(b.state->roof[0].value, 2000, 1e-9);
    CHECK_EQ(b.state->roof[0].measured, 3);
    CHECK_NEAR(bench_share(&b.state->result[0]), .5, 1e-12); /* of the value that the roof had */
    CHECK_NEAR(bench_share(&b.state->result[1]), .625, 1e-12);
    CHECK(!b.state->result[1].disturbed);
    finish_bench(&b);
    measure_two(&b, once, "units");
    CHECK_EQ(asked, 24); /* no further than it must */
    CHECK_NEAR(bench_share(&b.state->result[1]), 1, 1e-12);
    finish_bench(&b);
    measure_two(&b, once, "delay"); /* the best of a latency is the least */
    CHECK_NEAR(bench_share(&b.state->result[1]), 1, 1e-12);
    finish_bench(&b);
    measure_two(&b, near, "units");
    CHECK_EQ(asked, 18);
    CHECK(!b.state->result[1].disturbed);
    finish_bench(&b);
}

TEST(a_share_that_stays_over_110_per_cent_is_disturbed)
{
    static const double worse[] = {9, 1,   1,   1,   1,   1,   9, 2,   2,   2,   2,   2,   9, .8, .8, .8, .8, .8,
                                   9, 1.2, 1.2, 1.2, 1.2, 1.2, 9, 1.1, 1.1, 1.1, 1.1, 1.1, 9, .1, .1, .1, .1, .1};
    char path[600], lines[600], table[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    measure_two(&b, worse, "units");
    CHECK_EQ(asked, 30); /* twice more, no third time */
    CHECK_NEAR(b.state->roof[0].value, 1000, 1e-9); /* the best stands, with its samples */
    CHECK_NEAR(b.state->roof[0].timing.most, 1, 1e-12);
    CHECK_NEAR(bench_share(&b.state->result[1]), 1.25, 1e-12);
    CHECK(!b.state->result[0].disturbed && b.state->result[1].disturbed);
    bench_case c = {.what = "third", .run = run_nothing, .work = 10, .unit = "edges", .demand = {{"units", 0, 1000}}};
    CHECK(bench_measure(&b, &c)->disturbed);
    CHECK_EQ(asked, 36); /* nor for a later case */
    fclose(b.state->out);
    b.state->out = fopen(folder_path(table, "table"), "w");
    bench_print_result(&b, &b.state->result[0]);
    bench_print_result(&b, &b.state->result[1]);
    CHECK(strstr(folder_text("table"), " 125 % of units, disturbed\n") != NULL);
    CHECK(strstr(folder_text("table"), " 50 % of units\n") != NULL);
    b.o.json = folder_path(path, "d.json");
    b.o.csv = folder_path(lines, "d.csv");
    CHECK(bench_write_json(&b, 1, arguments) && bench_write_csv(&b, 1, arguments));
    char* text = read_all(path);
    const char* first = json_begin(json_member(json_first(text), "results"));
    CHECK(*json_member(first, "disturbed") == 'f' && *json_member(json_next(first), "disturbed") == 't');
    CHECK(json_number(json_member(json_begin(json_member(json_first(text), "roofs")), "measured")) == 3);
    CHECK(strstr(folder_text("d.csv"), ",1.25,true,") != NULL);
    free(text);
    finish_bench(&b);
    remove(path);
    remove(lines);
}

TEST(a_case_is_sampled_for_min_time)
{
    static double seconds[BENCH_SAMPLES_MAX + 1];
    bench b;
    bench_case c = {.what = "long", .run = run_nothing, .work = 1, .unit = "edges"};
    for (int i = 0; i <= BENCH_SAMPLES_MAX; i++) seconds[i] = 1;
    begin(&b, seconds);
    b.o.min_time = .05; /* of the wall clock, in which a scripted second takes a microsecond */
    CHECK(bench_measure(&b, &c)->count > 5);
    finish_bench(&b);
}

TEST(the_longest_demand_rules_or_all_add_up)
{
    static const double seconds[] = {9, 2, 2, 2, 2, 2, 9, 1, 1, 1, 1, 1, 9, 5, 5, 5, 5, 5, 9, 5, 5, 5, 5, 5};
    bench b;
    begin(&b, seconds);
    /* 500 units a second; a delay of 1 / 1000 s */
    bench_case c = {.what = "longest",
                    .run = run_nothing,
                    .work = 1,
                    .unit = "edges",
                    .demand = {{"units", 0, 500}, {"delay", 0, 3000}, {"unknown", 0, 1e9}}};
    const bench_result* r = bench_measure(&b, &c);
    CHECK_STR(r->roof, "delay");
    CHECK_NEAR(r->roof_seconds, 3, 1e-12);
    c.add = true;
    r = bench_measure(&b, &c);
    CHECK_STR(r->roof, "delay");
    CHECK_NEAR(r->roof_seconds, 4, 1e-12);
    CHECK_EQ(b.state->num_roofs, 2); /* measured once */
    finish_bench(&b);
}

TEST(short_runs_are_repeated_within_a_sample_unless_cold)
{
    static const double seconds[] = {1e-9, 1e-9, 1e-9, 1e-9, 1e-9, 1e-9};
    bench b;
    bench_case c = {.what = "short", .run = run_nothing, .work = 1, .unit = "edges"};
    begin(&b, seconds);
    b.o.min_time = 99e-9; /* of which a sample's part is a fifth; the wall clock passes it at once */
    CHECK_EQ(bench_measure(&b, &c)->repeats, 20);
    CHECK_EQ(evicted, 0);
    finish_bench(&b);
    begin(&b, seconds);
    b.o.min_time = 99e-9;
    b.o.cold = true;
    const bench_result* r = bench_measure(&b, &c);
    CHECK_EQ(r->repeats, 1);
    CHECK_EQ(evicted, 6);
    finish_bench(&b);
}

TEST(ratios_are_of_rates_of_work)
{
    static const double seconds[] = {9, 2, 2, 2, 2, 2, 9, 3, 3, 3, 3, 3};
    bench b;
    begin(&b, seconds);
    bench_case c = {.what = "ours", .run = run_nothing, .work = 8, .unit = "edges"}, d = c;
    d.work = 4;
    const bench_result *ours = bench_measure(&b, &c), *theirs = bench_measure(&b, &d);
    CHECK(bench_ratio(&b, ours, theirs, "theirs", 2));
    CHECK_NEAR(b.state->ratio[0].ratio, 3, 1e-12);
    CHECK(bench_ratio(&b, ours, NULL, "one that was left out", 2));
    CHECK_EQ(b.state->num_ratios, 1);
    finish_bench(&b);
}

TEST(rivals_are_left_out_of_single_runs)
{
    static const double seconds[] = {1, 1, 1};
    bench b;
    begin(&b, seconds);
    bench_case c = {
        .what = "ours", .run = run_nothing, .work = 8, .unit = "edges", .demand = {{"units", 0, 1}}};
    b.o.once = true;
    CHECK_EQ(bench_measure(&b, &c)->count, 1);
    c.rival = true;
    CHECK(bench_measure(&b, &c) == NULL);
    CHECK_STR(b.why.text, "");
    CHECK_EQ(asked, 1); /* no roof, no run before it */
    finish_bench(&b);
}

TEST(wrong_answers_are_errors)
{
    static const float ours[] = {1, 2, 3}, close[] = {1, 2, 3.00002f}, far[] = {1, 2, 3.1f},
                       none[] = {1, NAN, 3};
    bench b;
    begin(&b, usual);
    CHECK(bench_equal(&b, "x", ours, ours, sizeof ours));
    CHECK(bench_near(&b, "x", ours, close, 3, 1e-5));
    CHECK(!bench_near(&b, "x", ours, far, 3, 1e-2));
    CHECK(strstr(b.why.text, "wrong answer: x[2] is 3") != NULL);
    b.why.text[0] = 0;
    CHECK(!bench_near(&b, "x", none, ours, 3, 1));
    b.why.text[0] = 0;
    CHECK(!bench_near(&b, "x", ours, none, 3, 1));
    b.why.text[0] = 0;
    CHECK(!bench_equal(&b, "x", ours, far, sizeof ours));
    CHECK(strstr(b.why.text, "wrong answer: x differs") != NULL);
    CHECK(!bench_run(&b, &scripted_entries[0])); /* an error stays one */
    finish_bench(&b);
}

/* Entries of a run: what each finds in the JSON of those before it. The second gives a wrong answer, the third's memory is
   taken. */
static char seen[3][3000];
static int seen_lines[3]; /* of the CSV */
static bool look_back(bench* b, int entry)
{
    char* text = read_all(b->o.json);
    snprintf(seen[entry], sizeof seen[entry], "%s", text ? text : "none");
    free(text);
    seen_lines[entry] = times_in(folder_text("run.csv"), ",edges,");
    return scripted_entry(b);
}
static bool first_entry(bench* b) { return look_back(b, 0); }
static bool wrong_entry(bench* b) { return look_back(b, 1) && bench_equal(b, "sums", "a", "b", 1); }
static bool last_entry(bench* b) { return look_back(b, 2) && bench_new(b, SIZE_MAX / 2, "more memory than there is"); }

TEST(results_are_written_as_they_come_and_a_wrong_entry_stops_no_other)
{
    static const bench_entry entry[] = {
        {"first", "", first_entry, false, false}, {"wrong", "", wrong_entry, false, false}, {"last", "", last_entry, false, false}};
    static const double seconds[] = {9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, 2, 2, 2, 2, 2, 9, 2, 2, 2, 2, 2};
    const bench_entry* chosen[] = {&entry[0], &entry[1], &entry[2]};
    char path[600], other[600], lines[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    begin(&b, seconds);
    b.o.json = folder_path(path, "run.json");
    b.o.csv = folder_path(lines, "run.csv");
    write_file(folder_path(other, "kept.json"), "kept", 4);
    remove(path);
    CHECK(symlink("kept.json", path) == 0); /* a link stays, and so does what it names until there is something better */
    CHECK(!bench_run_all(&b, chosen, 3, 1, arguments));
    CHECK_STR(b.why.text, ""); /* each was told when it came */
    CHECK_STR(seen[0], "kept");
    for (int i = 1; i < 3; i++) {
        const char* root = json_first(seen[i]);
        CHECK_EQ(seen_lines[i], i);
        CHECK(json_whole(seen[i]));
        CHECK_EQ(count_of(json_member(root, "results")), i);
        CHECK_EQ(count_of(json_member(root, "failures")), i - 1);
        CHECK_EQ(count_of(json_member(root, "left")), 3 - i);
    }
    char* text = read_all(other);
    const char* root = text ? json_first(text) : NULL;
    const char* failure = json_begin(json_member(root, "failures"));
    CHECK_EQ(count_of(json_member(root, "results")), 3);
    CHECK(json_is_text(json_member(failure, "bench"), "wrong"));
    CHECK(json_is_text(json_member(failure, "why"), "wrong answer: sums differs from the plain loop's at byte 0 of 1"));
    CHECK(json_is_text(json_member(json_next(failure), "bench"), "last"));
    CHECK_EQ(count_of(json_member(root, "left")), 0);
    CHECK_EQ(temporaries(), 0);
    free(text);
    finish_bench(&b);
    remove(path);
    remove(other);
    remove(lines);
}

static int undone[4], num_undone;
static void undo(void* context) { undone[num_undone++] = *(int*)context; }
static int numbers[] = {1, 2, 3};
static bool deferring_entry(bench* b)
{
    int32_t mark;
    CHECK(bench_defer(b, undo, &numbers[0]) && bench_new(b, 100, "memory"));
    mark = bench_mark(b);
    CHECK(bench_defer(b, undo, &numbers[1]));
    bench_release(b, mark);
    CHECK_EQ(num_undone, 1);
    return bench_defer(b, undo, &numbers[2]);
}
TEST(an_entrys_things_are_undone_last_first)
{
    static const bench_entry entry = {"deferring", "", deferring_entry, false, false};
    bench b;
    begin(&b, usual);
    num_undone = 0;
    CHECK(bench_run(&b, &entry));
    CHECK_EQ(num_undone, 3);
    CHECK(undone[0] == 2 && undone[1] == 3 && undone[2] == 1);
    finish_bench(&b);
}

/* ---- turns with roofs ----------------------------------------------------------------------------------- */

/* Of two demands: 1000 of "units", 2 of "delay". */
static bench_in_turns of_turns(const bench_turn* x, int32_t n, bool add)
{
    const bench_case c = {.demand = {{"units", 0, 1000}, {"delay", 7, 2}}, .add = add};
    bench_turn_list t = {.kase = &c, .kind = {&scripted_roofs[0], &scripted_roofs[1]}};
    for (int32_t i = 0; i < n; i++) bench_turns_add(&t, &x[i]);
    return bench_turns_find(&t);
}

TEST(a_turn_counts_where_no_roof_moved_by_a_tenth)
{
    static const struct {
        bench_turn turn;
        bool counts;
    } row[] = {{{{1000, 10}, {1000, 10}, 2}, true}, {{{1000, 10}, {1099, 10}, 2}, true},
               {{{1000, 10}, {1100, 10}, 2}, false}, {{{1100, 10}, {1000, 10}, 2}, false},
               {{{1099, 10}, {1000, 10}, 2}, true}, {{{1000, 10}, {500, 10}, 2}, false},
               {{{1000, 10}, {1000, 11}, 2}, false}, {{{1000, 11}, {1000, 10}, 2}, false},
               {{{1000, 10}, {1000, 10.9}, 2}, true}, {{{1000, 10.9}, {1000, 10}, 2}, true},
               {{{1000, 10}, {1000, 5}, 2}, false}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const bench_in_turns v = of_turns(&row[i].turn, 1, false);
        if (!CHECK(v.turns == row[i].counts && v.thrown == !row[i].counts)) printf("  row %zu\n", i);
    }
}

TEST(a_share_in_turns_is_of_the_mean_of_both_looks)
{
    static const bench_turn turn[] = {{{1000, .25}, {1000, .25}, 4},   /* 1 s and .5 s */
                                      {{980, .25}, {1020, .25}, 4},    /* the same */
                                      {{1000, 1.48}, {1000, 1.52}, 4}}; /* 1 s and 3 s */
    static const struct {
        int first;
        bool add;
        double share;
        const char* roof;
        int64_t size;
    } row[] = {{0, false, .25, "units", 0}, {0, true, .375, "units", 0}, {1, false, .25, "units", 0},
               {2, false, .75, "delay", 7}, {2, true, 1, "delay", 7}};
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const bench_in_turns v = of_turns(&turn[row[i].first], 1, row[i].add);
        CHECK_NEAR(v.share, row[i].share, 1e-12);
        CHECK_STR(v.roof, row[i].roof);
        CHECK_EQ(v.roof_size, row[i].size);
    }
    const bench_in_turns all = of_turns(turn, 3, false); /* units rule two of three, but delays take longer in all */
    CHECK_STR(all.roof, "delay");
    CHECK_NEAR(all.share, .25, 1e-12);
}

TEST(turns_have_a_median_and_quartiles_of_those_that_count)
{
    static const bench_turn turn[] = {{{800, .1}, {800, .1}, 1.25 / .9}, {{1000, .1}, {1100, .1}, .01},
                                      {{1000, .1}, {1000, .1}, 2},       {{1000, .1}, {1000, .1}, 1 / .7},
                                      {{1000, .1}, {1000, .2}, 100},     {{1000, .1}, {1000, .1}, 1 / .6},
                                      {{2000, .1}, {2000, .1}, .5 / .8}};
    bench_in_turns v = of_turns(turn, 7, false);
    CHECK(v.turns == 5 && v.thrown == 2);
    CHECK_NEAR(v.share, .7, 1e-12);
    CHECK_NEAR(v.lower, .6, 1e-12);
    CHECK_NEAR(v.upper, .8, 1e-12);
    v = of_turns(&turn[1], 1, false);
    CHECK(v.turns == 0 && v.thrown == 1 && v.roof == NULL && isnan(v.share) && isnan(v.lower) && isnan(v.upper));
}

/* What stands on the table of a case that is measured with --turns. */
static const char* table_of(bench* b, const double* seconds, const bench_case* c)
{
    char path[600];
    begin(b, seconds);
    b->o.turns = true;
    fclose(b->state->out);
    b->state->out = fopen(folder_path(path, "table"), "w");
    CHECK(bench_measure(b, c) != NULL);
    return folder_text("table");
}

/* Ours is 2, roofs .5 before the first turn; one moves by a fifth, the one after it is from .4 to .4. */
TEST(a_case_runs_in_turns_with_its_roofs)
{
    static const double seconds[] = {9,  .5, .4, .6, .5, .5, 9,  .9, .8, 1,  .85, .8, .5, 2,  .5, 2,  .5, 2,
                                     .5, 2,  .4, 1,  .4, 2,  .4, 2,  .4, 2,  .4,  2,  .4, 2,  .4, 2,  .4};
    bench_case c = {.what = "a case", .run = run_nothing, .unit = "edges", .demand = {{"units", 0, 1000}, {"none", 0, 5}}};
    bench b;
    const char* text = table_of(&b, seconds, &c);
    const bench_in_turns* v = &b.state->result[0].in_turns;
    CHECK_EQ(asked, 12 + 1 + 2 * 10);
    CHECK(v->turns == 9 && v->thrown == 1);
    CHECK_NEAR(v->share, .2, 1e-12); /* .25 thrice, .4 once, .2 five times */
    CHECK_NEAR(v->upper, .25, 1e-12);
    CHECK_NEAR(bench_share(&b.state->result[0]), .4 / .85, 1e-12); /* as without turns */
    CHECK_NEAR(b.state->roof[0].value, 2500, 1e-9);
    CHECK(strstr(text, "47 % of units\n    in turns: 20 % of units, half of 9 turns 20 - 25 %, 1 thrown away\n") != NULL);
    finish_bench(&b);
    c.add = true;
    CHECK(strstr(table_of(&b, seconds, &c), "    in turns: 20 % of all, most: units, half of 9 turns") != NULL);
    finish_bench(&b);
    c.rival = true;
    CHECK(strstr(table_of(&b, seconds, &c), "in turns") == NULL && asked == 12);
    finish_bench(&b);
}

TEST(turns_end_where_roofs_never_stand_still)
{
    static double seconds[12 + 1 + 2 * 45];
    bench_case c = {.what = "a case", .run = run_nothing, .work = 10, .unit = "edges", .demand = {{"units", 0, 1000}}};
    bench b;
    memcpy(seconds, usual, sizeof usual);
    for (int i = 0; i <= 2 * 45; i++) seconds[12 + i] = i % 4 ? 1 : .5; /* the even ones are the roof's */
    CHECK(strstr(table_of(&b, seconds, &c), "    in turns: no share: in each of 45 turns a roof moved by 10 % or more\n"));
    CHECK_EQ(asked, 12 + 1 + 2 * 45);
    char path[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    b.o.json = folder_path(path, "t.json");
    CHECK(bench_write_json(&b, 1, arguments));
    char* text = read_all(path);
    const char* v = json_member(json_begin(json_member(json_first(text), "results")), "in_turns");
    CHECK(json_number(json_member(v, "thrown")) == 45 && json_number(json_member(v, "turns")) == 0);
    CHECK(*json_member(v, "share") == 'n' && *json_member(v, "roof") == 'n');
    free(text);
    finish_bench(&b);
    remove(path);
}

/* A roof's run of a millisecond is repeated up to 50 ms, or as long as ours; one run before each sample does not count. */
TEST(a_roof_in_turns_is_sampled_as_long_as_ours)
{
    static double seconds[200];
    bench_case c = {.what = "a case", .run = run_nothing, .unit = "edges", .demand = {{"units", 0, 1000}}, .cold = true};
    for (int is_long = 0; is_long < 2; is_long++) {
        bench b;
        for (int i = 0; i < 200; i++) seconds[i] = .001;
        for (int i = 6; i < 12; i++) seconds[i] = is_long ? 1 : .004;
        for (int i = 14; i < 200; i += 3) seconds[i] = is_long ? 1 : .004;
        table_of(&b, seconds, &c);
        CHECK_EQ(asked, 12 + 2 + 3 * 9);
        CHECK_EQ(most_repeats, is_long ? 50 : 4);
        CHECK_NEAR(b.state->result[0].in_turns.share, is_long ? .001 : .25, 1e-12);
        finish_bench(&b);
    }
}

TEST(turns_go_on_for_min_time)
{
    static double seconds[4 * BENCH_SAMPLES_MAX];
    bench_case c = {.what = "long", .run = run_nothing, .work = 1, .unit = "edges", .demand = {{"units", 0, 1000}}};
    bench b;
    for (int i = 0; i < 4 * BENCH_SAMPLES_MAX; i++) seconds[i] = 1;
    begin(&b, seconds);
    b.o.turns = true;
    b.o.min_time = .05; /* of the wall clock */
    CHECK(bench_measure(&b, &c)->in_turns.turns > 9);
    finish_bench(&b);
}

TEST(turns_are_in_the_table_the_json_and_the_lines)
{
    char line[1400], lines[600];
    snprintf(line, sizeof line, "gemm --turns --quick --min-time 0 --threads 1 --csv %s", folder_path(lines, "turns.csv"));
    char* text = json_of(line);
    const char* root = text ? json_first(text) : NULL;
    int ours = 0;
    CHECK(*json_member(json_member(root, "options"), "turns") == 't' && prints("out", "\n    in turns: "));
    for (const char* r = json_begin(json_member(root, "results")); r; r = json_next(r)) {
        const char* v = json_member(r, "in_turns");
        const double turns = json_number(json_member(v, "turns")), thrown = json_number(json_member(v, "thrown")),
                     share = json_number(json_member(v, "share"));
        if (*json_member(r, "rival") == 't') {
            CHECK(*v == 'n');
            continue;
        }
        ours++;
        CHECK((turns == 9 && turns + thrown <= 45) || turns + thrown == 45);
        if (turns == 0) continue;
        CHECK(json_is_text(json_member(v, "roof"), "madd") && json_number(json_member(v, "roof_size")) == 0 && share > 0);
        CHECK(json_number(json_member(v, "lower")) <= share && share <= json_number(json_member(v, "upper")));
    }
    CHECK_EQ(ours, 6);
    CHECK(strstr(folder_text("turns.csv"), ",demands,in_turns.roof,in_turns.roof_size,in_turns.share,") != NULL);
    free(text);
    remove(lines);
}

/* ---- the check ----------------------------------------------------------------------------------------- */

/* Writes one run as JSON or as lines, then checks a run with these seconds against it. Returns bench_check's. */
static int checked_with(bool lines, const double* before, const double* seconds, char why[640])
{
    const bench_entry* chosen[] = {&scripted_entries[0]};
    char path[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    begin(&b, before);
    b.o.json = b.o.csv = folder_path(path, lines ? "earlier.csv" : "earlier.json");
    CHECK(bench_run(&b, chosen[0]) && (lines ? bench_write_csv(&b, 1, arguments) : bench_write_json(&b, 1, arguments)));
    finish_bench(&b);
    begin(&b, seconds);
    b.o.check = folder;
    CHECK(bench_run(&b, chosen[0]));
    int status = bench_check(&b, chosen, 1);
    strcpy(why, b.why.text);
    finish_bench(&b);
    remove(path);
    return status;
}

/* The same of both. */
static int checked(const double* before, const double* seconds, char why[640])
{
    const int status = checked_with(true, before, seconds, why);
    CHECK_EQ(checked_with(false, before, seconds, why), status);
    return status;
}

TEST(check_names_what_lost_a_tenth_twice)
{
    /* the same; a slow case on a slow machine is the same share; slow once; slow twice */
    static const double twice_slow_machine[] = {9, 1, .8, 1.2, 1, 1, 9, 1.8, 1.6, 2.0, 1.7, 1.6};
    static const double once[] = {9, .5, .4, .6, .5, .5, 9, 1,  1,  1, 1,   1,
                                  9, .5, .4, .6, .5, .5, 9, .9, .8, 1, .85, .8};
    static const double twice[] = {9, .5, .4, .6, .5, .5, 9, 1, 1, 1, 1, 1,
                                   9, .5, .4, .6, .5, .5, 9, 1, 1, 1, 1, 1};
    static const double little[] = {9, .5, .4, .6, .5, .5, 9, .93, .93, .93, .93, .93,
                                    9, .5, .4, .6, .5, .5, 9, .93, .93, .93, .93, .93};
    static const double an_eighth[] = {9, .5, .4, .6, .5, .5, 9, .97, .97, .97, .97, .97,
                                       9, .5, .4, .6, .5, .5, 9, .97, .97, .97, .97, .97};
    char why[640];
    CHECK_EQ(checked(usual, usual, why), 0);
    CHECK_EQ(checked(usual, twice_slow_machine, why), 0);
    CHECK_EQ(asked, 12);
    CHECK_EQ(checked(usual, once, why), 0);
    CHECK_EQ(asked, 24);
    CHECK_STR(why, "");
    CHECK_EQ(checked(usual, twice, why), 1);
    CHECK_STR(why, "");
    CHECK_EQ(checked(usual, little, why), 0);
    CHECK_EQ(checked(usual, an_eighth, why), 1);
}

TEST(check_passes_over_what_this_run_writes)
{
    const bench_entry* chosen[] = {&scripted_entries[0]};
    char path[600], lines[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    begin(&b, usual);
    b.o.json = folder_path(path, "own.json");
    b.o.check = folder;
    CHECK(bench_run(&b, chosen[0]) && bench_write_json(&b, 1, arguments));
    b.o.csv = folder_path(lines, "own.csv");
    CHECK(bench_write_csv(&b, 1, arguments));
    CHECK_EQ(bench_check(&b, chosen, 1), 1);
    CHECK(strstr(b.why.text, "no earlier run") != NULL);
    finish_bench(&b);
    remove(path);
    remove(lines);
}

/* Writes a run's JSON to a file of the folder. */
static void write_run(const char* name, const double* seconds, int32_t threads)
{
    const bench_entry* entry = &scripted_entries[0];
    char path[600], *arguments[] = {(char*)(uintptr_t) "ggnn-bench", NULL};
    bench b;
    begin(&b, seconds);
    b.threads = threads;
    b.o.json = folder_path(path, name);
    CHECK(bench_run(&b, entry) && bench_write_json(&b, 1, arguments));
    finish_bench(&b);
}

/* Of a folder's runs: one with as many threads before one with others, then the last by name. Beside `faster` a tenth is lost. */
TEST(check_takes_the_run_that_is_most_alike_and_of_equals_the_last)
{
    static const double faster[] = {9, .5, .4, .6, .5, .5, 9, .5, .5, .5, .5, .5};
    static const double now[] = {9, .5, .4, .6, .5, .5, 9, .9, .8, 1.0, .85, .8, 9, .5, .4, .6, .5, .5, 9, .9, .8, 1.0, .85, .8};
    static const struct {
        const double *first, *second;
        int32_t threads; /* of the second */
        int status;
    } folders[] = {{faster, usual, 2, 0}, {usual, faster, 2, 1}, {usual, faster, 4, 0}, {faster, usual, 4, 1}};
    const bench_entry* chosen[] = {&scripted_entries[0]};
    char path[600];
    for (int i = 0; i < 4; i++) {
        bench b;
        write_run("m.json", folders[i].first, 2);
        write_run("n.json", folders[i].second, folders[i].threads);
        write_run("a.json", folders[i].first, 2); /* whatever the order in which the folder gives them */
        begin(&b, now);
        b.o.check = folder;
        CHECK(bench_run(&b, chosen[0]));
        CHECK_EQ(bench_check(&b, chosen, 1), folders[i].status);
        CHECK_STR(b.why.text, "");
        finish_bench(&b);
    }
    remove(folder_path(path, "m.json"));
    remove(folder_path(path, "n.json"));
    remove(folder_path(path, "a.json"));
}

/* In a file of several runs, and among files of other kinds: those without times, of rivals, of anything. */
TEST(check_finds_its_run_among_others)
{
    static const double faster[] = {9, .5, .4, .6, .5, .5, 9, .5, .5, .5, .5, .5};
    static const double now[] = {9, .5, .4, .6, .5, .5, 9, .9, .8, 1.0, .85, .8,
                                 9, .5, .4, .6, .5, .5, 9, .9, .8, 1.0, .85, .8};
    const bench_entry* chosen[] = {&scripted_entries[0]};
    char path[600], other[600], line[9000];
    write_run("m.json", usual, 2);
    write_run("n.json", faster, 4);
    snprintf(line, sizeof line, "cd %s && %s/ggnn-bench compact m.json n.json --csv many.csv && rm m.json n.json",
             folder, build);
    CHECK_EQ(system(line), 0);
    char* timeless = strdup(folder_text("many.csv"));
    strcpy(strstr(timeless, "# roofs\n"), "# end\n");
    write_file(folder_path(other, "z.csv"), timeless, strlen(timeless));
    free(timeless);
    write_file(folder_path(other, "y.csv"), "# ggnn_rivals: 1\nnothing\n", 25);
    write_file(folder_path(other, "x.csv"), "kernel,us\n", 10);
    bench b;
    begin(&b, now);
    b.o.check = folder;
    CHECK(bench_run(&b, chosen[0]));
    CHECK_EQ(bench_check(&b, chosen, 1), 0); /* of two threads, as this one, though not the last */
    CHECK_STR(b.why.text, "");
    finish_bench(&b);
    for (int i = 0; i < 4; i++) remove(folder_path(path, (const char*[]){"many.csv", "z.csv", "y.csv", "x.csv"}[i]));
}

TEST(check_forgives_two_cases_that_were_slow_in_turn)
{
    static const double before[] = {9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, 2, 2, 2, 2, 2};
    static const double turns[] = {9, 1, 1, 1, 1, 1, 9, 5, 5, 5, 5, 5, 9, 2, 2, 2, 2, 2,
                                   9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, 5, 5, 5, 5, 5};
    static const double both[] = {9, 1, 1, 1, 1, 1, 9, 5, 5, 5, 5, 5, 9, 2, 2, 2, 2, 2,
                                  9, 1, 1, 1, 1, 1, 9, 5, 5, 5, 5, 5, 9, 5, 5, 5, 5, 5};
    static const double rival[] = {9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, 5, 5, 5, 5, 5,
                                   9, 1, 1, 1, 1, 1, 9, 2, 2, 2, 2, 2, 9, 5, 5, 5, 5, 5};
    char why[640];
    cases = 2;
    CHECK_EQ(checked(before, turns, why), 0);
    CHECK_EQ(asked, 36);
    CHECK_EQ(checked(before, both, why), 1);
    CHECK_EQ(checked(before, rival, why), 1);
    rivals = true; /* what a rival loses is no loss */
    CHECK_EQ(checked(before, rival, why), 0);
    rivals = false;
    cases = 1;
}

TEST(check_says_what_it_cannot_compare)
{
    static const struct {
        const char *text, *why;
    } bad[] = {{"{", "not what ggnn-bench"},
               {"{\"a\":1}", "not what ggnn-bench"},
               {NULL, "No such file"},
               {"{\"ggnn_bench\":1,\"backend\":\"other\"}", "another backend's"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char path[600];
        bench b;
        begin(&b, usual);
        b.o.check = folder_path(path, "bad.json");
        remove(path);
        if (bad[i].text) write_file(path, bad[i].text, strlen(bad[i].text));
        CHECK_EQ(bench_check(&b, NULL, 0), 1);
        if (!CHECK(strstr(b.why.text, bad[i].why) != NULL)) printf("  %s\n", b.why.text);
        finish_bench(&b);
    }
}

int main(int argc, char** argv)
{
    if (argc > 1) test_only = argv[1];
    folder_make();
    tool_find();
    make_graph();
    strcpy(tool + strlen(tool) - strlen("ggnn-data"), "ggnn-bench");
    RUN(reader_finds_members_and_elements);
    RUN(reader_refuses_what_is_no_json);
    RUN(help_lists_names_and_options);
    RUN(alone_measures_ours_without_roofs_and_plain_versions);
    RUN(unknown_names_list_the_names);
    RUN(bad_values_name_the_option_and_the_value);
    RUN(failures_are_said_and_end_in_1);
    RUN(backends_that_were_not_built_are_named);
    RUN_SLOW(roofs_are_kept_with_all_samples);
    RUN(operations_give_many_threads_even_work);
    RUN(pages_are_counted_by_who_writes_and_who_uses_them);
    RUN_SLOW(every_entry_is_measured_and_its_answers_compared);
    RUN(own_sizes_run_once_and_alone);
    RUN(operations_are_counted_by_their_formula);
    RUN_SLOW(without_memory_it_says_so);
    RUN(data_that_cannot_be_used_is_named);
    RUN(turns_have_a_run_of_each_and_the_median_of_their_ratios);
    RUN(share_is_the_roofs_least_time_over_the_median);
    RUN(figures_are_those_of_the_samples_and_of_the_case);
    RUN(a_share_over_110_per_cent_measures_its_roof_again);
    RUN(a_share_that_stays_over_110_per_cent_is_disturbed);
    RUN(a_case_is_sampled_for_min_time);
    RUN(the_longest_demand_rules_or_all_add_up);
    RUN(short_runs_are_repeated_within_a_sample_unless_cold);
    RUN(ratios_are_of_rates_of_work);
    RUN(rivals_are_left_out_of_single_runs);
    RUN(wrong_answers_are_errors);
    RUN(results_are_written_as_they_come_and_a_wrong_entry_stops_no_other);
    RUN(an_entrys_things_are_undone_last_first);
    RUN(a_turn_counts_where_no_roof_moved_by_a_tenth);
    RUN(a_share_in_turns_is_of_the_mean_of_both_looks);
    RUN(turns_have_a_median_and_quartiles_of_those_that_count);
    RUN(a_case_runs_in_turns_with_its_roofs);
    RUN(turns_end_where_roofs_never_stand_still);
    RUN(a_roof_in_turns_is_sampled_as_long_as_ours);
    RUN(turns_go_on_for_min_time);
    RUN(turns_are_in_the_table_the_json_and_the_lines);
    RUN(check_names_what_lost_a_tenth_twice);
    RUN(check_passes_over_what_this_run_writes);
    RUN(check_takes_the_run_that_is_most_alike_and_of_equals_the_last);
    RUN(check_finds_its_run_among_others);
    RUN(check_forgives_two_cases_that_were_slow_in_turn);
    RUN(check_says_what_it_cannot_compare);
    folder_remove();
    return test_finish();
}
