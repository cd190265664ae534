/* far_rows.h - matrices whose rows lie 2 GiB apart: from the second on 32 bits do not hold where a row begins in bytes, from the
   fifth on in elements. Pages that nobody touches take no memory. */
#ifndef FAR_ROWS_H
#define FAR_ROWS_H
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

static const int64_t far_ld = ((int64_t)1 << 29) + 16; /* in elements of 4 bytes */

/* n rows, those of near, of ld elements; NULL: there is no address space. */
static inline float* far_rows(const float* near, int64_t ld, int64_t n, int32_t width)
{
    void* rows = mmap(NULL, (size_t)(n * far_ld) * 4, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (rows == MAP_FAILED) return NULL;
    for (int64_t i = 0; i < n; i++) memcpy((float*)rows + i * far_ld, near + i * ld, (size_t)width * 4);
    return (float*)rows;
}

static inline int far_same(const float* far, const float* near, int64_t ld, int64_t n, int32_t width)
{
    int same = 1;
    for (int64_t i = 0; i < n; i++) same &= memcmp(far + i * far_ld, near + i * ld, (size_t)width * 4) == 0;
    return same;
}

static inline void far_free(float* far, int64_t n)
{
    if (far) munmap(far, (size_t)(n * far_ld) * 4);
}
#endif
