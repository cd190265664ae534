#include "common/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void standard_open(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) _exit(EXIT_FAILURE);
    }
}

bool standard_flush(error* why)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return true;
    return error_set(why, "cannot write to standard output%s%s", errno ? ": " : "", errno ? strerror(errno) : "");
}
