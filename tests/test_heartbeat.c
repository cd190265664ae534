/* test_heartbeat.c - how the ranks of a run find each other (trainer/heartbeat.h), here as threads of this program, while
   strangers connect to the same port. test_mpi has processes, and what becomes of them. */
#include <errno.h>
#include <pthread.h>

#include "tests/listens_at.h"
#include "tests/test.h"
#include "trainer/heartbeat.h"

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

/* Strangers come first: every other one says something, the others nothing. Then the ranks. */
static void meet_beside(int32_t strangers, bool one_machine)
{
    member m[RANKS] = {{.good = false}};
    heartbeat_address at;
    error why = {""};
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
    for (int32_t r = 0; r < RANKS; r++) end(&m[r]);
    for (int32_t i = 0; i < strangers; i++) close(stranger[i]);
    free(stranger);
}

TEST(ranks_find_each_other_at_once_whoever_else_connects)
{
    meet_beside(0, true);
    meet_beside(6, true);
    meet_beside(300, true); /* more than are heard at one time */
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

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    RUN(ranks_find_each_other_at_once_whoever_else_connects);
    RUN(nobody_can_connect_before_the_ranks_do);
    RUN(ranks_of_one_machine_listen_at_loopback_alone_those_of_several_everywhere);
    return test_finish();
}
