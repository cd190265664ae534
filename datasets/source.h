/* source.h - a stream of bytes that a converter reads: a file, a gzip file, or a member of a zip archive (zip.h).
   Every read is bounded by a fixed buffer, so that a file of any size is read in less than 128 KiB of memory. */
#ifndef DATASETS_SOURCE_H
#define DATASETS_SOURCE_H
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

typedef struct source source;

/* "FOLDER/NAME" into path; false, and an error, where that is too long. */
enum { SOURCE_PATH = 4096 };
bool path_in(char path[SOURCE_PATH], const char* folder, const char* name, error* why);

/* Opens a file; one that begins with the two bytes of gzip is inflated (several gzip streams one after the other are
   one stream). NULL on failure. Without zlib a gzip file is refused with a message that names zlib. */
source* source_open(const char* path, error* why);
source* source_open_bare(const char* path, error* why); /* as it is: of raw numbers any two bytes may be the first */

typedef enum { SOURCE_STORED, SOURCE_DEFLATED } source_method;

typedef struct {        /* bytes inside a file, as zip.c describes a member */
    const char* path;   /* the file */
    const char* member; /* its name in messages */
    int64_t offset, packed_bytes, bytes;
    source_method method;
    uint32_t crc; /* CRC-32 of the unpacked bytes, compared when the last one is read */
} source_part;
source* source_open_part(const source_part* part, error* why);

/* Reads min(bytes, what is left) bytes; fewer than asked for only at the end. -1 on failure (truncated or damaged
   data, a CRC that differs, more or fewer bytes than the archive declares). */
int64_t source_read(source* s, void* out, int64_t bytes, error* why);

/* Reads exactly bytes; what names them in the message when the stream is shorter. */
bool source_read_all(source* s, void* out, int64_t bytes, const char* what, error* why);

/* Leaves out the next bytes. Those of a file or a stored member are not read: its CRC-32 is then compared by source_join alone.
   Inflated ones are, by inflating. what as above. */
bool source_skip(source* s, int64_t bytes, const char* what, error* why);

/* Two streams of one member: first has read from its begin to where second skipped to, second all the rest. Compares the CRC-32 of both
   together, where second has not compared it itself. */
bool source_join(const source* first, const source* second, error* why);

/* True when nothing is left; reading on to find out checks the CRC. what names the reader's last item in
   the message. */
bool source_at_end(source* s, const char* what, error* why);

/* Bytes as they lie in the file, packed or not: its length (-1 on failure), and those at [at, at + bytes). */
int64_t source_file_bytes(const char* path, error* why);
bool source_peek(const char* path, int64_t at, void* out, int64_t bytes, const char* what, error* why);

const char* source_name(const source* s); /* "F" or "F: member M": begins every message */
int64_t source_length(const source* s);   /* unpacked bytes where known before reading, else -1 (gzip) */
int64_t source_taken(const source* s);    /* packed bytes read so far, of source_total: for a progress bar */
int64_t source_total(const source* s);
void source_close(source* s); /* NULL is fine */
#endif
