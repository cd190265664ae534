/* test_heartbeat_time.c - heartbeats by a clock that only runs while they wait, and on networks that this machine has not: with
   clock, waits, interfaces and ports of the test's own in place of the system's. */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/progress.h"
#include "tests/test.h"

/* ==== the system ================================================================================================ */

static double clock_at; /* seconds */
static double clock_here(void) { return clock_at; }
static int wait_here(struct pollfd* of, nfds_t count, int milliseconds)
{
    const int ready = poll(of, count, 0);
    if (ready == 0 && milliseconds > 0) clock_at += 1e-3 * milliseconds;
    return ready;
}

static int ended; /* a process tells when it ends */
static void exit_here(int status)
{
    dprintf(ended, "%.3f", clock_at);
    _exit(status);
}

static struct ifaddrs* interfaces;
static int interfaces_here(struct ifaddrs** all)
{
    *all = interfaces;
    return interfaces ? 0 : -1;
}
static void forget_interfaces(struct ifaddrs* all) { CHECK(all == interfaces); }

static int refused[2]; /* families */
static int bind_here(int s, const struct sockaddr* at, socklen_t size)
{
    errno = EADDRNOTAVAIL;
    return at->sa_family == refused[0] || at->sa_family == refused[1] ? -1 : bind(s, at, size);
}

#define progress_seconds() clock_here()
#define poll(of, count, milliseconds) wait_here(of, count, milliseconds)
#define _exit(status) exit_here(status)
#define getifaddrs(all) interfaces_here(all)
#define freeifaddrs(all) forget_interfaces(all)
#define bind(s, at, size) bind_here(s, at, size)
#include "trainer/ranks/heartbeat.c"
#undef progress_seconds
#undef poll
#undef _exit
#undef getifaddrs
#undef freeifaddrs
#undef bind

static void name_of(const void* context, int32_t rank, char text[160])
{
    (void)context;
    snprintf(text, 160, "rank %d", (int)rank);
}

static heartbeat* heartbeat_of(int32_t rank, int32_t ranks)
{
    error why = {""};
    heartbeat* h = heartbeat_new(rank, ranks, name_of, NULL, &why);
    CHECK(h != NULL);
    return h;
}

/* ==== where rank 0 listens ====================================================================================== */

typedef struct {
    struct ifaddrs list[24];
    struct sockaddr_storage at[24];
    int count;
} network;

/* address NULL: the interface has none; "": one of another family. */
static void add_interface(network* n, const char* address, unsigned flags)
{
    struct ifaddrs* i = &n->list[n->count];
    struct sockaddr_storage* at = &n->at[n->count];
    *i = (struct ifaddrs){.ifa_flags = flags, .ifa_addr = address ? (struct sockaddr*)at : NULL};
    if (address && inet_pton(AF_INET, address, &((struct sockaddr_in*)at)->sin_addr) == 1) at->ss_family = AF_INET;
    else if (address && inet_pton(AF_INET6, address, &((struct sockaddr_in6*)at)->sin6_addr) == 1) at->ss_family = AF_INET6;
    else at->ss_family = AF_UNIX;
    if (n->count++) n->list[n->count - 2].ifa_next = i;
    interfaces = n->list;
}

static heartbeat_address addresses(void)
{
    heartbeat_address at = {0};
    error why = {""};
    heartbeat* h = heartbeat_of(0, 3);
    CHECK(h && heartbeat_bind(h, false, &at, &why) && at.port);
    CHECK_STR(why.text, "");
    heartbeat_free(h);
    return at;
}

