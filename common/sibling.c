#include "common/sibling.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void sibling_run(int backend, char** argv, error* why)
{
    static const char* const suffix[] = {"", "-cuda", "-emulated"};
    static const char* const target[] = {"", "make gpu", "make emulated"};
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 16);
    if (length <= 0) {
        error_set(why, "this program's own path: %s", strerror(errno));
        return;
    }
    strcpy(path + length, suffix[backend]);
    execv(path, argv);
    error_set(why, errno == ENOENT ? "%s: not there; %s builds it" : "%s: cannot run it", path, target[backend]);
}
