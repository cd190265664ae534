/* tool.h - runs the programs of this test's own build as a user does, and looks at what they print. Their files are in folder.h's
   folder. Two ways: by words, both streams together (start, finish, train, shell; `output`, says); or ggnn-data by a shell line,
   its streams apart (run; printed, prints). */
#ifndef TOOL_H
#define TOOL_H
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/folder.h"

static char build[4096]; /* folder of ggnn-train and ggnn-data */

enum { WORDS_MAX = 64 };
static char* output;                      /* of the last program: both streams, all of them */
static const char* fail_allocation;       /* n as text: its n-th allocation fails */
static rlim_t file_limit = RLIM_INFINITY; /* bytes that a file may have: a full disk */

/* Starts build/name with the blank-separated words of `line`; its output goes to the file "output". */
static inline pid_t start(const char* name, const char* line)
{
    char program[4200], *copy = strdup(line), *word[WORDS_MAX];
    int words = 0;
    snprintf(program, sizeof program, "%s/%s", build, name);
    word[words++] = program;
    for (char* at = strtok(copy, " "); at && words < WORDS_MAX - 1; at = strtok(NULL, " ")) word[words++] = at;
    word[words] = NULL;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int out = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        struct rlimit limit = {file_limit, file_limit};
        dup2(out, 1);
        dup2(out, 2);
        setenv("OMP_NUM_THREADS", "1", 1); /* where --threads does not say: many small programs beside other tests */
        if (fail_allocation) setenv("GGNN_TEST_FAIL_ALLOCATION", fail_allocation, 1);
        if (file_limit != RLIM_INFINITY) setrlimit(RLIMIT_FSIZE, &limit);
        execv(program, word);
        _exit(127);
    }
    free(copy);
    return child;
}

/* All that a file holds, nothing where there is none, in place of `old`. */
static inline char* read_text(char* old, const char* path)
{
    struct stat s;
    FILE* f = fopen(path, "rb");
    const size_t length = f && fstat(fileno(f), &s) == 0 ? (size_t)s.st_size : 0;
    char* text = (char*)realloc(old, length + 1);
    text[f ? fread(text, 1, length, f) : 0] = 0;
    if (f) fclose(f);
    return text;
}

/* Waits, fills `output`; the exit status, or 1000 + the signal that ended it. */
static inline int finish(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    output = read_text(output, "output");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline int train(const char* line) { return finish(start("ggnn-train", line)); }

static inline int trainf(const char* format, ...)
{
    char line[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    return train(line);
}

static inline bool says(const char* text)
{
    size_t length = strlen(output);
    if (strstr(output, text)) return true;
    printf("  \"%s\" is not in the output, which ends: %s\n", text, output + (length > 300 ? length - 300 : 0));
    return false;
}

/* The same by a shell, in which $train and $data are the programs. Its standard output and error go to "output" where
   the line does not send them elsewhere. */
static inline int shell(const char* format, ...)
{
    char line[4096], program[4300];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int out = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, 1);
        dup2(out, 2);
        close(out);
        setenv("OMP_NUM_THREADS", "1", 1);
        snprintf(program, sizeof program, "%s/ggnn-train", build);
        setenv("train", program, 1);
        snprintf(program, sizeof program, "%s/ggnn-data", build);
        setenv("data", program, 1);
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(127);
    }
    return finish(child);
}

/* Finds them beside the folder that this test program is in. */
static inline bool find_build(void)
{
    ssize_t length = readlink("/proc/self/exe", build, sizeof build - 1);
    for (int up = 0; up < 2 && length > 0; up++) {
        build[length] = 0;
        char* slash = strrchr(build, '/');
        if (!slash) return false;
        *slash = 0;
        length = slash - build;
    }
    char program[4200];
    snprintf(program, sizeof program, "%s/ggnn-train", build);
    return access(program, X_OK) == 0;
}

/* ==== streams apart ============================================================================================= */

static char tool[600]; /* build/ggnn-data */

static inline void tool_find(void)
{
    if (!find_build()) printf("  no programs in %s\n", build);
    snprintf(tool, sizeof tool, "%.580s/ggnn-data", build);
}

/* Runs ggnn-data with the arguments, a shell line; what it prints goes to files out and err in the folder. Returns the exit
   code. */
static inline int run(const char* before, const char* arguments)
{
    char line[8192];
    int status;
    snprintf(line, sizeof line, "%s %s %s >%s/out 2>%s/err", before, tool, arguments, folder, folder);
    status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the last run wrote on "out" or "err". */
static inline const char* printed(const char* which)
{
    static char text[1 << 16];
    char path[600];
    FILE* in = fopen(folder_path(path, which), "rb");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    text[length] = 0;
    return text;
}

static inline bool prints(const char* which, const char* words)
{
    if (strstr(printed(which), words)) return true;
    printf("  %s says: %s", which, printed(which));
    return false;
}

/* All that the tool should print, put together piece by piece; expect(NULL) begins anew. */
static inline char* expected(void)
{
    static char text[1 << 16];
    return text;
}

static inline void expect(const char* format, ...)
{
    char* text = expected();
    const size_t length = format ? strlen(text) : 0;
    va_list values;
    text[length] = 0;
    if (!format) return;
    va_start(values, format);
    vsnprintf(text + length, (1 << 16) - length, format, values);
    va_end(values);
}

/* Is it that, and nothing else? */
static inline bool prints_what_is_expected(void)
{
    const char *is = printed("out"), *should = expected();
    size_t line = 0, at = 0;
    if (strcmp(is, should) == 0) return true;
    for (; is[at] && is[at] == should[at]; at++)
        if (is[at] == '\n') line = at + 1;
    printf("  prints: %.*s\n  not:    %.*s\n", (int)strcspn(is + line, "\n"), is + line, (int)strcspn(should + line, "\n"), should + line);
    return false;
}

#endif
