/* test_signals.c - what ggnn-train and ggnn-data do when signals come at a moment that is hard to meet. It is the programs
   themselves, in which two calls are such moments. fsync(): a file is complete, and has not got its name. posix_fallocate():
   it is begun, and what it is made of is not read yet; at the first call of all it has been created just now. unlink(): scratch
   has a name still. */
#include <signal.h>
/* A call in a handler that spoils errno. */
static void (*spoil(int signal_number, void (*handler)(int)))(int);
#define signal spoil
#define main train_main
#include "trainer/ggnn_train.c"
#undef main
#define main data_main
#include "datasets/ggnn_data.c"
#undef main
#undef signal

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "common/bus_error.h"
#include "common/unfinished.h"
#include "tests/folder.h"
#include "tests/test.h"

static void (*spoil(int signal_number, void (*handler)(int)))(int)
{
    errno = EDOM;
    return signal(signal_number, handler);
}

/* ==== the program =============================================================================================== */

static bool told(const char* what)
{
    const char* wanted = getenv("TEST_MOMENT");
    return wanted && strcmp(wanted, what) == 0;
}

static void cut_data(void)
{
    if (truncate("cut.ggnn", 8192) != 0) _exit(99);
}

int fsync(int fd)
{
    if (told("two signals")) {
        kill(getpid(), SIGINT);
        kill(getpid(), SIGTERM);
    }
    if (told("rank 1 is killed")) {
        close(open(getenv("TEST_SAVING"), O_WRONLY | O_CREAT, 0666));
        sleep(20);
    }
    if (told("data are cut at the first save")) cut_data();
    return (int)syscall(SYS_fsync, fd);
}

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    if (told("data are cut when an output has begun") && offset > 0) cut_data();
    if (told("a signal while a file is created")) kill(getpid(), SIGTERM);
    return fallocate(fd, 0, offset, bytes) == 0 ? 0 : errno;
}

int unlink(const char* path)
{
    if (told("a signal while scratch has a name")) {
        unsetenv("TEST_MOMENT");
        kill(getpid(), SIGHUP);
    }
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char* path, mode_t mode)
{
    const int status = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    if (told("a signal while a file is created")) kill(getpid(), SIGTERM);
    return status;
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
    if (told("rank 1 is killed") && of_mpi && atoi(of_mpi) == 1) pthread_create(&thread, NULL, be_killed, NULL);
    return strcmp(argv[1], "--data") == 0 ? train_main(argc, argv) : data_main(argc, argv);
}

/* ==== tests ===================================================================================================== */

static char self[600];

/* The exit status of the words before, this program, and its words; 128 + the signal that ended it. */
static int end_of(const char* before, const char* moment, const char* words)
{
    char line[2400], path[600];
    snprintf(line, sizeof line, "cd %s && cp karate.ggnn cut.ggnn && ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 %s %s %s >out 2>err </dev/null",
             folder, before, self, words);
    setenv("TEST_MOMENT", moment, 1);
    setenv("TEST_SAVING", folder_path(path, "saving"), 1);
    const int status = system(line);
    unsetenv("TEST_MOMENT");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool exists(const char* name)
{
    char path[600];
    return access(folder_path(path, name), F_OK) == 0;
}

TEST(a_second_signal_while_saving_leaves_no_unfinished_checkpoint)
{
    CHECK_EQ(end_of("", "two signals", "--data karate.ggnn --epochs 1 --save c"), 128 + SIGTERM);
    CHECK_EQ(temporaries(), 0);
    CHECK(!exists("c"));
}

static bool no_mpi(void) { return !comm_mpi_name() || system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0; }

TEST(a_process_that_is_killed_while_another_saves_leaves_no_unfinished_checkpoint)
{
    if (no_mpi()) SKIP("no mpirun of Open MPI");
    CHECK(end_of("timeout -k 5 60 mpirun -n 2 --oversubscribe --allow-run-as-root", "rank 1 is killed", "--data karate.ggnn --epochs 1 --save c") > 0);
    CHECK(exists("saving"));
    CHECK_EQ(temporaries(), 0);
    CHECK(!exists("c"));
}

/* What the last program printed as its errors. */
static const char* messages(void)
{
    static char text[4000];
    char path[600];
    FILE* f = fopen(folder_path(path, "err"), "r");
    text[f ? fread(text, 1, sizeof text - 1, f) : 0] = 0;
    if (f) fclose(f);
    return text;
}

TEST(a_data_file_that_is_cut_short_while_it_is_read_is_named)
{
    static const char* const devices[] = {"1", "2"};
    for (int i = 0; i < 2; i++) {
        char words[200];
        snprintf(words, sizeof words, "--data cut.ggnn --epochs 3 --save-every 1 --save cut%s --devices %s", devices[i], devices[i]);
        CHECK_EQ(end_of("", "data are cut at the first save", words), 1);
        snprintf(words, sizeof words, "%s: /", strrchr(self, '/') + 1);
        CHECK(strncmp(messages(), words, strlen(words)) == 0);
        CHECK(strstr(messages(), "/cut.ggnn: cut short to 8192 bytes while it was read: nothing can be read at offset "));
        CHECK_EQ(temporaries(), 0);
        if (i == 0) CHECK(exists("cut1")); /* with two, the other one may be reading before this one has renamed its file */
    }
}

/* MPI has a handler, too. */
TEST(a_data_file_that_is_cut_short_is_named_under_mpirun)
{
    if (no_mpi()) SKIP("no mpirun of Open MPI");
    CHECK(end_of("timeout -k 5 60 mpirun -n 2 --oversubscribe --allow-run-as-root", "data are cut at the first save",
                 "--data cut.ggnn --epochs 3 --save-every 1 --save cut3") > 0);
    CHECK(strstr(messages(), "/cut.ggnn: cut short to 8192 bytes while it was read: "));
    CHECK(!strstr(messages(), "stacktrace"));
    CHECK_EQ(temporaries(), 0);
}

TEST(a_tool_whose_input_is_cut_short_leaves_no_unfinished_output)
{
    CHECK_EQ(end_of("", "data are cut when an output has begun", "preprocess cut.ggnn --out new.ggnn"), 1);
    CHECK(strstr(messages(), "/cut.ggnn: cut short to 8192 bytes while it was read: nothing can be read at offset "));
    CHECK_EQ(temporaries(), 0);
    CHECK(!exists("new.ggnn"));
}

/* A file that exists and is not known yet as unfinished is removed, too, by every command that writes one. */
TEST(a_signal_while_a_file_is_created_leaves_nothing)
{
    static const char* const words[] = {
        "generate karate new.ggnn", "convert edges new.ggnn", "preprocess cut.ggnn --out new.ggnn", "preprocess cut.ggnn",
        "reorder cut.ggnn new.ggnn", "rank cut.ggnn --by degree --out new.ggnn", "partition cut.ggnn --method hash --parts 2 --out new.ggnn",
        "export cut.ggnn new.ggnn --format npy", "--data cut.ggnn --epochs 1 --save new.ggnn"};
    char path[600];
    write_file(folder_path(path, "edges"), "0 1\n", 4);
    CHECK_EQ(end_of("", "", "rank cut.ggnn --by degree"), 0);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(end_of("", "a signal while a file is created", words[i]), 128 + SIGTERM);
        CHECK_EQ(temporaries(), 0);
        CHECK(!exists("new.ggnn"));
    }
    CHECK_EQ(end_of("", "a signal while scratch has a name", "--data cut.ggnn --epochs 1 --eval-memory 0"), 128 + SIGHUP);
    CHECK_EQ(temporaries(), 0);
}

