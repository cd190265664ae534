/* philox_kat.h - known answers for Philox4x32-10. Written by make_philox_kat.cc: change that. */
#ifndef PHILOX_KAT_H
#define PHILOX_KAT_H
#include <stdint.h>

/* Random123's kat_vectors (Salmon et al. 2011): a raw block of counter and key. */
static const struct { uint32_t counter[4], key[2], words[4]; } philox_random123[] = {
    {{0x00000000, 0x00000000, 0x00000000, 0x00000000}, {0x00000000, 0x00000000},
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

/* cuRAND's words after curand_init(seed, purpose << 56 | hop << 48 | node,
   (uint64_t)step << 34 | (uint64_t)block << 2, &state):
   counter = (block, step, node low 32, purpose:8 | hop:8 | node high 16), key = seed low, high. */
static const struct {
    uint64_t seed;
    uint32_t purpose, hop;
    uint64_t node;
    uint32_t step, block, words[4];
} philox_curand[] = {
    {UINT64_C(0x0000000000000000), 0, 0, UINT64_C(0x000000000000), 0u, 0x00000000u,
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {UINT64_C(0x0000000000000001), 0, 0, UINT64_C(0x000000000000), 0u, 0x00000000u,
     {0xe3e80670, 0xe50a0ebc, 0x95f222c0, 0xb615aa27}},
    {UINT64_C(0x0000000100000000), 0, 0, UINT64_C(0x000000000000), 0u, 0x00000000u,
     {0xfdde3e0b, 0xfa7e58b6, 0x3380ec46, 0xd8d55c4f}},
    {UINT64_C(0x0000000000000000), 1, 0, UINT64_C(0x000000000000), 0u, 0x00000000u,
     {0x910223a1, 0x29946dd3, 0x621adeee, 0xde653caf}},
    {UINT64_C(0x0000000000000000), 0, 1, UINT64_C(0x000000000000), 0u, 0x00000000u,
     {0xe6073e71, 0x917b936f, 0xa96f6abc, 0x86f6864c}},
    {UINT64_C(0x0000000000000000), 0, 0, UINT64_C(0x000000000001), 0u, 0x00000000u,
     {0x844515e1, 0xf08d6eaa, 0x0f19c053, 0x83f875f0}},
    {UINT64_C(0x0000000000000000), 0, 0, UINT64_C(0x000100000000), 0u, 0x00000000u,
     {0x2dce73e5, 0x1348e23f, 0xfcf8e0ec, 0xa287aadb}},
    {UINT64_C(0x0000000000000000), 0, 0, UINT64_C(0x000000000000), 1u, 0x00000000u,
     {0x6ad0c5ec, 0xea236249, 0x73a459f5, 0x074944b3}},
    {UINT64_C(0x0000000000000000), 0, 0, UINT64_C(0x000000000000), 0u, 0x00000001u,
     {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67}},
    {UINT64_C(0x000000000000002a), 0, 2, UINT64_C(0x000000255e84), 7u, 0x00000003u,
     {0xafeb5275, 0x0c6c9a85, 0xcb191ecb, 0x01416fbb}},
    {UINT64_C(0x000000000000002a), 4, 0, UINT64_C(0x000000000000), 19u, 0x00000000u,
     {0x50d9c97c, 0x65b91918, 0x7bea096d, 0xa3f63889}},
    {UINT64_C(0x000000000000002a), 6, 1, UINT64_C(0x0000069ea3f3), 1000000u, 0x0000001fu,
     {0xbb229bf0, 0x6ad9eff4, 0xaba34bc1, 0x2fe7fe21}},
    {UINT64_C(0x0123456789abcdef), 7, 3, UINT64_C(0x00007fffffff), 12345u, 0x00000011u,
     {0x9dc4d630, 0xec5b9dd2, 0x6359569c, 0x0bc37b2b}},
    {UINT64_C(0xfedcba9876543210), 8, 0, UINT64_C(0x000080000000), 1073741823u, 0x00000000u,
     {0x7aa293f2, 0xd4261d43, 0x1798e098, 0x47329c67}},
    {UINT64_C(0xffffffffffffffff), 255, 255, UINT64_C(0xffffffffffff), 1073741823u, 0xffffffffu,
     {0x8c5f4338, 0x4a57523d, 0x7e300cb1, 0x411fcefd}},
    {UINT64_C(0xdeadbeefcafebabe), 3, 0, UINT64_C(0xfffffffffffe), 1u, 0x80000000u,
     {0xbc5b38eb, 0x39227e82, 0x1c48eba3, 0x685bf557}},
};
#endif
