/* forms.h - the forms in which ggnn.h computes an op: SIMD levels 0 to 3, each on 1, 2 and 8 threads. All must give the
   bits of ggnn_reference.h. */
#ifndef FORMS_H
#define FORMS_H
#include "common/ggnn_level.h"
#include "ggnn_reference.h"
#include "tests/test.h"
#ifdef _OPENMP
#include <omp.h>
#endif

static inline void set_threads(int n)
{
#ifdef _OPENMP
    omp_set_num_threads(n);
#else
    (void)n;
#endif
}

/* The highest level that this machine has; those above are skipped, which is said once. */
static inline int forms_best(void)
{
    static int best = -1;
    if (best >= 0) return best;
#if defined(__x86_64__) && defined(__GNUC__)
    best = !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ? 1 : __builtin_cpu_supports("avx512f") ? 3 : 2;
#else
    best = 1;
#endif
    if (best < 3) printf("  SIMD levels above %d: not on this machine\n", best);
    return best;
}

/* Sets form i, three per level; 0 when there are no more: then the widest loops and all processors serve again. */
static inline int form_set(int i)
{
    static const int threads[] = {1, 2, 8};
    int              more = i / 3 <= forms_best();
    ggnn_level = more ? i / 3 : 3;
#ifdef _OPENMP
    set_threads(more ? threads[i % 3] : omp_get_num_procs());
#else
    (void)threads;
#endif
    return more;
}
#define FOR_EACH_FORM for (int form = 0; form_set(form); form++)

/* Equal bits; a NaN equals any NaN. */
static inline int same_floats(const float* a, const float* b, int64_t n)
{
    int same = 1;
    if (memcmp(a, b, (size_t)n * sizeof *a) == 0) return 1;
    for (int64_t i = 0; i < n; i++) same &= memcmp(a + i, b + i, sizeof *a) == 0 || (isnan(a[i]) && isnan(b[i]));
    return same;
}

/* What an op is to overwrite: a number that no test gives. */
static inline void form_poison(float* got, int64_t n)
{
    for (int64_t i = 0; i < n; i++) got[i] = 1234;
}

/* Are the op's n floats those of the reference? */
static inline void form_check(const float* want, const float* got, int64_t n, const char* op, int32_t width, int32_t heads, int line)
{
    if (!test_check(same_floats(want, got, n), "forms.h", line, op))
        printf("  it differs from ggnn_reference.h: width %d, heads %d, level %d\n", (int)width, (int)heads, ggnn_level);
}
#define CHECK_SAME(want, got, n, op, width, heads) form_check(want, got, n, op, width, heads, __LINE__)
#endif
