/* test_signals.c - what ggnn-train does when signals come at a moment that is hard to meet. It is the program itself, in which
   fsync() is such a moment: a checkpoint is complete then, and has not got its name. */
#include <signal.h>
/* A call in a handler that spoils errno. */
static void (*spoil(int signal_number, void (*handler)(int)))(int);
#define signal spoil
#define main train_main
#include "trainer/ggnn_train.c"
#undef main
#undef signal

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "tests/folder.h"
#include "tests/test.h"

static void (*spoil(int signal_number, void (*handler)(int)))(int)
{
    errno = EDOM;
    return signal(signal_number, handler);
}

/* ==== the program =============================================================================================== */

static bool at_fsync(const char* what)
{
    const char* wanted = getenv("TEST_AT_FSYNC");
    return wanted && strcmp(wanted, what) == 0;
}

int fsync(int fd)
{
    if (at_fsync("two signals")) {
        kill(getpid(), SIGINT);
        kill(getpid(), SIGTERM);
    }
    if (at_fsync("rank 1 is killed")) {
        close(open(getenv("TEST_SAVING"), O_WRONLY | O_CREAT, 0666));
        sleep(20);
    }
    return (int)syscall(SYS_fsync, fd);
}

static void* be_killed(void* unused)
{
    while (access(getenv("TEST_SAVING"), F_OK) != 0) usleep(10000);
    kill(getpid(), SIGKILL);
    return unused;
}

static int be_the_program(int argc, char** argv)
{
    const char* of_mpi = getenv("OMPI_COMM_WORLD_RANK");
    pthread_t thread;
    if (at_fsync("rank 1 is killed") && of_mpi && atoi(of_mpi) == 1) pthread_create(&thread, NULL, be_killed, NULL);
    return train_main(argc, argv);
}

/* ==== tests ===================================================================================================== */

static char self[600];

/* The exit status of the words before, this program, and options; 128 + the signal that ended it. */
static int end_of(const char* before, const char* moment, const char* options)
{
    char line[2400], path[600];
    snprintf(line, sizeof line, "cd %s && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 %s %s --data karate.ggnn %s >out 2>err </dev/null",
             folder, before, self, options);
    setenv("TEST_AT_FSYNC", moment, 1);
    setenv("TEST_SAVING", folder_path(path, "saving"), 1);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool exists(const char* name)
{
    char path[600];
    return access(folder_path(path, name), F_OK) == 0;
}

TEST(a_second_signal_while_saving_leaves_no_unfinished_checkpoint)
{
    CHECK_EQ(end_of("", "two signals", "--epochs 1 --save c"), 128 + SIGTERM);
    CHECK_EQ(temporaries(), 0);
    CHECK(!exists("c"));
}

TEST(a_process_that_is_killed_while_another_saves_leaves_no_unfinished_checkpoint)
{
    if (!comm_mpi_name() || system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) SKIP("no mpirun of Open MPI");
    CHECK(end_of("timeout -k 5 60 mpirun -n 2 --oversubscribe --allow-run-as-root", "rank 1 is killed", "--epochs 1 --save c") > 0);
    CHECK(exists("saving"));
    CHECK_EQ(temporaries(), 0);
    CHECK(!exists("c"));
}

TEST(a_signal_leaves_errno_as_it_was)
{
    errno = ENOENT;
    on_signal(SIGINT);
    CHECK_EQ(errno, ENOENT);
    CHECK(stop);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "--data") == 0) return be_the_program(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    if (!realpath(argv[0], self)) return 1;
    folder_make();
    char line[1300];
    snprintf(line, sizeof line, "$(dirname %s)/../ggnn-data generate karate %s/karate.ggnn >%s/out", self, folder, folder);
    if (system(line) != 0) return 1;
    RUN(a_second_signal_while_saving_leaves_no_unfinished_checkpoint);
    RUN_SLOW(a_process_that_is_killed_while_another_saves_leaves_no_unfinished_checkpoint);
    RUN(a_signal_leaves_errno_as_it_was);
    folder_remove();
    return test_finish();
}
