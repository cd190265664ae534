/* ggnn_file.h - v1 - the .ggnn container: named arrays in one file that is mapped and used in place. C99, POSIX.

   In ONE C file:    #define _GNU_SOURCE 1
                     #define GGNN_FILE_IMPLEMENTATION
                     #include "ggnn_file.h"

   Reading:          ggnn_file f;
                     const ggnn_file_section* s;
                     if (!ggnn_file_open(&f, "cora.ggnn") || !(s = ggnn_file_need(&f, "indptr", GGNN_FILE_I64, 1)))
                         puts(f.error);
                     else use(ggnn_file_data(&f, s), s->dim[0]);
                     ggnn_file_close(&f);

   Writing:          ggnn_file_writer w;
                     int64_t dim[2] = {num_nodes, 128};
                     ggnn_file_create(&w, "out.ggnn");
                     float* feat = (float*)ggnn_file_reserve(&w, "feat", GGNN_FILE_F32, 2, dim);
                     if (feat) fill(feat);           (in place: the array is the file, it takes no other memory)
                     if (!ggnn_file_commit(&w)) puts(w.error);

   THE FORMAT, little-endian throughout:

     offset 0      magic 89 'G' 'G' 'N' 'N' 0d 0a 1a (a transfer as text breaks it), u32 version = 1, u32 sections,
                   i64 file bytes, u32 zero, u32 CRC-32C of the 28 bytes before it followed by the section table
     offset 32     one entry of 80 bytes a section: name (16 bytes, NUL-terminated, zero-filled), u32 element type,
                   u32 dimensions, i64 dimension[4] (row-major; unused ones zero), i64 offset, i64 bytes,
                   u32 CRC-32C of those bytes, u32 zero
     offset 8192   the arrays, each at a multiple of 4096, zeros between; the file's length is a multiple of 4096

   A reader skips sections whose name or type it does not know. What the names mean is the application's: dataset.h.

   THE GUARANTEES. Opening checks the section table and nothing else: after it every section lies within the file,
   apart from every other, with bytes = product of its dimensions. ggnn_file_verify reads everything and finds every
   flipped bit of a byte. A writer works on a temporary file beside the target that takes the target's name when it is
   complete and on the disk: who reads, reads the old file or the new one, whatever is killed when. Space is allocated
   before memory is mapped to it, so that a full disk is an error and not a signal. No function prints, exits or
   allocates. A file that another program shortens while it is mapped raises SIGBUS, as with any mapping. */
#ifndef GGNN_FILE_H
#define GGNN_FILE_H
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GGNN_FILE_ALIGN 4096
#define GGNN_FILE_DATA 8192 /* offset of the first array; the table fits before it */
#define GGNN_FILE_MAX_SECTIONS 100
#define GGNN_FILE_MAX_DIMS 4

typedef enum {
    GGNN_FILE_U8 = 1,
    GGNN_FILE_I32 = 2,
    GGNN_FILE_I64 = 3,
    GGNN_FILE_F16 = 4, /* IEEE half as uint16_t bits */
    GGNN_FILE_F32 = 5,
    GGNN_FILE_F64 = 6,
    GGNN_FILE_SPARSE_ROWS = 7 /* reserved */
} ggnn_file_type;

typedef struct ggnn_file_section { /* as in the file */
    char name[16];
    uint32_t type, num_dims;
    int64_t dim[GGNN_FILE_MAX_DIMS];
    int64_t offset, bytes;
    uint32_t crc, zero;
} ggnn_file_section;

typedef struct ggnn_file {
    const char* path;                 /* the caller's string, kept */
    const unsigned char* base;        /* (bytes) the file */
    const ggnn_file_section* section; /* (num_sections), within base */
    int64_t bytes;
    int32_t num_sections;
    bool mapped;
    char error[640]; /* the first failure, with file, section, offset, value; empty: none */
} ggnn_file;

const char* ggnn_file_type_name(uint32_t type); /* "u8" ...; "unknown" */
int64_t ggnn_file_type_bytes(uint32_t type);    /* of one element; 0 where the type is unknown or has no fixed size */

/* Maps path and checks its section table: O(sections^2), whatever the file's size. Waits for no pipe: whatever is not
   a regular file is refused. On failure false, f->error says
   why; ggnn_file_close is harmless then, and again after itself. */
bool ggnn_file_open(ggnn_file* f, const char* path);

/* The same over bytes in memory, aligned to 8, which the caller keeps; path is what errors call it. */
bool ggnn_file_open_memory(ggnn_file* f, const char* path, const void* memory, int64_t bytes);
void ggnn_file_close(ggnn_file* f);

/* The section of that name, or NULL. need: also with that type and number of dimensions, else NULL and f->error. */
const ggnn_file_section* ggnn_file_find(const ggnn_file* f, const char* name);
const ggnn_file_section* ggnn_file_need(ggnn_file* f, const char* name, ggnn_file_type type, int32_t num_dims);
const void* ggnn_file_data(const ggnn_file* f, const ggnn_file_section* s); /* its array; NULL for s = NULL */

/* Reads the whole file: every section's CRC, zeros between sections. False at the first difference, f->error names
   it. check: the CRC of that section alone. */
bool ggnn_file_verify(ggnn_file* f);
bool ggnn_file_check(ggnn_file* f, const ggnn_file_section* s);

/* The identity of the graph in f: a CRC over the CRCs of "indptr" and "indices", which the table has, so that no
   array is read. -1 where f holds no graph. Files that belong to a graph (rankings, partitions) keep it as
   "graph_crc", i64 (1). */
int64_t ggnn_file_graph_crc(const ggnn_file* f);

