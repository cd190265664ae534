#include "bench/compact.h"

#include <string.h>

#include "bench/harness.h"
#include "bench/lines.h"
#include "bench/read_json.h"
#include "bench/run_file.h"
#include "bench/text_file.h"

static void close_file(void* file) { run_file_close(file); }

/* What the run is called among others: as it is already, or as its file. */
static const char* name_of(char name[256], const char* run, const char* path)
{
    if (json_copy_text(json_member(run, "run"), name, 256)) return name;
    snprintf(name, 256, "%s", bench_base_name(path));
    char* ending = strrchr(name, '.');
    if (ending && ending != name) *ending = 0;
    return name;
}

static void write_runs(FILE* out, const run_file* file, const char* const* path, int paths)
{
    const bool several = paths > 1 || json_next(file[0].root);
    const char* before = NULL;
    char name[256];
    for (int i = 0; i < paths; i++)
        for (const char* run = file[i].root; run; before = run, run = json_next(run))
            lines_write(out, run, several ? name_of(name, run, path[i]) : NULL, before);
}

bool compact_write(bench* b, const char* const* path, int paths)
{
    text_file f;
    run_file* file = bench_new(b, (size_t)paths * sizeof *file, "files");
    if (!file) return false;
    for (int i = 0; i < paths; i++) {
        const bool read = run_file_read(&file[i], path[i], &b->why);
        if (!bench_defer(b, close_file, &file[i]) || !read) return false;
    }
    if (!text_file_begin(&f, b->o.csv, &b->why)) return false;
    write_runs(f.out, file, path, paths);
    return text_file_end(&f, &b->why);
}
