/* npy.h - NumPy's .npy arrays, read as a stream: versions 1, 2 and 3, either byte order, bool, integers, floats of 2,
   4 and 8 bytes. The header is not trusted: its shape must agree with the number of bytes that follow. */
#ifndef DATASETS_NPY_H
#define DATASETS_NPY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

enum { NPY_MAX_DIMS = 4 };

typedef struct {
    char kind;    /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float */
    int size;     /* bytes an element */
    bool swapped; /* big-endian */
    bool fortran; /* columns first; false where both orders are the same (fewer than two dimensions) */
    int num_dims; /* 0: a single number */
    int64_t shape[NPY_MAX_DIMS];
    int64_t count; /* elements */
} npy_header;

/* Reads the header; count is known to fit the stream where the stream's length is known, and in 2^62 bytes else. */
bool npy_read_header(npy_header* h, source* s, error* why);

/* Reads the next count elements, in the order they lie in the file, as floats or doubles (rounded to nearest) or integers.
   An integer of a float that has a fraction, does not fit or is NaN is an error. first: index of the first of them,
   for messages. */
bool npy_read_floats(float* out, int64_t count, const npy_header* h, source* s, error* why);
bool npy_read_doubles(double* out, int64_t count, const npy_header* h, source* s, error* why);
bool npy_read_ints(int64_t* out, int64_t count, const npy_header* h, source* s, int64_t first, error* why);

/* A single text of at most NPY_TEXT characters, b'csr' or 'csr', read whole; what is not ASCII becomes '?'. */
enum { NPY_TEXT = 8 };
bool npy_read_text(char out[NPY_TEXT + 1], source* s, error* why);

/* The header of an array as it is written, of version 1.0; type is NumPy's: "<f4". Returns its bytes, a multiple of 64, behind
   which the elements follow. */
enum { NPY_WRITTEN_MAX = 256 };
size_t npy_write_header(char header[NPY_WRITTEN_MAX], const char* type, int32_t num_dims, const int64_t* shape);
#endif
