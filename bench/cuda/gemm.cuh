// gemm.cuh - the products of a training step by cuBLAS, in fp32 and TF32.
#ifndef BENCH_CUDA_GEMM_CUH
#define BENCH_CUDA_GEMM_CUH
#include "bench/cuda/roof_small.cuh"

namespace products {

using namespace gpu;

// Row-major c (m, n) = a (m, k) b (k, n), or a' b where turned: then a is (k, m).
struct shape {
    int64_t m, n, k;
    bool    turned;
};

struct product_run {
    roofs::product by;
    shape          s;
    float *        a, *b, *c;

    cudaError_t run()
    {
        const float    one = 1, zero = 0;
        const int      m = static_cast<int>(s.m), n = static_cast<int>(s.n), k = static_cast<int>(s.k);
        cublasStatus_t t = cublasSgemm(by.blas, CUBLAS_OP_N, s.turned ? CUBLAS_OP_T : CUBLAS_OP_N, n, m, k,
                                       &one, b, n, a, s.turned ? m : k, &zero, c, n);
        return t == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
    }
};

bool open_run(bench* b, product_run* p, const shape& s, cublasMath_t math)
{
    p->s = s;
    p->a = make<float>(b, s.m * s.k, "a factor");
    p->b = make<float>(b, s.k * s.n, "a factor");
    p->c = make<float>(b, s.m * s.n, "a product");
    return p->a && p->b && p->c && fill(b, p->a, s.m * s.k, 1) && fill(b, p->b, s.k * s.n, 2) &&
           roofs::open_blas(b, &p->by, math);
}

bool check_product(bench* b, const shape& s)
{
    product_run p = {};
    if (!open_run(b, &p, s, CUBLAS_DEFAULT_MATH) || !good(b, p.run(), "a product")) return false;
    auto x = fetch(b, p.a, s.m * s.k), y = fetch(b, p.b, s.k * s.n), ours = fetch(b, p.c, s.m * s.n);
    std::vector<float> theirs(ours.size());
    for (int64_t i = 0; i < s.m; i++)
        for (int64_t j = 0; j < s.n; j++) {
            double sum = 0;
            for (int64_t l = 0; l < s.k; l++)
                sum += static_cast<double>(x[s.turned ? l * s.m + i : i * s.k + l]) *
                       static_cast<double>(y[l * s.n + j]);
            theirs[i * s.n + j] = static_cast<float>(sum);
        }
    return bench_near(b, "a product", ours.data(), theirs.data(), s.m * s.n, 1e-5);
}

bool measure_product(bench* b, const char* what, const shape& s, bool tf32)
{
    const scratch mine(b);
    product_run*  p = own(b, new product_run());
    if (!p || !open_run(b, p, s, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH)) return false;
    const double m = static_cast<double>(s.m), n = static_cast<double>(s.n), k = static_cast<double>(s.k);
    bench_case   c = case_of(b, [p] { return p->run(); });
    name(&c, "%s, %s, %lld x %lld x %lld", what, tf32 ? "TF32" : "fp32", static_cast<long long>(s.m),
         static_cast<long long>(s.n), static_cast<long long>(s.k));
    c.work = c.flops = 2 * m * n * k;
    c.unit = "FLOP";
    c.bytes = 4 * (m * n + n * k + m * k);
    demand(&c, tf32 ? "gemm-tf32" : "gemm", 0, c.flops);
    demand(&c, "copy", 0, c.bytes);
    return bench_measure(b, &c) != nullptr;
}

// Layers of 256 of GraphSAGE at a batch of 1024, ogbn-products: factors [self, mean] of 2 x 100 and 2 x 256
// columns.
bool gemm(bench* b)
{
    const int64_t input = pick(b, 130000, 32768, 24), inner = pick(b, 14000, 8192, 20),
                  H = EMULATED ? 16 : 256, F = EMULATED ? 20 : 200;
    if (!check_product(b, {17, 19, 23, false}) || !check_product(b, {17, 19, 23, true})) return false;
    for (bool tf32 : {false, true})
        if (!measure_product(b, "input layer", {input, H, F, false}, tf32) ||
            !measure_product(b, "its weights' gradient", {F, H, input, true}, tf32) ||
            !measure_product(b, "second layer", {inner, H, 2 * H, false}, tf32) ||
            !measure_product(b, "its weights' gradient", {2 * H, H, inner, true}, tf32))
            return false;
    return true;
}

} // namespace products
#endif
