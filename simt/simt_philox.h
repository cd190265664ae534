// simt_philox.h - cuRAND's Philox4x32-10 generator, for machines without cuRAND's headers: the same words,
// names and state. Salmon et al. 2011, Parallel random numbers: as easy as 1, 2, 3 (SC'11).
#ifndef SIMT_PHILOX_H
#define SIMT_PHILOX_H
#include "cuda_runtime.h"

namespace simt_philox {

struct curandStatePhilox4_32_10 {
    uint4    ctr, output;
    uint2    key;
    unsigned STATE; // next word of output
};
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

inline uint4 curand_Philox4x32_10(uint4 c, uint2 key)
{
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ull * c.x, b = 0xCD9E8D57ull * c.z;
        c = make_uint4((unsigned)(b >> 32) ^ c.y ^ key.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ key.y,
                       (unsigned)a);
        key.x += 0x9E3779B9u;
        key.y += 0xBB67AE85u;
    }
    return c;
}

// Adds n to the low 64 bits of a pair of words; returns the carry.
inline bool add_to(unsigned& low, unsigned& high, unsigned long long n)
{
    unsigned long long sum = (low | (unsigned long long)high << 32) + n;
    low                    = (unsigned)sum;
    high                   = (unsigned)(sum >> 32);
    return sum < n;
}
inline void advance(curandStatePhilox4_32_10_t* s, unsigned long long blocks)
{
    if (add_to(s->ctr.x, s->ctr.y, blocks)) add_to(s->ctr.z, s->ctr.w, 1);
    s->output = simt_philox::curand_Philox4x32_10(s->ctr, s->key);
}

inline void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* s)
{
    s->STATE += (unsigned)(n & 3);
    advance(s, n / 4 + s->STATE / 4);
    s->STATE %= 4;
}
inline void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* s)
{
    add_to(s->ctr.z, s->ctr.w, n);
    s->output = simt_philox::curand_Philox4x32_10(s->ctr, s->key);
}
inline void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                        curandStatePhilox4_32_10_t* s)
{
    s->key   = make_uint2((unsigned)seed, (unsigned)(seed >> 32));
    s->ctr   = make_uint4(0, 0, (unsigned)sequence, (unsigned)(sequence >> 32));
    s->STATE = 0;
    skipahead(offset, s);
}
inline unsigned curand(curandStatePhilox4_32_10_t* s)
{
    const unsigned words[4] = {s->output.x, s->output.y, s->output.z, s->output.w};
    unsigned       word     = words[s->STATE++];
    if (s->STATE == 4) {
        s->STATE = 0;
        advance(s, 1);
    }
    return word;
}
inline uint4 curand4(curandStatePhilox4_32_10_t* s)
{
    unsigned a = curand(s), b = curand(s), c = curand(s), d = curand(s);
    return make_uint4(a, b, c, d);
}
inline float curand_uniform(curandStatePhilox4_32_10_t* s) // (0, 1]
{
    return (float)curand(s) * 2.3283064e-10f + 2.3283064e-10f / 2.0f;
}

} // namespace simt_philox
#endif
