#include "trainer/ranks/patience.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const double PATIENCE = 30; /* seconds */

static int milliseconds(void)
{
    const char* given = getenv("GGNN_TEST_PATIENCE");
    return (int)(1e3 * (given && atof(given) > 0 ? atof(given) : PATIENCE));
}

static void* wait_and_say(void* context)
{
    const patience* p = context;
    struct pollfd end = {p->end, POLLIN, 0};
    if (poll(&end, 1, milliseconds()) == 0) fprintf(stderr, "%s: %s\n", program_invocation_short_name, p->text);
    return NULL;
}

void patience_begin(patience* p, const char* text)
{
    sigset_t all, before;
    memset(p, 0, sizeof *p);
    snprintf(p->text, sizeof p->text, "%s", text);
    p->end = eventfd(0, EFD_CLOEXEC);
    if (p->end < 0) return;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* signals are the main thread's */
    p->running = pthread_create(&p->thread, NULL, wait_and_say, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void patience_end(patience* p)
{
    const uint64_t now = 1;
    if (p->running && write(p->end, &now, sizeof now) == sizeof now) pthread_join(p->thread, NULL);
    if (p->end >= 0) close(p->end);
}
