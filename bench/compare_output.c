/* compare_output.c - a comparison as a table, as JSON, as CSV. */
#include <math.h>
#include <string.h>

#include "bench/compare.h"
#include "bench/csv.h"
#include "bench/text_file.h"
#include "common/json.h"

enum { NAMED = 10 }; /* cases that one side lacks */

/* ==== the table ========================================================================================= */

/* "1.03", or four digits of what is not near 1. */
static const char* ratio_text(char text[24], double ratio)
{
    snprintf(text, 24, ratio >= .1 && ratio < 100 ? "%.3f" : "%.4g", ratio);
    return text;
}

static const char* share_text(char text[24], double share)
{
    if (isnan(share)) return strcpy(text, "-");
    snprintf(text, 24, "%.0f %%", 100 * share);
    return text;
}

static void print_files(FILE* out, const comparison* c)
{
    for (int32_t i = 0; i < c->pairs; i++) fprintf(out, "A: %s   B: %s\n", c->run[2 * i].path, c->run[2 * i + 1].path);
    for (int32_t i = 0; i < c->num_differences; i++) {
        const compare_difference* d = &c->difference[i];
        const bool begins = i == 0 || d[-1].run != d->run, ends = i + 1 == c->num_differences || d[1].run != d->run;
        if (begins) fprintf(out, "%s and %s differ:", c->run[0].path, d->run->path);
        fprintf(out, " %s %s, %s%s", d->what, d->first, d->here, ends ? "\n" : ";");
    }
}

static void print_case(FILE* out, const compare_case* k)
{
    char name[160], median[2][24], ratio[24], lower[24], upper[24], least[24], most[24], quartiles[56], range[56], share[2][24];
    if (k->verdict == COMPARE_ALONE) return;
    snprintf(name, sizeof name, "%s%s", k->a->rival ? "  " : "", k->a->what);
    snprintf(quartiles, sizeof quartiles, "%s - %s", ratio_text(lower, k->lower), ratio_text(upper, k->upper));
    snprintf(range, sizeof range, "%s - %s", ratio_text(least, k->least), ratio_text(most, k->most));
    fprintf(out, "  %-42s %2d %10s %10s %8s %17s %17s %5d %7s %7s  %s\n", name, (int)k->a->threads,
            bench_time_text(median[0], k->median_a), bench_time_text(median[1], k->median_b), ratio_text(ratio, k->middle),
            quartiles, range, (int)k->turns, share_text(share[0], k->share_a), share_text(share[1], k->share_b),
            compare_word(k));
}

static void print_bench(FILE* out, const comparison* c, const char* entry)
{
    bool headed = false;
    for (int32_t i = 0; i < c->num_cases; i++) {
        const compare_case* k = &c->kase[i];
        if (k->verdict == COMPARE_ALONE || strcmp(k->a->bench, entry) != 0) continue;
        if (!headed)
            fprintf(out, "\n%-44s %2s %10s %10s %8s %17s %17s %5s %7s %7s\n", entry, "T", "median A", "median B", "B / A",
                    "quartiles", "least - most", "turns", "roof A", "roof B");
        headed = true;
        print_case(out, k);
    }
}

static void print_alone(FILE* out, const comparison* c)
{
    int32_t count = 0;
    for (int32_t i = 0; i < c->num_cases; i++) {
        const compare_result* y = compare_any(&c->kase[i]);
        if (c->kase[i].verdict != COMPARE_ALONE || count++ >= NAMED) continue;
        fprintf(out, "  %s: %s: %s, %d threads\n", compare_word(&c->kase[i]), y->bench, y->what, (int)y->threads);
    }
    if (count > NAMED) fprintf(out, "  and %d more that one side lacks\n", (int)(count - NAMED));
}

void compare_print(bench* b, const comparison* c)
{
    FILE* out = b->state->out;
    const compare_counts n = compare_count(c);
    print_files(out, c);
    for (int32_t i = 0; i < c->num_cases; i++)
        if (compare_is_first(c, i)) print_bench(out, c, compare_any(&c->kase[i])->bench);
    fprintf(out, "\n%d cases compared: %d faster, %d slower, %d the same, %d disturbed", (int)n.compared,
            (int)n.count[COMPARE_FASTER], (int)n.count[COMPARE_SLOWER], (int)n.count[COMPARE_SAME],
            (int)n.count[COMPARE_DISTURBED]);
    fprintf(out, n.rivals ? "; %d rivals are in no count\n" : "\n", (int)n.rivals);
    for (int32_t i = 0; i < c->num_cases; i++) {
        const char* entry = compare_any(&c->kase[i])->bench;
        char text[24];
        int32_t cases = 0;
        const double mean = compare_is_first(c, i) ? compare_mean(c, entry, &cases) : NAN;
        if (cases) fprintf(out, "  %-16s %8s  geometric mean of %d\n", entry, ratio_text(text, mean), (int)cases);
    }
    print_alone(out, c);
    fflush(out);
}

/* ==== JSON ============================================================================================== */

