#include "bench/touch.h"

#ifdef __linux__
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { NOBODY = -1, WRITER, USER };

static struct {
    char* at;
    size_t page, pages;
    int* thread[2]; /* of each page: WRITER, USER */
    int which;
    struct sigaction before;
} touched;

/* A thread's first touch of a page that nobody had: it is named, and the page is open to all. Two at once: either. */
static void name_thread(int number, siginfo_t* info, void* context)
{
    const size_t offset = (size_t)((char*)info->si_addr - touched.at);
    (void)context;
    if (offset >= touched.page * touched.pages) { /* not ours: what would have come without us */
        sigaction(number, &touched.before, NULL);
        return;
    }
#ifdef _OPENMP
    const int me = omp_get_thread_num();
#else
    const int me = 0;
#endif
    int nobody = NOBODY;
    __atomic_compare_exchange_n(&touched.thread[touched.which][offset / touched.page], &nobody, me, 0, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    if (mprotect(touched.at + offset / touched.page * touched.page, touched.page, PROT_READ | PROT_WRITE) != 0)
        mprotect(touched.at, touched.page * touched.pages, PROT_READ | PROT_WRITE); /* too many pieces: the rest is not counted */
}

static void watch(int which)
{
    touched.which = which;
    for (size_t i = 0; i < touched.pages; i++) touched.thread[which][i] = NOBODY;
    mprotect(touched.at, touched.page * touched.pages, PROT_NONE);
}
void touch_writers(void) { watch(WRITER); }
void touch_users(void) { watch(USER); }

void* touch_new(size_t bytes)
{
    struct sigaction how;
    memset(&how, 0, sizeof how);
    touched.page = (size_t)sysconf(_SC_PAGESIZE);
    touched.pages = (bytes + touched.page - 1) / touched.page;
    touched.thread[0] = calloc(2 * touched.pages + 1, sizeof(int));
    touched.at = mmap(NULL, touched.page * (touched.pages + 1), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    how.sa_sigaction = name_thread;
    how.sa_flags = SA_SIGINFO;
    if (!touched.thread[0] || touched.at == MAP_FAILED || sigaction(SIGSEGV, &how, &touched.before) != 0) {
        if (touched.at != MAP_FAILED) munmap(touched.at, touched.page * (touched.pages + 1));
        free(touched.thread[0]);
        return NULL;
    }
    touched.thread[1] = touched.thread[0] + touched.pages;
    return touched.at;
}

void touch_free(void)
{
    sigaction(SIGSEGV, &touched.before, NULL);
    munmap(touched.at, touched.page * (touched.pages + 1));
    free(touched.thread[0]);
}

double touch_share(void)
{
    size_t both = 0, same = 0;
    for (size_t i = 0; i < touched.pages; i++) {
        const int writer = touched.thread[WRITER][i], user = touched.thread[USER][i];
        both += writer != NOBODY && user != NOBODY;
        same += writer != NOBODY && writer == user;
    }
    return both ? (double)same / (double)both : -1;
}
#else
void* touch_new(size_t bytes)
{
    (void)bytes;
    return NULL;
}
void touch_free(void) {}
void touch_writers(void) {}
void touch_users(void) {}
double touch_share(void) { return -1; }
#endif
