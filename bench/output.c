/* output.c - the table, as results come, the JSON with every sample, and that as lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/harness.h"
#include "bench/lines.h"
#include "bench/read_json.h"
#include "bench/text_file.h"
#include "common/sibling.h"

/* ==== the table ========================================================================================= */

const char* bench_time_text(char text[24], double seconds)
{
    static const char* const unit[] = {"s", "ms", "us", "ns"};
    int which = 0;
    while (which < 3 && seconds < .99995) {
        seconds *= 1000;
        which++;
    }
    snprintf(text, 24, "%.*f %s",
             seconds < 9.9995   ? 3
             : seconds < 99.995 ? 2
             : seconds < 999.95 ? 1
                                : 0,
             seconds, unit[which]);
    return text;
}

static const char* rate_text(char text[40], double rate, const char* unit)
{
    char number[16];
    progress_amount(number, rate);
    bool letters = strcmp(unit, "B") == 0 || strcmp(unit, "FLOP") == 0; /* "1.2 GB", but "1.2 G edges" */
    snprintf(text, 40, "%s%s%s/s", number, letters && strchr(number, ' ') ? "" : " ", unit);
    return text;
}

static const char* roof_name(char text[48], const char* name, int64_t size)
{
    if (size) snprintf(text, 48, "%s %lld", name, (long long)size);
    else snprintf(text, 48, "%s", name);
    return text;
}

/* Erases the bar, and prints the entry's heading before its first line. */
static void begin_figures(bench* b)
{
    struct bench_state* s = b->state;
    progress_end(&s->bar, 0, false);
    if (s->titled == b->entry) return;
    s->titled = b->entry;
    for (const bench_entry* e = b->backend->entries; e->name; e++)
        if (strcmp(e->name, b->entry) == 0) fprintf(b->state->out, "\n%s: %s\n", e->name, e->what);
}

/* And the columns' before its first time. */
static void begin_line(bench* b)
{
    struct bench_state* s = b->state;
    begin_figures(b);
    if (s->headed == b->entry) return;
    s->headed = b->entry;
    fprintf(b->state->out, "  %-42s %2s %10s %21s %16s %8s  %s\n", "", "T", "median", "least - most", "work",
            "GB/s", "of the roof");
}

static void print_in_turns(FILE* out, const bench_result* r)
{
    const bench_in_turns* t = &r->in_turns;
    char roof[48];
    if (t->turns)
        fprintf(out, "    in turns: %.0f %% of %s%s, half of %d turns %.0f - %.0f %%, %d thrown away\n", 100 * t->share,
                r->kase.add ? "all, most: " : "", roof_name(roof, t->roof, t->roof_size), (int)t->turns, 100 * t->lower,
                100 * t->upper, (int)t->thrown);
    else if (t->thrown)
        fprintf(out, "    in turns: no share: in each of %d turns a roof moved by 10 %% or more\n", (int)t->thrown);
}

void bench_print_result(bench* b, const bench_result* r)
{
    const bench_case* c = &r->kase;
    char median[24], least[24], most[24], range[56], rate[40], bytes[16] = "", share[96] = "", roof[48],
                                                               name[96];
    begin_line(b);
    snprintf(name, sizeof name, "%s%s", c->rival ? "  " : "", c->what);
    snprintf(range, sizeof range, "%s - %s", bench_time_text(least, r->least), bench_time_text(most, r->most));
    if (c->bytes > 0) snprintf(bytes, sizeof bytes, "%.1f", 1e-9 * c->bytes / r->median);
    if (r->roof_seconds > 0)
        snprintf(share, sizeof share, "%.0f %% of %s%s%s", 100 * bench_share(r), c->add ? "all, most: " : "",
                 roof_name(roof, r->roof, r->roof_size), r->disturbed ? ", disturbed" : "");
    fprintf(b->state->out, "  %-42s %2d %10s %21s %16s %8s  %s\n", name, (int)c->threads,
            bench_time_text(median, r->median), range, rate_text(rate, c->work / r->median, c->unit), bytes, share);
    print_in_turns(b->state->out, r);
    fflush(b->state->out);
}

