#include "error.h"
#include <stdarg.h>
#include <stdio.h>

bool error_set(error* why, const char* format, ...)
{
    va_list values;
    if (why->text[0]) return false;
    va_start(values, format);
    vsnprintf(why->text, sizeof why->text, format, values);
    va_end(values);
    return false;
}
