/* csv.h - writes comma-separated values as it goes. Text is quoted where RFC 4180 asks for it; a line ends by \n. */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct {
    FILE* out;
    bool begun; /* the line has a value */
} csv;

void csv_text(csv* c, const char* text); /* NULL: empty */
void csv_int(csv* c, int64_t value);
void csv_real(csv* c, double value); /* as JSON has it; not finite: empty */
void csv_bool(csv* c, bool value);   /* true, false */
void csv_end_line(csv* c);
#endif