void bench_print_ratio(bench* b, const bench_ratio_value* r)
{
    begin_line(b);
    fprintf(b->state->out, "    %.2fx %s", r->ratio, r->of_what);
    if (r->goal > 0) fprintf(b->state->out, " (goal %.3g)", r->goal);
    if (r->turns) fprintf(b->state->out, " in %d turns (half of them %.2f - %.2f)", (int)r->turns, r->lower, r->upper);
    fprintf(b->state->out, "\n");
    fflush(b->state->out);
}

void bench_print_note(bench* b, const bench_note_value* n)
{
    char value[40];
    begin_line(b);
    if (strcmp(n->unit, "s") == 0) bench_time_text(value, n->value);
    else snprintf(value, sizeof value, "%.6g %s", n->value, n->unit);
    fprintf(b->state->out, "    %-36s    %10s\n", n->name, value);
    fflush(b->state->out);
}

void bench_say(bench* b, const char* text)
{
    begin_figures(b);
    fprintf(b->state->out, "    %s\n", text);
    fflush(b->state->out);
}

static bool is_count(double x) { return x >= 0 && x < 1e10 && x == (double)(int64_t)x; }

static const char* figure_text(char text[24], double value)
{
    if (!isfinite(value)) snprintf(text, 24, "-");
    else snprintf(text, 24, is_count(value) ? "%.0f" : "%.4g", value);
    return text;
}

void bench_print_figures(bench* b, const bench_figure_row* r, bool first)
{
    const bench_table* t = &r->table;
    FILE* out = b->state->out;
    char heading[128], text[24];
    bool noted = false;
    for (int32_t i = 0; i < t->columns; i++) noted = noted || r->note[i][0];
    begin_figures(b);
    snprintf(heading, sizeof heading, "%s: %s, %s", t->what, t->unit, t->label);
    if (first) fprintf(out, "  %-54s", heading);
    for (int32_t i = 0; first && i < t->columns; i++) fprintf(out, " %10s", t->column[i]);
    fprintf(out, "%s    %-52s", first ? "\n" : "", r->row);
    for (int32_t i = 0; i < t->columns; i++) fprintf(out, " %10s", figure_text(text, r->value[i]));
    if (noted) fprintf(out, "\n    %-52s", "");
    for (int32_t i = 0; noted && i < t->columns; i++) fprintf(out, " %10s", r->note[i]);
    fprintf(out, "\n");
    fflush(out);
}

void bench_print_roof(bench* b, const bench_roof_value* r)
{
    char value[40], median[24], least[24], most[24], range[56], name[48], label[80];
    begin_line(b);
    snprintf(label, sizeof label, "roof: %s", roof_name(name, r->kind->name, r->size));
    snprintf(range, sizeof range, "%s - %s", bench_time_text(least, r->timing.least),
             bench_time_text(most, r->timing.most));
    if (strcmp(r->kind->unit, "s") == 0) bench_time_text(value, r->value);
    else rate_text(value, r->value, r->kind->unit);
    fprintf(b->state->out, "  %-42s %2d %10s %21s %16s %8s  %s\n", label, (int)r->threads,
            bench_time_text(median, r->timing.median), range, value, "", r->kind->what);
    fflush(b->state->out);
}

/* ==== files ============================================================================================= */

bool bench_can_write(const char* path, error* why)
{
    text_file f;
    if (!path) return true;
    if (!text_file_begin(&f, path, why)) return false;
    text_file_drop(&f);
    return true;
}

/* ==== JSON ============================================================================================== */

