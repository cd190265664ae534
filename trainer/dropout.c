/* dropout.c - Philox in vector lanes. The file includes itself once per instruction set: the part under LANES
   computes that many blocks at once, each in a 64-bit lane, as x86 multiplies the low halves of such lanes. */
#ifndef LANES
#include "trainer/dropout.h"

#include <string.h>

/* The definition. */
static void fields_plain(uint16_t* field, const ggnn_rng* rng, int32_t l, int64_t node, uint32_t first,
                         int32_t blocks)
{
    for (int32_t b = 0; b < blocks; b++) {
        ggnn_words words = ggnn_random(rng, l, node, first + (uint32_t)b);
        for (int i = 0; i < 8; i++) field[8 * b + i] = (uint16_t)ggnn_dropout_field(words, i);
    }
}

#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define LANES 2
#define LANES_NAME(x) x##_sse2
#define LANES_MULTIPLY(a, b) ((lanes_sse2)_mm_mul_epu32((__m128i)(a), (__m128i)(b)))
#define LANES_NARROWER fields_plain
#include "dropout.c"
#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
#define LANES 4
#define LANES_NAME(x) x##_avx2
#define LANES_MULTIPLY(a, b) ((lanes_avx2)_mm256_mul_epu32((__m256i)(a), (__m256i)(b)))
#define LANES_NARROWER fields_sse2
#include "dropout.c"
#ifdef __clang__
#pragma clang attribute pop
#pragma clang attribute push(__attribute__((target("avx512f,avx2"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx2")
#endif
#define LANES 8
#define LANES_NAME(x) x##_avx512
#define LANES_MULTIPLY(a, b) ((lanes_avx512)_mm512_mul_epu32((__m512i)(a), (__m512i)(b)))
#define LANES_NARROWER fields_avx2
#include "dropout.c"
#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

void dropout_fields(uint16_t* field, const ggnn_rng* rng, int32_t l, int64_t node, uint32_t first, int32_t blocks)
{
    if (__builtin_cpu_supports("avx512f")) fields_avx512(field, rng, l, node, first, blocks);
    else if (__builtin_cpu_supports("avx2")) fields_avx2(field, rng, l, node, first, blocks);
    else fields_sse2(field, rng, l, node, first, blocks);
}
#else
void dropout_fields(uint16_t* field, const ggnn_rng* rng, int32_t l, int64_t node, uint32_t first, int32_t blocks)
{
    fields_plain(field, rng, l, node, first, blocks);
}
#endif

#else /* ==== one instance ================================================================================ */

typedef uint64_t LANES_NAME(lanes) __attribute__((vector_size(8 * LANES)));

/* ggnn_philox, a block a lane. Only the low half of a counter's lane counts: the multiplication reads no other, so
   that what the xors leave above is cut off but once, at the end. */
static void LANES_NAME(fields)(uint16_t* field, const ggnn_rng* rng, int32_t l, int64_t node, uint32_t first,
                               int32_t blocks)
{
    const uint64_t stream = ggnn_stream(rng->purpose, l, node), low = 0xffffffffu;
    LANES_NAME(lanes) lane, m0 = {0}, m1 = {0};
    int32_t b = 0;
    for (int i = 0; i < LANES; i++) lane[i] = (uint64_t)i;
    m0 += 0xD2511F53u;
    m1 += 0xCD9E8D57u;
    for (; b + LANES <= blocks; b += LANES) {
        LANES_NAME(lanes) c0 = lane + (uint64_t)(first + (uint32_t)b), c1 = m0 - m0 + rng->step;
        LANES_NAME(lanes) c2 = m0 - m0 + (stream & low), c3 = m0 - m0 + (stream >> 32);
        uint32_t k0 = (uint32_t)rng->seed, k1 = (uint32_t)(rng->seed >> 32);
        for (int round = 0; round < 10; round++) {
            LANES_NAME(lanes) p = LANES_MULTIPLY(c0, m0), q = LANES_MULTIPLY(c2, m1);
            c0 = (q >> 32) ^ c1 ^ (uint64_t)k0;
            c1 = q;
            c2 = (p >> 32) ^ c3 ^ (uint64_t)k1;
            c3 = p;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        c0 = (c0 & low) | c1 << 32; /* fields 0 to 3 of each block, */
        c2 = (c2 & low) | c3 << 32; /* 4 to 7: x86 is little-endian */
        for (int i = 0; i < LANES; i++) {
            uint64_t half[2] = {c0[i], c2[i]};
            memcpy(field + 8 * (b + i), half, sizeof half);
        }
    }
    if (b < blocks) LANES_NARROWER(field + 8 * b, rng, l, node, first + (uint32_t)b, blocks - b);
}
#undef LANES
#undef LANES_NAME
#undef LANES_MULTIPLY
#undef LANES_NARROWER
#endif
