/* Normal numbers that are the same on every machine, and feature rows of them. */
#include <math.h>
#include <string.h>

#include "datasets/generate.h"

/* Marsaglia's polar method, all in integers up to one root: (a, b) is uniform in a disc of radius 2^31, s = a^2 + b^2
   over 2^62 is uniform in (0, 1), and a sqrt(-2 ln(s / 2^62) / s), b ... are normal and independent. The logarithm is
   ggnn_neg_log2's, 40 fractional bits; roots, products and quotients are rounded alike by every IEEE machine. */
static uint64_t square_of(uint32_t word0, uint32_t word1)
{
    int64_t a = (int32_t)word0, b = (int32_t)word1;
    return (uint64_t)(a * a) + (uint64_t)(b * b);
}

static bool in_disc(uint64_t square) { return square - 1 < ((uint64_t)1 << 62) - 1; } /* 0 < square < 2^62 */

bool generate_normals(double normal[2], uint32_t word0, uint32_t word1)
{
    const double scale = 1.3862943611198906 / 1099511627776.0; /* 2 ln 2 / 2^40 */
    uint64_t s = square_of(word0, word1);
    double factor;
    if (!in_disc(s)) return false;
    factor = sqrt(scale * (double)ggnn_neg_log2_fast((s << 2) - 1) / (double)s);
    normal[0] = (double)(int32_t)word0 * factor;
    normal[1] = (double)(int32_t)word1 * factor;
    return true;
}

/* Words are drawn some blocks at a time, and rejected ones overwritten with no branch: the processor then works on
   several logarithms at once. */
void generate_row(float* row, int64_t n, const float* mean, const ggnn_rng* rng, int32_t hop, int64_t node)
{
    enum { PAIRS = 64 };
    uint32_t pair[PAIRS + 2][2], block = 0;
    for (int64_t done = 0; done < n;) {
        int count = 0;
        for (; count < PAIRS && 2 * count < n - done; block++) {
            ggnn_words words = ggnn_random(rng, hop, node, block);
            for (int half = 0; half < 2; half++) {
                memcpy(pair[count], words.word + 2 * half, sizeof pair[count]);
                count += in_disc(square_of(pair[count][0], pair[count][1]));
            }
        }
        for (int k = 0; k < count && done < n; k++) {
            double normal[2];
            generate_normals(normal, pair[k][0], pair[k][1]);
            for (int i = 0; i < 2 && done < n; i++, done++)
                row[done] = mean ? mean[done] + (float)normal[i] : (float)normal[i];
        }
    }
}

int64_t generate_nearest(const float* row, const float* mean, int64_t num_means, int64_t n)
{
    int64_t nearest = 0;
    double least = 0;
    for (int64_t m = 0; m < num_means; m++) {
        double distance = 0;
        for (int64_t i = 0; i < n; i++) {
            double difference = (double)row[i] - (double)mean[m * n + i];
            distance += difference * difference;
        }
        if (m == 0 || distance < least) {
            nearest = m;
            least = distance;
        }
    }
    return nearest;
}
