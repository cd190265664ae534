/* bench_gemm.c - the trainer's matrix product, in a SAGE step's shapes. */
#include <string.h>

#include "bench/cpu.h"
#include "bench/naive.h"
#include "trainer/cpu/gemm.h"

typedef struct {
    float *a, *b, *c, *plain;
    int64_t m, n, k;
    bool at;
    void* workspace;
} product;

static void run_gemm(void* context)
{
    product* p = context;
    gemm(p->c, p->n, p->a, p->at ? p->m : p->k, p->at, p->b, p->n, false, p->m, p->n, p->k, 0, p->workspace);
}
static void run_blas(void* context)
{
    product* p = context;
    gemm_blas(p->plain, p->n, p->a, p->at ? p->m : p->k, p->at, p->b, p->n, false, p->m, p->n, p->k, 0,
              p->workspace);
}
static void run_plain(void* context)
{
    product* p = context;
    naive_gemm(p->plain, p->a, p->at, p->b, p->m, p->n, p->k);
}

static bool multiply(bench* b, int64_t m, int64_t k, int64_t n, bool at)
{
    product p = {.m = m, .n = n, .k = k, .at = at};
    int32_t mark = bench_mark(b);
    p.a = bench_new(b, (size_t)(m * k) * sizeof *p.a, "a matrix");
    p.b = bench_new(b, (size_t)(k * n) * sizeof *p.b, "a matrix");
    p.c = bench_new(b, (size_t)(m * n) * sizeof *p.c, "a matrix");
    p.plain = bench_new(b, (size_t)(m * n) * sizeof *p.plain, "a matrix");
    p.workspace = bench_new(b, gemm_workspace_bytes(m, n, k), "a workspace");
    if (b->why.text[0]) return false;
    bench_fill(p.a, m * k, 1);
    bench_fill(p.b, k * n, 2);
    bench_case c = {.run = run_gemm, .context = &p, .unit = "FLOP"};
    c.work = c.flops = 2. * (double)m * (double)n * (double)k;
    c.bytes = 4. * (double)(m * k + k * n + m * n);
    c.demand[0] = (bench_demand){"madd", 0, c.flops};
    cpu_stream(&c);
    snprintf(c.what, sizeof c.what, "%s, %lld x %lld x %lld", at ? "A' B" : "A B", (long long)m, (long long)k,
             (long long)n);
    const bench_result *ours = bench_measure(b, &c), *other = NULL;
    c.rival = true;
    c.run = run_plain;
    snprintf(c.what, sizeof c.what, "plain loop, %lld x %lld x %lld%s", (long long)m, (long long)k,
             (long long)n, at ? " '" : "");
    const bench_result* slow = bench_measure(b, &c);
    if (slow && !bench_near(b, "an element", p.c, p.plain, m * n, 1e-4)) return false;
    if (!bench_ratio(b, ours, slow, "the plain loop", 0)) return false;
    if (gemm_blas_available()) {
        c.run = run_blas;
        snprintf(c.what, sizeof c.what, "CBLAS, %lld x %lld x %lld%s", (long long)m, (long long)k,
                 (long long)n, at ? " '" : "");
        other = bench_measure(b, &c);
    }
    bench_release(b, mark);
    return bench_ratio(b, ours, other, "CBLAS as found", 1) && ours;
}

bool bench_gemm(bench* b)
{
    static const int64_t usual[3][2] = {{99996, 128}, {39578, 256}, {7135, 512}},
                         small[3][2] = {{2000, 32}, {700, 64}, {37, 64}};
    const int64_t(*size)[2] = b->o.quick ? small : usual;
    int64_t n = b->o.quick ? 32 : 256;
    if (b->o.own) return multiply(b, b->o.rows, b->o.features ? b->o.features : 256, 256, false);
    for (int i = 0; i < 3; i++)
        if (!multiply(b, size[i][0], size[i][1], n, false) || !multiply(b, size[i][1], size[i][0], n, true))
            return false;
    return true;
}
