#include "trainer/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TAIL_MAX = 1 << 16 }; /* bytes, more than any record has */

/* The length of a regular file; -1 of anything else. */
static int64_t size_of(int fd)
{
    struct stat s;
    return fstat(fd, &s) == 0 && S_ISREG(s.st_mode) ? (int64_t)s.st_size : -1;
}

/* A pipe whose reader has left is an error, as a full disk is, and not the signal that this thread would get. */
static ssize_t write_some(int fd, const char* text, size_t length)
{
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    const ssize_t wrote = write(fd, text, length);
    const int failure = errno;
    if (wrote < 0 && failure == EPIPE) sigtimedwait(&pipe, NULL, &(struct timespec){0, 0});
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = failure;
    return wrote;
}

/* All of it, or nothing where the file is a regular one. */
static bool write_whole(int fd, const char* text, size_t length)
{
    int64_t before = size_of(fd);
    for (size_t done = 0; done < length;) {
        ssize_t wrote = write_some(fd, text + done, length - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote >= 0) {
            done += (size_t)wrote;
            continue;
        }
        int failure = errno;
        if (before >= 0) (void)!ftruncate(fd, (off_t)before);
        errno = failure;
        return false;
    }
    return true;
}

/* ==== going on ================================================================================================== */

/* Is the text, which has no end of line, the beginning of a record and not all of it? */
static bool is_part(const char* text, size_t length)
{
    static const char start[] = "{\"event\":\"";
    size_t known = length < sizeof start - 1 ? length : sizeof start - 1;
    int depth = 0;
    bool quoted = false;
    if (memcmp(text, start, known) != 0) return false;
    for (size_t i = 0; i < length; i++) {
        if (quoted && text[i] == '\\') i++;
        else if (text[i] == '"') quoted = !quoted;
        else if (!quoted) depth += (text[i] == '{') - (text[i] == '}');
    }
    return quoted || depth > 0;
}

/* Makes the file end with an end of line. */
static bool mend(int fd)
{
    static char tail[TAIL_MAX];
    int64_t size = size_of(fd), from = size > TAIL_MAX ? size - TAIL_MAX : 0;
    if (size <= 0) return true;
    ssize_t got = pread(fd, tail, (size_t)(size - from), (off_t)from);
    if (got != size - from) return false;
    if (tail[got - 1] == '\n') return true;
    ssize_t line = got;
    while (line > 0 && tail[line - 1] != '\n') line--;
    bool begins = line > 0 || from == 0; /* is the line's beginning there to be looked at? */
    if (begins && is_part(tail + line, (size_t)(got - line))) return ftruncate(fd, (off_t)(from + line)) == 0;
    return write_whole(fd, "\n", 1);
}

/* Would another writer and this log destroy each other's lines? */
static bool is_shared(int fd, const char* path, error* why)
{
    struct stat log, s;
    if (size_of(fd) < 0) return false; /* a terminal, a pipe, a device */
    for (int other = STDOUT_FILENO; other <= STDERR_FILENO; other++)
        if (fstat(fd, &log) == 0 && fstat(other, &s) == 0 && log.st_dev == s.st_dev && log.st_ino == s.st_ino)
            return !error_set(why, "%s: cannot open the log: standard %s goes there", path,
                              other == STDOUT_FILENO ? "output" : "error");
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return false; /* some file systems have no locks */
    return !error_set(why, "%s: cannot open the log: another process writes it", path);
}

bool log_open(log_file* l, const char* path, bool goes_on, error* why)
{
    memset(l, 0, sizeof *l);
    struct stat s;
    const bool pipe = stat(path, &s) == 0 && S_ISFIFO(s.st_mode); /* one without a reader would wait for it */
    l->fd = open(path, (goes_on && !pipe ? O_RDWR : O_WRONLY) | (pipe ? O_NONBLOCK : 0) | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (l->fd < 0)
        return error_set(why, "%s: cannot open the log: %s", path, pipe && errno == ENXIO ? "a pipe that nobody reads" : strerror(errno));
    if (pipe) fcntl(l->fd, F_SETFL, O_APPEND); /* writing may wait for the reader */
    bool shared = is_shared(l->fd, path, why), empties = !goes_on && size_of(l->fd) > 0;
    if (!shared && (empties ? ftruncate(l->fd, 0) == 0 : !goes_on || mend(l->fd))) {
        l->path = path;
        return true;
    }
    error_set(why, "%s: cannot open the log: %s", path, strerror(errno));
    close(l->fd);
    return false;
}

bool log_close(log_file* l, error* why)
{
    if (!l->path) return true;
    if (close(l->fd) != 0) error_set(&l->failed, "%s: cannot write the log: %s", l->path, strerror(errno));
    free(l->text);
    bool good = l->failed.text[0] ? error_set(why, "%s", l->failed.text) : true;
    memset(l, 0, sizeof *l);
    return good;
}

/* ==== records =================================================================================================== */

bool log_begin(log_file* l, json* j, const char* event)
{
    if (!l->path || l->failed.text[0]) return false;
    free(l->text);
    l->text = NULL;
    l->record = open_memstream(&l->text, &l->length);
    if (!l->record) return error_set(&l->failed, "%s: out of memory for a record of the log", l->path);
    json_start(j, l->record, false);
    json_begin_object(j, NULL);
    json_string(j, "event", event);
    return true;
}

bool log_end(log_file* l, json* j)
{
    json_end_object(j);
    bool good = fclose(l->record) == 0 && write_whole(l->fd, l->text, l->length);
    return good || error_set(&l->failed, "%s: cannot write the log: %s", l->path, strerror(errno));
}
