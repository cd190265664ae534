/* test_train_ends.c - how ggnn-train ends where a rank's training does not say why: the program itself, with a training in
   place of trainer/training.c that fails without a word on one rank. It starts itself, under mpirun too. And which threads and
   device a rank has, on machines that this one is not. */
#include <unistd.h>

#include "trainer/device/device.h"

static long online; /* processors of the machine; 0: as it is */
static long processors(int name) { return online && name == _SC_NPROCESSORS_ONLN ? online : sysconf(name); }
static int32_t usual; /* threads without --threads; 0: as it is */
static int32_t usual_threads(void) { return usual ? usual : device_cpu_threads(); }

#define main train_main
#define sysconf processors
#define device_cpu_threads usual_threads
#include "trainer/ggnn_train.c"
#undef main
#undef sysconf
#undef device_cpu_threads

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

/* ==== what a rank has =========================================================================================== */

/* Those of a process share its threads; processes share the cores of their own machine, but not with those of others. */
TEST(threads_are_shared_by_ranks_of_a_process_and_cores_by_those_of_a_machine)
{
    static const struct {
        int32_t threads, usual;
        long online;
        bool mpi, given; /* OMP_NUM_THREADS */
        int32_t here, locals, ranks, share[3];
    } of[] = {{7, 4, 4, false, false, 3, 3, 3, {3, 2, 2}}, {0, 8, 2, false, false, 3, 3, 3, {3, 3, 2}}, {1, 8, 8, false, false, 3, 3, 3, {1, 1, 1}},
              {0, 5, 8, false, true, 1, 1, 1, {5}},        {0, 8, 8, true, false, 1, 2, 6, {4}},        {0, 8, 8, true, true, 1, 2, 6, {8}},
              {5, 8, 8, true, false, 1, 2, 6, {5}},        {0, 3, 8, true, false, 1, 2, 6, {3}},        {0, 8, 8, true, false, 1, 16, 32, {1}},
              {0, 4, 8, true, false, 1, 2, 2, {4}},        {0, 8, 7, true, false, 1, 2, 4, {3}}};
    const char* given = getenv("OMP_NUM_THREADS");
    char before[40] = "";
    if (given) snprintf(before, sizeof before, "%s", given);
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        static program p;
        comm c;
        comm_open_alone(&c, &stop);
        c.locals = of[i].locals;
        c.ranks = of[i].ranks;
        p.config.threads = of[i].threads;
        p.mpi = of[i].mpi;
        p.ranks = of[i].here;
        p.comm = &c;
        online = of[i].online;
        usual = of[i].usual;
        if (of[i].given) setenv("OMP_NUM_THREADS", "8", 1);
        else unsetenv("OMP_NUM_THREADS");
        for (int32_t r = 0; r < of[i].here; r++) CHECK_EQ(threads_of(&p, r), of[i].share[r]);
    }
    online = usual = 0;
    if (given) setenv("OMP_NUM_THREADS", before, 1);
    else unsetenv("OMP_NUM_THREADS");
}

/* Of the list each machine's ranks take the first ones, and these again where there are more ranks. */
TEST(a_rank_takes_of_the_device_list_by_its_place_on_its_machine)
{
    static const config c = {.listed = 3, .device = {7, 0, 5}};
    for (int32_t local = 0; local < 5; local++) {
        comm with;
        comm_open_alone(&with, &stop);
        with.local = local;
        with.rank = 10 + local;
        CHECK_EQ(device_number(&c, &with), c.device[local % 3]);
    }
}

int main(int argc, char** argv)
{
    if (argc > 1 && strcmp(argv[1], "--data") == 0) return train_main(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    if (!realpath(argv[0], self)) return 1;
    folder_make();
    if (!folder_karate(self)) return 1;
    RUN(threads_are_shared_by_ranks_of_a_process_and_cores_by_those_of_a_machine);
    RUN(a_rank_takes_of_the_device_list_by_its_place_on_its_machine);
    RUN(a_rank_that_ends_without_a_message_is_named_and_the_status_is_1);
    RUN_SLOW(a_process_that_ends_without_a_message_is_named_by_all);
    folder_remove();
    return test_finish();
}
