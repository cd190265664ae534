#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "common/input.h"
#include "common/memory.h"
#include "crc32.h"

enum { BUFFER_BYTES = 64 << 10, SMALL_BYTES = 32 << 10, NAME_BYTES = 512 };

typedef enum { PLAIN, GZIP, DEFLATE } packing;

struct source {
    char name[NAME_BYTES];
    int fd;
    packing how;
    int64_t offset, begin, end; /* of the packed bytes in the file: next to read, first, one past the last */
    bool declares;              /* a zip member: length and CRC are known beforehand */
    bool verified;              /* length and CRC have been compared */
    bool skipped;               /* crc is of what was read since */
    bool ended;                 /* inflate has come to its end */
    int64_t given, declared;    /* unpacked bytes */
    uint32_t crc, declared_crc;
    int64_t small_at, small_end; /* what is left in small: unpacked bytes for readers of a few at a time */
    unsigned char* small;        /* (SMALL_BYTES) */
#ifdef HAVE_ZLIB
    unsigned char* buffer; /* (BUFFER_BYTES) packed ones */
    z_stream zlib;
    bool zlib_open, between_streams; /* between gzip streams: the end is allowed here and only here */
#endif
};

bool path_in(char path[SOURCE_PATH], const char* folder, const char* name, error* why)
{
    const int length = snprintf(path, SOURCE_PATH, "%s/%s", folder, name);
    return (length > 0 && length < SOURCE_PATH) || error_set(why, "%s: path is too long", folder);
}

/* ---- packed bytes --------------------------------------------------------------------------------------------- */

/* Up to bytes packed bytes from the file; 0 at the end of the part, -1 on failure or when the file has become
   shorter. */
static int64_t read_packed(source* s, void* out, int64_t bytes, error* why)
{
    if (bytes > s->end - s->offset) bytes = s->end - s->offset;
    if (bytes <= 0) return 0;
    for (;;) {
        ssize_t got = pread(s->fd, out, (size_t)bytes, (off_t)s->offset);
        if (got > 0) {
            s->offset += got;
            return got;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            error_set(why, "%s: byte %lld: %s", s->name, (long long)s->offset, strerror(errno));
        else
            error_set(why, "%s: file ends at byte %lld, %lld expected", s->name, (long long)s->offset,
                      (long long)s->end);
        return -1;
    }
}

static int64_t read_plain(source* s, unsigned char* out, int64_t bytes, error* why)
{
    int64_t done = 0;
    while (done < bytes) {
        int64_t got = read_packed(s, out + done, bytes - done, why);
        if (got < 0) return -1;
        if (got == 0) break;
        done += got;
    }
    return done;
}

/* ---- inflate -------------------------------------------------------------------------------------------------- */
#ifdef HAVE_ZLIB
static void* zlib_new(void* opaque, unsigned items, unsigned size)
{
    error ignored = {""}; /* zlib reports Z_MEM_ERROR itself */
    (void)opaque;
    return memory_new(memory_product(items, size, 1), "inflate", &ignored);
}

static void zlib_free(void* opaque, void* memory)
{
    (void)opaque;
    memory_free(memory);
}

static bool start_inflate(source* s, error* why)
{
    int window = s->how == GZIP ? 15 + 16 : -15; /* with gzip's header and trailer, or bare deflate */
    s->zlib.zalloc = zlib_new;
    s->zlib.zfree = zlib_free;
    s->zlib_open = inflateInit2(&s->zlib, window) == Z_OK;
    return s->zlib_open || error_set(why, "%s: out of memory for inflate", s->name);
}

/* At the end of one gzip stream: another may follow. Padding by zeros (tapes, block devices) is the end. */
static bool next_stream(source* s, error* why)
{
    if (s->how == DEFLATE) {
        s->ended = true;
        if (s->zlib.avail_in || s->offset < s->end)
            return error_set(why, "%s: compressed data end before the %lld bytes that the archive declares", s->name,
                             (long long)(s->end - s->begin));
        return true;
    }
    s->between_streams = true;
    return inflateReset(&s->zlib) == Z_OK || error_set(why, "%s: zlib cannot start the next stream", s->name);
}

static bool refill(source* s, error* why)
{
    int64_t got = read_packed(s, s->buffer, BUFFER_BYTES, why);
    if (got < 0) return false;
    if (got == 0) {
        s->ended = true;
        if (!s->between_streams)
            return error_set(why, "%s: compressed data stop at byte %lld, in the middle of a stream (truncated?)",
                             s->name, (long long)s->offset);
    }
    s->zlib.next_in = s->buffer;
    s->zlib.avail_in = (unsigned)got;
    return true;
}

static bool skip_padding(source* s)
{
    while (s->zlib.avail_in && *s->zlib.next_in == 0) {
        s->zlib.next_in++;
        s->zlib.avail_in--;
    }
    return s->zlib.avail_in > 0;
}

static int64_t read_inflated(source* s, unsigned char* out, int64_t bytes, error* why)
{
    int64_t done = 0;
    while (done < bytes && !s->ended) {
        if (s->zlib.avail_in == 0 && !refill(s, why)) return -1;
        if (s->ended || (s->between_streams && !skip_padding(s))) continue;
        s->between_streams = false;
        unsigned room = bytes - done < (1 << 30) ? (unsigned)(bytes - done) : 1u << 30;
        s->zlib.next_out = out + done;
        s->zlib.avail_out = room;
        int code = inflate(&s->zlib, Z_NO_FLUSH);
        done += (int64_t)(room - s->zlib.avail_out);
        if (code == Z_STREAM_END && !next_stream(s, why)) return -1;
        if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
            error_set(why, "%s: compressed data damaged near byte %lld: %s", s->name,
                      (long long)(s->offset - s->zlib.avail_in),
                      code == Z_MEM_ERROR ? "out of memory"
                      : s->zlib.msg       ? s->zlib.msg
                                          : "not a deflate stream");
            return -1;
        }
    }
    return done;
}
#else
static bool start_inflate(source* s, error* why)
{
    return error_set(why,
                     "%s: compressed, and this build has no zlib (install its development files and build again, "
                     "or unpack the file first)",
                     s->name);
}
static int64_t read_inflated(source* s, unsigned char* out, int64_t bytes, error* why)
{
    (void)out;
    (void)bytes;
    return start_inflate(s, why) ? 0 : -1;
}
#endif

