#include "datasets/zip_writer.h"

#include <string.h>

#include "common/memory.h"
#include "datasets/crc32.h"

/* Layout: PKWARE's APPNOTE.TXT 6.3.10, as in zip.c. */
enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, EXTRA_MAX = 28, ENTRY_MAX = ENTRY_BYTES + EXTRA_MAX };
enum { VERSION = 20, VERSION64 = 45, FIRST_DAY = 1 << 5 | 1 /* 1980-01-01, the earliest */ };

void zip_writer_begin(zip_writer* z, FILE* to, error* why)
{
    memset(z, 0, sizeof *z);
    z->to = to;
    z->far = UINT32_MAX;
    z->why = why;
}

static unsigned char* put(unsigned char* p, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) *p++ = (unsigned char)(value >> 8 * i);
    return p;
}

static void write_bytes(zip_writer* z, const void* from, size_t bytes)
{
    if (bytes) z->at += fwrite(from, 1, bytes, z->to);
}

/* What local header and entry have in common, from the version needed to the length of the name. */
static unsigned char* put_fields(unsigned char* p, const zip_writer* z, uint32_t crc, uint64_t bytes, bool wide, size_t name, size_t extra)
{
    const uint64_t size = bytes >= z->far ? UINT32_MAX : bytes;
    p = put(p, wide ? VERSION64 : VERSION, 2);
    p = put(p, 0, 2); /* flags */
    p = put(p, 0, 2); /* stored */
    p = put(p, 0, 2); /* midnight */
    p = put(p, FIRST_DAY, 2);
    p = put(p, crc, 4);
    p = put(p, size, 4);
    p = put(p, size, 4);
    p = put(p, name, 2);
    return put(p, extra, 2);
}

/* zip64's extra field: the numbers that are all ones elsewhere. Returns its bytes, 0 where there are none. */
static size_t put_extra(unsigned char* extra, const zip_writer* z, uint64_t bytes, uint64_t header)
{
    unsigned char* p = extra + 4;
    if (bytes >= z->far) p = put(put(p, bytes, 8), bytes, 8);
    if (header >= z->far) p = put(p, header, 8);
    const size_t length = (size_t)(p - extra);
    if (length == 4) return 0;
    put(put(extra, 1, 2), length - 4, 2);
    return length;
}

static bool put_entry(zip_writer* z, const char* name, uint32_t crc, uint64_t bytes, uint64_t header)
{
    unsigned char extra[EXTRA_MAX], *p;
    const size_t length = strlen(name), more = put_extra(extra, z, bytes, header);
    if (z->used + ENTRY_MAX + length > z->room) {
        const size_t room = 2 * z->room + ENTRY_MAX + length;
        unsigned char* larger = memory_resize(z->directory, z->room, room, "the archive's directory", z->why);
        if (!larger) return false;
        z->directory = larger;
        z->room = room;
    }
    p = put(z->directory + z->used, 0x02014B50, 4);
    p = put(p, VERSION64, 2); /* made by */
    p = put_fields(p, z, crc, bytes, more > 0, length, more);
    p = put(put(p, 0, 8), 0, 2); /* comment, disk, attributes */
    p = put(p, header >= z->far ? UINT32_MAX : header, 4);
    memcpy(p, name, length);
    memcpy(p + length, extra, more);
    z->used += ENTRY_BYTES + length + more;
    z->members++;
    return true;
}

bool zip_writer_add(zip_writer* z, const char* name, const void* head, size_t head_bytes, const void* data, size_t bytes)
{
    unsigned char local[LOCAL_BYTES], extra[EXTRA_MAX];
    const uint32_t crc = crc32_more(crc32_more(0, head, head_bytes), data, bytes);
    const uint64_t all = (uint64_t)head_bytes + bytes;
    const size_t more = put_extra(extra, z, all, 0);
    if (!put_entry(z, name, crc, all, z->at)) return false;
    put_fields(put(local, 0x04034B50, 4), z, crc, all, more > 0, strlen(name), more);
    write_bytes(z, local, LOCAL_BYTES);
    write_bytes(z, name, strlen(name));
    write_bytes(z, extra, more);
    write_bytes(z, head, head_bytes);
    write_bytes(z, data, bytes);
    return true;
}

/* zip64's end record and its locator. */
static void write_end64(zip_writer* z, uint64_t directory)
{
    unsigned char end[END64_BYTES + LOCATOR_BYTES], *p;
    p = put(put(end, 0x06064B50, 4), END64_BYTES - 12, 8);
    p = put(put(p, VERSION64, 2), VERSION64, 2);
    p = put(p, 0, 8); /* disks */
    p = put(put(p, z->members, 8), z->members, 8);
    p = put(put(p, z->used, 8), directory, 8);
    p = put(put(p, 0x07064B50, 4), 0, 4);
    p = put(put(p, z->at, 8), 1, 4);
    write_bytes(z, end, sizeof end);
}

void zip_writer_end(zip_writer* z)
{
    unsigned char end[END_BYTES], *p;
    const uint64_t directory = z->at;
    const bool many = z->members >= UINT16_MAX, wide = many || z->used >= z->far || directory >= z->far;
    write_bytes(z, z->directory, z->used);
    if (wide) write_end64(z, directory);
    p = put(put(end, 0x06054B50, 4), 0, 4);
    p = put(put(p, many ? UINT16_MAX : z->members, 2), many ? UINT16_MAX : z->members, 2);
    p = put(p, z->used >= z->far ? UINT32_MAX : z->used, 4);
    p = put(p, directory >= z->far ? UINT32_MAX : directory, 4);
    put(p, 0, 2);
    write_bytes(z, end, END_BYTES);
    memory_free(z->directory);
    z->directory = NULL;
}
