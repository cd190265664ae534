/* capture.h - what a part of a test prints on standard output: capture(), then captured(), which is valid until the next. */
#ifndef CAPTURE_H
#define CAPTURE_H
#include <stdio.h>
#include <unistd.h>

static FILE* capture_file;
static int capture_output;

static inline void capture(void)
{
    fflush(stdout);
    capture_file = tmpfile();
    capture_output = dup(STDOUT_FILENO);
    dup2(fileno(capture_file), STDOUT_FILENO);
}

static inline const char* captured(void)
{
    static char text[1 << 15];
    fflush(stdout);
    dup2(capture_output, STDOUT_FILENO);
    close(capture_output);
    rewind(capture_file);
    text[fread(text, 1, sizeof text - 1, capture_file)] = 0;
    fclose(capture_file);
    return text;
}
#endif