/* ---- the stream ----------------------------------------------------------------------------------------------- */

static int64_t read_unpacked(source* s, void* out, int64_t bytes, error* why)
{
    return s->how == PLAIN ? read_plain(s, out, bytes, why) : read_inflated(s, out, bytes, why);
}

static bool check_crc(const source* s, uint32_t crc, error* why)
{
    return crc == s->declared_crc ||
           error_set(why, "%s: CRC-32 is %08x, the archive says %08x: damaged data", s->name, crc, s->declared_crc);
}

/* A member's declared length bounds what is read; what comes after it, or a CRC that differs, is damage. */
static bool check_end(source* s, error* why)
{
    unsigned char extra;
    int64_t more = s->ended ? 0 : read_unpacked(s, &extra, 1, why);
    if (more < 0) return false;
    if (more)
        return error_set(why, "%s: holds more than the %lld bytes that the archive declares", s->name,
                         (long long)s->declared);
    s->verified = true;
    return s->skipped || check_crc(s, s->crc, why);
}

/* The next unpacked bytes, counted and compared with what the archive declares. */
static int64_t read_counted(source* s, void* out, int64_t bytes, error* why)
{
    if (s->declares && bytes > s->declared - s->given) bytes = s->declared - s->given;
    int64_t got = read_unpacked(s, out, bytes, why);
    if (got < 0 || !s->declares) return got;
    if (got < bytes) {
        error_set(why, "%s: holds %lld bytes, the archive declares %lld", s->name, (long long)(s->given + got),
                  (long long)s->declared);
        return -1;
    }
    s->given += got;
    s->crc = crc32_more(s->crc, out, (size_t)got);
    if (s->given == s->declared && !s->verified && !check_end(s, why)) return -1;
    return got;
}

int64_t source_read(source* s, void* out, int64_t bytes, error* why)
{
    int64_t done = 0;
    while (done < bytes) {
        int64_t left = s->small_end - s->small_at, got = bytes - done < left ? bytes - done : left;
        if (got > 0) {
            memcpy((unsigned char*)out + done, s->small + s->small_at, (size_t)got);
            s->small_at += got;
        } else if (bytes - done >= SMALL_BYTES) {
            got = read_counted(s, (unsigned char*)out + done, bytes - done, why);
            if (got <= 0) return got < 0 ? -1 : done;
        } else {
            got = read_counted(s, s->small, SMALL_BYTES, why);
            if (got <= 0) return got < 0 ? -1 : done;
            s->small_at = 0;
            s->small_end = got;
            continue;
        }
        done += got;
    }
    return done;
}

bool source_read_all(source* s, void* out, int64_t bytes, const char* what, error* why)
{
    int64_t got = source_read(s, out, bytes, why);
    if (got < 0) return false;
    return got == bytes ||
           error_set(why, "%s: ends inside %s: %lld bytes of %lld", s->name, what, (long long)got, (long long)bytes);
}

