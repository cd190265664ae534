#include "error.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/printable.h"

bool error_set(error* why, const char* format, ...)
{
    enum { HEAD = 200, TAIL = sizeof why->text - HEAD - 8 };
    char text[8192], shown[4 * sizeof text];
    va_list values;
    if (why->text[0]) return false;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    printable(shown, sizeof shown, text);
    size_t length = strlen(shown);
    if (length < sizeof why->text) {
        strcpy(why->text, shown);
        return false;
    }
    const char* tail = shown + length - TAIL;
    while ((*tail & 0xC0) == 0x80) tail++; /* within a character */
    snprintf(why->text, sizeof why->text, "%s ... %s", printable((char[HEAD]){0}, HEAD, shown), tail);
    return false;
}
