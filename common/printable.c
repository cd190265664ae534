#include "common/printable.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

int utf8_length(const char* text)
{
    const unsigned char* p = (const unsigned char*)text;
    int length = p[0] < 0x80 ? 1 : p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((p[i] & 0xC0) != 0x80) return 0;
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F)) return 0;
    if ((p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) return 0;
    return length;
}

/* C0, DEL, and C1 (U+0080 to U+009F): terminals obey these too. */
static bool is_control(const unsigned char* p) { return *p < 0x20 || *p == 0x7F || (*p == 0xC2 && p[1] < 0xA0); }

const char* printable(char* out, size_t size, const char* text)
{
    size_t used = 0;
    for (int length; *text; text += length) {
        char escaped[5];
        length = utf8_length(text);
        bool plain = length > 0 && !is_control((const unsigned char*)text);
        if (!plain) length = 1;
        snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)*text);
        size_t bytes = plain ? (size_t)length : strlen(escaped);
        if (used + bytes >= size) break;
        memcpy(out + used, plain ? text : escaped, bytes);
        used += bytes;
    }
    out[used] = 0;
    return out;
}

void printable_word(FILE* out, const char* word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%_+=:,./-";
    if (word[0] && !word[strspn(word, plain)]) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++) {
        if (*word == '\'') fputs("'\\''", out); /* out of the quotes, one that is escaped, in again */
        else fputc(*word, out);
    }
    fputc('\'', out);
}