static void put_samples(json* j, const bench_result* r)
{
    json_int(j, "repeats", r->repeats);
    json_real(j, "median", r->median);
    json_real(j, "least", r->least);
    json_real(j, "most", r->most);
    json_begin_array(j, "samples");
    for (int32_t i = 0; i < r->count; i++) json_real(j, NULL, r->sample[i]);
    json_end_array(j);
}

static void put_roof(json* j, const bench_roof_value* r)
{
    json_begin_object(j, NULL);
    json_string(j, "name", r->kind->name);
    json_int(j, "size", r->size);
    json_int(j, "threads", r->threads);
    json_string(j, "unit", r->kind->unit);
    json_real(j, "value", r->value);
    json_real(j, "amount", r->amount);
    json_int(j, "measured", r->measured);
    put_samples(j, &r->timing);
    json_end_object(j);
}

/* Where --once measured no roof they are named all the same. */
static void put_demands(json* j, const bench_case* c)
{
    json_begin_array(j, "demands");
    for (int i = 0; i < BENCH_DEMANDS && c->demand[i].roof; i++) {
        json_begin_object(j, NULL);
        json_string(j, "roof", c->demand[i].roof);
        json_int(j, "size", c->demand[i].size);
        json_real(j, "amount", c->demand[i].amount);
        json_end_object(j);
    }
    json_end_array(j);
}

/* null without --turns, and of a case that demands no roof. */
static void put_in_turns(json* j, const bench_in_turns* t)
{
    if (t->turns + t->thrown == 0) {
        json_null(j, "in_turns");
        return;
    }
    json_begin_object(j, "in_turns");
    json_string(j, "roof", t->roof);
    json_int(j, "roof_size", t->roof_size);
    json_real(j, "share", t->share);
    json_real(j, "lower", t->lower);
    json_real(j, "upper", t->upper);
    json_int(j, "turns", t->turns);
    json_int(j, "thrown", t->thrown);
    json_end_object(j);
}

static void put_result(json* j, const bench* b, const bench_result* r)
{
    const bench_case* c = &r->kase;
    json_begin_object(j, NULL);
    json_string(j, "bench", r->entry);
    json_string(j, "case", c->what);
    json_int(j, "threads", c->threads);
    json_bool(j, "rival", c->rival);
    json_bool(j, "cold", bench_is_cold(b, c));
    json_string(j, "unit", c->unit);
    json_real(j, "work", c->work);
    json_real(j, "bytes", c->bytes);
    json_real(j, "flops", c->flops);
    json_real(j, "work_per_second", c->work / r->median);
    json_real(j, "bytes_per_second", c->bytes / r->median);
    json_real(j, "flops_per_second", c->flops / r->median);
    json_string(j, "roof", r->roof);
    json_int(j, "roof_size", r->roof_size);
    put_demands(j, c);
    json_bool(j, "roofs_added", c->add);
    json_real(j, "roof_seconds", r->roof_seconds);
    json_real(j, "share", bench_share(r));
    json_bool(j, "disturbed", r->disturbed);
    put_in_turns(j, &r->in_turns);
    put_samples(j, r);
    json_end_object(j);
}

static void put_note(json* j, const bench* b, const bench_note_value* n)
{
    const bench_result* r = &b->state->result[n->result];
    json_begin_object(j, NULL);
    json_string(j, "bench", r->entry);
    json_string(j, "case", r->kase.what);
    json_int(j, "threads", r->kase.threads);
    json_string(j, "name", n->name);
    json_real(j, "value", n->value);
    json_string(j, "unit", n->unit);
    json_end_object(j);
}

static void put_figures(json* j, const bench_figure_row* r)
{
    for (int32_t i = 0; i < r->table.columns; i++) {
        json_begin_object(j, NULL);
        json_string(j, "bench", r->entry);
        json_string(j, "case", r->table.what);
        json_string(j, "row", r->row);
        json_string(j, "column", r->table.column[i]);
        json_real(j, "value", r->value[i]);
        json_string(j, "unit", r->table.unit);
        json_string(j, "label", r->table.label);
        if (r->note[i][0]) json_string(j, "note", r->note[i]);
        json_end_object(j);
    }
}

