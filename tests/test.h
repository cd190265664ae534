/* test.h - the smallest test harness that serves: TEST(name) { CHECK(...); }, RUN(name) in main, a closing line.
   Works in C and C++. A test passes when it checks something and all that holds, is skipped when it says SKIP(why).
     test_x          runs all tests: a line "ok NAME SECONDS" for each that passes
     test_x NAME     runs that one; a name that no test has is a failure
     test_x --quick  leaves out those that take seconds: RUN_SLOW(name) in main
     test_x --slow   runs those alone
     test_x --list   prints their names and runs none */
#ifndef TEST_H
#define TEST_H
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int test_passed, test_failed, test_skipped;
static int test_errors;          /* failed checks of the running test */
static char test_checked;        /* whether it checked anything */
static const char* test_skip;    /* why the running test is skipped */
static const char* test_current; /* its name */
static const char* test_only;    /* the program's first argument, or NULL */

#define TEST(name) static void name(void)
#define SKIP(why) do { test_skip = (why); return; } while (0)
#define RUN(name) (test_is("--slow") ? (void)0 : test_run(#name, name))
#define RUN_SLOW(name) (test_is("--quick") ? (void)0 : test_run(#name, name))

/* Each check prints the first few failures of a test and goes on. */
#define CHECK(condition) test_check((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_EQ(a, b) test_check_eq((int64_t)(a), (int64_t)(b), __FILE__, __LINE__, #a " == " #b)
#define CHECK_STR(a, b) test_check_str((a), (b), __FILE__, __LINE__, #a " equals " #b)
#define CHECK_NEAR(a, b, tolerance) test_check_near((a), (b), (tolerance), __FILE__, __LINE__, #a " near " #b)

static inline int test_report(int ok)
{
    __atomic_store_n(&test_checked, 1, __ATOMIC_RELAXED); /* threads check too */
    if (!ok) test_errors++;
    return !ok && test_errors <= 8;
}
static inline int test_check(int ok, const char* file, int line, const char* what)
{
    if (test_report(ok)) printf("  %s:%d: %s: not %s\n", file, line, test_current, what);
    return ok;
}
static inline int test_check_eq(int64_t a, int64_t b, const char* file, int line, const char* what)
{
    if (test_report(a == b)) printf("  %s:%d: %s: not %s: %" PRId64 " and %" PRId64 "\n", file, line, test_current, what, a, b);
    return a == b;
}
static inline int test_check_str(const char* a, const char* b, const char* file, int line, const char* what)
{
    int ok = strcmp(a, b) == 0;
    if (test_report(ok)) printf("  %s:%d: %s: not %s: \"%s\" and \"%s\"\n", file, line, test_current, what, a, b);
    return ok;
}
static inline int test_check_near(double a, double b, double tolerance, const char* file, int line, const char* what)
{
    int ok = fabs(a - b) <= tolerance;
    if (test_report(ok))
        printf("  %s:%d: %s: not %s: %.9g and %.9g differ by %.3g > %.3g\n", file, line, test_current, what, a, b, fabs(a - b), tolerance);
    return ok;
}
static inline int test_is(const char* what) { return test_only && strcmp(test_only, what) == 0; }
static inline int test_is_named(void) { return test_only && !test_is("--quick") && !test_is("--slow"); }
static inline double test_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static inline void test_run(const char* name, void (*test)(void))
{
    double start = test_seconds();
    if (test_is("--list")) printf("%s\n", name);
    if (test_is_named() && !test_is(name)) return;
    test_errors = test_checked = 0;
    test_skip = NULL;
    test_current = name;
    test();
    if (!test_checked && !test_skip) test_check(0, __FILE__, __LINE__, "a test that checks something");
    if (test_errors) test_failed++;
    else if (test_skip) test_skipped++;
    else test_passed++;
    if (test_errors || test_skip) printf("  %s %s%s%s\n", test_errors ? "FAILED" : "skipped", name, test_skip ? ": " : "", test_skip ? test_skip : "");
    else printf("ok %s %.2f\n", name, test_seconds() - start);
    fflush(stdout);
}
static inline int test_finish(void)
{
    if (test_is("--list")) return 0;
    if (test_is_named() && test_passed + test_failed + test_skipped == 0) {
        printf("  FAILED: no test is named %s; --list prints their names\n", test_only);
        test_failed++;
    }
    printf("%d passed, %d failed, %d skipped\n", test_passed, test_failed, test_skipped);
    return test_failed != 0;
}

/* Random input: splitmix64, not the library's own generator. The seed is printed so that a failure can be repeated with
   GGNN_TEST_SEED. */
static uint64_t test_state;
static inline void test_seed(uint64_t fallback)
{
    const char* given = getenv("GGNN_TEST_SEED");
    test_state = given ? strtoull(given, NULL, 10) : fallback;
    printf("  seed %" PRIu64 "\n", test_state);
}
static inline uint64_t test_random(void)
{
    uint64_t z = (test_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline int64_t test_below(int64_t n) { return (int64_t)(test_random() % (uint64_t)n); } /* [0, n): bias does not matter here */
static inline float test_uniform(void) { return (float)(test_random() >> 40) * (1.0f / 8388608.0f) - 1.0f; } /* [-1, 1) */
#endif
