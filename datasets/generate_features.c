/* Normal numbers that are the same on every machine, and feature rows of them. */
#include <math.h>

#include "datasets/generate.h"

/* Marsaglia's polar method, all in integers up to one root: (a, b) is uniform in a disc of radius 2^31, s = a^2 + b^2
   over 2^62 is uniform in (0, 1), and a sqrt(-2 ln(s / 2^62) / s), b ... are normal and independent. The logarithm is
   ggnn_neg_log2's, 40 fractional bits; roots, products and quotients are rounded alike by every IEEE machine. */
bool generate_normals(double normal[2], uint32_t word0, uint32_t word1)
{
    const double scale = 1.3862943611198906 / 1099511627776.0; /* 2 ln 2 / 2^40 */
    int64_t a = (int32_t)word0, b = (int32_t)word1;
    uint64_t s = (uint64_t)(a * a) + (uint64_t)(b * b);
    double factor;
    if (s == 0 || s >= (uint64_t)1 << 62) return false;
    factor = sqrt(scale * (double)ggnn_neg_log2((s << 2) - 1) / (double)s);
    normal[0] = (double)a * factor;
    normal[1] = (double)b * factor;
    return true;
}

void generate_row(float* row, int64_t n, const float* mean, const ggnn_rng* rng, int32_t hop, int64_t node)
{
    int64_t done = 0;
    for (uint32_t block = 0; done < n; block++) {
        ggnn_words words = ggnn_random(rng, hop, node, block);
        for (int half = 0; half < 2 && done < n; half++) {
            double normal[2];
            if (!generate_normals(normal, words.word[2 * half], words.word[2 * half + 1])) continue;
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