/* Those that are up and that another machine may reach, in the system's order; then those of this one alone. */
TEST(ranks_of_other_machines_are_told_the_addresses_that_they_may_reach)
{
    static const struct {
        const char* address;
        unsigned flags;
    } of[] = {{"127.0.0.1", IFF_UP | IFF_LOOPBACK}, {"", IFF_UP}, {"10.0.0.5", IFF_UP | IFF_RUNNING}, {"10.0.0.6", IFF_RUNNING}, {NULL, IFF_UP},
              {"fe80::1", IFF_UP}, {"2001:db8::7", IFF_UP}, {"::1", IFF_UP | IFF_LOOPBACK}, {"127.0.0.2", IFF_LOOPBACK}, {"192.168.1.9", IFF_UP}};
    static const char* const told[] = {"10.0.0.5", "2001:db8::7", "192.168.1.9", "127.0.0.1", "::1"};
    static network some, many;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) add_interface(&some, of[i].address, of[i].flags);
    heartbeat_address at = addresses();
    for (int i = 0; i < HEARTBEAT_ADDRESSES; i++) CHECK_STR(at.address[i], i < 5 ? told[i] : "");
    for (int i = 0; i < 20; i++) {
        char text[20];
        snprintf(text, sizeof text, "10.1.0.%d", i);
        add_interface(&many, text, IFF_UP);
    }
    at = addresses();
    for (int i = 0; i < HEARTBEAT_ADDRESSES; i++) {
        char text[20];
        snprintf(text, sizeof text, "10.1.0.%d", i);
        CHECK_STR(at.address[i], text);
    }
    interfaces = NULL; /* the system does not say */
    at = addresses();
    for (int i = 0; i < HEARTBEAT_ADDRESSES; i++) CHECK_STR(at.address[i], "");
}

/* Where its socket is, and what others are told. */
static void check_bound(bool one_machine, const char* bound, const char* told)
{
    struct sockaddr_storage is = {0};
    socklen_t size = sizeof is;
    char text[64] = "";
    heartbeat_address at;
    error why = {""};
    heartbeat* h = heartbeat_of(0, 3);
    const bool good = heartbeat_bind(h, one_machine, &at, &why);
    CHECK_STR(why.text, bound ? "" : "heartbeats: no port to listen at: Cannot assign requested address");
    CHECK_EQ(good, bound != NULL);
    if (good && CHECK(getsockname(h->listener, (struct sockaddr*)&is, &size) == 0))
        inet_ntop(is.ss_family, is.ss_family == AF_INET ? (void*)&((struct sockaddr_in*)&is)->sin_addr : (void*)&((struct sockaddr_in6*)&is)->sin6_addr, text, sizeof text);
    CHECK_STR(text, bound ? bound : "");
    CHECK_STR(at.address[0], told);
    CHECK_STR(at.address[1], "");
    heartbeat_free(h);
}

static bool has_six(void)
{
    struct sockaddr_in6 at = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
    const int s = socket(AF_INET6, SOCK_STREAM, 0);
    const bool has = s >= 0 && bind(s, (struct sockaddr*)&at, sizeof at) == 0;
    if (s >= 0) close(s);
    return has;
}

/* Everywhere means both families, where the machine has both. */
TEST(a_machine_of_one_family_of_addresses_listens_in_that_one)
{
    static network n;
    add_interface(&n, "10.0.0.5", IFF_UP);
    const bool six = has_six();
    for (int which = 0; which < 4; which++) {
        refused[0] = which & 1 ? AF_INET : -1;
        refused[1] = which & 2 ? AF_INET6 : -1;
        const bool four_here = !(which & 1), six_here = six && !(which & 2);
        if (four_here) check_bound(true, "127.0.0.1", "127.0.0.1");
        else if (six_here) check_bound(true, "::1", "::1");
        else check_bound(true, NULL, "");
        if (six_here) check_bound(false, "::", "10.0.0.5");
        else if (four_here) check_bound(false, "0.0.0.0", "10.0.0.5");
        else check_bound(false, NULL, "");
    }
    refused[0] = refused[1] = -1;
}

/* ==== times ===================================================================================================== */

