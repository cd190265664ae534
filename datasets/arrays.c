#include "datasets/arrays.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "common/memory.h"

enum { COLUMN_CHUNK = 512 };

bool arrays_open(array_set* set, const char* path, error* why)
{
    struct stat about;
    memset(set, 0, sizeof *set);
    set->path = path;
    set->folder = stat(path, &about) == 0 && S_ISDIR(about.st_mode);
    return set->folder || zip_open(&set->zip, path, why);
}

array_set arrays_of(const char* path, const array_file* file, int num_files)
{
    return (array_set){.path = path, .file = file, .num_files = num_files};
}

void arrays_close(array_set* set) { zip_close(&set->zip); }

static const array_file* file_of(const array_set* set, const char* name)
{
    for (int i = 0; i < set->num_files; i++)
        if (strcmp(set->file[i].name, name) == 0) return &set->file[i];
    return NULL;
}

/* The path of the array of that name in a folder, else its member's name. */
static bool file_name(char out[SOURCE_PATH], const array_set* set, const char* name, error* why)
{
    char file[80];
    snprintf(file, sizeof file, "%s.npy", name);
    if (set->folder) return path_in(out, set->path, file, why);
    snprintf(out, SOURCE_PATH, "%s", file);
    return true;
}

bool arrays_have(const array_set* set, const char* name)
{
    char file[SOURCE_PATH];
    error ignored = {""};
    struct stat about;
    if (set->file) return file_of(set, name) != NULL;
    if (!file_name(file, set, name, &ignored)) return false;
    return set->folder ? stat(file, &about) == 0 : zip_find(&set->zip, file) != NULL;
}

static int append(char* out, int used, int bytes, const char* name, size_t length)
{
    int more = snprintf(out + used, (size_t)(bytes - used), "%s%.*s", used ? ", " : "", (int)length, name);
    return more < bytes - used ? used + more : bytes - 1;
}

static int append_name(char* out, int used, int bytes, const char* name)
{
    size_t length = strlen(name);
    return length < 5 || strcmp(name + length - 4, ".npy") != 0 ? used : append(out, used, bytes, name, length - 4);
}

void arrays_list(const array_set* set, char* out, int bytes)
{
    int used = 0;
    DIR* list = set->folder ? opendir(set->path) : NULL;
    out[0] = 0;
    for (int i = 0; i < set->num_files; i++) used = append(out, used, bytes, set->file[i].name, strlen(set->file[i].name));
    for (int64_t i = 0; i < set->zip.num_members; i++) used = append_name(out, used, bytes, set->zip.member[i].name);
    for (struct dirent* entry; list && (entry = readdir(list));) used = append_name(out, used, bytes, entry->d_name);
    if (list) closedir(list);
}

/* ---- one array ------------------------------------------------------------------------------------------------ */

static source* open_named(const array_set* set, const char* name, error* why)
{
    char file[SOURCE_PATH];
    if (!file_name(file, set, name, why)) return NULL;
    return set->folder ? source_open(file, why) : zip_member_open(&set->zip, zip_find(&set->zip, file), why);
}

/* The header that a raw file would have, by its length and what is said of it. */
static bool raw_header(array* a, const array_file* f, error* why)
{
    const int64_t bytes = source_length(a->in), known = f->rows ? f->rows : f->width ? f->width : 1, group = known * f->size;
    if (bytes % group)
        return error_set(why, "%s: %lld bytes are no multiple of %lld: %lld elements of %d byte%s", source_name(a->in), (long long)bytes,
                         (long long)group, (long long)known, f->size, f->size == 1 ? "" : "s");
    const int64_t other = bytes / group;
    a->h = (npy_header){.kind = f->kind, .size = f->size, .num_dims = f->rows || f->width ? 2 : 1, .count = bytes / f->size};
    a->h.shape[0] = f->rows ? f->rows : other;
    a->h.shape[1] = f->rows ? other : f->width;
    return true;
}

static bool open_of_list(array* a, const array_file* f, error* why)
{
    a->in = f->kind ? source_open_bare(f->path, why) : source_open(f->path, why);
    if (a->in && (f->kind ? raw_header(a, f, why) : npy_read_header(&a->h, a->in, why))) return true;
    array_close(a);
    return false;
}

static bool is_missing(const array_set* set, const char* names, error* why)
{
    char there[256];
    arrays_list(set, there, sizeof there);
    return error_set(why, set->file ? "%s: no array %s; given are: %s" : "%s: no array %s.npy; it holds: %s", set->path, names, there);
}

