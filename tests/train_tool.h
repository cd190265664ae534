/* train_tool.h - runs ggnn-train (and ggnn-data) of this test's own build as a user does; looks at its output, its logs,
   its files. All paths are within folder.h's folder, which train_tool_begin makes the current one. */
#ifndef TRAIN_TOOL_H
#define TRAIN_TOOL_H
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "datasets/dataset.h"
#include "tests/folder.h"
#include "tests/test.h"

static char build[4096]; /* folder of ggnn-train and ggnn-data */

/* ==== running programs ========================================================================================== */

enum { WORDS_MAX = 64 };
static char* output;                      /* of the last program: both streams, all of them */
static const char* fail_allocation;       /* n as text: its n-th allocation fails */
static rlim_t file_limit = RLIM_INFINITY; /* bytes that a file may have: a full disk */

/* Starts build/name with the blank-separated words of `line`; its output goes to the file "output". */
static inline pid_t start(const char* name, const char* line)
{
    char program[4200], *copy = strdup(line), *word[WORDS_MAX];
    int words = 0;
    snprintf(program, sizeof program, "%s/%s", build, name);
    word[words++] = program;
    for (char* at = strtok(copy, " "); at && words < WORDS_MAX - 1; at = strtok(NULL, " ")) word[words++] = at;
    word[words] = NULL;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int out = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        struct rlimit limit = {file_limit, file_limit};
        dup2(out, 1);
        dup2(out, 2);
        setenv("OMP_NUM_THREADS", "1", 1); /* where --threads does not say: many small programs beside other tests */
        if (fail_allocation) setenv("GGNN_TEST_FAIL_ALLOCATION", fail_allocation, 1);
        if (file_limit != RLIM_INFINITY) setrlimit(RLIMIT_FSIZE, &limit);
        execv(program, word);
        _exit(127);
    }
    free(copy);
    return child;
}

/* All that a file holds, nothing where there is none, in place of `old`. */
static inline char* read_text(char* old, const char* path)
{
    struct stat s;
    FILE* f = fopen(path, "rb");
    const size_t bytes = f && fstat(fileno(f), &s) == 0 ? (size_t)s.st_size : 0;
    char* text = (char*)realloc(old, bytes + 1);
    text[f ? fread(text, 1, bytes, f) : 0] = 0;
    if (f) fclose(f);
    return text;
}

/* Waits, fills `output`; the exit status, or 1000 + the signal that ended it. */
static inline int finish(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    output = read_text(output, "output");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline int train(const char* line) { return finish(start("ggnn-train", line)); }

static inline int trainf(const char* format, ...)
{
    char line[4096];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    return train(line);
}

static inline bool says(const char* text)
{
    size_t length = strlen(output);
    if (strstr(output, text)) return true;
    printf("  \"%s\" is not in the output, which ends: %s\n", text, output + (length > 300 ? length - 300 : 0));
    return false;
}

/* The same by a shell, in which $train and $data are the programs. Its standard output and error go to "output" where
   the line does not send them elsewhere. */
static inline int shell(const char* format, ...)
{
    char line[4096], program[4300];
    va_list values;
    va_start(values, format);
    vsnprintf(line, sizeof line, format, values);
    va_end(values);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int out = open("output", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, 1);
        dup2(out, 2);
        close(out);
        setenv("OMP_NUM_THREADS", "1", 1);
        snprintf(program, sizeof program, "%s/ggnn-train", build);
        setenv("train", program, 1);
        snprintf(program, sizeof program, "%s/ggnn-data", build);
        setenv("data", program, 1);
        execl("/bin/sh", "sh", "-c", line, (char*)NULL);
        _exit(127);
    }
    return finish(child);
}

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

/* A copy with a weight for each edge. */
static inline void add_weights_to(const char* from, const char* path, const float* weight)
{
    ggnn_file f;
    ggnn_file_writer w;
    CHECK(ggnn_file_open(&f, from) && ggnn_file_create(&w, path));
    const int64_t edges = ggnn_file_find(&f, "indices")->dim[0];
    for (int32_t i = 0; i < f.num_sections; i++) CHECK(ggnn_file_copy(&w, &f, &f.section[i]));
    CHECK(ggnn_file_append(&w, "weight", GGNN_FILE_F32, 1, &edges, weight) && ggnn_file_commit(&w));
    ggnn_file_close(&f);
}

/* A copy of karate.ggnn with weights, all of them `weight`. */
static inline void add_weights(const char* path, float weight)
{
    float all[156];
    for (int i = 0; i < 156; i++) all[i] = weight;
    add_weights_to("karate.ggnn", path, all);
}

/* ==== the scene ================================================================================================= */

static inline bool find_build(void)
{
    ssize_t length = readlink("/proc/self/exe", build, sizeof build - 1);
    for (int up = 0; up < 2 && length > 0; up++) {
        build[length] = 0;
        char* slash = strrchr(build, '/');
        if (!slash) return false;
        *slash = 0;
        length = slash - build;
    }
    char program[4200];
    snprintf(program, sizeof program, "%s/ggnn-train", build);
    return access(program, X_OK) == 0;
}
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