static void put_ratio(json* j, const bench* b, const bench_ratio_value* r)
{
    const bench_result* ours = &b->state->result[r->ours];
    json_begin_object(j, NULL);
    json_string(j, "bench", ours->entry);
    json_string(j, "case", ours->kase.what);
    json_int(j, "threads", ours->kase.threads);
    json_string(j, "of", r->of_what);
    json_string(j, "their_case", b->state->result[r->theirs].kase.what);
    json_int(j, "their_threads", b->state->result[r->theirs].kase.threads);
    json_real(j, "ratio", r->ratio);
    json_real(j, "goal", r->goal > 0 ? r->goal : NAN);
    json_int(j, "turns", r->turns);
    json_real(j, "lower", r->turns ? r->lower : NAN);
    json_real(j, "upper", r->turns ? r->upper : NAN);
    json_end_object(j);
}

const char* bench_base_name(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void put_options(json* j, const bench_options* o)
{
    json_begin_object(j, "options");
    json_bool(j, "quick", o->quick);
    json_bool(j, "once", o->once);
    if (o->turns) json_bool(j, "turns", true); /* else as files were before there was the option: compare sees no other one */
    json_int(j, "rows", o->own ? o->rows : 0);
    json_int(j, "degree", o->own ? o->degree : 0);
    json_int(j, "sources", o->own ? o->sources : 0);
    json_int(j, "devices", o->devices);
    json_string(j, "topology", o->topology ? bench_base_name(o->topology) : NULL);
    json_int(j, "device_memory", o->memory);
    json_string(j, "with", o->with ? bench_base_name(o->with) : NULL);
    json_begin_array(j, "fanout");
    for (int32_t h = 0; h < o->fanout.count; h++) json_int(j, NULL, o->fanout.value[h]);
    json_end_array(j);
    json_int(j, "batch", o->batch);
    json_int(j, "features", o->features);
    json_int(j, "heads", o->heads);
    json_string(j, "temperature", o->cold ? "cold" : o->warm ? "warm" : "usual");
    json_int(j, "reps", o->reps);
    json_real(j, "min_time", o->min_time);
    json_end_object(j);
}

static void put_data(json* j, bench* b)
{
    const bench_graph* g = b->state->graph;
    if (!g) {
        json_null(j, "data");
        return;
    }
    json_begin_object(j, "data");
    json_string(j, "file", bench_base_name(g->path));
    json_int(j, "nodes", g->graph.num_nodes);
    json_int(j, "edges", g->graph.num_edges);
    json_int(j, "features", g->features.width);
    json_string(j, "type", g->features.type == GGNN_F16 ? "f16" : "f32");
    json_int(j, "train", g->num_train);
    json_end_object(j);
}

/* Those that failed, and why; those whose turn has not come. */
static void put_entries(json* j, const struct bench_state* s)
{
    json_begin_array(j, "failures");
    for (int32_t i = 0; i < s->num_failures; i++) {
        json_begin_object(j, NULL);
        json_string(j, "bench", s->failure[i].entry);
        json_string(j, "why", s->failure[i].why.text);
        json_end_object(j);
    }
    json_end_array(j);
    json_begin_array(j, "left");
    for (int64_t i = s->entries_done; i < s->num_chosen; i++) json_string(j, NULL, s->chosen[i]->name);
    json_end_array(j);
}

static void put_command(json* j, int argc, char** argv)
{
    json_begin_array(j, "command");
    for (int i = 0; i < argc; i++) json_string(j, NULL, bench_base_name(argv[i]));
    json_end_array(j);
}

static void put_run(bench* b, FILE* out, int argc, char** argv)
{
    struct bench_state* s = b->state;
    bench_machine machine;
    json j;
    bench_machine_of(&machine);
    json_start(&j, out, true);
    json_begin_object(&j, NULL);
    json_int(&j, "ggnn_bench", 1);
    put_command(&j, argc, argv);
    bench_machine_json(b, &machine, &j);
    put_options(&j, &b->o);
    put_data(&j, b);
    json_int(&j, "checks", s->num_checks);
    json_begin_array(&j, "roofs");
    for (int32_t i = 0; i < s->num_roofs; i++) put_roof(&j, &s->roof[i]);
    json_end_array(&j);
    json_begin_array(&j, "results");
    for (int32_t i = 0; i < s->num_results; i++) put_result(&j, b, &s->result[i]);
    json_end_array(&j);
    json_begin_array(&j, "ratios");
    for (int32_t i = 0; i < s->num_ratios; i++) put_ratio(&j, b, &s->ratio[i]);
    json_end_array(&j);
    json_begin_array(&j, "notes");
    for (int32_t i = 0; i < s->num_notes; i++) put_note(&j, b, &s->note[i]);
    json_end_array(&j);
    json_begin_array(&j, "figures");
    for (int32_t i = 0; i < s->num_figures; i++) put_figures(&j, &s->figure[i]);
    json_end_array(&j);
    put_entries(&j, s);
    json_end_object(&j);
}

bool bench_write_json(bench* b, int argc, char** argv)
{
    text_file f;
    if (!text_file_begin(&f, b->o.json, &b->why)) return false;
    put_run(b, f.out, argc, argv);
    return text_file_end(&f, &b->why);
}

/* ==== CSV =============================================================================================== */

/* The JSON as lines. */
bool bench_write_csv(bench* b, int argc, char** argv)
{
    text_file f;
    char* run = NULL;
    size_t length = 0;
    if (!text_file_begin(&f, b->o.csv, &b->why)) return false;
    FILE* all = open_memstream(&run, &length);
    if (all) put_run(b, all, argc, argv);
    if (!all || fclose(all) != 0) {
        text_file_drop(&f);
        free(run);
        return error_set(&b->why, "%s: out of memory", b->o.csv);
    }
    lines_write(f.out, json_first(run), NULL, NULL);
    free(run);
    return text_file_end(&f, &b->why);
}

/* ==== markdown ========================================================================================== */

/* Three digits, as much as a model is worth; what is red is bold. */
static void put_cell(FILE* out, const bench_figure_row* r, int32_t i)
{
    const double x = r->value[i];
    const char* bold = strcmp(r->note[i], "red") == 0 ? "**" : "";
    const char* gap = r->note[i][0] ? " " : "";
    if (!isfinite(x)) fputs(" |", out);
    else fprintf(out, fabs(x) >= 1000 ? " %s%.0f%s%s%s |" : " %s%.3g%s%s%s |", bold, x, gap, r->note[i], bold);
}

bool bench_write_markdown(bench* b)
{
    const struct bench_state* s = b->state;
    text_file f;
    if (!text_file_begin(&f, b->o.markdown, &b->why)) return false;
    FILE* out = f.out;
    for (int32_t k = 0; k < s->num_figures; k++) {
        const bench_figure_row* r = &s->figure[k];
        const bool first = k == 0 || r[-1].entry != r->entry || strcmp(r[-1].table.what, r->table.what) != 0;
        if (first) fprintf(out, "%s%s: %s, %s\n\n| |", k ? "\n" : "", r->table.what, r->table.unit, r->table.label);
        for (int32_t i = 0; first && i < r->table.columns; i++) fprintf(out, " %s |", r->table.column[i]);
        for (int32_t i = 0; first && i <= r->table.columns; i++) fputs(i ? "---|" : "\n|---|", out);
        fprintf(out, "%s| %s |", first ? "\n" : "", r->row);
        for (int32_t i = 0; i < r->table.columns; i++) put_cell(out, r, i);
        fputs("\n", out);
    }
    return text_file_end(&f, &b->why);
}
