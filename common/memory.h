/* memory.h - the one place where the tools allocate, so that tests can make the n-th allocation fail. */
#ifndef COMMON_MEMORY_H
#define COMMON_MEMORY_H
#include <stddef.h>

#include "error.h"

/* Zeroed memory, 64-byte aligned; bytes = 0 gives a valid pointer. Large blocks cost address space only until they
   are touched. On failure: NULL, and why says what was for how much. */
void* memory_new(size_t bytes, const char* what, error* why);

/* Grows (or shrinks) to new_bytes, keeping the first min(old_bytes, new_bytes); old may be NULL. The new part is
   zeroed. On failure returns NULL and old stays valid. */
void* memory_resize(void* old, size_t old_bytes, size_t new_bytes, const char* what, error* why);

void memory_free(void* memory); /* NULL is fine */

/* a * b * c, or SIZE_MAX where that overflows: no such block exists, so the allocation fails with its message. */
size_t memory_product(size_t a, size_t b, size_t c);

/* The environment's GGNN_TEST_FAIL_ALLOCATION=n makes call n (from 1) fail; tests count with memory_calls(). */
long memory_calls(void);
#endif
