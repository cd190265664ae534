/* test_heartbeat.c - how the ranks of a run find each other (trainer/ranks/heartbeat.h), here as threads of this program, while
   strangers connect to the same port. test_mpi has processes, and what becomes of them. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/listens_at.h"
#include "tests/test.h"
#include "trainer/ranks/heartbeat.h"

enum { RANKS = 3 };

typedef struct {
    heartbeat* h;
    const heartbeat_address* at;
    bool good;
    error why;
    pthread_t thread;
} member;

static void title(const void* context, int32_t rank, char text[160])
{
    (void)context;
    snprintf(text, 160, "rank %d", (int)rank);
}

static void* start(void* context)
{
    member* m = context;
    m->good = heartbeat_start(m->h, m->at, &m->why);
    return NULL;
}

static void begin(member* m, int32_t rank, const heartbeat_address* at)
{
    error why = {""};
    m->at = at;
    if (!m->h) m->h = heartbeat_new(rank, RANKS, title, NULL, &why);
    CHECK(m->h && pthread_create(&m->thread, NULL, start, m) == 0);
}

static void end(member* m)
{
    CHECK_STR(m->why.text, "");
    CHECK(m->good);
    heartbeat_free(m->h);
}

/* A connection to the port, as soon as somebody listens; -1: nobody does. */
static int connect_within(double seconds, uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const double until = test_seconds() + seconds;
    do {
        int s = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(s, (struct sockaddr*)&to, sizeof to) == 0) return s;
        close(s);
        usleep(1000);
    } while (test_seconds() < until);
    return -1;
}

static int open_files(void)
{
    int count = 0;
    for (int file = 0; file < 1024; file++) count += fcntl(file, F_GETFD) >= 0;
    return count;
}

/* Strangers come first: every other one says something, the others nothing. Then the ranks; then nobody any more, and no stranger is
   still listened to. */
static void meet_beside(int32_t strangers, bool one_machine)
{
    member m[RANKS] = {{.good = false}};
    heartbeat_address at;
    error why = {""};
    const int before = open_files();
    int* stranger = malloc((size_t)strangers * sizeof *stranger + 1);
    m[0].h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(m[0].h && heartbeat_bind(m[0].h, one_machine, &at, &why));
    begin(&m[0], 0, &at);
    for (int32_t i = 0; i < strangers; i++) {
        stranger[i] = connect_within(10, at.port);
        CHECK(stranger[i] >= 0);
        if (i % 2) CHECK_EQ(send(stranger[i], "GET / HTTP/1.1\r\nHost: nobody\r\n\r\n", (size_t)(i % 32), MSG_NOSIGNAL), i % 32);
    }
    const double start = test_seconds();
    for (int32_t r = 1; r < RANKS; r++) begin(&m[r], r, &at);
    for (int32_t r = 0; r < RANKS; r++) pthread_join(m[r].thread, NULL);
    CHECK(test_seconds() - start < 3);
    CHECK_EQ(connect_within(.01, at.port), -1);
    for (int32_t i = 0; i < strangers; i++) {
        char byte;
        const struct timeval most = {5, 0};
        setsockopt(stranger[i], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        if (!CHECK(recv(stranger[i], &byte, 1, 0) == 0 || errno == ECONNRESET)) break;
    }
    for (int32_t r = 0; r < RANKS; r++) end(&m[r]);
    for (int32_t i = 0; i < strangers; i++) close(stranger[i]);
    free(stranger);
    CHECK_EQ(open_files(), before);
}

TEST(ranks_find_each_other_at_once_whoever_else_connects)
{
    meet_beside(0, true);
    meet_beside(6, true);
    meet_beside(300, true); /* more than are heard at one time */
}

/* A stranger who knows how ranks greet, and another one at the first address, who answers as rank 0 does: neither has the
   token. The right address is tried last. */
TEST(who_does_not_know_the_token_is_no_rank)
{
    member m[RANKS] = {{.good = false}};
    heartbeat_address at, seen;
    error why = {""};
    struct {
        unsigned char token[16];
        int32_t rank;
    } hello = {{0}, 1};
    struct sockaddr_in false_one = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1)}; /* 127.0.0.2 */
    int other = socket(AF_INET, SOCK_STREAM, 0);
    m[0].h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(m[0].h && heartbeat_bind(m[0].h, true, &at, &why));
    false_one.sin_port = htons(at.port);
    CHECK(bind(other, (struct sockaddr*)&false_one, sizeof false_one) == 0 && listen(other, 8) == 0);
    begin(&m[0], 0, &at);
    int stranger = connect_within(10, at.port);
    CHECK_EQ(send(stranger, &hello, sizeof hello, MSG_NOSIGNAL), sizeof hello);
    CHECK_EQ(recv(stranger, &hello, sizeof hello, 0), 0); /* hung up */
    seen = at;
    strcpy(seen.address[0], "no address");
    strcpy(seen.address[1], "127.0.0.2");
    strcpy(seen.address[2], "127.0.0.1");
    begin(&m[1], 1, &seen);
    begin(&m[2], 2, &at);
    int called = accept(other, NULL, NULL);
    CHECK_EQ(send(called, hello.token, sizeof hello.token, MSG_NOSIGNAL), sizeof hello.token);
    for (int32_t r = 0; r < RANKS; r++) pthread_join(m[r].thread, NULL);
    for (int32_t r = 0; r < RANKS; r++) end(&m[r]);
    close(called);
    close(stranger);
    close(other);
}

