#include "zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* Layout: PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.7 (local header), 4.3.12 (directory), 4.3.14 - 4.3.16
   (its end). */
enum {
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    END_BYTES = 22,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    COMMENT_MAX = 65535,
    DIRECTORY_MAX = 64 << 20,
    DEFLATE_RATIO = 1032
};
#define LOCAL_MAGIC 0x04034B50u
#define ENTRY_MAGIC 0x02014B50u
#define END_MAGIC 0x06054B50u
#define END64_MAGIC 0x06064B50u
#define LOCATOR_MAGIC 0x07064B50u

static uint16_t get16(const unsigned char* p) { return (uint16_t)(p[0] | p[1] << 8); }
static uint32_t get32(const unsigned char* p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }
static uint64_t get64(const unsigned char* p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

/* ---- the end of the directory --------------------------------------------------------------------------------- */

typedef struct {
    uint64_t entries, bytes, offset;
    int64_t end;
} directory; /* end: one past its last byte at most */

/* Takes zip64's numbers in place of the end record's. Where the number of members alone is all ones, the archive may just
   have 65,535: Python writes them without zip64's records, so that a locator must tell. */
static bool read_end64(const char* path, directory* d, error* why)
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    const int64_t end = d->end;
    const bool may_be_plain = d->bytes != 0xFFFFFFFFu && d->offset != 0xFFFFFFFFu;
    if (end < LOCATOR_BYTES + END64_BYTES)
        return may_be_plain || error_set(why, "%s: no room for zip64's records", path);
    if (!source_peek(path, end - LOCATOR_BYTES, locator, LOCATOR_BYTES, "zip64's locator", why)) return false;
    if (may_be_plain && get32(locator) != LOCATOR_MAGIC) return true;
    uint64_t at = get64(locator + 8);
    if (get32(locator) != LOCATOR_MAGIC || at > (uint64_t)(end - LOCATOR_BYTES - END64_BYTES))
        return error_set(why, "%s: byte %lld: damaged zip64 locator", path, (long long)(end - LOCATOR_BYTES));
    if (!source_peek(path, (int64_t)at, record, END64_BYTES, "zip64's end record", why)) return false;
    if (get32(record) != END64_MAGIC)
        return error_set(why, "%s: byte %llu: no zip64 end record", path, (unsigned long long)at);
    d->entries = get64(record + 32);
    d->bytes = get64(record + 40);
    d->offset = get64(record + 48);
    d->end = (int64_t)at;
    return true;
}

/* Finds the end record: the last one whose comment reaches exactly to the end of the file. */
static bool find_end(const char* path, int64_t length, directory* d, error* why)
{
    int64_t window = length < END_BYTES + COMMENT_MAX ? length : END_BYTES + COMMENT_MAX;
    unsigned char* tail = memory_new((size_t)window, "the end of the archive", why);
    if (!tail) return false;
    bool found = false;
    if (source_peek(path, length - window, tail, window, "the end of the archive", why)) {
        for (int64_t i = window - END_BYTES; i >= 0 && !found; i--) {
            const unsigned char* p = tail + i;
            found = get32(p) == END_MAGIC && get16(p + 20) == window - END_BYTES - i;
            if (!found) continue;
            *d = (directory){get16(p + 10), get32(p + 12), get32(p + 16), length - window + i};
        }
        if (!found) error_set(why, "%s: no zip archive, or a truncated one: its directory is missing", path);
    }
    memory_free(tail);
    if (found && (d->entries == 0xFFFF || d->bytes == 0xFFFFFFFFu || d->offset == 0xFFFFFFFFu))
        found = read_end64(path, d, why);
    return found;
}

/* ---- the directory -------------------------------------------------------------------------------------------- */

/* Takes what the 32-bit fields leave to the zip64 extra field (4.5.3): those of its values whose field is
   all ones. */
