#include "common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(const char* path, int64_t* bytes, error* why)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe opens without its writer */
    if (fd < 0 || fstat(fd, &about) != 0)
        error_set(why, "%s: %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        error_set(why, "%s: is a folder, a file is needed", path);
    else if (!S_ISREG(about.st_mode))
        error_set(why, "%s: is a %s, a file is needed%s", path, S_ISFIFO(about.st_mode) ? "pipe" : "device or a socket",
                  S_ISFIFO(about.st_mode) ? " (write to one first)" : "");
    else {
        *bytes = (int64_t)about.st_size;
        return fd;
    }
    if (fd >= 0) close(fd);
    return -1;
}

FILE* input_stream(const char* path, int64_t* bytes, error* why)
{
    const int fd = input_open(path, bytes, why);
    FILE* stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (fd >= 0 && !stream) {
        error_set(why, "%s: %s", path, strerror(errno));
        close(fd);
    }
    return stream;
}
