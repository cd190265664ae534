#include "bench/run_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/lines.h"
#include "bench/read_json.h"
#include "common/input.h"
#include "common/memory.h"

bool run_file_read(run_file* f, const char* path, error* why)
{
    int64_t size = 0;
    FILE* in = input_stream(path, &size, why);
    if (!in) return false;
    f->text = memory_new((size_t)size + 1, path, why);
    const bool read = f->text && fread(f->text, 1, (size_t)size, in) == (size_t)size;
    const int reason = errno;
    fclose(in);
    if (!read) return error_set(why, "%s: %s", path, strerror(reason));
    const bool lines = lines_begin(f->text);
    if (lines && strlen(f->text) == (size_t)size && !(f->json = lines_read(path, f->text, why))) return false;
    const char* all = lines && f->json ? f->json : f->text;
    f->root = lines ? json_begin(all) : json_first(all);
    if ((!f->json && strlen(f->text) != (size_t)size) || !json_whole(all) ||
        isnan(json_number(json_member(f->root, "ggnn_bench"))))
        return error_set(why, "%s: not what ggnn-bench --json or --csv wrote", path);
    return true;
}

bool run_file_named(const char* path)
{
    const char* ending = strrchr(path, '.');
    char begin[32] = "";
    error none = {""};
    int64_t size;
    if (ending && strcmp(ending, ".json") == 0) return true;
    FILE* in = ending && strcmp(ending, ".csv") == 0 ? input_stream(path, &size, &none) : NULL;
    if (!in) return false;
    const bool read = fgets(begin, sizeof begin, in) != NULL;
    fclose(in);
    return read && lines_begin(begin);
}

void run_file_close(run_file* f)
{
    memory_free(f->text);
    free(f->json);
    memset(f, 0, sizeof *f);
}
