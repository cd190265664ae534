#include "progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "common/printable.h"

double progress_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char* progress_amount(char text[16], double amount)
{
    static const char* const prefix[] = {"", " k", " M", " G", " T", " P"};
    int which = 0;
    while (amount >= 999.5 && which < 5) {
        amount /= 1000;
        which++;
    }
    if (which == 0)
        snprintf(text, 16, amount == (double)(int)amount ? "%.0f" : "%.3g", amount);
    else
        snprintf(text, 16, "%.*f%s", amount < 9.995 ? 2 : amount < 99.95 ? 1 : 0, amount, prefix[which]);
    return text;
}

/* "61.9 M edges", "1.62 GB", "512 edges" */
static const char* amount_of(const progress* p, char text[64], double amount)
{
    char number[16];
    bool prefixed;
    progress_amount(number, amount);
    prefixed = strchr(number, ' ') != NULL;
    snprintf(text, 64, "%s%s%s", number, prefixed && strcmp(p->unit, "B") == 0 ? "" : " ", p->unit);
    return text;
}

static const char* time_of(char text[32], double seconds)
{
    long s = (long)(seconds + .5);
    if (seconds < 9.95)
        snprintf(text, 32, "%.1f s", seconds);
    else if (s < 60)
        snprintf(text, 32, "%ld s", s);
    else if (s < 3600)
        snprintf(text, 32, "%ld:%02ld", s / 60, s % 60);
    else
        snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

static int terminal_columns(void)
{
    struct winsize window;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) return window.ws_col;
    return 80;
}

void progress_begin(progress* p, const char* what, const char* unit, int64_t total)
{
    memset(p, 0, sizeof *p);
    p->what = what;
    p->unit = unit;
    p->total = total;
    p->terminal = isatty(STDERR_FILENO) != 0;
    p->start = p->drawn = progress_seconds();
}

void progress_note(progress* p, const char* format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(p->note, sizeof p->note, format, values);
    va_end(values);
}

static void draw(const progress* p, int64_t done, double seconds)
{
    char line[512], shown[512], bar[25], amount[64], rate[64], left[32];
    double share = p->total > 0 ? (double)done / (double)p->total : 0;
    int filled = (int)(24 * (share < 1 ? share : 1)), columns = terminal_columns();
    for (int i = 0; i < 24; i++) bar[i] = i < filled ? '#' : '-';
    bar[24] = 0;
    amount_of(p, amount, (double)done);
    amount_of(p, rate, (double)done / seconds);
    if (p->total > 0 && share > 0)
        snprintf(line, sizeof line, "%s [%s] %3.0f%%  %s  %s/s  %s left  %s", p->what, bar, 100 * share, amount, rate,
                 time_of(left, seconds / share * (share < 1 ? 1 - share : 0)), p->note);
    else
        snprintf(line, sizeof line, "%s  %s  %s/s  %s", p->what, amount, rate, p->note);
    fprintf(stderr, "\r%s\033[K", printable(shown, columns < (int)sizeof shown ? (size_t)columns : sizeof shown, line));
    fflush(stderr);
}

bool progress_is_due(const progress* p) { return p->terminal && progress_seconds() >= p->drawn + .1; }

void progress_update(progress* p, int64_t done)
{
    if (!progress_is_due(p)) return;
    p->drawn = progress_seconds();
    draw(p, done, p->drawn - p->start);
}

void progress_end(progress* p, int64_t done, bool say)
{
    char amount[64], rate[64], time[32];
    double seconds = progress_seconds() - p->start;
    if (p->terminal) fprintf(stderr, "\r\033[K");
    if (!say) return;
    amount_of(p, amount, (double)done);
    amount_of(p, rate, (double)done / (seconds > 1e-6 ? seconds : 1e-6));
    fprintf(stderr, "%s: %s in %s (%s/s)\n", p->what, amount, time_of(time, seconds), rate);
}
