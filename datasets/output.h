/* output.h - a file or a folder in a format that other programs read: text and NumPy's .npy. All or nothing: it is written under
   a temporary name and gets its own when it is complete and on the disk. What is no file, a pipe or a device, is written into.

       if (output_open(&o, "f.npy", OUTPUT_FILE, why))
           good = output_finish(&o, output_npy(&o, NULL, "<f4", 2, rows, columns) && put(o.stream) && output_end(&o)); */
#ifndef DATASETS_OUTPUT_H
#define DATASETS_OUTPUT_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"
#include "common/progress.h"

/* To output_open a stream is what need not be a file; a file that is to be nothing else is OUTPUT_FILE. */
typedef enum { OUTPUT_FILE, OUTPUT_FOLDER, OUTPUT_STREAM } output_kind;

typedef struct {
    const char* path; /* as the user names it */
    output_kind kind;     /* as it is */
    char target[4096];    /* of a file or a folder: path through links */
    char temporary[4096]; /* what it is called until it is complete */
    int fd;               /* of a file, with its lock, or of a stream; else -1 */
    char file[4400];      /* the one being written, as errors call it */
    FILE* stream;
    const char* written[20]; /* files in the folder so far */
    int num_written;
    progress bar; /* of the rows of the file being written: progress_update is the caller's */
    error* why;
} output;

/* A folder must be new or empty. What replaces a file gets its permissions. why: of all calls. False on failure: nothing is left. */
bool output_open(output* o, const char* path, output_kind kind, error* why);

/* Begins a file: name within the folder, or NULL for the one file that the output is. rows: of its bar. */
bool output_begin(output* o, const char* name, int64_t rows);

/* The same of a .npy array of one or two dimensions, with its header; type is NumPy's: "<f4". Its elements come next. */
bool output_npy(output* o, const char* name, const char* type, int32_t num_dims, int64_t rows, int64_t columns);

/* The shortest text that reads back as the same float. */
void output_float(FILE* out, float value);

/* Fails with errno, and with what was tried: "cannot write". False. */
bool output_fail(output* o, const char* what);

/* Ends a file: false where something of it could not be written. */
bool output_end(output* o);

/* Gives the output its name where all is good, else removes what there is of it. False where it has not got its name. */
bool output_finish(output* o, bool good);
#endif
