// make_philox_kat.cc - writes philox_kat.h: what Random123 and cuRAND answer, for ggnn.h's Philox4x32-10 to equal.
//   g++ -O2 -isystem $CUDA/include make_philox_kat.cc -o make_philox_kat && ./make_philox_kat > philox_kat.h
// NVIDIA's device header is compiled here as host code: it is plain C++ apart from the qualifiers. Needs the CUDA
// Toolkit (made with 13.0), no GPU. Nothing of ours is called, so the vectors are independent of what they test.
#include <cuda_runtime.h>
#include <curand_kernel.h>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

// The three known answers of Random123's kat_vectors for philox4x32, 10 rounds: zeros, all ones, digits of pi.
struct known { uint32_t counter[4], key[2], words[4]; };
static const known random123[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

// Each field of the layout at 0, 1, its limit, and set alone, so that a swapped or truncated field shows.
struct place { uint64_t seed; uint32_t purpose, hop; uint64_t node; uint32_t step, block; };
static const place places[] = {
    {0, 0, 0, 0, 0, 0},
    {1, 0, 0, 0, 0, 0},
    {UINT64_C(0x100000000), 0, 0, 0, 0, 0},                       // the seed's high half is the key's second word
    {0, 1, 0, 0, 0, 0},
    {0, 0, 1, 0, 0, 0},
    {0, 0, 0, 1, 0, 0},
    {0, 0, 0, UINT64_C(0x100000000), 0, 0},                       // the node's high 16 bits sit under purpose, hop
    {0, 0, 0, 0, 1, 0},
    {0, 0, 0, 0, 0, 1},
    {42, 0, 2, 2449028, 7, 3},                                    // sampling, the last node of ogbn-products
    {42, 4, 0, 0, 19, 0},                                         // epoch order
    {42, 6, 1, 111059955, 1000000, 31},                           // dropout, the last node of ogbn-papers100M
    {UINT64_C(0x0123456789abcdef), 7, 3, UINT64_C(0x7fffffff), 12345, 17},
    {UINT64_C(0xfedcba9876543210), 8, 0, UINT64_C(0x80000000), 0x3fffffff, 0},
    {UINT64_MAX, 255, 255, UINT64_C(0xffffffffffff), 0x3fffffff, 0xffffffff},    // every field at its limit
    {UINT64_C(0xdeadbeefcafebabe), 3, 0, UINT64_C(0xfffffffffffe), 1, 0x80000000},
};

static void fail(const char* what, size_t i)
{
    fprintf(stderr, "make_philox_kat: %s differs at vector %zu\n", what, i);
    exit(1);
}

static void print_words(const uint32_t* w, int n, const char* after)
{
    printf("{");
    for (int i = 0; i < n; i++) printf("0x%08" PRIx32 "%s", w[i], i + 1 < n ? ", " : "");
    printf("}%s", after);
}

static void print_random123()
{
    for (size_t i = 0; i < sizeof random123 / sizeof *random123; i++) {
        const known* k = &random123[i];
        uint4 w = curand_Philox4x32_10(make_uint4(k->counter[0], k->counter[1], k->counter[2], k->counter[3]),
                                       make_uint2(k->key[0], k->key[1]));
        if (w.x != k->words[0] || w.y != k->words[1] || w.z != k->words[2] || w.w != k->words[3])
            fail("cuRAND's block and Random123's", i);
        printf("    {");
        print_words(k->counter, 4, ", ");
        print_words(k->key, 2, ",\n     ");
        print_words(k->words, 4, "},\n");
    }
}

static void print_curand()
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const place* p = &places[i];
        uint64_t subsequence = (uint64_t)p->purpose << 56 | (uint64_t)p->hop << 48 | p->node;
        curandStatePhilox4_32_10_t state;
        curand_init(p->seed, subsequence, (uint64_t)p->step << 34 | (uint64_t)p->block << 2, &state);
        const uint32_t words[4] = {curand(&state), curand(&state), curand(&state), curand(&state)};
        printf("    {UINT64_C(0x%016" PRIx64 "), %u, %u, UINT64_C(0x%012" PRIx64 "), %uu, 0x%08xu,\n     ", p->seed,
               p->purpose, p->hop, p->node, p->step, p->block);
        print_words(words, 4, "},\n");
    }
}

int main()
{
    printf("/* philox_kat.h - known answers for Philox4x32-10. Written by make_philox_kat.cc: change that. */\n"
           "#ifndef PHILOX_KAT_H\n#define PHILOX_KAT_H\n#include <stdint.h>\n\n"
           "/* Random123's kat_vectors (Salmon et al. 2011): a raw block of counter and key. */\n"
           "static const struct { uint32_t counter[4], key[2], words[4]; } philox_random123[] = {\n");
    print_random123();
    printf("};\n\n"
           "/* cuRAND's words after curand_init(seed, purpose << 56 | hop << 48 | node,\n"
           "   (uint64_t)step << 34 | (uint64_t)block << 2, &state):\n"
           "   counter = (block, step, node low 32, purpose:8 | hop:8 | node high 16), key = seed low, high. */\n"
           "static const struct {\n"
           "    uint64_t seed;\n    uint32_t purpose, hop;\n    uint64_t node;\n    uint32_t step, block, words[4];\n"
           "} philox_curand[] = {\n");
    print_curand();
    printf("};\n#endif\n");
    return 0;
}
