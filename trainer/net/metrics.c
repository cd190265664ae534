#include "trainer/net/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

bool metrics_open(metrics* m, int32_t classes, int64_t max_rows, error* why)
{
    memset(m, 0, sizeof *m);
    m->classes = classes;
    m->max_rows = max_rows;
    m->hit = memory_new(memory_product(3, (size_t)classes, sizeof *m->hit), "counts of classes", why);
    if (!m->hit) return false;
    m->actual = m->hit + classes;
    m->predicted = m->actual + classes;
    if (classes != 2) return true;
    m->pair = memory_new(memory_product((size_t)max_rows, sizeof *m->pair, 1), "scores for the ROC curve", why);
    if (!m->pair) metrics_close(m);
    return m->pair != NULL;
}

void metrics_close(metrics* m)
{
    memory_free(m->hit);
    memory_free(m->pair);
    memset(m, 0, sizeof *m);
}

void metrics_reset(metrics* m)
{
    m->rows = m->not_finite = 0;
    memset(m->hit, 0, 3 * (size_t)m->classes * sizeof *m->hit);
}

int32_t metrics_class(const float* logits, int32_t outputs)
{
    int32_t best = 0;
    if (outputs == 1) return logits[0] > 0;
    for (int32_t j = 1; j < outputs; j++)
        if (logits[j] > logits[best]) best = j;
    return best;
}

metrics_row metrics_look(const float* logits, int32_t outputs)
{
    metrics_row row = {logits[0], metrics_class(logits, outputs), true};
    for (int32_t j = 0; j < outputs; j++) row.finite = row.finite && isfinite(logits[j]);
    if (outputs > 1) row.score = logits[1] - logits[0];
    return row;
}

void metrics_add(metrics* m, metrics_row row, int32_t label)
{
    m->actual[label]++;
    m->predicted[row.guess]++;
    m->hit[label] += row.guess == label;
    m->not_finite += !row.finite;
    if (m->pair) m->pair[m->rows] = (metrics_pair){row.score, label};
    m->rows++;
}

static int by_score(const void* a, const void* b)
{
    float x = ((const metrics_pair*)a)->score, y = ((const metrics_pair*)b)->score;
    return (x > y) - (x < y);
}

/* The chance that a positive scores above a negative, a tie counting half: Mann & Whitney's statistic. */
static double roc_auc(metrics_pair* pair, int64_t n)
{
    double above = 0, positives = 0, negatives = 0;
    qsort(pair, (size_t)n, sizeof *pair, by_score);
    for (int64_t i = 0, end; i < n; i = end) {
        double tied[2] = {0, 0};
        for (end = i; end < n && pair[end].score == pair[i].score; end++) tied[pair[end].positive]++;
        above += tied[1] * (negatives + tied[0] / 2);
        negatives += tied[0];
        positives += tied[1];
    }
    return positives > 0 && negatives > 0 ? above / (positives * negatives) : NAN;
}

metrics_values metrics_of(metrics* m)
{
    double f1 = 0;
    int64_t hits = 0, present = 0;
    if (m->not_finite > 0) return (metrics_values){NAN, NAN, NAN};
    for (int32_t c = 0; c < m->classes; c++) {
        int64_t seen = m->actual[c] + m->predicted[c];
        hits += m->hit[c];
        present += seen > 0;
        if (seen > 0) f1 += 2 * (double)m->hit[c] / (double)seen;
    }
    return (metrics_values){
        .accuracy = m->rows ? (double)hits / (double)m->rows : NAN,
        .macro_f1 = present ? f1 / (double)present : NAN,
        .roc_auc = m->pair ? roc_auc(m->pair, m->rows) : NAN,
    };
}
