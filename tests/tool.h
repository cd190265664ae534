/* tool.h - runs build/ggnn-data as a user does and looks at what it printed. Its files are in folder.h's folder. */
#ifndef TOOL_H
#define TOOL_H
#include <stdarg.h>
#include <stdbool.h>
#include <sys/wait.h>

#include "tests/folder.h"

static char tool[600]; /* build/ggnn-data */

/* Finds it beside the folder that the test program `argv0` is in. */
static inline void tool_find(const char* argv0)
{
    const char* slash = strrchr(argv0, '/');
    snprintf(tool, sizeof tool, "%.*s/../ggnn-data", slash ? (int)(slash - argv0) : 1, slash ? argv0 : ".");
}

/* Runs the tool with the arguments, a shell line; what it prints goes to files out and err in the folder. Returns
   the exit code. */
static inline int run(const char* before, const char* arguments)
{
    char line[8192];
    int status;
    snprintf(line, sizeof line, "%s %s %s >%s/out 2>%s/err", before, tool, arguments, folder, folder);
    status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What the last run wrote on "out" or "err". */
static inline const char* output(const char* which)
{
    static char text[1 << 16];
    char path[600];
    FILE* in = fopen(folder_path(path, which), "rb");
    size_t length = in ? fread(text, 1, sizeof text - 1, in) : 0;
    if (in) fclose(in);
    text[length] = 0;
    return text;
}

static inline bool says(const char* which, const char* words)
{
    if (strstr(output(which), words)) return true;
    printf("  %s says: %s", which, output(which));
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
    const char *is = output("out"), *should = expected();
    size_t line = 0, at = 0;
    if (strcmp(is, should) == 0) return true;
    for (; is[at] && is[at] == should[at]; at++)
        if (is[at] == '\n') line = at + 1;
    printf("  prints: %.*s\n  not:    %.*s\n", (int)strcspn(is + line, "\n"), is + line, (int)strcspn(should + line, "\n"), should + line);
    return false;
}

#endif
