/* metrics.h - how good predictions are: accuracy, macro-F1, and for two classes the area under the ROC curve. */
#ifndef TRAINER_METRICS_H
#define TRAINER_METRICS_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

typedef struct {
    float score; /* the larger, the likelier class 1 */
    int32_t positive;
} metrics_pair;

typedef struct {
    int32_t classes;
    int64_t rows, max_rows;
    int64_t not_finite; /* rows with a logit that is not */
    int64_t *hit, *actual, *predicted; /* (classes) rows of a class: predicted right, in truth, predicted */
    metrics_pair* pair;                /* (max_rows) of two classes, else NULL */
} metrics;

typedef struct {     /* NaN where not defined, and all of them where a logit of any row is not finite */
    double accuracy; /* over no rows: NaN */
    double macro_f1; /* mean of F1 = 2 hit / (actual + predicted) over the classes that occur in either */
    double roc_auc;  /* only of two classes, both present */
} metrics_values;

/* Room for up to max_rows rows. metrics_close is harmless after a failure and after itself. */
bool metrics_open(metrics* m, int32_t classes, int64_t max_rows, error* why);
void metrics_close(metrics* m);
void metrics_reset(metrics* m);

/* The class that logits stand for: the largest one's index, the smaller one of equals; of one output: 1 where > 0. */
int32_t metrics_class(const float* logits, int32_t outputs);

/* What a row of `outputs` logits (1: binary) says: all that the metrics need of it. */
typedef struct {
    float score;   /* the larger, the likelier class 1, where there are two */
    int32_t guess; /* metrics_class */
    bool finite;   /* is every logit? */
} metrics_row;
metrics_row metrics_look(const float* logits, int32_t outputs);

/* Adds a row, of a node whose class is label, in [0, classes). */
void metrics_add(metrics* m, metrics_row row, int32_t label);

/* Of all rows added since the last reset. Sorts them. */
metrics_values metrics_of(metrics* m);
#endif
