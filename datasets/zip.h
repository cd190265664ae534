/* zip.h - the members of a zip archive (.npz): stored or deflated, zip64 included. The archive is not trusted: its
   directory is checked as a whole on opening, so that no member reaches outside the file, into the directory or into
   another member, and none claims to unpack to more than deflate can (1,032 times its size). */
#ifndef DATASETS_ZIP_H
#define DATASETS_ZIP_H
#include <stdbool.h>
#include <stdint.h>

#include "source.h"

typedef struct {
    const char* name;
    int64_t header; /* where the member's local header begins */
    int64_t packed_bytes, bytes;
    uint32_t crc;
    uint16_t method, flags; /* 0 stored, 8 deflated; others are refused when the member is opened */
} zip_member;

typedef struct {
    char* path;
    char* text;                     /* the members' names */
    int64_t num_members, directory; /* directory: its first byte, one past the last byte of any member */
    zip_member* member;             /* in the directory's order */
} zip_archive;

bool zip_open(zip_archive* z, const char* path, error* why);
void zip_close(zip_archive* z);

/* The member of this name, or NULL. */
const zip_member* zip_find(const zip_archive* z, const char* name);

/* A stream of the member's unpacked bytes; several may be open at once. */
source* zip_member_open(const zip_archive* z, const zip_member* m, error* why);
#endif
