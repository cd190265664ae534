// cuda_floats.h - for tests of the float kernels of ggnn_cuda.cuh: matrices on both sides, compared bit by
// bit.
#ifndef CUDA_FLOATS_H
#define CUDA_FLOATS_H

#include "tests/cuda_memory.h"

// How many of n floats are not the same: other bits, a NaN being any NaN.
static inline int64_t floats_differ(const float* a, const float* b, int64_t n)
{
    int64_t differ = 0;
    for (int64_t i = 0; i < n; i++)
        differ += memcmp(a + i, b + i, sizeof *a) != 0 && !(a[i] != a[i] && b[i] != b[i]);
    return differ;
}

// Random rows on the host and the same on the device, which begin `shift` floats behind an address that
// malloc or cudaMalloc gives and have `pad` floats between them: so that kernels meet every alignment.
class float_rows {
public:
    float_rows(int64_t rows, int32_t width, int64_t pad = 0, int64_t shift = 0)
        : ld(width + pad), begin(shift), values(static_cast<size_t>(shift + rows * ld + 1))
    {
        for (float& x : values) x = test_uniform();
        memory = device_array<float>(values);
    }
    float* host() { return values.data() + begin; }
    float* device() const { return memory.at() + begin; }
    void   upload() { memory.upload(values.data()); }

    // Whether the device has what the host has, what lies between and around the rows included.
    bool same() const
    {
        std::vector<float> got = memory.values();
        return floats_differ(got.data(), values.data(), static_cast<int64_t>(got.size())) == 0;
    }

    int64_t ld;

private:
    int64_t             begin;
    std::vector<float>  values;
    device_array<float> memory;
};

// What decides how wide a kernel's loads are, in turn: all aligned to 16 bytes, to 8, to 4.
struct alignment {
    int64_t pad, shift;
};
static const alignment alignments[] = {{0, 0}, {4, 4}, {2, 2}, {3, 1}};

#endif // CUDA_FLOATS_H
