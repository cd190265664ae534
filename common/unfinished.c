#include "common/unfinished.h"

#include <signal.h>
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

void unfinished_end(int signal_number)
{
    unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(signal_number, unfinished_end);
}

void unfinished_add(const char* path)
{
    if (count == MOST || strlen(path) >= PATH_BYTES) return;
    strcpy(unfinished[count], path);
    __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    catch(SIGHUP);
    catch(SIGINT);
    catch(SIGTERM);
}

void unfinished_clear(void) { __atomic_store_n(&count, 0, __ATOMIC_RELEASE); }
