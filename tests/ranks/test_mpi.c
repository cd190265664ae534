/* test_mpi.c - ranks that are processes: the calls that test_comm's threads make, with the same bits; and what happens
   when one of them dies. The program starts itself under mpirun. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/unfinished.h"
#include "tests/comm_script.h"
#include "tests/folder.h"
#include "tests/listens_at.h"

/* What is handed to MPI as rows passes through here; of messages that are empty none of it arrives. */
static long long handed, messages, largest;
static bool empty;
#ifdef HAVE_MPI
#include <mpi.h>
int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm all, MPI_Request* request)
{
    int unit;
    PMPI_Type_size(type, &unit);
    handed += (long long)count * unit;
    messages++;
    if ((long long)count * unit > largest) largest = (long long)count * unit;
    return PMPI_Isend(from, empty ? 0 : count, type, to, tag, all, request);
}
#endif

static volatile sig_atomic_t told_to_stop;

static void tell_to_stop(int signal_number)
{
    (void)signal_number;
    told_to_stop = 1;
}

/* ==== a rank ==================================================================================================== */

/* test_mpi script SEED DEVICE FAIL_RANK FAIL_STEP: prints what came of it. */
static void follow_script(comm* c, char** argument, error* why)
{
    script s = {strtoull(argument[0], NULL, 10), atoi(argument[1]) ? open_one_thread : NULL, atoi(argument[2]), atoi(argument[3]), COMM_OWN};
    outcome o = {0};
    follow(c, &s, &o);
    printf("rank=%d ranks=%d local=%d locals=%d machine=%d machines=%d steps=%d wrong=%lld digest=%016llx calls=%lld sent=%lld bytes=%lld handed=%lld listens=%s why=%s\n",
           (int)c->rank, (int)c->ranks, (int)c->local, (int)c->locals, (int)c->machine, (int)c->machines, (int)o.steps,
           (long long)o.wrong, (unsigned long long)o.digest, (long long)o.calls, (long long)o.sent, (long long)o.bytes, handed,
           listens_at, o.why.text);
    *why = o.why;
}

/* A file of this rank in the folder, that holds a number. */
static void write_number(const char* in, const char* name, int32_t rank, long number)
{
    char path[700], temporary[720];
    snprintf(path, sizeof path, "%s/%s.%d", in, name, (int)rank);
    snprintf(temporary, sizeof temporary, "%s.new", path);
    FILE* f = fopen(temporary, "w");
    if (!f) abort();
    fprintf(f, "%ld\n", number);
    fclose(f);
    if (rename(temporary, path) != 0) abort();
}

static bool share_a_page(comm* c, error* why)
{
    comm_shared s = {0};
    const bool good = comm_share(c, &s, 4096, "a page", why);
    comm_unshare(c, &s);
    return good;
}

/* test_mpi loop FOLDER: adds up and shares memory until it is told to stop; an unfinished file lies in the folder
   meanwhile. FOLDER -: no files, but a word when ranks have met. */
static void go_on(comm* c, char** argument, error* why)
{
    enum { N = 20000 };
    static float v[N];
    void* room = malloc(comm_reduce_bytes(c, N));
    char path[700];
    long calls = 0;
    snprintf(path, sizeof path, "%s/unfinished.%d", argument[0], (int)c->rank);
    if (strcmp(argument[0], "-") != 0) {
        unfinished_expect();
        unfinished_add(path);
        write_number(argument[0], "unfinished", c->rank, 1);
        signal(SIGTERM, tell_to_stop);
        write_number(argument[0], "process", c->rank, getpid());
    }
    while (!c->stopped && comm_reduce(c, NULL, v, N, NULL, room, why) && share_a_page(c, why))
        if (calls++ == 0 && strcmp(argument[0], "-") == 0) printf("rank %d is ready\n", (int)c->rank), fflush(stdout);
    printf("rank=%d calls=%ld\n", (int)c->rank, calls);
    unlink(path);
    free(room);
}

/* Mappings of this process, by Linux. */
static int mappings(void)
{
    int lines = 0, c;
    FILE* f = fopen("/proc/self/maps", "r");
    while (f && (c = getc(f)) != EOF) lines += c == '\n';
    if (f) fclose(f);
    return lines;
}

