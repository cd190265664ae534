/* train_tool.h - trainings by tool.h: their logs, and the graphs that they read. All paths are within folder.h's folder, which
   train_tool_begin makes the current one. */
#ifndef TRAIN_TOOL_H
#define TRAIN_TOOL_H
#include <time.h>

#include "datasets/dataset.h"
#include "tests/test.h"
#include "tests/edge_rows.h"
#include "tests/tool.h"

static inline void nap(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

/* ==== logs ====================================================================================================== */

enum { RECORDS_MAX = 256, RECORD_MAX = 4096 };
typedef struct {
    char line[RECORDS_MAX][RECORD_MAX];
    int count;
} records;
static records first, second;

/* Cuts `"key":value,` out of a line; braces and brackets belong to the value. */
static inline void cut(char* line, const char* key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, ",\"%s\":", key);
    char* from = strstr(line, pattern);
    if (!from) return;
    char* to = from + strlen(pattern);
    for (int depth = 0; *to && (depth > 0 || (*to != ',' && *to != '}')); to++) depth += (*to == '{' || *to == '[') - (*to == '}' || *to == ']');
    memmove(from, to, strlen(to) + 1);
}

/* The records of a log without what may differ between equal runs; of one event, or of all where that is NULL. */
static inline void read_log(records* r, const char* path, const char* event)
{
    FILE* f = fopen(path, "r");
    char pattern[64];
    r->count = 0;
    snprintf(pattern, sizeof pattern, "\"event\":\"%s\"", event ? event : "");
    while (f && r->count < RECORDS_MAX && fgets(r->line[r->count], RECORD_MAX, f)) {
        char* line = r->line[r->count];
        cut(line, "seconds");
        cut(line, "peak_memory_bytes");
        cut(line, "run");
        if (!event || strstr(line, pattern)) r->count++;
    }
    if (f) fclose(f);
}

static inline void leave_out(records* r, const char* key)
{
    for (int i = 0; i < r->count; i++) cut(r->line[i], key);
}

static inline bool same_records(const records* a, const records* b)
{
    bool same = CHECK_EQ(a->count, b->count) != 0;
    for (int i = 0; same && i < a->count; i++) same = CHECK_STR(a->line[i], b->line[i]) != 0;
    return same && a->count > 0;
}

static inline double number(const char* line, const char* key)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char* at = strstr(line, pattern);
    return at && strncmp(at + strlen(pattern), "null", 4) != 0 ? strtod(at + strlen(pattern), NULL) : (double)NAN;
}

static inline double last_number(const char* path, const char* event, const char* key)
{
    read_log(&first, path, event);
    return first.count ? number(first.line[first.count - 1], key) : (double)NAN;
}

/* The r-th number of an array of the log's last record of ranks: "rows":{"cache":[..],"own":.. */
static inline int64_t logged_in(const records* log, const char* group, const char* member, int32_t r)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":%s", group, member ? "{" : "[");
    const char* at = log->count ? strstr(log->line[log->count - 1], pattern) : NULL;
    if (member && at) {
        snprintf(pattern, sizeof pattern, "\"%s\":[", member);
        at = strstr(at, pattern);
    }
    if (!at) return -1;
    at += strlen(pattern);
    for (; r > 0; r--) at = strpbrk(at, ",]") + 1;
    return strtoll(at, NULL, 10);
}

/* ==== files ===================================================================================================== */

static inline void copy_file(const char* from, const char* to, int64_t bytes, int64_t flipped)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    int64_t i = 0;
    for (int c; in && out && (bytes < 0 || i < bytes) && (c = fgetc(in)) != EOF; i++)
        fputc(i == flipped ? c ^ 4 : c, out);
    if (in) fclose(in);
    if (out) fclose(out);
}

static inline int64_t file_bytes(const char* path)
{
    struct stat s;
    return stat(path, &s) == 0 ? (int64_t)s.st_size : -1;
}

static inline bool whole_file(const char* path)
{
    ggnn_file f;
    bool good = ggnn_file_open(&f, path) && ggnn_file_verify(&f);
    if (!good) printf("  %s\n", f.error);
    ggnn_file_close(&f);
    return good;
}

/* The j-th number of an array in a record. */
static inline double element(const char* line, const char* object, const char* key, int j)
{
    char pattern[64];
    const char* at = strstr(line, object);
    snprintf(pattern, sizeof pattern, "\"%s\":[", key);
    at = at ? strstr(at, pattern) : NULL;
    at = at ? at + strlen(pattern) : "nan";
    while (j-- > 0 && at) at = strchr(at, ',') + 1;
    return atof(at);
}

/* A copy with an element of a section set. */
static inline void poison_of(const char* from, const char* path, const char* section, int64_t at, const void* value, size_t bytes)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        char* data = ggnn_file_reserve(&w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim);
        memcpy(data, ggnn_file_data(&f, s), (size_t)s->bytes);
        if (strcmp(s->name, section) == 0) memcpy(data + at * (int64_t)bytes, value, bytes);
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

static inline void poison(const char* path, const char* section, int64_t at, const void* value, size_t bytes)
{
    poison_of("karate.ggnn", path, section, at, value, bytes);
}

/* Copies the checkpoint with other contents of one section. */
static inline void forge_bytes(const char* from, const char* to, const char* section, const void* data, int64_t bytes)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, to));
    for (int32_t i = 0; i < f.num_sections; i++) {
        const ggnn_file_section* s = &f.section[i];
        int64_t count = bytes / ggnn_file_type_bytes(s->type);
        if (strcmp(s->name, section) != 0) CHECK(ggnn_file_copy(&w, &f, s));
        else CHECK(ggnn_file_append(&w, section, (ggnn_file_type)s->type, 1, &count, data));
    }
    CHECK(ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* A copy with a bit of a section's last byte flipped, below a table that is as it was. */
static inline void damage(const char* from, const char* path, const char* section)
{
    ggnn_file f;
    if (!CHECK(ggnn_file_open(&f, from) && ggnn_file_find(&f, section))) return;
    const ggnn_file_section* s = ggnn_file_find(&f, section);
    const int64_t last = s->offset + s->bytes - 1;
    ggnn_file_close(&f);
    copy_file(from, path, -1, last);
}

/* A copy of karate.ggnn with weights, all of them `weight`. */
static inline void add_weights(const char* path, float weight)
{
    float all[156];
    for (int i = 0; i < 156; i++) all[i] = weight;
    add_weights_to("karate.ggnn", path, all);
}

/* ==== the scene ================================================================================================= */

/* Finds the programs, makes the folder the current one, and two graphs in it: planted.ggnn and karate.ggnn. */
static inline bool train_tool_begin(void)
{
    folder_make();
    if (!find_build() || chdir(folder) != 0) {
        printf("  no ggnn-train in %s, or no folder to work in\n", build);
        return false;
    }
    finish(start("ggnn-data", "generate planted planted.ggnn --nodes 600 --edges 9000 --classes 5 --features 16"));
    finish(start("ggnn-data", "generate karate karate.ggnn"));
    return true;
}
#endif
