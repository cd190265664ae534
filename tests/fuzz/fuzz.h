/* fuzz.h - what every fuzz target shares. A target includes it and defines

     int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);          one parse, which must not crash
     static size_t fuzz_seed(int which, uint8_t* out, size_t room);         good input number which (0, 1, ...); 0: no
   more

   It has a main of its own that parses the seeds, mutated at random, and so runs wherever a C compiler is, best under
   -fsanitize=address,undefined:

     build/fuzz/fuzz_X [iterations [seed]]      build/fuzz/fuzz_X 0 FILE...      to repeat a failure
     build/fuzz/fuzz_X --seeds FOLDER           writes the seeds there

   With clang -fsanitize=fuzzer -DFUZZ_LIBFUZZER it is a libFuzzer target: `make fuzz` (tests/fuzz.sh). */
#ifndef FUZZ_H
#define FUZZ_H
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

#ifndef FUZZ_LIBFUZZER
#include "tests/test.h"

enum { FUZZ_ROOM = 1 << 18, FUZZ_MAX_SEEDS = 64 };
static size_t fuzz_seed(int which, uint8_t* out, size_t room);

static size_t fuzz_below(size_t n) { return n ? (size_t)(test_random() % n) : 0; }

/* Overwrites 1, 2, 4 or 8 bytes by a number that parsers stumble over. */
static void fuzz_write_number(uint8_t* data, size_t size)
{
    static const int64_t number[] = {0,
                                     1,
                                     -1,
                                     2,
                                     127,
                                     128,
                                     255,
                                     256,
                                     4095,
                                     4096,
                                     65535,
                                     65536,
                                     INT32_MAX,
                                     INT32_MIN,
                                     1LL << 32,
                                     INT64_MAX,
                                     INT64_MIN,
                                     16,
                                     32,
                                     512,
                                     8192,
                                     INT64_MAX / 4 + 1,
                                     INT64_MAX / 8 + 1};
    size_t width = (size_t)1 << fuzz_below(4), at = fuzz_below(size);
    int64_t value = number[fuzz_below(sizeof number / sizeof number[0])];
    if (at + width <= size) memcpy(data + at, &value, width);
}

/* Puts a piece of text that is special to some parser over what is there. */
static void fuzz_write_token(uint8_t* data, size_t size)
{
    static const char* const token[] = {"-", "nan", "1e999", "\n", "\r\n", ",",         " ",
                                        "#", "%",   "{",     "(",  "'",    "9999999999"};
    const char* text = token[fuzz_below(sizeof token / sizeof token[0])];
    size_t length = strlen(text), at = fuzz_below(size);
    if (at + length <= size) memcpy(data + at, text, length);
}

/* Takes a piece out of the input, doubles one, or copies one over another place. Returns the new size. */
static size_t fuzz_move_piece(uint8_t* data, size_t size)
{
    size_t from = fuzz_below(size), to = fuzz_below(size), length = fuzz_below(fuzz_below(2) ? 16 : size) + 1;
    if (from + length > size) length = size - from;
    switch (fuzz_below(3)) {
    case 0:
        memmove(data + from, data + from + length, size - from - length);
        return size - length;
    case 1:
        if (size + length > FUZZ_ROOM) return size;
        memmove(data + from + length, data + from, size - from);
        return size + length;
    default:
        memmove(data + to, data + from, to + length > size ? size - to : length);
        return size;
    }
}

static size_t fuzz_mutate(uint8_t* data, size_t size)
{
    for (size_t changes = 1 + fuzz_below(fuzz_below(4) ? 4 : 40); changes > 0 && size > 0; changes--) {
        switch (fuzz_below(8)) {
        case 0:
            data[fuzz_below(size)] ^= (uint8_t)(1u << fuzz_below(8));
            break;
        case 1:
            data[fuzz_below(size)] = (uint8_t)test_random();
            break;
        case 2:
        case 3:
            fuzz_write_number(data, size);
            break;
        case 4:
            fuzz_write_token(data, size);
            break;
        case 5:
            size = fuzz_below(8) ? size : fuzz_below(size) + 1;
            break;
        default:
            size = fuzz_move_piece(data, size);
            break;
        }
    }
    return size;
}

/* Parses from memory of exactly that size, so that a sanitizer sees the first byte read past the end. */
static void fuzz_parse(const uint8_t* data, size_t size)
{
    uint8_t* exact = (uint8_t*)malloc(size ? size : 1);
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
}

static void fuzz_parse_file(const char* path, uint8_t* data)
{
    FILE* in = fopen(path, "rb");
    size_t size = in ? fread(data, 1, FUZZ_ROOM, in) : 0;
    if (in) fclose(in);
    fuzz_parse(data, size);
    printf("%s: %zu bytes parsed\n", path, size);
}

static int fuzz_write_seeds(const char* in, uint8_t* data)
{
    size_t size;
    for (int which = 0; (size = fuzz_seed(which, data, FUZZ_ROOM)) > 0; which++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/seed%02d", in, which);
        FILE* out = fopen(path, "wb");
        if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
            perror(path);
            return 1;
        }
    }
    return 0;
}

/* Iteration i depends on the seed and on i alone; a debugger finds the number of a crashing one here. */
static volatile long fuzz_last;

int main(int argc, char** argv)
{
    static uint8_t data[FUZZ_ROOM];
    static struct {
        uint8_t* data;
        size_t size;
    } good[FUZZ_MAX_SEEDS];
    long iterations = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    int num_seeds = 0;
    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) return fuzz_write_seeds(argv[2], data);
    if (argc > 1 && iterations == 0) {
        for (int i = 2; i < argc; i++) fuzz_parse_file(argv[i], data);
        return 0;
    }
    for (size_t size; num_seeds < FUZZ_MAX_SEEDS && (size = fuzz_seed(num_seeds, data, sizeof data)) > 0;
         num_seeds++) {
        fuzz_parse(data, size);
        good[num_seeds].data = (uint8_t*)malloc(size);
        good[num_seeds].size = size;
        memcpy(good[num_seeds].data, data, size);
    }
    if (num_seeds == 0) return 1;
    for (fuzz_last = 0; fuzz_last < iterations; fuzz_last++) {
        size_t which;
        test_state = seed * 1000003 + (uint64_t)fuzz_last;
        which = fuzz_below((size_t)num_seeds);
        memcpy(data, good[which].data, good[which].size);
        fuzz_parse(data, fuzz_mutate(data, good[which].size));
    }
    for (int i = 0; i < num_seeds; i++) free(good[i].data);
    printf("%d seeds and %ld mutations of them parsed, seed %" PRIu64 "\n", num_seeds, iterations, seed);
    return 0;
}
#endif
#endif