typedef struct ggnn_file_writer {
    const char* path; /* the caller's string, kept until commit or abort */
    int fd;
    int32_t num_sections;
    int64_t end; /* of the sections so far */
    ggnn_file_section section[GGNN_FILE_MAX_SECTIONS];
    void* data[GGNN_FILE_MAX_SECTIONS]; /* their writable mappings */
    char target[4096], temporary[4096];
    char error[640]; /* the first failure; empty: none yet. Later calls do nothing and fail */
} ggnn_file_writer;

/* Where a writer of path puts its file: path itself or, where that is a link, what it links to, there yet or not; so
   that the link stays. False where a file cannot be put: error says that path is a folder, a device, a pipe, a name of
   an open descriptor (/dev/stdout), or a file that may not be written. */
bool ggnn_file_target(char target[4096], const char* path, char error[640]);

/* A name for what is to be called target when it is complete, beside it: target.PID.NUMBER.tmp, target's name cut to
   200 bytes, as file systems take names of 255. target is ggnn_file_target's. */
void ggnn_file_temporary(char temporary[4096], const char* target, int number);

/* The two steps of a writer that other files need as well. begin: a new file beside target (ggnn_file_target's), locked,
   with the permissions of the file whose place it will take; its name into temporary. Removes temporary files of target
   that killed writers left behind: those that nobody locks, so keep a descriptor until the file is renamed. Returns the
   descriptor, -1 and errno on failure. sync_directory: after the rename, writes the new name to the disk. False and
   errno on failure. */
int ggnn_file_begin(char temporary[4096], const char* target);
bool ggnn_file_sync_directory(const char* target);

/* Starts a file that will be called path, through links (ggnn_file_target); one that takes another's place takes its
   permissions. Removes temporary files that killed writers of the same path left behind. */
bool ggnn_file_create(ggnn_file_writer* w, const char* path);

/* Adds a section and returns its array, zeroed, to be filled until commit; NULL on failure. The pointer stays valid
   and aligned to 4096 while others are reserved. */
void* ggnn_file_reserve(ggnn_file_writer* w, const char* name, ggnn_file_type type, int32_t num_dims,
                        const int64_t* dim);
bool ggnn_file_append(ggnn_file_writer* w, const char* name, ggnn_file_type type, int32_t num_dims,
                      const int64_t* dim, const void* data);

/* Adds section s of `from`, whose CRC is checked on the way: a damaged section would get a good one. */
bool ggnn_file_copy(ggnn_file_writer* w, const ggnn_file* from, const ggnn_file_section* s);

/* Cuts the rows after the first dim0 off the section reserved last, for arrays whose size is known only at
   the end. */
bool ggnn_file_shrink(ggnn_file_writer* w, int64_t dim0);

/* commit: CRCs, table, fsync, rename over path's target, fsync of the directory. On failure path is as it was before.
   abort: drops everything; harmless after commit, abort or a failed create. The arrays are gone after either. */
bool ggnn_file_commit(ggnn_file_writer* w);
void ggnn_file_abort(ggnn_file_writer* w);

typedef struct ggnn_file_scratch { /* memory that the kernel can write out: an unlinked file, mapped */
    const char* beside; /* the caller's string, kept */
    void* data;
    int64_t bytes;
    int fd;
    char error[640];
} ggnn_file_scratch;

/* Zeroed scratch in the directory of the file beside, or of what that links to; it vanishes with the process. resize keeps the contents, and
   what is new is zeroed; on failure the old mapping stays. close is harmless on a failed open and after itself. */
bool ggnn_file_scratch_open(ggnn_file_scratch* s, const char* beside, int64_t bytes);
bool ggnn_file_scratch_resize(ggnn_file_scratch* s, int64_t bytes);
void ggnn_file_scratch_close(ggnn_file_scratch* s);

/* CRC-32C (Castagnoli), running: crc = 0 to start. By the CPU's instruction where it has one; _plain is the
   table's way. */
uint32_t ggnn_file_crc32c(uint32_t crc, const void* data, int64_t bytes);
uint32_t ggnn_file_crc32c_plain(uint32_t crc, const void* data, int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif /* GGNN_FILE_H */

/* ==== IMPLEMENTATION =========================================================================================== */
#if defined(GGNN_FILE_IMPLEMENTATION) && !defined(GGNN_FILE_IMPLEMENTED)
#define GGNN_FILE_IMPLEMENTED
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__cplusplus) && defined(__GNUC__) /* C's casts and its null pointers, where C++ warns of them */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wzero-as-null-pointer-constant"
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "ggnn_file.h maps little-endian files in place: this machine is big-endian"
#endif

static const unsigned char ggnni_file_magic[8] = {0x89, 'G', 'G', 'N', 'N', '\r', '\n', 0x1a};

typedef struct {
    unsigned char magic[8];
    uint32_t version, num_sections;
    int64_t bytes;
    uint32_t zero, crc;
} ggnni_file_header;

enum { ggnni_file_version = 1, ggnni_file_table = 32 };

/* The two structs are the format: these arrays have a negative size where a compiler lays them out differently. */
typedef char ggnni_file_header_is_32_bytes[sizeof(ggnni_file_header) == ggnni_file_table ? 1 : -1];
typedef char ggnni_file_section_is_80_bytes[sizeof(ggnn_file_section) == 80 ? 1 : -1];
typedef char ggnni_file_table_fits[ggnni_file_table + 80 * GGNN_FILE_MAX_SECTIONS <= GGNN_FILE_DATA ? 1 : -1];

