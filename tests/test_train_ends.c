/* test_train_ends.c - how ggnn-train ends where a rank's training does not say why: the program itself, with a training in
   place of trainer/training.c that fails without a word on one rank. It starts itself, under mpirun too. */
#define main train_main
#include "trainer/ggnn_train.c"
#undef main

#include <sys/wait.h>

#include "tests/folder.h"
#include "tests/test.h"

/* ==== a training that is silent ================================================================================= */

bool training_open(training* t, const config* c, const task* data, device* d, comm* with, factored* f, ggnn_file* resumed,
                   report* r, error* why)
{
    (void)t, (void)c, (void)data, (void)f, (void)resumed, (void)r;
    device_close(d);
    return with->rank != with->ranks / 2 && comm_barrier(with, why);
}

void training_close(training* t) { (void)t; }
bool training_run(training* t, error* why) { (void)t, (void)why; return true; }

loader_cost training_batches(const training* t)
{
    (void)t;
    return (loader_cost){0};
}

/* ==== tests ===================================================================================================== */

static char self[600];

/* What the last run said. */
/* The exit status of the words before, this program, and options. */
static int end_of(const char* before, const char* options)
{
    char line[2000];
    snprintf(line, sizeof line, "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 %s %s --data %s/karate.ggnn %s >%s/out 2>%s/err </dev/null",
             before, self, folder, options, folder, folder);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(a_rank_that_ends_without_a_message_is_named_and_the_status_is_1)
{
    static const char* const alone[][2] = {{"--devices 1", "rank 0"}, {"--devices 3", "rank 1"}};
    for (int i = 0; i < 2; i++) {
        char words[80];
        snprintf(words, sizeof words, "ggnn-train: %s ended without a message\n", alone[i][1]);
        CHECK_EQ(end_of("", alone[i][0]), 1);
        CHECK_STR(folder_text("err"), words);
    }
}

TEST(a_process_that_ends_without_a_message_is_named_by_all)
{
    if (!comm_mpi_name() || system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) SKIP("no mpirun of Open MPI");
    CHECK_EQ(end_of("timeout -k 5 60 mpirun -n 3 --oversubscribe --allow-run-as-root", ""), 1);
    CHECK_EQ(times_in(folder_text("err"), "ggnn-train: rank 1 (host "), 3);
    CHECK_EQ(times_in(folder_text("err"), ") ended without a message\n"), 3);
}

int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "--data") == 0) return train_main(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    if (!realpath(argv[0], self)) return 1;
    folder_make();
    if (!folder_karate(self)) return 1;
    RUN(a_rank_that_ends_without_a_message_is_named_and_the_status_is_1);
    RUN_SLOW(a_process_that_ends_without_a_message_is_named_by_all);
    folder_remove();
    return test_finish();
}
