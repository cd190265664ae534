/* pieces.h - sums of pieces on the CPU: its backend's, and those of ranks whose arrays no device has (comm.h). */
#ifndef TRAINER_PIECES_H
#define TRAINER_PIECES_H
#include <stdint.h>
#include <string.h>

/* out[i] = piece[0][i] + piece[1][i] + ... (pieces, n), added in this order, for i in [begin, end). */
static inline void pieces_sum(float* restrict out, const float* piece, int32_t pieces, int64_t n, int64_t begin, int64_t end)
{
    memcpy(out + begin, piece + begin, (size_t)(end - begin) * sizeof *out);
    for (int32_t r = 1; r < pieces; r++) {
        const float* restrict a = piece + r * n;
        for (int64_t i = begin; i < end; i++) out[i] += a[i];
    }
}
#endif
