/* progress.h - how far a long step is: a bar on a terminal, nothing or one line elsewhere. On standard error. */
#ifndef COMMON_PROGRESS_H
#define COMMON_PROGRESS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char* what; /* "reading edges", "epoch 3" */
    const char* unit; /* "edges", "batches"; "B" for bytes, printed as MB, GB */
    int64_t total;    /* 0: not known, so no bar and no time left */
    bool terminal;
    double start, drawn; /* seconds */
    char note[64];       /* at the end of the line: a loss, say */
} progress;

double progress_seconds(void); /* a clock that only goes forward */

void progress_begin(progress* p, const char* what, const char* unit, int64_t total);

/* Draws at most ten times a second, so that a call costs one look at the clock. done: so far, in all. */
void progress_update(progress* p, int64_t done);
bool progress_is_due(const progress* p); /* would progress_update draw? */
void progress_note(progress* p, const char* format, ...) /* for the next drawing */
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* Erases the bar. say: and prints one line with what was done, seconds and rate, terminal or not. */
void progress_end(progress* p, int64_t done, bool say);

/* "61.9 M", "1.62 G", "512": three digits and a prefix, into text, which is returned. */
const char* progress_amount(char text[16], double amount);
#endif
