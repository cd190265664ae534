#include "common/unfinished.h"

#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 32, PATH_BYTES = 4400 };
static char unfinished[MOST][PATH_BYTES];
static int count; /* grows when a path is whole. Handlers and other threads read it, so it is atomic */

void unfinished_remove(void)
{
    for (int i = __atomic_load_n(&count, __ATOMIC_ACQUIRE); i-- > 0;)
        if (unlink(unfinished[i]) != 0) rmdir(unfinished[i]);
}

/* A signal that waits, EXPECTED where none does yet, NOTHING where none has to. Threads take signals, so it is atomic. */
enum { NOTHING = 0, EXPECTED = -1 };
static int waiting = NOTHING;

void unfinished_end(int signal_number)
{
    int found = EXPECTED;
    if (__atomic_compare_exchange_n(&waiting, &found, signal_number, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || found > 0) return;
    unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(signal_number, unfinished_end);
}

void unfinished_expect(void)
{
    __atomic_store_n(&waiting, EXPECTED, __ATOMIC_RELEASE);
    catch(SIGHUP);
    catch(SIGINT);
    catch(SIGTERM);
}

void unfinished_add(const char* path)
{
    if (path && count < MOST && strlen(path) < PATH_BYTES) {
        strcpy(unfinished[count], path);
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    const int came = __atomic_exchange_n(&waiting, NOTHING, __ATOMIC_ACQ_REL);
    if (came > 0) unfinished_end(came);
}

void unfinished_clear(void) { __atomic_store_n(&count, 0, __ATOMIC_RELEASE); }
