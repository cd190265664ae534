#include "common/unfinished.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 32, PATH_BYTES = 4400 };
static char unfinished[MOST][PATH_BYTES];
static volatile sig_atomic_t count; /* grows when a path is whole */

void unfinished_remove(void)
{
    for (int i = count; i-- > 0;)
        if (unlink(unfinished[i]) != 0) rmdir(unfinished[i]);
}

static void remove_all(int signal_number)
{
    unfinished_remove();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void catch(int signal_number)
{
    struct sigaction now;
    if (sigaction(signal_number, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(signal_number, remove_all);
}

void unfinished_add(const char* path)
{
    if (count == MOST || strlen(path) >= PATH_BYTES) return;
    strcpy(unfinished[count], path);
    count++;
    catch(SIGHUP);
    catch(SIGINT);
    catch(SIGTERM);
}

void unfinished_clear(void) { count = 0; }
