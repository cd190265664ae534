/* test.h: a test passes only where it checks something and all that holds. Its counters are read, and set back, between its tests. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/test.h"

TEST(holds) { CHECK(1); }
TEST(fails) { CHECK(0); }
TEST(checks_nothing) {}
TEST(skips) { SKIP("on purpose"); }
static void* check(void* unused)
{
    CHECK(1);
    return unused;
}
TEST(checks_in_a_thread)
{
    pthread_t thread;
    if (!pthread_create(&thread, NULL, check, NULL)) pthread_join(thread, NULL);
}

typedef struct {
    int passed, failed, skipped;
} counters;

/* What a test adds to the counters, which are then as before. What it prints is not seen: it fails on purpose. */
static counters of(const char* name, void (*test)(void))
{
    const counters before = {test_passed, test_failed, test_skipped};
    const char* current = test_current;
    const char* only = test_only;
    const int errors = test_errors;
    fflush(stdout);
    const int out = dup(STDOUT_FILENO), none = open("/dev/null", O_WRONLY);
    dup2(none, STDOUT_FILENO);
    test_only = NULL;
    test_run(name, test);
    fflush(stdout);
    dup2(out, STDOUT_FILENO);
    close(none);
    close(out);
    const counters added = {test_passed - before.passed, test_failed - before.failed, test_skipped - before.skipped};
    test_passed = before.passed;
    test_failed = before.failed;
    test_skipped = before.skipped;
    test_errors = errors;
    test_skip = NULL;
    test_current = current;
    test_only = only;
    return added;
}

TEST(a_test_passes_where_it_checks_something_and_all_holds)
{
    const struct {
        const char* name;
        void (*test)(void);
        counters added;
    } each[] = {{"holds", holds, {1, 0, 0}}, {"checks nothing", checks_nothing, {0, 1, 0}}, {"fails", fails, {0, 1, 0}},
                {"skips", skips, {0, 0, 1}}, {"checks nothing after others", checks_nothing, {0, 1, 0}},
                {"checks in a thread", checks_in_a_thread, {1, 0, 0}}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        const counters added = of(each[i].name, each[i].test);
        CHECK_EQ(added.passed, each[i].added.passed);
        CHECK_EQ(added.failed, each[i].added.failed);
        CHECK_EQ(added.skipped, each[i].added.skipped);
    }
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(a_test_passes_where_it_checks_something_and_all_holds);
    return test_finish();
}
