/* log.h - a file of JSON lines that grows by whole records. */
#ifndef TRAINER_LOG_H
#define TRAINER_LOG_H
#include <stdio.h>

#include "common/error.h"
#include "common/json.h"

typedef struct {
    const char* path; /* the caller's string; NULL: not open */
    int fd;
    FILE* record; /* the one in the making, which `text` holds */
    char* text;
    size_t length;
    error failed; /* the first record that could not be written; none is written after it */
} log_file;

/* Opens path and empties it, or goes on at its end. A part of a record there, which a killed process left, is cut off;
   another last line without its end is ended. Errors, and the file stays as it is: standard output or error goes there
   too, another process has it open as its log. */
bool log_open(log_file* l, const char* path, bool goes_on, error* why);

/* False where a record could not be written: why says which was the first cause. Harmless where l is zeros or closed. */
bool log_close(log_file* l, error* why);

/* Begins a record {"event":event, ..., to which the caller adds members by j. False, with nothing to add to, where the
   log is not open or has failed. */
bool log_begin(log_file* l, json* j, const char* event);

/* Ends the record and writes it by one call, so that no other process sees a part of it. Where there is no room for all
   of it, what was written is taken back. A pipe whose reader has left is no signal. False where it could not be written:
   l->failed says why. */
bool log_end(log_file* l, json* j);
#endif
