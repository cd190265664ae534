/* chi_square.h - are these counts what a uniform (or given) distribution would give? For fixed seeds: a test that passes
   once passes always; the bound is the one that a right program exceeds once in 30,000 seeds (z = 4). */
#ifndef CHI_SQUARE_H
#define CHI_SQUARE_H
#include <math.h>
#include <stdint.h>

/* Wilson & Hilferty's approximation of the quantile. */
static inline double chi_square_bound(double degrees)
{
    double t = 2.0 / (9.0 * degrees), root = 1.0 - t + 4.0 * sqrt(t);
    return degrees * root * root * root;
}

static inline double chi_square(const int64_t* count, const double* expected, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += ((double)count[i] - expected[i]) * ((double)count[i] - expected[i]) / expected[i];
    return sum;
}

/* All of n cells equally likely? shrink: the variance of a cell over that of a multinomial one (1 - k/n for k cells of n
   taken at a time without replacement, scaled by n/(n-1)). */
static inline int chi_square_uniform(const int64_t* count, int64_t n, double total, double shrink)
{
    double sum = 0, expected = total / (double)n;
    for (int64_t i = 0; i < n; i++) sum += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    return sum / shrink < chi_square_bound((double)(n - 1));
}
#endif
