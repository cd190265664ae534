/* arrays.h - named arrays, in a folder of .npy, in a zip archive (.npz) or in files of a list: one way to read all. */
#ifndef DATASETS_ARRAYS_H
#define DATASETS_ARRAYS_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/progress.h"
#include "datasets/npy.h"
#include "datasets/zip.h"

typedef struct { /* a file that is an array: .npy, or elements without a header */
    char name[16]; /* as readers ask for it */
    char path[SOURCE_PATH];
    char kind; /* of raw elements, as npy_header has it; 0: .npy */
    int size;
    int64_t rows, width; /* of raw elements: one of the two is given, and the length says the other; both 0: a vector */
} array_file;

typedef struct {
    const char* path;
    bool folder;
    const array_file* file; /* (num_files) where it is a list; else NULL */
    int num_files;
    zip_archive zip; /* where it is neither */
} array_set;

bool arrays_open(array_set* set, const char* path, error* why);
array_set arrays_of(const char* path, const array_file* file, int num_files); /* the list stays the caller's; path is for messages */
void arrays_close(array_set* set);
bool arrays_have(const array_set* set, const char* name);     /* name without .npy */
void arrays_list(const array_set* set, char* out, int bytes); /* "a, b, c" for a message; cut where out is full */

typedef struct {
    source* in;
    npy_header h;
    int64_t given;        /* elements read */
    const array_set* set; /* and names, or path: what it was opened by, to be opened again */
    const char *names, *path;
} array;

/* Opens the first of the names "a|b|c" that is there; none: in = NULL, which is an error only where needed. */
bool array_open(array* a, const array_set* set, const char* names, bool needed, error* why);
bool array_open_file(array* a, const char* path, error* why); /* a file of its own; may be gzipped */
void array_close(array* a); /* harmless without a successful open */

/* The text that the array of that name holds, which is needed: npy_read_text. */
bool arrays_text(const array_set* set, const char* name, char out[NPY_TEXT + 1], error* why);

/* Sets "FILE: has shape (a, b), EXPECTED is expected". */
bool array_wrong_shape(const array* a, const char* expected, error* why);

/* The next count elements in the order of the file. */
bool array_floats(array* a, float* out, int64_t count, error* why);
bool array_doubles(array* a, double* out, int64_t count, error* why);
bool array_ints(array* a, int64_t* out, int64_t count, error* why);
bool array_end(array* a, error* why); /* nothing may follow, and a zip member's CRC must agree */
bool array_skip(array* a, int64_t count, error* why);

/* array_end of second, which skipped what first has read. */
bool array_end_both(const array* first, array* second, error* why);

/* All of an array (rows, width), or (rows), from its first element to its last, row after row to sink, some at a time. By
   columns: as many rows as half the memory takes are gathered, then the array is read again for the next ones. */
typedef bool rows_sink(void* context, const float* rows, int64_t count, error* why);
bool array_rows(array* a, int64_t memory, progress* bar, rows_sink* sink, void* context, error* why);
static inline bool array_halves(const array* a) { return a->h.kind == 'f' && a->h.size == 2; }
static inline int64_t array_width(const array* a) { return a->h.num_dims == 2 ? a->h.shape[1] : 1; }
#endif
