#include "common/bus_error.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/printable.h"
#include "common/unfinished.h"

enum { PATH_BYTES = 4096, LINE_BYTES = PATH_BYTES + 200 };
static struct sigaction before;

/* The next line of fd, cut where it is too long, a byte at a time: nothing is allocated, and it is read once. */
static bool read_line(int fd, char line[LINE_BYTES])
{
    size_t length = 0;
    char c;
    while (read(fd, &c, 1) == 1 && c != '\n')
        if (length < LINE_BYTES - 1) line[length++] = c;
    line[length] = 0;
    return length > 0;
}

/* A hexadecimal number at *at, which moves behind it and the character after it. */
static uint64_t take_number(const char** at)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t value = 0;
    for (const char* digit; **at && (digit = strchr(digits, **at)) != NULL; ++*at) value = value * 16 + (uint64_t)(digit - digits);
    if (**at) ++*at;
    return value;
}

/* The file that is mapped at an address, and where in it that is, by a line of Linux: "7f01a0000-7f01b0000 r--s 00002000
   08:01 1234   /data/graph.ggnn". */
static bool find_file(uintptr_t address, char path[PATH_BYTES], uint64_t* offset)
{
    char line[LINE_BYTES];
    bool found = false;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && !found && read_line(fd, line)) {
        const char *at = line, *name = strchr(line, '/');
        const uint64_t begin = take_number(&at), end = take_number(&at);
        found = begin <= address && address < end;
        if (!found) continue;
        at += strcspn(at, " ") + (strchr(at, ' ') != NULL);
        *offset = take_number(&at) + (address - begin);
        snprintf(path, PATH_BYTES, "%.*s", PATH_BYTES - 1, name ? name : "");
    }
    if (fd >= 0) close(fd);
    return found && path[0];
}

/* The access that failed was the program's own, to its data: it holds no lock that is wanted here. */
static void on_bus_error(int signal_number, siginfo_t* info, void* context)
{
    char path[PATH_BYTES], shown[PATH_BYTES], line[LINE_BYTES];
    struct stat s;
    uint64_t offset;
    (void)context;
    if (info->si_code == BUS_ADRERR && find_file((uintptr_t)info->si_addr, path, &offset) && stat(path, &s) == 0 && S_ISREG(s.st_mode)) {
        const bool cut = (uint64_t)s.st_size <= offset;
        const int length = snprintf(line, sizeof line, "%s: %s: %s %lld bytes%s: nothing can be read at offset %llu\n",
                                    program_invocation_short_name, printable(shown, sizeof shown, path), cut ? "cut short to" : "of its",
                                    (long long)s.st_size, cut ? " while it was read" : " the disk lost some", (unsigned long long)offset);
        if (write(STDERR_FILENO, line, (size_t)(length < LINE_BYTES ? length : LINE_BYTES - 1)) < 0) (void)0; /* nobody to tell */
        unfinished_remove();
        _exit(1);
    }
    sigaction(SIGBUS, &before, NULL);
    if (info->si_code <= 0) raise(signal_number); /* a program sent it; else the access is made again */
}

void bus_error_catch(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, &before);
}