typedef struct { /* as a rank greets */
    unsigned char token[16];
    int32_t rank;
} greeting;

static bool hangs_up(int s)
{
    char byte;
    return recv(s, &byte, 1, 0) <= 0;
}

/* Whoever knows the token, but gives the number of rank 0, none that is, or one that has come. The last one takes its time. */
TEST(a_rank_comes_once_and_has_a_number_of_those_that_are_awaited)
{
    static const int32_t wrong[] = {0, RANKS, -1, 1};
    member m[RANKS] = {{.good = false}};
    heartbeat_address at;
    error why = {""};
    greeting hello;
    unsigned char answer[16];
    int caller[4];
    m[0].h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(m[0].h && heartbeat_bind(m[0].h, true, &at, &why));
    memcpy(hello.token, at.token, sizeof hello.token);
    begin(&m[0], 0, &at);
    begin(&m[1], 1, &at);
    pthread_join(m[1].thread, NULL); /* it was answered */
    for (int i = 0; i < 4; i++) {
        caller[i] = connect_within(10, at.port);
        hello.rank = wrong[i];
        CHECK_EQ(send(caller[i], &hello, sizeof hello, MSG_NOSIGNAL), sizeof hello);
        CHECK(hangs_up(caller[i]));
    }
    int late = connect_within(10, at.port);
    hello.rank = 2;
    for (size_t i = 0; i < sizeof hello; i += 5) { /* four pieces */
        CHECK_EQ(send(late, (const char*)&hello + i, 5, MSG_NOSIGNAL), 5);
        usleep(10000);
    }
    CHECK_EQ(recv(late, answer, sizeof answer, MSG_WAITALL), sizeof answer);
    CHECK(!memcmp(answer, at.token + 16, sizeof answer));
    pthread_join(m[0].thread, NULL);
    CHECK_EQ(send(late, "g", 1, MSG_NOSIGNAL), 1); /* goodbye */
    for (int32_t r = 0; r < 2; r++) end(&m[r]);
    for (int i = 0; i < 4; i++) close(caller[i]);
    close(late);
}

/* The other half of the token comes by and by; then what rank 0 says of one that is lost, in pieces, too. All is printed. */
TEST(answers_of_rank_0_may_come_in_pieces)
{
    heartbeat_address at = {.address = {"127.0.0.1"}};
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof here;
    greeting hello;
    char text[1 + 512] = {'l'}, printed[600] = "", wanted[600];
    int out[2], rank_0 = socket(AF_INET, SOCK_STREAM, 0), status = 0;
    for (int i = 0; i < 32; i++) at.token[i] = (unsigned char)(i + 1);
    snprintf(text + 1, sizeof text - 1, "rank 2: lost: no more of it");
    CHECK(bind(rank_0, (struct sockaddr*)&here, sizeof here) == 0 && listen(rank_0, 1) == 0 && getsockname(rank_0, (struct sockaddr*)&here, &size) == 0);
    CHECK_EQ(pipe(out), 0);
    at.port = ntohs(here.sin_port);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        error why = {""};
        dup2(out[1], STDERR_FILENO);
        heartbeat* h = heartbeat_new(1, RANKS, title, NULL, &why);
        if (!h || !heartbeat_start(h, &at, &why)) _exit(99);
        for (;;) pause();
    }
    close(out[1]);
    int s = accept(rank_0, NULL, NULL);
    CHECK_EQ(recv(s, &hello, sizeof hello, MSG_WAITALL), sizeof hello);
    CHECK(!memcmp(hello.token, at.token, sizeof hello.token) && hello.rank == 1);
    for (int i = 0; i < 16; i += 8) {
        CHECK_EQ(send(s, at.token + 16 + i, 8, MSG_NOSIGNAL), 8);
        usleep(20000);
    }
    CHECK_EQ(send(s, "bb", 2, MSG_NOSIGNAL), 2);
    for (size_t i = 0; i < sizeof text; i += 171) {
        CHECK_EQ(send(s, text + i, 171, MSG_NOSIGNAL), 171);
        usleep(10000);
    }
    shutdown(s, SHUT_WR); /* all have spoken */
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    CHECK(read(out[0], printed, sizeof printed - 1) > 0);
    snprintf(wanted, sizeof wanted, "%s: rank 2: lost: no more of it\n", program_invocation_short_name);
    CHECK_STR(printed, wanted);
    close(s);
    close(rank_0);
    close(out[0]);
}

