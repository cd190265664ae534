/* crc32.h - the CRC-32 of zip and gzip (polynomial 0x04C11DB7, reflected), eight bytes a step. */
#ifndef DATASETS_CRC32_H
#define DATASETS_CRC32_H
#include <stddef.h>
#include <stdint.h>

/* The CRC of some bytes followed by these; crc = 0 to begin. */
uint32_t crc32_more(uint32_t crc, const void* bytes, size_t count);

/* A CRC moved by so many bytes, crc * x^(8 * bytes): the CRC of a, then b, is that of a moved by b's bytes ^ that of b. */
uint32_t crc32_move(uint32_t crc, int64_t bytes);
#endif