bool array_open(array* a, const array_set* set, const char* names, bool needed, error* why)
{
    *a = (array){.set = set, .names = names};
    for (const char* at = names; *at; at += strspn(at, "|")) {
        char name[64];
        size_t length = strcspn(at, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length;
        if (!arrays_have(set, name)) continue;
        if (set->file) return open_of_list(a, file_of(set, name), why);
        a->in = open_named(set, name, why);
        if (a->in && npy_read_header(&a->h, a->in, why)) return true;
        array_close(a);
        return false;
    }
    return !needed || is_missing(set, names, why);
}

bool array_open_file(array* a, const char* path, error* why)
{
    *a = (array){.in = source_open(path, why), .path = path};
    if (a->in && npy_read_header(&a->h, a->in, why)) return true;
    array_close(a);
    return false;
}

bool arrays_text(const array_set* set, const char* name, char out[NPY_TEXT + 1], error* why)
{
    if (!arrays_have(set, name)) return is_missing(set, name, why);
    source* in = open_named(set, name, why);
    bool good = in && npy_read_text(out, in, why);
    source_close(in);
    return good;
}

void array_close(array* a)
{
    source_close(a->in);
    a->in = NULL;
}

bool array_wrong_shape(const array* a, const char* expected, error* why)
{
    char shape[128] = "";
    for (int i = 0, used = 0; i < a->h.num_dims; i++)
        used +=
            snprintf(shape + used, sizeof shape - (size_t)used, "%s%lld", i ? ", " : "", (long long)a->h.shape[i]);
    return error_set(why, "%s: shape (%s); %s is expected", source_name(a->in), shape, expected);
}

bool array_floats(array* a, float* out, int64_t count, error* why)
{
    a->given += count;
    return npy_read_floats(out, count, &a->h, a->in, why);
}

bool array_doubles(array* a, double* out, int64_t count, error* why)
{
    a->given += count;
    return npy_read_doubles(out, count, &a->h, a->in, why);
}

bool array_ints(array* a, int64_t* out, int64_t count, error* why)
{
    a->given += count;
    return npy_read_ints(out, count, &a->h, a->in, a->given - count, why);
}

bool array_end(array* a, error* why) { return source_at_end(a->in, "the array", why); }

bool array_skip(array* a, int64_t count, error* why)
{
    a->given += count;
    return source_skip(a->in, count * a->h.size, "the array", why);
}

bool array_end_both(const array* first, array* second, error* why)
{
    return array_end(second, why) && source_join(first->in, second->in, why);
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

typedef struct {
    int64_t rows, width, memory;
    progress* bar;
    rows_sink* sink;
    void* context;
} row_job;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Rows [first, first + count) of all columns, by rows. */
static bool gather_rows(array* a, const row_job* job, float* matrix, int64_t first, int64_t count, error* why)
{
    float column[COLUMN_CHUNK];
    for (int64_t j = 0; j < job->width; j++)
        for (int64_t done = 0, some; done < job->rows; done += some) {
            some = smaller(COLUMN_CHUNK, job->rows - done);
            if (!array_floats(a, column, some, why)) return false;
            for (int64_t i = 0; i < some; i++)
                if (done + i >= first && done + i < first + count)
                    matrix[(done + i - first) * job->width + j] = column[i];
            progress_update(job->bar, first * job->width + j * count);
        }
    return array_end(a, why);
}

static bool read_by_columns(const array* a, const row_job* job, error* why)
{
    int64_t most = job->memory / 2 / job->width / (int64_t)sizeof(float), step = most < 1 ? 1 : smaller(most, job->rows);
    float* chunk = memory_new(memory_product((size_t)step, (size_t)job->width, sizeof *chunk), "rows of features", why);
    bool ok = chunk != NULL;
    for (int64_t first = 0, some; first < job->rows && ok; first += some) {
        array again;
        some = smaller(step, job->rows - first);
        ok = (a->path ? array_open_file(&again, a->path, why) : array_open(&again, a->set, a->names, true, why)) &&
             gather_rows(&again, job, chunk, first, some, why) && job->sink(job->context, chunk, some, why);
        array_close(&again);
    }
    memory_free(chunk);
    return ok;
}

static bool read_by_rows(array* a, const row_job* job, error* why)
{
    int64_t step = job->width < (1 << 16) ? (1 << 16) / job->width : 1;
    float* chunk = memory_new(memory_product((size_t)step, (size_t)job->width, sizeof *chunk), "rows of features", why);
    bool ok = chunk != NULL;
    for (int64_t done = 0, some; done < job->rows && ok; done += some) {
        some = smaller(step, job->rows - done);
        ok = array_floats(a, chunk, some * job->width, why) && job->sink(job->context, chunk, some, why);
        progress_update(job->bar, (done + some) * job->width);
    }
    memory_free(chunk);
    return ok && array_end(a, why);
}

bool array_rows(array* a, int64_t memory, progress* bar, rows_sink* sink, void* context, error* why)
{
    row_job job = {a->h.shape[0], array_width(a), memory, bar, sink, context};
    return a->h.fortran ? read_by_columns(a, &job, why) : read_by_rows(a, &job, why);
}
