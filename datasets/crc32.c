#include "crc32.h"

#define POLYNOMIAL 0xEDB88320u /* bit 31 is x^0 */

static uint32_t table[8][256]; /* [k][b]: the CRC of byte b followed by k zero bytes */

static uint32_t times_x(uint32_t crc) { return crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0); }

static void fill_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = times_x(crc);
        table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 255];
}

uint32_t crc32_more(uint32_t crc, const void* bytes, size_t count)
{
    const unsigned char* p = bytes;
    if (!table[0][1]) fill_table();
    crc = ~crc;
    for (; count >= 8; count -= 8, p += 8) {
        uint32_t first = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        crc = table[7][first & 255] ^ table[6][first >> 8 & 255] ^ table[5][first >> 16 & 255] ^
              table[4][first >> 24] ^ table[3][p[4]] ^ table[2][p[5]] ^ table[1][p[6]] ^ table[0][p[7]];
    }
    for (; count; count--, p++) crc = crc >> 8 ^ table[0][(crc ^ *p) & 255];
    return ~crc;
}

/* a * b modulo the polynomial. */
static uint32_t times(uint32_t a, uint32_t b)
{
    uint32_t product = 0;
    for (uint32_t bit = 1u << 31; bit; bit >>= 1, b = times_x(b)) product ^= a & bit ? b : 0;
    return product;
}

uint32_t crc32_move(uint32_t crc, int64_t bytes)
{
    uint32_t power = 1u << 23; /* x^8, then its square, ... */
    for (; bytes; bytes >>= 1, power = times(power, power))
        if (bytes & 1) crc = times(power, crc);
    return crc;
}
