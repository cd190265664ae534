/* roof_loops.h - the loops of roof.c over vector registers: roof.c includes it once an instruction set.
   LOOP_LANES is the floats of a register; LOOP_NAME(x), LOOP_MULTIPLY_ADD(a, b, c). */

typedef float LOOP_NAME(floats) __attribute__((vector_size(4 * LOOP_LANES)));
typedef uint32_t LOOP_NAME(words) __attribute__((vector_size(4 * LOOP_LANES)));

/* Exclusive or of count bytes, whole words of them: one cycle a register, so that memory alone is measured.
 */
static uint32_t LOOP_NAME(read_bytes)(const char* from, int64_t count)
{
    LOOP_NAME(words) a = {0}, b = {0}, x, y;
    uint32_t sum = 0, word;
    int64_t i = 0;
    for (; i + (int64_t)(2 * sizeof x) <= count; i += (int64_t)(2 * sizeof x)) {
        memcpy(&x, from + i, sizeof x);
        memcpy(&y, from + i + sizeof x, sizeof y);
        a ^= x;
        b ^= y;
    }
    for (; i + 4 <= count; i += 4) {
        memcpy(&word, from + i, 4);
        sum ^= word;
    }
    a ^= b;
    for (int lane = 0; lane < LOOP_LANES; lane++) sum ^= a[lane];
    return sum;
}

/* Twelve sums hide the latency of a multiply-add on any of today's processors. They begin differently, as a
   compiler would make one of equal ones. */
static float LOOP_NAME(multiply_add)(int64_t steps)
{
    LOOP_NAME(floats) zero = {0}, x = zero + .999f, y = zero + .001f;
    LOOP_NAME(floats)
    a = zero,
    b = zero + 1, c = zero + 2, d = zero + 3, e = zero + 4, f = zero + 5, g = zero + 6, h = zero + 7,
    i = zero + 8, j = zero + 9, k = zero + 10, l = zero + 11;
    for (int64_t step = 0; step < steps; step++) {
        a = LOOP_MULTIPLY_ADD(a, x, y);
        b = LOOP_MULTIPLY_ADD(b, x, y);
        c = LOOP_MULTIPLY_ADD(c, x, y);
        d = LOOP_MULTIPLY_ADD(d, x, y);
        e = LOOP_MULTIPLY_ADD(e, x, y);
        f = LOOP_MULTIPLY_ADD(f, x, y);
        g = LOOP_MULTIPLY_ADD(g, x, y);
        h = LOOP_MULTIPLY_ADD(h, x, y);
        i = LOOP_MULTIPLY_ADD(i, x, y);
        j = LOOP_MULTIPLY_ADD(j, x, y);
        k = LOOP_MULTIPLY_ADD(k, x, y);
        l = LOOP_MULTIPLY_ADD(l, x, y);
    }
    a += b + c + d + e + f + g + h + i + j + k + l;
    return a[0] + a[LOOP_LANES - 1];
}

#undef LOOP_LANES
#undef LOOP_NAME
#undef LOOP_MULTIPLY_ADD