static bool ggnni_file_fail(char error[640], const char* format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
static bool ggnni_file_fail(char error[640], const char* format, ...)
{
    char text[8192];
    size_t length;
    va_list values;
    if (error[0]) return false; /* the first cause is kept */
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    length = strlen(text);
    if (length < 640) strcpy(error, text);
    else snprintf(error, 640, "%.200s ... %s", text, text + length - 430); /* a long path: what is said of it stays */
    return false;
}

/* ---- CRC-32C -------------------------------------------------------------------------------------------------- */

static uint64_t ggnni_file_load64(const unsigned char* p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

static uint32_t ggnni_file_crc_byte(uint32_t state)
{
    for (int bit = 0; bit < 8; bit++) state = state >> 1 ^ (state & 1 ? 0x82F63B78u : 0);
    return state;
}

/* Slicing by 8 (Kounavis and Berry 2005): table[k][b] is the effect of byte b followed by k zero bytes. The tables
   are made on the stack, 2048 words in some microseconds, so that nothing is shared; short inputs go bit by bit. */
uint32_t ggnn_file_crc32c_plain(uint32_t crc, const void* data, int64_t bytes)
{
    const unsigned char* p = (const unsigned char*)data;
    uint32_t table[8][256], state = ~crc;
    if (bytes >= 1024) {
        for (uint32_t b = 0; b < 256; b++) table[0][b] = ggnni_file_crc_byte(b);
        for (int k = 1; k < 8; k++)
            for (int b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
        for (; bytes >= 8; bytes -= 8, p += 8) {
            uint64_t word = ggnni_file_load64(p) ^ state;
            state = 0;
            for (int k = 0; k < 8; k++) state ^= table[7 - k][word >> (8 * k) & 255];
        }
    }
    for (; bytes > 0; bytes--, p++) state = state >> 8 ^ ggnni_file_crc_byte((state ^ *p) & 255);
    return ~state;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) static uint32_t ggnni_file_crc_sse42(uint32_t crc, const unsigned char* p,
                                                                       int64_t bytes)
{
    uint64_t state = (uint32_t)~crc;
    for (; bytes >= 8; bytes -= 8, p += 8) state = __builtin_ia32_crc32di(state, ggnni_file_load64(p));
    for (; bytes > 0; bytes--, p++) state = __builtin_ia32_crc32qi((uint32_t)state, *p);
    return ~(uint32_t)state;
}
uint32_t ggnn_file_crc32c(uint32_t crc, const void* data, int64_t bytes)
{
    if (__builtin_cpu_supports("sse4.2")) return ggnni_file_crc_sse42(crc, (const unsigned char*)data, bytes);
    return ggnn_file_crc32c_plain(crc, data, bytes);
}
#else
uint32_t ggnn_file_crc32c(uint32_t crc, const void* data, int64_t bytes)
{
    return ggnn_file_crc32c_plain(crc, data, bytes);
}
#endif

/* ---- types, names, sizes -------------------------------------------------------------------------------------- */

const char* ggnn_file_type_name(uint32_t type)
{
    static const char* const name[] = {"unknown", "u8", "i32", "i64", "f16", "f32", "f64", "sparse-rows"};
    return name[type <= GGNN_FILE_SPARSE_ROWS ? type : 0];
}

int64_t ggnn_file_type_bytes(uint32_t type)
{
    static const int64_t bytes[] = {0, 1, 4, 8, 2, 4, 8, 0};
    return bytes[type <= GGNN_FILE_SPARSE_ROWS ? type : 0];
}

static int64_t ggnni_file_round_up(int64_t bytes)
{
    return (bytes + GGNN_FILE_ALIGN - 1) / GGNN_FILE_ALIGN * GGNN_FILE_ALIGN;
}

/* 1 to 15 printable characters, zeros to the end: safe to print, to compare and to use as a string. */
static bool ggnni_file_name_is_valid(const char name[16])
{
    int length = 0;
    while (length < 16 && name[length] > ' ' && name[length] <= '~') length++;
    if (length == 0 || length == 16) return false;
    for (int i = length; i < 16; i++)
        if (name[i]) return false;
    return true;
}

/* Bytes of a row-major array; -1 where a dimension is negative or the product overflows. Element bytes >= 1. */
static int64_t ggnni_file_array_bytes(int64_t element, const int64_t* dim, uint32_t num_dims)
{
    int64_t bytes = element;
    bool empty = false;
    for (uint32_t i = 0; i < num_dims; i++) {
        if (dim[i] < 0) return -1;
        if (dim[i] == 0) empty = true;
    }
    for (uint32_t i = 0; i < num_dims && !empty; i++) {
        if (dim[i] > (INT64_MAX - GGNN_FILE_ALIGN) / bytes) return -1;
        bytes *= dim[i];
    }
    return empty ? 0 : bytes;
}

/* Checks what a section says of itself; the caller names it in front of the message. NULL: nothing is wrong. */
static const char* ggnni_file_section_flaw(const ggnn_file_section* s, int64_t file_bytes)
{
    int64_t element = ggnn_file_type_bytes(s->type);
    if (s->num_dims < 1 || s->num_dims > GGNN_FILE_MAX_DIMS) return "number of dimensions is not 1 to 4";
    for (uint32_t i = 0; i < GGNN_FILE_MAX_DIMS; i++) {
        if (s->dim[i] < 0) return "negative dimension";
        if (i >= s->num_dims && s->dim[i]) return "unused dimension is not zero";
    }
    if (s->zero) return "reserved field is not zero";
    if (s->bytes < 0) return "negative number of bytes";
    if (element && ggnni_file_array_bytes(element, s->dim, s->num_dims) != s->bytes)
        return "number of bytes is not the product of its dimensions";
    if (s->offset < GGNN_FILE_DATA) return "data offset lies within the section table";
    if (s->offset % GGNN_FILE_ALIGN) return "data offset is not a multiple of 4096";
    if (s->offset > file_bytes || s->bytes > file_bytes - s->offset) return "data pass the end of the file";
    return NULL;
}

static bool ggnni_file_sections_overlap(const ggnn_file_section* a, const ggnn_file_section* b)
{
    return a->bytes && b->bytes && a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

static uint32_t ggnni_file_table_crc(const ggnni_file_header* header, const ggnn_file_section* section)
{
    uint32_t crc = ggnn_file_crc32c(0, header, 28);
    return ggnn_file_crc32c(crc, section, (int64_t)header->num_sections * 80);
}

static bool ggnni_file_check_header(ggnn_file* f, const ggnni_file_header* header)
{
    if (f->bytes < (int64_t)sizeof header->magic ||
        memcmp(header->magic, ggnni_file_magic, sizeof header->magic) != 0)
        return ggnni_file_fail(f->error, "%s: not a .ggnn file (ggnn-data convert makes one): no magic bytes at offset 0", f->path);
    if (f->bytes < GGNN_FILE_DATA)
        return ggnni_file_fail(f->error, "%s: truncated: %lld bytes, shorter than the section table's %d", f->path,
                               (long long)f->bytes, GGNN_FILE_DATA);
    if (header->version != ggnni_file_version)
        return ggnni_file_fail(f->error, "%s: version %lu at offset 8: this program reads version %d", f->path,
                               (unsigned long)header->version, ggnni_file_version);
    if (header->num_sections > GGNN_FILE_MAX_SECTIONS)
        return ggnni_file_fail(f->error, "%s: %lu sections at offset 12: at most %d fit", f->path,
                               (unsigned long)header->num_sections, GGNN_FILE_MAX_SECTIONS);
    if (header->bytes != f->bytes)
        return ggnni_file_fail(f->error, "%s: %s: %lld bytes, where offset 16 says %lld", f->path,
                               f->bytes < header->bytes ? "truncated" : "damaged, or more than one file",
                               (long long)f->bytes, (long long)header->bytes);
    if (header->zero || f->bytes % GGNN_FILE_ALIGN)
        return ggnni_file_fail(f->error, "%s: damaged: the reserved word at offset 24 is %lu, the length %lld",
                               f->path, (unsigned long)header->zero, (long long)f->bytes);
    return true;
}

static bool ggnni_file_check_sections(ggnn_file* f)
{
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        long long at = ggnni_file_table + 80 * (long long)i;
        const char* flaw;
        if (!ggnni_file_name_is_valid(s->name))
            return ggnni_file_fail(f->error,
                                   "%s: section %d: its name at offset %lld is not 1 to 15 printable "
                                   "characters and zeros",
                                   f->path, i, at);
        flaw = ggnni_file_section_flaw(s, f->bytes);
        if (flaw)
            return ggnni_file_fail(
                f->error,
                "%s: section '%s' (entry at offset %lld): %s: type %s, %lu dimensions %lld x %lld x %lld x "
                "%lld, %lld bytes at offset %lld of %lld",
                f->path, s->name, at, flaw, ggnn_file_type_name(s->type), (unsigned long)s->num_dims,
                (long long)s->dim[0], (long long)s->dim[1], (long long)s->dim[2], (long long)s->dim[3],
                (long long)s->bytes, (long long)s->offset, (long long)f->bytes);
        for (int32_t j = 0; j < i; j++) {
            if (strcmp(f->section[j].name, s->name) == 0)
                return ggnni_file_fail(f->error, "%s: section '%s' is there twice, entries at offsets %lld and %lld",
                                       f->path, s->name, ggnni_file_table + 80 * (long long)j, at);
            if (ggnni_file_sections_overlap(&f->section[j], s))
                return ggnni_file_fail(f->error,
                                       "%s: sections '%s' (%lld bytes at offset %lld) and '%s' (%lld at "
                                       "%lld) overlap",
                                       f->path, f->section[j].name, (long long)f->section[j].bytes,
                                       (long long)f->section[j].offset, s->name, (long long)s->bytes,
                                       (long long)s->offset);
        }
    }
    return true;
}

/* No field beyond the magic is used before the CRC has vouched for it but num_sections, which is bounded; every field
   is checked all the same, because who wrote the file also wrote the CRC. */
static bool ggnni_file_check(ggnn_file* f)
{
    const ggnni_file_header* header = (const ggnni_file_header*)(const void*)f->base;
    uint32_t crc;
    if (!ggnni_file_check_header(f, header)) return false;
    f->section = (const ggnn_file_section*)(const void*)(f->base + ggnni_file_table);
    crc = ggnni_file_table_crc(header, f->section);
    if (crc != header->crc)
        return ggnni_file_fail(f->error,
                               "%s: damaged section table (offsets 0 to %lld): its CRC-32C is %08lx, where "
                               "offset 28 says %08lx",
                               f->path, ggnni_file_table + 80 * (long long)header->num_sections, (unsigned long)crc,
                               (unsigned long)header->crc);
    f->num_sections = (int32_t)header->num_sections;
    return ggnni_file_check_sections(f);
}

bool ggnn_file_open_memory(ggnn_file* f, const char* path, const void* memory, int64_t bytes)
{
    memset(f, 0, sizeof *f);
    f->path = path;
    f->base = (const unsigned char*)memory;
    f->bytes = bytes;
    if (ggnni_file_check(f)) return true;
    f->num_sections = 0; /* what failed its checks is not to be used */
    return false;
}

/* What a path that is no regular file is. */
static const char* ggnni_file_kind(const struct stat* status)
{
    return S_ISDIR(status->st_mode) ? "a folder" : S_ISFIFO(status->st_mode) ? "a pipe" : "a device or a socket";
}

bool ggnn_file_open(ggnn_file* f, const char* path)
{
    struct stat status;
    void* map = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a pipe opens without its writer */
    memset(f, 0, sizeof *f);
    f->path = path;
    if (fd < 0) return ggnni_file_fail(f->error, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(fd, &status) != 0) {
        ggnni_file_fail(f->error, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        ggnni_file_fail(f->error, "%s: is %s, a file is needed", path, ggnni_file_kind(&status));
    } else if (status.st_size == 0) {
        ggnni_file_fail(f->error, "%s: not a .ggnn file: it is empty", path);
    } else {
        map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (map == MAP_FAILED)
            ggnni_file_fail(f->error, "%s: cannot map %lld bytes: %s", path, (long long)status.st_size,
                            strerror(errno));
    }
    close(fd);
    if (map == MAP_FAILED) return false;
    if (!ggnn_file_open_memory(f, path, map, (int64_t)status.st_size)) {
        munmap(map, (size_t)status.st_size);
        f->base = NULL;
        f->section = NULL;
        return false;
    }
    f->mapped = true;
    return true;
}

void ggnn_file_close(ggnn_file* f)
{
    if (f->mapped) munmap((void*)(uintptr_t)f->base, (size_t)f->bytes);
    f->mapped = false;
    f->base = NULL;
    f->section = NULL;
    f->num_sections = 0;
}

const ggnn_file_section* ggnn_file_find(const ggnn_file* f, const char* name)
{
    for (int32_t i = 0; i < f->num_sections; i++)
        if (strcmp(f->section[i].name, name) == 0) return &f->section[i];
    return NULL;
}

const ggnn_file_section* ggnn_file_need(ggnn_file* f, const char* name, ggnn_file_type type, int32_t num_dims)
{
    const ggnn_file_section* s = ggnn_file_find(f, name);
    if (!s) {
        ggnni_file_fail(f->error, "%s: it has no section '%s'", f->path, name);
    } else if (s->type != (uint32_t)type || s->num_dims != (uint32_t)num_dims) {
        ggnni_file_fail(f->error, "%s: section '%s' at offset %lld is %s with %lu dimensions, not %s with %d",
                        f->path, name, (long long)s->offset, ggnn_file_type_name(s->type), (unsigned long)s->num_dims,
                        ggnn_file_type_name(type), num_dims);
        return NULL;
    }
    return s;
}

const void* ggnn_file_data(const ggnn_file* f, const ggnn_file_section* s) { return s ? f->base + s->offset : NULL; }

/* Whether the bytes from the end of one section (or of the table) to the next are zero. */
static bool ggnni_file_check_gap(ggnn_file* f, int64_t begin)
{
    int64_t end = f->bytes;
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        if (s->bytes && s->offset >= begin && s->offset < end) end = s->offset;
    }
    for (int64_t at = begin; at < end; at++)
        if (f->base[at])
            return ggnni_file_fail(f->error, "%s: damaged: byte %02x at offset %lld, between sections", f->path,
                                   f->base[at], (long long)at);
    return true;
}

/* Do the bytes at data have the CRC of section s of the file at path? */
static bool ggnni_file_check_crc(char error[640], const char* path, const ggnn_file_section* s, const void* data)
{
    uint32_t crc = ggnn_file_crc32c(0, data, s->bytes);
    if (crc == s->crc) return true;
    return ggnni_file_fail(error,
                           "%s: damaged section '%s' (%lld bytes at offset %lld): its CRC-32C is "
                           "%08lx, where the table says %08lx",
                           path, s->name, (long long)s->bytes, (long long)s->offset, (unsigned long)crc,
                           (unsigned long)s->crc);
}

bool ggnn_file_check(ggnn_file* f, const ggnn_file_section* s)
{
    return ggnni_file_check_crc(f->error, f->path, s, ggnn_file_data(f, s));
}

bool ggnn_file_verify(ggnn_file* f)
{
    if (!ggnni_file_check_gap(f, ggnni_file_table + 80 * (int64_t)f->num_sections)) return false;
    for (int32_t i = 0; i < f->num_sections; i++) {
        const ggnn_file_section* s = &f->section[i];
        if (!ggnn_file_check(f, s)) return false;
        if (s->bytes && !ggnni_file_check_gap(f, s->offset + s->bytes)) return false;
    }
    return true;
}

int64_t ggnn_file_graph_crc(const ggnn_file* f)
{
    const ggnn_file_section* indptr = ggnn_file_find(f, "indptr");
    const ggnn_file_section* indices = ggnn_file_find(f, "indices");
    uint32_t pair[2];
    if (!indptr || !indices) return -1;
    pair[0] = indptr->crc;
    pair[1] = indices->crc;
    return ggnn_file_crc32c(0, pair, sizeof pair);
}

/* ---- temporary files ------------------------------------------------------------------------------------------ */

/* Bytes of path up to and with its last slash; 0 where it has none. */
static size_t ggnni_file_directory_length(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static void ggnni_file_directory(char directory[4096], const char* path)
{
    size_t length = ggnni_file_directory_length(path);
    memcpy(directory, length ? path : ".", length ? length : 1);
    directory[length ? length : 1] = 0;
}

/* Puts what the link at target names in its place. False: errno says why. */
static bool ggnni_file_follow(char target[4096])
{
    char name[4096];
    ssize_t length = readlink(target, name, sizeof name);
    size_t directory = length > 0 && name[0] == '/' ? 0 : ggnni_file_directory_length(target);
    if (length < 0) return false;
    if (directory + (size_t)length > 4096 - 64) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(target + directory, name, (size_t)length);
    target[directory + (size_t)length] = 0;
    return true;
}

bool ggnn_file_target(char target[4096], const char* path, char error[640])
{
    struct stat status, proc;
    bool has_proc = lstat("/proc/self", &proc) == 0;
    error[0] = 0;
    if (!path[0] || strlen(path) > 4096 - 64)
        return ggnni_file_fail(error, "output path is %s", path[0] ? "too long" : "empty");
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return ggnni_file_fail(error, "%s: is %s, no file can be put there", path, ggnni_file_kind(&status));
    strcpy(target, path);
    for (int links = 0; lstat(target, &status) == 0 && S_ISLNK(status.st_mode); links++) {
        if (has_proc && status.st_dev == proc.st_dev)
            return ggnni_file_fail(error, "%s: is an open descriptor, the name of a file is needed", path);
        if (links == 40) errno = ELOOP;
        if (links == 40 || !ggnni_file_follow(target))
            return ggnni_file_fail(error, "%s: cannot follow the link: %s", path, strerror(errno));
    }
    if (access(target, W_OK) != 0 && errno != ENOENT)
        return ggnni_file_fail(error, "%s: cannot write: %s", path, strerror(errno));
    return true;
}

/* What temporary names keep of a name. */
static size_t ggnni_file_stem(const char* name)
{
    size_t length = strlen(name);
    return length < 200 ? length : 200;
}

void ggnn_file_temporary(char temporary[4096], const char* target, int number)
{
    size_t directory = ggnni_file_directory_length(target), stem = ggnni_file_stem(target + directory);
    snprintf(temporary, 4096, "%.*s.%ld.%d.tmp", (int)(directory + stem), target, (long)getpid(), number);
}

/* Is entry a temporary name of target, a name without folder? */
static bool ggnni_file_is_temporary_of(const char* entry, const char* target)
{
    size_t length = ggnni_file_stem(target);
    if (strncmp(entry, target, length) != 0) return false;
    entry += length;
    for (int part = 0; part < 2; part++) { /* .PID and .NUMBER */
        size_t digits = entry[0] == '.' ? strspn(entry + 1, "0123456789") : 0;
        if (digits == 0) return false;
        entry += 1 + digits;
    }
    return strcmp(entry, ".tmp") == 0;
}

/* Is fd's file the one at path still? A commit gives a file its name, and another may begin under the old one. */
static bool ggnni_file_is_at(int fd, const char* path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && lstat(path, &there) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

/* A living writer holds a lock on its temporary file; one that can be locked has lost its owner. */
static void ggnni_file_remove_stale(const char* path)
{
    char directory[4096], name[4096 + 300];
    const char* target = path + ggnni_file_directory_length(path);
    struct stat status;
    struct dirent* entry;
    DIR* list;
    ggnni_file_directory(directory, path);
    list = opendir(directory);
    while (list && (entry = readdir(list)) != NULL) {
        int fd;
        if (!ggnni_file_is_temporary_of(entry->d_name, target)) continue;
        snprintf(name, sizeof name, "%s/%s", directory, entry->d_name);
        fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0) continue;
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
            ggnni_file_is_at(fd, name))
            unlink(name);
        close(fd);
    }
    if (list) closedir(list);
}

/* Creates and locks a new file beside path, its name into temporary. -1 and errno on failure. Between creation and
   lock another writer may take it for stale: that one has the lock then, or has removed the file. So the next name.
   Where files cannot be locked, none is ever taken for stale. */
static int ggnni_file_new_temporary(char temporary[4096], const char* path)
{
    for (int number = 0; number < 1000; number++) {
        bool taken;
        int fd;
        ggnn_file_temporary(temporary, path, number);
        fd = open(temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd < 0) return -1;
        taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
        if (!taken && ggnni_file_is_at(fd, temporary)) return fd;
        close(fd);
    }
    errno = EEXIST;
    return -1;
}

int ggnn_file_begin(char temporary[4096], const char* target)
{
    struct stat status;
    int fd;
    ggnni_file_remove_stale(target);
    fd = ggnni_file_new_temporary(temporary, target);
    if (fd >= 0 && stat(target, &status) == 0)
        (void)!fchmod(fd, status.st_mode & 0777); /* some file systems know none */
    return fd;
}

/* File systems that cannot sync a directory say EINVAL. */
bool ggnn_file_sync_directory(const char* target)
{
    char directory[4096];
    bool good;
    int fd, failure;
    ggnni_file_directory(directory, target);
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    failure = errno;
    if (fd >= 0) close(fd);
    errno = failure;
    return good;
}

/* Allocates [begin, end) of fd. Returns an errno; glibc writes zeros where the file system cannot allocate. */
static int ggnni_file_allocate(int fd, int64_t begin, int64_t end)
{
    int failure;
    do failure = posix_fallocate(fd, (off_t)begin, (off_t)(end - begin));
    while (failure == EINTR);
    return failure;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

/* Mappings begin at a multiple of the machine's page, which may be more than 4096. */
static int64_t ggnni_file_page_offset(int64_t offset) { return offset % (int64_t)sysconf(_SC_PAGESIZE); }

static void ggnni_file_unmap(void* data, int64_t offset, int64_t bytes)
{
    int64_t before = ggnni_file_page_offset(offset);
    if (data) munmap((char*)data - before, (size_t)(bytes + before));
}

static void* ggnni_file_map(int fd, int64_t offset, int64_t bytes)
{
    int64_t before = ggnni_file_page_offset(offset);
    void* map =
        mmap(NULL, (size_t)(bytes + before), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)(offset - before));
    return map == MAP_FAILED ? NULL : (char*)map + before;
}

/* What a section takes in the file: whole pages, one at least, so that every section has an address. */
static int64_t ggnni_file_room(int64_t bytes) { return ggnni_file_round_up(bytes ? bytes : 1); }

bool ggnn_file_create(ggnn_file_writer* w, const char* path)
{
    int failure;
    memset(w, 0, sizeof *w);
    w->path = path;
    w->fd = -1;
    w->end = GGNN_FILE_DATA;
    if (!ggnn_file_target(w->target, path, w->error)) return false;
    w->fd = ggnn_file_begin(w->temporary, w->target);
    if (w->fd < 0) return ggnni_file_fail(w->error, "%s: cannot create: %s", path, strerror(errno));
    failure = ggnni_file_allocate(w->fd, 0, GGNN_FILE_DATA);
    if (failure) {
        ggnni_file_fail(w->error, "%s: no room for the section table: %s", path, strerror(failure));
        ggnn_file_abort(w);
        return false;
    }
    return true;
}

/* Fills in the next section's entry but for its CRC. */
static bool ggnni_file_describe(ggnn_file_writer* w, const char* name, ggnn_file_type type, int32_t num_dims,
                                const int64_t* dim)
{
    ggnn_file_section* s = &w->section[w->num_sections];
    int64_t element = ggnn_file_type_bytes(type);
    if (w->num_sections == GGNN_FILE_MAX_SECTIONS)
        return ggnni_file_fail(w->error, "%s: no room for section '%s': %d are there", w->path, name,
                               w->num_sections);
    memset(s, 0, sizeof *s);
    strncpy(s->name, name, sizeof s->name - 1);
    if (strlen(name) > 15 || !ggnni_file_name_is_valid(s->name) || num_dims < 1 || num_dims > 4 || element == 0)
        return ggnni_file_fail(w->error, "%s: no section can be called '%s' or have type %d and %d dimensions",
                               w->path, name, (int)type, num_dims);
    for (int32_t i = 0; i < w->num_sections; i++)
        if (strcmp(w->section[i].name, name) == 0)
            return ggnni_file_fail(w->error, "%s: section '%s' is written twice", w->path, name);
    s->type = (uint32_t)type;
    s->num_dims = (uint32_t)num_dims;
    memcpy(s->dim, dim, (size_t)num_dims * sizeof dim[0]);
    s->offset = w->end;
    s->bytes = ggnni_file_array_bytes(element, dim, s->num_dims);
    if (s->bytes < 0 || s->bytes > INT64_MAX / 2 - w->end)
        return ggnni_file_fail(w->error, "%s: section '%s' would be larger than a file can be: %lld rows", w->path,
                               name, (long long)dim[0]);
    return true;
}

void* ggnn_file_reserve(ggnn_file_writer* w, const char* name, ggnn_file_type type, int32_t num_dims,
                        const int64_t* dim)
{
    ggnn_file_section* s = &w->section[w->num_sections < GGNN_FILE_MAX_SECTIONS ? w->num_sections : 0];
    int failure;
    void* data;
    if (w->error[0] || !ggnni_file_describe(w, name, type, num_dims, dim)) return NULL;
    failure = ggnni_file_allocate(w->fd, w->end, w->end + ggnni_file_room(s->bytes));
    if (failure) {
        ggnni_file_fail(w->error, "%s: no room for section '%s', %lld bytes at offset %lld: %s", w->path, name,
                        (long long)s->bytes, (long long)s->offset, strerror(failure));
        return NULL;
    }
    data = ggnni_file_map(w->fd, s->offset, ggnni_file_room(s->bytes));
    if (!data) {
        ggnni_file_fail(w->error, "%s: cannot map section '%s', %lld bytes: %s", w->path, name, (long long)s->bytes,
                        strerror(errno));
        return NULL;
    }
    w->data[w->num_sections++] = data;
    w->end += ggnni_file_room(s->bytes);
    return data;
}

bool ggnn_file_append(ggnn_file_writer* w, const char* name, ggnn_file_type type, int32_t num_dims,
                      const int64_t* dim, const void* data)
{
    void* array = ggnn_file_reserve(w, name, type, num_dims, dim);
    int64_t bytes = array ? w->section[w->num_sections - 1].bytes : 0;
    if (bytes) memcpy(array, data, (size_t)bytes);
    return array != NULL;
}

bool ggnn_file_copy(ggnn_file_writer* w, const ggnn_file* from, const ggnn_file_section* s)
{
    return ggnn_file_append(w, s->name, (ggnn_file_type)s->type, (int32_t)s->num_dims, s->dim,
                            ggnn_file_data(from, s)) &&
           ggnni_file_check_crc(w->error, from->path, s, w->data[w->num_sections - 1]);
}

bool ggnn_file_shrink(ggnn_file_writer* w, int64_t dim0)
{
    ggnn_file_section* s = &w->section[w->num_sections > 0 ? w->num_sections - 1 : 0];
    char* data = (char*)w->data[w->num_sections > 0 ? w->num_sections - 1 : 0];
    int64_t old_room = ggnni_file_room(s->bytes), bytes, room;
    if (w->error[0]) return false;
    if (w->num_sections == 0 || dim0 < 0 || dim0 > s->dim[0])
        return ggnni_file_fail(w->error, "%s: section '%s' cannot shrink from %lld to %lld rows", w->path, s->name,
                               (long long)s->dim[0], (long long)dim0);
    s->dim[0] = dim0;
    bytes = ggnni_file_array_bytes(ggnn_file_type_bytes(s->type), s->dim, s->num_dims);
    room = ggnni_file_room(bytes);
    memset(data + bytes, 0, (size_t)((room < s->bytes ? room : s->bytes) - bytes)); /* between sections: zeros */
    s->bytes = bytes;
    w->end = s->offset + room;
    /* A mapping may pass the end of its file as long as nobody touches what is beyond: unmap those whole pages. */
    if (old_room > room) {
        int64_t page = (int64_t)sysconf(_SC_PAGESIZE), before = ggnni_file_page_offset(s->offset);
        int64_t keep = (before + room + page - 1) / page * page;
        if (before + old_room > keep) munmap(data - before + keep, (size_t)(before + old_room - keep));
        if (ftruncate(w->fd, (off_t)w->end) != 0)
            return ggnni_file_fail(w->error, "%s: cannot shorten: %s", w->path, strerror(errno));
    }
    return true;
}

/* Gives back the mapping of every section; with finish, first computes its CRC and writes it out. */
static void ggnni_file_release(ggnn_file_writer* w, bool finish)
{
    for (int32_t i = 0; i < w->num_sections; i++) {
        ggnn_file_section* s = &w->section[i];
        int64_t before = ggnni_file_page_offset(s->offset), room = ggnni_file_room(s->bytes);
        if (!w->data[i]) continue;
        if (finish) {
            s->crc = ggnn_file_crc32c(0, w->data[i], s->bytes);
            if (msync((char*)w->data[i] - before, (size_t)(room + before), MS_SYNC) != 0)
                ggnni_file_fail(w->error, "%s: cannot write section '%s': %s", w->path, s->name, strerror(errno));
        }
        ggnni_file_unmap(w->data[i], s->offset, room);
        w->data[i] = NULL;
    }
}

static bool ggnni_file_write_table(ggnn_file_writer* w)
{
    unsigned char page[GGNN_FILE_DATA];
    ggnni_file_header header;
    memset(page, 0, sizeof page);
    memset(&header, 0, sizeof header);
    memcpy(header.magic, ggnni_file_magic, sizeof header.magic);
    header.version = ggnni_file_version;
    header.num_sections = (uint32_t)w->num_sections;
    header.bytes = w->end;
    header.crc = ggnni_file_table_crc(&header, w->section);
    memcpy(page, &header, sizeof header);
    memcpy(page + ggnni_file_table, w->section, (size_t)w->num_sections * sizeof w->section[0]);
    for (size_t done = 0; done < sizeof page;) {
        ssize_t wrote = pwrite(w->fd, page + done, sizeof page - done, (off_t)done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0)
            return ggnni_file_fail(w->error, "%s: cannot write the section table: %s", w->path, strerror(errno));
        done += (size_t)wrote;
    }
    return true;
}

bool ggnn_file_commit(ggnn_file_writer* w)
{
    if (w->fd < 0 && !w->error[0]) ggnni_file_fail(w->error, "%s: nothing to commit", w->path);
    if (!w->error[0]) ggnni_file_release(w, true);
    if (!w->error[0]) ggnni_file_write_table(w);
    if (!w->error[0] && fsync(w->fd) != 0)
        ggnni_file_fail(w->error, "%s: cannot write: %s", w->path, strerror(errno));
    if (!w->error[0] && rename(w->temporary, w->target) != 0)
        ggnni_file_fail(w->error, "%s: cannot rename %s to it: %s", w->path, w->temporary, strerror(errno));
    if (w->error[0]) {
        ggnn_file_abort(w);
        return false;
    }
    close(w->fd);
    w->fd = -1;
    return ggnn_file_sync_directory(w->target) ||
           ggnni_file_fail(w->error, "%s: cannot sync its directory: %s", w->path, strerror(errno));
}

void ggnn_file_abort(ggnn_file_writer* w)
{
    ggnni_file_release(w, false);
    if (w->fd >= 0) {
        unlink(w->temporary);
        close(w->fd);
    }
    w->fd = -1;
}

/* ---- scratch -------------------------------------------------------------------------------------------------- */

bool ggnn_file_scratch_open(ggnn_file_scratch* s, const char* beside, int64_t bytes)
{
    char target[4096], temporary[4096];
    memset(s, 0, sizeof *s);
    s->beside = beside;
    s->fd = -1;
    if (!ggnn_file_target(target, beside, s->error)) return false;
    s->fd = ggnni_file_new_temporary(temporary, target);
    if (s->fd < 0)
        return ggnni_file_fail(s->error, "%s: cannot create scratch beside it: %s", beside, strerror(errno));
    unlink(temporary);
    if (ggnn_file_scratch_resize(s, bytes)) return true;
    ggnn_file_scratch_close(s);
    return false;
}

bool ggnn_file_scratch_resize(ggnn_file_scratch* s, int64_t bytes)
{
    int64_t old_room = s->data ? ggnni_file_room(s->bytes) : 0, room;
    int failure = EFBIG;
    void* data = NULL;
    s->error[0] = 0;
    if (bytes < 0 || bytes > INT64_MAX / 2)
        return ggnni_file_fail(s->error, "%s: scratch of %lld bytes", s->beside, (long long)bytes);
    room = ggnni_file_room(bytes);
    failure = room > old_room ? ggnni_file_allocate(s->fd, old_room, room) : 0;
    if (!failure) data = ggnni_file_map(s->fd, 0, room);
    if (!data)
        return ggnni_file_fail(s->error, "%s: no room for %lld bytes of scratch beside it: %s", s->beside,
                               (long long)bytes, strerror(failure ? failure : errno));
    if (s->data) munmap(s->data, (size_t)old_room);
    if (bytes < s->bytes) { /* what comes back later is to be zero */
        memset((char*)data + bytes, 0, (size_t)(room - bytes));
        (void)!ftruncate(s->fd, (off_t)room); /* keeps the room where it fails */
    }
    s->data = data;
    s->bytes = bytes;
    return true;
}

void ggnn_file_scratch_close(ggnn_file_scratch* s)
{
    if (s->data) munmap(s->data, (size_t)ggnni_file_room(s->bytes));
    if (s->fd >= 0) close(s->fd);
    s->data = NULL;
    s->fd = -1;
}

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#endif /* GGNN_FILE_IMPLEMENTATION */
