#include "trainer/cpu/parallel.h"

void parallel_for(int64_t n, int64_t piece, void (*body)(void* context, int64_t begin, int64_t end), void* context)
{
    int64_t pieces = (n + piece - 1) / piece;
    if (pieces <= 1) {
        if (n > 0) body(context, 0, n);
        return;
    }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic, 1)
#endif
    for (int64_t i = 0; i < pieces; i++) body(context, i * piece, (i + 1) * piece < n ? (i + 1) * piece : n);
}