bool source_skip(source* s, int64_t bytes, const char* what, error* why)
{
    unsigned char chunk[SMALL_BYTES];
    const int64_t at = s->offset - (s->small_end - s->small_at); /* of the next byte, where none is packed */
    if (s->how == PLAIN && bytes <= s->end - at) {
        s->offset = at + bytes;
        s->given = s->offset - s->begin;
        s->small_at = s->small_end = 0;
        s->crc = 0;
        s->skipped = true;
        return true;
    }
    for (int64_t done = 0, some; done < bytes; done += some) {
        some = bytes - done < SMALL_BYTES ? bytes - done : SMALL_BYTES;
        if (!source_read_all(s, chunk, some, what, why)) return false;
    }
    return true;
}

/* first may have read ahead, from a byte h that second has read, too, to g: CRC(0, g) ^ CRC(h, g), moved to the end, is CRC(0, h) moved
   there, as CRC(a, c) is CRC(a, b) moved by c - b bytes ^ CRC(b, c). */
bool source_join(const source* first, const source* second, error* why)
{
    if (!second->declares || !second->skipped) return true;
    const uint32_t ahead = crc32_more(0, first->small + first->small_at, (size_t)(first->small_end - first->small_at));
    return check_crc(second, crc32_move(first->crc ^ ahead, first->declared - first->given) ^ second->crc, why);
}

bool source_at_end(source* s, const char* what, error* why)
{
    unsigned char extra;
    int64_t got = source_read(s, &extra, 1, why);
    if (got < 0) return false;
    return got == 0 || error_set(why, "%s: more bytes after %s", s->name, what);
}

/* ---- open and close ------------------------------------------------------------------------------------------- */

/* buffers: whether there will be a stream; peeking at some bytes needs none. */
static source* open_file(const char* path, const char* member, bool buffers, error* why)
{
    source* s = memory_new(sizeof *s + (buffers ? SMALL_BYTES + BUFFER_BYTES : 0), "a reader", why);
    if (!s) return NULL;
    if (buffers) s->small = (unsigned char*)(s + 1);
#ifdef HAVE_ZLIB
    if (buffers) s->buffer = s->small + SMALL_BYTES;
#endif
    if (member)
        snprintf(s->name, sizeof s->name, "%s: member %s", path, member);
    else
        snprintf(s->name, sizeof s->name, "%s", path);
    s->fd = input_open(path, &s->end, why);
    if (s->fd >= 0) return s;
    source_close(s);
    return NULL;
}

source* source_open_bare(const char* path, error* why)
{
    source* s = open_file(path, NULL, true, why);
    if (s) s->declared = s->end;
    return s;
}

source* source_open(const char* path, error* why)
{
    unsigned char magic[2] = {0, 0};
    source* s = source_open_bare(path, why);
    if (!s) return NULL;
    if (s->end >= 2 && read_plain(s, magic, 2, why) == 2 && magic[0] == 0x1F && magic[1] == 0x8B) s->how = GZIP;
    s->offset = 0;
    if (why->text[0] || (s->how == GZIP && !start_inflate(s, why))) {
        source_close(s);
        return NULL;
    }
    return s;
}

source* source_open_part(const source_part* part, error* why)
{
    source* s = open_file(part->path, part->member, true, why);
    if (!s) return NULL;
    if (part->offset < 0 || part->packed_bytes < 0 || part->offset > s->end ||
        part->packed_bytes > s->end - part->offset) {
        error_set(why, "%s: file is shorter than its members", s->name);
        source_close(s);
        return NULL;
    }
    s->how = part->method == SOURCE_DEFLATED ? DEFLATE : PLAIN;
    s->begin = s->offset = part->offset;
    s->end = part->offset + part->packed_bytes;
    s->declares = true;
    s->declared = part->bytes;
    s->declared_crc = part->crc;
    if (s->how == DEFLATE && !start_inflate(s, why)) {
        source_close(s);
        return NULL;
    }
    return s;
}

int64_t source_file_bytes(const char* path, error* why)
{
    source* s = open_file(path, NULL, false, why);
    int64_t bytes = s ? s->end : -1;
    source_close(s);
    return bytes;
}

bool source_peek(const char* path, int64_t at, void* out, int64_t bytes, const char* what, error* why)
{
    source* s = open_file(path, NULL, false, why);
    if (!s) return false;
    s->offset = at;
    int64_t got = read_plain(s, out, bytes, why);
    if (got >= 0 && got < bytes)
        error_set(why, "%s: file ends inside %s, at byte %lld", path, what, (long long)s->end);
    source_close(s);
    return got == bytes;
}

const char* source_name(const source* s) { return s->name; }
int64_t source_length(const source* s) { return s->how == GZIP ? -1 : s->declared; }
int64_t source_taken(const source* s) { return s->offset - s->begin; }
int64_t source_total(const source* s) { return s->end - s->begin; }

void source_close(source* s)
{
    if (!s) return;
#ifdef HAVE_ZLIB
    if (s->zlib_open) inflateEnd(&s->zlib);
#endif
    if (s->fd >= 0) close(s->fd);
    memory_free(s);
}
