#include "trainer/ranks/heartbeat.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/progress.h"
#include "common/unfinished.h"

static const double EVERY = .25, LOST_AFTER = 5, CONNECT_WITHIN = 20, ALL_SPEAK_WITHIN = 1.5; /* seconds */
enum { BEAT = 'b', GOODBYE = 'g', LOST = 'l', TEXT = 512, BACKLOG = 1024, STRANGERS = 64 }; /* LOST: what to print follows, TEXT bytes */

typedef struct { /* a connection */
    int socket;  /* -1: none, or it said goodbye */
    double seen; /* when a byte came */
    int32_t got; /* bytes of `text` that have come, -1: none is to come */
    char text[TEXT];
} peer;

struct heartbeat {
    int32_t rank, ranks;
    int32_t peers; /* rank 0: peer r is rank r, and peer 0 unused; others: peer 0 is rank 0 */
    heartbeat_title* title;
    const void* context;
    int listener, end; /* an event: end in good order */
    bool running;
    pthread_t thread;
    peer* peer;
    struct pollfd* poll; /* (peers + 1) */
};

/* ==== the end of a process whose peer is lost =================================================================== */

/* Reads what a peer has sent until it sends no more, or until the time is up. */
static void wait_until_closed(const peer* p, double until)
{
    char unread[256];
    struct pollfd one = {p->socket, POLLIN, 0};
    for (;;) {
        double left = until - progress_seconds();
        if (p->socket < 0 || left <= 0 || poll(&one, 1, (int)(1e3 * left) + 1) < 0) return;
        if (one.revents && recv(p->socket, unread, sizeof unread, 0) <= 0) return;
    }
}

/* mpirun kills the processes that are left as soon as a second and a third one have ended, and 2 seconds after the first was
   killed: so all speak before any of them ends. A rank sends no more when it has spoken; rank 0 ends when all have, the others
   when rank 0 has. Where rank 0 itself is lost nobody knows, and each gives the others time. */
static void wait_until_all_have_spoken(heartbeat* h)
{
    const double until = progress_seconds() + ALL_SPEAK_WITHIN;
    if (h->rank != 0 && h->peer[0].socket >= 0) shutdown(h->peer[0].socket, SHUT_WR);
    for (int32_t r = 0; r < h->peers; r++) wait_until_closed(&h->peer[r], until);
    if (h->rank != 0 && h->peer[0].socket < 0 && h->ranks > 2) poll(NULL, 0, (int)(1e3 * ALL_SPEAK_WITHIN));
}

static void end_at_once(int signal_number)
{
    (void)signal_number;
    unfinished_remove();
    _exit(1);
}

static void end_process(heartbeat* h, const char* text)
{
    char line[TEXT + 32];
    int length = snprintf(line, sizeof line, "%s: %.*s\n", program_invocation_short_name, TEXT, text);
    if (write(STDERR_FILENO, line, (size_t)length) < 0) (void)0; /* nobody is left to tell */
    unfinished_remove();
    signal(SIGTERM, end_at_once); /* nothing is left to do in good order */
    signal(SIGINT, end_at_once);
    wait_until_all_have_spoken(h);
    unfinished_remove(); /* what the main thread has begun meanwhile */
    _exit(1);
}

