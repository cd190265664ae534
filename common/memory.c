#include "memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static long calls; /* of all threads */

static bool told_to_fail(void)
{
    const char* which = getenv("GGNN_TEST_FAIL_ALLOCATION");
    long call = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return which && atol(which) == call;
}

/* Pages of a large block are the system's zeros and cost nothing until they are touched: bounds of batches are often
   far above what batches need. So nothing is written here, and blocks from RESERVE on are mapped without a promise of
   memory behind them, which a cautious system would refuse. Blocks from HUGE_FROM on ask for pages of 2 MiB, where the
   system has them: rows that are read at random then need no walk through tables of pages, and fresh memory is there
   after a 512th of the faults. Before each block lies what is needed to free it. */
enum { ALIGN = 64 };
static const size_t HUGE_PAGE = (size_t)2 << 20, RESERVE = (size_t)1 << 30;
#ifdef __SANITIZE_ADDRESS__ /* which watches calloc's blocks alone */
static const size_t HUGE_FROM = (size_t)1 << 30;
#else
static const size_t HUGE_FROM = (size_t)8 << 20;
#endif
typedef struct {
    char* start;
    size_t mapped; /* bytes; 0: calloc's */
} header;

static size_t up_to(size_t at, size_t unit) { return (at + unit - 1) / unit * unit; }

static char* map_pages(size_t bytes, size_t wanted)
{
    int how = MAP_PRIVATE | MAP_ANONYMOUS | (wanted >= RESERVE ? MAP_NORESERVE : 0);
    void* start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, how, -1, 0);
    if (start == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    madvise(start, bytes, MADV_HUGEPAGE); /* advice: without such pages all is as before */
#endif
    return start;
}

void* memory_new(size_t bytes, const char* what, error* why)
{
    const size_t before = ALIGN + sizeof(header);
    bool fine = bytes <= SIZE_MAX / 2 && !told_to_fail(), map = bytes >= HUGE_FROM;
    header h = {NULL, map ? bytes + before + HUGE_PAGE : 0};
    if (fine) h.start = map ? map_pages(h.mapped, bytes) : calloc(bytes + before, 1);
    if (!h.start) {
        error_set(why, "out of memory: %zu bytes for %s", bytes, what);
        return NULL;
    }
    /* The header and the block's first lines share a huge page, which begins where the first of them does. */
    char* first = map ? h.start + (up_to((uintptr_t)h.start, HUGE_PAGE) - (uintptr_t)h.start) : h.start;
    char* memory = first + before - ((uintptr_t)first + before) % ALIGN;
    memcpy(memory - sizeof h, &h, sizeof h);
    return memory;
}

void* memory_resize(void* old, size_t old_bytes, size_t new_bytes, const char* what, error* why)
{
    void* memory = memory_new(new_bytes, what, why);
    if (!memory) return NULL;
    if (old) memcpy(memory, old, old_bytes < new_bytes ? old_bytes : new_bytes);
    memory_free(old);
    return memory;
}

void memory_free(void* memory)
{
    header h;
    if (!memory) return;
    memcpy(&h, (char*)memory - sizeof h, sizeof h);
    if (h.mapped) munmap(h.start, h.mapped);
    else free(h.start);
}

size_t memory_product(size_t a, size_t b, size_t c)
{
    if (b && a > SIZE_MAX / b) return SIZE_MAX;
    if (c && a * b > SIZE_MAX / c) return SIZE_MAX;
    return a * b * c;
}

long memory_calls(void) { return __atomic_load_n(&calls, __ATOMIC_RELAXED); }