static void put_name(json* j, const compare_case* k)
{
    const compare_result* y = compare_any(k);
    json_string(j, "bench", y->bench);
    json_string(j, "case", y->what);
    json_int(j, "threads", y->threads);
    json_bool(j, "rival", y->rival);
    json_string(j, "unit", y->unit);
    json_string(j, "verdict", compare_word(k));
}

static void put_case(json* j, const compare_case* k)
{
    json_begin_object(j, NULL);
    put_name(j, k);
    if (k->verdict != COMPARE_ALONE) {
        json_real(j, "median_a", k->median_a);
        json_real(j, "median_b", k->median_b);
        json_real(j, "ratio", k->middle);
        json_real(j, "lower_quartile", k->lower);
        json_real(j, "upper_quartile", k->upper);
        json_real(j, "least", k->least);
        json_real(j, "most", k->most);
        json_real(j, "share_a", k->share_a);
        json_real(j, "share_b", k->share_b);
        json_begin_array(j, "turns");
        for (int32_t i = 0; i < k->turns; i++) json_real(j, NULL, k->ratio[i]);
        json_end_array(j);
    }
    json_end_object(j);
}

static void put_cases(json* j, const comparison* c, const char* name, bool alone)
{
    json_begin_array(j, name);
    for (int32_t i = 0; i < c->num_cases; i++)
        if ((c->kase[i].verdict == COMPARE_ALONE) == alone) put_case(j, &c->kase[i]);
    json_end_array(j);
}

static void put_files(json* j, const comparison* c)
{
    json_begin_array(j, "files");
    for (int32_t i = 0; i < 2 * c->pairs; i++) json_string(j, NULL, c->run[i].path);
    json_end_array(j);
    json_begin_array(j, "differences");
    for (int32_t i = 0; i < c->num_differences; i++) {
        const compare_difference* d = &c->difference[i];
        json_begin_object(j, NULL);
        json_string(j, "file", d->run->path);
        json_string(j, "what", d->what);
        json_string(j, "first", d->first);
        json_string(j, "here", d->here);
        json_end_object(j);
    }
    json_end_array(j);
}

static void put_summary(json* j, const comparison* c)
{
    const compare_counts n = compare_count(c);
    json_int(j, "compared", n.compared);
    json_int(j, "faster", n.count[COMPARE_FASTER]);
    json_int(j, "slower", n.count[COMPARE_SLOWER]);
    json_int(j, "same", n.count[COMPARE_SAME]);
    json_int(j, "disturbed", n.count[COMPARE_DISTURBED]);
    json_int(j, "rivals", n.rivals);
    json_begin_array(j, "benches");
    for (int32_t i = 0; i < c->num_cases; i++) {
        const char* entry = compare_any(&c->kase[i])->bench;
        int32_t cases = 0;
        const double mean = compare_is_first(c, i) ? compare_mean(c, entry, &cases) : NAN;
        if (!cases) continue;
        json_begin_object(j, NULL);
        json_string(j, "bench", entry);
        json_real(j, "geometric_mean", mean);
        json_int(j, "cases", cases);
        json_end_object(j);
    }
    json_end_array(j);
}

static bool write_json(const char* path, const comparison* c, error* why)
{
    text_file f;
    json j;
    if (!text_file_begin(&f, path, why)) return false;
    json_start(&j, f.out, true);
    json_begin_object(&j, NULL);
    json_int(&j, "ggnn_bench_compare", 1);
    put_files(&j, c);
    put_cases(&j, c, "cases", false);
    put_cases(&j, c, "alone", true);
    put_summary(&j, c);
    json_end_object(&j);
    return text_file_end(&f, why);
}

/* ==== CSV =============================================================================================== */

/* Of a case that one side lacks all figures are empty. */
static void put_line(csv* to, const compare_case* k)
{
    const compare_result* y = compare_any(k);
    const bool both = k->verdict != COMPARE_ALONE;
    const double figure[] = {k->median_a, k->median_b, k->middle,  k->lower,  k->upper,
                             k->least,    k->most,     k->share_a, k->share_b};
    csv_text(to, y->bench);
    csv_text(to, y->what);
    csv_int(to, y->threads);
    csv_bool(to, y->rival);
    csv_text(to, y->unit);
    for (size_t i = 0; i < sizeof figure / sizeof *figure; i++) csv_real(to, both ? figure[i] : NAN);
    csv_int(to, k->turns);
    csv_text(to, compare_word(k));
    csv_end_line(to);
}

static bool write_csv(const char* path, const comparison* c, error* why)
{
    text_file f;
    if (!text_file_begin(&f, path, why)) return false;
    csv to = {.out = f.out};
    fputs("bench,case,threads,rival,unit,median_a,median_b,ratio,lower_quartile,upper_quartile,least,most,share_a,share_b,"
          "turns,verdict\n",
          f.out);
    for (int32_t i = 0; i < c->num_cases; i++) put_line(&to, &c->kase[i]);
    return text_file_end(&f, why);
}

bool compare_write(bench* b, const comparison* c)
{
    return (!b->o.json || write_json(b->o.json, c, &b->why)) && (!b->o.csv || write_csv(b->o.csv, c, &b->why));
}
