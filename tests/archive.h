/* archive.h - makes .npy arrays and zip archives in memory, as NumPy and zip do, for tests and fuzz seeds. */
#ifndef ARCHIVE_H
#define ARCHIVE_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "datasets/crc32.h"

typedef struct {
    uint8_t* data;
    size_t size, room;
} bytes;

static inline void put(bytes* b, const void* data, size_t size)
{
    if (b->size + size > b->room) {
        b->room = 2 * (b->size + size) + 256;
        b->data = realloc(b->data, b->room);
    }
    if (size) memcpy(b->data + b->size, data, size);
    b->size += size;
}
static inline void put_number(bytes* b, uint64_t n, int width)
{
    for (int i = 0; i < width; i++, n >>= 8) put(b, &(uint8_t){(uint8_t)n}, 1);
}
/* A file's bytes, behind those that are there; there are none where it cannot be read. */
static inline void put_file_bytes(bytes* b, const char* path)
{
    char chunk[8192];
    FILE* in = fopen(path, "rb");
    for (size_t got; in && (got = fread(chunk, 1, sizeof chunk, in)) > 0;) put(b, chunk, got);
    if (in) fclose(in);
}
static inline void drop(bytes* b)
{
    free(b->data);
    *b = (bytes){0};
}

/* ---- .npy ----------------------------------------------------------------------------------------------------- */

/* A header of version 1, 2 or 3 with this dictionary, padded to 64 bytes as NumPy does. */
static inline void npy_header_of(bytes* b, int version, const char* dictionary)
{
    size_t width = version == 1 ? 2 : 4, length = strlen(dictionary), total = (8 + width + length + 1 + 63) / 64 * 64;
    put(b, "\x93NUMPY", 6);
    put_number(b, (uint64_t)version, 2);
    put_number(b, total - 8 - width, (int)width);
    put(b, dictionary, length);
    for (size_t i = 8 + width + length; i < total - 1; i++) put(b, " ", 1);
    put(b, "\n", 1);
}

/* An array by rows: type "<f4", shape "3, 2" (a tuple of one: "3,"). */
static inline bytes npy_of(const char* type, const char* shape, bool fortran, const void* data, size_t size)
{
    char dictionary[256];
    bytes b = {0};
    snprintf(dictionary, sizeof dictionary, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", type,
             fortran ? "True" : "False", shape);
    npy_header_of(&b, 1, dictionary);
    put(&b, data, size);
    return b;
}

/* ---- zip ------------------------------------------------------------------------------------------------------ */

typedef struct {
    bytes file, directory;
    uint32_t members;
    bool deflated, zip64; /* how further members are written; zip64: sizes in extra fields, and zip64's end records */
    bool far, stamped;    /* zip64: the directory has offsets in extra fields, too; a time lies before them */
    size_t hole, hole_at; /* zeros that are not held, and where in file they belong */
} zip_maker;

static inline bytes deflate_bytes(const void* data, size_t size, int window)
{
    bytes out = {0};
#ifdef HAVE_ZLIB
    z_stream z = {0};
    uint8_t chunk[4096];
    int code;
    deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
    z.next_in = (Bytef*)(uintptr_t)data;
    z.avail_in = (unsigned)size;
    do {
        z.next_out = chunk;
        z.avail_out = sizeof chunk;
        code = deflate(&z, Z_FINISH);
        put(&out, chunk, sizeof chunk - z.avail_out);
    } while (code != Z_STREAM_END);
    deflateEnd(&z);
#else
    (void)data;
    (void)size;
    (void)window;
#endif
    return out;
}

static inline bytes gzip_bytes(const void* data, size_t size) { return deflate_bytes(data, size, 15 + 16); }

/* The fields that a local header and a directory entry share. */
static inline void zip_fields(bytes* b, const zip_maker* z, uint32_t crc, size_t packed, size_t size, size_t name,
                              size_t extra)
{
    put_number(b, 45, 2);
    put_number(b, 0, 2);
    put_number(b, z->deflated ? 8 : 0, 2);
    put_number(b, 0, 4);
    put_number(b, crc, 4);
    put_number(b, z->zip64 ? 0xFFFFFFFFu : packed, 4);
    put_number(b, z->zip64 ? 0xFFFFFFFFu : size, 4);
    put_number(b, name, 2);
    put_number(b, extra, 2);
}

/* header: where the local header is, or -1 in that header itself. */
static inline bytes zip_extra(const zip_maker* z, size_t packed, size_t size, int64_t header)
{
    bool far = z->far && header >= 0;
    bytes b = {0};
    if (z->stamped) { /* the time of change, as Info-ZIP writes it */
        put_number(&b, 0x5455, 2);
        put_number(&b, 5, 2);
        put_number(&b, 1, 1);
        put_number(&b, 1, 4);
    }
    if (!z->zip64) return b;
    put_number(&b, 1, 2);
    put_number(&b, far ? 24 : 16, 2);
    put_number(&b, size, 8);
    put_number(&b, packed, 8);
    if (far) put_number(&b, (uint64_t)header, 8);
    return b;
}

