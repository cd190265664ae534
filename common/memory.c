#include "memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static long calls; /* the tools allocate on the main thread only */

static bool told_to_fail(void)
{
    const char* which = getenv("GGNN_TEST_FAIL_ALLOCATION");
    return ++calls && which && atol(which) == calls;
}

/* By calloc, so that a large block's pages are the system's zeros and cost nothing until they are touched: bounds of
   batches are often far above what batches need. The word before the block says where calloc's begins. */
void* memory_new(size_t bytes, const char* what, error* why)
{
    enum { ALIGN = 64, BEFORE = ALIGN + sizeof(void*) };
    char* raw = bytes <= SIZE_MAX / 2 && !told_to_fail() ? calloc(bytes + BEFORE, 1) : NULL;
    if (!raw) {
        error_set(why, "out of memory: %zu bytes for %s", bytes, what);
        return NULL;
    }
    char* memory = raw + BEFORE - ((uintptr_t)raw + BEFORE) % ALIGN;
    memcpy(memory - sizeof raw, &raw, sizeof raw);
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
    char* raw = NULL;
    if (memory) memcpy(&raw, (char*)memory - sizeof raw, sizeof raw);
    free(raw);
}

size_t memory_product(size_t a, size_t b, size_t c)
{
    if (b && a > SIZE_MAX / b) return SIZE_MAX;
    if (c && a * b > SIZE_MAX / c) return SIZE_MAX;
    return a * b * c;
}

long memory_calls(void) { return calls; }