/* test_mpi pages: shares memory often. */
static void share_pages(comm* c, char** argument, error* why)
{
    (void)argument;
    if (!share_a_page(c, why)) return;
    const int before = mappings();
    for (int i = 0; i < 300; i++)
        if (!share_a_page(c, why)) return;
    printf("rank=%d more=%s\n", (int)c->rank, mappings() - before < 100 ? "few" : "many");
}

/* test_mpi busy SECONDS: rank 1 has much to do, the others wait for it. */
static void be_busy(comm* c, char** argument, error* why)
{
    const double until = test_seconds() + atof(argument[0]);
    double x = 1;
    while (c->rank == 1 && test_seconds() < until) x = x * 1.000001 + 1e-9;
    if (comm_barrier(c, why)) printf("rank=%d waited=%.1f%s\n", (int)c->rank, c->cost.waited, x > 0 ? "" : "!");
}

/* test_mpi many: two ranks send each other 3 GiB and 5 bytes, which are nowhere, as no message brings them. */
static void send_many(comm* c, char** argument, error* why)
{
    const int64_t bytes = ((int64_t)3 << 30) + 5;
    comm_piece piece[2] = {{0, bytes}, {0, bytes}};
    char* rows = mmap(NULL, 2 * (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    (void)argument;
    piece[c->rank].count = 0;
    empty = true;
    if (rows == MAP_FAILED) error_set(why, "no addresses for 6 GiB");
    else if (comm_exchange(c, NULL, rows, piece, rows + bytes, piece, 1, why))
        printf("rank=%d messages=%lld largest=%lld handed=%lld\n", (int)c->rank, messages, largest, handed);
}

/* test_mpi same: rank 2 has other data. */
static void compare(comm* c, char** argument, error* why)
{
    (void)argument;
    comm_same(c, c->rank == 2 ? "--layers 2\n--data has CRC 1f" : "--layers 2\n--data has CRC 2a", why);
}

/* test_mpi branch: rank 1 fails before all open a second line. */
static void branch(comm* c, char** argument, error* why)
{
    comm second;
    (void)argument;
    if (c->rank == 1) error_set(why, "no memory");
    else if (comm_branch(&second, c, why)) comm_close_branch(&second);
}

static int be_a_rank(int argc, char** argv)
{
    static const struct {
        const char* name;
        int arguments;
        void (*run)(comm*, char**, error*);
    } does[] = {{"script", 4, follow_script}, {"loop", 1, go_on}, {"pages", 0, share_pages}, {"busy", 1, be_busy}, {"same", 0, compare}, {"many", 0, send_many}, {"branch", 0, branch}};
    comm c;
    error why = {""};
    bool open = comm_open_mpi(&c, &told_to_stop, &why);
    for (size_t i = 0; open && i < sizeof does / sizeof *does; i++)
        if (argc == 2 + does[i].arguments && !strcmp(argv[1], does[i].name)) does[i].run(&c, argv + 2, &why);
    if (why.text[0]) fprintf(stderr, "test_mpi: %s\n", why.text);
    if (why.text[0] && open) comm_fail(&c, &why);
    fflush(stdout);
    comm_close_mpi(&c, why.text[0] != 0);
    return why.text[0] != 0;
}

/* ==== mpirun ==================================================================================================== */

static char self[600];
static const char* name(void) { return strrchr(self, '/') + 1; } /* as its messages begin */

/* Why these tests cannot run here; NULL: they can. Where CI is true they must. */
static const char* missing(void)
{
    const char *why = NULL, *ci = getenv("CI");
    if (!comm_mpi_name()) why = "built without MPI";
    else if (system("mpirun --version 2>/dev/null | grep -q 'Open MPI'") != 0) why = "mpirun of Open MPI is not installed";
    const bool ci_can = !why || !ci || strcmp(ci, "true") != 0;
    CHECK(ci_can);
    return why;
}

enum { HOSTS = 0 };      /* in place of P: two ranks on each of three hosts (hosts.sh) */
static const char* down; /* and an option of hosts.sh */
static long failing;     /* this allocation of rank 1 fails; 0: none */
static bool late;        /* rank 1 starts after 4 seconds */
static const char* apart; /* unshare's words for namespaces of rank 1's own; NULL: it has none */

/* Starts `mpirun -n P` of this program as a session of its own; what it prints goes to files out and err. MPI itself
   leaks, so that no sanitizer looks for leaks there. */
static pid_t start(int32_t P, const char* arguments)
{
    char line[2000], with[100], before[300] = "";
    if (P == HOSTS) snprintf(with, sizeof with, "bash tests/hosts.sh %s", down);
    else snprintf(with, sizeof with, "mpirun -n %d --oversubscribe --allow-run-as-root", (int)P);
    if (failing)
        snprintf(before, sizeof before, "sh -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || export GGNN_TEST_FAIL_ALLOCATION=%ld; exec \"$0\" \"$@\"'", failing);
    if (late) snprintf(before, sizeof before, "sh -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || sleep 4; exec \"$0\" \"$@\"'");
    if (apart) snprintf(before, sizeof before, "sh -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || exec unshare %s \"$0\" \"$@\"; exec \"$0\" \"$@\"'", apart);
    snprintf(line, sizeof line, "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 exec %s %s %s %s >%s/out 2>%s/err </dev/null", with, before, self,
             arguments, folder, folder);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setsid();
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(127);
    }
    return child;
}

static void nap(double seconds)
{
    struct timespec t = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

/* The exit status; -1: it did not end within so many seconds, and was killed. */
static int finish(pid_t child, double within)
{
    const double until = test_seconds() + within;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (test_seconds() > until) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        nap(.02);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* Processes of the session that still run, 3 seconds after mpirun at most: it does not wait for those that it kills. */
static int left_of(pid_t session)
{
    char line[200];
    int count = -1;
    snprintf(line, sizeof line, "ps -o stat= -s %d | grep -c -v Z", (int)session);
    for (int i = 0; i < 30 && count != 0; i++) {
        FILE* f = popen(line, "r");
        if (i > 0) nap(.1);
        if (!f || fscanf(f, "%d", &count) != 1) count = -1;
        if (f) pclose(f);
    }
    return count;
}

static int run_ranks(int32_t P, const char* arguments)
{
    pid_t child = start(P, arguments);
    int status = finish(child, 60);
    CHECK_EQ(left_of(child), 0);
    return status;
}

/* The line of a rank in "out"; empty: it printed none. */
static const char* line_of(int32_t r)
{
    static char line[2000];
    char begin[24];
    snprintf(begin, sizeof begin, "rank=%d ", (int)r);
    const char* at = strstr(folder_text("out"), begin);
    snprintf(line, sizeof line, "%.*s", at ? (int)strcspn(at, "\n") : 0, at ? at : "");
    return line;
}

static bool has(const char* line, const char* words)
{
    if (strstr(line, words)) return true;
    printf("  not \"%s\" in \"%s\"; errors: %s\n", words, line, folder_text("err"));
    return false;
}

/* Is one left behind? Those of programs that run beside this one go within moments. */
static bool shared_files(void)
{
    for (int i = 0; i < 20; i++) {
        if (system("ls /dev/shm | grep -q -E '^ggnn-[0-9a-f]{32}$'") != 0) return false;
        nap(.1);
    }
    return true;
}

/* ==== tests ===================================================================================================== */

/* P processes, or those of three hosts: ranks of one host follow each other. */
static void compare_with_threads(int32_t P, const script* s)
{
    outcome o[RANKS_MAX];
    char arguments[100], words[200];
    const int32_t ranks = P == HOSTS ? 6 : P, locals = P == HOSTS ? 2 : P;
    follow_as_threads(ranks, s, o, &told_to_stop);
    snprintf(arguments, sizeof arguments, "script %llu %d %d %d", (unsigned long long)s->seed, s->open != NULL, (int)s->fail_rank, (int)s->fail_step);
    const int status = run_ranks(P, arguments);
    if (P == HOSTS && status == 77) {
        test_skip = "hosts.sh cannot run here";
        return;
    }
    CHECK_EQ(status, s->fail_rank >= 0);
    for (int32_t r = 0; r < ranks; r++) {
        const char* line = line_of(r);
        const char *sent = strstr(line, "sent="), *bytes = strstr(line, "bytes="), *given = strstr(line, "handed=");
        snprintf(words, sizeof words, "ranks=%d local=%d locals=%d machine=%d machines=%d steps=%d wrong=0 digest=%016llx ", (int)ranks,
                 (int)(r % locals), (int)locals, (int)(r / locals), (int)(ranks / locals), (int)o[r].steps, (unsigned long long)o[r].digest);
        CHECK(has(line, words));
        CHECK(sent && bytes && atoll(sent + 5) == atoll(bytes + 6));
        CHECK(sent && given && atoll(sent + 5) == atoll(given + 7));
        if (s->fail_rank < 0) snprintf(words, sizeof words, "why=");
        else if (r == s->fail_rank) snprintf(words, sizeof words, "why=cannot go on");
        else snprintf(words, sizeof words, "why=rank %d (host ", (int)s->fail_rank);
        CHECK(has(line, words) && (s->fail_rank < 0 || has(line, "cannot go on")));
    }
    CHECK(P == HOSTS ? !strstr(line_of(0), "listens=127.") : has(line_of(0), "listens=127.0.0.1 "));
    CHECK(!shared_files());
}

TEST(processes_get_the_same_bits_as_threads)
{
    if (missing()) SKIP(missing());
    for (int i = 0; i < 4; i++) {
        if (i == 3) setenv("GGNN_TEST_MESSAGE", "1000", 1); /* many messages, as if rows did not fit into one */
        compare_with_threads(i % 2 ? 4 : 2, &(script){test_random(), i > 1 ? open_one_thread : NULL, -1, 0, COMM_OWN});
    }
    unsetenv("GGNN_TEST_MESSAGE");
}

/* Started by what tells them that there are two, but not as this MPI needs it. */
TEST(processes_that_mpi_does_not_connect_are_an_error_that_says_what_it_needs)
{
    if (missing()) SKIP(missing());
    char line[2000], words[400];
    snprintf(line, sizeof line, "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 PMI_SIZE=2 exec timeout -k 5 60 %s same >%s/out 2>%s/err </dev/null", self, folder, folder);
    const int status = system(line);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    snprintf(words, sizeof words, "test_mpi: several processes were started, but %s connects none of them: is this its mpirun? srun wants --mpi=pmix\n", comm_mpi_name());
    CHECK_EQ(times_in(folder_text("err"), words), 1);
}

/* MPI counts bytes in an int. */
TEST(rows_of_many_bytes_are_messages_of_a_gib)
{
    if (missing()) SKIP(missing());
    CHECK_EQ(run_ranks(2, "many"), 0);
    for (int32_t r = 0; r < 2; r++) CHECK(has(line_of(r), "messages=4 largest=1073741824 handed=3221225477"));
}

TEST(shared_memory_is_given_back)
{
    if (missing()) SKIP(missing());
    CHECK_EQ(run_ranks(2, "pages"), 0);
    for (int32_t r = 0; r < 2; r++) CHECK(has(line_of(r), "more=few"));
}

TEST(a_process_that_fails_ends_all_with_its_message)
{
    if (missing()) SKIP(missing());
    for (int i = 0; i < 3; i++)
        compare_with_threads(3, &(script){test_random(), NULL, (int32_t)test_below(3), (int32_t)test_below(STEPS), COMM_OWN});
    CHECK_EQ(run_ranks(3, "same"), 1);
    CHECK_EQ(times_in(folder_text("err"), "): --data has CRC 1f; rank 0 (host "), 3);
    CHECK_EQ(run_ranks(3, "branch"), 1);
    CHECK_EQ(times_in(folder_text("err"), "test_mpi: rank 1 (host "), 2);
    CHECK_EQ(times_in(folder_text("err"), "no memory"), 3);
}

/* While ranks find each other, and in calls. */
TEST(all_fail_with_the_process_whose_allocation_fails)
{
    if (missing()) SKIP(missing());
    static const long which[] = {1, 2, 6, 8, 12};
    for (size_t i = 0; i < sizeof which / sizeof *which; i++) {
        failing = which[i];
        CHECK_EQ(run_ranks(3, "script 5 0 -1 0"), 1);
        CHECK_EQ(times_in(folder_text("err"), "out of memory: "), 3);
        CHECK_EQ(times_in(folder_text("err"), "rank 1"), 2);
    }
    failing = 0;
}

/* Nobody else could tell whom: heartbeats begin when all have met. */
TEST(ranks_say_when_they_have_waited_long_for_one_that_does_not_start)
{
    if (missing()) SKIP(missing());
    setenv("GGNN_TEST_PATIENCE", "2", 1);
    late = true;
    CHECK_EQ(run_ranks(3, "same"), 1);
    const int times = times_in(folder_text("err"), " still waits for the others to start: ");
    if (!CHECK(times == 2 || times == 3)) printf("  %s\n", folder_text("err")); /* 3: the late one was slow, too */
    char host[65] = "", words[120];
    gethostname(host, sizeof host - 1);
    snprintf(words, sizeof words, " on host %s still waits for the others to start: ", host);
    CHECK_EQ(times_in(folder_text("err"), words), times);
    for (const char* at = folder_text("err"); (at = strstr(at, ": process ")); at++) CHECK(strtol(at + 10, NULL, 10) > 1);
    late = false;
    unsetenv("GGNN_TEST_PATIENCE");
    CHECK_EQ(run_ranks(3, "same"), 1);
    CHECK_EQ(times_in(folder_text("err"), "still waits"), 0);
}

/* Starts ranks that add up; process[r] is rank r's. */
static pid_t start_looping(int32_t P, pid_t process[RANKS_MAX])
{
    char arguments[700], path[700], name[30];
    const double until = test_seconds() + 30;
    for (int32_t r = 0; r < P; r++) {
        snprintf(name, sizeof name, "process.%d", (int)r);
        unlink(folder_path(path, name));
    }
    snprintf(arguments, sizeof arguments, "loop %s", folder);
    pid_t child = start(P, arguments);
    for (int32_t r = 0; r < P; r++) {
        snprintf(name, sizeof name, "process.%d", (int)r);
        int number = 0;
        while (number == 0 && test_seconds() < until) {
            FILE* f = fopen(folder_path(path, name), "r");
            if (f && fscanf(f, "%d", &number) != 1) number = 0;
            if (f) fclose(f);
            if (!number) nap(.01);
        }
        process[r] = number;
        if (!CHECK(number != 0)) printf("  %s\n", folder_text("err"));
    }
    return child;
}

static bool has_unfinished(int32_t r)
{
    char name[30], path[700];
    snprintf(name, sizeof name, "unfinished.%d", (int)r);
    return access(folder_path(path, name), F_OK) == 0;
}

static void lose_one(int32_t P, int how, double within, const char* cause)
{
    pid_t process[RANKS_MAX];
    char words[200], host[70], path[700];
    pid_t child = start_looping(P, process);
    const int32_t victim = (int32_t)test_below(P);
    nap((double)test_below(300) * 1e-3);
    const double start = test_seconds();
    if (process[victim] > 0) kill(process[victim], how);
    const int status = finish(child, within + 10);
    CHECK(status > 0);
    CHECK(test_seconds() - start < within);
    CHECK_EQ(left_of(child), 0);
    gethostname(host, sizeof host);
    snprintf(words, sizeof words, "%s: rank %d (host %s, process %d): lost: %s\n", name(), (int)victim, host, (int)process[victim], cause);
    if (!CHECK_EQ(times_in(folder_text("err"), words), P - 1)) printf("  %s\n  not %d times in: %s\n", words, (int)P - 1, folder_text("err"));
    CHECK(!shared_files());
    for (int32_t r = 0; r < P; r++) {
        CHECK(!has_unfinished(r) || r == victim);
        char name[30];
        snprintf(name, sizeof name, "unfinished.%d", (int)r);
        unlink(folder_path(path, name));
    }
}

TEST(a_killed_process_is_named_by_all_others_which_end)
{
    if (missing()) SKIP(missing());
    const char* kills = getenv("GGNN_TEST_KILLS");
    for (int i = 0; i < (kills ? atoi(kills) : 3); i++) lose_one(2 + i % 3, SIGKILL, 10, "connection closed");
}

/* A process that has ended lives no more, though mpirun has not asked for its status yet. */
static bool lives(pid_t process)
{
    char path[40], state = 'Z';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE* f = fopen(path, "r");
    if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    if (f) fclose(f);
    return state != 'Z';
}

/* Rank 0 is killed, and SIGTERM sent to the others when they know: how long they live then. */
static double seconds_after_sigterm(void)
{
    pid_t process[RANKS_MAX];
    pid_t child = start_looping(3, process);
    double begin = test_seconds();
    if (process[0] > 0) kill(process[0], SIGKILL);
    while ((has_unfinished(1) || has_unfinished(2)) && test_seconds() < begin + 10) nap(.01);
    nap(.05);
    begin = test_seconds();
    for (int r = 1; r < 3; r++)
        if (process[r] > 0) kill(process[r], SIGTERM);
    while ((lives(process[1]) || lives(process[2])) && test_seconds() < begin + 10) nap(.01);
    const double took = test_seconds() - begin;
    CHECK(finish(child, 20) > 0);
    CHECK_EQ(left_of(child), 0);
    return took;
}

/* Other programs may have the cores: not so each time. */
TEST(one_that_is_told_to_stop_after_another_is_lost_ends_at_once)
{
    if (missing()) SKIP(missing());
    int tries = 1;
    while (seconds_after_sigterm() > .4 && tries < 10) tries++;
    CHECK(tries < 10);
}

TEST(a_process_that_stands_still_is_lost_after_five_seconds)
{
    if (missing()) SKIP(missing());
    lose_one(3, SIGSTOP, 15, "no sign of life for 5 s");
}

/* A laptop that sleeps, a job that is suspended: the time in which all stood still is no one's silence. */
TEST(ranks_that_all_stood_still_go_on)
{
    if (missing()) SKIP(missing());
    pid_t process[RANKS_MAX];
    pid_t child = start_looping(3, process);
    for (int r = 0; r < 3; r++) kill(process[r], SIGSTOP);
    nap(8);
    for (int r = 0; r < 3; r++) kill(process[r], SIGCONT);
    nap(2);
    for (int r = 0; r < 3; r++) CHECK(lives(process[r]));
    kill(process[1], SIGTERM);
    CHECK_EQ(finish(child, 20), 0);
    CHECK_EQ(left_of(child), 0);
    CHECK_STR(folder_text("err"), "");
}

TEST(a_busy_process_lives)
{
    if (missing()) SKIP(missing());
    CHECK_EQ(run_ranks(3, "busy 8"), 0);
    for (int32_t r = 0; r < 3; r++) CHECK(has(line_of(r), r == 1 ? "waited=0" : "waited="));
}

TEST(one_that_is_told_to_stop_stops_all_at_one_call)
{
    if (missing()) SKIP(missing());
    pid_t process[RANKS_MAX];
    char first[200];
    pid_t child = start_looping(3, process);
    nap(.2);
    kill(process[1], SIGTERM);
    CHECK_EQ(finish(child, 20), 0);
    CHECK_EQ(left_of(child), 0);
    snprintf(first, sizeof first, "%s", line_of(0) + strlen("rank=0"));
    CHECK(strstr(first, "calls=") != NULL);
    for (int32_t r = 1; r < 3; r++) CHECK_STR(line_of(r) + strlen("rank=0"), first);
}

TEST(three_hosts_get_the_same_bits_as_threads)
{
    if (missing()) SKIP(missing());
    down = "";
    compare_with_threads(HOSTS, &(script){test_random(), NULL, -1, 0, COMM_OWN});
    if (!test_skip) printf("  %s\n", strstr(folder_text("out"), "host a: "));
}

/* MPI numbers its ranks across the hosts, as --map-by node tells it to; ours go host by host all the same. */
TEST(ranks_of_a_host_follow_each_other_however_mpi_numbers_them)
{
    if (missing()) SKIP(missing());
    down = "";
    setenv("OMPI_MCA_rmaps_base_mapping_policy", "node", 1);
    compare_with_threads(HOSTS, &(script){test_random(), NULL, -1, 0, COMM_OWN});
    unsetenv("OMPI_MCA_rmaps_base_mapping_policy");
}

/* One kernel and one host's name, but processes, IPC, names or /dev/shm that the others cannot reach: two machines. */
TEST(a_rank_in_namespaces_of_its_own_is_on_a_machine_of_its_own)
{
    static const char* const own[] = {"--pid --fork", "--ipc", "--uts", "--mount sh -c \"mount -t tmpfs tmpfs /dev/shm && exec \\\"\\$0\\\" \\\"\\$@\\\"\""};
    if (missing()) SKIP(missing());
    if (system("unshare --pid --ipc --uts --mount --fork true 2>/dev/null") != 0) SKIP("no namespaces for this user");
    setenv("OMPI_MCA_btl", "self,tcp", 1); /* MPI's own shared memory asks less than ours */
    setenv("OMPI_MCA_btl_tcp_if_include", "lo", 1);
    for (int i = -1; i < 4; i++) {
        apart = i < 0 ? NULL : own[i];
        CHECK_EQ(run_ranks(2, "script 5 0 -1 0"), 0);
        for (int32_t r = 0; r < 2; r++)
            CHECK(has(line_of(r), i < 0 ? " locals=2 machine=0 machines=1 steps=60 wrong=0" : r ? " locals=1 machine=1 machines=2 steps=60 wrong=0"
                                                                                               : " locals=1 machine=0 machines=2 steps=60 wrong=0"));
    }
    apart = NULL;
    unsetenv("OMPI_MCA_btl");
    unsetenv("OMPI_MCA_btl_tcp_if_include");
}

/* Files that all hosts see: beside this program, as each has a /dev/shm of its own. 30,000 nodes are two chunks of evaluation,
   whose rows go from host to host. */
TEST(a_training_over_three_hosts_saves_what_six_threads_save)
{
    if (missing()) SKIP(missing());
    const char* lines =
        "set -e; tools=$(dirname $self)/..; here=$(mktemp -d $tools/hosts.XXXXXX); trap 'rm -r $here' EXIT; "
        "$tools/ggnn-data generate planted $here/graph --nodes 30000 >$here/out; "
        "for model in sage gat; do "
        "train=\"$tools/ggnn-train --data $here/graph --model $model --layers 2 --hidden 16 --fanout 8,4 --epochs 2 --eval-every 1 --seed 4\"; "
        "bash tests/hosts.sh $train --save $here/hosts >$here/out 2>&1 || { s=$?; cat $here/out; exit $s; }; "
        "$train --devices 6 --save $here/threads >$here/out 2>&1; cmp $here/hosts $here/threads; done";
    setenv("self", self, 1);
    const int status = system(lines);
    if (WEXITSTATUS(status) == 77) SKIP("hosts.sh cannot run here");
    CHECK_EQ(status, 0);
}

TEST(a_host_whose_link_goes_down_is_lost)
{
    if (missing()) SKIP(missing());
    down = "--down ready";
    pid_t child = start(HOSTS, "loop -");
    if (finish(child, 90) == 77) SKIP("hosts.sh cannot run here");
    CHECK_EQ(left_of(child), 0);
    CHECK(times_in(folder_text("err"), ": rank 4 (host c, ") + times_in(folder_text("err"), ": rank 5 (host c, ") == 4);
    CHECK_EQ(times_in(folder_text("err"), "): lost: "), 4); /* no sign of life, or what the system says: "No route to host" */
    const char* ended = strstr(folder_text("out"), "all ranks have ended ");
    CHECK(ended && atoi(ended + strlen("all ranks have ended ")) < 10000);
}

int main(int argc, char** argv)
{
    if (comm_under_mpi()) return be_a_rank(argc, argv);
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(17);
    if (!realpath(argv[0], self)) return 1;
    folder_make();
    RUN(processes_get_the_same_bits_as_threads);
    RUN_SLOW(a_rank_in_namespaces_of_its_own_is_on_a_machine_of_its_own);
    RUN_SLOW(processes_that_mpi_does_not_connect_are_an_error_that_says_what_it_needs);
    RUN_SLOW(rows_of_many_bytes_are_messages_of_a_gib);
    RUN(shared_memory_is_given_back);
    RUN_SLOW(a_process_that_fails_ends_all_with_its_message);
    RUN(a_killed_process_is_named_by_all_others_which_end);
    RUN(one_that_is_told_to_stop_stops_all_at_one_call);
    RUN(one_that_is_told_to_stop_after_another_is_lost_ends_at_once);
    RUN_SLOW(all_fail_with_the_process_whose_allocation_fails);
    RUN_SLOW(ranks_say_when_they_have_waited_long_for_one_that_does_not_start);
    RUN_SLOW(a_process_that_stands_still_is_lost_after_five_seconds);
    RUN_SLOW(ranks_that_all_stood_still_go_on);
    RUN_SLOW(a_busy_process_lives);
    RUN(three_hosts_get_the_same_bits_as_threads);
    RUN_SLOW(ranks_of_a_host_follow_each_other_however_mpi_numbers_them);
    RUN_SLOW(a_training_over_three_hosts_saves_what_six_threads_save);
    RUN_SLOW(a_host_whose_link_goes_down_is_lost);
    folder_remove();
    return test_finish();
}