/* Rank 0 waits 20 seconds for the others, these 15 for it, so that they say first at which addresses; not at all where there are none. */
TEST(ranks_wait_so_long_for_each_other_and_say_for_whom)
{
    static const char* const place[] = {"127.0.0.1", ""};
    static network n;
    add_interface(&n, "127.0.0.1", IFF_UP | IFF_LOOPBACK);
    heartbeat_address at;
    error why = {""};
    char words[160];
    heartbeat* h = heartbeat_of(0, 3);
    CHECK(heartbeat_bind(h, true, &at, &why));
    clock_at = 100;
    CHECK(!heartbeat_start(h, &at, &why));
    snprintf(words, sizeof words, "heartbeats: rank 1 did not connect to port %d", at.port);
    CHECK_STR(why.text, words);
    CHECK(clock_at >= 120 && clock_at < 120.1);
    heartbeat_free(h); /* nobody listens there any more */
    for (int i = 0; i < 2; i++) {
        h = heartbeat_of(1, 3);
        snprintf(at.address[0], sizeof at.address[0], "%s", place[i]);
        clock_at = 100;
        why.text[0] = 0;
        CHECK(!heartbeat_start(h, &at, &why));
        snprintf(words, sizeof words, "heartbeats: no address of rank 0 answers: %s, ..., port %d", place[i], at.port);
        CHECK_STR(why.text, words);
        CHECK(i ? clock_at < 100.1 : clock_at >= 115 && clock_at < 115.1);
        heartbeat_free(h);
    }
}

/* A process that is that rank of three and hears nothing. What it sends to its peers, prints, and when it ends. */
static void be_alone(int32_t rank, char sent[2][1200], char printed[600], double* end)
{
    int out[2], times[2], pair[2][2], status = 0;
    char text[20] = "";
    CHECK(pipe(out) == 0 && pipe(times) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair[0]) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, pair[1]) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(out[1], STDERR_FILENO);
        ended = times[1];
        heartbeat* h = heartbeat_of(rank, 3);
        if (rank) h->peer[0].socket = pair[0][1];
        else h->peer[1].socket = pair[0][1], h->peer[2].socket = pair[1][1];
        clock_at = 0;
        beat(h);
        _exit(99);
    }
    close(out[1]);
    close(times[1]);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1);
    for (int i = 0; i < 2; i++) {
        close(pair[i][1]);
        const ssize_t got = recv(pair[i][0], sent[i], 1199, MSG_DONTWAIT);
        sent[i][got > 0 ? got : 0] = 0;
        close(pair[i][0]);
    }
    const ssize_t length = read(out[0], printed, 599);
    printed[length > 0 ? length : 0] = 0;
    CHECK(read(times[0], text, sizeof text - 1) > 0);
    *end = strtod(text, NULL);
    close(out[0]);
    close(times[0]);
}

/* A beat every quarter of a second, by its clock of milliseconds one in 251. Of two that are silent for more than five seconds the first is
   named to the other one, which has a second and a half to end; without rank 0 all give each other that. */
TEST(silence_of_five_seconds_is_the_loss_of_a_rank)
{
    char sent[2][1200], printed[600], words[200];
    static const char beats[] = "bbbbbbbbbbbbbbbbbbbb"; /* 20 */
    double end;
    be_alone(0, sent, printed, &end);
    snprintf(words, sizeof words, "%s: rank 1: lost: no sign of life for 5 s\n", program_invocation_short_name);
    CHECK_STR(printed, words);
    CHECK_STR(sent[0], beats);
    snprintf(words, sizeof words, "%slrank 1: lost: no sign of life for 5 s", beats);
    CHECK_STR(sent[1], words);
    CHECK_NEAR(end, 20 * .251 + 1.501, .0021);
    be_alone(1, sent, printed, &end);
    snprintf(words, sizeof words, "%s: rank 0: lost: no sign of life for 5 s\n", program_invocation_short_name);
    CHECK_STR(printed, words);
    CHECK_STR(sent[0], beats);
    CHECK_STR(sent[1], "");
    CHECK_NEAR(end, 20 * .251 + 1.5, .0021);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    refused[0] = refused[1] = -1;
    RUN(ranks_of_other_machines_are_told_the_addresses_that_they_may_reach);
    RUN(a_machine_of_one_family_of_addresses_listens_in_that_one);
    RUN(ranks_wait_so_long_for_each_other_and_say_for_whom);
    RUN(silence_of_five_seconds_is_the_loss_of_a_rank);
    return test_finish();
}
