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
   memory behind them, which a cautious system would refuse. Before each block lies what is needed to free it. */
enum { ALIGN = 64 };
static const size_t RESERVE = (size_t)1 << 30;
typedef struct {
    char* start;
    size_t mapped; /* bytes; 0: calloc's */
} header;

static char* reserve(size_t bytes)
{
    void* start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return start == MAP_FAILED ? NULL : start;
}

void* memory_new(size_t bytes, const char* what, error* why)
{
    const size_t before = ALIGN + sizeof(header);
    bool fine = bytes <= SIZE_MAX / 2 && !told_to_fail(), map = bytes >= RESERVE;
    header h = {NULL, map ? bytes + before : 0};
    if (fine) h.start = map ? reserve(h.mapped) : calloc(bytes + before, 1);
    if (!h.start) {
        error_set(why, "out of memory: %zu bytes for %s", bytes, what);
        return NULL;
    }
    char* memory = h.start + before - ((uintptr_t)h.start + before) % ALIGN;
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
