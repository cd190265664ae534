/* tool.h - runs build/ggnn-data as a user does and looks at what it printed. Its files are in folder.h's folder. */
#ifndef TOOL_H
#define TOOL_H
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

#endif
