/* Accuracy, macro-F1 and ROC-AUC against their definitions, computed the slow way. */
#include "tests/test.h"
#include "trainer/net/metrics.h"

enum { ROWS_MAX = 300, CLASSES_MAX = 7 };
static float logits[ROWS_MAX][CLASSES_MAX];
static int32_t labels[ROWS_MAX];

/* Few distinct values, so that ties are common. */
static void fill(int64_t rows, int32_t outputs, int32_t classes, int64_t values)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int32_t j = 0; j < outputs; j++) logits[i][j] = (float)(test_below(values) - values / 2) * 0.25f;
        labels[i] = (int32_t)test_below(classes);
    }
}

static metrics_values measure(int64_t rows, int32_t outputs, int32_t classes)
{
    metrics m;
    error why = {""};
    metrics_values got = {0, 0, 0};
    if (!CHECK(metrics_open(&m, classes, rows, &why))) return got;
    const float none[CLASSES_MAX] = {NAN};
    metrics_add(&m, metrics_look(none, outputs), labels[0]); /* forgotten by the reset */
    metrics_reset(&m);
    for (int64_t i = 0; i < rows; i++) metrics_add(&m, metrics_look(logits[i], outputs), labels[i]);
    got = metrics_of(&m);
    metrics_close(&m);
    return got;
}

static int32_t first_largest(const float* x, int32_t n)
{
    for (int32_t j = 0; j < n; j++) {
        int largest = 1;
        for (int32_t k = 0; k < n; k++) largest = largest && x[j] >= x[k];
        if (largest) return j;
    }
    return -1;
}

/* Precision and recall per class, as the textbook has them. */
static double slow_f1(int64_t rows, int32_t outputs, int32_t classes)
{
    double sum = 0, present = 0;
    for (int32_t c = 0; c < classes; c++) {
        double both = 0, said = 0, is = 0;
        for (int64_t i = 0; i < rows; i++) {
            int32_t guess = outputs == 1 ? logits[i][0] > 0 : first_largest(logits[i], outputs);
            both += guess == c && labels[i] == c;
            said += guess == c;
            is += labels[i] == c;
        }
        if (said + is == 0) continue;
        present++;
        if (both > 0) sum += 2 * (both / said) * (both / is) / (both / said + both / is);
    }
    return sum / present;
}

static double slow_auc(int64_t rows, int32_t outputs)
{
    double wins = 0, pairs = 0;
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < rows; j++) {
            if (labels[i] != 1 || labels[j] != 0) continue;
            float a = outputs == 1 ? logits[i][0] : logits[i][1] - logits[i][0];
            float b = outputs == 1 ? logits[j][0] : logits[j][1] - logits[j][0];
            wins += a > b ? 1 : a == b ? 0.5 : 0;
            pairs++;
        }
    }
    return wins / pairs;
}

TEST(metrics_equal_their_definitions)
{
    for (int trial = 0; trial < 40; trial++) {
        int32_t classes = 2 + (int32_t)test_below(CLASSES_MAX - 1);
        int32_t outputs = classes == 2 && trial % 2 ? 1 : classes;
        int64_t rows = 20 + test_below(ROWS_MAX - 20), right = 0;
        fill(rows, outputs, classes, 2 + test_below(40));
        metrics_values got = measure(rows, outputs, classes);
        for (int64_t i = 0; i < rows; i++)
            right += labels[i] == (outputs == 1 ? logits[i][0] > 0 : first_largest(logits[i], outputs));
        CHECK_NEAR(got.accuracy, (double)right / (double)rows, 1e-15);
        CHECK_NEAR(got.macro_f1, slow_f1(rows, outputs, classes), 1e-12);
        if (classes == 2) CHECK_NEAR(got.roc_auc, slow_auc(rows, outputs), 1e-12);
        else CHECK(isnan(got.roc_auc));
    }
}

TEST(a_class_that_nobody_has_or_guesses_has_no_part_in_macro_f1)
{
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < 4; j++) logits[i][j] = (float)(j == i % 2);
        labels[i] = i % 2;
    }
    CHECK_NEAR(measure(6, 4, 4).macro_f1, 1, 0);
    labels[0] = 3; /* nobody guesses it: class 0 has 2 * 2 / (2 + 3), class 1 all, class 3 nothing */
    CHECK_NEAR(measure(6, 4, 4).macro_f1, (0.8 + 1 + 0) / 3, 1e-12);
}

TEST(equal_logits_give_the_smaller_class)
{
    float three[] = {1, 2, 2}, all[] = {0, 0, 0}, zero[] = {0}, above[] = {1e-30f};
    CHECK_EQ(metrics_class(three, 3), 1);
    CHECK_EQ(metrics_class(all, 3), 0);
    CHECK_EQ(metrics_class(zero, 1), 0);
    CHECK_EQ(metrics_class(above, 1), 1);
}

TEST(what_is_undefined_is_nan)
{
    fill(5, 2, 2, 10);
    for (int i = 0; i < 5; i++) labels[i] = 1;
    CHECK(isnan(measure(5, 2, 2).roc_auc)); /* no negatives */
    CHECK(!isnan(measure(5, 2, 2).accuracy));
    metrics_values none = measure(0, 3, 3);
    CHECK(isnan(none.accuracy) && isnan(none.macro_f1));
}

TEST(logits_that_are_not_finite_have_no_score)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int32_t outputs = 1; outputs <= 3; outputs++)
        for (int i = 0; i < 3; i++) {
            int32_t classes = outputs == 1 ? 2 : outputs;
            fill(20, outputs, classes, 10);
            labels[0] = 0; /* both of two classes, so that there is a curve */
            labels[1] = 1;
            CHECK(!isnan(measure(20, outputs, classes).accuracy));
            logits[7][outputs - 1] = bad[i];
            metrics_values got = measure(20, outputs, classes);
            CHECK(isnan(got.accuracy) && isnan(got.macro_f1) && isnan(got.roc_auc));
        }
}

TEST(auc_is_one_half_when_all_scores_tie_and_one_when_separated)
{
    for (int i = 0; i < 6; i++) {
        labels[i] = i % 2;
        logits[i][0] = 3;
    }
    CHECK_NEAR(measure(6, 1, 2).roc_auc, 0.5, 0);
    for (int i = 0; i < 6; i++) logits[i][0] = (float)(labels[i] * 10 + i);
    CHECK_NEAR(measure(6, 1, 2).roc_auc, 1, 0);
    for (int i = 0; i < 6; i++) labels[i] = 1 - labels[i];
    CHECK_NEAR(measure(6, 1, 2).roc_auc, 0, 0);
}

int main(int argc, char** argv)
{
    test_only = argc > 1 ? argv[1] : NULL;
    test_seed(11);
    RUN(metrics_equal_their_definitions);
    RUN(a_class_that_nobody_has_or_guesses_has_no_part_in_macro_f1);
    RUN(equal_logits_give_the_smaller_class);
    RUN(what_is_undefined_is_nan);
    RUN(logits_that_are_not_finite_have_no_score);
    RUN(auc_is_one_half_when_all_scores_tie_and_one_when_separated);
    return test_finish();
}
