#include "datasets/writer.h"

#include <stddef.h>

#include "common/unfinished.h"

bool writer_begin(ggnn_file_writer* w, const char* path)
{
    unfinished_expect();
    const bool good = ggnn_file_create(w, path);
    unfinished_add(good ? w->temporary : NULL);
    return good;
}

void writer_end(ggnn_file_writer* w)
{
    ggnn_file_abort(w);
    unfinished_clear();
}

bool writer_scratch(ggnn_file_scratch* s, const char* beside, int64_t bytes)
{
    unfinished_expect();
    const bool good = ggnn_file_scratch_open(s, beside, bytes);
    unfinished_add(NULL);
    return good;
}