/* Loopback of IPv6, where this host has it, reaches what listens everywhere. */
TEST(a_rank_comes_by_either_family)
{
    for (int six = 0; six < 2; six++) {
        member m[RANKS] = {{.good = false}};
        heartbeat_address at;
        error why = {""};
        m[0].h = heartbeat_new(0, RANKS, title, NULL, &why);
        CHECK(m[0].h && heartbeat_bind(m[0].h, false, &at, &why));
        begin(&m[0], 0, &at);
        CHECK(at.address[0][0] != 0);
        memset(at.address, 0, sizeof at.address);
        strcpy(at.address[0], six && access("/proc/net/if_inet6", R_OK) == 0 ? "::1" : "127.0.0.1");
        for (int32_t r = 1; r < RANKS; r++) begin(&m[r], r, &at);
        for (int32_t r = 0; r < RANKS; r++) pthread_join(m[r].thread, NULL);
        for (int32_t r = 0; r < RANKS; r++) end(&m[r]);
    }
}

TEST(nobody_can_connect_before_the_ranks_do)
{
    heartbeat_address at;
    error why = {""};
    heartbeat* h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(h && heartbeat_bind(h, true, &at, &why) && at.port);
    CHECK_EQ(connect_within(.1, at.port), -1);
    heartbeat_free(h);
}

TEST(ranks_of_one_machine_listen_at_loopback_alone_those_of_several_everywhere)
{
    heartbeat_address at;
    error why = {""};
    heartbeat* h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(h && heartbeat_bind(h, true, &at, &why));
    CHECK_STR(at.address[0], "127.0.0.1");
    CHECK_STR(at.address[1], "");
    heartbeat_free(h);
    meet_beside(0, true);
    CHECK_STR(listens_at, "127.0.0.1");
    meet_beside(0, false);
    CHECK(strcmp(listens_at, "::") == 0 || strcmp(listens_at, "0.0.0.0") == 0);
}

/* ==== the loss of a rank ======================================================================================== */

/* A process that is one rank, and says at `started` that it has found the others. */
static void be_a_rank(int32_t rank, heartbeat* h, const heartbeat_address* at, int started)
{
    error why = {""};
    if (!h) h = heartbeat_new(rank, RANKS, title, NULL, &why);
    if (!h || !heartbeat_start(h, at, &why) || write(started, "s", 1) != 1) _exit(99);
    for (;;) pause();
}

static void start_ranks(pid_t* child)
{
    heartbeat_address at;
    error why = {""};
    int started[2];
    char one;
    heartbeat* h = heartbeat_new(0, RANKS, title, NULL, &why);
    CHECK(h && heartbeat_bind(h, true, &at, &why) && pipe(started) == 0);
    fflush(stdout);
    for (int32_t r = 0; r < RANKS; r++) {
        child[r] = fork();
        if (child[r] == 0) be_a_rank(r, r ? NULL : h, &at, started[1]);
    }
    heartbeat_free(h); /* rank 0 has it */
    close(started[1]);
    for (int32_t r = 0; r < RANKS; r++) CHECK(read(started[0], &one, 1) == 1);
    close(started[0]);
}

static bool lives(pid_t child)
{
    siginfo_t about = {.si_pid = 0};
    return waitid(P_PID, (id_t)child, &about, WEXITED | WNOHANG | WNOWAIT) == 0 && about.si_pid == 0;
}

/* Three processes; `lost` is killed while `slow` is stopped. Is `other` there after some time, as slow has not said yet who was
   lost? It waits 1.5 s: a look that came later than 1.2 s, on a machine that is busy, tells nothing (false). Then all end with
   status 1. */
static bool lose(int32_t lost, int32_t slow, int32_t other)
{
    pid_t child[RANKS];
    siginfo_t about;
    start_ranks(child);
    kill(child[slow], SIGSTOP);
    CHECK(waitid(P_PID, (id_t)child[slow], &about, WSTOPPED | WNOWAIT) == 0);
    const double before = test_seconds();
    kill(child[lost], SIGKILL);
    usleep(700000);
    const bool there = lives(child[other]), told = there || test_seconds() - before < 1.2;
    if (told) CHECK(there);
    kill(child[slow], SIGCONT);
    for (int32_t r = 0; r < RANKS; r++) {
        int status = 0;
        CHECK(waitpid(child[r], &status, 0) == child[r]);
        if (r != lost) CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
    }
    return told;
}

static void lose_until_told(int32_t lost, int32_t slow, int32_t other)
{
    bool told = false;
    for (int tries = 0; tries < 10 && !told; tries++) told = lose(lost, slow, other);
    CHECK(told);
}

/* mpirun kills those who are left as soon as some have ended: their message would be missing. */
TEST(those_who_know_that_one_is_lost_end_when_all_have_said_so)
{
    lose_until_told(1, 2, 0);
    lose_until_told(0, 2, 1);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(ranks_find_each_other_at_once_whoever_else_connects);
    RUN(who_does_not_know_the_token_is_no_rank);
    RUN(a_rank_comes_once_and_has_a_number_of_those_that_are_awaited);
    RUN(answers_of_rank_0_may_come_in_pieces);
    RUN(a_rank_comes_by_either_family);
    RUN(nobody_can_connect_before_the_ranks_do);
    RUN(ranks_of_one_machine_listen_at_loopback_alone_those_of_several_everywhere);
    RUN_SLOW(those_who_know_that_one_is_lost_end_when_all_have_said_so);
    return test_finish();
}
