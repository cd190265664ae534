#include "bench/run_file.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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
    f->root = json_first(f->text);
    if (strlen(f->text) != (size_t)size || !json_whole(f->text) || isnan(json_number(json_member(f->root, "ggnn_bench"))))
        return error_set(why, "%s: not what ggnn-bench --json wrote", path);
    return true;
}

void run_file_close(run_file* f)
{
    memory_free(f->text);
    memset(f, 0, sizeof *f);
}