static bool read_extra64(zip_member* m, const unsigned char* extra, int64_t bytes, const char* path, error* why)
{
    int64_t* const value[3] = {&m->bytes, &m->packed_bytes, &m->header};
    for (int64_t at = 0; at + 4 <= bytes;) {
        int64_t size = get16(extra + at + 2), used = 0;
        if (size > bytes - at - 4) break;
        for (int i = 0; i < 3 && get16(extra + at) == 1; i++) {
            if (*value[i] != 0xFFFFFFFF || used + 8 > size) continue;
            uint64_t wide = get64(extra + at + 4 + used);
            used += 8;
            if (wide > INT64_MAX / 2)
                return error_set(why, "%s: member %s: a size or offset of %llu bytes", path, m->name,
                                 (unsigned long long)wide);
            *value[i] = (int64_t)wide;
        }
        at += 4 + size;
    }
    return true;
}

static bool check_sizes(const zip_archive* z, const zip_member* m, error* why)
{
    if (m->header > z->directory - LOCAL_BYTES || m->packed_bytes > z->directory - LOCAL_BYTES - m->header)
        return error_set(why, "%s: member %s: %lld bytes at %lld reach past the directory at %lld", z->path, m->name,
                         (long long)m->packed_bytes, (long long)m->header, (long long)z->directory);
    if (m->method == 0 && m->bytes != m->packed_bytes)
        return error_set(why, "%s: member %s: stored, but %lld bytes are said to be %lld", z->path, m->name,
                         (long long)m->packed_bytes, (long long)m->bytes);
    if (m->bytes / DEFLATE_RATIO > m->packed_bytes)
        return error_set(why, "%s: member %s: %lld bytes cannot unpack to %lld", z->path, m->name,
                         (long long)m->packed_bytes, (long long)m->bytes);
    return true;
}

/* Reads entry number i at p, left bytes before the directory's end; gives its length, 0 on failure. The name moves to
   names, which has room for it and its final zero. */
static int64_t read_entry(zip_archive* z, int64_t i, const unsigned char* p, int64_t left, char* names, error* why)
{
    zip_member* m = &z->member[i];
    int64_t name = 0, extra = 0, comment = 0;
    if (left >= ENTRY_BYTES) {
        name = get16(p + 28);
        extra = get16(p + 30);
        comment = get16(p + 32);
    }
    if (left < ENTRY_BYTES || get32(p) != ENTRY_MAGIC || name + extra + comment > left - ENTRY_BYTES) {
        error_set(why, "%s: entry %lld of the directory is damaged", z->path, (long long)i);
        return 0;
    }
    memcpy(names, p + ENTRY_BYTES, (size_t)name);
    names[name] = 0;
    *m = (zip_member){names, get32(p + 42), get32(p + 20), get32(p + 24), get32(p + 16), get16(p + 10), get16(p + 8)};
    bool ok = read_extra64(m, p + ENTRY_BYTES + name, extra, z->path, why) && check_sizes(z, m, why);
    return ok ? ENTRY_BYTES + name + extra + comment : 0;
}

static int by_header(const void* a, const void* b)
{
    int64_t x = (*(const zip_member*const*)a)->header, y = (*(const zip_member*const*)b)->header;
    return (x > y) - (x < y);
}

/* Members that share bytes are how a small archive unpacks to petabytes (D. Fifield, 2019); none does so
   by accident. */
static bool check_overlaps(const zip_archive* z, error* why)
{
    const zip_member** order =
        memory_new(memory_product((size_t)z->num_members, sizeof *order, 1), "the archive's directory", why);
    if (!order) return false;
    for (int64_t i = 0; i < z->num_members; i++) order[i] = &z->member[i];
    qsort(order, (size_t)z->num_members, sizeof *order, by_header);
    bool ok = true;
    for (int64_t i = 1; i < z->num_members && ok; i++)
        if (order[i - 1]->header + LOCAL_BYTES + order[i - 1]->packed_bytes > order[i]->header)
            ok = error_set(why, "%s: members %s and %s overlap", z->path, order[i - 1]->name, order[i]->name);
    memory_free(order);
    return ok;
}