/* A program that creates a file, or fails to, and is sent two signals meanwhile: how it ends, and whether the file stays. */
static int end_while_creating(bool created, int first, int second, bool* stays)
{
    int status;
    char path[600];
    folder_path(path, "created");
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        signal(first, SIG_DFL);
        signal(second, SIG_DFL);
        unfinished_expect();
        raise(first);
        raise(second);
        write_file(path, "x", 1);
        unfinished_add(created ? path : NULL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    *stays = remove(path) == 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(a_signal_waits_while_a_file_is_created)
{
    bool stays;
    CHECK_EQ(end_while_creating(true, SIGINT, SIGTERM, &stays), 1000 + SIGINT); /* the first */
    CHECK(!stays);
    CHECK_EQ(end_while_creating(false, SIGTERM, SIGTERM, &stays), 1000 + SIGTERM);
    CHECK(stays);
}

static void end_with_7(int signal_number)
{
    (void)signal_number;
    _exit(7);
}

/* How a program ends that gets a SIGBUS which no file on a disk is the cause of. */
static int status_of(bool handled, bool sent)
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGBUS, handled ? end_with_7 : SIG_DFL);
        bus_error_catch();
        int fd = memfd_create("no file", 0);
        const volatile char* memory = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
        if (sent) kill(getpid(), SIGBUS);
        else _exit(*memory);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(any_other_bus_error_goes_to_the_handler_before)
{
    for (int sent = 0; sent < 2; sent++) {
        CHECK_EQ(status_of(true, sent), 7);
        CHECK_EQ(status_of(false, sent), 1000 + SIGBUS);
    }
}

/* A program that maps a file of three pages from page `from` on, cuts it to one, and reads at `at`: what it prints, and how it ends. */
static int cut_at(const char* name, int64_t from, int64_t at, bool gone)
{
    const int64_t page = sysconf(_SC_PAGESIZE);
    static const char zeros[1 << 18];
    char path[600], err[600];
    int status;
    write_file(folder_path(path, name), zeros, (size_t)(3 * page));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int to = open(folder_path(err, "err"), O_WRONLY | O_CREAT | O_TRUNC, 0600), fd = open(path, O_RDWR);
        dup2(to, STDERR_FILENO);
        signal(SIGBUS, SIG_DFL);
        bus_error_catch();
        char* place = mmap(NULL, (size_t)(5 * page), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); /* between two pages of another file */
        const int other = open(self, O_RDONLY);
        mmap(place, (size_t)page, PROT_READ, MAP_SHARED | MAP_FIXED, other, 0);
        const volatile char* memory = mmap(place + page, (size_t)(3 * page - from), PROT_READ, MAP_SHARED | MAP_FIXED, fd, from);
        mmap(place + 4 * page - from, (size_t)page, PROT_READ, MAP_SHARED | MAP_FIXED, other, 0);
        if (ftruncate(fd, page) != 0 || (gone && unlink(path) != 0)) _exit(99);
        _exit(memory[at - from]);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* From the first byte that is gone on; a name with a blank and with what a terminal would obey. A file without a name is none to name. */
TEST(the_place_in_a_file_that_was_cut_short_is_told_to_the_byte)
{
    const long long page = sysconf(_SC_PAGESIZE);
    char wanted[1200];
    for (int i = 0; i < 4; i++) {
        const long long from = i < 2 ? 0 : page, at = i % 2 ? 2 * page + 77 : page;
        CHECK_EQ(cut_at("a file\x1b", from, at, false), 1);
        snprintf(wanted, sizeof wanted, "%s: %s/a file\\x1b: cut short to %lld bytes while it was read: nothing can be read at offset %lld\n", strrchr(self, '/') + 1, folder, page, at);
        CHECK_STR(messages(), wanted);
    }
    CHECK_EQ(cut_at("gone", 0, page, true), 1000 + SIGBUS);
    CHECK_STR(messages(), "");
}

static char* numbered(char path[600], int i)
{
    char name[20];
    snprintf(name, sizeof name, "unfinished%02d", i);
    return folder_path(path, name);
}

/* A program that has begun so many files, then forgets the first `done`, and is sent a signal. How it ends, and how many of 36 are left. */
static int left_by(int files, int done, int signal_number, void (*handler)(int), int* left)
{
    int status;
    char path[600], inside[700];
    for (int i = 0; i < 36; i++) write_file(numbered(path, i), "x", 1);
    mkdir(folder_path(path, "begun"), 0700);
    snprintf(inside, sizeof inside, "%s/part", path);
    write_file(inside, "x", 1);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(10); /* of a list that has no end */
        signal(signal_number, handler);
        for (int i = 0; i < done; i++) unfinished_add(numbered(path, i));
        unfinished_clear();
        unfinished_expect();
        unfinished_add(folder_path(path, "begun")); /* what is added last goes first: the folder is empty then */
        unfinished_add(inside);
        for (int i = done; i < files; i++) unfinished_add(numbered(path, i));
        raise(signal_number);
        _exit(9);
    }
    waitpid(child, &status, 0);
    *left = 0;
    for (int i = 0; i < 36; i++) *left += remove(numbered(path, i)) == 0;
    remove(inside);
    *left += 100 * (remove(folder_path(path, "begun")) == 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(a_signal_takes_all_unfinished_files_with_it_and_no_finished_ones)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
    int left;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(left_by(5, 0, signals[i], SIG_DFL, &left), 1000 + signals[i]);
        CHECK_EQ(left, 31);
        CHECK_EQ(left_by(5, 3, signals[i], SIG_DFL, &left), 1000 + signals[i]);
        CHECK_EQ(left, 34);
        CHECK_EQ(left_by(5, 0, signals[i], SIG_IGN, &left), 9); /* as nohup has it */
        CHECK_EQ(left, 136);
        CHECK_EQ(left_by(5, 0, signals[i], end_with_7, &left), 7); /* a handler of the program's own */
        CHECK_EQ(left, 136);
    }
    CHECK_EQ(left_by(30, 0, SIGTERM, SIG_DFL, &left), 1000 + SIGTERM);
    CHECK_EQ(left, 6);
    CHECK_EQ(left_by(36, 0, SIGTERM, SIG_DFL, &left), 1000 + SIGTERM); /* 32 at most, the folder and its file among them */
    CHECK_EQ(left, 6);
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
    const int sent[] = {SIGHUP, SIGINT, SIGTERM}; /* nohup and background jobs ignore some, and programs that they start with them */
    for (int i = 0; i < 3; i++) signal(sent[i], SIG_DFL);
    if (getenv("TEST_MOMENT")) return be_the_program(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    if (!realpath(argv[0], self)) return 1;
    folder_make();
    if (!folder_karate(self)) return 1;
    RUN(a_second_signal_while_saving_leaves_no_unfinished_checkpoint);
    RUN_SLOW(a_process_that_is_killed_while_another_saves_leaves_no_unfinished_checkpoint);
    RUN(a_data_file_that_is_cut_short_while_it_is_read_is_named);
    RUN_SLOW(a_data_file_that_is_cut_short_is_named_under_mpirun);
    RUN(a_tool_whose_input_is_cut_short_leaves_no_unfinished_output);
    RUN(a_signal_while_a_file_is_created_leaves_nothing);
    RUN(a_signal_waits_while_a_file_is_created);
    RUN(any_other_bus_error_goes_to_the_handler_before);
    RUN(the_place_in_a_file_that_was_cut_short_is_told_to_the_byte);
    RUN(a_signal_takes_all_unfinished_files_with_it_and_no_finished_ones);
    RUN(a_signal_leaves_errno_as_it_was);
    folder_remove();
    return test_finish();
}
