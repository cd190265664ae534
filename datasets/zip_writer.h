/* zip_writer.h - writes a zip archive of stored members (.npz) as a stream. The same members make the same bytes: they bear no date.
   zip64's records stand only where a size, an offset or a count needs them, as simple readers know none.

       zip_writer_begin(&z, stream, why);
       bool good = zip_writer_add(&z, "w.npy", header, header_bytes, data, bytes);
       zip_writer_end(&z); */
#ifndef DATASETS_ZIP_WRITER_H
#define DATASETS_ZIP_WRITER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

typedef struct {
    FILE* to;
    uint64_t at;   /* bytes written */
    uint64_t far;  /* sizes and offsets from here on are zip64's: 2^32 - 1; a test may set a smaller one */
    uint64_t members;
    unsigned char* directory;
    size_t used, room; /* of it */
    error* why;
} zip_writer;

void zip_writer_begin(zip_writer* z, FILE* to, error* why);

/* A member of `head` and `data`; its name is ASCII, of at most 65,535 bytes. False where no memory is left. What the stream did not
   take is for its owner to find (ferror). */
bool zip_writer_add(zip_writer* z, const char* name, const void* head, size_t head_bytes, const void* data, size_t bytes);

void zip_writer_end(zip_writer* z); /* writes the directory, and frees it */
#endif