static bool read_directory(zip_archive* z, const directory* d, error* why)
{
    if (d->offset > (uint64_t)d->end || d->bytes > (uint64_t)d->end - d->offset || d->bytes > DIRECTORY_MAX ||
        d->entries > d->bytes / ENTRY_BYTES)
        return error_set(why, "%s: a directory of %llu members in %llu bytes at %llu, in a file that ends it at %lld",
                         z->path, (unsigned long long)d->entries, (unsigned long long)d->bytes,
                         (unsigned long long)d->offset, (long long)d->end);
    z->num_members = (int64_t)d->entries;
    z->directory = (int64_t)d->offset;
    unsigned char* raw = memory_new((size_t)d->bytes, "the archive's directory", why);
    z->text = raw ? memory_new((size_t)d->bytes, "the members' names", why) : NULL;
    z->member =
        z->text ? memory_new(memory_product((size_t)d->entries, sizeof *z->member, 1), "the members", why) : NULL;
    bool ok = z->member && source_peek(z->path, z->directory, raw, (int64_t)d->bytes, "the directory", why);
    int64_t at = 0;
    char* names = z->text;
    for (int64_t i = 0; i < z->num_members && ok; i++) {
        int64_t taken = read_entry(z, i, raw + at, (int64_t)d->bytes - at, names, why);
        ok = taken > 0;
        at += taken;
        if (ok) names += strlen(names) + 1;
    }
    memory_free(raw);
    if (ok && at != (int64_t)d->bytes)
        ok = error_set(why, "%s: the directory's %lld members take %lld of its %llu bytes", z->path,
                       (long long)z->num_members, (long long)at, (unsigned long long)d->bytes);
    return ok && check_overlaps(z, why);
}

/* Where the member's bytes begin: behind its local header, which must repeat the directory's name. A name that is
   damaged in one place would otherwise make an array vanish. */
static bool find_data(const zip_archive* z, const zip_member* m, int64_t* data, error* why)
{
    unsigned char local[LOCAL_BYTES];
    size_t length = strlen(m->name);
    if (!source_peek(z->path, m->header, local, LOCAL_BYTES, "a member's header", why)) return false;
    *data = m->header + LOCAL_BYTES + get16(local + 26) + get16(local + 28);
    bool good = get32(local) == LOCAL_MAGIC && *data <= z->directory - m->packed_bytes && get16(local + 26) == length;
    char* name = good ? memory_new(length, "a member's name", why) : NULL;
    if (good &&
        (!name || !source_peek(z->path, m->header + LOCAL_BYTES, name, (int64_t)length, "a member's name", why))) {
        memory_free(name);
        return false;
    }
    good = good && memcmp(name, m->name, length) == 0;
    memory_free(name);
    return good ||
           error_set(why, "%s: member %s: damaged header at byte %lld", z->path, m->name, (long long)m->header);
}

static bool check_headers(const zip_archive* z, error* why)
{
    int64_t data;
    for (int64_t i = 0; i < z->num_members; i++)
        if (!find_data(z, &z->member[i], &data, why)) return false;
    return true;
}

/* ---- the interface -------------------------------------------------------------------------------------------- */

bool zip_open(zip_archive* z, const char* path, error* why)
{
    directory d = {0};
    memset(z, 0, sizeof *z);
    z->path = memory_new(strlen(path) + 1, "a path", why);
    if (!z->path) return false;
    strcpy(z->path, path);
    int64_t length = source_file_bytes(path, why);
    if (length >= 0 && length < END_BYTES) error_set(why, "%s: no zip archive: %lld bytes", path, (long long)length);
    if (!why->text[0] && find_end(path, length, &d, why) && read_directory(z, &d, why) && check_headers(z, why))
        return true;
    zip_close(z);
    return false;
}

void zip_close(zip_archive* z)
{
    memory_free(z->path);
    memory_free(z->text);
    memory_free(z->member);
    memset(z, 0, sizeof *z);
}

const zip_member* zip_find(const zip_archive* z, const char* name)
{
    for (int64_t i = 0; i < z->num_members; i++)
        if (strcmp(z->member[i].name, name) == 0) return &z->member[i];
    return NULL;
}

source* zip_member_open(const zip_archive* z, const zip_member* m, error* why)
{
    int64_t data;
    if (m->flags & 1)
        error_set(why, "%s: member %s is encrypted", z->path, m->name);
    else if (m->method != 0 && m->method != 8)
        error_set(why, "%s: member %s is packed by method %d; stored (0) and deflated (8) are read", z->path, m->name,
                  m->method);
    if (why->text[0] || !find_data(z, m, &data, why)) return NULL;
    source_part part = {
        z->path, m->name, data, m->packed_bytes, m->bytes, m->method ? SOURCE_DEFLATED : SOURCE_STORED, m->crc};
    return source_open_part(&part, why);
}
