#include "error.h"
#include <stdarg.h>
#include <stdio.h>

#include "common/printable.h"

bool error_set(error* why, const char* format, ...)
{
    char text[sizeof why->text];
    va_list values;
    if (why->text[0]) return false;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    printable(why->text, sizeof why->text, text);
    return false;
}
