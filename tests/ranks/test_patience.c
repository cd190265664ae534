/* test_patience.c - a program that has waited for others for long says so, once, and after how long. poll is this program's
   own: no test waits. */
#include <errno.h>
#include <poll.h>

#include "tests/folder.h"
#include "tests/test.h"
#include "trainer/ranks/patience.h"

static int asked, left, turns; /* milliseconds; what poll returns; its calls */

int poll(struct pollfd* of, nfds_t count, int timeout)
{
    turns++;
    asked = of && count == 1 ? timeout : -1;
    return left;
}

/* What is said on standard error while somebody waits. */
static const char* said(const char* text)
{
    static char words[600];
    char path[700];
    const int before = dup(STDERR_FILENO);
    FILE* file = fopen(folder_path(path, "said"), "w+");
    patience p;
    turns = 0;
    memset(words, 0, sizeof words);
    if (!CHECK(before >= 0 && file && dup2(fileno(file), STDERR_FILENO) >= 0)) exit(1);
    patience_begin(&p, text);
    patience_end(&p);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(file);
    words[fread(words, 1, sizeof words - 1, file)] = 0;
    fclose(file);
    CHECK_EQ(turns, 1);
    return words;
}

TEST(after_thirty_seconds_it_is_said_what_is_waited_for)
{
    char line[600];
    left = 0;
    unsetenv("GGNN_TEST_PATIENCE");
    snprintf(line, sizeof line, "%s: rank 1 has not started\n", program_invocation_short_name);
    CHECK_STR(said("rank 1 has not started"), line);
    CHECK_EQ(asked, 30000);
}

TEST(a_wait_that_ends_in_time_is_not_spoken_of)
{
    left = 1;
    CHECK_STR(said("rank 1 has not started"), "");
}

/* A test may wait for shorter; what is no time is not taken for one. */
TEST(the_environment_may_say_how_long)
{
    static const char* const given[] = {"2", ".25", "0", "-1", "soon", ""};
    static const int milliseconds[] = {2000, 250, 30000, 30000, 30000, 30000};
    left = 1;
    for (int i = 0; i < 6; i++) {
        setenv("GGNN_TEST_PATIENCE", given[i], 1);
        said("");
        CHECK_EQ(asked, milliseconds[i]);
    }
    unsetenv("GGNN_TEST_PATIENCE");
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    folder_make();
    RUN(after_thirty_seconds_it_is_said_what_is_waited_for);
    RUN(a_wait_that_ends_in_time_is_not_spoken_of);
    RUN(the_environment_may_say_how_long);
    folder_remove();
    return test_finish();
}