static void lose(heartbeat* h, int32_t which, const char* cause)
{
    char title[160], message[1 + TEXT] = {LOST};
    h->title(h->context, which, title);
    snprintf(message + 1, TEXT, "%s: lost: %s", title, cause);
    h->peer[which].socket = -1;
    for (int32_t r = 0; h->rank == 0 && r < h->peers; r++)
        if (h->peer[r].socket >= 0) send(h->peer[r].socket, message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    end_process(h, message + 1);
}

/* ==== the thread ================================================================================================ */

static void read_bytes(heartbeat* h, int32_t r, const char* bytes, ssize_t count)
{
    peer* p = &h->peer[r];
    for (ssize_t i = 0; i < count; i++) {
        if (p->got >= 0) {
            p->text[p->got++] = bytes[i];
            if (p->got == TEXT) end_process(h, p->text);
        } else if (bytes[i] == LOST) {
            p->got = 0;
        } else if (bytes[i] == GOODBYE) {
            close(p->socket);
            p->socket = -1;
            return;
        }
    }
}

static void hear(heartbeat* h, int32_t r)
{
    char bytes[1024];
    ssize_t count = recv(h->peer[r].socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (count > 0) {
        h->peer[r].seen = progress_seconds();
        read_bytes(h, r, bytes, count);
    } else if (count == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
        lose(h, r, count == 0 || errno == ECONNRESET ? "connection closed" : strerror(errno));
    }
}

static void say(heartbeat* h, char byte)
{
    for (int32_t r = 0; r < h->peers; r++)
        if (h->peer[r].socket >= 0) send(h->peer[r].socket, &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Time in which this process itself stood still, stopped or without a processor, is no one's silence. */
static void look_for_silence(heartbeat* h, double now, double stood_still)
{
    for (int32_t r = 0; r < h->peers; r++) {
        peer* p = &h->peer[r];
        if (stood_still > LOST_AFTER / 4) p->seen += stood_still;
        if (p->socket >= 0 && now - p->seen > LOST_AFTER) lose(h, r, "no sign of life for 5 s");
    }
}

static void* beat(void* context)
{
    heartbeat* h = context;
    double last = progress_seconds();
    for (int32_t r = 0; r < h->peers; r++) h->peer[r].seen = last;
    for (;;) {
        say(h, BEAT);
        double next = last + EVERY, now;
        do {
            for (int32_t r = 0; r < h->peers; r++) h->poll[r] = (struct pollfd){h->peer[r].socket, POLLIN, 0};
            h->poll[h->peers] = (struct pollfd){h->end, POLLIN, 0};
            double left = next - progress_seconds();
            poll(h->poll, (nfds_t)h->peers + 1, left > 0 ? (int)(1e3 * left) + 1 : 0);
            if (h->poll[h->peers].revents) {
                say(h, GOODBYE);
                return NULL;
            }
            for (int32_t r = 0; r < h->peers; r++)
                if (h->poll[r].fd >= 0 && h->poll[r].revents) hear(h, r);
            now = progress_seconds();
        } while (now < next);
        look_for_silence(h, now, now - next);
        last = now;
    }
}

/* ==== connections =============================================================================================== */

heartbeat* heartbeat_new(int32_t rank, int32_t ranks, heartbeat_title* title, const void* context, error* why)
{
    heartbeat* h = memory_new(sizeof *h, "heartbeats", why);
    if (!h) return NULL;
    h->rank = rank;
    h->ranks = ranks;
    h->peers = rank == 0 ? ranks : 1;
    h->title = title;
    h->context = context;
    h->listener = h->end = -1;
    h->peer = memory_new((size_t)h->peers * sizeof *h->peer, "heartbeats", why);
    h->poll = memory_new(((size_t)h->peers + 1) * sizeof *h->poll, "heartbeats", why);
    for (int32_t r = 0; h->peer && r < h->peers; r++) h->peer[r].socket = h->peer[r].got = -1;
    if (h->peer && h->poll && (h->end = eventfd(0, EFD_CLOEXEC)) >= 0) return h;
    error_set(why, "heartbeats: %s", strerror(errno));
    heartbeat_free(h);
    return NULL;
}

void heartbeat_free(heartbeat* h)
{
    if (!h) return;
    const uint64_t now = 1;
    if (h->running && write(h->end, &now, sizeof now) == sizeof now) pthread_join(h->thread, NULL);
    for (int32_t r = 0; h->peer && r < h->peers; r++)
        if (h->peer[r].socket >= 0) close(h->peer[r].socket);
    if (h->listener >= 0) close(h->listener);
    if (h->end >= 0) close(h->end);
    memory_free(h->peer);
    memory_free(h->poll);
    memory_free(h);
}

/* The addresses of this host, those by which only itself is reached last. */
static void list_addresses(heartbeat_address* at)
{
    struct ifaddrs* all = NULL;
    int count = 0;
    if (getifaddrs(&all) != 0) return;
    for (unsigned loopback = 0; loopback < 2; loopback++)
        for (const struct ifaddrs* i = all; i && count < HEARTBEAT_ADDRESSES; i = i->ifa_next) {
            if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || loopback != ((i->ifa_flags & IFF_LOOPBACK) != 0)) continue;
            const void* four = &((const struct sockaddr_in*)(const void*)i->ifa_addr)->sin_addr;
            const struct in6_addr* six = &((const struct sockaddr_in6*)(const void*)i->ifa_addr)->sin6_addr;
            const int family = i->ifa_addr->sa_family;
            if (family != AF_INET && (family != AF_INET6 || IN6_IS_ADDR_LINKLOCAL(six))) continue;
            if (inet_ntop(family, family == AF_INET ? four : six, at->address[count], sizeof *at->address)) count++;
        }
    freeifaddrs(all);
}

/* A socket with a port of its own, at this host's loopback alone or at all its addresses; -1: the host has none of that
   family. Nobody can connect before listen(). */
static int bind_anywhere(int family, bool loopback, uint16_t* port)
{
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(loopback ? INADDR_LOOPBACK : INADDR_ANY)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = loopback ? in6addr_loopback : in6addr_any};
    const bool old = family == AF_INET;
    struct sockaddr* at = old ? (struct sockaddr*)&four : (struct sockaddr*)&six;
    socklen_t size = old ? sizeof four : sizeof six;
    const int both = 0; /* families */
    int s = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s >= 0 && (old || setsockopt(s, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both) == 0) && bind(s, at, size) == 0 &&
        getsockname(s, at, &size) == 0) {
        *port = ntohs(old ? four.sin_port : six.sin6_port);
        return s;
    }
    if (s >= 0) close(s);
    return -1;
}

bool heartbeat_bind(heartbeat* h, bool one_machine, heartbeat_address* at, error* why)
{
    memset(at, 0, sizeof *at);
    if (getrandom(at->token, sizeof at->token, 0) != (ssize_t)sizeof at->token) return error_set(why, "heartbeats: no random bytes");
    if (one_machine && (h->listener = bind_anywhere(AF_INET, true, &at->port)) >= 0) strcpy(at->address[0], "127.0.0.1");
    else if (one_machine && (h->listener = bind_anywhere(AF_INET6, true, &at->port)) >= 0) strcpy(at->address[0], "::1");
    if (h->listener >= 0) return true;
    h->listener = bind_anywhere(AF_INET6, false, &at->port);
    if (h->listener < 0) h->listener = bind_anywhere(AF_INET, false, &at->port);
    if (h->listener < 0) return error_set(why, "heartbeats: no port to listen at: %s", strerror(errno));
    list_addresses(at);
    return true;
}

/* Reads all of `bytes` before the time is up. */
static bool receive_all(int s, void* to, size_t bytes, double until)
{
    for (size_t got = 0; got < bytes;) {
        struct pollfd one = {s, POLLIN, 0};
        double left = until - progress_seconds();
        if (left <= 0 || poll(&one, 1, (int)(1e3 * left) + 1) < 0) return false;
        ssize_t n = recv(s, (char*)to + got, bytes - got, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) return false;
        if (n > 0) got += (size_t)n;
    }
    return true;
}

typedef struct { /* what a rank says first. Rank 0 answers with the other half of the token */
    unsigned char token[16];
    int32_t rank;
} greeting;

static void set_up(int s)
{
    const int yes = 1;
    setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

typedef struct { /* somebody who has connected to rank 0 */
    int socket;
    size_t got; /* bytes of `hello` that have come */
    greeting hello;
} caller;

typedef struct {
    caller* caller;      /* (most), the first one that came first */
    struct pollfd* poll; /* (1 + most): the listener, then callers */
    int32_t count, most;
} callers;

static void forget(callers* all, int32_t i)
{
    all->count--;
    memmove(&all->caller[i], &all->caller[i + 1], (size_t)(all->count - i) * sizeof *all->caller);
}

static void hang_up(callers* all, int32_t i)
{
    close(all->caller[i].socket);
    forget(all, i);
}

/* A rank says at once who it is: where there is no room for another caller, the one that has waited longest is none. */
static void take_caller(heartbeat* h, callers* all)
{
    int s = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    const bool full = s >= 0 ? all->count == all->most : errno == EMFILE || errno == ENFILE;
    if (full && all->count > 0) hang_up(all, 0);
    if (s < 0) return;
    set_up(s);
    all->caller[all->count++] = (caller){.socket = s};
}

/* Reads what has come from a caller. True: it is one of the ranks, which rank 0 has answered. */
static bool hear_caller(heartbeat* h, callers* all, int32_t i, const heartbeat_address* at)
{
    caller* c = &all->caller[i];
    const greeting* hello = &c->hello;
    ssize_t n = recv(c->socket, (char*)&c->hello + c->got, sizeof c->hello - c->got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    if (n > 0) c->got += (size_t)n;
    if (n > 0 && c->got < sizeof *hello) return false;
    const bool known = n > 0 && !memcmp(hello->token, at->token, sizeof hello->token) && hello->rank > 0 &&
                       hello->rank < h->peers && h->peer[hello->rank].socket < 0;
    if (!known || send(c->socket, at->token + 16, 16, MSG_NOSIGNAL) != 16) {
        hang_up(all, i);
        return false;
    }
    h->peer[hello->rank].socket = c->socket;
    forget(all, i);
    return true;
}

static void accept_ranks(heartbeat* h, callers* all, const heartbeat_address* at)
{
    const double until = progress_seconds() + CONNECT_WITHIN;
    for (int32_t missing = h->peers - 1; missing > 0;) {
        const double left = until - progress_seconds();
        all->poll[0] = (struct pollfd){h->listener, POLLIN, 0};
        for (int32_t i = 0; i < all->count; i++) all->poll[1 + i] = (struct pollfd){all->caller[i].socket, POLLIN, 0};
        if (left <= 0 || (poll(all->poll, 1 + (nfds_t)all->count, (int)(1e3 * left) + 1) < 0 && errno != EINTR)) break;
        for (int32_t i = all->count; i-- > 0;) /* backwards, as callers go meanwhile */
            if (all->poll[1 + i].revents) missing -= hear_caller(h, all, i, at);
        if (all->poll[0].revents) take_caller(h, all);
    }
}

/* Anybody may connect who can reach the port: none of them can hold up the ranks. */
static bool accept_all(heartbeat* h, const heartbeat_address* at, error* why)
{
    callers all = {.most = h->peers + STRANGERS};
    all.caller = memory_new((size_t)all.most * sizeof *all.caller, "heartbeats", why);
    all.poll = memory_new((1 + (size_t)all.most) * sizeof *all.poll, "heartbeats", why);
    bool good = all.caller && all.poll;
    if (good && listen(h->listener, BACKLOG) != 0) good = error_set(why, "heartbeats: port %d: %s", at->port, strerror(errno));
    if (good) accept_ranks(h, &all, at);
    while (all.count > 0) hang_up(&all, all.count - 1);
    memory_free(all.caller);
    memory_free(all.poll);
    for (int32_t r = 1; good && r < h->peers; r++) {
        char title[160];
        if (h->peer[r].socket >= 0) continue;
        h->title(h->context, r, title);
        good = error_set(why, "heartbeats: %s did not connect to port %d", title, at->port);
    }
    return good;
}

/* A connection to `address`, of which rank 0 of this run is the other end; -1: none. */
static int connect_to(const heartbeat* h, const heartbeat_address* at, const char* address)
{
    struct sockaddr_storage to = {0};
    struct sockaddr_in* four = (struct sockaddr_in*)&to;
    struct sockaddr_in6* six = (struct sockaddr_in6*)&to;
    const bool old = inet_pton(AF_INET, address, &four->sin_addr) == 1;
    if (!old && inet_pton(AF_INET6, address, &six->sin6_addr) != 1) return -1;
    to.ss_family = old ? AF_INET : AF_INET6;
    if (old) four->sin_port = htons(at->port);
    else six->sin6_port = htons(at->port);
    int s = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s < 0) return -1;
    set_up(s);
    greeting hello = {.rank = h->rank};
    unsigned char answer[16];
    memcpy(hello.token, at->token, sizeof hello.token);
    struct pollfd one = {s, POLLOUT, 0};
    const bool under_way = connect(s, (struct sockaddr*)&to, old ? sizeof *four : sizeof *six) == 0 || errno == EINPROGRESS;
    if (under_way && poll(&one, 1, 1000) == 1 && send(s, &hello, sizeof hello, MSG_NOSIGNAL) == (ssize_t)sizeof hello &&
        receive_all(s, answer, sizeof answer, progress_seconds() + 5) && !memcmp(answer, at->token + 16, sizeof answer))
        return s;
    close(s);
    return -1;
}

static bool connect_any(heartbeat* h, const heartbeat_address* at, error* why)
{
    const double until = progress_seconds() + CONNECT_WITHIN - 5;
    do {
        for (int i = 0; i < HEARTBEAT_ADDRESSES && at->address[i][0]; i++) {
            h->peer[0].socket = connect_to(h, at, at->address[i]);
            if (h->peer[0].socket >= 0) return true;
        }
        poll(NULL, 0, 10); /* rank 0 may not listen yet */
    } while (at->address[0][0] && progress_seconds() < until);
    char title[160];
    h->title(h->context, 0, title);
    return error_set(why, "heartbeats: no address of %s answers: %s, ..., port %d", title, at->address[0], at->port);
}

bool heartbeat_start(heartbeat* h, const heartbeat_address* at, error* why)
{
    sigset_t all, before;
    if (!(h->rank == 0 ? accept_all(h, at, why) : connect_any(h, at, why))) return false;
    if (h->listener >= 0) close(h->listener);
    h->listener = -1;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the main thread's */
    h->running = pthread_create(&h->thread, NULL, beat, h) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return h->running || error_set(why, "heartbeats: no thread for them");
}