/* A member of so many bytes, of which these are held. */
static inline void zip_add_held(zip_maker* z, const char* name, bytes held, size_t packed, size_t size, uint32_t crc)
{
    const size_t header = z->file.size + z->hole, length = strlen(name);
    bytes local = zip_extra(z, packed, size, -1), entry = zip_extra(z, packed, size, (int64_t)header);
    put_number(&z->file, 0x04034B50, 4);
    zip_fields(&z->file, z, crc, packed, size, length, local.size);
    put(&z->file, name, length);
    put(&z->file, local.data, local.size);
    put(&z->file, held.data, held.size);
    put_number(&z->directory, 0x02014B50, 4);
    put_number(&z->directory, 45, 2);
    zip_fields(&z->directory, z, crc, packed, size, length, entry.size);
    put_number(&z->directory, 0, 10); /* comment, disk, attributes */
    put_number(&z->directory, z->zip64 && z->far ? 0xFFFFFFFFu : header, 4);
    put(&z->directory, name, length);
    put(&z->directory, entry.data, entry.size);
    z->members++;
    drop(&local);
    drop(&entry);
    drop(&held);
}

/* Packed already. */
static inline void zip_add_packed(zip_maker* z, const char* name, bytes packed, const void* data, size_t size)
{
    zip_add_held(z, name, packed, packed.size, size, crc32_more(0, data, size));
}

/* A stored member of these bytes and so many zeros, a hole in the file: one an archive, of zip64. CRC(zeros of a, then of b) is that of a
   moved by b ^ that of b. */
static inline void zip_add_hole(zip_maker* z, const char* name, bytes head, size_t zeros)
{
    uint32_t crc = crc32_more(0, head.data, head.size), some = crc32_more(0, "", 1);
    for (size_t bit = 1; bit && bit <= zeros; bit <<= 1) {
        if (zeros & bit) crc = crc32_move(crc, (int64_t)bit) ^ some;
        some ^= crc32_move(some, (int64_t)bit);
    }
    const size_t size = head.size + zeros;
    zip_add_held(z, name, head, size, size, crc);
    z->hole = zeros;
    z->hole_at = z->file.size;
}

static inline void zip_add(zip_maker* z, const char* name, const void* data, size_t size)
{
    bytes packed = z->deflated ? deflate_bytes(data, size, -15) : (bytes){0};
    if (!z->deflated) put(&packed, data, size);
    zip_add_packed(z, name, packed, data, size);
}

static inline void zip_add_npy(zip_maker* z, const char* name, bytes npy)
{
    zip_add(z, name, npy.data, npy.size);
    drop(&npy);
}

/* The archive's bytes, the caller's to drop. */
static inline bytes zip_end(zip_maker* z)
{
    bytes b = z->file;
    size_t at = b.size + z->hole, size = z->directory.size;
    put(&b, z->directory.data, size);
    if (z->zip64) {
        size_t end = b.size + z->hole;
        put_number(&b, 0x06064B50, 4);
        put_number(&b, 44, 8);
        put_number(&b, 45, 2);
        put_number(&b, 45, 2);
        put_number(&b, 0, 8);
        put_number(&b, z->members, 8);
        put_number(&b, z->members, 8);
        put_number(&b, size, 8);
        put_number(&b, at, 8);
        put_number(&b, 0x07064B50, 4);
        put_number(&b, 0, 4);
        put_number(&b, end, 8);
        put_number(&b, 1, 4);
    }
    put_number(&b, 0x06054B50, 4);
    put_number(&b, 0, 4);
    put_number(&b, z->zip64 ? 0xFFFF : z->members, 2);
    put_number(&b, z->zip64 ? 0xFFFF : z->members, 2);
    put_number(&b, z->zip64 ? 0xFFFFFFFFu : size, 4);
    put_number(&b, z->zip64 ? 0xFFFFFFFFu : at, 4);
    put_number(&b, 0, 2);
    drop(&z->directory);
    z->file = (bytes){0};
    return b;
}

/* Writes the archive with its hole, which takes no disk. */
static inline void zip_save_holes(zip_maker* z, const char* path)
{
    bytes b = zip_end(z);
    FILE* out = fopen(path, "wb");
    if (!out || fwrite(b.data, 1, z->hole_at, out) != z->hole_at || fseeko(out, (off_t)z->hole, SEEK_CUR) != 0 ||
        fwrite(b.data + z->hole_at, 1, b.size - z->hole_at, out) != b.size - z->hole_at || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
    drop(&b);
}
#endif
